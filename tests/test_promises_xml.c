/*
 * P5: XML cannot bomb, reach files or the network. Each hostile document goes to everything that reads XML: answers, rules, probes, the
 * schema and the table of builds. A marker stands in a file that the documents ask for, and in their entities; it must come out nowhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promises.h"

#include "core/rule.h"

#define MARKER    "vmkfit-secret-7781"
#define ARENA     (64u << 20)
#define BUDGET_MIB 200

/* --- what reads XML --- */

/* State of a decode with the marker looked for in everything it says. */
static enum decode_state decode(struct slice in, struct arena *a, struct decoded *d)
{
    struct decode_opt o = {.shape = SHAPE_LIST, .name = "answer"};

    assert_int_equal(decode_esxcli(in, &o, a, d), 0);
    assert_true(d->state == DECODE_COMPLETE || d->why);
    if (d->why)
        assert_null(strstr(d->why, MARKER));
    for (size_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->records[i].nfields; k++) {
            const struct field *f = &d->records[i].fields[k];

            assert_true(slice_find(f->key, 0, MARKER) == SIZE_MAX);
            assert_true(slice_find(f->text, 0, MARKER) == SIZE_MAX);
        }
    return d->state;
}

static int load_rules(struct slice in, struct arena *a, struct err *e)
{
    struct rules rules = {0};

    return rules_load(&rules, in, "rules", &shared->schema, a, e);
}

static int load_probes(struct slice in, struct arena *a, struct err *e)
{
    struct probes probes = {0};

    return probes_load(&probes, in, "probes", &shared->schema, a, e);
}

static int load_schema(struct slice in, struct arena *a, struct err *e)
{
    struct schema schema = {0};

    return schema_load(in, "schema", a, &schema, e);
}

static int load_builds(struct slice in, struct arena *a, struct err *e)
{
    struct builds builds = {0};

    return builds_load(in, "builds", a, &builds, e);
}

/* Each reader and a whole document for it, without its prolog; %s stands where a text or attribute may hold anything. */
static const struct {
    int (*load)(struct slice in, struct arena *a, struct err *e);
    const char *root, *text;
} loaders[] = {
    {load_rules, "rules", "<rules format=\"1\"><rule id=\"%s\"><title>%s</title></rule></rules>"},
    {load_probes, "probes", "<probes format=\"1\"><probe id=\"%s\" table=\"esxi\"><why>%s</why></probe></probes>"},
    {load_schema, "schema", "<schema format=\"1\"><table name=\"%s\" doc=\"%s\"/></schema>"},
    {load_builds, "releases", "<releases format=\"1\"><release name=\"%s\"><build>%s</build></release></releases>"},
};

#define ANSWER                                                                                                  \
    "<output xmlns=\"http://www.vmware.com/Products/ESX/5.0/esxcli\"><root><list type=\"structure\">"              \
    "<structure typeName=\"A\"><field name=\"Name\"><string>vmhba0</string></field>"                             \
    "<field name=\"%s\"><string>%s</string></field></structure></list></root></output>"

static void fill(struct buf *out, const char *prolog, const char *document, const char *hole)
{
    const char *at;

    buf_reset(out);
    buf_addz(out, prolog);
    while ((at = strstr(document, "%s")) != NULL) {
        buf_add(out, (struct slice){document, (size_t)(at - document)});
        buf_addz(out, hole);
        document = at + 2;
    }
    buf_addz(out, document);
}

/* The same document for every loader: each must refuse it with a message that does not hold the marker. */
static void refused_by_loaders(struct slice document)
{
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        struct arena *a = arena_new(ARENA);
        struct err e = {0};

        if (loaders[i].load(document, a, &e) == 0)
            fail_msg("%s: taken: %.200s", loaders[i].root, document.p);
        assert_true(e.msg[0] != '\0');
        assert_null(strstr(e.msg, MARKER));
        arena_free(a);
    }
}

static void refused_answer(struct slice document)
{
    struct arena *a = arena_new(ARENA);
    struct decoded d;

    if (decode(document, a, &d) == DECODE_COMPLETE)
        fail_msg("complete: %.200s", document.p);
    arena_free(a);
}

