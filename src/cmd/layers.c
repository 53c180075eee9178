#include "cmd/layers.h"

#include <unistd.h>

#include "base/fsx.h"
#include "base/json.h"
#include "cmd/places.h"

#define MAX_SITE_FILE (64u << 20)
#define MAX_KEY       (64u << 10)
#define MAX_KEYS      1000u
#define MAX_LAYERS    10000u

const char *layers_home(const struct cli *c, struct arena *a)
{
    bool own = (c->env.state_dir && c->env.state_dir[0] == '/') || (c->env.state_home && c->env.state_home[0] == '/') || geteuid() != 0;

    return arena_printf(a, "%s/rules", own ? place_state(c, a) : PLACE_SYSTEM_STATE);
}

/* --- what is found --- */

static struct layer *add(struct layers *l, const char *path, struct err *e)
{
    void *v = l->v;

    if (arena_grow(l->env->arena, &v, l->n, &l->cap, sizeof *l->v, MAX_LAYERS) < 0) {
        (void)err_set(e, VF_ELIMIT, "%s: more than %u packs and files of rules", path, MAX_LAYERS);
        return NULL;
    }
    l->v = v;
    l->v[l->n] = (struct layer){.name = path, .path = path};
    return &l->v[l->n++];
}

struct walking {
    struct layers *l;
    const char *folder, *suffix; /* of what is looked for in it */
    fsx_walk_fn *fn;
    bool key;
};

/* why names the path. A key that is passed over is told and no more: the packs that it has signed are refused. */
static void refuse(struct layers *l, const char *path, const char *why, bool key)
{
    struct err e = {0};
    struct layer *layer = key ? NULL : add(l, arena_printf(l->env->arena, "%s", path), &e);

    if (layer)
        layer->refused = arena_printf(l->env->arena, "%s", why);
    else
        cli_warn(l->env->cli, "%s; it is not trusted", why);
}

static int walked(void *ctx, const char *path, const char *rel, struct err *e)
{
    const struct walking *w = ctx;

    return slice_iends(slice_of(rel), w->suffix) ? w->fn(w->l, path, rel, e) : 0;
}

/* A link, a device, a folder that cannot be read: nothing that could have held rules is passed over in silence. */
static void skipped(void *ctx, const char *rel, enum fsx_skipped what, const char *why)
{
    const struct walking *w = ctx;
    struct arena *a = w->l->env->arena;

    if (what == SKIPPED_FOLDER || slice_iends(slice_of(rel), w->suffix))
        refuse(w->l, arena_printf(a, "%s/%s", w->folder, rel), arena_printf(a, "%s/%s: %s", w->folder, rel, why), w->key);
}

static fsx_walk_fn read_key;

/* A folder that is not there holds nothing. */
static void walk(struct layers *l, const char *folder, const char *suffix, fsx_walk_fn *fn)
{
    struct walking w = {l, folder, suffix, fn, fn == read_key};
    struct err e = {0};

    if (!fsx_absent(folder) && fsx_walk_readable(folder, walked, skipped, &w, &e) < 0)
        refuse(l, folder, e.msg, w.key);
}

/* --- keys --- */

static int read_key(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct layers *l = ctx;
    struct arena *a = l->env->arena;
    struct sign_public key;
    struct err why = {0};
    struct slice pem;
    void *v;

    (void)rel;
    path = arena_printf(a, "%s", path);
    if (fsx_read(path, MAX_KEY, a, &pem, NULL, &why) == 0) {
        size_t first = slice_find(pem, 0, "-----BEGIN ");

        if (slice_find(pem, 0, "PRIVATE KEY-----") != SIZE_MAX)
            (void)err_set(&why, VF_EFORMAT, "%s: holds a private key, which belongs to nobody but who signs", path);
        else if (first != SIZE_MAX && slice_find(pem, first + 1, "-----BEGIN ") != SIZE_MAX)
            (void)err_set(&why, VF_EFORMAT, "%s: more than one key; each has a file of its own", path);
        else
            (void)sign_read_public(pem, path, &key, &why);
    }
    if (why.code) {
        cli_warn(l->env->cli, "%s; it is not trusted", why.msg);
        return 0;
    }
    v = l->keys;
    if (arena_grow(a, &v, l->nkeys, &l->keys_cap, sizeof *l->keys, MAX_KEYS) < 0)
        return err_set(e, VF_ELIMIT, "%s: more than %u keys", path, MAX_KEYS);
    l->keys = v;
    l->keys[l->nkeys++] = (struct trusted_key){key, path};
    return 0;
}

static size_t key_folders(const struct layers *l, const char *v[2])
{
    struct arena *a = l->env->arena;

    if (l->keys_only) {
        v[0] = l->keys_only;
        return 1;
    }
    v[0] = PLACE_SYSTEM_CONFIG "/keys.d";
    v[1] = arena_printf(a, "%s/keys.d", place_config(l->env->cli, a));
    return 2;
}

