#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "base/sh.h"
#include "base/xml.h"

#define LIT SLICE_LIT

static struct slice text(const char *z)
{
    return slice_of(z);
}

/* --- slices --- */

static void glob_has_the_star_as_its_only_wildcard(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool hit;
    } t[] = {
        {"", "", true},          {"", "a", false},         {"*", "", true},           {"*", "anything", true},   {"a", "a", true},
        {"a", "A", false},       {"a*", "a", true},        {"*a", "ba", true},        {"*a", "ab", false},       {"a*c", "abc", true},
        {"a*c", "ac", true},     {"a*c", "acb", false},    {"a*b*c", "aXbYc", true},  {"a*b*c", "aXcYb", false}, {"**", "x", true},
        {"a?c", "abc", false},   {"a?c", "a?c", true},     {"[ab]", "a", false},      {"1.0-*", "1.0-1OEM", true},
        {"*.2", "0.2.2", true},  {"*aab", "aaaab", true},  {"a*a", "a", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (slice_glob(text(t[i].pattern), text(t[i].text)) != t[i].hit)
            fail_msg("glob %s on %s", t[i].pattern, t[i].text);
}

static void distance_counts_edits_and_is_capped(void **state)
{
    char longest[100];

    (void)state;
    memset(longest, 'x', sizeof longest);
    assert_int_equal(slice_distance(text("driver"), text("driver")), 0);
    assert_int_equal(slice_distance(text("drivr"), text("driver")), 1);
    assert_int_equal(slice_distance(text("drievr"), text("driver")), 1); /* a swap */
    assert_int_equal(slice_distance(text("Driver"), text("driver")), 0);
    assert_int_equal(slice_distance(text(""), text("abc")), 3);
    assert_int_equal(slice_distance(text("abc"), text("xyz")), 3);
    assert_int_equal(slice_distance((struct slice){longest, sizeof longest}, text("a")), 99);
}

static void numbers_are_whole_texts_without_overflow(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } t[] = {
        {"0", 0, 0}, {"18446744073709551615", 0, UINT64_MAX}, {"18446744073709551616", -1, 0}, {"99999999999999999999999", -1, 0},
        {"", -1, 0}, {" 1", -1, 0}, {"1 ", -1, 0}, {"+1", -1, 0}, {"-1", -1, 0}, {"1a", -1, 0}, {"0x", -1, 0}, {"0x10", 0, 16},
        {"0xffffffffffffffff", 0, UINT64_MAX}, {"0x10000000000000000", -1, 0}, {"007", 0, 7}, {"1.5", -1, 0}, {"ff", -1, 0},
    };
    uint64_t u;
    int64_t i;

    (void)state;
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        u = 77;
        if (num_parse_u64(text(t[k].text), &u) != t[k].rc || u != (t[k].rc ? 77 : t[k].value))
            fail_msg("\"%s\"", t[k].text);
    }
    assert_int_equal(num_parse_u64((struct slice){"1\0002", 3}, &u), -1);
    assert_int_equal(num_parse_i64(text("-9223372036854775808"), &i), 0);
    assert_true(i == INT64_MIN);
    assert_int_equal(num_parse_i64(text("-9223372036854775809"), &i), -1);
    assert_int_equal(num_parse_i64(text("9223372036854775807"), &i), 0);
    assert_int_equal(num_parse_i64(text("9223372036854775808"), &i), -1);
    assert_int_equal(num_parse_i64(text("--1"), &i), -1);
    assert_int_equal(num_parse_hex(text("Ff"), 4, &u), 0);
    assert_int_equal(u, 255);
    assert_int_equal(num_parse_hex(text("12345"), 4, &u), -1);
    assert_int_equal(num_parse_hex(text(""), 4, &u), -1);
    assert_int_equal(num_parse_hex(text("1g"), 4, &u), -1);
}

static void lines_say_whether_they_ended(void **state)
{
    struct slice rest = LIT("a\r\n\nb"), line;
    bool ended;

    (void)state;
    assert_true(slice_next_line(&rest, &line, &ended));
    assert_true(slice_eqz(line, "a") && ended);
    assert_true(slice_next_line(&rest, &line, &ended));
    assert_true(line.n == 0 && ended);
    assert_true(slice_next_line(&rest, &line, &ended));
    assert_true(slice_eqz(line, "b") && !ended);
    assert_false(slice_next_line(&rest, &line, NULL));
}

