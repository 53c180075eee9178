/* decode_esxcli: the text form's tables, lists, blocks, objects and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "decode_esxcli.h"

#define TABLE_HEAD                                                                     \
    "Mount Point    Volume Name  Mounted  Type           Size\n"                       \
    "-------------  -----------  -------  ------  -----------\n"

/* --- tables --- */

static void table_cuts_by_the_dash_line(void **state)
{
    static const struct answer t[] = {
        {SHAPE_TABLE,
         "HBA Name  Driver    Capabilities  Description\n"
         "--------  --------  ------------  -----------\n"
         "vmhba0    vmw_ahci                (0000:02:01.0) VMware  Virtual SATA Controller\n"
         "vmhba1                            \n",
         DECODE_COMPLETE, 2,
         .records = {"Driver=vmw_ahci|Capabilities=|Description=(0000:02:01.0) VMware  Virtual SATA Controller",
                     "Driver=|Description="}},
        {SHAPE_TABLE, TABLE_HEAD, DECODE_COMPLETE, .n = 0},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void table_columns_are_characters(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_TABLE, TABLE_HEAD "/vmfs/vols/aa  Gr\xc3\xb6\xc3\x9f""e 2         true  VMFS-5  89013197209\n",
        DECODE_COMPLETE, 1, .records = {"Volume Name=Gr\xc3\xb6\xc3\x9f""e 2|Mounted=true|Size=89013197209"}});
}

static void table_leaves_out_rows_that_do_not_fit(void **state)
{
    static const char *const rows[] = {
        "/vmfs/vols/aa datastore1     true VMFS-5 89013197209\n",      /* blanks lost */
        "/vmfs/vols/aa\tdatastore1\ttrue\tVMFS-5\t89013197209\n",      /* tabs */
        "/vmfs/vols/aa  datastore1    true  VMFS-5  8901\n",           /* a number that is not at its column's end */
        "Error: the connection was lost while reading\n",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(
            *state, TABLE_HEAD "/vmfs/vols/bb                  true  vfat     4293591040\n%s", rows[i]);
        const struct answer wanted = {SHAPE_TABLE, text, DECODE_PARTIAL, ANY, .line = 4, .records = {"Type=vfat"}};
        struct decoded d = expect_answer(*state, &wanted);

        if (d.n == 2) /* the third splits well, but its number may be cut */
            expect_fields(&d, 1, "Size!", rows[i]);
    }
}

static void table_takes_a_long_value_only_when_the_cells_prove_it(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_TABLE,
        "Name    Driver  Link  Description\n------  ------  ----  -----------\n"
        "vmnic0  ixgben-a  Up    Card one\n" "vmnic1  ixgben-a        Card  two\n" "vmnic2  ixgben-abcdefghij  Up\n",
        DECODE_PARTIAL, 1, .line = 4, .records = {"Driver=ixgben-a|Link=Up|Description=Card one"}});
}

static void table_rows_that_end_early_lose_their_last_value(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_TABLE,
        TABLE_HEAD "/vmfs/vols/aa  datas\n/vmfs/vols/bb  datastore2      true\n/vmfs/vols/cc  datastore3     false  VMFS-5  8901\n",
        DECODE_PARTIAL, 3, .line = 3,
        .records = {"Mount Point=/vmfs/vols/aa|Volume Name!|Mounted-",
                    "Mounted=true|Type-",   /* it ends where its column ends */
                    "Type=VMFS-5|Size!"}}); /* right-aligned numbers end where their column ends */
}

