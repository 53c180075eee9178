/*
 * An SSH server that goes wrong where it is told to, for the stages of the protocol that a real sshd cannot get wrong. README.md lists the
 * faults; they are lines of the file "faults" in the work folder, read anew for each connection. Each connection is a process of its own.
 * What a client did is in the file "events", a line for each event: time, number of the connection, event, name=value...; never a password.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libssh/callbacks.h>
#include <libssh/server.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sshd/faults.h"

enum { HOLD_SECONDS = 900, CHANNELS = 16, BACKLOG = 16 };

static const char hostile[] = "\033[2J\033]0;owned\007\033[31mroot@esx\r\nPassword:\b\b\x9b" "1m\xff\xfe \033P+q\033\\ \t%s%n$(id)`id`";

struct options {
    const char *dir, *key, *other, *authorized, *path;
};

struct exec {
    ssh_channel channel;
    pid_t child;
    int in, out, err; /* -1 when closed */
    bool drip, used;
    time_t last;
};

struct connection {
    const struct options *o;
    int number;
    ssh_session session;
    ssh_event loop;
    ssh_key known;
    struct ssh_channel_callbacks_struct callbacks;
    struct exec execs[CHANNELS];
    int opened, round;
    bool chatter, closing, authenticated;
    bool deaf; /* answers nothing any more */
};

/* --- events --- */

static void event(const struct options *o, int number, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void event(const struct options *o, int number, const char *name, const char *format, ...)
{
    char line[8192], args[4096];
    struct timespec t;
    va_list ap;

    va_start(ap, format);
    vsnprintf(args, sizeof args, format, ap);
    va_end(ap);
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(line, sizeof line, "%lld.%03ld %d %s %s\n", (long long)t.tv_sec, t.tv_nsec / 1000000, number, name, args);
    peer_log(o->dir, "events", line, strlen(line));
}

/* Text of a client as one word of an event. */
static const char *quote(const char *text, char *buf, size_t size)
{
    size_t n = 0;

    buf[n++] = '\'';
    for (; text && *text && n < size - 8; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c > 0x7e || c == '\'' || c == '\\')
            n += (size_t)snprintf(buf + n, size - n, "\\x%02x", c);
        else
            buf[n++] = *text;
    }
    buf[n++] = '\'';
    buf[n] = '\0';
    return buf;
}

/* --- faults --- */

static bool has(const struct connection *c, const char *name, const char *value)
{
    char text[256];

    return fault_get(c->o->dir, name, text, sizeof text) && strcmp(text, value) == 0;
}

struct lookup {
    const char *stage;
    char *action;
    size_t size;
};

/* "stall:publickey" for the stage "publickey", or "stall" for every stage */
static bool of_stage(void *ctx, const char *value)
{
    struct lookup *l = ctx;
    const char *colon = strchr(value, ':');

    if (colon && strcmp(colon + 1, l->stage) != 0)
        return false;
    snprintf(l->action, l->size, "%.*s", (int)strcspn(value, ":"), value);
    return true;
}

static bool action(const struct connection *c, const char *name, const char *stage, char *buf, size_t size)
{
    return fault_each(c->o->dir, name, of_stage, &(struct lookup){stage, buf, size});
}

/* What "stall", "chatter" and "close" do wherever they are met; true: nothing else is to be done with the message. */
static bool act(struct connection *c, const char *what)
{
    if (strcmp(what, "close") == 0)
        c->closing = true;
    else if (strcmp(what, "chatter") == 0)
        c->chatter = true;
    else if (strcmp(what, "stall") != 0)
        return false;
    event(c->o, c->number, "fault", "action=%s", what);
    return true;
}

/* --- before the protocol: raw sockets --- */

static void put(int fd, const char *p, size_t n)
{
    for (ssize_t w; n; p += w, n -= (size_t)w)
        if ((w = send(fd, p, n, MSG_NOSIGNAL)) <= 0)
            return;
}

/* Says nothing more and reads until the client gives up. */
static void hold(const struct options *o, int number, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char buf[4096];
    size_t bytes = 0;
    ssize_t n;

    for (time_t end = time(NULL) + HOLD_SECONDS; time(NULL) < end;) {
        if (poll(&p, 1, 1000) <= 0)
            continue;
        n = recv(fd, buf, sizeof buf, 0);
        if (n <= 0)
            break;
        bytes += (size_t)n;
    }
    event(o, number, "closed", "received=%zu", bytes);
}

