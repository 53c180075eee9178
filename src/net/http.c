#include "net/http.h"

#include <curl/curl.h>
#include <malloc.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"

#define MAX_URL 4096u

struct http {
    CURL *curl;
    struct curl_slist *headers;
    char site[600], pin[HTTP_MAX_PIN + 16], why[CURL_ERROR_SIZE];
    const struct http_opt *o;
};

/* What one request fills. */
struct taking {
    struct buf body;
    bool stopped;
};

/* --- libcurl's memory --- */

/* It holds copies of the password, in its options and in the header of a request: all that it frees is wiped. */
static void wipe(void *p)
{
    if (p)
        explicit_bzero(p, malloc_usable_size(p));
    free(p);
}

static void *resize(void *p, size_t n)
{
    size_t old = p ? malloc_usable_size(p) : 0;
    void *fresh = malloc(n ? n : 1);

    if (!fresh)
        return NULL;
    if (p)
        memcpy(fresh, p, old < n ? old : n);
    wipe(p);
    return fresh;
}

static char *duplicate(const char *z)
{
    size_t n = strlen(z) + 1;
    char *p = malloc(n);

    if (p)
        memcpy(p, z, n);
    return p;
}

static bool start_libcurl(void)
{
    static bool begun, good;

    if (!begun)
        good = curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wipe, resize, duplicate, calloc) == CURLE_OK;
    begun = true;
    return good;
}

/* --- one handle --- */

/* libcurl's own protocol guesses, proxies of the environment, .netrc, cookies: none of them. A call that this libcurl refuses is a bug of ours. */
static int basics(struct http *h, const struct http_opt *o, struct err *e)
{
    bool six = strchr(o->host, ':') != NULL;
    int n = snprintf(h->site, sizeof h->site, "https://%s%s%s:%u", six ? "[" : "", o->host, six ? "]" : "", o->port);

    if (n < 0 || (size_t)n >= sizeof h->site)
        return err_set(e, VF_EUSAGE, "the name of the BMC is too long");
    h->o = o;
    if (!start_libcurl())
        return err_set(e, VF_EUNSUPPORTED, "libcurl does not start: %s", http_library());
    h->curl = curl_easy_init();
    h->headers = curl_slist_append(NULL, "Accept: application/json");
    if (h->headers)
        h->headers = curl_slist_append(h->headers, "OData-Version: 4.0");
    if (!h->curl || !h->headers)
        return err_set(e, VF_ELIMIT, "no room left for a connection");
    if (curl_easy_setopt(h->curl, CURLOPT_PROTOCOLS_STR, "https") || curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L) ||
        curl_easy_setopt(h->curl, CURLOPT_PROXY, "") || curl_easy_setopt(h->curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) ||
        curl_easy_setopt(h->curl, CURLOPT_FOLLOWLOCATION, 0L) || curl_easy_setopt(h->curl, CURLOPT_PATH_AS_IS, 1L) ||
        curl_easy_setopt(h->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) || curl_easy_setopt(h->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) ||
        curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers) || curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->why) ||
        curl_easy_setopt(h->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms))
        return err_set(e, VF_EUNSUPPORTED, "libcurl lacks what HTTPS needs: %s", http_library());
    return 0;
}

static int verify(struct http *h, bool wanted)
{
    return curl_easy_setopt(h->curl, CURLOPT_SSL_VERIFYPEER, wanted ? 1L : 0L) || curl_easy_setopt(h->curl, CURLOPT_SSL_VERIFYHOST, wanted ? 2L : 0L);
}

struct http *http_new(const struct http_opt *o, struct err *e)
{
    struct http *h = calloc(1, sizeof *h);
    bool bad;

    if (!h) {
        (void)err_set(e, VF_ELIMIT, "no room left for a connection");
        return NULL;
    }
    if (basics(h, o, e) < 0) {
        http_free(&h);
        return NULL;
    }
    if (o->pin)
        (void)snprintf(h->pin, sizeof h->pin, "sha256//%s", o->pin + strlen("SHA256:"));
    bad = o->pin ? verify(h, false) || curl_easy_setopt(h->curl, CURLOPT_PINNEDPUBLICKEY, h->pin) != CURLE_OK
                 : verify(h, true) || (o->ca && curl_easy_setopt(h->curl, CURLOPT_CAINFO, o->ca) != CURLE_OK);
    if (bad) {
        (void)err_set(e, VF_EUNSUPPORTED, "libcurl cannot check who answers: %s", http_library());
        http_free(&h);
    }
    return h;
}

