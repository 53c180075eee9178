/*
 * The promise of decode_esxcli under damage: an answer of three objects, in each form, is cut, doubled, reordered and
 * translated line by line and cut at every byte. A field that is still there, once and without damage, must hold its
 * own object's value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/xml.h"
#include "decode/decode.h"

#define ARENA_BYTES (16u << 20)

struct form {
    const char *name, *text;
    struct decode_opt opt;
    const char *key;        /* the field that tells objects apart */
    const char *objects[4]; /* "Key=value|Key=value", ended by NULL */
    char label_end;         /* labels stand before this character; 0: on the first line alone */
    bool shows_names;       /* an object with another name was made up */
    bool whole_document;    /* the form shows every cut: only white space may be missing from a complete answer */
};

#define NIC0                                                                                  \
    "Name=vmnic0|PCI Device=0000:01:00.0|Driver=ixgbe|Link Status=Up|Speed=10000|MTU=1500|" \
    "Description=Intel(R) X540, a"
#define NIC1                                                                                \
    "Name=vmnic1|PCI Device=0000:01:00.1|Driver=igbn|Link Status=Down|Speed=0|MTU=9000|" \
    "Description=Intel I350 b"
#define NIC2 "Name=vmnic2|PCI Device=0000:06:00.0|Driver=|Link Status=Up|Speed=1000|MTU=1501|Description=Third card"
#define NICS {NIC0, NIC1, NIC2, NULL}

