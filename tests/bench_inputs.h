#ifndef VF_TESTS_BENCH_INPUTS_H
#define VF_TESTS_BENCH_INPUTS_H

/* Large inputs for the benchmark: answers in the exact form of each command, and rule files. Written row by row; numbers make the rows differ. */
#include "base/buf.h"
#include "decode/decode.h"

#define BENCH_MAX_INPUT (512u << 20)

struct bench_form {
    const char *name;
    decode_fn *run;
    struct decode_opt opt;
    unsigned rows; /* rows of the measured input; half of them for the comparison */
    void (*head)(struct buf *b);
    void (*row)(struct buf *b, unsigned i);
    void (*tail)(struct buf *b);
};

static void xml_head(struct buf *b)
{
    buf_addz(b, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<output xmlns=\"http://www.vmware.com/Products/ESX/5.0/esxcli\">\n<root>\n"
                "   <list type=\"structure\">\n");
}

static void xml_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "      <structure typeName=\"VIBExt\">\n"
               "         <field name=\"AcceptanceLevel\">\n            <string>VMwareCertified</string>\n         </field>\n"
               "         <field name=\"CreationDate\">\n            <string>2016-10-27</string>\n         </field>\n"
               "         <field name=\"ID\">\n            <string>VMW_bootbank_driver-%u_1.0.0-%uvmw.650.0.0.4564106</string>\n         </field>\n"
               "         <field name=\"Name\">\n            <string>driver-%u</string>\n         </field>\n"
               "         <field name=\"Vendor\">\n            <string>VMW</string>\n         </field>\n"
               "         <field name=\"Version\">\n            <string>1.0.0-%uvmw.650.0.0.4564106</string>\n         </field>\n"
               "      </structure>\n",
               i, i, i, i);
}

static void xml_tail(struct buf *b)
{
    buf_addz(b, "   </list>\n</root>\n</output>\n");
}

static void table_head(struct buf *b)
{
    buf_addz(b, "Name                Version                         Vendor  Acceptance Level  Install Date\n"
                "------------------  ------------------------------  ------  ----------------  ------------\n");
}

static void table_row(struct buf *b, unsigned i)
{
    buf_printf(b, "driver-%-11u  1.0.0-%05uvmw.650.0.0.4564106    VMW     VMwareCertified   2017-02-04  \n", i, i);
}

static void list_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "%snaa.600508b1001c0a1b2c3d4e5f%08u\n   Display Name: HP Serial Attached SCSI Disk (naa.600508b1001c0a1b2c3d4e5f%08u)\n"
               "   Has Settable Display Name: true\n   Size: 1144609\n   Device Type: Direct-Access \n   Multipath Plugin: NMP\n"
               "   Devfs Path: /vmfs/devices/disks/naa.600508b1001c0a1b2c3d4e5f%08u\n   Vendor: HP      \n   Model: LOGICAL VOLUME  \n"
               "   Revision: 6.06\n   SCSI Level: 5\n   Is SSD: false\n   Queue Full Sample Size: 0\n   Device Max Queue Depth: 1024\n",
               i ? "\n" : "", i, i, i);
}

static void object_head(struct buf *b)
{
    buf_addz(b, "Title of the object\n");
}

static void object_row(struct buf *b, unsigned i)
{
    buf_printf(b, "   Key Number %u: value %u\n", i, i);
}

static void structure_head(struct buf *b)
{
    xml_head(b);
    buf_addz(b, "      <structure typeName=\"Wide\">\n");
}

static void structure_row(struct buf *b, unsigned i)
{
    buf_printf(b, "         <field name=\"Key%u\">\n            <string>value %u</string>\n         </field>\n", i, i);
}

static void structure_tail(struct buf *b)
{
    buf_addz(b, "      </structure>\n");
    xml_tail(b);
}

static void json_head(struct buf *b)
{
    buf_addz(b, "[\n");
}

static void json_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "%s   {\n      \"AcceptanceLevel\": \"VMwareCertified\",\n      \"ID\": \"VMW_bootbank_driver-%u_1.0.0-%uvmw\",\n"
               "      \"Name\": \"driver-%u\",\n      \"Vendor\": \"VMW\",\n      \"Version\": \"1.0.0-%uvmw.650.0.0.4564106\"\n   }",
               i ? ",\n" : "", i, i, i, i);
}

