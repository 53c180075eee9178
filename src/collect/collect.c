#include "collect/collect.h"

#include "base/buf.h"
#include "base/map.h"
#include "collect/bind.h"
#include "collect/collect_parts.h"


/* How far a probe is; it stays from round to round, until every answer it waits for is there. */
struct progress {
    unsigned step;           /* next way; past the last one the ways again whose esxcli answer was not understood, in the other form */
    uint32_t misread;        /* those ways, a bit each */
    unsigned possible;       /* ways that the release has */
    const struct way *whole; /* answered completely */
    struct map done;         /* values of each that were */
    bool finished;
};

_Static_assert(PROBE_MAX_WAYS <= 32, "misread has a bit for each way");

struct run {
    const struct probe *probe;
    const struct way *way;
    enum ask_form form;
    struct facts *f;
    struct slice each, asked;
    enum decode_state best; /* of the present way and expansion */
    bool answered, parts_ok;
    bool saved;     /* of the channel */
    bool misread;   /* an uncut answer of a command that went well, and the decoder did not get all of it */
    bool cross;     /* answered completely: further answers are only compared */
    bool other_way; /* with the answer to another question */
    const char *why, *further; /* further: a row that a complete answer did not list */
};

static uint32_t add_source(struct run *r, struct slice where, const char *form, const char *why, uint32_t line, int state)
{
    struct source s = {.ask = r->asked, .where = arena_dup(r->f->arena, where), .probe = r->probe->id.p, .form = form, .why = why,
                       .line = line, .state = state};

    return facts_add_source(r->f, s);
}

static int state_of(enum decode_state s)
{
    switch (s) {
    case DECODE_COMPLETE: return SOURCE_OK;
    case DECODE_PARTIAL: return SOURCE_PARTIAL;
    case DECODE_REFUSED: return SOURCE_REFUSED;
    case DECODE_UNUSABLE: return SOURCE_UNUSABLE;
    }
    return SOURCE_UNUSABLE;
}

/* The same file, read for the same probe in another way, was no better: it is told once. */
static bool told_before(const struct run *r, struct slice where, int state)
{
    for (size_t i = r->f->nsources; i-- > 1 && r->f->sources[i].probe == r->probe->id.p;) {
        const struct source *s = &r->f->sources[i];

        if (where.n && (int)s->state <= state && slice_eq(s->ask, r->asked) && slice_eq(s->where, where))
            return true;
    }
    return false;
}

/* XML and JSON say in words that there is nothing; a log that holds nothing was not kept. */
static bool may_be_empty(const struct way *w, struct slice where)
{
    return !slice_ends(where, ".xml") && !slice_ends(where, ".json") && w->decoder->run != decode_vmklog &&
           w->decoder->run != decode_logspan;
}

/* Decode one body and bind it. Returns the state reached. */
static enum decode_state take_answer(struct run *r, struct slice body, const struct reply *reply)
{
    struct decode_opt opt = r->way->opt;
    struct decoded d = {0};
    size_t rows = 0, lost = 0;
    uint32_t source;
    bool again;

    opt.cut = reply->cut;
    opt.name = reply->where.p;
    if (slice_blank(body) && reply->exit_code == 0 && !reply->cut && may_be_empty(r->way, reply->where)) /* asked, ended well, printed nothing: there is none */
        d = (struct decoded){.state = DECODE_COMPLETE, .form = "empty"};
    else if (decode_answer(r->way->decoder, body, &opt, r->f->arena, &d) < 0)
        d.state = DECODE_PARTIAL, d.why = d.why ? d.why : "more than there is room for";
    if (d.state == DECODE_COMPLETE && reply->exit_code > 0) {
        d.state = DECODE_PARTIAL;
        d.why = arena_printf(r->f->arena, "the command ended with exit status %d", reply->exit_code);
    }
    if (reply->cut && reply->note && (d.state == DECODE_PARTIAL || d.state == DECODE_UNUSABLE)) /* how it was cut says more than what the decoder saw of it */
        d.why = reply->note;
    again = told_before(r, reply->where, state_of(d.state));
    source = add_source(r, reply->where, d.form, d.why, d.line, state_of(d.state));
    if (d.state >= DECODE_PARTIAL)
        lost = bind_records(r->probe, r->way, &d, r->each, source, r->f, &rows);
    if (lost && d.state == DECODE_COMPLETE && !r->f->compare) {
        d.state = rows ? DECODE_PARTIAL : DECODE_UNUSABLE;
        d.why = arena_printf(r->f->arena, "%zu of %zu entries have no readable name, or one that stands there twice", lost, d.n);
        if (source) {
            r->f->sources[source].state = state_of(d.state);
            r->f->sources[source].why = d.why;
        }
    }
    if (source)
        r->f->sources[source].rows = rows;
    if (source && again && d.state < DECODE_PARTIAL && source == r->f->nsources - 1)
        r->f->nsources--; /* no cell points to it */
    if (!r->why && d.why)
        r->why = d.why;
    return d.state;
}

