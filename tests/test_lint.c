#include "world.h"

#include "core/lint.h"
#include "core/rng.h"

/*
 * What is said of broken rule files. tests/rules-broken holds one mistake in each; its first line is what has to be said, word for word:
 *
 *     <!-- LINE:COLUMN: message [grammar] -->    RELAX NG refuses it too
 *                               [meaning]        it can only be known with the schema's types or our own limits: RELAX NG accepts it
 *                               [lint], [lint note]    it loads; lint finds it
 */
#define BROKEN "tests/rules-broken"
#define TODAY  "2026-12-01"

struct fixture {
    struct world w;
    struct buf rng;
    struct knowledge knowledge;
    unsigned files, wrong, kinds[4];
};

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){.rng = BUF_INIT(8u << 20)};
    world_open(&f.w);
    rng_write(&f.w.schema, &f.rng);
    assert_int_equal(knowledge_load(world_read(&f.w, "rules/knowledge.tsv"), "knowledge.tsv", f.w.a, &f.knowledge, &f.w.e), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    world_close(&f->w);
    buf_done(&f->rng);
    return 0;
}

/* --- the corpus --- */

static const char *const kinds[] = {"grammar", "meaning", "lint", "lint note"};

struct expected {
    struct slice place, says;
    unsigned kind;
};

static struct expected expectation(struct slice text, const char *path)
{
    size_t end = slice_find(text, 0, "] -->"), open = end;
    struct expected x = {.kind = 4};
    size_t colon;

    if (!slice_starts(text, "<!-- ") || end == SIZE_MAX)
        fail_msg("%s: does not begin with what has to be said", path);
    while (open > 0 && text.p[open] != '[')
        open--;
    for (unsigned i = 0; i < 4; i++)
        if (slice_eqz(slice_cut(text, open + 1, end - open - 1), kinds[i]))
            x.kind = i;
    colon = slice_find(text, 5, ": ");
    if (x.kind == 4 || colon == SIZE_MAX || colon > open)
        fail_msg("%s: does not begin with what has to be said", path);
    x.place = slice_cut(text, 5, colon - 5);
    x.says = slice_trim(slice_cut(text, colon + 2, open - colon - 2));
    return x;
}

/* The rules of rs, as "rules lint" looks at them. */
static void lint_all(struct fixture *f, struct ruleset *rs, struct lint *l, const struct lint_file *file, const char *today)
{
    *l = (struct lint){.rules = rs, .arena = f->w.a, .today = slice_of(today), .knowledge = &f->knowledge, .files = file, .nfiles = file ? 1 : 0};
    for (size_t i = 0; i < rs->rules.n; i++)
        lint_rule(l, rs->rules.v[i]);
    for (size_t i = 0; i < rs->rules.n; i++)
        lint_names(l, rs->rules.v[i], &rs->rules);
    lint_pairs(l);
}

/* All files are looked at before the test fails. */
#define WRONG(...) (f->wrong++, print_error(__VA_ARGS__), print_error("\n"))

static void check_lint(struct fixture *f, struct ruleset *rs, const char *path, struct slice text, const struct expected *x)
{
    bool of_examples = slice_find(x->says, 0, "this example says") != SIZE_MAX;
    struct lint_file file = {path, text};
    struct lint l;
    unsigned n = 0;

    lint_all(f, rs, &l, &file, TODAY);
    for (size_t i = 0; i < l.n; i++) {
        char place[40];

        if (!of_examples && strstr(l.v[i].text, "this example says")) /* what follows from the mistake */
            continue;
        if (of_examples && !strstr(l.v[i].text, "this example says"))
            continue;
        (void)snprintf(place, sizeof place, "%u:%u", l.v[i].place.line, l.v[i].place.column);
        if (n++ > 0 && strstr(l.v[i].text, "of the same topic"))
            continue; /* each of the two says so */
        if (n > 1 && strstr(l.v[i].text, "contradict each other"))
            continue;
        if (!slice_eqz(x->place, place) || !slice_ends(slice_of(l.v[i].text), arena_printf(f->w.a, "the-rule: " SLICE_FMT, SLICE_ARG(x->says))) ||
            strncmp(l.v[i].text, "the-rule: ", 10) != 0 || l.v[i].error != (x->kind == 2) || strcmp(l.v[i].file, path) != 0 || n > 1)
            WRONG("%s\nsays: %s:%s: %s\nnot:  " SLICE_FMT ": " SLICE_FMT, path, place, l.v[i].error ? "error" : "note", l.v[i].text,
                     SLICE_ARG(x->place), SLICE_ARG(x->says));
    }
    if (n == 0)
        WRONG("%s: lint finds nothing", path);
}