static void json_tail(struct buf *b)
{
    buf_addz(b, "\n]\n");
}

static void keyvalue_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "VIBExt[%u].AcceptanceLevel.string=VMwareCertified\nVIBExt[%u].Name.string=driver-%u\nVIBExt[%u].Vendor.string=VMW\n"
               "VIBExt[%u].Version.string=1.0.0-%uvmw.650.0.0.4564106\n",
               i, i, i, i, i, i);
}

static void csv_head(struct buf *b)
{
    buf_addz(b, "AcceptanceLevel,CreationDate,Depends,ID,Name,Vendor,Version,\n");
}

static void csv_row(struct buf *b, unsigned i)
{
    buf_printf(b, "VMwareCertified,2016-10-27,\"vmkapi_2_3_0_0,com.vmware.driverAPI-9.2.3.0,\",VMW_bootbank_driver-%u,driver-%u,VMW,1.0.0-%uvmw,\n", i, i, i);
}

static void adapters_row(struct buf *b, unsigned i)
{
    buf_printf(b, "vmhba%-5u lsi_mr3           link-n/a  sas.5a0000000%07u                        (0000:03:00.0) Avago (LSI) PERC H730\n", i, i);
}

static void columns_head(struct buf *b)
{
    buf_addz(b, "Device UID                            Device Type      Console Device                                            Size      "
                "Multipath PluginDisplay Name\n");
}

static void columns_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "naa.600508b1001c0a1b2c3d4e5f%08u  Direct-Access    /vmfs/devices/disks/naa.600508b1001c0a1b2c3d4e5f%08u  1144609MB NMP     "
               "HP Serial Attached SCSI Disk (naa.600508b1001c0a1b2c3d4e5f%08u)\n",
               i, i, i);
}

static void nics_head(struct buf *b)
{
    buf_addz(b, "Name    PCI          Driver      Link Speed      Duplex MAC Address       MTU    Description                   \n");
}

static void nics_row(struct buf *b, unsigned i)
{
    buf_printf(b, "vmnic%-5u 0000:%02x:%02x.%x ixgben      Up   10000Mbps  Full   00:25:90:%02x:%02x:%02x 1500   Intel(R) 82599 10 Gigabit Dual Port\n",
               i, i >> 8 & 255u, i >> 3 & 31u, i & 7u, i >> 16 & 255u, i >> 8 & 255u, i & 255u);
}

static void pairs_row(struct buf *b, unsigned i)
{
    buf_printf(b, "setting.of.number.%u=value %u\n", i, i);
}

static void map_row(struct buf *b, unsigned i)
{
    buf_printf(b, "regtype=native,bus=pci,id=8086%04x%08x....,driver=vmw_ahci,class=storage\n", i & 0xffffu, i);
}

static void pci_row(struct buf *b, unsigned i)
{
    buf_printf(b, "%04x:%02x:%02x.%x Network controller Ethernet: Intel Corporation I350 Gigabit Network Connection [vmnic%u]\n", i >> 16, i >> 8 & 255u,
               i >> 3 & 31u, i & 7u, i);
}

static void vmkload_head(struct buf *b)
{
    buf_addz(b, "vmkload_mod module information\n input file: /usr/lib/vmware/vmkmod/ahci\n Version: 3.0-22vmw\n License: GPL\n"
                " Required name-spaces:\n  com.vmware.vmkapi#v2_3_0_0\n Parameters:\n");
}

static void vmkload_row(struct buf *b, unsigned i)
{
    buf_printf(b, "  parameter_%u: int\n    what number %u does (0=nothing, 1=something)\n", i, i);
}

