#include "net/openssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fsx.h"

#define MAX_ARGS  64u
#define MAX_KNOWN 10000u /* a path, each byte of which is escaped */
#define MAX_WORDS 8192u /* of ssh, before the host's shell answers */
#define MAX_SHOWN (64u << 10) /* keys of a host, as lines */
#define PIECE     (32u << 10)
#define END_MS    2000u /* between asking ssh to end and ending it */
#define LOOK_MS   50u   /* between looks whether it has ended, when a proxy may hold its error output */

extern char **environ;

struct openssh {
    struct link link;
    struct openssh_where where;
    pid_t pid;
    int in, out, err;  /* pipes, -1 when closed */
    struct buf words;  /* what ssh itself says: stderr until the host's first byte */
    bool answered;
    bool gone;         /* it has ended, with status; the rest of its words is to be read */
    int status;
    struct err ended;  /* of LINK_BROKEN, told again each time */
};

/* --- the command line --- */

struct args {
    const char *v[MAX_ARGS + 1];
    size_t n;
    char port[8], timeout[40];
    struct buf known;
};

#define ARGS_INIT {.known = BUF_INIT(MAX_KNOWN)}

static void args_done(struct args *a)
{
    buf_done(&a->known);
}

static void add(struct args *a, const char *word)
{
    if (a->n < MAX_ARGS)
        a->v[a->n++] = word;
}

static void add_option(struct args *a, const char *setting)
{
    add(a, "-o");
    add(a, setting);
}

static const char *const settings[] = {
    "BatchMode=yes", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no", "NumberOfPasswordPrompts=0",
    "PermitLocalCommand=no", "RemoteCommand=none", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "Tunnel=no",
    "ControlMaster=no", "ControlPath=none", "RequestTTY=no", "EscapeChar=none", "UpdateHostKeys=no", "VisualHostKey=no", "SendEnv=-*", "StdinNull=no",
    "ForkAfterAuthentication=no", "LogLevel=INFO",
};

/*
 * As the setting of one file, whatever it is called: in double quotes '\' stands before '\' and '"' (argv_split of ssh's misc.c), and "%%" is
 * '%' (ssh_config(5), TOKENS). "~", "none" and what more means something there do so at the beginning only; "${" has no other spelling.
 */
static int add_known_hosts(struct args *a, const char *file, struct err *e)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(600);

    buf_addz(&a->known, file[0] == '/' ? "UserKnownHostsFile=\"" : "UserKnownHostsFile=\"./");
    for (const char *p = file; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f || (p[0] == '$' && p[1] == '{')) {
            buf_add_safe(&safe, slice_of(file));
            return err_set(e, VF_EUSAGE, "%s: the system's ssh takes no file of known hosts with \"${\" or control characters in its name; give it another",
                           buf_z(&safe));
        }
        if (strchr("\\\"%", *p))
            buf_addc(&a->known, *p == '%' ? '%' : '\\');
        buf_addc(&a->known, *p);
    }
    buf_addc(&a->known, '"');
    if (a->known.cut)
        return err_set(e, VF_EUSAGE, "the name of the file of known hosts is too long for the system's ssh");
    add_option(a, buf_z(&a->known));
    add_option(a, "GlobalKnownHostsFile=/dev/null");
    return 0;
}

static const char *const keyscan[] = {"ssh-keyscan", "-t", "ecdsa,ed25519,rsa", "-T"};

