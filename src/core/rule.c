#include "core/rule.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"
#include "core/rule_load.h"

#define MAX_RULES 200000u
#define MAX_TITLE 200u

static const char *const severities[] = {"note", "warning", "critical"};

const char *severity_name(enum severity s)
{
    return severities[s];
}

int severity_parse(struct slice s, enum severity *out)
{
    for (unsigned i = 0; i < 3; i++)
        if (slice_eqz(s, severities[i])) {
            *out = (enum severity)i;
            return 0;
        }
    return -1;
}

static const struct slice nothing = {NULL, 0};

static int load_ids(struct rule_loading *l, const char *name, const struct slice **out, unsigned *n, struct err *e)
{
    struct slice rest = rule_attr(l, name), w, v[RULE_MAX_KIDS];

    while (*n < RULE_MAX_KIDS && slice_next_word(&rest, " \t\r\n", &w))
        v[(*n)++] = w;
    *out = rule_keep(l->a, v, *n, sizeof *v);
    return *out ? 0 : rule_full(l, e);
}

static bool id_form(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || strchr(".-", s.p[i])))
            return false;
    return s.n > 2 && s.n <= 64 && s.p[0] != '-' && s.p[0] != '.';
}

bool rule_date(struct slice s)
{
    static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t y, m, d;

    if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-')
        return false;
    if (num_parse_u64(slice_cut(s, 0, 4), &y) < 0 || num_parse_u64(slice_cut(s, 5, 2), &m) < 0 || num_parse_u64(slice_from(s, 8), &d) < 0)
        return false;
    if (m < 1 || m > 12 || d < 1)
        return false;
    return d <= days[m - 1] + (m == 2 && (y % 400 == 0 || (y % 4 == 0 && y % 100 != 0)));
}

/* With years that begin in March, so that the leap day is the last one. */
int64_t rule_days(struct slice date)
{
    uint64_t y = 0, m = 0, d = 0;

    (void)num_parse_u64(slice_cut(date, 0, 4), &y);
    (void)num_parse_u64(slice_cut(date, 5, 2), &m);
    (void)num_parse_u64(slice_cut(date, 8, 2), &d);
    y -= m < 3;
    m = m < 3 ? m + 9 : m - 3;
    return (int64_t)(365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d);
}

static int load_head(struct rule_loading *l, struct rule *r, struct err *e)
{
    static const char *const known[] = {"id", "subject", "topic", "severity", "status", "reviewed", "supersedes", "restrains", "covers", NULL};
    static const char *const states[] = {"draft", "stable", "retired", NULL};
    struct slice subject = nothing, severity = nothing, status = nothing;
    int t, s = 0;

    (void)xml_attr(l->x, "subject", &subject);
    (void)xml_attr(l->x, "severity", &severity);
    (void)xml_attr(l->x, "status", &status);
    t = schema_table(l->schema, subject);
    r->id = rule_attr(l, "id");
    r->file = l->name;
    r->line = xml_line(l->x);
    r->at = (uint32_t)xml_offset(l->x);
    r->topic = rule_attr(l, "topic");
    r->reviewed = rule_attr(l, "reviewed");
    if (t < 0)
        return rule_fail(rule_at(l, "subject"), e, subject.n ? schema_near_table(l->schema, subject) : nothing, "subject must name a table, not \"" SLICE_FMT "\"",
                         SLICE_ARG(subject));
    r->subject = (unsigned)t;
    l->rule = r; /* what follows can be read now */
    if (rule_only(l, "rule", known, e) < 0)
        return e->code;
    if (!id_form(r->id))
        return rule_fail(rule_at(l, "id"), e, nothing, "a rule's id is 3 to 64 lower-case letters, digits, '-' and '.', not \"" SLICE_FMT "\"",
                         SLICE_ARG(r->id));
    if (severity_parse(severity, &r->severity) < 0)
        return rule_fail(rule_at(l, "severity"), e, nothing, "severity must be critical, warning or note, not \"" SLICE_FMT "\"",
                         SLICE_ARG(severity));
    while (states[s] && !slice_eqz(status, states[s]))
        s++;
    if (!states[s])
        return rule_fail(rule_at(l, "status"), e, rule_near_word(status, states), "status must be draft, stable or retired, not \"" SLICE_FMT "\"",
                         SLICE_ARG(status));
    r->status = (enum rule_status)s;
    if (!rule_date(r->reviewed))
        return rule_fail(rule_at(l, "reviewed"), e, nothing, "reviewed wants a date such as 2026-11-30, not \"" SLICE_FMT "\"",
                         SLICE_ARG(r->reviewed));
    if (load_ids(l, "supersedes", &r->supersedes, &r->nsupersedes, e) < 0)
        return e->code;
    if (load_ids(l, "restrains", &r->restrains, &r->nrestrains, e) < 0)
        return e->code;
    return load_ids(l, "covers", &r->covers, &r->ncovers, e);
}

