#include "core/claim.h"
#include "core/gate_parts.h"
#include "core/nextboot.h"

/* Gates of module changes. The setting acts on the whole host: every device that the module drives counts, not only the finding's. */

#define MAX_MODULES 64u /* a fix has fewer actions */

/* Has the fix this action for the module. */
static bool acts_on(const struct fix *fix, const char *action, struct slice module)
{
    for (unsigned i = 0; i < fix->nactions; i++)
        if (strcmp(fix->actions[i].action->name, action) == 0 && slice_eq(fix->actions[i].values[0], module))
            return true;
    return false;
}

/* The Marvell 88SE9230 of a Dell BOSS-S1 boot card (dell.com/support/kbdoc/en-us/000177584): its mirror holds the boot banks. */
static bool is_boss(const struct value *id)
{
    return id->state == VS_KNOWN && slice_starts(id->s, "1b4b:9230");
}

/* Still the host's, and a machine's from the next boot on. */
static bool goes_to_machine(const struct match_ctx *m, const struct row *pci)
{
    const struct value *owner = facts_cell(m->facts, pci, "owner");

    return !known_text(owner, "VM Passthru") && (known_text(facts_cell(m->facts, pci, "configured-owner"), "VM Passthru") ||
                                                 (known_bool(facts_cell(m->facts, pci, "passthru"), true) && owner->state == VS_KNOWN));
}

static bool passed_through(const struct match_ctx *m, const struct row *pci)
{
    return known_bool(facts_cell(m->facts, pci, "passthru"), true) || known_text(facts_cell(m->facts, pci, "owner"), "VM Passthru");
}

/* The VIB that carries a module the fix leads to must not go with the same fix. */
static void check_kept(const struct match_ctx *m, const struct fix *fix, const struct row *module, struct fix_check *c)
{
    const struct value *vib = facts_cell(m->facts, module, "vib");

    if (vib->state == VS_KNOWN && acts_on(fix, "vib-remove", vib->s))
        gate_block(c, GATE_REFUSED, SLICE_FMT " is needed, and the same fix removes its VIB " SLICE_FMT, SLICE_ARG(module->key), SLICE_ARG(vib->s));
    for (unsigned i = 0; i < fix->nactions; i++) {
        struct slice removed = fix->actions[i].values[0];

        if (strcmp(fix->actions[i].action->name, "vib-remove") == 0 &&
            (slice_find(removed, 0, "libata") != SIZE_MAX || slice_find(removed, 0, "vmklinux") != SIZE_MAX))
            gate_block(c, GATE_REFUSED, "the same fix removes the VIB " SLICE_FMT ", on which vmklinux drivers stand", SLICE_ARG(removed));
    }
}

/* Does the fix say who must drive the subject afterwards, and is it somebody else. */
static bool not_wanted(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice driver)
{
    const struct table *t = &m->facts->schema->tables[subject->table];

    for (unsigned i = 0; i < fix->nthen; i++) {
        const struct test *x = &fix->then[i];
        bool wanted = false;

        if (x->op != TEST_IS || !slice_eqz(t->columns[x->column].name, "driver"))
            continue;
        for (unsigned k = 0; k < x->nvalues; k++)
            wanted |= slice_glob(x->values[k], driver);
        if (!wanted)
            return true;
    }
    return false;
}

/* A driver was found that would take the function: is that good. */
static void check_taker(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module, const struct row *pci,
                        struct slice user, const struct row *other, struct fix_check *c)
{
    const struct value driver = value_slice(module), raid = nextboot_raid(m->facts, pci, &driver);
    const char *lacks;
    bool lost;

