#ifndef VF_CORE_UPGRADE_H
#define VF_CORE_UPGRADE_H

#include "core/claim.h"

/* What of a host stands in the way of an upgrade, beside its devices (core/claim.h): VIBs and the processor. */
enum upgrade_weight {
    UPGRADE_NOTE,    /* goes or is replaced with the upgrade; nothing to do */
    UPGRADE_OPEN,    /* may block it: what would tell was not read */
    UPGRADE_BLOCKS,
};

struct upgrade_item {
    enum upgrade_weight weight;
    struct slice name; /* of the VIB; empty for the processor */
    const char *why;
    const char *ask; /* of OPEN: the command that would tell, or NULL */
};

struct upgrade_check {
    struct upgrade_item *v;
    size_t n, cap;
};

/* Nothing without w->change->upgrade. VF_ELIMIT. */
int upgrade_judge(const struct claim_world *w, struct upgrade_check *out, struct err *e);

/* As above about a VIB to be installed on the host as it is. relations: names it depends on. */
const char *upgrade_foreign_api(const struct release *target, struct slice depends);

#endif
