#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/xml.h"
#include "cmd/env.h"

/*
 * What screens, pagers, mail and word processors do to copied answers, from the command to the cell: the value is the one that the host
 * printed, or it is not known.
 */

#define BOM  "\xef\xbb\xbf"
#define NBSP "\xc2\xa0"

struct copy {
    const char *what, *command, *text;
    enum decode_state want;
    const char *table, *key, *column, *value; /* "?" unknown, "-" absent, "" no row */
};

static void check(struct env *env, const struct copy *c)
{
    struct arena *a = arena_new(64u << 20);
    struct facts *f = facts_new(&env->schema, a);
    int t = schema_table(&env->schema, slice_of(c->table));
    int col = table_column(&env->schema.tables[t], slice_of(c->column));
    enum decode_state st;
    const struct row *r;
    struct slice got;
    struct err e = {0};
    size_t matched;

    if (collect_decode(&env->probes, slice_of(c->command), arena_dup(a, slice_of(c->text)), "answer.txt", f, &st, &matched, &e) < 0)
        fail_msg("%s: %s", c->what, e.msg);
    if (st != c->want)
        fail_msg("%s: state %d, not %d", c->what, st, c->want);
    r = facts_find(f, (unsigned)t, slice_of(c->key));
    got = !r                                     ? SLICE_LIT("")
          : r->cells[col].state == VS_UNKNOWN ? SLICE_LIT("?")
          : r->cells[col].state == VS_ABSENT  ? SLICE_LIT("-")
                                                 : value_text(&env->schema.tables[t].columns[col], &r->cells[col], a);
    if (!slice_eqz(got, c->value))
        fail_msg("%s: %s %s.%s is \"" SLICE_FMT "\", not \"%s\"", c->what, c->table, c->key, c->column, SLICE_ARG(got), c->value);
    arena_free(a);
}

static void check_all(const struct copy *v, size_t n)
{
    struct arena *a = arena_new(16u << 20);
    struct err e = {0};
    struct env env;

    assert_int_equal(env_open(&env, ".", NULL, &e), 0);
    for (size_t i = 0; i < n; i++)
        check(&env, &v[i]);
    env_close(&env);
    arena_free(a);
}

#define HBA0 "vmhba0  vmw_ahci  link-n/a  sata.vmhba0  (0000:00:11.4) Intel Corporation Wellsburg AHCI Controller\n"
#define HBA1 "vmhba1  lsi_mr3   link-n/a  sas.50030480 (0000:02:00.0) Avago (LSI) MegaRAID SAS Invader Controller\n"