/* Growing lists of one rule while it is read. */
struct parts {
    struct good good[RULE_MAX_KIDS];
    struct slice hrefs[RULE_MAX_KIDS];
    struct fix fixes[RULE_MAX_KIDS];
    struct example examples[RULE_MAX_EXAMPLES];
    struct uncaught uncaught[RULE_MAX_KIDS];
    const struct cond *bad[RULE_MAX_KIDS], *evidence[RULE_MAX_KIDS];
    unsigned nbad, nhrefs, when;
};

static int load_evidence(struct rule_loading *l, struct rule *r, struct parts *p, struct err *e)
{
    static const char *const known[] = {"required", NULL};
    struct slice required = rule_attr(l, "required");
    enum xml_event ev;

    if (r->nevidence)
        return rule_fail(l, e, nothing, "a second <evidence>; its elements are alternatives");
    if (rule_only(l, "evidence", known, e) < 0)
        return e->code;
    r->evidence_required = slice_eqz(required, "yes");
    if (required.n && !r->evidence_required && !slice_eqz(required, "no"))
        return rule_fail(rule_at(l, "required"), e, nothing, "required wants yes or no, not \"" SLICE_FMT "\"", SLICE_ARG(required));
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        if (ev == XML_BROKEN)
            return e->code;
        if (ev == XML_TEXT || r->nevidence == RULE_MAX_KIDS)
            return rule_fail(l, e, nothing, "<evidence> holds elements, not text");
        p->evidence[r->nevidence] = rule_load_part(l, e);
        if (!p->evidence[r->nevidence++])
            return e->code;
    }
    return r->nevidence ? 0 : rule_fail(l, e, nothing, "<evidence> says nothing");
}

static int load_uncaught(struct rule_loading *l, struct uncaught *out, struct err *e)
{
    static const char *const known[] = {"what", "because", NULL};

    if (rule_only(l, "uncaught", known, e) < 0)
        return e->code;
    *out = (struct uncaught){rule_attr(l, "what"), rule_attr(l, "because"), xml_line(l->x)};
    if (out->what.n == 0 || out->because.n == 0)
        return rule_fail(l, e, nothing, "uncaught wants what=\"...\", as \"rules mutate\" prints it, and because=\"...\"");
    return rule_no_children(l, "uncaught", e);
}

enum child { CHILD_TITLE, CHILD_WHEN, CHILD_BAD, CHILD_GOOD, CHILD_EVIDENCE, CHILD_WHY, CHILD_FIX, CHILD_MATCHES, CHILD_IGNORES, CHILD_UNSURE, CHILD_UNCAUGHT, CHILD_OTHER };

static const char *const children[] = {"title", "when", "bad", "good", "evidence", "why", "fix", "matches", "ignores", "unsure", "uncaught", NULL};

static enum child child_of(const char *name)
{
    unsigned i = 0;

    while (children[i] && !(children[i][0] == name[0] && strcmp(children[i], name) == 0))
        i++;
    return (enum child)i;
}

