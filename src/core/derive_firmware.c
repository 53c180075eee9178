#include "base/buf.h"
#include "core/derive.h"

/*
 * Firmware that the BMC tells, joined to what the host calls its adapters, NICs and drives. A join is by something that names one thing:
 * a WWN, a serial number, a MAC address, a PCI address; the PCI ids where no other device of the host has them, or where all that
 * have them have one version. What esxcli or the vendor's tool tells stays; a version that contradicts it leaves the cell unknown.
 */

#define MAX_ALIKE   16u   /* devices with the same PCI ids */
#define MAX_DEVICES 4096u /* resources that are compared with each other; a BMC is asked for 1,500 */

/* --- is it this host --- */

/* Serial numbers that boards are sold with. */
static bool is_placeholder(struct slice s)
{
    static const char *const words[] = {"default", "to be filled", "o.e.m", "not specified", "none", "serial", "n/a", "unknown", "0123456789", "123456789",
                                        "03000200040005000006000700080009", "00020003000400050006000700080009"};
    _cleanup_(buf_done) struct buf low = BUF_INIT(256);
    bool varied = false;

    if (s.n < 5)
        return true;
    for (size_t i = 0; i < s.n; i++) {
        varied |= s.p[i] != s.p[0];
        buf_addc(&low, (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]));
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_find(buf_slice(&low), 0, words[i]) != SIZE_MAX)
            return true;
    return !varied;
}

/* SMBIOS stores the first three parts little-endian, and not everybody turns them round. */
static bool same_uuid(struct slice a, struct slice b)
{
    static const unsigned char turned[] = {6, 4, 2, 0, 10, 8, 14, 12, 16, 18, 20, 22, 24, 26, 28, 30};

    if (a.n != 32 || b.n != 32)
        return false;
    if (slice_ieq(a, b))
        return true;
    for (unsigned i = 0; i < sizeof turned; i++)
        if (!slice_ieq(slice_cut(a, 2 * i, 2), slice_cut(b, turned[i], 2)))
            return false;
    return true;
}

static bool usable(const struct value *v)
{
    return v->state == VS_KNOWN && !is_placeholder(slice_trim(v->s));
}

static const char *quoted(struct facts *f, const struct value *v)
{
    return v->state == VS_KNOWN ? arena_printf(f->arena, SLICE_FMT, SLICE_ARG(v->s)) : "unknown";
}

/* Dell's serial number of the host is the service tag, which its Redfish calls SKU; elsewhere the SKU is a product number. */
static const struct value *serial_of(const struct facts *f, const struct row *m)
{
    const struct value *vendor = facts_cell(f, m, "vendor");

    return facts_cell(f, m, vendor->state == VS_KNOWN && slice_starts(vendor->s, "Dell") ? "sku" : "serial");
}

/* Each of UUID and serial number that both tell has to agree, and there has to be one. */
static struct value is_same(struct facts *f, const struct row *m)
{
    const struct row *host = facts_single(f, "host");
    const struct value *serial = facts_cell(f, host, "serial"), *uuid = facts_cell(f, host, "uuid");
    const struct value *its = serial_of(f, m), *its_uuid = facts_cell(f, m, "uuid");
    bool by_serial = usable(serial) && usable(its), by_uuid = usable(uuid) && usable(its_uuid);
    bool serial_fits = by_serial && slice_ieq(slice_trim(serial->s), slice_trim(its->s));
    bool uuid_fits = by_uuid && same_uuid(uuid->s, its_uuid->s);

    if (!by_serial && !by_uuid)
        return value_unknown("neither a serial number nor a UUID is known of both");
    if (by_serial && by_uuid && serial_fits != uuid_fits)
        return value_unknown(serial_fits ? arena_printf(f->arena, "the serial number is the host's, the UUID is not: %s there, %s here", quoted(f, its_uuid), quoted(f, uuid))
                                         : arena_printf(f->arena, "the UUID is the host's, the serial number is not: %s there, %s here", quoted(f, its), quoted(f, serial)));
    return derive_from(value_bool(serial_fits || uuid_fits), by_uuid ? its_uuid : its);
}

