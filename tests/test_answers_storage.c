/*
 * What hosts print about storage over IP, port groups, dumps and boots, as rows. Sources of the texts: elatov.github.io (VCAP5-DCA objective 6.4,
 * ESXi 5.x; indents lost there and put back), cloud.ibm.com (target portals), github.com/elatov/elatov.github.io (port groups of 6.7, claim rule
 * of 6.0), vmware/vsan documentation (ARP table of 7.0), KB 1019238 and published logs (vmksummary.log). Names and addresses are replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stat.h>

#include <cmocka.h>

#include "base/xml.h"
#include "promises.h"

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

static void gather(struct host *h, const char *const (*files)[2], size_t n)
{
    struct err e = {0};

    for (size_t i = 0; i < n; i++) {
        for (const char *slash = strchr(files[i][0], '/'); slash; slash = strchr(slash + 1, '/'))
            (void)mkdir(arena_printf(h->a, "%s/%.*s", h->f.path, (int)(slash - files[i][0]), files[i][0]), 0700);
        folder_write(&h->f, files[i][0], slice_of(files[i][1]));
    }
    if (offline_open(h->f.path, h->a, &h->targets, &h->n, &e) < 0 || env_gather(&h->env, &h->targets[0], h->a, &h->facts, &e) < 0)
        fail_msg("%s", e.msg);
}

/* "?" unknown, "-" absent. */
static void is(const struct host *h, const char *table, const char *key, const char *column, const char *want)
{
    unsigned t = facts_table_index(h->facts, table);
    const struct row *r = facts_find(h->facts, t, slice_of(key));
    const struct value *v = facts_cell(h->facts, r, column);
    int c = table_column(&h->facts->schema->tables[t], slice_of(column));
    struct slice got;

    if (!r || c < 0)
        fail_msg("no row %s in %s, or no column %s", key, table, column);
    got = v->state == VS_UNKNOWN ? SLICE_LIT("?") : v->state == VS_ABSENT ? SLICE_LIT("-")
                                                                         : value_text(&h->facts->schema->tables[t].columns[c], v, h->facts->arena);
    if (!slice_eqz(got, want))
        fail_msg("%s.%s of %s is " SLICE_FMT ", not %s: %s", table, column, key, SLICE_ARG(got), want, v->why ? v->why : "");
}

static void complete(const struct host *h, const char *table, bool wanted)
{
    const char *why = "";

    if (facts_complete(h->facts, table, &why) != wanted)
        fail_msg("%s: %s", table, why ? why : "complete");
}

#define T "iqn.2010-09.org.example:02:bd79a6ff"
static const char version[] = "   Product: VMware ESXi\n   Version: 6.7.0\n   Build: Releasebuild-14320388\n   Update: 3\n   Patch: 73\n";

static const char portals[] = "Adapter  Target                               IP             Port  Tpgt\n"
                              "-------  -----------------------------------  -------------  ----  ----\n"
                              "vmhba33  " T "  192.0.2.107    3260     1\n"
                              "vmhba33  " T "  203.0.113.12   3260     1\n";
static const char connections[] = "vmhba33," T ",00023d000001,0\n"
                                  "   Adapter: vmhba33\n   Target: " T "\n   ISID: 00023d000001\n   CID: 0\n   DataDigest: NONE\n"
                                  "   HeaderDigest: NONE\n   IFMarker: false\n   IFMarkerInterval: 0\n   MaxRecvDataSegmentLength: 131072\n"
                                  "   MaxTransmitDataSegmentLength: 32768\n   OFMarker: false\n   OFMarkerInterval: 0\n"
                                  "   ConnectionAddress: 192.0.2.107\n   RemoteAddress: 192.0.2.107\n   LocalAddress: 192.0.2.106\n"
                                  "   SessionCreateTime: 12/14/12 18:59:57\n   ConnectionCreateTime: 12/14/12 18:59:57\n"
                                  "   ConnectionStartTime: 12/14/12 18:59:57\n   State: logged_in\n\n"
                                  "vmhba33," T ",00023d000003,0\n"
                                  "   Adapter: vmhba33\n   Target: " T "\n   ISID: 00023d000003\n   CID: 0\n   DataDigest: NONE\n"
                                  "   HeaderDigest: NONE\n   IFMarker: false\n   IFMarkerInterval: 0\n   MaxRecvDataSegmentLength: 131072\n"
                                  "   MaxTransmitDataSegmentLength: 32768\n   OFMarker: false\n   OFMarkerInterval: 0\n"
                                  "   ConnectionAddress: 192.0.2.107\n   RemoteAddress: 192.0.2.107\n   LocalAddress: 192.0.2.106\n"
                                  "   SessionCreateTime: 12/16/12 21:02:12\n   ConnectionCreateTime: 12/16/12 21:02:12\n"
                                  "   ConnectionStartTime: 12/16/12 21:02:12\n   State: logged_in\n";
