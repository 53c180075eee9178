#include "collect/anonymise_parts.h"

/* What each identity becomes. */

#define MAX_TRIES     256u /* images drawn until one is free; small sets are then searched one by one */

/* --- SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012) --- */

static uint64_t rotl(uint64_t v, unsigned n)
{
    return v << n | v >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t m)
{
    v[3] ^= m;
    sip_round(v);
    sip_round(v);
    v[0] ^= m;
}

static uint64_t sip(const uint64_t key[2], struct slice s)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    uint64_t m = 0;

    for (size_t i = 0; i < s.n; i++) {
        m |= (uint64_t)(unsigned char)s.p[i] << (8 * (i % 8));
        if (i % 8 == 7) {
            sip_word(v, m);
            m = 0;
        }
    }
    sip_word(v, m | (uint64_t)s.n << 56);
    v[2] ^= 0xff;
    for (unsigned i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Numbers drawn for one text and one try. */
struct draw {
    uint64_t key[2], at, left;
    unsigned have;
};

static struct draw draw_for(const struct anonymiser *x, char domain, struct slice text, unsigned try)
{
    char head[4] = {domain, (char)(try & 0xff), (char)(try >> 8), ':'};
    struct draw d = {{x->key[0], x->key[1]}, 0, 0, 0};
    uint64_t first = sip(d.key, (struct slice){head, sizeof head});

    d.key[0] = sip(x->key, text) ^ first;
    d.key[1] ^= rotl(first, 17);
    return d;
}

static unsigned draw_below(struct draw *d, unsigned n)
{
    if (d->have == 0) {
        d->left = sip(d->key, (struct slice){(const char *)&d->at, sizeof d->at});
        d->at++;
        d->have = 4;
    }
    d->have--;
    d->left = rotl(d->left, 16);
    return (unsigned)((d->left & 0xffff) * n >> 16);
}

/* --- images, each given away once --- */

/* Is the image free: given to nobody of its kind, and nobody's original unless that cannot be helped. */
static bool take(struct anonymiser *x, char kind, struct slice image, bool is_original)
{
    struct slice key;
    char *p = arena_alloc(x->a, image.n + 2);

    if (!p) {
        x->failed = true;
        return true;
    }
    p[0] = kind;
    memcpy(p + 1, image.p, image.n);
    key = (struct slice){p, image.n + 1};
    if (is_original || map_get(&x->taken, key) != MAP_NONE)
        return false;
    if (map_put(&x->taken, x->a, key, 1) < 0)
        x->failed = true;
    return true;
}

static char *copy(struct anonymiser *x, struct slice s)
{
    struct slice c = arena_dup(x->a, s);
    char *p;

    if (!c.p) {
        x->failed = true;
        return NULL;
    }
    p = (char *)(uintptr_t)c.p; /* just allocated */
    return p;
}

/* All of the run's letters are hexadecimal digits, and it is too long to be a word. */
static bool is_hex_run(struct slice s)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < s.n; i++) {
        if (!is_hex_digit(s.p[i]))
            return false;
        digit = digit || is_digit(s.p[i]);
        letter = letter || is_letter(s.p[i]);
    }
    return s.n >= 8 && digit && letter;
}

/* The n-th of all runs of the same form; false past the last. */
static bool nth_run(struct slice run, unsigned n, char *out)
{
    for (size_t i = 0; i < run.n; i++) {
        unsigned base = is_digit(run.p[i]) ? 10 : 26;

        out[i] = (char)((is_digit(run.p[i]) ? '0' : 'a') + n % base);
        n /= base;
    }
    return n == 0;
}

/* The image of one run of letters and digits in lower case. */
static const char *image_of_run(struct anonymiser *x, struct slice run)
{
    uint32_t at = map_get(&x->runs, run);
    bool hex = is_hex_run(run), found = false;
    struct slice key;
    char *out;

    if (at != MAP_NONE)
        return x->images[at];
    out = copy(x, run);
    key = arena_dup(x->a, run);
    if (!out || !key.p || arena_grow(x->a, (void **)&x->images, x->nimages, &x->images_cap, sizeof *x->images, 4 * ANONYMISER_MAX) < 0) {
        x->failed = true;
        return "";
    }
    for (unsigned try = 0; try < MAX_TRIES && !found; try++) {
        struct draw d = draw_for(x, 'r', run, try);
        struct slice image = {out, run.n};

        for (size_t i = 0; i < run.n; i++)
            out[i] = (char)(is_digit(run.p[i]) ? '0' + draw_below(&d, 10) : 'a' + draw_below(&d, hex ? 6 : 26));
        found = take(x, 'r', image, slice_eq(image, run) || map_get(&x->originals, image) != MAP_NONE || (run.n > 1 && anonymise_is_word(x, image)));
    }
    for (unsigned n = 0; !found && run.n <= 5 && nth_run(run, n, out); n++) /* nearly all of them are originals, too */
        found = take(x, 'r', (struct slice){out, run.n}, false);
    x->images[x->nimages] = out;
    if (map_put(&x->runs, x->a, key, (uint32_t)x->nimages++) < 0)
        x->failed = true;
    return out;
}