const char *derive_bmc_refused(const struct facts *f)
{
    const struct row *m = derive_row(f, "bmc", 0), *host = facts_single(f, "host");
    const struct value *same = m ? facts_cell(f, m, "same") : NULL;
    const struct value *serial = facts_cell(f, host, "serial"), *its = m ? serial_of(f, m) : NULL;

    if (!m)
        return NULL;
    if (facts_count(f, facts_table_index(f, "bmc")) > 1)
        return "nothing of the BMC is used: it manages several machines, and which devices are whose it does not say";
    if (same->state != VS_KNOWN)
        return arena_printf(f->arena, "nothing of the BMC is used: %s", same->why ? same->why : "whether it is this host's is not known");
    if (same->i)
        return NULL;
    return arena_printf(f->arena, "nothing of the BMC is used: it is another machine's (serial number " SLICE_FMT " there, " SLICE_FMT " here)",
                        SLICE_ARG(its->state == VS_KNOWN ? its->s : SLICE_LIT("unknown")), SLICE_ARG(serial->state == VS_KNOWN ? serial->s : SLICE_LIT("unknown")));
}

/* --- finding what the BMC calls a thing --- */

static bool has(const struct value *list, struct slice s)
{
    for (size_t i = 0; list->state == VS_KNOWN && i < list->nlist; i++)
        if (slice_ieq(list->list[i], s))
            return true;
    return false;
}

static bool kind_is(const struct facts *f, const struct row *d, const char *kind)
{
    return known_text(facts_cell(f, d, "kind"), kind);
}

static bool is_controller(const struct facts *f, const struct row *d)
{
    return kind_is(f, d, "controller") || kind_is(f, d, "smart-array");
}

/* What several resources say of one thing. */
struct told {
    const struct value *version; /* of the first that tells one; its source with it */
    const struct value *other;   /* one that differs from it */
    bool found;                  /* there is a resource, whatever it tells */
    unsigned asked;              /* resources so far */
};

static void tell(struct told *t, const struct value *v)
{
    t->found = true;
    if (v->state != VS_KNOWN)
        return;
    if (!t->version)
        t->version = v;
    else if (!t->other && !slice_eq(t->version->s, v->s))
        t->other = v;
}

/* A resource's own version; else what the firmware inventory says is about it. */
static void tell_of(struct facts *f, struct told *t, const struct row *d)
{
    const struct value *own = facts_cell(f, d, "firmware");
    const struct row *o;

    if (++t->asked > MAX_DEVICES) /* a list made to be long */
        return;
    tell(t, own);
    for (size_t i = 0; own->state != VS_KNOWN && (o = derive_row(f, "bmc-device", i)); i++)
        if (kind_is(f, o, "firmware") && has(facts_cell(f, o, "items"), d->key))
            tell(t, facts_cell(f, o, "firmware"));
}

static bool same_cell(const struct facts *f, const struct row *a, const struct row *b, const char *column)
{
    const struct value *x = facts_cell(f, a, column), *y = facts_cell(f, b, column);

    return x->state == VS_KNOWN && y->state == VS_KNOWN && slice_ieq(x->s, y->s);
}

/* All four ids: a chip without its card's is of many cards. */
static bool same_ids(const struct facts *f, const struct row *a, const struct row *b)
{
    return same_cell(f, a, b, "vendor") && same_cell(f, a, b, "device") && same_cell(f, a, b, "subvendor") && same_cell(f, a, b, "subdevice");
}

static struct slice last_part(struct slice path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return slice_from(path, i);
    return path;
}

/* One function is named by several paths, below its system and its chassis: the card's and its own last part tell them apart. */
static bool one_function(const struct facts *f, const struct row *a, const struct row *b)
{
    const struct value *x = facts_cell(f, a, "parent"), *y = facts_cell(f, b, "parent");

    return slice_eq(last_part(a->key), last_part(b->key)) && x->state == VS_KNOWN && y->state == VS_KNOWN && slice_eq(last_part(x->s), last_part(y->s));
}

