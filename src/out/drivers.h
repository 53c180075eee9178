#ifndef VF_OUT_DRIVERS_H
#define VF_OUT_DRIVERS_H

#include "base/json.h"
#include "base/buf.h"
#include "core/upgrade.h"

/* What "vmkfit drivers" says of one host: drivers.c gathers it once; drivers_text.c and drivers_json.c only print. */

/* A VIB of --install-vib, and what speaks against it on this host. */
struct drivers_install {
    const struct claim_package *package;
    const char *from, *level, *vendor;
    const char *maintenance; /* "yes", "no", or "not said" */
    const char *live;
    const struct upgrade_item *against;
    size_t nagainst;
};

struct drivers_report {
    const char *target, *incomplete; /* as the user named it; why it was not read whole, or NULL */
    const struct claim_world *world;
    bool asked; /* a change was named */
    const struct claim *claims;
    const struct claim_behind *behind; /* one for each claim */
    const struct claim *next;          /* the same functions when, besides, the driver of now is disabled; NULL with a change */
    size_t n;
    struct upgrade_check upgrade;
    const struct drivers_install *installs;
    size_t ninstalls;
    const char *const *unmatched; /* words of the change that fit nothing on this host */
    size_t nunmatched;
    bool lost, open; /* something in use loses its driver or its array; something in use could not be decided */
};

/* Predicts for every function that needs a driver. installs is filled but for "against". VF_ELIMIT. */
int drivers_build(const struct claim_world *w, struct drivers_install *installs, size_t ninstalls, struct drivers_report *out, struct err *e);
/* Would writing to the disks of an array destroy it: it changes its driver, and is RAID in firmware. Unknown counts as such when not known. */
enum raid_risk { RAID_NONE, RAID_OPEN, RAID_BROKEN };
enum raid_risk drivers_raid(const struct claim *c);

struct drivers_style {
    const char *bold, *red, *yellow, *none;
    size_t table_width; /* 0: nothing is cut */
    unsigned width;     /* of prose */
    bool verbose;
};
void drivers_text(const struct drivers_report *r, const struct drivers_style *s, struct buf *out);

#define DRIVERS_JSON_VERSION 1
struct js *drivers_json(const struct drivers_report *r);

#endif