/* Prolog and text before and in a document of every reader: all must refuse it. */
static void refused_everywhere(const char *prolog, const char *hole)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 20);

    fill(&b, prolog, ANSWER, hole);
    refused_answer(buf_slice(&b));
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        struct arena *a = arena_new(ARENA);
        struct err e = {0};

        fill(&b, prolog, loaders[i].text, hole);
        if (loaders[i].load(buf_slice(&b), a, &e) == 0)
            fail_msg("%s: taken with %.200s", loaders[i].root, prolog);
        assert_true(e.msg[0] != '\0');
        assert_null(strstr(e.msg, MARKER));
        arena_free(a);
    }
}

/* --- document types and entities --- */

static void P5_document_types_are_refused_and_read_nothing(void **state)
{
    static const char *const prologs[] = {
        "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY x \"" MARKER "\">]>",
        "<!DOCTYPE x [<!ENTITY x SYSTEM \"file://%s\">]>",
        "<!DOCTYPE x [<!ENTITY x SYSTEM \"%s\">]>",
        "<!DOCTYPE x SYSTEM \"file://%s\">",
        "<!DOCTYPE x PUBLIC \"-//X//Y\" \"http://127.0.0.1:9/" MARKER "\">",
        "<!DOCTYPE x [<!ENTITY % p SYSTEM \"file://%s\"> %p;]>",
        "\xef\xbb\xbf  <!DOCTYPE x [<!ATTLIST field extra CDATA \"" MARKER "\">]>",
        "<!-- <!DOCTYPE x> -->", /* even where it means nothing: the search is for bytes */
    };
    static const char *const holes[] = {"&x;", "a&x;b&x;", ""};
    struct folder f;
    _cleanup_(buf_done) struct buf secret = BUF_INIT(4096), prolog = BUF_INIT(4096);

    (void)state;
    folder_make(&f);
    folder_write(&f, "secret", SLICE_LIT(MARKER));
    folder_path(&f, "secret", &secret);
    for (size_t i = 0; i < sizeof prologs / sizeof *prologs; i++)
        for (size_t k = 0; k < sizeof holes / sizeof *holes; k++) {
            fill(&prolog, "", prologs[i], buf_z(&secret));
            refused_everywhere(buf_z(&prolog), holes[k]);
        }
    refused_everywhere("", "&x;"); /* never declared */
    refused_everywhere("", "&#0;");
    refused_everywhere("", "&#27;");
    refused_everywhere("", "\033[31m");
    refused_everywhere("", "\xff\xfe");
    folder_remove(&f);
}

static const char *bombs(const void *ctx)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20), hole = BUF_INIT(1u << 20);

    (void)ctx;
    buf_addz(&b, "<!DOCTYPE x [<!ENTITY l0 \"" MARKER "\">");
    for (int i = 1; i < 10; i++) {
        buf_printf(&b, "<!ENTITY l%d \"", i);
        for (int k = 0; k < 10; k++)
            buf_printf(&b, "&l%d;", i - 1);
        buf_addz(&b, "\">");
    }
    buf_addz(&b, "]>");
    refused_everywhere(buf_z(&b), "&l9;");
    buf_reset(&b);
    buf_addz(&b, "<!DOCTYPE x [<!ENTITY q \"");
    for (int i = 0; i < 20000; i++)
        buf_addc(&b, 'q');
    buf_addz(&b, "\">]>");
    for (int i = 0; i < 20000; i++)
        buf_addz(&hole, "&q;");
    refused_everywhere(buf_z(&b), buf_z(&hole));
    return NULL;
}

static void P5_entity_bombs_are_not_expanded(void **state)
{
    (void)state;
    if (child_run(bombs, NULL) > BUDGET_MIB && memory_counts())
        fail_msg("over %d MiB", BUDGET_MIB);
}

/* --- shape bombs --- */

static void repeat(struct buf *b, unsigned n, const char *text)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(b, "%s%u", text, i);
}

