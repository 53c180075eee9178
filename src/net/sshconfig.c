#include "net/sshconfig.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/run.h"

#define MAX_OUTPUT (1u << 20) /* ssh -G prints 6 KiB */
#define MAX_PATH   4096u

struct reading {
    const struct ssh_query *q;
    const struct ssh_user *u;
    struct arena *a;
    struct ssh_config c;
};

static __attribute__((format(printf, 2, 3))) void note(struct reading *r, const char *fmt, ...)
{
    char text[512];
    _cleanup_(buf_done) struct buf safe = BUF_INIT(1024);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_add_safe(&safe, slice_of(text));
    if (r->c.nnotes < SSH_MAX_NOTES)
        r->c.notes[r->c.nnotes++] = arena_dup(r->a, buf_slice(&safe)).p;
}

/* --- expansion --- */

static bool add_token(const struct reading *r, char token, struct buf *out)
{
    const struct ssh_config *c = &r->c;

    switch (token) {
    case '%':
        buf_addc(out, '%');
        return true;
    case 'd':
        buf_addz(out, r->u->home ? r->u->home : "");
        return r->u->home != NULL;
    case 'h':
        buf_addz(out, c->hostname);
        return true;
    case 'i':
        buf_printf(out, "%u", r->u->uid);
        return true;
    case 'k':
        buf_addz(out, c->host_key_alias ? c->host_key_alias : r->q->host);
        return true;
    case 'n':
        buf_addz(out, r->q->host);
        return true;
    case 'p':
        buf_printf(out, "%u", c->port);
        return true;
    case 'r':
        buf_addz(out, c->user);
        return true;
    case 'u':
        buf_addz(out, r->u->name ? r->u->name : "");
        return r->u->name != NULL;
    default:
        return false;
    }
}

/* The path that a value stands for, in the arena; NULL with a note when it cannot be told. */
static const char *expand(struct reading *r, const char *keyword, struct slice value)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(MAX_PATH);
    size_t i = 0;

    if (value.n && value.p[0] == '~') {
        if (!r->u->home || (value.n > 1 && value.p[1] != '/')) {
            note(r, "%s " SLICE_FMT ": the folder of that user is not known here; it is not used", keyword, SLICE_ARG(value));
            return NULL;
        }
        buf_addz(&out, r->u->home);
        i = 1;
    }
    for (; i < value.n; i++) {
        if (value.p[i] == '$' && i + 1 < value.n && value.p[i + 1] == '{') {
            note(r, "%s " SLICE_FMT ": environment variables are not expanded; it is not used", keyword, SLICE_ARG(value));
            return NULL;
        }
        if (value.p[i] != '%') {
            buf_addc(&out, value.p[i]);
        } else if (++i == value.n || !add_token(r, value.p[i], &out)) {
            note(r, "%s " SLICE_FMT ": has a token that is not expanded; it is not used", keyword, SLICE_ARG(value));
            return NULL;
        }
    }
    if (out.cut || out.n == 0) {
        note(r, "%s %.60s...: not a path that can be used", keyword, out.n ? buf_z(&out) : "");
        return NULL;
    }
    return arena_dup(r->a, buf_slice(&out)).p;
}

static void add_file(struct reading *r, const char *keyword, struct slice value, struct ssh_files *to)
{
    const char *path;

    if (value.n == 0 || slice_eqz(value, "none"))
        return;
    if (to->n == SSH_MAX_FILES) {
        note(r, "more than %u files of %s; the rest is not used", SSH_MAX_FILES, keyword);
        return;
    }
    path = expand(r, keyword, value);
    for (size_t i = 0; path && i < to->n; i++)
        if (strcmp(to->v[i], path) == 0)
            return;
    if (path)
        to->v[to->n++] = path;
}

/* Does a word of a list begin another path; what does not belongs to the one before, which has a blank: ssh -G does not quote. */
static bool begins_path(struct slice rest)
{
    return rest.n && (strchr("/~%$\"", rest.p[0]) || slice_eqz(rest, "none") || slice_starts(rest, "none "));
}

static void add_files(struct reading *r, const char *keyword, struct slice value, struct ssh_files *to)
{
    while (value.n) {
        size_t end = 0;

        if (value.p[0] == '"' && (end = slice_find_char(value, 1, '"')) != SIZE_MAX) {
            add_file(r, keyword, slice_cut(value, 1, end - 1), to);
            value = slice_trim(slice_from(value, end + 1));
            continue;
        }
        end = slice_find_char(value, 0, ' ');
        while (end != SIZE_MAX && !begins_path(slice_from(value, end + 1)))
            end = slice_find_char(value, end + 1, ' ');
        if (end == SIZE_MAX)
            end = value.n;
        add_file(r, keyword, slice_trim(slice_cut(value, 0, end)), to);
        value = slice_trim(slice_from(value, end));
    }
}

/* --- lines --- */

static const char *text_of(struct reading *r, struct slice value)
{
    const char *p = arena_dup(r->a, value).p;

    return p ? p : "";
}

