#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "decoding.h"

#define LIMIT (64u << 20)

/* A command's text in its documented form, and what tells one of its records from another. */
struct form {
    const char *name;
    decode_fn *run;
    struct decode_opt opt;
    const char *ident;    /* key, NULL for the record's id */
    const char *words[4]; /* keys and headings that a translation would change */
    const char *text;
};

static const struct form forms[] = {
    {"scsidevs -a", decode_lines, {.line = "{HBA Name} {Driver} {Link State} {UID} {Description...}"}, "HBA Name", {NULL},
     "vmhba0  lsi_mr3           link-n/a  sas.5000000000000001                    (0000:02:00.0) Avago (LSI) PERC H730 Mini\n"
     "vmhba1  vmw_ahci          link-n/a  sata.vmhba1                             (0:0:17.4) Intel Corporation AHCI Controller\n"
     "vmhba32 vmkusb            link-n/a  usb.vmhba32                             () USB\n"
     "vmhba33 bnx2i             unbound   iscsi.vmhba33                           QLogic 5709 1 Gigabit Ethernet Adapter\n"},
    {"vmkchdev", decode_lines,
     {.line = "{Address} {Vendor ID}:{Device ID} {SubVendor ID}:{SubDevice ID} {Owner} {VMkernel Name?}"}, "Address", {NULL},
     "0000:01:00.0 8086:1528 1028:1f61 vmkernel vmnic0\n"
     "0000:42:00.0 10de:1b38 10de:11d9 passthru\n"
     "0000:00:11.4 8086:8d62 1028:0601 vmkernel vmhba1\n"},
    {"vmkchdev, names of several words", decode_lines,
     {.line = "{Address} {Vendor ID}:{Device ID} {SubVendor ID}:{SubDevice ID} {Owner} {VMkernel Name...}"}, "Address", {NULL},
     "0000:00:1c.0 8086:a190 1028:0a6b vmkernel PCIe RP[0000:00:1c.0]\n0000:00:1f.0 8086:a1cb 1028:0a6b vmkernel\n"},
    {"vmware -vl", decode_lines, {.line = "+VMware ESXi {Version} build-{Build}\nVMware ESXi {Release...}"}, NULL,
     {"build", "VMware", NULL},
     "VMware ESXi 8.0.3 build-24022510\nVMware ESXi 8.0 Update 3\n"},
    {"scsidevs -c", decode_columns,
     {.columns = "Device UID|Device Type|Console Device|Size|Multipath Plugin|Display Name"}, "Device UID",
     {"Size", "Multipath Plugin", "Display Name", NULL},
     "Device UID            Device Type      Console Device                            Size      Multipath PluginDisplay Name\n"
     "naa.5000000000000048  Direct-Access    /vmfs/devices/disks/naa.5000000000000048  69618MB   NMP     LSILOGIC Serial Attached SCSI Disk (naa.5000000000000048)\n"
     "naa.5000000000000049  Direct-Access    /vmfs/devices/disks/naa.5000000000000049  1048576MB   NMP     NETAPP Fibre Channel Disk (naa.5000000000000049)\n"
     "naa.500000000000004a  Enclosure Svc Dev/vmfs/devices/disks/naa.500000000000004a  0MB       HPP     Local DP Enclosure Svc Dev\n"},
    {"lspci -p", decode_columns, {.columns = "Segm:Bu:De.F|Vend:Dvid|Subv:Subd|ISA/irq/Vect|P|M|Module|Name"},
     "Segm:Bu:De.F", {"Module", "Name", NULL},
     "Segm:Bu:De.F Vend:Dvid Subv:Subd ISA/irq/Vect P M Module       Name    \n"
     "0000:04:00.0 8086:1533 1043:8557 255/   /     A V igbn         vmnic0\n"
     "0000:05:00.0 10de:1b38 10de:11d9 11/ 11/0x2B  A P pciPassthru           vmgfx0\n"
     "0000:06:00.0 1d6a:d108 1d6a:0001 255/   /     A V              vmnic2\n"
     "0000:07:00.0 1d6a:d108 1d6a:0001 255/   /     A V a_module_of_16_l vmnic3\n"},
    {"nics -l", decode_nics, {.name = "x"}, "Name", {"Driver", "Description", NULL},
     "Name    PCI          Driver      Link Speed      Duplex MAC Address       MTU    Description\n"
     "vmnic0  0000:4b:00.0 icen        Up   25000Mbps  Full   68:05:ca:00:00:2f 1500   Intel(R) Ethernet Controller E810-C for SFP\n"
     "vmnic1  0000:03:00.0             Down 0Mbps      Half   5a:5b:03:00:00:21 9000   Pensando Systems, Inc Ethernet PF\n"
     "vmnic10 0000:ca:00.0 i40en       Up   10000Mbps  Full   3c:fd:aa:00:00:31 1500   X710 for 10GbE SFP+\n"},
    {"boot.cfg", decode_pairs, {.shape = SHAPE_OBJECT}, NULL, {"kernel", "modules", NULL},
     "bootstate=0\ntitle=Loading VMware ESXi\ntimeout=5\nprefix=\nkernel=b.b00\n"
     "kernelopt=autoPartition=FALSE ks=http://192.0.2.1/k\nmodules=a.gz --- b.b00 --- c.v00\nbuild=8.0.2-0.0.22380479\nupdated=1\n"},
    {"ethtool -i", decode_pairs, {.shape = SHAPE_OBJECT}, NULL, {"version", "driver", NULL},
     "driver: igb\nversion: 5.3.1\nfirmware-version: 1.63, 0x80000aa6\nbus-info: 0000:03:00.0\n"},
    {"vsish", decode_pairs, {.shape = SHAPE_TABLE}, "Name", {NULL},
     "Comprehensive {\n   Given to VMKernel:134045160 KB\n   Free:70056528 KB\n   Sub {\n      Free:2\n      Used:3\n   }\n   Last:4\n}\n"},
    {"vsish record", decode_pairs, {.shape = SHAPE_OBJECT}, NULL, {"Free", "Sub", NULL},
     "Comprehensive {\n   Given to VMKernel:134045160 KB\n   Free:70056528 KB\n   Sub {\n      Free:2\n      Used:3\n   }\n   Last:4\n}\n"},
    {"map", decode_map, {.name = "etc/vmware/driver.map.d/ahci.map"}, "id", {"regtype", "class", NULL},
     "# comment\nregtype=linux,bus=pci,id=1002:4390 0000:0000,driver=ahci,class=storage\n"
     "bus=pci,regtype=linux,id=1002:4391 0000:0000,driver=ahci,class=storage\n"
     "regtype=native,bus=pci,id=8086150e..............,driver=igbn\n"},
    {"map of one driver", decode_map, {.name = "iscsi_vmk.map"}, "id", {"driver", NULL},
     "regtype=native,bus=logical,id=com.vmware.iscsi_vmk,driver=iscsi_vmk\n"},
    {"lspci", decode_pci, {.name = "x"}, "Address", {NULL},
     "0000:00:00.0 Host bridge: Intel Corporation Xeon E3-1200 Host Bridge/DRAM Registers\n"
     "0000:00:01.0 PCI bridge: Intel Corporation PCIe Controller (x16) [PCIe RP[0000:00:01.0]]\n"
     "0000:01:00.0 Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Hawaii [Radeon]\n"
     "0000:02:00.0 Network controller: Intel Corporation I350 [vmnic0]\n"},
    {"lspci -n", decode_pci, {.name = "x"}, "Address", {"Class", NULL},
     "0000:31:00.0 Class 0200: 8086:1521 [vmnic4]\n0000:ca:02.1 Class 0200: 8086:154c [PF_0.202.0_VF_1]\n"
     "0000:cb:00.0 Class 0604: 8086:154d\n"},
    {"lspci -v", decode_pci, {.name = "x"}, "Address", {"Class", NULL},
     "0000:00:17.0 Mass storage controller SATA controller: Intel Corporation AHCI Controller [vmhba0]\n"
     "\t Class 0106: 8086:9d03\n\t Subsystem: something\n"
     "0000:00:1f.6 Network controller: Intel Corporation I219 [vmnic0]\n"
     "\t Class 0200: 8086:156f\n"},
    {"vmkload_mod -s", decode_vmkload, {.name = "x"}, "Module", {"Version", "License", "Required name-spaces", NULL},
     "vmkload_mod module information\n input file: /usr/lib/vmware/vmkmod/sata_nv.o\n"
     " Version: Version 2.0.0.1-1vmw, Build: 348481, Interface: ddi_9_1 Built on: Jan 12 2011\n License: GPL\n"
     " Required name-spaces:\n  com.vmware.vmkapi@v1_1_0_0\n Parameters:\n  heap_max: int\n    Maximum: the heap size.\n"
     "vmkload_mod module information\n input file: /usr/lib/vmware/vmkmod/lsi_mr3\n Version: 7.703.18.00-1OEM\n"
     " License: GPLv2\n Required name-spaces:\n  com.vmware.vmkapi#v2_2_0_0\n Parameters:\n  max_sectors: int\n    Sectors\n"},
    {"vmkload_mod -s parameters", decode_vmkload_params, {.name = "x"}, "Name", {"Parameters", "input file", NULL},
     "esxcfg-module module information\ninput file: /usr/lib/vmware/vmkmod/i40en\nLicense: ThirdParty:Intel\n"
     "Version: 2.6.0\nName-space:\nRequired name-spaces:\n com.vmware.vmkapi@v2_10_0_0\nParameters:\n"
     " DRSS: array of int\n  Queues (DRSS): 0/4/8/16 (default = 0)\n EEE: array of int\n  Energy: 0 = disable\n"
     " RxITR: int\n  Default RX interval\n"},
    {"scsidevs -l", decode_scsidevs, {.name = "x"}, NULL, {"Model", "Device Type", "Other Names", NULL},
     "mpx.vmhba32:C0:T0:L0\n   Device Type: Direct-Access\n   Size: 15384 MB\n"
     "   Display Name: Local USB Direct-Access (mpx.vmhba32:C0:T0:L0)\n   Multipath Plugin: NMP\n"
     "   Vendor: UFD 2.0   Model: Silicon-Power16G  Revis: 1100\n   SCSI Level: 2  Is Pseudo: false Status: on\n"
     "   Is RDM Capable: false Is Removable: true\n   Is Local: true  Is SSD: false\n   Other Names:\n      vml.000e\n"
     "   VAAI Status: unsupported\n"
     "naa.6c81f66000000033\n   Device Type: Direct-Access\n   Size: 1887435 MB\n"
     "   Display Name: Local DELL Disk (naa.6c81f66000000033)\n   Multipath Plugin: HPP\n"
     "   Vendor: DELL      Model: PERC H700         Revis: 2.10\n   SCSI Level: 5  Is Pseudo: false Status: degraded\n"
     "   Is RDM Capable: true Is Removable: false\n   Is Local: false  Is SSD: true\n   Other Names:\n      vml.0200\n      vml.0300\n"
     "   VAAI Status: supported\n"},
    {"mpath -b", decode_mpath, {.name = "x"}, "Runtime Name", {"Adapter:", "state", NULL},
     "naa.6000000000000048 : LSILOGIC Serial Attached SCSI Disk (naa.6000000000000048)\n"
     "   vmhba0:C1:T0:L0 LUN:0 state:active sas Adapter: 5000000000000001  Target: c000000000000002\n\n"
     "naa.6000000000000049 : NETAPP Fibre Channel Disk (naa.6000000000000049)\n"
     "   vmhba2:C0:T3:L1 LUN:1 state:standby fc Adapter: WWNN: 20:00 WWPN: 20:01  Target: WWNN: 50:0a WWPN: 50:0b\n"
     "   vmhba3:C0:T4:L1 LUN:1 state:dead fc Adapter: WWNN: 20:02 WWPN: 20:03  Target: WWNN: 50:0a WWPN: 50:0c\n"},
    {"vswitch -l", decode_vswitch, {.name = "x"}, "Name", {"Switch Name", "PortGroup Name", "DVS Name", NULL},
     "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
     "vSwitch0         6690        5           128               1500    vmnic0,vmnic1\n\n"
     "  PortGroup Name                            VLAN ID  Used Ports  Uplinks\n"
     "  VM Network                                0        1           vmnic0\n"
     "  Net 5                                     20       0           vmnic0,vmnic1\n\n"
     "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
     "vSwitch1         6690        1           64                9000\n\n"
     "  PortGroup Name                            VLAN ID  Used Ports  Uplinks\n"
     "  Storage                                   7        2\n\n"
     "DVS Name         Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
     "DSwitch_063LongName 6690        4           512               1600    vmnic3\n\n"
     "  DVPort ID                               In Use      Client\n  0                                       1           vmnic3\n"},
    {"vim-cmd", decode_vimcmd, {.name = "x"}, NULL, {"vendor", "runtime", NULL},
     "(vim.host.Summary) {\n   host = 'vim.HostSystem:ha-host',\n   hardware = (vim.host.Summary.HardwareSummary) {\n"
     "      vendor = \"QEMU \\\"x\\\"\",\n      otherIdentifyingInfo = (vim.host.SystemIdentificationInfo) [\n"
     "         (vim.host.SystemIdentificationInfo) {\n            identifierValue = \"\",\n"
     "            identifierType = (vim.ElementDescription) {\n               label = \"Asset Tag\"\n            }\n         },\n"
     "         (vim.host.SystemIdentificationInfo) {\n            identifierValue = \"7\"\n         }\n"
     "      ],\n      memorySize = 8589328384\n   },\n   tags = (string) [\n      \"a b\",\n      \"c\"\n   ],\n"
     "   runtime = (vim.host.RuntimeInfo) {\n      standbyMode = <unset>,\n      inMaintenanceMode = false,\n   },\n}\n"},
    /* Nothing ties a field to its title but its place: a field moved past a title is seen only when its key comes twice. */
    {"smbiosDump", decode_smbios, {.name = "x"}, NULL, {"Vendor", "Version", NULL},
     "  BIOS Info (Type 0): #0\n    Vendor: \"Dell Inc.\"\n    Version: \"2.4.3\"\n    Date: \"07/09/2014\"\n    Features: 0xb0f8\n"
     "      PCI supported\n      Upgradable: yes\n"
     "  System Info (Type 1): #1\n    Version: \"\"\n    Manufacturer: \"Dell\"\n    Serial: \"S0000001\"\n"
     "  System Slot (Type 9): #226\n    Version: \"x\"\n    Serial: \"y\"\n    Bus Width: 0x0d (x16)\n"},
};