static int load_child(struct rule_loading *l, struct rule *r, struct parts *p, struct err *e)
{
    static const char *const good_only[] = {"esxi", "note", NULL}, *const when_only[] = {"upgrade-to", NULL};
    enum child child = child_of(xml_name(l->x));
    const char *element = child == CHILD_OTHER ? xml_name(l->x) : children[child]; /* the reader's is gone with the next node */
    struct slice upgrade;

    switch (child) {
    case CHILD_TITLE:
        return rule_load_text(l, element, &r->title, NULL, NULL, e);
    case CHILD_WHY:
        return rule_load_text(l, element, &r->why, p->hrefs, &p->nhrefs, e);
    case CHILD_WHEN:
        if (p->when++)
            return rule_fail(l, e, nothing, "a second <when>; elements of different names in one <when> must all hold");
        if (rule_only(l, element, when_only, e) < 0)
            return e->code;
        upgrade = rule_attr(l, "upgrade-to");
        if (upgrade.n && release_parse(upgrade, &r->upgrade_to, e) < 0)
            return rule_where(rule_at(l, "upgrade-to"), e);
        return rule_load_group(l, element, &r->when, e);
    case CHILD_BAD:
        if (p->nbad == RULE_MAX_KIDS)
            break;
        return rule_load_body(l, element, NULL, &p->bad[p->nbad++], e);
    case CHILD_GOOD:
        if (r->ngood == RULE_MAX_KIDS)
            break;
        p->good[r->ngood].note = rule_attr(l, "note");
        return rule_load_body(l, element, good_only, &p->good[r->ngood++].cond, e);
    case CHILD_EVIDENCE:
        return load_evidence(l, r, p, e);
    case CHILD_FIX:
        if (r->nfixes == RULE_MAX_KIDS)
            break;
        p->fixes[r->nfixes] = (struct fix){.risk = -1};
        return rule_load_fix(l, &p->fixes[r->nfixes++], e);
    case CHILD_MATCHES:
    case CHILD_IGNORES:
    case CHILD_UNSURE:
        if (r->nexamples == RULE_MAX_EXAMPLES)
            break;
        p->examples[r->nexamples] = (struct example){.kind = EXAMPLE_MATCHES};
        return rule_load_example(l, &p->examples[r->nexamples++], (enum example_kind)(child - CHILD_MATCHES), element, e);
    case CHILD_UNCAUGHT:
        if (r->nuncaught == RULE_MAX_KIDS)
            break;
        return load_uncaught(l, &p->uncaught[r->nuncaught++], e);
    case CHILD_OTHER:
        return rule_fail(l, e, rule_near_word(slice_of(element), children), "unknown element \"%s\"", element);
    }
    return rule_fail(l, e, nothing, "too many <%s>", element);
}

static int close_rule(struct rule_loading *l, struct rule *r, struct parts *p, struct err *e)
{
    bool matches = false, ignores = false;

    for (unsigned i = 0; i < r->nexamples; i++) {
        matches |= p->examples[i].kind == EXAMPLE_MATCHES;
        ignores |= p->examples[i].kind == EXAMPLE_IGNORES;
    }
    if (r->title.n > MAX_TITLE)
        return rule_fail(l, e, nothing, "the title of \"" SLICE_FMT "\" is longer than %u characters; say the rest in <why>", SLICE_ARG(r->id),
                         MAX_TITLE);
    if (r->title.n == 0)
        return rule_fail(l, e, nothing, "rule \"" SLICE_FMT "\" wants a <title>", SLICE_ARG(r->id));
    if (r->why.n == 0 || p->nhrefs == 0)
        return rule_fail(l, e, nothing, "rule \"" SLICE_FMT "\" wants <why> with at least one <see href=\"...\"/>", SLICE_ARG(r->id));
    if ((p->nbad > 0) == (r->ngood > 0))
        return rule_fail(l, e, nothing, "rule \"" SLICE_FMT "\" wants either <bad> or <good>, not both", SLICE_ARG(r->id));
    if (!matches || !ignores)
        return rule_fail(l, e, nothing, "rule \"" SLICE_FMT "\" needs %s example", SLICE_ARG(r->id), matches ? "an <ignores>" : "a <matches>");
    if (p->nbad == 1)
        r->bad = p->bad[0];
    if (p->nbad > 1) {
        struct cond *any = rule_new_cond(l, COND_ANY);

        if (!any)
            return rule_full(l, e);
        any->kids = rule_keep(l->a, p->bad, p->nbad, sizeof *p->bad);
        any->nkids = p->nbad;
        r->bad = any;
    }
    r->good = rule_keep(l->a, p->good, r->ngood, sizeof *p->good);
    r->evidence = rule_keep(l->a, p->evidence, r->nevidence, sizeof *p->evidence);
    r->hrefs = rule_keep(l->a, p->hrefs, p->nhrefs, sizeof *p->hrefs);
    r->nhrefs = p->nhrefs;
    r->fixes = rule_keep(l->a, p->fixes, r->nfixes, sizeof *p->fixes);
    if (l->rules->without_examples)
        r->nexamples = 0;
    r->examples = rule_keep(l->a, p->examples, r->nexamples, sizeof *p->examples);
    r->uncaught = rule_keep(l->a, p->uncaught, r->nuncaught, sizeof *p->uncaught);
    return arena_full(l->a) ? rule_full(l, e) : 0;
}

