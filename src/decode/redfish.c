#include "decode/redfish.h"

#include "base/json.h"

/*
 * One Redfish resource, told by its type. Properties by DMTF's schemas (DSP8010): ComputerSystem, Storage, StorageController, Drive,
 * NetworkAdapter, NetworkDeviceFunction, NetworkPort, Port, PCIeDevice, PCIeFunction, SoftwareInventory; HPE's HpSmartStorageArrayController,
 * HpSmartStorageDiskDrive, HpBaseNetworkAdapter and HpServerPciDevice (HpeSmart... from iLO 5 on) by the resource definitions of its iLO 4
 * and iLO 5 reference, https://hewlettpackard.github.io/ilo-rest-api-docs/.
 */

struct resource {
    const struct js *v;
    struct builder b;
    struct arena *a;
    struct slice path;
    const char *kind;
};

/* --- reading --- */

static const struct js *member(const struct js *v, const char *key)
{
    return v && js_kind(v) == JS_OBJECT ? js_get(v, key) : NULL;
}

static const struct js *inside(const struct js *v, const char *a, const char *b)
{
    return member(member(v, a), b);
}

static size_t length(const struct js *v)
{
    return v && js_kind(v) == JS_ARRAY ? js_count(v) : 0;
}

/* What vendors print where they have nothing to say. */
static struct slice said(const struct js *v)
{
    static const char *const nothing[] = {"N/A", "NA", "n/a", "None", "none", "Unknown", "unknown", "Not Available", "Not Applicable", "null", "-"};
    struct slice s = slice_trim(js_as_text(v));

    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (slice_eqz(s, nothing[i]))
            return (struct slice){NULL, 0};
    return s;
}

/* Without a fragment's absence mattering: "/a/b/" and "/a/b" are one resource. */
static struct slice bare(struct slice path)
{
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    return path;
}

static struct slice link_of(const struct js *v)
{
    const struct js *id = member(v, "@odata.id");

    return bare(js_as_text(id ? id : member(v, "href")));
}

/* --- writing --- */

static struct field *add(struct resource *r, const char *key, struct slice text)
{
    return text.n ? builder_field(&r->b, slice_of(key), arena_dup(r->a, text), 0) : NULL;
}

static void add_listed(struct resource *r, const char *key, struct slice text)
{
    struct field *f = add(r, key, text);

    if (f)
        f->listed = true;
}

static void begin(struct resource *r, struct slice path, const char *kind)
{
    builder_begin(&r->b, arena_dup(r->a, path), 0);
    (void)add(r, "Path", path);
    if (kind)
        (void)add(r, "Kind", slice_of(kind));
}

static bool hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Hex digits of a WWN, a MAC: lower case, whatever parts them taken out. Empty when there is something else in it, or another number of digits. */
static struct slice digits(struct resource *r, struct slice s, size_t least, size_t most)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64);

    if (slice_starts(s, "0x") || slice_starts(s, "0X"))
        s = slice_from(s, 2);
    for (size_t i = 0; i < s.n; i++)
        if (hex_digit(s.p[i]))
            buf_addc(&b, (char)(s.p[i] >= 'A' && s.p[i] <= 'F' ? s.p[i] | 0x20 : s.p[i]));
        else if (s.p[i] != ':' && s.p[i] != '-' && s.p[i] != '.')
            return (struct slice){NULL, 0};
    return b.cut || b.n < least || b.n > most ? (struct slice){NULL, 0} : arena_dup(r->a, buf_slice(&b));
}

/* aa:bb:cc:dd:ee:ff; not one of zeros, which stands for none */
static void add_mac(struct resource *r, const struct js *v)
{
    struct slice d = digits(r, said(v), 12, 12);

    if (d.n && !slice_eqz(d, "000000000000"))
        add_listed(r, "MAC", slice_of(arena_printf(r->a, "%.2s:%.2s:%.2s:%.2s:%.2s:%.2s", d.p, d.p + 2, d.p + 4, d.p + 6, d.p + 8, d.p + 10)));
}

/* "0x8086", "8086", or HPE's number */
static void add_id(struct resource *r, const char *key, const struct js *v)
{
    struct slice d = v && js_kind(v) == JS_TEXT ? digits(r, said(v), 1, 4) : (struct slice){NULL, 0};
    int64_t n = v && js_kind(v) == JS_INT ? js_as_int(v) : -1;

    if (d.n)
        (void)add(r, key, slice_of(arena_printf(r->a, "0x%s", d.p)));
    else if (n >= 0 && n <= 0xffff)
        (void)add(r, key, slice_of(arena_printf(r->a, "0x%04x", (unsigned)n)));
}

static void add_links(struct resource *r, const char *key, const struct js *v)
{
    if (v && js_kind(v) == JS_OBJECT)
        add_listed(r, key, link_of(v));
    for (size_t i = 0; i < length(v); i++)
        add_listed(r, key, link_of(js_at(v, i)));
}

