/* The schema and the table of builds; the first byte chooses. */
#include "core/schema.h"
#include "fuzz.h"

static void check_schema(const struct schema *s)
{
    struct step steps[SCHEMA_MAX_STEPS];

    FUZZ_CHECK(s->ntables <= SCHEMA_MAX_TABLES);
    for (unsigned t = 0; t < s->ntables; t++) {
        const struct table *table = &s->tables[t];

        FUZZ_CHECK(table->ncolumns <= SCHEMA_MAX_COLUMNS && table->nkeys <= SCHEMA_MAX_KEYS);
        FUZZ_CHECK(schema_table(s, table->name) == (int)t);
        for (unsigned k = 0; k < table->nkeys; k++)
            FUZZ_CHECK(table->keys[k] < table->ncolumns);
        for (unsigned c = 0; c < table->ncolumns; c++) {
            const struct column *column = &table->columns[c];

            fuzz_touch(column->doc);
            FUZZ_CHECK(table_column(table, column->name) == (int)c);
            if (column->type == VT_REF || column->type == VT_REFS)
                FUZZ_CHECK(column->table >= 0 && (unsigned)column->table < s->ntables);
        }
        FUZZ_CHECK(schema_relate(s, 0, (int)t, steps) <= (int)SCHEMA_MAX_STEPS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(a, 16u << 20);
    unsigned choice = fuzz_choice(&data, &size);
    struct schema s = {0};
    struct builds b = {0};
    struct err e = {0};
    int rc;

    if (choice & 2u)
        arena_fail_at(a, 1 + size % 31);
    if (choice & 1u) {
        rc = builds_load(fuzz_slice(data, size), "fuzz", a, &b, &e);
        for (size_t i = 0; rc == 0 && i < b.n; i++)
            FUZZ_CHECK(builds_find(&b, b.v[i].number));
    } else {
        rc = schema_load(fuzz_slice(data, size), "fuzz", a, &s, &e);
        if (rc == 0)
            check_schema(&s);
    }
    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    return 0;
}
