#include "net/channel.h"

int channel_ask(struct channel *c, const struct ask *q, reply_fn *fn, void *ctx, struct err *e)
{
    return c->ops->ask(c, q, fn, ctx, e);
}

bool channel_want(struct channel *c, const struct ask *q)
{
    return !c->ops->want || c->ops->want(c, q);
}

int channel_fetch(struct channel *c, struct err *e)
{
    return c->ops->fetch ? c->ops->fetch(c, e) : 0;
}

const char *channel_trouble(const struct channel *c)
{
    return c->ops->trouble ? c->ops->trouble(c) : NULL;
}

void channel_close(struct channel **c)
{
    if (*c)
        (*c)->ops->close(*c);
    *c = NULL;
}
