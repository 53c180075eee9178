#ifndef VF_NET_TAP_H
#define VF_NET_TAP_H

#include "net/channel.h"

/*
 * A channel in front of another one that keeps what was asked and answered, each answer once, so that it can be saved as a recording: of a
 * live host, of a bundle, of loose files.
 */
struct tapped {
    struct ask ask;
    struct slice command; /* "esxcli storage core adapter list", "vmware -vl", the path of one file */
    struct reply reply;   /* as it was given: a packed log is unpacked */
    const char *file;     /* name for it, relative, of its own: letters, digits and "._-/" */
};

/* Takes inner over; closing the tap closes it. */
struct channel *tap_new(struct channel *inner);
/* In the order they came; they live as long as the tap. */
const struct tapped *tap_answers(const struct channel *tap, size_t *n);
/*
 * The name of an answer's file when its command is another one, with other names in it: made of all of that command, where one that is made of
 * the name would have to know how names look in file names, and be cut where they are cut. Its own among all that were given out. NULL at
 * the limit.
 */
const char *tap_file(struct channel *tap, const struct tapped *one, struct slice command);

#endif
