/* ctrl all show detail, of ssacli and its elders. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_opt o = {.name = "fuzz"};

    fuzz_decode(decode_ssacli, &o, data, size);
    return 0;
}
