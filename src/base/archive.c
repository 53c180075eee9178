#include "base/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

#include "base/buf.h"

#define MAX_TOTAL   (8ull << 30)
#define MAX_ENTRIES 200000u
#define RATIO       200u
#define RATIO_FREE  (64ull << 20)
#define BLOCK       (64u << 10)
#define MAX_DEPTH   32u

static void free_reader(struct archive **r)
{
    if (*r)
        (void)archive_read_free(*r);
}

static bool safe_name(const char *path)
{
    struct slice rest = slice_of(path), part;
    unsigned depth = 0;

    if (!path || !*path || *path == '/')
        return false;
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '\\')
            return false;
    while (slice_next_word(&rest, "/", &part))
        if (slice_eqz(part, "..") || part.n > 255 || ++depth > MAX_DEPTH)
            return false;
    return true;
}

static void damaged(struct archive_summary *s, const char *why)
{
    s->truncated = true;
    (void)snprintf(s->why, sizeof s->why, "%s", why ? why : "damaged");
}

/* Bytes really taken in and put out, whatever the headers say. */
static bool over_bounds(struct archive *r, uint64_t total, struct archive_summary *s)
{
    uint64_t in = (uint64_t)archive_filter_bytes(r, -1);

    if (total <= MAX_TOTAL && (total <= RATIO_FREE || total - RATIO_FREE <= in * RATIO))
        return false;
    damaged(s, "it expands beyond the limits for a support bundle; the rest is not read");
    return true;
}

static int walk(struct archive *r, const struct archive_visit *v, struct archive_summary *s, struct err *e)
{
    struct archive_entry *entry;
    uint64_t total = 0;
    unsigned entries = 0;
    int rc;

    for (;;) {
        _cleanup_(buf_done) struct buf body = BUF_INIT(v->max_file);
        const char *path;
        char block[BLOCK];
        bool wanted;
        la_ssize_t n = 0;

        rc = archive_read_next_header(r, &entry);
        if (rc == ARCHIVE_EOF)
            break;
        if (rc < ARCHIVE_WARN) {
            damaged(s, archive_error_string(r));
            break;
        }
        if (++entries > MAX_ENTRIES) {
            damaged(s, "more than 200,000 entries; the rest is not read");
            break;
        }
        path = archive_entry_pathname(entry);
        while (path && path[0] == '.' && path[1] == '/')
            path += 2;
        wanted = archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry) && safe_name(path);
        if (!wanted && archive_entry_filetype(entry) != AE_IFDIR)
            s->skipped++;
        s->files += wanted;
        wanted = wanted && v->want(v->ctx, path) == ARCHIVE_KEEP;
        if (archive_entry_size_is_set(entry) && archive_entry_size(entry) < 0) {
            damaged(s, "an entry with a negative size");
            break;
        }
        while (archive_entry_filetype(entry) == AE_IFREG && (n = archive_read_data(r, block, sizeof block)) > 0) {
            total += (uint64_t)n;
            if (wanted)
                buf_add(&body, (struct slice){block, (size_t)n});
            if (over_bounds(r, total, s))
                return 0;
        }
        if (n < 0)
            damaged(s, archive_error_string(r));
        if (wanted) {
            rc = v->file(v->ctx, path, buf_slice(&body), body.cut || n < 0, e);
            if (rc)
                return rc;
        }
        if (n < 0)
            break;
    }
    return 0;
}

static struct archive *new_reader(void)
{
    struct archive *r = archive_read_new();

    (void)archive_read_support_format_tar(r);
    (void)archive_read_support_format_zip(r);
    (void)archive_read_support_filter_gzip(r);
    return r;
}

/* A whole tar ends with blocks of zeros; libarchive reports a cut one like a whole one, so look at the gzip trailer ourselves. */
int archive_walk(const char *path, const struct archive_visit *v, struct archive_summary *s, struct err *e)
{
    _cleanup_(free_reader) struct archive *r = new_reader();

    *s = (struct archive_summary){0};
    if (archive_read_open_filename(r, path, BLOCK) != ARCHIVE_OK)
        return err_set(e, VF_EFORMAT, "%s: not a tar, .tgz or .zip archive (%s)", path, archive_error_string(r));
    return walk(r, v, s, e);
}

int archive_walk_bytes(struct slice bytes, const char *name, const struct archive_visit *v, struct archive_summary *s,
                       struct err *e)
{
    _cleanup_(free_reader) struct archive *r = new_reader();

    *s = (struct archive_summary){0};
    if (archive_read_open_memory(r, bytes.p, bytes.n) != ARCHIVE_OK)
        return err_set(e, VF_EFORMAT, "%s: not a tar, .tgz or .zip archive (%s)", name, archive_error_string(r));
    return walk(r, v, s, e);
}

int archive_gunzip(struct slice in, const char *name, size_t max, struct arena *a, struct slice *out, bool *cut,
                   struct err *e)
{
    _cleanup_(free_reader) struct archive *r = archive_read_new();
    _cleanup_(buf_done) struct buf b = BUF_INIT(max);
    struct archive_entry *entry;
    char block[BLOCK];
    la_ssize_t n = 0;

    (void)archive_read_support_format_raw(r);
    (void)archive_read_support_filter_gzip(r);
    if (archive_read_open_memory(r, in.p, in.n) != ARCHIVE_OK || archive_read_next_header(r, &entry) != ARCHIVE_OK)
        return err_set(e, VF_EFORMAT, "%s: not gzip (%s)", name, archive_error_string(r));
    while (!b.cut && (n = archive_read_data(r, block, sizeof block)) > 0)
        buf_add(&b, (struct slice){block, (size_t)n});
    *cut = b.cut || n < 0;
    *out = arena_dup(a, buf_slice(&b));
    return out->p ? 0 : err_set(e, VF_ELIMIT, "%s: no room left", name);
}

bool archive_is(struct slice head)
{
    return slice_starts(head, "\x1f\x8b") || slice_starts(head, "PK\x03\x04") ||
           (head.n >= 262 && memcmp(head.p + 257, "ustar", 5) == 0);
}

const char *archive_library(void)
{
    return archive_version_string();
}
