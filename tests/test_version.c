#include "world.h"

#include "core/pciaddr.h"

/* Orders: the reference documents of VIB versions and releases; builds from the table of this checkout. */

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

/* Every pair of a list in ascending order, both ways round; NULL ends it. */
static void ascending(const char *const *v, enum version_scheme scheme)
{
    for (size_t i = 0; v[i]; i++)
        for (size_t k = 0; v[k]; k++) {
            int order = 77;

            if (version_order(slice_of(v[i]), slice_of(v[k]), scheme, &order) < 0)
                fail_msg("%s and %s are not ordered", v[i], v[k]);
            if (sign(order) != (i > k) - (i < k))
                fail_msg("%s and %s: %d", v[i], v[k], order);
        }
}

static void vib_versions_are_ordered_by_number_version_before_release(void **state)
{
    static const char *const version_first[] = {"1.0-2vmw.600.0.0.1", "1.0-3vmw.550.0.0.1", "1.1-1vmw.550.0.0.1", "1.9-1vmw.1", "1.10-1vmw.1",
                                                "1.10.0-1vmw.1", "2.0-1vmw.1", NULL};
    static const char *const inbox[] = {"1.0.0-32vmw.650.0.0.4564106", "1.0.0-39vmw.650.1.26.5969303", "1.0.0-39vmw.650.1.36.7388607",
                                        "1.2.2.17-1vmw.670.1.28.10302608", "1.2.3.11-1vmw.703.0.20.19193900", NULL};
    static const char *const hpvsa[] = {"5.5.0-84OEM.550.0.0.1331820", "5.5.0-88OEM.550.0.0.1331820", "5.5.0-92OEM.550.0.0.1331820",
                                        "5.5.0-100OEM.550.0.0.1331820", "5.5.0-102OEM.550.0.0.1331820", NULL};
    static const char *const letters[] = {"1.7a.05", "1.72.52", "1.78.78", NULL};
    static const char *const prefixed[] = {"1.78.78.v60.8-1vmw.1", "1.78.80.v60.8-1vmw.1", NULL};
    static const char *const products[] = {"1.8.0-4516221", "1.25.0-7872652", NULL};

    (void)state;
    ascending(version_first, SCHEME_VIB);
    ascending(inbox, SCHEME_VIB);
    ascending(hpvsa, SCHEME_VIB);
    ascending(letters, SCHEME_VIB);
    ascending(prefixed, SCHEME_VIB);
    ascending(products, SCHEME_VIB);
}

static void a_bare_version_is_compared_by_its_version_alone(void **state)
{
    int order;

    (void)state;
    assert_int_equal(version_order(SLICE_LIT("1.0.0"), SLICE_LIT("1.0.0-32vmw.650.0.0.4564106"), SCHEME_VIB, &order), 0);
    assert_int_equal(order, 0);
    assert_int_equal(version_order(SLICE_LIT("1.0.1"), SLICE_LIT("1.0.0-32vmw.650.0.0.4564106"), SCHEME_VIB, &order), 0);
    assert_true(order > 0);
    assert_int_equal(version_order(SLICE_LIT("3.0-22vmw"), SLICE_LIT("3.1"), SCHEME_VIB, &order), 0);
    assert_true(order < 0);
}

static void different_origins_are_not_ordered_at_an_equal_number(void **state)
{
    int order = 77;

    (void)state;
    assert_int_equal(version_order(SLICE_LIT("1.0.86.0-1vmw.670.0.0.8169922"), SLICE_LIT("1.0.86.0-1OEM.670.0.0.8169922"), SCHEME_VIB, &order), -1);
    assert_int_equal(version_order(SLICE_LIT("1.0.86.0-1OEM.670.0.0.8169922"), SLICE_LIT("1.0.86.0-1vmw.670.0.0.8169922"), SCHEME_VIB, &order), -1);
    assert_int_equal(version_order(SLICE_LIT("1.0.86.0-2vmw.670.0.0.8169922"), SLICE_LIT("1.0.86.0-1OEM.670.0.0.8169922"), SCHEME_VIB, &order), 0);
    assert_true(order > 0);
    assert_int_equal(version_order(SLICE_LIT("1.0.87.0-1vmw.1"), SLICE_LIT("1.0.86.0-1OEM.1"), SCHEME_VIB, &order), 0);
    assert_true(order > 0);
}

