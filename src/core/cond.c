#include "core/cond.h"

/* --- tests --- */

/* "8086:8c02" against "8086:8c02:15d9:086d": equal in the parts that the rule gives; open when the host's id is shorter. */
static enum tri id_fits(struct slice wanted, struct slice have)
{
    struct slice w, h;

    while (slice_next_word(&wanted, ":", &w)) {
        if (!slice_next_word(&have, ":", &h))
            return TRI_UNKNOWN;
        if (!slice_eqz(w, "*") && !slice_ieq(w, h))
            return TRI_FALSE;
    }
    return TRI_TRUE;
}

static bool column_is(const struct table *t, unsigned column, const char *table, const char *name)
{
    return slice_eqz(t->name, table) && slice_eqz(t->columns[column].name, name);
}

static enum tri class_fits(const struct eval *ev, struct slice wanted, struct slice have, const struct row *r)
{
    const struct value *pi;

    if (wanted.n <= 4)
        return slice_eq(slice_cut(have, 0, wanted.n), wanted) ? TRI_TRUE : TRI_FALSE;
    if (!slice_eq(slice_cut(wanted, 0, 4), have))
        return TRI_FALSE;
    pi = facts_cell(ev->facts, r, "prog-if");
    return pi->state != VS_KNOWN ? TRI_UNKNOWN : slice_eq(slice_from(wanted, 4), pi->s) ? TRI_TRUE : TRI_FALSE;
}

static enum tri is_value(const struct eval *ev, const struct table *t, const struct test *x, const struct row *r, struct slice wanted)
{
    const struct column *c = &t->columns[x->column];
    const struct value *v = &r->cells[x->column];
    int64_t number;

    switch (c->type) {
    case VT_BOOL:
        return (v->i != 0) == (slice_eqz(wanted, "yes") || slice_eqz(wanted, "true")) ? TRI_TRUE : TRI_FALSE;
    case VT_INT:
        return num_parse_i64(wanted, &number) == 0 && number == v->i ? TRI_TRUE : TRI_FALSE;
    case VT_LIST:
    case VT_REFS:
        for (size_t i = 0; i < v->nlist; i++)
            if (slice_glob(wanted, v->list[i]))
                return TRI_TRUE;
        return TRI_FALSE;
    case VT_HEX:
        if (column_is(t, x->column, "pci", "class"))
            return class_fits(ev, wanted, v->s, r);
        return slice_ieq(wanted, v->s) ? TRI_TRUE : TRI_FALSE;
    case VT_TEXT:
        if (column_is(t, x->column, "pci", "id"))
            return id_fits(wanted, v->s);
        return slice_glob(wanted, v->s) ? TRI_TRUE : TRI_FALSE;
    case VT_NAME:
    case VT_VERSION:
    case VT_DATE:
    case VT_TIME:
    case VT_PCI:
    case VT_REF:
        return slice_glob(wanted, v->s) ? TRI_TRUE : TRI_FALSE;
    }
    return TRI_UNKNOWN;
}

static enum tri ordered(const struct eval *ev, const struct column *c, const struct test *x, const struct value *v, const char **why)
{
    int order;

    if (c->scheme == SCHEME_ESXI) {
        if (release_order(ev->builds, &ev->facts->release, &x->release, &order) < 0) {
            *why = "the host's release is not known closely enough";
            return TRI_UNKNOWN;
        }
    } else if (version_order(v->s, x->values[0], c->scheme, &order) < 0) {
        *why = "the two versions cannot be ordered";
        return TRI_UNKNOWN;
    }
    return (x->op == TEST_BEFORE ? order < 0 : order >= 0) ? TRI_TRUE : TRI_FALSE;
}

enum tri test_cell(const struct eval *ev, const struct table *t, const struct test *x, const struct row *r, const char **why)
{
    const struct column *c = &t->columns[x->column];
    const struct value *v = &r->cells[x->column];
    enum tri any = TRI_FALSE;

