#include "cmd/env.h"

#include <limits.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fsx.h"
#include "cmd/bmc.h"
#include "cmd/live.h"
#include "net/tap.h"

#define MAX_RULES (256u << 20) /* one rule file; 100,000 rules are 100 MB */
#define MAX_UNUSED 200u /* file names that are looked at again; what is beyond counts as not understood */
#define MAX_ENV  (256u << 20)
#define MAX_FILE (8u << 20) /* one probe file; the largest has 60 KB */

static bool has_data(const char *dir)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(PATH_MAX);

    buf_printf(&path, "%s/probes/schema.xml", dir);
    return !path.cut && fsx_kind(buf_z(&path)) == FSX_FILE;
}

/* The folder of the running program; empty when the system does not tell. */
static const char *program_dir(struct arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n <= 0)
        return "";
    path[n] = '\0';
    for (char *slash = strrchr(path, '/'); slash; slash = NULL)
        *slash = '\0';
    return arena_printf(a, "%s", path);
}

static int find_data(struct env *v, const char *option, const char *variable, struct err *e)
{
    _cleanup_(buf_done) struct buf tried = BUF_INIT(900);
    const char *program = program_dir(v->arena);
    const char *dirs[] = {
        arena_printf(v->arena, "%s", program),
        arena_printf(v->arena, "%s/..", program),
        arena_printf(v->arena, "%s/../share/vmkfit", program),
        "/usr/share/vmkfit",
        variable,
    };

    if (option) {
        v->data_dir = option;
        return has_data(option) ? 0 : err_set(e, VF_ENOTFOUND, "--data %s: no probes/schema.xml in there", option);
    }
    if (variable && fsx_kind(variable) != FSX_FOLDER)
        return err_set(e, VF_ENOTFOUND, "VMKFIT_DATA is %s, which is no folder", variable);
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        if (!dirs[i] || (*program == '\0' && i < 3))
            continue;
        if (has_data(dirs[i])) {
            char real[PATH_MAX];

            v->data_dir = realpath(dirs[i], real) ? arena_printf(v->arena, "%s", real) : dirs[i];
            return 0;
        }
        buf_printf(&tried, "%s%s", tried.n ? ", " : "", dirs[i]);
    }
    return err_set(e, VF_ENOTFOUND, "no probes/schema.xml in %s; set VMKFIT_DATA or give --data", buf_z(&tried));
}

/* A file below the data folder, and the name for messages. */
static int read_data(struct env *v, const char *rel, const char **name, struct slice *bytes, struct err *e)
{
    *name = arena_printf(v->arena, "%s/%s", v->data_dir, rel);
    if (!*name)
        return err_set(e, VF_ELIMIT, "%s: no room left", rel);
    return fsx_read(*name, MAX_FILE, v->arena, bytes, NULL, e);
}

static int load_probe_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct env *v = ctx;
    struct slice name = slice_of(rel), bytes;

    if (strchr(rel, '/') || !slice_ends(name, ".xml") || slice_eqz(name, "schema.xml") ||
        slice_eqz(name, "releases.xml"))
        return 0;
    path = arena_printf(v->arena, "%s", path);
    if (!path)
        return err_set(e, VF_ELIMIT, "%s: no room left", rel);
    if (fsx_read(path, MAX_FILE, v->arena, &bytes, NULL, e) < 0)
        return e->code;
    return probes_load(&v->probes, bytes, path, &v->schema, v->arena, e);
}

static const struct probe *any_probe(const struct probes *p, unsigned table)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i]->table == table)
            return p->v[i];
    return NULL;
}

/* A table that nothing fills would pass for one that a host did not answer: such a folder is not whole. */
static int check_probes(const struct env *v, const char *folder, struct err *e)
{
    for (unsigned t = 0; t < v->schema.ntables; t++) {
        const struct table *table = &v->schema.tables[t];
        bool given = false; /* by a host, not computed alone */

        for (unsigned k = 0; k < table->ncolumns; k++)
            given |= !table->columns[k].derived;
        if (given && !any_probe(&v->probes, t))
            return err_set(e, VF_ENOTFOUND, "%s: no probe fills the table " SLICE_FMT "; a file is missing or cannot be read", folder,
                           SLICE_ARG(table->name));
    }
    return 0;
}