static const char *shapes(const void *ctx)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 20);

    (void)ctx;
    buf_addz(&b, "<output"); /* libxml2 2.9 is quadratic here: 200,000 would take over a minute */
    for (unsigned i = 0; i < 200000; i++)
        buf_printf(&b, " a%u=\"\"", i);
    buf_addz(&b, "/>");
    refused_answer(buf_slice(&b));
    refused_by_loaders(buf_slice(&b));
    buf_reset(&b);
    buf_addz(&b, "<output");
    for (unsigned i = 0; i < 20000; i++)
        buf_printf(&b, " xmlns:n%u=\"u\"", i);
    buf_addz(&b, "/>");
    refused_answer(buf_slice(&b));
    refused_by_loaders(buf_slice(&b));
    for (unsigned n = 300; n <= 1500; n += 1200) { /* below the limit of one tag, over that of attributes */
        buf_reset(&b);
        buf_addz(&b, "<output");
        for (unsigned i = 0; i < n; i++)
            buf_printf(&b, " xmlns:n%u=\"u\"", i);
        buf_addz(&b, "><root/></output>");
        refused_answer(buf_slice(&b));
        refused_by_loaders(buf_slice(&b));
    }
    buf_reset(&b);
    repeat(&b, 500000, "<x");
    buf_addc(&b, '>');
    refused_answer(buf_slice(&b));
    refused_by_loaders(buf_slice(&b));
    buf_reset(&b);
    for (unsigned i = 0; i < 500000; i++)
        buf_addz(&b, "<a>");
    refused_answer(buf_slice(&b));
    refused_by_loaders(buf_slice(&b));
    buf_reset(&b);
    buf_addz(&b, "<output><root><structure typeName=\"A\">");
    for (unsigned i = 0; i < 200; i++)
        buf_addz(&b, "<field name=\"a\"><structure typeName=\"A\">");
    for (unsigned i = 0; i < 200; i++)
        buf_addz(&b, "</structure></field>");
    buf_addz(&b, "</structure></root></output>");
    refused_answer(buf_slice(&b));
    return NULL;
}

static void P5_attributes_and_depth_are_bounded(void **state)
{
    (void)state;
    if (child_run(shapes, NULL) > BUDGET_MIB && memory_counts())
        fail_msg("over %d MiB", BUDGET_MIB);
}

/* --- encodings --- */

static void widen(struct buf *out, const char *text, bool big)
{
    for (; *text; text++) {
        buf_addc(out, big ? '\0' : *text);
        buf_addc(out, big ? *text : '\0');
    }
}

static void P5_other_encodings_are_refused(void **state)
{
    static const char *const claims[] = {"UTF-16", "UTF-7", "ISO-8859-1", "UTF-32", "IBM037", "x-nonsense", "UTF-16LE"};
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20), prolog = BUF_INIT(256), document = BUF_INIT(4096);
    static const char bomb[] = "<!DOCTYPE x [<!ENTITY x \"" MARKER "\">]>";

    (void)state;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        buf_reset(&prolog);
        buf_printf(&prolog, "<?xml version=\"1.0\" encoding=\"%s\"?>", claims[i]);
        refused_everywhere(buf_z(&prolog), "v");
        refused_everywhere(buf_z(&prolog), "+ADwAIQBEAE8AQwBUAFkAUABFAD4-");
    }
    for (unsigned k = 0; k < 8; k++) { /* 16 bits, either order, with and without a mark, with and without a document type */
        buf_reset(&b);
        if (k & 1)
            buf_add(&b, k & 2 ? SLICE_LIT("\xfe\xff") : SLICE_LIT("\xff\xfe"));
        fill(&document, k & 4 ? bomb : "<?xml version=\"1.0\"?>", ANSWER, k & 4 ? "&x;" : "v");
        widen(&b, buf_z(&document), k & 2);
        refused_answer(buf_slice(&b));
        fill(&document, k & 4 ? bomb : "<?xml version=\"1.0\"?>", loaders[0].text, k & 4 ? "&x;" : "v");
        buf_reset(&b);
        widen(&b, buf_z(&document), k & 2);
        refused_by_loaders(buf_slice(&b));
    }
}

/* --- meaning --- */

static const struct field *field_of(const struct decoded *d, const char *key)
{
    for (uint32_t k = 0; d->n && k < d->records[0].nfields; k++)
        if (slice_eqz(d->records[0].fields[k].key, key))
            return &d->records[0].fields[k];
    return NULL;
}

