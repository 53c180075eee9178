#include "core/gate.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/derive.h"

#define MAX_TEXTS 200u

static void add_text(struct fix_check *c, const char ***v, size_t *n, size_t *cap, const char *text)
{
    void *grown = *v;

    for (size_t i = 0; i < *n; i++)
        if (strcmp((*v)[i], text) == 0)
            return;
    if (arena_grow(c->arena, &grown, *n, cap, sizeof **v, MAX_TEXTS) < 0)
        return;
    *v = grown;
    (*v)[(*n)++] = text;
}

static void block(struct fix_check *c, enum gate_state state, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void block(struct fix_check *c, enum gate_state state, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (state > c->state)
        c->state = state;
    add_text(c, &c->reasons, &c->nreasons, &c->reasons_cap, arena_printf(c->arena, "%s", text));
}

static void warn(struct fix_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void warn(struct fix_check *c, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add_text(c, &c->notes, &c->nnotes, &c->notes_cap, arena_printf(c->arena, "%s", text));
}

/* --- arguments --- */

/* "${device.queue-depth}" from the subject row or a row it leads to by one reference; anything else is itself. */
static struct slice argument(const struct match_ctx *m, const struct finding *f, const struct action *a, unsigned k, struct slice written,
                             struct fix_check *c)
{
    const struct schema *s = m->facts->schema;
    struct slice inner = slice_cut(written, 2, written.n > 3 ? written.n - 3 : 0), text;
    size_t dot = slice_find_char(inner, 0, '.');
    const struct table *t = &s->tables[f->row->table];
    int col;

    if (written.n == 0 && a->args[k].kind == ARG_DEVICE)
        return f->row->key;
    if (!slice_starts(written, "${"))
        return written;
    col = dot == SIZE_MAX || !slice_eq(slice_cut(inner, 0, dot), t->name) ? -1 : table_column(t, slice_from(inner, dot + 1));
    text = col < 0 ? SLICE_LIT("") : value_text(&t->columns[col], &f->row->cells[col], m->arena);
    if (text.n == 0)
        block(c, GATE_UNKNOWN, SLICE_FMT " is not known for " SLICE_FMT, SLICE_ARG(inner), SLICE_ARG(f->row->key));
    else if (!action_arg_fits(a->args[k].kind, text))
        block(c, GATE_REFUSED, SLICE_FMT " is \"" SLICE_FMT "\", which is not %s", SLICE_ARG(inner), SLICE_ARG(text),
              action_arg_form(a->args[k].kind));
    return text;
}

/* --- gates of module changes --- */

/* Has the fix this action for the module. */
static bool acts_on(const struct fix *fix, const char *action, struct slice module)
{
    for (unsigned i = 0; i < fix->nactions; i++)
        if (strcmp(fix->actions[i].action->name, action) == 0 && slice_eq(fix->actions[i].values[0], module))
            return true;
    return false;
}

/* RAID in firmware: another driver shows the member disks of an array one by one, and writing to one destroys it
 * (communities.vmware.com message 221992 on the B120i; ids of the 6.7.0 map files). */
static bool firmware_raid(struct slice id, struct slice driver)
{
    static const char *const ids[] = {"8086:2822", "8086:2826", "8086:2827", "8086:1c04", "8086:1d04", "8086:8c04"};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (slice_starts(id, ids[i]))
            return true;
    return slice_eqz(driver, "hpvsa");
}

static const struct value *cell(const struct match_ctx *m, const struct row *r, const char *column)
{
    return facts_cell(m->facts, r, column);
}

static bool complete(const struct match_ctx *m, const char *table, const char **why)
{
    return facts_table(m->facts, facts_table_index(m->facts, table), why) == TS_COMPLETE;
}

/* Who takes one PCI function when its module is disabled; NULL when nobody provably does, with the reason told. */
static void check_fallback(const struct match_ctx *m, const struct fix *fix, struct slice module, const struct row *pci, struct slice user,
                           struct fix_check *c)
{
    const struct value *list = cell(m, pci, "candidates"), *id = cell(m, pci, "id");
    unsigned modules = facts_table_index(m->facts, "module");
    const struct value *open = NULL;
    const char *why;

    if (known_bool(cell(m, pci, "passthru"), true) || known_text(cell(m, pci, "owner"), "VM Passthru"))
        return;
    if (list->state == VS_UNKNOWN) {
        block(c, GATE_UNKNOWN, "which driver would take " SLICE_FMT " (" SLICE_FMT ") is not known: %s", SLICE_ARG(user), SLICE_ARG(pci->key),
              list->why);
        return;
    }
    for (size_t i = 0; list->state == VS_KNOWN && i < list->nlist; i++) {
        const struct row *other = facts_find(m->facts, modules, list->list[i]);

        if (slice_eq(list->list[i], module) || acts_on(fix, "module-disable", list->list[i]))
            continue;
        if (!other && !complete(m, "module", &why)) {
            block(c, GATE_UNKNOWN, "whether this host has the module " SLICE_FMT " is not known: %s", SLICE_ARG(list->list[i]), why);
            return;
        }
        if (other && cell(m, other, "enabled")->state == VS_UNKNOWN && !acts_on(fix, "module-enable", other->key))
            open = cell(m, other, "enabled");
        if (!other || !(acts_on(fix, "module-enable", other->key) || known_bool(cell(m, other, "enabled"), true)))
            continue;
        if (id->state == VS_UNKNOWN) {
            block(c, GATE_UNKNOWN, "whether " SLICE_FMT " (" SLICE_FMT ") is a RAID function is not known: %s", SLICE_ARG(user), SLICE_ARG(pci->key),
                  id->why ? id->why : "its ids were not read");
            return;
        }
        if (firmware_raid(id->s, module)) {
            block(c, GATE_REFUSED, SLICE_FMT " (" SLICE_FMT ") is a RAID function: under " SLICE_FMT " an array would appear as single disks",
                  SLICE_ARG(user), SLICE_ARG(id->s), SLICE_ARG(other->key));
            return;
        }
        warn(c, SLICE_FMT " would then claim " SLICE_FMT " (" SLICE_FMT "): its map file lists the device", SLICE_ARG(other->key), SLICE_ARG(user),
             SLICE_ARG(pci->key));
        return;
    }
    if (open) {
        block(c, GATE_UNKNOWN, "whether another driver may load for " SLICE_FMT " (" SLICE_FMT ") is not known: %s", SLICE_ARG(user),
              SLICE_ARG(pci->key), open->why ? open->why : "not asked");
        return;
    }
    block(c, GATE_REFUSED, "no other driver that this host has and may load lists " SLICE_FMT " (" SLICE_FMT "): it would be left without one%s",
          SLICE_ARG(user), SLICE_ARG(pci->key), m->facts->release.major >= 7 ? "; from 7.0 there are no vmklinux drivers to fall back on" : "");
}

/* One adapter or NIC that the module drives. */
static void check_user(const struct match_ctx *m, const struct fix *fix, struct slice module, const struct row *r, struct fix_check *c)
{
    const struct value *pci = cell(m, r, "pci"), *boots;
    const struct row *function;
    const char *why;

    if (pci->state == VS_ABSENT) {
        block(c, GATE_REFUSED, SLICE_FMT " has no PCI function of its own, so what would drive it cannot be told", SLICE_ARG(r->key));
        return;
    }
    function = facts_ref(m->facts, r, "pci");
    if (!function) {
        (void)complete(m, "pci", &why);
        block(c, GATE_UNKNOWN, "the PCI function of " SLICE_FMT " is not known: %s", SLICE_ARG(r->key),
              pci->why ? pci->why : why ? why : "it is not in the PCI list");
        return;
    }
    check_fallback(m, fix, module, function, r->key, c);
    if (r->table != facts_table_index(m->facts, "adapter"))
        return;
    boots = cell(m, r, "boots");
    if (boots->state == VS_UNKNOWN)
        block(c, GATE_UNKNOWN, "whether the host boots over " SLICE_FMT " is not known: %s", SLICE_ARG(r->key), boots->why);
    else if (known_bool(boots, true))
        warn(c, "the host boots over " SLICE_FMT ": have a console at hand, and a way back that does not need this controller", SLICE_ARG(r->key));
    if (cell(m, r, "machines")->state == VS_KNOWN)
        warn(c, "%zu running machine%s on datastores behind " SLICE_FMT ": maintenance mode first", cell(m, r, "machines")->nlist,
             cell(m, r, "machines")->nlist == 1 ? "" : "s", SLICE_ARG(r->key));
}

static void check_boss(const struct match_ctx *m, const struct row *adapter, struct fix_check *c)
{
    const struct value *devices = cell(m, adapter, "devices");

    if (devices->state == VS_UNKNOWN)
        block(c, GATE_UNKNOWN, "which devices hang on " SLICE_FMT " is not known: %s", SLICE_ARG(adapter->key), devices->why);
    for (size_t i = 0; devices->state == VS_KNOWN && i < devices->nlist; i++) {
        const struct row *d = facts_find(m->facts, facts_table_index(m->facts, "device"), devices->list[i]);
        const struct value *model = cell(m, d, "model");

        if (model->state == VS_KNOWN && slice_find(model->s, 0, "DELLBOSS") != SIZE_MAX)
            block(c, GATE_REFUSED, SLICE_FMT " is a Dell BOSS boot card: the host could lose its boot disk", SLICE_ARG(adapter->key));
    }
}

static void check_management(const struct match_ctx *m, const struct row *nic, struct fix_check *c)
{
    const struct row *vmk = facts_find(m->facts, facts_table_index(m->facts, "vmknic"), SLICE_LIT("vmk0"));
    const struct value *sw = cell(m, vmk, "switch"), *in = cell(m, nic, "vswitches");

    for (size_t i = 0; sw->state == VS_KNOWN && in->state == VS_KNOWN && i < in->nlist; i++)
        if (slice_eq(in->list[i], sw->s))
            warn(c, SLICE_FMT " is an uplink of the management network (vmk0): have an out-of-band console", SLICE_ARG(nic->key));
}

static bool serves_adapter_or_nic(const struct match_ctx *m, const struct row *pci)
{
    static const char *const tables[] = {"adapter", "nic"};
    const struct row *r;

    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; (r = derive_row(m->facts, tables[k], i)); i++)
            if (cell(m, r, "pci")->state == VS_KNOWN && slice_eq(cell(m, r, "pci")->s, pci->key))
                return true;
    return false;
}

static void gate_module_disable(const struct match_ctx *m, const struct fix *fix, struct slice module, struct fix_check *c)
{
    static const char *const tables[] = {"adapter", "nic"};
    const struct row *r, *host = facts_single(m->facts, "host");
    const struct value *usb = cell(m, host, "boot-usb");
    const char *why;

    for (unsigned k = 0; k < 2; k++) {
        if (!complete(m, tables[k], &why))
            block(c, GATE_UNKNOWN, "the setting acts on the whole host, and the %s list is not complete: %s", tables[k], why);
        for (size_t i = 0; (r = derive_row(m->facts, tables[k], i)); i++) {
            const struct value *driver = cell(m, r, "driver");

            if (driver->state == VS_UNKNOWN)
                block(c, GATE_UNKNOWN, "whether " SLICE_FMT " drives " SLICE_FMT " is not known: %s", SLICE_ARG(module), SLICE_ARG(r->key),
                      driver->why ? driver->why : "not asked");
            if (driver->state != VS_KNOWN || !slice_eq(driver->s, module))
                continue;
            check_user(m, fix, module, r, c);
            if (k == 0)
                check_boss(m, r, c);
            else
                check_management(m, r, c);
        }
    }
    for (size_t i = 0; (r = derive_row(m->facts, "pci", i)); i++) { /* functions that are no adapter and no NIC: USB controllers, GPUs */
        const struct value *owner = cell(m, r, "module");

        if (owner->state == VS_KNOWN && slice_eq(owner->s, module) && !serves_adapter_or_nic(m, r))
            check_fallback(m, fix, module, r, r->key, c);
    }
    if (slice_eqz(module, "vmkusb") || slice_starts(module, "usb") || slice_starts(module, "xhci") || slice_starts(module, "ehci")) {
        if (usb->state != VS_KNOWN)
            block(c, GATE_UNKNOWN, "whether the host boots from USB is not known: %s", usb->why ? usb->why : "not asked");
        else if (usb->i)
            block(c, GATE_REFUSED, "the host boots from USB, which this module drives");
    }
}

static void gate_module_known(const struct match_ctx *m, struct slice module, struct fix_check *c)
{
    const char *why;

    if (facts_find(m->facts, facts_table_index(m->facts, "module"), module))
        return;
    if (complete(m, "module", &why))
        block(c, GATE_REFUSED, "this host has no module " SLICE_FMT, SLICE_ARG(module));
    else
        block(c, GATE_UNKNOWN, "whether this host has the module " SLICE_FMT " is not known: %s", SLICE_ARG(module), why);
}

/* Does an action only take back what is pending: enable a module again that is disabled for the next boot. */
static bool takes_back(const struct match_ctx *m, const struct action *a, struct slice module)
{
    const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "module"), module);

    return strcmp(a->name, "module-enable") == 0 && known_bool(cell(m, r, "change-pending"), true);
}

