#include "decode/vmklog.h"

#include <assert.h>

#include "base/buf.h"
#include "base/map.h"
#include "decode/plain.h"

#define MAX_GROUPS  20000u /* distinct kind, subject and hour of one log */
#define MAX_SUBJECT 256u   /* longest device id seen: 73 */
#define MAX_LISTED  32u    /* distinct statuses, senses or operation codes kept of one group */
#define MAX_SAMPLE  300u   /* bytes */

/*
 * Most lines of a log report nothing of interest, and logs are large: one pass of an automaton over the bytes finds the
 * rare texts of all patterns at once (Aho and Corasick, 1975), whatever the case. Only a line that holds one is read.
 */
enum { MAX_CLASSES = 64, MAX_STATES = 2048, STOP = 0x8000 };

struct scanner {
    uint8_t class[256];
    uint16_t next[MAX_STATES][MAX_CLASSES]; /* STOP is set where a text or a line ends */
    uint64_t found[MAX_STATES];             /* texts that end in this state */
    uint16_t fail[MAX_STATES], queue[MAX_STATES];
    unsigned states, classes;
    const char *texts[64]; /* each once, whatever the number of patterns that look for it */
    unsigned ntexts;
};

struct list {
    struct slice *v;
    size_t n, cap;
};

struct group {
    const char *kind;
    struct slice subject, first, last, sample; /* times and sample as they stand in the log */
    struct slice device, adapter, nic, driver, volume;
    bool adapters, nics, drivers; /* lines disagree: none is named */
    uint64_t count, worst, baseline;
    bool latency;
    struct list host_status, device_status, sense, command;
    uint32_t line;
};

struct log {
    struct arena *a;
    struct slice in;
    struct scanner *scan;
    struct map index;
    struct group *group;
    size_t n, cap;
    bool full, failed, mixed; /* mixed: lines may stand twice */
    uint32_t full_line, spoilt_line; /* first line of an event whose name is damaged */
};

