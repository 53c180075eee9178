#include "collect/vibfile.h"

#include "base/archive.h"
#include "base/fsx.h"
#include "core/version.h"
#include "decode/decode.h"

#define MAX_VIBS    2000u
#define MAX_LINES   100000u
#define MAX_MODULES 4096u
#define MAP_FOLDERS 4u

struct reading {
    struct arena *a;
    struct vibs *out;
    const char *path;
    bool inner;
    struct archive_budget *budget;
};

struct filling {
    struct arena *a;
    struct vib *vib;
    struct slice *modules;
    struct driver_line *lines;
    size_t modules_cap, lines_cap;
};

static int no_room(const char *from, struct err *e)
{
    return err_set(e, VF_ELIMIT, "%s: its VIBs do not fit into memory", from);
}

static struct slice text_of(const struct record *r, const char *key)
{
    for (uint32_t i = 0; i < r->nfields; i++)
        if (slice_eqz(r->fields[i].key, key))
            return r->fields[i].damage ? slice_of("") : r->fields[i].text;
    return slice_of("");
}

static void incomplete(struct filling *f, const char *why)
{
    if (!f->vib->package.why)
        f->vib->package.why = why;
}

static int add_map(struct filling *f, const struct tar_file *file, struct err *e)
{
    const char *name = arena_printf(f->a, SLICE_FMT, SLICE_ARG(file->name));
    struct decode_opt o = {.name = name, .cut = file->cut};
    struct decoded d;

    if (!name || decode_map(file->body, &o, f->a, &d) < 0)
        return no_room(f->vib->from, e);
    if (d.state != DECODE_COMPLETE)
        incomplete(f, arena_printf(f->a, "its map file %s could not be read whole: %s", name, d.why));
    for (size_t i = 0; i < d.n; i++) {
        struct slice driver = text_of(&d.records[i], "driver"), id = text_of(&d.records[i], "id");
        void *grown = f->lines;

        if (!slice_eqz(text_of(&d.records[i], "bus"), "pci") || driver.n == 0 || id.n == 0)
            continue;
        if (arena_grow(f->a, &grown, f->vib->package.nlines, &f->lines_cap, sizeof *f->lines, MAX_LINES) < 0)
            return no_room(f->vib->from, e);
        f->lines = grown;
        f->lines[f->vib->package.nlines++] = (struct driver_line){.module = arena_dup(f->a, driver),
                                                                  .vib = f->vib->descriptor.name,
                                                                  .pattern = arena_dup(f->a, id),
                                                                  .vmklinux = slice_eqz(text_of(&d.records[i], "regtype"), "linux")};
    }
    return 0;
}

/* usr/lib/vmware/vmkmod/NAME is a module; in some VIBs NAME ends with .vmkmod or .o. */
static int add_module(struct filling *f, struct slice path, struct err *e)
{
    struct slice name = slice_from(path, sizeof "usr/lib/vmware/vmkmod/" - 1);
    void *grown = f->modules;

    if (name.n == 0 || slice_find_char(name, 0, '/') != SIZE_MAX || slice_among(f->modules, f->vib->package.nmodules, name))
        return 0;
    if (arena_grow(f->a, &grown, f->vib->package.nmodules, &f->modules_cap, sizeof *f->modules, MAX_MODULES) < 0)
        return no_room(f->vib->from, e);
    f->modules = grown;
    f->modules[f->vib->package.nmodules++] = arena_dup(f->a, name);
    return 0;
}

static bool is_module(struct slice path)
{
    return slice_starts(path, "usr/lib/vmware/vmkmod/");
}

static bool is_map(struct slice path)
{
    static const char *const folders[MAP_FOLDERS] = {"default.map.d/", "driver.map.d/", "ihv.map.d/", "oem.map.d/"};

    if (!slice_starts(path, "etc/vmware/") || !slice_ends(path, ".map"))
        return false;
    for (size_t i = 0; i < MAP_FOLDERS; i++)
        if (slice_starts(slice_from(path, sizeof "etc/vmware/" - 1), folders[i]))
            return true;
    return false;
}

static bool is_packed(struct slice in)
{
    return slice_starts(in, "\x1f\x8b") || (in.n >= 6 && memcmp(in.p, "\xfd" "7zXZ", 6) == 0);
}

