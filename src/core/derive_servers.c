#include "core/derive.h"

/*
 * Storage over IP: which VMkernel ports lie in a server's subnet, which sessions there are and should be, which uplinks carry them; and what is
 * served by a machine of the host itself. Only IPv4 addresses are followed: of a server that is given by name nothing is computed.
 */

#define MAX_ROWS 16384u /* configuration maxima: 4,096 paths, 256 NFS mounts, some hundred VMkernel ports */

static const char default_stack[] = "defaultTcpipStack";

static struct value not_whole(struct facts *f, const char *table)
{
    const char *why = NULL;

    (void)facts_table(f, facts_table_index(f, table), &why);
    return value_unknown(arena_printf(f->arena, "list of %s: %s", table, why ? why : "incomplete"));
}

static bool same(const struct value *a, const struct value *b)
{
    return a->state == VS_KNOWN && b->state == VS_KNOWN && slice_eq(a->s, b->s);
}

static bool is(const struct value *v, struct slice text)
{
    return v->state == VS_KNOWN && slice_eq(v->s, text);
}

/* Found is certain, not found only where nothing was left open. */
static struct value yes_or(bool found, bool open, const char *why)
{
    return found || !open ? value_bool(found) : value_unknown(why);
}

enum within { WITHIN_NO, WITHIN_YES, WITHIN_OPEN };

static enum within within(const struct value *ip, const struct value *netmask, uint32_t server)
{
    uint32_t address, mask;

    if (ip->state == VS_ABSENT || netmask->state == VS_ABSENT)
        return WITHIN_NO;
    if (ip->state != VS_KNOWN || netmask->state != VS_KNOWN || !derive_ipv4(ip->s, &address) || !derive_ipv4(netmask->s, &mask))
        return WITHIN_OPEN;
    return mask && (server & mask) == (address & mask) ? WITHIN_YES : WITHIN_NO;
}

/* Storage is spoken over the default stack; a port of another one (vMotion) is no way to a server. */
static enum within port_within(const struct facts *f, const struct row *port, uint32_t server)
{
    const struct value *stack = facts_cell(f, port, "netstack");

    if (stack->state == VS_KNOWN && !slice_eqz(stack->s, default_stack))
        return WITHIN_NO;
    return within(facts_cell(f, port, "ipv4"), facts_cell(f, port, "netmask"), server);
}

static bool uplinks_none(const struct facts *f, const struct row *port, bool *open)
{
    const struct row *s = facts_ref(f, port, "switch");
    const struct value *up = s ? facts_cell(f, s, "uplinks") : NULL;

    *open |= !up || up->state == VS_UNKNOWN;
    return up && up->state == VS_ABSENT;
}

/* The ports in a server's subnet, and whether they hang on switches without uplinks. */
struct reach {
    struct value ports, loop;
};

static struct reach reach_of(struct facts *f, uint32_t server)
{
    const struct row *k;
    bool open = false, blind = false, loop = false;
    int64_t n = 0;

    for (size_t i = 0; (k = derive_row(f, "vmknic", i)); i++) {
        enum within w = port_within(f, k, server);

        open |= w == WITHIN_OPEN;
        if (w != WITHIN_YES)
            continue;
        n++;
        loop |= uplinks_none(f, k, &blind);
    }
    if (!facts_complete(f, "vmknic", NULL)) {
        struct value why = not_whole(f, "vmknic");

        return (struct reach){why, why};
    }
    if (open) {
        struct value why = value_unknown("the address of a VMkernel port is not known");

        return (struct reach){why, why};
    }
    return (struct reach){value_int(n), loop    ? value_bool(true)
                                        : blind ? value_unknown("the uplinks of a VMkernel port's switch are not known")
                                                : value_bool(false)};
}

/* --- iSCSI --- */

/* The host has no iSCSI adapter: nothing is bound or connected, asked or not. */
static bool without_iscsi(const struct facts *f)
{
    return !derive_row(f, "iscsi", 0) && facts_complete(f, "iscsi", NULL);
}

static const struct value *bound_cell(const struct facts *f, const struct row *b, const char *column)
{
    const struct value *v = facts_cell(f, b, column);

    return v->state == VS_KNOWN ? v : facts_cell(f, facts_ref(f, b, "vmknic"), column);
}

