#include "cmd/rules_parts.h"
#include "core/match.h"

#define MAX_TOLD 200000u

/* What one of the tried rules says of one row of one host; or why it cannot say anything. */
struct told {
    const struct rule *rule;
    struct slice host, subject;
    enum severity severity;
    const char *decided; /* of a finding */
    const char *why;     /* of what is unsure; NULL for a finding */
    bool lost;           /* a finding of the rule that this one would replace, and does not make any more */
    bool gained;         /* a finding that the replaced rule does not make */
    size_t rows;         /* rows of that host that are unsure for the same reason */
};

struct trying {
    struct rules_run *r;
    struct ruleset base; /* without what is tried */
    struct told *v;
    size_t n, cap;
    size_t hosts, incomplete;
    bool full;
};

static struct told *add(struct trying *t, struct told one)
{
    void *v = t->v;

    if (arena_grow(t->r->env.arena, &v, t->n, &t->cap, sizeof *t->v, MAX_TOLD) < 0) {
        t->full = true;
        return NULL;
    }
    t->v = v;
    t->v[t->n] = one;
    return &t->v[t->n++];
}

static bool tried(const struct trying *t, const struct finding *f)
{
    const struct rule *ours = rules_find(&t->r->rules.rules, f->rule->id);

    return ours && rules_concern(t->r, ours->file);
}

static bool among(const struct findings *fs, const struct finding *f)
{
    for (size_t i = 0; i < fs->n; i++)
        if (finding_counts(&fs->v[i]) && slice_eq(fs->v[i].rule->id, f->rule->id) && slice_eq(fs->v[i].row->key, f->row->key))
            return true;
    return false;
}

/* Unsure rows of one host for one reason are told once. */
static void unsure(struct trying *t, struct slice host, const struct finding *f)
{
    for (size_t i = t->n; i-- > 0 && slice_eq(t->v[i].host, host);)
        if (t->v[i].rule == f->rule && t->v[i].why && strcmp(t->v[i].why, f->why) == 0) {
            t->v[i].rows++;
            return;
        }
    (void)add(t, (struct told){.rule = f->rule, .host = host, .why = arena_printf(t->r->env.arena, "%s", f->why), .rows = 1});
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct trying *t = ctx;
    struct arena *a = t->r->env.arena;
    struct match_ctx now = {.rules = &t->r->rules, .facts = h->facts, .arena = h->facts->arena},
                     before = {.rules = &t->base, .facts = h->facts, .arena = h->facts->arena};
    struct slice host = arena_dup(a, slice_of(h->target->label));
    struct findings ours, theirs;

    t->hosts++;
    if (h->incomplete) {
        t->incomplete++;
        cli_warn(t->r->c, "%s: %s", h->target->label, h->incomplete);
    }
    if (match_run(&now, &ours, e) < 0 || match_run(&before, &theirs, e) < 0)
        return e->code;
    for (size_t i = 0; i < ours.n; i++) {
        const struct finding *f = &ours.v[i];

        if (!tried(t, f))
            continue;
        if (finding_counts(f))
            (void)add(t, (struct told){.rule = f->rule, .host = host, .subject = arena_dup(a, f->row->key), .severity = f->severity,
                                       .decided = match_decided(h->facts, f, a), .gained = rules_find(&t->base.rules, f->rule->id) && !among(&theirs, f)});
        else if (f->result == TRI_UNKNOWN && !f->withheld_by && !f->superseded_by)
            unsure(t, host, f);
    }
    for (size_t i = 0; i < theirs.n; i++)
        if (tried(t, &theirs.v[i]) && finding_counts(&theirs.v[i]) && !among(&ours, &theirs.v[i]))
            (void)add(t, (struct told){.rule = rules_find(&t->r->rules.rules, theirs.v[i].rule->id), .host = host,
                                       .subject = arena_dup(a, theirs.v[i].row->key), .severity = theirs.v[i].severity, .lost = true});
    return 0;
}

static const char *kind_of(const struct told *x)
{
    return x->lost ? "lost" : x->why ? "unsure" : x->gained ? "gained" : "finding";
}

/* Of one rule: findings, hosts with some, hosts that stay unsure. The list is in the order of hosts. */
static void sums(const struct trying *t, const struct rule *rule, size_t *findings, size_t *hosts, size_t *unsure_hosts)
{
    struct slice with = {NULL, 0}, without = {NULL, 0};

    *findings = *hosts = *unsure_hosts = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct told *x = &t->v[i];

        if (x->rule != rule || x->lost)
            continue;
        if (!x->why) {
            ++*findings;
            *hosts += !slice_eq(x->host, with) || with.p == NULL;
            with = x->host;
        } else {
            *unsure_hosts += !slice_eq(x->host, without) || without.p == NULL;
            without = x->host;
        }
    }
}

