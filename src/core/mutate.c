#include "core/mutate.h"

#include "core/example.h"

#define MAX_SITES 4000u
#define MAX_WORK  (64u << 20)

/* One pass over a rule: sites are counted, and at the one that is wanted the copy differs. */
struct pass {
    const struct schema *schema;
    struct arena *a;
    unsigned site, wanted;
    bool good; /* inside <good>: weaker means fewer findings */
    struct mutation found;
};

/* Is this the site? name and advice are kept when it is. */
static bool here(struct pass *p, uint32_t line, const char *what, const char *advice)
{
    if (p->site++ != p->wanted)
        return false;
    p->found = (struct mutation){.what = what, .advice = advice, .line = line};
    return true;
}

static const char *named(struct pass *p, const struct cond *c, const struct test *x, const char *how)
{
    return arena_printf(p->a, SLICE_FMT " " SLICE_FMT " %s", SLICE_ARG(p->schema->tables[c->table].name), SLICE_ARG(x->written), how);
}

static const char *differs(struct pass *p, const struct cond *c, const struct test *x)
{
    const struct table *t = &p->schema->tables[c->table];

    return arena_printf(p->a, "add %s in which " SLICE_FMT "." SLICE_FMT " alone is another", p->good ? "a <matches>" : "an <ignores>",
                        SLICE_ARG(t->name), SLICE_ARG(t->columns[x->column].name));
}

static const char *at_bound(struct pass *p, const struct cond *c, const struct test *x)
{
    const struct table *t = &p->schema->tables[c->table];

    return arena_printf(p->a, "add %s with " SLICE_FMT "." SLICE_FMT " at just that value", p->good ? "a <matches>" : "an <ignores>",
                        SLICE_ARG(t->name), SLICE_ARG(t->columns[x->column].name));
}

/* The bound moved so that the value itself is taken in; false for tests without such a bound. */
static bool move_bound(struct pass *p, struct test *x)
{
    switch (x->op) {
    case TEST_BEFORE:
        if (x->release.major) {
            x->release.update = (x->release.update < 0 ? 0 : x->release.update) + 1;
            x->release.letter = 0;
        } else {
            struct slice *longer = arena_array(p->a, 1, sizeof *longer); /* a longer version is newer */

            if (longer) {
                *longer = slice_of(arena_printf(p->a, SLICE_FMT ".0", SLICE_ARG(x->values[0])));
                x->values = longer;
            }
        }
        return true;
    case TEST_ABOVE:
        x->number--;
        return true;
    case TEST_BELOW:
        x->number++;
        return true;
    case TEST_IS:
    case TEST_FROM: /* the step before a version has no name; leaving the test out says as much */
    case TEST_COVERS:
    case TEST_ABSENT:
        break;
    }
    return false;
}

/* A copy with the site's change; NULL is "always", also for no room (the arena is full then). only: its one test says what it is about. */
static const struct cond *copy_row(struct pass *p, const struct cond *c, bool only)
{
    struct cond *out = arena_alloc(p->a, sizeof *out);
    struct test *tests = arena_array(p->a, c->ntests + 1, sizeof *tests);
    unsigned n = 0;

    if (!out || !tests)
        return NULL;
    for (unsigned i = 0; i < c->ntests; i++) {
        struct test moved = c->tests[i];

        if (!(only && c->ntests == 1) && here(p, c->line, named(p, c, &c->tests[i], "left out"), differs(p, c, &c->tests[i])))
            continue;
        if (move_bound(p, &moved) && here(p, c->line, named(p, c, &c->tests[i], "taking in the value itself"), at_bound(p, c, &c->tests[i])))
            tests[n++] = moved;
        else
            tests[n++] = c->tests[i];
    }
    if (n == 0 && c->ntests && (c->scope == SCOPE_SELF || c->scope == SCOPE_SINGLE))
        return NULL;
    *out = *c;
    out->tests = tests;
    out->ntests = n;
    return out;
}

static const char *quantifier_name(const struct cond *c)
{
    switch (c->kind) {
    case COND_NONE:
        return "none";
    case COND_SOME:
        return "some";
    case COND_EVERY:
        return "every";
    case COND_COUNT:
        return "count";
    case COND_SAME:
        return "same";
    case COND_COMPARE:
        return "compare";
    case COND_ALL:
    case COND_ANY:
    case COND_ROW:
        break;
    }
    return "condition";
}

static const struct cond *copy(struct pass *p, const struct cond *c);

static const struct cond *copy_quantifier(struct pass *p, const struct cond *c)
{
    const char *table = p->schema->tables[cond_table(c)].name.p;
    const char *kind = quantifier_name(c), *example = p->good ? "a <matches>" : "an <ignores>";
    struct cond *out = arena_alloc(p->a, sizeof *out);

    if (here(p, c->line, arena_printf(p->a, "%s %s left out", kind, table), arena_printf(p->a, "add %s in which it alone does not hold", example)) || !out)
        return NULL;
    *out = *c;
    if (c->kind == COND_COUNT && c->below >= 0 &&
        here(p, c->line, arena_printf(p->a, "count %s below=\"%lld\" taking in the value itself", table, (long long)c->below),
             arena_printf(p->a, "add %s with just that number of rows", example)))
        out->below++;
    if (c->kind == COND_COUNT && c->above >= 0 &&
        here(p, c->line, arena_printf(p->a, "count %s above=\"%lld\" taking in the value itself", table, (long long)c->above),
             arena_printf(p->a, "add %s with just that number of rows", example)))
        out->above--;
    if (c->kind == COND_EVERY && here(p, c->line, arena_printf(p->a, "every %s: some are enough", table),
                                      arena_printf(p->a, "add %s in which one row holds and another does not", example)))
        out->kind = COND_SOME;
    if (c->kind != COND_COMPARE) {
        const struct cond **kid = arena_array(p->a, 1, sizeof *kid);

        if (!kid)
            return NULL;
        kid[0] = c->kids[0]->kind == COND_ROW ? copy_row(p, c->kids[0], true) : copy(p, c->kids[0]);
        out->kids = kid;
        if (!kid[0])
            return NULL;
    }
    return out;
}

