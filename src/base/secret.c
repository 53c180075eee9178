#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/run.h"
#include "base/fsx.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SECRET_DEBUGGABLE 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SECRET_DEBUGGABLE 1
#endif

/* The head of a mapping of its own. rest takes what follows the first line of a command, to be dropped. */
struct secret {
    size_t n;
    bool line_ended;
    char text[SECRET_MAX + 3]; /* and CR, LF, or one byte too many; and a NUL */
    char rest[1024];
};

static struct secret *secret_new(struct err *e)
{
    struct secret *s;

    secret_harden();
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) {
        (void)err_set(e, VF_EIO, "no memory for a password: %s", strerror(errno));
        return NULL;
    }
    (void)mlock(s, sizeof *s); /* the limit may be zero; then only a swap that is not encrypted is the worse for it */
    (void)madvise(s, sizeof *s, MADV_DONTDUMP);
    (void)madvise(s, sizeof *s, MADV_WIPEONFORK);
    return s;
}

void secret_free(struct secret **s)
{
    if (!s || !*s)
        return;
    explicit_bzero(*s, sizeof **s);
    (void)munmap(*s, sizeof **s);
    *s = NULL;
}

const char *secret_text(const struct secret *s)
{
    return s->text;
}

size_t secret_length(const struct secret *s)
{
    return s->n;
}

