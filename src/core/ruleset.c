#include "core/ruleset.h"

#include <stdlib.h>

#include "base/buf.h"

#define MAX_NEEDS   64u
#define MAX_ANCHORS 4096u

/* An equality that must hold: at this place, one of these values. */
struct need {
    const struct cond *scope;
    unsigned column;
    struct slice values[RULE_MAX_KIDS];
    unsigned nvalues;
};

struct needs {
    struct need v[MAX_NEEDS];
    unsigned n;
};

void ruleset_init(struct ruleset *rs, const struct schema *s, const struct builds *b, struct arena *a)
{
    *rs = (struct ruleset){.schema = s, .builds = b, .arena = a};
}

/* --- values --- */

static const struct column *column_of(const struct ruleset *rs, const struct cond *scope, unsigned column)
{
    return &rs->schema->tables[scope->table].columns[column];
}

static bool pci_id(const struct ruleset *rs, const struct cond *scope, unsigned column)
{
    return slice_eqz(rs->schema->tables[scope->table].name, "pci") && slice_eqz(column_of(rs, scope, column)->name, "id");
}

static bool pci_class(const struct ruleset *rs, const struct cond *scope, unsigned column)
{
    return slice_eqz(rs->schema->tables[scope->table].name, "pci") && slice_eqz(column_of(rs, scope, column)->name, "class");
}

/* What of a value the index keeps: vendor:device of a PCI id, four digits of a class, else all of it. */
static struct slice indexed(const struct ruleset *rs, const struct cond *scope, unsigned column, struct slice v)
{
    if (pci_id(rs, scope, column)) {
        size_t first = slice_find_char(v, 0, ':'), second = first == SIZE_MAX ? SIZE_MAX : slice_find_char(v, first + 1, ':');

        return slice_cut(v, 0, second);
    }
    return pci_class(rs, scope, column) ? slice_cut(v, 0, 4) : v;
}

static bool indexable(const struct ruleset *rs, const struct cond *scope, const struct test *x)
{
    const struct column *c = column_of(rs, scope, x->column);

    if (x->op != TEST_IS || c->type == VT_BOOL || c->type == VT_INT || x->nvalues == 0 || x->nvalues > RULE_MAX_KIDS)
        return false;
    for (unsigned i = 0; i < x->nvalues; i++) {
        struct slice v = indexed(rs, scope, x->column, x->values[i]);

        if (slice_find_char(v, 0, '*') != SIZE_MAX || (pci_id(rs, scope, x->column) && v.n != 9) ||
            (pci_class(rs, scope, x->column) && v.n != 4))
            return false;
    }
    return true;
}

static bool same_place(const struct cond *a, const struct cond *b)
{
    return a->table == b->table && a->scope == b->scope && a->nsteps == b->nsteps &&
           (a->nsteps == 0 || memcmp(a->steps, b->steps, a->nsteps * sizeof *a->steps) == 0);
}

/* --- what must hold for a rule to match --- */

static void needs_of(const struct ruleset *rs, const struct cond *c, struct needs *out);

static void add_need(struct needs *out, const struct cond *scope, unsigned column, const struct slice *v, unsigned n, const struct ruleset *rs)
{
    struct need *need;

    if (out->n == MAX_NEEDS)
        return;
    need = &out->v[out->n++];
    need->scope = scope;
    need->column = column;
    need->nvalues = 0;
    for (unsigned i = 0; i < n; i++)
        need->values[need->nvalues++] = indexed(rs, scope, column, v[i]);
}

/* Alternatives: only what every one of them needs, with the values of all. */
static void needs_of_any(const struct ruleset *rs, const struct cond *c, struct needs *out)
{
    struct needs *one = xmalloc(2 * sizeof *one), *kid = one + 1;

    one->n = 0;
    for (unsigned i = 0; i < c->nkids; i++) {
        kid->n = 0;
        needs_of(rs, c->kids[i], kid);
        if (i == 0) {
            *one = *kid;
            continue;
        }
        for (unsigned k = 0; k < one->n;) {
            struct need *have = &one->v[k];
            unsigned m = 0;

            while (m < kid->n && !(kid->v[m].column == have->column && same_place(kid->v[m].scope, have->scope)))
                m++;
            if (m == kid->n || have->nvalues + kid->v[m].nvalues > RULE_MAX_KIDS) {
                *have = one->v[--one->n];
                continue;
            }
            for (unsigned v = 0; v < kid->v[m].nvalues; v++)
                have->values[have->nvalues++] = kid->v[m].values[v];
            k++;
        }
    }
    for (unsigned k = 0; k < one->n && out->n < MAX_NEEDS; k++)
        out->v[out->n++] = one->v[k];
    free(one);
}

