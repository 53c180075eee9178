#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

void buf_done(struct buf *b)
{
    free(b->p);
    b->p = NULL;
    b->n = b->cap = 0;
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->cut = false;
}

static void reserve(struct buf *b, size_t more)
{
    size_t want = b->n + more + 1, cap = b->cap ? b->cap : 256;

    if (want <= b->cap)
        return;
    while (cap < want)
        cap *= 2;
    b->p = xrealloc(b->p, cap);
    b->cap = cap;
}

void buf_add(struct buf *b, struct slice s)
{
    size_t room = b->max - b->n;

    if (s.n > room) {
        s.n = room;
        b->cut = true;
    }
    if (s.n == 0)
        return;
    reserve(b, s.n);
    memcpy(b->p + b->n, s.p, s.n);
    b->n += s.n;
}

void buf_addz(struct buf *b, const char *z)
{
    buf_add(b, slice_of(z));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, (struct slice){&c, 1});
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    char small[512], *text = small;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n >= sizeof small) {
        text = xmalloc((size_t)n + 1);
        va_start(ap, fmt);
        (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    buf_add(b, (struct slice){text, (size_t)n});
    if (text != small)
        free(text);
}

struct slice buf_slice(const struct buf *b)
{
    return (struct slice){b->p, b->n};
}

const char *buf_z(struct buf *b)
{
    reserve(b, 0);
    b->p[b->n] = '\0';
    return b->p;
}

/* Bytes of the UTF-8 character at the start of s, and its code point; 0 when it is not valid UTF-8. */
static size_t utf8_char(struct slice s, uint32_t *cp)
{
    unsigned char c = (unsigned char)s.p[0];
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    uint32_t v = n == 1 ? c : n == 2 ? c & 0x1fu : n == 3 ? c & 0xfu : c & 7u;

    if (n == 0 || n > s.n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s.p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | ((unsigned char)s.p[i] & 0x3fu);
    }
    if ((n == 3 && v < 0x800) || (n == 4 && (v < 0x10000 || v > 0x10ffff)) || (v >= 0xd800 && v < 0xe000))
        return 0;
    *cp = v;
    return n;
}

static bool hidden(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x200b && cp <= 0x200f) ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x2069) || cp == 0xfeff;
}

void buf_add_safe(struct buf *b, struct slice s)
{
    while (s.n) {
        uint32_t cp;
        size_t n = utf8_char(s, &cp);

        if (n && !hidden(cp)) {
            buf_add(b, slice_cut(s, 0, n));
            s = slice_from(s, n);
        } else {
            buf_printf(b, "\\x%02x", (unsigned char)s.p[0]);
            s = slice_from(s, 1);
        }
    }
}
