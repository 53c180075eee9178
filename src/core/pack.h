#ifndef VF_CORE_PACK_H
#define VF_CORE_PACK_H

#include "base/arena.h"
#include "base/sign.h"

/*
 * A signed pack of rule files, NAME.vmkpack: lines of text, an empty line, then the bytes of the files one after another.
 *
 *     vmkfit-rules-pack 1
 *     name acme
 *     serial 20261130
 *     date 2026-11-30
 *     key SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU
 *     file controllers.xml 1234 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
 *     signature (base64)
 *
 * The signature is about every line above its own. Nothing may follow the last file, and each line stands in this order, once but for
 * "file", so that a pack has one form.
 */
#define PACK_SUFFIX    ".vmkpack"
#define PACK_MAX_FILES 200u
#define PACK_MAX_HEAD  (64u << 10)
#define PACK_MAX       (64u << 20)

struct pack_file {
    struct slice name, bytes; /* name: letters, digits, ". _ -", ends with .xml */
};

struct pack {
    struct slice name, date, key; /* key: fingerprint */
    uint64_t serial;              /* a later one replaces an earlier one */
    struct pack_file files[PACK_MAX_FILES];
    size_t nfiles;
    struct slice head; /* what is signed */
    uint8_t signature[SIGN_BYTES];
};

/* Letters, digits, ". _ -", at most 64, the first a letter or digit. */
bool pack_name_valid(struct slice name);

/*
 * Read a pack; its slices point into bytes. The sizes and digests of the files have been compared, the signature has not: pack_signed_by
 * does that. VF_EFORMAT tells what is wrong: altered, cut, something behind the end.
 */
int pack_read(struct slice bytes, const char *what, struct pack *out, struct err *e);
bool pack_signed_by(const struct pack *p, const struct sign_public *key);

/* Write a pack of p's name, serial, date and files, signed with the key. */
int pack_write(const struct pack *p, struct slice private_pem, const char *key_name, struct buf *out, struct err *e);

#endif
