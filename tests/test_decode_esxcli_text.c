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
    struct decoded d = decode(state, SHAPE_TABLE, NULL,
        "HBA Name  Driver    Capabilities  Description\n"
        "--------  --------  ------------  -----------\n"
        "vmhba0    vmw_ahci                (0000:02:01.0) VMware  Virtual SATA Controller\n"
        "vmhba1                            \n");

    expect_state(&d, DECODE_COMPLETE, 2, 0);
    expect(&d, 0, "Driver", "vmw_ahci");
    expect(&d, 0, "Capabilities", "");
    expect(&d, 0, "Description", "(0000:02:01.0) VMware  Virtual SATA Controller");
    expect(&d, 1, "Driver", "");
    expect(&d, 1, "Description", "");
    d = decode(state, SHAPE_TABLE, NULL, TABLE_HEAD);
    expect_state(&d, DECODE_COMPLETE, 0, 0);
}

static void table_columns_are_characters(void **state)
{
    struct decoded d = decode(state, SHAPE_TABLE, NULL,
        TABLE_HEAD "/vmfs/vols/aa  Gr\xc3\xb6\xc3\x9f""e 2         true  VMFS-5  89013197209\n");

    expect_state(&d, DECODE_COMPLETE, 1, 0);
    expect(&d, 0, "Volume Name", "Gr\xc3\xb6\xc3\x9f""e 2");
    expect(&d, 0, "Mounted", "true");
    expect(&d, 0, "Size", "89013197209");
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
        char text[1024];
        struct decoded d;

        (void)snprintf(text, sizeof text, TABLE_HEAD "/vmfs/vols/bb                  true  vfat     4293591040\n"
            "%s", rows[i]);
        d = decode(state, SHAPE_TABLE, NULL, text);
        assert_int_equal(d.state, DECODE_PARTIAL);
        assert_int_equal(d.line, 4);
        expect(&d, 0, "Type", "vfat");
        if (d.n == 2) /* the third splits well, but its number may be cut */
            expect_damage(&d, 1, "Size");
    }
}

static void table_takes_a_long_value_only_when_the_cells_prove_it(void **state)
{
    struct decoded d = decode(state, SHAPE_TABLE, NULL,
        "Name    Driver  Link  Description\n------  ------  ----  -----------\n"
        "vmnic0  ixgben-a  Up    Card one\n" "vmnic1  ixgben-a        Card  two\n" "vmnic2  ixgben-abcdefghij  Up\n");

    expect_state(&d, DECODE_PARTIAL, 1, 4);
    expect(&d, 0, "Driver", "ixgben-a");
    expect(&d, 0, "Link", "Up");
    expect(&d, 0, "Description", "Card one");
}

static void table_rows_that_end_early_lose_their_last_value(void **state)
{
    struct decoded d = decode(state, SHAPE_TABLE, NULL,
        TABLE_HEAD "/vmfs/vols/aa  datas\n/vmfs/vols/bb  datastore2      true\n"
            "/vmfs/vols/cc  datastore3     false  VMFS-5  8901\n");

    expect_state(&d, DECODE_PARTIAL, 3, 3);
    expect(&d, 0, "Mount Point", "/vmfs/vols/aa");
    expect_damage(&d, 0, "Volume Name");
    expect_no(&d, 0, "Mounted");
    expect(&d, 1, "Mounted", "true"); /* it ends where its column ends */
    expect_no(&d, 1, "Type");
    expect(&d, 2, "Type", "VMFS-5");
    expect_damage(&d, 2, "Size"); /* right-aligned numbers end where their column ends */
}

static void table_without_its_heading_is_unusable(void **state)
{
    struct decoded d = decode(state, SHAPE_TABLE, "Name|Driver", "------  ------\nvmnic0  ixgben\n");

    expect_state(&d, DECODE_UNUSABLE, 0, 1);
    d = decode(state, SHAPE_TABLE, NULL, "Name    Driver\nvmnic0  ixgben\n");
    expect_state(&d, DECODE_UNUSABLE, 0, 0);
    /* a translated heading that no longer fits its dash line */
    d = decode(state, SHAPE_TABLE, NULL, "Bezeichnung  Treiber\n------  ------\nvmnic0  ixgben\n");
    expect_state(&d, DECODE_UNUSABLE, 0, 1);
    d = decode(state, SHAPE_TABLE, NULL, "Name    Driver  Speed\n------  ------\nvmnic0  ixgben     10\n");
    expect_state(&d, DECODE_UNUSABLE, 0, 1);
    d = decode(state, SHAPE_TABLE, NULL, "Name    Driver\n------  ---");
    expect_state(&d, DECODE_UNUSABLE, 0, 0);
}

