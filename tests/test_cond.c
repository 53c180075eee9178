#include "world.h"

/* Truth tables. T true, F false, U unknown; a condition is read from a rule's <when>, as rules have it. */

static const struct cond *when(struct world *w, const char *subject, const char *xml)
{
    const char *text = arena_printf(w->a,
                                    "<rules format='1'><rule id='the-rule' subject='%s' severity='note' status='stable' reviewed='2026-11-30'>"
                                    "<title>t</title><when>%s</when><bad><host/></bad>" RULE_WHY RULE_EXAMPLES "</rule></rules>",
                                    subject, xml);

    world_rules(w, text);
    return w->rs.rules.v[0]->when;
}

static char letter(enum tri t)
{
    return t == TRI_TRUE ? 'T' : t == TRI_FALSE ? 'F' : 'U';
}

/* With and without a trace: it must not change a result. */
static char eval(struct world *w, const char *subject, const char *key, const char *xml)
{
    const struct cond *c = when(w, subject, xml);
    struct trace trace = {.arena = w->a};
    const struct row *r = *key ? world_find(w, subject, key) : facts_single(w->f, subject);
    enum tri quick = cond_eval(&(struct eval){w->f, &w->builds, NULL}, c, r), traced = cond_eval(&(struct eval){w->f, &w->builds, &trace}, c, r);

    assert_int_equal(quick, traced);
    if (c && quick == TRI_UNKNOWN) { /* somebody says why */
        bool why = false;

        for (size_t i = 0; i < trace.n; i++)
            why |= trace.v[i].result == TRI_UNKNOWN && trace.v[i].why;
        if (!why)
            fail_msg("unknown without a reason: %s", xml);
    }
    return letter(quick);
}

/* Settings of type integer, string or unknown, for T, F and U. */
static void settings(struct world *w, const char *rows, const char *state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);

    if (*state)
        buf_printf(&b, "!setting %s\n", state);
    buf_addz(&b, "cpu 0|\n");
    for (size_t i = 0; rows[i]; i++)
        buf_printf(&b, "setting /S/%zu|type=%s\n", i, rows[i] == 'T' ? "integer" : rows[i] == 'F' ? "string" : "?");
    world_facts(w, buf_z(&b));
}

static void quantifiers_decide_over_an_open_table_only_by_counterexample(void **state)
{
    static const char *const kinds[] = {
        "<setting type='integer'/>",
        "<some><setting type='integer'/></some>",
        "<none><setting type='integer'/></none>",
        "<every><setting type='integer'/></every>",
        "<count below='2'><setting type='integer'/></count>",
        "<count above='1'><setting type='integer'/></count>",
        "<count above='0' below='2'><setting type='integer'/></count>",
    };
    static const struct {
        const char *rows;
        const char *closed, *open; /* one letter for each kind */
    } t[] = {
        {"", "FFTFTFF", "UUUUUUU"},    {"T", "TTFTTFT", "TTFUUUU"},    {"F", "FFTFTFF", "UUUFUUU"},   {"U", "UUUUTFU", "UUUUUUU"},
        {"TF", "TTFFTFT", "TTFFUUU"},  {"TU", "TTFUUUU", "TTFUUUU"},   {"FU", "UUUFTFU", "UUUFUUU"},  {"TT", "TTFTFTF", "TTFUFTF"},
        {"FF", "FFTFTFF", "UUUFUUU"},  {"UU", "UUUUUUU", "UUUUUUU"},   {"TTF", "TTFFFTF", "TTFFFTF"}, {"TTU", "TTFUFTF", "TTFUFTF"},
        {"TFU", "TTFFUUU", "TTFFUUU"},
    };
    static const char *const states[] = {"", "partial", "unknown"};
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int s = 0; s < 3; s++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                char got, wanted = (s ? t[i].open : t[i].closed)[k];

                settings(w, t[i].rows, states[s]);
                got = eval(w, "cpu", "0", kinds[k]);
                if (got != wanted)
                    fail_msg("%s over \"%s\" %s: %c, not %c", kinds[k], t[i].rows, states[s], got, wanted);
            }
}

