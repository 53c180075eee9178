#include "core/match.h"

#include <stdlib.h>

#define MAX_FINDINGS 100000u

bool finding_counts(const struct finding *f)
{
    bool guard = f->rule->nrestrains && f->severity == SEV_NOTE;

    return f->result == TRI_TRUE && !f->withheld_by && !f->superseded_by && f->effect != WAIVER_HIDDEN && !guard;
}

static bool upgrade_concerns(const struct match_ctx *m, const struct rule *r)
{
    int order;

    if (!r->upgrade_to.major)
        return true;
    return m->upgrade_to.major && release_order(m->rules->builds, &m->upgrade_to, &r->upgrade_to, &order) == 0 && order >= 0;
}

/* What the list of good pairs says of one of the subject's versions. */
struct place {
    bool told;   /* some entry of this driver names a version of this kind */
    bool listed; /* that of some entry fits */
    bool behind; /* some entry names it, or one that it is not known to be newer than */
};

/* Numbers alone, in how many fields; 0 when there is more. Vendors order their firmware by them, and nothing is known of other forms. */
static unsigned plain_fields(struct slice v)
{
    unsigned n = 1;

    for (size_t i = 0; i < v.n; i++) {
        if (v.p[i] == '.' || v.p[i] == '-')
            n++;
        else if (v.p[i] < '0' || v.p[i] > '9')
            return 0;
    }
    return v.n ? n : 0;
}

static bool newer_than(const struct column *c, struct slice have, struct slice listed)
{
    int order;

    listed = slice_cut(listed, 0, slice_find_char(listed, 0, '*'));
    if (c->scheme == SCHEME_FIRMWARE && (plain_fields(have) == 0 || plain_fields(have) != plain_fields(listed)))
        return false;
    return version_order(have, listed, c->scheme, &order) == 0 && order > 0;
}

/* Below an entry's condition: the versions of that column. What is said of another driver says nothing. */
static void place_in_entry(const struct eval *ev, const struct cond *c, const struct row *row, unsigned column, int driver, struct place *p)
{
    const struct table *t = &ev->facts->schema->tables[row->table];
    const struct slice have = row->cells[column].s;
    const char *why;

    for (unsigned i = 0; c->kind == COND_ALL && i < c->nkids; i++)
        place_in_entry(ev, c->kids[i], row, column, driver, p);
    if (c->kind != COND_ROW || c->scope != SCOPE_SELF)
        return;
    for (unsigned i = 0; i < c->ntests; i++)
        if ((int)c->tests[i].column == driver && test_cell(ev, t, &c->tests[i], row, &why) == TRI_FALSE)
            return;
    for (unsigned i = 0; i < c->ntests; i++) {
        const struct test *x = &c->tests[i];

        for (unsigned k = 0; x->column == column && x->op == TEST_IS && k < x->nvalues; k++) {
            bool listed = slice_glob(x->values[k], have);

            p->told = true;
            p->listed |= listed;
            p->behind |= listed || !newer_than(&t->columns[column], have, x->values[k]);
        }
    }
}

/*
 * Is the subject beyond the list: its driver or its firmware newer than in every entry that speaks of this driver, the other one as new, on the
 * list, or not known. Versions without an order (text) are never newer.
 */
static bool beyond_list(const struct eval *ev, const struct rule *r, const struct row *row)
{
    static const char *const columns[] = {"driver-version", "firmware", "firmware-version"};
    const struct table *t = &ev->facts->schema->tables[r->subject];
    int driver = table_column(t, SLICE_LIT("driver"));
    bool newer = false;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int c = table_column(t, slice_of(columns[i]));
        struct place p = {false, false, false};

        if (c < 0 || t->columns[c].type != VT_VERSION || row->cells[c].state == VS_UNKNOWN)
            continue;
        for (unsigned k = 0; k < r->ngood; k++)
            place_in_entry(ev, r->good[k].cond, row, (unsigned)c, driver, &p);
        if (p.told && p.behind && !p.listed)
            return false;
        newer |= p.told && !p.behind && row->cells[c].state == VS_KNOWN;
    }
    return newer;
}

