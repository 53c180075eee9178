#include "net/offline.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/fsx.h"
#include "net/offline_parts.h"

#define MAX_FILES 20000u /* of one host */

/* --- paths --- */

struct slice path_base(struct slice path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return slice_from(path, i);
    return path;
}

struct slice path_folder(struct slice path)
{
    struct slice base = path_base(path);

    return slice_cut(path, 0, path.n > base.n ? path.n - base.n - 1 : 0);
}

bool path_ends(struct slice path, struct slice tail)
{
    return path.n >= tail.n && slice_eq(slice_from(path, path.n - tail.n), tail) &&
           (path.n == tail.n || path.p[path.n - tail.n - 1] == '/');
}

/* --- names to words --- */

static const struct {
    const char *ending;
    enum form form;
} endings[] = {
    {".txt", FORM_TEXT}, {".xml", FORM_XML}, {".csv", FORM_CSV}, {".json", FORM_JSON}, {".kv", FORM_KEYVALUE},
    {".keyvalue", FORM_KEYVALUE}, {".out", FORM_TEXT}, {".log", FORM_TEXT}, {".md", FORM_TEXT},
};

static bool formatter_word(struct slice w)
{
    static const char *const words[] = {"formatter", "xml", "csv", "json", "keyvalue", "debug", "format", "text"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_ieq(w, slice_of(words[i])))
            return true;
    return false;
}