static void scsidevs_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "naa.600508b1001c0a1b2c3d4e5f%08u\n   Device Type: Direct-Access \n   Size: 1144609 MB\n"
               "   Display Name: HP Serial Attached SCSI Disk (naa.600508b1001c0a1b2c3d4e5f%08u)\n   Multipath Plugin: NMP\n"
               "   Console Device: /vmfs/devices/disks/naa.600508b1001c0a1b2c3d4e5f%08u\n"
               "   Devfs Path: /vmfs/devices/disks/naa.600508b1001c0a1b2c3d4e5f%08u\n"
               "   Vendor: HP        Model: LOGICAL VOLUME    Revis: 6.06\n   SCSI Level: 5  Is Pseudo: false Status: on\n"
               "   Is RDM Capable: true  Is Removable: false\n   Is Local: true  Is SSD: false\n   Other Names:\n      vml.0200010000600508b1001c%08u\n"
               "   VAAI Status: unsupported\n",
               i, i, i, i, i);
}

static void mpath_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "naa.600508b1001c0a1b2c3d4e5f%08u : HP Serial Attached SCSI Disk (naa.600508b1001c0a1b2c3d4e5f%08u)\n"
               "   vmhba1:C0:T0:L%u LUN:%u state:active sas Adapter: 5001438022dc1230  Target: 1438022dc1230\n\n",
               i, i, i, i);
}

static void vswitch_row(struct buf *b, unsigned i)
{
    buf_printf(b,
               "%sSwitch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks   \n"
               "vSwitch%-8u  2352        6           128               1500    vmnic0,vmnic1\n\n"
               "  PortGroup Name        VLAN ID  Used Ports  Uplinks   \n  VM Network            0        2           vmnic0,vmnic1\n"
               "  Management Network    0        1           vmnic0,vmnic1\n",
               i ? "\n" : "", i);
}

static void vimcmd_head(struct buf *b)
{
    buf_addz(b, "(vim.host.Summary) {\n");
}

static void vimcmd_row(struct buf *b, unsigned i)
{
    buf_printf(b, "%s   part%u = (vim.host.Part) {\n      name = \"part %u\", \n      count = %u\n   }", i ? ", \n" : "", i, i, i);
}

static void vimcmd_tail(struct buf *b)
{
    buf_addz(b, "\n}\n");
}

static void smbios_row(struct buf *b, unsigned i)
{
    buf_printf(b, "  Memory Device: #%u\n    Location: \"DIMM %u\"\n    Bank: \"BANK 0\"\n    Memory Array: #%u\n    Form Factor: 0x09 (DIMM)\n    Size: 16 GB\n", i,
               i, i);
}

static void vmklog_row(struct buf *b, unsigned i)
{
    if (i % 10)
        buf_printf(b, "2017-02-25T%02u:%02u:%02u.123Z cpu%u:65536)NetPort: 1660: enabled port 0x2000002 with mac 00:25:90:00:00:01 number %u\n", i / 3600 % 24,
                   i / 60 % 60, i % 60, i % 16, i);
    else
        buf_printf(b,
                   "2017-02-25T%02u:%02u:%02u.123Z cpu%u:65536)ScsiDeviceIO: 2927: Cmd(0x439500a1b2c0) 0x28, CmdSN 0x%x from world 65537 to dev "
                   "\"t10.ATA_____Samsung_SSD_850_PRO_512GB_______________S00000000000001_____\" failed H:0x5 D:0x0 P:0x0 Possible sense data: 0x0 0x0 0x0.\n",
                   i / 3600 % 24, i / 60 % 60, i % 60, i % 16, i);
}

