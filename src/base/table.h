#ifndef VF_BASE_TABLE_H
#define VF_BASE_TABLE_H

#include "base/buf.h"

/*
 * Tables for people: columns padded under a heading. Cells are host-controlled text: they are copied and made
 * safe for a terminal (buf_add_safe). No colours, and no look at the environment or the terminal: the caller
 * gives the width.
 */
struct text_table;

enum text_fit {
    TEXT_KEEP, /* never shortened */
    TEXT_WRAP, /* wrapped at words when the table is wider than the width; one such column a table, best the last */
    TEXT_CUT,  /* cut when the table is wider than the width */
};

struct text_column {
    const char *name; /* shown in upper case */
    bool right;
    enum text_fit fit;
};

#define TEXT_MAX_COLUMNS 64u

/* At most TEXT_MAX_COLUMNS; the names are copied. Freed by the caller. */
struct text_table *text_table_new(const struct text_column *columns, size_t n);
void text_table_free(struct text_table **t);
/* One row: as many cells as there are columns. */
void text_table_add(struct text_table *t, const struct slice *cells);
/* Columns that the table takes on a terminal when nothing is wrapped or cut. */
size_t text_table_width(const struct text_table *t);
/* Appends the table; without rows, nothing. width 0: nothing is wrapped or cut. */
void text_table_print(struct text_table *t, size_t width, struct buf *out);

const char *text_table_library(void);

#endif