static const char bound[] = "vmhba33\n   Adapter: vmhba33\n   Vmknic: vmk1\n   MAC Address: 00:50:56:17:16:07\n   MAC Address Valid: true\n"
                            "   IPv4: 192.0.2.106\n   IPv4 Subnet Mask: 255.255.255.0\n   IPv6: \n   MTU: 1500\n   Vlan Supported: true\n"
                            "   Vlan ID: 0\n   Reserved Ports: 63488~65536\n   TOE: false\n   TSO: true\n   TCP Checksum: false\n   Link Up: true\n"
                            "   Current Speed: 1000\n   Rx Packets: 25089756\n   Tx Packets: 8315855\n   NIC Driver: e1000\n"
                            "   NIC Driver Version: 8.0.3.1-NAPI\n   NIC Firmware Version: N/A\n   Compliant Status: compliant\n"
                            "   NonCompliant Message: \n   NonCompliant Remedy: \n   Vswitch: vSwitch1\n   PortGroup: iSCSI\n   VswitchUuid: \n"
                            "   PortGroupKey: \n   PortKey: \n   Duplex: \n   Path Status: active\n";
static const char params[] = "Name                  Current     Default     Min  Max       Settable  Inherit\n"
                             "--------------------  ----------  ----------  ---  --------  --------  -------\n"
                             "MaxCmds               128         128         2    2048         false    false\n"
                             "ImmediateData         true        true        na   na           false    false\n"
                             "LoginTimeout          5           5           1    60            true    false\n"
                             "DelayedAck            false       true        na   na            true    false\n"
                             "HeaderDigest          prohibited  prohibited  na   na            true    false\n";

static void iscsi_sessions_portals_ports_and_parameters(void **state)
{
    static const char *const files[][2] = {
        {"esxcli_system_version_get.txt", version},
        {"esxcli_iscsi_adapter_list.txt", "Adapter  Driver     State   UID            Description\n"
                                          "-------  ---------  ------  -------------  ----------------------\n"
                                          "vmhba33  iscsi_vmk  online  iscsi.vmhba33  iSCSI Software Adapter\n"},
        {"esxcli_iscsi_adapter_discovery_sendtarget_list.txt", "Adapter  Sendtarget\n-------  ------------------\nvmhba33  192.0.2.107:3260\n"},
        {"esxcli_iscsi_adapter_target_portal_list.txt", portals},
        {"esxcli_iscsi_session_connection_list.txt", connections},
        {"esxcli_iscsi_networkportal_list.txt", bound},
        {"esxcli_iscsi_adapter_param_get_-A_vmhba33.txt", params},
    };
    struct host *h = *state;

    gather(h, files, sizeof files / sizeof *files);
    complete(h, "iscsi-portal", true);
    is(h, "iscsi-portal", "vmhba33/" T "/192.0.2.107", "group", "1");
    is(h, "iscsi-portal", "vmhba33/" T "/192.0.2.107", "sessions", "2");
    is(h, "iscsi-portal", "vmhba33/" T "/203.0.113.12", "sessions", "0");
    is(h, "iscsi-portal", "vmhba33/" T "/203.0.113.12", "expected-sessions", "0");
    is(h, "iscsi-connection", "vmhba33/" T "/00023d000003", "local-address", "192.0.2.106");
    is(h, "iscsi-connection", "vmhba33/" T "/00023d000003", "state", "logged_in");
    is(h, "iscsi-bound", "vmhba33/vmk1", "netmask", "255.255.255.0");
    is(h, "iscsi-bound", "vmhba33/vmk1", "compliant", "yes");
    is(h, "iscsi-bound", "vmhba33/vmk1", "path-status", "active");
    is(h, "iscsi-bound", "vmhba33/vmk1", "message", "-");
    is(h, "iscsi-discovery", "vmhba33/192.0.2.107:3260", "adapter", "vmhba33");
    is(h, "iscsi-param", "vmhba33/LoginTimeout", "number", "5");
    is(h, "iscsi-param", "vmhba33/DelayedAck", "value", "false");
    is(h, "iscsi-param", "vmhba33/DelayedAck", "default", "true");
    is(h, "iscsi-param", "vmhba33/MaxCmds", "settable", "no");
    is(h, "iscsi", "vmhba33", "targets", "3");
}

static void a_list_of_connections_that_was_cut_proves_no_missing_session(void **state)
{
    const char *files[][2] = {{"esxcli_system_version_get.txt", version}, {"esxcli_iscsi_adapter_target_portal_list.txt", portals},
                              {"esxcli_iscsi_session_connection_list.txt", NULL}};
    struct host *h = *state;
    struct slice cut = slice_cut(slice_of(connections), 0, sizeof connections - 40);

    files[2][1] = arena_dup(h->a, cut).p;
    gather(h, (const char *const (*)[2])files, 3);
    complete(h, "iscsi-connection", false);
    is(h, "iscsi-portal", "vmhba33/" T "/203.0.113.12", "sessions", "?");
}

