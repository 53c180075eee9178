#ifndef VF_NET_SSH_H
#define VF_NET_SSH_H

#include "base/arena.h"
#include "net/link.h"

/*
 * One connection through libssh2, in steps: connect (name, port, key exchange), then the caller looks at the host key, then one login, then
 * a link that runs sh. Nothing is sent that a login could be made of before ssh_methods is called. Every step has a deadline.
 *
 * libssh2 1.10 has neither SHA-2 signatures of RSA keys nor AES-GCM nor encrypt-then-MAC; where a host wants these, SSH_WHY_ALGORITHM says
 * that another client may do better. What it allocates is wiped when it is freed: a password has been in it.
 */

struct ssh_times { /* milliseconds */
    uint32_t resolve, connect, kex, login, channel, close;
};
#define SSH_TIMES {5000, 10000, 15000, 20000, 10000, 2000}

struct ssh_where {
    const char *host;      /* name or address */
    uint16_t port;
    int family;            /* AF_UNSPEC, AF_INET, AF_INET6 */
    const char *bind;      /* local address, or NULL */
    const struct slice *key_types; /* types of the keys that are known of it: asked for first */
    size_t nkey_types;
    struct ssh_times times;
    uint64_t deadline;     /* of the host, clock_ms() */
};

enum ssh_why {
    SSH_WHY_OTHER,
    SSH_WHY_NAME,      /* no address for the name */
    SSH_WHY_CONNECT,   /* nobody answers at the port */
    SSH_WHY_DROPPED,   /* closed before the host said what it is: too many at once, try again */
    SSH_WHY_NO_SSH,    /* something else answers there */
    SSH_WHY_ALGORITHM, /* no algorithm in common */
};

struct ssh;

/* Returns 0, or VF_EHOST with *why. retryable failures are the caller's to retry. */
int ssh_connect(const struct ssh_where *w, struct ssh **out, enum ssh_why *why, struct err *e);
void ssh_close(struct ssh **s);

const char *ssh_address(const struct ssh *s);     /* numeric, that the connection went to */
struct slice ssh_hostkey(const struct ssh *s);    /* public key blob, RFC 4253 6.6 */
const char *ssh_server(const struct ssh *s);      /* "SSH-2.0-OpenSSH_9.0"; safe text */
const char *ssh_algorithms(const struct ssh *s);  /* "ecdh-sha2-nistp256 ecdsa-sha2-nistp256 aes128-ctr hmac-sha2-256" */
/* Does the server refuse RSA keys signed with SHA-1: OpenSSH from 8.8 on (release notes 8.8). False when it does not say what it is. */
bool ssh_wants_sha2(const struct ssh *s);

/* Methods that the host offers to the user, "publickey,keyboard-interactive"; empty when it lets anybody in. */
int ssh_methods(struct ssh *s, const char *user, const char **methods, struct err *e);

struct ssh_key {
    struct slice type;   /* "ecdsa-sha2-nistp256"; empty when not known */
    struct slice blob;   /* public key; empty for a private key in PEM form */
    const char *name;    /* for messages: path, or the agent's comment */
    struct slice priv;   /* private key as in its file; empty when the agent signs */
    const char *agent;   /* its socket */
};

/* Is the connection still there: sshd ends it over refused keys (MaxAuthTries), a moment after the last refusal. Waits that moment. */
bool ssh_alive(const struct ssh *s);

enum ssh_login { SSH_LOGGED_IN, SSH_REFUSED, SSH_CANNOT }; /* cannot: not sent, or not with this library; e says why */

/* Returns an ssh_login, or a negative code when the connection failed. */
int ssh_login_key(struct ssh *s, const char *user, const struct ssh_key *k, struct err *e);
/*
 * One try by keyboard-interactive, or by "password" where only that is among methods (of ssh_methods). The password goes to a single prompt that
 * asks for a password with echo off, once; whatever else is asked (a new password, a code) ends the connection: SSH_REFUSED with what was
 * asked. Begun is a try for the host, whatever was answered; SSH_CANNOT: none was begun.
 */
int ssh_login_password(struct ssh *s, const char *user, const char *methods, struct slice password, struct err *e);
/* The host's time is counted on from now: somebody was asked meanwhile. */
void ssh_set_deadline(struct ssh *s, uint64_t deadline);

/*
 * The logged-in connection as a link, which takes it over. again logs in once more, for a host that allows one session on a connection;
 * NULL: it cannot be had. ctx is passed on.
 */
struct link *ssh_link(struct ssh *s, int (*again)(void *ctx, struct ssh **fresh, struct err *e), void *ctx);

const char *ssh_library(void);

#endif
