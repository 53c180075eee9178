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

static bool hidden(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || (cp >= 0x200b && cp <= 0x200f) ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x2069) || cp == 0xfeff;
}

void buf_add_safe(struct buf *b, struct slice s)
{
    while (s.n && !b->cut) {
        uint32_t cp;
        char shown[8];
        size_t n = slice_utf8(s, &cp);
        struct slice piece = slice_cut(s, 0, n);

        if (n == 0 || hidden(cp)) {
            n = 1;
            piece = (struct slice){shown, (size_t)snprintf(shown, sizeof shown, "\\x%02x", (unsigned char)s.p[0])};
        }
        if (piece.n > b->max - b->n) /* half a character would be completed by what follows it on the screen */
            b->cut = true;
        else
            buf_add(b, piece);
        s = slice_from(s, n);
    }
}
