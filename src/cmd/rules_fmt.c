#include <errno.h>
#include <stdlib.h>

#include "base/fsw.h"
#include "base/fsx.h"
#include "cmd/rules_parts.h"
#include "core/fmt.h"

#define MAX_FILE (64u << 20)

struct formatting {
    struct rules_run *r;
    size_t files, changed, refused;
};

static void free_path(char **p)
{
    free(*p);
}

/* A link stays, the file behind it is replaced. */
static int replace(const char *path, struct slice text, struct err *e)
{
    _cleanup_(free_path) char *real = realpath(path, NULL);

    return real ? fsw_replace(real, text, e) : err_set(e, VF_EIO, "%s: %s", path, strerror(errno));
}

/* One file: it has to load, so that nothing is written again that was not understood. */
static int file(void *ctx, const char *path, struct err *e)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(2 * MAX_FILE);
    struct formatting *f = ctx;
    struct rules own = {0};
    struct err found = {0};
    struct slice bytes;
    bool from_input = strcmp(path, "-") == 0;

    f->files++;
    if (fsx_read(path, MAX_FILE, f->r->env.arena, &bytes, NULL, e) < 0)
        return e->code;
    if (rules_load(&own, bytes, path, &f->r->env.schema, f->r->env.arena, &found) < 0 || fmt_rules(bytes, path, &out, &found) < 0) {
        f->refused++;
        cli_warn(f->r->c, "%s", found.msg);
        return 0;
    }
    if (from_input && !f->r->v->check) {
        buf_add(f->r->out, buf_slice(&out));
        return 0;
    }
    if (slice_eq(bytes, buf_slice(&out)))
        return 0;
    f->changed++;
    rules_say(f->r, path);
    return f->r->v->check ? 0 : replace(path, buf_slice(&out), e);
}

int rules_fmt(struct rules_run *r)
{
    struct formatting f = {.r = r};
    struct slice *files;
    size_t n = rules_operands(r, &files);
    struct err e = {0};
    int rc;

    if (n == 0) {
        (void)err_set(&e, VF_EUSAGE, "fmt wants rule files or folders, or - for standard input");
        return cli_fail(r->c, "rules", &e);
    }
    rc = n == 1 && slice_eqz(files[0], "-") ? file(&f, "-", &e) : env_rules_files(&r->env, files, n, false, file, &f, &e);
    if (rc < 0)
        return cli_fail(r->c, "rules", &e);
    return f.refused || (f.changed && r->v->check) ? STATUS_FINDINGS : STATUS_OK;
}