/* Do two answers of one host, given a moment apart, say the same: counters, temperatures and logs do not. */
static bool stays(const struct run *r)
{
    static const char *const moving[] = {"device-stats", "nic-stats", "smart", "memory", "log", "nvme"};

    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        if (slice_eqz(r->f->schema->tables[r->probe->table].name, moving[i]))
            return false;
    return !slice_eqz(r->probe->id, "uptime");
}

/* A row of the first complete answer that the other one, complete too, does not have. */
static void look_for_lacking(struct run *r, const struct reply *reply, uint32_t source)
{
    for (size_t i = 0; i < facts_count(r->f, r->probe->table) && !r->further; i++) {
        const struct row *row = facts_at(r->f, r->probe->table, i);

        if (row->listed && row->compared != source)
            r->further = arena_printf(r->f->arena,
                                      "\"" SLICE_FMT "\" [" SLICE_FMT "] does not list " SLICE_FMT ", which another complete answer names",
                                      SLICE_ARG(r->asked), SLICE_ARG(reply->where), SLICE_ARG(row->key));
    }
}

/* A further answer to what was answered completely: it adds what is unknown, contradicts, or names rows that the first did not list. */
static void compare_answer(struct run *r, const struct reply *reply)
{
    struct run other = *r;
    struct facts_compare compare = {.identity_only = r->other_way};
    enum decode_state state;
    uint32_t source;

    other.why = NULL;
    r->f->compare = &compare;
    source = (uint32_t)r->f->nsources;
    state = take_answer(&other, reply->body, reply);
    r->f->compare = NULL;
    if (state == DECODE_COMPLETE && !r->other_way && r->probe->lists == LISTS_YES)
        look_for_lacking(r, reply, source);
    if (compare.further.n && !r->further)
        r->further = arena_printf(r->f->arena, "\"" SLICE_FMT "\" [" SLICE_FMT "] names " SLICE_FMT ", which another complete answer does not list",
                                  SLICE_ARG(r->asked), SLICE_ARG(reply->where), SLICE_ARG(compare.further));
}

static int on_reply(void *ctx, const struct reply *reply)
{
    struct run *r = ctx;
    enum decode_state state = DECODE_UNUSABLE;
    int state_now;

    if (r->way->ask.kind == ASK_REDFISH && reply->path.n) /* one ask, and every resource is an answer of its own */
        r->asked = slice_of(arena_printf(r->f->arena, "redfish " SLICE_FMT, SLICE_ARG(reply->path)));
    switch (reply->status) {
    case REPLY_MISSING:
        if (!r->why && !r->cross && r->way->ask.kind == ASK_REDFISH)
            r->why = "its BMC was not asked; --bmc does it";
        if (!r->why && !r->cross)
            r->why = arena_printf(r->f->arena, NO_ANSWER_TO "\"" SLICE_FMT "\"", SLICE_ARG(r->asked));
        return 0;
    case REPLY_FAILED:
    case REPLY_UNREADABLE:
        if (r->cross)
            return 0;
        r->answered = true;
        r->why = r->why ? r->why : reply->note;
        state_now = reply->status == REPLY_FAILED ? SOURCE_REFUSED : SOURCE_UNUSABLE;
        if (!told_before(r, reply->where, state_now))
            (void)add_source(r, reply->where, NULL, reply->note, 0, state_now);
        r->parts_ok = false;
        return 0;
    case REPLY_OK:
        if (r->cross) {
            compare_answer(r, reply);
            return 0;
        }
        r->answered = true;
        state = take_answer(r, reply->body, reply);
        break;
    }
    if (state > r->best)
        r->best = state;
    r->misread |= (state == DECODE_PARTIAL || state == DECODE_UNUSABLE) && !reply->cut && reply->exit_code == 0;
    if (reply->part) {
        r->parts_ok &= state == DECODE_COMPLETE;
        return 0;
    }
    if (state != DECODE_COMPLETE)
        return 0;
    if (!r->saved || !stays(r))
        return 1;
    r->cross = true; /* the others that answer the same are compared with it */
    return 0;
}

