/*
 * P6: a hostile archive writes nothing, fills nothing, does not loop; what can be read is used, and what is missing is said. All work on
 * archives runs in a child that cannot write to any file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "promises.h"

#include "base/archive.h"

#define BUDGET_MIB 400 /* blocks, one file of 64 MiB with its copy, and its growth */
#define ADAPTERS   "commands/localcli_storage-core-adapter-list.txt"

static const char adapters[] = "HBA Name  Driver    Link State  UID            Capabilities  Description                                   \n"
                               "--------  --------  ----------  -------------  ------------  --------------------------------------------\n"
                               "vmhba0    vmw_ahci  link-n/a    sata.vmhba0                  (0000:00:11.4) Intel Wellsburg AHCI Controller\n";

/* --- packing --- */

enum packing { PACK_TAR, PACK_TGZ, PACK_ZIP };

struct pack {
    struct archive *w;
    struct buf out;
};

static la_ssize_t on_bytes(struct archive *w, void *ctx, const void *bytes, size_t n)
{
    (void)w;
    buf_add(&((struct pack *)ctx)->out, (struct slice){bytes, n});
    return (la_ssize_t)n;
}

static void pack_begin(struct pack *p, enum packing form)
{
    *p = (struct pack){.w = archive_write_new(), .out = BUF_INIT(1u << 30)};
    assert_int_equal(form == PACK_ZIP ? archive_write_set_format_zip(p->w) : archive_write_set_format_ustar(p->w), ARCHIVE_OK);
    if (form == PACK_TGZ)
        assert_int_equal(archive_write_add_filter_gzip(p->w), ARCHIVE_OK);
    (void)archive_write_set_bytes_in_last_block(p->w, 1);
    assert_int_equal(archive_write_open(p->w, p, NULL, on_bytes, NULL), ARCHIVE_OK);
}

static void pack_entry(struct pack *p, const char *name, unsigned kind, const char *target, bool hard, struct slice body, uint64_t zeros)
{
    static const char block[1u << 16];
    struct archive_entry *en = archive_entry_new();

    archive_entry_set_pathname(en, name);
    archive_entry_set_filetype(en, kind);
    archive_entry_set_perm(en, 0644);
    archive_entry_set_size(en, (la_int64_t)(body.n + zeros));
    if (target && hard)
        archive_entry_set_hardlink(en, target);
    else if (target)
        archive_entry_set_symlink(en, target);
    assert_true(archive_write_header(p->w, en) >= ARCHIVE_WARN);
    if (body.n)
        assert_int_equal(archive_write_data(p->w, body.p, body.n), body.n);
    for (; zeros; zeros -= zeros < sizeof block ? zeros : sizeof block)
        assert_true(archive_write_data(p->w, block, zeros < sizeof block ? zeros : sizeof block) > 0);
    archive_entry_free(en);
}

static void pack_file(struct pack *p, const char *name, struct slice body)
{
    pack_entry(p, name, AE_IFREG, NULL, false, body, 0);
}

static void pack_end(struct pack *p)
{
    assert_int_equal(archive_write_close(p->w), ARCHIVE_OK);
    assert_int_equal(archive_write_free(p->w), ARCHIVE_OK);
}

/* A ustar header by hand, for sizes that no writer would write; size is 12 bytes as they stand there. */
static void raw_header(struct buf *out, const char *name, char type, const char *size)
{
    char h[512] = {0};
    unsigned sum = 0;

    (void)snprintf(h, 100, "%s", name);
    (void)snprintf(h + 100, 8, "0000644");
    memcpy(h + 124, size, 12);
    (void)snprintf(h + 136, 12, "00000000000");
    memset(h + 148, ' ', 8);
    h[156] = type;
    memcpy(h + 257, type == 'S' ? "ustar  " : "ustar\00000", 8);
    if (type == 'S') { /* GNU: one part of 512 bytes at the far end of 4 EiB of nothing */
        memcpy(h + 386, "\x80\0\0\0\x3f\xff\xff\xff\xff\xff\xfe\0", 12);
        (void)snprintf(h + 398, 12, "00000001000");
        memcpy(h + 483, "\x80\0\0\0\x40\0\0\0\0\0\0\0", 12);
    }
    for (size_t i = 0; i < sizeof h; i++)
        sum += (unsigned char)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
    buf_add(out, (struct slice){h, sizeof h});
}

