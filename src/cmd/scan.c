#include <stddef.h>

#include "cmd/cmd.h"
#include "cmd/layers.h"
#include "cmd/waivers.h"
#include "cmd/site.h"
#include "out/report.h"

#define MAX_NAMES 40u /* of files not used */

static const char *const levels[] = {"note", "warning", "critical", "never", NULL}; /* in the order of enum severity */

struct scan_values {
    bool json, strict;
    int fail_on;
    const char *upgrade_to, *day;
    struct opt_list rules, waiver_files, facts;
};

static const struct opt scan_opts[] = {
    {"json", 0, OPT_FLAG, offsetof(struct scan_values, json), NULL, "everything as JSON (docs/schema/scan.json)", NULL},
    {"fail-on", 0, OPT_CHOICE, offsetof(struct scan_values, fail_on), NULL, "exit with 2 from this severity on (default warning)", levels},
    {"strict", 0, OPT_FLAG, offsetof(struct scan_values, strict), NULL, "exit with 3 also when a rule could not be decided", NULL},
    {"upgrade-to", 0, OPT_TEXT, offsetof(struct scan_values, upgrade_to), "RELEASE", "also apply the rules about an upgrade to this release, such as 7.0",
     NULL},
    {"rules", 0, OPT_LIST, offsetof(struct scan_values, rules), "FILE,...", "further rule files or folders; a rule there replaces one of the same id", NULL},
    WAIVER_OPTS(struct scan_values),
    {"facts", 0, OPT_LIST, offsetof(struct scan_values, facts), "FILE,...", SITE_OPT_HELP, NULL},
    {0},
};

struct run {
    struct cli *c;
    const struct env *env;
    const struct scan_values *v;
    struct ruleset rules;
    struct layers layers;
    struct site_waivers waivers;
    struct release upgrade_to;
    const char *path;
    struct js *hosts;
    struct slice today;
    size_t nhosts, incomplete, unread, with[3]; /* with: hosts by their most severe finding */
    size_t waived;    /* findings that waivers hide */
    size_t failed;    /* targets of which nothing can be read */
    size_t unreached; /* live hosts that could not be connected to, or not logged in to */
    bool findings, unsure;
};

static void style_of(const struct cli *c, struct report_style *s)
{
    *s = (struct report_style){.width = cli_text_width(c), .verbose = c->verbose, .bold = cli_style(c, STYLE_BOLD),
                               .dim = cli_style(c, STYLE_DIM), .red = cli_style(c, STYLE_RED), .yellow = cli_style(c, STYLE_YELLOW),
                               .green = cli_style(c, STYLE_GREEN), .none = cli_style(c, STYLE_NONE)};
}

/* Files whose names answer nothing that is asked: perhaps only misnamed. A support bundle always has many. */
static void not_used(const struct env *env, const struct target *t, const struct report_style *style, struct buf *out)
{
    const char *names[MAX_NAMES];
    bool usual = strcmp(t->kind, "support bundle") == 0 && !style->verbose;
    size_t n = usual ? 0 : env_not_understood(env, t, names, MAX_NAMES);
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10), safe = BUF_INIT(256u << 10);

    if (n == 0)
        return;
    buf_printf(&b, "%zu of %zu files, whose names answer nothing that is asked%s", n, t->files, style->verbose ? ": " : " (-v names them)");
    for (size_t i = 0; style->verbose && i < n && i < MAX_NAMES; i++)
        buf_printf(&b, "%s%s", i ? "; " : "", names[i]);
    if (n > MAX_NAMES && style->verbose)
        buf_printf(&b, "; and %zu more", n - MAX_NAMES);
    buf_add_safe(&safe, buf_slice(&b));
    buf_printf(out, "  %snot used    %s", style->dim, style->none);
    opts_wrap(out, buf_z(&safe), 14, 14, style->width);
}

static struct js *host_json(const struct env *env, const struct report *report, const struct target *t)
{
    const char *names[MAX_NAMES];
    size_t n = env_not_understood(env, t, names, MAX_NAMES);
    struct js *host = report_json(report), *unused = js_array();

