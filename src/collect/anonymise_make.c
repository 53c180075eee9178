#include "collect/anonymise_parts.h"

/* What each identity becomes, and in which spellings it stands. */

#define MAX_SPELLINGS 2000000u
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
        if (!(host && anonymise_is_top_label(slice_cut(text, i, end - i)) && i > 0 && text.p[i - 1] == '.'))
            memcpy(out + i, image_of_run(x, slice_cut(text, i, end - i)), x->failed ? 0 : end - i);
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

static void swap_fields(const char *in, char *out)
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

    swap_fields(text.p, other);
    swapped = memcmp(other, text.p, 32) < 0;
    if (swapped && anonymise_find(x, THING_UUID, (struct slice){other, 32})) {
        const struct identity_seen *first = anonymise_find(x, THING_UUID, (struct slice){other, 32});
        const char *r = replacement_of(x, &x->seen[first - x->seen]);

        if (!x->failed)
            swap_fields(r, out);
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

    for (unsigned i = 0; i < 4 && slice_next_word(&rest, ".", &octet); i++) {
        size_t at = (size_t)(octet.p - text.p);
        const char *key = arena_printf(x->a, ".%.*s", (int)(at + octet.n), text.p); /* a dot: no run of a name */
        uint32_t known = map_get(&x->runs, slice_of(key));

        if (known == MAP_NONE) {
            char *image = copy(x, octet);

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

/* iqn.YYYY-MM.com.vendor:name: the date, the top of the domain and words of everybody stay; the naming authority stays when it is a vendor's. */
static void image_of_iqn(struct anonymiser *x, struct slice text, char *out)
{
    static const char *const vendors[] = {"vmware", "netapp", "emc", "hp", "hpe", "dell", "freenas", "truenas", "synology", "qnap", "equallogic", "purestorage",
                                          "3pardata", "ibm", "hitachi", "nimblestorage", "linux-iscsi", "nvmexpress", "openiscsi", "microsoft", "wdc", "lenovo"};
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
        if (i < colon) {
            keep = anonymise_is_top_label(run);
            for (size_t v = 0; v < sizeof vendors / sizeof *vendors; v++)
                keep = keep || slice_eqz(run, vendors[v]);
        }
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
            memcpy(out + i, image_of_run(x, run), x->failed ? 0 : run.n);
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

/* --- spellings --- */

static void add_spelling(struct anonymiser *x, const struct identity_seen *s, struct slice text, struct slice replacement, enum bounds bounds, bool hex)
{
    struct spelling one = {.thing = (uint8_t)s->thing, .bounds = (uint8_t)bounds, .hex = hex};
    struct slice to = anonymise_lower(x, replacement);

    one.text = anonymise_lower(x, text);
    one.replacement = to.p;
    if (x->failed || text.n != replacement.n || text.n == 0 || slice_eq(one.text, to))
        return; /* of the product's words alone: iqn.1998-01.com.vmware */
    if (arena_grow(x->a, (void **)&x->spellings, x->nspellings, &x->spellings_cap, sizeof one, MAX_SPELLINGS) < 0) {
        x->failed = true;
        return;
    }
    x->spellings[x->nspellings++] = one;
}

/* Digits with a separator behind some; sep[i] is what stands before digit i, 0 for nothing. */
static void spell_digits(struct anonymiser *x, const struct identity_seen *s, struct slice digits, const char *image, const char sep[33], enum bounds bounds)
{
    char text[80], to[80];
    size_t n = 0;

    for (size_t i = 0; i < digits.n; i++) {
        if (sep[i]) {
            text[n] = sep[i];
            to[n++] = sep[i];
        }
        text[n] = digits.p[i];
        to[n++] = image[i];
    }
    add_spelling(x, s, (struct slice){text, n}, (struct slice){to, n}, bounds, true);
}

static void spell_bytes(struct anonymiser *x, const struct identity_seen *s, char by)
{
    char sep[33] = {0};

    for (size_t i = 2; i < s->text.n; i += 2)
        sep[i] = by;
    spell_digits(x, s, s->text, s->replacement, sep, BOUNDS_NONE);
}

static void spell_uuid(struct anonymiser *x, const struct identity_seen *s)
{
    static const char usual[33] = {[8] = '-', [12] = '-', [16] = '-', [20] = '-'}, volume[33] = {[8] = '-', [16] = '-', [20] = '-'}, plain[33] = {0};
    char other[32], image[32], text[80], to[80], machine[33] = {0};
    size_t n = 0;

    swap_fields(s->text.p, other);
    swap_fields(s->replacement, image);
    spell_digits(x, s, s->text, s->replacement, plain, BOUNDS_NONE);
    spell_digits(x, s, s->text, s->replacement, usual, BOUNDS_NONE);
    spell_digits(x, s, s->text, s->replacement, volume, BOUNDS_NONE);
    spell_digits(x, s, (struct slice){other, 32}, image, usual, BOUNDS_NONE);
    spell_digits(x, s, (struct slice){other, 32}, image, plain, BOUNDS_NONE);
    for (size_t i = 2; i < 32; i += 2)
        machine[i] = i == 16 ? '-' : ' ';
    spell_digits(x, s, s->text, s->replacement, machine, BOUNDS_NONE);
    spell_bytes(x, s, ' ');
    for (size_t i = 0; i < 32; i += 2) {
        const char *in[2] = {s->text.p + i, s->replacement + i};
        char *into[2] = {text + n, to + n};
        size_t width = s->text.p[i] == '0' ? 1 : 2;

        for (unsigned k = 0; k < 2; k++) {
            memcpy(into[k], i ? " 0x" : "0x", i ? 3 : 2);
            memcpy(into[k] + (i ? 3 : 2), in[k] + 2 - width, width);
        }
        n += (i ? 3 : 2) + width;
    }
    add_spelling(x, s, (struct slice){text, n}, (struct slice){to, n}, BOUNDS_NONE, true);
}

/* How a text with marks is written in XML, in JSON, in a URL, in file names; and in t10. ids: a blank as '_', another mark as its code. */
enum writing { WRITE_PLAIN, WRITE_XML, WRITE_JSON, WRITE_URL, WRITE_UNDERSCORE, WRITE_T10, WRITE_ASCII, WRITINGS };

static size_t write_one(enum writing how, struct slice s, struct buf *out)
{
    static const char *const marks = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    char c = s.p[0];
    const char *at = strchr(marks, c);
    uint32_t cp = 0;
    size_t n = (unsigned char)c >= 0x80 ? slice_utf8(s, &cp) : 1;

    if (how == WRITE_ASCII)
        buf_printf(out, "%02x", (unsigned char)c);
    else if (how == WRITE_XML && c && at)
        buf_addz(out, entities[at - marks]);
    else if (how == WRITE_JSON && n > 1)
        buf_printf(out, "\\u%04x", (unsigned)cp);
    else if (how == WRITE_JSON && (c == '"' || c == '\\'))
        buf_printf(out, "\\%c", c);
    else if (how == WRITE_URL && !is_alnum(c) && !strchr("-._~", c))
        buf_printf(out, "%%%02x", (unsigned char)c);
    else if ((how == WRITE_UNDERSCORE || how == WRITE_T10) && c == ' ')
        buf_addc(out, '_');
    else if (how == WRITE_T10 && !is_alnum(c))
        buf_printf(out, "%02x", (unsigned char)c);
    else
        buf_add(out, slice_cut(s, 0, n && how != WRITE_URL ? n : 1));
    return how == WRITE_ASCII || how == WRITE_URL || n == 0 ? 1 : n;
}

static void write_all(enum writing how, struct slice s, struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < s.n;)
        i += write_one(how, slice_from(s, i), out);
}

static void in_case_of(struct slice shown, const char *image, char *out)
{
    for (size_t i = 0; i < shown.n; i++)
        out[i] = shown.p[i] >= 'A' && shown.p[i] <= 'Z' && is_letter(image[i]) ? (char)(image[i] - ('a' - 'A')) : image[i];
}

/* A word of the product, too short, or a number: in its place only. Long ones with digits stand in other words as well. */
static enum bounds bounds_of_name(const struct anonymiser *x, const struct identity_seen *s)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < s->text.n; i++) {
        digit = digit || is_digit(s->text.p[i]);
        letter = letter || !(is_digit(s->text.p[i]) || memchr(" .-_", s->text.p[i], 4));
    }
    if (s->text.n < 3 || !letter || anonymise_is_phrase(x, s->text))
        return BOUNDS_PLACE;
    return digit && s->text.n >= 8 ? BOUNDS_NONE : BOUNDS_WORD;
}

static void spell_name(struct anonymiser *x, const struct identity_seen *s)
{
    _cleanup_(buf_done) struct buf text = BUF_INIT(4096), to = BUF_INIT(4096), plain = BUF_INIT(4096);
    enum bounds bounds = s->thing == THING_SERIAL ? (s->text.n >= 8 ? BOUNDS_NONE : BOUNDS_WORD) : bounds_of_name(x, s);
    char image[512];

    if (s->thing == THING_SERIAL && anonymise_is_phrase(x, s->text))
        bounds = BOUNDS_PLACE;
    if (s->thing == THING_NAME && bounds == BOUNDS_PLACE)
        return; /* a port group called "Storage" names nobody, and stands in lists where no key calls for it */
    in_case_of(s->shown, s->replacement, image);
    for (enum writing how = WRITE_PLAIN; how < WRITINGS; how++) {
        if ((how == WRITE_ASCII || how == WRITE_T10) && s->thing != THING_SERIAL)
            continue;
        write_all(how, s->shown, &text);
        write_all(how, (struct slice){image, s->shown.n}, &to);
        if (how == WRITE_PLAIN)
            buf_add(&plain, buf_slice(&text));
        else if (slice_eq(buf_slice(&plain), buf_slice(&text)))
            continue;
        if (how == WRITE_ASCII && text.n < 10)
            continue; /* too short not to stand in other numbers */
        add_spelling(x, s, buf_slice(&text), buf_slice(&to), how == WRITE_ASCII ? BOUNDS_NONE : bounds, how == WRITE_ASCII);
    }
}

static void spell(struct anonymiser *x, const struct identity_seen *s)
{
    static const char nfs[33] = {[8] = '-'}, plain[33] = {0};

    switch (s->thing) {
    case THING_MAC:
        spell_bytes(x, s, ':');
        spell_bytes(x, s, '-');
        spell_digits(x, s, s->text, s->replacement, plain, BOUNDS_NONE);
        { /* serial number of a PCI device: ff-ff in the middle */
            char text[24] = "00-00-00-ff-ff-00-00-00", to[24] = "00-00-00-ff-ff-00-00-00";

            for (unsigned i = 0; i < 12; i++) {
                text[i / 2 * 3 + i % 2 + (i >= 6 ? 6 : 0)] = s->text.p[i];
                to[i / 2 * 3 + i % 2 + (i >= 6 ? 6 : 0)] = s->replacement[i];
            }
            add_spelling(x, s, slice_of(text), slice_of(to), BOUNDS_NONE, true);
        }
        return;
    case THING_WWN:
        spell_bytes(x, s, ':');
        spell_bytes(x, s, '-');
        spell_digits(x, s, s->text, s->replacement, plain, BOUNDS_NONE);
        return;
    case THING_UUID:
        spell_uuid(x, s);
        return;
    case THING_NFS:
        spell_digits(x, s, s->text, s->replacement, nfs, BOUNDS_NONE);
        return;
    case THING_NAA:
    case THING_HEX:
        add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, s->text.n >= 12 ? BOUNDS_NONE : BOUNDS_WORD, true);
        return;
    case THING_IPV4:
        add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, BOUNDS_NUMBER, false);
        return;
    case THING_IPV6:
        add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, BOUNDS_WORD, true);
        return;
    case THING_SERIAL:
    case THING_HOST:
    case THING_MACHINE:
    case THING_DATASTORE:
    case THING_NAME:
        spell_name(x, s);
        return;
    case THING_IQN:
        add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, BOUNDS_NONE, false);
        return;
    case THING_VML:
    case THINGS:
        return;
    }
}

static bool is_inside(const struct anonymiser *x, struct slice vml)
{
    for (size_t from = 14; from + 16 <= vml.n; from++)
        if ((vml.n - from >= 32 && anonymise_find(x, THING_NAA, slice_cut(vml, from, 32))) || anonymise_find(x, THING_WWN, slice_cut(vml, from, 16)))
            return true;
    return false;
}

/* Does it hold text: a serial number, known by itself, or the name of an adapter? */
static bool is_text(struct slice vml)
{
    for (size_t i = 14; i + 1 < vml.n; i += 2)
        if (vml.p[i] < '2' || vml.p[i] > '7')
            return false;
    return vml.n > 14;
}

void anonymise_make(struct anonymiser *x)
{
    for (size_t i = 0; i < x->nseen && !x->failed; i++)
        (void)replacement_of(x, &x->seen[i]);
    for (size_t i = 0; i < x->nseen && !x->failed; i++) {
        struct identity_seen *s = &x->seen[i];

        if (s->thing != THING_VML)
            spell(x, s);
        else if (!is_inside(x, s->text) && !is_text(s->text))
            add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, BOUNDS_NONE, true);
    }
}