static uint8_t fold(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

static void scanner_add(struct scanner *s, const char *text)
{
    unsigned at = 0;

    for (unsigned i = 0; i < s->ntexts; i++)
        if (strcmp(s->texts[i], text) == 0)
            return;
    assert(s->ntexts < sizeof s->texts / sizeof *s->texts);
    s->texts[s->ntexts] = text;
    for (; *text; text++) {
        uint8_t c = fold((uint8_t)*text);

        if (!s->class[c])
            s->class[c] = (uint8_t)s->classes++;
        if (!s->next[at][s->class[c]])
            s->next[at][s->class[c]] = (uint16_t)s->states++;
        assert(s->classes < MAX_CLASSES && s->states < MAX_STATES);
        at = s->next[at][s->class[c]];
    }
    s->found[at] |= 1ull << s->ntexts++;
}

static void scanner_link(struct scanner *s)
{
    unsigned head = 0, tail = 0;

    for (unsigned c = 0; c < s->classes; c++)
        if (s->next[0][c])
            s->queue[tail++] = s->next[0][c];
    while (head < tail) {
        unsigned at = s->queue[head++];

        s->found[at] |= s->found[s->fail[at]];
        for (unsigned c = 0; c < s->classes; c++) {
            uint16_t to = s->next[at][c];

            if (!to) {
                s->next[at][c] = s->next[s->fail[at]][c];
            } else {
                s->fail[to] = s->next[s->fail[at]][c];
                s->queue[tail++] = to;
            }
        }
    }
}

static struct scanner *scanner_new(struct arena *a)
{
    struct scanner *s = arena_alloc(a, sizeof *s);

    if (!s)
        return NULL;
    s->states = 1;
    s->classes = 2; /* 0: no character of any text, 1: line end */
    s->class['\n'] = 1;
    for (const struct log_pattern *p = log_patterns; p->kind; p++)
        scanner_add(s, p->find);
    scanner_link(s);
    for (unsigned at = 0; at < s->states; at++) {
        for (unsigned c = 0; c < s->classes; c++)
            if (s->found[s->next[at][c]])
                s->next[at][c] |= STOP;
        s->next[at][1] = STOP;
    }
    for (unsigned c = 'A'; c <= 'Z'; c++)
        s->class[c] = s->class[fold((uint8_t)c)];
    return s;
}

static void list_add(struct log *g, struct list *l, struct slice text)
{
    void *v = l->v;

    if (!text.n || l->n == MAX_LISTED)
        return;
    for (size_t i = 0; i < l->n; i++)
        if (slice_eq(l->v[i], text))
            return;
    if (arena_grow(g->a, &v, l->n, &l->cap, sizeof *l->v, MAX_LISTED) < 0) {
        g->failed = true;
        return;
    }
    l->v = v;
    l->v[l->n++] = text;
}

static void agree(struct slice *have, bool *differ, struct slice text)
{
    if (!have->n)
        *have = text;
    else if (text.n && !slice_eq(*have, text))
        *differ = true;
}

/* Hour of a time as printed: "2017-02-25T17", or "08-16T20" of 4.x, which prints no year. */
static size_t hour_of(struct slice time, char *out, size_t size)
{
    unsigned month = log_month(time);
    int n;

    if (month)
        n = snprintf(out, size, "%02u-%c%cT%.2s", month, time.p[4] == ' ' ? '0' : time.p[4], time.p[5], time.p + 7);
    else
        n = snprintf(out, size, "%.13s", time.p);
    return (size_t)n;
}

static struct group *find_group(struct log *g, const struct log_event *e, struct slice time, uint32_t line)
{
    char key[MAX_SUBJECT + 64];
    size_t n = (size_t)snprintf(key, sizeof key, "%s\n", e->pattern->kind);
    struct slice text;
    uint32_t at;
    void *v = g->group;

    if (e->subject.n > MAX_SUBJECT)
        return NULL;
    n += hour_of(time, key + n, sizeof key - n);
    key[n++] = '\n';
    memcpy(key + n, e->subject.p, e->subject.n);
    text = (struct slice){key, n + e->subject.n};
    at = map_get(&g->index, text);
    if (at != MAP_NONE)
        return &g->group[at];
    if (g->n == MAX_GROUPS) {
        if (!g->full)
            g->full_line = line;
        g->full = true;
        return NULL;
    }
    text = arena_dup(g->a, text);
    if (!text.p || arena_grow(g->a, &v, g->n, &g->cap, sizeof *g->group, MAX_GROUPS) < 0) {
        g->failed = true;
        return NULL;
    }
    g->group = v;
    if (map_put(&g->index, g->a, text, (uint32_t)g->n) < 0) { /* after the group has its place: what is in the map can be looked at */
        g->failed = true;
        return NULL;
    }
    g->group[g->n] = (struct group){.kind = e->pattern->kind, .subject = e->subject, .line = line};
    return &g->group[g->n++];
}

/* The order of lines says nothing (a log may be put together from parts): times are compared, then texts. */
static bool earlier(struct slice time, struct slice line, const struct group *g)
{
    int rc = slice_cmp(time, g->first);

    return rc < 0 || (rc == 0 && slice_cmp(line, g->sample) < 0);
}

static void add_event(struct log *g, const struct log_event *e, struct slice time, struct slice line, uint32_t number)
{
    struct group *t = find_group(g, e, time, number);
    bool first = t && t->count == 0;

    if (!t)
        return;
    if (first || earlier(time, line, t)) {
        t->first = time;
        t->sample = line;
    }
    if (first || slice_cmp(time, t->last) > 0)
        t->last = time;
    t->count += e->count;
    t->device = e->device;
    t->volume = e->volume;
    agree(&t->adapter, &t->adapters, e->adapter);
    agree(&t->nic, &t->nics, e->nic);
    agree(&t->driver, &t->drivers, e->driver);
    if (e->latency && (!t->latency || e->worst > t->worst || (e->worst == t->worst && e->baseline < t->baseline))) {
        t->latency = true;
        t->worst = e->worst;
        t->baseline = e->baseline;
    }
    list_add(g, &t->host_status, e->host_status);
    list_add(g, &t->device_status, e->device_status);
    list_add(g, &t->sense, e->sense);
    list_add(g, &t->command, e->command);
}

/* Neither a control character nor a letter beyond ASCII. */
static bool is_plain(char c)
{
    return (c >= 0x20 && c < 0x7f) || c == '\t';
}

/* A name that ends where something begins that stands in no name, perhaps half a name; or one with bytes that are no text. */
static bool is_torn(struct slice line, struct slice name)
{
    const char *end = line.p + line.n;
    struct slice rest = name;
    uint32_t cp;
    size_t n;

    if (name.n == 0 || name.p < line.p || name.p >= end)
        return false;
    for (; rest.n; rest = slice_from(rest, n)) {
        n = slice_utf8(rest, &cp);
        if (n == 0 || cp < 0x20 || cp == 0x7f)
            return true;
    }
    return (name.p > line.p && !is_plain(name.p[-1])) || (name.p + name.n < end && !is_plain(name.p[name.n]));
}

static bool is_spoilt(struct slice line, const struct log_event *e)
{
    return is_torn(line, e->subject) || is_torn(line, e->device) || is_torn(line, e->adapter) || is_torn(line, e->nic) ||
           is_torn(line, e->driver) || is_torn(line, e->volume);
}

/* Heads of one second, processor and world: "2023-05-01T08:00:00.100Z cpu10:2098001)". */
static bool same_writer(struct slice a, struct slice b)
{
    size_t x = slice_find(a, 0, " cpu"), y = slice_find(b, 0, " cpu");

    return x != SIZE_MAX && y != SIZE_MAX && slice_eq(slice_from(a, x), slice_from(b, y)) && slice_eq(slice_cut(a, 0, 19), slice_cut(b, 0, 19));
}

/* The line before, when it is an unfinished message of HPP's that this one ends: both messages as one; else this one's. */
static struct slice with_line_before(struct log *g, struct slice line, struct slice message)
{
    size_t end = (size_t)(line.p - g->in.p), start;
    const char *eol = end > 1 ? memrchr(g->in.p, '\n', end - 1) : NULL;
    struct slice time, before;

    start = eol ? (size_t)(eol + 1 - g->in.p) : 0;
    if (end == 0 || !log_head(slice_cut(g->in, start, end - 1 - start), &time, &before) ||
        !same_writer(slice_cut(g->in, start, (size_t)(before.p - g->in.p) - start), slice_cut(line, 0, (size_t)(message.p - line.p))) ||
        slice_find(before, 0, "HppScsiThrottleLogForDevice") == SIZE_MAX || !slice_ends(slice_trim(before), "Failed:"))
        return message;
    return slice_of(arena_printf(g->a, SLICE_FMT " " SLICE_FMT, SLICE_ARG(slice_trim(before)), SLICE_ARG(message)));
}

static bool looks_for(const struct scanner *s, const struct log_pattern *p, uint64_t found)
{
    for (; found; found &= found - 1)
        if (strcmp(p->find, s->texts[__builtin_ctzll(found)]) == 0)
            return true;
    return false;
}

/* A line that holds texts of patterns. True when it is an event: one line is one event at most. */
static bool read_line(struct log *g, struct slice line, uint64_t found, uint32_t number)
{
    struct slice time, message;
    struct log_event e;

    if (line.n > DECODE_MAX_LINE || !log_head(line, &time, &message))
        return false;
    for (const struct log_pattern *p = log_patterns; p->kind; p++) {
        bool pair = p->numbers == LOG_SCSI_PAIR;
        struct slice text = message;

        if (!looks_for(g->scan, p, found))
            continue;
        if (pair)
            text = with_line_before(g, line, message);
        if (!log_match(p, text, &e))
            continue;
        if (!is_spoilt(pair ? text : line, &e))
            add_event(g, &e, time, line, number);
        else if (!g->spoilt_line)
            g->spoilt_line = number;
        return true;
    }
    return false;
}

static void scan_lines(struct log *g, struct slice in)
{
    const struct scanner *s = g->scan;
    const uint8_t *start = (const uint8_t *)in.p, *end = start + in.n, *p = start, *eol;
    uint64_t tried = 0, found;
    uint32_t number = 1;
    unsigned at = 0;

    g->in = in;
    while (p < end) {
        at = s->next[at][s->class[*p++]];
        if (__builtin_expect(!(at & STOP), 1))
            continue;
        at &= ~(unsigned)STOP;
        if (p[-1] == '\n') {
            start = p;
            tried = 0;
            number++;
            continue;
        }
        found = s->found[at] & ~tried;
        eol = found ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        if (eol) {
            struct slice line = {(const char *)start, (size_t)(eol - start)};

            tried |= found; /* a text that comes a thousand times on one line is tried once */
            line.n -= line.n && line.p[line.n - 1] == '\r';
            if (read_line(g, line, found, number)) {
                p = eol;
                at = 0;
            }
        }
    }
}

static void put(struct builder *b, const char *key, struct slice text, uint32_t line)
{
    if (text.n)
        (void)builder_field(b, slice_of(key), text, line);
}

static void put_number(struct builder *b, const char *key, uint64_t v, uint32_t line)
{
    put(b, key, slice_of(arena_printf(b->a, "%llu", (unsigned long long)v)), line);
}

static void put_list(struct builder *b, const char *key, const struct list *l, uint32_t line)
{
    for (size_t i = 0; i < l->n; i++) {
        struct field *f = builder_field(b, slice_of(key), l->v[i], line);

        if (f)
            f->listed = true;
    }
}

/* What the lines of a group name, when they agree; else it is there, but not to be believed. */
static void put_agreed(struct builder *b, const char *key, struct slice text, bool differ, uint32_t line)
{
    struct field *f = differ ? builder_field(b, slice_of(key), SLICE_LIT(""), line) : NULL;

    if (f)
        f->damage = "its lines name several";
    if (!differ)
        put(b, key, text, line);
}

static void put_time(struct builder *b, const char *key, struct slice time, uint32_t line)
{
    char hour[32];

    (void)hour_of(time, hour, sizeof hour);
    if (log_month(time))
        time = slice_of(arena_printf(b->a, "%s" SLICE_FMT, hour, SLICE_ARG(slice_from(time, 9))));
    put(b, key, time, line);
}

/* "0x5 0x24 0x0" to "0x5/0x24/0x0". */
static void slash_sense(struct builder *b, struct list *sense)
{
    for (size_t i = 0; i < sense->n; i++) {
        struct slice rest = sense->v[i], k, asc, ascq;

        (void)slice_next_word(&rest, " ", &k);
        (void)slice_next_word(&rest, " ", &asc);
        (void)slice_next_word(&rest, " ", &ascq);
        sense->v[i] = slice_of(
            arena_printf(b->a, SLICE_FMT "/" SLICE_FMT "/" SLICE_FMT, SLICE_ARG(k), SLICE_ARG(asc), SLICE_ARG(ascq)));
    }
}

static void put_sample(struct builder *b, struct slice line, uint32_t number)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(8 * MAX_SAMPLE);
    struct slice text;

    buf_add_safe(&safe, slice_cut(line, 0, MAX_SAMPLE));
    text = buf_slice(&safe);
    if (text.n > MAX_SAMPLE) {
        text.n = MAX_SAMPLE;
        while (text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80)
            text.n--;
    }
    put(b, "sample", arena_dup(b->a, text), number);
}

