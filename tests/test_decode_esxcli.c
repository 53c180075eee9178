/* decode_esxcli: XML, JSON, keyvalue, CSV, and the host's errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "decode_esxcli.h"

/* --- XML --- */

#define XML(root)                                                                                           \
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"                                                          \
    "<output xmlns=\"http://www.vmware.com/Products/ESX/5.0/esxcli\">\n<root>\n" root "\n</root>\n</output>\n"
#define S(name, text) "<field name=\"" name "\"><string>" text "</string></field>\n"

static void xml_flattens_structures_and_lists(void **state)
{
    static const struct answer t = {
        SHAPE_OBJECT,
        XML("<structure typeName=\"NICInfo\">\n" S("LinkStatus", "Up ")
            "<field name=\"DriverInfo\"><structure typeName=\"D\">\n" S("Version",
            "1.15.1.0") "</structure></field>\n"
            "<field name=\"Modes\"><list type=\"string\">"
            "<string>Auto</string><string>100/Full</string></list></field>\n"
            "<field name=\"None\"><list type=\"string\"></list></field>\n"
            "<field name=\"DVPort\"><list type=\"structure\">"
            "<structure typeName=\"P\">" S("Client", "vmk0") "</structure>"
            "<structure typeName=\"P\">" S("Client", "") "</structure></list></field>\n"
            "<field name=\"MTU\"><integer>1500</integer></field>"
            "<field name=\"Up\"><boolean>true</boolean></field></structure>"),
        DECODE_COMPLETE, 1,
        .records = {"LinkStatus=Up|DriverInfo/Version=1.15.1.0|Modes[0]=Auto|Modes[1]=100/Full|None[0]=|"
                    "DVPort/Client[0]=vmk0|DVPort/Client[1]=|MTU=1500|Up=true"}};

    assert_string_equal(expect_answer(*state, &t).form, "xml");
}

