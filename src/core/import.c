#include "core/import.h"

#include <time.h>

#include "base/csv.h"
#include "base/json.h"
#include "base/xml.h"
#include "core/rule.h"

#define MAX_PAIRS   500000u /* vSAN's list has some 60,000 */
#define MAX_DEVICES 20000u
#define MAX_ROWS_OF_ONE 5000u /* in a list, of one device: each is compared with each */

static const struct slice nothing = {NULL, 0};

/* Can the text stand in a rule: no control characters, no '|', which parts alternatives, and blanks only where they may be. */
static bool usable(struct slice s, bool blanks)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127 || s.p[i] == '|' || (s.p[i] == ' ' && !blanks))
            return false;
    return s.n < 200;
}

static int add(struct pairs *p, struct arena *a, struct pair pair, struct err *e)
{
    void *v = p->v;

    if (pair.driver.n == 0 || !usable(pair.driver, false) || !usable(pair.version, false) || !usable(pair.firmware, true) || !usable(pair.note, true)) {
        p->unusable++;
        return 0;
    }
    if (arena_grow(a, &v, p->n, &p->cap, sizeof *p->v, MAX_PAIRS) < 0)
        return err_set(e, VF_ELIMIT, "more pairs than there is room for (%u)", MAX_PAIRS);
    p->v = v;
    p->v[p->n++] = pair;
    return 0;
}

/* Four hexadecimal digits in lower case; false when it is something else. A leading 0x is taken off, leading noughts are added. */
static bool hex4(struct slice s, char *to)
{
    s = slice_trim(s);
    if (slice_starts(s, "0x") || slice_starts(s, "0X"))
        s = slice_from(s, 2);
    if (s.n == 0 || s.n > 4)
        return false;
    memset(to, '0', 4 - s.n);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i] >= 'A' && s.p[i] <= 'F' ? (char)(s.p[i] + 32) : s.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        to[4 - s.n + i] = c;
    }
    return true;
}

/* vendor:device, with the subsystem where it is given; empty when the ids are not such. */
static struct slice id_of(struct arena *a, struct slice vid, struct slice did, struct slice svid, struct slice ssid)
{
    char v[4], d[4], sv[4], sd[4];

    if (!hex4(vid, v) || !hex4(did, d))
        return nothing;
    if (slice_blank(svid) && slice_blank(ssid))
        return slice_of(arena_printf(a, "%.4s:%.4s", v, d));
    if (!hex4(svid, sv) || !hex4(ssid, sd))
        return nothing;
    return slice_of(arena_printf(a, "%.4s:%.4s:%.4s:%.4s", v, d, sv, sd));
}

/* "ESXi 8.0 U2" or "8.0u2" as rules write it; "ESXi 8.0" is that line's first release up to 8, the whole line from 9. Empty when it is none. */
static struct slice release_of(struct arena *a, struct slice text)
{
    struct slice rest = text, word;
    char form[32];
    size_t n = 0;
    struct release r;

    while (slice_next_word(&rest, " ", &word)) {
        if (slice_ieq(word, SLICE_LIT("ESXi")) || slice_ieq(word, SLICE_LIT("ESX")) || slice_ieq(word, SLICE_LIT("vSphere")))
            continue;
        if (slice_ieq(word, SLICE_LIT("Update")))
            word = SLICE_LIT("u");
        if (n + word.n >= sizeof form)
            return nothing;
        for (size_t i = 0; i < word.n; i++)
            form[n++] = word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] + 32) : word.p[i];
    }
    if (release_parse((struct slice){form, n}, &r, NULL) < 0)
        return nothing;
    return slice_of(arena_printf(a, "%.*s%s", (int)n, form, r.update < 0 && !r.letter && r.major < 9 ? "u0" : ""));
}

static int add_release(struct pairs *p, struct slice release)
{
    if (slice_among(p->releases, p->nreleases, release))
        return 0;
    if (p->nreleases == sizeof p->releases / sizeof *p->releases)
        return -1;
    p->releases[p->nreleases++] = release;
    return 0;
}

static struct slice date_of(struct arena *a, int64_t seconds)
{
    time_t t = (time_t)seconds;
    struct tm tm;
    char text[16];

    if (seconds <= 0 || !gmtime_r(&t, &tm) || strftime(text, sizeof text, "%Y-%m-%d", &tm) != 10)
        return nothing;
    return arena_dup(a, slice_of(text));
}