static const char twice[] = "the first lines stand there again: a log was copied twice";

static void emit(struct builder *b, struct group *g, bool mixed)
{
    char hour[32];
    struct slice text = {hour, hour_of(g->first, hour, sizeof hour)};

    builder_begin(b, SLICE_LIT(""), g->line);
    put(b, "kind", slice_of(g->kind), g->line);
    put(b, "subject", g->subject, g->line);
    put(b, "hour", arena_dup(b->a, text), g->line);
    put_number(b, "count", g->count, g->line);
    if (mixed && b->nfields)
        b->fields[b->nfields - 1].damage = twice;
    put_time(b, "first", g->first, g->line);
    put_time(b, "last", g->last, g->line);
    put(b, "device", g->device, g->line);
    put_agreed(b, "adapter", g->adapter, g->adapters, g->line);
    put_agreed(b, "nic", g->nic, g->nics, g->line);
    put_agreed(b, "driver", g->driver, g->drivers, g->line);
    put(b, "volume", g->volume, g->line);
    if (g->latency) {
        put_number(b, "worst", g->worst, g->line);
        put_number(b, "baseline", g->baseline, g->line);
    }
    slash_sense(b, &g->sense);
    put_list(b, "host-status", &g->host_status, g->line);
    put_list(b, "device-status", &g->device_status, g->line);
    put_list(b, "sense", &g->sense, g->line);
    put_list(b, "commands", &g->command, g->line);
    put_sample(b, g->sample, g->line);
    builder_finish(b);
}

