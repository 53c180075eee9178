#ifndef VF_CORE_SITEFACTS_H
#define VF_CORE_SITEFACTS_H

#include "core/facts.h"

/*
 * What a site states of its hosts because no command of theirs tells it: firmware versions, from a table (docs/firmware.md). A statement fills
 * what was not read; what was read stands, and where the two differ the cell is unknown.
 */
enum statement_by { BY_PCI, BY_PCI_ID, BY_SERIAL, BY_NAME };

struct statement {
    const char *file;
    uint32_t line;
    struct slice host; /* serial number or name of the host, '*' for any text; its name without the domain will do */
    enum statement_by by;
    struct slice device; /* address in normal form, id, serial number or name */
    struct slice firmware, date, note; /* date: the day it was read, YYYY-MM-DD */
    int64_t days;                      /* from that day to today */
    bool host_seen, used;              /* by sitefacts_apply: some host is meant; some device of it */
};

struct sitefacts {
    struct statement *v;
    size_t n, cap;
    size_t nameless; /* hosts that were read and told neither name nor serial number */
};

#define STATEMENT_OLD_DAYS 365 /* firmware is updated once a year or more */

/*
 * Add the rows of one file. today is YYYY-MM-DD. Columns in any order, named in the first line: host, firmware, date, and one or more of pci,
 * pci-id, serial, name, of which a row fills exactly one; note is optional.
 * VF_EFORMAT names file, line, column and what to write instead; two rows that state different firmware of the same device in the same words too.
 */
int sitefacts_load(struct sitefacts *s, struct slice csv, const char *name, struct slice today, struct arena *a, struct err *e);

/* What one statement did to one cell of a host. */
struct stated {
    const struct statement *by;
    const struct row *row;
    unsigned column;
    enum { STATED_FILLED, STATED_AGREES, STATED_DIFFERS, STATED_REFUSED } fate; /* refused: another statement contradicts it, or the cell is in dispute */
};

/*
 * Apply to one host, after derive_all: adapter.firmware, nic.firmware-version, nvme.firmware, device.revision. A statement by pci-id counts for all
 * devices of that id, but where a further statement names one of them and differs it counts for none. The results are in the host's arena.
 */
void sitefacts_apply(struct sitefacts *s, struct facts *f, const struct stated **out, size_t *n);

/* Is it older than STATEMENT_OLD_DAYS. */
bool statement_old(const struct statement *s);

#endif