static void raw_padding(struct buf *out, size_t n)
{
    while (n--)
        buf_addc(out, '\0');
}

/* --- reading, in the child --- */

struct opened {
    const char *path;
    size_t targets, files;  /* files of the first target */
    const char *label, *cut; /* of one of the targets; cut NULL: none may be cut */
    bool fails, adapter;     /* an error is right; vmhba0 of some target must be known */
};

static bool has_adapter(struct target *t)
{
    struct arena *a = arena_new(ENV_MAX_HOST);
    struct env env = *shared;
    struct facts *f;
    struct err e = {0};
    bool found = env_gather(&env, t, a, &f, &e) == 0 &&
                 facts_find(f, facts_table_index(f, "adapter"), SLICE_LIT("vmhba0")) != NULL;

    arena_free(a);
    return found;
}

static const char *open_and_read(const void *ctx)
{
    static struct arena *a; /* what is wrong is told from it; the child ends soon */
    const struct opened *want = ctx;
    struct target *t = NULL;
    struct err e = {0};
    const char *cut = NULL, *wrong = NULL;
    bool adapter = false;
    size_t n = 0;
    int rc;

    a = arena_new(ENV_MAX_HOST);
    rc = offline_open(want->path, a, &t, &n, &e);
    if (rc < 0 && !want->fails)
        return arena_printf(a, "error: %s", e.msg);
    if (rc < 0)
        return strlen(e.msg) ? NULL : "an error without a message";
    for (size_t i = 0; i < n; i++) {
        cut = t[i].cut ? t[i].cut : cut;
        adapter = adapter || has_adapter(&t[i]);
    }
    if (want->targets && n != want->targets)
        wrong = arena_printf(a, "%zu targets", n);
    else if (want->files && t[0].files != want->files)
        wrong = arena_printf(a, "%zu files", t[0].files);
    else if (want->cut && (!cut || !strstr(cut, want->cut)))
        wrong = arena_printf(a, "cut says \"%s\"", cut ? cut : "nothing");
    else if (!want->cut && cut)
        wrong = arena_printf(a, "it is not cut: %s", cut);
    else if (want->adapter && !adapter)
        wrong = "the readable part was not used";
    for (size_t i = 0; i < n; i++)
        channel_close(&t[i].channel);
    return wrong;
}

/* Write the archive, read it in a child, and see that nothing but the archive is in the folder. */
static void try_archive(const char *name, struct slice bytes, struct opened want)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096);
    struct folder f;
    long peak;

    folder_make(&f);
    folder_write(&f, name, bytes);
    folder_path(&f, name, &path);
    want.path = buf_z(&path);
    peak = child_run(open_and_read, &want);
    if (memory_counts() && peak > BUDGET_MIB)
        fail_msg("%s: %ld MiB", name, peak);
    assert_int_equal(folder_count(&f), 1);
    folder_remove(&f);
}

static void try_pack(const char *name, struct pack *p, struct opened want)
{
    pack_end(p);
    try_archive(name, buf_slice(&p->out), want);
    buf_done(&p->out);
}

/* --- names and kinds --- */

static enum archive_want want_all(void *ctx, const char *path)
{
    buf_printf(ctx, "%s\n", path);
    return ARCHIVE_KEEP;
}

static int take_all(void *ctx, const char *path, struct slice body, bool cut, struct err *e)
{
    (void)ctx, (void)path, (void)body, (void)cut, (void)e;
    return 0;
}

