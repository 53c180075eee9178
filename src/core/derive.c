#include "core/derive.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"

void derive_set(struct facts *f, const struct row *r, const char *column, struct value v)
{
    int c = table_column(&f->schema->tables[r->table], slice_of(column));

    assert(c >= 0);
    if (v.state == VS_UNKNOWN && !v.why)
        v.why = "not known";
    r->cells[c] = v;
}

struct value derive_from(struct value v, const struct value *input)
{
    v.source = input->source;
    v.line = input->line;
    return v;
}

struct value derive_unknown(struct facts *f, const char *what, const struct value *from)
{
    return value_unknown(arena_printf(f->arena, "%s: %s", what, from->why ? from->why : "not known"));
}

const struct row *derive_row(const struct facts *f, const char *table, size_t i)
{
    unsigned t = facts_table_index(f, table);

    return i < facts_count(f, t) ? facts_at(f, t, i) : NULL;
}

void texts_add(struct texts *t, struct slice s, struct arena *a)
{
    void *v = t->v;

    for (size_t i = 0; i < t->n; i++)
        if (slice_eq(t->v[i], s))
            return;
    if (arena_grow(a, &v, t->n, &t->cap, sizeof *t->v, 100000) < 0)
        return;
    t->v = v;
    t->v[t->n++] = s;
}

static int natural(const void *a, const void *b)
{
    return natural_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

struct value texts_value(struct texts *t)
{
    if (t->n == 0)
        return value_absent();
    qsort(t->v, t->n, sizeof *t->v, natural);
    return value_list(t->v, t->n);
}

bool known_text(const struct value *v, const char *text)
{
    return v->state == VS_KNOWN && slice_eqz(v->s, text);
}

bool known_bool(const struct value *v, bool wanted)
{
    return v->state == VS_KNOWN && (v->i != 0) == wanted;
}

bool derive_ipv4(struct slice s, uint32_t *out)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < 4; i++) {
        struct slice part = slice_cut(s, 0, slice_find_char(s, 0, '.'));
        uint64_t n;

        if (part.n > 3 || num_parse_u64(part, &n) < 0 || n > 255)
            return false;
        v = v << 8 | (uint32_t)n;
        s = slice_from(s, part.n + 1);
    }
    *out = v;
    return s.n == 0;
}

/* --- esxi --- */

/* "6.5", "6.5u1", "8.0u3e"; from 9.0 on "9.0.1". */
static struct slice release_name(const struct release *r, struct arena *a)
{
    const char letter[2] = {r->letter, '\0'};

    if (r->update == 0)
        return slice_of(arena_printf(a, "%d.%d%s", r->major, r->minor, letter));
    return slice_of(arena_printf(a, "%d.%d%s%d%s", r->major, r->minor, r->major >= 9 ? "." : "u", r->update, letter));
}

/* Version, update and build must tell the same story: a rule on releases decides between help and harm. NULL when they do. */
static const char *contradiction(struct facts *f, const struct derive_env *env, const struct release *host, const struct value *const *read)
{
    struct release edge = {.major = host->major, .minor = host->minor, .update = -1};
    const struct build *b = host->build ? builds_find(env->builds, host->build) : NULL;

    for (unsigned i = 0; i < 3; i++)
        if (read[i]->conflict)
            return read[i]->why;
    if (b && (b->name.major != host->major || b->name.minor != host->minor))
        return arena_printf(f->arena, "build %llu is " SLICE_FMT ", which contradicts version " SLICE_FMT, (unsigned long long)b->number,
                            SLICE_ARG(b->title), SLICE_ARG(read[0]->s));
    if (b && b->name.update >= 0 && host->update >= 0 && b->name.update != host->update)
        return arena_printf(f->arena, "build %llu is " SLICE_FMT ", which contradicts update %d", (unsigned long long)b->number,
                            SLICE_ARG(b->title), host->update);
    for (size_t i = 0; i < env->builds->n && host->major < 7 && host->update >= 0 && !b; i++) { /* from 7.0 on updates are patched side by side */
        const struct release *later = &env->builds->v[i].name;

        if (later->major == host->major && later->minor == host->minor && later->update > host->update && host->build >= later->build)
            return arena_printf(f->arena, "build %llu is as late as " SLICE_FMT ", which contradicts update %d", (unsigned long long)host->build,
                                SLICE_ARG(env->builds->v[i].title), host->update);
    }
    edge.build = builds_first(env->builds, &edge);
    if (host->build && edge.build && host->build < edge.build)
        return arena_printf(f->arena, "build %llu is older than the first one of %d.%d", (unsigned long long)host->build, host->major, host->minor);
    return NULL;
}

