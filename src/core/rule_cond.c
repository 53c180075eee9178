#include "base/buf.h"
#include "core/rule_load.h"

static const struct slice nothing = {NULL, 0};

/* --- tests --- */

static const struct {
    const char *suffix;
    enum test_op op;
} suffixes[] = {{"-from", TEST_FROM}, {"-before", TEST_BEFORE}, {"-above", TEST_ABOVE}, {"-below", TEST_BELOW}, {"-absent", TEST_ABSENT}};

/* "driver-version-before" to column and operation. On the table esxi, from, before and release are about its release. */
static int resolve(const struct table *t, struct slice name, enum test_op *op)
{
    int c = table_column(t, name);

    *op = TEST_IS;
    if (slice_eqz(t->name, "esxi")) {
        if (slice_eqz(name, "release"))
            *op = TEST_COVERS;
        if (slice_eqz(name, "from") || slice_eqz(name, "before")) {
            *op = slice_eqz(name, "from") ? TEST_FROM : TEST_BEFORE;
            return table_column(t, SLICE_LIT("release"));
        }
    }
    for (size_t i = 0; c < 0 && i < sizeof suffixes / sizeof *suffixes; i++)
        if (slice_ends(name, suffixes[i].suffix)) {
            *op = suffixes[i].op;
            c = table_column(t, slice_cut(name, 0, name.n - strlen(suffixes[i].suffix)));
        }
    return c;
}

/* Number with the unit that the column counts in, or one that converts: 20ms of a column in us is 20000. */
static int number_with_unit(const struct column *c, struct slice s, int64_t *out)
{
    static const struct {
        const char *unit, *text;
        int64_t factor;
    } units[] = {{"us", "us", 1}, {"us", "ms", 1000}, {"us", "s", 1000000}, {"s", "s", 1}, {"s", "min", 60}, {"s", "h", 3600}, {"s", "d", 86400},
                 {"days", "d", 1}, {"bytes", "B", 1}, {"bytes", "KiB", 1024}, {"bytes", "MiB", 1 << 20}, {"bytes", "GiB", 1 << 30},
                 {"MiB", "MiB", 1}, {"MiB", "GiB", 1024}, {"%", "%", 1}, {"hours", "h", 1}, {"Mbit/s", "Mbit/s", 1}, {"K", "K", 1}};
    size_t n = 0;

    while (n < s.n && (s.p[n] == '-' || (s.p[n] >= '0' && s.p[n] <= '9')))
        n++;
    if (num_parse_i64(slice_cut(s, 0, n), out) < 0)
        return -1;
    if (n == s.n)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (slice_eqz(c->unit, units[i].unit) && slice_eqz(slice_from(s, n), units[i].text))
            return __builtin_mul_overflow(*out, units[i].factor, out) ? -1 : 0;
    return -1;
}

/* vvvv:dddd, perhaps with :ssss:ssss, of which a part may be left out; "*" in place of a part is any. */
static bool is_pci_id(struct slice s)
{
    struct slice part;
    unsigned n = 0;

    if (s.n == 0 || s.p[s.n - 1] == ':' || s.p[0] == ':')
        return false;
    for (; slice_next_word(&s, ":", &part); n++) {
        if (slice_eqz(part, "*"))
            continue;
        for (size_t i = 0; i < part.n; i++)
            if (!strchr("0123456789abcdefABCDEF", part.p[i]))
                return false;
        if (part.n != 4)
            return false;
    }
    return n >= 2 && n <= 4;
}

static int check_word(struct rule_loading *l, const struct table *t, const struct column *c, struct slice w, struct err *e)
{
    struct slice near = nothing;
    unsigned least = 3;
    int64_t number;

    if (slice_eqz(c->name, "id") && slice_eqz(t->name, "pci") && !is_pci_id(w))
        return rule_fail(l, e, nothing, "a PCI id is written 8086:9d03 or 1000:005d:1028:1f49, not \"" SLICE_FMT "\"%s", SLICE_ARG(w),
                         slice_find_char(w, 0, ':') == SIZE_MAX ? "; use colons" : "");
    if (slice_find_char(w, 0, '*') != SIZE_MAX && c->type != VT_BOOL && c->type != VT_INT)
        return 0;
    for (unsigned i = 0; i < c->nvalues; i++) {
        unsigned d = slice_distance(w, c->values[i]);

        if (slice_eq(w, c->values[i]))
            return 0;
        if (d < least) {
            least = d;
            near = c->values[i];
        }
    }
    if (c->nvalues)
        return rule_fail(l, e, near, "\"" SLICE_FMT "\" is no value of " SLICE_FMT "." SLICE_FMT, SLICE_ARG(w), SLICE_ARG(t->name),
                    SLICE_ARG(c->name));
    if (c->type == VT_BOOL && !slice_eqz(w, "yes") && !slice_eqz(w, "no") && !slice_eqz(w, "true") && !slice_eqz(w, "false"))
        return rule_fail(l, e, nothing, SLICE_FMT " wants yes or no, not \"" SLICE_FMT "\"", SLICE_ARG(c->name), SLICE_ARG(w));
    if (c->type == VT_INT && num_parse_i64(w, &number) < 0)
        return rule_fail(l, e, nothing, SLICE_FMT " wants a number, not \"" SLICE_FMT "\"", SLICE_ARG(c->name), SLICE_ARG(w));
    return 0;
}