static void words_keep_nul_bytes(void **state)
{
    struct slice rest = {" a\0b ,c", 7}, word;

    (void)state;
    assert_true(slice_next_word(&rest, " ,", &word));
    assert_int_equal(word.n, 3);
    assert_true(slice_next_word(&rest, " ,", &word));
    assert_true(slice_eqz(word, "c"));
    assert_false(slice_next_word(&rest, " ,", &word));
}

static void empty_slices_may_have_a_null_pointer(void **state)
{
    const struct slice none = {NULL, 0};
    struct slice rest = none, part;

    (void)state;
    assert_true(slice_eq(none, text("")));
    assert_true(slice_starts(none, ""));
    assert_true(slice_ends(none, ""));
    assert_false(slice_starts(none, "a"));
    assert_int_equal(slice_cmp(none, text("a")), -1);
    assert_true(slice_find(none, 0, "a") == SIZE_MAX);
    assert_true(slice_find_char(none, 0, 'a') == SIZE_MAX);
    assert_false(slice_next_line(&rest, &part, NULL));
    assert_false(slice_next_word(&rest, " ", &part));
    assert_int_equal(slice_trim(none).n, 0);
    assert_true(slice_glob(none, none));
    assert_int_equal(slice_cut(none, 3, 4).n, 0);
    assert_int_equal(slice_distance(none, text("ab")), 2);
}

/* --- arena --- */

static void arena_refuses_over_its_limit_and_stays_full(void **state)
{
    struct arena *a = arena_new(1000);

    (void)state;
    assert_non_null(arena_alloc(a, 900));
    assert_false(arena_full(a));
    assert_null(arena_alloc(a, 900));
    assert_true(arena_full(a));
    assert_non_null(arena_alloc(a, 16)); /* what still fits is given */
    assert_true(arena_full(a));
    assert_null(arena_array(a, SIZE_MAX / 2, 3));
    assert_null(arena_dup(a, (struct slice){"", SIZE_MAX}).p);
    assert_string_equal(arena_printf(a, "%2000d", 1), "");
    arena_free(a);
    arena_free(NULL);
}

static void arena_memory_is_zeroed_and_copies_end_with_nul(void **state)
{
    struct arena *a = arena_new(1u << 20);
    struct slice s = arena_dup(a, (struct slice){"abc", 2});

    (void)state;
    for (size_t size = 1; size < 100000; size *= 3) {
        const char *p = arena_alloc(a, size);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
    }
    assert_string_equal(s.p, "ab");
    assert_non_null(arena_dup(a, (struct slice){NULL, 0}).p);
    arena_free(a);
}

static void arena_fail_at_fails_that_allocation_and_all_after(void **state)
{
    struct arena *a = arena_new(1u << 20);

    (void)state;
    arena_fail_at(a, 3);
    assert_non_null(arena_alloc(a, 1));
    assert_non_null(arena_alloc(a, 1));
    assert_null(arena_alloc(a, 1));
    assert_null(arena_alloc(a, 1));
    assert_true(arena_full(a));
    arena_fail_at(a, 0);
    assert_non_null(arena_alloc(a, 1));
    arena_free(a);
}

static void arena_grow_keeps_elements_and_meets_its_maximum(void **state)
{
    struct arena *a = arena_new(1u << 20);
    uint32_t *v = NULL;
    size_t cap = 0, n = 0;

    (void)state;
    for (;; n++) {
        void *p = v;

        if (arena_grow(a, &p, n, &cap, sizeof *v, 100) < 0)
            break;
        v = p;
        v[n] = (uint32_t)n * 7;
        if (n > 1000)
            fail();
    }
    assert_true(n >= 100 && n < 200); /* the check is made when the array doubles */
    for (size_t i = 0; i < n; i++)
        assert_int_equal(v[i], i * 7);
    assert_true(arena_full(a));
    arena_free(a);
}

/* --- buf --- */

