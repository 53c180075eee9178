#include "net/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fsx.h"
#include "net/agent.h"

void keyfile_done(struct keyfile *k)
{
    if (k->bytes)
        explicit_bzero(k->bytes, k->n);
    free(k->bytes);
    k->bytes = NULL;
    k->n = 0;
}

static int read_all(int fd, const char *path, struct keyfile *k, struct err *e)
{
    k->bytes = xmalloc(KEYFILE_MAX + 1);
    for (;;) {
        ssize_t n = read(fd, k->bytes + k->n, KEYFILE_MAX - k->n);

        if (n < 0)
            return err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
        if (n == 0)
            break;
        k->n += (size_t)n;
        if (k->n == KEYFILE_MAX)
            return err_set(e, VF_ELIMIT, "%s: larger than a key can be", path);
    }
    k->bytes[k->n] = '\0';
    return 0;
}

/* A public key's line: "ssh-rsa AAAA... comment" */
static bool parse_public(struct slice text, struct arena *a, struct keyfile *k)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(KEYFILE_MAX);
    struct slice type, word, blob, inner;

    if (!slice_next_word(&text, " \t\r\n", &type) || !slice_next_word(&text, " \t\r\n", &word) || base64_decode(word, &b) < 0)
        return false;
    blob = arena_dup(a, buf_slice(&b));
    word = blob;
    if (!ssh_string(&word, &inner) || !slice_eq(inner, type))
        return false;
    k->type = inner;
    k->blob = blob;
    return true;
}

/* The public half that stands beside a key. */
static bool read_public(const char *path, struct arena *a, struct keyfile *k)
{
    const char *pub = arena_printf(a, "%s.pub", path);
    struct slice text;

    return pub && fsx_kind(pub) == FSX_FILE && fsx_read(pub, KEYFILE_MAX, a, &text, NULL, NULL) == 0 && parse_public(text, a, k);
}

/* "openssh-key-v1" NUL, cipher, kdf, its options, number of keys, public key, ...; PROTOCOL.key of OpenSSH */
static bool parse_openssh(struct slice text, struct arena *a, struct keyfile *k)
{
    static const char magic[] = "openssh-key-v1"; /* with its NUL */
    _cleanup_(buf_done) struct buf b64 = BUF_INIT(KEYFILE_MAX), bin = BUF_INIT(KEYFILE_MAX);
    struct slice line, rest, cipher, skipped, blob, type;
    uint32_t count;
    bool ok = false;

    while (slice_next_line(&text, &line, NULL) && !slice_starts(line, "-----END"))
        buf_add(&b64, slice_trim(line));
    if (base64_decode(buf_slice(&b64), &bin) == 0) {
        rest = buf_slice(&bin);
        if (rest.n > sizeof magic && memcmp(rest.p, magic, sizeof magic) == 0) {
            rest = slice_from(rest, sizeof magic);
            ok = ssh_string(&rest, &cipher) && ssh_string(&rest, &skipped) && ssh_string(&rest, &skipped) && ssh_number(&rest, &count) &&
                 ssh_string(&rest, &blob);
        }
    }
    if (ok) {
        k->encrypted = !slice_eqz(cipher, "none");
        k->blob = rest = arena_dup(a, blob);
        ok = ssh_string(&rest, &type);
        k->type = type;
    }
    if (b64.p)
        explicit_bzero(b64.p, b64.n);
    if (bin.p)
        explicit_bzero(bin.p, bin.n);
    return ok;
}

static bool parse(struct slice text, const char *path, struct arena *a, struct keyfile *k)
{
    size_t at = slice_find(text, 0, "-----BEGIN ");
    struct slice head;

    if (at == SIZE_MAX)
        return false;
    text = slice_from(text, at + 11);
    head = slice_cut(text, 0, slice_find(text, 0, "-----"));
    (void)slice_next_line(&text, &(struct slice){NULL, 0}, NULL);
    if (slice_eqz(head, "OPENSSH PRIVATE KEY"))
        return parse_openssh(text, a, k);
    if (!slice_ends(head, "PRIVATE KEY"))
        return false;
    k->encrypted = slice_eqz(head, "ENCRYPTED PRIVATE KEY") || slice_find(text, 0, "Proc-Type: 4,ENCRYPTED") != SIZE_MAX;
    k->type = slice_eqz(head, "RSA PRIVATE KEY") ? SLICE_LIT("ssh-rsa") : slice_eqz(head, "EC PRIVATE KEY") ? SLICE_LIT("ecdsa")
              : slice_eqz(head, "DSA PRIVATE KEY") ? SLICE_LIT("ssh-dss") : (struct slice){NULL, 0};
    (void)read_public(path, a, k);
    return true;
}

int keyfile_read(const char *path, struct arena *a, struct keyfile *out, struct err *e)
{
    struct keyfile k = {.bytes = NULL};
    struct stat st;
    _cleanup_(fsx_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = 0;

    if (fd < 0 && errno == ENOENT && read_public(path, a, &k)) {
        *out = k;
        return 0;
    }
    if (fd < 0)
        return err_set(e, errno == ENOENT || errno == ENOTDIR ? VF_ENOTFOUND : VF_EIO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(e, VF_EFORMAT, "%s: not a file", path);
    rc = read_all(fd, path, &k, e);
    if (rc == 0 && parse_public((struct slice){k.bytes, k.n}, a, &k)) {
        keyfile_done(&k);
        *out = k;
        return 0;
    }
    if (rc == 0 && st.st_uid == getuid() && (st.st_mode & 077))
        rc = err_set(e, VF_EDENIED, "%s: others may read this private key; chmod 600 it, as ssh wants too", path);
    if (rc == 0 && !parse((struct slice){k.bytes, k.n}, path, a, &k))
        rc = err_set(e, VF_EFORMAT, "%s: no private key in a form that is known", path);
    if (rc < 0) {
        keyfile_done(&k);
        return rc;
    }
    *out = k;
    return 0;
}
