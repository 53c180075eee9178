#include "collect/probe.h"

#include "base/buf.h"
#include "base/xml.h"

#define MAX_PROBES 1000u

static const struct {
    const char *name, *doc;
} takes[] = {
    [TAKE_TEXT] = {"text", "the text itself"},
    [TAKE_PCI] = {"pci", "any spelling of a PCI address, as 0000:00:1f.2"},
    [TAKE_PCI_IN_BRACKETS] = {"pci-in-brackets", "the PCI address inside the first brackets"},
    [TAKE_AFTER_BRACKETS] = {"after-brackets", "the text after a leading pair of brackets"},
    [TAKE_NUMBER] = {"number", "the leading number, its unit dropped"},
    [TAKE_BUILD] = {"build", "the digits after the last dash"},
    [TAKE_UUID] = {"uuid", "16 bytes in any spelling, as 32 hex digits"},
    [TAKE_BASENAME] = {"basename", "the last part of a path"},
    [TAKE_ADAPTER] = {"adapter", "vmhba0 of vmhba0:C0:T0:L0"},
    [TAKE_BEFORE_COLON] = {"before-colon", "the text before the last colon"},
    [TAKE_AFTER_COLON] = {"after-colon", "the text after the last colon"},
    [TAKE_CLASS] = {"class", "class and subclass, four hex digits"},
    [TAKE_LOWER] = {"lower", "in lower case"},
    [TAKE_SPLIT] = {"split", "a list joined by comma and blank"},
    [TAKE_WORDS] = {"words", "a list parted by blanks"},
    [TAKE_SECONDS] = {"microseconds-to-seconds", "microseconds as whole seconds"},
    [TAKE_MIB] = {"mib", "a size with its unit, in MiB"},
};

const char *take_name(unsigned i)
{
    return i < sizeof takes / sizeof *takes ? takes[i].name : NULL;
}

const char *take_doc(unsigned i)
{
    return i < sizeof takes / sizeof *takes ? takes[i].doc : NULL;
}

static const char *const shapes[] = {"table", "list", "blocks", "object", "value"};

/* --- loading --- */

struct loading {
    struct xml *x;
    struct arena *a;
    const char *name;
    const struct schema *schema;
    struct probes *probes;
    struct probe *probe;
    struct way *ways;
    struct bind *binds;
    bool in_why;
};

static int fail(struct loading *l, struct err *e, const char *what, struct slice v, struct slice near)
{
    if (near.n)
        return err_set(e, VF_EFORMAT, "%s:%u: %s \"" SLICE_FMT "\"; did you mean \"" SLICE_FMT "\"?", l->name, xml_line(l->x), what,
                       SLICE_ARG(v), SLICE_ARG(near));
    return err_set(e, VF_EFORMAT, "%s:%u: %s \"" SLICE_FMT "\"", l->name, xml_line(l->x), what, SLICE_ARG(v));
}

static const struct slice nothing = {NULL, 0};

static struct slice attr(struct loading *l, const char *name)
{
    struct slice v;

    return xml_attr(l->x, name, &v) ? arena_dup(l->a, v) : nothing;
}

static int known_attributes(struct loading *l, const char *const *known, struct err *e)
{
    struct slice name, value;

    for (unsigned i = 0; xml_attr_at(l->x, i, &name, &value); i++) {
        struct slice near = nothing;
        size_t k = 0;

        while (known[k] && !slice_eqz(name, known[k]))
            k++;
        if (known[k])
            continue;
        for (k = 0; known[k]; k++)
            if (slice_distance(name, slice_of(known[k])) < 3)
                near = slice_of(known[k]);
        return fail(l, e, "unknown attribute", arena_dup(l->a, name), near);
    }
    return 0;
}

static int open_probe(struct loading *l, struct err *e)
{
    static const char *const known[] = {"id", "table", "lists", "missing", NULL};
    struct slice table = attr(l, "table"), lists = attr(l, "lists");
    struct probe *p = arena_alloc(l->a, sizeof *p);
    void *v = l->probes->v;
    int t;

    if (known_attributes(l, known, e) < 0)
        return e->code;
    l->ways = arena_array(l->a, PROBE_MAX_WAYS, sizeof *l->ways);
    l->binds = arena_array(l->a, PROBE_MAX_BINDS, sizeof *l->binds);
    if (!p || !l->ways || !l->binds || arena_grow(l->a, &v, l->probes->n, &l->probes->cap, sizeof *l->probes->v, MAX_PROBES) < 0)
        return err_set(e, VF_ELIMIT, "%s: too many probes", l->name);
    p->id = attr(l, "id");
    p->missing_absent = slice_eqz(attr(l, "missing"), "absent");
    p->file = l->name;
    p->line = xml_line(l->x);
    p->ways = l->ways;
    p->binds = l->binds;
    if (p->id.n == 0 || probes_find(l->probes, p->id))
        return fail(l, e, "a probe wants an id of its own, not", p->id, nothing);
    t = schema_table(l->schema, table);
    if (t < 0)
        return fail(l, e, "unknown table", table, schema_near_table(l->schema, table));
    p->table = (unsigned)t;
    if (lists.n && !slice_eqz(lists, "yes") && !slice_eqz(lists, "part") && !slice_eqz(lists, "more") && !slice_eqz(lists, "no"))
        return fail(l, e, "lists is yes, part, more or no, not", lists, nothing);
    p->lists = slice_eqz(lists, "yes") ? LISTS_YES : slice_eqz(lists, "part") ? LISTS_PART : slice_eqz(lists, "more") ? LISTS_MORE : LISTS_NO;
    l->probes->v = v;
    l->probes->v[l->probes->n++] = p;
    l->probe = p;
    return 0;
}

