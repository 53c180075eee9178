#include "decode/plain.h"

enum section { SECTION_TOP, SECTION_SPACES, SECTION_PARAMETERS };

struct load {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    bool params;         /* one record a parameter */
    struct slice module; /* of the text now read; empty while unknown */
    size_t base;         /* indent of "input file:", which the rest is measured by: copies lose a blank a line */
    bool based, spaces_closed, had_parameters;
    enum section section;
    struct slice spaces[64];
    size_t nspaces;
    uint32_t spaces_line;
};

static struct slice module_name(struct slice file)
{
    for (size_t i = file.n; i > 0; i--)
        if (file.p[i - 1] == '/') {
            file = slice_from(file, i);
            break;
        }
    if (slice_ends(file, ".o"))
        file.n -= 2;
    return file;
}

/* The list is whole only when something follows it that the command prints after it. */
static void put_spaces(struct load *v)
{
    const char *z = "";
    struct field *f;

    if (v->params || !v->b.open || v->nspaces == 0)
        return;
    for (size_t i = 0; i < v->nspaces; i++)
        z = arena_printf(v->b.a, "%s%s" SLICE_FMT, z, i ? ", " : "", SLICE_ARG(v->spaces[i]));
    f = builder_field(&v->b, SLICE_LIT("Namespaces"), slice_of(z), v->spaces_line);
    if (f && !v->spaces_closed)
        f->damage = "the list may be cut: nothing follows it";
}

static void end_module(struct load *v)
{
    put_spaces(v);
    if (!v->params && v->b.open) {
        if (v->b.nfields == 0) {
            builder_drop(&v->b);
        } else {
            if (!v->module.n)
                plain_harm(&v->harm, "no line says which module this is", v->b.now.line);
            else if (!plain_find(&v->b, SLICE_LIT("Version")))
                plain_harm(&v->harm, "no version", v->b.now.line);
        }
    }
    if (v->params && v->module.n && !v->had_parameters)
        plain_harm(&v->harm, "no line \"Parameters:\"", v->l.number);
    builder_finish(&v->b);
    v->module.n = v->nspaces = 0;
    v->based = v->spaces_closed = v->had_parameters = false;
    v->spaces_line = 0;
    v->section = SECTION_TOP;
}

static void begin_module(struct load *v)
{
    end_module(v);
    if (!v->params)
        builder_begin(&v->b, SLICE_LIT(""), v->l.number);
}

static void put_top(struct load *v, const char *key, struct slice value)
{
    struct field *f;

    if (v->params)
        return;
    if (!v->b.open || (!v->module.n && plain_find(&v->b, slice_of(key)))) /* lines that a grep left: one module each */
        begin_module(v);
    f = plain_once(&v->b, slice_of(key), value, &v->l);
    plain_suspect(f, &v->l);
}

static void input_file(struct load *v, struct slice file, size_t indent)
{
    struct slice name = module_name(file);

    if (slice_eq(name, v->module))
        return;
    if (v->module.n || v->params || !v->b.open)
        begin_module(v);
    v->module = name;
    v->base = indent;
    v->based = true;
    if (!v->l.ended)
        plain_harm(&v->harm, plain_cut, v->l.number);
    if (v->params)
        return;
    plain_suspect(plain_field(&v->b, "Module", name, &v->l), &v->l);
    plain_suspect(plain_field(&v->b, "File", file, &v->l), &v->l);
}

static bool is_space(struct slice s)
{
    return s.n && slice_find_char(s, 0, ' ') == SIZE_MAX &&
           (slice_find_char(s, 0, '#') != SIZE_MAX || slice_find_char(s, 0, '@') != SIZE_MAX);
}

static bool is_param(struct slice s, struct slice *name, struct slice *type)
{
    size_t at = slice_find(s, 0, ": ");

    if (at == SIZE_MAX)
        return false;
    *name = slice_cut(s, 0, at);
    *type = slice_trim(slice_from(s, at + 2));
    return name->n && slice_find_char(*name, 0, ' ') == SIZE_MAX && type->n;
}

static void parameter(struct load *v, struct slice text)
{
    struct slice name, type;

    if (!is_param(text, &name, &type)) {
        builder_finish(&v->b);
        plain_harm(&v->harm, "a parameter of another form", v->l.number);
        return;
    }
    builder_begin(&v->b, SLICE_LIT(""), v->l.number);
    (void)plain_field(&v->b, "Module", v->module, &v->l);
    (void)plain_field(&v->b, "Name", name, &v->l);
    plain_suspect(plain_field(&v->b, "Type", type, &v->l), &v->l);
}

