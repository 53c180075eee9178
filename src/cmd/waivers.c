#include "cmd/waivers.h"

#include <limits.h>
#include <stddef.h>

#include "base/fsx.h"
#include "cmd/layers.h"
#include "cmd/places.h"

#define MAX_FILE    (8u << 20) /* a waiver has some 300 bytes */
#define MAX_REFUSED 1000u
#define SYSTEM_DIR  PLACE_SYSTEM_CONFIG "/waivers.d"

/* --- reading --- */

struct reading {
    struct env *v;
    const char *folder; /* that is walked */
    struct site_waivers *out;
};

static void refuse(struct reading *r, const char *why)
{
    void *v = r->out->refused;

    why = arena_printf(r->v->arena, "%s", why);
    if (!why || arena_grow(r->v->arena, &v, r->out->nrefused, &r->out->refused_cap, sizeof *r->out->refused, MAX_REFUSED) < 0)
        return;
    r->out->refused = v;
    r->out->refused[r->out->nrefused++] = why;
}

/* rel NULL: named by the user, whatever it is called. */
static bool concerns(const char *rel)
{
    return !rel || (!strchr(rel, '/') && slice_ends(slice_of(rel), ".xml"));
}

/* A link, a device: nothing that looks like a file of waivers is passed over in silence. */
static void skipped(void *ctx, const char *rel, enum fsx_skipped what, const char *why)
{
    struct reading *r = ctx;

    (void)what;
    if (concerns(rel))
        refuse(r, arena_printf(r->v->arena, "%s/%s: %s", r->folder, rel, why));
}

static int file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct reading *r = ctx;
    struct slice bytes;
    struct err why = {0};

    (void)e;
    if (!concerns(rel))
        return 0;
    if (fsx_read(path, MAX_FILE, r->v->arena, &bytes, NULL, &why) < 0 || waivers_load(&r->out->all, bytes, path, &why) < 0)
        refuse(r, why.msg);
    return 0;
}

/* A file, or the *.xml of a folder. optional: it need not be there. */
static void place(struct reading *r, const char *path, bool optional)
{
    struct err e = {0};

    switch (path ? fsx_kind(path) : FSX_NONE) {
    case FSX_FOLDER:
        r->folder = path;
        if (fsx_walk_readable(path, file, skipped, r, &e) < 0)
            refuse(r, e.msg);
        return;
    case FSX_NONE:
        if (!optional || !fsx_absent(path))
            refuse(r, arena_printf(r->v->arena, "%s: no such file or folder", path ? path : "waivers"));
        return;
    case FSX_FILE:
    case FSX_OTHER:
        (void)file(r, path, NULL, &e);
        return;
    }
}

int waivers_read(struct env *v, const struct cli *c, bool usual, const struct slice *files, size_t n, const char *day, struct site_waivers *out,
                 struct err *e)
{
    struct reading r = {.v = v, .out = out};

    *out = (struct site_waivers){0};
    if (day && !rule_date(slice_of(day)))
        return err_set(e, VF_EUSAGE, "--day wants a date such as 2027-03-31, not \"%s\"", day);
    waivers_init(&out->all, day ? slice_of(day) : cli_today(v->arena), v->arena);
    if (usual) {
        place(&r, SYSTEM_DIR, true);
        place(&r, arena_printf(v->arena, "%s/waivers.d", place_config(c, v->arena)), true);
    }
    for (size_t i = 0; i < n; i++)
        place(&r, arena_dup(v->arena, files[i]).p, false);
    return 0;
}

const char *waiver_rule_trouble(const struct waiver *w, const struct rules *rules, struct arena *a)
{
    struct slice near = rules_near(rules, w->rule);

    if (waiver_known(w, rules))
        return NULL;
    if (rules_find(rules, w->rule))
        return arena_printf(a, "the rule \"" SLICE_FMT "\" is retired", SLICE_ARG(w->rule));
    return arena_printf(a, "no rule \"" SLICE_FMT "\"%s" SLICE_FMT "%s", SLICE_ARG(w->rule), near.n ? "; did you mean \"" : "", SLICE_ARG(near),
                        near.n ? "\"?" : "");
}

void waivers_warn(struct cli *c, const struct site_waivers *w, const struct rules *rules)
{
    for (size_t i = 0; i < w->nrefused; i++)
        cli_warn(c, "waivers refused, none of this file counts: %s", w->refused[i]);
    for (size_t i = 0; i < w->all.n; i++) {
        const struct waiver *x = &w->all.v[i];
        const char *trouble = waiver_rule_trouble(x, rules, w->all.arena);

        if (trouble)
            cli_warn(c, "%s:%u: a waiver without effect: %s", x->file, x->line, trouble);
    }
}

/* --- vmkfit waivers --- */

struct values {
    const char *day;
    struct opt_list rules;
};

static const struct opt waivers_opts[] = {
    {"day", 0, OPT_TEXT, offsetof(struct values, day), "DATE", "how they stand on this day, such as 2027-03-31 (default today, UTC)", NULL},
    {"rules", 0, OPT_LIST, offsetof(struct values, rules), "FILE,...", "further rule files or folders", NULL},
    {0},
};