/* --- vSAN's list: releases, in each drivers, in each versions, in each firmwares --- */

struct hcl {
    struct pairs *out;
    struct arena *a;
    struct err *e;
    const char *name;
    struct pair pair; /* as far as it is known at this depth */
};

static int hcl_version(void *ctx, struct slice key, const struct js *v)
{
    struct hcl *h = ctx;
    const struct js *firmwares = js_get(v, "firmwares");
    bool any = false;

    h->pair.version = arena_dup(h->a, key);
    h->pair.note = slice_eqz(js_as_text(js_get(v, "type")), "inbox") ? SLICE_LIT("inbox") : nothing;
    for (size_t i = 0; firmwares && i < js_count(firmwares); i++) {
        struct slice f = slice_trim(js_as_text(js_get(js_at(firmwares, i), "firmware")));

        if (f.n == 0 || slice_ieq(f, SLICE_LIT("N/A")))
            continue;
        h->pair.firmware = arena_dup(h->a, f);
        if (add(h->out, h->a, h->pair, h->e) < 0)
            return h->e->code;
        any = true;
    }
    h->pair.firmware = nothing;
    return any ? 0 : add(h->out, h->a, h->pair, h->e);
}

static int hcl_driver(void *ctx, struct slice key, const struct js *v)
{
    struct hcl *h = ctx;

    if (js_kind(v) != JS_OBJECT) /* vsanSupport stands beside the drivers */
        return 0;
    h->pair.driver = arena_dup(h->a, key);
    return js_each(v, hcl_version, h);
}

static int hcl_release(void *ctx, struct slice key, const struct js *v)
{
    struct hcl *h = ctx;

    h->pair.release = release_of(h->a, key);
    if (h->pair.release.n == 0)
        return err_set(h->e, VF_EFORMAT, "%s: \"" SLICE_FMT "\" is no release of ESXi", h->name, SLICE_ARG(key));
    if (add_release(h->out, h->pair.release) < 0)
        return err_set(h->e, VF_ELIMIT, "%s: more releases than there are", h->name);
    return js_kind(v) == JS_OBJECT ? js_each(v, hcl_driver, h) : 0;
}

static struct slice link_of(struct arena *a, struct slice s)
{
    return (slice_starts(s, "https://") || slice_starts(s, "http://")) && usable(s, false) ? arena_dup(a, s) : nothing;
}

static int hcl_device(struct hcl *h, const struct js *device)
{
    const struct js *releases = js_get(device, "releases");

    h->pair = (struct pair){.id = id_of(h->a, js_as_text(js_get(device, "vid")), js_as_text(js_get(device, "did")), js_as_text(js_get(device, "svid")),
                                        js_as_text(js_get(device, "ssid"))),
                            .link = link_of(h->a, js_as_text(js_get(device, "vcglink")))};
    if (h->pair.id.n == 0) {
        h->out->without_id++;
        return 0;
    }
    return releases && js_kind(releases) == JS_OBJECT ? js_each(releases, hcl_release, h) : 0;
}

int import_vsan_hcl(struct slice json, const char *name, struct arena *a, struct pairs *out, struct err *e)
{
    static const char *const kinds[] = {"controller", "nic", "ssd", "hdd"};
    _cleanup_(js_free) struct js *doc = js_parse(json, name, e);
    const struct js *data, *listed;
    struct hcl h = {.out = out, .a = a, .e = e, .name = name};
    size_t devices = 0;

    if (!doc)
        return e->code;
    *out = (struct pairs){.name = SLICE_LIT("vSAN compatibility list"), .link = SLICE_LIT("https://vvs.broadcom.com/service/vsan/all.json"),
                          .id_prefix = SLICE_LIT("vsan-hcl"), .vsan = true};
    data = js_get(doc, "data");
    if (js_kind(doc) != JS_OBJECT || !data || js_kind(data) != JS_OBJECT)
        return err_set(e, VF_EFORMAT, "%s: no object \"data\" in it; this is not vSAN's all.json", name);
    out->date = date_of(a, js_as_int(js_get(doc, "timestamp")));
    listed = js_get(doc, "supportedReleases");
    for (size_t i = 0; listed && i < js_count(listed); i++) {
        struct slice r = release_of(a, js_as_text(js_at(listed, i)));

        if (r.n && add_release(out, r) < 0)
            return err_set(e, VF_ELIMIT, "%s: more releases than there are", name);
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct js *list = js_get(data, kinds[k]);

        for (size_t i = 0; list && i < js_count(list); i++, devices++)
            if (hcl_device(&h, js_at(list, i)) < 0)
                return e->code;
    }
    if (devices == 0)
        return err_set(e, VF_EFORMAT, "%s: no controllers, NICs or disks in it; this is not vSAN's all.json", name);
    return arena_full(a) ? err_set(e, VF_ELIMIT, "%s: more than there is room for", name) : 0;
}

