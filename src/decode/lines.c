#include "decode/plain.h"

#define MAX_PATTERNS 8u
#define MAX_PARTS    24u

enum part_kind { PART_LITERAL, PART_BLANK, PART_WORD, PART_MAYBE, PART_REST };

struct part {
    enum part_kind kind;
    struct slice text; /* literal characters, or the key */
};

struct pattern {
    struct part part[MAX_PARTS];
    size_t n;
};

struct match {
    struct slice text[MAX_PARTS];
    bool open[MAX_PARTS]; /* reaches the end of the line */
};

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool parse_pattern(struct slice s, struct pattern *p)
{
    size_t i = 0;

    for (p->n = 0; i < s.n && p->n < MAX_PARTS; p->n++) {
        struct part *t = &p->part[p->n];
        size_t start = i;

        if (s.p[i] == '{') {
            size_t end = slice_find_char(s, i, '}');

            if (end == SIZE_MAX)
                return false;
            t->text = slice_cut(s, i + 1, end - i - 1);
            i = end + 1;
            t->kind = slice_ends(t->text, "...") ? PART_REST : slice_ends(t->text, "?") ? PART_MAYBE : PART_WORD;
            t->text.n -= t->kind == PART_REST ? 3 : t->kind == PART_MAYBE ? 1 : 0;
        } else if (blank(s.p[i])) {
            while (i < s.n && blank(s.p[i]))
                i++;
            t->kind = PART_BLANK;
        } else {
            while (i < s.n && s.p[i] != '{' && !blank(s.p[i]))
                i++;
            t->kind = PART_LITERAL;
            t->text = slice_cut(s, start, i - start);
        }
    }
    return i == s.n;
}

/* The blanks before a word that may be missing, and before the rest, may be missing too. */
static bool optional_after(const struct pattern *p, size_t i)
{
    return i + 1 == p->n || p->part[i + 1].kind == PART_MAYBE || p->part[i + 1].kind == PART_REST;
}

static size_t word_end(const struct pattern *p, size_t part, struct slice line, size_t at)
{
    char stop = ' ';

    if (part + 1 < p->n && p->part[part + 1].kind == PART_LITERAL)
        stop = p->part[part + 1].text.p[0];
    while (at < line.n && !blank(line.p[at]) && line.p[at] != stop)
        at++;
    return at;
}

static bool fits(const struct pattern *p, struct slice line, struct match *m)
{
    size_t at = 0, end;

    for (size_t i = 0; i < p->n; i++) {
        const struct part *t = &p->part[i];

        end = at;
        switch (t->kind) {
        case PART_LITERAL:
            end = at + t->text.n;
            if (!slice_eq(slice_cut(line, at, t->text.n), t->text))
                return false;
            break;
        case PART_BLANK:
            while (end < line.n && blank(line.p[end]))
                end++;
            if (end == at && !(at == line.n && optional_after(p, i)))
                return false;
            break;
        case PART_WORD:
        case PART_MAYBE:
            end = word_end(p, i, line, at);
            if (end == at && t->kind == PART_WORD)
                return false;
            break;
        case PART_REST:
            end = line.n;
            break;
        }
        m->text[i] = slice_trim(slice_cut(line, at, end - at));
        m->open[i] = end == line.n;
        at = end;
    }
    return at == line.n;
}

static void add_fields(struct builder *b, const struct pattern *p, const struct match *m, const struct plain *l,
                       bool one)
{
    for (size_t i = 0; i < p->n; i++) {
        struct field *f;

        if (p->part[i].kind == PART_LITERAL || p->part[i].kind == PART_BLANK || !p->part[i].text.n)
            continue;
        f = one ? plain_once(b, p->part[i].text, m->text[i], l)
                : builder_field(b, p->part[i].text, m->text[i], l->number);
        if (m->open[i])
            plain_suspect(f, l);
    }
}

/* A pattern that keeps nothing, "#{...}": such lines are known, and left out. */
static bool keeps_nothing(const struct pattern *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->part[i].kind > PART_BLANK && p->part[i].text.n)
            return false;
    return true;
}

/* Patterns that share a key are alternatives: one of them gives it. */
static bool any_there(struct builder *b, const struct pattern *p)
{
    bool keys = false;

    for (size_t j = 0; j < p->n; j++) {
        if (p->part[j].kind <= PART_BLANK || !p->part[j].text.n)
            continue;
        if (plain_find(b, p->part[j].text))
            return true;
        keys = true;
    }
    return !keys;
}

static bool all_there(struct builder *b, const struct pattern *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!any_there(b, &p[i]))
            return false;
    return true;
}

int decode_lines(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct slice rest = slice_of(o->line), text;
    struct pattern *pattern = arena_array(a, MAX_PATTERNS, sizeof *pattern);
    bool one = slice_starts(rest, "+");
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct builder b;
    size_t n = 0, i;
    struct match m;

    builder_init(&b, a);
    if (!pattern) {
        (void)decode_nothing(DECODE_UNUSABLE, "lines", "larger than the limit", 0, out);
        return VF_ELIMIT;
    }
    if (one)
        rest = slice_from(rest, 1);
    while (n < MAX_PATTERNS && slice_next_line(&rest, &text, NULL))
        if (!parse_pattern(text, &pattern[n++]))
            return decode_nothing(DECODE_UNUSABLE, "lines", "the probe's pattern has no such form", 0, out);
    if (plain_refused(in, "lines", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    if (one)
        builder_begin(&b, SLICE_LIT(""), 1);
    while (plain_next(&l)) {
        if (plain_blank(l.line))
            continue;
        text = slice_from(l.line, plain_indent(l.line));
        while (l.ended && text.n && blank(text.p[text.n - 1]))
            text.n--;
        for (i = 0; i < n && !fits(&pattern[i], text, &m); i++)
            ;
        if (i == n) {
            plain_harm(&h, "a line of another form", l.number);
            continue;
        }
        if (keeps_nothing(&pattern[i]))
            continue;
        if (!one)
            builder_begin(&b, SLICE_LIT(""), l.number);
        add_fields(&b, &pattern[i], &m, &l, one);
        if (!one)
            builder_finish(&b);
    }
    if (one && !b.failed && b.nfields == 0)
        builder_drop(&b);
    else if (one && !b.failed && !all_there(&b, pattern, n))
        plain_harm(&h, "a line is missing", 0);
    return plain_end(&b, o, "lines", &l, &h, out);
}
