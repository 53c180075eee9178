#include "world.h"

#include "core/gate.h"

/* A host on which the fix of the founding case may be done; each test changes one thing that must stop it. */

static const char rules[] =
    RULES(RULE("slow", "adapter", "",
               "<when><esxi from='6.5'/></when><bad driver='vmw_ahci'/>"
               RULE_WHY "<fix id='go-back' risk='boot'><require><vib name='sata-ahci'/></require><module-enable name='ahci'/>"
               "<module-disable name='vmw_ahci'/><then driver='ahci'/></fix>"
               "<fix id='both' risk='boot'><module-disable name='ahci'/><module-disable name='vmw_ahci'/></fix>"
               "<fix id='usb' risk='boot'><module-disable name='vmkusb'/></fix>"
               "<fix id='depth' risk='live'><device-set device='naa.1' competing-ios='${adapter.ports}'/></fix>"
               "<fix id='filesystem' risk='boot'><module-disable name='vmfs3'/></fix>"
               "<fix id='set' risk='live'><setting-set path='/A/B' value='7'/></fix>"
               "<fix id='set-beyond' risk='live'><setting-set path='/A/B' value='11'/></fix>"
               "<fix id='set-text' risk='live'><setting-set path='/A/C' value='1'/></fix>"
               "<fix id='set-gone' risk='live'><setting-set path='/A/D' value='1'/></fix>"
               "<fix id='kernel' risk='reboot'><kernel-setting-set name='k' value='TRUE'/></fix>"
               "<fix id='kernel-gone' risk='reboot'><kernel-setting-set name='j' value='TRUE'/></fix>"
               "<fix id='remove' risk='reboot'><vib-remove name='net-old'/></fix>"
               "<fix id='remove-base' risk='reboot'><vib-remove name='esx-base'/></fix>"
               "<fix id='remove-gone' risk='reboot'><vib-remove name='net-gone'/></fix>"
               "<fix id='words' risk='none'><advise>Wait.</advise></fix>" "<matches/><ignores/></rule><rule id='guard' subject='host' severity='note' "
               "status='stable' reviewed='2026-11-30' restrains='slow'><title>a guard</title><bad vsan='yes'/>"));

static const char host[] =
    "@6.5\n"
    "host|reboot-pending=no|boot-usb=no|vsan=no|log-minutes=60\n"
    "adapter vmhba0|driver=vmw_ahci|pci=0000:00:11.4|boots=no|devices=naa.1|machines=-|ports=4\n"
    "adapter vmhba1|driver=vmw_ahci|pci=0000:00:1f.2|boots=no|devices=naa.2|machines=-\n"
    "adapter vmhba32|driver=other|pci=-|boots=no\n"
    "nic vmnic0|driver=igbn|pci=0000:04:00.0\n"
    "pci 0000:00:11.4|id=8086:8d62:15d9:0832|class=0106|candidates=vmw_ahci,ahci|passthru=no\n"
    "pci 0000:00:1f.2|id=8086:8d02:15d9:0832|class=0106|candidates=vmw_ahci,ahci|passthru=no\n"
    "pci 0000:04:00.0|id=8086:1533|class=0200|candidates=igbn|passthru=no\n"
    "module vmw_ahci|enabled=yes|loaded=yes|change-pending=no\n"
    "module ahci|enabled=no|loaded=no|change-pending=no|api=vmklinux|vib=sata-ahci|"
    "namespaces=com.vmware.libata@9.2.3.0, com.vmware.driverAPI@9.2.3.0\n"
    "module vmkusb|enabled=yes|loaded=yes|change-pending=no\ndriver-map vmkusb/0|driver=vmkusb|bus=pci\n"
    "module vmklinux_9|enabled=yes|loaded=yes|api=vmklinux|vib=esx-base\n"
    "module libata_92|enabled=yes|loaded=yes|api=vmklinux|vib=ata-libata-92\n"
    "bootbank /bootbank|modules=b.b00 --- ata_liba.v00 --- sata_ahc.v00 --- vmw_ahci.v00 --- state.tgz\n"
    "module vmfs3|enabled=yes|loaded=yes|api=native\nmodule old_drv|enabled=yes|loaded=no|vib=net-old\n"
    "vib sata-ahci|\nvib ata-libata-92|\nvib vmw-ahci|\nvib net-old|\nvib esx-base|\n"
    "setting /A/B|type=integer|min=0|max=10\nsetting /A/C|type=string\nkernel-setting k|\n"
    "device naa.1|model=Disk\ndevice naa.2|model=Disk\n";

