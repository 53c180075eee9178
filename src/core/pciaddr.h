#ifndef VF_CORE_PCIADDR_H
#define VF_CORE_PCIADDR_H

#include "base/arena.h"
#include "base/err.h"

/*
 * PCI addresses of the field, in normal form 0000:00:1f.2 (hexadecimal). Spellings that hosts print:
 *
 *   0000:02:00.0    6.0 and later; hexadecimal
 *   0000:02:01:0    nic get, Bus Info: a colon before the function; hexadecimal
 *   0000:01:00.00   esxcfg-nics of 5.5; hexadecimal, function padded
 *   0000:0c1:00.0   nic list of 5.x; hexadecimal, bus padded (a Supermicro host with buses 0c1 and 0c4)
 *   000:002:00.0    4.1: decimal
 *   0:132:0.0       adapter descriptions of 5.x: numbers without leading zeros are decimal, bus 132 is 84
 *   PCI 0:0:1:1     Parent Device: decimal
 *   02:00.0         log lines: no segment; hexadecimal
 *
 * Returns 0 with the text in the arena, or -1 when it is none of them, or out of range (bus 255, device 31, function 7).
 */
int pciaddr_parse(struct slice s, struct arena *a, struct slice *out);

/* Is it a PCI id, vendor:device or vendor:device:subvendor:subdevice, four hexadecimal digits each. 0, or VF_EFORMAT. */
int pci_id_check(struct slice id, struct err *e);

#endif
