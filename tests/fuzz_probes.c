/* Probe files, and the read-only grammar: the first byte chooses. */
#include "collect/probe.h"
#include "fuzz.h"

static const struct schema *schema(void)
{
    static struct schema s;
    static struct arena *a;
    struct err e;

    if (!a) {
        a = arena_new(64u << 20);
        FUZZ_CHECK(schema_load(fuzz_file("probes/schema.xml", a), "schema.xml", a, &s, &e) == 0);
    }
    return &s;
}

/* What the grammar permits holds nothing that a shell acts on. */
static void check_permitted(const struct ask *q)
{
    for (size_t i = 0; i < q->text.n; i++)
        FUZZ_CHECK(q->text.p[i] && !strchr(";&|<>`$()\\\"'\n\r", q->text.p[i]));
    FUZZ_CHECK(q->kind != ASK_FILE || (q->text.n && q->text.p[0] == '/'));
    FUZZ_CHECK(slice_find(q->text, 0, "..") == SIZE_MAX || q->kind != ASK_FILE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(a, 16u << 20);
    unsigned choice = fuzz_choice(&data, &size);
    struct ask q = {.kind = (enum ask_kind)(choice % 4u - 1u), .text = fuzz_slice(data, size)};
    struct probes p = {0};
    struct err e = {0};
    int rc;

    if (choice % 4u) {
        if (ask_readonly(&q, &e) == 0)
            check_permitted(&q);
        return 0;
    }
    if (choice & 4u)
        arena_fail_at(a, 1 + size % 31);
    rc = probes_load(&p, q.text, "fuzz", schema(), a, &e);
    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    for (size_t i = 0; rc == 0 && i < p.n; i++) {
        FUZZ_CHECK(p.v[i]->table < schema()->ntables && probes_find(&p, p.v[i]->id));
        for (unsigned k = 0; k < p.v[i]->nways; k++)
            if (!p.v[i]->ways[k].never)
                check_permitted(&p.v[i]->ways[k].ask);
        for (unsigned k = 0; k < p.v[i]->nbinds; k++)
            FUZZ_CHECK(p.v[i]->binds[k].column < schema()->tables[p.v[i]->table].ncolumns);
    }
    return 0;
}
