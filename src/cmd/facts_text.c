#include "cmd/facts_text.h"

#define MAX_NAMES 40u /* of files not used, shown with -v */

static void drop_arena(struct arena **a)
{
    arena_free(*a);
}

static void safe(struct buf *out, const char *z)
{
    buf_add_safe(out, slice_of(z));
}

static int source_table(const struct facts_view *v, const struct source *s)
{
    const struct probe *p = s->probe ? probes_find(v->probes, slice_of(s->probe)) : NULL;

    return p ? (int)p->table : -1;
}

bool facts_text_wants_source(const struct facts_view *v, const struct source *s)
{
    return v->table < 0 || source_table(v, s) == v->table;
}

void facts_text_heading(const struct facts_view *v, const struct env_host *h, struct buf *out)
{
    const char *names[MAX_NAMES];
    const struct channel *channel = h->target->channel; /* NULL when the bundle could not be opened */
    size_t unused = channel ? offline_unknown(channel, names, MAX_NAMES) : 0;

    if (h->index)
        buf_addc(out, '\n');
    buf_addz(out, cli_style(v->c, STYLE_BOLD));
    safe(out, h->target->label);
    buf_addz(out, cli_style(v->c, STYLE_NONE));
    buf_printf(out, ": %s, %zu file%s", h->target->kind, h->target->files, h->target->files == 1 ? "" : "s");
    if (unused)
        buf_printf(out, ", %zu not used%s", unused, v->c->verbose ? ":" : " (-v names them)");
    buf_addc(out, '\n');
    for (size_t i = 0; i < unused && i < MAX_NAMES && v->c->verbose; i++) {
        buf_addz(out, "  not used: ");
        safe(out, names[i]);
        buf_addc(out, '\n');
    }
    if (v->c->verbose && unused > MAX_NAMES)
        buf_printf(out, "  and %zu more\n", unused - MAX_NAMES);
}

/* --- cells --- */

static void add_source(struct buf *out, const struct facts *f, const struct value *c)
{
    const struct source *s;

    if (c->source == 0 || c->source >= f->nsources) {
        if (c->state == VS_KNOWN)
            buf_addz(out, "  [computed]");
        return;
    }
    s = &f->sources[c->source];
    buf_addz(out, "  [");
    buf_add_safe(out, s->ask);
    if (s->where.n) {
        buf_addz(out, ", ");
        buf_add_safe(out, s->where);
    }
    if (c->line)
        buf_printf(out, "%s%u", s->where.n ? ":" : ", line ", c->line);
    buf_addc(out, ']');
}

/* The value with its unit, "?" or "-"; not yet made safe. */
static void add_cell(struct buf *out, const struct column *c, const struct value *v, struct arena *a)
{
    switch (v->state) {
    case VS_UNKNOWN:
        buf_addc(out, '?');
        return;
    case VS_ABSENT:
        buf_addc(out, '-');
        return;
    case VS_KNOWN:
        buf_add(out, value_text(c, v, a));
        if (c->unit.n)
            buf_printf(out, "%s" SLICE_FMT, slice_eqz(c->unit, "%") ? "" : " ", SLICE_ARG(c->unit));
        return;
    }
}

static size_t chosen(const struct facts_view *v, const struct table *t, unsigned columns[SCHEMA_MAX_COLUMNS])
{
    if (v->norder) {
        memcpy(columns, v->order, v->norder * sizeof *columns);
        return v->norder;
    }
    for (unsigned i = 0; i < t->ncolumns; i++)
        columns[i] = i;
    return t->ncolumns;
}

static void add_line(const struct facts_view *v, const struct facts *f, const struct column *c, const struct value *cell,
                     int width, struct buf *out)
{
    _cleanup_(drop_arena) struct arena *a = arena_new(1u << 20);
    _cleanup_(buf_done) struct buf text = BUF_INIT(64u << 10);
    const char *why = value_why(cell);

    add_cell(&text, c, cell, a);
    buf_printf(out, "  %-*.*s  ", width, SLICE_ARG(c->name));
    buf_add_safe(out, buf_slice(&text));
    if (v->c->verbose || v->filter.one_state) {
        if (why) {
            buf_addz(out, "  ");
            safe(out, why);
        }
    }
    if (v->c->verbose)
        add_source(out, f, cell);
    buf_addc(out, '\n');
}

