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

static void match(const struct ruleset *rs, const struct facts *f, struct arena *a)
{
    struct match_ctx m = {.rules = rs, .facts = f, .upgrade_to = {.major = 7, .update = -1}, .arena = a};
    struct lint l = {.rules = rs, .arena = a};
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
    for (size_t i = 0; i < rs->rules.n; i++)
        lint_rule(&l, rs->rules.v[i]);
    lint_pairs(&l);
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
    if (rc < 0)
        return 0;
    rc = ruleset_seal(&rs, &e);
    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    if (rc == 0)
        match(&rs, f, a);
    return 0;
}
