#include "world.h"

#include "collect/bind.h"

/* Texts of the field to typed cells: what does not fit is unknown with the text quoted, never passed on. */

static const struct column *column(const struct world *w, const char *table, const char *name)
{
    return &w->schema.tables[world_table(w, table)].columns[world_column(w, table, name)];
}

struct form {
    const char *table, *column;
    enum take take;
    bool esxcli;
    const char *text, *wanted; /* "?" unknown, "-" absent */
};

static void check(struct world *w, const struct form *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct column *c = column(w, v[i].table, v[i].column);
        struct value got = bind_value(c, &w->schema, v[i].take, v[i].esxcli, slice_of(v[i].text), w->a);
        struct slice text = got.state == VS_UNKNOWN ? SLICE_LIT("?") : got.state == VS_ABSENT ? SLICE_LIT("-") : value_text(c, &got, w->a);

        if (!slice_eqz(text, v[i].wanted))
            fail_msg("%s.%s of \"%s\": \"" SLICE_FMT "\", not \"%s\" (%s)", v[i].table, v[i].column, v[i].text, SLICE_ARG(text), v[i].wanted,
                     got.why ? got.why : "");
        if (got.state == VS_UNKNOWN)
            assert_true(got.why && got.why[0]);
    }
}

static void each_type_takes_its_own_and_nothing_else(void **state)
{
    static const struct form v[] = {
        {"device", "model", TAKE_TEXT, true, "  Some Disk  ", "Some Disk"},
        {"adapter", "driver", TAKE_TEXT, true, "vmw_ahci", "vmw_ahci"},
        {"adapter", "driver", TAKE_TEXT, true, "vmw_ahci lsi", "?"},
        {"device", "ssd", TAKE_TEXT, true, "true", "yes"},
        {"device", "ssd", TAKE_TEXT, true, "False", "no"},
        {"device", "ssd", TAKE_TEXT, true, "wahr", "?"},
        {"device", "ssd", TAKE_TEXT, true, "tru", "?"},
        {"host", "maintenance-mode", TAKE_TEXT, true, "Enabled", "yes"},
        {"host", "maintenance-mode", TAKE_TEXT, true, "Disabled", "no"},
        {"host", "maintenance-mode", TAKE_TEXT, true, "Aktiviert", "?"},
        {"device", "queue-depth", TAKE_TEXT, true, "31", "31"},
        {"device", "queue-depth", TAKE_TEXT, true, "-1", "-1"},
        {"device", "queue-depth", TAKE_TEXT, true, "31 ", "31"},
        {"device", "queue-depth", TAKE_TEXT, true, "3 1", "?"},
        {"device", "queue-depth", TAKE_TEXT, true, "31,0", "?"},
        {"device", "queue-depth", TAKE_TEXT, true, "1.024", "?"},
        {"device", "queue-depth", TAKE_TEXT, true, "18446744073709551615", "?"},
        {"device", "queue-depth", TAKE_TEXT, true, "many", "?"},
        {"vib", "version", TAKE_TEXT, true, "1.0.0-32vmw.650.0.0.4564106", "1.0.0-32vmw.650.0.0.4564106"},
        {"vib", "version", TAKE_TEXT, true, "none yet", "?"},
        {"vib", "installed", TAKE_TEXT, true, "2017-02-06", "2017-02-06"},
        {"vib", "installed", TAKE_TEXT, true, "06.02.2017", "?"},
        {"vib", "installed", TAKE_TEXT, true, "2017-02-0", "?"},
        {"esxi", "image-changed", TAKE_TEXT, true, "2017-02-06T10:20:30", "2017-02-06T10:20:30"},
        {"esxi", "image-changed", TAKE_TEXT, true, "6 Feb 2017 10:20:30", "?"},
        {"adapter", "pci", TAKE_TEXT, true, "0000:3B:00.0", "0000:3b:00.0"}, /* a reference to a PCI function, in any spelling */
        {"adapter", "pci", TAKE_TEXT, true, "3B:00", "?"},
        {"pci", "module", TAKE_TEXT, true, "vmw_ahci", "vmw_ahci"},
        /* closed vocabularies, in the schema's own letters */
        {"path", "state", TAKE_TEXT, true, "Active", "active"},
        {"path", "state", TAKE_TEXT, true, "aktiv", "?"},
        {"path", "state", TAKE_TEXT, true, "activ", "?"},
        {"device", "status", TAKE_TEXT, true, "dead timeout", "dead timeout"},
        {"pci", "owner", TAKE_TEXT, true, "VM Passthru", "VM Passthru"},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void names_have_the_form_of_their_column(void **state)
{
    static const struct form v[] = {
        {"adapter", "name", TAKE_TEXT, true, "vmhba64", "vmhba64"},
        {"adapter", "name", TAKE_TEXT, true, "HBA", "?"},
        {"adapter", "name", TAKE_TEXT, true, "--------", "?"},
        {"adapter", "name", TAKE_TEXT, true, "vmhba0\xc2\xa0", "?"},
        {"adapter", "name", TAKE_TEXT, true, "\xef\xbb\xbfvmhba0", "?"},
        {"adapter", "driver", TAKE_TEXT, true, "---------", "?"},
        {"adapter", "driver", TAKE_TEXT, true, "```", "?"},
        {"nic", "name", TAKE_TEXT, true, "vmnic10", "vmnic10"},
        {"nic", "name", TAKE_TEXT, true, "vusb0", "vusb0"},
        {"nic", "name", TAKE_TEXT, true, "eth0", "?"},
        {"vmknic", "name", TAKE_TEXT, true, "vmk0", "vmk0"},
        {"vmknic", "name", TAKE_TEXT, true, "Name", "?"},
        {"path", "runtime-name", TAKE_TEXT, true, "vmhba0:C0:T0:L0", "vmhba0:C0:T0:L0"},
        {"path", "runtime-name", TAKE_TEXT, true, "vmhba0:C0:T", "?"},
        {"path", "adapter", TAKE_TEXT, true, "vmhba0", "vmhba0"}, /* a reference has the form of what it names */
        {"path", "adapter", TAKE_TEXT, true, "6:0.0)", "?"},
        {"device", "id", TAKE_TEXT, true, "t10.NVMe____X", "t10.NVMe____X"},
        {"device", "id", TAKE_TEXT, true, "mpx.vmhba32:C0:T0:L0", "mpx.vmhba32:C0:T0:L0"},
        {"device", "id", TAKE_TEXT, true, "...", "?"},
        {"device", "id", TAKE_TEXT, true, "```text", "?"},
        {"datastore", "uuid", TAKE_TEXT, true, "58b1c2d3-4e5f6071-8a9b-0cc47a000001", "58b1c2d3-4e5f6071-8a9b-0cc47a000001"},
        {"datastore", "uuid", TAKE_TEXT, true, "58b1c2d3-4e5f6071", "58b1c2d3-4e5f6071"}, /* NFS */
        {"datastore", "uuid", TAKE_TEXT, true, "58b1c2d3-4e5f60", "?"},
        {"datastore", "uuid", TAKE_TEXT, true, "58b1c2d3-4e5f6071-8a9b-0cc47a00000", "?"},
        {"datastore", "uuid", TAKE_TEXT, true, "vsan:52a1b2c3d4e5f607-1122334455667788", "vsan:52a1b2c3d4e5f607-1122334455667788"},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void nothing_means_absent_and_unknown_means_unknown(void **state)
{
    static const char *const absent[] = {"", "   ", "N/A", "n/a", "None", "Not Applicable", "<unset>"};
    static const char *const unknown[] = {"Unknown", "unknown", "Unavailable or path is unclaimed"};
    static const struct {
        const char *table, *column;
    } cells[] = {{"device", "model"}, {"device", "queue-depth"}, {"device", "ssd"}, {"vib", "version"}, {"adapter", "pci"}, {"pci", "vendor"}};

    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
            check(*state, &(struct form){cells[c].table, cells[c].column, TAKE_TEXT, true, absent[i], "-"}, 1);
        for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
            check(*state, &(struct form){cells[c].table, cells[c].column, TAKE_TEXT, true, unknown[i], "?"}, 1);
    }
    /* where the column's own vocabulary has the word, it is a value */
    check(*state, &(struct form){"path", "state", TAKE_TEXT, true, "unknown", "unknown"}, 1);
    check(*state, &(struct form){"vmknic", "address-type", TAKE_TEXT, true, "None", "NONE"}, 1);
    /* numbers that mean "not set" */
    check(*state, &(struct form){"pci", "slot", TAKE_TEXT, true, "4294967295", "-"}, 1);
    check(*state, &(struct form){"pci", "slot", TAKE_TEXT, true, "-1", "-"}, 1);
    check(*state, &(struct form){"pci", "slot", TAKE_TEXT, true, "4", "4"}, 1);
}

static void hexadecimal_ids_are_read_by_who_printed_them(void **state)
{
    static const struct form v[] = {
        {"pci", "vendor", TAKE_TEXT, true, "0x8086", "8086"},  {"pci", "vendor", TAKE_TEXT, true, "32902", "8086"},
        {"pci", "vendor", TAKE_TEXT, false, "8086", "8086"},   {"pci", "vendor", TAKE_TEXT, false, "0x8086", "8086"},
        {"pci", "vendor", TAKE_TEXT, false, "10DE", "10de"},   {"pci", "vendor", TAKE_TEXT, true, "0", "0000"},
        {"pci", "vendor", TAKE_TEXT, true, "10de", "?"},       {"pci", "vendor", TAKE_TEXT, true, "0x18086", "?"},
        {"pci", "vendor", TAKE_TEXT, true, "-32634", "?"},     {"pci", "vendor", TAKE_TEXT, false, "80g6", "?"},
        {"pci", "vendor", TAKE_TEXT, true, "65536", "?"},      {"pci", "vendor", TAKE_TEXT, true, "0x", "?"},
        {"pci", "prog-if", TAKE_TEXT, true, "0x1", "01"},      {"pci", "prog-if", TAKE_TEXT, true, "1", "01"},
        {"pci", "class", TAKE_CLASS, true, "0x0106", "0106"},  {"pci", "class", TAKE_CLASS, true, "262", "0106"},
        {"pci", "class", TAKE_CLASS, true, "3075", "0c03"},    {"pci", "class", TAKE_CLASS, false, "010601", "0106"},
        {"pci", "class", TAKE_CLASS, false, "0106", "0106"},   {"pci", "class", TAKE_CLASS, false, "SATA", "?"},
        {"pci", "class", TAKE_CLASS, true, "0x01061", "?"},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void extractions_take_what_they_name_or_nothing(void **state)
{
    static const struct form v[] = {
        {"pci", "address", TAKE_PCI, true, "PCI 0:0:31:2", "0000:00:1f.2"},
        {"pci", "address", TAKE_PCI, true, "slot 3", "?"},
        {"adapter", "pci", TAKE_PCI_IN_BRACKETS, true, "(0000:00:11.4) Intel Corporation AHCI", "0000:00:11.4"},
        {"adapter", "pci", TAKE_PCI_IN_BRACKETS, true, "(0:0:17.4) Intel Corporation AHCI", "0000:00:11.4"},
        {"adapter", "pci", TAKE_PCI_IN_BRACKETS, true, "() USB", "-"},
        {"adapter", "pci", TAKE_PCI_IN_BRACKETS, true, "iSCSI Software Adapter", "-"},
        {"adapter", "pci", TAKE_PCI_IN_BRACKETS, true, "(0000:00:11", "-"},
        {"adapter", "pci", TAKE_PCI_IN_BRACKETS, true, "(0000:00) x", "?"},
        {"adapter", "description", TAKE_AFTER_BRACKETS, true, "(0000:00:11.4) Intel Corporation AHCI", "Intel Corporation AHCI"},
        {"adapter", "description", TAKE_AFTER_BRACKETS, true, "() USB", "USB"},
        {"adapter", "description", TAKE_AFTER_BRACKETS, true, "iSCSI Software Adapter", "iSCSI Software Adapter"},
        {"adapter", "description", TAKE_AFTER_BRACKETS, true, "(0000:00:11.4)", "-"},
        {"nvme", "temperature", TAKE_NUMBER, true, "312 K", "312"},
        {"nic", "speed", TAKE_NUMBER, true, "25000Mbps", "25000"},
        {"nic", "speed", TAKE_NUMBER, true, "10000", "10000"},
        {"nvme", "available-spare", TAKE_NUMBER, true, "98%", "98"},
        {"host", "memory", TAKE_NUMBER, true, "137262243840 Bytes", "137262243840"},
        {"nvme", "temperature", TAKE_NUMBER, true, "312 K or so", "?"},
        {"nvme", "temperature", TAKE_NUMBER, true, "K 312", "?"},
        {"nvme", "temperature", TAKE_NUMBER, true, "1,024", "?"}, /* thousands or a fraction: not for us to say */
        {"nvme", "temperature", TAKE_NUMBER, true, "1.024", "?"},
        {"nvme", "temperature", TAKE_NUMBER, true, "39.5 C", "?"},
        {"nvme", "temperature", TAKE_NUMBER, true, "39.5C", "?"},
        {"nvme", "temperature", TAKE_NUMBER, true, "12:30", "?"},
        {"nvme", "temperature", TAKE_NUMBER, true, "-5 C", "-5"},
        {"nvme", "temperature", TAKE_NUMBER, true, "99999999999999999999 K", "?"},
        {"esxi", "build", TAKE_BUILD, true, "Releasebuild-4564106", "4564106"},
        {"esxi", "build", TAKE_BUILD, true, "Releasebuild-", "?"},
        {"esxi", "build", TAKE_BUILD, true, "Releasebuild-45641o6", "?"},
        {"vm", "uuid", TAKE_UUID, true, "56 4d 12 34 56 78 9a bc-de f0 12 34 56 78 9a BC", "564d123456789abcdef0123456789abc"},
        {"vm", "uuid", TAKE_UUID, true, "0x4 0x11 0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9 0xa 0xb 0xc 0xFd", "041100010203040506070809" "0a0b0cfd"},
        {"vm", "uuid", TAKE_UUID, true, "564d1234-5678-9abc-def0-123456789abc", "564d123456789abcdef0123456789abc"},
        {"vm", "uuid", TAKE_UUID, true, "56 4d 12 34", "?"},
        {"vm", "uuid", TAKE_UUID, true, "56 4d 12 34 56 78 9a bc-de f0 12 34 56 78 9a b", "?"}, /* cut, not 0b */
        {"vm", "uuid", TAKE_UUID, true, "564d1234-5678-9abc-def0-123456789ab", "?"},
        {"vm", "uuid", TAKE_UUID, true, "0x411 0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9 0xa 0xb 0xc 0xFd", "?"},
        {"vm", "uuid", TAKE_UUID, true, "56 4d 12 34 56 78 9a bc-de f0 12 34 56 78 9a zz", "?"},
        {"module", "file", TAKE_BASENAME, true, "/usr/lib/vmware/vmkmod/vmw_ahci", "vmw_ahci"},
        {"module", "file", TAKE_BASENAME, true, "vmw_ahci", "vmw_ahci"},
        {"module", "file", TAKE_BASENAME, true, "/usr/lib/", "?"},
        {"path", "adapter", TAKE_ADAPTER, true, "vmhba0:C0:T0:L0", "vmhba0"},
        {"device", "location", TAKE_BEFORE_COLON, true, "a:b:c", "a:b"},
        {"device", "location", TAKE_AFTER_COLON, true, "a:b: c", "c"},
        {"device", "location", TAKE_BEFORE_COLON, true, "abc", "abc"},
        {"kernel-setting", "configured", TAKE_LOWER, true, "FALSE", "false"},
        {"host", "uptime", TAKE_SECONDS, true, "3600999999", "3600"},
        {"host", "uptime", TAKE_SECONDS, true, "1 day", "?"},
        {"device", "size", TAKE_MIB, true, "15384 MB", "15384"},
        {"device", "size", TAKE_MIB, true, "19074048 MiB", "19074048"},
        {"device", "size", TAKE_MIB, true, "2 GB", "2048"},
        {"device", "size", TAKE_MIB, true, "2 TB", "?"},
        {"device", "size", TAKE_MIB, true, "MB", "?"},
        {"device", "size", TAKE_MIB, true, "1.5 GB", "?"},
        {"device", "size", TAKE_MIB, true, "1,5GB", "?"},
        {"device", "size", TAKE_MIB, true, "18014398509481985 GB", "?"},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void every_extraction_has_a_name_and_a_meaning(void **state)
{
    unsigned n = 0;

    (void)state;
    for (; take_name(n); n++)
        assert_true(take_doc(n) && take_doc(n)[0]);
    assert_int_equal(n, TAKE_MIB + 1);
    assert_null(take_doc(n));
}

static void a_text_that_does_not_fit_is_quoted_safely(void **state)
{
    struct world *w = *state;
    struct value v = bind_value(column(w, "device", "queue-depth"), &w->schema, TAKE_TEXT, true, SLICE_LIT("3\x1b[31m1"), w->a);

    assert_int_equal(v.state, VS_UNKNOWN);
    assert_non_null(strstr(v.why, "3\\x1b[31m1"));
    assert_null(strchr(v.why, 0x1b));
}

/* --- records --- */

static const char probe[] =
    "<probes format='1'><probe id='device' table='device' lists='yes'><why>w</why>"
    "<ask esxcli='storage core device list' shape='list' xml='seen' text='seen'/>"
    "<column name='id' key='#id|Device'/><column name='model' key='Model'/><column name='queue-depth' key='Queue Depth|Max Queue Depth'/>"
    "<column name='ssd' key='Is SSD'/><column name='other-uids' key='Other UIDs' take='split'/><column name='filters' key='Filters'/>"
    "<column name='vendor' value='constant'/><column name='working-paths' key='Paths'/></probe>"
    "<probe id='param' table='module-param'><why>w</why>"
    "<ask esxcli='system module parameters list -m {}' shape='table' each='module.name' xml='seen' text='seen'/>"
    "<column name='module' key='{}'/><column name='name' key='Name'/><column name='value' key='Value'/></probe></probes>";

struct fields {
    struct field v[16];
    uint32_t n;
};

static void add(struct fields *f, const char *key, const char *value)
{
    f->v[f->n] = (struct field){.key = slice_of(key), .text = slice_of(value), .line = f->n + 10};
    f->n++;
}

static size_t bind(struct world *w, const char *id, const char *record_id, const struct fields *fields, const char *each, size_t *rows)
{
    struct probes probes = {0};
    struct record r = {slice_of(record_id), fields->v, fields->n, 9};
    struct decoded d = {.state = DECODE_COMPLETE, .records = &r, .n = 1};
    const struct probe *p;
    uint32_t source;

    if (probes_load(&probes, SLICE_LIT(probe), "test.xml", &w->schema, w->a, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    p = probes_find(&probes, slice_of(id));
    assert_non_null(p);
    if (!w->f)
        w->f = facts_new(&w->schema, w->a);
    source = facts_add_source(w->f, (struct source){.ask = slice_of(id)});
    return bind_records(p, &p->ways[0], &d, slice_of(each), source, w->f, rows);
}

static void keys_are_found_in_any_spelling_and_in_order(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    const struct row *r;
    size_t rows;

    add(&f, "model", "Disk");
    add(&f, "MaxQueueDepth", "64");
    add(&f, "is-ssd", "true");
    add(&f, "OtherUIDs", "vml.1, vml.2");
    assert_int_equal(bind(w, "device", "naa.1", &f, "", &rows), 0);
    assert_int_equal(rows, 1);
    r = world_find(w, "device", "naa.1");
    assert_true(slice_eqz(facts_cell(w->f, r, "model")->s, "Disk"));
    assert_int_equal(facts_cell(w->f, r, "model")->line, 10);
    assert_int_equal(facts_cell(w->f, r, "queue-depth")->i, 64);
    assert_int_equal(facts_cell(w->f, r, "ssd")->i, 1);
    assert_int_equal(facts_cell(w->f, r, "other-uids")->nlist, 2);
    assert_true(slice_eqz(facts_cell(w->f, r, "vendor")->s, "constant"));
    assert_int_equal(facts_cell(w->f, r, "filters")->state, VS_UNKNOWN); /* not printed */
    assert_non_null(strstr(facts_cell(w->f, r, "filters")->why, "Filters"));
    assert_int_equal(facts_cell(w->f, r, "location")->state, VS_UNKNOWN); /* not asked by this probe */
}

static void the_first_key_that_has_a_value_wins(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    size_t rows;

    add(&f, "Max Queue Depth", "64");
    add(&f, "Queue Depth", "31");
    (void)bind(w, "device", "naa.1", &f, "", &rows);
    assert_int_equal(facts_cell(w->f, world_find(w, "device", "naa.1"), "queue-depth")->i, 31);
    f.v[1].text = SLICE_LIT("N/A");
    (void)bind(w, "device", "naa.2", &f, "", &rows);
    assert_int_equal(facts_cell(w->f, world_find(w, "device", "naa.2"), "queue-depth")->i, 64);
    f.v[1].text = SLICE_LIT("3x");
    (void)bind(w, "device", "naa.3", &f, "", &rows);
    assert_int_equal(facts_cell(w->f, world_find(w, "device", "naa.3"), "queue-depth")->state, VS_UNKNOWN);
}

static void a_doubled_key_is_unknown_unless_it_says_the_same(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    size_t rows;

    add(&f, "Model", "Disk");
    add(&f, "Model", "Disk ");
    (void)bind(w, "device", "naa.1", &f, "", &rows);
    assert_int_equal(facts_cell(w->f, world_find(w, "device", "naa.1"), "model")->state, VS_KNOWN);
    f.v[1].text = SLICE_LIT("Tape");
    (void)bind(w, "device", "naa.2", &f, "", &rows);
    assert_int_equal(facts_cell(w->f, world_find(w, "device", "naa.2"), "model")->state, VS_UNKNOWN);
    f.v[0].text = SLICE_LIT("N/A");
    (void)bind(w, "device", "naa.3", &f, "", &rows);
    assert_int_equal(facts_cell(w->f, world_find(w, "device", "naa.3"), "model")->state, VS_UNKNOWN);
}

static void damaged_fields_are_unknown_with_their_damage(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    const struct row *r;
    size_t rows;

    add(&f, "Model", "Dis");
    add(&f, "Other UIDs", "vml.1");
    add(&f, "Other UIDs", "vml.2");
    f.v[0].damage = f.v[2].damage = "the line may be cut";
    (void)bind(w, "device", "naa.1", &f, "", &rows);
    r = world_find(w, "device", "naa.1");
    assert_int_equal(facts_cell(w->f, r, "model")->state, VS_UNKNOWN);
    assert_string_equal(facts_cell(w->f, r, "model")->why, "the line may be cut");
    assert_int_equal(facts_cell(w->f, r, "other-uids")->state, VS_UNKNOWN); /* one member damaged: the list is not known */
}

static void lists_take_all_fields_of_their_key(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    const struct row *r;
    size_t rows;

    add(&f, "Paths", "vmhba0:C0:T0:L0");
    add(&f, "Paths", "vmhba1:C0:T0:L0");
    add(&f, "Filters", "one");
    add(&f, "Filters", "two");
    f.v[2].listed = f.v[3].listed = true;
    add(&f, "Other UIDs", "");
    (void)bind(w, "device", "naa.1", &f, "", &rows);
    r = world_find(w, "device", "naa.1");
    assert_int_equal(facts_cell(w->f, r, "working-paths")->nlist, 2);
    assert_true(slice_eqz(facts_cell(w->f, r, "filters")->s, "one, two")); /* a list in a column of one text, as esxcli prints it */
    assert_int_equal(facts_cell(w->f, r, "other-uids")->state, VS_ABSENT);
}

static void a_record_without_a_readable_key_gives_no_row(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    size_t rows;

    add(&f, "Model", "Disk");
    assert_int_equal(bind(w, "device", "", &f, "", &rows), 1);
    assert_int_equal(rows, 0);
    add(&f, "Device", "naa.1");
    f.v[1].damage = "cut";
    assert_int_equal(bind(w, "device", "", &f, "", &rows), 1);
    f.v[1].damage = NULL;
    assert_int_equal(bind(w, "device", "", &f, "", &rows), 0);
    assert_int_equal(rows, 1);
    assert_int_equal(facts_count(w->f, world_table(w, "device")), 1);
}

static void the_value_an_ask_was_expanded_with_is_a_cell(void **state)
{
    struct world *w = *state;
    struct fields f = {.n = 0};
    size_t rows;

    add(&f, "Name", "debug");
    add(&f, "Value", "");
    assert_int_equal(bind(w, "param", "", &f, "vmw_ahci", &rows), 0);
    assert_int_equal(facts_cell(w->f, world_find(w, "module-param", "vmw_ahci/debug"), "value")->state, VS_ABSENT);
    assert_int_equal(bind(w, "param", "", &f, "", &rows), 1); /* which module it was is not known: no row */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(each_type_takes_its_own_and_nothing_else),
        T(names_have_the_form_of_their_column),
        T(nothing_means_absent_and_unknown_means_unknown),
        T(hexadecimal_ids_are_read_by_who_printed_them),
        T(extractions_take_what_they_name_or_nothing),
        T(every_extraction_has_a_name_and_a_meaning),
        T(a_text_that_does_not_fit_is_quoted_safely),
        T(keys_are_found_in_any_spelling_and_in_order),
        T(the_first_key_that_has_a_value_wins),
        T(a_doubled_key_is_unknown_unless_it_says_the_same),
        T(damaged_fields_are_unknown_with_their_damage),
        T(lists_take_all_fields_of_their_key),
        T(a_record_without_a_readable_key_gives_no_row),
        T(the_value_an_ask_was_expanded_with_is_a_cell),
    };

    xml_setup();
    return cmocka_run_group_tests_name("bind", tests, NULL, NULL);
}
