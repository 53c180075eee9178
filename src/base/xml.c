#include "base/xml.h"

#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"

#define MAX_TAG_BYTES  (64u << 10) /* libxml2 2.9 is quadratic in the attributes of one element */
#define MAX_ATTRS      256u
#define MAX_DEPTH      256u          /* as the library's own for its trees */
#define MAX_TEXT_BYTES (10u << 20)   /* as the library's own for its trees */
#define CHUNK_BYTES    (8u << 10)

/* Text in the bytes of a reader, which move when they grow. */
struct span {
    size_t at, n;
};

struct attr {
    const char *name; /* the library's, for as long as the parser lives */
    bool prefixed;
    struct span value;
};

struct event {
    enum xml_event kind;
    uint32_t line, from_line; /* from_line: of the offset */
    size_t offset; /* in the document: behind the attributes of the opening tag; of a text, behind the markup before it */
    const char *name;
    struct span text;
    size_t attrs, nattrs;
};

/*
 * The library's parser takes the document piece by piece and calls back; what one piece gave waits here until it is asked for. That costs
 * half of what its reader does, which makes a tree of everything.
 */
struct xml {
    xmlParserCtxtPtr parser;
    struct slice in, rest; /* all; what is not parsed yet */
    bool finished, broken, whole;
    struct event *events;
    size_t nevents, events_cap, next; /* the current event is the one before next */
    struct attr *attrs;
    size_t nattrs, attrs_cap;
    struct buf bytes;
    size_t text_from; /* in bytes: text that goes on to their end and is no event yet */
    uint32_t text_line;
    uint32_t markup_line; /* end of the last markup, where a text begins */
    size_t markup_end;
    unsigned depth, level; /* elements open behind the last event; behind the one that was handed out last */
    struct { uint32_t line; size_t offset; } opened[MAX_DEPTH];
    char error[512];
    bool told; /* error is in words of ours */
    uint32_t error_line;
    size_t error_offset;
};

/* --- called back --- */

static size_t offset_now(const struct xml *x)
{
    const struct _xmlParserInput *at = x->parser->input;

    return at ? at->consumed + (size_t)(at->cur - at->base) : x->in.n;
}

static uint32_t line_now(const struct xml *x)
{
    return x->parser->input && x->parser->input->line > 0 ? (uint32_t)x->parser->input->line : 0;
}

/* What the library says of the mistakes that are made most; its own words name its functions. */
static const char *plainly(int code)
{
    switch (code) {
    case XML_ERR_NAME_REQUIRED: return "a name is missing behind \"<\" or \"&\"; as text they are written &lt; and &amp;";
    case XML_ERR_ENTITYREF_SEMICOL_MISSING: return "\"&\" begins an entity; as text it is written &amp;";
    case XML_ERR_LT_IN_ATTRIBUTE: return "\"<\" inside a value; it is written &lt;, unless a quote is missing before it";
    case XML_ERR_ATTRIBUTE_NOT_STARTED: return "the value of an attribute stands in quotes";
    case XML_ERR_ATTRIBUTE_WITHOUT_VALUE: return "an attribute without a value; it is written name=\"value\"";
    case XML_ERR_INVALID_CHAR: return "a byte that is not UTF-8, or a control character";
    case XML_ERR_SPACE_REQUIRED: return "a blank is missing between two attributes";
    }
    return NULL;
}

static void on_error(void *ctx, xmlErrorPtr error)
{
    struct xml *x = ctx;
    size_t n;

    if (x->error[0] || !error || error->level < XML_ERR_ERROR)
        return;
    (void)snprintf(x->error, sizeof x->error, "%s", plainly(error->code)  ? plainly(error->code)
                                                    : error->message ? error->message
                                                                     : "not well-formed");
    for (char *nl = x->error; (nl = strchr(nl, '\n')) != NULL && nl[1];)
        *nl = ' ';
    n = strlen(x->error);
    while (n && (x->error[n - 1] == '\n' || x->error[n - 1] == ' '))
        x->error[--n] = '\0';
    x->told = plainly(error->code) != NULL;
    x->error_line = error->line > 0 ? (uint32_t)error->line : 0;
    x->error_offset = offset_now(x);
}