#define NFORMS (sizeof forms / sizeof *forms)

static int run(const struct form *f, struct slice text, struct arena *a, struct decoded *d)
{
    int rc = f->run(text, &f->opt, a, d);

    assert_true(rc == 0 || rc == VF_ELIMIT);
    assert_true(d->state != DECODE_COMPLETE || !d->why);
    assert_true(d->state == DECODE_COMPLETE || d->why);
    return rc;
}

static const struct field *find(const struct record *r, const char *key, size_t nth)
{
    for (uint32_t i = 0; i < r->nfields; i++)
        if (decode_key_eq(r->fields[i].key, slice_of(key)) && nth-- == 0)
            return &r->fields[i];
    return NULL;
}

static struct slice ident(const struct form *f, const struct record *r)
{
    const struct field *x;

    if (!f->ident)
        return r->id;
    x = find(r, f->ident, 0);
    return x && !x->damage && !find(r, f->ident, 1) ? x->text : (struct slice){NULL, 0};
}

/* A translated key is one that no probe asks for. */
static bool asked_for(const struct decoded *whole, struct slice key)
{
    for (size_t i = 0; i < whole->n; i++)
        for (uint32_t j = 0; j < whole->records[i].nfields; j++)
            if (decode_key_eq(whole->records[i].fields[j].key, key))
                return true;
    return false;
}

