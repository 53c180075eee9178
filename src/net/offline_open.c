#include <stdio.h>
#include <stdlib.h>

#include "base/archive.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/map.h"
#include "net/offline_hosts.h"
#include "net/offline_parts.h"

#define MAX_LISTING (256u << 20) /* names of the files of a folder */
#define MAX_FOUND   200000u
#define MAX_INNER   (1u << 30)   /* a bundle inside a vCenter's zip */
#define MAX_SAID    900u         /* bytes about what was not read of one target */

struct listing {
    struct arena *a;
    struct found *v;
    size_t n, cap;
};

/* All targets of one opening, and what they are made from. */
struct opening {
    const char *path; /* as the user named it */
    struct arena *a;
    struct target *v;
    size_t n;
};

static struct found *add_found(struct listing *l, struct slice name)
{
    void *v = l->v;

    if (arena_grow(l->a, &v, l->n, &l->cap, sizeof *l->v, MAX_FOUND) < 0)
        return NULL;
    l->v = v;
    l->v[l->n] = (struct found){.name = arena_dup(l->a, name), .host = NO_HOST};
    return l->v[l->n].name.p ? &l->v[l->n++] : NULL;
}

/* What of a target was not read; the first reasons count, so that the text stays readable. */
static void problem(struct opening *op, struct target *t, const char *what, const char *why)
{
    if (t->cut && strlen(t->cut) > MAX_SAID)
        return;
    t->cut = arena_printf(op->a, "%s%s%s%s%s", t->cut ? t->cut : "", t->cut ? "; " : "", what, *what ? ": " : "", why);
    if (t->cut && strlen(t->cut) > MAX_SAID)
        t->cut = arena_printf(op->a, "%s; and more", t->cut);
}

static struct target *add_target(struct opening *op, const char *label, const char *path, const char *kind)
{
    struct target *t = op->n < MAX_TARGETS ? &op->v[op->n++] : NULL;

    if (t)
        *t = (struct target){.label = label, .path = path, .kind = kind};
    else
        problem(op, &op->v[MAX_TARGETS - 1], "", "more than 256 hosts; the rest is not read");
    return t;
}

/* --- recording.json --- */

static struct js *parse_manifest(struct slice text, const char *name, const struct js **answers, struct err *e)
{
    struct js *doc = js_parse(slice_starts(text, "\xef\xbb\xbf") ? slice_from(text, 3) : text, name, e);

    *answers = doc && js_kind(doc) == JS_OBJECT ? js_get(doc, "answers") : NULL;
    if (!doc || (*answers && js_kind(*answers) == JS_ARRAY && js_as_int(js_get(doc, "format")) == 1))
        return doc;
    (void)err_set(e, VF_EFORMAT, "%s: not a recording of format 1", name);
    js_free(&doc);
    return NULL;
}

struct reading {
    struct opening *op;
    struct offline *o;
    struct target *t;
    struct slice folder; /* of recording.json, relative to the host's */
    struct map names;    /* file name to entry */
};

static void name_answer(struct reading *rd, struct entry *en, struct slice ask, bool file)
{
    _cleanup_(buf_done) struct buf words = BUF_INIT(4096);

    if (ask.p[0] != '/' || slice_find_char(ask, 0, ' ') != SIZE_MAX) { /* a command; some are asked by their path */
        offline_words(ask, &words);
        en->words = arena_dup(rd->o->arena, buf_slice(&words));
    } else {
        en->words.n = 0;
        if (!file)
            en->name = arena_dup(rd->o->arena, slice_from(ask, 1));
    }
    en->ask = arena_dup(rd->o->arena, ask);
}

