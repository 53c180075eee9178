#include "net/login_parts.h"

#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "net/agent.h"
#include "net/attempts.h"
#include "net/keyfile.h"

#define MAX_KEYS   5u    /* tried: sshd ends a connection after 6 refusals (MaxAuthTries), and each is a line in the host's log */
#define MAX_FOUND  64u   /* keys that are looked at */
#define LEDGER_MS  20000u /* wait for another login of the account to end */

/* --- keys --- */

struct key {
    struct ssh_key key;
    const char *path; /* of a file; NULL for the agent's */
    bool agent_only;  /* of a file: it wants a passphrase, or is the public half alone */
};

struct keys {
    struct key v[MAX_FOUND];
    size_t n;
};

static bool has_blob(const struct keys *k, struct slice blob)
{
    for (size_t i = 0; i < k->n; i++)
        if (blob.n && slice_eq(k->v[i].key.blob, blob))
            return true;
    return false;
}

/* Which key a file holds, without keeping its private half. False when it holds none; the reason is told. */
static bool peek(struct login *l, const char *path, struct ssh_key *out, bool *agent_only)
{
    struct keyfile k = {.bytes = NULL};
    struct err e = {0};

    if (keyfile_read(path, l->a, &k, &e) < 0) {
        if (e.code != VF_ENOTFOUND)
            login_tell(l, "login", LOGIN_NOTE, NULL, "%s", e.msg);
        return false;
    }
    *out = (struct ssh_key){.type = k.type, .blob = k.blob, .name = path};
    *agent_only = k.encrypted || !k.bytes;
    keyfile_done(&k);
    return true;
}

static const char *agent_path(const struct login *l)
{
    switch (l->config.agent_kind) {
    case SSH_AGENT_DEFAULT:
        return l->o->agent;
    case SSH_AGENT_NONE:
        return NULL;
    case SSH_AGENT_PATH:
        return l->config.agent;
    case SSH_AGENT_VARIABLE:
        return l->o->variable ? l->o->variable(l->config.agent) : NULL;
    }
    return NULL;
}

static void add_agent_keys(struct login *l, const struct keys *files, struct keys *out)
{
    struct agent_key v[MAX_FOUND / 2];
    const char *path = agent_path(l);
    struct err e = {0};
    size_t n = 0;

    if (!path)
        return;
    if (agent_keys(path, clock_sooner(clock_ms() + l->o->times.connect, l->deadline), l->a, v, MAX_FOUND / 2, &n, &e) < 0) {
        login_tell(l, "login", LOGIN_NOTE, NULL, "%s", e.msg);
        return;
    }
    for (int preferred = 1; preferred >= 0; preferred--) /* those that the configuration names come first, as with ssh */
        for (size_t i = 0; i < n && out->n < MAX_FOUND; i++)
            if (has_blob(files, v[i].blob) == preferred && (preferred || !l->config.identities_only))
                out->v[out->n++] = (struct key){.key = {.type = v[i].type, .blob = v[i].blob, .name = v[i].comment, .agent = path}};
}

/* In the order they are tried: the agent's, then files that the agent does not have. */
static void find_keys(struct login *l, struct keys *out)
{
    struct keys files = {.n = 0};

    if (l->config.no_keys) {
        login_tell(l, "login", LOGIN_NOTE, NULL, "no key: PubkeyAuthentication is off in ssh's configuration");
        return;
    }
    for (size_t i = 0; i < l->config.identities.n && files.n < MAX_FOUND / 2; i++) {
        struct key *k = &files.v[files.n];

        *k = (struct key){.path = l->config.identities.v[i]};
        files.n += peek(l, k->path, &k->key, &k->agent_only);
    }
    add_agent_keys(l, &files, out);
    for (size_t i = 0; i < files.n && out->n < MAX_FOUND; i++) {
        if (has_blob(out, files.v[i].key.blob))
            continue;
        if (files.v[i].agent_only)
            login_tell(l, "login", LOGIN_NOTE, NULL, "%s: wants a passphrase, or is a public key alone; ssh-add it, and the agent can use it", files.v[i].path);
        else
            out->v[out->n++] = files.v[i];
    }
    l->others |= l->config.certificates.n > 0;
    if (out->n == 0)
        login_tell(l, "login", LOGIN_NOTE, NULL, "no key: the agent has none%s, and none of the identity files can be used",
             agent_path(l) ? "" : " (SSH_AUTH_SOCK is not set)");
}

