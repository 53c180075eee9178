#include "decode/plain.h"

/* --- esxcfg-scsidevs -l --- */

/* Keys that share a line. A value may hold blanks, so a line is parted at the names of the keys that follow. */
static const char *const shared[][4] = {
    {"Vendor", "Model", "Revis", NULL},
    {"SCSI Level", "Is Pseudo", "Status", NULL},
    {"Is RDM Capable", "Is Removable", NULL},
    {"Is Local", "Is SSD", NULL},
};

static const char mixed[] = "lines of two devices stand under one id";

struct devices {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    bool names, mixed; /* mixed: a key came twice, so lines of two devices stand under one id */
    struct slice before; /* the line before this one: a doubled line is no contradiction */
};

static void device_pair(struct devices *d, struct slice key, struct slice value, bool last)
{
    struct field *old, *f;

    if (slice_eqz(key, "Revis"))
        key = SLICE_LIT("Revision");
    old = plain_find(&d->b, key);
    if (old && slice_eq(slice_trim(d->l.line), d->before))
        return;
    if (old) {
        d->mixed = true;
        plain_harm(&d->harm, "a key twice under one device: a device's first line may be missing", d->l.number);
        if (!slice_eq(old->text, value))
            old->damage = plain_twice;
    }
    f = builder_field(&d->b, key, value, d->l.number);
    if (f && d->mixed)
        f->damage = mixed;
    else if (last)
        plain_suspect(f, &d->l);
}

/* The keys that may follow key on its line, ended by NULL; NULL for a key that has its line alone. */
static const char *const *line_mates(struct slice key)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        for (size_t j = 0; shared[i][j]; j++)
            if (slice_eqz(key, shared[i][j]))
                return &shared[i][j + 1];
    return NULL;
}

static void device_line(struct devices *d, struct slice text)
{
    size_t colon = slice_find_char(text, 0, ':'), next;
    struct slice key = slice_cut(text, 0, colon == SIZE_MAX ? 0 : colon), value = slice_from(text, colon + 1);
    const char *const *mate = line_mates(key);
    char want[32];

    if (key.n == 0) {
        plain_harm(&d->harm, "a line of another form", d->l.number);
        return;
    }
    for (; mate && *mate; mate++) {
        int n = snprintf(want, sizeof want, " %s:", *mate);

        next = slice_find(value, 0, want);
        if (next == SIZE_MAX)
            break;
        device_pair(d, key, slice_trim(slice_cut(value, 0, next)), false);
        key = slice_of(*mate);
        value = slice_from(value, next + (size_t)n);
    }
    device_pair(d, key, slice_trim(value), true);
    /* What stands there under a name that is not known here is no part of this value. */
    if (mate && *mate && slice_find(value, 0, ": ") != SIZE_MAX && d->b.nfields)
        d->b.fields[d->b.nfields - 1].damage = "the next key of the line was not found";
}

static void scsi_line(struct devices *d)
{
    struct slice text = slice_trim(d->l.line);
    size_t indent = plain_indent(d->l.line);
    struct field *f;

    if (indent == 0) {
        builder_begin(&d->b, text, d->l.number);
        d->names = d->mixed = false;
        if (slice_find_char(text, 0, ' ') != SIZE_MAX) {
            builder_drop(&d->b);
            plain_harm(&d->harm, "a line of another form", d->l.number);
        } else if (!d->l.ended) {
            builder_drop(&d->b);
            plain_harm(&d->harm, plain_cut, d->l.number);
        }
    } else if (!d->b.open) {
        plain_harm(&d->harm, "a line that belongs to no device", d->l.number);
    } else if (indent > 3) {
        if (!d->names) {
            plain_harm(&d->harm, "a name outside the list of other names", d->l.number);
            return;
        }
        f = builder_field(&d->b, SLICE_LIT("Other UIDs"), text, d->l.number);
        if (f) {
            f->listed = true;
            f->damage = d->mixed ? mixed : NULL;
        }
        plain_suspect(f, &d->l);
    } else {
        d->names = slice_eqz(text, "Other Names:");
        if (!d->names)
            device_line(d, text);
    }
}