static int load_values(struct rule_loading *l, const struct table *t, struct test *x, struct slice value, struct err *e)
{
    const struct column *c = &t->columns[x->column];
    bool words = c->type != VT_TEXT || slice_eqz(c->name, "id"); /* texts may hold blanks; "|" parts their alternatives */
    const char *seps = words && slice_find_char(value, 0, '|') == SIZE_MAX ? " \t\r\n" : "|";
    struct slice rest = value, w;
    struct slice *v;
    unsigned n = 0;

    while (slice_next_word(&rest, seps, &w))
        n++;
    v = n ? arena_array(l->a, n, sizeof *v) : NULL;
    if (!v)
        return n ? rule_full(l, e) : rule_fail(l, e, nothing, SLICE_FMT " wants a value", SLICE_ARG(c->name));
    rest = value;
    while (slice_next_word(&rest, seps, &w)) {
        if (words && w.n && w.p[w.n - 1] == ',')
            return rule_fail(l, e, nothing, "values of " SLICE_FMT " are parted by blanks, without commas", SLICE_ARG(c->name));
        if (check_word(l, t, c, slice_trim(w), e) < 0)
            return e->code;
        v[x->nvalues++] = slice_trim(w);
    }
    x->values = v;
    return 0;
}

struct slice rule_keep_pair(struct arena *a, struct slice *name, struct slice *value)
{
    size_t n = name->n + value->n + 3;
    char *p = arena_alloc(a, n + 1);

    if (!p) {
        *name = *value = nothing;
        return nothing;
    }
    memcpy(p, name->p, name->n);
    memcpy(p + name->n, "=\"", 2);
    memcpy(p + name->n + 2, value->p, value->n);
    p[n - 1] = '"';
    *name = (struct slice){p, name->n};
    *value = (struct slice){p + name->n + 2, value->n};
    return (struct slice){p, n};
}

static int load_test(struct rule_loading *l, const struct table *t, struct slice name, struct slice value, struct test *x, struct err *e)
{
    const struct column *c;
    int col = resolve(t, name, &x->op);

    if (col < 0)
        return rule_fail(l, e, table_near_column(t, name), "unknown column \"" SLICE_FMT "\" of " SLICE_FMT, SLICE_ARG(name), SLICE_ARG(t->name));
    x->column = (unsigned)col;
    c = &t->columns[col];
    x->written = rule_keep_pair(l->a, &name, &value);
    switch (x->op) {
    case TEST_IS:
        return load_values(l, t, x, value, e);
    case TEST_ABSENT:
        x->wanted = slice_eqz(value, "yes");
        if (!x->wanted && !slice_eqz(value, "no"))
            return rule_fail(l, e, nothing, SLICE_FMT " wants yes or no", SLICE_ARG(name));
        return 0;
    case TEST_ABOVE:
    case TEST_BELOW:
        if (c->type != VT_INT)
            return rule_fail(l, e, nothing, SLICE_FMT " is no number; above and below compare numbers, from and before versions", SLICE_ARG(c->name));
        if (number_with_unit(c, value, &x->number) < 0)
            return rule_fail(l, e, nothing, SLICE_FMT " wants a number%s" SLICE_FMT ", not \"" SLICE_FMT "\"", SLICE_ARG(name),
                        c->unit.n ? " in " : "", SLICE_ARG(c->unit), SLICE_ARG(value));
        return 0;
    case TEST_FROM:
    case TEST_BEFORE:
    case TEST_COVERS:
        if (c->type != VT_VERSION)
            return rule_fail(l, e, nothing, SLICE_FMT " is no version; from and before compare versions", SLICE_ARG(c->name));
        if (c->scheme == SCHEME_ESXI && release_parse(value, &x->release, e) < 0)
            return rule_where(l, e);
        if (load_values(l, t, x, value, e) < 0)
            return e->code;
        if (x->nvalues != 1 || slice_find_char(value, 0, '*') != SIZE_MAX)
            return rule_fail(l, e, nothing, SLICE_FMT " wants one version, not \"" SLICE_FMT "\"", SLICE_ARG(name), SLICE_ARG(value));
        return 0;
    }
    return 0;
}

