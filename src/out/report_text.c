#include <stdarg.h>
#include <stdio.h>

#include "base/opts.h"
#include "base/sh.h"
#include "out/report.h"

#define LABEL_WIDTH 12u /* labels of a finding's lines, with the blank behind */
#define INDENT      2u
#define FEW         5u  /* of a long list, without -v */

struct printing {
    const struct report *r;
    const struct report_style *s;
    struct buf *out;
};

/* "  label       text wrapped", host-controlled text made safe. */
static void line(const struct printing *p, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void line(const struct printing *p, const char *label, const char *fmt, ...)
{
    _cleanup_(buf_done) struct buf raw = BUF_INIT(64u << 10), safe = BUF_INIT(256u << 10);
    unsigned at = INDENT + LABEL_WIDTH;
    char text[8192];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_addz(&raw, text);
    buf_add_safe(&safe, buf_slice(&raw));
    buf_printf(p->out, "%*s%s%-*s%s", INDENT, "", p->s->dim, (int)LABEL_WIDTH, label, p->s->none);
    opts_wrap(p->out, buf_z(&safe), at, at, p->s->width);
}

/* A command stands as it is, on a line of its own, so that it can be copied. */
static void command(const struct printing *p, const char *text)
{
    buf_printf(p->out, "%*s", INDENT + LABEL_WIDTH + 2, "");
    buf_add_safe(p->out, slice_of(text));
    buf_addc(p->out, '\n');
}

/* "vmkfit VERB TARGET WORD...": words quoted for a shell; whole on one line where wrapping would part a quoted word. */
static void hint(const struct printing *p, const char *label, const char *before, const char *verb, struct slice rule, struct slice subject,
                 const char *behind)
{
    const struct slice words[] = {slice_of(p->r->target), rule, subject};
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10), safe = BUF_INIT(256u << 10);
    unsigned at = INDENT + LABEL_WIDTH;
    bool quoted = false;

    buf_printf(&b, "%svmkfit %s", before, verb);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t had = b.n;

        if (words[i].n == 0)
            continue;
        buf_addc(&b, ' ');
        if (sh_quote(&b, words[i]) < 0)
            buf_addz(&b, "...");
        quoted |= memchr(b.p + had, '\'', b.n - had) != NULL;
    }
    buf_addz(&b, behind);
    buf_add_safe(&safe, buf_slice(&b));
    buf_printf(p->out, "%*s%s%-*s%s", INDENT, "", p->s->dim, (int)LABEL_WIDTH, label, p->s->none);
    if (!quoted) {
        opts_wrap(p->out, buf_z(&safe), at, at, p->s->width);
        return;
    }
    buf_add(p->out, buf_slice(&safe));
    buf_addc(p->out, '\n');
}

static const char *word(const struct printing *p, const struct finding *f, const char **style)
{
    static const char *const words[] = {"note", "WARNING", "CRITICAL"};

    if (f->result == TRI_UNKNOWN) {
        *style = p->s->dim;
        return "unsure";
    }
    *style = f->severity == SEV_CRITICAL ? p->s->red : f->severity == SEV_WARNING ? p->s->yellow : p->s->green;
    return words[f->severity];
}

/* --- one rule with all its subjects --- */

struct group {
    size_t first, n; /* items first .. of the same rule, collected in idx */
    size_t idx[512];
};

static bool same_group(const struct finding *a, const struct finding *b)
{
    return a->rule == b->rule && a->result == b->result && a->severity == b->severity && a->evidence == b->evidence && a->withheld_by == b->withheld_by &&
           a->superseded_by == b->superseded_by && a->waiver == b->waiver && a->effect == b->effect && a->unwaived == b->unwaived;
}