static void table_heading_again_and_another_table_are_two_listings(void **state)
{
    struct decoded d = decode(state, SHAPE_TABLE, NULL,
        "Name    Driver\n------  ------\nvmnic0  ixgben\nName    Driver\n------  ------\nvmnic1  ixgben\n");

    expect_state(&d, DECODE_PARTIAL, 2, 5);
    d = decode(state, SHAPE_TABLE, NULL, /* no row between them: one listing */
        "Name    Driver\n------  ------\nName    Driver\n------  ------\nvmnic1  ixgben\n");
    expect_state(&d, DECODE_COMPLETE, 1, 0);
    d = decode(state, SHAPE_TABLE, NULL,
        "Name    Driver\n------  ------\nvmnic0  ixgben\nName      Driver\n--------  ------\nvmnic1    ixgben\n");
    expect_state(&d, DECODE_PARTIAL, 1, 4);
    d = decode(state, SHAPE_TABLE, NULL, "something else\nName    Driver\n------  ------\nvmnic0  ixgben\n");
    expect_state(&d, DECODE_PARTIAL, 1, 2);
}

static void table_that_passed_a_grep_is_read_by_its_heading_or_by_the_probe(void **state)
{
    static const char cols[] = "Name|Driver|Link|Speed|Description";
    struct decoded d = decode(state, SHAPE_TABLE, cols,
        "Name    Driver  Link  Speed  Description\nvmnic0  ixgbe   Up    10000  Intel  X540\n"
        "vmnic1          Down      0  I350 b\n"
        "vmnic2  x   Up    10000  shifted\n");

    expect_state(&d, DECODE_PARTIAL, 2, 1);
    expect(&d, 0, "Driver", "ixgbe");
    expect(&d, 0, "Description", "Intel  X540");
    expect(&d, 1, "Driver", "");
    expect(&d, 1, "Link", "Down");
    expect(&d, 1, "Speed", "0");
    d = decode(state, SHAPE_TABLE, cols,
        "vmnic0  ixgbe   Up    10000  Intel X540\nvmnic1          Down      0  I350 b\n"
        "vmnic3  igbn    Up        5  Card of 4\n");
    expect_state(&d, DECODE_PARTIAL, 2, 2);
    expect(&d, 1, "Name", "vmnic3");
    expect(&d, 1, "Description", "Card of 4");
    d = decode(state, SHAPE_TABLE, "Name|Is Loaded|Is Enabled",
        "qlnativefc                          true        true\n");
    expect_state(&d, DECODE_PARTIAL, 1, 0);
    expect(&d, 0, "Is Enabled", "true");
}

/* --- blocks --- */

static void list_reads_ids_values_and_nested_members(void **state)
{
    struct decoded d = decode(state, SHAPE_LIST, NULL,
        "VM [old]: a b\n   World ID: 1\n   Config: {a=b; c: d}{e}\n   Empty: \n   Lost:\n   Driver Info: \n"
        "         Bus Info: 0:1\n"
        "         Version: 2\n   After: x\n"
        "\n"
        "mpx.vmhba0:C0:T0:L0\n   World ID: 2\n   Device Type: Direct-Access \n   Driver Info: \n"
        "         Version: 3\n   After: y\n");

    expect_state(&d, DECODE_COMPLETE, 2, 0);
    assert_string_equal(d.form, "text blocks");
    assert_true(slice_eqz(d.records[0].id, "VM [old]: a b"));
    expect(&d, 0, "Config", "{a=b; c: d}{e}");
    expect(&d, 0, "Empty", "");
    expect(&d, 0, "Lost", "");
    expect(&d, 0, "Driver Info/Bus Info", "0:1");
    expect(&d, 0, "Driver Info/Version", "2");
    expect_no(&d, 0, "Driver Info");
    expect(&d, 0, "After", "x");
    assert_true(slice_eqz(d.records[1].id, "mpx.vmhba0:C0:T0:L0"));
    expect(&d, 1, "Device Type", "Direct-Access");
    assert_int_equal(d.records[1].line, 11);
}

