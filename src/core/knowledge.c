#include "core/knowledge.h"

#define MAX_KNOWN 20000u
#define FIELDS    5u

static bool word_of(struct slice s, const char *words)
{
    return slice_has_word(slice_of(words), s);
}

static int load_line(struct slice line, struct known *k)
{
    struct slice v[FIELDS];

    for (unsigned i = 0; i < FIELDS; i++) {
        size_t tab = slice_find_char(line, 0, '\t');

        if ((tab == SIZE_MAX) != (i == FIELDS - 1))
            return -1;
        v[i] = slice_cut(line, 0, tab);
        line = slice_from(line, tab == SIZE_MAX ? line.n : tab + 1);
    }
    *k = (struct known){v[0], v[1], v[2], v[3], v[4]};
    return 0;
}

int knowledge_load(struct slice tsv, const char *name, struct arena *a, struct knowledge *out, struct err *e)
{
    struct slice line;

    *out = (struct knowledge){0};
    for (unsigned n = 1; slice_next_line(&tsv, &line, NULL); n++) {
        struct known k;
        void *v = out->v;

        if (slice_blank(line) || line.p[0] == '#')
            continue;
        if (load_line(line, &k) < 0)
            return err_set(e, VF_EFORMAT, "%s:%u: wants %u fields parted by tabs: id, title, basis, confidence, why no rule", name, n, FIELDS);
        if (!word_of(k.basis, "read derived recalled"))
            return err_set(e, VF_EFORMAT, "%s:%u: basis must be read, derived or recalled, not \"" SLICE_FMT "\"", name, n, SLICE_ARG(k.basis));
        if (!word_of(k.confidence, "high medium low"))
            return err_set(e, VF_EFORMAT, "%s:%u: confidence must be high, medium or low, not \"" SLICE_FMT "\"", name, n, SLICE_ARG(k.confidence));
        if (knowledge_find(out, k.id))
            return err_set(e, VF_EFORMAT, "%s:%u: the id \"" SLICE_FMT "\" is used twice", name, n, SLICE_ARG(k.id));
        if (arena_grow(a, &v, out->n, &out->cap, sizeof *out->v, MAX_KNOWN) < 0)
            return err_set(e, VF_ELIMIT, "%s: more than %u entries", name, MAX_KNOWN);
        out->v = v;
        out->v[out->n++] = k;
    }
    return 0;
}

const struct known *knowledge_find(const struct knowledge *k, struct slice id)
{
    for (size_t i = 0; i < k->n; i++)
        if (slice_eq(k->v[i].id, id))
            return &k->v[i];
    return NULL;
}

bool known_weak(const struct known *k)
{
    return slice_eqz(k->basis, "recalled") || slice_eqz(k->confidence, "low");
}