static enum tri body(const struct eval *ev, const struct rule *r, const struct row *row, bool *newer)
{
    enum tri good = TRI_FALSE;

    *newer = false;
    if (r->bad)
        return cond_eval(ev, r->bad, row);
    for (unsigned i = 0; i < r->ngood; i++)
        good = tri_or(good, cond_eval(ev, r->good[i].cond, row));
    if (good == TRI_FALSE)
        *newer = beyond_list(ev, r, row);
    return tri_not(good);
}

bool match_log_short(const struct facts *f)
{
    const struct value *minutes = facts_cell(f, facts_single(f, "host"), "log-minutes");

    return minutes->state != VS_KNOWN || minutes->i < 60;
}

/* Do the conditions look at the log, and is too little of it there. */
static bool too_little_log(const struct eval *ev, const struct rule *r)
{
    bool log = false;

    for (unsigned i = 0; i < r->nevidence; i++)
        log |= cond_table(r->evidence[i]) == facts_table_index(ev->facts, "log");
    return log && match_log_short(ev->facts);
}

static enum evidence look_for_evidence(const struct eval *ev, const struct rule *r, const struct row *row)
{
    enum tri any = TRI_FALSE;

    if (r->nevidence == 0)
        return EVIDENCE_NONE;
    for (unsigned i = 0; i < r->nevidence; i++)
        any = tri_or(any, cond_eval(ev, r->evidence[i], row));
    return any == TRI_TRUE ? EVIDENCE_SEEN : any == TRI_FALSE && !too_little_log(ev, r) ? EVIDENCE_NOT_SEEN : EVIDENCE_UNKNOWN;
}

static const char *first_unknown(const struct trace *t, const struct facts *f, struct arena *a)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct step_taken *s = &t->v[i];

        if (s->result != TRI_UNKNOWN || !s->why)
            continue;
        if (s->test && s->row)
            return arena_printf(a, SLICE_FMT "." SLICE_FMT ": %s", SLICE_ARG(f->schema->tables[s->row->table].name),
                                SLICE_ARG(f->schema->tables[s->row->table].columns[s->test->column].name), s->why);
        return s->why;
    }
    return "not known";
}

/* when and body, without a trace: what decides whether the rule is looked at more closely. */
static enum tri quick(const struct match_ctx *m, const struct rule *r, const struct row *row, enum tri *when)
{
    struct eval ev = {m->facts, m->rules->builds, NULL};
    bool newer;

    *when = upgrade_concerns(m, r) ? cond_eval(&ev, r->when, row) : TRI_FALSE;
    return *when == TRI_FALSE ? TRI_FALSE : tri_and(*when, body(&ev, r, row, &newer));
}

void match_rule(const struct match_ctx *m, const struct rule *r, const struct row *row, struct finding *out, enum tri *when)
{
    struct trace t = {.arena = m->arena}, et = {.arena = m->arena};
    struct eval ev = {m->facts, m->rules->builds, &t}, eev = {m->facts, m->rules->builds, &et};
    enum severity top = r->status == RULE_DRAFT ? SEV_NOTE : r->severity;

    *out = (struct finding){.rule = r, .row = row, .severity = top};
    *when = upgrade_concerns(m, r) ? cond_eval(&ev, r->when, row) : TRI_FALSE;
    out->result = *when == TRI_FALSE ? TRI_FALSE : tri_and(*when, body(&ev, r, row, &out->newer_than_list));
    if (*when != TRI_FALSE) {
        out->evidence = look_for_evidence(&eev, r, row);
        if (r->evidence_required && out->result != TRI_FALSE)
            out->result = tri_and(out->result, out->evidence == EVIDENCE_SEEN      ? TRI_TRUE
                                               : out->evidence == EVIDENCE_UNKNOWN ? TRI_UNKNOWN
                                                                                   : TRI_FALSE);
        if (out->evidence == EVIDENCE_NOT_SEEN && out->severity > SEV_NOTE)
            out->severity--;
    }
    if (out->newer_than_list)
        out->severity = SEV_NOTE;
    if (out->result == TRI_UNKNOWN)
        out->why = first_unknown(&t, m->facts, m->arena);
    if (out->result == TRI_UNKNOWN && strcmp(out->why, "not known") == 0)
        out->why = first_unknown(&et, m->facts, m->arena);
    if (out->result == TRI_UNKNOWN && strcmp(out->why, "not known") == 0 && out->evidence == EVIDENCE_UNKNOWN)
        out->why = "the log that was read covers too little time to say that it does not happen";
    out->trace = t.v;
    out->ntrace = t.n;
    out->evidence_trace = et.v;
    out->nevidence_trace = et.n;
}

