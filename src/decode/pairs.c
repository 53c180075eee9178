#include "decode/plain.h"

#define MAX_DEPTH 16u

struct pairs {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    struct slice path[MAX_DEPTH]; /* whole key path of each open group, "" for a title */
    struct slice title;
    size_t depth, indent, outer;  /* indents of a member of the outermost group (0: unknown) and of a pair outside */
    struct field *last; /* of the line before, when that was a pair */
    bool table, braced, any, lost; /* lost: a group that cannot be placed, so nothing after it can */
};

static struct slice key_path(struct pairs *p, struct slice key)
{
    struct slice up = p->depth ? p->path[p->depth - 1] : SLICE_LIT("");

    return up.n ? slice_of(arena_printf(p->b.a, SLICE_FMT "/" SLICE_FMT, SLICE_ARG(up), SLICE_ARG(key))) : key;
}

static void open_group(struct pairs *p, struct slice text)
{
    struct slice name = slice_trim(slice_cut(text, 0, text.n - 1));

    p->braced = true;
    if (p->depth == MAX_DEPTH || (p->any && p->depth == 0 && plain_indent(p->l.line) != p->outer)) {
        plain_harm(&p->harm, "a group out of place: a line may be missing before it", p->l.number);
        p->lost = true;
        return;
    }
    while (name.n && (name.p[name.n - 1] == ':' || name.p[name.n - 1] == '=' || name.p[name.n - 1] == ' '))
        name.n--;
    /* The first line's group is the title of all (vsish). */
    if (p->depth == 0 && slice_eq(name, p->title))
        plain_harm(&p->harm, "the title again: the answer holds two listings", p->l.number);
    if (!p->any)
        p->title = name;
    p->path[p->depth] = p->depth || (p->any && !slice_eq(name, p->title)) ? key_path(p, name) : SLICE_LIT("");
    p->depth++;
}

static void close_group(struct pairs *p)
{
    p->braced = true;
    if (p->depth)
        p->depth--;
    else
        plain_harm(&p->harm, "a brace closes no group", p->l.number);
}

/* With braces the indent must agree, else a brace line was lost and the pair's group is not what it seems. */
static bool well_placed(struct pairs *p)
{
    size_t n = plain_indent(p->l.line);

    if (!p->any)
        p->outer = n;
    if (!p->braced)
        return true;
    if (p->depth == 0)
        return n == p->outer;
    if (!p->indent)
        p->indent = n / p->depth;
    return n == p->indent * p->depth;
}

/* False for a line that is no pair. */
static bool add_pair(struct pairs *p, struct slice text)
{
    size_t at = 0;
    struct slice key, value;
    struct field *f;

    while (at < text.n && text.p[at] != '=' && text.p[at] != ':')
        at++;
    key = slice_trim(slice_cut(text, 0, at));
    value = slice_trim(slice_from(text, at + 1));
    if (at == text.n || key.n == 0 || key.p[0] == '[' || plain_error(text)) { /* "[root@esx1:~]" is a prompt */
        plain_harm(&p->harm, "a line of another form", p->l.number);
        if (p->last && !p->last->damage && (key.n == 0 || key.p[0] != '['))
            p->last->damage = "the next line is no pair; the text may go on there";
        p->last = NULL;
        return false;
    }
    if (!well_placed(p)) {
        plain_harm(&p->harm, "an indent that does not fit its group: a brace line may be missing", p->l.number);
        return true;
    }
    key = key_path(p, key);
    if (p->table) {
        builder_begin(&p->b, SLICE_LIT(""), p->l.number);
        (void)plain_field(&p->b, "Name", key, &p->l);
        f = plain_field(&p->b, "Value", value, &p->l);
    } else {
        f = plain_once(&p->b, key, value, &p->l);
    }
    plain_suspect(f, &p->l);
    p->last = f;
    return true;
}

static int decode_value(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct builder b;
    struct field *f;
    bool one = false;

    builder_init(&b, a);
    while (plain_next(&l)) {
        if (plain_blank(l.line))
            continue;
        if (one) {
            builder_drop(&b);
            plain_harm(&h, "more than one line", l.number);
            break;
        }
        one = true;
        builder_begin(&b, SLICE_LIT(""), l.number);
        f = plain_field(&b, "value", slice_trim(l.line), &l);
        plain_suspect(f, &l);
    }
    return plain_end(&b, o, "pairs", &l, &h, out);
}

int decode_pairs(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct pairs p = {.l = plain_open(in), .table = o->shape == SHAPE_TABLE};

    if (plain_refused(in, "pairs", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    if (o->shape == SHAPE_VALUE)
        return decode_value(in, o, a, out);
    builder_init(&p.b, a);
    if (!p.table)
        builder_begin(&p.b, SLICE_LIT(""), 1);
    while (!p.b.failed && !p.lost && plain_next(&p.l)) {
        struct slice text = slice_trim(p.l.line);

        if (text.n == 0 || text.p[0] == '#')
            continue;
        if (slice_eqz(text, "}") || slice_eqz(text, "},"))
            close_group(&p);
        else if (text.p[text.n - 1] == '{')
            open_group(&p, text);
        else
            p.any |= add_pair(&p, text);
        p.any |= p.braced;
    }
    if (p.depth)
        plain_harm(&p.harm, "a group is not closed: the end may be missing", p.l.number);
    if (!p.table && p.b.open && p.b.nfields == 0)
        builder_drop(&p.b);
    return plain_end(&p.b, o, "pairs", &p.l, &p.harm, out);
}
