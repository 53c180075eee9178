#include "core/facts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"

#define MAX_ROWS    200000u
#define MAX_SOURCES 20000u

struct facts_table {
    struct row **rows;
    size_t n, cap;
    struct map by_key;
    enum table_state state;
    bool said;
    const char *why;
};

struct facts *facts_new(const struct schema *s, struct arena *a)
{
    struct facts *f = arena_alloc(a, sizeof *f);

    if (!f)
        return NULL;
    f->schema = s;
    f->arena = a;
    f->tables = arena_array(a, s->ntables, sizeof *f->tables);
    if (!f->tables || facts_add_source(f, (struct source){.state = SOURCE_MISSING}) != 0)
        return NULL;
    for (unsigned t = 0; t < s->ntables; t++) {
        f->tables[t].why = "not asked";
        if (s->tables[t].single && !facts_row(f, t, (struct slice){NULL, 0}))
            return NULL;
    }
    return arena_full(a) ? NULL : f;
}

uint32_t facts_add_source(struct facts *f, struct source s)
{
    void *v = f->sources;

    if (arena_grow(f->arena, &v, f->nsources, &f->sources_cap, sizeof s, MAX_SOURCES) < 0)
        return 0;
    f->sources = v;
    f->sources[f->nsources] = s;
    return (uint32_t)f->nsources++;
}

struct row *facts_row(struct facts *f, unsigned table, struct slice key)
{
    struct facts_table *t = &f->tables[table];
    uint32_t at = map_get(&t->by_key, key);
    void *v = t->rows;
    struct row *r;

    if (at != MAP_NONE)
        return t->rows[at];
    if (arena_grow(f->arena, &v, t->n, &t->cap, sizeof *t->rows, MAX_ROWS) < 0)
        return NULL;
    t->rows = v;
    r = arena_alloc(f->arena, sizeof *r);
    if (!r)
        return NULL;
    r->table = table;
    r->index = (unsigned)t->n;
    r->key = arena_dup(f->arena, key);
    r->cells = arena_array(f->arena, f->schema->tables[table].ncolumns, sizeof *r->cells);
    if (!r->key.p || !r->cells || map_put(&t->by_key, f->arena, r->key, r->index) < 0)
        return NULL;
    t->rows[t->n++] = r;
    if (f->compare && f->compare->further.n == 0)
        f->compare->further = r->key;
    return r;
}

const struct row *facts_find(const struct facts *f, unsigned table, struct slice key)
{
    uint32_t at = map_get(&f->tables[table].by_key, key);

    return at == MAP_NONE ? NULL : f->tables[table].rows[at];
}

size_t facts_count(const struct facts *f, unsigned table)
{
    return f->tables[table].n;
}

const struct row *facts_at(const struct facts *f, unsigned table, size_t i)
{
    return f->tables[table].rows[i];
}

int natural_cmp(struct slice a, struct slice b)
{
    while (a.n && b.n) {
        size_t na = 0, nb = 0;

        while (na < a.n && a.p[na] >= '0' && a.p[na] <= '9')
            na++;
        while (nb < b.n && b.p[nb] >= '0' && b.p[nb] <= '9')
            nb++;
        if (na && nb) {
            size_t za = 0, zb = 0;

            while (za + 1 < na && a.p[za] == '0')
                za++;
            while (zb + 1 < nb && b.p[zb] == '0')
                zb++;
            if (na - za != nb - zb)
                return na - za < nb - zb ? -1 : 1;
            if (memcmp(a.p + za, b.p + zb, na - za) != 0)
                return memcmp(a.p + za, b.p + zb, na - za);
            a = slice_from(a, na);
            b = slice_from(b, nb);
            continue;
        }
        if (a.p[0] != b.p[0])
            return (unsigned char)a.p[0] < (unsigned char)b.p[0] ? -1 : 1;
        a = slice_from(a, 1);
        b = slice_from(b, 1);
    }
    return (a.n > 0) - (b.n > 0);
}

static int by_key(const void *a, const void *b)
{
    const struct row *const *ra = a, *const *rb = b;

    return natural_cmp((*ra)->key, (*rb)->key);
}

/* Addresses are hexadecimal numbers of one length: 0a before 10, 09 before 0a. */
static int by_address(const void *a, const void *b)
{
    const struct row *const *ra = a, *const *rb = b;

    return slice_cmp((*ra)->key, (*rb)->key);
}

static bool keyed_by_address(const struct schema *s, const struct table *t)
{
    const struct column *c = t->nkeys ? &t->columns[t->keys[0]] : NULL;

    if (c && c->type == VT_REF && c->table >= 0 && s->tables[c->table].nkeys)
        c = &s->tables[c->table].columns[s->tables[c->table].keys[0]];
    return c && c->type == VT_PCI;
}

