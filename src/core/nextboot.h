#ifndef VF_CORE_NEXTBOOT_H
#define VF_CORE_NEXTBOOT_H

#include "core/facts.h"

/* What can be told about the next boot from the modules, VIBs and boot.cfg of now. */

/*
 * Why an enabled module would not load for a device: boot.cfg does not name its VIB's file, or it is a vmklinux driver and a shim under it is
 * missing or disabled. NULL when all it needs is there. *lost: it is sure that it cannot load; else it is not known. The text is in the
 * facts' arena.
 */
const char *nextboot_lacks(const struct facts *f, const struct row *module, bool *lost);

/*
 * RAID in firmware: under another driver the member disks of an array show one by one, and writing to one destroys it
 * (communities.vmware.com message 221992 on the B120i; ids of the 6.7.0 map files). Known yes or no, or unknown with the reason. driver and
 * candidates are those of the function.
 */
struct value nextboot_raid(const struct facts *f, const struct row *pci, const struct value *driver);

#endif
