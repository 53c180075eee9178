#ifndef VF_NET_SSHCONFIG_H
#define VF_NET_SSHCONFIG_H

#include "base/arena.h"
#include "base/err.h"

/*
 * What the user's ssh would do for a host: "ssh -G", which reads ~/.ssh/config and /etc/ssh/ssh_config, Include and Match among it, so that
 * both agree. Its output is one "keyword value" a line; the values of files are not expanded yet, which is done here (ssh_config(5),
 * TOKENS): "~", and %% %d %h %i %k %n %p %r %u. What needs more (%C %L %l, ${VARIABLE}, "~somebody") is left out with a note.
 */

/* Of the user who runs this; read in cmd/. home NULL: not known, then "~" cannot be expanded. */
struct ssh_user {
    const char *home, *name;
    unsigned uid;
};

struct ssh_query {
    const char *host;        /* as the user named it, without user and port */
    const char *config_file; /* of -F; NULL: ssh's own files */
    const char *user;        /* of -l; NULL: as configured */
    unsigned port;           /* of -p; 0: as configured */
};

#define SSH_MAX_FILES 16u
#define SSH_MAX_NOTES 16u

struct ssh_files {
    const char *v[SSH_MAX_FILES];
    size_t n;
};

enum ssh_agent {
    SSH_AGENT_DEFAULT,  /* the one of SSH_AUTH_SOCK */
    SSH_AGENT_NONE,     /* none is to be used */
    SSH_AGENT_PATH,     /* the socket agent */
    SSH_AGENT_VARIABLE, /* the socket that the environment variable agent names */
};

enum ssh_family { SSH_FAMILY_ANY, SSH_FAMILY_INET, SSH_FAMILY_INET6 };

struct ssh_config {
    const char *hostname; /* to connect to */
    const char *user;
    unsigned port;
    /*
     * ssh -G does not tell files that were configured from those that ssh tries anyway, so only those that exist count: sshconfig_ask
     * leaves out an identity when neither it nor its .pub is there. sshconfig_parse gives all.
     */
    struct ssh_files identities, certificates;
    struct ssh_files user_known_hosts, global_known_hosts; /* existing or not; the first of the user's is written to */
    const char *revoked_host_keys; /* file of RevokedHostKeys; NULL when there is none */
    bool identities_only, hash_known_hosts;
    bool no_keys;               /* PubkeyAuthentication no */
    enum ssh_agent agent_kind;
    const char *agent;          /* of SSH_AGENT_PATH and _VARIABLE, else NULL */
    const char *proxy;          /* value of ProxyJump or ProxyCommand; empty when there is none */
    const char *host_key_alias; /* NULL when there is none */
    const char *bind_address;   /* NULL: any */
    enum ssh_family family;
    const char *notes[SSH_MAX_NOTES]; /* what was left out, and why */
    size_t nnotes;
};

/* Pure: text is the output of ssh -G. All of out lives in the arena. VF_EFORMAT: no host name, user or port in it; VF_ELIMIT. */
int sshconfig_parse(struct slice text, const struct ssh_query *q, const struct ssh_user *u, struct arena *a, struct ssh_config *out, struct err *e);

/*
 * Run ssh -G, without a shell, for at most timeout_ms (Match exec and names to canonicalize may take their time), and parse it. When ssh is
 * not installed: what it does without configuration, and a note; VF_EUNSUPPORTED when a configuration was named. VF_EUSAGE: host begins with '-' or is no name; VF_EFORMAT: ssh refuses
 * its configuration, in its own words; VF_EIO; VF_ELIMIT.
 */
int sshconfig_ask(const struct ssh_query *q, const struct ssh_user *u, int timeout_ms, struct arena *a, struct ssh_config *out, struct err *e);

/* Name and port to look the host's key up with (net/hostkey.h): as ssh does, HostKeyAlias without a port, else HostName with it. */
const char *sshconfig_hostkey_name(const struct ssh_config *c, unsigned *port);

#endif
