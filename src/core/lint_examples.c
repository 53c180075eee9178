#include "core/example.h"
#include "core/lint_parts.h"

#define MAX_EXAMPLE (64u << 20)

static const struct slice nothing = {NULL, 0};

/* --- releases --- */

bool lint_release(const struct builds *b, const struct release *r)
{
    int update = r->update > 0 ? r->update : 0;
    bool newer = true, older = true;

    for (size_t i = 0; i < b->n; i++) {
        const struct release *k = &b->v[i].name;
        int known = k->update > 0 ? k->update : 0;

        if (k->major == r->major && k->minor == r->minor && known == update && (!r->letter || k->letter == r->letter))
            return true;
        older &= k->major > r->major || (k->major == r->major && k->minor > r->minor);
        newer &= k->major < r->major || (k->major == r->major && k->minor <= r->minor);
        newer &= k->major != r->major || k->minor != r->minor || known < update || (known == update && k->letter < r->letter);
    }
    return newer || older; /* than all there is in the table */
}

static void check_release(struct lint *l, const struct rule *r, const struct example *x, const char *attribute, struct slice text)
{
    struct slice rest = text, name;
    struct release release;
    struct err e = {0};

    if (!slice_next_word(&rest, " ", &name))
        return;
    if (release_parse(name, &release, &e) < 0)
        lint_say(l, r, SPOT(x, slice_of(attribute)), true, "%s", e.msg);
    else if (l->rules->builds && l->rules->builds->n && !lint_release(l->rules->builds, &release))
        lint_say(l, r, SPOT(x, slice_of(attribute)), true, "there is no release " SLICE_FMT " of ESXi", SLICE_ARG(name));
}

/* --- values --- */

static bool only_of(struct slice s, const char *characters)
{
    for (size_t i = 0; i < s.n; i++)
        if (!s.p[i] || !strchr(characters, s.p[i]))
            return false;
    return s.n > 0;
}

static bool known_value(const struct column *c, struct slice text)
{
    struct slice rest = text, w;

    if (value_kind(c->type) != KIND_LIST)
        return slice_among(c->values, c->nvalues, text);
    while (slice_next_word(&rest, " ", &w))
        if (!slice_among(c->values, c->nvalues, w))
            return false;
    return true;
}

/* What the column wants instead, or NULL when the value can stand there. */
static const char *wants(const struct lint *l, const struct column *c, struct slice text)
{
    struct slice near = nothing;
    unsigned least = 4;
    int64_t number;
    int order;

    if (slice_eqz(text, "?") || slice_eqz(text, "-"))
        return NULL;
    if (c->nvalues && !known_value(c, text)) {
        for (unsigned i = 0; i < c->nvalues; i++)
            if (slice_distance(text, c->values[i]) < least) {
                least = slice_distance(text, c->values[i]);
                near = c->values[i];
            }
        return near.n ? arena_printf(l->arena, "one of its words; did you mean \"" SLICE_FMT "\"?", SLICE_ARG(near)) : "one of its words";
    }
    switch (c->type) {
    case VT_BOOL:
        return slice_eqz(text, "yes") || slice_eqz(text, "no") || slice_eqz(text, "true") || slice_eqz(text, "false") ? NULL : "yes or no";
    case VT_INT:
        return num_parse_i64(text, &number) == 0 ? NULL
               : c->unit.n                       ? arena_printf(l->arena, "a number of " SLICE_FMT ", without the unit", SLICE_ARG(c->unit))
                                                 : "a number";
    case VT_VERSION:
        return version_order(text, text, c->scheme, &order) == 0 ? NULL : "a version";
    case VT_DATE:
        return rule_date(text) ? NULL : "a date, YYYY-MM-DD";
    case VT_HEX:
        return only_of(text, "0123456789abcdefABCDEF") ? NULL : "hexadecimal digits without 0x";
    case VT_PCI:
        return only_of(text, "0123456789abcdefABCDEF:.") ? NULL : "an address such as 0000:00:1f.2";
    case VT_NAME:
    case VT_TEXT:
    case VT_TIME:
    case VT_LIST:
    case VT_REF:
    case VT_REFS:
        break;
    }
    return NULL;
}

