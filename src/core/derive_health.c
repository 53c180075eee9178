#include "core/derive.h"

/* What tells of the state of drives and of the host itself: margins, crashes, where dumps go; functions given to machines. */

#define DAY            (24 * 60) /* minutes */
#define HOT_KELVIN     343       /* 70 C, where a drive states no threshold of its own */

static struct value less(struct facts *f, const char *what, const struct value *a, const struct value *b)
{
    if (a->state == VS_KNOWN && b->state == VS_KNOWN)
        return derive_from(value_int(a->i - b->i), b);
    if (a->state == VS_UNKNOWN || b->state == VS_UNKNOWN)
        return derive_unknown(f, what, a->state == VS_UNKNOWN ? a : b);
    return value_absent();
}

static void derive_nvme(struct facts *f)
{
    const struct value hot = value_int(HOT_KELVIN);
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "nvme", i)); i++) {
        const struct value *warn = facts_cell(f, r, "warning-temperature"), *now = facts_cell(f, r, "temperature");
        const struct value *unsafe = facts_cell(f, r, "unsafe-shutdowns"), *cycles = facts_cell(f, r, "power-cycles");

        derive_set(f, r, "temperature-margin", less(f, "temperature", warn->state == VS_ABSENT ? &hot : warn, now));
        derive_set(f, r, "critical-margin", less(f, "temperature", facts_cell(f, r, "critical-temperature"), now));
        derive_set(f, r, "spare-margin", less(f, "spare", facts_cell(f, r, "available-spare"), facts_cell(f, r, "spare-threshold")));
        if (unsafe->state == VS_KNOWN && cycles->state == VS_KNOWN)
            derive_set(f, r, "unsafe-percent", cycles->i > 0 && unsafe->i >= 0 && unsafe->i <= cycles->i
                                                   ? derive_from(value_int(unsafe->i * 100 / cycles->i), unsafe)
                                                   : value_absent());
        else
            derive_set(f, r, "unsafe-percent", derive_unknown(f, "counters", unsafe->state != VS_KNOWN ? unsafe : cycles));
    }
}

static bool event_is(const struct facts *f, const struct row *r, const char *head)
{
    const struct value *e = facts_cell(f, r, "event");

    return e->state == VS_KNOWN && slice_starts(e->s, head);
}

static int64_t time_of(const struct facts *f, const struct row *r)
{
    const struct value *t = facts_cell(f, r, "time");

    return t->state == VS_KNOWN ? derive_minute(t->s) : -1;
}

/* Crashes up to days before the end of the logs; -1 when a time is not understood. */
static int64_t crashes(const struct facts *f, int64_t end, int64_t days)
{
    const struct row *r;
    int64_t n = 0;

    for (size_t i = 0; (r = derive_row(f, "boot-event", i)); i++) {
        int64_t t = time_of(f, r);

        if (!event_is(f, r, "Core dump"))
            continue;
        if (t < 0)
            return -1;
        n += t >= end - days * DAY && t <= end;
    }
    return n;
}

/* Rows stand in the order of time: their key begins with it. */
static void derive_boots(struct facts *f)
{
    const struct value *log = facts_cell(f, facts_single(f, "host"), "log-last");
    int64_t end = log->state == VS_KNOWN ? derive_minute(log->s) : -1;
    const struct row *r, *before = NULL, *latest = NULL;
    int64_t near, far;

    for (size_t i = 0; (r = derive_row(f, "boot-event", i)); i++) {
        bool booted = event_is(f, r, "Host has booted"), crash = event_is(f, r, "Core dump");

        if (time_of(f, r) > end)
            end = time_of(f, r);
        derive_set(f, r, "crash", value_bool(crash));
        derive_set(f, r, "unclean", value_bool(booted && before && event_is(f, before, "Host has booted")));
        if (crash || !latest || !event_is(f, latest, "Core dump"))
            latest = r;
        if (!crash)
            before = r;
    }
    near = crashes(f, end, 45);
    far = crashes(f, end, 90);
    for (size_t i = 0; (r = derive_row(f, "boot-event", i)); i++) {
        derive_set(f, r, "latest", value_bool(r == latest));
        derive_set(f, r, "crashes-45d", near < 0 ? value_unknown("a time in the log is of another form") : value_int(near));
        derive_set(f, r, "crashes-90d", far < 0 ? value_unknown("a time in the log is of another form") : value_int(far));
    }
}

/* Device of "mpx.vmhba32:C0:T0:L0:9", or of a file's datastore. */
static const struct row *dump_device(struct facts *f, const struct value *target)
{
    unsigned devices = facts_table_index(f, "device");
    struct value store = derive_store_of(f, target->s);
    const struct value *on;
    size_t colon = target->s.n;

    if (store.state == VS_KNOWN) {
        on = facts_cell(f, facts_find(f, facts_table_index(f, "datastore"), store.s), "devices");
        return on->state == VS_KNOWN ? facts_find(f, devices, on->list[0]) : NULL;
    }
    while (colon && target->s.p[colon - 1] != ':')
        colon--;
    return colon ? facts_find(f, devices, slice_cut(target->s, 0, colon - 1)) : NULL;
}

