#ifndef VF_CMD_LAYERS_H
#define VF_CMD_LAYERS_H

#include "cmd/env.h"
#include "core/pack.h"

/*
 * The rules of a scan: the shipped ones, installed packs, the site's own files, and what --rules names. A later rule of the same id replaces
 * an earlier one whole. A pack or a site's file that cannot be used is left out and told; the shipped rules serve on. What --rules names must
 * be right.
 */
struct layer {
    const char *name;    /* "acme 7", or the path of a file */
    const char *path;    /* of the pack or file */
    const char *refused; /* why it is left out, or NULL */
    struct slice date;   /* of a pack, else empty */
    size_t rules, replacing; /* replacing: those in place of one of the same id below */
    const struct pack *pack; /* NULL: a site's file */
    const struct pack_file *files;
    size_t nfiles;
};

struct trusted_key {
    struct sign_public key;
    const char *path;
};

struct layers {
    struct env *env;
    struct trusted_key *keys;
    size_t nkeys, keys_cap;
    bool keys_read;
    const char *keys_only; /* a folder that is looked into instead of the usual ones; NULL */
    const char *without;   /* name of a pack that is not wanted: another is about to take its place; NULL */
    struct layer *v;
    size_t n, cap, refused;
};

/* Packs are installed here: the state folder, or the machine's for root. */
const char *layers_home(const struct cli *c, struct arena *a);

/* The folders of trusted keys are read once, by whichever comes first; keys that cannot be read are told on standard error. */
void layers_keys(struct layers *l);
/* Read a pack and prove that a trusted key has signed it. VF_EFORMAT, VF_EDENIED with the reason and the folders. */
int layers_open_pack(struct layers *l, struct slice bytes, const char *what, struct pack *out, const struct trusted_key **by, struct err *e);

/* Find all layers into l (l->env is set), and load the rules; sealed. What is refused is told on standard error once. */
int layers_rules(struct layers *l, const struct slice *more, size_t n, struct ruleset *out, struct err *e);
/* The shipped rules, the layers found, and one more pack whose faults are errors: as it would be after its installation. */
int layers_rules_with(struct layers *l, const struct pack *pack, const char *name, struct ruleset *out, struct err *e);

/* "acme 7 of 2026-11-30, 12 rules; /etc/vmkfit/rules.d/own.xml, 3 rules"; NULL without layers. */
const char *layers_text(const struct layers *l);
struct js *layers_json(const struct layers *l);

#endif
