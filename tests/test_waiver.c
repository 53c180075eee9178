/* Accepted findings: what the files may say, whom a waiver fits, and what it may never hide. */
#include "core/waiver.h"
#include "world.h"

#define TODAY "2026-12-01"
#define WAIVERS(text) "<waivers format='1'>\n" text "\n</waivers>\n"
#define WAIVER(more, until) "<waiver rule='the-rule' owner='Ops' until='" until "' " more "><reason>window in March</reason></waiver>"

static int load(struct world *w, struct waivers *ws, const char *xml)
{
    waivers_init(ws, SLICE_LIT(TODAY), w->a);
    w->e = (struct err){0};
    return waivers_load(ws, slice_of(xml), "w.xml", &w->e);
}

/* --- dates --- */

static void days_are_those_of_the_calendar(void **state)
{
    static const struct {
        const char *date;
        int64_t days; /* date -u -d DATE +%s, by 86400 */
    } t[] = {{"1970-01-01", 0},     {"1969-12-31", -1},    {"2000-02-29", 11016}, {"2000-03-01", 11017},  {"2026-12-01", 20788},
             {"2028-02-29", 21243}, {"2100-02-28", 47540}, {"2100-03-01", 47541}, {"9999-12-31", 2932896}};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(date_days(slice_of(t[i].date)), t[i].days);
        assert_string_equal(date_of_days(t[i].days, w->a).p, t[i].date);
    }
}

/* --- files --- */

static void a_file_says_all_of_it(void **state)
{
    struct world *w = *state;
    struct waivers ws;

    assert_int_equal(load(w, &ws, "<?xml version='1.0'?>\n<waivers format='1'>\n<!-- why -->\n"
                                  "<waiver rule='a-rule' host='esx*' subject='vmhba0' owner=' Storage  team ' until='2027-03-31'>\n"
                                  "<reason>\n  more than\n  one line </reason></waiver>\n"
                                  "<waiver rule='b-rule' host='*' severity='note' owner='x' until='2026-11-30'><reason>r</reason></waiver></waivers>"), 0);
    assert_int_equal(ws.n, 2);
    assert_true(slice_eqz(ws.v[0].rule, "a-rule") && slice_eqz(ws.v[0].host, "esx*") && slice_eqz(ws.v[0].subject, "vmhba0"));
    assert_true(slice_eqz(ws.v[0].owner, "Storage  team") && slice_eqz(ws.v[0].until, "2027-03-31") && slice_eqz(ws.v[0].reason, "more than one line"));
    assert_int_equal(ws.v[0].severity, -1);
    assert_int_equal(ws.v[0].days, 120);
    assert_int_equal(ws.v[0].line, 4);
    assert_string_equal(ws.v[0].file, "w.xml");
    assert_true(slice_eqz(ws.v[1].subject, "*"));
    assert_int_equal(ws.v[1].severity, SEV_NOTE);
    assert_int_equal(ws.v[1].days, -1);
    assert_int_equal(load(w, &ws, "<waivers format='1'/>"), 0);
    assert_int_equal(ws.n, 0);
}

