#include "decode/esxcli.h"

#define MAX_COLUMNS 64u /* the widest table of esxcli has 15 */
#define FORM        "text table"

/* Positions are characters from the start of the line, not bytes: esxcli pads by characters. */
struct column {
    size_t start, end; /* of the dash run; without a dash line, of the heading */
    bool right;        /* the heading ends at the run's end and begins after its start: numbers, booleans */
    struct slice name;
};

struct cell {
    size_t start, end;
    struct slice text;
};

struct table {
    struct esxcli_sink s;
    struct column cols[MAX_COLUMNS];
    size_t n;
    struct slice heading, dashes;
    uint32_t number;
    bool ended;
};

/* --- characters and cells --- */

struct cursor {
    struct slice line;
    size_t byte, chars;
};

/* Byte offset of a character position, which must not lie before the last one asked for. */
static size_t seek(struct cursor *c, size_t want)
{
    bool valid;

    while (c->chars < want && c->byte < c->line.n) {
        c->byte += esxcli_char(slice_from(c->line, c->byte), &valid);
        c->chars++;
    }
    return c->byte;
}

static size_t count_chars(struct slice line)
{
    struct cursor c = {line, 0, 0};

    (void)seek(&c, SIZE_MAX);
    return c.chars;
}

/* Split at runs of two or more blanks. Returns the number of cells, or max + 1 when there are more. */
static size_t split(struct slice line, struct cell *cells, size_t max)
{
    size_t n = 0, at = 0, pos = 0, last = 0;
    bool valid;

    while (at < line.n) {
        size_t from, to;

        while (at < line.n && line.p[at] == ' ')
            at++, pos++;
        if (at == line.n)
            break;
        if (n == max)
            return max + 1;
        from = at;
        cells[n].start = pos;
        for (to = at; at < line.n && !(line.p[at] == ' ' && (at + 1 == line.n || line.p[at + 1] == ' ')); pos++) {
            at += esxcli_char(slice_from(line, at), &valid);
            to = at;
            last = pos + 1;
        }
        cells[n].end = last;
        cells[n++].text = slice_cut(line, from, to - from);
    }
    return n;
}

/* A cell of the row by its column's place, trimmed, with its own place. The last runs to the end of the line. */
static struct cell cell_at(struct cursor *c, const struct column *col, bool last)
{
    size_t from = seek(c, col->start), to = last ? c->line.n : seek(c, col->end);
    struct slice raw = slice_cut(c->line, from, to - from);
    struct cell cell = {col->start, col->start, slice_trim(raw)};

    if (cell.text.n == 0)
        return cell;
    cell.start += (size_t)(cell.text.p - raw.p); /* blanks: one byte each */
    cell.end = cell.start + count_chars(cell.text);
    return cell;
}

/* Cut a line by the columns' places. False when something stands between them. */
static bool cut_by_columns(const struct table *t, struct slice line, struct cell *cells)
{
    struct cursor c = {line, 0, 0};
    size_t from = 0;

    for (size_t i = 0; i < t->n; i++) {
        size_t to = seek(&c, t->cols[i].start);

        if (slice_trim(slice_cut(line, from, to - from)).n)
            return false;
        cells[i] = cell_at(&c, &t->cols[i], i + 1 == t->n);
        from = c.byte;
    }
    return true;
}

/* --- heading --- */

static bool is_dashes(struct slice line)
{
    bool dash = false;

    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] != '-' && line.p[i] != ' ')
            return false;
        dash = dash || line.p[i] == '-';
    }
    return dash;
}

static const char *read_dashes(struct table *t, struct slice line)
{
    size_t at = 0;

    t->n = 0;
    while (at < line.n) {
        size_t start;

        for (start = at; start < line.n && line.p[start] == ' '; start++)
            ;
        if (start == line.n)
            break;
        if (t->n && start - at != 2)
            return "the dash line is damaged: columns are not parted by two blanks";
        if (t->n == MAX_COLUMNS)
            return "over the limit of 64 columns";
        for (at = start; at < line.n && line.p[at] == '-'; at++)
            ;
        t->cols[t->n++] = (struct column){.start = start, .end = at};
    }
    return NULL;
}