static void add_block(const struct facts_view *v, const struct facts *f, const struct row *r, struct buf *out)
{
    const struct table *t = &f->schema->tables[r->table];
    unsigned columns[SCHEMA_MAX_COLUMNS];
    size_t n = chosen(v, t, columns);
    int width = 0;

    buf_addz(out, cli_style(v->c, STYLE_BOLD));
    buf_add_safe(out, t->single ? t->name : r->key);
    buf_addz(out, cli_style(v->c, STYLE_NONE));
    buf_addc(out, '\n');
    for (size_t i = 0; i < n; i++)
        if ((int)t->columns[columns[i]].name.n > width)
            width = (int)t->columns[columns[i]].name.n;
    for (size_t i = 0; i < n; i++)
        if (filter_cell(&v->filter, &t->columns[columns[i]], columns[i], &r->cells[columns[i]]))
            add_line(v, f, &t->columns[columns[i]], &r->cells[columns[i]], width, out);
}

/* --- one table --- */

static void table_status(const struct facts_view *v, const struct facts *f, unsigned table, struct buf *out)
{
    const char *why = NULL;
    enum table_state state = facts_table(f, table, &why);
    size_t n = facts_count(f, table);

    if (state == TS_COMPLETE && n)
        return;
    buf_addz(out, cli_style(v->c, state == TS_COMPLETE ? STYLE_NONE : STYLE_YELLOW));
    buf_add(out, f->schema->tables[table].name);
    if (state == TS_COMPLETE) {
        buf_addz(out, " is complete: the host has none");
    } else {
        buf_printf(out, " is %s: ", table_state_name(state));
        safe(out, why ? why : "no answer lists it");
    }
    buf_addz(out, cli_style(v->c, STYLE_NONE));
    buf_addc(out, '\n');
}

static void free_table(struct text_table **t)
{
    text_table_free(t);
}

static struct text_table *as_table(const struct facts_view *v, const struct facts *f, unsigned table)
{
    const struct table *t = &f->schema->tables[table];
    struct text_column heads[SCHEMA_MAX_COLUMNS];
    unsigned columns[SCHEMA_MAX_COLUMNS];
    size_t n = chosen(v, t, columns);
    struct text_table *out;

    for (size_t i = 0; i < n; i++) {
        const struct column *c = &t->columns[columns[i]];

        heads[i] = (struct text_column){c->name.p, c->type == VT_INT, i ? TEXT_CUT : TEXT_KEEP};
    }
    out = text_table_new(heads, n);
    for (size_t i = 0; i < facts_count(f, table); i++) {
        _cleanup_(drop_arena) struct arena *a = arena_new(8u << 20);
        struct slice cells[SCHEMA_MAX_COLUMNS];

        for (size_t k = 0; k < n; k++) {
            _cleanup_(buf_done) struct buf text = BUF_INIT(64u << 10);

            add_cell(&text, &t->columns[columns[k]], &facts_at(f, table, i)->cells[columns[k]], a);
            cells[k] = arena_dup(a, buf_slice(&text));
        }
        text_table_add(out, cells);
    }
    return out;
}

static void add_blocks(const struct facts_view *v, const struct facts *f, unsigned table, struct buf *out)
{
    for (size_t i = 0; i < facts_count(f, table); i++)
        if (filter_row(f, &v->filter, facts_at(f, table, i)))
            add_block(v, f, facts_at(f, table, i), out);
}

void facts_text_table(const struct facts_view *v, const struct facts *f, unsigned table, struct buf *out)
{
    _cleanup_(free_table) struct text_table *t = NULL;
    size_t before;

    if (!v->c->verbose && !v->filter.one_state && !f->schema->tables[table].single) {
        t = as_table(v, f, table);
        if (v->norder || text_table_width(t) <= v->c->width) {
            text_table_print(t, cli_table_width(v->c), out);
            table_status(v, f, table, out);
            return;
        }
    }
    before = out->n;
    add_blocks(v, f, table, out);
    if (out->n == before && facts_count(f, table))
        buf_printf(out, "no cell of " SLICE_FMT " is %s\n", SLICE_ARG(f->schema->tables[table].name),
                   value_state_name(v->filter.state));
    table_status(v, f, table, out);
}

void facts_text_all(const struct facts_view *v, const struct facts *f, struct buf *out)
{
    for (unsigned t = 0; t < f->schema->ntables; t++) {
        _cleanup_(buf_done) struct buf rows = BUF_INIT(1u << 30);

        add_blocks(v, f, t, &rows);
        if (rows.n == 0)
            continue;
        if (!f->schema->tables[t].single)
            buf_printf(out, "\n== " SLICE_FMT "\n", SLICE_ARG(f->schema->tables[t].name));
        buf_add(out, buf_slice(&rows));
    }
}

/* --- overview --- */