/* What was parsed until here is still handed out; then the document is broken. */
static void refuse_rest(struct xml *x, const char *why)
{
    if (!x->error[0]) {
        (void)snprintf(x->error, sizeof x->error, "%s", why);
        x->error_line = line_now(x);
        x->error_offset = offset_now(x);
    }
    xmlStopParser(x->parser);
}

static struct event *add_event(struct xml *x, enum xml_event kind, uint32_t line, size_t offset)
{
    if (x->nevents == x->events_cap) {
        x->events_cap = x->events_cap ? x->events_cap * 2 : 256;
        x->events = xrealloc(x->events, x->events_cap * sizeof *x->events);
    }
    x->events[x->nevents] = (struct event){.kind = kind, .line = line, .from_line = line, .offset = offset};
    return &x->events[x->nevents++];
}

/* Text ends where markup begins. */
static void end_text(struct xml *x)
{
    size_t n = x->bytes.n - x->text_from;

    if (n && slice_blank(slice_from(buf_slice(&x->bytes), x->text_from)))
        x->bytes.n = x->text_from;
    else if (n)
        *add_event(x, XML_TEXT, 0, 0) = (struct event){.kind = XML_TEXT, .line = x->text_line, .from_line = x->markup_line, .offset = x->markup_end,
                                                       .text = {x->text_from, n}};
    x->text_from = x->bytes.n;
    x->markup_line = line_now(x);
    x->markup_end = offset_now(x);
}

static struct span keep(struct xml *x, const xmlChar *p, size_t n)
{
    struct span s = {x->bytes.n, n};

    buf_add(&x->bytes, (struct slice){(const char *)p, n});
    return s;
}

static void add_attr(struct xml *x, const xmlChar *name, bool prefixed, const xmlChar *value, size_t n)
{
    if (x->nattrs == x->attrs_cap) {
        x->attrs_cap = x->attrs_cap ? x->attrs_cap * 2 : 256;
        x->attrs = xrealloc(x->attrs, x->attrs_cap * sizeof *x->attrs);
    }
    x->attrs[x->nattrs++] = (struct attr){(const char *)name, prefixed, keep(x, value, n)};
}

static void on_open(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int nspaces, const xmlChar **spaces,
                    int nattrs, int ndefaulted, const xmlChar **attrs)
{
    struct xml *x = ctx;
    struct event *ev;

    (void)prefix;
    (void)uri;
    (void)ndefaulted;
    end_text(x);
    if (x->depth == MAX_DEPTH) {
        refuse_rest(x, "elements inside each other more than 256 deep");
        return;
    }
    if (nspaces < 0 || nattrs < 0 || (unsigned)nspaces + (unsigned)nattrs > MAX_ATTRS) {
        refuse_rest(x, "too many attributes on one element");
        return;
    }
    ev = add_event(x, XML_OPEN, x->markup_line, x->markup_end);
    ev->name = (const char *)name;
    ev->attrs = x->nattrs;
    ev->nattrs = (unsigned)nspaces + (unsigned)nattrs;
    x->opened[x->depth].line = ev->line;
    x->opened[x->depth++].offset = ev->offset;
    for (int i = 0; i < nspaces; i++) /* declarations count as attributes, before the others */
        add_attr(x, (const xmlChar *)"xmlns", true, spaces[2 * i + 1], spaces[2 * i + 1] ? strlen((const char *)spaces[2 * i + 1]) : 0);
    for (int i = 0; i < nattrs; i++, attrs += 5) /* name, prefix, URI, begin and end of the value */
        add_attr(x, attrs[0], attrs[1] != NULL, attrs[3], (size_t)(attrs[4] - attrs[3]));
    x->text_from = x->bytes.n;
}