    if (raid.state != VS_KNOWN)
        gate_block(c, GATE_UNKNOWN, "whether " SLICE_FMT " (" SLICE_FMT ") is a RAID function is not known: %s", SLICE_ARG(user),
                   SLICE_ARG(pci->key), raid.why);
    else if (raid.i)
        gate_block(c, GATE_REFUSED, SLICE_FMT " (" SLICE_FMT ") is a RAID function: under " SLICE_FMT " an array would appear as single disks",
                   SLICE_ARG(user), SLICE_ARG(pci->key), SLICE_ARG(other->key));
    if (not_wanted(m, fix, subject, other->key))
        gate_block(c, GATE_REFUSED, SLICE_FMT " would claim " SLICE_FMT " (" SLICE_FMT "), which is not the driver that this fix is to lead to",
                   SLICE_ARG(other->key), SLICE_ARG(user), SLICE_ARG(pci->key));
    check_kept(m, fix, other, c);
    lacks = nextboot_lacks(m->facts, other, &lost);
    if (lacks)
        gate_block(c, lost ? GATE_REFUSED : GATE_UNKNOWN, "%s", lacks);
    gate_warn(c, SLICE_FMT " would then claim " SLICE_FMT " (" SLICE_FMT "): its map file lists the device", SLICE_ARG(other->key),
              SLICE_ARG(user), SLICE_ARG(pci->key));
}

/* The modules that the fix names in one kind of action. */
static size_t modules_of(const struct fix *fix, const char *action, struct slice *out)
{
    size_t n = 0;

    for (unsigned i = 0; i < fix->nactions && n < MAX_MODULES; i++)
        if (strcmp(fix->actions[i].action->name, action) == 0)
            out[n++] = fix->actions[i].values[0];
    return n;
}

/* Who takes one PCI function when its module is disabled. */
static void check_fallback(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module, const struct row *pci,
                           struct slice user, struct fix_check *c)
{
    const struct value *list = facts_cell(m->facts, pci, "candidates");
    const struct value *owner = facts_cell(m->facts, pci, "owner"), *next = facts_cell(m->facts, pci, "configured-owner");
    struct slice disabled[MAX_MODULES], enabled[MAX_MODULES];
    const struct claim_change change = {.disable = disabled, .ndisable = modules_of(fix, "module-disable", disabled),
                                        .enable = enabled, .nenable = modules_of(fix, "module-enable", enabled)};
    const char *why, *open = NULL;

    if (owner->conflict || next->conflict)
        gate_block(c, GATE_UNKNOWN, "who has " SLICE_FMT " (" SLICE_FMT ") is told differently: %s", SLICE_ARG(user), SLICE_ARG(pci->key),
                   owner->conflict ? owner->why : next->why);
    if (goes_to_machine(m, pci)) {
        gate_block(c, GATE_REFUSED, SLICE_FMT " (" SLICE_FMT ") is to be passed through to a machine from the next boot on: settle that first",
                   SLICE_ARG(user), SLICE_ARG(pci->key));
        return;
    }
    if (passed_through(m, pci))
        return;
    if (is_boss(facts_cell(m->facts, pci, "id")))
        gate_block(c, GATE_REFUSED, SLICE_FMT " (" SLICE_FMT ") is the controller of a Dell BOSS boot card: the host could lose its boot disk",
                   SLICE_ARG(user), SLICE_ARG(pci->key));
    if (list->state == VS_UNKNOWN) {
        gate_block(c, GATE_UNKNOWN, "which driver would take " SLICE_FMT " (" SLICE_FMT ") is not known: %s", SLICE_ARG(user),
                   SLICE_ARG(pci->key), list->why);
        return;
    }
    for (size_t i = 0; list->state == VS_KNOWN && i < list->nlist; i++) {
        const struct row *other;
        enum claim_standing s = slice_eq(list->list[i], module) ? CLAIM_OUT : claim_may_load(m->facts, list->list[i], &change, &other, &why);

        if (s == CLAIM_OPEN && !other) {
            gate_block(c, GATE_UNKNOWN, "whether this host has the module " SLICE_FMT " is not known: %s", SLICE_ARG(list->list[i]), why);
            return;
        }
        if (s == CLAIM_STANDS) {
            check_taker(m, fix, subject, module, pci, user, other, c);
            return;
        }
        open = s == CLAIM_OPEN ? why : open;
    }
    if (open)
        gate_block(c, GATE_UNKNOWN, "whether another driver may load for " SLICE_FMT " (" SLICE_FMT ") is not known: %s", SLICE_ARG(user),
                   SLICE_ARG(pci->key), open);
    else if (!facts_complete(m->facts, "driver-map", &why))
        gate_block(c, GATE_UNKNOWN, "whether another driver lists " SLICE_FMT " (" SLICE_FMT ") is not known, map files: %s", SLICE_ARG(user),
                   SLICE_ARG(pci->key), why);
    else
        gate_block(c, GATE_REFUSED, "no other driver that this host has and may load lists " SLICE_FMT " (" SLICE_FMT
                   "): it would be left without one%s", SLICE_ARG(user), SLICE_ARG(pci->key),
                   m->facts->release.major >= 7 ? "; from 7.0 there are no vmklinux drivers to fall back on" : "");
}

