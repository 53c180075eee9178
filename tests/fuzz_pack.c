/* Packs of rules. One that is read has files that lie in it, and its head is what a signature would be about. */
#include "core/pack.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = fuzz_slice(data, size);
    size_t total = 0;
    struct err e = {0};
    struct pack p;

    if (pack_read(in, "fuzz", &p, &e) < 0) {
        FUZZ_CHECK(e.msg[0]);
        return 0;
    }
    FUZZ_CHECK(p.nfiles && p.nfiles <= PACK_MAX_FILES && p.head.n < in.n && pack_name_valid(p.name));
    for (size_t i = 0; i < p.nfiles; i++) {
        FUZZ_CHECK(pack_name_valid(p.files[i].name));
        total += p.files[i].bytes.n;
    }
    FUZZ_CHECK(total < in.n);
    return 0;
}