static void P6_names_that_lead_outside_are_not_shown(void **state)
{
    static const char *const files[] = {"../x", "/x", "a/../../x", "a/..", "a\033[31m", "a\nb", "a\177", "..", "c\\d"};
    struct pack p;
    _cleanup_(buf_done) struct buf names = BUF_INIT(1u << 16), deep = BUF_INIT(4096);
    struct archive_budget budget = {0, 0};
    struct archive_visit v = {.ctx = &names, .want = want_all, .file = take_all, .max_file = 1u << 20, .max_inner = 1u << 20, .budget = &budget};
    struct archive_summary sum;
    struct err e = {0};

    (void)state;
    for (unsigned i = 0; i < 40; i++)
        buf_addz(&deep, "d/");
    buf_addz(&deep, "x");
    pack_begin(&p, PACK_TAR);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        pack_file(&p, files[i], SLICE_LIT("evil"));
    pack_file(&p, buf_z(&deep), SLICE_LIT("evil"));
    pack_entry(&p, "link", AE_IFLNK, "/tmp", false, (struct slice){NULL, 0}, 0);
    pack_file(&p, "link/vmkfit-through-the-link", SLICE_LIT("evil"));
    pack_entry(&p, "hard", AE_IFREG, "/etc/passwd", true, (struct slice){NULL, 0}, 0);
    pack_entry(&p, "fifo", AE_IFIFO, NULL, false, (struct slice){NULL, 0}, 0);
    pack_entry(&p, "device", AE_IFCHR, NULL, false, (struct slice){NULL, 0}, 0);
    pack_file(&p, "Commands/one.txt", SLICE_LIT("1"));
    pack_file(&p, "commands/ONE.txt", SLICE_LIT("2"));
    pack_file(&p, "./" ADAPTERS, SLICE_LIT(adapters));
    pack_end(&p);
    assert_int_equal(archive_walk_bytes(buf_slice(&p.out), "hostile", &v, &sum, &e), 0);
    assert_string_equal(buf_z(&names), "link/vmkfit-through-the-link\nCommands/one.txt\ncommands/ONE.txt\n" ADAPTERS "\n");
    assert_int_equal(sum.files, 4);
    assert_int_equal(sum.skipped, sizeof files / sizeof *files + 5);
    assert_false(sum.truncated);
    try_archive("names.tar", buf_slice(&p.out), (struct opened){.targets = 1, .adapter = true});
    assert_int_equal(fsx_kind("/tmp/vmkfit-through-the-link"), FSX_NONE);
    buf_done(&p.out);
}

static void P6_entries_without_end_are_counted(void **state)
{
    struct pack p;

    (void)state;
    pack_begin(&p, PACK_TGZ);
    pack_file(&p, ADAPTERS, SLICE_LIT(adapters));
    for (unsigned i = 0; i < 50000; i++) {
        _cleanup_(buf_done) struct buf name = BUF_INIT(64);

        buf_printf(&name, "commands/%u.txt", i);
        pack_file(&p, buf_z(&name), (struct slice){NULL, 0});
    }
    try_pack("many.tgz", &p, (struct opened){.targets = 1, .adapter = true, .cut = "more than 20000 files"});
    pack_begin(&p, PACK_TGZ);
    for (unsigned i = 0; i < 210000; i++)
        pack_file(&p, "var/lib/nothing", (struct slice){NULL, 0});
    try_pack("many.tgz", &p, (struct opened){.fails = true});
}

/* --- sizes --- */

static void P6_bombs_stop_at_their_ratio(void **state)
{
    struct slice none = {NULL, 0};
    struct pack p, outer;

    (void)state;
    pack_begin(&p, PACK_TGZ); /* below the limits: 50 MB of nothing are only a long file */
    pack_file(&p, ADAPTERS, SLICE_LIT(adapters));
    pack_entry(&p, "var/log/vmkernel.log", AE_IFREG, NULL, false, none, 50u << 20);
    try_pack("esx.tgz", &p, (struct opened){.targets = 1, .files = 2, .adapter = true});

    pack_begin(&p, PACK_TGZ);
    pack_file(&p, ADAPTERS, SLICE_LIT(adapters));
    pack_entry(&p, "commands/bomb.txt", AE_IFREG, NULL, false, none, 256u << 20);
    pack_end(&p);
    try_archive("esx.tgz", buf_slice(&p.out), (struct opened){.targets = 1, .adapter = true, .cut = "expands beyond"});

    pack_begin(&outer, PACK_ZIP); /* nested, many times: one budget for all of them */
    for (unsigned i = 0; i < 20; i++) {
        _cleanup_(buf_done) struct buf name = BUF_INIT(64);

        buf_printf(&name, "esx%u.tgz", i);
        pack_file(&outer, buf_z(&name), buf_slice(&p.out));
    }
    try_pack("vc.zip", &outer, (struct opened){.adapter = true, .cut = "expands beyond"});
    buf_done(&p.out);

    pack_begin(&p, PACK_TGZ); /* what is not wanted is unpacked too, and counts */
    pack_file(&p, ADAPTERS, SLICE_LIT(adapters));
    pack_entry(&p, "var/core/bomb", AE_IFREG, NULL, false, none, 256u << 20);
    try_pack("esx.tgz", &p, (struct opened){.targets = 1, .files = 1, .adapter = true, .cut = "expands beyond"});
}

