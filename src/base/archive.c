#include "base/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

#include "base/buf.h"

#define ZIP_END     22u /* bytes of the end record, without its comment */
#define MAX_TOTAL   (8ull << 30)
#define MAX_ENTRIES 200000u
#define RATIO       200u
#define RATIO_FREE  (64ull << 20)
#define BLOCK       (64u << 10)
#define MAX_DEPTH   32u
#define TAR_BLOCK   512
#define ZIP_TAIL    (ZIP_END + 65535u) /* end of central directory with the longest comment */

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
    if (s->truncated)
        return;
    s->truncated = true;
    if (!why || strncmp(why, "INTERNAL ERROR", 14) == 0) /* what libarchive 3.6 says of some damaged data: about itself, not about the file */
        why = "its data is damaged in the middle";
    (void)snprintf(s->why, sizeof s->why, "%s", why);
}

/* One open archive: the reader, and its last bytes as they are on disk. */
struct source {
    struct archive *r;
    char tail[ZIP_TAIL];
    size_t ntail;
    bool inner;
};

/* Bytes really taken in and put out, whatever the headers say. Zip is read by places: a far one counts once it was reached. */
static bool over_bounds(const struct source *src, struct archive_budget *b, size_t n, struct archive_summary *s)
{
    int64_t in = archive_filter_bytes(src->r, -1);

    if (!src->inner && in > 0 && (uint64_t)in > b->in)
        b->in = (uint64_t)in;
    b->out += n;
    if (b->out <= MAX_TOTAL && (b->out <= RATIO_FREE || b->out - RATIO_FREE <= b->in * RATIO))
        return false;
    damaged(s, "it expands beyond the limits for a support bundle; the rest is not read");
    return true;
}

/*
 * libarchive 3.6 reports a tar that was cut between two entries like a whole one. A whole one ends with blocks of zeros, which the reader
 * passes when it looks for the next header; without them it moves by the padding of the last entry at most.
 */
static void check_end(const struct source *src, int64_t before, struct archive_summary *s)
{
    int64_t moved = archive_filter_bytes(src->r, 0) - before;
    size_t at = src->ntail;

    switch (archive_format(src->r) & ARCHIVE_FORMAT_BASE_MASK) {
    case ARCHIVE_FORMAT_TAR:
        if (moved < TAR_BLOCK)
            damaged(s, "the archive ends without its end mark; it may be cut");
        break;
    case ARCHIVE_FORMAT_ZIP:
        while (at >= 4 && memcmp(src->tail + at - 4, "PK\5\6", 4) != 0)
            at--;
        if (at < 4 || src->ntail - (at - 4) < ZIP_END)
            damaged(s, "the archive ends without its directory; it is cut");
        break;
    default: /* nothing was read: an empty file, or no archive */
        damaged(s, "the archive is empty");
        break;
    }
}

/* The entry's name without "./" before it, or NULL when it is not one to be shown. */
static const char *plain_name(struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);

    while (path && path[0] == '.' && path[1] == '/')
        path += 2;
    return safe_name(path) ? path : NULL;
}

/* What stands in the archive under this name, or NULL when it is not to be shown. */
static const char *shown_name(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry) ? plain_name(entry) : NULL;
}

static void tell_link(struct archive_entry *entry, const struct archive_visit *v)
{
    const char *path = plain_name(entry);

    if (v->link && path && (archive_entry_filetype(entry) == AE_IFLNK || archive_entry_hardlink(entry)))
        v->link(v->ctx, path);
}

/* Read one entry to its end, whatever it is: what is skipped is unpacked too. Returns 0, 1 when the walk is over, or what file() says. */
static int visit_entry(const struct source *src, struct archive_entry *entry, const struct archive_visit *v, struct archive_summary *s,
                       struct err *e)
{
    const char *path = shown_name(entry);
    enum archive_want want = path ? v->want(v->ctx, path) : ARCHIVE_SKIP;
    _cleanup_(buf_done) struct buf body = BUF_INIT(want == ARCHIVE_INNER ? v->max_inner : v->max_file);
    char block[BLOCK];
    la_ssize_t n = 0;
    bool over = false;

