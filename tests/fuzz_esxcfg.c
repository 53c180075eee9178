/* esxcfg-scsidevs -l, esxcfg-mpath -b and esxcfg-vswitch -l; the first byte chooses. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static decode_fn *const runs[] = {decode_scsidevs, decode_mpath, decode_vswitch};
    unsigned choice = fuzz_choice(&data, &size);
    struct decode_opt o = {.name = "fuzz", .cut = choice >> 7};

    fuzz_decode(runs[choice % 3u], &o, data, size);
    return 0;
}
