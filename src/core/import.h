#ifndef VF_CORE_IMPORT_H
#define VF_CORE_IMPORT_H

#include "base/buf.h"
#include "core/facts.h"

/*
 * A vendor's list of validated driver and firmware pairs becomes rules with <good> entries, for the devices that some host has. The list is
 * imported, not copied: what is written is the site's own file, dated as the list is.
 */
struct pair {
    struct slice id;      /* vendor:device:subvendor:subdevice or vendor:device, lower case */
    struct slice release; /* as rules write it, 8.0u3; empty: any */
    struct slice driver, version; /* version as listed, perhaps cut behind the release part (7.728.02.00-1vmw.803); empty: any */
    struct slice firmware;        /* empty: any */
    struct slice note, link;
};

struct pairs {
    struct pair *v;
    size_t n, cap;
    struct slice name;       /* of the list, for titles: "vSAN compatibility list" */
    struct slice date;       /* YYYY-MM-DD; empty when the list does not tell */
    struct slice link;       /* where it comes from; needed where a pair has none of its own */
    struct slice id_prefix;  /* of the rules' ids */
    bool vsan;               /* speaks of hosts with vSAN only */
    struct slice releases[200]; /* that the list speaks of at all; none: of every one */
    unsigned nreleases;
    size_t without_id; /* entries that name a device by its model alone, and are left out */
    size_t unusable;   /* entries without a driver, or with texts that cannot stand in a rule; left out too */
};

/*
 * vSAN's hardware list, all.json (https://vvs.broadcom.com/service/vsan/all.json): controllers, NICs, and disks that are PCI functions.
 * Shape, as public programs read and make it (github.com/lamw/vmware-scripts, create_custom_vsan_esa_hcl_json.ps1): timestamp in seconds,
 * supportedReleases, data.{controller,nic,ssd,hdd}[] with vid did svid ssid vcglink releases{"ESXi 8.0 U2"{driver{version{firmwares[]{firmware}}}}}.
 *
 * Returns 0, VF_EFORMAT (what is not as it should be), VF_ELIMIT.
 */
int import_vsan_hcl(struct slice json, const char *name, struct arena *a, struct pairs *out, struct err *e);

/*
 * A table of pairs: columns driver, driver-version, firmware, release; the device as pci (8086:1572 or 1000:005d:1028:1f49) or as
 * vid, did, svid, ssid; optionally note, link, date. Errors name file, line and column.
 */
int import_csv(struct slice text, const char *name, struct arena *a, struct pairs *out, struct err *e);

/* A device that a host has: table is adapter or nic. */
struct seen_device {
    struct slice id, driver, what; /* what: its name for people */
    unsigned table;
};

struct seen_devices {
    struct seen_device *v;
    size_t n, cap;
};

/* Add the adapters and NICs of a host that are PCI functions with a known id; each kind of device once. Returns 0 or VF_ELIMIT. */
int import_see(struct seen_devices *seen, const struct facts *f, struct arena *a, struct err *e);

/*
 * Rules for the devices seen that the list names, as a rule file into out; *nrules counts them, *npairs their <good> entries. VF_ELIMIT: more
 * pairs of one device than a rule may hold.
 */
int import_write(const struct pairs *p, const struct seen_devices *seen, const struct schema *s, struct arena *a, struct buf *out, size_t *nrules,
                 size_t *npairs, struct err *e);

#endif
