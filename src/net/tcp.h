#ifndef VF_NET_TCP_H
#define VF_NET_TCP_H

#include "base/arena.h"
#include "base/err.h"

/* A connection to a name and port, each step within its limit. */
struct tcp_where {
    const char *host;    /* name or address */
    uint16_t port;
    int family;          /* AF_UNSPEC, AF_INET, AF_INET6 */
    const char *bind;    /* local address, or NULL */
    uint32_t resolve_ms, connect_ms; /* of the second all addresses of the name together */
    uint64_t deadline;   /* clock_ms(), over all */
};

/*
 * A connected socket that does not block, sends at once, and notices within 30 s that the other side is gone. address, in the arena, is the
 * numeric one that answered. Returns 0, or VF_EHOST; *named tells whether the name had an address.
 */
int tcp_connect(const struct tcp_where *w, struct arena *a, int *fd, const char **address, bool *named, struct err *e);

#endif
