#include <stddef.h>

#include "base/table.h"
#include "cmd/bmc.h"
#include "cmd/env.h"
#include "cmd/live.h"

#define MAX_ANSWERS 20000u

/* One command that the host was asked, and how it went. */
struct asked {
    const char *what, *status, *why; /* as a recording has it; why: note or first words of a refusal */
    uint32_t elapsed_ms;
    size_t bytes;
    bool refused;
};

struct doctor {
    struct cli *c;
    struct arena *a;
    struct asked *v;
    size_t n, cap;
    bool failed;
};

static void line(struct doctor *d, const char *style, const char *mark, const char *what, const char *text)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8192);

    buf_printf(&b, "%s%-6s%s  %-14s", style, mark, *style ? cli_style(d->c, STYLE_NONE) : "", what);
    opts_wrap(&b, text, 22, 22, cli_text_width(d->c));
    (void)cli_write(d->c, &b);
    (void)fflush(d->c->out);
}

static void on_step(void *ctx, const struct login_step *s)
{
    static const char *const marks[] = {[LOGIN_OK] = "ok", [LOGIN_NOTE] = "note", [LOGIN_FAILED] = "FAILED"};
    static const enum style styles[] = {[LOGIN_OK] = STYLE_GREEN, [LOGIN_NOTE] = STYLE_DIM, [LOGIN_FAILED] = STYLE_RED};
    struct doctor *d = ctx;
    const char *time = s->elapsed_ms >= 10 ? arena_printf(d->a, "%s (%u.%02u s)", s->text, s->elapsed_ms / 1000, s->elapsed_ms % 1000 / 10) : s->text;

    line(d, cli_style(d->c, styles[s->result]), marks[s->result], s->what, time ? time : s->text);
    if (s->remedy)
        line(d, "", "", "remedy", s->remedy);
    d->failed |= s->result == LOGIN_FAILED;
}

/* A refusal in the command's own words: its first line that says something. */
static const char *first_words(struct doctor *d, struct slice body)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(400);

    buf_add_safe(&b, slice_cut(slice_first_line(body), 0, 100));
    return arena_printf(d->a, "%s", buf_z(&b));
}

static void on_answer(void *ctx, const struct shell_answer *r)
{
    struct doctor *d = ctx;
    void *v = d->v;
    struct asked *a;

    if (arena_grow(d->a, &v, d->n, &d->cap, sizeof *d->v, MAX_ANSWERS) < 0)
        return;
    d->v = v;
    a = &d->v[d->n++];
    *a = (struct asked){.status = r->status, .elapsed_ms = r->elapsed_ms, .bytes = r->reply->body.n};
    a->what = arena_printf(d->a, "%s" SLICE_FMT, r->ask->kind == ASK_ESXCLI ? "esxcli " : "",
                           SLICE_ARG(r->ask->kind == ASK_FILE && r->reply->where.n ? r->reply->where : r->ask->text));
    a->refused = r->reply->status == REPLY_OK && r->reply->exit_code > 0;
    a->why = a->refused ? first_words(d, r->reply->body) : r->reply->note ? arena_printf(d->a, "%s", r->reply->note) : "";
}

/* --- what the answers say of the host --- */

static bool says(const struct asked *a, const char *words)
{
    return slice_find(slice_of(a->why), 0, words) != SIZE_MAX;
}

static void judge_hostd(struct doctor *d, const struct target *t)
{
    const char *trouble = channel_trouble(t->channel);
    size_t good = 0;

    for (size_t i = 0; i < d->n; i++)
        good += strcmp(d->v[i].status, "ok") == 0 && !d->v[i].refused && strncmp(d->v[i].what, "esxcli ", 7) == 0;
    if (trouble && strstr(trouble, "hostd")) {
        line(d, cli_style(d->c, STYLE_RED), "FAILED", "hostd", trouble);
        line(d, "", "", "remedy", "/etc/init.d/hostd restart, when no task is running; /var/log/hostd.log says why it stopped");
        d->failed = true;
    } else if (trouble) {
        line(d, cli_style(d->c, STYLE_RED), "FAILED", "answers", trouble);
        d->failed = true;
    } else if (good) {
        line(d, cli_style(d->c, STYLE_GREEN), "ok", "hostd", "esxcli answers");
    } else {
        line(d, cli_style(d->c, STYLE_RED), "FAILED", "host", "no esxcli command was answered: is it an ESXi host?");
        d->failed = true;
    }
}

static void judge_privileges(struct doctor *d)
{
    const struct asked *first = NULL;
    size_t denied = 0;

    for (size_t i = 0; i < d->n; i++)
        if (says(&d->v[i], "ermission denied") || says(&d->v[i], "not permitted") || says(&d->v[i], "rivilege")) {
            first = first ? first : &d->v[i];
            denied++;
        }
    if (!denied) {
        line(d, cli_style(d->c, STYLE_GREEN), "ok", "privileges", "nothing was denied");
        return;
    }
    line(d, cli_style(d->c, STYLE_RED), "FAILED", "privileges", arena_printf(d->a, "%zu questions were denied, the first: %s: %s", denied, first->what, first->why));
    line(d, "", "", "remedy", "use root, or an account with the role Administrator on the host");
    d->failed = true;
}

