#include "core/version.h"

#include <ctype.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/xml.h"

#define MAX_BUILDS 5000u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Next run of digits or of other characters in a field; 0 at its end. */
static size_t run_length(struct slice s)
{
    size_t n = 0;

    while (n < s.n && is_digit(s.p[n]) == is_digit(s.p[0]))
        n++;
    return n;
}

static int order_numbers(struct slice a, struct slice b)
{
    while (a.n && a.p[0] == '0')
        a = slice_from(a, 1);
    while (b.n && b.p[0] == '0')
        b = slice_from(b, 1);
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return slice_cmp(a, b);
}

static bool is_origin(struct slice s)
{
    return slice_ieq(s, SLICE_LIT("vmw")) || slice_ieq(s, SLICE_LIT("OEM"));
}

/* Returns 0 with *order, or -1: the same number from different origins. */
static int order_fields(struct slice a, struct slice b, int *order)
{
    for (;;) {
        struct slice ra = slice_cut(a, 0, run_length(a)), rb = slice_cut(b, 0, run_length(b));

        if (ra.n == 0 || rb.n == 0) {
            *order = (ra.n > 0) - (rb.n > 0);
            return 0;
        }
        if (is_digit(ra.p[0]) && is_digit(rb.p[0])) {
            *order = order_numbers(ra, rb);
        } else if (is_digit(ra.p[0]) != is_digit(rb.p[0])) {
            *order = is_digit(ra.p[0]) ? 1 : -1;
        } else {
            if (!slice_ieq(ra, rb) && is_origin(ra) && is_origin(rb))
                return -1;
            *order = slice_cmp(ra, rb);
        }
        if (*order)
            return 0;
        a = slice_from(a, ra.n);
        b = slice_from(b, rb.n);
    }
}

static int order_parts(struct slice a, struct slice b, const char *seps, int *order)
{
    struct slice fa, fb;

    *order = 0;
    for (;;) {
        bool ha = slice_next_word(&a, seps, &fa), hb = slice_next_word(&b, seps, &fb);

        if (!ha || !hb) {
            *order = ha - hb;
            return 0;
        }
        if (order_fields(fa, fb, order) < 0)
            return -1;
        if (*order)
            return 0;
    }
}

struct slice version_undecorated(struct slice v)
{
    size_t at;

    v = slice_trim(v);
    if (slice_starts(v, "Version "))
        v = slice_from(v, 8);
    at = slice_find(v, 0, ", Build: ");
    return slice_trim(slice_cut(v, 0, at == SIZE_MAX ? v.n : at));
}

struct slice version_bare(struct slice v)
{
    size_t at = slice_find_char(v, 0, '-');

    return slice_cut(v, 0, at == SIZE_MAX ? v.n : at);
}

static bool has_digit(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_digit(s.p[i]))
            return true;
    return false;
}

static struct slice field(struct slice v, unsigned at)
{
    struct slice f = {NULL, 0};

    for (unsigned i = 0; i <= at; i++)
        if (!slice_next_word(&v, ".", &f))
            return (struct slice){NULL, 0};
    return f;
}

/*
 * Some drivers begin their version with the release it is made for, 70.4149.0.5000 or 900.14.4.390.20-36vmw.901.0.24957456: that field when it
 * is one, told by the target field of the release part.
 */
static struct slice release_prefix(struct slice v)
{
    struct slice first = field(version_bare(v), 0), target = field(slice_from(v, version_bare(v).n + 1), 1);

    if (first.n < 2 || first.n > 3 || target.n != 3 || first.p[0] != target.p[0] || first.p[1] != target.p[1])
        return (struct slice){NULL, 0};
    return first;
}

/* Is one side made for a release by its first field, and the other not for the same. */
static bool of_different_releases(struct slice a, struct slice b)
{
    struct slice pa = release_prefix(a), pb = release_prefix(b);

    return (pa.n && !slice_eq(pa, field(version_bare(b), 0))) || (pb.n && !slice_eq(pb, field(version_bare(a), 0)));
}