static void add_answer(struct reading *rd, const struct js *v)
{
    struct slice ask = js_as_text(js_get(v, "ask")), file = js_as_text(js_get(v, "file"));
    struct slice status = js_as_text(js_get(v, "status")), note = js_as_text(js_get(v, "note"));
    const struct js *bytes = js_get(v, "bytes");
    _cleanup_(buf_done) struct buf name = BUF_INIT(8192);
    bool ok = slice_eqz(status, "ok");
    struct entry *en;
    uint32_t at;
    struct err e;

    if (!ask.n || !status.n) {
        problem(rd->op, rd->t, "recording.json", "an answer without \"ask\" and \"status\"");
        return;
    }
    buf_printf(&name, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(rd->folder), rd->folder.n ? "/" : "", SLICE_ARG(file));
    at = file.n ? map_get(&rd->names, buf_slice(&name)) : MAP_NONE;
    en = at == MAP_NONE ? offline_add(rd->o, file.n ? file : ask, &e) : &rd->o->v[at];
    if (!en) {
        problem(rd->op, rd->t, "recording.json", e.msg);
        return;
    }
    if (file.n && at == MAP_NONE) {
        en->unreadable = true;
        en->note = "recording.json names this file, and it is not there";
        problem(rd->op, rd->t, en->name.p ? en->name.p : "a file", "named in recording.json, and not there");
    }
    name_answer(rd, en, ask, file.n > 0);
    if (bytes && js_kind(bytes) == JS_INT && js_as_int(bytes) >= 0)
        en->bytes = (uint64_t)js_as_int(bytes);
    if (js_get(v, "exit"))
        en->exit_code = (int)js_as_int(js_get(v, "exit"));
    en->failed = !ok && !file.n;
    en->cut |= !ok;
    if (!ok && !en->unreadable)
        en->note = arena_printf(rd->o->arena, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(status), note.n ? ": " : "", SLICE_ARG(note));
}

/* What ailed the host when it was recorded is said of it again, in the same words. */
static void add_trouble(struct reading *rd, const struct js *v)
{
    struct slice text = slice_cut(js_as_text(v), 0, MAX_SAID);

    if (!v || js_kind(v) == JS_NULL)
        return;
    if (js_kind(v) != JS_TEXT || text.n == 0)
        problem(rd->op, rd->t, "recording.json", "\"trouble\" is no text");
    else
        problem(rd->op, rd->t, "", arena_printf(rd->op->a, SLICE_FMT, SLICE_ARG(text)));
}

/* One that cannot be understood makes the target incomplete; its files still answer by their names. */
static void read_manifest(struct opening *op, struct offline *o, struct target *t, struct slice folder)
{
    struct reading rd = {.op = op, .o = o, .t = t, .folder = folder};
    _cleanup_(js_free) struct js *doc = NULL;
    const struct js *answers;
    struct entry *en = NULL;
    struct err e = {0};

    for (size_t i = 0; i < o->n; i++) {
        (void)map_put(&rd.names, o->arena, o->v[i].name, (uint32_t)i);
        if (slice_eqz(path_base(o->v[i].name), "recording.json") && slice_eq(path_folder(o->v[i].name), folder))
            en = &o->v[i];
    }
    if (!en)
        return;
    t->kind = "recording";
    o->recording = true;
    en->used = true;
    if (en->path && fsx_read(en->path, MAX_ANSWER, o->arena, &en->body, NULL, &e) < 0) {
        problem(op, t, "", e.msg);
        return;
    }
    en->path = NULL;
    doc = parse_manifest(en->body, "recording.json", &answers, &e);
    if (!doc) {
        problem(op, t, "", e.msg);
        return;
    }
    add_trouble(&rd, js_get(doc, "trouble"));
    for (size_t i = 0; i < js_count(answers); i++)
        add_answer(&rd, js_at(answers, i));
}

/* --- targets from files --- */

static bool below(struct slice name, struct slice root)
{
    return root.n == 0 || (name.n > root.n && name.p[root.n] == '/' && slice_eq(slice_cut(name, 0, root.n), root));
}