static const char *plural(const struct table *t)
{
    static const char *const words[][2] = {{"pci", "PCI functions"}, {"adapter", "adapters"}, {"device", "devices"}, {"nic", "NICs"}, {"vib", "VIBs"},
                                           {"module", "modules"}, {"path", "paths"}, {"datastore", "datastores"}, {"nfs", "NFS mounts"},
                                           {"vm", "machines"}, {"vmknic", "VMkernel ports"}, {"vswitch", "switches"}, {"gpu", "GPUs"},
                                           {"nvme", "NVMe controllers"}, {"log", "log entries"}, {"setting", "settings"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_eqz(t->name, words[i][0]))
            return words[i][1];
    return "rows";
}

static void heading(const struct printing *p, const struct group *g)
{
    const struct finding *f = p->r->items[g->idx[0]].finding;
    const struct table *t = &p->r->facts->schema->tables[f->row->table];
    _cleanup_(buf_done) struct buf b = BUF_INIT(16384);
    const char *style, *w = word(p, f, &style);

    buf_printf(p->out, "%s%-*s%s", style, (int)(INDENT + LABEL_WIDTH), w, p->s->none);
    if (g->n == 1 && f->row->key.n)
        buf_add_safe(&b, f->row->key);
    else if (g->n > 1)
        buf_printf(&b, "%zu %s", g->n, plural(t));
    if (b.n)
        buf_addz(&b, ": ");
    buf_add_safe(&b, f->rule->title);
    opts_wrap(p->out, buf_z(&b), INDENT + LABEL_WIDTH, INDENT + LABEL_WIDTH, p->s->width);
}

static void subjects(const struct printing *p, const struct group *g)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);
    size_t most = p->s->verbose ? g->n : FEW;

    if (g->n < 2)
        return;
    for (size_t i = 0; i < g->n && i < most; i++) {
        buf_addz(&b, i ? ", " : "");
        buf_add(&b, p->r->items[g->idx[i]].finding->row->key);
    }
    if (g->n > most)
        buf_printf(&b, " and %zu more", g->n - most);
    line(p, "where", "%s", buf_z(&b));
}

static void because(const struct printing *p, const struct finding *f)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16384);
    struct arena *a = p->r->m->arena;

    for (size_t i = 0; i < f->ntrace; i++) {
        const struct step_taken *s = &f->trace[i];
        const char *from;

        if (!trace_decides(f, s) || s->result != TRI_TRUE)
            continue;
        if (!p->s->verbose) {
            const char *text = trace_text(p->r->facts, s, a);

            if (!strstr(buf_z(&b), text)) /* from and before look at one cell */
                buf_printf(&b, "%s%s", b.n ? "; " : "", text);
            continue;
        }
        from = trace_source(p->r->facts, s->cell, a);
        line(p, b.n ? "" : "because", "%s%s%s%s", trace_text(p->r->facts, s, a), from ? " (" : "", from ? from : "", from ? ")" : "");
        b.n = 1;
    }
    if (!p->s->verbose && b.n)
        line(p, "because", "%s", buf_z(&b));
}

