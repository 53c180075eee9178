#include "world.h"

#include "collect/probe.h"

static void readonly(enum ask_kind kind, bool permitted, const char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ask q = {.kind = kind, .text = slice_of(text[i])};
        struct err e = {0};
        int rc = ask_readonly(&q, &e);

        if (rc != (permitted ? 0 : VF_EDENIED) || (!permitted && !e.msg[0]))
            fail_msg("%s %s: %d %s", permitted ? "refused:" : "permitted:", text[i], rc, e.msg);
    }
}

static void commands_that_change_or_could_are_refused(void **state)
{
    static const char *const esxcli[] = {
        "system module set -e false -m vmw_ahci",
        "system module set --enabled=false --module=vmw_ahci",
        "system settings advanced set -o /NFS/MaxQueueDepth -i 64",
        "system module parameters set -m x -p y",
        "system module load -m x",
        "system coredump file remove",
        "system shutdown reboot -r x",
        "system maintenanceMode set -e true",
        "software vib install -v /tmp/x.vib",
        "software vib remove -n x",
        "software vib update -d x",
        "software profile update -p x -d y",
        "software acceptance set --level=CommunitySupported",
        "storage core device set -d naa.1 -O 64",
        "storage core adapter rescan --all",
        "storage vmfs unmap -l x",
        "storage filesystem mount -l x",
        "storage filesystem unmount -l x",
        "network diag ping -H 192.0.2.1",
        "network nic down -n vmnic0",
        "network firewall unload",
        "vm process kill -t force -w 1",
        "network ip interface add",
        "",
        "--formatter=xml",
        "-m list",
        "storage core adapter",
        "storage core adapter list ; reboot",
        "storage core adapter list;reboot",
        "storage core device list -d $(reboot)",
        "storage core device list -d `reboot`",
        "storage core device list -d naa.1 | sh",
        "storage core device list > /tmp/x",
        "storage core device list -d naa.1 && reboot",
        "storage core device list -d 'naa.1'",
        "storage core device list -d naa.1\nreboot",
        "storage core device list -d naa.*",
        "system module list set",
        "system module list --enabled=true set -m x",
        "system settings advanced list --set=1 -o /X",
        "SYSTEM MODULE SET -m x",
    };
    static const char *const shell[] = {
        "rm -rf /", "rm", "sh -c reboot", "sh", "vmkload_mod x", "vmkload_mod -u x", "vmkload_mod -s", "vmkload_mod -s x y", "esxcfg-module -d x",
        "esxcfg-module -e x", "esxcfg-module -s a x", "esxcfg-nics -s 1000 vmnic0", "esxcfg-vswitch -a x", "esxcfg-advcfg -s 1 /X", "vsish -e set /x 1",
        "vsish", "cat /etc/passwd", "reboot", "poweroff", "vim-cmd vmsvc/power.off 1", "vim-cmd hostsvc/maintenance_mode_enter",
        "vim-cmd hostsvc/autostartmanager/enable_autostart true", "vim-cmd hostsvc/autostartmanager/get_defaults x",
        "vmkchdev -p 0000:01:00.0", "vmkchdev", "ethtool -s vmnic0", "/opt/lsi/perccli64/perccli64 /call show",
        "/opt/lsi/perccli64/perccli64 /c0 restart nolog", "/opt/lsi/storcli/storcli /call delete nolog", "perccli64 /call show nolog",
        "/opt/smartstorageadmin/ssacli/bin/ssacli ctrl all show", "/opt/smartstorageadmin/ssacli/bin/ssacli ctrl slot=0 modify dwc=disable",
        "/opt/smartstorageadmin/ssacli/bin/ssacli ctrl all show config detail forced", "/opt/hp/hpssacli/bin/hpssacli ctrl all diag file=/tmp/x",
        "/opt/hp/hpacucli/bin/hpacucli ctrl slot=0 ld 1 delete forced", "ssacli ctrl all show detail", "/opt/hp/hpssacli/bin/ssacli ctrl all show detail",
        "/tmp/perccli64 /call show nolog", "ethtool -i -s", "vsish -e get -x", "lspci; reboot", "lspci && reboot", "lspci $(x)",
        "lspci `x`", "lspci | sh", "lspci >x", "lspci\nreboot", "", "LSPCI", "/sbin/lspci", "esxcli system module set -m x", "localcli system module list",
        "auto-backup.sh", "/usr/lib/vmware/secureboot/bin/secureBoot.py -c", "vsish -e get /x\ty", "date", "uptime -x",
    };
    static const char *const file[] = {
        "", "etc/x", "../etc/x", "/etc/../etc/shadow", "/a/..", "/etc/shadow", "/etc/shadow-", "/etc/ssh/ssh_host_rsa_key", "/etc/vmware/ssl/rui.key",
        "/etc//shadow", "/etc/./shadow", "//etc/shadow", "/etc/*", "/etc/sh*", "/etc/s*w", "/*/shadow", "/e*c/shadow", "/etc/ssh/*", "/etc/vmware/ssl/*",
        "/etc/vmware/*/rui.key", "/etc/vmware/$(x)", "/etc/vmware/`x`", "/etc/x;y", "/etc/x y|z", "/etc/x\ny", "/etc/[a]", "/etc/a?",
    };

    static const char *const redfish[] = {
        "", "/", "/redfish/v1/", "/redfish/v1/Systems", "/redfish/v1/*", "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate", "redfish/v1",
        "https://bmc01/redfish/v1", "/redfish/v1 ", "/REDFISH/V1", "/etc/passwd", "/redfish/../etc",
    };

    (void)state;
    readonly(ASK_REDFISH, false, redfish, sizeof redfish / sizeof *redfish);
    readonly(ASK_ESXCLI, false, esxcli, sizeof esxcli / sizeof *esxcli);
    readonly(ASK_SHELL, false, shell, sizeof shell / sizeof *shell);
    readonly(ASK_FILE, false, file, sizeof file / sizeof *file);
    for (int kind = ASK_ESXCLI; kind <= ASK_REDFISH; kind++) {
        struct ask nul = {.kind = (enum ask_kind)kind, .text = {"/x list\0set", 11}};

        assert_int_equal(ask_readonly(&nul, &(struct err){0}), VF_EDENIED);
    }
}

