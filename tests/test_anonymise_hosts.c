/* The anonymiser on whole hosts: nothing of what it learned may be left, and they must be judged as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promises.h"

#include "base/archive.h"
#include "base/json.h"
#include "collect/anonymise.h"
#include "core/match.h"

static const uint8_t test_key[16] = "0123456789abcde";
static struct ruleset rules;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool alnum(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

/* --- what is left in the output --- */

struct leak {
    struct slice text; /* in lower case */
    const char *file;
    unsigned found;
};

static bool stands_alone(struct slice in, const char *at, size_t n)
{
    const char *end = in.p + in.n;
    char before = at > in.p ? at[-1] : ' ', after = at + n < end ? at[n] : ' ';

    return !alnum(before) && !alnum(after) && !(before == '.' && at - 1 > in.p && alnum(at[-2])) && !(after == '.' && at + n + 1 < end && alnum(at[n + 1]));
}

static int look_for(void *ctx, const struct anonymised *one)
{
    struct leak *l = ctx;
    const char *at = l->text.p, *end = at + l->text.n;

    if (one->in_place)
        return 0;
    while (at && (at = memmem(at, (size_t)(end - at), one->text.p, one->text.n)) != NULL) {
        if (!one->whole || stands_alone(l->text, at, one->text.n)) {
            print_message("%s: " SLICE_FMT " is left: %.*s\n", l->file, SLICE_ARG(one->text), (int)(end - at < 60 ? end - at : 60), at);
            l->found++;
            return 0;
        }
        at++;
    }
    return 0;
}

static unsigned leaks(const struct anonymiser *x, const char *file, struct slice out, struct arena *a)
{
    struct slice text = arena_dup(a, out);
    struct leak l = {text, file, 0};
    char *p = (char *)(uintptr_t)text.p;

    for (size_t i = 0; i < text.n; i++)
        p[i] = lower(p[i]);
    assert_int_equal(anonymiser_each(x, look_for, &l), 0);
    return l.found;
}

/* --- whole fixtures --- */

struct copying {
    struct anonymiser *x;
    struct arena *a;
    struct js *recording;
    struct folder to;
    bool learning;
    unsigned left;
    size_t files;
};

/* What the recording says that a file answers. */
static bool ask_of(const struct copying *c, const char *rel, struct ask *q)
{
    const struct js *answers = c->recording ? js_get(c->recording, "answers") : NULL;

    for (size_t i = 0; answers && i < js_count(answers); i++) {
        const struct js *one = js_at(answers, i);
        struct slice ask = js_as_text(js_get(one, "ask"));

        if (!slice_eqz(js_as_text(js_get(one, "file")), rel))
            continue;
        q->kind = slice_starts(ask, "/") ? ASK_FILE : slice_starts(ask, "esxcli ") ? ASK_ESXCLI : ASK_SHELL;
        q->text = q->kind == ASK_ESXCLI ? slice_from(ask, 7) : ask;
        return true;
    }
    return false;
}

static void make_folders(const char *path)
{
    char part[1024];

    for (const char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        (void)mkdir(part, 0700);
    }
}

static int copy_one(void *ctx, const char *path, const char *rel, struct err *e)
{
    _cleanup_(buf_done) struct buf name = BUF_INIT(4096), body = BUF_INIT(64u << 20), whole = BUF_INIT(4096);
    struct copying *c = ctx;
    struct slice bytes, to = slice_of(rel);
    struct ask q;

    assert_int_equal(fsx_read(path, 64u << 20, c->a, &bytes, NULL, e), 0);
    if (slice_ends(to, ".gz")) {
        bool cut;

        assert_int_equal(archive_gunzip(bytes, rel, 64u << 20, c->a, &bytes, &cut, e), 0);
        to.n -= 3;
    }
    if (c->learning) {
        assert_int_equal(anonymiser_learn(c->x, ask_of(c, rel, &q) ? &q : NULL, bytes), 0);
        assert_int_equal(anonymiser_learn(c->x, NULL, slice_of(rel)), 0);
        return 0;
    }
    assert_int_equal(anonymiser_apply(c->x, bytes, &body, e), 0);
    assert_int_equal(body.n, bytes.n);
    assert_int_equal(anonymiser_apply(c->x, to, &name, e), 0);
    c->left += leaks(c->x, rel, buf_slice(&body), c->a) + leaks(c->x, rel, buf_slice(&name), c->a);
    folder_path(&c->to, buf_z(&name), &whole);
    make_folders(buf_z(&whole));
    folder_write(&c->to, buf_z(&name), (struct slice){buf_z(&body), body.n});
    c->files++;
    return 0;
}

