#ifndef VF_BASE_SECRET_H
#define VF_BASE_SECRET_H

#include "base/err.h"
#include "base/slice.h"

/*
 * A password or passphrase, in memory of its own: pages that are locked when the limit of locked memory allows it, that no core dump has
 * (MADV_DONTDUMP), that a forked child sees empty (MADV_WIPEONFORK), and that are wiped when freed. The readers read into these pages and
 * nowhere else. There is no way to print one, and no error text has any of it. Nothing here goes to argv or the environment of a child.
 */
struct secret;

#define SECRET_MAX 1024u /* bytes; passwords of ESXi and vCenter are far shorter */

/* Wipes. Accepts NULL and a pointer to NULL. */
void secret_free(struct secret **s);

/* NUL-terminated, without one inside; lives until secret_free. For the call that needs it: nobody keeps a copy. */
const char *secret_text(const struct secret *s);
size_t secret_length(const struct secret *s);

/*
 * All readers return 0 and a secret that the caller frees, or a negative code with *out untouched. Empty text and a NUL inside are
 * VF_EFORMAT, more than SECRET_MAX bytes VF_ELIMIT.
 */

/* A copy, for text that is in memory already. The caller wipes its own. */
int secret_from_bytes(struct slice bytes, struct secret **out, struct err *e);

/*
 * A file that holds nothing but the secret: one line, CR and LF at its end are not part of it. It must be a regular file, not a link,
 * owned by the caller or root, without access for group and others; else VF_EDENIED, which says what to do. Root's own file that only
 * root's group may read (0440) is good too: so systemd shows credentials that it gives by access lists.
 *
 * /dev/fd/N, /proc/self/fd/N and /dev/stdin stand for the descriptor, which may be a pipe as well, so that bash's <(...) works; a silent
 * pipe ends after SECRET_PIPE_MS. A named FIFO is refused: who writes into it cannot be told.
 */
#define SECRET_PIPE_MS 60000
int secret_from_file(const char *path, struct secret **out, struct err *e);

/*
 * First line of what "/bin/sh -c command" prints, without CR and LF. Its standard input is the terminal when there is one (pass, gpg and
 * pinentry ask there), its standard error stays ours; it is killed after timeout_ms. Another exit status than 0 is VF_EIO and named.
 */
int secret_from_command(const char *command, int timeout_ms, struct secret **out, struct err *e);

/*
 * Ask on /dev/tty, without echo. The terminal's settings are put back however it ends: a signal (SIGINT, SIGTERM, ...) is held until they
 * are, and then takes its usual course; after a stop (Ctrl-Z) and going on, it asks again. Changes the dispositions of these signals while
 * it asks: one thread at a time. No terminal, or a job in the background that cannot get it: VF_EUNSUPPORTED.
 */
int secret_from_terminal(const char *prompt, struct secret **out, struct err *e);

/*
 * No core dumps, no debugger and no reading of /proc/PID/mem by other processes of the user. Every reader calls it. Not under
 * AddressSanitizer, whose leak detector is such a debugger.
 */
void secret_harden(void);

#endif