/* login: with keys, to a host whose key is known; else only as far as the key that it shows. */
static int make_args(struct args *a, const struct openssh_where *w, bool login, struct err *e)
{
    add(a, "ssh");
    if (w->config) {
        add(a, "-F");
        add(a, w->config);
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        add_option(a, settings[i]);
    add_option(a, login ? "StrictHostKeyChecking=yes" : "StrictHostKeyChecking=accept-new");
    add_option(a, login ? "HashKnownHosts=yes" : "HashKnownHosts=no");
    add_option(a, login ? "SessionType=default" : "SessionType=none"); /* the latter as -N */
    if (!login)
        add_option(a, "PreferredAuthentications=none");
    (void)snprintf(a->timeout, sizeof a->timeout, "ConnectTimeout=%u", (w->connect_ms + 999) / 1000);
    add_option(a, a->timeout);
    if (w->known_hosts && add_known_hosts(a, w->known_hosts, e) < 0)
        return e->code;
    if (w->port) {
        (void)snprintf(a->port, sizeof a->port, "%u", w->port);
        add(a, "-p");
        add(a, a->port);
    }
    if (w->user) {
        add(a, "-l");
        add(a, w->user);
    }
    add(a, "--");
    add(a, w->host);
    if (login)
        add(a, "sh");
    a->v[a->n] = NULL;
    return 0;
}

/* In a process group of its own: with its proxies it can be ended, and the terminal's Ctrl-C is ours to handle. */
static int spawn(struct openssh *o, const struct args *a, struct err *e)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int rc = 0;

    /* a socket for its input: writing to it after its end raises no SIGPIPE, which is for our own output */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        rc = errno;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    (void)posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    if (rc == 0)
        rc = posix_spawnp(&o->pid, a->v[0], &actions, &attr, (char *const *)(uintptr_t)a->v, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    fsx_close(&in[0]);
    fsx_close(&out[1]);
    fsx_close(&err[1]);
    o->in = in[1];
    o->out = out[0];
    o->err = err[0];
    if (rc) {
        o->pid = 0;
        return err_set(e, rc == ENOENT ? VF_EUNSUPPORTED : VF_EIO, "%s: %s%s", a->v[0], strerror(rc), rc == ENOENT ? "; is openssh-client installed?" : "");
    }
    (void)fcntl(o->in, F_SETFL, O_NONBLOCK);
    (void)fcntl(o->out, F_SETFL, O_NONBLOCK);
    (void)fcntl(o->err, F_SETFL, O_NONBLOCK);
    return 0;
}

/* --- how it ended --- */

static void end_child(struct openssh *o)
{
    int status;

    fsx_close(&o->in);
    fsx_close(&o->out);
    fsx_close(&o->err);
    if (o->pid <= 0)
        return;
    (void)kill(-o->pid, SIGTERM);
    for (uint64_t until = clock_ms() + END_MS; waitpid(o->pid, &status, WNOHANG) == 0;) {
        if (clock_left(until) == 0) {
            (void)kill(-o->pid, SIGKILL);
            (void)waitpid(o->pid, &status, 0);
            break;
        }
        (void)poll(NULL, 0, 5);
    }
    o->pid = 0;
}

static bool says(struct slice text, const char *words)
{
    return slice_find(text, 0, words) != SIZE_MAX;
}

/* ssh, about a proxy that has ended: what the proxy said itself stands before. */
static bool says_little(struct slice line)
{
    return says(line, "UNKNOWN port") || slice_starts(line, "kex_exchange_identification:");
}

/* Last line that says something; ssh ends its lines with CR LF at times. */
static struct slice last_line(struct slice text)
{
    struct slice line, last = {NULL, 0};

    while (slice_next_line(&text, &line, NULL))
        if (!slice_blank(line) && (!says_little(line) || last.n == 0 || says_little(last)))
            last = slice_trim(line);
    return last;
}

/* ssh ends with 255 when it is its own failure; its words are the reason. */
static void explain(struct openssh *o, struct err *e)
{
    struct slice said = buf_slice(&o->words), line = last_line(said);
    _cleanup_(buf_done) struct buf safe = BUF_INIT(600);

    line.n -= slice_ends(line, "."); /* a sentence of ours may follow */
    line = slice_from(line, slice_starts(line, "ssh: ") ? 5 : 0);
    buf_add_safe(&safe, line);
    if (says(said, "REVOKED HOST KEY"))
        (void)err_set(e, VF_EIDENTITY, "the host's key is revoked (ssh: %s)", buf_z(&safe));
    else if (says(said, "IDENTIFICATION HAS CHANGED"))
        (void)err_set(e, VF_EIDENTITY, "the host's key is not the one that is known (ssh: %s)", buf_z(&safe));
    else if (says(said, "host key is known for"))
        (void)err_set(e, VF_EIDENTITY, "the host's key is not known (ssh: %s)", buf_z(&safe));
    else if (says(said, "Host key verification failed"))
        (void)err_set(e, VF_EIDENTITY, "ssh: %s", buf_z(&safe));
    else if (says(said, "Permission denied") || says(said, "Too many authentication failures"))
        (void)err_set(e, VF_ELOGIN, "ssh: %s", buf_z(&safe));
    else
        (void)err_set(e, VF_EHOST, "ssh: %s", safe.n ? buf_z(&safe) : "it ended without a word");
}

static bool has_gone(struct openssh *o)
{
    return o->gone = o->gone || (o->pid > 0 && waitpid(o->pid, &o->status, WNOHANG) == o->pid);
}

/* Its outputs are closed, or what is still open is held by others. */
static enum link_event at_end(struct openssh *o, struct err *e)
{
    fsx_close(&o->err);
    if (o->pid > 0) {
        for (uint64_t until = clock_ms() + END_MS; !has_gone(o) && clock_left(until);)
            (void)poll(NULL, 0, 2);
        if (o->gone && (!WIFEXITED(o->status) || WEXITSTATUS(o->status) == 255))
            explain(o, &o->ended);
        (void)kill(-o->pid, SIGTERM); /* what a proxy left behind */
        o->pid = 0;
    }
    if (!o->ended.code)
        return LINK_ENDED;
    *e = o->ended;
    return LINK_BROKEN;
}

/* The time is over and nothing has come from the host's side. */
static enum link_event at_deadline(const struct openssh *o, struct err *e)
{
    _cleanup_(buf_done) struct buf said = BUF_INIT(400), proxy = BUF_INIT(400);

    if (o->answered)
        return LINK_TIMEOUT;
    buf_add_safe(&said, last_line(buf_slice(&o->words)));
    buf_add_safe(&proxy, slice_of(o->where.proxy));
    (void)err_set(e, VF_EHOST, "nothing answers through ssh%s%s%s within the time limit%s%s%s", proxy.n ? " (by way of " : "", buf_z(&proxy), proxy.n ? ")" : "",
                  said.n ? ", only \"" : "", buf_z(&said), said.n ? "\"" : "");
    return LINK_BROKEN;
}

/* --- as a link --- */

static int link_start(struct link *l, uint64_t deadline, struct err *e)
{
    struct openssh *o = (struct openssh *)l;
    _cleanup_(args_done) struct args args = ARGS_INIT;

    (void)deadline;
    end_child(o);
    buf_reset(&o->words);
    o->answered = o->gone = false;
    o->ended = (struct err){0};
    return make_args(&args, &o->where, true, e) < 0 ? e->code : spawn(o, &args, e);
}

static bool read_stream(struct openssh *o, int output, link_bytes_fn *fn, void *ctx)
{
    int *fd = output == 1 ? &o->out : &o->err;
    char piece[PIECE];
    ssize_t n = *fd < 0 ? -1 : read(*fd, piece, sizeof piece);

    if (n == 0)
        fsx_close(fd);
    if (n <= 0)
        return false;
    o->answered |= output == 1;
    if (output == 2) { /* the newest of it: a connection that breaks is explained at the end */
        if (o->words.n + (size_t)n > MAX_WORDS / 2)
            buf_reset(&o->words);
        buf_add(&o->words, (struct slice){piece, (size_t)n});
    }
    fn(ctx, output, (struct slice){piece, (size_t)n});
    return true;
}

static enum link_event link_pump(struct link *l, struct slice *send, link_bytes_fn *fn, void *ctx, uint64_t deadline, struct err *e)
{
    struct openssh *o = (struct openssh *)l;

    for (;;) {
        struct pollfd p[3];
        bool moved = false;

        if (send->n && o->in >= 0) {
            ssize_t n = sendto(o->in, send->p, send->n, MSG_NOSIGNAL, NULL, 0);

            if (n > 0) {
                *send = slice_from(*send, (size_t)n);
                moved = true;
            } else if (errno != EAGAIN && errno != EINTR) {
                fsx_close(&o->in); /* why, the outputs will tell */
            }
        }
        moved |= read_stream(o, 1, fn, ctx);
        moved |= read_stream(o, 2, fn, ctx);
        if (moved)
            return o->answered || clock_left(deadline) ? LINK_MOVED : at_deadline(o, e);
        if (o->out < 0 && (o->err < 0 || o->gone))
            return at_end(o, e);
        if (o->out < 0 && has_gone(o)) /* once more: what it said last */
            continue;
        p[0] = (struct pollfd){o->out, POLLIN, 0};
        p[1] = (struct pollfd){o->err, POLLIN, 0};
        p[2] = (struct pollfd){send->n ? o->in : -1, POLLOUT, 0};
        switch (clock_poll(p, 3, o->out < 0 ? clock_sooner(deadline, clock_ms() + LOOK_MS) : deadline)) {
        case WAIT_READY:
            break;
        case WAIT_TIMEOUT:
            if (clock_left(deadline) == 0)
                return at_deadline(o, e);
            break;
        case WAIT_STOPPED:
            return LINK_STOPPED;
        }
    }
}

static void link_stop(struct link *l)
{
    end_child((struct openssh *)l);
}

static void link_close(struct link *l)
{
    struct openssh *o = (struct openssh *)l;

    end_child(o);
    buf_done(&o->words);
    free(o);
}

static const struct link_ops ops = {"openssh", link_start, link_pump, link_stop, link_close};

struct link *openssh_link(const struct openssh_where *where)
{
    struct openssh *o = xmalloc(sizeof *o);

    *o = (struct openssh){.link.ops = &ops, .where = *where, .in = -1, .out = -1, .err = -1, .words = BUF_INIT(MAX_WORDS)};
    return &o->link;
}

/* --- the host's key --- */

static void ignore(void *ctx, int output, struct slice bytes)
{
    (void)ctx, (void)output, (void)bytes;
}

static void collect(void *ctx, int output, struct slice bytes)
{
    if (output == 1)
        buf_add(ctx, bytes);
}

static void close_openssh(struct openssh **o)
{
    if (*o)
        link_close(&(*o)->link);
}

/* No key has come. said: of ssh's end, or NULL. */
static int no_key(const struct openssh *o, const char *program, enum link_event ev, const char *said, struct err *e)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(600);
    struct slice rest = buf_slice(&o->words), line, last = {NULL, 0};

    if (ev == LINK_STOPPED)
        return err_set(e, VF_EHOST, "stopped");
    if (ev == LINK_TIMEOUT)
        return err_set(e, VF_EHOST, "no host key: no answer to %s in time", program);
    while (slice_next_line(&rest, &line, NULL))
        if (!slice_blank(line) && line.p[0] != '#') /* what ssh-keyscan connects to */
            last = slice_trim(line);
    last.n -= slice_ends(last, "."); /* a sentence of ours may follow */
    buf_add_safe(&safe, last);
    return err_set(e, VF_EHOST, "%s shows no host key: %s", program, said ? said : safe.n ? buf_z(&safe) : "no answer, or none with a key of type ECDSA, Ed25519 or RSA");
}