/* What a host is judged as, one line a finding, a table, and a value that names nobody; sorted. subject is mapped where x is given. */
struct verdict {
    struct slice *lines;
    size_t n;
};

static int by_text(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

static size_t words_of(const struct facts *f, struct slice *lines, struct arena *a)
{
    size_t n = 0;

    for (unsigned t = 0; t < f->schema->ntables; t++)
        for (size_t i = 0; i < facts_count(f, t); i++)
            for (unsigned c = 0; c < f->schema->tables[t].ncolumns; c++) {
                const struct column *column = &f->schema->tables[t].columns[c];
                const struct value *v = &facts_at(f, t, i)->cells[c];
                _cleanup_(buf_done) struct buf line = BUF_INIT(1u << 20);

                if (v->state != VS_KNOWN || column->derived || column->identity != IDENTITY_NONE || column->table >= 0)
                    continue;
                buf_printf(&line, SLICE_FMT "." SLICE_FMT " is ", SLICE_ARG(f->schema->tables[t].name), SLICE_ARG(column->name));
                buf_add(&line, value_text(column, v, a));
                if (lines)
                    lines[n] = arena_dup(a, buf_slice(&line));
                n++;
            }
    return n;
}

static void judge(const struct facts *f, const struct anonymiser *x, struct arena *a, struct verdict *out)
{
    struct match_ctx m = {.rules = &rules, .facts = f, .arena = f->arena};
    struct findings found = {0};
    struct err e = {0};

    assert_int_equal(match_run(&m, &found, &e), 0);
    out->lines = arena_array(a, found.n + f->schema->ntables + words_of(f, NULL, a), sizeof *out->lines);
    assert_non_null(out->lines);
    out->n = words_of(f, out->lines, a);
    for (size_t i = 0; i < found.n; i++) {
        _cleanup_(buf_done) struct buf line = BUF_INIT(4096), subject = BUF_INIT(4096);
        const struct finding *one = &found.v[i];

        if (x)
            assert_int_equal(anonymiser_apply(x, one->row->key, &subject, &e), 0);
        else
            buf_add(&subject, one->row->key);
        buf_printf(&line, "%s %s: %d %d %d %d %d", one->rule->id.p, buf_z(&subject), one->result, one->severity, one->evidence, one->withheld_by != NULL,
                   one->superseded_by != NULL);
        out->lines[out->n++] = arena_dup(a, buf_slice(&line));
    }
    for (unsigned t = 0; t < f->schema->ntables; t++) {
        _cleanup_(buf_done) struct buf line = BUF_INIT(4096);
        unsigned states[3] = {0};

        for (size_t i = 0; i < facts_count(f, t); i++)
            for (unsigned c = 0; c < f->schema->tables[t].ncolumns; c++)
                states[facts_at(f, t, i)->cells[c].state]++;
        buf_printf(&line, "table " SLICE_FMT ": state %d, %zu rows, %u unknown, %u absent, %u known", SLICE_ARG(f->schema->tables[t].name), facts_table(f, t, NULL),
                   facts_count(f, t), states[0], states[1], states[2]);
        out->lines[out->n++] = arena_dup(a, buf_slice(&line));
    }
    qsort(out->lines, out->n, sizeof *out->lines, by_text);
}

struct comparing {
    struct copying copy;
    struct verdict before;
    const char *path;
    unsigned wrong;
};

static int judge_copy(void *ctx, const struct env_host *h, struct err *e)
{
    struct comparing *k = ctx;
    struct verdict after = {0};

    (void)e;
    judge(h->facts, NULL, k->copy.a, &after);
    for (size_t i = 0, j = 0; i < k->before.n || j < after.n;) {
        int order = i == k->before.n ? 1 : j == after.n ? -1 : slice_cmp(k->before.lines[i], after.lines[j]);

        if (order)
            print_message("%s: %s " SLICE_FMT "\n", k->path, order < 0 ? "before" : "after", SLICE_ARG(order < 0 ? k->before.lines[i] : after.lines[j]));
        k->wrong += order != 0;
        i += order <= 0;
        j += order >= 0;
    }
    return 0;
}

static int on_original(void *ctx, const struct env_host *h, struct err *e)
{
    struct comparing *k = ctx;
    struct copying *c = &k->copy;
    struct env env = *shared;
    char name[512];
    struct slice bytes;

    c->a = arena_new(1u << 30);
    c->x = anonymiser_new(test_key, c->a);
    assert_non_null(c->x);
    (void)snprintf(name, sizeof name, "%s/recording.json", k->path);
    if (fsx_kind(name) == FSX_FILE) {
        assert_int_equal(fsx_read(name, 8u << 20, c->a, &bytes, NULL, e), 0);
        c->recording = js_parse(bytes, name, e);
        assert_non_null(c->recording);
    }
    assert_int_equal(anonymiser_facts(c->x, h->facts), 0);
    c->learning = true;
    assert_int_equal(fsx_walk(k->path, copy_one, c, e), 0);
    if (anonymiser_seal(c->x, e) < 0)
        fail_msg("%s: %s", k->path, e->msg);
    c->learning = false;
    folder_make(&c->to);
    assert_int_equal(fsx_walk(k->path, copy_one, c, e), 0);
    judge(h->facts, c->x, c->a, &k->before);
    if (env_hosts(&env, c->to.path, judge_copy, k, e) < 0)
        fail_msg("%s: %s", k->path, e->msg);
    k->wrong += c->left;
    folder_remove(&c->to);
    js_free(&c->recording);
    arena_free(c->a);
    return 0;
}

static void fixtures_are_judged_as_before_and_nothing_is_left(void **state)
{
    static const char *const fixtures[] = {
        "bundle-6.7/bundle", "forum-paste-6.5/paste", "gen8-b120i-6.5/recording", "half-blind-7.0u3/recording", "healthy-5.5u3/recording",
        "healthy-6.0u3/recording", "healthy-6.5u3/recording", "healthy-6.7u3/recording", "healthy-7.0u3/recording", "healthy-8.0u3/recording",
        "healthy-9.0/recording", "hidden-nvme-7.0/recording", "stale-workaround-7.0u3/recording", "sys-5028d-6.5-after/recording",
        "sys-5028d-6.5-before/recording", "sys-5028d-6.5-pending/recording"};
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        char path[512];
        struct comparing k = {.path = path};
        struct env env = *shared;
        struct err e = {0};

        (void)snprintf(path, sizeof path, "fixtures/%s", fixtures[i]);
        if (env_hosts(&env, path, on_original, &k, &e) < 0)
            fail_msg("%s: %s", path, e.msg);
        assert_true(k.copy.files > 3);
        wrong += k.wrong;
    }
    assert_int_equal(wrong, 0);
}

