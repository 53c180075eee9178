#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decode/redfish.h"
#include "decoding.h"

/*
 * Bodies after published ones, cut to the properties that count:
 *   Cisco UCSC-C240-M5SN, CIMC   https://github.com/akaliwod/iserver, doc/redfish-tests-cisco-ucsc-c240-m5sn
 *   iLO 4, Smart Array P440      https://docs.rs/crate/libredfish2/latest/source/tests/smart-array.json
 *   iLO 5, Smart Array P408i-a   HPE's iLO 5 resource definitions, https://hewlettpackard.github.io/ilo-rest-api-docs/ilo5/
 *   iDRAC 9, PERC H730P MX       https://github.com/dell/dellemc-openmanage-ansible-modules, roles/redfish_firmware, idrac_gather_facts
 *   PCIeFunction, iDRAC 9        the same properties as Dell's Sapphire Rapids SATA AHCI controller 8086:1bf2:1028:0a6b
 * Serial numbers, MAC addresses and UUIDs are made up.
 */

/* "key=text" of each field of each record, records parted by '|', fields by ';'. */
static const char *flat(struct arena *a, const struct decoded *d)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);

    for (size_t i = 0; i < d->n; i++) {
        if (i)
            buf_addc(&b, '|');
        for (uint32_t k = 0; k < d->records[i].nfields; k++) {
            const struct field *f = &d->records[i].fields[k];

            buf_printf(&b, "%s" SLICE_FMT "=" SLICE_FMT "%s", k ? ";" : "", SLICE_ARG(f->key), SLICE_ARG(f->text), f->damage ? "!" : "");
        }
    }
    return arena_printf(a, "%s", buf_z(&b));
}

struct body {
    const char *json;
    enum decode_state state;
    const char *want; /* records, or words of why */
};

static void check(struct arena *a, decode_fn *run, const struct body *t, size_t n)
{
    const struct decode_opt o = {.name = "x"};

    for (size_t i = 0; i < n; i++) {
        struct decoded d;

        assert_int_equal(run(slice_of(t[i].json), &o, a, &d), 0);
        if (d.state != t[i].state)
            fail_msg("%zu: state %d, not %d: %s\n%s", i, d.state, t[i].state, d.why ? d.why : "", t[i].json);
        if (d.state == DECODE_COMPLETE)
            assert_string_equal(flat(a, &d), t[i].want);
        else if (!d.why || !strstr(d.why, t[i].want))
            fail_msg("%zu: \"%s\", not \"%s\"", i, d.why ? d.why : "", t[i].want);
    }
}

#define ID(path, type) "{\"@odata.id\": \"/redfish/v1/" path "\", \"@odata.type\": \"#" type "\""

