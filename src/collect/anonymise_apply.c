#include <stdlib.h>

#include "collect/anonymise_parts.h"

/* Finding spellings in bytes: sorted, the ranges of two first bytes known, each linked to the longest one that begins it. */

static int order(const void *a, const void *b)
{
    const struct spelling *s = a, *t = b;
    int c = slice_cmp(s->text, t->text);

    /* of equal ones the most certain: a thing of a known form before a name, the wider bounds before the narrower */
    return c ? c : s->thing != t->thing ? (int)s->thing - (int)t->thing : (int)s->bounds - (int)t->bounds;
}

static bool begins(const struct spelling *s, struct slice text)
{
    return s->text.n <= text.n && memcmp(s->text.p, text.p, s->text.n) == 0;
}

static unsigned two_bytes(const char *p)
{
    return (unsigned)(unsigned char)lower_of(p[0]) << 8 | (unsigned char)lower_of(p[1]);
}

void anonymise_sort(struct anonymiser *x)
{
    size_t n = 0;

    x->starts = arena_array(x->a, 65536, sizeof *x->starts);
    if (!x->starts) {
        x->failed = true;
        return;
    }
    if (x->nspellings)
        qsort(x->spellings, x->nspellings, sizeof *x->spellings, order);
    for (size_t i = 0; i < x->nspellings; i++) { /* one of each */
        if (x->spellings[i].text.n == 1 && x->spellings[i].bounds == BOUNDS_PLACE) {
            struct spelling *single = arena_alloc(x->a, sizeof *single);

            if (!single) {
                x->failed = true;
                return;
            }
            *single = x->spellings[i];
            x->single[(unsigned char)single->text.p[0]] = single;
        }
        if (x->spellings[i].text.n < 2 || (n && slice_eq(x->spellings[n - 1].text, x->spellings[i].text)))
            continue;
        x->spellings[n++] = x->spellings[i];
    }
    x->nspellings = n;
    for (size_t i = 0; i < n; i++) {
        uint32_t up = i ? (uint32_t)(i - 1) : UINT32_MAX;

        while (up != UINT32_MAX && !begins(&x->spellings[up], x->spellings[i].text))
            up = x->spellings[up].shorter;
        x->spellings[i].shorter = up;
    }
    for (size_t i = 0; i < n; i++) {
        struct range *r = &x->starts[two_bytes(x->spellings[i].text.p)];

        if (r->n++ == 0)
            r->from = (uint32_t)i;
    }
}

/* <0, 0, >0: text in lower case against a spelling; 0 when the spelling begins it. */
static int compare(const struct spelling *s, struct slice text)
{
    size_t n = s->text.n < text.n ? s->text.n : text.n;

    for (size_t i = 2; i < n; i++) {
        int c = (int)(unsigned char)lower_of(text.p[i]) - (int)(unsigned char)s->text.p[i];

        if (c)
            return c;
    }
    return s->text.n <= text.n ? 0 : -1;
}

static bool ends_with(struct slice s, const char *lower)
{
    size_t n = strlen(lower);

    if (s.n < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower_of(s.p[s.n - n + i]) != lower[i])
            return false;
    return true;
}

/* Behind a key that calls for a name: of a line of text, of XML, JSON, keyvalue. */
static bool is_keyed(struct slice before)
{
    static const char *const keys[] = {"displayname",  "volumename", "hostname", "fullyqualifieddomainname", "serialnumber", "enclosureserialnumber",
                                       "assettag", "biosassettag"};
    static const char *const forms[] = {"\n%s:", "\"%s\">\n<string>", "\"%s\"><string>", "\"%s\":\"", "%sstring="};
    _cleanup_(buf_done) struct buf flat = BUF_INIT(256);
    struct slice s = slice_from(before, before.n > 120 ? before.n - 120 : 0);

    if (before.n <= 120)
        buf_addc(&flat, '\n');
    for (size_t i = 0; i < s.n; i++)
        if (is_alnum(s.p[i]) || memchr(":=<>\"\n", s.p[i], 6))
            buf_addc(&flat, lower_of(s.p[i]));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            const char *mark = strchr(forms[k], '%');
            struct slice head = {forms[k], (size_t)(mark - forms[k])}, left = buf_slice(&flat);

            if (!ends_with(left, mark + 2))
                continue;
            left.n -= strlen(mark + 2);
            if (!ends_with(left, keys[i]))
                continue;
            left.n -= strlen(keys[i]);
            if (left.n >= head.n && memcmp(left.p + left.n - head.n, head.p, head.n) == 0)
                return true;
        }
    return ends_with(before, " name = \""); /* vim-cmd; XML has no blanks there */
}

