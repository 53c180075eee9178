#include "core/lint_parts.h"

/* Conditions that contradict each other, so that a rule, or one alternative of it, can never hold. */

#define MAX_MUSTS 256u

/* Tests and quantified conditions that must hold together. */
struct must {
    const struct cond *c;
    const struct test *x; /* NULL: c is one that some row must pass (<some>, an element), or none may (<none>) */
};

struct never {
    struct lint *l;
    const struct rule *r;
    struct must v[MAX_MUSTS];
    unsigned n;
};

static const struct table *table_of(const struct lint *l, const struct cond *c)
{
    return &l->rules->schema->tables[c->table];
}

/* --- values --- */

static bool same_bool(struct slice a, struct slice b)
{
    return (slice_eqz(a, "yes") || slice_eqz(a, "true")) == (slice_eqz(b, "yes") || slice_eqz(b, "true"));
}

/* Is a PCI id, or a class, the beginning of the other. */
static bool leading(const struct table *t, const struct column *c)
{
    return slice_eqz(t->name, "pci") && (slice_eqz(c->name, "id") || slice_eqz(c->name, "class"));
}

static bool begins(struct slice text, struct slice with)
{
    return slice_ieq(slice_cut(text, 0, with.n), with);
}

/* Can one cell be both. */
static bool values_meet(const struct table *t, const struct column *c, struct slice a, struct slice b)
{
    size_t star_a = slice_find_char(a, 0, '*'), star_b = slice_find_char(b, 0, '*');
    int64_t x, y;

    if (c->type == VT_BOOL)
        return same_bool(a, b);
    if (c->type == VT_INT && num_parse_i64(a, &x) == 0 && num_parse_i64(b, &y) == 0)
        return x == y;
    if (leading(t, c) && (star_a != SIZE_MAX || star_b != SIZE_MAX))
        return true;
    if (leading(t, c))
        return a.n < b.n ? begins(b, a) : begins(a, b);
    if (star_a != SIZE_MAX && star_b != SIZE_MAX)
        return begins(a, slice_cut(b, 0, star_b < star_a ? star_b : star_a)) || star_a == 0 || star_b == 0;
    if (star_a != SIZE_MAX)
        return begins(b, slice_cut(a, 0, star_a));
    if (star_b != SIZE_MAX)
        return begins(a, slice_cut(b, 0, star_b));
    return slice_ieq(a, b);
}

static bool any_meets(const struct table *t, const struct column *c, const struct test *x, const struct test *y)
{
    for (unsigned i = 0; i < x->nvalues; i++)
        for (unsigned k = 0; k < y->nvalues; k++)
            if (values_meet(t, c, x->values[i], y->values[k]))
                return true;
    return false;
}

static int order_lines(const struct release *a, const struct release *b)
{
    return a->major != b->major ? a->major - b->major : a->minor - b->minor;
}

/* Is all that a covers at or after b; at or after b's end. */
static bool covered_from(const struct release *a, const struct release *b)
{
    return release_named_order(a, b) >= 0;
}

static bool covered_before(const struct release *a, const struct release *b)
{
    int line = order_lines(a, b);

    if (line || a->update < 0)
        return line < 0;
    if (a->update != (b->update > 0 ? b->update : 0))
        return a->update < b->update;
    return a->letter && a->letter < b->letter;
}

static bool covers(const struct release *a, const struct release *b)
{
    return order_lines(a, b) == 0 && (a->update < 0 || (a->update == (b->update > 0 ? b->update : 0) && (!a->letter || a->letter == b->letter)));
}

/* x and y are tests of one release. */
static bool releases_conflict(const struct test *x, const struct test *y)
{
    if (x->op == TEST_FROM && y->op == TEST_BEFORE)
        return release_named_order(&x->release, &y->release) >= 0;
    if (x->op == TEST_COVERS && y->op == TEST_COVERS)
        return !covers(&x->release, &y->release) && !covers(&y->release, &x->release);
    if (x->op == TEST_COVERS && y->op == TEST_FROM)
        return covered_before(&x->release, &y->release);
    if (x->op == TEST_COVERS && y->op == TEST_BEFORE)
        return covered_from(&x->release, &y->release);
    return false;
}

/* Is every value of an equality outside of a range. */
static bool all_outside(const struct column *c, const struct test *is, const struct test *range)
{
    for (unsigned i = 0; i < is->nvalues; i++) {
        int64_t n;
        int order;

        switch (range->op) {
        case TEST_FROM:
        case TEST_BEFORE:
            if (slice_find_char(is->values[i], 0, '*') != SIZE_MAX || version_order(is->values[i], range->values[0], c->scheme, &order) < 0 ||
                (range->op == TEST_FROM) == (order >= 0))
                return false;
            break;
        case TEST_ABOVE:
        case TEST_BELOW:
            if (num_parse_i64(is->values[i], &n) < 0 || (range->op == TEST_ABOVE ? n > range->number : n < range->number))
                return false;
            break;
        case TEST_IS:
        case TEST_COVERS:
        case TEST_ABSENT:
            return false;
        }
    }
    return true;
}