/* --- a table --- */

enum pair_column { COL_PCI, COL_VID, COL_DID, COL_SVID, COL_SSID, COL_DRIVER, COL_VERSION, COL_FIRMWARE, COL_RELEASE, COL_NOTE, COL_LINK, COL_DATE, NCOLS };

static const char *const spellings[NCOLS][4] = {
    {"pci", "pci-id", "id"}, {"vid", "vendor-id"}, {"did", "device-id"}, {"svid", "subvendor-id"}, {"ssid", "subdevice-id"},
    {"driver", "driver-name"}, {"driver-version"}, {"firmware", "firmware-version"}, {"release", "esxi", "esxi-release", "esxi-version"},
    {"note", "comment"}, {"link", "source", "url"}, {"date", "reviewed"},
};

static struct slice cell(const struct csv *c, const int *columns, enum pair_column k)
{
    return columns[k] < 0 ? nothing : c->fields[columns[k]];
}

static int csv_row(const struct csv *c, const int *columns, struct arena *a, struct pairs *out, struct err *e)
{
    struct slice pci = cell(c, columns, COL_PCI), release = cell(c, columns, COL_RELEASE), date = cell(c, columns, COL_DATE), ids[4], rest = pci;
    struct pair p = {.driver = cell(c, columns, COL_DRIVER), .version = cell(c, columns, COL_VERSION), .firmware = cell(c, columns, COL_FIRMWARE),
                     .note = cell(c, columns, COL_NOTE), .link = cell(c, columns, COL_LINK)};

    if (c->nfields < c->nheader) /* an empty firmware or release says "any": it has to be meant */
        return err_set(e, VF_EFORMAT, "%s:%u: %u fields where the header names %u: the row is cut, or commas of empty fields are missing", c->name,
                       c->line, c->nfields, c->nheader);
    if (pci.n == 0)
        pci = SLICE_LIT("vid, did, svid, ssid");
    for (unsigned i = 0; i < 4; i++)
        ids[i] = columns[COL_PCI] < 0 ? cell(c, columns, (enum pair_column)(COL_VID + i)) : slice_next_word(&rest, ":", &ids[i]) ? ids[i] : nothing;
    p.id = rest.n ? nothing : id_of(a, ids[0], ids[1], ids[2], ids[3]);
    if (p.id.n == 0)
        return err_set(e, VF_EFORMAT, "%s:%u: the device is written 8086:1572 or 1000:005d:1028:1f49, not \"" SLICE_FMT "\"", c->name, c->line,
                       SLICE_ARG(pci));
    if (release.n && (p.release = release_of(a, release)).n == 0)
        return err_set(e, VF_EFORMAT, "%s:%u: a release is written 8.0u3 or ESXi 8.0 U3, not \"" SLICE_FMT "\"", c->name, c->line, SLICE_ARG(release));
    if (p.driver.n == 0 || (p.version.n == 0 && p.firmware.n == 0))
        return err_set(e, VF_EFORMAT, "%s:%u: a pair wants a driver, and its version or the firmware's", c->name, c->line);
    if (date.n && !rule_date(date))
        return err_set(e, VF_EFORMAT, "%s:%u: a date is written 2026-11-30, not \"" SLICE_FMT "\"", c->name, c->line, SLICE_ARG(date));
    if (p.link.n && !slice_starts(p.link, "https://") && !slice_starts(p.link, "http://"))
        return err_set(e, VF_EFORMAT, "%s:%u: a link begins with https://, not \"" SLICE_FMT "\"", c->name, c->line, SLICE_ARG(p.link));
    if (slice_cmp(date, out->date) > 0)
        out->date = arena_dup(a, date);
    if (p.release.n && add_release(out, p.release) < 0)
        return err_set(e, VF_ELIMIT, "%s: more releases than there are", c->name);
    return add(out, a, p, e);
}

