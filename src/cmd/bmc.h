#ifndef VF_CMD_BMC_H
#define VF_CMD_BMC_H

#include "cmd/cmd.h"
#include "net/redfish.h"
#include "net/target.h"

/* The host's BMC for commands: what --bmc and its fellows say. */

/*
 * With --bmc, the target's channel becomes one that asks the BMC as well; without, nothing happens. Nothing is connected yet. Returns 0, or
 * VF_EUSAGE: how a BMC is written, no user. The arena must outlive the channel.
 */
int bmc_attach(struct cli *c, struct target *t, struct arena *a, struct err *e);
/* The BMC that --bmc names, as redfish.h wants it. Returns 0 or VF_EUSAGE. with_user: one has to be named. */
int bmc_options(struct cli *c, bool with_user, struct arena *a, struct redfish_opt *out, struct err *e);

#endif