/* From 7.0 on the inverse of enabling a driver is a command that costs the host its disks: it is not put before anybody's eyes. */
static bool shows_undo(const struct match_ctx *m, const struct action *a)
{
    return a->undo && !(strcmp(a->name, "module-enable") == 0 && m->facts->release.major >= 7);
}

/* Is the module already as the action would set it? Then there is nothing to do, and nothing to undo. */
static bool already(const struct match_ctx *m, const struct action *a, struct slice module)
{
    const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "module"), module);
    bool enable = strcmp(a->name, "module-enable") == 0;

    return (enable || strcmp(a->name, "module-disable") == 0) && known_bool(cell(m, r, "enabled"), enable);
}

static void add_command(const struct match_ctx *m, const struct action *a, const struct slice *values, struct fix_check *out)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct action inverse = *a;

    action_command(a, values, &b);
    out->commands[out->ncommands] = arena_dup(m->arena, buf_slice(&b)).p;
    out->undo[out->ncommands] = NULL;
    if (shows_undo(m, a)) {
        buf_reset(&b);
        inverse.command = a->undo;
        action_command(&inverse, values, &b);
        out->undo[out->ncommands] = arena_dup(m->arena, buf_slice(&b)).p;
    }
    out->ncommands++;
}

/* What must be in order before anything is saved for the next boot. */
static void gate_next_boot(const struct match_ctx *m, bool back, struct fix_check *c)
{
    const struct value *pending = cell(m, facts_single(m->facts, "host"), "reboot-pending");
    const struct row *l;

    if (pending->state != VS_KNOWN)
        block(c, GATE_UNKNOWN, "whether a change already waits for the next boot is not known: %s", pending->why ? pending->why : "not asked");
    else if (pending->i && !back)
        block(c, GATE_REFUSED, "a change already waits for the next boot: reboot first, or take it back");
    for (size_t i = 0; (l = derive_row(m->facts, "log", i)); i++)
        if (known_text(cell(m, l, "kind"), "bootbank-missing"))
            block(c, GATE_REFUSED, "the log reports a missing boot bank: changes would not be saved (KB 318611)");
}