static void mistakes_are_told_in_plain_words(void **state)
{
    static const struct {
        const char *xml, *says;
    } t[] = {
        {"<rules format='1'/>", "w.xml:1:1: a file of waivers begins with <waivers format=\"1\">, not <rules>"},
        {"<waivers format='2'/>", "begins with <waivers format=\"1\">"},
        {"<waivers format='1' to='x'/>", "unknown attribute \"to\" of waivers"},
        {WAIVERS("text"), "text between waivers"},
        {WAIVERS("<wavier/>"), "w.xml:2:1: unknown element \"wavier\"; did you mean \"waiver\"?"},
        {WAIVERS("<waiver host='*' owner='o' until='2027-01-01'/>"), "w.xml:2:1: a waiver wants rule=\"...\""},
        {WAIVERS("<waiver rule='r-1' owner='o' until='2027-01-01'/>"), "a waiver wants host=\"...\""},
        {WAIVERS("<waiver rule='r-1' host='*' until='2027-01-01'/>"), "a waiver wants owner=\"...\", who answers for it"},
        {WAIVERS("<waiver rule='r-1' host='*' owner=' ' until='2027-01-01'/>"), "a waiver wants owner=\"...\""},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o'/>"), "a waiver wants until=\"...\", its last day"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' subject='' until='2027-01-01'/>"), "a waiver wants subject=\"...\""},
        {WAIVERS("<waiver rule='r-*' host='*' owner='o' until='2027-01-01'/>"), "rule names one rule, not a pattern such as \"r-*\""},
        {WAIVERS("<waiver rule='r-1' hosts='*' owner='o' until='2027-01-01'/>"), "unknown attribute \"hosts\" of waiver; did you mean \"host\"?"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='31.3.2027'/>"), "until wants a date such as 2027-03-31, not \"31.3.2027\""},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-02-29'/>"), "until wants a date"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='never'/>"), "until wants a date"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-12-03'><reason>r</reason></waiver>"), "until 2027-12-03 lies more than a year ahead"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' severity='critical' until='2027-01-01'/>"), "warning or note, not \"critical\""},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' severity='low' until='2027-01-01'/>"), "warning or note, not \"low\""},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-01-01'/>"), "w.xml:2: a waiver wants <reason>: why the finding is accepted"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-01-01'><reason> </reason></waiver>"), "a waiver wants <reason>"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-01-01'><why>r</why></waiver>"), "a waiver holds <reason>, not <why>"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-01-01'>known</waiver>"), "a waiver holds <reason>, not text"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-01-01'><reason>a</reason><reason>b</reason></waiver>"), "a second <reason>"},
        {WAIVERS("<waiver rule='r-1' host='*' owner='o' until='2027-01-01'><reason>a<b/></reason></waiver>"), "<b> may not stand inside <reason>"},
        {"<waivers format='1'>", "w.xml"},
        {"", "w.xml"},
        {"# no XML", "w.xml"},
        {"<!DOCTYPE waivers [<!ENTITY a 'b'>]><waivers format='1'/>", "w.xml"},
    };
    struct world *w = *state;
    struct waivers ws;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        if (load(w, &ws, t[i].xml) != VF_EFORMAT || !strstr(w->e.msg, t[i].says))
            fail_msg("%s: \"%s\", not \"%s\"", t[i].xml, w->e.msg, t[i].says);
        assert_int_equal(ws.n, 0);
    }
}

static void a_year_is_the_most(void **state)
{
    struct world *w = *state;
    struct waivers ws;

    assert_int_equal(load(w, &ws, WAIVERS(WAIVER("host='*'", "2027-12-01"))), 0);
    assert_int_equal(ws.v[0].days, 365);
    assert_int_equal(load(w, &ws, WAIVERS(WAIVER("host='*'", "2027-12-03"))), VF_EFORMAT);
    waivers_init(&ws, SLICE_LIT("2027-03-01"), w->a); /* a year with a leap day */
    assert_int_equal(waivers_load(&ws, slice_of(WAIVERS(WAIVER("host='*'", "2028-03-01"))), "w.xml", &w->e), 0);
    assert_int_equal(ws.v[0].days, 366);
}

static void nothing_of_a_broken_file_counts(void **state)
{
    struct world *w = *state;
    struct waivers ws;

    assert_int_equal(load(w, &ws, WAIVERS(WAIVER("host='a'", "2027-03-31"))), 0);
    assert_int_equal(waivers_load(&ws, slice_of(WAIVERS(WAIVER("host='b'", "2027-03-31") "<waiver/>")), "broken.xml", &w->e), VF_EFORMAT);
    assert_non_null(strstr(w->e.msg, "broken.xml:2"));
    assert_int_equal(waivers_load(&ws, slice_of(WAIVERS(WAIVER("host='c'", "2027-03-31"))), "c.xml", &w->e), 0);
    assert_int_equal(ws.n, 2);
    assert_true(slice_eqz(ws.v[0].host, "a") && slice_eqz(ws.v[1].host, "c"));
}