static int add_payload(struct filling *f, const struct ar_member *m, struct err *e)
{
    struct slice body = m->body;
    struct tar_walk w = {.at = 0};
    struct tar_file file;
    bool cut = m->cut;
    const char *name = arena_printf(f->a, "%s: payload " SLICE_FMT, f->vib->from, SLICE_ARG(m->name));

    for (unsigned depth = 0; depth < 2 && is_packed(body); depth++) { /* gzip around xz is seen in base images */
        struct err why = {0};
        bool ends;

        if (archive_gunzip(body, name, VIBFILE_MAX, f->a, &body, &ends, &why) < 0) {
            if (why.code == VF_ELIMIT)
                return no_room(f->vib->from, e);
            incomplete(f, arena_printf(f->a, "%s", why.msg));
            return 0;
        }
        cut |= ends;
    }
    if (!(body.n >= 512 && (slice_starts(slice_from(body, 257), "visor ") || slice_starts(slice_from(body, 257), "ustar")))) {
        if (!m->cut && !cut && body.n && !is_module(m->name))
            return 0; /* the boot files of a base image, and the like: no archive */
        incomplete(f, arena_printf(f->a, "its payload " SLICE_FMT " is cut", SLICE_ARG(m->name)));
        return 0;
    }
    while (tar_next(body, &w, f->a, &file) > 0) {
        if (is_module(file.name) && add_module(f, file.name, e) < 0)
            return e->code;
        if (is_map(file.name) && add_map(f, &file, e) < 0)
            return e->code;
    }
    if (arena_full(f->a))
        return no_room(f->vib->from, e);
    if (!w.whole || cut)
        incomplete(f, arena_printf(f->a, "its payload " SLICE_FMT " is cut", SLICE_ARG(m->name)));
    return 0;
}

static bool payload_named(const struct vib_descriptor *d, struct slice name)
{
    for (size_t i = 0; i < d->npayloads; i++)
        if (slice_eq(d->payloads[i].name, name))
            return true;
    return false;
}

/* What the descriptor's own list of files says and the payloads did not hold. */
static int compare_file_list(struct filling *f, size_t seen, struct err *e)
{
    const struct vib_descriptor *d = &f->vib->descriptor;
    bool maps = false;

    if (seen < d->npayloads)
        incomplete(f, arena_printf(f->a, "it holds %zu of its %zu payloads", seen, d->npayloads));
    for (size_t i = 0; i < d->nfiles; i++) {
        if (is_module(d->files[i]) && add_module(f, d->files[i], e) < 0)
            return e->code;
        maps |= is_map(d->files[i]);
    }
    if (maps && f->vib->package.nlines == 0)
        incomplete(f, "its list of files names map files, and none of them could be read");
    return 0;
}

static int keep_newest(struct reading *r, const struct vib *v, struct err *e)
{
    void *grown = r->out->v;
    int order;

    for (size_t i = 0; i < r->out->n; i++)
        if (slice_eq(r->out->v[i].descriptor.name, v->descriptor.name)) {
            if (version_order(v->descriptor.version, r->out->v[i].descriptor.version, SCHEME_VIB, &order) < 0)
                return err_set(e, VF_EUSAGE, "%s and %s: both are " SLICE_FMT ", and which is newer is not known: name one", v->from, r->out->v[i].from,
                               SLICE_ARG(v->descriptor.name));
            if (order > 0)
                r->out->v[i] = *v;
            return 0;
        }
    if (arena_grow(r->a, &grown, r->out->n, &r->out->cap, sizeof *r->out->v, MAX_VIBS) < 0)
        return no_room(v->from, e);
    r->out->v = grown;
    r->out->v[r->out->n++] = *v;
    return 0;
}

