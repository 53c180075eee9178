#include "world.h"

#include "core/example.h"
#include "core/mutate.h"

/* Which mutations of one small rule are caught by its examples. The rule is made of parts: conditions and examples. */
struct seen {
    struct buf b;
    size_t caught, uncaught, excused;
};

static void note(void *ctx, const struct mutation *m)
{
    struct seen *s = ctx;

    s->caught += m->caught;
    s->excused += m->excused != NULL;
    s->uncaught += !m->caught && !m->excused;
    if (!m->caught && !m->excused)
        buf_printf(&s->b, "%s|", m->what);
}

static const char *uncaught(struct world *w, const char *conditions, const char *examples, const char **stale)
{
    const char *xml = arena_printf(w->a,
                                   "<rules format='1'><rule id='one' subject='adapter' severity='warning' status='stable' reviewed='2026-11-30'>"
                                   "<title>t</title>%s<why>w <see href='https://example.com/'/></why>%s</rule></rules>",
                                   conditions, examples);
    const struct uncaught *old = NULL;
    struct seen s = {.b = BUF_INIT(10000)};
    const char *out;

    ruleset_init(&w->rs, &w->schema, &w->builds, w->a);
    if (rules_load(&w->rs.rules, slice_of(xml), "t.xml", &w->schema, w->a, &w->e) < 0 || ruleset_seal(&w->rs, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    for (unsigned i = 0; i < w->rs.rules.v[0]->nexamples; i++) { /* the examples themselves have to be right */
        struct example_result got = {0};

        if (example_run(&w->rs, w->rs.rules.v[0], &w->rs.rules.v[0]->examples[i], w->a, &got, &w->e) < 0 || !got.passed)
            fail_msg("example %u of %s: %s", i, examples, got.decided);
    }
    if (mutate_rule(&w->rs, w->rs.rules.v[0], note, &s, &old, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    if (stale)
        *stale = old ? arena_printf(w->a, SLICE_FMT, SLICE_ARG(old->what)) : NULL;
    out = arena_printf(w->a, "%s", buf_z(&s.b));
    buf_done(&s.b);
    return out;
}

static void each_condition_is_weakened_and_examples_notice(void **state)
{
    static const struct {
        const char *conditions, *examples, *uncaught;
    } t[] = {
        /* one test: any other driver notices */
        {"<bad driver='a'/>", "<matches driver='a'/><ignores driver='b'/>", ""},
        /* two tests need an example each */
        {"<bad driver='a' link-state='online'/>", "<matches driver='a' link-state='online'/><ignores driver='b' link-state='online'/>",
         "adapter link-state=\"online\" left out|"},
        {"<bad driver='a' link-state='online'/>",
         "<matches driver='a' link-state='online'/><ignores driver='b' link-state='online'/><ignores driver='a' link-state='offline'/>", ""},
        /* an unsure example does not notice that a known value is asked for */
        {"<bad driver='a'/>", "<matches driver='a'/><ignores driver='b'/><unsure driver='?'/>", ""},
        /* bounds: the fixed version itself must be in an example */
        {"<bad driver='a' driver-version-before='2.0'/>", "<matches driver='a' driver-version='1.0-1vmw'/><ignores driver='b' driver-version='1.0-1vmw'/>"
         "<ignores driver='a' driver-version='3.0-1vmw'/>", "adapter driver-version-before=\"2.0\" taking in the value itself|"},
        {"<bad driver='a' driver-version-before='2.0'/>", "<matches driver='a' driver-version='1.0-1vmw'/><ignores driver='b' driver-version='1.0-1vmw'/>"
         "<ignores driver='a' driver-version='2.0-1vmw'/>", ""},
        {"<when><esxi before='6.5u1'/></when><bad driver='a'/>", "<matches esxi='6.5' driver='a'/><ignores esxi='6.5' driver='b'/><ignores esxi='6.7' driver='a'/>",
         "esxi before=\"6.5u1\" taking in the value itself|"},
        {"<when><esxi before='6.5u1'/></when><bad driver='a'/>", "<matches esxi='6.5' driver='a'/><ignores esxi='6.5' driver='b'/><ignores esxi='6.5u1' driver='a'/>", ""},
        {"<when><esxi from='6.5'/></when><bad driver='a'/>", "<matches esxi='6.5' driver='a'/><ignores esxi='6.5' driver='b'/>", "esxi from=\"6.5\" left out|"},
        {"<bad ports-above='2'/>", "<matches ports='3'/><ignores ports='0'/>", "adapter ports-above=\"2\" taking in the value itself|"},
        {"<bad ports-above='2'/>", "<matches ports='3'/><ignores ports='2'/>", ""},
        {"<bad ports-below='2'/>", "<matches ports='1'/><ignores ports='2'/>", ""},
        /* quantifiers */
        {"<bad driver='a'><none><vib name='v'/></none></bad>", "<matches driver='a'/><ignores driver='b'/>", "none vib left out|"},
        {"<bad driver='a'><none><vib name='v'/></none></bad>", "<matches driver='a'/><ignores driver='b'/><ignores><adapter driver='a'/><vib name='v'/></ignores>", ""},
        {"<bad driver='a'><count above='1'><setting type='string'/></count></bad>",
         "<matches><adapter driver='a'/><setting path='/p' type='string'/><setting path='/q' type='string'/></matches><ignores driver='a'/>"
         "<ignores><adapter driver='b'/><setting path='/p' type='string'/><setting path='/q' type='string'/></ignores>",
         "count setting above=\"1\" taking in the value itself|"},
        /* the list of good ones: a finding notices that it has grown */
        {"<good driver='a' firmware='1 2'/>", "<matches driver='a' firmware='3'/><ignores driver='a' firmware='1'/>", "adapter driver=\"a\" left out|"},
        {"<good driver='a' firmware='1 2'/>", "<matches driver='a' firmware='3'/><matches driver='b' firmware='1'/><ignores driver='a' firmware='1'/>", ""},
        /* an upgrade */
        {"<when upgrade-to='7.0'/><bad driver='a'/>", "<matches upgrade-to='7.0' driver='a'/><ignores upgrade-to='7.0' driver='b'/>", "upgrade-to left out|"},
        {"<when upgrade-to='7.0'/><bad driver='a'/>", "<matches upgrade-to='7.0' driver='a'/><ignores upgrade-to='7.0' driver='b'/><ignores driver='a'/>", ""},
        /* evidence counts where the rule demands it */
        {"<bad driver='a'/><evidence required='yes'><log kind='rx-hang'/></evidence>",
         "<matches><adapter name='vmhba0' driver='a'/><log kind='rx-hang' adapter='vmhba0'/></matches><ignores complete='log' driver='b'/>",
         "adapter driver=\"a\" left out|evidence no longer required|log kind=\"rx-hang\" left out|"},
        {"<bad driver='a'/><evidence><log kind='rx-hang'/></evidence>", "<matches driver='a'/><ignores driver='b'/>", ""},
    };
    struct world w;

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *got;

        world_open(&w);
        got = uncaught(&w, t[i].conditions, t[i].examples, NULL);
        if (strcmp(got, t[i].uncaught) != 0)
            fail_msg("%s\n%s\n  not caught: %s\n  expected:   %s", t[i].conditions, t[i].examples, got, t[i].uncaught);
        world_close(&w);
    }
}

static void what_no_example_can_notice_is_excused_and_an_old_excuse_is_told(void **state)
{
    const char *stale;
    struct world w;

    (void)state;
    world_open(&w);
    assert_string_equal(uncaught(&w, "<bad driver='a' link-state='online'/>",
                                 "<matches driver='a' link-state='online'/><ignores driver='b' link-state='online'/>"
                                 "<uncaught what='adapter link-state=\"online\" left out' because='the driver has no other state'/>", &stale), "");
    assert_null(stale);
    assert_string_equal(uncaught(&w, "<bad driver='a'/>", "<matches driver='a'/><ignores driver='b'/>"
                                 "<uncaught what='adapter driver=\"a\" left out' because='once'/>", &stale), "");
    assert_string_equal(stale, "adapter driver=\"a\" left out");
    assert_string_equal(uncaught(&w, "<bad driver='a'/>", "<matches driver='a'/><ignores driver='b'/><uncaught what='nothing' because='never'/>", &stale), "");
    assert_string_equal(stale, "nothing");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_condition_is_weakened_and_examples_notice),
        cmocka_unit_test(what_no_example_can_notice_is_excused_and_an_old_excuse_is_told),
    };

    xml_setup();
    return cmocka_run_group_tests_name("mutate", tests, NULL, NULL);
}