static const struct bench_form bench_forms[] = {
    {"esxcli xml", decode_esxcli, {.shape = SHAPE_TABLE}, 20000, xml_head, xml_row, xml_tail},
    {"esxcli text table", decode_esxcli, {.shape = SHAPE_TABLE}, 20000, table_head, table_row, NULL},
    {"esxcli text list", decode_esxcli, {.shape = SHAPE_LIST}, 20000, NULL, list_row, NULL},
    {"esxcli text object", decode_esxcli, {.shape = SHAPE_OBJECT}, 16000, object_head, object_row, NULL},
    {"esxcli xml object", decode_esxcli, {.shape = SHAPE_OBJECT}, 16000, structure_head, structure_row, structure_tail},
    {"esxcli json", decode_esxcli, {.shape = SHAPE_TABLE}, 20000, json_head, json_row, json_tail},
    {"esxcli keyvalue", decode_esxcli, {.shape = SHAPE_TABLE}, 20000, NULL, keyvalue_row, NULL},
    {"esxcli csv", decode_esxcli, {.shape = SHAPE_TABLE}, 20000, csv_head, csv_row, NULL},
    {"lines", decode_lines, {.line = "{HBA Name} {Driver} {Link State} {UID} {Description...}"}, 20000, NULL, adapters_row, NULL},
    {"columns", decode_columns, {.shape = SHAPE_TABLE}, 20000, columns_head, columns_row, NULL},
    {"nics", decode_nics, {.shape = SHAPE_TABLE}, 20000, nics_head, nics_row, NULL},
    {"pairs, one record", decode_pairs, {.shape = SHAPE_OBJECT}, 10000, NULL, pairs_row, NULL},
    {"pairs, table", decode_pairs, {.shape = SHAPE_TABLE}, 20000, NULL, pairs_row, NULL},
    {"map", decode_map, {.shape = SHAPE_TABLE}, 20000, NULL, map_row, NULL},
    {"pci", decode_pci, {.shape = SHAPE_TABLE}, 20000, NULL, pci_row, NULL},
    {"vmkload", decode_vmkload, {.shape = SHAPE_OBJECT}, 20000, vmkload_head, vmkload_row, NULL},
    {"vmkload-params", decode_vmkload_params, {.shape = SHAPE_TABLE}, 20000, vmkload_head, vmkload_row, NULL},
    {"scsidevs", decode_scsidevs, {.shape = SHAPE_TABLE}, 10000, NULL, scsidevs_row, NULL},
    {"mpath", decode_mpath, {.shape = SHAPE_TABLE}, 20000, NULL, mpath_row, NULL},
    {"vswitch", decode_vswitch, {.shape = SHAPE_TABLE}, 20000, NULL, vswitch_row, NULL},
    {"vimcmd", decode_vimcmd, {.shape = SHAPE_OBJECT}, 5000, vimcmd_head, vimcmd_row, vimcmd_tail},
    {"smbios", decode_smbios, {.shape = SHAPE_TABLE}, 20000, NULL, smbios_row, NULL},
    {"vmklog", decode_vmklog, {.shape = SHAPE_TABLE}, 100000, NULL, vmklog_row, NULL},
};
#define BENCH_FORMS (sizeof bench_forms / sizeof *bench_forms)

static void bench_input(const struct bench_form *f, unsigned rows, struct buf *b)
{
    buf_reset(b);
    if (f->head)
        f->head(b);
    for (unsigned i = 0; i < rows; i++)
        f->row(b, i);
    if (f->tail)
        f->tail(b);
}

/* --- rules --- */

static unsigned mix(unsigned i)
{
    i = (i ^ i >> 16) * 0x45d9f3bu;
    i = (i ^ i >> 16) * 0x45d9f3bu;
    return i ^ i >> 16;
}

static void rule_close(struct buf *b, unsigned i, const char *example)
{
    buf_printf(b,
               "    <why>\n      Reports of hosts with this combination tell of commands that hang until they are aborted, of links that go down under load, and\n"
               "      of datastores that are lost for some seconds. The vendor's release notes name the version that repairs it; older ones stay affected.\n"
               "      <see href=\"https://example.com/articles/%u\"/>\n    </why>\n    <fix id=\"update\" risk=\"reboot\">\n"
               "      <advise>Install the version that the vendor's list names for this release, in a maintenance window.</advise>\n    </fix>\n"
               "    <matches %s/>\n    <ignores esxi=\"5.5\" %s/>\n  </rule>\n",
               i, example, example);
}

static void rule_head(struct buf *b, unsigned i, const char *subject, const char *title)
{
    buf_printf(b,
               "  <rule id=\"rule-%u\" subject=\"%s\" topic=\"topic-%u\" severity=\"warning\" status=\"stable\" reviewed=\"2026-11-30\">\n"
               "    <title>%s, number %u</title>\n",
               i, subject, i % 400, title, i);
}

