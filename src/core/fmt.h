#ifndef VF_CORE_FMT_H
#define VF_CORE_FMT_H

#include "base/buf.h"
#include "base/err.h"

/*
 * One layout for rule files, so that a change shows what was changed. Written again from the document: two blanks a level, lines of at most
 * 140 columns, attributes of a rule in one order, texts folded, one empty line between rules; an element whose children fit on its line stays
 * there, but for those that hold what a reader looks for (when, why, fix, evidence). Comments and instructions stay at their place. What the file
 * means is not changed, and writing it again changes nothing.
 *
 * Returns 0, or VF_EFORMAT with the line where the document is not well-formed: out is then of no use.
 */
int fmt_rules(struct slice in, const char *name, struct buf *out, struct err *e);

#endif
