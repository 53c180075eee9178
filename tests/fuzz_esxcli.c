/* esxcli's output, its form told by content. The first byte chooses the shape, the headings, and whether the answer is known to be cut. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {NULL, "HBA Name|Driver|Link State|UID|Description",
                                          "Name|Version|Vendor|Acceptance Level|Install Date", "Name|Is Loaded|Is Enabled"};
    unsigned choice = fuzz_choice(&data, &size);
    struct decode_opt o = {.name = "fuzz", .shape = (enum decode_shape)((choice & 7u) % 5u), .columns = columns[choice >> 3 & 3u],
                           .cut = choice >> 5 & 1u};

    fuzz_decode(decode_esxcli, &o, data, size);
    return 0;
}