static void needs_of(const struct ruleset *rs, const struct cond *c, struct needs *out)
{
    if (!c)
        return;
    switch (c->kind) {
    case COND_ALL:
        for (unsigned i = 0; i < c->nkids; i++)
            needs_of(rs, c->kids[i], out);
        return;
    case COND_ANY:
        needs_of_any(rs, c, out);
        return;
    case COND_SOME:
        needs_of(rs, c->kids[0], out);
        return;
    case COND_ROW:
        for (unsigned i = 0; i < c->ntests; i++)
            if (indexable(rs, c, &c->tests[i]))
                add_need(out, c, c->tests[i].column, c->tests[i].values, c->tests[i].nvalues, rs);
        return;
    case COND_NONE:
    case COND_EVERY:
    case COND_COUNT:
    case COND_SAME:
    case COND_COMPARE:
        return;
    }
}

/* --- index --- */

static size_t anchor_at(struct ruleset *rs, unsigned subject, const struct need *n)
{
    void *v = rs->anchors;

    for (size_t i = 0; i < rs->nanchors; i++)
        if (rs->anchors[i].column == n->column && rs->anchors[i].subject == subject && same_place(rs->anchors[i].scope, n->scope))
            return i;
    if (arena_grow(rs->arena, &v, rs->nanchors, &rs->anchors_cap, sizeof *rs->anchors, MAX_ANCHORS) < 0)
        return SIZE_MAX;
    rs->anchors = v;
    rs->anchors[rs->nanchors] = (struct anchor){.scope = n->scope, .column = n->column, .subject = subject};
    return rs->nanchors++;
}

/* "anchor:value" in buf; the map keeps a copy only when it is new. */
static struct slice value_key(struct buf *b, size_t anchor, struct slice value)
{
    buf_reset(b);
    buf_printf(b, "%zu:", anchor);
    for (size_t i = 0; i < value.n; i++)
        buf_addc(b, value.p[i] >= 'A' && value.p[i] <= 'Z' ? (char)(value.p[i] | 0x20) : value.p[i]);
    return buf_slice(b);
}

static uint32_t link_rule(struct ruleset *rs, uint32_t rule, uint32_t next)
{
    void *v = rs->links;

    if (arena_grow(rs->arena, &v, rs->nlinks, &rs->links_cap, sizeof *rs->links, UINT32_MAX / 2) < 0)
        return next;
    rs->links = v;
    rs->links[rs->nlinks] = (struct rule_link){rule, next};
    return (uint32_t)rs->nlinks++;
}

static uint32_t count_of(const struct map *m, struct slice key)
{
    uint32_t v = map_get(m, key);

    return v == MAP_NONE ? 0 : v;
}

static void rule_needs(const struct ruleset *rs, const struct rule *r, struct needs *n)
{
    n->n = 0;
    needs_of(rs, r->when, n);
    needs_of(rs, r->bad, n);
}

static void note_known(struct ruleset *rs, const struct needs *n)
{
    for (unsigned i = 0; i < n->n; i++) {
        struct slice table = rs->schema->tables[n->v[i].scope->table].name, column = column_of(rs, n->v[i].scope, n->v[i].column)->name;

        if (!(slice_eqz(column, "driver") || (slice_eqz(table, "module") && slice_eqz(column, "name")) || pci_id(rs, n->v[i].scope, n->v[i].column)))
            continue;
        for (unsigned k = 0; k < n->v[i].nvalues; k++)
            (void)map_put(&rs->known, rs->arena, n->v[i].values[k], 1);
    }
}

/* The same rows for every subject, perhaps very many: to look at them again for each says nothing about it. */
static bool host_wide(const struct need *n)
{
    return n->scope->scope == SCOPE_KEY || n->scope->scope == SCOPE_ALL;
}

