#include "world.h"

#include "core/derive.h"

/*
 * Who speaks to which storage server over which port, and what follows from times and counters. The design of the lines is the one of VMware's
 * guide on software iSCSI (GUID-4C19E34E-764C-4069-9D9F-D0F779F2A96C) and of KB 2038869: ports and portals of one subnet are bound, of two are not.
 */

struct cell_test {
    const char *lines, *table, *key, *column;
    const char *want; /* text or number; "yes", "no", "-" absent, "?" unknown */
};

static void check(struct world *w, const struct cell_test *t, size_t n)
{
    const struct derive_env env = {.builds = &w->builds};

    for (size_t i = 0; i < n; i++) {
        const struct row *r;
        const struct value *v;
        const struct column *c;
        struct slice got;

        world_facts(w, t[i].lines);
        derive_all(w->f, &env);
        r = t[i].key ? world_find(w, t[i].table, t[i].key) : facts_single(w->f, t[i].table);
        c = &w->schema.tables[world_table(w, t[i].table)].columns[world_column(w, t[i].table, t[i].column)];
        v = facts_cell(w->f, r, t[i].column);
        got = v->state == VS_UNKNOWN ? SLICE_LIT("?") : v->state == VS_ABSENT ? SLICE_LIT("-") : value_text(c, v, w->a);
        if (!slice_eqz(got, t[i].want))
            fail_msg("%zu: %s.%s of %s is " SLICE_FMT ", not %s: %s\n%s", i, t[i].table, t[i].column, t[i].key ? t[i].key : "-", SLICE_ARG(got),
                     t[i].want, v->why ? v->why : "", t[i].lines);
    }
}

#define N(t) (sizeof t / sizeof *t)
#define T1      "iqn.2005-10.org.example:t1"
#define PORTAL  "vmhba64/" T1 "/192.0.2.20"
#define PORTALS "iscsi vmhba64|driver=iscsi_vmk\niscsi-portal " PORTAL "|adapter=vmhba64|target=" T1 "|address=192.0.2.20\n"
#define VMK1    "vmknic vmk1|ipv4=192.0.2.11|netmask=255.255.255.0|netstack=defaultTcpipStack|portgroup=A|mtu=9000|vswitch=vSwitch1\n"
#define VMK2    "vmknic vmk2|ipv4=192.0.2.12|netmask=255.255.255.0|netstack=defaultTcpipStack|portgroup=B|mtu=9000|vswitch=vSwitch2\n"
#define FAR     "vmknic vmk3|ipv4=203.0.113.3|netmask=255.255.255.0|netstack=defaultTcpipStack|portgroup=C|mtu=1500|vswitch=vSwitch1\n"
#define SW1     "vswitch vSwitch1|uplinks=vmnic2\n"
#define SW2     "vswitch vSwitch2|uplinks=vmnic3\n"
#define BOUND1  "iscsi-bound vmhba64/vmk1|adapter=vmhba64|vmknic=vmk1|portgroup=A\n"
#define BOUND2  "iscsi-bound vmhba64/vmk2|adapter=vmhba64|vmknic=vmk2|portgroup=B\n"
#define LOGIN(isid, local) \
    "iscsi-connection vmhba64/" T1 "/" isid "|adapter=vmhba64|target=" T1 "|isid=" isid "|connection-address=192.0.2.20" \
    "|remote-address=192.0.2.20|local-address=" local "|state=logged_in\n"
#define ONE LOGIN("1", "192.0.2.11")

