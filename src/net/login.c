#include "net/login.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/digest.h"
#include "net/agent.h"
#include "net/attempts.h"
#include "net/keyfile.h"
#include "net/openssh.h"
#include "net/revocation.h"

#define MAX_KEYS   5u    /* tried: sshd ends a connection after 6 refusals (MaxAuthTries), and each is a line in the host's log */
#define MAX_FOUND  64u   /* keys that are looked at */
#define MAX_TYPES  16u   /* of one host's known keys */
#define TRIES      3u    /* of a connection that is dropped before the host speaks: sshd does that when too many come at once */
#define LEDGER_MS  20000u /* wait for another login of the account to end */

struct login {
    const struct target_host *t;
    const struct login_opt *o;
    struct arena *a;
    struct ssh_config config;
    const char *user;
    uint16_t port;
    struct hostkey_store *known;
    const char *name;      /* that the host's keys stand under, and its port there */
    unsigned name_port;
    struct slice types[MAX_TYPES]; /* of its known keys */
    size_t ntypes;
    struct openssh_where openssh;
    uint64_t since;        /* of the present step */
    uint64_t deadline;     /* of the host; what a person needs to answer is added */
    bool refused_keys;     /* at least one was offered */
    bool others;           /* there are keys that only the system's ssh can use */
    bool by_password;
    struct slice accepted; /* the host's key */
};

/* --- telling --- */

