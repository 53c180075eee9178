/* A live host as a channel: the talk with a shell that hangs, floods, breaks at any byte, or answers what was not asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "net/script.h"
#include "net/shell.h"

/* --- a host: reads the script, answers from a table --- */

enum fault {
    FINE,
    HANGS,       /* and all after it */
    HANGS_LATER, /* in every shell but the first */
    ENDS_LATER,
    FLOODS,      /* x without end */
    FLOODS_ERROR,
    ENDS_SHELL,
    WRONG_NUMBER, /* of its boundary */
    WRONG_PATH,
    WRONG_ERROR_BOUNDARY,
    MANY_PARTS,
    MANY_FILES, /* 5000, each with another name */
};

struct answer {
    const char *command; /* as sent, or the path of a file */
    const char *body;
    int status;
    enum fault fault;
    const char *errors;
};

struct host {
    struct link link;
    const struct answer *answers; /* to a NULL; what is not in it is not found */
    size_t chunk;    /* bytes of an output at a time; 0: all there is */
    size_t break_at; /* bytes of both outputs after which the connection is gone; 0: never */
    bool silent;     /* no sh */
    bool odd_name;   /* of a file that a pattern fits */
    const char *noise;
    /* as it goes */
    char token[SCRIPT_TOKEN + 1];
    struct buf in, out[2];
    size_t given[2], passed;
    bool started, hung, ended, floods[2];
    unsigned starts, closes, number;
    uint64_t killed;
    struct buf sent; /* all lines */
};

static void boundary(struct host *h, unsigned number, int status, const char *path)
{
    for (int i = 0; i < 2; i++)
        buf_printf(&h->out[i], "\n%s %u %d%s%s\n", h->token, number, status, *path ? " " : "", path);
}

static void give(struct host *h, const struct answer *a, unsigned number, const char *path)
{
    buf_addz(&h->out[0], a->body ? a->body : "");
    buf_addz(&h->out[1], a->errors ? a->errors : "");
    switch (a->fault) {
    case FINE:
        boundary(h, number, a->status, path);
        break;
    case HANGS_LATER:
    case ENDS_LATER:
        if (h->starts == 1)
            boundary(h, number, a->status, path);
        else
            h->hung = true;
        h->ended = h->hung && a->fault == ENDS_LATER;
        break;
    case HANGS:
        h->hung = true;
        break;
    case FLOODS:
    case FLOODS_ERROR:
        h->floods[a->fault == FLOODS_ERROR] = h->hung = true;
        break;
    case ENDS_SHELL:
        h->ended = h->hung = true;
        break;
    case WRONG_NUMBER:
        boundary(h, number + 1, a->status, path);
        break;
    case WRONG_PATH:
        boundary(h, number, a->status, "/etc/passwd");
        break;
    case WRONG_ERROR_BOUNDARY:
        buf_printf(&h->out[0], "\n%s %u 0\n", h->token, number);
        buf_printf(&h->out[1], "\n%s %u 0\n", h->token, number + 1);
        break;
    case MANY_PARTS:
        for (unsigned i = 0; i < 1000; i++)
            boundary(h, number, 0, path);
        break;
    case MANY_FILES:
        for (unsigned i = 0; i < 5000; i++) {
            char name[100];

            (void)snprintf(name, sizeof name, "/etc/vmware/default.map.d/%u.map", i);
            buf_printf(&h->out[0], "file %u\n", i);
            boundary(h, number, 0, name);
        }
        break;
    }
}

static unsigned number_of(struct slice line)
{
    uint64_t n = 0;
    size_t at = slice_find(line, 0, "; b ");
    struct slice rest = slice_from(line, at + 4), word = {NULL, 0};

    assert_true(at != SIZE_MAX && slice_next_word(&rest, " ", &word) && num_parse_u64(word, &n) == 0);
    return (unsigned)n;
}

/* Is a file among the words of "for f in ...;". */
static bool names(struct slice line, const char *path)
{
    size_t at = slice_find(line, 0, "for f in ") + sizeof "for f in " - 1;
    struct slice words = slice_cut(line, at, slice_find_char(line, at, ';') - at), word;

    while (slice_next_word(&words, " ", &word))
        if (path[0] == '/' && slice_glob(word, slice_of(path)))
            return true;
    return false;
}