static int setup(void **state)
{
    (void)world_setup(state);
    world_rules(*state, rules);
    return 0;
}

static const struct fix *fix_named(const struct rule *r, const char *id)
{
    for (unsigned i = 0; i < r->nfixes; i++)
        if (slice_eqz(r->fixes[i].id, id))
            return &r->fixes[i];
    fail_msg("no fix %s", id);
    return NULL;
}

/* The host with further lines, and what may be done for vmhba0. */
static struct fix_check judge(struct world *w, const char *states, const char *more, const char *fix)
{
    struct match_ctx m;
    const struct finding *f;
    struct fix_check check;
    struct findings fs;

    world_facts(w, arena_printf(w->a, "%s%s%s", states, host, more));
    world_match(w, &fs);
    f = world_finding(&fs, "slow", "vmhba0");
    assert_non_null(f);
    m = (struct match_ctx){.rules = &w->rs, .facts = w->f, .arena = w->a};
    fix_judge(&m, f, fix_named(f->rule, fix), &check);
    assert_int_equal(check.nreasons == 0, check.state == GATE_OPEN); /* what is shut says why */
    if (check.state != GATE_OPEN)
        assert_int_equal(check.ncommands, 0);
    return check;
}

static bool says(const char **texts, size_t n, const char *part)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(texts[i], part))
            return true;
    return false;
}

static void the_commands_of_an_open_fix_are_given_in_order_with_their_undo(void **state)
{
    struct fix_check c = judge(*state, "", "", "go-back");

    assert_int_equal(c.state, GATE_OPEN);
    assert_int_equal(c.ncommands, 3);
    assert_string_equal(c.commands[0], "esxcli system module set --enabled=true --module=ahci");
    assert_string_equal(c.commands[1], "esxcli system module set --enabled=false --module=vmw_ahci");
    assert_string_equal(c.commands[2], "/sbin/auto-backup.sh");
    assert_string_equal(c.undo[0], "esxcli system module set --enabled=false --module=ahci");
    assert_string_equal(c.undo[1], "esxcli system module set --enabled=true --module=vmw_ahci");
    assert_null(c.undo[2]);
    assert_true(says(c.notes, c.nnotes, "ahci would then claim vmhba0"));
    assert_true(says(c.notes, c.nnotes, "ahci would then claim vmhba1")); /* the setting is host-wide */
}

struct gate {
    const char *states, *more, *fix;
    enum gate_state state;
    const char *reason;
};

