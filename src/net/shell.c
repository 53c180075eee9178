#include "net/shell.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/clock.h"
#include "base/map.h"
#include "net/script.h"

#define MAX_ASKS   20000u /* of one host: 4,096 values for each of a few asks */
#define MAX_PARTS  4096u  /* files of one pattern; map folders of 8.0 hold 60 */
#define MAX_TWO    2u     /* files of another path: a log, and the one rotated last */
#define MAX_NOISE  4096u  /* what a login shell may print that is quoted */
#define NO_COMMAND 127  /* exit status of sh for a command that is not there, POSIX 2.8.2 */
#define CLEANUP_MS 3000u /* to end on the host what hangs there */
#define HUNG_HOSTD 2u     /* esxcli commands in a row that hang: hostd may; two dying disks do it as well */
#define HOSTD_MS   15000u /* for the cheap question that tells; on a busy host it takes two seconds */

/* One ask and what came. */
struct held {
    struct ask ask;
    struct reply *replies;
    size_t n, cap;
    bool done, localcli;
    struct reply *refused; /* what esxcli said when it could not reach hostd */
};

struct shell {
    struct channel channel;
    struct arena *arena;
    struct link *link;
    struct shell_opt opt;
    struct script script;
    struct splitter out, err;
    struct buf first;       /* lines that wait to go with the first commands: one turn less on the wire */
    struct held *v;
    size_t n, cap, kept;
    struct map index;
    bool silent;            /* sh has not answered yet */
    struct script_shell present, left; /* sh; one that was left with a command that hangs, or zeros */
    uint64_t since;         /* the present command runs from then on */
    bool running, localcli, broken;
    unsigned hung;          /* esxcli commands in a row */
    const char *lost;       /* why nothing more is asked */
    const char *trouble;
};

/* --- what is held --- */

static struct slice key_of(struct shell *s, const struct ask *q)
{
    return slice_of(arena_printf(s->arena, "%d%d" SLICE_FMT, (int)q->kind, (int)q->form, SLICE_ARG(q->text)));
}

static struct held *find(struct shell *s, const struct ask *q)
{
    uint32_t at = map_get(&s->index, key_of(s, q));

    return at == MAP_NONE ? NULL : &s->v[at];
}

static struct held *add(struct shell *s, const struct ask *q)
{
    void *v = s->v;
    struct held *h;

    if (arena_grow(s->arena, &v, s->n, &s->cap, sizeof *s->v, MAX_ASKS) < 0)
        return NULL;
    s->v = v;
    h = &s->v[s->n];
    *h = (struct held){.ask = *q};
    h->ask.text = arena_dup(s->arena, q->text);
    h->ask.value = slice_from(h->ask.text, h->ask.text.n - q->value.n);
    if (!h->ask.text.p || map_put(&s->index, s->arena, key_of(s, q), (uint32_t)s->n) < 0)
        return NULL;
    s->n++;
    return h;
}

static void keep(struct shell *s, struct held *h, struct reply r, const char *status, bool done)
{
    void *v = h->replies;
    struct shell_answer a = {&h->ask, &r, status, (uint32_t)(clock_ms() - s->since)};

    h->done = done; /* without room too: it is not asked again */
    if (arena_grow(s->arena, &v, h->n, &h->cap, sizeof *h->replies, MAX_PARTS + 1) < 0) /* and why there are no more */
        return;
    h->replies = v;
    h->replies[h->n++] = r;
    s->kept += r.body.n;
    if (s->opt.answered)
        s->opt.answered(s->opt.ctx, &a);
}

static bool is_pattern(const struct ask *q)
{
    return slice_find_char(q->text, 0, '*') != SIZE_MAX;
}

/* What came of an answer before it ended badly; nothing is a failure. The note is what a replay of the recording says. */
static void keep_bad(struct shell *s, struct held *h, struct slice came, const char *status, const char *why)
{
    struct reply r = {.status = came.n ? REPLY_OK : REPLY_FAILED, .exit_code = -1, .cut = came.n > 0, .part = h->ask.kind == ASK_FILE,
                      .body = arena_dup(s->arena, came), .note = arena_printf(s->arena, "%s: %s", status, why)};

    if (r.part && !is_pattern(&h->ask))
        r.where = h->ask.text;
    keep(s, h, r, status, true);
}

/* --- one answer --- */

static size_t limit_of(const struct held *h)
{
    return h->ask.kind == ASK_FILE ? SHELL_MAX_LOG : SHELL_MAX_ANSWER;
}

