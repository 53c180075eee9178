#include "base/json.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"

#define MAX_DEPTH 64 /* jansson allows 2048; nothing of ours or of esxcli's is deeper than ten */

static json_t *lib(const struct js *v)
{
    return (json_t *)(uintptr_t)v;
}

static struct js *own(json_t *v)
{
    if (!v)
        abort(); /* jansson fails only without memory; texts are checked before */
    return (struct js *)v;
}

struct js *js_object(void)
{
    return own(json_object());
}

struct js *js_array(void)
{
    return own(json_array());
}

struct js *js_text(struct slice s)
{
    json_t *v = json_stringn(s.p ? s.p : "", s.n);
    struct buf clean = BUF_INIT(SIZE_MAX / 2);

    if (v)
        return own(v);
    while (s.n) {
        uint32_t cp;
        size_t n = slice_utf8(s, &cp);

        buf_add(&clean, n ? slice_cut(s, 0, n) : SLICE_LIT("\xef\xbf\xbd"));
        s = slice_from(s, n ? n : 1);
    }
    v = json_stringn(clean.n ? clean.p : "", clean.n);
    buf_done(&clean);
    return own(v);
}

struct js *js_textz(const char *z)
{
    return z ? js_text(slice_of(z)) : js_null();
}

struct js *js_int(int64_t v)
{
    return own(json_integer(v));
}

struct js *js_bool(bool v)
{
    return own(json_boolean(v));
}

struct js *js_null(void)
{
    return own(json_null());
}

void js_free(struct js **v)
{
    if (*v)
        json_decref(lib(*v));
    *v = NULL;
}

void js_put(struct js *object, const char *key, struct js *value)
{
    (void)json_object_set_new(lib(object), key, lib(value));
}

void js_add(struct js *array, struct js *value)
{
    (void)json_array_append_new(lib(array), lib(value));
}

static bool too_deep(const json_t *v, unsigned depth)
{
    const char *key;
    json_t *member, *object = (json_t *)(uintptr_t)v;
    size_t i;

    if (depth > MAX_DEPTH)
        return true;
    if (json_is_array(v)) {
        json_array_foreach(object, i, member)
            if (too_deep(member, depth + 1))
                return true;
    } else if (json_is_object(v)) {
        json_object_foreach(object, key, member)
            if (too_deep(member, depth + 1))
                return true;
    }
    return false;
}

struct js *js_parse(struct slice text, const char *name, struct err *e)
{
    json_error_t error;
    json_t *v = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

    if (!v) {
        (void)err_set(e, VF_EFORMAT, "%s: line %d, column %d: %s", name, error.line, error.column, error.text);
        return NULL;
    }
    if (too_deep(v, 0)) {
        json_decref(v);
        (void)err_set(e, VF_ELIMIT, "%s: nested deeper than %d levels", name, MAX_DEPTH);
        return NULL;
    }
    return own(v);
}

enum js_kind js_kind(const struct js *v)
{
    switch (json_typeof(lib(v))) {
    case JSON_OBJECT: return JS_OBJECT;
    case JSON_ARRAY: return JS_ARRAY;
    case JSON_STRING: return JS_TEXT;
    case JSON_INTEGER: return JS_INT;
    case JSON_REAL: return JS_REAL;
    case JSON_TRUE:
    case JSON_FALSE: return JS_BOOL;
    case JSON_NULL: return JS_NULL;
    }
    return JS_NULL;
}

size_t js_count(const struct js *v)
{
    return json_is_array(lib(v)) ? json_array_size(lib(v)) : json_object_size(lib(v));
}

const struct js *js_at(const struct js *array, size_t i)
{
    return (const struct js *)json_array_get(lib(array), i);
}

const struct js *js_get(const struct js *object, const char *key)
{
    return (const struct js *)json_object_get(lib(object), key);
}

struct slice js_as_text(const struct js *v)
{
    if (!v || !json_is_string(lib(v)))
        return (struct slice){NULL, 0};
    return (struct slice){json_string_value(lib(v)), json_string_length(lib(v))};
}

int64_t js_as_int(const struct js *v)
{
    return v && json_is_integer(lib(v)) ? json_integer_value(lib(v)) : 0;
}

bool js_as_bool(const struct js *v)
{
    return v && json_is_true(lib(v));
}

int js_each(const struct js *object, int (*fn)(void *ctx, struct slice key, const struct js *v), void *ctx)
{
    const char *key;
    json_t *member;
    int rc;

    json_object_foreach(lib(object), key, member) {
        rc = fn(ctx, slice_of(key), (const struct js *)member);
        if (rc)
            return rc;
    }
    return 0;
}

static int dump(const char *p, size_t n, void *ctx)
{
    buf_add(ctx, (struct slice){p, n});
    return 0;
}

void js_write(const struct js *v, bool indent, struct buf *out)
{
    (void)json_dump_callback(lib(v), dump, out, (indent ? JSON_INDENT(2) : 0) | JSON_ENCODE_ANY);
    buf_addc(out, '\n');
}

const char *js_library(void)
{
    return "jansson " JANSSON_VERSION;
}
