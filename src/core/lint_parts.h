#ifndef VF_CORE_LINT_PARTS_H
#define VF_CORE_LINT_PARTS_H

#include "core/lint.h"

/* Between lint.c (one rule), lint_never.c (conditions), lint_examples.c and lint_pairs.c (two rules). Not for others. */

/* What a finding is about: an element by its line and offset, or an attribute of it. */
struct spot {
    uint32_t line, at;
    struct slice attribute;
};
#define ELEMENT            ((struct slice){NULL, 0})
#define SPOT(x, attribute_) ((struct spot){(x)->line, (x)->at, attribute_})

void lint_say(struct lint *l, const struct rule *r, struct spot at, bool error, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* An attribute of a rule names what is not there; near may be empty. */
void lint_unknown(struct lint *l, const struct rule *r, const char *attribute, struct slice id, const char *what, struct slice near);
/* The attribute that a test was written as. */
struct slice test_attribute(const struct test *x);

/* Conditions that can never hold, or always do; entries of a list of good ones that add nothing. */
void lint_never(struct lint *l, const struct rule *r);
/* Values of the wrong type, releases that there are not, results other than what the example says. */
void lint_examples(struct lint *l, const struct rule *r);
/* Is it a release of the table; true for what lies outside of the table: an older line, or after its newest. */
bool lint_release(const struct builds *b, const struct release *r);

#endif