static int store(struct rule_loading *l, struct rule *r, struct err *e)
{
    struct rules *rs = l->rules;
    uint32_t at = map_get(&rs->by_id, r->id);
    void *v = rs->v;

    if (at != MAP_NONE) {
        if (rs->v[at]->file == r->file)
            return rule_fail(rule_at(l, "id"), e, nothing, "the id \"" SLICE_FMT "\" is used twice, first on line %u", SLICE_ARG(r->id),
                             rs->v[at]->line);
        r->replaced = rs->v[at];
        rs->v[at] = r;
        return 0;
    }
    if (arena_grow(l->a, &v, rs->n, &rs->cap, sizeof *rs->v, MAX_RULES) < 0 || map_put(&rs->by_id, l->a, r->id, (uint32_t)rs->n) < 0)
        return err_set(e, VF_ELIMIT, "%s: more than %u rules", l->name, MAX_RULES);
    rs->v = v;
    rs->v[rs->n++] = r;
    return 0;
}

/*
 * Note a mistake and go on behind the element of that depth in which it was met. False when it was the last that is asked for, or nothing can
 * be read behind it.
 */
static bool go_on(struct rule_loading *l, unsigned depth, struct err *e)
{
    struct mistakes *m = l->mistakes;

    l->attribute = nothing;
    if (!m || m->unread || arena_full(l->a) || e->code != VF_EFORMAT || m->n == RULES_MAX_MISTAKES)
        return false;
    m->v[m->n] = arena_printf(l->a, "%s", e->msg);
    if (arena_full(l->a)) /* there was no room for its words */
        return false;
    m->n++;
    m->unread = l->torn || m->n == RULES_MAX_MISTAKES;
    while (!m->unread && xml_depth(l->x) >= depth)
        if (xml_next(l->x) <= XML_END) {
            (void)rule_torn(l, e);
            return go_on(l, depth, e);
        }
    if (!m->unread)
        *e = (struct err){0};
    return !m->unread;
}

static int load_rule(struct rule_loading *l, struct parts *p, struct err *e)
{
    struct rule *r = arena_alloc(l->a, sizeof *r);
    unsigned depth = xml_depth(l->x);
    bool sound = true;
    enum xml_event ev;

    if (!r)
        return rule_full(l, e);
    p->nbad = p->nhrefs = p->when = 0;
    l->rule = NULL;
    if (load_head(l, r, e) < 0) {
        sound = false;
        if (!l->rule || !go_on(l, depth + 1, e))
            return e->code;
    }
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        if (ev == XML_BROKEN)
            return e->code;
        if ((ev == XML_TEXT ? rule_fail(l, e, nothing, "a rule holds elements, not text") : load_child(l, r, p, e)) < 0) {
            sound = false;
            if (!go_on(l, depth + 1, e))
                return e->code;
        }
    }
    if (!sound) /* what it lacks may be what was passed over */
        return 0;
    if (close_rule(l, r, p, e) < 0)
        return e->code;
    return store(l, r, e);
}

static void free_parts(struct parts **p)
{
    free(*p);
}

static int load_root(struct rule_loading *l, struct err *e)
{
    static const char *const format[] = {"format", NULL};

    struct slice of = rule_attr(l, "format");

    if (strcmp(xml_name(l->x), "rules") != 0)
        return rule_fail(l, e, nothing, "a rule file begins with <rules format=\"1\">, not <%s>", xml_name(l->x));
    if (!slice_eqz(of, "1"))
        return rule_fail(l, e, nothing, "<rules> wants format=\"1\", which this vmkfit reads%s", of.n ? "; the file is of another" : "");
    return rule_only(l, "rules", format, e);
}

