#include <stdlib.h>

#include "core/example.h"
#include "core/lint_parts.h"

/* Two rules that hold for one row and want different things of it. */

/*
 * A group larger than this is of a generated pack: of a hundred rules everything against everything is 10,000 runs of examples, of ten thousand
 * it would be hours. There each rule meets the next, and those whose matching examples name the same device.
 */
#define MAX_GROUP 100u

static bool decided_between(const struct rule *a, const struct rule *b)
{
    return slice_among(a->supersedes, a->nsupersedes, b->id) || slice_among(a->restrains, a->nrestrains, b->id) ||
           slice_among(b->supersedes, b->nsupersedes, a->id) || slice_among(b->restrains, b->nrestrains, a->id);
}

/* A rule in a group: of a topic, or of those whose fixes change one thing. */
struct member {
    struct slice group; /* the topic, or "module NAME", "setting PATH" */
    struct slice device; /* by which a large group is parted */
    struct slice value; /* what the thing is made; empty in a topic */
    const struct rule *r;
    size_t index; /* of the rule: keeps the order */
    size_t met;   /* place in a large group, from 1: neighbours have met */
};

struct members {
    struct member *v;
    size_t n, cap;
};

static int order_groups(const struct member *a, const struct member *b)
{
    int order = slice_cmp(a->group, b->group);

    if (order == 0 && a->r->subject != b->r->subject)
        order = a->r->subject < b->r->subject ? -1 : 1;
    return order ? order : slice_cmp(a->device, b->device);
}

static bool same_group(const struct member *a, const struct member *b)
{
    return order_groups(a, b) == 0;
}

