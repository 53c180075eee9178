#include "net/attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/fsw.h"
#include "base/fsx.h"
#include "base/run.h"

#define HEADING     "vmkfit-attempts 1"
#define MAX_KEY     1024u
#define POLL_MS     100
#define ANY_ACCOUNT "*"

struct attempt {
    char *path, *key;
    uint64_t id;
    int64_t began;   /* wall clock */
    int64_t mono_ms; /* the other clock, then */
};

struct try {
    int64_t time;
    uint64_t pid, start, id;
    bool trying;
    struct slice key;
};

/* The ledger while it is locked. */
struct ledger {
    const char *path;
    int lock;
    struct arena *a;
    struct try *v;
    size_t n, cap;
    size_t damaged;
    bool mended; /* something in it was damaged or from the future, and is now as of now */
};

static void ledger_done(struct ledger *l)
{
    if (l->lock >= 0)
        (void)close(l->lock);
    arena_free(l->a);
}

/* --- processes --- */

/* When a process started, in ticks since boot: with it, a number that is used again is told apart. 0: not known. */
static uint64_t start_of(uint64_t pid)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1024);
    char name[64];
    struct slice rest, word = {NULL, 0};
    uint64_t start;
    size_t close_paren;
    int fd;

    (void)snprintf(name, sizeof name, "/proc/%" PRIu64 "/stat", pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    (void)run_take_buf(&b, fd);
    (void)close(fd);
    rest = buf_slice(&b);
    close_paren = SIZE_MAX;
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] == ')') /* the name of a program may have one as well */
            close_paren = i;
    if (close_paren == SIZE_MAX)
        return 0;
    rest = slice_from(rest, close_paren + 1);
    for (int field = 3; field <= 22; field++) /* proc(5) */
        if (!slice_next_word(&rest, " \n", &word))
            return 0;
    return num_parse_u64(word, &start) < 0 ? 0 : start;
}

static bool in_flight(const struct try *t)
{
    if (!t->trying || t->pid == 0 || t->pid > INT32_MAX || (kill((pid_t)t->pid, 0) < 0 && errno != EPERM))
        return false;
    return t->start == 0 || t->start == start_of(t->pid);
}

/* --- the file --- */

static void add_escaped(struct buf *out, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr(".-_:", c)))
            buf_addc(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

static int key_of(const char *user, const char *host, struct buf *out, struct err *e)
{
    _cleanup_(buf_done) struct buf lower = BUF_INIT(MAX_KEY);

    for (const char *p = host; *p; p++)
        buf_addc(&lower, *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p);
    add_escaped(out, slice_of(user));
    buf_addc(out, '@');
    add_escaped(out, buf_slice(&lower));
    if (!*user || !*host || out->cut)
        return err_set(e, VF_EUSAGE, "a password try needs a user and a host, of at most %u bytes", MAX_KEY);
    return 0;
}

static bool is_key(struct slice s)
{
    size_t ats = 0;

    if (slice_eqz(s, ANY_ACCOUNT))
        return true;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        ats += c == '@';
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(".-_:%@", c) != NULL) || c == '\0')
            return false;
    }
    return ats == 1 && s.n <= MAX_KEY && s.p[0] != '@' && s.p[s.n - 1] != '@';
}

static int parse_line(struct slice line, struct try *out)
{
    struct slice w[6], rest = line, more;
    uint64_t time;
    struct try t = {0};

    for (size_t i = 0; i < 6; i++)
        if (!slice_next_word(&rest, " ", &w[i]))
            return -1;
    if (slice_next_word(&rest, " ", &more) || num_parse_u64(w[0], &time) < 0 || time > INT64_MAX / 2 || num_parse_u64(w[1], &t.pid) < 0 ||
        num_parse_u64(w[2], &t.start) < 0 || w[3].n != 16 || num_parse_hex(w[3], 16, &t.id) < 0 || !is_key(w[5]))
        return -1;
    t.time = (int64_t)time;
    t.trying = slice_eqz(w[4], "trying");
    if (!t.trying && !slice_eqz(w[4], "failed"))
        return -1;
    t.key = w[5];
    *out = t;
    return 0;
}

static int full(const struct ledger *l, struct err *e)
{
    return err_set(e, VF_ELIMIT, "%s: too many password tries are written down (more than %u bytes)", l->path, ATTEMPTS_MAX_FILE);
}

static int add_try(struct ledger *l, const struct try *t, struct err *e)
{
    if (arena_grow(l->a, (void **)&l->v, l->n, &l->cap, sizeof *l->v, ATTEMPTS_MAX_FILE) < 0)
        return full(l, e);
    l->v[l->n++] = *t;
    return 0;
}