static bool given(const struct form *f, const struct decoded *whole, struct slice id, const struct field *x)
{
    for (size_t i = 0; i < whole->n; i++) {
        const struct record *r = &whole->records[i];

        if (!slice_eq(ident(f, r), id))
            continue;
        for (uint32_t j = 0; j < r->nfields; j++)
            if (slice_eq(r->fields[j].key, x->key) && slice_eq(r->fields[j].text, x->text))
                return true;
    }
    return false;
}

/* Two texts of one key of one record make it unknown: the binding sees a contradiction. */
static bool contradicted(const struct record *r, const struct field *x)
{
    for (uint32_t i = 0; i < r->nfields; i++)
        if (decode_key_eq(r->fields[i].key, x->key) && !x->listed && !slice_eq(r->fields[i].text, x->text))
            return true;
    return false;
}

static void no_wrong_value(const struct form *f, const struct decoded *whole, struct slice text, const char *what, size_t at)
{
    struct arena *a = arena_new(LIMIT);
    struct decoded d;

    (void)run(f, text, a, &d);
    for (size_t i = 0; i < d.n; i++) {
        const struct record *r = &d.records[i];
        struct slice id = ident(f, r);

        if (f->ident && !id.p)
            continue;
        for (uint32_t j = 0; j < r->nfields; j++)
            if (!r->fields[j].damage && asked_for(whole, r->fields[j].key) && !contradicted(r, &r->fields[j]) && !given(f, whole, id, &r->fields[j]))
                fail_msg("%s, %s at %zu: %.*s of %.*s is \"%.*s\"", f->name, what, at, (int)r->fields[j].key.n,
                         r->fields[j].key.p, (int)id.n, id.p ? id.p : "", (int)r->fields[j].text.n, r->fields[j].text.p);
    }
    arena_free(a);
}

static size_t split_lines(const char *text, struct slice *line, size_t max)
{
    struct slice rest = slice_of(text);
    size_t n = 0;

    while (n < max && slice_next_line(&rest, &line[n], NULL))
        n++;
    return n;
}

static void add_line(struct buf *b, struct slice line)
{
    buf_add(b, line);
    buf_addc(b, '\n');
}

static void changed_lines(const struct form *f, const struct decoded *whole)
{
    static const char *const how[] = {"delete", "double", "swap"};
    struct slice line[64];
    size_t n = split_lines(f->text, line, 64);

    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i + (k == 2) < n; i++) {
            _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);

            for (size_t j = 0; j < n; j++) {
                if (j != i || k == 1)
                    add_line(&b, line[j]);
                if (j == i && k == 1)
                    add_line(&b, line[j]);
                if (k == 2 && j == i + 1)
                    add_line(&b, line[i]);
            }
            no_wrong_value(f, whole, buf_slice(&b), how[k], i + 1);
        }
}

static void translated(const struct form *f, const struct decoded *whole)
{
    for (size_t k = 0; k < 4 && f->words[k]; k++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
        struct slice rest = slice_of(f->text);
        size_t at;

        while ((at = slice_find(rest, 0, f->words[k])) != SIZE_MAX) {
            buf_add(&b, slice_cut(rest, 0, at));
            buf_addz(&b, "\xc3\x9c" "bersetzt");
            rest = slice_from(rest, at + strlen(f->words[k]));
        }
        buf_add(&b, rest);
        no_wrong_value(f, whole, buf_slice(&b), "translate", k);
    }
}

static void no_form_gives_a_wrong_value_after_a_change(void **state)
{
    for (size_t i = 0; i < NFORMS; i++) {
        struct decoded whole;
        size_t n = strlen(forms[i].text);

        assert_int_equal(run(&forms[i], slice_of(forms[i].text), *state, &whole), 0);
        assert_true(whole.n > 0);
        changed_lines(&forms[i], &whole);
        translated(&forms[i], &whole);
        for (size_t cut = 0; cut < n; cut++) {
            char *copy = xmalloc(cut ? cut : 1);

            memcpy(copy, forms[i].text, cut);
            no_wrong_value(&forms[i], &whole, (struct slice){copy, cut}, "cut", cut);
            free(copy);
        }
    }
}

static void every_form_is_complete_and_undamaged(void **state)
{
    for (size_t i = 0; i < NFORMS; i++) {
        struct decoded d;

        assert_int_equal(run(&forms[i], slice_of(forms[i].text), *state, &d), 0);
        if (strcmp(forms[i].name, "scsidevs -c") != 0) /* its last row is not to be read in one way */
            assert_int_equal(d.state, DECODE_COMPLETE);
        for (size_t r = 0; r < d.n; r++)
            for (uint32_t j = 0; j < d.records[r].nfields; j++)
                assert_null(d.records[r].fields[j].damage);
    }
}

static void carriage_returns_change_nothing(void **state)
{
    for (size_t i = 0; i < NFORMS; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
        struct slice line[64];
        struct decoded one, two;
        size_t n = split_lines(forms[i].text, line, 64);

        for (size_t j = 0; j < n; j++) {
            buf_add(&b, line[j]);
            buf_addz(&b, "\r\n");
        }
        (void)run(&forms[i], slice_of(forms[i].text), *state, &one);
        (void)run(&forms[i], buf_slice(&b), *state, &two);
        assert_int_equal(one.state, two.state);
        assert_int_equal(one.n, two.n);
        for (size_t r = 0; r < one.n; r++) {
            assert_int_equal(one.records[r].nfields, two.records[r].nfields);
            for (uint32_t j = 0; j < one.records[r].nfields; j++)
                assert_true(slice_eq(one.records[r].fields[j].text, two.records[r].fields[j].text));
        }
    }
}

static void a_full_arena_is_reported_and_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++)
        for (size_t n = 1;; n++) {
            struct arena *a = arena_new(LIMIT);
            struct decoded d;
            bool full;

            arena_fail_at(a, n);
            full = run(&forms[i], slice_of(forms[i].text), a, &d) == VF_ELIMIT;
            if (full != arena_full(a))
                fail_msg("%s: allocation %zu, %d", forms[i].name, n, full);
            arena_free(a);
            if (!full)
                break;
        }
}

