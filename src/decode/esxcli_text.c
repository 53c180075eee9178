#include "decode/esxcli.h"

/* A few stray bytes mark their field; a reply with one control byte in eight was never text. */
static bool is_binary(struct slice s)
{
    size_t bad = 0;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        bad += (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
    }
    return bad > s.n / 8;
}

static int decode_value(struct slice body, uint32_t number, const struct decode_opt *o, struct arena *a,
                        struct decoded *out)
{
    struct esxcli_sink s;
    struct slice line;
    bool ended;

    esxcli_sink_init(&s, o, a);
    for (; !s.stop && slice_next_line(&body, &line, &ended); number++) {
        struct field *f;

        if (esxcli_blank(line))
            continue;
        if (s.b.n)
            return decode_nothing(DECODE_UNUSABLE, "text value", "more than one line, not one value", number, out);
        if (line.n > DECODE_MAX_LINE)
            return decode_nothing(DECODE_UNUSABLE, "text value", "over the limit of one line", number, out);
        if (!esxcli_begin(&s, (struct slice){NULL, 0}, number))
            break;
        f = esxcli_add(&s, SLICE_LIT("value"), line, number);
        if (!ended)
            esxcli_unended(&s, f);
        builder_finish(&s.b);
    }
    return esxcli_end(&s, "text value", out);
}

int decode_esxcli_text(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    uint32_t line;
    struct slice body = esxcli_body(in, &line), rest = body, text;
    bool empty = true;

    while (empty && slice_next_line(&rest, &text, NULL))
        empty = esxcli_blank(text);
    if (empty)
        return decode_nothing(DECODE_UNUSABLE, "text", "empty answer", 0, out);
    if (is_binary(body))
        return decode_nothing(DECODE_UNUSABLE, "text", "not text", 0, out);
    if (esxcli_form_of(body, o->shape) != ESXCLI_TEXT)
        return decode_nothing(DECODE_UNUSABLE, "text", "not the text form", line, out);
    switch (o->shape) {
    case SHAPE_TABLE: return esxcli_table(body, line, o, a, out);
    case SHAPE_LIST:
    case SHAPE_BLOCKS:
    case SHAPE_OBJECT: return esxcli_blocks(body, line, o, a, out);
    case SHAPE_VALUE: break;
    }
    return decode_value(body, line, o, a, out);
}
