/* esxcfg-nics -l. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_opt o = {.name = "fuzz"};

    fuzz_decode(decode_nics, &o, data, size);
    return 0;
}
