#ifndef VF_DECODE_VIB_H
#define VF_DECODE_VIB_H

#include "base/arena.h"
#include "base/err.h"

/*
 * A VIB: an ar archive of descriptor.xml, sig.pkcs7 and payloads. A payload is mostly a "vgz": gzip around a vmtar. Nothing here unpacks or
 * checks the signature; all slices point into the bytes given, or into the arena.
 */

/* Members of an ar archive (the common format, as Debian's deb(5) describes it). *at 0 at the start. */
struct ar_member {
    struct slice name, body;
    bool cut; /* the archive ends before the member does */
};
bool ar_is(struct slice in);
/* 1, 0 at the end, or VF_EFORMAT: no archive, or a damaged header. */
int ar_next(struct slice in, size_t *at, struct ar_member *out, struct err *e);

/*
 * Files of a tar or vmtar. A vmtar's headers are those of ustar with the magic "visor "; behind a prefix of 151 bytes at 345 they have four
 * little-endian numbers: offset of the file's data (496), offset and size of the text (500, 504), pages to fix up (508). The headers follow
 * each other; the data lie at their offsets, counted from the start of the archive (github.com/JonathonReinhart/vmware-utils, vtar/vtar.py).
 */
struct tar_file {
    struct slice name; /* without "./" or "/" before it; in the arena */
    struct slice body;
    bool cut;
};
struct tar_walk {
    size_t at;
    bool visor; /* a header of a vmtar was met */
    bool whole; /* at the end: the end was where it ought to be */
};
/* 1 with the next regular file, or 0 at the end or at damage. */
int tar_next(struct slice in, struct tar_walk *w, struct arena *a, struct tar_file *out);

struct vib_relation {
    struct slice name, relation, version; /* relation and version empty when the descriptor has none */
};

struct vib_payload {
    struct slice name, type;
};

enum vib_flag { VIB_NOT_SAID, VIB_NO, VIB_YES };

#define VIB_MAX_RELATIONS 512u
#define VIB_MAX_FILES     20000u

struct vib_descriptor {
    struct slice name, version, vendor, summary;
    const char *level; /* as esxcli prints it, VMwareCertified and so on; NULL when it is none of the four */
    struct vib_relation *depends, *conflicts, *replaces;
    size_t ndepends, nconflicts, nreplaces;
    struct vib_payload *payloads;
    size_t npayloads;
    struct slice *files; /* of its file list, without "/" before them */
    size_t nfiles;
    enum vib_flag maintenance, live_install, live_remove;
};

/* Strings are copied into the arena. VF_EFORMAT when it is no descriptor or has no name or version; VF_ELIMIT. */
int vib_descriptor(struct slice xml, const char *name, struct arena *a, struct vib_descriptor *out, struct err *e);

#endif