static int load_node(struct rule_loading *l, enum xml_event ev, struct parts *p, struct err *e)
{
    static const char *const known[] = {"rule", NULL};

    if (ev == XML_TEXT)
        return rule_fail(l, e, nothing, "text between rules");
    if (ev != XML_OPEN)
        return 0;
    if (strcmp(xml_name(l->x), "rule") != 0)
        return rule_fail(l, e, rule_near_word(slice_of(xml_name(l->x)), known), "unknown element \"%s\"", xml_name(l->x));
    return load_rule(l, p, e);
}

int rules_load(struct rules *rs, struct slice xml, const char *name, const struct schema *s, struct arena *a, struct err *e)
{
    return rules_check(rs, xml, name, s, a, NULL, e);
}

int rules_check(struct rules *rs, struct slice xml, const char *name, const struct schema *s, struct arena *a, struct mistakes *m, struct err *e)
{
    _cleanup_(free_parts) struct parts *parts = xmalloc(sizeof *parts);
    _cleanup_(xml_close) struct xml *x = xml_open(xml, name, e);
    _cleanup_(buf_done) struct buf text = BUF_INIT(16384);
    struct rule_loading l = {.x = x, .a = a, .name = arena_printf(a, "%s", name), .schema = s, .rules = rs, .text = &text, .mistakes = m};
    enum xml_event ev = x ? xml_next(x) : XML_BROKEN;
    int rc = 0;

    if (ev == XML_OPEN)
        rc = load_root(&l, e);
    while (rc == 0 && ev > XML_END && (ev = xml_next(x)) > XML_END) {
        rc = load_node(&l, ev, parts, e);
        if (rc < 0 && go_on(&l, 2, e))
            rc = 0;
    }
    if (x && ev == XML_BROKEN)
        rc = rule_torn(&l, e);
    if (arena_full(a))
        return rule_full(&l, e); /* a word that found no room looks like one that is missing */
    if (x && rc == 0)
        return 0;
    if (!m || e->code != VF_EFORMAT)
        return e->code;
    l.torn = true;
    (void)go_on(&l, 0, e);
    return arena_full(a) ? rule_full(&l, e) : 0;
}

const struct rule *rules_find(const struct rules *rs, struct slice id)
{
    uint32_t at = map_get(&rs->by_id, id);

    return at == MAP_NONE ? NULL : rs->v[at];
}

struct slice rules_near(const struct rules *rs, struct slice id)
{
    struct slice best = nothing;
    unsigned least = 6;

    for (size_t i = 0; i < rs->n; i++) {
        unsigned d = slice_distance(id, rs->v[i]->id);

        if (d < least) {
            least = d;
            best = rs->v[i]->id;
        }
    }
    return best;
}

/* Is one of two PCI ids the other, or its leading parts. */
static bool ids_meet(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    struct slice longer = a.n > n ? a : b;

    return n > 0 && slice_ieq(slice_cut(a, 0, n), slice_cut(b, 0, n)) && (longer.n == n || longer.p[n] == ':');
}

static bool cond_names_device(const struct cond *c, const struct schema *s, struct slice id)
{
    int pci = schema_table(s, SLICE_LIT("pci"));

    if (!c || c->kind == COND_NONE)
        return false;
    for (unsigned i = 0; c->kind == COND_ROW && (int)c->table == pci && i < c->ntests; i++)
        for (unsigned k = 0; c->tests[i].op == TEST_IS && k < c->tests[i].nvalues; k++)
            if (slice_eqz(s->tables[pci].columns[c->tests[i].column].name, "id") && ids_meet(c->tests[i].values[k], id))
                return true;
    for (unsigned i = 0; i < c->nkids; i++)
        if (cond_names_device(c->kids[i], s, id))
            return true;
    return false;
}

bool rule_names_device(const struct rule *rule, const struct schema *s, struct slice id)
{
    bool named = cond_names_device(rule->when, s, id) || cond_names_device(rule->bad, s, id);

    for (unsigned i = 0; i < rule->ngood; i++)
        named |= cond_names_device(rule->good[i].cond, s, id);
    return named;
}