void http_free(struct http **h)
{
    if (!*h)
        return;
    curl_easy_cleanup((*h)->curl);
    curl_slist_free_all((*h)->headers);
    free(*h);
    *h = NULL;
}

/* --- waiting --- */

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)ctx, (void)a, (void)b, (void)c, (void)d;
    return stop_wanted();
}

static size_t on_bytes(char *p, size_t one, size_t n, void *ctx)
{
    struct taking *t = ctx;

    buf_add(&t->body, (struct slice){p, one * n});
    return t->body.cut ? 0 : n * one;
}

/* In words, of what went wrong before there was an answer. */
static int failed(const struct http *h, CURLcode rc, struct err *e)
{
    const char *site = h->site + strlen("https://");

    switch (rc) {
    case CURLE_ABORTED_BY_CALLBACK: return err_set(e, VF_EHOST, "stopped");
    case CURLE_COULDNT_RESOLVE_HOST: return err_set(e, VF_EHOST, "%s: there is no such name", site);
    case CURLE_COULDNT_CONNECT: return err_set(e, VF_EHOST, "%s: no connection: %s", site, h->why);
    case CURLE_OPERATION_TIMEDOUT: return err_set(e, VF_EHOST, "%s: timeout: %s", site, h->why);
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return err_set(e, VF_EIDENTITY, "%s: it shows another key than the one that is known", site);
    case CURLE_PEER_FAILED_VERIFICATION: return err_set(e, VF_EIDENTITY, "%s: its certificate does not hold: %s", site, h->why);
    case CURLE_SSL_CACERT_BADFILE:
        return h->o->ca ? err_set(e, VF_EIDENTITY, "%s: not a PEM file of CA certificates", h->o->ca)
                        : err_set(e, VF_EIDENTITY, "%s: its certificate does not hold: this machine has no CA certificates", site);
    case CURLE_SSL_CONNECT_ERROR: return err_set(e, VF_EHOST, "%s: no TLS: %s", site, h->why);
    case CURLE_GOT_NOTHING: return err_set(e, VF_EHOST, "%s: it closed the connection without an answer", site);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: return err_set(e, VF_EHOST, "%s: what it says is not HTTP", site);
    default: return err_set(e, VF_EHOST, "%s: %s", site, h->why[0] ? h->why : curl_easy_strerror(rc));
    }
}

/* --- who answers --- */

static int fingerprint_of(const char *pem, char out[HTTP_MAX_PIN])
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    unsigned char *der = NULL;
    int n = cert ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &der) : -1, rc = -1;
    _cleanup_(buf_done) struct buf b = BUF_INIT(HTTP_MAX_PIN);
    uint8_t digest[DIGEST_SHA256_BYTES];

    if (n > 0 && digest_sha256((struct slice){(const char *)der, (size_t)n}, digest) == 0) {
        buf_addz(&b, "SHA256:");
        base64_encode((struct slice){(const char *)digest, sizeof digest}, true, &b);
        rc = b.cut ? -1 : snprintf(out, HTTP_MAX_PIN, "%s", buf_z(&b)) < 0 ? -1 : 0;
    }
    OPENSSL_free(der);
    X509_free(cert);
    BIO_free(bio);
    return rc;
}

int http_fingerprint(const struct http_opt *o, char out[HTTP_MAX_PIN], struct err *e)
{
    struct http *h = calloc(1, sizeof *h);
    struct curl_certinfo *info = NULL;
    const char *pem = NULL;
    CURLcode rc;

    if (!h)
        return err_set(e, VF_ELIMIT, "no room left for a connection");
    if (basics(h, o, e) < 0) {
        http_free(&h);
        return e->code;
    }
    if (verify(h, false) || curl_easy_setopt(h->curl, CURLOPT_CERTINFO, 1L) || curl_easy_setopt(h->curl, CURLOPT_CONNECT_ONLY, 1L) ||
        curl_easy_setopt(h->curl, CURLOPT_URL, h->site) || curl_easy_setopt(h->curl, CURLOPT_XFERINFOFUNCTION, on_progress) ||
        curl_easy_setopt(h->curl, CURLOPT_NOPROGRESS, 0L) || curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)o->connect_ms)) {
        http_free(&h);
        return err_set(e, VF_EUNSUPPORTED, "libcurl cannot show certificates: %s", http_library());
    }
    rc = curl_easy_perform(h->curl);
    if (rc != CURLE_OK) {
        (void)failed(h, rc, e);
        http_free(&h);
        return e->code;
    }
    if (curl_easy_getinfo(h->curl, CURLINFO_CERTINFO, &info) == CURLE_OK && info && info->num_of_certs > 0)
        for (struct curl_slist *s = info->certinfo[0]; s; s = s->next)
            if (strncmp(s->data, "Cert:", 5) == 0)
                pem = s->data + 5;
    rc = !pem || fingerprint_of(pem, out) < 0;
    if (rc)
        (void)err_set(e, VF_EFORMAT, "%s: it shows no certificate that can be read", h->site + strlen("https://"));
    http_free(&h);
    return rc ? e->code : 0;
}

