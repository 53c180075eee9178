#include "base/buf.h"
#include "base/xml.h"
#include "decode/esxcli.h"

struct reader {
    struct esxcli_sink s;
    struct xml *x;
    struct buf text;
    uint32_t line0; /* line of the document's first line, less one */
    bool ended;     /* no more events: the end, or not well-formed */
    bool spoilt;    /* something stood where it must not: the open record is not to be believed */
};

enum element { EL_OTHER, EL_STRING, EL_INTEGER, EL_BOOLEAN, EL_STRUCTURE, EL_LIST, EL_FIELD };

/* int, bool and struct: a plug-in's own writer, esxcli-formats.md 2.1 */
static enum element element_of(const char *name)
{
    static const struct {
        const char *name;
        enum element e;
    } names[] = {
        {"string", EL_STRING},   {"integer", EL_INTEGER},     {"int", EL_INTEGER},      {"boolean", EL_BOOLEAN},
        {"bool", EL_BOOLEAN},    {"structure", EL_STRUCTURE}, {"struct", EL_STRUCTURE}, {"list", EL_LIST},
        {"field", EL_FIELD},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].e;
    return EL_OTHER;
}

static bool is_scalar(enum element e)
{
    return e == EL_STRING || e == EL_INTEGER || e == EL_BOOLEAN;
}

static uint32_t here(const struct reader *r)
{
    return xml_line(r->x) + r->line0;
}

static enum xml_event next(struct reader *r)
{
    enum xml_event ev = r->s.stop ? XML_END : xml_next(r->x);

    if (ev <= XML_END)
        r->ended = true;
    return ev;
}

/* Past the close of the element just opened. */
static void skip(struct reader *r)
{
    for (unsigned depth = 1; depth && !r->ended;) {
        enum xml_event ev = next(r);

        if (ev == XML_OPEN)
            depth++;
        else if (ev == XML_CLOSE)
            depth--;
    }
}

static void misplaced(struct reader *r, const char *why)
{
    esxcli_note(&r->s, here(r), why);
    r->spoilt = true;
}

/* The text of the scalar just opened, into the arena. Returns why it is not to be believed, or NULL. */
static const char *read_scalar(struct reader *r, enum element kind, struct slice *text)
{
    const char *why = NULL;
    struct slice t;
    int64_t number;
    enum xml_event ev;

    buf_reset(&r->text);
    while ((ev = next(r)) > XML_END && ev != XML_CLOSE) {
        if (ev == XML_TEXT) {
            buf_add(&r->text, xml_text(r->x));
        } else {
            why = "an element inside a value";
            skip(r);
        }
    }
    t = slice_trim(buf_slice(&r->text));
    if (r->text.cut)
        why = "over the limit of one value";
    else if (kind == EL_BOOLEAN && !why && !slice_eqz(t, "true") && !slice_eqz(t, "false"))
        why = "a boolean that is neither true nor false";
    else if (kind == EL_INTEGER && !why && num_parse_i64(t, &number) < 0 && num_parse_u64(t, &(uint64_t){0}) < 0)
        why = "an integer that is not a number";
    *text = arena_dup(r->s.b.a, t);
    return why;
}

static struct field *add(struct reader *r, struct slice key, struct slice text, uint32_t line, bool listed,
                         const char *why)
{
    struct field *f = esxcli_add(&r->s, key, text, line);

    if (f) {
        f->listed = listed;
        esxcli_damage(&r->s, f, why);
    }
    return f;
}

static void read_structure(struct reader *r, struct slice path, bool listed, unsigned depth);

