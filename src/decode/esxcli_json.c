#include "base/buf.h"
#include "base/json.h"
#include "decode/esxcli.h"

struct walk {
    struct esxcli_sink *s;
    struct slice path;
    bool listed;
    unsigned depth;
};

static void put(struct walk *w, struct slice key, struct slice text, bool listed)
{
    struct field *f = esxcli_add(w->s, key, arena_dup(w->s->b.a, slice_trim(text)), 0);

    if (f)
        f->listed = listed;
}

static int member(void *ctx, struct slice key, const struct js *v);

static void put_number(struct walk *w, struct slice key, const struct js *v, bool listed)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(512);
    struct slice text;

    js_write(v, false, &b);
    text = buf_slice(&b);
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    put(w, key, text, listed);
}

static void put_value(struct walk *w, struct slice key, const struct js *v, bool listed)
{
    struct walk inner = {w->s, key, listed, w->depth + 1};

    switch (js_kind(v)) {
    case JS_NULL: put(w, key, (struct slice){NULL, 0}, listed); break;
    case JS_TEXT: put(w, key, js_as_text(v), listed); break;
    case JS_BOOL: put(w, key, js_as_bool(v) ? SLICE_LIT("true") : SLICE_LIT("false"), listed); break;
    case JS_INT:
    case JS_REAL: put_number(w, key, v, listed); break;
    case JS_OBJECT:
        if (inner.depth > ESXCLI_MAX_DEPTH)
            esxcli_note(w->s, 0, "objects nested too deep");
        else
            (void)js_each(v, member, &inner);
        break;
    case JS_ARRAY:
        if (js_count(v) == 0)
            put(w, key, (struct slice){NULL, 0}, true);
        for (size_t i = 0; i < js_count(v) && !w->s->stop; i++) {
            if (js_kind(js_at(v, i)) == JS_ARRAY)
                esxcli_note(w->s, 0, "an array directly inside an array");
            else
                put_value(w, key, js_at(v, i), true);
        }
        break;
    }
}

static int member(void *ctx, struct slice key, const struct js *v)
{
    struct walk *w = ctx;

    if (slice_trim(key).n == 0 || key.n > ESXCLI_MAX_KEY || esxcli_not_plain(key))
        esxcli_note(w->s, 0, "a member without a readable name");
    else
        put_value(w, esxcli_path(w->s->b.a, w->path, slice_trim(key)), v, w->listed);
    return w->s->stop;
}

static void record(struct esxcli_sink *s, const struct js *v)
{
    struct walk w = {.s = s};

    if (js_kind(v) == JS_ARRAY) {
        esxcli_note(s, 0, "an array directly inside an array");
        return;
    }
    if (!esxcli_begin(s, (struct slice){NULL, 0}, 0))
        return;
    if (js_kind(v) == JS_OBJECT)
        (void)js_each(v, member, &w);
    else
        put_value(&w, SLICE_LIT("value"), v, false);
    builder_finish(&s->b);
}

/* "json: line 3, column 7: text": the line, and the text in the arena. */
static const char *explain(const struct err *e, struct arena *a, uint32_t line0, uint32_t *line)
{
    _cleanup_(buf_done) struct buf clean = BUF_INIT(2048);
    struct slice rest = slice_of(e->msg), word;
    uint64_t n;

    if (slice_starts(rest, "json: line ")) {
        rest = slice_from(rest, sizeof "json: line " - 1);
        if (slice_next_word(&rest, ", ", &word) && num_parse_u64(word, &n) == 0 && n < UINT32_MAX / 2)
            *line = (uint32_t)n + line0;
    }
    buf_add_safe(&clean, slice_from(slice_of(e->msg), slice_starts(slice_of(e->msg), "json: ") ? 6 : 0));
    return arena_printf(a, "not JSON: %.300s", buf_z(&clean));
}

int decode_esxcli_json(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    _cleanup_(js_free) struct js *doc = NULL, *wrapped = NULL;
    _cleanup_(buf_done) struct buf b = BUF_INIT(DECODE_MAX_LINE + 2);
    struct esxcli_sink s;
    struct err e = {0};
    const struct js *v;
    uint32_t line, at = 0;
    struct slice body = esxcli_body(in, &line);

    esxcli_sink_init(&s, o, a);
    doc = js_parse(body, "json", &e);
    v = doc;
    if (!doc) { /* a value alone is no document for the parser, but the only member of an array is */
        buf_addc(&b, '[');
        buf_add(&b, body);
        buf_addc(&b, ']');
        wrapped = b.cut ? NULL : js_parse(buf_slice(&b), "json", NULL);
        v = wrapped && js_kind(wrapped) == JS_ARRAY && js_count(wrapped) == 1 ? js_at(wrapped, 0) : NULL;
    }
    if (!v) {
        const char *why = explain(&e, a, line - 1, &at);

        (void)decode_nothing(DECODE_UNUSABLE, "json", why, at, out);
        return arena_full(a) ? VF_ELIMIT : 0;
    }
    if (js_kind(v) == JS_ARRAY && v == doc)
        for (size_t i = 0; i < js_count(v) && !s.stop; i++)
            record(&s, js_at(v, i));
    else
        record(&s, v);
    if (wrapped && js_kind(v) != JS_TEXT && s.b.n == 1 && !slice_ends(body, "\n"))
        esxcli_note(&s, 0, "the last line has no end; it may be cut");
    return esxcli_end(&s, "json", out);
}
