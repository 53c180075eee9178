#include "core/pciaddr.h"

/* One part: at most four digits. Decimal parts must hold no letters. */
static int part(struct slice s, bool hex, uint64_t max, unsigned *out)
{
    uint64_t v;

    if (s.n == 0 || s.n > 4 || slice_find_char(s, 0, 'x') != SIZE_MAX || slice_find_char(s, 0, 'X') != SIZE_MAX ||
        (hex ? num_parse_hex(s, 4, &v) : num_parse_u64(s, &v)) < 0 || v > max)
        return -1;
    *out = (unsigned)v;
    return 0;
}

int pciaddr_parse(struct slice s, struct arena *a, struct slice *out)
{
    struct slice parts[4], rest;
    unsigned n = 0, segment = 0, bus, device, function;
    bool decimal = false, dot = false;

    s = slice_trim(s);
    if (slice_starts(s, "PCI ")) {
        s = slice_from(s, 4);
        decimal = true;
    }
    rest = s;
    for (size_t at = 0, start = 0; at <= s.n; at++) {
        bool is_dot = at < s.n && s.p[at] == '.';

        if (at < s.n && s.p[at] != ':' && !is_dot)
            continue;
        if (n == 4 || dot)
            return -1; /* too many parts, or one after the function */
        parts[n++] = slice_cut(rest, start, at - start);
        if (is_dot) {
            if (n < 2 || n == 4)
                return -1;
            parts[n++] = slice_from(s, at + 1);
            dot = true;
            break;
        }
        start = at + 1;
    }
    if (n == 3 && !dot)
        return -1;
    if (n == 3) { /* no segment: the short form of log lines */
        if (parts[0].n != 2 || parts[1].n != 2 || parts[2].n != 1)
            return -1;
    } else if (n == 4) {
        /* 5.x pads the bus to three hexadecimal digits: 0000:0c1:00.0 */
        decimal |= parts[0].n != 4 || (parts[1].n != 2 && parts[1].n != 3) || parts[2].n != 2;
        if (part(parts[0], !decimal, 0xffff, &segment) < 0)
            return -1;
    } else {
        return -1;
    }
    if (part(parts[n - 3], !decimal, 255, &bus) < 0 || part(parts[n - 2], !decimal, 31, &device) < 0 ||
        part(parts[n - 1], !decimal, 7, &function) < 0)
        return -1;
    *out = slice_of(arena_printf(a, "%04x:%02x:%02x.%x", segment, bus, device, function));
    return out->n ? 0 : -1;
}

int pci_id_check(struct slice id, struct err *e)
{
    struct slice rest = id, word;
    unsigned n = 0;
    uint64_t v;

    while (slice_next_word(&rest, ":", &word) && word.n == 4 && num_parse_hex(word, 4, &v) == 0)
        n++;
    if (rest.n || (n != 2 && n != 4) || id.n != n * 5 - 1)
        return err_set(e, VF_EFORMAT, "a PCI id is written 8086:9d03 or 1000:005d:1028:1f49, not \"" SLICE_FMT "\"", SLICE_ARG(id));
    return 0;
}