    if (!path)
        tell_link(entry, v);
    if (archive_entry_size_is_set(entry) && archive_entry_size(entry) < 0) {
        damaged(s, "an entry with a negative size");
        return 1;
    }
    while (!over && (n = archive_read_data(src->r, block, sizeof block)) > 0) {
        if (want != ARCHIVE_SKIP)
            buf_add(&body, (struct slice){block, (size_t)n});
        over = over_bounds(src, v->budget, (size_t)n, s);
    }
    if (n < 0)
        damaged(s, archive_error_string(src->r));
    if (want != ARCHIVE_SKIP) {
        int rc = v->file(v->ctx, path, buf_slice(&body), body.cut || over || n < 0, e);

        if (rc)
            return rc;
    }
    return over || n < 0;
}

static int walk(const struct source *src, const struct archive_visit *v, struct archive_summary *s, struct err *e)
{
    struct archive_entry *entry;
    unsigned entries = 0;

    for (;;) {
        int64_t before = archive_filter_bytes(src->r, 0);
        int rc = archive_read_next_header(src->r, &entry);

        if (rc == ARCHIVE_EOF) {
            check_end(src, before, s);
            return 0;
        }
        if (rc < ARCHIVE_WARN) {
            damaged(s, archive_error_string(src->r));
            return 0;
        }
        if (++entries > MAX_ENTRIES) {
            damaged(s, "more than 200,000 entries; the rest is not read");
            return 0;
        }
        if (shown_name(entry))
            s->files++;
        else if (archive_entry_filetype(entry) != AE_IFDIR)
            s->skipped++;
        rc = visit_entry(src, entry, v, s, e);
        if (rc)
            return rc == 1 && s->truncated ? 0 : rc;
    }
}

static struct archive *new_reader(void)
{
    struct archive *r = archive_read_new();

    (void)archive_read_support_format_tar(r);
    (void)archive_read_support_format_zip(r);
    (void)archive_read_support_filter_gzip(r);
    return r;
}

/* The end of a file; what cannot be read is reported when it is walked. */
static void read_tail(const char *path, struct source *src)
{
    FILE *f = fopen(path, "rbe");

    if (!f)
        return;
    if (fseeko(f, -(off_t)sizeof src->tail, SEEK_END) != 0)
        rewind(f);
    src->ntail = fread(src->tail, 1, sizeof src->tail, f);
    (void)fclose(f);
}

int archive_walk(const char *path, const struct archive_visit *v, struct archive_summary *s, struct err *e)
{
    _cleanup_(free_reader) struct archive *r = new_reader();
    struct source src = {.r = r};

    *s = (struct archive_summary){0};
    read_tail(path, &src);
    if (archive_read_open_filename(r, path, BLOCK) != ARCHIVE_OK)
        return err_set(e, VF_EFORMAT, "%s: not a tar, .tgz or .zip archive (%s)", path, archive_error_string(r));
    return walk(&src, v, s, e);
}

int archive_walk_bytes(struct slice bytes, const char *name, const struct archive_visit *v, struct archive_summary *s,
                       struct err *e)
{
    _cleanup_(free_reader) struct archive *r = new_reader();
    struct source src = {.r = r, .inner = true};
    struct slice tail = slice_from(bytes, bytes.n > sizeof src.tail ? bytes.n - sizeof src.tail : 0);

    *s = (struct archive_summary){0};
    src.ntail = tail.n;
    if (tail.n)
        memcpy(src.tail, tail.p, tail.n);
    if (archive_read_open_memory(r, bytes.p, bytes.n) != ARCHIVE_OK)
        return err_set(e, VF_EFORMAT, "%s: not a tar, .tgz or .zip archive (%s)", name, archive_error_string(r));
    return walk(&src, v, s, e);
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
    (void)archive_read_support_filter_xz(r);
    if (archive_read_open_memory(r, in.p, in.n) != ARCHIVE_OK || archive_read_next_header(r, &entry) != ARCHIVE_OK)
        return err_set(e, VF_EFORMAT, "%s: neither gzip nor xz, or damaged (%s)", name, archive_error_string(r));
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