static bool is_end_of_value(struct slice after)
{
    return after.n == 0 || memchr("\r\n<\"", after.p[0], 4) || (after.n > 1 && after.p[0] == ' ' && (after.p[1] == ' ' || after.p[1] == '\n'));
}

/* Is the word in front of at a path below /vmfs/volumes? */
static bool is_volume_path(struct slice in, size_t at)
{
    size_t from = at;

    while (from && at - from < 512 && !memchr("\r\n\"'<>", in.p[from - 1], 6))
        from--;
    return slice_find(slice_cut(in, from, at - from), 0, "/vmfs/volumes/") != SIZE_MAX;
}

/* A cell of a line that has a volume's UUID or path as well. */
static bool is_volume_cell(struct slice in, size_t at, size_t n)
{
    size_t from = at, to = at + n;
    struct slice line;

    while (from && at - from < 512 && in.p[from - 1] != '\n')
        from--;
    while (to < in.n && to - at < 512 && in.p[to] != '\n')
        to++;
    if ((at > from && !ends_with(slice_cut(in, from, at - from), "  ")) || slice_eqz(slice_cut(in, at, n), "true") || slice_eqz(slice_cut(in, at, n), "false"))
        return false;
    line = slice_cut(in, from, to - from);
    if (slice_find(line, 0, "/vmfs/volumes/") != SIZE_MAX)
        return true;
    for (size_t i = 8; i + 27 <= line.n; i++) /* 8-8-4-12 */
        if (line.p[i] == '-' && line.p[i + 9] == '-' && line.p[i + 14] == '-' && is_hex_digit(line.p[i - 8]) && is_hex_digit(line.p[i + 26]))
            return true;
    return false;
}

/* "vmm0:NAME", "vmx-vcpu-0:NAME" */
static bool is_world(struct slice in, size_t at)
{
    size_t digits;

    if (at == 0 || in.p[at - 1] != ':')
        return false;
    for (digits = at - 1; digits && is_digit(in.p[digits - 1]); digits--)
        ;
    return ends_with(slice_cut(in, 0, digits), "vmm") || ends_with(slice_cut(in, 0, digits), "vcpu-");
}

/* Does a name stand here: in a path, behind a world's kind, as all of a value whose key calls for it, as a cell, a heading of a list, in a log? */
static bool is_place(struct slice in, size_t at, size_t n)
{
    struct slice before = slice_cut(in, 0, at), after = slice_from(in, at + n);
    char left = at ? in.p[at - 1] : ' ', right = after.n ? after.p[0] : ' ';

    if (is_alnum(right) || (unsigned char)right >= 0x80)
        return false;
    if (ends_with(before, "/vmfs/volumes/") || ends_with(before, " -l ") || ends_with(before, "_-l_") || ends_with(before, "nfs volume "))
        return true;
    if ((left == '\'' && right == '\'') || (left == '(' && right == ')') || is_world(in, at))
        return true;
    if (left == '/' && (after.n == 0 || memchr("/.-_\"'<\r\n", right, 9)))
        return is_volume_path(in, at);
    if (!is_end_of_value(after))
        return false;
    if ((at == 0 || left == '\n') && slice_starts(slice_from(after, right == '\r'), "\n   World ID"))
        return true;
    return is_keyed(before) || is_volume_cell(in, at, n);
}

