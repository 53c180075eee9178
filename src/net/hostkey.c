#include "net/hostkey.h"

#include "base/digest.h"
#include "base/fsx.h"
#include "net/hostkey_parts.h"

#define MAX_BLOB (64u << 10) /* an RSA key of 16,384 bits is 2 KiB */

struct entry {
    enum hostkey_marker marker;
    uint32_t line;
    const char *file;
    struct slice names, type, blob;
};

struct hostkey_store {
    struct arena *a;
    struct entry *v;
    size_t n, cap, nbad;
    struct hostkey_bad bad[HOSTKEY_MAX_BAD];
};

/* --- keys --- */

struct slice hostkey_type(struct slice blob)
{
    const struct slice none = {NULL, 0};
    const unsigned char *p = (const unsigned char *)blob.p;
    size_t n;

    if (blob.n < 5)
        return none;
    n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (n == 0 || n > 64 || n >= blob.n - 4) /* names of algorithms have at most 64 characters (RFC 4251, section 6); a key follows */
        return none;
    for (size_t i = 0; i < n; i++)
        if (p[4 + i] <= ' ' || p[4 + i] >= 0x7f || p[4 + i] == ',')
            return none;
    return slice_cut(blob, 4, n);
}

int hostkey_fingerprint(struct slice blob, char out[HOSTKEY_FINGERPRINT])
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(HOSTKEY_FINGERPRINT - 1);
    uint8_t md[DIGEST_SHA256_BYTES];
    int rc = digest_sha256(blob, md);

    if (rc < 0)
        return rc;
    buf_addz(&b, "SHA256:");
    base64_encode((struct slice){(const char *)md, sizeof md}, false, &b);
    memcpy(out, buf_z(&b), b.n + 1);
    return 0;
}

/* --- names --- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

int hostkey_name(const char *host, unsigned port, struct buf *out, struct err *e)
{
    size_t n = strlen(host);
    bool bare = port == 0 || port == 22;

    if (n == 0 || n > HOSTKEY_MAX_HOST || port > 65535 || strchr("|#@", host[0]))
        return err_set(e, VF_EUSAGE, "\"%.80s\" port %u: no host that can be looked up in known_hosts", n <= HOSTKEY_MAX_HOST ? host : "...", port);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f || strchr(",*?![]", host[i]))
            return err_set(e, VF_EUSAGE, "a host name with the character %d cannot be looked up in known_hosts", (unsigned char)host[i]);
    buf_reset(out);
    if (!bare)
        buf_addc(out, '[');
    for (size_t i = 0; i < n; i++)
        buf_addc(out, lower(host[i]));
    if (!bare)
        buf_printf(out, "]:%u", port);
    return 0;
}

/* Salt and digest of "|1|salt|digest". Returns 0 or -1. */
static int hash_parse(struct slice names, struct buf *salt, struct buf *digest)
{
    struct slice rest = slice_from(names, 3);
    size_t bar = slice_find_char(rest, 0, '|');

    if (!slice_starts(names, "|1|") || bar == SIZE_MAX || base64_decode(slice_cut(rest, 0, bar), salt) < 0 ||
        base64_decode(slice_from(rest, bar + 1), digest) < 0)
        return -1;
    return salt->n == DIGEST_SHA1_BYTES && digest->n == DIGEST_SHA1_BYTES ? 0 : -1;
}

static bool hash_match(struct slice names, struct slice name)
{
    _cleanup_(buf_done) struct buf salt = BUF_INIT(DIGEST_SHA1_BYTES + 1), digest = BUF_INIT(DIGEST_SHA1_BYTES + 1);
    uint8_t md[DIGEST_SHA1_BYTES];

    return hash_parse(names, &salt, &digest) == 0 && digest_hmac_sha1(buf_slice(&salt), name, md) == 0 &&
           memcmp(md, digest.p, sizeof md) == 0;
}

bool hostkey_names_match(struct slice names, struct slice name)
{
    struct slice rest = names, one;
    bool hit = false;

    if (slice_starts(names, "|"))
        return hash_match(names, name);
    while (slice_next_word(&rest, ",", &one)) {
        bool negated = one.p[0] == '!';

        if (!slice_iglob(slice_from(one, negated), name))
            continue;
        if (negated)
            return false;
        hit = true;
    }
    return hit;
}

