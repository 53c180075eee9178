/*
 * Real outputs of ESXi hosts against tests/samples.expect, which was written by reading each file. The samples are not part of the
 * repository: the folder is $VMKFIT_SAMPLES, else ../shared/samples beside the checkout; without it the test says so and passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fsx.h"
#include "base/xml.h"
#include "cmd/env.h"

struct tally {
    unsigned files, whole, checks, wrong, skipped;
};

struct sample {
    struct env *env;
    const char *folder, *file;
    struct facts *f;
    struct arena *a;
    enum decode_state state;
    bool decoded;
};

static struct slice quoted_word(struct slice *rest)
{
    struct slice word;
    size_t end;

    *rest = slice_trim(*rest);
    if (rest->n && rest->p[0] == '"' && (end = slice_find_char(*rest, 1, '"')) != SIZE_MAX) {
        word = slice_cut(*rest, 1, end - 1);
        *rest = slice_from(*rest, end + 1);
        return word;
    }
    (void)slice_next_word(rest, " ", &word);
    return word;
}

static bool decode(struct sample *s, struct slice command)
{
    const struct derive_env derive = {&s->env->builds, NULL, NULL};
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096);
    struct err e = {0};
    struct slice bytes;
    size_t matched;

    buf_printf(&path, "%s/%s", s->folder, s->file);
    if (fsx_read(buf_z(&path), 8u << 20, s->a, &bytes, NULL, &e) < 0 ||
        collect_decode(&s->env->probes, command, bytes, s->file, s->f, &s->state, &matched, &e) < 0) {
        (void)fprintf(stderr, "%s: %s\n", s->file, e.msg);
        return false;
    }
    derive_all(s->f, &derive);
    return true;
}

static bool check_cell(struct sample *s, struct slice table, struct slice rest)
{
    static const char *const states[] = {"unknown", "absent", "known"};
    struct slice key = quoted_word(&rest), column = quoted_word(&rest), word, want, got;
    int t = schema_table(&s->env->schema, table), c = t < 0 ? -1 : table_column(&s->env->schema.tables[t], column);
    const struct row *r;
    const struct value *v;
    struct slice check = rest;

    if (c < 0) {
        print_message("%s: no column " SLICE_FMT "." SLICE_FMT "\n", s->file, SLICE_ARG(table), SLICE_ARG(column));
        return false;
    }
    r = facts_find(s->f, (unsigned)t, slice_eqz(key, "-") ? SLICE_LIT("") : key);
    v = r ? &r->cells[c] : NULL;
    (void)slice_next_word(&check, " ", &word);
    if (!slice_eqz(word, "=")) {
        if (v && slice_eqz(word, states[v->state]))
            return true;
        print_message("%s: " SLICE_FMT " " SLICE_FMT " " SLICE_FMT ": want " SLICE_FMT ", got %s\n", s->file, SLICE_ARG(table), SLICE_ARG(key),
                      SLICE_ARG(column), SLICE_ARG(word), v ? states[v->state] : "no row");
        return false;
    }
    want = slice_trim(check);
    got = v ? value_text(&s->env->schema.tables[t].columns[c], v, s->a) : SLICE_LIT("");
    if (v && v->list) { /* members are joined by " | " in the expectations */
        _cleanup_(buf_done) struct buf b = BUF_INIT(65536);

        for (size_t i = 0; i < v->nlist; i++) {
            buf_addz(&b, i ? " | " : "");
            buf_add(&b, v->list[i]);
        }
        got = arena_dup(s->a, buf_slice(&b));
    }
    if (v && v->state == VS_KNOWN && slice_eq(got, want))
        return true;
    print_message("%s: " SLICE_FMT " " SLICE_FMT " " SLICE_FMT ": want \"" SLICE_FMT "\", got %s \"" SLICE_FMT "\" %s\n", s->file,
                  SLICE_ARG(table), SLICE_ARG(key), SLICE_ARG(column), SLICE_ARG(want), v ? states[v->state] : "no row", SLICE_ARG(got),
                  v && v->why ? v->why : "");
    return false;
}

static bool check_line(struct sample *s, struct slice line)
{
    static const char *const states[] = {"unusable", "refused", "partial", "complete"};
    struct slice rest = line, word = quoted_word(&rest), table;
    uint64_t n;
    int t;

    if (slice_eqz(word, "state")) {
        if (slice_eqz(slice_trim(rest), states[s->state]))
            return true;
        print_message("%s: want state" SLICE_FMT ", got %s\n", s->file, SLICE_ARG(rest), states[s->state]);
        return false;
    }
    if (slice_eqz(word, "rows")) {
        table = quoted_word(&rest);
        t = schema_table(&s->env->schema, table);
        if (t >= 0 && num_parse_u64(slice_trim(rest), &n) == 0 && facts_count(s->f, (unsigned)t) == n)
            return true;
        print_message("%s: want" SLICE_FMT " rows of " SLICE_FMT ", got %zu\n", s->file, SLICE_ARG(rest), SLICE_ARG(table),
                      t < 0 ? 0 : facts_count(s->f, (unsigned)t));
        return false;
    }
    return check_cell(s, word, rest);
}

static void finish(struct sample *s)
{
    arena_free(s->a);
    s->a = NULL;
}

static void begin(struct sample *s, struct slice line, struct tally *t)
{
    size_t end = slice_find_char(line, 0, ']');

    finish(s);
    s->a = arena_new(256u << 20);
    s->f = facts_new(&s->env->schema, s->a);
    s->file = arena_dup(s->a, slice_cut(line, 1, end - 1)).p;
    s->decoded = decode(s, slice_trim(slice_from(line, end + 1)));
    t->files++;
}

static void samples_decode_as_read_by_eye(void **state)
{
    const char *folder = getenv("VMKFIT_SAMPLES") ? getenv("VMKFIT_SAMPLES") : "../shared/samples";
    struct arena *a = arena_new(16u << 20);
    struct env env;
    struct sample s = {.env = &env, .folder = folder};
    struct tally t = {0};
    struct err e = {0};
    struct slice text, line;
    unsigned wrong_before = 0;

    (void)state;
    if (fsx_kind(folder) != FSX_FOLDER) {
        print_message("no folder %s: the samples of real hosts are not checked\n", folder);
        arena_free(a);
        return;
    }
    assert_int_equal(env_open(&env, ".", NULL, &e), 0);
    assert_int_equal(fsx_read("tests/samples.expect", 4u << 20, a, &text, NULL, &e), 0);
    while (slice_next_line(&text, &line, NULL)) {
        if (line.n == 0 || line.p[0] == '#')
            continue;
        if (line.p[0] == '[') {
            t.whole += t.files && t.wrong == wrong_before;
            begin(&s, line, &t);
            wrong_before = t.wrong;
            continue;
        }
        if (slice_starts(line, "skip")) { /* listed with its reason: what no table can hold */
            t.skipped++;
            continue;
        }
        t.checks++;
        t.wrong += !(s.decoded && check_line(&s, line));
    }
    t.whole += t.files && t.wrong == wrong_before;
    print_message("%u of %u samples as expected (%u listed with a reason), %u values checked, %u wrong\n", t.whole, t.files, t.skipped, t.checks,
                  t.wrong);
    assert_int_equal(t.files, 149);
    assert_int_equal(t.wrong, 0);
    finish(&s);
    env_close(&env);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_decode_as_read_by_eye)};

    xml_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
