#include "core/rng.h"

#include <stdarg.h>

#include "core/action.h"

struct writing {
    struct buf *out;
    unsigned depth;
};

static void put(struct writing *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writing *w, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (text[0] == '<' && text[1] == '/')
        w->depth--;
    buf_printf(w->out, "%*s%s\n", w->depth * 2, "", text);
    if (text[0] == '<' && text[1] != '/' && !strstr(text, "/>") && !strstr(text, "</"))
        w->depth++;
}

static void attribute(struct writing *w, const char *name, const char *suffix, const char *content)
{
    put(w, "<optional><attribute name=\"%s%s\">%s</attribute></optional>", name, suffix, content);
}

static const char *const date = "<data type=\"string\"><param name=\"pattern\">[0-9]{4}-[0-9]{2}-[0-9]{2}</param></data>";
static const char *const address = "<data type=\"string\"><param name=\"pattern\">https?://.+</param></data>";
static const char *const rel = "<data type=\"string\"><param name=\"pattern\">[0-9]+\\.[0-9]+((u|\\.)[0-9]+)?[a-z]?</param></data>";
static const char *const yes_no = "<choice><value>yes</value><value>no</value></choice>";

/* Attributes of one table: its columns, with the words that may follow each type. */
static void columns(struct writing *w, const struct table *t)
{
    put(w, "<define name=\"columns.%s\">", t->name.p);
    for (unsigned i = 0; i < t->ncolumns; i++) {
        const struct column *c = &t->columns[i];

        if (c->type == VT_BOOL)
            attribute(w, c->name.p, "", "<choice><value>yes</value><value>no</value><value>true</value><value>false</value></choice>");
        else
            attribute(w, c->name.p, "", "<text/>");
        attribute(w, c->name.p, "-absent", yes_no);
        if (c->type == VT_INT) {
            attribute(w, c->name.p, "-above", "<text/>");
            attribute(w, c->name.p, "-below", "<text/>");
        }
        if (c->type == VT_VERSION) {
            attribute(w, c->name.p, "-from", c->scheme == SCHEME_ESXI ? rel : "<text/>");
            attribute(w, c->name.p, "-before", c->scheme == SCHEME_ESXI ? rel : "<text/>");
        }
    }
    if (slice_eqz(t->name, "esxi")) {
        attribute(w, "from", "", rel);
        attribute(w, "before", "", rel);
    }
    put(w, "<empty/>");
    put(w, "</define>");
}

static void conditions(struct writing *w, const struct schema *s)
{
    put(w, "<define name=\"element\">");
    put(w, "<choice>");
    for (unsigned i = 0; i < s->ntables; i++)
        put(w, "<element name=\"%s\"><ref name=\"columns.%s\"/></element>", s->tables[i].name.p, s->tables[i].name.p);
    put(w, "</choice>");
    put(w, "</define>");
    put(w, "<define name=\"condition\">");
    put(w, "<choice>");
    put(w, "<ref name=\"element\"/>");
    put(w, "<element name=\"none\"><choice><ref name=\"element\"/><ref name=\"same\"/></choice></element>");
    put(w, "<element name=\"some\"><ref name=\"element\"/></element>");
    put(w, "<element name=\"every\"><ref name=\"element\"/></element>");
    put(w, "<element name=\"count\">");
    put(w, "<optional><attribute name=\"below\"><data type=\"integer\"/></attribute></optional>");
    put(w, "<optional><attribute name=\"above\"><data type=\"integer\"/></attribute></optional>");
    put(w, "<ref name=\"element\"/>");
    put(w, "</element>");
    put(w, "<ref name=\"same\"/>");
    put(w, "<element name=\"compare\">");
    put(w, "<attribute name=\"fact\"/>");
    put(w, "<choice><attribute name=\"below\"/><attribute name=\"above\"/><attribute name=\"is\"/></choice>");
    put(w, "</element>");
    put(w, "</choice>");
    put(w, "</define>");
    put(w, "<define name=\"same\"><element name=\"same\"><attribute name=\"of\"/><ref name=\"element\"/></element></define>");
}

static void fixes(struct writing *w)
{
    put(w, "<define name=\"action\">");
    put(w, "<choice>");
    for (const struct action *a = actions; a->name; a++) {
        put(w, "<element name=\"%s\">", a->name);
        put(w, "<empty/>");
        for (unsigned i = 0; i < ACTION_MAX_ARGS && a->args[i].name; i++) {
            if (a->args[i].optional)
                attribute(w, a->args[i].name, "", "<text/>");
            else
                put(w, "<attribute name=\"%s\"/>", a->args[i].name);
        }
        put(w, "</element>");
    }
    put(w, "</choice>");
    put(w, "</define>");
    put(w, "<define name=\"fix\">");
    put(w, "<element name=\"fix\">");
    put(w, "<attribute name=\"id\"/>");
    put(w, "<attribute name=\"risk\">");
    put(w, "<choice>");
    for (int i = 0; risk_names[i]; i++)
        put(w, "<value>%s</value>", risk_names[i]);
    put(w, "</choice>");
    put(w, "</attribute>");
    put(w, "<interleave>");
    put(w, "<zeroOrMore><element name=\"require\"><oneOrMore><ref name=\"condition\"/></oneOrMore></element></zeroOrMore>");
    put(w, "<zeroOrMore><ref name=\"action\"/></zeroOrMore>");
    put(w, "<zeroOrMore><element name=\"advise\"><text/></element></zeroOrMore>");
    put(w, "<optional><element name=\"then\"><zeroOrMore><attribute><anyName/></attribute></zeroOrMore></element></optional>");
    put(w, "</interleave>");
    put(w, "</element>");
    put(w, "</define>");
}

