#ifndef VF_BASE_BUF_H
#define VF_BASE_BUF_H

#include "base/slice.h"

/*
 * A growing byte buffer with a maximum fixed at initialisation. Reaching it is not an error of ours: what
 * fits is kept, buf_cut() becomes true, and the rest is dropped.
 */
struct buf {
    char *p;
    size_t n, cap, max;
    bool cut;
};

#define BUF_INIT(limit) {NULL, 0, 0, (limit), false}

void buf_done(struct buf *b);
void buf_reset(struct buf *b);
void buf_add(struct buf *b, struct slice s);
void buf_addz(struct buf *b, const char *z);
void buf_addc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct slice buf_slice(const struct buf *b);
/* NUL-terminated text of the buffer; valid until the next change. */
const char *buf_z(struct buf *b);

/*
 * Append host-controlled text for a terminal or a message: valid UTF-8 without C0, C1, DEL, bidirectional
 * marks and zero-width characters passes, every other byte becomes \xNN (reliability rules for a terminal).
 */
void buf_add_safe(struct buf *b, struct slice s);

#define _cleanup_(fn) __attribute__((cleanup(fn)))

#endif