static struct value expected(struct facts *f, const struct row *portal, uint32_t server, const struct value *ports)
{
    const struct value *driver;
    const struct row *b, *a;
    bool bound = false;
    int64_t n = 0;

    for (size_t i = 0; (b = derive_row(f, "iscsi-bound", i)); i++) {
        enum within w;

        if (!same(facts_cell(f, b, "adapter"), facts_cell(f, portal, "adapter")))
            continue;
        bound = true;
        w = within(bound_cell(f, b, "ipv4"), bound_cell(f, b, "netmask"), server);
        if (w == WITHIN_OPEN)
            return value_unknown("the address of a bound port is not known");
        n += w == WITHIN_YES;
    }
    if (!facts_complete(f, "iscsi-bound", NULL))
        return not_whole(f, "iscsi-bound");
    if (bound)
        return value_int(n);
    a = facts_find(f, facts_table_index(f, "iscsi"), facts_cell(f, portal, "adapter")->s);
    driver = facts_cell(f, a, "driver");
    if (driver->state != VS_KNOWN)
        return derive_unknown(f, "driver of the adapter", driver);
    if (!slice_eqz(driver->s, "iscsi_vmk")) /* hardware has addresses of its own, and another way out */
        return value_int(0);
    return ports->state == VS_KNOWN ? value_int(ports->i > 0) : *ports;
}

static struct value sessions(struct facts *f, const struct row *portal)
{
    const struct value *address = facts_cell(f, portal, "address");
    const struct row *c;
    int64_t n = 0;

    for (size_t i = 0; (c = derive_row(f, "iscsi-connection", i)); i++) {
        const struct value *state = facts_cell(f, c, "state");

        if (!same(facts_cell(f, c, "adapter"), facts_cell(f, portal, "adapter")) ||
            !same(facts_cell(f, c, "target"), facts_cell(f, portal, "target")) ||
            (!same(facts_cell(f, c, "connection-address"), address) && !same(facts_cell(f, c, "remote-address"), address)))
            continue;
        if (state->state != VS_KNOWN)
            return derive_unknown(f, "state of a connection", state);
        n += slice_eqz(state->s, "logged_in");
    }
    return facts_complete(f, "iscsi-connection", NULL) ? value_int(n) : not_whole(f, "iscsi-connection");
}

static void derive_portals(struct facts *f)
{
    const struct row *p, *n;

    for (size_t i = 0; (p = derive_row(f, "iscsi-portal", i)); i++) {
        const struct value *address = facts_cell(f, p, "address");
        struct reach r = {value_unknown("its address is no IPv4 address"), value_unknown("its address is no IPv4 address")};
        bool seen = false;
        uint32_t server;

        derive_set(f, p, "sessions", sessions(f, p));
        for (size_t k = 0; (n = derive_row(f, "neighbor", k)); k++)
            seen |= same(facts_cell(f, n, "address"), address);
        derive_set(f, p, "neighbor", seen || facts_complete(f, "neighbor", NULL) ? value_bool(seen) : not_whole(f, "neighbor"));
        if (address->state == VS_KNOWN && derive_ipv4(address->s, &server)) {
            r = reach_of(f, server);
            derive_set(f, p, "expected-sessions", expected(f, p, server, &r.ports));
        } else {
            derive_set(f, p, "expected-sessions", r.ports);
        }
        derive_set(f, p, "vmknics", r.ports);
        derive_set(f, p, "loop", r.loop);
    }
}

/* The one active uplink of a bound port; NULL when it has several, or it is not known (*open). */
static const struct slice *one_uplink(const struct facts *f, const struct row *bound, bool *open)
{
    const struct value *pg = facts_cell(f, bound, "portgroup"), *active;
    const struct row *g = pg->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "portgroup"), pg->s) : NULL;

    active = g ? facts_cell(f, g, "active") : NULL;
    *open |= !active || active->state == VS_UNKNOWN;
    return active && active->state == VS_KNOWN && active->nlist == 1 ? &active->list[0] : NULL;
}

/* "0000:04:00" of "0000:04:00.1". */
static struct slice card_of(const struct facts *f, struct slice nic)
{
    const struct value *pci = facts_cell(f, facts_find(f, facts_table_index(f, "nic"), nic), "pci");