static const struct form forms[] = {
    {"table",
     "Name    PCI Device    Driver  Link Status  Speed   MTU  Description\n"
     "------  ------------  ------  -----------  -----  ----  -----------\n"
     "vmnic0  0000:01:00.0  ixgbe   Up           10000  1500  Intel(R) X540, a\n"
     "vmnic1  0000:01:00.1  igbn    Down             0  9000  Intel I350 b\n"
     "vmnic2  0000:06:00.0          Up            1000  1501  Third card\n",
     {.shape = SHAPE_TABLE, .columns = "Name|PCI Device|Driver|Link Status|Speed|MTU|Description"}, "Name", NICS,
         0, true, false},
    {"table whose last column is right-aligned",
     "Mount Point    Volume Name  Mounted  Type           Size          Free\n"
     "-------------  -----------  -------  ------  -----------  ------------\n"
     "/vmfs/vols/aa  datastore1      true  VMFS-5  89013197209  156750577664\n"
     "/vmfs/vols/bb                  true  vfat     4293591040        939456\n"
     "/vmfs/vols/cc  Gr\xc3\xb6\xc3\x9f""e zwei     false  NFS               0             0\n",
     {.shape = SHAPE_TABLE}, "Mount Point",
     {"Mount Point=/vmfs/vols/aa|Volume Name=datastore1|Mounted=true|Type=VMFS-5|Size=89013197209|Free=156750577664",
      "Mount Point=/vmfs/vols/bb|Volume Name=|Mounted=true|Type=vfat|Size=4293591040|Free=939456",
      "Mount Point=/vmfs/vols/cc|Volume Name=Gr\xc3\xb6\xc3\x9f""e zwei|Mounted=false|Type=NFS|Size=0|Free=0",
      NULL}, 0, true, false},
    {"list",
     "vmk0\n"
     "   Name: vmk0\n   MAC Address: 00:50:56:00:00:16\n   Enabled: true\n   Portgroup: Management\n"
     "   VDS Name: \n   MTU: 1500\n   Driver Info: \n         Bus Info: 0000:01:00:0\n         Version: 1.0\n"
     "   Port ID: 33\n"
     "\n"
     "vmk1\n"
     "   Name: vmk1\n   MAC Address: 00:50:56:00:00:17\n   Enabled: false\n   Portgroup: vMotion: a\n"
     "   VDS Name: \n   MTU: 9000\n   Driver Info: \n         Bus Info: 0000:02:00:0\n         Version: 2.0\n"
     "   Port ID: 34\n"
     "\n"
     "vmk2\n"
     "   Name: vmk2\n   MAC Address: 00:50:56:00:00:18\n   Enabled: true\n   Portgroup: N/A\n"
     "   VDS Name: sw\n   MTU: 1501\n   Driver Info: \n         Bus Info: 0000:03:00:0\n         Version: 3.0\n"
     "   Port ID: 35\n",
     {.shape = SHAPE_LIST}, "Name",
     {"Name=vmk0|MAC Address=00:50:56:00:00:16|Enabled=true|Portgroup=Management|VDS Name=|MTU=1500|"
      "Driver Info/Bus Info=0000:01:00:0|Driver Info/Version=1.0|Port ID=33",
      "Name=vmk1|MAC Address=00:50:56:00:00:17|Enabled=false|Portgroup=vMotion: a|VDS Name=|MTU=9000|"
      "Driver Info/Bus Info=0000:02:00:0|Driver Info/Version=2.0|Port ID=34",
      "Name=vmk2|MAC Address=00:50:56:00:00:18|Enabled=true|Portgroup=N/A|VDS Name=sw|MTU=1501|"
      "Driver Info/Bus Info=0000:03:00:0|Driver Info/Version=3.0|Port ID=35", NULL}, ':', true, false},
    {"blocks",
     "   Device Name: vmhba2\n   SAS Address: 50:06:01\n   OptionROM Version:\n   Driver Version: 19.1\n"
     " \n"
     "   Device Name: vmhba3\n   SAS Address: 50:06:02\n   OptionROM Version: 8\n   Driver Version: 19.2\n"
     " \n"
     "   Device Name: vmhba4\n   SAS Address: 50:06:03\n   OptionROM Version:\n   Driver Version: 19.3\n",
     {.shape = SHAPE_BLOCKS}, "Device Name",
     {"Device Name=vmhba2|SAS Address=50:06:01|OptionROM Version=|Driver Version=19.1",
      "Device Name=vmhba3|SAS Address=50:06:02|OptionROM Version=8|Driver Version=19.2",
      "Device Name=vmhba4|SAS Address=50:06:03|OptionROM Version=|Driver Version=19.3", NULL}, ':', true, false},
    {"object",
     "   Link Detected: true\n   Cable Type: \n   Driver Info: \n         Bus Info: 0000:02:01:0\n"
     "         Driver: nvmxnet3\n"
     "         Version: 2.0.0.31\n   Link Status: Up \n   Name: vmnic0\n   Transceiver: \n   Wakeon: None\n",
     {.shape = SHAPE_OBJECT}, "Name",
     {"Link Detected=true|Cable Type=|Driver Info/Bus Info=0000:02:01:0|Driver Info/Driver=nvmxnet3|"
      "Driver Info/Version=2.0.0.31|Link Status=Up|Name=vmnic0|Transceiver=|Wakeon=None", NULL}, ':', true, false},
    {"xml",
     "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
     "<output xmlns=\"http://www.vmware.com/Products/ESX/5.0/esxcli\">\n<root>\n   <list type=\"structure\">\n"
     "      <structure typeName=\"Nic\">\n"
     "         <field name=\"Driver\">\n            <string>a</string>\n         </field>\n"
     "         <field name=\"Info\">\n            <structure typeName=\"I\">\n"
     "               <field name=\"Version\">\n                  <string>1.0</string>\n               </field>\n"
     "            </structure>\n         </field>\n"
     "         <field name=\"MTU\">\n            <integer>1500</integer>\n         </field>\n"
     "         <field name=\"Name\">\n            <string>vmnic0</string>\n         </field>\n      </structure>\n"
     "      <structure typeName=\"Nic\">\n"
     "         <field name=\"Driver\">\n            <string>b</string>\n         </field>\n"
     "         <field name=\"Info\">\n            <structure typeName=\"I\">\n"
     "               <field name=\"Version\">\n                  <string>2.0</string>\n               </field>\n"
     "            </structure>\n         </field>\n"
     "         <field name=\"MTU\">\n            <integer>9000</integer>\n         </field>\n"
     "         <field name=\"Name\">\n            <string>vmnic1</string>\n         </field>\n      </structure>\n"
     "      <structure typeName=\"Nic\">\n"
     "         <field name=\"Driver\">\n            <string></string>\n         </field>\n"
     "         <field name=\"Info\">\n            <structure typeName=\"I\">\n"
     "               <field name=\"Version\">\n                  <string>3.0</string>\n               </field>\n"
     "            </structure>\n         </field>\n"
     "         <field name=\"MTU\">\n            <integer>1501</integer>\n         </field>\n"
     "         <field name=\"Name\">\n            <string>vmnic2</string>\n         </field>\n      </structure>\n"
     "   </list>\n</root>\n</output>\n",
     {.shape = SHAPE_TABLE}, "Name",
     {"Name=vmnic0|Driver=a|MTU=1500|Info/Version=1.0", "Name=vmnic1|Driver=b|MTU=9000|Info/Version=2.0",
      "Name=vmnic2|Driver=|MTU=1501|Info/Version=3.0", NULL}, '>', true, true},
    {"json",
     "[\n{\n\"Driver\": \"a\",\n\"Info\": {\n\"Version\": \"1.0\"\n},\n\"MTU\": 1500,\n\"Name\": \"vmnic0\"\n},\n"
     "{\n\"Driver\": \"b\",\n\"Info\": {\n\"Version\": \"2.0\"\n},\n\"MTU\": 9000,\n\"Name\": \"vmnic1\"\n},\n"
     "{\n\"Driver\": \"\",\n\"Info\": {\n\"Version\": \"3.0\"\n},\n\"MTU\": 1501,\n\"Name\": \"vmnic2\"\n}\n]\n",
     {.shape = SHAPE_TABLE}, "Name",
     {"Name=vmnic0|Driver=a|MTU=1500|Info/Version=1.0", "Name=vmnic1|Driver=b|MTU=9000|Info/Version=2.0",
      "Name=vmnic2|Driver=|MTU=1501|Info/Version=3.0", NULL}, ':', true, true},
    {"keyvalue",
     "structure[0].Nic.Driver.string=ixgbe\nstructure[0].Nic.Link.boolean=true\nstructure[0].Nic.MTU.integer=1500\n"
     "structure[0].Nic.Name.string=vmnic0\n"
     "structure[1].Nic.Driver.string=igbn\nstructure[1].Nic.Link.boolean=false\nstructure[1].Nic.MTU.integer=9000\n"
     "structure[1].Nic.Name.string=vmnic1\n"
     "structure[2].Nic.Driver.string=\nstructure[2].Nic.Link.boolean=true\nstructure[2].Nic.MTU.integer=1501\n"
     "structure[2].Nic.Name.string=vmnic2\n",
     {.shape = SHAPE_TABLE}, "Name",
     {"Name=vmnic0|Driver=ixgbe|Link=true|MTU=1500", "Name=vmnic1|Driver=igbn|Link=false|MTU=9000",
      "Name=vmnic2|Driver=|Link=true|MTU=1501", NULL}, '=', true, false},
    {"csv",
     "Description,Driver,MTU,Name,\n"
     "\"Intel, a\",ixgbe,1500,vmnic0,\n"
     "\"b\nsecond \"\"line\"\"\",igbn,9000,vmnic1,\n"
     "c,,1501,vmnic2,\n",
     {.shape = SHAPE_TABLE}, "Name",
     {"Name=vmnic0|Driver=ixgbe|MTU=1500|Description=Intel, a",
      "Name=vmnic1|Driver=igbn|MTU=9000|Description=b\nsecond \"line\"",
      "Name=vmnic2|Driver=|MTU=1501|Description=c", NULL},
     0, true, false},
};

