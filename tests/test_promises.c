/*
 * P1, P2 and P4 on the whole way from files to report. P1: output of any size or content exhausts neither memory nor time. P2: no byte breaks
 * a parser, none that is not text reaches a report. P4: what is missing is said, and nothing that needed it passes for good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promises.h"

#include "out/facts_json.h"
#include "out/report.h"

/* Beside the rules of the program: a finding on any adapter of vmw_ahci, and on the VIB of that name. */
static const char rules_text[] =
    "<rules format=\"1\">"
    "<rule id=\"t-adapter\" subject=\"adapter\" topic=\"t\" severity=\"warning\" status=\"stable\" reviewed=\"2026-01-01\">"
    "<title>T</title>"
    "<when><esxi from=\"5.5\"/></when><bad driver=\"vmw_ahci\"/><why>W<see href=\"https://example.com/\"/></why><matches esxi=\"6.5\" driver=\"vmw_ahci\"/>"
    "<ignores esxi=\"6.5\" driver=\"ahci\"/></rule>"
    "<rule id=\"t-vib\" subject=\"vib\" topic=\"t\" severity=\"note\" status=\"stable\" reviewed=\"2026-01-01\"><title>T</title>"
    "<bad name=\"vmw-ahci\"/><why>W<see href=\"https://example.com/\"/></why><matches name=\"vmw-ahci\"/><ignores name=\"x\"/></rule>"
    "</rules>";

static struct ruleset rules;

/* --- a scan of one target --- */

struct scan {
    int (*look)(struct scan *s, const struct env_host *h, const struct report *r);
    const void *ctx;
    char wrong[400];
};

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    struct scan *s = ctx;
    struct match_ctx m = {.rules = &rules, .facts = h->facts, .arena = h->facts->arena};
    struct report_source source = {.target = "target", .label = h->target->label, .kind = h->target->kind, .incomplete = h->incomplete,
                                   .unread = !h->target->channel};
    struct report r;

    if (report_build(&m, &source, &r, e) < 0)
        return e->code;
    return s->look(s, h, &r);
}

static const char *scan_path(struct scan *s, const char *path)
{
    struct env env = *shared;
    struct err e = {0};

    if (env_hosts(&env, path, on_host, s, &e) < 0 && !s->wrong[0])
        (void)snprintf(s->wrong, sizeof s->wrong, "%.390s", e.msg);
    return s->wrong[0] ? s->wrong : NULL;
}

static void print_text(const struct report *r, unsigned verbose, struct buf *out)
{
    const struct report_style style = {.width = 80, .verbose = verbose, .bold = "", .dim = "", .red = "", .yellow = "", .green = "", .none = ""};

    report_text(r, &style, out);
}

/* --- P1 --- */

#define BUDGET_MIB 600 /* a log of 64 MiB with its copy and growth, or 200,000 rows; each of the two arenas is bounded by 512 MiB */

struct huge {
    const char *file, *head, *line, *tail; /* head once, then line with a number until bytes are reached, then tail */
    uint64_t bytes;
    bool sparse;         /* zeros instead of lines */
    const char *table;   /* whose first rows were in the part that was read */
    size_t rows;         /* at least */
    bool usable;         /* table is partial, not unknown */
};

#define MODULES "Name      Is Loaded  Is Enabled\n--------  ---------  ----------\nvmkernel       true        true\n"
#define LOG     "2017-03-02T09:24:12.783Z cpu7:65581)WARNING: ScsiDeviceIO: 1203: Device naa.%024u performance has deteriorated. " \
                "I/O latency increased from average value of 9000 microseconds to 900000 microseconds.\n"
#define XML_ROW "<structure typeName=\"M\"><field name=\"IsEnabled\"><boolean>true</boolean></field><field name=\"IsLoaded\"><boolean>true" \
                "</boolean></field><field name=\"Name\"><string>%s"