/* A name or an address: ssh-keyscan takes lists and networks too. */
static bool is_one_host(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:%-")] == '\0' && *name;
}

/* The line with the key of the type that is liked best. */
static bool choose(struct slice text, struct slice *out)
{
    static const char *const types[] = {"ecdsa-", "ssh-ed25519", "ssh-rsa"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct slice rest = text, line, words, word;

        while (slice_next_line(&rest, &line, NULL)) {
            words = line;
            if (!slice_starts(line, "#") && slice_next_word(&words, " ", &word) && slice_next_word(&words, " ", &word) && slice_starts(word, types[i])) {
                *out = line;
                return true;
            }
        }
    }
    return false;
}

static int fetch_by_keyscan(const struct openssh_where *w, uint64_t deadline, struct arena *a, struct slice *line, struct err *e)
{
    _cleanup_(close_openssh) struct openssh *o = (struct openssh *)openssh_link(w);
    _cleanup_(args_done) struct args args = ARGS_INIT;
    _cleanup_(buf_done) struct buf shown = BUF_INIT(MAX_SHOWN);
    struct slice none = {NULL, 0}, best;
    enum link_event ev = LINK_MOVED;
    struct err said = {0};

    (void)snprintf(args.port, sizeof args.port, "%u", w->hostname_port);
    (void)snprintf(args.timeout, sizeof args.timeout, "%u", (w->connect_ms + 999) / 1000);
    for (size_t i = 0; i < sizeof keyscan / sizeof *keyscan; i++)
        add(&args, keyscan[i]);
    add(&args, args.timeout);
    add(&args, "-p");
    add(&args, args.port);
    add(&args, "--");
    add(&args, w->hostname);
    args.v[args.n] = NULL;
    if (spawn(o, &args, e) < 0)
        return e->code;
    o->answered = true; /* silence is no failure to log in */
    while (ev == LINK_MOVED && clock_left(deadline))
        ev = link_pump(&o->link, &none, collect, &shown, deadline, &said);
    if (!choose(buf_slice(&shown), &best))
        return no_key(o, "ssh-keyscan", ev == LINK_MOVED ? LINK_TIMEOUT : ev, NULL, e);
    *line = arena_dup(a, best);
    return line->p ? 0 : err_set(e, VF_ELIMIT, "no room left for the host's key");
}