static void marks_of_a_copy_are_taken_off_or_tell(void **state)
{
    static const struct copy v[] = {
        {"as printed", "esxcfg-scsidevs -a", HBA0 HBA1, DECODE_COMPLETE, "adapter", "vmhba0", "driver", "vmw_ahci"},
        {"byte order mark", "esxcfg-scsidevs -a", BOM HBA0 HBA1, DECODE_COMPLETE, "adapter", "vmhba0", "driver", "vmw_ahci"},
        {"byte order mark", "ethtool -i vmnic0", BOM "driver: igb\nversion: 5.0.5.1.1\nfirmware-version: 1.63\nbus-info: 0000:01:00.0\n",
         DECODE_COMPLETE, "nic", "vmnic0", "driver", "igb"},
        {"mail quotes", "esxcfg-scsidevs -a", "> " HBA0 "> " HBA1, DECODE_COMPLETE, "adapter", "vmhba1", "pci", "0000:02:00.0"},
        {"some quotes", "esxcfg-scsidevs -a", "> " HBA0 HBA1, DECODE_PARTIAL, "adapter", ">", "name", ""},
        {"no-break blanks", "esxcfg-scsidevs -a", "vmhba0" NBSP " vmw_ahci  link-n/a  sata.vmhba0  (0000:00:11.4) Intel AHCI\n" HBA1,
         DECODE_PARTIAL, "adapter", "vmhba0" NBSP, "name", ""},
        {"no-break blanks", "esxcli system version get", "   Product:" NBSP "VMware ESXi\n   Version:" NBSP "6.5.0\n   Build:" NBSP "x-4564106\n",
         DECODE_UNUSABLE, "esxi", "", "version", "?"},
        {"escape sequence", "esxcfg-scsidevs -a", "\x1b[0m" HBA0 HBA1, DECODE_PARTIAL, "adapter", "\x1b[0mvmhba0", "name", ""},
        {"a pager's words", "vmware -vl", "VMware ESXi 8.0.3 build-25205--More--845\nVMware ESXi 8.0 Update 3\n", DECODE_PARTIAL, "esxi", "", "build",
         "?"},
        {"a pager's words", "/etc/vmware/default.map.d/igbn.map",
         "regtype=native,bus=pci,id=8086--More--150e..............,driver=igbn\nregtype=native,bus=pci,id=8086150f..............,driver=igbn\n",
         DECODE_PARTIAL, "driver-map", "igbn/8086--More--150e..............", "bus", ""},
        {"a page's entities", "ethtool -i vmnic0", "driver: igb\nversion: 5.0\nfirmware-version: &quot;1&quot;\nbus-info: 0000:01:00.0\n",
         DECODE_PARTIAL, "nic", "vmnic0", "firmware", "?"},
        {"a character without width", "esxcfg-scsidevs -a", "vmhba0  vmw_\xe2\x80\x8b" "ahci  link-n/a  sata.vmhba0  (0000:00:11.4) Intel\n" HBA1,
         DECODE_PARTIAL, "adapter", "vmhba1", "driver", "lsi_mr3"},
        {"fences", "esxcfg-scsidevs -a", "```\n" HBA0 HBA1 "```\n", DECODE_PARTIAL, "adapter", "vmhba0", "driver", "vmw_ahci"},
        {"lines left out", "esxcfg-scsidevs -l", "naa.1\n   Display Name: X\n...\nnaa.2\n   Display Name: Y\n", DECODE_PARTIAL, "device", "...", "id",
         ""},
        {"another table", "esxcfg-scsidevs -a",
         "HBA Name  Driver    Link State  UID          Capabilities  Description\n"
         "--------  --------  ----------  -----------  ------------  -----------\n"
         "vmhba0    vmw_ahci  link-n/a    sata.vmhba0                (0000:00:11.4) Intel\n",
         DECODE_PARTIAL, "adapter", "--------", "name", ""},
        {"an error in the middle", "vsish -e cat /memory/comprehensive", "Comprehensive {\n   Physical memory estimate:1024 KB\n   Free:512 KB\n}\nError: lost\n",
         DECODE_PARTIAL, "memory", "Error", "name", ""},
    };

    (void)state;
    check_all(v, sizeof v / sizeof *v);
}

#define HBA_SHORT "vmhba32 vmkusb    link-n/a  usb.vmhba32  () USB\n"
/* 79 characters and the line end */
#define CUT0 "vmhba0  vmw_ahci  link-n/a  sata.vmhba0        (0000:00:11.4) Intel Corporation\n"
#define CUT1 "vmhba1  megaraid  link-n/a  sas.50030480deadbeef  (0000:02:00.0) Avago MegaRAID\n"

static void lines_cut_at_one_width_end_in_nothing_known(void **state)
{
    static const struct copy v[] = {
        {"in a bracket", "esxcfg-scsidevs -a",
         "vmhba0  vmw_ahci  link-n/a  sata.vmhba0            and so on and on and on (00:\n" HBA_SHORT, DECODE_PARTIAL, "adapter", "vmhba0", "pci", "?"},
        {"in a text", "esxcfg-scsidevs -a", CUT0 CUT1 HBA_SHORT, DECODE_PARTIAL, "adapter", "vmhba1", "description", "?"},
        {"the others are whole", "esxcfg-scsidevs -a", CUT0 CUT1 HBA_SHORT, DECODE_PARTIAL, "adapter", "vmhba32", "description", "USB"},
        {"columns missing", "esxcli storage filesystem list",
         "Mount Point                                        Volume Name  UUID           \n"
         "-------------------------------------------------  -----------  ---------------\n"
         "/vmfs/volumes/6000001a-0000001a-001a-00505600001a               6000001a-000000\n",
         DECODE_PARTIAL, "datastore", "6000001a-000000", "uuid", ""},
    };

    (void)state;
    assert_int_equal(strlen(CUT0), 80);
    assert_int_equal(strlen(CUT1), 80);
    check_all(v, sizeof v / sizeof *v);
}

