#include "core/derive.h"
#include "core/nextboot.h"

/*
 * Which module may claim a function, and which one would, by the host's own map files. Native maps are consulted first, the vmklinux ones for
 * devices that no native driver took; native patterns have 22 characters VVVVDDDDSSSSssssCCCCCC ('.' any digit), vmklinux ones
 * "VVVV:DDDD SSSS:ssss" with 0000 for any. Source: map files of the 6.7.0 image, build 8169922.
 */

enum fit { NO, YES, OPEN };

static enum fit fit_digits(struct slice pattern, const struct value *v, unsigned digits)
{
    bool any = true;

    for (unsigned i = 0; i < digits; i++)
        any &= pattern.p[i] == '.';
    if (any)
        return YES;
    if (v->state != VS_KNOWN || v->s.n != digits)
        return OPEN;
    for (unsigned i = 0; i < digits; i++)
        if (pattern.p[i] != '.' && pattern.p[i] != v->s.p[i])
            return NO;
    return YES;
}

static enum fit fit_native(const struct facts *f, struct slice p, const struct row *r)
{
    static const struct {
        const char *column;
        unsigned at, digits;
    } parts[] = {{"vendor", 0, 4}, {"device", 4, 4}, {"subvendor", 8, 4}, {"subdevice", 12, 4}, {"class", 16, 4}, {"prog-if", 20, 2}};
    enum fit all = YES;

    if (p.n != 22)
        return NO;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        enum fit one = fit_digits(slice_from(p, parts[i].at), facts_cell(f, r, parts[i].column), parts[i].digits);

        if (one == NO)
            return NO;
        all = one == OPEN ? OPEN : all;
    }
    return all;
}

static enum fit fit_linux(const struct facts *f, struct slice p, const struct row *r)
{
    static const char *const columns[] = {"vendor", "device", "subvendor", "subdevice"};
    struct slice word;
    enum fit all = YES;

    for (unsigned i = 0; i < 4; i++) {
        const struct value *v = facts_cell(f, r, columns[i]);

        if (!slice_next_word(&p, ": ", &word) || word.n != 4)
            return NO;
        if (i >= 2 && slice_eqz(word, "0000"))
            continue;
        if (v->state != VS_KNOWN)
            all = OPEN;
        else if (!slice_ieq(v->s, word))
            return NO;
    }
    return all;
}

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
        enum fit fit;

        if (!known_text(facts_cell(f, m, "bus"), "pci"))
            continue;
        fit = is_linux ? fit_linux(f, pattern, r) : fit_native(f, pattern, r);
        if (fit == YES)
            texts_add(is_linux ? &linux_ : &native, facts_cell(f, m, "driver")->s, f->arena);
        open |= fit == OPEN;
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
    unsigned modules = facts_table_index(f, "module");
    const char *why;
    bool lost;

    if (c->state == VS_ABSENT)
        return value_absent();
    if (c->state == VS_UNKNOWN)
        return derive_unknown(f, "candidates", c);
    if (driver->state != VS_KNOWN)
        return value_unknown("no driver has claimed it, so there is nothing to fall back from");
    for (size_t i = 0; i < c->nlist; i++) {
        const struct row *m = facts_find(f, modules, c->list[i]);
        const struct value *enabled = facts_cell(f, m, "enabled");

        if (slice_eq(c->list[i], driver->s))
            continue;
        if (!m && facts_table(f, modules, &why) != TS_COMPLETE)
            return value_unknown(arena_printf(f->arena, "module list: %s", why));
        if (m && enabled->state != VS_KNOWN)
            return derive_unknown(f, "enabled state of a candidate", enabled);
        if (!m || !enabled->i)
            continue;
        why = nextboot_lacks(f, m, &lost);
        if (!why)
            return value_slice(m->key);
        if (!lost)
            return value_unknown(why);
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