/* What the lines look like, all of them, not only those that report something. */
struct look {
    bool head;              /* a line has a head */
    uint32_t headless, odd; /* first line, but the first of all, that begins like none; first with a copy's marks */
};

static bool is_odd_line(struct slice line)
{
    static const char *const quotes[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d"}; /* typographic */

    if (decode_find_odd(line) != SIZE_MAX)
        return true;
    if (!memchr(line.p, '\xe2', line.n))
        return false;
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (slice_find(line, 0, quotes[i]) != SIZE_MAX)
            return true;
    return false;
}

/* Not "..." or "```". */
static bool has_word(struct slice line)
{
    for (size_t i = 0; i < line.n; i++)
        if ((line.p[i] >= '0' && line.p[i] <= '9') || ((line.p[i] | 0x20) >= 'a' && (line.p[i] | 0x20) <= 'z'))
            return true;
    return false;
}

/*
 * A message of several lines goes on here: bytes of an inquiry ("0x4d 0x61 0x6c 0x6c", when a disk is registered), a line of an old
 * driver with its level before it ("<6> command: ..."), or the page table entries of a purple screen ("PTEs:0x0;"). Where a window wraps a
 * line, it wraps otherwise.
 */
static bool goes_on(struct slice line)
{
    struct slice word;
    unsigned n = 0;

    if (line.n > 4 && line.p[0] == '<' && line.p[1] >= '0' && line.p[1] <= '9' && line.p[2] == '>' && line.p[3] == ' ')
        return true;
    if (slice_starts(line, "PTEs:0x"))
        return true;
    for (; slice_next_word(&line, " \r", &word); n++) {
        uint64_t v;

        if (word.n != 4 || !slice_starts(word, "0x") || num_parse_hex(slice_from(word, 2), 2, &v) < 0)
            return false;
    }
    return n >= 4;
}

static void look_at(struct slice in, struct look *k)
{
    struct slice line, time, message;
    uint32_t number = 0;

    *k = (struct look){0};
    while (slice_next_line(&in, &line, NULL)) {
        bool begins = log_begins(line);

        number++;
        k->head |= begins && !k->head && log_head(line, &time, &message);
        if (!begins && (number > 1 || !has_word(line)) && !k->headless && !plain_blank(line) && !goes_on(line))
            k->headless = number;
        if (!k->odd && line.n && is_odd_line(line))
            k->odd = number;
    }
}

/* Where the first two lines stand again after a later time; in.n when they do not. */
static size_t find_again(struct slice in)
{
    struct slice rest = in, line = {NULL, 0}, first, before, start, time, message, lead;
    bool fine;

    if (!slice_next_line(&rest, &first, NULL) || !log_head(first, &start, &message))
        return in.n;
    (void)slice_next_line(&rest, &line, NULL);
    before = line;
    fine = slice_find_char(start, 0, '.') != SIZE_MAX && !slice_eq(line, first); /* to the millisecond: no two lines come again by chance */
    lead = slice_cut(in, 0, (size_t)(rest.p - in.p));
    while (rest.n) {
        if (slice_eq(slice_cut(rest, 0, lead.n), lead) &&
            (fine || (log_head(before, &time, &message) && slice_cmp(time, start) > 0)))
            return in.n - rest.n;
        (void)slice_next_line(&rest, &line, NULL);
        if (line.n)
            before = line;
    }
    return in.n;
}

/*
 * A log that was pasted twice. When one copy holds all of the other, the longer one is the log; else *mixed is set, for a line may be
 * counted twice. Returns what to read; all of it when nothing stands twice.
 */
static struct slice one_copy(struct slice in, bool *mixed)
{
    size_t at = find_again(in), len = at, same = 0;
    struct slice again = slice_from(in, at);

    *mixed = false;
    if (at == in.n)
        return in;
    while (len > 1 && in.p[len - 1] == '\n' && in.p[len - 2] == '\n')
        len--;
    while (same < len && same < again.n && in.p[same] == again.p[same])
        same++;
    if (same == again.n)
        return slice_cut(in, 0, at);
    *mixed = same < len;
    return *mixed ? in : again;
}

int decode_vmklog(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    const char *last = in.n ? memrchr(in.p, '\n', in.n) : NULL, *why = NULL;
    uint32_t at = 0;
    struct slice whole = {in.p, last ? (size_t)(last + 1 - in.p) : 0};
    struct log g = {.a = a, .scan = NULL};
    struct slice copy;
    struct builder b;
    struct look look;

    if (plain_empty(in))
        return decode_nothing(DECODE_UNUSABLE, "log", "empty answer", 0, out);
    look_at(whole, &look);
    if (!look.head)
        return decode_nothing(DECODE_UNUSABLE, "log", "no line has the head of a VMkernel log", 0, out);
    builder_init(&b, a);
    g.scan = scanner_new(a);
    copy = one_copy(whole, &g.mixed);
    if (g.scan)
        scan_lines(&g, copy);
    b.failed = !g.scan || g.failed;
    for (size_t i = 0; i < g.n && !b.failed; i++)
        emit(&b, &g.group[i], g.mixed);
    if (g.full)
        why = "more different events than the limit of 20,000", at = g.full_line;
    else if (g.spoilt_line)
        why = "events whose device or driver has bytes in its name that are no text: they are left out", at = g.spoilt_line;
    else if (g.mixed || copy.n < whole.n)
        why = twice;
    else if (look.headless)
        why = "a line that begins without a time: lines were wrapped, or left out", at = look.headless;
    else if (look.odd)
        why = "characters in it that no host writes: it was copied from a screen or a page", at = look.odd;
    else if (decode_lines_cut(whole))
        why = "lines end where a window or a page ends: they may be cut there";
    else if (whole.n < in.n)
        why = "the last line has no line end: it is left out";
    b.failed |= arena_full(a);
    builder_finish(&b);
    if (why && b.n == 0 && !b.failed) { /* no event in what was read is an answer */
        *out = (struct decoded){.state = DECODE_PARTIAL, .form = "log", .why = why, .line = at};
        return 0;
    }
    return builder_end(&b, o, "log", why ? DECODE_PARTIAL : DECODE_COMPLETE, why, at, out);
}

/* Lines may stand in any order: a log may be put together from parts. */
int decode_logspan(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct slice line, time, message, first = {NULL, 0}, last = {NULL, 0};
    struct builder b;
    bool ended;

    if (plain_empty(in))
        return decode_nothing(DECODE_UNUSABLE, "log", "empty answer", 0, out);
    while (slice_next_line(&in, &line, &ended)) {
        if (!ended || !log_head(line, &time, &message))
            continue;
        if (!first.n || slice_cmp(time, first) < 0)
            first = time;
        if (!last.n || slice_cmp(time, last) > 0)
            last = time;
    }
    if (!first.n)
        return decode_nothing(DECODE_UNUSABLE, "log", "no line has the head of a VMkernel log", 0, out);
    builder_init(&b, a);
    builder_begin(&b, SLICE_LIT(""), 1);
    put_time(&b, "first", first, 1);
    put_time(&b, "last", last, 1);
    builder_finish(&b);
    return builder_end(&b, o, "log", DECODE_COMPLETE, NULL, 0, out);
}