#define NICS "Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description\n" \
             "------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------\n"

static void two_listings_in_one_answer_are_not_one(void **state)
{
    static const char row[] = "vmnic0  0000:01:00.0  igbn    Up            Up            1000  Full    00:50:56:00:00:01  1500  Intel I350\n";
    static const char xml[] = "<?xml version=\"1.0\"?><output xmlns=\"http://www.vmware.com/Products/ESX/5.0/esxcli\"><root><list type=\"structure\">"
                              "<structure typeName=\"N\"><field name=\"Name\"><string>vmnic0</string></field></structure>"
                              "<structure typeName=\"N\"><field name=\"Name\"><string>vmnic0</string></field></structure></list></root></output>";
    char twice[2048], pairs[512];
    const struct copy v[] = {
        {"tables", "esxcli network nic list", twice, DECODE_PARTIAL, "nic", "vmnic0", "driver", "igbn"},
        {"a name twice", "esxcli network nic list", xml, DECODE_PARTIAL, "nic", "vmnic0", "name", "vmnic0"},
        {"lines", "esxcfg-scsidevs -a", HBA0 HBA1 HBA0, DECODE_PARTIAL, "adapter", "vmhba0", "driver", "vmw_ahci"},
        {"groups", "vsish -e cat /memory/comprehensive", pairs, DECODE_PARTIAL, "memory", "Comprehensive/Free", "name", ""},
        {"CSV", "esxcli system module list", "IsEnabled,IsLoaded,Name,\ntrue,true,a,\nIsEnabled,IsLoaded,Name,\ntrue,true,b,\n", DECODE_PARTIAL, "module",
         "b", "loaded", "yes"},
    };

    (void)state;
    (void)snprintf(twice, sizeof twice, "%s%s%s%s", NICS, row, NICS, row);
    (void)snprintf(pairs, sizeof pairs, "%s%s", "Comprehensive {\n   Free:512 KB\n}\n", "Comprehensive {\n   Free:512 KB\n}\n");
    check_all(v, sizeof v / sizeof *v);
}

static void the_version_is_read_from_what_vmware_prints(void **state)
{
    static const struct copy v[] = {
        {"update", "vmware -vl", "VMware ESXi 8.0.3 build-25205845\nVMware ESXi 8.0 Update 3\n", DECODE_COMPLETE, "esxi", "", "update", "3"},
        {"first release", "vmware -vl", "VMware ESXi 5.0.0 build-469512\nVMware ESXi 5.0.0 GA\n", DECODE_COMPLETE, "esxi", "", "build", "469512"},
        {"no second line", "vmware -vl", "VMware ESXi 5.0.0 build-469512\n", DECODE_PARTIAL, "esxi", "", "build", "469512"},
        {"one line asked for", "vmware -v", "VMware ESXi 5.0.0 build-469512\n", DECODE_COMPLETE, "esxi", "", "version", "5.0.0"},
    };

    (void)state;
    check_all(v, sizeof v / sizeof *v);
}

#define LOG(t, m) "2017-02-25T17:34:1" t "Z cpu0:65560)" m "\n"

