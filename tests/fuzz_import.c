/* Lists of validated pairs: vSAN's JSON, or a table. What is read is written as rules, and the rule loader has to take them. */
#include "core/import.h"
#include "core/rule.h"
#include "fuzz.h"

static struct schema *schema_of_checkout(void)
{
    static struct schema s;
    static struct arena *a;
    struct slice text;
    struct err e = {0};

    if (a)
        return &s;
    a = arena_new(64u << 20);
    FUZZ_CHECK(fsx_read("probes/schema.xml", 8u << 20, a, &text, NULL, &e) == 0);
    FUZZ_CHECK(schema_load(text, "schema.xml", a, &s, &e) == 0);
    return &s;
}

/* The devices of the list's first entries, as if some host had them. */
static struct seen_devices devices_of(const struct pairs *p, const struct schema *s, struct arena *a)
{
    struct seen_devices seen = {.v = arena_array(a, 20, sizeof *seen.v)};

    for (size_t i = 0; seen.v && i < p->n && seen.n < 20; i++)
        seen.v[seen.n++] = (struct seen_device){p->v[i].id, p->v[i].driver, p->v[i].firmware,
                                                (unsigned)schema_table(s, i % 2 ? SLICE_LIT("nic") : SLICE_LIT("adapter"))};
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool table = fuzz_choice(&data, &size) & 1u;
    struct slice in = fuzz_slice(data, size);
    FUZZ_ARENA(a, 64u << 20);
    _cleanup_(buf_done) struct buf out = BUF_INIT(4u << 20);
    struct schema *s = schema_of_checkout();
    struct rules rs = {0};
    struct seen_devices seen;
    size_t nrules, npairs;
    struct err e = {0};
    struct pairs p;

    if ((table ? import_csv(in, "fuzz", a, &p, &e) : import_vsan_hcl(in, "fuzz", a, &p, &e)) < 0 || p.n > 2000)
        return 0;
    seen = devices_of(&p, s, a);
    if (p.date.n == 0)
        p.date = SLICE_LIT("2026-11-30");
    if (p.link.n == 0)
        p.link = SLICE_LIT("https://example.com/");
    if (import_write(&p, &seen, s, a, &out, &nrules, &npairs, &e) < 0)
        return 0;
    if (rules_load(&rs, buf_slice(&out), "made.xml", s, a, &e) < 0 && e.code != VF_ELIMIT) {
        (void)fprintf(stderr, "%s\n%s\n", e.msg, buf_z(&out));
        abort();
    }
    FUZZ_CHECK(e.code == VF_ELIMIT || rs.n == nrules);
    return 0;
}
