#ifndef VF_BASE_SH_H
#define VF_BASE_SH_H

#include "base/buf.h"

/*
 * Append one argument as a POSIX shell word: as it is when it holds only safe characters, else in single quotes, a ' as '\''. Returns -1
 * and appends nothing for NUL, CR and LF, which no argument of ours has.
 */
int sh_quote(struct buf *b, struct slice arg);

#endif
