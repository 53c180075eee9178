#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "base/digest.h"
#include "base/fsx.h"
#include "cmd/bmc.h"
#include "cmd/cmd.h"
#include "cmd/env.h"
#include "collect/anonymise.h"
#include "decode/redfish.h"
#include "net/recording.h"
#include "net/tap.h"

#define MAX_NAME 64u           /* of a host's folder */
#define MAX_BODY (300u << 20)  /* one answer; a log of 64 MB, each byte of which may be escaped */

struct record_values {
    const char *output;
    bool anonymise;
};

static const struct opt record_opts[] = {
    {"output", 'o', OPT_TEXT, offsetof(struct record_values, output), "DIR", "folder for the recording: a new one, or an empty one", NULL},
    {"anonymise", 0, OPT_FLAG, offsetof(struct record_values, anonymise), NULL,
     "replace names of hosts and machines, addresses, serial numbers, WWNs and UUIDs, the same everywhere", NULL},
    {0},
};

struct run {
    struct cli *c;
    struct env *env;
    const struct record_values *v;
    bool several;
    size_t nhosts, incomplete;
    uint8_t key[16];
};

/* DIR, or a folder of its own in there for each of several hosts; an anonymised one is not called after the host. */
static int folder_of(struct run *r, const struct env_host *h, struct buf *out, struct err *e)
{
    size_t begin;

    buf_addz(out, r->v->output);
    if (!r->several && h->count == 1)
        return 0;
    if (mkdir(r->v->output, 0700) < 0 && fsx_kind(r->v->output) != FSX_FOLDER)
        return err_set(e, VF_EIO, "%s: the folder cannot be made", r->v->output);
    buf_addc(out, '/');
    begin = out->n;
    for (const char *p = h->target->label; *p && !r->v->anonymise && out->n < begin + MAX_NAME; p++)
        buf_addc(out, (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || (strchr("._-", *p) && out->n > begin) ? *p : '_');
    if (out->n == begin || fsx_kind(buf_z(out)) != FSX_NONE)
        buf_printf(out, "%shost-%zu", out->n == begin ? "" : "_", r->nhosts);
    return 0;
}

/* What one answer says by itself: the facts of all know nothing where it contradicts another. Logs have names by their patterns only. */
static bool learn_alone(const struct run *r, const struct tapped *t, struct anonymiser *x)
{
    _cleanup_(arena_done) struct arena *a = NULL;
    enum decode_state state;
    struct facts *f;
    size_t matched;
    struct err e;

    if (t->ask.kind == ASK_FILE || t->reply.body.n == 0)
        return true;
    a = arena_new(ENV_MAX_HOST);
    f = facts_new(&r->env->schema, a);
    if (!f)
        return false;
    (void)collect_decode(&r->env->probes, t->command, t->reply.body, t->file, f, &state, &matched, &e); /* what there is counts */
    return anonymiser_facts(x, f) == 0 && anonymiser_hostname(x, &t->ask, t->reply.body) == 0;
}

/* What tells whose host it is, learned from everything that was answered, and from what was said of the host as a whole. */
static int learn(const struct run *r, const struct env_host *h, const struct tapped *v, size_t n, struct arena *a, struct anonymiser **out, struct err *e)
{
    struct anonymiser *x = anonymiser_new(r->key, a);
    struct redfish_opt bmc;
    bool ok = x && anonymiser_facts(x, h->facts) == 0 && (h->target->channel->ops->saved || anonymiser_host(x, slice_of(h->target->label)) == 0);

    if (ok && r->c->live_options.bmc && bmc_options(r->c, false, a, &bmc, e) == 0)
        ok = anonymiser_host(x, slice_of(bmc.http.host)) == 0;
    for (size_t i = 0; i < n && ok; i++)
        ok = learn_alone(r, &v[i], x);
    for (size_t i = 0; i < n && ok; i++)
        ok = anonymiser_learn(x, &v[i].ask, v[i].reply.body) == 0 && anonymiser_learn(x, NULL, v[i].command) == 0 &&
             anonymiser_learn(x, NULL, slice_of(v[i].file)) == 0 && anonymiser_learn(x, NULL, slice_of(v[i].reply.note ? v[i].reply.note : "")) == 0;
    if (ok && h->incomplete)
        ok = anonymiser_learn(x, NULL, slice_of(h->incomplete)) == 0;
    if (!ok)
        return err_set(e, VF_ELIMIT, "no room left for the names of this host");
    *out = x;
    return anonymiser_seal(x, e);
}

/* Text with x applied, or as it is without one. b holds it. */
static int change(const struct anonymiser *x, struct slice in, struct buf *b, struct slice *out, struct err *e)
{
    *out = in;
    if (!x || in.n == 0)
        return 0;
    if (anonymiser_apply(x, in, b, e) < 0)
        return e->code;
    *out = buf_slice(b);
    return 0;
}

static int add(struct recording *rec, const struct anonymiser *x, struct channel *tap, const struct tapped *t, struct err *e)
{
    _cleanup_(buf_done) struct buf command = BUF_INIT(64u << 10), body = BUF_INIT(MAX_BODY), note = BUF_INIT(64u << 10), less = BUF_INIT(MAX_BODY);
    struct slice as_command, as_body, as_note;
    struct reply reply = t->reply;
    const char *file = t->file;

    if (x && t->ask.kind == ASK_REDFISH && reply.body.n) {
        if (redfish_reduce(reply.body, &less) < 0)
            buf_addz(&less, "{}\n"); /* nothing that could be told names from the rest */
        reply.body = buf_slice(&less);
    }
    if (change(x, t->command, &command, &as_command, e) < 0 || change(x, reply.body, &body, &as_body, e) < 0 ||
        change(x, slice_of(t->reply.note ? t->reply.note : ""), &note, &as_note, e) < 0)
        return e->code;
    if (x && t->reply.note)
        reply.note = buf_z(&note);
    if (x)
        file = tap_file(tap, t, as_command);
    if (!file)
        return err_set(e, VF_ELIMIT, "no room left for the names of files");
    return recording_add(rec, as_command, slice_of(file), &reply, as_body, e);
}

static void now(char out[32])
{
    time_t t = time(NULL);
    struct tm tm;

    (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
}

static int write_recording(struct run *r, const struct env_host *h, const char *folder, size_t *answers, size_t *bad, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(1u << 30);
    _cleanup_(buf_done) struct buf trouble = BUF_INIT(64u << 10);
    _cleanup_(recording_free) struct recording *rec = NULL;
    struct slice said = slice_of(h->incomplete ? h->incomplete : "");
    struct anonymiser *x = NULL;
    char taken[32];
    const struct tapped *v = tap_answers(h->target->channel, answers);

    *bad = 0;
    if (r->v->anonymise && learn(r, h, v, *answers, a, &x, e) < 0)
        return e->code;
    if (recording_new(folder, &rec, e) < 0)
        return e->code;
    for (size_t i = 0; i < *answers; i++) {
        *bad += v[i].reply.status != REPLY_OK || v[i].reply.cut;
        if (add(rec, x, h->target->channel, &v[i], e) < 0)
            return e->code;
    }
    if (change(x, said, &trouble, &said, e) < 0)
        return e->code;
    now(taken);
    return recording_end(rec, taken, said.n ? arena_dup(a, said).p : NULL, e);
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    _cleanup_(buf_done) struct buf folder = BUF_INIT(8192), b = BUF_INIT(16u << 10);
    struct run *r = ctx;
    size_t answers, bad;

    r->nhosts++;
    if (!h->target->channel)
        return err_set(e, VF_EFORMAT, "%s: %s", h->target->label, h->incomplete ? h->incomplete : "nothing of it can be read");
    if (folder_of(r, h, &folder, e) < 0 || write_recording(r, h, buf_z(&folder), &answers, &bad, e) < 0)
        return e->code;
    if (h->incomplete)
        cli_warn(r->c, "%s: %s", h->target->label, h->incomplete);
    r->incomplete += h->incomplete || bad || answers == 0;
    buf_add_safe(&b, buf_slice(&folder));
    buf_printf(&b, ": %zu answers%s", answers, r->v->anonymise ? ", anonymised" : "");
    if (bad)
        buf_printf(&b, ", %zu of them failed or cut", bad);
    buf_addc(&b, '\n');
    return cli_write(r->c, &b) ? err_set(e, VF_EIO, "standard output: cannot be written") : 0;
}

static int run(struct cli *c, int argc, char **argv)
{
    struct record_values v = {.output = NULL};
    _cleanup_(env_close) struct env env = {0};
    struct run r = {.c = c, .env = &env, .v = &v};
    struct err e = {0};
    int n, status, failed = STATUS_OK;

    if (!cli_parse(c, &cmd_record, &v, argc, argv, &n, &status))
        return status;
    if (n == 0)
        (void)err_set(&e, VF_EUSAGE, "what to record? A host, a folder of outputs, or a support bundle");
    else if (!v.output || !*v.output)
        (void)err_set(&e, VF_EUSAGE, "--output DIR says where to");
    if (e.code || recording_check(v.output, &e) < 0 || env_open(&env, c->data, c->env.data, &e) < 0 || random_bytes(r.key, sizeof r.key) < 0)
        return cli_fail(c, "record", &e);
    env.cli = c;
    env.tap = true;
    r.several = n > 1;
    for (int i = 0; i < n; i++)
        if (env_hosts(&env, argv[i], on_host, &r, &e) < 0) {
            status = cli_fail(c, "record", &e);
            failed = failed == STATUS_OK || status == STATUS_FAILED ? status : failed;
        }
    return failed ? failed : r.incomplete ? STATUS_INCOMPLETE : STATUS_OK;
}

const struct command cmd_record = {
    .name = "record",
    .summary = "save every raw answer of a host, to look at it again later or elsewhere",
    .usage = "TARGET... -o DIR",
    .examples = "vmkfit record root@esx01 -o esx01-before\n"
                "vmkfit scan esx01-before                      # says what a scan of the host said\n"
                "vmkfit record root@esx01 --anonymise -o case  # to send to somebody\n"
                "vmkfit record bundle.tgz --anonymise -o case\n",
    .description =
        "Asks everything that scan asks and writes the answers as they came, a file each, and recording.json, which tells what was asked and how "
        "it ended. Every command takes the folder in place of the host. Of several targets, each has a folder in DIR. TARGET may also be saved "
        "answers, such as a support bundle: what a scan reads of it is taken out.\n\n"
        "--anonymise replaces host, domain and machine names, datastores and port groups, IP and MAC addresses, serial numbers, WWNs, UUIDs and iSCSI "
        "names, each by the same other one of the same width wherever and however it is spelled; models, versions, PCI ids and times stay, and a "
        "scan finds the same. A text that nothing marks as a name (a comment, an odd log line) cannot be recognised: look through the folder before "
        "it is sent.\n\n"
        "Exit status: 0 all was read, 1 nothing was written, 3 incomplete: a host was not reached, or not all of it was read; answers that "
        "failed or were cut count.",
    .opts = record_opts,
    .group = &hosts_over_ssh,
    .run = run,
};
