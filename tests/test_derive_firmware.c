#include "world.h"

#include "core/derive.h"

/* Whether a BMC is the host's, and what of it is joined to which adapter, NIC and drive. */

struct cell_test {
    const char *lines, *table, *key, *column;
    const char *want; /* text; "?" unknown */
    const char *why;  /* words of the reason, or NULL */
};

static void check(struct world *w, const struct cell_test *t, size_t n)
{
    const struct derive_env env = {.builds = &w->builds};

    for (size_t i = 0; i < n; i++) {
        const struct row *r;
        const struct value *v;
        struct slice got;

        world_facts(w, t[i].lines);
        derive_all(w->f, &env);
        r = world_find(w, t[i].table, t[i].key);
        v = facts_cell(w->f, r, t[i].column);
        got = v->state == VS_UNKNOWN ? SLICE_LIT("?") : v->state == VS_ABSENT ? SLICE_LIT("-")
                                                                               : value_text(&w->schema.tables[r->table].columns[world_column(w, t[i].table, t[i].column)], v, w->a);
        if (!slice_eqz(got, t[i].want))
            fail_msg("%zu: %s.%s is " SLICE_FMT ", not %s: %s\n%s", i, t[i].table, t[i].column, SLICE_ARG(got), t[i].want, v->why ? v->why : "", t[i].lines);
        if (t[i].why && (!v->why || !strstr(v->why, t[i].why)))
            fail_msg("%zu: \"%s\" is not in \"%s\"\n%s", i, t[i].why, v->why ? v->why : "", t[i].lines);
    }
}

#define N(t) (sizeof t / sizeof *t)
#define UUID "4c4c4544003030108031000000000005"
#define HOST "host|serial=S000005|uuid=" UUID "\n"
#define BMC  "bmc /s|vendor=HPE|serial=S000005|uuid=" UUID "\n"

static void a_bmc_has_to_be_of_this_host(void **state)
{
    static const struct cell_test t[] = {
        {HOST BMC, "bmc", "/s", "same", "yes", NULL},
        {HOST "bmc /s|serial=s000005 \n", "bmc", "/s", "same", "yes", NULL},
        {HOST "bmc /s|vendor=Dell Inc.|serial=CN70163|sku=S000005\n", "bmc", "/s", "same", "yes", NULL}, /* Dell: the service tag is the SKU */
        {HOST "bmc /s|vendor=Lenovo|sku=7Z73CTO1WW\n", "bmc", "/s", "same", "?", "neither"},             /* a product number proves nothing */
        {HOST "bmc /s|uuid=44454c4c300010308031000000000005\n", "bmc", "/s", "same", "yes", NULL}, /* the first parts turned round */
        {HOST "bmc /s|uuid=44454c4c300010308031000000000006\n", "bmc", "/s", "same", "no", NULL},
        {HOST "bmc /s|serial=OTHER01\n", "bmc", "/s", "same", "no", NULL},
        {HOST "bmc /s|serial=OTHER01|uuid=" UUID "\n", "bmc", "/s", "same", "?", "the UUID is the host's, the serial number is not"},
        {HOST "bmc /s|serial=S000005|uuid=11111111222233334444555555555555\n", "bmc", "/s", "same", "?", "the serial number is the host's, the UUID is not"},
        {"host|serial=0123456789\nbmc /s|serial=0123456789\n", "bmc", "/s", "same", "?", "neither"}, /* as boards are sold */
        {"host|serial=Default string\nbmc /s|serial=Default string\n", "bmc", "/s", "same", "?", "neither"},
        {"host|uuid=03000200040005000006000700080009\nbmc /s|uuid=03000200040005000006000700080009\n", "bmc", "/s", "same", "?", "neither"},
        {"host|uuid=00000000000000000000000000000000\nbmc /s|uuid=00000000000000000000000000000000\n", "bmc", "/s", "same", "?", "neither"},
        {"host|serial=?\n" BMC, "bmc", "/s", "same", "?", "neither"},
    };

    check(*state, t, N(t));
}