/* Can no cell pass both tests; they are of one column. */
static bool conflict(const struct table *t, const struct test *x, const struct test *y)
{
    const struct column *c = &t->columns[x->column];
    int order;

    if (x->op == TEST_ABSENT || y->op == TEST_ABSENT) {
        bool x_absent = x->op == TEST_ABSENT && x->wanted, y_absent = y->op == TEST_ABSENT && y->wanted;

        return x_absent != y_absent;
    }
    if (value_kind(c->type) == KIND_LIST)
        return false;
    if (c->scheme == SCHEME_ESXI && c->type == VT_VERSION && x->op != TEST_IS && y->op != TEST_IS)
        return releases_conflict(x, y) || releases_conflict(y, x);
    if (x->op == TEST_IS && y->op == TEST_IS)
        return !any_meets(t, c, x, y);
    if (x->op == TEST_IS || y->op == TEST_IS)
        return x->op == TEST_IS ? all_outside(c, x, y) : all_outside(c, y, x);
    if (x->op == TEST_FROM && y->op == TEST_BEFORE)
        return version_order(x->values[0], y->values[0], c->scheme, &order) == 0 && order >= 0;
    if (x->op == TEST_ABOVE && y->op == TEST_BELOW)
        return x->number >= y->number - 1;
    if (x->op == TEST_BEFORE || x->op == TEST_BELOW)
        return (y->op == TEST_FROM || y->op == TEST_ABOVE) && conflict(t, y, x);
    return false;
}

/* --- conditions --- */

/* Does the element stand for one row, the same wherever it is written. */
static bool one_row(const struct cond *c)
{
    return c->scope == SCOPE_SELF || c->scope == SCOPE_SINGLE;
}

static void push(struct never *v, const struct cond *c, const struct test *x)
{
    if (v->n < MAX_MUSTS)
        v->v[v->n++] = (struct must){c, x};
}

/* No word of the column has the form. */
static bool no_such_value(const struct table *t, const struct test *x)
{
    const struct column *c = &t->columns[x->column];

    if (x->op != TEST_IS || c->nvalues == 0)
        return false;
    for (unsigned i = 0; i < x->nvalues; i++)
        for (unsigned k = 0; k < c->nvalues; k++)
            if (values_meet(t, c, x->values[i], c->values[k]))
                return false;
    return true;
}

static void say_pair(struct never *v, const struct cond *c, const struct test *x, const struct cond *d, const struct test *y)
{
    const struct table *t = table_of(v->l, c);
    const struct test *from = x->op == TEST_FROM ? x : y, *before = x->op == TEST_FROM ? y : x;
    const struct test *above = x->op == TEST_ABOVE ? x : y, *below = x->op == TEST_ABOVE ? y : x;

    if (c == d && from->op == TEST_FROM && before->op == TEST_BEFORE)
        lint_say(v->l, v->r, SPOT(c, test_attribute(from)), true, "the range is empty: from " SLICE_FMT " is not below before " SLICE_FMT,
                 SLICE_ARG(from->values[0]), SLICE_ARG(before->values[0]));
    else if (c == d && above->op == TEST_ABOVE && below->op == TEST_BELOW)
        lint_say(v->l, v->r, SPOT(c, test_attribute(above)), true, "no number is above %lld and below %lld", (long long)above->number,
                 (long long)below->number);
    else
        lint_say(v->l, v->r, SPOT(c, test_attribute(x)), true, "this can never hold: " SLICE_FMT " of " SLICE_FMT " against " SLICE_FMT "%s",
                 SLICE_ARG(x->written), SLICE_ARG(t->name), SLICE_ARG(y->written),
                 c == d ? "" : arena_printf(v->l->arena, " on line %u, which must hold too", d->line));
}

