#include "core/waiver.h"

#include "core/rule_load.h"

#define MAX_WAIVERS 20000u
#define MAX_WORD    500u  /* bytes of an attribute */
#define MAX_REASON  2000u

static const struct slice nothing = {NULL, 0};

/* --- dates, by the Gregorian calendar --- */

int64_t date_days(struct slice date)
{
    uint64_t y = 0, m = 1, d = 1;
    int64_t year, era, of_era, of_year;

    (void)num_parse_u64(slice_cut(date, 0, 4), &y);
    (void)num_parse_u64(slice_cut(date, 5, 2), &m);
    (void)num_parse_u64(slice_cut(date, 8, 2), &d);
    year = (int64_t)y - (m <= 2); /* years begin in March, so that the leap day is their last */
    era = (year < 0 ? year - 399 : year) / 400;
    of_era = year - era * 400;
    of_year = (153 * (int64_t)(m > 2 ? m - 3 : m + 9) + 2) / 5 + (int64_t)d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct slice date_of_days(int64_t days, struct arena *a)
{
    int64_t z = days + 719468, era = (z < 0 ? z - 146096 : z) / 146097, of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    int64_t day = of_year - (153 * month + 2) / 5 + 1;

    month += month < 10 ? 3 : -9;
    return slice_of(arena_printf(a, "%04lld-%02lld-%02lld", (long long)(year + era * 400 + (month <= 2)), (long long)month, (long long)day));
}

/* --- reading --- */

void waivers_init(struct waivers *ws, struct slice today, struct arena *a)
{
    *ws = (struct waivers){.today = today, .arena = a};
}

/* An attribute that has to be there and to hold something. */
static int wanted(struct rule_loading *l, const char *name, const char *what, struct slice *out, struct err *e)
{
    *out = slice_trim(rule_attr(l, name));
    if (slice_blank(*out))
        return rule_fail(l, e, nothing, "a waiver wants %s=\"...\", %s", name, what);
    if (out->n > MAX_WORD)
        return rule_fail(l, e, nothing, "%s is longer than %u bytes", name, MAX_WORD);
    return 0;
}

static int load_head(struct rule_loading *l, const struct waivers *ws, struct waiver *w, struct err *e)
{
    static const char *const known[] = {"rule", "host", "subject", "severity", "owner", "until", NULL};
    struct slice word;
    enum severity s;

    if (rule_only(l, "waiver", known, e) < 0 || wanted(l, "rule", "the id of a rule", &w->rule, e) < 0 ||
        wanted(l, "host", "a host's name; * stands for any text", &w->host, e) < 0 || wanted(l, "owner", "who answers for it", &w->owner, e) < 0 ||
        wanted(l, "until", "its last day", &w->until, e) < 0)
        return e->code;
    if (memchr(w->rule.p, '*', w->rule.n))
        return rule_fail(l, e, nothing, "rule names one rule, not a pattern such as \"" SLICE_FMT "\": nobody can accept a finding that nobody has seen",
                         SLICE_ARG(w->rule));
    w->subject = SLICE_LIT("*");
    if (xml_attr(l->x, "subject", &word) && wanted(l, "subject", "such as vmhba0; * stands for any text", &w->subject, e) < 0)
        return e->code;
    w->severity = -1;
    if (xml_attr(l->x, "severity", &word)) {
        if (severity_parse(word, &s) < 0 || s == SEV_CRITICAL)
            return rule_fail(l, e, nothing, "severity is what the finding is lowered to, warning or note, not \"" SLICE_FMT "\"", SLICE_ARG(word));
        w->severity = (int)s;
    }
    if (!rule_date(w->until))
        return rule_fail(l, e, nothing, "until wants a date such as 2027-03-31, not \"" SLICE_FMT "\"", SLICE_ARG(w->until));
    w->days = date_days(w->until) - date_days(ws->today);
    if (w->days > WAIVER_MAX_DAYS)
        return rule_fail(l, e, nothing, "until " SLICE_FMT " lies more than a year ahead; a year is the most, then somebody has to look again",
                         SLICE_ARG(w->until));
    w->file = l->name;
    w->line = xml_line(l->x);
    return 0;
}

static int load_waiver(struct rule_loading *l, struct waivers *ws, struct err *e)
{
    struct waiver w = {0};
    enum xml_event ev;
    void *v = ws->v;

    if (load_head(l, ws, &w, e) < 0)
        return e->code;
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        if (ev == XML_BROKEN)
            return e->code;
        if (ev == XML_TEXT || strcmp(xml_name(l->x), "reason") != 0)
            return rule_fail(l, e, nothing, "a waiver holds <reason>, not %s%s%s", ev == XML_TEXT ? "text" : "<", ev == XML_TEXT ? "" : xml_name(l->x),
                             ev == XML_TEXT ? "" : ">");
        if (rule_load_text(l, "reason", &w.reason, NULL, NULL, e) < 0)
            return e->code;
    }
    if (slice_blank(w.reason))
        return err_set(e, VF_EFORMAT, "%s:%u: a waiver wants <reason>: why the finding is accepted", l->name, w.line);
    if (w.reason.n > MAX_REASON || l->text->cut)
        return err_set(e, VF_EFORMAT, "%s:%u: the reason is longer than %u bytes", l->name, w.line, MAX_REASON);
    if (arena_grow(ws->arena, &v, ws->n, &ws->cap, sizeof *ws->v, MAX_WAIVERS) < 0)
        return err_set(e, VF_ELIMIT, "%s:%u: more than %u waivers, or more than there is room for", l->name, w.line, MAX_WAIVERS);
    ws->v = v;
    ws->v[ws->n++] = w;
    return 0;
}

