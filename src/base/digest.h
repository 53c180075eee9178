#ifndef VF_BASE_DIGEST_H
#define VF_BASE_DIGEST_H

#include "base/buf.h"

/*
 * Digests, base64 and random bytes, for host keys and their names in known_hosts. Nothing here is kept secret from a clock: comparing
 * what it gives is no check of a password.
 */
#define DIGEST_SHA256_BYTES 32u
#define DIGEST_SHA1_BYTES   20u

/* Return 0, or VF_EUNSUPPORTED when the library refuses the algorithm (a FIPS provider may) and out is untouched. */
int digest_sha256(struct slice data, uint8_t out[DIGEST_SHA256_BYTES]);
int digest_hmac_sha1(struct slice key, struct slice data, uint8_t out[DIGEST_SHA1_BYTES]);

/* Append bytes as base64 (RFC 4648, section 4), with '=' up to a multiple of four characters or, as fingerprints have it, without. */
void base64_encode(struct slice bytes, bool padded, struct buf *out);
/*
 * Append the bytes of a padded base64 text. Strict: no blanks, no other characters, no missing padding, no bits that are dropped, so that
 * one value has one spelling. Returns 0, or -1 with nothing appended. Empty text is zero bytes.
 */
int base64_decode(struct slice text, struct buf *out);

/* Bytes from the kernel (getrandom(2)). Returns 0 or VF_EIO; it does not wait once the machine is up. */
int random_bytes(void *p, size_t n);

const char *digest_library(void);

#endif
