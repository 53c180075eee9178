#ifndef VF_TESTS_VIBS_H
#define VF_TESTS_VIBS_H

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

#include "base/buf.h"

/* A writer of VIBs for tests: vmtar, ar, gzip and .zip by their descriptions, as far from the readers as can be. */

struct vib_file {
    const char *name, *text;
};

/* One header of a ustar or a vmtar. offset 0: the data follow. */
static inline void tar_header(struct buf *b, const char *name, size_t size, bool visor, uint32_t offset, char type)
{
    char h[512] = {0};
    unsigned sum = 0;

    (void)snprintf(h, 100, "%s", name);
    memcpy(h + 100, "0000644", 8);
    memcpy(h + 108, "0000000", 8);
    memcpy(h + 116, "0000000", 8);
    (void)snprintf(h + 124, 12, "%011o", (unsigned)size);
    memcpy(h + 136, "00000000000", 12);
    h[156] = type;
    memcpy(h + 257, visor ? "visor " : "ustar", visor ? 6 : 6);
    memcpy(h + 263, visor ? " " : "00", visor ? 1 : 2);
    for (unsigned i = 0; i < 4; i++)
        h[496 + i] = (char)(offset >> (8 * i));
    memset(h + 148, ' ', 8);
    for (unsigned i = 0; i < 512; i++)
        sum += (unsigned char)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
    buf_add(b, (struct slice){h, 512});
}

static inline void tar_pad(struct buf *b, size_t to)
{
    while (b->n % to)
        buf_addc(b, '\0');
}

/* Headers first, the data behind them at their offsets. */
static inline void vmtar(struct buf *b, const struct vib_file *files, size_t n)
{
    size_t at = ((n + 3) * 512 + 4095) / 4096 * 4096;
    _cleanup_(buf_done) struct buf data = BUF_INIT(1u << 20);

    tar_header(b, "etc/", 0, true, 0, '5');
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(files[i].text);

        tar_header(b, files[i].name, size, true, (uint32_t)(at + data.n), '0');
        buf_addz(&data, files[i].text);
        tar_pad(&data, 16);
    }
    buf_add(b, (struct slice){(const char[1024]){0}, 1024});
    while (b->n < at)
        buf_addc(b, '\0');
    buf_add(b, buf_slice(&data));
}

static inline void ustar(struct buf *b, const struct vib_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tar_header(b, files[i].name, strlen(files[i].text), false, 0, '0');
        buf_addz(b, files[i].text);
        tar_pad(b, 512);
    }
    buf_add(b, (struct slice){(const char[1024]){0}, 1024});
}

static inline void ar_begin(struct buf *b)
{
    buf_addz(b, "!<arch>\n");
}

static inline void ar_add(struct buf *b, const char *name, struct slice body)
{
    buf_printf(b, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name, "0", "0", "0", "100644", body.n);
    buf_add(b, body);
    if (body.n & 1)
        buf_addc(b, '\n');
}

enum packing { PACK_GZIP, PACK_XZ };

static inline void packed(struct buf *out, struct slice in, enum packing how)
{
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    static char room[1 << 20];
    size_t used = 0;

    (void)archive_write_set_format_raw(a);
    (void)(how == PACK_GZIP ? archive_write_add_filter_gzip(a) : archive_write_add_filter_xz(a));
    (void)archive_write_open_memory(a, room, sizeof room, &used);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_pathname(e, "x");
    (void)archive_write_header(a, e);
    (void)archive_write_data(a, in.p, in.n);
    archive_entry_free(e);
    (void)archive_write_close(a);
    (void)archive_write_free(a);
    buf_add(out, (struct slice){room, used});
}

/* A zip of files. */
static inline void zipped(struct buf *out, const char *const *names, const struct slice *bodies, size_t n)
{
    struct archive *a = archive_write_new();
    static char room[4 << 20];
    size_t used = 0;

    (void)archive_write_set_format_zip(a);
    (void)archive_write_open_memory(a, room, sizeof room, &used);
    for (size_t i = 0; i < n; i++) {
        struct archive_entry *e = archive_entry_new();

        archive_entry_set_pathname(e, names[i]);
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, (la_int64_t)bodies[i].n);
        (void)archive_write_header(a, e);
        (void)archive_write_data(a, bodies[i].p, bodies[i].n);
        archive_entry_free(e);
    }
    (void)archive_write_close(a);
    (void)archive_write_free(a);
    buf_add(out, (struct slice){room, used});
}

#define VIB_DESCRIPTOR(name, version, more)                                                                                                       \
    "<vib version=\"5.0\"><type>bootbank</type><name>" name "</name><version>" version "</version><vendor>TST</vendor><summary>s</summary>"      \
    "<relationships><depends><constraint name=\"vmkapi_2_5_0_0\"/><constraint name=\"esx-version\" relation=\"&gt;=\" version=\"6.7.0\"/></depends>" \
    "<conflicts><constraint name=\"old-driver\"/></conflicts><replaces><constraint name=\"older-driver\" relation=\"&lt;\" version=\"2.0\"/></replaces>" \
    "<provides><constraint name=\"x\"/></provides></relationships><system-requires><maintenance-mode>true</maintenance-mode></system-requires>"  \
    "<acceptance-level>partner</acceptance-level><live-install-allowed>false</live-install-allowed><live-remove-allowed>false</live-remove-allowed>" more \
    "<payloads><payload name=\"payload\" type=\"vgz\"><checksum checksum-type=\"sha-256\">00</checksum></payload></payloads></vib>"

#endif