#define NFORMS (sizeof forms / sizeof *forms)

/* --- expected values --- */

/* The value of a key in "Key=value|Key=value". */
static bool expected(const char *object, struct slice key, struct slice *value)
{
    struct slice rest = slice_of(object), pair;

    while (slice_next_word(&rest, "|", &pair)) {
        size_t eq = slice_find_char(pair, 0, '=');

        if (decode_key_eq(slice_cut(pair, 0, eq), key)) {
            *value = slice_from(pair, eq + 1);
            return true;
        }
    }
    return false;
}

static const struct field *only_field(const struct record *r, struct slice key)
{
    const struct field *found = NULL;

    for (uint32_t i = 0; i < r->nfields; i++) {
        if (!decode_key_eq(r->fields[i].key, key))
            continue;
        if (found)
            return NULL;
        found = &r->fields[i];
    }
    return found && !found->damage ? found : NULL;
}

/* The object that the record claims to be, by its key or, without one, by its id. NULL when it claims nothing. */
static const char *object_of(const struct form *f, const struct record *r, bool *bogus)
{
    const struct field *key = only_field(r, slice_of(f->key));
    struct slice claim = key ? key->text : r->id, value;

    *bogus = false;
    for (size_t i = 0; claim.n && f->objects[i]; i++)
        if (expected(f->objects[i], slice_of(f->key), &value) && slice_eq(value, claim))
            return f->objects[i];
    *bogus = claim.n > 0;
    return NULL;
}