static int find_column(const struct schema *s, struct slice word, int *table)
{
    size_t dot = slice_find_char(word, 0, '.');
    int t = dot == SIZE_MAX ? -1 : schema_table(s, slice_cut(word, 0, dot));

    if (table)
        *table = t;
    return t < 0 ? -1 : table_column(&s->tables[t], slice_from(word, dot + 1));
}

static int read_each(struct loading *l, struct way *w, struct err *e)
{
    struct slice rest = w->each, word;

    if (w->where.n && find_column(l->schema, slice_cut(w->where, 0, slice_find_char(w->where, 0, '=')), NULL) < 0)
        return fail(l, e, "where wants table.column=value, not", w->where, nothing);
    if (slice_starts(rest, "="))
        return 0;
    while (slice_next_word(&rest, " ", &word)) {
        if (find_column(l->schema, word, NULL) < 0)
            return fail(l, e, "each wants table.column, not", word, nothing);
    }
    return 0;
}

static int read_bound(struct loading *l, const char *name, struct release *out, struct err *e)
{
    struct slice v = attr(l, name);

    if (v.n && release_parse(v, out, e) < 0)
        return err_ctx(e, "%s:%u: %s", l->name, xml_line(l->x), name);
    return 0;
}

static int open_ask(struct loading *l, struct err *e)
{
    static const char *const known[] = {"esxcli", "shell", "file", "redfish", "decoder", "shape", "columns", "line", "each",
                                        "where", "record", "from", "before", "xml", "text", "never", NULL};
    static const char *const kinds[] = {"esxcli", "shell", "file", "redfish"};
    struct slice decoder, shape, v;
    struct way *w;
    unsigned given = 0, s;

    if (!l->probe || l->probe->nways == PROBE_MAX_WAYS)
        return err_set(e, VF_EFORMAT, "%s:%u: ask outside a probe, or too many of them", l->name, xml_line(l->x));
    if (known_attributes(l, known, e) < 0)
        return e->code;
    w = &l->ways[l->probe->nways++];
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if ((v = attr(l, kinds[k])).n) {
            w->ask = (struct ask){.kind = (enum ask_kind)k, .text = v};
            given++;
        }
    if (given != 1)
        return err_set(e, VF_EFORMAT, "%s:%u: ask wants exactly one of esxcli, shell, file, redfish", l->name, xml_line(l->x));
    w->never = slice_eqz(attr(l, "never"), "yes");
    w->each = attr(l, "each");
    w->where = attr(l, "where");
    w->record = attr(l, "record");
    if ((slice_find(w->ask.text, 0, "{}") != SIZE_MAX) != (w->each.n > 0))
        return fail(l, e, "an ask with each, and no other, has {} in its command:", w->ask.text, nothing);
    if (!w->never && ask_readonly(&w->ask, e) < 0)
        return err_ctx(e, "%s:%u", l->name, xml_line(l->x));
    if (read_each(l, w, e) < 0 || read_bound(l, "from", &w->from, e) < 0 || read_bound(l, "before", &w->before, e) < 0)
        return e->code;
    decoder = attr(l, "decoder");
    w->decoder = decoder_find(decoder.n ? decoder : SLICE_LIT("esxcli"));
    if (!w->decoder || (!decoder.n && w->ask.kind != ASK_ESXCLI))
        return fail(l, e, "unknown or missing decoder", decoder, nothing);
    shape = attr(l, "shape");
    for (s = 0; s < sizeof shapes / sizeof *shapes && !slice_eqz(shape, shapes[s]); s++)
        ;
    if (s == sizeof shapes / sizeof *shapes && (shape.n || w->decoder->run == decode_esxcli))
        return fail(l, e, "shape is table, list, blocks, object or value, not", shape, nothing);
    w->opt.shape = s == sizeof shapes / sizeof *shapes ? SHAPE_LIST : (enum decode_shape)s;
    if ((v = attr(l, "columns")).n)
        w->opt.columns = v.p;
    if ((v = attr(l, "line")).n)
        w->opt.line = v.p;
    w->xml_seen = slice_eqz(attr(l, "xml"), "seen");
    w->text_seen = slice_eqz(attr(l, "text"), "seen");
    return 0;
}

