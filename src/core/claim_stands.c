#include "core/claim.h"
#include "core/derive.h"
#include "core/nextboot.h"

/*
 * What decides about one module: does its pattern fit, may it load, has it what it needs. Native patterns have 22 characters
 * VVVVDDDDSSSSssssCCCCCC ('.' any digit), vmklinux ones "VVVV:DDDD SSSS:ssss" with 0000 for any subsystem (map files of the 6.7.0 image).
 */

static enum claim_fit fit_digits(struct slice pattern, const struct value *v, unsigned digits)
{
    bool any = true;

    for (unsigned i = 0; i < digits; i++)
        any &= pattern.p[i] == '.';
    if (any)
        return FIT_YES;
    if (v->state != VS_KNOWN || v->s.n != digits)
        return FIT_OPEN;
    for (unsigned i = 0; i < digits; i++)
        if (pattern.p[i] != '.' && pattern.p[i] != v->s.p[i])
            return FIT_NO;
    return FIT_YES;
}

static enum claim_fit fit_digits_all(const struct facts *f, struct slice p, const struct row *r)
{
    static const struct {
        const char *column;
        unsigned at, digits;
    } parts[] = {{"vendor", 0, 4}, {"device", 4, 4}, {"subvendor", 8, 4}, {"subdevice", 12, 4}, {"class", 16, 4}, {"prog-if", 20, 2}};
    enum claim_fit all = FIT_YES;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        enum claim_fit one = fit_digits(slice_from(p, parts[i].at), facts_cell(f, r, parts[i].column), parts[i].digits);

        if (one == FIT_NO)
            return FIT_NO;
        all = one == FIT_OPEN ? FIT_OPEN : all;
    }
    return all;
}

static enum claim_fit fit_words(const struct facts *f, struct slice p, const struct row *r)
{
    static const char *const columns[] = {"vendor", "device", "subvendor", "subdevice"};
    struct slice word;
    enum claim_fit all = FIT_YES;

    for (unsigned i = 0; i < 4; i++) {
        const struct value *v = facts_cell(f, r, columns[i]);

        if (!slice_next_word(&p, ": ", &word) || word.n != 4)
            return FIT_NO;
        if (i >= 2 && slice_eqz(word, "0000"))
            continue;
        if (v->state != VS_KNOWN)
            all = FIT_OPEN;
        else if (!slice_ieq(v->s, word))
            return FIT_NO;
    }
    return all;
}

enum claim_fit claim_fits(const struct facts *f, struct slice pattern, bool vmklinux, const struct row *pci)
{
    if (vmklinux && slice_find_char(pattern, 0, ':') != SIZE_MAX)
        return fit_words(f, pattern, pci);
    return pattern.n == 22 ? fit_digits_all(f, pattern, pci) : FIT_NO;
}

static bool named(const struct slice *v, size_t n, struct slice s)
{
    return v && slice_among(v, n, s);
}

/* The VIB to be installed that carries a module; NULL when none does. */
static const struct claim_package *brings(const struct claim_change *c, struct slice module)
{
    for (size_t i = 0; c && i < c->ninstall; i++)
        if (named(c->install[i].modules, c->install[i].nmodules, module))
            return &c->install[i];
    return NULL;
}

static const struct claim_package *takes_place_of(const struct claim_change *c, struct slice vib)
{
    for (size_t i = 0; c && i < c->ninstall; i++)
        if (slice_eq(c->install[i].name, vib) || named(c->install[i].replaces, c->install[i].nreplaces, vib))
            return &c->install[i];
    return NULL;
}

/* Goes a module's VIB with the change. */
static enum claim_standing vib_stays(const struct facts *f, const struct row *module, const struct claim_change *c, const char **why)
{
    const struct value *vib = facts_cell(f, module, "vib");
    const struct claim_package *p;