static void obey(struct host *h, struct slice line)
{
    static const struct answer none = {"", "", 127, FINE, "sh: not found\n"};
    const struct answer *a = h->answers, *found = &none;
    size_t end = slice_find(line, 0, " </dev/null; b ");

    buf_add(&h->sent, line);
    buf_addc(&h->sent, '\n');
    if (slice_starts(line, "b() { echo; echo \"")) {
        memcpy(h->token, line.p + sizeof "b() { echo; echo \"" - 1, SCRIPT_TOKEN);
    } else if (slice_starts(line, "kill -0 ")) {
        (void)num_parse_u64(slice_cut(line, 8, slice_find_char(slice_from(line, 8), 0, ' ')), &h->killed);
    } else if (slice_eqz(line, "b 0 $$ $PPID")) {
        boundary(h, 0, (int)(4000 + h->starts), "3999");
    } else if (slice_starts(line, "for f in ") || slice_starts(line, "o=0; for f in ")) {
        for (; a->command; a++)
            if (!h->hung && names(line, a->command))
                give(h, a, number_of(slice_from(line, slice_find(line, 0, "</dev/null"))), a->command);
        if (!h->hung)
            boundary(h, number_of(slice_from(line, slice_find(line, 0, "</dev/null"))), h->odd_name && slice_starts(line, "o=0;"), "");
    } else if (end != SIZE_MAX) {
        for (; a->command; a++)
            if (slice_eqz(slice_cut(line, 0, end), a->command))
                found = a;
        give(h, found, number_of(line), "");
    }
}

static int host_start(struct link *l, uint64_t deadline, struct err *e)
{
    struct host *h = (struct host *)l;

    (void)deadline, (void)e;
    h->starts++;
    h->started = true;
    h->hung = h->ended = h->floods[0] = h->floods[1] = false;
    for (int i = 0; i < 2; i++) {
        buf_reset(&h->out[i]);
        h->given[i] = 0;
    }
    buf_reset(&h->in);
    buf_addz(&h->out[0], h->noise ? h->noise : "");
    return 0;
}

static bool pass_on(struct host *h, int i, link_bytes_fn *fn, void *ctx)
{
    struct slice bytes = slice_cut(slice_from(buf_slice(&h->out[i]), h->given[i]), 0, h->chunk ? h->chunk : SIZE_MAX);

    if (h->break_at)
        bytes = slice_cut(bytes, 0, h->break_at - h->passed);
    if (bytes.n == 0)
        return false;
    fn(ctx, i + 1, bytes);
    h->given[i] += bytes.n;
    h->passed += bytes.n;
    return true;
}

static enum link_event host_pump(struct link *l, struct slice *send, link_bytes_fn *fn, void *ctx, uint64_t deadline, struct err *e)
{
    struct host *h = (struct host *)l;
    struct slice rest, line;
    bool whole, moved = send->n > 0;

    (void)deadline;
    assert_true(h->started);
    buf_add(&h->in, *send);
    *send = (struct slice){NULL, 0};
    rest = buf_slice(&h->in);
    while (!h->hung && !h->silent && slice_next_line(&rest, &line, &whole))
        if (whole)
            obey(h, line);
    buf_reset(&h->in); /* the shell sends whole lines */
    for (int i = 0; i < 2; i++) {
        static const char xs[4096] = {'x'};

        if (h->floods[i] && h->given[i] == h->out[i].n) {
            fn(ctx, i + 1, (struct slice){xs, sizeof xs});
            moved = true;
        }
        moved |= pass_on(h, i, fn, ctx);
    }
    if (moved)
        return LINK_MOVED;
    if (h->break_at && h->passed == h->break_at) {
        (void)err_set(e, VF_EHOST, "reset");
        return LINK_BROKEN;
    }
    return h->ended ? LINK_ENDED : LINK_TIMEOUT;
}

static void host_stop(struct link *l)
{
    ((struct host *)l)->started = false;
}

