#ifndef VF_BASE_FSW_H
#define VF_BASE_FSW_H

#include "base/err.h"
#include "base/slice.h"

/* Small files written so that a crash leaves the old one or the new one. Unless said otherwise they are private: 0600, in folders of 0700. */

/* Make the folders above path that are missing. Those that are there stay as they are. */
int fsw_make_parents(const char *path, struct err *e);

/*
 * Put bytes in the place of the file at path: a temporary file beside it, fsync, rename, fsync of the folder. One that is there keeps its
 * mode and owner; a link is replaced, not followed (resolve it first). VF_EIO leaves the old file; a folder, a
 * device or a pipe is VF_EUSAGE.
 */
int fsw_replace(const char *path, struct slice bytes, struct err *e);

/* The same for a file that is not private: a new one gets the mode that the umask leaves of 0666. */
int fsw_write(const char *path, struct slice bytes, struct err *e);

#endif
