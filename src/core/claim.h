#ifndef VF_CORE_CLAIM_H
#define VF_CORE_CLAIM_H

#include "core/driverdata.h"
#include "core/facts.h"

/*
 * Which module takes a PCI function at the next boot. Pure: facts and changes in, prediction out; texts in the facts' arena.
 *
 * The device manager asks the native map files first; vmklinux drivers, up to 6.7, get what no native one took. A pattern that names ids goes
 * before one that names a class only. Of several native modules whose patterns name the ids no document says which one wins: the one that
 * has the function now keeps it as long as nobody new takes part, else the result is "one of" (docs/drivers.md).
 */

/* A VIB that is to be installed. */
struct claim_package {
    struct slice name, version;
    const struct slice *modules; /* in its payloads */
    size_t nmodules;
    const struct driver_line *lines; /* of the map files in its payloads */
    size_t nlines;
    const struct slice *replaces; /* names of VIBs */
    size_t nreplaces;
    const char *why; /* not NULL when its payloads could not be read whole: then no list of its own proves that something is not there */
};

/* All of it at one next boot. NULL or zeroed: nothing. */
struct claim_change {
    const struct slice *disable, *enable; /* modules */
    size_t ndisable, nenable;
    const struct slice *remove; /* VIBs */
    size_t nremove;
    const struct claim_package *install;
    size_t ninstall;
    struct release upgrade; /* major 0: none */
};

enum claim_standing { CLAIM_OPEN, CLAIM_OUT, CLAIM_STANDS };

/*
 * May a module load at the next boot: is it on the host, enabled, its VIB not removed; nothing about what it needs. *row is its row, NULL when the
 * host has none; *why tells an OPEN or OUT.
 */
enum claim_standing claim_may_load(const struct facts *f, struct slice module, const struct claim_change *c, const struct row **row,
                                   const char **why);
/* And has it what it needs (core/nextboot.h). */
enum claim_standing claim_stands(const struct facts *f, struct slice module, bool vmklinux, const struct claim_change *c, const char **why);

/* Does a pattern of a map file fit a row of table pci: a native one of 22 characters, or VVVV:DDDD SSSS:ssss of vmklinux. */
enum claim_fit { FIT_NO, FIT_OPEN, FIT_YES };
enum claim_fit claim_fits(const struct facts *f, struct slice pattern, bool vmklinux, const struct row *pci);

/* Where the lines come from that a prediction rests on. */
enum claim_basis { CLAIM_FROM_MAPS, CLAIM_FROM_DATA };

struct claim_world {
    struct facts *f;
    const struct builds *builds;
    const struct driver_data *data;
    const struct claim_change *change;
    enum claim_basis basis;
    const char *basis_text; /* "the host's map files", "the 6.7.0 image: inferred for 6.5" */
    bool whole;             /* the lines are all there are: only the host's own, read to the end */
    const char *why;        /* why not */
};

/* Chooses the lines: the host's own when any could be read, else those of the data. */
void claim_world_init(struct claim_world *w, struct facts *f, const struct builds *b, const struct driver_data *d, const struct claim_change *c);

struct claim_contender {
    struct slice module, was, vib; /* was: its name now, where an upgrade renames it; vib empty when not known */
    bool vmklinux;
    bool exact; /* its pattern names ids, not a class only */
    bool comes; /* it is in a VIB to be installed */
    bool open;  /* the function's ids are not known well enough to say whether the pattern fits */
    enum claim_standing now, next;
    const char *why_now, *why_next; /* unless it stands */
};

enum claim_outcome {
    CLAIM_STAYS,   /* the driver of now */
    CLAIM_CHANGES, /* another takes it: takers */
    CLAIM_LOSES,   /* nobody takes it */
    CLAIM_GAINS,   /* has none now: takers */
    CLAIM_NONE,    /* has none and gets none */
    CLAIM_PASSED,  /* a machine has it by passthrough: the host needs no driver */
    CLAIM_UNKNOWN,
};

enum claim_sure { CLAIM_SURE, CLAIM_LIKELY };

struct claim {
    const struct row *pci;
    struct value driver; /* module that has it now */
    const struct claim_contender *contenders;
    size_t ncontenders;
    enum claim_outcome outcome;
    enum claim_sure sure; /* of all but UNKNOWN */
    const struct slice *takers; /* one, or "one of" */
    size_t ntakers;
    const char *why;    /* how the outcome follows; of UNKNOWN the reason */
    const char *ask;    /* of UNKNOWN: the command or path whose answer would tell, or NULL */
    struct value raid;  /* under another driver the members of an array show as single disks */
};

/* Is the function one that needs a driver: storage, network, USB or Fibre Channel, or a module or a map file names it. */
bool claim_needed(const struct claim_world *w, const struct row *pci);
/* 0, or VF_ELIMIT. */
int claim_predict(const struct claim_world *w, const struct row *pci, struct claim *out, struct err *e);

const char *claim_outcome_name(enum claim_outcome o);

/* One thing that hangs on a function: "boot", "device", "datastore", "machines", "management", "vmknic", "nfs", "iscsi", "vsan", "switch", "unknown". */
struct claim_link {
    const char *what, *text;
};

struct claim_behind {
    bool used;     /* nothing says that it is of no use; false only when that is known */
    bool severe;   /* the host itself: boot device, all uplinks of management */
    const struct slice *names; /* adapters or NICs on the function */
    size_t nnames;
    const struct claim_link *links;
    size_t nlinks;
};

/* What hangs on one function, whole chain. all: the predictions of the host's functions, since an uplink that goes too is none to fall back on. */
void claim_behind(const struct facts *f, const struct claim *c, const struct claim *all, size_t n, struct claim_behind *out);

#endif