static void texts_have_an_end(void **state)
{
    struct world *w = *state;
    struct waivers ws;
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);

    buf_addz(&b, "<waivers format='1'><waiver rule='r-1' host='*' owner='o' until='2027-01-01'><reason>");
    for (int i = 0; i < 20000; i++)
        buf_addc(&b, 'x');
    buf_addz(&b, "</reason></waiver></waivers>");
    assert_int_equal(load(w, &ws, buf_z(&b)), VF_EFORMAT);
    assert_non_null(strstr(w->e.msg, "the reason is longer than 2000 bytes"));
    buf_reset(&b);
    buf_addz(&b, "<waivers format='1'><waiver rule='r-1' host='*' until='2027-01-01' owner='");
    for (int i = 0; i < 501; i++)
        buf_addc(&b, 'x');
    buf_addz(&b, "'><reason>r</reason></waiver></waivers>");
    assert_int_equal(load(w, &ws, buf_z(&b)), VF_EFORMAT);
    assert_non_null(strstr(w->e.msg, "owner is longer than 500 bytes"));
}

static void without_room_nothing_is_added(void **state)
{
    struct world *w = *state;

    for (size_t n = 1; n < 60; n++) {
        struct arena *a = arena_new(1u << 20);
        struct waivers ws;

        arena_fail_at(a, n);
        waivers_init(&ws, SLICE_LIT(TODAY), a);
        if (waivers_load(&ws, slice_of(WAIVERS(WAIVER("host='*'", "2027-03-31") WAIVER("host='b'", "2027-03-31"))), "w.xml", &w->e) < 0) {
            assert_int_equal(w->e.code, VF_ELIMIT);
            assert_int_equal(ws.n, 0);
        } else {
            assert_int_equal(ws.n, 2);
        }
        arena_free(a);
    }
}

/* --- whom it fits --- */

/* The finding of the-rule on row x after the waivers; the host is host.name, the target "label". */
static const struct finding *after(struct world *w, struct waivers *ws, const char *name, const char *label, const char *xml)
{
    static struct findings fs;
    const struct finding *f;

    world_rules(w, RULES(RULE("the-rule", "adapter", "", "<bad driver='a'/>")));
    world_facts(w, "@6.5\nadapter x|driver=a\nadapter y|driver=a\nadapter z|driver=?\n");
    if (name)
        world_add(w, arena_printf(w->a, "host|name=%s\n", name));
    world_match(w, &fs);
    if (load(w, ws, xml) < 0)
        fail_msg("%s: %s", xml, w->e.msg);
    waivers_apply(ws, w->f, label, &fs);
    f = world_finding(&fs, "the-rule", "z");
    assert_int_equal(f->result, TRI_UNKNOWN); /* unsure is never waived */
    assert_null(f->waiver);
    f = world_finding(&fs, "the-rule", "x");
    assert_non_null(f);
    return f;
}

static void hosts_go_by_name_short_name_and_label(void **state)
{
    static const struct {
        const char *pattern, *name, *label;
        bool fits;
    } t[] = {
        {"esx01.example.com", "esx01.example.com", "saved", true},
        {"ESX01.Example.com", "esx01.example.com", "saved", true},
        {"esx01", "esx01.example.com", "saved", true},
        {"esx*", "esx01.example.com", "saved", true},
        {"esx0?", "esx01.example.com", "saved", true},
        {"*.example.com", "esx01.example.com", "saved", true},
        {"saved", "esx01.example.com", "saved", true},
        {"*", NULL, "saved", true},
        {"saved", NULL, "saved", true},
        {"esx02", "esx01.example.com", "saved", false},
        {"esx0", "esx01.example.com", "saved", false},
        {"example.com", "esx01.example.com", "saved", false},
        {"*.example.com", "esx01", "saved", false},
        {"esx01", NULL, "saved", false},
        {"esx01", "?", "saved", false},
        {"esx*", "-", "saved", false},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct waivers ws;
        const struct finding *f = after(w, &ws, t[i].name, t[i].label,
                                        arena_printf(w->a, WAIVERS("<waiver rule='the-rule' host='%s' owner='o' until='2027-01-01'><reason>r</reason></waiver>"),
                                                     t[i].pattern));

        if ((f->effect == WAIVER_HIDDEN) != t[i].fits || finding_counts(f) == t[i].fits || (ws.v[0].fitted > 0) != t[i].fits)
            fail_msg("%s on %s, %s", t[i].pattern, t[i].name ? t[i].name : "no name", t[i].label);
    }
}

