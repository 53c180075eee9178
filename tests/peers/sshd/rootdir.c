/*
 * Preloaded into everything that the peer's shell runs: absolute paths are those of the host that is played, files below PEER_ROOT, not
 * those of the machine that the tests run on. What stays is the peer's own folder, /dev and /proc. It keeps tests apart from the machine;
 * it is no protection against a program that wants out.
 *
 * deny=PATH (a pattern, or a folder) makes opening fail with EACCES, as missing rights cannot when root runs the tests.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "faults.h"

static bool below(const char *path, const char *folder)
{
    size_t n = folder ? strlen(folder) : 0;

    return n && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static const char *map(const char *path, char buf[4096])
{
    const char *root = getenv("PEER_ROOT");

    if (!root || !path || path[0] != '/' || below(path, getenv("PEER")) || below(path, "/dev") || below(path, "/proc"))
        return path;
    snprintf(buf, 4096, "%s%s", root, path);
    return buf;
}

static bool covers(void *ctx, const char *value)
{
    return fnmatch(value, ctx, FNM_PATHNAME) == 0 || below(ctx, value);
}

static bool denied(const char *path)
{
    char here[4096], full[8192];

    if (!getenv("PEER_ROOT") || !path)
        return false;
    if (path[0] != '/' && getcwd(here, sizeof here) && below(here, getenv("PEER_ROOT"))) {
        snprintf(full, sizeof full, "%s/%s", here + strlen(getenv("PEER_ROOT")), path);
        path = full;
    }
    if (!fault_each(getenv("PEER"), "deny", covers, (void *)(uintptr_t)path))
        return false;
    errno = EACCES;
    return true;
}

#define NEXT(name) __typeof__(&name) next; *(void **)&next = dlsym(RTLD_NEXT, #name)

#define OPEN(name)                                      \
    int name(const char *path, int flags, ...)          \
    {                                                   \
        char buf[4096];                                 \
        va_list ap;                                     \
        mode_t mode;                                    \
        NEXT(name);                                     \
        va_start(ap, flags);                            \
        mode = __OPEN_NEEDS_MODE(flags) ? va_arg(ap, mode_t) : 0; \
        va_end(ap);                                     \
        return denied(path) ? -1 : next(map(path, buf), flags, mode); \
    }
#define OPENAT(name)                                    \
    int name(int dir, const char *path, int flags, ...) \
    {                                                   \
        char buf[4096];                                 \
        va_list ap;                                     \
        mode_t mode;                                    \
        NEXT(name);                                     \
        va_start(ap, flags);                            \
        mode = __OPEN_NEEDS_MODE(flags) ? va_arg(ap, mode_t) : 0; \
        va_end(ap);                                     \
        return denied(path) ? -1 : next(dir, map(path, buf), flags, mode); \
    }
/* One path, then other arguments. */
#define PATH1(type, fail, name, params, args)           \
    type name params                                    \
    {                                                   \
        char buf[4096];                                 \
        NEXT(name);                                     \
        return fail && denied(path) ? (type)(intptr_t)(sizeof(type) == sizeof(int) ? -1 : 0) : next args; \
    }

int __open_2(const char *path, int flags);

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
PATH1(int, true, __open_2, (const char *path, int flags), (map(path, buf), flags))
PATH1(int, true, creat, (const char *path, mode_t mode), (map(path, buf), mode))
PATH1(FILE *, true, fopen, (const char *path, const char *mode), (map(path, buf), mode))
PATH1(FILE *, true, fopen64, (const char *path, const char *mode), (map(path, buf), mode))
PATH1(DIR *, true, opendir, (const char *path), (map(path, buf)))
PATH1(int, true, access, (const char *path, int mode), (map(path, buf), mode))
PATH1(int, true, euidaccess, (const char *path, int mode), (map(path, buf), mode))
PATH1(int, true, eaccess, (const char *path, int mode), (map(path, buf), mode))
PATH1(int, true, faccessat, (int dir, const char *path, int mode, int flags), (dir, map(path, buf), mode, flags))
PATH1(int, true, execve, (const char *path, char *const argv[], char *const envp[]), (map(path, buf), argv, envp))
PATH1(int, true, execv, (const char *path, char *const argv[]), (map(path, buf), argv))
PATH1(int, false, stat, (const char *path, struct stat *st), (map(path, buf), st))
PATH1(int, false, stat64, (const char *path, struct stat64 *st), (map(path, buf), st))
PATH1(int, false, lstat, (const char *path, struct stat *st), (map(path, buf), st))
PATH1(int, false, lstat64, (const char *path, struct stat64 *st), (map(path, buf), st))
PATH1(int, false, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, map(path, buf), st, flags))
PATH1(int, false, fstatat64, (int dir, const char *path, struct stat64 *st, int flags), (dir, map(path, buf), st, flags))
PATH1(int, false, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *st), (dir, map(path, buf), flags, mask, st))
PATH1(ssize_t, false, readlink, (const char *path, char *to, size_t n), (map(path, buf), to, n))
PATH1(ssize_t, false, readlinkat, (int dir, const char *path, char *to, size_t n), (dir, map(path, buf), to, n))
PATH1(ssize_t, false, getxattr, (const char *path, const char *name, void *v, size_t n), (map(path, buf), name, v, n))
PATH1(ssize_t, false, lgetxattr, (const char *path, const char *name, void *v, size_t n), (map(path, buf), name, v, n))
PATH1(ssize_t, false, listxattr, (const char *path, char *list, size_t n), (map(path, buf), list, n))
PATH1(ssize_t, false, llistxattr, (const char *path, char *list, size_t n), (map(path, buf), list, n))
PATH1(int, false, chdir, (const char *path), (map(path, buf)))
PATH1(int, true, mkdir, (const char *path, mode_t mode), (map(path, buf), mode))
PATH1(int, true, mkdirat, (int dir, const char *path, mode_t mode), (dir, map(path, buf), mode))
PATH1(int, true, rmdir, (const char *path), (map(path, buf)))
PATH1(int, true, unlink, (const char *path), (map(path, buf)))
PATH1(int, true, unlinkat, (int dir, const char *path, int flags), (dir, map(path, buf), flags))
PATH1(int, true, chmod, (const char *path, mode_t mode), (map(path, buf), mode))
PATH1(int, true, utimensat, (int dir, const char *path, const struct timespec t[2], int flags), (dir, map(path, buf), t, flags))

/* Two paths. */
int rename(const char *path, const char *to)
{
    char buf[4096], buf2[4096];
    NEXT(rename);

    return denied(path) || denied(to) ? -1 : next(map(path, buf), map(to, buf2));
}

int renameat2(int dir, const char *path, int todir, const char *to, unsigned flags)
{
    char buf[4096], buf2[4096];
    NEXT(renameat2);

    return denied(path) || denied(to) ? -1 : next(dir, map(path, buf), todir, map(to, buf2), flags);
}