#define CARD(n, version) "bmc-device /p/" n "|kind=pci-device|firmware=" version "\n" \
                         "bmc-device /p/" n "/f/0|kind=pci-function|parent=/p/" n "|vendor=1000|device=0016|subvendor=1d49|subdevice=0601\n"
#define FUNCTION(a) "pci " a "|class=0104|vendor=1000|device=0016|subvendor=1d49|subdevice=0601\n"
#define ADAPTER(n, a) "adapter " n "|pci=" a "|driver=lsi_mr3|firmware=?\n"
#define A "0000:17:00.0"
#define B "0000:af:00.0"

static void an_adapter_is_joined_by_what_names_one(void **state)
{
    static const struct cell_test t[] = {
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "51.16.0-4076"), "adapter", "vmhba0", "firmware", "51.16.0-4076", NULL},
        {HOST "bmc /s|serial=OTHER01\n" FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "51.16.0-4076"), "adapter", "vmhba0", "firmware", "?", NULL},
        {HOST BMC "bmc /t|serial=OTHER01\n" FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "51.16.0-4076"), "adapter", "vmhba0", "firmware", "?", NULL},
        /* equal cards */
        {HOST BMC FUNCTION(A) FUNCTION(B) ADAPTER("vmhba0", A) CARD("1", "51.1-1") CARD("2", "51.1-1"), "adapter", "vmhba0", "firmware", "51.1-1", NULL},
        {HOST BMC FUNCTION(A) FUNCTION(B) ADAPTER("vmhba0", A) CARD("1", "51.1-1") CARD("2", "51.1-2"), "adapter", "vmhba0", "firmware", "?", "which is which"},
        {HOST BMC FUNCTION(A) FUNCTION(B) ADAPTER("vmhba0", A) CARD("1", "51.1-1"), "adapter", "vmhba0", "firmware", "?", "the BMC has 1 devices with these PCI ids, the host 2"},
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "51.1-1") CARD("2", "51.1-1"), "adapter", "vmhba0", "firmware", "?", "the BMC has 2"},
        /* one function, named below system and chassis */
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) "bmc-device /s/p/1|kind=pci-device|firmware=51.1-1\n"
         "bmc-device /s/p/1/f/0|kind=pci-function|parent=/s/p/1|vendor=1000|device=0016|subvendor=1d49|subdevice=0601\n" CARD("1", "51.1-1"),
         "adapter", "vmhba0", "firmware", "51.1-1", NULL},
        /* another subsystem is another card */
        {HOST BMC "pci " A "|class=0104|vendor=1000|device=0016|subvendor=1d49|subdevice=0603\n" ADAPTER("vmhba0", A) CARD("1", "51.1-1"), "adapter", "vmhba0", "firmware",
         "?", "does not say which"},
        {HOST BMC "pci " A "|class=0104|vendor=1000|device=0016\n" ADAPTER("vmhba0", A) CARD("1", "51.1-1"), "adapter", "vmhba0", "firmware", "?", NULL},
        /* the controller goes before the card, the inventory behind it */
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "9.9") "bmc-device /c|kind=controller|firmware=51.1-1|links=/p/1/f/0\n", "adapter", "vmhba0", "firmware", "51.1-1", NULL},
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "?") "bmc-device /i|kind=firmware|firmware=51.1-3|items=/p/1\n", "adapter", "vmhba0", "firmware", "51.1-3", NULL},
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "?"), "adapter", "vmhba0", "firmware", "?", "without a version"},
        /* by its SAS address, whatever the ids */
        {HOST BMC FUNCTION(A) "adapter vmhba0|pci=" A "|uid=sas.500062b200000001|firmware=?\nbmc-device /c|kind=controller|firmware=51.1-1|wwns=500062b200000001\n", "adapter",
         "vmhba0", "firmware", "51.1-1", NULL},
        /* what is known stays, and a contradiction is unknown */
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "51.1-1") "controller " A "|firmware=51.1-1\n", "adapter", "vmhba0", "firmware", "51.1-1", NULL},
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "51.1-1") "controller " A "|firmware=51.1-2\n", "adapter", "vmhba0", "firmware", "?", "51.1-2, its BMC 51.1-1"},
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) CARD("1", "5.160.02-3552") "controller " A "|firmware=52.16.1-4405|image-version=5.160.02-3552\n", "adapter", "vmhba0",
         "firmware", "52.16.1-4405", NULL}, /* the version of the image in that package */
        {HOST BMC "pci " A "|class=0c04|vendor=1000|device=0016|subvendor=1d49|subdevice=0601\n" ADAPTER("vmhba0", A) CARD("1", "51.1-1"), "adapter", "vmhba0", "firmware", "?",
         NULL}, /* Fibre Channel: a package's number is not the firmware's */
    };

    check(*state, t, N(t));
}

