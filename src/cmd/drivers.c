#include <stddef.h>

#include "base/fsx.h"
#include "cmd/cmd.h"
#include "cmd/env.h"
#include "collect/vibfile.h"
#include "out/drivers.h"

#define MAX_DATA (4u << 20)
#define MAX_VIBS ((size_t)1 << 30)

struct drivers_values {
    bool json;
    struct opt_list disable, enable, remove, install;
    const char *upgrade_to;
};

static const struct opt drivers_opts[] = {
    {"disable", 0, OPT_LIST, offsetof(struct drivers_values, disable), "MODULE,...", "what if these modules were disabled", NULL},
    {"enable", 0, OPT_LIST, offsetof(struct drivers_values, enable), "MODULE,...", "what if these modules were enabled", NULL},
    {"remove-vib", 0, OPT_LIST, offsetof(struct drivers_values, remove), "VIB,...", "what if these VIBs were removed", NULL},
    {"install-vib", 0, OPT_LIST, offsetof(struct drivers_values, install), "FILE,...",
     "what if the VIBs of these files were installed: .vib, or an offline bundle (.zip)", NULL},
    {"upgrade-to", 0, OPT_TEXT, offsetof(struct drivers_values, upgrade_to), "RELEASE", "what if the host were upgraded, such as to 8.0u3", NULL},
    {"json", 0, OPT_FLAG, offsetof(struct drivers_values, json), NULL, "as JSON (docs/schema/drivers.json)", NULL},
    {0},
};

struct run {
    struct cli *c;
    struct env *env;
    const struct drivers_values *v;
    const char *path;
    struct driver_data data;
    struct vibs vibs;
    struct claim_package *packages;
    struct claim_change change;
    struct js *hosts;
    bool lost, open;
    int status;
};

static const char *said(enum vib_flag f)
{
    return f == VIB_YES ? "yes" : f == VIB_NO ? "no" : "not said";
}

#define MAX_AGAINST 16u

struct against {
    struct upgrade_item v[MAX_AGAINST];
    size_t n;
};

static void say(struct against *l, const struct vib *v, enum upgrade_weight weight, const char *why, const char *ask)
{
    if (l->n < MAX_AGAINST)
        l->v[l->n++] = (struct upgrade_item){.weight = weight, .name = v->descriptor.name, .why = why, .ask = ask};
}

static bool holds(int order, struct slice relation)
{
    return slice_eqz(relation, ">=")   ? order >= 0
           : slice_eqz(relation, "<=") ? order <= 0
           : slice_eqz(relation, ">")  ? order > 0
           : slice_eqz(relation, "<")  ? order < 0
           : slice_eqz(relation, "!=") ? order != 0
                                       : order == 0;
}

/* "esx-version >= 6.7.0" against the host's version, or that of the upgrade. */
static void check_version(const struct vib *v, const struct vib_relation *x, const struct facts *f, const struct release *to, struct against *l)
{
    const struct value *version = facts_cell(f, facts_single(f, "esxi"), "version");
    struct slice is = version->state == VS_KNOWN ? version->s : slice_of("");
    int order;

    if (to->major)
        is = slice_of(arena_printf(f->arena, "%d.%d.%d", to->major, to->minor, to->major < 7 || to->update < 0 ? 0 : to->update));
    if (x->version.n == 0)
        return;
    if (is.n == 0 || version_order(is, x->version, SCHEME_DOTTED, &order) < 0)
        say(l, v, UPGRADE_OPEN, "whether the host's version is one that it is for is not known", "esxcli system version get");
    else if (!holds(order, x->relation))
        say(l, v, UPGRADE_BLOCKS, arena_printf(f->arena, "it wants esx-version " SLICE_FMT " " SLICE_FMT ", and this would be " SLICE_FMT, SLICE_ARG(x->relation),
                                               SLICE_ARG(x->version), SLICE_ARG(is)), NULL);
}

/* What the descriptor of a VIB says against this host. */
static struct against *against_of(const struct vib *v, const struct facts *f, const struct release *to)
{
    const struct release *target = to->major ? to : &f->release;
    struct against *l = arena_array(f->arena, 1, sizeof *l);

