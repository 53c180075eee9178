#include "core/rule_load.h"

#include <stdarg.h>
#include <stdio.h>

/* How loading reads: the next node, attributes, texts, and what it says of a mistake. */

static const struct slice nothing = {NULL, 0};

int rule_fail(struct rule_loading *l, struct err *e, struct slice near, const char *fmt, ...)
{
    char what[600];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    (void)(near.n ? err_set(e, VF_EFORMAT, "%s; did you mean \"" SLICE_FMT "\"?", what, SLICE_ARG(near)) : err_set(e, VF_EFORMAT, "%s", what));
    return rule_where(l, e);
}

int rule_where(struct rule_loading *l, struct err *e)
{
    struct xml_place p = xml_place(l->x, l->attribute);

    l->attribute = nothing;
    return err_ctx(e, "%s:%u:%u", l->name, p.line, p.column);
}

struct rule_loading *rule_at(struct rule_loading *l, const char *attribute)
{
    l->attribute = slice_of(attribute);
    return l;
}

int rule_full(struct rule_loading *l, struct err *e)
{
    return err_set(e, VF_ELIMIT, "%s: more rules than there is room for", l->name);
}

struct slice rule_attr(struct rule_loading *l, const char *name)
{
    struct slice v;

    return xml_attr(l->x, name, &v) ? arena_dup(l->a, v) : nothing;
}

/* Next child of an open element: XML_OPEN for one, XML_CLOSE at the element's end; text is handed out too. */
enum xml_event rule_next(struct rule_loading *l, struct err *e)
{
    enum xml_event ev = xml_next(l->x);

    if (ev == XML_BROKEN)
        (void)rule_torn(l, e);
    else if (ev == XML_END) /* not of a document that is well-formed */
        ev = XML_BROKEN, l->torn = true, (void)err_set(e, VF_EFORMAT, "%s: ends in the middle of a rule", l->name);
    return ev;
}

int rule_torn(struct rule_loading *l, struct err *e)
{
    struct xml_place p = xml_error_place(l->x);

    l->torn = true;
    return err_set(e, VF_EFORMAT, "%s:%u:%u: not well-formed: %s", l->name, p.line, p.column, xml_error(l->x, NULL));
}

int rule_no_children(struct rule_loading *l, const char *element, struct err *e)
{
    enum xml_event ev = rule_next(l, e);

    if (ev == XML_BROKEN)
        return e->code;
    if (ev == XML_OPEN)
        return rule_fail(l, e, nothing, "<%s> may not stand inside <%s>", xml_name(l->x), element);
    if (ev == XML_TEXT)
        return rule_fail(l, e, nothing, "<%s> holds no text", element);
    return 0;
}

struct slice rule_near_word(struct slice word, const char *const *words)
{
    struct slice best = nothing;
    unsigned least = 3;

    for (; *words; words++) {
        unsigned d = slice_distance(word, slice_of(*words));

        if (d < least) {
            least = d;
            best = slice_of(*words);
        }
    }
    return best;
}

bool rule_known_word(struct slice word, const char *const *words)
{
    for (; *words; words++)
        if (slice_eqz(word, *words))
            return true;
    return false;
}

int rule_only(struct rule_loading *l, const char *element, const char *const *known, struct err *e)
{
    static const char *const none[] = {NULL};
    struct slice name, value;

    known = known ? known : none;
    for (unsigned i = 0; xml_attr_at(l->x, i, &name, &value); i++)
        if (!rule_known_word(name, known))
            return rule_fail(rule_at(l, name.p), e, rule_near_word(name, known), "unknown attribute \"" SLICE_FMT "\" of %s", SLICE_ARG(name), element);
    return 0;
}

void *rule_keep(struct arena *a, const void *v, size_t n, size_t size)
{
    static char none; /* not NULL, but nothing to read or write */
    void *p = n ? arena_array(a, n, size) : &none;

    if (p && n)
        memcpy(p, v, n * size);
    return p;
}

/* --- texts --- */

/* Words parted by one blank each, behind what is there. */
static void fold(struct slice s, struct buf *out)
{
    size_t to = out->n, from;
    bool blank = false;

    if (to)
        buf_addc(out, ' ');
    buf_add(out, s);
    for (from = to; from < out->n; from++) {
        char c = out->p[from];

        if ((unsigned char)c <= ' ') {
            blank = to > 0;
            continue;
        }
        if (blank)
            out->p[to++] = ' ';
        blank = false;
        out->p[to++] = c;
    }
    out->n = to;
}

/* Text content of an element that may hold <see href="..."/>; white space folded. */
int rule_load_text(struct rule_loading *l, const char *element, struct slice *out, struct slice *hrefs, unsigned *nhrefs, struct err *e)
{
    static const char *const see[] = {"href", NULL};
    struct buf *b = l->text;
    enum xml_event ev;

    buf_reset(b);
    if (out->p)
        return rule_fail(l, e, nothing, "a second <%s>", element);
    if (rule_only(l, element, NULL, e) < 0)
        return e->code;
    while ((ev = rule_next(l, e)) != XML_CLOSE) {
        struct slice w;

        if (ev == XML_BROKEN)
            return e->code;
        if (ev == XML_TEXT) {
            fold(xml_text(l->x), b);
            continue;
        }
        if (!hrefs || strcmp(xml_name(l->x), "see") != 0)
            return rule_fail(l, e, nothing, "<%s> may not stand inside <%s>", xml_name(l->x), element);
        if (rule_only(l, "see", see, e) < 0)
            return e->code;
        w = rule_attr(l, "href");
        if (!slice_starts(w, "https://") && !slice_starts(w, "http://"))
            return rule_fail(rule_at(l, "href"), e, nothing, "see wants href=\"https://...\", not \"" SLICE_FMT "\"", SLICE_ARG(w));
        if (*nhrefs == RULE_MAX_KIDS)
            return rule_fail(l, e, nothing, "too many addresses");
        hrefs[(*nhrefs)++] = w;
        if (rule_no_children(l, "see", e) < 0)
            return e->code;
    }
    *out = arena_dup(l->a, buf_slice(b));
    return 0;
}

