#include "out/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/derive.h"

#define MAX_LINES   24u
#define MAX_DAMAGED 2000u

/* --- small texts --- */

static const struct value *cell(const struct report *r, const struct row *row, const char *column)
{
    return facts_cell(r->facts, row, column);
}

static struct slice shown(const struct report *r, const struct row *row, const char *column)
{
    const struct table *t = &r->facts->schema->tables[row->table];
    const struct value *v = cell(r, row, column);

    return value_text(&t->columns[table_column(t, slice_of(column))], v, r->m->arena);
}

struct lines {
    struct report_line *v;
    size_t n, cap;
    struct arena *a;
};

static void say(struct lines *l, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void say(struct lines *l, const char *label, const char *fmt, ...)
{
    char text[2000];
    void *v = l->v;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (arena_grow(l->a, &v, l->n, &l->cap, sizeof *l->v, MAX_LINES) < 0)
        return;
    l->v = v;
    l->v[l->n++] = (struct report_line){label, arena_printf(l->a, "%s", text)};
}

/* --- about the subject: relations make the diagnosis --- */

static void about_pci(struct lines *l, const struct report *r, const struct row *pci)
{
    if (!pci)
        return;
    say(l, "controller", SLICE_FMT " " SLICE_FMT ", " SLICE_FMT, SLICE_ARG(shown(r, pci, "id")), SLICE_ARG(shown(r, pci, "name")),
        SLICE_ARG(pci->key));
}

static void about_driver(struct lines *l, const struct report *r, const struct row *row)
{
    struct slice driver = shown(r, row, "driver"), version = shown(r, row, "driver-version"), api = shown(r, row, "driver-api"),
                 vib = shown(r, row, "vib");

    if (cell(r, row, "driver")->state == VS_KNOWN)
        say(l, "driver", SLICE_FMT "%s" SLICE_FMT "%s" SLICE_FMT "%s%s" SLICE_FMT, SLICE_ARG(driver), version.n ? " " : "", SLICE_ARG(version),
            api.n ? " (" : "", SLICE_ARG(api), api.n ? ")" : "", vib.n ? ", VIB " : "", SLICE_ARG(vib));
    else if (cell(r, row, "driver")->state == VS_ABSENT)
        say(l, "driver", "none");
}

/* Names of rows of a refs column, at most a handful. */
static struct slice named(const struct report *r, const struct row *row, const char *column, const char *table, const char *name)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(600);
    const struct value *v = cell(r, row, column);

    for (size_t i = 0; v->state == VS_KNOWN && i < v->nlist && i < 6; i++) {
        const struct row *o = facts_find(r->facts, facts_table_index(r->facts, table), v->list[i]);

        buf_addz(&b, i ? ", " : "");
        if (o && cell(r, o, name)->state == VS_KNOWN)
            buf_add(&b, shown(r, o, name));
        else
            buf_add(&b, v->list[i]);
    }
    if (v->state == VS_KNOWN && v->nlist > 6)
        buf_printf(&b, " and %zu more", v->nlist - 6);
    return arena_dup(r->m->arena, buf_slice(&b));
}

static void count_of(struct buf *b, const struct report *r, const struct value *v, unsigned links, const char *one, const char *many)
{
    if (v->state == VS_UNKNOWN)
        buf_printf(b, "%s unknown", many);
    else
        buf_printf(b, "%s%zu %s", derive_whole_behind(r->facts, links) ? "" : "at least ", v->state == VS_KNOWN ? v->nlist : 0,
                   v->state == VS_KNOWN && v->nlist == 1 ? one : many);
}

