#include "core/derive.h"

/* Which adapter hangs on which function, which driver and VIB, which disks, datastores and machines hang on the adapter. */

static const char *table_why(const struct facts *f, const char *table)
{
    const char *why = NULL;

    (void)facts_table(f, facts_table_index(f, table), &why);
    return why ? why : "incomplete";
}

/* A list gathered from a table: known when rows were found or the table is complete, else unknown. */
static struct value gathered(struct facts *f, struct texts *t, const char *table)
{
    if (t->n == 0 && !facts_complete(f, table, NULL))
        return value_unknown(arena_printf(f->arena, "%s list: %s", table, table_why(f, table)));
    return texts_value(t);
}

static bool names(const struct value *v, struct slice key)
{
    return v->state == VS_KNOWN && slice_eq(v->s, key);
}


/* Paths of one device or adapter, counted by state. */
static void count_paths(struct facts *f, const struct row *r, const char *by)
{
    bool device = strcmp(by, "device") == 0, vague = false;
    int64_t all = 0, active = 0, dead = 0;
    struct texts adapters = {0};
    struct value transport = {0}, seen = {0};
    const struct row *p;
    bool mixed = false;

    for (size_t i = 0; (p = derive_row(f, "path", i)); i++) {
        const struct value *state = facts_cell(f, p, "state"), *tr = facts_cell(f, p, "transport");

        if (!names(facts_cell(f, p, by), r->key))
            continue;
        if (all++ == 0 || known_text(state, "dead"))
            seen = *state;
        active += known_text(state, "active");
        dead += known_text(state, "dead");
        vague |= state->state != VS_KNOWN;
        if (facts_cell(f, p, "adapter")->state == VS_KNOWN)
            texts_add(&adapters, facts_cell(f, p, "adapter")->s, f->arena);
        if (transport.state == VS_KNOWN && tr->state == VS_KNOWN && !slice_eq(transport.s, tr->s))
            mixed = true;
        if (tr->state == VS_KNOWN && !known_text(tr, "unknown"))
            transport = *tr;
    }
    if (!facts_complete(f, "path", NULL)) { /* a listing that was cut proves no count, only that dead paths exist */
        struct value none = value_unknown(arena_printf(f->arena, "path list: %s", table_why(f, "path")));

        derive_set(f, r, "dead-paths", none);
        derive_set(f, r, "paths", none);
        if (device)
            derive_set(f, r, "active-paths", none);
    } else {
        derive_set(f, r, "dead-paths", vague ? value_unknown("the state of a path is not known")
                                               : derive_from(value_int(dead), &seen));
        derive_set(f, r, "paths", derive_from(value_int(all), &seen));
        if (device)
            derive_set(f, r, "active-paths", vague ? value_unknown("the state of a path is not known") : derive_from(value_int(active), &seen));
    }
    if (device) {
        derive_set(f, r, "adapters", gathered(f, &adapters, "path"));
        derive_set(f, r, "transport", mixed                          ? value_unknown("its paths differ")
                                      : transport.state == VS_KNOWN ? transport
                                                                    : value_unknown("no path of a known transport"));
    }
}

static void device_driver(struct facts *f, const struct row *d)
{
    const struct value *adapters = facts_cell(f, d, "adapters");
    struct value driver = derive_unknown(f, "adapters", adapters);

    for (size_t i = 0; adapters->state == VS_KNOWN && i < adapters->nlist; i++) {
        const struct row *a = facts_find(f, facts_table_index(f, "adapter"), adapters->list[i]);
        const struct value *v = facts_cell(f, a, "driver");

        if (v->state != VS_KNOWN) {
            driver = derive_unknown(f, "driver of an adapter", v);
            break;
        }
        if (i && !slice_eq(driver.s, v->s)) {
            driver = value_unknown("its adapters have different drivers");
            break;
        }
        driver = *v;
    }
    derive_set(f, d, "driver", driver);
}

/* "{policy=rr,iops=1000,bytes=...": the number behind iops=, where the policy counts I/Os. */
static struct value rr_iops(struct facts *f, const struct row *d)
{
    const struct value *psp = facts_cell(f, d, "psp"), *config = facts_cell(f, d, "psp-config");
    size_t at;
    uint64_t n = 0;