static void subjects_and_rules_are_compared_as_written(void **state)
{
    static const struct {
        const char *xml;
        bool fits;
    } t[] = {
        {WAIVERS(WAIVER("host='*'", "2027-03-31")), true},
        {WAIVERS(WAIVER("host='*' subject='x'", "2027-03-31")), true},
        {WAIVERS(WAIVER("host='*' subject='*'", "2027-03-31")), true},
        {WAIVERS(WAIVER("host='*' subject='X'", "2027-03-31")), false},
        {WAIVERS(WAIVER("host='*' subject='y'", "2027-03-31")), false},
        {WAIVERS("<waiver rule='the-rul' host='*' owner='o' until='2027-03-31'><reason>r</reason></waiver>"), false},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct waivers ws;

        assert_int_equal(after(w, &ws, "h", "l", t[i].xml)->effect == WAIVER_HIDDEN, t[i].fits);
    }
}

static void the_last_day_counts_and_the_day_behind_does_not(void **state)
{
    struct world *w = *state;
    struct waivers ws;
    const struct finding *f = after(w, &ws, "h", "l", WAIVERS(WAIVER("host='*'", TODAY)));

    assert_int_equal(f->effect, WAIVER_HIDDEN);
    assert_int_equal(f->waiver->days, 0);
    f = after(w, &ws, "h", "l", WAIVERS(WAIVER("host='*'", "2026-11-30")));
    assert_int_equal(f->effect, WAIVER_EXPIRED);
    assert_int_equal(f->severity, SEV_WARNING);
    assert_true(finding_counts(f));
    assert_int_equal(ws.v[0].fitted, 2);
}

static void of_several_the_one_that_ends_last_counts(void **state)
{
    struct world *w = *state;
    struct waivers ws;
    const struct finding *f = after(w, &ws, "h", "l",
                                    WAIVERS(WAIVER("host='*'", "2026-11-30") WAIVER("host='*'", "2027-03-31") WAIVER("host='h'", "2027-01-31")));

    assert_int_equal(f->effect, WAIVER_HIDDEN);
    assert_true(slice_eqz(f->waiver->until, "2027-03-31"));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ws.v[i].fitted, 2); /* none of them is stale */
}

/* --- what it may do --- */

static void severity_decides_what_a_waiver_does(void **state)
{
    static const struct {
        const char *severity, *waiver; /* of the rule; that the waiver lowers to, or NULL */
        enum waiver_effect effect;
        enum severity result;
        bool counts;
    } t[] = {
        {"note", NULL, WAIVER_HIDDEN, SEV_NOTE, false},
        {"warning", NULL, WAIVER_HIDDEN, SEV_WARNING, false},
        {"critical", NULL, WAIVER_ACCEPTED, SEV_CRITICAL, true},
        {"critical", "warning", WAIVER_LOWERED, SEV_WARNING, true},
        {"critical", "note", WAIVER_LOWERED, SEV_NOTE, true},
        {"warning", "note", WAIVER_LOWERED, SEV_NOTE, true},
        {"warning", "warning", WAIVER_ACCEPTED, SEV_WARNING, true},
        {"note", "warning", WAIVER_ACCEPTED, SEV_NOTE, true}, /* nothing is made worse */
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct finding *f;
        struct findings fs;
        struct waivers ws;

        world_rules(w, arena_printf(w->a, RULES("<rule id='the-rule' subject='adapter' severity='%s' status='stable' reviewed='2026-11-30'><title>t</title>"
                                                "<bad driver='a'/>" RULE_WHY RULE_EXAMPLES "</rule>"), t[i].severity));
        world_facts(w, "@6.5\nadapter x|driver=a\n");
        world_match(w, &fs);
        assert_int_equal(load(w, &ws, arena_printf(w->a, WAIVERS("<waiver rule='the-rule' host='*' owner='o' until='2027-01-01' %s%s%s><reason>r</reason></waiver>"),
                                                   t[i].waiver ? "severity='" : "", t[i].waiver ? t[i].waiver : "", t[i].waiver ? "'" : "")), 0);
        waivers_apply(&ws, w->f, "l", &fs);
        f = world_finding(&fs, "the-rule", "x");
        if (f->effect != t[i].effect || f->severity != t[i].result || finding_counts(f) != t[i].counts)
            fail_msg("%s, lowered to %s: effect %d, severity %s", t[i].severity, t[i].waiver ? t[i].waiver : "nothing", (int)f->effect, severity_name(f->severity));
        assert_string_equal(severity_name(f->unwaived), t[i].severity);
    }
}