static void sessions_are_counted_against_what_the_ports_allow(void **state)
{
    static const struct cell_test t[] = {
        {PORTALS VMK1 SW1 ONE, "iscsi-portal", PORTAL, "sessions", "1"},
        {PORTALS VMK1 SW1 ONE, "iscsi-portal", PORTAL, "expected-sessions", "1"},
        {PORTALS VMK1 SW1, "iscsi-portal", PORTAL, "sessions", "0"},
        {PORTALS VMK1 VMK2 SW1 SW2, "iscsi-portal", PORTAL, "expected-sessions", "1"}, /* not bound: one for each portal */
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 BOUND2, "iscsi-portal", PORTAL, "expected-sessions", "2"},
        {PORTALS VMK1 FAR SW1 BOUND1 "iscsi-bound vmhba64/vmk3|adapter=vmhba64|vmknic=vmk3\n", "iscsi-portal", PORTAL, "expected-sessions", "1"},
        {PORTALS VMK1 SW1 "iscsi-bound vmhba33/vmk1|adapter=vmhba33|vmknic=vmk1\n", "iscsi-portal", PORTAL, "expected-sessions", "1"},
        {PORTALS FAR SW1, "iscsi-portal", PORTAL, "expected-sessions", "0"},
        {PORTALS VMK1 VMK2 FAR SW1 SW2, "iscsi-portal", PORTAL, "vmknics", "2"},
        {PORTALS "iscsi vmhba64|driver=qla4xxx\n" VMK1 SW1, "iscsi-portal", PORTAL, "expected-sessions", "0"}, /* a card with an address of its own */
        {PORTALS "iscsi vmhba64|driver=?\n" VMK1 SW1, "iscsi-portal", PORTAL, "expected-sessions", "?"},
        {PORTALS VMK1 SW1 LOGIN("1", "192.0.2.11") LOGIN("2", "192.0.2.12"), "iscsi-portal", PORTAL, "sessions", "2"},
        /* a login that is under way is no session; one of another target, or of another adapter, is not this one's */
        {PORTALS VMK1 SW1 ONE "iscsi-connection vmhba64/" T1 "/1|state=free\n", "iscsi-portal", PORTAL, "sessions", "0"},
        {PORTALS VMK1 SW1 ONE "iscsi-connection vmhba64/" T1 "/1|target=iqn.other\n", "iscsi-portal", PORTAL, "sessions", "0"},
        {PORTALS VMK1 SW1 ONE "iscsi-connection vmhba64/" T1 "/1|adapter=vmhba2\n", "iscsi-portal", PORTAL, "sessions", "0"},
        /* arrays that redirect a login: the portal counts as the one that was asked */
        {PORTALS VMK1 SW1 ONE "iscsi-connection vmhba64/" T1 "/1|remote-address=192.0.2.99\n", "iscsi-portal", PORTAL, "sessions", "1"},
        {PORTALS VMK1 SW1 ONE "iscsi-connection vmhba64/" T1 "/1|remote-address=192.0.2.99|connection-address=192.0.2.98\n", "iscsi-portal", PORTAL,
         "sessions", "0"},
        /* a port of vMotion's stack is no way to a target */
        {PORTALS "vmknic vmk1|ipv4=192.0.2.11|netmask=255.255.255.0|netstack=vmotion\n", "iscsi-portal", PORTAL, "vmknics", "0"},
        {PORTALS VMK1 SW1 "neighbor vmk1/192.0.2.20|vmknic=vmk1|address=192.0.2.20\n", "iscsi-portal", PORTAL, "neighbor", "yes"},
        {PORTALS VMK1 SW1, "iscsi-portal", PORTAL, "neighbor", "no"},
        /* what was cut proves nothing */
        {"!iscsi-connection partial\n" PORTALS VMK1 SW1 ONE, "iscsi-portal", PORTAL, "sessions", "?"},
        {"!iscsi-bound unknown\n" PORTALS VMK1 SW1, "iscsi-portal", PORTAL, "expected-sessions", "?"},
        {"!vmknic partial\n" PORTALS VMK1 SW1, "iscsi-portal", PORTAL, "vmknics", "?"},
        {"!neighbor partial\n" PORTALS VMK1 SW1, "iscsi-portal", PORTAL, "neighbor", "?"},
        {PORTALS "vmknic vmk1|ipv4=?|netmask=255.255.255.0|netstack=defaultTcpipStack\n", "iscsi-portal", PORTAL, "vmknics", "?"},
        {PORTALS VMK1 SW1 ONE "iscsi-connection vmhba64/" T1 "/1|state=?\n", "iscsi-portal", PORTAL, "sessions", "?"},
        {"iscsi-portal vmhba64/t/fd00::1|adapter=vmhba64|target=t|address=fd00::1\n" VMK1 SW1, "iscsi-portal", "vmhba64/t/fd00::1", "vmknics", "?"},
    };

    check(*state, t, N(t));
}