    if (psp->state != VS_KNOWN)
        return psp->state == VS_ABSENT ? value_absent() : derive_unknown(f, "path selection policy", psp);
    if (!slice_eqz(psp->s, "VMW_PSP_RR"))
        return value_absent();
    if (config->state != VS_KNOWN)
        return derive_unknown(f, "device configuration of the policy", config);
    if (slice_find(config->s, 0, "policy=latency") != SIZE_MAX || slice_find(config->s, 0, "policy=bytes") != SIZE_MAX)
        return value_absent();
    at = slice_find(config->s, 0, "iops=");
    if (at == SIZE_MAX)
        return value_unknown("no iops= in the policy's configuration");
    for (at += 5; at < config->s.n && config->s.p[at] >= '0' && config->s.p[at] <= '9' && n < 1000000000; at++)
        n = n * 10 + (uint64_t)(config->s.p[at] - '0');
    return derive_from(value_int((int64_t)n), config);
}

static void derive_devices(struct facts *f)
{
    const struct row *d, *x;

    for (size_t i = 0; (d = derive_row(f, "device", i)); i++) {
        struct texts stores = {0};

        count_paths(f, d, "device");
        device_driver(f, d);
        derive_set(f, d, "rr-iops", rr_iops(f, d));
        for (size_t k = 0; (x = derive_row(f, "extent", k)); k++)
            if (names(facts_cell(f, x, "device"), d->key) && facts_cell(f, x, "datastore")->state == VS_KNOWN)
                texts_add(&stores, facts_cell(f, x, "datastore")->s, f->arena);
        derive_set(f, d, "datastores", gathered(f, &stores, "extent"));
    }
}

/* Datastore by UUID or name; several stores of one name make it unknown. */
static struct value store_named(struct facts *f, struct slice part)
{
    const struct row *d, *hit = NULL;

    d = facts_find(f, facts_table_index(f, "datastore"), part);
    if (d)
        return value_slice(d->key);
    for (size_t i = 0; (d = derive_row(f, "datastore", i)); i++)
        if (names(facts_cell(f, d, "name"), part)) {
            if (hit)
                return value_unknown("several datastores have that name");
            hit = d;
        }
    return hit ? value_slice(hit->key) : value_unknown("its datastore is not in the list of file systems");
}

struct value derive_store_of(struct facts *f, struct slice place)
{
    struct slice rest;

    if (slice_starts(place, "[") && slice_find_char(place, 0, ']') != SIZE_MAX)
        return store_named(f, slice_cut(place, 1, slice_find_char(place, 0, ']') - 1));
    if (!slice_starts(place, "/vmfs/volumes/"))
        return value_absent();
    rest = slice_from(place, strlen("/vmfs/volumes/"));
    return store_named(f, slice_cut(rest, 0, slice_find_char(rest, 0, '/')));
}

/* Datastore of a machine's configuration file. */
static struct value store_of(struct facts *f, const struct value *config)
{
    struct value store;

    if (config->state != VS_KNOWN)
        return derive_unknown(f, "configuration file", config);
    store = derive_store_of(f, config->s);
    return store.state == VS_ABSENT ? value_unknown("its configuration file lies on no datastore") : store;
}

static void derive_datastores(struct facts *f)
{
    const struct row *d, *x;

    for (size_t i = 0; (x = derive_row(f, "vm", i)); i++)
        derive_set(f, x, "datastore", store_of(f, facts_cell(f, x, "config")));
    for (size_t i = 0; (x = derive_row(f, "reclaim", i)); i++)
        derive_set(f, x, "datastore", store_named(f, x->key));
    for (size_t i = 0; (d = derive_row(f, "datastore", i)); i++) {
        const struct value *size = facts_cell(f, d, "size"), *room = facts_cell(f, d, "free");
        struct texts devices = {0}, machines = {0};

        for (size_t k = 0; (x = derive_row(f, "extent", k)); k++)
            if (names(facts_cell(f, x, "datastore"), d->key) && facts_cell(f, x, "device")->state == VS_KNOWN)
                texts_add(&devices, facts_cell(f, x, "device")->s, f->arena);
        derive_set(f, d, "devices", gathered(f, &devices, "extent"));
        for (size_t k = 0; (x = derive_row(f, "vm", k)); k++)
            if (names(facts_cell(f, x, "datastore"), d->key))
                texts_add(&machines, x->key, f->arena);
        derive_set(f, d, "machines", gathered(f, &machines, "vm"));
        if (size->state == VS_KNOWN && room->state == VS_KNOWN && size->i > 0 && room->i >= 0 && room->i <= size->i)
            derive_set(f, d, "free-percent", derive_from(value_int((int64_t)((double)room->i * 100.0 / (double)size->i)), room));
        else
            derive_set(f, d, "free-percent", derive_unknown(f, "size or free", size->state != VS_KNOWN ? size : room));
    }
}

