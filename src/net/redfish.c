#include "net/redfish.h"

#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "net/attempts.h"
#include "net/pins.h"

#define LEDGER_MS  20000
#define MAX_SAID   300u /* of what a BMC says itself */
#define MAX_BROKEN 2u   /* requests in a row without any answer */
#define MAX_PATH   1024u

/* What is read, in the order of its worth: what time does not allow is the end of it. */
enum kind {
    ROOT, SYSTEM, STORAGE, CONTROLLER, SMART, ARRAY, CHASSIS, ADAPTER, HPNIC, PART, PCIE, FUNCTION, HPPCI, DRIVE, UPDATE, FIRMWARE,
};

/*
 * Where a resource names others: members on the way, parted by '/'. What stands there is a link, or a list of links; a link that leads to a
 * collection stands for its members. Names: DMTF's schema bundle DSP8010; HPE's SmartStorage, BaseNetworkAdapter and PCIDevices of the iLO 4
 * and iLO 5 reference, "links" in lower case in early iLO 4; NetworkAdapters below a system as iDRAC 8 has them.
 */
static const struct {
    enum kind from, to;
    const char *at;
} links[] = {
    {ROOT, SYSTEM, "Systems"}, {ROOT, CHASSIS, "Chassis"}, {ROOT, UPDATE, "UpdateService"},
    {SYSTEM, STORAGE, "Storage"}, {SYSTEM, PCIE, "PCIeDevices"}, {SYSTEM, FUNCTION, "PCIeFunctions"}, {SYSTEM, ADAPTER, "NetworkAdapters"},
    {SYSTEM, SMART, "Oem/Hpe/Links/SmartStorage"}, {SYSTEM, SMART, "Oem/Hp/Links/SmartStorage"}, {SYSTEM, SMART, "Oem/Hp/links/SmartStorage"},
    {SYSTEM, HPNIC, "Oem/Hpe/Links/NetworkAdapters"}, {SYSTEM, HPNIC, "Oem/Hp/Links/NetworkAdapters"}, {SYSTEM, HPNIC, "Oem/Hp/links/NetworkAdapters"},
    {SYSTEM, HPNIC, "Oem/Hpe/Links/BaseNetworkAdapters"},
    {SYSTEM, HPPCI, "Oem/Hpe/Links/PCIDevices"}, {SYSTEM, HPPCI, "Oem/Hp/Links/PCIDevices"}, {SYSTEM, HPPCI, "Oem/Hp/links/PCIDevices"},
    {STORAGE, CONTROLLER, "Controllers"}, {STORAGE, DRIVE, "Drives"}, {CONTROLLER, FUNCTION, "Links/PCIeFunctions"},
    {SMART, ARRAY, "Links/ArrayControllers"}, {SMART, ARRAY, "links/ArrayControllers"}, {SMART, ARRAY, "Links/HostBusAdapters"},
    {ARRAY, DRIVE, "Links/PhysicalDrives"}, {ARRAY, DRIVE, "links/PhysicalDrives"},
    {CHASSIS, ADAPTER, "NetworkAdapters"}, {CHASSIS, PCIE, "PCIeDevices"},
    {ADAPTER, PART, "NetworkDeviceFunctions"}, {ADAPTER, PART, "NetworkPorts"}, {ADAPTER, PART, "Ports"},
    {PCIE, FUNCTION, "PCIeFunctions"}, {PCIE, FUNCTION, "Links/PCIeFunctions"},
    {UPDATE, FIRMWARE, "FirmwareInventory"},
};

/* Those that say nothing themselves. */
static bool only_links(enum kind k)
{
    return k == ROOT || k == SMART || k == CHASSIS || k == UPDATE;
}

struct item {
    enum kind kind;
    const char *path;
    bool done;
};

struct redfish {
    struct channel channel;
    struct channel *inner;
    const struct redfish_opt *o;
    struct arena *arena;
    struct http *http;
    const struct secret *password;
    struct attempt *ticket;
    struct item *todo;
    size_t ntodo, todo_cap, asks, bytes, broken;
    struct map known;
    struct reply *replies;
    size_t n, cap;
    uint64_t deadline;
    const char *trouble;
    bool walked, over; /* over: no more requests */
    bool cards;        /* a system names its PCIe devices: those of the chassis are the same once more, and so are a system's functions */
};

