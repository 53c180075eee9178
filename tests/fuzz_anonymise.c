/*
 * The anonymiser learns from any bytes and is applied to them: as many come out as went in, nothing that was learned is left, and a second
 * run with the same key gives the same. Nothing is left where it stood; and nothing becomes another's original, but for what holds a dot: where an
 * input has nearly all first octets of one width, one address becomes another's original, and domains and iqn. names keep words of everybody, of
 * which another original may be made, and for what has few letters and digits: chance makes it again, as it makes parts of others.
 */
#include "collect/anonymise.h"
#include "fuzz.h"

struct search {
    struct slice in, out; /* in lower case */
    const struct anonymiser *x;
    const struct anonymised *one; /* others are looked for around it */
    size_t at;
};

static bool alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_quad(struct slice s)
{
    unsigned dots = 0;

    for (size_t i = 0; i < s.n; i++) {
        dots += s.p[i] == '.';
        if (s.p[i] != '.' && !digit(s.p[i]))
            return false;
    }
    return dots == 3;
}

/* Does text stand at a place of in as the anonymiser reads it: of an address, all of it; of a name, by itself? */
static bool stands(const struct anonymised *one, struct slice in, size_t at)
{
    size_t end = at + one->text.n;
    char before = at ? in.p[at - 1] : ' ', after = end < in.n ? in.p[end] : ' ';

    if (memcmp(in.p + at, one->text.p, one->text.n) != 0)
        return false;
    if (one->whole && is_quad(one->text))
        return !digit(before) && !digit(after) && !(before == '.' && at > 1 && digit(in.p[at - 2])) && !(after == '.' && end + 1 < in.n && digit(in.p[end + 1]));
    return !one->whole || (!alnum(before) && !alnum(after));
}

/*
 * Does another one reach into it that begins before, or there and is longer, and is replaced; and would what it leaves stay anyway? The other's vendor
 * and top labels stay, of whatever else they are a part.
 */
static int is_around(void *ctx, const struct anonymised *one)
{
    const struct search *s = ctx;
    size_t n = one->text.n, end = s->at + s->one->text.n;

    for (size_t from = s->at > n ? s->at - n + 1 : 0; from <= s->at && from + n <= s->in.n; from++) {
        size_t rest = from + n < end ? end - from - n : 0;

        if ((from < s->at || n > s->one->text.n) && from + n > s->at && stands(one, s->in, from) && memcmp(s->out.p + from, one->text.p, n) != 0 &&
            memcmp(s->one->text.p + s->one->text.n - rest, s->one->replacement.p + s->one->text.n - rest, rest) == 0)
            return 1;
    }
    return 0;
}

static bool is_left(struct search *s, const struct anonymised *one, size_t at)
{
    s->at = at;
    s->one = one;
    return stands(one, s->in, at) && !anonymiser_each(s->x, is_around, s);
}

/* Is it what one of the same length became? */
static int is_source(void *ctx, const struct anonymised *one)
{
    const struct search *s = ctx;

    return one->text.n == s->one->text.n && stands(one, s->in, s->at) && memcmp(s->out.p + s->at, one->replacement.p, one->text.n) == 0;
}

static bool is_made(struct search *s, const struct anonymised *one, size_t at)
{
    s->at = at;
    s->one = one;
    return !stands(one, s->in, at) && stands(one, s->out, at) && anonymiser_each(s->x, is_source, s);
}

static int look_for(void *ctx, const struct anonymised *one)
{
    struct search *s = ctx;
    const char *at = s->out.p, *end = at + s->out.n;
    bool dotted = memchr(one->text.p, '.', one->text.n) != NULL;
    size_t telling = 0;

    FUZZ_CHECK(one->text.n == one->replacement.n);
    for (size_t i = 0; i < one->text.n; i++)
        telling += alnum(one->text.p[i]);
    fuzz_touch(one->text);
    fuzz_touch(one->replacement);
    if (one->in_place || telling < 3)
        return 0;
    for (; (at = memmem(at, (size_t)(end - at), one->text.p, one->text.n)) != NULL; at++) {
        FUZZ_CHECK(!is_left(s, one, (size_t)(at - s->out.p)));
        FUZZ_CHECK(dotted || telling < 8 || !is_made(s, one, (size_t)(at - s->out.p)));
    }
    return 0;
}

static void to_lower(struct slice s)
{
    char *p = (char *)(uintptr_t)s.p;

    for (size_t i = 0; i < s.n; i++)
        p[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] + 32) : p[i];
}

static bool run(struct arena *a, struct slice in, struct slice *out, struct anonymiser **x)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
    const struct ask q = {.kind = ASK_SHELL, .text = {"smbiosDump", 10}};
    uint8_t key[16] = "key";
    struct err e = {0};

    for (size_t i = 0; i < in.n; i++) /* one for each input, so that no replacement comes back as an original of the next */
        key[3 + i % 13] = (uint8_t)(key[3 + i % 13] * 31 + key[3 + (i + 5) % 13] + (unsigned char)in.p[i]);
    *x = anonymiser_new(key, a);
    if (!*x || anonymiser_learn(*x, in.n % 2 ? &q : NULL, in) < 0 || anonymiser_seal(*x, &e) < 0)
        return false;
    FUZZ_CHECK(anonymiser_apply(*x, in, &b, &e) == 0);
    FUZZ_CHECK(b.n == in.n);
    *out = arena_dup(a, buf_slice(&b));
    return out->p != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(first, 64u << 20);
    FUZZ_ARENA(second, 64u << 20);
    FUZZ_ARENA(failing, 64u << 20);
    struct slice in = fuzz_slice(data, size), a, b, c;
    struct anonymiser *x, *y;
    struct search s;

    if (size > 65536 || !run(first, in, &a, &x))
        return 0;
    if (size % 4 == 0) { /* not for each input: most of the time goes into building what is known of everybody */
        FUZZ_CHECK(run(second, in, &b, &y) && slice_eq(a, b));
    } else if (size % 4 == 1) {
        arena_fail_at(failing, 1 + size % 701);
        (void)run(failing, in, &c, &y);
    }
    s.in = arena_dup(second, in);
    s.out = a;
    s.x = x;
    if (!s.in.p)
        return 0;
    to_lower(s.in);
    to_lower(s.out);
    (void)anonymiser_each(x, look_for, &s);
    return 0;
}