static void buf_keeps_what_fits_and_says_that_it_was_cut(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(10), none = BUF_INIT(0);

    (void)state;
    buf_addz(&b, "12345678");
    assert_false(b.cut);
    buf_printf(&b, "%s", "90ab");
    assert_true(b.cut);
    assert_string_equal(buf_z(&b), "1234567890");
    buf_addc(&b, 'x');
    assert_int_equal(b.n, 10);
    buf_reset(&b);
    assert_false(b.cut);
    assert_string_equal(buf_z(&b), "");
    buf_printf(&b, "%0*d", 2000, 7);
    assert_int_equal(b.n, 10);
    buf_addz(&none, "a");
    assert_true(none.cut);
    assert_int_equal(buf_slice(&none).n, 0);
}

static void buf_add_safe_passes_text_and_shows_what_could_act(void **state)
{
    static const struct {
        const char *in, *out;
    } t[] = {
        {"plain text", "plain text"},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"a\tb\nc\rd", "a\\x09b\\x0ac\\x0dd"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b" "31m", "\\xc2\\x9b31m"},                         /* C1 in UTF-8 */
        {"\x9b" "31m", "\\x9b31m"},                                  /* C1 alone */
        {"\xe2\x80\xae" "x", "\\xe2\\x80\\xaex"},                    /* right-to-left override */
        {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},                         /* left-to-right isolate */
        {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},                         /* zero width space */
        {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},                         /* U+FEFF */
        {"M\xc3\xbcller \xe6\x97\xa5 \xf0\x9f\x98\x80", "M\xc3\xbcller \xe6\x97\xa5 \xf0\x9f\x98\x80"},
        {"\xc3", "\\xc3"},                                           /* ends in the middle */
        {"\xc0\xaf", "\\xc0\\xaf"},                                  /* overlong */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                         /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},                /* beyond U+10FFFF */
        {"\xff\xfe", "\\xff\\xfe"},
        {"\x80", "\\x80"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1000);

        buf_add_safe(&b, text(t[i].in));
        assert_string_equal(buf_z(&b), t[i].out);
    }
}

static void buf_add_safe_is_safe_at_the_limit_too(void **state)
{
    (void)state;
    for (size_t max = 0; max < 12; max++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(max), again = BUF_INIT(100);

        buf_add_safe(&b, text("\xe6\x97\xa5\xf0\x9f\x98\x80\xc3\xbc"));
        buf_add_safe(&again, buf_slice(&b)); /* no half a character that a terminal would complete */
        assert_string_equal(buf_z(&b), buf_z(&again));
        assert_int_equal(b.cut, max < 9);
    }
}

/* --- map --- */

static void map_grows_and_finds_every_key(void **state)
{
    enum { N = 50000 };
    struct arena *a = arena_new(256u << 20);
    struct map m = {0};

    (void)state;
    assert_true(map_get(&m, text("x")) == MAP_NONE);
    map_set(&m, text("x"), 1); /* not there: nothing */
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(map_put(&m, a, text(arena_printf(a, "key-%u", i)), i), 0);
    assert_int_equal(m.n, N);
    for (uint32_t i = 0; i < N; i++) {
        char key[32];

        (void)snprintf(key, sizeof key, "key-%u", i);
        assert_int_equal(map_get(&m, text(key)), i);
    }
    assert_true(map_get(&m, text("key-")) == MAP_NONE);
    assert_int_equal(map_put(&m, a, text("key-7"), 9), 0);
    assert_int_equal(m.n, N);
    assert_int_equal(map_get(&m, text("key-7")), 9);
    map_set(&m, text("key-7"), 10);
    assert_int_equal(map_get(&m, text("key-7")), 10);
    assert_int_equal(map_put(&m, a, (struct slice){NULL, 0}, 4), 0);
    assert_int_equal(map_get(&m, text("")), 4);
    arena_free(a);
}

static void map_survives_the_limit_of_its_arena(void **state)
{
    struct arena *a = arena_new(2000);
    char names[200][4];
    struct map m = {0};
    uint32_t i;

    (void)state;
    for (i = 0; i < 200; i++) {
        (void)snprintf(names[i], sizeof names[i], "%03u", i);
        if (map_put(&m, a, text(names[i]), i) < 0)
            break;
    }
    assert_true(i > 8 && i < 200);
    for (uint32_t k = 0; k < i; k++)
        assert_int_equal(map_get(&m, text(names[k])), k);
    arena_free(a);
}

/* --- shell words --- */

