#include "cmd/rules_parts.h"
#include "core/mutate.h"

/* One rule's mutations, while they are told. */
struct telling {
    struct rules_run *r;
    const struct rule *rule;
    size_t caught, excused, uncaught;
};

static void tell(void *ctx, const struct mutation *m)
{
    struct telling *t = ctx;
    const char *place = arena_printf(t->r->env.arena, "%s:%u: " SLICE_FMT ": %s", t->rule->file, m->line, SLICE_ARG(t->rule->id), m->what);

    t->caught += m->caught;
    t->excused += m->excused != NULL;
    if (m->caught && t->r->c->verbose)
        rules_say(t->r, arena_printf(t->r->env.arena, "%s: caught", place));
    if (m->excused && t->r->c->verbose)
        rules_say(t->r, arena_printf(t->r->env.arena, "%s: not caught, since %s", place, m->excused));
    if (m->caught || m->excused)
        return;
    t->uncaught++;
    rules_say(t->r, arena_printf(t->r->env.arena, "%s, and no example notices: %s", place, m->advice));
}

int rules_mutate(struct rules_run *r)
{
    struct telling t = {.r = r};
    size_t rules = 0, stale = 0;
    struct err e = {0};

    if (rules_load_named(r, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];
        const struct uncaught *out_of_date = NULL;

        if (rule->status == RULE_RETIRED || !rules_concern(r, rule->file))
            continue;
        t.rule = rule;
        rules++;
        if (mutate_rule(&r->rules, rule, tell, &t, &out_of_date, &e) < 0)
            return cli_fail(r->c, "rules", &e);
        if (!out_of_date)
            continue;
        stale++;
        rules_say(r, arena_printf(r->env.arena, "%s:%u: " SLICE_FMT ": <uncaught> is out of date, an example notices \"" SLICE_FMT "\" or it is no mutation",
                                  rule->file, out_of_date->line, SLICE_ARG(rule->id), SLICE_ARG(out_of_date->what)));
    }
    buf_printf(r->out, "%zu rules, %zu mutations: %zu caught, %zu not caught with a reason, %zu not caught\n", rules, t.caught + t.excused + t.uncaught,
               t.caught, t.excused, t.uncaught);
    return t.uncaught || stale ? STATUS_FINDINGS : STATUS_OK;
}
