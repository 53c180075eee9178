#include "cmd/rules_parts.h"
#include "core/words.h"

#define INDENT 14u

struct showing {
    struct rules_run *r;
    const char *label; /* of the next line; empty after the first */
};

static void line(struct showing *s, const char *label, const char *text)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(256u << 10);

    buf_add_safe(&safe, slice_of(text));
    buf_printf(s->r->out, "  %s%-*s%s", cli_style(s->r->c, STYLE_DIM), INDENT - 2, label, cli_style(s->r->c, STYLE_NONE));
    opts_wrap(s->r->out, buf_z(&safe), INDENT, INDENT, cli_text_width(s->r->c));
}

static void condition(void *ctx, unsigned depth, const char *text)
{
    struct showing *s = ctx;

    line(s, s->label, arena_printf(s->r->env.arena, "%s%s", depth ? "- " : "", text));
    s->label = "";
}

static void conditions(struct showing *s, const char *label, const struct cond *c)
{
    s->label = label;
    words_cond(&s->r->env.schema, c, s->r->env.arena, condition, s);
}

/* Ids of the rules that name this one in the list that of gives. */
static const char *who(struct rules_run *r, const struct rule *rule, bool restrains)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16u << 10);

    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *other = r->rules.rules.v[i];

        if (restrains ? slice_among(other->restrains, other->nrestrains, rule->id) : slice_among(other->supersedes, other->nsupersedes, rule->id))
            buf_printf(&b, "%s" SLICE_FMT, b.n ? ", " : "", SLICE_ARG(other->id));
    }
    return b.n ? arena_printf(r->env.arena, "%s", buf_z(&b)) : NULL;
}

const char *rules_origin(struct rules_run *r, const struct rule *rule)
{
    return rule->replaced ? arena_printf(r->env.arena, "%s, line %u; replaces the one of %s, line %u", rule->file, rule->line, rule->replaced->file,
                                         rule->replaced->line)
                          : arena_printf(r->env.arena, "%s, line %u", rule->file, rule->line);
}

static const char *words_of(struct rules_run *r, const struct slice *v, unsigned n)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16u << 10);

    for (unsigned i = 0; i < n; i++)
        buf_printf(&b, "%s" SLICE_FMT, i ? ", " : "", SLICE_ARG(v[i]));
    return arena_printf(r->env.arena, "%s", buf_z(&b));
}

static const char *text_of(struct rules_run *r, struct slice s)
{
    return arena_dup(r->env.arena, s).p;
}

static void show_fix(struct showing *s, const struct fix *f, unsigned number)
{
    struct arena *a = s->r->env.arena;

    line(s, arena_printf(a, "fix %u", number), arena_printf(a, SLICE_FMT ", risk %s", SLICE_ARG(f->id), risk_names[f->risk]));
    conditions(s, "only if", f->require);
    for (unsigned i = 0; i < f->nactions; i++)
        line(s, i ? "" : "does", arena_printf(a, "%s (%s)", words_action(&f->actions[i], a), f->actions[i].action->effect));
    for (unsigned i = 0; i < f->nadvise; i++)
        line(s, "", text_of(s->r, f->advise[i]));
    for (unsigned i = 0; i < f->nthen; i++)
        line(s, i ? "" : "afterwards", text_of(s->r, f->then[i].written));
}

