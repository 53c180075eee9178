#include "cmd/live.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fsx.h"
#include "base/map.h"
#include "cmd/places.h"

#define MAX_PASSWORDS 64u /* accounts that are asked for one by one in a run */
#define HOST_MS       300000u /* a host with 100 questions takes 0.5 to 2 s for each */
#define COMMAND_MS    60000u
#define PASSWORD_MS   60000 /* for --password-command, which may ask somebody */

static const char *const by_words[] = {"auto", "libssh2", "openssh", NULL}; /* in the order of enum login_by */

#define AT(member) offsetof(struct cli, live_options.member)

static const struct opt host_opts[] = {
    {"ssh", 0, OPT_CHOICE, AT(by), NULL, "what carries the connection; auto: libssh2, and the system's ssh where that cannot (jump hosts, RSA keys on ESXi 8)",
     by_words},
    {"ssh-config", 'F', OPT_TEXT, AT(config), "FILE", "instead of ~/.ssh/config and /etc/ssh/ssh_config", NULL},
    {"known-hosts", 0, OPT_TEXT, AT(known_hosts), "FILE", "instead of the files of known host keys that ssh would use", NULL},
    {"password-file", 0, OPT_TEXT, AT(password_file), "FILE", "holds the password, where no key is accepted; nobody else may read it", NULL},
    {"password-command", 0, OPT_TEXT, AT(password_command), "COMMAND", "prints the password, such as \"pass show esx\"", NULL},
    {"batch", 0, OPT_FLAG, AT(batch), NULL, "never ask on the terminal: no password, no unknown host key", NULL},
    {"timeout", 0, OPT_TEXT, AT(timeout), "SECONDS", "for a host, from its name to its last answer (default 300)", NULL},
    {"connect-timeout", 0, OPT_TEXT, AT(connect_timeout), "SECONDS",
     "for each of name, connection, key exchange, login, session (default 5, 10, 15, 20, 10)", NULL},
    {"command-timeout", 0, OPT_TEXT, AT(command_timeout), "SECONDS", "for one command on the host (default 60)", NULL},
    {"bmc", 0, OPT_TEXT, AT(bmc), "[USER@]BMC", "ask the host's BMC for firmware too, by Redfish, read-only: iDRAC, iLO, XCC, CIMC, ... (firmware.md)", NULL},
    {"bmc-user", 0, OPT_TEXT, AT(bmc_user), "USER", "of the BMC, where --bmc does not name one", NULL},
    {"bmc-password-file", 0, OPT_TEXT, AT(bmc_password_file), "FILE", "holds the BMC's password; nobody else may read it", NULL},
    {"bmc-password-command", 0, OPT_TEXT, AT(bmc_password_command), "COMMAND", "prints the BMC's password", NULL},
    {"bmc-ca", 0, OPT_TEXT, AT(bmc_ca), "FILE", "CA certificates (PEM) for a BMC whose key is not stored by \"vmkfit trust --bmc\"", NULL},
    {0},
};

const struct opt_group hosts_over_ssh = {"Options for hosts over SSH, and their BMCs", host_opts};

struct live {
    struct ssh_user person;
    char name[256];        /* of the user who runs this */
    char home[4096], account_home[4096];
    struct secret *given;  /* of a file, a command, systemd: for every host */
    struct {
        char account[600];
        struct secret *secret;
    } asked[MAX_PASSWORDS];
    size_t nasked;
    struct secret *bmc;    /* of the BMC */
    char ledger[4300];
    /* the present host */
    const struct live_watch *watch;
    const char *label;
    size_t answers;
    uint64_t begin;
    bool progress; /* a line of it stands on the terminal */
    struct cli *c;
};

/* --- who runs this, and where things are --- */

/* ssh takes "~" for the folder of the user's account, whatever HOME says; what is ours goes to HOME where that is an absolute path. */
static void find_person(struct cli *c, struct live *l)
{
    _cleanup_(arena_done) struct arena *a = arena_new(1u << 20);
    const struct passwd *p = getpwuid(getuid());

    (void)snprintf(l->name, sizeof l->name, "%s", p ? p->pw_name : "");
    (void)snprintf(l->home, sizeof l->home, "%s", place_home(c, a));
    (void)snprintf(l->account_home, sizeof l->account_home, "%s", p ? p->pw_dir : l->home);
    l->person = (struct ssh_user){l->account_home, l->name, getuid()};
}

/* Where tries with a password are counted: there is one count. */
static void find_ledger(struct cli *c, struct live *l)
{
    _cleanup_(arena_done) struct arena *a = arena_new(1u << 20);

    (void)snprintf(l->ledger, sizeof l->ledger, "%s/logins", place_state(c, a));
}

