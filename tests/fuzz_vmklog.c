/* vmkernel.log and its like. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_opt o = {.name = "fuzz"};

    fuzz_decode(decode_vmklog, &o, data, size);
    fuzz_decode(decode_logspan, &o, data, size);
    return 0;
}