    for (size_t i = 0; i < n && i < MAX_NAMES; i++)
        js_add(unused, js_textz(names[i]));
    js_put(host, "files", js_int((int64_t)t->files));
    js_put(host, "files_not_used", js_int((int64_t)n));
    js_put(host, "not_used", unused);
    return host;
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 30);
    struct run *r = ctx;
    struct match_ctx m = {.rules = &r->rules, .facts = h->facts, .upgrade_to = r->upgrade_to, .arena = h->facts->arena};
    struct report_source s = {.target = h->target->path, .label = h->target->label, .kind = h->target->kind, .incomplete = h->incomplete,
                              .unread = !h->target->channel, .stated = h->stated, .nstated = h->nstated, .today = r->today, .layers = layers_text(&r->layers),
                              .waivers = &r->waivers.all};
    struct report_style style;
    struct report report;
    static const enum severity never = SEV_CRITICAL + 1;
    enum severity fail_on = (enum severity)r->v->fail_on;

    if (report_build(&m, &s, &report, e) < 0)
        return e->code;
    r->nhosts++;
    r->incomplete += h->incomplete || report.ndamaged;
    r->unread += report.unread;
    r->waived += report.waived;
    r->unsure |= report.unsure > 0 || report.nblind > 0;
    for (unsigned k = 0; k < 3; k++)
        r->findings |= fail_on != never && k >= (unsigned)fail_on && report.counts[k];
    for (unsigned k = 3; k-- > 0;)
        if (report.counts[k]) {
            r->with[k]++;
            break;
        }
    if (r->v->json) {
        js_add(r->hosts, host_json(r->env, &report, h->target));
        return 0;
    }
    if (r->nhosts > 1)
        buf_addc(&b, '\n');
    style_of(r->c, &style);
    report_text(&report, &style, &b);
    if (r->v->day)
        buf_printf(&b, "  %sday         %s  waivers are judged as of " SLICE_FMT " (--day)\n", style.dim, style.none, SLICE_ARG(r->waivers.all.today));
    not_used(r->env, h->target, &style, &b);
    return cli_write(r->c, &b) ? err_set(e, VF_EIO, "standard output: cannot be written") : 0;
}

static int scan_status(const struct run *r)
{
    if (r->failed)
        return STATUS_FAILED;
    if (r->findings)
        return STATUS_FINDINGS;
    return r->incomplete || r->unreached || r->layers.refused || r->waivers.nrefused || (r->v->strict && r->unsure) ? STATUS_INCOMPLETE : STATUS_OK;
}

/* About the waivers as such; what they did stands with the hosts' findings. */
static struct js *waivers_json(const struct run *r)
{
    struct js *o = js_object(), *refused = js_array(), *gone = js_array(), *unused = js_array();

    for (size_t i = 0; i < r->waivers.nrefused; i++)
        js_add(refused, js_textz(r->waivers.refused[i]));
    for (size_t i = 0; i < r->waivers.all.n; i++) {
        const struct waiver *w = &r->waivers.all.v[i];

        if (w->fitted == 0)
            js_add(waiver_known(w, &r->rules.rules) ? unused : gone, waiver_json(w));
    }
    js_put(o, "day", js_text(r->waivers.all.today));
    js_put(o, "loaded", js_int((int64_t)r->waivers.all.n));
    js_put(o, "files_refused", refused);
    js_put(o, "rule_gone", gone);
    js_put(o, "unused", unused);
    return o;
}