static void add_file(struct opening *op, struct offline *o, struct target *t, const struct found *f, struct slice root, bool stray)
{
    struct slice name = stray || !root.n ? f->name : slice_from(f->name, root.n + 1);
    struct entry *en;
    struct err e;

    if (f->folder) {
        problem(op, t, arena_printf(op->a, SLICE_FMT, SLICE_ARG(name)), f->why);
        return;
    }
    en = offline_add(o, name, &e);
    if (!en) {
        if (!t->cut || !strstr(t->cut, e.msg))
            problem(op, t, "", e.msg);
        return;
    }
    en->path = f->path ? arena_dup(o->arena, slice_of(f->path)).p : NULL;
    en->body = f->body;
    en->cut = f->cut;
    en->stray = stray;
    en->unreadable = f->why != NULL;
    en->note = f->why ? arena_dup(o->arena, slice_of(f->why)).p : f->cut ? "longer than the limit, or the archive was cut in it" : NULL;
}

static const char *kind_of(const struct offline *o, bool archive)
{
    for (size_t i = 0; i < o->n; i++)
        if (slice_starts(path_base(o->v[i].name), "localcli_") && path_ends(path_folder(o->v[i].name), SLICE_LIT("commands")))
            return "support bundle";
    return archive ? "packed folder" : "folder";
}

static void finish(struct opening *op, struct offline *o, struct target *t, struct slice manifest)
{
    t->channel = &o->channel;
    t->kind = kind_of(o, o->pool != NULL);
    read_manifest(op, o, t, manifest);
    t->files = o->n;
}

/* Everything is one host's: its own folder alone when nothing of use lies beside it. */
static void one_host(struct opening *op, const struct listing *l, const struct hosts *h, struct pool *pool, const char *label)
{
    struct slice root = h->n ? h->roots[0] : (struct slice){NULL, 0}, manifest = root;
    struct target *t = add_target(op, label, op->path, "folder");
    struct offline *o;
    bool strays = !path_ends(root, SLICE_LIT("recording")); /* beside a fixture's recording lie its notes */

    if (!t)
        return;
    o = offline_new(pool);
    for (size_t i = 0; i < l->n; i++)
        if (!below(l->v[i].name, root) && offline_wanted(l->v[i].name))
            root.n = 0;
    manifest = root.n ? (struct slice){NULL, 0} : manifest;
    for (size_t i = 0; i < l->n; i++)
        if (!l->v[i].empty && (below(l->v[i].name, root) || strays || l->v[i].folder))
            add_file(op, o, t, &l->v[i], root, !below(l->v[i].name, root));
    finish(op, o, t, manifest);
}

static struct slice first_part(struct slice path)
{
    return slice_cut(path, 0, slice_find_char(path, 0, '/'));
}

/* Folders beside those of hosts that hold nothing, or no name that is understood: perhaps of hosts of which nothing could be saved. */
static void name_strange_folders(struct opening *op, const struct listing *l, const struct hosts *h)
{
    struct slice last = {NULL, 0};

    for (size_t i = 0; i < l->n; i++) {
        struct slice top = first_part(l->v[i].name);
        struct target *t;
        bool seen = l->v[i].host != NO_HOST || (!l->v[i].empty && (l->v[i].folder || top.n == l->v[i].name.n)) || slice_eq(top, last);

        for (size_t k = 0; k < h->n && !seen; k++)
            seen = slice_eq(first_part(h->roots[k]), top);
        if (seen)
            continue;
        last = top;
        t = add_target(op, arena_printf(op->a, "%s/" SLICE_FMT, path_base(slice_of(op->path)).p, SLICE_ARG(top)),
                       arena_printf(op->a, "%s/" SLICE_FMT, op->path, SLICE_ARG(top)), "folder");
        if (t)
            problem(op, t, "", l->v[i].empty ? l->v[i].why : "no file in it is named after a command, so nothing is known of this host");
    }
}