/* Of every set twenty rules are about the measured host: mine. */
static void device_rule(struct buf *b, unsigned i, bool mine)
{
    static const char *const drivers[] = {"vmw_ahci", "ixgben", "igbn", "i40en", "lsi_mr3", "nvme_pcie", "qlnativefc", "lpfc", "bnxtnet", "ntg3", "smartpqi", "nmlx5_core"};
    static const unsigned vendors[] = {0x8086, 0x1000, 0x14e4, 0x15b3, 0x1077, 0x103c, 0x9005, 0x1af4, 0x144d, 0x1344};
    unsigned r = mix(i), vendor = vendors[r % 10], device = r >> 8 & 0xffffu;
    const char *driver = drivers[r >> 4 & 7u];
    char example[200];

    if (mine) {
        vendor = 0x8086;
        device = r & 2u ? 0x8c02 : 0x1521;
        driver = r & 2u ? "vmw_ahci" : "igbn";
    }
    rule_head(b, i, mine ? (r & 2u ? "adapter" : "nic") : r & 1u ? "adapter" : "nic", "This driver loses the link before the version that repairs it");
    buf_printf(b,
               "    <when>\n      <esxi from=\"6.5\" before=\"8.0u3\"/>\n      <pci id=\"%04x:%04x\"/>\n    </when>\n"
               "    <bad driver=\"%s\" driver-version-before=\"%u.%u.0\"/>\n",
               vendor, device, driver, r >> 5 & 7u, r >> 9 & 15u);
    (void)snprintf(example, sizeof example, "pci=\"%04x:%04x\" driver=\"%s\" driver-version=\"0.1.0\"", vendor, device, driver);
    rule_close(b, i, example);
}

/* Ten rules for each name: more rules means more products, not more rules on one. */
static void vib_rule(struct buf *b, unsigned i, unsigned n)
{
    unsigned r = mix(i);
    char example[200];

    rule_head(b, i, "vib", "This VIB has a known fault before the version that repairs it");
    buf_printf(b, "    <when><esxi from=\"6.0\"/></when>\n    <bad name=\"vib-%u\" version-before=\"%u.%u.0-1\"/>\n", r % (n / 67 + 1), r >> 5 & 7u, r >> 9 & 15u);
    (void)snprintf(example, sizeof example, "name=\"vib-%u\" version=\"0.1.0-1\"", r % (n / 67 + 1));
    rule_close(b, i, example);
}

static void host_rule(struct buf *b, unsigned i)
{
    unsigned r = mix(i), model = r % 50000;
    char example[200];

    switch (i % 3) {
    case 0:
        rule_head(b, i, "host", "This model needs a newer BIOS");
        buf_printf(b, "    <when><esxi from=\"6.5\"/></when>\n    <bad model=\"Model-%u\" uptime-days-above=\"%u\"/>\n", model, r & 255u);
        (void)snprintf(example, sizeof example, "model=\"Model-%u\" uptime-days=\"999\"", model);
        break;
    case 1:
        rule_head(b, i, "host", "This platform is not supported from a release on");
        buf_printf(b, "    <when>\n      <esxi from=\"7.0\"/>\n      <host model=\"Model-%u\"/>\n    </when>\n    <bad maintenance-mode=\"no\"/>\n", model);
        (void)snprintf(example, sizeof example, "model=\"Model-%u\" maintenance-mode=\"no\"", model);
        break;
    default:
        rule_head(b, i, "setting", "This setting is not what the array's vendor asks for");
        buf_printf(b, "    <bad path=\"/Vendor/Setting%u\" value=\"%u\"/>\n", model, r & 15u);
        (void)snprintf(example, sizeof example, "path=\"/Vendor/Setting%u\" value=\"%u\"", model, r & 15u);
        break;
    }
    rule_close(b, i, example);
}

/* 75 % devices by PCI id and driver, 15 % VIBs by name and version, 10 % hosts, platforms and settings. */
static void bench_rules(unsigned n, struct buf *b)
{
    buf_reset(b);
    buf_addz(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rules format=\"1\">\n");
    for (unsigned i = 0; i < n; i++) {
        if (i % 20 < 15)
            device_rule(b, i, i % (n / 20) == 0);
        else if (i % 20 < 18)
            vib_rule(b, i, n);
        else
            host_rule(b, i / 20 * 2 + i % 20 - 18 + (1u << 20)); /* ids apart from the others */
    }
    buf_addz(b, "</rules>\n");
}

#endif