static void what_has_no_digit_is_not_ordered(void **state)
{
    static const char *const none[] = {"", "-", "unknown", "vmw"};
    int order;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        for (int s = SCHEME_DOTTED; s <= SCHEME_ESXI; s++) {
            assert_int_equal(version_order(slice_of(none[i]), SLICE_LIT("1.0"), (enum version_scheme)s, &order), -1);
            assert_int_equal(version_order(SLICE_LIT("1.0"), slice_of(none[i]), (enum version_scheme)s, &order), -1);
        }
}

static void dotted_and_firmware_versions_compare_numbers(void **state)
{
    static const char *const dotted[] = {"5.5.0", "6.0.0", "6.5.0", "6.7", "6.7.0", "6.10.0", "10.0", NULL};
    static const char *const firmware[] = {"4.5", "20.00.00.00", "20.00.07.00", "20.00.07.00-1", "25.5.5.0005", "25.5.9.0001", "99999999999999999999999",
                                           "99999999999999999999999.1", NULL};
    static const char *const pairs[] = {"52.21.0-4606", "52.26.0-5179", "52.30.0-6115", NULL};
    static const char *const words[] = {"4ICSHPK4", "4ICSHPK5", "10ICSHPK1", NULL};
    static const char *const releases[] = {"5.5u3", "6.0", "6.5", "6.5u1", "6.7", "7.0u3c", "7.0u3w", "8.0", "8.0u3", "9.0.1", "9.1", "10.0", NULL};

    (void)state;
    ascending(dotted, SCHEME_DOTTED);
    ascending(firmware, SCHEME_FIRMWARE);
    ascending(pairs, SCHEME_FIRMWARE);
    ascending(words, SCHEME_FIRMWARE);
    ascending(releases, SCHEME_ESXI);
}

static void decoration_of_module_versions_is_taken_off(void **state)
{
    (void)state;
    assert_true(slice_eqz(version_undecorated(SLICE_LIT("Version 3.0-22vmw, Build: 4564106, Interface: 9.2 Built on: Nov 12 2016")), "3.0-22vmw"));
    assert_true(slice_eqz(version_undecorated(SLICE_LIT(" 1.2.0-6vmw.670.0.0.8169922 ")), "1.2.0-6vmw.670.0.0.8169922"));
    assert_true(slice_eqz(version_bare(SLICE_LIT("1.0.0-32vmw.650.0.0.4564106")), "1.0.0"));
    assert_true(slice_eqz(version_bare(SLICE_LIT("1.0.0")), "1.0.0"));
    assert_int_equal(version_bare(SLICE_LIT("")).n, 0);
}

