#include "core/example.h"

#include "base/buf.h"
#include "core/derive.h"

struct building {
    const struct ruleset *rs;
    const struct rule *rule;
    const struct example *x;
    struct facts *f;
    bool given[SCHEMA_MAX_TABLES]; /* tables that have rows of the example */
    unsigned serial;
};

const char *example_kind_name(enum example_kind k)
{
    return k == EXAMPLE_MATCHES ? "matches" : k == EXAMPLE_IGNORES ? "ignores" : "unsure";
}

static const struct table *table_of(const struct building *b, unsigned t)
{
    return &b->rs->schema->tables[t];
}

static int bad(const struct building *b, struct err *e, struct slice name, struct slice near)
{
    return err_set(e, VF_EFORMAT, "%s:%u: example names \"" SLICE_FMT "\", which is no column here%s" SLICE_FMT "%s", b->rule->file, b->x->line,
                   SLICE_ARG(name), near.n ? "; did you mean \"" : "", SLICE_ARG(near.n ? near : SLICE_LIT("")), near.n ? "\"?" : "");
}

/* A text to a cell: "?" unknown, "-" absent, else by type. */
static struct value cell_of(struct building *b, const struct column *c, struct slice text)
{
    struct arena *a = b->f->arena;
    struct slice *list, rest = text, w;
    size_t n = 0;
    int64_t i;

    if (slice_eqz(text, "?"))
        return value_unknown("the example leaves it open");
    if (slice_eqz(text, "-"))
        return value_absent();
    switch (value_kind(c->type)) {
    case KIND_BOOL:
        return value_bool(slice_eqz(text, "yes") || slice_eqz(text, "true"));
    case KIND_INT:
        return num_parse_i64(text, &i) < 0 ? value_unknown("not a number") : value_int(i);
    case KIND_LIST:
        list = arena_array(a, text.n + 1, sizeof *list);
        while (list && slice_next_word(&rest, " ", &w))
            list[n++] = w;
        return value_list(list, n);
    case KIND_TEXT:
        break;
    }
    return value_slice(text);
}

/* A PCI class of six digits is class and programming interface. */
static void set_class(struct building *b, struct row *r, struct slice text)
{
    const struct table *t = table_of(b, r->table);

    r->cells[table_column(t, SLICE_LIT("class"))] = value_slice(slice_cut(text, 0, 4));
    if (text.n == 6)
        r->cells[table_column(t, SLICE_LIT("prog-if"))] = value_slice(slice_from(text, 4));
}

static bool set(struct building *b, struct row *r, struct slice name, struct slice text)
{
    const struct table *t = table_of(b, r->table);
    int c = table_column(t, name);

    if (c < 0)
        return false;
    if (slice_eqz(t->name, "pci") && slice_eqz(name, "class"))
        set_class(b, r, text);
    else
        r->cells[c] = cell_of(b, &t->columns[c], text);
    return true;
}

static struct row *new_row(struct building *b, unsigned table, struct slice key)
{
    const struct table *t = table_of(b, table);
    struct row *r;

    b->given[table] = true;
    if (!key.n && !t->single)
        key = slice_of(arena_printf(b->f->arena, "example-%u", ++b->serial));
    r = facts_row(b->f, table, t->single ? (struct slice){NULL, 0} : key);
    if (r && !t->single && t->nkeys == 1)
        r->cells[t->keys[0]] = t->columns[t->keys[0]].type == VT_INT ? value_int((int64_t)b->serial) : value_slice(key);
    return r;
}

/* Make row a lead to row b over one step of the schema. */
static void link_step(struct building *b, struct row *from, struct row *to, const struct step *st)
{
    struct row *holder = st->backward ? to : from;
    struct slice key = st->backward ? from->key : to->key, *list;
    const struct column *c = &table_of(b, holder->table)->columns[st->column];
    struct value *v = &holder->cells[st->column];

    if (c->type == VT_REF) {
        *v = value_slice(key);
        return;
    }
    list = arena_array(b->f->arena, v->nlist + 1, sizeof *list);
    if (!list)
        return;
    if (v->nlist)
        memcpy(list, v->list, v->nlist * sizeof *list);
    list[v->nlist] = key;
    *v = value_list(list, v->nlist + 1);
}

/* The row of another table that the subject leads to, made with the rows between where it is not there. */
static struct row *related(struct building *b, struct row *subject, unsigned table, struct slice key)
{
    struct step steps[SCHEMA_MAX_STEPS];
    int n = schema_relate(b->rs->schema, (int)subject->table, (int)table, steps);
    struct row *at = subject, *next;