void layers_keys(struct layers *l)
{
    const char *folders[2];
    size_t n = key_folders(l, folders);

    for (size_t i = 0; i < n && !l->keys_read; i++)
        walk(l, folders[i], ".pub", read_key);
    l->keys_read = true;
}

int layers_open_pack(struct layers *l, struct slice bytes, const char *what, struct pack *out, const struct trusted_key **by, struct err *e)
{
    const char *folders[2] = {"", ""};
    size_t n;

    if (pack_read(bytes, what, out, e) < 0)
        return e->code;
    layers_keys(l);
    for (size_t i = 0; i < l->nkeys; i++)
        if (pack_signed_by(out, &l->keys[i].key)) {
            *by = &l->keys[i];
            return 0;
        }
    for (size_t i = 0; i < l->nkeys; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(100);

        sign_fingerprint(&l->keys[i].key, &b);
        if (slice_eq(buf_slice(&b), out->key))
            return err_set(e, VF_EDENIED, "%s: its signature does not hold; the pack was altered after it was signed", what);
    }
    n = key_folders(l, folders);
    return err_set(e, VF_EDENIED, "%s: signed by " SLICE_FMT ", a key that is not trusted; where you trust it, put its public key into %s%s%s", what,
                   SLICE_ARG(out->key), folders[0], n > 1 ? " or " : "", n > 1 ? folders[1] : "");
}

/* --- packs and files --- */

static int find_pack(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct layers *l = ctx;
    struct arena *a = l->env->arena;
    const struct trusted_key *by;
    struct pack *p;
    struct layer *layer;
    struct slice bytes, base = slice_of(rel);
    struct err why = {0};

    if (strchr(rel, '/'))
        return 0;
    base = slice_cut(base, 0, base.n - strlen(PACK_SUFFIX));
    if (l->without && slice_eqz(base, l->without))
        return 0;
    path = arena_printf(a, "%s", path);
    p = arena_alloc(a, sizeof *p);
    layer = add(l, path, e);
    if (!layer)
        return e->code;
    if (!p)
        layer->refused = "no room left";
    else if (fsx_read(path, PACK_MAX, a, &bytes, NULL, &why) < 0 || layers_open_pack(l, bytes, path, p, &by, &why) < 0)
        layer->refused = arena_printf(a, "%s", why.msg);
    else if (!slice_eq(p->name, base))
        layer->refused = arena_printf(a, "%s: holds the pack " SLICE_FMT "; install it instead of copying it", path, SLICE_ARG(p->name));
    if (layer->refused)
        return 0;
    layer->name = arena_printf(a, SLICE_FMT " %llu", SLICE_ARG(p->name), (unsigned long long)p->serial);
    layer->date = p->date;
    layer->pack = p;
    layer->files = p->files;
    layer->nfiles = p->nfiles;
    return 0;
}

static int find_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct layers *l = ctx;
    struct arena *a = l->env->arena;
    struct pack_file *f;
    struct layer *layer;
    struct err why = {0};

    (void)rel;
    path = arena_printf(a, "%s", path);
    layer = add(l, path, e);
    if (!layer)
        return e->code;
    f = arena_alloc(a, sizeof *f);
    if (!f)
        layer->refused = "no room left";
    else if (fsx_read(path, MAX_SITE_FILE, a, &f->bytes, NULL, &why) < 0)
        layer->refused = arena_printf(a, "%s", why.msg);
    layer->files = f;
    layer->nfiles = layer->refused ? 0 : 1;
    return 0;
}

static void find(struct layers *l)
{
    struct arena *a = l->env->arena;
    const char *home = layers_home(l->env->cli, a);

    layers_keys(l); /* before l->v is pointed into */
    if (strcmp(home, PLACE_SYSTEM_STATE "/rules") != 0)
        walk(l, PLACE_SYSTEM_STATE "/rules", PACK_SUFFIX, find_pack);
    walk(l, home, PACK_SUFFIX, find_pack);
    walk(l, PLACE_SYSTEM_CONFIG "/rules.d", ".xml", find_file);
    walk(l, arena_printf(a, "%s/rules.d", place_config(l->env->cli, a)), ".xml", find_file);
}

/* --- loading --- */

static int load_files(struct env *v, struct rules *rules, const char *name, const struct pack_file *files, size_t n, bool pack, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        const char *shown = pack ? arena_printf(v->arena, "%s/" SLICE_FMT, name, SLICE_ARG(files[i].name)) : name;

        if (rules_load(rules, files[i].bytes, shown ? shown : name, &v->schema, v->arena, e) < 0)
            return e->code;
    }
    return 0;
}

