#include "world.h"

/* What the rules find on new facts. */
static struct findings findings_on(struct world *w, const char *lines)
{
    struct findings fs;

    world_facts(w, lines);
    world_match(w, &fs);
    return fs;
}

#define GRADED(id, severity, status, body)                                                                                    \
    "<rule id='" id "' subject='adapter' severity='" severity "' status='" status "' reviewed='2026-11-30'><title>t</title>" \
    body RULE_WHY RULE_EXAMPLES "</rule>"

static void a_finding_says_how_it_stands(void **state)
{
    struct world *w = *state;
    const struct finding *f;
    struct findings fs;

    world_rules(w, RULES(RULE("the-rule", "adapter", "", "<when><pci class='0106'/></when><bad driver='vmw_ahci'/>")));
    fs = findings_on(w, "adapter a|driver=vmw_ahci|pci=0000:00:01.0\nadapter b|driver=ahci|pci=0000:00:01.0\n"
                        "adapter c|driver=?|pci=0000:00:01.0\nadapter d|driver=vmw_ahci|pci=0000:00:02.0\n"
                        "pci 0000:00:01.0|class=0106\npci 0000:00:02.0|class=0107\n");
    f = world_finding(&fs, "the-rule", "a");
    assert_non_null(f);
    assert_int_equal(f->result, TRI_TRUE);
    assert_int_equal(f->severity, SEV_WARNING);
    assert_int_equal(f->evidence, EVIDENCE_NONE);
    assert_true(finding_counts(f));
    assert_true(f->ntrace > 0);
    assert_null(world_finding(&fs, "the-rule", "b"));
    f = world_finding(&fs, "the-rule", "c");
    assert_non_null(f);
    assert_int_equal(f->result, TRI_UNKNOWN);
    assert_false(finding_counts(f));
    assert_string_equal(f->why, "adapter.driver: left open");
    assert_null(world_finding(&fs, "the-rule", "d"));
    assert_int_equal(fs.n, 2);
    assert_int_equal(fs.rules, 1);
    assert_int_equal(fs.applied, 1);
    assert_int_equal(fs.ok, 0);
}

static void rules_that_apply_and_find_nothing_are_counted(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(RULE("finds", "adapter", "", "<bad driver='a'/>") RULE("content", "adapter", "", "<when><adapter driver='a'/></when>"
                                                                               "<bad ports-above='1'/>")
                              RULE("doubts", "adapter", "", "<when><adapter driver='a'/></when><bad firmware='1'/>")
                              RULE("beside", "adapter", "", "<when><esxi release='8.0'/></when><bad driver='a'/>")));
    fs = findings_on(w, "@6.5\nadapter x|driver=a|ports=1\n");
    assert_int_equal(fs.rules, 4);
    assert_int_equal(fs.applied, 3);
    assert_int_equal(fs.ok, 1);
}

#define EVIDENCE(required) "<bad driver='a'/><evidence" required "><log kind='scsi-error'/><log kind='task-abort' worst-above='20ms'/></evidence>"

