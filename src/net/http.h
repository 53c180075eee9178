#ifndef VF_NET_HTTP_H
#define VF_NET_HTTP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/secret.h"

/*
 * HTTPS with one server, for reading: the only request there is is a GET without a body. Redirects are not followed, no proxy is used, no
 * cookie kept, nothing unpacked. The connection stays open from one request to the next.
 *
 * Who answers is settled before anything is sent: by the SHA-256 of its public key where a pin is given, which then counts alone; else by a
 * certificate that holds for the host's name, of a CA of the system or of the file ca.
 */
#define HTTP_MAX_PIN 60u /* "SHA256:" and 44 characters of base64 */

struct http_opt {
    const char *host;     /* name or address, without brackets */
    uint16_t port;
    const char *pin;      /* "SHA256:...", as http_fingerprint gives it; NULL: the certificate counts */
    const char *ca;       /* PEM file of further CAs, or NULL */
    uint32_t connect_ms;  /* name, connection and TLS together */
    size_t max_body;      /* a longer body is cut */
};

struct http_reply {
    int status;          /* 200, 401, ... */
    struct slice body, type; /* type: of the content, "application/json"; in the arena */
    uint32_t retry_after;    /* seconds, 0 when the server does not say */
    const char *cut;     /* not NULL: the body is not whole, and why */
};

struct http;

/*
 * The fingerprint of the key that the server shows: base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7469, as openssl and curl print
 * pins) behind "SHA256:". Connects, sends no request. Returns 0, VF_EHOST, VF_EFORMAT.
 */
int http_fingerprint(const struct http_opt *o, char out[HTTP_MAX_PIN], struct err *e);

/* o and its texts stay. Never fails for the server's sake: nothing is connected yet. NULL without memory, or for a host that makes no address. */
struct http *http_new(const struct http_opt *o, struct err *e);
/*
 * path begins with "/" and holds printable ASCII without blanks, quotes, brackets and '#'; else VF_EDENIED and nothing is sent. user and
 * password (both or neither) go with this request alone, by Basic. Returns 0 whatever the status is; VF_EHOST (not reached, in time or at all;
 * stopped), VF_EIDENTITY (another key, or a certificate that does not hold).
 */
int http_get(struct http *h, const char *path, const char *user, const struct secret *password, uint64_t deadline, struct arena *a,
             struct http_reply *out, struct err *e);
void http_free(struct http **h);

const char *http_library(void);

#endif
