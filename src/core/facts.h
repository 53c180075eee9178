#ifndef VF_CORE_FACTS_H
#define VF_CORE_FACTS_H

#include "core/schema.h"

/*
 * What is known of one host: rows of typed cells in the schema's tables. Filled by collect/, completed by derive.c,
 * read-only afterwards. Everything lives in the host's arena.
 */

/* Zeroed memory is unknown. A rule can never pass or fail on an unknown cell. */
enum value_state {
    VS_UNKNOWN, /* not asked, denied, not printed, not understood, contradictory: why says which */
    VS_ABSENT,  /* the question was answered and the thing is not there */
    VS_KNOWN,
};

struct value {
    enum value_state state;
    bool conflict;   /* unknown since two answers contradict each other: why quotes them */
    uint32_t source; /* index of struct source, 0 when there is none (derived) */
    uint32_t line;   /* in the source, 0 when it has no lines */
    int64_t i;       /* VT_INT, VT_BOOL */
    struct slice s;  /* all other single types; the text of the reference for VT_REF */
    const struct slice *list; /* VT_LIST, VT_REFS */
    size_t nlist;
    const char *why; /* of an unknown value */
};

/* One reply that was decoded: what was asked, what answered, how it went. */
struct source {
    struct slice ask;   /* the command or path asked */
    struct slice where; /* file of the recording, bundle or folder that answered; empty on a live host */
    const char *probe, *form;
    const char *why; /* not NULL when the answer was not complete */
    uint32_t line;   /* of that */
    enum { SOURCE_OK, SOURCE_PARTIAL, SOURCE_REFUSED, SOURCE_UNUSABLE, SOURCE_MISSING } state;
    size_t rows;
};

struct row {
    unsigned table, index;
    struct slice key; /* key columns' texts, parted by '/' when there are several; empty in single-row tables */
    struct value *cells;
    bool listed;       /* an answer that lists the table names it, or its table takes rows of its own beside a list */
    uint32_t compared; /* source of the last further answer that names it too */
};

enum table_state { TS_UNKNOWN, TS_PARTIAL, TS_COMPLETE };

/* While an answer is compared with one that was already taken (struct facts, compare). */
struct facts_compare {
    bool identity_only;   /* the two answer different questions: only names, addresses, drivers and versions must agree */
    struct slice further; /* key of the first row that was new */
};

struct facts {
    const struct schema *schema;
    struct arena *arena;
    struct facts_table *tables;
    struct source *sources; /* [0] is unused */
    size_t nsources, sources_cap;
    struct facts_compare *compare; /* NULL, or: values only contradict or fill what no answer tells */
    struct release release; /* of the host, for rules on releases: set by derive.c; major 0 when not known */
};

/* NULL at the arena's limit. */
struct facts *facts_new(const struct schema *s, struct arena *a);

/* Register a source; returns its index, 0 at the limit. */
uint32_t facts_add_source(struct facts *f, struct source s);

/* Find or add. NULL at the limit (200,000 rows a table). */
struct row *facts_row(struct facts *f, unsigned table, struct slice key);
const struct row *facts_find(const struct facts *f, unsigned table, struct slice key);
size_t facts_count(const struct facts *f, unsigned table);
const struct row *facts_at(const struct facts *f, unsigned table, size_t i);
/* Rows in the order of their keys (numbers inside as numbers: vmhba2 before vmhba10). */
void facts_sort(struct facts *f);

/*
 * Put a value into a cell. A known value beats an absent one beats an unknown one. Two different known values leave it
 * unknown, in conflict: "given twice, differently" in one source, or what each of two sources says.
 */
void facts_put(struct facts *f, struct row *r, unsigned column, struct value v);

/* Begins why something is unknown for which a command, in double quotes behind this, would have to be run. */
#define NO_ANSWER_TO "no answer to "

/* Why a table is not complete that no question lists: its rows are asked for one by one, so what is there is all that was wanted. */
#define TABLE_BY_NAME "only what was asked for by name"

/* Raise or restrict a table's state: complete only when every call said complete. why NULL when complete. */
void facts_set_table(struct facts *f, unsigned table, enum table_state state, const char *why);
enum table_state facts_table(const struct facts *f, unsigned table, const char **why);
/* Is a table, by its name, complete; *why says why not. why may be NULL. */
bool facts_complete(const struct facts *f, const char *table, const char **why);

/* Cell by column name; never NULL (an unknown value for a row that is NULL). Names are ours: an unknown one is a bug. */
const struct value *facts_cell(const struct facts *f, const struct row *r, const char *column);
const struct row *facts_single(const struct facts *f, const char *table);
unsigned facts_table_index(const struct facts *f, const char *table);

/* The row that a VT_REF cell names; NULL when absent, unknown or not in its table. */
const struct row *facts_ref(const struct facts *f, const struct row *r, const char *column);

/* Text of a value for people and for comparison: yes/no, numbers, lists joined by ", ". In the arena. Empty unless known. */
struct slice value_text(const struct column *c, const struct value *v, struct arena *a);
bool value_equal(const struct column *c, const struct value *a, const struct value *b);

struct value value_unknown(const char *why);
struct value value_absent(void);
struct value value_int(int64_t i);
struct value value_bool(bool b);
struct value value_slice(struct slice s);
struct value value_list(const struct slice *v, size_t n);

/* Order for people: runs of digits as numbers. */
int natural_cmp(struct slice a, struct slice b);

#endif
