#include "base/sign.h"

#include <limits.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/digest.h"

static void free_key(EVP_PKEY **k)
{
    EVP_PKEY_free(*k);
}

static void free_bio(BIO **b)
{
    BIO_free_all(*b);
}

static void free_ctx(EVP_MD_CTX **c)
{
    EVP_MD_CTX_free(*c);
}

static void free_pkey_ctx(EVP_PKEY_CTX **c)
{
    EVP_PKEY_CTX_free(*c);
}

/* Nobody is asked for a passphrase. */
static int no_passphrase(char *out, int size, int writing, void *ctx)
{
    (void)out;
    (void)size;
    (void)writing;
    (void)ctx;
    return -1;
}

static void add_pem(BIO *b, struct buf *out)
{
    char *p = NULL;
    long n = BIO_get_mem_data(b, &p);

    if (n > 0)
        buf_add(out, (struct slice){p, (size_t)n});
}

int sign_new_pair(struct buf *private_pem, struct buf *public_pem, struct err *e)
{
    _cleanup_(free_pkey_ctx) EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, NULL);
    _cleanup_(free_key) EVP_PKEY *key = NULL;
    _cleanup_(free_bio) BIO *secret = BIO_new(BIO_s_secmem()), *open = BIO_new(BIO_s_mem());

    if (!ctx || EVP_PKEY_keygen_init(ctx) != 1 || EVP_PKEY_keygen(ctx, &key) != 1)
        return err_set(e, VF_EUNSUPPORTED, "this OpenSSL makes no Ed25519 keys");
    if (!secret || !open || PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL) != 1 || PEM_write_bio_PUBKEY(open, key) != 1)
        return err_set(e, VF_EIO, "the new key could not be written");
    add_pem(secret, private_pem);
    add_pem(open, public_pem);
    return 0;
}

static EVP_PKEY *read_key(struct slice pem, bool secret)
{
    _cleanup_(free_bio) BIO *b = pem.n <= INT_MAX ? BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n) : NULL;

    if (!b)
        return NULL;
    return secret ? PEM_read_bio_PrivateKey(b, NULL, no_passphrase, NULL) : PEM_read_bio_PUBKEY(b, NULL, no_passphrase, NULL);
}

int sign_read_public(struct slice pem, const char *name, struct sign_public *out, struct err *e)
{
    _cleanup_(free_key) EVP_PKEY *key = read_key(pem, slice_find(pem, 0, "PRIVATE KEY-----") != SIZE_MAX);
    size_t n = sizeof out->v;

    if (!key)
        return err_set(e, VF_EFORMAT, "%s: no key in PEM form%s", name,
                       slice_find(pem, 0, "ENCRYPTED") != SIZE_MAX ? " that can be read without a passphrase" : "");
    if (EVP_PKEY_id(key) != EVP_PKEY_ED25519 || EVP_PKEY_get_raw_public_key(key, out->v, &n) != 1 || n != sizeof out->v)
        return err_set(e, VF_EFORMAT, "%s: not an Ed25519 key", name);
    return 0;
}

int sign_make(struct slice private_pem, const char *name, struct slice text, uint8_t signature[SIGN_BYTES], struct err *e)
{
    _cleanup_(free_key) EVP_PKEY *key = read_key(private_pem, true);
    _cleanup_(free_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t n = SIGN_BYTES;

    if (!key)
        return err_set(e, VF_EFORMAT, "%s: no private key in PEM form that can be read without a passphrase", name);
    if (EVP_PKEY_id(key) != EVP_PKEY_ED25519)
        return err_set(e, VF_EFORMAT, "%s: not an Ed25519 key", name);
    if (!ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) != 1 ||
        EVP_DigestSign(ctx, signature, &n, (const unsigned char *)text.p, text.n) != 1 || n != SIGN_BYTES)
        return err_set(e, VF_EUNSUPPORTED, "%s: this OpenSSL does not sign with it", name);
    return 0;
}

bool sign_holds(const struct sign_public *key, struct slice text, const uint8_t signature[SIGN_BYTES])
{
    _cleanup_(free_key) EVP_PKEY *k = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->v, sizeof key->v);
    _cleanup_(free_ctx) EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    return k && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k) == 1 &&
           EVP_DigestVerify(ctx, signature, SIGN_BYTES, (const unsigned char *)(text.n ? text.p : ""), text.n) == 1;
}

void sign_fingerprint(const struct sign_public *key, struct buf *out)
{
    uint8_t md[DIGEST_SHA256_BYTES];

    if (digest_sha256((struct slice){(const char *)key->v, sizeof key->v}, md) < 0)
        return;
    buf_addz(out, "SHA256:");
    base64_encode((struct slice){(const char *)md, sizeof md}, false, out);
}