static void several_hosts(struct opening *op, const struct listing *l, const struct hosts *h, struct pool *pool)
{
    static const struct slice top = {NULL, 0};
    const char *base = path_base(slice_of(op->path)).p;

    for (uint32_t k = 0; k < h->n; k++) {
        struct slice root = h->roots[k];
        const char *label = root.n ? arena_printf(op->a, "%s/" SLICE_FMT, base, SLICE_ARG(root)) : base;
        const char *path = root.n && !pool ? arena_printf(op->a, "%s/" SLICE_FMT, op->path, SLICE_ARG(root)) : op->path;
        struct target *t = add_target(op, label, path, "folder");
        struct offline *o;

        if (!t)
            return;
        o = offline_new(pool);
        for (size_t i = 0; i < l->n; i++) {
            bool stray = k == 0 && l->v[i].host == NO_HOST && !l->v[i].folder && offline_wanted(l->v[i].name);

            if ((l->v[i].host == k && !l->v[i].empty) || stray)
                add_file(op, o, t, &l->v[i], root, stray);
        }
        finish(op, o, t, top);
    }
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].folder && !l->v[i].empty && l->v[i].host == NO_HOST) { /* perhaps a host that nobody may read */
            struct target *t = add_target(op, arena_printf(op->a, "%s/" SLICE_FMT, base, SLICE_ARG(l->v[i].name)), op->path, "folder");

            if (t)
                problem(op, t, "", l->v[i].why);
        }
    if (!pool) /* of an archive only files whose names are understood are listed */
        name_strange_folders(op, l, h);
    if (h->more)
        problem(op, &op->v[op->n - 1], "", "more than 256 hosts; the rest is not read");
}

static int make_targets(struct opening *op, struct listing *l, struct pool *pool, const char *label, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(MAX_LISTING);
    struct hosts *h = arena_alloc(op->a, sizeof *h);
    size_t readable = 0;

    for (size_t i = 0; i < l->n; i++)
        readable += l->v[i].why == NULL;
    if (!h)
        return err_set(e, VF_ELIMIT, "%s: no room left", op->path);
    if (!readable && l->n)
        return err_set(e, VF_EIO, "%s: nothing in it can be read (" SLICE_FMT ": %s)", op->path, SLICE_ARG(l->v[0].name), l->v[0].why);
    if (!readable)
        return err_set(e, VF_ENOTFOUND, "%s: the folder is empty", op->path);
    offline_split(l->v, l->n, h, a);
    if (h->n <= 1)
        one_host(op, l, h, pool, label);
    else
        several_hosts(op, l, h, pool);
    return 0;
}

/* --- folders --- */

static int list_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct listing *l = ctx;
    struct found *f = add_found(l, slice_of(rel));

    if (!f)
        return err_set(e, VF_ELIMIT, "%s: more files than there is room for", path);
    f->path = arena_dup(l->a, slice_of(path)).p;
    return 0;
}

static void list_skipped(void *ctx, const char *rel, enum fsx_skipped what, const char *why)
{
    struct listing *l = ctx;
    struct found *f = add_found(l, slice_of(rel));

    if (!f)
        return;
    f->why = arena_printf(l->a, "%s", why);
    f->folder = what != SKIPPED_FILE;
    f->empty = what == SKIPPED_EMPTY;
}

/* --- archives --- */

/* Why nothing came of an archive in another. */
enum nothing { NOT_EMPTY, NO_HOST_IN_IT, DAMAGED };

struct unpacking {
    struct opening *op;
    struct listing l;
    struct archive_budget *budget;
    const struct map *only; /* second walk: these names and no others */
    const char *full;       /* NULL, or why the walk was stopped */
    const char *deep;       /* an archive that lies too deep */
    const char *link;       /* the first answer that is a link */
    size_t links;
    bool inner;
};

/* Something, then one of the endings, in any case. */
static bool ends_in(struct slice base, const char *const *endings)
{
    for (; *endings; endings++)
        if (base.n > strlen(*endings) && slice_iends(base, *endings))
            return true;
    return false;
}