int version_order(struct slice a, struct slice b, enum version_scheme scheme, int *order)
{
    struct release ra, rb;
    struct slice na, nb;

    if (!has_digit(a) || !has_digit(b))
        return -1;
    switch (scheme) {
    case SCHEME_DOTTED:
        return order_parts(a, b, ".", order);
    case SCHEME_FIRMWARE:
        return order_parts(a, b, ".-:, ", order);
    case SCHEME_ESXI:
        if (release_parse(a, &ra, NULL) < 0 || release_parse(b, &rb, NULL) < 0)
            return -1;
        *order = ra.major != rb.major     ? ra.major - rb.major
                 : ra.minor != rb.minor   ? ra.minor - rb.minor
                 : ra.update != rb.update ? ra.update - rb.update
                                          : ra.letter - rb.letter;
        return 0;
    case SCHEME_VIB:
        a = version_undecorated(a);
        b = version_undecorated(b);
        na = version_bare(a);
        nb = version_bare(b);
        if (of_different_releases(a, b))
            return -1;
        if (order_parts(na, nb, ".", order) < 0)
            return -1;
        if (*order || na.n == a.n || nb.n == b.n)
            return 0;
        return order_parts(slice_from(a, na.n + 1), slice_from(b, nb.n + 1), ".", order);
    }
    return -1;
}

static int take_number(struct slice *s, int *out)
{
    size_t n = 0;
    uint64_t v;

    while (n < s->n && is_digit(s->p[n]))
        n++;
    if (n == 0 || n > 4 || num_parse_u64(slice_cut(*s, 0, n), &v) < 0)
        return -1;
    *out = (int)v;
    *s = slice_from(*s, n);
    return 0;
}

int release_parse(struct slice s, struct release *out, struct err *e)
{
    struct slice all = s;
    struct release r = {.update = 0};

    if (take_number(&s, &r.major) < 0 || r.major == 0 || s.n == 0 || s.p[0] != '.')
        goto bad;
    s = slice_from(s, 1);
    if (take_number(&s, &r.minor) < 0)
        goto bad;
    r.update = -1;
    if (s.n && (s.p[0] == 'u' || s.p[0] == '.')) {
        s = slice_from(s, 1);
        if (take_number(&s, &r.update) < 0)
            goto bad;
    }
    if (s.n == 1 && s.p[0] >= 'a' && s.p[0] <= 'z') {
        r.letter = s.p[0];
        s = slice_from(s, 1);
    }
    if (s.n)
        goto bad;
    *out = r;
    return 0;
bad:
    return err_set(e, VF_EFORMAT, "a release is written 6.5, 6.5u1 or 7.0u3c, not \"" SLICE_FMT "\"", SLICE_ARG(all));
}

int builds_load(struct slice xml, const char *name, struct arena *a, struct builds *out, struct err *e)
{
    _cleanup_(xml_close) struct xml *x = xml_open(xml, name, e);
    struct build *v = NULL;
    size_t n = 0, cap = 0;
    enum xml_event ev;

    if (!x)
        return e->code;
    while ((ev = xml_next(x)) > XML_END) {
        struct build b = {.name.update = -1};
        struct slice s;
        void *grown = v;

        if (ev != XML_OPEN || strcmp(xml_name(x), "build") != 0)
            continue;
        if (!xml_attr(x, "number", &s) || num_parse_u64(s, &b.number) < 0)
            return err_set(e, VF_EFORMAT, "%s:%u: build wants a number", name, xml_line(x));
        if (!xml_attr(x, "line", &s) || release_parse(s, &b.name, e) < 0)
            return err_set(e, VF_EFORMAT, "%s:%u: build wants a line such as 6.5", name, xml_line(x));
        if (xml_attr(x, "name", &s)) {
            if (release_parse(s, &b.name, e) < 0)
                return err_ctx(e, "%s:%u", name, xml_line(x));
            if (b.name.update < 0)
                b.name.update = 0;
        }
        b.name.build = b.number;
        if (xml_attr(x, "title", &s))
            b.title = arena_dup(a, s);
        if (xml_attr(x, "date", &s))
            b.date = arena_dup(a, s);
        if (arena_grow(a, &grown, n, &cap, sizeof *v, MAX_BUILDS) < 0)
            return err_set(e, VF_ELIMIT, "%s: more than %u builds", name, MAX_BUILDS);
        v = grown;
        v[n++] = b;
    }
    if (ev == XML_BROKEN)
        return err_set(e, VF_EFORMAT, "%s: %s", name, xml_error(x, NULL));
    *out = (struct builds){v, n};
    return 0;
}