/* Log rows that count as evidence, summed by kind; the device's own average makes latency lines relative. */
static void evidence(const struct printing *p, const struct finding *f)
{
    const struct facts *facts = p->r->facts;
    const struct value *minutes = facts_cell(facts, facts_single(facts, "host"), "log-minutes");
    unsigned log = facts_table_index(facts, "log");
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct slice kinds[64];
    int64_t counts[64], worst[64];
    size_t n = 0;

    switch (f->evidence) {
    case EVIDENCE_NONE:
        return;
    case EVIDENCE_UNKNOWN:
        if (facts_table(facts, log, NULL) == TS_UNKNOWN)
            line(p, "evidence", "not collected: no log was read");
        else if (minutes->state == VS_KNOWN && match_log_short(facts))
            line(p, "evidence", "not among the %lld minutes of log that were read, which are too few to say that it does not happen",
                 (long long)minutes->i);
        else
            line(p, "evidence", "the log was read, but whether its lines concern this one cannot be told");
        return;
    case EVIDENCE_NOT_SEEN:
        line(p, "evidence", "looked for in the log and not seen, so this is one step less severe");
        return;
    case EVIDENCE_SEEN:
        break;
    }
    for (size_t i = 0; i < f->nevidence_trace; i++) {
        const struct row *row = f->evidence_trace[i].row;
        struct slice kind;
        size_t k = 0;

        if (!row || row->table != log || f->evidence_trace[i].result != TRI_TRUE || (i && f->evidence_trace[i - 1].row == row))
            continue;
        kind = facts_cell(facts, row, "kind")->s;
        while (k < n && !slice_eq(kinds[k], kind))
            k++;
        if (k == 64)
            continue;
        if (k == n) {
            kinds[n] = kind;
            counts[n] = worst[n] = 0;
            n++;
        }
        counts[k] += facts_cell(facts, row, "count")->i;
        if (facts_cell(facts, row, "worst")->state == VS_KNOWN && facts_cell(facts, row, "worst")->i > worst[k])
            worst[k] = facts_cell(facts, row, "worst")->i;
    }
    for (size_t k = 0; k < n; k++) {
        buf_printf(&b, "%s%lld " SLICE_FMT, k ? ", " : "", (long long)counts[k], SLICE_ARG(kinds[k]));
        if (worst[k])
            buf_printf(&b, " (up to %lld ms)", (long long)(worst[k] / 1000));
    }
    line(p, "evidence", "confirmed by log lines: %s", n ? buf_z(&b) : "see vmkfit explain");
}

static void fix(const struct printing *p, const struct report_fix *x, unsigned number)
{
    char label[24];

    (void)snprintf(label, sizeof label, "fix %u", number);
    line(p, label, SLICE_FMT ", risk %s", SLICE_ARG(x->fix->id), risk_names[x->fix->risk]);
    for (size_t i = 0; i < x->check.nnotes && x->check.state == GATE_OPEN && x->fix->nactions; i++) /* before anybody copies a command */
        line(p, i ? "" : "mind", "- %s", x->check.notes[i]);
    if (x->fix->nactions && x->check.state == GATE_OPEN)
        for (size_t i = 0; i < x->check.ncommands; i++)
            command(p, x->check.commands[i]);
    for (unsigned i = 0; i < x->fix->nadvise; i++)
        line(p, "", SLICE_FMT, SLICE_ARG(x->fix->advise[i]));
    if (x->fix->nactions == 0)
        return;
    if (x->check.state != GATE_OPEN) {
        line(p, "", "%s", x->check.state == GATE_REFUSED ? "Not here, so no command is shown:" : "No command is shown until this is known:");
        for (size_t i = 0; i < x->check.nreasons; i++)
            line(p, "", "- %s", x->check.reasons[i]);
        return;
    }
    for (unsigned i = 0; i < x->fix->nthen; i++)
        line(p, i ? "" : "afterwards", "it must show " SLICE_FMT, SLICE_ARG(x->fix->then[i].written));
    for (size_t i = 0; i < x->check.ncommands; i++)
        if (x->check.undo[i])
            line(p, i ? "" : "undo", "%s", x->check.undo[i]);
}

