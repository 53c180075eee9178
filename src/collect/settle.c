#include "collect/collect_parts.h"

/* After the last answer: which tables are whole, and why cells were left open. */

const char *collect_ask_prefix(enum ask_kind kind)
{
    return kind == ASK_ESXCLI ? "esxcli " : kind == ASK_REDFISH ? "redfish " : "";
}

struct slice collect_expand(struct slice text, struct slice each, struct arena *a)
{
    size_t at = slice_find(text, 0, "{}");

    if (at == SIZE_MAX)
        return text;
    return slice_of(arena_printf(a, SLICE_FMT SLICE_FMT SLICE_FMT, SLICE_ARG(slice_cut(text, 0, at)), SLICE_ARG(each),
                                 SLICE_ARG(slice_from(text, at + 2))));
}

/* "vmkchdev -l" names 0000:09:00.0, which the complete list lacks */
static const char *unlisted(struct facts *f, const struct value *named, struct slice key)
{
    return arena_printf(f->arena, "\"" SLICE_FMT "\" names " SLICE_FMT ", which the list lacks", SLICE_ARG(f->sources[named->source].ask),
                        SLICE_ARG(key));
}

void collect_distrust(struct facts *f)
{
    unsigned adapters = facts_table_index(f, "adapter");

    for (unsigned t = 0; t < f->schema->ntables; t++)
        for (unsigned c = 0; c < f->schema->tables[t].ncolumns; c++) {
            const struct column *col = &f->schema->tables[t].columns[c];

            if (col->type != VT_REF || col->table != (int)adapters || col->derived || t == facts_table_index(f, "log"))
                continue;
            for (size_t i = 0; i < facts_count(f, t) && facts_table(f, adapters, NULL) == TS_COMPLETE; i++) {
                const struct value *v = &facts_at(f, t, i)->cells[c];

                if (v->state == VS_KNOWN && !facts_find(f, adapters, v->s))
                    facts_set_table(f, adapters, TS_PARTIAL, unlisted(f, v, v->s));
            }
        }
}

/* A probe that asks by name, for rows of tables that are whole and have none of the kind. */
static bool nothing_to_ask(const struct facts *f, const struct probe *p, struct slice *room)
{
    for (unsigned i = 0; i < p->nways; i++) {
        const struct way *w = &p->ways[i];
        struct slice each = w->each, word;

        if (w->never || !collect_in_release(f, w))
            continue;
        if (!each.n || slice_starts(each, "="))
            return false;
        while (slice_next_word(&each, " ", &word)) {
            int t = schema_table(f->schema, slice_cut(word, 0, slice_find_char(word, 0, '.')));

            if (t < 0 || facts_table(f, (unsigned)t, NULL) != TS_COMPLETE)
                return false;
        }
        if (collect_expansions(f, w, room) > 0)
            return false;
    }
    return true;
}

/*
 * A table that is filled by name only, and has no rows: whole where there was no name to ask for. A host without NVMe drives has no health
 * logs. The tables that the names come from have to be settled before.
 */
static bool none_by_name(const struct probes *p, const struct facts *f, unsigned table, struct slice *room)
{
    bool any = false;

    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i]->table != table)
            continue;
        if (p->v[i]->lists != LISTS_NO || !nothing_to_ask(f, p->v[i], room))
            return false;
        any = true;
    }
    return any;
}

void collect_settle(const struct probes *p, const struct outcome *o, struct facts *f)
{
    struct slice *room = arena_array(f->arena, MAX_EXPANSIONS, sizeof *room);
    bool by_name[SCHEMA_MAX_TABLES] = {false};

    for (unsigned t = 0; t < f->schema->ntables; t++) {
        enum table_state whole = TS_UNKNOWN, parts = TS_UNKNOWN;
        const char *why = TABLE_BY_NAME;
        unsigned nparts = 0, done = 0;
        bool listed = false;

        for (size_t i = 0; i < p->n; i++) {
            if (p->v[i]->table != t || p->v[i]->lists == LISTS_NO || p->v[i]->lists == LISTS_MORE)
                continue;
            listed = true;
            if (p->v[i]->lists == LISTS_PART) {
                nparts++;
                done += o[i].state == TS_COMPLETE;
                parts = o[i].state > parts ? o[i].state : parts;
            } else if (o[i].state > whole) {
                whole = o[i].state;
            }
            if (o[i].state != TS_COMPLETE && o[i].why)
                why = o[i].why;
        }
        if (nparts && parts != TS_UNKNOWN && whole != TS_COMPLETE)
            whole = done == nparts ? TS_COMPLETE : TS_PARTIAL;
        if (whole == TS_UNKNOWN && facts_count(f, t))
            whole = TS_PARTIAL; /* rows from probes that do not list the table */
        for (size_t i = 0; i < facts_count(f, t) && whole == TS_COMPLETE && !f->schema->tables[t].single; i++) {
            const struct row *r = facts_at(f, t, i);

            if (!r->listed) {
                why = unlisted(f, &r->cells[f->schema->tables[t].keys[0]], r->key);
                whole = TS_PARTIAL;
            }
        }
        by_name[t] = !listed && !facts_count(f, t);
        if (!by_name[t])
            facts_set_table(f, t, whole, whole == TS_COMPLETE ? NULL : why);
    }
    for (unsigned t = 0; t < f->schema->ntables; t++)
        if (by_name[t] && room && none_by_name(p, f, t, room))
            facts_set_table(f, t, TS_COMPLETE, NULL);
        else if (by_name[t])
            facts_set_table(f, t, TS_UNKNOWN, TABLE_BY_NAME);
}

/* "esxcli nvme device get -A ..." */
static const char *ask_of(const struct way *w, struct arena *a)
{
    return arena_printf(a, "%s" SLICE_FMT, collect_ask_prefix(w->ask.kind), SLICE_ARG(collect_expand(w->ask.text, SLICE_LIT("..."), a)));
}

/* Why a probe left one of its columns open. */
static const char *reason(const struct probe *p, const struct outcome *o, struct arena *a)
{
    const struct way *w = NULL;

    for (unsigned i = 0; i < p->nways && !w; i++)
        w = p->ways[i].never ? NULL : &p->ways[i];
    if (!w)
        return NULL;
    if (o->state == TS_COMPLETE)
        return arena_printf(a, "not in the answer to \"%s\"", ask_of(w, a));
    if (w->each.n || !o->why) /* the outcome speaks of one of many answers */
        return arena_printf(a, "no complete answer to \"%s\"", ask_of(w, a));
    return o->why;
}

void collect_explain(const struct probes *p, const struct outcome *o, struct facts *f)
{
    for (unsigned answered = 0; answered < 2; answered++)
        for (size_t i = 0; i < p->n; i++) {
            const struct probe *probe = p->v[i];
            const char *why = (o[i].state == TS_COMPLETE) == answered ? reason(probe, &o[i], f->arena) : NULL;

            for (size_t k = 0; why && k < facts_count(f, probe->table); k++) {
                struct row *r = facts_row(f, probe->table, facts_at(f, probe->table, k)->key);

                for (unsigned b = 0; b < probe->nbinds; b++)
                    facts_put(f, r, probe->binds[b].column, value_unknown(why));
            }
        }
}