static void body(struct writing *w)
{
    static const char *const examples[] = {"matches", "ignores", "unsure"};

    put(w, "<define name=\"body\">");
    put(w, "<zeroOrMore><attribute><anyName/></attribute></zeroOrMore>");
    put(w, "<zeroOrMore><ref name=\"condition\"/></zeroOrMore>");
    put(w, "</define>");
    put(w, "<define name=\"row\">");
    put(w, "<zeroOrMore><attribute><anyName/></attribute></zeroOrMore>");
    put(w, "<zeroOrMore><element><anyName/><ref name=\"row\"/></element></zeroOrMore>");
    put(w, "</define>");
    put(w, "<define name=\"rule.parts\">");
    put(w, "<element name=\"title\"><text/></element>");
    put(w, "<optional>");
    put(w, "<element name=\"when\">");
    attribute(w, "upgrade-to", "", rel);
    put(w, "<zeroOrMore><ref name=\"condition\"/></zeroOrMore>");
    put(w, "</element>");
    put(w, "</optional>");
    put(w, "<choice>");
    put(w, "<oneOrMore><element name=\"bad\"><ref name=\"body\"/></element></oneOrMore>");
    put(w, "<oneOrMore><element name=\"good\"><ref name=\"body\"/></element></oneOrMore>");
    put(w, "</choice>");
    put(w, "<optional>");
    put(w, "<element name=\"evidence\">");
    attribute(w, "required", "", yes_no);
    put(w, "<oneOrMore><ref name=\"condition\"/></oneOrMore>");
    put(w, "</element>");
    put(w, "</optional>");
    put(w, "<element name=\"why\">");
    put(w, "<interleave><text/><oneOrMore><element name=\"see\"><attribute name=\"href\">%s</attribute></element></oneOrMore></interleave>", address);
    put(w, "</element>");
    put(w, "<zeroOrMore><ref name=\"fix\"/></zeroOrMore>");
    put(w, "<interleave>");
    for (int i = 0; i < 3; i++)
        put(w, "<%s><element name=\"%s\"><ref name=\"row\"/></element></%s>", i < 2 ? "oneOrMore" : "zeroOrMore", examples[i],
            i < 2 ? "oneOrMore" : "zeroOrMore");
    put(w, "<zeroOrMore><element name=\"uncaught\"><attribute name=\"what\"/><attribute name=\"because\"/></element></zeroOrMore>");
    put(w, "</interleave>");
    put(w, "</define>");
}

void rng_write(const struct schema *s, struct buf *out)
{
    struct writing w = {out, 0};

    put(&w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    w.depth = 0;
    put(&w, "<!-- Generated by \"vmkfit rules rng\" from probes/schema.xml and the action table; do not edit. -->");
    w.depth = 0;
    put(&w, "<grammar xmlns=\"http://relaxng.org/ns/structure/1.0\" datatypeLibrary=\"http://www.w3.org/2001/XMLSchema-datatypes\">");
    put(&w, "<start>");
    put(&w, "<element name=\"rules\">");
    put(&w, "<attribute name=\"format\"><value>1</value></attribute>");
    put(&w, "<zeroOrMore><ref name=\"rule\"/></zeroOrMore>");
    put(&w, "</element>");
    put(&w, "</start>");
    put(&w, "<define name=\"rule\">");
    put(&w, "<element name=\"rule\">");
    put(&w, "<attribute name=\"id\"><data type=\"string\"><param name=\"pattern\">[a-z0-9][a-z0-9.\\-]{2,63}</param></data></attribute>");
    put(&w, "<attribute name=\"subject\">");
    put(&w, "<choice>");
    for (unsigned i = 0; i < s->ntables; i++)
        put(&w, "<value>%s</value>", s->tables[i].name.p);
    put(&w, "</choice>");
    put(&w, "</attribute>");
    put(&w, "<attribute name=\"severity\"><choice><value>critical</value><value>warning</value><value>note</value></choice></attribute>");
    put(&w, "<attribute name=\"status\"><choice><value>draft</value><value>stable</value><value>retired</value></choice></attribute>");
    put(&w, "<attribute name=\"reviewed\">%s</attribute>", date);
    attribute(&w, "topic", "", "<text/>");
    attribute(&w, "supersedes", "", "<text/>");
    attribute(&w, "restrains", "", "<text/>");
    attribute(&w, "covers", "", "<text/>");
    put(&w, "<ref name=\"rule.parts\"/>");
    put(&w, "</element>");
    put(&w, "</define>");
    for (unsigned i = 0; i < s->ntables; i++)
        columns(&w, &s->tables[i]);
    conditions(&w, s);
    fixes(&w);
    body(&w);
    put(&w, "</grammar>");
}
