#include "base/fsx.h"
#include "cmd/rules_parts.h"
#include "core/import.h"

#define MAX_LIST_FILE (256u << 20) /* vSAN's list has some 30 MB */
#define OLD_DAYS      90           /* vSAN's own health check calls a list of 90 days old (Broadcom KB 326965) */

struct watching {
    struct rules_run *r;
    struct seen_devices seen;
    size_t hosts;
};

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct watching *w = ctx;

    w->hosts++;
    if (h->incomplete)
        cli_warn(w->r->c, "%s: %s", h->target->label, h->incomplete);
    return import_see(&w->seen, h->facts, w->r->env.arena, e);
}

static int read_list(struct rules_run *r, const char *kind, const char *path, struct pairs *p, struct err *e)
{
    struct slice bytes;
    int rc;

    if (fsx_read(path, MAX_LIST_FILE, r->env.arena, &bytes, NULL, e) < 0)
        return e->code;
    rc = strcmp(kind, "vsan-hcl") == 0 ? import_vsan_hcl(bytes, path, r->env.arena, p, e) : import_csv(bytes, path, r->env.arena, p, e);
    if (rc < 0)
        return rc;
    if (r->v->date && !rule_date(slice_of(r->v->date)))
        return err_set(e, VF_EUSAGE, "--date wants a day such as 2026-11-30, not \"%s\"", r->v->date);
    if (r->v->date)
        p->date = slice_of(r->v->date);
    if (p->date.n == 0)
        return err_set(e, VF_EUSAGE, "%s does not tell how old it is: give --date YYYY-MM-DD, the day it is of", path);
    if (slice_cmp(p->date, cli_today(r->env.arena)) > 0)
        return err_set(e, VF_EUSAGE, "%s: a list of " SLICE_FMT ", a day that is still to come; --date tells the right one", path, SLICE_ARG(p->date));
    if (r->v->source && strncmp(r->v->source, "https://", 8) != 0 && strncmp(r->v->source, "http://", 7) != 0)
        return err_set(e, VF_EUSAGE, "--source wants an address that begins with https://, not \"%s\"", r->v->source);
    for (size_t i = 0; i < p->n && p->link.n == 0; i++)
        if (p->v[i].link.n == 0 && !r->v->source)
            return err_set(e, VF_EUSAGE, "%s names no source: give --source https://..., where the list comes from", path);
    if (r->v->source)
        p->link = slice_of(r->v->source);
    return 0;
}

int rules_import(struct rules_run *r)
{
    _cleanup_(buf_done) struct buf file = BUF_INIT(64u << 20);
    struct watching w = {.r = r};
    size_t nrules, npairs;
    struct err e = {0};
    struct pairs p;
    int64_t days;
    int rc = 0;

    if (r->nfiles != 2 || (strcmp(r->files[0], "vsan-hcl") != 0 && strcmp(r->files[0], "pairs") != 0)) {
        (void)err_set(&e, VF_EUSAGE, "import what? vsan-hcl all.json, or pairs FILE.csv");
        return cli_fail(r->c, "rules", &e);
    }
    if (r->v->on.n == 0) {
        (void)err_set(&e, VF_EUSAGE, "import wants --on DIR: recordings of the hosts whose devices it is for");
        return cli_fail(r->c, "rules", &e);
    }
    if (read_list(r, r->files[0], r->files[1], &p, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    for (size_t i = 0; i < r->v->on.n && rc == 0; i++)
        rc = env_hosts(&r->env, arena_dup(r->env.arena, r->v->on.v[i]).p, on_host, &w, &e);
    if (rc == 0)
        rc = import_write(&p, &w.seen, &r->env.schema, r->env.arena, &file, &nrules, &npairs, &e);
    if (rc < 0)
        return cli_fail(r->c, "rules", &e);
    days = rule_days(cli_today(r->env.arena)) - rule_days(p.date);
    cli_warn(r->c, "the list is of " SLICE_FMT ", %lld days old%s", SLICE_ARG(p.date), (long long)days,
             days > OLD_DAYS ? "; get a newer one before you rely on it" : "");
    if (p.without_id)
        cli_warn(r->c, "%zu entries name a device by its model alone and are left out", p.without_id);
    if (p.unusable)
        cli_warn(r->c, "%zu entries name no driver, or hold what no version does, and are left out", p.unusable);
    cli_warn(r->c, "%zu kinds of adapters and NICs on %zu hosts: %zu rules with %zu entries%s", w.seen.n, w.hosts, nrules, npairs,
             nrules ? "" : "; the list names none of them");
    if (nrules == 0)
        return STATUS_FAILED;
    return rules_put(r, buf_slice(&file));
}