static void binding_is_seen_with_its_subnets_and_uplinks(void **state)
{
#define GROUPS(a, b) "portgroup A|active=" a "|standby=-|load-balancing=srcport|vlan=220\nportgroup B|active=" b "|standby=-|load-balancing=iphash|vlan=220\n"
    static const struct cell_test t[] = {
        {PORTALS VMK1 VMK2 BOUND1 BOUND2, "iscsi", "vmhba64", "bound", "2"},
        {PORTALS VMK1 VMK2 BOUND1 BOUND2, "iscsi", "vmhba64", "bound-subnets", "1"},
        {PORTALS VMK1 FAR BOUND1 "iscsi-bound vmhba64/vmk3|adapter=vmhba64|vmknic=vmk3\n", "iscsi", "vmhba64", "bound-subnets", "2"},
        {PORTALS VMK1, "iscsi", "vmhba64", "bound-subnets", "0"},
        {PORTALS BOUND1, "iscsi", "vmhba64", "bound-subnets", "?"}, /* nobody knows its address */
        {"!iscsi-bound partial\n" PORTALS VMK1 BOUND1, "iscsi", "vmhba64", "bound", "?"},
        {PORTALS, "iscsi", "vmhba64", "targets", "1"},
        {PORTALS "iscsi-discovery vmhba64/192.0.2.20:3260|adapter=vmhba64\n", "iscsi", "vmhba64", "targets", "2"},
        {"iscsi vmhba33|driver=bnx2i\n" PORTALS, "iscsi", "vmhba33", "targets", "0"},
        {"!iscsi-discovery unknown\niscsi vmhba33|driver=bnx2i\n", "iscsi", "vmhba33", "targets", "?"},
        {BOUND1 BOUND2 GROUPS("vmnic2", "vmnic2"), "iscsi-bound", "vmhba64/vmk1", "twin-uplink", "yes"},
        {BOUND1 BOUND2 GROUPS("vmnic2", "vmnic3"), "iscsi-bound", "vmhba64/vmk1", "twin-uplink", "no"},
        {BOUND1 BOUND2 GROUPS("vmnic2,vmnic3", "vmnic3"), "iscsi-bound", "vmhba64/vmk1", "twin-uplink", "no"},
        {BOUND1 "iscsi-bound vmhba33/vmk2|adapter=vmhba33|vmknic=vmk2|portgroup=B\n" GROUPS("vmnic2", "vmnic2"), "iscsi-bound", "vmhba64/vmk1",
         "twin-uplink", "no"},
        {BOUND1 BOUND2 GROUPS("vmnic2", "?"), "iscsi-bound", "vmhba64/vmk1", "twin-uplink", "?"},
        {BOUND1 BOUND2, "iscsi-bound", "vmhba64/vmk1", "twin-uplink", "?"}, /* a distributed switch */
        {BOUND1 BOUND2 GROUPS("vmnic2", "vmnic3") "nic vmnic2|pci=0000:04:00.0\nnic vmnic3|pci=0000:04:00.1\n", "iscsi-bound", "vmhba64/vmk1",
         "twin-card", "yes"},
        {BOUND1 BOUND2 GROUPS("vmnic2", "vmnic3") "nic vmnic2|pci=0000:04:00.0\nnic vmnic3|pci=0000:05:00.0\n", "iscsi-bound", "vmhba64/vmk1",
         "twin-card", "no"},
        {BOUND1 BOUND2 GROUPS("vmnic2", "vmnic3"), "iscsi-bound", "vmhba64/vmk2", "ip-hash", "yes"},
        {BOUND1 BOUND2 GROUPS("vmnic2", "vmnic3"), "iscsi-bound", "vmhba64/vmk1", "ip-hash", "no"},
        {BOUND1, "iscsi-bound", "vmhba64/vmk1", "ip-hash", "?"},
        {"iscsi-bound vmhba64/vmk1|compliance=compliant\n", "iscsi-bound", "vmhba64/vmk1", "compliant", "yes"},
        {"iscsi-bound vmhba64/vmk1|compliance=non-compliant\n", "iscsi-bound", "vmhba64/vmk1", "compliant", "no"},
        {"iscsi-bound vmhba64/vmk1|compliance=?\n", "iscsi-bound", "vmhba64/vmk1", "compliant", "?"},
        {"iscsi-param vmhba64/LoginTimeout|value=5\n", "iscsi-param", "vmhba64/LoginTimeout", "number", "5"},
        {"iscsi-param vmhba64/DelayedAck|value=true\n", "iscsi-param", "vmhba64/DelayedAck", "number", "-"},
        {"device naa.1|\npath p|device=naa.1|adapter=vmhba64|state=active|transport=iscsi|target-id=00023d000001,iqn.2005-10.org.example:t1,t,1\n"
         PORTALS ONE, "device", "naa.1", "target-portals", "1"},
        {"device naa.1|\npath p|device=naa.1|adapter=vmhba64|state=active|transport=iscsi|target-id=00023d000001,iqn.2005-10.org.example:t1,t,1\n"
         PORTALS, "device", "naa.1", "target-portals", "0"},
        {"device naa.1|\npath p|device=naa.1|adapter=vmhba64|state=active|transport=iscsi|target-id=?\n" PORTALS ONE, "device", "naa.1",
         "target-portals", "?"},
        {"device naa.1|\npath p|device=naa.1|adapter=vmhba2|state=active|transport=fc\n" PORTALS ONE, "device", "naa.1", "target-portals", "-"},
    };

    check(*state, t, N(t));
}