static bool gone(int fd)
{
    char c;
    ssize_t n = recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* An orderly end, even when the client has said something that nobody read: closing at once would be a reset. */
static void end(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char buf[4096];

    shutdown(fd, SHUT_WR);
    while (poll(&p, 1, 2000) > 0 && recv(fd, buf, sizeof buf, 0) > 0)
        ;
}

static void drip_banner(int fd)
{
    static const char banner[] = "SSH-2.0-OpenSSH_8.3 a host that takes its time to say what it is";

    for (size_t i = 0; i < sizeof banner - 1; i++) {
        put(fd, banner + i, 1);
        sleep(1);
    }
}

static void flood(int fd, const char *line)
{
    char buf[65536];
    size_t len = strlen(line);
    ssize_t n;

    for (size_t i = 0; i < sizeof buf; i++)
        buf[i] = line[i % len];
    do
        n = send(fd, buf, sizeof buf / len * len, MSG_NOSIGNAL);
    while (n > 0);
}

/* Whether there was a fault; the connection is over then. */
static bool fault_of_banner(const struct options *o, int number, int fd)
{
    char text[256];
    long k;

    if (fault_get(o->dir, "drop", text, sizeof text)) {
        k = strtol(text, NULL, 10);
        if (number <= k) {
            if (strstr(text, ":says"))
                put(fd, "Exceeded MaxStartups\r\n", 22);
            event(o, number, "fault", "action=drop");
            end(fd);
            return true;
        }
    }
    if (!fault_get(o->dir, "banner", text, sizeof text))
        return false;
    event(o, number, "fault", "action=banner-%s", text);
    if (strcmp(text, "http") == 0)
        put(fd, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 66);
    if (strcmp(text, "close") == 0 || strcmp(text, "http") == 0) {
        end(fd);
        return true;
    }
    if (strcmp(text, "reset") == 0) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
        return true;
    }
    if (strcmp(text, "half") == 0)
        put(fd, "SSH-2.0-Ope", 11);
    else if (strcmp(text, "drip") == 0)
        drip_banner(fd);
    else if (strcmp(text, "garbage") == 0)
        put(fd, "\0\001\377\376\033[2J\0SSH\r\n\0\200\200\n\r\n\0", 24);
    else if (strcmp(text, "old") == 0)
        put(fd, "SSH-1.5-OpenSSH_1.2\r\n", 21);
    else if (strcmp(text, "endless") == 0)
        flood(fd, "This host has much to say before it says what it is.\r\n");
    else if (strcmp(text, "long") == 0)
        flood(fd, "SSH");
    hold(o, number, fd);
    return true;
}

/* --- a relay, for what libssh cannot do itself --- */

struct relay {
    const char *what; /* stall, close, garbage, drip */
    long packets;     /* of the server that pass before it: 0 is none after the banner */
    long bytes;       /* or bytes, when not negative */
};

static bool wants_relay(const struct options *o, struct relay *r, char *text, size_t size)
{
    char *colon;

    *r = (struct relay){text, 0, -1};
    if (fault_get(o->dir, "kex", text, size)) {
        colon = strchr(text, ':');
        r->packets = colon ? strtol(colon + 1, NULL, 10) : 0;
    } else if (fault_get(o->dir, "after", text, size)) {
        colon = strchr(text, ':');
        r->bytes = colon ? strtol(colon + 1, NULL, 10) : 0;
    } else
        return false;
    if (colon)
        *colon = '\0';
    return true;
}

static bool read_full(int fd, char *p, size_t n)
{
    for (ssize_t r; n; p += r, n -= (size_t)r)
        if ((r = recv(fd, p, n, 0)) <= 0)
            return false;
    return true;
}

