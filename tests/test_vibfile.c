#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/vibfile.h"
#include "vibs.h"

/*
 * VIBs made here, by deb(5) for ar, by the layout of vmtar that decode/vib.h names, with map lines of the 6.7.0 image (vmw_ahci_pci.map, ahci.map),
 * and broken ones.
 */

static const struct vib_file driver[] = {
    {"etc/vmware/default.map.d/newdrv.map", "regtype=native,bus=pci,id=1000005d..............,driver=newdrv\n"
                                            "regtype=native,bus=pci,id=................010601,driver=newdrv\n"},
    {"usr/lib/vmware/vmkmod/newdrv", "\177ELF"},
    {"etc/vmware/driver.map.d/old.map", "regtype=linux,bus=pci,id=8086:8c02 0000:0000,driver=old\n"},
    {"opt/vendor/readme.map", "regtype=native,bus=pci,id=10000001..............,driver=no\n"},
};

#define DRIVER_FILES (sizeof driver / sizeof *driver)

enum how { HOW_VGZ, HOW_XZ_IN_GZIP, HOW_TGZ, HOW_PLAIN };

static void payload(struct buf *out, enum how how)
{
    _cleanup_(buf_done) struct buf tar = BUF_INIT(1u << 20), xz = BUF_INIT(1u << 20);

    if (how == HOW_TGZ)
        ustar(&tar, driver, DRIVER_FILES);
    else
        vmtar(&tar, driver, DRIVER_FILES);
    if (how == HOW_PLAIN)
        buf_add(out, buf_slice(&tar));
    else if (how == HOW_XZ_IN_GZIP) {
        packed(&xz, buf_slice(&tar), PACK_XZ);
        packed(out, buf_slice(&xz), PACK_GZIP);
    } else
        packed(out, buf_slice(&tar), PACK_GZIP);
}

static void make_vib(struct buf *out, const char *descriptor, enum how how)
{
    _cleanup_(buf_done) struct buf body = BUF_INIT(1u << 20);

    payload(&body, how);
    ar_begin(out);
    ar_add(out, "descriptor.xml", slice_of(descriptor));
    ar_add(out, "sig.pkcs7", slice_of("sig"));
    ar_add(out, "payload/", buf_slice(&body));
}

static char path[64];

static const char *saved(struct slice bytes)
{
    int fd;

    (void)snprintf(path, sizeof path, "/tmp/vmkfit-test-vib-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
    (void)close(fd);
    return path;
}

static int read_bytes(struct slice bytes, struct arena *a, struct vibs *v, struct err *e)
{
    int rc = vibfile_read(saved(bytes), a, v, e);

    (void)unlink(path);
    return rc;
}

static void every_packing_gives_the_same(void **state)
{
    (void)state;
    for (enum how how = HOW_VGZ; how <= HOW_PLAIN; how++) {
        _cleanup_(arena_done) struct arena *a = arena_new(64u << 20);
        _cleanup_(buf_done) struct buf b = BUF_INIT(4u << 20);
        struct vibs v = {0};
        struct err e = {0};
        const struct vib *x;

        make_vib(&b, VIB_DESCRIPTOR("newdrv", "2.1.0-1OEM.670.0.0.8169922", ""), how);
        if (read_bytes(buf_slice(&b), a, &v, &e) < 0)
            fail_msg("%d: %s", how, e.msg);
        assert_int_equal(v.n, 1);
        x = &v.v[0];
        if (x->package.why)
            fail_msg("%d: %s", how, x->package.why);
        assert_true(slice_eqz(x->descriptor.name, "newdrv") && slice_eqz(x->descriptor.version, "2.1.0-1OEM.670.0.0.8169922"));
        assert_true(slice_eqz(x->descriptor.vendor, "TST"));
        assert_string_equal(x->descriptor.level, "PartnerSupported");
        assert_int_equal(x->descriptor.maintenance, VIB_YES);
        assert_int_equal(x->descriptor.live_install, VIB_NO);
        assert_int_equal(x->descriptor.ndepends, 2);
        assert_true(slice_eqz(x->descriptor.depends[1].relation, ">=") && slice_eqz(x->descriptor.depends[1].version, "6.7.0"));
        assert_int_equal(x->descriptor.nconflicts, 1);
        assert_int_equal(x->package.nreplaces, 1);
        assert_true(slice_eqz(x->package.replaces[0], "older-driver"));
        assert_int_equal(x->package.nmodules, 1);
        assert_true(slice_eqz(x->package.modules[0], "newdrv"));
        assert_int_equal(x->package.nlines, 3);
        assert_true(slice_eqz(x->package.lines[0].pattern, "1000005d..............") && !x->package.lines[0].vmklinux);
        assert_true(slice_eqz(x->package.lines[2].module, "old") && x->package.lines[2].vmklinux);
    }
}

/* Whatever is cut, nothing that was not there is reported, and that it is not whole is said. */
static void a_cut_vib_is_refused_or_says_so(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4u << 20);

    (void)state;
    make_vib(&b, VIB_DESCRIPTOR("newdrv", "2.1.0-1OEM.670.0.0.8169922", ""), HOW_PLAIN);
    for (size_t n = 0; n < b.n; n += n < 2000 ? 13 : 97) {
        _cleanup_(arena_done) struct arena *a = arena_new(64u << 20);
        struct vibs v = {0};
        struct err e = {0};

        if (read_bytes(slice_cut(buf_slice(&b), 0, n), a, &v, &e) < 0) {
            assert_true(e.msg[0] != '\0');
            continue;
        }
        assert_int_equal(v.n, 1);
        if (!v.v[0].package.why)
            fail_msg("cut at %zu of %zu, and nothing is said", n, b.n);
        assert_true(v.v[0].package.nlines <= 3 && v.v[0].package.nmodules <= 1);
    }
}