static void about_adapter(struct lines *l, const struct report *r, const struct row *a)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(2000);
    const struct value *boots = cell(r, a, "boots"), *stores = cell(r, a, "datastores"), *machines = cell(r, a, "machines");
    const struct row *pci = facts_ref(r->facts, a, "pci"), *host = facts_single(r->facts, "host");
    const struct value *list = pci ? cell(r, pci, "candidates") : NULL;

    about_pci(l, r, pci);
    about_driver(l, r, a);
    if (list && list->state == VS_KNOWN && list->nlist > 1) {
        const struct value *fallback = cell(r, pci, "fallback");
        struct value vib = fallback->state == VS_KNOWN ? *cell(r, facts_find(r->facts, facts_table_index(r->facts, "module"), fallback->s), "vib")
                                                       : value_unknown(NULL);

        if (fallback->state == VS_KNOWN)
            say(l, "without it", SLICE_FMT "%s" SLICE_FMT " would claim the controller: installed, enabled, and its map file lists the device",
                SLICE_ARG(fallback->s), vib.state == VS_KNOWN ? " of VIB " : "", SLICE_ARG(vib.state == VS_KNOWN ? vib.s : SLICE_LIT("")));
        else if (fallback->state == VS_ABSENT)
            say(l, "without it", "no other driver of this host would claim the controller");
    }
    if (cell(r, a, "ports")->state == VS_KNOWN && cell(r, a, "ports")->i > 1)
        say(l, "HBA ports", SLICE_FMT " adapters on this function", SLICE_ARG(shown(r, a, "ports")));
    count_of(&b, r, cell(r, a, "devices"), BEHIND_DEVICES, "device", "devices");
    buf_addz(&b, ", ");
    count_of(&b, r, stores, BEHIND_DATASTORES, "datastore", "datastores");
    if (stores->state == VS_KNOWN)
        buf_printf(&b, " (" SLICE_FMT ")", SLICE_ARG(named(r, a, "datastores", "datastore", "name")));
    buf_addz(&b, ", ");
    count_of(&b, r, machines, BEHIND_MACHINES, "running machine", "running machines");
    if (machines->state == VS_KNOWN)
        buf_printf(&b, " (" SLICE_FMT ")", SLICE_ARG(named(r, a, "machines", "vm", "name")));
    say(l, "behind it", "%s", buf_z(&b));
    if (known_bool(boots, true))
        say(l, "boot", "the host boots over it, from " SLICE_FMT, SLICE_ARG(shown(r, host, "boot-device")));
    else if (known_bool(boots, false) && cell(r, host, "boot-device")->state == VS_KNOWN)
        say(l, "boot", "not over it: the host boots from " SLICE_FMT " on " SLICE_FMT, SLICE_ARG(shown(r, host, "boot-device")),
            SLICE_ARG(shown(r, host, "boot-adapter")));
    else if (boots->state == VS_UNKNOWN)
        say(l, "boot", "whether the host boots over it is not known: %s", boots->why);
}

static void about_device(struct lines *l, const struct report *r, const struct row *d)
{
    struct slice stores = named(r, d, "datastores", "datastore", "name");

    say(l, "device", SLICE_FMT " " SLICE_FMT " " SLICE_FMT, SLICE_ARG(shown(r, d, "vendor")), SLICE_ARG(shown(r, d, "model")),
        SLICE_ARG(shown(r, d, "revision")));
    if (cell(r, d, "adapters")->state == VS_KNOWN)
        say(l, "adapter", SLICE_FMT ", driver " SLICE_FMT, SLICE_ARG(shown(r, d, "adapters")), SLICE_ARG(shown(r, d, "driver")));
    if (cell(r, d, "paths")->state == VS_KNOWN)
        say(l, "paths", SLICE_FMT ", " SLICE_FMT " active, " SLICE_FMT " dead", SLICE_ARG(shown(r, d, "paths")),
            SLICE_ARG(shown(r, d, "active-paths")), SLICE_ARG(shown(r, d, "dead-paths")));
    if (stores.n)
        say(l, "datastores", SLICE_FMT, SLICE_ARG(stores));
}