static int broken_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct fixture *f = ctx;
    struct mistakes m = {.n = 0};
    struct err refused = {0};
    struct expected x;
    struct slice text;
    struct ruleset rs;
    const char *whole;

    (void)e;
    if (!slice_ends(slice_of(rel), ".xml"))
        return 0;
    text = world_read(&f->w, path);
    x = expectation(text, path);
    f->files++;
    f->kinds[x.kind]++;
    ruleset_init(&rs, &f->w.schema, &f->w.builds, f->w.a);
    assert_int_equal(rules_check(&rs.rules, text, path, &f->w.schema, f->w.a, &m, &f->w.e), 0);
    if (m.n != (x.kind < 2))
        WRONG("%s: %u mistakes, the last: %s", path, m.n, m.n ? m.v[m.n - 1] : "");
    whole = arena_printf(f->w.a, "%s:" SLICE_FMT ": " SLICE_FMT, path, SLICE_ARG(x.place), SLICE_ARG(x.says));
    if (m.n && strcmp(m.v[0], whole) != 0)
        WRONG("says: %s\nnot:  %s", m.v[0], whole);
    /* a scan stops at the same, in the same words */
    if (m.n) {
        struct rules none = {0};

        assert_true(rules_load(&none, text, path, &f->w.schema, f->w.a, &refused) < 0);
        assert_string_equal(refused.msg, whole);
        refused = (struct err){0};
    }
    if ((xml_relaxng(text, path, buf_slice(&f->rng), "rules.rng", &refused) < 0) != (x.kind == 0))
        WRONG("%s: RELAX NG %s it: %s", path, x.kind == 0 ? "accepts" : "refuses", refused.msg);
    if (x.kind >= 2) {
        if (ruleset_seal(&rs, &refused) < 0)
            assert_non_null(strstr(refused.msg, "names a rule that is not there")); /* lint says it of each */
        check_lint(f, &rs, path, text, &x);
    }
    return 0;
}

static void each_broken_file_is_answered_word_for_word(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(fsx_walk(BROKEN, broken_file, f, &f->w.e), 0);
    assert_int_equal(f->wrong, 0);
    assert_true(f->files >= 90);
    for (unsigned i = 0; i < 4; i++)
        assert_true(f->kinds[i] >= 2);
}

static int whole_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct fixture *f = ctx;
    struct mistakes m = {.n = 0};
    struct rules rs = {0};
    struct slice text;

    if (!slice_ends(slice_of(rel), ".xml"))
        return 0;
    text = world_read(&f->w, path);
    if (rules_check(&rs, text, path, &f->w.schema, f->w.a, &m, e) < 0 || m.n)
        fail_msg("%s", m.n ? m.v[0] : e->msg);
    if (xml_relaxng(text, path, buf_slice(&f->rng), "rules.rng", e) < 0)
        fail_msg("%s", e->msg);
    f->files++;
    return 0;
}

static void both_checkers_accept_the_shipped_rules(void **state)
{
    struct fixture *f = *state;

    f->files = 0;
    assert_int_equal(fsx_walk("rules", whole_file, f, &f->w.e), 0);
    assert_true(f->files > 30);
}

