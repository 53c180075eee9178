#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/fsx.h"
#include "base/json.h"
#include "base/xml.h"
#include "cmd/cmd.h"
#include "cmd/env.h"
#include "core/example.h"
#include "core/lint.h"
#include "core/rng.h"
#include "out/report.h"

#define MAX_EXPECT (4u << 20)

static const char *const verbs[] = {"list", "lint", "test", "rng", NULL};

struct rules_values {
    const char *recordings;
    struct opt_list rules;
};

static const struct opt rules_opts[] = {
    {"recordings", 0, OPT_TEXT, offsetof(struct rules_values, recordings), "DIR",
     "test: the folder that holds recordings with an expect.json (default without FILE: fixtures/ beside rules/)", NULL},
    {"rules", 0, OPT_LIST, offsetof(struct rules_values, rules), "FILE,...", "list: further rule files or folders", NULL},
    {0},
};

struct run {
    struct cli *c;
    struct env env;
    struct ruleset rules;
    const struct rules_values *v;
    char **files; /* operands after the verb */
    int nfiles;
    struct buf *out;
    size_t errors, warnings, passed, failed;
};

/* --- list --- */

static int list(struct run *r)
{
    static const struct text_column columns[] = {{"rule", false, TEXT_KEEP}, {"about", false, TEXT_KEEP}, {"severity", false, TEXT_KEEP},
                                                 {"reviewed", false, TEXT_KEEP}, {"title", false, TEXT_WRAP}};
    struct text_table *t = text_table_new(columns, 5);

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

/* --- lint --- */

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

static void say(struct run *r, const char *text)
{
    buf_add_safe(r->out, slice_of(text));
    buf_addc(r->out, '\n');
}

/* One file on its own: the loader's checks, then RELAX NG behind them. */
static int lint_file(void *ctx, const char *path, struct err *e)
{
    struct run *r = ctx;
    struct rules own = {0};
    struct slice bytes;
    _cleanup_(buf_done) struct buf rng = BUF_INIT(4u << 20);
    struct err found = {0};

    if (fsx_read(path, 64u << 20, r->env.arena, &bytes, NULL, e) < 0)
        return e->code;
    if (rules_load(&own, bytes, path, &r->env.schema, r->env.arena, &found) < 0) {
        r->errors++;
        say(r, found.msg);
        return 0;
    }
    rng_write(&r->env.schema, &rng);
    if (xml_relaxng(bytes, path, buf_slice(&rng), "rules.rng", &found) < 0) {
        r->errors++;
        say(r, found.msg);
    }
    return 0;
}

/* Does a rule's file lie at or below what was named; either may be written from here or from the root. */
static bool concerns(const struct run *r, const char *file)
{
    char real[PATH_MAX], named[PATH_MAX];

    for (int i = 0; i < r->nfiles; i++) {
        struct slice below;

        if (!realpath(file, real) || !realpath(r->files[i], named))
            continue;
        below = slice_from(slice_of(real), strlen(named));
        if (slice_starts(slice_of(real), named) && (below.n == 0 || below.p[0] == '/'))
            return true;
    }
    return r->nfiles == 0;
}

static struct slice today(struct arena *a)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[16];

    if (!gmtime_r(&now, &tm) || strftime(text, sizeof text, "%Y-%m-%d", &tm) == 0)
        return (struct slice){NULL, 0};
    return arena_dup(a, slice_of(text));
}

static int operands(const struct run *r, struct slice *v)
{
    for (int i = 0; i < r->nfiles; i++)
        v[i] = slice_of(r->files[i]);
    return r->nfiles;
}

static int lint(struct run *r)
{
    struct slice *files = arena_array(r->env.arena, (size_t)r->nfiles + 1, sizeof *files);
    struct lint l = {.rules = &r->rules, .arena = r->env.arena, .today = today(r->env.arena), .filled = filled, .ctx = &r->env};
    struct err e = {0};

    if (env_rules_files(&r->env, files, (size_t)operands(r, files), r->nfiles == 0, lint_file, r, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    if (r->errors == 0 && env_rules(&r->env, files, (size_t)r->nfiles, &r->rules, &e) < 0) {
        r->errors++;
        say(r, e.msg);
    }
    for (size_t i = 0; r->errors == 0 && i < r->rules.rules.n; i++)
        if (concerns(r, r->rules.rules.v[i]->file))
            lint_rule(&l, r->rules.rules.v[i]);
    if (r->errors == 0)
        lint_pairs(&l);
    for (size_t i = 0; i < l.n; i++) {
        buf_printf(r->out, "%s:%u: %s", l.v[i].file, l.v[i].line, l.v[i].error ? "" : "note: ");
        say(r, l.v[i].text);
        r->errors += l.v[i].error;
        r->warnings += !l.v[i].error;
    }
    buf_printf(r->out, "%zu rules, %zu errors, %zu notes\n", r->rules.rules.n, r->errors, r->warnings);
    return r->errors ? STATUS_FINDINGS : STATUS_OK;
}

/* --- test --- */

static const char *const results[] = {"no finding", "unsure", "a finding"};

static int test_examples(struct run *r, struct err *e)
{
    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];

        for (unsigned k = 0; k < rule->nexamples && concerns(r, rule->file); k++) {
            struct arena *a = arena_new(64u << 20);
            struct example_result got = {0};
            int rc = example_run(&r->rules, rule, &rule->examples[k], a, &got, e);

            if (rc < 0) {
                r->failed++;
                say(r, e->msg);
            } else if (!got.passed) {
                r->failed++;
                buf_printf(r->out, "%s:%u: " SLICE_FMT ": %s example gives %s; decided by ", rule->file, rule->examples[k].line,
                           SLICE_ARG(rule->id), example_kind_name(rule->examples[k].kind), results[got.got]);
                say(r, got.decided);
            } else {
                r->passed++;
                if (r->c->verbose) {
                    buf_printf(r->out, "%s:%u: " SLICE_FMT ": %s; decided by ", rule->file, rule->examples[k].line, SLICE_ARG(rule->id),
                               example_kind_name(rule->examples[k].kind));
                    say(r, got.decided);
                }
            }
            arena_free(a);
        }
    }
    return 0;
}