static void same_looks_at_the_rows_that_pass(void **state)
{
    static const struct {
        const char *rows; /* type, value */
        char closed, open;
    } t[] = {
        {"", 'T', 'U'},
        {"setting /a|type=integer|int-value=1\n", 'T', 'U'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=integer|int-value=1\n", 'T', 'U'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=integer|int-value=2\n", 'F', 'F'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=string|int-value=2\n", 'T', 'U'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=?|int-value=2\n", 'U', 'U'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=integer|int-value=?\n", 'U', 'U'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=integer|int-value=?\nsetting /c|type=integer|int-value=2\n", 'F', 'F'},
        {"setting /a|type=integer|int-value=1\nsetting /b|type=integer|int-value=-\n", 'F', 'F'},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (int open = 0; open < 2; open++) {
            char wanted = open ? t[i].open : t[i].closed;

            world_facts(w, arena_printf(w->a, "%scpu 0|\n%s", open ? "!setting partial\n" : "", t[i].rows));
            if (eval(w, "cpu", "0", "<same of='int-value'><setting type='integer'/></same>") != wanted)
                fail_msg("same over %s", t[i].rows);
            if (eval(w, "cpu", "0", "<none><same of='int-value'><setting type='integer'/></same></none>") !=
                (wanted == 'T' ? 'F' : wanted == 'F' ? 'T' : 'U'))
                fail_msg("none of same over %s", t[i].rows);
        }
}

static void false_beats_unknown_beats_true_within_an_element(void **state)
{
    static const char values[] = "TFU";
    struct world *w = *state;

    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const char *word[] = {"yes", "no", "?"};
            char all = a == 1 || b == 1 ? 'F' : a == 2 || b == 2 ? 'U' : 'T', any = a == 0 || b == 0 ? 'T' : a == 2 || b == 2 ? 'U' : 'F';

            world_facts(w, arena_printf(w->a, "module m|enabled=%s|loaded=%s\n", word[a], word[b]));
            if (eval(w, "module", "m", "<module enabled='yes' loaded='yes'/>") != all)
                fail_msg("both attributes, %c %c", values[a], values[b]);
            /* elements of one name are alternatives */
            if (eval(w, "module", "m", "<module enabled='yes'/><module loaded='yes'/>") != any)
                fail_msg("alternatives, %c %c", values[a], values[b]);
            if (eval(w, "module", "m", "<module enabled='yes'/><module enabled='yes'/><module loaded='yes'/>") != any)
                fail_msg("three alternatives, %c %c", values[a], values[b]);
            /* elements of different names must all hold */
            world_facts(w, arena_printf(w->a, "adapter a|pci=0000:00:00.0|link-state=%s\npci 0000:00:00.0|passthru=%s\n",
                                        a == 0 ? "online" : a == 1 ? "offline" : "?", word[b]));
            if (eval(w, "adapter", "a", "<adapter link-state='online'/><pci passthru='yes'/>") != all)
                fail_msg("two elements, %c %c", values[a], values[b]);
        }
}

static void nothing_asked_is_true(void **state)
{
    struct world *w = *state;

    world_facts(w, "module m|\n");
    assert_int_equal(eval(w, "module", "m", ""), 'T');
}

/* The founding mistake: a list that was cut after "s" must not prove that sata-ahci is not installed. */
static void a_cut_vib_list_does_not_prove_that_a_vib_is_absent(void **state)
{
    static const char none[] = "<none><vib name='sata-ahci'/></none>", there[] = "<vib name='sata-ahci'/>";
    static const struct {
        const char *facts;
        char none, there;
    } t[] = {
        {"adapter a|\nvib esx-base|\n", 'T', 'F'},
        {"adapter a|\nvib esx-base|\nvib sata-ahci|\n", 'F', 'T'},
        {"!vib partial\nadapter a|\nvib esx-base|\n", 'U', 'U'},
        {"!vib unknown\nadapter a|\n", 'U', 'U'},
        {"!vib partial\nadapter a|\nvib sata-ahci|\n", 'F', 'T'},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        world_facts(w, t[i].facts);
        if (eval(w, "adapter", "a", none) != t[i].none || eval(w, "adapter", "a", there) != t[i].there)
            fail_msg("%s", t[i].facts);
    }
}

