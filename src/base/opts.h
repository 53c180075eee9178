#ifndef VF_BASE_OPTS_H
#define VF_BASE_OPTS_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Commands and their options as tables. The same tables drive parsing, help, completion and the manual page,
 * so these cannot drift apart (as in git's parse-options and nvme-cli's argconfig).
 */

enum opt_kind {
    OPT_FLAG,   /* bool: set to true */
    OPT_TEXT,   /* const char * into argv */
    OPT_CHOICE, /* int: index into choices; untouched when not given */
    OPT_COUNT,  /* unsigned: one more each time, -vv */
    OPT_LIST,   /* struct opt_list: may be given several times, each time one or more parted by commas */
};

#define OPT_MAX_LIST 64u /* the most columns that a table of the schema may have */

struct opt_list {
    struct slice v[OPT_MAX_LIST];
    size_t n;
};

struct opt {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* '\0': no short form */
    enum opt_kind kind;
    size_t at; /* offsetof in the struct that gets the values */
    const char *value_name, *help;
    const char *const *choices; /* of OPT_CHOICE, ended by NULL */
};

struct cli;

/* Options that several commands share, but not all. */
struct opt_group {
    const char *title; /* "Hosts over SSH" */
    const struct opt *opts;
};

struct command {
    const char *name, *summary;
    const char *usage;    /* operands, "TARGET [TABLE]"; one line for each form */
    const char *examples; /* lines as they stand, ended by LF each */
    const char *description; /* paragraphs parted by an empty line; one that begins with a blank stands as it is */
    const char *const *verbs; /* words that the first operand must be one of, ended by NULL; or NULL */
    const struct opt *opts;   /* may be NULL */
    const struct opt_group *group; /* may be NULL */
    int (*run)(struct cli *c, int argc, char **argv); /* argv without the command's name; returns the exit status */
};

/* A table with the struct that its values go to. */
struct opt_set {
    const struct opt *opts;
    void *values;
};

/*
 * Parse argv, options and operands mixed: --name value, --name=value, -l value, -lvalue, clustered letters,
 * "--" before operands that begin with a dash; "-" is an operand. The operands are moved to the front of
 * argv, *n counts them. With stop the first operand ends the options, and all words from it on are operands
 * (options before a command).
 *
 * Returns 0, or VF_EUSAGE: unknown option (the nearest one is named), missing value, value too many, no such
 * choice.
 */
int opts_parse(const struct opt_set *sets, size_t nsets, bool stop, int argc, char **argv, int *n, struct err *e);

/* Nearest word of several, for "did you mean": start with {word}, try each; best is empty when nothing is near. */
struct near {
    struct slice word, best;
    unsigned least;
};
void near_try(struct near *n, struct slice candidate);
void near_tryz(struct near *n, const char *const *words);
/* VF_EUSAGE with the message, and "; did you mean BEFOREbest?" behind it when something is near. */
int near_fail(const struct near *n, const char *before, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#define OPTS_WIDTH 78u /* columns of help */

/*
 * Words of text wrapped at width, each line behind indent blanks; the first line continues what stands in out
 * at column at.
 */
void opts_wrap(struct buf *out, const char *text, unsigned at, unsigned indent, unsigned width);

/* Help of a command: examples, usage, description, options. common may be NULL. */
void opts_help(const char *program, const struct command *c, const struct opt *common, struct buf *out);
/* Lines "  name   summary" of all commands. */
void opts_help_commands(const struct command *const *commands, struct buf *out);

enum opts_shell { OPTS_BASH, OPTS_ZSH, OPTS_FISH };
/* Completion script for a program with commands (ended by NULL). */
void opts_completion(enum opts_shell shell, const char *program, const struct command *const *commands,
                     const struct opt *common, struct buf *out);

/* Further sections of a manual page, ended by a NULL title; text as in struct command's description. */
struct opts_section {
    const char *title, *text;
};
void opts_man(const char *program, const char *version, const char *summary, const struct command *const *commands,
              const struct opt *common, const struct opts_section *sections, struct buf *out);

#endif
