/* Rule files: loaded, sealed, matched against the facts of a recorded host, and their examples run. The first byte may make the arena fail. */
#include "cmd/env.h"
#include "core/example.h"
#include "core/lint.h"
#include "core/match.h"
#include "fuzz.h"

#define HOST "fixtures/sys-5028d-6.5-before"

static struct env env;

static const struct facts *host(void)
{
    static struct facts *f;
    struct target *t;
    struct arena *a;
    struct err e;
    size_t n;

    if (f)
        return f;
    a = arena_new(512u << 20);
    FUZZ_CHECK(env_open(&env, ".", NULL, &e) == 0);
    FUZZ_CHECK(offline_open(HOST, env.arena, &t, &n, &e) == 0 && n == 1);
    FUZZ_CHECK(env_gather(&env, t, a, &f, &e) == 0);
    return f;
}

/* Who corrects a file is told of a mistake when, and only when, a scan refuses it. */
static void check(struct slice text, bool refused, struct arena *a)
{
    struct mistakes m = {.n = 0};
    struct rules rs = {0};
    struct err e = {0};
    int rc = rules_check(&rs, text, "fuzz", &env.schema, a, &m, &e);

    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    FUZZ_CHECK(rc < 0 || (m.n > 0) == refused);
    for (unsigned i = 0; i < m.n; i++)
        FUZZ_CHECK(m.v[i] && strncmp(m.v[i], "fuzz:", 5) == 0);
}

static void match(const struct ruleset *rs, const struct facts *f, struct slice text, struct arena *a)
{
    const struct lint_file file = {"fuzz", text};
    struct match_ctx m = {.rules = rs, .facts = f, .upgrade_to = {.major = 7, .update = -1}, .arena = a};
    struct lint l = {.rules = rs, .arena = a, .files = &file, .nfiles = 1};
    struct findings out = {0};
    struct err e = {0};

    if (match_run(&m, &out, &e) < 0)
        return;
    for (size_t i = 0; i < out.n; i++) {
        FUZZ_CHECK(out.v[i].rule && out.v[i].row && out.v[i].result != TRI_FALSE);
        FUZZ_CHECK(out.v[i].result != TRI_UNKNOWN || out.v[i].why);
    }
    for (size_t i = 0; i < rs->rules.n; i++)
        for (unsigned k = 0; k < rs->rules.v[i]->nexamples; k++) {
            struct example_result got;

            (void)example_run(rs, rs->rules.v[i], &rs->rules.v[i]->examples[k], a, &got, &e);
        }
    for (size_t i = 0; i < rs->rules.n; i++) {
        lint_rule(&l, rs->rules.v[i]);
        lint_names(&l, rs->rules.v[i], &rs->rules);
    }
    lint_pairs(&l);
    for (size_t i = 0; i < l.n; i++)
        FUZZ_CHECK(arena_full(a) || (l.v[i].text && l.v[i].place.line));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct facts *f = host();
    FUZZ_ARENA(a, 64u << 20);
    unsigned choice = fuzz_choice(&data, &size);
    struct ruleset rs;
    struct err e = {0};
    int rc;

    ruleset_init(&rs, &env.schema, &env.builds, a);
    if (choice & 1u)
        arena_fail_at(a, 1 + size % 97);
    rc = rules_load(&rs.rules, fuzz_slice(data, size), "fuzz", &env.schema, a, &e);
    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    if (!arena_full(a))
        check(fuzz_slice(data, size), rc < 0, a);
    if (rc < 0)
        return 0;
    rc = ruleset_seal(&rs, &e);
    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    if (rc == 0)
        match(&rs, f, fuzz_slice(data, size), a);
    return 0;
}