static const struct huge huge[] = {
    {"esxcli system module list.txt", "", NULL, "", 64u << 20, true, "module", 0, false},
    {"esxcli system module list.txt", MODULES, "x", "\n", 32u << 20, false, "module", 1, true},
    {"esxcli system module list.txt", MODULES, "\n", "", 10000000, false, "module", 1, true},
    {"esxcli system module list.txt", MODULES, "m%07u       true        true\n", "", 300000 * 32, false, "module", 100000, true},
    {"esxcli_system_module_list.xml",
     "<?xml version=\"1.0\"?><output><root><list type=\"structure\">"
     "<structure typeName=\"M\"><field name=\"IsEnabled\"><boolean>true</boolean></field><field name=\"IsLoaded\"><boolean>true"
     "</boolean></field><field name=\"Name\"><string>vmkernel</string></field></structure>"
     "<structure typeName=\"M\"><field name=\"Name\"><string>", "x",
     "</string></field></structure></list></root></output>", 20u << 20, false, "module", 1, true},
    {"esxcli_system_module_list.json", "", "[", "", 4u << 20, false, "module", 0, false},
    {"esxcli_system_module_list.json", "[", "{\"a\":", "", 4u << 20, false, "module", 0, false},
    {"vmkernel.log", "", LOG, "", 100000000, false, "log", 1000, true},
    {"vmkernel.log", "", "2017-03-02T09:24:12.783Z cpu7:65581)nothing of interest\n", "", 100000000, false, "log", 0, true},
};

static int look_huge(struct scan *s, const struct env_host *h, const struct report *r)
{
    const struct huge *x = s->ctx;
    unsigned t = facts_table_index(h->facts, x->table);
    const char *why = NULL;
    enum table_state state = facts_table(h->facts, t, &why);
    _cleanup_(buf_done) struct buf text = BUF_INIT(1u << 30);
    bool said = false;

    for (size_t i = 1; i < h->facts->nsources; i++)
        said = said || (h->facts->sources[i].state != SOURCE_OK && h->facts->sources[i].state != SOURCE_MISSING && h->facts->sources[i].why);
    print_text(r, 2, &text);
    if (facts_count(h->facts, t) < x->rows)
        (void)snprintf(s->wrong, sizeof s->wrong, "%zu rows of %s", facts_count(h->facts, t), x->table);
    else if (state == TS_COMPLETE || !why || (x->usable && state != TS_PARTIAL))
        (void)snprintf(s->wrong, sizeof s->wrong, "%s is %s", x->table, table_state_name(state));
    else if (!said && !h->incomplete)
        (void)snprintf(s->wrong, sizeof s->wrong, "no answer is marked");
    return 0;
}

struct huge_run {
    const struct huge *x;
    const char *path;
};

static const char *scan_huge(const void *ctx)
{
    const struct huge_run *run = ctx;
    static struct scan s;

    s = (struct scan){.look = look_huge, .ctx = run->x};
    return scan_path(&s, run->path);
}

static void write_huge(const struct folder *f, const struct huge *x)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096), line = BUF_INIT(1u << 16);
    const char *at = x->line ? strchr(x->line, '%') : NULL;
    uint64_t n = 0;
    FILE *out;

    folder_path(f, x->file, &path);
    out = fopen(buf_z(&path), "wbe");
    assert_non_null(out);
    assert_true(fputs(x->head, out) >= 0);
    for (unsigned i = 0; !x->sparse && n < x->bytes; i++) {
        if (at || i == 0) {
            buf_reset(&line);
            buf_add(&line, (struct slice){x->line, at ? (size_t)(at - x->line) : strlen(x->line)});
            if (at)
                buf_printf(&line, "%0*u%s", at[2] == '2' ? 24 : 7, i, strchr(at, 'u') + 1);
        }
        assert_int_equal(fwrite(line.p, 1, line.n, out), line.n);
        n += line.n;
    }
    assert_true(fputs(x->tail, out) >= 0);
    assert_int_equal(fclose(out), 0);
    if (x->sparse)
        assert_int_equal(truncate(buf_z(&path), (off_t)x->bytes), 0);
}