/* The controllers and the card that a PCI function of the BMC's list belongs to. */
static void tell_function(struct facts *f, struct told *t, const struct row *function)
{
    const struct value *parent = facts_cell(f, function, "parent");
    const struct row *d;
    bool any = false;

    for (size_t i = 0; (d = derive_row(f, "bmc-device", i)); i++) {
        const struct value *links = facts_cell(f, d, "links");

        if (is_controller(f, d) && (has(links, function->key) || (parent->state == VS_KNOWN && has(links, parent->s)) ||
                                    has(facts_cell(f, function, "links"), slice_cut(d->key, 0, slice_find_char(d->key, 0, '#'))))) {
            tell_of(f, t, d);
            any = true;
        }
    }
    for (size_t i = 0; !any && (d = derive_row(f, "bmc-device", i)); i++)
        if (kind_is(f, d, "pci-device") && ((parent->state == VS_KNOWN && slice_eq(parent->s, d->key)) || has(facts_cell(f, d, "links"), function->key)))
            tell_of(f, t, d);
}

/*
 * By the ids: all functions of the BMC's list with these ids, which have to be as many as the host has; several are joined where they agree,
 * since which is which is not known.
 */
static const char *by_ids(struct facts *f, const struct row *p, struct told *t)
{
    const struct row *o, *same[MAX_ALIKE];
    size_t here = 0, there = 0;

    for (size_t i = 0; (o = derive_row(f, "pci", i)); i++)
        here += same_ids(f, p, o);
    for (size_t i = 0; (o = derive_row(f, "bmc-device", i)); i++)
        if (kind_is(f, o, "pci-function") && same_ids(f, p, o)) {
            bool again = false;

            tell_function(f, t, o);
            for (size_t k = 0; k < there && k < MAX_ALIKE; k++)
                again |= one_function(f, same[k], o);
            if (!again && there < MAX_ALIKE)
                same[there] = o;
            there += !again;
        }
    if (there == 0 || here == 0)
        return NULL;
    if (here > MAX_ALIKE)
        return "too many devices look the same";
    if (here != there)
        return arena_printf(f->arena, "the BMC has %zu devices with these PCI ids, the host %zu", there, here);
    if (t->other && here > 1)
        return "the BMC tells different versions of devices that look the same, and not which is which";
    return NULL;
}

static bool of_smart_array(const struct value *driver)
{
    return known_text(driver, "nhpsa") || known_text(driver, "hpsa") || known_text(driver, "smartpqi");
}

/* HPE's list of Smart Arrays names no PCI device. Where it has as many as the host and all have one version, that is theirs. */
static const char *by_number(struct facts *f, struct told *t)
{
    size_t here = 0, there = 0;
    const struct row *o;

    for (size_t i = 0; (o = derive_row(f, "adapter", i)); i++)
        here += of_smart_array(facts_cell(f, o, "driver"));
    for (size_t i = 0; (o = derive_row(f, "bmc-device", i)); i++)
        if (kind_is(f, o, "smart-array")) {
            there++;
            tell_of(f, t, o);
        }
    if (there == 0)
        return NULL;
    if (here != there || !facts_complete(f, "adapter", NULL))
        return arena_printf(f->arena, "the BMC lists %zu Smart Arrays, the host has %zu", there, here);
    return t->other ? "the BMC tells different versions of several Smart Arrays, and not which is which" : NULL;
}

/* The WWN behind "sas." of a UID, or the SAS address as the vendor's tool prints it. */
static void by_wwn(struct facts *f, const struct row *a, struct told *t)
{
    const struct value *uid = facts_cell(f, a, "uid");
    struct slice wwn = uid->state == VS_KNOWN && slice_starts(uid->s, "sas.") ? slice_from(uid->s, 4) : (struct slice){NULL, 0};
    const struct row *d;

    for (size_t i = 0; wwn.n == 16 && (d = derive_row(f, "bmc-device", i)); i++)
        if (is_controller(f, d) && has(facts_cell(f, d, "wwns"), wwn))
            tell_of(f, t, d);
}

/* --- storage adapters --- */

/* Is it what the host knows already: the same text, the first word of esxcli's, or the image's version beside the package's. */
static bool agrees(struct facts *f, const struct row *a, const struct value *own, const struct value *told)
{
    const struct value *pci = facts_cell(f, a, "pci");
    const struct row *tool = pci->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "controller"), pci->s) : NULL;
    struct slice rest = own->s, first;

    if (slice_eq(own->s, told->s) || (slice_next_word(&rest, " ", &first) && slice_eq(first, told->s)))
        return true;
    return tool && known_text(facts_cell(f, tool, "image-version"), arena_dup(f->arena, told->s).p);
}

