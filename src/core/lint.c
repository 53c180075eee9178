#include "core/lint.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/draft.h"
#include "core/example.h"

#define MAX_FOUND    10000u
#define REVIEW_DAYS  180

static void found(struct lint *l, const struct rule *r, uint32_t line, bool error, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void found(struct lint *l, const struct rule *r, uint32_t line, bool error, const char *fmt, ...)
{
    char text[800];
    void *v = l->v;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (arena_grow(l->arena, &v, l->n, &l->cap, sizeof *l->v, MAX_FOUND) < 0)
        return;
    l->v = v;
    l->v[l->n++] = (struct lint_found){r->file, line, arena_printf(l->arena, SLICE_FMT ": %s", SLICE_ARG(r->id), text), error};
}

static const struct column *column_of(const struct lint *l, const struct cond *c, unsigned column)
{
    return &l->rules->schema->tables[c->table].columns[column];
}

/* from and before on one element: an empty range can never hold. */
static void lint_range(struct lint *l, const struct rule *r, const struct cond *c)
{
    for (unsigned i = 0; i < c->ntests; i++)
        for (unsigned k = 0; k < c->ntests; k++) {
            const struct test *from = &c->tests[i], *before = &c->tests[k];
            const struct column *col = column_of(l, c, from->column);
            int order = -1;

            if (from->op != TEST_FROM || before->op != TEST_BEFORE || from->column != before->column)
                continue;
            if (version_order(from->values[0], before->values[0], col->scheme, &order) == 0 && order >= 0)
                found(l, r, c->line, true, "the range is empty: from " SLICE_FMT " is not below before " SLICE_FMT,
                      SLICE_ARG(from->values[0]), SLICE_ARG(before->values[0]));
        }
    for (unsigned i = 0; i < c->ntests; i++)
        for (unsigned k = 0; k < c->ntests; k++)
            if (c->tests[i].op == TEST_ABOVE && c->tests[k].op == TEST_BELOW && c->tests[i].column == c->tests[k].column &&
                c->tests[i].number + 1 >= c->tests[k].number)
                found(l, r, c->line, true, "no number is above %lld and below %lld", (long long)c->tests[i].number,
                      (long long)c->tests[k].number);
}

/* A module is named with underscores; VIBs carry prefixes and dashes (sata-ahci is the VIB, ahci the module). */
static bool vib_name(struct slice s)
{
    static const char *const prefixes[] = {"sata-", "scsi-", "net-", "net55-", "net51-", "ata-", "block-"};
    static const char *const modules[] = {"usb-storage", "usb-uhci", "usb-ohci", "ehci-hcd"}; /* the few with a dash, of vmklinux */

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (slice_starts(s, prefixes[i]))
            return true;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (slice_eqz(s, modules[i]))
            return false;
    return slice_find_char(s, 0, '-') != SIZE_MAX && !slice_ends(s, "-community");
}

static void lint_tests(struct lint *l, const struct rule *r, const struct cond *c)
{
    for (unsigned i = 0; i < c->ntests; i++) {
        const struct test *x = &c->tests[i];
        const struct column *col = column_of(l, c, x->column);
        bool driver = slice_eqz(col->name, "driver") || (slice_eqz(l->rules->schema->tables[c->table].name, "module") && slice_eqz(col->name, "name"));

        for (unsigned k = 0; driver && x->op == TEST_IS && k < x->nvalues; k++)
            if (vib_name(x->values[k]))
                found(l, r, c->line, true, "\"" SLICE_FMT "\" is the name of a VIB; a driver is named by its module, such as ahci or vmw_ahci",
                      SLICE_ARG(x->values[k]));
        if (l->filled && !col->derived && !l->filled(l->ctx, c->table, x->column))
            found(l, r, c->line, true, "no probe fills " SLICE_FMT "." SLICE_FMT ", so the condition is unknown on every host",
                  SLICE_ARG(l->rules->schema->tables[c->table].name), SLICE_ARG(col->name));
    }
    lint_range(l, r, c);
}

static void lint_cond(struct lint *l, const struct rule *r, const struct cond *c)
{
    if (!c)
        return;
    if (c->kind == COND_ROW)
        lint_tests(l, r, c);
    for (unsigned i = 0; i < c->nkids; i++)
        lint_cond(l, r, c->kids[i]);
}

/* What a fix says of itself must not contradict: one module switched both ways, or the driver that is to stand there afterwards switched off. */
static void lint_contradiction(struct lint *l, const struct rule *r, const struct fix *f, const struct fix_action *off)
{
    const struct table *t = &l->rules->schema->tables[r->subject];

    for (unsigned i = 0; i < f->nactions; i++)
        if (strcmp(f->actions[i].action->name, "module-enable") == 0 && slice_eq(f->actions[i].values[0], off->values[0]))
            found(l, r, off->line, true, "fix " SLICE_FMT " both enables and disables " SLICE_FMT, SLICE_ARG(f->id), SLICE_ARG(off->values[0]));
    for (unsigned i = 0; i < f->nthen; i++)
        for (unsigned k = 0; k < f->then[i].nvalues && slice_eqz(t->columns[f->then[i].column].name, "driver"); k++)
            if (slice_eq(f->then[i].values[k], off->values[0]))
                found(l, r, off->line, true, "fix " SLICE_FMT " disables " SLICE_FMT ", which <then> wants as the driver afterwards",
                      SLICE_ARG(f->id), SLICE_ARG(off->values[0]));
}

static void lint_fix(struct lint *l, const struct rule *r, const struct fix *f)
{
    for (unsigned i = 0; i < f->nactions; i++) {
        const struct action *a = f->actions[i].action;

        if (f->risk < risk_rank(slice_of(a->risk)))
            found(l, r, f->actions[i].line, true, "fix " SLICE_FMT " claims risk %s, but %s is at least %s", SLICE_ARG(f->id), risk_names[f->risk],
                  a->name, a->risk);
        if (strcmp(a->name, "module-disable") == 0 && f->nthen == 0)
            found(l, r, f->actions[i].line, true, "fix " SLICE_FMT " disables a module without <then>: say who must drive the subject afterwards",
                  SLICE_ARG(f->id));
        if (strcmp(a->name, "module-disable") == 0)
            lint_contradiction(l, r, f, &f->actions[i]);
        if (vib_name(f->actions[i].values[0]) && strncmp(a->name, "module-", 7) == 0)
            found(l, r, f->actions[i].line, true, "%s wants a module, \"" SLICE_FMT "\" looks like a VIB", a->name,
                  SLICE_ARG(f->actions[i].values[0]));
    }
    lint_cond(l, r, f->require);
}

static bool names_no_driver(const struct cond *c)
{
    bool open = false;

    for (unsigned i = 0; c && c->kind == COND_ROW && i < c->ntests; i++)
        open |= c->tests[i].nvalues > 0 && slice_eqz(c->tests[i].values[0], DRAFT_DRIVER);
    for (unsigned i = 0; c && i < c->nkids; i++)
        open |= names_no_driver(c->kids[i]);
    return open;
}

/* What nobody has written yet in a draft. */
static void lint_draft(struct lint *l, const struct rule *r)
{
    if (slice_starts(r->title, DRAFT_OPEN))
        found(l, r, r->line, true, "the title is still to be written");
    if (slice_starts(r->why, DRAFT_OPEN))
        found(l, r, r->line, true, "why is still to be written");
    if (names_no_driver(r->bad))
        found(l, r, r->line, true, "the driver is still to be written, instead of " DRAFT_DRIVER);
    for (unsigned i = 0; i < r->nhrefs; i++)
        if (slice_eqz(r->hrefs[i], DRAFT_SOURCE))
            found(l, r, r->line, true, "see names no source yet");
    for (unsigned i = 0; i < r->nfixes; i++)
        for (unsigned k = 0; k < r->fixes[i].nadvise; k++)
            if (slice_starts(r->fixes[i].advise[k], DRAFT_OPEN))
                found(l, r, r->fixes[i].line, true, "fix " SLICE_FMT " is still to be written", SLICE_ARG(r->fixes[i].id));
}

/* What a rule says it covers is in the catalogue, and no confident verdict rests on what was only recalled. */
static void lint_covers(struct lint *l, const struct rule *r)
{
    bool sound = r->ncovers == 0;

    for (unsigned i = 0; i < r->ncovers; i++) {
        const struct known *k = knowledge_find(l->knowledge, r->covers[i]);

        if (!k)
            found(l, r, r->line, true, "covers names no entry of knowledge.tsv: \"" SLICE_FMT "\"", SLICE_ARG(r->covers[i]));
        sound |= !k || !known_weak(k);
    }
    if (!sound && r->severity != SEV_NOTE)
        found(l, r, r->line, true, "rests only on entries that are recalled or of low confidence (" SLICE_FMT "): such a rule is a note",
              SLICE_ARG(r->covers[0]));
}

static int64_t days_of(struct slice d)
{
    uint64_t y, m, day;

    if (d.n != 10 || num_parse_u64(slice_cut(d, 0, 4), &y) < 0 || num_parse_u64(slice_cut(d, 5, 2), &m) < 0 ||
        num_parse_u64(slice_cut(d, 8, 2), &day) < 0)
        return 0;
    return (int64_t)(y * 365 + y / 4 + m * 30 + m / 2 + day); /* near enough to tell half a year */
}

void lint_rule(struct lint *l, const struct rule *r)
{
    lint_cond(l, r, r->when);
    lint_cond(l, r, r->bad);
    for (unsigned i = 0; i < r->ngood; i++)
        lint_cond(l, r, r->good[i].cond);
    for (unsigned i = 0; i < r->nevidence; i++)
        lint_cond(l, r, r->evidence[i]);
    for (unsigned i = 0; i < r->nfixes; i++) {
        lint_fix(l, r, &r->fixes[i]);
        for (unsigned k = 0; k < i; k++)
            if (slice_eq(r->fixes[i].id, r->fixes[k].id))
                found(l, r, r->fixes[i].line, true, "two fixes have the id " SLICE_FMT, SLICE_ARG(r->fixes[i].id));
    }
    lint_draft(l, r);
    if (l->knowledge)
        lint_covers(l, r);
    if (l->today.n && r->ngood && days_of(l->today) - days_of(r->reviewed) > REVIEW_DAYS)
        found(l, r, r->line, false, "the list of good pairs was reviewed on " SLICE_FMT ", more than %d days ago", SLICE_ARG(r->reviewed), REVIEW_DAYS);
    if (l->today.n && slice_cmp(r->reviewed, l->today) > 0)
        found(l, r, r->line, true, "reviewed " SLICE_FMT " lies in the future", SLICE_ARG(r->reviewed));
}

static bool decided_between(const struct rule *a, const struct rule *b)
{
    return slice_among(a->supersedes, a->nsupersedes, b->id) || slice_among(a->restrains, a->nrestrains, b->id) ||
           slice_among(b->supersedes, b->nsupersedes, a->id) || slice_among(b->restrains, b->nrestrains, a->id);
}

/* The matching examples of a, run against b: both hold for one row, and each brings a fix of its own. */
static void lint_pair(struct lint *l, const struct rule *a, const struct rule *b)
{
    for (unsigned i = 0; i < a->nexamples; i++) {
        struct example_result got = {0};
        struct err e = {0};

        if (a->examples[i].kind != EXAMPLE_MATCHES || example_run(l->rules, b, &a->examples[i], l->arena, &got, &e) < 0)
            continue;
        if (got.got == TRI_TRUE) {
            found(l, a, a->examples[i].line, true,
                  "this example also matches " SLICE_FMT " of the same topic: one of them has to supersede or restrain the other", SLICE_ARG(b->id));
            return;
        }
    }
}

void lint_pairs(struct lint *l)
{
    const struct rules *rs = &l->rules->rules;

    for (size_t i = 0; i < rs->n; i++)
        for (size_t k = 0; k < rs->n && rs->v[i]->topic.n; k++)
            if (i != k && slice_eq(rs->v[i]->topic, rs->v[k]->topic) && rs->v[i]->subject == rs->v[k]->subject && rs->v[i]->nfixes &&
                rs->v[k]->nfixes && !decided_between(rs->v[i], rs->v[k]))
                lint_pair(l, rs->v[i], rs->v[k]);
}