/* WWNs by which a drive or a controller is known, as ESXi writes them behind "naa." and "sas.". */
static void add_names(struct resource *r, const struct js *v)
{
    for (size_t i = 0; i < length(member(v, "Identifiers")); i++)
        add_listed(r, "WWN", digits(r, said(member(js_at(member(v, "Identifiers"), i), "DurableName")), 16, 32));
}

/* "FirmwareVersion": text, or HPE's {"Current": {"VersionString": text}} */
static struct slice version(const struct js *v)
{
    return said(v && js_kind(v) == JS_OBJECT ? inside(v, "Current", "VersionString") : v);
}

static void add_common(struct resource *r, const struct js *v)
{
    (void)add(r, "Name", said(member(v, "Name")));
    (void)add(r, "Model", said(member(v, "Model")));
    (void)add(r, "Serial", said(member(v, "SerialNumber")));
}

/* The path of what it is a part of: two parts up, "NetworkPorts/1". */
static struct slice above(struct slice path)
{
    for (int parts = 0; path.n > 0 && parts < 2; parts++) {
        while (path.n > 0 && path.p[path.n - 1] != '/')
            path.n--;
        path.n -= path.n > 0;
    }
    return path;
}

/* --- one of a kind --- */

static void controller(struct resource *r, const struct js *v)
{
    add_common(r, v);
    (void)add(r, "Firmware", version(member(v, "FirmwareVersion")));
    add_names(r, v);
    add_links(r, "Link", inside(v, "Links", "PCIeFunctions"));
    add_links(r, "Link", inside(v, "Links", "PCIeDevice"));
}

static void storage(struct resource *r)
{
    const struct js *list = member(r->v, "StorageControllers");

    for (size_t i = 0; i < length(list); i++) {
        struct slice path = link_of(js_at(list, i));

        begin(r, path.n && !slice_eq(path, r->path) ? path : slice_of(arena_printf(r->a, SLICE_FMT "#/StorageControllers/%zu", SLICE_ARG(r->path), i)), "controller");
        controller(r, js_at(list, i));
        builder_finish(&r->b);
    }
}

static void drive(struct resource *r)
{
    struct slice revision = version(member(r->v, "FirmwareVersion"));

    add_common(r, r->v);
    (void)add(r, "Firmware", revision.n ? revision : said(member(r->v, "Revision")));
    add_names(r, r->v);
}

/* A card of several controllers has one package; two that differ are told as what they are. */
static void network_adapter(struct resource *r)
{
    const struct js *list = member(r->v, "Controllers");
    struct slice seen = {NULL, 0};

    add_common(r, r->v);
    for (size_t i = 0; i < length(list); i++) {
        struct slice text = said(member(js_at(list, i), "FirmwarePackageVersion"));
        struct field *f;

        if (!text.n || slice_eq(text, seen))
            continue;
        f = add(r, "Firmware", text);
        if (f && seen.n)
            f->damage = "its controllers have different versions";
        seen = text;
        add_links(r, "Link", inside(js_at(list, i), "Links", "PCIeDevices"));
    }
}

static void port(struct resource *r)
{
    const struct js *net = member(r->v, "Ethernet"), *lists[] = {member(r->v, "AssociatedNetworkAddresses"), member(net, "AssociatedMACAddresses")};

    (void)add(r, "Name", said(member(r->v, "Name")));
    (void)add(r, "Parent", above(r->path));
    add_mac(r, member(net, "MACAddress"));
    add_mac(r, member(net, "PermanentMACAddress"));
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < length(lists[k]); i++)
            add_mac(r, js_at(lists[k], i));
}

static void hpe_nic(struct resource *r)
{
    const struct js *ports = member(r->v, "PhysicalPorts");
    struct slice package = said(member(r->v, "FirmwarePackageVersion"));

    add_common(r, r->v);
    (void)add(r, "Firmware", package.n ? package : version(member(r->v, "Firmware")));
    for (size_t i = 0; i < length(ports); i++)
        add_mac(r, member(js_at(ports, i), "MacAddress"));
}

static void pci_device(struct resource *r)
{
    add_common(r, r->v);
    (void)add(r, "Firmware", version(member(r->v, "FirmwareVersion")));
    add_links(r, "Link", inside(r->v, "Links", "PCIeFunctions"));
}

static void pci_function(struct resource *r)
{
    struct slice parent = link_of(inside(r->v, "Links", "PCIeDevice"));

    (void)add(r, "Name", said(member(r->v, "Name")));
    (void)add(r, "Parent", parent.n ? parent : above(r->path));
    add_links(r, "Link", inside(r->v, "Links", "StorageControllers"));
    add_id(r, "Vendor", member(r->v, "VendorId"));
    add_id(r, "Device", member(r->v, "DeviceId"));
    add_id(r, "Subvendor", member(r->v, "SubsystemVendorId"));
    add_id(r, "Subdevice", member(r->v, "SubsystemId"));
}

