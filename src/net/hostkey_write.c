#include "net/hostkey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fsw.h"
#include "base/fsx.h"
#include "net/hostkey_parts.h"

#define MAX_BLOB (64u << 10)

static void free_path(char **p)
{
    free(*p);
}

/* One key of one host, and what a file says of it. */
struct change {
    const char *path;
    struct slice name, type, blob;
    struct slice text; /* of the file */
    uint32_t line;
    bool present; /* the file has the very line */
    bool modified;
};

/* The line that is added, with its end. */
static int line_of(const struct change *c, bool hashed, struct buf *out, struct err *e)
{
    if (hashed) {
        uint8_t salt[DIGEST_SHA1_BYTES], md[DIGEST_SHA1_BYTES];

        if (random_bytes(salt, sizeof salt) < 0 || digest_hmac_sha1((struct slice){(const char *)salt, sizeof salt}, c->name, md) < 0)
            return err_set(e, VF_EUNSUPPORTED, "%s: the name of the host cannot be hashed here", c->path);
        buf_addz(out, "|1|");
        base64_encode((struct slice){(const char *)salt, sizeof salt}, true, out);
        buf_addc(out, '|');
        base64_encode((struct slice){(const char *)md, sizeof md}, true, out);
    } else {
        buf_add(out, c->name);
    }
    buf_addc(out, ' ');
    buf_add(out, c->type);
    buf_addc(out, ' ');
    base64_encode(c->blob, true, out);
    buf_addc(out, '\n');
    return out->cut ? err_set(e, VF_ELIMIT, "%s: the host's key is too large", c->path) : 0;
}

/* Name, type and the file's text, in the arena. A file that is not there is empty. */
static int begin(struct change *c, const char *path, const char *host, unsigned port, struct slice blob, struct arena *a, struct err *e)
{
    _cleanup_(buf_done) struct buf name = BUF_INIT(HOSTKEY_MAX_NAME);
    int rc = hostkey_name(host, port, &name, e);

    if (rc < 0)
        return rc;
    *c = (struct change){.path = path, .blob = blob, .type = hostkey_type(blob), .name = arena_dup(a, buf_slice(&name))};
    if (c->type.n == 0 || blob.n > MAX_BLOB / 2)
        return err_set(e, VF_EFORMAT, "%s: what the host showed is not a key", host);
    if (strcmp(path, "/dev/null") == 0)
        return err_set(e, VF_EUNSUPPORTED, "the known_hosts file is /dev/null, which keeps nothing; name a file");
    rc = fsx_read(strcmp(path, "-") == 0 ? "./-" : path, HOSTKEY_MAX_FILE, a, &c->text, NULL, e);
    return rc == VF_ENOTFOUND ? 0 : rc;
}

static int refuse_revoked(const struct change *c, const struct hostkey_line *l, struct err *e)
{
    if (l->marker == MARKER_REVOKED && slice_eq(l->blob, c->blob) && hostkey_names_match(l->names, c->name))
        return err_set(e, VF_EDENIED, "%s:%u: says that this key is revoked; it is not added", c->path, c->line);
    return 0;
}

/* Look through the file for the line itself, and for what speaks against it. */
static int look(struct change *c, struct err *e)
{
    _cleanup_(buf_done) struct buf blob = BUF_INIT(MAX_BLOB);
    struct slice rest = c->text, line;
    int rc = 0;

    for (c->line = 1; rc == 0 && slice_next_line(&rest, &line, NULL); c->line++) {
        struct hostkey_line l;
        const char *why;

        if (hostkey_line_parse(line, &l, &blob, &why) != LINE_KEY)
            continue;
        rc = refuse_revoked(c, &l, e);
        if (l.marker == MARKER_NONE && slice_eq(l.blob, c->blob) && hostkey_names_match(l.names, c->name) && hostkey_names_have(l.names, c->name))
            c->present = true;
    }
    return rc;
}

static int append(const char *path, const struct change *c, struct slice line, struct err *e)
{
    _cleanup_(buf_done) struct buf whole = BUF_INIT(MAX_BLOB * 2);
    _cleanup_(fsx_close) int fd = -1;
    struct stat st;
    ssize_t n;

    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, VF_EIO, "%s: cannot be written: %s", path, strerror(errno));
    if (c->text.n && c->text.p[c->text.n - 1] != '\n')
        buf_addc(&whole, '\n');
    buf_add(&whole, line);
    do
        n = write(fd, whole.p, whole.n);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(e, VF_EIO, "%s: cannot be written: %s", path, strerror(errno));
    if ((size_t)n < whole.n) {
        (void)!ftruncate(fd, st.st_size); /* half a line would spoil the next one */
        return err_set(e, VF_EIO, "%s: cannot be written: no room left", path);
    }
    return fsync(fd) < 0 ? err_set(e, VF_EIO, "%s: cannot be written: %s", path, strerror(errno)) : 0;
}

