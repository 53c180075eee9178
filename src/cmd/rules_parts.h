#ifndef VF_CMD_RULES_PARTS_H
#define VF_CMD_RULES_PARTS_H

#include "base/json.h"
#include "cmd/cmd.h"
#include "cmd/layers.h"
#include "cmd/site.h"
#include "core/knowledge.h"

/* What the verbs of "vmkfit rules" share; one file for each group of verbs. */
struct rules_values {
    const char *recordings, *output, *date, *source, *from, *device, *pci, *topic, *table, *status, *key, *keys, *name, *serial;
    struct opt_list rules, on, facts;
    bool force, json, check;
};

struct rules_run {
    struct cli *c;
    struct env env;
    struct layers layers; /* its env is set */
    struct ruleset rules; /* loaded by the verb, with rules_load_named or env_rules */
    const struct rules_values *v;
    char **files; /* operands after the verb */
    int nfiles;
    const char *pack; /* "acme 7": its rules alone are looked at by rules_concern; NULL */
    struct buf *out;
    size_t errors, warnings, passed, failed;
};

/* A verb writes to r->out and returns an exit status. */
int rules_list(struct rules_run *r);
int rules_lint(struct rules_run *r);
int rules_test(struct rules_run *r);
int rules_fmt(struct rules_run *r);
int rules_rng(struct rules_run *r);
int rules_new(struct rules_run *r);
int rules_show(struct rules_run *r);
int rules_explain(struct rules_run *r);
int rules_doc(struct rules_run *r);
int rules_try(struct rules_run *r);
int rules_mutate(struct rules_run *r);
int rules_coverage(struct rules_run *r);
int rules_import(struct rules_run *r);
int rules_key(struct rules_run *r);
int rules_sign(struct rules_run *r);
int rules_verify(struct rules_run *r);
int rules_install(struct rules_run *r);
int rules_rollback(struct rules_run *r);
int rules_remove(struct rules_run *r);
int rules_packs(struct rules_run *r);

/* Every example of the rules that rules_concern asks for; counts in r, failures in r->out. */
int rules_test_examples(struct rules_run *r, struct err *e);

/* The operands as rule files or folders: how many, in v, which has room for all. */
size_t rules_operands(const struct rules_run *r, struct slice **v);
/* The shipped rules, then those of the operands, into r->rules. */
int rules_load_named(struct rules_run *r, struct err *e);
/* rules/knowledge.tsv of the data folder. */
int rules_load_knowledge(struct rules_run *r, struct knowledge *out, struct err *e);
/* Does a rule's file lie at or below what was named, or was nothing named; either may be written from here or from the root. */
bool rules_concern(const struct rules_run *r, const char *file);
/* A result to --output, which is not replaced without --force, else to standard output. Returns an exit status. */
int rules_put(struct rules_run *r, struct slice text);
/* The rule of an id; NULL with e set, the nearest one named. */
const struct rule *rules_named(struct rules_run *r, const char *id, struct err *e);
/* "rules/nvme.xml, line 32", and what it replaces. */
const char *rules_origin(struct rules_run *r, const struct rule *rule);
/* A line of a file's or a host's making: safe for a terminal. */
void rules_say(struct rules_run *r, const char *text);

#endif
