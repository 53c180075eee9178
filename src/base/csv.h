#ifndef VF_BASE_CSV_H
#define VF_BASE_CSV_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

/*
 * Tables that people export from a spreadsheet: RFC 4180, and what differs from it in the field: a byte order mark, ';' or a tab between the
 * fields (the one that the header holds most often outside of quotes), line ends of every kind, blanks around fields, empty lines, lines that begin with '#'.
 */
#define CSV_MAX_FIELDS 256u

struct csv {
    const char *name; /* for messages */
    struct arena *arena;
    struct slice rest;
    char separator;
    uint32_t line; /* of the row that was read last, where it begins */
    uint32_t next;
    struct slice header[CSV_MAX_FIELDS]; /* as written */
    unsigned nheader;
    struct slice fields[CSV_MAX_FIELDS]; /* of that row; nheader of them, empty where the row is shorter */
    unsigned nfields; /* as many as the row really has */
};

/* Read the header. VF_EFORMAT: no header, text that is not UTF-8 or holds NUL bytes (UTF-16 is named as such), two columns of one name. */
int csv_open(struct csv *c, struct slice text, const char *name, struct arena *a, struct err *e);

/*
 * The next row into c->fields. Returns 1, 0 at the end, VF_EFORMAT (file and line): a quote that is not closed, text behind a closing quote,
 * more fields than the header has.
 */
int csv_next(struct csv *c, struct err *e);

/* Column by its name, whatever its case, with '-', '_' and blanks alike; -1 when there is none. */
int csv_column(const struct csv *c, const char *name);

#endif