    *why = NULL;
    /* a release is compared by version, update and build, which may be known when its name is not */
    if (v->state == VS_UNKNOWN &&
        !(c->scheme == SCHEME_ESXI && c->type == VT_VERSION && ev->facts->release.major && x->op != TEST_ABSENT)) {
        *why = v->why ? v->why : "no answer that was read tells it";
        return TRI_UNKNOWN;
    }
    if (x->op == TEST_ABSENT)
        return (v->state == VS_ABSENT) == x->wanted ? TRI_TRUE : TRI_FALSE;
    if (v->state == VS_ABSENT)
        return TRI_FALSE;
    switch (x->op) {
    case TEST_IS:
        for (unsigned i = 0; i < x->nvalues; i++)
            any = tri_or(any, is_value(ev, t, x, r, x->values[i]));
        if (any == TRI_UNKNOWN)
            *why = "the host's value is shorter than the rule's";
        return any;
    case TEST_FROM:
    case TEST_BEFORE:
        return ordered(ev, c, x, v, why);
    case TEST_ABOVE:
        return v->i > x->number ? TRI_TRUE : TRI_FALSE;
    case TEST_BELOW:
        return v->i < x->number ? TRI_TRUE : TRI_FALSE;
    case TEST_COVERS: {
        int covers = release_covers(ev->builds, &ev->facts->release, &x->release);

        if (covers < 0)
            *why = "the host's update level is not known";
        return covers < 0 ? TRI_UNKNOWN : covers ? TRI_TRUE : TRI_FALSE;
    }
    case TEST_ABSENT:
        break;
    }
    return TRI_UNKNOWN;
}

/* --- trace --- */

static void note(const struct eval *ev, struct step_taken s)
{
    struct trace *t = ev->trace;
    void *v;

    if (!t)
        return;
    v = t->v;
    if (arena_grow(t->arena, &v, t->n, &t->cap, sizeof s, 100000) < 0)
        return;
    t->v = v;
    t->v[t->n++] = s;
}

static enum tri test_row(const struct eval *ev, const struct cond *c, const struct row *r)
{
    const struct table *t = &ev->facts->schema->tables[c->table];
    enum tri all = TRI_TRUE;

    for (unsigned i = 0; i < c->ntests; i++) {
        const char *why;
        enum tri one = test_cell(ev, t, &c->tests[i], r, &why);

        note(ev, (struct step_taken){.cond = c, .test = &c->tests[i], .row = r, .cell = &r->cells[c->tests[i].column], .result = one,
                                     .why = why});
        all = tri_and(all, one);
        if (all == TRI_FALSE && !ev->trace)
            return all;
    }
    return all;
}

/* --- rows --- */

struct stepping {
    const struct facts *f;
    const struct cond *c;
    rows_fn *fn;
    void *ctx;
    bool *closed;
    const char **why;
};

static void open_end(const struct stepping *s, const char *why)
{
    *s->closed = false;
    *s->why = why ? why : "not known";
}

static bool step_on(const struct stepping *s, const struct row *r, unsigned at);

static bool follow(const struct stepping *s, unsigned table, struct slice key, unsigned at)
{
    const struct row *next = facts_find(s->f, table, key);
    const char *why = NULL;

    if (!next) { /* named, but not in its table */
        (void)facts_table(s->f, table, &why);
        open_end(s, why ? why : "a row that another one names is not in its table");
        return true;
    }
    return step_on(s, next, at + 1);
}

static bool step_on(const struct stepping *s, const struct row *r, unsigned at)
{
    const struct step *st;
    const struct value *v;
    const char *why;

    if (at == s->c->nsteps)
        return s->fn(s->ctx, r);
    st = &s->c->steps[at];
    if (!st->backward) {
        v = &r->cells[st->column];
        if (v->state == VS_UNKNOWN)
            open_end(s, v->why);
        if (v->state != VS_KNOWN)
            return true;
        if (s->f->schema->tables[r->table].columns[st->column].type == VT_REF)
            return follow(s, (unsigned)st->table, v->s, at);
        for (size_t i = 0; i < v->nlist; i++)
            if (!follow(s, (unsigned)st->table, v->list[i], at))
                return false;
        return true;
    }
    if (facts_table(s->f, (unsigned)st->table, &why) != TS_COMPLETE)
        open_end(s, why);
    for (size_t i = 0; i < facts_count(s->f, (unsigned)st->table); i++) {
        const struct row *o = facts_at(s->f, (unsigned)st->table, i);
        bool hit = false;

        v = &o->cells[st->column];
        if (v->state == VS_UNKNOWN)
            open_end(s, v->why);
        if (v->state == VS_KNOWN && v->list)
            for (size_t k = 0; k < v->nlist; k++)
                hit |= slice_eq(v->list[k], r->key);
        else if (v->state == VS_KNOWN)
            hit = slice_eq(v->s, r->key);
        if (hit && !step_on(s, o, at + 1))
            return false;
    }
    return true;
}