static void P6_sizes_of_headers_are_not_believed(void **state)
{
    static const struct {
        const char *size;
        char type;
    } forms[] = {
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", '0'}, /* -1 */
        {"\x80\0\0\0\x80\0\0\0\0\0\0\0", '0'},                     /* 2^63 */
        {"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", '0'},       /* 2^63 - 1 */
        {"77777777777\0", '0'},                                    /* 8 GiB, and nothing there */
        {"00000001000\0", 'S'},                                    /* sparse: 4 EiB */
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 20);
        char size[12];

        (void)snprintf(size, sizeof size, "%011zo", sizeof adapters - 1);
        raw_header(&b, ADAPTERS, '0', size);
        buf_addz(&b, adapters);
        raw_padding(&b, (512 - b.n % 512) % 512);
        raw_header(&b, "commands/huge.txt", forms[i].type, forms[i].size);
        raw_padding(&b, 4096);
        try_archive("esx.tar", buf_slice(&b), (struct opened){.targets = 1, .adapter = true, .cut = ""});
    }
}

static void le(struct buf *b, uint64_t v, unsigned bytes)
{
    while (bytes--) {
        buf_addc(b, (char)(v & 0xff));
        v >>= 8;
    }
}

/* A zip whose directory names one local file a thousand times: each is to be unpacked again. */
static void P6_overlapping_zip_entries_are_bounded(void **state)
{
    struct pack p;
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 20);
    size_t local, directory;

    (void)state;
    pack_begin(&p, PACK_ZIP);
    pack_file(&p, ADAPTERS, SLICE_LIT(adapters));
    local = p.out.n; /* what stands before the second local header */
    pack_entry(&p, "commands/zero.txt", AE_IFREG, NULL, false, (struct slice){NULL, 0}, 20u << 20);
    pack_end(&p);
    directory = slice_find(buf_slice(&p.out), 0, "PK\1\2");
    assert_true(directory != SIZE_MAX);
    local = slice_find(buf_slice(&p.out), local > 30 ? 30 : 0, "PK\3\4");
    assert_true(local != SIZE_MAX && local < directory);
    buf_add(&b, slice_cut(buf_slice(&p.out), 0, directory));
    for (unsigned i = 0; i < 1000; i++) {
        le(&b, 0x02014b50, 4), le(&b, 20, 2), le(&b, 20, 2), le(&b, 8, 2), le(&b, 8, 2), le(&b, 0, 4), le(&b, 0, 4);
        le(&b, directory - local, 4), le(&b, 20u << 20, 4), le(&b, 17, 2), le(&b, 0, 2), le(&b, 0, 2), le(&b, 0, 2), le(&b, 0, 2);
        le(&b, 0100644u << 16, 4), le(&b, local, 4);
        buf_printf(&b, "commands/%04u.txt", i);
    }
    le(&b, 0x06054b50, 4), le(&b, 0, 4), le(&b, 1000, 2), le(&b, 1000, 2);
    le(&b, b.n - 12 - directory, 4), le(&b, directory, 4), le(&b, 0, 2);
    try_archive("vc.zip", buf_slice(&b), (struct opened){.fails = true, .cut = ""});
    buf_done(&p.out);
}

/* --- cuts --- */

static int pack_one(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct arena *a = arena_new(16u << 20);
    struct slice body;

    if (fsx_read(path, 8u << 20, a, &body, NULL, e) == 0)
        pack_file(ctx, rel, body);
    arena_free(a);
    return 0;
}

static void pack_fixture(struct pack *p, enum packing form)
{
    struct err e = {0};

    pack_begin(p, form);
    assert_int_equal(fsx_walk("fixtures/bundle-6.7/bundle", pack_one, p, &e), 0);
    pack_end(p);
}