static void host_close(struct link *l)
{
    struct host *h = (struct host *)l;

    h->closes++;
    buf_done(&h->in);
    buf_done(&h->out[0]);
    buf_done(&h->out[1]);
}

static const struct link_ops ops = {"fake", host_start, host_pump, host_stop, host_close};

static struct host host_of(const struct answer *answers)
{
    return (struct host){.link.ops = &ops, .answers = answers, .in = BUF_INIT(1 << 20), .out = {BUF_INIT(64 << 20), BUF_INIT(1 << 20)}, .sent = BUF_INIT(1 << 20)};
}

static void host_done(struct host *h)
{
    assert_int_equal(h->closes, 1);
    buf_done(&h->sent);
}

/* --- the talk --- */

static int open_shell(struct host *h, bool wait, struct channel **out, struct err *e)
{
    const struct shell_opt o = {.start_ms = 60000, .command_ms = 60000, .deadline = clock_ms() + 600000, .wait = wait};
    static const uint8_t random[16] = {7, 8, 9};

    return shell_open(&h->link, random, &o, out, e);
}

struct seen {
    enum reply_status status;
    int exit_code;
    bool cut;
    size_t n, parts;
    char body[200], note[300], where[100];
};

static int see(void *ctx, const struct reply *r)
{
    struct seen *s = ctx;

    s->status = r->status;
    s->exit_code = r->exit_code;
    s->cut = r->cut;
    s->n = r->body.n;
    s->parts++;
    (void)snprintf(s->body, sizeof s->body, SLICE_FMT, SLICE_ARG(slice_cut(r->body, 0, 190)));
    (void)snprintf(s->note, sizeof s->note, "%s", r->note ? r->note : "");
    (void)snprintf(s->where, sizeof s->where, SLICE_FMT, SLICE_ARG(slice_cut(r->where, 0, 90)));
    return 0;
}

static const struct ask versions = {.kind = ASK_ESXCLI, .text = SLICE_LIT("system version get")},
                        adapters = {.kind = ASK_ESXCLI, .text = SLICE_LIT("storage core adapter list")},
                        devices = {.kind = ASK_ESXCLI, .text = SLICE_LIT("storage core device list")},
                        maps = {.kind = ASK_FILE, .text = SLICE_LIT("/etc/vmware/default.map.d/*.map")},
                        boot = {.kind = ASK_FILE, .text = SLICE_LIT("/bootbank/boot.cfg")},
                        ids = {.kind = ASK_SHELL, .text = SLICE_LIT("vmkchdev -l")};
static const struct ask *const all[] = {&versions, &adapters, &devices, &maps, &boot, &ids};
#define NALL (sizeof all / sizeof *all)

/* Wants everything, fetches it, looks at each answer. */
static void ask_all(struct channel *c, struct seen seen[NALL])
{
    struct err e = {0};

    for (size_t i = 0; i < NALL; i++)
        assert_false(channel_want(c, all[i]));
    assert_int_equal(channel_fetch(c, &e), 0);
    for (size_t i = 0; i < NALL; i++) {
        seen[i] = (struct seen){.parts = 0};
        assert_true(channel_want(c, all[i]));
        assert_int_equal(channel_ask(c, all[i], see, &seen[i], &e), 0);
        assert_true(seen[i].parts > 0);
    }
}

static void talk(struct host *h, struct seen seen[NALL], char trouble[300])
{
    struct channel *c = NULL;
    struct err e = {0};

    assert_int_equal(open_shell(h, false, &c, &e), 0);
    ask_all(c, seen);
    (void)snprintf(trouble, 300, "%s", channel_trouble(c) ? channel_trouble(c) : "");
    channel_close(&c);
}

#define VERSION {"esxcli system version get", "7.0.3\n", 0, FINE, NULL}
#define GOOD                                                     \
    VERSION,                                                     \
    {"/etc/vmware/default.map.d/a.map", "a\n", 0, FINE, NULL},   \
    {"/etc/vmware/default.map.d/b.map", "", 0, FINE, NULL},      \
    {"/bootbank/boot.cfg", "title=x", 0, FINE, NULL},            \
    {"vmkchdev -l", "ids\n\n", 0, FINE, "a warning\n"}
