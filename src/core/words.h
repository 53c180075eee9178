#ifndef VF_CORE_WORDS_H
#define VF_CORE_WORDS_H

#include "core/rule.h"

/*
 * Conditions in words, for people who do not read XML: a line each, what belongs together one step deeper. "the adapter's driver is vmw_ahci",
 * "none of these: vib with name sata-ahci".
 */
typedef void words_fn(void *ctx, unsigned depth, const char *text);

void words_cond(const struct schema *s, const struct cond *c, struct arena *a, words_fn *fn, void *ctx);
/* One test: "driver-version is before 1.0.86.0". */
const char *words_test(const struct column *c, const struct test *x, struct arena *a);
/* One action with its arguments: "module-disable name=vmw_ahci". */
const char *words_action(const struct fix_action *x, struct arena *a);

#endif
