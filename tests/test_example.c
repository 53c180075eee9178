#include "world.h"

#include "core/example.h"
#include "core/lint.h"

/* Examples run as their rule's own tests, and lint says what is well-formed but cannot be meant. */

#define ONE(subject, body, examples)                                                                                                       \
    "<rules format='1'><rule id='the-rule' subject='" subject "' severity='note' status='stable' reviewed='2026-11-30'><title>t</title>" body \
    RULE_WHY examples "</rule></rules>"

/* The first example of a rule: true, false or unknown. */
static char result(struct world *w, const char *xml)
{
    struct example_result r;

    world_rules(w, xml);
    if (example_run(&w->rs, w->rs.rules.v[0], &w->rs.rules.v[0]->examples[0], w->a, &r, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    assert_non_null(r.decided);
    assert_int_equal(r.passed, r.got == TRI_TRUE); /* the first one is a matches */
    return r.got == TRI_TRUE ? 'T' : r.got == TRI_FALSE ? 'F' : 'U';
}

#define ADAPTER_RULE "<when><esxi from='6.5' before='6.5u1'/><pci class='010601' id='8086:8d62'/></when><bad driver='vmw_ahci'/>"

static void flat_attributes_reach_the_subject_and_its_related_rows(void **state)
{
    static const struct {
        const char *xml;
        char wanted;
    } t[] = {
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d62:15d9:0832' class='010601' driver='vmw_ahci'/><ignores/>"), 'T'},
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5u1' pci='8086:8d62' class='010601' driver='vmw_ahci'/><ignores/>"), 'F'},
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d02' class='010601' driver='vmw_ahci'/><ignores/>"), 'F'},
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d62' class='0106' driver='vmw_ahci'/><ignores/>"), 'U'}, /* no interface */
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d62' class='010600' driver='vmw_ahci'/><ignores/>"), 'F'},
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d62' class='010601' driver='?'/><ignores/>"), 'U'},
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d62' class='010601' driver='-'/><ignores/>"), 'F'},
        {ONE("adapter", ADAPTER_RULE, "<matches esxi='6.5' pci='8086:8d62' class='010601'/><ignores/>"), 'U'}, /* not said is not known */
        {ONE("adapter", ADAPTER_RULE, "<matches pci='8086:8d62' class='010601' driver='vmw_ahci'/><ignores/>"), 'U'},
        {ONE("pci", "<bad id='8086:8d62'/>", "<matches pci='8086:8d62:15d9:0832'/><ignores/>"), 'T'},
        {ONE("device", "<when><adapter driver='vmw_ahci ahci'/></when><bad queue-depth='31'/>", "<matches driver='ahci' queue-depth='31'/><ignores/>"), 'T'},
        {ONE("device", "<when><adapter driver='vmw_ahci ahci'/></when><bad queue-depth='31'/>", "<matches driver='lsi' queue-depth='31'/><ignores/>"), 'F'},
        {ONE("adapter", "<when upgrade-to='7.0'/><bad driver='x'/>", "<matches upgrade-to='8.0' driver='x'/><ignores/>"), 'T'},
        {ONE("adapter", "<when upgrade-to='7.0'/><bad driver='x'/>", "<matches driver='x'/><ignores/>"), 'F'},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char got = result(*state, t[i].xml);

        if (got != t[i].wanted)
            fail_msg("%s: %c", t[i].xml, got);
    }
}

static void tables_are_complete_unless_the_example_says_otherwise(void **state)
{
#define VIB "<bad driver='x'><none><vib name='a'/></none></bad>"
#define LOG "<bad link-state='online'><none><log kind='mdd'/></none></bad>"
    static const struct {
        const char *xml;
        char wanted;
    } t[] = {
        {ONE("adapter", VIB, "<matches driver='x'/><ignores/>"), 'T'},
        {ONE("adapter", VIB, "<matches driver='x' partial='vib'/><ignores/>"), 'U'},
        {ONE("adapter", VIB, "<matches driver='x' partial='module pci'/><ignores/>"), 'T'},
        {ONE("adapter", VIB, "<matches driver='x'><vib name='a'/></matches><ignores/>"), 'F'},
        {ONE("adapter", VIB, "<matches driver='x' partial='vib'><vib name='a'/></matches><ignores/>"), 'F'},
        {ONE("adapter", LOG, "<matches link-state='online'/><ignores/>"), 'U'}, /* logs are not collected unless it says so */
        {ONE("adapter", LOG, "<matches link-state='online' complete='log'/><ignores/>"), 'T'},
        {ONE("adapter", LOG, "<matches link-state='online' partial='log'/><ignores/>"), 'U'},
        {ONE("adapter", LOG, "<matches link-state='online'><log kind='unmap'/></matches><ignores/>"), 'T'},
        {ONE("adapter", LOG, "<matches link-state='online'><log kind='mdd'/></matches><ignores/>"), 'F'},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char got = result(*state, t[i].xml);

        if (got != t[i].wanted)
            fail_msg("%s: %c", t[i].xml, got);
    }
}

static void rows_as_elements_are_linked_by_their_nesting(void **state)
{
#define MTU "<when><some><vmknic enabled='yes'/></some></when><bad><none><same of='mtu'><vmknic enabled='yes'/></same></none></bad>"
    static const struct {
        const char *xml;
        char wanted;
    } t[] = {
        {ONE("vswitch", MTU, "<matches><vswitch name='vSwitch1'><vmknic name='vmk1' mtu='9000' enabled='yes'/><vmknic name='vmk2' mtu='1500' enabled='yes'/>"
                             "</vswitch></matches><ignores/>"), 'T'},
        {ONE("vswitch", MTU, "<matches><vswitch name='vSwitch1'><vmknic name='vmk1' mtu='9000' enabled='yes'/><vmknic name='vmk2' mtu='1500' enabled='no'/>"
                             "</vswitch></matches><ignores/>"), 'F'},
        {ONE("vswitch", MTU, "<matches><vswitch name='vSwitch1'><vmknic name='vmk1' mtu='9000' enabled='yes'/><vmknic name='vmk2' mtu='?' enabled='yes'/>"
                             "</vswitch></matches><ignores/>"), 'U'},
        {ONE("device", "<bad><count below='2'><path state='active'/></count></bad>",
             "<matches><device id='naa.1'><path state='active'/><path state='dead'/></device></matches><ignores/>"), 'T'},
        {ONE("device", "<bad><count below='2'><path state='active'/></count></bad>",
             "<matches><device id='naa.1'><path state='active'/><path state='active'/></device></matches><ignores/>"), 'F'},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char got = result(*state, t[i].xml);

        if (got != t[i].wanted)
            fail_msg("%s: %c", t[i].xml, got);
    }
}

static void each_kind_of_example_passes_by_its_own_result(void **state)
{
    struct world *w = *state;

    world_rules(w, ONE("adapter", "<bad driver='x'/>", "<matches driver='x'/><ignores driver='y'/><unsure driver='?'/>"
                                                       "<matches driver='y'/><ignores driver='?'/><unsure driver='x'/>"));
    for (unsigned i = 0; i < 6; i++) {
        struct example_result r;

        assert_int_equal(example_run(&w->rs, w->rs.rules.v[0], &w->rs.rules.v[0]->examples[i], w->a, &r, &w->e), 0);
        assert_int_equal(r.passed, i < 3);
    }
    assert_string_equal(example_kind_name(EXAMPLE_UNSURE), "unsure");
}

static void an_example_that_names_what_does_not_exist_is_an_error(void **state)
{
    static const struct {
        const char *xml, *says;
    } t[] = {
        {ONE("adapter", "<bad driver='x'/>", "<matches drivr='x'/><ignores/>"), "did you mean \"driver\""},
        {ONE("adapter", "<bad driver='x'/>", "<matches><adapter drivr='x'/></matches><ignores/>"), "did you mean \"driver\""},
        {ONE("adapter", "<bad driver='x'/>", "<matches esxi='six'/><ignores/>"), "a release is written"},
        {ONE("adapter", "<bad driver='x'/>", "<matches upgrade-to='six'/><ignores/>"), "a release is written"},
        {ONE("adapter", "<bad driver='x'/>", "<matches queue-depth='31'/><ignores/>"), "no column here"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct example_result r;
        struct err e = {0};

        world_rules(w, t[i].xml);
        if (example_run(&w->rs, w->rs.rules.v[0], &w->rs.rules.v[0]->examples[0], w->a, &r, &e) != VF_EFORMAT)
            fail_msg("accepted: %s", t[i].xml);
        if (!strstr(e.msg, t[i].says) || !strstr(e.msg, "test.xml"))
            fail_msg("%s: %s", t[i].xml, e.msg);
    }
}

/* --- lint --- */

static bool filled(void *ctx, unsigned table, unsigned column, const struct release *from, const struct release *before)
{
    const struct world *w = ctx;
    const struct release first = {.major = 7, .update = -1}; /* that prints the speed */

    (void)from;
    if (table == world_table(w, "adapter") && column == world_column(w, "adapter", "speed") && before->major && release_named_order(before, &first) <= 0)
        return false;
    return !(table == world_table(w, "adapter") && column == world_column(w, "adapter", "option-rom"));
}

static void lint_all(struct world *w, struct lint *l, const char *xml, const char *today)
{
    world_rules(w, xml);
    *l = (struct lint){.rules = &w->rs, .arena = w->a, .today = slice_of(today), .filled = filled, .ctx = w};
    for (size_t i = 0; i < w->rs.rules.n; i++)
        lint_rule(l, w->rs.rules.v[i]);
    lint_pairs(l);
}

#define DEFAULT "<matches driver='x'/><ignores driver='y'/>"
#define ONE_FIX(fix)                                                                                                                     \
    "<rules format='1'><rule id='the-rule' subject='adapter' severity='note' status='stable' reviewed='2026-11-30'><title>t</title>"      \
    "<bad driver='x'/>" RULE_WHY fix DEFAULT "</rule></rules>"

static void lint_finds_what_cannot_be_meant(void **state)
{
    static const struct {
        const char *xml, *says; /* NULL: nothing to say */
        bool error;
    } t[] = {
        {ONE("adapter", "<bad driver='x'/>", DEFAULT), NULL, false},
        {ONE("adapter", "<when><esxi from='6.5' before='6.5u1'/></when><bad driver='x'/>", DEFAULT), NULL, false},
        {ONE("adapter", "<when><esxi from='6.7' before='6.5'/></when><bad driver='x'/>", DEFAULT), "the range is empty", true},
        {ONE("adapter", "<when><esxi from='6.5' before='6.5'/></when><bad driver='x'/>", DEFAULT), "the range is empty", true},
        {ONE("adapter", "<bad driver-version-from='1.10-1vmw.1' driver-version-before='1.9-1vmw.1'/>", DEFAULT), "the range is empty", true},
        {ONE("adapter", "<bad><none><vib version-from='2' version-before='1'/></none></bad>", DEFAULT), "the range is empty", true},
        {ONE("device", "<bad queue-depth-above='31' queue-depth-below='32'/>", "<matches queue-depth='31'/><ignores/>"), "no number is above 31", true},
        {ONE("device", "<bad queue-depth-above='30' queue-depth-below='32'/>", "<matches queue-depth='31'/><ignores/>"), NULL, false},
        {ONE("adapter", "<bad driver='sata-ahci'/>", DEFAULT), "is the name of a VIB", true},
        {ONE("adapter", "<bad driver='x'/><evidence><module name='scsi-hpvsa' loaded='yes'/></evidence>", DEFAULT), "is the name of a VIB", true},
        {ONE("adapter", "<bad option-rom='1'/>", DEFAULT), "no probe fills adapter.option-rom", true},
        {ONE("adapter", "<when><esxi from='6.5' before='7.0'/></when><bad speed='1'/>", DEFAULT),
         "no probe fills adapter.speed on the releases of <when>, so", true},
        {ONE("adapter", "<when><esxi release='6.7'/></when><bad speed='1'/>", DEFAULT), "no probe fills adapter.speed on the releases", true},
        {ONE("adapter", "<when><esxi from='6.5' before='7.0u1'/></when><bad speed='1'/>", DEFAULT), NULL, false},
        {ONE("adapter", "<when><esxi from='6.5'/></when><bad speed='1'/>", DEFAULT), NULL, false},
        {ONE("adapter", "<bad boots='yes'/>", DEFAULT), NULL, false}, /* derived */
        {ONE_FIX("<fix id='f' risk='none'><module-enable name='x'/></fix>"), "is at least", true},
        {ONE_FIX("<fix id='f' risk='live'><module-enable name='x'/></fix>"), "is at least", true},
        {ONE_FIX("<fix id='f' risk='reboot'><module-enable name='x'/></fix>"), NULL, false},
        {ONE_FIX("<fix id='f' risk='boot'><module-disable name='x'/></fix>"), "without <then>", true},
        {ONE_FIX("<fix id='f' risk='boot'><module-disable name='x'/><then driver='y'/></fix>"), NULL, false},
        {ONE_FIX("<fix id='f' risk='boot'><module-disable name='x'/><module-enable name='x'/><then driver='y'/></fix>"), "both enables and disables x", true},
        {ONE_FIX("<fix id='f' risk='boot'><module-disable name='x'/><then driver='x'/></fix>"), "which <then> wants", true},
        {ONE_FIX("<fix id='f' risk='boot'><module-enable name='sata-ahci'/></fix>"), "looks like a VIB", true},
        {ONE_FIX("<fix id='f' risk='none'><advise>a</advise></fix><fix id='f' risk='none'><advise>b</advise></fix>"), "two fixes have the id", true},
        {ONE_FIX("<fix id='f' risk='none'><require><module name='net-tg3'/></require><advise>a</advise></fix>"), "is the name of a VIB", true},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct lint l;

        lint_all(*state, &l, t[i].xml, "2026-12-01");
        while (l.n && strstr(l.v[0].text, "this example says")) { /* the examples are not about these conditions */
            l.v++;
            l.n--;
        }
        if ((l.n > 0) != (t[i].says != NULL))
            fail_msg("%s: %s", t[i].xml, l.n ? l.v[0].text : "nothing found");
        if (t[i].says && (!strstr(l.v[0].text, t[i].says) || l.v[0].error != t[i].error || !l.v[0].file || !l.v[0].place.line))
            fail_msg("%s: %s", t[i].xml, l.v[0].text);
    }
}

static void reviews_grow_old_and_lie_in_no_future(void **state)
{
    static const char good[] = ONE("adapter", "<good driver='x'/>", "<matches driver='y'/><ignores driver='x'/>");
    struct lint l;

    lint_all(*state, &l, good, "2027-05-01"); /* 152 days */
    assert_int_equal(l.n, 0);
    lint_all(*state, &l, good, "2027-07-01"); /* 213 days */
    assert_int_equal(l.n, 1);
    assert_false(l.v[0].error);
    assert_non_null(strstr(l.v[0].text, "180 days"));
    lint_all(*state, &l, ONE("adapter", "<bad driver='x'/>", DEFAULT), "2028-07-01"); /* a known fault ages slowly: two years */
    assert_int_equal(l.n, 0);
    lint_all(*state, &l, ONE("adapter", "<bad driver='x'/>", DEFAULT), "2026-11-29");
    assert_int_equal(l.n, 1);
    assert_true(l.v[0].error);
    lint_all(*state, &l, good, ""); /* without a date nothing is said of dates */
    assert_int_equal(l.n, 0);
}

static void two_rules_of_a_topic_with_fixes_need_a_decision(void **state)
{
#define TOPIC(id, more, fix) \
    "<rule id='" id "' subject='adapter' topic='t' severity='note' status='stable' reviewed='2026-11-30' " more "><title>t</title><bad driver='x'/>" \
    RULE_WHY fix DEFAULT "</rule>"
#define WAIT "<fix id='f' risk='none'><advise>a</advise></fix>"
    static const struct {
        const char *xml;
        bool found;
    } t[] = {
        {RULES(TOPIC("one", "", WAIT) TOPIC("two", "", WAIT)), true},
        {RULES(TOPIC("one", "", WAIT) TOPIC("two", "supersedes='one'", WAIT)), false},
        {RULES(TOPIC("one", "restrains='two'", WAIT) TOPIC("two", "", WAIT)), false},
        {RULES(TOPIC("one", "", WAIT) TOPIC("two", "", "")), false}, /* only one brings a fix */
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct lint l;

        lint_all(*state, &l, t[i].xml, "2026-12-01");
        if ((l.n > 0) != t[i].found)
            fail_msg("%zu: %s", i, l.n ? l.v[0].text : "nothing found");
        if (t[i].found)
            assert_non_null(strstr(l.v[0].text, "supersede or restrain"));
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(flat_attributes_reach_the_subject_and_its_related_rows),
        T(tables_are_complete_unless_the_example_says_otherwise),
        T(rows_as_elements_are_linked_by_their_nesting),
        T(each_kind_of_example_passes_by_its_own_result),
        T(an_example_that_names_what_does_not_exist_is_an_error),
        T(lint_finds_what_cannot_be_meant),
        T(reviews_grow_old_and_lie_in_no_future),
        T(two_rules_of_a_topic_with_fixes_need_a_decision),
    };

    xml_setup();
    return cmocka_run_group_tests_name("example", tests, NULL, NULL);
}