/* Can libssh2 use the key with this host. */
static bool usable(struct login *l, const struct ssh *s, const struct ssh_key *k)
{
    if (slice_starts(k->type, "ecdsa") || slice_eqz(k->type, "ssh-ed25519") || k->type.n == 0) {
        if (slice_find(k->type, 0, "-cert-") == SIZE_MAX)
            return true;
    } else if (slice_eqz(k->type, "ssh-rsa") && !ssh_wants_sha2(s)) {
        return true;
    }
    l->others = true;
    login_tell(l, "login", LOGIN_NOTE, NULL, "key %s (" SLICE_FMT "): libssh2 %s", k->name, SLICE_ARG(k->type),
         slice_eqz(k->type, "ssh-rsa") ? "signs RSA with SHA-1 only, which this host does not take" : "cannot use this kind");
    return false;
}

static int try_key(struct login *l, struct ssh *s, const struct key *k, struct err *e)
{
    struct keyfile file = {.bytes = NULL};
    struct ssh_key key = k->key;
    int rc;

    if (k->path) {
        if (keyfile_read(k->path, l->a, &file, e) < 0)
            return SSH_CANNOT;
        key.priv = (struct slice){file.bytes, file.n};
    }
    rc = ssh_login_key(s, l->user, &key, e);
    keyfile_done(&file);
    return rc;
}

/* Keys from *at on, at most so many. Returns an ssh_login, or a negative code. */
static int login_with_keys(struct login *l, struct ssh *s, const struct keys *keys, size_t *at, unsigned most, struct err *e)
{
    for (unsigned tried = 0; *at < keys->n && tried < most; ++*at) {
        const struct ssh_key *k = &keys->v[*at].key;
        struct err why = {0};
        int rc;

        if (!usable(l, s, k))
            continue;
        l->offered_keys = true;
        rc = try_key(l, s, &keys->v[*at], &why);
        if (rc < 0) {
            *e = why;
            return rc;
        }
        if (rc == SSH_LOGGED_IN) {
            login_tell(l, "login", LOGIN_OK, NULL, "key %s (" SLICE_FMT ")%s", k->name, SLICE_ARG(k->type), k->agent ? " of the agent" : "");
            return rc;
        }
        login_tell(l, "login", LOGIN_NOTE, NULL, "key %s (" SLICE_FMT "): %s", k->name, SLICE_ARG(k->type), rc == SSH_REFUSED ? "not accepted" : why.msg);
        tried += rc == SSH_REFUSED;
        l->refused_keys |= rc == SSH_REFUSED;
        if (rc == SSH_REFUSED && slice_eqz(k->type, "ssh-rsa"))
            l->others = true; /* perhaps for its SHA-1 signature */
    }
    return SSH_REFUSED;
}

/*
 * The first key goes without a question what the host takes, which costs a turn; mostly it is the right one. The question then counts among the
 * six refusals after which sshd ends a connection, and so does a password.
 */
int login_by_key(struct login *l, struct ssh *s, const char **methods, struct err *e)
{
    struct keys keys = {.n = 0};
    size_t at = 0;
    int rc = SSH_REFUSED;

    find_keys(l, &keys);
    if (!l->o->patient)
        rc = login_with_keys(l, s, &keys, &at, 1, e);
    if (rc != SSH_REFUSED)
        return rc;
    if (ssh_methods(s, l->user, methods, e) < 0)
        return e->code;
    login_tell(l, "login", LOGIN_NOTE, NULL, "the host takes %s", **methods ? *methods : "anybody, without a login");
    if (**methods == '\0')
        return SSH_LOGGED_IN;
    return strstr(*methods, "publickey") ? login_with_keys(l, s, &keys, &at, MAX_KEYS - (l->refused_keys ? 2 : 0), e) : SSH_REFUSED;
}

/* --- the one password --- */

/* Too many failed: this host is not read now, which is no fault of the command line. */
static int no_more_tries(struct err *e)
{
    if (e->code == VF_EDENIED)
        e->code = VF_ELOGIN;
    return e->code;
}

