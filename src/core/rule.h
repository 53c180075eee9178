#ifndef VF_CORE_RULE_H
#define VF_CORE_RULE_H

#include "base/map.h"
#include "core/action.h"
#include "core/cond.h"

/*
 * Rules: what is known to be bad, or the list of all that is good, about the rows of one table. The format is described in
 * docs/writing-rules.md; loading checks every name, type and argument in plain words, so that a mistake never waits for a host.
 */
enum severity { SEV_NOTE, SEV_WARNING, SEV_CRITICAL };
const char *severity_name(enum severity s);
int severity_parse(struct slice s, enum severity *out);

/* Is it a date that there is, YYYY-MM-DD. */
bool rule_date(struct slice s);
/* A count of days, of a date that rule_date has passed; the difference of two is how many days lie between them. */
int64_t rule_days(struct slice date);

/* So old a list of good pairs is said to be old: vendors validate new pairs with each release. */
#define RULE_REVIEW_DAYS 180

enum rule_status { RULE_DRAFT, RULE_STABLE, RULE_RETIRED };

struct fix_action {
    const struct action *action;
    struct slice values[ACTION_MAX_ARGS]; /* as written; may be "${table.column}" */
    uint32_t line, at;
};

struct fix {
    struct slice id;
    int risk; /* index of risk_names */
    const struct cond *require; /* must hold before; NULL when nothing is asked */
    const struct fix_action *actions;
    unsigned nactions;
    const struct slice *advise; /* what only a person can do */
    unsigned nadvise;
    const struct test *then; /* of the subject row, after the change */
    unsigned nthen;
    uint32_t line, at;
};

enum example_kind { EXAMPLE_MATCHES, EXAMPLE_IGNORES, EXAMPLE_UNSURE };

/* Rows of an example: a tree of table elements with attributes. */
struct example_row {
    unsigned table;
    const struct slice *names, *values; /* attributes */
    unsigned n;
    const struct example_row **kids;
    unsigned nkids;
    uint32_t line, at;
};

struct example {
    enum example_kind kind;
    struct slice esxi, upgrade_to, partial;
    struct example_row flat; /* attributes on the example itself; its table is the rule's subject */
    uint32_t line, at;
};

/* A weakened condition (core/mutate.h) that no example can notice, and why. */
struct uncaught {
    struct slice what, because;
    uint32_t line;
};

struct good {
    const struct cond *cond;
    struct slice note;
};

struct rule {
    struct slice id, title, why, topic, reviewed;
    const char *file;
    uint32_t line, at; /* of its element: xml_line and xml_offset; so of what it holds */
    const struct rule *replaced; /* an earlier one of the same id, or NULL */
    unsigned subject;
    enum severity severity;
    enum rule_status status;
    struct release upgrade_to; /* major 0: not about an upgrade */
    const struct cond *when;   /* NULL: always */
    const struct cond *bad;    /* NULL when good is given */
    const struct good *good;
    unsigned ngood;
    const struct cond *const *evidence;
    unsigned nevidence;
    bool evidence_required;
    const struct slice *hrefs;
    unsigned nhrefs;
    const struct fix *fixes;
    unsigned nfixes;
    const struct example *examples;
    unsigned nexamples;
    const struct slice *supersedes, *restrains;
    unsigned nsupersedes, nrestrains;
    const struct uncaught *uncaught;
    unsigned nuncaught;
    const struct slice *covers; /* entries of rules/knowledge.tsv that it answers */
    unsigned ncovers;
};

#define RULE_MAX_KIDS     256u
#define RULE_MAX_EXAMPLES 64u

struct rules {
    const struct rule **v;
    size_t n, cap;
    struct map by_id;
    bool without_examples; /* set before loading, by who only matches: examples are read and checked, but not kept */
};

/*
 * Add the rules of one file. A rule whose id is already there replaces the earlier one whole. Errors name file, line and column (xml_place),
 * the word and the nearest known one.
 */
int rules_load(struct rules *rs, struct slice xml, const char *name, const struct schema *s, struct arena *a, struct err *e);

#define RULES_MAX_MISTAKES 50u

struct mistakes {
    const char *v[RULES_MAX_MISTAKES]; /* as the errors of rules_load */
    unsigned n;
    bool unread; /* the rest of the file was not read: it is not well-formed, or there were too many */
};

/*
 * The same for who corrects a file: behind a mistake it goes on with the next part of the rule, which itself is left out, and with the next
 * rule. Returns 0 with all mistakes in m, or VF_ELIMIT.
 */
int rules_check(struct rules *rs, struct slice xml, const char *name, const struct schema *s, struct arena *a, struct mistakes *m, struct err *e);
const struct rule *rules_find(const struct rules *rs, struct slice id);
struct slice rules_near(const struct rules *rs, struct slice id);

/*
 * Do the conditions of a rule name the device: a PCI id, 8086:9d03 or 1000:005d:1028:1f49; a shorter one takes in the longer ones. What a rule
 * excludes (<none>) is not named; a rule that goes by the driver alone names no device.
 */
bool rule_names_device(const struct rule *rule, const struct schema *s, struct slice id);

#endif