/* The server's side of a connection: its banner and so many packets, which are in the clear, or so many bytes. */
static void relay_server(const struct relay *r, int from, int to)
{
    char buf[65536];

    if (r->bytes >= 0) {
        for (long left = r->bytes; left > 0;) {
            ssize_t n = recv(from, buf, left < (long)sizeof buf ? (size_t)left : sizeof buf, 0);

            if (n <= 0)
                return;
            put(to, buf, (size_t)n);
            left -= n;
        }
    } else {
        do {
            if (!read_full(from, buf, 1))
                return;
            put(to, buf, 1);
        } while (buf[0] != '\n');
        for (long i = 0; i < r->packets; i++) {
            size_t n;

            if (!read_full(from, buf, 4))
                return;
            n = (size_t)(unsigned char)buf[2] << 8 | (unsigned char)buf[3];
            if (buf[0] || buf[1] || n > sizeof buf - 4 || !read_full(from, buf + 4, n))
                return;
            put(to, buf, n + 4);
        }
    }
    if (strcmp(r->what, "close") == 0) {
        shutdown(to, SHUT_RDWR);
    } else if (strcmp(r->what, "garbage") == 0) {
        for (size_t i = 0; i < 4096; i++)
            buf[i] = (char)(i * 7919 >> 3);
        put(to, buf, 4096);
    } else if (strcmp(r->what, "drip") == 0) {
        while (read_full(from, buf, 1) && !gone(to)) {
            put(to, buf, 1);
            sleep(1);
        }
    }
    /* what follows is swallowed, so the server never notices */
    while (recv(from, buf, sizeof buf, 0) > 0)
        ;
}

