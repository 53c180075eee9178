#include "world.h"

/* The index must never lose a rule: whatever a brute-force evaluation finds true or unknown is among the candidates. */

#define RULES_N 300
#define WORLDS  40

struct dice {
    uint64_t seed;
    struct buf *out;
};

static unsigned roll(struct dice *d, unsigned n)
{
    return world_random(&d->seed) % n;
}

static const char *pick(struct dice *d, const char *const *words)
{
    unsigned n = 0;

    while (words[n])
        n++;
    return words[roll(d, n)];
}

static const char *const drivers[] = {"ahci", "vmw_ahci", "lsi_mr3", "nvme", "megaraid_sas", "i40en", "bnxtnet", NULL};
static const char *const ids[] = {"8086:8c02:15d9:086d", "8086:8c02", "8086:9d03:1028:0001", "1000:005d:1028:1f49", "1000:005d:1028:1f47",
                                  "1000:10e2", "14e4:16d7:14e4:1402", NULL};
static const char *const id_tests[] = {"8086:8c02", "8086:8c02:15d9:086d", "1000:005d:1028:1f49 1000:005d:1028:1f47", "1000:005d", "8086:*", "*:8c02",
                                       "8086:9d03 1000:10e2", "8086:8C02", "14e4:16d7:14e4", NULL};
static const char *const classes[] = {"0106", "0107", "0200", "0108", NULL};
static const char *const class_tests[] = {"0106", "010601", "01", "0107 0200", "0108", NULL};
static const char *const vibs[] = {"sata-ahci", "vmw-ahci", "lsi-mr3", "nvme-pcie", "esx-base", NULL};
static const char *const transports[] = {"sata", "sas", "fc", "iscsi", NULL};
static const char *const states[] = {"active", "dead", "standby", NULL};
static const char *const subjects[] = {"adapter", "pci", "nic", "device", "module", "host", NULL};

/* One element about a table, as text. */
static void element(struct dice *d)
{
    switch (roll(d, 9)) {
    case 0: buf_printf(d->out, "<pci id='%s'/>", pick(d, id_tests)); break;
    case 1: buf_printf(d->out, "<pci class='%s'/>", pick(d, class_tests)); break;
    case 2: buf_printf(d->out, "<adapter driver='%s %s'/>", pick(d, drivers), pick(d, drivers)); break;
    case 3: buf_printf(d->out, "<vib name='%s'/>", pick(d, vibs)); break;
    case 4: buf_printf(d->out, "<path state='%s' transport='%s'/>", pick(d, states), pick(d, transports)); break;
    case 5: buf_printf(d->out, "<module name='%s' enabled='%s'/>", pick(d, drivers), roll(d, 2) ? "yes" : "no"); break;
    case 6: buf_printf(d->out, "<module enabled='%s'/>", roll(d, 2) ? "yes" : "no"); break;
    case 7: buf_printf(d->out, "<pci candidates='%s'/>", pick(d, drivers)); break;
    default: buf_printf(d->out, "<adapter driver='*%s' transport='%s'/>", pick(d, drivers), pick(d, transports)); break;
    }
}

static void part(struct dice *d)
{
    static const char *const kinds[] = {"none", "some", "every", NULL};

    if (roll(d, 3) == 0) {
        const char *kind = pick(d, kinds);

        buf_printf(d->out, "<%s>", kind);
        element(d);
        buf_printf(d->out, "</%s>", kind);
        return;
    }
    element(d);
}

static void body(struct dice *d, const char *subject)
{
    if (strcmp(subject, "adapter") == 0 || strcmp(subject, "nic") == 0)
        buf_printf(d->out, "<bad driver='%s%s'>", roll(d, 5) ? "" : "*", pick(d, drivers));
    else if (strcmp(subject, "pci") == 0)
        buf_printf(d->out, "<bad id='%s'>", pick(d, id_tests));
    else if (strcmp(subject, "module") == 0)
        buf_printf(d->out, "<bad name='%s'>", pick(d, drivers));
    else
        buf_printf(d->out, "<bad>");
    if (roll(d, 2) || strcmp(subject, "device") == 0 || strcmp(subject, "host") == 0)
        part(d);
    buf_addz(d->out, "</bad>");
}

