#include "world.h"

#include "core/derive.h"
#include "core/upgrade.h"
#include "out/drivers.h"

/*
 * Who takes a device at the next boot. Ids and map lines: the map files of the 6.7.0 image (rules/drivers.tsv names them); what must follow:
 * the knowledge entries named beside each case.
 */

#define BANK "bootbank /bootbank|modules=vmw_ahci.v00 --- sata_ahc.v00 --- lsi_mr3.v00 --- scsi_meg.v00 --- qfle3.v00 --- net_bnx2.v00 --- nvme.v00 --- " \
    "nvme_pci.v00 --- vmkusb.v00 --- scsi_hpv.v00 --- ntg3.v00 --- net_tg3.v00 --- igbn.v00 --- net_mlx4.v00 --- lsi_msgp.v00 --- scsi_mpt.v00\n"
#define SHIMS "module vmklinux_9|enabled=yes|loaded=yes|api=native\nmodule libata_92|enabled=yes|loaded=yes|api=native|vib=misc-base\n"
#define MODULE(name, itsvib, kind) "module " name "|enabled=yes|loaded=yes|vib=" itsvib "|api=" kind "\n"
#define HOST(release) "@" release "\n" BANK SHIMS

#define AHCI  "pci 0000:00:1f.2|vendor=8086|device=8c02|subvendor=15d9|subdevice=086d|class=0106|prog-if=01|module=vmw_ahci\n" \
    MODULE("vmw_ahci", "vmw-ahci", "native")
#define AHCI_MAPS "driver-map vmw_ahci/1|driver=vmw_ahci|pattern=................010601|bus=pci|kind=native\n" \
    "driver-map ahci/1|driver=ahci|pattern=8086:8c02 0000:0000|bus=pci|kind=linux\n"
#define AHCI_LEGACY MODULE("ahci", "sata-ahci", "vmklinux")

struct claim_case {
    const char *what, *facts;
    const char *disable, *enable, *remove, *upgrade;
    enum claim_outcome outcome;
    enum claim_sure sure;
    const char *takers; /* joined by blanks */
    const char *why;    /* part of it, or NULL */
};

static struct driver_data data_of(struct world *w)
{
    struct driver_data d = {0};

