#include "out/drivers.h"

#include "base/opts.h"
#include "base/table.h"
#include "core/derive.h"

#define INDENT 14u

static struct slice first_name(const struct claim_behind *b)
{
    return b->nnames ? b->names[0] : SLICE_LIT("-");
}

static struct slice text_or_dash(struct slice s)
{
    return s.n ? s : SLICE_LIT("-");
}

static struct slice driver_text(const struct claim *c)
{
    return c->driver.state == VS_KNOWN ? c->driver.s : c->driver.state == VS_ABSENT ? SLICE_LIT("-") : SLICE_LIT("?");
}

static const struct claim_contender *contender(const struct claim *c, struct slice module)
{
    for (size_t i = 0; i < c->ncontenders; i++)
        if (slice_eq(c->contenders[i].was, module) || slice_eq(c->contenders[i].module, module))
            return &c->contenders[i];
    return NULL;
}

static const char *joined(struct arena *a, const struct slice *v, size_t n, const char *between)
{
    const char *text = "";

    for (size_t i = 0; text && i < n; i++)
        text = arena_printf(a, "%s%s" SLICE_FMT, text, i ? between : "", SLICE_ARG(v[i]));
    return text ? text : "";
}

/* Who takes it: "ahci", "one of a, b". */
static const char *takers(struct arena *a, const struct claim *c)
{
    return arena_printf(a, "%s%s", c->ntakers > 1 ? "one of " : "", joined(a, c->takers, c->ntakers, ", "));
}

static const char *outcome_text(struct arena *a, const struct claim *c)
{
    const char *likely = c->sure == CLAIM_LIKELY ? " (likely)" : "";

    switch (c->outcome) {
    case CLAIM_STAYS:
        return c->ntakers ? arena_printf(a, "stays, as %s%s", takers(a, c), likely) : arena_printf(a, "stays%s", likely);
    case CLAIM_CHANGES:
    case CLAIM_GAINS:
        return arena_printf(a, "%s%s", takers(a, c), likely);
    case CLAIM_LOSES:
        return arena_printf(a, "NONE%s", likely);
    case CLAIM_NONE:
        return arena_printf(a, "none%s", likely);
    case CLAIM_PASSED:
        return "a machine's";
    case CLAIM_UNKNOWN:
        break;
    }
    return "not known";
}

static void prose(const struct drivers_style *s, struct buf *out, const char *label, const char *text)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(64u << 10);

    buf_add_safe(&safe, slice_of(text));
    buf_printf(out, "  %-11s ", label);
    opts_wrap(out, buf_z(&safe), INDENT, INDENT, s->width);
}

static void print_table(const struct drivers_report *r, const struct drivers_style *s, struct buf *out)
{
    static const struct text_column now[] = {{"device", false, TEXT_KEEP}, {"pci", false, TEXT_KEEP}, {"driver", false, TEXT_KEEP}, {"VIB", false, TEXT_CUT},
                                             {"also listed by", false, TEXT_WRAP}, {"next", false, TEXT_KEEP}};
    static const struct text_column then[] = {{"device", false, TEXT_KEEP}, {"pci", false, TEXT_KEEP}, {"now", false, TEXT_KEEP}, {"then", false, TEXT_KEEP},
                                              {"name", false, TEXT_CUT}};
    struct arena *a = r->world->f->arena;
    struct text_table *t = r->next ? text_table_new(now, 6) : text_table_new(then, 5);

    for (size_t i = 0; i < r->n; i++) {
        const struct claim *c = &r->claims[i];
        const struct claim_contender *x = c->driver.state == VS_KNOWN ? contender(c, c->driver.s) : NULL;
        const struct value *name = facts_cell(r->world->f, c->pci, "name");
        struct texts others = {0};

        if (!r->next) {
            const struct slice cells[] = {first_name(&r->behind[i]), c->pci->key, driver_text(c), slice_of(outcome_text(a, c)),
                                          name->state == VS_KNOWN ? name->s : SLICE_LIT("?")};

            text_table_add(t, cells);
            continue;
        }
        for (size_t k = 0; k < c->ncontenders; k++)
            if (&c->contenders[k] != x)
                texts_add(&others, c->contenders[k].now == CLAIM_STANDS ? c->contenders[k].module
                                   : slice_of(arena_printf(a, SLICE_FMT "%s", SLICE_ARG(c->contenders[k].module), c->contenders[k].now == CLAIM_OUT ? " (no)" : " (?)")), a);
        const struct slice cells[] = {first_name(&r->behind[i]), c->pci->key, driver_text(c), x ? text_or_dash(x->vib) : SLICE_LIT("-"),
                                      text_or_dash(slice_of(joined(a, others.v, others.n, ", "))),
                                      slice_of(c->outcome != CLAIM_STAYS && c->outcome != CLAIM_NONE ? outcome_text(a, c)
                                               : c->driver.state == VS_KNOWN ? outcome_text(a, &r->next[i]) : "-")};
        text_table_add(t, cells);
    }
    text_table_print(t, s->table_width, out);
    text_table_free(&t);
}

