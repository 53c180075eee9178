#include "world.h"

#include "cmd/env.h"
#include "core/draft.h"
#include "core/example.h"
#include "core/lint.h"

/* Drafts of rules: of every device of every recorded host, and what is refused. */

static struct env env;
static size_t drafts;

/* A draft loads, its examples come out as they say, and lint has nothing against it but what the author has to write. */
static void sound(struct slice xml, const char *what, size_t open)
{
    struct arena *a = arena_new(64u << 20);
    struct ruleset rs;
    struct lint l = {.rules = &rs, .arena = a};
    struct err e = {0};

    ruleset_init(&rs, &env.schema, &env.builds, a);
    if (rules_load(&rs.rules, xml, "draft.xml", &env.schema, a, &e) < 0 || ruleset_seal(&rs, &e) < 0)
        fail_msg("%s: %s\n" SLICE_FMT, what, e.msg, SLICE_ARG(xml));
    assert_int_equal(rs.rules.n, 1);
    for (unsigned i = 0; i < rs.rules.v[0]->nexamples; i++) {
        struct example_result got = {0};

        if (example_run(&rs, rs.rules.v[0], &rs.rules.v[0]->examples[i], a, &got, &e) < 0 || !got.passed)
            fail_msg("%s: example %u: %s %s\n" SLICE_FMT, what, i, got.decided ? got.decided : "", e.msg, SLICE_ARG(xml));
    }
    lint_rule(&l, rs.rules.v[0]);
    for (size_t i = 0; i < l.n; i++)
        if (!strstr(l.v[i].text, "still to be written") && !strstr(l.v[i].text, "see names no source yet"))
            fail_msg("%s: %s", what, l.v[i].text);
    assert_int_equal(l.n, open);
    arena_free(a);
    drafts++;
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    static const char *const tables[] = {"adapter", "nic", "device", "pci"};
    struct buf out = BUF_INIT(1u << 20);

    (void)ctx;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        unsigned t = facts_table_index(h->facts, tables[k]);

        for (size_t i = 0; i < facts_count(h->facts, t); i++) {
            const struct row *r = facts_at(h->facts, t, i), *same;

            buf_reset(&out);
            if (draft_row(h->facts, r, SLICE_LIT("2026-11-30"), &out, e) < 0) {
                assert_int_equal(e->code, VF_ENOTFOUND); /* its driver is not known */
                *e = (struct err){0};
                continue;
            }
            sound(buf_slice(&out), arena_printf(h->facts->arena, "%s " SLICE_FMT, h->target->label, SLICE_ARG(r->key)), 4);
            assert_int_equal(draft_find(h->facts, r->key, &same, e), 0);
            assert_ptr_equal(same, r);
        }
    }
    buf_done(&out);
    return 0;
}

static void every_device_of_every_recording_makes_a_sound_draft(void **state)
{
    struct err e = {0};

    (void)state;
    if (env_hosts(&env, "fixtures", on_host, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    assert_true(drafts > 300);
}

static int one_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct buf out = BUF_INIT(1u << 20);
    const struct row *r;

    (void)ctx;
    (void)e;
    for (unsigned pass = 0; pass < 2; pass++) { /* by name, and by id */
        struct err why = {0};

        buf_reset(&out);
        assert_int_equal(pass ? draft_find_id(h->facts, SLICE_LIT("8086:8C02"), &r, &why) : draft_find(h->facts, SLICE_LIT("vmhba0"), &r, &why), 0);
        assert_int_equal(draft_row(h->facts, r, SLICE_LIT("2026-11-30"), &out, &why), 0);
        assert_non_null(strstr(buf_z(&out), "<rule id=\"vmw-ahci-8086-8c02-15d9-086d\" subject=\"adapter\" severity=\"note\" status=\"draft\" reviewed=\"2026-11-30\">"));
        assert_non_null(strstr(buf_z(&out), "<esxi release=\"6.5\"/>"));
        assert_non_null(strstr(buf_z(&out), "<bad driver=\"vmw_ahci\" driver-version=\"1.0.0-32vmw.650.0.0.4564106\"/>"));
        assert_non_null(strstr(buf_z(&out), "<!-- firmware is left out: "));
    }
    {
        struct err why = {0};

        assert_int_equal(draft_find(h->facts, SLICE_LIT("vmhba00"), &r, &why), VF_ENOTFOUND);
        assert_non_null(strstr(why.msg, "did you mean vmhba0?"));
        assert_int_equal(draft_find_id(h->facts, SLICE_LIT("8086:8c0"), &r, &why), VF_ENOTFOUND);
        assert_int_equal(draft_find_id(h->facts, SLICE_LIT("ffff:ffff"), &r, &why), VF_ENOTFOUND);
        assert_non_null(strstr(why.msg, "no PCI function ffff:ffff"));
    }
    buf_done(&out);
    return 0;
}

static void a_draft_holds_what_the_founding_host_shows(void **state)
{
    struct err e = {0};

    (void)state;
    if (env_hosts(&env, "fixtures/sys-5028d-6.5-before", one_host, NULL, &e) < 0)
        fail_msg("%s", e.msg);
}

static void a_pci_id_alone_is_enough_and_nothing_else_passes_for_one(void **state)
{
    static const char *const bad[] = {"", "8086", "8086:", "8086:9d0", "8086-9d03", "8086:9d03:15d9", "8086:9d03:15d9:086d:01", "8086:9d0g", "8086:9d03:", ":8086:9d03",
                                      "8086::9d03", "8086:9d03 x"};
    struct buf out = BUF_INIT(1u << 20);
    struct err e = {0};

    (void)state;
    assert_int_equal(draft_id(SLICE_LIT("8086:9d03"), SLICE_LIT("Sunrise Point -- LP \x01"), SLICE_LIT("2026-11-30"), &out, &e), 0);
    sound(buf_slice(&out), "8086:9d03", 5); /* the driver too */
    buf_reset(&out);
    assert_int_equal(draft_id(SLICE_LIT("1000:005d:1028:1f49"), (struct slice){NULL, 0}, SLICE_LIT("2026-11-30"), &out, &e), 0);
    sound(buf_slice(&out), "1000:005d:1028:1f49", 5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (draft_id(slice_of(bad[i]), (struct slice){NULL, 0}, SLICE_LIT("2026-11-30"), &out, &e) != VF_EFORMAT)
            fail_msg("\"%s\" passes for a PCI id", bad[i]);
    buf_done(&out);
}

static int open_env(void **state)
{
    struct err e = {0};

    (void)state;
    return env_open(&env, ".", NULL, &e);
}

static int close_env(void **state)
{
    (void)state;
    env_close(&env);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_of_every_recording_makes_a_sound_draft),
        cmocka_unit_test(a_draft_holds_what_the_founding_host_shows),
        cmocka_unit_test(a_pci_id_alone_is_enough_and_nothing_else_passes_for_one),
    };

    xml_setup();
    return cmocka_run_group_tests_name("draft", tests, open_env, close_env);
}