int import_csv(struct slice text, const char *name, struct arena *a, struct pairs *out, struct err *e)
{
    int columns[NCOLS], rc;
    struct csv c;

    *out = (struct pairs){.name = SLICE_LIT("list of pairs"), .id_prefix = SLICE_LIT("pairs")};
    if (csv_open(&c, text, name, a, e) < 0)
        return e->code;
    for (unsigned k = 0; k < NCOLS; k++) {
        columns[k] = -1;
        for (unsigned i = 0; i < 4 && spellings[k][i] && columns[k] < 0; i++)
            columns[k] = csv_column(&c, spellings[k][i]);
    }
    if ((columns[COL_PCI] < 0 && (columns[COL_VID] < 0 || columns[COL_DID] < 0)) || columns[COL_DRIVER] < 0)
        return err_set(e, VF_EFORMAT, "%s:%u: the header names no %s; wanted are pci (or vid, did, svid, ssid), driver, driver-version, firmware, release",
                       name, c.line, columns[COL_DRIVER] < 0 ? "driver" : "pci");
    if (columns[COL_VERSION] < 0 && columns[COL_FIRMWARE] < 0)
        return err_set(e, VF_EFORMAT, "%s:%u: the header names neither driver-version nor firmware", name, c.line);
    while ((rc = csv_next(&c, e)) == 1)
        if (csv_row(&c, columns, a, out, e) < 0)
            return e->code;
    if (rc == 0 && out->n == 0)
        return err_set(e, VF_EFORMAT, "%s: no pairs below the header", name);
    return rc;
}

/* --- the devices of hosts --- */

int import_see(struct seen_devices *seen, const struct facts *f, struct arena *a, struct err *e)
{
    static const char *const tables[] = {"adapter", "nic"};

    for (unsigned k = 0; k < 2; k++) {
        unsigned t = facts_table_index(f, tables[k]);

        for (size_t i = 0; i < facts_count(f, t); i++) {
            const struct row *r = facts_at(f, t, i), *pci = facts_ref(f, r, "pci");
            const struct value *id = pci ? facts_cell(f, pci, "id") : NULL, *driver = facts_cell(f, r, "driver");
            struct seen_device d = {.table = t};
            bool known = false;
            void *v = seen->v;

            if (!id || id->state != VS_KNOWN)
                continue;
            for (size_t n = 0; n < seen->n; n++)
                known |= seen->v[n].table == t && slice_eq(seen->v[n].id, id->s);
            if (known)
                continue;
            d.id = arena_dup(a, id->s);
            d.driver = driver->state == VS_KNOWN ? arena_dup(a, driver->s) : nothing;
            d.what = arena_dup(a, facts_cell(f, pci, "name")->s);
            if (arena_grow(a, &v, seen->n, &seen->cap, sizeof *seen->v, MAX_DEVICES) < 0)
                return err_set(e, VF_ELIMIT, "more kinds of devices than there is room for");
            seen->v = v;
            seen->v[seen->n++] = d;
        }
    }
    return 0;
}

/* --- rules --- */

static bool of_device(struct slice listed, struct slice have)
{
    return slice_eq(listed, have) || (listed.n < have.n && memcmp(listed.p, have.p, listed.n) == 0 && have.p[listed.n] == ':');
}

/* The id that says most of those under which the list names a device; empty when it does not. */
static struct slice listed_as(const struct pairs *p, const struct seen_device *d)
{
    struct slice best = nothing;

    for (size_t i = 0; i < p->n; i++)
        if (of_device(p->v[i].id, d->id) && p->v[i].id.n > best.n)
            best = p->v[i].id;
    return best;
}

static void attribute(struct buf *out, const char *name, struct slice value)
{
    buf_printf(out, " %s=\"", name);
    xml_escape(out, value);
    buf_addc(out, '"');
}

/* What a host may print where the list has this version: lists often end behind the release part, or before it. */
static void version_attribute(struct buf *out, struct slice version)
{
    buf_addz(out, " driver-version=\"");
    xml_escape(out, version);
    if (slice_find_char(version, 0, '-') == SIZE_MAX) {
        buf_addc(out, ' ');
        xml_escape(out, version);
        buf_addz(out, "-*\"");
    } else {
        buf_addz(out, slice_ends(version, "*") ? "\"" : "*\"");
    }
}

