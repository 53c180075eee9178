#ifndef VF_CMD_ENV_H
#define VF_CMD_ENV_H

#include "base/pcinames.h"
#include "collect/collect.h"
#include "core/derive.h"
#include "core/ruleset.h"
#include "core/sitefacts.h"
#include "net/offline.h"

/*
 * What a run knows before it looks at a host: schema, builds, probes; loaded once. Rules are loaded by those
 * who need them.
 */
struct env {
    struct arena *arena;
    const char *data_dir; /* the folder that holds probes/ and rules/ */
    struct schema schema;
    struct builds builds;
    struct probes probes;
    struct pcinames *names;
    bool without_examples; /* for env_rules: the examples of rules are not kept */
    bool tap;              /* the channel of each host is a tap (net/tap.h): its answers can be saved */
    struct sitefacts *site; /* what the site states (site.h), or NULL */
    const char *with_bmc;  /* the target that --bmc is of */
    struct cli *cli;       /* with its options live hosts are reached; NULL: only saved answers are read */
};

/*
 * Find the data folder and load it. option is --data or NULL; variable is $VMKFIT_DATA or NULL. The first
 * that holds probes/schema.xml: option alone when given; the program's own folder, the one above it (a
 * checkout), ../share/vmkfit from there; /usr/share/vmkfit; variable. A variable that names no folder is an
 * error even when it would not have been used.
 *
 * Returns 0, VF_ENOTFOUND (the folders looked at are named; or the table that no probe in there fills), VF_EFORMAT (file and line).
 */
int env_open(struct env *v, const char *option, const char *variable, struct err *e);
void env_close(struct env *v);

/*
 * The rules of the data folder (rules/ *.xml, by name), then further files or folders; a rule there replaces an earlier one of its id. Sealed
 * and ready to match; in the arena of v. Errors name file and line; a data folder without any rule is VF_ENOTFOUND.
 */
int env_rules(struct env *v, const struct slice *more, size_t n, struct ruleset *out, struct err *e);
/* The two halves of it, without sealing: rules of a site's own come between (layers.h). */
int env_rules_shipped(struct env *v, struct ruleset *out, struct err *e);
int env_rules_named(struct env *v, const struct slice *files, size_t n, struct ruleset *out, struct err *e);
/* Each file, without loading: for a linter that wants to see more than the first error. */
int env_rules_files(struct env *v, const struct slice *more, size_t n, bool built_in, int (*fn)(void *ctx, const char *path, struct err *e), void *ctx,
                    struct err *e);

/* As a person would name the file: from the current folder, where it lies below that. */
const char *env_shown_path(const char *path);

/* The page of a rule, docs/rules/ID.md of a checkout or of an installation, as a person would name it; NULL when there is none. */
const char *env_rule_page(struct env *v, struct slice id);

/*
 * Files of a target that no ask has used and whose names answer nothing that any probe asks: perhaps only misnamed. The first max of them in
 * names; returns how many there are.
 */
size_t env_not_understood(const struct env *v, const struct target *t, const char **names, size_t max);

#define ENV_MAX_HOST (512u << 20) /* bytes of one host's facts; the largest seen is 30 MB */

/*
 * Ask a target everything, and derive. Returns 0, or VF_ELIMIT when the host's answers did not fit: *f is
 * what was read, its tables say so. *f is NULL when there was no room at all.
 */
int env_gather(struct env *v, struct target *t, struct arena *a, struct facts **f, struct err *e);

/* One host of a target, for the time of the call. */
struct env_host {
    const struct target *target;
    const struct facts *facts;
    size_t index, count;    /* of the target's hosts; index from 0 */
    size_t answers;         /* replies there were, usable or not */
    const struct stated *stated; /* what statements of the site did to its cells */
    size_t nstated;
    const char *incomplete; /* NULL, or why it could not be read whole: archive cut, limit met, no answer at all */
};

/* fn returns 0, or non-zero to stop, which is returned. */
typedef int env_host_fn(void *ctx, const struct env_host *h, struct err *e);

/*
 * Open the target, saved answers at a path or a live host, and gather its hosts, one at a time. Returns 0, fn's code, or what offline_open and
 * live_open say.
 */
int env_hosts(struct env *v, const char *path, env_host_fn *fn, void *ctx, struct err *e);

#endif
