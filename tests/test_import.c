#include "world.h"

#include "core/example.h"
#include "core/import.h"

/* Lists of validated pairs. The shape of vSAN's all.json is that of public programs that read or make it; the values are of its kind. */

static const char hcl[] =
    "{\"timestamp\": 1752537600, \"jsonUpdatedTime\": \"July 15, 2025, 0:00 AM UTC\", \"totalCount\": 3,"
    " \"supportedReleases\": [\"ESXi 7.0 U3\", \"ESXi 8.0\", \"ESXi 8.0 U3\", \"ESXi 9.0\"],"
    " \"data\": {\"controller\": [{\"id\": 41777, \"vid\": \"9005\", \"did\": \"028f\", \"svid\": \"1590\", \"ssid\": \"0294\", \"model\": \"P408i\","
    "   \"vcglink\": \"https://compatibilityguide.broadcom.com/detail?program=vsanio&productId=41777\","
    "   \"releases\": {\"ESXi 8.0 U3\": {\"vsanSupport\": [\"Hybrid:Pass-Through\"],"
    "       \"smartpqi\": {\"80.4700.0.5000-7vmw.803\": {\"type\": \"inbox\", \"queueDepth\": 1011,"
    "                       \"firmwares\": [{\"firmware\": \"5.32\", \"vsanSupport\": []}, {\"firmware\": \"6.52\"}, {\"firmware\": \"5.32\"}]},"
    "                   \"80.4495.0.5000-1OEM.800.1.0.20613240\": {\"type\": \"async\", \"firmwares\": [{\"firmware\": \"6.22 B\"}]}}},"
    "     \"ESXi 8.0\": {\"smartpqi\": {\"80.4253.0.5000-2vmw.800\": {\"firmwares\": [{\"firmware\": \"N/A\"}]}}}}}],"
    "  \"nic\": [{\"vid\": \"15B3\", \"did\": \"101F\", \"svid\": \"15b3\", \"ssid\": \"14\", \"vcglink\": \"https://example.com/nic\","
    "    \"releases\": {\"ESXi 9.0\": {\"nmlx5_core\": {\"4.24.0.7\": {\"firmwares\": [{\"firmware\": \"26.39.1002\"}]}}}}}],"
    "  \"ssd\": [{\"model\": \"MZ7LH960\", \"vid\": \"\", \"did\": \"\", \"releases\": {}}], \"hdd\": []}}";

static struct seen_device p408 = {{0}, {0}, {0}, 0}, cx6 = {{0}, {0}, {0}, 0};

static void see(struct world *w, struct seen_devices *seen)
{
    static struct seen_device v[2];

    p408 = (struct seen_device){SLICE_LIT("9005:028f:1590:0294"), SLICE_LIT("smartpqi"), SLICE_LIT("Smart Array P408i-a SR & <Gen10>"),
                                (unsigned)schema_table(&w->schema, SLICE_LIT("adapter"))};
    cx6 = (struct seen_device){SLICE_LIT("15b3:101f:15b3:0014"), SLICE_LIT("nmlx5_core"), SLICE_LIT("ConnectX-6 Lx"),
                               (unsigned)schema_table(&w->schema, SLICE_LIT("nic"))};
    v[0] = p408;
    v[1] = cx6;
    *seen = (struct seen_devices){v, 2, 2};
}

