#ifndef VF_CMD_WAIVERS_H
#define VF_CMD_WAIVERS_H

#include "cmd/env.h"
#include "cmd/cmd.h"
#include "core/waiver.h"

/* Options of the commands that heed waivers; type has the members waiver_files and day. */
#define WAIVER_OPTS(type)                                                                                                             \
    {"waivers", 0, OPT_LIST, offsetof(type, waiver_files), "FILE,...", "further files or folders of accepted findings (docs/waivers.md)", NULL}, \
    {"day", 0, OPT_TEXT, offsetof(type, day), "DATE", "judge waivers as on this day, such as 2027-03-31 (default today, UTC)", NULL}

/* What a site accepts, and the files of it that could not be read: nothing is waived by these. */
struct site_waivers {
    struct waivers all;
    const char **refused; /* what is wrong, beginning with the file's name; in the arena of the environment */
    size_t nrefused, refused_cap;
};

/*
 * The waivers of /etc/vmkfit/waivers.d/ *.xml and $XDG_CONFIG_HOME/vmkfit/waivers.d/ *.xml (default ~/.config) where usual is true, then those of
 * the named files and folders. day is --day or NULL. Returns 0, or VF_EUSAGE when that is no date.
 */
int waivers_read(struct env *v, const struct cli *c, bool usual, const struct slice *files, size_t n, const char *day, struct site_waivers *out,
                 struct err *e);

/* To standard error: files that were refused, and waivers of rules that are not there. */
void waivers_warn(struct cli *c, const struct site_waivers *w, const struct rules *rules);

/* "no rule "x"; did you mean "y"?", "the rule "x" is retired"; NULL when there is nothing to say. In the arena. */
const char *waiver_rule_trouble(const struct waiver *w, const struct rules *rules, struct arena *a);

#endif
