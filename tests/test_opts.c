#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/opts.h"
#include "base/table.h"

static const char *const whens[] = {"auto", "always", "never", NULL};

struct values {
    bool json;
    const char *data;
    int when;
    unsigned verbose;
    struct opt_list columns;
};

static const struct opt opts[] = {
    {"json", 'j', OPT_FLAG, offsetof(struct values, json), NULL, "as JSON", NULL},
    {"data", 'd', OPT_TEXT, offsetof(struct values, data), "DIR", "a folder", NULL},
    {"color", 0, OPT_CHOICE, offsetof(struct values, when), NULL, "when to use colour", whens},
    {"columns", 0, OPT_LIST, offsetof(struct values, columns), "COLUMN,...", "which columns", NULL},
    {0},
};

static const struct opt common[] = {
    {"verbose", 'v', OPT_COUNT, offsetof(struct values, verbose), NULL, "more", NULL},
    {0},
};

#define MAX_WORDS 8

/* Parse words parted by blanks. */
static int parse(const char *line, bool stop, struct values *v, char *argv[MAX_WORDS], int *n, struct err *e)
{
    static char copy[200];
    const struct opt_set sets[] = {{opts, v}, {common, v}};
    int argc = 0;

    (void)snprintf(copy, sizeof copy, "%s", line);
    *v = (struct values){.when = -1};
    for (char *at = copy; *at && argc < MAX_WORDS;) {
        char *end = strchr(at, ' ');

        argv[argc++] = at;
        if (!end)
            break;
        *end = '\0';
        at = end + 1;
    }
    return opts_parse(sets, 2, stop, argc, argv, n, e);
}

static void opts_and_operands_may_be_mixed(void **state)
{
    char *argv[MAX_WORDS];
    struct values v;
    struct err e;
    int n;

    (void)state;
    assert_int_equal(parse("esx1 --json adapter --data /tmp -v", false, &v, argv, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_string_equal(argv[0], "esx1");
    assert_string_equal(argv[1], "adapter");
    assert_true(v.json);
    assert_string_equal(v.data, "/tmp");
    assert_int_equal(v.verbose, 1);
}

static void values_are_taken_with_equals_blank_or_glued(void **state)
{
    static const char *const lines[] = {"--data=x", "--data x", "-d x", "-dx", "-jvdx", "-jvd x"};
    char *argv[MAX_WORDS];
    struct values v;
    struct err e;
    int n;

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(parse(lines[i], false, &v, argv, &n, &e), 0);
        assert_int_equal(n, 0);
        assert_string_equal(v.data, "x");
    }
    assert_true(v.json);
    assert_int_equal(parse("--data=", false, &v, argv, &n, &e), VF_EUSAGE); /* no value means nothing for any option */
    assert_non_null(strstr(e.msg, "needs a value"));
}

static void counts_lists_and_choices(void **state)
{
    char *argv[MAX_WORDS];
    struct values v;
    struct err e;
    int n;

    (void)state;
    assert_int_equal(parse("-vv --verbose --columns a,b --columns=c --color never", false, &v, argv, &n, &e), 0);
    assert_int_equal(v.verbose, 3);
    assert_int_equal(v.columns.n, 3);
    assert_true(slice_eqz(v.columns.v[2], "c"));
    assert_int_equal(v.when, 2);
    assert_int_equal(parse("x", false, &v, argv, &n, &e), 0);
    assert_int_equal(v.when, -1);
}

static void two_dashes_end_the_options(void **state)
{
    char *argv[MAX_WORDS];
    struct values v;
    struct err e;
    int n;

    (void)state;
    assert_int_equal(parse("-j -- --data -", false, &v, argv, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_string_equal(argv[0], "--data");
    assert_string_equal(argv[1], "-");
    assert_null(v.data);
}

static void with_stop_the_first_operand_ends_the_options(void **state)
{
    char *argv[MAX_WORDS];
    struct values v;
    struct err e;
    int n;

    (void)state;
    assert_int_equal(parse("-v facts esx1 --nonsense", true, &v, argv, &n, &e), 0);
    assert_int_equal(n, 3);
    assert_string_equal(argv[2], "--nonsense");
}

static void wrong_words_are_named_with_the_nearest_right_one(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"--jsn", "unknown option --jsn; did you mean --json?"},
        {"--verbos", "unknown option --verbos; did you mean --verbose?"},
        {"-sjon", "unknown option -sjon; did you mean --json?"},
        {"--frobnicate", "unknown option --frobnicate"},
        {"-x", "unknown option -x"},
        {"--data", "--data needs a value: --data DIR"},
        {"-d", "--data needs a value: --data DIR"},
        {"--json=yes", "--json takes no value"},
        {"--color=nevr", "--color cannot be \"nevr\"; did you mean never?"},
        {"--color=mauve", "--color cannot be \"mauve\"; it is one of auto, always, never"},
    };
    char *argv[MAX_WORDS];
    struct values v;
    struct err e;
    int n;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(cases[i].line, false, &v, argv, &n, &e), VF_EUSAGE);
        assert_string_equal(e.msg, cases[i].message);
    }
}