#define NFS(server) "nfs nfs-01|host=" server "|share=/export/a|version=3|accessible=yes\n"

static void ports_that_carry_storage_are_known_by_whom_they_speak_to(void **state)
{
    static const struct cell_test t[] = {
        {PORTALS VMK1 SW1 ONE, "vmknic", "vmk1", "storage", "yes"},
        {PORTALS VMK1 SW1 BOUND1, "vmknic", "vmk1", "storage", "yes"},
        {PORTALS VMK1 SW1, "vmknic", "vmk1", "storage", "yes"}, /* its one session is lost */
        {PORTALS VMK1 VMK2 SW1 SW2, "vmknic", "vmk1", "storage", "no"}, /* nothing says that it is this one of the two */
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND2, "vmknic", "vmk1", "storage", "no"},
        {PORTALS VMK1 FAR SW1 ONE, "vmknic", "vmk3", "storage", "no"},
        {VMK1 SW1 NFS("192.0.2.50"), "vmknic", "vmk1", "storage", "yes"},
        {VMK1 VMK2 SW1 SW2 NFS("192.0.2.50"), "vmknic", "vmk1", "storage", "?"}, /* which of the two, the routing table decides */
        {VMK1 SW1 NFS("filer.example.com"), "vmknic", "vmk1", "storage", "?"},
        {VMK1 SW1, "vmknic", "vmk1", "storage", "no"},
        {"!nfs partial\n" VMK1 SW1, "vmknic", "vmk1", "storage", "?"},
        {"!iscsi-connection unknown\n!iscsi-bound unknown\n" VMK1 SW1, "vmknic", "vmk1", "storage", "no"}, /* no iSCSI adapter: nothing to ask */
        {"!iscsi-connection unknown\niscsi vmhba64|driver=iscsi_vmk\n" VMK1 SW1, "vmknic", "vmk1", "storage", "?"},
        {VMK1 SW1 "portgroup A|vlan=220|active=vmnic2|standby=vmnic0\n", "vmknic", "vmk1", "vlan", "220"},
        {VMK1 SW1, "vmknic", "vmk1", "vlan", "?"},
        {"vmknic vmk5|portgroup=-\n", "vmknic", "vmk5", "vlan", "-"},
        {VMK1 SW1, "vmknic", "vmk1", "uplinks", "vmnic2"},
        {VMK1 "vswitch vSwitch1|uplinks=vmnic0,vmnic2\n", "vmknic", "vmk1", "uplinks", "?"},
        {VMK1 "vswitch vSwitch1|uplinks=vmnic0,vmnic2,vmnic3\nportgroup A|vlan=220|active=vmnic2|standby=vmnic0\n", "vmknic", "vmk1", "uplinks",
         "vmnic0, vmnic2"},
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 BOUND2 "vmknic vmk2|mtu=1500\n", "vmknic", "vmk1", "mtu-differs", "yes"},
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 BOUND2, "vmknic", "vmk1", "mtu-differs", "no"},
        {PORTALS VMK1 FAR SW1 BOUND1 "iscsi-bound vmhba64/vmk3|adapter=vmhba64|vmknic=vmk3\n", "vmknic", "vmk1", "mtu-differs", "no"}, /* another subnet */
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 BOUND2 "vmknic vmk2|mtu=?\n", "vmknic", "vmk1", "mtu-differs", "?"},
        {VMK1 FAR SW1 NFS("filer.example.com"), "vmknic", "vmk1", "mtu-differs", "no"}, /* whatever it carries, it is alone in its subnet */
        {VMK1 VMK2 SW1 SW2 NFS("filer.example.com") "vmknic vmk2|mtu=1500\n", "vmknic", "vmk1", "mtu-differs", "?"},
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 "vmknic vmk2|mtu=1500\n", "vmknic", "vmk1", "mtu-differs", "no"}, /* the other carries none */
        {VMK1 SW1 NFS("filer.example.com") "portgroup A|vswitch=vSwitch1|vlan=220|active=vmnic2\n", "vmknic", "vmk1", "vlan-shared", "no"},
        {VMK1 SW1 NFS("filer.example.com") "portgroup A|vswitch=vSwitch1|vlan=220|active=vmnic2\nportgroup VMs|vswitch=vSwitch1|vlan=220|clients=4\n", "vmknic",
         "vmk1", "vlan-shared", "?"},
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 BOUND2 "portgroup A|vlan=220|active=vmnic2\nportgroup B|vlan=0|active=vmnic3\n", "vmknic", "vmk1",
         "vlan-differs", "yes"},
        {PORTALS VMK1 VMK2 SW1 SW2 BOUND1 BOUND2 "portgroup A|vlan=220|active=vmnic2\nportgroup B|vlan=220|active=vmnic3\n", "vmknic", "vmk1",
         "vlan-differs", "no"},
        {PORTALS VMK1 SW1 ONE "portgroup A|vswitch=vSwitch1|vlan=220|active=vmnic2\nportgroup VMs|vswitch=vSwitch1|vlan=220|clients=4\n", "vmknic", "vmk1",
         "vlan-shared", "yes"},
        {PORTALS VMK1 SW1 ONE "portgroup A|vswitch=vSwitch1|vlan=220|active=vmnic2\nportgroup VMs|vswitch=vSwitch1|vlan=220|clients=0\n", "vmknic", "vmk1",
         "vlan-shared", "no"},
        {PORTALS VMK1 SW1 ONE "portgroup A|vswitch=vSwitch1|vlan=220|active=vmnic2\nportgroup VMs|vswitch=vSwitch0|vlan=220|clients=4\n", "vmknic", "vmk1",
         "vlan-shared", "no"},
        {PORTALS VMK1 SW1 ONE "nic vmnic2|link=Up\nnic vmnic0|link=Up\n", "nic", "vmnic2", "storage", "yes"},
        {PORTALS VMK1 SW1 ONE "nic vmnic2|link=Up\nnic vmnic0|link=Up\n", "nic", "vmnic0", "storage", "no"},
        {PORTALS VMK1 "vswitch vSwitch1|uplinks=vmnic0,vmnic2\n" ONE "nic vmnic2|link=Up\n", "nic", "vmnic2", "storage", "?"},
        {VMK1 SW1 "nic vmnic2|link=Up\n", "nic", "vmnic2", "sole-uplink", "yes"},
        {VMK1 "vswitch vSwitch1|uplinks=vmnic0,vmnic2\nnic vmnic2|link=Up\n", "nic", "vmnic2", "sole-uplink", "no"},
        {VMK1 "nic vmnic2|link=Up\n", "nic", "vmnic2", "sole-uplink", "?"},
    };

    check(*state, t, N(t));
}