/* All attributes of the open element but those named, as tests on table t. */
int rule_load_tests(struct rule_loading *l, const struct table *t, const char *const *except, const struct test **out, unsigned *n, struct err *e)
{
    struct test v[RULE_MAX_TESTS];
    struct slice name, value;

    *n = 0;
    for (unsigned i = 0; xml_attr_at(l->x, i, &name, &value); i++) {
        if (except && rule_known_word(name, except))
            continue;
        if (*n == RULE_MAX_TESTS)
            return rule_fail(l, e, nothing, "too many attributes");
        v[*n] = (struct test){.op = TEST_IS};
        l->attribute = name;
        if (load_test(l, t, name, value, &v[(*n)++], e) < 0)
            return e->code;
        l->attribute = nothing;
    }
    *out = rule_keep(l->a, v, *n, sizeof *v);
    return *out ? 0 : rule_full(l, e);
}

/* --- conditions --- */

static const char *const quantifiers[] = {"none", "some", "every", "count", "same", "compare", NULL};

struct cond *rule_new_cond(struct rule_loading *l, enum cond_kind kind)
{
    struct cond *c = arena_alloc(l->a, sizeof *c);

    if (c) {
        c->kind = kind;
        c->line = xml_line(l->x);
        c->at = (uint32_t)xml_offset(l->x);
        c->below = c->above = -1;
    }
    return c;
}

/* The way from the subject to a table: number of steps, -1 when there is none. */
static int relate(struct rule_loading *l, unsigned to, const struct step **steps)
{
    struct rule_path **of = &l->paths[l->rule->subject], *path;

    if (!*of)
        *of = arena_array(l->a, l->schema->ntables, sizeof **of);
    if (!*of)
        return -1;
    path = &(*of)[to];
    if (!path->known) {
        path->n = schema_relate(l->schema, (int)l->rule->subject, (int)to, path->steps);
        path->known = true;
    }
    *steps = path->steps;
    return path->n;
}

static void find_scope(struct rule_loading *l, struct cond *c)
{
    const struct table *t = &l->schema->tables[c->table];
    int n;

    if (t->single) {
        c->scope = SCOPE_SINGLE;
        return;
    }
    for (unsigned i = 0; i < c->ntests; i++)
        if (c->tests[i].column == t->keys[0] && c->tests[i].op == TEST_IS && t->nkeys == 1) {
            c->scope = SCOPE_KEY;
            return;
        }
    if (c->table == l->rule->subject) {
        c->scope = SCOPE_SELF;
        return;
    }
    n = relate(l, c->table, &c->steps);
    c->scope = n < 0 ? SCOPE_ALL : SCOPE_RELATED;
    c->nsteps = n < 0 ? 0 : (unsigned)n & 0xff;
}

/* An element that names a table. all: rows other than the subject are meant even in its own table (inside a quantifier). */
static struct cond *load_element(struct rule_loading *l, bool all, struct err *e)
{
    struct slice name = slice_of(xml_name(l->x));
    int t = schema_table(l->schema, name);
    struct cond *c = rule_new_cond(l, COND_ROW);

    if (!c)
        return NULL;
    if (t < 0) {
        (void)rule_fail(l, e, schema_near_table(l->schema, name), "unknown table or element \"" SLICE_FMT "\"", SLICE_ARG(name));
        return NULL;
    }
    c->table = (uint16_t)t;
    if (rule_load_tests(l, &l->schema->tables[t], NULL, &c->tests, &c->ntests, e) < 0)
        return NULL;
    find_scope(l, c);
    if (all && c->scope == SCOPE_SELF)
        c->scope = SCOPE_ALL;
    return rule_no_children(l, l->schema->tables[t].name.p, e) < 0 ? NULL : c;
}

static struct cond *load_cell(struct rule_loading *l, struct slice text, struct err *e)
{
    size_t dot = slice_find_char(text, 0, '.');
    int t = dot == SIZE_MAX ? -1 : schema_table(l->schema, slice_cut(text, 0, dot));
    int col = t < 0 ? -1 : table_column(&l->schema->tables[t], slice_from(text, dot + 1));
    struct cond *c = rule_new_cond(l, COND_ROW);

