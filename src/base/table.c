#include "base/table.h"

#include <stdlib.h>

#include <libsmartcols.h>

#include "base/arena.h"

#define GAP       2u  /* blanks between columns */
#define MIN_WRAP  20u /* a wrapped column is not made narrower */
#define MAX_CELL  (64u << 10)
#define UNLIMITED 1000000u

struct text_table {
    struct text_column columns[TEXT_MAX_COLUMNS];
    size_t widths[TEXT_MAX_COLUMNS];
    size_t n;
    char **cells; /* row after row */
    size_t ncells, cap;
};

/*
 * Code points: close enough to the columns a text takes for choosing a layout; the library counts exactly
 * when it pads.
 */
static size_t chars(const char *z)
{
    size_t n = 0;

    for (; *z; z++)
        n += ((unsigned char)*z & 0xc0) != 0x80;
    return n;
}

static char *copy(const char *z)
{
    size_t n = strlen(z) + 1;

    return memcpy(xmalloc(n), z, n);
}

struct text_table *text_table_new(const struct text_column *columns, size_t n)
{
    struct text_table *t = xmalloc(sizeof *t);

    memset(t, 0, sizeof *t);
    t->n = n < TEXT_MAX_COLUMNS ? n : TEXT_MAX_COLUMNS;
    for (size_t i = 0; i < t->n; i++) {
        char *name = copy(columns[i].name);

        for (char *c = name; *c; c++)
            if (*c >= 'a' && *c <= 'z')
                *c = (char)(*c - 'a' + 'A');
        t->columns[i] = columns[i];
        t->columns[i].name = name;
        t->widths[i] = chars(name);
    }
    return t;
}

void text_table_free(struct text_table **t)
{
    if (!*t)
        return;
    for (size_t i = 0; i < (*t)->ncells; i++)
        free((*t)->cells[i]);
    for (size_t i = 0; i < (*t)->n; i++)
        free((char *)(uintptr_t)(*t)->columns[i].name);
    free((*t)->cells);
    free(*t);
    *t = NULL;
}

void text_table_add(struct text_table *t, const struct slice *cells)
{
    if (t->ncells + t->n > t->cap) {
        t->cap = (t->cap ? 2 * t->cap : 64) + t->n;
        t->cells = xrealloc(t->cells, t->cap * sizeof *t->cells);
    }
    for (size_t i = 0; i < t->n; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_CELL);
        size_t width;

        buf_add_safe(&b, cells[i]);
        width = chars(buf_z(&b));
        t->widths[i] = width > t->widths[i] ? width : t->widths[i];
        t->cells[t->ncells++] = copy(buf_z(&b));
    }
}

size_t text_table_width(const struct text_table *t)
{
    size_t width = 0;

    for (size_t i = 0; i < t->n; i++)
        width += t->widths[i] + (i ? GAP : 0);
    return width;
}

/* Line feeds between words so that no line is longer than room; a longer word has its own line. */
static void wrap(char *text, size_t room)
{
    char *line = text, *blank = NULL;

    for (char *c = text; *c; c++) {
        size_t n;

        if (*c != ' ')
            continue;
        *c = '\0';
        n = chars(line);
        *c = ' ';
        if (n > room && blank) {
            *blank = '\n';
            line = blank + 1;
        }
        blank = c;
    }
    if (blank && chars(line) > room)
        *blank = '\n';
}

static void wrap_column(struct text_table *t, size_t column, size_t width)
{
    size_t others = text_table_width(t) - t->widths[column];
    size_t room = others + MIN_WRAP < width ? width - others : MIN_WRAP;

    for (size_t i = column; i < t->ncells; i += t->n)
        wrap(t->cells[i], room);
}

static void drop_table(struct libscols_table **t)
{
    scols_unref_table(*t);
}

static struct libscols_table *library_table(struct text_table *t, size_t width)
{
    struct libscols_table *lib = scols_new_table();

    if (!lib)
        abort(); /* no memory */
    /* the terminal is never asked: the width is the caller's, and so are colours */
    (void)scols_table_set_termforce(lib, SCOLS_TERMFORCE_ALWAYS);
    (void)scols_table_set_termwidth(lib, width ? width : UNLIMITED);
    (void)scols_table_enable_colors(lib, 0);
    (void)scols_table_enable_noencoding(lib, 1); /* cells are safe already */
    (void)scols_table_set_column_separator(lib, "  ");
    for (size_t i = 0; i < t->n; i++) {
        const struct text_column *c = &t->columns[i];
        bool wraps = c->fit == TEXT_WRAP && width, cuts = c->fit == TEXT_CUT && width;
        struct libscols_column *col = scols_table_new_column(lib, c->name, 0, (c->right ? SCOLS_FL_RIGHT : 0) |
                                                             (wraps ? SCOLS_FL_WRAP : 0) | (cuts ? SCOLS_FL_TRUNC : 0));

        if (!col)
            abort();
        if (wraps)
            (void)scols_column_set_wrapfunc(col, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    }
    for (size_t i = 0; i < t->ncells; i += t->n) {
        struct libscols_line *line = scols_table_new_line(lib, NULL);

        if (!line)
            abort();
        for (size_t k = 0; k < t->n; k++)
            if (scols_line_set_data(line, k, t->cells[i + k]) != 0)
                abort();
    }
    return lib;
}

static void free_text(char **z)
{
    free(*z);
}

void text_table_print(struct text_table *t, size_t width, struct buf *out)
{
    _cleanup_(drop_table) struct libscols_table *lib = NULL;
    _cleanup_(free_text) char *text = NULL;
    struct slice rest, line;

    if (t->ncells == 0)
        return;
    for (size_t i = 0; i < t->n && width; i++)
        if (t->columns[i].fit == TEXT_WRAP)
            wrap_column(t, i, width);
    lib = library_table(t, width);
    if (scols_print_table_to_string(lib, &text) != 0 || !text)
        abort();
    rest = slice_of(text);
    while (slice_next_line(&rest, &line, NULL)) { /* without the blanks that pad the last column */
        while (line.n && line.p[line.n - 1] == ' ')
            line.n--;
        buf_add(out, line);
        buf_addc(out, '\n');
    }
}

const char *text_table_library(void)
{
    return "libsmartcols " LIBSMARTCOLS_VERSION;
}