static void evidence_confirms_weakens_or_stays_open(void **state)
{
    static const struct {
        const char *log;
        enum evidence evidence;
        enum severity severity;       /* of a warning */
        enum tri required;            /* result where the rule demands evidence */
        const char *minutes;          /* that the log covers; 60 */
    } t[] = {
        {"log l1|kind=scsi-error|adapter=x\n", EVIDENCE_SEEN, SEV_WARNING, TRI_TRUE, NULL},
        {"log l1|kind=task-abort|adapter=x|worst=25000\n", EVIDENCE_SEEN, SEV_WARNING, TRI_TRUE, NULL},
        {"log l1|kind=task-abort|adapter=x|worst=15000\n", EVIDENCE_NOT_SEEN, SEV_NOTE, TRI_FALSE, NULL},
        {"log l1|kind=scsi-error|adapter=y\n", EVIDENCE_NOT_SEEN, SEV_NOTE, TRI_FALSE, NULL},
        {"", EVIDENCE_NOT_SEEN, SEV_NOTE, TRI_FALSE, NULL},
        {"", EVIDENCE_UNKNOWN, SEV_WARNING, TRI_UNKNOWN, "59"}, /* an excerpt proves nothing by what is not in it */
        {"", EVIDENCE_UNKNOWN, SEV_WARNING, TRI_UNKNOWN, "?"},
        {"log l1|kind=scsi-error|adapter=x\n", EVIDENCE_SEEN, SEV_WARNING, TRI_TRUE, "0"},
        {"log l1|kind=task-abort|adapter=x|worst=?\n", EVIDENCE_UNKNOWN, SEV_WARNING, TRI_UNKNOWN, NULL},
        {"!log unknown\n", EVIDENCE_UNKNOWN, SEV_WARNING, TRI_UNKNOWN, NULL},
        {"!log partial\nlog l1|kind=unmap|adapter=x\n", EVIDENCE_UNKNOWN, SEV_WARNING, TRI_UNKNOWN, NULL},
        {"!log partial\nlog l1|kind=scsi-error|adapter=x\n", EVIDENCE_SEEN, SEV_WARNING, TRI_TRUE, NULL},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct finding *f;
        struct findings fs;

        world_rules(w, RULES(RULE("plain", "adapter", "", EVIDENCE("")) RULE("demands", "adapter", "", EVIDENCE(" required='yes'"))));
        fs = findings_on(w, arena_printf(w->a, "host|log-minutes=%s\n%sadapter x|driver=a\nadapter y|driver=b\n", t[i].minutes ? t[i].minutes : "60", t[i].log));
        f = world_finding(&fs, "plain", "x");
        assert_non_null(f);
        if (f->result != TRI_TRUE || f->evidence != t[i].evidence || f->severity != t[i].severity)
            fail_msg("%zu: evidence %d, severity %d", i, f->evidence, f->severity);
        f = world_finding(&fs, "demands", "x");
        if ((f ? f->result : TRI_FALSE) != t[i].required)
            fail_msg("%zu: result with demanded evidence", i);
        if (t[i].required == TRI_UNKNOWN)
            assert_true(f->why && strcmp(f->why, "not known") != 0);
    }
}

static void severity_drops_one_step_only(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(GRADED("grave", "critical", "stable", "<bad driver='a'/><evidence><log kind='mdd'/></evidence>")
                         GRADED("light", "note", "stable", "<bad driver='a'/><evidence><log kind='mdd'/></evidence>")));
    fs = findings_on(w, "host|log-minutes=60\nadapter x|driver=a\n");
    assert_int_equal(world_finding(&fs, "grave", "x")->severity, SEV_WARNING);
    assert_int_equal(world_finding(&fs, "light", "x")->severity, SEV_NOTE);
}

static void a_draft_is_a_note_and_a_retired_rule_is_silent(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(GRADED("draft", "critical", "draft", "<bad driver='a'/>") GRADED("retired", "critical", "retired", "<bad driver='a'/>")));
    fs = findings_on(w, "adapter x|driver=a\n");
    assert_int_equal(fs.n, 1);
    assert_int_equal(world_finding(&fs, "draft", "x")->severity, SEV_NOTE);
}

