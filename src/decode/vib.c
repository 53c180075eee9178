#include "decode/vib.h"

#include "base/buf.h"
#include "base/xml.h"

#define MAX_DEPTH 8u

struct reading {
    struct xml *x;
    struct arena *a;
    struct vib_descriptor *d;
    const char *path[MAX_DEPTH]; /* names of the open elements; deeper ones are counted only */
    unsigned depth;
    size_t cap[5];
    bool full;
};

static struct slice kept(struct reading *r, struct slice s)
{
    struct slice copy = arena_dup(r->a, slice_trim(s));

    r->full |= !copy.p;
    return copy;
}

static void relation(struct reading *r, struct vib_relation **v, size_t *n, size_t *cap)
{
    struct vib_relation x = {.name = {NULL, 0}};
    void *grown = *v;
    struct slice s;

    if (!xml_attr(r->x, "name", &s))
        return;
    x.name = kept(r, s);
    if (xml_attr(r->x, "relation", &s))
        x.relation = kept(r, s);
    if (xml_attr(r->x, "version", &s))
        x.version = kept(r, s);
    if (arena_grow(r->a, &grown, *n, cap, sizeof **v, VIB_MAX_RELATIONS) < 0) {
        r->full = true;
        return;
    }
    *v = grown;
    (*v)[(*n)++] = x;
}

static bool inside(const struct reading *r, unsigned at, const char *name)
{
    return r->depth > at && at < MAX_DEPTH && strcmp(r->path[at], name) == 0;
}

static void on_open(struct reading *r)
{
    struct vib_descriptor *d = r->d;
    void *grown = d->payloads;
    struct slice name, type = {NULL, 0};

    if (r->depth == 4 && inside(r, 1, "relationships") && inside(r, 3, "constraint")) {
        if (inside(r, 2, "depends"))
            relation(r, &d->depends, &d->ndepends, &r->cap[0]);
        else if (inside(r, 2, "conflicts"))
            relation(r, &d->conflicts, &d->nconflicts, &r->cap[1]);
        else if (inside(r, 2, "replaces"))
            relation(r, &d->replaces, &d->nreplaces, &r->cap[2]);
    }
    if (r->depth == 3 && inside(r, 1, "payloads") && inside(r, 2, "payload") && xml_attr(r->x, "name", &name)) {
        name = kept(r, name);
        if (xml_attr(r->x, "type", &type))
            type = kept(r, type);
        if (arena_grow(r->a, &grown, d->npayloads, &r->cap[3], sizeof *d->payloads, VIB_MAX_RELATIONS) < 0) {
            r->full = true;
            return;
        }
        d->payloads = grown;
        d->payloads[d->npayloads++] = (struct vib_payload){name, type};
    }
}

static void flag(enum vib_flag *f, struct slice text)
{
    *f = slice_ieq(text, SLICE_LIT("true")) ? VIB_YES : slice_ieq(text, SLICE_LIT("false")) ? VIB_NO : VIB_NOT_SAID;
}

static const char *level_of(struct slice text)
{
    static const char *const levels[][2] = {{"certified", "VMwareCertified"}, {"accepted", "VMwareAccepted"}, {"partner", "PartnerSupported"},
                                            {"community", "CommunitySupported"}};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (slice_ieq(text, slice_of(levels[i][0])))
            return levels[i][1];
    return NULL;
}

static void on_text(struct reading *r)
{
    struct vib_descriptor *d = r->d;
    struct slice text = slice_trim(xml_text(r->x));
    void *grown = d->files;

    if (r->depth == 2) {
        const struct {
            const char *name;
            struct slice *to;
        } t[] = {{"name", &d->name}, {"version", &d->version}, {"vendor", &d->vendor}, {"summary", &d->summary}};

        for (size_t i = 0; i < sizeof t / sizeof *t; i++)
            if (inside(r, 1, t[i].name))
                *t[i].to = kept(r, text);
        if (inside(r, 1, "acceptance-level"))
            d->level = level_of(text);
        if (inside(r, 1, "live-install-allowed"))
            flag(&d->live_install, text);
        if (inside(r, 1, "live-remove-allowed"))
            flag(&d->live_remove, text);
    }
    if (r->depth == 3 && inside(r, 1, "system-requires") && inside(r, 2, "maintenance-mode"))
        flag(&d->maintenance, text);
    if (r->depth == 3 && inside(r, 1, "file-list") && inside(r, 2, "file")) {
        if (arena_grow(r->a, &grown, d->nfiles, &r->cap[4], sizeof *d->files, VIB_MAX_FILES) < 0) {
            r->full = true;
            return;
        }
        d->files = grown;
        while (text.n && text.p[0] == '/')
            text = slice_from(text, 1);
        d->files[d->nfiles++] = kept(r, text);
    }
}

