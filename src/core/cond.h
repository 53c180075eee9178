#ifndef VF_CORE_COND_H
#define VF_CORE_COND_H

#include "core/facts.h"

/*
 * Conditions of rules: compiled once, evaluated in Kleene logic over a host's facts. Unknown is a value: inside an element false beats
 * unknown beats true; between alternatives true beats unknown beats false.
 */
enum tri { TRI_FALSE, TRI_UNKNOWN, TRI_TRUE };

static inline enum tri tri_and(enum tri a, enum tri b)
{
    return a < b ? a : b;
}

static inline enum tri tri_or(enum tri a, enum tri b)
{
    return a > b ? a : b;
}

static inline enum tri tri_not(enum tri a)
{
    return (enum tri)(TRI_TRUE - a);
}

/* One attribute: a column and what it must be. */
enum test_op {
    TEST_IS,      /* one of the values; '*' as wildcard; a PCI id by its leading parts; a class by its leading digits */
    TEST_FROM,    /* at or after, by version or release */
    TEST_BEFORE,
    TEST_ABOVE,   /* numbers */
    TEST_BELOW,
    TEST_COVERS,  /* release="8.0u3": the release or a patch of it */
    TEST_ABSENT,  /* COLUMN-absent="yes": the cell is absent; "no": it is known */
};

struct test {
    enum test_op op;
    unsigned column;
    const struct slice *values;
    unsigned nvalues;
    union {
        int64_t number;         /* of TEST_ABOVE, TEST_BELOW */
        struct release release; /* of TEST_FROM, TEST_BEFORE, TEST_COVERS; major 0 when the column is no release */
        bool wanted;            /* of TEST_ABSENT */
    };
    struct slice written; /* name="value" as the rule has it */
};

/*
 * Where the rows of an element come from, seen from the rule's subject row:
 *   SELF     the subject row itself
 *   SINGLE   the one row of a single-row table
 *   KEY      the element names the key column: that row, whatever the subject
 *   RELATED  the rows that the schema's references lead to
 *   ALL      the table is not related to the subject: all its rows
 */
enum scope { SCOPE_SELF, SCOPE_SINGLE, SCOPE_KEY, SCOPE_RELATED, SCOPE_ALL };

enum cond_kind {
    COND_ALL, /* every child */
    COND_ANY, /* some child */
    COND_ROW, /* some row of the scope passes all tests */
    COND_NONE,
    COND_SOME,
    COND_EVERY, /* at least one row, and no row fails */
    COND_COUNT,
    COND_SAME,
    COND_COMPARE,
};

/* Ordered so that it stays small: a hundred thousand rules have half a million of them. */
struct cond {
    enum cond_kind kind : 8;
    enum scope scope : 8;     /* COND_ROW */
    enum test_op op : 8;      /* COND_COMPARE */
    unsigned nsteps : 8;
    uint32_t line, at;        /* of its element: xml_line and xml_offset */
    uint16_t table;           /* COND_ROW */
    uint16_t column;          /* COND_SAME: of the child's table; of a compared cell */
    unsigned nkids, ntests;
    const struct cond **kids;
    const struct test *tests; /* COND_ROW */
    const struct step *steps; /* COND_ROW of SCOPE_RELATED */
    int64_t below, above;     /* COND_COUNT: number of rows that pass; -1 is no bound */
    const struct cond *left, *right; /* COND_COMPARE: two cells of the subject or of a row it leads to */
};

/* What evaluation looked at, in order: for evidence and for "explain". */
struct step_taken {
    const struct cond *cond;
    const struct test *test; /* NULL for a line about the whole condition */
    const struct row *row;   /* NULL when there is none */
    const struct value *cell;
    enum tri result;
    const char *why; /* of unknown */
};

struct trace {
    struct arena *arena;
    struct step_taken *v;
    size_t n, cap;
};

struct eval {
    const struct facts *facts;
    const struct builds *builds;
    struct trace *trace; /* may be NULL */
};

/* c NULL is true. */
enum tri cond_eval(const struct eval *ev, const struct cond *c, const struct row *subject);

/* Rows of a scope; *closed is false when more rows may exist than are known, and why says so. */
typedef bool rows_fn(void *ctx, const struct row *r); /* returns false to stop */
void cond_rows(const struct facts *f, const struct cond *c, const struct row *subject, rows_fn *fn, void *ctx, bool *closed,
               const char **why);

/* The table a condition is about: its own, or that of what it holds. */
unsigned cond_table(const struct cond *c);

enum tri test_cell(const struct eval *ev, const struct table *t, const struct test *x, const struct row *r, const char **why);

#endif
