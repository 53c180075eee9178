#include "cmd/rules_parts.h"
#include "core/draft.h"

struct drafting {
    struct rules_run *r;
    struct buf out;
    struct slice today;
    bool done;
};

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct drafting *d = ctx;
    const struct rules_values *v = d->r->v;
    const struct row *row;

    if (h->count > 1)
        return err_set(e, VF_EUSAGE, "%s holds %zu hosts; name one of them", v->from, h->count);
    if ((v->device ? draft_find(h->facts, slice_of(v->device), &row, e) : draft_find_id(h->facts, slice_of(v->pci), &row, e)) < 0)
        return e->code;
    d->done = true;
    return draft_row(h->facts, row, d->today, &d->out, e);
}

/* The name of a vendor and device, of an id that begins with both. */
static struct slice name_of(struct rules_run *r, struct slice id)
{
    uint64_t vendor, device;

    if (id.n < 9 || num_parse_hex(slice_cut(id, 0, 4), 4, &vendor) < 0 || num_parse_hex(slice_cut(id, 5, 4), 4, &device) < 0)
        return (struct slice){NULL, 0};
    return pcinames_find(r->env.names, (uint16_t)vendor, (uint16_t)device, r->env.arena);
}

int rules_new(struct rules_run *r)
{
    struct drafting d = {.r = r, .out = BUF_INIT(1u << 20), .today = cli_today(r->env.arena)};
    struct err e = {0};
    int rc, status;

    if (!r->v->pci && !(r->v->from && r->v->device)) {
        (void)err_set(&e, VF_EUSAGE, "new wants --from TARGET --device vmhba0, --from TARGET --pci ID, or --pci ID");
        return cli_fail(r->c, "rules", &e);
    }
    if (r->v->device && r->v->pci) {
        (void)err_set(&e, VF_EUSAGE, "--device or --pci, not both");
        return cli_fail(r->c, "rules", &e);
    }
    rc = site_open(&r->env, &r->v->facts, &e);
    if (r->v->from && rc == 0)
        rc = env_hosts(&r->env, r->v->from, on_host, &d, &e);
    else if (rc == 0)
        rc = draft_id(slice_of(r->v->pci), name_of(r, slice_of(r->v->pci)), d.today, &d.out, &e);
    if (r->v->from && rc == 0)
        site_end(&r->env, r->c);
    status = rc < 0 ? cli_fail(r->c, "rules", &e) : rules_put(r, buf_slice(&d.out));
    buf_done(&d.out);
    return status;
}