#define ADAPTERS(fault) {"esxcli storage core adapter list", "vmhba0\n", 0, fault, NULL}
#define DEVICES(fault) {"esxcli storage core device list", "naa.5\n", 0, fault, NULL}
#define END {NULL, NULL, 0, FINE, NULL}

static const struct answer good[] = {GOOD, ADAPTERS(FINE), DEVICES(FINE), END};

static void assert_good(const struct seen *s, const char *body, size_t parts)
{
    if (s->status != REPLY_OK || s->cut)
        fail_msg("%s: status %d, %s", body, (int)s->status, s->note);
    assert_string_equal(s->body, body);
    assert_int_equal(s->parts, parts);
}

static void assert_all_good(const struct seen seen[NALL])
{
    static const char *const bodies[] = {"7.0.3\n", "vmhba0\n", "naa.5\n", "", "title=x", "ids\n\n"};

    for (size_t i = 0; i < NALL; i++)
        assert_good(&seen[i], bodies[i], i == 3 ? 2 : 1);
}

static void answers_come_whole_in_pieces_of_any_size(void **state)
{
    static const size_t chunks[] = {0, 1, 2, 3, 5, 7, 16, 34, 35, 36, 100, 4096};

    (void)state;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        struct host h = host_of(good);
        struct seen seen[NALL];
        char trouble[300];

        h.chunk = chunks[i];
        h.noise = "motd\n$ noise without a line end";
        talk(&h, seen, trouble);
        assert_all_good(seen);
        assert_string_equal(trouble, "");
        assert_int_equal(h.starts, 1);
        assert_string_equal(seen[3].where, "/etc/vmware/default.map.d/b.map");
        host_done(&h);
    }
}

static void what_came_before_the_break_is_kept(void **state)
{
    size_t total, kept = 0;

    (void)state;
    {
        struct host h = host_of(good);
        struct seen seen[NALL];
        char trouble[300];

        talk(&h, seen, trouble);
        total = h.passed;
        host_done(&h);
    }
    for (size_t at = 1; at < total; at++) {
        struct host h = host_of(good);
        struct seen seen[NALL];
        char trouble[300];
        size_t whole = 0;

        h.break_at = at;
        h.chunk = 50; /* both outputs come side by side */
        talk(&h, seen, trouble);
        if (!*trouble)
            fail_msg("nothing is said of the break after %zu bytes", at);
        for (size_t i = 0; i < NALL; i++) { /* in order: good ones, at most one that is cut, then none */
            if (seen[i].status == REPLY_OK && !seen[i].cut)
                whole += whole == i;
            else
                assert_true(slice_starts(slice_of(seen[i].note), "lost: "));
        }
        for (size_t i = whole + 1; i < NALL; i++)
            assert_int_equal(seen[i].status, REPLY_FAILED);
        assert_true(whole >= kept);
        kept = whole;
        host_done(&h);
    }
    assert_int_equal(kept, NALL - 1);
}

static void a_hang_costs_itself(void **state)
{
    static const struct answer hangs[] = {GOOD, ADAPTERS(HANGS), DEVICES(FINE), END};
    struct host h = host_of(hangs);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_string_equal(trouble, "");
    assert_int_equal(h.starts, 2);
    assert_int_equal(h.killed, 4001); /* the first shell */
    assert_int_equal(seen[1].status, REPLY_OK); /* some of it came */
    assert_true(seen[1].cut);
    assert_string_equal(seen[1].body, "vmhba0\n");
    assert_string_equal(seen[1].note, "timeout: not at its end within 60 s");
    assert_good(&seen[0], "7.0.3\n", 1);
    assert_good(&seen[2], "naa.5\n", 1);
    assert_good(&seen[5], "ids\n\n", 1);
    assert_int_equal(slice_find(buf_slice(&h.sent), 0, "localcli"), SIZE_MAX);
    host_done(&h);
}