static void an_element_that_names_the_key_means_that_row(void **state)
{
    struct world *w = *state;

    world_facts(w, "adapter a|driver=vmw_ahci|module=vmw_ahci\nmodule vmw_ahci|enabled=yes\nmodule ahci|enabled=no\n");
    assert_int_equal(eval(w, "adapter", "a", "<module name='ahci' enabled='no'/>"), 'T');
    assert_int_equal(eval(w, "adapter", "a", "<module name='ahci' enabled='yes'/>"), 'F');
    assert_int_equal(eval(w, "adapter", "a", "<module enabled='no'/>"), 'F'); /* without the key: the adapter's own module */
    assert_int_equal(eval(w, "module", "vmw_ahci", "<module name='ahci' enabled='no'/>"), 'T'); /* also from a row of that table */
    assert_int_equal(eval(w, "adapter", "a", "<module name='*ahci' enabled='no'/>"), 'T');
}

static void rows_are_found_over_several_references(void **state)
{
    static const char facts[] = "datastore uuid|name=ds|devices=naa.1\ndevice naa.1|adapters=vmhba0|datastores=uuid\n"
                                "adapter vmhba0|pci=0000:00:11.4|devices=naa.1|datastores=uuid\npci 0000:00:11.4|class=0106\n"
                                "pci 0000:00:1f.2|class=0107\n";
    static const char ask[] = "<pci class='0106'/>";
    struct world *w = *state;

    world_facts(w, facts);
    assert_int_equal(eval(w, "datastore", "uuid", ask), 'T');
    assert_int_equal(eval(w, "datastore", "uuid", "<pci class='0107'/>"), 'F'); /* another adapter's */
    world_add(w, "adapter vmhba0|pci=?\n");
    assert_int_equal(eval(w, "datastore", "uuid", ask), 'U');
    world_add(w, "adapter vmhba0|pci=-\n");
    assert_int_equal(eval(w, "datastore", "uuid", ask), 'F');
    world_facts(w, facts);
    world_add(w, "adapter vmhba0|pci=0000:ff:00.0\n"); /* named, but not in its table */
    assert_int_equal(eval(w, "datastore", "uuid", ask), 'U');
    world_facts(w, facts);
    world_add(w, "device naa.1|adapters=?\n");
    assert_int_equal(eval(w, "device", "naa.1", "<adapter driver='x'/>"), 'U');
}

/* One of several rows is enough, whichever it is, and whatever is not known of the others. */
static void a_reference_to_many_rows_means_some_of_them(void **state)
{
    static const char ask[] = "<pci class='0106'/>", rest[] = "pci 0000:00:11.4|class=0106\npci 0000:00:1f.2|class=0107\n";
    static const struct {
        const char *facts;
        char wanted;
    } t[] = {
        {"device d|adapters=a,b\nadapter a|pci=0000:00:1f.2\nadapter b|pci=0000:00:11.4\n", 'T'},
        {"device d|adapters=a,b\nadapter a|pci=0000:00:11.4\nadapter b|pci=0000:00:1f.2\n", 'T'},
        {"device d|adapters=a,b\nadapter a|pci=?\nadapter b|pci=0000:00:11.4\n", 'T'},
        {"device d|adapters=a,b\nadapter a|pci=-\nadapter b|pci=0000:00:11.4\n", 'T'},
        {"device d|adapters=gone,b\nadapter b|pci=0000:00:11.4\n", 'T'},
        {"device d|adapters=a,b\nadapter a|pci=0000:ff:00.0\nadapter b|pci=0000:00:11.4\n", 'T'},
        {"device d|adapters=a,b\nadapter a|pci=0000:00:1f.2\nadapter b|pci=?\n", 'U'},
        {"device d|adapters=gone,b\nadapter b|pci=0000:00:1f.2\n", 'U'},
        {"device d|adapters=a,b\nadapter a|pci=0000:00:1f.2\nadapter b|pci=-\n", 'F'},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        world_facts(w, arena_printf(w->a, "%s%s", t[i].facts, rest));
        if (eval(w, "device", "d", ask) != t[i].wanted)
            fail_msg("%s", t[i].facts);
    }
}