static bool lists_module(const struct value *candidates, struct slice module)
{
    return candidates->state == VS_KNOWN && slice_among(candidates->list, candidates->nlist, module);
}

/* One adapter or NIC that the module drives. */
static void check_user(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module, const struct row *r,
                       struct fix_check *c)
{
    const struct value *pci = facts_cell(m->facts, r, "pci"), *owner, *machines, *boots;
    const struct row *function;
    const char *why;

    if (pci->state == VS_ABSENT) {
        gate_block(c, GATE_REFUSED, SLICE_FMT " has no PCI function of its own, so what would drive it cannot be told", SLICE_ARG(r->key));
        return;
    }
    function = facts_ref(m->facts, r, "pci");
    if (!function) {
        (void)facts_complete(m->facts, "pci", &why);
        gate_block(c, GATE_UNKNOWN, "the PCI function of " SLICE_FMT " is not known: %s", SLICE_ARG(r->key),
              pci->why ? pci->why : why ? why : "it is not in the PCI list");
        return;
    }
    owner = facts_cell(m->facts, function, "module");
    if (owner->state == VS_KNOWN && !slice_eq(owner->s, module) && lists_module(facts_cell(m->facts, function, "candidates"), module))
        gate_block(c, GATE_UNKNOWN, "the PCI list says that " SLICE_FMT " drives " SLICE_FMT ", its own list says " SLICE_FMT,
                   SLICE_ARG(owner->s), SLICE_ARG(r->key), SLICE_ARG(module));
    if (owner->state == VS_ABSENT || owner->conflict)
        gate_block(c, GATE_UNKNOWN, "what drives " SLICE_FMT " is told differently: its own list says " SLICE_FMT ", the PCI list %s",
                   SLICE_ARG(r->key), SLICE_ARG(module), owner->conflict ? owner->why : "nothing");
    check_fallback(m, fix, subject, module, function, r->key, c);
    if (r->table != facts_table_index(m->facts, "adapter"))
        return;
    boots = facts_cell(m->facts, r, "boots");
    machines = facts_cell(m->facts, r, "machines");
    if (boots->state == VS_UNKNOWN)
        gate_block(c, GATE_UNKNOWN, "whether the host boots over " SLICE_FMT " is not known: %s", SLICE_ARG(r->key), boots->why);
    else if (known_bool(boots, true))
        gate_warn(c, "the host boots over " SLICE_FMT ": have a console at hand, and a way back that does not need this controller",
                  SLICE_ARG(r->key));
    if (machines->state == VS_UNKNOWN)
        gate_warn(c, "which machines run on datastores behind " SLICE_FMT " is not known (%s): maintenance mode first", SLICE_ARG(r->key),
                  machines->why ? machines->why : "not asked");
    else if (machines->state == VS_KNOWN)
        gate_warn(c, "%s%zu running machine%s on datastores behind " SLICE_FMT ": maintenance mode first",
                  derive_whole_behind(m->facts, BEHIND_MACHINES) ? "" : "at least ", machines->nlist, machines->nlist == 1 ? "" : "s",
                  SLICE_ARG(r->key));
}