static void P1_answers_of_any_size_are_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        struct folder f;
        struct huge_run run = {&huge[i], f.path};
        long peak;

        folder_make(&f);
        write_huge(&f, &huge[i]);
        peak = child_run(scan_huge, &run);
        folder_remove(&f);
        print_message("P1: %s of %llu bytes: %ld MiB\n", huge[i].file, (unsigned long long)huge[i].bytes, peak);
        if (memory_counts() && peak > BUDGET_MIB)
            fail_msg("%s: %ld MiB", huge[i].file, peak);
    }
}

/* All of them at once, beside a good answer: it is read as if it were alone. */
static int look_together(struct scan *s, const struct env_host *h, const struct report *r)
{
    _cleanup_(buf_done) struct buf text = BUF_INIT(1u << 30);

    print_text(r, 0, &text);
    if (!facts_find(h->facts, facts_table_index(h->facts, "vib"), SLICE_LIT("vmw-ahci")) || !slice_starts(buf_slice(&text), "esx"))
        (void)snprintf(s->wrong, sizeof s->wrong, "the good answers were not read");
    return 0;
}

static const char *scan_together(const void *path)
{
    static struct scan s;

    s = (struct scan){.look = look_together};
    return scan_path(&s, path);
}

static int copy_one(void *ctx, const char *path, const char *rel, struct err *e)
{
    struct arena *a = arena_new(16u << 20);
    struct slice body;

    if (!strchr(rel, '/') && !slice_ends(slice_of(rel), ".json") && fsx_read(path, 8u << 20, a, &body, NULL, e) == 0)
        folder_write(ctx, rel, body);
    arena_free(a);
    return 0;
}

static void P1_a_huge_answer_leaves_the_others_alone(void **state)
{
    struct folder f;
    struct err e = {0};
    long peak;

    (void)state;
    folder_make(&f);
    assert_int_equal(fsx_walk("fixtures/sys-5028d-6.5-before/recording", copy_one, &f, &e), 0);
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
        write_huge(&f, &huge[i]);
    peak = child_run(scan_together, f.path);
    folder_remove(&f);
    if (memory_counts() && peak > BUDGET_MIB)
        fail_msg("%ld MiB", peak);
}

/* --- P2 --- */

struct dirty {
    const char *answer, *file, *command; /* clean answer; name in the folder; its command */
    struct slice clean, bytes, safe;     /* bytes: as they were written; safe: as a sample of a log shows them */
    struct facts *was;
    const char *how;
};

/* Neither C0 but the line end, nor DEL, C1, marks of direction, zero-width characters, nor broken UTF-8. */
static bool is_clean(struct slice s)
{
    _cleanup_(buf_done) struct buf safe = BUF_INIT(1u << 28);
    struct slice line;

    while (slice_next_line(&s, &line, NULL)) {
        buf_reset(&safe);
        buf_add_safe(&safe, line);
        if (!slice_eq(buf_slice(&safe), line))
            return false;
    }
    return true;
}

/* The text is there, and not as a piece of a word that dirt parted. */
static bool stands_whole(struct slice bytes, struct slice text)
{
    const char *at = bytes.p, *end = bytes.p + bytes.n;

    while ((at = memmem(at, (size_t)(end - at), text.p, text.n)) != NULL) {
        unsigned char before = at > bytes.p ? (unsigned char)at[-1] : ' ';
        unsigned char after = at + text.n < end ? (unsigned char)at[text.n] : ' ';

        if ((before < 0x7f || (unsigned char)text.p[0] >= 0x7f) && (after < 0x7f || (unsigned char)text.p[text.n - 1] >= 0x7f))
            return true;
        at++;
    }
    return false;
}

static bool was_printed(const struct dirty *d, const struct column *c, const struct row *now, unsigned column, struct arena *a)
{
    const struct row *was = facts_find(d->was, now->table, now->key);
    const struct value *v = &now->cells[column];
    struct slice text = value_text(c, v, a), rest = text, one;

    if (was && was->cells[column].state == v->state && value_equal(c, &was->cells[column], v))
        return true;
    if (!was && (c->type == VT_BOOL || c->type == VT_INT || c->type == VT_HEX || c->nvalues || slice_eqz(c->name, "kind")))
        /* of a name with letters added: words of ours */
        return true;
    if (c->type == VT_LIST || c->type == VT_REFS)
        while (slice_next_word(&rest, ",", &one)) {
            one = slice_trim(one);
            if (!memmem(d->bytes.p, d->bytes.n, one.p, one.n))
                return false;
        }
    return text.n && (stands_whole(d->bytes, text) || (slice_eqz(c->name, "sample") && memmem(d->safe.p, d->safe.n, text.p, text.n)));
}