const char *match_decided(const struct facts *f, const struct finding *found, struct arena *a)
{
    const struct step_taken *decided = NULL;
    const struct column *column;
    struct slice value;

    for (size_t i = 0; i < found->ntrace; i++) {
        const struct step_taken *s = &found->trace[i];

        if (s->result == found->result && s->test && s->cell && (!decided || found->result == TRI_TRUE))
            decided = s;
    }
    if (!decided)
        return "nothing";
    column = &f->schema->tables[decided->cond->table].columns[decided->test->column];
    value = decided->cell->state == VS_KNOWN ? value_text(column, decided->cell, a) : decided->cell->state == VS_ABSENT ? SLICE_LIT("-") : SLICE_LIT("?");
    return arena_printf(a, SLICE_FMT " " SLICE_FMT " (" SLICE_FMT ")", SLICE_ARG(f->schema->tables[decided->cond->table].name),
                        SLICE_ARG(decided->test->written), SLICE_ARG(value));
}

/* --- guards --- */

struct reach {
    const struct row *wanted;
    bool hit;
};

static bool is_row(void *ctx, const struct row *r)
{
    struct reach *x = ctx;

    x->hit |= r == x->wanted;
    return !x->hit;
}

/* Does a guard that holds for row g concern a finding on row s: the same row, a row it leads to, or the whole host. */
static enum tri concerns(const struct match_ctx *m, const struct row *g, const struct row *s)
{
    struct step steps[SCHEMA_MAX_STEPS];
    struct cond c = {.kind = COND_ROW, .table = g->table, .scope = SCOPE_RELATED, .steps = steps};
    struct reach x = {.wanted = g};
    const char *why;
    bool closed;
    int n;

    if (g->table == s->table)
        return g == s ? TRI_TRUE : TRI_FALSE;
    if (m->facts->schema->tables[g->table].single)
        return TRI_TRUE;
    n = schema_relate(m->facts->schema, (int)s->table, (int)g->table, steps);
    if (n < 0)
        return TRI_TRUE;
    c.nsteps = (unsigned)n & 0xff;
    cond_rows(m->facts, &c, s, is_row, &x, &closed, &why);
    return x.hit ? TRI_TRUE : closed ? TRI_FALSE : TRI_UNKNOWN;
}

/* Guards first: a finding that is held back replaces nothing. */
static void restrain(const struct match_ctx *m, struct findings *fs)
{
    for (size_t g = 0; g < fs->n; g++) {
        const struct finding *guard = &fs->v[g];

        for (size_t i = 0; i < fs->n && guard->rule->nrestrains; i++) {
            struct finding *f = &fs->v[i];
            enum tri holds;

            if (!slice_among(guard->rule->restrains, guard->rule->nrestrains, f->rule->id))
                continue;
            holds = tri_and(guard->result, concerns(m, guard->row, f->row));
            if (holds == TRI_TRUE)
                f->withheld_by = guard->rule;
            else if (holds == TRI_UNKNOWN)
                f->guard_unknown = guard->rule;
        }
    }
}