static void random_bytes_are_survived(void **state)
{
    static const char likely[] = " \n\n:={}[]()\"',.#0123abcxVLUN\t\r/-";
    uint64_t seed = 20240501;

    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        const struct form *f = &forms[round % NFORMS];
        struct arena *a = arena_new(LIMIT);
        size_t n = next_random(&seed) % 400, whole = strlen(f->text), i;
        char *text = xmalloc(n + 1);
        struct decoded d;

        for (i = 0; i < n; i++)
            text[i] = (char)(round % 2 ? next_random(&seed) : (uint64_t)likely[next_random(&seed) % (sizeof likely - 1)]);
        if (round % 3 == 0) { /* a real text with holes */
            size_t from = next_random(&seed) % whole;

            for (i = 0; i < n && from + i < whole; i++)
                if (next_random(&seed) % 16)
                    text[i] = f->text[from + i];
        }
        (void)run(f, (struct slice){text, n}, a, &d);
        arena_free(a);
        free(text);
    }
}

static void an_error_is_no_answer(void **state)
{
    static const struct {
        const char *text;
        enum decode_state state;
    } table[] = {
        {"", DECODE_UNUSABLE},
        {" \n\n", DECODE_UNUSABLE},
        {"-sh: esxcfg-nics: not found\n", DECODE_REFUSED},
        {"cat: can't open '/bootbank/boot.cfg': No such file or directory\n", DECODE_REFUSED},
        {"Connect to localhost failed: Connection failure\n", DECODE_REFUSED},
        {"VSISHCmdGetInt():Get failed: Not supported\n", DECODE_REFUSED},
        {"open: Operation not permitted\n", DECODE_REFUSED},
    };

    for (size_t i = 0; i < NFORMS; i++)
        for (size_t j = 0; j < sizeof table / sizeof *table; j++) {
            struct decoded d;

            assert_int_equal(run(&forms[i], slice_of(table[j].text), *state, &d), 0);
            assert_int_equal(d.state, table[j].state);
            assert_int_equal(d.n, 0);
            if (j < 2)
                assert_string_equal(d.why, "empty answer");
        }
}

/* Form, record, key, which of that key, text; NULL: there is no such field. */
static const struct {
    const char *form;
    size_t record;
    const char *key;
    size_t nth;
    const char *text;
} expected[] = {
    {"scsidevs -a", 0, "Description", 0, "(0000:02:00.0) Avago (LSI) PERC H730 Mini"},
    {"scsidevs -a", 2, "Description", 0, "() USB"},
    {"scsidevs -a", 3, "Link State", 0, "unbound"},
    {"vmkchdev", 0, "Device ID", 0, "1528"},
    {"vmkchdev", 1, "Owner", 0, "passthru"},
    {"vmkchdev", 1, "VMkernel Name", 0, ""},
    {"vmkchdev", 2, "VMkernel Name", 0, "vmhba1"},
    {"vmkchdev, names of several words", 0, "VMkernel Name", 0, "PCIe RP[0000:00:1c.0]"},
    {"vmkchdev, names of several words", 1, "VMkernel Name", 0, ""},
    {"vmware -vl", 0, "Version", 0, "8.0.3"},
    {"vmware -vl", 0, "Build", 0, "24022510"},
    {"vmware -vl", 0, "Release", 0, "8.0 Update 3"},
    {"scsidevs -c", 0, "Size", 0, "69618MB"},
    {"scsidevs -c", 0, "Multipath Plugin", 0, "NMP"},
    {"scsidevs -c", 0, "Display Name", 0, "LSILOGIC Serial Attached SCSI Disk (naa.5000000000000048)"},
    {"scsidevs -c", 1, "Size", 0, "1048576MB"},
    {"scsidevs -c", 1, "Display Name", 0, "NETAPP Fibre Channel Disk (naa.5000000000000049)"},
    {"lspci -p", 0, "ISA/irq/Vect", 0, "255/   /"},
    {"lspci -p", 0, "Module", 0, "igbn"},
    {"lspci -p", 1, "M", 0, "P"},
    {"lspci -p", 1, "Module", 0, "pciPassthru"},
    {"lspci -p", 1, "Name", 0, "vmgfx0"},
    {"lspci -p", 2, "Module", 0, ""},
    {"lspci -p", 2, "Name", 0, "vmnic2"},
    {"lspci -p", 3, "Module", 0, "a_module_of_16_l"},
    {"lspci -p", 3, "Name", 0, "vmnic3"},
    {"nics -l", 0, "Driver", 0, "icen"},
    {"nics -l", 1, "Driver", 0, ""},
    {"nics -l", 1, "MTU", 0, "9000"},
    {"nics -l", 1, "Description", 0, "Pensando Systems, Inc Ethernet PF"},
    {"nics -l", 2, "Name", 0, "vmnic10"},
    {"nics -l", 2, "Speed", 0, "10000Mbps"},
    {"boot.cfg", 0, "kernelopt", 0, "autoPartition=FALSE ks=http://192.0.2.1/k"},
    {"boot.cfg", 0, "modules", 0, "a.gz --- b.b00 --- c.v00"},
    {"boot.cfg", 0, "prefix", 0, ""},
    {"ethtool -i", 0, "firmware-version", 0, "1.63, 0x80000aa6"},
    {"vsish", 0, "Name", 0, "Given to VMKernel"},
    {"vsish", 0, "Value", 0, "134045160 KB"},
    {"vsish", 2, "Name", 0, "Sub/Free"},
    {"vsish", 4, "Name", 0, "Last"},
    {"map", 0, "id", 0, "1002:4390 0000:0000"},
    {"map", 1, "class", 0, "storage"},
    {"map", 2, "driver", 0, "igbn"},
    {"lspci", 0, "Class Name", 0, "Host bridge"},
    {"lspci", 1, "VMkernel Name", 0, NULL},
    {"lspci", 2, "VMkernel Name", 0, NULL},
    {"lspci", 2, "Device Name", 0, "Advanced Micro Devices, Inc. [AMD/ATI] Hawaii [Radeon]"},
    {"lspci", 3, "VMkernel Name", 0, "vmnic0"},
    {"lspci", 3, "Device Name", 0, "Intel Corporation I350"},
    {"lspci -n", 0, "Class", 0, "0200"},
    {"lspci -n", 1, "VMkernel Name", 0, "PF_0.202.0_VF_1"},
    {"lspci -n", 2, "Device ID", 0, "154d"},
    {"lspci -v", 0, "Class Name", 0, "Mass storage controller SATA controller"},
    {"lspci -v", 0, "Class", 0, "0106"},
    {"lspci -v", 1, "Device ID", 0, "156f"},
    {"vmkload_mod -s", 0, "Module", 0, "sata_nv"},
    {"vmkload_mod -s", 0, "File", 0, "/usr/lib/vmware/vmkmod/sata_nv.o"},
    {"vmkload_mod -s", 0, "Version", 0, "Version 2.0.0.1-1vmw, Build: 348481, Interface: ddi_9_1 Built on: Jan 12 2011"},
    {"vmkload_mod -s", 1, "License", 0, "GPLv2"},
    {"vmkload_mod -s", 1, "Namespaces", 0, "com.vmware.vmkapi#v2_2_0_0"},
    {"vmkload_mod -s parameters", 0, "Module", 0, "i40en"},
    {"vmkload_mod -s parameters", 0, "Type", 0, "array of int"},
    {"vmkload_mod -s parameters", 0, "Description", 0, "Queues (DRSS): 0/4/8/16 (default = 0)"},
    {"vmkload_mod -s parameters", 2, "Name", 0, "RxITR"},
    {"scsidevs -l", 0, "Vendor", 0, "UFD 2.0"},
    {"scsidevs -l", 0, "Model", 0, "Silicon-Power16G"},
    {"scsidevs -l", 1, "Model", 0, "PERC H700"},
    {"scsidevs -l", 1, "Revision", 0, "2.10"},
    {"scsidevs -l", 1, "Status", 0, "degraded"},
    {"scsidevs -l", 1, "Is SSD", 0, "true"},
    {"scsidevs -l", 1, "Size", 0, "1887435 MB"},
    {"scsidevs -l", 1, "Other UIDs", 1, "vml.0300"},
    {"mpath -b", 0, "Adapter Identifier", 0, "5000000000000001"},
    {"mpath -b", 1, "Device", 0, "naa.6000000000000049"},
    {"mpath -b", 1, "Adapter", 0, "vmhba2"},
    {"mpath -b", 1, "Target", 0, "3"},
    {"mpath -b", 1, "LUN", 0, "1"},
    {"mpath -b", 1, "Transport", 0, "fc"},
    {"mpath -b", 1, "Adapter Identifier", 0, "WWNN: 20:00 WWPN: 20:01"},
    {"mpath -b", 1, "Target Identifier", 0, "WWNN: 50:0a WWPN: 50:0b"},
    {"mpath -b", 2, "State", 0, "dead"},
    {"vswitch -l", 0, "Kind", 0, "standard"},
    {"vswitch -l", 0, "Uplinks", 1, "vmnic1"},
    {"vswitch -l", 0, "Portgroups", 1, "Net 5"},
    {"vswitch -l", 1, "MTU", 0, "9000"},
    {"vswitch -l", 1, "Uplinks", 0, NULL},
    {"vswitch -l", 1, "Portgroups", 0, "Storage"},
    {"vswitch -l", 2, "Name", 0, "DSwitch_063LongName"},
    {"vswitch -l", 2, "Kind", 0, "distributed"},
    {"vswitch -l", 2, "Num Ports", 0, "6690"},
    {"vim-cmd", 0, "host", 0, "vim.HostSystem:ha-host"},
    {"vim-cmd", 0, "hardware/vendor", 0, "QEMU \"x\""},
    {"vim-cmd", 0, "hardware/otherIdentifyingInfo/identifierValue", 1, "7"},
    {"vim-cmd", 0, "tags", 0, "a b"},
    {"vim-cmd", 0, "runtime/standbyMode", 0, ""},
    {"vim-cmd", 0, "runtime/inMaintenanceMode", 0, "false"},
    {"smbiosDump", 0, "Vendor", 0, "Dell Inc."},
    {"smbiosDump", 0, "Upgradable", 0, NULL},
    {"smbiosDump", 1, "Version", 0, ""},
    {"smbiosDump", 1, "Serial", 0, "S0000001"},
    {"smbiosDump", 2, "Bus Width", 0, "0x0d (x16)"},
};