    if (n <= 0)
        return new_row(b, table, key);
    for (int i = 0; i < n; i++) {
        const struct value *v = &at->cells[steps[i].column];

        next = NULL;
        if (i + 1 < n && !steps[i].backward && v->state == VS_KNOWN && !v->list)
            next = facts_row(b->f, (unsigned)steps[i].table, v->s);
        if (!next)
            next = new_row(b, (unsigned)steps[i].table, i + 1 == n ? key : (struct slice){NULL, 0});
        if (!next)
            return NULL;
        link_step(b, at, next, &steps[i]);
        b->given[steps[i].table] = true;
        at = next;
    }
    return at;
}

/* Tables that the rule's conditions look at through references. */
static void mentioned(const struct cond *c, bool *tables)
{
    if (!c)
        return;
    if (c->kind == COND_ROW && c->scope == SCOPE_RELATED)
        tables[c->table] = true;
    if (c->kind == COND_COMPARE) {
        mentioned(c->left, tables);
        mentioned(c->right, tables);
    }
    for (unsigned i = 0; i < c->nkids; i++)
        mentioned(c->kids[i], tables);
}

static int add_rows(struct building *b, struct row *parent, const struct example_row *x, struct err *e);

static struct slice key_given(const struct building *b, const struct example_row *x)
{
    const struct table *t = table_of(b, x->table);

    for (unsigned i = 0; i < x->n && t->nkeys == 1; i++)
        if (slice_eq(x->names[i], t->columns[t->keys[0]].name))
            return x->values[i];
    return (struct slice){NULL, 0};
}

static int fill_row(struct building *b, struct row *r, const struct example_row *x, struct err *e)
{
    for (unsigned i = 0; i < x->n; i++)
        if (!set(b, r, x->names[i], x->values[i]))
            return bad(b, e, x->names[i], table_near_column(table_of(b, x->table), x->names[i]));
    return add_rows(b, r, x, e);
}

static int add_rows(struct building *b, struct row *parent, const struct example_row *x, struct err *e)
{
    for (unsigned i = 0; i < x->nkids; i++) {
        const struct example_row *kid = x->kids[i];
        struct row *r = table_of(b, kid->table)->single ? new_row(b, kid->table, (struct slice){NULL, 0})
                                                        : related(b, parent, kid->table, key_given(b, kid));

        if (!r)
            return err_set(e, VF_ELIMIT, "%s:%u: no room for the example", b->rule->file, b->x->line);
        if (fill_row(b, r, kid, e) < 0)
            return e->code;
    }
    return 0;
}

static bool reserved(struct slice name)
{
    static const char *const words[] = {"esxi", "upgrade-to", "partial", "complete"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_eqz(name, words[i]))
            return true;
    return false;
}

/* One flat attribute: on the subject and on the related rows that have such a column. */
static int flat(struct building *b, struct row *subject, struct row **rows, struct slice name, struct slice value, struct err *e)
{
    bool used = false;

    if (slice_eqz(name, "pci")) {
        unsigned t = facts_table_index(b->f, "pci");
        struct row *r = subject->table == t ? subject : rows[t] ? rows[t] : related(b, subject, t, (struct slice){NULL, 0});

        rows[t] = r;
        return r && set(b, r, SLICE_LIT("id"), value) ? 0 : bad(b, e, name, (struct slice){NULL, 0});
    }
    used = set(b, subject, name, value);
    for (unsigned t = 0; t < b->rs->schema->ntables; t++)
        if (rows[t] && rows[t] != subject && !(used && slice_eqz(name, "name")))
            used |= set(b, rows[t], name, value);
    return used ? 0 : bad(b, e, name, table_near_column(table_of(b, subject->table), name));
}

static int build(struct building *b, struct row **subject, struct err *e)
{
    const struct example_row *x = &b->x->flat;
    struct row *rows[SCHEMA_MAX_TABLES] = {NULL};
    bool tables[SCHEMA_MAX_TABLES] = {false};
    const struct example_row *own = NULL;

    for (unsigned i = 0; i < x->nkids; i++) /* the subject as an element of its own, or the flat form */
        if (x->kids[i]->table == b->rule->subject && !own)
            own = x->kids[i];
    *subject = new_row(b, b->rule->subject, own ? key_given(b, own) : key_given(b, x));
    if (!*subject)
        return err_set(e, VF_ELIMIT, "%s:%u: no room for the example", b->rule->file, b->x->line);
    mentioned(b->rule->when, tables);
    mentioned(b->rule->bad, tables);
    for (unsigned i = 0; i < b->rule->ngood; i++)
        mentioned(b->rule->good[i].cond, tables);
    for (unsigned t = 0; t < b->rs->schema->ntables && x->nkids == 0; t++)
        for (unsigned i = 0; i < x->n && tables[t] && !rows[t]; i++)
            if (table_column(table_of(b, t), x->names[i]) >= 0 || (slice_eqz(table_of(b, t)->name, "pci") && slice_eqz(x->names[i], "pci")))
                rows[t] = related(b, *subject, t, (struct slice){NULL, 0});
    for (unsigned i = 0; i < x->n; i++)
        if (!reserved(x->names[i]) && flat(b, *subject, rows, x->names[i], x->values[i], e) < 0)
            return e->code;
    if (own && fill_row(b, *subject, own, e) < 0)
        return e->code;
    for (unsigned i = 0; i < x->nkids; i++) {
        struct example_row only = {.table = b->rule->subject, .kids = (const struct example_row *[]){x->kids[i]}, .nkids = 1};

        if (x->kids[i] != own && add_rows(b, *subject, &only, e) < 0)
            return e->code;
    }
    return 0;
}

