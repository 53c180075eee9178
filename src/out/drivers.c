#include "out/drivers.h"

#include "core/derive.h"

#define MAX_FUNCTIONS 16384u /* each is compared with all map lines; a host with virtual functions has some thousand */

enum raid_risk drivers_raid(const struct claim *c)
{
    if (c->outcome != CLAIM_CHANGES)
        return RAID_NONE;
    return c->raid.state != VS_KNOWN ? RAID_OPEN : c->raid.i ? RAID_BROKEN : RAID_NONE;
}

/* A pending change of before, and what it does to this prediction, is in the facts: modules disabled for the next boot count as such. */
static void weigh(const struct claim *c, const struct claim_behind *b, struct drivers_report *out)
{
    enum raid_risk raid = drivers_raid(c);

    if (!b->used)
        return;
    out->lost |= c->outcome == CLAIM_LOSES || raid == RAID_BROKEN;
    out->open |= c->outcome == CLAIM_UNKNOWN || raid == RAID_OPEN;
    if (c->outcome == CLAIM_CHANGES && c->ntakers > 1)
        out->open |= b->severe;
}

static void unmatched(const struct claim_world *w, const char *what, const char *table, const struct slice *v, size_t n, const char **texts, size_t *count)
{
    const struct facts *f = w->f;
    const char *why;

    for (size_t i = 0; i < n; i++) {
        bool found = facts_find(f, facts_table_index(f, table), v[i]) != NULL;

        for (size_t k = 0; !found && *table == 'm' && k < w->change->ninstall; k++)
            found = slice_among(w->change->install[k].modules, w->change->install[k].nmodules, v[i]);
        if (found)
            continue;
        if (facts_complete(f, table, &why))
            texts[(*count)++] = arena_printf(f->arena, "this host has no %s " SLICE_FMT, what, SLICE_ARG(v[i]));
        else
            texts[(*count)++] = arena_printf(f->arena, "whether this host has a %s " SLICE_FMT " is not known: %s", what, SLICE_ARG(v[i]), why);
    }
}

/* What the host's own acceptance level says of a VIB to be installed. */
static const char *below_level(const struct facts *f, const char *level)
{
    static const char *const order[] = {"CommunitySupported", "PartnerSupported", "VMwareAccepted", "VMwareCertified"};
    const struct value *host = facts_cell(f, facts_single(f, "esxi"), "acceptance-level");
    unsigned its = 4, hosts = 4;

    for (unsigned i = 0; i < 4; i++) {
        its = level && strcmp(level, order[i]) == 0 ? i : its;
        hosts = known_text(host, order[i]) ? i : hosts;
    }
    return its < 4 && hosts < 4 && its < hosts ? order[hosts] : NULL;
}

static void judge_install(const struct claim_world *w, struct drivers_install *in, struct drivers_report *out)
{
    struct upgrade_item *v = arena_array(w->f->arena, in->nagainst + 3, sizeof *v);
    const char *level = below_level(w->f, in->level);
    size_t n = 0;

    if (!v)
        return;
    for (size_t i = 0; i < in->nagainst; i++)
        v[n++] = in->against[i];
    if (level)
        v[n++] = (struct upgrade_item){.weight = UPGRADE_BLOCKS, .name = in->package->name,
                                       .why = arena_printf(w->f->arena, "%s is below the host's acceptance level %s", in->level, level)};
    if (in->package->why)
        v[n++] = (struct upgrade_item){.weight = UPGRADE_OPEN, .name = in->package->name, .why = in->package->why};
    if (in->level && strcmp(in->level, "CommunitySupported") == 0 && known_text(facts_cell(w->f, facts_single(w->f, "host"), "secure-boot"), "Enabled"))
        v[n++] = (struct upgrade_item){.weight = UPGRADE_BLOCKS, .name = in->package->name, .why = "Secure Boot is on, which refuses CommunitySupported VIBs"};
    in->against = v;
    in->nagainst = n;
    for (size_t i = 0; i < n; i++)
        out->open |= v[i].weight != UPGRADE_NOTE;
}

int drivers_build(const struct claim_world *w, struct drivers_install *installs, size_t ninstalls, struct drivers_report *out, struct err *e)
{
    const struct claim_change *change = w->change;
    unsigned pci = facts_table_index(w->f, "pci");
    size_t rows = facts_count(w->f, pci), n = 0;
    struct claim *claims = arena_array(w->f->arena, rows + 1, sizeof *claims), *next = arena_array(w->f->arena, rows + 1, sizeof *next);
    struct claim_behind *behind = arena_array(w->f->arena, rows + 1, sizeof *behind);
    const char **texts = arena_array(w->f->arena, change ? change->ndisable + change->nenable + change->nremove + 2 : 1, sizeof *texts);

    if (rows > MAX_FUNCTIONS)
        return err_set(e, VF_ELIMIT, "%zu PCI functions, more than the %u that are predicted", rows, MAX_FUNCTIONS);
    if (!claims || !next || !behind || !texts)
        return err_set(e, VF_ELIMIT, "no room for the predictions of %zu functions", rows);
    out->world = w;
    out->asked = change && (change->ndisable || change->nenable || change->nremove || change->ninstall || change->upgrade.major);
    for (size_t i = 0; i < rows; i++) {
        const struct row *r = facts_at(w->f, pci, i);

        if (!claim_needed(w, r))
            continue;
        if (claim_predict(w, r, &claims[n], e) < 0)
            return e->code;
        if (!out->asked && claims[n].driver.state == VS_KNOWN) {
            const struct claim_change without = {.disable = &claims[n].driver.s, .ndisable = 1};
            struct claim_world other = *w;

            other.change = &without;
            if (claim_predict(&other, r, &next[n], e) < 0)
                return e->code;
        }
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        claim_behind(w->f, &claims[i], claims, n, &behind[i]);
        weigh(&claims[i], &behind[i], out);
    }
    if (change) {
        unmatched(w, "module", "module", change->disable, change->ndisable, texts, &out->nunmatched);
        unmatched(w, "module", "module", change->enable, change->nenable, texts, &out->nunmatched);
        unmatched(w, "VIB", "vib", change->remove, change->nremove, texts, &out->nunmatched);
        if (change->upgrade.major && w->f->release.major && driverdata_reached(w->builds, &w->f->release, &change->upgrade))
            texts[out->nunmatched++] = "the host's release is at or beyond the one of the upgrade already";
        else if (change->upgrade.major && !w->f->release.major)
            texts[out->nunmatched++] = "the host's release is not known: whether this is an upgrade for it, too";
        out->open |= out->nunmatched > 0;
    }
    if (upgrade_judge(w, &out->upgrade, e) < 0)
        return e->code;
    for (size_t i = 0; i < out->upgrade.n; i++) {
        out->lost |= out->upgrade.v[i].weight == UPGRADE_BLOCKS;
        out->open |= out->upgrade.v[i].weight == UPGRADE_OPEN;
    }
    for (size_t i = 0; i < ninstalls; i++)
        judge_install(w, &installs[i], out);
    out->claims = claims;
    out->behind = behind;
    out->next = out->asked ? NULL : next;
    out->n = n;
    out->unmatched = texts;
    out->installs = installs;
    out->ninstalls = ninstalls;
    if (!facts_complete(w->f, "pci", NULL))
        out->open = true;
    return arena_full(w->f->arena) ? err_set(e, VF_ELIMIT, "the host's facts and what follows from them do not fit into memory") : 0;
}