static struct value contradict(struct facts *f, const char *who, const struct value *own, const struct value *told)
{
    struct value v = value_unknown(arena_printf(f->arena, "%s " SLICE_FMT ", its BMC " SLICE_FMT, who, SLICE_ARG(own->s), SLICE_ARG(told->s)));

    v.conflict = true;
    return v;
}

/* Only controllers of disks: what a BMC says of a Fibre Channel adapter is the number of a package, not the firmware's that esxcli prints. */
static bool of_disks(const struct facts *f, const struct row *pci)
{
    const struct value *class = facts_cell(f, pci, "class");

    return class->state == VS_KNOWN && (slice_eqz(class->s, "0104") || slice_eqz(class->s, "0107") || slice_eqz(class->s, "0100"));
}

static void adapter(struct facts *f, const struct row *a)
{
    const struct row *pci = facts_ref(f, a, "pci"), *tool = pci ? facts_find(f, facts_table_index(f, "controller"), pci->key) : NULL, *d;
    const struct value *own = facts_cell(f, a, "firmware");
    struct told t = {0};
    const char *why = NULL;

    if (!pci || !of_disks(f, pci))
        return;
    by_wwn(f, a, &t);
    for (size_t i = 0; !t.found && (d = derive_row(f, "bmc-device", i)); i++) /* HPE's list of PCI devices has addresses */
        if (kind_is(f, d, "pci-function") && known_text(facts_cell(f, d, "pci"), arena_dup(f->arena, pci->key).p) && same_ids(f, pci, d))
            tell_function(f, &t, d);
    if (!t.found)
        why = by_ids(f, pci, &t);
    if (!t.found && of_smart_array(facts_cell(f, a, "driver")))
        why = by_number(f, &t);
    if (!why && t.other)
        why = arena_printf(f->arena, "the BMC tells two versions: " SLICE_FMT " and " SLICE_FMT, SLICE_ARG(t.version->s), SLICE_ARG(t.other->s));
    if (!why && !t.version)
        why = t.found ? "the BMC lists it, without a version" : "the BMC does not say which of its controllers this PCI device is";
    if (why) {
        if (own->state != VS_KNOWN && !own->conflict)
            derive_set(f, a, "firmware", value_unknown(why));
        return;
    }
    if (own->state == VS_KNOWN && !agrees(f, a, own, t.version))
        derive_set(f, a, "firmware", contradict(f, "the host says", own, t.version));
    else if (own->state != VS_KNOWN && !own->conflict && !(tool && facts_cell(f, tool, "firmware")->state == VS_KNOWN)) /* else esxcli and the tool contradict each other */
        derive_set(f, a, "firmware", *t.version);
}

/* --- NICs --- */

/*
 * The package has a numbering of its own (Intel: 8.30 of the NVM, 21.5.9 of the package), so it never stands in for nic.firmware, and
 * does not contradict it.
 */
static void nic(struct facts *f, const struct row *n)
{
    const struct value *mac = facts_cell(f, n, "mac");
    struct told t = {0};
    const struct row *d;

    if (mac->state != VS_KNOWN) {
        derive_set(f, n, "firmware-package", derive_unknown(f, "MAC address", mac));
        return;
    }
    for (size_t i = 0; (d = derive_row(f, "bmc-device", i)); i++) {
        const struct value *parent = facts_cell(f, d, "parent");
        const struct row *card = d;

        if (!has(facts_cell(f, d, "macs"), mac->s))
            continue;
        if (kind_is(f, d, "port"))
            card = parent->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "bmc-device"), parent->s) : NULL;
        if (card)
            tell_of(f, &t, card);
    }
    if (!t.found)
        derive_set(f, n, "firmware-package", value_unknown("the BMC knows no port with this MAC address"));
    else if (!t.version)
        derive_set(f, n, "firmware-package", value_unknown("the BMC lists it, without a version"));
    else if (t.other)
        derive_set(f, n, "firmware-package", value_unknown(arena_printf(f->arena, "the BMC tells two versions: " SLICE_FMT " and " SLICE_FMT, SLICE_ARG(t.version->s), SLICE_ARG(t.other->s))));
    else
        derive_set(f, n, "firmware-package", *t.version);
}