    if (!c || (c->nremove == 0 && c->ninstall == 0))
        return CLAIM_STANDS;
    if (vib->state != VS_KNOWN) {
        if (vib->state == VS_ABSENT)
            return CLAIM_STANDS;
        *why = arena_printf(f->arena, "which VIB carries " SLICE_FMT " is not known: %s", SLICE_ARG(module->key), vib->why ? vib->why : "not asked");
        return CLAIM_OPEN;
    }
    p = takes_place_of(c, vib->s);
    if (!p && named(c->remove, c->nremove, vib->s)) {
        *why = arena_printf(f->arena, "its VIB " SLICE_FMT " is removed", SLICE_ARG(vib->s));
        return CLAIM_OUT;
    }
    if (!p)
        return CLAIM_STANDS;
    *why = arena_printf(f->arena, "the VIB " SLICE_FMT " is replaced by " SLICE_FMT " " SLICE_FMT ", which %s", SLICE_ARG(vib->s),
                        SLICE_ARG(p->name), SLICE_ARG(p->version), p->why ? p->why : "has no such module");
    return p->why ? CLAIM_OPEN : CLAIM_OUT;
}

enum claim_standing claim_may_load(const struct facts *f, struct slice module, const struct claim_change *c, const struct row **row,
                                   const char **why)
{
    const struct row *r = facts_find(f, facts_table_index(f, "module"), module);
    const struct value *enabled = facts_cell(f, r, "enabled");
    const struct claim_package *new = brings(c, module);
    enum claim_standing s;
    const char *list;

    *row = r;
    *why = NULL;
    if (c && named(c->disable, c->ndisable, module)) {
        *why = "it is disabled by the change";
        return CLAIM_OUT;
    }
    if (!r && !new) {
        bool whole = facts_complete(f, "module", &list);

        *why = whole ? "this host does not have it" : arena_printf(f->arena, "module list: %s", list);
        return whole ? CLAIM_OUT : CLAIM_OPEN;
    }
    if (!new && (s = vib_stays(f, r, c, why)) != CLAIM_STANDS)
        return s;
    if (c && named(c->enable, c->nenable, module))
        return CLAIM_STANDS;
    if (!r) /* a new one is enabled; a setting left from an earlier installation would be in the list */
        return CLAIM_STANDS;
    if (enabled->state != VS_KNOWN) {
        *why = arena_printf(f->arena, "enabled state of a candidate: %s", enabled->why ? enabled->why : "not known");
        return CLAIM_OPEN;
    }
    *why = enabled->i ? NULL : "it is disabled";
    return enabled->i ? CLAIM_STANDS : CLAIM_OUT;
}

/* The shims that vmklinux drivers stand on, as far as a change touches them. */
static const char *shim_goes(const struct facts *f, const struct claim_change *c)
{
    for (size_t i = 0; c && i < c->ndisable; i++)
        if (slice_starts(c->disable[i], "vmklinux") || slice_starts(c->disable[i], "libata"))
            return arena_printf(f->arena, SLICE_FMT ", on which vmklinux drivers stand, is disabled by the change", SLICE_ARG(c->disable[i]));
    for (size_t i = 0; c && i < c->nremove; i++)
        if (slice_find(c->remove[i], 0, "libata") != SIZE_MAX || slice_find(c->remove[i], 0, "vmklinux") != SIZE_MAX ||
            slice_eqz(c->remove[i], "misc-drivers"))
            return arena_printf(f->arena, "the VIB " SLICE_FMT ", on which vmklinux drivers stand, is removed", SLICE_ARG(c->remove[i]));
    return NULL;
}

enum claim_standing claim_stands(const struct facts *f, struct slice module, bool vmklinux, const struct claim_change *c, const char **why)
{
    const struct row *row;
    enum claim_standing s = claim_may_load(f, module, c, &row, why);
    bool lost, linux_ = vmklinux;
    const char *lacks;

    if (s != CLAIM_STANDS)
        return s;
    if (row && known_text(facts_cell(f, row, "api"), "vmklinux"))
        linux_ = true;
    lacks = linux_ ? shim_goes(f, c) : NULL;
    if (lacks) {
        *why = lacks;
        return CLAIM_OUT;
    }
    if (!row || brings(c, module)) { /* its VIB's files are put into boot.cfg with it */
        if (!linux_)
            return CLAIM_STANDS;
        *why = "it is a new vmklinux driver, and whether the shims that it needs are there is not known";
        return CLAIM_OPEN;
    }
    *why = nextboot_lacks(f, row, &lost);
    if (!*why)
        return CLAIM_STANDS;
    for (size_t i = 0; c && lost && i < c->nenable; i++) /* the shim that was disabled may be what is enabled */
        lost = !slice_starts(c->enable[i], "vmklinux") && !slice_starts(c->enable[i], "libata");
    return lost ? CLAIM_OUT : CLAIM_OPEN;
}
