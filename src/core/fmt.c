#include "core/fmt.h"

#include "base/arena.h"
#include "base/xml.h"

#define WIDTH     140u
#define MAX_WORK  (512u << 20)
#define MAX_NODES 4000000u
#define MAX_DEPTH 60u /* rules nest some ten deep */

enum node_kind { NODE_ELEMENT, NODE_TEXT, NODE_COMMENT, NODE_INSTRUCTION };

struct attribute {
    struct slice name, value;
};

struct node {
    enum node_kind kind;
    struct slice name, text;
    struct attribute *attrs;
    size_t nattrs;
    struct node *first, *last, *next;
};

/* --- reading --- */

static struct node *add(struct arena *a, struct node *parent, enum node_kind kind)
{
    struct node *n = arena_alloc(a, sizeof *n);

    if (!n)
        return NULL;
    n->kind = kind;
    if (parent->last)
        parent->last->next = n;
    else
        parent->first = n;
    parent->last = n;
    return n;
}

static bool read_attributes(struct xml *x, struct arena *a, struct node *n)
{
    struct slice name, value;
    size_t count = 0;

    while (xml_attr_at(x, (unsigned)count, &name, &value))
        count++;
    n->attrs = arena_array(a, count + 1, sizeof *n->attrs);
    for (size_t i = 0; n->attrs && i < count && xml_attr_at(x, (unsigned)i, &name, &value); i++)
        n->attrs[n->nattrs++] = (struct attribute){arena_dup(a, name), arena_dup(a, value)};
    return n->attrs != NULL;
}

static int read(struct xml *x, const char *file, struct arena *a, struct node *root, struct err *e)
{
    struct node *open[MAX_DEPTH] = {root};
    size_t depth = 0, nodes = 0;
    enum xml_event ev;

    while ((ev = xml_next(x)) > XML_END) {
        struct node *n = NULL;

        if (ev == XML_CLOSE) {
            depth--;
            continue;
        }
        switch (ev) {
        case XML_OPEN:
            n = add(a, open[depth], NODE_ELEMENT);
            if (depth + 1 == MAX_DEPTH)
                return err_set(e, VF_EFORMAT, "%s:%u: elements inside each other more than %u deep", file, xml_line(x), MAX_DEPTH);
            if (n && read_attributes(x, a, n)) {
                n->name = arena_dup(a, slice_of(xml_name(x)));
                open[++depth] = n;
            }
            break;
        case XML_TEXT:
        case XML_COMMENT:
        case XML_INSTRUCTION:
            n = add(a, open[depth], ev == XML_TEXT ? NODE_TEXT : ev == XML_COMMENT ? NODE_COMMENT : NODE_INSTRUCTION);
            if (n) {
                n->text = arena_dup(a, xml_text(x));
                n->name = arena_dup(a, slice_of(ev == XML_INSTRUCTION ? xml_name(x) : ""));
            }
            break;
        case XML_CLOSE:
        case XML_END:
        case XML_BROKEN:
            break;
        }
        if (arena_full(a) || ++nodes > MAX_NODES)
            return err_set(e, VF_ELIMIT, "%s: larger than what can be written again", file);
    }
    return ev == XML_BROKEN ? err_set(e, VF_EFORMAT, "%s: %s", file, xml_error(x, NULL)) : 0;
}

/* --- writing --- */

static void put_escaped(struct buf *out, struct slice s, char quote)
{
    for (size_t i = 0; i < s.n; i++)
        switch (s.p[i]) {
        case '&':
            buf_addz(out, "&amp;");
            break;
        case '<':
            buf_addz(out, "&lt;");
            break;
        case '>':
            buf_addz(out, quote ? ">" : "&gt;");
            break;
        case '\n':
        case '\t':
        case '\r':
            if (quote)
                buf_printf(out, "&#%d;", s.p[i]);
            else
                buf_addc(out, s.p[i]);
            break;
        default:
            if (quote && s.p[i] == quote)
                buf_addz(out, quote == '"' ? "&quot;" : "&apos;");
            else
                buf_addc(out, s.p[i]);
        }
}