static bool same_entry(const struct pair *a, const struct pair *b)
{
    return slice_eq(a->release, b->release) && slice_eq(a->driver, b->driver) && slice_eq(a->version, b->version) && a->firmware.n && b->firmware.n;
}

/* The entry of v[at] with the firmware of all that differ from it in that alone; false when an earlier one has told it. */
static bool good(const struct pair **v, size_t n, size_t at, struct buf *out)
{
    const struct pair *p = v[at];
    size_t written = 0;

    for (size_t i = 0; i < at; i++)
        if (same_entry(v[i], p) || (slice_eq(v[i]->release, p->release) && slice_eq(v[i]->driver, p->driver) && slice_eq(v[i]->version, p->version) &&
                                    slice_eq(v[i]->firmware, p->firmware)))
            return false;
    buf_addz(out, "    <good");
    attribute(out, "driver", p->driver);
    if (p->version.n)
        version_attribute(out, p->version);
    if (p->firmware.n) {
        buf_addz(out, " firmware=\"");
        for (size_t i = at; i < n; i++) {
            bool told = !same_entry(v[i], p);

            for (size_t k = at; k < i && !told; k++)
                told = same_entry(v[k], p) && slice_eq(v[k]->firmware, v[i]->firmware);
            if (told)
                continue;
            if (written++)
                buf_addc(out, '|');
            xml_escape(out, v[i]->firmware);
        }
        if (written == 1 && slice_find_char(p->firmware, 0, ' ') != SIZE_MAX) /* blanks part alternatives unless '|' does */
            buf_addc(out, '|');
        buf_addc(out, '"');
    }
    if (p->release.n)
        attribute(out, "esxi", p->release);
    if (p->note.n)
        attribute(out, "note", p->note);
    buf_addz(out, "/>\n");
    return true;
}

/* An example of the device, under a driver with a version and firmware. */
static void example(struct buf *out, const char *kind, const struct pairs *p, const struct pair *of, struct slice id, const char *version,
                    const char *firmware)
{
    buf_printf(out, "    <%s", kind);
    if (of->release.n)
        attribute(out, "esxi", of->release);
    attribute(out, "pci", id);
    attribute(out, "driver", of->driver);
    if (of->version.n)
        attribute(out, "driver-version", version ? slice_of(version) : slice_cut(of->version, 0, slice_find_char(of->version, 0, '*')));
    if (of->firmware.n)
        attribute(out, "firmware", firmware ? slice_of(firmware) : of->firmware);
    if (p->vsan)
        buf_printf(out, "><host vsan=\"yes\"/></%s>\n", kind);
    else
        buf_addz(out, "/>\n");
}

/*
 * The releases that the rule is about: all that vSAN's list speaks of, since a device that it does not name for one of them is not validated
 * there; of a site's own list those that it names for the device.
 */
static void releases(const struct pairs *p, const struct pair **v, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        if (v[i]->release.n == 0)
            return;
    for (unsigned k = 0; k < p->nreleases; k++) {
        bool named = p->vsan;

        for (size_t i = 0; i < n; i++)
            named |= slice_eq(v[i]->release, p->releases[k]);
        if (named)
            buf_printf(out, "      <esxi release=\"" SLICE_FMT "\"/>\n", SLICE_ARG(p->releases[k]));
    }
}

/*
 * Which devices the rule is about: all of the id that is listed; only those that were seen where the list has entries of their own for some of
 * that id, since each rule names all that is valid for its devices.
 */
static void devices(const struct pairs *p, const struct seen_devices *seen, const struct slice *listed, size_t k, struct buf *out)
{
    bool all = true;
    const char *sep = "";

    for (size_t i = 0; i < p->n && all; i++)
        all = slice_eq(p->v[i].id, listed[k]) || !of_device(listed[k], p->v[i].id);
    buf_addz(out, "      <pci id=\"");
    if (all)
        buf_add(out, listed[k]);
    for (size_t i = 0; i < seen->n && !all; i++)
        if (seen->v[i].table == seen->v[k].table && slice_eq(listed[i], listed[k])) {
            buf_printf(out, "%s" SLICE_FMT, sep, SLICE_ARG(seen->v[i].id));
            sep = " ";
        }
    buf_addz(out, "\"/>\n    </when>\n");
}