static int print_json(struct run *r)
{
    struct js *doc = js_object(), *rules = js_object(), *totals = js_object(), *unused = js_array();
    const struct sitefacts *site = r->env->site;

    for (size_t i = 0; site && i < site->n; i++)
        if (!site->v[i].used) {
            struct js *one = js_object();

            js_put(one, "file", js_textz(site->v[i].file));
            js_put(one, "line", js_int(site->v[i].line));
            js_put(one, "why", js_textz(site_unused(r->env, &site->v[i])));
            js_add(unused, one);
        }
    js_put(rules, "loaded", js_int((int64_t)r->rules.rules.n));
    js_put(rules, "newest_review", js_text(r->rules.newest));
    js_put(rules, "layers", layers_json(&r->layers));
    js_put(totals, "hosts", js_int((int64_t)r->nhosts));
    js_put(totals, "incomplete", js_int((int64_t)r->incomplete));
    js_put(totals, "targets_failed", js_int((int64_t)r->failed));
    js_put(totals, "hosts_unreached", js_int((int64_t)r->unreached));
    js_put(totals, "exit_status", js_int(scan_status(r)));
    js_put(doc, "schema_version", js_int(REPORT_JSON_VERSION));
    js_put(doc, "vmkfit", js_textz(VMKFIT_VERSION));
    js_put(doc, "rules", rules);
    js_put(doc, "waivers", waivers_json(r));
    js_put(doc, "upgrade_to", js_textz(r->v->upgrade_to));
    js_put(doc, "hosts", r->hosts);
    js_put(doc, "facts_unused", unused);
    js_put(doc, "totals", totals);
    r->hosts = NULL;
    return cli_write_json(r->c, &doc);
}

/* Waivers that no finding of any host fits: perhaps their reason is gone. */
static int print_unused(const struct run *r)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8u << 20), safe = BUF_INIT(16u << 20);
    struct report_style style;
    size_t n = 0;

    style_of(r->c, &style);
    for (size_t i = 0; i < r->waivers.all.n; i++) {
        const struct waiver *w = &r->waivers.all.v[i];

        if (w->fitted || !waiver_known(w, &r->rules.rules))
            continue;
        buf_printf(&b, "%s" SLICE_FMT " on " SLICE_FMT " (%s:%u)", n++ ? "; " : "no finding fits the waiver of ", SLICE_ARG(w->rule), SLICE_ARG(w->host), w->file, w->line);
    }
    if (n == 0)
        return 0;
    buf_add_safe(&safe, buf_slice(&b));
    buf_reset(&b);
    buf_printf(&b, "\n%snot waived%s    ", style.dim, style.none);
    opts_wrap(&b, buf_z(&safe), 14, 14, style.width);
    return cli_write(r->c, &b);
}

/* The end of a report on several hosts, which nobody reads from the top. */
static int print_totals(const struct run *r)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096), text = BUF_INIT(4096);
    struct report_style style;

    style_of(r->c, &style);
    buf_printf(&text, "%zu with critical findings, %zu with warnings, %zu with neither", r->with[SEV_CRITICAL], r->with[SEV_WARNING],
               r->nhosts - r->unread - r->with[SEV_CRITICAL] - r->with[SEV_WARNING]);
    if (r->incomplete > r->unread)
        buf_printf(&text, "; %zu of these not read in full", r->incomplete - r->unread);
    if (r->unread)
        buf_printf(&text, "; %zu not read at all", r->unread);
    if (r->unreached)
        buf_printf(&text, "; %zu more not reached", r->unreached);
    if (r->waived)
        buf_printf(&text, "; %zu finding%s waived", r->waived, r->waived == 1 ? "" : "s");
    buf_printf(&b, "\n%s%-4zu hosts%s    ", style.bold, r->nhosts, style.none);
    opts_wrap(&b, buf_z(&text), 14, 14, style.width);
    return cli_write(r->c, &b);
}