static struct ask make_ask(const struct run *r)
{
    struct slice text = collect_expand(r->way->ask.text, r->each, r->f->arena);

    return (struct ask){.kind = r->way->ask.kind, .form = r->form, .text = text, .value = slice_from(text, text.n - r->each.n)};
}

/* Ask one way for one value of each. Returns 1 when the answer was complete. */
static int ask_once(struct channel *c, struct run *r, struct err *e)
{
    struct ask q = make_ask(r);

    r->asked = slice_of(arena_printf(r->f->arena, "%s" SLICE_FMT, collect_ask_prefix(q.kind), SLICE_ARG(q.text)));
    r->best = DECODE_UNUSABLE;
    r->answered = r->misread = false;
    r->parts_ok = true;
    r->cross = r->other_way;
    r->why = NULL;
    if (ask_readonly(&q, e) < 0) { /* a value of the host that would not pass as an argument: never sent */
        (void)add_source(r, (struct slice){NULL, 0}, NULL, arena_printf(r->f->arena, "%s", e->msg), 0, SOURCE_REFUSED);
        return 0;
    }
    if (channel_ask(c, &q, on_reply, r, e) < 0)
        return e->code;
    return r->best == DECODE_COMPLETE && r->parts_ok;
}

/* Does a row pass "table.column=value"; rows of other tables do. */
static bool passes(const struct facts *f, const struct row *r, struct slice where)
{
    const struct table *t = &f->schema->tables[r->table];
    size_t dot = slice_find_char(where, 0, '.'), eq = slice_find_char(where, 0, '=');
    unsigned c;

    if (where.n == 0 || !slice_eq(slice_cut(where, 0, dot), t->name))
        return true;
    c = (unsigned)table_column(t, slice_cut(where, dot + 1, eq - dot - 1));
    return slice_eq(value_text(&t->columns[c], &r->cells[c], f->arena), slice_from(where, eq + 1));
}

size_t collect_expansions(const struct facts *f, const struct way *w, struct slice *v)
{
    struct slice each = w->each, word;
    struct map seen = {0};
    size_t n = 0;

    if (slice_starts(each, "=")) {
        each = slice_from(each, 1);
        while (n < MAX_EXPANSIONS && slice_next_word(&each, " ", &word))
            v[n++] = word;
        return n;
    }
    while (slice_next_word(&each, " ", &word)) {
        size_t dot = slice_find_char(word, 0, '.');
        unsigned t = (unsigned)schema_table(f->schema, slice_cut(word, 0, dot));
        const struct table *table = &f->schema->tables[t];
        unsigned col = (unsigned)table_column(table, slice_from(word, dot + 1));

        for (size_t i = 0; i < facts_count(f, t) && n < MAX_EXPANSIONS; i++) {
            const struct row *r = facts_at(f, t, i);
            struct slice text = value_text(&table->columns[col], &r->cells[col], f->arena);

            if (text.n == 0 || !passes(f, r, w->where) || map_get(&seen, text) != MAP_NONE || map_put(&seen, f->arena, text, 1) < 0)
                continue;
            v[n++] = text;
        }
    }
    return n;
}

static void note_outcome(struct outcome *o, const struct run *r, bool complete)
{
    if (r->further) {
        o->answered = true;
        o->state = TS_PARTIAL;
        o->best = DECODE_COMPLETE;
        o->why = r->further;
        return;
    }
    if (complete) {
        *o = (struct outcome){.state = TS_COMPLETE, .best = DECODE_COMPLETE, .answered = true};
        return;
    }
    if (o->state == TS_COMPLETE)
        return;
    if (r->best >= DECODE_PARTIAL)
        o->state = TS_PARTIAL;
    /* what a host said is a better reason than a file that is not there, a better answer a better one than a worse */
    if (!o->why || (r->answered && !o->answered) || (r->answered && r->best > o->best))
        o->why = r->why;
    o->answered |= r->answered;
    o->best = r->best > o->best ? r->best : o->best;
}

bool collect_in_release(const struct facts *f, const struct way *w)
{
    static const struct builds none = {NULL, 0};
    struct release host = {.update = -1};
    const struct value *version = facts_cell(f, facts_single(f, "esxi"), "version");
    int order;

    if (version->state != VS_KNOWN || release_parse(version->s, &host, NULL) < 0)
        return true;
    if (w->from.major && release_order(&none, &host, &w->from, &order) == 0 && order < 0)
        return false;
    return !(w->before.major && release_order(&none, &host, &w->before, &order) == 0 && order >= 0);
}

