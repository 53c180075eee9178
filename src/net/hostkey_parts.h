#ifndef VF_NET_HOSTKEY_PARTS_H
#define VF_NET_HOSTKEY_PARTS_H

/* What reading and writing known_hosts share. */
#include "base/buf.h"
#include "base/err.h"

enum hostkey_marker { MARKER_NONE, MARKER_REVOKED, MARKER_CA };

struct hostkey_line {
    enum hostkey_marker marker;
    struct slice names; /* as they stand, in the line */
    struct slice type;  /* in the line */
    struct slice blob;  /* in the buffer */
};

enum hostkey_line_kind { LINE_EMPTY, LINE_KEY, LINE_BAD };

/* One line without its end. blob is emptied first and takes the key. *why is set for LINE_BAD. */
enum hostkey_line_kind hostkey_line_parse(struct slice line, struct hostkey_line *out, struct buf *blob, const char **why);

/* host as known_hosts has it: lower case, [host]:port for a port other than 22 and 0. VF_EUSAGE when no line could hold it. */
#define HOSTKEY_MAX_NAME 320u
int hostkey_name(const char *host, unsigned port, struct buf *out, struct err *e);

/* Is a line with these names about a host: hashed, or by patterns, none of them negated. */
bool hostkey_names_match(struct slice names, struct slice name);
/* Is name one of the list, or the name that is hashed: literally, not by a pattern. */
bool hostkey_names_have(struct slice names, struct slice name);

#endif
