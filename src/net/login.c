#include "net/login_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/digest.h"
#include "net/revocation.h"

#define TRIES      3u    /* of a connection that is dropped before the host speaks: sshd does that when too many come at once */

/* --- telling --- */

void login_tell(struct login *l, const char *what, enum login_result result, const char *remedy, const char *fmt, ...)
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

int login_failed(struct login *l, const char *what, const char *remedy, struct err *e)
{
    login_tell(l, what, LOGIN_FAILED, remedy, "%s", e->msg);
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
        return login_failed(l, "configuration", NULL, e);
    l->user = l->config.user;
    l->port = (uint16_t)l->config.port;
    l->openssh = (struct openssh_where){.host = t->host, .user = t->user, .port = t->port, .config = l->o->config,
                                        .known_hosts = l->o->known_hosts, .proxy = l->config.proxy,
                                        .hostname = l->config.hostname, .hostname_port = l->port,
                                        .connect_ms = l->o->times.connect + l->o->times.kex};
    l->known = hostkey_store_new(l->a);
    if (!l->known)
        return err_set(e, VF_ELIMIT, "no room left for known hosts");
    login_tell(l, "configuration", LOGIN_OK, NULL, "%s@%s port %u%s%s", l->user, l->config.hostname, l->port, *l->config.proxy ? ", through " : "",
         l->config.proxy);
    for (size_t i = 0; i < l->config.nnotes; i++)
        login_tell(l, "configuration", LOGIN_NOTE, NULL, "%s", l->config.notes[i]);
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
    l->ntypes = hostkey_known_types(l->known, l->name, l->name_port, l->types, LOGIN_MAX_TYPES);
    n = hostkey_bad(l->known, &bad);
    if (n)
        login_tell(l, "host key", LOGIN_NOTE, NULL, "%s:%u: %s; %zu such line%s skipped", bad[0].file, bad[0].line, bad[0].why, n, n > 1 ? "s" : "");
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
        return login_failed(l, "host key", NULL, e);
    if (answer.ca_file)
        login_tell(l, "host key", LOGIN_NOTE, NULL, "%s:%u names a certificate authority for the host; only --ssh openssh can use that", answer.ca_file,
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
        login_tell(l, "host key", LOGIN_OK, NULL, "%s %s, as in %s line %u", who->type, who->fingerprint, who->known_file, who->known_line);
        return 0;
    case HOSTKEY_UNKNOWN:
    case HOSTKEY_OTHER_TYPE:
        if (l->o->trust && ask_trust(l, who)) {
            if (store(l, who, false, e) < 0)
                return login_failed(l, "host key", NULL, e);
            login_tell(l, "host key", LOGIN_OK, NULL, "%s %s, stored in %s", who->type, who->fingerprint, who->file);
            return 0;
        }
        (void)err_set(e, VF_EIDENTITY, who->verdict == HOSTKEY_UNKNOWN ? "the host's key is not known: %s %s"
                                                                         : "the host's key is not known, only keys of other types are: %s %s",
                      who->type, who->fingerprint);
        return login_failed(l, "host key", trust, e);
    case HOSTKEY_CHANGED:
        (void)err_set(e, VF_EIDENTITY, "the host's key is not the one that is known (%s line %u): it shows %s %s. Another machine may stand in "
                      "its place; nothing was sent to it", who->known_file, who->known_line, who->type, who->fingerprint);
        return login_failed(l, "host key", arena_printf(l->a, "If the host was installed anew: vmkfit trust --replace %s", l->t->text), e);
    case HOSTKEY_REVOKED:
        (void)err_set(e, VF_EIDENTITY, "the host's key is revoked (%s line %u): %s %s; nothing was sent to it", who->known_file, who->known_line, who->type,
                      who->fingerprint);
        return login_failed(l, "host key", NULL, e);
    }
    return VF_EIDENTITY;
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
    login_tell(l, "shell", LOGIN_OK, NULL, "sh %s, through %s", wait ? "answers" : "is started", name);
    return 0;
}