const char *redfish_site(const struct http_opt *o, struct arena *a)
{
    return arena_printf(a, "%s:%u", o->host, o->port);
}

/* --- what is kept --- */

static void keep(struct redfish *r, struct reply reply, const char *path)
{
    void *v = r->replies;

    if (arena_grow(r->arena, &v, r->n, &r->cap, sizeof *r->replies, 2 * REDFISH_MAX_ASKS) < 0)
        return;
    r->replies = v;
    reply.path = slice_of(path);
    reply.where = slice_of(arena_printf(r->arena, "%s, %s", r->o->label, r->o->when));
    reply.exit_code = -1;
    reply.part = true;
    r->replies[r->n++] = reply;
}

/* One resource that could not be read. */
static void missed(struct redfish *r, const char *path, const char *why)
{
    keep(r, (struct reply){.status = REPLY_FAILED, .note = why ? why : "no room left"}, path);
}

/* The end of it: nothing more is asked, and the host counts as not read whole. */
static void give_up(struct redfish *r, const char *path, const char *why)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(2048);

    buf_add_safe(&safe, slice_of(why));
    why = arena_printf(r->arena, "%s", buf_z(&safe));
    missed(r, path, why);
    r->trouble = arena_printf(r->arena, "BMC %s: %s", r->o->label, why ? why : "no room left");
    r->over = true;
}

/* --- links --- */

/* The same resource is named with and without a slash at the end, and with a fragment that names a part of it. */
static struct slice bare(struct slice path)
{
    path = slice_cut(path, 0, slice_find_char(path, 0, '#'));
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    return path;
}

static void follow(struct redfish *r, enum kind kind, const struct js *link, const char *from)
{
    const struct js *id = link && js_kind(link) == JS_OBJECT ? js_get(link, "@odata.id") : NULL;
    struct slice text = js_as_text(id ? id : link && js_kind(link) == JS_OBJECT ? js_get(link, "href") : link), key = bare(text);
    void *v = r->todo;

    if (text.n == 0)
        return;
    if (!slice_starts(text, "/redfish/") || text.n > MAX_PATH || memchr(text.p, '\0', text.n)) {
        missed(r, from, "it names a resource outside of /redfish/, which is not followed");
        return;
    }
    key = arena_dup(r->arena, key);
    if (map_get(&r->known, key) != MAP_NONE)
        return;
    if (r->ntodo == REDFISH_MAX_ASKS) {
        if (!r->trouble)
            r->trouble = arena_printf(r->arena, "BMC %s: more than %u resources; the rest was not read", r->o->label, REDFISH_MAX_ASKS);
        return;
    }
    if (!key.p || map_put(&r->known, r->arena, key, 1) < 0 || arena_grow(r->arena, &v, r->ntodo, &r->todo_cap, sizeof *r->todo, REDFISH_MAX_ASKS) < 0)
        return;
    r->todo = v;
    text = slice_cut(text, 0, slice_find_char(text, 0, '#'));
    r->todo[r->ntodo++] = (struct item){kind, arena_dup(r->arena, text).p, false};
}

static void follow_all(struct redfish *r, enum kind kind, const struct js *v, const char *from)
{
    if (v && js_kind(v) == JS_ARRAY)
        for (size_t i = 0; i < js_count(v); i++)
            follow(r, kind, js_at(v, i), from);
    else if (v)
        follow(r, kind, v, from);
}

static const struct js *at_path(const struct js *v, const char *path, struct arena *a)
{
    struct slice rest = slice_of(path), word;

    while (v && slice_next_word(&rest, "/", &word))
        v = js_kind(v) == JS_OBJECT ? js_get(v, arena_dup(a, word).p) : NULL;
    return v;
}