/* Transport from the UID's first word; path transports where the UID does not tell. */
static struct value transport_of(struct facts *f, const struct row *a)
{
    static const char *const words[] = {"sata", "sas", "fcoe", "fc", "iscsi", "usb", "pcie", "tcp", "rdma", "ide", NULL};
    const struct value *uid = facts_cell(f, a, "uid");
    const struct row *p;

    for (size_t i = 0; uid->state == VS_KNOWN && words[i]; i++)
        if (slice_starts(uid->s, words[i]) && uid->s.n > strlen(words[i]) && uid->s.p[strlen(words[i])] == '.')
            return value_slice(slice_of(words[i]));
    if (uid->state == VS_KNOWN && slice_starts(uid->s, "iqn."))
        return value_slice(SLICE_LIT("iscsi"));
    if (uid->state == VS_KNOWN && slice_starts(uid->s, "pscsi."))
        return value_slice(SLICE_LIT("parallel"));
    for (size_t i = 0; (p = derive_row(f, "path", i)); i++) {
        const struct value *t = facts_cell(f, p, "transport");

        if (names(facts_cell(f, p, "adapter"), a->key) && t->state == VS_KNOWN && !slice_eqz(t->s, "unknown"))
            return *t;
    }
    return value_unknown("neither its UID nor a path tells");
}

/* A device that no path leads to, though the path list is whole: the two lists do not fit, and who hangs on what is not known. */
static const char *unreached(struct facts *f)
{
    const struct row *d;

    for (size_t i = 0; facts_complete(f, "path", NULL) && (d = derive_row(f, "device", i)); i++)
        if (facts_cell(f, d, "paths")->state == VS_KNOWN && facts_cell(f, d, "paths")->i == 0)
            return arena_printf(f->arena, "the device list has " SLICE_FMT ", the path list has no path to it", SLICE_ARG(d->key));
    return NULL;
}

static void reach(struct facts *f, const struct row *a, const char *unfit)
{
    struct texts devices = {0}, stores = {0}, machines = {0};
    const struct row *x;
    bool open = false;

    if (unfit) {
        derive_set(f, a, "devices", value_unknown(unfit));
        derive_set(f, a, "datastores", value_unknown(unfit));
        derive_set(f, a, "machines", value_unknown(unfit));
        return;
    }
    for (size_t i = 0; (x = derive_row(f, "path", i)); i++)
        if (names(facts_cell(f, x, "adapter"), a->key) && facts_cell(f, x, "device")->state == VS_KNOWN)
            texts_add(&devices, facts_cell(f, x, "device")->s, f->arena);
    for (size_t i = 0; i < devices.n; i++) {
        const struct row *d = facts_find(f, facts_table_index(f, "device"), devices.v[i]);
        const struct value *ds = facts_cell(f, d, "datastores");

        open |= ds->state == VS_UNKNOWN;
        for (size_t k = 0; ds->state == VS_KNOWN && k < ds->nlist; k++)
            texts_add(&stores, ds->list[k], f->arena);
    }
    for (size_t i = 0; i < stores.n; i++) {
        const struct row *d = facts_find(f, facts_table_index(f, "datastore"), stores.v[i]);
        const struct value *vms = facts_cell(f, d, "machines");

        open |= vms->state == VS_UNKNOWN;
        for (size_t k = 0; vms->state == VS_KNOWN && k < vms->nlist; k++)
            texts_add(&machines, vms->list[k], f->arena);
    }
    derive_set(f, a, "devices", gathered(f, &devices, "path"));
    derive_set(f, a, "datastores", open && !stores.n ? value_unknown("datastores of its devices are not known")
                                                     : gathered(f, &stores, devices.n ? "extent" : "path"));
    derive_set(f, a, "machines", open && !machines.n ? value_unknown("machines on its datastores are not known")
                                                     : gathered(f, &machines, stores.n ? "vm" : "path"));
}

/* Which tool of which vendor tells what ESXi does not, by the module that drives the controller. */
static const struct tool {
    const char *modules, *command, *name;
} tools[] = {
    {"lsi_mr3 megaraid_sas bcm_mpi3 lsi_msgpt3 lsi_msgpt35 mpt3sas", "/opt/lsi/perccli64/perccli64 /call show nolog", "perccli (Dell) or storcli"},
    {"hpsa nhpsa smartpqi", "/opt/smartstorageadmin/ssacli/bin/ssacli ctrl all show detail", "ssacli (HPE)"},
};

static const struct tool *tool_of(const struct value *driver)
{
    for (size_t i = 0; driver->state == VS_KNOWN && i < sizeof tools / sizeof *tools; i++)
        if (slice_has_word(slice_of(tools[i].modules), driver->s))
            return &tools[i];
    return NULL;
}