/* Is the path one that the ask is about: its own, or the log rotated last. */
static bool path_fits(const struct ask *q, struct slice path)
{
    struct slice base = slice_from(q->text, sizeof "/var/log/" - 1);

    if (slice_glob(q->text, path))
        return true;
    return slice_starts(q->text, "/var/log/") && slice_ends(q->text, ".log") && slice_starts(path, "/var/run/log/") &&
           slice_eqz(slice_from(path, 13 + base.n - 4), ".0.gz") && slice_eq(slice_cut(path, 13, base.n - 4), slice_cut(base, 0, base.n - 4));
}

static const char *first_line(struct shell *s, struct slice text)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(400);

    buf_add_safe(&b, slice_first_line(text));
    return b.n ? arena_printf(s->arena, "%s", buf_z(&b)) : NULL;
}

/* One file, or the end of them. Returns false when the boundary makes no sense. */
static bool take_file(struct shell *s, struct held *h, struct slice body, struct slice errors, const struct boundary *b)
{
    struct reply r = {.status = REPLY_OK, .part = true, .where = arena_dup(s->arena, b->path)};

    if (b->path.n == 0) {
        if (b->status == SCRIPT_LEFT_OUT) {
            keep_bad(s, h, (struct slice){NULL, 0}, "failed", "a file whose odd name is not read was left out");
        } else if (h->n == 0) {
            r = (struct reply){.status = REPLY_MISSING, .exit_code = -1, .note = "the host has no such file"};
            keep(s, h, r, "missing", true);
        }
        h->done = true;
        return true;
    }
    if (!path_fits(&h->ask, b->path) || (h->n == MAX_TWO && !is_pattern(&h->ask)))
        return false;
    if (h->n == MAX_PARTS) { /* without end, perhaps */
        keep_bad(s, h, (struct slice){NULL, 0}, "failed", arena_printf(s->arena, "more than %u files, the others are not read", MAX_PARTS));
        return true;
    }
    r.body = arena_dup(s->arena, body);
    if (b->status != 0) {
        const char *why = first_line(s, errors);

        r.note = arena_printf(s->arena, "failed: %s", why ? why : "cat did not end well");
        r.exit_code = (int)b->status;
        r.cut = true;
        if (body.n == 0)
            r.status = REPLY_FAILED;
    }
    keep(s, h, r, b->status == 0 ? "ok" : "failed", false);
    return true;
}

static void take_output(struct shell *s, struct held *h, struct slice body, struct slice errors, const struct boundary *b)
{
    struct reply r = {.status = REPLY_OK, .exit_code = b->status > 255 ? 255 : (int)b->status, .body = arena_dup(s->arena, body)};
    const char *why = first_line(s, errors);

    if (body.n == 0 && b->status == NO_COMMAND) {
        if (h->ask.kind == ASK_ESXCLI && !h->localcli && !s->trouble)
            s->trouble = "it has no esxcli: this is not an ESXi host";
        r = (struct reply){.status = REPLY_MISSING, .exit_code = NO_COMMAND, .note = "the host has no such command"};
        keep(s, h, r, "missing", true);
        return;
    }
    if (body.n == 0 && b->status != 0) {
        r.status = REPLY_FAILED;
        r.note = arena_printf(s->arena, "failed: exit status %d%s%s", r.exit_code, why ? ", " : "", why ? why : "");
    }
    if (h->ask.kind == ASK_ESXCLI && !h->localcli)
        s->hung = 0;
    keep(s, h, r, r.status == REPLY_OK ? "ok" : "failed", true);
}

/* --- the talk --- */

static void on_bytes(void *ctx, int output, struct slice bytes)
{
    struct shell *s = ctx;

    splitter_add(output == 1 ? &s->out : &s->err, bytes);
}

static void leave(struct shell *s, bool hangs)
{
    if (s->running)
        s->link->ops->stop(s->link);
    s->left = hangs ? s->present : s->left;
    s->running = false;
    splitter_done(&s->out);
    splitter_done(&s->err);
}

static uint64_t deadline_of(const struct shell *s, uint32_t ms)
{
    return clock_sooner(s->since + ms, s->opt.deadline);
}

/* Bytes of both outputs, until some come. */
static enum link_event wait_for(struct shell *s, struct slice *send, uint32_t ms, struct err *e)
{
    return s->link->ops->pump(s->link, send, on_bytes, s, deadline_of(s, ms), e);
}

