#include <stdlib.h>

#include "base/fsx.h"
#include "base/json.h"
#include "cmd/rules_parts.h"
#include "core/example.h"
#include "out/report.h"

#define MAX_EXPECT (4u << 20)

static const char *const results[] = {"no finding", "unsure", "a finding"};

int rules_test_examples(struct rules_run *r, struct err *e)
{
    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];

        for (unsigned k = 0; k < rule->nexamples && rules_concern(r, rule->file); k++) {
            struct arena *a = arena_new(64u << 20);
            struct example_result got = {0};
            int rc = example_run(&r->rules, rule, &rule->examples[k], a, &got, e);

            if (rc < 0) {
                r->failed++;
                rules_say(r, e->msg);
            } else if (!got.passed) {
                r->failed++;
                buf_printf(r->out, "%s:%u: " SLICE_FMT ": %s example gives %s; decided by ", rule->file, rule->examples[k].line,
                           SLICE_ARG(rule->id), example_kind_name(rule->examples[k].kind), results[got.got]);
                rules_say(r, got.decided);
            } else {
                r->passed++;
                if (r->c->verbose) {
                    buf_printf(r->out, "%s:%u: " SLICE_FMT ": %s; decided by ", rule->file, rule->examples[k].line, SLICE_ARG(rule->id),
                               example_kind_name(rule->examples[k].kind));
                    rules_say(r, got.decided);
                }
            }
            arena_free(a);
        }
    }
    return 0;
}

/* A recording against its expect.json: findings as "severity rule key", and the rules that stay undetermined. */
struct expectation {
    struct rules_run *r;
    const char *folder;
    struct texts_seen {
        struct slice v[4000];
        size_t n;
    } findings, unsure;
    struct arena *arena;
};

static void seen(struct texts_seen *t, struct slice s)
{
    for (size_t i = 0; i < t->n; i++)
        if (slice_eq(t->v[i], s))
            return;
    if (t->n < sizeof t->v / sizeof *t->v)
        t->v[t->n++] = s;
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct expectation *x = ctx;
    struct match_ctx m = {.rules = &x->r->rules, .facts = h->facts, .arena = h->facts->arena};
    struct findings found;

    if (match_run(&m, &found, e) < 0)
        return e->code;
    for (size_t i = 0; i < found.n; i++) {
        const struct finding *f = &found.v[i];

        if (finding_counts(f))
            seen(&x->findings, slice_of(arena_printf(x->arena, "%s " SLICE_FMT "%s" SLICE_FMT, severity_name(f->severity), SLICE_ARG(f->rule->id),
                                                     f->row->key.n ? " " : "", SLICE_ARG(f->row->key))));
        else if (f->result == TRI_UNKNOWN && !f->withheld_by && !f->superseded_by)
            seen(&x->unsure, arena_dup(x->arena, f->rule->id));
    }
    return 0;
}

/* Differences between what is written and what came out, one line each. */
static size_t differ(struct expectation *x, const struct js *doc, const char *member, const struct texts_seen *got)
{
    const struct js *want = js_get(doc, member);
    size_t wrong = 0;

    if (!want && strcmp(member, "unsure") == 0) /* of what was read in part: what is left open is not the point */
        return 0;
    if (!want || js_kind(want) != JS_ARRAY) {
        buf_printf(x->r->out, "%s/expect.json: wants an array \"%s\"\n", x->folder, member);
        return 1;
    }
    for (size_t i = 0; i < js_count(want); i++) {
        struct slice w = js_as_text(js_at(want, i));
        size_t k = 0;

        while (k < got->n && !slice_eq(got->v[k], w))
            k++;
        if (k == got->n) {
            buf_printf(x->r->out, "%s: missing in %s: " SLICE_FMT "\n", x->folder, member, SLICE_ARG(w));
            wrong++;
        }
    }
    for (size_t k = 0; k < got->n; k++) {
        size_t i = 0;

        while (i < js_count(want) && !slice_eq(got->v[k], js_as_text(js_at(want, i))))
            i++;
        if (i == js_count(want)) {
            buf_printf(x->r->out, "%s: not expected in %s: " SLICE_FMT "\n", x->folder, member, SLICE_ARG(got->v[k]));
            wrong++;
        }
    }
    return wrong;
}

static void free_expectation(struct expectation **x)
{
    if (*x)
        arena_free((*x)->arena);
    free(*x);
}

static int test_recording(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct rules_run *r = ctx;
    _cleanup_(free_expectation) struct expectation *x = NULL;
    _cleanup_(js_free) struct js *doc = NULL;
    struct slice bytes, target;

    if (!slice_ends(slice_of(rel), "expect.json"))
        return 0;
    x = xmalloc(sizeof *x);
    x->r = r;
    x->arena = arena_new(64u << 20);
    x->folder = arena_dup(x->arena, slice_cut(slice_of(path), 0, strlen(path) - strlen("/expect.json"))).p;
    if (fsx_read(path, MAX_EXPECT, x->arena, &bytes, NULL, e) < 0)
        return e->code;
    doc = js_parse(bytes, path, e);
    if (!doc)
        return e->code;
    target = js_as_text(js_get(doc, "target")); /* a folder below, where it is not the recording itself */
    if (env_hosts(&r->env, target.n ? arena_printf(x->arena, "%s/" SLICE_FMT, x->folder, SLICE_ARG(target)) : x->folder, on_host, x, e) < 0)
        return e->code;
    if (differ(x, doc, "findings", &x->findings) + differ(x, doc, "unsure", &x->unsure))
        r->failed++;
    else
        r->passed++;
    return 0;
}

int rules_test(struct rules_run *r)
{
    const char *folder = r->v->recordings ? r->v->recordings : arena_printf(r->env.arena, "%s/fixtures", r->env.data_dir);
    struct err e = {0};
    int rc = rules_load_named(r, &e);

    if (rc == 0)
        rc = rules_test_examples(r, &e);
    if (rc == 0 && (r->v->recordings || (r->nfiles == 0 && fsx_kind(folder) == FSX_FOLDER)))
        rc = fsx_walk(folder, test_recording, r, &e);
    if (rc < 0) {
        int status = cli_fail(r->c, "rules", &e);

        return e.code == VF_EFORMAT ? STATUS_FINDINGS : status; /* as lint: a rule that is wrong */
    }
    buf_printf(r->out, "%zu passed, %zu failed\n", r->passed, r->failed);
    return r->failed ? STATUS_FINDINGS : STATUS_OK;
}