static void versions_that_begin_with_their_release_are_ordered_within_it(void **state)
{
    static const char *const lpfc[] = {"14.0.169.26-5vmw.703.0.20.19193900", "14.4.0.39-35vmw.803.0.0.24022510", NULL};
    static const char *const smartpqi[] = {"70.4149.0.5000-1OEM.700.1.0.15843807", "70.4380.0.108-1OEM.700.1.0.15843807", NULL};
    static const char *const nhpsa[] = {"2.0.50-1vmw.700.1.0.15843807", "70.0051.0.100-4vmw.802.0.0.22380479", NULL}; /* 70 is its number on 8.0 too */
    static const struct {
        const char *a, *b;
    } apart[] = {
        {"900.14.4.390.20-36vmw.901.0.24957456", "14.4.0.39-35vmw.803.0.0.24022510"},
        {"900.14.4.390.20-36vmw.901.0.24957456", "14.4.0.40"},
        {"70.4149.0.5000-1OEM.700.1.0.15843807", "80.4700.0.5000-7vmw.803.0.0.24022510"},
        {"90.4800.0.5000-1vmw.900.0.24755229", "80.4700.0.5000-7vmw.803.0.0.24022510"},
    };
    int order;

    (void)state;
    ascending(lpfc, SCHEME_VIB);
    ascending(smartpqi, SCHEME_VIB);
    ascending(nhpsa, SCHEME_VIB);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        assert_int_equal(version_order(slice_of(apart[i].a), slice_of(apart[i].b), SCHEME_VIB, &order), -1);
        assert_int_equal(version_order(slice_of(apart[i].b), slice_of(apart[i].a), SCHEME_VIB, &order), -1);
    }
    assert_int_equal(version_order(SLICE_LIT("80.4700"), SLICE_LIT("80.4700.0.5000-7vmw.803.0.0.24022510"), SCHEME_VIB, &order), 0);
    assert_true(order < 0);
}

/* --- laws: over the versions of all VIBs in the fixtures, and made ones --- */

#define MAX_LAW 700u

struct law {
    struct slice v[MAX_LAW];
    size_t n;
    struct arena *a;
};

static void law_add(struct law *l, struct slice s)
{
    if (l->n < MAX_LAW && !slice_among(l->v, l->n, s))
        l->v[l->n++] = arena_dup(l->a, s);
}

static int versions_of_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct law *l = ctx;
    struct slice text, word;

    (void)rel;
    if (slice_find(slice_of(path), 0, "software_vib_list") == SIZE_MAX)
        return 0;
    if (fsx_read(path, 8u << 20, l->a, &text, NULL, e) < 0)
        return e->code;
    while (slice_next_word(&text, " <>\"\r\n\t", &word))
        if (word.p[0] >= '0' && word.p[0] <= '9' && (slice_find(word, 0, "vmw.") != SIZE_MAX || slice_find(word, 0, "OEM.") != SIZE_MAX))
            law_add(l, word);
    return 0;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* A version of the grammar: fields of digits, of letters and of both, some with leading noughts, some without a release. */
static struct slice made_version(struct arena *a, unsigned *seed, bool release)
{
    static const char *const fields[] = {"0", "1", "2", "10", "9", "01", "v60", "7a", "72", "4ICSHPK4", "900", "14", "80"};
    static const char *const releases[] = {"1vmw", "2vmw", "10vmw", "1OEM", "88OEM", "100OEM", "7872652"};
    static const char *const targets[] = {"", ".550.0.0.1331820", ".650.0.0.4564106", ".803.0.0.24022510", ".901.0.24957456"};
    _cleanup_(buf_done) struct buf b = BUF_INIT(100);

    for (unsigned n = 1 + next_random(seed) % 4, i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? "." : "", fields[next_random(seed) % (sizeof fields / sizeof *fields)]);
    if (release)
        buf_printf(&b, "-%s%s", releases[next_random(seed) % (sizeof releases / sizeof *releases)],
                   targets[next_random(seed) % (sizeof targets / sizeof *targets)]);
    return arena_dup(a, buf_slice(&b));
}