const struct build *builds_find(const struct builds *b, uint64_t number)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->v[i].number == number)
            return &b->v[i];
    return NULL;
}

static bool same_line(const struct release *a, const struct release *b)
{
    return a->major == b->major && a->minor == b->minor;
}

/* Build of a named release; 0 when the table does not have it. */
static uint64_t build_of(const struct builds *b, const struct release *named)
{
    int update = named->update < 0 ? 0 : named->update;

    for (size_t i = 0; i < b->n; i++) {
        const struct release *r = &b->v[i].name;

        if (same_line(r, named) && r->update == update && r->letter == named->letter)
            return r->build;
    }
    return 0;
}

uint64_t builds_first(const struct builds *b, const struct release *line)
{
    uint64_t least = 0;

    for (size_t i = 0; i < b->n; i++)
        if (same_line(&b->v[i].name, line) && (!least || b->v[i].number < least))
            least = b->v[i].number;
    return least;
}

void release_complete(const struct builds *b, struct release *host)
{
    const struct release *best = NULL;
    const struct build *exact;
    bool within = false;

    if (!host->build)
        return;
    exact = builds_find(b, host->build);
    if (exact && same_line(&exact->name, host) && exact->name.update >= 0) {
        if (host->update < 0)
            host->update = exact->name.update;
        if (host->update == exact->name.update)
            host->letter = exact->name.letter;
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        const struct release *r = &b->v[i].name;

        within |= same_line(r, host) && b->v[i].number >= host->build;
        if (same_line(r, host) && r->update >= 0 && !r->letter && r->build <= host->build &&
            (!best || r->build > best->build))
            best = r;
    }
    if (host->update < 0 && best && within)
        host->update = best->update;
}

int release_order(const struct builds *b, const struct release *host, const struct release *named, int *order)
{
    uint64_t build;

    if (!same_line(host, named)) {
        *order = host->major != named->major ? host->major - named->major : host->minor - named->minor;
        return 0;
    }
    if (named->update <= 0 && !named->letter) { /* the line's first release: no host of the line is before it */
        *order = host->update > 0;
        return 0;
    }
    if (host->update >= 0 && (host->update != (named->update < 0 ? 0 : named->update) || !named->letter)) {
        *order = host->update - named->update; /* before builds: 8.0 U1d has a higher build than 8.0 U2 */
        return 0;
    }
    build = host->build ? build_of(b, named) : 0;
    if (!build)
        return -1;
    *order = (host->build > build) - (host->build < build);
    return 0;
}

int release_covers(const struct builds *b, const struct release *host, const struct release *named)
{
    struct release full = *host;

    if (!same_line(host, named))
        return 0;
    if (named->update < 0 && !named->letter)
        return 1;
    release_complete(b, &full);
    if (full.update < 0)
        return -1;
    if (full.update != (named->update < 0 ? 0 : named->update))
        return 0;
    if (!named->letter)
        return 1;
    if (!full.build || !builds_find(b, full.build))
        return -1;
    return full.letter == named->letter;
}

int release_named_order(const struct release *a, const struct release *b)
{
    int ua = a->update > 0 ? a->update : 0, ub = b->update > 0 ? b->update : 0;

    if (a->major != b->major)
        return a->major - b->major;
    if (a->minor != b->minor)
        return a->minor - b->minor;
    return ua != ub ? ua - ub : a->letter - b->letter;
}
