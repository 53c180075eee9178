#ifndef VF_CORE_MUTATE_H
#define VF_CORE_MUTATE_H

#include "core/ruleset.h"

/*
 * Are the examples of a rule sharp? Each condition is weakened, one at a time: a test left out, a bound moved by one step so that it takes in the
 * value itself, a quantifier left out, some rows in place of every one, evidence no longer required, an upgrade no longer asked for. The rule's own examples are run on what
 * comes out; a mutation after which all of them still pass is one that no example would notice.
 *
 * Nothing is narrowed: that would ask for an example of every id in a list.
 */
struct mutation {
    const char *what;   /* 'esxi from="6.5" left out', as <uncaught what="..."/> names it */
    const char *advice; /* which example would notice */
    uint32_t line;
    bool caught;
    const char *excused; /* the reason that the rule gives; NULL: none */
};

typedef void mutation_fn(void *ctx, const struct mutation *m);

/*
 * All mutations of a rule, in the order of its conditions; the texts live until fn returns. Returns 0, VF_EFORMAT (an example that does not
 * run, or fails without any change), VF_ELIMIT. *stale, when not NULL, is the first <uncaught> that names no mutation, or one that is caught.
 */
int mutate_rule(const struct ruleset *rs, const struct rule *r, mutation_fn *fn, void *ctx, const struct uncaught **stale, struct err *e);

#endif