static void every_gate_stops_the_fix(void **state)
{
    static const struct gate t[] = {
        /* who takes the device */
        {"", "pci 0000:00:11.4|candidates=vmw_ahci\n", "go-back", GATE_REFUSED, "no other driver"},
        {"", "pci 0000:00:1f.2|candidates=vmw_ahci\n", "go-back", GATE_REFUSED, "vmhba1"}, /* another device of the same module */
        {"", "pci 0000:00:11.4|candidates=-\n", "go-back", GATE_REFUSED, "no other driver"},
        {"", "pci 0000:00:11.4|candidates=?\n", "go-back", GATE_UNKNOWN, "which driver would take vmhba0"},
        {"", "pci 0000:00:11.4|candidates=vmw_ahci,gone\n", "go-back", GATE_REFUSED, "no other driver"},
        {"!module partial\n", "pci 0000:00:11.4|candidates=vmw_ahci,gone\n", "go-back", GATE_UNKNOWN, "whether this host has the module gone"},
        {"", "pci 0000:00:11.4|candidates=vmw_ahci,idle\nmodule idle|enabled=no\n", "go-back", GATE_REFUSED, "no other driver"},
        {"", "pci 0000:00:11.4|candidates=vmw_ahci,idle\nmodule idle|enabled=?\n", "go-back", GATE_UNKNOWN, "may load for vmhba0"},
        {"", "module ahci|enabled=yes\n", "both", GATE_REFUSED, "no other driver"}, /* the only other one is disabled by the same fix */
        {"", "adapter vmhba0|pci=?\n", "go-back", GATE_UNKNOWN, "PCI function of vmhba0"},
        {"", "adapter vmhba0|pci=0000:ff:00.0\n", "go-back", GATE_UNKNOWN, "PCI function of vmhba0"},
        {"", "adapter vmhba0|pci=-\n", "go-back", GATE_REFUSED, "no PCI function of its own"},
        {"", "nic vmnic0|driver=vmw_ahci\n", "go-back", GATE_REFUSED, "vmnic0"},
        {"", "pci 0000:00:11.4|candidates=vmw_ahci,vmkusb,ahci\n", "go-back", GATE_REFUSED, "not the driver that this fix is to lead to"},
        {"", "pci 0000:00:11.4|module=ahci\n", "go-back", GATE_UNKNOWN, "the PCI list says that ahci drives vmhba0"},
        {"", "adapter vmhba1|driver=-\n", "go-back", GATE_UNKNOWN, "printed as none"},
        {"!driver-map partial\n", "pci 0000:00:11.4|candidates=vmw_ahci\n", "go-back", GATE_UNKNOWN, "whether another driver lists"},
        {"!adapter partial\n", "", "go-back", GATE_UNKNOWN, "the adapter list is not complete"},
        {"!nic unknown\n", "", "go-back", GATE_UNKNOWN, "the nic list is not complete"},
        {"", "adapter vmhba1|driver=?\n", "go-back", GATE_UNKNOWN, "vmhba1"},
        {"", "@7.0u3\npci 0000:00:11.4|candidates=vmw_ahci\n", "go-back", GATE_REFUSED, "from 7.0 there are no vmklinux drivers"},
        /* functions that are in no list */
        {"", "pci 0000:05:00.0|module=vmw_ahci|alias=vmhba9|id=8086:8d62|candidates=vmw_ahci,ahci\n", "go-back", GATE_UNKNOWN, "vmhba9 (0000:05:00.0), which is not in the list"},
        {"", "pci 0000:05:00.0|module=vmw_ahci|id=8086:8d62|candidates=vmw_ahci\n", "go-back", GATE_REFUSED, "no other driver"},
        {"", "pci 0000:05:00.0|module=?|id=8086:8d62|candidates=vmw_ahci,ahci\n", "go-back", GATE_UNKNOWN, "whether vmw_ahci drives 0000:05:00.0"},
        {"!pci partial\n", "", "go-back", GATE_UNKNOWN, "the pci list is not complete"},
        /* what a vmklinux driver stands on */
        {"", "module vmklinux_9|enabled=no\n", "go-back", GATE_REFUSED, "needs vmklinux_9, which is disabled"},
        {"", "module vmklinux_9_2_3_0|enabled=no\n", "go-back", GATE_REFUSED, "needs vmklinux_9_2_3_0, which is disabled"},
        {"", "module libata_92|enabled=no\n", "go-back", GATE_REFUSED, "needs libata_92, which is disabled"},
        {"", "module libata_92|enabled=?\n", "go-back", GATE_UNKNOWN, "needs libata_92"},
        {"", "module ahci|api=?\n", "go-back", GATE_UNKNOWN, "native driver or needs vmklinux"},
        /* what is no driver */
        {"", "", "filesystem", GATE_REFUSED, "no map file names it"},
        {"!driver-map unknown\n", "", "filesystem", GATE_UNKNOWN, "whether vmfs3 is a device driver"},
        /* settings and VIBs */
        {"", "", "set-beyond", GATE_REFUSED, "takes no value 11"},
        {"", "", "set-text", GATE_REFUSED, "takes a text"},
        {"", "", "set-gone", GATE_REFUSED, "no setting /A/D"},
        {"!setting partial\n", "", "set-gone", GATE_UNKNOWN, "has the setting /A/D"},
        {"", "", "kernel-gone", GATE_REFUSED, "no VMkernel option j"},
        {"!kernel-setting unknown\n", "", "kernel-gone", GATE_UNKNOWN, "VMkernel option j"},
        {"", "module old_drv|loaded=yes\n", "remove", GATE_REFUSED, "its module old_drv is loaded"},
        {"", "module old_drv|loaded=?\n", "remove", GATE_UNKNOWN, "its module old_drv"},
        {"", "", "remove-base", GATE_REFUSED, "part of ESXi itself"},
        {"", "", "remove-gone", GATE_REFUSED, "net-gone is not installed"},
        {"!vib partial\n", "", "remove-gone", GATE_UNKNOWN, "whether the VIB net-gone is installed"},
        /* arrays in firmware */
        {"", "pci 0000:00:1f.2|class=0104\n", "go-back", GATE_REFUSED, "RAID function"},
        {"", "pci 0000:00:1f.2|id=1b4b:9230:1028:1fdf\n", "go-back", GATE_REFUSED, "BOSS"},
        {"", "pci 0000:05:00.0|module=vmw_ahci|id=1b4b:9230|candidates=vmw_ahci,ahci\n", "go-back", GATE_REFUSED, "BOSS"},
        {"!path partial\n", "", "go-back", GATE_UNKNOWN, "devices hang on vmhba0 is not known in full"},
        {"", "device naa.1|model=?\n", "go-back", GATE_UNKNOWN, "boot card's disk"},
        {"", "pci 0000:00:11.4|id=8086:2826:15d9:0832\n", "go-back", GATE_REFUSED, "RAID function"},
        {"", "pci 0000:00:1f.2|id=8086:2822\n", "go-back", GATE_REFUSED, "RAID function"},
        {"", "pci 0000:00:11.4|id=?\n", "go-back", GATE_UNKNOWN, "RAID function"},
        {"", "pci 0000:00:11.4|class=?\n", "go-back", GATE_UNKNOWN, "RAID function"},
        {"", "pci 0000:00:11.4|class=-\n", "go-back", GATE_UNKNOWN, "RAID function"},
        /* what the host boots from */
        {"", "adapter vmhba0|boots=?\n", "go-back", GATE_UNKNOWN, "boots over vmhba0"},
        {"", "device naa.1|model=DELLBOSS VD\n", "go-back", GATE_REFUSED, "BOSS"},
        {"", "device naa.2|model=DELLBOSS VD\n", "go-back", GATE_REFUSED, "BOSS"},
        {"", "host|boot-usb=yes\n", "usb", GATE_REFUSED, "boots from USB"},
        {"", "host|boot-usb=?\n", "usb", GATE_UNKNOWN, "boots from USB"},
        /* the next boot */
        {"", "host|reboot-pending=yes\n", "go-back", GATE_REFUSED, "already waits for the next boot"},
        {"", "host|reboot-pending=?\n", "go-back", GATE_UNKNOWN, "already waits for the next boot"},
        {"", "log l|kind=bootbank-missing\n", "go-back", GATE_REFUSED, "boot bank"},
        {"", "host|log-minutes=59\n", "go-back", GATE_UNKNOWN, "less than an hour"},
        {"", "host|log-minutes=?\n", "go-back", GATE_UNKNOWN, "less than an hour"},
        {"!log unknown\n", "", "go-back", GATE_UNKNOWN, "missing boot bank is not known"},
        {"", "device naa.9|status=dead\n", "go-back", GATE_REFUSED, "all paths to naa.9 are dead"},
        {"", "device naa.9|paths=2|active-paths=0|dead-paths=2\n", "go-back", GATE_REFUSED, "all paths to naa.9 are dead"},
        /* who has the function */
        {"", "pci 0000:00:1f.2|configured-owner=VM Passthru|owner=Unknown\n", "go-back", GATE_REFUSED, "passed through to a machine from the next boot"},
        {"", "pci 0000:00:1f.2|module=-\n", "go-back", GATE_UNKNOWN, "told differently"},
        {"", "nic vmnic9|driver=-\n", "go-back", GATE_UNKNOWN, "printed as none"},
        {"", "nic vmnic9|driver=-|pci=0000:09:00.0\npci 0000:09:00.0|module=-|id=1dd8:1002|candidates=-\n", "go-back", GATE_OPEN, NULL},
        /* what the VMkernel has already */
        {"", "kernel-setting k|configured=TRUE\n", "kernel", GATE_REFUSED, "configured as TRUE already"},
        /* libata has a VIB of its own */
        {"", "module libata_92|vib=?\n", "go-back", GATE_UNKNOWN, "whether libata_92 is there"},
        /* the rule's own conditions, and its guards */
        {"!vib partial\n", "", "go-back", GATE_OPEN, NULL}, /* the VIB is there, whatever else is missing */
        {"", "host|vsan=?\n", "go-back", GATE_UNKNOWN, "a guard"},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct fix_check c = judge(*state, t[i].states, t[i].more, t[i].fix);

        if (c.state != t[i].state)
            fail_msg("%s%s %s: %d, %s", t[i].states, t[i].more, t[i].fix, c.state, c.nreasons ? c.reasons[0] : "no reason");
        if (t[i].reason && !says(c.reasons, c.nreasons, t[i].reason))
            fail_msg("%s%s: %s, not \"%s\"", t[i].states, t[i].more, c.reasons[0], t[i].reason);
    }
}

