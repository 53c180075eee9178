#ifndef VF_CORE_LINT_H
#define VF_CORE_LINT_H

#include "core/knowledge.h"
#include "core/ruleset.h"

/* Static checks of rules that load: what is well-formed but cannot be meant. One line each, file and line first. */
struct lint_found {
    const char *file;
    uint32_t line;
    const char *text;
    bool error; /* else a warning */
};

struct lint {
    const struct ruleset *rules;
    struct arena *arena;
    struct slice today; /* YYYY-MM-DD, for review dates; empty: not checked */
    /* Can some probe fill the column, or is it derived? NULL: not checked. */
    bool (*filled)(void *ctx, unsigned table, unsigned column);
    void *ctx;
    const struct knowledge *knowledge; /* for covers=; NULL: not checked */
    struct lint_found *v;
    size_t n, cap;
};

void lint_rule(struct lint *l, const struct rule *r);
/* What concerns two rules at once: topics, contradictions. */
void lint_pairs(struct lint *l);

#endif
