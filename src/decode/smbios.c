#include "decode/plain.h"

static const char mixed[] = "fields of two structures stand under one title";

/*
 * Nothing but its place ties a field to its structure. A lost or moved title is seen by a key that comes twice; a single
 * field moved past a title into a structure without its key is not.
 */
struct dump {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    size_t title, fields; /* indents of the open structure's title and of its own fields, 0 while unknown */
    bool mixed;
    struct slice before;
};

/* "System Slot (Type 9): #226": the title ends before ": #". */
static bool is_title(struct slice text, struct slice *title)
{
    size_t n = text.n;
    uint64_t v;

    while (n > 0 && text.p[n - 1] >= '0' && text.p[n - 1] <= '9')
        n--;
    if (n < 4 || num_parse_u64(slice_from(text, n), &v) < 0 || memcmp(text.p + n - 3, ": #", 3) != 0)
        return false;
    *title = slice_trim(slice_cut(text, 0, n - 3));
    return title->n > 0;
}

static void add_pair(struct dump *d, struct slice text)
{
    size_t colon = slice_find_char(text, 0, ':');
    struct slice key = slice_cut(text, 0, colon == SIZE_MAX ? 0 : colon);
    struct slice value = slice_trim(slice_from(text, key.n + 1));
    struct field *old, *f;

    if (key.n == 0) /* a member of a list */
        return;
    if (value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = slice_trim(slice_cut(value, 1, value.n - 2));
    old = plain_find(&d->b, key);
    if (old && slice_eq(text, d->before))
        return;
    if (old && !d->mixed) { /* from which line on they belong to the other structure cannot be told */
        d->mixed = true;
        plain_harm(&d->harm, "a key twice in one structure: a title may be missing", d->l.number);
        for (size_t i = 0; i < d->b.nfields; i++)
            d->b.fields[i].damage = mixed;
    }
    f = builder_field(&d->b, key, value, d->l.number);
    if (f && d->mixed)
        f->damage = mixed;
    plain_suspect(f, &d->l);
}

static void one_line(struct dump *d)
{
    struct slice text = slice_trim(d->l.line), title;
    size_t indent = plain_indent(d->l.line);

    if (is_title(text, &title) && (!d->b.open || indent <= d->title || !d->fields)) {
        if (!d->l.ended) {
            builder_finish(&d->b);
            plain_harm(&d->harm, plain_cut, d->l.number);
            return;
        }
        builder_begin(&d->b, title, d->l.number);
        d->title = indent;
        d->fields = 0;
        d->mixed = false;
    } else if (!d->b.open || indent <= d->title) {
        if (d->b.open || d->b.n || indent > 2) /* the first lines of the dump stand before any structure */
            plain_harm(&d->harm, "a line of another form", d->l.number);
        builder_finish(&d->b);
    } else {
        if (!d->fields)
            d->fields = indent;
        if (indent == d->fields)
            add_pair(d, text);
    }
}

int decode_smbios(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct dump d = {.l = plain_open(in)};

    if (plain_refused(in, "smbiosDump", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&d.b, a);
    while (!d.b.failed && plain_next(&d.l)) {
        if (plain_blank(d.l.line))
            continue;
        one_line(&d);
        d.before = slice_trim(d.l.line);
    }
    return plain_end(&d.b, o, "smbiosDump", &d.l, &d.harm, out);
}
