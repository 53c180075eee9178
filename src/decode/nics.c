#include "decode/plain.h"

enum { NIC_NAME, NIC_PCI, NIC_DRIVER, NIC_LINK, NIC_SPEED, NIC_DUPLEX, NIC_MAC, NIC_MTU, NIC_WORDS };

static const char *const keys[] = {"Name", "PCI", "Driver", "Link", "Speed", "Duplex", "MAC Address", "MTU"};

static bool digits(struct slice s, bool hex)
{
    uint64_t v;

    return hex ? num_parse_hex(s, 16, &v) == 0 : num_parse_u64(s, &v) == 0 && slice_find_char(s, 0, 'x') == SIZE_MAX;
}

/* 0000:01:00.0, on 5.5 0000:01:00.00 */
static bool is_pci(struct slice s)
{
    struct slice word;
    unsigned n = 0;

    if (slice_find_char(s, 0, '.') == SIZE_MAX)
        return false;
    while (slice_next_word(&s, ":.", &word) && digits(word, true))
        n++;
    return n == 4 && s.n == 0;
}

static bool is_mac(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (i % 3 == 2 ? s.p[i] != ':' : !digits(slice_cut(s, i, 1), true))
            return false;
    return s.n == 17;
}

static bool is_name(struct slice s)
{
    bool letter = s.n && ((s.p[0] | 0x20) >= 'a' && (s.p[0] | 0x20) <= 'z');

    return letter && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9' && slice_find_char(s, 0, ':') == SIZE_MAX;
}

static bool is_link(struct slice s)
{
    return slice_eqz(s, "Up") || slice_eqz(s, "Down");
}

static bool is_speed(struct slice s)
{
    return slice_ends(s, "Mbps") && digits(slice_cut(s, 0, s.n - 4), false);
}

static bool split(struct slice line, struct slice word[NIC_WORDS], struct slice *rest)
{
    for (size_t i = 0; i < NIC_WORDS; i++) {
        if (!slice_next_word(&line, " \t", &word[i]))
            return false;
        if (i == NIC_DRIVER && is_link(word[i])) { /* no driver claims it: the cell is blank */
            word[NIC_LINK] = word[i];
            word[i] = (struct slice){word[i].p, 0};
            i = NIC_LINK;
        }
    }
    *rest = slice_trim(line);
    return is_name(word[NIC_NAME]) && (is_pci(word[NIC_PCI]) || slice_eqz(word[NIC_PCI], "Pseudo")) && is_link(word[NIC_LINK]) && is_speed(word[NIC_SPEED]) &&
           (slice_eqz(word[NIC_DUPLEX], "Full") || slice_eqz(word[NIC_DUPLEX], "Half")) && is_mac(word[NIC_MAC]) &&
           digits(word[NIC_MTU], false);
}

static bool is_heading(struct slice line)
{
    static const char *const words[] = {"Name", "PCI", "Driver", "Link", "Speed", "Duplex", "MAC", "Address", "MTU",
                                        "Description"};
    struct slice word;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!slice_next_word(&line, " \t", &word) || !slice_eqz(word, words[i]))
            return false;
    return plain_blank(line);
}

int decode_nics(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct slice word[NIC_WORDS], rest;
    bool heading = false;
    struct field *last;
    struct builder b;

    if (plain_refused(in, "nics", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&b, a);
    while (!b.failed && plain_next(&l)) {
        if (plain_blank(l.line))
            continue;
        if (is_heading(l.line)) {
            heading = true;
            continue;
        }
        if (!heading)
            plain_harm(&h, "no heading before the first row: rows may be missing", l.number);
        if (!split(l.line, word, &rest)) {
            plain_harm(&h, "a row of another form", l.number);
            continue;
        }
        builder_begin(&b, SLICE_LIT(""), l.number);
        for (size_t i = 0; i < NIC_WORDS; i++) {
            struct field *f = plain_field(&b, keys[i], word[i], &l);

            if (word[i].p + word[i].n == l.line.p + l.line.n)
                plain_suspect(f, &l);
        }
        last = plain_field(&b, "Description", rest, &l);
        if (last && rest.n == 0)
            last->damage = "the row ends before its description; it may be cut";
        plain_suspect(last, &l);
        builder_finish(&b);
    }
    if (heading && b.n == 0 && !h.why && !l.too_long)
        return builder_end(&b, o, "nics", DECODE_COMPLETE, NULL, 0, out);
    return plain_end(&b, o, "nics", &l, &h, out);
}
