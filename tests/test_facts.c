#include "world.h"

/* A schema of its own: one column for each way of merging. */
static const char schema[] =
    "<schema format='1'>"
    "<table name='one' single='yes'><column name='text' type='text'/></table>"
    "<table name='t' key='id'><column name='id' type='name'/><column name='first' type='text'/><column name='n' type='int'/>"
    "<column name='sum' type='int' merge='sum'/><column name='min' type='int' merge='min'/><column name='max' type='int' merge='max'/>"
    "<column name='early' type='text' merge='min'/><column name='list' type='list'/><column name='all' type='list' merge='union'/>"
    "<column name='b' type='bool'/><column name='to' type='ref' table='u'/><column name='many' type='refs' table='u'/></table>"
    "<table name='u' key='id'><column name='id' type='name'/></table>"
    "<table name='v' key='id'><column name='id' type='name'/><column name='t' type='ref' table='t'/></table>"
    "<table name='far' key='id'><column name='id' type='name'/></table>"
    "</schema>";

struct fixture {
    struct world w;
    struct row *row;
    uint32_t a, b;
};

static int setup(void **state)
{
    static struct fixture t;

    t = (struct fixture){.w.a = arena_new(64u << 20)};
    assert_int_equal(schema_load(SLICE_LIT(schema), "schema", t.w.a, &t.w.schema, &t.w.e), 0);
    t.w.f = facts_new(&t.w.schema, t.w.a);
    assert_non_null(t.w.f);
    t.row = facts_row(t.w.f, 1, SLICE_LIT("r"));
    t.a = facts_add_source(t.w.f, (struct source){.ask = SLICE_LIT("ask a")});
    t.b = facts_add_source(t.w.f, (struct source){.ask = SLICE_LIT("ask b")});
    assert_true(t.a > 0 && t.b > 0 && t.a != t.b);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    world_close(&t->w);
    return 0;
}

static struct value from(struct value v, uint32_t source)
{
    v.source = source;
    return v;
}

static const struct value *put(struct fixture *t, const char *column, struct value v, uint32_t source)
{
    unsigned c = world_column(&t->w, "t", column);

    facts_put(t->w.f, t->row, c, from(v, source));
    return &t->row->cells[c];
}

static struct value txt(const char *z)
{
    return value_slice(slice_of(z));
}

static void a_cell_is_unknown_until_something_is_put(void **state)
{
    struct fixture *t = *state;

    assert_int_equal(facts_cell(t->w.f, t->row, "first")->state, VS_UNKNOWN);
    assert_int_equal(facts_cell(t->w.f, NULL, "first")->state, VS_UNKNOWN);
}

/* The table of merges: what is there, what comes, from the same source or another. */
static void known_beats_absent_beats_unknown(void **state)
{
    static const struct {
        const char *had, *put; /* "?" unknown, "-" absent */
        bool other;
        enum value_state state;
        const char *text;
        bool conflict;
    } c[] = {
        {"?", "?", false, VS_UNKNOWN, "", false}, {"?", "-", false, VS_ABSENT, "", false},  {"?", "a", false, VS_KNOWN, "a", false},
        {"-", "?", false, VS_ABSENT, "", false},  {"-", "-", false, VS_ABSENT, "", false},  {"-", "a", false, VS_KNOWN, "a", false},
        {"a", "?", false, VS_KNOWN, "a", false},  {"a", "-", false, VS_KNOWN, "a", false},  {"a", "a", false, VS_KNOWN, "a", false},
        {"a", "b", false, VS_UNKNOWN, "", true},
        {"?", "?", true, VS_UNKNOWN, "", false},  {"?", "-", true, VS_ABSENT, "", false},   {"?", "a", true, VS_KNOWN, "a", false},
        {"-", "?", true, VS_ABSENT, "", false},   {"-", "-", true, VS_ABSENT, "", false},   {"-", "a", true, VS_KNOWN, "a", false},
        {"a", "?", true, VS_KNOWN, "a", false},   {"a", "-", true, VS_KNOWN, "a", false},   {"a", "a", true, VS_KNOWN, "a", false},
        {"a", "b", true, VS_UNKNOWN, "", true},
    };
    struct fixture *t = *state;
    unsigned col = world_column(&t->w, "t", "first");

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const char *texts[] = {c[i].had, c[i].put};
        const struct value *cell;

        t->row = facts_row(t->w.f, 1, slice_of(arena_printf(t->w.a, "row%zu", i)));
        for (int k = 0; k < 2; k++)
            (void)put(t, "first", texts[k][0] == '?' ? value_unknown("why") : texts[k][0] == '-' ? value_absent() : txt(texts[k]),
                      k && c[i].other ? t->b : t->a);
        cell = &t->row->cells[col];
        if (cell->state != c[i].state || cell->conflict != c[i].conflict || !slice_eqz(cell->s, c[i].text))
            fail_msg("%s then %s, %s source: state %d, \"" SLICE_FMT "\", conflict %d", c[i].had, c[i].put, c[i].other ? "another" : "the same",
                     cell->state, SLICE_ARG(cell->s), cell->conflict);
        if (c[i].conflict)
            assert_true(cell->why && strchr(cell->why, 'b')); /* what the other one said is quoted */
    }
}