/* Without a change: why the next boot cannot be predicted, each reason once. */
static void reasons(const struct drivers_report *r, const struct drivers_style *s, struct buf *out)
{
    bool first = true;

    for (size_t i = 0; i < r->n; i++) {
        const struct claim *c = &r->claims[i];
        const char *tell = c->ask ? c->ask : c->why;
        bool seen = c->outcome != CLAIM_UNKNOWN || !tell;

        for (size_t k = 0; k < i && !seen; k++) {
            const char *other = r->claims[k].ask ? r->claims[k].ask : r->claims[k].why;

            seen = r->claims[k].outcome == CLAIM_UNKNOWN && other && strcmp(other, tell) == 0;
        }
        if (seen)
            continue;
        buf_addz(out, first ? "\n" : "");
        first = false;
        prose(s, out, c->ask ? "would tell" : "not known",
              c->ask ? tell : arena_printf(r->world->f->arena, SLICE_FMT ": %s", SLICE_ARG(c->pci->key), tell));
    }
}

static const char *headline(const struct claim *c, struct arena *a)
{
    switch (c->outcome) {
    case CLAIM_LOSES:
        return c->sure == CLAIM_SURE ? "loses its driver" : "likely loses its driver";
    case CLAIM_CHANGES:
        if (c->ntakers > 1)
            return arena_printf(a, "goes to %s", takers(a, c));
        return arena_printf(a, "changes to %s%s", takers(a, c), c->sure == CLAIM_LIKELY ? ", likely" : "");
    case CLAIM_GAINS:
        return arena_printf(a, "gets %s%s", takers(a, c), c->sure == CLAIM_LIKELY ? ", likely" : "");
    case CLAIM_STAYS:
        return outcome_text(a, c);
    case CLAIM_NONE:
        return "has no driver";
    case CLAIM_PASSED:
        return "is passed through";
    case CLAIM_UNKNOWN:
        break;
    }
    return "cannot be predicted";
}

static const char *standing_text(struct arena *a, const struct claim_contender *x, bool next)
{
    enum claim_standing st = next ? x->next : x->now;
    const char *why = next ? x->why_next : x->why_now;

    return arena_printf(a, "%s, %s; %s%s%s", x->vmklinux ? "vmklinux" : "native", x->open ? "whether it lists the ids is not known" : x->exact ? "lists the ids" : "lists the class",
                        st == CLAIM_STANDS ? "may load" : st == CLAIM_OUT ? "may not load" : "not known whether it may load", why && st != CLAIM_STANDS ? ": " : "",
                        why && st != CLAIM_STANDS ? why : "");
}