/* Values of each to ask with, without those that an earlier way has answered completely; one empty one for a way without each. */
static int way_values(struct run *r, const struct map *done, struct slice **values, size_t *n, struct err *e)
{
    size_t kept = 0;

    *values = arena_array(r->f->arena, r->way->each.n ? MAX_EXPANSIONS : 1, sizeof **values);
    if (!*values)
        return err_set(e, VF_ELIMIT, "no room left for the facts of this host");
    *n = 1;
    if (!r->way->each.n)
        return 0;
    *n = collect_expansions(r->f, r->way, *values);
    for (size_t k = 0; k < *n; k++)
        if (map_get(done, (*values)[k]) == MAP_NONE)
            (*values)[kept++] = (*values)[k];
    *n = kept;
    return 0;
}

/* Are the answers at hand; if not they come with the next round. */
static bool at_hand(struct channel *c, struct run *r, const struct slice *values, size_t n)
{
    bool all = true;

    for (size_t k = 0; k < n; k++) {
        struct ask q;

        r->each = values[k];
        q = make_ask(r);
        all &= ask_readonly(&q, NULL) < 0 || channel_want(c, &q);
    }
    return all;
}

/* Ask one way: once, or for each value. Returns 1 when it has to wait for answers. */
static int run_way(struct channel *c, struct run *r, struct progress *at, bool last, struct outcome *o, struct err *e)
{
    struct slice *values = NULL;
    size_t n = 0;

    if (way_values(r, &at->done, &values, &n, e) < 0)
        return e->code;
    if (!at_hand(c, r, values, n))
        return 1;
    for (size_t k = 0; k < n; k++) {
        int rc;

        r->each = values[k];
        rc = ask_once(c, r, e);
        if (rc < 0)
            return rc;
        if (rc == 1 && r->each.n)
            (void)map_put(&at->done, r->f->arena, r->each, 1);
        if (r->misread && rc == 0 && !r->each.n && r->way->ask.kind == ASK_ESXCLI)
            at->misread |= 1u << (r->way - r->probe->ways);
        if (!r->answered && r->why && last && !r->other_way && r->way->ask.kind != ASK_REDFISH) /* a BMC is asked when the user names one */
            (void)add_source(r, (struct slice){NULL, 0}, NULL, r->why, 0, SOURCE_MISSING);
        if (!r->other_way || r->further)
            note_outcome(o, r, rc == 1 && !r->way->each.n);
    }
    return 0;
}

/* What identifies host, adapters, NICs and PCI functions is compared between questions too, where the answers cost nothing. */
static bool compared(const struct facts *f, const struct probe *p)
{
    struct slice table = f->schema->tables[p->table].name;

    if (slice_eqz(table, "host"))
        return p->nbinds == 1 && slice_eqz(f->schema->tables[p->table].columns[p->binds[0].column].name, "name");
    return slice_eqz(table, "esxi") || (p->lists == LISTS_YES && (slice_eqz(table, "adapter") || slice_eqz(table, "nic") || slice_eqz(table, "pci")));
}

static bool same_ask(const struct way *a, const struct way *b)
{
    return a->ask.kind == b->ask.kind && slice_eq(a->ask.text, b->ask.text);
}

static bool needs_rows(const struct way *w)
{
    return w->each.n && !slice_starts(w->each, "=");
}

/*
 * Of a host that is asked: the form that was seen from a real one, the structured one first; the other one for an answer that was not
 * understood, whose layout may be new.
 */
static enum ask_form form_of(const struct way *w, bool again)
{
    return w->ask.kind == ASK_ESXCLI && w->xml_seen != again ? ASK_AS_XML : ASK_AS_TEXT;
}

/* From where it stopped, until it is finished or has to wait: then 1. */
static int run_probe(struct channel *c, const struct probe *p, bool second, struct progress *at, struct facts *f, struct outcome *o, struct err *e)
{
    struct run r = {.probe = p, .f = f, .saved = c->ops->saved};

    for (; at->step < (r.saved ? p->nways : 2 * p->nways); at->step++) {
        unsigned i = at->step % p->nways;
        bool again = at->step >= p->nways;
        int rc;

        r.way = &p->ways[i];
        r.form = form_of(r.way, again);
        if (r.way->never || !collect_in_release(f, r.way) || (again && !(at->misread >> i & 1)))
            continue;
        at->possible++;
        if (needs_rows(r.way) != second)
            continue;
        r.other_way = at->whole != NULL;
        if (at->whole ? !r.saved || !compared(f, p) || same_ask(r.way, at->whole) : o->state == TS_COMPLETE)
            continue;
        rc = run_way(c, &r, at, i + 1 == p->nways, o, e);
        if (rc != 0)
            return rc;
        if (o->state == TS_COMPLETE && !at->whole)
            at->whole = r.way;
    }
    at->finished = true;
    if (at->possible == 0) /* this release has nothing of the kind */
        *o = (struct outcome){.state = TS_COMPLETE};
    return 0;
}