    return pci->state == VS_KNOWN ? slice_cut(pci->s, 0, slice_find_char(pci->s, 0, '.')) : (struct slice){NULL, 0};
}

static void derive_bound(struct facts *f)
{
    const struct row *b, *o;

    for (size_t i = 0; (b = derive_row(f, "iscsi-bound", i)); i++) {
        const struct value *status = facts_cell(f, b, "compliance"), *pg = facts_cell(f, b, "portgroup"), *spread;
        const struct row *g = pg->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "portgroup"), pg->s) : NULL;
        bool open = false, twin = false, card = false;
        const struct slice *mine = one_uplink(f, b, &open);

        derive_set(f, b, "compliant", status->state == VS_KNOWN ? derive_from(value_bool(slice_eqz(status->s, "compliant")), status)
                                                                : derive_unknown(f, "status", status));
        for (size_t k = 0; mine && (o = derive_row(f, "iscsi-bound", k)); k++) {
            const struct slice *other;

            if (o == b || !same(facts_cell(f, o, "adapter"), facts_cell(f, b, "adapter")))
                continue;
            other = one_uplink(f, o, &open);
            twin |= other && slice_eq(*other, *mine);
            card |= other && !slice_eq(*other, *mine) && card_of(f, *mine).n && slice_eq(card_of(f, *other), card_of(f, *mine));
        }
        derive_set(f, b, "twin-uplink", yes_or(twin, open, "the teaming of a port group is not known"));
        derive_set(f, b, "twin-card", yes_or(card, open, "the teaming of a port group is not known"));
        spread = g ? facts_cell(f, g, "load-balancing") : NULL;
        derive_set(f, b, "ip-hash", spread && spread->state == VS_KNOWN ? derive_from(value_bool(slice_eqz(spread->s, "iphash")), spread)
                                                                        : value_unknown("the teaming of its port group is not known"));
    }
}

static void derive_initiators(struct facts *f)
{
    const struct row *a, *b;

    for (size_t i = 0; (a = derive_row(f, "iscsi", i)); i++) {
        struct texts nets = {0};
        bool open = false;
        int64_t n = 0, targets = 0;

        for (size_t k = 0; (b = derive_row(f, "iscsi-bound", k)); k++) {
            uint32_t address, mask;

            if (!is(facts_cell(f, b, "adapter"), a->key))
                continue;
            n++;
            if (bound_cell(f, b, "ipv4")->state == VS_KNOWN && bound_cell(f, b, "netmask")->state == VS_KNOWN &&
                derive_ipv4(bound_cell(f, b, "ipv4")->s, &address) && derive_ipv4(bound_cell(f, b, "netmask")->s, &mask))
                texts_add(&nets, slice_of(arena_printf(f->arena, "%08x", address & mask)), f->arena);
            else
                open = true;
        }
        if (facts_complete(f, "iscsi-bound", NULL)) {
            derive_set(f, a, "bound", value_int(n));
            derive_set(f, a, "bound-subnets", open ? value_unknown("the address of a bound port is not known") : value_int((int64_t)nets.n));
        } else {
            derive_set(f, a, "bound", not_whole(f, "iscsi-bound"));
            derive_set(f, a, "bound-subnets", not_whole(f, "iscsi-bound"));
        }
        for (size_t k = 0; (b = derive_row(f, "iscsi-portal", k)); k++)
            targets += is(facts_cell(f, b, "adapter"), a->key);
        for (size_t k = 0; (b = derive_row(f, "iscsi-discovery", k)); k++)
            targets += is(facts_cell(f, b, "adapter"), a->key);
        derive_set(f, a, "targets", targets || (facts_complete(f, "iscsi-portal", NULL) && facts_complete(f, "iscsi-discovery", NULL))
                                        ? value_int(targets)
                                        : not_whole(f, facts_complete(f, "iscsi-portal", NULL) ? "iscsi-discovery" : "iscsi-portal"));
    }
    for (size_t i = 0; (b = derive_row(f, "iscsi-param", i)); i++) {
        const struct value *v = facts_cell(f, b, "value");
        int64_t number;

        derive_set(f, b, "number", v->state == VS_KNOWN && num_parse_i64(v->s, &number) == 0 ? derive_from(value_int(number), v)
                                   : v->state == VS_KNOWN                                    ? value_absent()
                                                                                             : *v);
    }
}