static int by_group(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    int order = order_groups(a, b);

    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static void add(struct lint *l, struct members *m, struct member one)
{
    void *v = m->v;

    if (arena_grow(l->arena, &v, m->n, &m->cap, sizeof *m->v, SIZE_MAX / sizeof *m->v / 2) < 0)
        return;
    m->v = v;
    m->v[m->n++] = one;
}

/* The example of a that b holds for too, or NULL. */
static const struct example *shared_example(struct lint *l, const struct rule *a, const struct rule *b)
{
    for (unsigned i = 0; i < a->nexamples; i++) {
        struct arena *scratch = arena_new(64u << 20);
        struct example_result got = {0};
        struct err e = {0};
        bool holds = a->examples[i].kind == EXAMPLE_MATCHES && example_run(l->rules, b, &a->examples[i], scratch, &got, &e) == 0 &&
                     got.got == TRI_TRUE;

        arena_free(scratch);
        if (holds)
            return &a->examples[i];
    }
    return NULL;
}

static void pair(struct lint *l, const struct member *a, const struct member *b)
{
    const struct example *x = decided_between(a->r, b->r) ? NULL : shared_example(l, a->r, b->r);

    if (!x)
        return;
    if (!a->value.n)
        lint_say(l, a->r, SPOT(x, ELEMENT), true, "this example also matches " SLICE_FMT " of the same topic: one of them has to supersede or restrain"
                 " the other", SLICE_ARG(b->r->id));
    else
        lint_say(l, a->r, SPOT(x, ELEMENT), true, "this example also matches " SLICE_FMT ", and the two contradict each other about " SLICE_FMT
                 ": %s against %s", SLICE_ARG(b->r->id), SLICE_ARG(a->group), a->value.p, b->value.p);
}

static void groups(struct lint *l, struct members *m, bool parted);

/* Two rules that make the same of a thing do not contradict each other. */
static bool differ(const struct member *a, const struct member *b)
{
    return !a->value.n || !slice_eq(a->value, b->value);
}

/* Once for each PCI id of its matching examples, or without one. */
static void by_device(struct lint *l, struct members *out, const struct member *a, size_t met)
{
    struct member one = *a;
    struct slice last = {NULL, 0};
    size_t had = out->n;

    one.met = met;
    for (unsigned i = 0; i < a->r->nexamples; i++)
        for (unsigned k = 0; a->r->examples[i].kind == EXAMPLE_MATCHES && k < a->r->examples[i].flat.n; k++) {
            one.device = a->r->examples[i].flat.values[k];
            if (!slice_eqz(a->r->examples[i].flat.names[k], "pci") || slice_eq(one.device, last))
                continue;
            last = one.device;
            add(l, out, one);
        }
    if (out->n == had)
        add(l, out, one);
}

static void group(struct lint *l, const struct member *v, size_t n, bool parted)
{
    struct members devices = {0};

    if (n > MAX_GROUP && !parted) {
        for (size_t i = 0; i < n; i++) {
            by_device(l, &devices, &v[i], i + 1);
            if (i > 0 && v[i].r != v[i - 1].r && differ(&v[i], &v[i - 1])) {
                pair(l, &v[i - 1], &v[i]);
                pair(l, &v[i], &v[i - 1]);
            }
        }
        groups(l, &devices, true);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && n <= MAX_GROUP; k++)
            if (v[i].r != v[k].r && differ(&v[i], &v[k]) && !(parted && (v[i].met == v[k].met + 1 || v[k].met == v[i].met + 1)))
                pair(l, &v[i], &v[k]);
}

static void groups(struct lint *l, struct members *m, bool parted)
{
    size_t to;

    if (m->n)
        qsort(m->v, m->n, sizeof *m->v, by_group);
    for (size_t from = 0; from < m->n; from = to) {
        for (to = from + 1; to < m->n && same_group(&m->v[to], &m->v[from]);)
            to++;
        group(l, m->v + from, to - from, parted);
    }
}

/* What an action changes, and into what. */
static bool change(struct lint *l, const struct fix_action *a, struct slice *thing, struct slice *value)
{
    const char *name = a->action->name;
    const char *what = strncmp(name, "module-", 7) == 0 ? "module" : strcmp(name, "setting-set") == 0 ? "setting" : "boot option";

    if (strcmp(name, "module-enable") == 0 || strcmp(name, "module-disable") == 0)
        *value = slice_of(name);
    else if (strcmp(name, "setting-set") == 0 || strcmp(name, "kernel-setting-set") == 0)
        *value = slice_of(arena_printf(l->arena, SLICE_FMT, SLICE_ARG(a->values[1])));
    else
        return false;
    *thing = slice_of(arena_printf(l->arena, "%s " SLICE_FMT, what, SLICE_ARG(a->values[0])));
    return value->n > 0;
}

void lint_pairs(struct lint *l)
{
    const struct rules *rs = &l->rules->rules;
    struct members topics = {0}, changes = {0};

    for (size_t i = 0; i < rs->n; i++) {
        const struct rule *r = rs->v[i];

        if (r->topic.n && r->nfixes)
            add(l, &topics, (struct member){.group = r->topic, .r = r, .index = i});
        for (unsigned f = 0; f < r->nfixes; f++)
            for (unsigned k = 0; k < r->fixes[f].nactions; k++) {
                struct member one = {.r = r, .index = i};

                if (change(l, &r->fixes[f].actions[k], &one.group, &one.value))
                    add(l, &changes, one);
            }
    }
    groups(l, &topics, false);
    groups(l, &changes, false);
}

void lint_names(struct lint *l, const struct rule *r, const struct rules *all)
{
    const struct rule *now = rules_find(all, r->id);

    for (int restrains = 0; restrains < 2; restrains++) {
        const struct slice *ids = restrains ? r->restrains : r->supersedes;
        const char *attribute = restrains ? "restrains" : "supersedes";

        for (unsigned i = 0; i < (restrains ? r->nrestrains : r->nsupersedes); i++) {
            const struct rule *other = rules_find(all, ids[i]);

            if (!other)
                lint_unknown(l, r, attribute, ids[i], restrains ? "restrains names a rule that is not there" : "supersedes names a rule that is not there",
                             rules_near(all, ids[i]));
            else if (other->status == RULE_RETIRED)
                lint_say(l, r, SPOT(r, slice_of(attribute)), false, "%s names a rule that is retired: " SLICE_FMT, attribute, SLICE_ARG(ids[i]));
        }
    }
    for (const struct rule *old = now ? now->replaced : NULL; old; old = old->replaced)
        if (old->status == RULE_RETIRED && r->status != RULE_RETIRED && now->status != RULE_RETIRED) {
            lint_say(l, r, SPOT(r, SLICE_LIT("id")), true, "the id was retired in %s, line %u; an id is never used again", old->file, old->line);
            break;
        }
    if (r->replaced)
        lint_say(l, r, SPOT(r, SLICE_LIT("id")), false, "this rule replaces the one of the same id in %s, line %u", r->replaced->file, r->replaced->line);
}