/* --- several mistakes --- */

static void check(struct fixture *f, const char *text, struct rules *rs, struct mistakes *m)
{
    *rs = (struct rules){0};
    *m = (struct mistakes){.n = 0};
    if (rules_check(rs, slice_of(text), "t.xml", &f->w.schema, f->w.a, m, &f->w.e) < 0)
        fail_msg("%s", f->w.e.msg);
}

#define SOUND(id) RULE(id, "adapter", "", "<bad driver='x'/>")

static void the_rules_behind_a_mistake_are_read(void **state)
{
    static const char text[] = "<rules format='1'>\n"
                               "<rule id='one' subject='adapter' severity='high' status='stable' reviewed='2026-11-30'><title>t</title>\n"
                               "<bad drivr='x'/>\n"
                               "<badd><none>\n<vib/></none></badd>words\n"
                               "</rule>\n"
                               "<rule id='two' subject='adaptr' severity='note' status='stable' reviewed='2026-11-30'><bad drivr='x'/></rule>\n"
                               "<rul/>\n" SOUND("three") "\n<rule id='four'/>" SOUND("five") "</rules>";
    static const char *const says[] = {"t.xml:2:34: severity must be", "t.xml:3:6: unknown column", "t.xml:4:1: unknown element \"badd\"",
                                       "t.xml:5:21: a rule holds elements", "t.xml:7:16: subject must name", "t.xml:8:1: unknown element \"rul\"",
                                       "t.xml:15:1: subject must name"};
    struct mistakes m;
    struct rules rs;

    check(*state, text, &rs, &m);
    for (unsigned i = 0; i < m.n && i < sizeof says / sizeof *says; i++)
        if (strncmp(m.v[i], says[i], strlen(says[i])) != 0)
            fail_msg("%s\nnot %s", m.v[i], says[i]);
    assert_int_equal(m.n, sizeof says / sizeof *says);
    assert_false(m.unread);
    assert_int_equal(rs.n, 2); /* the sound ones alone */
    assert_non_null(rules_find(&rs, SLICE_LIT("three")));
    assert_non_null(rules_find(&rs, SLICE_LIT("five")));
}

static void a_file_that_is_not_well_formed_is_read_up_to_there(void **state)
{
    struct mistakes m;
    struct rules rs;

    check(*state, "<rules format='1'>\n" SOUND("one") "<rule id='two' subject='adapter'><bad x='y'/><x></rule>" SOUND("three") "</rules>", &rs, &m);
    assert_true(m.n >= 2 && m.unread);
    assert_non_null(strstr(m.v[m.n - 1], "not well-formed"));
    assert_int_equal(rs.n, 1);
    check(*state, "<rules format='1'><rul>", &rs, &m);
    assert_true(m.unread && m.n == 2);
    assert_non_null(strstr(m.v[1], "1:24: not well-formed: the document ends early"));
    check(*state, "words", &rs, &m);
    assert_true(m.unread && m.n == 1);
    check(*state, "", &rs, &m);
    assert_true(m.unread && m.n == 1);
}

static void too_many_mistakes_end_the_reading(void **state)
{
    struct buf b = BUF_INIT(1u << 20);
    struct mistakes m;
    struct rules rs;

    buf_addz(&b, "<rules format='1'>");
    for (int i = 0; i < 60; i++)
        buf_addz(&b, "\n<rul/>");
    buf_addz(&b, "</rules>");
    check(*state, buf_z(&b), &rs, &m);
    assert_int_equal(m.n, RULES_MAX_MISTAKES);
    assert_true(m.unread);
    assert_non_null(strstr(m.v[49], "t.xml:51:1:"));
    buf_done(&b);
}

/* --- places --- */

