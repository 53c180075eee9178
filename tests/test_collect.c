/* Several answers to one question, and what a damaged one is called: hosts are folders of outputs, read with the probes of this checkout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/xml.h"
#include "promises.h"

#define ADAPTERS "esxcli_storage_core_adapter_list.txt"

static const char adapters[] = "HBA Name  Driver    Link State  UID           Capabilities  Description\n"
                               "--------  --------  ----------  ------------  ------------  ------------------------------------\n"
                               "vmhba0    vmw_ahci  link-n/a    sata.vmhba0                 (0000:00:11.4) Intel Wellsburg AHCI\n"
                               "vmhba32   vmkusb    link-n/a    usb.vmhba32                 () USB\n";

static const char version[] = "   Product: VMware ESXi\n   Version: 6.5.0\n   Build: Releasebuild-4564106\n   Update: 0\n   Patch: 0\n";

struct host {
    struct folder f;
    struct env env;
    struct arena *a;
    struct facts *facts;
    struct target *targets;
    size_t n;
};

static int setup(void **state)
{
    struct host *h = xmalloc(sizeof *h);
    struct err e = {0};

    *h = (struct host){.a = arena_new(ENV_MAX_HOST)};
    folder_make(&h->f);
    *state = h;
    return env_open(&h->env, ".", NULL, &e);
}

static int teardown(void **state)
{
    struct host *h = *state;

    for (size_t i = 0; i < h->n; i++)
        channel_close(&h->targets[i].channel);
    folder_remove(&h->f);
    env_close(&h->env);
    arena_free(h->a);
    free(h);
    return 0;
}

static void put(struct host *h, const char *name, const char *text)
{
    folder_write(&h->f, name, slice_of(text));
}

static void gather(struct host *h)
{
    struct err e = {0};

    if (offline_open(h->f.path, h->a, &h->targets, &h->n, &e) < 0 || env_gather(&h->env, &h->targets[0], h->a, &h->facts, &e) < 0)
        fail_msg("%s", e.msg);
}

static const struct value *cell(const struct host *h, const char *table, const char *key, const char *column)
{
    return facts_cell(h->facts, facts_find(h->facts, facts_table_index(h->facts, table), slice_of(key)), column);
}

static enum table_state state_of(const struct host *h, const char *table, const char **why)
{
    return facts_table(h->facts, facts_table_index(h->facts, table), why);
}

static size_t sources(const struct host *h, int state)
{
    size_t n = 0;

    for (size_t i = 1; i < h->facts->nsources; i++)
        n += (int)h->facts->sources[i].state == state;
    return n;
}

static void another_command_that_contradicts_the_release_is_marked(void **state)
{
    struct host *h = *state;
    const struct value *v;

    put(h, "esxcli_system_version_get.txt", version);
    put(h, "vmware_-vl.txt", "VMware ESXi 6.7.0 build-8169922\nVMware ESXi 6.7.0 GA\n");
    gather(h);
    v = cell(h, "esxi", "", "version");
    assert_true(v->state == VS_UNKNOWN && v->conflict);
    assert_non_null(strstr(v->why, "6.5.0"));
    assert_non_null(strstr(v->why, "6.7.0"));
    assert_non_null(strstr(v->why, "vmware_-vl.txt"));
    assert_true(cell(h, "esxi", "", "build")->conflict);
}

static void another_command_that_agrees_changes_nothing(void **state)
{
    struct host *h = *state;

    put(h, "esxcli_system_version_get.txt", version);
    put(h, "vmware_-vl.txt", "VMware ESXi 6.5.0 build-4564106\nVMware ESXi 6.5.0 GA\n");
    put(h, ADAPTERS, adapters);
    put(h, "esxcfg-scsidevs_-a.txt", "vmhba0  vmw_ahci          link-n/a  sata.vmhba0    (0000:00:11.4) Intel Corporation Wellsburg AHCI Controller\n"
                                     "vmhba32 vmkusb            link-n/a  usb.vmhba32    () USB\n");
    gather(h);
    assert_false(cell(h, "esxi", "", "version")->conflict || cell(h, "esxi", "", "build")->conflict);
    assert_int_equal(state_of(h, "adapter", NULL), TS_COMPLETE);
    assert_int_equal(facts_count(h->facts, facts_table_index(h->facts, "adapter")), 2);
    assert_false(cell(h, "adapter", "vmhba0", "driver")->conflict || cell(h, "adapter", "vmhba0", "pci")->conflict ||
                 cell(h, "adapter", "vmhba0", "description")->conflict);
}

static void a_copy_of_an_answer_that_differs_is_marked(void **state)
{
    static const char copy[] = "HBA Name  Driver  Link State  UID           Capabilities  Description\n"
                               "--------  ------  ----------  ------------  ------------  ------------------------------------\n"
                               "vmhba0    ahci    link-n/a    sata.vmhba0                 (0000:00:11.4) Intel Wellsburg AHCI\n"
                               "vmhba32   vmkusb  link-n/a    usb.vmhba32                 () USB\n";
    struct host *h = *state;
    const struct value *v;

    put(h, ADAPTERS, adapters);
    put(h, "localcli_storage-core-adapter-list.txt", copy);
    gather(h);
    v = cell(h, "adapter", "vmhba0", "driver");
    assert_true(v->state == VS_UNKNOWN && v->conflict);
    assert_non_null(strstr(v->why, "says vmw_ahci"));
    assert_non_null(strstr(v->why, "says ahci"));
    assert_false(cell(h, "adapter", "vmhba32", "driver")->conflict);
    assert_false(cell(h, "adapter", "vmhba0", "pci")->conflict);
    assert_int_equal(state_of(h, "adapter", NULL), TS_COMPLETE);
}

static void a_cut_copy_says_nothing_against_the_whole_one(void **state) /* but it is told of */
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct host *h = *state;

    buf_add(&b, slice_cut(slice_of(adapters), 0, sizeof adapters - 40));
    put(h, ADAPTERS, adapters);
    put(h, "localcli_storage-core-adapter-list.txt", buf_z(&b));
    gather(h);
    assert_int_equal(state_of(h, "adapter", NULL), TS_COMPLETE);
    assert_false(cell(h, "adapter", "vmhba32", "driver")->conflict);
    assert_int_equal(sources(h, SOURCE_PARTIAL), 1);
}