static void place(struct ruleset *rs, uint32_t index, const struct needs *n, const struct map *counts, struct buf *key)
{
    const struct rule *r = rs->rules.v[index];
    size_t anchor = SIZE_MAX;
    const struct need *best = NULL;
    uint32_t least = UINT32_MAX;

    for (unsigned i = 0; i < n->n; i++) {
        size_t a = anchor_at(rs, r->subject, &n->v[i]);
        uint32_t most = 0;

        for (unsigned k = 0; k < n->v[i].nvalues && a != SIZE_MAX; k++) {
            uint32_t c = count_of(counts, value_key(key, a, n->v[i].values[k]));

            most = c > most ? c : most;
        }
        if (a != SIZE_MAX && (!best || (host_wide(&n->v[i]) == host_wide(best) ? most < least : host_wide(best)))) {
            least = most;
            best = &n->v[i];
            anchor = a;
        }
    }
    if (!best) {
        rs->unanchored[r->subject] = link_rule(rs, index, rs->unanchored[r->subject]);
        return;
    }
    rs->anchors[anchor].all = link_rule(rs, index, rs->anchors[anchor].all);
    for (unsigned k = 0; k < best->nvalues; k++) {
        struct slice full = value_key(key, anchor, best->values[k]);
        uint32_t head = count_of(&rs->values, full);

        if (head)
            map_set(&rs->values, full, link_rule(rs, index, head));
        else
            (void)map_put(&rs->values, rs->arena, arena_dup(rs->arena, full), link_rule(rs, index, 0));
    }
}

static int check_names(const struct ruleset *rs, const struct rule *r, const struct slice *ids, unsigned n, const char *what, struct err *e)
{
    for (unsigned i = 0; i < n; i++)
        if (!rules_find(&rs->rules, ids[i])) {
            struct slice near = rules_near(&rs->rules, ids[i]);

            return err_set(e, VF_EFORMAT, "%s:%u: %s names a rule that is not there: \"" SLICE_FMT "\"%s" SLICE_FMT "%s", r->file, r->line, what,
                           SLICE_ARG(ids[i]), near.n ? "; did you mean \"" : "", SLICE_ARG(near), near.n ? "\"?" : "");
        }
    return 0;
}

/*
 * A rule that takes itself back, directly or through others that take each other back, would hide what they all found. Depth first over what a
 * rule supersedes and restrains; state 1 is on the way here, 2 is done.
 */
#define MAX_CHAIN 100u

static int check_chain(const struct ruleset *rs, uint32_t at, uint8_t *state, unsigned depth, struct err *e)
{
    const struct rule *r = rs->rules.v[at];
    int rc = 0;

    if (state[at] == 2)
        return 0;
    if (state[at] == 1 || depth == MAX_CHAIN)
        return err_set(e, VF_EFORMAT, "%s:%u: " SLICE_FMT " supersedes or restrains itself, or another rule that in turn does so to it: none of"
                       " them could be reported", r->file, r->line, SLICE_ARG(r->id));
    state[at] = 1;
    for (unsigned i = 0; i < r->nsupersedes + r->nrestrains && rc == 0; i++)
        rc = check_chain(rs, map_get(&rs->rules.by_id, i < r->nsupersedes ? r->supersedes[i] : r->restrains[i - r->nsupersedes]), state,
                         depth + 1, e);
    state[at] = 2;
    return rc;
}

static int check_chains(const struct ruleset *rs, struct err *e)
{
    uint8_t *state = xmalloc(rs->rules.n + 1);
    int rc = 0;

    for (size_t i = 0; i < rs->rules.n && rc == 0; i++)
        if (rs->rules.v[i]->nsupersedes + rs->rules.v[i]->nrestrains)
            rc = check_chain(rs, (uint32_t)i, state, 0, e);
    free(state);
    return rc;
}

