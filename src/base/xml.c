#include "base/xml.h"

#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlreader.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"

#define MAX_TAG_BYTES (64u << 10) /* libxml2 2.9 is quadratic in the attributes of one element */
#define MAX_ATTRS     256

struct xml {
    xmlTextReaderPtr r;
    const char *name;
    bool pending_close, broken, encoding_seen;
    xmlAttrPtr attr; /* xml_attr_at's place: attribute number attr_at of the open element */
    unsigned attr_at;
    xmlChar *attr_value; /* of a value that is not one text in the library's tree */
    char error[512];
    uint32_t error_line;
};

static void on_error(void *ctx, xmlErrorPtr error)
{
    struct xml *x = ctx;
    size_t n;

    if (x->error[0] || !error || error->level < XML_ERR_ERROR)
        return;
    (void)snprintf(x->error, sizeof x->error, "%s", error->message ? error->message : "not well-formed");
    n = strlen(x->error);
    while (n && (x->error[n - 1] == '\n' || x->error[n - 1] == ' '))
        x->error[--n] = '\0';
    x->error_line = error->line > 0 ? (uint32_t)error->line : 0;
}

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

/* No '<' is far from the next: no tag can be too long, whatever is quoted or commented. Few documents need the exact look. */
static bool all_short(struct slice in)
{
    size_t lt = 0, next;

    while ((next = slice_find_char(in, lt + 1, '<')) != SIZE_MAX && next - lt <= MAX_TAG_BYTES)
        lt = next;
    return next == SIZE_MAX && in.n - lt <= MAX_TAG_BYTES;
}

static int refuse(struct slice in, struct err *e)
{
    struct slice encoding;
    size_t at = 0, lt = 0;

    if (slice_starts(in, "\xef\xbb\xbf"))
        at = 3;
    while (at < in.n && strchr(" \t\r\n", in.p[at]) && in.p[at])
        at++;
    if (at >= in.n || in.p[at] != '<')
        return err_set(e, VF_EFORMAT, "not XML: it does not begin with '<'");
    encoding = declared_encoding(slice_from(in, at));
    if (slice_find_char(in, 0, '\0') != SIZE_MAX ||
        (encoding.n && !slice_ieq(encoding, SLICE_LIT("utf-8")) && !slice_ieq(encoding, SLICE_LIT("us-ascii"))))
        return err_set(e, VF_EFORMAT, "XML in an encoding other than UTF-8 is refused");
    if (slice_find(in, 0, "<!DOCTYPE") != SIZE_MAX)
        return err_set(e, VF_EFORMAT, "XML with a document type declaration is refused");
    if (all_short(in))
        return 0;
    while ((lt = slice_find_char(in, lt, '<')) != SIZE_MAX) {
        bool tag;
        size_t gt = markup_end(in, lt, &tag);

        if (tag && (gt == SIZE_MAX ? in.n : gt) - lt > MAX_TAG_BYTES)
            return err_set(e, VF_ELIMIT, "XML tag longer than %u bytes is refused", MAX_TAG_BYTES);
        if (gt == SIZE_MAX)
            break;
        lt = gt;
    }
    return 0;
}

struct xml *xml_open(struct slice in, const char *name, struct err *e)
{
    struct xml *x;

    if (in.n > INT32_MAX / 2) {
        (void)err_set(e, VF_ELIMIT, "%s: too large for XML", name);
        return NULL;
    }
    if (refuse(in, e) < 0) {
        (void)err_ctx(e, "%s", name);
        return NULL;
    }
    x = xmalloc(sizeof *x);
    x->name = name;
    x->r = xmlReaderForMemory(in.p, (int)in.n, NULL, NULL,
                              XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_NOBLANKS | XML_PARSE_COMPACT | XML_PARSE_BIG_LINES);
    if (!x->r) {
        (void)err_set(e, VF_EFORMAT, "%s: not readable as XML", name);
        free(x);
        return NULL;
    }
    xmlTextReaderSetStructuredErrorHandler(x->r, on_error, x);
    return x;
}

void xml_close(struct xml **x)
{
    if (!*x)
        return;
    xmlFree((*x)->attr_value);
    xmlFreeTextReader((*x)->r);
    free(*x);
    *x = NULL;
}

static enum xml_event broken(struct xml *x, const char *why)
{
    x->broken = true;
    if (!x->error[0])
        (void)snprintf(x->error, sizeof x->error, "%s", why);
    if (!x->error_line)
        x->error_line = xml_line(x);
    return XML_BROKEN;
}

