#ifndef VF_CORE_SCHEMA_H
#define VF_CORE_SCHEMA_H

#include "base/arena.h"
#include "base/err.h"
#include "core/version.h"

/* Tables and columns of the facts, from probes/schema.xml. One loader, one set of names, for probes, rules and reports. */

enum value_type {
    VT_TEXT,
    VT_NAME,    /* text without blanks */
    VT_BOOL,
    VT_INT,
    VT_VERSION, /* text; ordered by the column's scheme */
    VT_DATE,    /* YYYY-MM-DD */
    VT_TIME,    /* ISO 8601 */
    VT_HEX,     /* lower case, no 0x, the column's number of digits */
    VT_PCI,     /* 0000:00:1f.2 */
    VT_LIST,    /* texts */
    VT_REF,     /* key of a row of the column's table */
    VT_REFS,    /* keys of such rows */
};

/* How a second known value of a cell, from another answer, becomes one with the first. */
enum merge { MERGE_FIRST, MERGE_SUM, MERGE_MIN, MERGE_MAX, MERGE_UNION };

/*
 * What the values of a column tell about whose host it is: how they are replaced when answers are given away (collect/anonymise.h). Values of
 * a column without one, models, versions, drivers, are words that everybody prints.
 */
enum identity {
    IDENTITY_NONE,
    IDENTITY_SERIAL,
    IDENTITY_MAC,
    IDENTITY_WWN,
    IDENTITY_UUID,
    IDENTITY_HOST,      /* host name with or without its domain, or an address; several parted by ',' */
    IDENTITY_IP,
    IDENTITY_MACHINE,
    IDENTITY_DATASTORE,
    IDENTITY_NAME,      /* another name that somebody gave */
    IDENTITY_IQN,       /* iqn. and nqn. names */
    IDENTITY_DEVICE,    /* device, path and adapter ids: naa., t10., vml., fc. ... */
    IDENTITY_LABEL,     /* IDENTITY_DEVICE, or a name that somebody gave in its place */
    IDENTITY_TEXT,      /* any of these inside other words */
};

#define SCHEMA_MAX_TABLES  64u
#define SCHEMA_MAX_COLUMNS 64u
#define SCHEMA_MAX_KEYS    3u

struct column {
    struct slice name, doc, unit;
    enum value_type type;
    enum version_scheme scheme;
    const struct slice *values; /* closed vocabulary, or NULL */
    struct slice none;          /* blank-parted texts that mean absent */
    struct slice like;          /* blank-parted forms of which a value must have one: '*' any text, '#' one hexadecimal digit */
    unsigned nvalues, digits;
    enum merge merge;
    enum identity identity;
    int table; /* of VT_REF and VT_REFS */
    bool derived;
};

struct table {
    struct slice name, doc;
    const struct column *columns;
    unsigned ncolumns, nkeys, keys[SCHEMA_MAX_KEYS];
    bool single;
    bool optional; /* filled by a tool that ESXi does not bring: that it has no rows is no gap */
};

struct schema {
    const struct table *tables;
    unsigned ntables;
};

int schema_load(struct slice xml, const char *name, struct arena *a, struct schema *out, struct err *e);

/* Has the text one of the column's forms? True for a column without any. */
bool column_like(const struct column *c, struct slice text);

/* Index, or -1. Names match exactly. */
int schema_table(const struct schema *s, struct slice name);
int table_column(const struct table *t, struct slice name);

/* Nearest table or column name for "did you mean", or an empty slice. */
struct slice schema_near_table(const struct schema *s, struct slice name);
struct slice table_near_column(const struct table *t, struct slice name);

const char *value_type_name(enum value_type t);
/* "" for IDENTITY_NONE. */
const char *identity_name(enum identity i);

/* Which members of struct value hold a value of a type: s, i, list. */
enum value_kind { KIND_TEXT, KIND_BOOL, KIND_INT, KIND_LIST };
enum value_kind value_kind(enum value_type t);

/*
 * One step from a table to related rows: by a reference of its own (forward), or by a reference that another table holds to
 * it (backward). A path is at most SCHEMA_MAX_STEPS steps, the shortest there is; forward before backward, schema order last.
 */
#define SCHEMA_MAX_STEPS 5u
struct step {
    int16_t table, column; /* forward: column of the table stepped from; backward: column of table */
    bool backward;
};
/* Returns the number of steps (0 when from == to), or -1 when the tables are not related. */
int schema_relate(const struct schema *s, int from, int to, struct step steps[SCHEMA_MAX_STEPS]);

#endif
