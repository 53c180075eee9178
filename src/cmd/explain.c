#include <stddef.h>

#include "base/xml.h"
#include "cmd/cmd.h"
#include "cmd/layers.h"
#include "cmd/waivers.h"
#include "cmd/site.h"
#include "out/report.h"

#define OFFER_DAYS 90 /* from today: of the waiver that is printed to be filled in */

struct explain_values {
    const char *upgrade_to, *day;
    struct opt_list rules, waiver_files, facts;
};

static const struct opt explain_opts[] = {
    {"upgrade-to", 0, OPT_TEXT, offsetof(struct explain_values, upgrade_to), "RELEASE", "as if an upgrade to this release were planned, such as 7.0", NULL},
    {"rules", 0, OPT_LIST, offsetof(struct explain_values, rules), "FILE,...", "further rule files or folders; a rule there replaces one of the same id", NULL},
    WAIVER_OPTS(struct explain_values),
    {"facts", 0, OPT_LIST, offsetof(struct explain_values, facts), "FILE,...", SITE_OPT_HELP, NULL},
    {0},
};

struct run {
    struct cli *c;
    bool incomplete;
    const char *page; /* of the rule, or NULL */
    struct ruleset rules;
    struct site_waivers waivers;
    const char *label;      /* of the target */
    struct slice host_name; /* empty: not known */
    const struct rule *rule;
    const char *subject;
    struct release upgrade_to;
    size_t explained;
    struct buf *out; /* written when it is known that there is such a subject */
};

static const char *const marks[] = {"no", "?", "yes"};

/* One condition: its mark, what was tested, the cell and where it came from. */
static void print_step(const struct run *r, const struct facts *f, const struct step_taken *s, struct buf *out)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16384), safe = BUF_INIT(65536);
    const struct table *t = &f->schema->tables[s->row ? s->row->table : s->cond->table];
    const char *from = trace_source(f, s->cell, f->arena);

    if (!s->row && !s->test) {
        static const char *const kinds[] = {"all of", "one of", "a row of", "no row of", "some row of", "every row of", "the number of rows of",
                                            "agreement of", "comparison of"};
        buf_printf(&b, "%s " SLICE_FMT "%s%s", kinds[s->cond->kind], SLICE_ARG(f->schema->tables[cond_table(s->cond)].name), s->why ? ": " : "",
                   s->why ? s->why : s->result == TRI_FALSE ? ": there is none" : "");
    } else {
        if (s->test)
            buf_printf(&b, SLICE_FMT " " SLICE_FMT ": ", SLICE_ARG(t->name), SLICE_ARG(s->test->written));
        buf_addz(&b, trace_text(f, s, f->arena));
        if (s->why && s->result == TRI_UNKNOWN)
            buf_printf(&b, ": %s", s->why);
        if (from)
            buf_printf(&b, "; from %s", from);
        else if (s->cell && s->cell->state != VS_UNKNOWN)
            buf_addz(&b, "; derived");
    }
    buf_add_safe(&safe, buf_slice(&b));
    buf_printf(out, "  line %-5u%s%-5s%s", s->cond->line,
               cli_style(r->c, s->result == TRI_TRUE ? STYLE_GREEN : s->result == TRI_FALSE ? STYLE_RED : STYLE_YELLOW), marks[s->result],
               cli_style(r->c, STYLE_NONE));
    opts_wrap(out, buf_z(&safe), 17, 17, cli_text_width(r->c));
}

static void print_trace(const struct run *r, const struct facts *f, const char *heading, const struct step_taken *v, size_t n, struct buf *out)
{
    if (n)
        buf_printf(out, "%s\n", heading);
    for (size_t i = 0; i < n; i++)
        print_step(r, f, &v[i], out);
}

static const char *verdict(const struct finding *x, enum tri when)
{
    if (when == TRI_FALSE)
        return "does not apply";
    switch (x->result) {
    case TRI_TRUE: return "holds: a finding";
    case TRI_UNKNOWN: return "cannot be decided";
    case TRI_FALSE: return "is fine";
    }
    return "";
}

