#include "core/gate_parts.h"

#include <stdarg.h>
#include <stdio.h>

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

void gate_block(struct fix_check *c, enum gate_state state, const char *fmt, ...)
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

void gate_warn(struct fix_check *c, const char *fmt, ...)
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
    text = col < 0 ? SLICE_LIT("") : value_text(&t->columns[col], facts_cell(m->facts, f->row, t->columns[col].name.p), m->arena);
    if (text.n == 0)
        gate_block(c, GATE_UNKNOWN, SLICE_FMT " is not known for " SLICE_FMT, SLICE_ARG(inner), SLICE_ARG(f->row->key));
    else if (!action_arg_fits(&a->args[k], text))
        gate_block(c, GATE_REFUSED, SLICE_FMT " is \"" SLICE_FMT "\", which is not %s (%s)", SLICE_ARG(inner), SLICE_ARG(text),
                   action_arg_form(a->args[k].kind), a->args[k].doc);
    return text;
}

/* --- arguments of other actions --- */

/* A setting must be there, and its range allow the value. */
static void gate_setting(const struct match_ctx *m, struct slice path, struct slice value, struct fix_check *c)
{
    const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "setting"), path);
    const struct value *min = facts_cell(m->facts, r, "min"), *max = facts_cell(m->facts, r, "max");
    int64_t n;
    const char *why;

    if (!r && facts_complete(m->facts, "setting", &why))
        gate_block(c, GATE_REFUSED, "this host has no setting " SLICE_FMT, SLICE_ARG(path));
    else if (!r)
        gate_block(c, GATE_UNKNOWN, "whether this host has the setting " SLICE_FMT " is not known: it was not read", SLICE_ARG(path));
    else if (known_text(facts_cell(m->facts, r, "type"), "string"))
        gate_block(c, GATE_REFUSED, SLICE_FMT " takes a text, not a number", SLICE_ARG(path));
    else if (num_parse_i64(value, &n) == 0 && ((min->state == VS_KNOWN && n < min->i) || (max->state == VS_KNOWN && n > max->i)))
        gate_block(c, GATE_REFUSED, SLICE_FMT " takes no value " SLICE_FMT " on this host", SLICE_ARG(path), SLICE_ARG(value));
}

static void gate_kernel_setting(const struct match_ctx *m, struct slice name, struct slice value, struct fix_check *c)
{
    const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "kernel-setting"), name);
    const struct value *configured = facts_cell(m->facts, r, "configured");
    const char *why;

    if (r && configured->conflict)
        gate_block(c, GATE_UNKNOWN, "what " SLICE_FMT " is set to is told differently: %s", SLICE_ARG(name), configured->why);
    if (r && configured->state == VS_KNOWN && slice_ieq(configured->s, value))
        gate_block(c, GATE_REFUSED, SLICE_FMT " is configured as " SLICE_FMT " already, and takes effect at the next boot", SLICE_ARG(name),
                   SLICE_ARG(value));
    if (r)
        return;
    if (facts_complete(m->facts, "kernel-setting", &why))
        gate_block(c, GATE_REFUSED, "this host has no VMkernel option " SLICE_FMT, SLICE_ARG(name));
    else
        gate_block(c, GATE_UNKNOWN, "whether this host has the VMkernel option " SLICE_FMT " is not known: it was not read", SLICE_ARG(name));
}

/*
 * A VIB may go when it is there and nothing it carries is in use. VIBs of the base image carry what no module list shows; removing one breaks
 * the host or its next upgrade (apply-safety reference, section 4).
 */
static void gate_vib_remove(const struct match_ctx *m, struct slice name, struct fix_check *c)
{
    static const char *const base[] = {"esx-", "vsan", "cpu-microcode", "misc-drivers", "lsu-", "tools-light", "native-misc-drivers", "loadesx",
                                       "vmware-", "gc", "crx", "trx", "bmcal", "infravisor", "clusterstore"};
    const struct row *vib = facts_find(m->facts, facts_table_index(m->facts, "vib"), name), *r;
    const char *why;

    if (!vib && facts_complete(m->facts, "vib", &why))
        gate_block(c, GATE_REFUSED, "the VIB " SLICE_FMT " is not installed", SLICE_ARG(name));
    else if (!vib)
        gate_block(c, GATE_UNKNOWN, "whether the VIB " SLICE_FMT " is installed is not known: %s", SLICE_ARG(name), why);
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        if (slice_starts(name, base[i]))
            gate_block(c, GATE_REFUSED, SLICE_FMT " is a part of ESXi itself", SLICE_ARG(name));
    if (!facts_complete(m->facts, "module", &why))
        gate_block(c, GATE_UNKNOWN, "whether a module of " SLICE_FMT " is in use is not known: %s", SLICE_ARG(name), why);
    for (size_t i = 0; (r = derive_row(m->facts, "module", i)); i++) {
        const struct value *carrier = facts_cell(m->facts, r, "vib");
        bool loaded;

        if (carrier->state != VS_KNOWN || !slice_eq(carrier->s, name) || known_bool(facts_cell(m->facts, r, "loaded"), false))
            continue;
        loaded = known_bool(facts_cell(m->facts, r, "loaded"), true);
        gate_block(c, loaded ? GATE_REFUSED : GATE_UNKNOWN, "its module " SLICE_FMT " %s", SLICE_ARG(r->key),
                   loaded ? "is loaded" : "may be loaded: not known");
    }
}

