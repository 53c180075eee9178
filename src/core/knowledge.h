#ifndef VF_CORE_KNOWLEDGE_H
#define VF_CORE_KNOWLEDGE_H

#include "core/rule.h"

/*
 * The catalogue of what is known (rules/knowledge.tsv), and which rule answers which entry. It is looked at by lint, and by who writes
 * docs/coverage.md; a scan does not need it.
 */
struct known {
    struct slice id, title;
    struct slice basis;      /* read, derived, recalled: how the entry came about */
    struct slice confidence; /* high, medium, low */
    struct slice why_not;    /* why no rule can answer it from a host's facts; empty when one should */
};

struct knowledge {
    struct known *v;
    size_t n, cap;
};

/*
 * Lines of five fields parted by tabs, '#' begins a comment. The fields point into the text, which has to stay. VF_EFORMAT names the line: a
 * wrong number of fields, an unknown basis or confidence, an id twice.
 */
int knowledge_load(struct slice tsv, const char *name, struct arena *a, struct knowledge *out, struct err *e);
const struct known *knowledge_find(const struct knowledge *k, struct slice id);
/* Recalled, or of low confidence: good for a note only. */
bool known_weak(const struct known *k);

#endif
