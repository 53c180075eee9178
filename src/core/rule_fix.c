#include "core/rule_load.h"

/* Loading of what follows a finding: fixes with their actions, and examples. */

#define FIX_MAX_STEPS 32u

static const struct slice nothing = {NULL, 0};

/* "${device.queue-depth}" of a rule about devices. */
static bool subject_cell(const struct rule_loading *l, struct slice text)
{
    const struct table *t = &l->schema->tables[l->rule->subject];
    struct slice inner = slice_cut(text, 2, text.n > 3 ? text.n - 3 : 0);
    size_t dot = slice_find_char(inner, 0, '.');

    return slice_ends(text, "}") && dot != SIZE_MAX && slice_eq(slice_cut(inner, 0, dot), t->name) &&
           table_column(t, slice_from(inner, dot + 1)) >= 0;
}

static int load_action(struct rule_loading *l, struct fix_action *fa, struct err *e)
{
    struct slice element = arena_dup(l->a, slice_of(xml_name(l->x))), name, value;
    const struct action *act = action_find(element);

    if (!act) {
        struct slice near = nothing;
        unsigned least = 4;

        for (const struct action *a = actions; a->name; a++)
            if (slice_distance(element, slice_of(a->name)) < least) {
                least = slice_distance(element, slice_of(a->name));
                near = slice_of(a->name);
            }
        return rule_fail(l, e, near, "unknown action \"" SLICE_FMT "\"; a rule names actions, it never holds commands", SLICE_ARG(element));
    }
    fa->action = act;
    fa->line = xml_line(l->x);
    fa->at = (uint32_t)xml_offset(l->x);
    for (unsigned i = 0; xml_attr_at(l->x, i, &name, &value); i++) {
        unsigned k = 0;

        while (k < ACTION_MAX_ARGS && act->args[k].name && !slice_eqz(name, act->args[k].name))
            k++;
        if (k == ACTION_MAX_ARGS || !act->args[k].name)
            return rule_fail(rule_at(l, name.p), e, nothing, "%s has no argument \"" SLICE_FMT "\"", act->name, SLICE_ARG(name));
        if (slice_starts(value, "${") && !subject_cell(l, value))
            return rule_fail(rule_at(l, name.p), e, nothing, "%s: \"" SLICE_FMT "\" is no cell of the subject, which is written ${" SLICE_FMT ".COLUMN}", act->name,
                             SLICE_ARG(value), SLICE_ARG(l->schema->tables[l->rule->subject].name));
        if (!slice_starts(value, "${") && !action_arg_fits(&act->args[k], value))
            return rule_fail(rule_at(l, name.p), e, nothing, "%s: %s wants %s (%s), not \"" SLICE_FMT "\"", act->name, act->args[k].name,
                             action_arg_form(act->args[k].kind), act->args[k].doc, SLICE_ARG(value));
        fa->values[k] = arena_dup(l->a, value);
    }
    for (unsigned k = 0; k < ACTION_MAX_ARGS && act->args[k].name; k++)
        if (!act->args[k].optional && fa->values[k].n == 0)
            return rule_fail(l, e, nothing, "%s wants %s: %s", act->name, act->args[k].name, act->args[k].doc);
    for (unsigned k = 0; k < ACTION_MAX_ARGS && act->args[k].name; k++)
        if (act->args[k].kind == ARG_DEVICE && fa->values[k].n == 0 && !slice_eqz(l->schema->tables[l->rule->subject].name, "device"))
            return rule_fail(l, e, nothing, "%s wants device here: only a rule about device rows may leave it out", act->name);
    return rule_no_children(l, act->name, e);
}

/* All that several <require> say must hold. */
static int load_require(struct rule_loading *l, struct fix *f, struct err *e)
{
    const struct cond *more = NULL, **kids = arena_array(l->a, 2, sizeof *kids);
    struct cond *all;

    if (rule_only(l, "require", NULL, e) < 0 || rule_load_group(l, "require", &more, e) < 0)
        return e->code;
    if (!more)
        return rule_fail(l, e, nothing, "<require> says nothing");
    if (!f->require) {
        f->require = more;
        return 0;
    }
    all = rule_new_cond(l, COND_ALL);
    if (!all || !kids)
        return rule_full(l, e);
    kids[0] = f->require;
    kids[1] = more;
    all->kids = kids;
    all->nkids = 2;
    f->require = all;
    return 0;
}