int ruleset_seal(struct ruleset *rs, struct err *e)
{
    struct needs *n = xmalloc(sizeof *n);
    struct arena *scratch = arena_new(SIZE_MAX / 4);
    struct buf key = BUF_INIT(4096);
    struct map counts = {0};
    int rc = 0;

    rs->unanchored = arena_array(rs->arena, rs->schema->ntables, sizeof *rs->unanchored);
    (void)link_rule(rs, 0, 0); /* index 0 means the end of a list */
    if (!rs->unanchored)
        rc = err_set(e, VF_ELIMIT, "more rules than there is room for");
    for (size_t i = 0; i < rs->rules.n && rc == 0; i++) {
        const struct rule *r = rs->rules.v[i];

        rc = check_names(rs, r, r->supersedes, r->nsupersedes, "supersedes", e);
        rc = rc ? rc : check_names(rs, r, r->restrains, r->nrestrains, "restrains", e);
        if (slice_cmp(r->reviewed, rs->newest) > 0)
            rs->newest = r->reviewed;
        rule_needs(rs, r, n);
        note_known(rs, n);
        for (unsigned k = 0; k < n->n; k++) {
            size_t a = anchor_at(rs, r->subject, &n->v[k]);

            for (unsigned v = 0; v < n->v[k].nvalues && a != SIZE_MAX; v++) {
                struct slice full = value_key(&key, a, n->v[k].values[v]);
                uint32_t c = count_of(&counts, full);

                if (c)
                    map_set(&counts, full, c + 1);
                else
                    (void)map_put(&counts, scratch, arena_dup(scratch, full), 1);
            }
        }
    }
    rc = rc ? rc : check_chains(rs, e);
    for (size_t i = 0; i < rs->rules.n && rc == 0; i++) {
        rule_needs(rs, rs->rules.v[i], n);
        place(rs, (uint32_t)i, n, &counts, &key);
    }
    if (rc == 0 && arena_full(rs->arena))
        rc = err_set(e, VF_ELIMIT, "more rules than there is room for");
    buf_done(&key);
    arena_free(scratch);
    free(n);
    return rc;
}

/* --- lookup --- */

struct lookup {
    const struct ruleset *rs;
    const struct facts *f;
    size_t anchor;
    struct buf *key;
    uint32_t *out;
    uint8_t *seen;
    size_t n;
};

static void take_list(struct lookup *l, uint32_t at)
{
    for (; at; at = l->rs->links[at].next) {
        uint32_t rule = l->rs->links[at].rule;

        if (l->seen[rule])
            continue;
        l->seen[rule] = 1;
        l->out[l->n++] = rule;
    }
}

static void look(struct lookup *l, struct slice value)
{
    const struct anchor *a = &l->rs->anchors[l->anchor];

    take_list(l, count_of(&l->rs->values, value_key(l->key, l->anchor, indexed(l->rs, a->scope, a->column, value))));
}

static bool look_row(void *ctx, const struct row *r)
{
    struct lookup *l = ctx;
    const struct anchor *a = &l->rs->anchors[l->anchor];
    const struct value *v = &r->cells[a->column];

    if (v->state == VS_UNKNOWN)
        take_list(l, a->all);
    else if (v->state == VS_KNOWN && v->list)
        for (size_t i = 0; i < v->nlist; i++)
            look(l, v->list[i]);
    else if (v->state == VS_KNOWN)
        look(l, v->s);
    return true;
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

size_t ruleset_candidates(const struct ruleset *rs, const struct facts *f, const struct row *r, uint32_t *out, uint8_t *seen)
{
    _cleanup_(buf_done) struct buf key = BUF_INIT(4096);
    struct lookup l = {.rs = rs, .f = f, .key = &key, .out = out, .seen = seen};

    take_list(&l, rs->unanchored[r->table]);
    for (l.anchor = 0; l.anchor < rs->nanchors; l.anchor++) {
        const struct anchor *a = &rs->anchors[l.anchor];
        const char *why;
        bool closed;

        if (a->subject != r->table || !a->all)
            continue;
        cond_rows(f, a->scope, r, look_row, &l, &closed, &why);
        if (!closed)
            take_list(&l, a->all);
    }
    for (size_t i = 0; i < l.n; i++)
        seen[out[i]] = 0;
    qsort(out, l.n, sizeof *out, by_index);
    return l.n;
}

bool ruleset_knows(const struct ruleset *rs, struct slice driver, struct slice pci)
{
    size_t first = slice_find_char(pci, 0, ':'), second = first == SIZE_MAX ? SIZE_MAX : slice_find_char(pci, first + 1, ':');

    return (driver.n && map_get(&rs->known, driver) != MAP_NONE) || (pci.n && map_get(&rs->known, slice_cut(pci, 0, second)) != MAP_NONE);
}
