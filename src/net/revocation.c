#include "net/revocation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fsx.h"
#include "base/run.h"
#include "net/hostkey.h"

#define MAX_KEY  (64u << 10)
#define MAX_FILE (16u << 20) /* of revoked keys */

/* ssh-keygen wants the key in a file. */
static int write_key(struct slice blob, char *path, struct err *e)
{
    _cleanup_(buf_done) struct buf line = BUF_INIT(MAX_KEY);
    struct slice type = hostkey_type(blob);
    _cleanup_(fsx_close) int fd = mkostemp(path, O_CLOEXEC);

    if (fd < 0)
        return err_set(e, VF_EIDENTITY, "%s: %s", path, strerror(errno));
    buf_add(&line, type);
    buf_addc(&line, ' ');
    base64_encode(blob, true, &line);
    buf_addc(&line, '\n');
    if (line.cut || write(fd, line.p, line.n) != (ssize_t)line.n)
        return err_set(e, VF_EIDENTITY, "%s: the key cannot be written", path);
    return 0;
}

/* A key revocation list of ssh-keygen -k. */
static int check_list(const char *file, struct slice blob, int timeout_ms, struct err *e)
{
    _cleanup_(buf_done) struct buf said = BUF_INIT(4096);
    char path[] = "/tmp/vmkfit-key-XXXXXX";
    const char *argv[] = {"ssh-keygen", "-Q", "-f", file, path, NULL};
    struct run r = {.argv = argv, .out = {run_take_buf, &said}, .err = {run_take_buf, &said}, .timeout_ms = timeout_ms};
    int status = -1, rc = write_key(blob, path, e);

    if (rc == 0 && run_program(&r, &status, e) < 0)
        status = -1;
    (void)unlink(path);
    if (rc < 0 || status == 0)
        return rc;
    if (slice_find(buf_slice(&said), 0, "REVOKED") != SIZE_MAX)
        return err_set(e, VF_EIDENTITY, "the host's key is revoked by %s", file);
    return err_set(e, VF_EIDENTITY, "whether %s (RevokedHostKeys) revokes the host's key cannot be told, so no key is good, as with ssh", file);
}

/* Public keys, a line each; what is none is passed over, as by ssh. */
static bool names_key(struct slice text, struct slice blob)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_KEY);
    struct slice line, word;

    while (slice_next_line(&text, &line, NULL))
        while (slice_next_word(&line, " \t\r", &word)) {
            buf_reset(&b);
            if (base64_decode(word, &b) == 0 && slice_eq(buf_slice(&b), blob))
                return true;
        }
    return false;
}

int revocation_check(const char *file, struct slice blob, int timeout_ms, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(MAX_FILE + 4096);
    struct slice text;

    if (fsx_read(file, MAX_FILE, a, &text, NULL, e) < 0) {
        struct err why = *e;

        return err_set(e, VF_EIDENTITY, "%s (RevokedHostKeys): so no key is good, as with ssh", why.msg);
    }
    if (slice_starts(text, "SSHKRL\n"))
        return check_list(file, blob, timeout_ms, e);
    return names_key(text, blob) ? err_set(e, VF_EIDENTITY, "the host's key is revoked by %s", file) : 0;
}