static void xml_takes_values_alone_prefixes_and_synonyms(void **state)
{
    static const struct answer t[] = {
        {SHAPE_VALUE, XML("<integer>42825414367</integer>"), DECODE_COMPLETE, 1, .records = {"value=42825414367"}},
        {SHAPE_LIST,
         "<?xml version=\"1.0\"?><esxcli:output xmlns:esxcli=\"http://www.vmware.com/Products/ESX/5.0/esxcli/\">"
         "<esxcli:root>"
         "<esxcli:list type=\"struct\"><esxcli:struct>"
         "<esxcli:field name=\"TTL\"><esxcli:int>64</esxcli:int></esxcli:field>"
         "<esxcli:field name=\"Dup\"><esxcli:bool>false</esxcli:bool></esxcli:field></esxcli:struct></esxcli:list>"
         "</esxcli:root></esxcli:output>", DECODE_COMPLETE, 1, .records = {"TTL=64|Dup=false"}},
        {SHAPE_TABLE, XML("<list type=\"structure\">\n</list>"), DECODE_COMPLETE, .n = 0},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void xml_marks_or_drops_what_is_out_of_place(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        const char *fields;
    } cases[] = {
        {XML("<list>\n<structure><field><string>x</string></field>" S("B", "2") "</structure></list>"), 1, NULL},
        {XML("<list>\n<structure><string>x</string>" S("B", "2") "</structure><structure>" S("B",
            "3") "</structure></list>"), 1, NULL},
        {XML("<list>\n<structure>" S("A", "1") "<structure>" S("A",
            "2") "</structure></structure><structure>" S("B", "3")
             "</structure></list>"), 1, NULL},
        {XML("<list>\n<structure>text" S("A", "1") "</structure><structure>" S("B", "3") "</structure></list>"),
            1, NULL},
        {XML("<list>\n<structure>" S("A", "1") S("A", "2") "</structure><structure>" S("B",
            "3") "</structure></list>"), 1, NULL},
        {XML("<list>\n"
            "<structure><field name=\"A\"><string>1</string><string>2</string></field></structure></list>"), 1, "A!"},
        {XML("<list>\n<structure><field name=\"A\"></field></structure></list>"), 1, "A!"},
        {XML("<list>\n<structure><field name=\"A\"><boolean>yes</boolean></field></structure></list>"), 1, "A!"},
        {XML("<list>\n<structure><field name=\"A\"><integer>12 MB</integer></field></structure></list>"), 1, "A!"},
        {XML("<list>\n<structure><field name=\"A\"><float>1</float></field></structure></list>"), 1, "A!"},
        {XML("<list>\n<structure><field name=\"A\"><string>a<b/>c</string></field></structure></list>"), 1, "A!"},
        {XML("<structure>\n" S("A", "1") "</structure><structure>" S("B", "2") "</structure>"), 2, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct answer wanted = {SHAPE_LIST, cases[i].text, DECODE_PARTIAL, cases[i].n, .records = {cases[i].fields}};

        if (expect_answer(*state, &wanted).line < 4)
            fail_msg("line in the head of %s", cases[i].text);
    }
}

static void xml_keeps_what_was_finished_before_the_break(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);
    struct decoded d;

    buf_addz(&b, "<output>\n<root>\n<list type=\"structure\">\n");
    for (size_t i = 0; i < 100; i++)
        buf_printf(&b, "<structure>\n" S("Name", "vmnic%zu") "</structure>\n", i);
    buf_addz(&b, "<structure>\n" S("Name", "b") "</list>\n</root>\n</output>\n");
    d = expect_answer(*state, &(struct answer){SHAPE_LIST, buf_z(&b), DECODE_PARTIAL, ANY, .line = 306});
    assert_non_null(strstr(d.why, "not well-formed"));
    assert_true(d.n > 80 && d.n <= 100); /* the parser reads ahead a little */
    expect_fields(&d, 80, "Name=vmnic80", "the broken list");
    (void)expect_answer(*state, &(struct answer){
        SHAPE_LIST, "<output><root><string>x</root></output>", DECODE_UNUSABLE, 0, .line = 1});
}

static void foreign_and_hostile_xml_is_unusable(void **state)
{
    static const char *const cases[] = {
        "<html><body>login</body></html>\n",
        "<?xml version=\"1.0\"?>\n<soapenv:Envelope xmlns:soapenv=\"x\"/>\n",
        "<!DOCTYPE output [<!ENTITY a \"b\">]><output><root><string>&a;</string></root></output>",
        "<?xml version=\"1.0\" encoding=\"utf-16\"?><output><root><string>x</string></root></output>",
        "<output></output>",
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        (void)expect_answer(*state, &(struct answer){SHAPE_LIST, cases[i], .state = DECODE_UNUSABLE});
}

/* --- JSON --- */

static void json_flattens_and_keeps_numbers_as_text(void **state)
{
    static const struct answer t[] = {
        {SHAPE_LIST,
         "[{\"Device Display Name\": \"a\\/b \", \"Size\": 19074048, \"Is SSD\": false, "
         "\"Paths\": [\"x\", \"y\"], \"None\": [], \"Info\": {\"Version\": \"1\"},"
         " \"Ports\": [{\"Id\": 1}, {\"Id\": 2}],"
         " \"Big\": \"0x481a96c95\", \"Gone\": null}]\n", DECODE_COMPLETE, 1,
         .records = {"Device Display Name=a/b|Size=19074048|Is SSD=false|Paths[1]=y|None[0]=|Info/Version=1|Ports/Id[0]=1|"
                     "Ports/Id[1]=2|Big=0x481a96c95|Gone="}},
        {SHAPE_OBJECT, "{\"Build\": \"Releasebuild-1\"}", DECODE_COMPLETE, .n = 1},
        {SHAPE_TABLE, "[]\n", DECODE_COMPLETE, .n = 0},
        {SHAPE_VALUE, "\"Enabled\"\n", DECODE_COMPLETE, 1, .records = {"value=Enabled"}},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void broken_json_is_unusable(void **state)
{
    static const char *const cases[] = {"[{\"a\": 1},\n{\"b\": ]", "{\"a\": 1} {\"a\": 2}", "{\"a\": 1, \"a\": 2}",
                                        "[{\"a\": 1}, {\"b\":\n\"c", "{\"a\": \"\xff\"}"};
    static const struct answer prompted = {
        SHAPE_LIST, "[root@esx1:~] esxcli --debug --formatter=json vm process list\n[{\"a\": 1},\n{\"b\": ]",
        DECODE_UNUSABLE, 0, .line = 3};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(expect_answer(*state, &(struct answer){SHAPE_LIST, cases[i], .state = DECODE_UNUSABLE}).form, "json");
    (void)expect_answer(*state, &prompted);
}

/* --- keyvalue --- */

static void keyvalue_groups_by_index_in_any_order(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_TABLE,
        "structure[1].Nic.Name.string=vmnic1\nstructure[0].Nic.Description.string=a=b, c\n"
        "structure[1].Nic.Description.string=\nstructure[0].Nic.Name.string=vmnic0\n",
        DECODE_COMPLETE, 2, .records = {"Name=vmnic0|Description=a=b, c", "Name=vmnic1|Description="}});
}

static void keyvalue_strips_type_names(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_OBJECT,
        "VersionGet.Version.string=8.0.2\nVersionGet.Info.VersionInfo.Build.string=b\nVersionGet.Update.integer=2\n"
        "VersionGet.Modes.string[0]=x\nVersionGet.Modes.string[1]=y\n",
        DECODE_COMPLETE, 1, .records = {"Version=8.0.2|Info/Build=b|Update=2|Modes[0]=x|Modes[1]=y"}});
}