static void remove_folder(const char *folder, const char *file)
{
    (void)unlink(file);
    (void)rmdir(folder);
}

/* Has ssh written the key down: a whole line. */
static bool is_written(const char *file, struct arena *a, struct slice *line)
{
    struct slice text = {NULL, 0};
    struct err e = {0};
    bool whole;

    if (fsx_kind(file) != FSX_FILE || fsx_read(file, MAX_SHOWN, a, &text, NULL, &e) < 0)
        return false;
    while (slice_next_line(&text, line, &whole))
        if (!slice_blank(*line))
            return whole;
    return false;
}

static int fetch_by_ssh(const struct openssh_where *where, const char *file, uint64_t deadline, struct arena *a, struct slice *line, struct err *e)
{
    struct openssh_where w = *where;
    _cleanup_(close_openssh) struct openssh *o = NULL;
    _cleanup_(args_done) struct args args = ARGS_INIT;
    struct slice none = {NULL, 0};
    enum link_event ev = LINK_MOVED;
    struct err said = {0};
    bool written = false;

    w.known_hosts = file;
    o = (struct openssh *)openssh_link(&w);
    if (make_args(&args, &w, false, e) < 0 || spawn(o, &args, e) < 0)
        return e->code;
    o->answered = true;
    while (!written && ev == LINK_MOVED && clock_left(deadline)) { /* it says that it adds the key before it goes on to the login */
        ev = link_pump(&o->link, &none, ignore, NULL, deadline, &said);
        written = is_written(file, a, line);
    }
    return written ? 0 : no_key(o, "ssh", ev == LINK_MOVED ? LINK_TIMEOUT : ev, ev == LINK_BROKEN ? said.msg : NULL, e);
}

int openssh_hostkey(const struct openssh_where *where, uint64_t deadline, struct arena *a, struct slice *line, struct err *e)
{
    char folder[] = "/tmp/vmkfit-XXXXXX", file[sizeof folder + 20];
    int rc;

    if (!(where->proxy && *where->proxy) && is_one_host(where->hostname))
        return fetch_by_keyscan(where, deadline, a, line, e);
    if (!mkdtemp(folder))
        return err_set(e, VF_EIO, "%s: %s", folder, strerror(errno));
    (void)snprintf(file, sizeof file, "%s/known_hosts", folder);
    rc = fetch_by_ssh(where, file, deadline, a, line, e);
    remove_folder(folder, file);
    return rc;
}