int decode_scsidevs(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct devices d = {.l = plain_open(in)};

    if (plain_refused(in, "esxcfg-scsidevs -l", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&d.b, a);
    while (!d.b.failed && plain_next(&d.l)) {
        if (plain_blank(d.l.line))
            continue;
        scsi_line(&d);
        d.before = slice_trim(d.l.line);
    }
    return plain_end(&d.b, o, "esxcfg-scsidevs -l", &d.l, &d.harm, out);
}

/* --- esxcfg-mpath -b --- */

struct path {
    struct slice runtime, adapter, target, lun, state, transport, adapter_id, target_id;
};

static bool take_number(struct slice *s, char mark, struct slice *out)
{
    size_t n = 1;

    if (s->n < 2 || s->p[0] != mark)
        return false;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    *out = slice_cut(*s, 1, n - 1);
    *s = slice_from(*s, n);
    return n > 1;
}

/* "Local HBA vmhba2 channel 0 target 0", where the adapter has no names of its own: it repeats the runtime name. */
static bool local_path(struct slice rest, const struct path *p, struct slice channel)
{
    static const char *const words[] = {"Local", "HBA", NULL, "channel", NULL, "target", NULL};
    const struct slice names[] = {p->adapter, channel, p->target};
    struct slice word;
    size_t n = 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!slice_next_word(&rest, " ", &word) || !(words[i] ? slice_eqz(word, words[i]) : slice_eq(word, names[n++])))
            return false;
    return plain_blank(rest);
}

/* vmhba0:C1:T0:L0 LUN:0 state:active sas Adapter: 50022bdd00000001  Target: c6d361900000002 */
static bool parse_path(struct slice text, struct path *p)
{
    struct slice rest = text, name, word, channel, lun;
    size_t adapter, target;

    if (!slice_next_word(&rest, " ", &p->runtime))
        return false;
    name = slice_from(p->runtime, slice_find_char(p->runtime, 0, ':'));
    p->adapter = slice_cut(p->runtime, 0, p->runtime.n - name.n);
    if (!slice_starts(p->adapter, "vmhba") || name.n == 0)
        return false;
    name = slice_from(name, 1);
    if (!take_number(&name, 'C', &channel) || !slice_starts(name, ":T"))
        return false;
    name = slice_from(name, 1);
    if (!take_number(&name, 'T', &p->target) || !slice_starts(name, ":L"))
        return false;
    name = slice_from(name, 1);
    if (!take_number(&name, 'L', &lun) || name.n)
        return false;
    if (!slice_next_word(&rest, " ", &word) || !slice_starts(word, "LUN:") || !slice_eq(slice_from(word, 4), lun))
        return false;
    p->lun = lun;
    if (!slice_next_word(&rest, " ", &word) || !slice_starts(word, "state:") || word.n == 6)
        return false;
    p->state = slice_from(word, 6);
    if (local_path(rest, p, channel)) {
        p->transport = p->adapter_id = p->target_id = SLICE_LIT("");
        return true;
    }
    if (!slice_next_word(&rest, " ", &p->transport))
        return false;
    adapter = slice_find(rest, 0, "Adapter: ");
    target = adapter == SIZE_MAX ? SIZE_MAX : slice_find(rest, adapter, "Target: ");
    if (target == SIZE_MAX || slice_trim(slice_cut(rest, 0, adapter)).n)
        return false;
    p->adapter_id = slice_trim(slice_cut(rest, adapter + 9, target - adapter - 9));
    p->target_id = slice_trim(slice_from(rest, target + 8));
    return true;
}

/* A dead path's names are "Unavailable". */
static bool is_told(struct slice name)
{
    return name.n && !slice_eqz(name, "Unavailable");
}

