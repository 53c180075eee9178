#include "core/claim.h"
#include "core/derive.h"
#include "core/nextboot.h"

/* Which modules may claim a function by the host's own map files, native ones first. */
static void candidates(struct facts *f, const struct row *r)
{
    static const char *const ids[] = {"vendor", "device", "subvendor", "subdevice", "class"};
    unsigned map = facts_table_index(f, "driver-map");
    struct texts native = {0}, linux_ = {0};
    struct slice *all;
    bool open = false;
    const char *why;

    if (facts_table(f, map, &why) == TS_UNKNOWN) {
        derive_set(f, r, "candidates", value_unknown(arena_printf(f->arena, "driver map files: %s", why)));
        return;
    }
    for (size_t i = 0; i < facts_count(f, map); i++) {
        const struct row *m = facts_at(f, map, i);
        bool is_linux = known_text(facts_cell(f, m, "kind"), "linux");
        struct slice pattern = facts_cell(f, m, "pattern")->s;
        enum claim_fit fit;

        if (!known_text(facts_cell(f, m, "bus"), "pci"))
            continue;
        fit = claim_fits(f, pattern, is_linux, r);
        if (fit == FIT_YES)
            texts_add(is_linux ? &linux_ : &native, facts_cell(f, m, "driver")->s, f->arena);
        open |= fit == FIT_OPEN;
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (facts_cell(f, r, ids[i])->conflict) {
            derive_set(f, r, "candidates", *facts_cell(f, r, ids[i]));
            return;
        }
    if (native.n + linux_.n == 0 && facts_table(f, map, &why) != TS_COMPLETE) {
        derive_set(f, r, "candidates", value_unknown(arena_printf(f->arena, "driver map files: %s", why)));
        return;
    }
    if (open && native.n + linux_.n == 0) {
        derive_set(f, r, "candidates", value_unknown("the function's ids are not known well enough to compare with the map files"));
        return;
    }
    all = arena_array(f->arena, native.n + linux_.n + 1, sizeof *all);
    if (!all)
        return;
    if (native.n)
        memcpy(all, native.v, native.n * sizeof *all);
    if (linux_.n)
        memcpy(all + native.n, linux_.v, linux_.n * sizeof *all);
    derive_set(f, r, "candidates", native.n + linux_.n ? value_list(all, native.n + linux_.n) : value_absent());
}

/* The first candidate other than the present driver that the host has and would load. */
static struct value fallback(struct facts *f, const struct row *r, const struct value *driver)
{
    const struct value *c = facts_cell(f, r, "candidates");
    const char *why;

    if (c->state == VS_ABSENT)
        return value_absent();
    if (c->state == VS_UNKNOWN)
        return derive_unknown(f, "candidates", c);
    if (driver->state != VS_KNOWN)
        return value_unknown("no driver has claimed it, so there is nothing to fall back from");
    for (size_t i = 0; i < c->nlist; i++) {
        enum claim_standing s = slice_eq(c->list[i], driver->s) ? CLAIM_OUT : claim_stands(f, c->list[i], false, NULL, &why);

        if (s == CLAIM_OUT)
            continue;
        return s == CLAIM_STANDS ? value_slice(c->list[i]) : value_unknown(why);
    }
    if (facts_table(f, facts_table_index(f, "driver-map"), &why) != TS_COMPLETE)
        return value_unknown(arena_printf(f->arena, "driver map files: %s", why));
    return value_absent();
}

/* An adapter or NIC whose PCI function is this one; *complete says whether both lists are whole. */
static const struct row *on_function(const struct facts *f, const struct row *r, bool *complete)
{
    static const char *const tables[] = {"adapter", "nic"};
    const struct row *x;

    *complete = true;
    for (unsigned k = 0; k < 2; k++) {
        *complete &= facts_table(f, facts_table_index(f, tables[k]), NULL) == TS_COMPLETE;
        for (size_t i = 0; (x = derive_row(f, tables[k], i)); i++)
            if (facts_cell(f, x, "pci")->state == VS_KNOWN && slice_eq(facts_cell(f, x, "pci")->s, r->key))
                return x;
    }
    return NULL;
}

static void claim(struct facts *f, const struct row *r)
{
    const struct value *module = facts_cell(f, r, "module"), *alias = facts_cell(f, r, "alias");
    const struct value *owner = facts_cell(f, r, "owner"), *passthru = facts_cell(f, r, "passthru");
    struct value driver = *module;
    const struct row *user, *m;
    bool complete;

    user = on_function(f, r, &complete);
    if (user && alias->state != VS_KNOWN)
        derive_set(f, r, "alias", value_slice(user->key)); /* 8.x no longer prints it in the PCI list */
    if (user && driver.state != VS_KNOWN && !driver.conflict)
        driver = *facts_cell(f, user, "driver");
    if (driver.state == VS_KNOWN && module->state == VS_UNKNOWN && !module->conflict)
        derive_set(f, r, "module", driver);
    if (driver.state == VS_KNOWN || known_text(owner, "VM Passthru") || known_bool(passthru, true))
        derive_set(f, r, "claimed", derive_from(value_bool(true), driver.state == VS_KNOWN ? &driver : owner));
    else if (module->state == VS_ABSENT && !user && (complete || alias->state == VS_ABSENT))
        derive_set(f, r, "claimed", derive_from(value_bool(false), module));
    else
        derive_set(f, r, "claimed", derive_unknown(f, "module", module));
    m = driver.state == VS_KNOWN ? facts_find(f, facts_table_index(f, "module"), driver.s) : NULL;
    derive_set(f, r, "driver-api", m ? *facts_cell(f, m, "api")
                                   : driver.state == VS_ABSENT ? value_absent() : derive_unknown(f, "module", &driver));
    candidates(f, r);
    derive_set(f, r, "fallback", fallback(f, r, &driver));
    derive_set(f, r, "raid", nextboot_raid(f, r, &driver));
}

static void identify(struct facts *f, const struct row *r, const struct derive_env *env)
{
    const struct value *v = facts_cell(f, r, "vendor"), *d = facts_cell(f, r, "device");
    const struct value *sv = facts_cell(f, r, "subvendor"), *sd = facts_cell(f, r, "subdevice");
    const struct value *vn = facts_cell(f, r, "vendor-name"), *dn = facts_cell(f, r, "device-name");
    struct slice name = {NULL, 0};
    uint64_t vendor, device;

    if (v->state != VS_KNOWN || d->state != VS_KNOWN)
        derive_set(f, r, "id", derive_unknown(f, "vendor and device id", v->state != VS_KNOWN ? v : d));
    else
        derive_set(f, r, "id",
                   derive_from(value_slice(slice_of(sv->state == VS_KNOWN && sd->state == VS_KNOWN
                                            ? arena_printf(f->arena, SLICE_FMT ":" SLICE_FMT ":" SLICE_FMT ":" SLICE_FMT, SLICE_ARG(v->s),
                                                           SLICE_ARG(d->s), SLICE_ARG(sv->s), SLICE_ARG(sd->s))
                                            : arena_printf(f->arena, SLICE_FMT ":" SLICE_FMT, SLICE_ARG(v->s), SLICE_ARG(d->s)))), v));
    if (dn->state == VS_KNOWN)
        name = vn->state == VS_KNOWN && !slice_starts(dn->s, vn->s.p)
                   ? slice_of(arena_printf(f->arena, SLICE_FMT " " SLICE_FMT, SLICE_ARG(vn->s), SLICE_ARG(dn->s)))
                   : dn->s;
    else if (env->pci_name && v->state == VS_KNOWN && d->state == VS_KNOWN && num_parse_hex(v->s, 4, &vendor) == 0 &&
             num_parse_hex(d->s, 4, &device) == 0)
        name = env->pci_name(env->ctx, (uint16_t)vendor, (uint16_t)device, f->arena);
    derive_set(f, r, "name", name.n ? value_slice(name) : value_unknown("neither the host nor pci.ids names it"));
}

/* The VIB's version, else the module's, else what the driver reported of itself. */
static struct value driver_version(struct facts *f, const struct row *r, const struct row *module, const struct value *none)
{
    const struct row *vib = facts_ref(f, r, "vib");

    if (vib && facts_cell(f, vib, "version")->state == VS_KNOWN)
        return *facts_cell(f, vib, "version");
    if (module && facts_cell(f, module, "driver-version")->state == VS_KNOWN)
        return *facts_cell(f, module, "driver-version");
    if (r->table == facts_table_index(f, "nic") && facts_cell(f, r, "reported-version")->state == VS_KNOWN)
        return *facts_cell(f, r, "reported-version");
    return module ? derive_unknown(f, "VIB and module", facts_cell(f, module, "driver-version")) : *none;
}

void derive_pci(struct facts *f, const struct derive_env *env)
{
    static const char *const tables[] = {"adapter", "nic"};
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "pci", i)); i++) {
        identify(f, r, env);
        claim(f, r);
    }
    for (size_t i = 0; (r = derive_row(f, "gpu", i)); i++)
        derive_set(f, r, "pci", value_slice(r->key));
    for (unsigned k = 0; k < 2; k++) /* what follows from the driver's name, for adapters and NICs alike */
        for (size_t i = 0; (r = derive_row(f, tables[k], i)); i++) {
            const struct value *driver = facts_cell(f, r, "driver");
            const struct row *m = driver->state == VS_KNOWN ? facts_find(f, facts_table_index(f, "module"), driver->s) : NULL;
            struct value none = driver->state == VS_ABSENT ? value_absent()
                                : driver->state == VS_KNOWN ? value_unknown("its driver is not in the module list")
                                                            : derive_unknown(f, "driver", driver);

            derive_set(f, r, "module", driver->state == VS_KNOWN ? *driver : none);
            derive_set(f, r, "vib", m ? *facts_cell(f, m, "vib") : driver->state == VS_KNOWN ? derive_vib_of(f, driver->s) : none);
            derive_set(f, r, "driver-version", driver_version(f, r, m, &none));
            derive_set(f, r, "driver-api", m ? *facts_cell(f, m, "api") : none);
        }
}