static void check_values(struct scan *s, const struct dirty *d, const struct facts *f)
{
    for (unsigned t = 0; t < f->schema->ntables; t++)
        for (size_t i = 0; i < facts_count(f, t); i++)
            for (unsigned c = 0; c < f->schema->tables[t].ncolumns; c++) {
                const struct column *column = &f->schema->tables[t].columns[c];
                const struct row *r = facts_at(f, t, i);

                if (r->cells[c].state != VS_KNOWN || column->derived || was_printed(d, column, r, c, f->arena))
                    continue;
                (void)snprintf(s->wrong, sizeof s->wrong, "%s, %s: " SLICE_FMT " " SLICE_FMT " " SLICE_FMT " is " SLICE_FMT, d->file, d->how,
                               SLICE_ARG(f->schema->tables[t].name), SLICE_ARG(r->key), SLICE_ARG(column->name),
                               SLICE_ARG(value_text(column, &r->cells[c], f->arena)));
            }
}

static bool is_clean_json(struct js **v)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 28);
    struct err e = {0};
    struct js *again;

    js_write(*v, true, &b);
    js_free(v);
    again = js_parse(buf_slice(&b), "report", &e);
    if (!again)
        return false;
    js_free(&again);
    for (size_t i = 0; i < b.n; i++)
        if ((unsigned char)b.p[i] < 0x20 && b.p[i] != '\n')
            return false;
    return true;
}

static int look_dirty(struct scan *s, const struct env_host *h, const struct report *r)
{
    const struct dirty *d = s->ctx;
    struct js *tables = facts_json_tables(h->facts, &(struct facts_filter){0}), *report = report_json(r);
    _cleanup_(buf_done) struct buf text = BUF_INIT(1u << 28);

    for (unsigned verbose = 0; verbose < 3; verbose++) {
        buf_reset(&text);
        print_text(r, verbose, &text);
        if (!is_clean(buf_slice(&text)))
            (void)snprintf(s->wrong, sizeof s->wrong, "%s, %s: control characters in the report", d->file, d->how);
    }
    if (!is_clean_json(&report) || !is_clean_json(&tables))
        (void)snprintf(s->wrong, sizeof s->wrong, "%s, %s: JSON", d->file, d->how);
    check_values(s, d, h->facts);
    return 0;
}

static void try_dirty(struct dirty *d, const char *how, struct slice bytes)
{
    struct scan s = {.look = look_dirty, .ctx = d};
    struct slice rest = bytes, line;
    _cleanup_(buf_done) struct buf safe = BUF_INIT(64u << 20);
    struct folder f;
    const char *wrong;

    while (slice_next_line(&rest, &line, NULL)) {
        buf_add_safe(&safe, line);
        buf_addc(&safe, '\n');
    }
    d->how = how;
    d->bytes = bytes;
    d->safe = buf_slice(&safe);
    folder_make(&f);
    folder_write(&f, d->file, bytes);
    wrong = scan_path(&s, f.path);
    folder_remove(&f);
    if (wrong)
        fail_msg("%s", wrong);
}

/* Put dirt before, inside and behind the words of every line. */
static void sprinkle(struct slice in, struct slice dirt, unsigned every, struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < in.n; i++) {
        if (i % every == every / 2)
            buf_add(out, dirt);
        buf_addc(out, in.p[i]);
    }
}

static void sixteen_bits(struct slice in, bool big, bool mark, struct buf *out)
{
    buf_reset(out);
    if (mark)
        buf_add(out, big ? SLICE_LIT("\xfe\xff") : SLICE_LIT("\xff\xfe"));
    for (size_t i = 0; i < in.n; i++) {
        buf_addc(out, big ? '\0' : in.p[i]);
        buf_addc(out, big ? in.p[i] : '\0');
    }
}