static void function(const struct drivers_report *r, size_t i, const struct drivers_style *s, struct buf *out)
{
    struct arena *a = r->world->f->arena;
    const struct claim *c = &r->claims[i];
    const struct claim_behind *b = &r->behind[i];
    bool bad = c->outcome == CLAIM_LOSES || drivers_raid(c) == RAID_BROKEN;
    const struct value *name = facts_cell(r->world->f, c->pci, "name"), *id = facts_cell(r->world->f, c->pci, "id");
    _cleanup_(buf_done) struct buf line = BUF_INIT(64u << 10);

    buf_printf(&line, "%s%s" SLICE_FMT " (" SLICE_FMT ")", b->nnames ? joined(a, b->names, b->nnames, ", ") : "", b->nnames ? " " : "", SLICE_ARG(c->pci->key),
               SLICE_ARG(driver_text(c)));
    buf_printf(out, "\n%s", bad ? s->red : s->bold);
    buf_add_safe(out, buf_slice(&line));
    buf_printf(out, " %s%s\n", headline(c, a), s->none);
    if (name->state == VS_KNOWN)
        prose(s, out, "is", arena_printf(a, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(name->s), id->state == VS_KNOWN ? ", " : "",
                                         SLICE_ARG(id->state == VS_KNOWN ? id->s : SLICE_LIT(""))));
    if (c->why)
        prose(s, out, "since", c->why);
    if (c->ask)
        prose(s, out, "would tell", c->ask);
    if (drivers_raid(c) == RAID_BROKEN)
        prose(s, out, "RAID", "an array of this controller would appear as single disks; writing to one destroys it");
    else if (drivers_raid(c) == RAID_OPEN)
        prose(s, out, "RAID", arena_printf(a, "whether it is a RAID function is not known: %s", c->raid.why ? c->raid.why : "not asked"));
    for (size_t k = 0; k < c->ncontenders && s->verbose; k++)
        prose(s, out, k ? "" : "listed by",
              arena_printf(a, SLICE_FMT "%s" SLICE_FMT ": %s", SLICE_ARG(c->contenders[k].module), c->contenders[k].vib.n ? " of VIB " : "",
                           SLICE_ARG(c->contenders[k].vib), standing_text(a, &c->contenders[k], r->asked)));
    if (r->next && s->verbose && c->driver.state == VS_KNOWN)
        prose(s, out, "next", arena_printf(a, "without " SLICE_FMT ": %s; %s", SLICE_ARG(c->driver.s), outcome_text(a, &r->next[i]),
                                           r->next[i].why ? r->next[i].why : ""));
    if (c->outcome == CLAIM_PASSED)
        return;
    for (size_t k = 0; k < b->nlinks; k++)
        prose(s, out, b->links[k].what[0] == 'u' ? "not known" : b->links[k].what, b->links[k].text);
    if (!b->used && c->driver.state == VS_KNOWN)
        prose(s, out, "use", "nothing hangs on it");
}

static void print_change(const struct drivers_report *r, const struct drivers_style *s, struct buf *out)
{
    const struct claim_change *c = r->world->change;
    struct arena *a = r->world->f->arena;
    const char *parts[6];
    size_t n = 0;

    if (c->ndisable)
        parts[n++] = arena_printf(a, "%s disabled", joined(a, c->disable, c->ndisable, ", "));
    if (c->nenable)
        parts[n++] = arena_printf(a, "%s enabled", joined(a, c->enable, c->nenable, ", "));
    if (c->nremove)
        parts[n++] = arena_printf(a, "VIB %s removed", joined(a, c->remove, c->nremove, ", "));
    for (size_t i = 0; i < c->ninstall && n < 5; i++)
        parts[n++] = arena_printf(a, "VIB " SLICE_FMT " " SLICE_FMT " installed", SLICE_ARG(c->install[i].name), SLICE_ARG(c->install[i].version));
    if (c->upgrade.major && n < 6)
        parts[n++] = arena_printf(a, "upgraded to %d.%d%s", c->upgrade.major, c->upgrade.minor,
                                  c->upgrade.update > 0 ? arena_printf(a, " U%d", c->upgrade.update) : "");
    buf_addz(out, "  what if     ");
    for (size_t i = 0; i < n; i++) {
        buf_addz(out, i ? "; " : "");
        buf_add_safe(out, slice_of(parts[i]));
    }
    buf_addz(out, n ? ", at the next boot\n" : "nothing\n");
    (void)s;
}

