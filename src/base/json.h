#ifndef VF_BASE_JSON_H
#define VF_BASE_JSON_H

#include "base/err.h"
#include "base/slice.h"

/*
 * JSON documents in and out. A value is owned by whoever holds it until it is put into an array or object;
 * then the container owns it. Text with invalid UTF-8 is written with U+FFFD in place of the bad bytes.
 */
struct js;

struct js *js_object(void);
struct js *js_array(void);
struct js *js_text(struct slice s);
struct js *js_textz(const char *z); /* NULL gives null */
struct js *js_int(int64_t v);
struct js *js_bool(bool v);
struct js *js_null(void);
void js_free(struct js **v);

void js_put(struct js *object, const char *key, struct js *value);
void js_add(struct js *array, struct js *value);

/* Parse a whole document; depth at most 64. NULL with e set (line and column) when it is not JSON. */
struct js *js_parse(struct slice in, const char *name, struct err *e);

enum js_kind { JS_NULL, JS_OBJECT, JS_ARRAY, JS_TEXT, JS_INT, JS_REAL, JS_BOOL };
enum js_kind js_kind(const struct js *v);
size_t js_count(const struct js *v);
const struct js *js_at(const struct js *array, size_t i);
const struct js *js_get(const struct js *object, const char *key); /* NULL when absent */
struct slice js_as_text(const struct js *v);                       /* empty for other kinds */
int64_t js_as_int(const struct js *v);
bool js_as_bool(const struct js *v);

/* Members of an object in order of the document. fn returns non-zero to stop, which is returned. */
int js_each(const struct js *object, int (*fn)(void *ctx, struct slice key, const struct js *v), void *ctx);

/* Pretty (two blanks a level) when indent, else one line; keys in the order they were put. Ends with a newline. */
struct buf;
void js_write(const struct js *v, bool indent, struct buf *out);

const char *js_library(void);

#endif