static void a_cell_contradicted_within_one_source_stays_unknown(void **state)
{
    struct fixture *t = *state;
    const struct value *cell;

    (void)put(t, "first", txt("a"), t->a);
    (void)put(t, "first", txt("b"), t->a);
    cell = put(t, "first", txt("a"), t->b);
    assert_int_equal(cell->state, VS_UNKNOWN);
    assert_non_null(strstr(cell->why, "given twice, differently"));
}

static void the_first_reason_of_an_unknown_cell_stays(void **state)
{
    struct fixture *t = *state;

    (void)put(t, "first", value_unknown("one"), t->a);
    assert_string_equal(put(t, "first", value_unknown("two"), t->b)->why, "one");
}

static void columns_that_merge_do_so(void **state)
{
    struct fixture *t = *state;
    const struct slice ab[] = {SLICE_LIT("a"), SLICE_LIT("b")}, bc[] = {SLICE_LIT("b"), SLICE_LIT("c")};
    uint32_t file2 = facts_add_source(t->w.f, (struct source){.ask = SLICE_LIT("ask a")}); /* another file of the same log */
    const struct value *v;

    (void)put(t, "sum", value_int(3), t->a);
    assert_int_equal(put(t, "sum", value_int(4), file2)->i, 7);
    assert_int_equal(put(t, "sum", value_int(5), t->b)->i, 7); /* another log reports the same events in its own words */
    assert_int_equal(put(t, "sum", value_unknown("x"), t->b)->i, 7);
    (void)put(t, "min", value_int(3), t->a);
    assert_int_equal(put(t, "min", value_int(9), t->b)->i, 3);
    assert_int_equal(put(t, "min", value_int(-1), t->b)->i, -1);
    (void)put(t, "max", value_int(3), t->a);
    assert_int_equal(put(t, "max", value_int(9), t->b)->i, 9);
    assert_int_equal(put(t, "max", value_int(2), t->b)->i, 9);
    (void)put(t, "early", txt("2026-11-30"), t->a);
    assert_true(slice_eqz(put(t, "early", txt("2026-11-29"), t->b)->s, "2026-11-29"));
    (void)put(t, "all", value_list(ab, 2), t->a);
    v = put(t, "all", value_list(bc, 2), t->b);
    assert_int_equal(v->nlist, 3);
    assert_true(slice_eqz(v->list[2], "c"));
    assert_false(v->conflict);
}

static void a_sum_does_not_overflow(void **state)
{
    struct fixture *t = *state;

    (void)put(t, "sum", value_int(INT64_MAX - 1), t->a);
    assert_true(put(t, "sum", value_int(5), t->a)->i == INT64_MAX);
}

static void lists_numbers_and_booleans_are_compared_as_such(void **state)
{
    struct fixture *t = *state;
    const struct slice ab[] = {SLICE_LIT("a"), SLICE_LIT("b")}, ba[] = {SLICE_LIT("b"), SLICE_LIT("a")};

    (void)put(t, "n", value_int(5), t->a);
    assert_false(put(t, "n", value_int(5), t->b)->conflict);
    assert_true(put(t, "n", value_int(6), t->b)->conflict);
    (void)put(t, "b", value_bool(true), t->a);
    assert_true(put(t, "b", value_bool(false), t->b)->conflict);
    (void)put(t, "list", value_list(ab, 2), t->a);
    assert_false(put(t, "list", value_list(ab, 2), t->b)->conflict);
    assert_true(put(t, "list", value_list(ba, 2), t->b)->conflict);
}

