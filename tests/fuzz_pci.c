/* lspci in its three forms. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_opt o = {.name = "fuzz"};

    fuzz_decode(decode_pci, &o, data, size);
    return 0;
}