static void on_close(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct xml *x = ctx;

    (void)prefix;
    (void)uri;
    end_text(x);
    if (x->depth == 0) /* of an element that was refused */
        return;
    x->depth--;
    add_event(x, XML_CLOSE, x->opened[x->depth].line, x->opened[x->depth].offset)->name = (const char *)name;
}

static void on_text(void *ctx, const xmlChar *text, int n)
{
    struct xml *x = ctx;

    if (x->bytes.n == x->text_from)
        x->text_line = line_now(x);
    if (n > 0)
        (void)keep(x, text, (size_t)n);
    if (x->bytes.cut || x->bytes.n - x->text_from > MAX_TEXT_BYTES)
        refuse_rest(x, "a text of more than 10 MiB");
}

/* A node that only who wants the whole document is told of. */
static void add_aside(struct xml *x, enum xml_event kind, const xmlChar *name, const xmlChar *text)
{
    struct event *ev;

    end_text(x);
    if (!x->whole)
        return;
    ev = add_event(x, kind, x->markup_line, x->markup_end);
    ev->name = (const char *)name;
    ev->text = keep(x, text, text ? strlen((const char *)text) : 0);
    x->text_from = x->bytes.n;
}

static void on_comment(void *ctx, const xmlChar *text)
{
    add_aside(ctx, XML_COMMENT, NULL, text);
}

static void on_instruction(void *ctx, const xmlChar *target, const xmlChar *data)
{
    struct xml *x = ctx;

    add_aside(x, XML_INSTRUCTION, x->whole ? xmlDictLookup(x->parser->dict, target, -1) : NULL, data); /* the target is gone after the call */
}

static void on_type(void *ctx, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    (void)name;
    (void)external;
    (void)system;
    refuse_rest(ctx, "document type and entities are refused");
}

static void on_entity(void *ctx, const xmlChar *name)
{
    (void)name;
    refuse_rest(ctx, "document type and entities are refused");
}

static const xmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC,
    .startElementNs = on_open,
    .endElementNs = on_close,
    .characters = on_text,
    .ignorableWhitespace = on_text,
    .comment = on_comment,
    .processingInstruction = on_instruction,
    .internalSubset = on_type,
    .reference = on_entity,
    .serror = on_error,
};

/* --- before parsing --- */