static void supersede(struct findings *fs)
{
    for (size_t g = 0; g < fs->n; g++) {
        const struct finding *by = &fs->v[g];

        for (size_t i = 0; i < fs->n && by->rule->nsupersedes && by->result == TRI_TRUE && !by->withheld_by; i++)
            if (by->row == fs->v[i].row && slice_among(by->rule->supersedes, by->rule->nsupersedes, fs->v[i].rule->id))
                fs->v[i].superseded_by = by->rule;
    }
}

/* --- the run --- */

static int by_weight(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    int rc;

    if (x->result != y->result)
        return x->result > y->result ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    if (x->row->table != y->row->table)
        return x->row->table < y->row->table ? -1 : 1;
    rc = natural_cmp(x->row->key, y->row->key);
    return rc ? rc : slice_cmp(x->rule->id, y->rule->id);
}

void findings_sort(struct findings *f)
{
    if (f->n > 1)
        qsort(f->v, f->n, sizeof *f->v, by_weight);
}

/*
 * What became of each rule over all rows. The arrays are as long as the rule set but only touched where rules can match: untouched pages of
 * them cost nothing, so that a host's time does not grow with the rules loaded.
 */
enum { RULE_TOUCHED = 1, RULE_APPLIED = 2, RULE_SPOKE = 4 };

struct fates {
    uint8_t *fate, *seen;
    uint32_t *hits, *touched;
    size_t ntouched;
};

static int match_row(const struct match_ctx *m, const struct row *row, struct fates *x, struct findings *out)
{
    size_t n = ruleset_candidates(m->rules, m->facts, row, x->hits, x->seen);

    for (size_t i = 0; i < n; i++) {
        uint32_t at = x->hits[i];
        const struct rule *r = m->rules->rules.v[at];
        enum tri when, result;
        void *v = out->v;

        if (!x->fate[at])
            x->touched[x->ntouched++] = at;
        x->fate[at] |= RULE_TOUCHED;
        if (r->status == RULE_RETIRED)
            continue;
        result = quick(m, r, row, &when);
        if (when == TRI_TRUE)
            x->fate[at] |= RULE_APPLIED;
        if (result == TRI_FALSE)
            continue;
        if (arena_grow(m->arena, &v, out->n, &out->cap, sizeof *out->v, MAX_FINDINGS) < 0)
            return -1;
        out->v = v;
        match_rule(m, r, row, &out->v[out->n], &when);
        if (out->v[out->n].result == TRI_FALSE)
            continue;
        x->fate[at] |= RULE_SPOKE;
        out->n++;
    }
    return 0;
}

int match_run(const struct match_ctx *m, struct findings *out, struct err *e)
{
    size_t nrules = m->rules->rules.n;
    struct fates x = {xmalloc(nrules + 1), xmalloc(nrules + 1), xmalloc((nrules + 1) * sizeof(uint32_t)),
                      xmalloc((nrules + 1) * sizeof(uint32_t)), 0};
    int rc = 0;

    *out = (struct findings){.rules = nrules};
    for (unsigned t = 0; t < m->facts->schema->ntables && rc == 0; t++)
        for (size_t i = 0; i < facts_count(m->facts, t) && rc == 0; i++)
            rc = match_row(m, facts_at(m->facts, t, i), &x, out);
    out->lists = arena_array(m->arena, x.ntouched + 1, sizeof *out->lists);
    for (size_t i = 0; i < x.ntouched; i++) {
        const struct rule *r = m->rules->rules.v[x.touched[i]];
        uint8_t fate = x.fate[x.touched[i]];

        if (out->lists && r->ngood && (fate & (RULE_APPLIED | RULE_SPOKE)))
            out->lists[out->nlists++] = r;

        out->applied += (fate & RULE_APPLIED) != 0;
        out->ok += (fate & RULE_APPLIED) && !(fate & RULE_SPOKE);
    }
    free(x.fate);
    free(x.seen);
    free(x.hits);
    free(x.touched);
    if (rc < 0)
        return err_set(e, VF_ELIMIT, "more than %u findings on one host", MAX_FINDINGS);
    restrain(m, out);
    supersede(out);
    findings_sort(out);
    return 0;
}