/* A list of all that is good: what is not in it is a finding, what is beyond it a note. */
static void a_good_list_closes_the_world(void **state)
{
    static const char rules[] = RULES(RULE("pairs", "adapter", "",
                                           "<when><adapter driver='lsi_mr3 megaraid_sas'/></when>"
                                           "<good driver='lsi_mr3' driver-version='7.728.02.00-1vmw*' firmware='52.21'/>"
                                           "<good driver='lsi_mr3' driver-version='7.730.01.00-1OEM*' firmware='52.30'/>"));
    static const struct {
        const char *cells;
        enum tri result;
        enum severity severity;
        bool newer;
    } t[] = {
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=52.30", TRI_FALSE, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=52.21", TRI_TRUE, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=7.700.01.00-1OEM.800|firmware=52.21", TRI_TRUE, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=7.729.01.00-1OEM.800|firmware=52.30", TRI_TRUE, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=7.731.01.00-1OEM.800|firmware=52.40", TRI_TRUE, SEV_NOTE, true},
        {"driver=lsi_mr3|driver-version=7.731.01.00-1OEM.800|firmware=?", TRI_TRUE, SEV_NOTE, true},
        {"driver=lsi_mr3|driver-version=7.731.01.00-1OEM.800|firmware=51.10", TRI_TRUE, SEV_WARNING, false}, /* never good with any driver */
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=52.31", TRI_TRUE, SEV_NOTE, true},
        {"driver=lsi_mr3|driver-version=7.728.02.00-1vmw.800|firmware=53.1", TRI_TRUE, SEV_NOTE, true},
        {"driver=lsi_mr3|driver-version=7.700.01.00-1OEM.800|firmware=52.31", TRI_TRUE, SEV_WARNING, false}, /* the driver is on no list, and old */
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=52.31.1", TRI_TRUE, SEV_WARNING, false}, /* another form is not ordered */
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=52.31b", TRI_TRUE, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=-", TRI_TRUE, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=7.730.01.00-1OEM.800|firmware=?", TRI_UNKNOWN, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=?|firmware=52.30", TRI_UNKNOWN, SEV_WARNING, false},
        {"driver=lsi_mr3|driver-version=?|firmware=51", TRI_TRUE, SEV_WARNING, false},
        {"driver=megaraid_sas|driver-version=99.0-1OEM.800|firmware=52.30", TRI_TRUE, SEV_WARNING, false}, /* another driver is not a newer one */
        {"driver=other|driver-version=1|firmware=1", TRI_FALSE, SEV_WARNING, false},
    };
    struct world *w = *state;

    world_rules(w, rules);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct findings fs = findings_on(w, arena_printf(w->a, "adapter x|%s\n", t[i].cells));
        const struct finding *f = world_finding(&fs, "pairs", "x");

        if ((f ? f->result : TRI_FALSE) != t[i].result)
            fail_msg("%s: %s", t[i].cells, f ? "found" : "not found");
        if (f && (f->severity != t[i].severity || f->newer_than_list != t[i].newer))
            fail_msg("%s: severity %d, newer %d", t[i].cells, f->severity, f->newer_than_list);
    }
}

/* Firmware of NICs is ordered as that of adapters; that of NVMe drives is text, which nobody can order. */
static void newer_needs_an_order(void **state)
{
    struct world *w = *state;
    const struct finding *f;
    struct findings fs;

    world_rules(w, RULES(RULE("nics", "nic", "", "<good driver='bnxtnet' firmware-version='216.0.146.0 218.0.152.0'/>")
                         RULE("drives", "nvme", "", "<good firmware='GDC5602Q'/>")));
    fs = findings_on(w, "nic vmnic0|driver=bnxtnet|firmware-version=219.0.1.0\nnic vmnic1|driver=bnxtnet|firmware-version=217.0.1.0\n"
                        "nvme vmhba1|firmware=GDC5702Q\n");
    f = world_finding(&fs, "nics", "vmnic0");
    assert_true(f && f->newer_than_list && f->severity == SEV_NOTE);
    f = world_finding(&fs, "nics", "vmnic1");
    assert_true(f && !f->newer_than_list && f->severity == SEV_WARNING);
    f = world_finding(&fs, "drives", "vmhba1");
    assert_true(f && !f->newer_than_list && f->severity == SEV_WARNING);
}

/* An entry of one release has its say about what is new there, too. */
static void newer_means_newer_than_every_entry(void **state)
{
    struct world *w = *state;
    const struct finding *f;
    struct findings fs;

    world_rules(w, RULES(RULE("pairs", "adapter", "", "<good driver-version='1.0-*'/><good esxi='8.0u3' driver-version='9.0-*'/>")));
    fs = findings_on(w, "@8.0u3\nadapter x|driver-version=5.0-1OEM.800\n");
    f = world_finding(&fs, "pairs", "x");
    assert_non_null(f);
    assert_false(f->newer_than_list);
    assert_int_equal(f->severity, SEV_WARNING);
    fs = findings_on(w, "@8.0u3\nadapter x|driver-version=9.1-1OEM.800\n");
    assert_true(world_finding(&fs, "pairs", "x")->newer_than_list);
}

static void a_good_entry_of_a_release_counts_there_only(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(RULE("pairs", "adapter", "", "<good esxi='8.0u3' driver-version='9.0-*'/>")));
    fs = findings_on(w, "@8.0u3\nadapter x|driver-version=9.0-1OEM.800\n");
    assert_int_equal(fs.n, 0);
    fs = findings_on(w, "@8.0u2\nadapter x|driver-version=9.0-1OEM.800\n");
    assert_int_equal(fs.n, 1);
}