struct collecting {
    struct channel *c;
    const struct probes *p;
    struct facts *f;
    struct outcome *o;
    struct progress *first, *second; /* of each probe: ways that need no rows, and those that do */
};

/* Are the rows there that a way is repeated for: nothing that lists their tables is waited for. */
static bool rows_settled(const struct collecting *v, const struct way *w)
{
    struct slice each = w->each, word;

    while (slice_next_word(&each, " ", &word)) {
        unsigned t = (unsigned)schema_table(v->f->schema, slice_cut(word, 0, slice_find_char(word, 0, '.')));
        bool whole = false, waited = false;

        for (size_t i = 0; i < v->p->n; i++) {
            if (v->p->v[i]->table != t || v->p->v[i]->lists == LISTS_NO)
                continue;
            whole |= v->p->v[i]->lists == LISTS_YES && v->o[i].state == TS_COMPLETE;
            waited |= !v->first[i].finished;
        }
        if (waited && !whole)
            return false;
    }
    return true;
}

static bool can_run(const struct collecting *v, const struct probe *p)
{
    for (unsigned i = 0; i < p->nways; i++)
        if (needs_rows(&p->ways[i]) && !rows_settled(v, &p->ways[i]))
            return false;
    return true;
}

/* Whatever can be decoded with the answers at hand; *waiting counts the probes that want more. */
static int run_round(struct collecting *v, size_t *waiting, struct err *e)
{
    unsigned release = facts_table_index(v->f, "esxi");
    int rc = 0;

    *waiting = 0;
    for (int pass = 0; pass < 3 && !(pass == 1 && *waiting); pass++) /* the release first: it says which commands there are */
        for (size_t i = 0; i < v->p->n; i++) {
            struct progress *at = pass == 2 ? &v->second[i] : &v->first[i];

            if (at->finished || (pass < 2 && (v->p->v[i]->table == release) != (pass == 0)) || (*waiting && pass == 2 && !can_run(v, v->p->v[i])))
                continue;
            rc = run_probe(v->c, v->p->v[i], pass == 2, at, v->f, &v->o[i], e);
            if (rc < 0)
                return rc;
            *waiting += rc == 1;
        }
    return 0;
}

int collect_run(struct channel *c, const struct probes *p, struct facts *f, struct err *e)
{
    struct collecting v = {c, p, f, arena_array(f->arena, p->n + 1, sizeof *v.o), arena_array(f->arena, p->n + 1, sizeof *v.first),
                           arena_array(f->arena, p->n + 1, sizeof *v.second)};
    size_t waiting;
    int rc;

    if (!v.o || !v.first || !v.second)
        return err_set(e, VF_ELIMIT, "no room left for the facts of this host");
    do {
        rc = run_round(&v, &waiting, e);
        if (rc == 0 && waiting)
            rc = channel_fetch(c, e);
    } while (rc == 0 && waiting);
    collect_settle(p, v.o, f);
    collect_distrust(f);
    collect_explain(p, v.o, f);
    if (rc >= 0 && arena_full(f->arena))
        rc = err_set(e, VF_ELIMIT, "the host's answers are larger than what one host may hold; the rest was left out");
    return rc;
}

/* --- decoding what is at hand --- */

/* "esxcli --debug --formatter=xml storage core ..." to the bare namespaces; localcli alike. */
static struct slice bare_command(struct slice s, bool *esxcli)
{
    struct slice rest = slice_trim(s), word, before;

    before = rest;
    *esxcli = false;
    if (slice_next_word(&rest, " ", &word) && (slice_eqz(word, "esxcli") || slice_eqz(word, "localcli"))) {
        *esxcli = true;
        before = slice_trim(rest);
        while (slice_starts(before, "--")) {
            rest = before;
            (void)slice_next_word(&rest, " ", &word);
            before = slice_trim(rest);
        }
    }
    return before;
}