static void the_hardware_list_of_vsan_becomes_pairs(void **state)
{
    static const struct {
        const char *id, *release, *driver, *version, *firmware;
    } want[] = {
        {"9005:028f:1590:0294", "8.0u3", "smartpqi", "80.4700.0.5000-7vmw.803", "5.32"},
        {"9005:028f:1590:0294", "8.0u3", "smartpqi", "80.4700.0.5000-7vmw.803", "6.52"},
        {"9005:028f:1590:0294", "8.0u3", "smartpqi", "80.4700.0.5000-7vmw.803", "5.32"},
        {"9005:028f:1590:0294", "8.0u3", "smartpqi", "80.4495.0.5000-1OEM.800.1.0.20613240", "6.22 B"},
        {"9005:028f:1590:0294", "8.0u0", "smartpqi", "80.4253.0.5000-2vmw.800", ""},
        {"15b3:101f:15b3:0014", "9.0", "nmlx5_core", "4.24.0.7", "26.39.1002"},
    };
    struct arena *a = arena_new(8u << 20);
    struct err e = {0};
    struct pairs p;

    (void)state;
    if (import_vsan_hcl(slice_of(hcl), "all.json", a, &p, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(p.n, sizeof want / sizeof *want);
    for (size_t i = 0; i < p.n; i++) {
        assert_true(slice_eqz(p.v[i].id, want[i].id));
        assert_true(slice_eqz(p.v[i].release, want[i].release));
        assert_true(slice_eqz(p.v[i].driver, want[i].driver));
        assert_true(slice_eqz(p.v[i].version, want[i].version));
        assert_true(slice_eqz(p.v[i].firmware, want[i].firmware));
    }
    assert_true(slice_eqz(p.date, "2025-07-15"));
    assert_int_equal(p.without_id, 1);
    assert_int_equal(p.nreleases, 4);
    arena_free(a);
}

static void what_is_no_such_list_is_refused(void **state)
{
    static const struct {
        const char *in, *says;
    } t[] = {
        {"", "all.json"},
        {"[1]", "this is not vSAN's all.json"},
        {"{\"data\": []}", "this is not vSAN's all.json"},
        {"{\"data\": {}}", "no controllers, NICs or disks in it"},
        {"{\"data\": {\"controller\": [{\"vid\":\"9005\",\"did\":\"028f\",\"releases\":{\"ESXi eight\":{}}}]}}", "\"ESXi eight\" is no release of ESXi"},
        {"{\"data\": {\"controller\": [", "all.json"},
    };
    struct arena *a = arena_new(8u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct err e = {0};
        struct pairs p;

        assert_int_equal(import_vsan_hcl(slice_of(t[i].in), "all.json", a, &p, &e), VF_EFORMAT);
        if (!strstr(e.msg, t[i].says))
            fail_msg("\"%s\": %s", t[i].in, e.msg);
    }
    arena_free(a);
}

static void a_table_of_pairs_is_read_and_its_mistakes_are_named(void **state)
{
    static const struct {
        const char *in, *says; /* NULL: one pair, i40en for 8086:1572 */
    } t[] = {
        {"PCI;Driver;Driver Version;Firmware;ESXi\n8086:1572;i40en;2.4.1.0;9.20;ESXi 7.0 U3\n", NULL},
        {"vid,did,svid,ssid,driver,driver-version\n0x8086,1572,,,i40en,2.4.1.0\n", NULL},
        {"pci,driver,driver-version,release\n8086:1572,i40en,2.4.1.0,7.0u3\n", NULL},
        {"pci,driver,driver-version\n8086-1572,i40en,2.4.1.0\n", "t.csv:2: the device is written 8086:1572"},
        {"pci,driver,driver-version\n8086:1572:1028,i40en,2.4.1.0\n", "t.csv:2: the device is written"},
        {"pci,driver,driver-version\n8086:1572:1:2:3,i40en,2.4.1.0\n", "t.csv:2: the device is written"},
        {"pci,driver,driver-version\n8086:1572,,2.4.1.0\n", "t.csv:2: a pair wants a driver"},
        {"pci,driver,driver-version\n8086:1572,i40en,\n", "t.csv:2: a pair wants a driver, and its version"},
        {"pci,driver,driver-version,release\n8086:1572,i40en,2.4.1.0,seven\n", "t.csv:2: a release is written 8.0u3"},
        {"pci,driver,driver-version,date\n8086:1572,i40en,2.4.1.0,1.7.26\n", "t.csv:2: a date is written"},
        {"pci,driver,driver-version,link\n8086:1572,i40en,2.4.1.0,javascript:x\n", "t.csv:2: a link begins with https://"},
        {"pci,driver\n8086:1572,i40en\n", "names neither driver-version nor firmware"},
        {"pci,driver,driver-version,firmware\n8086:1572,i40en,2.4.1.0\n", "t.csv:2: 3 fields where the header names 4"},
        {"device,driver-version\n", "the header names no driver"},
        {"driver,driver-version\n", "the header names no pci"},
        {"pci,driver,driver-version\n", "no pairs below the header"},
    };
    struct arena *a = arena_new(8u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct err e = {0};
        struct pairs p;
        int rc = import_csv(slice_of(t[i].in), "t.csv", a, &p, &e);

        if (rc != (t[i].says ? VF_EFORMAT : 0) || (t[i].says && !strstr(e.msg, t[i].says)))
            fail_msg("\"%s\": %d %s", t[i].in, rc, e.msg);
        if (rc == 0)
            assert_true(p.n == 1 && slice_eqz(p.v[0].id, "8086:1572") && slice_eqz(p.v[0].driver, "i40en") && slice_eqz(p.v[0].version, "2.4.1.0"));
    }
    arena_free(a);
}

/* What the made rules say of a host with vSAN, its release, device, driver version and firmware: true, false or not known. */
static void made_rules_judge_pairs(void **state)
{
    static const struct {
        const char *example[2]; /* attributes, and whether the host has vSAN */
        bool finding;
    } t[] = {
        {{"esxi='8.0u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='80.4700.0.5000-7vmw.803.0.0.24022510' firmware='6.52'", "yes"}, false},
        {{"esxi='8.0u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='80.4700.0.5000-7vmw.803.0.0.24022510' firmware='4.11'", "yes"}, true},
        {{"esxi='8.0u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='80.4495.0.5000-1OEM.800.1.0.20613240' firmware='6.22 B'", "yes"}, false},
        {{"esxi='8.0u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='80.4253.0.5000-2vmw.800.1.0.20513097' firmware='6.52'", "yes"}, true},
        {{"esxi='8.0' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='80.4253.0.5000-2vmw.800.1.0.20513097' firmware='1.0'", "yes"}, false},
        {{"esxi='7.0u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='70.4149.0.5000-1vmw.703.0.0.1' firmware='5.32'", "yes"}, true},
        {{"esxi='6.7u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='1.0.4-1vmw.670.0.0.1' firmware='5.32'", "yes"}, false},
        {{"esxi='8.0u3' pci='9005:028f:1590:0294' driver='smartpqi' driver-version='80.4253.0.5000-2vmw.800.1.0.20513097' firmware='6.52'", "no"}, false},
        {{"esxi='8.0u3' pci='9005:028f:1590:0295' driver='smartpqi' driver-version='80.4253.0.5000-2vmw.800.1.0.20513097' firmware='6.52'", "yes"}, false},
    };
    struct seen_devices seen;
    struct buf out = BUF_INIT(1u << 20), more = BUF_INIT(2u << 20);
    size_t nrules, npairs, at, passed = 0;
    struct err e = {0};
    struct pairs p;
    struct world w;

    (void)state;
    world_open(&w);
    see(&w, &seen);
    if (import_vsan_hcl(slice_of(hcl), "all.json", w.a, &p, &e) < 0 || import_write(&p, &seen, &w.schema, w.a, &out, &nrules, &npairs, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(nrules, 2);
    assert_int_equal(npairs, 4);
    at = slice_find(buf_slice(&out), 0, "    <matches");
    buf_add(&more, slice_cut(buf_slice(&out), 0, at));
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        buf_printf(&more, "<%1$s %2$s><host vsan='%3$s'/></%1$s>\n", t[i].finding ? "matches" : "ignores", t[i].example[0], t[i].example[1]);
    buf_add(&more, slice_from(buf_slice(&out), at));
    if (rules_load(&w.rs.rules, buf_slice(&more), "made.xml", &w.schema, w.a, &e) < 0 || ruleset_seal(&w.rs, &e) < 0)
        fail_msg("%s\n%s", e.msg, buf_z(&more));
    for (size_t i = 0; i < w.rs.rules.n; i++)
        for (unsigned k = 0; k < w.rs.rules.v[i]->nexamples; k++) {
            struct example_result got = {0};

            if (example_run(&w.rs, w.rs.rules.v[i], &w.rs.rules.v[i]->examples[k], w.a, &got, &e) < 0 || !got.passed)
                fail_msg("example on line %u: %s %s", w.rs.rules.v[i]->examples[k].line, got.decided ? got.decided : "", e.msg);
            passed++;
        }
    assert_int_equal(passed, 2 * 2 + sizeof t / sizeof *t);
    buf_done(&out);
    buf_done(&more);
    world_close(&w);
}

/*
 * A list that names a device with and without its subsystem: what is valid for all devices of an id is so for each, and what is valid for one
 * subsystem is so for no other.
 */
static void rows_of_all_devices_and_of_one_subsystem_meet(void **state)
{
    static const char table[] = "pci,driver,driver-version,link,date,release\n9005:028f,smartpqi,1.0-1vmw,https://example.com/,2026-07-01,8.0u3\n"
                                "9005:028f:1590:0294,smartpqi,2.0-1vmw,https://example.com/,2026-07-02,\n10de:1eb8,nvidia,1.0,https://example.com/,,\n";
    static const struct {
        const char *id, *version;
        bool finding;
    } t[] = {
        {"9005:028f:1590:0294", "1.0-1vmw", false}, {"9005:028f:1590:0294", "2.0-1vmw", false}, {"9005:028f:1590:0294", "3.0-1vmw", true},
        {"9005:028f:1028:1f01", "1.0-1vmw", false}, {"9005:028f:1028:1f01", "2.0-1vmw", true},
    };
    struct seen_devices seen;
    struct seen_device v[2];
    struct buf out = BUF_INIT(1u << 20), more = BUF_INIT(2u << 20);
    size_t nrules, npairs, passed = 0;
    struct err e = {0};
    struct pairs p;
    struct world w;

    (void)state;
    world_open(&w);
    see(&w, &seen);
    v[0] = v[1] = seen.v[0];
    v[1].id = SLICE_LIT("9005:028f:1028:1f01");
    seen = (struct seen_devices){v, 2, 2};
    if (import_csv(slice_of(table), "t.csv", w.a, &p, &e) < 0 || import_write(&p, &seen, &w.schema, w.a, &out, &nrules, &npairs, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(nrules, 2);
    assert_true(slice_eqz(p.date, "2026-07-02"));
    for (struct slice rest = buf_slice(&out); rest.n;) { /* each rule with all of them as examples */
        size_t at = slice_find(rest, 0, "    <matches"), end = slice_find(rest, 0, "</rule>");

        buf_add(&more, slice_cut(rest, 0, at == SIZE_MAX ? rest.n : at));
        for (size_t i = 0; at != SIZE_MAX && i < sizeof t / sizeof *t; i++)
            buf_printf(&more, "<%s esxi='8.0u3' pci='%s' driver='smartpqi' driver-version='%s'/>\n",
                       t[i].finding && slice_find(slice_cut(rest, at, end - at), 0, t[i].id) != SIZE_MAX ? "matches" : "ignores", t[i].id, t[i].version);
        if (at != SIZE_MAX)
            buf_add(&more, slice_cut(rest, at, end + 7 - at));
        rest = at == SIZE_MAX ? (struct slice){NULL, 0} : slice_from(rest, end + 7);
    }
    if (rules_load(&w.rs.rules, buf_slice(&more), "made.xml", &w.schema, w.a, &e) < 0 || ruleset_seal(&w.rs, &e) < 0)
        fail_msg("%s\n%s", e.msg, buf_z(&more));
    for (size_t i = 0; i < w.rs.rules.n; i++)
        for (unsigned k = 0; k < w.rs.rules.v[i]->nexamples; k++, passed++) {
            struct example_result got = {0};

            if (example_run(&w.rs, w.rs.rules.v[i], &w.rs.rules.v[i]->examples[k], w.a, &got, &e) < 0 || !got.passed)
                fail_msg("example on line %u: %s %s", w.rs.rules.v[i]->examples[k].line, got.decided ? got.decided : "", e.msg);
        }
    assert_int_equal(passed, 2 * (2 + sizeof t / sizeof *t));
    buf_done(&more);
    buf_done(&out);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hardware_list_of_vsan_becomes_pairs),
        cmocka_unit_test(what_is_no_such_list_is_refused),
        cmocka_unit_test(a_table_of_pairs_is_read_and_its_mistakes_are_named),
        cmocka_unit_test(made_rules_judge_pairs),
        cmocka_unit_test(rows_of_all_devices_and_of_one_subsystem_meet),
    };

    xml_setup();
    return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