/* The rule of device k of those seen; listed: the id under which the list names each of them; v: its n rows. */
static int rule(const struct pairs *p, const struct seen_devices *seen, const struct slice *listed, size_t k, const struct schema *s,
                const struct pair **v, size_t n, struct buf *out, size_t *npairs, struct err *e)
{
    const struct seen_device *d = &seen->v[k];
    size_t entries = 0;

    buf_printf(out, "\n  <rule id=\"" SLICE_FMT "-%s-", SLICE_ARG(p->id_prefix), s->tables[d->table].name.p);
    for (size_t i = 0; i < listed[k].n; i++)
        buf_addc(out, listed[k].p[i] == ':' ? '-' : listed[k].p[i]);
    buf_printf(out, "\" subject=\"" SLICE_FMT "\" severity=\"warning\" status=\"stable\" reviewed=\"" SLICE_FMT "\">\n    <title>",
               SLICE_ARG(s->tables[d->table].name), SLICE_ARG(p->date));
    xml_escape(out, slice_cut(d->what.n ? d->what : d->id, 0, 100));
    buf_printf(out, ": driver and firmware are not on the " SLICE_FMT "</title>\n    <when>\n", SLICE_ARG(p->name));
    releases(p, v, n, out);
    if (p->vsan)
        buf_addz(out, "      <host vsan=\"yes\"/>\n");
    devices(p, seen, listed, k, out);
    if (n > MAX_ROWS_OF_ONE)
        return err_set(e, VF_ELIMIT, "the list has %zu rows for " SLICE_FMT ", where %u is more than any device has", n, SLICE_ARG(d->id), MAX_ROWS_OF_ONE);
    for (size_t i = 0; i < n && entries <= RULE_MAX_KIDS; i++)
        entries += good(v, n, i, out);
    if (entries > RULE_MAX_KIDS)
        return err_set(e, VF_ELIMIT, "the list has more entries for " SLICE_FMT " than the %u that a rule holds", SLICE_ARG(d->id), RULE_MAX_KIDS);
    buf_printf(out, "    <why>\n      The " SLICE_FMT " of " SLICE_FMT " names the pairs that were validated for this device%s.\n      <see href=\"",
               SLICE_ARG(p->name), SLICE_ARG(p->date), p->vsan ? " in hosts with vSAN" : "");
    xml_escape(out, v[0]->link.n ? v[0]->link : p->link);
    buf_addz(out, "\"/>\n    </why>\n    <fix id=\"validated-pair\" risk=\"data\">\n      <advise>Bring driver and firmware to one of the pairs above, both in one "
                  "maintenance window.</advise>\n    </fix>\n");
    example(out, "matches", p, v[0], d->id, "0.0.1-1vmw", "0.0.1");
    example(out, "ignores", p, v[0], d->id, NULL, NULL);
    buf_addz(out, "  </rule>\n");
    *npairs += entries;
    return 0;
}

int import_write(const struct pairs *p, const struct seen_devices *seen, const struct schema *s, struct arena *a, struct buf *out, size_t *nrules,
                 size_t *npairs, struct err *e)
{
    const struct pair **v = arena_array(a, p->n + 1, sizeof *v);
    struct slice *listed = arena_array(a, seen->n + 1, sizeof *listed);

    *nrules = *npairs = 0;
    if (!v || !listed)
        return err_set(e, VF_ELIMIT, "more pairs than there is room for");
    buf_addz(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ");
    buf_printf(out, SLICE_FMT " of " SLICE_FMT ", for the devices of some hosts: made by \"vmkfit rules import\", not by hand. -->\n<rules format=\"1\">",
               SLICE_ARG(p->name), SLICE_ARG(p->date));
    for (size_t k = 0; k < seen->n; k++)
        listed[k] = listed_as(p, &seen->v[k]);
    for (size_t k = 0; k < seen->n; k++) {
        size_t n = 0;
        bool told = listed[k].n == 0;

        for (size_t i = 0; i < k; i++)
            told |= seen->v[i].table == seen->v[k].table && slice_eq(listed[i], listed[k]);
        for (size_t i = 0; i < p->n && !told; i++)
            if (of_device(p->v[i].id, seen->v[k].id)) /* what is valid for all devices of an id is so for each */
                v[n++] = &p->v[i];
        if (told)
            continue;
        if (rule(p, seen, listed, k, s, v, n, out, npairs, e) < 0)
            return e->code;
        ++*nrules;
    }
    buf_addz(out, "</rules>\n");
    return out->cut ? err_set(e, VF_ELIMIT, "the rules are larger than %zu bytes", out->max) : 0;
}
