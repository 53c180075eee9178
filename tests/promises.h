#ifndef VF_TESTS_PROMISES_H
#define VF_TESTS_PROMISES_H

/*
 * What the tests of the promises share: the environment of this checkout, a folder of their own, and work done in a child whose memory is
 * measured. Included after cmocka.h.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fsx.h"
#include "base/xml.h"
#include "cmd/env.h"

/* Under a sanitizer (red zones, quarantine) or memcheck (shadow memory) the size of the process says nothing. */
static inline bool memory_counts(void)
{
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    const char *preload = getenv("LD_PRELOAD");

    return !preload || !strstr(preload, "vgpreload");
#endif
}

static const struct env *shared;

/* Before and after all tests of a program. */
static inline int shared_open(void **state)
{
    static struct env env;
    struct err e = {0};

    xml_setup();
    *state = &env;
    shared = &env;
    if (env_open(&env, ".", NULL, &e) < 0)
        fail_msg("%s", e.msg);
    return 0;
}

static inline int shared_close(void **state)
{
    env_close(*state);
    return 0;
}

struct folder {
    char path[64];
};

static inline void folder_make(struct folder *f)
{
    (void)snprintf(f->path, sizeof f->path, "/tmp/vmkfit-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static inline int folder_unlink(const char *path, const struct stat *st, int kind, struct FTW *w)
{
    (void)st, (void)kind, (void)w;
    return remove(path);
}

static inline void folder_remove(struct folder *f)
{
    assert_int_equal(nftw(f->path, folder_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void folder_path(const struct folder *f, const char *name, struct buf *out)
{
    buf_reset(out);
    buf_printf(out, "%s/%s", f->path, name);
}

static inline void folder_write(const struct folder *f, const char *name, struct slice bytes)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096);
    FILE *out;

    folder_path(f, name, &path);
    out = fopen(buf_z(&path), "wbe");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, out), bytes.n);
    assert_int_equal(fclose(out), 0);
}

static inline int folder_count_one(void *ctx, const char *path, const char *rel, struct err *e)
{
    (void)path, (void)rel, (void)e;
    ++*(size_t *)ctx;
    return 0;
}

static inline size_t folder_count(const struct folder *f)
{
    size_t n = 0;

    assert_int_equal(fsx_walk(f->path, folder_count_one, &n, NULL), 0);
    return n;
}

/*
 * Do work in a child that cannot write to any file and may take 120 seconds of processor time. Returns its peak memory in MiB; work
 * returns NULL, or what went wrong, which fails the test.
 */
typedef const char *child_fn(const void *ctx);

static inline long child_run(child_fn *work, const void *ctx)
{
    const struct rlimit none = {0, 0}, time = {120, 120};
    char said[512] = "";
    struct rusage used;
    int status, ends[2];
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const char *wrong;

        (void)close(ends[0]);
        (void)setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failed assertion ends the child */
        if (setrlimit(RLIMIT_FSIZE, &none) < 0 || setrlimit(RLIMIT_CPU, &time) < 0)
            _exit(2);
        wrong = work(ctx);
        if (wrong)
            n = write(ends[1], wrong, strlen(wrong) < sizeof said ? strlen(wrong) : sizeof said - 1);
        _exit(wrong != NULL);
    }
    (void)close(ends[1]);
    n = read(ends[0], said, sizeof said - 1);
    (void)close(ends[0]);
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("child %s %d: %.*s", WIFEXITED(status) ? "exit" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                 n > 0 ? (int)n : 0, said);
    return used.ru_maxrss / 1024;
}

#endif
