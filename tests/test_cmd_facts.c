#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/json.h"
#include "cmd/cmd.h"

/* Commands run on a small folder of outputs, with the probes of this checkout; the tests are run from its root. */

static const char adapters[] = "HBA Name  Driver    Link State  UID           Capabilities  Description\n"
                               "--------  --------  ----------  ------------  ------------  "
                               "------------------------------------------------------\n"
                               "vmhba0    vmw_ahci  link-n/a    sata.vmhba0                 (0000:00:11.4) Intel "
                               "Corporation Wellsburg AHCI\n"
                               "vmhba32   vmkusb    link-n/a    usb.vmhba32                 () USB\n";

#define ADAPTER_FILE "esxcli storage core adapter list.txt"

struct fixture {
    char dir[64];
    char *out, *err;
    size_t nout, nerr;
    int status;
};

static void put(const struct fixture *f, const char *name, const char *text, size_t n)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(200);
    FILE *file;

    buf_printf(&path, "%s/%s", f->dir, name);
    file = fopen(buf_z(&path), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    struct fixture *f = xmalloc(sizeof *f);

    *f = (struct fixture){.dir = "/tmp/vmkfit-test-XXXXXX"};
    if (!mkdtemp(f->dir))
        return -1;
    put(f, ADAPTER_FILE, adapters, sizeof adapters - 1);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(200);
    struct fixture *f = *state;

    buf_printf(&path, "%s/%s", f->dir, ADAPTER_FILE);
    (void)unlink(buf_z(&path));
    (void)rmdir(f->dir);
    free(f->out);
    free(f->err);
    free(f);
    return 0;
}

