#include "net/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fsx.h"

#define MAX_MESSAGE (256u << 10) /* AGENT_MAX_LEN of OpenSSH */

enum { REQUEST_IDENTITIES = 11, IDENTITIES_ANSWER = 12, SIGN_REQUEST = 13, SIGN_RESPONSE = 14 };

bool ssh_number(struct slice *rest, uint32_t *out)
{
    const unsigned char *p = (const unsigned char *)rest->p;

    if (rest->n < 4)
        return false;
    *out = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    *rest = slice_from(*rest, 4);
    return true;
}

bool ssh_string(struct slice *rest, struct slice *out)
{
    uint32_t n;

    if (!ssh_number(rest, &n) || n > rest->n)
        return false;
    *out = slice_cut(*rest, 0, n);
    *rest = slice_from(*rest, n);
    return true;
}

static void add_number(struct buf *b, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_addc(b, (char)(v >> shift));
}

static void add_string(struct buf *b, struct slice s)
{
    add_number(b, (uint32_t)s.n);
    buf_add(b, s);
}

static int open_socket(const char *path, struct err *e)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof addr.sun_path)
        return err_set(e, VF_EIO, "agent at %s: the path is too long for a socket", path);
    memcpy(addr.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof addr) < 0) {
        int why = errno;

        fsx_close(&fd);
        return err_set(e, VF_EIO, "agent at %s: %s", path, strerror(why));
    }
    return fd;
}

static int wait_for(int fd, short events, const char *path, uint64_t deadline, struct err *e)
{
    struct pollfd p = {fd, events, 0};

    switch (clock_poll(&p, 1, deadline)) {
    case WAIT_READY:
        return 0;
    case WAIT_TIMEOUT:
        return err_set(e, VF_EIO, "agent at %s: no answer in time; does it wait for somebody to confirm?", path);
    case WAIT_STOPPED:
        return err_set(e, VF_EIO, "stopped");
    }
    return VF_EIO;
}

/* n bytes of the answer into b. */
static int receive(int fd, size_t n, struct buf *b, const char *path, uint64_t deadline, struct err *e)
{
    char piece[4096];

    while (n) {
        ssize_t got = read(fd, piece, n < sizeof piece ? n : sizeof piece);

        if (got > 0) {
            buf_add(b, (struct slice){piece, (size_t)got});
            n -= (size_t)got;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return err_set(e, VF_EIO, "agent at %s: it closed the connection", path);
        } else if (wait_for(fd, POLLIN, path, deadline, e) < 0) {
            return e->code;
        }
    }
    return 0;
}

/* Send one message, receive one: *answer without its length. */
static int ask(const char *path, struct slice body, uint64_t deadline, struct buf *b, struct slice *answer, struct err *e)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(MAX_MESSAGE + 4);
    _cleanup_(fsx_close) int fd = open_socket(path, e);
    struct slice rest;
    uint32_t n = 0;

    if (fd < 0)
        return e->code;
    add_string(&out, body);
    rest = buf_slice(&out);
    while (rest.n) {
        ssize_t sent = send(fd, rest.p, rest.n, MSG_NOSIGNAL);

        if (sent > 0)
            rest = slice_from(rest, (size_t)sent);
        else if (errno != EAGAIN && errno != EINTR)
            return err_set(e, VF_EIO, "agent at %s: %s", path, strerror(errno));
        else if (wait_for(fd, POLLOUT, path, deadline, e) < 0)
            return e->code;
    }
    if (receive(fd, 4, b, path, deadline, e) < 0)
        return e->code;
    rest = buf_slice(b);
    (void)ssh_number(&rest, &n);
    if (n == 0 || n > MAX_MESSAGE)
        return err_set(e, VF_EIO, "agent at %s: an answer of %u bytes makes no sense", path, n);
    buf_reset(b);
    if (receive(fd, n, b, path, deadline, e) < 0)
        return e->code;
    *answer = buf_slice(b);
    return 0;
}

static bool expect(struct slice *answer, char type)
{
    if (answer->n == 0 || answer->p[0] != type)
        return false;
    *answer = slice_from(*answer, 1);
    return true;
}

int agent_keys(const char *path, uint64_t deadline, struct arena *a, struct agent_key *keys, size_t max, size_t *n, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_MESSAGE);
    struct slice answer;
    uint32_t count;

    *n = 0;
    if (ask(path, (struct slice){(const char[]){REQUEST_IDENTITIES}, 1}, deadline, &b, &answer, e) < 0)
        return e->code;
    if (!expect(&answer, IDENTITIES_ANSWER) || !ssh_number(&answer, &count))
        return err_set(e, VF_EIO, "agent at %s: it does not list its keys", path);
    for (uint32_t i = 0; i < count && *n < max; i++) {
        _cleanup_(buf_done) struct buf safe = BUF_INIT(400);
        struct slice blob, comment, rest, type;

        if (!ssh_string(&answer, &blob) || !ssh_string(&answer, &comment))
            return err_set(e, VF_EIO, "agent at %s: its list of keys is cut", path);
        rest = arena_dup(a, blob);
        keys[*n].blob = rest;
        if (!ssh_string(&rest, &type))
            continue;
        buf_add_safe(&safe, comment);
        keys[*n].type = type;
        keys[*n].comment = arena_printf(a, "%s", buf_z(&safe));
        ++*n;
    }
    return 0;
}

int agent_sign(const char *path, struct slice blob, struct slice data, uint64_t deadline, struct arena *a, struct slice *sig, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_MESSAGE), request = BUF_INIT(MAX_MESSAGE);
    struct slice answer, whole, type, bare;

    buf_addc(&request, SIGN_REQUEST);
    add_string(&request, blob);
    add_string(&request, data);
    add_number(&request, 0);
    if (ask(path, buf_slice(&request), deadline, &b, &answer, e) < 0)
        return e->code;
    if (!expect(&answer, SIGN_RESPONSE))
        return err_set(e, VF_EDENIED, "agent at %s: it does not sign with this key", path);
    if (!ssh_string(&answer, &whole) || !ssh_string(&whole, &type) || !ssh_string(&whole, &bare))
        return err_set(e, VF_EIO, "agent at %s: its signature is cut", path);
    *sig = arena_dup(a, bare);
    return 0;
}
