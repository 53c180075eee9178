#ifndef VF_NET_OPENSSH_H
#define VF_NET_OPENSSH_H

#include "base/arena.h"
#include "net/link.h"

/*
 * The system's ssh as a link: jump hosts, agents, certificates, RSA keys with SHA-2, whatever ~/.ssh/config says. Keys only, and never a
 * question (BatchMode); strict host keys; nothing forwarded, no command of the configuration run beside a proxy. Options: ssh_config(5).
 */
struct openssh_where {
    const char *host;        /* as the user wrote it: the configuration knows it by that name */
    const char *user;        /* NULL: as configured */
    uint16_t port;           /* 0: as configured */
    const char *config;      /* -F, or NULL */
    const char *known_hosts; /* instead of the configured files, or NULL */
    const char *hostname;    /* the real one, and its port, for the host's key: ssh-keyscan reads no configuration */
    uint16_t hostname_port;
    const char *proxy;       /* what the configuration has the host reached through; NULL or empty: nothing */
    uint32_t connect_ms;
};

/*
 * Nothing runs before the link is started; then pump says LINK_BROKEN with VF_ELOGIN, VF_EIDENTITY or VF_EHOST when ssh gives up, with its
 * own words, and when nothing has come of sh at the deadline: whether a login was made nobody knows then. The strings of where live as long
 * as the link.
 */
struct link *openssh_link(const struct openssh_where *where);

/*
 * The key that the host shows, as a line of known_hosts in the arena: for hosts behind a proxy, or whose algorithms libssh2 lacks. Without a
 * proxy by ssh-keyscan, which exchanges keys and goes: ECDSA before Ed25519 before RSA. With one by ssh, which is ended when it has the key; it
 * runs nothing there, but the user's name may have been sent by then. Returns 0, VF_EHOST, VF_EUNSUPPORTED (not installed), VF_EIO.
 */
int openssh_hostkey(const struct openssh_where *where, uint64_t deadline, struct arena *a, struct slice *line, struct err *e);

#endif
