#ifndef VF_OUT_FACTS_JSON_H
#define VF_OUT_FACTS_JSON_H

#include "base/json.h"
#include "core/facts.h"

/* Facts as JSON, in the form that docs/schema/facts.json describes. Every document that shows facts uses these. */

#define FACTS_JSON_VERSION 1 /* raised when a member is taken away or changes its meaning; additions keep it */

/* What to show; all zero with NULLs shows everything that is not derived. */
struct facts_filter {
    const bool *tables;  /* by index of the table; NULL: all */
    const bool *columns; /* by index of the column, when there is one table; NULL: all */
    bool derived;        /* computed columns too */
    bool one_state;      /* only cells of this state, and rows that have one */
    enum value_state state;
};

bool filter_cell(const struct facts_filter *w, const struct column *c, unsigned column, const struct value *v);
/* Has the row a cell to show. */
bool filter_row(const struct facts *f, const struct facts_filter *w, const struct row *r);

/* {state, value, why, conflict, source: {ask, file, line} or null} */
struct js *facts_json_cell(const struct facts *f, const struct column *c, const struct value *v);
/* {table: {state, why, rows: [{key, cells: {column: cell}}]}} */
struct js *facts_json_tables(const struct facts *f, const struct facts_filter *w);
/* {ask, file, probe, form, state, why, line, rows} */
struct js *facts_json_source(const struct source *s);

/*
 * "unknown", "absent", "known"; "unknown", "partial", "complete"; "complete", "partial", "refused",
 * "unusable", "missing".
 */
const char *value_state_name(enum value_state s);
const char *table_state_name(enum table_state s);
const char *source_state_name(const struct source *s);

/* Why a cell is unknown; NULL for one that is not. */
const char *value_why(const struct value *v);

#endif
