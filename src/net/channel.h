#ifndef VF_NET_CHANNEL_H
#define VF_NET_CHANNEL_H

#include "base/arena.h"
#include "base/err.h"

/*
 * A channel is anything that answers asks: a recording, a folder of saved outputs, a support bundle; a live host. What is asked is
 * the same everywhere; only who answers differs. A channel knows nothing of facts.
 */

enum ask_kind {
    ASK_ESXCLI, /* "storage core adapter list", with options; answered in any of esxcli's forms, or by localcli */
    ASK_SHELL,  /* another read-only command with its arguments */
    ASK_FILE,   /* absolute path of a file of the host; '*' in its last part asks for all such files */
    ASK_REDFISH, /* "/redfish/v1": whatever the host's BMC says of firmware, an answer for each resource, all of them parts (redfish.h) */
};

enum ask_form { ASK_AS_TEXT, ASK_AS_XML }; /* what a live host's esxcli is told to print; saved answers are taken as they are */

struct ask {
    enum ask_kind kind;
    enum ask_form form;
    struct slice text;
    struct slice value; /* the end of text that is one argument, whatever blanks it holds; empty when there is none */
};

/*
 * The read-only grammar. Returns 0, or VF_EDENIED naming the word that is not permitted: esxcli commands must end in list or get (options
 * after it, none of them a setter), the others must be in the table of readonly.c with permitted options; no shell metacharacters anywhere.
 * Checked when a probe is loaded, when it is asked, and once more where the command line for a host is put together.
 */
int ask_readonly(const struct ask *q, struct err *e);

enum reply_status {
    REPLY_MISSING, /* nobody answered: not in the bundle, not recorded. body is empty, note says so */
    REPLY_UNREADABLE, /* there is an answer, but it cannot be read here: a link, no permission, a file that a recording names and lacks; note */
    REPLY_FAILED,  /* asked, and it failed before there was output: timeout, connection lost, not permitted; note says which */
    REPLY_OK,      /* there is output; exit_code says how the command ended, -1 when not known */
};

struct reply {
    enum reply_status status;
    int exit_code;
    struct slice body;  /* lives until the channel is closed */
    struct slice where; /* file that holds the answer, relative to the target; empty when there is none */
    struct slice path;  /* of the file on the host, or the resource of its BMC, absolute, where where does not tell it; else empty */
    const char *note;   /* why not, or that the body was cut */
    bool cut;           /* body is known to be incomplete */
    bool part;          /* one file of several that an ASK_FILE with '*' or a rotated log gives: all of them count */
};

/*
 * Called for each answer, in order of preference. Without part, several answers are alternatives (XML beside text): a return of 1 takes
 * this one and stops, 0 looks at the next, negative is an error that channel_ask returns.
 */
typedef int reply_fn(void *ctx, const struct reply *r);

struct channel;

struct channel_ops {
    const char *name;
    bool saved; /* answers are at hand and cost nothing: all that say the same are compared */
    int (*ask)(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e);
    bool (*want)(struct channel *c, const struct ask *q); /* NULL with fetch where answers are at hand */
    int (*fetch)(struct channel *c, struct err *e);
    const char *(*trouble)(const struct channel *c); /* NULL: never any */
    void (*close)(struct channel *c);
};

struct channel {
    const struct channel_ops *ops;
};

/* At least one call of fn for every ask. Returns 0 or a negative code; a refusal by the host is an answer, not an error. */
int channel_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e);
/*
 * For hosts that are far away: all that is wanted is fetched in one go. channel_want says whether the answer is at hand already; if not it
 * comes with the next channel_fetch, which gives every wanted ask an answer, be it a failure. An ask that was never wanted is fetched alone.
 */
bool channel_want(struct channel *c, const struct ask *q);
int channel_fetch(struct channel *c, struct err *e);
/* What was wrong with the channel as a whole: a connection that did not hold, a service that is down. One sentence, or NULL. */
const char *channel_trouble(const struct channel *c);
void channel_close(struct channel **c);

#endif