static void line_ends(struct slice in, const char *end, struct buf *out)
{
    struct slice line;

    buf_reset(out);
    while (slice_next_line(&in, &line, NULL)) {
        buf_add(out, line);
        buf_addz(out, end);
    }
}

static void foreign(struct slice in, struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < in.n; i++) { /* vowels to letters of two bytes */
        const char *at = in.p[i] ? strchr("aeiouAEIOU", in.p[i]) : NULL;

        if (at)
            buf_add(out, (struct slice){&"\xc3\xa4\xc3\xab\xc3\xaf\xc3\xb6\xc3\xbc\xc3\x84\xc3\x8b\xc3\x8f\xc3\x96\xc3\x9c"[2 * (at - "aeiouAEIOU")], 2});
        else
            buf_addc(out, in.p[i]);
    }
}

static void noise(struct buf *out, size_t n)
{
    uint32_t x = 2463534242u;

    buf_reset(out);
    while (n--) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        buf_addc(out, (char)x);
    }
}

static void soil(struct dirty *d)
{
    static const struct {
        const char *how;
        struct slice dirt;
    } dirts[] = {
        {"invalid UTF-8", {"\xff\xfe\x80", 3}}, {"half a character", {"\xe2\x82", 2}},       {"NUL", {"\0", 1}},
        {"CR", {"\r", 1}},                      {"BEL", {"\a", 1}},                          {"C1", {"\xc2\x9b" "31m", 5}},
        {"right to left", {"\xe2\x80\xae", 3}}, {"zero width", {"\xe2\x80\x8b", 3}},         {"DEL", {"\x7f", 1}},
        {"colour", {"\033[31m", 5}},            {"title", {"\033]0;evil\a", 9}},             {"backspace", {"\b\b\b", 3}},
    };
    static const unsigned every[] = {7, 41, 333, 5000};
    _cleanup_(buf_done) struct buf b = BUF_INIT(4u << 20), both = BUF_INIT(4u << 20);

    for (size_t i = 0; i < sizeof dirts / sizeof *dirts; i++)
        for (size_t k = 0; k < sizeof every / sizeof *every; k++) {
            sprinkle(d->clean, dirts[i].dirt, every[k], &b);
            try_dirty(d, dirts[i].how, buf_slice(&b));
        }
    for (int k = 0; k < 4; k++) {
        sixteen_bits(d->clean, k & 1, k & 2, &b);
        try_dirty(d, "UTF-16", buf_slice(&b));
    }
    line_ends(d->clean, "\r\n", &b);
    try_dirty(d, "CR LF", buf_slice(&b));
    line_ends(d->clean, "\r", &b);
    try_dirty(d, "CR alone", buf_slice(&b));
    foreign(d->clean, &b);
    try_dirty(d, "foreign", buf_slice(&b));
    buf_reset(&b);
    buf_addz(&b, "\xef\xbb\xbf");
    buf_add(&b, d->clean);
    try_dirty(d, "byte order mark", buf_slice(&b));
    noise(&b, 100000);
    try_dirty(d, "binary", buf_slice(&b));
    buf_add(&both, d->clean);
    buf_add(&both, buf_slice(&b));
    try_dirty(d, "binary behind", buf_slice(&both));
    buf_add(&b, d->clean);
    try_dirty(d, "binary before", buf_slice(&b));
}

