#include "decode/decode.h"

/*
 * What every decoder's input has in common, done once: a byte order mark and a mail's quote marks go, and what terminals,
 * pagers and word processors leave in copied text (escape sequences, no-break blanks, lines cut at the window's width) marks
 * the texts it may have spoilt.
 */

#define TAIL       16u /* characters at the end of a line that tell two cut lines from two of one kind */
#define MAX_TAILS  8u
#define MAX_WIDTH  4096u

static const char odd_text[] = "characters that no host prints there stand in the text: it was copied from a screen or a page";
static const char cut_lines[] = "lines end where a window or a page ends: they may be cut or wrapped there";

/* Widths of windows, pages and copies. 79 is 80 less the column that many programs leave free. */
static const unsigned widths[] = {79, 80, 100, 120, 132};

/* --- marks of a copy --- */

static bool is_entity(struct slice s)
{
    return slice_starts(s, "&quot;") || slice_starts(s, "&amp;") || slice_starts(s, "&lt;") || slice_starts(s, "&gt;") ||
           slice_starts(s, "&nbsp;") || slice_starts(s, "&#39;");
}

/* A character that no host prints: control characters, blanks of other kinds, characters without width; a pager's or a page's words. */
static bool odd_at(struct slice s)
{
    unsigned char c = (unsigned char)s.p[0];
    uint32_t cp;

    if (c < 0x20 || c == 0x7f)
        return c != '\t' && c != '\n' && c != '\r';
    if (c < 0x80)
        return (c == '-' && slice_starts(s, "--More--")) || (c == '&' && is_entity(s));
    if ((c != 0xc2 && c != 0xe2 && c != 0xe3 && c != 0xef) || slice_utf8(s, &cp) == 0)
        return false;
    return (cp >= 0x80 && cp <= 0xa0) || cp == 0xad || (cp >= 0x2000 && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202f) ||
           (cp >= 0x205f && cp <= 0x2064) || cp == 0x3000 || cp == 0xfeff;
}

/* Bytes that odd_at may answer true for: most texts have few of them. */
static const bool may_be_odd[256] = {[0 ... 8] = true, [11 ... 12] = true, [14 ... 31] = true, ['&'] = true, ['-'] = true,
                                     [0x7f] = true,    [0xc2] = true,      [0xe2 ... 0xe3] = true, [0xef] = true};

size_t decode_find_odd(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (may_be_odd[(unsigned char)s.p[i]] && odd_at(slice_from(s, i)))
            return i;
    return SIZE_MAX;
}

/* Lines with odd characters, in order; every line from the last one on when there are more. */
#define MAX_ODD 1024u

struct odd_lines {
    uint32_t line[MAX_ODD];
    size_t n;
};

static void find_odd_lines(struct slice in, struct odd_lines *o)
{
    struct slice line;
    uint32_t number = 0;

    o->n = 0;
    while (o->n < MAX_ODD && slice_next_line(&in, &line, NULL)) {
        number++;
        if (decode_find_odd(line) != SIZE_MAX)
            o->line[o->n++] = number;
    }
}

static bool is_odd_line(const struct odd_lines *o, uint32_t line)
{
    size_t low = 0, high = o->n;

    if (o->n == MAX_ODD && line >= o->line[MAX_ODD - 1])
        return true;
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (o->line[mid] < line)
            low = mid + 1;
        else
            high = mid;
    }
    return low < o->n && o->line[low] == line;
}

/* Every line begins with ">", as mail programs quote: then that is no part of any. */
static bool is_quoted(struct slice in)
{
    struct slice line;
    size_t lines = 0;

    while (slice_next_line(&in, &line, NULL)) {
        if (!slice_starts(line, ">"))
            return false;
        lines++;
    }
    return lines > 1;
}

/* Returns in when there is no room. */
static struct slice unquote(struct slice in, struct arena *a)
{
    char *p = arena_alloc(a, in.n + 1);
    struct slice out = {p, 0}, rest = in, line;
    bool ended;

    if (!p)
        return in;
    while (slice_next_line(&rest, &line, &ended)) {
        line = slice_from(line, slice_starts(line, "> ") ? 2 : 1);
        if (line.n)
            memcpy(p + out.n, line.p, line.n);
        out.n += line.n;
        if (ended)
            p[out.n++] = '\n';
    }
    return out;
}

/* --- lines cut at one width --- */

struct tail {
    char text[TAIL];
    size_t n;
};

struct width {
    unsigned chars;      /* of the longest lines */
    bool usual;          /* one of widths */
    struct tail tails[MAX_TAILS]; /* of the lines that long, those that differ */
    unsigned lines, ntails, open; /* open: lines with a bracket that is not closed */
    bool padded;         /* a line that long ends in a blank: rows are filled up to it */
};