/* A collection stands for its members; early iLO 4 lists them below links. True when it is one. */
static bool members(struct redfish *r, const struct item *it, const struct js *doc)
{
    const struct js *list = js_get(doc, "Members"), *count = js_get(doc, "Members@odata.count"), *next = js_get(doc, "Members@odata.nextLink");

    if (!list)
        list = at_path(doc, "links/Member", r->arena);
    if (!list || js_kind(list) != JS_ARRAY)
        return false;
    follow_all(r, it->kind, list, it->path);
    if (next)
        follow(r, it->kind, next, it->path);
    else if (count && js_kind(count) == JS_INT && js_as_int(count) > (int64_t)js_count(list) && !strchr(it->path, '?'))
        missed(r, it->path, arena_printf(r->arena, "it lists %zu of %lld members, and not where the others are", js_count(list), (long long)js_as_int(count)));
    return true;
}

/* --- one request --- */

/* What the BMC says of a refusal: {"error": {"message": ..., "@Message.ExtendedInfo": [{"Message": ...}]}}. */
static const char *said(struct redfish *r, const struct http_reply *h)
{
    _cleanup_(js_free) struct js *doc = js_parse(h->body, "json", NULL);
    const struct js *error = doc && js_kind(doc) == JS_OBJECT ? js_get(doc, "error") : NULL;
    const struct js *more = error && js_kind(error) == JS_OBJECT ? js_get(error, "@Message.ExtendedInfo") : NULL;
    const struct js *first = more && js_kind(more) == JS_ARRAY && js_count(more) ? js_at(more, 0) : NULL;
    struct slice text = js_as_text(first && js_kind(first) == JS_OBJECT ? js_get(first, "Message") : NULL);
    _cleanup_(buf_done) struct buf safe = BUF_INIT(4 * MAX_SAID + 1);

    if (text.n == 0 && error && js_kind(error) == JS_OBJECT)
        text = js_as_text(js_get(error, "message"));
    if (text.n == 0)
        return "";
    buf_add_safe(&safe, slice_cut(text, 0, MAX_SAID));
    return arena_printf(r->arena, ": \"%s\"", buf_z(&safe));
}

static const char *refusal(struct redfish *r, const struct http_reply *h)
{
    const char *words = said(r, h);

    switch (h->status) {
    case 403: return arena_printf(r->arena, "%s may not read it (403)%s", r->o->user ? r->o->user : "the user", words);
    case 404: return arena_printf(r->arena, "the BMC names it and does not have it (404)%s", words);
    case 503:
        return h->retry_after ? arena_printf(r->arena, "the BMC is busy (503) and wants to be asked again in %u s%s", h->retry_after, words)
                              : arena_printf(r->arena, "the BMC is busy (503)%s", words);
    default:
        if (h->status >= 300 && h->status < 400)
            return arena_printf(r->arena, "the BMC redirects (%d), which is not followed", h->status);
        return arena_printf(r->arena, "the BMC answers with status %d%s", h->status, words);
    }
}

static bool is_page(const struct http_reply *h)
{
    struct slice b = slice_trim(h->body);

    return slice_find(h->type, 0, "html") != SIZE_MAX || slice_starts(b, "<");
}

/* In words for the user what a key that does not fit means, with both fingerprints. */
static const char *identity(struct redfish *r, const struct http_opt *o, const struct err *e)
{
    char now[HTTP_MAX_PIN];

    if (http_fingerprint(o, now, &(struct err){0}) < 0)
        return arena_printf(r->arena, "%s", e->msg);
    if (o->pin)
        return arena_printf(r->arena, "it shows the key %s, known in %s is %s; nothing was sent. Was it replaced: vmkfit trust --replace --bmc %s", now,
                            r->o->known, o->pin, r->o->label);
    return arena_printf(r->arena, "%s. Its key %s is not known: vmkfit trust --bmc %s", e->msg, now, r->o->label);
}

