#include "decode/plain.h"

/* Fields of a line, all of them or none. */
static bool add_line(struct builder *b, const struct plain *l, struct slice text)
{
    struct slice pair;
    bool regtype = false, bus = false, id = false, driver = false;

    builder_begin(b, SLICE_LIT(""), l->number);
    while (text.n) {
        size_t comma = slice_find_char(text, 0, ','), at;
        struct slice key;

        pair = slice_cut(text, 0, comma == SIZE_MAX ? text.n : comma);
        text = slice_from(text, comma == SIZE_MAX ? text.n : comma + 1);
        at = slice_find_char(pair, 0, '=');
        if (at == SIZE_MAX || at == 0 || at + 1 == pair.n)
            return false;
        key = slice_trim(slice_cut(pair, 0, at));
        if (plain_find(b, key))
            return false;
        regtype |= slice_eqz(key, "regtype");
        bus |= slice_eqz(key, "bus");
        id |= slice_eqz(key, "id");
        driver |= slice_eqz(key, "driver");
        if (!builder_field(b, key, slice_trim(slice_from(pair, at + 1)), l->number))
            return true;
    }
    return regtype && bus && id && driver;
}

/* "iscsi_vmk" of "/etc/vmware/default.map.d/iscsi_vmk.map" */
static struct slice base_name(const char *path)
{
    struct slice s = slice_of(path);

    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == '/') {
            s = slice_from(s, i);
            break;
        }
    if (slice_ends(s, ".map"))
        s.n -= 4;
    return s;
}

/*
 * Is the last field of a last line without line end whole? Real files lack their last newline, so such a line is not
 * thrown away; but "driver=vmw" may be the head of "vmw_ahci". It is believed when its text stands whole elsewhere, on
 * another line under the same key or as the file's name, and no other line has a longer text that begins with it. An
 * id is never believed: each stands in the file once.
 */
static bool proven(const struct builder *b, const struct field *last, const char *file)
{
    bool seen = slice_eqz(last->key, "driver") && slice_eq(base_name(file), last->text);

    if (slice_eqz(last->key, "id"))
        return false;
    for (size_t i = 0; i < b->n; i++)
        for (uint32_t j = 0; j < b->records[i].nfields; j++) {
            const struct field *f = &b->records[i].fields[j];

            if (!slice_eq(f->key, last->key))
                continue;
            if (slice_eq(f->text, last->text))
                seen = true;
            else if (f->text.n > last->text.n && slice_eq(slice_cut(f->text, 0, last->text.n), last->text))
                return false;
        }
    return seen;
}

int decode_map(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct builder b;

    if (plain_refused(in, "map", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&b, a);
    while (!b.failed && plain_next(&l)) {
        struct slice text = slice_trim(l.line);

        if (text.n == 0 || text.p[0] == '#')
            continue;
        if (!add_line(&b, &l, text)) {
            builder_drop(&b);
            plain_harm(&h, "a line of another form", l.number);
            continue;
        }
        if (!l.ended && b.nfields && !proven(&b, &b.fields[b.nfields - 1], o->name)) {
            plain_suspect(&b.fields[b.nfields - 1], &l);
            plain_harm(&h, plain_cut, l.number);
        }
        builder_finish(&b);
    }
    return plain_end(&b, o, "map", &l, &h, out);
}