static void each_form_gives_its_values(void **state)
{
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct form *f = forms;
        const struct field *x;
        struct decoded d;

        while (strcmp(f->name, expected[i].form) != 0)
            f++;
        (void)run(f, slice_of(f->text), *state, &d);
        assert_true(expected[i].record < d.n);
        x = find(&d.records[expected[i].record], expected[i].key, expected[i].nth);
        if (!expected[i].text != !x || (x && !slice_eqz(x->text, expected[i].text)))
            fail_msg("%s: %s is \"%.*s\"", f->name, expected[i].key, x ? (int)x->text.n : 0, x ? x->text.p : "");
    }
}

static void check(struct arena *a, decode_fn *fn, const struct decode_opt *o, const char *text, enum decode_state state, size_t n,
                  uint32_t line)
{
    struct decoded d;

    assert_int_equal(fn(slice_of(text), o, a, &d), 0);
    if (d.state != state || d.n != n || d.line != line)
        fail_msg("state %d, %zu records, line %u, not %d, %zu, %u, for\n%s", d.state, d.n, d.line, state, n, line, text);
}

static void lines_leaves_out_what_does_not_fit(void **state)
{
    const struct decode_opt o = {.line = "{Adapter} {Device}"};

    check(*state, decode_lines, &o, "vmhba2      naa.1\n\nthree words here\nvmhba3 naa.2\n", DECODE_PARTIAL, 2, 3);
    check(*state, decode_lines, &o, "three words here\n", DECODE_UNUSABLE, 0, 1);
}

static void lines_of_a_pattern_that_keeps_nothing_are_left_out(void **state)
{
    const struct decode_opt o = {.line = "#{...}\n{Time} {} bootstop{}: {Event...}\n{Vendor} {Device}"};
    struct decoded d;

    check(*state, decode_lines, &o, "# a heading, of several words\n\n8086 2700\n", DECODE_COMPLETE, 1, 0);
    assert_int_equal(decode_lines(SLICE_LIT("2026-09-27T12:08:37Z In(14) bootstop[209]: Host has booted\n"), &o, *state, &d), 0);
    assert_int_equal(d.n, 1);
    assert_int_equal(d.records[0].nfields, 2); /* time and event, and no field without a name */
    assert_true(slice_eqz(d.records[0].fields[1].text, "Host has booted"));
}

static void lines_of_one_record_ask_for_every_key(void **state)
{
    const struct decode_opt o = {.line = "+VMware ESXi {Version} build-{Build}\nVMware ESXi {Release...}"};

    check(*state, decode_lines, &o, "VMware ESXi 8.0 Update 3\n", DECODE_PARTIAL, 1, 0);
}

static void a_reply_known_to_be_cut_is_partial(void **state)
{
    const struct decode_opt o = {.line = "{Adapter} {Device}", .cut = true};

    check(*state, decode_lines, &o, "vmhba2      naa.1\n", DECODE_PARTIAL, 1, 0);
}

/* A switch of NSX has two numbers; a cell without uplinks is empty where the lines are padded, else perhaps cut off. */
static void opaque_switches_and_empty_uplinks(void **state)
{
    static const char text[] = "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks   \n"
                               "vSwitch0         2560        1           128               1500              \n"
                               "vSwitch1         2560        1           128               1500\n"
                               "\nSwitch Name      Num Ports   Used Ports  Uplinks\n"
                               "NVDS-Overlay     2560        12          vmnic1,vmnic0\n";
    const struct decode_opt o = {.name = "x"};
    struct decoded d;

    assert_int_equal(decode_vswitch(slice_of(text), &o, *state, &d), 0);
    assert_int_equal(d.state, DECODE_PARTIAL); /* the second switch stands without a heading of its own */
    assert_int_equal(d.n, 2);
    assert_true(slice_eqz(d.records[0].fields[6].key, "Uplinks") && d.records[0].fields[6].text.n == 0);
    assert_true(slice_eqz(d.records[1].fields[1].text, "opaque"));
    assert_true(slice_eqz(d.records[1].fields[2].text, "2560"));
    assert_true(slice_eqz(d.records[1].fields[4].text, "vmnic1"));
    check(*state, decode_vswitch, &o, "Switch Name      Num Ports   Used Ports  Uplinks\nN  1  1  vmnic0\n\nSwitch Name  Num Ports  Used Ports  Uplinks\n",
          DECODE_PARTIAL, 1, 4);
}

