#include "core/driverdata.h"

#define MAX_LINES 100000u
#define FIELDS    6u

static int fields(struct slice line, struct slice *v)
{
    for (unsigned i = 0; i < FIELDS; i++) {
        size_t tab = slice_find_char(line, 0, '\t');

        if ((tab == SIZE_MAX) != (i == FIELDS - 1))
            return -1;
        v[i] = slice_cut(line, 0, tab);
        if (v[i].n == 0)
            return -1;
        line = slice_from(line, tab == SIZE_MAX ? line.n : tab + 1);
    }
    return 0;
}

static bool is_pattern(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] == '.' || (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return s.n == 22;
}

int driverdata_load_lines(struct slice tsv, const char *name, struct arena *a, struct driver_data *out, struct err *e)
{
    struct slice line, v[FIELDS];

    for (unsigned n = 1; slice_next_line(&tsv, &line, NULL); n++) {
        void *grown = out->lines;

        if (slice_blank(line) || line.p[0] == '#')
            continue;
        if (fields(line, v) < 0)
            return err_set(e, VF_EFORMAT, "%s:%u: wants %u fields parted by tabs: module, kind, VIB, pattern, known, sure", name, n, FIELDS);
        if (!slice_eqz(v[1], "native") && !slice_eqz(v[1], "vmklinux"))
            return err_set(e, VF_EFORMAT, "%s:%u: the kind must be native or vmklinux, not \"" SLICE_FMT "\"", name, n, SLICE_ARG(v[1]));
        if (!is_pattern(v[3]))
            return err_set(e, VF_EFORMAT, "%s:%u: the pattern must be 22 lower-case hexadecimal digits or dots, not \"" SLICE_FMT "\"", name, n,
                           SLICE_ARG(v[3]));
        if (arena_grow(a, &grown, out->nlines, &out->lines_cap, sizeof *out->lines, MAX_LINES) < 0)
            return err_set(e, VF_ELIMIT, "%s: more than %u lines", name, MAX_LINES);
        out->lines = grown;
        out->lines[out->nlines++] = (struct driver_line){.module = v[0],
                                                         .vib = slice_eqz(v[2], "-") ? slice_of("") : v[2],
                                                         .pattern = v[3],
                                                         .vmklinux = slice_eqz(v[1], "vmklinux"),
                                                         .source = slice_starts(v[4], "source ")};
    }
    return 0;
}

int driverdata_load_changes(struct slice tsv, const char *name, struct arena *a, struct driver_data *out, struct err *e)
{
    struct slice line, v[FIELDS];

    for (unsigned n = 1; slice_next_line(&tsv, &line, NULL); n++) {
        struct driver_change c;
        void *grown = out->changes;

        if (slice_blank(line) || line.p[0] == '#')
            continue;
        if (fields(line, v) < 0)
            return err_set(e, VF_EFORMAT, "%s:%u: wants %u fields parted by tabs: release, what, name, to, sure, source", name, n, FIELDS);
        c = (struct driver_change){.what = v[1], .name = v[2], .to = v[3], .source = v[5], .sure = slice_eqz(v[4], "sure")};
        if (release_parse(v[0], &c.from, e) < 0)
            return err_ctx(e, "%s:%u", name, n);
        if (!slice_has_word(SLICE_LIT("kind module vib only cpu"), v[1]))
            return err_set(e, VF_EFORMAT, "%s:%u: kind, module, vib, only or cpu, not \"" SLICE_FMT "\"", name, n, SLICE_ARG(v[1]));
        if (!c.sure && !slice_eqz(v[4], "likely"))
            return err_set(e, VF_EFORMAT, "%s:%u: sure or likely, not \"" SLICE_FMT "\"", name, n, SLICE_ARG(v[4]));
        if (arena_grow(a, &grown, out->nchanges, &out->changes_cap, sizeof *out->changes, MAX_LINES) < 0)
            return err_set(e, VF_ELIMIT, "%s: more than %u lines", name, MAX_LINES);
        out->changes = grown;
        out->changes[out->nchanges++] = c;
    }
    return 0;
}

bool driverdata_reached(const struct builds *b, const struct release *r, const struct release *from)
{
    int order;

    return release_order(b, r, from, &order) == 0 && order >= 0;
}

const struct driver_change *driverdata_change(const struct driver_data *d, const struct builds *b, const char *what, struct slice name,
                                              const struct release *after, const struct release *target)
{
    const struct driver_change *found = NULL;

    for (size_t i = 0; i < d->nchanges; i++) {
        const struct driver_change *c = &d->changes[i];

        if (slice_eqz(c->what, what) && slice_eq(c->name, name) && target->major && driverdata_reached(b, target, &c->from) &&
            !(after && after->major && driverdata_reached(b, after, &c->from)))
            found = c;
    }
    return found;
}
