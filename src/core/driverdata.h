#ifndef VF_CORE_DRIVERDATA_H
#define VF_CORE_DRIVERDATA_H

#include "core/version.h"

/* What is known of drivers without asking a host: rules/drivers.tsv and rules/driver-changes.tsv, whose heads describe their columns. */

/* A module may claim what the pattern fits: 22 characters vendor device subsystem class, '.' any digit. */
struct driver_line {
    struct slice module, vib, pattern;
    bool vmklinux;
    bool source; /* only the driver's source lists it, and of which releases is not in the map of 6.7.0 */
};

/* From a release on. */
struct driver_change {
    struct release from;
    struct slice what, name, to, source; /* "kind", "module", "vib", "only", "cpu" */
    bool sure;
};

struct driver_data {
    struct driver_line *lines;
    size_t nlines, lines_cap;
    struct driver_change *changes;
    size_t nchanges, changes_cap;
};

/* The texts stay where they are: they point into the bytes. VF_EFORMAT names the line. */
int driverdata_load_lines(struct slice tsv, const char *name, struct arena *a, struct driver_data *out, struct err *e);
int driverdata_load_changes(struct slice tsv, const char *name, struct arena *a, struct driver_data *out, struct err *e);

/*
 * What happened to a thing between a host's release and another: the newest change of what and name that the target has and, when after is not
 * NULL, the host had not yet. NULL when nothing is known.
 */
const struct driver_change *driverdata_change(const struct driver_data *d, const struct builds *b, const char *what, struct slice name,
                                              const struct release *after, const struct release *target);

/* Is r at or beyond from; false when that is not known. */
bool driverdata_reached(const struct builds *b, const struct release *r, const struct release *from);

#endif
