#include "decode/plain.h"

#define MAX_DEPTH 32u

struct level {
    struct slice path; /* "" for the object itself */
    char close;        /* '}' or ']' */
    bool listed;
};

struct vim {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    struct level level[MAX_DEPTH];
    size_t depth, indent; /* indent of the object's own members */
};

/*
 * Every line is one of "name = (type) {", "name = value," or a closing bracket, and is indented by its depth. Where
 * the indent does not fit, a line was lost, and whose member the next one is cannot be known: nothing from there on is
 * used.
 */
static bool broken(struct vim *v, const char *why)
{
    plain_harm(&v->harm, why, v->l.number);
    return false;
}

static struct slice member_path(struct vim *v, struct slice name)
{
    struct slice up = v->level[v->depth - 1].path;

    if (!up.n || !name.n)
        return up.n ? up : name;
    return slice_of(arena_printf(v->b.a, SLICE_FMT "/" SLICE_FMT, SLICE_ARG(up), SLICE_ARG(name)));
}

/* Take "(vim.host.Summary) " off the front. */
static bool take_type(struct slice *s)
{
    size_t end = slice_find_char(*s, 0, ')');

    if (!slice_starts(*s, "(") || end == SIZE_MAX)
        return false;
    *s = slice_trim(slice_from(*s, end + 1));
    return true;
}

/* "text" or 'text' with backslash escapes, and nothing behind it. */
static bool unquote(struct vim *v, struct slice s, struct slice *out)
{
    char quote = s.p[0], *to;
    size_t n = 0, i;

    for (i = 1; i < s.n && s.p[i] != quote; i++)
        if (s.p[i] == '\\')
            i++;
    if (i + 1 != s.n)
        return false;
    *out = slice_cut(s, 1, s.n - 2);
    if (slice_find_char(*out, 0, '\\') == SIZE_MAX)
        return true;
    to = arena_alloc(v->b.a, out->n);
    for (i = 0; to && i < out->n; i++) {
        char c = out->p[i];

        if (c == '\\') {
            c = out->p[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        to[n++] = c;
    }
    *out = (struct slice){to, n};
    return true;
}

static bool add_value(struct vim *v, struct slice name, struct slice s)
{
    const struct level *in = &v->level[v->depth - 1];
    struct slice text = s;
    struct field *f;

    if (s.p[0] == '"' || s.p[0] == '\'') {
        if (!unquote(v, s, &text))
            return broken(v, "a text without its end");
    } else if (slice_eqz(s, "<unset>") || slice_eqz(s, "null")) {
        text.n = 0;
    } else if (slice_find_char(s, 0, ' ') != SIZE_MAX) {
        return broken(v, "a value of another form");
    }
    if (in->listed) {
        f = builder_field(&v->b, member_path(v, name), text, v->l.number);
        if (f)
            f->listed = true;
    } else {
        f = plain_once(&v->b, member_path(v, name), text, &v->l);
    }
    plain_suspect(f, &v->l);
    return true;
}

static bool open_level(struct vim *v, struct slice name, char open)
{
    bool listed = open == '[' || (v->depth && v->level[v->depth - 1].listed);
    struct slice path = {NULL, 0};

    if (v->depth == MAX_DEPTH)
        return broken(v, "objects nested too deeply");
    if (v->depth)
        path = member_path(v, name);
    v->level[v->depth++] = (struct level){path, open == '[' ? ']' : '}', listed};
    return true;
}

static bool member(struct vim *v, struct slice text)
{
    struct slice name = {NULL, 0};
    size_t at = slice_find(text, 0, " = ");
    bool typed;

    if (at != SIZE_MAX && slice_find_char(slice_cut(text, 0, at), 0, ' ') == SIZE_MAX && text.p[0] != '"' &&
        text.p[0] != '\'') {
        name = slice_cut(text, 0, at);
        text = slice_trim(slice_from(text, at + 3));
    }
    if (name.n == 0 && v->level[v->depth - 1].close == '}')
        return broken(v, "a line of another form");
    typed = take_type(&text);
    if (typed && (slice_eqz(text, "{") || slice_eqz(text, "[")))
        return open_level(v, name, text.p[0]);
    if (slice_ends(text, ","))
        text = slice_trim(slice_cut(text, 0, text.n - 1));
    if (typed && (slice_eqz(text, "[]") || slice_eqz(text, "{}")))
        return true;
    if (text.n == 0)
        return broken(v, "a line of another form");
    return add_value(v, name, text);
}

static bool one_line(struct vim *v)
{
    struct slice text = slice_trim(v->l.line);
    size_t indent = plain_indent(v->l.line);
    bool closes = text.p[0] == '}' || text.p[0] == ']';

    if (v->depth == 0) {
        if (v->b.open)
            return broken(v, "text after the object's end");
        if (!take_type(&text) || !(slice_eqz(text, "{") || slice_eqz(text, "["))) {
            plain_harm(&v->harm, "a line before the object", v->l.number);
            return true;
        }
        builder_begin(&v->b, SLICE_LIT(""), v->l.number);
        return open_level(v, (struct slice){NULL, 0}, text.p[0]);
    }
    if (!v->indent && !closes)
        v->indent = indent;
    if (indent != v->indent * (v->depth - closes))
        return broken(v, "its indent does not fit its depth: a line may be missing before it");
    if (!closes)
        return member(v, text);
    if (text.p[0] != v->level[v->depth - 1].close || !(text.n == 1 || (text.n == 2 && text.p[1] == ',')))
        return broken(v, "a bracket that closes nothing");
    v->depth--;
    return true;
}

int decode_vimcmd(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct vim v = {.l = plain_open(in)};
    bool good = true;

    if (plain_refused(in, "vim-cmd", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&v.b, a);
    while (good && !v.b.failed && plain_next(&v.l))
        if (!plain_blank(v.l.line))
            good = one_line(&v);
    if (good && v.depth)
        plain_harm(&v.harm, "the object is not closed: its end is missing", v.l.number);
    if (v.b.open && v.b.nfields == 0)
        builder_drop(&v.b);
    return plain_end(&v.b, o, "vim-cmd", &v.l, &v.harm, out);
}