static bool same_texts(const char *const *a, size_t na, const char *const *b, size_t nb)
{
    for (size_t i = 0; i < na && na == nb; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return na == nb;
}

/* Do the gates say the same of both subjects. */
static bool same_fixes(const struct report_item *a, const struct report_item *b)
{
    for (unsigned i = 0; i < a->finding->rule->nfixes; i++) {
        const struct fix_check *x = &a->fixes[i].check, *y = &b->fixes[i].check;

        if (x->state != y->state || !same_texts(x->reasons, x->nreasons, y->reasons, y->nreasons) ||
            !same_texts(x->notes, x->nnotes, y->notes, y->nnotes) || !same_texts(x->commands, x->ncommands, y->commands, y->ncommands))
            return false;
    }
    return true;
}

/* A waiver that left the finding where it is: who accepts it, and how it stands. */
static void accepted(const struct printing *p, const struct finding *f)
{
    const char *text = f->waiver ? waiver_text(f->waiver, true, p->r->m->arena) : NULL;

    switch (f->effect) {
    case WAIVER_NONE:
    case WAIVER_HIDDEN:
        return;
    case WAIVER_LOWERED:
        line(p, "lowered", "from %s %s", severity_name(f->unwaived), text);
        return;
    case WAIVER_ACCEPTED:
        line(p, "accepted", "%s%s: " SLICE_FMT, waiver_text(f->waiver, false, p->r->m->arena),
             f->severity == SEV_CRITICAL ? "; critical, so it counts all the same"
             : f->rule->nrestrains       ? "; it holds others back, so it counts all the same"
                                         : "",
             SLICE_ARG(f->waiver->reason));
        return;
    case WAIVER_EXPIRED:
        line(p, "waiver", "%s", text);
        return;
    }
}

/* before: what was said of another subject of the same rule, or NULL. */
static void group_body(const struct printing *p, const struct group *g, const struct report_item *before)
{
    const struct report_item *it = &p->r->items[g->idx[0]];
    const struct finding *f = it->finding;
    bool brief = f->severity == SEV_NOTE && !p->s->verbose;
    unsigned shown = 0;

    if (f->withheld_by)
        line(p, "withheld", "by " SLICE_FMT ": " SLICE_FMT, SLICE_ARG(f->withheld_by->id), SLICE_ARG(f->withheld_by->title));
    if (f->superseded_by)
        line(p, "replaced", "by " SLICE_FMT, SLICE_ARG(f->superseded_by->id));
    accepted(p, f);
    subjects(p, g);
    if (g->n == 1)
        for (size_t i = 0; i < it->nabout; i++)
            if (!brief)
                line(p, it->about[i].label, "%s", it->about[i].text);
    if (!brief)
        because(p, f);
    if (f->newer_than_list)
        line(p, "why", "newer than every pair on the list of " SLICE_FMT "; nobody has validated it", SLICE_ARG(f->rule->reviewed));
    else if (before)
        line(p, "why", "as for " SLICE_FMT "%s", SLICE_ARG(before->finding->row->key), same_fixes(before, it) ? ", and so are the fixes" : "");
    else
        line(p, "why", SLICE_FMT, SLICE_ARG(f->rule->why));
    evidence(p, f);
    if (it->fixed_in && !brief)
        line(p, "fixed in", "%s", it->fixed_in);
    for (unsigned i = 0; i < f->rule->nfixes && !brief && !(before && same_fixes(before, it)); i++) /* the first subject's; its gates speak for the group where they are host-wide */
        if (it->fixes[i].fix->nactions || !it->fixes[i].check.unfit) /* advice for other hosts misleads here; of commands it is worth knowing why not */
            fix(p, &it->fixes[i], ++shown);
    for (unsigned i = 0; i < f->rule->nhrefs && !brief && !before; i++)
        line(p, i ? "" : "see", SLICE_FMT, SLICE_ARG(f->rule->hrefs[i]));
    hint(p, "more", "", "explain", f->rule->id, f->row->key, "");
    buf_addc(p->out, '\n');
}

/* The item that stands for a rule in what was printed before number i. */
static const struct report_item *told_before(const struct report *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (r->items[k].finding->rule == r->items[i].finding->rule && r->items[k].finding->result == TRI_TRUE &&
            finding_counts(r->items[k].finding))
            return &r->items[k];
    return NULL;
}

static void findings(const struct printing *p)
{
    const struct report *r = p->r;
    bool *done = arena_array(r->m->arena, r->findings.n + 1, sizeof *done);
    struct group g;

    for (size_t i = 0; done && i < r->findings.n; i++) {
        const struct finding *f = r->items[i].finding;

        if (done[i] || f->result != TRI_TRUE || f->effect == WAIVER_HIDDEN || (!finding_counts(f) && !p->s->verbose))
            continue;
        g.n = 0;
        for (size_t k = i; k < r->findings.n; k++)
            if (!done[k] && same_group(f, r->items[k].finding)) {
                done[k] = true;
                if (g.n < sizeof g.idx / sizeof *g.idx)
                    g.idx[g.n++] = k;
            }
        heading(p, &g);
        group_body(p, &g, p->s->verbose ? NULL : told_before(r, i));
    }
}

/* "label  text" that begins at the margin, as findings do. */
static void entry(const struct printing *p, const char *label, struct slice text)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(16384);

    buf_printf(p->out, "%s%-*s%s", p->s->dim, (int)(INDENT + LABEL_WIDTH), label, p->s->none);
    buf_add_safe(&safe, text);
    opts_wrap(p->out, buf_z(&safe), INDENT + LABEL_WIDTH, INDENT + LABEL_WIDTH, p->s->width);
}

