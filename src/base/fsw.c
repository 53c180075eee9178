#include "base/fsw.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fsx.h"

#define MAX_PATH 4096u

int fsw_make_parents(const char *path, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_PATH);

    for (size_t i = 1; path[0] && path[i]; i++) {
        struct stat st;
        int why;

        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        buf_reset(&b);
        buf_add(&b, (struct slice){path, i});
        if (b.cut)
            return err_set(e, VF_ELIMIT, "%.60s...: a path of more than %u bytes", path, MAX_PATH);
        if (mkdir(buf_z(&b), 0700) == 0)
            continue;
        why = errno; /* a folder above that is read-only says so before it says that this one is there */
        if (stat(buf_z(&b), &st) == 0 && S_ISDIR(st.st_mode))
            continue;
        return err_set(e, VF_EIO, "folder %s: cannot be made: %s", buf_z(&b), strerror(why == EEXIST ? ENOTDIR : why));
    }
    return 0;
}

static int write_all(int fd, struct slice s)
{
    while (s.n) {
        ssize_t n = write(fd, s.p, s.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        s = slice_from(s, (size_t)n);
    }
    return 0;
}

static int fill(int fd, const char *path, struct slice bytes, bool shared)
{
    struct stat old, now;

    if (stat(path, &old) == 0) {
        if (fstat(fd, &now) < 0 || ((now.st_uid != old.st_uid || now.st_gid != old.st_gid) && fchown(fd, old.st_uid, old.st_gid) < 0) ||
            fchmod(fd, old.st_mode & 07777) < 0)
            return -1;
    } else if (errno != ENOENT) {
        return -1;
    } else if (shared) {
        mode_t mask = umask(077);

        (void)umask(mask);
        if (fchmod(fd, 0666 & ~mask) < 0)
            return -1;
    }
    return write_all(fd, bytes) < 0 || fsync(fd) < 0 ? -1 : 0;
}

static int replace(const char *path, struct slice bytes, bool shared, struct err *e)
{
    _cleanup_(buf_done) struct buf temp = BUF_INIT(MAX_PATH), folder = BUF_INIT(MAX_PATH);
    _cleanup_(fsx_close) int fd = -1;
    _cleanup_(fsx_close) int above = -1;
    const char *slash = strrchr(path, '/');
    struct stat st;
    char *name;
    int why;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, VF_EUSAGE, "%s is %s; nothing is put in its place", path, S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
    buf_printf(&temp, "%s.XXXXXX", path);
    buf_add(&folder, slash ? (struct slice){path, slash == path ? 1 : (size_t)(slash - path)} : SLICE_LIT("."));
    if (temp.cut)
        return err_set(e, VF_ELIMIT, "%.60s...: a path of more than %u bytes", path, MAX_PATH);
    (void)buf_z(&temp);
    name = temp.p;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return err_set(e, VF_EIO, "%s: no new file can be made beside it: %s", path, strerror(errno));
    if (fill(fd, path, bytes, shared) < 0 || rename(name, path) < 0) {
        why = errno;
        (void)unlink(name);
        return err_set(e, VF_EIO, "%s: cannot be written: %s", path, strerror(why));
    }
    above = open(buf_z(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0 || (fsync(above) < 0 && errno != EINVAL)) /* some file systems know no fsync of a folder */
        return err_set(e, VF_EIO, "%s: %s", buf_z(&folder), strerror(errno));
    return 0;
}

int fsw_replace(const char *path, struct slice bytes, struct err *e)
{
    return replace(path, bytes, false, e);
}

int fsw_write(const char *path, struct slice bytes, struct err *e)
{
    return replace(path, bytes, true, e);
}