static void table_without_its_heading_is_unusable(void **state)
{
    static const struct answer t[] = {
        {SHAPE_TABLE, "------  ------\nvmnic0  ixgben\n", DECODE_UNUSABLE, 0, .line = 1, .columns = "Name|Driver"},
        {SHAPE_TABLE, "Name    Driver\nvmnic0  ixgben\n", .state = DECODE_UNUSABLE},
        /* a translated heading that no longer fits its dash line */
        {SHAPE_TABLE, "Bezeichnung  Treiber\n------  ------\nvmnic0  ixgben\n", DECODE_UNUSABLE, 0, .line = 1},
        {SHAPE_TABLE, "Name    Driver  Speed\n------  ------\nvmnic0  ixgben     10\n", DECODE_UNUSABLE, 0, .line = 1},
        {SHAPE_TABLE, "Name    Driver\n------  ---", .state = DECODE_UNUSABLE},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void table_heading_again_and_another_table_are_two_listings(void **state)
{
    static const struct answer t[] = {
        {SHAPE_TABLE, "Name    Driver\n------  ------\nvmnic0  ixgben\nName    Driver\n------  ------\nvmnic1  ixgben\n",
         DECODE_PARTIAL, 2, .line = 5},
        {SHAPE_TABLE, "Name    Driver\n------  ------\nName    Driver\n------  ------\nvmnic1  ixgben\n",
         DECODE_COMPLETE, .n = 1}, /* no row between them: one listing */
        {SHAPE_TABLE, "Name    Driver\n------  ------\nvmnic0  ixgben\nName      Driver\n--------  ------\nvmnic1    ixgben\n",
         DECODE_PARTIAL, 1, .line = 4},
        {SHAPE_TABLE, "something else\nName    Driver\n------  ------\nvmnic0  ixgben\n", DECODE_PARTIAL, 1, .line = 2},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void table_that_passed_a_grep_is_read_by_its_heading_or_by_the_probe(void **state)
{
#define COLUMNS "Name|Driver|Link|Speed|Description"
    static const struct answer t[] = {
        {SHAPE_TABLE,
         "Name    Driver  Link  Speed  Description\nvmnic0  ixgbe   Up    10000  Intel  X540\n"
         "vmnic1          Down      0  I350 b\n"
         "vmnic2  x   Up    10000  shifted\n",
         DECODE_PARTIAL, 2, .line = 1, .columns = COLUMNS,
         .records = {"Driver=ixgbe|Description=Intel  X540", "Driver=|Link=Down|Speed=0"}},
        {SHAPE_TABLE,
         "vmnic0  ixgbe   Up    10000  Intel X540\nvmnic1          Down      0  I350 b\nvmnic3  igbn    Up        5  Card of 4\n",
         DECODE_PARTIAL, 2, .line = 2, .columns = COLUMNS, .records = {"", "Name=vmnic3|Description=Card of 4"}},
        {SHAPE_TABLE, "qlnativefc                          true        true\n",
         DECODE_PARTIAL, 1, .columns = "Name|Is Loaded|Is Enabled", .records = {"Is Enabled=true"}},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

/* --- blocks --- */

static void list_reads_ids_values_and_nested_members(void **state)
{
    static const struct answer t = {
        SHAPE_LIST,
        "VM [old]: a b\n   World ID: 1\n   Config: {a=b; c: d}{e}\n   Empty: \n   Lost:\n   Driver Info: \n"
        "         Bus Info: 0:1\n"
        "         Version: 2\n   After: x\n"
        "\n"
        "mpx.vmhba0:C0:T0:L0\n   World ID: 2\n   Device Type: Direct-Access \n   Driver Info: \n"
        "         Version: 3\n   After: y\n",
        DECODE_COMPLETE, 2,
        .records = {"Config={a=b; c: d}{e}|Empty=|Lost=|Driver Info/Bus Info=0:1|Driver Info/Version=2|Driver Info-|After=x",
                    "Device Type=Direct-Access"}};
    struct decoded d = expect_answer(*state, &t);

    assert_string_equal(d.form, "text blocks");
    assert_true(slice_eqz(d.records[0].id, "VM [old]: a b"));
    assert_true(slice_eqz(d.records[1].id, "mpx.vmhba0:C0:T0:L0"));
    assert_int_equal(d.records[1].line, 11);
}

static void list_of_structures_is_parted_by_blanks(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_LIST,
        "sw\n   Name: sw\n   DVPort: \n         Client: \n         Port ID: 0\n      \n         Client: vmk1\n"
        "         Port ID: 1\n"
        "   After: 1\n\nsw2\n   Name: sw2\n   DVPort:\n   After: 2\n",
        DECODE_COMPLETE, 2,
        .records = {"DVPort/Client[0]=|DVPort/Client[1]=vmk1|DVPort/Port ID[0]=0|DVPort/Port ID[1]=1|After=1", "DVPort="}});
}

static void list_leaves_out_what_belongs_to_no_entry(void **state)
{
    static const struct answer t[] = {
        {SHAPE_LIST, "   Name: lost\n   MTU: 1\n\nvmk1\n   Name: vmk1\n   MTU: 2\n", DECODE_PARTIAL, 1, .line = 1,
         .records = {"Name=vmk1"}},
        /* text of a value that went on at column 0 does not begin an entry */
        {SHAPE_LIST, "v\n   Name: v\n   Description: first\nsecond\n   Tags: t\n\nw\n   Name: w\n   Tags: u\n", DECODE_PARTIAL, 2,
         .records = {"Description!|Tags-", "Tags=u"}},
        /* the empty line alone is lost */
        {SHAPE_LIST, "v\n   Name: v\n   Tags: t\nw\n   Name: w\n   Tags: u\n", DECODE_PARTIAL, 2, .line = 4, .records = {"", "Tags=u"}},
        {SHAPE_LIST, "v\n   Name: v\n   Tags: t\n\nw\n   Name: w\n", DECODE_PARTIAL, 2, .line = 5, .why = "the last entry ends early"},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void list_whose_indents_are_lost_is_unusable(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_LIST,
        "vmk0\nName: vmk0\nMTU: 1500\nDriver Info:\nVersion: 1\n\nvmk1\nName: vmk1\nMTU: 9000\nDriver Info:\nVersion: 2\n",
        .state = DECODE_UNUSABLE});
}

static void entries_that_ran_together_are_left_out(void **state)
{
    static const struct answer t[] = {
        {SHAPE_LIST, "a\n   Name: a\n   MTU: 1\n   Name: b\n   MTU: 2\n   Only: b\n\nc\n   Name: c\n   MTU: 3\n",
         DECODE_PARTIAL, 1, .line = 4, .records = {"Name=c"}},
        {SHAPE_BLOCKS,
         "   Device Name: a\n   Speed: 1\n   Device Name: b\n   Speed: 2\n \n   Device Name: c\n   Speed: 3\n",
         DECODE_PARTIAL, 1, .line = 3, .records = {"Device Name=c"}},
        {SHAPE_BLOCKS, "   Device Name: a\n   Device Name: a\n   Speed: 1\n", DECODE_UNUSABLE, 0, .line = 2},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void blocks_begin_with_the_same_key(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_BLOCKS,
        "   Device Name: a\n   Firmware: 20.0 - Package Version: 20.1\n   Driver: x\n \n   Firmware: 2\n"
        "   Driver: y\n\n"
        "   Device Name: c\n   Firmware: 3\n   Driver: z\n",
        DECODE_PARTIAL, 2, .line = 5, .records = {"Firmware=20.0 - Package Version: 20.1", "Device Name=c|Driver=z"}});
}

static void object_takes_titles_indents_and_flush_copies(void **state)
{
    static const char *const copies[] = {
        "Platform Information\n   Product Name: P1\n   Vendor Name: V\n   IPMI Supported: false\n",
        "   Product Name: P1\n   Vendor Name: V\n   IPMI Supported: false\n",
        "  Product Name: P1\n  Vendor Name: V\n  IPMI Supported: false\n",
        "Product Name: P1\n   Vendor Name: V\n   IPMI Supported: false\n",
        "Product Name: P1\nVendor Name: V\nIPMI Supported: false\n",
        "Platform Information\nProduct Name: P1\nVendor Name: V\nIPMI Supported: false\n",
        "\xef\xbb\xbf[root@esx1:~] esxcli hardware platform get\r\nPlatform Information\r\n   Product Name: P1\r\n"
        "   Vendor Name: V\r\n   IPMI Supported: false\r\n[root@esx1:~] ",
        "~ # esxcli hardware platform get\n\n   Product Name: P1\n   Vendor Name: V\n   IPMI Supported: false\n~ #\n",
        "SMART And Health Info:\n   Product Name: P1\n   Vendor Name: V\n\n   IPMI Supported: false",
    };

    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        const struct answer wanted = {
            SHAPE_OBJECT, copies[i], DECODE_COMPLETE, 1, .records = {"Product Name=P1|Vendor Name=V|IPMI Supported=false"}};

        if (expect_answer(*state, &wanted).records[0].nfields != 3)
            fail_msg("not three fields in\n%s", copies[i]);
    }
}

static void object_whose_indents_are_lost_does_not_mix_up_structures(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_OBJECT, "Name: vmnic0\nMTU: 1\nDriver Info:\nVersion: 2.0\nWakeon: None\n", DECODE_PARTIAL, 1,
        .records = {"Name=vmnic0|MTU=1|Version!|Wakeon!"}});
}

static void object_marks_what_follows_a_repeated_key(void **state)
{
    static const struct answer t[] = {
        {SHAPE_OBJECT, "   A: 1\n   B: 2\n   A: 3\n   C: 4\n", DECODE_PARTIAL, 1, .records = {"C!|B=2"}},
        {SHAPE_OBJECT, "One\n   A: 1\nTwo\n   B: 2\n", DECODE_PARTIAL, 1, .line = 3, .records = {"B-"}},
    };
    struct decoded d = expect_answer(*state, &t[0]);

    assert_non_null(field_at(&d, 0, SLICE_LIT("A"), 1));
    (void)expect_answer(*state, &t[1]);
}

static void object_joins_a_description_of_several_lines(void **state)
{
    static const struct answer t[] = {
        {SHAPE_OBJECT,
         "(Updated) ESXi-8\n   Name: (Updated) ESXi-8\n   Stateless Ready: True\n   Description: \n\n"
         "      2014-01-21: The following VIBs are\n      installed:\n        scsi-x   6.6\n\n   VIBs: a, b\n",
         DECODE_COMPLETE, 1, .records = {"VIBs=a, b"}},
        /* without its key the text belongs to nothing */
        {SHAPE_OBJECT, "   Name: n\n   Stateless Ready: True\n\n      2014-01-21: The following VIBs are\n   VIBs: a, b\n",
         DECODE_PARTIAL, 1, .line = 4, .records = {"VIBs=a, b"}},
    };
    struct decoded d = expect_answer(*state, &t[0]);

    assert_true(slice_eqz(d.records[0].id, "(Updated) ESXi-8"));
    assert_int_equal(d.records[0].nfields, 4);
    assert_true(slice_starts(field_at(&d, 0, SLICE_LIT("Description"), 0)->text, "2014-01-21: The following"));
    (void)expect_answer(*state, &t[1]);
}

static void members_without_their_structure_are_left_out(void **state)
{
    static const struct answer t = {
        SHAPE_OBJECT, "   Level: 153\n         Bus Info: 0:1\n         Version: 2\n   Name: vmnic0\n     Odd: 1\n",
        DECODE_PARTIAL, 1, .line = 2, .records = {"Name!"}}; /* the odd line may be its text */

    assert_int_equal(expect_answer(*state, &t).records[0].nfields, 2);
}

/* --- any text --- */

static void a_last_line_without_end_is_not_believed(void **state)
{
    static const char *const cut[] = {"vmn", "4282541", "on", "off", "no", "Enable", ""};
    static const char *const whole[] = {"true", "False", "Enabled", "Disabled", "yes", "Up", "Down", "OK"};
    static const struct answer t[] = {
        {SHAPE_OBJECT, "   A: 1\n   Is SSD: true", DECODE_PARTIAL, 1, .cut = true, .records = {"Is SSD!"}},
        /* a disk of a TrueNAS */
        {SHAPE_OBJECT, "   Device Display Name: True", DECODE_PARTIAL, 1, .records = {"Device Display Name!"}},
        {SHAPE_TABLE, TABLE_HEAD "/vmfs/vols/aa  datastore1      true  VMFS-5     13197209", DECODE_COMPLETE, .n = 1},
        {SHAPE_TABLE, TABLE_HEAD "/vmfs/vols/aa  datastore1      true  VMFS-5  89013197209", DECODE_PARTIAL, 1,
         .records = {"Size!"}},
    };

    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        (void)expect_answer(*state, &(struct answer){
            SHAPE_OBJECT, arena_printf(*state, "   A: 1\n   Link Status: %s", cut[i]),
            DECODE_PARTIAL, 1, .records = {"A=1|Link Status!"}});
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        (void)expect_answer(*state, &(struct answer){
            SHAPE_OBJECT, arena_printf(*state, "   A: 1\n   Link Status: %s", whole[i]),
            DECODE_COMPLETE, 1, .records = {arena_printf(*state, "Link Status=%s", whole[i])}});
    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void a_value_alone_is_one_line(void **state)
{
    static const struct answer t[] = {
        {SHAPE_VALUE, "42825414367\n", DECODE_COMPLETE, 1, .records = {"value=42825414367"}},
        {SHAPE_VALUE, "\nDisabled", DECODE_COMPLETE, .n = 1},
        {SHAPE_VALUE, "428254", DECODE_PARTIAL, 1, .records = {"value!"}},
        {SHAPE_VALUE, "Enabled\nEnabled\n", DECODE_UNUSABLE, 0, .line = 2},
    };

    expect_answers(*state, t, sizeof t / sizeof *t);
}

static void an_empty_answer_is_unusable(void **state)
{
    static const char *const empty[] = {"", "\n\n", "  \n \r\n", "\xef\xbb\xbf",
        "[root@esx1:~] esxcli network nic list\n"};

    for (int shape = SHAPE_TABLE; shape <= SHAPE_VALUE; shape++)
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
            (void)expect_answer(*state, &(struct answer){
                (enum decode_shape)shape, empty[i], DECODE_UNUSABLE, .why = "empty answer", .columns = "Name|Driver"});
}

static void bytes_that_are_no_text_mark_their_field(void **state)
{
    static const struct answer t[] = {
        {SHAPE_OBJECT, "   A: \x1b[31mred\x1b[0m\n   B: caf\xe9\n   C: gr\xc3\xbcn\n", DECODE_PARTIAL, 1,
         .records = {"A!|B!|C=gr\xc3\xbcn"}},
        {SHAPE_TABLE, TABLE_HEAD "/vmfs/vols/aa  data\x01tore1      true  VMFS-5  89013197209\n", DECODE_PARTIAL, 1,
         .records = {"Volume Name!|Size=89013197209"}},
    };
    struct decode_opt o = {.shape = SHAPE_OBJECT};
    struct decoded d;

    expect_answers(*state, t, sizeof t / sizeof *t);
    assert_int_equal(decode_esxcli(SLICE_LIT("   A: 1 and more\n   B: a\0b\n   C: text\n"), &o, *state, &d), 0);
    expect_fields(&d, 0, "A=1 and more|B!", "a text with a zero byte");
    assert_int_equal(decode_esxcli(SLICE_LIT("\x7f""ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0"), &o, *state, &d), 0);
    assert_int_equal(d.state, DECODE_UNUSABLE);
    assert_int_equal(d.n, 0);
    assert_string_equal(d.why, "not text");
}

/* --- limits --- */

static void long_answers_stop_at_the_limits(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 20);
    struct arena *a = arena_new(256u << 20);
    struct decoded d;

    (void)state;
    buf_addz(&b, "A     B\n----  -\n");
    for (size_t i = 0; i < DECODE_MAX_RECORDS + 5; i++)
        buf_addz(&b, "abcd  b\n");
    (void)expect_answer(a, &(struct answer){
        SHAPE_TABLE, buf_z(&b), DECODE_PARTIAL, DECODE_MAX_RECORDS, .line = DECODE_MAX_RECORDS + 3});

    buf_reset(&b);
    for (size_t i = 0; i < DECODE_MAX_FIELDS + 5; i++)
        buf_printf(&b, "   Key %zu: 1\n", i);
    d = expect_answer(a, &(struct answer){SHAPE_OBJECT, buf_z(&b), DECODE_PARTIAL, 1, .line = DECODE_MAX_FIELDS + 1});
    assert_int_equal(d.records[0].nfields, DECODE_MAX_FIELDS);

    buf_reset(&b);
    buf_addz(&b, "   A: 1\n   B: ");
    for (size_t i = 0; i <= DECODE_MAX_LINE; i++)
        buf_addc(&b, 'x');
    buf_addz(&b, "\n   C: 2\n");
    (void)expect_answer(a, &(struct answer){SHAPE_OBJECT, buf_z(&b), DECODE_PARTIAL, 1, .line = 2, .records = {"A=1|B-|C-"}});
    arena_free(a);
}

static void a_cut_reply_is_partial(void **state)
{
    (void)expect_answer(*state, &(struct answer){
        SHAPE_TABLE, "Name    Driver\n------  ------\nvmnic0  ixgben\n", DECODE_PARTIAL, 1,
        .cut = true, .records = {"Driver=ixgben"}});
}

/* Lines as in excerpts of support bundles of 6.x and 7.0 on the web, and in one of plain esxcli 5.0 (the heading with a colon). */
static void localcli_writes_headings_of_its_own(void **state)
{
    static const char sas[] = "   Device Name: vmhba0\n   Firmware Version: 25.5.5.0005\n   Driver Name: lsi_mr3\n";
    static const char rule[] = "Name  IPv4 Address  IPv4 Netmask   Address Type  DHCP DNS\n"
                               "---------------------------------------------------------\n";
    const struct answer t[] = {
        {SHAPE_LIST, "naa.1:\n   Size: 8\n   Vendor: COMPELNT\n\nnaa.2:\n   Size: 9\n   Vendor: COMPELNT\n", DECODE_COMPLETE, 2,
         .records = {"Size=8|Vendor=COMPELNT", "Size=9"}},
        {SHAPE_BLOCKS, arena_printf(*state, "SasDevice:\n%s\nSasDevice:\n   Device Name: vmhba1\n   Firmware Version: 1\n   Driver Name: x\n", sas),
         DECODE_COMPLETE, 2, .records = {"Device Name=vmhba0|Firmware Version=25.5.5.0005|Driver Name=lsi_mr3", "Device Name=vmhba1"}},
        {SHAPE_BLOCKS, arena_printf(*state, "SasDevice:\n%s\nFcDevice:\n   Adapter: vmhba1\n", sas), DECODE_PARTIAL, 1, .line = 6},
        {SHAPE_BLOCKS, arena_printf(*state, "SasDevice:\n%s\nSasDevice:\n", sas), DECODE_PARTIAL, 1, .why = "an entry without fields"},
        {SHAPE_BLOCKS, arena_printf(*state, "SasDevice:\n%sError getting field DriverVersion\n", sas), DECODE_COMPLETE, 1,
         .records = {"Driver Name=lsi_mr3|Driver Version-"}},
        {SHAPE_TABLE, arena_printf(*state, "%svmk0  10.0.0.1      255.255.255.0  STATIC        false\n", rule), DECODE_COMPLETE, 1,
         .records = {"Name=vmk0|IPv4 Address=10.0.0.1|IPv4 Netmask=255.255.255.0|Address Type=STATIC|DHCP DNS=false"}},
        {SHAPE_TABLE, arena_printf(*state, "%svmk0  10.0.0.1      255.255.255.0  STATIC\n", rule), DECODE_PARTIAL, 1,
         .records = {"Name=vmk0|Address Type!"}},
        {SHAPE_TABLE, arena_printf(*state, "%svmk0  10.0.0.1  255.255.255.0  STATIC  false\n", rule), DECODE_UNUSABLE, 0, .line = 3},
        {SHAPE_TABLE, arena_printf(*state, "%s%s", rule, rule), DECODE_UNUSABLE, .n = 0},
    };
    struct decoded d;

    expect_answers(*state, t, sizeof t / sizeof *t);
    d = expect_answer(*state, &t[0]);
    assert_true(slice_eqz(d.records[0].id, "naa.1") && slice_eqz(d.records[1].id, "naa.2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(table_cuts_by_the_dash_line),
        T(table_columns_are_characters),
        T(localcli_writes_headings_of_its_own),
        T(table_leaves_out_rows_that_do_not_fit),
        T(table_takes_a_long_value_only_when_the_cells_prove_it),
        T(table_rows_that_end_early_lose_their_last_value),
        T(table_without_its_heading_is_unusable),
        T(table_heading_again_and_another_table_are_two_listings),
        T(table_that_passed_a_grep_is_read_by_its_heading_or_by_the_probe),
        T(list_reads_ids_values_and_nested_members),
        T(list_of_structures_is_parted_by_blanks),
        T(list_leaves_out_what_belongs_to_no_entry),
        T(list_whose_indents_are_lost_is_unusable),
        T(entries_that_ran_together_are_left_out),
        T(blocks_begin_with_the_same_key),
        T(object_takes_titles_indents_and_flush_copies),
        T(object_whose_indents_are_lost_does_not_mix_up_structures),
        T(object_marks_what_follows_a_repeated_key),
        T(object_joins_a_description_of_several_lines),
        T(members_without_their_structure_are_left_out),
        T(a_last_line_without_end_is_not_believed),
        T(a_value_alone_is_one_line),
        T(an_empty_answer_is_unusable),
        T(bytes_that_are_no_text_mark_their_field),
        T(long_answers_stop_at_the_limits),
        T(a_cut_reply_is_partial),
    };

    xml_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