/* Members of a list inside a field. */
static const char *read_list(struct reader *r, struct slice path, unsigned depth)
{
    const char *why = NULL;
    uint32_t line = here(r);
    size_t members = 0;
    struct slice text;
    enum xml_event ev;

    while ((ev = next(r)) > XML_END && ev != XML_CLOSE) {
        enum element e = ev == XML_OPEN ? element_of(xml_name(r->x)) : EL_OTHER;

        members++;
        if (is_scalar(e)) {
            uint32_t at = here(r);
            const char *bad = read_scalar(r, e, &text);

            if (!r->ended)
                (void)add(r, path, text, at, true, bad);
        } else if (e == EL_STRUCTURE) {
            read_structure(r, path, true, depth + 1);
        } else {
            why = "a list holds something that is no member";
            if (ev == XML_OPEN)
                skip(r);
        }
    }
    if (members == 0 && !r->ended)
        (void)add(r, path, (struct slice){NULL, 0}, line, true, NULL);
    return why;
}

/* What stands between <field> and </field>. Returns why it is not to be believed, or NULL. */
static const char *read_content(struct reader *r, struct slice path, bool listed, unsigned depth)
{
    const char *why = NULL, *bad;
    struct slice text;
    size_t values = 0;
    enum xml_event ev;

    while ((ev = next(r)) > XML_END && ev != XML_CLOSE) {
        enum element e = ev == XML_OPEN ? element_of(xml_name(r->x)) : EL_OTHER;
        uint32_t line = here(r);

        bad = NULL;
        values++;
        if (is_scalar(e)) {
            bad = read_scalar(r, e, &text);
            if (!r->ended)
                (void)add(r, path, text, line, listed, bad);
        } else if (e == EL_LIST) {
            bad = read_list(r, path, depth);
        } else if (e == EL_STRUCTURE) {
            read_structure(r, path, listed, depth + 1);
        } else {
            bad = "a field holds something that is no value";
            if (ev == XML_OPEN)
                skip(r);
        }
        why = why ? why : bad;
    }
    if (!why && values != 1)
        why = values ? "a field with more than one value" : "a field without a value";
    return why;
}

static void read_field(struct reader *r, struct slice path, bool listed, unsigned depth, size_t first)
{
    size_t mark = r->s.b.nfields;
    uint32_t line = here(r);
    struct slice name, key;
    const char *why;

    if (!xml_attr(r->x, "name", &name) || slice_trim(name).n == 0 || name.n > ESXCLI_MAX_KEY) {
        esxcli_note(&r->s, line, "a field without a name");
        skip(r);
        return;
    }
    key = esxcli_path(r->s.b.a, path, slice_trim(name));
    if (esxcli_not_plain(key)) {
        esxcli_note(&r->s, line, "a field without a readable name");
        skip(r);
        return;
    }
    if (!listed && esxcli_find(&r->s, first, key) < mark)
        misplaced(r, "a field occurs twice in one structure");
    why = read_content(r, key, listed, depth);
    if (!why || r->ended)
        return;
    if (r->s.b.nfields == mark)
        (void)esxcli_add(&r->s, key, (struct slice){NULL, 0}, line);
    for (size_t i = mark; i < r->s.b.nfields; i++)
        esxcli_damage(&r->s, &r->s.b.fields[i], why);
}

/* Fields of the structure just opened, into the open record. */
static void read_structure(struct reader *r, struct slice path, bool listed, unsigned depth)
{
    size_t first = r->s.b.nfields;
    enum xml_event ev;

    if (depth > ESXCLI_MAX_DEPTH) {
        misplaced(r, "structures nested too deep");
        skip(r);
        return;
    }
    while ((ev = next(r)) > XML_END && ev != XML_CLOSE) {
        if (ev == XML_OPEN && element_of(xml_name(r->x)) == EL_FIELD) {
            read_field(r, path, listed, depth, first);
        } else {
            misplaced(r, "a structure holds something that is no field");
            if (ev == XML_OPEN)
                skip(r);
        }
    }
}