/* name="value"; in single quotes where that saves escapes. */
static void put_attribute(struct buf *out, const struct attribute *x)
{
    char quote = slice_find_char(x->value, 0, '"') != SIZE_MAX && slice_find_char(x->value, 0, '\'') == SIZE_MAX ? '\'' : '"';

    buf_add(out, x->name);
    buf_addc(out, '=');
    buf_addc(out, quote);
    put_escaped(out, x->value, quote);
    buf_addc(out, quote);
}

/* In which order a rule's attributes stand; those of other elements stay as they are. */
static unsigned rank(struct slice name)
{
    static const char *const order[] = {"id", "subject", "topic", "severity", "status", "reviewed", "supersedes", "restrains", "covers"};
    unsigned i = 0;

    while (i < sizeof order / sizeof *order && !slice_eqz(name, order[i]))
        i++;
    return i;
}

static void sort_attributes(struct node *n)
{
    for (size_t i = 1; i < n->nattrs; i++)
        for (size_t k = i; k && rank(n->attrs[k].name) < rank(n->attrs[k - 1].name); k--) {
            struct attribute swap = n->attrs[k];

            n->attrs[k] = n->attrs[k - 1];
            n->attrs[k - 1] = swap;
        }
}

static void indent(struct buf *out, unsigned by)
{
    for (unsigned i = 0; i < by; i++)
        buf_addc(out, ' ');
}

static size_t column(const struct buf *out)
{
    size_t n = out->n;

    while (n && out->p[n - 1] != '\n')
        n--;
    return out->n - n;
}

/* Words, from the column that is reached on; a line goes on at by. Returns whether there were any. */
static bool put_words(struct buf *out, struct slice text, unsigned by, bool first)
{
    _cleanup_(buf_done) struct buf word = BUF_INIT(1u << 20);
    struct slice w;
    bool any = false;

    while (slice_next_word(&text, " \t\r\n", &w)) {
        buf_reset(&word);
        put_escaped(&word, w, '\0');
        if (!first && column(out) + 1 + word.n > WIDTH && column(out) > by) {
            buf_addc(out, '\n');
            indent(out, by);
        } else if (!first) {
            buf_addc(out, ' ');
        }
        buf_add(out, buf_slice(&word));
        first = false;
        any = true;
    }
    return any;
}

/* <name attributes, without the end of the tag; what does not fit goes on below the first attribute. */
static void put_start(struct buf *out, const struct node *n)
{
    size_t at;

    buf_addc(out, '<');
    buf_add(out, n->name);
    at = column(out) + 1;
    for (size_t i = 0; i < n->nattrs; i++) {
        _cleanup_(buf_done) struct buf one = BUF_INIT(1u << 20);

        put_attribute(&one, &n->attrs[i]);
        if (i && column(out) + 1 + one.n + 2 > WIDTH) {
            buf_addc(out, '\n');
            indent(out, (unsigned)at);
        } else {
            buf_addc(out, ' ');
        }
        buf_add(out, buf_slice(&one));
    }
}

static bool holds(const struct node *n, enum node_kind kind)
{
    for (const struct node *k = n->first; k; k = k->next)
        if (k->kind == kind)
            return true;
    return false;
}

/* Elements whose children have lines of their own, however short. */
static bool opens_up(const struct node *n)
{
    static const char *const names[] = {"rules", "rule", "when", "fix", "evidence", "why"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slice_eqz(n->name, names[i]))
            return true;
    return holds(n, NODE_COMMENT) || holds(n, NODE_INSTRUCTION);
}

/* The whole element on one line; false when something in it wants lines of its own. */
static bool put_inline(struct buf *out, const struct node *n)
{
    if (n->kind != NODE_ELEMENT || opens_up(n) || holds(n, NODE_TEXT))
        return false;
    buf_addc(out, '<');
    buf_add(out, n->name);
    for (size_t i = 0; i < n->nattrs; i++) {
        buf_addc(out, ' ');
        put_attribute(out, &n->attrs[i]);
    }
    if (!n->first) {
        buf_addz(out, "/>");
        return true;
    }
    buf_addc(out, '>');
    for (const struct node *k = n->first; k; k = k->next)
        if (!put_inline(out, k))
            return false;
    buf_addz(out, "</");
    buf_add(out, n->name);
    buf_addc(out, '>');
    return true;
}

