#ifndef VF_CORE_EXAMPLE_H
#define VF_CORE_EXAMPLE_H

#include "core/match.h"

/*
 * A rule's examples, run. An example states cells directly, derived ones included, so it tests the rule and not the probes. Its tables
 * are complete unless partial= names them; log is "not collected" unless the example has log rows or partial/complete says otherwise.
 *
 * Flat attributes: a column of the subject, set there and on every related row the rule looks at whose table has such a column; "pci" is the id
 * of the subject's PCI function; "esxi" and "upgrade-to" are releases. Elements are rows; nested ones are linked by the schema's references.
 */
struct example_result {
    bool passed;
    enum tri got;        /* TRUE finding, FALSE none, UNKNOWN unsure */
    const char *decided; /* the test that decided, for people */
};

/* Returns 0, or VF_EFORMAT when the example names what does not exist. */
int example_run(const struct ruleset *rs, const struct rule *r, const struct example *x, struct arena *a, struct example_result *out,
                struct err *e);

const char *example_kind_name(enum example_kind k);

#endif