/* Reflexive, antisymmetric, transitive, wherever it orders at all; in order[i][k] 9 is "not ordered". */
static void laws_hold(const struct law *l, enum version_scheme scheme, bool total)
{
    static signed char order[MAX_LAW][MAX_LAW];

    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->n; k++) {
            int o = 77;

            order[i][k] = version_order(l->v[i], l->v[k], scheme, &o) < 0 ? 9 : (signed char)sign(o);
            if (total && order[i][k] == 9)
                fail_msg(SLICE_FMT " and " SLICE_FMT " are not ordered", SLICE_ARG(l->v[i]), SLICE_ARG(l->v[k]));
        }
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->n; k++) {
            if (i == k && order[i][k] != 0 && order[i][k] != 9)
                fail_msg(SLICE_FMT " differs from itself", SLICE_ARG(l->v[i]));
            if (order[i][k] != (order[k][i] == 9 ? 9 : -order[k][i]))
                fail_msg(SLICE_FMT " and " SLICE_FMT ": %d one way, %d the other", SLICE_ARG(l->v[i]), SLICE_ARG(l->v[k]), order[i][k], order[k][i]);
            for (size_t m = 0; m < l->n && order[i][k] <= 0; m++)
                if (order[k][m] <= 0 && order[i][m] != 9 && order[i][m] != (order[i][k] < order[k][m] ? order[i][k] : order[k][m]))
                    fail_msg(SLICE_FMT " up to " SLICE_FMT " up to " SLICE_FMT ", and yet %d", SLICE_ARG(l->v[i]), SLICE_ARG(l->v[k]),
                             SLICE_ARG(l->v[m]), order[i][m]);
        }
}

static void orders_keep_the_laws_of_an_order(void **state)
{
    struct law real = {.a = arena_new(64u << 20)}, made = {.a = real.a}, bare = {.a = real.a};
    struct err e = {0};
    unsigned seed = 4564106;

    (void)state;
    if (fsx_walk("fixtures", versions_of_file, &real, &e) < 0)
        fail_msg("%s", e.msg);
    assert_true(real.n > 200);
    laws_hold(&real, SCHEME_VIB, false);
    for (unsigned i = 0; i < 400; i++)
        law_add(&made, made_version(made.a, &seed, true));
    laws_hold(&made, SCHEME_VIB, false);
    laws_hold(&made, SCHEME_FIRMWARE, false);
    for (unsigned i = 0; i < 400; i++)
        law_add(&bare, made_version(bare.a, &seed, false));
    laws_hold(&bare, SCHEME_VIB, true);
    laws_hold(&bare, SCHEME_DOTTED, true);
    laws_hold(&bare, SCHEME_FIRMWARE, true);
    arena_free(real.a);
}

static struct release host_of(const struct world *w, int major, int minor, int update, uint64_t build)
{
    struct release r = {.major = major, .minor = minor, .update = update, .build = build};

    release_complete(&w->builds, &r);
    return r;
}

/* Every build of the table as a host, against every named release of it. */
static void hosts_keep_the_laws_of_an_order(void **state)
{
    struct world w;
    size_t named = 0;

    (void)state;
    world_open(&w);
    for (size_t i = 0; i < w.builds.n; i++)
        for (size_t k = 0; k < w.builds.n; k++) {
            struct release host = host_of(&w, w.builds.v[i].name.major, w.builds.v[i].name.minor, -1, w.builds.v[i].number);
            const struct build *a = &w.builds.v[k];
            int order;

            if (a->name.update < 0 || release_order(&w.builds, &host, &a->name, &order) < 0)
                continue;
            named++;
            if (i == k && order != 0)
                fail_msg(SLICE_FMT " is not equal to itself", SLICE_ARG(a->title));
            for (size_t m = 0; m < w.builds.n; m++) {
                const struct build *b = &w.builds.v[m];
                int ab, hb;

                if (b->name.update < 0 || release_order(&w.builds, &a->name, &b->name, &ab) < 0 || release_order(&w.builds, &host, &b->name, &hb) < 0)
                    continue;
                if (order < 0 && ab < 0 && hb >= 0)
                    fail_msg("build %llu is before " SLICE_FMT ", that before " SLICE_FMT ", and yet it is not", (unsigned long long)host.build,
                             SLICE_ARG(a->title), SLICE_ARG(b->title));
            }
        }
    assert_true(named > 1000);
    world_close(&w);
}

/* --- releases --- */