static void a_list_over_its_limit_is_refused(void **state)
{
    static char all[2 * (OPT_MAX_LIST + 1) + 20] = "--columns=";
    struct values v = {0};
    const struct opt_set set = {opts, &v};
    char *argv[] = {all};
    struct err e;
    int n;

    (void)state;
    for (size_t i = 0, at = strlen(all); i <= OPT_MAX_LIST; i++, at += 2)
        memcpy(all + at, "a,", 3);
    assert_int_equal(opts_parse(&set, 1, false, 1, argv, &n, &e), VF_EUSAGE);
}

/* --- help, completion, man --- */

static const char *const verbs[] = {"list", "show", NULL};
static const struct command one = {
    .name = "facts",
    .summary = "show facts",
    .usage = "TARGET [TABLE]\nlist",
    .examples = "vmkfit facts esx1/   # all\n",
    .description = "A first paragraph that is long enough to be wrapped at the width of help, which is seventy-eight columns.\n\n"
                   "A second one.\n\n  kept   as it stands",
    .verbs = verbs,
    .opts = opts,
};
static const struct command *const commands[] = {&one, NULL};

static void help_shows_examples_first_and_fits(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);
    struct slice rest, line;

    (void)state;
    opts_help("vmkfit", &one, common, &b);
    rest = buf_slice(&b);
    assert_true(slice_find(rest, 0, "Examples\n  vmkfit facts esx1/   # all\n") < slice_find(rest, 0, "Usage\n"));
    assert_true(slice_find(rest, 0, "  vmkfit facts TARGET [TABLE] [OPTION]...\n  vmkfit facts list [OPTION]...\n") != SIZE_MAX);
    assert_true(slice_find(rest, 0, "\n\n  kept   as it stands\n") != SIZE_MAX);
    assert_true(slice_find(rest, 0, "  -d, --data DIR          a folder\n") != SIZE_MAX);
    assert_true(slice_find(rest, 0, "      --color auto|always|never\n                          when to use colour\n") != SIZE_MAX);
    assert_true(slice_find(rest, 0, "  -v, --verbose           more\n") != SIZE_MAX);
    while (slice_next_line(&rest, &line, NULL))
        assert_true(line.n <= OPTS_WIDTH);
}

static void completion_names_every_option_and_verb(void **state)
{
    (void)state;
    for (int shell = OPTS_BASH; shell <= OPTS_FISH; shell++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);

        opts_completion((enum opts_shell)shell, "vmkfit", commands, common, &b);
        for (const struct opt *o = opts; o->name; o++) {
            _cleanup_(buf_done) struct buf word = BUF_INIT(100);

            buf_printf(&word, "%s%s", shell == OPTS_FISH ? "-l " : "--", o->name);
            assert_true(slice_find(buf_slice(&b), 0, buf_z(&word)) != SIZE_MAX);
        }
        assert_true(slice_find(buf_slice(&b), 0, "list show") != SIZE_MAX);
        assert_true(slice_find(buf_slice(&b), 0, "auto always never") != SIZE_MAX);
    }
}