static void an_adapter_that_the_list_lacks_makes_it_partial(void **state)
{
    struct host *h = *state;
    const char *why = NULL;

    put(h, ADAPTERS, adapters);
    put(h, "esxcfg-scsidevs_-a.txt", "vmhba0  vmw_ahci          link-n/a  sata.vmhba0    (0000:00:11.4) Intel Corporation Wellsburg AHCI Controller\n"
                                     "vmhba1  nvme              link-n/a  pcie.100       (0000:01:00.0) Samsung NVMe\n");
    gather(h);
    assert_int_equal(state_of(h, "adapter", &why), TS_PARTIAL);
    assert_true(why && strstr(why, "vmhba1") && strstr(why, "esxcfg-scsidevs -a"));
    assert_true(slice_eqz(cell(h, "adapter", "vmhba1", "driver")->s, "nvme"));
}

static void counters_may_differ_between_two_copies(void **state)
{
    struct host *h = *state;

    put(h, "esxcli_system_stats_uptime_get.txt", "1000000000\n");
    put(h, "localcli_system-stats-uptime-get.txt", "1060000000\n");
    gather(h);
    assert_int_equal(cell(h, "host", "", "uptime")->i, 1000);
    assert_false(cell(h, "host", "", "uptime")->conflict);
}

/* The probe tries two forms of the table; the file is still one. */
static void a_bad_answer_is_told_once(void **state)
{
    struct host *h = *state;

    put(h, ADAPTERS, "Connect to localhost failed: Connection failure.\n");
    gather(h);
    assert_int_equal(sources(h, SOURCE_REFUSED), 1);
}

/* The host refused nothing: it is this side that cannot read. */
static void a_file_that_cannot_be_read_is_unusable_not_refused(void **state)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096);
    struct host *h = *state;

    put(h, "notes.txt", "x");
    folder_path(&h->f, ADAPTERS, &path);
    assert_int_equal(symlink("/nowhere", buf_z(&path)), 0);
    gather(h);
    assert_int_equal(sources(h, SOURCE_UNUSABLE), 1);
    assert_int_equal(sources(h, SOURCE_REFUSED), 0);
    assert_int_equal(state_of(h, "adapter", NULL), TS_UNKNOWN);
}

/* Hexadecimal: 09 before 0a before 10. */
static void pci_functions_are_in_the_order_of_their_addresses(void **state)
{
    static const char *const order[] = {"0000:00:1f.2", "0000:02:00.0", "0000:03:00.0", "0000:0a:00.0", "0000:10:00.0", "0000:a0:00.0"};
    struct host *h = *state;
    unsigned t;

    put(h, "vmkchdev_-l.txt", "0000:10:00.0 8086:1521 15d9:1521 vmkernel vmnic3\n0000:0a:00.0 8086:1521 15d9:1521 vmkernel vmnic2\n"
                              "0000:a0:00.0 8086:1521 15d9:1521 vmkernel vmnic4\n0000:00:1f.2 8086:8c02 15d9:086d vmkernel vmhba0\n"
                              "0000:03:00.0 8086:1521 15d9:1521 vmkernel vmnic1\n0000:02:00.0 8086:1521 15d9:1521 vmkernel vmnic0\n");
    gather(h);
    facts_sort(h->facts);
    t = facts_table_index(h->facts, "pci");
    assert_int_equal(facts_count(h->facts, t), sizeof order / sizeof *order);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_true(slice_eqz(facts_at(h->facts, t, i)->key, order[i]));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_command_that_contradicts_the_release_is_marked),
        TEST(another_command_that_agrees_changes_nothing),
        TEST(a_copy_of_an_answer_that_differs_is_marked),
        TEST(a_cut_copy_says_nothing_against_the_whole_one),
        TEST(an_adapter_that_the_list_lacks_makes_it_partial),
        TEST(counters_may_differ_between_two_copies),
        TEST(a_bad_answer_is_told_once),
        TEST(a_file_that_cannot_be_read_is_unusable_not_refused),
        TEST(pci_functions_are_in_the_order_of_their_addresses),
    };

    xml_setup();
    return cmocka_run_group_tests_name("collect", tests, NULL, NULL);
}