static const char *state_of(const struct waiver *w, const struct rules *rules, struct arena *a)
{
    if (!waiver_known(w, rules))
        return rules_find(rules, w->rule) ? "retired rule" : "no such rule";
    if (w->days < 0)
        return "expired";
    if (w->days > WAIVER_SOON_DAYS)
        return "active";
    return w->days == 0 ? "last day" : arena_printf(a, "%lld day%s left", (long long)w->days, w->days == 1 ? "" : "s");
}

/* One waiver with its reason, for -v. */
static void describe(const struct cli *c, const struct waiver *w, struct buf *out)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8192), safe = BUF_INIT(32768);

    buf_printf(&b, "%s:%u: " SLICE_FMT ": " SLICE_FMT, w->file, w->line, SLICE_ARG(w->rule), SLICE_ARG(w->reason));
    buf_add_safe(&safe, buf_slice(&b));
    opts_wrap(out, buf_z(&safe), 0, 2, cli_text_width(c));
}

static int print(struct cli *c, const struct site_waivers *w, const struct rules *rules, bool *attention)
{
    static const struct text_column columns[] = {{"state", false, TEXT_KEEP}, {"until", false, TEXT_KEEP}, {"rule", false, TEXT_KEEP},
                                                 {"host", false, TEXT_KEEP}, {"subject", false, TEXT_CUT}, {"effect", false, TEXT_KEEP},
                                                 {"owner", false, TEXT_WRAP}};
    _cleanup_(buf_done) struct buf out = BUF_INIT(64u << 20);
    struct text_table *t = text_table_new(columns, sizeof columns / sizeof *columns);

    for (size_t i = 0; i < w->all.n; i++) {
        const struct waiver *x = &w->all.v[i];
        struct slice cells[] = {slice_of(state_of(x, rules, w->all.arena)), x->until, x->rule, x->host, x->subject,
                                slice_of(x->severity < 0 ? "hides" : x->severity == SEV_NOTE ? "to note" : "to warning"), x->owner};

        *attention |= x->days < 0 || !waiver_known(x, rules);
        text_table_add(t, cells);
    }
    text_table_print(t, cli_table_width(c), &out);
    text_table_free(&t);
    if (c->verbose && w->all.n)
        buf_addc(&out, '\n');
    for (size_t i = 0; i < w->all.n && c->verbose; i++)
        describe(c, &w->all.v[i], &out);
    return cli_write(c, &out);
}

static int run(struct cli *c, int argc, char **argv)
{
    _cleanup_(env_close) struct env env = {0};
    struct slice files[OPT_MAX_LIST];
    struct values v = {0};
    struct layers layers = {0};
    struct site_waivers w;
    struct ruleset rules;
    struct err e = {0};
    bool attention = false;
    int n, status;

    if (!cli_parse(c, &cmd_waivers, &v, argc, argv, &n, &status))
        return status;
    if (n > (int)OPT_MAX_LIST) {
        (void)err_set(&e, VF_EUSAGE, "more than %u files; give their folder", OPT_MAX_LIST);
        return cli_fail(c, "waivers", &e);
    }
    for (int i = 0; i < n; i++)
        files[i] = slice_of(argv[i]);
    if (env_open(&env, c->data, c->env.data, &e) < 0)
        return cli_fail(c, "waivers", &e);
    env.without_examples = true;
    layers.env = &env;
    env.cli = c;
    if (layers_rules(&layers, v.rules.v, v.rules.n, &rules, &e) < 0 || waivers_read(&env, c, n == 0, files, (size_t)n, v.day, &w, &e) < 0)
        return cli_fail(c, "waivers", &e);
    waivers_warn(c, &w, &rules.rules);
    status = print(c, &w, &rules.rules, &attention);
    if (status == 0 && w.all.n == 0 && w.nrefused == 0)
        cli_warn(c, "no waivers %s", n ? "in there" : "in " SYSTEM_DIR " or vmkfit/waivers.d of ~/.config");
    return status ? status : w.nrefused ? STATUS_FAILED : attention ? STATUS_FINDINGS : STATUS_OK;
}

const struct command cmd_waivers = {
    .name = "waivers",
    .summary = "list the findings that are accepted for a while, and check the files",
    .usage = "[FILE...]",
    .examples = "vmkfit waivers\n"
                "vmkfit waivers -v site/waivers.xml\n"
                "vmkfit waivers --day 2027-03-31\n",
    .description = "FILE is a file of waivers or a folder of such files (docs/waivers.md); without one those that every scan reads: "
                   "/etc/vmkfit/waivers.d/*.xml and vmkfit/waivers.d/*.xml below XDG_CONFIG_HOME, default ~/.config. -v adds the reasons. "
                   "\"vmkfit explain\" prints a waiver to fill in behind a finding.\n\n"
                   "Exit status: 0 all are in force, 1 a file is refused, 2 a waiver has expired or its rule is gone.",
    .opts = waivers_opts,
    .run = run,
};
