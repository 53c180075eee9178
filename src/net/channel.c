#include "net/channel.h"

int channel_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    return c->ops->ask(c, q, fn, ctx, e);
}

void channel_close(struct channel **c)
{
    if (*c)
        (*c)->ops->close(*c);
    *c = NULL;
}