/* One step of the rule's own conditions that does not hold: "required: vib name="sata-ahci"; it is not so". */
static void block_required(const struct match_ctx *m, const struct step_taken *s, struct fix_check *c)
{
    static const char *const words[] = {[COND_NONE] = "no ", [COND_EVERY] = "every "};
    const struct cond *element = s->cond->nkids ? s->cond->kids[0] : s->cond;
    _cleanup_(buf_done) struct buf what = BUF_INIT(400);

    if (!s->test && s->cond->kind < sizeof words / sizeof *words && words[s->cond->kind])
        buf_addz(&what, words[s->cond->kind]);
    buf_add(&what, m->facts->schema->tables[cond_table(s->cond)].name);
    for (unsigned i = 0; i < element->ntests; i++)
        if (!s->test || s->test == &element->tests[i])
            buf_printf(&what, " " SLICE_FMT, SLICE_ARG(element->tests[i].written));
    if (s->result == TRI_FALSE)
        block(c, GATE_REFUSED, "required: %s; it is not so", buf_z(&what));
    else
        block(c, GATE_UNKNOWN, "required: %s: %s", buf_z(&what), s->why ? s->why : "not known");
}

void fix_judge(const struct match_ctx *m, const struct finding *f, const struct fix *fix, struct fix_check *out)
{
    struct trace t = {.arena = m->arena};
    struct eval ev = {m->facts, m->rules->builds, &t};
    bool boot = false, back = true;
    enum tri required;

    *out = (struct fix_check){.arena = m->arena};
    out->commands = arena_array(m->arena, fix->nactions + 2, sizeof *out->commands);
    out->undo = arena_array(m->arena, fix->nactions + 2, sizeof *out->undo);
    if (!out->commands || !out->undo) {
        out->state = GATE_UNKNOWN;
        return;
    }
    if (f->result != TRI_TRUE)
        block(out, GATE_UNKNOWN, "the finding itself is not certain: %s", f->why ? f->why : "not known");
    if (f->guard_unknown)
        block(out, GATE_UNKNOWN, "a guard could not be decided: " SLICE_FMT, SLICE_ARG(f->guard_unknown->title));
    required = cond_eval(&ev, fix->require, f->row);
    for (size_t i = 0; required != TRI_TRUE && i < t.n; i++)
        if (t.v[i].result == required)
            block_required(m, &t.v[i], out);
    if (required != TRI_TRUE && out->state == GATE_OPEN)
        block(out, required == TRI_FALSE ? GATE_REFUSED : GATE_UNKNOWN, "what the fix requires does not hold on this host");
    for (unsigned i = 0; i < fix->nactions; i++) {
        const struct action *a = fix->actions[i].action;
        struct slice values[ACTION_MAX_ARGS] = {{NULL, 0}};

        for (unsigned k = 0; k < ACTION_MAX_ARGS && a->args[k].name; k++)
            values[k] = argument(m, f, a, k, fix->actions[i].values[k], out);
        if (strcmp(a->name, "module-disable") == 0)
            gate_module_disable(m, fix, values[0], out);
        if (strncmp(a->name, "module-", 7) == 0)
            gate_module_known(m, values[0], out);
        if (already(m, a, values[0])) {
            warn(out, SLICE_FMT " is already %s", SLICE_ARG(values[0]), strcmp(a->name, "module-enable") == 0 ? "enabled" : "disabled");
            continue;
        }
        back &= takes_back(m, a, values[0]);
        boot |= strcmp(a->effect, "at the next boot") == 0;
        add_command(m, a, values, out);
    }
    if (boot) {
        gate_next_boot(m, back, out);
        out->undo[out->ncommands] = NULL;
        out->commands[out->ncommands++] = "/sbin/auto-backup.sh"; /* else a power cut within the hour loses the change (KB 313072) */
        warn(out, "takes effect at the next reboot; use a full one, not Quick Boot");
    }
    if (out->state != GATE_OPEN)
        out->ncommands = 0;
}
