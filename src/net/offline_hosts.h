#ifndef VF_NET_OFFLINE_HOSTS_H
#define VF_NET_OFFLINE_HOSTS_H

#include "base/arena.h"

/*
 * Whose files are these? A folder or an archive may hold the answers of several hosts. A host is
 *
 *   a folder with recording.json; everything below is of it, but for a recording further below,
 *   a folder with commands/ that holds answers: an unpacked support bundle,
 *   else the uppermost folder that holds answers itself, and a folder below that answers the same once more under the same file name,
 *   else, where there are no answers, the folder that var/log, bootbank or etc/vmware lie in.
 */

#define MAX_TARGETS 256u
#define NO_HOST     UINT32_MAX

/* One file, or what is not read and why. */
struct found {
    struct slice name; /* relative to what was opened */
    const char *path;  /* on disk; NULL for one in an archive */
    struct slice body;
    const char *why;   /* not NULL: not read */
    bool folder, empty, cut; /* empty: a folder with nothing in it */
    uint32_t host;     /* set by offline_split */
};

struct hosts {
    struct slice roots[MAX_TARGETS]; /* folders, in the order of their first file; empty: the top */
    bool recorded[MAX_TARGETS];      /* has a recording.json */
    size_t n;
    bool more; /* there were more */
};

void offline_split(struct found *v, size_t n, struct hosts *out, struct arena *a);

#endif
