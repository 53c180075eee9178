#include "cmd/rules_parts.h"

/* Do all words occur in the id, title, topic, table or file, in any case. */
static bool wanted(const struct rules_run *r, const struct rule *rule)
{
    for (int i = 0; i < r->nfiles; i++) {
        const char *pattern = arena_printf(r->env.arena, "*%s*", r->files[i]);
        const struct slice texts[] = {rule->id, rule->title, rule->topic, r->env.schema.tables[rule->subject].name, slice_of(rule->file)};
        bool hit = false;

        for (size_t k = 0; pattern && k < sizeof texts / sizeof *texts; k++)
            hit |= slice_iglob(slice_of(pattern), texts[k]);
        if (!hit)
            return false;
    }
    return true;
}

int rules_list(struct rules_run *r)
{
    static const struct text_column columns[] = {{"rule", false, TEXT_KEEP}, {"about", false, TEXT_KEEP}, {"severity", false, TEXT_KEEP},
                                                 {"reviewed", false, TEXT_KEEP}, {"title", false, TEXT_WRAP}};
    struct text_table *t;
    struct err e = {0};
    size_t n = 0;

    if (env_rules(&r->env, r->v->rules.v, r->v->rules.n, &r->rules, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    t = text_table_new(columns, 5);
    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];
        struct slice cells[] = {rule->id, r->env.schema.tables[rule->subject].name,
                                slice_of(rule->status == RULE_DRAFT     ? "note (draft)"
                                         : rule->status == RULE_RETIRED ? "retired"
                                                                        : severity_name(rule->severity)),
                                rule->reviewed, rule->title};

        if (!wanted(r, rule))
            continue;
        text_table_add(t, cells);
        n++;
    }
    if (n)
        text_table_print(t, cli_table_width(r->c), r->out);
    text_table_free(&t);
    for (size_t i = 0; i < r->rules.rules.n && r->c->verbose; i++)
        if (wanted(r, r->rules.rules.v[i]))
            rules_say(r, arena_printf(r->env.arena, SLICE_FMT ": %s", SLICE_ARG(r->rules.rules.v[i]->id), rules_origin(r, r->rules.rules.v[i])));
    if (n)
        return STATUS_OK;
    (void)err_set(&e, VF_ENOTFOUND, "no rule has all of these words in its id, title, topic, table or file");
    return cli_fail(r->c, "rules", &e);
}
