#include "out/drivers.h"

static struct js *texts(const struct slice *v, size_t n)
{
    struct js *array = js_array();

    for (size_t i = 0; i < n; i++)
        js_add(array, js_text(v[i]));
    return array;
}

static struct js *known_or_null(const struct value *v)
{
    return v->state == VS_KNOWN ? js_text(v->s) : js_null();
}

static const char *standing(enum claim_standing s)
{
    static const char *const names[] = {[CLAIM_OPEN] = "unknown", [CLAIM_OUT] = "no", [CLAIM_STANDS] = "yes"};

    return names[s];
}

static struct js *contender_json(const struct claim_contender *c)
{
    struct js *o = js_object();

    js_put(o, "module", js_text(c->module));
    js_put(o, "vib", c->vib.n ? js_text(c->vib) : js_null());
    js_put(o, "kind", js_textz(c->vmklinux ? "vmklinux" : "native"));
    js_put(o, "lists", js_textz(c->open ? "unknown" : c->exact ? "ids" : "class"));
    js_put(o, "may_load_now", js_textz(standing(c->now)));
    js_put(o, "why_now", js_textz(c->now == CLAIM_STANDS ? NULL : c->why_now));
    js_put(o, "may_load_then", js_textz(standing(c->next)));
    js_put(o, "why_then", js_textz(c->next == CLAIM_STANDS ? NULL : c->why_next));
    return o;
}

static struct js *outcome_json(const struct claim *c)
{
    struct js *o = js_object();

    js_put(o, "outcome", js_textz(claim_outcome_name(c->outcome)));
    js_put(o, "sure", c->outcome == CLAIM_UNKNOWN ? js_null() : js_textz(c->sure == CLAIM_SURE ? "sure" : "likely"));
    js_put(o, "takers", texts(c->takers, c->ntakers));
    js_put(o, "why", js_textz(c->why));
    js_put(o, "ask", js_textz(c->ask));
    return o;
}

static struct js *function_json(const struct drivers_report *r, size_t i)
{
    static const char *const risks[] = {[RAID_NONE] = "none", [RAID_OPEN] = "unknown", [RAID_BROKEN] = "breaks"};
    const struct claim *c = &r->claims[i];
    const struct claim_behind *b = &r->behind[i];
    struct js *o = js_object(), *contenders = js_array(), *links = js_array();

    for (size_t k = 0; k < c->ncontenders; k++)
        js_add(contenders, contender_json(&c->contenders[k]));
    for (size_t k = 0; k < b->nlinks; k++) {
        struct js *link = js_object();

        js_put(link, "what", js_textz(b->links[k].what));
        js_put(link, "text", js_textz(b->links[k].text));
        js_add(links, link);
    }
    js_put(o, "address", js_text(c->pci->key));
    js_put(o, "id", known_or_null(facts_cell(r->world->f, c->pci, "id")));
    js_put(o, "name", known_or_null(facts_cell(r->world->f, c->pci, "name")));
    js_put(o, "class", known_or_null(facts_cell(r->world->f, c->pci, "class")));
    js_put(o, "devices", texts(b->names, b->nnames));
    js_put(o, "driver", known_or_null(&c->driver));
    js_put(o, "driver_state", js_textz(c->driver.state == VS_KNOWN ? "known" : c->driver.state == VS_ABSENT ? "absent" : "unknown"));
    js_put(o, "then", outcome_json(c));
    js_put(o, "raid", js_textz(risks[drivers_raid(c)]));
    js_put(o, "without_driver", r->next && c->driver.state == VS_KNOWN ? outcome_json(&r->next[i]) : js_null());
    js_put(o, "used", js_bool(b->used));
    js_put(o, "behind", links);
    js_put(o, "contenders", contenders);
    return o;
}

static struct js *items_json(const struct upgrade_item *v, size_t n)
{
    static const char *const weights[] = {[UPGRADE_NOTE] = "note", [UPGRADE_OPEN] = "unknown", [UPGRADE_BLOCKS] = "blocks"};
    struct js *array = js_array();

    for (size_t i = 0; i < n; i++) {
        struct js *o = js_object();

        js_put(o, "weight", js_textz(weights[v[i].weight]));
        js_put(o, "vib", v[i].name.n ? js_text(v[i].name) : js_null());
        js_put(o, "why", js_textz(v[i].why));
        js_put(o, "ask", js_textz(v[i].ask));
        js_add(array, o);
    }
    return array;
}

struct js *drivers_json(const struct drivers_report *r)
{
    const struct value *release = facts_cell(r->world->f, facts_single(r->world->f, "esxi"), "release");
    struct js *o = js_object(), *functions = js_array(), *installs = js_array(), *unmatched = js_array();

    for (size_t i = 0; i < r->n; i++)
        js_add(functions, function_json(r, i));
    for (size_t i = 0; i < r->ninstalls; i++) {
        const struct drivers_install *in = &r->installs[i];
        struct js *v = js_object();

        js_put(v, "name", js_text(in->package->name));
        js_put(v, "version", js_text(in->package->version));
        js_put(v, "vendor", js_textz(in->vendor));
        js_put(v, "acceptance_level", js_textz(in->level));
        js_put(v, "from", js_textz(in->from));
        js_put(v, "maintenance_mode", js_textz(in->maintenance));
        js_put(v, "live_install", js_textz(in->live));
        js_put(v, "modules", texts(in->package->modules, in->package->nmodules));
        js_put(v, "map_lines", js_int((int64_t)in->package->nlines));
        js_put(v, "against", items_json(in->against, in->nagainst));
        js_add(installs, v);
    }
    for (size_t i = 0; i < r->nunmatched; i++)
        js_add(unmatched, js_textz(r->unmatched[i]));
    js_put(o, "target", js_textz(r->target));
    js_put(o, "release", known_or_null(release));
    js_put(o, "incomplete", js_textz(r->incomplete));
    js_put(o, "basis", js_textz(r->world->basis == CLAIM_FROM_MAPS ? "host" : "data"));
    js_put(o, "basis_text", js_textz(r->world->basis_text));
    js_put(o, "basis_whole", js_bool(r->world->whole));
    js_put(o, "lost", js_bool(r->lost));
    js_put(o, "undecided", js_bool(r->open));
    js_put(o, "not_on_host", unmatched);
    js_put(o, "functions", functions);
    js_put(o, "upgrade", items_json(r->upgrade.v, r->upgrade.n));
    js_put(o, "install", installs);
    return o;
}