#define SMART(n, version) "bmc-device /a/" n "|kind=smart-array|firmware=" version "\n"
#define HPE(n, a) "pci " a "|class=0104|vendor=9005|device=028f|subvendor=103c|subdevice=0654\nadapter " n "|pci=" a "|driver=smartpqi|firmware=?\n"

static void smart_arrays_are_joined_where_all_agree(void **state)
{
    static const struct cell_test t[] = {
        {HOST BMC HPE("vmhba0", A) SMART("0", "1.98"), "adapter", "vmhba0", "firmware", "1.98", NULL},
        {HOST BMC HPE("vmhba0", A) HPE("vmhba1", B) SMART("0", "1.98") SMART("1", "1.98"), "adapter", "vmhba1", "firmware", "1.98", NULL},
        {HOST BMC HPE("vmhba0", A) HPE("vmhba1", B) SMART("0", "1.98") SMART("1", "3.53"), "adapter", "vmhba1", "firmware", "?", "which is which"},
        {HOST BMC HPE("vmhba0", A) HPE("vmhba1", B) SMART("0", "1.98"), "adapter", "vmhba0", "firmware", "?", "lists 1 Smart Arrays, the host has 2"},
        {HOST BMC FUNCTION(A) ADAPTER("vmhba0", A) SMART("0", "1.98"), "adapter", "vmhba0", "firmware", "?", "does not say which"}, /* another vendor's driver */
    };

    check(*state, t, N(t));
}

#define NIC "nic vmnic0|mac=b4:96:91:05:00:50|firmware=8.30 0x8000a49d 21.5.9\n"

static void a_nic_has_its_package_beside_its_firmware(void **state)
{
    static const struct cell_test t[] = {
        {HOST BMC NIC "bmc-device /n|kind=nic|firmware=21.5.9\nbmc-device /n/p/1|kind=port|parent=/n|macs=b4:96:91:05:00:50\n", "nic", "vmnic0", "firmware-package", "21.5.9", NULL},
        {HOST BMC NIC "bmc-device /n|kind=nic|firmware=21.5.9\nbmc-device /n/p/1|kind=port|parent=/n|macs=b4:96:91:05:00:50\n", "nic", "vmnic0", "firmware-version", "8.30", NULL},
        {HOST BMC NIC "bmc-device /n|kind=nic|firmware=17.4.41|macs=b4:96:91:05:00:50\n", "nic", "vmnic0", "firmware-package", "17.4.41", NULL},
        {HOST BMC NIC "bmc-device /n|kind=nic|firmware=17.4.41|macs=b4:96:91:05:00:51\n", "nic", "vmnic0", "firmware-package", "?", "no port with this MAC"},
        {HOST BMC NIC "bmc-device /n|kind=nic|firmware=1.1|macs=b4:96:91:05:00:50\nbmc-device /m|kind=nic|firmware=1.2|macs=b4:96:91:05:00:50\n", "nic", "vmnic0",
         "firmware-package", "?", "two versions: 1.2 and 1.1"},
        {HOST BMC "nic vmnic0|firmware=?\n", "nic", "vmnic0", "firmware-package", "?", "MAC address"},
        {HOST NIC, "nic", "vmnic0", "firmware-package", "?", "--bmc"},
    };

    check(*state, t, N(t));
}