static struct live *live_of(struct cli *c)
{
    if (c->live)
        return c->live;
    c->live = xmalloc(sizeof *c->live);
    *c->live = (struct live){.c = c};
    find_person(c, c->live);
    find_ledger(c, c->live);
    stop_catch();
    return c->live;
}

void live_done(struct cli *c)
{
    struct live *l = c->live;

    if (!l)
        return;
    secret_free(&l->given);
    secret_free(&l->bmc);
    for (size_t i = 0; i < l->nasked; i++)
        secret_free(&l->asked[i].secret);
    free(l);
    c->live = NULL;
}

/* --- what is told --- */

static void clear_progress(struct live *l)
{
    if (l->progress)
        (void)fputs("\r\033[K", l->c->err);
    l->progress = false;
}

static void show_progress(struct live *l)
{
    struct cli *c = l->c;

    if (c->env.term == NULL || strcmp(c->env.term, "dumb") == 0 || fileno(c->err) < 0 || !isatty(fileno(c->err)))
        return;
    (void)fprintf(c->err, "\r\033[K%s: %zu answers, %llu s", l->label, l->answers, (unsigned long long)((clock_ms() - l->begin) / 1000));
    (void)fflush(c->err);
    l->progress = true;
}

static void on_step(void *ctx, const struct login_step *s)
{
    static const char *const marks[] = {[LOGIN_OK] = "", [LOGIN_NOTE] = "note: ", [LOGIN_FAILED] = "failed: "};
    struct live *l = ctx;

    if (l->watch && l->watch->step)
        l->watch->step(l->watch->ctx, s);
    else if (l->c->verbose && s->result != LOGIN_FAILED) /* a failure is the command's message */
        cli_warn(l->c, "%s: %s: %s%s", l->label, s->what, marks[s->result], s->text);
}

static void on_answer(void *ctx, const struct shell_answer *a)
{
    struct live *l = ctx;

    l->answers++;
    if (l->watch && l->watch->answered)
        l->watch->answered(l->watch->ctx, a);
    else
        show_progress(l);
}

/* --- what is asked --- */

bool live_question(struct cli *c, const char *question, char *answer, size_t size)
{
    _cleanup_(fsx_close) int fd = c->live_options.batch ? -1 : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    struct pollfd p = {fd, POLLIN, 0};
    size_t n = 0;

    if (fd < 0)
        return false;
    clear_progress(live_of(c));
    if (write(fd, question, strlen(question)) < 0)
        return false;
    while (n + 1 < size && clock_poll(&p, 1, UINT64_MAX) == WAIT_READY) {
        char ch;

        if (read(fd, &ch, 1) != 1)
            return false;
        if (ch == '\n')
            break;
        answer[n++] = ch;
    }
    answer[n] = '\0';
    return !stop_wanted();
}

static bool on_unknown_key(void *ctx, const struct login_identity *who)
{
    struct live *l = ctx;
    _cleanup_(buf_done) struct buf q = BUF_INIT(4096);
    char answer[200];

    buf_printf(&q, "The key of %s (%s) is not known%s:\n  %s %s\nOn the host: ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub\n"
               "Is it right? yes, no, or the fingerprint: ", l->label, who->host, who->verdict == HOSTKEY_OTHER_TYPE ? ", only keys of other types are" : "", who->type, who->fingerprint);
    if (!live_question(l->c, buf_z(&q), answer, sizeof answer))
        return false;
    return strcmp(answer, "yes") == 0 || strcmp(answer, who->fingerprint) == 0;
}

/* By an option, or as a credential of systemd. Returns 1 when none is given. */
static int given_password(struct live *l, const char *file, const char *command, const char *credential, struct secret **out, struct err *e)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4200);

    if (file)
        return secret_from_file(file, out, e);
    if (command)
        return secret_from_command(command, PASSWORD_MS, out, e);
    if (!l->c->env.credentials)
        return 1;
    buf_printf(&path, "%s/%s", l->c->env.credentials, credential);
    return fsx_kind(buf_z(&path)) == FSX_NONE ? 1 : secret_from_file(buf_z(&path), out, e);
}

int live_bmc_password(void *ctx, const char *user, const char *host, const struct secret **out, struct err *e)
{
    struct cli *c = ctx;
    struct live *l = live_of(c);
    const struct live_values *v = &c->live_options;
    char prompt[700];
    int rc = l->bmc ? 0 : given_password(l, v->bmc_password_file, v->bmc_password_command, "vmkfit.bmc-password", &l->bmc, e);

    if (rc == 1 && v->batch)
        return err_set(e, VF_EUNSUPPORTED, "no password is given: --bmc-password-file, --bmc-password-command");
    clear_progress(l);
    (void)snprintf(prompt, sizeof prompt, "Password of %s@%s (BMC): ", user, host);
    if (rc == 1)
        rc = secret_from_terminal(prompt, &l->bmc, e);
    if (rc == VF_EUNSUPPORTED)
        return err_set(e, VF_EUNSUPPORTED, "no password is given, and there is no terminal to ask for it");
    *out = l->bmc;
    return rc;
}

