#ifndef VF_BASE_RUN_H
#define VF_BASE_RUN_H

#include <sys/types.h>

#include "base/err.h"
#include "base/slice.h"

/*
 * Run another program and read what it prints, within a deadline. No shell is involved unless argv names one. The program gets this
 * process's environment and folder, no descriptor but the three, no blocked signals, and a process group of its own, which is killed at
 * the deadline. What it leaves running in the background after a good end is left alone, and not waited for.
 */

/*
 * Take what is there: read(2) from fd, once, to where it belongs. Returns what read returned (0 at the end, negative with errno), so that
 * bytes that are secret pass through no buffer of ours.
 */
struct run_sink {
    ssize_t (*take)(void *ctx, int fd);
    void *ctx;
};

/* A sink that keeps the bytes; ctx is a struct buf, whose maximum applies: past it they are read and dropped. */
ssize_t run_take_buf(void *ctx, int fd);

struct run {
    const char *const *argv; /* ended by NULL; argv[0] is looked up in PATH */
    struct run_sink out;     /* standard output */
    struct run_sink err;     /* standard error; take NULL: it stays this process's own */
    bool terminal;           /* standard input is /dev/tty where there is one, else, and without this, /dev/null */
    int timeout_ms;          /* of all of it */
};

/*
 * Returns 0 when the program ended by itself; *status is its exit status, or 128 and the number of the signal that ended it, as shells
 * say it. VF_ENOTFOUND: there is no such program. VF_EIO: it could not be run, or was killed at the deadline.
 *
 * With terminal, the program is made the foreground job of the terminal when this process is in it, as a shell does, so that it may ask
 * there; Ctrl-C then reaches the program alone.
 */
int run_program(const struct run *r, int *status, struct err *e);

#endif