void facts_sort(struct facts *f)
{
    for (unsigned i = 0; i < f->schema->ntables; i++) {
        struct facts_table *t = &f->tables[i];

        if (t->n > 1)
            qsort(t->rows, t->n, sizeof *t->rows, keyed_by_address(f->schema, &f->schema->tables[i]) ? by_address : by_key);
        for (size_t j = 0; j < t->n; j++) {
            t->rows[j]->index = (unsigned)j;
            map_set(&t->by_key, t->rows[j]->key, (uint32_t)j);
        }
    }
}

static struct value unite(struct facts *f, const struct value *a, const struct value *b)
{
    struct slice *v = arena_array(f->arena, a->nlist + b->nlist + 1, sizeof *v);
    struct value out = *a;

    if (!v)
        return out;
    if (a->nlist)
        memcpy(v, a->list, a->nlist * sizeof *v);
    for (size_t i = 0; i < b->nlist; i++) {
        size_t j = 0;

        while (j < out.nlist && !slice_eq(v[j], b->list[i]))
            j++;
        if (j == out.nlist)
            v[out.nlist++] = b->list[i];
    }
    out.list = v;
    return out;
}

/* Two known values of one cell from two answers, for columns that say how to merge. */
static void merge_known(struct facts *f, const struct column *c, struct value *cell, const struct value *v)
{
    int order = c->type == VT_INT ? (v->i > cell->i) - (v->i < cell->i) : slice_cmp(v->s, cell->s);

    switch (c->merge) {
    case MERGE_SUM: /* files of one log add up; two logs report one event each in its own words */
        if (!slice_eq(f->sources[cell->source].ask, f->sources[v->source].ask))
            cell->i = v->i > cell->i ? v->i : cell->i;
        else if (__builtin_add_overflow(cell->i, v->i, &cell->i))
            cell->i = INT64_MAX;
        break;
    case MERGE_MIN:
        if (order < 0)
            *cell = *v;
        break;
    case MERGE_MAX:
        if (order > 0)
            *cell = *v;
        break;
    case MERGE_UNION:
        *cell = unite(f, cell, v);
        break;
    case MERGE_FIRST:
        break;
    }
}

/* What one thing is called and driven by, in the spelling of every command; not its state, which changes, or its description, which is cut. */
static bool identifies(const struct column *c)
{
    switch (c->type) {
    case VT_PCI:
    case VT_REF:
    case VT_VERSION:
    case VT_HEX:
        return true;
    case VT_NAME:
        return c->nvalues == 0;
    case VT_INT:
        return c->unit.n == 0;
    case VT_TEXT:
    case VT_BOOL:
    case VT_DATE:
    case VT_TIME:
    case VT_LIST:
    case VT_REFS:
        return false;
    }
    return false;
}

/* "esx1" and "ESX1.example.com" are one name. */
static bool same_name(struct slice a, struct slice b)
{
    struct slice shorter = a.n < b.n ? a : b, longer = a.n < b.n ? b : a;

    return slice_ieq(slice_cut(longer, 0, shorter.n), shorter) && (longer.n == shorter.n || (shorter.n && longer.p[shorter.n] == '.'));
}

/* "ask" (file) says 1, "other" (file) 0 */
static void dispute(struct facts *f, const struct column *c, struct value *cell, const struct value *v)
{
    const struct value *said[2] = {cell, v};
    const char *says[2];

    for (unsigned i = 0; i < 2; i++) {
        const struct source *s = &f->sources[said[i]->source];
        struct slice text = said[i]->state == VS_ABSENT ? SLICE_LIT("none") : value_text(c, said[i], f->arena);

        says[i] = arena_printf(f->arena, "\"" SLICE_FMT "\"%s" SLICE_FMT "%s says " SLICE_FMT, SLICE_ARG(s->ask), s->where.n ? " (" : "",
                               SLICE_ARG(s->where), s->where.n ? ")" : "", SLICE_ARG(text)); /* a live host's answer is in no file */
    }
    *cell = value_unknown(arena_printf(f->arena, "two answers contradict each other: " SLICE_FMT ": %s, %s", SLICE_ARG(c->name), says[0], says[1]));
    cell->conflict = true;
}

static void compare_put(struct facts *f, const struct column *c, struct value *cell, const struct value *v)
{
    bool text = c->type == VT_NAME || c->type == VT_TEXT || c->type == VT_REF;

    if (cell->state == VS_UNKNOWN && !cell->why && !cell->conflict)
        *cell = *v; /* nobody told it */
    if (v->state == VS_UNKNOWN || cell->state == VS_UNKNOWN || cell->source == v->source || c->merge != MERGE_FIRST)
        return;
    if ((f->compare->identity_only && !identifies(c)) || value_equal(c, cell, v))
        return;
    if (text && cell->state == v->state && same_name(cell->s, v->s))
        return;
    dispute(f, c, cell, v);
}