/* Bytes that come without a pause do not put the end off. */
static bool is_late(const struct shell *s, uint32_t ms)
{
    return clock_left(deadline_of(s, ms)) == 0;
}

static int no_shell(struct shell *s, enum link_event ev, bool floods, struct err *e)
{
    _cleanup_(buf_done) struct buf said = BUF_INIT(MAX_NOISE), safe = BUF_INIT(600);

    buf_add(&said, splitter_rest(&s->out));
    buf_add(&said, splitter_rest(&s->err));
    buf_add_safe(&safe, slice_cut(slice_trim(buf_slice(&said)), 0, 200));
    if (ev == LINK_STOPPED)
        return err_set(e, VF_EHOST, "stopped");
    if (ev == LINK_BROKEN)
        return e->code;
    return err_set(e, VF_EHOST, "the login works, but no shell answers: %s%s%s%s",
                   floods ? "what answers prints without end" : ev == LINK_TIMEOUT ? "nothing within the time limit" : "it ended at once", safe.n ? ", only \"" : "",
                   buf_z(&safe), safe.n ? "\". vmkfit needs an account whose shell runs sh, as root's does on ESXi" : "");
}

/* A fresh sh; its first lines, which go before any command, are appended to script. */
static int start(struct shell *s, struct buf *script, struct err *e)
{
    s->since = clock_ms();
    if (s->link->ops->start(s->link, deadline_of(s, s->opt.start_ms), e) < 0)
        return e->code;
    s->running = s->silent = true;
    splitter_init(&s->out, &s->script, 2 * SHELL_MAX_LOG);
    splitter_init(&s->err, &s->script, 2 * SHELL_MAX_LOG);
    script_start(&s->script, &s->left, script);
    return 0;
}

/* The first boundary of a fresh sh; what came before it is noise. */
static void greet(struct shell *s)
{
    struct slice noise;
    struct boundary b, be;

    if (!splitter_next(&s->out, &noise, &b) || !splitter_next(&s->err, &noise, &be))
        return;
    s->present = s->left = (struct script_shell){0, 0};
    if (b.number == 0 && num_parse_u64(b.path, &s->present.parent) == 0 && s->present.parent <= INT32_MAX && b.status <= INT32_MAX)
        s->present.pid = (uint64_t)b.status;
    s->silent = false;
    s->since = clock_ms();
    splitter_drop(&s->out);
    splitter_drop(&s->err);
}

/* Until sh has answered for the first time. */
static int wait_for_shell(struct shell *s, struct slice *send, struct err *e)
{
    s->since = clock_ms();
    while (s->silent) {
        bool floods = splitter_rest(&s->out).n > SHELL_MAX_ANSWER || splitter_rest(&s->err).n > SHELL_MAX_ANSWER;
        enum link_event ev = floods ? LINK_TIMEOUT : wait_for(s, send, s->opt.start_ms, e);

        greet(s);
        if (s->silent && (ev != LINK_MOVED || is_late(s, s->opt.start_ms)))
            return no_shell(s, ev == LINK_MOVED ? LINK_TIMEOUT : ev, floods, e);
    }
    return 0;
}

/* Complete answers that have come; *pos goes on in the list. Returns false when the host answers what was not asked. */
static bool take_answers(struct shell *s, const uint32_t *list, size_t n, size_t *pos)
{
    struct slice body, errors;
    struct boundary b, be;

    while (*pos < n && splitter_next(&s->out, &body, &b) && splitter_next(&s->err, &errors, &be)) {
        struct held *h = &s->v[list[*pos]];

        if (b.number != list[*pos] + 1 || be.number != b.number || !slice_eq(b.path, be.path))
            return false;
        if (h->ask.kind != ASK_FILE)
            take_output(s, h, body, errors, &b);
        else if (!take_file(s, h, body, errors, &b))
            return false;
        splitter_drop(&s->out);
        splitter_drop(&s->err);
        s->since = clock_ms();
        *pos += h->done;
        if (h->done && h->ask.kind == ASK_FILE && b.path.n) { /* one that is given up: the shell is still at it */
            leave(s, true);
            return true;
        }
    }
    return true;
}

static const char *seconds(struct shell *s, uint32_t ms)
{
    return ms % 1000 ? arena_printf(s->arena, "%u.%u s", ms / 1000, ms % 1000 / 100) : arena_printf(s->arena, "%u s", ms / 1000);
}

