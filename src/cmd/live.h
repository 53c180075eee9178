#ifndef VF_CMD_LIVE_H
#define VF_CMD_LIVE_H

#include "cmd/cmd.h"
#include "net/login.h"

/* Live hosts for commands: the options, the environment, what is asked on the terminal. */

/* What a command wants to hear besides; members may be NULL. */
struct live_watch {
    void (*step)(void *ctx, const struct login_step *s);
    void (*answered)(void *ctx, const struct shell_answer *a);
    void *ctx;
};

/*
 * Connect and log in: the target's channel answers asks. The arena must outlive the channel. With -v each step is told on standard error, and
 * on a terminal a line counts the answers. Returns 0, VF_EUSAGE, VF_EHOST, VF_EIDENTITY, VF_ELOGIN.
 */
int live_open(struct cli *c, const char *text, const struct live_watch *watch, struct arena *a, struct target *out, struct err *e);
/* After the last ask: takes the progress line away. */
void live_end(struct cli *c);

/* Without a login: the key that the host shows. text must stay, o is filled for login_store. */
int live_identity(struct cli *c, const char *text, struct target_host *t, struct login_opt *o, struct arena *a, struct login_identity *out, struct err *e);

/* The password of a BMC, for redfish.h; ctx is the cli. */
int live_bmc_password(void *ctx, const char *user, const char *host, const struct secret **out, struct err *e);

/* Passwords are wiped. */
void live_done(struct cli *c);

/* A question on the terminal, not where the results go: the first line of the answer, false when there is no terminal or --batch was given. */
bool live_question(struct cli *c, const char *question, char *answer, size_t size);

#endif
