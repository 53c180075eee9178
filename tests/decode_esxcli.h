#ifndef VF_TESTS_DECODE_ESXCLI_H
#define VF_TESTS_DECODE_ESXCLI_H

/* What the tests of esxcli's forms share. Included after cmocka.h. */
#include "base/buf.h"
#include "base/xml.h"
#include "decode/decode.h"

static inline int setup(void **state)
{
    *state = arena_new(8u << 20);
    return 0;
}

static inline int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static inline struct decoded decode(void **state, enum decode_shape shape, const char *columns, const char *text)
{
    struct decode_opt o = {.shape = shape, .columns = columns};
    struct decoded d;

    assert_int_equal(decode_esxcli(slice_of(text), &o, *state, &d), 0);
    return d;
}

static inline const struct field *field_at(const struct decoded *d, size_t record, const char *key, size_t nth)
{
    assert_true(record < d->n);
    for (uint32_t i = 0; i < d->records[record].nfields; i++)
        if (slice_eqz(d->records[record].fields[i].key, key) && nth-- == 0)
            return &d->records[record].fields[i];
    return NULL;
}

/* The only field of this key has this text and no damage. */
static inline void expect(const struct decoded *d, size_t record, const char *key, const char *text)
{
    const struct field *f = field_at(d, record, key, 0);

    if (!f || f->damage || !slice_eqz(f->text, text) || field_at(d, record, key, 1))
        fail_msg("%s: \"%.*s\" (%s), not \"%s\"", key, f ? (int)f->text.n : 0, f ? f->text.p : "",
                 f && f->damage ? f->damage : "no damage", text);
}

static inline void expect_damage(const struct decoded *d, size_t record, const char *key)
{
    const struct field *f = field_at(d, record, key, 0);

    assert_non_null(f);
    assert_non_null(f->damage);
    assert_int_equal(d->state, DECODE_PARTIAL);
}

static inline void expect_no(const struct decoded *d, size_t record, const char *key)
{
    assert_null(field_at(d, record, key, 0));
}

/* member number nth of a list */
static inline void expect_member(const struct decoded *d, size_t record, const char *key, size_t nth, const char *text)
{
    const struct field *f = field_at(d, record, key, nth);

    assert_non_null(f);
    assert_true(f->listed);
    assert_true(slice_eqz(f->text, text));
}

/* State and count; line 0 is not looked at. */
static inline void expect_state(const struct decoded *d, enum decode_state st, size_t n, uint32_t line)
{
    if (d->state != st || d->n != n)
        fail_msg("state %d with %zu records, not %d with %zu: %s", d->state, d->n, st, n, d->why ? d->why : "-");
    assert_int_equal(d->why == NULL, st == DECODE_COMPLETE);
    if (line)
        assert_int_equal(d->line, line);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