static void lose(struct shell *s, const char *why)
{
    s->lost = why;
    s->trouble = s->trouble ? s->trouble : why;
    leave(s, false);
}

/* The present command is given up: what came of it is kept. */
static void give_up(struct shell *s, struct held *h, const char *status, const char *why)
{
    struct slice body = slice_cut(splitter_rest(&s->out), 0, limit_of(h));

    if (h->ask.kind == ASK_ESXCLI && !h->localcli && strcmp(status, "timeout") == 0)
        s->hung++;
    keep_bad(s, h, body, status, why);
}

/* Why nothing more is asked after a wait that brought nothing; NULL: only the present command is late. */
static const char *end_of_talk(struct shell *s, enum link_event ev, const struct err *e)
{
    switch (ev) {
    case LINK_MOVED:
        return NULL;
    case LINK_TIMEOUT:
        return clock_left(s->opt.deadline) > 0 ? NULL : "the time limit for the host has passed";
    case LINK_STOPPED:
        return "stopped";
    case LINK_ENDED:
        return "the shell on the host has ended";
    case LINK_BROKEN:
        s->broken = true;
        return arena_printf(s->arena, "the connection broke: %s", e->msg);
    }
    return NULL;
}

/* A wait ended that brought nothing: the one command's fault, or the end of the talk. */
static void ended(struct shell *s, enum link_event ev, struct held *h, const struct err *e)
{
    const char *why = end_of_talk(s, ev, e);

    give_up(s, h, ev == LINK_TIMEOUT ? "timeout" : "lost",
            why ? why : arena_printf(s->arena, "not at its end within %s", seconds(s, s->opt.command_ms)));
    if (ev == LINK_TIMEOUT)
        leave(s, true); /* when the host's time is over too: what runs there now may be what took so long */
    if (why)
        lose(s, why);
}

/* Send the script for list[pos..n), take answers until the last has come or the shell is left. */
static void talk(struct shell *s, struct slice send, const uint32_t *list, size_t n, size_t *pos)
{
    struct err e = {0};

    if (wait_for_shell(s, &send, &e) < 0) {
        s->trouble = arena_printf(s->arena, "%s", e.msg);
        lose(s, "no shell answers on the host");
        return;
    }
    s->since = clock_ms();
    for (bool first = true; *pos < n && s->running; first = false) {
        struct held *h = &s->v[list[*pos]];
        enum link_event ev = first ? LINK_MOVED : wait_for(s, &send, s->opt.command_ms, &e); /* first what came with the greeting */

        if (!take_answers(s, list, n, pos)) {
            lose(s, "the host answered what was not asked; it is not trusted further");
            return;
        }
        if (*pos == n || h != &s->v[list[*pos]])
            continue; /* what made the wait end concerns the next one */
        if (ev == LINK_MOVED && is_late(s, s->opt.command_ms))
            ev = LINK_TIMEOUT;
        if (ev != LINK_MOVED) {
            ended(s, ev, h, &e);
            *pos += h->done;
        } else if (splitter_rest(&s->out).n > limit_of(h) || splitter_rest(&s->err).n > SHELL_MAX_ERRORS) {
            give_up(s, h, "failed", "more output than the limit");
            leave(s, true);
            ++*pos;
        }
        if (s->kept > SHELL_MAX_HOST)
            lose(s, "the host's answers are larger than what is kept of one host");
    }
}

/* Commands that no line can be made of are answered here; the others are moved together. */
static void make_script(struct shell *s, uint32_t *list, size_t pos, size_t *n, struct buf *out)
{
    size_t to = pos;

    for (size_t i = pos; i < *n; i++) {
        struct held *h = &s->v[list[i]];
        struct err e = {0};

        if (script_ask(&h->ask, list[i] + 1, h->localcli, out, &e) < 0)
            keep_bad(s, h, (struct slice){NULL, 0}, "failed", arena_printf(s->arena, "%s", e.msg));
        else
            list[to++] = list[i];
    }
    *n = to;
}

static void no_more_shells(struct shell *s, const struct err *e)
{
    lose(s, arena_printf(s->arena, "no further shell: %s", e->msg));
}