static void resources_of_vendors(void **state)
{
    static const struct body t[] = {
        /* the controller's @odata.id is the storage's own */
        {ID("Systems/WZP00000001/Storage/MRAID", "Storage.v1_9_0.Storage")
         ", \"StorageControllers\": [{\"@odata.id\": \"/redfish/v1/Systems/WZP00000001/Storage/MRAID\", \"MemberId\": \"MRAID\", \"Model\": \"UCSC-RAID-M5\", "
         "\"Name\": \"Cisco 12G Modular Raid Controller with 2GB cache (max 16 drives)\", \"FirmwareVersion\": \"51.10.0-3612\", \"SerialNumber\": \"SK00000001\"}]}",
         DECODE_COMPLETE,
         "Path=/redfish/v1/Systems/WZP00000001/Storage/MRAID#/StorageControllers/0;Kind=controller;Name=Cisco 12G Modular Raid Controller with 2GB cache (max 16 "
         "drives);Model=UCSC-RAID-M5;Serial=SK00000001;Firmware=51.10.0-3612"},
        {ID("Systems/1/SmartStorage/ArrayControllers/1/", "HpSmartStorageArrayController.1.1.0.HpSmartStorageArrayController")
         ", \"FirmwareVersion\": {\"Current\": {\"VersionString\": \"5.04\"}}, \"Model\": \"Smart Array P440 Controller\", \"Name\": \"HpSmartStorageArrayController\", "
         "\"SerialNumber\": \"PDNMF0ARH00001  \", \"Type\": \"HpSmartStorageArrayController.1.1.0\"}",
         DECODE_COMPLETE,
         "Path=/redfish/v1/Systems/1/SmartStorage/ArrayControllers/1;Kind=smart-array;Name=HpSmartStorageArrayController;Model=Smart Array P440 Controller;"
         "Serial=PDNMF0ARH00001;Firmware=5.04"},
        {ID("Systems/1/SmartStorage/ArrayControllers/0/", "HpeSmartStorageArrayController.v2_2_0.HpeSmartStorageArrayController")
         ", \"Model\": \"HPE Smart Array P408i-a SR Gen10\", \"FirmwareVersion\": {\"Current\": {\"VersionString\": \"1.98\"}}}",
         DECODE_COMPLETE, "Path=/redfish/v1/Systems/1/SmartStorage/ArrayControllers/0;Kind=smart-array;Model=HPE Smart Array P408i-a SR Gen10;Firmware=1.98"},
        {ID("Systems/System.Embedded.1/Storage/RAID.Integrated.1-1", "Storage.v1_13_0.Storage")
         ", \"StorageControllers\": [{\"@odata.id\": \"/redfish/v1/Systems/System.Embedded.1/Storage/RAID.Integrated.1-1#/StorageControllers/0\", "
         "\"Model\": \"PERC H730P MX\", \"FirmwareVersion\": \"25.5.9.0001\", \"Identifiers\": [{\"DurableName\": \"544A842000001111\", \"DurableNameFormat\": \"NAA\"}], "
         "\"Links\": {\"PCIeFunctions\": [{\"@odata.id\": \"/redfish/v1/Chassis/System.Embedded.1/PCIeDevices/59-0/PCIeFunctions/59-0-0\"}]}}]}",
         DECODE_COMPLETE,
         "Path=/redfish/v1/Systems/System.Embedded.1/Storage/RAID.Integrated.1-1#/StorageControllers/0;Kind=controller;Model=PERC H730P MX;Firmware=25.5.9.0001;"
         "WWN=544a842000001111;Link=/redfish/v1/Chassis/System.Embedded.1/PCIeDevices/59-0/PCIeFunctions/59-0-0"},
        {ID("Systems/System.Embedded.1/Storage/CPU.1", "Storage.v1_13_0.Storage") ", \"StorageControllers\": []}", DECODE_COMPLETE, ""},
        {ID("Chassis/1/NetworkAdapters/UCSC-MLOM-C25Q-04_FCH00000001", "NetworkAdapter.v1_2_0.NetworkAdapter")
         ", \"Controllers\": [{\"FirmwarePackageVersion\": \"5.1(3d)\"}], \"Name\": \"UCS VIC 1457\", \"Model\": \"UCSC-MLOM-C25Q-04\"}",
         DECODE_COMPLETE, "Path=/redfish/v1/Chassis/1/NetworkAdapters/UCSC-MLOM-C25Q-04_FCH00000001;Kind=nic;Name=UCS VIC 1457;Model=UCSC-MLOM-C25Q-04;Firmware=5.1(3d)"},
        {ID("Chassis/1/NetworkAdapters/N/NetworkDeviceFunctions/eth0", "NetworkDeviceFunction.v1_3_0.NetworkDeviceFunction")
         ", \"Name\": \"eth0\", \"Ethernet\": {\"MACAddress\": \"3C:57:31:00:00:0A\", \"PermanentMACAddress\": null}}",
         DECODE_COMPLETE,
         "Path=/redfish/v1/Chassis/1/NetworkAdapters/N/NetworkDeviceFunctions/eth0;Kind=port;Name=eth0;Parent=/redfish/v1/Chassis/1/NetworkAdapters/N;MAC=3c:57:31:00:00:0a"},
        {ID("Chassis/1/PCIeDevices/0-24/PCIeFunctions/0-24-0", "PCIeFunction.v1_4_0.PCIeFunction")
         ", \"DeviceId\": \"0x1bf2\", \"SubsystemId\": \"0x0a6b\", \"SubsystemVendorId\": \"0x1028\", \"VendorId\": \"0x8086\"}",
         DECODE_COMPLETE,
         "Path=/redfish/v1/Chassis/1/PCIeDevices/0-24/PCIeFunctions/0-24-0;Kind=pci-function;Parent=/redfish/v1/Chassis/1/PCIeDevices/0-24;Vendor=0x8086;Device=0x1bf2;"
         "Subvendor=0x1028;Subdevice=0x0a6b"},
        {ID("Systems/1/PCIDevices/1/", "HpServerPciDevice.1.0.0.HpServerPciDevice")
         ", \"BusNumber\": 2, \"DeviceNumber\": 0, \"FunctionNumber\": 1, \"VendorID\": 5348, \"DeviceID\": 5719, \"SubsystemVendorID\": 4156, \"SubsystemDeviceID\": 8894}",
         DECODE_COMPLETE, "Path=/redfish/v1/Systems/1/PCIDevices/1;Kind=pci-function;Vendor=0x14e4;Device=0x1657;Subvendor=0x103c;Subdevice=0x22be;Address=0000:02:00.1"},
        {ID("Systems/1/PCIDevices/2/", "HpServerPciDevice.1.0.0.HpServerPciDevice") ", \"BusNumber\": 255, \"DeviceNumber\": 255, \"FunctionNumber\": 255}",
         DECODE_COMPLETE, "Path=/redfish/v1/Systems/1/PCIDevices/2;Kind=pci-function"},
        {ID("Systems/1/Drives/0", "Drive.v1_7_0.Drive") ", \"Revision\": \"2.3.0\", \"SerialNumber\": \"S1\", \"Identifiers\": [{\"DurableName\": \"0x5002538B00000010\"}, {}]}",
         DECODE_COMPLETE, "Path=/redfish/v1/Systems/1/Drives/0;Kind=drive;Serial=S1;Firmware=2.3.0;WWN=5002538b00000010"},
        {ID("U/F/1", "SoftwareInventory.v1_2_0.SoftwareInventory") ", \"Name\": \"BIOS\", \"Version\": \"N/A\", \"RelatedItem\": [{\"@odata.id\": \"/redfish/v1/Systems/1/Bios/\"}]}",
         DECODE_COMPLETE, "Path=/redfish/v1/U/F/1;Kind=firmware;Name=BIOS;Item=/redfish/v1/Systems/1/Bios"},
        {ID("Systems/1/Memory/1", "Memory.v1_7_0.Memory") ", \"FirmwareRevision\": \"1\"}", DECODE_COMPLETE, ""},
        {ID("Systems/1", "ComputerSystem.v1_7_0.ComputerSystem") ", \"SerialNumber\": \"S1\"}", DECODE_COMPLETE, ""}, /* the other decoder's */
    };

    check(*state, decode_redfish, t, sizeof t / sizeof *t);
}