static void about_nic(struct lines *l, const struct report *r, const struct row *n)
{
    about_pci(l, r, facts_ref(r->facts, n, "pci"));
    about_driver(l, r, n);
    if (cell(r, n, "link")->state == VS_KNOWN)
        say(l, "link", SLICE_FMT ", " SLICE_FMT " Mbit/s%s" SLICE_FMT, SLICE_ARG(shown(r, n, "link")), SLICE_ARG(shown(r, n, "speed")),
            cell(r, n, "vswitches")->state == VS_KNOWN ? ", uplink of " : "", SLICE_ARG(shown(r, n, "vswitches")));
    if (cell(r, n, "firmware")->state == VS_KNOWN)
        say(l, "firmware", SLICE_FMT, SLICE_ARG(shown(r, n, "firmware")));
}

/* Adapters and NICs that a module drives; and, when it is disabled for the next boot, who takes them then. */
static void about_module(struct lines *l, const struct report *r, const struct row *m)
{
    static const char *const tables[] = {"adapter", "nic"};
    _cleanup_(buf_done) struct buf b = BUF_INIT(1000);
    bool pending = known_bool(cell(r, m, "change-pending"), true);
    const struct row *x;

    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; (x = derive_row(r->facts, tables[k], i)); i++)
            if (cell(r, x, "driver")->state == VS_KNOWN && slice_eq(cell(r, x, "driver")->s, m->key)) {
                buf_addz(&b, b.n ? ", " : "");
                buf_add(&b, x->key);
            }
    if (b.n)
        say(l, "drives", "%s", buf_z(&b));
    if (cell(r, m, "driver-version")->state == VS_KNOWN)
        say(l, "version", SLICE_FMT, SLICE_ARG(shown(r, m, "driver-version")));
    for (unsigned k = 0; k < 2 && pending; k++)
        for (size_t i = 0; (x = derive_row(r->facts, tables[k], i)); i++) {
            const struct row *pci = facts_ref(r->facts, x, "pci");
            const struct value *next = cell(r, pci, "fallback");

            if (cell(r, x, "driver")->state != VS_KNOWN || !slice_eq(cell(r, x, "driver")->s, m->key))
                continue;
            if (next->state == VS_KNOWN)
                say(l, "next boot", SLICE_FMT " (" SLICE_FMT "): " SLICE_FMT " will claim it, its map file lists the device", SLICE_ARG(x->key),
                    SLICE_ARG(pci->key), SLICE_ARG(next->s));
            else
                say(l, "next boot", SLICE_FMT ": %s%s", SLICE_ARG(x->key),
                    next->state == VS_ABSENT ? "no other driver of this host lists it; it will be left without one" : "who will claim it is not known: ",
                    next->state == VS_ABSENT ? "" : next->why ? next->why : "not asked");
        }
}

static void about(struct report *r, struct report_item *item)
{
    struct slice table = r->facts->schema->tables[item->finding->row->table].name;
    struct lines l = {.a = r->m->arena};

    if (slice_eqz(table, "adapter"))
        about_adapter(&l, r, item->finding->row);
    else if (slice_eqz(table, "device"))
        about_device(&l, r, item->finding->row);
    else if (slice_eqz(table, "nic"))
        about_nic(&l, r, item->finding->row);
    else if (slice_eqz(table, "pci"))
        about_pci(&l, r, item->finding->row);
    else if (slice_eqz(table, "module"))
        about_module(&l, r, item->finding->row);
    item->about = l.v;
    item->nabout = l.n;
}

