#include "core/claim_parts.h"

#include "core/derive.h"
#include "core/nextboot.h"

#define MAX_CONTENDERS 256u

void claim_world_init(struct claim_world *w, struct facts *f, const struct builds *b, const struct driver_data *d, const struct claim_change *c)
{
    const char *why = NULL;
    bool maps = facts_count(f, facts_table_index(f, "driver-map")) > 0;
    bool image = f->release.major == 6 && f->release.minor == 7 && f->release.update <= 0;

    *w = (struct claim_world){.f = f, .builds = b, .data = d, .change = c, .basis = maps ? CLAIM_FROM_MAPS : CLAIM_FROM_DATA};
    w->whole = maps && facts_complete(f, "driver-map", &why);
    w->why = w->whole ? NULL : why ? why : "the host's map files were not read";
    if (maps)
        w->basis_text = w->whole ? "the host's map files" : arena_printf(f->arena, "the host's map files, not all of them: %s", w->why);
    else if (f->release.major == 0)
        w->basis_text = "the map files of the 6.7.0 image: inferred, since the host's release is not known";
    else
        w->basis_text = image ? "the map files of the 6.7.0 image, not the host's own"
                              : arena_printf(f->arena, "the map files of the 6.7.0 image: inferred for %d.%d", f->release.major, f->release.minor);
    if (!maps)
        (void)facts_complete(f, "driver-map", &w->why);
    w->why = w->whole ? NULL : w->why ? w->why : "the host's map files were not read";
}

const char *claim_outcome_name(enum claim_outcome o)
{
    static const char *const names[] = {"stays", "changes", "loses", "gains", "none", "passed-through", "unknown"};

    return names[o];
}

static bool upgrades(const struct claim_world *w)
{
    return w->change && w->change->upgrade.major != 0;
}

/* The host's release after the change. */
static const struct release *target(const struct claim_world *w)
{
    return upgrades(w) ? &w->change->upgrade : &w->f->release;
}

static const struct driver_change *news_of(const struct claim_world *w, const char *what, struct slice name)
{
    return w->data ? driverdata_change(w->data, w->builds, what, name, &w->f->release, target(w)) : NULL;
}

/* What an upgrade makes of a module: the image is another, its boot list too. */
static enum claim_standing stands_in_target(const struct claim_world *w, struct claim_contender *c, bool driver)
{
    const struct row *row;
    const struct driver_change *kind = news_of(w, "kind", SLICE_LIT("vmklinux")), *news = news_of(w, "module", c->module);
    const char *why;

    if (c->vmklinux && (kind || target(w)->major >= 7)) {
        c->why_next = arena_printf(w->f->arena, "from 7.0 there are no vmklinux drivers%s" SLICE_FMT, kind ? ": " : "",
                                   SLICE_ARG(kind ? kind->source : SLICE_LIT("")));
        return CLAIM_OUT;
    }
    if (news && slice_eqz(news->to, "-")) {
        c->why_next = arena_printf(w->f->arena, "it is gone from %d.%d on (" SLICE_FMT ")", news->from.major, news->from.minor, SLICE_ARG(news->source));
        return CLAIM_OUT;
    }
    if (claim_may_load(w->f, c->module, w->change, &row, &why) == CLAIM_OUT && row) { /* a setting outlives the upgrade */
        c->why_next = why;
        return CLAIM_OUT;
    }
    if (row || driver)
        return CLAIM_STANDS;
    c->why_next = arena_printf(w->f->arena, "whether %d.%d has it, and its map lists the device, is not known", target(w)->major, target(w)->minor);
    return CLAIM_OPEN;
}

/* Renamed by the upgrade: the new name is what will stand there. */
static void rename_module(const struct claim_world *w, struct claim_contender *c)
{
    const struct driver_change *news = upgrades(w) ? news_of(w, "module", c->module) : NULL;

    if (news && c->next == CLAIM_STANDS && !slice_eqz(news->to, "-") && !slice_eqz(news->to, "stays"))
        c->module = news->to;
}

static bool names_ids(struct slice pattern, bool vmklinux)
{
    return vmklinux || (pattern.n == 22 && slice_find(slice_cut(pattern, 0, 16), 0, "................") != 0);
}

/* The change's own module from a VIB. */
static bool from_package(const struct claim_world *w, struct slice module, struct slice *vib)
{
    for (size_t i = 0; w->change && i < w->change->ninstall; i++) {
        const struct claim_package *p = &w->change->install[i];

        if (slice_among(p->modules, p->nmodules, module)) {
            *vib = p->name;
            return true;
        }
    }
    return false;
}

