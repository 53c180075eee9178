#ifndef VF_NET_LOGIN_H
#define VF_NET_LOGIN_H

#include "base/secret.h"
#include "net/hostkey.h"
#include "net/shell.h"
#include "net/ssh.h"
#include "net/sshconfig.h"
#include "net/target.h"

/*
 * From a host's name to a channel that runs commands: what ~/.ssh/config says (ssh -G), the connection, the host's key, one login, a shell.
 *
 * Keys come first, at most five, from the agent and from files; then, when no key was accepted, one try with a password, and its refusal
 * ends the host: ESXi locks an account after few (5 by default, 3 when hardened; the ledger of attempts.h counts across runs). libssh2
 * carries the connection; the system's ssh does where a proxy is configured, where the host's algorithms need it, and where the only keys
 * are such that libssh2 cannot use (RSA with SHA-2, certificates, security keys). Nothing about a login is sent to a host whose key is
 * not known.
 */

enum login_by { LOGIN_AUTO, LOGIN_LIBSSH2, LOGIN_OPENSSH };

/* One thing done on the way, for -v and for doctor. */
enum login_result { LOGIN_OK, LOGIN_NOTE, LOGIN_FAILED };
struct login_step {
    const char *what;   /* "configuration", "connection", "host key", "login", "shell" */
    enum login_result result;
    const char *text;   /* safe for a terminal */
    const char *remedy; /* of a failure: what to do; or NULL */
    uint32_t elapsed_ms;
};

/* A key that the host shows, and what is known. */
struct login_identity {
    const char *host;        /* as it is written into known_hosts, with port */
    const char *type, *fingerprint; /* "ecdsa-sha2-nistp256", "SHA256:..." */
    const char *file;        /* where it is or would be kept */
    struct slice blob;
    enum hostkey_verdict verdict;
    const char *known_file;  /* file and line that decided; NULL when none is known */
    uint32_t known_line;
};

struct login_opt {
    enum login_by by;
    const char *config;      /* -F, or NULL */
    const char *known_hosts; /* this file alone, or NULL: as configured */
    const struct ssh_user *person;
    const char *agent;       /* $SSH_AUTH_SOCK, or NULL */
    const char *(*variable)(const char *name); /* of the environment: IdentityAgent may name one; or NULL */
    const char *ledger;      /* file that counts password tries; absolute */
    struct ssh_times times;
    uint32_t command_ms;
    uint64_t deadline;       /* of the host, clock_ms() */
    bool patient;            /* ask what the host takes before the first key, and wait until the shell answers: a turn more each, and all is told */
    /*
     * The password for an account, asked for once no key was accepted; borrowed. VF_EUNSUPPORTED: there is none, e says how to give one.
     */
    int (*password)(void *ctx, const char *user, const char *host, const struct secret **out, struct err *e);
    bool (*trust)(void *ctx, const struct login_identity *who); /* an unknown key: shall it be stored; NULL: no */
    void (*step)(void *ctx, const struct login_step *s);        /* NULL: nobody listens */
    void (*answered)(void *ctx, const struct shell_answer *a);  /* NULL likewise */
    void *ctx;
};

/*
 * Returns 0 and a channel, which must be closed before the arena goes and before o does. VF_EHOST, VF_EIDENTITY, VF_ELOGIN; each message says
 * what to do.
 */
int login_open(const struct target_host *t, const struct login_opt *o, struct arena *a, struct channel **out, struct err *e);

/* The key that a host shows, without a login. Returns 0, VF_EHOST, ... */
int login_identity(const struct target_host *t, const struct login_opt *o, struct arena *a, struct login_identity *out, struct err *e);
/* Store it; replace takes the place of a changed one. */
int login_store(const struct target_host *t, const struct login_opt *o, const struct login_identity *who, bool replace, struct arena *a, struct err *e);

#endif
