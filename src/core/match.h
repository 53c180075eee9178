#ifndef VF_CORE_MATCH_H
#define VF_CORE_MATCH_H

#include "core/ruleset.h"

/* Rules against one host's facts. */

enum evidence {
    EVIDENCE_NONE,      /* the rule asks for none */
    EVIDENCE_SEEN,      /* measured or logged: the finding is confirmed */
    EVIDENCE_NOT_SEEN,  /* looked for and not there: one step less severe */
    EVIDENCE_UNKNOWN,   /* not collected */
};

/* What a waiver (core/waiver.h) did to a finding that counts. */
enum waiver_effect {
    WAIVER_NONE,
    WAIVER_HIDDEN,   /* it does not count any more */
    WAIVER_LOWERED,  /* it is less severe */
    WAIVER_ACCEPTED, /* only said: it is critical, restrains others, or is no more severe than what it would be lowered to */
    WAIVER_EXPIRED,  /* only said: the waiver has ended */
};

struct waiver;

struct finding {
    const struct rule *rule;
    const struct row *row;
    enum tri result;      /* TRI_TRUE a finding, TRI_UNKNOWN unsure */
    enum severity severity;
    enum evidence evidence;
    bool newer_than_list; /* a version beyond every good entry: a note, not a fault */
    const char *why;      /* of unsure: the first thing that is not known */
    const struct rule *withheld_by;     /* a guard that holds */
    const struct rule *guard_unknown;   /* a guard that could not be decided: the finding stays, its fixes do not */
    const struct rule *superseded_by;
    const struct waiver *waiver;        /* NULL: none is about it */
    enum waiver_effect effect;
    enum severity unwaived;             /* with a waiver: the severity without it */
    const struct step_taken *trace, *evidence_trace;
    size_t ntrace, nevidence_trace;
};

struct findings {
    struct finding *v; /* most severe first, then by subject and rule */
    size_t n, cap;
    size_t rules, applied, ok; /* rules loaded; rules looked at whose when held for some row; of these, rules without a finding or doubt */
    const struct rule **lists; /* rules looked at that are lists of good pairs: what they rest on has an age */
    size_t nlists;
};

struct match_ctx {
    const struct ruleset *rules;
    const struct facts *facts;
    struct release upgrade_to; /* major 0: no upgrade is planned */
    struct arena *arena;
};

/* A log of less than an hour says nothing by what is not in it: it is an excerpt, or the host has just booted. True when that is not known. */
bool match_log_short(const struct facts *f);

/* Returns 0, or VF_ELIMIT. Findings that are withheld or superseded are in the list, marked. */
int match_run(const struct match_ctx *m, struct findings *out, struct err *e);

/* One rule on one row: for examples and "explain". The trace is kept whatever the result; *when is the applicability. */
void match_rule(const struct match_ctx *m, const struct rule *r, const struct row *row, struct finding *out, enum tri *when);

/*
 * The test that decided and the cell it looked at, 'nic driver="qfle3" (bnx2x)', '?' for what is not known and '-' for what is absent: the last
 * one of a finding, the first that failed or is not known otherwise; "nothing" when there is none.
 */
const char *match_decided(const struct facts *f, const struct finding *found, struct arena *a);

/* Most severe first, then by subject and rule: for who has changed a severity. */
void findings_sort(struct findings *f);

/* Does a finding count: true, neither withheld nor superseded nor hidden by a waiver, and no mere guard (a note that restrains others speaks through them). */
bool finding_counts(const struct finding *f);

#endif
