/* Padded columns without a dash line; the first byte chooses the headings and whether the answer is known to be cut. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {NULL, "Device UID|Device Type|Console Device|Size|Multipath Plugin|Display Name",
                                          "Bus:Sl.F|Vend:Dvid|Subv:Subd|ISA/irq/Vec|P|M|Module|Name", "A|B"};
    unsigned choice = fuzz_choice(&data, &size);
    struct decode_opt o = {.name = "fuzz", .columns = columns[choice & 3u], .cut = choice >> 2 & 1u};

    fuzz_decode(decode_columns, &o, data, size);
    return 0;
}