/* A recording against its expect.json: findings as "severity rule key", and the rules that stay undetermined. */
struct expectation {
    struct run *r;
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
    struct run *r = ctx;
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

static int test(struct run *r)
{
    const char *folder = r->v->recordings ? r->v->recordings : arena_printf(r->env.arena, "%s/fixtures", r->env.data_dir);
    struct slice *files = arena_array(r->env.arena, (size_t)r->nfiles + 1, sizeof *files);
    struct err e = {0};
    int rc = env_rules(&r->env, files, (size_t)operands(r, files), &r->rules, &e);

    if (rc == 0)
        rc = test_examples(r, &e);
    if (rc == 0 && (r->v->recordings || (r->nfiles == 0 && fsx_kind(folder) == FSX_FOLDER)))
        rc = fsx_walk(folder, test_recording, r, &e);
    if (rc < 0) {
        int status = cli_fail(r->c, "rules", &e);

        return e.code == VF_EFORMAT ? STATUS_FINDINGS : status; /* as lint: a rule that is wrong */
    }
    buf_printf(r->out, "%zu passed, %zu failed\n", r->passed, r->failed);
    return r->failed ? STATUS_FINDINGS : STATUS_OK;
}

static int run_verb(struct run *r, const char *verb)
{
    struct err e = {0};

    if (strcmp(verb, "rng") == 0) {
        rng_write(&r->env.schema, r->out);
        return STATUS_OK;
    }
    if (strcmp(verb, "lint") == 0)
        return lint(r);
    if (strcmp(verb, "test") == 0)
        return test(r);
    if (env_rules(&r->env, r->v->rules.v, r->v->rules.n, &r->rules, &e) < 0)
        return cli_fail(r->c, "rules", &e);
    return list(r);
}

/* The verb, what it takes, and which options are its own. */
static int check_words(const struct rules_values *v, int n, char **words, struct err *e)
{
    struct near near = {.word = slice_of(n ? words[0] : NULL)};
    bool list_verb = n && strcmp(words[0], "list") == 0, test_verb = n && strcmp(words[0], "test") == 0;
    bool rng_verb = n && strcmp(words[0], "rng") == 0, lint_verb = n && strcmp(words[0], "lint") == 0;

    if (n == 0)
        return err_set(e, VF_EUSAGE, "rules what? list, lint, test or rng");
    if (!list_verb && !test_verb && !rng_verb && !lint_verb) {
        near_tryz(&near, verbs);
        return near_fail(&near, "", e, "\"%s\" is none of list, lint, test, rng", words[0]);
    }
    if ((list_verb || rng_verb) && n > 1)
        return err_set(e, VF_EUSAGE, "%s takes no words%s", words[0], list_verb ? "; further rule files are given with --rules" : "");
    if (v->rules.n && !list_verb)
        return err_set(e, VF_EUSAGE, "--rules is an option of list%s", rng_verb ? "" : "; name the files behind the verb");
    if (v->recordings && !test_verb)
        return err_set(e, VF_EUSAGE, "--recordings is an option of test");
    return 0;
}

static int run(struct cli *c, int argc, char **argv)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(64u << 20);
    struct rules_values v = {0};
    struct run r = {.c = c, .v = &v, .out = &out};
    struct err e = {0};
    int n, status, written;

    if (!cli_parse(c, &cmd_rules, &v, argc, argv, &n, &status))
        return status;
    if (check_words(&v, n, argv, &e) < 0)
        return cli_fail(c, "rules", &e);
    if (env_open(&r.env, c->data, c->env.data, &e) < 0) {
        env_close(&r.env);
        return cli_fail(c, "rules", &e);
    }
    r.files = argv + 1;
    r.nfiles = n - 1;
    status = run_verb(&r, argv[0]);
    written = cli_write(c, &out);
    env_close(&r.env);
    return written ? written : status;
}

const struct command cmd_rules = {
    .name = "rules",
    .summary = "list the rules, check them, run their examples",
    .usage = "list\nlint [FILE...]\ntest [FILE...]\nrng",
    .examples = "vmkfit rules list\n"
                "vmkfit rules lint my-controller.xml\n"
                "vmkfit rules test\n"
                "vmkfit rules rng > rules.rng\n",
    .description =
        "list shows every rule with its subject, severity and review date (-v: file and line).\n\n"
        "lint checks rule files in plain words, with file and line, then against the RELAX NG schema. test runs every example of every rule, "
        "and every recording that has an expect.json; where one fails it says which condition decided (-v: for all). With FILE, a rule file or "
        "a folder of them, both concern only what is in there; the shipped rules are loaded too, so that it may name their ids. Both exit with "
        "2 when something is wrong.\n\n"
        "rng prints the RELAX NG schema that editors complete from; it is generated from the fact schema and the action table.",
    .verbs = verbs,
    .opts = rules_opts,
    .run = run,
};
