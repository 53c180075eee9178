#include "base/fsx.h"
#include "base/xml.h"
#include "cmd/rules_parts.h"
#include "core/lint.h"
#include "core/rng.h"

/* Can a probe fill the column. */
static bool filled(void *ctx, unsigned table, unsigned column)
{
    const struct env *v = ctx;

    for (size_t i = 0; i < v->probes.n; i++)
        for (unsigned k = 0; v->probes.v[i]->table == table && k < v->probes.v[i]->nbinds; k++)
            if (v->probes.v[i]->binds[k].column == column)
                return true;
    return false;
}

/* One file on its own: the loader's checks, then RELAX NG behind them. */
static int lint_file(void *ctx, const char *path, struct err *e)
{
    struct rules_run *r = ctx;
    struct rules own = {0};
    struct slice bytes;
    _cleanup_(buf_done) struct buf rng = BUF_INIT(4u << 20);
    struct err found = {0};

    if (fsx_read(path, 64u << 20, r->env.arena, &bytes, NULL, e) < 0)
        return e->code;
    if (rules_load(&own, bytes, path, &r->env.schema, r->env.arena, &found) < 0) {
        r->errors++;
        rules_say(r, found.msg);
        return 0;
    }
    rng_write(&r->env.schema, &rng);
    if (xml_relaxng(bytes, path, buf_slice(&rng), "rules.rng", &found) < 0) {
        r->errors++;
        rules_say(r, found.msg);
    }
    return 0;
}

int rules_lint(struct rules_run *r)
{
    struct slice *files;
    size_t n = rules_operands(r, &files);
    struct lint l = {.rules = &r->rules, .arena = r->env.arena, .today = cli_today(r->env.arena), .filled = filled, .ctx = &r->env};
    struct knowledge knowledge;
    struct err e = {0};
    size_t looked_at = 0;

    if (rules_load_knowledge(r, &knowledge, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    l.knowledge = &knowledge;
    if (env_rules_files(&r->env, files, n, r->nfiles == 0, lint_file, r, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    if (r->errors == 0 && env_rules(&r->env, files, n, &r->rules, &e) < 0) {
        r->errors++;
        rules_say(r, e.msg);
    }
    for (size_t i = 0; r->errors == 0 && i < r->rules.rules.n; i++)
        if (rules_concern(r, r->rules.rules.v[i]->file)) {
            lint_rule(&l, r->rules.rules.v[i]);
            looked_at++;
        }
    if (r->errors == 0)
        lint_pairs(&l);
    for (size_t i = 0; i < l.n; i++) {
        buf_printf(r->out, "%s:%u: %s", l.v[i].file, l.v[i].line, l.v[i].error ? "" : "note: ");
        rules_say(r, l.v[i].text);
        r->errors += l.v[i].error;
        r->warnings += !l.v[i].error;
    }
    buf_printf(r->out, "%zu rules, %zu errors, %zu notes\n", looked_at, r->errors, r->warnings);
    return r->errors ? STATUS_FINDINGS : STATUS_OK;
}