static void P2_no_byte_breaks_a_parser_or_reaches_a_report(void **state)
{
    static const struct dirty answers[] = {
        {.answer = "fixtures/healthy-5.5u3/recording/esxcli_storage_core_adapter_list.txt", .file = "esxcli storage core adapter list.txt",
         .command = "esxcli storage core adapter list"},
        {.answer = "fixtures/healthy-5.5u3/recording/esxcli_software_vib_list.txt", .file = "esxcli software vib list.txt",
         .command = "esxcli software vib list"},
        {.answer = "fixtures/healthy-5.5u3/recording/esxcli_system_module_list.txt", .file = "esxcli system module list.txt",
         .command = "esxcli system module list"},
        {.answer = "fixtures/sys-5028d-6.5-before/recording/esxcli_storage_core_adapter_list.xml", .file = "esxcli_storage_core_adapter_list.xml",
         .command = "esxcli storage core adapter list"},
        {.answer = "fixtures/sys-5028d-6.5-before/recording/var/log/vmkernel.log", .file = "vmkernel.log", .command = "/var/log/vmkernel.log"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct dirty d = answers[i];
        struct arena *a = arena_new(64u << 20);
        struct err e = {0};
        enum decode_state st;
        size_t matched;

        if (fsx_read(d.answer, 1u << 20, a, &d.clean, NULL, &e) < 0)
            fail_msg("%s", e.msg);
        d.was = facts_new(&shared->schema, a);
        assert_int_equal(collect_decode(&shared->probes, slice_of(d.command), d.clean, d.file, d.was, &st, &matched, &e), 0);
        assert_int_equal(st, DECODE_COMPLETE);
        soil(&d);
        arena_free(a);
    }
}

/* --- P4 --- */

#define HOST "fixtures/sys-5028d-6.5-before/recording"

/* Rule and subject of a finding of the whole recording. */
struct found {
    struct slice rule, key;
    unsigned table;
};

struct whole {
    struct arena *a;
    struct found *v;
    size_t n;
    struct slice *files[512]; /* by probe: the answers it used */
    size_t nfiles[512];
    enum table_state tables[SCHEMA_MAX_TABLES];
    const char *probe; /* whose answers are gone now */
    size_t asked;
};

static int look_whole(struct scan *s, const struct env_host *h, const struct report *r)
{
    struct whole *w = (struct whole *)(uintptr_t)s->ctx;

    w->v = arena_array(w->a, r->findings.n + 1, sizeof *w->v);
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = &r->findings.v[i];

        if (f->result == TRI_TRUE)
            w->v[w->n++] = (struct found){arena_dup(w->a, f->rule->id), arena_dup(w->a, f->row->key), f->row->table};
    }
    for (unsigned t = 0; t < h->facts->schema->ntables; t++)
        w->tables[t] = facts_table(h->facts, t, NULL);
    for (size_t p = 0; p < shared->probes.n; p++) {
        w->files[p] = arena_array(w->a, h->facts->nsources, sizeof *w->files[p]);
        for (size_t i = 1; i < h->facts->nsources; i++)
            if (h->facts->sources[i].where.n && slice_eqz(shared->probes.v[p]->id, h->facts->sources[i].probe))
                w->files[p][w->nfiles[p]++] = arena_dup(w->a, h->facts->sources[i].where);
    }
    return 0;
}

static bool still_said(const struct found *was, const struct report *r)
{
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = &r->findings.v[i];

        if (slice_eq(f->rule->id, was->rule) && f->row->table == was->table && slice_eq(f->row->key, was->key))
            return true; /* true or unsure: the list has no others */
    }
    return false;
}

static int look_without(struct scan *s, const struct env_host *h, const struct report *r)
{
    const struct whole *w = s->ctx;
    const char *why;

    for (size_t i = 0; i < w->n; i++) {
        enum table_state now = facts_table(h->facts, w->v[i].table, &why);

        if (still_said(&w->v[i], r) || (now != TS_COMPLETE && why && *why && r->nblind))
            continue;
        (void)snprintf(s->wrong, sizeof s->wrong, "without %s: " SLICE_FMT " on \"" SLICE_FMT "\" is gone", w->probe, SLICE_ARG(w->v[i].rule),
                       SLICE_ARG(w->v[i].key));
    }
    for (unsigned t = 0; t < h->facts->schema->ntables; t++) {
        enum table_state now = facts_table(h->facts, t, &why);

        if (now > w->tables[t] || (now != TS_COMPLETE && (!why || !*why)))
            (void)snprintf(s->wrong, sizeof s->wrong, "without %s: " SLICE_FMT " is %s: %s", w->probe,
                           SLICE_ARG(h->facts->schema->tables[t].name), table_state_name(now), why ? why : "(no reason)");
        for (size_t i = 0; i < facts_count(h->facts, t); i++)
            for (unsigned c = 0; c < h->facts->schema->tables[t].ncolumns; c++) {
                const struct value *v = &facts_at(h->facts, t, i)->cells[c];

                if (v->state == VS_UNKNOWN && !*value_why(v))
                    (void)snprintf(s->wrong, sizeof s->wrong, "without %s: a cell is unknown without a reason", w->probe);
            }
    }
    return 0;
}