/* The function's class was not read: can it be the one of a pattern that names nothing else. What sits on it tells. */
static bool class_may_be(const struct facts *f, struct slice pattern, const struct row *pci)
{
    static const char *const tables[] = {"adapter", "nic"};
    struct slice class = slice_cut(pattern, 16, 4);
    const struct row *r;

    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; (r = derive_row(f, tables[k], i)); i++) {
            const struct value *at = facts_cell(f, r, "pci"), *transport;

            if (at->state != VS_KNOWN || !slice_eq(at->s, pci->key))
                continue;
            if (k == 1)
                return slice_starts(class, "02");
            transport = facts_cell(f, r, "transport");
            if (known_text(transport, "sas") || known_text(transport, "fc") || known_text(transport, "iscsi") || known_text(transport, "fcoe"))
                return false;
            if (known_text(transport, "sata") || known_text(transport, "ide"))
                return slice_eqz(class, "0106");
            return known_text(transport, "usb") == slice_eqz(class, "0c03");
        }
    return true;
}

/* As claim_fits, but without what cannot be. */
static enum claim_fit fits(const struct facts *f, struct slice pattern, bool vmklinux, const struct row *pci)
{
    enum claim_fit fit = claim_fits(f, pattern, vmklinux, pci);

    return fit == FIT_OPEN && !names_ids(pattern, vmklinux) && !class_may_be(f, pattern, pci) ? FIT_NO : fit;
}

struct contenders {
    struct claim_contender *v;
    size_t n, cap;
};

static int add(const struct claim_world *w, struct contenders *all, struct slice module, struct slice vib, bool vmklinux, bool exact, bool comes,
               bool open)
{
    void *grown = all->v;

    for (size_t i = 0; i < all->n; i++)
        if (slice_eq(all->v[i].module, module)) {
            all->v[i].exact |= exact && !open;
            all->v[i].open &= open;
            all->v[i].comes &= comes; /* the old map listed it too */
            return 0;
        }
    if (arena_grow(w->f->arena, &grown, all->n, &all->cap, sizeof *all->v, MAX_CONTENDERS) < 0)
        return -1;
    all->v = grown;
    all->v[all->n++] = (struct claim_contender){.module = module, .was = module, .vib = vib, .vmklinux = vmklinux, .exact = exact, .comes = comes, .open = open};
    return 0;
}

static int from_lines(const struct claim_world *w, const struct driver_line *lines, size_t n, const struct row *pci, bool comes, bool old_sources,
                      struct contenders *all)
{
    for (size_t i = 0; i < n; i++) {
        const struct driver_line *l = &lines[i];
        enum claim_fit fit = l->source && !old_sources ? FIT_NO : fits(w->f, l->pattern, l->vmklinux, pci);

        if (fit != FIT_NO && add(w, all, l->module, l->vib, l->vmklinux, names_ids(l->pattern, l->vmklinux), comes, fit == FIT_OPEN) < 0)
            return -1;
    }
    return 0;
}

static int from_maps(const struct claim_world *w, const struct row *pci, struct contenders *all)
{
    const struct row *m;

    for (size_t i = 0; (m = derive_row(w->f, "driver-map", i)); i++) {
        bool vmklinux = known_text(facts_cell(w->f, m, "kind"), "linux");
        const struct value *pattern = facts_cell(w->f, m, "pattern"), *driver = facts_cell(w->f, m, "driver");
        enum claim_fit fit;

        if (!known_text(facts_cell(w->f, m, "bus"), "pci") || pattern->state != VS_KNOWN || driver->state != VS_KNOWN)
            continue;
        fit = fits(w->f, pattern->s, vmklinux, pci);
        if (fit != FIT_NO && add(w, all, driver->s, slice_of(""), vmklinux, names_ids(pattern->s, vmklinux), false, fit == FIT_OPEN) < 0)
            return -1;
    }
    return 0;
}

/* Native first, then what names ids before what names a class; otherwise in the order of the map files. */
static unsigned rank(const struct claim_contender *c)
{
    return (c->vmklinux ? 2u : 0u) + (c->exact ? 0u : 1u);
}

static void in_order(struct contenders *all)
{
    for (size_t i = 1; i < all->n; i++)
        for (size_t k = i; k > 0 && rank(&all->v[k]) < rank(&all->v[k - 1]); k--) {
            struct claim_contender c = all->v[k];

            all->v[k] = all->v[k - 1];
            all->v[k - 1] = c;
        }
}

static bool is_driver(const struct claim *c, struct slice module)
{
    return c->driver.state == VS_KNOWN && slice_eq(c->driver.s, module);
}

/* Of a contender: VIB, and how it stands now and after the change. */
static void judge(const struct claim_world *w, const struct claim *claim, struct claim_contender *c)
{
    const struct row *row = facts_find(w->f, facts_table_index(w->f, "module"), c->module);
    const struct value *vib = facts_cell(w->f, row, "vib"), *api = facts_cell(w->f, row, "api");
    bool driver = is_driver(claim, c->module);
    struct slice package = {NULL, 0};

    if (vib->state == VS_KNOWN)
        c->vib = vib->s;
    if (row && api->state == VS_KNOWN)
        c->vmklinux = known_text(api, "vmklinux");
    c->now = claim_stands(w->f, c->module, c->vmklinux, NULL, &c->why_now);
    if (!upgrades(w) && w->f->release.major >= 7 && c->vmklinux) {
        c->now = c->next = CLAIM_OUT;
        c->why_now = c->why_next = "from 7.0 there are no vmklinux drivers";
        return;
    }
    c->next = upgrades(w) ? stands_in_target(w, c, driver) : claim_stands(w->f, c->module, c->vmklinux, w->change, &c->why_next);
    if (c->next == CLAIM_STANDS && from_package(w, c->module, &package)) {
        c->vib = package;
        if (!row || !slice_eq(vib->s, package))
            c->comes = true;
    } else if (c->next == CLAIM_STANDS && c->comes && !package.n) {
        c->next = CLAIM_OPEN;
        c->why_next = "the map file of a VIB to be installed lists the device, and whether its module is that of the host is not known";
    }
    /* It did load at the last boot: that boot.cfg was not read says nothing against it, as long as it is known that it may load. */
    if (driver && c->next == CLAIM_OPEN && c->now == CLAIM_OPEN && c->why_now && c->why_next && strcmp(c->why_now, c->why_next) == 0 &&
        known_bool(facts_cell(w->f, row, "enabled"), true))
        c->next = CLAIM_STANDS;
    rename_module(w, c);
}