static int load(struct rule_loading *l, struct waivers *ws, struct err *e)
{
    static const char *const format[] = {"format", NULL};
    enum xml_event ev;
    bool root = false;

    while ((ev = xml_next(l->x)) > XML_END) {
        if (ev == XML_TEXT)
            return rule_fail(l, e, nothing, "text between waivers");
        if (ev != XML_OPEN)
            continue;
        if (!root) {
            if (strcmp(xml_name(l->x), "waivers") != 0 || !slice_eqz(rule_attr(l, "format"), "1"))
                return rule_fail(l, e, nothing, "a file of waivers begins with <waivers format=\"1\">, not <%s>", xml_name(l->x));
            if (rule_only(l, "waivers", format, e) < 0)
                return e->code;
            root = true;
        } else if (strcmp(xml_name(l->x), "waiver") != 0) {
            return rule_fail(l, e, SLICE_LIT("waiver"), "unknown element \"%s\"", xml_name(l->x));
        } else if (load_waiver(l, ws, e) < 0) {
            return e->code;
        }
    }
    return ev == XML_BROKEN ? err_set(e, VF_EFORMAT, "%s: %s", l->name, xml_error(l->x, NULL)) : 0;
}

/* Into the lists by rule, in the order of the files. */
static int enter(struct waivers *ws, size_t i)
{
    struct waiver *w = &ws->v[i];
    uint32_t at = map_get(&ws->by_rule, w->rule);

    w->next = MAP_NONE;
    if (at == MAP_NONE)
        return map_put(&ws->by_rule, ws->arena, w->rule, (uint32_t)i);
    w->next = at;
    map_set(&ws->by_rule, w->rule, (uint32_t)i);
    return 0;
}

int waivers_load(struct waivers *ws, struct slice xml, const char *name, struct err *e)
{
    _cleanup_(xml_close) struct xml *x = xml_open(xml, name, e);
    _cleanup_(buf_done) struct buf text = BUF_INIT(16384);
    struct rule_loading l = {.x = x, .a = ws->arena, .name = arena_printf(ws->arena, "%s", name), .text = &text};
    size_t had = ws->n;

    if (!x)
        return e->code;
    if (load(&l, ws, e) < 0 || arena_full(ws->arena)) { /* a word that found no room looks like one that is missing */
        ws->n = had;
        return arena_full(ws->arena) ? err_set(e, VF_ELIMIT, "%s: more waivers than there is room for", name) : e->code;
    }
    for (size_t i = had; i < ws->n; i++)
        if (enter(ws, i) < 0) {
            ws->n = had;
            ws->by_rule = (struct map){0}; /* rather none than some of a file */
            return err_set(e, VF_ELIMIT, "%s: more waivers than there is room for", name);
        }
    return 0;
}

bool waiver_known(const struct waiver *w, const struct rules *rules)
{
    const struct rule *r = rules_find(rules, w->rule);

    return r && r->status != RULE_RETIRED;
}

/* --- applying --- */

static bool fits_host(struct slice pattern, const struct value *name, struct slice label)
{
    if (slice_iglob(pattern, label))
        return true;
    return name->state == VS_KNOWN &&
           (slice_iglob(pattern, name->s) || slice_iglob(pattern, slice_cut(name->s, 0, slice_find_char(name->s, 0, '.'))));
}

static void mark(const struct waiver *w, struct finding *f)
{
    f->waiver = w;
    f->unwaived = f->severity;
    if (w->days < 0) {
        f->effect = WAIVER_EXPIRED;
    } else if (f->rule->nrestrains) {
        f->effect = WAIVER_ACCEPTED;
    } else if (w->severity >= 0) {
        f->effect = (enum severity)w->severity < f->severity ? WAIVER_LOWERED : WAIVER_ACCEPTED;
        if (f->effect == WAIVER_LOWERED)
            f->severity = (enum severity)w->severity;
    } else {
        f->effect = f->severity == SEV_CRITICAL ? WAIVER_ACCEPTED : WAIVER_HIDDEN;
    }
}

void waivers_apply(struct waivers *ws, const struct facts *f, const char *label, struct findings *fs)
{
    const struct value *name = facts_cell(f, facts_single(f, "host"), "name");

    for (size_t i = 0; ws->n && i < fs->n; i++) {
        struct finding *x = &fs->v[i];
        const struct waiver *best = NULL;

        if (!finding_counts(x))
            continue;
        for (uint32_t k = map_get(&ws->by_rule, x->rule->id); k != MAP_NONE; k = ws->v[k].next) {
            struct waiver *w = &ws->v[k];

            if (!slice_glob(w->subject, x->row->key) || !fits_host(w->host, name, slice_of(label)))
                continue;
            w->fitted++;
            if (!best || w->days > best->days)
                best = w;
        }
        if (best)
            mark(best, x);
    }
    findings_sort(fs);
}