/* The value that XML gives it, or damage; never a part of it. */
static void P5_text_in_pieces_is_one_text(void **state)
{
#define IN(kind, text) "<output><root><structure typeName=\"A\"><field name=\"V\"><" kind ">" text "</" kind "></field></structure></root></output>"
    static const struct {
        const char *document, *value;
    } cases[] = {
        {IN("integer", "15<!-- 7 -->00"), "1500"},
        {IN("integer", "<!-- 7 -->1500<!-- -->"), "1500"},
        {IN("integer", "15<?pi 7?>00"), "1500"},
        {IN("integer", "15<b/>00"), NULL},
        {IN("string", "<![CDATA[a]]]]><![CDATA[>b]]>"), "a]]>b"},
        {IN("string", "a<![CDATA[<string>]]>b"), "a<string>b"},
        {IN("string", "&#x41;&amp;&lt;"), "A&<"},
        {"<x:output xmlns:x=\"urn:other\"><x:root><x:structure typeName=\"A\"><x:field name=\"V\"><x:string>1</x:string></x:field>"
         "</x:structure></x:root></x:output>", "1"},
        {"<output xmlns:x=\"urn:other\"><root><structure typeName=\"A\"><field x:name=\"W\" name=\"V\"><string>1</string></field>"
         "</structure></root></output>", "1"},
        {"<output><root><structure typeName=\"A\"><field name=\"V\"><string>1</string></field><field name=\"V\"><string>2</string></field>"
         "</structure></root></output>", NULL},
    };
#undef IN

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_new(ARENA);
        struct decoded d;
        enum decode_state s = decode(slice_of(cases[i].document), a, &d);
        const struct field *f = field_of(&d, "V");

        if (f && !f->damage && (!cases[i].value || !slice_eqz(f->text, cases[i].value)))
            fail_msg("%s: %.*s", cases[i].document, SLICE_ARG(f->text));
        assert_true(s != DECODE_COMPLETE || (f && cases[i].value));
        arena_free(a);
    }
}

static void P5_a_fault_is_no_answer(void **state)
{
    static const char *const faults[] = {
        "<?xml version=\"1.0\"?><soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body><soapenv:Fault>"
        "<faultcode>ServerFaultCode</faultcode><faultstring>The session is not authenticated.</faultstring></soapenv:Fault></soapenv:Body>"
        "</soapenv:Envelope>",
        "<html><head><title>503 Service Unavailable</title></head><body/></html>",
        "<output/>",
        "<output><root><fault><string>no</string></fault></root></output>",
        "<rules format=\"1\"/>",
        "<",
        "<<<<",
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct arena *a = arena_new(ARENA);
        struct decoded d;

        if (decode(slice_of(faults[i]), a, &d) == DECODE_COMPLETE || d.n)
            fail_msg("taken for an answer: %s", faults[i]);
        arena_free(a);
    }
}

static void P5_an_answer_cut_at_any_byte_is_not_complete(void **state)
{
    struct arena *a = arena_new(ARENA);
    struct slice text, end;
    struct err e = {0};

    (void)state;
    assert_int_equal(fsx_read("fixtures/healthy-6.5u3/recording/esxcli_storage_core_adapter_list.xml", 1u << 20, a, &text, NULL, &e), 0);
    for (size_t n = 0; n <= text.n; n++) {
        struct arena *tmp = arena_new(ARENA);
        char *copy = xmalloc(n ? n : 1); /* its own block: a reader that passes the end is seen */
        struct decoded d;

        memcpy(copy, text.p, n);
        end = slice_from(text, n);
        while (end.n && (*end.p == '\n' || *end.p == ' '))
            end = slice_from(end, 1);
        if ((decode((struct slice){copy, n}, tmp, &d) == DECODE_COMPLETE) != (end.n == 0))
            fail_msg("cut at byte %zu of %zu: state %d", n, text.n, d.state);
        free(copy);
        arena_free(tmp);
    }
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P5_document_types_are_refused_and_read_nothing),
        cmocka_unit_test(P5_entity_bombs_are_not_expanded),
        cmocka_unit_test(P5_attributes_and_depth_are_bounded),
        cmocka_unit_test(P5_other_encodings_are_refused),
        cmocka_unit_test(P5_text_in_pieces_is_one_text),
        cmocka_unit_test(P5_a_fault_is_no_answer),
        cmocka_unit_test(P5_an_answer_cut_at_any_byte_is_not_complete),
    };

    return cmocka_run_group_tests(tests, shared_open, shared_close);
}