static void a_port_has_a_name_in_brackets(void **state)
{
    const struct decode_opt o = {.name = "x"};

    check(*state, decode_pci, &o, "0000:00:01.0 Class 0604: 8086:6f02 [PCIe RP[0000:00:01.0]]\n0000:00:1f.2 Class 0106: 8086:8d02 [vmhba0]\n",
          DECODE_COMPLETE, 2, 0);
    check(*state, decode_pci, &o, "0000:00:01.0 Class 0604: 8086:6f02 [PCIe RP[0000:00:01.0\n", DECODE_UNUSABLE, 0, 1);
}

/* A record as "key=text; key=text", in the order printed; of the keys parted by '|' only. */
static const char *picked(struct arena *a, const struct record *r, const char *keys)
{
    const char *out = "";

    for (uint32_t k = 0; k < r->nfields; k++) {
        struct slice rest = slice_of(keys), key;

        while (slice_next_word(&rest, "|", &key))
            if (slice_eq(key, r->fields[k].key))
                out = arena_printf(a, "%s%s" SLICE_FMT "=" SLICE_FMT "%s", out, *out ? "; " : "", SLICE_ARG(key), SLICE_ARG(r->fields[k].text),
                                   r->fields[k].damage ? " (damaged)" : "");
    }
    return out;
}

/*
 * Lines as public reports print them, shortened: a P420i with ssacli and a dead capacitor, a P410 with hpssacli 2.0, a P408i-a Gen10, a P400i.
 * (https://github.com/search?q=%22PCI+Address+%28Domain%3ABus%3ADevice.Function%29%22&type=code). Serial numbers are made up.
 */
static void ssacli_tells_firmware_cache_and_battery(void **state)
{
#define PCI_LINE "   PCI Address (Domain:Bus:Device.Function): "
    static const struct {
        const char *text;
        enum decode_state state;
        size_t n;
        const char *first; /* record */
    } t[] = {
        {"\nSmart Array P420i in Slot 0 (Embedded)\n   Bus Interface: PCI\n   Slot: 0\n   Serial Number: 001\n   Cache Serial Number: 2\n"
         "   Controller Status: OK\n   Firmware Version: 8.32-0\n   Cache Board Present: True\n   Cache Status: Permanently Disabled\n"
         "   Battery/Capacitor Status: Failed (Replace Batteries)\n" PCI_LINE "0000:02:00.0\n   Host Serial Number: X\n\n   Array: A\n"
         "      Interface Type: SAS\n\n      Logical Drive: 1\n         Status: OK\n         Caching:  Enabled\n\n      physicaldrive 1I:1:1\n"
         "         Firmware Revision: CDB0\n         Serial Number: 06\n",
         DECODE_COMPLETE, 1,
         "Model=Smart Array P420i; Serial Number=001; Firmware Version=8.32-0; Cache Status=Permanently Disabled; "
         "Battery/Capacitor Status=Failed (Replace Batteries); PCI=0000:02:00.0; Firmware=8.32"},
        {"Smart Array P410 in Slot 1\n   Bus Interface: PCI\n   Serial Number: PA\n   Firmware Version: 6.60\n" PCI_LINE "0000:03:00.0\n"
         "   Cache Status: OK\n   Battery/Capacitor Status: OK\n",
         DECODE_COMPLETE, 1,
         "Model=Smart Array P410; Serial Number=PA; Firmware Version=6.60; PCI=0000:03:00.0; Cache Status=OK; Battery/Capacitor Status=OK; Firmware=6.60"},
        /* two; sensors in between */
        {"HPE Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)\n   Bus Interface: PCI\n   Firmware Version: 1.65-0\n   Sensor ID: 0\n"
         "      Location: Capacitor\n   Sensor ID: 1\n" PCI_LINE "0000:23:00.0\n\nSmart Array P410 in Slot 1\n   Bus Interface: PCI\n"
         PCI_LINE "0000:03:00.0\n",
         DECODE_COMPLETE, 2, "Model=HPE Smart Array P408i-a SR Gen10; Firmware Version=1.65-0; PCI=0000:23:00.0; Firmware=1.65"},
        /* no address: which adapter it is is not known */
        {"Smart Array P400i in Slot 0 (Embedded)\n   Bus Interface: PCI\n   Firmware Version: 7.24-0\n", DECODE_UNUSABLE, 0, NULL},
        /* given twice, differently */
        {"Smart Array P410 in Slot 1\n   Cache Status: OK\n   Cache Status: Temporarily Disabled\n" PCI_LINE "0000:03:00.0\n", DECODE_PARTIAL, 1,
         "Model=Smart Array P410; Cache Status=OK (damaged); Cache Status=Temporarily Disabled (damaged); PCI=0000:03:00.0"},
        /* the heading of the second is lost: nothing of it counts for the first */
        {"Smart Array P410 in Slot 1\n   Bus Interface: PCI\n" PCI_LINE "0000:03:00.0\n\n   Bus Interface: PCI\n   Firmware Version: 6.60\n",
         DECODE_PARTIAL, 1, "Model=Smart Array P410; PCI=0000:03:00.0"},
        {"Smart Array P410 in Slot 1\n" PCI_LINE "0000:03:0", DECODE_PARTIAL, 1, "Model=Smart Array P410; PCI=0000:03:0 (damaged)"},
        {"\nError: No controllers detected. Possible causes:\n", DECODE_COMPLETE, 0, NULL},
        {"-sh: /opt/hp/hpssacli/bin/hpssacli: not found\n", DECODE_REFUSED, 0, NULL},
        {"Controller = 0\nStatus = Success\n", DECODE_UNUSABLE, 0, NULL},
    };
    const struct decode_opt o = {.name = "x"};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct decoded d;

        assert_int_equal(decode_ssacli(slice_of(t[i].text), &o, *state, &d), 0);
        if (d.state != t[i].state || d.n != t[i].n)
            fail_msg("state %d, %zu records for\n%s", d.state, d.n, t[i].text);
        if (d.n) {
            const char *is = picked(*state, &d.records[0], "Model|Serial Number|Firmware Version|Cache Status|Battery/Capacitor Status|Firmware|"
                                                           "PCI Address (Domain:Bus:Device.Function)");
            struct slice rest = slice_of(is);
            size_t at = slice_find(rest, 0, "PCI Address (Domain:Bus:Device.Function)");

            if (at != SIZE_MAX)
                is = arena_printf(*state, SLICE_FMT "PCI%s", SLICE_ARG(slice_cut(rest, 0, at)), is + at + strlen("PCI Address (Domain:Bus:Device.Function)"));
            assert_string_equal(is, t[i].first);
        }
    }
}