/* "before" of a release in the rule's conditions: since when the fault is repaired. */
static const char *repaired_in(const struct match_ctx *m, const struct cond *c)
{
    const char *found = NULL;

    for (unsigned i = 0; c && i < c->nkids && !found; i++)
        found = repaired_in(m, c->kids[i]);
    for (unsigned i = 0; c && !found && i < c->ntests; i++) {
        const struct test *x = &c->tests[i];

        if (x->op != TEST_BEFORE || !x->release.major || (x->release.update <= 0 && !x->release.letter))
            continue; /* "before 7.0" bounds what the rule is about; an update repairs */
        for (size_t k = 0; k < m->rules->builds->n; k++) {
            const struct build *b = &m->rules->builds->v[k];

            if (b->name.major == x->release.major && b->name.minor == x->release.minor && b->name.letter == x->release.letter &&
                b->name.update == (x->release.update < 0 ? 0 : x->release.update))
                return arena_printf(m->arena, SLICE_FMT " (build %llu%s" SLICE_FMT ")", SLICE_ARG(x->values[0]), (unsigned long long)b->number,
                                    b->date.n ? " of " : "", SLICE_ARG(b->date));
        }
        found = x->values[0].p;
    }
    return found;
}

/* --- traces --- */

const char *trace_text(const struct facts *f, const struct step_taken *s, struct arena *a)
{
    const struct table *t = &f->schema->tables[s->row ? s->row->table : s->cond->table];
    struct slice key = s->row && s->row->key.n ? s->row->key : SLICE_LIT(""), text, unit;
    const struct column *c;
    unsigned column = s->test ? s->test->column : s->cond->column;

    if (!s->cell)
        return arena_printf(a, SLICE_FMT, SLICE_ARG(t->name));
    c = &t->columns[column];
    text = value_text(c, s->cell, a);
    unit = s->cell->state == VS_KNOWN && c->type == VT_INT ? c->unit : SLICE_LIT("");
    return arena_printf(a, SLICE_FMT "%s" SLICE_FMT " " SLICE_FMT " %s" SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(t->name), key.n ? " " : "",
                        SLICE_ARG(key), SLICE_ARG(c->name),
                        s->cell->state == VS_KNOWN ? "is " : s->cell->state == VS_ABSENT ? "is absent" : "is unknown", SLICE_ARG(text),
                        unit.n && !slice_eqz(unit, "%") ? " " : "", SLICE_ARG(unit));
}

const char *trace_source(const struct facts *f, const struct value *v, struct arena *a)
{
    const struct source *s = v && v->source ? &f->sources[v->source] : NULL;

    if (!s)
        return NULL;
    return arena_printf(a, "\"" SLICE_FMT "\"%s" SLICE_FMT "%s", SLICE_ARG(s->ask), s->where.n ? ", " : "", SLICE_ARG(s->where),
                        v->line ? arena_printf(a, ", line %u", v->line) : "");
}

bool trace_decides(const struct finding *f, const struct step_taken *s)
{
    return s->cell && s->row && s->result == f->result;
}

const char *waiver_text(const struct waiver *w, bool reason, struct arena *a)
{
    const char *left = w->days < 0 || w->days > WAIVER_SOON_DAYS ? ""
                       : w->days == 0                            ? " (today is its last day)"
                       : w->days == 1                            ? " (ends tomorrow)"
                                                                 : arena_printf(a, " (ends in %lld days)", (long long)w->days);
    const char *why = reason ? arena_printf(a, ": " SLICE_FMT, SLICE_ARG(w->reason)) : "";

    if (w->days < 0)
        return arena_printf(a, "by " SLICE_FMT " expired on " SLICE_FMT "%s", SLICE_ARG(w->owner), SLICE_ARG(w->until), why);
    return arena_printf(a, "by " SLICE_FMT " until " SLICE_FMT "%s%s", SLICE_ARG(w->owner), SLICE_ARG(w->until), left, why);
}

/* --- the whole --- */

static int judge(struct report *r, struct report_item *item)
{
    const struct rule *rule = item->finding->rule;
    struct report_fix *v = arena_array(r->m->arena, rule->nfixes + 1, sizeof *v);

    if (!v)
        return -1;
    for (unsigned i = 0; i < rule->nfixes; i++) {
        v[i].fix = &rule->fixes[i];
        fix_judge(r->m, item->finding, v[i].fix, &v[i].check);
    }
    item->fixes = v;
    return 0;
}

