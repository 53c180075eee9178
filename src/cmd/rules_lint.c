#include "base/fsx.h"
#include "cmd/rules_parts.h"
#include "core/lint.h"
#include "core/rng.h"

#define MAX_FILE  (64u << 20)
#define MAX_FILES 10000u

/* The rule files that were named, read one by one: sound rules of all, and their texts. */
struct linting {
    struct rules_run *r;
    struct lint l;
    struct ruleset own;
    struct buf rng;
    size_t cap;
};

/* Can a probe fill the column on one of the releases. */
static bool filled(void *ctx, unsigned table, unsigned column, const struct release *from, const struct release *before)
{
    const struct env *v = ctx;

    for (size_t i = 0; i < v->probes.n; i++) {
        const struct probe *p = v->probes.v[i];
        bool binds = false, asked = false;

        for (unsigned k = 0; p->table == table && k < p->nbinds; k++)
            binds |= p->binds[k].column == column;
        for (unsigned k = 0; binds && k < p->nways; k++)
            asked |= !(p->ways[k].before.major && from->major && release_named_order(from, &p->ways[k].before) >= 0) &&
                     !(p->ways[k].from.major && before->major && release_named_order(&p->ways[k].from, before) >= 0);
        if (asked)
            return true;
    }
    return false;
}

static void mistake(struct rules_run *r, const char *text)
{
    r->errors++;
    rules_say(r, text);
}

static void check_file(struct linting *li, struct slice bytes, const char *name)
{
    struct rules_run *r = li->r;
    struct mistakes m = {.n = 0};
    struct err e = {0};

    if (rules_check(&li->own.rules, bytes, name, &r->env.schema, r->env.arena, &m, &e) < 0)
        mistake(r, e.msg);
    for (unsigned i = 0; i < m.n; i++)
        mistake(r, m.v[i]);
    if (m.n == RULES_MAX_MISTAKES)
        rules_say(r, arena_printf(r->env.arena, "%s: %u mistakes; the rest of the file was not read", name, m.n));
    if (m.n == 0 && e.code == 0 && xml_relaxng(bytes, name, buf_slice(&li->rng), "rules.rng", &e) < 0)
        mistake(r, e.msg);
}

/* One file on its own: all mistakes that the loader knows, then RELAX NG behind it. */
static int lint_file(void *ctx, const char *path, struct err *e)
{
    struct linting *li = ctx;
    struct slice bytes;
    const char *name = arena_printf(li->r->env.arena, "%s", env_shown_path(path));
    void *v = (void *)(uintptr_t)li->l.files;

    for (size_t i = 0; i < li->l.nfiles; i++)
        if (strcmp(li->l.files[i].name, name) == 0)
            return 0;
    if (fsx_read(path, MAX_FILE, li->r->env.arena, &bytes, NULL, e) < 0) {
        mistake(li->r, e->msg);
        *e = (struct err){0};
        return 0;
    }
    if (arena_grow(li->r->env.arena, &v, li->l.nfiles, &li->cap, sizeof *li->l.files, MAX_FILES) < 0)
        return err_set(e, VF_ELIMIT, "more than %u rule files", MAX_FILES);
    li->l.files = v;
    ((struct lint_file *)v)[li->l.nfiles++] = (struct lint_file){name, bytes};
    check_file(li, bytes, name);
    return 0;
}

/* What can be said only beside all other rules. */
static void lint_all(struct linting *li, const struct slice *files, size_t n)
{
    struct rules_run *r = li->r;
    struct err e = {0};
    int rc = env_rules(&r->env, files, n, &r->rules, &e);
    size_t had = li->l.n;

    for (size_t i = 0; i < li->own.rules.n; i++)
        lint_names(&li->l, li->own.rules.v[i], &r->rules.rules);
    for (size_t i = had; i < li->l.n && rc < 0; i++)
        rc = li->l.v[i].error ? 1 : rc; /* said already, of each */
    if (rc < 0)
        mistake(r, e.msg);
    if (rc == 0) {
        li->l.rules = &r->rules;
        lint_pairs(&li->l);
    }
}

int rules_lint(struct rules_run *r)
{
    struct linting li = {.r = r, .rng = BUF_INIT(4u << 20)};
    struct lint *l = &li.l;
    struct slice *files;
    size_t n = rules_operands(r, &files);
    struct knowledge knowledge;
    struct err e = {0};
    size_t rules = 0;
    int rc;

    *l = (struct lint){.rules = &li.own, .arena = r->env.arena, .today = cli_today(r->env.arena), .filled = filled, .ctx = &r->env};
    if (r->v->date && !rule_date(slice_of(r->v->date))) {
        (void)err_set(&e, VF_EUSAGE, "--date wants a day such as 2026-11-30, not \"%s\"", r->v->date);
        return cli_fail(r->c, "rules", &e);
    }
    if (r->v->date)
        l->today = slice_of(r->v->date);
    ruleset_init(&li.own, &r->env.schema, &r->env.builds, r->env.arena);
    if (rules_load_knowledge(r, &knowledge, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    l->knowledge = &knowledge;
    rng_write(&r->env.schema, &li.rng);
    rc = env_rules_files(&r->env, files, n, r->nfiles == 0, lint_file, &li, &e);
    buf_done(&li.rng);
    if (rc == 0 && l->nfiles == 0)
        rc = err_set(&e, VF_ENOTFOUND, "no rule file in what was named; the names of rule files end with .xml");
    if (rc < 0)
        return cli_fail(r->c, "rules", &e);
    for (size_t i = 0; i < li.own.rules.n; i++)
        for (const struct rule *rule = li.own.rules.v[i]; rule; rule = rule->replaced, rules++)
            lint_rule(l, rule);
    if (r->errors == 0)
        lint_all(&li, files, n);
    for (size_t i = 0; i < l->n; i++) {
        buf_printf(r->out, "%s:%u:%u: %s", l->v[i].file, l->v[i].place.line, l->v[i].place.column, l->v[i].error ? "" : "note: ");
        rules_say(r, l->v[i].text);
        r->errors += l->v[i].error;
        r->warnings += !l->v[i].error;
    }
    buf_printf(r->out, "%zu rules, %zu errors, %zu notes\n", rules, r->errors, r->warnings);
    return r->errors ? STATUS_FINDINGS : STATUS_OK;
}