/* The target of a path: "00023d000001,iqn.1992-08.com.example:t1,t,1". */
static struct slice target_of(const struct facts *f, const struct row *path)
{
    const struct value *id = facts_cell(f, path, "target-id");
    struct slice rest = id->state == VS_KNOWN ? id->s : (struct slice){NULL, 0}, word;

    while (slice_next_word(&rest, ",", &word))
        if (slice_starts(word, "iqn.") || slice_starts(word, "eui.") || slice_starts(word, "naa."))
            return word;
    return (struct slice){NULL, 0};
}

/* Portals of the targets of a device that have a session, once each; *loop when one of them is served by this host. */
static struct value portals_of(struct facts *f, const struct row *device, bool *loop)
{
    struct texts found = {0};
    const struct row *p, *q;
    bool open = !facts_complete(f, "iscsi-portal", NULL) || !facts_complete(f, "path", NULL);

    for (size_t i = 0; (p = derive_row(f, "path", i)); i++) {
        struct slice target = target_of(f, p);

        if (!is(facts_cell(f, p, "device"), device->key))
            continue;
        open |= !target.n;
        for (size_t k = 0; target.n && (q = derive_row(f, "iscsi-portal", k)); k++) {
            const struct value *n = facts_cell(f, q, "sessions");

            if (!same(facts_cell(f, q, "adapter"), facts_cell(f, p, "adapter")) || !is(facts_cell(f, q, "target"), target))
                continue;
            open |= n->state != VS_KNOWN;
            *loop |= known_bool(facts_cell(f, q, "loop"), true);
            if (n->state == VS_KNOWN && n->i > 0 && facts_cell(f, q, "address")->state == VS_KNOWN)
                texts_add(&found, facts_cell(f, q, "address")->s, f->arena);
        }
    }
    return open ? value_unknown("the portals of its targets are not known") : value_int((int64_t)found.n);
}

/* --- NFS, and what is served from here --- */

static void derive_mounts(struct facts *f)
{
    const struct row *n, *o;
    int64_t v3 = 0;

    for (size_t i = 0; (n = derive_row(f, "nfs", i)); i++) {
        const struct value *host = facts_cell(f, n, "host"), *version = facts_cell(f, n, "version");
        struct reach r = {value_unknown("the server is given by name, not by an IPv4 address"),
                          value_unknown("the server is given by name, not by an IPv4 address")};
        struct slice rest = host->s, first = {NULL, 0};
        bool twice = false;
        uint32_t server;

        v3 += known_text(version, "3");
        if (host->state == VS_KNOWN && slice_next_word(&rest, ", ", &first) && derive_ipv4(first, &server))
            r = reach_of(f, server);
        derive_set(f, n, "vmknics", r.ports);
        derive_set(f, n, "loop", r.loop);
        for (size_t k = 0; (o = derive_row(f, "nfs", k)); k++)
            twice |= version->state == VS_KNOWN && facts_cell(f, o, "version")->state == VS_KNOWN && !same(version, facts_cell(f, o, "version")) &&
                     same(facts_cell(f, o, "host"), host) && same(facts_cell(f, o, "share"), facts_cell(f, n, "share"));
        derive_set(f, n, "twice", twice || facts_complete(f, "nfs", NULL) ? value_bool(twice) : not_whole(f, "nfs"));
    }
    derive_set(f, facts_single(f, "host"), "nfs-mounts", facts_complete(f, "nfs", NULL) ? value_int(v3) : not_whole(f, "nfs"));
}

static struct value store_looped(struct facts *f, const struct row *d)
{
    const struct value *devices = facts_cell(f, d, "devices"), *name = facts_cell(f, d, "name");
    const struct row *n;
    bool loop = false;

    for (size_t i = 0; (n = derive_row(f, "nfs", i)); i++)
        if (is(name, n->key))
            return *facts_cell(f, n, "loop");
    for (size_t i = 0; devices->state == VS_KNOWN && i < devices->nlist; i++) {
        n = facts_find(f, facts_table_index(f, "device"), devices->list[i]);
        if (n)
            (void)portals_of(f, n, &loop);
    }
    return value_bool(loop);
}

