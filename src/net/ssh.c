#include "net/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <libssh2.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fsx.h"
#include "net/agent.h"
#include "net/tcp.h"

#define WINDOW     (4u << 20) /* of a channel: what a host may send ahead; 8 MB of log at 40 ms take 0.1 s */
#define PIECE      (32u << 10)
#define MAX_SSH    (4u << 20) /* of one connection's texts and keys */
#define MAX_LIBRARY (16u << 20) /* what libssh2 takes for a connection; the window is most of it */
#define GOODBYE_MS 150u       /* between a refusal and the end of a connection */
#define HALF_DONE  100u       /* ms: libssh2 says EAGAIN, but not for which direction */

struct ssh {
    int fd;
    LIBSSH2_SESSION *session;
    LIBSSH2_CHANNEL *channel;
    struct arena *arena;
    struct ssh_times times;
    uint64_t deadline;  /* of the host */
    const char *address, *server;
    /* for the callbacks of a login */
    struct slice password;
    const struct ssh_key *key;
    uint64_t until;     /* of the present stage */
    unsigned rounds;    /* in which a password was asked for */
    struct err asked;   /* what was asked that is not answered, or why there is no signature */
    struct block *blocks; /* what libssh2 has taken */
    size_t taken;
    bool dead;          /* a call could not be brought to its end: nothing more can be sent */
};

/*
 * --- memory ---
 *
 * Every block is known: what libssh2 1.10 forgets (of a login with prompts, of a key exchange that is given up) goes with the connection,
 * all of it is wiped then, and a host cannot make it take more than MAX_LIBRARY.
 */

struct block {
    struct block *next, **at; /* at: what points to it */
    size_t n;
    size_t fill; /* what follows is aligned as malloc aligns */
};

static void *ssh_alloc(size_t n, void **abstract)
{
    struct ssh *s = *abstract;
    struct block *b = n > MAX_LIBRARY - s->taken ? NULL : malloc(sizeof *b + n);

    if (!b)
        return NULL;
    *b = (struct block){s->blocks, &s->blocks, n, 0};
    if (b->next)
        b->next->at = &b->next;
    s->blocks = b;
    s->taken += n;
    return b + 1;
}

static void ssh_wipe(void *p, void **abstract)
{
    struct ssh *s = *abstract;
    struct block *b;

    if (!p)
        return;
    b = (struct block *)p - 1;
    *b->at = b->next;
    if (b->next)
        b->next->at = b->at;
    s->taken -= b->n;
    explicit_bzero(b, sizeof *b + b->n);
    free(b);
}

static void *ssh_resize(void *p, size_t n, void **abstract)
{
    void *fresh = ssh_alloc(n, abstract);
    size_t old = p ? ((struct block *)p - 1)->n : 0;

    if (!fresh)
        return NULL;
    if (p)
        memcpy(fresh, p, old < n ? old : n);
    ssh_wipe(p, abstract);
    return fresh;
}

/* --- waiting --- */

static int timed_out(const struct ssh *s, enum clock_wait w, const char *doing, uint32_t limit_ms, struct err *e)
{
    if (w == WAIT_STOPPED)
        return err_set(e, VF_EHOST, "stopped");
    if (clock_left(s->deadline) == 0)
        return err_set(e, VF_EHOST, "%s: the time limit for the host has passed", doing);
    return err_set(e, VF_EHOST, "%s: no end within %u s", doing, (limit_ms + 999) / 1000);
}

static uint64_t stage(const struct ssh *s, uint32_t ms)
{
    return clock_sooner(clock_ms() + ms, s->deadline);
}

/*
 * How libssh2 reads. It goes on within one call for as long as bytes come, over an endless banner for ever: past the stage's deadline there
 * are none.
 */
static LIBSSH2_RECV_FUNC(receive)
{
    struct ssh *s = *abstract;
    ssize_t n;

    if (clock_left(s->until) == 0 || stop_wanted())
        return -EAGAIN;
    n = recv(socket, buffer, length, flags);
    if (n >= 0)
        return n;
    return errno == EINTR ? -EAGAIN : -errno;
}

