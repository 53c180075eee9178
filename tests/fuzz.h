#ifndef VF_TESTS_FUZZ_H
#define VF_TESTS_FUZZ_H

/*
 * What the fuzz targets share. A target reads any bytes and must neither crash nor break a promise of its header; what is promised is
 * checked with FUZZ_CHECK. Built with libFuzzer by "make fuzz", and with fuzz_main.c by "make check", which replays tests/corpus.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fsx.h"
#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(promise)                                                             \
    do {                                                                                \
        if (!(promise)) {                                                               \
            (void)fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise); \
            abort();                                                                    \
        }                                                                               \
    } while (0)

static inline void fuzz_free_arena(struct arena **a)
{
    arena_free(*a);
}

#define FUZZ_ARENA(name, limit) _cleanup_(fuzz_free_arena) struct arena *name = arena_new(limit)

/* Every byte can be read: the sanitizer says when not. */
static inline void fuzz_touch(struct slice s)
{
    volatile unsigned sum = 0;

    FUZZ_CHECK(s.n == 0 || s.p);
    for (size_t i = 0; i < s.n; i++)
        sum += (unsigned char)s.p[i];
}

static inline void fuzz_touchz(const char *z)
{
    fuzz_touch(slice_of(z));
}

/* First byte of the input, taken off; 0 when there is none. For targets that choose among several things. */
static inline unsigned fuzz_choice(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    (*size)--;
    return *(*data)++;
}

static inline struct slice fuzz_slice(const uint8_t *data, size_t size)
{
    return (struct slice){(const char *)data, size};
}

/* A file of the repository, for the life of the process. The current folder is the repository's root. */
static inline struct slice fuzz_file(const char *path, struct arena *a)
{
    struct err e = {0};
    struct slice bytes = {NULL, 0};

    if (fsx_read(path, 8u << 20, a, &bytes, NULL, &e) < 0)
        (void)fprintf(stderr, "%s\n", e.msg);
    FUZZ_CHECK(bytes.n > 0);
    return bytes;
}

static inline void fuzz_same_text(const char *a, const char *b)
{
    FUZZ_CHECK((a == NULL) == (b == NULL));
    FUZZ_CHECK(!a || strcmp(a, b) == 0);
}

static inline void fuzz_check_decoded(const struct decoded *d, const struct decode_opt *o)
{
    FUZZ_CHECK(d->state >= DECODE_UNUSABLE && d->state <= DECODE_COMPLETE);
    FUZZ_CHECK((d->why == NULL) == (d->state == DECODE_COMPLETE));
    FUZZ_CHECK(d->n == 0 || d->records);
    FUZZ_CHECK(d->n == 0 || d->state >= DECODE_PARTIAL);
    FUZZ_CHECK(!o->cut || d->state != DECODE_COMPLETE);
    FUZZ_CHECK(d->n <= DECODE_MAX_RECORDS);
    fuzz_touchz(d->form);
    fuzz_touchz(d->why);
    for (size_t i = 0; i < d->n; i++) {
        const struct record *r = &d->records[i];

        fuzz_touch(r->id);
        for (uint32_t k = 0; k < r->nfields; k++) {
            fuzz_touch(r->fields[k].key);
            fuzz_touch(r->fields[k].text);
            fuzz_touchz(r->fields[k].damage);
            /* the lines of a log may disagree without one of them being damaged */
            FUZZ_CHECK(!r->fields[k].damage || d->state != DECODE_COMPLETE || strcmp(d->form, "log") == 0);
        }
    }
}

static inline void fuzz_check_same(const struct decoded *a, const struct decoded *b)
{
    FUZZ_CHECK(a->state == b->state && a->n == b->n && a->line == b->line);
    fuzz_same_text(a->why, b->why);
    fuzz_same_text(a->form, b->form);
    for (size_t i = 0; i < a->n; i++) {
        const struct record *r = &a->records[i], *s = &b->records[i];

        FUZZ_CHECK(r->nfields == s->nfields && r->line == s->line && slice_eq(r->id, s->id));
        for (uint32_t k = 0; k < r->nfields; k++) {
            FUZZ_CHECK(slice_eq(r->fields[k].key, s->fields[k].key) && slice_eq(r->fields[k].text, s->fields[k].text));
            FUZZ_CHECK(r->fields[k].line == s->fields[k].line && r->fields[k].listed == s->fields[k].listed);
            fuzz_same_text(r->fields[k].damage, s->fields[k].damage);
        }
    }
}

/* Decode as probes do, decode again, and decode with an arena that fails at some allocation. */
static inline void fuzz_decode(decode_fn *run, const struct decode_opt *o, const uint8_t *data, size_t size)
{
    FUZZ_ARENA(first, 64u << 20);
    FUZZ_ARENA(second, 64u << 20);
    FUZZ_ARENA(failing, 64u << 20);
    const struct decoder decoder = {"fuzz", "", run};
    struct slice in = fuzz_slice(data, size);
    struct decoded a = {0}, b = {0}, c = {0};
    int rc = decode_answer(&decoder, in, o, first, &a);

    FUZZ_CHECK(rc == 0 || rc == VF_ELIMIT);
    FUZZ_CHECK(decode_answer(&decoder, in, o, second, &b) == rc);
    if (rc == 0) {
        fuzz_check_decoded(&a, o);
        fuzz_check_same(&a, &b);
    }
    arena_fail_at(failing, 1 + size % 37);
    rc = decode_answer(&decoder, in, o, failing, &c);
    FUZZ_CHECK(rc == 0 || rc == VF_ELIMIT);
    if (rc == 0)
        fuzz_check_decoded(&c, o);
}

#endif