static void shell_gives_back(const struct buf *script, const struct buf *wanted)
{
    char path[] = "/tmp/vmkfit-sh-XXXXXX";
    int fd = mkstemp(path), out[2], status;
    struct buf got = BUF_INIT(16u << 20);
    char chunk[8192];
    ssize_t n;
    pid_t pid;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, script->p, script->n), script->n);
    (void)close(fd);
    assert_int_equal(pipe(out), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(out[1], 1);
        (void)close(out[0]);
        (void)close(out[1]);
        (void)execl("/bin/sh", "sh", path, (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    while ((n = read(out[0], chunk, sizeof chunk)) > 0)
        buf_add(&got, (struct slice){chunk, (size_t)n});
    (void)close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)unlink(path);
    assert_int_equal(status, 0);
    assert_int_equal(got.n, wanted->n);
    assert_memory_equal(got.p, wanted->p, wanted->n);
    buf_done(&got);
}

/* Each word goes through a shell as an argument, and comes back byte by byte; a newline parts the answers. */
static void sh_quote_is_undone_by_a_shell(void **state)
{
    static const char odd[] = "'\"\\$`!*?[]{}()<>|&;#~ \t=%@:,./-_abcXYZ019\x01\x1b\x7f\x80\xc3\xa4\xff";
    _cleanup_(buf_done) struct buf script = BUF_INIT(8u << 20), wanted = BUF_INIT(8u << 20);
    uint64_t seed = 20261130;

    (void)state;
    buf_addz(&script, "f() { printf '%s\\n' \"$1\"; test $# = 1 || exit 9; }\n");
    for (int i = 0; i < 2000; i++) {
        char word[40];
        size_t n;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        n = (seed >> 40) % 33;
        for (size_t k = 0; k < n; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            word[k] = odd[(seed >> 33) % (sizeof odd - 1)];
        }
        buf_addz(&script, "f ");
        assert_int_equal(sh_quote(&script, (struct slice){word, n}), 0);
        buf_addc(&script, '\n');
        buf_add(&wanted, (struct slice){word, n});
        buf_addc(&wanted, '\n');
    }
    shell_gives_back(&script, &wanted);
}

static void sh_quote_refuses_what_no_argument_has(void **state)
{
    static const struct slice bad[] = {{"a\0b", 3}, {"a\nb", 3}, {"\r", 1}, {"\n", 1}};
    _cleanup_(buf_done) struct buf b = BUF_INIT(100);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sh_quote(&b, bad[i]), -1);
    assert_int_equal(b.n, 0);
    assert_int_equal(sh_quote(&b, text("vmw_ahci")), 0);
    buf_addc(&b, ' ');
    assert_int_equal(sh_quote(&b, text("")), 0);
    buf_addc(&b, ' ');
    assert_int_equal(sh_quote(&b, text("it's")), 0);
    assert_string_equal(buf_z(&b), "vmw_ahci '' 'it'\\''s'");
}

/* --- XML --- */

/* Read to the end: 0, or -1 when it was refused or is broken. */
static int read_all(struct slice in)
{
    struct err e = {0};
    _cleanup_(xml_close) struct xml *x = xml_open(in, "test", &e);
    struct slice name, value;
    enum xml_event ev;

    if (!x) {
        assert_true(e.code < 0 && e.msg[0]);
        return -1;
    }
    while ((ev = xml_next(x)) > XML_END)
        if (ev == XML_OPEN)
            for (unsigned i = 0; xml_attr_at(x, i, &name, &value); i++)
                assert_non_null(value.p);
    if (ev == XML_BROKEN) {
        assert_true(xml_error(x, NULL)[0] != '\0');
        assert_int_equal(xml_next(x), XML_BROKEN); /* it stays so */
    }
    return ev == XML_END ? 0 : -1;
}