/* Waits for the answer to the cheap question. Returns false when it hangs; the end of the talk is an answer too. */
static bool hostd_answers(struct shell *s, struct slice *send)
{
    uint32_t ms = s->opt.command_ms < HOSTD_MS ? s->opt.command_ms : HOSTD_MS;
    struct slice body, errors;
    struct boundary b, be;
    struct err e = {0};

    s->since = clock_ms();
    while (!splitter_next(&s->out, &body, &b) || !splitter_next(&s->err, &errors, &be)) {
        enum link_event ev = wait_for(s, send, ms, &e);
        const char *why;

        if (ev == LINK_MOVED && !is_late(s, ms) && splitter_rest(&s->out).n <= SHELL_MAX_ANSWER && splitter_rest(&s->err).n <= SHELL_MAX_ERRORS)
            continue;
        ev = ev == LINK_MOVED ? LINK_TIMEOUT : ev;
        why = end_of_talk(s, ev, &e);
        if (ev == LINK_TIMEOUT)
            leave(s, true);
        if (why)
            lose(s, why);
        return why != NULL;
    }
    splitter_drop(&s->out);
    splitter_drop(&s->err);
    return true;
}

/* Some esxcli commands in a row hung: is it hostd that hangs, or are they about what hangs. */
static void doubt_hostd(struct shell *s)
{
    static const struct ask cheap = {.kind = ASK_ESXCLI, .text = SLICE_LIT("system version get")};
    _cleanup_(buf_done) struct buf script = BUF_INIT(4096);
    struct err e = {0};
    struct slice send;

    s->hung = 0;
    if (start(s, &script, &e) < 0) {
        no_more_shells(s, &e);
        return;
    }
    (void)script_ask(&cheap, MAX_ASKS + 1, false, &script, &e); /* no number of the list's */
    send = buf_slice(&script);
    if (wait_for_shell(s, &send, &e) < 0) {
        no_more_shells(s, &e);
    } else if (!hostd_answers(s, &send)) {
        s->localcli = true;
        s->trouble = "hostd does not answer: esxcli hangs, localcli was asked instead";
    }
}

/* Every ask of the list gets its answer, or the reason why there is none. */
static void run_list(struct shell *s, uint32_t *list, size_t n)
{
    struct err e = {0};
    size_t pos = 0;

    while (pos < n && !s->lost) {
        _cleanup_(buf_done) struct buf script = BUF_INIT(16u << 20);

        if (!s->running && start(s, &script, &e) < 0) {
            no_more_shells(s, &e);
            break;
        }
        for (size_t i = pos; i < n; i++)
            s->v[list[i]].localcli |= s->localcli && s->v[list[i]].ask.kind == ASK_ESXCLI;
        buf_add(&script, buf_slice(&s->first));
        buf_reset(&s->first);
        make_script(s, list, pos, &n, &script);
        talk(s, buf_slice(&script), list, n, &pos);
        if (s->hung >= HUNG_HOSTD && !s->localcli && !s->lost)
            doubt_hostd(s);
    }
    for (; pos < n; pos++)
        if (!s->v[list[pos]].done)
            keep_bad(s, &s->v[list[pos]], (struct slice){NULL, 0}, "lost", s->lost);
}

/* esxcli without hostd: "Connect to localhost failed: Connection failure", status 1; a hang counts once several have. */
static bool without_hostd(const struct shell *s, const struct held *h)
{
    const struct reply *r = h->n ? &h->replies[0] : NULL;

    if (h->ask.kind != ASK_ESXCLI || h->localcli || !r)
        return false;
    if (slice_find(slice_cut(r->body, 0, 400), 0, "Connect to localhost failed") != SIZE_MAX)
        return true;
    return s->localcli && r->status == REPLY_FAILED && slice_starts(slice_of(r->note), "timeout");
}

/* localcli knows fewer commands than esxcli does: then the reason is that hostd does not run. */
static void take_back_refusals(struct shell *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct held *h = &s->v[i];

        if (h->refused && (h->n == 0 || h->replies[0].status != REPLY_OK || h->replies[0].exit_code != 0)) {
            h->replies = h->refused;
            h->n = h->cap = 1;
        }
        h->refused = NULL;
    }
}

/* What esxcli could not say is asked of localcli, whose answer takes its place. */
static size_t again_locally(struct shell *s, uint32_t *list)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].done && without_hostd(s, &s->v[i])) {
            s->v[i].localcli = true;
            s->v[i].done = false;
            s->v[i].refused = s->v[i].replies;
            s->v[i].replies = NULL;
            s->v[i].n = s->v[i].cap = 0;
            list[n++] = (uint32_t)i;
        }
    if (n && !s->localcli) {
        s->localcli = true;
        s->trouble = "hostd does not run: esxcli cannot connect to it, localcli was asked instead";
    }
    return n;
}

