#ifndef VF_TESTS_DECODE_ESXCLI_H
#define VF_TESTS_DECODE_ESXCLI_H

/* What the tests of esxcli's forms share. Included after cmocka.h. */
#include "decoding.h"

#include "base/xml.h"

#define ANY SIZE_MAX /* records, however many */

/* An answer, and what becomes of it. */
struct answer {
    enum decode_shape shape;
    const char *text;
    enum decode_state state;
    size_t n; /* records */
    /* what is not given is not looked at */
    uint32_t line;
    const char *why;
    const char *records[3]; /* their fields as expect_fields() takes them */
    /* as in struct decode_opt */
    const char *columns;
    bool cut;
};

static inline const struct field *field_at(const struct decoded *d, size_t record, struct slice key, size_t nth)
{
    for (uint32_t i = 0; record < d->n && i < d->records[record].nfields; i++)
        if (slice_eq(d->records[record].fields[i].key, key) && nth-- == 0)
            return &d->records[record].fields[i];
    return NULL;
}

/*
 * Fields of a record, parted by '|'; text names the case:
 *   Key=text      the only field of this key, without damage
 *   Key[1]=text   a member of a list, counted from 0
 *   Key!          damaged, so that the answer is partial
 *   Key-          not there
 */
static inline void expect_fields(const struct decoded *d, size_t record, const char *fields, const char *text)
{
    struct slice rest = slice_of(fields), word;

    while (slice_next_word(&rest, "|", &word)) {
        size_t eq = slice_find_char(word, 0, '='), nth = 0;
        struct slice key = slice_cut(word, 0, eq == SIZE_MAX ? word.n - 1 : eq), value = slice_from(word, key.n + 1);
        bool member = slice_ends(key, "]"), good;
        const struct field *f;

        if (member) {
            nth = (size_t)(key.p[key.n - 2] - '0');
            key.n -= strlen("[0]");
        }
        f = field_at(d, record, key, nth);
        if (eq == SIZE_MAX)
            good = slice_ends(word, "-") ? record < d->n && !f : f && f->damage && d->state == DECODE_PARTIAL;
        else
            good = f && slice_eq(f->text, value) && (member ? f->listed : !f->damage && !field_at(d, record, key, 1));
        if (!good)
            fail_msg("record %zu: \"" SLICE_FMT "\" (%s), not " SLICE_FMT ", in\n%.600s", record,
                     SLICE_ARG(f ? f->text : SLICE_LIT("none")), f && f->damage ? f->damage : "no damage", SLICE_ARG(word), text);
    }
}

/* What was decoded is returned for what else there is to see. */
static inline struct decoded expect_answer(struct arena *a, const struct answer *v)
{
    const struct decode_opt o = {.shape = v->shape, .columns = v->columns, .cut = v->cut};
    struct decoded d;

    assert_int_equal(decode_esxcli(slice_of(v->text), &o, a, &d), 0);
    if (d.state != v->state || (v->n != ANY && d.n != v->n) || (v->line && d.line != v->line) ||
        !d.why != (d.state == DECODE_COMPLETE) || (v->why && (!d.why || strcmp(d.why, v->why) != 0)))
        fail_msg("state %d, %zu records, line %u (%s), not %d, %zu, %u (%s), for shape %d of\n%.600s", d.state, d.n, d.line,
                 d.why ? d.why : "-", v->state, v->n, v->line, v->why ? v->why : "-", v->shape, v->text);
    for (size_t i = 0; i < sizeof v->records / sizeof *v->records && v->records[i]; i++)
        expect_fields(&d, i, v->records[i], v->text);
    return d;
}

static inline void expect_answers(struct arena *a, const struct answer *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)expect_answer(a, &v[i]);
}

#endif