/* Whether a place (a path, "[store] folder") lies on such a datastore. */
static struct value place_looped(struct facts *f, const struct value *place)
{
    struct value key;

    if (place->state != VS_KNOWN)
        return place->state == VS_ABSENT ? value_bool(false) : *place;
    key = derive_store_of(f, place->s);
    if (key.state != VS_KNOWN)
        return key.state == VS_ABSENT ? value_bool(false) : key;
    return *facts_cell(f, facts_find(f, facts_table_index(f, "datastore"), key.s), "looped");
}

static void derive_loops(struct facts *f)
{
    static const char *const tables[] = {"nfs", "iscsi-portal"};
    const struct row *r, *d;
    bool open = !facts_complete(f, "nfs", NULL) || (!without_iscsi(f) && !facts_complete(f, "iscsi-portal", NULL));
    int64_t n = 0;

    for (size_t i = 0; (r = derive_row(f, "datastore", i)); i++)
        derive_set(f, r, "looped", store_looped(f, r));
    for (size_t i = 0; (r = derive_row(f, "vm", i)); i++) {
        d = facts_ref(f, r, "datastore");
        derive_set(f, r, "looped", d ? *facts_cell(f, d, "looped") : derive_unknown(f, "datastore", facts_cell(f, r, "datastore")));
    }
    for (size_t i = 0; (r = derive_row(f, "setting", i)); i++)
        derive_set(f, r, "looped", place_looped(f, facts_cell(f, r, "string-value")));
    for (size_t i = 0; (r = derive_row(f, "coredump", i)); i++)
        derive_set(f, r, "looped", place_looped(f, facts_cell(f, r, "target")));
    for (unsigned t = 0; t < 2; t++)
        for (size_t i = 0; (r = derive_row(f, tables[t], i)); i++) {
            n += known_bool(facts_cell(f, r, "loop"), true);
            open |= facts_cell(f, r, "loop")->state != VS_KNOWN;
        }
    derive_set(f, facts_single(f, "host"), "loops", n || !open ? value_int(n) : value_unknown("of a server it is not known where it runs"));
}

/* --- ports and uplinks that carry storage --- */

static bool is_in_subnet(const struct facts *f, const struct row *port, const struct value *server)
{
    uint32_t address;

    return server->state == VS_KNOWN && derive_ipv4(server->s, &address) && port_within(f, port, address) == WITHIN_YES;
}

static struct value carries_storage(struct facts *f, const struct row *k)
{
    static const char *const tables[] = {"iscsi-bound", "iscsi-connection", "nfs"};
    const struct row *r;
    bool open = false;

    for (size_t i = 0; (r = derive_row(f, "iscsi-bound", i)); i++)
        if (is(facts_cell(f, r, "vmknic"), k->key))
            return derive_from(value_bool(true), facts_cell(f, r, "vmknic"));
    for (size_t i = 0; (r = derive_row(f, "iscsi-connection", i)); i++)
        if (same(facts_cell(f, r, "local-address"), facts_cell(f, k, "ipv4")))
            return derive_from(value_bool(true), facts_cell(f, r, "local-address"));
    for (size_t i = 0; (r = derive_row(f, "iscsi-portal", i)); i++) { /* without a session too: the way to it is meant for storage */
        const struct value *due = facts_cell(f, r, "expected-sessions"), *ports = facts_cell(f, r, "vmknics");

        if (due->state == VS_KNOWN && due->i == 1 && ports->state == VS_KNOWN && ports->i == 1 && is_in_subnet(f, k, facts_cell(f, r, "address")))
            return derive_from(value_bool(true), facts_cell(f, r, "address"));
    }
    for (size_t i = 0; (r = derive_row(f, "nfs", i)); i++) {
        const struct value *host = facts_cell(f, r, "host"), *ports = facts_cell(f, r, "vmknics");
        struct slice rest = host->s, first;
        uint32_t server;

        if (host->state != VS_KNOWN || ports->state != VS_KNOWN || !slice_next_word(&rest, ", ", &first) || !derive_ipv4(first, &server)) {
            open = true;
            continue;
        }
        if (ports->i == 1 && port_within(f, k, server) == WITHIN_YES)
            return derive_from(value_bool(true), host);
        open |= ports->i > 1 && port_within(f, k, server) != WITHIN_NO;
    }
    for (unsigned t = without_iscsi(f) ? 2 : 0; t < 3; t++)
        if (!facts_complete(f, tables[t], NULL))
            return not_whole(f, tables[t]);
    return open ? value_unknown("over which port an NFS server is reached is not known") : value_bool(false);
}