/* For what libssh2 waits for. */
static enum clock_wait wait_ready(const struct ssh *s, uint64_t deadline)
{
    int dir = libssh2_session_block_directions(s->session);
    struct pollfd p = {s->fd, 0, 0};
    enum clock_wait w;

    if (clock_left(deadline) == 0) /* what has come by now is too late */
        return stop_wanted() ? WAIT_STOPPED : WAIT_TIMEOUT;
    if (dir & LIBSSH2_SESSION_BLOCK_INBOUND)
        p.events |= POLLIN;
    if (dir & LIBSSH2_SESSION_BLOCK_OUTBOUND)
        p.events |= POLLOUT;
    if (dir)
        return clock_poll(&p, 1, deadline);
    p.events = POLLIN;
    w = clock_poll(&p, 1, clock_sooner(deadline, clock_ms() + HALF_DONE));
    return w == WAIT_TIMEOUT && clock_left(deadline) ? WAIT_READY : w;
}

/* Repeat a call of libssh2 until it is done; rc is its last value. False at the deadline or a stop, *w says which. */
#define UNTIL_DONE(s, until, w, rc, call)                                \
    ((w) = WAIT_READY, (s)->until = (until), __extension__({             \
        while (((rc) = (call)) == LIBSSH2_ERROR_EAGAIN) {                \
            (w) = wait_ready((s), (until));                              \
            if ((w) != WAIT_READY)                                       \
                break;                                                   \
        }                                                                \
    }),                                                                  \
     (w) == WAIT_READY)

/* --- key exchange --- */

/* Dear ones last: group16 costs 24 times what nistp256 does. Encryption by counter mode alone, as 1.10 has no GCM. */
static const struct {
    int method;
    const char *names;
} preferences[] = {
    {LIBSSH2_METHOD_KEX, "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp521,ecdh-sha2-nistp384,"
                         "diffie-hellman-group14-sha256,diffie-hellman-group-exchange-sha256,diffie-hellman-group16-sha512,"
                         "diffie-hellman-group18-sha512"},
    {LIBSSH2_METHOD_CRYPT_CS, "aes128-ctr,aes256-ctr,aes192-ctr"},
    {LIBSSH2_METHOD_CRYPT_SC, "aes128-ctr,aes256-ctr,aes192-ctr"},
    {LIBSSH2_METHOD_MAC_CS, "hmac-sha2-256,hmac-sha2-512,hmac-sha1"},
    {LIBSSH2_METHOD_MAC_SC, "hmac-sha2-256,hmac-sha2-512,hmac-sha1"},
};

static const char *const host_keys[] = {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-ed25519", "ssh-rsa"};

/* Types of the keys that are known come first, so that a host is not taken for another because it has several. */
static void prefer(struct ssh *s, const struct ssh_where *w)
{
    _cleanup_(buf_done) struct buf names = BUF_INIT(400);

    for (int known = 1; known >= 0; known--)
        for (size_t i = 0; i < sizeof host_keys / sizeof *host_keys; i++)
            if (slice_among(w->key_types, w->nkey_types, slice_of(host_keys[i])) == known)
                buf_printf(&names, "%s%s", names.n ? "," : "", host_keys[i]);
    (void)libssh2_session_method_pref(s->session, LIBSSH2_METHOD_HOSTKEY, buf_z(&names));
    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++)
        (void)libssh2_session_method_pref(s->session, preferences[i].method, preferences[i].names);
}

static const char *last_words(const struct ssh *s)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(400);
    char *text = NULL;
    int n = 0;

    (void)libssh2_session_last_error(s->session, &text, &n, 0);
    buf_add_safe(&b, (struct slice){text, n > 0 ? (size_t)n : 0});
    return b.n ? arena_printf(s->arena, "%s", buf_z(&b)) : "no further reason";
}