static void check_boss(const struct match_ctx *m, const struct row *adapter, struct fix_check *c)
{
    const struct value *devices = facts_cell(m->facts, adapter, "devices");
    const char *why;

    if (devices->state == VS_UNKNOWN)
        gate_block(c, GATE_UNKNOWN, "which devices hang on " SLICE_FMT " is not known: %s", SLICE_ARG(adapter->key), devices->why);
    else if (!facts_complete(m->facts, "path", &why))
        gate_block(c, GATE_UNKNOWN, "which devices hang on " SLICE_FMT " is not known in full: %s", SLICE_ARG(adapter->key), why);
    for (size_t i = 0; devices->state == VS_KNOWN && i < devices->nlist; i++) {
        const struct row *d = facts_find(m->facts, facts_table_index(m->facts, "device"), devices->list[i]);
        const struct value *model = facts_cell(m->facts, d, "model");

        if (model->state == VS_UNKNOWN)
            gate_block(c, GATE_UNKNOWN, "whether " SLICE_FMT " behind " SLICE_FMT " is a boot card's disk is not known: %s",
                       SLICE_ARG(devices->list[i]), SLICE_ARG(adapter->key), model->why ? model->why : "its model was not read");
        if (model->state == VS_KNOWN && slice_find(model->s, 0, "DELLBOSS") != SIZE_MAX)
            gate_block(c, GATE_REFUSED, SLICE_FMT " is a Dell BOSS boot card: the host could lose its boot disk", SLICE_ARG(adapter->key));
    }
}

static void check_management(const struct match_ctx *m, const struct row *nic, struct fix_check *c)
{
    const struct row *vmk = facts_find(m->facts, facts_table_index(m->facts, "vmknic"), SLICE_LIT("vmk0"));
    const struct value *sw = facts_cell(m->facts, vmk, "switch"), *in = facts_cell(m->facts, nic, "vswitches");

    for (size_t i = 0; sw->state == VS_KNOWN && in->state == VS_KNOWN && i < in->nlist; i++)
        if (slice_eq(in->list[i], sw->s))
            gate_warn(c, SLICE_FMT " is an uplink of the management network (vmk0): have an out-of-band console", SLICE_ARG(nic->key));
}

/* The adapter or NIC on a function; NULL when the lists have none. */
static const struct row *user_of(const struct match_ctx *m, const struct row *pci)
{
    static const char *const tables[] = {"adapter", "nic"};
    const struct row *r;

    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; (r = derive_row(m->facts, tables[k], i)); i++)
            if (facts_cell(m->facts, r, "pci")->state == VS_KNOWN && slice_eq(facts_cell(m->facts, r, "pci")->s, pci->key))
                return r;
    return NULL;
}

/* Functions that are no adapter and no NIC (USB controllers, GPUs), or ought to be one and are in neither list. Returns whether it is driven. */
static bool check_function(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module,
                           const struct row *pci, struct fix_check *c)
{
    const struct value *owner = facts_cell(m->facts, pci, "module"), *alias = facts_cell(m->facts, pci, "alias");

    if (user_of(m, pci))
        return false;
    if (owner->state == VS_UNKNOWN && !passed_through(m, pci) && lists_module(facts_cell(m->facts, pci, "candidates"), module))
        gate_block(c, GATE_UNKNOWN, "whether " SLICE_FMT " drives " SLICE_FMT " is not known: %s", SLICE_ARG(module), SLICE_ARG(pci->key),
                   owner->why ? owner->why : "not asked");
    if (owner->state != VS_KNOWN || !slice_eq(owner->s, module))
        return false;
    if (alias->state == VS_KNOWN && (slice_starts(alias->s, "vmhba") || slice_starts(alias->s, "vmnic")))
        gate_block(c, GATE_UNKNOWN, SLICE_FMT " drives " SLICE_FMT " (" SLICE_FMT "), which is not in the list of adapters or NICs: what hangs"
                   " on it is not known", SLICE_ARG(module), SLICE_ARG(alias->s), SLICE_ARG(pci->key));
    check_fallback(m, fix, subject, module, pci, pci->key, c);
    return true;
}

