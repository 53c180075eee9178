#ifndef VF_NET_SHELL_H
#define VF_NET_SHELL_H

#include "net/channel.h"
#include "net/link.h"

/*
 * A live host as a channel: all asks that are wanted go to one shell as one script (script.h), the answers are kept until the channel is
 * closed. A command that hangs or prints without end costs itself: the shell is left, the rest goes to a new one, which first ends what
 * hangs. A connection that breaks keeps what came; what is left is answered as failed, with the reason. Where hostd does not answer, the
 * same is asked of localcli.
 */

#define SHELL_MAX_ANSWER (8u << 20)   /* output of one command; the largest seen is 1.1 MB (vib list of a large image) */
#define SHELL_MAX_LOG    (16u << 20)  /* a log; ESXi rotates vmkernel.log at 8 MB by default */
#define SHELL_MAX_ERRORS (256u << 10) /* error output of one command */
#define SHELL_MAX_HOST   (64u << 20)  /* all of one host */

struct shell_answer {
    const struct ask *ask;
    const struct reply *reply; /* as it came: a rotated log is still packed */
    const char *status;        /* as in recording.json: "ok", "timeout", "lost", "failed" */
    uint32_t elapsed_ms;
};

struct shell_opt {
    uint32_t start_ms;   /* until sh answers */
    uint32_t command_ms; /* for one command */
    uint64_t deadline;   /* of the host, clock_ms() */
    bool wait;           /* until sh answers; else its first lines go with the first commands */
    void (*answered)(void *ctx, const struct shell_answer *a); /* each one as it is complete; may be NULL */
    void *ctx;
};

/*
 * Takes the link over, starts sh. Returns 0, VF_EHOST (with wait: no sh there; what the login shell said instead is quoted) or what start of the
 * link says; the link is closed then. Without wait that sh does not answer comes out with the first asks, and as trouble.
 */
int shell_open(struct link *l, const uint8_t random[16], const struct shell_opt *o, struct channel **out, struct err *e);

#endif