static int copy_tree(void *ctx, const char *path, const char *rel, struct err *e)
{
    _cleanup_(buf_done) struct buf to = BUF_INIT(4096);
    struct arena *a = arena_new(16u << 20);
    struct slice body;

    folder_path(ctx, rel, &to);
    for (size_t i = strlen(((struct folder *)ctx)->path) + 1; i < to.n; i++)
        if (to.p[i] == '/') {
            to.p[i] = '\0';
            (void)mkdir(to.p, 0700);
            to.p[i] = '/';
        }
    if (!slice_ends(slice_of(rel), "recording.json") && fsx_read(path, 8u << 20, a, &body, NULL, e) == 0)
        folder_write(ctx, rel, body);
    arena_free(a);
    return 0;
}

static void P4_missing_answers_leave_unsure_and_never_ok(void **state)
{
    struct whole w = {.a = arena_new(64u << 20)};
    struct scan s = {.look = look_whole, .ctx = &w};
    struct folder f;
    struct err e = {0};
    size_t tried = 0;

    (void)state;
    assert_true(shared->probes.n <= 512);
    folder_make(&f);
    assert_int_equal(fsx_walk(HOST, copy_tree, &f, &e), 0);
    assert_null(scan_path(&s, f.path));
    assert_true(w.n >= 2);
    for (size_t p = 0; p < shared->probes.n; p++) {
        _cleanup_(buf_done) struct buf from = BUF_INIT(4096), to = BUF_INIT(4096);
        struct scan without = {.look = look_without, .ctx = &w};

        w.probe = shared->probes.v[p]->id.p;
        for (size_t i = 0; i < w.nfiles[p]; i++) { /* out of sight: names with a dot are not looked at */
            folder_path(&f, w.files[p][i].p, &from);
            buf_reset(&to);
            buf_printf(&to, "%s/.%zu", f.path, i);
            (void)rename(buf_z(&from), buf_z(&to));
        }
        if (scan_path(&without, f.path))
            fail_msg("%s", without.wrong);
        for (size_t i = w.nfiles[p]; i-- > 0;) {
            folder_path(&f, w.files[p][i].p, &from);
            buf_reset(&to);
            buf_printf(&to, "%s/.%zu", f.path, i);
            (void)rename(buf_z(&to), buf_z(&from));
        }
        tried += w.nfiles[p] > 0;
    }
    assert_true(tried > 30);
    print_message("P4: %zu probes taken away in turn, %zu findings\n", tried, w.n);
    folder_remove(&f);
    arena_free(w.a);
}

static int setup(void **state)
{
    struct folder f;
    struct err e = {0};
    struct slice more;
    _cleanup_(buf_done) struct buf path = BUF_INIT(4096);

    (void)shared_open(state);
    folder_make(&f);
    folder_write(&f, "rules.xml", SLICE_LIT(rules_text));
    folder_path(&f, "rules.xml", &path);
    more = slice_of(buf_z(&path));
    if (env_rules(*state, &more, 1, &rules, &e) < 0)
        fail_msg("%s", e.msg);
    folder_remove(&f);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(P1_answers_of_any_size_are_bounded),
        cmocka_unit_test(P1_a_huge_answer_leaves_the_others_alone),
        cmocka_unit_test(P2_no_byte_breaks_a_parser_or_reaches_a_report),
        cmocka_unit_test(P4_missing_answers_leave_unsure_and_never_ok),
    };

    return cmocka_run_group_tests(tests, setup, shared_close);
}