static void put_image_of_run(struct anonymiser *x, struct slice run, char *out)
{
    const char *image = image_of_run(x, run);

    if (!x->failed) /* otherwise it is shorter */
        memcpy(out, image, run.n);
}

/* Letters beyond ASCII: others of as many bytes. */
static size_t image_of_character(const struct anonymiser *x, struct slice s, char *out)
{
    uint32_t cp;
    size_t n = slice_utf8(s, &cp);
    struct draw d = draw_for(x, 'u', slice_cut(s, 0, n), 0);

    if (n == 2 && cp >= 0xc0 && cp < 0x250) { /* a letter of western languages */
        out[0] = (char)0xc3;
        out[1] = (char)(0xa0 + draw_below(&d, 22));
    } else if (n == 3 && cp >= 0x3040 && cp < 0xfb00) {
        cp = 0x4e00 + draw_below(&d, 20000);
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
    }
    return n ? n : 1;
}

static void image_of_name(struct anonymiser *x, struct slice text, char *out, bool host)
{
    for (size_t i = 0; i < text.n;) {
        size_t end = i;

        while (end < text.n && is_alnum(text.p[end]))
            end++;
        if (end == i) {
            i += image_of_character(x, slice_from(text, i), out + i);
            continue;
        }
        if (!(host && i > 0 && text.p[i - 1] == '.' && (end == text.n || text.p[end] == '.') && anonymise_is_top_label(slice_cut(text, i, end - i))))
            put_image_of_run(x, slice_cut(text, i, end - i), out + i); /* of "co-op.org" the end stays, not the first two letters */
        i = end;
    }
}

/* --- hexadecimal identities --- */

/*
 * Digits from keep on are drawn. In bytes the upper digit stays zero when it was and does not become it: a UUID may be printed as "0x0 0xc",
 * where a byte has one digit or two.
 */
static void image_of_digits(struct anonymiser *x, enum thing thing, struct slice text, size_t keep, size_t upto, bool bytes, char *out)
{
    static const char digits[] = "0123456789abcdef";
    bool found = false;

    for (unsigned try = 0; try < MAX_TRIES && !found; try++) {
        struct draw d = draw_for(x, (char)('A' + thing), text, try);

        for (size_t i = keep; i < upto; i++)
            if (!bytes || i % 2)
                out[i] = digits[draw_below(&d, 16)];
            else if (text.p[i] != '0')
                out[i] = digits[1 + draw_below(&d, 15)];
        found = take(x, (char)('A' + thing), (struct slice){out, text.n}, anonymise_find(x, thing, (struct slice){out, text.n}) != NULL);
    }
    x->failed = x->failed || !found;
}

void anonymise_swap(const char *in, char *out)
{
    static const unsigned char order[8] = {3, 2, 1, 0, 5, 4, 7, 6};

    for (unsigned i = 0; i < 16; i++) {
        unsigned from = i < 8 ? order[i] : i;

        out[2 * i] = in[2 * from];
        out[2 * i + 1] = in[2 * from + 1];
    }
}

static const char *replacement_of(struct anonymiser *x, struct identity_seen *s);

static const char *known_mac(struct anonymiser *x, struct slice digits)
{
    const struct identity_seen *mac = anonymise_find(x, THING_MAC, digits);

    return mac ? replacement_of(x, &x->seen[mac - x->seen]) : NULL;
}

/* The last six bytes are a MAC address of the host, or random. SMBIOS prints the same UUID in another order: both get one image. */
static void image_of_uuid(struct anonymiser *x, struct slice text, char *out)
{
    char other[32], image[32];
    bool swapped;
    const char *mac = known_mac(x, slice_from(text, 20));

    anonymise_swap(text.p, other);
    swapped = memcmp(other, text.p, 32) < 0;
    if (swapped && anonymise_find(x, THING_UUID, (struct slice){other, 32})) {
        const struct identity_seen *first = anonymise_find(x, THING_UUID, (struct slice){other, 32});
        const char *r = replacement_of(x, &x->seen[first - x->seen]);

        if (!x->failed)
            anonymise_swap(r, out);
        return;
    }
    memcpy(image, text.p, 32);
    if (mac && !x->failed)
        memcpy(image + 20, mac, 12);
    image_of_digits(x, THING_UUID, text, 0, mac ? 20 : 32, true, image);
    memcpy(out, image, 32);
}

