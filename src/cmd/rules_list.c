#include "cmd/rules_parts.h"

int rules_list(struct rules_run *r)
{
    static const struct text_column columns[] = {{"rule", false, TEXT_KEEP}, {"about", false, TEXT_KEEP}, {"severity", false, TEXT_KEEP},
                                                 {"reviewed", false, TEXT_KEEP}, {"title", false, TEXT_WRAP}};
    struct text_table *t;
    struct err e = {0};

    if (env_rules(&r->env, r->v->rules.v, r->v->rules.n, &r->rules, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    t = text_table_new(columns, 5);
    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];
        struct slice cells[] = {rule->id, r->env.schema.tables[rule->subject].name,
                                slice_of(rule->status == RULE_DRAFT ? "note (draft)" : rule->status == RULE_RETIRED ? "retired"
                                                                                                                    : severity_name(rule->severity)),
                                rule->reviewed, rule->title};

        text_table_add(t, cells);
    }
    text_table_print(t, cli_table_width(r->c), r->out);
    text_table_free(&t);
    if (r->c->verbose)
        for (size_t i = 0; i < r->rules.rules.n; i++)
            buf_printf(r->out, SLICE_FMT ": %s, line %u\n", SLICE_ARG(r->rules.rules.v[i]->id), r->rules.rules.v[i]->file,
                       r->rules.rules.v[i]->line);
    return STATUS_OK;
}
