#ifndef VF_TESTS_WORLD_H
#define VF_TESTS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fsx.h"
#include "base/xml.h"
#include "core/match.h"

/*
 * A small world for tests of the core: the schema and builds of this checkout, rules and facts from texts. The tests are run from the root of
 * the checkout. Static functions, since every test is a program of its own.
 */
struct world {
    struct arena *a;
    struct schema schema;
    struct builds builds;
    struct ruleset rs;
    struct facts *f;
    struct err e;
};

static inline struct slice world_read(struct world *w, const char *path)
{
    struct slice s;

    if (fsx_read(path, 64u << 20, w->a, &s, NULL, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    return s;
}

static inline void world_open(struct world *w)
{
    *w = (struct world){.a = arena_new(512u << 20)};
    if (schema_load(world_read(w, "probes/schema.xml"), "schema.xml", w->a, &w->schema, &w->e) < 0 ||
        builds_load(world_read(w, "probes/releases.xml"), "releases.xml", w->a, &w->builds, &w->e) < 0)
        fail_msg("%s", w->e.msg);
    ruleset_init(&w->rs, &w->schema, &w->builds, w->a);
}

static inline void world_close(struct world *w)
{
    arena_free(w->a);
    *w = (struct world){.a = NULL};
}

/* A world of its own for each test, as its state. */
static inline int world_setup(void **state)
{
    static struct world w;

    world_open(&w);
    *state = &w;
    return 0;
}

static inline int world_teardown(void **state)
{
    world_close(*state);
    return 0;
}

static inline unsigned world_table(const struct world *w, const char *name)
{
    int t = schema_table(&w->schema, slice_of(name));

    if (t < 0)
        fail_msg("no table %s", name);
    return (unsigned)t;
}

static inline unsigned world_column(const struct world *w, const char *table, const char *column)
{
    int c = table_column(&w->schema.tables[world_table(w, table)], slice_of(column));

    if (c < 0)
        fail_msg("no column %s.%s", table, column);
    return (unsigned)c;
}

/* A value as tests write it: "?" unknown, "-" absent, members of lists parted by commas. */
static inline struct value world_value(struct world *w, const struct column *c, struct slice text)
{
    struct slice *list, rest = text, word;
    size_t n = 0;
    int64_t i;

    if (slice_eqz(text, "?"))
        return value_unknown("left open");
    if (slice_eqz(text, "-"))
        return value_absent();
    if (c->type == VT_BOOL)
        return value_bool(slice_eqz(text, "yes"));
    if (c->type == VT_INT) {
        if (num_parse_i64(text, &i) < 0)
            fail_msg("not a number: " SLICE_FMT, SLICE_ARG(text));
        return value_int(i);
    }
    if (c->type != VT_LIST && c->type != VT_REFS)
        return value_slice(arena_dup(w->a, text));
    list = arena_array(w->a, text.n + 1, sizeof *list);
    while (slice_next_word(&rest, ",", &word))
        list[n++] = arena_dup(w->a, word);
    return value_list(list, n);
}

static inline struct row *world_row(struct world *w, unsigned table, struct slice key)
{
    const struct table *t = &w->schema.tables[table];
    struct row *r = facts_row(w->f, table, t->single ? (struct slice){NULL, 0} : key);

    assert_non_null(r);
    if (t->nkeys == 1)
        r->cells[t->keys[0]] = t->columns[t->keys[0]].type == VT_INT ? world_value(w, &t->columns[t->keys[0]], key) : value_slice(r->key);
    return r;
}

/* A second answer says something else about a cell. */
static inline const struct row *world_dispute(struct world *w, const char *table, const char *key, const char *column, struct value other)
{
    unsigned t = world_table(w, table);
    struct row *r = world_row(w, t, slice_of(key));

    other.source = facts_add_source(w->f, (struct source){.ask = SLICE_LIT("another")});
    facts_put(w->f, r, world_column(w, table, column), other);
    return r;
}

/*
 * Facts from lines:
 *   adapter vmhba0|driver=vmw_ahci|pci=0000:00:1f.2    a row, its key first; of a single-row table "esxi|build=1"
 *   !vib partial                                       state of a table: unknown or partial; the others are complete
 *   @6.5u1                                             the host's release
 * A later line adds to a row or replaces its cells.
 */
static inline void world_add(struct world *w, const char *lines)
{
    struct slice rest = slice_of(lines), line, word, key;

    if (!w->f)
        w->f = facts_new(&w->schema, w->a);
    while (slice_next_line(&rest, &line, NULL)) {
        struct row *r;
        unsigned t;

        if (line.n == 0)
            continue;
        if (line.p[0] == '@') {
            assert_int_equal(release_parse(slice_from(line, 1), &w->f->release, &w->e), 0);
            w->f->release.update = w->f->release.update < 0 ? 0 : w->f->release.update;
            world_row(w, world_table(w, "esxi"), slice_of(""))->cells[world_column(w, "esxi", "release")] =
                value_slice(arena_dup(w->a, slice_from(line, 1)));
            continue;
        }
        if (line.p[0] == '!') {
            line = slice_from(line, 1);
            (void)slice_next_word(&line, " ", &word);
            facts_set_table(w->f, world_table(w, arena_dup(w->a, word).p), slice_ends(line, "partial") ? TS_PARTIAL : TS_UNKNOWN, "cut");
            continue;
        }
        (void)slice_next_word(&line, " |", &word);
        t = world_table(w, arena_dup(w->a, word).p);
        key = slice_of("");
        if (!w->schema.tables[t].single)
            (void)slice_next_word(&line, "|", &key);
        r = world_row(w, t, slice_trim(key));
        while (slice_next_word(&line, "|", &word)) {
            size_t eq = slice_find_char(word, 0, '=');
            unsigned c = world_column(w, w->schema.tables[t].name.p, arena_dup(w->a, slice_cut(word, 0, eq)).p);

            r->cells[c] = world_value(w, &w->schema.tables[t].columns[c], slice_from(word, eq + 1));
        }
    }
}

/* New facts; tables that no line calls otherwise are complete. */
static inline void world_facts(struct world *w, const char *lines)
{
    bool named[SCHEMA_MAX_TABLES] = {false};
    struct slice rest = slice_of(lines), line, word;

    w->f = facts_new(&w->schema, w->a);
    while (slice_next_line(&rest, &line, NULL))
        if (line.n && line.p[0] == '!') {
            line = slice_from(line, 1);
            (void)slice_next_word(&line, " ", &word);
            named[world_table(w, arena_dup(w->a, word).p)] = true;
        }
    for (unsigned t = 0; t < w->schema.ntables; t++)
        if (!named[t])
            facts_set_table(w->f, t, TS_COMPLETE, NULL);
    world_add(w, lines);
    facts_sort(w->f);
}

static inline const struct row *world_find(const struct world *w, const char *table, const char *key)
{
    const struct row *r = facts_find(w->f, world_table(w, table), slice_of(key));

    if (!r)
        fail_msg("no row %s in %s", key, table);
    return r;
}

/* What a rule needs beside what a test is about; its examples are for an adapter. */
#define RULE_HEAD(id, subject, more) \
    "<rule id='" id "' subject='" subject "' severity='warning' status='stable' reviewed='2026-11-30' " more ">\n<title>t</title>\n"
#define RULE_WHY "<why>w <see href='https://example.com/'/></why>\n"
#define RULE_EXAMPLES "<matches/><ignores/>\n"
#define RULES(text) "<rules format='1'>\n" text "</rules>\n"
#define RULE(id, subject, more, body) RULE_HEAD(id, subject, more) body RULE_WHY RULE_EXAMPLES "</rule>\n"

static inline int world_load(struct world *w, const char *xml)
{
    w->e = (struct err){0};
    return rules_load(&w->rs.rules, slice_of(xml), "test.xml", &w->schema, w->a, &w->e);
}

/* New rules, sealed. */
static inline void world_rules(struct world *w, const char *xml)
{
    ruleset_init(&w->rs, &w->schema, &w->builds, w->a);
    if (world_load(w, xml) < 0 || ruleset_seal(&w->rs, &w->e) < 0)
        fail_msg("%s", w->e.msg);
}

static inline void world_match(struct world *w, struct findings *out)
{
    struct match_ctx m = {.rules = &w->rs, .facts = w->f, .arena = w->a};

    if (match_run(&m, out, &w->e) < 0)
        fail_msg("%s", w->e.msg);
}

/* The finding of a rule on a row, or NULL. */
static inline const struct finding *world_finding(const struct findings *fs, const char *rule, const char *key)
{
    for (size_t i = 0; i < fs->n; i++)
        if (slice_eqz(fs->v[i].rule->id, rule) && slice_eqz(fs->v[i].row->key, key))
            return &fs->v[i];
    return NULL;
}

/* Numbers that look random, the same on every run. */
static inline uint32_t world_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

#endif