/* --- drives --- */

static void drive_cell(struct facts *f, const struct row *r, const char *column, const struct told *t, bool part)
{
    const struct value *own = facts_cell(f, r, column);
    struct slice mine = own->state == VS_KNOWN ? slice_trim(own->s) : (struct slice){NULL, 0}, its;

    if (!t->version || own->conflict)
        return;
    if (t->other) {
        if (own->state == VS_UNKNOWN)
            derive_set(f, r, column, value_unknown("the BMC tells two versions of this drive"));
        return;
    }
    its = slice_trim(t->version->s);
    if (own->state == VS_UNKNOWN)
        derive_set(f, r, column, *t->version);
    else if (own->state == VS_KNOWN && !slice_eq(mine, its) && !(part && mine.n == 4 && its.n > 4 && (slice_eq(slice_cut(its, 0, 4), mine) || slice_eq(slice_from(its, its.n - 4), mine))))
        derive_set(f, r, column, contradict(f, "the host says", own, t->version));
}

/* By its serial number, of one drive: two that print the same are told apart by nothing. */
static void nvme(struct facts *f, const struct row *n)
{
    const struct value *serial = facts_cell(f, n, "serial");
    struct told t = {0};
    const struct row *d;

    for (size_t i = 0; usable(serial) && (d = derive_row(f, "bmc-device", i)); i++)
        if (kind_is(f, d, "drive") && usable(facts_cell(f, d, "serial")) && slice_eq(slice_trim(facts_cell(f, d, "serial")->s), slice_trim(serial->s)))
            tell_of(f, &t, d);
    drive_cell(f, n, "firmware", &t, false);
}

/* Does "t10.ATA_____MODEL____________SERIAL" end with the serial number, filled up with underscores before or behind. */
static bool t10_of(struct slice id, struct slice serial)
{
    while (id.n && id.p[id.n - 1] == '_')
        id.n--;
    return slice_starts(id, "t10.ATA") && serial.n >= 8 && id.n > serial.n && slice_eq(slice_from(id, id.n - serial.n), serial) && id.p[id.n - serial.n - 1] == '_';
}

/* A disk is named by its WWN or its serial number. SCSI has four characters for a revision; those of SATA are the first or the last of eight. */
static void disk(struct facts *f, const struct row *r)
{
    struct slice naa = slice_starts(r->key, "naa.") ? slice_from(r->key, 4) : (struct slice){NULL, 0};
    struct told t = {0};
    const struct row *d;

    for (size_t i = 0; (d = derive_row(f, "bmc-device", i)); i++)
        if (kind_is(f, d, "drive") && ((naa.n == 16 && has(facts_cell(f, d, "wwns"), naa)) ||
                                       (usable(facts_cell(f, d, "serial")) && t10_of(r->key, slice_trim(facts_cell(f, d, "serial")->s)))))
            tell_of(f, &t, d);
    drive_cell(f, r, "revision", &t, true);
}

void derive_firmware(struct facts *f)
{
    const char *refused;
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "bmc", i)); i++)
        derive_set(f, r, "same", is_same(f, r));
    refused = derive_bmc_refused(f);
    for (size_t i = 0; (refused || !derive_row(f, "bmc", 0)) && (r = derive_row(f, "nic", i)); i++)
        derive_set(f, r, "firmware-package", value_unknown(refused ? refused : "its BMC was not asked, or did not answer; --bmc asks it"));
    if (refused || !derive_row(f, "bmc", 0) || facts_count(f, facts_table_index(f, "bmc-device")) > MAX_DEVICES)
        return;
    for (size_t i = 0; (r = derive_row(f, "adapter", i)); i++)
        adapter(f, r);
    for (size_t i = 0; (r = derive_row(f, "nic", i)); i++)
        nic(f, r);
    for (size_t i = 0; (r = derive_row(f, "nvme", i)); i++)
        nvme(f, r);
    for (size_t i = 0; (r = derive_row(f, "device", i)); i++)
        disk(f, r);
}