static void tell(struct login *l, const char *what, enum login_result result, const char *remedy, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void tell(struct login *l, const char *what, enum login_result result, const char *remedy, const char *fmt, ...)
{
    char text[1200];
    struct login_step s = {what, result, text, remedy, (uint32_t)(clock_ms() - l->since)};
    va_list ap;

    if (!l->o->step)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    l->o->step(l->o->ctx, &s);
    l->since = clock_ms();
}

static int failed(struct login *l, const char *what, const char *remedy, struct err *e)
{
    tell(l, what, LOGIN_FAILED, remedy, "%s", e->msg);
    if (remedy) {
        struct err why = *e;

        (void)err_set(e, (enum vf_code)why.code, "%s. %s", why.msg, remedy);
    }
    return e->code;
}

/* --- what ssh's configuration says --- */

static int configure(struct login *l, struct err *e)
{
    const struct target_host *t = l->t;
    const struct ssh_query q = {t->host, l->o->config, t->user, t->port};
    uint64_t until = clock_sooner(clock_ms() + l->o->times.connect, l->deadline);

    if (sshconfig_ask(&q, l->o->person, (int)clock_left(until), l->a, &l->config, e) < 0)
        return failed(l, "configuration", NULL, e);
    l->user = l->config.user;
    l->port = (uint16_t)l->config.port;
    l->openssh = (struct openssh_where){.host = t->host, .user = t->user, .port = t->port, .config = l->o->config,
                                        .known_hosts = l->o->known_hosts, .connect_ms = l->o->times.connect + l->o->times.kex};
    l->known = hostkey_store_new(l->a);
    if (!l->known)
        return err_set(e, VF_ELIMIT, "no room left for known hosts");
    tell(l, "configuration", LOGIN_OK, NULL, "%s@%s port %u%s%s", l->user, l->config.hostname, l->port, *l->config.proxy ? ", through " : "",
         l->config.proxy);
    for (size_t i = 0; i < l->config.nnotes; i++)
        tell(l, "configuration", LOGIN_NOTE, NULL, "%s", l->config.notes[i]);
    return 0;
}

static int read_files(struct login *l, const struct ssh_files *files, struct err *e)
{
    for (size_t i = 0; i < files->n; i++)
        if (hostkey_read(l->known, files->v[i], e) < 0)
            return e->code;
    return 0;
}

/* The files of known keys, the user's first: what is stored goes there. */
static int read_known(struct login *l, struct err *e)
{
    const struct hostkey_bad *bad;
    size_t n;

    if (l->o->known_hosts && hostkey_read(l->known, l->o->known_hosts, e) < 0)
        return e->code;
    if (!l->o->known_hosts && (read_files(l, &l->config.user_known_hosts, e) < 0 || read_files(l, &l->config.global_known_hosts, e) < 0))
        return e->code;
    l->name = sshconfig_hostkey_name(&l->config, &l->name_port);
    l->ntypes = hostkey_known_types(l->known, l->name, l->name_port, l->types, MAX_TYPES);
    n = hostkey_bad(l->known, &bad);
    if (n)
        tell(l, "host key", LOGIN_NOTE, NULL, "%s:%u: %s; %zu such line%s skipped", bad[0].file, bad[0].line, bad[0].why, n, n > 1 ? "s" : "");
    return 0;
}

static const char *known_file(const struct login *l)
{
    if (l->o->known_hosts)
        return l->o->known_hosts;
    return l->config.user_known_hosts.n ? l->config.user_known_hosts.v[0] : NULL;
}

/* --- the connection --- */

static int connect_once(struct login *l, struct ssh **out, enum ssh_why *why, struct err *e)
{
    static const int families[] = {[SSH_FAMILY_ANY] = AF_UNSPEC, [SSH_FAMILY_INET] = AF_INET, [SSH_FAMILY_INET6] = AF_INET6};
    struct ssh_where w = {.host = l->config.hostname, .port = l->port, .family = families[l->config.family], .bind = l->config.bind_address,
                          .key_types = l->types, .nkey_types = l->ntypes, .times = l->o->times, .deadline = l->deadline};

    return ssh_connect(&w, out, why, e);
}

static int connect_host(struct login *l, struct ssh **out, enum ssh_why *why, struct err *e)
{
    static const uint32_t pause_ms[TRIES] = {500, 2000, 0};

    for (unsigned i = 0; i < TRIES; i++) {
        if (connect_once(l, out, why, e) == 0)
            return 0;
        if (*why != SSH_WHY_DROPPED || i + 1 == TRIES)
            break;
        if (clock_poll(NULL, 0, clock_sooner(clock_ms() + pause_ms[i], l->deadline)) == WAIT_STOPPED)
            break;
    }
    return e->code;
}

static const char *connect_remedy(const struct login *l, enum ssh_why why)
{
    switch (why) {
    case SSH_WHY_NAME:
        return strpbrk(l->t->text, "@/") ? "Is the name right, and does this machine's resolver know it?"
                                         : "There is no file or folder of that name here either";
    case SSH_WHY_CONNECT:
        return "Is SSH on? It is off by default: in the host client, Manage, Services, TSM-SSH; and the host's firewall may allow certain "
               "addresses only";
    case SSH_WHY_DROPPED:
        return "Are many connections open to it, or does it only accept certain addresses?";
    case SSH_WHY_NO_SSH:
        return "Is that the port of SSH?";
    case SSH_WHY_ALGORITHM:
        return l->o->by == LOGIN_LIBSSH2 ? "The system's ssh can do it: --ssh openssh, or leave --ssh away" : NULL;
    case SSH_WHY_OTHER:
        return NULL;
    }
    return NULL;
}

/* --- the host's key --- */

/* What is known about a key. */
static int identify(struct login *l, struct slice blob, struct login_identity *who, struct err *e)
{
    char *fingerprint = arena_alloc(l->a, HOSTKEY_FINGERPRINT);
    struct hostkey_answer answer;

    if (!fingerprint)
        return err_set(e, VF_ELIMIT, "no room left");
    if (hostkey_check(l->known, l->name, l->name_port, blob, &answer, e) < 0 || hostkey_fingerprint(blob, fingerprint) < 0)
        return e->code ? e->code : err_set(e, VF_EUNSUPPORTED, "no SHA-256 here for the key's fingerprint");
    *who = (struct login_identity){.type = arena_dup(l->a, hostkey_type(blob)).p, .fingerprint = fingerprint, .file = known_file(l),
                                   .blob = arena_dup(l->a, blob), .verdict = answer.verdict, .known_file = answer.file, .known_line = answer.line};
    who->host = l->name_port == 22 ? l->name : arena_printf(l->a, "[%s]:%u", l->name, l->name_port);
    if (l->config.revoked_host_keys && revocation_check(l->config.revoked_host_keys, blob, (int)l->o->times.connect, e) < 0)
        return failed(l, "host key", NULL, e);
    if (answer.ca_file)
        tell(l, "host key", LOGIN_NOTE, NULL, "%s:%u names a certificate authority for the host; only --ssh openssh can use that", answer.ca_file,
             answer.ca_line);
    return 0;
}

static int store(struct login *l, const struct login_identity *who, bool replace, struct err *e)
{
    if (!who->file)
        return err_set(e, VF_EIO, "no file of known hosts is configured; --known-hosts FILE names one");
    return replace ? hostkey_replace(who->file, l->name, l->name_port, who->blob, l->config.hash_known_hosts, e)
                   : hostkey_add(who->file, l->name, l->name_port, who->blob, l->config.hash_known_hosts, e);
}

/* The time that somebody needs to answer is not the host's. */
static bool ask_trust(struct login *l, const struct login_identity *who)
{
    uint64_t begin = clock_ms();
    bool yes = l->o->trust(l->o->ctx, who);

    if (l->deadline != UINT64_MAX)
        l->deadline += clock_ms() - begin;
    return yes;
}

/* Go on only with a key that is known, or that the user accepts now. */
static int accept_key(struct login *l, const struct login_identity *who, struct err *e)
{
    const char *trust = arena_printf(l->a, "If that is right, compare the fingerprint with the host's own and run: vmkfit trust %s", l->t->text);

    switch (who->verdict) {
    case HOSTKEY_KNOWN:
        tell(l, "host key", LOGIN_OK, NULL, "%s %s, as in %s line %u", who->type, who->fingerprint, who->known_file, who->known_line);
        return 0;
    case HOSTKEY_UNKNOWN:
    case HOSTKEY_OTHER_TYPE:
        if (l->o->trust && ask_trust(l, who)) {
            if (store(l, who, false, e) < 0)
                return failed(l, "host key", NULL, e);
            tell(l, "host key", LOGIN_OK, NULL, "%s %s, stored in %s", who->type, who->fingerprint, who->file);
            return 0;
        }
        (void)err_set(e, VF_EIDENTITY, who->verdict == HOSTKEY_UNKNOWN ? "the host's key is not known: %s %s"
                                                                         : "the host's key is not known, only keys of other types are: %s %s",
                      who->type, who->fingerprint);
        return failed(l, "host key", trust, e);
    case HOSTKEY_CHANGED:
        (void)err_set(e, VF_EIDENTITY, "the host's key is not the one that is known (%s line %u): it shows %s %s. Another machine may stand in "
                      "its place; nothing was sent to it", who->known_file, who->known_line, who->type, who->fingerprint);
        return failed(l, "host key", arena_printf(l->a, "If the host was installed anew: vmkfit trust --replace %s", l->t->text), e);
    case HOSTKEY_REVOKED:
        (void)err_set(e, VF_EIDENTITY, "the host's key is revoked (%s line %u): %s %s; nothing was sent to it", who->known_file, who->known_line, who->type,
                      who->fingerprint);
        return failed(l, "host key", NULL, e);
    }
    return VF_EIDENTITY;
}

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
            tell(l, "login", LOGIN_NOTE, NULL, "%s", e.msg);
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
        tell(l, "login", LOGIN_NOTE, NULL, "%s", e.msg);
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
        tell(l, "login", LOGIN_NOTE, NULL, "no key: PubkeyAuthentication is off in ssh's configuration");
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
            tell(l, "login", LOGIN_NOTE, NULL, "%s: wants a passphrase, or is a public key alone; ssh-add it, and the agent can use it", files.v[i].path);
        else
            out->v[out->n++] = files.v[i];
    }
    l->others |= l->config.certificates.n > 0;
    if (out->n == 0)
        tell(l, "login", LOGIN_NOTE, NULL, "no key: the agent has none%s, and none of the identity files can be used",
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
    tell(l, "login", LOGIN_NOTE, NULL, "key %s (" SLICE_FMT "): libssh2 %s", k->name, SLICE_ARG(k->type),
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
        rc = try_key(l, s, &keys->v[*at], &why);
        if (rc < 0) {
            *e = why;
            return rc;
        }
        if (rc == SSH_LOGGED_IN) {
            tell(l, "login", LOGIN_OK, NULL, "key %s (" SLICE_FMT ")%s", k->name, SLICE_ARG(k->type), k->agent ? " of the agent" : "");
            return rc;
        }
        tell(l, "login", LOGIN_NOTE, NULL, "key %s (" SLICE_FMT "): %s", k->name, SLICE_ARG(k->type), rc == SSH_REFUSED ? "not accepted" : why.msg);
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
static int log_in_by_key(struct login *l, struct ssh *s, const char **methods, struct err *e)
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
    tell(l, "login", LOGIN_NOTE, NULL, "the host takes %s", **methods ? *methods : "anybody, without a login");
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

static int login_with_password(struct login *l, struct ssh *s, const char *methods, struct err *e)
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
        tell(l, "login", LOGIN_NOTE, NULL, "%s", ledger.msg);
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
static int last_resort(struct login *l, struct ssh *s, const char *methods, struct err *e)
{
    int rc = login_with_password(l, s, methods, e);

    if (rc == SSH_LOGGED_IN) {
        l->by_password = true;
        tell(l, "login", LOGIN_OK, NULL, "password of %s", l->user);
        return 0;
    }
    if (rc == VF_EUNSUPPORTED || rc == SSH_CANNOT) {
        struct err why = *e;

        (void)err_set(e, VF_ELOGIN, "no login as %s: %s%s", l->user, l->refused_keys ? "no key was accepted, and " : "there is no key, and ", why.msg);
        return failed(l, "login", login_remedy(l, methods), e);
    }
    if (rc == SSH_REFUSED) {
        struct err why = *e;

        (void)err_set(e, VF_ELOGIN, "no login as %s with the password: %s. It is not tried again: ESXi locks an account after a few", l->user, why.msg);
        return failed(l, "login", NULL, e);
    }
    return failed(l, "login", NULL, e);
}

/* --- the shell --- */

static int open_shell(struct login *l, struct link *link, uint32_t start_ms, bool wait, struct channel **out, struct err *e)
{
    struct shell_opt so = {.start_ms = start_ms, .wait = wait, .command_ms = l->o->command_ms, .deadline = l->deadline, .answered = l->o->answered, .ctx = l->o->ctx};
    const char *name = link->ops->name;
    uint8_t token[16];

    if (random_bytes(token, sizeof token) < 0) {
        link->ops->close(link);
        return err_set(e, VF_EIO, "no random bytes from the system");
    }
    if (shell_open(link, token, &so, out, e) < 0)
        return e->code;
    tell(l, "shell", LOGIN_OK, NULL, "sh %s, through %s", wait ? "answers" : "is started", name);
    return 0;
}

/* Everything by the system's ssh: connection, key, login. */
static int open_openssh(struct login *l, const char *reason, struct channel **out, struct err *e)
{
    const struct ssh_times *t = &l->o->times;
    int rc;

    tell(l, "connection", LOGIN_NOTE, NULL, "the system's ssh is used: %s", reason);
    rc = open_shell(l, openssh_link(&l->openssh), t->resolve + t->connect + t->kex + t->login + t->channel, true, out, e);
    return rc;
}

static int fetch_key(struct login *l, struct login_identity *who, struct err *e)
{
    _cleanup_(buf_done) struct buf blob = BUF_INIT(64u << 10);
    uint64_t until = clock_sooner(clock_ms() + l->o->times.resolve + l->o->times.connect + l->o->times.kex, l->deadline);
    struct slice line, word;

    if (openssh_hostkey(&l->openssh, until, l->a, &line, e) < 0)
        return e->code;
    if (!slice_next_word(&line, " ", &word) || !slice_next_word(&line, " ", &word) || !slice_next_word(&line, " ", &word) ||
        base64_decode(word, &blob) < 0)
        return err_set(e, VF_EHOST, "ssh shows a host key that cannot be read");
    return identify(l, buf_slice(&blob), who, e);
}

/* The same, and where the key is unknown the user is asked. */
static int open_by_openssh(struct login *l, const char *reason, struct channel **out, struct err *e)
{
    struct login_identity who;
    int rc = open_openssh(l, reason, out, e);

    if (rc == VF_EIDENTITY && l->o->trust && l->ntypes == 0) { /* a changed key is not looked at again: that would be a second connection to who knows whom */
        struct err why = *e;

        if (fetch_key(l, &who, &why) < 0 || who.verdict == HOSTKEY_KNOWN)
            return failed(l, "host key", NULL, e);
        if (accept_key(l, &who, e) < 0)
            return e->code;
        rc = open_openssh(l, reason, out, e);
    }
    if (rc < 0)
        return failed(l, rc == VF_EIDENTITY ? "host key" : rc == VF_ELOGIN ? "login" : "connection",
                      rc == VF_EIDENTITY ? arena_printf(l->a, "vmkfit trust %s shows the key and what is known", l->t->text)
                      : rc == VF_ELOGIN ? "Through the system's ssh only keys are used: is the right one in the agent, and in the host's "
                                          "/etc/ssh/keys-root/authorized_keys?"
                                        : NULL, e);
    return 0;
}

/* --- libssh2 --- */

/* A new connection to the same host. */
static int reconnect(struct login *l, struct ssh **out, struct err *e)
{
    struct ssh *s = NULL;
    enum ssh_why why;

    if (connect_host(l, &s, &why, e) < 0)
        return e->code;
    if (!slice_eq(ssh_hostkey(s), l->accepted)) {
        ssh_close(&s);
        return err_set(e, VF_EIDENTITY, "the host's key is another one than before");
    }
    *out = s;
    return 0;
}

/* Log in once more, with what was accepted: a host that allows one session for a connection. */
static int again(void *ctx, struct ssh **out, struct err *e)
{
    struct login *l = ctx;
    struct ssh *s = NULL;
    const char *methods;
    int rc = reconnect(l, &s, e);

    if (rc == 0 && l->by_password)
        rc = ssh_methods(s, l->user, &methods, e);
    if (rc == 0)
        rc = l->by_password ? login_with_password(l, s, methods, e) : log_in_by_key(l, s, &methods, e);
    if (rc == SSH_LOGGED_IN) {
        *out = s;
        return 0;
    }
    ssh_close(&s);
    return rc < 0 ? rc : err_set(e, VF_ELOGIN, "a second login is refused");
}

/* Why the system's ssh may do better with keys than libssh2 did; NULL when there is no reason. */
static const char *other_keys(const struct login *l, const char *methods)
{
    return l->o->by == LOGIN_AUTO && l->others && strstr(methods, "publickey") ? "it can use keys that libssh2 cannot" : NULL;
}

static int log_in(struct login *l, struct ssh **s, struct channel **out, struct err *e)
{
    const char *methods = "", *reason;
    int rc = log_in_by_key(l, *s, &methods, e);

    if (rc < 0 && l->refused_keys && !stop_wanted()) { /* a hardened host ends the connection after two or three refusals; a password may still do */
        tell(l, "login", LOGIN_NOTE, NULL, "%s; once more, without keys", e->msg);
        ssh_close(s);
        if (reconnect(l, s, e) == 0 && ssh_methods(*s, l->user, &methods, e) == 0)
            rc = SSH_REFUSED;
    }
    if (rc < 0)
        return failed(l, "login", NULL, e);
    if (rc != SSH_LOGGED_IN && (reason = other_keys(l, methods))) {
        struct err why = {0};

        if (open_openssh(l, reason, out, &why) == 0)
            return 0;
        tell(l, "login", LOGIN_NOTE, NULL, "%s", why.msg);
    }
    if (rc != SSH_LOGGED_IN && last_resort(l, *s, methods, e) < 0)
        return e->code;
    rc = open_shell(l, ssh_link(*s, again, l), l->o->times.channel, l->o->patient, out, e);
    *s = NULL; /* the link has it */
    return rc < 0 ? failed(l, "shell", NULL, e) : 0;
}

static int open_by_libssh2(struct login *l, struct channel **out, struct err *e)
{
    struct login_identity who;
    struct ssh *s = NULL;
    enum ssh_why why;
    int rc;

    if (connect_host(l, &s, &why, e) < 0) {
        if (why == SSH_WHY_ALGORITHM && l->o->by == LOGIN_AUTO)
            return open_by_openssh(l, e->msg, out, e);
        return failed(l, "connection", connect_remedy(l, why), e);
    }
    tell(l, "connection", LOGIN_OK, NULL, "%s port %u, %s, %s", ssh_address(s), l->port, ssh_server(s), ssh_algorithms(s));
    rc = identify(l, ssh_hostkey(s), &who, e);
    if (rc == 0 && who.verdict == HOSTKEY_OTHER_TYPE && l->o->by == LOGIN_AUTO && slice_among(l->types, l->ntypes, SLICE_LIT("ssh-rsa")))
        rc = 1;
    if (rc == 0)
        rc = accept_key(l, &who, e);
    l->accepted = who.blob;
    if (rc == 0)
        rc = log_in(l, &s, out, e);
    ssh_close(&s);
    return rc == 1 ? open_by_openssh(l, "the known key of the host is of type RSA, which libssh2 can only check with SHA-1", out, e) : rc;
}

static int begin(struct login *l, const struct target_host *t, const struct login_opt *o, struct arena *a, struct err *e)
{
    *l = (struct login){.t = t, .o = o, .a = a, .since = clock_ms(), .deadline = o->deadline};
    return configure(l, e) < 0 ? e->code : read_known(l, e);
}

/* What is wrong with ssh's files concerns this host alone; the words on the command line were right. */
static int of_host(struct err *e)
{
    if (e->code == VF_EUSAGE || e->code == VF_EUNSUPPORTED || e->code == VF_EDENIED)
        e->code = VF_EHOST;
    return e->code;
}

int login_open(const struct target_host *t, const struct login_opt *o, struct arena *a, struct channel **out, struct err *e)
{
    struct login *l = arena_alloc(a, sizeof *l);

    if (!l)
        return err_set(e, VF_ELIMIT, "no room left for a connection");
    if (begin(l, t, o, a, e) < 0)
        return of_host(e);
    if (o->by == LOGIN_OPENSSH)
        return open_by_openssh(l, "--ssh openssh", out, e);
    if (*l->config.proxy && o->by == LOGIN_LIBSSH2)
        return err_set(e, VF_EUSAGE, "the host is reached through %s, which libssh2 cannot; leave --ssh libssh2 away", l->config.proxy);
    if (*l->config.proxy)
        return open_by_openssh(l, arena_printf(a, "the host is reached through %s", l->config.proxy), out, e);
    return open_by_libssh2(l, out, e) < 0 ? of_host(e) : 0;
}

int login_identity(const struct target_host *t, const struct login_opt *o, struct arena *a, struct login_identity *out, struct err *e)
{
    struct login l;
    struct ssh *s = NULL;
    enum ssh_why why = SSH_WHY_OTHER;
    int rc;

    if (begin(&l, t, o, a, e) < 0)
        return of_host(e);
    if (o->by == LOGIN_OPENSSH || *l.config.proxy)
        return fetch_key(&l, out, e);
    if (connect_host(&l, &s, &why, e) < 0)
        return why == SSH_WHY_ALGORITHM && o->by == LOGIN_AUTO ? fetch_key(&l, out, e) : failed(&l, "connection", connect_remedy(&l, why), e);
    rc = identify(&l, ssh_hostkey(s), out, e);
    ssh_close(&s);
    return rc;
}

int login_store(const struct target_host *t, const struct login_opt *o, const struct login_identity *who, bool replace, struct arena *a, struct err *e)
{
    struct login l;

    if (begin(&l, t, o, a, e) < 0)
        return e->code;
    return store(&l, who, replace, e);
}