    if (!c)
        return NULL;
    if (col < 0 || l->schema->tables[t].columns[col].type != VT_INT) {
        (void)rule_fail(l, e, nothing, "compare wants two numbers as table.column, not \"" SLICE_FMT "\"", SLICE_ARG(text));
        return NULL;
    }
    c->table = (uint16_t)t;
    c->column = (uint16_t)col;
    find_scope(l, c);
    return c;
}

static struct cond *load_compare(struct rule_loading *l, struct err *e)
{
    static const char *const known[] = {"fact", "below", "above", "is", NULL};
    struct cond *c = rule_new_cond(l, COND_COMPARE);
    struct slice below = rule_attr(l, "below"), above = rule_attr(l, "above"), is = rule_attr(l, "is");

    if (!c)
        return NULL;
    if (rule_only(l, "compare", known, e) < 0)
        return NULL;
    if ((below.n > 0) + (above.n > 0) + (is.n > 0) != 1) {
        (void)rule_fail(l, e, nothing, "compare wants fact and exactly one of below, above, is");
        return NULL;
    }
    c->op = below.n ? TEST_BELOW : above.n ? TEST_ABOVE : TEST_IS;
    c->left = load_cell(l, rule_attr(l, "fact"), e);
    c->right = c->left ? load_cell(l, below.n ? below : above.n ? above : is, e) : NULL;
    return !c->right || rule_no_children(l, "compare", e) < 0 ? NULL : c;
}

static struct cond *load_quantifier(struct rule_loading *l, struct err *e);

/* A child of when, bad, good, require or a quantifier. */
static struct cond *load_part(struct rule_loading *l, bool inside, struct err *e)
{
    struct slice name = slice_of(xml_name(l->x));

    struct cond *c = slice_eqz(name, "compare")            ? load_compare(l, e)
                     : rule_known_word(name, quantifiers) ? load_quantifier(l, e)
                                                          : load_element(l, inside, e);

    if (!c && !e->code)
        (void)rule_full(l, e);
    return c;
}

static struct cond *load_quantifier(struct rule_loading *l, struct err *e)
{
    static const enum cond_kind kinds[] = {COND_NONE, COND_SOME, COND_EVERY, COND_COUNT, COND_SAME};
    static const char *const of_count[] = {"below", "above", NULL}, *const of_same[] = {"of", NULL};
    const char *name = quantifiers[0];
    struct slice below = rule_attr(l, "below"), above = rule_attr(l, "above"), of = rule_attr(l, "of");
    struct cond *c = rule_new_cond(l, COND_NONE), *kid = NULL;
    const struct cond **kids = arena_array(l->a, 1, sizeof *kids);
    enum xml_event ev;
    int col;

    if (!c || !kids)
        return NULL;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(xml_name(l->x), quantifiers[i]) == 0) {
            name = quantifiers[i];
            c->kind = kinds[i];
        }
    if (rule_only(l, name, c->kind == COND_COUNT ? of_count : c->kind == COND_SAME ? of_same : NULL, e) < 0)
        return NULL;
    if (c->kind == COND_COUNT && ((below.n && num_parse_i64(below, &c->below) < 0) || (above.n && num_parse_i64(above, &c->above) < 0) ||
                                  below.n + above.n == 0)) {
        (void)rule_fail(l, e, nothing, "count wants below or above with a number");
        return NULL;
    }
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        if (ev == XML_BROKEN)
            return NULL;
        if (ev == XML_TEXT || kid) {
            (void)rule_fail(l, e, nothing, "<%s> holds exactly one element", name);
            return NULL;
        }
        /* "none of same" is the one nesting that says something: not all agree */
        kid = load_part(l, true, e);
        if (!kid)
            return NULL;
    }
    if (!kid) {
        (void)rule_fail(l, e, nothing, "<%s> holds exactly one element", name);
        return NULL;
    }
    kids[0] = kid;
    c->kids = kids;
    c->nkids = 1;
    if (c->kind == COND_SAME) {
        col = kid->kind == COND_ROW ? table_column(&l->schema->tables[kid->table], of) : -1;
        if (col < 0) {
            (void)rule_fail(rule_at(l, "of"), e, kid->kind == COND_ROW ? table_near_column(&l->schema->tables[kid->table], of) : nothing,
                       "same wants of=\"column\", not \"" SLICE_FMT "\"", SLICE_ARG(of));
            return NULL;
        }
        c->column = (uint16_t)col;
    } else if (kid->kind != COND_ROW && !(c->kind == COND_NONE && kid->kind == COND_SAME)) {
        (void)rule_fail(l, e, nothing, "<%s> holds a table, not <same> or another quantifier", name);
        return NULL;
    }
    return c;
}