static void keyvalue_tells_gaps_types_cuts_and_stray_lines(void **state)
{
    static const struct answer t[] = {
        {SHAPE_TABLE, "structure[0].N.A.string=1\nstructure[2].N.A.string=3\n", DECODE_PARTIAL, 2, .line = 2},
        {SHAPE_TABLE, "structure[1].N.A.string=1\n", DECODE_PARTIAL, 1, .line = 1},
        {SHAPE_TABLE, "N.A.integer=1x\nN.B.boolean=TRUE\nN.C.string=c\n", DECODE_PARTIAL, 1, .records = {"A!|B!|C=c"}},
        {SHAPE_TABLE, "N.A.string=one\nand the rest\nN.B.string=cut her", DECODE_PARTIAL, 1, .records = {"A!|B!"}},
        {SHAPE_TABLE, "N.A.string=1\nN.B.boolean=true", DECODE_COMPLETE, .n = 1},
        {SHAPE_TABLE, "structure[0].N.A.string=1\nstructure[0].N.B.string=1\nstructure[1].N.A.string=2\n",
         DECODE_PARTIAL, 2, .line = 3},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

/* --- CSV --- */

static void csv_reads_quotes_and_empty_values(void **state)
{
    static const struct answer quotes = {
        SHAPE_TABLE, "Free,MountPoint,Mounted,VolumeName,\n1,\"/a, b\",true,,\n2,\"say \"\"x\"\"\n2\",false,v,\r\n",
        DECODE_COMPLETE, 2, .records = {"MountPoint=/a, b|VolumeName=", "MountPoint=say \"x\"\n2|VolumeName=v"}};
    static const struct answer t[] = {
        {SHAPE_TABLE, "Path,Int Value,\n/a,1,\n", DECODE_COMPLETE, 1, .records = {"Int Value=1"}},
        {SHAPE_TABLE, "Name,Driver,\n", DECODE_COMPLETE, .n = 0},
    };
    struct decoded d = expect_answer(*state, &quotes);

    assert_string_equal(d.form, "csv");
    assert_int_equal(d.records[1].line, 3);
    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void csv_leaves_out_rows_that_do_not_fit(void **state)
{
    static const struct answer t[] = {
        {SHAPE_TABLE, "A,B,\n1,2,\n1,2,3,\n1,\n5,6,\n", DECODE_PARTIAL, 2, .line = 3, .records = {"", "A=5"}},
        {SHAPE_TABLE, "A,B,\n1,2,\n3,4", DECODE_PARTIAL, 1, .line = 3},
        {SHAPE_TABLE, "A,B,\n1,2,\n3,4,", DECODE_COMPLETE, .n = 2},
        {SHAPE_TABLE, "A,B,\n1,2,\n\"3,4,\n5,6,\n", DECODE_PARTIAL, 1, .line = 3},
        {SHAPE_TABLE, "A,B,\n1,2,\n\"3\"x,4,\n5,6,\n", DECODE_PARTIAL, 1, .line = 3},
        {SHAPE_TABLE, "A,a,\n1,2,\n", .state = DECODE_UNUSABLE},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

/* --- telling the forms, and errors of the host --- */

static void each_form_refuses_bytes_of_another(void **state)
{
    static const char *const texts[] = {
        XML("<string>x</string>"), "[{\"a\": 1}]\n", "structure[0].N.A.string=1\n", "A,B,\n1,2,\n",
        "Name    Driver\n------  ------\nvmnic0  ixgben\n",
    };
    static decode_fn *const run[] = {decode_esxcli_xml, decode_esxcli_json, decode_esxcli_keyvalue, decode_esxcli_csv,
                                     decode_esxcli_text};
    struct decode_opt o = {.shape = SHAPE_TABLE};

    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            struct decoded d;

            assert_int_equal(run[k](slice_of(texts[i]), &o, *state, &d), 0);
            assert_int_equal(d.state, i == k ? DECODE_COMPLETE : DECODE_UNUSABLE);
        }
}

static void host_errors_are_quoted(void **state)
{
    static const char *const texts[][2] = {
        {"Error: Unknown command or namespace system uptime get\n\n",
            "Error: Unknown command or namespace system uptime get"},
        {"Error: Missing required parameter -t|--trusted\n       Missing required parameter -v|--vfid\n\n"
            "Usage: esxcli x\n",
         "Error: Missing required parameter -t|--trusted Missing required parameter -v|--vfid"},
        {"Error: While processing '-l'. Argument type mismatch.\n",
            "Error: While processing '-l'. Argument type mismatch."},
        {"Unable to find requested formatter: json\n", "Unable to find requested formatter: json"},
        {"Connect to localhost failed: Connection failure", "Connect to localhost failed: Connection failure"},
        {"Unable to load module /usr/lib/vmware/vmkmod/lacp: Busy\n",
            "Unable to load module /usr/lib/vmware/vmkmod/lacp: Busy"},
        {" [NoMatchError]\n No VIB matching VIB search specification 'x'.\n"
            " Please refer to the log file for more details.\n",
         "[NoMatchError] No VIB matching VIB search specification 'x'. Please refer to the log file for more details."},
        {" [DependencyError]\n a\n", "[DependencyError] a"},
        {"Failed to retrieve unmap property of x\nReason: not supported\n",
         "Failed to retrieve unmap property of x Reason: not supported"},
        {"Unable to set device's max-queue-depth. Error was: x\n",
            "Unable to set device's max-queue-depth. Error was: x"},
        {"VSISHCmdGetInt():Get failed: Not supported\n", "VSISHCmdGetInt():Get failed: Not supported"},
        {"Unable to find module x\n", "Unable to find module x"},
        {"Unknown module x\n", "Unknown module x"},
        {"Invalid Module name\n", "Invalid Module name"},
        {"[root@esx1:~] esxcli a b\nError: Unknown command or namespace a b\n\n[root@esx1:~]",
         "Error: Unknown command or namespace a b"},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        (void)expect_answer(*state, &(struct answer){SHAPE_LIST, texts[i][0], DECODE_REFUSED, .why = texts[i][1]});
}

static void host_errors_are_short_and_safe(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
    const char *why;

    buf_addz(&b, "Error: \x1b[2J");
    for (size_t i = 0; i < 5000; i++)
        buf_addz(&b, "\xc3\xa4");
    why = decode_host_error(buf_slice(&b), *state);
    assert_non_null(why);
    assert_null(strchr(why, '\x1b'));
    assert_true(strlen(why) <= 400);
    assert_int_equal((unsigned char)why[strlen(why) - 1], 0xa4); /* whole characters */
}

static void ordinary_output_is_no_error(void **state)
{
    static const char *const texts[] = {
        "   Error: 0\n   Name: x\n",
        "Error: a VM\n   World ID: 1\n",
        "Unable to boot\n   World ID: 1\n",
        "   Last Result: Error: Unable to load\n",
        "Name    Error\n------  -----\nvmnic0      0\n",
        "Failed Commands: 85\n",
        "[vm] Error\n   World ID: 1\n",
        "Error Log Page Entries: 63\n",
        "",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(decode_host_error(slice_of(texts[i]), *state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(xml_flattens_structures_and_lists),
        T(xml_takes_values_alone_prefixes_and_synonyms),
        T(xml_marks_or_drops_what_is_out_of_place),
        T(xml_keeps_what_was_finished_before_the_break),
        T(foreign_and_hostile_xml_is_unusable),
        T(json_flattens_and_keeps_numbers_as_text),
        T(broken_json_is_unusable),
        T(keyvalue_groups_by_index_in_any_order),
        T(keyvalue_strips_type_names),
        T(keyvalue_tells_gaps_types_cuts_and_stray_lines),
        T(csv_reads_quotes_and_empty_values),
        T(csv_leaves_out_rows_that_do_not_fit),
        T(each_form_refuses_bytes_of_another),
        T(host_errors_are_quoted),
        T(host_errors_are_short_and_safe),
        T(ordinary_output_is_no_error),
    };

    xml_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