static void a_copied_log_does_not_count_as_looked_through(void **state)
{
    static const struct copy v[] = {
        {"as written", "/var/log/vmkernel.log", LOG("5.505", "Boot: 1") LOG("6.000", "Boot: 22"), DECODE_COMPLETE, "log", "x", "kind", ""},
        {"byte order mark", "/var/log/vmkernel.log", BOM LOG("5.505", "Boot: 1") LOG("6.000", "Boot: 22"), DECODE_COMPLETE, "log", "x", "kind", ""},
        {"after a boot", "/var/log/vmkernel.log",
         "VMB: 49: mbMagic: 2badb002\nTSC: 371456 cpu0:1)BootConfig: 698: x\n0:00:00:05.127 cpu0:32768)Boot: 1\n" LOG("5.505", "Boot: 1"), DECODE_COMPLETE,
         "log", "x", "kind", ""},
        {"another program's line", "/var/log/vmkernel.log", LOG("5.505", "Boot: 1") "2017-02-25T17:34:17.000Z mark: no cpu\n", DECODE_COMPLETE, "log", "x",
         "kind", ""},
        {"wrapped", "/var/log/vmkernel.log", LOG("5.505", "Boot: 1") "the rest\n", DECODE_PARTIAL, "log", "x", "kind", ""},
        {"left out", "/var/log/vmkernel.log", "...\n" LOG("5.505", "Boot: 1"), DECODE_PARTIAL, "log", "x", "kind", ""},
        {"entities", "/var/log/vmkernel.log", LOG("5.505", "dev &quot;naa.1&quot;"), DECODE_PARTIAL, "log", "x", "kind", ""},
        {"typographic quotes", "/var/log/vmkernel.log", LOG("5.505", "dev \xe2\x80\x9cnaa.1\xe2\x80\x9d"), DECODE_PARTIAL, "log", "x", "kind", ""},
        {"cut", "/var/log/vmkernel.log",
         LOG("5.505", "one line, longer than the screen is wide, c") LOG("6.505", "another one, no shorter, that has been cut "),
         DECODE_PARTIAL, "log", "x", "kind", ""},
    };

    (void)state;
    check_all(v, sizeof v / sizeof *v);
}

#define APD(t) LOG(t, "ScsiDeviceIO: 1223: Device naa.1 performance has deteriorated. I/O latency increased from average value of 1 microseconds to 2000 microseconds.")

static void a_log_pasted_twice_is_counted_once_or_not_at_all(void **state)
{
    static const char key[] = "latency-deteriorated/naa.1/2017-02-25T17";
    static const char *const once = APD("5.000") APD("6.000"), *const more = APD("5.000") APD("6.000") APD("7.000"),
                      *const other = APD("5.000") APD("6.000") APD("8.000");
    char same[2048], longer[2048], mixed[2048];
    const struct copy v[] = {
        {"once", "/var/log/vmkernel.log", once, DECODE_COMPLETE, "log", key, "count", "2"},
        {"twice", "/var/log/vmkernel.log", same, DECODE_PARTIAL, "log", key, "count", "2"},
        {"the second is longer", "/var/log/vmkernel.log", longer, DECODE_PARTIAL, "log", key, "count", "3"},
        {"neither holds the other", "/var/log/vmkernel.log", mixed, DECODE_PARTIAL, "log", key, "count", "?"},
    };

    (void)state;
    (void)snprintf(same, sizeof same, "%s\n%s", once, once);
    (void)snprintf(longer, sizeof longer, "%s%s", once, more);
    (void)snprintf(mixed, sizeof mixed, "%s%s", more, other);
    check_all(v, sizeof v / sizeof *v);
}

/* A host of which every answer ended well and is empty. */
struct silent {
    struct channel channel;
    const char *ending;
};

static int say_nothing(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    const struct silent *s = (const struct silent *)(const void *)c;
    char where[64];
    int rc;

    (void)q;
    (void)e;
    (void)snprintf(where, sizeof where, "answer%s", s->ending);
    rc = fn(ctx, &(struct reply){.status = REPLY_OK, .where = slice_of(where)});
    return rc < 0 ? rc : 0;
}

