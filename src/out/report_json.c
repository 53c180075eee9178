#include "out/facts_json.h"
#include "out/report.h"

/* docs/schema/scan.json describes what is made here. Every key is always there. */

static struct js *cell_text(const struct report *r, const char *table, const char *column)
{
    const struct row *row = facts_single(r->facts, table);
    const struct value *v = facts_cell(r->facts, row, column);
    const struct table *t = &r->facts->schema->tables[row->table];
    const struct column *c = &t->columns[table_column(t, slice_of(column))];

    if (v->state != VS_KNOWN)
        return js_null();
    return c->type == VT_INT ? js_int(v->i) : js_text(value_text(c, v, r->m->arena));
}

static struct js *step(const struct report *r, const struct step_taken *s)
{
    static const char *const results[] = {"false", "unknown", "true"};
    const struct table *t = &r->facts->schema->tables[s->row->table];
    const struct column *c = &t->columns[s->test ? s->test->column : s->cond->column];
    struct js *o = js_object();

    js_put(o, "table", js_text(t->name));
    js_put(o, "key", js_text(s->row->key));
    js_put(o, "column", js_text(c->name));
    js_put(o, "test", s->test ? js_text(s->test->written) : js_null());
    js_put(o, "result", js_textz(results[s->result]));
    js_put(o, "cell", facts_json_cell(r->facts, c, s->cell));
    return o;
}

static struct js *steps(const struct report *r, const struct step_taken *v, size_t n, enum tri result)
{
    struct js *list = js_array();

    for (size_t i = 0; i < n; i++)
        if (v[i].row && v[i].cell && v[i].result == result)
            js_add(list, step(r, &v[i]));
    return list;
}

static struct js *texts(const char *const *v, size_t n)
{
    struct js *list = js_array();

    for (size_t i = 0; i < n; i++)
        if (v[i])
            js_add(list, js_textz(v[i]));
    return list;
}

static struct js *slices(const struct slice *v, size_t n)
{
    struct js *list = js_array();

    for (size_t i = 0; i < n; i++)
        js_add(list, js_text(v[i]));
    return list;
}

static struct js *fix(const struct report_fix *x)
{
    static const char *const states[] = {"open", "unknown", "refused"};
    struct js *o = js_object(), *then = js_array();

    for (unsigned i = 0; i < x->fix->nthen; i++)
        js_add(then, js_text(x->fix->then[i].written));

    js_put(o, "id", js_text(x->fix->id));
    js_put(o, "risk", js_textz(risk_names[x->fix->risk]));
    js_put(o, "state", js_textz(states[x->check.state]));
    js_put(o, "advise", slices(x->fix->advise, x->fix->nadvise));
    js_put(o, "commands", texts(x->check.commands, x->check.ncommands));
    js_put(o, "undo", texts(x->check.undo, x->check.ncommands));
    js_put(o, "reasons", texts(x->check.reasons, x->check.nreasons));
    js_put(o, "notes", texts(x->check.notes, x->check.nnotes));
    js_put(o, "then", then);
    return o;
}

struct js *waiver_json(const struct waiver *w)
{
    struct js *o = js_object();

    js_put(o, "rule", js_text(w->rule));
    js_put(o, "host", js_text(w->host));
    js_put(o, "subject", js_text(w->subject));
    js_put(o, "severity", w->severity < 0 ? js_null() : js_textz(severity_name((enum severity)w->severity)));
    js_put(o, "owner", js_text(w->owner));
    js_put(o, "until", js_text(w->until));
    js_put(o, "days_left", js_int(w->days));
    js_put(o, "reason", js_text(w->reason));
    js_put(o, "file", js_textz(w->file));
    js_put(o, "line", js_int(w->line));
    return o;
}

static struct js *waived(const struct finding *f)
{
    static const char *const effects[] = {"none", "hidden", "lowered", "accepted", "expired"};
    struct js *o;

    if (!f->waiver)
        return js_null();
    o = waiver_json(f->waiver);
    js_put(o, "effect", js_textz(effects[f->effect]));
    js_put(o, "severity_without", js_textz(severity_name(f->unwaived)));
    return o;
}

static struct js *finding(const struct report *r, const struct report_item *it)
{
    static const char *const evidence[] = {"none", "seen", "not-seen", "unknown"};
    const struct finding *f = it->finding;
    struct js *o = js_object(), *subject = js_object(), *about = js_object(), *fixes = js_array();

    js_put(subject, "table", js_text(r->facts->schema->tables[f->row->table].name));
    js_put(subject, "key", js_text(f->row->key));
    for (size_t i = 0; i < it->nabout; i++)
        js_put(about, it->about[i].label, js_textz(it->about[i].text));
    for (unsigned i = 0; i < f->rule->nfixes; i++)
        js_add(fixes, fix(&it->fixes[i]));
    js_put(o, "rule", js_text(f->rule->id));
    js_put(o, "title", js_text(f->rule->title));
    js_put(o, "result", js_textz(f->result == TRI_TRUE ? "finding" : "unsure"));
    js_put(o, "severity", js_textz(severity_name(f->severity)));
    js_put(o, "subject", subject);
    js_put(o, "about", about);
    js_put(o, "why", js_text(f->rule->why));
    js_put(o, "see", slices(f->rule->hrefs, f->rule->nhrefs));
    js_put(o, "unsure_why", js_textz(f->why));
    js_put(o, "because", steps(r, f->trace, f->ntrace, f->result));
    js_put(o, "evidence", js_textz(evidence[f->evidence]));
    js_put(o, "evidence_cells", steps(r, f->evidence_trace, f->nevidence_trace, TRI_TRUE));
    js_put(o, "fixed_in", js_textz(it->fixed_in));
    js_put(o, "guard", js_bool(f->rule->nrestrains > 0));
    js_put(o, "newer_than_list", js_bool(f->newer_than_list));
    js_put(o, "withheld_by", f->withheld_by ? js_text(f->withheld_by->id) : js_null());
    js_put(o, "superseded_by", f->superseded_by ? js_text(f->superseded_by->id) : js_null());
    js_put(o, "waiver", waived(f));
    js_put(o, "fixes", fixes);
    return o;
}