static void references_are_followed_backwards(void **state)
{
    static const char dead[] = "<path state='dead'/>", none[] = "<none><path state='dead'/></none>";
    struct world *w = *state;

    world_facts(w, "adapter a|\nadapter b|\npath p1|adapter=a|state=active\npath p2|adapter=a|state=dead\npath p3|adapter=b|state=active\n");
    assert_int_equal(eval(w, "adapter", "a", dead), 'T');
    assert_int_equal(eval(w, "adapter", "b", dead), 'F');
    assert_int_equal(eval(w, "adapter", "b", none), 'T');
    world_add(w, "path p4|adapter=?|state=dead\n"); /* it may be b's */
    assert_int_equal(eval(w, "adapter", "b", dead), 'U');
    assert_int_equal(eval(w, "adapter", "b", none), 'U');
    assert_int_equal(eval(w, "adapter", "a", dead), 'T');
    world_facts(w, "!path partial\nadapter b|\npath p3|adapter=b|state=active\n");
    assert_int_equal(eval(w, "adapter", "b", dead), 'U');
    assert_int_equal(eval(w, "adapter", "b", none), 'U');
}

static void tables_that_are_not_related_give_all_their_rows(void **state)
{
    struct world *w = *state;

    world_facts(w, "adapter a|\ncpu 0|model=45\ncpu 1|model=63\n");
    assert_int_equal(eval(w, "adapter", "a", "<cpu model='63'/>"), 'T');
    assert_int_equal(eval(w, "adapter", "a", "<every><cpu model='63'/></every>"), 'F');
    assert_int_equal(eval(w, "adapter", "a", "<host vendor='x'/>"), 'U');
}

/* Inside a quantifier the subject's own table means all its rows, outside the subject itself. */
static void the_subjects_table_means_itself_or_all_in_a_quantifier(void **state)
{
    struct world *w = *state;

    world_facts(w, "module a|enabled=yes\nmodule b|enabled=no\n");
    assert_int_equal(eval(w, "module", "a", "<module enabled='no'/>"), 'F');
    assert_int_equal(eval(w, "module", "a", "<some><module enabled='no'/></some>"), 'T');
}

struct one {
    const char *cell, *attribute;
    char wanted;
};

static void check(struct world *w, const char *table, const char *column, const struct one *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char got;

        world_facts(w, arena_printf(w->a, "%s row|%s=%s\n", table, column, v[i].cell));
        got = eval(w, table, "row", arena_printf(w->a, "<%s %s/>", table, v[i].attribute));
        if (got != v[i].wanted)
            fail_msg("%s.%s %s, %s: %c", table, column, v[i].cell, v[i].attribute, got);
    }
}

#define CHECK(table, column, ...)                                       \
    do {                                                                \
        static const struct one v[] = {__VA_ARGS__};                    \
        check(*state, table, column, v, sizeof v / sizeof *v);          \
    } while (0)

static void values_are_compared_by_their_type(void **state)
{
    CHECK("adapter", "driver", {"ahci", "driver='ahci'", 'T'}, {"vmw_ahci", "driver='ahci'", 'F'}, {"ahci", "driver='x ahci y'", 'T'},
          {"vmw_ahci", "driver='*ahci'", 'T'}, {"AHCI", "driver='ahci'", 'F'}, {"-", "driver='ahci'", 'F'}, {"?", "driver='ahci'", 'U'},
          {"ahci", "driver='x|ahci'", 'T'}, {"y", "driver='x|ahci'", 'F'});
    CHECK("device", "model", {"Disk One", "model='Disk One'", 'T'}, {"Disk", "model='Disk One'", 'F'}, {"Tape", "model='Disk One|Tape'", 'T'},
          {"Disk Two", "model='Disk *'", 'T'});
    CHECK("device", "ssd", {"yes", "ssd='yes'", 'T'}, {"no", "ssd='yes'", 'F'}, {"no", "ssd='no'", 'T'}, {"?", "ssd='no'", 'U'}, {"-", "ssd='no'", 'F'});
    CHECK("device", "queue-depth", {"31", "queue-depth='31'", 'T'}, {"31", "queue-depth='32 31'", 'T'}, {"31", "queue-depth='32'", 'F'},
          {"31", "queue-depth-above='30'", 'T'}, {"31", "queue-depth-above='31'", 'F'}, {"31", "queue-depth-below='32'", 'T'},
          {"31", "queue-depth-below='31'", 'F'}, {"?", "queue-depth-below='31'", 'U'}, {"-", "queue-depth-below='31'", 'F'},
          {"31", "queue-depth-above='10' queue-depth-below='40'", 'T'});
    CHECK("device", "size", {"2048", "size-above='1GiB'", 'T'}, {"2048", "size-above='2GiB'", 'F'}, {"2048", "size-below='3000MiB'", 'T'});
    CHECK("pci", "vendor", {"8086", "vendor='8086'", 'T'}, {"10de", "vendor='10DE'", 'T'}, {"8086", "vendor='1000'", 'F'});
    CHECK("log", "worst", {"25000", "worst-above='20ms'", 'T'}, {"15000", "worst-above='20ms'", 'F'}, {"3000000", "worst-above='2s'", 'T'});
    CHECK("device", "working-paths", {"a,b", "working-paths='b'", 'T'}, {"a,b", "working-paths='c'", 'F'}, {"a,b", "working-paths='c a'", 'T'},
          {"-", "working-paths='a'", 'F'}, {"?", "working-paths='a'", 'U'});
    CHECK("vib", "version", {"1.0.0-32vmw.650", "version-before='1.0.0-39vmw.650'", 'T'}, {"1.0.0-39vmw.650", "version-before='1.0.0-39vmw.650'", 'F'},
          {"1.0.0-39vmw.650", "version-from='1.0.0-39vmw.650'", 'T'}, {"5.5.0-100OEM.550", "version-from='5.5.0-88OEM.550'", 'T'},
          {"1.0-1vmw.1", "version-before='1.0-1OEM.1'", 'U'}, {"?", "version-before='1'", 'U'}, {"-", "version-before='1'", 'F'},
          {"1.0.0-32vmw.650", "version='1.0.0-32vmw*'", 'T'}, {"1.0.0-32vmw.650", "version-from='0.9' version-before='1.1'", 'T'});
}

