#include "core/claim_parts.h"
#include "core/derive.h"

#define ASK_MAPS "/etc/vmware/default.map.d/*.map, /etc/vmware/driver.map.d/*.map"

static bool upgrades_from(const struct claim_world *w)
{
    return w->change && w->change->upgrade.major != 0;
}

static void unknown(struct claim *c, const char *why, const char *ask)
{
    c->outcome = CLAIM_UNKNOWN;
    c->why = why;
    c->ask = ask;
    c->takers = NULL;
    c->ntakers = 0;
}

/* What would have to be asked; from the reason, when that quotes a command. */
static const char *ask_of(const struct claim_world *w, const char *why)
{
    struct slice s = slice_of(why);
    size_t at = why ? slice_find(s, 0, NO_ANSWER_TO "\"") : SIZE_MAX, end;

    if (at == SIZE_MAX)
        return NULL;
    s = slice_from(s, at + sizeof NO_ANSWER_TO);
    end = slice_find_char(s, 0, '"');
    return arena_printf(w->f->arena, SLICE_FMT, SLICE_ARG(slice_cut(s, 0, end == SIZE_MAX ? s.n : end)));
}

static bool passed(const struct claim_world *w, const struct row *pci)
{
    return known_bool(facts_cell(w->f, pci, "passthru"), true) || known_text(facts_cell(w->f, pci, "owner"), "VM Passthru");
}

/* What is known of the function does not tell one story, or it is about to go to a machine. */
static bool is_disputed(const struct claim_world *w, struct claim *c)
{
    static const char *const columns[] = {"vendor", "device", "subvendor", "subdevice", "class", "owner", "configured-owner", "module"};
    const struct value *owner = facts_cell(w->f, c->pci, "owner");

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (facts_cell(w->f, c->pci, columns[i])->conflict) {
            unknown(c, facts_cell(w->f, c->pci, columns[i])->why, NULL);
            return true;
        }
    if (passed(w, c->pci)) {
        c->outcome = CLAIM_PASSED;
        c->why = "a machine has it by passthrough: the host needs no driver for it";
        return true;
    }
    if (!known_text(owner, "VM Passthru") && known_text(facts_cell(w->f, c->pci, "configured-owner"), "VM Passthru")) {
        unknown(c, "it is to be passed through to a machine from the next boot on: settle that first", NULL);
        return true;
    }
    if (c->driver.state == VS_UNKNOWN) {
        unknown(c, arena_printf(w->f->arena, "which driver has it now is not known: %s", c->driver.why ? c->driver.why : "not asked"),
                "esxcli hardware pci list");
        return true;
    }
    return false;
}

static const struct claim_contender *present(const struct claim *c)
{
    for (size_t i = 0; i < c->ncontenders; i++)
        if (c->driver.state == VS_KNOWN && slice_eq(c->contenders[i].was, c->driver.s))
            return &c->contenders[i];
    return NULL;
}

/* Would it compete for the first time: it was not there at the last boot. */
static bool newcomer(const struct claim_world *w, const struct claim_contender *c)
{
    const struct row *row = facts_find(w->f, facts_table_index(w->f, "module"), c->module);

    return c->comes || c->now == CLAIM_OUT || (c->now == CLAIM_OPEN && !row);
}

/*
 * A native module that may load and lists the function, is not loaded, and a vmklinux driver has it: it was enabled since the last boot and takes
 * it at the next one, or something that the map files do not tell keeps it away, as seen with hpvsa beside vmw_ahci.
 */
static bool held_off(const struct claim_world *w, const struct claim_contender *c, const struct claim_contender *driver)
{
    const struct row *row = facts_find(w->f, facts_table_index(w->f, "module"), c->module);

    return !c->vmklinux && driver->vmklinux && c->now == CLAIM_STANDS && !known_bool(facts_cell(w->f, row, "loaded"), true);
}

/* Lists for the takers: who surely may take it, and who may when what is open of it turns out well. */
struct race {
    const struct claim_contender *sure[16], *open[16];
    size_t nsure, nopen;
};

static void put(const struct claim_contender **v, size_t *n, const struct claim_contender *c)
{
    if (*n < 16)
        v[(*n)++] = c;
}