/* Does an action only take back what is pending: enable a module again that is disabled for the next boot. */
static bool takes_back(const struct match_ctx *m, const struct action *a, struct slice module)
{
    const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "module"), module);

    return strcmp(a->name, "module-enable") == 0 && known_bool(facts_cell(m->facts, r, "change-pending"), true);
}

/*
 * From 7.0 on (and where the release is not known) the inverse of enabling a driver is a command that costs the host its disks: it is not put
 * before anybody's eyes.
 */
static bool shows_undo(const struct match_ctx *m, const struct action *a, struct slice module)
{
    if (strcmp(a->name, "module-enable") == 0) {
        const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "module"), module);

        if (facts_cell(m->facts, r, "enabled")->state != VS_KNOWN) /* how it was before nobody knows */
            return false;
    }
    return a->undo && !(strcmp(a->name, "module-enable") == 0 && (m->facts->release.major == 0 || m->facts->release.major >= 7));
}

/* Is the module already as the action would set it? Then there is nothing to do, and nothing to undo. */
static bool already(const struct match_ctx *m, const struct action *a, struct slice module)
{
    const struct row *r = facts_find(m->facts, facts_table_index(m->facts, "module"), module);
    bool enable = strcmp(a->name, "module-enable") == 0;

    return (enable || strcmp(a->name, "module-disable") == 0) && known_bool(facts_cell(m->facts, r, "enabled"), enable);
}

static void add_command(const struct match_ctx *m, const struct action *a, const struct slice *values, struct fix_check *out)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    struct action inverse = *a;

    action_command(a, values, &b);
    out->commands[out->ncommands] = arena_dup(m->arena, buf_slice(&b)).p;
    out->undo[out->ncommands] = NULL;
    if (shows_undo(m, a, values[0])) {
        buf_reset(&b);
        inverse.command = a->undo;
        action_command(&inverse, values, &b);
        out->undo[out->ncommands] = arena_dup(m->arena, buf_slice(&b)).p;
    }
    out->ncommands++;
}

static bool known_positive(const struct value *v)
{
    return v->state == VS_KNOWN && v->i > 0;
}

/* What must be in order before anything is saved for the next boot. */
static void gate_next_boot(const struct match_ctx *m, bool back, struct fix_check *c)
{
    const struct value *pending = facts_cell(m->facts, facts_single(m->facts, "host"), "reboot-pending");
    const struct row *l;
    const char *why;

    if (pending->state != VS_KNOWN)
        gate_block(c, GATE_UNKNOWN, "whether a change already waits for the next boot is not known: %s", pending->why ? pending->why : "not asked");
    else if (pending->i && !back)
        gate_block(c, GATE_REFUSED, "a change already waits for the next boot: reboot first, or take it back");
    if (!facts_complete(m->facts, "log", &why) && !back)
        gate_block(c, GATE_UNKNOWN, "whether the log reports a missing boot bank is not known: %s", why);
    else if (!back && match_log_short(m->facts))
        gate_block(c, GATE_UNKNOWN, "whether the log reports a missing boot bank is not known: less than an hour of it was read");
    for (size_t i = 0; (l = derive_row(m->facts, "device", i)) && !back; i++)
        if (known_text(facts_cell(m->facts, l, "status"), "dead") ||
            (known_positive(facts_cell(m->facts, l, "paths")) && facts_cell(m->facts, l, "active-paths")->state == VS_KNOWN &&
             facts_cell(m->facts, l, "active-paths")->i == 0 && known_positive(facts_cell(m->facts, l, "dead-paths"))))
            gate_block(c, GATE_REFUSED, "all paths to " SLICE_FMT " are dead: settle that before anything is saved or restarted", SLICE_ARG(l->key));
    for (size_t i = 0; (l = derive_row(m->facts, "log", i)); i++)
        if (known_text(facts_cell(m->facts, l, "kind"), "bootbank-missing"))
            gate_block(c, GATE_REFUSED, "the log reports a missing boot bank: changes would not be saved (KB 318611)");
}

