#ifndef VF_CMD_PLACES_H
#define VF_CMD_PLACES_H

#include "base/arena.h"
#include "cmd/cmd.h"

/* Where things of the person or service that runs this lie; never below the current folder. All by the XDG base directory specification. */

/* $HOME where it is an absolute path, else the folder of the account. */
const char *place_home(const struct cli *c, struct arena *a);
/* What a run leaves for later ones: $STATE_DIRECTORY of a service, else $XDG_STATE_HOME/vmkfit, else ~/.local/state/vmkfit. */
const char *place_state(const struct cli *c, struct arena *a);
/* What the person has set: $XDG_CONFIG_HOME/vmkfit, else ~/.config/vmkfit. */
const char *place_config(const struct cli *c, struct arena *a);

/* Of the machine. */
#define PLACE_SYSTEM_CONFIG "/etc/vmkfit"
#define PLACE_SYSTEM_STATE  "/var/lib/vmkfit"

#endif