static bool way_answers(const struct way *w, struct slice bare, bool esxcli, struct slice *each)
{
    size_t at = slice_find(w->ask.text, 0, "{}");
    struct slice head = slice_cut(w->ask.text, 0, at);

    *each = (struct slice){NULL, 0};
    if (esxcli != (w->ask.kind == ASK_ESXCLI))
        return false;
    if (w->ask.kind == ASK_REDFISH)
        return slice_starts(bare, "redfish /redfish/");
    if (w->ask.kind == ASK_FILE)
        return slice_glob(w->ask.text, bare);
    if (w->never) /* the result of a change, whatever its options were */
        return slice_starts(bare, head.p);
    if (at == SIZE_MAX && bare.n > head.n && slice_eq(slice_cut(bare, 0, head.n), head) && slice_starts(slice_from(bare, head.n), " -")) {
        *each = slice_from(bare, head.n + 1); /* "... list -d naa.6...": the same form, but not all rows */
        return true;
    }
    if (at == SIZE_MAX)
        return slice_eq(w->ask.text, bare);
    if (bare.n <= head.n || !slice_eq(slice_cut(bare, 0, head.n), head))
        return false;
    *each = slice_from(bare, head.n);
    return slice_find(*each, 0, " -") == SIZE_MAX; /* port groups and datastores have blanks in their names; options are no part of one */
}

static const struct probe *nearest(const struct probes *p, struct slice command)
{
    const struct probe *best = NULL;
    unsigned least = 12;

    for (size_t i = 0; i < p->n; i++)
        for (unsigned k = 0; k <= p->v[i]->nways; k++) {
            struct slice text = k < p->v[i]->nways ? p->v[i]->ways[k].ask.text : p->v[i]->id;
            unsigned d = slice_distance(text, command);

            if (d < least) {
                least = d;
                best = p->v[i];
            }
        }
    return best;
}

int collect_asked(const struct probes *p, struct slice command, struct err *e)
{
    const struct probe *near;
    struct slice bare, each;
    bool esxcli;

    bare = bare_command(command, &esxcli);
    for (size_t i = 0; i < p->n; i++) {
        if (slice_eq(p->v[i]->id, command))
            return 0;
        for (unsigned k = 0; k < p->v[i]->nways; k++)
            if (way_answers(&p->v[i]->ways[k], bare, esxcli, &each))
                return 0;
    }
    near = nearest(p, bare);
    return err_set(e, VF_ENOTFOUND, "no probe asks \"" SLICE_FMT "\"%s" SLICE_FMT "%s", SLICE_ARG(command),
                   near ? "; did you mean \"" : "; \"vmkfit probe list\" shows what is asked", SLICE_ARG(near ? near->id : SLICE_LIT("")),
                   near ? "\"?" : "");
}

int collect_decode(const struct probes *p, struct slice command, struct slice body, const char *name, struct facts *f,
                   enum decode_state *state, size_t *matched, struct err *e)
{
    struct outcome *o = arena_array(f->arena, p->n + 1, sizeof *o);
    struct reply reply = {.status = REPLY_OK, .exit_code = -1, .where = slice_of(name)};
    struct slice bare;
    bool esxcli, partial = false;

    *matched = 0;
    *state = DECODE_UNUSABLE;
    if (!o)
        return err_set(e, VF_ELIMIT, "no room left");
    bare = bare_command(command, &esxcli);
    for (size_t i = 0; i < p->n; i++) {
        struct run r = {.probe = p->v[i], .f = f};
        bool by_id = slice_eq(p->v[i]->id, command);
        enum decode_state best = DECODE_UNUSABLE;

        for (unsigned k = 0; k < p->v[i]->nways; k++) {
            r.way = &p->v[i]->ways[k];
            if (!way_answers(r.way, bare, esxcli, &r.each) && !by_id)
                continue;
            r.asked = command;
            r.best = take_answer(&r, body, &reply);
            r.answered = true;
            note_outcome(&o[i], &r, r.best == DECODE_COMPLETE && !r.each.n);
            best = r.best > best ? r.best : best;
            ++*matched;
            if (!by_id || r.best >= DECODE_REFUSED)
                break; /* by id: the first way that makes something of it, even if not all: another form is not tried on what is cut */
        }
        *state = best > *state ? best : *state;
        partial |= best == DECODE_PARTIAL;
    }
    if (partial && *state == DECODE_COMPLETE) /* one of several probes that read it did not get all */
        *state = DECODE_PARTIAL;
    collect_settle(p, o, f);
    return *matched ? 0 : collect_asked(p, command, e);
}
