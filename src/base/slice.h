#ifndef VF_BASE_SLICE_H
#define VF_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A view of text: pointer and length, never NUL-dependent, never owned. It lives as long as the bytes it
 * points into; whoever keeps one copies it into an arena first. An empty slice may have a NULL pointer.
 */
struct slice {
    const char *p;
    size_t n;
};

#define SLICE_LIT(s)  ((struct slice){(s), sizeof(s) - 1})
#define SLICE_FMT     "%.*s"
#define SLICE_ARG(s)  (int)((s).n > 4096 ? 4096 : (s).n), (s).p

static inline struct slice slice_of(const char *z)
{
    return (struct slice){z, z ? strlen(z) : 0};
}

static inline struct slice slice_from(struct slice s, size_t at)
{
    if (at >= s.n)
        at = s.n;
    return (struct slice){s.p ? s.p + at : NULL, s.n - at};
}

static inline struct slice slice_cut(struct slice s, size_t at, size_t len)
{
    s = slice_from(s, at);
    if (s.n > len)
        s.n = len;
    return s;
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || (a.p[0] == b.p[0] && memcmp(a.p, b.p, a.n) == 0)); /* mostly the first byte tells */
}

/* Is it one of v[0..n). */
static inline bool slice_among(const struct slice *v, size_t n, struct slice s)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(v[i], s))
            return true;
    return false;
}

static inline bool slice_eqz(struct slice a, const char *z)
{
    for (size_t i = 0; i < a.n; i++) /* mostly the first byte tells */
        if (z[i] == '\0' || z[i] != a.p[i])
            return false;
    return z[a.n] == '\0';
}

static inline bool slice_starts(struct slice s, const char *z)
{
    size_t n = strlen(z);
    return s.n >= n && (n == 0 || memcmp(s.p, z, n) == 0);
}

static inline bool slice_ends(struct slice s, const char *z)
{
    size_t n = strlen(z);
    return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, z, n) == 0);
}

/* ASCII only: the field's own words are ASCII, and the locale must not change a verdict. */
bool slice_ieq(struct slice a, struct slice b);

/* <0, 0, >0 as strcmp, over bytes. */
int slice_cmp(struct slice a, struct slice b);

/* Without blanks, tabs and CR at both ends. */
struct slice slice_trim(struct slice s);
/* Nothing but blanks, tabs and line ends, which slice_trim leaves. */
bool slice_blank(struct slice s);
/* As slice_ends, in any case. */
bool slice_iends(struct slice s, const char *z);

/* Position of the first needle at or after from, or SIZE_MAX. */
size_t slice_find(struct slice s, size_t from, const char *needle);
size_t slice_find_char(struct slice s, size_t from, char c);

/*
 * Take the next line off *rest, without its LF and without one CR before it. Returns false at the end.
 * *ended says whether the line had a line end (the last line of a cut file has none). It may be NULL.
 */
bool slice_next_line(struct slice *rest, struct slice *line, bool *ended);

/* Take the next word (run of characters other than those in seps) off *rest. Returns false at the end. */
bool slice_next_word(struct slice *rest, const char *seps, struct slice *word);

/* Is word one of those in text, which blanks part. */
bool slice_has_word(struct slice text, struct slice word);

/* Glob with '*' as the only wildcard, case-sensitive, linear in n times the number of stars. */
bool slice_glob(struct slice pattern, struct slice text);
/* As ssh's patterns: '?' for one character too, in any case. */
bool slice_iglob(struct slice pattern, struct slice text);

/* The first line that is not blank, trimmed; empty when there is none. */
struct slice slice_first_line(struct slice text);

/* Length of the edit path between two words (insert, delete, replace, swap), for "did you mean"; capped at 99. */
unsigned slice_distance(struct slice a, struct slice b);

/* Bytes of the UTF-8 character at the start of s, and its code point; 0 when there is no valid one. */
size_t slice_utf8(struct slice s, uint32_t *cp);

/*
 * Numbers, whole text only: no sign for the unsigned form, no blanks, no trailing text, no overflow.
 * num_parse_u64 accepts decimal and, with a 0x prefix, hexadecimal. Return 0 or -1.
 */
int num_parse_u64(struct slice s, uint64_t *out);
int num_parse_i64(struct slice s, int64_t *out);
int num_parse_hex(struct slice s, unsigned max_digits, uint64_t *out);

#endif