/* End of the markup that begins at lt: of a comment, a CDATA section, an instruction, else the '>' outside quotes. SIZE_MAX: there is none. */
static size_t markup_end(struct slice in, size_t lt, bool *tag)
{
    static const char *const forms[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    struct slice rest = slice_from(in, lt);
    char quote = '\0';

    *tag = false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (slice_starts(rest, forms[i][0]))
            return slice_find(in, lt + strlen(forms[i][0]), forms[i][1]);
    *tag = true;
    for (size_t i = lt; i < in.n; i++) {
        if (quote ? in.p[i] == quote : in.p[i] == '"' || in.p[i] == '\'')
            quote = quote ? '\0' : in.p[i];
        else if (!quote && in.p[i] == '>')
            return i;
        if (i - lt > MAX_TAG_BYTES)
            return i;
    }
    return SIZE_MAX;
}

/* The encoding that an XML declaration names; empty without one. libxml2 converts before it can be asked, and prints what fails. */
static struct slice declared_encoding(struct slice in)
{
    struct slice decl = slice_starts(in, "<?xml") ? slice_cut(in, 0, slice_find(in, 0, "?>")) : (struct slice){NULL, 0};
    size_t at = slice_find(decl, 0, "encoding");
    struct slice rest = at == SIZE_MAX ? (struct slice){NULL, 0} : slice_from(decl, at + 8), name;

    return slice_next_word(&rest, " \t\r\n=\"'", &name) ? name : (struct slice){NULL, 0};
}

/*
 * Whether a document type declaration begins somewhere, even in a comment. *far when some '<' is far from the next, so that a tag may be too
 * long; few documents need the exact look.
 */
static bool declares_type(struct slice in, bool *far, size_t *at)
{
    size_t lt = 0, next;

    for (*far = false;; lt = next) {
        *at = lt;
        if (slice_starts(slice_from(in, lt), "<!DOCTYPE"))
            return true;
        next = slice_find_char(in, lt + 1, '<');
        *far |= (next == SIZE_MAX ? in.n : next) - lt > MAX_TAG_BYTES;
        if (next == SIZE_MAX)
            return false;
    }
}

/* *where: offset of what is refused, SIZE_MAX when it is all of it. */
static int refuse(struct slice in, size_t *where, struct err *e)
{
    struct slice encoding;
    size_t at = 0, lt = 0;
    bool far;

    *where = SIZE_MAX;
    if (slice_starts(in, "\xff\xfe") || slice_starts(in, "\xfe\xff"))
        return err_set(e, VF_EFORMAT, "XML in UTF-16 is refused; save it as UTF-8");
    if (slice_starts(in, "\xef\xbb\xbf"))
        at = 3;
    while (at < in.n && strchr(" \t\r\n", in.p[at]) && in.p[at])
        at++;
    if (at >= in.n || in.p[at] != '<')
        return err_set(e, VF_EFORMAT, "not XML: it does not begin with '<'");
    encoding = declared_encoding(slice_from(in, at));
    *where = slice_find_char(in, 0, '\0');
    if (*where != SIZE_MAX)
        return err_set(e, VF_EFORMAT, "a NUL byte: XML in an encoding other than UTF-8 is refused");
    if (encoding.n && !slice_ieq(encoding, SLICE_LIT("utf-8")) && !slice_ieq(encoding, SLICE_LIT("us-ascii")))
        return err_set(e, VF_EFORMAT, "XML in an encoding other than UTF-8 is refused");
    if (declares_type(slice_from(in, at), &far, &lt)) {
        *where = at + lt;
        return err_set(e, VF_EFORMAT, "XML with a document type declaration is refused");
    }
    if (!far)
        return 0;
    lt = 0;
    while ((lt = slice_find_char(in, lt, '<')) != SIZE_MAX) {
        bool tag;
        size_t gt = markup_end(in, lt, &tag);

        *where = lt;
        if (tag && (gt == SIZE_MAX ? in.n : gt) - lt > MAX_TAG_BYTES)
            return err_set(e, VF_ELIMIT, "XML tag longer than %u bytes is refused", MAX_TAG_BYTES);
        if (gt == SIZE_MAX)
            break;
        lt = gt;
    }
    return 0;
}

/* --- reading --- */

struct xml *xml_open_whole(struct slice in, const char *name, struct err *e)
{
    struct xml *x = xml_open(in, name, e);

    if (x)
        x->whole = true;
    return x;
}

struct xml *xml_open(struct slice in, const char *name, struct err *e)
{
    xmlSAXHandler sax = handlers;
    struct xml_place place;
    struct xml *x;
    size_t where;

    if (in.n > INT32_MAX / 2) {
        (void)err_set(e, VF_ELIMIT, "%s: too large for XML", name);
        return NULL;
    }
    if (refuse(in, &where, e) < 0) {
        place = xml_place_at(in, where);
        (void)(where == SIZE_MAX ? err_ctx(e, "%s", name) : err_ctx(e, "%s:%u:%u", name, place.line, place.column));
        return NULL;
    }
    x = xmalloc(sizeof *x);
    x->in = x->rest = in;
    x->markup_line = 1;
    x->bytes = (struct buf)BUF_INIT(2 * MAX_TEXT_BYTES);
    x->parser = xmlCreatePushParserCtxt(&sax, x, NULL, 0, NULL);
    if (!x->parser) {
        (void)err_set(e, VF_EFORMAT, "%s: not readable as XML", name);
        free(x);
        return NULL;
    }
    /* NOENT: "&amp;" comes as it is meant. There are no other entities where no document type is let through. */
    (void)xmlCtxtUseOptions(x->parser, XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_BIG_LINES);
    return x;
}

void xml_close(struct xml **x)
{
    if (!*x)
        return;
    xmlFreeParserCtxt((*x)->parser);
    buf_done(&(*x)->bytes);
    free((*x)->events);
    free((*x)->attrs);
    free(*x);
    *x = NULL;
}

static bool encoding_fits(const struct xml *x)
{
    const xmlChar *enc = x->parser->encoding;

    return !enc || xmlStrcasecmp(enc, (const xmlChar *)"utf-8") == 0 || xmlStrcasecmp(enc, (const xmlChar *)"us-ascii") == 0;
}

/* All was well so far: what is wrong now is that there is no more. */
static void end_document(struct xml *x)
{
    (void)xmlParseChunk(x->parser, NULL, 0, 1);
    if (!x->parser->wellFormed && !x->told) { /* text is held back for its end: a mistake in it may show only now */
        (void)snprintf(x->error, sizeof x->error, "the document ends early; it is cut");
        x->error_offset = x->in.n;
    }
}

/* Events of the next piece that has any; none left when the document is read or an error was met. */
static void refill(struct xml *x)
{
    struct slice text = slice_from(buf_slice(&x->bytes), x->text_from);

    if (text.n)
        memmove(x->bytes.p, text.p, text.n);
    x->bytes.n = text.n;
    x->text_from = x->nevents = x->nattrs = x->next = 0;
    while (x->nevents == 0 && !x->finished) {
        struct slice piece = slice_cut(x->rest, 0, CHUNK_BYTES);

        x->rest = slice_from(x->rest, piece.n);
        x->finished = x->rest.n == 0;
        if (xmlParseChunk(x->parser, piece.p, (int)piece.n, 0) != 0 && !x->parser->wellFormed)
            x->finished = true;
        else if (x->finished && !x->error[0])
            end_document(x);
        if (!encoding_fits(x))
            refuse_rest(x, "encoding is not UTF-8");
        if (x->error[0] && x->parser->disableSAX)
            x->finished = true;
    }
}

enum xml_event xml_next(struct xml *x)
{
    if (!x->broken && x->next == x->nevents)
        refill(x);
    if (!x->broken && x->next < x->nevents) {
        enum xml_event kind = x->events[x->next++].kind;

        x->level += kind == XML_OPEN;
        x->level -= kind == XML_CLOSE;
        return kind;
    }
    if (!x->broken && x->parser->wellFormed && !x->error[0])
        return XML_END;
    if (!x->error[0])
        (void)snprintf(x->error, sizeof x->error, "not well-formed");
    x->broken = true;
    return XML_BROKEN;
}

static const struct event *current(const struct xml *x)
{
    static const struct event none = {.kind = XML_END, .name = ""};

    return x->next ? &x->events[x->next - 1] : &none;
}

static struct slice slice_at(const struct xml *x, struct span s)
{
    return s.n ? slice_cut(buf_slice(&x->bytes), s.at, s.n) : SLICE_LIT("");
}

const char *xml_name(const struct xml *x)
{
    const char *name = current(x)->name;

    return name ? name : "";
}

struct slice xml_text(const struct xml *x)
{
    return slice_at(x, current(x)->text);
}

uint32_t xml_line(const struct xml *x)
{
    return current(x)->line;
}

size_t xml_offset(const struct xml *x)
{
    return current(x)->offset;
}

unsigned xml_depth(const struct xml *x)
{
    return x->level;
}

struct xml_place xml_place(const struct xml *x, struct slice attribute)
{
    const struct event *ev = current(x);

    return ev->kind == XML_TEXT ? xml_place_behind(x->in, ev->from_line, ev->offset) : xml_place_in(x->in, ev->line, ev->offset, attribute);
}

struct xml_place xml_error_place(const struct xml *x)
{
    return xml_place_at(x->in, x->error_offset);
}

const char *xml_error(const struct xml *x, uint32_t *line)
{
    if (line)
        *line = x->error_line;
    return x->error;
}

bool xml_attr(struct xml *x, const char *name, struct slice *value)
{
    const struct event *ev = current(x);

    *value = (struct slice){NULL, 0};
    for (size_t i = 0; i < ev->nattrs; i++) {
        const struct attr *a = &x->attrs[ev->attrs + i];

        if (!a->prefixed && strcmp(a->name, name) == 0) {
            *value = slice_at(x, a->value);
            return true;
        }
    }
    return false;
}

bool xml_attr_at(struct xml *x, unsigned i, struct slice *name, struct slice *value)
{
    const struct event *ev = current(x);
    const struct attr *a;

    if (i >= ev->nattrs)
        return false;
    a = &x->attrs[ev->attrs + i];
    *name = slice_of(a->name);
    *value = slice_at(x, a->value);
    return true;
}

void xml_escape(struct buf *b, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        switch (s.p[i]) {
        case '&': buf_addz(b, "&amp;"); break;
        case '<': buf_addz(b, "&lt;"); break;
        case '>': buf_addz(b, "&gt;"); break;
        case '"': buf_addz(b, "&quot;"); break;
        default:
            buf_addc(b, (unsigned char)s.p[i] < 0x20 && !strchr("\t\n\r", s.p[i]) ? '?' : s.p[i]);
        }
    }
}