static void print_point(const struct run *r, const char *text, struct buf *out)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(65536);

    buf_add_safe(&safe, slice_of(text));
    buf_addz(out, "  - ");
    opts_wrap(out, buf_z(&safe), 4, 4, cli_text_width(r->c));
}

/* What other rules and waivers say about it: only a whole run tells. */
static void add_others(const struct findings *all, struct finding *x)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].rule == x->rule && all->v[i].row == x->row) {
            x->withheld_by = all->v[i].withheld_by;
            x->superseded_by = all->v[i].superseded_by;
            x->guard_unknown = all->v[i].guard_unknown;
            x->waiver = all->v[i].waiver;
            x->effect = all->v[i].effect;
            x->unwaived = all->v[i].unwaived;
            x->severity = all->v[i].severity;
        }
}

/* The waiver that is about the finding. */
static void print_waiver(const struct run *r, const struct finding *x, struct buf *out)
{
    static const char *const effects[] = {"", "waived", "lowered by a waiver", "accepted, which hides nothing here,", "waiver"};
    _cleanup_(buf_done) struct buf b = BUF_INIT(16384), safe = BUF_INIT(65536);

    buf_printf(&b, "%s %s (%s, line %u)", effects[x->effect], waiver_text(x->waiver, true, r->waivers.all.arena), x->waiver->file, x->waiver->line);
    buf_add_safe(&safe, buf_slice(&b));
    buf_addc(out, ' ');
    opts_wrap(out, buf_z(&safe), 1, 2, cli_text_width(r->c));
}

static void print_attribute(struct buf *out, const char *before, struct slice value)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(65536);

    xml_escape(&b, value);
    buf_addz(out, before);
    buf_add_safe(out, buf_slice(&b));
    buf_addc(out, '"');
}

/* An element for a file of waivers, whose owner and reason are left to fill in; until then it is refused. */
static void offer_waiver(const struct run *r, const struct finding *x, struct buf *out)
{
    buf_addz(out, " to accept it for a while, with owner and reason filled in (docs/waivers.md)\n");
    print_attribute(out, "  <waiver rule=\"", x->rule->id);
    print_attribute(out, " host=\"", r->host_name.n ? r->host_name : slice_of(r->label));
    buf_addz(out, "\n         ");
    if (x->row->key.n)
        print_attribute(out, " subject=\"", x->row->key);
    print_attribute(out, " owner=\"\" until=\"", date_of_days(date_days(r->waivers.all.today) + OFFER_DAYS, r->waivers.all.arena));
    buf_addz(out, ">\n    <reason></reason>\n  </waiver>\n");
}