static void relay(const struct options *o, int number, const struct relay *r, int client, int server)
{
    char buf[65536];
    size_t bytes = 0;
    ssize_t n;
    pid_t other = fork();

    if (other == 0) {
        relay_server(r, server, client);
        _exit(0);
    }
    while ((n = recv(client, buf, sizeof buf, 0)) > 0) {
        bytes += (size_t)n;
        put(server, buf, (size_t)n);
    }
    event(o, number, "closed", "received=%zu", bytes);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* --- logging in --- */

static bool is_password(const struct connection *c, const char *tried)
{
    char path[4096], want[512] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/password", c->o->dir);
    f = fopen(path, "re");
    if (!f)
        return false;
    if (!fgets(want, sizeof want, f))
        want[0] = '\0';
    fclose(f);
    want[strcspn(want, "\n")] = '\0';
    return tried && *want && strcmp(want, tried) == 0;
}

static int methods(const struct connection *c)
{
    char text[256] = "publickey,keyboard-interactive";

    fault_get(c->o->dir, "methods", text, sizeof text);
    return (strstr(text, "publickey") ? SSH_AUTH_METHOD_PUBLICKEY : 0) |
           (strstr(text, "keyboard-interactive") ? SSH_AUTH_METHOD_INTERACTIVE : 0) |
           (strstr(text, "password") ? SSH_AUTH_METHOD_PASSWORD : 0);
}

static int refuse(struct connection *c, ssh_message m)
{
    ssh_message_auth_set_methods(m, methods(c));
    ssh_message_reply_default(m);
    return 0;
}

static int accept_login(struct connection *c, ssh_message m, const char *method)
{
    char what[64];

    event(c->o, c->number, "login", "method=%s", method);
    c->authenticated = true;
    ssh_message_auth_reply_success(m, 0);
    if (action(c, "login", method, what, sizeof what))
        c->deaf = act(c, what);
    return 0;
}

static int prompt(ssh_message m, const char *name, const char *instruction, const char *text, bool echo)
{
    const char *prompts[1] = {text};
    char echos[1] = {echo};

    ssh_message_auth_interactive_request(m, name, instruction, text ? 1 : 0, prompts, echos);
    return 0;
}

/* The first question of keyboard-interactive; kbd= says which. */
static int kbd_begin(struct connection *c, ssh_message m)
{
    char kind[64] = "", *big;

    c->round = 1;
    fault_get(c->o->dir, "kbd", kind, sizeof kind);
    if (strcmp(kind, "two") == 0) {
        const char *prompts[2] = {"Password: ", "Token: "};
        char echos[2] = {0, 0};

        ssh_message_auth_interactive_request(m, "", "", 2, prompts, echos);
        return 0;
    }
    if (strcmp(kind, "many") == 0) {
        const char *prompts[100];
        char echos[100] = {0};

        for (size_t i = 0; i < 100; i++)
            prompts[i] = "Password: ";
        ssh_message_auth_interactive_request(m, "", "", 100, prompts, echos);
        return 0;
    }
    if (strcmp(kind, "hostile") == 0) {
        big = malloc(10241);
        if (!big)
            return 1;
        for (size_t i = 0; i < 10240; i++)
            big[i] = hostile[i % (sizeof hostile - 1)];
        big[10240] = '\0';
        prompt(m, big, big, big, false);
        free(big);
        return 0;
    }
    if (strcmp(kind, "echo") == 0)
        return prompt(m, "", "", "User name: ", true);
    if (strcmp(kind, "empty") == 0)
        return prompt(m, "", "", NULL, false);
    return prompt(m, "", "", "Password: ", false);
}

static int kbd_answer(struct connection *c, ssh_message m)
{
    char kind[64] = "", what[64];
    int n = ssh_userauth_kbdint_getnanswers(c->session), round = c->round++;
    const char *first = n > 0 ? ssh_userauth_kbdint_getanswer(c->session, 0) : NULL;
    bool right;

    fault_get(c->o->dir, "kbd", kind, sizeof kind);
    event(c->o, c->number, "answers", "n=%d round=%d", n, round);
    if (action(c, "auth", "answer", what, sizeof what) && act(c, what))
        return 0;
    if (strcmp(kind, "empty") == 0)
        return prompt(m, "", "", NULL, false);
    if (round == 2 && strcmp(kind, "expired") == 0) {
        event(c->o, c->number, "new-password", "n=%d", n);
        return refuse(c, m);
    }
    if (round == 1 || strcmp(kind, "twice") == 0) {
        right = is_password(c, first);
        event(c->o, c->number, "password", "result=%s method=keyboard-interactive", right ? "right" : "refused");
        if (!right)
            return refuse(c, m);
        if (round == 1 && strcmp(kind, "twice") == 0)
            return prompt(m, "", "", "Password: ", false);
        if (strcmp(kind, "expired") == 0)
            return prompt(m, "", "You are required to change your password immediately (password expired).", "New password: ", false);
        if (strcmp(kind, "one") != 0 && strcmp(kind, "twice") != 0)
            return prompt(m, "", "", NULL, false); /* as sshd with PAM does */
    }
    return accept_login(c, m, "keyboard-interactive");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* what replaces them knows no keyboard-interactive */
static int try_key(struct connection *c, ssh_message m)
{
    ssh_key key = ssh_message_auth_pubkey(m);
    enum ssh_publickey_state_e state = ssh_message_auth_publickey_state(m);
    bool known = key && c->known && ssh_key_cmp(key, c->known, SSH_KEY_CMP_PUBLIC) == 0;

    event(c->o, c->number, "key", "type=%s known=%s state=%s", key ? ssh_key_type_to_char(ssh_key_type(key)) : "?", known ? "yes" : "no",
          state == SSH_PUBLICKEY_STATE_NONE ? "asked" : state == SSH_PUBLICKEY_STATE_VALID ? "signed" : "wrong");
    if (!known || has(c, "key", "unknown"))
        return refuse(c, m);
    if (state == SSH_PUBLICKEY_STATE_NONE) {
        ssh_message_auth_reply_pk_ok_simple(m);
        return 0;
    }
    return state == SSH_PUBLICKEY_STATE_VALID ? accept_login(c, m, "publickey") : refuse(c, m);
}

static int try_password(struct connection *c, ssh_message m)
{
    bool right = is_password(c, ssh_message_auth_password(m));

    event(c->o, c->number, "password", "result=%s method=password", right ? "right" : "refused");
    return right ? accept_login(c, m, "password") : refuse(c, m);
}
#pragma GCC diagnostic pop

static int on_auth(struct connection *c, ssh_message m)
{
    char user[512], what[64];
    int kind = ssh_message_subtype(m);
    bool response = kind == SSH_AUTH_METHOD_INTERACTIVE && ssh_message_auth_kbdint_is_response(m);
    const char *method = kind == SSH_AUTH_METHOD_NONE ? "none" : kind == SSH_AUTH_METHOD_PASSWORD ? "password" :
                         kind == SSH_AUTH_METHOD_PUBLICKEY ? "publickey" : kind == SSH_AUTH_METHOD_INTERACTIVE ? "keyboard-interactive" : "other";

    if (response)
        return kbd_answer(c, m);
    event(c->o, c->number, "auth", "method=%s user=%s", method, quote(ssh_message_auth_user(m), user, sizeof user));
    if (action(c, "auth", method, what, sizeof what)) {
        if (act(c, what))
            return 0;
        if (strcmp(what, "refuse") == 0)
            return refuse(c, m);
        if (strcmp(what, "accept") == 0)
            return accept_login(c, m, method);
    }
    if (!(methods(c) & kind))
        return refuse(c, m);
    switch (kind) {
    case SSH_AUTH_METHOD_PUBLICKEY: return try_key(c, m);
    case SSH_AUTH_METHOD_PASSWORD: return try_password(c, m);
    case SSH_AUTH_METHOD_INTERACTIVE: return kbd_begin(c, m);
    }
    return refuse(c, m);
}

/* --- channels --- */

static void end_exec(struct connection *c, struct exec *x)
{
    for (int *fd = &x->out; fd; fd = fd == &x->out ? &x->err : NULL)
        if (*fd >= 0) {
            ssh_event_remove_fd(c->loop, *fd);
            close(*fd);
            *fd = -1;
        }
    if (x->in >= 0)
        close(x->in);
    x->in = -1;
    if (x->child > 0)
        kill(x->child, SIGKILL);
}

static struct exec *exec_of(struct connection *c, ssh_channel channel)
{
    for (size_t i = 0; i < CHANNELS; i++)
        if (c->execs[i].used && c->execs[i].channel == channel)
            return &c->execs[i];
    return NULL;
}

static int on_data(ssh_session session, ssh_channel channel, void *data, uint32_t len, int is_stderr, void *ctx)
{
    struct exec *x = exec_of(ctx, channel);
    const char *p = data;

    (void)session, (void)is_stderr;
    for (size_t n = len; x && x->in >= 0 && n;) {
        ssize_t w = write(x->in, p, n);

        if (w <= 0)
            break;
        p += w;
        n -= (size_t)w;
    }
    return (int)len;
}

static void on_eof(ssh_session session, ssh_channel channel, void *ctx)
{
    struct connection *c = ctx;
    struct exec *x = exec_of(c, channel);

    (void)session;
    event(c->o, c->number, "eof", "%s", "");
    if (x && x->in >= 0) {
        close(x->in);
        x->in = -1;
    }
}

static void on_close(ssh_session session, ssh_channel channel, void *ctx)
{
    struct connection *c = ctx;
    struct exec *x = exec_of(c, channel);

    (void)session;
    event(c->o, c->number, "channel-close", "%s", "");
    if (x)
        end_exec(c, x);
}

/* The end of a command as the protocol has it, less what is to be missing. */
static void finish(struct connection *c, struct exec *x)
{
    int status = 0;

    waitpid(x->child, &status, 0);
    x->child = 0;
    end_exec(c, x);
    if (!has(c, "eof", "none"))
        ssh_channel_send_eof(x->channel);
    if (has(c, "status", "signal"))
        ssh_channel_request_send_exit_signal(x->channel, "KILL", 0, "", "");
    else if (!has(c, "status", "none"))
        ssh_channel_request_send_exit_status(x->channel, WIFEXITED(status) ? WEXITSTATUS(status) : 255);
    if (!has(c, "close", "none") && !has(c, "eof", "none"))
        ssh_channel_close(x->channel);
}

static int on_output(socket_t fd, int revents, void *ctx)
{
    struct connection *c = ctx;
    struct exec *x = NULL;
    char buf[32768];
    uint32_t window;
    ssize_t n;

    (void)revents;
    for (size_t i = 0; i < CHANNELS; i++)
        if (c->execs[i].used && (c->execs[i].out == fd || c->execs[i].err == fd))
            x = &c->execs[i];
    if (!x)
        return 0;
    window = ssh_channel_window_size(x->channel);
    if (window == 0 || (x->drip && time(NULL) == x->last)) {
        usleep(5000); /* the descriptor stays ready */
        return 0;
    }
    n = read(fd, buf, x->drip ? 1 : window < sizeof buf ? window : sizeof buf);
    x->last = time(NULL);
    if (n > 0) {
        if (fd == x->out)
            ssh_channel_write(x->channel, buf, (uint32_t)n);
        else
            ssh_channel_write_stderr(x->channel, buf, (uint32_t)n);
        return 0;
    }
    ssh_event_remove_fd(c->loop, fd);
    close(fd);
    *(fd == x->out ? &x->out : &x->err) = -1;
    if (x->out < 0 && x->err < 0)
        finish(c, x);
    return 0;
}

/* output= runs another command in place of the client's. */
static const char *replaced(const struct connection *c, const char *command)
{
    return has(c, "output", "endless") ? "exec cat /dev/zero" :
           has(c, "output", "stderr") ? "head -c 8388608 /dev/zero >&2; echo done" :
           has(c, "output", "endless-stderr") ? "exec cat /dev/zero >&2" :
           has(c, "output", "garbage") ? "exec head -c 65536 /dev/urandom" :
           has(c, "output", "none") ? "exec sleep 900" : command;
}

static bool start(struct connection *c, struct exec *x, const char *command)
{
    int in[2], out[2], err[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        return false;
    (void)fcntl(in[1], F_SETPIPE_SZ, 1 << 20); /* whole scripts fit, so nobody waits for somebody who waits */
    x->child = fork();
    if (x->child < 0)
        return false;
    if (x->child == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        setenv("PATH", c->o->path, 1);
        execl("/bin/sh", "sh", "-c", replaced(c, command), (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    x->in = in[1], x->out = out[0], x->err = err[0];
    x->drip = has(c, "output", "drip");
    ssh_event_add_fd(c->loop, x->out, POLLIN | POLLHUP, on_output, c);
    ssh_event_add_fd(c->loop, x->err, POLLIN | POLLHUP, on_output, c);
    return true;
}

static int on_open(struct connection *c, ssh_message m)
{
    char what[64] = "";
    struct exec *x = NULL;

    c->opened++;
    event(c->o, c->number, "channel", "n=%d", c->opened);
    if (fault_get(c->o->dir, "channel", what, sizeof what)) {
        long from = strchr(what, ':') ? strtol(strchr(what, ':') + 1, NULL, 10) : 1;

        what[strcspn(what, ":")] = '\0';
        if (c->opened >= from) {
            if (act(c, what))
                return 0;
            return 1; /* refuse */
        }
    }
    for (size_t i = 0; i < CHANNELS && !x; i++)
        x = c->execs[i].used ? NULL : &c->execs[i];
    if (!x || ssh_message_subtype(m) != SSH_CHANNEL_SESSION)
        return 1;
    *x = (struct exec){.channel = ssh_message_channel_request_open_reply_accept(m), .in = -1, .out = -1, .err = -1, .used = true};
    if (x->channel)
        ssh_set_channel_callbacks(x->channel, &c->callbacks);
    return 0;
}

static int on_request(struct connection *c, ssh_message m)
{
    char text[8192], what[64];
    struct exec *x = exec_of(c, ssh_message_channel_request_channel(m));
    int kind = ssh_message_subtype(m);

    if (kind != SSH_CHANNEL_REQUEST_EXEC || !x) {
        event(c->o, c->number, "request", "kind=%s", kind == SSH_CHANNEL_REQUEST_PTY ? "pty" : kind == SSH_CHANNEL_REQUEST_ENV ? "env" :
              kind == SSH_CHANNEL_REQUEST_SHELL ? "shell" : kind == SSH_CHANNEL_REQUEST_SUBSYSTEM ? "subsystem" : "other");
        return 1;
    }
    event(c->o, c->number, "exec", "command=%s", quote(ssh_message_channel_request_command(m), text, 4000));
    if (fault_get(c->o->dir, "exec", what, sizeof what)) {
        if (act(c, what))
            return 0;
        if (strcmp(what, "refuse") == 0)
            return 1;
    }
    snprintf(text, sizeof text, "%s", ssh_message_channel_request_command(m));
    ssh_message_channel_request_reply_success(m);
    return start(c, x, text) ? 0 : 1;
}

static int on_message(ssh_session session, ssh_message m, void *ctx)
{
    struct connection *c = ctx;
    char what[64];

    (void)session;
    if (c->deaf)
        return 0;
    switch (ssh_message_type(m)) {
    case SSH_REQUEST_SERVICE:
        event(c->o, c->number, "service", "%s", "");
        if (fault_get(c->o->dir, "service", what, sizeof what) && act(c, what))
            return 0;
        ssh_message_service_reply_success(m);
        return 0;
    case SSH_REQUEST_AUTH: return on_auth(c, m);
    case SSH_REQUEST_CHANNEL_OPEN: return c->authenticated ? on_open(c, m) : 1;
    case SSH_REQUEST_CHANNEL: return on_request(c, m);
    default: return 1;
    }
}

/* --- a connection --- */

static void serve(const struct options *o, int number, int fd)
{
    struct connection c = {.o = o, .number = number, .session = ssh_new(), .loop = ssh_event_new()};
    ssh_bind b = ssh_bind_new();
    char text[512];
    bool config = false;

    if (!c.session || !c.loop || !b)
        _exit(1);
    c.callbacks = (struct ssh_channel_callbacks_struct){
        .userdata = &c, .channel_data_function = on_data, .channel_eof_function = on_eof, .channel_close_function = on_close};
    ssh_callbacks_init(&c.callbacks);
    if (ssh_pki_import_pubkey_file(o->authorized, &c.known) != SSH_OK)
        c.known = NULL;
    ssh_bind_options_set(b, SSH_BIND_OPTIONS_PROCESS_CONFIG, &config);
    ssh_bind_options_set(b, SSH_BIND_OPTIONS_BANNER, "OpenSSH_8.3");
    if (ssh_bind_options_set(b, SSH_BIND_OPTIONS_HOSTKEY, has(&c, "hostkey", "other") ? o->other : o->key) != SSH_OK ||
        ssh_bind_accept_fd(b, c.session, fd) != SSH_OK) {
        event(o, number, "error", "text=%s", quote(ssh_get_error(b), text, sizeof text));
        _exit(1);
    }
    ssh_set_auth_methods(c.session, methods(&c));
    ssh_set_message_callback(c.session, on_message, &c);
    if (ssh_handle_key_exchange(c.session) != SSH_OK) {
        event(o, number, "kex-failed", "banner=%s", quote(ssh_get_clientbanner(c.session), text, sizeof text));
        _exit(0);
    }
    event(o, number, "kex-done", "banner=%s", quote(ssh_get_clientbanner(c.session), text, sizeof text));
    ssh_event_add_session(c.loop, c.session);
    while (!c.closing && ssh_event_dopoll(c.loop, c.chatter ? 200 : 1000) != SSH_ERROR && ssh_is_connected(c.session))
        if (c.chatter)
            ssh_send_ignore(c.session, "still here");
    event(o, number, "closed", "by=%s", c.closing ? "server" : "client");
    for (size_t i = 0; i < CHANNELS; i++)
        if (c.execs[i].used && c.execs[i].child > 0)
            kill(c.execs[i].child, SIGKILL);
    _exit(0);
}

static void connection(const struct options *o, int number, int fd)
{
    char text[64];
    struct relay r;
    int pair[2];

    event(o, number, "connection", "%s", "");
    if (fault_of_banner(o, number, fd))
        _exit(0);
    if (!wants_relay(o, &r, text, sizeof text))
        serve(o, number, fd);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        _exit(1);
    if (fork() == 0) {
        close(fd);
        close(pair[1]);
        serve(o, number, pair[0]);
    }
    close(pair[0]);
    event(o, number, "fault", "action=relay-%s", r.what);
    relay(o, number, &r, fd, pair[1]);
    _exit(0);
}

/* A queue that is full answers no SYN: the connections that fill it are ours, and are kept. */
static void fill_backlog(const struct sockaddr_in *to)
{
    for (int i = 0; i < BACKLOG; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, (const struct sockaddr *)to, sizeof *to) != 0 && errno != EINPROGRESS)
            close(fd);
    }
    usleep(50000);
}

int main(int argc, char **argv)
{
    struct options o = {NULL, NULL, NULL, NULL, "/usr/bin:/bin"};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    char text[64];
    bool full;
    int opt, on = 1, fd, number = 0;

    while ((opt = getopt(argc, argv, "w:p:k:K:a:P:")) != -1)
        switch (opt) {
        case 'w': o.dir = optarg; break;
        case 'p': at.sin_port = htons((uint16_t)strtoul(optarg, NULL, 10)); break;
        case 'k': o.key = optarg; break;
        case 'K': o.other = optarg; break;
        case 'a': o.authorized = optarg; break;
        case 'P': o.path = optarg; break;
        default: return 2;
        }
    if (!o.dir || !o.key || !o.other || !o.authorized) {
        fputs("usage: faulthost -w WORKDIR -k HOSTKEY -K OTHERKEY -a USERKEY.pub [-p PORT] [-P PATH]\n", stderr);
        return 2;
    }
    full = fault_get(o.dir, "backlog", text, sizeof text);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, full ? 0 : 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        perror("faulthost");
        return 1;
    }
    ssh_init();
    signal(SIGPIPE, SIG_IGN);
    if (full)
        fill_backlog(&at);
    printf("port=%d pid=%d\n", ntohs(at.sin_port), (int)getpid());
    fflush(stdout);
    fclose(stdout);
    while (full)
        pause();
    for (;;) {
        int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (client < 0)
            continue;
        number++;
        if (fork() == 0) {
            close(fd);
            connection(&o, number, client);
        }
        close(client);
    }
}