/* One member of the root: a structure or a value. An unfinished one is forgotten. */
static void read_record(struct reader *r, enum element e)
{
    uint32_t line = here(r);
    struct slice text;

    r->spoilt = false;
    if (!esxcli_begin(&r->s, (struct slice){NULL, 0}, line))
        return;
    if (e == EL_STRUCTURE) {
        read_structure(r, (struct slice){NULL, 0}, false, 0);
    } else {
        const char *why = read_scalar(r, e, &text);

        (void)add(r, SLICE_LIT("value"), text, line, false, why);
    }
    if (r->ended || r->spoilt)
        builder_drop(&r->s.b);
    else
        builder_finish(&r->s.b);
}

static void read_root(struct reader *r, bool in_list)
{
    size_t members = 0;
    enum xml_event ev;

    while ((ev = next(r)) > XML_END && ev != XML_CLOSE) {
        enum element e = ev == XML_OPEN ? element_of(xml_name(r->x)) : EL_OTHER;

        if (!in_list && members++)
            esxcli_note(&r->s, here(r), "more than one result in the document");
        if (e == EL_STRUCTURE || is_scalar(e)) {
            read_record(r, e);
        } else if (e == EL_LIST && !in_list) {
            read_root(r, true);
        } else {
            esxcli_note(&r->s, here(r), "an element that is no result");
            if (ev == XML_OPEN)
                skip(r);
        }
    }
}

static void not_well_formed(struct reader *r)
{
    _cleanup_(buf_done) struct buf clean = BUF_INIT(512);
    uint32_t line;
    const char *error = xml_error(r->x, &line);

    buf_add_safe(&clean, slice_of(error));
    esxcli_note(&r->s, line + r->line0, arena_printf(r->s.b.a, "XML not well-formed: %.200s", buf_z(&clean)));
}

static int read_document(struct reader *r, struct decoded *out)
{
    enum xml_event ev;
    bool closed = false;
    size_t roots = 0;

    ev = next(r);
    if (ev == XML_BROKEN) {
        not_well_formed(r);
        return esxcli_end(&r->s, "xml", out);
    }
    if (ev != XML_OPEN || strcmp(xml_name(r->x), "output") != 0)
        return decode_nothing(DECODE_UNUSABLE, "xml", "XML, but not of esxcli: its root is not <output>", here(r), out);
    while ((ev = next(r)) > XML_END && ev != XML_CLOSE) {
        if (ev == XML_OPEN && strcmp(xml_name(r->x), "root") == 0 && roots++ == 0) {
            read_root(r, false);
            continue;
        }
        esxcli_note(&r->s, here(r), "an element that is no result");
        if (ev == XML_OPEN)
            skip(r);
    }
    closed = ev == XML_CLOSE;
    while (!r->ended)
        (void)next(r);
    if (xml_error(r->x, NULL)[0])
        not_well_formed(r);
    else if (!closed)
        esxcli_note(&r->s, here(r), "the document does not end");
    if (!roots)
        esxcli_note(&r->s, 0, "a document without a result");
    return esxcli_end(&r->s, "xml", out);
}

int decode_esxcli_xml(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    _cleanup_(buf_done) struct buf clean = BUF_INIT(2048);
    struct reader r = {.text = BUF_INIT(DECODE_MAX_LINE)};
    struct err e = {0};
    uint32_t line;
    struct slice body = esxcli_body(in, &line);
    int rc;

    while (body.n && (body.p[0] == ' ' || body.p[0] == '\n' || body.p[0] == '\r' || body.p[0] == '\t')) {
        line += body.p[0] == '\n';
        body = slice_from(body, 1);
    }
    r.line0 = line - 1;
    esxcli_sink_init(&r.s, o, a);
    r.x = xml_open(body, "answer", &e);
    if (!r.x) {
        buf_add_safe(&clean, slice_of(e.msg));
        (void)decode_nothing(DECODE_UNUSABLE, "xml", arena_printf(a, "%s", buf_z(&clean)), 0, out);
        return arena_full(a) ? VF_ELIMIT : 0;
    }
    rc = read_document(&r, out);
    xml_close(&r.x);
    buf_done(&r.text);
    return rc;
}