static void run(const struct claim *c, bool vmklinux, struct race *r)
{
    *r = (struct race){.nsure = 0};
    for (size_t i = 0; i < c->ncontenders; i++) {
        const struct claim_contender *x = &c->contenders[i];

        if (x->vmklinux != vmklinux || x->next == CLAIM_OUT)
            continue;
        if (x->next == CLAIM_STANDS && !x->open)
            put(r->sure, &r->nsure, x);
        else
            put(r->open, &r->nopen, x);
    }
}

static void take(const struct claim_world *w, struct claim *c, const struct claim_contender *const *v, size_t n)
{
    struct slice *t = arena_array(w->f->arena, n + 1, sizeof *t);

    for (size_t i = 0; t && i < n; i++)
        t[i] = v[i]->module;
    c->takers = t;
    c->ntakers = t ? n : 0;
    c->outcome = c->driver.state == VS_KNOWN ? CLAIM_CHANGES : CLAIM_GAINS;
}

static const char *open_text(const struct claim_world *w, const struct claim_contender *x)
{
    return arena_printf(w->f->arena, SLICE_FMT " may take it: %s", SLICE_ARG(x->module),
                        x->open ? "the function's ids are not known well enough to compare with the map files" : x->why_next ? x->why_next : "not known");
}

/* One tier, of which at least one surely may take it. */
static void decide_race(const struct claim_world *w, struct claim *c, const struct race *r, const struct claim_contender *driver)
{
    size_t exact = 0;

    for (size_t i = 0; i < r->nsure; i++)
        exact += r->sure[i]->exact;
    for (size_t i = 0; i < r->nopen; i++) /* not there for sure, and would go first or beside */
        if (r->open[i] != driver && (r->open[i]->exact || exact == 0)) {
            if (driver && !upgrades_from(w) && driver->next == CLAIM_STANDS && r->open[i]->now == CLAIM_OPEN && !newcomer(w, r->open[i]))
                continue; /* it competed at the last boot, and lost */
            unknown(c, open_text(w, r->open[i]), ask_of(w, r->open[i]->why_next));
            return;
        }
    if (exact > 0 && exact < r->nsure) { /* sorted: those that name ids come first */
        take(w, c, r->sure, exact);
        c->sure = CLAIM_LIKELY;
        c->why = "its map names the ids, the others' only the class";
    } else {
        take(w, c, r->sure, r->nsure);
        c->sure = r->nsure == 1 ? CLAIM_SURE : CLAIM_LIKELY;
        c->why = r->nsure == 1 ? "it is the only one that may load and lists the function" : "each lists the function; which one wins is not documented";
    }
}

static void keep(struct claim *c, const struct claim_contender *driver, const char *why, enum claim_sure sure)
{
    c->outcome = CLAIM_STAYS;
    c->why = why;
    c->sure = sure;
    if (!slice_eq(driver->module, c->driver.s))
        c->takers = &driver->module, c->ntakers = 1;
}

/* Nobody of whom we know takes it. When is that enough to say that nobody does. */
static void decide_none(const struct claim_world *w, struct claim *c, const struct claim_contender *driver)
{
    const struct release *to = w->change && w->change->upgrade.major ? &w->change->upgrade : &w->f->release;
    const struct driver_change *only = driver ? driverdata_change(w->data, w->builds, "only", driver->module, NULL, to) : NULL;
    const char *gone = driver && driver->why_next ? driver->why_next : "it cannot load";

    if (!driver) {
        c->outcome = CLAIM_NONE;
        c->sure = w->whole && !(w->change && w->change->upgrade.major) ? CLAIM_SURE : CLAIM_LIKELY;
        c->why = w->whole ? "no map file of the host lists it with a module that may load" : "no module that is known of lists it and may load";
        return;
    }
    c->outcome = CLAIM_LOSES;
    c->sure = CLAIM_SURE;
    if (w->change && w->change->upgrade.major) {
        const struct driver_change *news = driverdata_change(w->data, w->builds, "module", driver->module, &w->f->release, to);

        c->sure = news && news->sure ? CLAIM_SURE : CLAIM_LIKELY;
        c->why = arena_printf(w->f->arena, "%s; no native driver that is known of lists it", gone);
    } else if (w->whole)
        c->why = arena_printf(w->f->arena, "%s; no other module that this host has and may load lists it%s", gone,
                              w->f->release.major >= 7 ? ", and from 7.0 there are no vmklinux drivers to fall back on" : "");
    else if (only)
        c->why = arena_printf(w->f->arena, "%s; from %d.%d on it is the only driver of its family (" SLICE_FMT ")", gone, only->from.major,
                              only->from.minor, SLICE_ARG(only->source));
    else
        unknown(c, arena_printf(w->f->arena, "%s; nobody else that is known of would take it, but that rests on %s", gone, w->basis_text), ASK_MAPS);
}


