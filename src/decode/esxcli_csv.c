#include "decode/esxcli.h"

#define MAX_COLUMNS DECODE_MAX_FIELDS

struct csv {
    struct arena *a;
    struct slice rest;
    uint32_t line; /* of the row read last */
    uint32_t next; /* of the row to come */
    struct slice cells[MAX_COLUMNS + 1];
    size_t n;
    const char *broken; /* why nothing more can be read */
};

bool esxcli_is_csv_heading(struct slice line)
{
    size_t start = 0;

    if (line.n < 2 || line.p[line.n - 1] != ',')
        return false;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i], low = (char)(c | 0x20);
        bool letter = low >= 'a' && low <= 'z';

        if (c == ',') {
            if (i == start || i - start > ESXCLI_MAX_KEY)
                return false;
            start = i + 1;
        } else if (!letter && (i == start || !((c >= '0' && c <= '9') || c == '_' || c == ' '))) {
            return false;
        }
    }
    return true;
}

/* A quoted cell, the opening quote taken. Doubled quotes become one. */
static struct slice quoted(struct csv *c)
{
    struct slice cell = {c->rest.p, 0};
    size_t at = 0, doubled = 0, from = 0;
    char *copy, *end;

    for (;;) {
        at = slice_find_char(c->rest, at, '"');
        if (at == SIZE_MAX) {
            c->broken = "a quoted value does not end";
            return cell;
        }
        if (at + 1 < c->rest.n && c->rest.p[at + 1] == '"') {
            doubled++;
            at += 2;
            continue;
        }
        break;
    }
    cell.n = at;
    c->rest = slice_from(c->rest, at + 1);
    for (size_t i = 0; i < cell.n; i++)
        c->next += cell.p[i] == '\n';
    if (!doubled)
        return cell;
    copy = end = arena_alloc(c->a, cell.n);
    if (!copy) {
        c->broken = "over the memory limit";
        return cell;
    }
    while (from < cell.n) {
        *end++ = cell.p[from];
        from += cell.p[from] == '"' ? 2 : 1;
    }
    return (struct slice){copy, (size_t)(end - copy)};
}

static struct slice plain(struct csv *c)
{
    struct slice cell = c->rest;

    for (cell.n = 0; cell.n < c->rest.n; cell.n++) {
        char k = cell.p[cell.n];

        if (k == ',' || k == '\n')
            break;
        if (k == '"') {
            c->broken = "a quote inside an unquoted value";
            break;
        }
    }
    c->rest = slice_from(c->rest, cell.n);
    return cell;
}

/* Read one row into cells; n is 0 for an empty line. False at the end, or when broken is set. */
static bool read_row(struct csv *c)
{
    if (c->rest.n == 0 || c->broken)
        return false;
    c->line = c->next;
    c->n = 0;
    for (;;) {
        struct slice cell;
        bool in_quotes = c->rest.n && c->rest.p[0] == '"';

        if (in_quotes)
            c->rest = slice_from(c->rest, 1);
        cell = in_quotes ? quoted(c) : plain(c);
        if (c->broken)
            return false;
        if (c->n <= MAX_COLUMNS)
            c->cells[c->n] = cell;
        c->n++;
        if (slice_starts(c->rest, "\r\n") || (c->rest.n == 1 && c->rest.p[0] == '\r'))
            c->rest = slice_from(c->rest, 1);
        if (c->rest.n == 0)
            break;
        if (c->rest.p[0] != ',' && c->rest.p[0] != '\n') {
            c->broken = "text after a quoted value";
            return false;
        }
        c->rest = slice_from(c->rest, 1);
        if (c->rest.p[-1] == '\n') {
            c->next++;
            break;
        }
    }
    if (c->n == 1 && slice_trim(c->cells[0]).n == 0)
        c->n = 0;
    return true;
}

static bool is_heading(const struct csv *c, const struct slice *heads, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        if (!slice_eq(slice_trim(c->cells[i]), heads[i]))
            return false;
    return true;
}

/* Rows end in a comma: when quoted text of several lines has such a line, lines may have changed places. */
static bool holds_row(struct slice cell)
{
    return slice_find(cell, 0, ",\n") != SIZE_MAX || slice_find(cell, 0, ",\r\n") != SIZE_MAX;
}

static void read_rows(struct csv *c, struct esxcli_sink *s, const struct slice *heads, size_t columns)
{
    size_t left = c->rest.n;

    for (; !s->stop && read_row(c); left = c->rest.n) {
        if (c->n == 0)
            continue;
        if (left - c->rest.n > DECODE_MAX_LINE) {
            esxcli_note(s, c->line, "over the limit of one line");
            return;
        }
        if (c->n != columns + 1 || slice_trim(c->cells[columns]).n != 0) {
            esxcli_note(s, c->line, "a row with another number of values than the heading");
            continue;
        }
        if (is_heading(c, heads, columns)) {
            esxcli_note(s, c->line, "the heading again: the answer holds two listings");
            continue;
        }
        if (!esxcli_begin(s, (struct slice){NULL, 0}, c->line))
            return;
        for (size_t i = 0; i < columns; i++) {
            struct field *f = esxcli_add(s, heads[i], c->cells[i], c->line);

            if (holds_row(c->cells[i]))
                esxcli_damage(s, f, "a line of this value ends like a row; one may have got into it");
        }
        builder_finish(&s->b);
    }
    if (c->broken)
        esxcli_note(s, c->line, c->broken);
}

int decode_esxcli_csv(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct esxcli_sink s;
    uint32_t line;
    struct slice body = esxcli_body(in, &line), heads[MAX_COLUMNS], rest = body, first;
    struct csv c = {.a = a, .rest = body, .next = line};
    bool ended;

    if (!slice_next_line(&rest, &first, &ended) || !esxcli_is_csv_heading(first))
        return decode_nothing(DECODE_UNUSABLE, "csv", "not the CSV form: no heading that ends in a comma", line, out);
    if (!read_row(&c) || c.n > MAX_COLUMNS)
        return decode_nothing(DECODE_UNUSABLE, "csv", "over the limit of 512 columns", line, out);
    for (size_t i = 0; i + 1 < c.n; i++) {
        heads[i] = slice_trim(c.cells[i]);
        for (size_t j = 0; j < i; j++)
            if (decode_key_eq(heads[i], heads[j]))
                return decode_nothing(DECODE_UNUSABLE, "csv", "a heading occurs twice", line, out);
    }
    esxcli_sink_init(&s, o, a);
    if (!ended)
        esxcli_note(&s, line, "the heading has no line end; it may be cut");
    read_rows(&c, &s, heads, c.n - 1);
    return esxcli_end(&s, "csv", out);
}