static void what_is_lowered_takes_its_place_in_the_order(void **state)
{
    struct world *w = *state;
    struct findings fs;
    struct waivers ws;

    world_rules(w, RULES(RULE("the-rule", "adapter", "", "<bad driver='a'/>") RULE("z-other", "adapter", "", "<bad driver='a'/>")));
    world_facts(w, "@6.5\nadapter x|driver=a\n");
    world_match(w, &fs);
    assert_true(slice_eqz(fs.v[0].rule->id, "the-rule"));
    assert_int_equal(load(w, &ws, WAIVERS(WAIVER("host='*' severity='note'", "2027-03-31"))), 0);
    waivers_apply(&ws, w->f, "l", &fs);
    assert_true(slice_eqz(fs.v[0].rule->id, "z-other"));
    assert_true(slice_eqz(fs.v[1].rule->id, "the-rule"));
}

/* The guard goes on withholding, and is itself neither hidden nor lowered; what it withholds is not touched. */
static void a_guard_is_never_hidden(void **state)
{
    static const char *const waivers[] = {WAIVERS("<waiver rule='guard' host='*' owner='o' until='2027-01-01'><reason>r</reason></waiver>"),
                                          WAIVERS("<waiver rule='guard' host='*' severity='note' owner='o' until='2027-01-01'><reason>r</reason></waiver>")};
    struct world *w = *state;

    for (size_t i = 0; i < 2; i++) {
        const struct finding *f;
        struct findings fs;
        struct waivers ws;

        world_rules(w, RULES(RULE("the-rule", "adapter", "", "<bad driver='a'/>") RULE("guard", "adapter", "restrains='the-rule'", "<bad driver='a'/>")));
        world_facts(w, "@6.5\nadapter x|driver=a\n");
        world_match(w, &fs);
        assert_int_equal(load(w, &ws, waivers[i]), 0);
        waivers_apply(&ws, w->f, "l", &fs);
        f = world_finding(&fs, "guard", "x");
        assert_int_equal(f->effect, WAIVER_ACCEPTED);
        assert_int_equal(f->severity, SEV_WARNING);
        assert_true(finding_counts(f));
        f = world_finding(&fs, "the-rule", "x");
        assert_non_null(f->withheld_by);
        assert_null(f->waiver);
    }
}

static void a_rule_that_is_gone_or_retired_is_known_to_be(void **state)
{
    struct world *w = *state;
    struct waivers ws;

    world_rules(w, RULES(RULE("other", "adapter", "", "<bad driver='a'/>")
                         "<rule id='the-rule' subject='adapter' severity='note' status='retired' reviewed='2026-11-30'><title>t</title>"
                         "<bad driver='a'/>" RULE_WHY RULE_EXAMPLES "</rule>"));
    assert_int_equal(load(w, &ws, WAIVERS(WAIVER("host='*'", "2027-03-31") "<waiver rule='nowhere' host='*' owner='o' until='2027-01-01'><reason>r</reason></waiver>"
                                          "<waiver rule='other' host='*' owner='o' until='2027-01-01'><reason>r</reason></waiver>")), 0);
    assert_false(waiver_known(&ws.v[0], &w->rs.rules));
    assert_false(waiver_known(&ws.v[1], &w->rs.rules));
    assert_true(waiver_known(&ws.v[2], &w->rs.rules));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(days_are_those_of_the_calendar),
        T(a_file_says_all_of_it),
        T(mistakes_are_told_in_plain_words),
        T(a_year_is_the_most),
        T(nothing_of_a_broken_file_counts),
        T(texts_have_an_end),
        T(without_room_nothing_is_added),
        T(hosts_go_by_name_short_name_and_label),
        T(subjects_and_rules_are_compared_as_written),
        T(the_last_day_counts_and_the_day_behind_does_not),
        T(of_several_the_one_that_ends_last_counts),
        T(severity_decides_what_a_waiver_does),
        T(what_is_lowered_takes_its_place_in_the_order),
        T(a_guard_is_never_hidden),
        T(a_rule_that_is_gone_or_retired_is_known_to_be),
    };

    xml_setup();
    return cmocka_run_group_tests_name("waiver", tests, NULL, NULL);
}
