#ifndef VF_BASE_ERR_H
#define VF_BASE_ERR_H

/*
 * Results of functions that can fail: 0, or one of these, negative. The message travels in a struct err
 * that the caller owns; it names the thing, what is wrong with it and, where there is one, what to do.
 */
enum vf_code {
    VF_EUSAGE = -1,       /* the caller's words are wrong: option, target, id */
    VF_EIO = -2,          /* a file or folder could not be read or written */
    VF_EFORMAT = -3,      /* bytes that are not what they should be */
    VF_ELIMIT = -4,       /* larger than the named maximum */
    VF_ENOTFOUND = -5,    /* no such file, table, rule, row */
    VF_EUNSUPPORTED = -6, /* known, but not possible here */
    VF_EDENIED = -7,      /* refused: permission, read-only grammar, safety gate */
    VF_EHOST = -8,        /* a host cannot be reached, or does not do its part in time */
    VF_EIDENTITY = -9,    /* its key is unknown, or not the one that is known */
    VF_ELOGIN = -10,      /* it refuses the login */
};

struct err {
    int code;
    char msg[1024];
};

/* Set code and message; returns code, so that "return err_set(...)" ends a function. e may be NULL. */
int err_set(struct err *e, enum vf_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put context in front of the message ("rule file x.xml: ..."); returns the code already set. */
int err_ctx(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
