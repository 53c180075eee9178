#ifndef VF_COLLECT_COLLECT_PARTS_H
#define VF_COLLECT_COLLECT_PARTS_H

#include "collect/probe.h"
#include "core/facts.h"

/* What collect.c (asking) and settle.c (what the answers come to) share. */

/* How a probe fared, over all its ways. */
struct outcome {
    enum table_state state;
    enum decode_state best;
    bool answered;
    const char *why; /* of the best answer, for a state below complete */
};


/* Values that one ask is repeated for: the largest configuration maximum is 4,096 paths, 1,024 devices. */
#define MAX_EXPANSIONS 4096u

/* The values that a way is asked with, into v (room for MAX_EXPANSIONS); how many. */
size_t collect_expansions(const struct facts *f, const struct way *w, struct slice *v);
/* Has the host's release the way's command? Unknown releases are asked. */
bool collect_in_release(const struct facts *f, const struct way *w);

/* Tables from the outcomes of the probes that list them. */
void collect_settle(const struct probes *p, const struct outcome *o, struct facts *f);
/* Other answers name an adapter that the complete list lacks (paths, iSCSI, NVMe): it is not complete. */
void collect_distrust(struct facts *f);
/* A cell that no answer filled says which one should have: first what was not answered, then what an answer left out. */
void collect_explain(const struct probes *p, const struct outcome *o, struct facts *f);

/* "esxcli " where the ask is one of esxcli's, "redfish " where it is one of the BMC. */
const char *collect_ask_prefix(enum ask_kind kind);
/* The text of an ask with each in place of {}. */
struct slice collect_expand(struct slice text, struct slice each, struct arena *a);

#endif
