#ifndef VF_NET_LOGIN_PARTS_H
#define VF_NET_LOGIN_PARTS_H

#include "net/login.h"
#include "net/openssh.h"

/* What login.c (configuration, connection, host key, shell) and login_auth.c (keys, the password) share. */

#define LOGIN_MAX_TYPES 16u /* of one host's known keys */

struct login {
    const struct target_host *t;
    const struct login_opt *o;
    struct arena *a;
    struct ssh_config config;
    const char *user;
    uint16_t port;
    struct hostkey_store *known;
    const char *name;      /* that the host's keys stand under, and its port there */
    unsigned name_port;
    struct slice types[LOGIN_MAX_TYPES]; /* of its known keys */
    size_t ntypes;
    struct openssh_where openssh;
    uint64_t since;        /* of the present step */
    uint64_t deadline;     /* of the host; what a person needs to answer is added */
    bool offered_keys;     /* at least one was sent */
    bool refused_keys;     /* and refused */
    bool others;           /* there are keys that only the system's ssh can use */
    bool by_password;
    struct slice accepted; /* the host's key */
};

void login_tell(struct login *l, const char *what, enum login_result result, const char *remedy, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Tell a failure; the remedy goes behind the message. Returns e's code. */
int login_failed(struct login *l, const char *what, const char *remedy, struct err *e);

/* Keys, at most five. *methods: what the host takes, where it was asked. Returns an ssh_login, or a negative code when the connection failed. */
int login_by_key(struct login *l, struct ssh *s, const char **methods, struct err *e);
/* The one password. Returns likewise; VF_EUNSUPPORTED: there is none. */
int login_by_password(struct login *l, struct ssh *s, const char *methods, struct err *e);
/* The same, told. Returns 0 or a negative code. */
int login_last_resort(struct login *l, struct ssh *s, const char *methods, struct err *e);

#endif