/* Known and absent cells by value, unknown ones by name. */
static void add_single(const struct facts_view *v, const struct facts *f, unsigned table, struct buf *out)
{
    const struct table *t = &f->schema->tables[table];
    const struct row *r = facts_at(f, table, 0);
    _cleanup_(buf_done) struct buf unknown = BUF_INIT(8192);

    if (v->c->verbose) {
        add_block(v, f, r, out);
        return;
    }
    buf_addz(out, cli_style(v->c, STYLE_BOLD));
    buf_add(out, t->name);
    buf_printf(out, "%s\n", cli_style(v->c, STYLE_NONE));
    for (unsigned i = 0; i < t->ncolumns; i++) {
        if (r->cells[i].state == VS_UNKNOWN)
            buf_printf(&unknown, "%s" SLICE_FMT, unknown.n ? ", " : "", SLICE_ARG(t->columns[i].name));
        else
            add_line(v, f, &t->columns[i], &r->cells[i], 17, out);
    }
    if (unknown.n) {
        buf_printf(out, "  %-17s  ", "unknown (?)");
        opts_wrap(out, buf_z(&unknown), 21, 21, v->c->width < 78 ? v->c->width : 78);
    }
}

/* The answers that gave a table its rows: the first ask, and how many more there are. */
struct origin {
    const struct source *first;
    size_t more;
};

static void add_origin(struct buf *b, const struct origin *o)
{
    if (!o->first)
        return;
    buf_add(b, o->first->ask);
    if (o->more)
        buf_printf(b, " (and %zu more)", o->more);
}

static void overview_row(const struct facts *f, unsigned table, const struct origin *o, struct text_table *t)
{
    _cleanup_(buf_done) struct buf from = BUF_INIT(8192);
    char rows[24];
    const char *why = NULL;
    enum table_state state = facts_table(f, table, &why);
    struct slice cells[4];

    (void)snprintf(rows, sizeof rows, "%zu", facts_count(f, table));
    if (state != TS_COMPLETE)
        buf_printf(&from, "%s%s", why ? why : "no answer lists it", o->first ? "; " : "");
    else if (facts_count(f, table) == 0)
        buf_addz(&from, "the host has none");
    add_origin(&from, o);
    cells[0] = f->schema->tables[table].name;
    cells[1] = slice_of(rows);
    cells[2] = slice_of(table_state_name(state));
    cells[3] = buf_slice(&from);
    text_table_add(t, cells);
}

void facts_text_overview(const struct facts_view *v, const struct facts *f, struct buf *out)
{
    static const struct text_column heads[] = {
        {"table", false, TEXT_KEEP},
        {"rows", true, TEXT_KEEP},
        {"state", false, TEXT_KEEP},
        {"from, or why not", false, TEXT_WRAP},
    };
    _cleanup_(free_table) struct text_table *t = text_table_new(heads, sizeof heads / sizeof *heads);
    struct origin origins[SCHEMA_MAX_TABLES] = {0};

    for (size_t i = 1; i < f->nsources; i++) {
        const struct source *s = &f->sources[i];
        int table = s->rows && s->state <= SOURCE_PARTIAL ? source_table(v, s) : -1;

        if (table < 0)
            continue;
        if (origins[table].first)
            origins[table].more++;
        else
            origins[table].first = s;
    }
    for (unsigned i = 0; i < f->schema->ntables; i++) {
        if (f->schema->tables[i].single)
            add_single(v, f, i, out);
        else
            overview_row(f, i, &origins[i], t);
    }
    buf_addc(out, '\n');
    text_table_print(t, cli_table_width(v->c), out);
}

void facts_text_sources(const struct facts_view *v, const struct facts *f, struct buf *out)
{
    static const struct text_column heads[] = {
        {"state", false, TEXT_KEEP}, {"rows", true, TEXT_KEEP}, {"answer", false, TEXT_WRAP}};
    _cleanup_(free_table) struct text_table *t = text_table_new(heads, sizeof heads / sizeof *heads);

    for (size_t i = 1; i < f->nsources; i++) {
        const struct source *s = &f->sources[i];
        _cleanup_(buf_done) struct buf answer = BUF_INIT(64u << 10), rows = BUF_INIT(24);

        if (!facts_text_wants_source(v, s))
            continue;
        buf_add(&answer, s->ask);
        if (s->where.n) {
            buf_addz(&answer, " [");
            buf_add(&answer, s->where);
            buf_addc(&answer, ']');
        }
        if (s->why)
            buf_printf(&answer, ": %s", s->why);
        if (s->line)
            buf_printf(&answer, " (line %u)", s->line);
        buf_printf(&rows, "%zu", s->rows);
        text_table_add(t, (const struct slice[]){slice_of(source_state_name(s)), buf_slice(&rows), buf_slice(&answer)});
    }
    text_table_print(t, cli_table_width(v->c), out);
}
