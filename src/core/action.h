#ifndef VF_CORE_ACTION_H
#define VF_CORE_ACTION_H

#include "base/buf.h"
#include "core/facts.h"

/*
 * The closed set of things a fix may do. A rule names an action and its arguments and never holds a command; only this table knows
 * commands. Each argument has a grammar, and is quoted where it is put together. Sources: apply-safety reference sections 1 and 2
 * (command definitions and messages of the 6.7.0 image; KB 313072 for auto-backup.sh).
 */
enum arg_kind {
    ARG_NONE,
    ARG_MODULE,   /* [A-Za-z0-9_-]{1,64} */
    ARG_VIB,      /* the same, with dots */
    ARG_DEVICE,   /* device id; empty in a rule: the subject's */
    ARG_SETTING,  /* /Path/Of/Option */
    ARG_PARAMS,   /* name=value, blank-parted; value without blanks and quotes */
    ARG_NUMBER,
    ARG_WORD,     /* [A-Za-z0-9_.,:=-]{1,128} */
    ARG_FILE,     /* absolute path of a .vib or .zip, no ".." */
};

#define ACTION_MAX_ARGS 4u

struct action_arg {
    const char *name, *doc;
    enum arg_kind kind;
    bool optional;
    uint64_t least, most; /* of an ARG_NUMBER; most 0: any */
};

struct action {
    const char *name, *doc;
    struct action_arg args[ACTION_MAX_ARGS];
    const char *command; /* with {name} for each argument */
    const char *undo;    /* the inverse, or NULL when the tool restores what it read before */
    const char *effect;  /* when it takes effect: "at the next boot", "at once" */
    const char *risk;    /* the least risk a fix with it may claim */
};

/* Ended by a NULL name. */
extern const struct action actions[];
const struct action *action_find(struct slice name);

/* Does the text fit the argument's grammar? A text that is "${table.column}" is checked after it was filled in. */
bool action_arg_fits(const struct action_arg *arg, struct slice text);
const char *action_arg_form(enum arg_kind kind); /* for messages: "a module name: letters, digits, _ and -" */

/* The command with its arguments, each quoted for a POSIX shell where it needs it. values[i] belongs to args[i]. */
void action_command(const struct action *a, const struct slice *values, struct buf *out);

/* Risks in order; -1 for an unknown word. */
int risk_rank(struct slice name);
extern const char *const risk_names[]; /* none low live path reboot boot data, NULL */

#endif
