#include "net/offline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/archive.h"
#include "base/buf.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/map.h"

#define MAX_ANSWER   (8u << 20)   /* output of one command; the largest seen is 1.1 MB (vib list of a large image) */
#define MAX_LOG      (64u << 20)  /* a log; ESXi rotates vmkernel.log at 8 MB by default */
#define MAX_ARENA    (512u << 20) /* all that is kept of one target */
#define MAX_FILES    20000u
#define MAX_INNER    (1u << 30)   /* a bundle inside a vCenter's zip */
#define MAX_TARGETS  256u

/* How well a file serves when several answer one ask: structured forms first. */
enum form { FORM_XML, FORM_JSON, FORM_CSV, FORM_KEYVALUE, FORM_TEXT };

struct entry {
    struct slice name;   /* relative to the target */
    struct slice words;  /* command words of the name */
    const char *path;    /* on disk; NULL when body is loaded */
    struct slice body;
    struct slice ask;    /* of recording.json; empty otherwise */
    const char *note;
    uint64_t bytes;      /* expected size, UINT64_MAX when not known */
    uint32_t frag;       /* number of the fragment + 1, 0 for a whole file */
    struct slice stem;   /* of a fragment: the name of the whole */
    int exit_code;
    enum form form;
    bool cut, used, gz, failed;
};

struct offline {
    struct channel channel;
    struct arena *arena;
    struct entry *v;
    size_t n, cap, kept;
    bool recording;
};

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

/* Words of a command or of a file name without its ending, in *out, parted by blanks. */
static void words_of(struct slice text, struct buf *out)
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

static struct slice base_name(struct slice path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return slice_from(path, i);
    return path;
}

static struct slice without_ending(struct slice name, enum form *form)
{
    *form = FORM_TEXT;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (slice_ends(name, endings[i].ending)) {
            *form = endings[i].form;
            return slice_cut(name, 0, name.n - strlen(endings[i].ending));
        }
    return name;
}

static void name_words(struct entry *en, struct slice name, struct buf *out)
{
    struct slice base = base_name(name);
    size_t at = slice_find(base, 0, ".FRAG-");
    uint64_t frag;

    if (at != SIZE_MAX && num_parse_u64(slice_from(base, at + 6), &frag) == 0 && frag < 1000) {
        en->frag = (uint32_t)frag + 1;
        en->stem = slice_cut(name, 0, name.n - base.n + at);
        base = slice_cut(base, 0, at);
    }
    en->gz = slice_ends(base, ".gz");
    if (en->gz)
        base = slice_cut(base, 0, base.n - 3);
    words_of(without_ending(base, &en->form), out);
}

/* --- which entries answer an ask --- */

static struct slice folder_of(struct slice path)
{
    struct slice base = base_name(path);

    return slice_cut(path, 0, path.n > base.n ? path.n - base.n - 1 : 0);
}

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

static bool path_ends(struct slice path, struct slice tail)
{
    return path.n >= tail.n && slice_eq(slice_from(path, path.n - tail.n), tail) &&
           (path.n == tail.n || path.p[path.n - tail.n - 1] == '/');
}

static bool file_answers(struct slice name, struct slice wanted)
{
    struct slice base = base_name(name), want_base = base_name(wanted), folder = folder_of(name);
    struct slice want_folder = slice_from(folder_of(wanted), 1); /* without the leading slash */
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
    if (q->kind == ASK_FILE)
        return file_answers(slice_starts(en->ask, "/") ? slice_from(en->ask, 1) : en->name, q->text);
    return en->words.n && slice_eq(en->words, ask_words);
}