static void explain_row(struct run *r, const struct match_ctx *m, const struct findings *all, const struct row *row, struct buf *out)
{
    static const char *const seen[] = {"asks for none", "seen: the finding is confirmed", "looked for and not seen: one step less severe",
                                       "not collected"};
    _cleanup_(buf_done) struct buf safe = BUF_INIT(65536);
    struct finding x;
    enum tri when;

    match_rule(m, r->rule, row, &x, &when);
    add_others(all, &x);
    buf_add_safe(&safe, row->key.n ? row->key : m->facts->schema->tables[row->table].name);
    buf_printf(out, "%s%s%s: %s", cli_style(r->c, STYLE_BOLD), buf_z(&safe), cli_style(r->c, STYLE_NONE), verdict(&x, when));
    if (x.result == TRI_TRUE)
        buf_printf(out, ", %s", severity_name(x.severity));
    if (x.result == TRI_UNKNOWN) {
        buf_addz(out, ": ");
        buf_add_safe(out, slice_of(x.why));
    }
    if (x.result == TRI_TRUE && (x.withheld_by || x.superseded_by))
        buf_printf(out, ", %s by " SLICE_FMT, x.withheld_by ? "withheld" : "replaced", SLICE_ARG((x.withheld_by ? x.withheld_by : x.superseded_by)->id));
    buf_addc(out, '\n');
    if (x.waiver)
        print_waiver(r, &x, out);
    print_trace(r, m->facts, " conditions", x.trace, x.ntrace, out);
    if (r->rule->nevidence && x.result != TRI_FALSE) {
        buf_printf(out, " evidence %s\n", seen[x.evidence]);
        print_trace(r, m->facts, "", x.evidence_trace, x.nevidence_trace < 40 || r->c->verbose ? x.nevidence_trace : 40, out);
        if (x.nevidence_trace > 40 && !r->c->verbose)
            buf_printf(out, "  and %zu more lines (-v)\n", x.nevidence_trace - 40);
    }
    for (unsigned i = 0; i < r->rule->nfixes && x.result != TRI_FALSE; i++) {
        struct fix_check check;
        static const char *const states[] = {"nothing that facts can tell stands against it", "withheld until more is known", "refused"};

        fix_judge(m, &x, &r->rule->fixes[i], &check);
        buf_printf(out, " fix " SLICE_FMT ": %s\n", SLICE_ARG(r->rule->fixes[i].id),
                   r->rule->fixes[i].nactions ? states[check.state] : check.unfit ? "advice, not for this host" : "advice, which has no commands");
        for (size_t k = 0; k < check.nreasons; k++)
            print_point(r, check.reasons[k], out);
        for (size_t k = 0; k < check.nnotes && check.state == GATE_OPEN; k++)
            print_point(r, check.notes[k], out);
    }
    if (finding_counts(&x) && (!x.waiver || x.effect == WAIVER_EXPIRED))
        offer_waiver(r, &x, out);
    buf_addc(out, '\n');
    r->explained++;
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 28), title = BUF_INIT(1u << 20);
    struct run *r = ctx;
    struct match_ctx m = {.rules = &r->rules, .facts = h->facts, .upgrade_to = r->upgrade_to, .arena = h->facts->arena};
    unsigned t = r->rule->subject;
    const struct table *table = &h->facts->schema->tables[t];
    struct findings all;
    const struct value *name = facts_cell(h->facts, facts_single(h->facts, "host"), "name");
    const char *why;

    if (match_run(&m, &all, e) < 0)
        return e->code;
    waivers_apply(&r->waivers.all, h->facts, h->target->label, &all);
    r->label = h->target->label;
    r->host_name = name->state == VS_KNOWN ? name->s : (struct slice){NULL, 0};
    if (h->incomplete) {
        cli_warn(r->c, "%s: %s", h->target->label, h->incomplete);
        r->incomplete = true;
    }
    if (h->count > 1) {
        buf_add_safe(&b, slice_of(h->target->label));
        buf_addz(&b, "\n\n");
    }
    buf_printf(&b, SLICE_FMT " (%s, line %u)\n  ", SLICE_ARG(r->rule->id), r->rule->file, r->rule->line);
    buf_add_safe(&title, r->rule->title);
    opts_wrap(&b, buf_z(&title), 2, 2, cli_text_width(r->c));
    buf_printf(&b, "  about the rows of " SLICE_FMT ", %s\n", SLICE_ARG(table->name), severity_name(r->rule->severity));
    if (r->page)
        buf_printf(&b, "  all about the rule: %s\n\n", r->page);
    else
        buf_printf(&b, "  all about the rule: vmkfit rules show " SLICE_FMT "\n\n", SLICE_ARG(r->rule->id));
    for (size_t i = 0; i < facts_count(h->facts, t); i++) {
        const struct row *row = facts_at(h->facts, t, i);

        if (!r->subject || slice_eqz(row->key, r->subject))
            explain_row(r, &m, &all, row, &b);
    }
    if (facts_table(h->facts, t, &why) != TS_COMPLETE) {
        buf_printf(&b, "The table " SLICE_FMT " is not complete: ", SLICE_ARG(table->name));
        buf_add_safe(&b, slice_of(why));
        buf_addc(&b, '\n');
    } else if (facts_count(h->facts, t) == 0) {
        buf_printf(&b, "The host has no " SLICE_FMT ".\n", SLICE_ARG(table->name));
    }
    buf_add(r->out, buf_slice(&b));
    return 0;
}