static void a_row_is_found_or_added_once(void **state)
{
    struct fixture *t = *state;
    struct row *r = facts_row(t->w.f, 1, SLICE_LIT("x"));

    assert_ptr_equal(facts_row(t->w.f, 1, SLICE_LIT("x")), r);
    assert_ptr_equal(facts_find(t->w.f, 1, SLICE_LIT("x")), r);
    assert_null(facts_find(t->w.f, 1, SLICE_LIT("X")));
    assert_int_equal(facts_count(t->w.f, 1), 2);
    assert_int_equal(facts_count(t->w.f, 0), 1); /* the one row of a single-row table is there from the start */
    assert_ptr_equal(facts_single(t->w.f, "one"), facts_at(t->w.f, 0, 0));
}

static void rows_are_sorted_with_numbers_as_numbers(void **state)
{
    static const char *const sorted[] = {"naa.2", "vmhba0", "vmhba1", "vmhba2", "vmhba2:C0", "vmhba10", "vmhba32", "vmhba33"};
    struct fixture *t = *state;

    for (size_t i = sizeof sorted / sizeof *sorted; i-- > 0;)
        assert_non_null(facts_row(t->w.f, 2, slice_of(sorted[i * 5 % 8])));
    facts_sort(t->w.f);
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        assert_true(slice_eqz(facts_at(t->w.f, 2, i)->key, sorted[i]));
        assert_int_equal(facts_at(t->w.f, 2, i)->index, i);
        assert_ptr_equal(facts_find(t->w.f, 2, slice_of(sorted[i])), facts_at(t->w.f, 2, i));
    }
    assert_true(natural_cmp(SLICE_LIT("a9"), SLICE_LIT("a10")) < 0);
    assert_true(natural_cmp(SLICE_LIT("a"), SLICE_LIT("a0")) < 0);
    assert_true(natural_cmp(SLICE_LIT("99999999999999999999999"), SLICE_LIT("100000000000000000000000")) < 0);
    assert_int_equal(natural_cmp(SLICE_LIT(""), SLICE_LIT("")), 0);
}

static void a_table_is_complete_only_when_every_call_says_so(void **state)
{
    static const struct {
        const char *calls; /* c complete, p partial, u unknown */
        enum table_state state;
    } c[] = {{"", TS_UNKNOWN},   {"c", TS_COMPLETE}, {"p", TS_PARTIAL},  {"u", TS_UNKNOWN},  {"cc", TS_COMPLETE}, {"cp", TS_PARTIAL}, {"pc", TS_PARTIAL},
             {"cu", TS_PARTIAL}, {"uc", TS_PARTIAL}, {"uu", TS_UNKNOWN}, {"ccpc", TS_PARTIAL}, {"up", TS_PARTIAL}, {"cuc", TS_PARTIAL}};
    struct fixture *t = *state;

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct facts *f = facts_new(&t->w.schema, t->w.a);
        const char *why = "unset";

        for (const char *p = c[i].calls; *p; p++)
            facts_set_table(f, 1, *p == 'c' ? TS_COMPLETE : *p == 'p' ? TS_PARTIAL : TS_UNKNOWN, *p == 'c' ? NULL : "reason");
        if (facts_table(f, 1, &why) != c[i].state)
            fail_msg("calls \"%s\"", c[i].calls);
        assert_int_equal(why == NULL, c[i].state == TS_COMPLETE); /* what is not complete has a reason */
        assert_int_equal(facts_table(f, 0, NULL), TS_COMPLETE);  /* a single-row table always has its row */
    }
}

static void references_lead_to_rows_that_are_there(void **state)
{
    struct fixture *t = *state;
    struct row *u = facts_row(t->w.f, 2, SLICE_LIT("u1"));

    assert_null(facts_ref(t->w.f, t->row, "to"));
    (void)put(t, "to", txt("u1"), t->a);
    assert_ptr_equal(facts_ref(t->w.f, t->row, "to"), u);
    t->row = facts_row(t->w.f, 1, SLICE_LIT("other"));
    (void)put(t, "to", txt("gone"), t->a);
    assert_null(facts_ref(t->w.f, t->row, "to"));
}

static void values_have_a_text_when_they_are_known(void **state)
{
    struct fixture *t = *state;
    const struct table *table = &t->w.schema.tables[1];
    const struct slice ab[] = {SLICE_LIT("a"), SLICE_LIT("b")};
    struct value v = value_bool(true);

    assert_true(slice_eqz(value_text(&table->columns[world_column(&t->w, "t", "b")], &v, t->w.a), "yes"));
    v = value_int(INT64_MIN);
    assert_true(slice_eqz(value_text(&table->columns[world_column(&t->w, "t", "n")], &v, t->w.a), "-9223372036854775808"));
    v = value_list(ab, 2);
    assert_true(slice_eqz(value_text(&table->columns[world_column(&t->w, "t", "list")], &v, t->w.a), "a, b"));
    v = value_absent();
    assert_int_equal(value_text(&table->columns[world_column(&t->w, "t", "n")], &v, t->w.a).n, 0);
    v = value_unknown("x");
    assert_int_equal(value_text(&table->columns[world_column(&t->w, "t", "first")], &v, t->w.a).n, 0);
}