bool hostkey_names_have(struct slice names, struct slice name)
{
    struct slice rest = names, one;

    if (slice_starts(names, "|"))
        return hash_match(names, name);
    while (slice_next_word(&rest, ",", &one))
        if (slice_ieq(one, name))
            return true;
    return false;
}

/* --- lines --- */

static enum hostkey_line_kind bad_line(const char **why, const char *text)
{
    *why = text;
    return LINE_BAD;
}

enum hostkey_line_kind hostkey_line_parse(struct slice line, struct hostkey_line *out, struct buf *blob, const char **why)
{
    struct slice rest = line, word, key;
    struct hostkey_line l = {0};

    buf_reset(blob);
    if (slice_find_char(line, 0, '\0') != SIZE_MAX)
        return bad_line(why, "a NUL byte");
    if (!slice_next_word(&rest, " \t\r", &word) || word.p[0] == '#')
        return LINE_EMPTY;
    if (word.p[0] == '@') {
        if (slice_eqz(word, "@revoked"))
            l.marker = MARKER_REVOKED;
        else if (slice_eqz(word, "@cert-authority"))
            l.marker = MARKER_CA;
        else
            return bad_line(why, "an unknown marker");
        if (!slice_next_word(&rest, " \t\r", &word) || word.p[0] == '@')
            return bad_line(why, "a marker without a host");
    }
    l.names = word;
    if (word.p[0] == '|') {
        _cleanup_(buf_done) struct buf salt = BUF_INIT(DIGEST_SHA1_BYTES + 1), digest = BUF_INIT(DIGEST_SHA1_BYTES + 1);

        if (hash_parse(word, &salt, &digest) < 0)
            return bad_line(why, "a hashed name that cannot be read");
    }
    if (!slice_next_word(&rest, " \t\r", &l.type) || !slice_next_word(&rest, " \t\r", &key))
        return bad_line(why, "no key");
    if (base64_decode(key, blob) < 0)
        return bad_line(why, "a key that is not in base64, or cut");
    l.blob = buf_slice(blob);
    if (!slice_eq(hostkey_type(l.blob), l.type))
        return bad_line(why, "a key that is not of the type it is said to be");
    *out = l;
    return LINE_KEY;
}

struct hostkey_store *hostkey_store_new(struct arena *a)
{
    struct hostkey_store *s = arena_alloc(a, sizeof *s);

    if (s)
        s->a = a;
    return s;
}

size_t hostkey_bad(const struct hostkey_store *s, const struct hostkey_bad **bad)
{
    *bad = s->bad;
    return s->nbad;
}

static int add_entry(struct hostkey_store *s, const struct hostkey_line *l, const char *file, uint32_t line)
{
    struct entry entry = {.marker = l->marker, .line = line, .file = file};

    entry.names = arena_dup(s->a, l->names);
    entry.blob = arena_dup(s->a, l->blob);
    if (arena_full(s->a) || arena_grow(s->a, (void **)&s->v, s->n, &s->cap, sizeof *s->v, HOSTKEY_MAX_LINES) < 0)
        return -1;
    entry.type = hostkey_type(entry.blob);
    s->v[s->n++] = entry;
    return 0;
}

int hostkey_parse(struct hostkey_store *s, struct slice text, const char *name, struct err *e)
{
    _cleanup_(buf_done) struct buf blob = BUF_INIT(MAX_BLOB);
    const char *file = arena_dup(s->a, slice_of(name)).p;
    size_t had = s->n;
    uint32_t number = 0;
    struct slice line;

    while (file && slice_next_line(&text, &line, NULL)) {
        struct hostkey_line l;
        const char *why = NULL;

        number++;
        switch (hostkey_line_parse(line, &l, &blob, &why)) {
        case LINE_EMPTY:
            break;
        case LINE_BAD:
            if (s->nbad < HOSTKEY_MAX_BAD)
                s->bad[s->nbad] = (struct hostkey_bad){file, why, number};
            s->nbad++;
            break;
        case LINE_KEY:
            if (add_entry(s, &l, file, number) < 0)
                file = NULL;
            break;
        }
    }
    if (file)
        return 0;
    s->n = had;
    return err_set(e, VF_ELIMIT, "%s: more lines than fit (at most %u, of all known_hosts files)", name, HOSTKEY_MAX_LINES);
}