/* A flat attribute of another table's column: wrong only when no table could hold it. */
static const char *wants_anywhere(const struct lint *l, unsigned table, bool flat, struct slice name, struct slice text)
{
    const struct schema *s = l->rules->schema;
    int c = table_column(&s->tables[table], name);
    const char *why = NULL;

    if (c >= 0)
        return wants(l, &s->tables[table].columns[c], text);
    for (unsigned t = 0; flat && t < s->ntables; t++) {
        c = table_column(&s->tables[t], name);
        if (c < 0)
            continue;
        why = wants(l, &s->tables[t].columns[c], text);
        if (!why)
            return NULL;
    }
    return why;
}

static bool reserved(struct slice name)
{
    static const char *const words[] = {"esxi", "upgrade-to", "partial", "complete", "pci"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_eqz(name, words[i]))
            return true;
    return false;
}

static void check_tables(struct lint *l, const struct rule *r, const struct example *x, const char *attribute, struct slice names)
{
    struct slice w;

    while (slice_next_word(&names, " ", &w))
        if (schema_table(l->rules->schema, w) < 0)
            lint_say(l, r, SPOT(x, slice_of(attribute)), true, "%s names no table: \"" SLICE_FMT "\"%s" SLICE_FMT "%s", attribute, SLICE_ARG(w),
                     schema_near_table(l->rules->schema, w).n ? "; did you mean \"" : "", SLICE_ARG(schema_near_table(l->rules->schema, w)),
                     schema_near_table(l->rules->schema, w).n ? "\"?" : "");
}

static unsigned check_values(struct lint *l, const struct rule *r, const struct example_row *row, bool flat)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < row->n; i++) {
        const char *why = flat && reserved(row->names[i]) ? NULL : wants_anywhere(l, row->table, flat, row->names[i], row->values[i]);

        if (why) {
            lint_say(l, r, SPOT(row, row->names[i]), true, SLICE_FMT "=\"" SLICE_FMT "\": the column wants %s", SLICE_ARG(row->names[i]),
                     SLICE_ARG(row->values[i]), why);
            wrong++;
        }
    }
    for (unsigned i = 0; i < row->nkids; i++)
        wrong += check_values(l, r, row->kids[i], false);
    return wrong;
}

/* --- results --- */

static void run(struct lint *l, const struct rule *r, const struct example *x)
{
    static const char *const gives[] = {"no finding", "unsure", "a finding"};
    struct example_result got = {0};
    struct err e = {0};
    const char *msg = e.msg;
    char prefix[300];
    struct arena *scratch = arena_new(MAX_EXAMPLE); /* ten thousand rules have forty thousand examples */
    int rc = example_run(l->rules, r, x, scratch, &got, &e);

    arena_free(scratch);
    if (rc < 0) {
        (void)snprintf(prefix, sizeof prefix, "%s:%u: ", r->file, x->line);
        msg += strncmp(msg, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
        lint_say(l, r, SPOT(x, ELEMENT), true, "%s", msg);
    } else if (!got.passed) {
        lint_say(l, r, SPOT(x, ELEMENT), true, "this example says %s, but gives %s; \"vmkfit rules test\" shows what decided", example_kind_name(x->kind),
                 gives[got.got]);
    }
}

void lint_examples(struct lint *l, const struct rule *r)
{
    for (unsigned i = 0; i < r->nexamples; i++) {
        const struct example *x = &r->examples[i];
        size_t had = l->n;

        check_release(l, r, x, "esxi", x->esxi);
        check_release(l, r, x, "upgrade-to", x->upgrade_to);
        check_tables(l, r, x, "partial", x->partial);
        for (unsigned k = 0; k < x->flat.n; k++)
            if (slice_eqz(x->flat.names[k], "complete"))
                check_tables(l, r, x, "complete", x->flat.values[k]);
        if (check_values(l, r, &x->flat, true) == 0 && l->n == had && !l->without_results)
            run(l, r, x);
    }
}