static size_t count_chars(struct slice s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static bool is_dashes(struct slice line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != '-' && line.p[i] != ' ')
            return false;
    return slice_starts(line, "--");
}

/* The last characters, every digit of a number or of a hexadecimal id alike. */
static struct tail tail_of(struct slice line)
{
    struct tail t = {.n = line.n < TAIL ? line.n : TAIL};

    for (size_t i = 0; i < t.n; i++) {
        char c = line.p[line.n - t.n + i];
        char low = (char)(c | 0x20);

        t.text[i] = (c >= '0' && c <= '9') || (low >= 'a' && low <= 'f') ? '0' : c;
    }
    return t;
}

static bool is_open(struct slice line)
{
    int depth = 0;

    for (size_t i = 0; i < line.n; i++)
        depth += line.p[i] == '(' ? 1 : line.p[i] == ')' ? -1 : 0;
    return depth > 0;
}

static void add_longest(struct width *w, struct slice line)
{
    struct tail t = tail_of(line);
    char last = line.p[line.n - 1];

    if (is_dashes(line))
        return;
    w->lines++;
    if (last == ' ') {
        w->padded = true;
        return;
    }
    w->open += is_open(line);
    for (unsigned i = 0; i < w->ntails; i++)
        if (w->tails[i].n == t.n && memcmp(w->tails[i].text, t.text, t.n) == 0)
            return;
    if (w->ntails < MAX_TAILS)
        w->tails[w->ntails++] = t;
}

static void measure(struct slice in, struct width *w)
{
    struct slice rest = in, line;

    *w = (struct width){0};
    while (slice_next_line(&rest, &line, NULL)) {
        size_t n = count_chars(line);

        if (n > MAX_WIDTH) {
            *w = (struct width){0};
            return;
        }
        if (n > w->chars)
            *w = (struct width){.chars = (unsigned)n};
        if (n && n == w->chars)
            add_longest(w, line);
    }
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        w->usual |= w->chars == widths[i];
}

/* Heading and dash line of a table that is as wide as its longest line. */
static bool find_table(struct slice in, unsigned chars, struct slice *heading, size_t *last, bool *whole)
{
    struct slice rest = in, line, before = {NULL, 0};

    while (slice_next_line(&rest, &line, NULL)) {
        if (is_dashes(line) && line.n == chars) {
            for (*last = slice_trim(line).n; *last && line.p[*last - 1] == '-'; --*last)
                ;
            *heading = before;
            *whole = line.p[line.n - 1] == '-';
            return true;
        }
        before = line;
    }
    return false;
}

/* The last heading is one the probe knows, but not the last, or the beginning of one: columns are missing behind it. */
static bool misses_columns(const char *columns, struct slice name)
{
    struct slice rest = slice_of(columns), word;
    bool last = false, known = false, begins = false;

    while (name.n && slice_next_word(&rest, "|", &word)) {
        last = decode_key_eq(word, name);
        known |= last;
        begins |= word.n > name.n && slice_eq(slice_cut(word, 0, name.n), name);
    }
    return known ? !last : begins;
}

static size_t line_chars(struct slice in, uint32_t number)
{
    struct slice line = {NULL, 0};

    while (number-- && slice_next_line(&in, &line, NULL))
        ;
    return count_chars(line);
}

static bool is_cut(struct slice in, const struct decode_opt *o, const struct decoded *d, const struct width *w)
{
    struct slice heading;
    size_t last;
    bool whole;

    if (w->open > 2)
        return true;
    if (!w->usual)
        return false;
    if (d->state == DECODE_PARTIAL && d->line > 1 && line_chars(in, d->line - 1) == w->chars)
        return true; /* the line below does not fit in: the rest of this one */
    if (find_table(in, w->chars, &heading, &last, &whole)) {
        struct slice name = slice_trim(slice_from(heading, last));

        /* numbers and truth values stand at the right end of every row */
        return !whole || misses_columns(o->columns, name) ||
               (!w->padded && w->ntails > 1 && last < heading.n && heading.p[last] != ' ');
    }
    return w->ntails > 1 || w->open;
}

/* The text ends where a line of that many characters ends, perhaps in blanks. */
static bool ends_at(struct slice in, struct slice text, unsigned chars)
{
    const char *end, *start = text.p;

    if (text.n == 0 || text.p < in.p || text.p + text.n > in.p + in.n)
        return false;
    end = text.p + text.n;
    while (end < in.p + in.n && *end == ' ')
        end++;
    if (end < in.p + in.n && *end != '\n' && *end != '\r')
        return false;
    while (start > in.p && start[-1] != '\n' && (size_t)(end - start) <= 4u * chars)
        start--;
    return count_chars((struct slice){start, (size_t)(end - start)}) == chars;
}