/* --- the schema --- */

static void tables_are_related_by_the_shortest_way(void **state)
{
    struct fixture *t = *state;
    struct step steps[SCHEMA_MAX_STEPS];
    const struct schema *s = &t->w.schema;

    assert_int_equal(schema_relate(s, 1, 1, steps), 0);
    assert_int_equal(schema_relate(s, 1, 2, steps), 1);
    assert_false(steps[0].backward);
    assert_int_equal(schema_relate(s, 2, 1, steps), 1);
    assert_true(steps[0].backward);
    assert_int_equal(schema_relate(s, 3, 2, steps), 2);
    assert_int_equal(schema_relate(s, 1, 4, steps), -1);
    assert_int_equal(schema_relate(s, 4, 1, steps), -1);
}

static void a_broken_schema_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *xml, *says;
    } c[] = {
        {"<schema><table name='t' key='x'><column name='a' type='text'/></table></schema>", "key column"},
        {"<schema><table name='t'><column name='a' type='text'/></table></schema>", "single"},
        {"<schema><table name='t' key='a'><column name='a' type='txt'/></table></schema>", "unknown column type"},
        {"<schema><table name='t' key='a'><column name='a' type='version'/></table></schema>", "scheme"},
        {"<schema><table name='t' key='a'><column name='a' type='text' scheme='vib'/></table></schema>", "scheme"},
        {"<schema><table name='t' key='a'><column name='a' type='text'/><column name='a' type='int'/></table></schema>", "twice"},
        {"<schema><table name='t' key='a'><column name='a' type='ref' table='none'/></table></schema>", "reference"},
        {"<schema><table name='t' key='a'><column name='a' type='text' table='t'/></table></schema>", "reference"},
        {"<schema><table name='t' key='a'><column name='a' type='int' merge='add'/></table></schema>", "unknown merge"},
        {"<schema><table name='t' key='a'><column name='a' type='int' identity='person'/></table></schema>", "unknown identity"},
        {"<schema><table key='a'><column name='a' type='int'/></table></schema>", "name"},
        {"<schema><table name='t' key='a'><column name='a' type='int'/>", "schema.xml"},
    };
    struct fixture *t = *state;

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct schema s = {NULL, 0};
        struct err e = {0};

        if (schema_load(slice_of(c[i].xml), "schema.xml", t->w.a, &s, &e) >= 0)
            fail_msg("accepted: %s", c[i].xml);
        if (!strstr(e.msg, c[i].says))
            fail_msg("%s: %s", c[i].xml, e.msg);
        assert_null(s.tables);
    }
}

static void a_full_arena_gives_no_row_and_no_source(void **state)
{
    struct fixture *t = *state;

    for (size_t n = 1; n < 12; n++) {
        arena_fail_at(t->w.a, n);
        (void)facts_new(&t->w.schema, t->w.a); /* NULL or usable, never a crash */
        arena_fail_at(t->w.a, 0);
    }
    arena_fail_at(t->w.a, 1);
    assert_null(facts_row(t->w.f, 2, SLICE_LIT("new")));
    assert_null(facts_find(t->w.f, 2, SLICE_LIT("new")));
    arena_fail_at(t->w.a, 0);
    assert_non_null(facts_row(t->w.f, 2, SLICE_LIT("new")));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_cell_is_unknown_until_something_is_put),
        T(known_beats_absent_beats_unknown),
        T(a_cell_contradicted_within_one_source_stays_unknown),
        T(the_first_reason_of_an_unknown_cell_stays),
        T(columns_that_merge_do_so),
        T(a_sum_does_not_overflow),
        T(lists_numbers_and_booleans_are_compared_as_such),
        T(a_row_is_found_or_added_once),
        T(rows_are_sorted_with_numbers_as_numbers),
        T(a_table_is_complete_only_when_every_call_says_so),
        T(references_lead_to_rows_that_are_there),
        T(values_have_a_text_when_they_are_known),
        T(tables_are_related_by_the_shortest_way),
        T(a_broken_schema_is_refused_with_its_line),
        T(a_full_arena_gives_no_row_and_no_source),
    };

    xml_setup();
    return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
