#ifndef VF_CMD_PROBE_DOC_H
#define VF_CMD_PROBE_DOC_H

#include "cmd/env.h"

/*
 * docs/facts.md: every table and column, and which probes fill it, from the schema and the probes that are loaded. The same data give the
 * same bytes.
 */
void probe_doc(const struct env *env, struct buf *out);

#endif
