#include "decode/plain.h"

#define MAX_COLUMNS 32u
/* A size of seven digits pushes what follows by two (esxcfg-scsidevs -c); the width of the column before run-together
 * headings is eight, so that a push of eight may as well be an empty cell. */
#define MAX_SHIFT   8u

struct columns {
    struct slice name[MAX_COLUMNS];
    size_t at[MAX_COLUMNS];
    bool joined[MAX_COLUMNS]; /* the heading before runs into this one: its offset says nothing about rows */
    size_t n;
};

struct cells {
    struct slice text[MAX_COLUMNS];
};

/* Headings of the probe, all of them and in order, with only blanks between. */
static bool find_headings(struct slice line, const char *columns, struct columns *c)
{
    struct slice rest = slice_of(columns), name;
    size_t at = 0;

    for (c->n = 0; c->n < MAX_COLUMNS && slice_next_word(&rest, "|", &name); c->n++) {
        size_t start = at;

        while (at < line.n && line.p[at] == ' ')
            at++;
        if (!slice_eq(slice_cut(line, at, name.n), name))
            return false;
        c->name[c->n] = name;
        c->at[c->n] = at;
        c->joined[c->n] = c->n > 0 && at == start;
        at += name.n;
    }
    return c->n > 0 && rest.n == 0 && plain_blank(slice_from(line, at));
}

/* Without names from the probe: the first line's words, parted by two or more blanks. */
static bool take_headings(struct slice line, struct columns *c)
{
    size_t at = 0;

    c->n = 0;
    while (c->n < MAX_COLUMNS) {
        size_t end;

        while (at < line.n && line.p[at] == ' ')
            at++;
        if (at == line.n)
            return c->n > 1;
        end = slice_find(line, at, "  ");
        end = end == SIZE_MAX ? line.n : end;
        c->name[c->n] = slice_trim(slice_cut(line, at, end - at));
        c->joined[c->n] = false;
        c->at[c->n++] = at;
        at = end;
    }
    return false;
}

static bool same_headings(const struct columns *a, const struct columns *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i] != b->at[i])
            return false;
    return a->n == b->n;
}

static bool is_blank_at(struct slice line, size_t at)
{
    return at >= line.n || line.p[at] == ' ';
}

/* Cells parted by two or more blanks: exactly n of them, the last running to the end of the line. */
static bool split_wide(struct slice s, struct slice *cell, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        size_t end;

        while (at < s.n && s.p[at] == ' ')
            at++;
        if (at == s.n)
            return false;
        end = slice_find(s, at, "  ");
        if (i + 1 == n)
            end = s.n;
        else if (end == SIZE_MAX)
            return false;
        cell[i] = slice_trim(slice_cut(s, at, end - at));
        at = end;
    }
    return slice_find(cell[n - 1], 0, "  ") == SIZE_MAX;
}

/* Two cells of one word each, when the first reaches over the second's offset. */
static bool split_words(struct slice s, struct slice *cell)
{
    struct slice extra;

    return slice_next_word(&s, " ", &cell[0]) && slice_next_word(&s, " ", &cell[1]) &&
           !slice_next_word(&s, " ", &extra);
}

/* Does a value fill its column to the last character, so that the next one begins behind it without a blank? Then those behind are in place. */
static bool filled(struct slice line, const struct columns *c, size_t i)
{
    if (is_blank_at(line, c->at[i + 1]))
        return false;
    for (size_t k = i + 2; k < c->n; k++)
        if (!c->joined[k])
            return is_blank_at(line, c->at[k] - 1) && !is_blank_at(line, c->at[k]);
    return false;
}

/*
 * A cell begins exactly at its heading's offset, or is blank. A value wider than its column pushes all that follows, so
 * that later cells do not begin where they should; then the rest of the row is taken only when it can be read in one
 * way: as many parts as columns are left.
 */
static bool split_row(struct slice line, const struct columns *c, struct cells *out)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t left = c->n - i, start = c->at[i], end = i + 1 < c->n ? c->at[i + 1] : line.n;
        struct slice cell = slice_cut(line, start, end > start ? end - start : 0), tail = slice_from(line, start);

        if (left == 1) { /* only a single word may stand further right: a wide value before pushed it */
            struct slice word = slice_trim(cell);

            out->text[i] = word;
            return !is_blank_at(line, start) || slice_find_char(word, 0, ' ') == SIZE_MAX;
        }
        if (c->joined[i + 1]) {
            size_t shift = plain_indent(tail);

            return shift < MAX_SHIFT && split_wide(tail, &out->text[i], left);
        }
        if (!is_blank_at(line, start) && !is_blank_at(line, end - 1) && !filled(line, c, i))
            return left == 2 && slice_find_char(cell, 0, ' ') == SIZE_MAX
                       ? split_words(tail, &out->text[i])
                       : split_wide(tail, &out->text[i], left);
        out->text[i] = slice_trim(cell);
        if (out->text[i].n && is_blank_at(line, start))
            return false;
    }
    return true;
}

static void add_row(struct builder *b, const struct columns *c, const struct cells *cell, const struct plain *l)
{
    size_t last = 0; /* a cell with another behind it is whole, even on a line that may be cut */

    for (size_t i = 0; i < c->n; i++)
        if (cell->text[i].n)
            last = i;
    builder_begin(b, SLICE_LIT(""), l->number);
    for (size_t i = 0; i < c->n; i++) {
        struct field *f = builder_field(b, c->name[i], cell->text[i], l->number);

        if (i >= last)
            plain_suspect(f, l);
    }
    builder_finish(b);
}

int decode_columns(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct columns c = {.n = 0}, again;
    struct cells cell;
    struct builder b;

    if (plain_refused(in, "columns", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&b, a);
    while (!b.failed && plain_next(&l)) {
        if (plain_blank(l.line))
            continue;
        if (o->columns ? find_headings(l.line, o->columns, &again) : c.n == 0 && take_headings(l.line, &again)) {
            if (c.n && !same_headings(&c, &again))
                plain_harm(&h, "a second heading with other columns", l.number);
            c = again;
        } else if (c.n == 0) {
            plain_harm(&h, "a line before the heading", l.number);
        } else if (is_blank_at(l.line, c.at[0]) || !split_row(l.line, &c, &cell)) {
            plain_harm(&h, "a row whose cells do not begin below their headings", l.number);
        } else {
            add_row(&b, &c, &cell, &l);
        }
    }
    if (c.n == 0 && !l.too_long)
        return decode_nothing(DECODE_UNUSABLE, "columns", "no heading line", h.line, out);
    if (b.n == 0 && !h.why && !l.too_long)
        return builder_end(&b, o, "columns", DECODE_COMPLETE, NULL, 0, out);
    return plain_end(&b, o, "columns", &l, &h, out);
}