static int add(struct change *c, bool hashed, struct err *e)
{
    _cleanup_(buf_done) struct buf line = BUF_INIT(MAX_BLOB * 2);
    int rc = line_of(c, hashed, &line, e);

    if (rc == 0)
        rc = fsw_make_parents(c->path, e);
    return rc < 0 ? rc : append(c->path, c, buf_slice(&line), e);
}

int hostkey_add(const char *path, const char *host, unsigned port, struct slice blob, bool hashed, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(HOSTKEY_MAX_FILE + 8192);
    struct change c;
    int rc = begin(&c, path, host, port, blob, a, e);

    if (rc == 0)
        rc = look(&c, e);
    return rc < 0 || c.present ? rc : add(&c, hashed, e);
}

/* Names without name, or none when only negations are left: these match no host. */
static void names_without(struct slice names, struct slice name, struct buf *out)
{
    struct slice rest = names, one;
    bool any = false;

    buf_reset(out);
    while (slice_next_word(&rest, ",", &one)) {
        if (slice_ieq(one, name))
            continue;
        any |= one.p[0] != '!';
        if (out->n)
            buf_addc(out, ',');
        buf_add(out, one);
    }
    if (!any)
        buf_reset(out);
}

/* One line with its end: kept, dropped, or kept for the other hosts. */
static int rewrite(struct change *c, struct slice raw, struct buf *blob, struct buf *names, struct buf *out, struct err *e)
{
    struct slice rest = raw, line;
    struct hostkey_line l;
    const char *why;
    int rc;

    if (!slice_next_line(&rest, &line, NULL) || hostkey_line_parse(line, &l, blob, &why) != LINE_KEY) {
        buf_add(out, raw);
        return 0;
    }
    rc = refuse_revoked(c, &l, e);
    if (rc < 0)
        return rc;
    if (l.marker != MARKER_NONE || !slice_eq(l.type, c->type) || !hostkey_names_match(l.names, c->name)) {
        buf_add(out, raw);
        return 0;
    }
    if (slice_eq(l.blob, c->blob)) {
        c->present = true;
        buf_add(out, raw);
        return 0;
    }
    buf_reset(names);
    if (l.names.p[0] != '|')
        names_without(l.names, c->name, names);
    if (hostkey_names_match(buf_slice(names), c->name))
        return err_set(e, VF_EDENIED, "%s:%u: knows the host by a pattern, with another key; remove or change that line", c->path, c->line);
    c->modified = true;
    if (names->n == 0)
        return 0;
    buf_add(out, slice_cut(raw, 0, (size_t)(l.names.p - raw.p)));
    buf_add(out, buf_slice(names));
    buf_add(out, slice_from(raw, (size_t)(l.names.p - raw.p) + l.names.n));
    return 0;
}

static int rewrite_all(struct change *c, struct buf *out, struct err *e)
{
    _cleanup_(buf_done) struct buf blob = BUF_INIT(MAX_BLOB), names = BUF_INIT(HOSTKEY_MAX_FILE);
    struct slice rest = c->text;
    int rc = 0;

    for (c->line = 1; rc == 0 && rest.n; c->line++) {
        size_t lf = slice_find_char(rest, 0, '\n');
        struct slice raw = slice_cut(rest, 0, lf == SIZE_MAX ? rest.n : lf + 1);

        rest = slice_from(rest, raw.n);
        rc = rewrite(c, raw, &blob, &names, out, e);
    }
    return rc;
}

/* PATH.old is the file as it is now; then the new one takes its place. */
static int put(const char *path, struct slice bytes, struct err *e)
{
    _cleanup_(free_path) char *real = realpath(path, NULL); /* the link stays, the file behind it is replaced */
    _cleanup_(buf_done) struct buf old = BUF_INIT(4096);

    if (!real)
        return err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
    buf_printf(&old, "%s.old", real);
    if ((unlink(buf_z(&old)) < 0 && errno != ENOENT) || link(real, buf_z(&old)) < 0)
        return err_set(e, VF_EIO, "%s: the old file cannot be kept: %s", buf_z(&old), strerror(errno));
    return fsw_replace(real, bytes, e);
}

int hostkey_replace(const char *path, const char *host, unsigned port, struct slice blob, bool hashed, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(HOSTKEY_MAX_FILE + 8192);
    _cleanup_(buf_done) struct buf out = BUF_INIT(HOSTKEY_MAX_FILE + MAX_BLOB * 2), line = BUF_INIT(MAX_BLOB * 2);
    struct change c;
    int rc = begin(&c, path, host, port, blob, a, e);

    if (rc == 0)
        rc = rewrite_all(&c, &out, e);
    if (rc < 0)
        return rc;
    if (!c.modified)
        return c.present ? 0 : add(&c, hashed, e);
    if (!c.present) {
        rc = line_of(&c, hashed, &line, e);
        if (rc < 0)
            return rc;
        if (out.n && out.p[out.n - 1] != '\n')
            buf_addc(&out, '\n');
        buf_add(&out, buf_slice(&line));
    }
    return put(path, buf_slice(&out), e);
}