static bool fits(const struct spelling *s, struct slice in, size_t at)
{
    size_t end = at + s->text.n;
    char before = at ? in.p[at - 1] : ' ', after = end < in.n ? in.p[end] : ' ';

    switch ((enum bounds)s->bounds) {
    case BOUNDS_NONE:
        return true;
    case BOUNDS_NUMBER:
        return !is_digit(before) && !is_digit(after) && !(before == '.' && at > 1 && is_digit(in.p[at - 2])) &&
               !(after == '.' && end + 1 < in.n && is_digit(in.p[end + 1]));
    case BOUNDS_WORD:
        return !is_alnum(before) && !is_alnum(after);
    case BOUNDS_PLACE:
        return !is_alnum(before) && is_place(in, at, s->text.n);
    }
    return false;
}

static const struct spelling *find(const struct anonymiser *x, struct slice in, size_t at)
{
    struct slice text = slice_from(in, at);
    struct range r = text.n < 2 ? (struct range){0, 0} : x->starts[two_bytes(text.p)];
    size_t low = r.from, high = low + r.n;
    uint32_t best = UINT32_MAX;

    while (low < high) { /* the last spelling that is not behind the text */
        size_t middle = low + (high - low) / 2;

        if (compare(&x->spellings[middle], text) >= 0) {
            best = (uint32_t)middle;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (best != UINT32_MAX && !(compare(&x->spellings[best], text) == 0 && fits(&x->spellings[best], in, at)))
        best = x->spellings[best].shorter;
    if (best == UINT32_MAX && x->single[(unsigned char)lower_of(in.p[at])] && fits(x->single[(unsigned char)lower_of(in.p[at])], in, at))
        return x->single[(unsigned char)lower_of(in.p[at])];
    return best == UINT32_MAX ? NULL : &x->spellings[best];
}

/* A spelling that stands at a place of the input. */
struct standing {
    const struct spelling *spelling;
    size_t at, end;
    bool upper;
};

static struct standing standing_at(const struct spelling *s, struct slice in, size_t at)
{
    struct standing one = {s, at, at + s->text.n, false};

    for (size_t i = at; i < one.end && !one.upper; i++)
        one.upper = in.p[i] != lower_of(in.p[i]);
    return one;
}

/* The byte at i of one that stands there: a letter in the case of the letter it stands for, a hexadecimal digit in the case of the whole. */
static char replaced(const struct standing *one, struct slice in, size_t i)
{
    char c = one->spelling->replacement[i - one->at], was = in.p[i];

    if (lower_of(was) == c)
        return was;
    return is_letter(c) && (one->spelling->hex ? one->upper : was != lower_of(was)) ? (char)(c - ('a' - 'A')) : c;
}

/*
 * From left to right, at each place the longest. What begins inside of one and reaches past its end ("...900-24-ff-09-00-90": the first digits of an
 * address are the last ones of a device id) is replaced from there on, but for what begins there as a whole.
 */
int anonymiser_apply(const struct anonymiser *x, struct slice in, struct buf *out, struct err *e)
{
    struct standing whole = {NULL, 0, 0, false}, rest = whole;
    size_t from = 0;

    if (!x->sealed)
        return err_set(e, VF_EUSAGE, "what identifies the host is not known yet");
    for (size_t at = 0; at < in.n; at++) {
        const struct spelling *s = find(x, in, at);

        if (s && at >= whole.end)
            whole = standing_at(s, in, at);
        else if (s && at + s->text.n > whole.end && at + s->text.n > rest.end)
            rest = standing_at(s, in, at);
        if (at >= whole.end && at >= rest.end)
            continue;
        if (at > from)
            buf_add(out, slice_cut(in, from, at - from));
        buf_addc(out, replaced(at < whole.end ? &whole : &rest, in, at));
        from = at + 1;
    }
    buf_add(out, slice_cut(in, from, in.n - from));
    return out->cut ? err_set(e, VF_ELIMIT, "%zu bytes without names and numbers do not fit", in.n) : 0;
}
