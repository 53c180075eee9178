/* "key=value" and "key: value" lines; the first byte chooses between one record, one a pair, and a single value. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum decode_shape shapes[] = {SHAPE_OBJECT, SHAPE_TABLE, SHAPE_VALUE};
    unsigned choice = fuzz_choice(&data, &size);
    struct decode_opt o = {.name = "fuzz", .shape = shapes[choice % 3u], .cut = choice >> 7};

    fuzz_decode(decode_pairs, &o, data, size);
    return 0;
}