/* The tables above only mean something when the same fixes are open without the change. */
static void the_fixes_are_open_on_the_host_as_it_is(void **state)
{
    assert_int_equal(judge(*state, "", "", "usb").state, GATE_OPEN);
    assert_int_equal(judge(*state, "", "module ahci|enabled=yes\n", "go-back").state, GATE_OPEN);
    assert_int_equal(judge(*state, "", "", "depth").state, GATE_OPEN);
    assert_int_equal(judge(*state, "", "", "words").state, GATE_OPEN);
    assert_int_equal(judge(*state, "", "", "set").state, GATE_OPEN);
    assert_int_equal(judge(*state, "", "", "kernel").state, GATE_OPEN);
    assert_int_equal(judge(*state, "", "", "remove").state, GATE_OPEN);
}

static void what_the_fix_requires_must_hold(void **state)
{
    struct world *w = *state;
    struct match_ctx m = {.rules = &w->rs, .arena = w->a};
    struct finding f;
    struct fix_check c;
    enum tri when;

    for (int i = 0; i < 3; i++) {
        static const char *const states[] = {"", "!vib partial\n", "!vib unknown\n"};
        const char *lines = arena_printf(w->a, "%s%s", states[i], host);
        const char *vib = strstr(lines, "vib sata-ahci|");

        world_facts(w, arena_printf(w->a, "%.*s%s", (int)(vib - lines), lines, strstr(vib, "device naa.1")));
        m.facts = w->f;
        match_rule(&m, rules_find(&w->rs.rules, SLICE_LIT("slow")), world_find(w, "adapter", "vmhba0"), &f, &when);
        fix_judge(&m, &f, fix_named(f.rule, "go-back"), &c);
        assert_int_equal(c.state, i == 0 ? GATE_REFUSED : GATE_UNKNOWN); /* a cut list does not prove that the VIB is missing */
        assert_true(says(c.reasons, c.nreasons, "required: vib"));
        assert_int_equal(c.unfit, i == 0);
        assert_int_equal(c.ncommands, 0);
    }
}