static void releases_are_read_in_the_form_of_rules(void **state)
{
    static const struct {
        const char *text;
        int rc, major, minor, update;
        char letter;
    } t[] = {
        {"6.5", 0, 6, 5, -1, 0},    {"6.5u1", 0, 6, 5, 1, 0},      {"7.0u3c", 0, 7, 0, 3, 'c'},  {"9.0.1", 0, 9, 0, 1, 0},
        {"6.0b", 0, 6, 0, -1, 'b'}, {"8.0u10", 0, 8, 0, 10, 0},    {"6", VF_EFORMAT, 0, 0, 0, 0}, {"6.", VF_EFORMAT, 0, 0, 0, 0},
        {"", VF_EFORMAT, 0, 0, 0, 0}, {"6.5U1", VF_EFORMAT, 0, 0, 0, 0}, {"6.5 u1", VF_EFORMAT, 0, 0, 0, 0}, {"6.5u", VF_EFORMAT, 0, 0, 0, 0},
        {"6.5u1cc", VF_EFORMAT, 0, 0, 0, 0}, {"6.5.0.1", VF_EFORMAT, 0, 0, 0, 0}, {"v6.5", VF_EFORMAT, 0, 0, 0, 0}, {"99999.0", VF_EFORMAT, 0, 0, 0, 0},
        {"6.5u1-2", VF_EFORMAT, 0, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct release r = {0};
        struct err e = {0};

        if (release_parse(slice_of(t[i].text), &r, &e) != t[i].rc)
            fail_msg("\"%s\"", t[i].text);
        if (t[i].rc == 0 && (r.major != t[i].major || r.minor != t[i].minor || r.update != t[i].update || r.letter != t[i].letter))
            fail_msg("\"%s\": %d.%d.%d%c", t[i].text, r.major, r.minor, r.update, r.letter);
        if (t[i].rc)
            assert_non_null(strstr(e.msg, "6.5u1"));
    }
}

/* Host by version, update (-1 not printed) and build against a release of a rule: order -1, 0, 1, or 9 not decided. */
static void hosts_are_ordered_with_releases(void **state)
{
    static const struct {
        int major, minor, update;
        uint64_t build;
        const char *named;
        int order;
    } t[] = {
        {6, 5, -1, 4564106, "6.5u1", -1},   /* GA */
        {6, 5, -1, 4887370, "6.5u1", -1},   /* 6.5.0a */
        {6, 5, -1, 5969303, "6.5u1", 0},    /* U1 */
        {6, 5, -1, 7388607, "6.5u1", 0},    /* a patch of U1 */
        {6, 5, -1, 4564106, "6.5", 0},
        {6, 5, 0, 0, "6.5u1", -1},          /* the host prints its update, its build is not known */
        {6, 5, 1, 0, "6.5u1", 0},
        {6, 5, -1, 0, "6.5u1", 9},          /* neither update nor build */
        {6, 5, -1, 0, "6.5", 0},            /* no host of a line is before its first release */
        {6, 5, -1, 0, "6.7", -1},           /* another line decides all the same */
        {6, 5, -1, 0, "6.0u3", 1},
        {8, 0, 1, 23299997, "8.0u2", -1},   /* 8.0 U1d was built after 8.0 U2 and is still before it */
        {8, 0, -1, 23299997, "8.0u2", -1},
        {8, 0, 2, 22380479, "8.0u1", 1},
        {7, 0, 3, 24784741, "8.0", -1},     /* 7.0 U3w was built after 8.0 GA */
        {8, 0, 0, 20513097, "7.0u3w", 1},
        {7, 0, 3, 22348816, "7.0u3q", -1},  /* U3o before U3q: by build within one update */
        {7, 0, 3, 24784741, "7.0u3q", 1},
        {7, 0, 3, 23794027, "7.0u3q", 0},
        {7, 0, 3, 0, "7.0u3q", 9},          /* the letter hangs on the build */
        {9, 0, 1, 24957456, "9.0", 1},
        {9, 0, 1, 24957456, "9.0.1", 0},
    };
    struct world w;

    (void)state;
    world_open(&w);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct release host = host_of(&w, t[i].major, t[i].minor, t[i].update, t[i].build), named;
        int order = 77, rc;

        assert_int_equal(release_parse(slice_of(t[i].named), &named, NULL), 0);
        rc = release_order(&w.builds, &host, &named, &order);
        if (rc != (t[i].order == 9 ? -1 : 0) || (rc == 0 && sign(order) != t[i].order))
            fail_msg("%d.%d.%d build %llu against %s: %d, %d", t[i].major, t[i].minor, t[i].update, (unsigned long long)t[i].build, t[i].named,
                     rc, order);
    }
    world_close(&w);
}