/* A time that may yet count. */
static bool counts_still(const struct try *t, int64_t now)
{
    return now - t->time < ATTEMPTS_WINDOW_S + (t->trying ? ATTEMPTS_MARGIN_S : 0);
}

static int parse(struct ledger *l, struct slice text, int64_t now, struct err *e)
{
    struct slice line;
    bool ended, first = true;

    for (; slice_next_line(&text, &line, &ended); first = false) {
        struct try t;
        int rc;

        if (first && ended && slice_eqz(line, HEADING))
            continue;
        if (first && ended && slice_starts(line, "vmkfit-attempts "))
            return err_set(e, VF_EFORMAT, "%s: of another version of vmkfit; move it away when no password failed in the last 15 minutes", l->path);
        if (!ended || parse_line(line, &t) < 0) {
            if (l->damaged++ >= ATTEMPTS_MAX) /* more of them would make no difference */
                continue;
            t = (struct try){.time = now, .id = l->damaged, .key = SLICE_LIT(ANY_ACCOUNT)};
            l->mended = true;
        }
        if (t.time > now) {
            t.time = now;
            l->mended = true;
        }
        if (!counts_still(&t, now))
            continue;
        rc = add_try(l, &t, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int save(const struct ledger *l, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(ATTEMPTS_MAX_FILE);

    buf_addz(&b, HEADING "\n");
    for (size_t i = 0; i < l->n; i++) {
        const struct try *t = &l->v[i];

        buf_printf(&b, "%" PRId64 " %" PRIu64 " %" PRIu64 " %016" PRIx64 " %s ", t->time, t->pid, t->start, t->id, t->trying ? "trying" : "failed");
        buf_add(&b, t->key);
        buf_addc(&b, '\n');
    }
    return b.cut ? full(l, e) : fsw_replace(l->path, buf_slice(&b), e);
}

/* Lock it and read it. */
static int ledger_open(struct ledger *l, const char *path, int64_t now, struct err *e)
{
    _cleanup_(buf_done) struct buf name = BUF_INIT(4096);
    int64_t end = (int64_t)clock_ms() + ATTEMPTS_LOCK_MS;
    struct slice text = {NULL, 0};
    int rc;

    *l = (struct ledger){.path = path, .lock = -1, .a = arena_new(32u << 20)};
    buf_printf(&name, "%s.lock", path);
    if (name.cut)
        return err_set(e, VF_EUSAGE, "%.60s...: a path of more than 4096 bytes", path);
    rc = fsw_make_parents(path, e);
    if (rc < 0)
        return rc;
    l->lock = open(buf_z(&name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (l->lock < 0)
        return err_set(e, VF_EIO, "%s: %s", buf_z(&name), strerror(errno));
    while (flock(l->lock, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set(e, VF_EIO, "%s: %s", buf_z(&name), strerror(errno));
        if ((int64_t)clock_ms() >= end)
            return err_set(e, VF_EIO, "%s: locked by another process for %d seconds", buf_z(&name), ATTEMPTS_LOCK_MS / 1000);
        (void)poll(NULL, 0, 10);
    }
    rc = fsx_read(path, ATTEMPTS_MAX_FILE, l->a, &text, NULL, e);
    if (rc < 0 && rc != VF_ENOTFOUND)
        return rc;
    return parse(l, text, now, e);
}

/* --- judging --- */

struct count {
    size_t n, flying;
    int64_t last, free_at; /* when the last was written down; when fewer than ATTEMPTS_MAX will count */
};

static struct count count(const struct ledger *l, struct slice key)
{
    struct count c = {0};
    int64_t ends[ATTEMPTS_MAX] = {0}; /* the latest, in falling order */

    for (size_t i = 0; i < l->n; i++) {
        const struct try *t = &l->v[i];
        int64_t until = t->time + ATTEMPTS_WINDOW_S + (t->trying ? ATTEMPTS_MARGIN_S : 0);

        if (!slice_eq(t->key, key) && !slice_eqz(t->key, ANY_ACCOUNT))
            continue;
        c.n++;
        c.flying += in_flight(t);
        c.last = t->time > c.last ? t->time : c.last;
        for (size_t k = 0; k < ATTEMPTS_MAX; k++)
            if (until > ends[k]) {
                int64_t lower = ends[k];

                ends[k] = until;
                until = lower;
            }
    }
    c.free_at = ends[ATTEMPTS_MAX - 1];
    return c;
}

static int refuse(const struct ledger *l, const struct count *c, const char *user, const char *host, int64_t now, struct err *e)
{
    _cleanup_(buf_done) struct buf who = BUF_INIT(300);
    int64_t ago = (now - c->last) / 60, wait = (c->free_at - now + 59) / 60;

    buf_add_safe(&who, slice_of(user));
    buf_addz(&who, " on ");
    buf_add_safe(&who, slice_of(host));
    if (c->flying)
        return err_set(e, VF_EDENIED,
                       "%zu password tries of %s are not decided or failed, the last one %" PRId64 " min ago, and another process is still logging in: "
                       "one more failure could lock the account; try again when it is done, or log in by a key, which does not count",
                       c->n, buf_z(&who), ago);
    return err_set(e, VF_EDENIED,
                   "%zu password tries of %s failed, the last one %" PRId64 " min ago: a third could lock the account. The next one is possible in %" PRId64
                   " min; a login by a key does not count%s%s%s",
                   c->n, buf_z(&who), ago, wait > 0 ? wait : 1, l->damaged ? " (lines of " : "", l->damaged ? l->path : "",
                   l->damaged ? " are damaged and count as failed)" : "");
}

/* One look. Returns 0 with the line written, VF_EDENIED with *wait when waiting may help. */
static int try_once(const struct attempt *t, const char *user, const char *host, int64_t now, bool *wait, struct err *e)
{
    _cleanup_(ledger_done) struct ledger l;
    int rc = ledger_open(&l, t->path, now, e);
    struct count c;

    *wait = false;
    if (rc < 0)
        return rc;
    c = count(&l, slice_of(t->key));
    if (c.n >= ATTEMPTS_MAX) {
        *wait = c.flying > 0;
        rc = l.mended ? save(&l, e) : 0; /* from now on these lines grow old */
        return rc < 0 ? rc : refuse(&l, &c, user, host, now, e);
    }
    rc = add_try(&l, &(struct try){now, (uint64_t)getpid(), start_of((uint64_t)getpid()), t->id, true, slice_of(t->key)}, e);
    return rc < 0 ? rc : save(&l, e);
}

/* --- */

static char *copy(const char *z)
{
    size_t n = strlen(z) + 1;
    char *p = xmalloc(n);

    memcpy(p, z, n);
    return p;
}

void attempts_free(struct attempt **ticket)
{
    struct attempt *t = ticket ? *ticket : NULL;

    if (!t)
        return;
    free(t->path);
    free(t->key);
    free(t);
    *ticket = NULL;
}

/* The wall clock as it was at the beginning, and the time since then. */
static int64_t now_of(const struct attempt *t)
{
    return t->began + ((int64_t)clock_ms() - t->mono_ms) / 1000;
}

int attempts_begin(const char *path, const char *user, const char *host, int64_t now, int wait_ms, struct attempt **ticket, struct err *e)
{
    _cleanup_(attempts_free) struct attempt *t = xmalloc(sizeof *t);
    _cleanup_(buf_done) struct buf key = BUF_INIT(MAX_KEY);
    int rc = key_of(user, host, &key, e);
    bool wait = false;

    if (rc < 0)
        return rc;
    if (random_bytes(&t->id, sizeof t->id) < 0)
        return err_set(e, VF_EIO, "%s: no random number for a line of it", path);
    t->path = copy(path);
    t->key = copy(buf_z(&key));
    t->began = now > 0 ? now : 0;
    t->mono_ms = (int64_t)clock_ms();
    while ((rc = try_once(t, user, host, now_of(t), &wait, e)) == VF_EDENIED && wait) {
        int64_t left = t->mono_ms + wait_ms - (int64_t)clock_ms();

        if (left <= 0)
            break;
        (void)poll(NULL, 0, (int)(left < POLL_MS ? left : POLL_MS));
    }
    if (rc < 0)
        return rc;
    *ticket = t;
    t = NULL;
    return 0;
}

int attempts_end(struct attempt **ticket, bool succeeded, struct err *e)
{
    _cleanup_(attempts_free) struct attempt *t = ticket ? *ticket : NULL;
    _cleanup_(ledger_done) struct ledger l = {.lock = -1};
    bool found = false;
    int64_t now;
    size_t n = 0;
    int rc;

    if (!t)
        return 0;
    *ticket = NULL;
    now = now_of(t);
    rc = ledger_open(&l, t->path, now, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < l.n; i++) {
        struct try x = l.v[i];
        bool ours = x.id == t->id && slice_eqz(x.key, t->key);

        found |= ours;
        if (ours && succeeded)
            continue;
        if (ours) {
            x.trying = false;
            x.time = now;
        }
        l.v[n++] = x;
    }
    l.n = n;
    if (!found && !succeeded) /* somebody took it out */
        rc = add_try(&l, &(struct try){.time = now, .id = t->id, .key = slice_of(t->key)}, e);
    return rc < 0 ? rc : save(&l, e);
}