int rule_load_fix(struct rule_loading *l, struct fix *f, struct err *e)
{
    static const char *const known[] = {"id", "risk", NULL};
    struct slice advise[FIX_MAX_STEPS], risk = rule_attr(l, "risk");
    struct fix_action acts[FIX_MAX_STEPS];
    enum xml_event ev;

    f->id = rule_attr(l, "id");
    f->line = xml_line(l->x);
    f->at = (uint32_t)xml_offset(l->x);
    f->risk = risk_rank(risk);
    if (rule_only(l, "fix", known, e) < 0)
        return e->code;
    if (f->id.n == 0)
        return rule_fail(l, e, nothing, "fix wants an id");
    if (f->risk < 0)
        return rule_fail(rule_at(l, "risk"), e, nothing, "risk must be none, low, live, path, reboot, boot or data, not \"" SLICE_FMT "\"", SLICE_ARG(risk));
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        const char *element = xml_name(l->x);
        int rc;

        if (ev == XML_BROKEN)
            return e->code;
        if (ev == XML_TEXT)
            return rule_fail(l, e, nothing, "fix holds elements, not text; put words into <advise>");
        if (f->nadvise == FIX_MAX_STEPS || f->nactions == FIX_MAX_STEPS)
            return rule_fail(l, e, nothing, "too many steps in a fix");
        if (strcmp(element, "advise") == 0) {
            advise[f->nadvise] = nothing;
            rc = rule_load_text(l, "advise", &advise[f->nadvise++], NULL, NULL, e);
            if (rc == 0 && advise[f->nadvise - 1].n == 0)
                return rule_fail(l, e, nothing, "advise says nothing");
        } else if (strcmp(element, "require") == 0) {
            rc = load_require(l, f, e);
        } else if (strcmp(element, "then") == 0) {
            rc = f->then ? rule_fail(l, e, nothing, "a second <then>; one holds all that must be true afterwards")
                         : rule_load_tests(l, &l->schema->tables[l->rule->subject], NULL, &f->then, &f->nthen, e);
            rc = rc < 0 ? rc : rule_no_children(l, "then", e);
        } else {
            acts[f->nactions] = (struct fix_action){.action = NULL};
            rc = load_action(l, &acts[f->nactions++], e);
        }
        if (rc < 0)
            return rc;
    }
    f->actions = rule_keep(l->a, acts, f->nactions, sizeof *acts);
    f->advise = rule_keep(l->a, advise, f->nadvise, sizeof *advise);
    if (f->nactions + f->nadvise == 0)
        return rule_fail(l, e, nothing, "fix \"" SLICE_FMT "\" does nothing: it wants an action or <advise>", SLICE_ARG(f->id));
    return 0;
}

/* --- examples --- */

/* "pci" of the flat form, "id" of a row of the table pci; "?" and "-" leave it open or say that it is absent. */
static bool names_pci_id(const struct rule_loading *l, const struct example_row *r, bool flat, struct slice name)
{
    return (flat && slice_eqz(name, "pci")) || (slice_eqz(name, "id") && slice_eqz(l->schema->tables[r->table].name, "pci"));
}

static bool pci_id_form(struct slice v)
{
    struct slice part;
    unsigned n = 0;
    uint64_t number;

    if (slice_eqz(v, "?") || slice_eqz(v, "-"))
        return true;
    for (; slice_next_word(&v, ":", &part); n++)
        if (part.n != 4 || num_parse_hex(part, 4, &number) < 0)
            return false;
    return n >= 2 && n <= 4;
}

static int load_example_row(struct rule_loading *l, struct example_row *r, const char *element, bool flat, struct err *e)
{
    struct slice names[RULE_MAX_TESTS], values[RULE_MAX_TESTS], name, value;
    const struct example_row *kids[RULE_MAX_KIDS];
    bool keep = !l->rules->without_examples;
    enum xml_event ev;

    r->line = xml_line(l->x);
    r->at = (uint32_t)xml_offset(l->x);
    for (unsigned i = 0; xml_attr_at(l->x, i, &name, &value); i++) {
        if (r->n == RULE_MAX_TESTS)
            return rule_fail(l, e, nothing, "too many attributes");
        if (names_pci_id(l, r, flat, name) && !pci_id_form(value))
            return rule_fail(rule_at(l, name.p), e, nothing, SLICE_FMT " wants 8086:9d03 or 1000:005d:1028:1f49, not \"" SLICE_FMT "\"; use colons",
                             SLICE_ARG(name), SLICE_ARG(value));
        if (keep)
            (void)rule_keep_pair(l->a, &name, &value);
        names[r->n] = name;
        values[r->n++] = value;
    }
    if (keep) {
        r->names = rule_keep(l->a, names, r->n, sizeof *names);
        r->values = rule_keep(l->a, values, r->n, sizeof *values);
    }
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        struct example_row dropped = {0}, *kid = keep ? arena_alloc(l->a, sizeof *kid) : &dropped;
        struct slice table = slice_of(ev == XML_OPEN ? xml_name(l->x) : "");
        int t = schema_table(l->schema, table);

        if (ev == XML_BROKEN)
            return e->code;
        if (ev == XML_TEXT || !kid || r->nkids == RULE_MAX_KIDS)
            return rule_fail(l, e, nothing, "<%s> holds rows of tables, not text", element);
        if (t < 0)
            return rule_fail(l, e, schema_near_table(l->schema, table), "unknown table \"" SLICE_FMT "\" in an example", SLICE_ARG(table));
        kid->table = (unsigned)t;
        kids[r->nkids++] = kid;
        if (load_example_row(l, kid, "example", false, e) < 0)
            return e->code;
    }
    if (keep)
        r->kids = rule_keep(l->a, kids, r->nkids, sizeof *kids);
    return 0;
}

int rule_load_example(struct rule_loading *l, struct example *x, enum example_kind kind, const char *element, struct err *e)
{
    x->kind = kind;
    x->line = xml_line(l->x);
    x->at = (uint32_t)xml_offset(l->x);
    if (!l->rules->without_examples) {
        x->esxi = rule_attr(l, "esxi");
        x->upgrade_to = rule_attr(l, "upgrade-to");
        x->partial = rule_attr(l, "partial");
    }
    x->flat.table = l->rule->subject;
    return load_example_row(l, &x->flat, element, true, e);
}
