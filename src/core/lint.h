#ifndef VF_CORE_LINT_H
#define VF_CORE_LINT_H

#include "base/xml.h"
#include "core/knowledge.h"
#include "core/ruleset.h"

/* Checks of rules that load: what is well-formed but cannot be meant. */
struct lint_found {
    const char *file;
    struct xml_place place; /* column 0: the text of the file was not given */
    const char *text;
    bool error; /* else a note */
};

/* A file whose rules are checked: its name as the rules have it, for places in it. */
struct lint_file {
    const char *name;
    struct slice text;
};

struct lint {
    const struct ruleset *rules;
    struct arena *arena;
    const struct lint_file *files;
    size_t nfiles;
    struct slice today; /* YYYY-MM-DD, for review dates; empty: not checked */
    /* Can some probe fill the column on a release that is at or after from and before before (major 0: no bound)? NULL: not checked. */
    bool (*filled)(void *ctx, unsigned table, unsigned column, const struct release *from, const struct release *before);
    void *ctx;
    bool without_results; /* who asks runs the examples himself */
    struct release from, before; /* of the rule that is looked at */
    const struct knowledge *knowledge; /* for covers=; NULL: not checked */
    struct lint_found *v;
    size_t n, cap;
};

void lint_rule(struct lint *l, const struct rule *r);
/* What a rule says of other rules, which are in all: ids that are not there or were retired, the rule it replaces. */
void lint_names(struct lint *l, const struct rule *r, const struct rules *all);
/* What concerns two rules at once, of those in l->rules: topics, contradictions. Each finding is of the first rule. */
void lint_pairs(struct lint *l);

#endif
