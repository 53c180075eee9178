#ifndef VF_CORE_VERSION_H
#define VF_CORE_VERSION_H

#include "base/arena.h"
#include "base/err.h"

/*
 * Versions of the field and their order. No rule compares versions as text.
 *
 * SCHEME_DOTTED    6.5.0: numbers at dots
 * SCHEME_VIB       VERSION-RELEASE, parted at the first hyphen: version first, then release; fields at dots; a field that
 *                  mixes digits and letters is cut into runs, digits as numbers, letters as text (32vmw < 39vmw, 88OEM <
 *                  100OEM, 7a < 72). With one side lacking a release (module and NIC drivers print the bare version) only the
 *                  versions are compared. "vmw" against "OEM" at an equal number is a different origin: not ordered. Nor
 *                  are two of which one begins with the release it is made for (lpfc 900.14.4.390.20-36vmw.901 and 14.4.0.39-35vmw.803)
 * SCHEME_FIRMWARE  20.00.00.00, 4ICSHPK4, 25.5.9.0001: fields at dots, hyphens, blanks and colons, cut into runs as above
 * SCHEME_ESXI      6.5, 6.5u1, 7.0u3c, 9.0.1: see struct release
 *
 * Steps confirmed by the image tool's messages: left to right, numbers as numbers, version before release; the treatment of
 * letter runs is inferred from examples (net-cnic 1.7a.05 below 1.72.52).
 */
enum version_scheme { SCHEME_DOTTED, SCHEME_VIB, SCHEME_FIRMWARE, SCHEME_ESXI };

/* Orders a and b into *order (<0, 0, >0). Returns 0, or -1 when they cannot be ordered (no digit, different origin). */
int version_order(struct slice a, struct slice b, enum version_scheme scheme, int *order);

/*
 * The part of a VIB or module version before the release: "1.0.0" of "1.0.0-32vmw.650...", and vmklinux's decoration taken off
 * ("Version 3.0-22vmw, Build: 4564106, Interface: 9.2 Built on: Nov 12 2016" gives "3.0-22vmw").
 */
struct slice version_bare(struct slice v);
struct slice version_undecorated(struct slice v);

/* A release as rules write it; update -1 and build 0 mean not known (of a host) or not said (of a rule). */
struct release {
    int major, minor, update;
    char letter;
    uint64_t build;
};

/* "6.5", "6.5u1", "7.0u3c", "9.0.1" (the third number counts as update). Returns 0 or VF_EFORMAT. */
int release_parse(struct slice s, struct release *out, struct err *e);

/* The table of builds: releases.xml. Builds rise with time across lines, so they order within major.minor only. */
struct build {
    uint64_t number;
    struct release name; /* update -1 for patches that have no release name of their own */
    struct slice title, date;
};

struct builds {
    const struct build *v;
    size_t n;
};

int builds_load(struct slice xml, const char *name, struct arena *a, struct builds *out, struct err *e);
const struct build *builds_find(const struct builds *b, uint64_t number);
/* First build of the release's line that the table has; 0 when it has none. */
uint64_t builds_first(const struct builds *b, const struct release *line);
/* Complete what a host says of itself: its update from the build, when the host did not print it. A build beyond the table tells none. */
void release_complete(const struct builds *b, struct release *host);

/*
 * Compare a host with a release of a rule into *order. Within one line: by update; by build within one update, or when the host's
 * update is not known. Returns 0, or -1 when what is known does not decide.
 */
int release_order(const struct builds *b, const struct release *host, const struct release *named, int *order);

/* Order of two releases of rules: "6.5" is the first of its line, before "6.5u1". */
int release_named_order(const struct release *a, const struct release *b);

/* Does the named release cover the host: "8.0u3" covers 8.0 U3b, "7.0" the whole line. 1, 0, or -1 unknown. */
int release_covers(const struct builds *b, const struct release *host, const struct release *named);

#endif