static void collect_error(void *ctx, xmlErrorPtr error)
{
    struct err *e = ctx;
    size_t n = strlen(e->msg);

    if (error && error->message && n + 4 < sizeof e->msg && n < 600)
        (void)snprintf(e->msg + n, sizeof e->msg - n, "%sline %d: %s", n ? "; " : "", error->line, error->message);
    n = strlen(e->msg);
    while (n && e->msg[n - 1] == '\n')
        e->msg[--n] = '\0';
}

int xml_relaxng(struct slice doc, const char *doc_name, struct slice schema, const char *schema_name, struct err *e)
{
    struct err found = {0};
    xmlRelaxNGParserCtxtPtr parser = xmlRelaxNGNewMemParserCtxt(schema.p, (int)schema.n);
    xmlRelaxNGPtr rng = NULL;
    xmlRelaxNGValidCtxtPtr valid = NULL;
    xmlDocPtr tree = NULL;
    int rc = 0;

    xmlRelaxNGSetParserStructuredErrors(parser, collect_error, &found);
    rng = xmlRelaxNGParse(parser);
    if (!rng) {
        rc = err_set(e, VF_EFORMAT, "%s: %s", schema_name, found.msg);
        goto out;
    }
    xmlSetStructuredErrorFunc(&found, collect_error);
    tree = xmlReadMemory(doc.p, (int)doc.n, doc_name, NULL, XML_PARSE_NONET | XML_PARSE_BIG_LINES);
    xmlSetStructuredErrorFunc(NULL, NULL);
    valid = xmlRelaxNGNewValidCtxt(rng);
    xmlRelaxNGSetValidStructuredErrors(valid, collect_error, &found);
    if (!tree || xmlRelaxNGValidateDoc(valid, tree) != 0)
        rc = err_set(e, VF_EFORMAT, "%s: %s", doc_name, found.msg);
out:
    xmlRelaxNGFreeValidCtxt(valid);
    xmlFreeDoc(tree);
    xmlRelaxNGFree(rng);
    xmlRelaxNGFreeParserCtxt(parser);
    return rc;
}

void xml_setup(void)
{
    LIBXML_TEST_VERSION
    xmlInitParser();
}

const char *xml_library(void)
{
    return "libxml2 " LIBXML_DOTTED_VERSION;
}
