#ifndef VF_NET_SCRIPT_H
#define VF_NET_SCRIPT_H

#include "base/buf.h"
#include "net/channel.h"

/*
 * Many commands through one shell, their answers told apart. The client writes a script to the standard input of "sh", some lines at a
 * time; after each command the shell prints a boundary line on both of its outputs,
 *
 *     LF TOKEN ' ' number ' ' exit status [' ' path] LF
 *
 * where TOKEN is 32 hexadecimal digits drawn for this connection, so that no output can be taken for one. The LF in front belongs to the
 * boundary: the bytes before it are exactly what the command printed. Commands read from /dev/null and cannot eat the script.
 */

#define SCRIPT_TOKEN 32u /* 128 random bits */

struct script {
    char token[SCRIPT_TOKEN + 1];
};

/* As 32 hexadecimal digits. */
void script_init(struct script *s, const uint8_t random[16]);

/*
 * First lines of a fresh shell: locale, the folders where ESXi keeps its tools, the function that prints boundaries; then boundary 0 whose
 * exit status is the shell's process id and whose path is its parent's. What comes before it, from a login shell or a profile, is noise.
 *
 * hung: an earlier shell of ours whose command hangs, which is ended with its process group: sshd makes the login shell the leader of one, and
 * that has become our shell or is its parent. The parent's is only tried while the shell lives and leads none, so it is never sshd's. NULL for none.
 */
struct script_shell {
    uint64_t pid, parent;
};
void script_start(const struct script *s, const struct script_shell *hung, struct buf *out);

/*
 * One ask as lines. localcli instead of esxcli where hostd does not answer. Files print one boundary each, with their path, and all end with
 * one without: a log is its file and the one that was rotated last, since ESXi may have rotated a minute ago. Files of a pattern whose names
 * hold other characters than letters, digits and "._/+-" are left out, and the last boundary has SCRIPT_LEFT_OUT for its exit status.
 *
 * Returns 0, or VF_EDENIED: outside the read-only grammar, or an argument that no shell word can hold. Nothing is appended then.
 * Support bundles of 6.x to 8.x have the rotated ones as var/run/log/vmkernel.0.gz.
 */
#define SCRIPT_LEFT_OUT 1
int script_ask(const struct ask *q, uint32_t number, bool localcli, struct buf *out, struct err *e);

/* --- what comes back --- */

struct boundary {
    uint32_t number;
    int64_t status;    /* exit status; process id in boundary 0; 0 or SCRIPT_LEFT_OUT at the end of files */
    struct slice path; /* of a file; empty at the end of an ask */
};

/* One output of the shell, cut at its boundaries. */
struct splitter {
    const struct script *script;
    struct buf held; /* the present body, and the beginning of what may be its boundary */
    size_t looked;   /* no boundary begins before here */
    size_t next;     /* end of the boundary that splitter_next gave */
};

/* max: bytes that are ever held. Whoever feeds it ends a command that prints too much before that. */
void splitter_init(struct splitter *sp, const struct script *s, size_t max);
void splitter_done(struct splitter *sp);
void splitter_add(struct splitter *sp, struct slice bytes);
/* The next boundary, if it has come; body is what was printed before it. Both are good until splitter_drop, which forgets them. */
bool splitter_next(struct splitter *sp, struct slice *body, struct boundary *b);
void splitter_drop(struct splitter *sp);
/* What there is of a body whose boundary has not come. */
struct slice splitter_rest(const struct splitter *sp);

#endif