/* Lines before the one with the version are remembered in its place. */
static bool speaks_ssh(const struct ssh *s)
{
    const char *banner = libssh2_session_banner_get(s->session);

    return banner && slice_starts(slice_of(banner), "SSH-");
}

static int no_handshake(struct ssh *s, int rc, enum ssh_why *why, struct err *e)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(200);
    const char *banner = libssh2_session_banner_get(s->session);

    if (banner && !speaks_ssh(s) && !strstr(banner, "MaxStartups")) { /* sshd says that when too many connect at once */
        *why = SSH_WHY_NO_SSH;
        buf_add_safe(&safe, slice_cut(slice_of(banner), 0, 60));
        return err_set(e, VF_EHOST, "what answers there says \"%s\", which is not SSH", buf_z(&safe));
    }
    switch (rc) {
    case LIBSSH2_ERROR_KEX_FAILURE:
    case LIBSSH2_ERROR_METHOD_NONE:
        *why = SSH_WHY_ALGORITHM;
        return err_set(e, VF_EHOST, "no algorithm in common: the host wants newer ones than libssh2 " LIBSSH2_VERSION " has "
                       "(RSA host key signed with SHA-2, AES-GCM, encrypt-then-MAC)");
    case LIBSSH2_ERROR_BANNER_RECV:
    case LIBSSH2_ERROR_SOCKET_DISCONNECT:
    case LIBSSH2_ERROR_SOCKET_RECV:
        *why = speaks_ssh(s) ? SSH_WHY_OTHER : SSH_WHY_DROPPED;
        return err_set(e, VF_EHOST, speaks_ssh(s) ? "the host closed the connection during the key exchange"
                                           : "the port is open, but the connection was closed before the host said that it speaks SSH");
    case LIBSSH2_ERROR_TIMEOUT:
        break;
    default:
        break;
    }
    return err_set(e, VF_EHOST, "key exchange: %s (libssh2 %d)", last_words(s), rc);
}

static int handshake(struct ssh *s, const struct ssh_where *w, enum ssh_why *why, struct err *e)
{
    uint64_t until = stage(s, w->times.kex);
    _cleanup_(buf_done) struct buf safe = BUF_INIT(400);
    enum clock_wait wait;
    int rc;

    *why = SSH_WHY_OTHER;
    s->session = libssh2_session_init_ex(ssh_alloc, ssh_wipe, ssh_resize, s);
    if (!s->session)
        return err_set(e, VF_EHOST, "no memory for a connection");
    libssh2_session_set_blocking(s->session, 0);
    (void)libssh2_session_callback_set(s->session, LIBSSH2_CALLBACK_RECV, (void *)receive);
    prefer(s, w);
    if (!UNTIL_DONE(s, until, wait, rc, libssh2_session_handshake(s->session, s->fd))) {
        if (!speaks_ssh(s))
            *why = SSH_WHY_NO_SSH;
        return timed_out(s, wait, speaks_ssh(s) ? "key exchange" : "the port is open, but what answers there does not say that it speaks SSH",
                         w->times.kex, e);
    }
    if (rc < 0)
        return no_handshake(s, rc, why, e);
    buf_add_safe(&safe, slice_of(libssh2_session_banner_get(s->session)));
    s->server = arena_printf(s->arena, "%s", buf_z(&safe));
    return 0;
}

int ssh_connect(const struct ssh_where *w, struct ssh **out, enum ssh_why *why, struct err *e)
{
    const struct tcp_where to = {w->host, w->port, w->family, w->bind, w->times.resolve, w->times.connect, w->deadline};
    struct ssh *s = xmalloc(sizeof *s);
    bool named = false;

    *s = (struct ssh){.fd = -1, .arena = arena_new(MAX_SSH), .times = w->times, .deadline = w->deadline, .server = ""};
    *why = SSH_WHY_OTHER;
    if (libssh2_init(0) != 0)
        (void)err_set(e, VF_EHOST, "libssh2 does not start");
    else if (tcp_connect(&to, s->arena, &s->fd, &s->address, &named, e) < 0)
        *why = named ? SSH_WHY_CONNECT : SSH_WHY_NAME;
    else if (handshake(s, w, why, e) == 0) {
        *out = s;
        return 0;
    }
    s->dead = true;
    ssh_close(&s);
    return e->code;
}