static void add_subjects(struct buf *b, const struct finding *f, size_t n)
{
    buf_printf(b, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(f->rule->id), f->row->key.n ? ", " : "", SLICE_ARG(f->row->key));
    if (n > 1)
        buf_printf(b, " and %zu more", n - 1);
}

/* Undetermined rules, one line a rule; the reason is what a person can act on. */
static void unsure(const struct printing *p)
{
    const struct report *r = p->r;
    bool *done = arena_array(r->m->arena, r->findings.n + 1, sizeof *done);
    size_t shown = 0, rules = 0;

    for (size_t i = 0; done && i < r->findings.n; i++) {
        const struct finding *f = r->items[i].finding;
        _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
        size_t n = 0;

        if (done[i] || f->result != TRI_UNKNOWN || f->withheld_by || f->superseded_by)
            continue;
        for (size_t k = i; k < r->findings.n; k++)
            if (r->items[k].finding->rule == f->rule && r->items[k].finding->result == TRI_UNKNOWN) {
                done[k] = true;
                n++;
            }
        rules++;
        if (!p->s->verbose && shown == FEW)
            continue;
        shown++;
        add_subjects(&b, f, n);
        buf_printf(&b, ": %s", f->why);
        entry(p, "unsure", buf_slice(&b));
    }
    if (rules > shown)
        buf_printf(p->out, "%*sand %zu more rules (-v names them)\n", (int)(INDENT + LABEL_WIDTH), "", rules - shown);
    if (rules)
        buf_addc(p->out, '\n');
}

/* Hidden by waivers: a line for each rule and waiver, with -v for each subject. */
static void waived(const struct printing *p)
{
    const struct report *r = p->r;
    bool *done = arena_array(r->m->arena, r->findings.n + 1, sizeof *done);

    for (size_t i = 0; done && i < r->findings.n; i++) {
        const struct finding *f = r->items[i].finding;
        _cleanup_(buf_done) struct buf b = BUF_INIT(8192);
        size_t n = 1;

        if (done[i] || f->effect != WAIVER_HIDDEN)
            continue;
        for (size_t k = i + 1; k < r->findings.n && !p->s->verbose; k++)
            if (r->items[k].finding->effect == WAIVER_HIDDEN && r->items[k].finding->waiver == f->waiver) {
                done[k] = true;
                n++;
            }
        add_subjects(&b, f, n);
        buf_printf(&b, ": %s, %s", severity_name(f->unwaived), waiver_text(f->waiver, p->s->verbose, r->m->arena));
        entry(p, "waived", buf_slice(&b));
    }
    if (r->waived)
        buf_addc(p->out, '\n');
}

static struct slice text_of(const struct report *r, const char *table, const char *column)
{
    const struct row *row = facts_single(r->facts, table);
    const struct table *t = &r->facts->schema->tables[row->table];

    return value_text(&t->columns[table_column(t, slice_of(column))], facts_cell(r->facts, row, column), r->m->arena);
}