#define DRIVE(more) "bmc-device /d/1|kind=drive|" more "\n"

static void drives_are_joined_by_serial_number_and_wwn(void **state)
{
    static const struct cell_test t[] = {
        {HOST BMC "nvme vmhba4|serial=S0000551 |firmware=?\n" DRIVE("serial=S0000551|firmware=2.3.0"), "nvme", "vmhba4", "firmware", "2.3.0", NULL},
        {HOST BMC "nvme vmhba4|serial=S0000551|firmware=2.3.0\n" DRIVE("serial=S0000551|firmware=2.4.0"), "nvme", "vmhba4", "firmware", "?", "2.3.0, its BMC 2.4.0"},
        {HOST BMC "nvme vmhba4|serial=S0000552|firmware=?\n" DRIVE("serial=S0000551|firmware=2.3.0"), "nvme", "vmhba4", "firmware", "?", NULL},
        {HOST BMC "nvme vmhba4|serial=S0000551|firmware=?\n" DRIVE("serial=S0000551|firmware=1") "bmc-device /d/2|kind=drive|serial=S0000551|firmware=2\n", "nvme", "vmhba4",
         "firmware", "?", "two versions"},
        {HOST BMC "device naa.5002538b00000010|revision=?\n" DRIVE("wwns=5002538b00000010|firmware=DSG8"), "device", "naa.5002538b00000010", "revision", "DSG8", NULL},
        {HOST BMC "device naa.5002538b00000010|revision=DSG8\n" DRIVE("wwns=5002538b00000010|firmware=DSG9"), "device", "naa.5002538b00000010", "revision", "?", "its BMC DSG9"},
        /* SCSI has four characters of SATA's eight, the first or the last */
        {HOST BMC "device naa.5002538b00000010|revision=103Q\n" DRIVE("wwns=5002538b00000010|firmware=GXM5103Q"), "device", "naa.5002538b00000010", "revision", "103Q", NULL},
        {HOST BMC "device naa.5002538b00000010|revision=GXM5\n" DRIVE("wwns=5002538b00000010|firmware=GXM5103Q"), "device", "naa.5002538b00000010", "revision", "GXM5", NULL},
        {HOST BMC "device naa.5002538b00000010|revision=503Q\n" DRIVE("wwns=5002538b00000010|firmware=GXM5103Q"), "device", "naa.5002538b00000010", "revision", "?", NULL},
        {HOST BMC "device t10.ATA_____SSDSC2KB480G8R_______________________PHYF0000001480EGN__|revision=?\n" DRIVE("serial=PHYF0000001480EGN|firmware=XCV1DL67"), "device",
         "t10.ATA_____SSDSC2KB480G8R_______________________PHYF0000001480EGN__", "revision", "XCV1DL67", NULL},
        {HOST BMC "device t10.ATA_____SSDSC2KB480G8R_______________________PHYF0000001480EGN__|revision=?\n" DRIVE("serial=F0000001480EGN|firmware=XCV1DL67"), "device",
         "t10.ATA_____SSDSC2KB480G8R_______________________PHYF0000001480EGN__", "revision", "?", NULL}, /* the end of a longer one */
    };

    check(*state, t, N(t));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(a_bmc_has_to_be_of_this_host),
        T(an_adapter_is_joined_by_what_names_one),
        T(smart_arrays_are_joined_where_all_agree),
        T(a_nic_has_its_package_beside_its_firmware),
        T(drives_are_joined_by_serial_number_and_wwn),
    };

    xml_setup();
    return cmocka_run_group_tests_name("derive_firmware", tests, NULL, NULL);
}
