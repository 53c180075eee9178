#ifndef VF_DECODE_PLAIN_H
#define VF_DECODE_PLAIN_H

#include "decode/decode.h"

/* What the decoders of plain text (everything but esxcli's forms) have in common. */

/* Lines of a reply with their numbers. ended is false for a last line without line end, which may be cut. */
struct plain {
    struct slice rest, line;
    uint32_t number;
    bool ended, too_long; /* too_long: a line passed DECODE_MAX_LINE, or there are more than DECODE_MAX_RECORDS */
};

struct plain plain_open(struct slice in);
bool plain_next(struct plain *l);
/* Only blanks on the line. */
bool plain_blank(struct slice line);
/* Only blanks and line ends. */
bool plain_empty(struct slice in);
/* Blanks at the start; a tab counts as one. */
size_t plain_indent(struct slice line);

/*
 * The reply holds no answer: it is empty, or one of the host's or the shell's errors ("-sh: vsish: not found",
 * "cat: can't open '/x': No such file or directory"). Fills *out and returns true then.
 */
bool plain_refused(struct slice in, const char *form, struct arena *a, struct decoded *out);

/* The line is such an error: among others it says that the rest is missing. */
bool plain_error(struct slice line);

/* builder_field with a literal key. line->ended decides about damage only through plain_suspect. */
struct field *plain_field(struct builder *b, const char *key, struct slice text, const struct plain *l);
/* The last field of a last line without line end: it may be cut. Does nothing when the line has its end. */
void plain_suspect(struct field *f, const struct plain *l);
/* The open record's first field of this key, or NULL. */
struct field *plain_find(struct builder *b, struct slice key);

/*
 * Add a pair whose key must stand once in the record: a second one with the same text is dropped, one with another
 * text is added and both are marked. Returns the field added, or NULL.
 */
struct field *plain_once(struct builder *b, struct slice key, struct slice text, const struct plain *l);

/* First damage of a reply, kept for builder_end. */
struct plain_harm {
    const char *why;
    uint32_t line;
};

void plain_harm(struct plain_harm *h, const char *why, uint32_t line);
/* builder_end: COMPLETE without harm and with records, PARTIAL with both, UNUSABLE without records. */
int plain_end(struct builder *b, const struct decode_opt *o, const char *form, const struct plain *l,
              const struct plain_harm *h, struct decoded *out);

extern const char plain_cut[], plain_twice[]; /* reasons: the line may be cut; given twice with different texts */

#endif