static bool has_finding(const struct report *r, const struct row *row)
{
    for (size_t i = 0; i < r->findings.n; i++)
        if (r->findings.v[i].row == row && (finding_counts(&r->findings.v[i]) || r->findings.v[i].effect == WAIVER_HIDDEN))
            return true;
    return false;
}

static void strangers(struct report *r)
{
    const struct row *p;

    for (size_t i = 0; (p = derive_row(r->facts, "pci", i)); i++) {
        const struct value *class = cell(r, p, "class"), *id = cell(r, p, "id"), *alias = cell(r, p, "alias"), *module = cell(r, p, "module");

        if (class->state != VS_KNOWN || !(slice_starts(class->s, "01") || slice_starts(class->s, "02")))
            continue;
        if (has_finding(r, p) || ruleset_knows(r->m->rules, module->state == VS_KNOWN ? module->s : SLICE_LIT(""), id->state == VS_KNOWN ? id->s : SLICE_LIT("")))
            continue;
        texts_add(&r->strangers,
                  slice_of(arena_printf(r->m->arena, SLICE_FMT "%s" SLICE_FMT "%s" SLICE_FMT,
                                        SLICE_ARG(alias->state == VS_KNOWN ? alias->s : p->key), id->state == VS_KNOWN ? " " : "",
                                        SLICE_ARG(id->state == VS_KNOWN ? id->s : SLICE_LIT("")), module->state == VS_KNOWN ? " " : "",
                                        SLICE_ARG(module->state == VS_KNOWN ? module->s : SLICE_LIT("")))),
                  r->m->arena);
    }
}

static void changes(struct report *r)
{
    const struct row *v, *host = facts_single(r->facts, "host"), *newest = NULL;
    _cleanup_(buf_done) struct buf b = BUF_INIT(400);
    size_t same = 0;

    for (size_t i = 0; (v = derive_row(r->facts, "vib", i)); i++) {
        const struct value *d = cell(r, v, "installed");
        int order = d->state != VS_KNOWN ? -1 : newest ? slice_cmp(d->s, cell(r, newest, "installed")->s) : 1;

        same = order > 0 ? 1 : same + (order == 0);
        newest = order > 0 ? v : newest;
    }
    if (newest)
        buf_printf(&b, "%zu VIB%s on " SLICE_FMT ", " SLICE_FMT " " SLICE_FMT "%s", same, same == 1 ? "" : "s",
                   SLICE_ARG(cell(r, newest, "installed")->s), SLICE_ARG(newest->key), SLICE_ARG(shown(r, newest, "version")),
                   same == 1 ? "" : " among them");
    if (cell(r, host, "uptime")->state == VS_KNOWN)
        buf_printf(&b, "%sbooted %lld days before this was read", b.n ? "; " : "", (long long)cell(r, host, "uptime-days")->i);
    if (b.n)
        r->changed = arena_dup(r->m->arena, buf_slice(&b)).p;
}

/* The command is not there on this release: no damage. */
static bool not_there(const struct source *s)
{
    return s->state == SOURCE_REFUSED && s->why && strstr(s->why, "Unknown command or namespace");
}

/* Printed nothing, as text forms do for an empty list; XML and JSON say in words that there is nothing. */
static bool empty_text(const struct source *s)
{
    return s->state == SOURCE_UNUSABLE && s->why && strcmp(s->why, "empty answer") == 0 && !slice_ends(s->where, ".xml") &&
           !slice_ends(s->where, ".json");
}

/* Another form of the answer, or another way to read it, was better. */
static bool better(const struct source *a, const struct source *b)
{
    return a->probe == b->probe && slice_eq(a->ask, b->ask) &&
           (slice_starts(a->ask, "/") ? slice_eq(a->where, b->where) : true) &&
           (a->state == SOURCE_OK || (a->state == SOURCE_PARTIAL && b->state != SOURCE_PARTIAL && slice_eq(a->where, b->where)));
}