static void an_empty_answer_is_an_empty_list_in_text_alone(void **state)
{
    static const struct channel_ops ops = {.name = "silent", .ask = say_nothing};
    static const struct {
        const char *ending, *table;
        enum table_state want;
    } v[] = {{".txt", "adapter", TS_COMPLETE}, {".xml", "adapter", TS_UNKNOWN}, {".json", "adapter", TS_UNKNOWN}, {".txt", "log", TS_UNKNOWN}};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct silent s = {{&ops}, v[i].ending};
        struct arena *a = arena_new(64u << 20);
        struct facts *f;
        struct env env;

        assert_int_equal(env_open(&env, ".", NULL, &e), 0);
        f = facts_new(&env.schema, a);
        assert_int_equal(collect_run(&s.channel, &env.probes, f, &e), 0);
        assert_int_equal(facts_table(f, (unsigned)schema_table(&env.schema, slice_of(v[i].table)), NULL), v[i].want);
        env_close(&env);
        arena_free(a);
    }
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static void what_a_windows_shell_wrote_says_so(void **state)
{
    static const char *const marks[] = {"\xff\xfe" "v", "\xfe\xff" "v"};

    (void)state;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (const struct decoder *d = decoders; d->name; d++) {
            struct arena *a = arena_new(1u << 20);
            struct decode_opt o = {.name = "x"};
            struct decoded out = {0};

            assert_int_equal(decode_answer(d, slice_of(marks[i]), &o, a, &out), 0);
            assert_int_equal(out.state, DECODE_UNUSABLE);
            assert_non_null(strstr(out.why, "UTF-16"));
            arena_free(a);
        }
}

static void any_bytes_are_survived_by_every_decoder(void **state)
{
    static const char *const marks[] = {BOM, NBSP, "\xc2", "\xe2\x80", "\xe2\x80\x8b", "--More--", "&quot;", "> ", "\n>", "```\n", "...\n", "\x1b[0m", "(", "\n",
                                        "\n---  ---\n", "                                                                               \n"};
    static const char *const texts[] = {HBA0 HBA1, CUT0 CUT1 HBA_SHORT, NICS, NICS NICS, "> a: 1\n> b: 2\n", ">\n>\n", "Comprehensive {\n   Free:512 KB\n}\n",
                                        APD("5.000") APD("6.000") APD("5.000") APD("6.000"), "naa.1\n   Display Name: X\n", "A,B,\n1,2,\n"};
    uint64_t seed = 11;

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        const struct decode_opt o = {.shape = (enum decode_shape)(round % 5), .columns = "A|B|C", .line = "{A} {B?} {C...}", .name = "answer"};
        struct arena *a = arena_new(32u << 20);
        _cleanup_(buf_done) struct buf b = BUF_INIT(65536);
        struct slice text = slice_of(texts[round % (sizeof texts / sizeof *texts)]);
        size_t at = next_random(&seed) % (text.n + 1);

        buf_add(&b, slice_cut(text, 0, at));
        for (unsigned k = 0; k <= round % 3; k++)
            buf_addz(&b, marks[next_random(&seed) % (sizeof marks / sizeof *marks)]);
        buf_add(&b, slice_from(text, at));
        b.n -= next_random(&seed) % 4 == 0 ? next_random(&seed) % (b.n + 1) : 0;
        for (const struct decoder *d = decoders; d->name; d++) {
            struct decoded out = {0};
            int rc = decode_answer(d, arena_dup(a, buf_slice(&b)), &o, a, &out);

            assert_true(rc == 0 || rc == VF_ELIMIT);
            assert_true(rc < 0 || (out.state == DECODE_COMPLETE) == !out.why);
        }
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_of_a_copy_are_taken_off_or_tell),
        cmocka_unit_test(lines_cut_at_one_width_end_in_nothing_known),
        cmocka_unit_test(two_listings_in_one_answer_are_not_one),
        cmocka_unit_test(the_version_is_read_from_what_vmware_prints),
        cmocka_unit_test(a_copied_log_does_not_count_as_looked_through),
        cmocka_unit_test(a_log_pasted_twice_is_counted_once_or_not_at_all),
        cmocka_unit_test(an_empty_answer_is_an_empty_list_in_text_alone),
        cmocka_unit_test(what_a_windows_shell_wrote_says_so),
        cmocka_unit_test(any_bytes_are_survived_by_every_decoder),
    };

    xml_setup();
    return cmocka_run_group_tests_name("decode_answer", tests, NULL, NULL);
}