    for (size_t i = 0; l && i < v->descriptor.ndepends; i++) {
        const struct vib_relation *x = &v->descriptor.depends[i];

        if (upgrade_foreign_api(target, x->name))
            say(l, v, UPGRADE_BLOCKS, arena_printf(f->arena, "it depends on " SLICE_FMT ", which %d.%d does not provide (KB 78389)", SLICE_ARG(x->name),
                                                   target->major, target->minor), NULL);
        else if (slice_eqz(x->name, "esx-version"))
            check_version(v, x, f, to, l);
    }
    for (size_t i = 0; l && i < v->descriptor.nconflicts; i++) {
        const struct vib_relation *x = &v->descriptor.conflicts[i];

        if (facts_find(f, facts_table_index(f, "vib"), x->name) && !slice_eq(x->name, v->descriptor.name))
            say(l, v, UPGRADE_OPEN, arena_printf(f->arena, "its descriptor names a conflict with " SLICE_FMT " " SLICE_FMT " " SLICE_FMT ", which the host has",
                                                 SLICE_ARG(x->name), SLICE_ARG(x->relation), SLICE_ARG(x->version)), "esxcli software vib install --dry-run");
    }
    return l;
}

static struct drivers_install *installs_for(const struct run *r, const struct facts *f)
{
    struct drivers_install *in = arena_array(f->arena, r->vibs.n + 1, sizeof *in);

    for (size_t i = 0; in && i < r->vibs.n; i++) {
        const struct vib *v = &r->vibs.v[i];
        const struct against *l = against_of(v, f, &r->change.upgrade);

        if (!l)
            return NULL;
        in[i] = (struct drivers_install){.package = &r->packages[i], .from = v->from, .level = v->descriptor.level,
                                         .vendor = v->descriptor.vendor.n ? v->descriptor.vendor.p : "vendor not said",
                                         .maintenance = said(v->descriptor.maintenance), .live = said(v->descriptor.live_install), .against = l->v, .nagainst = l->n};
    }
    return in;
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 28);
    struct run *r = ctx;
    struct facts *f = (struct facts *)(uintptr_t)h->facts; /* texts of the prediction go into its arena; no cell changes */
    struct drivers_report report = {.target = h->target->label, .incomplete = h->incomplete};
    const struct drivers_style style = {cli_style(r->c, STYLE_BOLD), cli_style(r->c, STYLE_RED), cli_style(r->c, STYLE_YELLOW), cli_style(r->c, STYLE_NONE),
                                        cli_table_width(r->c), cli_text_width(r->c), r->c->verbose > 0};
    struct drivers_install *installs = installs_for(r, f);
    struct claim_world w;
    int status;

    claim_world_init(&w, f, &r->env->builds, &r->data, &r->change);
    if (!installs)
        return err_set(e, VF_ELIMIT, "%s: no room for what is to be installed", h->target->label);
    if (drivers_build(&w, installs, r->vibs.n, &report, e) < 0)
        return err_ctx(e, "%s", h->target->label);
    r->lost |= report.lost;
    r->open |= report.open || h->incomplete;
    if (r->v->json) {
        js_add(r->hosts, drivers_json(&report));
        return 0;
    }
    if (h->index)
        buf_addc(&b, '\n');
    drivers_text(&report, &style, &b);
    status = cli_write(r->c, &b);
    r->status = status ? status : r->status;
    return 0;
}

static int load_data(struct run *r, struct err *e)
{
    struct arena *a = r->env->arena;
    const char *lines = arena_printf(a, "%s/rules/drivers.tsv", r->env->data_dir), *changes = arena_printf(a, "%s/rules/driver-changes.tsv", r->env->data_dir);
    struct slice bytes;

    if (fsx_read(lines, MAX_DATA, a, &bytes, NULL, e) < 0 || driverdata_load_lines(bytes, lines, a, &r->data, e) < 0)
        return e->code;
    if (fsx_read(changes, MAX_DATA, a, &bytes, NULL, e) < 0)
        return e->code;
    return driverdata_load_changes(bytes, changes, a, &r->data, e);
}

/* Is a word a module's or a VIB's name at all. */
static int check_names(const struct opt_list *l, const char *option, struct err *e)
{
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < l->v[i].n; k++)
            if (!((l->v[i].p[k] | 32) >= 'a' && (l->v[i].p[k] | 32) <= 'z') && !(l->v[i].p[k] >= '0' && l->v[i].p[k] <= '9') && !strchr("_-.+", l->v[i].p[k]))
                return err_set(e, VF_EUSAGE, "--%s: \"" SLICE_FMT "\" is no name", option, SLICE_ARG(l->v[i]));
    return 0;
}

