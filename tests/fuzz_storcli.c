/* /call show of storcli and perccli. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_opt o = {.name = "fuzz"};

    fuzz_decode(decode_storcli, &o, data, size);
    return 0;
}