void offline_words(struct slice text, struct buf *out)
{
    struct slice word;
    bool leading = true;

    while (slice_next_word(&text, " _-/.=:+,\t", &word)) {
        if (leading && (slice_ieq(word, SLICE_LIT("esxcli")) || slice_ieq(word, SLICE_LIT("localcli"))))
            continue;
        if (leading && formatter_word(word))
            continue;
        leading = false;
        if (out->n)
            buf_addc(out, ' ');
        for (size_t i = 0; i < word.n; i++) {
            char c = word.p[i];

            buf_addc(out, word.n > 1 && c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
        }
    }
}

/* "name (1)": what browsers and file managers call a second copy. */
static struct slice without_copy(struct slice name)
{
    size_t at = name.n;

    if (!slice_ends(name, ")"))
        return name;
    for (at--; at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9'; at--)
        ;
    return at > 0 && at < name.n - 1 && name.p[at - 1] == '(' ? slice_trim(slice_cut(name, 0, at - 1)) : name;
}

/* Endings in any case; several where a program added one more: the innermost tells the form. */
static struct slice without_ending(struct slice name, enum form *form)
{
    size_t before;

    *form = FORM_TEXT;
    do {
        before = name.n;
        name = without_copy(name);
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
            if (slice_iends(name, endings[i].ending)) {
                *form = endings[i].form;
                name = slice_cut(name, 0, name.n - strlen(endings[i].ending));
                break;
            }
    } while (name.n < before);
    return name;
}

static void name_words(struct entry *en, struct slice name, struct buf *out)
{
    struct slice base = path_base(name);
    size_t at = slice_find(base, 0, ".FRAG-");
    uint64_t frag;

    if (at != SIZE_MAX && num_parse_u64(slice_from(base, at + 6), &frag) == 0 && frag < 1000) {
        en->frag = (uint32_t)frag + 1;
        en->stem = slice_cut(name, 0, name.n - base.n + at);
        base = slice_cut(base, 0, at);
    }
    en->gz = slice_iends(base, ".gz");
    if (en->gz)
        base = slice_cut(base, 0, base.n - 3);
    offline_words(without_ending(base, &en->form), out);
}

static bool one_of(struct slice word, const char *const *words)
{
    for (; *words; words++)
        if (slice_eqz(word, *words))
            return true;
    return false;
}

bool offline_answer_name(struct slice name)
{
    static const char *const commands[] = {"esxcfg", "vmkchdev", "lspci", "vmkload", "ethtool", "vsish", "smbiosdump", "redfish", NULL};
    static const char *const spaces[] = {"storage", "system", "network", "software", "hardware", "graphics", "nvme", "iscsi", "vm", "vsan",
                                         "rdma", "fcoe", "sched", "device", NULL};
    static const char *const ends[] = {"list", "get", NULL};
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct slice base = path_base(name), rest, first, word;
    struct entry en = {.name = name};

    if (slice_ieq(slice_cut(base, 0, 6), SLICE_LIT("esxcli")) || slice_ieq(slice_cut(base, 0, 8), SLICE_LIT("localcli")))
        return true;
    name_words(&en, name, &b);
    rest = buf_slice(&b);
    if (slice_find(rest, 0, "secureboot py") != SIZE_MAX)
        return true;
    if (!slice_next_word(&rest, " ", &first))
        return false;
    if (one_of(first, commands))
        return true;
    if (slice_eqz(first, "vim"))
        return slice_starts(rest, " cmd");
    if (slice_eqz(first, "vmware")) /* -v, -vl, -l; not vmware.log, which a virtual machine writes */
        return slice_next_word(&rest, " ", &word) && word.n <= 2 && (word.p[0] == 'v' || word.p[0] == 'l');
    while (one_of(first, spaces) && slice_next_word(&rest, " ", &word))
        if (one_of(word, ends))
            return true;
    return false;
}

bool offline_wanted(struct slice path)
{
    struct slice base = path_base(path), folder = path_folder(path);

    return path_ends(folder, SLICE_LIT("commands")) || path_ends(folder, SLICE_LIT("json")) || slice_ends(base, ".map") ||
           slice_eqz(base, "boot.cfg") || slice_eqz(base, "recording.json") || slice_starts(base, "vmkernel.") ||
           slice_starts(base, "vobd.") || (slice_eqz(base, "messages") && path_ends(folder, SLICE_LIT("var/log"))) ||
           offline_answer_name(path);
}

/* --- which entries answer an ask --- */

/* "vmkernel.log" also as vmkernel.0.gz, vmkernel.1.log: the log and its rotated forms. */
static bool log_name(struct slice wanted, struct slice base, bool *rotated)
{
    struct slice stem = slice_cut(wanted, 0, wanted.n - 4), rest;
    size_t digits = 0;

    *rotated = false;
    if (slice_eq(base, wanted))
        return true;
    if (base.n <= stem.n + 1 || !slice_eq(slice_cut(base, 0, stem.n), stem) || base.p[stem.n] != '.')
        return false;
    rest = slice_from(base, stem.n + 1);
    while (digits < rest.n && rest.p[digits] >= '0' && rest.p[digits] <= '9')
        digits++;
    rest = slice_from(rest, digits);
    *rotated = digits > 0;
    if (slice_ends(rest, ".gz"))
        rest = slice_cut(rest, 0, rest.n - 3);
    else if (slice_eqz(rest, "gz"))
        rest.n = 0;
    return digits > 0 ? rest.n == 0 || slice_eqz(rest, ".log") : slice_eqz(rest, "log") || slice_eqz(rest, "log.gz");
}

static bool file_answers(struct slice name, struct slice wanted)
{
    struct slice base = path_base(name), want_base = path_base(wanted), folder = path_folder(name);
    struct slice want_folder = slice_from(path_folder(wanted), 1); /* without the leading slash */
    size_t at = slice_find(base, 0, ".FRAG-");
    bool rotated;

    if (at != SIZE_MAX)
        base = slice_cut(base, 0, at);
    if (slice_ends(want_base, ".log")) {
        if (!log_name(want_base, base, &rotated))
            return false;
        return folder.n == 0 || path_ends(folder, SLICE_LIT("var/log")) || path_ends(folder, SLICE_LIT("var/run/log")) ||
               path_ends(folder, SLICE_LIT("scratch/log"));
    }
    if (!slice_glob(want_base, base))
        return false;
    /* loose map files, as people attach them: their lines say which kind they are, so one folder stands for all */
    return path_ends(folder, want_folder) ||
           (folder.n == 0 && slice_find_char(want_base, 0, '*') != SIZE_MAX && slice_ends(want_folder, "default.map.d"));
}

static bool entry_answers(const struct entry *en, const struct ask *q, struct slice ask_words)
{
    if (en->stray)
        return false;
    if (q->kind == ASK_REDFISH)
        return en->ask.n ? slice_starts(en->ask, "redfish /redfish/") : slice_starts(en->words, "redfish v1 ");
    if (q->kind == ASK_FILE)
        return en->ask.n ? slice_starts(en->ask, "/") && file_answers(slice_from(en->ask, 1), q->text) : file_answers(en->name, q->text);
    return en->words.n && slice_eq(en->words, ask_words);
}

bool offline_name_answers(const char *file, const struct ask *q)
{
    _cleanup_(buf_done) struct buf fw = BUF_INIT(4096), qw = BUF_INIT(4096);
    struct entry en = {.name = slice_of(file)};

    size_t open_end = slice_find(q->text, 0, "{}");

    name_words(&en, en.name, &fw);
    offline_words(slice_cut(q->text, 0, open_end), &qw);
    if (open_end != SIZE_MAX && q->kind != ASK_FILE)
        return qw.n && fw.n > qw.n && slice_eq(slice_cut(buf_slice(&fw), 0, qw.n), buf_slice(&qw)) && fw.p[qw.n] == ' ';
    en.words = buf_slice(&fw);
    return entry_answers(&en, q, buf_slice(&qw));
}

/* --- answering --- */

static int load(struct entry *en, struct arena *a, struct err *e)
{
    size_t max = slice_find(en->name, 0, "/log/") != SIZE_MAX || slice_find(en->name, 0, ".log") != SIZE_MAX || en->gz
                     ? MAX_LOG : MAX_ANSWER;
    bool cut = false;

    if ((en->path || en->gz) && arena_full(a)) /* no more large files are unpacked for nothing */
        return err_set(e, VF_ELIMIT, SLICE_FMT ": no room left", SLICE_ARG(en->name));
    if (en->path && fsx_read(en->path, max, a, &en->body, &cut, e) < 0)
        return e->code;
    en->path = NULL;
    en->cut |= cut || (en->bytes != UINT64_MAX && en->bytes != en->body.n);
    if (en->gz && slice_starts(en->body, "\x1f\x8b")) {
        if (archive_gunzip(en->body, en->name.p, MAX_LOG, a, &en->body, &cut, e) < 0)
            return e->code;
        en->cut |= cut;
    }
    en->gz = false;
    return 0;
}

static void not_read(struct entry *en, struct reply *r, const char *why)
{
    en->unreadable = true;
    en->note = why;
    *r = (struct reply){.status = REPLY_UNREADABLE, .where = en->name, .note = why, .exit_code = -1};
}

/* The same bytes under another name: a log that was saved twice is one. */
static bool seen_before(struct entry *const *hits, size_t i)
{
    for (size_t k = 0; k < i && hits[i]->body.n; k++)
        if (!hits[k]->path && hits[k]->body.n == hits[i]->body.n && memcmp(hits[k]->body.p, hits[i]->body.p, hits[i]->body.n) == 0)
            return true;
    return false;
}

/* Where a file lay on the host is what a recording asked, whatever its own file is called; so is a resource of the BMC. */
static struct slice host_path(const struct entry *en)
{
    if (slice_starts(en->ask, "redfish /"))
        return slice_from(en->ask, strlen("redfish "));
    return slice_cut(en->ask, 0, slice_starts(en->ask, "/") ? en->ask.n : 0);
}

static int reply_one(struct offline *o, struct entry *en, bool part, reply_fn *fn, void *ctx)
{
    struct err e = {0};
    struct reply r = {.status = REPLY_OK, .where = en->name, .note = en->note, .exit_code = en->exit_code, .part = part};

    en->used = true;
    if (en->failed) {
        r = (struct reply){.status = REPLY_FAILED, .where = en->name, .note = en->note, .exit_code = -1};
    } else if (en->unreadable) {
        not_read(en, &r, en->note);
    } else if (load(en, o->arena, &e) < 0) {
        not_read(en, &r, arena_printf(o->arena, "%s", e.msg));
    } else {
        r.body = en->body;
        r.cut = en->cut;
        if (r.cut && !r.note)
            r.note = en->bytes != UINT64_MAX ? "the file has not the size it was recorded with" : "longer than the limit";
    }
    r.path = host_path(en);
    return fn(ctx, &r);
}

/* Fragments of one file, in order, as one body; a gap cuts it. */
static int reply_fragments(struct offline *o, size_t first, reply_fn *fn, void *ctx, bool *seen)
{
    _cleanup_(buf_done) struct buf all = BUF_INIT(MAX_LOG);
    struct entry *head = &o->v[first];
    struct reply r = {.status = REPLY_OK, .exit_code = -1, .where = head->stem};
    struct err e = {0};

    for (uint32_t want = 1;; want++) {
        size_t i;

        for (i = 0; i < o->n; i++)
            if (o->v[i].frag == want && slice_eq(o->v[i].stem, r.where))
                break;
        if (i == o->n) {
            r.cut = want == 1;
            break;
        }
        o->v[i].used = seen[i] = true;
        if (o->v[i].unreadable || load(&o->v[i], o->arena, &e) < 0) {
            not_read(&o->v[i], &r, o->v[i].unreadable ? o->v[i].note : arena_printf(o->arena, "%s", e.msg));
            return fn(ctx, &r);
        }
        buf_add(&all, o->v[i].body);
        r.cut |= o->v[i].cut;
    }
    for (size_t i = 0; i < o->n; i++) /* a later fragment that was not reached: one is missing between */
        if (o->v[i].frag && !seen[i] && slice_eq(o->v[i].stem, r.where)) {
            o->v[i].used = seen[i] = true;
            r.cut = true;
            r.note = "a fragment of the file is missing";
        }
    r.body = arena_dup(o->arena, buf_slice(&all));
    r.cut |= all.cut;
    return fn(ctx, &r);
}

static int by_form(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;

    if ((*x)->form != (*y)->form)
        return (int)(*x)->form - (int)(*y)->form;
    if (!slice_eq((*x)->name, (*y)->name))
        return slice_cmp((*x)->name, (*y)->name);
    return *x < *y ? -1 : *x > *y; /* twice in one archive */
}

static void free_array(void *p)
{
    free(*(void **)p);
}

static int offline_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    struct offline *o = (struct offline *)c;
    _cleanup_(buf_done) struct buf words = BUF_INIT(4096);
    _cleanup_(free_array) struct entry **hits = xmalloc((o->n + 1) * sizeof *hits);
    _cleanup_(free_array) bool *seen = xmalloc((o->n + 1) * sizeof *seen);
    bool part = q->kind == ASK_FILE || q->kind == ASK_REDFISH;
    size_t n = 0;
    int rc = 0;

    offline_words(q->text, &words);
    for (size_t i = 0; i < o->n; i++)
        if (entry_answers(&o->v[i], q, buf_slice(&words)))
            hits[n++] = &o->v[i];
    if (n > 1)
        qsort(hits, n, sizeof *hits, by_form);
    for (size_t i = 0; i < n && rc == 0; i++) {
        size_t at = (size_t)(hits[i] - o->v);

        if (seen[at])
            continue;
        seen[at] = true;
        if (part && !hits[i]->frag && !hits[i]->failed && !hits[i]->unreadable && load(hits[i], o->arena, e) == 0 && seen_before(hits, i)) {
            hits[i]->used = true;
            continue;
        }
        rc = hits[i]->frag ? reply_fragments(o, at, fn, ctx, seen) : reply_one(o, hits[i], part, fn, ctx);
    }
    if (n == 0) {
        struct reply none = {.status = REPLY_MISSING, .exit_code = -1,
                             .note = o->recording ? "not in the recording" : "no file of that name"};

        rc = fn(ctx, &none);
    }
    return rc < 0 ? rc : 0;
}

static void offline_close(struct channel *c)
{
    struct offline *o = (struct offline *)c;

    if (o->pool && --o->pool->users == 0) {
        arena_free(o->pool->arena);
        free(o->pool);
    }
    arena_free(o->arena);
    free(o);
}

static const struct channel_ops offline_ops = {.name = "offline", .saved = true, .ask = offline_ask, .close = offline_close};

size_t offline_unknown(const struct channel *c, const char **names, size_t max)
{
    const struct offline *o = (const struct offline *)c;
    size_t n = 0;

    if (c->ops != &offline_ops)
        return 0;
    for (size_t i = 0; i < o->n; i++)
        if (!o->v[i].used) {
            if (n < max)
                names[n] = o->v[i].name.p;
            n++;
        }
    return n;
}

/* --- entries --- */

struct offline *offline_new(struct pool *pool)
{
    struct offline *o = xmalloc(sizeof *o);

    *o = (struct offline){.channel.ops = &offline_ops, .arena = arena_new(MAX_KEPT), .pool = pool};
    if (pool)
        pool->users++;
    return o;
}

struct entry *offline_add(struct offline *o, struct slice name, struct err *e)
{
    _cleanup_(buf_done) struct buf words = BUF_INIT(4096);
    struct entry *en;
    void *v = o->v;

    if (arena_grow(o->arena, &v, o->n, &o->cap, sizeof *o->v, MAX_FILES) < 0) {
        (void)err_set(e, VF_ELIMIT, "more than %u files; the rest is not read", MAX_FILES);
        return NULL;
    }
    o->v = v;
    en = &o->v[o->n++];
    *en = (struct entry){.name = arena_dup(o->arena, name), .bytes = UINT64_MAX, .exit_code = -1};
    name_words(en, en->name, &words);
    en->words = arena_dup(o->arena, buf_slice(&words));
    return en;
}
