#ifndef VF_COLLECT_VIBFILE_H
#define VF_COLLECT_VIBFILE_H

#include "core/claim.h"
#include "decode/vib.h"

/*
 * VIBs out of files: one .vib, or those of an offline bundle (.zip with vib20/NAME/ *.vib; also a vendor's .zip that holds such a bundle). Payloads
 * are unpacked in memory, to at most VIBFILE_MAX bytes each.
 */
#define VIBFILE_MAX (256u << 20)

struct vib {
    struct vib_descriptor descriptor;
    struct claim_package package; /* for core/claim.h */
    const char *from; /* file, and member of a bundle */
};

struct vibs {
    struct vib *v;
    size_t n, cap;
};

/* Appends. Of two VIBs of one name in a bundle the newer is kept. Errors name the file; a whole image of ESXi is VF_EUNSUPPORTED. */
int vibfile_read(const char *path, struct arena *a, struct vibs *out, struct err *e);

#endif