static void absence_can_be_asked_for(void **state)
{
    CHECK("pci", "module", {"x", "module-absent='yes'", 'F'}, {"x", "module-absent='no'", 'T'}, {"-", "module-absent='yes'", 'T'},
          {"-", "module-absent='no'", 'F'}, {"?", "module-absent='yes'", 'U'}, {"?", "module-absent='no'", 'U'});
}

static void pci_ids_are_compared_by_their_leading_parts(void **state)
{
    CHECK("pci", "id", {"8086:8c02:15d9:086d", "id='8086:8c02'", 'T'}, {"8086:8c02:15d9:086d", "id='8086:8c02:15d9:086d'", 'T'},
          {"8086:8c02:15d9:086d", "id='8086:8c02:15d9:0000'", 'F'}, {"8086:8c02", "id='8086:8c02:15d9:086d'", 'U'},
          {"8086:9d03", "id='8086:8c02:15d9:086d'", 'F'}, {"8086:8c02", "id='8086:8c03 8086:8c02'", 'T'},
          {"8086:8c02:15d9:086d", "id='8086:*:15d9'", 'T'}, {"8086:8C02", "id='8086:8c02'", 'T'},
          {"8086:8c02", "id='8086:8c02:15d9:086d 8086:8c02'", 'T'}, {"?", "id='8086:8c02'", 'U'});
}

static void a_class_of_six_digits_wants_the_programming_interface(void **state)
{
    CHECK("pci", "class", {"0106|prog-if=01", "class='010601'", 'T'}, {"0106|prog-if=00", "class='010601'", 'F'}, {"0106|prog-if=?", "class='010601'", 'U'},
          {"0107|prog-if=?", "class='010601'", 'F'}, {"0106", "class='0106'", 'T'}, {"0106", "class='01'", 'T'}, {"0200", "class='01'", 'F'},
          {"0106", "class='0107 0106'", 'T'}, {"?", "class='0106'", 'U'});
}

