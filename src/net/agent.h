#ifndef VF_NET_AGENT_H
#define VF_NET_AGENT_H

#include "base/arena.h"
#include "base/err.h"

/*
 * An ssh agent, asked for its keys and for signatures; draft-miller-ssh-agent, PROTOCOL.agent of OpenSSH. libssh2's own client waits without
 * a limit, and an agent may wait for a person.
 */

struct agent_key {
    struct slice blob, type;
    const char *comment; /* safe text */
};

#define AGENT_MAX_KEYS 256u

/* Keys of the agent at the socket. Returns 0, or VF_EIO. */
int agent_keys(const char *path, uint64_t deadline, struct arena *a, struct agent_key *keys, size_t max, size_t *n, struct err *e);
/* The signature alone, without its type. Returns 0, VF_EDENIED when the agent refuses, VF_EIO. */
int agent_sign(const char *path, struct slice blob, struct slice data, uint64_t deadline, struct arena *a, struct slice *sig, struct err *e);

/* Fields of the SSH encoding (RFC 4251 5): a string with its length in front, a number. False at the end. */
bool ssh_string(struct slice *rest, struct slice *out);
bool ssh_number(struct slice *rest, uint32_t *out);

#endif