static void xml_gives_elements_attributes_and_text(void **state)
{
    struct err e = {0};
    _cleanup_(xml_close) struct xml *x = xml_open(LIT("<r xmlns='urn:x' a='1&amp;2'>\n <p:e xmlns:p='urn:p'/>t<![CDATA[<]]></r>"), "test", &e);
    struct slice v;

    (void)state;
    assert_non_null(x);
    assert_int_equal(xml_next(x), XML_OPEN);
    assert_string_equal(xml_name(x), "r");
    assert_true(xml_attr(x, "a", &v));
    assert_true(slice_eqz(v, "1&2"));
    assert_false(xml_attr(x, "b", &v));
    assert_int_equal(xml_next(x), XML_OPEN);
    assert_string_equal(xml_name(x), "e");
    assert_int_equal(xml_line(x), 2);
    assert_int_equal(xml_next(x), XML_CLOSE);
    assert_int_equal(xml_next(x), XML_TEXT);
    assert_true(slice_starts(xml_text(x), "t"));
    while (xml_next(x) == XML_TEXT)
        ;
    assert_int_equal(xml_next(x), XML_END);
}

static void xml_refuses_what_could_hurt(void **state)
{
    static const struct slice bad[] = {
        SLICE_LIT(""), SLICE_LIT("text"), SLICE_LIT("<a>"), SLICE_LIT("<a><b></a>"), SLICE_LIT("<a>&nbsp;</a>"), SLICE_LIT("<a/><b/>"),
        SLICE_LIT("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"), SLICE_LIT("<!DOCTYPE a SYSTEM 'http://example.com/a.dtd'><a/>"),
        SLICE_LIT("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe4</a>"), SLICE_LIT("<a>\xff</a>"), SLICE_LIT("<a b='1' b='2'/>"),
        SLICE_LIT("\xff\xfe<\0a\0/\0>\0"), SLICE_LIT("<\0a\0/\0>\0"), SLICE_LIT("\xfe\xff\0<\0a\0/\0>"), SLICE_LIT("<a>\0</a>"),
    };
    static const struct slice whole[] = {SLICE_LIT("<a>b</a>"), SLICE_LIT("\xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?>\n<a/>"),
                                         SLICE_LIT("  \n<a b='>'/>"), SLICE_LIT("<a><!-- < > -->\xc3\xa4</a>")};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_all(bad[i]) == 0)
            fail_msg("accepted: number %zu, %s", i, bad[i].p);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (read_all(whole[i]) < 0)
            fail_msg("refused: %s", whole[i].p);
    for (size_t n = 0; n + 1 < whole[3].n; n++)
        assert_int_equal(read_all(slice_cut(whole[3], 0, n)), -1); /* cut anywhere */
}

/* An element "<a ...>" whose tag has at least size bytes, in n attributes; odd puts a '>' into the first value. */
static struct slice long_tag(struct buf *b, size_t size, size_t n, bool odd)
{
    buf_reset(b);
    buf_addz(b, "<r><a");
    for (size_t i = 0; i < n; i++) {
        buf_printf(b, " a%zu=\"%s", i, odd && i == 0 ? ">" : "");
        while (i == n - 1 && b->n < size)
            buf_addc(b, 'x');
        buf_addc(b, '"');
    }
    buf_addz(b, "/></r>");
    return buf_slice(b);
}

static void xml_refuses_long_tags_and_many_attributes(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);

    (void)state;
    assert_int_equal(read_all(long_tag(&b, 60000, 1, false)), 0);
    assert_int_equal(read_all(long_tag(&b, 60000, 1, true)), 0);
    assert_int_equal(read_all(long_tag(&b, 70000, 1, false)), -1);
    assert_int_equal(read_all(long_tag(&b, 70000, 2, true)), -1);
    assert_int_equal(read_all(long_tag(&b, 0, 256, false)), 0);
    assert_int_equal(read_all(long_tag(&b, 0, 257, false)), -1);
    buf_reset(&b);
    buf_addz(&b, "<r>");
    while (b.n < 200000)
        buf_addz(&b, "text > it's \"so\" ");
    buf_addz(&b, "<!-- <a b='");
    while (b.n < 300000)
        buf_addz(&b, "comment ");
    buf_addz(&b, "--></r>"); /* texts and comments are no tags */
    assert_int_equal(read_all(buf_slice(&b)), 0);
}