static void a_module_that_the_host_does_not_have_cannot_be_changed(void **state)
{
    struct world *w = *state;
    struct match_ctx m = {.rules = &w->rs, .arena = w->a};

    for (int partial = 0; partial < 2; partial++) {
        const char *lines = arena_printf(w->a, "%s%s", partial ? "!module partial\n" : "", host), *usb = strstr(lines, "module vmkusb");
        struct finding f;
        struct fix_check c;
        enum tri when;

        world_facts(w, arena_printf(w->a, "%.*s%s", (int)(usb - lines), lines, strchr(usb, '\n') + 1));
        m.facts = w->f;
        match_rule(&m, rules_find(&w->rs.rules, SLICE_LIT("slow")), world_find(w, "adapter", "vmhba0"), &f, &when);
        fix_judge(&m, &f, fix_named(f.rule, "usb"), &c);
        assert_int_equal(c.state, partial ? GATE_UNKNOWN : GATE_REFUSED);
        assert_true(says(c.reasons, c.nreasons, "module vmkusb"));
    }
}

static void a_driver_without_what_it_stands_on_is_no_way_out(void **state)
{
    static const char *const shims[] = {"module vmklinux_9|", "module libata_92|"};
    struct world *w = *state;
    struct match_ctx m = {.rules = &w->rs, .arena = w->a};

    for (int i = 0; i < 4; i++) {
        const char *lines = arena_printf(w->a, "%s%s", i & 1 ? "!module partial\n" : "", host), *shim = strstr(lines, shims[i / 2]);
        struct finding f;
        struct fix_check c;
        enum tri when;

        world_facts(w, arena_printf(w->a, "%.*s%s", (int)(shim - lines), lines, strchr(shim, '\n') + 1));
        m.facts = w->f;
        match_rule(&m, rules_find(&w->rs.rules, SLICE_LIT("slow")), world_find(w, "adapter", "vmhba0"), &f, &when);
        fix_judge(&m, &f, fix_named(f.rule, "go-back"), &c);
        assert_int_equal(c.state, i & 1 ? GATE_UNKNOWN : GATE_REFUSED);
        assert_true(says(c.reasons, c.nreasons, "ahci needs a module"));
    }
}