/* Run a command with words parted by '|'; "@" in front of a word is the folder. */
static void run(struct fixture *f, const struct command *cmd, const char *line)
{
    static const struct command *const commands[] = {&cmd_facts, &cmd_probe, &cmd_completion, &cmd_help, NULL};
    const struct cli_environment env = {.columns = "80"};
    char words[16][160], *argv[16];
    struct slice rest = slice_of(line), word;
    FILE *out, *err;
    struct cli c;
    int argc = 0;

    free(f->out);
    free(f->err);
    f->out = f->err = NULL;
    out = open_memstream(&f->out, &f->nout);
    err = open_memstream(&f->err, &f->nerr);
    assert_non_null(out);
    assert_non_null(err);
    for (; argc < 14 && slice_next_word(&rest, "|", &word); argc++)
        (void)snprintf(words[argc], sizeof words[argc], "%s" SLICE_FMT, word.p[0] == '@' ? f->dir : "",
                       SLICE_ARG(slice_from(word, word.p[0] == '@')));
    (void)snprintf(words[argc++], sizeof words[0], "--data=.");
    for (int i = 0; i < argc; i++)
        argv[i] = words[i];
    cli_init(&c, out, err, &env);
    c.commands = commands;
    f->status = cmd->run(&c, argc, argv);
    (void)fclose(out);
    (void)fclose(err);
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static void facts_shows_tables_with_their_states(void **state)
{
    struct fixture *f = *state;

    run(f, &cmd_facts, "@");
    assert_int_equal(f->status, STATUS_OK);
    assert_true(has(f->out, "\nadapter              2  complete  esxcli storage core adapter list\n"));
    assert_true(has(f->out, "\ndevice               0  unknown "));
    assert_string_equal(f->err, "");
}

static void facts_shows_a_table_of_chosen_columns(void **state)
{
    struct fixture *f = *state;

    run(f, &cmd_facts, "@|adapter|--columns|driver,name,pci,model");
    assert_int_equal(f->status, STATUS_OK);
    assert_string_equal(f->out, "DRIVER    NAME     PCI           MODEL\n"
                                "vmw_ahci  vmhba0   0000:00:11.4  ?\n"
                                "vmkusb    vmhba32  -             ?\n");
}

static void facts_verbose_names_the_source_of_a_cell(void **state)
{
    struct fixture *f = *state;

    run(f, &cmd_facts, "@|adapter|-v");
    assert_true(has(f->out, "  vmw_ahci  [esxcli storage core adapter list, " ADAPTER_FILE ":3]\n"));
    assert_true(has(f->out, "  ?  no answer to \"esxcli storage san fc list\"\n"));
}

static void facts_filters_by_state(void **state)
{
    struct fixture *f = *state;

    run(f, &cmd_facts, "@|adapter|--state=absent|--columns=pci,name");
    assert_string_equal(f->out, "vmhba32\n  pci   -\n");
    run(f, &cmd_facts, "@|adapter|--state=unknown|--columns=name");
    assert_string_equal(f->out, "no cell of adapter is unknown\n");
}

static void facts_json_has_numbers_nulls_and_sources(void **state)
{
    struct fixture *f = *state;
    const struct js *host, *rows, *cells, *cell;
    struct js *d;

    run(f, &cmd_facts, "@|adapter|--json");
    assert_int_equal(f->status, STATUS_OK);
    d = js_parse((struct slice){f->out, f->nout}, "out", NULL);
    assert_non_null(d);
    assert_int_equal(js_as_int(js_get(d, "schema_version")), 1);
    assert_int_equal(js_count(js_get(d, "hosts")), 1);
    host = js_at(js_get(d, "hosts"), 0);
    assert_int_equal(js_kind(js_get(host, "host")), JS_NULL);
    assert_int_equal(js_kind(js_get(host, "incomplete")), JS_NULL);
    rows = js_get(js_get(js_get(host, "tables"), "adapter"), "rows");
    assert_int_equal(js_count(rows), 2);
    cells = js_get(js_at(rows, 0), "cells");
    cell = js_get(cells, "driver");
    assert_true(slice_eqz(js_as_text(js_get(cell, "value")), "vmw_ahci"));
    assert_int_equal(js_as_int(js_get(js_get(cell, "source"), "line")), 3);
    cell = js_get(cells, "firmware");
    assert_true(slice_eqz(js_as_text(js_get(cell, "state")), "unknown"));
    assert_int_equal(js_kind(js_get(cell, "value")), JS_NULL);
    assert_int_equal(js_kind(js_get(cell, "why")), JS_TEXT);
    assert_int_equal(js_kind(js_get(cell, "source")), JS_NULL);
    cell = js_get(js_get(js_at(rows, 1), "cells"), "pci");
    assert_true(slice_eqz(js_as_text(js_get(cell, "state")), "absent"));
    js_free(&d);
}

static void facts_of_a_cut_listing_are_partial(void **state)
{
    struct fixture *f = *state;

    put(f, ADAPTER_FILE, adapters, sizeof adapters - 8);
    run(f, &cmd_facts, "@|adapter|--columns=name,driver");
    assert_int_equal(f->status, STATUS_OK);
    assert_true(has(f->out, "vmhba0   vmw_ahci\n"));
    assert_true(has(f->out, "adapter is partial: "));
}

static void an_empty_file_leaves_the_table_unknown(void **state)
{
    struct fixture *f = *state;

    put(f, ADAPTER_FILE, "", 0);
    run(f, &cmd_facts, "@|adapter");
    assert_true(has(f->out, "adapter is unknown: "));
}

static void a_target_without_any_answer_is_incomplete(void **state)
{
    _cleanup_(buf_done) struct buf from = BUF_INIT(200), to = BUF_INIT(200);
    struct fixture *f = *state;

    buf_printf(&from, "%s/%s", f->dir, ADAPTER_FILE);
    buf_printf(&to, "%s/holiday.txt", f->dir);
    assert_int_equal(rename(buf_z(&from), buf_z(&to)), 0);
    run(f, &cmd_facts, "@|adapter");
    assert_int_equal(rename(buf_z(&to), buf_z(&from)), 0);
    assert_int_equal(f->status, STATUS_INCOMPLETE);
    assert_true(has(f->err, "no file in it answers"));
}

static void wrong_words_are_usage_errors_with_a_hint(void **state)
{
    static const struct {
        const struct command *cmd;
        const char *words, *message;
    } cases[] = {
        {&cmd_facts, "@|adaptr", "did you mean adapter?"},
        {&cmd_facts, "@|adapter|--columns=drivr", "did you mean driver?"},
        {&cmd_facts, "@|--columns=driver", "--columns needs a TABLE"},
        {&cmd_facts, "@|--jsn", "did you mean --json?"},
        {&cmd_facts, "--json", "say which TARGET"},
        {&cmd_probe, "lst", "did you mean list?"},
        {&cmd_probe, "show|adaptr", "did you mean adapter?"},
        {&cmd_probe, "decode|adapter", "a FILE or -"},
        {&cmd_probe, "decode|esxcli storage core adaptor list|@/" ADAPTER_FILE, "did you mean \"adapter\"?"},
        {&cmd_help, "fcts", "did you mean facts?"},
        {&cmd_completion, "tcsh", "bash, zsh or fish"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(f, cases[i].cmd, cases[i].words);
        assert_int_equal(f->status, STATUS_USAGE);
        assert_true(has(f->err, cases[i].message));
        assert_string_equal(f->out, "");
    }
}

static void a_missing_target_is_a_failed_run(void **state)
{
    struct fixture *f = *state;

    run(f, &cmd_facts, "@/nothing");
    assert_int_equal(f->status, STATUS_FAILED);
    assert_true(has(f->err, "/nothing"));
}

static void probe_decode_tells_the_state_of_the_answer(void **state)
{
    struct fixture *f = *state;
    struct js *d;

    run(f, &cmd_probe, "decode|esxcli storage core adapter list|@/" ADAPTER_FILE);
    assert_int_equal(f->status, STATUS_OK);
    d = js_parse((struct slice){f->out, f->nout}, "out", NULL);
    assert_true(slice_eqz(js_as_text(js_get(d, "state")), "complete"));
    assert_int_equal(js_count(js_get(d, "probes")), 1);
    assert_int_equal(js_count(js_get(d, "tables")), 1);
    assert_null(js_get(js_get(js_at(js_get(js_get(js_get(d, "tables"), "adapter"), "rows"), 0), "cells"), "driver-version"));
    js_free(&d);

    put(f, ADAPTER_FILE, adapters, sizeof adapters - 8);
    run(f, &cmd_probe, "decode|localcli storage core adapter list|@/" ADAPTER_FILE);
    assert_int_equal(f->status, STATUS_INCOMPLETE);
    assert_true(has(f->out, "\"state\": \"partial\""));

    put(f, ADAPTER_FILE, "Connect to localhost failed: Connection failure.\n", 49);
    run(f, &cmd_probe, "decode|adapter|@/" ADAPTER_FILE);
    assert_int_equal(f->status, STATUS_INCOMPLETE);
    assert_true(has(f->out, "\"state\": \"refused\""));
}

/* By id every way of the probe may be tried: a cut table must not pass as the lines of another command. */
static void probe_decode_by_id_does_not_mistake_a_cut_table_for_another_form(void **state)
{
    struct fixture *f = *state;

    put(f, ADAPTER_FILE, adapters, sizeof adapters - 8);
    run(f, &cmd_probe, "decode|adapter|@/" ADAPTER_FILE);
    assert_int_equal(f->status, STATUS_INCOMPLETE);
    assert_false(has(f->out, "--------"));
}

static void host_text_cannot_reach_the_terminal_raw(void **state)
{
    static const char evil[] = "HBA Name  Driver    Link State  UID           Capabilities  Description\n"
                               "--------  --------  ----------  ------------  ------------  "
                               "---------------------------\n"
                               "vmhba0    vmw_ahci  link-n/a    sata.vmhba0                 (0000:00:11.4) "
                               "\033]0;x\007 AHCI\n";
    struct fixture *f = *state;

    put(f, ADAPTER_FILE, evil, sizeof evil - 1);
    run(f, &cmd_facts, "@|adapter|-v");
    assert_null(memchr(f->out, '\033', f->nout));
    run(f, &cmd_facts, "@|adapter|--columns=name,description");
    assert_null(memchr(f->out, '\033', f->nout));
}

static void every_command_helps_with_examples_first(void **state)
{
    static const struct command *const all[] = {&cmd_facts, &cmd_probe, &cmd_completion, &cmd_help};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct slice rest, line;

        run(f, all[i], "--help");
        assert_int_equal(f->status, STATUS_OK);
        assert_true(has(f->out, "\n\nExamples\n"));
        rest = (struct slice){f->out, f->nout};
        while (slice_next_line(&rest, &line, NULL))
            assert_true(line.n <= 80 || slice_find(line, 0, "vmkfit probe decode \"") != SIZE_MAX);
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(facts_shows_tables_with_their_states),
        TEST(facts_shows_a_table_of_chosen_columns),
        TEST(facts_verbose_names_the_source_of_a_cell),
        TEST(facts_filters_by_state),
        TEST(facts_json_has_numbers_nulls_and_sources),
        TEST(facts_of_a_cut_listing_are_partial),
        TEST(an_empty_file_leaves_the_table_unknown),
        TEST(a_target_without_any_answer_is_incomplete),
        TEST(wrong_words_are_usage_errors_with_a_hint),
        TEST(a_missing_target_is_a_failed_run),
        TEST(probe_decode_tells_the_state_of_the_answer),
        TEST(probe_decode_by_id_does_not_mistake_a_cut_table_for_another_form),
        TEST(host_text_cannot_reach_the_terminal_raw),
        TEST(every_command_helps_with_examples_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