static bool archive_name(struct slice base)
{
    static const char *const endings[] = {".tgz", ".tar.gz", ".zip", ".tar", NULL};

    return ends_in(base, endings);
}

/* Packed in a way that is not read, or not whole: "esx3.tar.xz", "esx3.tgz.part". */
static bool other_archive(struct slice base)
{
    static const char *const endings[] = {".gz", ".xz", ".txz", ".bz2", ".tbz", ".zst", ".7z", ".rar", ".part", ".crdownload", ".filepart", NULL};

    return ends_in(base, endings);
}

/* A bundle of which nothing can be read has a place in the report too. Returns false when there is no more room. */
static bool add_broken(struct opening *op, const char *path, const char *why)
{
    struct target *t = op->n < MAX_TARGETS ? add_target(op, arena_printf(op->a, "%s", path), op->path, "support bundle") : NULL;

    if (t)
        problem(op, t, "", why);
    return t != NULL;
}

static bool is_archive(const struct found *f)
{
    return !f->folder && f->path && archive_name(path_base(f->name));
}

static int open_folder(struct opening *op, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(MAX_LISTING);
    struct listing l = {.a = a};
    bool archives = false, others = false;

    if (fsx_walk_readable(op->path, list_file, list_skipped, &l, e) < 0)
        return e->code;
    for (size_t i = 0; i < l.n; i++) {
        archives |= is_archive(&l.v[i]);
        others |= !is_archive(&l.v[i]) && offline_wanted(l.v[i].name);
    }
    if ((others || !archives) && make_targets(op, &l, NULL, path_base(slice_of(op->path)).p, e) < 0)
        return e->code;
    for (size_t i = 0; i < l.n; i++) /* an archive that belongs to none of the hosts is perhaps one more */
        if (l.v[i].host == NO_HOST && is_archive(&l.v[i]))
            (void)add_broken(op, l.v[i].path, "not opened: an archive in a folder is a target of its own; name it");
    return 0;
}

static enum archive_want want(void *ctx, const char *path)
{
    struct unpacking *u = ctx;

    if (u->only)
        return map_get(u->only, slice_of(path)) == MAP_NONE ? ARCHIVE_SKIP : ARCHIVE_KEEP;
    if (archive_name(path_base(slice_of(path)))) {
        if (u->inner && !u->deep)
            u->deep = arena_printf(u->op->a, "%s", path);
        return u->inner ? ARCHIVE_SKIP : ARCHIVE_INNER;
    }
    if (offline_wanted(slice_of(path)))
        return ARCHIVE_KEEP;
    if (!u->inner && !u->l.n && other_archive(path_base(slice_of(path))))
        (void)add_broken(u->op, path, "not unpacked: only .tgz, .tar and .zip are read");
    return ARCHIVE_SKIP;
}

static enum nothing open_archive(const char *path, struct slice bytes, bool inner, struct opening *op, struct archive_budget *budget,
                                 struct err *e);

static int keep_inner(struct unpacking *u, const char *path, struct slice body)
{
    struct err e = {0};
    enum nothing nothing = DAMAGED;

    if (archive_is(body))
        nothing = open_archive(path, body, true, u->op, u->budget, &e);
    else
        (void)err_set(&e, VF_EFORMAT, "no .tgz, .tar or .zip archive, whatever its name says");
    if (nothing != DAMAGED)
        return 0;
    if (add_broken(u->op, path, e.msg))
        return 0;
    u->full = "more than 256 bundles; the rest is not read";
    return 1;
}

static int keep(void *ctx, const char *path, struct slice body, bool cut, struct err *e)
{
    struct unpacking *u = ctx;
    struct found *f;

    (void)e;
    if (!u->only && archive_name(path_base(slice_of(path))))
        return keep_inner(u, path, body);
    f = add_found(&u->l, slice_of(path));
    if (!f) {
        u->full = "more files than there is room for; the rest is not read";
        return 1;
    }
    f->body = arena_dup(u->l.a, body);
    f->cut = cut;
    if (!f->body.p) {
        f->why = u->full = "larger than the limit for one bundle; the rest is not read";
        return 1;
    }
    return 0;
}

