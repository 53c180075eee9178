#ifndef VF_NET_REVOCATION_H
#define VF_NET_REVOCATION_H

#include "base/err.h"
#include "base/slice.h"

/*
 * Is a host's key revoked by a file of RevokedHostKeys (ssh_config(5)): keys a line each, or a key revocation list, which ssh-keygen -Q reads.
 * A file that cannot be read revokes every key, as with ssh. Returns 0, VF_EIDENTITY (revoked, or not to be told).
 */
int revocation_check(const char *file, struct slice blob, int timeout_ms, struct err *e);

#endif
