#include "core/claim.h"
#include "core/derive.h"

#define MAX_LINKS 256u
#define MAX_NAMES 8u

struct links {
    struct arena *a;
    struct claim_link *v;
    size_t n, cap;
};

static void add(struct links *l, const char *what, const char *text)
{
    void *grown = l->v;

    if (!text || arena_grow(l->a, &grown, l->n, &l->cap, sizeof *l->v, MAX_LINKS) < 0)
        return;
    l->v = grown;
    l->v[l->n++] = (struct claim_link){what, text};
}

/* The names of the rows that a list of references names, the first few of them; a row's key when its name is not known. */
static const char *names_of(const struct facts *f, const char *table, const struct value *refs, const char *column)
{
    const char *text = "";

    for (size_t i = 0; i < refs->nlist && i < MAX_NAMES; i++) {
        const struct row *r = facts_find(f, facts_table_index(f, table), refs->list[i]);
        const struct value *name = facts_cell(f, r, column);
        struct slice s = name->state == VS_KNOWN && name->s.n ? name->s : refs->list[i];

        text = arena_printf(f->arena, "%s%s" SLICE_FMT, text, i ? ", " : "", SLICE_ARG(s));
        if (!text)
            return "";
    }
    return refs->nlist > MAX_NAMES ? arena_printf(f->arena, "%s and %zu more", text, refs->nlist - MAX_NAMES) : text;
}

static const char *why_of(const struct value *v)
{
    return v->why ? v->why : "not asked";
}

static void datastores(const struct facts *f, const struct value *refs, struct links *l)
{
    for (size_t i = 0; i < refs->nlist; i++) {
        const struct row *d = facts_find(f, facts_table_index(f, "datastore"), refs->list[i]);
        const struct value *name = facts_cell(f, d, "name"), *type = facts_cell(f, d, "type"), *machines = facts_cell(f, d, "machines");
        struct slice s = name->state == VS_KNOWN ? name->s : refs->list[i];
        const char *kind = type->state == VS_KNOWN ? arena_printf(f->arena, " (" SLICE_FMT ")", SLICE_ARG(type->s)) : "";

        add(l, "datastore",
            machines->state == VS_KNOWN ? arena_printf(f->arena, SLICE_FMT "%s with the running machines %s", SLICE_ARG(s), kind,
                                                       names_of(f, "vm", machines, "name"))
            : machines->state == VS_ABSENT ? arena_printf(f->arena, SLICE_FMT "%s, no running machine", SLICE_ARG(s), kind)
            : !d                           ? arena_printf(f->arena, SLICE_FMT ", which is not in the list of datastores that was read", SLICE_ARG(s))
                                           : arena_printf(f->arena, SLICE_FMT "%s; which machines run there is not known: %s", SLICE_ARG(s), kind,
                                                          why_of(machines)));
    }
}

static void adapter(const struct facts *f, const struct row *r, struct links *l, struct claim_behind *out, bool *idle)
{
    const struct value *boots = facts_cell(f, r, "boots"), *devices = facts_cell(f, r, "devices"), *stores = facts_cell(f, r, "datastores");
    const struct value *vsan = facts_cell(f, facts_single(f, "host"), "vsan");
    const struct row *iscsi = facts_find(f, facts_table_index(f, "iscsi"), r->key);

    *idle = devices->state == VS_ABSENT && derive_whole_behind(f, BEHIND_DEVICES) && known_bool(boots, false) && !iscsi;
    if (known_bool(boots, true)) {
        out->severe = true;
        add(l, "boot", arena_printf(f->arena, "the host boots over " SLICE_FMT, SLICE_ARG(r->key)));
    } else if (boots->state == VS_UNKNOWN)
        add(l, "unknown", arena_printf(f->arena, "whether the host boots over " SLICE_FMT ": %s", SLICE_ARG(r->key), why_of(boots)));
    if (devices->state == VS_KNOWN)
        add(l, "device", arena_printf(f->arena, "%zu on " SLICE_FMT ": %s", devices->nlist, SLICE_ARG(r->key), names_of(f, "device", devices, "id")));
    else if (devices->state == VS_UNKNOWN)
        add(l, "unknown", arena_printf(f->arena, "which devices hang on " SLICE_FMT ": %s", SLICE_ARG(r->key), why_of(devices)));
    if (stores->state == VS_KNOWN)
        datastores(f, stores, l);
    else if (stores->state == VS_UNKNOWN && devices->state != VS_ABSENT)
        add(l, "unknown", arena_printf(f->arena, "which datastores lie behind " SLICE_FMT ": %s", SLICE_ARG(r->key), why_of(stores)));
    if (iscsi)
        add(l, "iscsi", arena_printf(f->arena, SLICE_FMT " is an iSCSI adapter", SLICE_ARG(r->key)));
    if (known_bool(vsan, true) && devices->state != VS_ABSENT)
        add(l, "vsan", "the host is part of a vSAN: its disks on this adapter would leave it");
}

