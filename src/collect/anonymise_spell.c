#include "collect/anonymise_parts.h"

/* In which spellings an identity stands, and its replacement with it. */

#define MAX_SPELLINGS 2000000u

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

    anonymise_swap(s->text.p, other);
    anonymise_swap(s->replacement, image);
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

void anonymise_spell(struct anonymiser *x, const struct identity_seen *s)
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
        add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, s->text.n >= 24 ? BOUNDS_NONE : BOUNDS_WORD, true); /* a short one may be the half that stays of another */
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
        if (!is_inside(x, s->text) && !is_text(s->text))
            add_spelling(x, s, s->text, (struct slice){s->replacement, s->text.n}, BOUNDS_NONE, true);
        return;
    case THINGS:
        return;
    }
}