#define INSIDE  "vmknic vmk4|ipv4=10.9.9.1|netmask=255.255.255.0|netstack=defaultTcpipStack|vswitch=vSwitch9\nvswitch vSwitch9|uplinks=-\n"
#define STORE   "datastore 1a2b3c4d-00000000|name=nfs-01|type=NFS\n"

static void a_server_behind_a_switch_without_uplinks_is_a_machine_of_this_host(void **state)
{
    static const struct cell_test t[] = {
        {INSIDE NFS("10.9.9.2"), "nfs", "nfs-01", "loop", "yes"},
        {INSIDE NFS("10.9.9.2"), "host", NULL, "loops", "1"},
        {VMK1 SW1 NFS("192.0.2.50"), "nfs", "nfs-01", "loop", "no"},
        {VMK1 SW1 NFS("192.0.2.50"), "host", NULL, "loops", "0"},
        {VMK1 NFS("192.0.2.50"), "nfs", "nfs-01", "loop", "?"}, /* its switch was not listed */
        {INSIDE NFS("filer.example.com"), "host", NULL, "loops", "?"},
        {"!nfs partial\n" VMK1 SW1, "host", NULL, "loops", "?"},
        {"!nfs partial\n" INSIDE NFS("10.9.9.2"), "host", NULL, "loops", "1"},
        {INSIDE NFS("10.9.9.2") STORE, "datastore", "1a2b3c4d-00000000", "looped", "yes"},
        {INSIDE NFS("10.9.9.2") STORE "vm 7|config=/vmfs/volumes/1a2b3c4d-00000000/nas/nas.vmx\n", "vm", "7", "looped", "yes"},
        {VMK1 SW1 NFS("192.0.2.50") STORE "vm 7|config=/vmfs/volumes/nfs-01/nas/nas.vmx\n", "vm", "7", "looped", "no"},
        {INSIDE NFS("10.9.9.2") STORE "setting /Syslog/global/logDir|string-value=[nfs-01] logs\n", "setting", "/Syslog/global/logDir", "looped", "yes"},
        {INSIDE NFS("10.9.9.2") STORE "setting /Syslog/global/logDir|string-value=[] /scratch/log\n", "setting", "/Syslog/global/logDir", "looped", "?"},
        {INSIDE NFS("10.9.9.2") STORE "setting /Syslog/global/logHost|string-value=udp://192.0.2.9\n", "setting", "/Syslog/global/logHost", "looped", "no"},
        {INSIDE NFS("10.9.9.2") STORE "coredump file|target=/vmfs/volumes/1a2b3c4d-00000000/vmkdump/x.dumpfile\n", "coredump", "file", "looped", "yes"},
        {"nfs a|host=192.0.2.50|share=/export/a|version=3\nnfs b|host=192.0.2.50|share=/export/a|version=4.1\n", "nfs", "a", "twice", "yes"},
        {"nfs a|host=192.0.2.50|share=/export/a|version=3\nnfs b|host=192.0.2.50|share=/export/b|version=4.1\n", "nfs", "a", "twice", "no"},
        {"nfs a|host=192.0.2.50|share=/export/a|version=3\nnfs b|host=192.0.2.50|share=/export/a|version=3\n", "nfs", "a", "twice", "no"},
        {"nfs a|host=192.0.2.50|share=/e|version=3\nnfs b|host=192.0.2.50|share=/f|version=4.1\n", "host", NULL, "nfs-mounts", "1"},
        {"!nfs partial\n" NFS("192.0.2.50"), "host", NULL, "nfs-mounts", "?"},
    };

    check(*state, t, N(t));
}