/* Returns true with an answer of status 200 in *out, whole or not; all else is kept or told. */
static bool get(struct redfish *r, const struct item *it, bool login, struct http_reply *out)
{
    struct err e = {0};

    if (r->bytes > REDFISH_MAX_ALL) {
        give_up(r, it->path, "more than is read of one BMC; the rest was left out");
        return false;
    }
    r->asks++;
    if (http_get(r->http, it->path, login ? r->o->user : NULL, login ? r->password : NULL, r->deadline, r->arena, out, &e) < 0) {
        if (e.code == VF_EIDENTITY)
            give_up(r, it->path, identity(r, &r->o->http, &e));
        else if (e.code == VF_EDENIED)
            missed(r, it->path, "it names a path that is not asked for");
        else if (it->kind == ROOT || stop_wanted() || ++r->broken >= MAX_BROKEN)
            give_up(r, it->path, e.msg);
        else if (clock_left(r->deadline) == 0)
            give_up(r, it->path, arena_printf(r->arena, "timeout: it took longer than %u s; the rest was not read", r->o->total_ms / 1000));
        else
            missed(r, it->path, arena_printf(r->arena, "%s", e.msg));
        return false;
    }
    r->broken = 0;
    r->bytes += out->body.n;
    if (login && r->ticket) /* the first answer to the password */
        (void)attempts_end(&r->ticket, out->status != 401, NULL);
    if (out->status == 200)
        return true;
    if (out->status == 401 && it->kind == ROOT && !login)
        return false; /* it wants the password at once */
    if (out->status == 401)
        give_up(r, it->path, arena_printf(r->arena, "it refuses the login of %s (401); it was tried once", r->o->user));
    else if (it->kind == ROOT)
        give_up(r, it->path, out->status == 404 ? "there is no Redfish (404)" : refusal(r, out));
    else
        missed(r, it->path, refusal(r, out));
    return false;
}

/* One that was read: it is kept, and what it names will be. */
static void took(struct redfish *r, const struct item *it, const struct http_reply *h)
{
    struct err e = {0};
    _cleanup_(js_free) struct js *doc = h->cut || is_page(h) ? NULL : js_parse(h->body, "json", &e);

    if (is_page(h)) {
        if (it->kind == ROOT)
            give_up(r, it->path, "it answers with a web page, not with Redfish");
        else
            missed(r, it->path, "it answers with a web page, not with Redfish");
        return;
    }
    if (it->kind == ROOT && (!doc || js_kind(doc) != JS_OBJECT || !js_get(doc, "Systems"))) {
        give_up(r, it->path, h->cut ? h->cut : doc ? "what it answers is no Redfish: it names no Systems" : "what it answers is no JSON");
        return;
    }
    if (doc && js_kind(doc) == JS_OBJECT) {
        if (members(r, it, doc))
            return;
        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
            const struct js *link = links[i].from == it->kind ? at_path(doc, links[i].at, r->arena) : NULL;
            bool twice = r->cards && (links[i].from == CHASSIS || links[i].from == SYSTEM) && (links[i].to == FUNCTION || links[i].to == PCIE);

            if (link && !(js_kind(link) == JS_ARRAY && js_count(link) == 0) && !twice) {
                follow_all(r, links[i].to, link, it->path);
                r->cards |= it->kind == SYSTEM && links[i].to == PCIE;
            }
        }
    }
    if (!only_links(it->kind) || !doc) /* what is no JSON is the decoder's to say */
        keep(r, (struct reply){.status = REPLY_OK, .body = h->body, .cut = h->cut != NULL, .note = h->cut}, it->path);
}

/* --- the walk --- */

/* The password, and a place in the ledger before it is sent. */
static bool log_in(struct redfish *r)
{
    const char *site = redfish_site(&r->o->http, r->arena);
    struct err e = {0};

    if (r->o->password(r->o->ctx, r->o->user, r->o->label, &r->password, &e) < 0 ||
        attempts_begin(r->o->ledger, r->o->user, site, time(NULL), LEDGER_MS, &r->ticket, &e) < 0) {
        give_up(r, "/redfish/v1", e.msg);
        return false;
    }
    return true;
}

static bool open_http(struct redfish *r)
{
    struct redfish_opt *o = arena_alloc(r->arena, sizeof *o); /* with the pin, and the site's */
    struct err e = {0};
    const char *pin;

    if (!o)
        return false;
    *o = *r->o;
    if (pins_find(o->known, redfish_site(&o->http, r->arena), r->arena, &pin, &e) < 0) {
        give_up(r, "/redfish/v1", e.msg);
        return false;
    }
    o->http.pin = pin;
    o->http.max_body = REDFISH_MAX_ANSWER;
    r->o = o;
    r->http = http_new(&r->o->http, &e);
    if (!r->http)
        give_up(r, "/redfish/v1", e.msg);
    return r->http != NULL;
}