static void show(struct rules_run *r, const struct rule *rule)
{
    static const char *const states[] = {"draft, reported as a note at most", "stable", "retired, never matched"};
    struct showing s = {r, ""};
    struct arena *a = r->env.arena;
    const char *guards = who(r, rule, true), *better = who(r, rule, false);

    buf_printf(r->out, "%s" SLICE_FMT "%s\n", cli_style(r->c, STYLE_BOLD), SLICE_ARG(rule->id), cli_style(r->c, STYLE_NONE));
    line(&s, "", text_of(r, rule->title));
    line(&s, "about", arena_printf(a, "each row of " SLICE_FMT "; %s, %s, reviewed " SLICE_FMT, SLICE_ARG(r->env.schema.tables[rule->subject].name),
                                   severity_name(rule->severity), states[rule->status], SLICE_ARG(rule->reviewed)));
    line(&s, "from", rules_origin(r, rule));
    if (rule->upgrade_to.major)
        line(&s, "only", "when an upgrade is asked about (--upgrade-to)");
    conditions(&s, "when", rule->when);
    conditions(&s, "bad", rule->bad);
    for (unsigned i = 0; i < rule->ngood; i++) {
        conditions(&s, "good", rule->good[i].cond);
        if (rule->good[i].note.n)
            line(&s, "", arena_printf(a, "(" SLICE_FMT ")", SLICE_ARG(rule->good[i].note)));
    }
    for (unsigned i = 0; i < rule->nevidence; i++)
        conditions(&s, i ? "or" : rule->evidence_required ? "and seen" : "evidence", rule->evidence[i]);
    line(&s, "why", text_of(r, rule->why));
    for (unsigned i = 0; i < rule->nfixes; i++)
        show_fix(&s, &rule->fixes[i], i + 1);
    for (unsigned i = 0; i < rule->nhrefs; i++)
        line(&s, i ? "" : "see", text_of(r, rule->hrefs[i]));
    if (rule->nrestrains)
        line(&s, "withholds", words_of(r, rule->restrains, rule->nrestrains));
    if (rule->nsupersedes)
        line(&s, "replaces", arena_printf(a, "findings of %s on the same row", words_of(r, rule->supersedes, rule->nsupersedes)));
    if (guards)
        line(&s, "withheld by", guards);
    if (better)
        line(&s, "replaced by", better);
    if (rule->ncovers)
        line(&s, "covers", words_of(r, rule->covers, rule->ncovers));
    line(&s, "examples", arena_printf(a, "%u", rule->nexamples));
}

static char *word(struct arena *a, struct slice s)
{
    char *z = arena_alloc(a, s.n + 1);

    if (z) {
        memcpy(z, s.p, s.n);
        z[s.n] = '\0';
    }
    return z;
}

/* "vmkfit explain" for the rule on one target, with the rules that this run has. */
static int on_target(struct rules_run *r, struct slice target)
{
    char *words[5] = {word(r->env.arena, target), r->files[0]};
    int n = 2;

    if (r->nfiles > 1)
        words[n++] = r->files[1];
    if (r->v->rules.n) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);

        buf_addz(&b, "--rules=");
        for (size_t i = 0; i < r->v->rules.n; i++)
            buf_printf(&b, "%s" SLICE_FMT, i ? "," : "", SLICE_ARG(r->v->rules.v[i]));
        words[n++] = word(r->env.arena, buf_slice(&b));
    }
    return cmd_explain.run(r->c, n, words);
}

int rules_explain(struct rules_run *r)
{
    struct err e = {0};

    if (r->v->on.n == 0)
        return rules_show(r);
    if (r->nfiles == 1 || r->nfiles == 2) {
        int status = STATUS_OK;

        for (size_t i = 0; i < r->v->on.n; i++) {
            int one = on_target(r, r->v->on.v[i]);

            status = status ? status : one;
        }
        return status;
    }
    (void)err_set(&e, VF_EUSAGE, "explain wants a rule's ID, and with --on perhaps a SUBJECT such as vmhba0");
    return cli_fail(r->c, "rules", &e);
}

int rules_show(struct rules_run *r)
{
    struct err e = {0};

    if (r->nfiles == 0) {
        (void)err_set(&e, VF_EUSAGE, "show which rule? an id of \"vmkfit rules list\"");
        return cli_fail(r->c, "rules", &e);
    }
    if (layers_rules(&r->layers, r->v->rules.v, r->v->rules.n, &r->rules, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    for (int i = 0; i < r->nfiles; i++) {
        const struct rule *rule = rules_named(r, r->files[i], &e);

        if (!rule)
            return cli_fail(r->c, "rules", &e);
        if (i)
            buf_addc(r->out, '\n');
        show(r, rule);
    }
    return STATUS_OK;
}