/* Every heading stands at the start or the end of its dash run. The heading line may be cut at its end (5.x). */
static const char *read_heading(struct table *t, struct slice line)
{
    static const char misfit[] = "heading and dash line do not agree";
    struct cell cells[MAX_COLUMNS];

    if (memchr(line.p, '\t', line.n) || esxcli_not_plain(line) || !cut_by_columns(t, line, cells))
        return misfit;
    for (size_t i = 0; i < t->n; i++) {
        struct column *col = &t->cols[i];

        if (slice_find(cells[i].text, 0, "  ") != SIZE_MAX)
            return misfit;
        col->name = cells[i].text;
        if (cells[i].text.n == 0) {
            esxcli_note(&t->s, t->number, "a column without a heading");
            continue;
        }
        if (cells[i].start != col->start && cells[i].end != col->end)
            return misfit;
        if (cells[i].end > col->end && i + 1 < t->n)
            return misfit;
        col->right = cells[i].start != col->start;
        for (size_t j = 0; j < i; j++)
            if (decode_key_eq(col->name, t->cols[j].name))
                return "a heading occurs twice";
    }
    return t->cols[0].name.n ? NULL : misfit;
}

/* --- rows --- */

static struct field *add_cell(struct table *t, size_t column, struct slice text)
{
    if (t->cols[column].name.n == 0)
        return NULL;
    return esxcli_add(&t->s, t->cols[column].name, text, t->number);
}

/* The first n cells as a record; returns the last field. */
static struct field *add_row(struct table *t, const struct cell *cells, size_t n)
{
    struct field *f = NULL;

    if (!esxcli_begin(&t->s, (struct slice){NULL, 0}, t->number))
        return NULL;
    for (size_t i = 0; i < n && !t->s.stop; i++) {
        struct field *g = add_cell(t, i, cells[i].text);

        f = g ? g : f;
    }
    return f;
}

/*
 * A row longer than its columns, or shifted: it is taken when it splits at two or more blanks into as many cells as
 * there are columns, and each lies at least in part in its own column.
 */
static bool resplit(const struct table *t, struct slice line, struct cell *cells)
{
    if (split(line, cells, t->n) != t->n)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (cells[i].end <= t->cols[i].start || (i + 1 < t->n && cells[i].start >= t->cols[i].end))
            return false;
    return true;
}

/* The heading again: on some hosts per page, or another table's. */
static bool is_heading_again(const struct table *t, const struct cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!decode_key_eq(cells[i].text, t->cols[i].name))
            return false;
    return n > 0;
}

/* What is wrong with the last cell of a row that reaches it; NULL when nothing is. */
static const char *check_last(const struct table *t, const struct cell *cell, size_t chars, bool aligned)
{
    const struct column *col = &t->cols[t->n - 1];
    bool right = col->right || (aligned && cell->text.n && cell->start != col->start);

    if (cell->text.n == 0)
        return chars < col->end && (col->right || chars > col->start) ? "the row ends here; it may be cut" : NULL;
    return right && cell->end < col->end ? "the value does not reach its column's end; it may be cut" : NULL;
}

/* A number or boolean that ends where its column ends cannot be longer. */
static bool is_at_its_end(const struct column *col, const struct cell *cell)
{
    return cell->text.n && cell->start > col->start && cell->end == col->end;
}

/* Cells that stand at neither end of their column, numbers that do not end at its end, or two cells in one column. */
static bool misaligned(const struct table *t, const struct cell *cells)
{
    const struct column *last = &t->cols[t->n - 1];
    const struct cell *end = &cells[t->n - 1];

    if (end->start != last->start && slice_find(end->text, 0, "  ") != SIZE_MAX)
        return true;
    for (size_t i = 0; i + 1 < t->n; i++) {
        if (cells[i].text.n && cells[i].end != t->cols[i].end && (t->cols[i].right || cells[i].start != t->cols[i].start))
            return true;
        if (slice_find(cells[i].text, 0, "  ") != SIZE_MAX)
            return true;
    }
    return false;
}

/* A row that ends before its last column begins. */
static void short_row(struct table *t, const struct cell *cells, size_t chars)
{
    size_t n = t->n - 1;
    struct field *f;

    while (n && cells[n - 1].text.n == 0)
        n--;
    esxcli_note(&t->s, t->number, "the row ends early; it may be cut");
    if (n == 0)
        return;
    f = add_row(t, cells, n);
    if (chars < t->cols[n - 1].end)
        esxcli_damage(&t->s, f, "the row ends here; it may be cut");
    builder_finish(&t->s.b);
}