static void what_is_no_vib_is_named(void **state)
{
    static const struct {
        const char *what, *bytes, *why;
        int code;
    } t[] = {
        {"empty", "", "neither a .vib nor", VF_EFORMAT},
        {"text", "hello", "neither a .vib nor", VF_EFORMAT},
        {"an empty ar", "!<arch>\n", "empty archive", VF_EFORMAT},
        {"another ar", "!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n", "not with descriptor.xml", VF_EFORMAT},
        {"a damaged header", "!<arch>\ndescriptor.xml  0           0     0     100644  4         xx2.0\n", "damaged", VF_EFORMAT},
        {"a number too large", "!<arch>\ndescriptor.xml  0           0     0     100644  99999999999`\n", "damaged", VF_EFORMAT},
        {"no XML", "!<arch>\ndescriptor.xml  0           0     0     100644  4         `\n2.0\n", "descriptor.xml", VF_EFORMAT},
        {"other XML", "!<arch>\ndescriptor.xml  0           0     0     100644  4         `\n<a/>", "begins with <a>", VF_EFORMAT},
        {"no name", "!<arch>\ndescriptor.xml  0           0     0     100644  6         `\n<vib/>", "no name", VF_EFORMAT},
        {"a cut descriptor", "!<arch>\ndescriptor.xml  0           0     0     100644  60        `\n<vib/>", "is cut", VF_EFORMAT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(8u << 20);
        struct vibs v = {0};
        struct err e = {0};
        int rc = read_bytes(slice_of(t[i].bytes), a, &v, &e);

        if (rc != t[i].code || !strstr(e.msg, t[i].why) || v.n)
            fail_msg("%s: %d %s", t[i].what, rc, e.msg);
    }
}

static void files_that_cannot_be_read(void **state)
{
    static const char *const paths[] = {"/tmp", "/nosuch.vib", "/dev/null"};

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(8u << 20);
        struct vibs v = {0};
        struct err e = {0};

        assert_true(vibfile_read(paths[i], a, &v, &e) < 0);
        assert_non_null(strstr(e.msg, paths[i]));
    }
}