/* "warning", "unsure", "note gained", "lost". */
static const char *state_of(struct trying *t, const struct told *x)
{
    if (x->lost || x->why)
        return kind_of(x);
    return x->gained ? arena_printf(t->r->env.arena, "%s gained", severity_name(x->severity)) : severity_name(x->severity);
}

static void results(struct trying *t, const struct rule *rule)
{
    static const struct text_column columns[] = {{"", false, TEXT_KEEP}, {"host", false, TEXT_WRAP}, {"subject", false, TEXT_WRAP}, {"because", false, TEXT_WRAP}};
    struct text_table *table = text_table_new(columns, 4);
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct told *x = &t->v[i];
        struct slice cells[] = {slice_of(state_of(t, x)), x->host, x->why ? slice_of(arena_printf(t->r->env.arena, "%zu rows", x->rows)) : x->subject,
                                slice_of(x->why ? x->why : x->decided ? x->decided : "")};

        if (x->rule != rule)
            continue;
        text_table_add(table, cells);
        n++;
    }
    if (n)
        text_table_print(table, cli_table_width(t->r->c), t->r->out);
    text_table_free(&table);
}

static void text(struct trying *t)
{
    struct rules_run *r = t->r;
    bool first = true;

    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];
        size_t findings, hosts, unsure_hosts;

        if (!rules_concern(r, rule->file))
            continue;
        sums(t, rule, &findings, &hosts, &unsure_hosts);
        buf_printf(r->out, "%s" SLICE_FMT ": %zu findings on %zu of %zu hosts, unsure on %zu\n", first ? "" : "\n", SLICE_ARG(rule->id), findings, hosts,
                   t->hosts, unsure_hosts);
        results(t, rule);
        first = false;
    }
}

static int json(struct trying *t)
{
    struct js *doc = js_object(), *rules = js_array();

    js_put(doc, "schema_version", js_int(1));
    js_put(doc, "hosts", js_int((int64_t)t->hosts));
    js_put(doc, "incomplete", js_int((int64_t)t->incomplete));
    for (size_t i = 0; i < t->r->rules.rules.n; i++) {
        const struct rule *rule = t->r->rules.rules.v[i];
        struct js *one = js_object(), *list = js_array();
        size_t findings, hosts, unsure_hosts;

        if (!rules_concern(t->r, rule->file)) {
            js_free(&one);
            js_free(&list);
            continue;
        }
        sums(t, rule, &findings, &hosts, &unsure_hosts);
        js_put(one, "rule", js_text(rule->id));
        js_put(one, "findings", js_int((int64_t)findings));
        js_put(one, "hosts_with_findings", js_int((int64_t)hosts));
        js_put(one, "hosts_unsure", js_int((int64_t)unsure_hosts));
        for (size_t k = 0; k < t->n; k++) {
            const struct told *x = &t->v[k];
            struct js *line = js_object();

            js_put(line, "host", js_text(x->host));
            js_put(line, "result", js_textz(kind_of(x)));
            js_put(line, "severity", x->why ? js_null() : js_textz(severity_name(x->severity)));
            js_put(line, "subject", x->why ? js_null() : js_text(x->subject));
            js_put(line, "rows", js_int(x->why ? (int64_t)x->rows : 1));
            js_put(line, "because", js_textz(x->why ? x->why : x->decided));
            if (x->rule == rule)
                js_add(list, line);
            else
                js_free(&line);
        }
        js_put(one, "results", list);
        js_add(rules, one);
    }
    js_put(doc, "rules", rules);
    return cli_write_json(t->r->c, &doc);
}

int rules_try(struct rules_run *r)
{
    struct trying t = {.r = r};
    struct err e = {0};
    int rc = 0, status;

    if (r->nfiles == 0 || r->v->on.n == 0) {
        (void)err_set(&e, VF_EUSAGE, "try what on which hosts? FILE... --on DIR");
        return cli_fail(r->c, "rules", &e);
    }
    if (site_open(&r->env, &r->v->facts, &e) < 0 || env_rules(&r->env, NULL, 0, &t.base, &e) < 0 || rules_load_named(r, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    for (size_t i = 0; i < r->v->on.n; i++) {
        rc = env_hosts(&r->env, arena_dup(r->env.arena, r->v->on.v[i]).p, on_host, &t, &e);
        if (rc < 0)
            break;
    }
    if (t.full && rc == 0)
        rc = err_set(&e, VF_ELIMIT, "more than %u results; try fewer hosts at once", MAX_TOLD);
    if (rc < 0)
        return cli_fail(r->c, "rules", &e);
    site_end(&r->env, r->c);
    status = STATUS_OK;
    if (r->v->json)
        status = json(&t);
    else
        text(&t);
    return status ? status : t.incomplete ? STATUS_INCOMPLETE : STATUS_OK;
}