static void read_row(struct table *t, struct slice line)
{
    struct cell cells[MAX_COLUMNS];
    const struct column *last = &t->cols[t->n - 1];
    size_t chars = count_chars(line);
    bool aligned = cut_by_columns(t, line, cells) && !misaligned(t, cells);
    struct field *f;

    if (memchr(line.p, '\t', line.n)) {
        esxcli_note(&t->s, t->number, "a tab in a row: its columns cannot be told");
        return;
    }
    if (aligned && is_heading_again(t, cells, t->n)) {
        if (!slice_eq(slice_trim(line), slice_trim(t->heading)))
            esxcli_note(&t->s, t->number, "another table begins");
        t->s.stop = !slice_eq(slice_trim(line), slice_trim(t->heading));
        return;
    }
    if (aligned && chars < last->start) {
        short_row(t, cells, chars);
        return;
    }
    if (!aligned && !resplit(t, line, cells)) {
        esxcli_note(&t->s, t->number, "a row that does not fit its columns");
        return;
    }
    if (!aligned && is_heading_again(t, cells, t->n)) {
        esxcli_note(&t->s, t->number, "another table begins");
        t->s.stop = true;
        return;
    }
    f = add_row(t, cells, t->n);
    esxcli_damage(&t->s, f, check_last(t, &cells[t->n - 1], chars, aligned));
    if (!t->ended && !(aligned && !t->s.o->cut && is_at_its_end(last, &cells[t->n - 1])))
        esxcli_unended(&t->s, f);
    builder_finish(&t->s.b);
}

static bool next_line(struct table *t, struct slice *rest, struct slice *line)
{
    while (!t->s.stop && slice_next_line(rest, line, &t->ended)) {
        t->number++;
        if (line->n > DECODE_MAX_LINE) {
            esxcli_note(&t->s, t->number, "over the limit of one line");
            return false;
        }
        if (!esxcli_blank(*line))
            return true;
    }
    return false;
}

static void read_rows(struct table *t, struct slice rest)
{
    struct slice line;

    while (next_line(t, &rest, &line)) {
        if (!is_dashes(line)) {
            read_row(t, line);
        } else if (t->s.b.n && slice_eq(slice_trim(line), slice_trim(t->dashes))) {
            esxcli_note(&t->s, t->number, "heading and dash line again: the answer holds two listings");
        } else if (!slice_eq(slice_trim(line), slice_trim(t->dashes))) {
            esxcli_note(&t->s, t->number, "another table begins");
            return;
        }
    }
}

/* --- without a dash line --- */

/* The probe's headings "A|B|C" as columns without places. */
static size_t expected_columns(const char *columns, struct column *cols)
{
    struct slice rest = slice_of(columns), word;
    size_t n = 0;

    while (n < MAX_COLUMNS && slice_next_word(&rest, "|", &word))
        cols[n++] = (struct column){.name = slice_trim(word)};
    return n;
}

/* How many cells are headings that the probe knows? */
static size_t count_headings(const struct cell *cells, size_t n, const struct column *cols, size_t columns)
{
    size_t hits = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < columns; j++)
            if (decode_key_eq(cells[i].text, cols[j].name)) {
                hits++;
                break;
            }
    return hits;
}

/*
 * Place the cells under headings: each must begin or end with one, and touch no other. More cells than headings are
 * good only as text of the last column with two blanks inside.
 */
static bool place_cells(const struct table *t, struct slice line, const struct cell *in, size_t n, struct cell *out)
{
    size_t col = 0, placed = n > t->n ? t->n : n;

    for (size_t i = 0; i < t->n; i++)
        out[i] = (struct cell){t->cols[i].start, t->cols[i].start, {NULL, 0}};
    for (size_t i = 0; i < placed; i++, col++) {
        while (col < t->n && in[i].start != t->cols[col].start && in[i].end != t->cols[col].end)
            col++;
        if (col == t->n)
            return false;
        out[col] = in[i];
        if (col + 1 == t->n && in[i].start == t->cols[col].start) { /* the last column runs to the end of the line */
            out[col].text.n = (size_t)(line.p + line.n - in[i].text.p);
            return true;
        }
        if ((col + 1 < t->n && in[i].end > t->cols[col + 1].start) || (col && in[i].start < t->cols[col - 1].end))
            return false;
    }
    return placed == n;
}

/* Rows below a heading whose dash line is gone. */
static void rows_below_heading(struct table *t, struct slice rest)
{
    struct cell split_cells[MAX_COLUMNS + 1], cells[MAX_COLUMNS];
    struct slice line;

    while (next_line(t, &rest, &line)) {
        size_t n = split(line, split_cells, t->n), last;
        struct field *f;

        if (slice_eq(slice_trim(line), slice_trim(t->heading)) || (t->dashes.n && slice_eq(slice_trim(line), slice_trim(t->dashes)))) {
            if (t->dashes.n)
                esxcli_note(&t->s, t->number, "heading and dash line again: the answer holds two listings");
            continue;
        }
        if (memchr(line.p, '\t', line.n) || !place_cells(t, line, split_cells, n, cells)) {
            esxcli_note(&t->s, t->number, "a row that does not fit its headings");
            continue;
        }
        for (last = t->n; last && cells[last - 1].text.n == 0; last--)
            ;
        if (last < t->n)
            esxcli_note(&t->s, t->number, "the row ends early; it may be cut");
        f = add_row(t, cells, last);
        if (last < t->n)
            esxcli_damage(&t->s, f, "the row ends here; it may be cut");
        if (!t->ended)
            esxcli_unended(&t->s, f);
        builder_finish(&t->s.b);
    }
}

