#include "world.h"

#include "core/derive.h"

/* What is computed from the cells that were read: where they do not tell one story the result is unknown, and says why. */

static const struct value *derived(struct world *w, const char *lines, const char *table, const char *column)
{
    const struct derive_env env = {.builds = &w->builds};

    world_facts(w, lines);
    derive_all(w->f, &env);
    return facts_cell(w->f, facts_single(w->f, table), column);
}

/* Builds and updates: KB 2143832. */
static void the_release_follows_only_from_facts_that_agree(void **state)
{
    static const struct {
        const char *lines, *release; /* NULL: unknown */
        const char *why;
    } t[] = {
        {"esxi|version=6.5.0|build=5969303|update=1\n", "6.5u1", NULL},
        {"esxi|version=6.5.0|build=5969303\n", "6.5u1", NULL},
        {"esxi|version=6.5.0|build=4564106\n", "6.5", NULL},
        {"esxi|version=6.5.0|build=5969303|update=0\n", NULL, "build 5969303 is 6.5 U1"},
        {"esxi|version=6.5.0|build=5969303|update=2\n", NULL, "contradicts update 2"},
        {"esxi|version=6.5.0|build=8169922|update=0\n", NULL, "contradicts version 6.5.0"}, /* 6.7 */
        {"esxi|version=6.5.0|build=2494585\n", NULL, "contradicts version 6.5.0"},          /* 6.0 */
        {"esxi|version=6.5.0|build=12|update=0\n", NULL, "older than the first one of 6.5"},
        {"esxi|version=6.5.0|build=5500000\n", "6.5", NULL},   /* in no table, between two that are */
        {"esxi|version=6.5.0|build=99999999\n", NULL, "update level"}, /* beyond the table */
        {"esxi|version=6.5.0|build=99999999|update=3\n", "6.5u3", NULL},
        {"esxi|version=6.5.0|build=99999999|update=0\n", NULL, "contradicts update 0"},
        {"esxi|version=7.0.2|build=19290878|update=2\n", "7.0u2", NULL}, /* 7.0 U2e, later than U3 */
        {"esxi|version=6.5.0\n", NULL, "update level"},
        {"esxi|build=5969303\n", NULL, "version"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct value *v = derived(w, t[i].lines, "esxi", "release");

        if ((v->state == VS_KNOWN) != (t[i].release != NULL) || (t[i].release && !slice_eqz(v->s, t[i].release)) ||
            (t[i].why && !strstr(v->why, t[i].why)))
            fail_msg("%s: " SLICE_FMT " %s", t[i].lines, SLICE_ARG(v->s), v->why ? v->why : "");
        if (t[i].why && strstr(t[i].why, "contradicts"))
            assert_int_equal(w->f->release.major, 0); /* no rule may look at a part of it */
    }
}

static void a_disputed_cell_leaves_the_release_unknown(void **state)
{
    struct world *w = *state;
    const struct derive_env env = {.builds = &w->builds};
    const struct row *r;

    world_facts(w, "esxi|version=6.5.0|build=5969303|update=1\n");
    r = world_dispute(w, "esxi", "", "build", value_int(4564106));
    derive_all(w->f, &env);
    assert_int_equal(facts_cell(w->f, r, "release")->state, VS_UNKNOWN);
    assert_non_null(strstr(facts_cell(w->f, r, "release")->why, "4564106"));
    assert_int_equal(w->f->release.major, 0);
}

/* Numbers of the hpsa of the 6.0 image and of a vendor's; the same VIB in two images. */
static void an_adapter_tells_what_becomes_of_its_driver(void **state)
{
#define HPSA "adapter vmhba0|driver=hpsa\nmodule hpsa|vib=scsi-hpsa\nvib scsi-hpsa|version=6.0.0.114-1OEM.600.0.0.2494585\n" \
    "vib esx-base|version=6.0.0-0.0.2494585\n"
#define NEXT "staged-vib esx-base|version=6.0.0-1.17.3029758\n"
    static const struct {
        const char *lines, *staged;
    } t[] = {
        {HPSA, NULL},
        {HPSA NEXT "staged-vib scsi-hpsa|version=6.0.0.44-4vmw.600.0.0.2494585\n", "older"},
        {HPSA NEXT "staged-vib scsi-hpsa|version=6.0.0.114-1OEM.600.0.0.2494585\n", "same"},
        {HPSA NEXT "staged-vib scsi-hpsa|version=6.0.0.120-1OEM.600.0.0.2494585\n", "newer"},
        {HPSA NEXT, "gone"},
        {HPSA "staged-vib esx-base|version=6.5.0-0.0.4564106\n", "unlisted"},
        {HPSA "staged-vib esx-base|version=16.0.0-0.0.1\n", "unlisted"},
        {HPSA "staged-vib nhpsa|version=2.0.6-3vmw.650.0.0.4564106\n", "unlisted"}, /* no telling which release */
        {HPSA "!staged-vib partial\n" NEXT, "?"},
        {HPSA "!staged-vib unknown\n", "?"},
        {HPSA NEXT "staged-vib scsi-hpsa|version=?\n", "?"},
        {HPSA NEXT "staged-vib scsi-hpsa|version=6.0.0.114-1vmw.600.0.0.2494585\n", "?"}, /* another origin */
        {"adapter vmhba0|driver=hpsa\n" NEXT, "?"},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct world *w = *state;
        const struct derive_env env = {.builds = &w->builds};
        const struct value *v;
        const char *want = t[i].staged;
        bool right;

        world_facts(w, t[i].lines);
        derive_all(w->f, &env);
        v = facts_cell(w->f, facts_find(w->f, facts_table_index(w->f, "adapter"), SLICE_LIT("vmhba0")), "staged");
        right = !want ? v->state == VS_ABSENT : *want == '?' ? v->state == VS_UNKNOWN && v->why : v->state == VS_KNOWN && slice_eqz(v->s, want);

        if (!right)
            fail_msg("%s: not %s but %.*s", t[i].lines, want ? want : "absent", v->state == VS_KNOWN ? (int)v->s.n : 0, v->s.p);
    }
}

#define QUIET "esxi|staged-profile=-|build=4564106\n" \
    "bootbank /bootbank|state=0|updated=2|build=6.5.0-0.0.4564106\nbootbank /altbootbank|state=0|updated=1|build=6.0.0-2.34.3620759\n"

static void every_kind_of_pending_change_is_seen(void **state)
{
    static const struct {
        const char *lines;
        char pending; /* y, n or ? */
    } t[] = {
        {QUIET "module a|loaded=yes|enabled=yes\n", 'n'},
        {QUIET "module a|loaded=no|enabled=no\n", 'n'},
        {QUIET "module a|loaded=yes|enabled=no\n", 'y'}, /* whatever it drives */
        {QUIET "module vmkernel|loaded=yes|enabled=no\n", 'n'},
        {QUIET "module a|loaded=yes|enabled=?\n", '?'},
        {QUIET "!module partial\nmodule a|loaded=yes|enabled=yes\n", '?'},
        {"esxi|staged-profile=ESXi-6.5.0-x\n", 'y'},
        {"esxi|staged-profile=?\n", '?'},
        {QUIET "vib a|version=1-1\nstaged-vib a|version=1-1\n", 'y'}, /* nothing is listed unless an image is staged */
        {QUIET "vib a|version=1-1\nstaged-vib a|version=1-2\n", 'y'},
        {QUIET "vib a|version=1-1\nstaged-vib b|version=1-1\n", 'y'},
        {QUIET "bootbank /altbootbank|state=1|updated=4\n", 'y'},
        {QUIET "bootbank /bootbank|state=3|updated=3\nbootbank /altbootbank|state=3|updated=2\n", '?'},
        {"esxi|staged-profile=-|build=4564106\nbootbank /altbootbank|state=0|updated=4|build=6.5.0-0.0.4564106\n", '?'},
        {"esxi|staged-profile=-|build=4564106\n", '?'}, /* no bank was read */
        {QUIET "bootbank /altbootbank|updated=?\n", '?'},
        {QUIET "bootbank /bootbank|build=?\n", '?'},
        {QUIET "bootbank /bootbank|state=?\n", '?'},
        {QUIET "esxi|build=?\n", '?'},
        {QUIET "esxi|build=4564106\nbootbank /bootbank|state=0|build=6.5.0-0.0.4564106\nbootbank /altbootbank|state=3\n", 'n'},
        {QUIET "esxi|build=4564106\nbootbank /bootbank|state=0|build=7.0.3-0.0.19193900\nbootbank /altbootbank|state=3\n", '?'},
        {QUIET "bootbank /bootbank|state=0|updated=3\nbootbank /altbootbank|state=0|updated=2\n", 'n'},
        {QUIET "bootbank /bootbank|state=0|updated=3\nbootbank /altbootbank|state=0|updated=4\n", 'y'},
        {QUIET "bootbank /bootbank|state=0|updated=3\nbootbank /altbootbank|state=1|updated=4\n", 'y'},
        {QUIET "bootbank /bootbank|state=0|updated=3\nbootbank /altbootbank|state=2|updated=4\n", 'n'}, /* failed: does not boot */
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct value *v = derived(*state, t[i].lines, "host", "reboot-pending");
        char got = v->state != VS_KNOWN ? '?' : v->i ? 'y' : 'n';

        if (got != t[i].pending)
            fail_msg("%s: %c, not %c", t[i].lines, got, t[i].pending);
    }
}

static void the_boot_device_is_absent_only_where_nothing_was_booted_from(void **state)
{
    static const struct {
        const char *lines;
        enum value_state device;
    } t[] = {
        {"host|boot-uuid=58a1b2c3-d4e5f6a7-b8c9-d0e1f2a3b4c5\ndevice naa.1|boot=yes\n", VS_KNOWN},
        {"host|boot-uuid=58a1b2c3-d4e5f6a7-b8c9-d0e1f2a3b4c5\ndevice naa.1|boot=no\n", VS_UNKNOWN},
        {"host|boot-uuid=?\ndevice naa.1|boot=no\n", VS_UNKNOWN},
        {"host|boot-uuid=-\ndevice naa.1|boot=no\n", VS_ABSENT},
        {"host|boot-uuid=-\ndevice naa.1|boot=?\n", VS_UNKNOWN},
        {"!device partial\nhost|boot-uuid=-\ndevice naa.1|boot=no\n", VS_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (derived(*state, t[i].lines, "host", "boot-device")->state != t[i].device)
            fail_msg("%s: not %d", t[i].lines, t[i].device);
}

static void a_device_without_a_path_leaves_open_what_hangs_on_an_adapter(void **state)
{
    struct world *w = *state;
    const char *lines = "adapter vmhba0|driver=a\ndevice naa.1|\ndevice naa.2|\npath p1|adapter=vmhba0|device=naa.1|state=active\n";

    (void)derived(w, lines, "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "adapter", "vmhba0"), "devices")->state, VS_UNKNOWN);
    assert_non_null(strstr(facts_cell(w->f, world_find(w, "adapter", "vmhba0"), "machines")->why, "no path to it"));
    (void)derived(w, arena_printf(w->a, "%spath p2|adapter=vmhba0|device=naa.2|state=active\n", lines), "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "adapter", "vmhba0"), "devices")->nlist, 2);
}

/*
 * Texts of "esxcli network nic get" and "ethtool -i" as bnx2x, i40en, igb, nmlx5_core, qfle3, bnxtnet, ixgben and nvmxnet3 print them; what counts is the
 * part that vendors publish as the firmware's version.
 */
static void the_firmware_of_a_nic_is_a_version_only_where_its_text_begins_with_one(void **state)
{
    static const struct {
        const char *text, *version; /* NULL: unknown */
    } t[] = {
        {"14.25.1020 (HP_2190110032)", "14.25.1020"},
        {"14.31.35 (bc 7.14.24)", "14.31.35"},
        {"8.15 0x80009621 1.2829.0", "8.15"},
        {"8.30 0x8000a49d 21.5.9", "8.30"},
        {"10.4.30 / 0x80005c05", "10.4.30"},
        {"1.63, 0x80000aa6, 0.384.130", "1.63"},
        {"216.0.146.0/pkg 216.0.146.0", "216.0.146.0"},
        {"11.4.204.20", "11.4.204.20"},
        {"FFV7.13.24 bc 7.13.54", NULL},
        {"bc 7.14.24", NULL},
        {"0x800005c1", NULL},
        {"5719-v1.46 NCSI v1.5.12.0", NULL},
        {"7", NULL}, /* nvmxnet3 */
        {"N/A", NULL},
        {"1..2", NULL},
        {"1.", NULL},
        {".5", NULL},
        {"1.2a", NULL},
    };
    struct world *w = *state;
    const struct derive_env env = {.builds = &w->builds};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char line[128];
        const struct value *v;

        snprintf(line, sizeof line, "nic vmnic0|firmware=%s\n", t[i].text);
        world_facts(w, line);
        derive_all(w->f, &env);
        v = facts_cell(w->f, facts_at(w->f, facts_table_index(w->f, "nic"), 0), "firmware-version");
        if (t[i].version ? v->state != VS_KNOWN || !slice_eqz(v->s, t[i].version) : v->state != VS_UNKNOWN)
            fail_msg("%s: " SLICE_FMT " %s", t[i].text, SLICE_ARG(v->s), v->why ? v->why : "");
    }
}

static void the_firmware_of_an_adapter_is_the_vendors_tools_where_esxcli_tells_none(void **state)
{
    static const struct {
        const char *lines, *firmware, *why;
    } t[] = {
        {"adapter vmhba0|pci=0000:01:00.0|driver=lsi_mr3|firmware=?\ncontroller 0000:01:00.0|firmware=52.16.1-4405\n", "52.16.1-4405", NULL},
        {"adapter vmhba0|pci=0000:01:00.0|driver=lsi_mr3|firmware=?\ncontroller 0000:02:00.0|firmware=52.16.1-4405\n", NULL, "this controller"},
        {"adapter vmhba0|pci=0000:01:00.0|driver=lsi_mr3|firmware=?\n", NULL, "install perccli"},
        {"adapter vmhba0|pci=0000:01:00.0|driver=hpsa|firmware=?\n", NULL, "install ssacli"},
        {"adapter vmhba0|pci=0000:01:00.0|driver=qlnativefc|firmware=?\n", NULL, "left open"},
        {"adapter vmhba0|pci=?|driver=lsi_mr3|firmware=?\ncontroller 0000:01:00.0|firmware=52.16.1-4405\n", NULL, "this controller"},
        {"adapter vmhba0|pci=0000:01:00.0|firmware=20.00.00.00 - Firmware Package Version: 20.00.00.00\n"
         "controller 0000:01:00.0|firmware=20.00.00.00\n", "20.00.00.00 - Firmware Package Version: 20.00.00.00", NULL},
        {"adapter vmhba0|pci=0000:01:00.0|firmware=16.00.12.00\ncontroller 0000:01:00.0|firmware=16.00.10.00\n", NULL, "esxcli says 16.00.12.00"},
    };
    struct world *w = *state;
    const struct derive_env env = {.builds = &w->builds};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct value *v;

        world_facts(w, t[i].lines);
        derive_all(w->f, &env);
        v = facts_cell(w->f, world_find(w, "adapter", "vmhba0"), "firmware");
        if (t[i].firmware ? v->state != VS_KNOWN || !slice_eqz(v->s, t[i].firmware) : v->state != VS_UNKNOWN || !strstr(v->why, t[i].why))
            fail_msg("%s: " SLICE_FMT " %s", t[i].lines, SLICE_ARG(v->s), v->why ? v->why : "");
    }
}

static void a_map_file_that_was_cut_proves_no_lack_of_drivers(void **state)
{
    struct world *w = *state;
    const char *lines = "pci 0000:00:1f.2|vendor=8086|device=8c02|module=vmw_ahci\nmodule vmw_ahci|enabled=yes\n";

    (void)derived(w, lines, "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "pci", "0000:00:1f.2"), "candidates")->state, VS_ABSENT);
    (void)derived(w, arena_printf(w->a, "!driver-map partial\n%s", lines), "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "pci", "0000:00:1f.2"), "candidates")->state, VS_UNKNOWN);
    assert_int_equal(facts_cell(w->f, world_find(w, "pci", "0000:00:1f.2"), "fallback")->state, VS_UNKNOWN);
}

/* KB 431016: eight links of one host within two seconds; its log in short. */
static void links_that_are_lost_in_one_minute_are_counted(void **state)
{
    static const char log[] = "log link-down/vmnic4/2026-02-10T08|kind=link-down|nic=vmnic4|first=2026-02-10T08:30:43.149Z\n"
                              "log link-down/vmnic0/2026-02-10T08|kind=link-down|nic=vmnic0|first=2026-02-10T08:30:45.282Z\n"
                              "log link-down/vmnic1/2026-02-10T08|kind=link-down|nic=vmnic1|first=2026-02-10T08:31:45.282Z\n"
                              "log link-down/lpfc/2026-02-10T08|kind=link-down|nic=-|first=2026-02-10T08:30:45.282Z\n"
                              "log link-up/vmnic7/2026-02-10T08|kind=link-up|nic=vmnic7|first=2026-02-10T08:30:45.282Z\n";
    struct world *w = *state;

    assert_int_equal(derived(w, log, "host", "links-lost-together")->i, 2);
    assert_int_equal(derived(w, "host|uptime=1\n", "host", "links-lost-together")->state, VS_KNOWN);
    assert_int_equal(derived(w, "!log partial\nhost|uptime=1\n", "host", "links-lost-together")->state, VS_UNKNOWN);
    assert_int_equal(derived(w, arena_printf(w->a, "!log partial\n%s", log), "host", "links-lost-together")->i, 2);
}

static void a_module_has_crashed_where_a_purple_screen_names_it(void **state)
{
    static const char modules[] = "module lpfc|loaded=yes\nmodule i40en|loaded=yes\nmodule qfle3|loaded=yes\n";
    static const struct {
        const char *lines;
        enum value_state state;
        const char *who; /* the modules with yes */
    } t[] = {
        {"log crash/host/1|kind=crash|subject=host\nlog crash-frame/f/1|kind=crash-frame|subject=f|driver=lpfc\n", VS_KNOWN, "lpfc"},
        {"log crash-module/i40en/1|kind=crash-module|subject=i40en\nlog crash-frame/f/1|kind=crash-frame|subject=f|driver=-\n", VS_KNOWN, "i40en"},
        {"log crash-frame/f/1|kind=crash-frame|subject=f|driver=lpfc\n", VS_KNOWN, ""},
        {"log crash/host/1|kind=crash|subject=host\nlog link-down/f/1|kind=link-down|subject=f|driver=lpfc\n", VS_KNOWN, ""},
        {"log crash/host/1|kind=crash|subject=lpfc\n", VS_KNOWN, ""},
        {"host|log-first=2024-06-21T21:00:00Z|log-last=2024-06-21T21:59:00Z\n", VS_UNKNOWN, ""},
        {"host|log-first=2024-06-21T21:00:00Z|log-last=2024-06-21T22:00:00Z\n", VS_KNOWN, ""},
        {"!log unknown\n", VS_UNKNOWN, ""},
    };
    static const char *const name[] = {"lpfc", "i40en", "qfle3"};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        (void)derived(w, arena_printf(w->a, "%s%s", t[i].lines, modules), "host", "vsan");
        for (size_t k = 0; k < 3; k++) {
            const struct value *v = facts_cell(w->f, world_find(w, "module", name[k]), "crashed");

            if (v->state != t[i].state || (v->state == VS_KNOWN && known_bool(v, true) != (strcmp(name[k], t[i].who) == 0)))
                fail_msg("%s of: %s", name[k], t[i].lines);
        }
    }
}

static void a_parameter_for_each_port_is_compared_with_the_ports(void **state)
{
    struct world *w = *state;
    const char *lines = "module i40en|loaded=yes\nmodule ixgben|loaded=yes\nnic vmnic0|driver=i40en\nnic vmnic1|driver=i40en\n"
                        "module-param i40en/LLDP|module=i40en|name=LLDP|value=0,0,0,0\nmodule-param i40en/RSS|module=i40en|name=RSS|value=-\n"
                        "module-param i40en/VMDQ|module=i40en|name=VMDQ|value=8\n";

    (void)derived(w, lines, "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "module", "i40en"), "nics")->i, 2);
    assert_int_equal(facts_cell(w->f, world_find(w, "module", "ixgben"), "nics")->i, 0);
    assert_int_equal(facts_cell(w->f, world_find(w, "module-param", "i40en/LLDP"), "values")->i, 4);
    assert_int_equal(facts_cell(w->f, world_find(w, "module-param", "i40en/VMDQ"), "values")->i, 1);
    assert_int_equal(facts_cell(w->f, world_find(w, "module-param", "i40en/RSS"), "values")->state, VS_ABSENT);
    (void)derived(w, arena_printf(w->a, "%snic vmnic2|driver=?\n", lines), "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "module", "i40en"), "nics")->state, VS_UNKNOWN);
    (void)derived(w, arena_printf(w->a, "!nic partial\n%s", lines), "host", "vsan");
    assert_int_equal(facts_cell(w->f, world_find(w, "module", "i40en"), "nics")->state, VS_UNKNOWN);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(the_release_follows_only_from_facts_that_agree),
        T(a_disputed_cell_leaves_the_release_unknown),
        T(an_adapter_tells_what_becomes_of_its_driver),
        T(every_kind_of_pending_change_is_seen),
        T(a_device_without_a_path_leaves_open_what_hangs_on_an_adapter),
        T(a_map_file_that_was_cut_proves_no_lack_of_drivers),
        T(the_firmware_of_a_nic_is_a_version_only_where_its_text_begins_with_one),
        T(the_firmware_of_an_adapter_is_the_vendors_tools_where_esxcli_tells_none),
        T(links_that_are_lost_in_one_minute_are_counted),
        T(a_module_has_crashed_where_a_purple_screen_names_it),
        T(a_parameter_for_each_port_is_compared_with_the_ports),
        T(the_boot_device_is_absent_only_where_nothing_was_booted_from),
    };

    xml_setup();
    return cmocka_run_group_tests_name("derive", tests, NULL, NULL);
}
