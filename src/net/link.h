#ifndef VF_NET_LINK_H
#define VF_NET_LINK_H

#include "base/err.h"
#include "base/slice.h"

/*
 * A login on a host that can run one "sh" at a time: through libssh2 (ssh.h) or through the system's ssh (openssh.h). Bytes go in, bytes of
 * two outputs come back; what they mean is the business of shell.c. Deadlines are clock_ms() times.
 */

enum link_event {
    LINK_MOVED,   /* bytes were sent or came */
    LINK_TIMEOUT, /* nothing until the deadline */
    LINK_ENDED,   /* sh has ended; the login may still be good */
    LINK_BROKEN,  /* the connection is gone; e says how */
    LINK_STOPPED, /* the user wants to stop */
};

/* output: 1 or 2, as descriptors are numbered. */
typedef void link_bytes_fn(void *ctx, int output, struct slice bytes);

struct link;

struct link_ops {
    const char *name;
    /* Run sh. After stop, once more; where the host gives only one session, over a new login. Returns 0, VF_EHOST, VF_EIDENTITY, VF_ELOGIN. */
    int (*start)(struct link *l, uint64_t deadline, struct err *e);
    /* Send what can be sent of *send, which is shortened, pass on what has come; wait only when there is neither. */
    enum link_event (*pump)(struct link *l, struct slice *send, link_bytes_fn *fn, void *ctx, uint64_t deadline, struct err *e);
    /* Leave sh alone: its outputs are closed, whatever it does. */
    void (*stop)(struct link *l);
    void (*close)(struct link *l);
};

struct link {
    const struct link_ops *ops;
};

#endif