static void list_of_structures_is_parted_by_blanks(void **state)
{
    struct decoded d = decode(state, SHAPE_LIST, NULL,
        "sw\n   Name: sw\n   DVPort: \n         Client: \n         Port ID: 0\n      \n         Client: vmk1\n"
        "         Port ID: 1\n"
        "   After: 1\n\nsw2\n   Name: sw2\n   DVPort:\n   After: 2\n");

    expect_state(&d, DECODE_COMPLETE, 2, 0);
    expect_member(&d, 0, "DVPort/Client", 0, "");
    expect_member(&d, 0, "DVPort/Client", 1, "vmk1");
    expect_member(&d, 0, "DVPort/Port ID", 0, "0");
    expect_member(&d, 0, "DVPort/Port ID", 1, "1");
    expect(&d, 0, "After", "1");
    expect(&d, 1, "DVPort", "");
}

static void list_leaves_out_what_belongs_to_no_entry(void **state)
{
    struct decoded d = decode(state, SHAPE_LIST, NULL, "   Name: lost\n   MTU: 1\n\nvmk1\n   Name: vmk1\n"
        "   MTU: 2\n");

    expect_state(&d, DECODE_PARTIAL, 1, 1);
    expect(&d, 0, "Name", "vmk1");
    /* text of a value that went on at column 0 does not begin an entry */
    d = decode(state, SHAPE_LIST, NULL, "v\n   Name: v\n   Description: first\nsecond\n   Tags: t\n\nw\n"
        "   Name: w\n   Tags: u\n");
    expect_state(&d, DECODE_PARTIAL, 2, 0);
    expect_damage(&d, 0, "Description");
    expect_no(&d, 0, "Tags");
    expect(&d, 1, "Tags", "u");
    /* the empty line alone is lost */
    d = decode(state, SHAPE_LIST, NULL, "v\n   Name: v\n   Tags: t\nw\n   Name: w\n   Tags: u\n");
    expect_state(&d, DECODE_PARTIAL, 2, 4);
    expect(&d, 1, "Tags", "u");
    d = decode(state, SHAPE_LIST, NULL, "v\n   Name: v\n   Tags: t\n\nw\n   Name: w\n");
    expect_state(&d, DECODE_PARTIAL, 2, 5);
    assert_string_equal(d.why, "the last entry ends early");
}

static void list_whose_indents_are_lost_is_unusable(void **state)
{
    struct decoded d = decode(state, SHAPE_LIST, NULL,
        "vmk0\nName: vmk0\nMTU: 1500\nDriver Info:\nVersion: 1\n\nvmk1\nName: vmk1\nMTU: 9000\nDriver Info:\n"
        "Version: 2\n");

    expect_state(&d, DECODE_UNUSABLE, 0, 0);
}

static void entries_that_ran_together_are_left_out(void **state)
{
    struct decoded d = decode(state, SHAPE_LIST, NULL,
        "a\n   Name: a\n   MTU: 1\n   Name: b\n   MTU: 2\n   Only: b\n\nc\n   Name: c\n   MTU: 3\n");

    expect_state(&d, DECODE_PARTIAL, 1, 4);
    expect(&d, 0, "Name", "c");
    d = decode(state, SHAPE_BLOCKS, NULL,
        "   Device Name: a\n   Speed: 1\n   Device Name: b\n   Speed: 2\n \n   Device Name: c\n   Speed: 3\n");
    expect_state(&d, DECODE_PARTIAL, 1, 3);
    expect(&d, 0, "Device Name", "c");
    d = decode(state, SHAPE_BLOCKS, NULL, "   Device Name: a\n   Device Name: a\n   Speed: 1\n");
    expect_state(&d, DECODE_UNUSABLE, 0, 2);
}

static void blocks_begin_with_the_same_key(void **state)
{
    struct decoded d = decode(state, SHAPE_BLOCKS, NULL,
        "   Device Name: a\n   Firmware: 20.0 - Package Version: 20.1\n   Driver: x\n \n   Firmware: 2\n"
        "   Driver: y\n\n"
        "   Device Name: c\n   Firmware: 3\n   Driver: z\n");

    expect_state(&d, DECODE_PARTIAL, 2, 5);
    expect(&d, 0, "Firmware", "20.0 - Package Version: 20.1");
    expect(&d, 1, "Device Name", "c");
    expect(&d, 1, "Driver", "z");
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
        struct decoded d = decode(state, SHAPE_OBJECT, NULL, copies[i]);

        expect_state(&d, DECODE_COMPLETE, 1, 0);
        expect(&d, 0, "Product Name", "P1");
        expect(&d, 0, "Vendor Name", "V");
        expect(&d, 0, "IPMI Supported", "false");
        assert_int_equal(d.records[0].nfields, 3);
    }
}

