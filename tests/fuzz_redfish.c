/* Resources of a BMC. What is given away of one reads the same. */
#include "decode/redfish.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_opt o = {.name = "fuzz"};
    _cleanup_(buf_done) struct buf less = BUF_INIT(16u << 20);
    FUZZ_ARENA(a, 64u << 20);
    struct decoded before, after;

    fuzz_decode(decode_redfish, &o, data, size);
    fuzz_decode(decode_redfish_system, &o, data, size);
    if (redfish_reduce(fuzz_slice(data, size), &less) < 0 || less.cut)
        return 0;
    if (decode_redfish(fuzz_slice(data, size), &o, a, &before) == 0 && decode_redfish(buf_slice(&less), &o, a, &after) == 0 && before.state == DECODE_COMPLETE) {
        FUZZ_CHECK(after.state == DECODE_COMPLETE && after.n == before.n);
        for (size_t i = 0; i < before.n; i++)
            FUZZ_CHECK(after.records[i].nfields == before.records[i].nfields);
    }
    return 0;
}
