/* Versions, releases and PCI addresses: two lines, compared with each other in every way. */
#include "core/pciaddr.h"
#include "core/version.h"
#include "fuzz.h"

static void compare(struct slice a, struct slice b)
{
    for (int s = SCHEME_DOTTED; s <= SCHEME_ESXI; s++) {
        int ab = 0, ba = 0, aa = 1;
        int can = version_order(a, b, (enum version_scheme)s, &ab), back = version_order(b, a, (enum version_scheme)s, &ba);

        FUZZ_CHECK(can == back);
        FUZZ_CHECK(can < 0 || (ab > 0) == (ba < 0));
        FUZZ_CHECK(can < 0 || (ab == 0) == (ba == 0));
        if (version_order(a, a, (enum version_scheme)s, &aa) == 0)
            FUZZ_CHECK(aa == 0);
    }
}

static void releases(struct slice a, struct slice b)
{
    const struct builds none = {NULL, 0};
    struct release x = {0}, y = {0};
    struct err e = {0};
    int xy, yx;

    if (release_parse(a, &x, &e) < 0 || release_parse(b, &y, &e) < 0) {
        FUZZ_CHECK(e.msg[0]);
        return;
    }
    FUZZ_CHECK(x.major > 0 && y.major > 0);
    if (release_order(&none, &x, &y, &xy) == 0 && release_order(&none, &y, &x, &yx) == 0)
        FUZZ_CHECK((xy > 0) == (yx < 0));
    FUZZ_CHECK(release_covers(&none, &x, &y) >= -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(arena, 1u << 20);
    struct slice rest = fuzz_slice(data, size), a = {NULL, 0}, b = {NULL, 0}, normal, again;

    (void)slice_next_line(&rest, &a, NULL);
    (void)slice_next_line(&rest, &b, NULL);
    compare(a, b);
    releases(a, b);
    fuzz_touch(version_bare(a));
    fuzz_touch(version_undecorated(a));
    if (pciaddr_parse(a, arena, &normal) == 0) {
        FUZZ_CHECK(pciaddr_parse(normal, arena, &again) == 0);
        FUZZ_CHECK(slice_eq(normal, again));
    }
    return 0;
}
