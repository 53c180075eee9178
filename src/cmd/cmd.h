#ifndef VF_CMD_CMD_H
#define VF_CMD_CMD_H

#include <stdio.h>

#include "base/arena.h"
#include "base/opts.h"
#include "base/table.h"

/* Exit statuses of every command; of several the first in this order that applies. 64 is EX_USAGE of sysexits.h. */
enum status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,     /* the run failed */
    STATUS_FINDINGS = 2,   /* findings at or above --fail-on */
    STATUS_INCOMPLETE = 3, /* a host or an answer could not be read whole */
    STATUS_USAGE = 64,
};

/* Status of an error code: VF_EUSAGE 64, a host that was not reached 3, all others 1. */
enum status status_of(int code);

/* The environment as far as it matters to us; read once, in main. NULL when not set. */
struct cli_environment {
    const char *data, *no_color, *term, *columns; /* VMKFIT_DATA NO_COLOR TERM COLUMNS */
    const char *home, *agent, *credentials; /* HOME SSH_AUTH_SOCK CREDENTIALS_DIRECTORY */
    const char *state_dir, *state_home, *config_home; /* STATE_DIRECTORY XDG_STATE_HOME XDG_CONFIG_HOME */
    const char *(*variable)(const char *name); /* any other: ssh's configuration may name one */
};

/* Options of commands that reach live hosts (live.h). */
struct live_values {
    int by; /* enum login_by */
    const char *config, *known_hosts, *password_file, *password_command, *timeout, *connect_timeout, *command_timeout;
    bool batch;
    const char *bmc, *bmc_user, *bmc_ca, *bmc_password_file, *bmc_password_command; /* bmc.h */
};

struct live;

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* What a command gets: where to write, how, and what was asked of every command. */
struct cli {
    FILE *out, *err; /* results; everything else */
    bool tty;        /* out is a terminal */
    unsigned width;  /* of the terminal: COLUMNS, else what it says, else 80 */
    struct cli_environment env;
    const struct command *const *commands; /* ended by NULL */
    /* options of every command */
    bool help;
    unsigned verbose;
    int color; /* enum color_when */
    const char *data;
    struct live_values live_options; /* of commands with hosts_over_ssh */
    struct live *live;               /* passwords that were asked for; freed by live_done */
};

extern const struct opt_group hosts_over_ssh;

extern const struct opt cli_options[];

void cli_init(struct cli *c, FILE *out, FILE *err, const struct cli_environment *env);

/*
 * Parse a command's options into values (a zeroed struct of its own) and those of every command into c;
 * operands move to the front of argv, *n counts them. False when the command is over: help was shown or the
 * words were wrong; *status is then the exit status.
 */
bool cli_parse(struct cli *c, const struct command *cmd, void *values, int argc, char **argv, int *n, int *status);

/*
 * Messages for people on err, text made safe for a terminal. cli_fail returns the exit status; usage errors
 * name --help.
 */
int cli_fail(struct cli *c, const char *command, const struct err *e);
void cli_warn(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A result to out. A buffer that was cut is a failure; a full disk is found by main at the end. */
int cli_write(struct cli *c, struct buf *b);
/* A document to out, and free it. */
struct js;
int cli_write_json(struct cli *c, struct js **document);

/* Width for text_table_print: 0 when the output is no terminal, so that nothing is cut for a pipe. */
size_t cli_table_width(const struct cli *c);
/* For prose: lines of more than 100 characters are hard to read. */
unsigned cli_text_width(const struct cli *c);

/* The day, UTC, YYYY-MM-DD. Loaders take it as text. */
struct slice cli_today(struct arena *a);

/* Escape sequences, empty without colour. Never the only bearer of a meaning. */
enum style { STYLE_NONE, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_YELLOW, STYLE_GREEN };
const char *cli_style(const struct cli *c, enum style s);

/* Command by name; NULL with e set, the nearest one named. */
const struct command *cli_command(const struct cli *c, const char *name, struct err *e);

extern const struct command cmd_scan, cmd_record, cmd_trust, cmd_doctor, cmd_facts, cmd_explain, cmd_drivers, cmd_probe, cmd_rules, cmd_waivers, cmd_completion, cmd_help;

/* Version of the program and of the libraries, a line each. */
void help_version(struct buf *out);
/* What "vmkfit" alone and "vmkfit --help" show. */
void help_overview(const struct cli *c, struct buf *out);

#endif