static void derive_release(struct facts *f, const struct derive_env *env)
{
    const struct row *r = facts_single(f, "esxi");
    const struct value *version = facts_cell(f, r, "version"), *build = facts_cell(f, r, "build");
    const struct value *update = facts_cell(f, r, "update"), *read[] = {version, update, build};
    struct release host = {0};
    const struct build *b;
    const char *why;

    if (version->state != VS_KNOWN || release_parse(version->s, &host, NULL) < 0) {
        derive_set(f, r, "release", derive_unknown(f, "version", version));
        return;
    }
    /* the third number of the version is the update level from 7.0 on, always 0 before; the Update field says it on all */
    if (host.major < 7)
        host.update = -1;
    if (update->state == VS_KNOWN && host.major < 9)
        host.update = (int)update->i;
    if (build->state == VS_KNOWN)
        host.build = (uint64_t)build->i;
    b = host.build ? builds_find(env->builds, host.build) : NULL;
    derive_set(f, r, "released", b && b->date.n ? derive_from(value_slice(b->date), build) : value_unknown("the build is not in the table of builds"));
    why = contradiction(f, env, &host, read);
    if (why) {
        derive_set(f, r, "release", value_unknown(why));
        return;
    }
    release_complete(env->builds, &host);
    f->release = host;
    if (host.update < 0)
        derive_set(f, r, "release", value_unknown("neither the update level nor a build from which it follows is known"));
    else
        derive_set(f, r, "release", derive_from(value_slice(release_name(&host, f->arena)), build->state == VS_KNOWN ? build : version));
}

/* --- modules --- */

/* VIB names that carry a module: the module's name with dashes, perhaps behind a prefix of the vmklinux days
 * (VIB file lists of 6.7.0). */
static const char *const vib_prefixes[] = {"", "scsi-", "net-", "sata-", "ata-", "ata-pata-", "block-", "net55-", "net51-", "ehci-", "ohci-",
                                           "uhci-", "xhci-", "char-", "ima-"};

struct value derive_vib_of(struct facts *f, struct slice module)
{
    unsigned vib = facts_table_index(f, "vib");
    const struct row *hit = NULL;
    const char *why;

    for (size_t i = 0; i < sizeof vib_prefixes / sizeof *vib_prefixes; i++) {
        const struct row *r;
        char *name = arena_alloc(f->arena, strlen(vib_prefixes[i]) + module.n + 1);

        if (!name)
            break;
        memcpy(name, vib_prefixes[i], strlen(vib_prefixes[i]));
        for (size_t k = 0; k < module.n; k++)
            name[strlen(vib_prefixes[i]) + k] = module.p[k] == '_' ? '-' : module.p[k];
        r = facts_find(f, vib, slice_of(name));
        if (r && hit)
            return value_unknown("several installed VIBs could carry it by their names");
        hit = r ? r : hit;
        if (hit && i == 0)
            break;
    }
    if (hit)
        return value_slice(hit->key);
    if (facts_table(f, vib, &why) != TS_COMPLETE)
        return value_unknown(arena_printf(f->arena, "VIB list: %s", why));
    return value_unknown("no installed VIB has a name that fits");
}

static struct value api_of(struct facts *f, const struct row *m)
{
    const struct value *names = facts_cell(f, m, "namespaces"), *version = facts_cell(f, m, "version");
    unsigned map = facts_table_index(f, "driver-map");

    if (names->state == VS_KNOWN)
        return derive_from(value_slice(slice_find(names->s, 0, "driverAPI") != SIZE_MAX ? SLICE_LIT("vmklinux") : SLICE_LIT("native")), names);
    if (version->state == VS_KNOWN && slice_starts(version->s, "Version "))
        return derive_from(value_slice(SLICE_LIT("vmklinux")), version);
    if (f->release.major >= 7) /* vmklinux was removed in 7.0 (KB 78389) */
        return value_slice(SLICE_LIT("native"));
    for (size_t i = 0; i < facts_count(f, map); i++) {
        const struct row *r = facts_at(f, map, i);
        const struct value *kind = facts_cell(f, r, "kind");

        if (slice_eq(facts_cell(f, r, "driver")->s, m->key) && kind->state == VS_KNOWN)
            return derive_from(value_slice(slice_eqz(kind->s, "linux") ? SLICE_LIT("vmklinux") : SLICE_LIT("native")), kind);
    }
    return value_unknown("neither its name spaces nor its map files were read");
}