static struct slice attribute(const struct example *x, const char *name)
{
    for (unsigned i = 0; i < x->flat.n; i++)
        if (slice_eqz(x->flat.names[i], name))
            return x->flat.values[i];
    return (struct slice){NULL, 0};
}

static bool lists(struct slice words, struct slice word)
{
    struct slice w;

    while (slice_next_word(&words, " ", &w))
        if (slice_eq(w, word))
            return true;
    return false;
}

static void set_tables(struct building *b)
{
    struct slice whole = attribute(b->x, "complete");

    for (unsigned t = 0; t < b->rs->schema->ntables; t++) {
        struct slice name = table_of(b, t)->name;
        bool log = slice_eqz(name, "log") && !b->given[t] && !lists(whole, name);

        facts_set_table(b->f, t, lists(b->x->partial, name) ? TS_PARTIAL : log ? TS_UNKNOWN : TS_COMPLETE,
                        lists(b->x->partial, name) ? "the example calls it partial" : log ? "not collected" : NULL);
    }
}

static int set_release(struct building *b, struct slice text, struct err *e)
{
    struct row *esxi = facts_row(b->f, facts_table_index(b->f, "esxi"), (struct slice){NULL, 0});
    struct slice rest = text, name, build;
    struct release r;

    if (!slice_next_word(&rest, " ", &name))
        return 0;
    if (release_parse(name, &r, e) < 0)
        return err_ctx(e, "%s:%u", b->rule->file, b->x->line);
    if (r.update < 0)
        r.update = 0;
    if (slice_next_word(&rest, " ", &build) && (num_parse_u64(build, &r.build) < 0 || r.build == 0))
        return err_set(e, VF_EFORMAT, "%s:%u: behind the release stands the number of a build, not \"" SLICE_FMT "\"", b->rule->file, b->x->line,
                       SLICE_ARG(build));
    for (size_t i = 0; i < b->rs->builds->n && !r.build; i++) {
        const struct release *known = &b->rs->builds->v[i].name;

        if (known->major == r.major && known->minor == r.minor && known->update == r.update && known->letter == r.letter)
            r.build = known->build;
    }
    b->f->release = r;
    (void)set(b, esxi, SLICE_LIT("release"), name);
    if (r.build)
        (void)set(b, esxi, SLICE_LIT("build"), slice_of(arena_printf(b->f->arena, "%llu", (unsigned long long)r.build)));
    return 0;
}

/* What an example does not have in the log is not in a long one. */
static void set_log_span(struct building *b)
{
    const struct row *host = facts_single(b->f, "host");

    if (facts_cell(b->f, host, "log-minutes")->state == VS_UNKNOWN)
        derive_set(b->f, host, "log-minutes", value_int(7 * 24 * 60));
}

int example_run(const struct ruleset *rs, const struct rule *r, const struct example *x, struct arena *a, struct example_result *out,
                struct err *e)
{
    struct building b = {.rs = rs, .rule = r, .x = x, .f = facts_new(rs->schema, a)};
    struct match_ctx m = {.rules = rs, .facts = b.f, .arena = a};
    struct row *subject;
    struct finding f;
    enum tri when;

    if (!b.f)
        return err_set(e, VF_ELIMIT, "%s:%u: no room for the example", r->file, x->line);
    if (build(&b, &subject, e) < 0 || set_release(&b, x->esxi, e) < 0)
        return e->code;
    if (x->upgrade_to.n && release_parse(x->upgrade_to, &m.upgrade_to, e) < 0)
        return err_ctx(e, "%s:%u", r->file, x->line);
    set_tables(&b);
    set_log_span(&b);
    match_rule(&m, r, subject, &f, &when);
    out->got = f.result;
    out->passed = f.result == (x->kind == EXAMPLE_MATCHES ? TRI_TRUE : x->kind == EXAMPLE_IGNORES ? TRI_FALSE : TRI_UNKNOWN);
    out->decided = match_decided(b.f, &f, a);
    return 0;
}