/* Lists behind the head, as public reports print them (perccli 7.1211 of a 3108, storcli 1.23); an HBA has none. */
static void storcli_tells_battery_and_cache_policies(void **state)
{
#define CTL "Controller = 0\nStatus = Success\nPCI Address = 00:3b:00:00\n\n"
#define VDS "VD LIST :\n=======\n\n---------------------------------------------------------------\n" \
            "DG/VD TYPE  State Access Consist Cache Cac sCC       Size Name\n---------------------------------------------------------------\n"
#define LINE "---------------------------------------------------------------\n"
    static const struct {
        const char *text;
        enum decode_state state;
        const char *first;
    } t[] = {
        {CTL VDS "0/0   RAID1 Optl  RW     No      NRWTD -   OFF 557.861 GB\n1/232 RAID0 Optl  RW     Yes     RWBD  -   ON  446.625 GB data\n" LINE
         "\nVD=Virtual Drive| DG=Drive Group|Rec=Recovery\n\nCachevault_Info :\n===============\n\n------------------------------------\n"
         "Model  State   Temp Mode MfgDate\n------------------------------------\nCVPM05 Optimal 32C  -    2017/11/28\n"
         "------------------------------------\n",
         DECODE_COMPLETE, "Cache Policy=0/0 NRWTD; Cache Policy=1/232 RWBD; Battery=Optimal"},
        {CTL "Cachevault_Info :\n-----------------------------------\nModel State Temp Mode MfgDate\n-----------------------------------\n"
         "CVPM02 Failed 22C - 2018/05/19\n-----------------------------------\n", DECODE_COMPLETE, "Battery=Failed"},
        {CTL "PD LIST :\n" LINE "EID:Slt DID State DG     Size Intf Med SED PI SeSz Model            Sp Type\n" LINE
         "134:0     1 Onln   0 1.089 TB SAS  HDD N   N  512B ST1200MM0009     U  -\n" LINE, DECODE_COMPLETE, ""},
        {CTL VDS "0/0   RAID1 Optl\n" LINE, DECODE_PARTIAL, ""},
        {CTL VDS "0/0   RAID1 Optl  RW     No      NRW", DECODE_PARTIAL, "Cache Policy=0/0 NRW (damaged)"},
    };
    const struct decode_opt o = {.name = "x"};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct decoded d;

        assert_int_equal(decode_storcli(slice_of(t[i].text), &o, *state, &d), 0);
        if (d.state != t[i].state || d.n != 1)
            fail_msg("state %d, %zu records for\n%s", d.state, d.n, t[i].text);
        assert_string_equal(picked(*state, &d.records[0], "Cache Policy|Battery"), t[i].first);
    }
}

/*
 * Versions and keys as public reports of the tools print them, of a PERC H755N, a MegaRAID 3108 and a SAS9300-8i; the document of a PERC H755's
 * pair (https://github.com/burdweiser/hclcheck) names firmware by its package. Serial numbers are made up.
 */
static void storcli_tells_the_published_firmware(void **state)
{
    static const struct {
        const char *text;
        enum decode_state state;
        size_t n;
        const char *pci, *firmware; /* of the first record; NULL: none */
    } t[] = {
        {"Generating detailed summary of the adapter, it may take a while to complete.\n\nCLI Version = 007.1623.0000.0000 May 17, 2021\n"
         "Controller = 0\nStatus = Success\nDescription = None\n\nProduct Name = PERC H755N Front\nSerial Number = 1\n"
         "PCI Address = 00:01:00:00\nFW Package Build = 52.16.1-4405\nBIOS Version = 7.16.00.0_0x07100501\nFW Version = 5.160.02-3552\n",
         DECODE_COMPLETE, 1, "0000:01:00.0", "52.16.1-4405"},
        {"Controller = 0\nStatus = Success\nProduct Name = AVAGO 3108 MegaRAID\nPCI Address = 00:3b:00:00\nFW Package Build = 24.21.0-0119\n"
         "FW Version = 4.680.00-8505\n\nTOPOLOGY :\n========\nFW Package Build = 1\n",
         DECODE_COMPLETE, 1, "0000:3b:00.0", "24.21.0-0119"},
        {"Controller = 0\nStatus = Success\nProduct Name = SAS9300-8i\nPCI Address = 00:85:00:00\nFW Package Build = 00.00.00.00\n"
         "FW Version = 16.00.12.00\n",
         DECODE_COMPLETE, 1, "0000:85:00.0", "16.00.12.00"},
        {"Controller = 0\nStatus = Success\nPCI Address = 00:02:00:00\nFW Package Build = 1.2-3\nController = 1\nStatus = Success\n"
         "PCI Address = 00:03:00:00\nFW Package Build = 1.2-4\n",
         DECODE_COMPLETE, 2, "0000:02:00.0", "1.2-3"},
        {"Controller = 0\nStatus = Success\nPCI Address = 00:02:00:00\nFW Version = 5.160.02-3552\n", DECODE_COMPLETE, 1, "0000:02:00.0", NULL},
        {"Controller = 0\nStatus = Failure\nDescription = image corrupted\n", DECODE_UNUSABLE, 0, NULL, NULL},
        {"Controller = 0\nStatus = Success\nPCI Address = 00:02:00:08\nFW Package Build = 1.2-3\n", DECODE_UNUSABLE, 0, NULL, NULL},
        {"Controller = 0\nStatus = Success\nFW Package Build = 1.2-3\n", DECODE_UNUSABLE, 0, NULL, NULL},
        {"-sh: /opt/lsi/perccli64/perccli64: not found\n", DECODE_REFUSED, 0, NULL, NULL},
    };
    const struct decode_opt o = {.name = "x"};

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *pci = NULL, *firmware = NULL;
        struct decoded d;

        assert_int_equal(decode_storcli(slice_of(t[i].text), &o, *state, &d), 0);
        if (d.state != t[i].state || d.n != t[i].n)
            fail_msg("state %d, %zu records for\n%s", d.state, d.n, t[i].text);
        for (uint32_t k = 0; d.n && k < d.records[0].nfields; k++) {
            const struct field *f = &d.records[0].fields[k];

            pci = slice_eqz(f->key, "PCI Address") ? arena_dup(*state, f->text).p : pci;
            firmware = slice_eqz(f->key, "Firmware") ? arena_dup(*state, f->text).p : firmware;
        }
        assert_string_equal(pci ? pci : "none", t[i].pci ? t[i].pci : "none");
        assert_string_equal(firmware ? firmware : "none", t[i].firmware ? t[i].firmware : "none");
    }
}

/* A NIC on USB stands on no PCI function. */
static void a_usb_nic_is_a_row(void **state)
{
    const struct decode_opt o = {.name = "x"};

    check(*state, decode_nics, &o,
          "Name    PCI          Driver      Link Speed      Duplex MAC Address       MTU    Description\n"
          "vusb0   Pseudo       cdce        Up   100Mbps    Full   aa:bb:cc:dd:ee:ff 1500   DellTM iDRAC Virtual NIC USB Device\n",
          DECODE_COMPLETE, 1, 0);
}

/* Rows as on a host of 6.x: the type has the 17 characters of its column. */
static void a_value_that_fills_its_column_ends_there(void **state)
{
    static const char text[] =
        "Device UID                   Device Type      Console Device                                     Size      Multipath PluginDisplay Name\n"
        "naa.5000c500444f097e         Direct-Access    /vmfs/devices/disks/naa.5000c500444f097e           305245MB  NMP     Local ATA Disk (naa.5000c500444f097e)\n"
        "t10.DP______BACKPLANE000000  Enclosure Svc Dev/vmfs/devices/genscsi/t10.DP______BACKPLANE000000  0MB       NMP     Local DP Enclosure Svc Dev (t10.DP)\n";
    static const char wide[] = /* two characters more push what follows: where they end cannot be told */
        "Device UID                   Device Type      Console Device                                     Size      Multipath PluginDisplay Name\n"
        "t10.DP______BACKPLANE000000  Class 0xB/IDE OTHER/vmfs/devices/genscsi/t10.DP______BACKPLANE000000  0MB       NMP     Local DP (t10.DP)\n";
    const struct decode_opt o = {.columns = "Device UID|Device Type|Console Device|Size|Multipath Plugin|Display Name"};
    struct decoded d;

    assert_int_equal(decode_columns(slice_of(text), &o, *state, &d), 0);
    assert_int_equal(d.state, DECODE_COMPLETE);
    assert_int_equal(d.n, 2);
    assert_true(slice_eqz(d.records[1].fields[1].text, "Enclosure Svc Dev"));
    assert_true(slice_eqz(d.records[1].fields[2].text, "/vmfs/devices/genscsi/t10.DP______BACKPLANE000000"));
    assert_true(slice_eqz(d.records[1].fields[3].text, "0MB"));
    check(*state, decode_columns, &o, wide, DECODE_UNUSABLE, 0, 2);
}