static void items(const struct upgrade_item *v, size_t n, const struct drivers_style *s, struct buf *out, struct arena *a)
{
    static const char *const labels[] = {"goes", "may block", "blocks"};

    for (int weight = UPGRADE_BLOCKS; weight >= UPGRADE_NOTE; weight--)
        for (size_t i = 0; i < n; i++)
            if ((int)v[i].weight == weight && (weight != UPGRADE_NOTE || s->verbose))
                prose(s, out, labels[weight], arena_printf(a, SLICE_FMT "%s%s%s%s", SLICE_ARG(v[i].name), v[i].name.n ? ": " : "", v[i].why,
                                                           v[i].ask ? "; would tell: " : "", v[i].ask ? v[i].ask : ""));
}

static void print_upgrade(const struct drivers_report *r, const struct drivers_style *s, struct buf *out)
{
    struct arena *a = r->world->f->arena;
    size_t notes = 0;

    for (size_t i = 0; i < r->ninstalls; i++) {
        const struct drivers_install *in = &r->installs[i];

        prose(s, out, "VIB", arena_printf(a, SLICE_FMT " " SLICE_FMT ", %s, %s; modules: %s; maintenance mode: %s, live: %s", SLICE_ARG(in->package->name),
                                          SLICE_ARG(in->package->version), in->vendor, in->level ? in->level : "acceptance level not said",
                                          in->package->nmodules ? joined(a, in->package->modules, in->package->nmodules, ", ") : "none",
                                          in->maintenance, in->live));
        items(in->against, in->nagainst, s, out, a);
    }
    items(r->upgrade.v, r->upgrade.n, s, out, a);
    for (size_t i = 0; i < r->upgrade.n; i++)
        notes += r->upgrade.v[i].weight == UPGRADE_NOTE;
    if (notes && !s->verbose)
        prose(s, out, "goes", arena_printf(a, "%zu VIBs are dropped or renamed with the upgrade (-v names them)", notes));
}

void drivers_text(const struct drivers_report *r, const struct drivers_style *s, struct buf *out)
{
    static const char *const words[] = {"stay", "with another driver", "without their driver", "with a first driver", "without any",
                                        "passed through", "not predicted"};
    struct arena *a = r->world->f->arena;
    size_t count[7] = {0};
    bool first = true;
    const char *why;

    buf_add_safe(out, slice_of(r->target));
    buf_addc(out, '\n');
    if (r->asked)
        print_change(r, s, out);
    prose(s, out, "rests on", r->world->basis_text);
    if (r->incomplete)
        prose(s, out, "incomplete", r->incomplete);
    if (!facts_complete(r->world->f, "pci", &why))
        prose(s, out, "incomplete", arena_printf(a, "the list of PCI functions: %s", why));
    for (size_t i = 0; i < r->nunmatched; i++)
        prose(s, out, "but", r->unmatched[i]);
    if (known_bool(facts_cell(r->world->f, facts_single(r->world->f, "host"), "reboot-pending"), true))
        prose(s, out, "pending", "changes made before wait for the same boot; modules disabled or enabled by them are counted in, staged VIBs are not");
    print_upgrade(r, s, out);
    buf_addc(out, '\n');
    print_table(r, s, out);
    for (size_t i = 0; i < r->n; i++) {
        enum claim_outcome o = r->claims[i].outcome;

        count[o]++;
        if (s->verbose || (o != CLAIM_STAYS && o != CLAIM_NONE && o != CLAIM_PASSED && (r->asked || o != CLAIM_UNKNOWN)))
            function(r, i, s, out);
    }
    if (!r->asked && !s->verbose)
        reasons(r, s, out);
    buf_addc(out, '\n');
    for (size_t o = 0; o < 7; o++)
        if (count[o]) {
            buf_printf(out, "%s%zu %s", first ? "" : ", ", count[o], words[o]);
            first = false;
        }
    buf_addz(out, first ? "no function that needs a driver is known\n" : "\n");
}
