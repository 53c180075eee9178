#ifndef VF_DECODE_VMKLOG_H
#define VF_DECODE_VMKLOG_H

#include "decode/decode.h"

/* What a line reports, and how to find out about whom. */

enum log_subject {
    LOG_HOST,      /* nobody in particular */
    LOG_DEVICE,    /* text after mark up to stop: a device id; an identifier of another form is a volume */
    LOG_PARTITION, /* as LOG_DEVICE, with ":N" behind it */
    LOG_VOLUME,    /* text after mark up to stop: a datastore's name */
    LOG_UUID_NAME, /* after mark a volume's UUID, a blank, its name to the end of the line */
    LOG_ADAPTER,   /* the first word vmhbaN; without one the driver */
    LOG_NIC,       /* the first word vmnicN or vusbN; a line without one is not this event */
    LOG_NIC_DRIVER, /* the first word vmnicN or vusbN; without one the driver */
    LOG_INSTANCE,  /* the component with its instance: vmw_ahci[0000001f], lpfc820 0000:02:00.2 */
    LOG_NAMED,     /* text after mark up to stop, which is none of the things above */
    LOG_WORLD,     /* the same, without the number before its colon */
    LOG_FRAME,     /* a frame of a backtrace: its function; the driver is its module */
};

enum log_numbers {
    LOG_NO_NUMBERS,
    LOG_LATENCY,  /* "average value of A microseconds to B microseconds", or "A(us) to B(us)" */
    LOG_SCSI,     /* operation code, path, H: D: P:, sense data */
    LOG_SCSI_PAIR, /* the same on two lines: the command, then its status */
    LOG_REPEATED, /* "repeated N times" */
};

struct log_pattern {
    const char *kind;
    const char *find;   /* rare text, found in any case by one pass over the whole log */
    const char *need;   /* must stand on the line as well, or NULL */
    const char *unless; /* must not stand on the line, or NULL */
    const char *mark, *stop; /* stop "" is the end of the line */
    enum log_subject subject;
    enum log_numbers numbers;
};

/* Ended by a NULL kind. Of several with one find text the first that fits wins; there may be 64 different texts. */
extern const struct log_pattern log_patterns[];

struct log_event {
    const struct log_pattern *pattern;
    struct slice subject, device, adapter, nic, driver, volume;
    struct slice host_status, device_status, sense, command; /* sense: "0x5 0x24 0x0" as printed */
    uint64_t count, worst, baseline;
    bool latency;
};

/* Read the message of one line (the text after the head) by one pattern. False when it is not that event. */
bool log_match(const struct log_pattern *p, struct slice message, struct log_event *e);

/* The time as printed and the message. False when the line has no head of a VMkernel log or of vobd.log. */
bool log_head(struct slice line, struct slice *time, struct slice *message);
/*
 * Does a line of a log begin here: with a time of either form, with the time since boot (0:00:00:05.127), or, before there is one, with
 * "TSC: 371456" or "VMB: 49"? Lines of other programs have no more than that.
 */
bool log_begins(struct slice line);
/* 1 to 12 for a time of 4.x, "Aug 16 20:09:17"; 0 for another form. */
unsigned log_month(struct slice time);

#endif
