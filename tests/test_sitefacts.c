#include "core/sitefacts.h"
#include "world.h"

/* Tables of what a site states of firmware: what they may hold, and what becomes of a host's cells. */

#define TODAY SLICE_LIT("2026-12-01")

static int load(struct world *w, struct sitefacts *s, const char *text)
{
    return sitefacts_load(s, slice_of(text), "fw.csv", TODAY, w->a, &w->e);
}

/* Each mistake names file, line and column, and what to write instead. */
static void a_table_is_refused_in_plain_words(void **state)
{
    static const struct {
        const char *text, *says;
    } t[] = {
        {"", "fw.csv:1: no header"},
        {"host,name,firmware,date\n", "fw.csv: no row"},
        {"host,name,firmwre,date\n", "fw.csv:1: unknown column \"firmwre\"; did you mean \"firmware\"?"},
        {"host,name,colour,firmware,date\n", "fw.csv:1: unknown column \"colour\"."},
        {"host,name,firmware\n", "fw.csv:1: no column \"date\""},
        {"host,firmware,date\n", "fw.csv:1: no column says which device"},
        {"host,name,host,firmware,date\n", "fw.csv:1: two columns are named \"host\""},
        {"host,name,firmware,date\n,vmhba0,1.0,2026-11-01\n", "fw.csv:2: host: "},
        {"host,name,firmware,date\n\na,vmhba0,,2026-11-01\n", "fw.csv:3: firmware: a version is wanted"},
        {"host,name,firmware,date\na,vmhba0,N/A,2026-11-01\n", "fw.csv:2: firmware: a version is wanted"},
        {"host,name,firmware,date\na,vmhba0,1.0 (b),2026-11-01\n", "fw.csv:2: firmware: the version alone"},
        {"host,name,firmware,date\na,vmhba0,1.0,1.11.2026\n", "fw.csv:2: date: the day when it was read is wanted"},
        {"host,name,firmware,date\na,vmhba0,1.0,2026-02-30\n", "fw.csv:2: date: the day when it was read is wanted"},
        {"host,name,firmware,date\na,vmhba0,1.0,2026-12-02\n", "fw.csv:2: date: that day is still to come"},
        {"host,pci,firmware,date\na,3b:00.0,1.0,2026-11-01\n", "fw.csv:2: pci: an address is written 0000:3b:00.0"},
        {"host,pci,firmware,date\na,000:059:00.0,1.0,2026-11-01\n", "fw.csv:2: pci: an address is written 0000:3b:00.0"},
        {"host,pci-id,firmware,date\na,1000-005d,1.0,2026-11-01\n", "fw.csv:2: pci-id: an id is written"},
        {"host,name,serial,firmware,date\na,vmhba0,S1,1.0,2026-11-01\n", "fw.csv:2: the device is named twice"},
        {"host,name,serial,firmware,date\na,,,1.0,2026-11-01\n", "fw.csv:2: no device is named"},
        {"host,name,firmware,date\na,vmhba0,1.0,2026-11-01\nA,vmhba0,1.1,2026-11-02\n",
         "fw.csv:3: firmware: name vmhba0 of host A is \"1.1\" here and \"1.0\" in line 2"},
        {"host,name,firmware,date,x\"\na,\"b\n", "fw.csv:"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct sitefacts s = {0};

        w->e.msg[0] = '\0';
        assert_true(load(w, &s, t[i].text) < 0);
        if (strncmp(w->e.msg, t[i].says, strlen(t[i].says)) != 0)
            fail_msg("%s\nsays: %s", t[i].text, w->e.msg);
    }
}

static void a_table_comes_from_any_spreadsheet(void **state)
{
    struct world *w = *state;
    struct sitefacts s = {0};

    assert_int_equal(load(w, &s, "\xef\xbb\xbf" "Date;Firmware;PCI ID;Host;Note;\r\n2025-11-30;24.21.0-0148;1000:005D:1028:1F49;esx*;iDRAC;\r\n"
                                 "2026-11-30;24.21.0-0148;1000:005d:1028:1f49;ESX*;iDRAC;\r\n"), 0);
    assert_int_equal(s.n, 1); /* the same said again: the later reading stands */
    assert_int_equal(s.v[0].by, BY_PCI_ID);
    assert_int_equal(s.v[0].line, 3);
    assert_int_equal(s.v[0].days, 1);
    assert_false(statement_old(&s.v[0]));
    assert_true(slice_eqz(s.v[0].device, "1000:005d:1028:1f49"));
    assert_true(slice_eqz(s.v[0].note, "iDRAC"));
    /* a second file may not contradict the first */
    assert_true(load(w, &s, "host,pci-id,firmware,date\nesx*,1000:005d:1028:1f49,1,2026-11-01\n") < 0);
}

static void days_are_counted_over_leap_years(void **state)
{
    static const struct {
        const char *from, *to;
        int64_t days;
    } t[] = {{"2024-02-28", "2024-03-01", 2}, {"2025-02-28", "2025-03-01", 1}, {"2023-12-31", "2024-01-01", 1}, {"2025-12-01", "2026-12-01", 365},
             {"2000-01-01", "2026-12-01", 9831}};

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(rule_days(slice_of(t[i].to)) - rule_days(slice_of(t[i].from)), t[i].days);
}

#define HOST "host|name=esx01.example.com|serial=SRV1\n"
#define PERC "pci 0000:3b:00.0|id=1000:005d:1028:1f49\nadapter vmhba0|driver=lsi_mr3|pci=0000:3b:00.0|firmware=?\n"
#define TWIN "pci 0000:5e:00.0|id=1000:005d:1028:1f49\nadapter vmhba1|driver=lsi_mr3|pci=0000:5e:00.0|firmware=?\n"
#define NIC  "pci 0000:18:00.0|id=14e4:16d7:14e4:1402\nnic vmnic0|driver=bnxtnet|pci=0000:18:00.0|firmware-version=?\n"
#define NVME "pci 0000:c9:00.0|id=144d:a824:1028:2043\nadapter vmhba2|driver=nvme_pcie|pci=0000:c9:00.0|firmware=?\nnvme vmhba2|adapter=vmhba2|serial=S4X|firmware=?\n"
#define DISK "device t10.ATA_____Micron_5300_MTFDDAK480TDS________________20232A0BC1D2________|revision=?\n"
#define SAYS(row) "host,pci,pci-id,serial,name,firmware,date\n" row

/* Which host and device a row is about, and what the cell is then. "?" is unknown. */
static void a_row_fills_what_was_not_read(void **state)
{
    static const struct {
        const char *facts, *csv, *table, *key, *column, *value;
    } t[] = {
        {PERC, SAYS("esx01,0000:3B:00.0,,,,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "24.21.0-0148"},
        {PERC, SAYS("esx01.example.com,,1000:005d,,,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "24.21.0-0148"},
        {PERC, SAYS("srv1,,,,vmhba0,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "24.21.0-0148"},
        {PERC, SAYS("ESX0*,,,,vmhba0,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "24.21.0-0148"},
        {PERC, SAYS("*,,,,vmhba0,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "24.21.0-0148"},
        {PERC, SAYS("esx0,,,,vmhba0,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "?"},
        {PERC, SAYS("esx01.other.com,,,,vmhba0,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "?"},
        {PERC, SAYS("esx01,,1000:005d:1028:1f47,,,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba0", "firmware", "?"},
        {NIC, SAYS("esx01,,,,vmnic0,219.0.1.0,2026-11-01\n"), "nic", "vmnic0", "firmware-version", "219.0.1.0"},
        {NIC, SAYS("esx01,0000:18:00.0,,,,219.0.1.0,2026-11-01\n"), "nic", "vmnic0", "firmware-version", "219.0.1.0"},
        {NVME, SAYS("esx01,,,s4x,,GDC5602Q,2026-11-01\n"), "nvme", "vmhba2", "firmware", "GDC5602Q"},
        {NVME, SAYS("esx01,0000:c9:00.0,,,,GDC5602Q,2026-11-01\n"), "nvme", "vmhba2", "firmware", "GDC5602Q"},
        {NVME, SAYS("esx01,,,,vmhba2,GDC5602Q,2026-11-01\n"), "adapter", "vmhba2", "firmware", "?"}, /* told in the table of drives */
        {DISK, SAYS("esx01,,,20232A0BC1D2,,D3MU001,2026-11-01\n"), "device",
         "t10.ATA_____Micron_5300_MTFDDAK480TDS________________20232A0BC1D2________", "revision", "D3MU001"},
        {DISK, SAYS("esx01,,,0BC1D2,,D3MU001,2026-11-01\n"), "device",
         "t10.ATA_____Micron_5300_MTFDDAK480TDS________________20232A0BC1D2________", "revision", "?"},
        {"device naa.5000|revision=?\n", SAYS("esx01,,,,naa.5000,HPD3,2026-11-01\n"), "device", "naa.5000", "revision", "HPD3"},
        /* two equal cards: the only row counts for both */
        {PERC TWIN, SAYS("esx01,,1000:005d,,,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba1", "firmware", "24.21.0-0148"},
        /* another row names one of them and differs: the one by id counts for none */
        {PERC TWIN, SAYS("esx01,,1000:005d,,,24.21.0-0148,2026-11-01\nesx01,,,,vmhba0,25.5.9.0001,2026-11-01\n"), "adapter", "vmhba1", "firmware", "?"},
        {PERC TWIN, SAYS("esx01,,1000:005d,,,24.21.0-0148,2026-11-01\nesx01,,,,vmhba0,25.5.9.0001,2026-11-01\n"), "adapter", "vmhba0", "firmware",
         "25.5.9.0001"},
        /* it agrees: nothing is in question */
        {PERC TWIN, SAYS("esx01,,1000:005d,,,24.21.0-0148,2026-11-01\nesx01,,,,vmhba0,24.21.0-0148,2026-11-01\n"), "adapter", "vmhba1", "firmware",
         "24.21.0-0148"},
        /* one card, two rows of different kind that differ */
        {PERC, SAYS("esx01,,1000:005d,,,24.21.0-0148,2026-11-01\nesx01,,,,vmhba0,25.5.9.0001,2026-11-01\n"), "adapter", "vmhba0", "firmware", "?"},
        {PERC, SAYS("esx01,,,,vmhba0,24.21.0-0148,2026-11-01\nesx*,,,,vmhba0,25.5.9.0001,2026-11-01\n"), "adapter", "vmhba0", "firmware", "?"},
        /* what the host says stands, or is in doubt */
        {"adapter vmhba3|firmware=20.00.07.00\n", SAYS("esx01,,,,vmhba3,20.0.7.0,2026-11-01\n"), "adapter", "vmhba3", "firmware", "20.00.07.00"},
        {"adapter vmhba3|firmware=20.00.07.00 - Firmware Package Version: 1\n", SAYS("esx01,,,,vmhba3,20.00.07.00,2026-11-01\n"), "adapter", "vmhba3",
         "firmware", "20.00.07.00 - Firmware Package Version: 1"},
        {"adapter vmhba3|firmware=20.00.07.00\n", SAYS("esx01,,,,vmhba3,20.00.08.00,2026-11-01\n"), "adapter", "vmhba3", "firmware", "?"},
        {"device naa.5000|revision=HPD3\n", SAYS("esx01,,,,naa.5000,hpd3,2026-11-01\n"), "device", "naa.5000", "revision", "?"},
        {"nic vmnic0|firmware-version=-\n", SAYS("esx01,,,,vmnic0,219.0.1.0,2026-11-01\n"), "nic", "vmnic0", "firmware-version", "219.0.1.0"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct sitefacts s = {0};
        const struct stated *stated;
        const struct value *v;
        size_t n;

        if (load(w, &s, t[i].csv) < 0)
            fail_msg("%s", w->e.msg);
        world_facts(w, arena_printf(w->a, HOST "%s", t[i].facts));
        sitefacts_apply(&s, w->f, &stated, &n);
        v = facts_cell(w->f, facts_find(w->f, world_table(w, t[i].table), slice_of(t[i].key)), t[i].column);
        if (strcmp(t[i].value, "?") == 0 ? v->state != VS_UNKNOWN : v->state != VS_KNOWN || !slice_eqz(v->s, t[i].value))
            fail_msg("%zu: %s: state %d, " SLICE_FMT ", %s", i, t[i].csv, v->state, SLICE_ARG(v->s), v->why ? v->why : "");
    }
}

static void a_statement_is_seen_as_one(void **state)
{
    struct world *w = *state;
    struct sitefacts s = {0};
    const struct stated *stated;
    const struct value *v;
    const struct row *r;
    size_t n;

    assert_int_equal(load(w, &s, SAYS("esx01,0000:3b:00.0,,,,24.21.0-0148,2025-01-01\nesx01,,,,vmhba3,20.00.08.00,2026-11-01\n"
                                      "esx02,,,,vmhba0,1,2026-11-01\nesx01,,,,vmhba9,1,2026-11-01\n")), 0);
    world_facts(w, HOST PERC "adapter vmhba3|firmware=20.00.07.00\n");
    sitefacts_apply(&s, w->f, &stated, &n);
    assert_int_equal(n, 2);
    assert_int_equal(stated[0].fate, STATED_FILLED);
    assert_int_equal(stated[1].fate, STATED_DIFFERS);
    assert_true(statement_old(stated[0].by));
    v = facts_cell(w->f, stated[0].row, "firmware");
    assert_true(slice_eqz(w->f->sources[v->source].ask, "site fw.csv:2, 2025-01-01, 699 days old"));
    v = facts_cell(w->f, stated[1].row, "firmware");
    assert_true(v->conflict && strstr(v->why, "20.00.07.00") && strstr(v->why, "site fw.csv:3 of 2026-11-01 20.00.08.00"));
    assert_true(s.v[0].used && s.v[1].used && !s.v[2].host_seen && s.v[3].host_seen && !s.v[3].used);

    /* what two answers of the host contradict each other about is not repaired */
    world_facts(w, HOST "adapter vmhba3|firmware=20.00.07.00\n");
    r = world_dispute(w, "adapter", "vmhba3", "firmware", value_slice(SLICE_LIT("20.00.09.00")));
    sitefacts_apply(&s, w->f, &stated, &n);
    assert_int_equal(n, 1);
    assert_int_equal(stated[0].fate, STATED_REFUSED);
    assert_int_equal(facts_cell(w->f, r, "firmware")->state, VS_UNKNOWN);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(a_table_is_refused_in_plain_words), T(a_table_comes_from_any_spreadsheet), T(days_are_counted_over_leap_years),
        T(a_row_fills_what_was_not_read),     T(a_statement_is_seen_as_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
