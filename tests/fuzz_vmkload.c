/* vmkload_mod -s and esxcfg-module -i; the first byte chooses between the module and its parameters. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_fn *run = fuzz_choice(&data, &size) & 1u ? decode_vmkload_params : decode_vmkload;
    struct decode_opt o = {.name = "fuzz"};

    fuzz_decode(run, &o, data, size);
    return 0;
}