/* The driver of now may load again. Is there anyone who could take it away. */
static bool stays(const struct claim_world *w, struct claim *c, const struct claim_contender *driver)
{
    bool upgrade = upgrades_from(w);

    for (size_t i = 0; i < c->ncontenders; i++) {
        const struct claim_contender *x = &c->contenders[i];

        if (x == driver || x->next == CLAIM_OUT || (x->vmklinux && !driver->vmklinux))
            continue;
        if (!upgrade && held_off(w, x, driver) && !newcomer(w, x)) {
            unknown(c, arena_printf(w->f->arena, SLICE_FMT " lists it, may load and would go first, is not loaded, and " SLICE_FMT " has it: either it was "
                                    "enabled since the last boot and takes it at the next, or something keeps it away that the map files do not tell",
                                    SLICE_ARG(x->module), SLICE_ARG(driver->module)), NULL);
            return true;
        }
        if (upgrade ? !x->vmklinux && driver->vmklinux : newcomer(w, x))
            return false;
    }
    if (upgrade) {
        const struct driver_change *news = driverdata_change(w->data, w->builds, "module", c->driver.s, &w->f->release, &w->change->upgrade);

        keep(c, driver, news && slice_eqz(news->to, "stays") ? arena_printf(w->f->arena, "%d.%d has it too (" SLICE_FMT ")", w->change->upgrade.major,
                                                                            w->change->upgrade.minor, SLICE_ARG(news->source))
                        : news ? arena_printf(w->f->arena, "it is called " SLICE_FMT " there (" SLICE_FMT ")", SLICE_ARG(news->to), SLICE_ARG(news->source))
                               : "nothing is known of its end; that the new release's map still lists the device is not known",
             CLAIM_LIKELY);
    } else
        /* what an enabled module lists only the host's own map files tell */
        keep(c, driver, "it may load, and nobody new competes for the function", w->whole || !w->change || w->change->nenable == 0 ? CLAIM_SURE : CLAIM_LIKELY);
    return true;
}

void claim_decide(const struct claim_world *w, struct claim *out)
{
    const struct claim_contender *driver;
    struct race native, linux_;

    for (size_t i = 0; i < out->ncontenders; i++)
        if (out->contenders[i].module.n == 0)
            return unknown(out, "a map file names no module", NULL);
    if (is_disputed(w, out))
        return;
    driver = present(out);
    if (driver && driver->next == CLAIM_STANDS && stays(w, out, driver))
        return;
    if (driver && driver->next == CLAIM_OPEN) {
        unknown(out, arena_printf(w->f->arena, "whether " SLICE_FMT " may load again is not known: %s", SLICE_ARG(driver->module),
                                  driver->why_next ? driver->why_next : "not asked"),
                ask_of(w, driver->why_next));
        return;
    }
    if (!driver && out->driver.state == VS_ABSENT && w->change == NULL && out->ncontenders == 0)
        return decide_none(w, out, NULL);
    run(out, false, &native);
    run(out, true, &linux_);
    if (native.nsure > 0)
        decide_race(w, out, &native, driver);
    else if (native.nopen > 0)
        unknown(out, open_text(w, native.open[0]), ask_of(w, native.open[0]->why_next));
    else if (linux_.nsure > 0)
        decide_race(w, out, &linux_, driver);
    else if (linux_.nopen > 0)
        unknown(out, open_text(w, linux_.open[0]), ask_of(w, linux_.open[0]->why_next));
    else
        decide_none(w, out, driver);
    if (out->outcome == CLAIM_CHANGES && out->ntakers == 1 && out->driver.state == VS_KNOWN && slice_eq(out->takers[0], out->driver.s))
        out->outcome = CLAIM_STAYS, out->takers = NULL, out->ntakers = 0;
    if ((w->basis == CLAIM_FROM_DATA || upgrades_from(w)) && (out->outcome == CLAIM_CHANGES || out->outcome == CLAIM_GAINS))
        out->sure = CLAIM_LIKELY;
}