static struct js *statement(const struct report *r, const struct stated *s)
{
    static const char *const fates[] = {"filled", "agrees", "differs", "refused"};
    const struct table *t = &r->facts->schema->tables[s->row->table];
    struct js *o = js_object();

    js_put(o, "table", js_text(t->name));
    js_put(o, "key", js_text(s->row->key));
    js_put(o, "column", js_text(t->columns[s->column].name));
    js_put(o, "value", js_text(s->by->firmware));
    js_put(o, "file", js_textz(s->by->file));
    js_put(o, "line", js_int(s->by->line));
    js_put(o, "date", js_text(s->by->date));
    js_put(o, "days", js_int(s->by->days));
    js_put(o, "old", js_bool(statement_old(s->by)));
    js_put(o, "note", s->by->note.n ? js_text(s->by->note) : js_null());
    js_put(o, "fate", js_textz(fates[s->fate]));
    return o;
}

struct js *report_json(const struct report *r)
{
    struct js *o = js_object(), *host = js_object(), *list = js_array(), *summary = js_object(), *blind = js_array(),
              *hidden = js_array(), *said = js_array(), *lists = js_array();

    for (size_t i = 0; i < r->findings.n; i++)
        js_add(r->findings.v[i].effect == WAIVER_HIDDEN ? hidden : list, finding(r, &r->items[i]));
    for (size_t i = 0; i < r->nblind; i++) {
        struct js *b = js_object();

        js_put(b, "table", js_text(r->facts->schema->tables[r->blind[i].table].name));
        js_put(b, "why", js_textz(r->blind[i].why));
        js_put(b, "rules", js_int((int64_t)r->blind[i].rules));
        js_put(b, "rows", js_int((int64_t)r->blind[i].rows));
        js_add(blind, b);
    }
    for (size_t i = 0; i < r->findings.nlists; i++) {
        int64_t days = report_list_days(r, r->findings.lists[i]);
        struct js *one = js_object();

        js_put(one, "rule", js_text(r->findings.lists[i]->id));
        js_put(one, "reviewed", js_text(r->findings.lists[i]->reviewed));
        js_put(one, "days", days < 0 ? js_null() : js_int(days));
        js_put(one, "old", js_bool(days > RULE_REVIEW_DAYS));
        js_add(lists, one);
    }
    for (size_t i = 0; i < r->nstated; i++)
        js_add(said, statement(r, &r->stated[i]));
    js_put(host, "name", cell_text(r, "host", "name"));
    js_put(host, "vendor", cell_text(r, "host", "vendor"));
    js_put(host, "model", cell_text(r, "host", "model"));
    js_put(host, "serial", cell_text(r, "host", "serial"));
    js_put(host, "uuid", cell_text(r, "host", "uuid"));
    js_put(host, "version", cell_text(r, "esxi", "version"));
    js_put(host, "build", cell_text(r, "esxi", "build"));
    js_put(host, "release", cell_text(r, "esxi", "release"));
    js_put(summary, "critical", js_int((int64_t)r->counts[SEV_CRITICAL]));
    js_put(summary, "warning", js_int((int64_t)r->counts[SEV_WARNING]));
    js_put(summary, "note", js_int((int64_t)r->counts[SEV_NOTE]));
    js_put(summary, "unsure", js_int((int64_t)r->unsure));
    js_put(summary, "withheld", js_int((int64_t)r->withheld));
    js_put(summary, "waived", js_int((int64_t)r->waived));
    js_put(summary, "rules_loaded", js_int((int64_t)r->findings.rules));
    js_put(summary, "rules_applied", js_int((int64_t)r->findings.applied));
    js_put(summary, "rules_ok", js_int((int64_t)r->findings.ok));
    js_put(o, "target", js_textz(r->target));
    js_put(o, "label", js_textz(r->label));
    js_put(o, "kind", js_textz(r->kind));
    js_put(o, "incomplete", js_textz(r->incomplete));
    js_put(o, "host", host);
    js_put(o, "summary", summary);
    js_put(o, "findings", list);
    js_put(o, "waived", hidden);
    js_put(o, "no_rule_for", slices(r->strangers.v, r->strangers.n));
    js_put(o, "not_judged", blind);
    js_put(o, "changed", js_textz(r->changed));
    js_put(o, "latency_measured", js_bool(false));
    js_put(o, "answers_damaged", texts((const char *const *)r->damaged, r->ndamaged));
    js_put(o, "answers_empty", slices(r->empty.v, r->empty.n));
    js_put(o, "answers_wanted", slices(r->wanted.v, r->wanted.n));
    js_put(o, "firmware_wanted", slices(r->firmware.v, r->firmware.n));
    js_put(o, "stated", said);
    js_put(o, "pair_lists", lists);
    js_put(o, "answers_missing", js_int((int64_t)r->missing));
    return o;
}