/*
 * The children of an open element: elements of one table are alternatives, everything else must hold together. self: tests on the subject
 * from attributes of the element itself. NULL *out when there is nothing.
 */
static int load_group(struct rule_loading *l, const char *element, struct cond *self, const struct cond **out, struct err *e)
{
    const struct cond *parts[RULE_MAX_KIDS];
    uint32_t line = xml_line(l->x), at = (uint32_t)xml_offset(l->x);
    struct cond *all;
    enum xml_event ev;
    unsigned n = 0;

    *out = NULL;
    if (self && self->ntests)
        parts[n++] = self;
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        struct cond *c;
        unsigned i = 0;

        if (ev == XML_BROKEN)
            return e->code;
        if (ev == XML_TEXT)
            return rule_fail(l, e, nothing, "<%s> holds elements, not text", element);
        c = load_part(l, false, e);
        if (!c)
            return e->code;
        while (c->kind == COND_ROW && i < n &&
               !(parts[i]->kind == COND_ANY ? parts[i]->kids[0]->table == c->table
                                            : parts[i]->kind == COND_ROW && parts[i]->table == c->table && parts[i] != self))
            i++;
        if (c->kind == COND_ROW && i < n) { /* the same table again: an alternative */
            struct cond *any = rule_new_cond(l, COND_ANY);
            unsigned had = parts[i]->kind == COND_ANY ? parts[i]->nkids : 1;
            const struct cond **kids = arena_array(l->a, had + 1, sizeof *kids);

            if (had == RULE_MAX_KIDS)
                return rule_fail(l, e, nothing, "more than %u alternatives of one name in <%s>", RULE_MAX_KIDS, element);
            if (!any || !kids)
                return rule_full(l, e);
            if (parts[i]->kind == COND_ANY)
                memcpy(kids, parts[i]->kids, had * sizeof *kids);
            else
                kids[0] = parts[i];
            kids[had] = c;
            any->kids = kids;
            any->nkids = had + 1;
            parts[i] = any;
        } else if (n == RULE_MAX_KIDS) {
            return rule_fail(l, e, nothing, "more than %u conditions in <%s>", RULE_MAX_KIDS, element);
        } else {
            parts[n++] = c;
        }
    }
    if (n <= 1) {
        *out = n ? parts[0] : NULL;
        return 0;
    }
    all = rule_new_cond(l, COND_ALL);
    if (!all || !(all->kids = rule_keep(l->a, parts, n, sizeof *parts)))
        return rule_full(l, e);
    all->line = line;
    all->at = at;
    all->nkids = n;
    *out = all;
    return 0;
}

/* bad, good: attributes are tests on the subject row, children as in when. */
int rule_load_body(struct rule_loading *l, const char *element, const char *const *except, const struct cond **out, struct err *e)
{
    struct cond *self = rule_new_cond(l, COND_ROW);
    struct slice esxi = rule_attr(l, "esxi");
    struct cond *release = NULL;

    if (!self)
        return rule_full(l, e);
    self->table = (uint16_t)l->rule->subject;
    self->scope = SCOPE_SELF;
    if (rule_load_tests(l, &l->schema->tables[self->table], except, &self->tests, &self->ntests, e) < 0)
        return e->code;
    if (esxi.n) {
        struct test *x = arena_alloc(l->a, sizeof *x);
        int t = schema_table(l->schema, SLICE_LIT("esxi"));

        release = rule_new_cond(l, COND_ROW);
        (void)rule_at(l, "esxi");
        if (!x || !release)
            return rule_full(l, e);
        if (load_test(l, &l->schema->tables[t], SLICE_LIT("release"), esxi, x, e) < 0)
            return e->code;
        l->attribute = nothing;
        release->table = (uint16_t)t;
        release->scope = SCOPE_SINGLE;
        release->tests = x;
        release->ntests = 1;
    }
    if (load_group(l, element, self, out, e) < 0)
        return e->code;
    if (release) {
        struct cond *both = rule_new_cond(l, COND_ALL);
        const struct cond **kids = arena_array(l->a, 2, sizeof *kids);

        if (!both || !kids)
            return rule_full(l, e);
        kids[0] = release;
        kids[1] = *out;
        both->kids = kids;
        both->nkids = *out ? 2 : 1;
        *out = both;
    }
    if (!*out)
        return rule_fail(l, e, nothing, "<%s> says nothing", element);
    return 0;
}

struct cond *rule_load_part(struct rule_loading *l, struct err *e)
{
    return load_part(l, false, e);
}

int rule_load_group(struct rule_loading *l, const char *element, const struct cond **out, struct err *e)
{
    return load_group(l, element, NULL, out, e);
}
