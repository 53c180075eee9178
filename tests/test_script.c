/* Many commands through one shell: what is sent, and its answers told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/script.h"

#define TOKEN "000102030405060708090a0b0c0d0e0f"

static const uint8_t digits[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static struct script script_of_test(void)
{
    struct script s;

    script_init(&s, digits);
    assert_string_equal(s.token, TOKEN);
    return s;
}

/* --- what is sent --- */

static void assert_lines(const struct ask *q, bool localcli, const char *expected)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct err e = {0};

    assert_int_equal(script_ask(q, 7, localcli, &b, &e), 0);
    assert_string_equal(buf_z(&b), expected);
}

static void assert_refused(const struct ask *q)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct err e = {0};

    buf_addz(&b, "before\n");
    assert_int_equal(script_ask(q, 7, false, &b, &e), VF_EDENIED);
    assert_true(e.msg[0]);
    assert_string_equal(buf_z(&b), "before\n");
}

static struct ask ask_of(enum ask_kind kind, const char *text)
{
    return (struct ask){.kind = kind, .text = slice_of(text)};
}

static struct ask ask_with(const char *text, const char *value)
{
    struct ask q = ask_of(ASK_ESXCLI, text);

    q.value = slice_from(q.text, q.text.n - strlen(value));
    return q;
}

static void first_lines_make_the_boundary_and_end_what_hangs(void **state)
{
    struct script s = script_of_test();
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096), with = BUF_INIT(4096);

    (void)state;
    script_start(&s, NULL, &b);
    assert_null(strstr(buf_z(&b), "kill"));
    assert_true(slice_ends(buf_slice(&b), "\nb 0 $$ $PPID\n"));
    assert_non_null(strstr(buf_z(&b), "LC_ALL=C"));
    script_start(&s, &(struct script_shell){4711, 4700}, &with);
    assert_non_null(strstr(buf_z(&with), "\nkill -0 4711 2>/dev/null && { kill -9 -4711 2>/dev/null || kill -9 -4700 2>/dev/null; }\n"));
    buf_reset(&with);
    script_start(&s, &(struct script_shell){4711, 1}, &with); /* the group of init */
    assert_null(strstr(buf_z(&with), "kill"));
}

static void commands_read_from_nothing_and_end_in_a_boundary(void **state)
{
    struct ask q = ask_of(ASK_ESXCLI, "storage core adapter list");

    (void)state;
    assert_lines(&q, false, "esxcli storage core adapter list </dev/null; b 7 $?\n");
    assert_lines(&q, true, "localcli storage core adapter list </dev/null; b 7 $?\n");
    q.form = ASK_AS_XML;
    assert_lines(&q, false, "esxcli --formatter=xml storage core adapter list </dev/null; b 7 $?\n");
    q = ask_of(ASK_SHELL, "vmkchdev -l");
    assert_lines(&q, true, "vmkchdev -l </dev/null; b 7 $?\n");
}

static void a_value_is_one_word_whatever_it_holds(void **state)
{
    struct ask q = ask_with("storage vmfs reclaim config get -l my datastore", "my datastore");

    (void)state;
    assert_lines(&q, false, "esxcli storage vmfs reclaim config get -l 'my datastore' </dev/null; b 7 $?\n");
    q = ask_with("storage core device smart get -d --all", "--all");
    assert_refused(&q); /* an option, where a name was expected */
}

static void what_changes_a_host_or_a_line_is_refused(void **state)
{
    static const char *const bad[] = {"system module set -m x", "storage core adapter list; reboot", "storage core adapter list $(reboot)",
                                      "storage core adapter list\nreboot", "storage core adapter list > /x", "system shutdown reboot"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ask q = ask_of(ASK_ESXCLI, bad[i]);

        assert_refused(&q);
    }
    assert_refused(&(struct ask){.kind = ASK_SHELL, .text = SLICE_LIT("reboot")});
    assert_refused(&(struct ask){.kind = ASK_FILE, .text = SLICE_LIT("/etc/shadow")});
}

static void files_end_in_a_boundary_without_a_path(void **state)
{
    struct ask q = ask_of(ASK_FILE, "/bootbank/boot.cfg");

    (void)state;
    assert_lines(&q, false, "for f in /bootbank/boot.cfg; do [ -f \"$f\" ] && { cat \"$f\" </dev/null; b 7 $? \"$f\"; }; done; b 7 0\n");
    q = ask_of(ASK_FILE, "/etc/vmware/default.map.d/*.map");
    assert_lines(&q, false, "o=0; for f in /etc/vmware/default.map.d/*.map; do [ -f \"$f\" ] && case $f in *[!A-Za-z0-9._/+-]*) o=1;; "
                            "*) cat \"$f\" </dev/null; b 7 $? \"$f\";; esac; done; b 7 $o\n");
    q = ask_of(ASK_FILE, "/var/log/vmkernel.log"); /* with the one rotated last */
    assert_lines(&q, false, "for f in /var/log/vmkernel.log /var/run/log/vmkernel.0.gz; do [ -f \"$f\" ] && { cat \"$f\" </dev/null; b 7 $? \"$f\"; }; "
                            "done; b 7 0\n");
}

/* --- what comes back --- */

struct part {
    const char *body;
    size_t n;
    uint32_t number;
    int64_t status;
    const char *path;
};

#define PART(body, number, status, path) {body, sizeof body - 1, number, status, path}

