#include "cmd/rules_parts.h"
#include "core/pciaddr.h"

static const char *const states[] = {"draft", "stable", "retired", NULL}; /* in the order of enum rule_status */

/* The words of options are ones that there are. */
static int check(const struct rules_run *r, struct err *e)
{
    const struct rules_values *v = r->v;
    const struct schema *s = &r->env.schema;
    struct near near = {.word = slice_of(v->table)};

    if (v->table && schema_table(s, slice_of(v->table)) < 0) {
        for (size_t i = 0; i < s->ntables; i++)
            near_try(&near, s->tables[i].name);
        return near_fail(&near, "", e, "no table \"%s\" (docs/facts.md)", v->table);
    }
    near = (struct near){.word = slice_of(v->status)};
    if (v->status && !slice_eqz(near.word, states[0]) && !slice_eqz(near.word, states[1]) && !slice_eqz(near.word, states[2])) {
        near_tryz(&near, states);
        return near_fail(&near, "", e, "--status is draft, stable or retired, not \"%s\"", v->status);
    }
    return v->pci ? pci_id_check(slice_of(v->pci), e) : 0;
}

/* Does the rule pass the options, and do all words occur in its id, title, topic, table or file, in any case. */
static bool wanted(const struct rules_run *r, const struct rule *rule)
{
    const struct rules_values *v = r->v;

    if ((v->topic && !slice_iglob(slice_of(v->topic), rule->topic)) ||
        (v->table && !slice_eqz(r->env.schema.tables[rule->subject].name, v->table)) || (v->status && strcmp(v->status, states[rule->status]) != 0) ||
        (v->pci && !rule_names_device(rule, &r->env.schema, slice_of(v->pci))))
        return false;
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

    if (check(r, &e) < 0 || layers_rules(&r->layers, r->v->rules.v, r->v->rules.n, &r->rules, &e) < 0)
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
    (void)err_set(&e, VF_ENOTFOUND, "no rule has %s%s%s", r->nfiles ? "all of these words in its id, title, topic, table or file" : "what the options ask for",
                  r->nfiles && (r->v->pci || r->v->topic || r->v->table || r->v->status) ? ", and what the options ask for" : "",
                  r->v->pci ? "; rules that go by a driver alone name no PCI id" : "");
    return cli_fail(r->c, "rules", &e);
}
