/*
 * The anonymiser learns from any bytes and is applied to them: as many come out as went in, nothing that was learned is left, and a second
 * run with the same key gives the same. What holds a dot is left out of the search: where an input has nearly all first octets of one width, one
 * address becomes another's original; domains and iqn. names keep words of everybody, of which another original may be made. So is
 * what has few letters and digits: chance makes it again.
 */
#include "collect/anonymise.h"
#include "fuzz.h"

static bool alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

static int look_for(void *ctx, const struct anonymised *one)
{
    const struct slice *out = ctx;
    const char *at = out->p, *end = at + out->n;

    size_t telling = 0;

    FUZZ_CHECK(one->text.n == one->replacement.n);
    for (size_t i = 0; i < one->text.n; i++)
        telling += alnum(one->text.p[i]);
    fuzz_touch(one->text);
    fuzz_touch(one->replacement);
    if (one->in_place || telling < 8 || memchr(one->text.p, '.', one->text.n))
        return 0;
    while ((at = memmem(at, (size_t)(end - at), one->text.p, one->text.n)) != NULL) {
        FUZZ_CHECK(one->whole && ((at > out->p && alnum(at[-1])) || (at + one->text.n < end && alnum(at[one->text.n]))));
        at++;
    }
    return 0;
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
    char *p;

    if (size > 65536 || !run(first, in, &a, &x) || !run(second, in, &b, &y))
        return 0;
    FUZZ_CHECK(slice_eq(a, b));
    arena_fail_at(failing, 1 + size % 701);
    (void)run(failing, in, &c, &y);
    p = (char *)(uintptr_t)a.p;
    for (size_t i = 0; i < a.n; i++)
        p[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] + 32) : p[i];
    (void)anonymiser_each(x, look_for, &a);
    return 0;
}
