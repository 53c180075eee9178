#include "base/sh.h"

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_-./:=,@%+", c));
}

int sh_quote(struct buf *b, struct slice arg)
{
    bool safe = arg.n > 0;

    for (size_t i = 0; i < arg.n; i++) {
        if (arg.p[i] == '\0' || arg.p[i] == '\n' || arg.p[i] == '\r')
            return -1;
        safe &= plain(arg.p[i]);
    }
    if (safe) {
        buf_add(b, arg);
        return 0;
    }
    buf_addc(b, '\'');
    for (size_t i = 0; i < arg.n; i++) {
        if (arg.p[i] == '\'')
            buf_addz(b, "'\\''");
        else
            buf_addc(b, arg.p[i]);
    }
    buf_addc(b, '\'');
    return 0;
}
