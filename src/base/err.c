#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, enum vf_code code, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return code;
    e->code = code;
    va_start(ap, fmt);
    (void)vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    return code;
}

int err_ctx(struct err *e, const char *fmt, ...)
{
    char old[sizeof e->msg];
    va_list ap;
    int n;

    if (!e)
        return VF_EIO;
    memcpy(old, e->msg, sizeof old);
    va_start(ap, fmt);
    n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->msg - 4)
        (void)snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %.*s", (int)(sizeof e->msg - (size_t)n - 3), old);
    return e->code;
}
