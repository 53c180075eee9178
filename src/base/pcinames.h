#ifndef VF_BASE_PCINAMES_H
#define VF_BASE_PCINAMES_H

#include "base/arena.h"

/*
 * Names of PCI ids from the system's pci.ids, nothing else: no hardware is looked at, no DNS, no hwdb, no
 * cache file. The list is read at the first question. Without a list every name is empty.
 */
struct pcinames;

struct pcinames *pcinames_new(void);
void pcinames_close(struct pcinames **n);

/*
 * "Intel Corporation Ethernet Controller X710 for 10GbE SFP+" in the arena; empty when the device is not in
 * the list.
 */
struct slice pcinames_find(struct pcinames *n, uint16_t vendor, uint16_t device, struct arena *a);

const char *pcinames_library(void);

#endif
