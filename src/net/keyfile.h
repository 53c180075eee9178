#ifndef VF_NET_KEYFILE_H
#define VF_NET_KEYFILE_H

#include "base/arena.h"
#include "base/err.h"

/* A private key file, read for one login: OpenSSH's own form, or PEM (ssh-keygen -m PEM). */
struct keyfile {
    char *bytes;         /* wiped by keyfile_done; libssh2 wants it NUL-terminated */
    size_t n;
    struct slice type;   /* "ecdsa-sha2-nistp256"; of PEM "ssh-rsa", "ecdsa"; empty when the form does not tell */
    struct slice blob;   /* public key, from the file or from its .pub; empty when there is neither */
    bool encrypted;      /* wants a passphrase */
};

#define KEYFILE_MAX (64u << 10) /* bytes; an RSA key of 16,384 bits has 13 KB */

/*
 * type and blob in the arena. Where only the public half is there (path.pub, or path itself holds one), for a key that the agent has, there
 * are no bytes. Returns 0, VF_ENOTFOUND, VF_EDENIED (others may read it: ssh refuses such a key too), VF_EFORMAT (no private
 * key), VF_EIO, VF_ELIMIT.
 */
int keyfile_read(const char *path, struct arena *a, struct keyfile *out, struct err *e);
void keyfile_done(struct keyfile *k);

#endif