/* On its own, so that a file with a mistake in its middle leaves nothing behind. */
static void try_alone(struct layers *l, struct layer *layer)
{
    struct rules own = {.without_examples = true};
    struct err e = {0};

    if (load_files(l->env, &own, layer->name, layer->files, layer->nfiles, layer->pack != NULL, &e) < 0)
        layer->refused = arena_printf(l->env->arena, "%s", e.msg);
    layer->rules = own.n;
}

/* The shipped rules, the first n layers but for those refused, and more; sealed. */
static int load(struct layers *l, size_t n, const struct slice *more, size_t nmore, const struct pack *pack, const char *name, struct ruleset *out,
                struct err *e)
{
    int rc = env_rules_shipped(l->env, out, e);

    for (size_t i = 0; i < n && rc == 0; i++)
        if (!l->v[i].refused)
            rc = load_files(l->env, &out->rules, l->v[i].name, l->v[i].files, l->v[i].nfiles, l->v[i].pack != NULL, e);
    if (rc == 0 && pack)
        rc = load_files(l->env, &out->rules, name, pack->files, pack->nfiles, true, e);
    if (rc == 0)
        rc = env_rules_named(l->env, more, nmore, out, e);
    return rc < 0 ? rc : ruleset_seal(out, e);
}

/* Layers that are right by themselves and contradict what they stand on, such as one that restrains a rule that nobody has: the first such go. */
static void part(struct layers *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct ruleset rs;
        struct err e = {0};

        if (!l->v[i].refused && load(l, i + 1, NULL, 0, NULL, NULL, &rs, &e) < 0)
            l->v[i].refused = arena_printf(l->env->arena, "%s", e.msg);
    }
}

static void find_all(struct layers *l)
{
    struct ruleset rs;
    struct err e = {0};

    find(l);
    for (size_t i = 0; i < l->n; i++)
        if (!l->v[i].refused)
            try_alone(l, &l->v[i]);
    if (l->n && load(l, l->n, NULL, 0, NULL, NULL, &rs, &e) < 0)
        part(l);
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].refused) {
            l->refused++;
            cli_warn(l->env->cli, "%s; its rules are not used", l->v[i].refused);
        }
}

/* Is the rule of this layer. */
static bool is_of(const struct layer *x, const struct rule *rule)
{
    size_t n = strlen(x->name);

    return slice_starts(slice_of(rule->file), x->name) && rule->file[n] == (x->pack ? '/' : '\0');
}

/* How many rules of what lies below each layer are not used any more because of it. */
static void count_replaced(struct layers *l, const struct ruleset *rs)
{
    for (size_t i = 0; i < rs->rules.n; i++)
        for (const struct rule *rule = rs->rules.v[i]; rule->replaced; rule = rule->replaced)
            for (size_t k = 0; k < l->n; k++)
                l->v[k].replacing += !l->v[k].refused && is_of(&l->v[k], rule);
}

int layers_rules(struct layers *l, const struct slice *more, size_t n, struct ruleset *out, struct err *e)
{
    int rc;

    find_all(l);
    rc = load(l, l->n, more, n, NULL, NULL, out, e);
    if (rc == 0)
        count_replaced(l, out);
    return rc;
}

int layers_rules_with(struct layers *l, const struct pack *pack, const char *name, struct ruleset *out, struct err *e)
{
    find_all(l);
    return load(l, l->n, NULL, 0, pack, name, out, e);
}

/* --- for reports --- */

const char *layers_text(const struct layers *l)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(16u << 10);

    for (size_t i = 0; i < l->n; i++) {
        const struct layer *x = &l->v[i];

        buf_printf(&b, "%s%s", b.n ? "; " : "", x->name);
        if (x->date.n)
            buf_printf(&b, " of " SLICE_FMT, SLICE_ARG(x->date));
        if (x->refused)
            buf_addz(&b, " not used");
        else
            buf_printf(&b, ", %zu rule%s", x->rules, x->rules == 1 ? "" : "s");
        if (x->replacing)
            buf_printf(&b, " (%zu in place of another)", x->replacing);
    }
    return l->n ? arena_printf(l->env->arena, "%s", buf_z(&b)) : NULL;
}

struct js *layers_json(const struct layers *l)
{
    struct js *all = js_array();

    for (size_t i = 0; i < l->n; i++) {
        const struct layer *x = &l->v[i];
        struct js *one = js_object();

        js_put(one, "kind", js_textz(slice_ends(slice_of(x->path), PACK_SUFFIX) ? "pack" : "file"));
        js_put(one, "path", js_textz(x->path));
        js_put(one, "name", x->pack ? js_text(x->pack->name) : js_null());
        js_put(one, "serial", x->pack ? js_int((int64_t)x->pack->serial) : js_null());
        js_put(one, "date", x->pack ? js_text(x->date) : js_null());
        js_put(one, "rules", js_int(x->refused ? 0 : (int64_t)x->rules));
        js_put(one, "replacing", js_int((int64_t)x->replacing));
        js_put(one, "refused", js_textz(x->refused));
        js_add(all, one);
    }
    return all;
}
