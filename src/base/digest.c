#include "base/digest.h"

#include <errno.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/err.h"

static const char alphabet[64] __attribute__((nonstring)) = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int digest_sha256(struct slice data, uint8_t out[DIGEST_SHA256_BYTES])
{
    uint8_t md[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    if (EVP_Digest(data.n ? data.p : "", data.n, md, &n, EVP_sha256(), NULL) != 1 || n != DIGEST_SHA256_BYTES)
        return VF_EUNSUPPORTED;
    memcpy(out, md, DIGEST_SHA256_BYTES);
    return 0;
}

int digest_hmac_sha1(struct slice key, struct slice data, uint8_t out[DIGEST_SHA1_BYTES])
{
    uint8_t md[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    if (key.n > 4096)
        return VF_EUNSUPPORTED;
    if (!HMAC(EVP_sha1(), key.n ? key.p : "", (int)key.n, (const unsigned char *)(data.n ? data.p : ""), data.n, md, &n) ||
        n != DIGEST_SHA1_BYTES)
        return VF_EUNSUPPORTED;
    memcpy(out, md, DIGEST_SHA1_BYTES);
    return 0;
}

void base64_encode(struct slice bytes, bool padded, struct buf *out)
{
    const unsigned char *p = (const unsigned char *)bytes.p;

    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t v = (uint32_t)p[i] << 16 | (uint32_t)(left > 1 ? p[i + 1] : 0) << 8 | (left > 2 ? p[i + 2] : 0);
        char four[4] = {alphabet[v >> 18 & 63], alphabet[v >> 12 & 63], left > 1 ? alphabet[v >> 6 & 63] : '=', left > 2 ? alphabet[v & 63] : '='};

        buf_add(out, (struct slice){four, padded || left > 2 ? 4 : left + 1});
    }
}

/* 64 when it is none of the alphabet. */
static uint32_t value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a') + 26;
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

int base64_decode(struct slice text, struct buf *out)
{
    size_t before = out->n, pad = 0;

    if (text.n % 4)
        return -1;
    while (pad < 2 && pad < text.n && text.p[text.n - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i < text.n; i += 4) {
        size_t chars = i + 4 == text.n ? 4 - pad : 4; /* the rest is padding */
        uint32_t v = 0;
        char three[3];

        for (size_t k = 0; k < 4; k++) {
            uint32_t x = k < chars ? value_of(text.p[i + k]) : 0;

            if (x > 63)
                goto bad;
            v = v << 6 | x;
        }
        if ((chars == 2 && (v & 0xffff)) || (chars == 3 && (v & 0xff)))
            goto bad;
        three[0] = (char)(v >> 16);
        three[1] = (char)(v >> 8);
        three[2] = (char)v;
        buf_add(out, (struct slice){three, chars - 1});
    }
    if (!out->cut)
        return 0;
bad:
    out->n = before;
    return -1;
}

int random_bytes(void *p, size_t n)
{
    char *at = p;

    while (n) {
        ssize_t got = getrandom(at, n > 256 ? 256 : n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return VF_EIO;
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

const char *digest_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}