static void random_rules(struct dice *d)
{
    buf_addz(d->out, "<rules format='1'>");
    for (unsigned i = 0; i < RULES_N; i++) {
        const char *subject = pick(d, subjects);

        buf_printf(d->out, "<rule id='rule-%u' subject='%s' severity='note' status='stable' reviewed='2026-11-30'><title>t</title>", i, subject);
        if (roll(d, 4)) {
            buf_addz(d->out, "<when>");
            for (unsigned k = 1 + roll(d, 3); k > 0; k--)
                part(d);
            buf_addz(d->out, "</when>");
        }
        for (unsigned k = 1 + (roll(d, 3) == 0); k > 0; k--)
            body(d, subject);
        buf_addz(d->out, RULE_WHY RULE_EXAMPLES "</rule>\n");
    }
    buf_addz(d->out, "</rules>");
}

/* A value of a list, or now and then unknown or absent. */
static const char *cell(struct dice *d, const char *const *words)
{
    unsigned n = roll(d, 10);

    return n < 2 ? "?" : n == 2 ? "-" : pick(d, words);
}

static void random_facts(struct dice *d)
{
    static const char *const tables[] = {"pci", "adapter", "path", "vib", "module", "nic", "device", NULL};
    static const char *const functions[] = {"0000:00:01.0", "0000:00:02.0", "0000:00:03.0", "0000:00:04.0", NULL};
    static const char *const adapters[] = {"vmhba0", "vmhba1", "vmhba2", NULL};
    static const char *const devices[] = {"naa.1", "naa.2", NULL};
    static const char *const yes_no[] = {"yes", "no", NULL};

    for (unsigned i = 0; tables[i]; i++)
        if (roll(d, 4) == 0)
            buf_printf(d->out, "!%s %s\n", tables[i], roll(d, 3) ? "partial" : "unknown");
    for (unsigned i = 0; functions[i]; i++)
        if (roll(d, 5))
            buf_printf(d->out, "pci %s|id=%s|class=%s|prog-if=%s|candidates=%s,%s\n", functions[i], cell(d, ids), cell(d, classes), roll(d, 2) ? "01" : "?",
                       pick(d, drivers), pick(d, drivers));
    for (unsigned i = 0; adapters[i]; i++) {
        const char *driver = cell(d, drivers);

        if (roll(d, 5))
            buf_printf(d->out, "adapter %s|driver=%s|module=%s|transport=%s|pci=%s|devices=%s\n", adapters[i], driver, driver, cell(d, transports),
                       cell(d, functions), cell(d, devices));
    }
    for (unsigned i = 0; i < 3; i++)
        buf_printf(d->out, "nic vmnic%u|driver=%s|pci=%s|module=%s\n", i, cell(d, drivers), cell(d, functions), cell(d, drivers));
    for (unsigned i = 0; devices[i]; i++)
        buf_printf(d->out, "device %s|adapters=%s\n", devices[i], cell(d, adapters));
    for (unsigned i = 0; i < 4; i++)
        buf_printf(d->out, "path p%u|adapter=%s|device=%s|state=%s|transport=%s\n", i, cell(d, adapters), cell(d, devices), cell(d, states),
                   cell(d, transports));
    for (unsigned i = 0; vibs[i]; i++)
        if (roll(d, 2))
            buf_printf(d->out, "vib %s|\n", vibs[i]);
    for (unsigned i = 0; drivers[i]; i++)
        if (roll(d, 3))
            buf_printf(d->out, "module %s|enabled=%s|vib=%s\n", drivers[i], cell(d, yes_no), cell(d, vibs));
}

/* Every rule about the row's table, evaluated; which of them are true or unknown. Returns how many. */
static size_t compare(const struct world *w, const struct row *r, uint32_t *hits, uint8_t *seen, size_t *candidates)
{
    size_t n = ruleset_candidates(&w->rs, w->f, r, hits, seen), open = 0;

    *candidates += n;
    for (size_t i = 1; i < n; i++)
        assert_true(hits[i - 1] < hits[i]); /* ascending, each once */
    for (size_t i = 0; i < w->rs.rules.n; i++) {
        const struct rule *rule = w->rs.rules.v[i];
        struct eval ev = {w->f, &w->builds, NULL};
        bool listed = false;
        enum tri result;

        assert_int_equal(seen[i], 0); /* as it was given */
        for (size_t k = 0; k < n; k++)
            listed |= hits[k] == i;
        if (rule->subject != r->table) {
            assert_false(listed);
            continue;
        }
        result = tri_and(cond_eval(&ev, rule->when, r), cond_eval(&ev, rule->bad, r));
        open += result != TRI_FALSE;
        if (result != TRI_FALSE && !listed)
            fail_msg(SLICE_FMT " on " SLICE_FMT " is %s and was not looked at", SLICE_ARG(rule->id), SLICE_ARG(r->key),
                     result == TRI_TRUE ? "true" : "unknown");
    }
    return open;
}