int vib_descriptor(struct slice xml, const char *name, struct arena *a, struct vib_descriptor *out, struct err *e)
{
    _cleanup_(xml_close) struct xml *x = xml_open(xml, name, e);
    struct reading r = {.x = x, .a = a, .d = out};
    enum xml_event ev = XML_END;
    uint32_t line;

    *out = (struct vib_descriptor){.level = NULL};
    if (!x)
        return e->code;
    while (!r.full && (ev = xml_next(x)) > XML_END)
        if (ev == XML_OPEN) {
            if (r.depth == 0 && strcmp(xml_name(x), "vib") != 0)
                return err_set(e, VF_EFORMAT, "%s: not a VIB's descriptor: it begins with <%s>", name, xml_name(x));
            if (r.depth < MAX_DEPTH)
                r.path[r.depth] = xml_name(x);
            r.depth++;
            on_open(&r);
        } else if (ev == XML_CLOSE)
            r.depth--;
        else
            on_text(&r);
    if (r.full)
        return err_set(e, VF_ELIMIT, "%s: more than a VIB's descriptor may hold", name);
    if (ev == XML_BROKEN) {
        const char *why = xml_error(x, &line);

        return err_set(e, VF_EFORMAT, "%s:%u: %s", name, line, why);
    }
    if (out->name.n == 0 || out->version.n == 0)
        return err_set(e, VF_EFORMAT, "%s: the descriptor has no %s", name, out->name.n ? "version" : "name");
    return 0;
}

/* --- ar --- */

#define AR_MAGIC  "!<arch>\n"
#define AR_HEADER 60u

bool ar_is(struct slice in)
{
    return slice_starts(in, AR_MAGIC);
}

static struct slice unpadded(struct slice s)
{
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\0'))
        s.n--;
    return s;
}

int ar_next(struct slice in, size_t *at, struct ar_member *out, struct err *e)
{
    struct slice header;
    uint64_t size;

    if (!ar_is(in))
        return err_set(e, VF_EFORMAT, "not an ar archive");
    if (*at == 0)
        *at = sizeof AR_MAGIC - 1;
    if (*at >= in.n)
        return 0;
    header = slice_cut(in, *at, AR_HEADER);
    if (header.n < AR_HEADER || header.p[58] != '`' || header.p[59] != '\n' || num_parse_u64(unpadded(slice_cut(header, 48, 10)), &size) < 0)
        return err_set(e, VF_EFORMAT, "the header at byte %zu is damaged", *at);
    *out = (struct ar_member){.name = unpadded(slice_cut(header, 0, 16)), .body = slice_from(in, *at + AR_HEADER)};
    if (out->name.n > 1 && out->name.p[out->name.n - 1] == '/')
        out->name.n--;
    out->cut = out->body.n < size;
    out->body = slice_cut(out->body, 0, (size_t)size);
    *at = out->cut ? in.n : *at + AR_HEADER + (size_t)size + (size & 1);
    return 1;
}

/* --- tar and vmtar --- */

#define BLOCK 512u

static int octal(struct slice s, uint64_t *out)
{
    bool any = false;

    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ' ' && !any)
            continue;
        if (s.p[i] < '0' || s.p[i] > '7')
            return any && (s.p[i] == '\0' || s.p[i] == ' ') ? 0 : -1;
        *out = *out * 8 + (uint64_t)(s.p[i] - '0');
        any = true;
    }
    return any ? 0 : -1;
}

static size_t little(struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.p;

    return (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

static struct slice until_nul(struct slice s)
{
    size_t n = slice_find_char(s, 0, '\0');

    return slice_cut(s, 0, n == SIZE_MAX ? s.n : n);
}

static bool zeros(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i])
            return false;
    return true;
}

static bool checksum_fits(struct slice header)
{
    uint64_t said, sum = 0;

    if (octal(slice_cut(header, 148, 8), &said) < 0)
        return false;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : (unsigned char)header.p[i];
    return sum == said;
}

static struct slice name_of(struct slice header, bool visor, struct arena *a)
{
    struct slice name = until_nul(slice_cut(header, 0, 100)), prefix = until_nul(slice_cut(header, 345, visor ? 151 : 155));
    struct slice s = prefix.n ? slice_of(arena_printf(a, SLICE_FMT "/" SLICE_FMT, SLICE_ARG(prefix), SLICE_ARG(name))) : arena_dup(a, name);

    for (;;)
        if (slice_starts(s, "./"))
            s = slice_from(s, 2);
        else if (slice_starts(s, "/"))
            s = slice_from(s, 1);
        else
            return s;
}

int tar_next(struct slice in, struct tar_walk *w, struct arena *a, struct tar_file *out)
{
    for (;;) {
        struct slice header = slice_cut(in, w->at, BLOCK);
        size_t offset;
        uint64_t size;
        bool visor;
        char type;

        if (header.n < BLOCK)
            return 0;
        visor = slice_starts(slice_from(header, 257), "visor ");
        if (zeros(header) || (w->visor && !visor)) {
            w->whole = true;
            return 0;
        }
        if ((!visor && (!slice_starts(slice_from(header, 257), "ustar") || !checksum_fits(header))) || octal(slice_cut(header, 124, 12), &size) < 0)
            return 0;
        type = header.p[156];
        w->visor |= visor;
        offset = visor ? little(slice_from(header, 496)) : 0;
        w->at += BLOCK;
        if (offset == 0) {
            offset = w->at;
            size_t padded = ((size_t)size + BLOCK - 1) / BLOCK * BLOCK;

            w->at = padded > in.n - offset ? in.n : offset + padded;
        }
        if (type != '0' && type != '\0')
            continue;
        *out = (struct tar_file){.name = name_of(header, visor, a), .body = slice_cut(slice_from(in, offset), 0, (size_t)size)};
        out->cut = out->body.n < size;
        return out->name.p ? 1 : 0;
    }
}