/* HPE tells the address too; 255 stands for a device that the BIOS gave none. */
static void hpe_pci(struct resource *r)
{
    const struct js *part[] = {member(r->v, "BusNumber"), member(r->v, "DeviceNumber"), member(r->v, "FunctionNumber")};
    int64_t n[3];
    bool all = true;

    (void)add(r, "Name", said(member(r->v, "Name")));
    add_id(r, "Vendor", member(r->v, "VendorID"));
    add_id(r, "Device", member(r->v, "DeviceID"));
    add_id(r, "Subvendor", member(r->v, "SubsystemVendorID"));
    add_id(r, "Subdevice", member(r->v, "SubsystemDeviceID"));
    for (unsigned k = 0; k < 3; k++) {
        n[k] = part[k] && js_kind(part[k]) == JS_INT ? js_as_int(part[k]) : -1;
        all &= n[k] >= 0 && n[k] <= (k == 0 ? 254 : k == 1 ? 31 : 7);
    }
    if (all)
        (void)add(r, "Address", slice_of(arena_printf(r->a, "%04x:%02x:%02x.%x", (unsigned)(js_as_int(member(r->v, "SegmentNumber")) & 0xffff), (unsigned)n[0],
                                                      (unsigned)n[1], (unsigned)n[2])));
}

static void firmware(struct resource *r)
{
    (void)add(r, "Name", said(member(r->v, "Name")));
    (void)add(r, "Firmware", said(member(r->v, "Version")));
    add_links(r, "Item", member(r->v, "RelatedItem"));
}

static void one_controller(struct resource *r)
{
    controller(r, r->v);
}

static const struct {
    const char *type, *kind;
    void (*read)(struct resource *r);
} types[] = {
    {"StorageController", "controller", one_controller},
    {"HpSmartStorageArrayController", "smart-array", one_controller},
    {"HpeSmartStorageArrayController", "smart-array", one_controller},
    {"HpSmartStorageHostBusAdapter", "smart-array", one_controller},
    {"HpeSmartStorageHostBusAdapter", "smart-array", one_controller},
    {"Drive", "drive", drive},
    {"HpSmartStorageDiskDrive", "drive", drive},
    {"HpeSmartStorageDiskDrive", "drive", drive},
    {"NetworkAdapter", "nic", network_adapter},
    {"HpBaseNetworkAdapter", "nic", hpe_nic},
    {"HpeBaseNetworkAdapter", "nic", hpe_nic},
    {"BaseNetworkAdapter", "nic", hpe_nic},
    {"NetworkDeviceFunction", "port", port},
    {"NetworkPort", "port", port},
    {"Port", "port", port},
    {"PCIeDevice", "pci-device", pci_device},
    {"PCIeFunction", "pci-function", pci_function},
    {"HpServerPciDevice", "pci-function", hpe_pci},
    {"HpeServerPciDevice", "pci-function", hpe_pci},
    {"SoftwareInventory", "firmware", firmware},
};

/* --- a resource --- */

/* "#Storage.v1_7_0.Storage", early iLO 4 "HpSmartStorageArrayController.1.0.0": the name before the first dot. */
static struct slice type_of(const struct js *v)
{
    const struct js *type = member(v, "@odata.type");
    struct slice s = js_as_text(type ? type : member(v, "Type"));

    if (slice_starts(s, "#"))
        s = slice_from(s, 1);
    return slice_cut(s, 0, slice_find_char(s, 0, '.'));
}

static const char *error_of(const struct js *v, struct arena *a)
{
    const struct js *error = member(v, "error"), *more = member(error, "@Message.ExtendedInfo");
    struct slice text = length(more) ? js_as_text(member(js_at(more, 0), "Message")) : (struct slice){NULL, 0};
    _cleanup_(buf_done) struct buf safe = BUF_INIT(2048);

    if (!error)
        return NULL;
    buf_add_safe(&safe, slice_cut(text.n ? text : js_as_text(member(error, "message")), 0, 300));
    return arena_printf(a, "the BMC answers with an error: %s", buf_z(&safe));
}