static void a_system_says_which_machine_it_is(void **state)
{
    static const struct body t[] = {
        {ID("Systems/System.Embedded.1", "ComputerSystem.v1_20_0.ComputerSystem")
         ", \"Manufacturer\": \"Dell Inc.\", \"Model\": \"PowerEdge R650\", \"SKU\": \"S000005\", \"SerialNumber\": \"CNIVC000000001\", \"UUID\": "
         "\"4c4c4544-0030-3010-8031-000000000005\", \"BiosVersion\": \"1.6.5\", \"AssetTag\": \"x\", \"HostName\": \"esx\"}",
         DECODE_COMPLETE,
         "Path=/redfish/v1/Systems/System.Embedded.1;Manufacturer=Dell Inc.;Model=PowerEdge R650;Serial=CNIVC000000001;SKU=S000005;UUID=4c4c4544-0030-3010-8031-000000000005;"
         "BIOS=1.6.5"},
        {ID("Systems/1/Storage/1", "Storage.v1_9_0.Storage") "}", DECODE_COMPLETE, ""},
    };

    check(*state, decode_redfish_system, t, sizeof t / sizeof *t);
}

static void what_is_no_resource_is_said(void **state)
{
    static const struct body t[] = {
        {"", DECODE_UNUSABLE, "not JSON"},
        {"<html><body>Log in</body></html>", DECODE_UNUSABLE, "a web page"},
        {"{\"@odata.id\": \"/redfish/v1/Systems/1\", ", DECODE_UNUSABLE, "not JSON"},
        {"[]", DECODE_UNUSABLE, "@odata.id"},
        {"7", DECODE_UNUSABLE, "not JSON"},
        {"{}", DECODE_UNUSABLE, "@odata.id"},
        {"{\"@odata.id\": \"/redfish/v1/Systems/1\"}", DECODE_UNUSABLE, "@odata.type"},
        {"{\"@odata.id\": \"/etc/passwd\", \"@odata.type\": \"#Drive.v1_0_0.Drive\"}", DECODE_UNUSABLE, "@odata.id"},
        {"{\"@odata.id\": 7, \"@odata.type\": [\"#Drive.v1_0_0.Drive\"]}", DECODE_UNUSABLE, "@odata.id"},
        {"{\"error\": {\"code\": \"Base.1.0.GeneralError\", \"@Message.ExtendedInfo\": [{\"Message\": \"a license is missing\"}]}}", DECODE_REFUSED, "a license is missing"},
        {"{\"error\": 7}", DECODE_REFUSED, "an error"},
    };

    check(*state, decode_redfish, t, sizeof t / sizeof *t);
    check(*state, decode_redfish_system, t, sizeof t / sizeof *t);
}