/* File names as in the boot.cfg of 6.5.0 build 4564106. */
static void a_driver_whose_file_is_not_loaded_at_boot_is_no_way_out(void **state)
{
    static const struct {
        const char *modules;
        enum gate_state expected;
        const char *says;
    } banks[] = {
        {"modules=b.b00 --- ata_liba.v00 --- sata_ahc.v00 --- state.tgz", GATE_OPEN, NULL},
        {"modules=sata_ahc.v00 --- state.tgz --- ata_liba.v01", GATE_OPEN, NULL},
        {"modules=b.b00 --- ata_liba.v00 --- state.tgz", GATE_UNKNOWN, "names no file of sata-ahci"},
        {"modules=b.b00 --- ata_liba.v00 --- sata_ata.v00 --- sata_ahc --- state.tgz", GATE_UNKNOWN, "names no file of sata-ahci"},
        {"modules=b.b00 --- sata_ahc.v00 --- state.tgz", GATE_UNKNOWN, "libata_92 is there at the next boot is not known"},
        {"modules=?", GATE_UNKNOWN, "ahci is there at the next boot is not known"},
    };

    for (size_t i = 0; i < sizeof banks / sizeof *banks; i++) {
        struct world *w = *state;
        struct fix_check c = judge(w, "", arena_printf(w->a, "bootbank /bootbank|%s\n", banks[i].modules), "go-back");

        assert_int_equal(c.state, banks[i].expected);
        assert_true(!banks[i].says || says(c.reasons, c.nreasons, banks[i].says));
    }
}

static void a_finding_in_doubt_gives_no_commands(void **state)
{
    struct world *w = *state;
    struct match_ctx m;
    struct finding f;
    struct fix_check c;
    enum tri when;

    world_facts(w, arena_printf(w->a, "%sadapter vmhba0|driver=?\n", host));
    m = (struct match_ctx){.rules = &w->rs, .facts = w->f, .arena = w->a};
    match_rule(&m, rules_find(&w->rs.rules, SLICE_LIT("slow")), world_find(w, "adapter", "vmhba0"), &f, &when);
    assert_int_equal(f.result, TRI_UNKNOWN);
    fix_judge(&m, &f, fix_named(f.rule, "depth"), &c);
    assert_int_equal(c.state, GATE_UNKNOWN);
    assert_true(says(c.reasons, c.nreasons, "not certain"));
    assert_int_equal(c.ncommands, 0);
}

