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
    bool pending_close, broken;
    char attr_name[128], *attr_value;
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

static int refuse(struct slice in, struct err *e)
{
    size_t at = 0, lt = 0;

    if (slice_starts(in, "\xef\xbb\xbf"))
        at = 3;
    while (at < in.n && strchr(" \t\r\n", in.p[at]) && in.p[at])
        at++;
    if (at >= in.n || in.p[at] != '<')
        return err_set(e, VF_EFORMAT, "not XML: it does not begin with '<'");
    if (slice_find(in, 0, "<!DOCTYPE") != SIZE_MAX)
        return err_set(e, VF_EFORMAT, "XML with a document type declaration is refused");
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
                              XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_COMPACT | XML_PARSE_BIG_LINES);
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

enum xml_event xml_next(struct xml *x)
{
    if (x->broken)
        return XML_BROKEN;
    if (x->pending_close) {
        x->pending_close = false;
        return XML_CLOSE;
    }
    for (;;) {
        const xmlChar *enc;
        int rc = xmlTextReaderRead(x->r);

        if (rc == 0)
            return x->error[0] ? broken(x, "") : XML_END;
        if (rc < 0)
            return broken(x, "not well-formed");
        switch (xmlTextReaderNodeType(x->r)) {
        case XML_READER_TYPE_ELEMENT:
            enc = xmlTextReaderConstEncoding(x->r);
            if (enc && xmlStrcasecmp(enc, (const xmlChar *)"utf-8") != 0 && xmlStrcasecmp(enc, (const xmlChar *)"us-ascii") != 0)
                return broken(x, "encoding is not UTF-8");
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

bool xml_attr(struct xml *x, const char *name, struct slice *value)
{
    xmlFree(x->attr_value);
    x->attr_value = (char *)xmlTextReaderGetAttribute(x->r, (const xmlChar *)name);
    *value = slice_of(x->attr_value);
    return x->attr_value != NULL;
}

bool xml_attr_at(struct xml *x, unsigned i, struct slice *name, struct slice *value)
{
    bool found;

    if (xmlTextReaderMoveToAttributeNo(x->r, (int)i) != 1)
        return false;
    (void)snprintf(x->attr_name, sizeof x->attr_name, "%s", (const char *)xmlTextReaderConstLocalName(x->r));
    found = xmlTextReaderIsNamespaceDecl(x->r) != 1;
    xmlFree(x->attr_value);
    x->attr_value = (char *)xmlTextReaderValue(x->r);
    (void)xmlTextReaderMoveToElement(x->r);
    *name = slice_of(found ? x->attr_name : "xmlns");
    *value = slice_of(x->attr_value ? x->attr_value : "");
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