static void a_list_that_no_host_can_have_is_left_alone(void **state)
{
    const struct derive_env env = {.builds = &((struct world *)*state)->builds};
    struct world *w = *state;
    struct buf b = BUF_INIT(4u << 20);

    buf_printf(&b, "%s", PORTALS VMK1 SW1 ONE);
    for (unsigned i = 0; i < 17000; i++)
        buf_printf(&b, "neighbor vmk1/x%u|vmknic=vmk1\n", i);
    world_facts(w, buf_z(&b));
    derive_all(w->f, &env);
    assert_int_equal(facts_cell(w->f, world_find(w, "iscsi-portal", PORTAL), "sessions")->state, VS_UNKNOWN);
    buf_done(&b);
}

static void errors_are_counted_for_each_million_packets(void **state)
{
    static const struct cell_test t[] = {
        {"nic-stats vmnic2|rx-packets=999000|tx-packets=1000|rx-errors=100|tx-errors=1\n", "nic-stats", "vmnic2", "error-ppm", "101"},
        {"nic-stats vmnic2|rx-packets=1000000|tx-packets=1000000|rx-errors=0|tx-errors=0\n", "nic-stats", "vmnic2", "error-ppm", "0"},
        {"nic-stats vmnic2|rx-packets=0|tx-packets=0|rx-errors=7|tx-errors=0\n", "nic-stats", "vmnic2", "error-ppm", "-"},
        {"nic-stats vmnic2|rx-packets=1|tx-packets=0|rx-errors=?|tx-errors=0\n", "nic-stats", "vmnic2", "error-ppm", "?"},
    };

    check(*state, t, N(t));
}

/* Temperatures and spare as an Intel and an HPE drive of 8.0.3 print them. */
static void margins_of_drives(void **state)
{
    static const struct cell_test t[] = {
        {"nvme vmhba3|temperature=312|warning-temperature=343|critical-temperature=-\n", "nvme", "vmhba3", "temperature-margin", "31"},
        {"nvme vmhba3|temperature=312|warning-temperature=-|critical-temperature=-\n", "nvme", "vmhba3", "temperature-margin", "31"}, /* 70 C */
        {"nvme vmhba3|temperature=350|warning-temperature=343|critical-temperature=353\n", "nvme", "vmhba3", "critical-margin", "3"},
        {"nvme vmhba3|temperature=312|critical-temperature=-\n", "nvme", "vmhba3", "critical-margin", "-"},
        {"nvme vmhba3|temperature=?|warning-temperature=343\n", "nvme", "vmhba3", "temperature-margin", "?"},
        {"nvme vmhba3|available-spare=100|spare-threshold=10\n", "nvme", "vmhba3", "spare-margin", "90"},
        {"nvme vmhba3|unsafe-shutdowns=32|power-cycles=47\n", "nvme", "vmhba3", "unsafe-percent", "68"},
        {"nvme vmhba3|unsafe-shutdowns=0|power-cycles=0\n", "nvme", "vmhba3", "unsafe-percent", "-"},
        {"nvme vmhba3|unsafe-shutdowns=50|power-cycles=47\n", "nvme", "vmhba3", "unsafe-percent", "-"}, /* counters that do not fit */
    };

    check(*state, t, N(t));
}