static void a_hang_in_a_file_keeps_the_files_before_it(void **state)
{
    static const struct answer hangs[] = {{"/etc/vmware/default.map.d/0.map", "zero\n", 0, FINE, NULL}, {"/etc/vmware/default.map.d/1.map", "half", 0, HANGS, NULL},
                                          GOOD, ADAPTERS(FINE), DEVICES(FINE), END};
    struct host h = host_of(hangs);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_int_equal(seen[3].parts, 2);
    assert_true(seen[3].cut);
    assert_string_equal(seen[3].body, "half");
    assert_good(&seen[4], "title=x", 1);
    host_done(&h);
}

static void when_esxcli_hangs_again_localcli_is_asked(void **state)
{
    static const struct answer hangs[] = {{"localcli storage core adapter list", "local\n", 0, FINE, NULL}, {"localcli storage core device list", "local too\n", 0, FINE, NULL},
                                          GOOD, {"esxcli storage core adapter list", NULL, 0, HANGS, NULL}, {"esxcli storage core device list", NULL, 0, HANGS, NULL},
                                          {"esxcli system version get", "7.0.3\n", 0, HANGS_LATER, NULL}, END};
    struct host h = host_of(hangs);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_non_null(strstr(trouble, "hostd does not answer"));
    assert_good(&seen[0], "7.0.3\n", 1);
    assert_good(&seen[1], "local\n", 1);
    assert_good(&seen[2], "local too\n", 1);
    assert_good(&seen[5], "ids\n\n", 1);
    host_done(&h);
}

static void commands_that_hang_while_hostd_answers_are_not_its_fault(void **state)
{
    static const struct answer hangs[] = {GOOD, ADAPTERS(HANGS), DEVICES(HANGS), END};
    struct host h = host_of(hangs);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_string_equal(trouble, "");
    assert_good(&seen[0], "7.0.3\n", 1);
    assert_true(seen[1].cut && seen[2].cut);
    assert_string_equal(seen[2].note, "timeout: not at its end within 60 s");
    assert_good(&seen[3], "", 2);
    assert_good(&seen[5], "ids\n\n", 1);
    assert_int_equal(h.starts, 3); /* what comes after the question goes to the same shell */
    assert_int_equal(slice_find(buf_slice(&h.sent), 0, "localcli"), SIZE_MAX);
    host_done(&h);
}

static void a_break_while_hostd_is_asked_ends_the_talk(void **state)
{
    static const struct answer hangs[] = {GOOD, ADAPTERS(HANGS), DEVICES(HANGS), {"esxcli system version get", "7.0.3\n", 0, ENDS_LATER, NULL}, END};
    struct host h = host_of(hangs);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_string_equal(trouble, "the shell on the host has ended");
    assert_good(&seen[0], "7.0.3\n", 1);
    assert_string_equal(seen[5].note, "lost: the shell on the host has ended");
    host_done(&h);
}

static void without_hostd_localcli_answers_and_hostd_is_the_reason(void **state)
{
#define DOWN "Connect to localhost failed: Connection failure\n"
    static const struct answer down[] = {{"/bootbank/boot.cfg", "title=x", 0, FINE, NULL}, {"esxcli system version get", DOWN, 1, FINE, NULL},
                                         {"esxcli storage core adapter list", DOWN, 1, FINE, NULL}, {"esxcli storage core device list", DOWN, 1, FINE, NULL},
                                         {"localcli system version get", "7.0.3\n", 0, FINE, NULL},
                                         {"localcli storage core device list", "Error: Unknown command or namespace storage core device list\n", 1, FINE, NULL}, END};
    struct host h = host_of(down);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_non_null(strstr(trouble, "hostd does not run"));
    assert_good(&seen[0], "7.0.3\n", 1);
    assert_string_equal(seen[1].body, DOWN); /* localcli is not found */
    assert_string_equal(seen[2].body, DOWN); /* it does not know the command */
    assert_int_equal(seen[1].parts, 1);
    assert_int_equal(seen[2].parts, 1);
    assert_int_equal(h.starts, 1);
    host_done(&h);
}