/* Lines as "esxcfg-mpath -bd" printed them on a host with a boot card. */
static void a_local_path_has_no_names_and_a_dead_one_lost_them(void **state)
{
    static const char text[] = "t10.ATA_____DELLBOSS_VD : Local ATA Disk (t10.ATA_____DELLBOSS_VD)\n"
                               "   vmhba2:C0:T0:L0 LUN:0 state:active Local HBA vmhba2 channel 0 target 0\n\n"
                               "naa.500056b3b6377efd : Local DP Enclosure Svc Dev (naa.500056b3b6377efd)\n"
                               "   vmhba3:C0:T11:L0 LUN:0 state:dead sas Adapter: Unavailable Target: Unavailable\n";
    static const char other[] = "t10.ATA : Local ATA Disk (t10.ATA)\n   vmhba2:C0:T0:L0 LUN:0 state:active Local HBA vmhba2 channel 0 target 1\n";
    const struct decode_opt o = {.name = "x"};
    struct decoded d;

    assert_int_equal(decode_mpath(slice_of(text), &o, *state, &d), 0);
    assert_int_equal(d.state, DECODE_COMPLETE);
    assert_int_equal(d.n, 2);
    assert_true(slice_eqz(d.records[0].fields[2].text, "vmhba2:C0:T0:L0"));
    for (size_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < d.records[i].nfields; k++)
            assert_false(slice_ends(d.records[i].fields[k].key, "Identifier"));
    check(*state, decode_mpath, &o, other, DECODE_UNUSABLE, 0, 2);
    check(*state, decode_mpath, &o, arena_printf(*state, "%s\nnaa.1 : Local Disk (naa.1)\n", text), DECODE_PARTIAL, 2, 7); /* cut behind the device */
}

static void columns_without_their_heading_are_unusable(void **state)
{
    const struct decode_opt o = {.columns = "A B|C"};

    check(*state, decode_columns, &o, "x    y\n", DECODE_UNUSABLE, 0, 1);
    check(*state, decode_columns, &o, "A B  C\nx    y\n", DECODE_COMPLETE, 1, 0);
    check(*state, decode_columns, &o, "A B  C\nxxxxxxx y\n", DECODE_COMPLETE, 1, 0);
    check(*state, decode_columns, &o, "A B  C\nxxxxxxx y z\nx    y\n", DECODE_PARTIAL, 1, 2);
}

static void nics_without_a_heading_are_partial(void **state)
{
    const struct decode_opt o = {.name = "x"};

    check(*state, decode_nics, &o, "vmnic1  0000:03:00.0             Down 0Mbps      Half   5a:5b:03:00:00:21 1500   Pensando\n",
          DECODE_PARTIAL, 1, 1);
}

static void a_map_line_without_line_end_needs_a_witness(void **state)
{
    static const struct {
        const char *file, *text;
        bool believed;
    } table[] = {
        {"x.map", "regtype=native,bus=pci,id=1,driver=igbn\nregtype=native,bus=pci,id=2,driver=igbn", true},
        {"x.map", "regtype=native,bus=pci,id=1,driver=igbn\nregtype=native,bus=pci,id=2,driver=igb", false},
        {"x.map", "regtype=native,bus=pci,id=1,driver=igb\nregtype=native,bus=pci,id=3,driver=igbn\nregtype=native,bus=pci,id=2,driver=igb", false},
        {"d/igbn.map", "regtype=native,bus=pci,id=2,driver=igbn", true},
        {"d/igbn.map", "regtype=native,bus=pci,id=2,driver=igb", false},
        {NULL, "regtype=native,bus=pci,id=2,driver=igbn", false},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct decode_opt o = {.name = table[i].file};
        struct decoded d;

        assert_int_equal(decode_map(slice_of(table[i].text), &o, *state, &d), 0);
        assert_int_equal(d.state, table[i].believed ? DECODE_COMPLETE : DECODE_PARTIAL);
        assert_int_equal(!find(&d.records[d.n - 1], "driver", 0)->damage, table[i].believed);
    }
}

static void version_lines_alone_are_records_without_module(void **state)
{
    const struct decode_opt o = {.name = "x"};

    check(*state, decode_vmkload, &o, "Version: 7.703.18.00-1OEM\nVersion: 1.1.1-1vmw\n", DECODE_PARTIAL, 2, 1);
}

static void a_list_of_name_spaces_that_nothing_follows_is_damaged(void **state)
{
    const struct decode_opt o = {.name = "x"};
    struct decoded d;

    assert_int_equal(decode_vmkload(SLICE_LIT(" input file: /m/x\n Version: 1\n Required name-spaces:\n  a#1\n"), &o, *state, &d), 0);
    assert_non_null(find(&d.records[0], "Namespaces", 0)->damage);
}

static void a_single_value_is_read(void **state)
{
    const struct decode_opt o = {.shape = SHAPE_VALUE};

    check(*state, decode_pairs, &o, "42\n", DECODE_COMPLETE, 1, 0);
    check(*state, decode_pairs, &o, "42\n43\n", DECODE_UNUSABLE, 0, 2);
}

static void a_line_over_the_limit_is_refused(void **state)
{
    size_t n = DECODE_MAX_LINE + 1;
    char *text = xmalloc(n);

    (void)state;
    memset(text, 'x', n);
    for (size_t i = 0; i < NFORMS; i++) {
        struct arena *a = arena_new(LIMIT);
        struct decoded d;

        assert_int_equal(run(&forms[i], (struct slice){text, n}, a, &d), VF_ELIMIT);
        arena_free(a);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(every_form_is_complete_and_undamaged),
        T(each_form_gives_its_values),
        T(no_form_gives_a_wrong_value_after_a_change),
        T(carriage_returns_change_nothing),
        cmocka_unit_test(a_full_arena_is_reported_and_survived),
        cmocka_unit_test(random_bytes_are_survived),
        T(an_error_is_no_answer),
        T(lines_leaves_out_what_does_not_fit),
        T(lines_of_a_pattern_that_keeps_nothing_are_left_out),
        T(lines_of_one_record_ask_for_every_key),
        T(a_reply_known_to_be_cut_is_partial),
        T(columns_without_their_heading_are_unusable),
        T(opaque_switches_and_empty_uplinks),
        T(a_usb_nic_is_a_row),
        T(a_port_has_a_name_in_brackets),
        T(a_value_that_fills_its_column_ends_there),
        T(a_local_path_has_no_names_and_a_dead_one_lost_them),
        T(storcli_tells_the_published_firmware),
        T(storcli_tells_battery_and_cache_policies),
        T(ssacli_tells_firmware_cache_and_battery),
        T(nics_without_a_heading_are_partial),
        T(a_map_line_without_line_end_needs_a_witness),
        T(version_lines_alone_are_records_without_module),
        T(a_list_of_name_spaces_that_nothing_follows_is_damaged),
        T(a_single_value_is_read),
        cmocka_unit_test(a_line_over_the_limit_is_refused),
    };

    return cmocka_run_group_tests_name("decode_other", tests, NULL, NULL);
}