static int add_vib(struct reading *r, const char *from, struct slice bytes, bool cut, struct err *e)
{
    struct vib v = {.from = from};
    struct filling f = {.a = r->a, .vib = &v};
    struct ar_member m;
    size_t at = 0, seen = 0;
    bool described = false;
    int rc;

    if (!from)
        return no_room(r->path, e);
    if (cut)
        return bytes.n < VIBFILE_MAX ? err_set(e, VF_EFORMAT, "%s: it is cut", from)
                                     : err_set(e, VF_ELIMIT, "%s: larger than %u MiB", from, VIBFILE_MAX >> 20);
    while ((rc = ar_next(bytes, &at, &m, e)) > 0) {
        if (slice_eqz(m.name, "descriptor.xml")) {
            if (described || m.cut)
                return err_set(e, VF_EFORMAT, "%s: %s", from, described ? "two descriptors" : "its descriptor is cut");
            if (vib_descriptor(m.body, arena_printf(r->a, "%s: descriptor.xml", from), r->a, &v.descriptor, e) < 0)
                return e->code;
            described = true;
        } else if (!described)
            return err_set(e, VF_EFORMAT, "%s: not a VIB: it begins with \"" SLICE_FMT "\", not with descriptor.xml", from, SLICE_ARG(m.name));
        else if (payload_named(&v.descriptor, m.name)) {
            if (add_payload(&f, &m, e) < 0)
                return e->code;
            seen++;
        }
    }
    if (rc < 0 && !described)
        return err_ctx(e, "%s: not a VIB", from);
    if (!described)
        return err_set(e, VF_EFORMAT, "%s: not a VIB: an empty archive", from);
    if (rc < 0)
        incomplete(&f, arena_printf(r->a, "%s", e->msg));
    if (compare_file_list(&f, seen, e) < 0)
        return e->code;
    if (slice_eqz(v.descriptor.name, "esx-base"))
        return err_set(e, VF_EUNSUPPORTED, "%s: this is an image of ESXi, not a driver: see --upgrade-to", from);
    v.package.name = v.descriptor.name;
    v.package.version = v.descriptor.version;
    v.package.modules = f.modules;
    v.package.lines = f.lines;
    if (v.descriptor.nreplaces) {
        struct slice *names = arena_array(r->a, v.descriptor.nreplaces, sizeof *names);

        for (size_t i = 0; names && i < v.descriptor.nreplaces; i++)
            names[i] = v.descriptor.replaces[i].name;
        v.package.replaces = names;
        v.package.nreplaces = names ? v.descriptor.nreplaces : 0;
    }
    if (arena_full(r->a))
        return no_room(from, e);
    return keep_newest(r, &v, e);
}

static bool is_bundle(struct slice path)
{
    return slice_iends(path, ".zip") && !slice_iends(path, "metadata.zip");
}

static enum archive_want wanted(void *ctx, const char *path)
{
    const struct reading *r = ctx;

    if (slice_iends(slice_of(path), ".vib"))
        return ARCHIVE_KEEP;
    return !r->inner && is_bundle(slice_of(path)) ? ARCHIVE_INNER : ARCHIVE_SKIP;
}

static int on_file(void *ctx, const char *path, struct slice body, bool cut, struct err *e);

static int walk(struct reading *r, const char *path, const struct slice *bytes, struct err *e)
{
    const struct archive_visit v = {.ctx = r, .want = wanted, .file = on_file, .max_file = VIBFILE_MAX, .max_inner = VIBFILE_MAX, .budget = r->budget};
    struct archive_summary s;
    int rc = bytes ? archive_walk_bytes(*bytes, path, &v, &s, e) : archive_walk(path, &v, &s, e);

    if (rc == 0 && s.truncated)
        return err_set(e, VF_EFORMAT, "%s: %s", path, s.why);
    return rc;
}

static int on_file(void *ctx, const char *path, struct slice body, bool cut, struct err *e)
{
    struct reading *r = ctx, inner = *r;
    const char *from = arena_printf(r->a, "%s: %s", r->path, path);

    if (!is_bundle(slice_of(path)))
        return add_vib(r, from, arena_dup(r->a, body), cut, e);
    if (cut || !from)
        return err_set(e, VF_ELIMIT, "%s: %s is larger than %u MiB, or cut", r->path, path, VIBFILE_MAX >> 20);
    inner.inner = true;
    inner.path = from;
    return walk(&inner, from, &body, e);
}

int vibfile_read(const char *path, struct arena *a, struct vibs *out, struct err *e)
{
    struct archive_budget budget = {0};
    struct reading r = {.a = a, .out = out, .path = path, .budget = &budget};
    size_t before = out->n;
    struct slice bytes;
    bool cut;
    int rc;

    if (fsx_read(path, 16, a, &bytes, &cut, e) < 0)
        return e->code;
    if (ar_is(bytes)) {
        if (fsx_read(path, VIBFILE_MAX, a, &bytes, &cut, e) < 0)
            return e->code;
        return add_vib(&r, path, bytes, cut, e);
    }
    if (!slice_starts(bytes, "PK\x03\x04"))
        return err_set(e, VF_EFORMAT, "%s: neither a .vib nor an offline bundle (.zip)", path);
    rc = walk(&r, path, NULL, e);
    if (rc == 0 && out->n == before)
        return err_set(e, VF_EFORMAT, "%s: no .vib in this .zip: an offline bundle has them in vib20/NAME/", path);
    return rc;
}