static int prepare(struct run *r, struct arena *vibs, struct err *e)
{
    const struct drivers_values *v = r->v;

    if (check_names(&v->disable, "disable", e) < 0 || check_names(&v->enable, "enable", e) < 0 || check_names(&v->remove, "remove-vib", e) < 0)
        return e->code;
    for (size_t i = 0; i < v->disable.n; i++)
        if (slice_among(v->enable.v, v->enable.n, v->disable.v[i]))
            return err_set(e, VF_EUSAGE, SLICE_FMT " cannot be both disabled and enabled", SLICE_ARG(v->disable.v[i]));
    if (v->upgrade_to && release_parse(slice_of(v->upgrade_to), &r->change.upgrade, e) < 0) {
        e->code = VF_EUSAGE;
        return err_ctx(e, "--upgrade-to");
    }
    for (size_t i = 0; i < v->install.n; i++)
        if (vibfile_read(arena_dup(vibs, v->install.v[i]).p, vibs, &r->vibs, e) < 0)
            return err_ctx(e, "--install-vib");
    r->packages = arena_array(vibs, r->vibs.n + 1, sizeof *r->packages);
    for (size_t i = 0; r->packages && i < r->vibs.n; i++)
        r->packages[i] = r->vibs.v[i].package;
    if (!r->packages)
        return err_set(e, VF_ELIMIT, "the VIBs do not fit into memory");
    r->change = (struct claim_change){v->disable.v, v->enable.v, v->disable.n, v->enable.n, v->remove.v, v->remove.n, r->packages, r->vibs.n, r->change.upgrade};
    return load_data(r, e);
}

static int print_json(struct run *r)
{
    struct js *document = js_object();

    js_put(document, "schema_version", js_int(DRIVERS_JSON_VERSION));
    js_put(document, "target", js_textz(r->path));
    js_put(document, "upgrade_to", js_textz(r->v->upgrade_to));
    js_put(document, "hosts", r->hosts);
    r->hosts = NULL;
    return cli_write_json(r->c, &document);
}

static int run_drivers(struct cli *c, int argc, char **argv)
{
    _cleanup_(env_close) struct env env = {0};
    _cleanup_(arena_done) struct arena *vibs = arena_new(MAX_VIBS);
    struct drivers_values v = {0};
    struct run r = {.c = c, .env = &env, .v = &v};
    struct err e = {0};
    int n, status, rc;

    if (!cli_parse(c, &cmd_drivers, &v, argc, argv, &n, &status))
        return status;
    if (n != 1) {
        (void)err_set(&e, VF_EUSAGE, n < 1 ? "say which TARGET: a host, a folder of outputs, a recording or a support bundle" : "one TARGET at a time");
        return cli_fail(c, "drivers", &e);
    }
    r.path = argv[0];
    rc = env_open(&env, c->data, c->env.data, &e);
    env.cli = c;
    if (rc == 0)
        rc = prepare(&r, vibs, &e);
    if (rc < 0)
        return cli_fail(c, "drivers", &e);
    r.hosts = v.json ? js_array() : NULL;
    rc = env_hosts(&env, r.path, on_host, &r, &e);
    if (rc < 0)
        r.status = cli_fail(c, "drivers", &e);
    if (v.json) { /* also when nothing could be read: a reader of it gets a document */
        status = print_json(&r);
        r.status = r.status ? r.status : status;
    }
    return r.status ? r.status : r.lost ? STATUS_FINDINGS : r.open ? STATUS_INCOMPLETE : STATUS_OK;
}

const struct command cmd_drivers = {
    .name = "drivers",
    .summary = "which driver has a device, who else could, and what if something changed",
    .usage = "TARGET",
    .examples = "vmkfit drivers root@esx01\n"
                "vmkfit drivers esx1.tgz --disable vmw_ahci         # who takes its devices, what is lost\n"
                "vmkfit drivers esx1/ --install-vib new-driver.vib --remove-vib old-driver\n"
                "vmkfit drivers esx1.tgz --upgrade-to 8.0u3 --json\n",
    .description =
        "Shows for each PCI function that needs a driver which module has it, which others list it, and which would be next. With one or more of "
        "--disable, --enable, --remove-vib, --install-vib and --upgrade-to, which are taken together as one change before one boot: which functions "
        "keep their driver, change it or are left without one, and what hangs on them: boot disk, datastores and their machines, management and other "
        "VMkernel ports. Nothing is changed on the host.\n\n"
        "The prediction follows the order in which ESXi asks its map files. When those of the host were read they decide; else the data of vmkfit do, "
        "from the map files of 6.7.0, and what they alone say is never sure for another release. The output says which of the two it rests on.\n\n"
        "The exit status is 2 when something in use would lose its driver, would get one under which a RAID array falls into single disks, or when a VIB "
        "would stop the upgrade; 3 when it could not be decided, with the reason and the command that would tell; 0 when nothing is lost.",
    .opts = drivers_opts,
    .group = &hosts_over_ssh,
    .run = run_drivers,
};