static void title(const struct printing *p)
{
    struct slice name = text_of(p->r, "host", "name"), release = text_of(p->r, "esxi", "release"), build = text_of(p->r, "esxi", "build");
    struct slice version = text_of(p->r, "esxi", "version"), vendor = text_of(p->r, "host", "vendor"), model = text_of(p->r, "host", "model");
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096), safe = BUF_INIT(16384);

    buf_add_safe(&safe, name.n ? name : slice_of(p->r->label));
    buf_printf(p->out, "%s%s%s", p->s->bold, buf_z(&safe), p->s->none);
    if (release.n || version.n)
        buf_printf(&b, "  ESXi " SLICE_FMT, SLICE_ARG(release.n ? release : version));
    else
        buf_addz(&b, "  ESXi release unknown");
    if (build.n)
        buf_printf(&b, " (build " SLICE_FMT ")", SLICE_ARG(build));
    if (model.n)
        buf_printf(&b, "  " SLICE_FMT " " SLICE_FMT, SLICE_ARG(vendor), SLICE_ARG(model));
    buf_add_safe(p->out, buf_slice(&b));
    buf_printf(p->out, "\n%s", p->s->dim);
    buf_add_safe(p->out, slice_of(p->r->label));
    buf_printf(p->out, ", a %s%s\n", p->r->kind, p->s->none);
    if (p->r->incomplete) {
        buf_reset(&safe);
        buf_add_safe(&safe, slice_of(p->r->incomplete));
        buf_printf(p->out, "%s%-*s%s", p->s->red, (int)(INDENT + LABEL_WIDTH), "INCOMPLETE", p->s->none);
        opts_wrap(p->out, buf_z(&safe), INDENT + LABEL_WIDTH, INDENT + LABEL_WIDTH, p->s->width);
    }
}

/* Might there be more than was found: tables that were not read whole, or a rule above a note that could not be decided. */
static bool in_doubt(const struct report *r)
{
    bool doubt = r->nblind > 0;

    for (size_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = r->items[i].finding;

        doubt |= f->result == TRI_UNKNOWN && f->rule->severity > SEV_NOTE && !f->withheld_by && !f->superseded_by;
    }
    return doubt;
}

/* "label  before a; b; and 3 more behind", at most so many without -v. */
static void some(const struct printing *p, const char *label, const struct texts *t, size_t most, const char *before, const char *behind)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8192);

    for (size_t i = 0; i < t->n && (i < most || p->s->verbose); i++) {
        buf_addz(&b, i ? "; " : "");
        buf_add(&b, t->v[i]);
    }
    if (t->n > most && !p->s->verbose)
        buf_printf(&b, "; and %zu more", t->n - most);
    if (t->n)
        line(p, label, "%s%s%s", before, buf_z(&b), behind);
}

/* Statements of the site: what is not read but said has to be seen as such. */
static void stated(const struct printing *p)
{
    const struct report *r = p->r;

    for (size_t i = 0; i < r->nstated && (i < FEW || p->s->verbose); i++)
        line(p, i ? "" : "stated", "%s", report_stated(r, &r->stated[i]));
    if (r->nstated > FEW && !p->s->verbose)
        line(p, "", "and %zu more (-v names them)", r->nstated - FEW);
}

/* A pair that an old list does not have may have been validated since. */
static void old_lists(const struct printing *p)
{
    const char *label = "old lists";

    for (size_t i = 0; i < p->r->findings.nlists; i++) {
        const struct rule *list = p->r->findings.lists[i];
        int64_t days = report_list_days(p->r, list);

        if (days <= RULE_REVIEW_DAYS)
            continue;
        line(p, label, SLICE_FMT ": reviewed on " SLICE_FMT ", %lld days ago. Look whether the vendor has validated further pairs since", SLICE_ARG(list->id),
             SLICE_ARG(list->reviewed), (long long)days);
        label = "";
    }
}