void facts_put(struct facts *f, struct row *r, unsigned column, struct value v)
{
    const struct column *c = &f->schema->tables[r->table].columns[column];
    struct value *cell = &r->cells[column];

    if (f->compare) {
        compare_put(f, c, cell, &v);
        return;
    }
    if (cell->state == VS_UNKNOWN && cell->conflict)
        return; /* contradicted: nothing of that kind repairs it */
    if (v.state == VS_KNOWN && cell->state == VS_KNOWN) {
        if (c->merge != MERGE_FIRST) {
            merge_known(f, c, cell, &v);
            return;
        }
        if (value_equal(c, cell, &v))
            return;
        if (cell->source == v.source) {
            *cell = value_unknown(arena_printf(f->arena, "given twice, differently: " SLICE_FMT " and " SLICE_FMT,
                                               SLICE_ARG(value_text(c, cell, f->arena)),
                                               SLICE_ARG(value_text(c, &v, f->arena))));
            cell->conflict = true;
            cell->source = v.source;
            cell->line = v.line;
            return;
        }
        dispute(f, c, cell, &v);
        return;
    }
    if (v.state > cell->state || (v.state == cell->state && v.state == VS_UNKNOWN && !cell->why))
        *cell = v;
}

void facts_set_table(struct facts *f, unsigned table, enum table_state state, const char *why)
{
    struct facts_table *t = &f->tables[table];

    if (!t->said) {
        t->said = true;
        t->state = state;
        t->why = why;
    } else if (state != t->state) { /* part complete, part not: partial */
        if (!t->why)
            t->why = why;
        t->state = TS_PARTIAL;
    }
}

enum table_state facts_table(const struct facts *f, unsigned table, const char **why)
{
    if (why)
        *why = f->tables[table].why;
    return f->schema->tables[table].single ? TS_COMPLETE : f->tables[table].state;
}

bool facts_complete(const struct facts *f, const char *table, const char **why)
{
    return facts_table(f, facts_table_index(f, table), why) == TS_COMPLETE;
}

unsigned facts_table_index(const struct facts *f, const char *table)
{
    int t = schema_table(f->schema, slice_of(table));

    assert(t >= 0);
    return (unsigned)t;
}

const struct row *facts_single(const struct facts *f, const char *table)
{
    return facts_at(f, facts_table_index(f, table), 0);
}

const struct value *facts_cell(const struct facts *f, const struct row *r, const char *column)
{
    static const struct value none = {.why = "no such row"};
    int c;

    if (!r)
        return &none;
    c = table_column(&f->schema->tables[r->table], slice_of(column));
    assert(c >= 0);
    return &r->cells[c];
}

const struct row *facts_ref(const struct facts *f, const struct row *r, const char *column)
{
    const struct value *v = facts_cell(f, r, column);
    int c;

    if (v->state != VS_KNOWN)
        return NULL;
    c = table_column(&f->schema->tables[r->table], slice_of(column));
    return facts_find(f, (unsigned)f->schema->tables[r->table].columns[c].table, v->s);
}

struct slice value_text(const struct column *c, const struct value *v, struct arena *a)
{
    if (v->state != VS_KNOWN)
        return SLICE_LIT("");
    switch (value_kind(c->type)) {
    case KIND_BOOL:
        return v->i ? SLICE_LIT("yes") : SLICE_LIT("no");
    case KIND_INT:
        return slice_of(arena_printf(a, "%lld", (long long)v->i));
    case KIND_LIST: {
        _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);

        for (size_t i = 0; i < v->nlist; i++) {
            if (i)
                buf_addz(&b, ", ");
            buf_add(&b, v->list[i]);
        }
        return b.n ? arena_dup(a, buf_slice(&b)) : SLICE_LIT("");
    }
    case KIND_TEXT:
        break;
    }
    return v->s;
}

bool value_equal(const struct column *c, const struct value *a, const struct value *b)
{
    if (a->state != b->state)
        return false;
    if (a->state != VS_KNOWN)
        return true;
    switch (value_kind(c->type)) {
    case KIND_BOOL:
    case KIND_INT:
        return a->i == b->i;
    case KIND_LIST:
        if (a->nlist != b->nlist)
            return false;
        for (size_t i = 0; i < a->nlist; i++)
            if (!slice_eq(a->list[i], b->list[i]))
                return false;
        return true;
    case KIND_TEXT:
        break;
    }
    return slice_eq(a->s, b->s);
}

struct value value_unknown(const char *why)
{
    return (struct value){.state = VS_UNKNOWN, .why = why};
}

struct value value_absent(void)
{
    return (struct value){.state = VS_ABSENT};
}

struct value value_int(int64_t i)
{
    return (struct value){.state = VS_KNOWN, .i = i};
}

struct value value_bool(bool b)
{
    return value_int(b);
}

struct value value_slice(struct slice s)
{
    return (struct value){.state = VS_KNOWN, .s = s};
}

struct value value_list(const struct slice *v, size_t n)
{
    return (struct value){.state = VS_KNOWN, .list = v, .nlist = n};
}
