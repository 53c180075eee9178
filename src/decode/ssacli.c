#include "decode/plain.h"

struct ssacli {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    bool head;     /* between the controller's heading and its first array */
    size_t indent; /* of its pairs; what stands deeper belongs to something else */
};

/* HPE publishes 8.32 what newer versions of the tool print as 8.32-0. */
static void add_firmware(struct ssacli *s)
{
    const struct field *found = plain_find(&s->b, SLICE_LIT("Firmware Version"));
    struct field own, *f;

    if (!found)
        return;
    own = *found; /* adding moves the fields */
    if (own.text.n > 2 && slice_ends(own.text, "-0"))
        own.text.n -= 2;
    f = plain_field(&s->b, "Firmware", own.text, &s->l);
    if (f) {
        f->damage = own.damage;
        f->line = own.line;
    }
}

static void end_controller(struct ssacli *s)
{
    s->head = false;
    if (!s->b.open)
        return;
    if (!plain_find(&s->b, SLICE_LIT("PCI Address (Domain:Bus:Device.Function)"))) {
        plain_harm(&s->harm, "a controller without its PCI address", s->l.number);
        builder_drop(&s->b);
        return;
    }
    add_firmware(s);
    builder_finish(&s->b);
}

/* "Smart Array P420i in Slot 0 (Embedded)", "HPE Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)" */
static bool heading(struct ssacli *s, struct slice text)
{
    size_t at = slice_find(text, 0, " in Slot ");

    if (at == SIZE_MAX || at == 0 || slice_find(slice_cut(text, 0, at), 0, ": ") != SIZE_MAX)
        return false;
    end_controller(s);
    builder_begin(&s->b, text, s->l.number);
    plain_suspect(plain_field(&s->b, "Model", slice_trim(slice_cut(text, 0, at)), &s->l), &s->l);
    s->head = true;
    s->indent = SIZE_MAX;
    return true;
}

static void pair(struct ssacli *s, struct slice text, size_t indent)
{
    size_t at = slice_find_char(text, 0, ':');
    struct slice key = slice_cut(text, 0, at), value;

    /* the one key that has colons of its own */
    if (slice_starts(text, "PCI Address (") && slice_find(text, 0, "): ") != SIZE_MAX) {
        at = slice_find(text, 0, "): ") + 1;
        key = slice_cut(text, 0, at);
    }
    value = at < text.n ? slice_trim(slice_from(text, at + 1)) : (struct slice){NULL, 0};
    if (slice_eqz(key, "Bus Interface") && !s->head)
        plain_harm(&s->harm, "a controller without its heading", s->l.number);
    if (!s->head || at >= text.n)
        return;
    if (slice_eqz(key, "Array") || slice_eqz(key, "Logical Drive")) {
        s->head = false;
        return;
    }
    if (s->indent == SIZE_MAX)
        s->indent = indent;
    if (indent == s->indent && !slice_eqz(key, "Sensor ID")) /* sensors are listed in between */
        plain_suspect(plain_once(&s->b, key, value, &s->l), &s->l);
}

int decode_ssacli(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct ssacli s = {.l = plain_open(in)};

    if (slice_find(in, 0, "Error: No controllers detected") != SIZE_MAX)
        return decode_nothing(DECODE_COMPLETE, "ssacli", NULL, 0, out);
    if (plain_refused(in, "ssacli", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&s.b, a);
    while (!s.b.failed && plain_next(&s.l)) {
        struct slice text = slice_trim(s.l.line);

        if (text.n == 0) {
            if (s.indent != SIZE_MAX)
                s.head = false; /* arrays, ports and drives follow, each behind an empty line */
        } else if (!heading(&s, text)) {
            pair(&s, text, plain_indent(s.l.line));
        }
    }
    end_controller(&s);
    return plain_end(&s.b, o, "ssacli", &s.l, &s.harm, out);
}