static int load(struct env *v, struct err *e)
{
    const char *name, *folder;
    struct slice bytes;
    int rc;

    rc = read_data(v, "probes/schema.xml", &name, &bytes, e);
    if (rc == 0)
        rc = schema_load(bytes, name, v->arena, &v->schema, e);
    if (rc == 0)
        rc = read_data(v, "probes/releases.xml", &name, &bytes, e);
    if (rc == 0)
        rc = builds_load(bytes, name, v->arena, &v->builds, e);
    if (rc == 0 && v->builds.n == 0)
        rc = err_set(e, VF_EFORMAT, "%s: no builds of ESXi in it", name);
    if (rc < 0)
        return rc;
    folder = arena_printf(v->arena, "%s/probes", v->data_dir);
    if (!folder)
        return err_set(e, VF_ELIMIT, "%s: no room left", v->data_dir);
    rc = fsx_walk(folder, load_probe_file, v, e);
    return rc < 0 ? rc : check_probes(v, folder, e);
}

int env_open(struct env *v, const char *option, const char *variable, struct err *e)
{
    int rc;

    *v = (struct env){.arena = arena_new(MAX_ENV), .names = pcinames_new()};
    rc = find_data(v, option, variable && *variable ? variable : NULL, e);
    return rc < 0 ? rc : load(v, e);
}

void env_close(struct env *v)
{
    arena_free(v->arena);
    pcinames_close(&v->names);
    *v = (struct env){0};
}

struct rule_walk {
    size_t n; /* files so far */
    int (*fn)(void *ctx, const char *path, struct err *e);
    void *ctx;
};

static int rule_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct rule_walk *w = ctx;

    if (!slice_iends(slice_of(rel), ".xml"))
        return 0;
    w->n++;
    return w->fn(w->ctx, path, e);
}

int env_rules_files(struct env *v, const struct slice *more, size_t n, bool built_in, int (*fn)(void *ctx, const char *path, struct err *e), void *ctx,
                    struct err *e)
{
    struct rule_walk w = {0, fn, ctx};
    int rc = built_in ? fsx_walk(arena_printf(v->arena, "%s/rules", v->data_dir), rule_file, &w, e) : 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *path = arena_dup(v->arena, more[i]).p;

        switch (fsx_kind(path)) {
        case FSX_FOLDER:
            w.n = 0;
            rc = fsx_walk(path, rule_file, &w, e);
            if (rc == 0 && w.n == 0)
                rc = err_set(e, VF_ENOTFOUND, "%s: no rule files (*.xml) in this folder", path);
            break;
        case FSX_FILE:
            rc = fn(ctx, path, e);
            break;
        case FSX_OTHER:
            rc = err_set(e, VF_EFORMAT, "%s: neither a file nor a folder of rules", path);
            break;
        case FSX_NONE:
            rc = err_set(e, VF_ENOTFOUND, "%s: no such rule file or folder", path);
            break;
        }
    }
    return rc;
}

struct rule_loading_env {
    struct env *v;
    struct ruleset *rs;
};

const char *env_shown_path(const char *path)
{
    char here[PATH_MAX];
    size_t n;

    if (!getcwd(here, sizeof here))
        return path;
    n = strlen(here);
    return n > 1 && strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

const char *env_rule_page(struct env *v, struct slice id)
{
    static const char *const folders[] = {"docs/rules", "../doc/vmkfit/rules"};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *path = arena_printf(v->arena, "%s/%s/" SLICE_FMT ".md", v->data_dir, folders[i], SLICE_ARG(id));

        if (path && fsx_kind(path) == FSX_FILE)
            return env_shown_path(path);
    }
    return NULL;
}

static int load_rules(void *ctx, const char *path, struct err *e)
{
    struct rule_loading_env *l = ctx;
    struct slice bytes;

    if (fsx_read(path, MAX_RULES, l->v->arena, &bytes, NULL, e) < 0)
        return e->code;
    return rules_load(&l->rs->rules, bytes, env_shown_path(path), &l->v->schema, l->v->arena, e);
}

int env_rules_shipped(struct env *v, struct ruleset *out, struct err *e)
{
    struct rule_loading_env l = {v, out};
    int rc;

    ruleset_init(out, &v->schema, &v->builds, v->arena);
    out->rules.without_examples = v->without_examples;
    rc = env_rules_files(v, NULL, 0, true, load_rules, &l, e);
    return rc == 0 && out->rules.n == 0
               ? err_set(e, VF_ENOTFOUND, "%s/rules: no rules in there; without rules nothing would ever be found", v->data_dir) : rc;
}

int env_rules_named(struct env *v, const struct slice *files, size_t n, struct ruleset *out, struct err *e)
{
    struct rule_loading_env l = {v, out};

    return env_rules_files(v, files, n, false, load_rules, &l, e);
}

int env_rules(struct env *v, const struct slice *more, size_t n, struct ruleset *out, struct err *e)
{
    int rc = env_rules_shipped(v, out, e);

    if (rc == 0)
        rc = env_rules_named(v, more, n, out, e);
    return rc < 0 ? rc : ruleset_seal(out, e);
}