#define EVENT(time, what) "boot-event " time "/" what "|time=" time "|event=" what "\n"
#define CRASH(time) EVENT(time, "Core dump found")
#define BOOTED(time) EVENT(time, "Host has booted")

static void crashes_are_counted_back_from_the_end_of_the_log(void **state)
{
    static const struct cell_test t[] = {
        {"host|log-last=2026-10-20T00:00:00.000Z\n" CRASH("2026-10-14T03:11:09Z") CRASH("2026-09-20T03:11:09Z") CRASH("2026-08-01T03:11:09Z"), "boot-event",
         "2026-10-14T03:11:09Z/Core dump found", "crashes-45d", "2"},
        {"host|log-last=2026-10-20T00:00:00.000Z\n" CRASH("2026-10-14T03:11:09Z") CRASH("2026-09-20T03:11:09Z") CRASH("2026-08-01T03:11:09Z"), "boot-event",
         "2026-10-14T03:11:09Z/Core dump found", "crashes-90d", "3"},
        {CRASH("2026-10-14T03:11:09Z") CRASH("2026-09-20T03:11:09Z"), "boot-event", "2026-10-14T03:11:09Z/Core dump found", "latest", "yes"},
        {CRASH("2026-10-14T03:11:09Z") CRASH("2026-09-20T03:11:09Z"), "boot-event", "2026-09-20T03:11:09Z/Core dump found", "latest", "no"},
        {CRASH("2026-10-14T03:11:09Z") BOOTED("2026-11-01T00:00:00Z"), "boot-event", "2026-10-14T03:11:09Z/Core dump found", "latest", "yes"},
        {"host|log-last=2027-03-01T00:00:00.000Z\n" CRASH("2026-10-14T03:11:09Z"), "boot-event", "2026-10-14T03:11:09Z/Core dump found", "crashes-90d", "0"},
        {CRASH("yesterday"), "boot-event", "yesterday/Core dump found", "crashes-90d", "?"},
        {BOOTED("2026-10-14T03:11:09Z"), "boot-event", "2026-10-14T03:11:09Z/Host has booted", "unclean", "no"}, /* the log may begin here */
        {BOOTED("2026-10-01T03:11:09Z") BOOTED("2026-10-14T03:11:09Z"), "boot-event", "2026-10-14T03:11:09Z/Host has booted", "unclean", "yes"},
        {BOOTED("2026-10-01T03:11:09Z") EVENT("2026-10-14T03:00:00Z", "Host is rebooting") BOOTED("2026-10-14T03:11:09Z"), "boot-event",
         "2026-10-14T03:11:09Z/Host has booted", "unclean", "no"},
        {BOOTED("2026-10-01T03:11:09Z") CRASH("2026-10-14T03:11:10Z") BOOTED("2026-10-14T03:11:30Z"), "boot-event", "2026-10-14T03:11:30Z/Host has booted",
         "unclean", "yes"},
    };

    check(*state, t, N(t));
}