static void free_list(uint32_t **list)
{
    free(*list);
}

static int shell_fetch(struct channel *c, struct err *e)
{
    struct shell *s = (struct shell *)c;
    _cleanup_(free_list) uint32_t *list = xmalloc((s->n + 1) * sizeof *list);
    size_t n = 0;

    (void)e;
    for (size_t i = 0; i < s->n; i++)
        if (!s->v[i].done)
            list[n++] = (uint32_t)i;
    run_list(s, list, n);
    n = again_locally(s, list);
    run_list(s, list, n);
    take_back_refusals(s);
    return 0;
}

static bool shell_want(struct channel *c, const struct ask *q)
{
    struct shell *s = (struct shell *)c;
    struct held *h = find(s, q);

    if (q->kind == ASK_REDFISH)
        return true;
    if (!h && !add(s, q))
        return true; /* no room: shell_ask says so */
    return h && h->done;
}

/* A rotated log is read as the text it holds; once, in its place. */
static void unpack(struct shell *s, struct reply *r)
{
    struct err e = {0};
    bool cut = false;

    if (!slice_ends(r->where, ".gz") || r->status != REPLY_OK || !slice_starts(r->body, "\x1f\x8b"))
        return;
    if (archive_gunzip(r->body, r->where.p, SHELL_MAX_LOG * 4u, s->arena, &r->body, &cut, &e) < 0)
        *r = (struct reply){.status = REPLY_UNREADABLE, .where = r->where, .part = true, .exit_code = -1,
                            .note = arena_printf(s->arena, "%s", e.msg)};
    r->cut |= cut;
}

static int shell_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    struct shell *s = (struct shell *)c;
    struct held *h;
    int rc = 0;

    if (q->kind == ASK_REDFISH)
        return fn(ctx, &(struct reply){.status = REPLY_MISSING, .exit_code = -1, .note = "its BMC was not asked"});
    if (!channel_want(c, q) && shell_fetch(c, e) < 0)
        return e->code;
    h = find(s, q);
    if (!h || !h->done || h->n == 0)
        return err_set(e, VF_ELIMIT, "no room left for what the host is asked");
    for (size_t i = 0; i < h->n && rc == 0; i++) {
        unpack(s, &h->replies[i]);
        rc = fn(ctx, &h->replies[i]);
    }
    return rc < 0 ? rc : 0;
}

/* A command that hung with nothing after it: a shell more, which only ends it. */
static void end_what_hangs(struct shell *s)
{
    _cleanup_(buf_done) struct buf script = BUF_INIT(4096);
    struct slice send;
    struct err e;

    s->opt.start_ms = s->opt.start_ms < CLEANUP_MS ? s->opt.start_ms : CLEANUP_MS;
    s->opt.deadline = clock_ms() + CLEANUP_MS; /* the host's own may have passed */
    if (start(s, &script, &e) < 0)
        return;
    send = buf_slice(&script);
    (void)wait_for_shell(s, &send, &e);
}

static void shell_close(struct channel *c)
{
    struct shell *s = (struct shell *)c;

    if (!s->running && !s->broken && s->left.pid && !stop_wanted())
        end_what_hangs(s);
    s->running = false; /* closing the link ends it too */
    leave(s, false);
    s->link->ops->close(s->link);
    buf_done(&s->first);
    arena_free(s->arena);
    free(s);
}

static const char *shell_trouble(const struct channel *c)
{
    return ((const struct shell *)c)->trouble;
}

static const struct channel_ops shell_ops = {.name = "ssh", .ask = shell_ask, .want = shell_want, .fetch = shell_fetch, .trouble = shell_trouble,
                                             .close = shell_close};

int shell_open(struct link *l, const uint8_t random[16], const struct shell_opt *o, struct channel **out, struct err *e)
{
    struct shell *s = xmalloc(sizeof *s);
    struct slice send;
    int rc;

    *s = (struct shell){.channel.ops = &shell_ops, .arena = arena_new(6ull * SHELL_MAX_HOST), .link = l, .opt = *o, .first = BUF_INIT(4096)};
    script_init(&s->script, random);
    rc = start(s, &s->first, e);
    send = buf_slice(&s->first);
    if (rc == 0 && o->wait) {
        rc = wait_for_shell(s, &send, e);
        buf_reset(&s->first);
    }
    if (rc < 0) {
        shell_close(&s->channel);
        return e->code;
    }
    *out = &s->channel;
    return 0;
}
