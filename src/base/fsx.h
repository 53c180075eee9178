#ifndef VF_BASE_FSX_H
#define VF_BASE_FSX_H

#include "base/arena.h"
#include "base/err.h"

/* Close a descriptor that is open, and forget it; for cleanup. */
void fsx_close(int *fd);

/*
 * Read a regular file (or "-": standard input) into the arena, at most max bytes. Over max: what fits is
 * returned and *cut is true; with cut NULL it is VF_ELIMIT. Folders, devices and FIFOs are refused by name.
 */
int fsx_read(const char *path, size_t max, struct arena *a, struct slice *out, bool *cut, struct err *e);

enum fsx_kind { FSX_NONE, FSX_FILE, FSX_FOLDER, FSX_OTHER };
enum fsx_kind fsx_kind(const char *path);
/* Nothing of this name, not even a link that leads nowhere; false where a folder above does not let us look. */
bool fsx_absent(const char *path);

/*
 * Walk the regular files below a folder, in the order of their names, depth at most 16, at most 200,000
 * entries. Symbolic links are not followed below root. rel is the path below root. fn returns non-zero to stop.
 */
typedef int fsx_walk_fn(void *ctx, const char *path, const char *rel, struct err *e);
int fsx_walk(const char *root, fsx_walk_fn *fn, void *ctx, struct err *e);

/*
 * The same, but only root itself must be readable: a folder below that is not, that lies too deep or ends the walk at its limit, an
 * empty one, a symbolic link, a device is told to skip, and the walk goes on.
 */
enum fsx_skipped { SKIPPED_FILE, SKIPPED_FOLDER, SKIPPED_EMPTY };

typedef void fsx_skip_fn(void *ctx, const char *rel, enum fsx_skipped what, const char *why);
int fsx_walk_readable(const char *root, fsx_walk_fn *fn, fsx_skip_fn *skip, void *ctx, struct err *e);

#endif
