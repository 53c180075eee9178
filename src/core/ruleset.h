#ifndef VF_CORE_RULESET_H
#define VF_CORE_RULESET_H

#include "core/rule.h"

/*
 * All rules of a run, sealed and indexed. Each rule has an anchor: of the equalities that must hold for it to match, the one whose values the
 * fewest rules share. Matching looks up a host's values there and evaluates only the rules found, so that its time grows with the rules that
 * can match and not with those loaded. Where the host's value is unknown, every rule of that anchor is looked at: unknown must reach the
 * verdict.
 */
struct anchor {
    const struct cond *scope; /* where the value stands, seen from the subject */
    unsigned column, subject;
    uint32_t all;             /* list of all rules anchored here */
};

struct ruleset {
    const struct schema *schema;
    const struct builds *builds;
    struct rules rules;
    struct arena *arena;
    /* index */
    struct anchor *anchors;
    size_t nanchors, anchors_cap;
    uint32_t *unanchored;     /* per table: list of rules without an anchor */
    struct map values;        /* "anchor:value" to a list of rules */
    struct map known;         /* driver names and vendor:device ids that some rule names */
    struct rule_link *links;  /* [0] is unused; lists end with 0 */
    size_t nlinks, links_cap;
    struct slice newest;      /* latest review date of a rule */
};

struct rule_link {
    uint32_t rule, next;
};

void ruleset_init(struct ruleset *rs, const struct schema *s, const struct builds *b, struct arena *a);
/* Index; the rules are immutable from here on. Also checks that supersedes and restrains name rules, and never each other or themselves. */
int ruleset_seal(struct ruleset *rs, struct err *e);

/* Indices of the rules that may match a row, ascending, each once; in out, which holds at least rules.n. */
size_t ruleset_candidates(const struct ruleset *rs, const struct facts *f, const struct row *r, uint32_t *out, uint8_t *seen);

/* Does some rule name this driver, or this vendor:device id. */
bool ruleset_knows(const struct ruleset *rs, struct slice driver, struct slice pci_id);

#endif