static void dump_targets_functions_of_machines_and_shares_of_graphics(void **state)
{
    static const struct cell_test t[] = {
        {"coredump partition|target=mpx.vmhba32:C0:T0:L0:9\ndevice mpx.vmhba32:C0:T0:L0|usb=yes\n", "coredump", "partition", "usb", "yes"},
        {"coredump partition|target=mpx.vmhba32:C0:T0:L0:9\ndevice mpx.vmhba32:C0:T0:L0|usb=no\n", "coredump", "partition", "usb", "no"},
        {"coredump partition|target=mpx.vmhba32:C0:T0:L0:9\n", "coredump", "partition", "usb", "?"},
        {"coredump partition|target=-\n", "coredump", "partition", "active", "no"},
        {"coredump file|target=/vmfs/volumes/5d9a/vmkdump/x.dumpfile\ndatastore 5d9a|name=ds\nextent 5d9a/0|datastore=5d9a|device=naa.1\ndevice naa.1|usb=no\n",
         "coredump", "file", "usb", "no"},
        {"coredump file|target=?\n", "coredump", "file", "active", "?"},
        {"coredump network|target=192.0.2.9|enabled=no\n", "coredump", "network", "active", "no"},
        {"coredump network|target=192.0.2.9|enabled=yes\n", "coredump", "network", "active", "yes"},
        {"pci 0000:07:00.0|configured-owner=VM Passthru\n", "pci", "0000:07:00.0", "passthru-set", "yes"},
        {"pci 0000:07:00.0|configured-owner=Unknown|passthru=yes\n", "pci", "0000:07:00.0", "passthru-set", "yes"},
        {"pci 0000:07:00.0|configured-owner=Unknown\n", "pci", "0000:07:00.0", "passthru-set", "no"},
        {"pci 0000:07:00.0|configured-owner=?|passthru=?\n", "pci", "0000:07:00.0", "passthru-set", "?"},
        {"pci 0000:0e:00.0|owner=VM Passthru\npci 0000:0e:00.1|owner=VM Passthru\npci 0000:0f:00.0|owner=VM Passthru\n", "pci", "0000:0e:00.0",
         "passthru-siblings", "1"},
        {"pci 0000:0e:00.0|owner=VM Passthru|parent=PCI 0:0:3:0\npci 0000:0f:00.0|owner=VM Passthru|parent=PCI 0:0:3:0\n", "pci", "0000:0e:00.0",
         "passthru-siblings", "1"},
        {"pci 0000:0e:00.0|owner=VM Passthru\npci 0000:0e:00.1|owner=VMkernel\n", "pci", "0000:0e:00.0", "passthru-siblings", "0"},
        {"!pci partial\npci 0000:0e:00.0|owner=VM Passthru\n", "pci", "0000:0e:00.0", "passthru-siblings", "?"},
        /* the two examples of AMD's guide; 6 and 7 are decimal */
        {"module-param amdgpuv/adapter1_conf|module=amdgpuv|name=adapter1_conf|value=6,0,0,2,4096,7000\npci 0000:06:00.0|vendor=1002|device=6929\n",
         "module-param", "amdgpuv/adapter1_conf", "mxgpu-memory", "8192"},
        {"module-param amdgpuv/adapter1_conf|module=amdgpuv|name=adapter1_conf|value=1,0,0,15,512,7000\n", "module-param", "amdgpuv/adapter1_conf",
         "mxgpu-functions", "15"},
        {"module-param amdgpuv/adapter1_conf|module=amdgpuv|name=adapter1_conf|value=14,0,0,2,4096,7000\npci 0000:0e:00.0|vendor=1002|device=6929\n",
         "module-param", "amdgpuv/adapter1_conf", "mxgpu-fits", "yes"},
        {"module-param amdgpuv/adapter1_conf|module=amdgpuv|name=adapter1_conf|value=10,0,0,2,4096,7000\npci 0000:10:00.0|vendor=1002|device=6929\n",
         "module-param", "amdgpuv/adapter1_conf", "mxgpu-fits", "no"}, /* hexadecimal taken for decimal */
        {"!pci partial\nmodule-param amdgpuv/adapter1_conf|module=amdgpuv|name=adapter1_conf|value=10,0,0,2,4096,7000\n", "module-param",
         "amdgpuv/adapter1_conf", "mxgpu-fits", "?"},
        {"module-param amdgpuv/adapter1_conf|module=amdgpuv|name=adapter1_conf|value=6,0,0,two\n", "module-param", "amdgpuv/adapter1_conf",
         "mxgpu-memory", "?"},
        {"module-param nvme/x_conf|module=nvme|name=x_conf|value=6,0,0,2,4096,7000\n", "module-param", "nvme/x_conf", "mxgpu-memory", "-"},
        {"gpu 0000:af:00.0|vendor=NVIDIA\npci 0000:af:00.0|owner=VM Passthru\n", "gpu", "0000:af:00.0", "owner", "VM Passthru"},
        {"gpu 0000:af:00.0|vendor=NVIDIA\n", "gpu", "0000:af:00.0", "owner", "?"},
    };

    check(*state, t, N(t));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(sessions_are_counted_against_what_the_ports_allow),
        T(binding_is_seen_with_its_subnets_and_uplinks),
        T(ports_that_carry_storage_are_known_by_whom_they_speak_to),
        T(a_server_behind_a_switch_without_uplinks_is_a_machine_of_this_host),
        T(a_list_that_no_host_can_have_is_left_alone),
        T(errors_are_counted_for_each_million_packets),
        T(margins_of_drives),
        T(crashes_are_counted_back_from_the_end_of_the_log),
        T(dump_targets_functions_of_machines_and_shares_of_graphics),
    };

    xml_setup();
    return cmocka_run_group_tests_name("derive_servers", tests, NULL, NULL);
}