/* One adapter or NIC. Returns whether the module drives it. */
static bool check_listed(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module, const struct row *r,
                         struct fix_check *c)
{
    const struct value *by = facts_cell(m->facts, r, "driver");

    if (by->state == VS_ABSENT && facts_cell(m->facts, facts_ref(m->facts, r, "pci"), "module")->state == VS_ABSENT)
        return false; /* a NIC that no driver has claimed, and the PCI list agrees */
    if (by->state != VS_KNOWN) { /* each has a driver: printed as none, it is as good as not printed */
        gate_block(c, GATE_UNKNOWN, "whether " SLICE_FMT " drives " SLICE_FMT " is not known: %s", SLICE_ARG(module), SLICE_ARG(r->key),
                   by->state == VS_ABSENT ? "printed as none" : by->why ? by->why : "not asked");
        return false;
    }
    if (!slice_eq(by->s, module))
        return false;
    check_user(m, fix, subject, module, r, c);
    if (r->table == facts_table_index(m->facts, "adapter"))
        check_boss(m, r, c);
    else
        check_management(m, r, c);
    return true;
}

/* A module that drives nothing here: a driver may go, but what needs any other module nobody can tell. */
static void check_is_driver(const struct match_ctx *m, struct slice module, struct fix_check *c)
{
    const struct row *r;
    const char *why = NULL;

    for (size_t i = 0; (r = derive_row(m->facts, "driver-map", i)); i++)
        if (slice_eq(facts_cell(m->facts, r, "driver")->s, module))
            return;
    if (facts_complete(m->facts, "driver-map", &why))
        gate_block(c, GATE_REFUSED, SLICE_FMT " drives no device of this host and no map file names it: what depends on it is not known",
                   SLICE_ARG(module));
    else
        gate_block(c, GATE_UNKNOWN, "whether " SLICE_FMT " is a device driver is not known: it drives nothing here, and the map files: %s",
                   SLICE_ARG(module), why);
}

void gate_module_disable(const struct match_ctx *m, const struct fix *fix, const struct row *subject, struct slice module, struct fix_check *c)
{
    static const char *const tables[] = {"adapter", "nic", "pci"};
    const struct row *r, *host = facts_single(m->facts, "host");
    const struct value *usb = facts_cell(m->facts, host, "boot-usb");
    bool driver = false;
    const char *why;

    for (unsigned k = 0; k < 3; k++)
        if (!facts_complete(m->facts, tables[k], &why))
            gate_block(c, GATE_UNKNOWN, "the setting acts on the whole host, and the %s list is not complete: %s", tables[k], why);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; (r = derive_row(m->facts, tables[k], i)); i++)
            driver |= check_listed(m, fix, subject, module, r, c);
    for (size_t i = 0; (r = derive_row(m->facts, "pci", i)); i++)
        driver |= check_function(m, fix, subject, module, r, c);
    if (!driver)
        check_is_driver(m, module, c);
    if (slice_eqz(module, "vmkusb") || slice_starts(module, "usb") || slice_starts(module, "xhci") || slice_starts(module, "ehci")) {
        if (usb->state != VS_KNOWN)
            gate_block(c, GATE_UNKNOWN, "whether the host boots from USB is not known: %s", usb->why ? usb->why : "not asked");
        else if (usb->i)
            gate_block(c, GATE_REFUSED, "the host boots from USB, which this module drives");
    }
}

void gate_module_known(const struct match_ctx *m, struct slice module, struct fix_check *c)
{
    const char *why;

    if (facts_find(m->facts, facts_table_index(m->facts, "module"), module))
        return;
    if (facts_complete(m->facts, "module", &why))
        gate_block(c, GATE_REFUSED, "this host has no module " SLICE_FMT, SLICE_ARG(module));
    else
        gate_block(c, GATE_UNKNOWN, "whether this host has the module " SLICE_FMT " is not known: %s", SLICE_ARG(module), why);
}