static void image_of_wwn(struct anonymiser *x, struct slice text, char *out)
{
    const char *mac = text.p[0] == '1' || text.p[0] == '2' ? known_mac(x, slice_from(text, 4)) : NULL;

    if (mac && !x->failed)
        memcpy(out + 4, mac, 12);
    else /* 1000 and 2xxx: a MAC address follows; 5: the vendor's six digits; otherwise as eui.: they come first */
        image_of_digits(x, THING_WWN, text, text.p[0] == '1' || text.p[0] == '2' ? 10 : text.p[0] == '5' || text.p[0] == '6' ? 7 : 6, 16, false, out);
}

/* --- addresses --- */

/* One octet behind those before it: the same image for all addresses that share them. */
static void image_of_octet(struct anonymiser *x, struct slice before, struct slice octet, unsigned index, char *out)
{
    static const unsigned from[] = {0, 0, 10, 100}, upto[] = {0, 10, 100, 256};
    _cleanup_(buf_done) struct buf kind = BUF_INIT(64);
    unsigned lowest = from[octet.n], count = (index == 0 && octet.n == 3 ? 224 : upto[octet.n]) - lowest;
    uint64_t value = 0;
    char text[16];

    (void)num_parse_u64(octet, &value);
    if (x->parted[index] || (index == 3 && (value == 0 || value == 255)) || (index && value == 0))
        return;
    for (unsigned try = 0; try < MAX_TRIES + count; try++) {
        _cleanup_(buf_done) struct buf whole = BUF_INIT(64);
        struct draw d;
        unsigned v;

        buf_add(&whole, before);
        buf_add(&whole, octet);
        d = draw_for(x, '4', buf_slice(&whole), try);
        v = try < MAX_TRIES ? lowest + draw_below(&d, count) : lowest + try - MAX_TRIES;
        if ((index == 0 && (v == 0 || v == 127)) || (index && v == 0) || (index == 3 && v == 255))
            continue;
        (void)snprintf(text, sizeof text, "%u", v);
        if (index == 0 && try < MAX_TRIES && map_get(&x->first_octets, slice_of(text)) != MAP_NONE)
            continue; /* so that no address becomes one that was there */
        buf_reset(&whole);
        buf_add(&whole, before);
        buf_addz(&whole, text);
        if (take(x, '4', buf_slice(&whole), false)) {
            memcpy(out, text, octet.n);
            return;
        }
    }
}

static void image_of_ipv4(struct anonymiser *x, struct slice text, char *out)
{
    struct slice rest = text, octet;

    for (unsigned i = 0; i < 4 && !x->failed && slice_next_word(&rest, ".", &octet); i++) {
        size_t at = (size_t)(octet.p - text.p);
        const char *key = arena_printf(x->a, ".%.*s", (int)(at + octet.n), text.p); /* a dot: no run of a name */
        uint32_t known = map_get(&x->runs, slice_of(key));

        if (known == MAP_NONE) {
            char *image = *key ? copy(x, octet) : NULL;

            if (!image || arena_grow(x->a, (void **)&x->images, x->nimages, &x->images_cap, sizeof *x->images, 4 * ANONYMISER_MAX) < 0) {
                x->failed = true;
                return;
            }
            image_of_octet(x, slice_cut(text, 0, at), octet, i, image);
            known = (uint32_t)x->nimages++;
            x->images[known] = image;
            if (map_put(&x->runs, x->a, slice_of(key), known) < 0)
                x->failed = true;
        }
        memcpy(out + at, x->images[known], octet.n);
    }
}

/* Group by group; what is link-local, multicast or loopback begins as it did. */
static void image_of_ipv6(struct anonymiser *x, struct slice text, char *out)
{
    static const char digits[] = "0123456789abcdef";
    bool found = false;

    for (unsigned try = 0; try < MAX_TRIES && !found; try++) {
        struct draw d = draw_for(x, '6', text, try);
        size_t i = slice_starts(text, "fe80") || slice_starts(text, "ff") ? 4 : 0;

        for (; i < text.n; i++) {
            bool leads = i == 0 || text.p[i - 1] == ':';

            if (text.p[i] != ':' && !(leads && text.p[i] == '0')) {
                d = i < 20 ? draw_for(x, '6', slice_cut(text, 0, i + 1), try) : d; /* one prefix, one image */
                out[i] = digits[leads ? 1 + draw_below(&d, 15) : draw_below(&d, 16)];
            }
        }
        found = take(x, '6', (struct slice){out, text.n}, anonymise_find(x, THING_IPV6, (struct slice){out, text.n}) != NULL);
    }
}

