#include "world.h"

#include "base/csv.h"

/* All rows of a text, fields joined by '|', rows by '/'; the message where it is refused. */
static const char *read_all(struct arena *a, struct slice text)
{
    struct buf b = BUF_INIT(1u << 20);
    struct err e = {0};
    struct csv c;
    const char *out;
    int rc = csv_open(&c, text, "t.csv", a, &e);

    for (unsigned i = 0; rc == 0 && i < c.nheader; i++)
        buf_printf(&b, "%s" SLICE_FMT, i ? "|" : "", SLICE_ARG(c.header[i]));
    while (rc == 0 && (rc = csv_next(&c, &e)) == 1) {
        for (unsigned i = 0; i < c.nheader; i++)
            buf_printf(&b, "%s" SLICE_FMT, i ? "|" : "/", SLICE_ARG(c.fields[i]));
        rc = 0;
        if (c.rest.n == 0)
            break;
    }
    out = arena_printf(a, "%s", rc < 0 ? e.msg : buf_z(&b));
    buf_done(&b);
    return out;
}

static void tables_of_the_field_are_read(void **state)
{
    static const struct {
        const char *in, *out;
    } t[] = {
        {"a,b\n1,2\n", "a|b/1|2"}, /* RFC 4180, 2.1 and 2.2 */
        {"a,b\r\n1,2", "a|b/1|2"},
        {"a,b\r1,2\r3,4\r", "a|b/1|2/3|4"},
        {"\"a\",\"b\"\n\"1 \"\"x\"\" y\",\"2,3\n4\"\n5,6\n", "a|b/1 \"x\" y|2,3\n4/5|6"}, /* 2.5 to 2.7 */
        {"\xef\xbb\xbf" "a;b\n1,5;2\n", "a|b/1,5|2"},
        {"a\tb c\n1\t 2 \n\t\n", "a|b c/1|2"},
        {"# exported today; x; y; z\n\na,b\n\n# none\n1\n , \n", "a|b/1|/|"},
        {"a,b\n1,2,,\n", "a|b/1|2"},
        {"a\n\"\"\n\"\"\"\"\n", "a//\""},
        {"\"a,b\";c\n1;2\n", "a,b|c/1|2"},
        {"", "t.csv:1: no header: the first line names the columns"},
        {"\n\n#x\n", "t.csv:1: no header: the first line names the columns"},
        {"a,b\n1,2\n1,\"2\n3,4\n", "t.csv:3: a quote is not closed before the end of the file"},
        {"a,b\n1,\"2\" x\n", "t.csv:2: text behind a closing quote"},
        {"a,b\n1,2,3\n", "t.csv:2: 3 fields, but the header names 2"},
        {"a,b\n\"x\ny\",2\n1,2,3\n", "t.csv:4: 3 fields, but the header names 2"},
        {"a,b\n1,\xe4\n", "t.csv:2: the text is not UTF-8; save the table as \"CSV UTF-8\""},
        {"PCI id,driver,pci_ID\n1,2,3\n", "t.csv:1: two columns are named \"pci_ID\"; take one away"},
        {"a,,\n1\n", "a||/1||"},
        {"\xff\xfe" "a\n", "t.csv:1: this is UTF-16; save the table as \"CSV UTF-8\""},
        {"PK\x03\x04 xl/workbook.xml", "t.csv:1: this is a workbook or an archive; save the table as \"CSV UTF-8\""},
    };
    struct arena *a = arena_new(8u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_string_equal(read_all(a, slice_of(t[i].in)), t[i].out);
    assert_string_equal(read_all(a, SLICE_LIT("a,b\n1,\0\n")), "t.csv:2: a NUL byte: this is no text");
    arena_free(a);
}

static void columns_are_found_whatever_their_spelling(void **state)
{
    struct arena *a = arena_new(1u << 20);
    struct err e = {0};
    struct csv c;

    (void)state;
    assert_int_equal(csv_open(&c, SLICE_LIT("PCI,Driver Version,driver_name\n"), "t.csv", a, &e), 0);
    assert_int_equal(csv_column(&c, "pci"), 0);
    assert_int_equal(csv_column(&c, "driver-version"), 1);
    assert_int_equal(csv_column(&c, "driver-name"), 2);
    assert_int_equal(csv_column(&c, "driver"), -1);
    assert_int_equal(csv_column(&c, "driver-versions"), -1);
    arena_free(a);
}

/* Many quoted fields cost no more than their own length. */
static void a_long_table_needs_no_more_room_than_its_text(void **state)
{
    struct arena *a = arena_new(8u << 20), *small = arena_new(3u << 20);
    struct buf b = BUF_INIT(4u << 20);
    struct err e = {0};
    struct csv c;
    unsigned rows = 0;

    (void)state;
    buf_addz(&b, "a,b\n");
    for (unsigned i = 0; i < 60000; i++)
        buf_addz(&b, "\"x\"\"y\",\"z\"\n");
    assert_int_equal(csv_open(&c, buf_slice(&b), "t.csv", small, &e), 0);
    while (csv_next(&c, &e) == 1)
        rows++;
    assert_int_equal(rows, 60000);
    buf_done(&b);
    arena_free(a);
    arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_the_field_are_read),
        cmocka_unit_test(columns_are_found_whatever_their_spelling),
        cmocka_unit_test(a_long_table_needs_no_more_room_than_its_text),
    };

    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