static void columns_count_characters(void **state)
{
    static const struct {
        const char *text, *attribute;
        uint32_t line, column; /* of the first element below the root */
    } t[] = {
        {"<a><b x='1'/></a>", "", 1, 4},
        {"<a><b x='1'/></a>", "x", 1, 7},
        {"<a><b x='1'/></a>", "nosuch", 1, 4},
        {"<a>\n  <b x='1' y='2'\n/></a>", "y", 2, 12},
        {"<a>\r\n\t<b\r\n\tx='1'/></a>", "x", 3, 2},
        {"<a>\r\n\t<b\r\n\tx='1'/></a>", "", 2, 2},
        {"\xef\xbb\xbf<a><b x='1'/></a>", "x", 1, 7},           /* a byte order mark is no character */
        {"<a><!-- \xc3\xa4\xe2\x82\xac --><b x='1'/></a>", "x", 1, 18}, /* two characters of two and three bytes */
        {"<a><b y='x=\"1\"' x='1'/></a>", "x", 1, 17},
        {"<a><b y=\"it's > x='\" x='1'/></a>", "x", 1, 22},
        {"<a><b xx='1' x = '1'></b></a>", "x", 1, 14},
        {"<a><b xmlns:x='u' x:y='1'/></a>", "y", 1, 19},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct err e = {0};
        struct xml *x = xml_open(slice_of(t[i].text), "t", &e);
        struct xml_place p, later;

        assert_non_null(x);
        assert_int_equal(xml_next(x), XML_OPEN);
        assert_int_equal(xml_next(x), XML_OPEN);
        p = xml_place(x, slice_of(t[i].attribute));
        later = xml_place_in(slice_of(t[i].text), xml_line(x), xml_offset(x), slice_of(t[i].attribute));
        if (p.line != t[i].line || p.column != t[i].column || later.line != p.line || later.column != p.column)
            fail_msg("%s: %s at %u:%u, not %u:%u", t[i].text, t[i].attribute, p.line, p.column, t[i].line, t[i].column);
        xml_close(&x);
    }
}

/* Behind many pieces that the library reads one by one, also with "\r" at their ends. */
static void places_hold_far_into_a_file(void **state)
{
    static const char *const ends[] = {"\n", "\r\n", "\r\n\r\n"};
    const uint32_t lines[] = {1, 1, 2};

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct buf b = BUF_INIT(8u << 20);
        struct err e = {0};
        struct xml *x;
        unsigned n = 0;

        buf_addz(&b, "<a>");
        for (unsigned i = 0; i < 20000; i++)
            buf_printf(&b, "%s\t<b\xc3\xa4 n='%u' x='&amp;'>%s</b\xc3\xa4>", ends[k], i, i % 3 ? "text &lt; " : "");
        buf_addz(&b, "</a>");
        x = xml_open(buf_slice(&b), "t", &e);
        assert_non_null(x);
        for (enum xml_event ev = xml_next(x); ev > XML_END; ev = xml_next(x)) {
            struct xml_place p = xml_place(x, SLICE_LIT("n"));

            if (ev != XML_OPEN || xml_depth(x) != 2)
                continue;
            n++;
            if (p.line != 1 + n * lines[k] || p.column != 6)
                fail_msg("element %u at %u:%u", n, p.line, p.column);
        }
        assert_int_equal(n, 20000);
        assert_string_equal(xml_error(x, NULL), "");
        xml_close(&x);
        buf_done(&b);
    }
}

/* --- what lint knows of several rules --- */