/* A card of two controllers with different packages has no version. */
static void two_packages_of_one_card_are_damage(void **state)
{
    static const struct body t[] = {
        {ID("C/N/1", "NetworkAdapter.v1_2_0.NetworkAdapter") ", \"Controllers\": [{\"FirmwarePackageVersion\": \"1.2\"}, {\"FirmwarePackageVersion\": \"1.2\"}]}",
         DECODE_COMPLETE, "Path=/redfish/v1/C/N/1;Kind=nic;Firmware=1.2"},
        {ID("C/N/1", "NetworkAdapter.v1_2_0.NetworkAdapter") ", \"Controllers\": [{\"FirmwarePackageVersion\": \"1.2\"}, {\"FirmwarePackageVersion\": \"1.3\"}, 7, {}]}",
         DECODE_COMPLETE, "Path=/redfish/v1/C/N/1;Kind=nic;Firmware=1.2;Firmware=1.3!"},
    };

    check(*state, decode_redfish, t, sizeof t / sizeof *t);
}

/* Every cut of a body is no JSON, so that none gives a value. */
static void a_cut_body_gives_nothing(void **state)
{
    static const char body[] = ID("Systems/1/Drives/0", "Drive.v1_7_0.Drive") ", \"Revision\": \"2.3.0\", \"SerialNumber\": \"S1\"}";
    const struct decode_opt o = {.name = "x"};

    for (size_t n = 0; n + 1 < sizeof body; n++) {
        struct decoded d;

        assert_int_equal(decode_redfish((struct slice){body, n}, &o, *state, &d), 0);
        assert_int_equal(d.state, DECODE_UNUSABLE);
        assert_int_equal(d.n, 0);
    }
}

/* What is given away reads the same and has nothing else. */
static void a_reduced_body_says_the_same(void **state)
{
    static const char body[] = ID("Systems/1", "ComputerSystem.v1_7_0.ComputerSystem")
        ", \"SerialNumber\": \"S1\", \"HostName\": \"esx01\", \"AssetTag\": \"tag\", \"Oem\": {\"Dell\": {\"NodeID\": \"S1\", \"ExpressServiceCode\": \"1\"}}, \"UUID\": \"u\"}";
    _cleanup_(buf_done) struct buf b = BUF_INIT(65536);
    const struct decode_opt o = {.name = "x"};
    struct decoded before, after;

    assert_int_equal(redfish_reduce(slice_of(body), &b), 0);
    assert_int_equal(decode_redfish_system(slice_of(body), &o, *state, &before), 0);
    assert_int_equal(decode_redfish_system(buf_slice(&b), &o, *state, &after), 0);
    assert_string_equal(flat(*state, &before), flat(*state, &after));
    for (const char *const *w = (const char *const[]){"esx01", "tag", "NodeID", "ExpressServiceCode", NULL}; *w; w++)
        assert_null(strstr(buf_z(&b), *w));
    buf_reset(&b);
    assert_int_equal(redfish_reduce(SLICE_LIT("<html>esx01</html>"), &b), -1);
    assert_int_equal(b.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(resources_of_vendors),
        T(a_system_says_which_machine_it_is),
        T(what_is_no_resource_is_said),
        T(two_packages_of_one_card_are_damage),
        T(a_cut_body_gives_nothing),
        T(a_reduced_body_says_the_same),
    };

    return cmocka_run_group_tests_name("decode_redfish", tests, NULL, NULL);
}
