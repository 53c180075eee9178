#include "base/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

/* How long a look at the program's end may be put off while it prints nothing; and after its output ended. */
#define TICK_MS      50
#define LAST_TICK_MS 2

ssize_t run_take_buf(void *ctx, int fd)
{
    char block[16 << 10];
    ssize_t n = read(fd, block, sizeof block);

    if (n > 0)
        buf_add(ctx, (struct slice){block, (size_t)n});
    return n;
}

struct child {
    const struct run *r;
    pid_t pid;
    int out, err, started; /* ends of pipes that are read; -1: closed */
    int tty;               /* -1: the program does not use it */
    pid_t was_foreground;  /* 0: nothing to give back */
    bool ended;
    int status;
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* The terminal's foreground process group. SIGTTOU would stop a process that is in the background by now. */
static void set_foreground(int tty, pid_t group)
{
    sigset_t block, before;

    sigemptyset(&block);
    sigaddset(&block, SIGTTOU);
    (void)pthread_sigmask(SIG_BLOCK, &block, &before);
    (void)tcsetpgrp(tty, group);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void child_done(struct child *c)
{
    if (c->pid > 0 && !c->ended) {
        (void)kill(-c->pid, SIGKILL);
        (void)kill(c->pid, SIGKILL); /* it may not have its group yet */
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (c->was_foreground > 0)
        set_foreground(c->tty, c->was_foreground);
    close_one(&c->out);
    close_one(&c->err);
    close_one(&c->started);
    close_one(&c->tty);
}

/* In the child: only what is safe between fork and exec in a process with threads. */
static void become(const struct run *r, int in, int out, int err, int started, int tty)
{
    sigset_t none;
    int why;

    (void)setpgid(0, 0);
    if (tty >= 0) {
        sigemptyset(&none);
        sigaddset(&none, SIGTTOU);
        (void)sigprocmask(SIG_BLOCK, &none, NULL);
        (void)tcsetpgrp(tty, getpid());
    }
    (void)signal(SIGPIPE, SIG_DFL); /* what is ignored stays ignored across exec */
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && (err < 0 || dup2(err, STDERR_FILENO) >= 0))
        (void)execvp(r->argv[0], (char *const *)(uintptr_t)r->argv);
    why = errno;
    while (write(started, &why, sizeof why) < 0 && errno == EINTR)
        ;
    _exit(127);
}

struct fds {
    int in, out, err, started;
};

static void fds_done(struct fds *f)
{
    close_one(&f->in);
    close_one(&f->out);
    close_one(&f->err);
    close_one(&f->started);
}

static int make_pipe(int *reads, int *writes)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    /* dup2 onto itself would keep O_CLOEXEC: a pipe is never one of the three, even when these are closed here */
    for (int i = 0; i < 2; i++)
        if (p[i] <= STDERR_FILENO) {
            int higher = fcntl(p[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

            (void)close(p[i]);
            p[i] = higher;
        }
    *reads = p[0];
    *writes = p[1];
    return p[0] < 0 || p[1] < 0 ? -1 : 0;
}

static int open_high(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY), higher;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(fd);
    return higher;
}

static int start(struct child *c, struct err *e)
{
    const struct run *r = c->r;
    _cleanup_(fds_done) struct fds f = {-1, -1, -1, -1};
    bool foreground = false;

    if (make_pipe(&c->out, &f.out) < 0 || make_pipe(&c->started, &f.started) < 0 || (r->err.take && make_pipe(&c->err, &f.err) < 0))
        return err_set(e, VF_EIO, "%s: no pipe to run it with: %s", r->argv[0], strerror(errno));
    (void)fcntl(c->out, F_SETFL, O_NONBLOCK);
    if (c->err >= 0)
        (void)fcntl(c->err, F_SETFL, O_NONBLOCK);
    if (r->terminal && (f.in = open_high("/dev/tty", O_RDWR)) >= 0) {
        c->tty = fcntl(f.in, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        foreground = c->tty >= 0 && tcgetpgrp(c->tty) == getpgrp();
    }
    if (f.in < 0 && (f.in = open_high("/dev/null", O_RDONLY)) < 0)
        return err_set(e, VF_EIO, "/dev/null: %s", strerror(errno));
    c->pid = fork();
    if (c->pid < 0)
        return err_set(e, VF_EIO, "%s: cannot be run: %s", r->argv[0], strerror(errno));
    if (c->pid == 0)
        become(r, f.in, f.out, f.err, f.started, foreground ? c->tty : -1);
    (void)setpgid(c->pid, c->pid); /* as the child does: whoever is first */
    if (foreground) {
        c->was_foreground = getpgrp();
        set_foreground(c->tty, c->pid);
    }
    return 0;
}

/* Read one pipe until it has nothing at the moment. */
static int drain(int *fd, const struct run_sink *s, const char *name, struct err *e)
{
    while (*fd >= 0) {
        ssize_t n = s->take(s->ctx, *fd);

        if (n == 0)
            close_one(fd);
        else if (n < 0 && errno == EAGAIN)
            return 0;
        else if (n < 0 && errno != EINTR)
            return err_set(e, VF_EIO, "%s: its output could not be read: %s", name, strerror(errno));
        else if (n > 0)
            return 0; /* the deadline is looked at between two reads */
    }
    return 0;
}

static bool readable(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    return fd >= 0 && poll(&p, 1, 0) > 0;
}

static int follow(struct child *c, struct err *e)
{
    const struct run *r = c->r;
    int64_t end = (int64_t)clock_ms() + r->timeout_ms;

    for (;;) {
        struct pollfd p[2] = {{c->out, POLLIN, 0}, {c->err, POLLIN, 0}};
        int64_t left = end - (int64_t)clock_ms(), tick = c->out < 0 && c->err < 0 ? LAST_TICK_MS : TICK_MS;

        if (left <= 0)
            return err_set(e, VF_EIO, "%s: killed, it was not done after %d ms", r->argv[0], r->timeout_ms);
        if (poll(p, 2, (int)(left < tick ? left : tick)) < 0 && errno != EINTR)
            return err_set(e, VF_EIO, "%s: %s", r->argv[0], strerror(errno));
        if ((p[0].revents && drain(&c->out, &r->out, r->argv[0], e) < 0) || (p[1].revents && drain(&c->err, &r->err, r->argv[0], e) < 0))
            return VF_EIO;
        if (!c->ended) {
            int status;
            pid_t got = waitpid(c->pid, &status, WNOHANG);

            if (got < 0 && errno != EINTR)
                return err_set(e, VF_EIO, "%s: its end could not be seen: %s", r->argv[0], strerror(errno));
            if (got == c->pid) {
                c->ended = true;
                c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
        }
        if (c->ended && !readable(c->out) && !readable(c->err))
            return 0; /* at their end, or held open by what it left behind */
    }
}

int run_program(const struct run *r, int *status, struct err *e)
{
    _cleanup_(child_done) struct child c = {.r = r, .out = -1, .err = -1, .started = -1, .tty = -1};
    int why, rc = start(&c, e);
    ssize_t n;

    if (rc < 0)
        return rc;
    do
        n = read(c.started, &why, sizeof why);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof why) /* EACCES without a path: a folder of PATH could not be looked into, and the others do not have it */
        return err_set(e, why == ENOENT || (why == EACCES && !strchr(r->argv[0], '/')) ? VF_ENOTFOUND : VF_EIO, "%s: cannot be run: %s", r->argv[0], strerror(why));
    rc = follow(&c, e);
    if (rc == 0)
        *status = c.status;
    return rc;
}
