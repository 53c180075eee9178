#include "decode/plain.h"

static bool is_hex(struct slice s, size_t n)
{
    uint64_t v;

    return s.n == n && num_parse_hex(s, (unsigned)n, &v) == 0;
}

/* 0000:00:1f.2; 4.x 000:000:31.2 has other widths */
static bool is_address(struct slice s)
{
    struct slice part;
    unsigned n = 0;

    while (slice_next_word(&s, ":.", &part) && part.n <= 4 && is_hex(part, part.n))
        n++;
    return n == 4 && s.n == 0;
}

/*
 * Take "[alias]" off the end of *s. "[PCIe RP[0000:00:01.0]]" names a port, "[GeForce GTX 750]" a model: no alias holds
 * blanks or brackets.
 */
static struct slice take_alias(struct slice *s, bool any)
{
    struct slice none = {NULL, 0}, t;
    size_t at = s->n;

    if (s->n < 3 || s->p[s->n - 1] != ']')
        return none;
    while (at > 0 && s->p[at - 1] != '[')
        at--;
    if (at == 0)
        return none;
    t = slice_cut(*s, at, s->n - 1 - at);
    if (t.n == 0 || slice_find_char(t, 0, ' ') != SIZE_MAX || slice_find_char(t, 0, ']') != SIZE_MAX)
        return none;
    /* Names of devices end in words in brackets too, "[Radeon]": beside a name only VMkernel's own names count. */
    if (!any && !slice_starts(t, "vmhba") && !slice_starts(t, "vmnic") && !slice_starts(t, "vmgfx") &&
        !slice_starts(t, "vusb") && !slice_starts(t, "vmrdma") && !slice_starts(t, "PF_"))
        return none;
    *s = slice_trim(slice_cut(*s, 0, at - 1));
    return t;
}

/* "Class 0106: 8086:9d03", and more behind it in *rest. */
static bool parse_class(struct slice s, struct slice id[3], struct slice *rest)
{
    if (!slice_starts(s, "Class ") || s.n < 21 || s.p[10] != ':' || s.p[11] != ' ' || s.p[16] != ':')
        return false;
    id[0] = slice_cut(s, 6, 4);
    id[1] = slice_cut(s, 12, 4);
    id[2] = slice_cut(s, 17, 4);
    *rest = slice_from(s, 21);
    return is_hex(id[0], 4) && is_hex(id[1], 4) && is_hex(id[2], 4) && (rest->n == 0 || rest->p[0] == ' ');
}

static void add_class(struct builder *b, const struct slice id[3], const struct plain *l)
{
    static const char *const keys[] = {"Class", "Vendor ID", "Device ID"};

    for (size_t i = 0; i < 3; i++)
        (void)plain_once(b, slice_of(keys[i]), id[i], l);
}

enum row { ROW_OTHER, ROW_DEVICE, ROW_BROKEN };

static enum row add_device(struct builder *b, const struct plain *l)
{
    struct slice rest = l->line, address, id[3], alias;
    size_t colon;

    if (!slice_next_word(&rest, " \t", &address) || !is_address(address))
        return ROW_OTHER;
    rest = slice_trim(rest);
    builder_begin(b, SLICE_LIT(""), l->number);
    (void)plain_field(b, "Address", address, l);
    if (parse_class(rest, id, &rest)) {
        rest = slice_trim(rest);
        alias = take_alias(&rest, true);
        if (rest.n && !(rest.p[0] == '[' && slice_ends(rest, "]"))) /* "[PCIe RP[0000:00:01.0]]" is the name of a port */
            return ROW_BROKEN;
        add_class(b, id, l);
    } else {
        colon = slice_find(rest, 0, ": ");
        if (colon == SIZE_MAX || colon == 0)
            return ROW_BROKEN;
        (void)plain_field(b, "Class Name", slice_cut(rest, 0, colon), l);
        rest = slice_trim(slice_from(rest, colon + 2));
        alias = take_alias(&rest, false);
        (void)plain_field(b, "Device Name", rest, l);
    }
    if (alias.n)
        (void)plain_field(b, "VMkernel Name", alias, l);
    if (b->nfields)
        plain_suspect(&b->fields[b->nfields - 1], l);
    return ROW_DEVICE;
}

/* The second line of lspci -v; other indented lines are details nobody asks for. */
static void add_detail(struct builder *b, const struct plain *l, struct plain_harm *h)
{
    struct slice text = slice_trim(l->line), id[3], rest;

    if (plain_indent(l->line) == 0) { /* a device, whose details must not go to the one before it */
        builder_finish(b);
        plain_harm(h, "a line of another form", l->number);
    } else if (slice_starts(text, "Class ")) {
        if (!b->open || !parse_class(text, id, &rest) || rest.n) {
            plain_harm(h, "ids that belong to no device", l->number);
            return;
        }
        add_class(b, id, l);
        if (b->nfields)
            plain_suspect(&b->fields[b->nfields - 1], l);
    }
}

int decode_pci(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct builder b;

    if (plain_refused(in, "lspci", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&b, a);
    while (!b.failed && plain_next(&l)) {
        if (plain_blank(l.line))
            continue;
        switch (add_device(&b, &l)) {
        case ROW_DEVICE:
            break;
        case ROW_BROKEN:
            builder_drop(&b);
            plain_harm(&h, "a line of another form", l.number);
            break;
        case ROW_OTHER:
            add_detail(&b, &l, &h);
            break;
        }
    }
    return plain_end(&b, o, "lspci", &l, &h, out);
}
