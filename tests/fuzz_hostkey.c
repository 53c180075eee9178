/* known_hosts: the first line is the host that is looked for, the rest the file. */
#include "base/digest.h"
#include "fuzz.h"
#include "net/hostkey.h"

static const char key[] = "\0\0\0\13ssh-ed25519\0\0\0 0123456789abcdef0123456789abcdef";

static void check(const struct hostkey_store *s, const char *host, unsigned port)
{
    const struct slice blob = {key, sizeof key - 1};
    struct hostkey_answer a = {0}, again = {0};
    struct slice types[4];
    struct err e = {0};
    size_t n = hostkey_known_types(s, host, port, types, 4);
    int rc = hostkey_check(s, host, port, blob, &a, &e);

    FUZZ_CHECK(rc == 0 || (rc == VF_EUSAGE && n == 0));
    FUZZ_CHECK(n <= 4);
    for (size_t i = 0; i < n; i++)
        fuzz_touch(types[i]);
    if (rc < 0)
        return;
    FUZZ_CHECK((a.verdict == HOSTKEY_UNKNOWN) == (a.file == NULL));
    FUZZ_CHECK(a.file == NULL || a.line > 0);
    FUZZ_CHECK(a.verdict != HOSTKEY_OTHER_TYPE || !slice_among(types, n, hostkey_type(blob)));
    FUZZ_CHECK(hostkey_check(s, host, port, blob, &again, &e) == 0 && again.verdict == a.verdict && again.line == a.line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(arena, 16u << 20);
    FUZZ_ARENA(failing, 16u << 20);
    struct slice rest = fuzz_slice(data, size), host = {NULL, 0};
    struct hostkey_store *s = hostkey_store_new(arena), *f = hostkey_store_new(failing);
    char print[HOSTKEY_FINGERPRINT];
    const struct hostkey_bad *bad;
    struct err e = {0};
    const char *name;
    size_t n;

    fuzz_touch(hostkey_type(rest));
    FUZZ_CHECK(hostkey_fingerprint(rest, print) == 0 && strlen(print) == HOSTKEY_FINGERPRINT - 2);
    (void)slice_next_line(&rest, &host, NULL);
    name = arena_dup(arena, host).p;
    FUZZ_CHECK(hostkey_parse(s, rest, "known_hosts", &e) == 0);
    n = hostkey_bad(s, &bad);
    for (size_t i = 0; i < n && i < HOSTKEY_MAX_BAD; i++)
        FUZZ_CHECK(bad[i].line > 0 && bad[i].file && bad[i].why);
    check(s, name, 22);
    check(s, name, 2222);
    arena_fail_at(failing, 1 + size % 17);
    FUZZ_CHECK(hostkey_parse(f, rest, "known_hosts", &e) == 0 || e.code == VF_ELIMIT);
    check(f, name, 22);
    return 0;
}