/* --- answers of real hosts, each as a host of its own --- */

static void decode_sample(const char *file, struct slice command, struct slice body, struct arena *a, struct facts **f)
{
    const struct derive_env derive = {&shared->builds, NULL, NULL};
    struct err e = {0};
    enum decode_state state;
    size_t matched;

    *f = facts_new(&shared->schema, a);
    assert_non_null(*f);
    if (collect_decode(&shared->probes, command, body, file, *f, &state, &matched, &e) < 0 && e.code != VF_ENOTFOUND)
        fail_msg("%s: %s", file, e.msg);
    derive_all(*f, &derive);
}

static unsigned one_sample(const char *folder, const char *file, struct slice command)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096), out = BUF_INIT(64u << 20);
    struct arena *a = arena_new(256u << 20);
    struct anonymiser *x = anonymiser_new(test_key, a);
    struct comparing k = {.path = file, .copy = {.a = a}};
    struct ask q = {.kind = slice_starts(command, "esxcli ") ? ASK_ESXCLI : slice_starts(command, "/") ? ASK_FILE : ASK_SHELL, .text = command};
    struct env_host h = {0};
    struct facts *f;
    struct slice body;
    struct err e = {0};

    buf_printf(&path, "%s/%s", folder, file);
    assert_int_equal(fsx_read(buf_z(&path), 8u << 20, a, &body, NULL, &e), 0);
    decode_sample(file, command, body, a, &f);
    if (q.kind == ASK_ESXCLI)
        q.text = slice_from(command, 7);
    assert_int_equal(anonymiser_facts(x, f), 0);
    assert_int_equal(anonymiser_learn(x, &q, body), 0);
    assert_int_equal(anonymiser_seal(x, &e), 0);
    assert_int_equal(anonymiser_apply(x, body, &out, &e), 0);
    assert_int_equal(out.n, body.n);
    judge(f, x, a, &k.before);
    k.wrong = leaks(x, file, buf_slice(&out), a);
    if (getenv("VMKFIT_KEEP")) { /* to be read beside the original */
        struct folder to = {""};

        (void)snprintf(to.path, sizeof to.path, "%.60s", getenv("VMKFIT_KEEP"));
        buf_reset(&path);
        buf_printf(&path, "%s/%s", to.path, file);
        make_folders(buf_z(&path));
        folder_write(&to, file, (struct slice){buf_z(&out), out.n});
    }
    decode_sample(file, command, buf_slice(&out), a, &f);
    h.facts = f;
    assert_int_equal(judge_copy(&k, &h, &e), 0);
    arena_free(a);
    return k.wrong;
}

