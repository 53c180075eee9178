#include "net/tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fsx.h"

#define GONE_MS 30000 /* without an answer to what was sent */
#define TICK_MS 50    /* how often a wish to stop is looked for while a name is looked up */

/* --- the name --- */

static struct gaicb *new_request(const char *host, const char *port, const struct addrinfo *hints)
{
    struct gaicb *cb = xmalloc(sizeof *cb);

    *cb = (struct gaicb){.ar_name = strdup(host), .ar_service = strdup(port), .ar_request = memcpy(xmalloc(sizeof *hints), hints, sizeof *hints)};
    return cb;
}

static void free_request(struct gaicb *cb)
{
    free((void *)(uintptr_t)cb->ar_name);
    free((void *)(uintptr_t)cb->ar_service);
    free((void *)(uintptr_t)cb->ar_request);
    free(cb);
}

/* getaddrinfo waits as long as the resolver likes; this one ends at the deadline, and the resolver's thread keeps the request if it must. */
static int look_up(const struct tcp_where *w, const char *port, const struct addrinfo *hints, struct addrinfo **out, struct err *e)
{
    uint64_t deadline = clock_sooner(clock_ms() + w->resolve_ms, w->deadline);
    struct gaicb *cb = new_request(w->host, port, hints);
    int rc = getaddrinfo_a(GAI_NOWAIT, &cb, 1, NULL);

    while (rc == 0 && gai_error(cb) == EAI_INPROGRESS && clock_left(deadline) && !stop_wanted())
        (void)gai_suspend((const struct gaicb *const[]){cb}, 1, &(struct timespec){0, TICK_MS * 1000000L});
    if (rc == 0)
        rc = gai_error(cb);
    if (rc == EAI_INPROGRESS) {
        if (gai_cancel(cb) == EAI_CANCELED)
            free_request(cb);
        return stop_wanted() ? err_set(e, VF_EHOST, "stopped")
                             : err_set(e, VF_EHOST, "the name %s: no answer from the resolver within %u s", w->host, (w->resolve_ms + 999) / 1000);
    }
    *out = cb->ar_result;
    free_request(cb);
    return rc == 0 && *out ? 0 : err_set(e, VF_EHOST, "the name %s: %s", w->host, gai_strerror(rc ? rc : EAI_NONAME));
}

static int resolve(const struct tcp_where *w, struct addrinfo **out, struct err *e)
{
    struct addrinfo hints = {.ai_family = w->family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    char port[8];

    (void)snprintf(port, sizeof port, "%u", w->port);
    if (getaddrinfo(w->host, port, &hints, out) == 0) /* an address: nobody has to be asked */
        return 0;
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
    return look_up(w, port, &hints, out, e);
}

/* --- the connection --- */

static const char *numeric(const struct addrinfo *at, struct arena *a)
{
    char text[NI_MAXHOST];

    if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
        return "?";
    return arena_printf(a, "%s", text);
}

static void settings(int fd)
{
    int on = 1, limit = GONE_MS;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

/* From a local address, where the configuration has one. */
static int bind_to(int fd, const struct tcp_where *w, int family)
{
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *at = NULL;
    int rc;

    if (!w->bind)
        return 0;
    if (getaddrinfo(w->bind, NULL, &hints, &at) != 0)
        return -1;
    rc = bind(fd, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(at);
    return rc;
}

static int connect_one(const struct tcp_where *w, const struct addrinfo *at, const char *address, uint64_t deadline, int *out, struct err *e)
{
    _cleanup_(fsx_close) int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd p = {fd, POLLOUT, 0};
    int why = 0;
    socklen_t n = sizeof why;

    if (fd < 0)
        return err_set(e, VF_EHOST, "%s: %s", address, strerror(errno));
    settings(fd);
    if (bind_to(fd, w, at->ai_family) < 0)
        return err_set(e, VF_EHOST, "%s: no connection from the address %s: %s", address, w->bind, strerror(errno));
    if (connect(fd, at->ai_addr, at->ai_addrlen) < 0 && errno != EINPROGRESS)
        return err_set(e, VF_EHOST, "%s port %u: %s", address, w->port, strerror(errno));
    switch (clock_poll(&p, 1, deadline)) {
    case WAIT_READY:
        break;
    case WAIT_TIMEOUT:
        return err_set(e, VF_EHOST, "%s port %u: no answer within %u s", address, w->port, (w->connect_ms + 999) / 1000);
    case WAIT_STOPPED:
        return err_set(e, VF_EHOST, "stopped");
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) < 0 || why)
        return err_set(e, VF_EHOST, "%s port %u: %s", address, w->port, strerror(why));
    *out = fd;
    fd = -1;
    return 0;
}

int tcp_connect(const struct tcp_where *w, struct arena *a, int *fd, const char **address, bool *named, struct err *e)
{
    struct addrinfo *all = NULL;
    uint64_t deadline;
    int rc = VF_EHOST;

    *named = resolve(w, &all, e) == 0;
    if (!*named)
        return e->code;
    deadline = clock_sooner(clock_ms() + w->connect_ms, w->deadline);
    for (const struct addrinfo *at = all; at && rc < 0 && !stop_wanted(); at = at->ai_next) { /* half of what is left for each but the last */
        uint64_t until = at->ai_next ? clock_sooner(deadline, clock_ms() + clock_left(deadline) / 2) : deadline;

        *address = numeric(at, a);
        rc = connect_one(w, at, *address, until, fd, e);
    }
    freeaddrinfo(all);
    return rc;
}
