#ifndef VF_COLLECT_PROBE_H
#define VF_COLLECT_PROBE_H

#include "core/schema.h"
#include "decode/decode.h"
#include "net/channel.h"

/*
 * Probes: what is asked of a host, which decoder reads the answer, which key goes to which column. They are data (probes/ *.xml; the
 * format is described in docs/writing-probes.md) and cannot act: every command must pass the read-only grammar (net/channel.h),
 * when it is loaded and again when it is sent.
 */

/* Named extractions from a text, the only computing a probe may ask for. */
enum take {
    TAKE_TEXT,
    TAKE_PCI,             /* any spelling of a PCI address to 0000:00:1f.2 */
    TAKE_PCI_IN_BRACKETS, /* the same inside the first (...) */
    TAKE_AFTER_BRACKETS,  /* text after a leading (...) */
    TAKE_NUMBER,          /* leading number, unit dropped: "312 K", "25000Mbps" */
    TAKE_BUILD,           /* digits after the last dash: Releasebuild-24784741 */
    TAKE_UUID,            /* 32 hex digits from "0x4 0x11 ...", "56 4d ...-..." or a dashed UUID */
    TAKE_BASENAME,
    TAKE_ADAPTER,         /* vmhba0 of vmhba0:C0:T0:L0 */
    TAKE_BEFORE_COLON,    /* text before the last colon */
    TAKE_AFTER_COLON,
    TAKE_CLASS,           /* 0106 of 0x0106 or 010601 */
    TAKE_LOWER,
    TAKE_SPLIT,           /* list joined by ", " */
    TAKE_WORDS,           /* list parted by blanks */
    TAKE_SECONDS,         /* microseconds to seconds */
    TAKE_MIB,             /* "15384 MB", "19074048 MiB" to MiB */
};

struct bind {
    unsigned column;
    struct slice keys;     /* alternatives parted by '|'; "{}" the value of each, "#id" the record's id */
    struct slice otherwise; /* keys that count only where one of keys was printed and says that there is none */
    struct slice constant; /* instead of keys */
    enum take take;
};

struct way {
    struct ask ask; /* text may hold "{}" when each is set */
    const struct decoder *decoder;
    struct decode_opt opt;
    struct slice record; /* only records whose id begins with this: one structure of smbiosDump; empty for all */
    struct slice where;  /* "table.column=value": of each's rows only these; empty for all */
    struct slice each; /* "adapter.driver nic.driver" or "=a b c"; empty: asked once */
    struct release from, before; /* major 0: no bound */
    bool xml_seen, text_seen; /* that form was seen from a real host; else it is inferred */
    bool never;               /* decoded when given, never asked: the result of a change */
};

enum lists { LISTS_NO, LISTS_MORE, LISTS_PART, LISTS_YES };

#define PROBE_MAX_WAYS  12u
#define PROBE_MAX_BINDS 64u

struct probe {
    struct slice id, why;
    const char *file;
    uint32_t line;
    unsigned table;
    enum lists lists;
    bool missing_absent; /* a key that a record lacks is absent: the decoder names what it found (logs). Else it is unknown: not printed */
    const struct way *ways;
    const struct bind *binds;
    unsigned nways, nbinds;
};

struct probes {
    const struct probe **v;
    size_t n, cap;
};

/* Add the probes of one file. e names file, line, and the nearest known word. */
int probes_load(struct probes *p, struct slice xml, const char *name, const struct schema *s, struct arena *a, struct err *e);
const struct probe *probes_find(const struct probes *p, struct slice id);

/* Names of the extractions, for messages and documents. NULL past the end. */
const char *take_name(unsigned i);
const char *take_doc(unsigned i);

#endif