bool offline_name_answers(const char *file, const struct ask *q)
{
    _cleanup_(buf_done) struct buf fw = BUF_INIT(4096), qw = BUF_INIT(4096);
    struct entry en = {.name = slice_of(file)};

    name_words(&en, en.name, &fw);
    words_of(q->text, &qw);
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

static void explain_failure(struct entry *en, struct reply *r, const char *why)
{
    en->failed = true;
    *r = (struct reply){.status = REPLY_FAILED, .where = en->name, .note = why, .exit_code = -1};
}

static int reply_one(struct offline *o, struct entry *en, bool part, reply_fn *fn, void *ctx)
{
    struct err e = {0};
    struct reply r = {.status = REPLY_OK, .where = en->name, .note = en->note, .exit_code = en->exit_code, .part = part};

    en->used = true;
    if (en->failed) {
        explain_failure(en, &r, en->note);
    } else if (load(en, o->arena, &e) < 0) {
        explain_failure(en, &r, arena_printf(o->arena, "%s", e.msg));
    } else {
        r.body = en->body;
        r.cut = en->cut;
        if (r.cut && !r.note)
            r.note = en->bytes != UINT64_MAX ? "the file has not the size it was recorded with" : "longer than the limit";
    }
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
        if (load(&o->v[i], o->arena, &e) < 0) {
            explain_failure(&o->v[i], &r, arena_printf(o->arena, "%s", e.msg));
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
    return slice_cmp((*x)->name, (*y)->name);
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
    bool part = q->kind == ASK_FILE;
    size_t n = 0;
    int rc = 0;

    (void)e;
    words_of(q->text, &words);
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

    arena_free(o->arena);
    free(o);
}

static const struct channel_ops offline_ops = {"offline", offline_ask, offline_close};

size_t offline_unknown(const struct channel *c, const char **names, size_t max)
{
    const struct offline *o = (const struct offline *)c;
    size_t n = 0;

    for (size_t i = 0; i < o->n; i++)
        if (!o->v[i].used) {
            if (n < max)
                names[n] = o->v[i].name.p;
            n++;
        }
    return n;
}

/* --- opening --- */

static struct offline *offline_new(void)
{
    struct offline *o = xmalloc(sizeof *o);

    o->channel.ops = &offline_ops;
    o->arena = arena_new(MAX_ARENA);
    return o;
}

static struct entry *add_entry(struct offline *o, struct slice name, struct err *e)
{
    _cleanup_(buf_done) struct buf words = BUF_INIT(4096);
    struct entry *en;
    void *v = o->v;

    if (arena_grow(o->arena, &v, o->n, &o->cap, sizeof *o->v, MAX_FILES) < 0) {
        (void)err_set(e, VF_ELIMIT, "more than %u files", MAX_FILES);
        return NULL;
    }
    o->v = v;
    en = &o->v[o->n++];
    *en = (struct entry){.name = arena_dup(o->arena, name), .bytes = UINT64_MAX, .exit_code = -1};
    name_words(en, en->name, &words);
    en->words = arena_dup(o->arena, buf_slice(&words));
    return en;
}

static int add_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct offline *o = ctx;
    struct entry *en = add_entry(o, slice_of(rel), e);

    if (!en)
        return e->code;
    en->path = arena_dup(o->arena, slice_of(path)).p;
    return 0;
}

struct reading {
    struct offline *o;
    const char *folder;
};

static int add_answer(struct reading *rd, const struct js *v, const char *name, struct err *e)
{
    struct slice ask = js_as_text(js_get(v, "ask")), file = js_as_text(js_get(v, "file"));
    struct slice status = js_as_text(js_get(v, "status")), note = js_as_text(js_get(v, "note"));
    const struct js *bytes = js_get(v, "bytes");
    _cleanup_(buf_done) struct buf words = BUF_INIT(4096);
    struct entry *en = NULL;

    for (size_t i = 0; i < rd->o->n && file.n; i++)
        if (slice_eq(rd->o->v[i].name, file))
            en = &rd->o->v[i];
    if (!ask.n || !status.n)
        return err_set(e, VF_EFORMAT, "%s: an answer needs \"ask\" and \"status\"", name);
    if (file.n && !en)
        return err_set(e, VF_EFORMAT, "%s: the answer to \"" SLICE_FMT "\" names a file that is not there: " SLICE_FMT, name,
                       SLICE_ARG(ask), SLICE_ARG(file));
    if (!en)
        en = add_entry(rd->o, ask, e);
    if (!en)
        return e->code;
    if (ask.p[0] != '/') {
        words_of(ask, &words);
        en->words = arena_dup(rd->o->arena, buf_slice(&words));
    } else if (!file.n) {
        en->name = arena_dup(rd->o->arena, slice_from(ask, 1));
    }
    en->ask = arena_dup(rd->o->arena, ask);
    if (bytes && js_kind(bytes) == JS_INT && js_as_int(bytes) >= 0)
        en->bytes = (uint64_t)js_as_int(bytes);
    if (js_get(v, "exit"))
        en->exit_code = (int)js_as_int(js_get(v, "exit"));
    en->failed = !slice_eqz(status, "ok") && !file.n;
    en->cut = !slice_eqz(status, "ok");
    if (!slice_eqz(status, "ok"))
        en->note = arena_printf(rd->o->arena, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(status), note.n ? ": " : "", SLICE_ARG(note));
    return 0;
}

static void js_done(struct js **v)
{
    js_free(v);
}

static int read_manifest(struct reading *rd, const char *path, struct err *e)
{
    struct slice text;
    _cleanup_(js_done) struct js *doc = NULL;
    const struct js *answers;

    if (fsx_read(path, MAX_ANSWER, rd->o->arena, &text, NULL, e) < 0)
        return e->code;
    doc = js_parse(text, path, e);
    if (!doc)
        return e->code;
    answers = js_kind(doc) == JS_OBJECT ? js_get(doc, "answers") : NULL;
    if (!answers || js_kind(answers) != JS_ARRAY || js_as_int(js_get(doc, "format")) != 1)
        return err_set(e, VF_EFORMAT, "%s: not a recording of format 1", path);
    for (size_t i = 0; i < js_count(answers); i++)
        if (add_answer(rd, js_at(answers, i), path, e) < 0)
            return e->code;
    rd->o->recording = true;
    return 0;
}

static int open_folder(const char *path, struct arena *a, struct offline_target *t, struct err *e)
{
    struct offline *o = offline_new();
    struct reading rd = {o, path};
    const char *manifest = arena_printf(a, "%s/recording.json", path), *inner = arena_printf(a, "%s/recording", path);
    int rc = 0;

    t->channel = &o->channel;
    t->kind = "folder";
    if (fsx_kind(manifest) != FSX_FILE && fsx_kind(inner) == FSX_FOLDER) { /* a fixture: the recording lies one level below */
        path = inner;
        manifest = arena_printf(a, "%s/recording.json", path);
    }
    rc = fsx_walk(path, add_file, o, e);
    if (rc == 0 && fsx_kind(manifest) == FSX_FILE) {
        rc = read_manifest(&rd, manifest, e);
        t->kind = "recording";
    }
    for (size_t i = 0; i < o->n; i++) {
        if (slice_find(o->v[i].name, 0, "commands/localcli_") != SIZE_MAX)
            t->kind = "support bundle";
        if (slice_eqz(o->v[i].name, "recording.json"))
            o->v[i].used = true;
    }
    t->files = o->n;
    if (rc == 0 && o->n == 0)
        rc = err_set(e, VF_ENOTFOUND, "%s: the folder is empty", path);
    if (rc < 0)
        channel_close(&t->channel);
    return rc;
}

/* Files of a bundle worth keeping: outputs of commands, maps, boot configuration, logs we read. */
static bool interesting(struct slice path)
{
    struct slice base = base_name(path), folder = folder_of(path);

    return path_ends(folder, SLICE_LIT("commands")) || path_ends(folder, SLICE_LIT("json")) || slice_ends(base, ".map") ||
           slice_eqz(base, "boot.cfg") || slice_eqz(base, "recording.json") || slice_starts(base, "vmkernel.") ||
           slice_starts(base, "vobd.") || slice_starts(base, "esxcli") || slice_starts(base, "localcli") || folder.n == 0;
}

static bool archive_name(struct slice base)
{
    return slice_ends(base, ".tgz") || slice_ends(base, ".tar.gz") || slice_ends(base, ".zip") || slice_ends(base, ".tar");
}

struct unpacking {
    struct offline *o;
    struct arena *a;
    struct offline_target *targets;
    size_t n;
    struct archive_budget *budget;
    const char *full; /* NULL, or why the walk was stopped */
    bool inner;
};

static enum archive_want want(void *ctx, const char *path)
{
    struct unpacking *u = ctx;

    if (!u->inner && archive_name(base_name(slice_of(path))))
        return ARCHIVE_INNER;
    return interesting(slice_of(path)) ? ARCHIVE_KEEP : ARCHIVE_SKIP;
}

static int open_archive(const char *path, struct slice bytes, bool inner, struct unpacking *u, struct err *e);

static int keep(void *ctx, const char *path, struct slice body, bool cut, struct err *e)
{
    struct unpacking *u = ctx;
    struct entry *en;

    if (!u->inner && archive_name(base_name(slice_of(path))) && archive_is(body)) {
        struct err inner = {0};

        if (u->n == MAX_TARGETS) {
            u->full = "more than 256 bundles; the rest is not read";
            return 1;
        }
        if (open_archive(path, body, true, u, &inner) < 0)
            u->targets[u->n++] = (struct offline_target){.label = arena_printf(u->a, "%s", path), .kind = "support bundle",
                                                         .cut = arena_printf(u->a, "%s", inner.msg)};
        return 0;
    }
    en = add_entry(u->o, slice_of(path), e);
    if (!en) {
        u->full = arena_printf(u->a, "%s; the rest is not read", e->msg);
        return 1;
    }
    en->body = arena_dup(u->o->arena, body);
    en->cut = cut;
    if (!en->body.p) {
        en->failed = true;
        en->note = u->full = "larger than the limit for one bundle; the rest is not read";
        return 1;
    }
    return 0;
}

/* A cut zip of bundles: the last one there is says so, unless it has a reason of its own. */
static void cut_outside(struct unpacking *own, const char *path, const char *why)
{
    struct offline_target *last = &own->targets[own->n - 1];

    if (!last->cut)
        last->cut = arena_printf(own->a, "%s, which holds it, is not whole and may have held more (%s)", path, why);
}

static int open_archive(const char *path, struct slice bytes, bool inner, struct unpacking *u, struct err *e)
{
    struct unpacking own = {.o = offline_new(), .a = u->a, .targets = u->targets, .n = u->n, .budget = u->budget, .inner = inner};
    struct archive_visit visit = {.ctx = &own, .want = want, .file = keep, .max_file = MAX_LOG, .max_inner = MAX_INNER, .budget = u->budget};
    struct archive_summary sum;
    struct offline_target *t;
    size_t before = u->n;
    const char *cut;
    int rc;

    rc = bytes.p ? archive_walk_bytes(bytes, path, &visit, &sum, e) : archive_walk(path, &visit, &sum, e);
    u->n = own.n;
    cut = own.full ? own.full : sum.truncated ? arena_printf(u->a, "%s", sum.why) : NULL;
    if (rc >= 0 && cut && !inner && own.n)
        cut_outside(&own, path, cut);
    if (rc < 0 || (own.o->n == 0 && own.n > before)) { /* a zip of bundles has no files of its own */
        offline_close(&own.o->channel);
        return rc;
    }
    if (own.o->n == 0) {
        offline_close(&own.o->channel);
        if (cut)
            return err_set(e, VF_EFORMAT, "%s: cut or damaged before its first usable file (%s)", path, cut);
        return err_set(e, VF_EFORMAT, "%s: %zu files, none that a host's support bundle has", path, sum.files);
    }
    t = &u->targets[u->n++];
    *t = (struct offline_target){.label = arena_printf(u->a, "%s", path), .channel = &own.o->channel, .kind = "support bundle",
                                 .files = own.o->n, .cut = cut};
    if (cut)
        own.o->v[own.o->n - 1].cut = true; /* the last file read may end where the archive was cut */
    return 0;
}

int offline_open(const char *path, struct arena *a, struct offline_target **out, size_t *n, struct err *e)
{
    struct offline_target *v = arena_array(a, MAX_TARGETS + 1, sizeof *v); /* and the archive that holds them */
    struct archive_budget budget = {0, 0};
    struct unpacking u = {.a = a, .targets = v, .budget = &budget};
    int rc;

    if (!v)
        return err_set(e, VF_ELIMIT, "%s: no room left", path);
    switch (fsx_kind(path)) {
    case FSX_NONE:
        return err_set(e, VF_ENOTFOUND, "%s: no such file or folder", path);
    case FSX_OTHER:
        return err_set(e, VF_EUSAGE, "%s: neither a file nor a folder", path);
    case FSX_FOLDER:
        v[0].label = arena_printf(a, "%s", path);
        rc = open_folder(path, a, &v[0], e);
        *n = 1;
        break;
    case FSX_FILE:
        rc = open_archive(path, (struct slice){NULL, 0}, false, &u, e);
        *n = u.n;
        break;
    default:
        return err_set(e, VF_EIO, "%s: cannot be read", path);
    }
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < *n; i++)
        v[i].label = base_name(slice_of(v[i].label)).p;
    *out = v;
    return 0;
}