static int scan(struct cli *c, struct run *r, struct env *env, char **targets, int n)
{
    struct err e = {0};
    int rc = 0;

    if (r->v->upgrade_to && release_parse(slice_of(r->v->upgrade_to), &r->upgrade_to, &e) < 0) {
        (void)err_ctx(&e, "--upgrade-to");
        e.code = VF_EUSAGE;
        return cli_fail(c, "scan", &e);
    }
    env->without_examples = true;
    if (site_open(env, &r->v->facts, &e) < 0)
        return cli_fail(c, "scan", &e);
    r->layers.env = env;
    if (layers_rules(&r->layers, r->v->rules.v, r->v->rules.n, &r->rules, &e) < 0)
        return cli_fail(c, "scan", &e);
    if (waivers_read(env, c, true, r->v->waiver_files.v, r->v->waiver_files.n, r->v->day, &r->waivers, &e) < 0)
        return cli_fail(c, "scan", &e);
    waivers_warn(c, &r->waivers, &r->rules.rules);
    for (int i = 0; i < n; i++) { /* a target that fails does not keep the others from being read */
        r->path = targets[i];
        rc = env_hosts(env, targets[i], on_host, r, &e);
        if (rc < 0) {
            int status = cli_fail(c, "scan", &e);

            if (status == STATUS_USAGE)
                return status;
            r->unreached += status == STATUS_INCOMPLETE;
            r->failed += status != STATUS_INCOMPLETE;
        }
    }
    site_end(env, c);
    rc = r->v->json ? print_json(r) : r->nhosts > 1 ? print_totals(r) : 0;
    if (rc == 0 && !r->v->json && c->verbose)
        rc = print_unused(r);
    return rc ? rc : scan_status(r);
}

static int run(struct cli *c, int argc, char **argv)
{
    struct scan_values v = {.fail_on = SEV_WARNING};
    struct run r = {.c = c, .v = &v};
    _cleanup_(env_close) struct env env = {0};
    _cleanup_(js_free) struct js *hosts = js_array();
    struct err e = {0};
    int n, status;

    if (!cli_parse(c, &cmd_scan, &v, argc, argv, &n, &status))
        return status;
    if (n == 0) {
        (void)err_set(&e, VF_EUSAGE, "what to scan? A host, a recording, a folder of saved outputs, or a support bundle");
        return cli_fail(c, "scan", &e);
    }
    if (env_open(&env, c->data, c->env.data, &e) < 0)
        return cli_fail(c, "scan", &e);
    env.cli = c;
    r.env = &env;
    r.hosts = hosts;
    r.today = cli_today(env.arena);
    status = scan(c, &r, &env, argv, n);
    hosts = r.hosts;
    return status;
}

const struct command cmd_scan = {
    .name = "scan",
    .summary = "read hosts, apply the rules, report findings and fixes",
    .usage = "TARGET...",
    .examples = "vmkfit scan root@esx01\n"
                "vmkfit scan fixtures/sys-5028d-6.5-before\n"
                "vmkfit scan esx-esx01-2024-05-01--08.12.tgz\n"
                "vmkfit scan -v --fail-on critical saved-outputs/\n"
                "vmkfit scan --json vcenter-support.zip > report.json\n",
    .description =
        "TARGET is a host (root@esx01), a recording, a folder of files named after the commands they answer (\"esxcli storage core adapter list.txt\", "
        "esxcli_software_vib_list.xml, vmkernel.log), a vm-support bundle (.tgz or unpacked), or a folder or archive of several of these, as a "
        "vCenter's .zip; then one host follows the other. What is not there is unknown, never ok.\n\n"
        "The report shows the commands of a fix only when every gate that facts can decide passes; else it says what stands in the way. vmkfit "
        "only reads; it never changes a host.\n\n"
        "A finding that a waiver accepts (docs/waivers.md) is listed as waived and does not count; a critical one stays, marked. Waivers are read from "
        "/etc/vmkfit/waivers.d/*.xml, vmkfit/waivers.d/*.xml below XDG_CONFIG_HOME (default ~/.config), and --waivers.\n\n"
        "Exit status: 0 nothing at or above --fail-on, 1 saved answers could not be read at all, 2 findings at or above --fail-on, 3 incomplete (a "
        "host was not reached, a host or an answer could not be read whole, or a pack or file of rules or of waivers could not be used; with --strict "
        "also rules that could not be decided). Of several the first of 1, 2, 3, 0 "
        "counts.",
    .opts = scan_opts,
    .group = &hosts_over_ssh,
    .run = run,
};
