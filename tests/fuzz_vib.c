/* VIBs: ar, descriptor, tar and vmtar. */
#include "fuzz.h"

#include "decode/vib.h"

static void relations(const struct vib_relation *v, size_t n)
{
    FUZZ_CHECK(n <= VIB_MAX_RELATIONS);
    for (size_t i = 0; i < n; i++) {
        fuzz_touch(v[i].name);
        fuzz_touch(v[i].relation);
        fuzz_touch(v[i].version);
    }
}

static void descriptor(struct slice in, struct arena *a)
{
    struct vib_descriptor d;
    struct err e = {0};
    int rc = vib_descriptor(in, "fuzz", a, &d, &e);

    FUZZ_CHECK(rc == 0 || rc == VF_EFORMAT || rc == VF_ELIMIT);
    FUZZ_CHECK((rc == 0) == (e.msg[0] == '\0'));
    if (rc < 0)
        return;
    FUZZ_CHECK(d.name.n && d.version.n && d.nfiles <= VIB_MAX_FILES);
    relations(d.depends, d.ndepends);
    relations(d.conflicts, d.nconflicts);
    relations(d.replaces, d.nreplaces);
    for (size_t i = 0; i < d.npayloads; i++)
        fuzz_touch(d.payloads[i].name);
    for (size_t i = 0; i < d.nfiles; i++)
        fuzz_touch(d.files[i]);
}

static void tar(struct slice in, struct arena *a)
{
    struct tar_walk w = {.at = 0};
    struct tar_file file;
    size_t n = 0, before = 0;

    while (tar_next(in, &w, a, &file) > 0) {
        FUZZ_CHECK(w.at > before && w.at <= in.n);
        before = w.at;
        FUZZ_CHECK(++n <= in.n / 512);
        fuzz_touch(file.name);
        fuzz_touch(file.body);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(a, 16u << 20);
    struct slice in = fuzz_slice(data, size);
    struct ar_member m;
    struct err e = {0};
    size_t at = 0, before = 0;

    if (!ar_is(in)) {
        tar(in, a);
        descriptor(in, a);
        return 0;
    }
    while (ar_next(in, &at, &m, &e) > 0) {
        FUZZ_CHECK(at > before);
        before = at;
        fuzz_touch(m.name);
        fuzz_touch(m.body);
        descriptor(m.body, a);
        tar(m.body, a);
    }
    return 0;
}