static bool among(const struct contenders *all, struct slice module)
{
    for (size_t i = 0; i < all->n; i++)
        if (slice_eq(all->v[i].module, module))
            return true;
    return false;
}

static int contenders(const struct claim_world *w, struct claim *out, struct err *e)
{
    struct contenders all = {0};
    int rc = 0;

    if (w->basis == CLAIM_FROM_MAPS)
        rc = from_maps(w, out->pci, &all);
    else if (w->data)
        rc = from_lines(w, w->data->lines, w->data->nlines, out->pci, false, w->f->release.major < 6, &all);
    /* an upgrade brings the target's own map files: the native lines of 6.7.0 hint at what they list */
    for (size_t i = 0; rc == 0 && upgrades(w) && w->basis == CLAIM_FROM_MAPS && w->data && i < w->data->nlines; i++)
        if (!w->data->lines[i].vmklinux)
            rc = from_lines(w, &w->data->lines[i], 1, out->pci, false, false, &all);
    for (size_t i = 0; rc == 0 && w->change && i < w->change->ninstall; i++)
        rc = from_lines(w, w->change->install[i].lines, w->change->install[i].nlines, out->pci, true, false, &all);
    if (rc == 0 && out->driver.state == VS_KNOWN && !slice_eqz(out->driver.s, "vmkernel") && !among(&all, out->driver.s)) /* whatever the lines say, it has it */
        rc = add(w, &all, out->driver.s, slice_of(""), false, true, false, false);
    if (rc < 0)
        return err_set(e, VF_ELIMIT, "more than %u modules list " SLICE_FMT, MAX_CONTENDERS, SLICE_ARG(out->pci->key));
    for (size_t i = 0; i < all.n; i++)
        judge(w, out, &all.v[i]);
    in_order(&all);
    out->contenders = all.v;
    out->ncontenders = all.n;
    return 0;
}

/* Module that has the function: as the PCI list says, else its adapter or NIC. */
static struct value driver_of(const struct facts *f, const struct row *pci)
{
    static const char *const tables[] = {"adapter", "nic"};
    struct value v = *facts_cell(f, pci, "module");
    const struct row *r;

    for (unsigned k = 0; k < 2 && v.state != VS_KNOWN && !v.conflict; k++)
        for (size_t i = 0; (r = derive_row(f, tables[k], i)); i++) {
            const struct value *at = facts_cell(f, r, "pci");

            if (at->state == VS_KNOWN && slice_eq(at->s, pci->key) && facts_cell(f, r, "driver")->state == VS_KNOWN)
                return *facts_cell(f, r, "driver");
        }
    return v;
}

bool claim_needed(const struct claim_world *w, const struct row *pci)
{
    static const char *const classes[] = {"01", "02", "0c03", "0c04"};
    const struct value *class = facts_cell(w->f, pci, "class"), driver = driver_of(w->f, pci);
    struct contenders all = {0};

    for (size_t i = 0; class->state == VS_KNOWN && i < sizeof classes / sizeof *classes; i++)
        if (slice_starts(class->s, classes[i]))
            return true;
    if (driver.state == VS_KNOWN)
        return !slice_eqz(driver.s, "vmkernel");
    if (class->state == VS_KNOWN && slice_starts(class->s, "06"))
        return false;
    if (w->basis == CLAIM_FROM_MAPS ? from_maps(w, pci, &all) < 0 : w->data && from_lines(w, w->data->lines, w->data->nlines, pci, false, false, &all) < 0)
        return true;
    for (size_t i = 0; i < all.n; i++)
        if (!all.v[i].open)
            return true;
    return false;
}

int claim_predict(const struct claim_world *w, const struct row *pci, struct claim *out, struct err *e)
{
    *out = (struct claim){.pci = pci, .driver = driver_of(w->f, pci)};
    out->raid = nextboot_raid(w->f, pci, &out->driver);
    if (contenders(w, out, e) < 0)
        return e->code;
    claim_decide(w, out);
    if (arena_full(w->f->arena))
        return err_set(e, VF_ELIMIT, "the host's facts and what follows from them do not fit into memory");
    return 0;
}