/* Opens the document; fills *out and returns NULL when it is no resource. */
static struct js *open_resource(struct slice in, struct arena *a, struct resource *r, struct decoded *out)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(2048);
    struct err e = {0};
    struct js *v = js_parse(in, "json", &e);
    const char *error = v ? error_of(v, a) : NULL;

    *r = (struct resource){.v = v, .a = a};
    builder_init(&r->b, a);
    if (v && !error && js_kind(v) == JS_OBJECT) {
        r->path = link_of(v);
        if (!r->path.n)
            r->path = link_of(inside(v, "links", "self"));
        if (slice_starts(r->path, "/redfish/") && type_of(v).n)
            return v;
    }
    buf_add_safe(&safe, slice_of(e.msg));
    (void)decode_nothing(error ? DECODE_REFUSED : DECODE_UNUSABLE, "redfish",
                         error ? error
                         : v   ? "a resource of Redfish has @odata.id and @odata.type, and this has not"
                         : slice_starts(slice_trim(in), "<") ? "a web page, not Redfish"
                                                             : arena_printf(a, "not JSON: %.300s", buf_z(&safe) + (slice_starts(slice_of(e.msg), "json: ") ? 6 : 0)),
                         0, out);
    js_free(&v);
    return NULL;
}

int decode_redfish_system(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct resource r;
    _cleanup_(js_free) struct js *v = open_resource(in, a, &r, out);

    if (!v)
        return arena_full(a) ? VF_ELIMIT : 0;
    if (slice_eqz(type_of(v), "ComputerSystem")) {
        begin(&r, r.path, NULL);
        (void)add(&r, "Manufacturer", said(member(v, "Manufacturer")));
        (void)add(&r, "Model", said(member(v, "Model")));
        (void)add(&r, "Serial", said(member(v, "SerialNumber")));
        (void)add(&r, "SKU", said(member(v, "SKU")));
        (void)add(&r, "UUID", said(member(v, "UUID")));
        (void)add(&r, "BIOS", said(member(v, "BiosVersion")));
        builder_finish(&r.b);
    }
    return builder_end(&r.b, o, "redfish", DECODE_COMPLETE, NULL, 0, out);
}

int decode_redfish(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct resource r;
    _cleanup_(js_free) struct js *v = open_resource(in, a, &r, out);

    if (!v)
        return arena_full(a) ? VF_ELIMIT : 0;
    if (slice_eqz(type_of(v), "Storage"))
        storage(&r);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (slice_eqz(type_of(v), types[i].type)) {
            begin(&r, r.path, types[i].kind);
            types[i].read(&r);
            builder_finish(&r.b);
        }
    return builder_end(&r.b, o, "redfish", DECODE_COMPLETE, NULL, 0, out);
}

/* --- for giving away --- */

static bool read_by_us(struct slice key)
{
    static const char *const keys[] = {
        "@odata.id", "@odata.type", "Type", "href", "self", "links", "Links", "Name", "Model", "Manufacturer", "SerialNumber", "SKU", "UUID", "BiosVersion",
        "FirmwareVersion", "Current", "VersionString", "Revision", "Version", "RelatedItem", "StorageControllers", "Controllers", "FirmwarePackageVersion",
        "Firmware", "Identifiers", "DurableName", "PCIeFunctions", "PCIeDevice", "PCIeDevices", "PhysicalPorts", "MacAddress", "Ethernet", "MACAddress",
        "PermanentMACAddress", "AssociatedNetworkAddresses", "AssociatedMACAddresses", "VendorId", "DeviceId", "SubsystemVendorId", "SubsystemId", "VendorID",
        "DeviceID", "SubsystemVendorID", "SubsystemDeviceID", "SegmentNumber", "BusNumber", "DeviceNumber", "FunctionNumber",
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (slice_eqz(key, keys[i]))
            return true;
    return false;
}

static struct js *reduced(const struct js *v, struct arena *a);

struct reducing {
    struct js *out;
    struct arena *a;
};

static int keep_member(void *ctx, struct slice key, const struct js *v)
{
    const struct reducing *r = ctx;
    const char *name = read_by_us(key) ? arena_dup(r->a, key).p : NULL;

    if (name)
        js_put(r->out, name, reduced(v, r->a));
    return 0;
}

static struct js *reduced(const struct js *v, struct arena *a)
{
    struct reducing r = {.a = a};

    switch (js_kind(v)) {
    case JS_OBJECT:
        r.out = js_object();
        (void)js_each(v, keep_member, &r);
        return r.out;
    case JS_ARRAY:
        r.out = js_array();
        for (size_t i = 0; i < js_count(v); i++)
            js_add(r.out, reduced(js_at(v, i), a));
        return r.out;
    case JS_TEXT: return js_text(js_as_text(v));
    case JS_INT: return js_int(js_as_int(v));
    case JS_BOOL: return js_bool(js_as_bool(v));
    case JS_NULL:
    case JS_REAL: break;
    }
    return js_null();
}

int redfish_reduce(struct slice in, struct buf *out)
{
    _cleanup_(js_free) struct js *v = js_parse(in, "json", NULL), *less = NULL;
    _cleanup_(arena_done) struct arena *a = NULL;

    if (!v || js_kind(v) != JS_OBJECT)
        return -1;
    a = arena_new(16u << 20);
    less = reduced(v, a);
    js_write(less, true, out);
    return 0;
}
