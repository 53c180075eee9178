#ifndef VF_BASE_SIGN_H
#define VF_BASE_SIGN_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Ed25519 signatures (RFC 8032) by OpenSSL. Keys are PEM as "openssl genpkey -algorithm ed25519" and "openssl pkey -pubout" write them
 * (RFC 8410); a private key with a passphrase is refused, nobody is asked for it.
 */
#define SIGN_BYTES     64u
#define SIGN_KEY_BYTES 32u

/* The raw public key. */
struct sign_public {
    uint8_t v[SIGN_KEY_BYTES];
};

/* A new pair as PEM. VF_EUNSUPPORTED when the library has no Ed25519 (an old FIPS provider). */
int sign_new_pair(struct buf *private_pem, struct buf *public_pem, struct err *e);
/* The public key of a PEM text, which may hold the private one. name is for messages. VF_EFORMAT. */
int sign_read_public(struct slice pem, const char *name, struct sign_public *out, struct err *e);
int sign_make(struct slice private_pem, const char *name, struct slice text, uint8_t signature[SIGN_BYTES], struct err *e);
bool sign_holds(const struct sign_public *key, struct slice text, const uint8_t signature[SIGN_BYTES]);
/* "SHA256:" and the base64 of the raw key's digest. */
void sign_fingerprint(const struct sign_public *key, struct buf *out);

#endif