static void object_whose_indents_are_lost_does_not_mix_up_structures(void **state)
{
    struct decoded d = decode(state, SHAPE_OBJECT, NULL, "Name: vmnic0\nMTU: 1\nDriver Info:\nVersion: 2.0\n"
        "Wakeon: None\n");

    expect(&d, 0, "Name", "vmnic0");
    expect(&d, 0, "MTU", "1");
    expect_damage(&d, 0, "Version");
    expect_damage(&d, 0, "Wakeon");
}

static void object_marks_what_follows_a_repeated_key(void **state)
{
    struct decoded d = decode(state, SHAPE_OBJECT, NULL, "   A: 1\n   B: 2\n   A: 3\n   C: 4\n");

    expect_damage(&d, 0, "C");
    expect(&d, 0, "B", "2");
    assert_non_null(field_at(&d, 0, "A", 1));
    d = decode(state, SHAPE_OBJECT, NULL, "One\n   A: 1\nTwo\n   B: 2\n");
    expect_state(&d, DECODE_PARTIAL, 1, 3);
    expect_no(&d, 0, "B");
}

static void object_joins_a_description_of_several_lines(void **state)
{
    struct decoded d = decode(state, SHAPE_OBJECT, NULL,
        "(Updated) ESXi-8\n   Name: (Updated) ESXi-8\n   Stateless Ready: True\n   Description: \n\n"
        "      2014-01-21: The following VIBs are\n      installed:\n        scsi-x   6.6\n\n   VIBs: a, b\n");

    expect_state(&d, DECODE_COMPLETE, 1, 0);
    assert_true(slice_eqz(d.records[0].id, "(Updated) ESXi-8"));
    expect(&d, 0, "VIBs", "a, b");
    assert_int_equal(d.records[0].nfields, 4);
    assert_true(slice_starts(field_at(&d, 0, "Description", 0)->text, "2014-01-21: The following"));
    /* without its key the text belongs to nothing */
    d = decode(state, SHAPE_OBJECT, NULL,
        "   Name: n\n   Stateless Ready: True\n\n      2014-01-21: The following VIBs are\n   VIBs: a, b\n");
    expect_state(&d, DECODE_PARTIAL, 1, 4);
    expect(&d, 0, "VIBs", "a, b");
}

static void members_without_their_structure_are_left_out(void **state)
{
    struct decoded d = decode(state, SHAPE_OBJECT, NULL,
        "   Level: 153\n         Bus Info: 0:1\n         Version: 2\n   Name: vmnic0\n     Odd: 1\n");

    expect_state(&d, DECODE_PARTIAL, 1, 2);
    assert_int_equal(d.records[0].nfields, 2);
    expect_damage(&d, 0, "Name"); /* the odd line may be its text */
}

/* --- any text --- */

static void a_last_line_without_end_is_not_believed(void **state)
{
    static const char *const cut[] = {"vmn", "4282541", "on", "off", "no", "Enable", ""};
    static const char *const whole[] = {"true", "False", "Enabled", "Disabled", "yes", "Up", "Down", "OK"};
    struct decode_opt o = {.shape = SHAPE_OBJECT, .cut = true};
    struct decoded d;

    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        d = decode(state, SHAPE_OBJECT, NULL, arena_printf(*state, "   A: 1\n   Link Status: %s", cut[i]));
        expect(&d, 0, "A", "1");
        expect_damage(&d, 0, "Link Status");
    }
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        d = decode(state, SHAPE_OBJECT, NULL, arena_printf(*state, "   A: 1\n   Link Status: %s", whole[i]));
        expect_state(&d, DECODE_COMPLETE, 1, 0);
        expect(&d, 0, "Link Status", whole[i]);
    }
    assert_int_equal(decode_esxcli(SLICE_LIT("   A: 1\n   Is SSD: true"), &o, *state, &d), 0);
    expect_damage(&d, 0, "Is SSD");
    d = decode(state, SHAPE_OBJECT, NULL, "   Device Display Name: True"); /* a disk of a TrueNAS */
    expect_damage(&d, 0, "Device Display Name");
    d = decode(state, SHAPE_TABLE, NULL, TABLE_HEAD "/vmfs/vols/aa  datastore1      true  VMFS-5     13197209");
    expect_state(&d, DECODE_COMPLETE, 1, 0);
    d = decode(state, SHAPE_TABLE, NULL, TABLE_HEAD "/vmfs/vols/aa  datastore1      true  VMFS-5  89013197209");
    expect_damage(&d, 0, "Size");
}

