#ifndef VF_CORE_WAIVER_H
#define VF_CORE_WAIVER_H

#include "core/match.h"

/*
 * Findings that a site accepts for a while (docs/waivers.md): which rule, on which hosts and subjects, who answers for it, until when, and why.
 * A waiver without a severity hides; one with a severity lowers to it. It never touches what is unsure, withheld or replaced. A critical
 * finding, and one of a rule that restrains others, is not hidden, only marked; a guard that is a note is not touched at all.
 */
struct waiver {
    struct slice rule, host, subject; /* the id of one rule; globs */
    struct slice owner, until, reason;
    int severity;    /* enum severity that it lowers to, or -1: it hides */
    int64_t days;    /* from the day of the run to until, which is its last; below 0: expired */
    const char *file;
    uint32_t line;
    size_t fitted;   /* findings that it was about so far, expired or not */
    uint32_t next;   /* of the same rule, or MAP_NONE */
};

struct waivers {
    struct slice today; /* YYYY-MM-DD: the day on which they are judged */
    struct arena *arena;
    struct waiver *v;
    size_t n, cap;
    struct map by_rule;
};

#define WAIVER_MAX_DAYS  366 /* from the day of the run to until */
#define WAIVER_SOON_DAYS 14  /* its end is said beforehand */

void waivers_init(struct waivers *ws, struct slice today, struct arena *a);

/*
 * Add the waivers of one file. VF_EFORMAT names file and line: an unknown element or attribute, one that is missing or empty, no date, an
 * end more than WAIVER_MAX_DAYS ahead. VF_ELIMIT: more than there is room for. Nothing of such a file is added.
 */
int waivers_load(struct waivers *ws, struct slice xml, const char *name, struct err *e);

/*
 * Mark the findings of one host, lower them, and put them in order again. Of several waivers that fit one finding the one that ends last
 * counts. host's patterns are compared, in any case, with the host's name as the facts have it, with that name up to the first dot, and with
 * label; with label alone where the name is not known.
 */
void waivers_apply(struct waivers *ws, const struct facts *f, const char *label, struct findings *fs);

/* The rule that it names is there and not retired. */
bool waiver_known(const struct waiver *w, const struct rules *rules);

/* Days from 1970-01-01 to a date that rule_date holds for; and back, "2026-12-01", in the arena. */
int64_t date_days(struct slice date);
struct slice date_of_days(int64_t days, struct arena *a);

#endif
