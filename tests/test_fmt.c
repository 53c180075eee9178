#include "world.h"

#include "core/fmt.h"

/* One layout for rule files: what comes out of layouts of all kinds, and that neither a second pass nor the meaning changes. */

static struct slice formatted(struct arena *a, struct slice in)
{
    struct buf out = BUF_INIT(8u << 20);
    struct err e = {0};
    struct slice s;

    if (fmt_rules(in, "t.xml", &out, &e) < 0)
        fail_msg("%s", e.msg);
    s = arena_dup(a, buf_slice(&out));
    buf_done(&out);
    return s;
}

/* What a reader sees of a document, in one text: names, attributes in the order of their names, words of texts, comments. */
static struct slice meaning(struct arena *a, struct slice in)
{
    struct buf b = BUF_INIT(16u << 20);
    struct err e = {0};
    struct xml *x = xml_open_whole(in, "t.xml", &e);
    enum xml_event ev;
    struct slice s, w;

    if (!x)
        fail_msg("%s", e.msg);
    while ((ev = xml_next(x)) > XML_END) {
        struct slice names[64], values[64], text = xml_text(x);
        unsigned n = 0;

        buf_printf(&b, "\n%d %s", ev, xml_name(x));
        while (ev == XML_OPEN && n < 64 && xml_attr_at(x, n, &names[n], &values[n]))
            n++;
        for (unsigned done = 0; done < n; done++) {
            unsigned least = 0;

            for (unsigned i = 1; i < n; i++)
                if (names[least].p == NULL || (names[i].p && slice_cmp(names[i], names[least]) < 0))
                    least = i;
            buf_printf(&b, " " SLICE_FMT "=\"", SLICE_ARG(names[least]));
            buf_add(&b, values[least]);
            buf_addc(&b, '"');
            names[least].p = NULL;
        }
        while (slice_next_word(&text, " \t\r\n", &w)) {
            buf_addc(&b, ' ');
            buf_add(&b, w);
        }
    }
    if (ev == XML_BROKEN)
        fail_msg("%s", xml_error(x, NULL));
    xml_close(&x);
    s = arena_dup(a, buf_slice(&b));
    buf_done(&b);
    return s;
}

static void keeps_its_promises(struct arena *a, struct slice in, const char *what)
{
    struct slice once = formatted(a, in), twice = formatted(a, once), before = meaning(a, in), after = meaning(a, once);

    if (!slice_eq(once, twice))
        fail_msg("%s: a second pass changes it:\n" SLICE_FMT "\n---\n" SLICE_FMT, what, SLICE_ARG(once), SLICE_ARG(twice));
    if (!slice_eq(before, after))
        fail_msg("%s: the meaning changes:\n" SLICE_FMT "\n---\n" SLICE_FMT, what, SLICE_ARG(before), SLICE_ARG(after));
}