static void a_value_alone_is_one_line(void **state)
{
    struct decoded d = decode(state, SHAPE_VALUE, NULL, "42825414367\n");

    expect_state(&d, DECODE_COMPLETE, 1, 0);
    expect(&d, 0, "value", "42825414367");
    d = decode(state, SHAPE_VALUE, NULL, "\nDisabled");
    expect_state(&d, DECODE_COMPLETE, 1, 0);
    d = decode(state, SHAPE_VALUE, NULL, "428254");
    expect_damage(&d, 0, "value");
    d = decode(state, SHAPE_VALUE, NULL, "Enabled\nEnabled\n");
    expect_state(&d, DECODE_UNUSABLE, 0, 2);
}

static void an_empty_answer_is_unusable(void **state)
{
    static const char *const empty[] = {"", "\n\n", "  \n \r\n", "\xef\xbb\xbf",
        "[root@esx1:~] esxcli network nic list\n"};

    for (int shape = SHAPE_TABLE; shape <= SHAPE_VALUE; shape++)
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
            struct decoded d = decode(state, (enum decode_shape)shape, "Name|Driver", empty[i]);

            expect_state(&d, DECODE_UNUSABLE, 0, 0);
            assert_string_equal(d.why, "empty answer");
        }
}

static void bytes_that_are_no_text_mark_their_field(void **state)
{
    struct decode_opt o = {.shape = SHAPE_OBJECT};
    struct decoded d = decode(state, SHAPE_OBJECT, NULL, "   A: \x1b[31mred\x1b[0m\n   B: caf\xe9\n"
        "   C: gr\xc3\xbcn\n");

    expect_damage(&d, 0, "A");
    expect_damage(&d, 0, "B");
    expect(&d, 0, "C", "gr\xc3\xbcn");
    assert_int_equal(decode_esxcli(SLICE_LIT("   A: 1 and more\n   B: a\0b\n   C: text\n"), &o, *state, &d), 0);
    expect(&d, 0, "A", "1 and more");
    expect_damage(&d, 0, "B");
    assert_int_equal(decode_esxcli(SLICE_LIT("\x7f""ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0"), &o, *state, &d), 0);
    expect_state(&d, DECODE_UNUSABLE, 0, 0);
    assert_string_equal(d.why, "not text");
    d = decode(state, SHAPE_TABLE, NULL, TABLE_HEAD "/vmfs/vols/aa  data\x01tore1      true  VMFS-5  89013197209\n");
    expect_damage(&d, 0, "Volume Name");
    expect(&d, 0, "Size", "89013197209");
}

/* --- limits --- */

static void long_answers_stop_at_the_limits(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 20);
    struct arena *a = arena_new(256u << 20);
    struct decode_opt o = {.shape = SHAPE_TABLE};
    struct decoded d;

    (void)state;
    buf_addz(&b, "A     B\n----  -\n");
    for (size_t i = 0; i < DECODE_MAX_RECORDS + 5; i++)
        buf_addz(&b, "abcd  b\n");
    assert_int_equal(decode_esxcli(buf_slice(&b), &o, a, &d), 0);
    expect_state(&d, DECODE_PARTIAL, DECODE_MAX_RECORDS, DECODE_MAX_RECORDS + 3);

    buf_reset(&b);
    for (size_t i = 0; i < DECODE_MAX_FIELDS + 5; i++)
        buf_printf(&b, "   Key %zu: 1\n", i);
    o.shape = SHAPE_OBJECT;
    assert_int_equal(decode_esxcli(buf_slice(&b), &o, a, &d), 0);
    expect_state(&d, DECODE_PARTIAL, 1, DECODE_MAX_FIELDS + 1);
    assert_int_equal(d.records[0].nfields, DECODE_MAX_FIELDS);

    buf_reset(&b);
    buf_addz(&b, "   A: 1\n   B: ");
    for (size_t i = 0; i <= DECODE_MAX_LINE; i++)
        buf_addc(&b, 'x');
    buf_addz(&b, "\n   C: 2\n");
    assert_int_equal(decode_esxcli(buf_slice(&b), &o, a, &d), 0);
    expect_state(&d, DECODE_PARTIAL, 1, 2);
    expect(&d, 0, "A", "1");
    expect_no(&d, 0, "B");
    expect_no(&d, 0, "C");
    arena_free(a);
}

static void a_cut_reply_is_partial(void **state)
{
    struct decode_opt o = {.shape = SHAPE_TABLE, .cut = true};
    struct decoded d;

    assert_int_equal(decode_esxcli(SLICE_LIT("Name    Driver\n------  ------\nvmnic0  ixgben\n"), &o, *state, &d), 0);
    expect_state(&d, DECODE_PARTIAL, 1, 0);
    expect(&d, 0, "Driver", "ixgben");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(table_cuts_by_the_dash_line),
        T(table_columns_are_characters),
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