/* The parser takes pieces of 8 KiB: what lies on a border comes whole. */
static void xml_text_and_attributes_do_not_depend_on_pieces(void **state)
{
    (void)state;
    for (size_t pad = 8192 - 60; pad < 8192 + 4; pad++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
        _cleanup_(xml_close) struct xml *x = NULL;
        struct slice v;
        struct err e = {0};

        buf_addz(&b, "<r>");
        while (b.n < pad)
            buf_addc(&b, 'x');
        buf_addz(&b, "&amp;\r\n<![CDATA[<]]>&#x20ac;<e\nb='1 &lt; 2'\n>\xc3\xa4</e>\n</r>");
        x = xml_open(buf_slice(&b), "test", &e);
        assert_int_equal(xml_next(x), XML_OPEN);
        assert_int_equal(xml_next(x), XML_TEXT);
        assert_int_equal(xml_text(x).n, pad - 3 + 1 + 1 + 1 + 3);
        assert_true(slice_ends(xml_text(x), "&\n<\xe2\x82\xac"));
        assert_int_equal(xml_next(x), XML_OPEN);
        assert_true(xml_attr(x, "b", &v) && slice_eqz(v, "1 < 2"));
        assert_int_equal(xml_line(x), 4);
        assert_int_equal(xml_next(x), XML_TEXT);
        assert_true(slice_eqz(xml_text(x), "\xc3\xa4"));
        assert_int_equal(xml_next(x), XML_CLOSE);
        assert_int_equal(xml_line(x), 4);
        assert_int_equal(xml_next(x), XML_CLOSE);
        assert_string_equal(xml_name(x), "r");
        assert_int_equal(xml_line(x), 1);
        assert_int_equal(xml_next(x), XML_END);
    }
}

static void xml_refuses_deep_elements_and_huge_texts(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16u << 20);

    (void)state;
    for (unsigned depth = 256; depth <= 257; depth++) {
        buf_reset(&b);
        for (unsigned i = 0; i < depth; i++)
            buf_addz(&b, "<a>");
        for (unsigned i = 0; i < depth; i++)
            buf_addz(&b, "</a>");
        assert_int_equal(read_all(buf_slice(&b)), depth == 256 ? 0 : -1);
    }
    for (size_t size = 10u << 20; size <= 11u << 20; size += 1u << 20) {
        buf_reset(&b);
        buf_addz(&b, "<a>");
        while (b.n < size)
            buf_addz(&b, "sixteen letters, ");
        b.n = size;
        buf_addz(&b, "</a>");
        assert_int_equal(read_all(buf_slice(&b)), size == 10u << 20 ? 0 : -1);
    }
}

static void xml_escape_is_undone_by_the_reader(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1000);
    struct err e = {0};
    struct slice v;
    struct xml *x;

    (void)state;
    buf_addz(&b, "<a b=\"");
    xml_escape(&b, text("<>&\"' \x01"));
    buf_addz(&b, "\"/>");
    x = xml_open(buf_slice(&b), "test", &e);
    assert_non_null(x);
    assert_int_equal(xml_next(x), XML_OPEN);
    assert_true(xml_attr(x, "b", &v));
    assert_true(slice_eqz(v, "<>&\"' ?"));
    xml_close(&x);
    assert_null(x);
}

/* --- JSON --- */

static struct slice nested(struct buf *b, unsigned depth)
{
    buf_reset(b);
    for (unsigned i = 0; i < depth; i++)
        buf_addc(b, '[');
    for (unsigned i = 0; i < depth; i++)
        buf_addc(b, ']');
    return buf_slice(b);
}

static void json_is_read_to_a_depth_of_64(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
    struct err e = {0};
    struct js *v = js_parse(nested(&b, 64), "test", &e);

    (void)state;
    assert_non_null(v);
    js_free(&v);
    assert_null(v);
    assert_null(js_parse(nested(&b, 66), "test", &e));
    assert_int_equal(e.code, VF_ELIMIT);
    assert_null(js_parse(nested(&b, 200000), "test", &e));
    assert_null(js_parse(text("{\"a\": 1,\n \"b\": }"), "test", &e));
    assert_int_equal(e.code, VF_EFORMAT);
    assert_non_null(strstr(e.msg, "line 2"));
    assert_null(js_parse(text(""), "test", &e));
    assert_null(js_parse(text("{} x"), "test", &e));
    assert_null(js_parse(text("{\"a\": \"\xff\"}"), "test", &e));
}