static void keep_link(void *ctx, const char *path)
{
    struct unpacking *u = ctx;

    if (!u->only && offline_wanted(slice_of(path)) && u->links++ == 0)
        u->link = arena_printf(u->op->a, "%s", path);
}

/* Files that a recording.json names and that were not kept for their own names: they are wanted after all. */
static bool named_files(const struct listing *l, struct map *names, struct arena *a)
{
    struct map there = {0};

    for (size_t i = 0; i < l->n; i++)
        (void)map_put(&there, a, l->v[i].name, 1);
    for (size_t i = 0; i < l->n; i++) {
        _cleanup_(js_free) struct js *doc = NULL;
        struct slice folder = path_folder(l->v[i].name);
        const struct js *answers;
        struct err e;

        if (!slice_eqz(path_base(l->v[i].name), "recording.json"))
            continue;
        doc = parse_manifest(l->v[i].body, "recording.json", &answers, &e);
        for (size_t k = 0; doc && k < js_count(answers); k++) {
            struct slice file = js_as_text(js_get(js_at(answers, k), "file"));
            const char *name = arena_printf(a, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(folder), folder.n ? "/" : "", SLICE_ARG(file));

            if (file.n && name && map_get(&there, slice_of(name)) == MAP_NONE)
                (void)map_put(names, a, slice_of(name), 1);
        }
    }
    return names->n > 0;
}

static int walk_archive(const char *path, struct slice bytes, struct unpacking *u, struct archive_summary *sum, struct err *e)
{
    struct archive_visit visit = {.ctx = u, .want = want, .file = keep, .link = keep_link, .max_file = MAX_LOG, .max_inner = MAX_INNER,
                                  .budget = u->budget};

    return bytes.p ? archive_walk_bytes(bytes, path, &visit, sum, e) : archive_walk(path, &visit, sum, e);
}

static void walk_again(const char *path, struct slice bytes, struct unpacking *u)
{
    _cleanup_(arena_done) struct arena *a = arena_new(MAX_LISTING);
    struct archive_budget budget = {0, 0}, *before = u->budget;
    struct archive_summary sum;
    struct map names = {0};
    struct err e;

    if (u->full || !named_files(&u->l, &names, a))
        return;
    u->only = &names;
    u->budget = &budget;
    (void)walk_archive(path, bytes, u, &sum, &e);
    u->only = NULL;
    u->budget = before;
}

/* Where an archive is a host's own, the archives in it are files like others: state.tgz, local.tgz. */
static void drop_broken(struct opening *op, size_t from)
{
    size_t n = from;

    for (size_t i = from; i < op->n; i++)
        if (op->v[i].channel)
            op->v[n++] = op->v[i];
    op->n = n;
}

/* A cut zip of bundles: the last one there is says so, unless it has a reason of its own. */
static void cut_outside(struct opening *op, const char *path, const char *why)
{
    struct target *last = &op->v[op->n - 1];

    if (!last->cut)
        last->cut = arena_printf(op->a, "%s, which holds it, is not whole and may have held more (%s)", path, why);
}

static enum nothing without_files(const struct unpacking *u, const char *path, const struct archive_summary *sum, const char *cut, struct err *e)
{
    if (cut)
        (void)err_set(e, VF_EFORMAT, "%s: cut or damaged before its first usable file (%s)", path, cut);
    else if (u->deep)
        (void)err_set(e, VF_EFORMAT, "%s: holds %s, an archive nested too deep; unpack %s once", path, u->deep, path);
    else
        (void)err_set(e, VF_EFORMAT, "%s: %zu file%s, none that a host's support bundle has", path, sum->files, sum->files == 1 ? "" : "s");
    return cut || u->deep ? DAMAGED : NO_HOST_IN_IT;
}

