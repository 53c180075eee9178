#include "base/fsx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define MAX_DEPTH   16
#define MAX_ENTRIES 200000u

void fsx_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

int fsx_read(const char *path, size_t max, struct arena *a, struct slice *out, bool *cut, struct err *e)
{
    bool stdin_wanted = strcmp(path, "-") == 0;
    _cleanup_(fsx_close) int fd = stdin_wanted ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    _cleanup_(buf_done) struct buf b = BUF_INIT(max + 1);
    struct stat st;

    if (fd < 0)
        return err_set(e, errno == ENOENT ? VF_ENOTFOUND : VF_EIO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) < 0)
        return err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(e, VF_EUSAGE, "%s is a folder, a file was expected", path);
    if (!stdin_wanted && !S_ISREG(st.st_mode))
        return err_set(e, VF_EUSAGE, "%s is not a regular file", path);
    while (!b.cut && b.n <= max) {
        char block[64 << 10];
        ssize_t n = read(fd, block, sizeof block);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
        if (n == 0)
            break;
        buf_add(&b, (struct slice){block, (size_t)n});
    }
    if (cut)
        *cut = b.n > max;
    else if (b.n > max)
        return err_set(e, VF_ELIMIT, "%s: larger than the limit of %zu bytes", path, max);
    *out = arena_dup(a, slice_cut(buf_slice(&b), 0, max));
    return out->p ? 0 : err_set(e, VF_ELIMIT, "%s: no room left for its %zu bytes", path, b.n);
}

bool fsx_absent(const char *path)
{
    struct stat st;

    return lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

enum fsx_kind fsx_kind(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return FSX_NONE;
    return S_ISREG(st.st_mode) ? FSX_FILE : S_ISDIR(st.st_mode) ? FSX_FOLDER : FSX_OTHER;
}

struct walk {
    const char *root;
    fsx_walk_fn *fn;
    fsx_skip_fn *skip; /* NULL: what cannot be walked is an error */
    void *ctx;
    unsigned seen;
    bool full;
};

static int no_dots(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* A folder that is left out: an error, or told to skip. */
static int leave_out(const struct walk *w, const char *path, const char *rel, enum vf_code code, const char *why, struct err *e)
{
    if (!w->skip || !*rel)
        return err_set(e, code, "%s: %s", path, why);
    w->skip(w->ctx, rel, SKIPPED_FOLDER, why);
    return 0;
}

static int walk(struct walk *w, const char *rel, unsigned depth, struct err *e);

static int visit(struct walk *w, const char *path, const char *rel, unsigned depth, struct err *e)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return 0; /* gone since it was listed */
    if (S_ISDIR(st.st_mode))
        return walk(w, rel, depth + 1, e);
    if (S_ISREG(st.st_mode))
        return w->fn(w->ctx, path, rel, e);
    if (w->skip)
        w->skip(w->ctx, rel, SKIPPED_FILE, S_ISLNK(st.st_mode) ? "a symbolic link; these are not followed" : "neither a file nor a folder");
    return 0;
}

static int walk(struct walk *w, const char *rel, unsigned depth, struct err *e)
{
    _cleanup_(buf_done) struct buf here = BUF_INIT(4096);
    struct dirent **list;
    int n, rc = 0;

    buf_printf(&here, "%s%s%s", w->root, *rel ? "/" : "", rel);
    if (depth > MAX_DEPTH)
        return leave_out(w, buf_z(&here), rel, VF_ELIMIT, "folders nested deeper than 16", e);
    n = scandir(buf_z(&here), &list, no_dots, by_name);
    if (n < 0)
        return leave_out(w, buf_z(&here), rel, VF_EIO, strerror(errno), e);
    if (n == 0 && *rel && w->skip)
        w->skip(w->ctx, rel, SKIPPED_EMPTY, "the folder is empty");
    for (int i = 0; i < n && rc == 0 && !w->full; i++) {
        _cleanup_(buf_done) struct buf path = BUF_INIT(4096), below = BUF_INIT(4096);

        buf_printf(&path, "%s/%s", buf_z(&here), list[i]->d_name);
        buf_printf(&below, "%s%s%s", rel, *rel ? "/" : "", list[i]->d_name);
        if (path.cut)
            rc = leave_out(w, w->root, rel, VF_ELIMIT, "a name is too long", e);
        else if (++w->seen > MAX_ENTRIES) {
            w->full = true;
            rc = leave_out(w, w->root, buf_z(&below), VF_ELIMIT, "more than 200,000 entries; the rest is not read", e);
        } else {
            rc = visit(w, buf_z(&path), buf_z(&below), depth, e);
        }
    }
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    return rc;
}

int fsx_walk(const char *root, fsx_walk_fn *fn, void *ctx, struct err *e)
{
    struct walk w = {.root = root, .fn = fn, .ctx = ctx};

    return walk(&w, "", 0, e);
}

int fsx_walk_readable(const char *root, fsx_walk_fn *fn, fsx_skip_fn *skip, void *ctx, struct err *e)
{
    struct walk w = {.root = root, .fn = fn, .skip = skip, .ctx = ctx};

    return walk(&w, "", 0, e);
}