static void a_rule_about_an_upgrade_waits_for_one(void **state)
{
    static const struct {
        struct release to;
        size_t n;
    } t[] = {{{.major = 0}, 0}, {{.major = 6, .minor = 7, .update = 3}, 0}, {{.major = 7, .minor = 0, .update = 0}, 1}, {{.major = 8, .minor = 0, .update = 2}, 1}};
    struct world *w = *state;

    world_rules(w, RULES(RULE("ends", "adapter", "", "<when upgrade-to='7.0'/><bad driver='a'/>")));
    world_facts(w, "adapter x|driver=a\n");
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct match_ctx m = {&w->rs, w->f, t[i].to, w->a};
        struct findings fs;

        assert_int_equal(match_run(&m, &fs, &w->e), 0);
        assert_int_equal(fs.n, t[i].n);
    }
}

static void a_rule_supersedes_another_on_the_same_row(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(RULE("general", "adapter", "", "<bad driver='a'/>")
                              RULE("special", "adapter", "supersedes='general'", "<bad driver='a' link-state='offline'/>")));
    fs = findings_on(w, "adapter x|driver=a|link-state=offline\nadapter y|driver=a|link-state=online\nadapter z|driver=a|link-state=?\n");
    assert_non_null(world_finding(&fs, "general", "x")->superseded_by);
    assert_false(finding_counts(world_finding(&fs, "general", "x")));
    assert_true(finding_counts(world_finding(&fs, "special", "x")));
    assert_null(world_finding(&fs, "general", "y")->superseded_by);
    assert_null(world_finding(&fs, "general", "z")->superseded_by); /* unknown supersedes nothing */
    assert_true(finding_counts(world_finding(&fs, "general", "z")));
}

static void a_finding_that_is_held_back_supersedes_nothing(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(RULE("general", "adapter", "", "<bad driver='a'/>")
                              RULE("special", "adapter", "supersedes='general'", "<bad driver='a' link-state='offline'/>")
                                  RULE("guard", "host", "restrains='special'", "<bad vsan='yes'/>")));
    fs = findings_on(w, "host|vsan=yes\nadapter x|driver=a|link-state=offline\n");
    assert_non_null(world_finding(&fs, "special", "x")->withheld_by);
    assert_null(world_finding(&fs, "general", "x")->superseded_by);
    assert_true(finding_counts(world_finding(&fs, "general", "x")));
    fs = findings_on(w, "host|vsan=no\nadapter x|driver=a|link-state=offline\n");
    assert_non_null(world_finding(&fs, "general", "x")->superseded_by);
}

#define GUARDED RULE("finding", "adapter", "", "<bad driver='a'/>")
#define GUARD(subject, body) RULES(GUARDED RULE("guard", subject, "restrains='finding'", body))

static void a_guard_withholds_on_its_row_on_related_rows_and_on_the_host(void **state)
{
    static const struct {
        const char *rules, *facts;
        char x, y; /* W withheld, U its fixes are taken away, C counts */
    } t[] = {
        /* the same row */
        {GUARD("adapter", "<bad link-state='offline'/>"), "adapter x|driver=a|link-state=offline\nadapter y|driver=a|link-state=online\n", 'W', 'C'},
        {GUARD("adapter", "<bad link-state='offline'/>"), "adapter x|driver=a|link-state=?\nadapter y|driver=a|link-state=online\n", 'U', 'C'},
        /* a row that the subject leads to */
        {GUARD("pci", "<bad class='0104'/>"),
         "adapter x|driver=a|pci=0000:00:01.0\nadapter y|driver=a|pci=0000:00:02.0\npci 0000:00:01.0|class=0104\npci 0000:00:02.0|class=0106\n", 'W', 'C'},
        {GUARD("pci", "<bad class='0104'/>"),
         "adapter x|driver=a|pci=0000:00:01.0\nadapter y|driver=a|pci=0000:00:02.0\npci 0000:00:01.0|class=?\npci 0000:00:02.0|class=0106\n", 'U', 'C'},
        /* which row it leads to is not known: the guard may concern it */
        {GUARD("pci", "<bad class='0104'/>"),
         "adapter x|driver=a|pci=?\nadapter y|driver=a|pci=0000:00:02.0\npci 0000:00:01.0|class=0104\npci 0000:00:02.0|class=0106\n", 'U', 'C'},
        /* several rows */
        {GUARD("device", "<bad model='RAID'/>"),
         "adapter x|driver=a|devices=naa.1,naa.2\nadapter y|driver=a|devices=naa.1\ndevice naa.1|model=Disk\ndevice naa.2|model=RAID\n", 'W', 'C'},
        /* the host, and tables that are not related to the subject */
        {GUARD("host", "<bad vsan='yes'/>"), "host|vsan=yes\nadapter x|driver=a\nadapter y|driver=a\n", 'W', 'W'},
        {GUARD("host", "<bad vsan='yes'/>"), "host|vsan=?\nadapter x|driver=a\nadapter y|driver=a\n", 'U', 'U'},
        {GUARD("host", "<bad vsan='yes'/>"), "host|vsan=no\nadapter x|driver=a\nadapter y|driver=a\n", 'C', 'C'},
        {GUARD("cpu", "<bad model='45'/>"), "cpu 0|model=45\nadapter x|driver=a\nadapter y|driver=a\n", 'W', 'W'},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *keys[] = {"x", "y"}, wanted[] = {t[i].x, t[i].y};
        struct findings fs;

        world_rules(w, t[i].rules);
        fs = findings_on(w, t[i].facts);
        for (int k = 0; k < 2; k++) {
            const struct finding *f = world_finding(&fs, "finding", keys[k]);
            char got;

            assert_non_null(f);
            got = f->withheld_by ? 'W' : f->guard_unknown ? 'U' : 'C';
            if (got != wanted[k])
                fail_msg("%zu: %s is %c, not %c", i, keys[k], got, wanted[k]);
            assert_int_equal(finding_counts(f), got != 'W'); /* a guard in doubt leaves the finding */
        }
    }
}