static void no_rule_that_could_match_is_left_out(void **state)
{
    size_t found = 0, candidates = 0, pairs = 0;
    uint32_t hits[RULES_N + 1];
    uint8_t seen[RULES_N + 1] = {0};
    struct dice d = {.seed = 20261130};

    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        struct buf rules = BUF_INIT(8u << 20), facts = BUF_INIT(1u << 20);
        struct world w;

        world_open(&w);
        d.out = &rules;
        random_rules(&d);
        world_rules(&w, buf_z(&rules));
        assert_int_equal(w.rs.rules.n, RULES_N);
        d.out = &facts;
        random_facts(&d);
        world_facts(&w, buf_z(&facts));
        for (unsigned t = 0; t < w.schema.ntables; t++)
            for (size_t i = 0; i < facts_count(w.f, t); i++) {
                found += compare(&w, facts_at(w.f, t, i), hits, seen, &candidates);
                pairs += RULES_N;
            }
        buf_done(&rules);
        buf_done(&facts);
        world_close(&w);
    }
    assert_true(found > 5000);          /* the dice give enough to find */
    assert_true(candidates < pairs / 5); /* and the index leaves most of it alone */
}

static void a_rule_set_knows_its_drivers_and_devices(void **state)
{
    struct world w;

    (void)state;
    world_open(&w);
    world_rules(&w, RULES(RULE("by-driver", "adapter", "", "<bad driver='vmw_ahci'/>") RULE("by-id", "pci", "", "<bad id='8086:8c02:15d9:086d'/>")
                              RULE("by-module", "module", "", "<bad name='lsi_mr3'/>")));
    assert_true(ruleset_knows(&w.rs, SLICE_LIT("vmw_ahci"), SLICE_LIT("")));
    assert_true(ruleset_knows(&w.rs, SLICE_LIT("lsi_mr3"), SLICE_LIT("")));
    assert_true(ruleset_knows(&w.rs, SLICE_LIT(""), SLICE_LIT("8086:8c02")));
    assert_true(ruleset_knows(&w.rs, SLICE_LIT("other"), SLICE_LIT("8086:8c02:1028:0001")));
    assert_false(ruleset_knows(&w.rs, SLICE_LIT("ahci"), SLICE_LIT("8086:8c03")));
    assert_false(ruleset_knows(&w.rs, SLICE_LIT(""), SLICE_LIT("")));
    world_close(&w);
}

static void an_empty_rule_set_has_no_candidates(void **state)
{
    uint32_t hits[1];
    uint8_t seen[1] = {0};
    struct world w;

    (void)state;
    world_open(&w);
    world_rules(&w, "<rules format='1'/>");
    world_facts(&w, "adapter a|driver=?\n");
    assert_int_equal(ruleset_candidates(&w.rs, w.f, world_find(&w, "adapter", "a"), hits, seen), 0);
    world_close(&w);
}

static void the_newest_review_is_remembered(void **state)
{
    struct world w;

    (void)state;
    world_open(&w);
    world_rules(&w, RULES(RULE("one", "adapter", "", "<bad driver='x'/>")
                          "<rule id='two' subject='adapter' severity='note' status='draft' reviewed='2027-01-02'><title>t</title><bad driver='x'/>" RULE_WHY
                          RULE_EXAMPLES "</rule>"));
    assert_true(slice_eqz(w.rs.newest, "2027-01-02"));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rule_that_could_match_is_left_out),
        cmocka_unit_test(a_rule_set_knows_its_drivers_and_devices),
        cmocka_unit_test(an_empty_rule_set_has_no_candidates),
        cmocka_unit_test(the_newest_review_is_remembered),
    };

    xml_setup();
    return cmocka_run_group_tests_name("ruleset", tests, NULL, NULL);
}
