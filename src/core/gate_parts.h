#ifndef VF_CORE_GATE_PARTS_H
#define VF_CORE_GATE_PARTS_H

#include "core/derive.h"
#include "core/gate.h"

/* Between the files of the gate; everybody else includes gate.h. */

/* A reason against the fix; the worst state counts, each text is kept once. */
void gate_block(struct fix_check *c, enum gate_state state, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What a person must know before. */
void gate_warn(struct fix_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Has the host this module. */
void gate_module_known(const struct match_ctx *m, struct slice module, struct fix_check *c);
/* Will every device of the module have a driver at the next boot. */
void gate_module_disable(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module, struct fix_check *c);

#endif
