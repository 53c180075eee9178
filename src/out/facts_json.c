#include "out/facts_json.h"

const char *value_state_name(enum value_state s)
{
    static const char *const names[] = {[VS_UNKNOWN] = "unknown", [VS_ABSENT] = "absent", [VS_KNOWN] = "known"};

    return names[s];
}

const char *table_state_name(enum table_state s)
{
    static const char *const names[] = {[TS_UNKNOWN] = "unknown", [TS_PARTIAL] = "partial", [TS_COMPLETE] = "complete"};

    return names[s];
}

const char *source_state_name(const struct source *s)
{
    static const char *const names[] = {
        [SOURCE_OK] = "complete",       [SOURCE_PARTIAL] = "partial", [SOURCE_REFUSED] = "refused",
        [SOURCE_UNUSABLE] = "unusable", [SOURCE_MISSING] = "missing",
    };

    return names[s->state];
}

const char *value_why(const struct value *v)
{
    return v->state != VS_UNKNOWN ? NULL : v->why ? v->why : "no answer tells it";
}

bool filter_cell(const struct facts_filter *w, const struct column *c, unsigned column, const struct value *v)
{
    return (w->derived || !c->derived) && (!w->columns || w->columns[column]) &&
           (!w->one_state || v->state == w->state);
}

bool filter_row(const struct facts *f, const struct facts_filter *w, const struct row *r)
{
    const struct table *t = &f->schema->tables[r->table];

    for (unsigned i = 0; i < t->ncolumns && w->one_state; i++)
        if (filter_cell(w, &t->columns[i], i, &r->cells[i]))
            return true;
    return !w->one_state;
}

static struct js *text_or_null(struct slice s)
{
    return s.n ? js_text(s) : js_null();
}

static struct js *known_value(const struct column *c, const struct value *v)
{
    struct js *list;

    switch (value_kind(c->type)) {
    case KIND_INT:
        return js_int(v->i);
    case KIND_BOOL:
        return js_bool(v->i != 0);
    case KIND_LIST:
        list = js_array();
        for (size_t i = 0; i < v->nlist; i++)
            js_add(list, js_text(v->list[i]));
        return list;
    case KIND_TEXT:
        break;
    }
    return js_text(v->s);
}

static struct js *line_or_null(uint32_t line)
{
    return line ? js_int(line) : js_null();
}

struct js *facts_json_cell(const struct facts *f, const struct column *c, const struct value *v)
{
    const struct source *s = v->source && v->source < f->nsources ? &f->sources[v->source] : NULL;
    struct js *cell = js_object(), *source = s ? js_object() : js_null();

    if (s) {
        js_put(source, "ask", js_text(s->ask));
        js_put(source, "file", text_or_null(s->where));
        js_put(source, "line", line_or_null(v->line));
    }
    js_put(cell, "state", js_textz(value_state_name(v->state)));
    js_put(cell, "value", v->state == VS_KNOWN ? known_value(c, v) : js_null());
    js_put(cell, "why", js_textz(value_why(v)));
    js_put(cell, "conflict", js_bool(v->conflict));
    js_put(cell, "source", source);
    return cell;
}

static struct js *row_json(const struct facts *f, const struct facts_filter *w, const struct row *r)
{
    const struct table *t = &f->schema->tables[r->table];
    struct js *row = js_object(), *cells = js_object();

    for (unsigned i = 0; i < t->ncolumns; i++)
        if (filter_cell(w, &t->columns[i], i, &r->cells[i]))
            js_put(cells, t->columns[i].name.p, facts_json_cell(f, &t->columns[i], &r->cells[i]));
    js_put(row, "key", js_text(r->key));
    js_put(row, "cells", cells);
    return row;
}

struct js *facts_json_tables(const struct facts *f, const struct facts_filter *w)
{
    struct js *tables = js_object();

    for (unsigned t = 0; t < f->schema->ntables; t++) {
        struct js *table, *rows;
        enum table_state state;
        const char *why = NULL;

        if (w->tables && !w->tables[t])
            continue;
        table = js_object();
        rows = js_array();
        state = facts_table(f, t, &why);
        for (size_t i = 0; i < facts_count(f, t); i++)
            if (filter_row(f, w, facts_at(f, t, i)))
                js_add(rows, row_json(f, w, facts_at(f, t, i)));
        js_put(table, "state", js_textz(table_state_name(state)));
        js_put(table, "why", js_textz(state == TS_COMPLETE ? NULL : why));
        js_put(table, "rows", rows);
        js_put(tables, f->schema->tables[t].name.p, table);
    }
    return tables;
}

struct js *facts_json_source(const struct source *s)
{
    struct js *o = js_object();

    js_put(o, "ask", js_text(s->ask));
    js_put(o, "file", text_or_null(s->where));
    js_put(o, "probe", js_textz(s->probe));
    js_put(o, "form", js_textz(s->form));
    js_put(o, "state", js_textz(source_state_name(s)));
    js_put(o, "why", js_textz(s->why));
    js_put(o, "line", line_or_null(s->line));
    js_put(o, "rows", js_int((int64_t)s->rows));
    return o;
}