static void commands_that_read_are_permitted(void **state)
{
    static const char *const esxcli[] = {"storage core adapter list", "system version get", "system module get -m vmw_ahci",
                                         "storage core device list -d naa.600508b1001c1234", "software vib list --rebooting-image",
                                         "system settings advanced list -o /NFS/MaxQueueDepth", "storage core device list -d t10.ATA_____Disk__1:2",
                                         "network nic get -n vmnic0"};
    static const char *const shell[] = {"vmware -vl", "lspci", "lspci -p", "esxcfg-scsidevs -a", "esxcfg-module -i ahci", "vmkload_mod -s vmw_ahci",
                                        "ethtool -i vmnic0", "vsish -e get /hardware/cpu", "vim-cmd hostsvc/hostsummary", "vmkchdev -l",
                                        "vim-cmd hostsvc/autostartmanager/get_defaults"};
    static const char *const file[] = {"/bootbank/boot.cfg", "/etc/vmware/default.map.d/*.map", "/var/log/vmkernel.log", "/var/log/vmkernel.*"};

    (void)state;
    readonly(ASK_ESXCLI, true, esxcli, sizeof esxcli / sizeof *esxcli);
    readonly(ASK_SHELL, true, shell, sizeof shell / sizeof *shell);
    readonly(ASK_FILE, true, file, sizeof file / sizeof *file);
    readonly(ASK_REDFISH, true, &(const char *){"/redfish/v1"}, 1);
}

struct shipped {
    struct world w;
    struct probes probes;
};

static int load_probes(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct shipped *s = ctx;
    struct slice bytes = {NULL, 0};

    if (!slice_ends(slice_of(rel), ".xml") || strcmp(rel, "schema.xml") == 0 || strcmp(rel, "releases.xml") == 0 || strchr(rel, '/'))
        return 0;
    if (fsx_read(path, 8u << 20, s->w.a, &bytes, NULL, e) < 0)
        return e->code;
    return probes_load(&s->probes, bytes, arena_printf(s->w.a, "%s", rel), &s->w.schema, s->w.a, e);
}

/* With the values that hosts put into commands, too. */
static void every_probe_of_this_checkout_only_reads(void **state)
{
    static const char *const values[] = {"vmw_ahci", "naa.600508b1001c1234", "t10.NVMe____Disk", "/NFS/MaxQueueDepth", "vmnic0"};
    struct shipped s = {.probes = {0}};
    size_t asked = 0;

    (void)state;
    world_open(&s.w);
    if (fsx_walk("probes", load_probes, &s, &s.w.e) < 0)
        fail_msg("%s", s.w.e.msg);
    assert_true(s.probes.n > 20);
    for (size_t i = 0; i < s.probes.n; i++)
        for (unsigned k = 0; k < s.probes.v[i]->nways; k++) {
            const struct way *way = &s.probes.v[i]->ways[k];
            size_t at = slice_find(way->ask.text, 0, "{}");

            if (way->never)
                continue;
            for (size_t v = 0; v < (at == SIZE_MAX ? 1 : sizeof values / sizeof *values); v++) {
                const char *text = at == SIZE_MAX ? way->ask.text.p
                                                  : arena_printf(s.w.a, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(slice_cut(way->ask.text, 0, at)),
                                                                 values[v], SLICE_ARG(slice_from(way->ask.text, at + 2)));

                readonly(way->ask.kind, true, &text, 1);
                asked++;
            }
        }
    assert_true(asked > 50);
    world_close(&s.w);
}

/* What hosts could call their things must not become another command. */
static void a_hostile_value_in_a_command_is_refused(void **state)
{
    static const char *const values[] = {"naa.1;reboot", "$(reboot)", "`reboot`", "x|sh", "x&", "x>y", "x'y", "x\ny", "x set", "x --set=1", "x\\y", "x*"};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[100];

        (void)snprintf(text, sizeof text, "storage core device list -d %s", values[i]);
        readonly(ASK_ESXCLI, false, &(const char *){text}, 1);
        (void)snprintf(text, sizeof text, "vmkload_mod -s %s", values[i]);
        readonly(ASK_SHELL, false, &(const char *){text}, 1);
    }
}