/* 0 stays, 1 may go, 2 goes. */
static int goes(const struct facts *f, struct slice nic, const struct claim *all, size_t n)
{
    const struct row *r = facts_find(f, facts_table_index(f, "nic"), nic);
    const struct value *pci = facts_cell(f, r, "pci");

    for (size_t i = 0; i < n; i++)
        if (pci->state == VS_KNOWN && slice_eq(all[i].pci->key, pci->s))
            return all[i].outcome == CLAIM_LOSES ? 2 : all[i].outcome == CLAIM_UNKNOWN;
    return 0;
}

/* The uplinks of a switch that stay; *up: how many of them have a link. */
static const char *uplinks_left(const struct facts *f, const struct row *sw, struct slice nic, const struct claim *all, size_t n, size_t *up)
{
    const struct value *uplinks = facts_cell(f, sw, "uplinks");
    const char *text = "";
    bool unsure = false;

    *up = 0;
    for (size_t i = 0; uplinks->state == VS_KNOWN && i < uplinks->nlist; i++) {
        const struct row *r = facts_find(f, facts_table_index(f, "nic"), uplinks->list[i]);
        bool down = known_text(facts_cell(f, r, "link"), "Down");

        int gone = slice_eq(uplinks->list[i], nic) ? 2 : goes(f, uplinks->list[i], all, n);

        unsure |= gone == 1;
        if (gone)
            continue;
        text = arena_printf(f->arena, "%s%s" SLICE_FMT "%s", text, *text ? ", " : "", SLICE_ARG(uplinks->list[i]), down ? " (link down)" : "");
        *up += !down;
        if (!text)
            return "";
    }
    return *text ? arena_printf(f->arena, "leaves %s", text) : unsure ? "no other uplink is sure to stay" : "no other uplink is left";
}

static bool same_subnet(struct slice a, struct slice b, struct slice mask)
{
    uint64_t x, y, m;
    struct slice v, w, k;

    for (unsigned i = 0; i < 4; i++)
        if (!slice_next_word(&a, ".", &v) || !slice_next_word(&b, ".", &w) || !slice_next_word(&mask, ".", &k) || num_parse_u64(v, &x) < 0 ||
            num_parse_u64(w, &y) < 0 || num_parse_u64(k, &m) < 0 || (x & m) != (y & m))
            return false;
    return true;
}

static void nfs_over(const struct facts *f, const struct row *vmk, const char *left, struct links *l)
{
    const struct value *ip = facts_cell(f, vmk, "ipv4"), *mask = facts_cell(f, vmk, "netmask");
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "nfs", i)); i++) {
        const struct value *host = facts_cell(f, r, "host");

        if (ip->state == VS_KNOWN && mask->state == VS_KNOWN && host->state == VS_KNOWN && same_subnet(ip->s, host->s, mask->s))
            add(l, "nfs", arena_printf(f->arena, SLICE_FMT " from " SLICE_FMT " over " SLICE_FMT "; %s", SLICE_ARG(r->key), SLICE_ARG(host->s),
                                       SLICE_ARG(vmk->key), left));
    }
}