static int ask_password(struct login *l, const struct secret **secret, struct err *e)
{
    uint64_t begin = clock_ms();
    int rc = l->o->password(l->o->ctx, l->user, l->config.hostname, secret, e);

    if (l->deadline != UINT64_MAX)
        l->deadline += clock_ms() - begin;
    return rc;
}

/* One host has many names: tries are counted by the address that the connection goes to, and by the host's key. */
static int count_try(struct login *l, const struct ssh *s, struct attempt *tickets[2], struct err *e)
{
    char fingerprint[HOSTKEY_FINGERPRINT];

    if (hostkey_fingerprint(ssh_hostkey(s), fingerprint) < 0)
        return err_set(e, VF_EUNSUPPORTED, "no SHA-256 here to tell hosts apart");
    if (attempts_begin(l->o->ledger, l->user, ssh_address(s), time(NULL), LEDGER_MS, &tickets[0], e) < 0)
        return e->code;
    if (attempts_begin(l->o->ledger, l->user, fingerprint, time(NULL), LEDGER_MS, &tickets[1], e) == 0)
        return 0;
    (void)attempts_end(&tickets[0], true, NULL); /* no password was sent */
    return e->code;
}

int login_by_password(struct login *l, struct ssh *s, const char *methods, struct err *e)
{
    _cleanup_(attempts_free) struct attempt *by_address = NULL, *by_key = NULL;
    struct attempt *tickets[2] = {NULL, NULL};
    const struct secret *secret = NULL;
    struct err ledger = {0};
    int rc;
    bool good;

    if (ask_password(l, &secret, e) < 0)
        return e->code;
    ssh_set_deadline(s, l->deadline);
    rc = count_try(l, s, tickets, e);
    by_address = tickets[0];
    by_key = tickets[1];
    if (rc < 0)
        return rc == VF_EIO ? err_ctx(e, "the try with a password cannot be written down first, so it is not made") : no_more_tries(e);
    rc = ssh_login_password(s, l->user, methods, (struct slice){secret_text(secret), secret_length(secret)}, e);
    good = rc == SSH_LOGGED_IN || rc == SSH_CANNOT;
    if (attempts_end(&by_address, good, &ledger) < 0 || attempts_end(&by_key, good, &ledger) < 0)
        login_tell(l, "login", LOGIN_NOTE, NULL, "%s", ledger.msg);
    return rc;
}

static const char *login_remedy(const struct login *l, const char *methods)
{
    const char *keys = arena_printf(l->a, "/etc/ssh/keys-%s/authorized_keys", l->user);

    if (!strstr(methods, "publickey"))
        return "The host takes no keys, only a password: --password-file FILE, --password-command COMMAND";
    return arena_printf(l->a, l->refused_keys ? "None of the keys is in the host's %s; a password can be given by --password-file FILE or "
                                                "--password-command COMMAND"
                                              : "Make a key (ssh-keygen -t ecdsa) and put its .pub into the host's %s, or give a password by "
                                                "--password-file FILE or --password-command COMMAND", keys);
}

/* A password, after the keys. */
int login_last_resort(struct login *l, struct ssh *s, const char *methods, struct err *e)
{
    int rc = login_by_password(l, s, methods, e);

    if (rc == SSH_LOGGED_IN) {
        l->by_password = true;
        login_tell(l, "login", LOGIN_OK, NULL, "password of %s", l->user);
        return 0;
    }
    if (rc == VF_EUNSUPPORTED || rc == SSH_CANNOT) {
        struct err why = *e;

        (void)err_set(e, VF_ELOGIN, "no login as %s: %s%s", l->user, l->refused_keys ? "no key was accepted, and " : "there is no key, and ", why.msg);
        return login_failed(l, "login", login_remedy(l, methods), e);
    }
    if (rc == SSH_REFUSED) {
        struct err why = *e;

        (void)err_set(e, VF_ELOGIN, "no login as %s with the password: %s. It is not tried again: ESXi locks an account after a few", l->user, why.msg);
        return login_failed(l, "login", NULL, e);
    }
    return login_failed(l, "login", NULL, e);
}