/* One that holds for all hosts, else one for each account, asked for once. */
static int on_password(void *ctx, const char *user, const char *host, const struct secret **out, struct err *e)
{
    struct live *l = ctx;
    char account[600], prompt[700];
    const struct live_values *v = &l->c->live_options;
    int rc = l->given ? 0 : given_password(l, v->password_file, v->password_command, "vmkfit.password", &l->given, e);

    if (rc <= 0) {
        *out = l->given;
        return rc;
    }
    (void)snprintf(account, sizeof account, "%s@%s", user, host);
    for (size_t i = 0; i < l->nasked; i++)
        if (strcmp(l->asked[i].account, account) == 0) {
            *out = l->asked[i].secret;
            return 0;
        }
    if (l->c->live_options.batch || l->nasked == MAX_PASSWORDS)
        return err_set(e, VF_EUNSUPPORTED, "no password is given");
    clear_progress(l);
    (void)snprintf(prompt, sizeof prompt, "Password of %s: ", account);
    rc = secret_from_terminal(prompt, &l->asked[l->nasked].secret, e);
    if (rc == VF_EUNSUPPORTED)
        return err_set(e, VF_EUNSUPPORTED, "no password is given, and there is no terminal to ask for it");
    if (rc < 0)
        return rc;
    (void)snprintf(l->asked[l->nasked].account, sizeof account, "%s", account);
    *out = l->asked[l->nasked++].secret;
    return 0;
}

/* --- a host --- */

static int seconds(const char *text, const char *option, uint32_t *ms, struct err *e)
{
    uint64_t n;

    if (!text)
        return 0;
    if (num_parse_u64(slice_of(text), &n) < 0 || n == 0 || n > 86400)
        return err_set(e, VF_EUSAGE, "--%s wants seconds, from 1 to 86400, not \"%s\"", option, text);
    *ms = (uint32_t)n * 1000;
    return 0;
}

static int options(struct cli *c, struct login_opt *o, struct err *e)
{
    const struct live_values *v = &c->live_options;
    struct live *l = live_of(c);
    uint32_t host = HOST_MS, stage = 0;

    *o = (struct login_opt){.by = (enum login_by)v->by, .config = v->config, .known_hosts = v->known_hosts, .person = &l->person, .agent = c->env.agent,
                            .variable = c->env.variable, .ledger = l->ledger, .times = SSH_TIMES, .command_ms = COMMAND_MS, .password = on_password,
                            .trust = v->batch ? NULL : on_unknown_key, .step = on_step, .answered = on_answer, .ctx = l};
    if (seconds(v->timeout, "timeout", &host, e) < 0 || seconds(v->connect_timeout, "connect-timeout", &stage, e) < 0 ||
        seconds(v->command_timeout, "command-timeout", &o->command_ms, e) < 0)
        return e->code;
    if (stage)
        o->times = (struct ssh_times){stage, stage, stage, stage, stage, o->times.close};
    o->deadline = clock_ms() + host;
    return 0;
}

int live_open(struct cli *c, const char *text, const struct live_watch *watch, struct arena *a, struct target *out, struct err *e)
{
    struct target_host *host = arena_alloc(a, sizeof *host);
    struct login_opt *o = arena_alloc(a, sizeof *o);
    struct live *l = live_of(c);
    struct channel *channel;
    int rc;

    if (!host || !o)
        return err_set(e, VF_ELIMIT, "no room left for a connection");
    if (target_parse(text, a, host, e) < 0 || options(c, o, e) < 0)
        return e->code;
    o->patient = watch && watch->step;
    l->watch = watch;
    l->label = host->host;
    l->answers = 0;
    l->begin = clock_ms();
    rc = login_open(host, o, a, &channel, e);
    clear_progress(l);
    if (rc < 0)
        return err_ctx(e, "%s", text);
    *out = (struct target){.label = host->host, .path = text, .channel = channel, .kind = "live host"};
    return 0;
}

void live_end(struct cli *c)
{
    clear_progress(live_of(c));
}

int live_identity(struct cli *c, const char *text, struct target_host *t, struct login_opt *o, struct arena *a, struct login_identity *out, struct err *e)
{
    struct live *l = live_of(c);

    if (target_parse(text, a, t, e) < 0 || options(c, o, e) < 0)
        return e->code;
    l->watch = NULL;
    l->label = t->host;
    if (login_identity(t, o, a, out, e) < 0)
        return err_ctx(e, "%s", text);
    return 0;
}