static void a_function_that_is_passed_through_needs_no_driver(void **state)
{
    static const char *const ways[] = {"pci 0000:00:11.4|candidates=vmw_ahci|passthru=yes\n",
                                       "pci 0000:00:11.4|candidates=?|owner=VM Passthru\n"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        assert_int_equal(judge(*state, "", ways[i], "go-back").state, GATE_OPEN);
}

static void what_a_person_must_know_is_noted(void **state)
{
    struct fix_check c = judge(*state, "", "adapter vmhba0|boots=yes|machines=1,2\nmodule igbn|enabled=yes\n", "go-back");

    assert_int_equal(c.state, GATE_OPEN);
    assert_true(says(c.notes, c.nnotes, "the host boots over vmhba0"));
    assert_true(says(c.notes, c.nnotes, "2 running machines"));
    assert_false(says(c.notes, c.nnotes, "at least"));
    assert_true(says(c.notes, c.nnotes, "next reboot"));
    c = judge(*state, "!vm partial\n", "adapter vmhba0|machines=1,2\n", "go-back");
    assert_true(says(c.notes, c.nnotes, "at least 2 running machines")); /* a list that was cut proves no number */
    c = judge(*state, "", "adapter vmhba0|machines=?\n", "go-back");
    assert_true(says(c.notes, c.nnotes, "which machines run on datastores behind vmhba0 is not known"));
    c = judge(*state, "",
              "nic vmnic0|driver=vmw_ahci|vswitches=vSwitch0\npci 0000:04:00.0|candidates=vmw_ahci,ahci\nvmknic vmk0|switch=vSwitch0\nvswitch vSwitch0|\n",
              "go-back");
    assert_int_equal(c.state, GATE_OPEN);
    assert_true(says(c.notes, c.nnotes, "management network"));
}

static void arguments_come_from_the_subject_and_are_checked(void **state)
{
    struct fix_check c = judge(*state, "", "", "depth");

    assert_int_equal(c.ncommands, 1);
    assert_string_equal(c.commands[0], "esxcli storage core device set --device=naa.1 --sched-num-req-outstanding=4");
    c = judge(*state, "", "adapter vmhba0|ports=?\n", "depth");
    assert_int_equal(c.state, GATE_UNKNOWN);
    assert_true(says(c.reasons, c.nreasons, "adapter.ports is not known"));
    c = judge(*state, "", "adapter vmhba0|ports=-4\n", "depth"); /* not what the argument's grammar allows */
    assert_int_equal(c.state, GATE_REFUSED);
}

static void a_disputed_cell_is_no_argument(void **state)
{
    struct world *w = *state;
    struct match_ctx m = {.rules = &w->rs, .arena = w->a};
    struct fix_check c;
    struct findings fs;
    const struct finding *f;

    world_facts(w, host);
    world_dispute(w, "adapter", "vmhba0", "ports", value_int(6));
    world_match(w, &fs);
    f = world_finding(&fs, "slow", "vmhba0");
    assert_non_null(f);
    m.facts = w->f;
    fix_judge(&m, f, fix_named(f->rule, "depth"), &c);
    assert_int_equal(c.state, GATE_UNKNOWN);
    assert_true(says(c.reasons, c.nreasons, "adapter.ports is not known"));
    assert_int_equal(c.ncommands, 0);
}

static void advice_alone_has_no_commands(void **state)
{
    struct fix_check c = judge(*state, "", "", "words");

    assert_int_equal(c.ncommands, 0);
}

/* --- actions --- */

static void arguments_fit_their_grammar_or_not(void **state)
{
    static const struct {
        enum arg_kind kind;
        const char *text;
        bool fits;
    } t[] = {
        {ARG_NONE, "", true},          {ARG_NONE, "x", false},
        {ARG_MODULE, "vmw_ahci", true}, {ARG_MODULE, "", false},     {ARG_MODULE, "-x", false},   {ARG_MODULE, "a b", false}, {ARG_MODULE, "a.b", false},
        {ARG_MODULE, "a;b", false},    {ARG_MODULE, "a$b", false},   {ARG_MODULE, "a\nb", false},
        {ARG_VIB, "net-e1000e", true}, {ARG_VIB, "a.b", true},       {ARG_VIB, "--force", false}, {ARG_VIB, "a/b", false},
        {ARG_DEVICE, "naa.600508b1001c1234", true}, {ARG_DEVICE, "t10.ATA_____x__", true}, {ARG_DEVICE, "mpx.vmhba0:C0:T0:L0", true},
        {ARG_DEVICE, "naa.1 x", false}, {ARG_DEVICE, "", false},
        {ARG_SETTING, "/NFS/MaxQueueDepth", true}, {ARG_SETTING, "NFS", false}, {ARG_SETTING, "/NFS Max", false},
        {ARG_PARAMS, "a=1 b=2,3", true}, {ARG_PARAMS, "a", false}, {ARG_PARAMS, "a='1'", false}, {ARG_PARAMS, "a=\"1\"", false}, {ARG_PARAMS, "-a=1", false},
        {ARG_NUMBER, "64", true},      {ARG_NUMBER, "-1", false},    {ARG_NUMBER, "6 4", false},  {ARG_NUMBER, "", false},
        {ARG_WORD, "SharedPassthru", true}, {ARG_WORD, "a b", false}, {ARG_WORD, "-a", false},
        {ARG_FILE, "/vmfs/volumes/ds/x-1.0.vib", true}, {ARG_FILE, "/x.zip", true}, {ARG_FILE, "x.vib", false}, {ARG_FILE, "/a/../x.vib", false},
        {ARG_FILE, "/a b.vib", false}, {ARG_FILE, "/x.sh", false},
    };
    char longest[70];

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (action_arg_fits(&(struct action_arg){.kind = t[i].kind}, slice_of(t[i].text)) != t[i].fits)
            fail_msg("kind %d, \"%s\"", t[i].kind, t[i].text);
    memset(longest, 'x', sizeof longest);
    assert_true(action_arg_fits(&(struct action_arg){.kind = ARG_MODULE}, (struct slice){longest, 64}));
    assert_false(action_arg_fits(&(struct action_arg){.kind = ARG_MODULE}, (struct slice){longest, 65}));
    assert_false(action_arg_fits(&(struct action_arg){.kind = ARG_MODULE}, (struct slice){"a\0b", 3}));
}

static void numbers_keep_to_the_ranges_of_their_commands(void **state)
{
    static const struct {
        const char *action;
        unsigned arg;
        const char *least, *most, *beyond;
    } t[] = {{"device-set", 0, "1", "256", "257"}, {"device-set", 1, "0", "64", "65"}, {"device-set", 2, "1", "16", "17"}, {"roundrobin-set", 0, "1", "10000", "10001"}};

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct action_arg *arg = &action_find(slice_of(t[i].action))->args[t[i].arg];

        assert_true(action_arg_fits(arg, slice_of(t[i].least)));
        assert_true(action_arg_fits(arg, slice_of(t[i].most)));
        assert_false(action_arg_fits(arg, slice_of(t[i].beyond)));
    }
}