/* What esxcli tells stays; the vendor's tool fills what it does not tell, and two that contradict each other leave it unknown. */
static void adapter_firmware(struct facts *f, const struct row *a)
{
    const struct value *own = facts_cell(f, a, "firmware"), *pci = facts_cell(f, a, "pci");
    unsigned tool = facts_table_index(f, "controller");
    const struct row *c = pci->state == VS_KNOWN ? facts_find(f, tool, pci->s) : NULL;
    const struct value *told = c ? facts_cell(f, c, "firmware") : NULL;
    const struct tool *kind = tool_of(facts_cell(f, a, "driver"));

    if (told && told->state == VS_KNOWN && own->state == VS_KNOWN) {
        struct slice rest = own->s, first;

        /* "20.00.00.00 - Firmware Package Version: 20.00.00.00" */
        if (!slice_next_word(&rest, " ", &first) || !slice_eq(first, told->s)) {
            struct value v = value_unknown(arena_printf(f->arena, "esxcli says " SLICE_FMT ", the vendor's tool " SLICE_FMT, SLICE_ARG(own->s),
                                                        SLICE_ARG(told->s)));

            v.conflict = true;
            derive_set(f, a, "firmware", v);
        }
    } else if (told && told->state == VS_KNOWN) {
        derive_set(f, a, "firmware", *told);
    } else if (own->state == VS_UNKNOWN && kind) {
        derive_set(f, a, "firmware",
                   value_unknown(facts_count(f, tool) ? "the vendor's tool on the host does not tell it for this controller"
                                                      : arena_printf(f->arena, NO_ANSWER_TO "\"%s\": ESXi does not tell this firmware; install %s on "
                                                                     "the host, or ask its BMC with --bmc", kind->command, kind->name)));
    }
}

static void derive_adapters(struct facts *f)
{
    const char *unfit = unreached(f);
    const struct row *a, *o;

    for (size_t i = 0; (a = derive_row(f, "adapter", i)); i++) {
        const struct value *pci = facts_cell(f, a, "pci");
        int64_t ports = 0;

        derive_set(f, a, "transport", transport_of(f, a));
        adapter_firmware(f, a);
        for (size_t k = 0; pci->state == VS_KNOWN && (o = derive_row(f, "adapter", k)); k++)
            ports += names(facts_cell(f, o, "pci"), pci->s);
        derive_set(f, a, "ports", pci->state == VS_KNOWN   ? facts_complete(f, "adapter", NULL) ? value_int(ports)
                                                                                   : value_unknown("the adapter list is not complete")
                                  : pci->state == VS_ABSENT ? value_absent()
                                                            : derive_unknown(f, "PCI function", pci));
        count_paths(f, a, "adapter");
        reach(f, a, unfit);
    }
}

/* The adapter behind a log line that names only a device or a driver, when there is exactly one that it can be. */
static void place_log(struct facts *f, const struct row *l)
{
    const struct row *d = facts_ref(f, l, "device"), *a, *hit = NULL;
    const struct value *driver = facts_cell(f, l, "driver"), *over = d ? facts_cell(f, d, "adapters") : NULL;

    if (facts_cell(f, l, "adapter")->state != VS_ABSENT)
        return;
    if (over && over->state == VS_KNOWN && over->nlist == 1) {
        derive_set(f, l, "adapter", value_slice(over->list[0]));
        return;
    }
    for (size_t i = 0; driver->state == VS_KNOWN && (a = derive_row(f, "adapter", i)); i++) {
        if (!names(facts_cell(f, a, "driver"), driver->s))
            continue;
        if (hit) {
            derive_set(f, l, "adapter", value_unknown("several adapters have that driver"));
            return;
        }
        hit = a;
    }
    if (hit && facts_complete(f, "adapter", NULL))
        derive_set(f, l, "adapter", value_slice(hit->key));
}

void derive_storage(struct facts *f)
{
    const struct row *l;

    derive_devices(f);
    derive_datastores(f);
    derive_adapters(f);
    for (size_t i = 0; (l = derive_row(f, "log", i)); i++)
        place_log(f, l);
}

bool derive_whole_behind(const struct facts *f, unsigned links)
{
    static const char *const chain[] = {"path", "extent", "datastore", "vm"};
    bool whole = true;

    for (unsigned i = 0; i < links && i < sizeof chain / sizeof *chain; i++)
        whole &= facts_complete(f, chain[i], NULL);
    return whole;
}
