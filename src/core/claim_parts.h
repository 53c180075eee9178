#ifndef VF_CORE_CLAIM_PARTS_H
#define VF_CORE_CLAIM_PARTS_H

#include "core/claim.h"

/* Between the files of the prediction; everybody else includes claim.h. */

/* The outcome from driver and contenders, which are in order and judged. */
void claim_decide(const struct claim_world *w, struct claim *out);

#endif
