#ifndef VF_CORE_RULE_LOAD_H
#define VF_CORE_RULE_LOAD_H

#include "base/buf.h"
#include "base/xml.h"
#include "core/rule.h"

/* The way from a subject to a table; asked for with every element, so it is remembered. */
struct rule_path {
    bool known;
    int n; /* of schema_relate */
    struct step steps[SCHEMA_MAX_STEPS];
};

/* Between rule.c (rules), rule_cond.c (conditions) and rule_fix.c (fixes, examples): the state of one loading; of waiver.c too, which needs no rules. Not for others. */
struct rule_loading {
    struct xml *x;
    struct arena *a;
    const char *name;
    const struct schema *schema;
    struct rules *rules;
    struct rule *rule;
    struct slice attribute; /* of the open element, which the next message is about; empty: about the element */
    struct mistakes *mistakes; /* NULL: the first is the last */
    bool torn; /* not well-formed: nothing can be read behind it */
    struct buf *text; /* of the element being read */
    struct rule_path *paths[SCHEMA_MAX_TABLES]; /* by subject: where its related tables are; in the arena */
};

#define RULE_MAX_TESTS 24u

/* VF_EFORMAT with file, line, the text and "did you mean" when near is not empty. */
int rule_fail(struct rule_loading *l, struct err *e, struct slice near, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Put the place before what e says. */
int rule_where(struct rule_loading *l, struct err *e);
/* What comes next is about an attribute of the open element. */
struct rule_loading *rule_at(struct rule_loading *l, const char *attribute);
int rule_torn(struct rule_loading *l, struct err *e); /* VF_EFORMAT: not well-formed, and where */
int rule_full(struct rule_loading *l, struct err *e); /* VF_ELIMIT: the arena holds no more */
struct slice rule_attr(struct rule_loading *l, const char *name); /* copied; empty when absent */
struct slice rule_near_word(struct slice word, const char *const *words);
/* Next node inside the open element; XML_BROKEN with e set, also at the end of the file. */
enum xml_event rule_next(struct rule_loading *l, struct err *e);
/* VF_EFORMAT when the open element has an attribute that is not among known (NULL: it has none). */
int rule_only(struct rule_loading *l, const char *element, const char *const *known, struct err *e);
int rule_no_children(struct rule_loading *l, const char *element, struct err *e);
bool rule_known_word(struct slice word, const char *const *words);
/* Keep name="value" as one text; both then point into it. */
struct slice rule_keep_pair(struct arena *a, struct slice *name, struct slice *value);
void *rule_keep(struct arena *a, const void *v, size_t n, size_t size);

/* Text of the open element with its blanks folded, and the addresses of its <see>; hrefs NULL: none may stand there. */
int rule_load_text(struct rule_loading *l, const char *element, struct slice *out, struct slice *hrefs, unsigned *nhrefs, struct err *e);

int rule_load_fix(struct rule_loading *l, struct fix *f, struct err *e);
int rule_load_example(struct rule_loading *l, struct example *x, enum example_kind kind, const char *element, struct err *e);

int rule_load_tests(struct rule_loading *l, const struct table *t, const char *const *except, const struct test **out, unsigned *n,
                    struct err *e);
/* One child of when, evidence, require: NULL with e set. */
struct cond *rule_load_part(struct rule_loading *l, struct err *e);
/* All children of the open element: elements of one table are alternatives, everything else must hold. NULL *out for none. */
int rule_load_group(struct rule_loading *l, const char *element, const struct cond **out, struct err *e);
/* bad, good: attributes are tests on the subject row, children as in when. */
int rule_load_body(struct rule_loading *l, const char *element, const char *const *except, const struct cond **out, struct err *e);
struct cond *rule_new_cond(struct rule_loading *l, enum cond_kind kind);

#endif