static struct item *next(struct redfish *r)
{
    struct item *best = NULL;

    for (size_t i = 0; i < r->ntodo; i++)
        if (!r->todo[i].done && (!best || r->todo[i].kind < best->kind))
            best = &r->todo[i];
    return best;
}

static void walk(struct redfish *r)
{
    struct item root = {ROOT, "/redfish/v1/", false}, it, *p;
    struct http_reply h;

    r->walked = true;
    r->deadline = clock_ms() + r->o->total_ms;
    if (!open_http(r))
        return;
    if (get(r, &root, false, &h)) {
        took(r, &root, &h);
        if (!r->over)
            (void)log_in(r);
    } else if (!r->over && log_in(r) && get(r, &root, true, &h)) {
        took(r, &root, &h);
    }
    while (!r->over && (p = next(r))) {
        p->done = true;
        it = *p; /* the list moves while it grows */
        if (stop_wanted())
            give_up(r, it.path, "stopped");
        else if (clock_left(r->deadline) == 0)
            give_up(r, it.path, arena_printf(r->arena, "timeout: it took longer than %u s; the rest was not read", r->o->total_ms / 1000));
        else if (get(r, &it, true, &h))
            took(r, &it, &h);
    }
    attempts_free(&r->ticket);
    http_free(&r->http);
    if (arena_full(r->arena) && !r->trouble)
        r->trouble = "the BMC's answers are larger than what is read of one";
}

/* --- the channel --- */

static int redfish_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    struct redfish *r = (struct redfish *)c;
    int rc = 0;

    if (q->kind != ASK_REDFISH)
        return channel_ask(r->inner, q, fn, ctx, e);
    if (!r->walked)
        walk(r);
    for (size_t i = 0; i < r->n && rc == 0; i++)
        rc = fn(ctx, &r->replies[i]);
    if (r->n == 0)
        rc = fn(ctx, &(struct reply){.status = REPLY_FAILED, .exit_code = -1, .part = true, .path = q->text, .note = "the BMC lists no system"});
    return rc < 0 ? rc : 0;
}

static bool redfish_want(struct channel *c, const struct ask *q)
{
    return q->kind == ASK_REDFISH || channel_want(((struct redfish *)c)->inner, q);
}

static int redfish_fetch(struct channel *c, struct err *e)
{
    return channel_fetch(((struct redfish *)c)->inner, e);
}

static const char *trouble(const struct channel *c)
{
    return channel_trouble(((const struct redfish *)c)->inner);
}

static void redfish_close(struct channel *c)
{
    struct redfish *r = (struct redfish *)c;

    channel_close(&r->inner);
    http_free(&r->http);
    attempts_free(&r->ticket);
    arena_free(r->arena);
    free(r);
}

static const struct channel_ops over_saved = {.name = "redfish", .saved = true, .ask = redfish_ask, .want = redfish_want, .fetch = redfish_fetch,
                                              .trouble = trouble, .close = redfish_close};
static const struct channel_ops over_live = {.name = "redfish", .ask = redfish_ask, .want = redfish_want, .fetch = redfish_fetch, .trouble = trouble,
                                             .close = redfish_close};

struct channel *redfish_new(struct channel *inner, const struct redfish_opt *o)
{
    struct redfish *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (struct redfish){.channel.ops = inner->ops->saved ? &over_saved : &over_live, .inner = inner, .o = o,
                          .arena = arena_new(2 * REDFISH_MAX_ALL)};
    return &r->channel;
}

static bool ours(const struct channel *c)
{
    return c && (c->ops == &over_saved || c->ops == &over_live);
}

const char *redfish_trouble(const struct channel *c)
{
    return ours(c) ? ((const struct redfish *)c)->trouble : NULL;
}

struct channel *redfish_inner(struct channel *c)
{
    return ours(c) ? ((struct redfish *)c)->inner : c;
}
