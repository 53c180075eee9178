#include "world.h"

#include "core/rng.h"

/* Two checkers read rule files, ours in plain words and the generated RELAX NG schema: they must agree on what is broken and on what is whole. */

struct fixture {
    struct world w;
    struct buf rng;
};

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){.rng = BUF_INIT(8u << 20)};
    world_open(&f.w);
    rng_write(&f.w.schema, &f.rng);
    assert_false(f.rng.cut);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    world_close(&f->w);
    buf_done(&f->rng);
    return 0;
}

static int validate(const struct fixture *f, const char *xml, struct err *e)
{
    return xml_relaxng(slice_of(xml), "test.xml", buf_slice(&f->rng), "rules.rng", e);
}

#define DOC(attributes, inside) \
    "<rules format='1'>\n<rule " attributes ">\n<title>t</title>\n" inside "</rule>\n</rules>"
#define HEAD "id='the-rule' subject='adapter' severity='warning' status='stable' reviewed='2026-11-30'"
#define BAD "<bad driver='x'/>\n"
#define WITH(inside) DOC(HEAD, inside RULE_WHY RULE_EXAMPLES)
#define FIX(inside) DOC(HEAD, BAD RULE_WHY inside RULE_EXAMPLES)
#define WHEN(inside) WITH("<when>" inside "</when>" BAD)

struct broken {
    const char *xml, *says;
    bool schema; /* can RELAX NG see it */
};

static void check(struct fixture *f, const struct broken *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct err e = {0};
        int rc;

        f->w.rs.rules = (struct rules){0};
        rc = world_load(&f->w, v[i].xml);
        if (rc >= 0)
            fail_msg("accepted: %s", v[i].xml);
        if (!strstr(f->w.e.msg, v[i].says) || !strstr(f->w.e.msg, "test.xml"))
            fail_msg("%s\nsays: %s\nnot: %s", v[i].xml, f->w.e.msg, v[i].says);
        if ((validate(f, v[i].xml, &e) < 0) != v[i].schema)
            fail_msg("RELAX NG %s: %s\n%s", v[i].schema ? "accepts" : "refuses", v[i].xml, e.msg);
        if (v[i].schema)
            assert_true(e.code == VF_EFORMAT && e.msg[0]);
    }
}