static struct value uplinks_of(struct facts *f, const struct row *k, const struct row *group)
{
    const struct row *s = facts_ref(f, k, "switch");
    const struct value *all = s ? facts_cell(f, s, "uplinks") : NULL, *active, *standby;
    struct texts t = {0};

    if (all && (all->state == VS_ABSENT || (all->state == VS_KNOWN && all->nlist == 1)))
        return *all;
    active = group ? facts_cell(f, group, "active") : NULL;
    standby = group ? facts_cell(f, group, "standby") : NULL;
    if (!active || active->state == VS_UNKNOWN || standby->state == VS_UNKNOWN)
        return value_unknown("the teaming of its port group is not known");
    for (size_t i = 0; active->state == VS_KNOWN && i < active->nlist; i++)
        texts_add(&t, active->list[i], f->arena);
    for (size_t i = 0; standby->state == VS_KNOWN && i < standby->nlist; i++)
        texts_add(&t, standby->list[i], f->arena);
    return texts_value(&t);
}

/* Both carry storage, and so what was found of them counts; unknown where that is not known of one. */
static struct value of_storage(const struct value *mine, const struct value *theirs, const struct value *found)
{
    if (known_bool(mine, false) || known_bool(theirs, false))
        return value_bool(false);
    return !known_bool(mine, true) ? *mine : !known_bool(theirs, true) ? *theirs : derive_from(value_bool(true), found);
}

/* Another storage port of the same subnet differs in a number. */
static struct value differs(struct facts *f, const struct row *k, const char *column)
{
    const struct value *mine = facts_cell(f, k, column), *storage = facts_cell(f, k, "storage"), *ip = facts_cell(f, k, "ipv4");
    struct value open = {.state = VS_ABSENT};
    const struct row *o;
    uint32_t address;

    if (known_bool(storage, false) || mine->state == VS_ABSENT || ip->state == VS_ABSENT)
        return value_bool(false);
    if (mine->state != VS_KNOWN || ip->state != VS_KNOWN || !derive_ipv4(ip->s, &address))
        return value_unknown("it or the port's address is not known");
    for (size_t i = 0; (o = derive_row(f, "vmknic", i)); i++) {
        const struct value *theirs = facts_cell(f, o, column);
        struct value v;

        if (o == k || port_within(f, o, address) != WITHIN_YES || theirs->state == VS_ABSENT || (theirs->state == VS_KNOWN && theirs->i == mine->i))
            continue;
        v = theirs->state == VS_KNOWN ? of_storage(storage, facts_cell(f, o, "storage"), theirs) : *theirs;
        if (known_bool(&v, true))
            return v;
        if (v.state == VS_UNKNOWN)
            open = v;
    }
    return open.state == VS_UNKNOWN ? open : value_bool(false);
}

static struct value vlan_shared(struct facts *f, const struct row *k, const struct row *group)
{
    const struct value *storage = facts_cell(f, k, "storage"), *vlan = facts_cell(f, k, "vlan");
    const struct row *g, *o;

    if (known_bool(storage, false) || vlan->state == VS_ABSENT)
        return value_bool(false);
    if (vlan->state != VS_KNOWN || !facts_complete(f, "portgroup", NULL))
        return not_whole(f, "portgroup");
    for (size_t i = 0; (g = derive_row(f, "portgroup", i)); i++) {
        const struct value *clients = facts_cell(f, g, "clients"), *id = facts_cell(f, g, "vlan");
        bool port = false;

        for (size_t n = 0; (o = derive_row(f, "vmknic", n)); n++)
            port |= is(facts_cell(f, o, "portgroup"), g->key);
        if (g != group && !port && same(facts_cell(f, g, "vswitch"), facts_cell(f, group, "vswitch")) && id->state == VS_KNOWN &&
            id->i == vlan->i && clients->state == VS_KNOWN && clients->i > 0)
            return of_storage(storage, storage, id);
    }
    return value_bool(false);
}