static void nic(const struct facts *f, const struct row *r, const struct claim *all, size_t n, struct links *l, struct claim_behind *out, bool *idle)
{
    const struct value *in = facts_cell(f, r, "vswitches");
    const struct row *vmk;
    size_t up;

    *idle = in->state == VS_ABSENT;
    if (in->state == VS_UNKNOWN)
        add(l, "unknown", arena_printf(f->arena, "which switches " SLICE_FMT " is an uplink of: %s", SLICE_ARG(r->key), why_of(in)));
    for (size_t i = 0; in->state == VS_KNOWN && i < in->nlist; i++) {
        const struct row *sw = facts_find(f, facts_table_index(f, "vswitch"), in->list[i]);
        const char *left = uplinks_left(f, sw, r->key, all, n, &up);
        bool any = false;

        for (size_t k = 0; (vmk = derive_row(f, "vmknic", k)); k++) {
            const struct value *on = facts_cell(f, vmk, "switch");
            bool management = slice_eqz(vmk->key, "vmk0"); /* the installer's; others can be marked too, which no answer tells yet */

            if (on->state != VS_KNOWN || !slice_eq(on->s, in->list[i]))
                continue;
            any = true;
            out->severe |= management && up == 0;
            add(l, management ? "management" : "vmknic", arena_printf(f->arena, SLICE_FMT " on " SLICE_FMT " over " SLICE_FMT "; %s",
                                                                      SLICE_ARG(vmk->key), SLICE_ARG(in->list[i]), SLICE_ARG(r->key), left));
            nfs_over(f, vmk, left, l);
        }
        if (!any)
            add(l, "switch", arena_printf(f->arena, SLICE_FMT " over " SLICE_FMT "; %s", SLICE_ARG(in->list[i]), SLICE_ARG(r->key), left));
    }
}

void claim_behind(const struct facts *f, const struct claim *c, const struct claim *all, size_t n, struct claim_behind *out)
{
    const struct value *class = facts_cell(f, c->pci, "class"), *usb = facts_cell(f, facts_single(f, "host"), "boot-usb");
    const struct value *alias = facts_cell(f, c->pci, "alias");
    struct links l = {.a = f->arena};
    struct texts names = {0};
    const struct row *r;
    bool idle = true, listed = false, one;

    *out = (struct claim_behind){0};
    for (size_t i = 0; (r = derive_row(f, "adapter", i)); i++)
        if (facts_cell(f, r, "pci")->state == VS_KNOWN && slice_eq(facts_cell(f, r, "pci")->s, c->pci->key)) {
            texts_add(&names, r->key, f->arena);
            adapter(f, r, &l, out, &one);
            idle &= one;
            listed = true;
        }
    for (size_t i = 0; (r = derive_row(f, "nic", i)); i++)
        if (facts_cell(f, r, "pci")->state == VS_KNOWN && slice_eq(facts_cell(f, r, "pci")->s, c->pci->key)) {
            texts_add(&names, r->key, f->arena);
            nic(f, r, all, n, &l, out, &one);
            idle &= one;
            listed = true;
        }
    if (!listed && alias->state == VS_KNOWN) {
        texts_add(&names, alias->s, f->arena);
        if (slice_starts(alias->s, "vmhba") || slice_starts(alias->s, "vmnic"))
            add(&l, "unknown", arena_printf(f->arena, "what hangs on " SLICE_FMT ", which is in no list of adapters or NICs", SLICE_ARG(alias->s)));
    }
    if (class->state == VS_KNOWN && slice_starts(class->s, "0c03")) {
        if (known_bool(usb, true)) {
            out->severe = true;
            add(&l, "boot", "the host boots from USB, and this is a USB controller");
        } else if (usb->state == VS_UNKNOWN)
            add(&l, "unknown", arena_printf(f->arena, "whether the host boots from USB: %s", why_of(usb)));
    }
    out->used = c->driver.state != VS_ABSENT && !(listed && idle);
    out->names = names.v;
    out->nnames = names.n;
    out->links = l.v;
    out->nlinks = l.n;
}