/* One step of the rule's own conditions that does not hold: "required: vib name="sata-ahci"; it is not so". */
static void block_required(const struct match_ctx *m, const struct step_taken *s, bool denied, struct fix_check *c)
{
    static const char *const words[] = {[COND_NONE] = "no ", [COND_EVERY] = "every "};
    const struct cond *element = s->cond->nkids ? s->cond->kids[0] : s->cond;
    _cleanup_(buf_done) struct buf what = BUF_INIT(400);

    if (denied)
        buf_addz(&what, "no ");
    else if (!s->test && s->cond->kind < sizeof words / sizeof *words && words[s->cond->kind])
        buf_addz(&what, words[s->cond->kind]);
    buf_add(&what, m->facts->schema->tables[cond_table(s->cond)].name);
    for (unsigned i = 0; i < element->ntests; i++)
        if (!s->test || s->test == &element->tests[i])
            buf_printf(&what, " " SLICE_FMT, SLICE_ARG(element->tests[i].written));
    if (s->result == TRI_FALSE)
        gate_block(c, GATE_REFUSED, "required: %s; it is not so", buf_z(&what));
    else
        gate_block(c, GATE_UNKNOWN, "required: %s: %s", buf_z(&what), s->why ? s->why : "not known");
}

/* Does a condition stand inside a <none>, where it is good that it does not hold. */
static bool denied(const struct cond *root, const struct cond *c, bool inside)
{
    bool found = root == c && inside;

    for (unsigned i = 0; root && i < root->nkids && !found; i++)
        found = denied(root->kids[i], c, inside || root->kind == COND_NONE);
    return found;
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
        gate_block(out, GATE_UNKNOWN, "the finding itself is not certain: %s", f->why ? f->why : "not known");
    if (f->withheld_by || f->superseded_by) {
        const struct rule *by = f->withheld_by ? f->withheld_by : f->superseded_by;

        gate_block(out, GATE_REFUSED, "the rule " SLICE_FMT " speaks against it: " SLICE_FMT, SLICE_ARG(by->id), SLICE_ARG(by->title));
    }
    if (f->guard_unknown)
        gate_block(out, GATE_UNKNOWN, "a guard could not be decided: " SLICE_FMT, SLICE_ARG(f->guard_unknown->title));
    required = cond_eval(&ev, fix->require, f->row);
    out->unfit = required == TRI_FALSE;
    for (size_t i = 0; required != TRI_TRUE && i < t.n; i++)
        if (t.v[i].result == required && !(required == TRI_FALSE && denied(fix->require, t.v[i].cond, false)))
            block_required(m, &t.v[i], denied(fix->require, t.v[i].cond, false), out);
    if (required != TRI_TRUE && out->state == GATE_OPEN)
        gate_block(out, required == TRI_FALSE ? GATE_REFUSED : GATE_UNKNOWN, "what the fix requires does not hold on this host");
    for (unsigned i = 0; i < fix->nactions; i++) {
        const struct action *a = fix->actions[i].action;
        struct slice values[ACTION_MAX_ARGS] = {{NULL, 0}};

        for (unsigned k = 0; k < ACTION_MAX_ARGS && a->args[k].name; k++)
            values[k] = argument(m, f, a, k, fix->actions[i].values[k], out);
        if (strcmp(a->name, "module-disable") == 0)
            gate_module_disable(m, fix, f->row, values[0], out);
        if (strcmp(a->name, "setting-set") == 0)
            gate_setting(m, values[0], values[1], out);
        if (strcmp(a->name, "kernel-setting-set") == 0)
            gate_kernel_setting(m, values[0], values[1], out);
        if (strcmp(a->name, "vib-remove") == 0)
            gate_vib_remove(m, values[0], out);
        if (strncmp(a->name, "module-", 7) == 0)
            gate_module_known(m, values[0], out);
        if (already(m, a, values[0])) {
            gate_warn(out, SLICE_FMT " is already %s", SLICE_ARG(values[0]), strcmp(a->name, "module-enable") == 0 ? "enabled" : "disabled");
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
        gate_warn(out, "takes effect at the next reboot; use a full one, not Quick Boot");
    }
    if (out->state != GATE_OPEN)
        out->ncommands = 0;
}