static void port_groups_uplinks_and_neighbours(void **state)
{
    static const char *const files[][2] = {
        {"esxcli_system_version_get.txt", version},
        {"esxcli_network_vswitch_standard_portgroup_list.txt", "Name                Virtual Switch  Active Clients  VLAN ID\n"
                                                               "------------------  --------------  --------------  -------\n"
                                                               "Management Network  vSwitch0                     1        0\n"
                                                               "VM_VLAN3            vSwitch0                     1        3\n"
                                                               "iscsi               storage                      1        0\n"},
        {"esxcli_network_ip_interface_list.txt", "vmk1\n   Name: vmk1\n   MAC Address: 00:50:56:00:00:16\n   Enabled: true\n   Portset: storage\n"
                                                 "   Portgroup: iscsi\n   Netstack Instance: defaultTcpipStack\n   VDS Name: N/A\n   MTU: 9000\n"},
        {"esxcli_network_vswitch_standard_portgroup_policy_failover_get_-p_iscsi.txt",
         "   Load Balancing: explicit\n   Network Failure Detection: link\n   Notify Switches: true\n   Failback: true\n   Active Adapters: vmnic1\n"
         "   Standby Adapters: vmnic5\n   Unused Adapters: \n   Override Vswitch Load Balancing: true\n"},
        {"esxcli_network_ip_neighbor_list.txt", "Neighbor     Mac Address        Vmknic   Expiry  State  Type   \n"
                                                "-----------  -----------------  ------  -------  -----  -------\n"
                                                "172.40.0.12  00:50:56:61:ce:22  vmk1    164 sec         Unknown\n"},
    };
    struct host *h = *state;

    gather(h, files, sizeof files / sizeof *files);
    is(h, "portgroup", "VM_VLAN3", "vlan", "3");
    is(h, "portgroup", "Management Network", "vswitch", "vSwitch0");
    is(h, "portgroup", "iscsi", "load-balancing", "explicit");
    is(h, "portgroup", "iscsi", "active", "vmnic1");
    is(h, "portgroup", "iscsi", "unused", "-");
    is(h, "portgroup", "VM_VLAN3", "active", "?");
    is(h, "vmknic", "vmk1", "uplinks", "vmnic1, vmnic5");
    is(h, "vmknic", "vmk1", "vlan", "0");
    is(h, "neighbor", "vmk1/172.40.0.12", "mac", "00:50:56:61:ce:22");
}

static void dump_targets_boots_and_start_of_machines(void **state)
{
    static const char *const files[][2] = {
        {"esxcli_system_version_get.txt", version},
        {"esxcli_system_coredump_partition_get.txt", "   Active: mpx.vmhba2:C0:T0:L0:7\n   Configured: mpx.vmhba2:C0:T0:L0:7\n"},
        {"esxcli_system_coredump_file_get.txt", "   Active: \n   Configured: \n"},
        {"esxcli_system_coredump_network_get.txt", "   Enabled: false\n   Host VNic: \n   Is Using IPv6: false\n   Network Server IP: \n   Network Server Port: 0\n"},
        {"var/log/vmksummary.log", "2017-09-14T17:00:50Z bootstop: Host is powering off\n"
                                   "2017-09-15T09:48:53Z mark: storage-path-claim-completed\n"
                                   "2017-09-15T09:49:10Z bootstop: Host has booted\n"
                                   "2017-09-15T10:00:01Z heartbeat: up 0d0h16m14s, 0 VMs\n"
                                   "2017-10-01T02:11:09Z bootstop: Core dump found\n"
                                   "2026-09-27T12:08:37.621Z In(14) bootstop[2098311]: Host has booted\n"},
        {"vim-cmd_hostsvc_autostartmanager_get_defaults.txt", "(vim.host.AutoStartManager.SystemDefaults) {\n   enabled = true,\n   startDelay = 120,\n"
                                                              "   stopDelay = 120,\n   waitForHeartbeat = false,\n   stopAction = \"PowerOff\"\n}\n"},
        {"etc/vmware/passthru.map", "# passthrough attributes for devices\n\n# file format: vendor-id device-id resetMethod fptShareable\n"
                                    "# reset methods: flr, d3d0, link, bridge, default\n\n8086  10d3  d3d0     default\n10de  ffff  bridge   false\n"
                                    "8086  2700  d3d0     false\n"},
    };
    struct host *h = *state;

    gather(h, files, sizeof files / sizeof *files);
    complete(h, "coredump", true);
    is(h, "coredump", "partition", "active", "yes");
    is(h, "coredump", "file", "active", "no");
    is(h, "coredump", "network", "active", "no");
    complete(h, "boot-event", true);
    assert_int_equal(facts_count(h->facts, facts_table_index(h->facts, "boot-event")), 4);
    is(h, "boot-event", "2017-10-01T02:11:09Z/Core dump found", "crash", "yes");
    is(h, "boot-event", "2026-09-27T12:08:37.621Z/Host has booted", "unclean", "yes");
    is(h, "autostart", "", "enabled", "yes");
    is(h, "autostart", "", "start-delay", "120");
    complete(h, "passthru-map", true);
    is(h, "passthru-map", "8086/2700", "reset", "d3d0");
    is(h, "passthru-map", "10de/ffff", "shareable", "false");
}

