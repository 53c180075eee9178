#ifndef VF_COLLECT_ANONYMISE_H
#define VF_COLLECT_ANONYMISE_H

#include "base/buf.h"
#include "core/facts.h"
#include "net/channel.h"

/*
 * Answers without what tells whose host they are of. Learn from the facts and from every answer, seal, then apply to every answer, file
 * name and command. The same original gives the same replacement everywhere, in all of its spellings; two originals never give the same.
 * A replacement has as many bytes as what it stands for and keeps its form: digits stay digits, letters stay letters in their case,
 * everything else stays, so that tables keep their columns and decoders read the same.
 *
 *   MAC addresses     the vendor's half stays; with colons, dashes or nothing between, in UUIDs, in WWNs, in device serial numbers of PCI
 *   WWN, naa., eui.   type and vendor stay; bare, with colons, behind fc. and sas., inside vml.
 *   UUIDs             in any dashes, as 32 digits, as spaced bytes, as 0x bytes, with the byte order of SMBIOS; of file systems
 *   serial numbers    as printed, padded into t10. names (blanks and dashes their way), as hexadecimal ASCII inside vml.
 *   IPv4, IPv6        octet by octet, so that what shared a network still does; loopback, masks, multicast and link-local stay, and so do
 *                     the octets that a mask of the host parts, and 0 and 255 at the end
 *   names             each run of letters and digits by itself: the host's name is the same one inside a datastore's. Labels such as com and
 *                     local stay, and so do the names that installers give (datastore1, vSwitch0, VM Network, localhost)
 *
 * Names that are words of the product too (a machine called "list", a host called "esx", anything of one or two characters) cannot be
 * replaced everywhere without breaking the answers. They are replaced where they stand as a name only: behind "Display Name:" and its like, in
 * paths of machines and datastores, in world names. Words are the product's when a column without identity has them, when they are a heading
 * or a key of an answer, or in the patterns for logs.
 *
 * Where two overlap, the one that begins first is replaced as everywhere, and of the other what it leaves. What stands inside of a longer one is
 * replaced as a part of that, and stays where that keeps it: a MAC address that is the first half of a WWN loses its last digits only.
 *
 * Replacements come from the key by SipHash-2-4: without it they cannot be found by trying.
 */
struct anonymiser;

/* Everything lives in the arena. NULL at its limit. */
struct anonymiser *anonymiser_new(const uint8_t key[16], struct arena *a);

/*
 * First what the facts know, and what each answer says by itself: where two contradict each other the facts know nothing. Later steps find names inside domains that
 * are known by then. f may be freed afterwards. Returns 0 or VF_ELIMIT.
 */
int anonymiser_facts(struct anonymiser *x, const struct facts *f);

/*
 * Names that no fact holds. The host's short name and domain in an answer to "system hostname get", which facts keep in the full name alone and
 * which need not be parts of it; nothing of other answers. And a name or address of the host by itself: the one by which it was reached.
 */
int anonymiser_hostname(struct anonymiser *x, const struct ask *q, struct slice body);
int anonymiser_host(struct anonymiser *x, struct slice name);

/* Then every answer; body is copied where needed. q may be NULL: a file that answers nothing we ask. Compressed logs are the caller's to unpack. */
int anonymiser_learn(struct anonymiser *x, const struct ask *q, struct slice body);

/* No learning after it. Returns 0, or VF_ELIMIT: more than ANONYMISER_MAX identities, or the arena is full. */
int anonymiser_seal(struct anonymiser *x, struct err *e);

/*
 * Body, file name or command, appended to *out: exactly in.n bytes more. Only after anonymiser_seal. Time is linear in in.n times the length
 * of the identities that begin alike. Returns 0, or VF_ELIMIT when *out is full.
 */
int anonymiser_apply(const struct anonymiser *x, struct slice in, struct buf *out, struct err *e);

#define ANONYMISER_MAX 200000u /* identities; a large cluster's log names some thousand */

/* One original in one of its spellings, in lower case. */
struct anonymised {
    struct slice text, replacement;
    bool whole;    /* replaced where no letter or digit, of an address no further octet, stands on either side */
    bool in_place; /* a word of the product too: replaced where it stands as a name only */
};

/* All of them, after anonymiser_seal. fn returns non-zero to stop, which is returned. */
int anonymiser_each(const struct anonymiser *x, int (*fn)(void *ctx, const struct anonymised *one), void *ctx);

#endif