static void damages(struct report *r)
{
    const struct facts *f = r->facts;

    for (size_t i = 1; i < f->nsources; i++) {
        const struct source *s = &f->sources[i];
        void *v = r->damaged;
        const char *text;
        bool mended = false;

        if (s->state == SOURCE_MISSING) { /* count questions, not the ways and hosts they could be asked by */
            for (size_t k = 1; k < f->nsources && !mended; k++)
                mended = f->sources[k].probe == s->probe && (f->sources[k].state != SOURCE_MISSING || k < i);
            r->missing += !mended;
        }
        if (s->state == SOURCE_OK || s->state == SOURCE_MISSING || not_there(s) || r->ndamaged == MAX_DAMAGED)
            continue;
        for (size_t k = 1; k < f->nsources && !mended; k++)
            mended = better(&f->sources[k], s);
        if (!mended && empty_text(s))
            texts_add(&r->empty, s->ask, r->m->arena);
        if (mended || empty_text(s))
            continue;
        text = arena_printf(r->m->arena, SLICE_FMT "%s" SLICE_FMT "%s: %s", SLICE_ARG(s->ask), s->where.n ? " (" : "", SLICE_ARG(s->where),
                            s->where.n ? ")" : "", s->why ? s->why : "not readable");
        for (size_t k = 0; k < r->ndamaged && !mended; k++) /* several probes read one answer */
            mended = strcmp(r->damaged[k], text) == 0;
        if (mended || arena_grow(r->m->arena, &v, r->ndamaged, &r->damaged_cap, sizeof *r->damaged, MAX_DAMAGED) < 0)
            continue;
        r->damaged = v;
        r->damaged[r->ndamaged++] = text;
    }
}

static void blind_spots(struct report *r)
{
    const struct facts *f = r->facts;
    struct report_blind *v = arena_array(r->m->arena, f->schema->ntables, sizeof *v);

    for (unsigned t = 0; v && t < f->schema->ntables; t++) {
        struct report_blind b = {.table = t, .rows = facts_count(f, t)};

        if (facts_table(f, t, &b.why) == TS_COMPLETE || (b.rows && b.why && strcmp(b.why, TABLE_BY_NAME) == 0))
            continue;
        if (f->schema->tables[t].optional && b.rows == 0)
            continue;
        for (size_t i = 0; i < r->m->rules->rules.n; i++)
            b.rules += r->m->rules->rules.v[i]->subject == t && r->m->rules->rules.v[i]->status != RULE_RETIRED;
        if (b.rules)
            v[r->nblind++] = b;
    }
    r->blind = v;
}

/* Adds the commands that a reason names as not answered. */
static void add_wanted(struct report *r, const char *why)
{
    while (why && (why = strstr(why, NO_ANSWER_TO "\""))) {
        const char *ask = why + strlen(NO_ANSWER_TO "\""), *end = strchr(ask, '"');

        if (!end)
            return;
        texts_add(&r->wanted, (struct slice){ask, (size_t)(end - ask)}, r->m->arena);
        why = end + 1;
    }
}

/* Which questions would decide what is open: first those of fixes, then those of rules. */
static void wanted(struct report *r)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < r->findings.n; i++) {
            const struct finding *f = r->items[i].finding;

            for (unsigned k = 0; pass == 0 && finding_counts(f) && k < f->rule->nfixes; k++)
                for (size_t n = 0; n < r->items[i].fixes[k].check.nreasons; n++)
                    add_wanted(r, r->items[i].fixes[k].check.reasons[n]);
            if (pass == 1 && f->result == TRI_UNKNOWN && !f->withheld_by && !f->superseded_by)
                add_wanted(r, f->why);
        }
    for (size_t i = 0; i < r->nblind; i++)
        add_wanted(r, r->blind[i].why);
}

