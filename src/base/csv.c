#include "base/csv.h"

static bool line_end(char c)
{
    return c == '\n' || c == '\r';
}

static char guess_separator(struct slice text)
{
    size_t comma = 0, semicolon = 0, tab = 0;
    bool quoted = false;

    for (size_t i = 0; i < text.n && (quoted || !line_end(text.p[i])); i++) {
        quoted ^= text.p[i] == '"';
        comma += !quoted && text.p[i] == ',';
        semicolon += !quoted && text.p[i] == ';';
        tab += !quoted && text.p[i] == '\t';
    }
    return tab > comma && tab > semicolon ? '\t' : semicolon > comma ? ';' : ',';
}

static int fail(const struct csv *c, struct err *e, const char *what)
{
    return err_set(e, VF_EFORMAT, "%s:%u: %s", c->name, c->line, what);
}

static bool take(struct csv *c, char want)
{
    if (c->rest.n == 0 || c->rest.p[0] != want)
        return false;
    c->rest = slice_from(c->rest, 1);
    return true;
}

static void skip_blanks(struct csv *c)
{
    while (c->rest.n && (c->rest.p[0] == ' ' || (c->rest.p[0] == '\t' && c->separator != '\t')))
        c->rest = slice_from(c->rest, 1);
}

/* A field in quotes, the opening one taken; doubled ones inside stand for one. */
static int quoted_field(struct csv *c, struct slice *out, struct err *e)
{
    struct slice from = c->rest;
    size_t doubled = 0, n = 0;
    char *to;

    for (;;) {
        if (c->rest.n == 0)
            return fail(c, e, "a quote is not closed before the end of the file");
        if (take(c, '"')) {
            if (!take(c, '"'))
                break;
            doubled++;
            continue;
        }
        c->next += c->rest.p[0] == '\n';
        c->rest = slice_from(c->rest, 1);
    }
    from.n -= c->rest.n + 1;
    *out = slice_trim(from);
    if (doubled) {
        to = arena_alloc(c->arena, from.n);
        if (!to)
            return err_set(e, VF_ELIMIT, "%s: more text than there is room for", c->name);
        for (size_t i = 0; i < from.n; i += 1 + (from.p[i] == '"'))
            to[n++] = from.p[i];
        *out = slice_trim((struct slice){to, n});
    }
    skip_blanks(c);
    if (c->rest.n && c->rest.p[0] != c->separator && !line_end(c->rest.p[0]))
        return fail(c, e, "text behind a closing quote");
    return 0;
}

static int field(struct csv *c, struct slice *out, struct err *e)
{
    size_t n = 0;

    skip_blanks(c);
    if (take(c, '"'))
        return quoted_field(c, out, e);
    while (n < c->rest.n && c->rest.p[n] != c->separator && !line_end(c->rest.p[n]))
        n++;
    *out = slice_trim(slice_cut(c->rest, 0, n));
    c->rest = slice_from(c->rest, n);
    return 0;
}

static void take_line_end(struct csv *c)
{
    bool cr = take(c, '\r');

    c->next += (take(c, '\n') || cr);
}

/* One line's fields into v, at most CSV_MAX_FIELDS; empty lines and comments are passed over. Returns 1, 0 at the end, or an error. */
static int row(struct csv *c, struct slice *v, unsigned *n, struct err *e)
{
    for (;;) {
        size_t end = 0;

        while (end < c->rest.n && !line_end(c->rest.p[end]))
            end++;
        if (end == 0 && c->rest.n == 0)
            return 0;
        if (!slice_blank(slice_cut(c->rest, 0, end)) && c->rest.p[0] != '#')
            break;
        c->rest = slice_from(c->rest, end);
        take_line_end(c);
    }
    c->line = c->next;
    for (*n = 0;;) {
        int rc;

        if (*n == CSV_MAX_FIELDS)
            return fail(c, e, "more fields than a table of ours has columns");
        rc = field(c, &v[(*n)++], e);
        if (rc < 0)
            return rc;
        if (!take(c, c->separator))
            break;
    }
    take_line_end(c);
    return 1;
}

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c == '_' || c == ' ' ? '-' : c;
}

static bool same_name(struct slice a, struct slice b)
{
    size_t k = 0;

    while (k < a.n && k < b.n && folded(a.p[k]) == folded(b.p[k]))
        k++;
    return k == a.n && k == b.n;
}

/* Which of two columns of one name is meant, nobody can tell. */
static int names_are_unique(const struct csv *c, struct err *e)
{
    for (unsigned i = 0; i < c->nheader; i++)
        for (unsigned k = 0; k < i; k++)
            if (c->header[i].n && same_name(c->header[i], c->header[k]))
                return err_set(e, VF_EFORMAT, "%s:%u: two columns are named \"" SLICE_FMT "\"; take one away", c->name, c->line, SLICE_ARG(c->header[i]));
    return 0;
}

int csv_open(struct csv *c, struct slice text, const char *name, struct arena *a, struct err *e)
{
    int rc;

    *c = (struct csv){.name = name, .arena = a, .rest = text, .line = 1, .next = 1};
    if (slice_starts(text, "\xff\xfe") || slice_starts(text, "\xfe\xff"))
        return fail(c, e, "this is UTF-16; save the table as \"CSV UTF-8\"");
    if (slice_starts(text, "PK\x03\x04"))
        return fail(c, e, "this is a workbook or an archive; save the table as \"CSV UTF-8\"");
    for (size_t i = 0; i < text.n; i++) {
        uint32_t cp;
        size_t n = text.p[i] ? slice_utf8(slice_from(text, i), &cp) : 0;

        if (n == 0)
            return fail(c, e, text.p[i] ? "the text is not UTF-8; save the table as \"CSV UTF-8\"" : "a NUL byte: this is no text");
        c->line += text.p[i] == '\n';
        i += n - 1;
    }
    c->line = 1;
    if (slice_starts(text, "\xef\xbb\xbf"))
        c->rest = slice_from(text, 3);
    c->separator = ','; /* until the header is found */
    for (struct slice s = c->rest, line; slice_next_line(&s, &line, NULL);)
        if (!slice_blank(line) && line.p[0] != '#') {
            c->separator = guess_separator(line);
            break;
        }
    rc = row(c, c->header, &c->nheader, e);
    if (rc == 0)
        return fail(c, e, "no header: the first line names the columns");
    return rc < 0 ? rc : names_are_unique(c, e);
}

int csv_next(struct csv *c, struct err *e)
{
    unsigned n;
    int rc = row(c, c->fields, &n, e);

    if (rc <= 0)
        return rc;
    c->nfields = n;
    while (n > c->nheader && c->fields[n - 1].n == 0)
        n--;
    if (n > c->nheader)
        return err_set(e, VF_EFORMAT, "%s:%u: %u fields, but the header names %u", c->name, c->line, n, c->nheader);
    for (; n < c->nheader; n++)
        c->fields[n] = (struct slice){NULL, 0};
    return 1;
}

int csv_column(const struct csv *c, const char *name)
{
    for (unsigned i = 0; i < c->nheader; i++)
        if (same_name(c->header[i], slice_of(name)))
            return (int)i;
    return -1;
}