static void derive_ports(struct facts *f)
{
    const struct row *k, *n, *s;

    for (size_t i = 0; (k = derive_row(f, "vmknic", i)); i++) {
        const struct value *pg = facts_cell(f, k, "portgroup");
        const struct row *g = pg->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "portgroup"), pg->s) : NULL;

        derive_set(f, k, "storage", carries_storage(f, k));
        derive_set(f, k, "vlan", g                         ? *facts_cell(f, g, "vlan")
                                 : pg->state == VS_ABSENT ? value_absent()
                                                          : value_unknown("its port group is not in the list of port groups"));
        derive_set(f, k, "uplinks", uplinks_of(f, k, g));
        derive_set(f, k, "vlan-shared", vlan_shared(f, k, g));
    }
    for (size_t i = 0; (k = derive_row(f, "vmknic", i)); i++) {
        derive_set(f, k, "mtu-differs", differs(f, k, "mtu"));
        derive_set(f, k, "vlan-differs", differs(f, k, "vlan"));
    }
    for (size_t i = 0; (n = derive_row(f, "nic", i)); i++) {
        bool storage = false, sole = false, open = !facts_complete(f, "vmknic", NULL), blind = open || !facts_complete(f, "vswitch", NULL);

        for (size_t j = 0; (k = derive_row(f, "vmknic", j)); j++) {
            const struct value *up = facts_cell(f, k, "uplinks"), *st = facts_cell(f, k, "storage"), *all;

            s = facts_ref(f, k, "switch");
            all = s ? facts_cell(f, s, "uplinks") : NULL;
            sole |= all && all->state == VS_KNOWN && all->nlist == 1 && slice_eq(all->list[0], n->key);
            blind |= !all || all->state == VS_UNKNOWN;
            if (known_bool(st, false))
                continue;
            if (st->state != VS_KNOWN || up->state == VS_UNKNOWN)
                open = true;
            for (size_t m = 0; st->state == VS_KNOWN && up->state == VS_KNOWN && m < up->nlist; m++)
                storage |= slice_eq(up->list[m], n->key);
        }
        derive_set(f, n, "storage", yes_or(storage, open, "over which uplinks storage goes is not known"));
        derive_set(f, n, "sole-uplink", yes_or(sole, blind, "the uplinks of a switch are not known"));
    }
}

static void derive_errors(struct facts *f)
{
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "nic-stats", i)); i++) {
        const struct value *in = facts_cell(f, r, "rx-packets"), *out = facts_cell(f, r, "tx-packets");
        const struct value *bad = facts_cell(f, r, "rx-errors"), *lost = facts_cell(f, r, "tx-errors");

        if (in->state != VS_KNOWN || out->state != VS_KNOWN || bad->state != VS_KNOWN || lost->state != VS_KNOWN)
            derive_set(f, r, "error-ppm", value_unknown("a counter was not printed"));
        else if (in->i < 0 || out->i < 0 || in->i + out->i <= 0 || bad->i < 0 || lost->i < 0)
            derive_set(f, r, "error-ppm", value_absent());
        else
            derive_set(f, r, "error-ppm",
                       derive_from(value_int((int64_t)(((double)bad->i + (double)lost->i) * 1e6 / ((double)in->i + (double)out->i))), bad));
    }
}

/* Each port is compared with each portal and each session: a list that no host can have is not followed, and all of it stays unknown. */
static bool beyond_any_host(const struct facts *f)
{
    static const char *const tables[] = {"vmknic", "nic", "portgroup", "neighbor", "nfs", "iscsi", "iscsi-bound", "iscsi-portal", "iscsi-connection",
                                         "iscsi-discovery"};

    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        if (facts_count(f, facts_table_index(f, tables[i])) > MAX_ROWS)
            return true;
    return false;
}

void derive_servers(struct facts *f)
{
    const struct row *d;
    bool loop = false;

    if (beyond_any_host(f))
        return;

    derive_portals(f);
    derive_bound(f);
    derive_initiators(f);
    derive_mounts(f);
    for (size_t i = 0; (d = derive_row(f, "device", i)); i++)
        derive_set(f, d, "target-portals", known_text(facts_cell(f, d, "transport"), "iscsi") ? portals_of(f, d, &loop) : value_absent());
    derive_loops(f);
    derive_ports(f);
    derive_errors(f);
}