static void derive_dumps(struct facts *f)
{
    const struct row *r, *d;

    for (size_t i = 0; (r = derive_row(f, "coredump", i)); i++) {
        const struct value *target = facts_cell(f, r, "target"), *enabled = facts_cell(f, r, "enabled"), *usb;
        bool network = slice_eqz(r->key, "network");

        derive_set(f, r, "active", network                         ? *enabled
                                   : target->state == VS_UNKNOWN ? *target
                                                                  : derive_from(value_bool(target->state == VS_KNOWN), target));
        if (network || target->state != VS_KNOWN) {
            derive_set(f, r, "usb", network || target->state == VS_ABSENT ? value_bool(false) : *target);
            continue;
        }
        d = dump_device(f, target);
        usb = d ? facts_cell(f, d, "usb") : NULL;
        derive_set(f, r, "usb", !d                              ? value_unknown("its device is not in the list of devices")
                                : usb->state == VS_KNOWN        ? *usb
                                : known_text(facts_cell(f, d, "transport"), "usb") ? value_bool(true)
                                                                : derive_unknown(f, "its device", usb));
    }
}

static bool given(const struct facts *f, const struct row *r)
{
    return known_text(facts_cell(f, r, "owner"), "VM Passthru");
}

/* Either command says it: the list of functions by their configured owner, from 7.0 on the list of those that can be given to machines. */
static struct value set_to_be_given(struct facts *f, const struct row *r)
{
    const struct value *owner = facts_cell(f, r, "configured-owner"), *enabled = facts_cell(f, r, "passthru");

    if (known_text(owner, "VM Passthru") || known_bool(enabled, true))
        return derive_from(value_bool(true), known_bool(enabled, true) ? enabled : owner);
    if (owner->state == VS_KNOWN || enabled->state == VS_KNOWN)
        return derive_from(value_bool(false), owner->state == VS_KNOWN ? owner : enabled);
    return derive_unknown(f, "configured owner", owner);
}

static void derive_passthrough(struct facts *f)
{
    const struct row *r, *o;

    for (size_t i = 0; (r = derive_row(f, "pci", i)); i++) {
        const struct value *up = facts_cell(f, r, "parent"), *theirs;
        struct slice slot = slice_cut(r->key, 0, slice_find_char(r->key, 0, '.'));
        int64_t n = 0;

        derive_set(f, r, "passthru-set", set_to_be_given(f, r));
        for (size_t k = 0; given(f, r) && (o = derive_row(f, "pci", k)); k++) {
            theirs = facts_cell(f, o, "parent");
            n += o != r && given(f, o) &&
                 (slice_eq(slot, slice_cut(o->key, 0, slice_find_char(o->key, 0, '.'))) ||
                  (up->state == VS_KNOWN && theirs->state == VS_KNOWN && slice_eq(up->s, theirs->s)));
        }
        derive_set(f, r, "passthru-siblings", facts_complete(f, "pci", NULL) ? value_int(n) : value_unknown("the PCI list is not complete"));
    }
}

/* adapterN_conf=bus,device,function,functions,MB,us of amdgpuv; the first three are decimal (AMD MxGPU deployment guide). */
static void derive_mxgpu(struct facts *f)
{
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "module-param", i)); i++) {
        const struct value *v = facts_cell(f, r, "value");
        uint64_t n[6] = {0};
        struct slice rest = v->s, word;
        const struct row *card;
        unsigned k = 0;

        if (!known_text(facts_cell(f, r, "module"), "amdgpuv") || !slice_ends(facts_cell(f, r, "name")->s, "_conf") || v->state != VS_KNOWN) {
            derive_set(f, r, "mxgpu-functions", value_absent());
            derive_set(f, r, "mxgpu-memory", value_absent());
            derive_set(f, r, "mxgpu-fits", value_absent());
            continue;
        }
        while (k < 6 && slice_next_word(&rest, ",", &word) && num_parse_u64(slice_trim(word), &n[k]) == 0 && n[k] < 1000000)
            k++;
        if (k < 6) {
            derive_set(f, r, "mxgpu-functions", value_unknown("not six numbers"));
            derive_set(f, r, "mxgpu-memory", value_unknown("not six numbers"));
            derive_set(f, r, "mxgpu-fits", value_unknown("not six numbers"));
            continue;
        }
        card = facts_find(f, facts_table_index(f, "pci"),
                          slice_of(arena_printf(f->arena, "0000:%02x:%02x.%x", (unsigned)n[0], (unsigned)n[1], (unsigned)n[2])));
        derive_set(f, r, "mxgpu-functions", derive_from(value_int((int64_t)n[3]), v));
        derive_set(f, r, "mxgpu-memory", derive_from(value_int((int64_t)(n[3] * n[4])), v));
        derive_set(f, r, "mxgpu-fits", card || facts_complete(f, "pci", NULL)
                                           ? derive_from(value_bool(card && known_text(facts_cell(f, card, "vendor"), "1002") &&
                                                                    known_text(facts_cell(f, card, "device"), "6929")), v)
                                           : value_unknown("the PCI list is not complete"));
    }
}

void derive_health(struct facts *f)
{
    const struct row *g;

    for (size_t i = 0; (g = derive_row(f, "gpu", i)); i++) {
        const struct row *pci = facts_find(f, facts_table_index(f, "pci"), g->key);

        derive_set(f, g, "owner", pci ? *facts_cell(f, pci, "owner") : value_unknown("its function is not in the PCI list"));
    }
    derive_nvme(f);
    derive_boots(f);
    derive_dumps(f);
    derive_passthrough(f);
    derive_mxgpu(f);
}