static void the_manual_page_escapes_roff(void **state)
{
    static const struct opts_section sections[] = {{"FILES", ".hidden and back\\slash"}, {0}};
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);

    (void)state;
    opts_man("vmkfit", "1.0", "a summary", commands, common, sections, &b);
    assert_true(slice_starts(buf_slice(&b), ".TH vmkfit 1"));
    assert_true(slice_find(buf_slice(&b), 0, "\n\\&.hidden and back\\eslash") != SIZE_MAX);
    assert_true(slice_find(buf_slice(&b), 0, "\\-d, \\-\\-data DIR") != SIZE_MAX);
}

/* --- tables --- */

static void print(struct text_table *t, size_t width, struct buf *b)
{
    buf_reset(b);
    text_table_print(t, width, b);
}

static void tables_pad_wrap_at_words_and_are_safe(void **state)
{
    static const struct text_column heads[] = {{"name", false, TEXT_KEEP}, {"rows", true, TEXT_KEEP}, {"from", false, TEXT_WRAP}};
    struct text_table *t = text_table_new(heads, 3);
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);

    (void)state;
    print(t, 80, &b);
    assert_int_equal(b.n, 0);
    text_table_add(t, (const struct slice[]){SLICE_LIT("a\033[31m"), SLICE_LIT("12"), SLICE_LIT("one two three four five six seven")});
    text_table_add(t, (const struct slice[]){SLICE_LIT("b"), SLICE_LIT(""), SLICE_LIT("")});
    assert_int_equal(text_table_width(t), 9 + 2 + 4 + 2 + 33 /* the escape takes 4 */);
    print(t, 0, &b);
    assert_string_equal(buf_z(&b), "NAME       ROWS  FROM\n"
                                   "a\\x1b[31m    12  one two three four five six seven\n"
                                   "b\n");
    print(t, 40, &b);
    assert_string_equal(buf_z(&b), "NAME       ROWS  FROM\n"
                                   "a\\x1b[31m    12  one two three four five\n"
                                   "                 six seven\n"
                                   "b\n");
    text_table_free(&t);
    assert_null(t);
}

static void tables_cut_a_column_that_may_be_cut(void **state)
{
    static const struct text_column heads[] = {{"key", false, TEXT_KEEP}, {"text", false, TEXT_CUT}};
    struct text_table *t = text_table_new(heads, 2);
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 16);

    (void)state;
    text_table_add(t, (const struct slice[]){SLICE_LIT("k"), SLICE_LIT("0123456789012345678901234567890123456789")});
    print(t, 20, &b);
    assert_string_equal(buf_z(&b), "KEY  TEXT\nk    012345678901234\n");
    print(t, 0, &b);
    assert_string_equal(buf_z(&b), "KEY  TEXT\nk    0123456789012345678901234567890123456789\n");
    text_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opts_and_operands_may_be_mixed),
        cmocka_unit_test(values_are_taken_with_equals_blank_or_glued),
        cmocka_unit_test(counts_lists_and_choices),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(with_stop_the_first_operand_ends_the_options),
        cmocka_unit_test(wrong_words_are_named_with_the_nearest_right_one),
        cmocka_unit_test(a_list_over_its_limit_is_refused),
        cmocka_unit_test(help_shows_examples_first_and_fits),
        cmocka_unit_test(completion_names_every_option_and_verb),
        cmocka_unit_test(the_manual_page_escapes_roff),
        cmocka_unit_test(tables_pad_wrap_at_words_and_are_safe),
        cmocka_unit_test(tables_cut_a_column_that_may_be_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
