#ifndef VF_NET_OFFLINE_PARTS_H
#define VF_NET_OFFLINE_PARTS_H

#include "base/buf.h"
#include "net/offline.h"

/* What offline.c (names, answers) and offline_open.c (folders, archives, hosts in them) share. */

#define MAX_ANSWER (8u << 20)   /* output of one command; the largest seen is 1.1 MB (vib list of a large image) */
#define MAX_LOG    (64u << 20)  /* a log; ESXi rotates vmkernel.log at 8 MB by default */
#define MAX_KEPT   (512u << 20) /* all that is kept of one target */

/* How well a file serves when several answer one ask: structured forms first. */
enum form { FORM_XML, FORM_JSON, FORM_CSV, FORM_KEYVALUE, FORM_TEXT };

struct entry {
    struct slice name;   /* relative to the host's folder */
    struct slice words;  /* command words of the name */
    const char *path;    /* on disk; NULL when body is loaded */
    struct slice body;
    struct slice ask;    /* of recording.json; empty otherwise */
    const char *note;
    uint64_t bytes;      /* expected size, UINT64_MAX when not known */
    uint32_t frag;       /* number of the fragment + 1, 0 for a whole file */
    struct slice stem;   /* of a fragment: the name of the whole */
    int exit_code;
    enum form form;
    bool cut, used, gz;
    bool failed;         /* the host was asked and did not answer */
    bool unreadable;     /* it is there, or should be, and cannot be read here */
    bool stray;          /* belongs to none of several hosts: answers nothing */
};

/* Bytes of one archive, which the hosts in it share; freed with the last of them. */
struct pool {
    struct arena *arena;
    size_t users;
};

struct offline {
    struct channel channel;
    struct arena *arena;
    struct pool *pool; /* or NULL */
    struct entry *v;
    size_t n, cap;
    bool recording;
};

struct offline *offline_new(struct pool *pool);
/* A new entry with the words of its name, or NULL at a limit. The pointer is good until the next. */
struct entry *offline_add(struct offline *o, struct slice name, struct err *e);

/* Words of a command or of a file name without its ending, parted by blanks. */
void offline_words(struct slice text, struct buf *out);
/* Is the file named after a command that somebody might ask. */
bool offline_answer_name(struct slice name);

/* Is it worth keeping: an answer, a map, boot configuration, a log that is read. */
bool offline_wanted(struct slice name);

struct slice path_base(struct slice path);
struct slice path_folder(struct slice path);
/* Is tail the end of path, in whole parts. */
bool path_ends(struct slice path, struct slice tail);

#endif
