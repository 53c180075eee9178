/* One record a line; the first byte chooses one of the patterns that probes use. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const patterns[] = {
        "{HBA Name} {Driver} {Link State} {UID} {Description...}",
        "+VMware ESXi {Version} build-{Build}\nVMware ESXi {Release...}",
        "{Address} {Vendor ID}:{Device ID} {Subvendor ID}:{Subdevice ID} {Owner} {Name...}",
        "{Adapter} {Device}",
        "{Volume} {Device?} {Rest...}",
        "{Value...}",
    };
    struct decode_opt o = {.name = "fuzz", .line = patterns[fuzz_choice(&data, &size) % (sizeof patterns / sizeof *patterns)]};

    fuzz_decode(decode_lines, &o, data, size);
    return 0;
}
