#ifndef VF_CMD_FACTS_TEXT_H
#define VF_CMD_FACTS_TEXT_H

#include "cmd/cmd.h"
#include "cmd/env.h"
#include "out/facts_json.h"

/* Facts for people. Everything that a host printed is made safe for a terminal on its way out. */
struct facts_view {
    const struct cli *c;
    const struct probes *probes;
    struct facts_filter filter;
    int table;                          /* the only one to show, or -1 */
    unsigned order[SCHEMA_MAX_COLUMNS]; /* columns in the order asked for; norder 0: all */
    size_t norder;
};

/* Label, kind and size of the target; with -v the files that no probe wants. */
void facts_text_heading(const struct facts_view *v, const struct env_host *h, struct buf *out);
/* esxi and host by value, then a line for each table. */
void facts_text_overview(const struct facts_view *v, const struct facts *f, struct buf *out);
/* One table: as a table, or row by row when it is too wide, when one state is asked for, or with -v. */
void facts_text_table(const struct facts_view *v, const struct facts *f, unsigned table, struct buf *out);
/* Every table that has something to show, row by row. */
void facts_text_all(const struct facts_view *v, const struct facts *f, struct buf *out);
/* The answers that were read, or missing. */
void facts_text_sources(const struct facts_view *v, const struct facts *f, struct buf *out);

/* Does the source belong to a probe of the table to show. */
bool facts_text_wants_source(const struct facts_view *v, const struct source *s);

#endif