static struct slice pci_name(void *ctx, uint16_t vendor, uint16_t device, struct arena *a)
{
    const struct env *v = ctx;

    return pcinames_find(v->names, vendor, device, a);
}

int env_gather(struct env *v, struct target *t, struct arena *a, struct facts **f, struct err *e)
{
    const struct derive_env derive = {&v->builds, pci_name, v};
    int rc = 0;

    *f = facts_new(&v->schema, a);
    if (!*f)
        return err_set(e, VF_ELIMIT, "%s: no room for the facts of one host", t->label);
    if (t->channel) /* a bundle that could not be opened has nothing to ask */
        rc = collect_run(t->channel, &v->probes, *f, e);
    derive_all(*f, &derive);
    return rc;
}

static bool understood(const struct env *v, const char *name)
{
    for (size_t i = 0; i < v->probes.n; i++)
        for (unsigned k = 0; k < v->probes.v[i]->nways; k++)
            if (offline_name_answers(name, &v->probes.v[i]->ways[k].ask))
                return true;
    return false;
}

size_t env_not_understood(const struct env *v, const struct target *t, const char **names, size_t max)
{
    const char *unused[MAX_UNUSED];
    size_t n = t->channel && t->channel->ops->saved ? offline_unknown(redfish_inner(t->channel), unused, MAX_UNUSED) : 0, found = n > MAX_UNUSED ? n - MAX_UNUSED : 0, shown = 0;

    for (size_t i = 0; i < n && i < MAX_UNUSED; i++) {
        if (understood(v, unused[i]))
            continue;
        found++;
        if (shown < max)
            names[shown++] = unused[i];
    }
    return found;
}

static int one_host(struct env *v, struct env_host h, struct target *t, env_host_fn *fn, void *ctx,
                    struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(ENV_MAX_HOST);
    struct facts *f;
    struct err limit = {0};
    bool live = t->channel && !t->channel->ops->saved;
    struct channel *bmc;
    int rc;

    if (v->cli && bmc_attach(v->cli, t, a, e) < 0)
        return e->code;
    bmc = t->channel;
    if (v->tap && t->channel)
        t->channel = tap_new(t->channel);
    rc = env_gather(v, t, a, &f, &limit);
    if (live)
        live_end(v->cli);

    if (rc < 0 && (rc != VF_ELIMIT || !f))
        return err_set(e, (enum vf_code)rc, "%s", limit.msg);
    h.facts = f;
    for (size_t i = 1; i < f->nsources; i++)
        h.answers += f->sources[i].state != SOURCE_MISSING;
    if (v->site) /* behind the count of answers: statements are none */
        sitefacts_apply(v->site, f, &h.stated, &h.nstated);
    if (rc < 0)
        h.incomplete = limit.msg;
    else if (live)
        h.incomplete = channel_trouble(t->channel);
    else if (h.answers == 0 && !h.incomplete)
        h.incomplete = "no file in it answers a question of ours; see \"vmkfit probe list\" for the commands to save";
    if (!h.incomplete)
        h.incomplete = redfish_trouble(bmc);
    if (!h.incomplete)
        h.incomplete = derive_bmc_refused(f);
    return fn(ctx, &h, e);
}

static int live_host(struct env *v, const char *text, env_host_fn *fn, void *ctx, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(ENV_MAX_HOST);
    struct target t = {.channel = NULL};
    struct env_host h = {.target = &t, .count = 1};
    int rc = live_open(v->cli, text, NULL, a, &t, e);

    if (rc < 0)
        return rc;
    rc = one_host(v, h, &t, fn, ctx, e);
    channel_close(&t.channel);
    return rc;
}

int env_hosts(struct env *v, const char *path, env_host_fn *fn, void *ctx, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(ENV_MAX_HOST);
    struct target *targets = NULL;
    size_t n = 0;
    int rc;

    if (v->cli && v->cli->live_options.bmc && v->with_bmc && strcmp(v->with_bmc, path) != 0)
        return err_set(e, VF_EUSAGE, "--bmc is of one TARGET; %s is a second one", path);
    v->with_bmc = path;
    if (v->cli && target_is_host(path))
        return live_host(v, path, fn, ctx, e);
    rc = offline_open(path, a, &targets, &n, e);
    if (rc < 0)
        return rc;
    if (n == 0)
        return err_set(e, VF_EFORMAT, "%s: no support bundle in it", path);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct env_host h = {.target = &targets[i], .index = i, .count = n, .incomplete = targets[i].cut};

        rc = one_host(v, h, &targets[i], fn, ctx, e);
        channel_close(&targets[i].channel);
    }
    for (size_t i = 0; i < n; i++)
        channel_close(&targets[i].channel);
    return rc;
}