static void ids_are_not_used_again(void **state)
{
#define WITH_STATUS(id, status) \
    "<rule id='" id "' subject='adapter' severity='note' status='" status "' reviewed='2026-11-30'><title>t</title><bad driver='x'/>" RULE_WHY \
    "<matches driver='x'/><ignores driver='y'/></rule>"
    struct fixture *f = *state;
    static const struct {
        const char *first, *then, *says;
        bool error;
    } t[] = {
        {RULES(WITH_STATUS("one", "stable")), RULES(WITH_STATUS("one", "stable")), "replaces the one of the same id in first.xml, line 2", false},
        {RULES(WITH_STATUS("one", "retired")), RULES(WITH_STATUS("one", "stable")), "the id was retired in first.xml, line 2", true},
        {RULES(WITH_STATUS("one", "retired")), RULES(WITH_STATUS("two", "stable")), NULL, false},
        {RULES(WITH_STATUS("one", "stable")), RULES(WITH_STATUS("one", "retired")), "replaces the one", false},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct ruleset rs;
        struct lint l;

        ruleset_init(&rs, &f->w.schema, &f->w.builds, f->w.a);
        assert_int_equal(rules_load(&rs.rules, slice_of(t[i].first), "first.xml", &f->w.schema, f->w.a, &f->w.e), 0);
        assert_int_equal(rules_load(&rs.rules, slice_of(t[i].then), "then.xml", &f->w.schema, f->w.a, &f->w.e), 0);
        assert_int_equal(ruleset_seal(&rs, &f->w.e), 0);
        lint_all(f, &rs, &l, NULL, TODAY);
        if ((l.n > 0) != (t[i].says != NULL) || (l.n && (!strstr(l.v[0].text, t[i].says) || l.v[0].error != t[i].error)))
            fail_msg("%zu: %s", i, l.n ? l.v[0].text : "nothing");
    }
}

/* What is odd and right. */
static void lint_leaves_alone_what_can_be_meant(void **state)
{
#define BODY(inside, examples) \
    "<rules format='1'><rule id='the-rule' subject='adapter' severity='note' status='stable' reviewed='2026-11-30'><title>t</title>" inside RULE_WHY \
    examples "</rule></rules>"
#define X "<matches esxi='6.5' driver='x'/><ignores esxi='6.5' driver='y'/>"
    static const char *const t[] = {
        BODY("<when><esxi from='6.5' before='6.5u1'/></when><bad driver='x'/>", X),
        BODY("<when><esxi release='6.5' before='6.5u2'/></when><bad driver='x'/>", X),
        BODY("<when><esxi before='6.0'/><esxi from='6.5'/></when><bad driver='x'/>", X), /* neither takes in 6.0 */
        BODY("<when><adapter driver='x y'/></when><bad driver='x z'/>", X),
        BODY("<when><adapter driver='x*'/></when><bad driver='*x'/>", X),
        BODY("<when><none><vib name='a' version='1'/></none><none><vib name='b'/></none></when><bad driver='x'/>", X),
        BODY("<good driver='y' esxi='6.5'/><good driver='y' esxi='6.7'/>", X),
        BODY("<good driver='y' driver-version='1.0*'/><good driver='y' driver-version='1.10*'/>",
             "<matches driver='x' driver-version='1'/><ignores driver='y' driver-version='1.10-1'/>"),
        BODY("<bad driver='x'/>", "<matches esxi='4.1' driver='x'/><ignores esxi='99.0' driver='y'/>"), /* the table of releases tells of neither */
        BODY("<bad driver='x'/>", "<matches driver='x' queue-depth='?'/><ignores driver='y'/>"),
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct lint l;

        world_rules(&f->w, t[i]);
        lint_all(f, &f->w.rs, &l, NULL, TODAY);
        if (l.n && !strstr(l.v[0].text, "queue-depth"))
            fail_msg("%s\n%s", t[i], l.v[0].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_broken_file_is_answered_word_for_word),
        cmocka_unit_test(both_checkers_accept_the_shipped_rules),
        cmocka_unit_test(the_rules_behind_a_mistake_are_read),
        cmocka_unit_test(a_file_that_is_not_well_formed_is_read_up_to_there),
        cmocka_unit_test(too_many_mistakes_end_the_reading),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(places_hold_far_into_a_file),
        cmocka_unit_test(ids_are_not_used_again),
        cmocka_unit_test(lint_leaves_alone_what_can_be_meant),
    };

    xml_setup();
    return cmocka_run_group_tests_name("lint", tests, setup, teardown);
}