/* Bodies with all that could be taken for a boundary. */
static const struct part parts[] = {
    PART("", 0, 4711, ""),
    PART("one line\n", 1, 0, ""),
    PART("no line end", 2, 255, ""),
    PART("\n\n\n", 3, 0, ""),
    PART(TOKEN " 4 0\nthe first line is no line of its own after LF\n", 4, 0, ""),
    PART("x\n" TOKEN "\n" TOKEN "  \n" TOKEN " 5\n" TOKEN " five 0\n" TOKEN " 5 -1\n" TOKEN " 4294967296 0\n" TOKEN " 99999999999999999999 0\n", 5, 1, ""),
    PART("\n0f0e0d0c0b0a09080706050403020100 6 0\n\n" "000102030405060708090a0b0c0d0e0e 6 0\n", 6, 0, ""),
    PART("NUL \0 ESC \x1b high \xff\xfe CR \r\n", 7, 127, ""),
    PART("\n000102030405060708090a0b0c0d0e0f", 8, 0, "/etc/vmware/a b.map"),
};
#define NPARTS (sizeof parts / sizeof *parts)

static void add_boundary(struct buf *b, const struct part *p)
{
    buf_add(b, (struct slice){p->body, p->n});
    buf_printf(b, "\n" TOKEN " %u %lld%s%s\n", p->number, (long long)p->status, *p->path ? " " : "", p->path);
}

/* Part 4 begins like a boundary: its own LF is missing, which the boundary before it has eaten. */
static size_t take(struct splitter *sp, size_t at)
{
    struct slice body;
    struct boundary b;

    while (splitter_next(sp, &body, &b)) {
        const struct part *p = &parts[at];

        assert_true(at < NPARTS);
        assert_true(slice_eq(body, (struct slice){p->body, p->n}));
        assert_int_equal(b.number, p->number);
        assert_int_equal(b.status, p->status);
        assert_true(slice_eqz(b.path, p->path));
        splitter_drop(sp);
        at++;
    }
    return at;
}

static void bodies_come_whole_however_the_bytes_are_cut(void **state)
{
    struct script s = script_of_test();
    _cleanup_(buf_done) struct buf all = BUF_INIT(1 << 16);
    struct slice bytes;

    (void)state;
    for (size_t i = 0; i < NPARTS; i++)
        add_boundary(&all, &parts[i]);
    bytes = buf_slice(&all);
    for (size_t cut = 0; cut <= bytes.n; cut++) { /* in two pieces */
        _cleanup_(splitter_done) struct splitter sp;
        size_t at;

        splitter_init(&sp, &s, 1 << 20);
        splitter_add(&sp, slice_cut(bytes, 0, cut));
        at = take(&sp, 0);
        splitter_add(&sp, slice_from(bytes, cut));
        assert_int_equal(take(&sp, at), NPARTS);
        assert_int_equal(splitter_rest(&sp).n, 0);
    }
    for (size_t piece = 1; piece < 80; piece++) { /* in many */
        _cleanup_(splitter_done) struct splitter sp;
        size_t at = 0;

        splitter_init(&sp, &s, 1 << 20);
        for (size_t i = 0; i < bytes.n; i += piece) {
            splitter_add(&sp, slice_cut(bytes, i, piece));
            at = take(&sp, at);
        }
        assert_int_equal(at, NPARTS);
    }
}

static void a_boundary_that_is_looked_at_again_is_the_same(void **state)
{
    struct script s = script_of_test();
    _cleanup_(splitter_done) struct splitter sp;
    struct slice body, again;
    struct boundary b, c;

    (void)state;
    splitter_init(&sp, &s, 4096);
    splitter_add(&sp, SLICE_LIT("abc\n" TOKEN " 1 0\nrest"));
    assert_true(splitter_next(&sp, &body, &b));
    assert_true(splitter_next(&sp, &again, &c));
    assert_true(slice_eq(body, again));
    assert_int_equal(b.number, c.number);
    splitter_drop(&sp);
    assert_false(splitter_next(&sp, &body, &b));
    assert_true(slice_eqz(splitter_rest(&sp), "rest"));
}

static void what_has_no_boundary_yet_is_the_rest(void **state)
{
    struct script s = script_of_test();
    struct slice body;
    struct boundary b;

    (void)state;
    for (size_t n = 0; n < sizeof "\n" TOKEN " 12 34\n" - 1; n++) {
        _cleanup_(splitter_done) struct splitter sp;

        splitter_init(&sp, &s, 4096);
        splitter_add(&sp, SLICE_LIT("body"));
        splitter_add(&sp, slice_cut(SLICE_LIT("\n" TOKEN " 12 34\n"), 0, n));
        assert_false(splitter_next(&sp, &body, &b));
        assert_int_equal(splitter_rest(&sp).n, 4 + n);
    }
}

static void more_than_the_limit_is_not_held(void **state)
{
    struct script s = script_of_test();
    _cleanup_(splitter_done) struct splitter sp;
    struct slice body;
    struct boundary b;

    (void)state;
    splitter_init(&sp, &s, 100);
    for (int i = 0; i < 1000; i++)
        splitter_add(&sp, SLICE_LIT("0123456789"));
    assert_true(splitter_rest(&sp).n <= 100);
    assert_false(splitter_next(&sp, &body, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_lines_make_the_boundary_and_end_what_hangs),
        cmocka_unit_test(commands_read_from_nothing_and_end_in_a_boundary),
        cmocka_unit_test(a_value_is_one_word_whatever_it_holds),
        cmocka_unit_test(what_changes_a_host_or_a_line_is_refused),
        cmocka_unit_test(files_end_in_a_boundary_without_a_path),
        cmocka_unit_test(bodies_come_whole_however_the_bytes_are_cut),
        cmocka_unit_test(a_boundary_that_is_looked_at_again_is_the_same),
        cmocka_unit_test(what_has_no_boundary_yet_is_the_rest),
        cmocka_unit_test(more_than_the_limit_is_not_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