static void description(struct load *v, struct slice text)
{
    struct field *old = v->b.open ? plain_find(&v->b, SLICE_LIT("Description")) : NULL, *f;

    if (!v->b.open) {
        plain_harm(&v->harm, "a description that belongs to no parameter", v->l.number);
        return;
    }
    if (old && slice_eq(old->text, text))
        return;
    f = plain_field(&v->b, "Description", text, &v->l);
    plain_suspect(f, &v->l);
    if (old) { /* a parameter line is missing between the two, or one text was printed on two lines */
        plain_find(&v->b, SLICE_LIT("Description"))->damage = "two lines of description";
        if (f)
            f->damage = "two lines of description";
        plain_harm(&v->harm, "two lines of description", v->l.number);
    }
}

/* Returns false for a line that is no known key of the top level. */
static bool top_line(struct load *v, struct slice text, size_t indent)
{
    size_t at = slice_find_char(text, 0, ':');
    struct slice key = slice_cut(text, 0, at == SIZE_MAX ? 0 : at), value = {NULL, 0};

    if (slice_ends(text, "module information")) {
        if (v->module.n || (v->b.open && v->b.nfields))
            begin_module(v);
        return true;
    }
    if (key.n == 0)
        return false;
    value = slice_trim(slice_from(text, at + 1));
    if (slice_eqz(key, "input file")) {
        input_file(v, value, indent);
        return true;
    }
    if (v->based && indent != v->base)
        return false;
    if (slice_eqz(key, "Version") || slice_eqz(key, "License")) {
        put_top(v, slice_eqz(key, "Version") ? "Version" : "License", value);
        v->section = SECTION_TOP;
    } else if (slice_eqz(key, "Required name-spaces")) {
        v->section = SECTION_SPACES;
        v->spaces_line = v->l.number;
        return true;
    } else if (slice_eqz(key, "Parameters")) {
        v->section = SECTION_PARAMETERS;
        v->had_parameters = v->l.ended;
    } else if (slice_eqz(key, "Name-space")) {
        v->section = SECTION_TOP;
    } else {
        return false;
    }
    v->spaces_closed |= v->spaces_line > 0 && v->l.ended;
    return true;
}

/* A name space stands once: a doubled line adds nothing. */
static void name_space(struct load *v, struct slice text)
{
    for (size_t i = 0; i < v->nspaces; i++)
        if (slice_eq(v->spaces[i], text))
            return;
    v->spaces[v->nspaces++] = text;
}

static void deeper_line(struct load *v, struct slice text, size_t indent)
{
    bool known = v->based && indent > v->base;

    if (v->section == SECTION_SPACES && known && is_space(text) && v->nspaces < sizeof v->spaces / sizeof *v->spaces) {
        name_space(v, text);
    } else if (v->section == SECTION_PARAMETERS && known && v->module.n) {
        if (!v->params)
            return;
        if (indent == v->base + 1)
            parameter(v, text);
        else
            description(v, text);
    } else {
        if (v->section == SECTION_SPACES)
            v->section = SECTION_TOP; /* the line that ends the list is missing: stop believing what follows */
        plain_harm(&v->harm, "a line of another form", v->l.number);
    }
}

static int decode(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out, bool params)
{
    struct load v = {.l = plain_open(in), .params = params};
    size_t indent;

    if (plain_refused(in, "module information", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&v.b, a);
    while (!v.b.failed && plain_next(&v.l)) {
        struct slice text = slice_trim(v.l.line);

        indent = plain_indent(v.l.line);
        if (text.n && !top_line(&v, text, indent))
            deeper_line(&v, text, indent);
    }
    if (params && v.module.n && v.had_parameters && v.b.n == 0 && !v.b.open && !v.harm.why)
        return builder_end(&v.b, o, "module information", DECODE_COMPLETE, NULL, 0, out);
    if (!v.l.ended)
        plain_harm(&v.harm, plain_cut, v.l.number);
    end_module(&v);
    return plain_end(&v.b, o, "module information", &v.l, &v.harm, out);
}

int decode_vmkload(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    return decode(in, o, a, out, false);
}

int decode_vmkload_params(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    return decode(in, o, a, out, true);
}