/* Between the dots around i; none before from. */
static struct slice label_around(struct slice text, size_t from, size_t i)
{
    size_t end = slice_find_char(text, i, '.');

    while (i > from && text.p[i - 1] != '.')
        i--;
    return slice_cut(text, i, (end == SIZE_MAX ? text.n : end) - i);
}

static bool is_public_label(struct slice label)
{
    static const char *const vendors[] = {"vmware", "netapp", "emc", "hp", "hpe", "dell", "freenas", "truenas", "synology", "qnap", "equallogic", "purestorage",
                                          "3pardata", "ibm", "hitachi", "nimblestorage", "linux-iscsi", "nvmexpress", "openiscsi", "microsoft", "wdc", "lenovo"};

    for (size_t v = 0; v < sizeof vendors / sizeof *vendors; v++)
        if (slice_eqz(label, vendors[v]))
            return true;
    return anonymise_is_top_label(label);
}

/* iqn.YYYY-MM.com.vendor:name: the date, the top of the domain and words of everybody stay; the naming authority stays when it is a vendor's. */
static void image_of_iqn(struct anonymiser *x, struct slice text, char *out)
{
    size_t colon = slice_find_char(text, 0, ':'), date = 0, at = 0;

    for (size_t i = 0; i < text.n && i < colon && date < 2; i++)
        if (text.p[i] == '.') {
            date++;
            at = i + 1;
        }
    for (size_t i = at; i < text.n;) {
        size_t end = i;
        struct slice run;
        bool keep = false;

        while (end < text.n && is_alnum(text.p[end]))
            end++;
        run = slice_cut(text, i, end - i);
        if (i < colon && run.n)
            keep = is_public_label(label_around(slice_cut(text, 0, colon), at, i));
        keep = keep || slice_eqz(run, "uuid") || slice_eqz(run, "nguid") || slice_eqz(run, "discovery") || slice_eqz(run, "target") || slice_eqz(run, "iqn");
        if (run.n && !keep && end - i == 8 && slice_from(text, i).n >= 36) {
            char digits[32];
            const struct identity_seen *uuid =
                anonymise_digits(slice_cut(text, i, 36), digits, 32) == 32 ? anonymise_find(x, THING_UUID, (struct slice){digits, 32}) : NULL;

            if (uuid) {
                const char *image = replacement_of(x, &x->seen[uuid - x->seen]);

                for (size_t k = 0, n = 0; k < 36 && !x->failed; k++)
                    if (is_hex_digit(text.p[i + k]))
                        out[i + k] = image[n++];
                i += 36;
                continue;
            }
        }
        if (run.n && !keep)
            put_image_of_run(x, run, out + i);
        i = end > i ? end : i + 1;
    }
}

static const char *replacement_of(struct anonymiser *x, struct identity_seen *s)
{
    char *out;

    if (s->replacement)
        return s->replacement;
    out = copy(x, s->text);
    if (!out)
        return "";
    switch (s->thing) {
    case THING_MAC:
        image_of_digits(x, THING_MAC, s->text, 6, 12, true, out);
        break;
    case THING_WWN:
        image_of_wwn(x, s->text, out);
        break;
    case THING_NAA:
        image_of_digits(x, THING_NAA, s->text, 7, 32, false, out);
        break;
    case THING_UUID:
        image_of_uuid(x, s->text, out);
        break;
    case THING_NFS:
    case THING_HEX:
        image_of_digits(x, s->thing, s->text, 0, s->text.n, false, out);
        break;
    case THING_IPV4:
        image_of_ipv4(x, s->text, out);
        break;
    case THING_IPV6:
        image_of_ipv6(x, s->text, out);
        break;
    case THING_SERIAL:
    case THING_MACHINE:
    case THING_DATASTORE:
    case THING_NAME:
        image_of_name(x, s->text, out, false);
        break;
    case THING_HOST:
        image_of_name(x, s->text, out, true);
        break;
    case THING_IQN:
        image_of_iqn(x, s->text, out);
        break;
    case THING_VML: /* what is inside of it is known by itself; what is not is drawn */
        image_of_digits(x, THING_VML, s->text, 14, s->text.n, false, out);
        break;
    case THINGS:
        break;
    }
    s->replacement = out;
    return out;
}

void anonymise_make(struct anonymiser *x)
{
    for (size_t i = 0; i < x->nseen && !x->failed; i++)
        (void)replacement_of(x, &x->seen[i]);
    for (size_t i = 0; i < x->nseen && !x->failed; i++)
        anonymise_spell(x, &x->seen[i]);
}
