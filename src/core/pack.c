#include "core/pack.h"

#include "base/digest.h"
#include "core/rule.h"

static const char first_line[] = "vmkfit-rules-pack 1";

bool pack_name_valid(struct slice name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!alnum && (i == 0 || !strchr("._-", c) || !c))
            return false;
    }
    return name.n > 0 && name.n <= 64;
}

static void add_hex(const uint8_t *p, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%02x", p[i]);
}

/* Does the digest of bytes have this hex spelling. */
static bool digest_is(struct slice bytes, struct slice hex)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(2 * DIGEST_SHA256_BYTES + 1);
    uint8_t md[DIGEST_SHA256_BYTES];

    if (digest_sha256(bytes, md) < 0)
        return false;
    add_hex(md, sizeof md, &b);
    return slice_eq(buf_slice(&b), hex);
}

/* Decimal digits without a leading zero, at most 18. */
static bool number(struct slice s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(s.p[i] - '0');
    }
    return s.n > 0 && s.n <= 18 && (s.p[0] != '0' || s.n == 1);
}

struct head {
    struct slice rest; /* lines not yet read */
    const char *what;
};

/* The value of the next line when it begins with the word and one blank. */
static bool next_is(struct head *h, const char *word, struct slice *value)
{
    size_t n = strlen(word), end = slice_find_char(h->rest, 0, '\n');
    struct slice line = slice_cut(h->rest, 0, end);

    if (end == SIZE_MAX || !slice_starts(line, word) || line.n < n + 2 || line.p[n] != ' ')
        return false;
    *value = slice_from(line, n + 1);
    h->rest = slice_from(h->rest, end + 1);
    return true;
}

static int wants(const struct head *h, const char *word, struct err *e)
{
    return err_set(e, VF_EFORMAT, "%s: no line \"%s\" of a pack where it should stand; it is damaged", h->what, word);
}

/* "NAME SIZE DIGEST"; the digest waits in bytes until the sizes are known to fit. */
static int read_file_line(const struct head *h, struct slice value, struct pack *p, size_t *size, struct slice *digest, struct err *e)
{
    struct slice rest = value, name, bytes;
    uint64_t n;

    if (!slice_next_word(&rest, " ", &name) || !slice_next_word(&rest, " ", &bytes) || !slice_next_word(&rest, " ", digest) ||
        name.n + bytes.n + digest->n + 2 != value.n || !number(bytes, &n) || n > PACK_MAX)
        return wants(h, "file NAME SIZE DIGEST", e);
    if (!pack_name_valid(name) || !slice_ends(name, ".xml"))
        return err_set(e, VF_EFORMAT, "%s: \"" SLICE_FMT "\" is not a name of a rule file", h->what, SLICE_ARG(name));
    for (size_t i = 0; i < p->nfiles; i++)
        if (slice_eq(p->files[i].name, name))
            return err_set(e, VF_EFORMAT, "%s: the pack has two files " SLICE_FMT, h->what, SLICE_ARG(name));
    if (p->nfiles == PACK_MAX_FILES)
        return err_set(e, VF_ELIMIT, "%s: the pack has more than %u files", h->what, PACK_MAX_FILES);
    *size = n;
    p->files[p->nfiles++].name = name;
    return 0;
}

static int read_signature(struct slice text, const char *what, struct pack *p, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(2 * SIGN_BYTES);

    if (base64_decode(text, &b) < 0 || b.n != SIGN_BYTES)
        return err_set(e, VF_EFORMAT, "%s: its signature is damaged", what);
    memcpy(p->signature, buf_slice(&b).p, SIGN_BYTES);
    return 0;
}

