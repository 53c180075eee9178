/* Archives in memory: tar, .tgz, zip; and single gzip files. */
#include "base/archive.h"
#include "fuzz.h"

#define MAX_FILE 4096u

struct seen {
    size_t wanted, given, bytes;
};

static enum archive_want want(void *ctx, const char *path)
{
    struct seen *s = ctx;

    fuzz_touchz(path);
    FUZZ_CHECK(path[0] != '/' && path[0] != '\0');
    FUZZ_CHECK(!strstr(path, "/../") && strncmp(path, "../", 3) != 0);
    s->wanted += strlen(path) % 4 != 3;
    return strlen(path) % 4 != 3 ? ARCHIVE_KEEP : ARCHIVE_SKIP;
}

static int keep(void *ctx, const char *path, struct slice body, bool cut, struct err *e)
{
    struct seen *s = ctx;

    (void)e;
    (void)cut;
    fuzz_touchz(path);
    fuzz_touch(body);
    FUZZ_CHECK(body.n <= MAX_FILE);
    s->given++;
    s->bytes += body.n;
    return s->given > 1000 ? VF_ELIMIT : 0;
}

static void tell_link(void *ctx, const char *path)
{
    (void)ctx;
    fuzz_touchz(path);
    FUZZ_CHECK(path[0] != '/' && !strstr(path, "/../") && strncmp(path, "../", 3) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen first = {0}, second = {0};
    struct archive_budget budget = {0}, again = {0};
    struct archive_visit v = {&first, want, keep, tell_link, MAX_FILE, MAX_FILE, &budget};
    struct archive_summary s, t;
    struct slice in = fuzz_slice(data, size), out;
    struct err e = {0};
    bool cut;
    FUZZ_ARENA(a, 16u << 20);
    int rc = archive_walk_bytes(in, "fuzz", &v, &s, &e);

    FUZZ_CHECK(rc != 0 || first.given == first.wanted);
    FUZZ_CHECK(rc != 0 || !s.truncated || s.why[0]);
    v.ctx = &second;
    v.budget = &again;
    FUZZ_CHECK(archive_walk_bytes(in, "fuzz", &v, &t, &e) == rc);
    FUZZ_CHECK(first.given == second.given && first.bytes == second.bytes);
    if (archive_gunzip(in, "fuzz", MAX_FILE, a, &out, &cut, &e) == 0) {
        fuzz_touch(out);
        FUZZ_CHECK(out.n <= MAX_FILE);
    }
    (void)archive_is(in);
    return 0;
}