/* Of two of a name the newer; a bundle in a vendor's zip; metadata is not looked into. */
static void bundles(void **state)
{
    _cleanup_(arena_done) struct arena *a = arena_new(64u << 20);
    _cleanup_(buf_done) struct buf old = BUF_INIT(1u << 20), new = BUF_INIT(1u << 20), zip = BUF_INIT(4u << 20), outer = BUF_INIT(4u << 20), image = BUF_INIT(1u << 20),
                                   depot = BUF_INIT(4u << 20), none = BUF_INIT(1u << 20);
    static const char *const names[] = {"index.xml", "vendor-index.xml", "metadata.zip", "vib20/newdrv/a_2.9.vib", "vib20/newdrv/b_2.10.vib"};
    static const char *const in_zip[] = {"readme.txt", "driver-offline_bundle.zip"}, *const in_depot[] = {"vib20/esx-base/x.vib"}, *const in_none[] = {"index.xml"};
    struct vibs v = {0};
    struct err e = {0};

    (void)state;
    make_vib(&old, VIB_DESCRIPTOR("newdrv", "2.9.0-1OEM.670.0.0.8169922", ""), HOW_VGZ);
    make_vib(&new, VIB_DESCRIPTOR("newdrv", "2.10.0-1OEM.670.0.0.8169922", ""), HOW_VGZ);
    make_vib(&image, VIB_DESCRIPTOR("esx-base", "6.7.0-0.0.8169922", ""), HOW_VGZ);
    zipped(&zip, names, (const struct slice[]){SLICE_LIT("<x/>"), SLICE_LIT("<x/>"), SLICE_LIT("PK"), buf_slice(&old), buf_slice(&new)}, 5);
    zipped(&outer, in_zip, (const struct slice[]){SLICE_LIT("x"), buf_slice(&zip)}, 2);
    zipped(&depot, in_depot, (const struct slice[]){buf_slice(&image)}, 1);
    zipped(&none, in_none, (const struct slice[]){SLICE_LIT("<x/>")}, 1);
    if (read_bytes(buf_slice(&zip), a, &v, &e) < 0 || v.n != 1 || !slice_starts(v.v[0].descriptor.version, "2.10.0"))
        fail_msg("%zu %s", v.n, e.msg);
    v = (struct vibs){0};
    if (read_bytes(buf_slice(&outer), a, &v, &e) < 0 || v.n != 1 || !strstr(v.v[0].from, "driver-offline_bundle.zip: vib20/"))
        fail_msg("%zu %s", v.n, e.msg);
    v = (struct vibs){0};
    assert_int_equal(read_bytes(buf_slice(&depot), a, &v, &e), VF_EUNSUPPORTED);
    assert_non_null(strstr(e.msg, "--upgrade-to"));
    assert_int_equal(read_bytes(buf_slice(&none), a, &v, &e), VF_EFORMAT);
    assert_non_null(strstr(e.msg, "no .vib"));
    assert_int_equal(read_bytes(slice_cut(buf_slice(&zip), 0, zip.n / 2), a, &v, &e), VF_EFORMAT);
}

/* A payload that is not there, or map files that the list of files names and no payload has. */
static void what_the_descriptor_promises_is_missed(void **state)
{
    _cleanup_(arena_done) struct arena *a = arena_new(64u << 20);
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20), c = BUF_INIT(1u << 20), tar = BUF_INIT(1u << 20), gz = BUF_INIT(1u << 20);
    static const struct vib_file only[] = {{"usr/lib/vmware/vmkmod/newdrv", "x"}};
    struct vibs v = {0};
    struct err e = {0};

    (void)state;
    ar_begin(&b);
    ar_add(&b, "descriptor.xml", SLICE_LIT(VIB_DESCRIPTOR("newdrv", "1-1", "<file-list><file>usr/lib/vmware/vmkmod/newdrv</file></file-list>")));
    assert_int_equal(read_bytes(buf_slice(&b), a, &v, &e), 0);
    assert_non_null(strstr(v.v[0].package.why, "0 of its 1 payloads"));
    assert_int_equal(v.v[0].package.nmodules, 1); /* the list of files names it */
    vmtar(&tar, only, 1);
    packed(&gz, buf_slice(&tar), PACK_GZIP);
    ar_begin(&c);
    ar_add(&c, "descriptor.xml", SLICE_LIT(VIB_DESCRIPTOR("newdrv", "1-1", "<file-list><file>/etc/vmware/default.map.d/newdrv.map</file></file-list>")));
    ar_add(&c, "payload", buf_slice(&gz));
    v = (struct vibs){0};
    assert_int_equal(read_bytes(buf_slice(&c), a, &v, &e), 0);
    assert_non_null(strstr(v.v[0].package.why, "none of them could be read"));
}

/* Room that runs out is told, at whatever allocation. */
static void no_room_is_an_error(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4u << 20);

    (void)state;
    make_vib(&b, VIB_DESCRIPTOR("newdrv", "2.1.0-1OEM.670.0.0.8169922", ""), HOW_VGZ);
    for (size_t n = 1; n < 400; n++) {
        _cleanup_(arena_done) struct arena *a = arena_new(64u << 20);
        struct vibs v = {0};
        struct err e = {0};
        int rc;

        arena_fail_at(a, n);
        rc = read_bytes(buf_slice(&b), a, &v, &e);
        if (!arena_full(a)) {
            assert_int_equal(rc, 0);
            return;
        }
        assert_true(rc < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packing_gives_the_same), cmocka_unit_test(a_cut_vib_is_refused_or_says_so),
        cmocka_unit_test(what_is_no_vib_is_named),      cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(bundles),                      cmocka_unit_test(what_the_descriptor_promises_is_missed),
        cmocka_unit_test(no_room_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