static void check_record(const struct form *f, const struct record *r, const char *what, struct slice in)
{
    bool bogus;
    const char *object = object_of(f, r, &bogus);
    struct slice want;

    if (bogus && f->shows_names && strcmp(what, "labels translated") != 0) {
        print_message("%s, %s: no such object in\n%.*s\n", f->name, what, SLICE_ARG(in));
        fail();
    }
    for (uint32_t i = 0; object && i < r->nfields; i++) {
        const struct field *x = &r->fields[i];

        if (only_field(r, x->key) != x || !expected(object, x->key, &want) || slice_eq(want, x->text))
            continue;
        print_message("%s, %s: \"%.*s\" is \"%.*s\", not \"%.*s\", in\n%.*s\n", f->name, what, SLICE_ARG(x->key),
                      SLICE_ARG(x->text), SLICE_ARG(want), SLICE_ARG(in));
        fail();
    }
}

/* Decode damaged text; returns its state. */
static enum decode_state check(const struct form *f, struct slice in, const char *what)
{
    struct arena *a = arena_new(ARENA_BYTES);
    struct decoded d;

    assert_int_equal(decode_esxcli(in, &f->opt, a, &d), 0);
    if (d.state != DECODE_COMPLETE)
        assert_non_null(d.why);
    for (size_t i = 0; i < d.n; i++)
        check_record(f, &d.records[i], what, in);
    arena_free(a);
    return d.state;
}

/* --- mutations --- */

struct lines {
    struct slice v[256];
    size_t n;
};

static struct lines lines_of(const char *text)
{
    struct slice rest = slice_of(text), line;
    struct lines l = {.n = 0};

    while (slice_next_line(&rest, &line, NULL))
        l.v[l.n++] = line;
    return l;
}

static struct lines without(struct lines l, size_t from, size_t n)
{
    memmove(&l.v[from], &l.v[from + n], (l.n - from - n) * sizeof *l.v);
    l.n -= n;
    return l;
}

static enum decode_state check_lines(const struct form *f, struct lines l, const char *what)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);

    for (size_t i = 0; i < l.n; i++) {
        buf_add(&b, l.v[i]);
        buf_addc(&b, '\n');
    }
    return check(f, buf_slice(&b), what);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Every word of the labels in the line becomes another word. */
static void translate(struct slice line, char label_end, const char *word, struct buf *out)
{
    size_t end = label_end ? slice_find_char(line, 0, label_end) : line.n;

    buf_reset(out);
    for (size_t i = 0; i < line.n; i++) {
        if ((end == SIZE_MAX || i < end) && is_letter(line.p[i])) {
            buf_addz(out, word);
            while (i + 1 < line.n && is_letter(line.p[i + 1]))
                i++;
        } else {
            buf_addc(out, line.p[i]);
        }
    }
}

static void whole_answers_are_complete_and_have_all_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        const struct form *f = &forms[i];
        struct arena *a = arena_new(ARENA_BYTES);
        struct decoded d;
        size_t n = 0;

        assert_int_equal(decode_esxcli(slice_of(f->text), &f->opt, a, &d), 0);
        if (d.state != DECODE_COMPLETE)
            fail_msg("%s: %s, line %u", f->name, d.why, d.line);
        while (f->objects[n])
            n++;
        assert_int_equal(d.n, n);
        for (size_t k = 0; k < n; k++) {
            struct slice rest = slice_of(f->objects[k]), pair;
            bool bogus;

            assert_ptr_equal(object_of(f, &d.records[k], &bogus), f->objects[k]);
            while (slice_next_word(&rest, "|", &pair))
                if (!only_field(&d.records[k], slice_cut(pair, 0, slice_find_char(pair, 0, '='))))
                    fail_msg("%s: no field %.*s", f->name, SLICE_ARG(pair));
            check_record(f, &d.records[k], "whole", slice_of(f->text));
        }
        arena_free(a);
    }
}

