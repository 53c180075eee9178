#ifndef VF_NET_REDFISH_H
#define VF_NET_REDFISH_H

#include "net/channel.h"
#include "net/http.h"

/*
 * A host's BMC, asked by Redfish (DMTF DSP0266), as a channel in front of the host's own: it answers ASK_REDFISH and passes every other ask
 * on. It walks from /redfish/v1 along the links to what has firmware: systems, storage, controllers, drives, network adapters with their
 * ports and functions, PCIe devices and functions, HPE's SmartStorage, the firmware inventory. Every resource is an answer of its own.
 *
 * Only GET (http.h). Only paths that begin with /redfish/, and only such that the BMC itself names. The service root is asked without the
 * password; after that one try with it, which the ledger of attempts.h counts, and whose refusal ends it.
 */
#define REDFISH_CONNECT_MS  10000u
#define REDFISH_TOTAL_MS    120000u
#define REDFISH_MAX_ASKS    1500u      /* a server with 24 drives and 6 cards has about 200 */
#define REDFISH_MAX_ANSWER  (4u << 20) /* the largest seen is 120 KB */
#define REDFISH_MAX_ALL     (64u << 20)

struct redfish_opt {
    struct http_opt http;  /* pin is looked up, not given */
    const char *label;     /* as the user wrote the host */
    const char *known;     /* file of known keys (pins.h) */
    const char *user;
    const char *ledger;
    const char *when;      /* date and time of the reading, for the sources */
    uint32_t total_ms;
    /* As in login.h: borrowed; called once, when the BMC is reached and known. */
    int (*password)(void *ctx, const char *user, const char *host, const struct secret **out, struct err *e);
    void *ctx;
};

/* "bmc01:443", as it stands in the file of known keys and in the ledger. */
const char *redfish_site(const struct http_opt *o, struct arena *a);

/*
 * Takes inner over. Nothing is connected before the first ask, and nothing that is wrong with the BMC is an error: its ask is answered with
 * the failure, and redfish_trouble says it in a sentence. o and its texts stay. NULL without memory, and inner is the caller's still.
 */
struct channel *redfish_new(struct channel *inner, const struct redfish_opt *o);
/* Why not all of it was read: NULL when all was, and for a channel of another kind. */
const char *redfish_trouble(const struct channel *c);
/* The channel of the host itself; another kind of channel is that. */
struct channel *redfish_inner(struct channel *c);

#endif
