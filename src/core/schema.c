#include "core/schema.h"

#include "base/buf.h"
#include "base/xml.h"

#define MAX_VALUES 64u

static const struct {
    const char *name;
    enum value_type type;
} types[] = {
    {"text", VT_TEXT}, {"name", VT_NAME}, {"bool", VT_BOOL}, {"int", VT_INT},   {"version", VT_VERSION}, {"date", VT_DATE},
    {"time", VT_TIME}, {"hex", VT_HEX},   {"pci", VT_PCI},   {"list", VT_LIST}, {"ref", VT_REF},         {"refs", VT_REFS},
};

static const struct {
    const char *name;
    enum version_scheme scheme;
} schemes[] = {{"dotted", SCHEME_DOTTED}, {"vib", SCHEME_VIB}, {"firmware", SCHEME_FIRMWARE}, {"esxi", SCHEME_ESXI}};

static const struct {
    const char *name;
    enum merge merge;
} merges[] = {{"", MERGE_FIRST}, {"sum", MERGE_SUM}, {"min", MERGE_MIN}, {"max", MERGE_MAX}, {"union", MERGE_UNION}};

static const char *const identities[] = {
    [IDENTITY_NONE] = "",         [IDENTITY_SERIAL] = "serial",       [IDENTITY_MAC] = "mac",   [IDENTITY_WWN] = "wwn",
    [IDENTITY_UUID] = "uuid",     [IDENTITY_HOST] = "host",           [IDENTITY_IP] = "ip",     [IDENTITY_MACHINE] = "machine",
    [IDENTITY_NAME] = "name",     [IDENTITY_DATASTORE] = "datastore", [IDENTITY_IQN] = "iqn",   [IDENTITY_DEVICE] = "device",
    [IDENTITY_LABEL] = "label",   [IDENTITY_TEXT] = "text",
};

const char *identity_name(enum identity i)
{
    return identities[i];
}

const char *value_type_name(enum value_type t)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == t)
            return types[i].name;
    return "text";
}

enum value_kind value_kind(enum value_type t)
{
    return t == VT_BOOL ? KIND_BOOL : t == VT_INT ? KIND_INT : t == VT_LIST || t == VT_REFS ? KIND_LIST : KIND_TEXT;
}

struct loading {
    struct xml *x;
    struct arena *a;
    const char *name;
    struct table *tables;
    struct column *columns; /* of the open table */
    struct slice *refs;     /* names of referenced tables, resolved at the end: [table * MAX + column] */
    struct slice key;
    unsigned n;
};

static int bad(struct loading *l, struct err *e, const char *what, struct slice v)
{
    return err_set(e, VF_EFORMAT, "%s:%u: %s \"" SLICE_FMT "\"", l->name, xml_line(l->x), what, SLICE_ARG(v));
}

static struct slice attr(struct loading *l, const char *name)
{
    struct slice v;

    return xml_attr(l->x, name, &v) ? arena_dup(l->a, v) : (struct slice){NULL, 0};
}

static int load_values(struct loading *l, struct column *c, struct slice v, struct err *e)
{
    const char *sep = slice_find_char(v, 0, '|') == SIZE_MAX ? " " : "|";
    struct slice *list = arena_array(l->a, MAX_VALUES, sizeof *list);
    struct slice word;

    while (slice_next_word(&v, sep, &word)) {
        if (c->nvalues == MAX_VALUES || !list)
            return bad(l, e, "too many values at", word);
        list[c->nvalues++] = word;
    }
    c->values = list;
    return 0;
}

static int open_table(struct loading *l, struct err *e)
{
    struct table *t;

    if (l->n == SCHEMA_MAX_TABLES)
        return err_set(e, VF_ELIMIT, "%s: more than %u tables", l->name, SCHEMA_MAX_TABLES);
    t = &l->tables[l->n];
    t->name = attr(l, "name");
    t->doc = attr(l, "doc");
    t->single = slice_eqz(attr(l, "single"), "yes");
    t->optional = slice_eqz(attr(l, "optional"), "yes");
    l->key = attr(l, "key");
    l->columns = arena_array(l->a, SCHEMA_MAX_COLUMNS, sizeof *l->columns);
    if (!l->columns)
        return err_set(e, VF_ELIMIT, "%s: no room", l->name);
    if (t->name.n == 0)
        return bad(l, e, "table wants a name", t->name);
    for (unsigned i = 0; i < l->n; i++)
        if (slice_eq(l->tables[i].name, t->name))
            return bad(l, e, "table twice:", t->name);
    t->columns = l->columns;
    l->n++;
    return 0;
}

static int load_identity(struct loading *l, struct column *c, struct err *e)
{
    struct slice identity = attr(l, "identity");
    size_t i;

    for (i = 0; i < sizeof identities / sizeof *identities && !slice_eqz(identity, identities[i]); i++)
        ;
    if (i == sizeof identities / sizeof *identities)
        return bad(l, e, "unknown identity", identity);
    c->identity = (enum identity)i;
    return 0;
}