static void a_deleted_line_gives_no_wrong_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        struct lines l = lines_of(forms[i].text);

        for (size_t k = 0; k < l.n; k++)
            (void)check_lines(&forms[i], without(l, k, 1), "line deleted");
    }
}

/* Where every line says what it belongs to, any number of lines may be missing. */
static void a_hole_gives_no_wrong_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        struct lines l = lines_of(forms[i].text);

        if (strncmp(forms[i].name, "table", 5) != 0 && strcmp(forms[i].name, "keyvalue") != 0)
            continue;
        for (size_t k = 0; k < l.n; k++)
            for (size_t n = 1; k + n < l.n; n++)
                (void)check_lines(&forms[i], without(l, k, n), "hole");
    }
}

static void a_doubled_line_gives_no_wrong_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        struct lines l = lines_of(forms[i].text);

        for (size_t k = 0; k < l.n; k++) {
            struct lines m = l;

            memmove(&m.v[k + 1], &m.v[k], (m.n - k) * sizeof *m.v);
            m.n++;
            (void)check_lines(&forms[i], m, "line doubled");
        }
    }
}

/* In XML and JSON two lines further apart may be two names or two values: no form shows that. */
static void swapped_lines_give_no_wrong_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        struct lines l = lines_of(forms[i].text);

        for (size_t k = 0; k < l.n; k++)
            for (size_t with = k + 1; with < l.n && with <= k + (forms[i].whole_document ? 1 : 3); with++) {
                struct lines m = l;

                m.v[k] = l.v[with];
                m.v[with] = l.v[k];
                (void)check_lines(&forms[i], m, "lines swapped");
            }
    }
}

static void translated_labels_give_no_wrong_value(void **state)
{
    static const char *const words[] = {"Bezeichnung", "Nom", "x"};

    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        struct lines l = lines_of(forms[i].text);
        _cleanup_(buf_done) struct buf t = BUF_INIT(1u << 16);

        for (size_t k = 0; k < (forms[i].label_end ? l.n : 2); k++)
            for (size_t w = 0; w < 3; w++) {
                struct lines m = l;

                translate(l.v[k], forms[i].label_end, words[w], &t);
                m.v[k] = buf_slice(&t);
                (void)check_lines(&forms[i], m, "labels translated");
            }
    }
}

/* A cut within a line may pass as complete only where no longer text is possible. */
static bool may_be_whole(struct slice in)
{
    static const char *const words[] = {"true", "false", "Up", "Down"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_ends(slice_trim(in), words[i]))
            return true;
    return false;
}

static void an_answer_cut_at_any_byte_gives_no_wrong_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        struct slice whole = slice_of(forms[i].text);
        bool csv = strcmp(forms[i].name, "csv") == 0;

        for (size_t n = 0; n < whole.n; n++) {
            struct slice in = slice_cut(whole, 0, n);
            char *copy = xmalloc(n ? n : 1); /* so that the sanitizer sees a read past the cut */
            enum decode_state st;

            memcpy(copy, in.p, n);
            st = check(&forms[i], (struct slice){copy, n}, "cut");
            free(copy);
            if (forms[i].whole_document && n + 1 < whole.n)
                assert_int_not_equal(st, DECODE_COMPLETE);
            if (n && whole.p[n - 1] != '\n' && whole.p[n] != '\n' && !csv && !may_be_whole(in) &&
                slice_trim(slice_from(in, n - 1)).n)
                assert_int_not_equal(st, DECODE_COMPLETE);
        }
    }
}

static void a_cut_answer_with_windows_line_ends_gives_no_wrong_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
        bool csv = strcmp(forms[i].name, "csv") == 0;

        for (const char *p = forms[i].text; *p; p++) {
            if (*p == '\n')
                buf_addc(&b, '\r');
            buf_addc(&b, *p);
        }
        if (!csv) /* there the line end inside a quoted value is a part of it */
            assert_int_equal(check(&forms[i], buf_slice(&b), "CRLF"), DECODE_COMPLETE);
        for (size_t n = 0; !csv && n < b.n; n++)
            (void)check(&forms[i], slice_cut(buf_slice(&b), 0, n), "CRLF, cut");
    }
}