/* 5.x has neither Read-Only nor isPE; the columns are those that the heading names. */
static void nfs_of_5_x_claim_rules_and_lock_modes(void **state)
{
    static const char *const files[][2] = {
        {"esxcli_system_version_get.txt", version},
        {"esxcli_storage_nfs_list.txt", "Volume Name  Host           Share            Accessible  Mounted  Hardware Acceleration\n"
                                        "-----------  -------------  ---------------  ----------  -------  ---------------------\n"
                                        "NFS          192.0.2.107    /data/nfs_share        true     true  Not Supported\n"},
        {"esxcli_storage_nmp_satp_rule_list.txt",
         "Name                 Device  Vendor   Model       Driver  Transport  Options  Rule Group  Claim Options  Default PSP  PSP Options  Description\n"
         "-------------------  ------  -------  ----------  ------  ---------  -------  ----------  -------------  -----------  -----------  --------------\n"
         "VMW_SATP_ALUA                SUN      COMSTAR                                 user                       VMW_PSP_RR   iops=1       OmniOS Devices\n"
         "VMW_SATP_LOCAL                                    usb                         system                     VMW_PSP_FIXED\n"},
        {"esxcli_storage_filesystem_list.txt",
         "Mount Point                                        Volume Name  UUID                                 Mounted  Type           Size          Free\n"
         "-------------------------------------------------  -----------  -----------------------------------  -------  ------  ------------  ------------\n"
         "/vmfs/volumes/5697a3b1-0d1e2f30-0000-0cc47a000001  ds-01        5697a3b1-0d1e2f30-0000-0cc47a000001     true  VMFS-5  107374182400  53687091200\n"},
        {"esxcli_storage_vmfs_lockmode_list.txt",
         "Volume Name  UUID                                 Type    Locking Mode  ATS Compatible  ATS Upgrade Modes  ATS Incompatibility Reason\n"
         "-----------  -----------------------------------  ------  ------------  --------------  -----------------  --------------------------\n"
         "ds-01        5697a3b1-0d1e2f30-0000-0cc47a000001  VMFS-5  ATS+SCSI                true  Online             None\n"},
    };
    struct host *h = *state;

    gather(h, files, sizeof files / sizeof *files);
    is(h, "nfs", "NFS", "version", "3");
    is(h, "nfs", "NFS", "read-only", "?");
    is(h, "nfs", "NFS", "hardware-acceleration", "Not Supported");
    is(h, "satp-rule", "VMW_SATP_ALUA/SUN/COMSTAR", "group", "user");
    is(h, "satp-rule", "VMW_SATP_ALUA/SUN/COMSTAR", "psp", "VMW_PSP_RR");
    is(h, "datastore", "5697a3b1-0d1e2f30-0000-0cc47a000001", "locking", "ATS+SCSI");
    is(h, "datastore", "5697a3b1-0d1e2f30-0000-0cc47a000001", "ats-compatible", "yes");
}

static void without_an_adapter_nothing_of_adapters_is_missing(void **state)
{
    static const char *const files[][2] = {
        {"esxcli_system_version_get.txt", version},
        {"esxcli_iscsi_adapter_list.txt", "Adapter  Driver  State  UID  Description\n-------  ------  -----  ---  -----------\n"}};
    struct host *h = *state;

    gather(h, files, 2);
    complete(h, "iscsi-param", true);
    complete(h, "reclaim", false); /* the datastores were not listed */
}

int main(void)
{
#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T_(iscsi_sessions_portals_ports_and_parameters),
        T_(a_list_of_connections_that_was_cut_proves_no_missing_session),
        T_(port_groups_uplinks_and_neighbours),
        T_(dump_targets_boots_and_start_of_machines),
        T_(nfs_of_5_x_claim_rules_and_lock_modes),
        T_(without_an_adapter_nothing_of_adapters_is_missing),
    };

    xml_setup();
    return cmocka_run_group_tests_name("answers_storage", tests, NULL, NULL);
}