static void put_comment(struct buf *out, struct slice text, unsigned by)
{
    struct slice line;
    bool first = true;

    text = slice_trim(text);
    while (text.n && (text.p[0] == '\n' || text.p[text.n - 1] == '\n'))
        text = slice_trim(text.p[0] == '\n' ? slice_from(text, 1) : slice_cut(text, 0, text.n - 1));
    buf_addz(out, "<!-- ");
    while (slice_next_line(&text, &line, NULL)) {
        if (!first) {
            buf_addc(out, '\n');
            if (!slice_blank(line))
                indent(out, by + 5);
        }
        buf_add(out, slice_trim(line));
        first = false;
    }
    buf_addz(out, " -->");
}

static void put_node(struct buf *out, struct node *n, unsigned by);

/* An element with text: a title or advice goes on behind its tag, why has lines of its own. */
static void put_prose(struct buf *out, struct node *n, unsigned by)
{
    bool own = slice_eqz(n->name, "why"), first = true;

    put_start(out, n);
    buf_addc(out, '>');
    for (struct node *k = n->first; k; k = k->next) {
        if (k->kind == NODE_TEXT && own && first) {
            buf_addc(out, '\n');
            indent(out, by + 2);
        }
        if (k->kind == NODE_TEXT) {
            first &= !put_words(out, k->text, by + 2, first);
            continue;
        }
        buf_addc(out, '\n');
        indent(out, by + 2);
        put_node(out, k, by + 2);
        first = own; /* the next text begins a line */
    }
    if (own || holds(n, NODE_ELEMENT) || holds(n, NODE_COMMENT)) {
        buf_addc(out, '\n');
        indent(out, by);
    }
    buf_addz(out, "</");
    buf_add(out, n->name);
    buf_addc(out, '>');
}

static bool is_rule(const struct node *n)
{
    return n && n->kind == NODE_ELEMENT && slice_eqz(n->name, "rule");
}

static void put_children(struct buf *out, struct node *n, unsigned by)
{
    const struct node *before = NULL;

    put_start(out, n);
    buf_addz(out, ">\n");
    for (struct node *k = n->first; k; before = k, k = k->next) {
        if (is_rule(before))
            buf_addc(out, '\n');
        indent(out, by);
        put_node(out, k, by);
        buf_addc(out, '\n');
    }
    indent(out, by < 2 ? 0 : by - 2);
    buf_addz(out, "</");
    buf_add(out, n->name);
    buf_addc(out, '>');
}

static void put_node(struct buf *out, struct node *n, unsigned by)
{
    size_t mark = out->n;

    switch (n->kind) {
    case NODE_COMMENT:
        put_comment(out, n->text, by);
        return;
    case NODE_INSTRUCTION:
        buf_printf(out, "<?" SLICE_FMT "%s", SLICE_ARG(n->name), n->text.n ? " " : "");
        buf_add(out, n->text);
        buf_addz(out, "?>");
        return;
    case NODE_TEXT:
        (void)put_words(out, n->text, by, true);
        return;
    case NODE_ELEMENT:
        break;
    }
    if (is_rule(n))
        sort_attributes(n);
    if (holds(n, NODE_TEXT)) {
        put_prose(out, n, by);
        return;
    }
    if (put_inline(out, n) && column(out) <= WIDTH)
        return;
    out->n = mark;
    if (n->first) {
        put_children(out, n, by + 2);
        return;
    }
    put_start(out, n);
    buf_addz(out, "/>");
}

int fmt_rules(struct slice in, const char *name, struct buf *out, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(MAX_WORK);
    _cleanup_(xml_close) struct xml *x = xml_open_whole(in, name, e);
    struct node root = {.kind = NODE_ELEMENT};

    if (!x || read(x, name, a, &root, e) < 0)
        return e->code;
    buf_addz(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for (struct node *n = root.first; n; n = n->next) {
        put_node(out, n, 0);
        buf_addc(out, '\n');
    }
    return out->cut ? err_set(e, VF_ELIMIT, "%s: more than %zu bytes when written again", name, out->max) : 0;
}
