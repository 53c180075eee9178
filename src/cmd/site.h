#ifndef VF_CMD_SITE_H
#define VF_CMD_SITE_H

#include "cmd/cmd.h"
#include "cmd/env.h"

/* --facts: what the site states of its hosts (core/sitefacts.h). */

#define SITE_OPT_HELP "what the site states of firmware that no command tells, a table (docs/firmware.md)"

/* The files of --facts into v->site, which env_hosts applies to each host; nothing without any. Errors name file, line and column. */
int site_open(struct env *v, const struct opt_list *files, struct err *e);

/* When all hosts are read: warn of statements that are older than a year, and of those that no host or device fits. */
void site_end(const struct env *v, struct cli *c);

/* Why a statement was not used; NULL when it was. In the arena. */
const char *site_unused(const struct env *v, const struct statement *s);

#endif
