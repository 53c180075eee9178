#ifndef VF_DECODE_ESXCLI_H
#define VF_DECODE_ESXCLI_H

#include "decode/decode.h"

/*
 * What the five forms of esxcli's output share; for esxcli*.c alone. A sink gathers records, keeps the first
 * damage met, and stops at the limits of decode.h instead of failing.
 */
struct esxcli_sink {
    struct builder b;
    const struct decode_opt *o;
    const char *why;
    uint32_t line;
    bool stop;
};

#define ESXCLI_MAX_KEY   256u /* bytes of one key; the longest seen has 55. Longer text is no key. */
#define ESXCLI_MAX_DEPTH 8u   /* structures within structures; the deepest seen is two */

void esxcli_sink_init(struct esxcli_sink *s, const struct decode_opt *o, struct arena *a);
/* Remember that something was left out or marked; the first one is what the result tells. */
void esxcli_note(struct esxcli_sink *s, uint32_t line, const char *why);
/* Begin a record, finishing the open one. False at the limit of records: stop is set then. */
bool esxcli_begin(struct esxcli_sink *s, struct slice id, uint32_t line);
/*
 * Add a field, text trimmed at both ends. Control bytes and text that is not UTF-8 mark it. NULL at the limit of
 * fields (stop is set) or of the arena.
 */
struct field *esxcli_add(struct esxcli_sink *s, struct slice key, struct slice text, uint32_t line);
void esxcli_damage(struct esxcli_sink *s, struct field *f, const char *why);
/*
 * The last line has no line end: mark its last field, unless the text cannot be the beginning of a longer one: a word
 * such as "true" or "Up", under a key that asks for a state. Under others it can: a display name "TrueNAS iSCSI Disk".
 */
void esxcli_unended(struct esxcli_sink *s, struct field *f);
/* Is one of the open record's fields from index from on named key, byte for byte? SIZE_MAX or its index. */
size_t esxcli_find(struct esxcli_sink *s, size_t from, struct slice key);
/* "parent/key" in the arena; key alone, copied, when parent is empty. */
struct slice esxcli_path(struct arena *a, struct slice parent, struct slice key);
int esxcli_end(struct esxcli_sink *s, const char *form, struct decoded *out);

/*
 * The answer without a byte order mark, empty lines before it, one line of a shell prompt with the command before it,
 * and one prompt line after it, as people paste them. *line is the number of the body's first line, from 1.
 */
struct slice esxcli_body(struct slice in, uint32_t *line);

enum esxcli_form { ESXCLI_TEXT, ESXCLI_XML, ESXCLI_JSON, ESXCLI_KEYVALUE, ESXCLI_CSV };
/* The form of a body, by its first line. */
enum esxcli_form esxcli_form_of(struct slice body, enum decode_shape shape);
bool esxcli_is_keyvalue(struct slice line);
bool esxcli_is_csv_heading(struct slice line);

/* Bytes of the character at the front: 1 to 4; 1 with *valid false for a byte that is not UTF-8. s is not empty. */
size_t esxcli_char(struct slice s, bool *valid);
/* Why this text is no plain text ("control characters", ...), or NULL. Tab is plain. */
const char *esxcli_not_plain(struct slice s);
bool esxcli_blank(struct slice s);

/* The text form's two layouts. */
int esxcli_table(struct slice body, uint32_t line, const struct decode_opt *o, struct arena *a, struct decoded *out);
int esxcli_blocks(struct slice body, uint32_t line, const struct decode_opt *o, struct arena *a, struct decoded *out);

#endif
