#ifndef VF_NET_HOSTKEY_H
#define VF_NET_HOSTKEY_H

#include "base/arena.h"
#include "base/err.h"

/*
 * Which key a host is known by: a reader and writer of OpenSSH's known_hosts files (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). A key is a blob
 * as the wire has it (RFC 4253, section 6.6): a length and the type's name, then what belongs to the type.
 *
 * A host is looked up by its name, or by HostKeyAlias where ssh's configuration has one (then with port 22, since ssh adds none to it),
 * in lower case. With another port than 22 it stands as [host]:port; when no line names that at all, the name without the port is looked
 * up as well, and a match there is good. That, and that any of several keys is good, is what OpenSSH does (sshconnect.c, check_host_key).
 *
 * Stricter than OpenSSH: a key revoked under the name without port is revoked for every port; a line whose key is not written in the one
 * right way is bad. Looser in nothing. Certificates of hosts are not understood: a host that shows one is unknown here, so the channel asks
 * for plain keys only.
 */
struct hostkey_store;

#define HOSTKEY_MAX_FILE    (16u << 20) /* bytes of one known_hosts file; a hundred thousand lines */
#define HOSTKEY_MAX_LINES   200000u
#define HOSTKEY_MAX_HOST    255u
#define HOSTKEY_FINGERPRINT 52u /* "SHA256:", 43 characters, NUL */

/* Lives in the arena. Filled by one thread, then read by any number. NULL at the arena's limit. */
struct hostkey_store *hostkey_store_new(struct arena *a);

/*
 * Add the lines of a file; the order of files is that of looking. A file that is not there, and /dev/null, are empty. VF_ELIMIT: larger
 * than HOSTKEY_MAX_FILE; nothing of it is used then. path is copied.
 */
int hostkey_read(struct hostkey_store *s, const char *path, struct err *e);
/* The same for bytes; name stands for the file. */
int hostkey_parse(struct hostkey_store *s, struct slice text, const char *name, struct err *e);

/* A line that is no line of known_hosts; it is skipped. */
struct hostkey_bad {
    const char *file, *why;
    uint32_t line;
};

#define HOSTKEY_MAX_BAD 16u /* that are named; all are counted */

/* How many there are; *bad has the first HOSTKEY_MAX_BAD of them. */
size_t hostkey_bad(const struct hostkey_store *s, const struct hostkey_bad **bad);

enum hostkey_verdict {
    HOSTKEY_UNKNOWN,    /* no line is about this host */
    HOSTKEY_KNOWN,      /* this very key */
    HOSTKEY_OTHER_TYPE, /* only keys of other types: the host may have this one as well, or it may be another host */
    HOSTKEY_CHANGED,    /* another key of the same type */
    HOSTKEY_REVOKED,    /* @revoked: never good, whatever other lines say */
};

struct hostkey_answer {
    enum hostkey_verdict verdict;
    const char *file; /* and line: what decided; NULL when nothing is known. They live as long as the store */
    uint32_t line;
    const char *ca_file; /* a @cert-authority line is about this host: only ssh itself can use it. NULL when there is none */
    uint32_t ca_line;
};

/* VF_EUSAGE: host is no name that can stand in such a file; VF_EFORMAT: blob is no key. port 0 is 22. */
int hostkey_check(const struct hostkey_store *s, const char *host, unsigned port, struct slice blob, struct hostkey_answer *out, struct err *e);

/*
 * Types of the keys that are known for a host, in the order of the files, each once, at most max: what to ask a host for, so that it
 * shows a key that can be compared. None that is revoked.
 */
size_t hostkey_known_types(const struct hostkey_store *s, const char *host, unsigned port, struct slice *types, size_t max);

/* "ecdsa-sha2-nistp256", within the blob; empty when it is no key. */
struct slice hostkey_type(struct slice blob);
/* "SHA256:..." as ssh-keygen -l shows it. Returns 0 or VF_EUNSUPPORTED. */
int hostkey_fingerprint(struct slice blob, char out[HOSTKEY_FINGERPRINT]);

/*
 * Append a line for host to the user's file, with the name hashed or as it is. Folder and file are made when missing (0700, 0600), a link
 * is followed, a line end that the file lacks is added first, and the line is on disk on return. Nothing is written when the file has the
 * line already. VF_EDENIED: the file says that the key is revoked. Does not ask what else is known: the caller has looked.
 */
int hostkey_add(const char *path, const char *host, unsigned port, struct slice blob, bool hashed, struct err *e);

/*
 * The same after a change: this key takes the place of all others of its type that the file has for host (not those of [host]:port for
 * host, nor the other way). Other hosts on such a line keep it; all other lines stay byte for byte. The new file takes the old one's
 * place at once, with its mode, and the old one is kept as PATH.old, as by ssh-keygen -R. VF_EDENIED: a line knows the host by a pattern
 * that other hosts may need, or says that the key is revoked; file and line are named and nothing is changed.
 */
int hostkey_replace(const char *path, const char *host, unsigned port, struct slice blob, bool hashed, struct err *e);

#endif
