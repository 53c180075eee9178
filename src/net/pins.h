#ifndef VF_NET_PINS_H
#define VF_NET_PINS_H

#include "base/arena.h"
#include "base/err.h"

/*
 * The keys of BMCs that are known: a private file with a line for each, "host:port SHA256:..." (http.h tells what that is of); '#' begins a
 * comment. What stands there is what a user has agreed to, so a line that cannot be read is an error and never skipped.
 */
#define PINS_MAX_FILE (1u << 20)

/* *pin is NULL when there is none, or no file. Returns 0, VF_EFORMAT (file and line: unreadable, or two keys of one host), VF_EIO, VF_ELIMIT. */
int pins_find(const char *path, const char *site, struct arena *a, const char **pin, struct err *e);
/* Put it there, in the place of another one of that site. The folders above path are made. Returns 0, VF_EIO, ... */
int pins_store(const char *path, const char *site, const char *pin, struct arena *a, struct err *e);

#endif
