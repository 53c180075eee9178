#ifndef VF_NET_TARGET_H
#define VF_NET_TARGET_H

#include "net/channel.h"

/* What answers: one host, however it is reached. */
struct target {
    const char *label; /* file or folder name; of several hosts, with the host's folder; inside a zip: the bundle's; the name of a live host */
    const char *path;  /* what to name to open this one again: its own folder, the archive that holds it, the host as the user wrote it */
    struct channel *channel; /* NULL: nothing of it could be read, cut says why */
    const char *kind;  /* "recording", "folder", "packed folder", "support bundle", "live host" */
    const char *cut;   /* not NULL when not all of it could be read: what, and why */
    size_t files;      /* of saved answers */
};

/* A live host as the user writes it: esx01, root@esx01, ssh://root@esx01:2222, ssh://[2001:db8::1]. */
struct target_host {
    const char *text; /* as written */
    const char *user; /* NULL: not given */
    const char *host;
    uint16_t port;    /* 0: not given */
};

/*
 * Is a target a live host: a ssh:// address, or a name that is no file or folder here and does not look like one. The others are opened as
 * saved answers.
 */
bool target_is_host(const char *text);

/*
 * Returns 0 or VF_EUSAGE, which says how it is written. A password in it is refused without being repeated.
 */
int target_parse(const char *text, struct arena *a, struct target_host *out, struct err *e);

#endif
