#ifndef VF_DECODE_REDFISH_H
#define VF_DECODE_REDFISH_H

#include "base/buf.h"
#include "decode/decode.h"

/*
 * A resource with no more of it than the decoders read: what a BMC says besides (asset tags, host names, service codes, whatever its vendor
 * adds) may name its owner in ways that nobody can list. Returns 0, or -1 with out as it was when in is no JSON object.
 */
int redfish_reduce(struct slice in, struct buf *out);

#endif
