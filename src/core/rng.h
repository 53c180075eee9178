#ifndef VF_CORE_RNG_H
#define VF_CORE_RNG_H

#include "base/buf.h"
#include "core/schema.h"

/*
 * The RELAX NG schema of rule files, generated from the fact schema and the action table, so that it cannot drift: editors complete from it,
 * "rules lint" validates with it behind the loader's own checks, and a test proves that rules/rules.rng is what this gives.
 */
void rng_write(const struct schema *s, struct buf *out);

#endif