static void json_readers_accept_what_is_not_there(void **state)
{
    struct err e = {0};
    struct js *v = js_parse(text("{\"t\": \"x\", \"n\": -5, \"b\": true, \"l\": [1]}"), "test", &e);

    (void)state;
    assert_non_null(v);
    assert_null(js_get(v, "none"));
    assert_int_equal(js_as_text(js_get(v, "none")).n, 0);
    assert_int_equal(js_as_int(js_get(v, "none")), 0);
    assert_false(js_as_bool(js_get(v, "none")));
    assert_int_equal(js_as_text(js_get(v, "n")).n, 0);
    assert_int_equal(js_as_int(js_get(v, "n")), -5);
    assert_int_equal(js_as_int(js_get(v, "t")), 0);
    assert_true(js_as_bool(js_get(v, "b")));
    assert_int_equal(js_count(js_get(v, "l")), 1);
    assert_null(js_at(js_get(v, "l"), 1));
    assert_int_equal(js_kind(js_get(v, "l")), JS_ARRAY);
    js_free(&v);
}

static void json_replaces_only_the_bad_bytes(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1000);
    struct js *v = js_object();

    (void)state;
    js_put(v, "a", js_text(text("\xc3\xbc\xff.")));
    js_put(v, "b", js_textz(NULL));
    js_write(v, false, &b);
    assert_string_equal(buf_z(&b), "{\"a\": \"\xc3\xbc\xef\xbf\xbd.\", \"b\": null}\n");
    js_free(&v);
}

/* --- errors --- */

static void errors_carry_code_message_and_context(void **state)
{
    struct err e = {0};
    char huge[3000];

    (void)state;
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_int_equal(err_set(&e, VF_EFORMAT, "line %d", 7), VF_EFORMAT);
    assert_int_equal(err_ctx(&e, "file %s", "a"), VF_EFORMAT);
    assert_string_equal(e.msg, "file a: line 7");
    assert_int_equal(err_set(NULL, VF_EIO, "x"), VF_EIO);
    (void)err_ctx(NULL, "x");
    (void)err_set(&e, VF_EIO, "%s", huge);
    (void)err_ctx(&e, "%s", huge);
    assert_true(strlen(e.msg) < sizeof e.msg);
    assert_int_equal(e.code, VF_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glob_has_the_star_as_its_only_wildcard),
        cmocka_unit_test(distance_counts_edits_and_is_capped),
        cmocka_unit_test(numbers_are_whole_texts_without_overflow),
        cmocka_unit_test(lines_say_whether_they_ended),
        cmocka_unit_test(words_keep_nul_bytes),
        cmocka_unit_test(empty_slices_may_have_a_null_pointer),
        cmocka_unit_test(arena_refuses_over_its_limit_and_stays_full),
        cmocka_unit_test(arena_memory_is_zeroed_and_copies_end_with_nul),
        cmocka_unit_test(arena_fail_at_fails_that_allocation_and_all_after),
        cmocka_unit_test(arena_grow_keeps_elements_and_meets_its_maximum),
        cmocka_unit_test(buf_keeps_what_fits_and_says_that_it_was_cut),
        cmocka_unit_test(buf_add_safe_passes_text_and_shows_what_could_act),
        cmocka_unit_test(buf_add_safe_is_safe_at_the_limit_too),
        cmocka_unit_test(map_grows_and_finds_every_key),
        cmocka_unit_test(map_survives_the_limit_of_its_arena),
        cmocka_unit_test(sh_quote_is_undone_by_a_shell),
        cmocka_unit_test(sh_quote_refuses_what_no_argument_has),
        cmocka_unit_test(xml_gives_elements_attributes_and_text),
        cmocka_unit_test(xml_refuses_what_could_hurt),
        cmocka_unit_test(xml_refuses_long_tags_and_many_attributes),
        cmocka_unit_test(xml_text_and_attributes_do_not_depend_on_pieces),
        cmocka_unit_test(xml_refuses_deep_elements_and_huge_texts),
        cmocka_unit_test(xml_escape_is_undone_by_the_reader),
        cmocka_unit_test(json_is_read_to_a_depth_of_64),
        cmocka_unit_test(json_readers_accept_what_is_not_there),
        cmocka_unit_test(json_replaces_only_the_bad_bytes),
        cmocka_unit_test(errors_carry_code_message_and_context),
    };

    xml_setup();
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
