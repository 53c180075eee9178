#ifndef VF_NET_ATTEMPTS_H
#define VF_NET_ATTEMPTS_H

#include "base/err.h"
#include "base/slice.h"

/*
 * The ledger that keeps password tries below an account lock. A hardened ESXi host locks an account after 3 failures in 900 s, SSH and the
 * web service counted together (STIG ESXI-80-000005); so at most 2 tries in that time are not known to have succeeded, over all runs and
 * processes that use the same file. Logins by key do not count and do not ask here.
 *
 * A try is written down before it is made: a crash in between leaves it there, and it counts as failed. The account is user and host;
 * several names of one host are several accounts here, so the caller gives the name that it connects to (HostName), for SSH and SOAP alike.
 *
 * The file has a heading and a line for each try: seconds since 1970 (UTC), process, its start, a random number, "trying" or "failed", and
 * user@host with everything but letters, digits and ".-_:" as %XX. It is rewritten whole (temporary file, fsync, rename) under a lock on
 * PATH.lock. What is damaged never makes the count smaller: a line that cannot be read, the last one without its line end among them, counts
 * as a failed try now, of every account, and is rewritten as that (user@host "*"). A larger file than ATTEMPTS_MAX_FILE, or one of
 * another version, is refused. The clock: a time in the future counts as now, so that a clock set back makes the wait longer and never
 * shorter; one set forward cannot be noticed.
 */
#define ATTEMPTS_MAX      2u
#define ATTEMPTS_WINDOW_S 900
#define ATTEMPTS_MARGIN_S 120 /* more for a try whose end is not known: it may have failed that long after it was written down */
#define ATTEMPTS_MAX_FILE (1u << 20)
#define ATTEMPTS_LOCK_MS  5000 /* wait for PATH.lock; it is held for one rewriting */

struct attempt;

/*
 * Before a password is sent. now is the wall clock in seconds. When ATTEMPTS_MAX tries of the account are written down, it waits while one
 * of them is of a living process and not decided, at most wait_ms. Returns 0 and a ticket, owned by the caller until attempts_end; or
 * VF_EDENIED, in words for the user: how many failed, when the last one, when the next is possible; or VF_EUSAGE (no user or host), VF_EIO,
 * VF_EFORMAT, VF_ELIMIT when the ledger cannot be kept. Without a ticket no password may be sent.
 */
int attempts_begin(const char *path, const char *user, const char *host, int64_t now, int wait_ms, struct attempt **ticket, struct err *e);

/*
 * After it: succeeded is true when the password was accepted, and when none was sent after all; the line goes. Else it stays as failed,
 * with the time of now. Frees the ticket in any case; NULL is accepted. An error leaves the line, which counts as failed.
 */
int attempts_end(struct attempt **ticket, bool succeeded, struct err *e);

/* Forget a ticket without an end: the line stays and counts as failed. For cleanup. */
void attempts_free(struct attempt **ticket);

#endif