void cond_rows(const struct facts *f, const struct cond *c, const struct row *subject, rows_fn *fn, void *ctx, bool *closed,
               const char **why)
{
    struct stepping s = {f, c, fn, ctx, closed, why};

    *closed = true;
    *why = NULL;
    switch (c->scope) {
    case SCOPE_SELF:
        (void)fn(ctx, subject);
        return;
    case SCOPE_SINGLE:
        (void)fn(ctx, facts_at(f, c->table, 0));
        return;
    case SCOPE_RELATED:
        (void)step_on(&s, subject, 0);
        return;
    case SCOPE_KEY:
    case SCOPE_ALL:
        if (facts_table(f, c->table, why) != TS_COMPLETE)
            *closed = false;
        for (size_t i = 0; i < facts_count(f, c->table); i++)
            if (!fn(ctx, facts_at(f, c->table, i)))
                return;
        return;
    }
}

unsigned cond_table(const struct cond *c)
{
    while (c->kind != COND_ROW && c->nkids)
        c = c->kids[0];
    return c->kind == COND_COMPARE ? c->left->table : c->table;
}

/* --- evaluation --- */

struct tally {
    const struct eval *ev;
    const struct cond *element;
    size_t yes, open, no;
    const struct value *first; /* COND_SAME */
    unsigned column;
    bool differ, stop_at_true;
};

#define NEAR_MISSES 3u /* rows that failed, kept in a trace: a VIB list has hundreds that are beside the point */

static bool count_row(void *ctx, const struct row *r)
{
    struct tally *t = ctx;
    size_t mark = t->ev->trace ? t->ev->trace->n : 0;
    enum tri one = test_row(t->ev, t->element, r);
    bool many = t->element->scope == SCOPE_KEY || t->element->scope == SCOPE_ALL || facts_count(t->ev->facts, t->element->table) > 8;

    t->yes += one == TRI_TRUE;
    t->open += one == TRI_UNKNOWN;
    t->no += one == TRI_FALSE;
    if (t->ev->trace && one == TRI_FALSE && (many || t->no > NEAR_MISSES) && t->element->ntests)
        t->ev->trace->n = mark;
    return !(t->stop_at_true && one == TRI_TRUE && !t->ev->trace);
}

static bool compare_row(void *ctx, const struct row *r)
{
    struct tally *t = ctx;
    enum tri one = test_row(t->ev, t->element, r);
    const struct value *v = &r->cells[t->column];
    const struct column *c = &t->ev->facts->schema->tables[r->table].columns[t->column];

    if (one == TRI_FALSE)
        return true;
    t->yes++;
    note(t->ev, (struct step_taken){.cond = t->element, .row = r, .cell = v, .why = v->why,
                                    .result = v->state == VS_UNKNOWN ? TRI_UNKNOWN : one});
    if (one == TRI_UNKNOWN || v->state == VS_UNKNOWN)
        t->open++;
    else if (!t->first)
        t->first = v;
    else if (!value_equal(c, t->first, v))
        t->differ = true;
    return true;
}

static enum tri eval_count(const struct cond *c, const struct tally *t, bool closed)
{
    enum tri below = TRI_TRUE, above = TRI_TRUE;
    int64_t least = (int64_t)t->yes, most = (int64_t)(t->yes + t->open);

    if (c->below >= 0)
        below = least >= c->below ? TRI_FALSE : closed && most < c->below ? TRI_TRUE : TRI_UNKNOWN;
    if (c->above >= 0)
        above = least > c->above ? TRI_TRUE : closed && most <= c->above ? TRI_FALSE : TRI_UNKNOWN;
    return tri_and(below, above);
}