/* The tests of one element, against each other and, when it is one row, against those that must hold of it. */
static void check_row(struct never *v, const struct cond *c, bool must)
{
    for (unsigned i = 0; i < c->ntests; i++) {
        const struct test *x = &c->tests[i];

        if (no_such_value(table_of(v->l, c), x))
            lint_say(v->l, v->r, SPOT(c, test_attribute(x)), true, "this can never hold: no value of " SLICE_FMT "." SLICE_FMT " is " SLICE_FMT,
                     SLICE_ARG(table_of(v->l, c)->name), SLICE_ARG(table_of(v->l, c)->columns[x->column].name), SLICE_ARG(x->written));
        for (unsigned k = 0; k < i; k++)
            if (c->tests[k].column == x->column && conflict(table_of(v->l, c), x, &c->tests[k]))
                say_pair(v, c, x, c, &c->tests[k]);
        for (unsigned k = 0; must && one_row(c) && k < v->n; k++)
            if (v->v[k].x && v->v[k].c->table == c->table && v->v[k].x->column == x->column && conflict(table_of(v->l, c), x, v->v[k].x)) {
                say_pair(v, c, x, v->v[k].c, v->v[k].x);
                break;
            }
    }
    for (unsigned i = 0; must && one_row(c) && i < c->ntests; i++)
        push(v, c, &c->tests[i]);
}

/* Does a row that passes b pass a: every test of a is one of b. */
static bool weaker(const struct cond *a, const struct cond *b)
{
    for (unsigned i = 0; i < a->ntests; i++) {
        unsigned k = 0;

        while (k < b->ntests && !slice_eq(a->tests[i].written, b->tests[k].written))
            k++;
        if (k == b->ntests)
            return false;
    }
    return true;
}

/* <none> of what an element, or <some>, demands. */
static void check_none(struct never *v, const struct cond *none, const struct cond *row)
{
    const struct cond *k = none->kids[0];

    if (k->kind == COND_ROW && k->table == row->table && (k->scope == row->scope || k->scope == SCOPE_ALL) && weaker(k, row))
        lint_say(v->l, v->r, SPOT(none, ELEMENT), true, "this can never hold: no " SLICE_FMT " may be what line %u demands of one",
                 SLICE_ARG(table_of(v->l, k)->name), row->line);
}

static void check_demand(struct never *v, const struct cond *c)
{
    const struct cond *row = c->kind == COND_SOME ? c->kids[0] : c;

    for (unsigned i = 0; i < v->n; i++) {
        const struct cond *other = v->v[i].c;

        if (v->v[i].x)
            continue;
        if (c->kind == COND_NONE && other->kind != COND_NONE)
            check_none(v, c, other->kind == COND_SOME ? other->kids[0] : other);
        else if (c->kind != COND_NONE && other->kind == COND_NONE)
            check_none(v, other, row);
    }
    push(v, c, NULL);
}

/* Alternatives that say the same twice, or that together always hold because "both" was meant. */
static void check_alternatives(struct never *v, const struct cond *any)
{
    for (unsigned i = 1; i < any->nkids; i++)
        for (unsigned k = 0; k < i; k++) {
            const struct cond *a = any->kids[k], *b = any->kids[i];
            const struct test *x = a->tests, *y = b->tests;
            bool ends;

            if (a->kind != COND_ROW || b->kind != COND_ROW || a->table != b->table)
                continue;
            if (a->ntests == b->ntests && weaker(a, b)) {
                lint_say(v->l, v->r, SPOT(b, ELEMENT), true, "the same alternative stands on line %u", a->line);
                break;
            }
            ends = a->ntests == 1 && b->ntests == 1 && x->column == y->column;
            if (ends && ((x->op == TEST_FROM && y->op == TEST_BEFORE) || (x->op == TEST_BEFORE && y->op == TEST_FROM) ||
                         (x->op == TEST_ABOVE && y->op == TEST_BELOW) || (x->op == TEST_BELOW && y->op == TEST_ABOVE)) &&
                !conflict(table_of(v->l, a), x, y)) {
                lint_say(v->l, v->r, SPOT(b, ELEMENT), true, "this always holds: elements of one name are alternatives; put " SLICE_FMT " and " SLICE_FMT
                         " on one <" SLICE_FMT ">", SLICE_ARG(x->written), SLICE_ARG(y->written), SLICE_ARG(table_of(v->l, a)->name));
                break;
            }
        }
}

/* must: on the way down nothing but "all of these" was passed. */
static void check(struct never *v, const struct cond *c)
{
    unsigned had = v->n;

    if (!c)
        return;
    switch (c->kind) {
    case COND_ALL:
        for (int anys = 0; anys < 2; anys++) /* alternatives are looked at against all that must hold beside them */
            for (unsigned i = 0; i < c->nkids; i++)
                if ((c->kids[i]->kind == COND_ANY) == anys)
                    check(v, c->kids[i]);
        return;
    case COND_ANY:
        check_alternatives(v, c);
        for (unsigned i = 0; i < c->nkids; i++) {
            check(v, c->kids[i]);
            v->n = had;
        }
        return;
    case COND_ROW:
        check_row(v, c, true);
        check_demand(v, c);
        return;
    case COND_NONE:
    case COND_SOME:
        if (c->kids[0]->kind == COND_ROW) {
            check_row(v, c->kids[0], false);
            check_demand(v, c);
        }
        return;
    case COND_EVERY:
    case COND_COUNT:
    case COND_SAME:
        if (c->kids[0]->kind == COND_ROW)
            check_row(v, c->kids[0], false);
        if (c->kind == COND_COUNT && c->above >= 0 && c->below >= 0 && c->above >= c->below - 1)
            lint_say(v->l, v->r, SPOT(c, SLICE_LIT("above")), true, "no number is above %lld and below %lld", (long long)c->above, (long long)c->below);
        if (c->kind == COND_COUNT && c->below == 0)
            lint_say(v->l, v->r, SPOT(c, SLICE_LIT("below")), true, "this can never hold: no count is below 0");
        return;
    case COND_COMPARE:
        return;
    }
}

