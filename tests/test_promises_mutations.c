/*
 * P3: a damaged answer gives "unknown", never a wrong value. Every answer of every recording in fixtures/ is damaged line by line and
 * decoded alone by the probes of its command; what is then known must be what the undamaged answer says of the same row.
 *
 * Files over 400 lines are damaged at every seventh line; VMKFIT_THOROUGH=1 damages every line of all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fsx.h"
#include "base/json.h"
#include "base/map.h"
#include "base/xml.h"
#include "cmd/env.h"

#define ARENA_BYTES (64u << 20)
#define STRIDE_ABOVE 400u
#define STRIDE       7u

/* The second translation makes words longer, so that the columns of a table no longer stand below their headings. */
enum mutation { MUT_DELETE, MUT_DOUBLE, MUT_SWAP, MUT_TRANSLATE, MUT_WIDEN, MUT_CUT };

static const char *const mutation_names[] = {"deleted", "doubled", "swapped with the next", "translated", "translated with longer words", "cut after"};

struct answer {
    const char *path;
    struct slice command, text;
    bool xml, log;
    bool member_lines; /* the members of lists stand on lines of their own */
    const struct slice *lines; /* with their line ends */
    size_t n;
    struct facts *f;
};

struct run {
    struct env env;
    struct arena *a;
    struct map seen;
    size_t answers, mutations, wrong;
    bool thorough;
};

/* --- damaging --- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Every word of four letters or more becomes another; in XML those of texts and attribute values, not the tags. */
static void translate(struct slice s, enum mutation m, bool xml, struct buf *out)
{
    bool tag = false, quoted = false;
    size_t i = 0;

    while (i < s.n) {
        size_t n = 0;

        while (i + n < s.n && is_letter(s.p[i + n]))
            n++;
        if (n == 0) {
            tag = xml && (s.p[i] == '<' || (tag && s.p[i] != '>'));
            quoted = tag && (quoted != (s.p[i] == '"'));
            buf_addc(out, s.p[i++]);
            continue;
        }
        for (size_t k = i; k < i + n; k++) {
            char c = s.p[k], first = c <= 'Z' ? 'A' : 'a';

            buf_addc(out, n >= 4 && (!tag || quoted) ? (char)(first + (c - first + 13) % 26) : c);
        }
        if (n >= 4 && m == MUT_WIDEN && (!tag || quoted))
            buf_addz(out, "erungen");
        i += n;
    }
}

static bool is_translated(enum mutation m)
{
    return m == MUT_TRANSLATE || m == MUT_WIDEN;
}

static void damage(const struct answer *x, enum mutation m, size_t at, struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < x->n; i++) {
        if (m == MUT_SWAP && i == at && at + 1 < x->n) {
            buf_add(out, x->lines[i + 1]);
            buf_add(out, x->lines[i++]);
            continue;
        }
        if (is_translated(m) && i == at)
            translate(x->lines[i], m, x->xml, out);
        else if (m != MUT_DELETE || i != at)
            buf_add(out, x->lines[i]);
        if (m == MUT_DOUBLE && i == at)
            buf_add(out, x->lines[i]);
        if (m == MUT_CUT && i == at)
            return;
    }
}

static bool holds(struct slice line, struct slice s)
{
    for (size_t i = 0; s.n && i + s.n <= line.n; i++)
        if (memcmp(line.p + i, s.p, s.n) == 0)
            return true;
    return false;
}

/* --- comparing --- */

static struct facts *decode(struct run *r, const struct answer *x, struct slice text, struct arena *a)
{
    struct facts *f = facts_new(&r->env.schema, a);
    enum decode_state state;
    struct err e = {0};
    size_t matched;

    assert_non_null(f);
    if (collect_decode(&r->env.probes, x->command, text, x->path, f, &state, &matched, &e) < 0)
        fail_msg("%s: %s", x->path, e.msg);
    return f;
}

