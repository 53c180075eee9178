#ifndef VF_COLLECT_COLLECT_H
#define VF_COLLECT_COLLECT_H

#include "collect/probe.h"
#include "core/facts.h"

/*
 * One target, from asks to facts: every probe asks its ways in order until one gives a complete answer; asks that need earlier answers
 * (each="adapter.driver") come second, once for every value. A refused, cut or missing answer is recorded as a source with its reason;
 * it never ends the run. Where answers cost nothing (channel_ops, saved), further answers to one ask, and further ways of what identifies
 * host, adapters and NICs, are compared with the complete one: a cell that they contradict is marked, a row that it lacks makes the table partial. Afterwards the tables have their states; derive_all() is the caller's next step.
 *
 * Returns 0, VF_ELIMIT when the arena is full (what was read is kept and the tables say so).
 */
int collect_run(struct channel *c, const struct probes *p, struct facts *f, struct err *e);

/* Is the command, or the probe's id, one that collect_decode knows. Returns 0, or VF_ENOTFOUND with the nearest probe named. */
int collect_asked(const struct probes *p, struct slice command, struct err *e);

/*
 * Decode one answer that is at hand: command is "esxcli storage core adapter list" (formatter options and localcli accepted), another
 * command, a path, or a probe's id. Fills the tables of every probe that asks it. *matched counts them; 0 is VF_ENOTFOUND with the nearest
 * probe named. The state of the best decode is in *state.
 */
int collect_decode(const struct probes *p, struct slice command, struct slice body, const char *name, struct facts *f,
                   enum decode_state *state, size_t *matched, struct err *e);

#endif