/* A row cut with its line end kept: seen by its place alone, so the last column is right-aligned here. */
static void a_table_row_cut_at_any_character_gives_no_wrong_value(void **state)
{
    const struct form *f = &forms[1];
    struct lines l = lines_of(f->text);

    (void)state;
    for (size_t k = 2; k < l.n; k++)
        for (size_t n = 1; n < l.v[k].n; n++) {
            struct lines m = l;

            m.v[k].n = n;
            assert_int_equal(check_lines(f, m, "row cut"), DECODE_PARTIAL);
        }
}

/* --- memory and noise --- */

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < NFORMS; i++) {
        int rc = VF_ELIMIT;

        for (size_t n = 1; rc != 0; n++) {
            struct arena *a = arena_new(ARENA_BYTES);
            struct decoded d;

            arena_fail_at(a, n);
            rc = decode_esxcli(slice_of(forms[i].text), &forms[i].opt, a, &d);
            assert_true(rc == 0 || rc == VF_ELIMIT);
            if (rc == 0)
                assert_false(arena_full(a));
            arena_free(a);
            assert_true(n < 10000);
        }
    }
}

static void host_errors_survive_a_full_arena(void **state)
{
    struct arena *a = arena_new(16);
    struct decode_opt o = {.shape = SHAPE_TABLE};
    struct decoded d;

    (void)state;
    assert_int_equal(decode_esxcli(SLICE_LIT("Connect to localhost failed: Connection failure\n"), &o, a, &d),
        VF_ELIMIT);
    assert_int_equal(d.state, DECODE_REFUSED);
    assert_non_null(d.why);
    arena_free(a);
}

static uint32_t noise(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void run_all(struct slice in)
{
    static decode_fn *const run[] = {decode_esxcli,          decode_esxcli_xml, decode_esxcli_json,
                                     decode_esxcli_keyvalue, decode_esxcli_csv, decode_esxcli_text};

    for (int shape = SHAPE_TABLE; shape <= SHAPE_VALUE; shape++)
        for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
            struct decode_opt o = {.shape = (enum decode_shape)shape, .columns = "Name|Driver|MTU"};
            struct arena *a = arena_new(ARENA_BYTES);
            struct decoded d;
            int rc = run[i](in, &o, a, &d);

            assert_true(rc == 0 || rc == VF_ELIMIT);
            if (d.state != DECODE_COMPLETE)
                assert_non_null(d.why);
            arena_free(a);
        }
}

static void noise_does_no_harm(void **state)
{
    static const char some[] = " \n\n  ::--..,,\"\"[]{}<>=\t\r\x1b\x00\xff\xc3\xa4" "aN01";
    uint32_t seed = 20240917;

    (void)state;
    for (size_t round = 0; round < 600; round++) {
        size_t n = noise(&seed) % 300;
        char *bytes = xmalloc(n ? n : 1);

        for (size_t i = 0; i < n; i++)
            bytes[i] = round % 2 ? (char)noise(&seed) : some[noise(&seed) % (sizeof some - 1)];
        run_all((struct slice){bytes, n});
        free(bytes);
    }
}

static void noise_in_real_answers_does_no_harm(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (size_t i = 0; i < NFORMS; i++)
        for (size_t round = 0; round < 60; round++) {
            size_t n = strlen(forms[i].text);
            char *bytes = xmalloc(n);

            memcpy(bytes, forms[i].text, n);
            for (size_t k = 0; k < 1 + round % 6; k++)
                bytes[noise(&seed) % n] = round % 3 ? (char)noise(&seed) : "\n :-\t"[noise(&seed) % 5];
            run_all((struct slice){bytes, n});
            free(bytes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_answers_are_complete_and_have_all_values),
        cmocka_unit_test(a_deleted_line_gives_no_wrong_value),
        cmocka_unit_test(a_hole_gives_no_wrong_value),
        cmocka_unit_test(a_doubled_line_gives_no_wrong_value),
        cmocka_unit_test(swapped_lines_give_no_wrong_value),
        cmocka_unit_test(translated_labels_give_no_wrong_value),
        cmocka_unit_test(an_answer_cut_at_any_byte_gives_no_wrong_value),
        cmocka_unit_test(a_cut_answer_with_windows_line_ends_gives_no_wrong_value),
        cmocka_unit_test(a_table_row_cut_at_any_character_gives_no_wrong_value),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(host_errors_survive_a_full_arena),
        cmocka_unit_test(noise_does_no_harm),
        cmocka_unit_test(noise_in_real_answers_does_no_harm),
    };

    xml_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