/* What silence rests on: rules applied, strangers, changes, latency, gaps, what to run next. */
static void foot(const struct printing *p)
{
    const struct report *r = p->r;
    static const struct slice none = {NULL, 0};

    if (r->counts[2] + r->counts[1] == 0)
        buf_printf(p->out, "%sNothing above a note%s%s.%s\n", in_doubt(r) || r->softened ? "" : p->s->green, in_doubt(r) ? " in what could be read" : "",
                   r->softened ? ", apart from what waivers accept" : "", p->s->none);
    for (size_t i = 0; i < r->nblind; i++) {
        const struct report_blind *x = &r->blind[i];
        struct slice table = r->facts->schema->tables[x->table].name;

        char beyond[60] = "";

        if (x->rows)
            (void)snprintf(beyond, sizeof beyond, " beyond %zu row%s", x->rows, x->rows == 1 ? "" : "s");
        line(p, i ? "" : "not judged", SLICE_FMT "%s, %zu rule%s: %s", SLICE_ARG(table), beyond, x->rules, x->rules == 1 ? "" : "s",
             x->why ? x->why : "not known");
    }
    line(p, "rules", "%zu loaded, %zu applied to this host, %zu of them without a finding%s" SLICE_FMT, r->findings.rules, r->findings.applied,
         r->findings.ok, r->m->rules->newest.n ? "; newest review " : "", SLICE_ARG(r->m->rules->newest));
    if (r->layers)
        line(p, "besides", "%s", r->layers);
    old_lists(p);
    if (r->withheld)
        line(p, "withheld", "%zu finding%s that a guard or a better rule replaces (-v)", r->withheld, r->withheld == 1 ? "" : "s");
    some(p, "no rule on", &r->strangers, 4, "", ": good or bad, no rule is about these");
    if (r->changed)
        line(p, "changed", "%s", r->changed);
    line(p, "latency", "not measured: these answers hold no esxtop samples. On the host: esxtop, then u, and look at DAVG and KAVG");
    if (r->ndamaged) {
        line(p, "not read", "%zu answer%s refused, cut or unreadable%s", r->ndamaged, r->ndamaged == 1 ? "" : "s",
             p->s->verbose || r->ndamaged <= FEW ? ":" : ", among them:");
        for (size_t i = 0; i < r->ndamaged && (p->s->verbose || i < FEW); i++)
            line(p, "", "- %s", r->damaged[i]);
    }
    some(p, "empty", &r->empty, FEW, "no byte, which is an empty list or a command that failed: ", "");
    some(p, "to decide", &r->wanted, 8, "", "");
    if (r->firmware.n) {
        _cleanup_(buf_done) struct buf ways = BUF_INIT(1000);

        for (size_t i = 0; report_firmware_ways[i]; i++)
            buf_printf(&ways, "%s%s", i ? "; or " : ": not known, which leaves a rule undecided. It becomes known by ", report_firmware_ways[i]);
        some(p, "firmware of", &r->firmware, FEW, "", buf_z(&ways));
    }
    stated(p);
    if (r->missing) {
        char counted[100];

        (void)snprintf(counted, sizeof counted, "%zu questions without an answer; nothing%s here rests on them (", r->missing,
                       r->wanted.n ? " else" : "");
        hint(p, "not there", counted, "facts --source", none, none, ")");
    }
    for (size_t i = 0; i < r->findings.n; i++)
        if (finding_counts(r->items[i].finding)) {
            hint(p, "next", "", "explain", r->items[i].finding->rule->id, none, "");
            return;
        }
    hint(p, "next", "", "facts", none, none, "");
}

void report_text(const struct report *r, const struct report_style *s, struct buf *out)
{
    struct printing p = {r, s, out};

    title(&p);
    if (r->unread)
        return;
    buf_addc(out, '\n');
    findings(&p);
    unsure(&p);
    waived(&p);
    foot(&p);
}