    if (driverdata_load_lines(world_read(w, "rules/drivers.tsv"), "drivers.tsv", w->a, &d, &w->e) < 0 ||
        driverdata_load_changes(world_read(w, "rules/driver-changes.tsv"), "driver-changes.tsv", w->a, &d, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    return d;
}

static size_t words(struct world *w, const char *text, struct slice **out)
{
    struct slice rest = slice_of(text), word;
    size_t n = 0;

    *out = arena_array(w->a, 16, sizeof **out);
    while (text && slice_next_word(&rest, " ", &word))
        (*out)[n++] = word;
    return n;
}

static struct claim predict(struct world *w, const struct claim_case *t, const struct claim_package *install, struct claim_world *cw)
{
    static struct driver_data d;
    static struct claim_change c;
    struct slice *list;
    struct claim out;

    d = data_of(w);
    c = (struct claim_change){.install = install, .ninstall = install ? 1 : 0};
    c.ndisable = words(w, t->disable, &list), c.disable = list;
    c.nenable = words(w, t->enable, &list), c.enable = list;
    c.nremove = words(w, t->remove, &list), c.remove = list;
    if (t->upgrade)
        assert_int_equal(release_parse(slice_of(t->upgrade), &c.upgrade, &w->e), 0);
    w->f = NULL;
    world_facts(w, t->facts);
    claim_world_init(cw, w->f, &w->builds, &d, &c);
    if (claim_predict(cw, derive_row(w->f, "pci", 0), &out, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    return out;
}

static const char *joined(struct world *w, const struct claim *c)
{
    const char *text = "";

    for (size_t i = 0; i < c->ntakers; i++)
        text = arena_printf(w->a, "%s%s" SLICE_FMT, text, i ? " " : "", SLICE_ARG(c->takers[i]));
    return text;
}

static void check_case(struct world *w, const struct claim_case *t, const struct claim_package *install)
{
    struct claim_world cw;
    struct claim c = predict(w, t, install, &cw);

    if (c.outcome != t->outcome || (c.outcome != CLAIM_UNKNOWN && c.sure != t->sure) || strcmp(joined(w, &c), t->takers ? t->takers : "") != 0 ||
        (t->why && !strstr(c.why, t->why)))
        fail_msg("%s: %s%s \"%s\": %s", t->what, claim_outcome_name(c.outcome), c.sure == CLAIM_LIKELY ? " likely" : "", joined(w, &c), c.why);
}

#define NO_MAPS "!driver-map unknown\n"
#define PERC(id, driver, kind) "pci 0000:03:00.0|vendor=1000|device=" id "|subvendor=1028|subdevice=1f47|class=0104|prog-if=00|module=" driver "\n"
#define MR3  "driver-map lsi_mr3/1|driver=lsi_mr3|pattern=1000005d..............|bus=pci|kind=native\n" \
    "driver-map lsi_mr3/2|driver=lsi_mr3|pattern=1000005b..............|bus=pci|kind=native\n"
#define MEGA "driver-map megaraid_sas/1|driver=megaraid_sas|pattern=1000:005b 0000:0000|bus=pci|kind=linux\n"
#define PERC_MODULES MODULE("lsi_mr3", "lsi-mr3", "native") MODULE("megaraid_sas", "scsi-megaraid-sas", "vmklinux")
#define QFLE3 "pci 0000:04:00.0|vendor=14e4|device=16a2|subvendor=103c|subdevice=1916|class=0200|prog-if=00|module=qfle3\n" \
    MODULE("qfle3", "qfle3", "native") MODULE("bnx2x", "net-bnx2x", "vmklinux") \
    "driver-map qfle3/1|driver=qfle3|pattern=14e416a2..............|bus=pci|kind=native\n" \
    "driver-map bnx2x/1|driver=bnx2x|pattern=14e4:168e 0000:0000|bus=pci|kind=linux\n"
#define NVME(driver) "pci 0000:05:00.0|vendor=144d|device=a808|subvendor=144d|subdevice=a801|class=0108|prog-if=02|module=" driver "\n"
#define TWO_NATIVE "pci 0000:06:00.0|vendor=8086|device=1572|subvendor=8086|subdevice=0000|class=0200|prog-if=00|module=x1\n" \
    MODULE("x1", "igbn", "native") MODULE("x2", "ntg3", "native") MODULE("x3", "nvme", "native") \
    "driver-map x1/1|driver=x1|pattern=80861572..............|bus=pci|kind=native\n" \
    "driver-map x2/1|driver=x2|pattern=80861572..............|bus=pci|kind=native\n" \
    "driver-map x3/1|driver=x3|pattern=................0200..|bus=pci|kind=native\n"

static void the_order_of_claiming(void **state)
{
    static const struct claim_case t[] = {
        {"nothing changes", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS, 0, 0, 0, 0, CLAIM_STAYS, CLAIM_SURE, NULL, NULL},
        {"DK-001: the fallback on 6.5", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS, "vmw_ahci", 0, 0, 0, CLAIM_CHANGES, CLAIM_SURE, "ahci", NULL},
        {"both disabled", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS, "vmw_ahci ahci", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, "disabled by the change"},
        {"the shim goes too", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS, "vmw_ahci libata_92", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, NULL},
        {"its VIB is removed", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS, 0, 0, "vmw-ahci", 0, CLAIM_CHANGES, CLAIM_SURE, "ahci", NULL},
        {"the fallback's VIB goes as well", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS, "vmw_ahci", 0, "sata-ahci", 0, CLAIM_LOSES, CLAIM_SURE, NULL, NULL},
        {"the fallback is not in boot.cfg", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS "bootbank /bootbank|modules=vmw_ahci.v00\n", "vmw_ahci", 0, 0, 0,
         CLAIM_UNKNOWN, CLAIM_SURE, NULL, "names no file of sata-ahci"},
        {"DK-008: by class only", HOST("6.5") "pci 0000:00:1f.2|vendor=197b|device=2362|subvendor=197b|subdevice=2362|class=0106|prog-if=01|module=vmw_ahci\n"
         MODULE("vmw_ahci", "vmw-ahci", "native") AHCI_LEGACY AHCI_MAPS, "vmw_ahci", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, "no other module"},
        {"DK-009: no fallback from 7.0", HOST("7.0u3") AHCI AHCI_MAPS, "vmw_ahci", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, "from 7.0 there are no vmklinux"},
        {"DK-020: megaraid_sas does not list 005d", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, "lsi_mr3", 0, 0, 0, CLAIM_LOSES,
         CLAIM_SURE, NULL, NULL},
        {"only 005b is common", HOST("6.7") PERC("005b", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, "lsi_mr3", 0, 0, 0, CLAIM_CHANGES, CLAIM_SURE,
         "megaraid_sas", NULL},
        {"DK-061: 16a2 is not in bnx2x", HOST("6.7") QFLE3, "qfle3", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, NULL},
        {"native goes before vmklinux", HOST("6.5") "pci 0000:00:1f.2|vendor=8086|device=8c02|class=0106|prog-if=01|subvendor=0000|subdevice=0000|module=ahci\n"
         AHCI_LEGACY "module vmw_ahci|enabled=no|loaded=no|vib=vmw-ahci|api=native\n" AHCI_MAPS, 0, "vmw_ahci", 0, 0, CLAIM_CHANGES, CLAIM_SURE, "vmw_ahci", NULL},
        {"enabled since the boot, or held off", HOST("6.5") "pci 0000:00:1f.2|vendor=8086|device=8c02|class=0106|prog-if=01|subvendor=0000|subdevice=0000|module=ahci\n"
         AHCI_LEGACY "module vmw_ahci|enabled=yes|loaded=no|vib=vmw-ahci|api=native\n" AHCI_MAPS, 0, 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "keeps it away"},
        {"a new one with ids before the class of now", HOST("7.0u3") AHCI AHCI_MAPS "module own|enabled=no|loaded=no|vib=ntg3|api=native\n"
         "driver-map own/1|driver=own|pattern=80868c02..............|bus=pci|kind=native\n", 0, "own", 0, 0, CLAIM_CHANGES, CLAIM_LIKELY, "own", "names the ids"},
        {"a new one by class beside the ids of now", HOST("7.0u3") TWO_NATIVE "module x2|enabled=no\nmodule x3|enabled=no\n", 0, "x3", 0, 0, CLAIM_STAYS,
         CLAIM_LIKELY, NULL, NULL},
        {"ids before class", HOST("7.0u3") TWO_NATIVE, "x1", 0, 0, 0, CLAIM_CHANGES, CLAIM_LIKELY, "x2", "names the ids"},
        {"DK-139: two native ones", HOST("7.0u3") TWO_NATIVE "driver-map x3/2|driver=x3|pattern=80861572..............|bus=pci|kind=native\n", "x1", 0, 0, 0,
         CLAIM_CHANGES, CLAIM_LIKELY, "x2 x3", "not documented"},
        {"a pending change", HOST("7.0u3") AHCI AHCI_MAPS "module vmw_ahci|enabled=no|loaded=yes\n", 0, 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, "it is disabled"},
        {"no driver, and none to come", HOST("7.0u3") AHCI AHCI_MAPS "pci 0000:00:1f.2|module=-\nmodule vmw_ahci|enabled=no|loaded=no\n", 0, 0, 0, 0, CLAIM_NONE,
         CLAIM_SURE, NULL, NULL},
        {"no driver, and one is enabled", HOST("7.0u3") AHCI AHCI_MAPS "pci 0000:00:1f.2|module=-\nmodule vmw_ahci|enabled=no|loaded=no\n", 0, "vmw_ahci", 0, 0,
         CLAIM_GAINS, CLAIM_SURE, "vmw_ahci", NULL},
        {"passed through", HOST("7.0u3") AHCI AHCI_MAPS "pci 0000:00:1f.2|owner=VM Passthru|passthru=yes\n", "vmw_ahci", 0, 0, 0, CLAIM_PASSED, CLAIM_SURE, NULL, NULL},
        {"to be passed through", HOST("7.0u3") AHCI AHCI_MAPS "pci 0000:00:1f.2|owner=VMkernel|configured-owner=VM Passthru\n", "vmw_ahci", 0, 0, 0, CLAIM_UNKNOWN,
         CLAIM_SURE, NULL, "settle that first"},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check_case(*state, &t[i], NULL);
}

static void what_is_not_known_is_no_verdict(void **state)
{
    static const struct claim_case t[] = {
        {"a map list that was cut", HOST("6.5") AHCI AHCI_MAPS "!driver-map partial\n", "vmw_ahci", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, NULL},
        {"no module list", HOST("6.5") AHCI AHCI_MAPS "!module unknown\n", "vmw_ahci", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "ahci may take it"},
        {"is the fallback enabled", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS "module ahci|enabled=?\n", "vmw_ahci", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, NULL},
        {"its own state", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS "module vmw_ahci|enabled=?\n", 0, 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "may load again"},
        {"who has it", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS "pci 0000:00:1f.2|module=?\n", "vmw_ahci", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "which driver has it"},
        {"which VIB carries the fallback", HOST("6.5") AHCI AHCI_LEGACY AHCI_MAPS "module ahci|vib=?\n", "vmw_ahci", 0, "x", 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, NULL},
        /* from the data alone: never a confident loss on another release */
        {"data: fallback of 6.5", HOST("6.5") AHCI AHCI_LEGACY NO_MAPS, "vmw_ahci", 0, 0, 0, CLAIM_CHANGES, CLAIM_LIKELY, "ahci", NULL},
        {"data: nobody lists it", HOST("6.5") PERC("005d", "lsi_mr3", "native") PERC_MODULES NO_MAPS, "lsi_mr3", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "inferred for 6.5"},
        {"data: what an enabled module lists is not known", HOST("6.5") AHCI NO_MAPS, 0, "newdrv", 0, 0, CLAIM_STAYS, CLAIM_LIKELY, NULL, NULL},
        {"data: the only one of its family", HOST("7.0u3") AHCI NO_MAPS, "vmw_ahci", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, "only driver of its family"},
        {"data: a driver of 7.0 not known of", HOST("7.0u3") "pci 0000:05:00.0|vendor=8086|device=1592|subvendor=8086|subdevice=0002|class=0200|prog-if=00|module=icen\n"
         MODULE("icen", "ntg3", "native") NO_MAPS, "icen", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, NULL},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check_case(*state, &t[i], NULL);
}

#define SAS2308 "pci 0000:07:00.0|vendor=1000|device=0087|subvendor=1000|subdevice=3020|class=0107|prog-if=00|module=lsi_msgpt2\n" \
    MODULE("lsi_msgpt2", "lsi-msgpt2", "native") "driver-map lsi_msgpt2/1|driver=lsi_msgpt2|pattern=10000087..............|bus=pci|kind=native\n"
#define SAS2008 "pci 0000:07:00.0|vendor=1000|device=0072|subvendor=1000|subdevice=3020|class=0107|prog-if=00|module=mpt2sas\n" \
    MODULE("mpt2sas", "scsi-mpt2sas", "vmklinux") "driver-map mpt2sas/1|driver=mpt2sas|pattern=1000:0072 0000:0000|bus=pci|kind=linux\n"
#define MLX4 "pci 0000:08:00.0|vendor=15b3|device=1003|subvendor=15b3|subdevice=0055|class=0200|prog-if=00|module=nmlx4_core\n" \
    MODULE("nmlx4_core", "nmlx4-core", "native") "driver-map nmlx4_core/1|driver=nmlx4_core|pattern=15b31003..............|bus=pci|kind=native\n"

static void what_an_upgrade_leaves(void **state)
{
    static const struct claim_case t[] = {
        {"DK-043: nvme is renamed", HOST("6.7") NVME("nvme") MODULE("nvme", "nvme", "native")
         "driver-map nvme/1|driver=nvme|pattern=................010802|bus=pci|kind=native\n", 0, 0, 0, "7.0", CLAIM_STAYS, CLAIM_LIKELY, "nvme_pcie", NULL},
        {"DK-025: SAS2008 stops at 6.7", HOST("6.7") SAS2008, 0, 0, 0, "7.0", CLAIM_LOSES, CLAIM_LIKELY, NULL, "no vmklinux"},
        {"and stays on 6.7", HOST("6.5") SAS2008, 0, 0, 0, "6.7", CLAIM_STAYS, CLAIM_LIKELY, NULL, NULL},
        {"DK-027: lsi_msgpt2 is in 8.0", HOST("6.7") SAS2308, 0, 0, 0, "8.0u3", CLAIM_STAYS, CLAIM_LIKELY, NULL, NULL},
        {"DK-147: and not in 9.0", HOST("8.0u3") SAS2308, 0, 0, 0, "9.0", CLAIM_LOSES, CLAIM_SURE, NULL, "gone from 9.0"},
        {"DK-081: ConnectX-3 is in 7.0", HOST("6.7") MLX4, 0, 0, 0, "7.0u3", CLAIM_STAYS, CLAIM_LIKELY, NULL, NULL},
        {"DK-081: and not in 8.0", HOST("7.0u3") MLX4, 0, 0, 0, "8.0", CLAIM_LOSES, CLAIM_SURE, NULL, "gone from 8.0"},
        {"ahci's controllers go to vmw_ahci", HOST("6.7") "pci 0000:00:1f.2|vendor=8086|device=8c02|class=0106|prog-if=01|subvendor=0000|subdevice=0000|module=ahci\n"
         AHCI_LEGACY MODULE("vmw_ahci", "vmw-ahci", "native") AHCI_MAPS, 0, 0, 0, "7.0", CLAIM_CHANGES, CLAIM_LIKELY, "vmw_ahci", NULL},
        {"a workaround left over strands them", HOST("6.7") "pci 0000:00:1f.2|vendor=8086|device=8c02|class=0106|prog-if=01|subvendor=0000|subdevice=0000|module=ahci\n"
         AHCI_LEGACY "module vmw_ahci|enabled=no|loaded=no|vib=vmw-ahci|api=native\n" AHCI_MAPS, 0, 0, 0, "7.0", CLAIM_LOSES, CLAIM_LIKELY, NULL, "no vmklinux"},
        {"unless it is undone in the same go", HOST("6.7") "pci 0000:00:1f.2|vendor=8086|device=8c02|class=0106|prog-if=01|subvendor=0000|subdevice=0000|module=ahci\n"
         AHCI_LEGACY "module vmw_ahci|enabled=no|loaded=no|vib=vmw-ahci|api=native\n" AHCI_MAPS, 0, "vmw_ahci", 0, "7.0", CLAIM_CHANGES, CLAIM_LIKELY, "vmw_ahci", NULL},
        {"DK-147: elxnet stays in 9.0", HOST("8.0u3") "pci 0000:08:00.0|vendor=10df|device=0720|subvendor=10df|subdevice=e800|class=0200|prog-if=00|module=elxnet\n"
         MODULE("elxnet", "igbn", "native") "driver-map elxnet/1|driver=elxnet|pattern=10df0720..............|bus=pci|kind=native\n", 0, 0, 0, "9.0", CLAIM_STAYS,
         CLAIM_LIKELY, NULL, "has it too"},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check_case(*state, &t[i], NULL);
}

/* A VIB that replaces one of its name, and brings or lacks what the device needs. */
static void a_vib_brings_its_modules_and_maps(void **state)
{
    static const struct slice mod = {"megaraid_perc9", 14}, mr3 = {"lsi_mr3", 7}, replaced = {"lsi-mr3", 7};
    static const struct driver_line perc9 = {{"megaraid_perc9", 14}, {"megaraid-perc9", 14}, {"1000:005d 0000:0000", 19}, true, false};
    static const struct driver_line native = {{"newdrv", 6}, {"newdrv", 6}, {"1000005d..............", 22}, false, false};
    static const struct slice newdrv = {"newdrv", 6};
    static const struct claim_package empty = {.name = {"lsi-mr3", 7}, .version = {"9-1OEM", 6}}, cut = {.name = {"lsi-mr3", 7}, .version = {"9-1OEM", 6}, .why = "is cut"},
                                      same = {.name = {"lsi-mr3", 7}, .version = {"9-1OEM", 6}, .modules = &mr3, .nmodules = 1},
                                      legacy = {.name = {"megaraid-perc9", 14}, .version = {"6-1OEM", 6}, .modules = &mod, .nmodules = 1, .lines = &perc9, .nlines = 1},
                                      other = {.name = {"newdrv", 6}, .version = {"1-1OEM", 6}, .modules = &newdrv, .nmodules = 1, .lines = &native, .nlines = 1},
                                      instead = {.name = {"newdrv", 6}, .version = {"1-1OEM", 6}, .modules = &newdrv, .nmodules = 1, .lines = &native, .nlines = 1,
                                                 .replaces = &replaced, .nreplaces = 1};
    static const struct {
        const struct claim_package *install;
        struct claim_case c;
    } t[] = {
        {&same, {"a newer one of its name", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, 0, 0, 0, 0, CLAIM_STAYS, CLAIM_SURE, NULL, NULL}},
        {&empty, {"one without the module", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, 0, 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, "no such module"}},
        {&cut, {"one that was cut", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, 0, 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "is cut"}},
        /* vmklinux gets what the native one leaves: nothing, while that is enabled */
        {&legacy, {"DK-021: without the disable", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, 0, 0, 0, 0, CLAIM_STAYS, CLAIM_SURE, NULL, NULL}},
        {&legacy, {"DK-021: with it", HOST("6.0") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, "lsi_mr3", 0, 0, 0, CLAIM_UNKNOWN, CLAIM_SURE, NULL, "megaraid_perc9"}},
        {&other, {"a second native one", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, 0, 0, 0, 0, CLAIM_CHANGES, CLAIM_LIKELY, "lsi_mr3 newdrv", NULL}},
        {&instead, {"one that replaces it", HOST("6.7") PERC("005d", "lsi_mr3", "native") PERC_MODULES MR3 MEGA, 0, 0, 0, 0, CLAIM_CHANGES, CLAIM_SURE, "newdrv", NULL}},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        check_case(*state, &t[i].c, t[i].install);
}

static void the_chain_behind_a_device_is_named(void **state)
{
    static const struct claim_case t = {"x", HOST("7.0u3") "nic vmnic0|pci=0000:04:00.0|driver=qfle3|vswitches=vSwitch0|link=Up\n"
                                        "nic vmnic1|pci=0000:04:00.1|driver=qfle3|vswitches=vSwitch0|link=Up\n"
                                        "vswitch vSwitch0|uplinks=vmnic0,vmnic1\nvmknic vmk0|switch=vSwitch0|ipv4=192.0.2.5|netmask=255.255.255.0\n"
                                        "vmknic vmk1|switch=vSwitch0|ipv4=198.51.100.5|netmask=255.255.255.0\nnfs share1|host=198.51.100.9\n" QFLE3
                                        "pci 0000:04:00.1|vendor=14e4|device=16a2|subvendor=103c|subdevice=1916|class=0200|prog-if=00|module=qfle3\n",
                                        "qfle3", 0, 0, 0, CLAIM_LOSES, CLAIM_SURE, NULL, NULL};
    struct world *w = *state;
    struct claim_world cw;
    struct claim both[2], one;
    struct claim_behind b;

    one = predict(w, &t, NULL, &cw);
    both[0] = one;
    assert_int_equal(claim_predict(&cw, derive_row(w->f, "pci", 1), &both[1], &w->e), 0);
    assert_int_equal(both[1].outcome, CLAIM_LOSES);
    claim_behind(w->f, &both[0], &one, 1, &b);
    assert_true(b.used);
    assert_false(b.severe); /* vmnic1 is left */
    claim_behind(w->f, &both[0], both, 2, &b);
    assert_true(b.severe);
    assert_int_equal(b.nlinks, 3);
    assert_string_equal(b.links[0].what, "management");
    assert_non_null(strstr(b.links[0].text, "no other uplink is left"));
    assert_string_equal(b.links[1].what, "vmknic");
    assert_string_equal(b.links[2].what, "nfs");
    assert_non_null(strstr(b.links[2].text, "share1 from 198.51.100.9 over vmk1"));
}

/* DK-130, DK-132, KB 78389. */
static void vibs_that_stand_in_the_way(void **state)
{
    static const struct {
        const char *line, *from, *to;
        int weight; /* -1: not named */
        const char *why;
    } t[] = {
        {"vib qedf|version=1.3.22.0-1OEM.670.0.0.8169922|depends=vmkapi_2_3_0_0, com.vmware.iscsi_linux\n", "6.7", "7.0", UPGRADE_BLOCKS, "vmkapi_2_3"},
        {"vib qedf|version=1.3.22.0-1OEM.670.0.0.8169922|depends=?\n", "6.7", "7.0", UPGRADE_OPEN, "not known"},
        {"vib qedf|version=1.3.22.0-1OEM.700.1.0.15843807|depends=vmkapi_2_6_0_0\n", "7.0u1", "8.0", -1, NULL},
        {"vib scsi-megaraid-sas|version=6.612.07.00-1OEM.600.0.0.2494585|depends=?\n", "6.7", "7.0", UPGRADE_BLOCKS, "vmklinux"},
        {"vib sata-ahci|version=3.0-26vmw.670.0.0.8169922|depends=com.vmware.driverAPI-9.2.3.0\n", "6.7", "7.0", UPGRADE_NOTE, "vmklinux"},
        {"vib sata-ahci|version=3.0-26vmw.670.0.0.8169922|depends=com.vmware.driverAPI-9.2.3.0\n", "6.5", "6.7", -1, NULL},
        {"vib nvme|version=1.2.1.34-1vmw.670.0.0.8169922|depends=vmkapi_2_2_0_0\n", "6.7", "7.0", UPGRADE_NOTE, "nvme-pcie"},
        {"vib nmlx4-core|version=3.19.16.8-2vmw.702.0.0.17867351|depends=vmkapi_2_2_0_0\n", "7.0u2", "8.0", UPGRADE_NOTE, "not in the image"},
        {"vib net-community|version=1.0-1|acceptance-level=CommunitySupported|depends=-\n", "7.0u3", "8.0", UPGRADE_BLOCKS, "CommunitySupported"},
        {"vib xhci-xhci|version=1.0-3vmw.550.3.78.3248547|depends=-\n", "5.5u3", "6.0", UPGRADE_BLOCKS, "newer"},
        {"vib xhci-xhci|version=1.0-2vmw.600.0.0.2494585|depends=-\n", "5.5u3", "6.0", -1, NULL},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct driver_data d = data_of(w);
        struct claim_change c = {0};
        struct upgrade_check out;
        struct claim_world cw;

        w->f = NULL;
        world_facts(w, arena_printf(w->a, "@%s\ncpu 0|family=6|model=85|vendor=GenuineIntel\n%s", t[i].from, t[i].line));
        assert_int_equal(release_parse(slice_of(t[i].to), &c.upgrade, &w->e), 0);
        claim_world_init(&cw, w->f, &w->builds, &d, &c);
        assert_int_equal(upgrade_judge(&cw, &out, &w->e), 0);
        if (t[i].weight < 0 ? out.n != 0 : out.n != 1 || (int)out.v[0].weight != t[i].weight || !strstr(out.v[0].why, t[i].why))
            fail_msg("%s to %s: %zu %s", t[i].line, t[i].to, out.n, out.n ? out.v[0].why : "");
    }
}

static void data_files_that_are_wrong_name_the_line(void **state)
{
    static const struct {
        bool changes;
        const char *text, *why;
    } t[] = {
        {false, "a\tnative\t-\t8086....\t6.7.0\thigh\n", "x:1: the pattern"},
        {false, "# c\na\tboth\t-\t80861572..............\t6.7.0\thigh\n", "x:2: the kind"},
        {false, "a\tnative\t-\t80861572..............\t6.7.0\n", "x:1: wants 6 fields"},
        {true, "7.x\tmodule\ta\t-\tsure\ts\n", "x:1"},
        {true, "7.0\tthing\ta\t-\tsure\ts\n", "kind, module, vib"},
        {true, "7.0\tmodule\ta\t-\tmaybe\ts\n", "sure or likely"},
        {true, "7.0\tmodule\ta\t\tsure\ts\n", "wants 6 fields"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct driver_data d = {0};

        assert_int_equal(t[i].changes ? driverdata_load_changes(slice_of(t[i].text), "x", w->a, &d, &w->e)
                                      : driverdata_load_lines(slice_of(t[i].text), "x", w->a, &d, &w->e), VF_EFORMAT);
        if (!strstr(w->e.msg, t[i].why))
            fail_msg("%s: %s", t[i].text, w->e.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_order_of_claiming, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_no_verdict, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_an_upgrade_leaves, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_vib_brings_its_modules_and_maps, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(the_chain_behind_a_device_is_named, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(vibs_that_stand_in_the_way, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(data_files_that_are_wrong_name_the_line, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