/* Everything by the system's ssh: connection, key, login. */
static int open_openssh(struct login *l, const char *reason, struct channel **out, struct err *e)
{
    const struct ssh_times *t = &l->o->times;
    int rc;

    login_tell(l, "connection", LOGIN_NOTE, NULL, "the system's ssh is used: %s", reason);
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
            return login_failed(l, "host key", NULL, e);
        if (accept_key(l, &who, e) < 0)
            return e->code;
        rc = open_openssh(l, reason, out, e);
    }
    if (rc < 0)
        return login_failed(l, rc == VF_EIDENTITY ? "host key" : rc == VF_ELOGIN ? "login" : "connection",
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
        rc = l->by_password ? login_by_password(l, s, methods, e) : login_by_key(l, s, &methods, e);
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
    int rc = login_by_key(l, *s, &methods, e);

    /* a hardened host ends the connection after two or three refusals, or the first; a password may still do */
    if (l->offered_keys && rc != SSH_LOGGED_IN && !stop_wanted() && !ssh_alive(*s)) {
        login_tell(l, "login", LOGIN_NOTE, NULL, "the host ends the connection over the keys; once more, without them");
        ssh_close(s);
        l->refused_keys = true;
        rc = reconnect(l, s, e);
        if (rc == 0)
            rc = ssh_methods(*s, l->user, &methods, e) == 0 ? SSH_REFUSED : e->code;
    }
    if (rc < 0)
        return login_failed(l, "login", NULL, e);
    if (rc != SSH_LOGGED_IN && (reason = other_keys(l, methods))) {
        struct err why = {0};

        if (open_openssh(l, reason, out, &why) == 0)
            return 0;
        login_tell(l, "login", LOGIN_NOTE, NULL, "%s", why.msg);
    }
    if (rc != SSH_LOGGED_IN && login_last_resort(l, *s, methods, e) < 0)
        return e->code;
    rc = open_shell(l, ssh_link(*s, again, l), l->o->times.channel, l->o->patient, out, e);
    *s = NULL; /* the link has it */
    return rc < 0 ? login_failed(l, "shell", NULL, e) : 0;
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
        return login_failed(l, "connection", connect_remedy(l, why), e);
    }
    login_tell(l, "connection", LOGIN_OK, NULL, "%s port %u, %s, %s", ssh_address(s), l->port, ssh_server(s), ssh_algorithms(s));
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

/* What is wrong with ssh's files (read: while they are read) concerns this host alone; the words on the command line were right. */
static int of_host(struct err *e, bool read)
{
    if (e->code == VF_EUSAGE || e->code == VF_EUNSUPPORTED || e->code == VF_EDENIED || (read && (e->code == VF_EFORMAT || e->code == VF_EIO)))
        e->code = VF_EHOST;
    return e->code;
}

int login_open(const struct target_host *t, const struct login_opt *o, struct arena *a, struct channel **out, struct err *e)
{
    struct login *l = arena_alloc(a, sizeof *l);

    if (!l)
        return err_set(e, VF_ELIMIT, "no room left for a connection");
    if (begin(l, t, o, a, e) < 0)
        return of_host(e, true);
    if (o->by == LOGIN_OPENSSH)
        return open_by_openssh(l, "--ssh openssh", out, e);
    if (*l->config.proxy && o->by == LOGIN_LIBSSH2)
        return err_set(e, VF_EUSAGE, "the host is reached through %s, which libssh2 cannot; leave --ssh libssh2 away", l->config.proxy);
    if (*l->config.proxy)
        return open_by_openssh(l, arena_printf(a, "the host is reached through %s", l->config.proxy), out, e);
    return open_by_libssh2(l, out, e) < 0 ? of_host(e, false) : 0;
}

int login_identity(const struct target_host *t, const struct login_opt *o, struct arena *a, struct login_identity *out, struct err *e)
{
    struct login l;
    struct ssh *s = NULL;
    enum ssh_why why = SSH_WHY_OTHER;
    int rc;

    if (begin(&l, t, o, a, e) < 0)
        return of_host(e, true);
    if (o->by == LOGIN_OPENSSH || *l.config.proxy)
        return fetch_key(&l, out, e);
    if (connect_host(&l, &s, &why, e) < 0)
        return why == SSH_WHY_ALGORITHM && o->by == LOGIN_AUTO ? fetch_key(&l, out, e) : login_failed(&l, "connection", connect_remedy(&l, why), e);
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