static bool next_setting(struct slice *rest, struct slice *keyword, struct slice *value)
{
    struct slice line;

    while (slice_next_line(rest, &line, NULL))
        if (slice_next_word(&line, " \t", keyword)) {
            *value = slice_trim(line);
            if (slice_find_char(*value, 0, '\0') == SIZE_MAX)
                return true;
        }
    return false;
}

static const char *unless_none(struct reading *r, struct slice value)
{
    return value.n == 0 || slice_eqz(value, "none") ? NULL : text_of(r, value);
}

/* Settings that others are expanded with, and plain ones. */
static void read_plain(struct reading *r, struct slice keyword, struct slice value)
{
    struct ssh_config *c = &r->c;
    uint64_t number = 0;
    bool is_number = num_parse_u64(value, &number) == 0;

    if (slice_eqz(keyword, "hostname"))
        c->hostname = text_of(r, value);
    else if (slice_eqz(keyword, "user"))
        c->user = text_of(r, value);
    else if (slice_eqz(keyword, "port"))
        c->port = is_number && number <= 65535 ? (unsigned)number : 0;
    else if (slice_eqz(keyword, "identitiesonly"))
        c->identities_only = slice_eqz(value, "yes");
    else if (slice_eqz(keyword, "hashknownhosts"))
        c->hash_known_hosts = slice_eqz(value, "yes");
    else if (slice_eqz(keyword, "pubkeyauthentication"))
        c->no_keys = slice_eqz(value, "no") || slice_eqz(value, "false");
    else if (slice_eqz(keyword, "hostkeyalias"))
        c->host_key_alias = unless_none(r, value);
    else if (slice_eqz(keyword, "bindaddress"))
        c->bind_address = unless_none(r, value);
    else if (slice_eqz(keyword, "addressfamily"))
        c->family = slice_eqz(value, "inet") ? SSH_FAMILY_INET : slice_eqz(value, "inet6") ? SSH_FAMILY_INET6 : SSH_FAMILY_ANY;
    else if ((slice_eqz(keyword, "proxyjump") || slice_eqz(keyword, "proxycommand")) && !c->proxy[0] && value.n && !slice_eqz(value, "none"))
        c->proxy = text_of(r, value);
}

static void read_agent(struct reading *r, struct slice value)
{
    struct ssh_config *c = &r->c;

    c->agent = NULL; /* of several, the last: ssh -G prints one */
    c->agent_kind = SSH_AGENT_DEFAULT;
    if (slice_eqz(value, "none")) {
        c->agent_kind = SSH_AGENT_NONE;
    } else if (value.n > 1 && value.p[0] == '$' && value.p[1] != '{') {
        c->agent_kind = SSH_AGENT_VARIABLE;
        c->agent = text_of(r, slice_from(value, 1));
    } else if (!slice_eqz(value, "SSH_AUTH_SOCK")) {
        c->agent = expand(r, "IdentityAgent", value);
        c->agent_kind = c->agent ? SSH_AGENT_PATH : SSH_AGENT_NONE; /* another agent than the one that was meant would be a guess */
    }
}

/* A name that cannot be expanded stays as it is: a file that cannot be read refuses every key, which is what ssh does. */
static const char *revoked_file(struct reading *r, struct slice value)
{
    const char *path = expand(r, "RevokedHostKeys", value);

    return path ? path : text_of(r, value);
}

static void read_files(struct reading *r, struct slice keyword, struct slice value)
{
    if (slice_eqz(keyword, "identityfile"))
        add_file(r, "IdentityFile", value, &r->c.identities);
    else if (slice_eqz(keyword, "certificatefile"))
        add_file(r, "CertificateFile", value, &r->c.certificates);
    else if (slice_eqz(keyword, "userknownhostsfile"))
        add_files(r, "UserKnownHostsFile", value, &r->c.user_known_hosts);
    else if (slice_eqz(keyword, "globalknownhostsfile"))
        add_files(r, "GlobalKnownHostsFile", value, &r->c.global_known_hosts);
    else if (slice_eqz(keyword, "identityagent"))
        read_agent(r, value);
    else if (slice_eqz(keyword, "revokedhostkeys") && value.n && !slice_eqz(value, "none"))
        r->c.revoked_host_keys = revoked_file(r, value);
}

static bool is_name(const char *z, const char *without)
{
    if (*z == '\0' || *z == '-')
        return false;
    for (; *z; z++)
        if ((unsigned char)*z <= ' ' || *z == 0x7f || strchr(without, *z))
            return false;
    return true;
}

int sshconfig_parse(struct slice text, const struct ssh_query *q, const struct ssh_user *u, struct arena *a, struct ssh_config *out, struct err *e)
{
    struct reading r = {.q = q, .u = u, .a = a, .c = {.hostname = "", .user = "", .proxy = ""}};
    struct slice rest = text, keyword, value;

    while (next_setting(&rest, &keyword, &value))
        read_plain(&r, keyword, value);
    if (arena_full(a))
        return err_set(e, VF_ELIMIT, "ssh -G %s: no room left for its answer", q->host);
    if (!is_name(r.c.hostname, "") || !r.c.user[0] || r.c.port == 0)
        return err_set(e, VF_EFORMAT, "ssh -G %s: its answer lacks the %s", q->host,
                       !is_name(r.c.hostname, "") ? "host name" : !r.c.user[0] ? "user" : "port");
    rest = text;
    while (next_setting(&rest, &keyword, &value))
        read_files(&r, keyword, value);
    if (arena_full(a))
        return err_set(e, VF_ELIMIT, "ssh -G %s: no room left for its answer", q->host);
    *out = r.c;
    return 0;
}