static void arguments_are_quoted_and_optional_ones_left_out(void **state)
{
    const struct action *a = action_find(SLICE_LIT("module-param"));
    struct slice values[ACTION_MAX_ARGS] = {SLICE_LIT("lpfc"), SLICE_LIT("a=1 b=2")};
    _cleanup_(buf_done) struct buf b = BUF_INIT(1000);

    (void)state;
    action_command(a, values, &b);
    assert_string_equal(buf_z(&b), "esxcli system module parameters set --module=lpfc --parameter-string='a=1 b=2'");
    buf_reset(&b);
    a = action_find(SLICE_LIT("device-set"));
    action_command(a, (struct slice[ACTION_MAX_ARGS]){{NULL, 0}, SLICE_LIT("32"), {NULL, 0}, SLICE_LIT("naa.1")}, &b);
    assert_string_equal(buf_z(&b), "esxcli storage core device set --device=naa.1 --queue-full-sample-size=32");
    assert_null(action_find(SLICE_LIT("reboot")));
}

static void every_action_is_whole(void **state)
{
    (void)state;
    for (const struct action *a = actions; a->name; a++) {
        assert_ptr_equal(action_find(slice_of(a->name)), a);
        assert_true(a->doc[0] && a->command[0] && a->effect[0]);
        assert_true(risk_rank(slice_of(a->risk)) > 0); /* nothing that changes a host is without risk */
        for (unsigned k = 0; k < ACTION_MAX_ARGS && a->args[k].name; k++) {
            char field[64];

            (void)snprintf(field, sizeof field, "{%s}", a->args[k].name);
            assert_non_null(strstr(a->command, field));
            assert_true(action_arg_form(a->args[k].kind)[0]);
        }
    }
    assert_int_equal(risk_rank(SLICE_LIT("none")), 0);
    assert_true(risk_rank(SLICE_LIT("reboot")) < risk_rank(SLICE_LIT("boot")));
    assert_int_equal(risk_rank(SLICE_LIT("high")), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(the_commands_of_an_open_fix_are_given_in_order_with_their_undo),
        T(every_gate_stops_the_fix),
        T(the_fixes_are_open_on_the_host_as_it_is),
        T(what_the_fix_requires_must_hold),
        T(a_module_that_the_host_does_not_have_cannot_be_changed),
        T(a_driver_without_what_it_stands_on_is_no_way_out),
        T(a_driver_whose_file_is_not_loaded_at_boot_is_no_way_out),
        T(a_finding_in_doubt_gives_no_commands),
        T(a_function_that_is_passed_through_needs_no_driver),
        T(what_a_person_must_know_is_noted),
        T(arguments_come_from_the_subject_and_are_checked),
        T(a_disputed_cell_is_no_argument),
        T(advice_alone_has_no_commands),
        cmocka_unit_test(arguments_fit_their_grammar_or_not),
        cmocka_unit_test(numbers_keep_to_the_ranges_of_their_commands),
        cmocka_unit_test(arguments_are_quoted_and_optional_ones_left_out),
        cmocka_unit_test(every_action_is_whole),
    };

    xml_setup();
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