static bool encoding_fits(const struct xml *x)
{
    const xmlChar *enc = xmlTextReaderConstEncoding(x->r);

    return !enc || xmlStrcasecmp(enc, (const xmlChar *)"utf-8") == 0 || xmlStrcasecmp(enc, (const xmlChar *)"us-ascii") == 0;
}

enum xml_event xml_next(struct xml *x)
{
    if (x->broken)
        return XML_BROKEN;
    if (x->pending_close) {
        x->pending_close = false;
        return XML_CLOSE;
    }
    x->attr = NULL;
    for (;;) {
        int rc = xmlTextReaderRead(x->r);

        if (rc == 0)
            return x->error[0] ? broken(x, "") : XML_END;
        if (rc < 0)
            return broken(x, "not well-formed");
        switch (xmlTextReaderNodeType(x->r)) {
        case XML_READER_TYPE_ELEMENT:
            if (!x->encoding_seen && !encoding_fits(x))
                return broken(x, "encoding is not UTF-8");
            x->encoding_seen = true;
            if (xmlTextReaderAttributeCount(x->r) > MAX_ATTRS)
                return broken(x, "too many attributes on one element");
            x->pending_close = xmlTextReaderIsEmptyElement(x->r) == 1;
            return XML_OPEN;
        case XML_READER_TYPE_END_ELEMENT:
            return XML_CLOSE;
        case XML_READER_TYPE_TEXT:
        case XML_READER_TYPE_CDATA:
            return XML_TEXT;
        case XML_READER_TYPE_DOCUMENT_TYPE:
        case XML_READER_TYPE_ENTITY_REFERENCE:
            return broken(x, "document type and entities are refused");
        default: /* comments, processing instructions, white space: foreign node kinds of the library */
            break;
        }
    }
}

const char *xml_name(const struct xml *x)
{
    const xmlChar *n = xmlTextReaderConstLocalName(x->r);

    return n ? (const char *)n : "";
}

struct slice xml_text(const struct xml *x)
{
    return slice_of((const char *)xmlTextReaderConstValue(x->r));
}

unsigned xml_depth(const struct xml *x)
{
    int d = xmlTextReaderDepth(x->r);

    return d < 0 ? 0 : (unsigned)d;
}

uint32_t xml_line(const struct xml *x)
{
    xmlNodePtr node = xmlTextReaderCurrentNode(x->r);
    long line = node ? xmlGetLineNo(node) : 0;

    return line > 0 ? (uint32_t)line : 0;
}

const char *xml_error(const struct xml *x, uint32_t *line)
{
    if (line)
        *line = x->error_line;
    return x->error;
}

/* The reader's own functions copy each value and search from the first attribute each time; its tree node has them as a list. */
static xmlNodePtr open_element(const struct xml *x)
{
    xmlNodePtr node = xmlTextReaderCurrentNode(x->r);

    return node && node->type == XML_ELEMENT_NODE ? node : NULL;
}

static struct slice attr_value(struct xml *x, xmlAttrPtr a)
{
    if (!a->children)
        return SLICE_LIT("");
    if (!a->children->next && a->children->type == XML_TEXT_NODE)
        return slice_of((const char *)a->children->content);
    xmlFree(x->attr_value);
    x->attr_value = xmlNodeListGetString(a->doc, a->children, 1);
    return slice_of(x->attr_value ? (const char *)x->attr_value : "");
}

bool xml_attr(struct xml *x, const char *name, struct slice *value)
{
    xmlNodePtr node = open_element(x);

    *value = (struct slice){NULL, 0};
    for (xmlAttrPtr a = node ? node->properties : NULL; a; a = a->next)
        if (!a->ns && strcmp((const char *)a->name, name) == 0) {
            *value = attr_value(x, a);
            return true;
        }
    return false;
}

bool xml_attr_at(struct xml *x, unsigned i, struct slice *name, struct slice *value)
{
    xmlNodePtr node = open_element(x);
    unsigned at = 0;

    if (!node)
        return false;
    for (xmlNsPtr ns = node->nsDef; ns; ns = ns->next) /* declarations count as attributes, before the others */
        if (at++ == i) {
            *name = SLICE_LIT("xmlns");
            *value = slice_of(ns->href ? (const char *)ns->href : "");
            return true;
        }
    if (!x->attr || x->attr_at > i) {
        x->attr = node->properties;
        x->attr_at = at;
    }
    for (; x->attr && x->attr_at < i; x->attr_at++)
        x->attr = x->attr->next;
    if (!x->attr)
        return false;
    *name = slice_of((const char *)x->attr->name);
    *value = attr_value(x, x->attr);
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