/* A further way to read firmware is a line more here. */
const char *const report_firmware_ways[] = {
    "the vendor's tool on the host (perccli, storcli, ssacli)",
    "a table of what the site has read elsewhere, --facts FILE.csv (docs/firmware.md)",
    NULL,
};

/* Whose firmware is missing: rows of which a rule's first open question is a column of firmware. */
static void firmware(struct report *r)
{
    static const char *const columns[] = {"firmware", "firmware-version", "revision"};

    for (size_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = &r->findings.v[i];

        for (size_t k = 0; f->result == TRI_UNKNOWN && !f->withheld_by && !f->superseded_by && k < f->ntrace; k++) {
            const struct step_taken *s = &f->trace[k];

            if (s->result != TRI_UNKNOWN || !s->why)
                continue;
            for (size_t c = 0; s->test && s->row && !s->row->cells[s->test->column].conflict && c < sizeof columns / sizeof *columns; c++)
                if (slice_eqz(r->facts->schema->tables[s->row->table].columns[s->test->column].name, columns[c]))
                    texts_add(&r->firmware, s->row->key, r->m->arena);
            break;
        }
    }
}

int64_t report_list_days(const struct report *r, const struct rule *list)
{
    return r->today.n ? rule_days(r->today) - rule_days(list->reviewed) : -1;
}

const char *report_stated(const struct report *r, const struct stated *s)
{
    static const char *const fates[] = {"", "; the host says the same", "; the host says otherwise, so it is not known", "; not used, another row contradicts it"};
    const struct column *c = &r->facts->schema->tables[s->row->table].columns[s->column];

    return arena_printf(r->m->arena, SLICE_FMT " " SLICE_FMT " " SLICE_FMT " (%s:%u, " SLICE_FMT ", %lld day%s old%s)%s", SLICE_ARG(s->row->key),
                        SLICE_ARG(c->name), SLICE_ARG(s->by->firmware), s->by->file, s->by->line, SLICE_ARG(s->by->date), (long long)s->by->days,
                        s->by->days == 1 ? "" : "s", statement_old(s->by) ? ": read it again" : "", fates[s->fate]);
}

int report_build(const struct match_ctx *m, const struct report_source *s, struct report *out, struct err *e)
{
    struct report_item *items;

    *out = (struct report){.target = s->target, .label = s->label, .kind = s->kind, .incomplete = s->incomplete, .unread = s->unread, .layers = s->layers, .m = m,
                           .facts = m->facts, .stated = s->stated, .nstated = s->nstated, .today = s->today};
    if (match_run(m, &out->findings, e) < 0)
        return e->code;
    if (s->waivers)
        waivers_apply(s->waivers, m->facts, s->label, &out->findings);
    items = arena_array(m->arena, out->findings.n + 1, sizeof *items);
    if (!items)
        return err_set(e, VF_ELIMIT, "%s: more findings than there is room for", s->label);
    out->items = items;
    for (size_t i = 0; i < out->findings.n; i++) {
        const struct finding *f = &out->findings.v[i];

        items[i].finding = f;
        about(out, &items[i]);
        items[i].fixed_in = repaired_in(m, f->rule->when);
        if (judge(out, &items[i]) < 0)
            return err_set(e, VF_ELIMIT, "%s: more findings than there is room for", s->label);
        if (finding_counts(f))
            out->counts[f->severity]++;
        out->waived += f->effect == WAIVER_HIDDEN;
        out->softened += f->unwaived > SEV_NOTE && (f->effect == WAIVER_HIDDEN || (f->effect == WAIVER_LOWERED && f->severity == SEV_NOTE));
        out->unsure += f->result == TRI_UNKNOWN && !f->withheld_by && !f->superseded_by;
        out->withheld += f->result == TRI_TRUE && (f->withheld_by || f->superseded_by);
    }
    strangers(out);
    changes(out);
    damages(out);
    blind_spots(out);
    wanted(out);
    firmware(out);
    return 0;
}