static const struct cond *copy_group(struct pass *p, const struct cond *c)
{
    struct cond *out = arena_alloc(p->a, sizeof *out);
    const struct cond **kids = arena_array(p->a, c->nkids + 1, sizeof *kids);
    bool always = false;
    unsigned n = 0;

    if (!out || !kids)
        return NULL;
    for (unsigned i = 0; i < c->nkids; i++) {
        const struct cond *kid = copy(p, c->kids[i]);

        if (kid)
            kids[n++] = kid;
        else
            always = c->kind == COND_ANY;
    }
    if (n == 0 || always)
        return NULL;
    *out = *c;
    out->kids = kids;
    out->nkids = n;
    return out;
}

static const struct cond *copy(struct pass *p, const struct cond *c)
{
    if (!c)
        return NULL;
    switch (c->kind) {
    case COND_ALL:
    case COND_ANY:
        return copy_group(p, c);
    case COND_ROW:
        return copy_row(p, c, false);
    case COND_NONE:
    case COND_SOME:
    case COND_EVERY:
    case COND_COUNT:
    case COND_SAME:
    case COND_COMPARE:
        return copy_quantifier(p, c);
    }
    return NULL;
}

/* The rule with the change of one site. Returns false when there is no such site. */
static bool mutate(struct pass *p, const struct rule *r, struct rule *out)
{
    struct good *good = arena_array(p->a, r->ngood + 1, sizeof *good);
    const struct cond **evidence = arena_array(p->a, r->nevidence + 1, sizeof *evidence);
    unsigned n = 0;

    if (!good || !evidence)
        return false;
    *out = *r;
    if (r->upgrade_to.major && here(p, r->line, "upgrade-to left out", "add an <ignores> without upgrade-to"))
        out->upgrade_to = (struct release){0};
    out->when = copy(p, r->when);
    if (r->bad && !(out->bad = copy(p, r->bad))) {
        static const struct cond always = {.kind = COND_ALL};

        out->bad = &always;
    }
    p->good = true;
    for (unsigned i = 0; i < r->ngood; i++)
        good[i] = (struct good){copy(p, r->good[i].cond), r->good[i].note};
    p->good = false;
    out->good = good;
    if (r->evidence_required) {
        if (here(p, r->line, "evidence no longer required", "add an <ignores> with complete=\"log\" and nothing of it in the log"))
            out->evidence_required = false;
        for (unsigned i = 0; i < r->nevidence; i++)
            if ((evidence[n] = copy(p, r->evidence[i])))
                n++;
        out->evidence = evidence;
        out->nevidence = n;
        out->evidence_required &= n == r->nevidence; /* an element that always holds is no longer a demand */
    }
    return p->site > p->wanted;
}

static bool all_pass(const struct ruleset *rs, const struct rule *r, struct err *e)
{
    for (unsigned i = 0; i < r->nexamples; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(MAX_WORK);
        struct example_result got = {0};

        if (example_run(rs, r, &r->examples[i], a, &got, e) < 0 || !got.passed)
            return false;
    }
    return true;
}

int mutate_rule(const struct ruleset *rs, const struct rule *r, mutation_fn *fn, void *ctx, const struct uncaught **stale, struct err *e)
{
    bool used[RULE_MAX_KIDS] = {false};
    struct rule changed;

    if (!all_pass(rs, r, e))
        return e->code ? e->code
                       : err_set(e, VF_EFORMAT, "%s:%u: " SLICE_FMT ": its examples fail as it is; \"vmkfit rules test\" shows what decided", r->file,
                                 r->line, SLICE_ARG(r->id));
    for (unsigned i = 0; i < MAX_SITES; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(MAX_WORK);
        struct pass p = {.schema = rs->schema, .a = a, .wanted = i};

        if (!mutate(&p, r, &changed)) {
            if (arena_full(a))
                break;
            for (unsigned k = 0; stale && k < r->nuncaught && !*stale; k++)
                if (!used[k])
                    *stale = &r->uncaught[k];
            return 0;
        }
        p.found.caught = !all_pass(rs, &changed, e);
        if (e->code)
            return e->code;
        for (unsigned k = 0; k < r->nuncaught && !p.found.caught; k++)
            if (slice_eqz(r->uncaught[k].what, p.found.what)) {
                used[k] = true;
                p.found.excused = arena_dup(a, r->uncaught[k].because).p;
            }
        fn(ctx, &p.found);
    }
    return err_set(e, VF_ELIMIT, "%s:%u: " SLICE_FMT ": more conditions than there is room for", r->file, r->line, SLICE_ARG(r->id));
}