static int open_column(struct loading *l, struct err *e)
{
    struct table *t = &l->tables[l->n - 1];
    struct slice type = attr(l, "type"), scheme = attr(l, "scheme"), values = attr(l, "values"), digits = attr(l, "digits");
    struct slice merge = attr(l, "merge");
    struct column *c;
    uint64_t n = 0;
    size_t i;

    if (t->ncolumns == SCHEMA_MAX_COLUMNS)
        return bad(l, e, "too many columns in table", t->name);
    c = &l->columns[t->ncolumns];
    c->name = attr(l, "name");
    c->doc = attr(l, "doc");
    c->unit = attr(l, "unit");
    c->none = attr(l, "none");
    c->like = attr(l, "like");
    c->derived = slice_eqz(attr(l, "derived"), "yes");
    c->table = -1;
    for (i = 0; i < sizeof types / sizeof *types && !slice_eqz(type, types[i].name); i++)
        ;
    if (i == sizeof types / sizeof *types)
        return bad(l, e, "unknown column type", type);
    c->type = types[i].type;
    for (i = 0; i < sizeof schemes / sizeof *schemes && !slice_eqz(scheme, schemes[i].name); i++)
        ;
    if ((c->type == VT_VERSION) != (i < sizeof schemes / sizeof *schemes))
        return bad(l, e, "a version column, and no other, wants a known scheme, not", scheme);
    if (c->type == VT_VERSION)
        c->scheme = schemes[i].scheme;
    for (i = 0; i < sizeof merges / sizeof *merges && !slice_eqz(merge, merges[i].name); i++)
        ;
    if (i == sizeof merges / sizeof *merges)
        return bad(l, e, "unknown merge", merge);
    c->merge = merges[i].merge;
    if (digits.n && num_parse_u64(digits, &n) < 0)
        return bad(l, e, "digits is not a number:", digits);
    c->digits = (unsigned)n;
    if (c->name.n == 0 || table_column(t, c->name) >= 0)
        return bad(l, e, "column without a name, or twice:", c->name);
    if (values.n && load_values(l, c, values, e) < 0)
        return e->code;
    if (load_identity(l, c, e) < 0)
        return e->code;
    l->refs[(l->n - 1) * SCHEMA_MAX_COLUMNS + t->ncolumns] = attr(l, "table");
    t->ncolumns++;
    return 0;
}

static int close_table(struct loading *l, struct err *e)
{
    struct table *t = &l->tables[l->n - 1];
    struct slice rest = l->key, word;

    while (slice_next_word(&rest, " ", &word)) {
        int c = table_column(t, word);

        if (c < 0 || t->nkeys == SCHEMA_MAX_KEYS)
            return bad(l, e, "key column not in the table, or too many:", word);
        t->keys[t->nkeys++] = (unsigned)c;
    }
    if (t->single == (t->nkeys > 0))
        return bad(l, e, "a table has either a key or single=\"yes\":", t->name);
    return 0;
}

static int resolve(struct loading *l, struct schema *s, struct err *e)
{
    for (unsigned i = 0; i < l->n; i++) {
        struct column *cols = arena_array(l->a, l->tables[i].ncolumns + 1, sizeof *cols);

        if (!cols)
            return err_set(e, VF_ELIMIT, "%s: no room", l->name);
        memcpy(cols, l->tables[i].columns, l->tables[i].ncolumns * sizeof *cols);
        for (unsigned j = 0; j < l->tables[i].ncolumns; j++) {
            bool is_ref = cols[j].type == VT_REF || cols[j].type == VT_REFS;

            cols[j].table = schema_table(s, l->refs[i * SCHEMA_MAX_COLUMNS + j]);
            if (is_ref != (cols[j].table >= 0))
                return err_set(e, VF_EFORMAT, "%s: column " SLICE_FMT "." SLICE_FMT ": a reference, and no other, names a table",
                               l->name, SLICE_ARG(l->tables[i].name), SLICE_ARG(cols[j].name));
        }
        l->tables[i].columns = cols;
    }
    return 0;
}

