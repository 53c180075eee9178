#ifndef VF_BASE_ARCHIVE_H
#define VF_BASE_ARCHIVE_H

#include "base/arena.h"
#include "base/err.h"

/*
 * Read-only walk of a support bundle: tar (gzip or plain) and zip, nothing else. Nothing is ever written to disk. Only regular files are
 * shown; links, devices, FIFOs and names with "..", control characters, a leading slash or parts over 255 bytes are skipped and counted.
 * Bounds on bytes really read, whatever headers claim: max_file an entry kept, 8 GiB in all, 200,000 entries, and 200 times the compressed
 * size after the first 64 MiB (archive rules of the reliability reference). A walk within a walk shares the budget of the outer one.
 */
enum archive_want {
    ARCHIVE_SKIP,  /* not of interest */
    ARCHIVE_KEEP,  /* read it: file() gets its bytes */
    ARCHIVE_INNER, /* likewise, up to max_inner: an archive in this one */
};

/* Bytes taken in from the outermost archive and given out by it and those within. Zeroed at the start. */
struct archive_budget {
    uint64_t in, out;
};

struct archive_visit {
    void *ctx;
    /* Called with each file's name; answers whether it is wanted. */
    enum archive_want (*want)(void *ctx, const char *path);
    /* The bytes of a wanted file, borrowed for the call; cut when they were longer than the maximum. Non-zero stops and is returned. */
    int (*file)(void *ctx, const char *path, struct slice body, bool cut, struct err *e);
    /* Told of each link, which is not followed. May be NULL. */
    void (*link)(void *ctx, const char *path);
    size_t max_file, max_inner;
    struct archive_budget *budget; /* lives as long as the walk */
};

struct archive_summary {
    size_t files, skipped;
    bool truncated;  /* the archive ends before its end mark, or is damaged in the middle: what came before was given */
    char why[200];   /* of truncated */
};

/* path names a file, or bytes is an archive in memory (one within another). Returns 0, VF_EFORMAT when it is no such archive. */
int archive_walk(const char *path, const struct archive_visit *v, struct archive_summary *s, struct err *e);
int archive_walk_bytes(struct slice bytes, const char *name, const struct archive_visit *v, struct archive_summary *s, struct err *e);

/* Decompress one gzip or xz file (rotated log, payload of a VIB), at most max bytes, into the arena. */
int archive_gunzip(struct slice in, const char *name, size_t max, struct arena *a, struct slice *out, bool *cut, struct err *e);

/* Does it look like tar, gzip or zip. */
bool archive_is(struct slice head);

const char *archive_library(void);

#endif
