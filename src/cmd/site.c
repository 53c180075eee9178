#include "cmd/site.h"

#include "base/fsx.h"

#define MAX_SITE_FILE (16u << 20) /* 100,000 rows have 8 MB */
#define MAX_TOLD      10u         /* rows that are named; the others are counted */

int site_open(struct env *v, const struct opt_list *files, struct err *e)
{
    if (files->n == 0)
        return 0;
    v->site = arena_alloc(v->arena, sizeof *v->site);
    if (!v->site)
        return err_set(e, VF_ELIMIT, "--facts: no room left");
    for (size_t i = 0; i < files->n; i++) {
        const char *path = arena_dup(v->arena, files->v[i]).p;
        struct slice bytes;

        if (fsx_read(path, MAX_SITE_FILE, v->arena, &bytes, NULL, e) < 0 ||
            sitefacts_load(v->site, bytes, path, cli_today(v->arena), v->arena, e) < 0)
            return e->code;
    }
    return 0;
}

static const char *device_word(const struct statement *s)
{
    static const char *const words[] = {"PCI function", "device of PCI id", "drive of serial number", "adapter, NIC or device named"};

    return words[s->by];
}

const char *site_unused(const struct env *v, const struct statement *s)
{
    if (s->used)
        return NULL;
    if (s->host_seen)
        return arena_printf(v->arena, "host " SLICE_FMT " was read, and shows no %s " SLICE_FMT, SLICE_ARG(s->host), device_word(s), SLICE_ARG(s->device));
    return arena_printf(v->arena, "no host that was read has the name or serial number " SLICE_FMT "%s", SLICE_ARG(s->host),
                        v->site->nameless ? arena_printf(v->arena, " (%zu tell neither)", v->site->nameless) : "");
}

void site_end(const struct env *v, struct cli *c)
{
    const struct statement *oldest = NULL;
    size_t unused = 0, old = 0;

    for (size_t i = 0; v->site && i < v->site->n; i++) {
        const struct statement *s = &v->site->v[i];

        unused += !s->used;
        if (!s->used && unused <= MAX_TOLD)
            cli_warn(c, "%s:%u: used by none: %s", s->file, s->line, site_unused(v, s));
        if (!s->used || !statement_old(s))
            continue;
        old++;
        if (!oldest || s->days > oldest->days)
            oldest = s;
    }
    if (unused > MAX_TOLD)
        cli_warn(c, "%s and %zu more rows are used by none", v->site->v[0].file, unused - MAX_TOLD);
    if (oldest)
        cli_warn(c, "%s:%u: read on " SLICE_FMT ", %lld days ago%s: read the firmware again, it may have been updated", oldest->file, oldest->line,
                 SLICE_ARG(oldest->date), (long long)oldest->days,
                 old > 1 ? arena_printf(v->arena, ", the oldest of %zu rows of more than a year", old) : "");
}
