#ifndef VF_BASE_XML_H
#define VF_BASE_XML_H

#include "base/err.h"
#include "base/slice.h"

/*
 * A pull reader over XML in memory; it holds a few KiB of it at a time, and a text whole. Names are local names (esxcli's documents carry
 * a default namespace, some plug-ins a prefix). Untrusted input: a document type declaration, an encoding other than UTF-8, a tag over 64
 * KiB, an element with more than 256 attributes, 256 elements inside each other or a text over 10 MiB is refused before or while parsing;
 * entities, external loads and the network are never used (reliability rules for libxml2 2.9.14).
 *
 *     _cleanup_(xml_close) struct xml *x = xml_open(bytes, "vib list", &e);
 *     while ((ev = xml_next(x)) > XML_END) ...
 */
struct xml;

enum xml_event {
    XML_BROKEN = -1, /* not well-formed, or refused: see xml_error */
    XML_END = 0,
    XML_OPEN,  /* start of an element; an empty element gives XML_OPEN then XML_CLOSE */
    XML_CLOSE,
    XML_TEXT,  /* character data that is not only white space */
    XML_COMMENT,     /* of xml_open_whole alone: xml_text is what stands between its marks */
    XML_INSTRUCTION, /* likewise: xml_name and xml_text */
};

/* NULL with e set when the bytes are refused. They live until xml_close; name is used in messages. */
struct xml *xml_open(struct slice in, const char *name, struct err *e);
/* The same, with comments and processing instructions as events of their own: for who writes the document again. */
struct xml *xml_open_whole(struct slice in, const char *name, struct err *e);
void xml_close(struct xml **x);

enum xml_event xml_next(struct xml *x);
/* Local name of the element of XML_OPEN or XML_CLOSE; valid until xml_close. */
const char *xml_name(const struct xml *x);
struct slice xml_text(const struct xml *x);
/* Line of the current node, from 1; of an element, XML_CLOSE too, that of its opening tag's end. */
uint32_t xml_line(const struct xml *x);
const char *xml_error(const struct xml *x, uint32_t *line);
/* Elements open behind the current node: 1 at the root's XML_OPEN, 0 at its XML_CLOSE. */
unsigned xml_depth(const struct xml *x);

/*
 * Where something stands in the document, from 1. A column counts characters: a tab is one, a letter of several bytes is one, a byte order
 * mark none. Column 0: more than 64 KiB behind the beginning of its line.
 */
struct xml_place {
    uint32_t line, column;
};
/* Of the current node: an element's "<" (XML_CLOSE: that of its opening tag), the first character of a text; or of an element's attribute, by local
 * name, when it has it. */
struct xml_place xml_place(const struct xml *x, struct slice attribute);
/* The same later, from the document, with xml_line and xml_offset of the element. */
struct xml_place xml_place_in(struct slice in, uint32_t line, size_t offset, struct slice attribute);
size_t xml_offset(const struct xml *x);
/* Of an offset; and of the text behind the markup that ends there, and behind comments. */
struct xml_place xml_place_at(struct slice in, size_t offset);
struct xml_place xml_place_behind(struct slice in, uint32_t line, size_t offset);
struct xml_place xml_error_place(const struct xml *x);

/* Attribute by local name. Returns false when absent. Valid until the next xml_next. */
bool xml_attr(struct xml *x, const char *name, struct slice *value);
/* Attribute by index, 0 upwards; false past the last. */
bool xml_attr_at(struct xml *x, unsigned i, struct slice *name, struct slice *value);

/* Escape for element text and attribute values. */
struct buf;
void xml_escape(struct buf *b, struct slice s);

/* Validate a document against a RELAX NG schema, both in memory. Returns 0, or VF_EFORMAT with the first messages. */
int xml_relaxng(struct slice doc, const char *doc_name, struct slice schema, const char *schema_name, struct err *e);

/* Once in main, before threads. */
void xml_setup(void);
const char *xml_library(void);

#endif