/*
 * Say good-bye to a session without waiting for the answer: sshd gives none while a command of it still runs. libssh2 keeps the channel until
 * the connection goes; all that matters is that the packet is not half sent.
 */
static void leave_channel(struct ssh *s)
{
    uint64_t until = clock_ms() + s->times.close;
    int rc = LIBSSH2_ERROR_EAGAIN;

    if (s->channel && !s->dead)
        while ((rc = libssh2_channel_close(s->channel)) == LIBSSH2_ERROR_EAGAIN)
            if (!(libssh2_session_block_directions(s->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND) || wait_ready(s, until) != WAIT_READY)
                break;
    s->dead |= s->channel && rc == LIBSSH2_ERROR_EAGAIN && libssh2_session_block_directions(s->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND;
    s->channel = NULL;
}

void ssh_close(struct ssh **at)
{
    struct ssh *s = *at;
    enum clock_wait w;
    int rc;

    if (!s)
        return;
    if (s->session) { /* with the connection its channel goes; nobody waits for the host's good-bye */
        uint64_t until = clock_ms() + s->times.close;

        if (!s->dead)
            (void)UNTIL_DONE(s, until, w, rc, libssh2_session_disconnect(s->session, "done"));
        (void)shutdown(s->fd, SHUT_RDWR); /* what is half done fails at once from here on */
        until = clock_ms() + s->times.close;
        (void)UNTIL_DONE(s, until, w, rc, libssh2_session_free(s->session));
    }
    while (s->blocks)
        ssh_wipe(s->blocks + 1, &(void *){s});
    fsx_close(&s->fd);
    arena_free(s->arena);
    explicit_bzero(s, sizeof *s);
    free(s);
    *at = NULL;
}

/* --- what is known of the host then --- */

const char *ssh_address(const struct ssh *s)
{
    return s->address;
}

struct slice ssh_hostkey(const struct ssh *s)
{
    size_t n = 0;
    int type;
    const char *p = libssh2_session_hostkey(s->session, &n, &type);

    return (struct slice){p, p ? n : 0};
}

const char *ssh_server(const struct ssh *s)
{
    return s->server;
}

const char *ssh_algorithms(const struct ssh *s)
{
    static const int kinds[] = {LIBSSH2_METHOD_KEX, LIBSSH2_METHOD_HOSTKEY, LIBSSH2_METHOD_CRYPT_CS, LIBSSH2_METHOD_MAC_CS};
    _cleanup_(buf_done) struct buf b = BUF_INIT(400);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *name = libssh2_session_methods(s->session, kinds[i]);

        buf_printf(&b, "%s%s", b.n ? " " : "", name ? name : "?");
    }
    return arena_printf(s->arena, "%s", buf_z(&b));
}

bool ssh_wants_sha2(const struct ssh *s)
{
    struct slice rest = slice_of(s->server), version, word;
    size_t at = slice_find(rest, 0, "OpenSSH_");
    uint64_t major, minor = 0;

    if (at == SIZE_MAX)
        return false;
    version = slice_from(rest, at + 8);
    if (!slice_next_word(&version, ".p _-", &word) || num_parse_u64(word, &major) < 0)
        return false;
    if (slice_next_word(&version, ".p _-", &word))
        (void)num_parse_u64(word, &minor);
    return major > 8 || (major == 8 && minor >= 8);
}

/* --- login --- */

int ssh_methods(struct ssh *s, const char *user, const char **methods, struct err *e)
{
    uint64_t until = stage(s, s->times.login);
    enum clock_wait wait = WAIT_READY;
    const char *list;

    s->until = until;
    for (;;) {
        list = libssh2_userauth_list(s->session, user, (unsigned)strlen(user));
        if (list || libssh2_session_last_errno(s->session) != LIBSSH2_ERROR_EAGAIN)
            break;
        wait = wait_ready(s, until);
        if (wait != WAIT_READY)
            return timed_out(s, wait, "login", s->times.login, e);
    }
    if (!list && !libssh2_userauth_authenticated(s->session))
        return err_set(e, VF_EHOST, "login: the host does not say which methods it accepts: %s", last_words(s));
    *methods = list ? arena_printf(s->arena, "%s", list) : "";
    return 0;
}

/* Has the host closed the connection: libssh2 takes that for a refusal at times. */
static bool hung_up(const struct ssh *s)
{
    char c;
    ssize_t n = recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

bool ssh_alive(const struct ssh *s)
{
    struct pollfd p = {s->fd, POLLIN, 0};

    (void)clock_poll(&p, 1, clock_ms() + GOODBYE_MS);
    return !s->dead && !hung_up(s);
}

/* Result of a login call, and what it means. */
static int login_result(struct ssh *s, bool in_time, enum clock_wait wait, int rc, struct err *e)
{
    if (s->asked.code) {
        s->dead = true;
        *e = s->asked;
        return SSH_REFUSED;
    }
    if (!in_time)
        return timed_out(s, wait, "login", s->times.login, e);
    if (rc < 0 && hung_up(s))
        return err_set(e, VF_EHOST, "login: the host closed the connection");
    switch (rc) {
    case 0:
        return SSH_LOGGED_IN;
    case LIBSSH2_ERROR_AUTHENTICATION_FAILED:
    case LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:
        (void)err_set(e, VF_ELOGIN, "it was refused");
        return SSH_REFUSED;
    case LIBSSH2_ERROR_FILE:
    case LIBSSH2_ERROR_METHOD_NONE:
    case LIBSSH2_ERROR_METHOD_NOT_SUPPORTED:
        (void)err_set(e, VF_ELOGIN, "%s", last_words(s));
        return SSH_CANNOT;
    default:
        return err_set(e, VF_EHOST, "login: the connection broke: %s", last_words(s));
    }
}

static LIBSSH2_USERAUTH_PUBLICKEY_SIGN_FUNC(sign)
{
    struct ssh *s = *abstract;
    struct slice bare;

    (void)session;
    if (agent_sign(s->key->agent, s->key->blob, (struct slice){(const char *)data, data_len}, s->until, s->arena, &bare, &s->asked) < 0)
        return -1;
    *sig = ssh_alloc(bare.n + 1, abstract);
    if (!*sig)
        return -1;
    memcpy(*sig, bare.p, bare.n);
    *sig_len = bare.n;
    return 0;
}

int ssh_login_key(struct ssh *s, const char *user, const struct ssh_key *k, struct err *e)
{
    uint64_t until = stage(s, s->times.login);
    enum clock_wait wait;
    void *self = s;
    bool in_time;
    int rc, result;

    s->key = k;
    s->asked = (struct err){0};
    if (k->agent) {
        in_time = UNTIL_DONE(s, until, wait, rc, libssh2_userauth_publickey(s->session, user, (const unsigned char *)k->blob.p, k->blob.n, sign, &self));
        if (s->asked.code) { /* the agent's refusal is not the host's: the next key may do */
            *e = s->asked;
            s->asked = (struct err){0};
            return in_time && rc < 0 ? SSH_CANNOT : timed_out(s, wait, "login", s->times.login, e);
        }
    } else {
        in_time = UNTIL_DONE(s, until, wait, rc, libssh2_userauth_publickey_frommemory(s->session, user, strlen(user), NULL, 0, k->priv.p, k->priv.n, ""));
    }
    result = login_result(s, in_time, wait, rc, e);
    s->key = NULL;
    return result;
}

/* Prompts are the host's text: they are quoted safely, and a password goes to none but the one that asks for it. */
static LIBSSH2_USERAUTH_KBDINT_RESPONSE_FUNC(answer)
{
    struct ssh *s = *abstract;
    _cleanup_(buf_done) struct buf said = BUF_INIT(200), lower = BUF_INIT(200);
    struct slice text;
    char *copy;

    (void)name, (void)name_len, (void)instruction, (void)instruction_len;
    if (num_prompts == 0)
        return;
    text = slice_trim((struct slice){prompts[0].text, prompts[0].length});
    buf_add_safe(&said, slice_cut(text, 0, 100));
    for (size_t i = 0; i < text.n && i < 100; i++)
        buf_addc(&lower, text.p[i] >= 'A' && text.p[i] <= 'Z' ? (char)(text.p[i] | 0x20) : text.p[i]);
    if (num_prompts == 1 && !prompts[0].echo && s->rounds++ == 0 && slice_find(buf_slice(&lower), 0, "password") != SIZE_MAX &&
        slice_find(buf_slice(&lower), 0, "new") == SIZE_MAX && (copy = ssh_alloc(s->password.n + 1, abstract))) {
        memcpy(copy, s->password.p, s->password.n);
        responses[0].text = copy; /* wiped when libssh2 frees it */
        responses[0].length = (unsigned)s->password.n;
        return;
    }
    (void)err_set(&s->asked, VF_ELOGIN,
                  s->rounds > 1 ? "it was taken, and then the host asked \"%s\": log in by hand once (has it expired?)"
                  : num_prompts > 1 ? "it was not sent: the host asks several things at once, first \"%s\""
                                    : "it was not sent: the host asks \"%s\", which is no question for one", buf_z(&said));
    (void)shutdown(s->fd, SHUT_RDWR); /* an empty answer would count as a try */
}

int ssh_login_password(struct ssh *s, const char *user, const char *methods, struct slice password, struct err *e)
{
    uint64_t until = stage(s, s->times.login);
    enum clock_wait wait;
    bool in_time;
    int rc;

    s->password = password;
    s->rounds = 0;
    s->asked = (struct err){0};
    if (strstr(methods, "keyboard-interactive")) {
        in_time = UNTIL_DONE(s, until, wait, rc, libssh2_userauth_keyboard_interactive_ex(s->session, user, (unsigned)strlen(user), answer));
    } else if (strstr(methods, "password")) {
        in_time = UNTIL_DONE(s, until, wait, rc, libssh2_userauth_password_ex(s->session, user, (unsigned)strlen(user), password.p, (unsigned)password.n, NULL));
    } else {
        s->password = (struct slice){NULL, 0};
        (void)err_set(e, VF_ELOGIN, "the host accepts no password, only %s", methods);
        return SSH_CANNOT;
    }
    s->password = (struct slice){NULL, 0};
    return login_result(s, in_time, wait, rc, e);
}

void ssh_set_deadline(struct ssh *s, uint64_t deadline)
{
    s->deadline = deadline;
}

/* --- as a link --- */

struct ssh_link {
    struct link link;
    struct ssh *ssh;
    bool used; /* a session was had on the connection */
    int (*again)(void *ctx, struct ssh **fresh, struct err *e);
    void *ctx;
};

static int open_channel(struct ssh *s, uint64_t deadline, struct err *e)
{
    uint64_t until = clock_sooner(clock_ms() + s->times.channel, deadline);
    enum clock_wait wait;
    int rc;

    s->until = until;
    for (;;) {
        s->channel = libssh2_channel_open_ex(s->session, "session", 7, WINDOW, LIBSSH2_CHANNEL_PACKET_DEFAULT, NULL, 0);
        if (s->channel || libssh2_session_last_errno(s->session) != LIBSSH2_ERROR_EAGAIN)
            break;
        wait = wait_ready(s, until);
        if (wait != WAIT_READY) {
            s->dead = true;
            return timed_out(s, wait, "opening a session", s->times.channel, e);
        }
    }
    if (!s->channel)
        return err_set(e, VF_EHOST, "the host opens no session: %s", last_words(s));
    if (!UNTIL_DONE(s, until, wait, rc, libssh2_channel_process_startup(s->channel, "exec", 4, "sh", 2))) {
        s->dead = true;
        return timed_out(s, wait, "starting sh", s->times.channel, e);
    }
    if (rc < 0)
        return err_set(e, VF_EHOST, "the host does not start sh: %s", last_words(s));
    return 0;
}

static int link_start(struct link *l, uint64_t deadline, struct err *e)
{
    struct ssh_link *sl = (struct ssh_link *)l;
    struct ssh *fresh;

    if (!sl->ssh->dead && open_channel(sl->ssh, deadline, e) == 0) {
        sl->used = true;
        return 0;
    }
    if (!sl->used || !sl->again || sl->again(sl->ctx, &fresh, e) < 0)
        return e->code;
    ssh_close(&sl->ssh);
    sl->ssh = fresh;
    return open_channel(fresh, UINT64_MAX, e); /* the login took its own time */
}

static bool read_stream(struct ssh *s, int output, char *piece, link_bytes_fn *fn, void *ctx, ssize_t *rc)
{
    *rc = libssh2_channel_read_ex(s->channel, output == 1 ? 0 : SSH_EXTENDED_DATA_STDERR, piece, PIECE);
    if (*rc <= 0)
        return false;
    fn(ctx, output, (struct slice){piece, (size_t)*rc});
    return true;
}

static enum link_event broken(struct ssh *s, struct err *e)
{
    s->dead = true;
    (void)err_set(e, VF_EHOST, "%s", last_words(s));
    return LINK_BROKEN;
}

static enum link_event link_pump(struct link *l, struct slice *send, link_bytes_fn *fn, void *ctx, uint64_t deadline, struct err *e)
{
    struct ssh *s = ((struct ssh_link *)l)->ssh;
    char piece[PIECE];

    s->until = deadline;
    for (;;) {
        bool moved = false, half = false;
        enum clock_wait wait;
        ssize_t rc = 0;

        if (send->n) {
            rc = libssh2_channel_write(s->channel, send->p, send->n);
            if (rc > 0) {
                *send = slice_from(*send, (size_t)rc);
                moved = true;
            } else if (rc == LIBSSH2_ERROR_EAGAIN) {
                half = libssh2_session_block_directions(s->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND;
            } else if (rc < 0 && !libssh2_channel_eof(s->channel)) {
                return broken(s, e);
            }
        }
        for (int output = 1; output <= 2 && !half; output++) { /* while a packet is half sent, nothing else may be called */
            moved |= read_stream(s, output, piece, fn, ctx, &rc);
            if (rc < 0 && rc != LIBSSH2_ERROR_EAGAIN)
                return moved ? LINK_MOVED : broken(s, e);
        }
        if (moved)
            return LINK_MOVED;
        if (!half && libssh2_channel_eof(s->channel))
            return LINK_ENDED;
        wait = wait_ready(s, deadline);
        if (wait == WAIT_TIMEOUT)
            return LINK_TIMEOUT;
        if (wait == WAIT_STOPPED)
            return LINK_STOPPED;
    }
}

static void link_stop(struct link *l)
{
    leave_channel(((struct ssh_link *)l)->ssh);
}

static void link_close(struct link *l)
{
    struct ssh_link *sl = (struct ssh_link *)l;

    ssh_close(&sl->ssh);
    free(sl);
}

static const struct link_ops ops = {"libssh2", link_start, link_pump, link_stop, link_close};

struct link *ssh_link(struct ssh *s, int (*again)(void *ctx, struct ssh **fresh, struct err *e), void *ctx)
{
    struct ssh_link *sl = xmalloc(sizeof *sl);

    *sl = (struct ssh_link){.link.ops = &ops, .ssh = s, .again = again, .ctx = ctx};
    return &sl->link;
}

const char *ssh_library(void)
{
    return libssh2_version(0);
}