static enum tri quantify(const struct cond *c, const struct tally *t, bool closed)
{
    switch (c->kind) {
    case COND_ROW:
    case COND_SOME:
        return t->yes ? TRI_TRUE : t->open || !closed ? TRI_UNKNOWN : TRI_FALSE;
    case COND_NONE:
        return t->yes ? TRI_FALSE : t->open || !closed ? TRI_UNKNOWN : TRI_TRUE;
    case COND_EVERY:
        return t->no ? TRI_FALSE : t->open || !closed ? TRI_UNKNOWN : t->yes ? TRI_TRUE : TRI_FALSE;
    case COND_COUNT:
        return eval_count(c, t, closed);
    case COND_SAME:
        return t->differ ? TRI_FALSE : t->open || !closed ? TRI_UNKNOWN : TRI_TRUE;
    case COND_ALL:
    case COND_ANY:
    case COND_COMPARE:
        break;
    }
    return TRI_UNKNOWN;
}

static enum tri eval_rows(const struct eval *ev, const struct cond *c, const struct row *subject)
{
    const struct cond *element = c->kind == COND_ROW ? c : c->kids[0];
    struct tally t = {.ev = ev, .element = element, .column = c->column, .stop_at_true = c->kind == COND_ROW || c->kind == COND_SOME};
    const char *why;
    bool closed;
    enum tri result;

    if (c->kind == COND_NONE && element->kind == COND_SAME) { /* not all of them agree */
        result = tri_not(cond_eval(ev, element, subject));
        note(ev, (struct step_taken){.cond = c, .result = result});
        return result;
    }
    cond_rows(ev->facts, element, subject, c->kind == COND_SAME ? compare_row : count_row, &t, &closed, &why);
    result = quantify(c, &t, closed);
    if (result == TRI_UNKNOWN && !closed)
        note(ev, (struct step_taken){.cond = c, .result = result, .why = why});
    else if (c->kind != COND_ROW || (t.yes + t.open == 0 && (t.no == 0 || element->scope == SCOPE_KEY || element->scope == SCOPE_ALL)))
        note(ev, (struct step_taken){.cond = c, .result = result});
    return result;
}

struct one_cell {
    const struct value *v;
    const struct row *row;
    unsigned column;
};

static bool take_cell(void *ctx, const struct row *r)
{
    struct one_cell *o = ctx;

    o->v = &r->cells[o->column];
    o->row = r;
    return false;
}

static enum tri eval_compare(const struct eval *ev, const struct cond *c, const struct row *subject)
{
    struct one_cell a = {.column = c->left->column}, b = {.column = c->right->column};
    const char *why;
    enum tri result = TRI_UNKNOWN;
    bool closed;

    cond_rows(ev->facts, c->left, subject, take_cell, &a, &closed, &why);
    cond_rows(ev->facts, c->right, subject, take_cell, &b, &closed, &why);
    if (a.v && b.v && a.v->state == VS_KNOWN && b.v->state == VS_KNOWN)
        result = (c->op == TEST_BELOW ? a.v->i < b.v->i : c->op == TEST_ABOVE ? a.v->i > b.v->i : a.v->i == b.v->i) ? TRI_TRUE : TRI_FALSE;
    else if (a.v && b.v && (a.v->state == VS_ABSENT || b.v->state == VS_ABSENT))
        result = TRI_FALSE;
    note(ev, (struct step_taken){.cond = c->left, .row = a.row, .cell = a.v, .result = result, .why = a.v ? a.v->why : why});
    note(ev, (struct step_taken){.cond = c->right, .row = b.row, .cell = b.v, .result = result, .why = b.v ? b.v->why : why});
    return result;
}

enum tri cond_eval(const struct eval *ev, const struct cond *c, const struct row *subject)
{
    enum tri all;

    if (!c)
        return TRI_TRUE;
    switch (c->kind) {
    case COND_ALL:
        all = TRI_TRUE;
        for (unsigned i = 0; i < c->nkids && (all != TRI_FALSE || ev->trace); i++)
            all = tri_and(all, cond_eval(ev, c->kids[i], subject));
        return all;
    case COND_ANY:
        all = TRI_FALSE;
        for (unsigned i = 0; i < c->nkids && (all != TRI_TRUE || ev->trace); i++)
            all = tri_or(all, cond_eval(ev, c->kids[i], subject));
        return all;
    case COND_COMPARE:
        return eval_compare(ev, c, subject);
    case COND_ROW:
    case COND_NONE:
    case COND_SOME:
    case COND_EVERY:
    case COND_COUNT:
    case COND_SAME:
        return eval_rows(ev, c, subject);
    }
    return TRI_UNKNOWN;
}