static void releases_are_compared_as_releases(void **state)
{
    static const struct {
        const char *host, *attributes;
        char wanted;
    } t[] = {
        {"6.5", "from='6.5' before='6.5u1'", 'T'}, {"6.5u1", "from='6.5' before='6.5u1'", 'F'}, {"6.0u3", "from='6.5' before='6.5u1'", 'F'},
        {"7.0u3", "before='7.0'", 'F'},            {"6.7u3", "before='7.0'", 'T'},              {"8.0u3", "release='8.0u3'", 'T'},
        {"8.0u2", "release='8.0u3'", 'F'},         {"7.0u3", "release='7.0'", 'T'},             {"8.0", "release='7.0'", 'F'},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        world_facts(w, arena_printf(w->a, "adapter a|\n@%s\n", t[i].host));
        if (eval(w, "adapter", "a", arena_printf(w->a, "<esxi %s/>", t[i].attributes)) != t[i].wanted)
            fail_msg("%s, %s", t[i].host, t[i].attributes);
    }
    world_facts(w, "adapter a|\n"); /* no release at all */
    assert_int_equal(eval(w, "adapter", "a", "<esxi before='7.0'/>"), 'U');
    world_facts(w, "adapter a|\n"); /* the line is known, the update not */
    w->f->release = (struct release){.major = 6, .minor = 5, .update = -1};
    assert_int_equal(eval(w, "adapter", "a", "<esxi before='7.0'/>"), 'T');
    assert_int_equal(eval(w, "adapter", "a", "<esxi release='6.5'/>"), 'T');
    assert_int_equal(eval(w, "adapter", "a", "<esxi before='6.5u1'/>"), 'U');
    assert_int_equal(eval(w, "adapter", "a", "<esxi release='6.5u1'/>"), 'U');
    assert_int_equal(eval(w, "adapter", "a", "<esxi release-absent='no'/>"), 'U');
}

static void two_cells_are_compared(void **state)
{
    static const struct {
        const char *left, *right;
        char below, above, is;
    } t[] = {
        {"32", "64", 'T', 'F', 'F'}, {"64", "32", 'F', 'T', 'F'}, {"64", "64", 'F', 'F', 'T'}, {"?", "64", 'U', 'U', 'U'},
        {"64", "?", 'U', 'U', 'U'},  {"-", "64", 'F', 'F', 'F'},  {"64", "-", 'F', 'F', 'F'},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        world_facts(w, arena_printf(w->a, "device d|competing-ios=%s|queue-depth=%s\n", t[i].left, t[i].right));
        if (eval(w, "device", "d", "<compare fact='device.competing-ios' below='device.queue-depth'/>") != t[i].below ||
            eval(w, "device", "d", "<compare fact='device.competing-ios' above='device.queue-depth'/>") != t[i].above ||
            eval(w, "device", "d", "<compare fact='device.competing-ios' is='device.queue-depth'/>") != t[i].is)
            fail_msg("%s and %s", t[i].left, t[i].right);
    }
    world_facts(w, "nic-stats n|nic=n|rx-packets=5\nnic n|mtu=9\n"); /* of rows that the subject leads to */
    assert_int_equal(eval(w, "nic", "n", "<compare fact='nic-stats.rx-packets' below='nic.mtu'/>"), 'T');
}

static void a_cell_that_two_answers_dispute_is_unknown_to_rules(void **state)
{
    struct world *w = *state;
    static const char *const conditions[] = {"<adapter driver='a'/>", "<adapter driver='b'/>", "<adapter driver-absent='yes'/>"};

    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        world_facts(w, "adapter x|driver=a\n");
        world_dispute(w, "adapter", "x", "driver", value_slice(SLICE_LIT("b")));
        assert_int_equal(eval(w, "adapter", "x", conditions[i]), 'U');
    }
}

int main(void)
{
#define C(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        C(quantifiers_decide_over_an_open_table_only_by_counterexample),
        C(same_looks_at_the_rows_that_pass),
        C(false_beats_unknown_beats_true_within_an_element),
        C(nothing_asked_is_true),
        C(a_cut_vib_list_does_not_prove_that_a_vib_is_absent),
        C(an_element_that_names_the_key_means_that_row),
        C(rows_are_found_over_several_references),
        C(a_reference_to_many_rows_means_some_of_them),
        C(references_are_followed_backwards),
        C(tables_that_are_not_related_give_all_their_rows),
        C(the_subjects_table_means_itself_or_all_in_a_quantifier),
        C(values_are_compared_by_their_type),
        C(absence_can_be_asked_for),
        C(pci_ids_are_compared_by_their_leading_parts),
        C(a_class_of_six_digits_wants_the_programming_interface),
        C(releases_are_compared_as_releases),
        C(two_cells_are_compared),
        C(a_cell_that_two_answers_dispute_is_unknown_to_rules),
    };

    xml_setup();
    return cmocka_run_group_tests_name("cond", tests, NULL, NULL);
}
