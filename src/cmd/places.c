#include "cmd/places.h"

#include <pwd.h>
#include <unistd.h>

const char *place_home(const struct cli *c, struct arena *a)
{
    const struct passwd *p = getpwuid(getuid());

    return c->env.home && c->env.home[0] == '/' ? c->env.home : arena_printf(a, "%s", p ? p->pw_dir : "/");
}

const char *place_state(const struct cli *c, struct arena *a)
{
    const struct cli_environment *v = &c->env;
    struct slice service = slice_of(v->state_dir ? v->state_dir : "");

    service = slice_cut(service, 0, slice_find_char(service, 0, ':')); /* systemd parts several with colons */
    if (slice_starts(service, "/"))
        return arena_dup(a, service).p;
    if (v->state_home && v->state_home[0] == '/')
        return arena_printf(a, "%s/vmkfit", v->state_home);
    return arena_printf(a, "%s/.local/state/vmkfit", place_home(c, a));
}

const char *place_config(const struct cli *c, struct arena *a)
{
    return c->env.config_home && c->env.config_home[0] == '/' ? arena_printf(a, "%s/vmkfit", c->env.config_home)
                                                              : arena_printf(a, "%s/.config/vmkfit", place_home(c, a));
}