int decode_mpath(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    struct slice device = {NULL, 0}, display = {NULL, 0};
    size_t paths = 0; /* of the device */
    struct builder b;
    struct path p;

    if (plain_refused(in, "esxcfg-mpath -b", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&b, a);
    while (!b.failed && plain_next(&l)) {
        size_t colon = slice_find(l.line, 0, " : ");

        if (plain_indent(l.line) == 0 || plain_blank(l.line)) { /* an empty line ends a device */
            if (device.n && !paths)
                plain_harm(&h, "a device without a path: lines may be missing", l.number);
            paths = 0;
            device.n = display.n = 0;
            if (plain_blank(l.line))
                continue;
            if (colon == SIZE_MAX || slice_find_char(l.line, 0, ' ') != colon) {
                plain_harm(&h, "a line of another form", l.number);
                continue;
            }
            device = slice_cut(l.line, 0, colon);
            display = slice_trim(slice_from(l.line, colon + 3));
            if (!l.ended)
                plain_harm(&h, plain_cut, l.number);
        } else if (!parse_path(slice_trim(l.line), &p)) {
            plain_harm(&h, "a path of another form", l.number);
        } else if (!device.n) {
            plain_harm(&h, "a path below no device", l.number);
        } else {
            paths++;
            builder_begin(&b, SLICE_LIT(""), l.number);
            (void)plain_field(&b, "Device", device, &l);
            (void)plain_field(&b, "Display Name", display, &l);
            (void)plain_field(&b, "Runtime Name", p.runtime, &l);
            (void)plain_field(&b, "Adapter", p.adapter, &l);
            (void)plain_field(&b, "Target", p.target, &l);
            (void)plain_field(&b, "LUN", p.lun, &l);
            (void)plain_field(&b, "State", p.state, &l);
            if (p.transport.n)
                (void)plain_field(&b, "Transport", p.transport, &l);
            if (is_told(p.adapter_id))
                (void)plain_field(&b, "Adapter Identifier", p.adapter_id, &l);
            if (is_told(p.target_id))
                plain_suspect(plain_field(&b, "Target Identifier", p.target_id, &l), &l);
            builder_finish(&b);
        }
    }
    if (device.n && !paths)
        plain_harm(&h, "a device without a path: lines may be missing", l.number);
    return plain_end(&b, o, "esxcfg-mpath -b", &l, &h, out);
}

/* --- esxcfg-vswitch -l --- */

enum below { BELOW_NOTHING, BELOW_SWITCH_HEADING, BELOW_SWITCH, BELOW_PORTGROUPS, BELOW_PORTS };

static bool is_number(struct slice s)
{
    uint64_t v;

    return num_parse_u64(s, &v) == 0;
}

/* Take the last word off s. */
static bool last_word(struct slice *s, struct slice *word)
{
    size_t n;

    *s = slice_trim(*s);
    n = s->n;
    while (n > 0 && s->p[n - 1] != ' ' && s->p[n - 1] != '\t')
        n--;
    *word = slice_from(*s, n);
    *s = slice_trim(slice_cut(*s, 0, n));
    return word->n > 0;
}

/* Name, count numbers, and perhaps a word of uplinks, read from the right: a long name pushes the columns. */
static bool from_right(struct slice text, size_t count, struct slice *name, struct slice *numbers,
                       struct slice *uplinks)
{
    *uplinks = (struct slice){NULL, 0};
    *name = text;
    for (size_t i = count; i > 0; i--) {
        if (!last_word(name, &numbers[i - 1]))
            return false;
        if (i == count && !is_number(numbers[i - 1])) {
            *uplinks = numbers[i - 1];
            if (!last_word(name, &numbers[i - 1]))
                return false;
        }
        if (!is_number(numbers[i - 1]))
            return false;
    }
    return name->n > 0;
}

static void add_list(struct builder *b, const char *key, struct slice list, const struct plain *l)
{
    struct slice word;

    while (slice_next_word(&list, ", ", &word)) {
        struct field *f = plain_field(b, key, word, l);

        if (f)
            f->listed = true;
    }
}

/*
 * What the heading above says: an opaque switch has two numbers. Where the heading is padded behind its last word, so are the lines below,
 * and one of that width without uplinks has none.
 */
struct switch_form {
    const char *kind;
    size_t numbers, width; /* width SIZE_MAX: not padded */
};

static bool add_switch(struct builder *b, struct slice text, const struct switch_form *form, const struct plain *l)
{
    static const char *const keys[] = {"Num Ports", "Used Ports", "Configured Ports", "MTU"};
    struct slice name, number[4], uplinks;

    if (!l->ended || !from_right(text, form->numbers, &name, number, &uplinks))
        return false;
    builder_begin(b, SLICE_LIT(""), l->number);
    (void)plain_field(b, "Name", name, l);
    (void)plain_field(b, "Kind", slice_of(form->kind), l);
    for (size_t i = 0; i < form->numbers; i++)
        (void)plain_field(b, keys[i], number[i], l);
    add_list(b, "Uplinks", uplinks, l);
    if (uplinks.n == 0 && l->line.n >= form->width)
        (void)plain_field(b, "Uplinks", uplinks, l);
    return true;
}

static bool add_portgroup(struct builder *b, struct slice text, const struct plain *l)
{
    struct slice name, number[2], uplinks;
    struct field *f;

    if (!l->ended || !from_right(text, 2, &name, number, &uplinks))
        return false;
    f = plain_field(b, "Portgroups", name, l);
    if (f)
        f->listed = true;
    return true;
}

/* Blanks of a heading differ from release to release. */
static bool heading(struct slice line, const char *words)
{
    struct slice want = slice_of(words), a, b;

    while (slice_next_word(&want, " ", &a))
        if (!slice_next_word(&line, " \t", &b) || !slice_eq(a, b))
            return false;
    return plain_blank(line);
}

int decode_vswitch(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct plain l = plain_open(in);
    struct plain_harm h = {NULL, 0};
    enum below at = BELOW_NOTHING;
    struct switch_form form = {.kind = ""};
    struct builder b;

    if (plain_refused(in, "esxcfg-vswitch -l", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&b, a);
    while (!b.failed && plain_next(&l)) {
        struct slice text = slice_trim(l.line);
        struct field *f;
        bool good = true;

        if (text.n == 0)
            continue;
        if (heading(text, "Switch Name Num Ports Used Ports Configured Ports MTU Uplinks") ||
            heading(text, "DVS Name Num Ports Used Ports Configured Ports MTU Uplinks") ||
            heading(text, "Switch Name Num Ports Used Ports Uplinks")) {
            builder_finish(&b);
            form.numbers = slice_find(text, 0, "MTU") == SIZE_MAX ? 2 : 4;
            form.kind = form.numbers == 2 ? "opaque" : text.p[0] == 'S' ? "standard" : "distributed";
            form.width = slice_ends(l.line, " ") ? l.line.n : SIZE_MAX;
            at = BELOW_SWITCH_HEADING;
        } else if (heading(text, "PortGroup Name VLAN ID Used Ports Uplinks")) {
            at = b.open ? BELOW_PORTGROUPS : BELOW_NOTHING;
            good = b.open;
        } else if (heading(text, "DVPort ID In Use Client")) {
            at = BELOW_PORTS;
        } else if (plain_indent(l.line) == 0) { /* a switch, whose port groups must not go to the one before it */
            builder_finish(&b);
            good = at == BELOW_SWITCH_HEADING && add_switch(&b, text, &form, &l);
            at = good ? BELOW_SWITCH : BELOW_NOTHING;
        } else if (at == BELOW_PORTGROUPS) {
            good = add_portgroup(&b, text, &l);
        } else {
            good = at == BELOW_PORTS;
        }
        if (!good)
            plain_harm(&h, l.ended ? "a line of another form" : plain_cut, l.number);
        if (!good && b.open && (f = plain_field(&b, "Portgroups", text, &l)) != NULL) { /* perhaps one of them: the list is not whole */
            f->listed = true;
            f->damage = h.why;
        }
    }
    if (at == BELOW_SWITCH_HEADING)
        plain_harm(&h, "a heading with no switch below: the end may be missing", l.number);
    return plain_end(&b, o, "esxcfg-vswitch -l", &l, &h, out);
}