static void answers_of_real_hosts_decode_as_before(void **state)
{
    const char *folder = getenv("VMKFIT_SAMPLES") ? getenv("VMKFIT_SAMPLES") : "../shared/samples";
    struct arena *a = arena_new(16u << 20);
    struct slice text, line;
    struct err e = {0};
    unsigned wrong = 0;

    (void)state;
    if (fsx_kind(folder) != FSX_FOLDER) {
        print_message("no folder %s: the samples of real hosts are not checked\n", folder);
        arena_free(a);
        return;
    }
    assert_int_equal(fsx_read("tests/samples.expect", 4u << 20, a, &text, NULL, &e), 0);
    while (slice_next_line(&text, &line, NULL)) {
        size_t end = line.n && line.p[0] == '[' ? slice_find_char(line, 0, ']') : SIZE_MAX;

        if (end != SIZE_MAX)
            wrong += one_sample(folder, arena_dup(a, slice_cut(line, 1, end - 1)).p, slice_trim(slice_from(line, end + 1)));
    }
    arena_free(a);
    assert_int_equal(wrong, 0);
}

static int setup(void **state)
{
    struct err e = {0};

    if (shared_open(state) < 0 || env_rules(*state, NULL, 0, &rules, &e) < 0)
        fail_msg("%s", e.msg);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_are_judged_as_before_and_nothing_is_left),
        cmocka_unit_test(answers_of_real_hosts_decode_as_before),
    };

    return cmocka_run_group_tests(tests, setup, shared_close);
}
