#include "core/lint.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/draft.h"
#include "core/lint_parts.h"

#define MAX_FOUND     10000u
#define REVIEW_DAYS   730

void lint_say(struct lint *l, const struct rule *r, struct spot at, bool error, const char *fmt, ...)
{
    struct xml_place place = {at.line, 0};
    char text[800];
    void *v = l->v;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (arena_grow(l->arena, &v, l->n, &l->cap, sizeof *l->v, MAX_FOUND) < 0)
        return;
    for (size_t i = 0; i < l->nfiles; i++)
        if (strcmp(l->files[i].name, r->file) == 0)
            place = xml_place_in(l->files[i].text, at.line, at.at, at.attribute);
    l->v = v;
    l->v[l->n++] = (struct lint_found){r->file, place, arena_printf(l->arena, SLICE_FMT ": %s", SLICE_ARG(r->id), text), error};
}

struct slice test_attribute(const struct test *x)
{
    return slice_cut(x->written, 0, slice_find_char(x->written, 0, '='));
}

static const struct column *column_of(const struct lint *l, const struct cond *c, unsigned column)
{
    return &l->rules->schema->tables[c->table].columns[column];
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

static bool release_test(const struct column *c, const struct test *x)
{
    return c->scheme == SCHEME_ESXI && c->type == VT_VERSION && (x->op == TEST_FROM || x->op == TEST_BEFORE || x->op == TEST_COVERS);
}

/* The releases that <when> names, where it names one range for all. */
static void lint_releases(struct lint *l, const struct cond *c)
{
    for (unsigned i = 0; c && c->kind == COND_ALL && i < c->nkids; i++)
        lint_releases(l, c->kids[i]);
    for (unsigned i = 0; c && c->kind == COND_ROW && c->scope == SCOPE_SINGLE && i < c->ntests; i++) {
        const struct test *x = &c->tests[i];

        if (!release_test(column_of(l, c, x->column), x))
            continue;
        if (x->op != TEST_BEFORE)
            l->from = x->release;
        if (x->op == TEST_BEFORE)
            l->before = x->release;
        if (x->op == TEST_COVERS)
            l->before = (struct release){.major = x->release.major, .minor = x->release.minor + 1, .update = -1};
    }
}

static void lint_tests(struct lint *l, const struct rule *r, const struct cond *c)
{
    static const struct release any = {0};

    for (unsigned i = 0; i < c->ntests; i++) {
        const struct test *x = &c->tests[i];
        const struct column *col = column_of(l, c, x->column);
        bool driver = slice_eqz(col->name, "driver") || (slice_eqz(l->rules->schema->tables[c->table].name, "module") && slice_eqz(col->name, "name"));

        for (unsigned k = 0; driver && x->op == TEST_IS && k < x->nvalues; k++)
            if (vib_name(x->values[k]))
                lint_say(l, r, SPOT(c, test_attribute(x)), true, "\"" SLICE_FMT "\" is the name of a VIB; a driver is named by its module, such as ahci or vmw_ahci",
                      SLICE_ARG(x->values[k]));
        if (l->filled && !col->derived && !l->filled(l->ctx, c->table, x->column, &l->from, &l->before))
            lint_say(l, r, SPOT(c, test_attribute(x)), true, "no probe fills " SLICE_FMT "." SLICE_FMT "%s, so the condition is unknown on every host",
                     SLICE_ARG(l->rules->schema->tables[c->table].name), SLICE_ARG(col->name),
                     l->filled(l->ctx, c->table, x->column, &any, &any) ? " on the releases of <when>" : "");
        if (release_test(col, x) && l->rules->builds && l->rules->builds->n && !lint_release(l->rules->builds, &x->release))
            lint_say(l, r, SPOT(c, test_attribute(x)), false, "there is no release " SLICE_FMT " of ESXi", SLICE_ARG(x->values[0]));
    }
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
            lint_say(l, r, SPOT(off, SLICE_LIT("name")), true, "fix " SLICE_FMT " both enables and disables " SLICE_FMT, SLICE_ARG(f->id), SLICE_ARG(off->values[0]));
    for (unsigned i = 0; i < f->nthen; i++)
        for (unsigned k = 0; k < f->then[i].nvalues && slice_eqz(t->columns[f->then[i].column].name, "driver"); k++)
            if (slice_eq(f->then[i].values[k], off->values[0]))
                lint_say(l, r, SPOT(off, SLICE_LIT("name")), true, "fix " SLICE_FMT " disables " SLICE_FMT ", which <then> wants as the driver afterwards",
                      SLICE_ARG(f->id), SLICE_ARG(off->values[0]));
}

static void lint_fix(struct lint *l, const struct rule *r, const struct fix *f)
{
    for (unsigned i = 0; i < f->nactions; i++) {
        const struct action *a = f->actions[i].action;

        if (f->risk < risk_rank(slice_of(a->risk)))
            lint_say(l, r, SPOT(f, SLICE_LIT("risk")), true, "fix " SLICE_FMT " claims risk %s, but %s is at least %s", SLICE_ARG(f->id), risk_names[f->risk],
                  a->name, a->risk);
        if (strcmp(a->name, "module-disable") == 0 && f->nthen == 0)
            lint_say(l, r, SPOT(&f->actions[i], ELEMENT), true, "fix " SLICE_FMT " disables a module without <then>: say who must drive the subject afterwards",
                  SLICE_ARG(f->id));
        if (strcmp(a->name, "module-disable") == 0)
            lint_contradiction(l, r, f, &f->actions[i]);
        if (vib_name(f->actions[i].values[0]) && strncmp(a->name, "module-", 7) == 0)
            lint_say(l, r, SPOT(&f->actions[i], SLICE_LIT("name")), true, "%s wants a module, \"" SLICE_FMT "\" looks like a VIB", a->name,
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
        lint_say(l, r, SPOT(r, ELEMENT), true, "the title is still to be written");
    if (slice_starts(r->why, DRAFT_OPEN))
        lint_say(l, r, SPOT(r, ELEMENT), true, "why is still to be written");
    if (names_no_driver(r->bad))
        lint_say(l, r, SPOT(r, ELEMENT), true, "the driver is still to be written, instead of " DRAFT_DRIVER);
    for (unsigned i = 0; i < r->nhrefs; i++)
        if (slice_eqz(r->hrefs[i], DRAFT_SOURCE))
            lint_say(l, r, SPOT(r, ELEMENT), true, "see names no source yet");
    for (unsigned i = 0; i < r->nfixes; i++)
        for (unsigned k = 0; k < r->fixes[i].nadvise; k++)
            if (slice_starts(r->fixes[i].advise[k], DRAFT_OPEN))
                lint_say(l, r, SPOT(&r->fixes[i], ELEMENT), true, "fix " SLICE_FMT " is still to be written", SLICE_ARG(r->fixes[i].id));
}

/* An attribute of a rule names what is not there. */
void lint_unknown(struct lint *l, const struct rule *r, const char *attribute, struct slice id, const char *what, struct slice near)
{
    lint_say(l, r, SPOT(r, slice_of(attribute)), true, "%s: \"" SLICE_FMT "\"%s" SLICE_FMT "%s", what, SLICE_ARG(id), near.n ? "; did you mean \"" : "",
             SLICE_ARG(near.n ? near : SLICE_LIT("")), near.n ? "\"?" : "");
}

static struct slice near_known(const struct knowledge *k, struct slice id)
{
    struct slice best = {NULL, 0};
    unsigned least = 4;

    for (size_t i = 0; i < k->n; i++)
        if (slice_distance(id, k->v[i].id) < least) {
            least = slice_distance(id, k->v[i].id);
            best = k->v[i].id;
        }
    return best;
}

/* What a rule says it covers is in the catalogue, and no confident verdict rests on what was only recalled. */
static void lint_covers(struct lint *l, const struct rule *r)
{
    bool sound = r->ncovers == 0;

    for (unsigned i = 0; i < r->ncovers; i++) {
        const struct known *k = knowledge_find(l->knowledge, r->covers[i]);

        if (!k)
            lint_unknown(l, r, "covers", r->covers[i], "covers names no entry of knowledge.tsv", near_known(l->knowledge, r->covers[i]));
        sound |= !k || !known_weak(k);
    }
    if (!sound && r->severity != SEV_NOTE)
        lint_say(l, r, SPOT(r, SLICE_LIT("covers")), true, "rests only on entries that are recalled or of low confidence (" SLICE_FMT "): such a rule is a note",
              SLICE_ARG(r->covers[0]));
}

void lint_rule(struct lint *l, const struct rule *r)
{
    l->from = l->before = (struct release){0};
    lint_releases(l, r->when);
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
                lint_say(l, r, SPOT(&r->fixes[i], SLICE_LIT("id")), true, "two fixes have the id " SLICE_FMT, SLICE_ARG(r->fixes[i].id));
    }
    lint_draft(l, r);
    if (l->knowledge)
        lint_covers(l, r);
    lint_never(l, r);
    lint_examples(l, r);
    if (l->today.n && r->status != RULE_RETIRED && rule_days(l->today) - rule_days(r->reviewed) > (r->ngood ? RULE_REVIEW_DAYS : REVIEW_DAYS))
        lint_say(l, r, SPOT(r, SLICE_LIT("reviewed")), false, "%s was reviewed on " SLICE_FMT ", more than %d days ago",
                 r->ngood ? "the list of good pairs" : "the rule", SLICE_ARG(r->reviewed), r->ngood ? RULE_REVIEW_DAYS : REVIEW_DAYS);
    if (l->today.n && slice_cmp(r->reviewed, l->today) > 0)
        lint_say(l, r, SPOT(r, SLICE_LIT("reviewed")), true, "reviewed " SLICE_FMT " lies in the future", SLICE_ARG(r->reviewed));
}