static void judge_answers(struct doctor *d)
{
    size_t late = 0;

    for (size_t i = 0; i < d->n; i++)
        late += strcmp(d->v[i].status, "timeout") == 0 || strcmp(d->v[i].status, "lost") == 0;
    if (!late)
        return;
    line(d, cli_style(d->c, STYLE_RED), "FAILED", "answers", arena_printf(d->a, "%zu questions were not answered to the end; the list below has them", late));
    line(d, "", "", "remedy", "a device or a service that does not respond, or a slow host: --command-timeout, --timeout");
    d->failed = true;
}

/* Every question with its time, in the order of asking. */
static void list_answers(struct doctor *d)
{
    static const struct text_column columns[] = {
        {"seconds", true, TEXT_KEEP}, {"bytes", true, TEXT_KEEP}, {"result", false, TEXT_KEEP}, {"question", false, TEXT_WRAP}};
    struct text_table *t = text_table_new(columns, sizeof columns / sizeof *columns);
    _cleanup_(buf_done) struct buf b = BUF_INIT(16u << 20);
    uint64_t total = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct asked *a = &d->v[i];
        const char *text = *a->why && (a->refused || strcmp(a->status, "ok") != 0) ? arena_printf(d->a, "%s: %s", a->what, a->why) : a->what;
        struct slice cells[] = {slice_of(arena_printf(d->a, "%u.%03u", a->elapsed_ms / 1000, a->elapsed_ms % 1000)),
                                slice_of(arena_printf(d->a, "%zu", a->bytes)), slice_of(a->refused ? "refused" : a->status), slice_of(text)};

        total += a->elapsed_ms;
        text_table_add(t, cells);
    }
    buf_addc(&b, '\n');
    text_table_print(t, cli_table_width(d->c), &b);
    buf_printf(&b, "%zu questions, %llu.%llu s\n", d->n, (unsigned long long)(total / 1000), (unsigned long long)(total % 1000 / 100));
    text_table_free(&t);
    (void)cli_write(d->c, &b);
}

/* The BMC that --bmc names: was it read, and is it this host's. */
static void judge_bmc(struct doctor *d, const struct target *t, const struct facts *f)
{
    const char *why = redfish_trouble(t->channel) ? redfish_trouble(t->channel) : derive_bmc_refused(f);

    d->failed |= why != NULL;
    if (why)
        line(d, cli_style(d->c, STYLE_RED), "FAILED", "BMC", why);
    else
        line(d, cli_style(d->c, STYLE_GREEN), "ok", "BMC", arena_printf(d->a, "it is this host's, and tells of %zu devices", facts_count(f, facts_table_index(f, "bmc-device"))));
}

/* --- one host --- */

static int examine(struct cli *c, struct env *env, const char *text, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(ENV_MAX_HOST);
    struct doctor d = {.c = c, .a = a};
    const struct live_watch watch = {on_step, on_answer, &d};
    struct target t = {.channel = NULL};
    struct facts *f;
    int rc;

    if (live_open(c, text, &watch, a, &t, e) < 0) {
        bool told = d.failed;

        return told ? STATUS_INCOMPLETE : cli_fail(c, "doctor", e);
    }
    if (bmc_attach(c, &t, a, e) < 0) {
        channel_close(&t.channel);
        return cli_fail(c, "doctor", e);
    }
    rc = env_gather(env, &t, a, &f, e);
    live_end(c);
    if (rc == 0 && c->live_options.bmc)
        judge_bmc(&d, &t, f);
    if (rc == 0) {
        judge_hostd(&d, &t);
        judge_privileges(&d);
        judge_answers(&d);
        list_answers(&d);
    }
    channel_close(&t.channel);
    return rc < 0 ? cli_fail(c, "doctor", e) : d.failed ? STATUS_INCOMPLETE : STATUS_OK;
}

static int run(struct cli *c, int argc, char **argv)
{
    _cleanup_(env_close) struct env env = {0};
    struct err e = {0};
    int n, status, worst = STATUS_OK;

    if (!cli_parse(c, &cmd_doctor, NULL, argc, argv, &n, &status))
        return status;
    if (n == 0)
        (void)err_set(&e, VF_EUSAGE, "which HOST?");
    if (e.code || env_open(&env, c->data, c->env.data, &e) < 0)
        return cli_fail(c, "doctor", &e);
    for (int i = 0; i < n; i++) {
        e = (struct err){0};
        if (n > 1)
            (void)fprintf(c->out, "%s%s\n", i ? "\n" : "", argv[i]);
        status = examine(c, &env, argv[i], &e);
        worst = worst == STATUS_OK || status == STATUS_FAILED ? status : worst;
    }
    return worst;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "why a host cannot be read, step by step, with the remedy",
    .usage = "HOST...",
    .examples = "vmkfit doctor root@esx01\n"
                "vmkfit doctor --ssh openssh esx01\n",
    .description =
        "Goes the way that scan goes, and tells each step: what ssh's configuration says, name and port, the host's key, each way to log in, the shell, "
        "hostd, privileges, and every question with the time it took. A password is tried once at most, and only when no key is accepted. What a host "
        "has no command for is missing; that is usual, since releases differ.\n\n"
        "Exit status: 0 all is well, 3 something on the way failed.",
    .group = &hosts_over_ssh,
    .run = run,
};