int schema_load(struct slice xml, const char *name, struct arena *a, struct schema *out, struct err *e)
{
    _cleanup_(xml_close) struct xml *x = xml_open(xml, name, e);
    struct loading l = {.x = x, .a = a, .name = name};
    struct schema s;
    enum xml_event ev;
    int rc = 0;

    if (!x)
        return e->code;
    l.tables = arena_array(a, SCHEMA_MAX_TABLES, sizeof *l.tables);
    l.refs = arena_array(a, (size_t)SCHEMA_MAX_TABLES * SCHEMA_MAX_COLUMNS, sizeof *l.refs);
    if (!l.tables || !l.refs)
        return err_set(e, VF_ELIMIT, "%s: no room", name);
    while (rc == 0 && (ev = xml_next(x)) > XML_END) {
        if (ev == XML_OPEN && strcmp(xml_name(x), "table") == 0)
            rc = open_table(&l, e);
        else if (ev == XML_OPEN && strcmp(xml_name(x), "column") == 0 && l.n)
            rc = open_column(&l, e);
        else if (ev == XML_CLOSE && strcmp(xml_name(x), "table") == 0)
            rc = close_table(&l, e);
    }
    if (rc == 0 && ev == XML_BROKEN)
        rc = err_set(e, VF_EFORMAT, "%s: %s", name, xml_error(x, NULL));
    if (rc == 0 && l.n == 0)
        rc = err_set(e, VF_EFORMAT, "%s: no table in it; this is no schema", name);
    if (rc < 0)
        return rc;
    s = (struct schema){l.tables, l.n};
    rc = resolve(&l, &s, e);
    if (rc == 0)
        *out = s;
    return rc;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* slice_glob, with '#' for a hexadecimal digit. */
static bool has_form(struct slice form, struct slice text)
{
    size_t f = 0, t = 0, star = SIZE_MAX, mark = 0;

    while (t < text.n) {
        if (f < form.n && form.p[f] == '*') {
            star = f++;
            mark = t;
        } else if (f < form.n && (form.p[f] == '#' ? is_hex(text.p[t]) : form.p[f] == text.p[t])) {
            f++;
            t++;
        } else if (star != SIZE_MAX) {
            f = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (f < form.n && form.p[f] == '*')
        f++;
    return f == form.n;
}

bool column_like(const struct column *c, struct slice text)
{
    struct slice rest = c->like, form;

    while (slice_next_word(&rest, " ", &form))
        if (has_form(form, text))
            return true;
    return c->like.n == 0;
}

int schema_table(const struct schema *s, struct slice name)
{
    for (unsigned i = 0; i < s->ntables && name.n; i++)
        if (slice_eq(s->tables[i].name, name))
            return (int)i;
    return -1;
}

int table_column(const struct table *t, struct slice name)
{
    for (unsigned i = 0; i < t->ncolumns; i++)
        if (slice_eq(t->columns[i].name, name))
            return (int)i;
    return -1;
}

static void nearer(struct slice name, struct slice candidate, unsigned *best, struct slice *found)
{
    unsigned d = slice_distance(name, candidate);

    if (d < *best) {
        *best = d;
        *found = candidate;
    }
}

struct slice schema_near_table(const struct schema *s, struct slice name)
{
    struct slice found = {NULL, 0};
    unsigned best = 3;

    for (unsigned i = 0; i < s->ntables; i++)
        nearer(name, s->tables[i].name, &best, &found);
    return found;
}

struct slice table_near_column(const struct table *t, struct slice name)
{
    struct slice found = {NULL, 0};
    unsigned best = 4;

    for (unsigned i = 0; i < t->ncolumns; i++)
        nearer(name, t->columns[i].name, &best, &found);
    return found;
}

/* Breadth first over references; from[] remembers how each table was reached. */
struct reached {
    bool seen;
    int from;
    struct step step;
    unsigned depth;
};

static void reach(struct reached *r, int *queue, unsigned *tail, int at, struct step step)
{
    if (r[step.table].seen)
        return;
    r[step.table] = (struct reached){true, at, step, r[at].depth + 1};
    queue[(*tail)++] = step.table;
}

int schema_relate(const struct schema *s, int from, int to, struct step steps[SCHEMA_MAX_STEPS])
{
    struct reached r[SCHEMA_MAX_TABLES] = {0};
    int queue[SCHEMA_MAX_TABLES];
    unsigned head = 0, tail = 0;

    if (from == to)
        return 0;
    r[from].seen = true;
    queue[tail++] = from;
    while (head < tail && !r[to].seen) {
        int at = queue[head++];
        const struct table *t = &s->tables[at];

        for (unsigned c = 0; c < t->ncolumns; c++) /* stored references first, then derived short cuts, then backward */
            if (t->columns[c].table >= 0 && !t->columns[c].derived)
                reach(r, queue, &tail, at, (struct step){t->columns[c].table, (int)c, false});
        for (unsigned c = 0; c < t->ncolumns; c++)
            if (t->columns[c].table >= 0)
                reach(r, queue, &tail, at, (struct step){t->columns[c].table, (int)c, false});
        for (unsigned o = 0; o < s->ntables; o++)
            for (unsigned c = 0; c < s->tables[o].ncolumns; c++)
                if (s->tables[o].columns[c].table == at)
                    reach(r, queue, &tail, at, (struct step){(int)o, (int)c, true});
    }
    if (!r[to].seen || r[to].depth > SCHEMA_MAX_STEPS)
        return -1;
    for (int at = to; at != from; at = r[at].from)
        steps[r[at].depth - 1] = r[at].step;
    return (int)r[to].depth;
}