int pack_read(struct slice bytes, const char *what, struct pack *out, struct err *e)
{
    size_t sizes[PACK_MAX_FILES], end = slice_find(slice_cut(bytes, 0, PACK_MAX_HEAD), 0, "\n\n");
    struct slice digests[PACK_MAX_FILES], value, rest;
    struct head h = {slice_cut(bytes, 0, end == SIZE_MAX ? 0 : end + 1), what};
    size_t first = strlen(first_line);

    *out = (struct pack){.nfiles = 0};
    if (!slice_starts(bytes, "vmkfit-rules-pack "))
        return err_set(e, VF_EFORMAT, "%s: not a rule pack; \"vmkfit rules sign\" makes one of rule files", what);
    if (!slice_starts(bytes, first_line) || bytes.n == first || bytes.p[first] != '\n')
        return err_set(e, VF_EFORMAT, "%s: a rule pack of another format than this vmkfit reads", what);
    if (end == SIZE_MAX)
        return err_set(e, VF_EFORMAT, "%s: the pack is cut, or damaged", what);
    h.rest = slice_from(h.rest, first + 1);
    if (!next_is(&h, "name", &out->name) || !pack_name_valid(out->name))
        return wants(&h, "name", e);
    if (!next_is(&h, "serial", &value) || !number(value, &out->serial))
        return wants(&h, "serial", e);
    if (!next_is(&h, "date", &out->date) || !rule_date(out->date))
        return wants(&h, "date", e);
    if (!next_is(&h, "key", &out->key) || !slice_starts(out->key, "SHA256:"))
        return wants(&h, "key", e);
    while (next_is(&h, "file", &value)) {
        size_t i = out->nfiles;

        if (read_file_line(&h, value, out, &sizes[i < PACK_MAX_FILES ? i : 0], &digests[i < PACK_MAX_FILES ? i : 0], e) < 0)
            return e->code;
    }
    if (out->nfiles == 0)
        return wants(&h, "file", e);
    out->head = slice_cut(bytes, 0, (size_t)(h.rest.p - bytes.p));
    if (!next_is(&h, "signature", &value) || h.rest.n)
        return wants(&h, "signature", e);
    if (read_signature(value, what, out, e) < 0)
        return e->code;
    rest = slice_from(bytes, end + 2);
    for (size_t i = 0; i < out->nfiles; i++) {
        struct pack_file *f = &out->files[i];

        if (sizes[i] > rest.n)
            return err_set(e, VF_EFORMAT, "%s: the pack is cut in " SLICE_FMT, what, SLICE_ARG(f->name));
        f->bytes = slice_cut(rest, 0, sizes[i]);
        rest = slice_from(rest, sizes[i]);
        if (!digest_is(f->bytes, digests[i]))
            return err_set(e, VF_EFORMAT, "%s: " SLICE_FMT " in it was altered after it was signed", what, SLICE_ARG(f->name));
    }
    return rest.n ? err_set(e, VF_EFORMAT, "%s: %zu bytes behind the end of the pack", what, rest.n) : 0;
}

bool pack_signed_by(const struct pack *p, const struct sign_public *key)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(100);

    sign_fingerprint(key, &b);
    return slice_eq(buf_slice(&b), p->key) && sign_holds(key, p->head, p->signature);
}

int pack_write(const struct pack *p, struct slice private_pem, const char *key_name, struct buf *out, struct err *e)
{
    uint8_t md[DIGEST_SHA256_BYTES], signature[SIGN_BYTES];
    struct sign_public key;

    if (sign_read_public(private_pem, key_name, &key, e) < 0)
        return e->code;
    buf_printf(out, "%s\nname " SLICE_FMT "\nserial %llu\ndate " SLICE_FMT "\nkey ", first_line, SLICE_ARG(p->name), (unsigned long long)p->serial,
               SLICE_ARG(p->date));
    sign_fingerprint(&key, out);
    buf_addc(out, '\n');
    for (size_t i = 0; i < p->nfiles; i++) {
        if (digest_sha256(p->files[i].bytes, md) < 0)
            return err_set(e, VF_EUNSUPPORTED, "this OpenSSL has no SHA-256");
        buf_printf(out, "file " SLICE_FMT " %zu ", SLICE_ARG(p->files[i].name), p->files[i].bytes.n);
        add_hex(md, sizeof md, out);
        buf_addc(out, '\n');
    }
    if (sign_make(private_pem, key_name, buf_slice(out), signature, e) < 0)
        return e->code;
    buf_addz(out, "signature ");
    base64_encode((struct slice){(const char *)signature, sizeof signature}, true, out);
    buf_addz(out, "\n\n");
    for (size_t i = 0; i < p->nfiles; i++)
        buf_add(out, p->files[i].bytes);
    return out->cut || out->n > PACK_MAX ? err_set(e, VF_ELIMIT, "the pack would be larger than %u MB", PACK_MAX >> 20) : 0;
}