static void findings_are_sorted_by_weight(void **state)
{
    struct world *w = *state;
    struct findings fs;

    world_rules(w, RULES(GRADED("note", "note", "stable", "<bad driver='a'/>") GRADED("grave", "critical", "stable", "<bad driver='a'/>")
                         RULE("warning", "adapter", "", "<bad driver='a'/>")));
    fs = findings_on(w, "adapter vmhba10|driver=a\nadapter vmhba2|driver=a\nadapter vmhba1|driver=?\n");
    assert_int_equal(fs.n, 9);
    for (size_t i = 1; i < fs.n; i++) {
        assert_true(fs.v[i - 1].result >= fs.v[i].result);
        if (fs.v[i - 1].result == fs.v[i].result)
            assert_true(fs.v[i - 1].severity >= fs.v[i].severity);
    }
    assert_true(slice_eqz(fs.v[0].rule->id, "grave"));
    assert_true(slice_eqz(fs.v[0].row->key, "vmhba2"));
    assert_true(slice_eqz(fs.v[1].row->key, "vmhba10"));
}

static void one_rule_on_one_row_keeps_its_trace_whatever_the_result(void **state)
{
    struct world *w = *state;
    struct finding f;
    enum tri when;

    world_rules(w, RULES(RULE("the-rule", "adapter", "", "<when><esxi release='8.0'/></when><bad driver='a'/>")));
    world_facts(w, "@6.5\nadapter x|driver=a\n");
    match_rule(&(struct match_ctx){.rules = &w->rs, .facts = w->f, .arena = w->a}, w->rs.rules.v[0], world_find(w, "adapter", "x"), &f, &when);
    assert_int_equal(when, TRI_FALSE);
    assert_int_equal(f.result, TRI_FALSE);
    assert_true(f.ntrace > 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(a_finding_says_how_it_stands),
        T(rules_that_apply_and_find_nothing_are_counted),
        T(evidence_confirms_weakens_or_stays_open),
        T(severity_drops_one_step_only),
        T(a_draft_is_a_note_and_a_retired_rule_is_silent),
        T(a_good_list_closes_the_world),
        T(newer_means_newer_than_every_entry),
        T(newer_needs_an_order),
        T(a_good_entry_of_a_release_counts_there_only),
        T(a_rule_about_an_upgrade_waits_for_one),
        T(a_rule_supersedes_another_on_the_same_row),
        T(a_finding_that_is_held_back_supersedes_nothing),
        T(a_guard_withholds_on_its_row_on_related_rows_and_on_the_host),
        T(findings_are_sorted_by_weight),
        T(one_rule_on_one_row_keeps_its_trace_whatever_the_result),
    };

    xml_setup();
    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