static void every_layout_becomes_the_one(void **state)
{
    static const struct {
        const char *in, *out;
    } t[] = {
        {"<rules format='1'></rules>", "<rules format=\"1\"/>\n"},
        {"<!-- a\n   b -->\n<rules format='1'>\n\n\n<!--c-->\n<rule subject='nic' reviewed='2026-11-30' id='a'><title> x\n  y </title></rule><rule id='b'/></rules>",
         "<!-- a\n     b -->\n<rules format=\"1\">\n  <!-- c -->\n  <rule id=\"a\" subject=\"nic\" reviewed=\"2026-11-30\">\n    <title>x y</title>\n  </rule>\n\n"
         "  <rule id=\"b\"/>\n</rules>\n"},
        {"<?xml-model href=\"rules.rng\"?><rules><when><esxi release='6.7'/></when><bad driver='a'><none>\n<vib name='v'/>\n</none></bad></rules>",
         "<?xml-model href=\"rules.rng\"?>\n<rules>\n  <when>\n    <esxi release=\"6.7\"/>\n  </when>\n  <bad driver=\"a\"><none><vib name=\"v\"/></none></bad>\n</rules>\n"},
        {"<rules><why>one two\n\n<see href='https://x/'/></why></rules>", "<rules>\n  <why>\n    one two\n    <see href=\"https://x/\"/>\n  </why>\n</rules>\n"},
        {"<rules><uncaught what='esxi release=\"6.7\" left out' because='a &amp; b &lt; c'/></rules>",
         "<rules>\n  <uncaught what='esxi release=\"6.7\" left out' because=\"a &amp; b &lt; c\"/>\n</rules>\n"},
        {"<rules><a b='\"x\" and &apos;y&apos;'/></rules>", "<rules>\n  <a b=\"&quot;x&quot; and 'y'\"/>\n</rules>\n"},
        {"<rules><title>a &lt; b &amp; c &gt; d <![CDATA[<e>]]></title></rules>", "<rules>\n  <title>a &lt; b &amp; c &gt; d &lt;e&gt;</title>\n</rules>\n"},
        {"<rules><bad><!-- why --><nic driver='a'/></bad></rules>", "<rules>\n  <bad>\n    <!-- why -->\n    <nic driver=\"a\"/>\n  </bad>\n</rules>\n"},
    };
    struct arena *a = arena_new(64u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *want = arena_printf(a, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n%s", t[i].out);

        if (!slice_eqz(formatted(a, slice_of(t[i].in)), want))
            fail_msg("%s\n  gives\n" SLICE_FMT "\n  not\n%s", t[i].in, SLICE_ARG(formatted(a, slice_of(t[i].in))), want);
        keeps_its_promises(a, slice_of(t[i].in), t[i].in);
    }
    arena_free(a);
}

static void no_line_is_longer_than_it_must_be(void **state)
{
    struct arena *a = arena_new(64u << 20);
    struct buf in = BUF_INIT(1u << 20);
    struct slice rest, line;

    (void)state;
    buf_addz(&in, "<rules><rule id='a'><title>");
    for (unsigned i = 0; i < 200; i++)
        buf_addz(&in, "word ");
    buf_addz(&in, "</title><fix id='f'><advise>");
    for (unsigned i = 0; i < 200; i++)
        buf_addz(&in, "word ");
    buf_addz(&in, "</advise></fix><matches");
    for (unsigned i = 0; i < 60; i++)
        buf_printf(&in, " column-%u='value'", i);
    buf_addz(&in, "/></rule></rules>");
    rest = formatted(a, buf_slice(&in));
    keeps_its_promises(a, buf_slice(&in), "long lines");
    while (slice_next_line(&rest, &line, NULL))
        if (line.n > 140)
            fail_msg("%zu columns: " SLICE_FMT, line.n, SLICE_ARG(line));
    buf_done(&in);
    arena_free(a);
}

static int one_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(256u << 20);
    struct slice text, rest, line;
    struct buf torn = BUF_INIT(8u << 20);
    unsigned *files = ctx, n = 0;

    if (!slice_ends(slice_of(rel), ".xml"))
        return 0;
    if (fsx_read(path, 8u << 20, a, &text, NULL, e) < 0)
        return e->code;
    keeps_its_promises(a, text, path);
    rest = text;
    while (slice_next_line(&rest, &line, NULL)) { /* other line ends, other indentation, empty lines */
        struct slice bare = slice_trim(line);
        bool inside = slice_find(line, 0, "<!--") == SIZE_MAX && bare.n && bare.p[0] == '<' && !slice_starts(bare, "<?") && slice_ends(bare, ">");

        if (inside && n++ % 3 == 0)
            buf_addz(&torn, "\n\n\t");
        buf_add(&torn, inside ? bare : line);
        buf_addz(&torn, n % 5 == 0 ? "\r\n" : "\n");
    }
    keeps_its_promises(a, buf_slice(&torn), path);
    if (!slice_eq(formatted(a, buf_slice(&torn)), formatted(a, text)))
        fail_msg("%s: another indentation gives another layout", path);
    buf_done(&torn);
    ++*files;
    return 0;
}

static void all_rule_files_and_mutilations_of_them_keep_their_meaning(void **state)
{
    unsigned files = 0;
    struct err e = {0};

    (void)state;
    if (fsx_walk("rules", one_file, &files, &e) < 0)
        fail_msg("%s", e.msg);
    assert_true(files >= 13);
}

/* Inputs of the fuzz target, behind the byte that is no part of the file, those that load: "rules fmt" writes nothing else. */
struct inputs {
    struct world *w;
    unsigned loaded;
};

static int one_input(void *ctx, const char *path, const char *rel, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(256u << 20);
    struct inputs *in = ctx;
    struct rules own = {0};
    struct err found = {0};
    struct slice text;

    (void)rel;
    if (fsx_read(path, 8u << 20, a, &text, NULL, e) < 0)
        return e->code;
    text = slice_from(text, 1);
    if (rules_load(&own, text, path, &in->w->schema, a, &found) < 0)
        return 0;
    keeps_its_promises(a, text, path);
    in->loaded++;
    return 0;
}

static void inputs_of_the_fuzz_target_keep_their_meaning(void **state)
{
    struct world w;
    struct inputs in = {.w = &w};

    (void)state;
    world_open(&w);
    if (fsx_walk("tests/corpus/rules", one_input, &in, &w.e) < 0)
        fail_msg("%s", w.e.msg);
    assert_true(in.loaded >= 20);
    world_close(&w);
}

static void what_is_not_well_formed_is_refused(void **state)
{
    static const char *const bad[] = {"", "x", "<rules>", "<rules><a></rules>", "<rules><!-- </rules>", "<!DOCTYPE rules><rules/>", "<rules>&e;</rules>"};
    struct buf out = BUF_INIT(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};

        if (fmt_rules(slice_of(bad[i]), "t.xml", &out, &e) >= 0)
            fail_msg("\"%s\" is taken", bad[i]);
        assert_non_null(strstr(e.msg, "t.xml"));
    }
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_becomes_the_one),
        cmocka_unit_test(no_line_is_longer_than_it_must_be),
        cmocka_unit_test(all_rule_files_and_mutilations_of_them_keep_their_meaning),
        cmocka_unit_test(inputs_of_the_fuzz_target_keep_their_meaning),
        cmocka_unit_test(what_is_not_well_formed_is_refused),
    };

    xml_setup();
    return cmocka_run_group_tests_name("fmt", tests, NULL, NULL);
}