const char *sshconfig_hostkey_name(const struct ssh_config *c, unsigned *port)
{
    *port = c->host_key_alias ? 22 : c->port;
    return c->host_key_alias ? c->host_key_alias : c->hostname;
}

/* --- asking --- */

/* What ssh does without configuration, in its own form. */
static void add_defaults(const struct ssh_query *q, const struct ssh_user *u, struct buf *out)
{
    buf_printf(out, "hostname %s\nuser %s\nport %u\n", q->host, q->user ? q->user : u->name ? u->name : "", q->port ? q->port : 22);
    buf_addz(out, "identityfile ~/.ssh/id_rsa\nidentityfile ~/.ssh/id_ecdsa\nidentityfile ~/.ssh/id_ed25519\n"
                  "userknownhostsfile ~/.ssh/known_hosts ~/.ssh/known_hosts2\n"
                  "globalknownhostsfile /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2\n");
}

/* Keep the files that exist, themselves or, for a key that an agent holds, as .pub. */
static void keep_existing(struct ssh_files *f, bool or_public)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        _cleanup_(buf_done) struct buf public = BUF_INIT(MAX_PATH + 8);
        struct stat st;

        buf_printf(&public, "%s.pub", f->v[i]);
        if (stat(f->v[i], &st) == 0 || (or_public && stat(buf_z(&public), &st) == 0))
            f->v[n++] = f->v[i];
    }
    f->n = n;
}

/* Its first line of standard error, safe to show. */
static int refused(const struct ssh_query *q, int status, struct slice said, struct err *e)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(600);
    struct slice line = {NULL, 0};

    while (slice_next_line(&said, &line, NULL) && slice_blank(line))
        ;
    buf_add_safe(&safe, line);
    return err_set(e, VF_EFORMAT, "ssh -G %s: exit status %d%s%s", q->host, status, safe.n ? ": " : "", buf_z(&safe));
}

static int run_ssh(const struct ssh_query *q, int timeout_ms, struct buf *out, struct err *e)
{
    _cleanup_(buf_done) struct buf said = BUF_INIT(4096), port = BUF_INIT(16);
    const char *argv[12] = {"ssh", "-G", "-T"};
    struct run r = {.argv = argv, .out = {run_take_buf, out}, .err = {run_take_buf, &said}, .timeout_ms = timeout_ms};
    size_t n = 3;
    int status = 0, rc;

    if (q->config_file) {
        argv[n++] = "-F";
        argv[n++] = q->config_file;
    }
    if (q->port) {
        buf_printf(&port, "%u", q->port);
        argv[n++] = "-p";
        argv[n++] = buf_z(&port);
    }
    if (q->user) {
        argv[n++] = "-l";
        argv[n++] = q->user;
    }
    argv[n++] = "--";
    argv[n++] = q->host;
    rc = run_program(&r, &status, e);
    if (rc < 0)
        return rc;
    if (status != 0)
        return refused(q, status, buf_slice(&said), e);
    return out->cut ? err_set(e, VF_ELIMIT, "ssh -G %s: its answer is longer than %u bytes", q->host, MAX_OUTPUT) : 0;
}

int sshconfig_ask(const struct ssh_query *q, const struct ssh_user *u, int timeout_ms, struct arena *a, struct ssh_config *out, struct err *e)
{
    _cleanup_(buf_done) struct buf text = BUF_INIT(MAX_OUTPUT);
    struct ssh_config c;
    bool missing;
    int rc;

    if (!is_name(q->host, "@/") || strlen(q->host) > 255)
        return err_set(e, VF_EUSAGE, "\"%.80s\" is no host name for ssh; user and port are given apart", is_name(q->host, "") ? q->host : "...");
    if ((q->user && !is_name(q->user, "")) || q->port > 65535)
        return err_set(e, VF_EUSAGE, "%s: no user or port that ssh could take", q->host);
    rc = run_ssh(q, timeout_ms, &text, e);
    missing = rc == VF_ENOTFOUND;
    if (missing && q->config_file)
        return err_set(e, VF_EUNSUPPORTED, "%s is not read: ssh, which understands it, is not installed", q->config_file);
    if (missing) {
        buf_reset(&text);
        add_defaults(q, u, &text);
    } else if (rc < 0) {
        return rc;
    }
    rc = sshconfig_parse(buf_slice(&text), q, u, a, &c, e);
    if (rc < 0)
        return rc;
    if (missing && c.nnotes < SSH_MAX_NOTES)
        c.notes[c.nnotes++] = "ssh is not installed: its configuration files are not read";
    keep_existing(&c.identities, true);
    keep_existing(&c.certificates, false);
    *out = c;
    return 0;
}