static void too_much_output_is_kept_to_the_limit(void **state)
{
    static const struct answer floods[] = {GOOD, ADAPTERS(FLOODS), {"esxcli storage core device list", "some", 0, FLOODS_ERROR, NULL}, END};
    struct host h = host_of(floods);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_int_equal(seen[1].n, SHELL_MAX_ANSWER);
    assert_true(seen[1].cut);
    assert_string_equal(seen[1].note, "failed: more output than the limit");
    assert_true(seen[2].cut);
    assert_string_equal(seen[2].body, "some");
    assert_string_equal(seen[2].note, "failed: more output than the limit");
    assert_good(&seen[5], "ids\n\n", 1);
    assert_int_equal(h.starts, 3);
    host_done(&h);
}

static void what_was_not_asked_ends_the_talk(void **state)
{
    static const struct answer wrong[][8] = {{GOOD, ADAPTERS(WRONG_NUMBER), DEVICES(FINE), END}, {GOOD, ADAPTERS(WRONG_PATH), DEVICES(FINE), END},
                                             {GOOD, ADAPTERS(WRONG_ERROR_BOUNDARY), DEVICES(FINE), END}};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct host h = host_of(wrong[i]);
        struct seen seen[NALL];
        char trouble[300];

        talk(&h, seen, trouble);
        if (i != 1) { /* a path where none belongs is seen by its file only */
            assert_non_null(strstr(trouble, "what was not asked"));
            assert_good(&seen[0], "7.0.3\n", 1);
            for (size_t k = 1; k < NALL; k++)
                assert_int_equal(seen[k].status, REPLY_FAILED);
        }
        host_done(&h);
    }
}

static void files_that_were_not_asked_end_the_talk(void **state)
{
    static const struct answer wrong[][8] = {
        {{"/bootbank/boot.cfg", "root:x:0:0", 0, WRONG_PATH, NULL}, VERSION, ADAPTERS(FINE), DEVICES(FINE), {"vmkchdev -l", "ids", 0, FINE, NULL}, END},
        {{"/bootbank/boot.cfg", "", 0, MANY_PARTS, NULL}, VERSION, ADAPTERS(FINE), DEVICES(FINE), {"vmkchdev -l", "ids", 0, FINE, NULL}, END},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct host h = host_of(wrong[i]);
        struct seen seen[NALL];
        char trouble[300];

        talk(&h, seen, trouble);
        assert_non_null(strstr(trouble, "what was not asked"));
        assert_good(&seen[1], "vmhba0\n", 1);
        assert_null(strstr(seen[4].body, "root:"));
        assert_int_equal(seen[5].status, REPLY_FAILED);
        host_done(&h);
    }
}

static void files_beyond_the_bound_are_told(void **state)
{
    static const struct answer many[] = {{"/etc/vmware/default.map.d/0.map", "", 0, MANY_FILES, NULL}, VERSION, ADAPTERS(FINE), DEVICES(FINE),
                                         {"/bootbank/boot.cfg", "title=x", 0, FINE, NULL}, {"vmkchdev -l", "ids\n\n", 0, FINE, NULL}, END};
    struct host h = host_of(many);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    h.in.max = h.out[1].max = 8 << 20;
    talk(&h, seen, trouble);
    assert_string_equal(trouble, "");
    assert_int_equal(seen[3].parts, 4096 + 1);
    assert_int_equal(seen[3].status, REPLY_FAILED);
    assert_string_equal(seen[3].note, "failed: more than 4096 files, the others are not read");
    assert_good(&seen[4], "title=x", 1);
    assert_good(&seen[5], "ids\n\n", 1);
    assert_int_equal(h.starts, 2);
    host_done(&h);
}

static void a_file_with_an_odd_name_is_told(void **state)
{
    static const struct answer nothing[] = {VERSION, ADAPTERS(FINE), DEVICES(FINE), {"/bootbank/boot.cfg", "title=x", 0, FINE, NULL}, END};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct host h = host_of(i ? good : nothing);
        struct seen seen[NALL];
        char trouble[300];

        h.odd_name = true;
        talk(&h, seen, trouble);
        assert_string_equal(trouble, "");
        assert_int_equal(seen[3].parts, i ? 3 : 1);
        assert_int_equal(seen[3].status, REPLY_FAILED);
        assert_string_equal(seen[3].note, "failed: a file whose odd name is not read was left out");
        assert_good(&seen[4], "title=x", 1);
        host_done(&h);
    }
}