/* --- lists of good ones --- */

/* Does whatever passes y pass x. */
static bool implied(const struct table *t, const struct test *x, const struct test *y)
{
    const struct column *c = &t->columns[x->column];
    int order;

    if (x->column != y->column || x->op != y->op)
        return false;
    switch (x->op) {
    case TEST_IS:
        for (unsigned i = 0; i < y->nvalues; i++) {
            unsigned k = 0;
            bool open = slice_find_char(y->values[i], 0, '*') != SIZE_MAX;

            while (k < x->nvalues) {
                struct slice v = x->values[k];
                size_t star = slice_find_char(v, 0, '*');

                if (slice_ieq(v, y->values[i]) || (star != SIZE_MAX && star + 1 == v.n && begins(y->values[i], slice_cut(v, 0, star))) ||
                    (!open && leading(t, c) && star == SIZE_MAX && begins(y->values[i], v)))
                    break;
                k++;
            }
            if (k == x->nvalues)
                return false;
        }
        return true;
    case TEST_FROM:
        return version_order(x->values[0], y->values[0], c->scheme, &order) == 0 && order <= 0;
    case TEST_BEFORE:
        return version_order(x->values[0], y->values[0], c->scheme, &order) == 0 && order >= 0;
    case TEST_ABOVE:
        return x->number <= y->number;
    case TEST_BELOW:
        return x->number >= y->number;
    case TEST_COVERS:
        return covers(&x->release, &y->release);
    case TEST_ABSENT:
        return x->wanted == y->wanted;
    }
    return false;
}

/* Is there, for every test of a, one of b that is as narrow. False when either holds more than elements. */
static bool wider(const struct lint *l, const struct cond *a, const struct cond *b)
{
    if (a->kind == COND_ALL) {
        for (unsigned i = 0; i < a->nkids; i++)
            if (!wider(l, a->kids[i], b))
                return false;
        return true;
    }
    if (a->kind != COND_ROW)
        return false;
    if (b->kind == COND_ALL) {
        for (unsigned i = 0; i < b->nkids; i++)
            if (wider(l, a, b->kids[i]))
                return true;
        return false;
    }
    if (b->kind != COND_ROW || a->table != b->table || a->scope != b->scope)
        return false;
    for (unsigned i = 0; i < a->ntests; i++) {
        unsigned k = 0;

        while (k < b->ntests && !implied(table_of(l, a), &a->tests[i], &b->tests[k]))
            k++;
        if (k == b->ntests)
            return false;
    }
    return true;
}

static const struct cond *shown(const struct good *g)
{
    return g->cond->kind == COND_ALL && g->cond->nkids ? g->cond->kids[g->cond->nkids - 1] : g->cond;
}

static void check_goods(struct lint *l, const struct rule *r)
{
    for (unsigned i = 0; i < r->ngood; i++)
        for (unsigned k = 0; k < r->ngood; k++)
            if (i != k && wider(l, r->good[k].cond, r->good[i].cond) && (k < i || !wider(l, r->good[i].cond, r->good[k].cond))) {
                lint_say(l, r, SPOT(shown(&r->good[i]), ELEMENT), true, "this <good> adds nothing: the one on line %u takes in all of it",
                         shown(&r->good[k])->line);
                break;
            }
}

void lint_never(struct lint *l, const struct rule *r)
{
    struct never v = {.l = l, .r = r};
    unsigned had;

    check(&v, r->when);
    had = v.n;
    check(&v, r->bad);
    for (unsigned i = 0; i < r->ngood; i++) {
        v.n = had;
        check(&v, r->good[i].cond);
    }
    for (unsigned i = 0; i < r->nfixes; i++) {
        v.n = 0;
        check(&v, r->fixes[i].require);
    }
    for (unsigned i = 0; i < r->nevidence; i++) {
        v.n = 0;
        check(&v, r->evidence[i]);
    }
    check_goods(l, r);
}