/* A vCenter's own bundle has commands/ too: without one answer, map, log or boot configuration of a host it is none. */
static bool tells_of_a_host(const struct listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct slice folder = path_folder(l->v[i].name);

        if (offline_answer_name(l->v[i].name) || !(path_ends(folder, SLICE_LIT("commands")) || path_ends(folder, SLICE_LIT("json"))))
            return true;
    }
    return false;
}

static void pool_leave(struct pool *pool)
{
    if (--pool->users == 0) {
        arena_free(pool->arena);
        free(pool);
    }
}

static enum nothing open_archive(const char *path, struct slice bytes, bool inner, struct opening *op, struct archive_budget *budget,
                                 struct err *e)
{
    struct pool *pool = xmalloc(sizeof *pool);
    struct unpacking u = {.op = op, .budget = budget, .inner = inner};
    struct opening own;
    struct archive_summary sum;
    size_t before = op->n, own_first;
    enum nothing nothing = NOT_EMPTY;
    const char *cut;

    *pool = (struct pool){.arena = arena_new(MAX_KEPT), .users = 1};
    u.l.a = pool->arena;
    if (walk_archive(path, bytes, &u, &sum, e) < 0) {
        pool_leave(pool);
        return DAMAGED;
    }
    cut = u.full ? u.full : sum.truncated ? arena_printf(op->a, "%s", sum.why) : NULL;
    if (cut && u.l.n)
        u.l.v[u.l.n - 1].cut = true; /* the last file read may end where the archive was cut */
    walk_again(path, bytes, &u);
    if (inner && !cut && u.l.n && !tells_of_a_host(&u.l)) {
        nothing = NO_HOST_IN_IT;
    } else if (u.l.n) {
        drop_broken(op, before);
        own_first = op->n;
        own = *op;
        own.path = inner ? path : op->path;
        if (make_targets(&own, &u.l, pool, arena_dup(op->a, inner ? slice_of(path) : path_base(slice_of(path))).p, e) < 0)
            nothing = DAMAGED;
        op->n = own.n;
        for (size_t i = own_first; i < op->n; i++)
            op->v[i].path = op->path;
        for (size_t i = own_first; cut && i < op->n; i++) /* any of them may have had more */
            problem(op, &op->v[i], "", cut);
        if (u.links && op->n > own_first)
            problem(op, &op->v[own_first], u.link,
                    u.links == 1 ? "a link; these are not followed"
                                 : arena_printf(op->a, "and %zu more: links; these are not followed", u.links - 1));
    } else if (op->n > before) { /* a zip of bundles has no files of its own */
        if (cut && !inner)
            cut_outside(op, path, cut);
    } else {
        nothing = without_files(&u, path, &sum, cut, e);
    }
    pool_leave(pool);
    return nothing;
}

int offline_open(const char *path, struct arena *a, struct target **out, size_t *n, struct err *e)
{
    struct opening op = {.path = path, .a = a, .v = arena_array(a, MAX_TARGETS, sizeof *op.v)};
    struct archive_budget budget = {0, 0};
    size_t len = strlen(path);

    if (!op.v)
        return err_set(e, VF_ELIMIT, "%s: no room left", path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    op.path = arena_dup(a, (struct slice){path, len}).p;
    switch (fsx_kind(path)) {
    case FSX_NONE:
        return err_set(e, VF_ENOTFOUND, "%s: no such file or folder", path);
    case FSX_OTHER:
        return err_set(e, VF_EUSAGE, "%s: neither a file nor a folder", path);
    case FSX_FOLDER:
        if (open_folder(&op, e) < 0)
            return e->code;
        break;
    case FSX_FILE:
        if (open_archive(op.path, (struct slice){NULL, 0}, false, &op, &budget, e) != NOT_EMPTY)
            return e->code;
        break;
    }
    *out = op.v;
    *n = op.n;
    return 0;
}