static void a_shell_that_ends_is_told(void **state)
{
    static const struct answer ends[] = {GOOD, ADAPTERS(ENDS_SHELL), DEVICES(FINE), END};
    struct host h = host_of(ends);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_string_equal(trouble, "the shell on the host has ended");
    assert_good(&seen[0], "7.0.3\n", 1);
    assert_int_equal(seen[5].status, REPLY_FAILED);
    assert_string_equal(seen[5].note, "lost: the shell on the host has ended");
    host_done(&h);
}

static void no_shell_is_told_with_what_was_said_instead(void **state)
{
    struct host h = host_of(good), g = host_of(good);
    struct channel *c = NULL;
    struct seen seen[NALL];
    struct err e = {0};
    char trouble[300];

    (void)state;
    h.silent = g.silent = true;
    h.noise = g.noise = "Unknown command: `sh'\x1b[1m";
    assert_int_equal(open_shell(&h, true, &c, &e), VF_EHOST);
    assert_null(c);
    assert_non_null(strstr(e.msg, "no shell answers: nothing within the time limit, only \"Unknown command: `sh'\\x1b[1m\""));
    host_done(&h);
    talk(&g, seen, trouble);
    assert_non_null(strstr(trouble, "Unknown command"));
    for (size_t i = 0; i < NALL; i++) {
        assert_int_equal(seen[i].status, REPLY_FAILED);
        assert_string_equal(seen[i].note, "lost: no shell answers on the host");
    }
    host_done(&g);
}

static void a_host_without_esxcli_is_told(void **state)
{
    static const struct answer nothing[] = {END};
    struct host h = host_of(nothing);
    struct seen seen[NALL];
    char trouble[300];

    (void)state;
    talk(&h, seen, trouble);
    assert_non_null(strstr(trouble, "not an ESXi host"));
    for (size_t i = 0; i < NALL; i++)
        assert_int_equal(seen[i].status, REPLY_MISSING);
    host_done(&h);
}

static void a_command_that_no_line_can_be_made_of_is_not_sent(void **state)
{
    static const struct ask bad = {.kind = ASK_ESXCLI, .text = SLICE_LIT("system shutdown poweroff")};
    struct host h = host_of(good);
    struct channel *c = NULL;
    struct seen seen = {.parts = 0};
    struct err e = {0};

    (void)state;
    assert_int_equal(open_shell(&h, true, &c, &e), 0);
    assert_false(channel_want(c, &bad));
    assert_int_equal(channel_ask(c, &bad, see, &seen, &e), 0); /* fetched alone */
    assert_int_equal(seen.status, REPLY_FAILED);
    assert_int_equal(slice_find(buf_slice(&h.sent), 0, "poweroff"), SIZE_MAX);
    channel_close(&c);
    host_done(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_whole_in_pieces_of_any_size),
        cmocka_unit_test(what_came_before_the_break_is_kept),
        cmocka_unit_test(a_hang_costs_itself),
        cmocka_unit_test(a_hang_in_a_file_keeps_the_files_before_it),
        cmocka_unit_test(when_esxcli_hangs_again_localcli_is_asked),
        cmocka_unit_test(commands_that_hang_while_hostd_answers_are_not_its_fault),
        cmocka_unit_test(a_break_while_hostd_is_asked_ends_the_talk),
        cmocka_unit_test(without_hostd_localcli_answers_and_hostd_is_the_reason),
        cmocka_unit_test(too_much_output_is_kept_to_the_limit),
        cmocka_unit_test(what_was_not_asked_ends_the_talk),
        cmocka_unit_test(files_that_were_not_asked_end_the_talk),
        cmocka_unit_test(files_beyond_the_bound_are_told),
        cmocka_unit_test(a_file_with_an_odd_name_is_told),
        cmocka_unit_test(a_shell_that_ends_is_told),
        cmocka_unit_test(no_shell_is_told_with_what_was_said_instead),
        cmocka_unit_test(a_host_without_esxcli_is_told),
        cmocka_unit_test(a_command_that_no_line_can_be_made_of_is_not_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