int hostkey_read(struct hostkey_store *s, const char *path, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(HOSTKEY_MAX_FILE + 4096);
    struct slice text;
    int rc;

    if (strcmp(path, "/dev/null") == 0)
        return 0;
    rc = fsx_read(strcmp(path, "-") == 0 ? "./-" : path, HOSTKEY_MAX_FILE, a, &text, NULL, e);
    if (rc == VF_ENOTFOUND)
        return 0;
    if (rc < 0)
        return err_ctx(e, "known_hosts");
    return hostkey_parse(s, text, path, e);
}

/* --- looking up --- */

struct found {
    const struct entry *same, *changed, *other, *revoked, *ca;
};

static void look_up(const struct hostkey_store *s, struct slice name, struct slice blob, struct found *f)
{
    struct slice type = hostkey_type(blob);

    for (size_t i = 0; i < s->n; i++) {
        const struct entry *x = &s->v[i];
        const struct entry **to = NULL;

        switch (x->marker) {
        case MARKER_CA:
            to = &f->ca;
            break;
        case MARKER_REVOKED:
            to = slice_eq(x->blob, blob) ? &f->revoked : NULL;
            break;
        case MARKER_NONE:
            to = slice_eq(x->blob, blob) ? &f->same : slice_eq(x->type, type) ? &f->changed : &f->other;
            break;
        }
        if (to && !*to && hostkey_names_match(x->names, name))
            *to = x;
    }
}

int hostkey_check(const struct hostkey_store *s, const char *host, unsigned port, struct slice blob, struct hostkey_answer *out, struct err *e)
{
    _cleanup_(buf_done) struct buf name = BUF_INIT(HOSTKEY_MAX_NAME), bare = BUF_INIT(HOSTKEY_MAX_NAME);
    struct found f = {0};
    struct hostkey_answer a = {.verdict = HOSTKEY_UNKNOWN};
    const struct entry *by = NULL;
    int rc = hostkey_name(host, port, &name, e);

    if (rc < 0 || (rc = hostkey_name(host, 22, &bare, e)) < 0)
        return rc;
    if (hostkey_type(blob).n == 0)
        return err_set(e, VF_EFORMAT, "%s: what the host showed is not a key", host);
    look_up(s, buf_slice(&name), blob, &f);
    if (!slice_eq(buf_slice(&name), buf_slice(&bare))) {
        struct found without = {0};

        look_up(s, buf_slice(&bare), blob, &without);
        if (!f.same && !f.changed && !f.other)
            f.same = without.same;
        f.revoked = f.revoked ? f.revoked : without.revoked;
        f.ca = f.ca ? f.ca : without.ca;
    }
    if ((by = f.revoked))
        a.verdict = HOSTKEY_REVOKED;
    else if ((by = f.same))
        a.verdict = HOSTKEY_KNOWN;
    else if ((by = f.changed))
        a.verdict = HOSTKEY_CHANGED;
    else if ((by = f.other))
        a.verdict = HOSTKEY_OTHER_TYPE;
    if (by) {
        a.file = by->file;
        a.line = by->line;
    }
    if (f.ca) {
        a.ca_file = f.ca->file;
        a.ca_line = f.ca->line;
    }
    *out = a;
    return 0;
}

static bool is_revoked(const struct hostkey_store *s, struct slice name, struct slice blob)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].marker == MARKER_REVOKED && slice_eq(s->v[i].blob, blob) && hostkey_names_match(s->v[i].names, name))
            return true;
    return false;
}

static size_t types_of(const struct hostkey_store *s, struct slice name, struct slice bare, struct slice *types, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n && n < max; i++) {
        const struct entry *x = &s->v[i];

        if (x->marker == MARKER_NONE && !slice_among(types, n, x->type) && hostkey_names_match(x->names, name) &&
            !is_revoked(s, name, x->blob) && !is_revoked(s, bare, x->blob))
            types[n++] = x->type;
    }
    return n;
}

size_t hostkey_known_types(const struct hostkey_store *s, const char *host, unsigned port, struct slice *types, size_t max)
{
    _cleanup_(buf_done) struct buf name = BUF_INIT(HOSTKEY_MAX_NAME), bare = BUF_INIT(HOSTKEY_MAX_NAME);
    size_t n;

    if (hostkey_name(host, port, &name, NULL) < 0 || hostkey_name(host, 22, &bare, NULL) < 0)
        return 0;
    n = types_of(s, buf_slice(&name), buf_slice(&bare), types, max);
    return n ? n : types_of(s, buf_slice(&bare), buf_slice(&bare), types, max);
}