/* --- marking --- */

struct marks {
    struct slice in;
    unsigned cut_at; /* 0: lines are whole */
    bool marked_up;  /* XML and the like: characters of every kind stand in texts, but a copy's blanks at the ends */
    struct odd_lines odd;
};

static const char *damage_of(const struct marks *m, struct slice text, uint32_t line)
{
    if (m->marked_up) {
        bool valid = text.n == 0 || (!odd_at(text) && slice_find(text, 0, "--More--") == SIZE_MAX);
        size_t last = text.n;

        while (last && ((unsigned char)text.p[last - 1] & 0xc0) == 0x80)
            last--;
        if (!valid || (last && odd_at(slice_from(text, last - 1))))
            return odd_text;
        return NULL;
    }
    if (is_odd_line(&m->odd, line))
        return odd_text;
    return m->cut_at && ends_at(m->in, text, m->cut_at) ? cut_lines : NULL;
}

/* Fields with their damage; the record's own when there is none. NULL when there is no room. */
static const struct field *mark_fields(const struct record *r, const struct marks *m, struct arena *a, const char **why, uint32_t *line)
{
    struct field *fields = NULL;

    for (uint32_t k = 0; k < r->nfields; k++) {
        const char *damage = r->fields[k].damage ? NULL : damage_of(m, r->fields[k].text, r->fields[k].line);

        if (!damage)
            continue;
        if (!fields) {
            fields = arena_array(a, r->nfields, sizeof *fields);
            if (!fields)
                return NULL;
            memcpy(fields, r->fields, r->nfields * sizeof *fields);
        }
        fields[k].damage = damage;
        if (!*why) {
            *why = damage;
            *line = fields[k].line;
        }
    }
    return fields || !r->nfields ? fields : r->fields;
}

/* Records are a decoder's, which may share them; what changes is copied. */
static int mark(struct decoded *d, const struct marks *m, struct arena *a, const char **why, uint32_t *line)
{
    struct record *records = NULL;

    for (size_t i = 0; i < d->n; i++) {
        struct record r = d->records[i];

        if (damage_of(m, r.id, r.line))
            r.id.n = 0;
        r.fields = mark_fields(&r, m, a, why, line);
        if (r.nfields && !r.fields)
            return VF_ELIMIT;
        if (r.id.n == d->records[i].id.n && r.fields == d->records[i].fields)
            continue;
        if (!records) {
            records = arena_array(a, d->n, sizeof *records);
            if (!records)
                return VF_ELIMIT;
            memcpy(records, d->records, d->n * sizeof *records);
        }
        records[i] = r;
    }
    if (records)
        d->records = records;
    return 0;
}

static bool is_form(const struct decoded *d, const char *form)
{
    return d->form && strcmp(d->form, form) == 0;
}

static int check_copy(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *d)
{
    struct marks m = {.in = in, .marked_up = is_form(d, "xml") || is_form(d, "json") || is_form(d, "csv")};
    const char *why = NULL;
    struct width w = {0};
    uint32_t line = 0;

    if (!m.marked_up) {
        find_odd_lines(in, &m.odd);
        measure(in, &w);
        if (w.chars && is_cut(in, o, d, &w))
            m.cut_at = w.chars;
        if (!m.odd.n && !m.cut_at)
            return 0;
        why = m.odd.n ? odd_text : cut_lines;
        line = m.odd.n ? m.odd.line[0] : 0;
    } else if (slice_find(in, 0, "--More--") != SIZE_MAX) {
        why = odd_text;
    }
    if (mark(d, &m, a, &why, &line) < 0)
        return VF_ELIMIT;
    if (why && d->state == DECODE_COMPLETE) {
        d->state = d->n ? DECODE_PARTIAL : DECODE_UNUSABLE;
        d->why = why;
        d->line = line;
    }
    return 0;
}

bool decode_lines_cut(struct slice in)
{
    struct width w;

    measure(in, &w);
    return w.usual && w.lines > 1;
}

int decode_answer(const struct decoder *decoder, struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    int rc;

    if (slice_starts(in, "\xff\xfe") || slice_starts(in, "\xfe\xff")) {
        *out = (struct decoded){.state = DECODE_UNUSABLE, .form = "text", .why = "UTF-16, as a Windows shell redirects it: save it as UTF-8"};
        return 0;
    }
    if (slice_starts(in, "\xef\xbb\xbf")) /* byte order mark */
        in = slice_from(in, 3);
    if (is_quoted(in))
        in = unquote(in, a);
    rc = decoder->run(in, o, a, out);
    if (rc < 0 || out->state < DECODE_PARTIAL || decoder->run == decode_vmklog || decoder->run == decode_logspan)
        return rc;
    return check_copy(in, o, a, out);
}
