#ifndef VF_NET_RECORDING_H
#define VF_NET_RECORDING_H

#include "base/json.h"
#include "net/channel.h"

/*
 * Writes a recording (offline.h tells the format): one file for each answer, and recording.json. From the beginning there is one that says that
 * the recording was not finished; the end replaces it. The folder is new or empty, only its owner may read it, and nothing else in it is
 * ever overwritten.
 */
struct recording;

/*
 * Whether recording_new would take the folder, as far as can be seen without making it: for asking before a host is asked for minutes. Returns 0,
 * VF_EUSAGE (there is something in it, it is no folder, or the folder that it would lie in is missing), VF_EIO.
 */
int recording_check(const char *folder, struct err *e);
/* Returns 0, VF_EUSAGE (there is something in the folder), VF_EIO. */
int recording_new(const char *folder, struct recording **out, struct err *e);
/*
 * One answer: command as in recording.json, file relative to the folder. A reply without a body has no file, its note is kept: "timeout: ..."
 * gives the status timeout; timeout, lost, denied and failed are known words, anything else is "failed".
 */
int recording_add(struct recording *r, struct slice command, struct slice file, const struct reply *reply, struct slice body, struct err *e);
/*
 * taken: ISO 8601. trouble: what was wrong with the host or the channel as a whole, or NULL. Writes recording.json, and everything is on disk on
 * return.
 */
int recording_end(struct recording *r, const char *taken, const char *trouble, struct err *e);
/* Frees; without recording_end the folder stays as it is, not finished. Accepts NULL. */
void recording_free(struct recording **r);

#endif