/* The subject must be a row of some host; else name what is near. */
static int no_subject(struct run *r, struct err *e)
{
    return err_set(e, VF_EUSAGE, "no row \"%s\" in the table that the rule " SLICE_FMT " is about; leave it out to see all", r->subject,
                   SLICE_ARG(r->rule->id));
}

static int run(struct cli *c, int argc, char **argv)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(1u << 28);
    struct explain_values v = {0};
    struct run r = {.c = c, .out = &out};
    _cleanup_(env_close) struct env env = {0};
    struct err e = {0};
    struct layers layers = {0};
    int n, status;

    if (!cli_parse(c, &cmd_explain, &v, argc, argv, &n, &status))
        return status;
    if (n < 2 || n > 3) {
        (void)err_set(&e, VF_EUSAGE, "explain wants TARGET RULE [SUBJECT]");
        return cli_fail(c, "explain", &e);
    }
    if (v.upgrade_to && release_parse(slice_of(v.upgrade_to), &r.upgrade_to, &e) < 0) {
        e.code = VF_EUSAGE;
        return cli_fail(c, "explain", &e);
    }
    if (env_open(&env, c->data, c->env.data, &e) < 0)
        return cli_fail(c, "explain", &e);
    env.cli = c;
    layers.env = &env;
    if (site_open(&env, &v.facts, &e) < 0 || layers_rules(&layers, v.rules.v, v.rules.n, &r.rules, &e) < 0)
        return cli_fail(c, "explain", &e);
    r.rule = rules_find(&r.rules.rules, slice_of(argv[1]));
    if (!r.rule) {
        struct slice near = rules_near(&r.rules.rules, slice_of(argv[1]));

        (void)err_set(&e, VF_EUSAGE, "no rule \"%s\"%s" SLICE_FMT "%s", argv[1], near.n ? "; did you mean " : "; see vmkfit rules list",
                      SLICE_ARG(near.n ? near : SLICE_LIT("")), near.n ? "?" : "");
        return cli_fail(c, "explain", &e);
    }
    if (waivers_read(&env, c, true, v.waiver_files.v, v.waiver_files.n, v.day, &r.waivers, &e) < 0)
        return cli_fail(c, "explain", &e);
    waivers_warn(c, &r.waivers, &r.rules.rules);
    r.incomplete = r.waivers.nrefused > 0;
    r.subject = n == 3 ? argv[2] : NULL;
    r.page = env_rule_page(&env, r.rule->id);
    if (env_hosts(&env, argv[0], on_host, &r, &e) < 0) {
        (void)cli_write(c, &out);
        return cli_fail(c, "explain", &e);
    }
    site_end(&env, c);
    if (r.subject && r.explained == 0) {
        (void)no_subject(&r, &e);
        return cli_fail(c, "explain", &e);
    }
    status = cli_write(c, &out);
    return status ? status : r.incomplete || layers.refused ? STATUS_INCOMPLETE : STATUS_OK;
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "show why a rule holds on a host or not, condition by condition",
    .usage = "TARGET RULE [SUBJECT]",
    .examples = "vmkfit explain fixtures/sys-5028d-6.5-before vmw-ahci-slow-6.5\n"
                "vmkfit explain fixtures/sys-5028d-6.5-after vmw-ahci-slow-6.5 vmhba0\n",
    .description = "For each row of the table that the rule is about, or for SUBJECT alone, such as vmhba0: every condition with its line in the "
                   "rule file and yes, no or ? (unknown), the cell it looked at, and the command, file and line that the cell came from. "
                   "Evidence and the gates of the fixes follow, and a waiver to fill in (docs/waivers.md). RULE is an id of \"vmkfit rules list\".",
    .opts = explain_opts,
    .group = &hosts_over_ssh,
    .run = run,
};