/* --- a request --- */

static bool plain_path(const char *path)
{
    size_t n = strlen(path);

    if (path[0] != '/' || path[1] == '/' || n > MAX_URL / 2 || strstr(path, "/../") || strstr(path, "/./") || (n >= 3 && strcmp(path + n - 3, "/..") == 0))
        return false;
    for (; *path; path++)
        if (*path <= 0x20 || *path >= 0x7f || strchr("\"'<>\\^`{|}#@", *path))
            return false;
    return true;
}

/* The only place that makes a request: it is a GET. */
int http_get(struct http *h, const char *path, const char *user, const struct secret *password, uint64_t deadline, struct arena *a,
             struct http_reply *out, struct err *e)
{
    struct taking t = {.body = BUF_INIT(h->o->max_body)};
    _cleanup_(buf_done) struct buf url = BUF_INIT(MAX_URL);
    curl_off_t retry = 0;
    char *type = NULL;
    long status = 0;
    bool refused;
    CURLcode rc;

    if (!plain_path(path))
        return err_set(e, VF_EDENIED, "a path that is not asked for");
    if (clock_left(deadline) == 0)
        return err_set(e, VF_EHOST, "%s: timeout", h->site + strlen("https://"));
    buf_printf(&url, "%s%s", h->site, path);
    h->why[0] = '\0';
    refused = curl_easy_setopt(h->curl, CURLOPT_HTTPGET, 1L) || curl_easy_setopt(h->curl, CURLOPT_URL, buf_z(&url)) ||
              curl_easy_setopt(h->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) || curl_easy_setopt(h->curl, CURLOPT_USERNAME, password ? user : NULL) ||
              curl_easy_setopt(h->curl, CURLOPT_PASSWORD, password ? secret_text(password) : NULL) ||
              curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, on_bytes) || curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &t) ||
              curl_easy_setopt(h->curl, CURLOPT_XFERINFOFUNCTION, on_progress) || curl_easy_setopt(h->curl, CURLOPT_NOPROGRESS, 0L) ||
              curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)clock_left(deadline));
    rc = refused ? CURLE_FAILED_INIT : curl_easy_perform(h->curl);
    (void)curl_easy_setopt(h->curl, CURLOPT_PASSWORD, NULL); /* libcurl frees its copy */
    if (!refused)
        (void)curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    *out = (struct http_reply){.status = (int)status};
    if (rc == CURLE_WRITE_ERROR && t.body.cut) {
        out->cut = "longer than what is read of one answer";
    } else if (status && t.body.n && (rc == CURLE_PARTIAL_FILE || rc == CURLE_RECV_ERROR || rc == CURLE_OPERATION_TIMEDOUT)) {
        out->cut = rc == CURLE_OPERATION_TIMEDOUT ? "timeout: the answer did not end in time" : "the connection broke in the middle of the answer";
    } else if (rc != CURLE_OK) {
        buf_done(&t.body);
        return failed(h, rc, e);
    }
    if (curl_easy_getinfo(h->curl, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK && type)
        out->type = arena_dup(a, slice_of(type));
    if (curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &retry) == CURLE_OK && retry > 0)
        out->retry_after = retry > 86400 ? 86400 : (uint32_t)retry;
    out->body = arena_dup(a, buf_slice(&t.body));
    buf_done(&t.body);
    return 0;
}

const char *http_library(void)
{
    static char text[64];

    (void)snprintf(text, sizeof text, "libcurl %s", curl_version_info(CURLVERSION_NOW)->version);
    return text;
}