static void complain(struct run *r, const struct answer *x, enum mutation m, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void complain(struct run *r, const struct answer *x, enum mutation m, size_t at, const char *fmt, ...)
{
    char text[1000];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (r->wrong++ < 4000)
        print_message("%s, line %zu %s: %s\n", x->path, at + 1, mutation_names[m], text);
}

/* Parts of a text parted by one of seps, each as it was or as the damage made it; some probes take lower case. */
static bool is_translation(enum mutation m, const char *seps, struct slice was, struct slice now)
{
    struct slice a, b;

    while (slice_next_word(&was, seps, &a)) {
        _cleanup_(buf_done) struct buf t = BUF_INIT(1u << 20);

        if (!slice_next_word(&now, seps, &b))
            return false;
        translate(a, m, false, &t);
        if (!slice_eq(a, b) && !slice_ieq(buf_slice(&t), b))
            return false;
    }
    return !slice_next_word(&now, seps, &b);
}

static bool member_of(const struct value *v, struct slice s)
{
    for (size_t i = 0; i < v->nlist; i++)
        if (slice_eq(v->list[i], s))
            return true;
    return false;
}

static bool is_below(const struct answer *x, size_t at, struct slice s)
{
    while (++at < x->n)
        if (holds(x->lines[at], s))
            return true;
    return false;
}

/* A list whose members stand on lines of their own: it lost the line's member, or those after the cut, or has it in another place. */
static bool list_explained(const struct answer *x, enum mutation m, size_t at, const struct value *was, const struct value *now)
{
    size_t missing = 0;

    for (size_t i = 0; i < now->nlist; i++)
        if (!member_of(was, now->list[i]))
            return false;
    for (size_t i = 0; i < was->nlist; i++) {
        if (member_of(now, was->list[i]))
            continue;
        missing++;
        if (m == MUT_CUT ? x->xml || !is_below(x, at, was->list[i]) : m != MUT_DELETE || !holds(x->lines[at], was->list[i]))
            return false;
    }
    return m == MUT_CUT || (m == MUT_DELETE ? missing == 1 : m == MUT_SWAP && was->nlist == now->nlist);
}

/* Lines of a log are events: one that is gone or not understood was not counted, one that stands twice happened twice. */
static bool log_explained(const struct answer *x, enum mutation m, const struct row *was, const struct row *now)
{
    int64_t before, after;

    if (x->f->schema->tables[was->table].single) /* from when to when it goes */
        return true;
    before = facts_cell(x->f, was, "count")->i;
    after = facts_cell(x->f, now, "count")->i;
    if (m == MUT_DOUBLE)
        return after > before;
    return m != MUT_SWAP && after <= before;
}

/* esxcli's text of a list, "a, b", as a list. */
static struct value as_list(const struct column *c, const struct value *v, struct arena *a)
{
    struct slice rest = v->s, one, *list;
    struct value out = *v;

    if (c->type != VT_TEXT || v->state != VS_KNOWN)
        return out;
    out.nlist = 0;
    list = arena_array(a, v->s.n + 1, sizeof *list);
    while (slice_next_word(&rest, ",", &one))
        list[out.nlist++] = slice_trim(one);
    out.list = list;
    return out;
}

/*
 * What no decoder can see, and nothing else:
 *   - a text of the answer that was replaced by another text of the same kind: translated values, names of rows, words that say "there
 *     is none" or "not known", and an alias behind a name that lspci marks by no more than "[vmhba0]"
 *   - a member of a list that stands on a line of its own (XML, esxcfg-vswitch -l): taken out, cut off in text, or changed places
 *     with its neighbour
 *   - a line taken out of a log, or written twice
 * In text, a row that was taken out whole is not seen either; compare_table() asks for the rows of XML alone.
 */
static bool explained(const struct answer *x, enum mutation m, size_t at, const struct column *c, const struct row *was, const struct row *now,
                      unsigned column, struct arena *tmp)
{
    const struct value *a = &was->cells[column], *b = &now->cells[column];
    bool textual = c->type != VT_BOOL && c->type != VT_INT && c->type != VT_HEX && c->type != VT_PCI;

    if (x->log)
        return log_explained(x, m, was, now);
    if (is_translated(m) && textual && b->state == VS_KNOWN) {
        _cleanup_(buf_done) struct buf line = BUF_INIT(1u << 20), text = BUF_INIT(1u << 20);

        translate(x->lines[at], m, x->xml, &line);
        if (a->state == VS_KNOWN && is_translation(m, ",", value_text(c, a, tmp), value_text(c, b, tmp)))
            return true;
        translate(value_text(c, a, tmp), m, false, &text);
        return slice_starts(value_text(c, b, tmp), buf_z(&text)) && holds(buf_slice(&line), value_text(c, b, tmp));
    }
    if (a->state == VS_KNOWN && x->member_lines && (c->type == VT_LIST || c->type == VT_REFS || c->type == VT_TEXT)) {
        struct value la = as_list(c, a, tmp), lb = as_list(c, b, tmp);

        return list_explained(x, m, at, &la, &lb);
    }
    return false;
}

static void compare_cell(struct run *r, const struct answer *x, enum mutation m, size_t at, const struct facts *f, const struct row *was,
                         const struct row *now, unsigned c)
{
    static const char *const states[] = {"unknown", "absent", "known"};
    const struct table *t = &r->env.schema.tables[now->table];
    const struct column *col = &t->columns[c];
    const struct value *a = &was->cells[c], *b = &now->cells[c];
    struct arena *tmp = f->arena;

    if (b->state == VS_UNKNOWN || (a->state == b->state && value_equal(col, a, b)) || explained(x, m, at, col, was, now, c, tmp))
        return;
    complain(r, x, m, at, SLICE_FMT " " SLICE_FMT " " SLICE_FMT " was %s " SLICE_FMT ", is %s " SLICE_FMT, SLICE_ARG(t->name),
             SLICE_ARG(now->key), SLICE_ARG(col->name), states[a->state], SLICE_ARG(value_text(col, a, tmp)), states[b->state],
             SLICE_ARG(value_text(col, b, tmp)));
}

/* The row of the undamaged answer; by its translated name when the damage translated it. */
static const struct row *original(const struct answer *x, enum mutation m, unsigned t, struct slice key)
{
    const struct row *r = facts_find(x->f, t, key);

    for (size_t i = 0; !r && is_translated(m) && i < facts_count(x->f, t); i++)
        if (is_translation(m, "/", facts_at(x->f, t, i)->key, key))
            r = facts_at(x->f, t, i);
    return r;
}

static void compare_table(struct run *r, const struct answer *x, enum mutation m, size_t at, const struct facts *f, unsigned t)
{
    const struct table *table = &f->schema->tables[t];
    size_t found = 0;

    for (size_t i = 0; i < facts_count(f, t); i++) {
        const struct row *now = facts_at(f, t, i), *was = original(x, m, t, now->key);

        if (!was) {
            complain(r, x, m, at, "row " SLICE_FMT " " SLICE_FMT " was not there", SLICE_ARG(table->name), SLICE_ARG(now->key));
            continue;
        }
        found++;
        for (unsigned c = 0; c < table->ncolumns; c++)
            compare_cell(r, x, m, at, f, was, now, c);
    }
    if (found < facts_count(x->f, t) && x->xml && !table->single && facts_table(f, t, NULL) == TS_COMPLETE)
        complain(r, x, m, at, "%zu rows of " SLICE_FMT " are gone from a complete table", facts_count(x->f, t) - found,
                 SLICE_ARG(table->name));
}

/* --- the answers --- */

static void mutate(struct run *r, struct answer *x)
{
    size_t stride = x->n > STRIDE_ABOVE && !r->thorough ? STRIDE : 1;
    _cleanup_(buf_done) struct buf text = BUF_INIT(16u << 20);

    for (size_t at = 0; at < x->n; at += stride)
        for (enum mutation m = MUT_DELETE; m <= MUT_CUT; m++) {
            struct arena *a = arena_new(ARENA_BYTES);
            const struct facts *f;

            damage(x, m, at, &text);
            f = decode(r, x, buf_slice(&text), a);
            for (unsigned t = 0; t < f->schema->ntables; t++)
                compare_table(r, x, m, at, f, t);
            arena_free(a);
            r->mutations++;
        }
}

/* The same command with the same bytes, in another recording. */
static bool seen_before(struct run *r, const struct answer *x)
{
    struct slice key = slice_of(arena_printf(r->a, SLICE_FMT "\n%zu ", SLICE_ARG(x->command), x->text.n));
    char *both = arena_alloc(r->a, key.n + x->text.n + 1);

    memcpy(both, key.p, key.n);
    if (x->text.n)
        memcpy(both + key.n, x->text.p, x->text.n);
    key = (struct slice){both, key.n + x->text.n};
    if (map_get(&r->seen, key) != MAP_NONE)
        return true;
    assert_int_equal(map_put(&r->seen, r->a, key, 1), 0);
    return false;
}

static void try_text(struct run *r, const char *path, struct slice command, struct slice text)
{
    struct answer x = {.path = path, .command = command, .text = text};
    struct slice rest = text, line, *lines;

    if (seen_before(r, &x))
        return;
    while (slice_next_line(&rest, &line, NULL))
        x.n++;
    lines = arena_array(r->a, x.n + 1, sizeof *lines);
    rest = x.text;
    for (size_t i = 0; i < x.n; i++) {
        const char *from = rest.p;

        (void)slice_next_line(&rest, &line, NULL);
        lines[i] = (struct slice){from, (size_t)(rest.p - from)};
    }
    x.lines = lines;
    x.xml = slice_starts(x.text, "<");
    x.member_lines = x.xml || slice_eqz(command, "esxcfg-vswitch -l");
    x.log = command.p[0] == '/' && slice_ends(command, ".log");
    x.f = decode(r, &x, x.text, r->a);
    mutate(r, &x);
    r->answers++;
}

/* A file; of one in fragments the first stands for all. */
static void try_file(struct run *r, const char *path, struct slice command)
{
    _cleanup_(buf_done) struct buf all = BUF_INIT(16u << 20);
    struct slice text, stem = slice_cut(slice_of(path), 0, slice_find(slice_of(path), 0, ".FRAG-"));
    struct err e = {0};

    for (unsigned i = 0; stem.n < strlen(path); i++) {
        const char *part = arena_printf(r->a, SLICE_FMT ".FRAG-%05u", SLICE_ARG(stem), i);

        if (fsx_kind(part) != FSX_FILE)
            break;
        if ((i == 0 && strcmp(part, path) != 0) || fsx_read(part, 16u << 20, r->a, &text, NULL, &e) < 0)
            return;
        buf_add(&all, text);
    }
    if (all.n)
        text = arena_dup(r->a, buf_slice(&all));
    else if (fsx_read(path, 16u << 20, r->a, &text, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    try_text(r, path, command, text);
}

/* The command a file answers: what a probe asks under that name. */
static bool command_of(struct run *r, const char *rel, struct slice *command)
{
    for (size_t i = 0; i < r->env.probes.n; i++)
        for (unsigned k = 0; k < r->env.probes.v[i]->nways; k++) {
            const struct way *w = &r->env.probes.v[i]->ways[k];

            if (slice_find(w->ask.text, 0, "{}") != SIZE_MAX || !offline_name_answers(rel, &w->ask))
                continue;
            *command = slice_of(arena_printf(r->a, "%s" SLICE_FMT, w->ask.kind == ASK_ESXCLI ? "esxcli " : "", SLICE_ARG(w->ask.text)));
            return true;
        }
    return false;
}

static int on_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct run *r = ctx;
    struct slice command;
    const char *cut = strchr(rel, '/');

    (void)e;
    if (slice_ends(slice_of(rel), ".json") || slice_ends(slice_of(rel), ".gz"))
        return 0;
    if (cut && command_of(r, strchr(cut + 1, '/') && slice_starts(slice_of(cut + 1), "recording/") ? cut + 11 : cut + 1, &command))
        try_file(r, arena_printf(r->a, "%s", path), command);
    return 0;
}

static int on_recording(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct run *r = ctx;
    struct slice bytes;
    struct js *doc;
    const struct js *answers;

    if (!slice_ends(slice_of(rel), "/recording.json"))
        return 0;
    if (fsx_read(path, 1u << 20, r->a, &bytes, NULL, e) < 0)
        return e->code;
    doc = js_parse(bytes, path, e);
    assert_non_null(doc);
    answers = js_get(doc, "answers");
    for (size_t i = 0; i < js_count(answers); i++) {
        struct slice file = js_as_text(js_get(js_at(answers, i), "file")), folder = slice_of(path), ask = js_as_text(js_get(js_at(answers, i), "ask"));
        enum decode_state state;
        struct err none = {0};
        size_t matched;
        struct arena *a = arena_new(ARENA_BYTES);

        folder.n -= strlen("recording.json");
        (void)collect_decode(&r->env.probes, ask, SLICE_LIT(""), "", facts_new(&r->env.schema, a), &state, &matched, &none);
        arena_free(a);
        if (file.n && matched)
            try_file(r, arena_printf(r->a, SLICE_FMT SLICE_FMT, SLICE_ARG(folder), SLICE_ARG(file)), arena_dup(r->a, ask));
    }
    js_free(&doc);
    return 0;
}

static void P3_damaged_answers_give_no_wrong_value(void **state)
{
    const char *thorough = getenv("VMKFIT_THOROUGH");
    struct run r = {.a = arena_new(1u << 30), .thorough = thorough && *thorough == '1'};
    struct err e = {0};

    (void)state;
    if (env_open(&r.env, ".", NULL, &e) < 0 || fsx_walk("fixtures", on_recording, &r, &e) < 0 || fsx_walk("fixtures", on_file, &r, &e) < 0)
        fail_msg("%s", e.msg);
    print_message("P3: %zu answers, %zu damaged forms of them\n", r.answers, r.mutations);
    assert_int_equal(r.wrong, 0);
    env_close(&r.env);
    arena_free(r.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(P3_damaged_answers_give_no_wrong_value)};

    xml_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
