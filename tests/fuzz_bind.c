/* One text to a typed value: table, column, extraction and origin are chosen by the first four bytes. */
#include "collect/bind.h"
#include "core/pciaddr.h"
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

static void check_value(const struct column *c, const struct value *v, struct arena *a)
{
    struct slice normal;
    bool listed = c->nvalues == 0;

    FUZZ_CHECK(v->state >= VS_UNKNOWN && v->state <= VS_KNOWN);
    FUZZ_CHECK(v->state != VS_UNKNOWN || v->why);
    fuzz_touchz(v->why);
    if (v->state != VS_KNOWN)
        return;
    fuzz_touch(value_text(c, v, a));
    FUZZ_CHECK(value_equal(c, v, v));
    for (unsigned i = 0; i < c->nvalues; i++)
        listed |= slice_eq(c->values[i], v->s);
    FUZZ_CHECK(listed || v->list);
    FUZZ_CHECK(c->type != VT_BOOL || v->i == 0 || v->i == 1);
    FUZZ_CHECK(c->type != VT_HEX || (v->s.n == c->digits && slice_find_char(v->s, 0, ' ') == SIZE_MAX));
    if (c->type == VT_PCI)
        FUZZ_CHECK(pciaddr_parse(v->s, a, &normal) == 0 && slice_eq(normal, v->s));
    if (c->type == VT_NAME)
        FUZZ_CHECK(v->s.n && slice_find_char(v->s, 0, ' ') == SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(a, 16u << 20);
    const struct schema *s = schema();
    const struct table *t = &s->tables[fuzz_choice(&data, &size) % s->ntables];
    const struct column *c = &t->columns[fuzz_choice(&data, &size) % t->ncolumns];
    enum take take = (enum take)(fuzz_choice(&data, &size) % (TAKE_MIB + 1u));
    bool esxcli = fuzz_choice(&data, &size) & 1u;
    struct value v = bind_value(c, s, take, esxcli, fuzz_slice(data, size), a);
    struct value again = bind_value(c, s, take, esxcli, fuzz_slice(data, size), a);

    check_value(c, &v, a);
    FUZZ_CHECK(v.state == again.state && (v.state != VS_KNOWN || value_equal(c, &v, &again)));
    return 0;
}