static void a_release_covers_its_patches_and_a_line_all_of_it(void **state)
{
    static const struct {
        int major, minor, update;
        uint64_t build;
        const char *named;
        int covers;
    } t[] = {
        {8, 0, 3, 24280767, "8.0u3", 1},  {8, 0, 3, 24022510, "8.0u3", 1},   {8, 0, 2, 22380479, "8.0u3", 0}, {8, 0, 3, 24280767, "8.0", 1},
        {7, 0, 3, 24784741, "8.0", 0},    {8, 0, 3, 24280767, "8.0u3b", 1},  {8, 0, 3, 24585383, "8.0u3b", 0}, {8, 0, 3, 0, "8.0u3b", -1},
        {6, 7, -1, 0, "6.7u3", -1},       {6, 7, -1, 0, "6.7", 1},           {6, 5, -1, 7388607, "6.5u1", 1}, {6, 5, -1, 4564106, "6.5u1", 0},
        {8, 0, 1, 23299997, "8.0u2", 0},  {8, 0, -1, 23299997, "8.0u1", 1},
    };
    struct world w;

    (void)state;
    world_open(&w);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct release host = {.major = t[i].major, .minor = t[i].minor, .update = t[i].update, .build = t[i].build}, named;

        assert_int_equal(release_parse(slice_of(t[i].named), &named, NULL), 0);
        if (release_covers(&w.builds, &host, &named) != t[i].covers)
            fail_msg("%d.%d.%d build %llu in %s", t[i].major, t[i].minor, t[i].update, (unsigned long long)t[i].build, t[i].named);
    }
    world_close(&w);
}

static void a_build_completes_what_the_host_does_not_print(void **state)
{
    struct release r;
    struct world w;

    (void)state;
    world_open(&w);
    r = host_of(&w, 6, 5, -1, 5969303);
    assert_int_equal(r.update, 1);
    r = host_of(&w, 6, 5, -1, 6765664); /* a patch without a release name of its own */
    assert_int_equal(r.update, 1);
    r = host_of(&w, 8, 0, -1, 24280767);
    assert_int_equal(r.update, 3);
    assert_int_equal(r.letter, 'b');
    r = host_of(&w, 8, 0, -1, 0);
    assert_int_equal(r.update, -1);
    r = host_of(&w, 6, 5, -1, 1); /* older than everything of the line */
    assert_int_equal(r.update, -1);
    r = host_of(&w, 6, 5, -1, 24280767); /* a build of another line says nothing wrong about a letter */
    assert_int_equal(r.letter, 0);
    assert_null(builds_find(&w.builds, 42));
    assert_non_null(builds_find(&w.builds, 4564106));
    world_close(&w);
}

static void broken_tables_of_builds_are_refused(void **state)
{
    static const char *const bad[] = {"<builds><build number='x' line='6.5'/></builds>", "<builds><build line='6.5'/></builds>",
                                      "<builds><build number='1'/></builds>", "<builds><build number='1' line='6.5' name='six'/></builds>",
                                      "<builds><build number='1' line='6.5'/>", ""};
    struct arena *a = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct builds b = {0};
        struct err e = {0};

        assert_true(builds_load(slice_of(bad[i]), "builds.xml", a, &b, &e) < 0);
        assert_non_null(strstr(e.msg, "builds.xml"));
        assert_null(b.v);
    }
    arena_free(a);
}

