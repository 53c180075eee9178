#include "core/words.h"

#include "base/buf.h"

struct telling {
    const struct schema *schema;
    struct arena *a;
    words_fn *fn;
    void *ctx;
};

/* "a", "a or b", "a, b or c". */
static void alternatives(const struct slice *v, unsigned n, struct buf *out)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "%s" SLICE_FMT, i == 0 ? "" : i + 1 == n ? " or " : ", ", SLICE_ARG(v[i]));
}

const char *words_test(const struct column *c, const struct test *x, struct arena *a)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);
    const char *unit = c->unit.n ? arena_printf(a, " " SLICE_FMT, SLICE_ARG(c->unit)) : "";

    buf_add(&b, c->name);
    switch (x->op) {
    case TEST_IS:
        if (x->nvalues == 1 && slice_eqz(x->values[0], "*")) {
            buf_addz(&b, " is anything");
            break;
        }
        buf_addz(&b, " is ");
        alternatives(x->values, x->nvalues, &b);
        break;
    case TEST_FROM:
        buf_printf(&b, " is " SLICE_FMT " or later", SLICE_ARG(x->values[0]));
        break;
    case TEST_BEFORE:
        buf_printf(&b, " is before " SLICE_FMT, SLICE_ARG(x->values[0]));
        break;
    case TEST_COVERS:
        buf_printf(&b, " is " SLICE_FMT " or a patch of it", SLICE_ARG(x->values[0]));
        break;
    case TEST_ABOVE:
        buf_printf(&b, " is above %lld%s", (long long)x->number, unit);
        break;
    case TEST_BELOW:
        buf_printf(&b, " is below %lld%s", (long long)x->number, unit);
        break;
    case TEST_ABSENT:
        buf_addz(&b, x->wanted ? " is absent" : " is there");
        break;
    }
    return arena_printf(a, "%s", buf_z(&b));
}

const char *words_action(const struct fix_action *x, struct arena *a)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16u << 10);

    buf_addz(&b, x->action->name);
    for (unsigned i = 0; i < ACTION_MAX_ARGS && x->action->args[i].kind != ARG_NONE; i++)
        if (x->values[i].n)
            buf_printf(&b, " %s=" SLICE_FMT, x->action->args[i].name, SLICE_ARG(x->values[i]));
    return arena_printf(a, "%s", buf_z(&b));
}

/* "vib with name sata-ahci": a row of a table and what it must be. */
static const char *row_words(const struct telling *t, const struct cond *c)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);
    const struct table *table = &t->schema->tables[c->table];

    buf_add(&b, table->name);
    for (unsigned i = 0; i < c->ntests; i++)
        buf_printf(&b, "%s%s", i == 0 ? (c->scope == SCOPE_SELF || c->scope == SCOPE_SINGLE ? ": " : " whose ") : " and ",
                   words_test(&table->columns[c->tests[i].column], &c->tests[i], t->a));
    return arena_printf(t->a, "%s", buf_z(&b));
}

static const char *cell_words(const struct telling *t, const struct cond *c)
{
    const struct table *table = &t->schema->tables[c->table];

    return arena_printf(t->a, SLICE_FMT "." SLICE_FMT, SLICE_ARG(table->name), SLICE_ARG(table->columns[c->column].name));
}

static void say(const struct telling *t, unsigned depth, const char *text)
{
    t->fn(t->ctx, depth, text);
}

static void tell(const struct telling *t, const struct cond *c, unsigned depth)
{
    const struct cond *kid = c->nkids ? c->kids[0] : NULL;

    switch (c->kind) {
    case COND_ALL:
        for (unsigned i = 0; i < c->nkids; i++)
            tell(t, c->kids[i], depth);
        return;
    case COND_ANY:
        say(t, depth, "one of these:");
        for (unsigned i = 0; i < c->nkids; i++)
            tell(t, c->kids[i], depth + 1);
        return;
    case COND_ROW:
        say(t, depth, arena_printf(t->a, "%s%s", c->scope == SCOPE_SELF || c->scope == SCOPE_SINGLE ? "" : c->scope == SCOPE_RELATED ? "its " : "some ",
                                   row_words(t, c)));
        return;
    case COND_NONE:
        if (kid->kind == COND_SAME) {
            say(t, depth, arena_printf(t->a, "not all agree in " SLICE_FMT ": %s", SLICE_ARG(t->schema->tables[kid->kids[0]->table].columns[kid->column].name),
                                       row_words(t, kid->kids[0])));
            return;
        }
        say(t, depth, arena_printf(t->a, "no %s", row_words(t, kid)));
        return;
    case COND_SOME:
        say(t, depth, arena_printf(t->a, "at least one %s", row_words(t, kid)));
        return;
    case COND_EVERY:
        say(t, depth, arena_printf(t->a, "every %s", row_words(t, kid)));
        return;
    case COND_COUNT:
        say(t, depth, arena_printf(t->a, "%s%s%s: %s", c->above >= 0 ? arena_printf(t->a, "more than %lld", (long long)c->above) : "",
                                   c->above >= 0 && c->below >= 0 ? " and " : "",
                                   c->below >= 0 ? arena_printf(t->a, "fewer than %lld", (long long)c->below) : "", row_words(t, kid)));
        return;
    case COND_SAME:
        say(t, depth, arena_printf(t->a, "all agree in " SLICE_FMT ": %s", SLICE_ARG(t->schema->tables[kid->table].columns[c->column].name),
                                   row_words(t, kid)));
        return;
    case COND_COMPARE:
        say(t, depth, arena_printf(t->a, "%s is %s %s", cell_words(t, c->left),
                                   c->op == TEST_BELOW ? "below" : c->op == TEST_ABOVE ? "above" : "the same as", cell_words(t, c->right)));
        return;
    }
}

void words_cond(const struct schema *s, const struct cond *c, struct arena *a, words_fn *fn, void *ctx)
{
    struct telling t = {s, a, fn, ctx};

    if (c)
        tell(&t, c, 0);
}
