#ifndef VF_CORE_DRAFT_H
#define VF_CORE_DRAFT_H

#include "base/buf.h"
#include "core/facts.h"

/*
 * A draft of a rule about a device: what a host says of it, as conditions and examples; title, reason and fix are left to the author, and
 * lint names them until they are written.
 */
#define DRAFT_OPEN "TO BE WRITTEN" /* begins a text that the author still has to write */
#define DRAFT_DRIVER "the_driver"  /* a module's name that nobody was asked for */
#define DRAFT_SOURCE "https://example.com/to-be-written"

/*
 * The row that a name, PCI address or alias means: an adapter, NIC, disk, graphics card, or a PCI function that nothing else is about.
 * VF_ENOTFOUND: there is none, the nearest name is told, or the table that was not read.
 */
int draft_find(const struct facts *f, struct slice name, const struct row **out, struct err *e);
/* The same by PCI id, 8086:9d03 or 1000:005d:1028:1f49: the adapter or NIC on it, else the function. */
int draft_find_id(const struct facts *f, struct slice id, const struct row **out, struct err *e);

/*
 * A rule file about the row into out. today: YYYY-MM-DD. VF_ENOTFOUND when what a rule would rest on is not known: the PCI id of an adapter or
 * NIC that is on no PCI bus, its driver.
 */
int draft_row(const struct facts *f, const struct row *r, struct slice today, struct buf *out, struct err *e);
/* About a PCI id alone, which no host was asked about. what is its name, or empty. VF_EFORMAT: no PCI id. */
int draft_id(struct slice id, struct slice what, struct slice today, struct buf *out, struct err *e);

#endif
