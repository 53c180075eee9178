#include "net/tap.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"

#define MAX_ANSWERS 20000u /* of one host */
#define MAX_NAME    180u   /* of a file, without its ending; a file system takes 255 */
#define MAX_TAPPED  (64u << 20) /* names and commands; the bodies are the inner channel's */

struct tap {
    struct channel channel;
    struct channel *inner;
    struct arena *arena;
    struct tapped *v;
    size_t n, cap;
    struct map names, others, seen; /* others: of commands with other names in them */
};

/* --- names --- */

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

/* What a file is called tells a reader the form, and offline.c which one to prefer. */
static const char *ending(const struct tapped *t)
{
    static const char *const known[] = {".xml", ".json", ".csv", ".kv", ".keyvalue"};
    struct slice body = t->reply.body;
    size_t at = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (slice_iends(t->reply.where, known[i]))
            return known[i];
    while (at < body.n && strchr(" \t\r\n", body.p[at]))
        at++;
    return at < body.n && body.p[at] == '<' ? ".xml" : at < body.n && t->ask.kind == ASK_ESXCLI && strchr("{[", body.p[at]) ? ".json" : ".txt";
}

static struct slice file_name(struct tap *t, struct map *names, const struct tapped *a, struct slice command)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_NAME), whole = BUF_INIT(MAX_NAME + 40);
    struct slice rest = slice_from(command, slice_starts(command, "/") ? 1 : slice_starts(command, "redfish /") ? strlen("redfish /") : 0);
    const char *end = a->ask.kind == ASK_FILE ? "" : a->ask.kind == ASK_REDFISH ? ".json" : ending(a);

    for (size_t i = 0; i < rest.n; i++) {
        bool part = i == 0 || rest.p[i - 1] == '/'; /* no part begins with a dot or a dash */

        buf_addc(&b, rest.p[i] == '/' && a->ask.kind == ASK_FILE ? '/' : plain(rest.p[i]) && !(part && strchr(".-", rest.p[i])) ? rest.p[i] : '_');
    }
    buf_add(&whole, buf_slice(&b));
    buf_addz(&whole, end);
    for (unsigned k = 2; map_get(names, buf_slice(&whole)) != MAP_NONE; k++) {
        buf_reset(&whole);
        buf_printf(&whole, "%s_%u%s", buf_z(&b), k, end);
    }
    rest = arena_dup(t->arena, buf_slice(&whole));
    (void)map_put(names, t->arena, rest, 1);
    return rest;
}

/* --- what an answer is about --- */

static struct slice last_part(struct slice path)
{
    size_t at = path.n;

    while (at > 0 && path.p[at - 1] != '/')
        at--;
    return slice_from(path, at);
}

/* The path on the host: what the channel says, or the folder that was asked with the file's name. Unpacked logs lose their .gz. */
static struct slice path_of(struct tap *t, const struct ask *q, struct slice where)
{
    struct slice folder = slice_cut(q->text, 0, q->text.n - last_part(q->text).n), base = last_part(where);
    bool absolute = slice_starts(where, "/"), below = slice_find(where, 0, arena_printf(t->arena, SLICE_FMT, SLICE_ARG(slice_from(folder, 1)))) == 0;
    bool packed = slice_iends(where, ".gz");
    struct slice before = folder, rest;

    if (where.n == 0)
        return q->text;
    if (packed) {
        where.n -= 3;
        base.n -= 3;
    }
    if (absolute || below)
        before = slice_cut(SLICE_LIT("/"), 0, below && !absolute);
    rest = absolute || below ? where : base;
    return slice_of(arena_printf(t->arena, SLICE_FMT SLICE_FMT "%s", SLICE_ARG(before), SLICE_ARG(rest), packed && !slice_iends(rest, ".log") ? ".log" : ""));
}

static void keep(struct tap *t, const struct ask *q, const struct reply *r)
{
    struct tapped a = {.ask = *q, .reply = *r};
    void *v = t->v;
    struct slice key;

    if (r->status == REPLY_MISSING)
        return;
    a.ask.text = arena_dup(t->arena, q->text);
    a.command = q->kind == ASK_REDFISH
                    ? slice_of(arena_printf(t->arena, "redfish " SLICE_FMT, SLICE_ARG(r->path.n ? r->path : q->text)))
                : q->kind == ASK_FILE ? path_of(t, q, r->path.n ? r->path : r->where)
                                    : slice_of(arena_printf(t->arena, "%s" SLICE_FMT, q->kind == ASK_ESXCLI ? "esxcli " : "", SLICE_ARG(q->text)));
    key = slice_of(arena_printf(t->arena, SLICE_FMT "\n%p %zu %d " SLICE_FMT, SLICE_ARG(a.command), (const void *)r->body.p, r->body.n, (int)r->status,
                                SLICE_ARG(r->where)));
    if (!key.p || map_get(&t->seen, key) != MAP_NONE) /* several probes read one answer */
        return;
    if (arena_grow(t->arena, &v, t->n, &t->cap, sizeof *t->v, MAX_ANSWERS) < 0 || map_put(&t->seen, t->arena, key, 1) < 0)
        return;
    t->v = v;
    a.file = file_name(t, &t->names, &a, a.command).p;
    t->v[t->n++] = a;
}

/* --- the channel --- */

struct passing {
    struct tap *tap;
    const struct ask *ask;
    reply_fn *fn;
    void *ctx;
};

static int on_reply(void *ctx, const struct reply *r)
{
    const struct passing *p = ctx;

    keep(p->tap, p->ask, r);
    return p->fn(p->ctx, r);
}

static int tap_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    struct passing p = {(struct tap *)c, q, fn, ctx};

    return channel_ask(p.tap->inner, q, on_reply, &p, e);
}

static bool tap_want(struct channel *c, const struct ask *q)
{
    return channel_want(((struct tap *)c)->inner, q);
}

static int tap_fetch(struct channel *c, struct err *e)
{
    return channel_fetch(((struct tap *)c)->inner, e);
}

static const char *tap_trouble(const struct channel *c)
{
    return channel_trouble(((const struct tap *)c)->inner);
}

static void tap_close(struct channel *c)
{
    struct tap *t = (struct tap *)c;

    channel_close(&t->inner);
    arena_free(t->arena);
    free(t);
}

static const struct channel_ops over_saved = {.name = "tap", .saved = true, .ask = tap_ask, .want = tap_want, .fetch = tap_fetch, .trouble = tap_trouble, .close = tap_close};
static const struct channel_ops over_live = {.name = "tap", .ask = tap_ask, .want = tap_want, .fetch = tap_fetch, .trouble = tap_trouble, .close = tap_close};

struct channel *tap_new(struct channel *inner)
{
    struct tap *t = xmalloc(sizeof *t);

    *t = (struct tap){.channel.ops = inner->ops->saved ? &over_saved : &over_live, .inner = inner, .arena = arena_new(MAX_TAPPED)};
    return &t->channel;
}

const struct tapped *tap_answers(const struct channel *tap, size_t *n)
{
    const struct tap *t = (const struct tap *)tap;

    *n = t->n;
    return t->v;
}

const char *tap_file(struct channel *tap, const struct tapped *one, struct slice command)
{
    struct tap *t = (struct tap *)tap;

    return file_name(t, &t->others, one, command).p;
}