/* Everything up to each 512th byte: what is there is used, what is not there is said. From end on nothing of the files is missing. */
static void every_cut(const char *name, struct slice bytes, size_t end)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096);
    struct folder f;
    size_t whole = 0, before = 0;

    folder_make(&f);
    folder_path(&f, name, &path);
    for (size_t k = 0; k <= bytes.n / 512 + 1; k++) {
        size_t at = k == 0 ? bytes.n : (k - 1) * 512; /* the whole first */
        struct arena *a = arena_new(ENV_MAX_HOST);
        struct target *t = NULL;
        struct err e = {0};
        size_t n = 0;
        int rc;

        folder_write(&f, name, slice_cut(bytes, 0, at));
        rc = offline_open(buf_z(&path), a, &t, &n, &e);
        if (rc == 0) {
            assert_int_equal(n, 1);
            if (k == 0) {
                assert_null(t[0].cut);
                whole = t[0].files;
                assert_true(has_adapter(&t[0]));
            } else if (t[0].files < before || t[0].files > whole || (t[0].cut ? !*t[0].cut : at < end)) {
                fail_msg("%s cut at %zu of %zu: %zu files of %zu, cut: %s", name, at, bytes.n, t[0].files, whole, t[0].cut ? t[0].cut : "no");
            }
            before = k ? t[0].files : 0;
            channel_close(&t[0].channel);
        } else if (before || !e.msg[0] || k == 0) {
            fail_msg("%s cut at %zu of %zu: %s", name, at, bytes.n, e.msg);
        }
        arena_free(a);
    }
    assert_true(before > 0);
    folder_remove(&f);
}

static void P6_cut_archives_say_so(void **state)
{
    struct pack tar, tgz, zip, outer;

    (void)state;
    pack_fixture(&tar, PACK_TAR);
    every_cut("esx.tar", buf_slice(&tar.out), tar.out.n - 512); /* one of two blocks of zeros is end enough */
    buf_done(&tar.out);
    pack_fixture(&tgz, PACK_TGZ);
    every_cut("esx.tgz", buf_slice(&tgz.out), tgz.out.n);
    pack_begin(&outer, PACK_ZIP);
    pack_file(&outer, "esx.tgz", buf_slice(&tgz.out));
    pack_end(&outer);
    every_cut("vc.zip", buf_slice(&outer.out), outer.out.n);
    buf_done(&outer.out);
    buf_done(&tgz.out);
    pack_fixture(&zip, PACK_ZIP);
    every_cut("esx.zip", buf_slice(&zip.out), zip.out.n);
    buf_done(&zip.out);
}

static void P6_a_missing_bundle_of_several_is_said(void **state)
{
    struct pack one, outer;
    struct slice bytes;
    size_t second;

    (void)state;
    pack_begin(&one, PACK_TGZ);
    pack_file(&one, ADAPTERS, SLICE_LIT(adapters));
    pack_end(&one);
    pack_begin(&outer, PACK_ZIP);
    pack_file(&outer, "esx1.tgz", buf_slice(&one.out));
    pack_file(&outer, "esx2.tgz", buf_slice(&one.out));
    pack_end(&outer);
    bytes = buf_slice(&outer.out);
    try_archive("vc.zip", bytes, (struct opened){.targets = 2, .adapter = true});
    second = slice_find(bytes, 30, "PK\3\4");
    assert_true(second != SIZE_MAX);
    try_archive("vc.zip", slice_cut(bytes, 0, second + 24), (struct opened){.targets = 1, .adapter = true, .cut = "may have held more"});
    try_archive("vc.zip", slice_cut(bytes, 0, second + 60), (struct opened){.targets = 2, .adapter = true, .cut = ""});
    buf_done(&outer.out);
    buf_done(&one.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P6_names_that_lead_outside_are_not_shown),
        cmocka_unit_test(P6_entries_without_end_are_counted),
        cmocka_unit_test(P6_bombs_stop_at_their_ratio),
        cmocka_unit_test(P6_sizes_of_headers_are_not_believed),
        cmocka_unit_test(P6_overlapping_zip_entries_are_bounded),
        cmocka_unit_test(P6_cut_archives_say_so),
        cmocka_unit_test(P6_a_missing_bundle_of_several_is_said),
    };

    return cmocka_run_group_tests(tests, shared_open, shared_close);
}