void secret_harden(void)
{
    const struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
#ifndef SECRET_DEBUGGABLE
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Take off the line's end, check what is left, hand it over. name: what the text came from. */
static int finish(struct secret **made, const char *name, struct secret **out, struct err *e)
{
    struct secret *s = *made;

    while (s->n && (s->text[s->n - 1] == '\n' || s->text[s->n - 1] == '\r'))
        s->n--;
    if (s->n > SECRET_MAX)
        return err_set(e, VF_ELIMIT, "%s: longer than %u bytes", name, SECRET_MAX);
    if (s->n == 0)
        return err_set(e, VF_EFORMAT, "%s: empty, a password was expected", name);
    if (memchr(s->text, '\0', s->n))
        return err_set(e, VF_EFORMAT, "%s: has a NUL byte, which no password can have", name);
    if (memchr(s->text, '\n', s->n))
        return err_set(e, VF_EFORMAT, "%s: has more than one line, only the password was expected", name);
    explicit_bzero(s->text + s->n, sizeof s->text - s->n);
    explicit_bzero(s->rest, sizeof s->rest);
    *out = s;
    *made = NULL;
    return 0;
}

int secret_from_bytes(struct slice bytes, struct secret **out, struct err *e)
{
    _cleanup_(secret_free) struct secret *s = secret_new(e);

    if (!s)
        return VF_EIO;
    s->n = bytes.n < SECRET_MAX + 1 ? bytes.n : SECRET_MAX + 1;
    if (s->n)
        memcpy(s->text, bytes.p, s->n);
    return finish(&s, "the password", out, e);
}

/* --- files --- */

/* N of "/dev/fd/N", or -1. The descriptor is duplicated, not opened: the name is a link, and opening one of another owner is refused. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t n;

    if (strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (slice_starts(slice_of(path), folders[i]) && num_parse_u64(slice_from(slice_of(path), strlen(folders[i])), &n) == 0 && n < 1u << 20)
            return (int)n;
    return -1;
}

static int check_file(const char *path, int fd, bool given, struct err *e)
{
    struct stat st;
    bool credential;

    if (fstat(fd, &st) < 0)
        return err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) && !(given && S_ISFIFO(st.st_mode)))
        return err_set(e, VF_EDENIED, "%s is not a regular file; a password file has to be one", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(e, VF_EDENIED, "%s belongs to another user (uid %u); a password file has to be yours or root's", path, (unsigned)st.st_uid);
    credential = st.st_uid == 0 && st.st_gid == 0 && (st.st_mode & 0077) == 0040;
    if ((st.st_mode & 0077) && !credential)
        return err_set(e, VF_EDENIED, "%s can be used by others (mode %04o); run: chmod 600 %s", path, (unsigned)st.st_mode & 07777, path);
    return 0;
}

/* Up to one byte more than a secret may have, with its line's end. */
static int fill(const char *path, int fd, struct secret *s, struct err *e)
{
    int64_t end = (int64_t)clock_ms() + SECRET_PIPE_MS;

    while (s->n < sizeof s->text - 1) {
        struct pollfd p = {fd, POLLIN, 0};
        int64_t left = end - (int64_t)clock_ms();
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        ssize_t n;

        if (ready == 0)
            return err_set(e, VF_EIO, "%s: nothing came for %d seconds", path, SECRET_PIPE_MS / 1000);
        n = ready < 0 ? -1 : read(fd, s->text + s->n, sizeof s->text - 1 - s->n);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
        if (n == 0)
            return 0;
        s->n += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int secret_from_file(const char *path, struct secret **out, struct err *e)
{
    int given = descriptor_of(path);
    _cleanup_(fsx_close) int fd = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    _cleanup_(secret_free) struct secret *s = NULL;
    int rc;

    if (fd < 0 && errno == ELOOP)
        return err_set(e, VF_EDENIED, "%s is a symbolic link; name the password file itself", path);
    if (fd < 0)
        return err_set(e, errno == ENOENT ? VF_ENOTFOUND : VF_EIO, "password file %s: %s", path, strerror(errno));
    rc = check_file(path, fd, given >= 0, e);
    if (rc < 0)
        return rc;
    s = secret_new(e);
    if (!s)
        return VF_EIO;
    rc = fill(path, fd, s, e);
    return rc < 0 ? rc : finish(&s, path, out, e);
}

/* --- a command --- */

/* First line into text, all that follows into rest, over and over. */
static ssize_t take_line(void *ctx, int fd)
{
    struct secret *s = ctx;
    size_t room = sizeof s->text - 1 - s->n;
    const char *lf;
    ssize_t n;

    if (s->line_ended || room == 0)
        return read(fd, s->rest, sizeof s->rest);
    n = read(fd, s->text + s->n, room);
    if (n <= 0)
        return n;
    lf = memchr(s->text + s->n, '\n', (size_t)n);
    s->line_ended = lf != NULL;
    s->n = lf ? (size_t)(lf - s->text) : s->n + (size_t)n;
    return n;
}

int secret_from_command(const char *command, int timeout_ms, struct secret **out, struct err *e)
{
    _cleanup_(secret_free) struct secret *s = secret_new(e);
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    struct run r = {.argv = argv, .out = {take_line, s}, .terminal = true, .timeout_ms = timeout_ms};
    int status = 0, rc;

    if (!s)
        return VF_EIO;
    rc = run_program(&r, &status, e);
    if (rc < 0)
        return err_ctx(e, "password command \"%.200s\"", command);
    if (status > 128 && status < 128 + NSIG)
        return err_set(e, VF_EIO, "password command \"%.200s\": ended by signal %d", command, status - 128);
    if (status != 0)
        return err_set(e, VF_EIO, "password command \"%.200s\": exit status %d", command, status);
    rc = finish(&s, "what the password command printed", out, e);
    return rc < 0 ? err_ctx(e, "password command \"%.200s\"", command) : 0;
}

/* --- the terminal --- */

static const int held[] = {SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP};
#define HELD (sizeof held / sizeof *held)

/* A handler has no other place to write to. */
static volatile sig_atomic_t arrived[HELD];

static void note_signal(int sig)
{
    for (size_t i = 0; i < HELD; i++)
        if (held[i] == sig)
            arrived[i] = 1;
}

static bool any_arrived(void)
{
    bool any = false;

    for (size_t i = 0; i < HELD; i++)
        any |= arrived[i] != 0;
    return any;
}

struct terminal {
    int fd;
    struct termios before;
    bool changed, noting;
    sigset_t mask;
    struct sigaction actions[HELD];
};

static void note_signals(struct terminal *t)
{
    struct sigaction note = {.sa_handler = note_signal};
    sigset_t block;

    sigemptyset(&block);
    sigemptyset(&note.sa_mask);
    for (size_t i = 0; i < HELD; i++) {
        arrived[i] = 0;
        sigaddset(&block, held[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &block, &t->mask);
    for (size_t i = 0; i < HELD; i++) {
        (void)sigaction(held[i], &note, &t->actions[i]);
        if (t->actions[i].sa_handler == SIG_IGN) /* nohup: what is ignored stays so */
            (void)sigaction(held[i], &t->actions[i], NULL);
    }
    t->noting = true;
}

/* Put everything back; then the signals that came take their usual course. Returns true when there were any. */
static bool put_back(struct terminal *t)
{
    bool any = false;

    if (t->changed)
        (void)tcsetattr(t->fd, TCSAFLUSH, &t->before);
    t->changed = false;
    if (!t->noting)
        return false;
    t->noting = false;
    for (size_t i = 0; i < HELD; i++)
        (void)sigaction(held[i], &t->actions[i], NULL);
    for (size_t i = 0; i < HELD; i++)
        if (arrived[i]) {
            any = true;
            (void)kill(getpid(), held[i]);
        }
    (void)pthread_sigmask(SIG_SETMASK, &t->mask, NULL); /* a stop stops here, and goes on here */
    return any;
}

static void terminal_done(struct terminal *t)
{
    (void)put_back(t);
    if (t->fd >= 0)
        (void)close(t->fd);
}

/* One line, in the terminal's line mode. Returns its code; a signal ends it early. */
static int read_line(struct terminal *t, struct secret *s, struct err *e)
{
    while (!any_arrived()) {
        struct pollfd p = {t->fd, POLLIN, 0};
        struct timespec tick = {0, 200000000}; /* a signal may have gone to another thread */
        size_t room = sizeof s->text - 1 - s->n;
        char *at = room ? s->text + s->n : s->rest;
        ssize_t n = ppoll(&p, 1, &tick, &t->mask);

        if (n == 0 || (n < 0 && errno == EINTR))
            continue;
        if (n > 0)
            n = read(t->fd, at, room ? room : sizeof s->rest);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return err_set(e, VF_EIO, "/dev/tty: %s", strerror(errno));
        if (room)
            s->n += (size_t)n;
        if (n == 0 || at[n - 1] == '\n')
            return 0;
    }
    return 0;
}

static void say(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

static int ask(struct terminal *t, const char *prompt, struct secret *s, bool *again, struct err *e)
{
    struct termios quiet;
    int rc;

    if (tcgetpgrp(t->fd) != getpgrp()) {
        (void)kill(0, SIGTTIN); /* as reading would: the job stops until it is brought to the foreground */
        if (tcgetpgrp(t->fd) != getpgrp())
            return err_set(e, VF_EUNSUPPORTED, "no password can be asked for in the background; use a password file or command");
    }
    note_signals(t);
    if (tcgetattr(t->fd, &t->before) < 0)
        return err_set(e, VF_EUNSUPPORTED, "/dev/tty: %s", strerror(errno));
    quiet = t->before;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    quiet.c_lflag |= ICANON | ISIG;
    t->changed = true;
    if (tcsetattr(t->fd, TCSAFLUSH, &quiet) < 0)
        return err_set(e, VF_EIO, "/dev/tty: the echo cannot be switched off: %s", strerror(errno));
    say(t->fd, prompt);
    rc = read_line(t, s, e);
    say(t->fd, "\n");
    *again = put_back(t);
    if (*again) {
        explicit_bzero(s->text, sizeof s->text);
        s->n = 0;
    }
    return rc;
}

int secret_from_terminal(const char *prompt, struct secret **out, struct err *e)
{
    _cleanup_(terminal_done) struct terminal t = {.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)};
    _cleanup_(secret_free) struct secret *s = NULL;

    if (t.fd < 0)
        return err_set(e, VF_EUNSUPPORTED, "no terminal to ask for a password; use a password file or command");
    s = secret_new(e);
    if (!s)
        return VF_EIO;
    for (unsigned tries = 0; tries < 100; tries++) { /* a stop, each time */
        bool again = false, stopped;
        int rc = ask(&t, prompt, s, &again, e);

        if (rc < 0)
            return rc;
        stopped = arrived[HELD - 1] != 0;
        if (!again)
            return finish(&s, "the password", out, e);
        if (!stopped)
            break;
    }
    return err_set(e, VF_EIO, "interrupted while asking for a password");
}