void derive_modules(struct facts *f)
{
    const struct row *m, *r;

    for (size_t i = 0; (m = derive_row(f, "module", i)); i++) {
        struct value vib = *facts_cell(f, m, "vib");
        const struct value *version = facts_cell(f, m, "version");
        const struct row *carrier;

        if (vib.state != VS_KNOWN) {
            vib = derive_vib_of(f, m->key);
            derive_set(f, m, "vib", vib);
        }
        carrier = vib.state == VS_KNOWN ? facts_find(f, facts_table_index(f, "vib"), vib.s) : NULL;
        if (carrier && facts_cell(f, carrier, "version")->state == VS_KNOWN)
            derive_set(f, m, "driver-version", *facts_cell(f, carrier, "version"));
        else if (version->state == VS_KNOWN)
            derive_set(f, m, "driver-version", derive_from(value_slice(version_undecorated(version->s)), version));
        else
            derive_set(f, m, "driver-version", derive_unknown(f, "VIB", &vib));
        derive_set(f, m, "api", api_of(f, m));
        derive_set(f, m, "in-use", value_bool(false));
    }
    for (unsigned k = 0; k < 3; k++) { /* who drives something */
        static const char *const tables[] = {"adapter", "nic", "pci"}, *const columns[] = {"driver", "driver", "module"};

        for (size_t i = 0; (r = derive_row(f, tables[k], i)); i++) {
            const struct value *v = facts_cell(f, r, columns[k]);

            m = v->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "module"), v->s) : NULL;
            if (m)
                derive_set(f, m, "in-use", derive_from(value_bool(true), v));
        }
    }
    for (size_t i = 0; (m = derive_row(f, "module", i)); i++) {
        const struct value *loaded = facts_cell(f, m, "loaded"), *enabled = facts_cell(f, m, "enabled");
        const char *why;

        if (known_bool(facts_cell(f, m, "in-use"), false) && facts_table(f, facts_table_index(f, "adapter"), &why) != TS_COMPLETE)
            derive_set(f, m, "in-use", value_unknown(arena_printf(f->arena, "adapter list: %s", why)));
        if (slice_eqz(m->key, "vmkernel") || known_bool(enabled, true) || known_bool(loaded, false)) /* vmkernel itself is listed as disabled */
            derive_set(f, m, "change-pending", derive_from(value_bool(false), enabled));
        else if (known_bool(enabled, false) && known_bool(loaded, true))
            derive_set(f, m, "change-pending", derive_from(value_bool(true), enabled));
        else
            derive_set(f, m, "change-pending",
                       derive_unknown(f, "module list", enabled->state != VS_KNOWN ? enabled : loaded));
    }
}

/* Settings print an integer and a text value; one of them counts, by the type. */
static void derive_settings(struct facts *f)
{
    static const char *const to[] = {"value", "default"}, *const ints[] = {"int-value", "int-default"},
                             *const texts[] = {"string-value", "string-default"};
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "setting", i)); i++) {
        const struct value *type = facts_cell(f, r, "type");

        for (int k = 0; k < 2; k++) {
            const struct value *n = facts_cell(f, r, ints[k]), *s = facts_cell(f, r, texts[k]);

            if (facts_cell(f, r, to[k])->state == VS_KNOWN)
                continue;
            if (known_text(type, "string")) {
                derive_set(f, r, to[k], *s);
            } else if (known_text(type, "integer") && n->state == VS_KNOWN) {
                struct value v = *n;

                v.s = slice_of(arena_printf(f->arena, "%lld", (long long)n->i));
                derive_set(f, r, to[k], v);
            } else {
                derive_set(f, r, to[k], derive_unknown(f, "type or value", type->state != VS_KNOWN ? type : n));
            }
        }
    }
}

/* Each adapter has a driver: one that is printed without was not printed whole. A NIC may be without one. */
static void distrust_no_driver(struct facts *f)
{
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "adapter", i)); i++)
        if (facts_cell(f, r, "driver")->state == VS_ABSENT)
            derive_set(f, r, "driver", value_unknown("printed as none, and each has one"));
}

/* A path's runtime name begins with its adapter. */
static void distrust_paths(struct facts *f)
{
    const struct row *p;

    for (size_t i = 0; (p = derive_row(f, "path", i)); i++) {
        const struct value *name = facts_cell(f, p, "runtime-name"), *adapter = facts_cell(f, p, "adapter");

        if (name->state == VS_KNOWN && adapter->state == VS_KNOWN && !slice_eq(slice_cut(name->s, 0, slice_find_char(name->s, 0, ':')), adapter->s))
            derive_set(f, p, "adapter", value_unknown(arena_printf(f->arena, "its runtime name is " SLICE_FMT ", its adapter " SLICE_FMT,
                                                                   SLICE_ARG(name->s), SLICE_ARG(adapter->s))));
    }
}

void derive_all(struct facts *f, const struct derive_env *env)
{
    facts_sort(f);
    distrust_no_driver(f);
    distrust_paths(f);
    derive_release(f, env);
    derive_settings(f);
    derive_modules(f);
    derive_storage(f);
    derive_pci(f, env);
    derive_network(f);
    derive_firmware(f);
    derive_host(f, env);
    derive_servers(f);
    derive_health(f);
}