static int open_column(struct loading *l, struct err *e)
{
    static const char *const known[] = {"name", "key", "else", "value", "take", NULL};
    struct slice name = attr(l, "name"), take = attr(l, "take"), near = nothing;
    const struct table *t;
    struct bind *b;
    unsigned k = 0;
    int c;

    if (!l->probe || l->probe->nbinds == PROBE_MAX_BINDS)
        return err_set(e, VF_EFORMAT, "%s:%u: column outside a probe, or too many of them", l->name, xml_line(l->x));
    if (known_attributes(l, known, e) < 0)
        return e->code;
    t = &l->schema->tables[l->probe->table];
    c = table_column(t, name);
    if (c < 0)
        return fail(l, e, "unknown column", name, table_near_column(t, name));
    if (t->columns[c].derived)
        return fail(l, e, "a derived column is computed, no probe fills it:", name, nothing);
    b = &l->binds[l->probe->nbinds++];
    b->column = (unsigned)c;
    b->keys = attr(l, "key");
    b->otherwise = attr(l, "else");
    b->constant = attr(l, "value");
    if ((b->keys.n > 0) == (b->constant.n > 0))
        return fail(l, e, "column wants either key or value:", name, nothing);
    while (take.n && take_name(k) && !slice_eqz(take, take_name(k)))
        k++;
    if (!take_name(k)) {
        for (k = 0; take_name(k); k++)
            if (slice_distance(take, slice_of(take_name(k))) < 4)
                near = slice_of(take_name(k));
        return fail(l, e, "unknown take", take, near);
    }
    b->take = (enum take)k;
    return 0;
}

static int close_probe(struct loading *l, struct err *e)
{
    struct probe *p = l->probe;
    const struct table *t = &l->schema->tables[p->table];

    l->probe = NULL;
    if (p->nways == 0 || p->nbinds == 0 || p->why.n == 0)
        return fail(l, e, "a probe wants why, ask and column:", p->id, nothing);
    for (unsigned k = 0; k < t->nkeys; k++) {
        unsigned i = 0;

        while (i < p->nbinds && p->binds[i].column != t->keys[k])
            i++;
        if (i == p->nbinds)
            return fail(l, e, "the probe does not fill the table's key column", t->columns[t->keys[k]].name, nothing);
    }
    return 0;
}

static int open_element(struct loading *l, struct err *e)
{
    const char *name = xml_name(l->x);

    if (strcmp(name, "probe") == 0)
        return l->probe ? fail(l, e, "a probe may not stand inside", l->probe->id, nothing) : open_probe(l, e);
    if (strcmp(name, "ask") == 0)
        return open_ask(l, e);
    if (strcmp(name, "column") == 0)
        return open_column(l, e);
    if (strcmp(name, "why") == 0 && l->probe) {
        l->in_why = true;
        return 0;
    }
    if (strcmp(name, "probes") == 0)
        return slice_eqz(attr(l, "format"), "1") ? 0 : fail(l, e, "unknown format of probes", attr(l, "format"), nothing);
    return fail(l, e, "unknown element", slice_of(name), nothing);
}

/* Text of several lines to one line. */
static struct slice one_line(struct arena *a, struct slice s)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8192);
    struct slice w;

    while (slice_next_word(&s, " \t\r\n", &w)) {
        if (b.n)
            buf_addc(&b, ' ');
        buf_add(&b, w);
    }
    return arena_dup(a, buf_slice(&b));
}

int probes_load(struct probes *p, struct slice xml, const char *name, const struct schema *s, struct arena *a, struct err *e)
{
    _cleanup_(xml_close) struct xml *x = xml_open(xml, name, e);
    struct loading l = {.x = x, .a = a, .name = name, .schema = s, .probes = p};
    enum xml_event ev;
    int rc = 0;

    if (!x)
        return e->code;
    while (rc == 0 && (ev = xml_next(x)) > XML_END) {
        if (ev == XML_OPEN)
            rc = open_element(&l, e);
        else if (ev == XML_TEXT && l.in_why && l.probe)
            l.probe->why = one_line(a, xml_text(x));
        else if (ev == XML_CLOSE && strcmp(xml_name(x), "why") == 0)
            l.in_why = false;
        else if (ev == XML_CLOSE && strcmp(xml_name(x), "probe") == 0)
            rc = close_probe(&l, e);
    }
    if (rc == 0 && ev == XML_BROKEN)
        rc = err_set(e, VF_EFORMAT, "%s: %s", name, xml_error(x, NULL));
    return rc;
}

const struct probe *probes_find(const struct probes *p, struct slice id)
{
    for (size_t i = 0; i < p->n; i++)
        if (slice_eq(p->v[i]->id, id))
            return p->v[i];
    return NULL;
}