/* --- PCI addresses --- */

static void every_spelling_of_a_pci_address_becomes_one(void **state)
{
    static const struct {
        const char *in, *out; /* NULL: none */
    } t[] = {
        {"0000:02:00.0", "0000:02:00.0"},     {"0000:3B:1f.7", "0000:3b:1f.7"},  {"0001:ff:00.1", "0001:ff:00.1"},
        {"0000:02:01:0", "0000:02:01.0"},     {"0000:01:00.00", "0000:01:00.0"}, {"0000:001:00.0", "0000:01:00.0"},
        {"0000:0c1:00.0", "0000:c1:00.0"}, {"0000:010:00.0", "0000:10:00.0"},    {"000:002:00.0", "0000:02:00.0"},  {"000:016:31.2", "0000:10:1f.2"},
        {"0:132:0.0", "0000:84:00.0"},        {"0:0:31.2", "0000:00:1f.2"},      {"PCI 0:0:1:1", "0000:00:01.1"},
        {"PCI 0:255:31:7", "0000:ff:1f.7"},   {"02:00.0", "0000:02:00.0"},       {"1f:1f.7", "0000:1f:1f.7"},
        {" 0000:02:00.0 ", "0000:02:00.0"},
        /* out of range */
        {"0:256:0.0", NULL}, {"0000:02:20.0", NULL}, {"0:0:32.0", NULL}, {"0000:02:00.8", NULL}, {"02:20.0", NULL}, {"10000:02:00.0", NULL},
        /* none of them */
        {"", NULL}, {"0000:02:00", NULL}, {"0000:02", NULL}, {"vmhba0", NULL}, {"0000:02:00.0.1", NULL}, {"0000:02:00.", NULL}, {":::.", NULL},
        {"0000:02:0g.0", NULL}, {"0:1f:0.0", NULL}, {"0:0x1f:0.0", NULL}, {"0000:02:00.0 x", NULL}, {"2:0.0", NULL}, {"-1:2:3.0", NULL},
        {"00000002:00.0", NULL}, {"PCI ", NULL}, {"1.2", NULL}, {"1.2.3.4", NULL},
    };
    struct arena *a = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct slice out = {NULL, 0};
        int rc = pciaddr_parse(slice_of(t[i].in), a, &out);

        if (rc != (t[i].out ? 0 : -1) || (rc == 0 && !slice_eqz(out, t[i].out)))
            fail_msg("\"%s\": %d " SLICE_FMT, t[i].in, rc, SLICE_ARG(out));
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vib_versions_are_ordered_by_number_version_before_release),
        cmocka_unit_test(a_bare_version_is_compared_by_its_version_alone),
        cmocka_unit_test(different_origins_are_not_ordered_at_an_equal_number),
        cmocka_unit_test(what_has_no_digit_is_not_ordered),
        cmocka_unit_test(dotted_and_firmware_versions_compare_numbers),
        cmocka_unit_test(decoration_of_module_versions_is_taken_off),
        cmocka_unit_test(versions_that_begin_with_their_release_are_ordered_within_it),
        cmocka_unit_test(orders_keep_the_laws_of_an_order),
        cmocka_unit_test(hosts_keep_the_laws_of_an_order),
        cmocka_unit_test(releases_are_read_in_the_form_of_rules),
        cmocka_unit_test(hosts_are_ordered_with_releases),
        cmocka_unit_test(a_release_covers_its_patches_and_a_line_all_of_it),
        cmocka_unit_test(a_build_completes_what_the_host_does_not_print),
        cmocka_unit_test(broken_tables_of_builds_are_refused),
        cmocka_unit_test(every_spelling_of_a_pci_address_becomes_one),
    };

    xml_setup();
    return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