/* The five mistakes of the format's description, in our words. */
static void frequent_mistakes_are_answered_plainly(void **state)
{
    static const struct broken v[] = {
        {WITH("<bad drivr='vmw_ahci'/>"), "unknown column \"drivr\" of adapter; did you mean \"driver\"?", false},
        {DOC("id='the-rule' subject='adapter' severity='high' status='stable' reviewed='2026-11-30'", BAD RULE_WHY RULE_EXAMPLES),
         "severity must be critical, warning or note, not \"high\"", true},
        {DOC(HEAD, BAD RULE_WHY "<matches pci='8086-9d03'/><ignores/>"), "pci wants 8086:9d03", false},
        {DOC(HEAD, BAD RULE_WHY "<matches/>"), "needs an <ignores> example", true},
        {WITH("<badd driver='x'/>"), "unknown element \"badd\"; did you mean \"bad\"?", true},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void the_head_of_a_rule_is_checked(void **state)
{
#define ID(id) DOC("id='" id "' subject='adapter' severity='note' status='draft' reviewed='2026-11-30'", BAD RULE_WHY RULE_EXAMPLES)
#define ATTRIBUTE(a) DOC(HEAD " " a, BAD RULE_WHY RULE_EXAMPLES)
    static const struct broken v[] = {
        {"<rule/>", "begins with <rules format=\"1\">", true},
        {"<rules/>", "<rules> wants format=\"1\"", true},
        {"<rules format='2'/>", "the file is of another", true},
        {"<rules format='1' x='y'/>", "unknown attribute \"x\"", true},
        {"<rules format='1'><rul/></rules>", "did you mean \"rule\"?", true},
        {"<rules format='1'>text</rules>", "text between rules", true},
        {"<rules format='1'>", "test.xml", true},
        {"not xml", "not XML", true},
        {"<rules format='1'><rule>", "test.xml", true},
        {ID("ab"), "a rule's id is", true},
        {ID("Upper-Case"), "a rule's id is", true},
        {ID("a_b_c"), "a rule's id is", true},
        {ID("-abc"), "a rule's id is", true},
        {DOC("subject='adapter' severity='note' status='draft' reviewed='2026-11-30'", BAD RULE_WHY RULE_EXAMPLES), "a rule's id is", true},
        {DOC("id='the-rule' subject='adaptr' severity='note' status='draft' reviewed='2026-11-30'", BAD RULE_WHY RULE_EXAMPLES),
         "did you mean \"adapter\"?", true},
        {DOC("id='the-rule' severity='note' status='draft' reviewed='2026-11-30'", BAD RULE_WHY RULE_EXAMPLES), "subject must name a table", true},
        {DOC("id='the-rule' subject='adapter' severity='note' status='drft' reviewed='2026-11-30'", BAD RULE_WHY RULE_EXAMPLES),
         "did you mean \"draft\"?", true},
        {DOC("id='the-rule' subject='adapter' severity='note' status='draft' reviewed='30.11.2026'", BAD RULE_WHY RULE_EXAMPLES),
         "reviewed wants a date", true},
        {DOC("id='the-rule' subject='adapter' severity='note' status='draft' reviewed='2026-02-29'", BAD RULE_WHY RULE_EXAMPLES),
         "reviewed wants a date", false},
        {DOC("id='the-rule' subject='adapter' severity='note' status='draft' reviewed='2026-13-01'", BAD RULE_WHY RULE_EXAMPLES),
         "reviewed wants a date", false},
        {DOC("id='the-rule' subject='adapter' severity='note' status='draft'", BAD RULE_WHY RULE_EXAMPLES), "reviewed wants a date", true},
        {ATTRIBUTE("topc='x'"), "did you mean \"topic\"?", true},
        {ATTRIBUTE("restrain='x'"), "did you mean \"restrains\"?", true},
        {"<rules format='1'>" RULE("the-rule", "adapter", "", BAD) RULE("the-rule", "adapter", "", BAD) "</rules>",
         "the id \"the-rule\" is used twice", false},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void the_parts_of_a_rule_are_checked(void **state)
{
    static const struct broken v[] = {
        {"<rules format='1'><rule " HEAD ">" BAD RULE_WHY RULE_EXAMPLES "</rule></rules>", "wants a <title>", true},
        {DOC(HEAD, BAD RULE_EXAMPLES), "wants <why>", true},
        {DOC(HEAD, BAD "<why>no address</why>" RULE_EXAMPLES), "<see href", true},
        {DOC(HEAD, BAD "<why><see href='https://example.com/'/></why>" RULE_EXAMPLES), "wants <why>", false},
        {DOC(HEAD, BAD "<why>w <see href='KB 1234'/></why>" RULE_EXAMPLES), "see wants href", true},
        {DOC(HEAD, BAD "<why>w <see/></why>" RULE_EXAMPLES), "see wants href", true},
        {DOC(HEAD, BAD "<why>w <see href='https://example.com/' title='x'/></why>" RULE_EXAMPLES), "unknown attribute \"title\"", true},
        {DOC(HEAD, BAD "<why>w <b>bold</b></why>" RULE_EXAMPLES), "may not stand inside <why>", true},
        {DOC(HEAD, RULE_WHY RULE_EXAMPLES), "either <bad> or <good>", true},
        {WITH(BAD "<good driver='y'/>"), "either <bad> or <good>", true},
        {WITH("<bad/>"), "<bad> says nothing", false},
        {WITH("<good note='x'/>"), "<good> says nothing", false},
        {DOC(HEAD, BAD RULE_WHY "<ignores/>"), "needs a <matches> example", true},
        {DOC(HEAD, BAD RULE_WHY), "needs a <matches> example", true},
        {DOC(HEAD, "text" BAD RULE_WHY RULE_EXAMPLES), "not text", true},
        {DOC(HEAD, "<when/><when><host vendor='x'/></when>" BAD RULE_WHY RULE_EXAMPLES), "a second <when>", true},
        {DOC(HEAD, "<title>again</title>" BAD RULE_WHY RULE_EXAMPLES), "a second <title>", true},
        {DOC(HEAD, BAD RULE_WHY RULE_WHY RULE_EXAMPLES), "a second <why>", true},
        {DOC(HEAD, BAD "<evidence><log kind='unmap'/></evidence><evidence><log kind='mdd'/></evidence>" RULE_WHY RULE_EXAMPLES),
         "a second <evidence>", true},
        {DOC(HEAD, BAD "<evidence/>" RULE_WHY RULE_EXAMPLES), "<evidence> says nothing", true},
        {DOC(HEAD, BAD "<evidence required='true'><log kind='unmap'/></evidence>" RULE_WHY RULE_EXAMPLES), "required wants yes or no", true},
        {DOC(HEAD, BAD "<evidence requird='yes'><log kind='unmap'/></evidence>" RULE_WHY RULE_EXAMPLES), "did you mean \"required\"?", true},
        {WITH("<when esxi='6.5'/>" BAD), "unknown attribute \"esxi\" of when", true},
        {WITH("<when upgrade-to='seven'/>" BAD), "a release is written", true},
        {DOC(HEAD, BAD RULE_WHY "<matches><adaptr name='x'/></matches><ignores/>"), "did you mean \"adapter\"?", false},
        {DOC(HEAD, BAD RULE_WHY "<matches>text</matches><ignores/>"), "not text", true},
        {DOC(HEAD, BAD RULE_WHY "<matches><pci id='8086'/></matches><ignores/>"), "id wants 8086:9d03", false},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void conditions_are_checked(void **state)
{
    static const struct broken v[] = {
        {WHEN("<vibb name='x'/>"), "unknown table or element \"vibb\"; did you mean \"vib\"?", true},
        {WHEN("<vib nam='x'/>"), "unknown column \"nam\" of vib; did you mean \"name\"?", true},
        {WHEN("<vib name=''/>"), "wants a value", false},
        {WHEN("<vib name='x'><pci/></vib>"), "may not stand inside", true},
        {WHEN("<vib name='x'>text</vib>"), "holds no text", true},
        {WHEN("text"), "not text", true},
        {WHEN("<path state='ded'/>"), "did you mean \"dead\"?", false},
        {WHEN("<device ssd='maybe'/>"), "wants yes or no", true},
        {WHEN("<device queue-depth='many'/>"), "wants a number", false},
        {WHEN("<device queue-depth-above='x'/>"), "wants a number", false},
        {WHEN("<device size-above='20ms'/>"), "wants a number in MiB", false},
        {WHEN("<device queue-depth-above='20ms'/>"), "wants a number", false},
        {WHEN("<log worst-above='20GiB'/>"), "wants a number in us", false},
        {WHEN("<device size-above='9223372036854775807GiB'/>"), "wants a number", false},
        {WHEN("<adapter driver-above='x'/>"), "is no number", true},
        {WHEN("<adapter driver-before='x'/>"), "is no version", true},
        {WHEN("<adapter driver-absent='maybe'/>"), "wants yes or no", true},
        {WHEN("<vib version-before='1.0 2.0'/>"), "wants one version", false},
        {WHEN("<vib version-before='1.*'/>"), "wants one version", false},
        {WHEN("<esxi from='six'/>"), "a release is written", true},
        {WHEN("<esxi from='6.5U1'/>"), "a release is written", true},
        {WHEN("<esxi release='6.5 6.7'/>"), "a release is written", false},
        {WHEN("<pci id='8086-9d03'/>"), "use colons", false},
        {WHEN("<none/>"), "holds exactly one element", true},
        {WHEN("<none><vib name='a'/><vib name='b'/></none>"), "holds exactly one element", true},
        {WHEN("<none>text</none>"), "holds exactly one element", true},
        {WHEN("<none of='x'><vib name='a'/></none>"), "unknown attribute \"of\"", true},
        {WHEN("<some><none><vib name='a'/></none></some>"), "holds a table", true},
        {WHEN("<none><some><vib name='a'/></some></none>"), "holds a table", true},
        {WHEN("<every><same of='name'><vib/></same></every>"), "holds a table", true},
        {WHEN("<none><compare fact='device.size' is='device.size'/></none>"), "holds a table", true},
        {WHEN("<count><vib name='a'/></count>"), "count wants below or above", false},
        {WHEN("<count below='two'><vib name='a'/></count>"), "count wants below or above", true},
        {WHEN("<count belw='2' above='1'><vib name='a'/></count>"), "did you mean \"below\"?", true},
        {WHEN("<same><vmknic/></same>"), "same wants of", true},
        {WHEN("<same of='mtuu'><vmknic/></same>"), "did you mean \"mtu\"?", false},
        {WHEN("<compare fact='device.queue-depth'/>"), "exactly one of below, above, is", true},
        {WHEN("<compare fact='device.queue-depth' below='device.size' is='device.size'/>"), "exactly one of below, above, is", true},
        {WHEN("<compare fact='queue-depth' below='device.size'/>"), "compare wants two numbers", false},
        {WHEN("<compare fact='device.model' below='device.size'/>"), "compare wants two numbers", false},
        {WHEN("<compare fact='device.size' below='32'/>"), "compare wants two numbers", false},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void fixes_hold_actions_and_never_commands(void **state)
{
    static const struct broken v[] = {
        {FIX("<fix id='f' risk='reboot'><module-disabl name='x'/></fix>"), "did you mean \"module-disable\"?", true},
        {FIX("<fix id='f' risk='reboot'><run>esxcli system module set</run></fix>"), "unknown action \"run\"", true},
        {FIX("<fix id='f' risk='reboot'>esxcli system module set</fix>"), "not text", true},
        {FIX("<fix id='f' risk='reboot'><module-disable name='x'>x</module-disable></fix>"), "holds no text", true},
        {FIX("<fix id='f' risk='reboot'><module-disable nam='x'/></fix>"), "no argument \"nam\"", true},
        {FIX("<fix id='f' risk='reboot'><module-disable/></fix>"), "module-disable wants name", true},
        {FIX("<fix id='f' risk='reboot'><module-disable name=''/></fix>"), "module-disable: name wants", false},
        {FIX("<fix id='f' risk='reboot'><module-disable name='x; reboot'/></fix>"), "name wants a module", false},
        {FIX("<fix id='f' risk='reboot'><module-disable name='$(reboot)'/></fix>"), "name wants a module", false},
        {FIX("<fix id='f' risk='reboot'><module-disable name='`reboot`'/></fix>"), "name wants a module", false},
        {FIX("<fix id='f' risk='reboot'><module-disable name='a|b'/></fix>"), "name wants a module", false},
        {FIX("<fix id='f' risk='reboot'><module-disable name='--force'/></fix>"), "name wants a module", false},
        {FIX("<fix id='f' risk='reboot'><module-disable name=\"a'b\"/></fix>"), "name wants a module", false},
        {FIX("<fix id='f' risk='reboot'><module-param name='x' set='a=1; b'/></fix>"), "set wants name=value", false},
        {FIX("<fix id='f' risk='reboot'><module-param name='x' set='a'/></fix>"), "set wants name=value", false},
        {FIX("<fix id='f' risk='live'><setting-set path='/X' value='x'/></fix>"), "value wants a number", false},
        {FIX("<fix id='f' risk='live'><setting-set path='X' value='1'/></fix>"), "path wants an option path", false},
        {FIX("<fix id='f' risk='reboot'><vib-install file='/tmp/../x.vib'/></fix>"), "file wants an absolute path", false},
        {FIX("<fix id='f' risk='reboot'><vib-install file='http://example.com/x.vib'/></fix>"), "file wants an absolute path", false},
        {FIX("<fix id='f' risk='reboot'><vib-install file='/tmp/x.sh'/></fix>"), "file wants an absolute path", false},
        {FIX("<fix id='f' risk='live'><device-set competing-ios='${device.queue-depth}'/></fix>"), "is no cell of the subject", false},
        {FIX("<fix id='f' risk='live'><device-set competing-ios='${adapter.port}'/></fix>"), "is no cell of the subject", false},
        {FIX("<fix id='f' risk='live'><device-set competing-ios='${adapter.ports'/></fix>"), "is no cell of the subject", false},
        {FIX("<fix id='f' risk='live'><device-set competing-ios='${adapter.ports};reboot'/></fix>"), "is no cell of the subject", false},
        {FIX("<fix id='f' risk='live'><device-set competing-ios='${'/></fix>"), "is no cell of the subject", false},
        {FIX("<fix risk='none'><advise>a</advise></fix>"), "fix wants an id", true},
        {FIX("<fix id='f' risk='high'><advise>a</advise></fix>"), "risk must be none, low, live, path, reboot, boot or data", true},
        {FIX("<fix id='f'><advise>a</advise></fix>"), "risk must be", true},
        {FIX("<fix id='f' risk='none' x='y'><advise>a</advise></fix>"), "unknown attribute \"x\" of fix", true},
        {FIX("<fix id='f' risk='none'/>"), "does nothing", false},
        {FIX("<fix id='f' risk='none'><require/><advise>a</advise></fix>"), "<require> says nothing", true},
        {FIX("<fix id='f' risk='none'><require x='y'><vib name='a'/></require><advise>a</advise></fix>"), "unknown attribute \"x\" of require", true},
        {FIX("<fix id='f' risk='none'><require><vibb name='a'/></require><advise>a</advise></fix>"), "did you mean \"vib\"?", true},
        {FIX("<fix id='f' risk='none'><then drivr='a'/><advise>a</advise></fix>"), "did you mean \"driver\"?", false},
        {FIX("<fix id='f' risk='none'><then driver='a'/><then driver='b'/><advise>a</advise></fix>"), "a second <then>", true},
        {FIX("<fix id='f' risk='live'><device-set competing-ios='8'/></fix>"), "device-set wants device here", false},
        {FIX("<fix id='f' risk='live'><device-set device='naa.1' competing-ios='257'/></fix>"), "1 to 256", false},
        {FIX("<fix id='f' risk='none'><advise lang='en'>a</advise></fix>"), "unknown attribute \"lang\" of advise", true},
    };

    check(*state, v, sizeof v / sizeof *v);
}

static void whole_files_pass_both(void **state)
{
    static const char *const whole[] = {
        "<rules format='1'/>",
        WITH(BAD),
        WITH("<bad driver='x'/><bad driver='y'><path state='dead'/></bad>"),
        WITH("<good driver='x' driver-version='1.0-*' note='n'/><good esxi='8.0u3' firmware='2'/>"),
        WITH("<when upgrade-to='7.0'/>" BAD),
        WHEN("<esxi from='6.5' before='6.5u1'/><esxi release='8.0u3c'/><pci class='010601' id='8086:8c02 1000:005d:1028:1f49'/>"),
        WHEN("<none><vib name='a'/></none><some><path state='dead'/></some><every><path transport='iscsi fc'/></every>"),
        WHEN("<count below='2'><path state='active'/></count><same of='mtu'><vmknic/></same><none><same of='mtu'><vmknic enabled='yes'/></same></none>"),
        WHEN("<compare fact='device.competing-ios' below='device.queue-depth'/>"),
        WHEN("<device size-above='1GiB' model='A B|C' ssd='true' queue-depth='31 32' driver-absent='no'/><log worst-above='20ms'/>"),
        WHEN("<pci owner='VM Passthru|VMkernel'/><adapter link-state='link-up online' driver='*ahci'/>"),
        DOC(HEAD " topic='t' supersedes='a-b' restrains='c-d e-f'",
            BAD "<evidence required='yes'><log kind='unmap'/><none><log kind='mdd'/></none></evidence>" RULE_WHY
                "<fix id='f' risk='boot'><require><vib name='a'/></require><require><none><vib name='b'/></none></require>"
                "<module-enable name='ahci'/><module-disable name='vmw_ahci'/><then driver='ahci'/><advise>a</advise></fix>"
                "<fix id='g' risk='live'><device-set device='naa.1' competing-ios='${adapter.ports}'/></fix>"
                "<matches pci='8086:9d03' class='0106' driver='x'/><ignores driver='?'/><unsure partial='vib'><adapter name='vmhba0' pci='0000:00:11.4'>"
                "<pci id='?'/></adapter></unsure>"),
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct err e = {0};

        f->w.rs.rules = (struct rules){0};
        if (world_load(&f->w, whole[i]) < 0)
            fail_msg("%s\n%s", whole[i], f->w.e.msg);
        if (validate(f, whole[i], &e) < 0)
            fail_msg("%s\n%s", whole[i], e.msg);
    }
}

/* A file cut anywhere, or with a byte that does not belong, is refused and does no harm. */
static void a_cut_file_is_never_half_a_rule(void **state)
{
    static const char whole[] = WITH("<when><esxi from='6.5'/><none><vib name='a'/></none></when>" BAD);
    struct fixture *f = *state;

    for (size_t n = 0; n + 1 < sizeof whole; n++) {
        struct rules rs = {0};
        struct err e = {0};
        struct slice cut = {whole, n};

        if (rules_load(&rs, arena_dup(f->w.a, cut), "test.xml", &f->w.schema, f->w.a, &e) >= 0)
            fail_msg("accepted up to byte %zu", n);
        assert_true(e.msg[0] != '\0');
    }
}

static void errors_name_the_line(void **state)
{
    struct fixture *f = *state;

    assert_true(world_load(&f->w, WITH("<when>\n\n<vibb/></when>" BAD)) < 0);
    assert_non_null(strstr(f->w.e.msg, "test.xml:6:"));
}

static void a_rule_of_a_later_file_replaces_the_earlier_one_whole(void **state)
{
    struct fixture *f = *state;
    const struct rule *r;

    f->w.rs.rules = (struct rules){0};
    assert_int_equal(world_load(&f->w, DOC(HEAD " topic='old'", BAD RULE_WHY RULE_EXAMPLES)), 0);
    assert_int_equal(rules_load(&f->w.rs.rules, SLICE_LIT(DOC("id='the-rule' subject='nic' severity='note' status='draft' reviewed='2026-11-30'",
                                                              "<bad driver='y'/>" RULE_WHY RULE_EXAMPLES)),
                                "later.xml", &f->w.schema, f->w.a, &f->w.e),
                     0);
    assert_int_equal(f->w.rs.rules.n, 1);
    r = rules_find(&f->w.rs.rules, SLICE_LIT("the-rule"));
    assert_non_null(r);
    assert_int_equal(r->subject, world_table(&f->w, "nic"));
    assert_int_equal(r->topic.n, 0);
    assert_string_equal(r->file, "later.xml");
    assert_null(rules_find(&f->w.rs.rules, SLICE_LIT("other")));
    assert_true(slice_eqz(rules_near(&f->w.rs.rules, SLICE_LIT("the-rul")), "the-rule"));
    assert_int_equal(rules_near(&f->w.rs.rules, SLICE_LIT("something-else-entirely")).n, 0);
}

static void several_requires_must_all_hold(void **state)
{
    struct fixture *f = *state;
    const struct fix *fix;
    const struct row *r;

    world_rules(&f->w, FIX("<fix id='f' risk='none'><require><vib name='a'/></require><require><vib name='b'/></require><advise>x</advise></fix>"));
    fix = &f->w.rs.rules.v[0]->fixes[0];
    world_facts(&f->w, "adapter r|\nvib b|\n");
    r = world_find(&f->w, "adapter", "r");
    assert_int_equal(cond_eval(&(struct eval){f->w.f, &f->w.builds, NULL}, fix->require, r), TRI_FALSE);
    world_add(&f->w, "vib a|\n");
    assert_int_equal(cond_eval(&(struct eval){f->w.f, &f->w.builds, NULL}, fix->require, r), TRI_TRUE);
}

static void references_between_rules_must_lead_somewhere(void **state)
{
    static const char *const attributes[] = {"supersedes", "restrains"};
    struct fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        ruleset_init(&f->w.rs, &f->w.schema, &f->w.builds, f->w.a);
        assert_int_equal(world_load(&f->w, arena_printf(f->w.a, DOC(HEAD " %s='the-rul'", BAD RULE_WHY RULE_EXAMPLES), attributes[i])), 0);
        assert_true(ruleset_seal(&f->w.rs, &f->w.e) < 0);
        assert_non_null(strstr(f->w.e.msg, attributes[i]));
        assert_non_null(strstr(f->w.e.msg, "did you mean \"the-rule\"?"));
    }
}

static void a_title_is_a_line(void **state)
{
    struct fixture *f = *state;

    for (int longer = 0; longer < 2; longer++) {
        char *title = arena_alloc(f->w.a, 202);

        memset(title, 't', 200 + (size_t)longer);
        f->w.rs.rules = (struct rules){0};
        assert_int_equal(world_load(&f->w, arena_printf(f->w.a, "<rules format='1'>" "<rule id='the-rule' subject='adapter' severity='note' status='stable' "
                                                        "reviewed='2026-11-30'><title>%s</title>" BAD RULE_WHY RULE_EXAMPLES "</rule></rules>", title)) < 0,
                         longer);
    }
    assert_non_null(strstr(f->w.e.msg, "longer than 200 characters"));
}

static void no_rule_takes_itself_back(void **state)
{
#define NAMED(id, more) RULE(id, "adapter", more, "<bad driver='x'/>")
    static const struct {
        const char *xml;
        bool circle;
    } t[] = {
        {RULES(NAMED("aaa", "supersedes='aaa'")), true},
        {RULES(NAMED("aaa", "restrains='aaa'")), true},
        {RULES(NAMED("aaa", "supersedes='bbb'") NAMED("bbb", "restrains='aaa'")), true},
        {RULES(NAMED("aaa", "supersedes='bbb'") NAMED("bbb", "supersedes='ccc'") NAMED("ccc", "supersedes='aaa'")), true},
        {RULES(NAMED("aaa", "supersedes='bbb ccc'") NAMED("bbb", "supersedes='ccc'") NAMED("ccc", "")), false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        ruleset_init(&f->w.rs, &f->w.schema, &f->w.builds, f->w.a);
        if (world_load(&f->w, t[i].xml) < 0)
            fail_msg("%s", f->w.e.msg);
        assert_int_equal(ruleset_seal(&f->w.rs, &f->w.e) < 0, t[i].circle);
        if (t[i].circle)
            assert_non_null(strstr(f->w.e.msg, "none of them could be reported"));
    }
}

static void no_room_is_an_error_and_no_crash(void **state)
{
    static const char whole[] = DOC(HEAD, "<when><esxi from='6.5'/><none><vib name='a'/></none></when><bad driver='x'/><bad driver='y'/>"
                                          "<evidence><log kind='unmap'/></evidence>" RULE_WHY
                                          "<fix id='f' risk='boot'><require><vib name='a'/></require><module-enable name='ahci'/></fix>" RULE_EXAMPLES);
    struct fixture *f = *state;
    size_t n = 0;
    int rc = -1, code = 0;

    for (; rc < 0 && n < 2000; n++) {
        struct arena *a = arena_new(64u << 20);
        struct rules rs = {0};
        struct err e = {0};

        arena_fail_at(a, n + 1);
        rc = rules_load(&rs, SLICE_LIT(whole), "test.xml", &f->w.schema, a, &e);
        if (rc < 0)
            assert_true(e.code < 0 && e.msg[0]);
        code = rc < 0 ? e.code : code;
        arena_free(a);
    }
    assert_int_equal(code, VF_ELIMIT);
    assert_true(n > 20 && n < 2000);
}

static void the_schema_of_this_checkout_is_what_is_generated(void **state)
{
    struct fixture *f = *state;

    if (!slice_eq(world_read(&f->w, "rules/rules.rng"), buf_slice(&f->rng)))
        fail_msg("rules/rules.rng is old; \"vmkfit rules rng\" gives the present one");
}

static int one_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct fixture *f = ctx;
    struct slice bytes;
    struct err schema = {0};

    if (!slice_ends(slice_of(rel), ".xml"))
        return 0;
    bytes = world_read(&f->w, path);
    if (rules_load(&f->w.rs.rules, bytes, arena_printf(f->w.a, "%s", path), &f->w.schema, f->w.a, e) < 0)
        fail_msg("%s", e->msg);
    if (validate(f, bytes.p, &schema) < 0)
        fail_msg("%s: %s", path, schema.msg);
    return 0;
}

static void the_rules_of_this_checkout_pass_both(void **state)
{
    struct fixture *f = *state;

    ruleset_init(&f->w.rs, &f->w.schema, &f->w.builds, f->w.a);
    assert_int_equal(fsx_walk("rules", one_file, f, &f->w.e), 0);
    assert_true(f->w.rs.rules.n > 10);
    assert_int_equal(ruleset_seal(&f->w.rs, &f->w.e), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(frequent_mistakes_are_answered_plainly),
        T(the_head_of_a_rule_is_checked),
        T(the_parts_of_a_rule_are_checked),
        T(conditions_are_checked),
        T(fixes_hold_actions_and_never_commands),
        T(whole_files_pass_both),
        T(a_cut_file_is_never_half_a_rule),
        T(errors_name_the_line),
        T(a_rule_of_a_later_file_replaces_the_earlier_one_whole),
        T(several_requires_must_all_hold),
        T(references_between_rules_must_lead_somewhere),
        T(a_title_is_a_line),
        T(no_rule_takes_itself_back),
        T(no_room_is_an_error_and_no_crash),
        T(the_schema_of_this_checkout_is_what_is_generated),
        T(the_rules_of_this_checkout_pass_both),
    };

    xml_setup();
    return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
