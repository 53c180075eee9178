#include "world.h"

#include "core/words.h"

/* Conditions in words, and which devices the conditions of a rule name. */

struct lines {
    struct buf b;
};

static void line(void *ctx, unsigned depth, const char *text)
{
    struct lines *l = ctx;

    buf_printf(&l->b, "%u %s\n", depth, text);
}

static const struct rule *rule_of(struct world *w, const char *conditions)
{
    const char *xml = arena_printf(w->a,
                                   "<rules format='1'><rule id='one' subject='adapter' severity='warning' status='stable' reviewed='2026-11-30'>"
                                   "<title>t</title>%s<why>w <see href='https://example.com/'/></why>"
                                   "<matches driver='x'/><ignores driver='y'/></rule></rules>",
                                   conditions);

    ruleset_init(&w->rs, &w->schema, &w->builds, w->a);
    if (rules_load(&w->rs.rules, slice_of(xml), "t.xml", &w->schema, w->a, &w->e) < 0)
        fail_msg("%s: %s", conditions, w->e.msg);
    return w->rs.rules.v[0];
}

/* What docs/writing-rules.md says that each form means. */
static void each_condition_says_what_it_means(void **state)
{
    static const struct {
        const char *when, *words;
    } cases[] = {
        {"<esxi release='6.5'/>", "0 esxi: release is 6.5 or a patch of it\n"},
        {"<esxi release-from='6.5' release-before='6.5u1'/>", "0 esxi: release is 6.5 or later and release is before 6.5u1\n"},
        {"<pci id='8086:9d03 8086:a102 8086:a282'/>", "0 its pci whose id is 8086:9d03, 8086:a102 or 8086:a282\n"},
        {"<vib name='sata-ahci'/>", "0 some vib whose name is sata-ahci\n"},
        {"<none><vib name='sata-ahci'/></none>", "0 no vib whose name is sata-ahci\n"},
        {"<esxi release='6.5'/><esxi release='6.7'/><vib name='x'/>",
         "0 one of these:\n1 esxi: release is 6.5 or a patch of it\n1 esxi: release is 6.7 or a patch of it\n0 some vib whose name is x\n"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lines l = {BUF_INIT(10000)};
        const struct rule *rule = rule_of(w, arena_printf(w->a, "<when>%s</when><bad driver='x'/>", cases[i].when));

        words_cond(&w->schema, rule->when, w->a, line, &l);
        assert_string_equal(buf_z(&l.b), cases[i].words);
        buf_done(&l.b);
    }
}

static void a_rule_names_the_devices_of_its_conditions(void **state)
{
    static const struct {
        const char *conditions, *id;
        bool named;
    } cases[] = {
        {"<when><pci id='8086:9d03 8086:a102'/></when><bad driver='x'/>", "8086:a102", true},
        {"<when><pci id='8086:9D03'/></when><bad driver='x'/>", "8086:9d03", true},
        {"<when><pci id='8086:9d03'/></when><bad driver='x'/>", "8086:9d03:15d9:086d", true},     /* a rule of the chip takes in the card */
        {"<when><pci id='8086:9d03:15d9:086d'/></when><bad driver='x'/>", "8086:9d03", true},     /* the chip takes in the rule of a card */
        {"<when><pci id='8086:9d03:15d9:086d'/></when><bad driver='x'/>", "8086:9d03:1028:06b9", false},
        {"<when><pci id='8086:9d03'/></when><bad driver='x'/>", "8086:9d04", false},
        {"<when><none><pci id='8086:9d03'/></none></when><bad driver='x'/>", "8086:9d03", false}, /* excluded */
        {"<bad driver='x'><pci id='8086:9d03'/></bad>", "8086:9d03", true},
        {"<good driver='x'/><good><pci id='8086:9d03'/></good>", "8086:9d03", true},
        {"<bad driver='x'/>", "8086:9d03", false},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rule_names_device(rule_of(w, cases[i].conditions), &w->schema, slice_of(cases[i].id)) != cases[i].named)
            fail_msg("%s: %s", cases[i].conditions, cases[i].id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(each_condition_says_what_it_means),
        T(a_rule_names_the_devices_of_its_conditions),
    };

    xml_setup();
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