static void a_broken_probe_is_refused_by_file_line_and_word(void **state)
{
#define ASK "<ask esxcli='storage core adapter list' shape='table' xml='seen' text='seen'/>"
#define COLUMN "<column name='name' key='HBA Name'/>"
#define PROBE(attributes, inside) "<probes format='1'>\n<probe " attributes ">\n" inside "</probe></probes>"
#define ADAPTER(inside) PROBE("id='a' table='adapter'", "<why>w</why>" inside)
    static const struct {
        const char *xml, *says;
    } t[] = {
        {"<probes format='2'></probes>", "format"},
        {"<probes format='1'><prob id='x'/></probes>", "unknown element \"prob\""},
        {PROBE("id='a' table='adaptr'", "<why>w</why>" ASK COLUMN), "did you mean \"adapter\""},
        {PROBE("table='adapter'", "<why>w</why>" ASK COLUMN), "id"},
        {PROBE("id='a' table='adapter' list='yes'", "<why>w</why>" ASK COLUMN), "did you mean \"lists\""},
        {PROBE("id='a' table='adapter' lists='all'", "<why>w</why>" ASK COLUMN), "yes, part, more or no"},
        {PROBE("id='a' table='adapter'", ASK COLUMN), "why"},
        {ADAPTER(COLUMN), "ask"},
        {ADAPTER(ASK), "column"},
        {ADAPTER(ASK "<column name='driver' key='Driver'/>"), "key column \"name\""},
        {ADAPTER(ASK COLUMN "<column name='drivr' key='Driver'/>"), "did you mean \"driver\""},
        {ADAPTER(ASK COLUMN "<column name='driver' key='Driver' value='x'/>"), "either key or value"},
        {ADAPTER(ASK COLUMN "<column name='driver'/>"), "either key or value"},
        {ADAPTER(ASK COLUMN "<column name='boots' key='x'/>"), "derived"},
        {ADAPTER(ASK COLUMN "<column name='driver' key='x' take='lowr'/>"), "did you mean \"lower\""},
        {ADAPTER("<ask esxcli='system module set -m x' shape='table'/>" COLUMN), "\"set\" changes the host"},
        {ADAPTER("<ask shell='rm -rf /' decoder='lines'/>" COLUMN), "read-only"},
        {ADAPTER("<ask file='/etc/shadow' decoder='lines'/>" COLUMN), "secrets"},
        {ADAPTER("<ask esxcli='a list' shell='lspci' shape='table'/>" COLUMN), "exactly one"},
        {ADAPTER("<ask shape='table'/>" COLUMN), "exactly one"},
        {ADAPTER("<ask shell='lspci'/>" COLUMN), "decoder"},
        {ADAPTER("<ask shell='lspci' decoder='guess'/>" COLUMN), "decoder"},
        {ADAPTER("<ask esxcli='a list'/>" COLUMN), "shape"},
        {ADAPTER("<ask esxcli='a list -m {}' shape='table'/>" COLUMN), "each"},
        {ADAPTER("<ask esxcli='a list' shape='table' each='module.name'/>" COLUMN), "each"},
        {ADAPTER("<ask esxcli='a list -m {}' shape='table' each='module.nam'/>" COLUMN), "table.column"},
        {ADAPTER("<ask esxcli='a list' shape='table' from='six'/>" COLUMN), "from"},
        {"<probes format='1'><ask esxcli='a list'/></probes>", "outside a probe"},
        {ADAPTER(ASK), "test.xml"},
    };
    struct world w;

    (void)state;
    world_open(&w);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct probes p = {0};
        struct err e = {0};

        if (probes_load(&p, slice_of(t[i].xml), "test.xml", &w.schema, w.a, &e) >= 0)
            fail_msg("accepted: %s", t[i].xml);
        if (!strstr(e.msg, t[i].says) || !strstr(e.msg, "test.xml"))
            fail_msg("%s\n%s, not \"%s\"", t[i].xml, e.msg, t[i].says);
    }
    {
        struct probes p = {0};
        struct err e = {0};

        assert_int_equal(probes_load(&p, SLICE_LIT(ADAPTER(ASK COLUMN)), "test.xml", &w.schema, w.a, &e), 0);
        assert_true(probes_load(&p, SLICE_LIT(ADAPTER(ASK COLUMN)), "again.xml", &w.schema, w.a, &e) < 0); /* an id twice */
    }
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_that_change_or_could_are_refused),
        cmocka_unit_test(commands_that_read_are_permitted),
        cmocka_unit_test(every_probe_of_this_checkout_only_reads),
        cmocka_unit_test(a_hostile_value_in_a_command_is_refused),
        cmocka_unit_test(a_broken_probe_is_refused_by_file_line_and_word),
    };

    xml_setup();
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