static void rows_alone(struct table *t, struct slice rest)
{
    struct cell cells[MAX_COLUMNS + 1];
    struct slice line;

    while (next_line(t, &rest, &line)) {
        size_t n = split(line, cells, t->n);
        struct field *f;

        if (n != t->n || memchr(line.p, '\t', line.n) || count_headings(cells, n, t->cols, t->n)) {
            esxcli_note(&t->s, t->number, "a row that has not one value for each column");
            continue;
        }
        f = add_row(t, cells, n);
        if (!t->ended)
            esxcli_unended(&t->s, f);
        builder_finish(&t->s.b);
    }
    esxcli_note(&t->s, 0, "no heading: rows may have been filtered");
}

/* Columns where the cells of the heading stand. */
static void columns_of_heading(struct table *t, struct slice heading, const struct cell *cells, size_t n)
{
    t->n = n;
    t->heading = heading;
    for (size_t i = 0; i < n; i++)
        t->cols[i] = (struct column){.start = cells[i].start, .end = cells[i].end, .name = cells[i].text};
}

/* One run of dashes below all of several headings, as localcli of some releases has it. */
static bool one_rule(struct table *t, struct slice heading)
{
    struct cell cells[MAX_COLUMNS + 1];
    size_t n = t->n == 1 && t->cols[0].start == 0 && t->cols[0].end >= count_chars(heading) ? split(heading, cells, MAX_COLUMNS) : 0;

    if (n < 2 || n > MAX_COLUMNS || cells[0].start || memchr(heading.p, '\t', heading.n) || esxcli_not_plain(heading))
        return false;
    columns_of_heading(t, heading, cells, n);
    return true;
}

static int without_dashes(struct table *t, struct slice body, struct decoded *out)
{
    struct column expected[MAX_COLUMNS];
    struct cell cells[MAX_COLUMNS + 1];
    size_t columns = t->s.o->columns ? expected_columns(t->s.o->columns, expected) : 0, n, hits;
    struct slice rest = body, line;
    uint32_t first = t->number;

    if (columns < 2)
        return decode_nothing(DECODE_UNUSABLE, FORM, "no heading with a dash line", first + 1, out);
    if (!next_line(t, &rest, &line))
        return decode_nothing(DECODE_UNUSABLE, FORM, "over the limit of one line", t->number, out);
    n = split(line, cells, MAX_COLUMNS);
    hits = n > MAX_COLUMNS ? 0 : count_headings(cells, n, expected, columns);
    if (hits && hits * 2 >= n) {
        columns_of_heading(t, line, cells, n);
        esxcli_note(&t->s, t->number, "no dash line below the heading: rows may have been filtered");
        rows_below_heading(t, rest);
    } else {
        t->n = columns;
        for (size_t i = 0; i < columns; i++)
            t->cols[i] = expected[i];
        t->number = first;
        rows_alone(t, body);
    }
    return esxcli_end(&t->s, FORM, out);
}

int esxcli_table(struct slice body, uint32_t number, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct table t = {.number = number - 1};
    struct slice rest = body, line = {NULL, 0}, heading = {NULL, 0};
    uint32_t heading_line = 0, lines_before = 0;
    const char *why;
    bool ruled;

    esxcli_sink_init(&t.s, o, a);
    while (next_line(&t, &rest, &line) && !is_dashes(line)) {
        if (heading.n && !slice_eq(heading, line))
            lines_before++;
        heading = line;
        heading_line = t.number;
        line = (struct slice){NULL, 0};
    }
    if (t.s.why)
        return decode_nothing(DECODE_UNUSABLE, FORM, t.s.why, t.s.line, out);
    if (!is_dashes(line)) {
        t.number = number - 1;
        return without_dashes(&t, body, out);
    }
    if (heading.n == 0)
        return decode_nothing(DECODE_UNUSABLE, FORM, "a dash line without a heading above it", t.number, out);
    why = read_dashes(&t, line);
    t.heading = heading;
    t.dashes = line;
    ruled = !why && one_rule(&t, heading);
    if (!why && !ruled)
        why = read_heading(&t, heading);
    if (why)
        return decode_nothing(DECODE_UNUSABLE, FORM, why, heading_line, out);
    if (lines_before)
        esxcli_note(&t.s, heading_line, "lines above the heading");
    if (!t.ended)
        esxcli_note(&t.s, t.number, "the dash line has no end; it may be cut");
    if (ruled)
        rows_below_heading(&t, rest);
    else
        read_rows(&t, rest);
    return esxcli_end(&t.s, FORM, out);
}
