#include <stddef.h>

#include "base/fsx.h"
#include "cmd/cmd.h"
#include "cmd/env.h"
#include "cmd/probe_doc.h"
#include "out/facts_json.h"

#define MAX_TEXT  (1u << 20)
#define MAX_REPLY (64u << 20) /* one answer; the largest seen is a vmkernel.log of 10 MB */

static void free_table(struct text_table **t)
{
    text_table_free(t);
}

static void add_ask(struct buf *b, const struct way *w)
{
    if (w->ask.kind == ASK_ESXCLI)
        buf_addz(b, "esxcli ");
    buf_add(b, w->ask.text);
}

/* --- list --- */

static int list(struct cli *c, const struct env *env)
{
    static const struct text_column heads[] = {
        {"id", false, TEXT_KEEP}, {"table", false, TEXT_KEEP}, {"lists", false, TEXT_KEEP}, {"ways", false, TEXT_WRAP}};
    static const char *const lists[] = {[LISTS_NO] = "no", [LISTS_MORE] = "more", [LISTS_PART] = "part", [LISTS_YES] = "yes"};
    _cleanup_(free_table) struct text_table *t = text_table_new(heads, sizeof heads / sizeof *heads);
    _cleanup_(buf_done) struct buf out = BUF_INIT(MAX_TEXT);

    for (size_t i = 0; i < env->probes.n; i++) {
        const struct probe *p = env->probes.v[i];
        _cleanup_(buf_done) struct buf ways = BUF_INIT(4096);

        for (unsigned k = 0; k < p->nways; k++) {
            buf_addz(&ways, k ? "; " : "");
            add_ask(&ways, &p->ways[k]);
        }
        text_table_add(t, (const struct slice[]){p->id, env->schema.tables[p->table].name, slice_of(lists[p->lists]),
                                                 buf_slice(&ways)});
    }
    text_table_print(t, cli_table_width(c), &out);
    return cli_write(c, &out);
}

/* --- show --- */

static void add_release(struct buf *b, const char *before, const struct release *r)
{
    if (r->major == 0)
        return;
    buf_printf(b, "%s%d.%d", before, r->major, r->minor);
    if (r->update > 0)
        buf_printf(b, r->major >= 9 ? ".%d" : "u%d", r->update);
    if (r->letter)
        buf_addc(b, r->letter);
}

/* One way: what is asked, of which releases, how it is read, and which of its forms a real host has shown. */
static void show_way(const struct way *w, unsigned number, struct buf *out)
{
    static const char *const shapes[] = {[SHAPE_TABLE] = "table", [SHAPE_LIST] = "list", [SHAPE_BLOCKS] = "blocks",
                                         [SHAPE_OBJECT] = "object", [SHAPE_VALUE] = "value"};
    static const char *const kinds[] = {[ASK_ESXCLI] = "esxcli", [ASK_SHELL] = "shell", [ASK_FILE] = "file", [ASK_REDFISH] = "redfish"};
    bool esxcli = w->ask.kind == ASK_ESXCLI;

    buf_printf(out, "  %u. ", number);
    add_ask(out, w);
    buf_printf(out, "\n     channel   %s\n", kinds[w->ask.kind]);
    if (w->from.major || w->before.major) {
        buf_addz(out, "     releases ");
        add_release(out, " from ", &w->from);
        add_release(out, " before ", &w->before);
        buf_addc(out, '\n');
    }
    buf_printf(out, "     decoder   %s%s%s\n", w->decoder->name, esxcli ? ", text as " : "",
               esxcli ? shapes[w->opt.shape] : "");
    buf_printf(out, "     forms     text %s", w->text_seen ? "seen" : "inferred");
    if (esxcli)
        buf_printf(out, ", xml %s", w->xml_seen ? "seen" : "inferred");
    buf_addc(out, '\n');
    if (slice_starts(w->each, "="))
        buf_printf(out, "     each of   " SLICE_FMT "\n", SLICE_ARG(slice_from(w->each, 1)));
    else if (w->each.n)
        buf_printf(out, "     for each  " SLICE_FMT "\n", SLICE_ARG(w->each));
    if (w->never)
        buf_addz(out, "     never asked, only read when an answer is given: it is the result of a change\n");
}

static int show(struct cli *c, const struct env *env, const char *id, struct err *e)
{
    static const struct text_column heads[] = {
        {"column", false, TEXT_KEEP},
        {"key", false, TEXT_WRAP},
        {"take", false, TEXT_KEEP},
        {"type", false, TEXT_KEEP},
    };
    _cleanup_(free_table) struct text_table *t = text_table_new(heads, sizeof heads / sizeof *heads);
    _cleanup_(buf_done) struct buf out = BUF_INIT(MAX_TEXT);
    const struct probe *p = probes_find(&env->probes, slice_of(id));
    const struct table *table;

    if (!p) {
        struct near near = {.word = slice_of(id)};

        for (size_t i = 0; i < env->probes.n; i++)
            near_try(&near, env->probes.v[i]->id);
        return near_fail(&near, "", e, "no probe \"%s\"%s", id, near.best.n ? "" : "; \"vmkfit probe list\" shows all");
    }
    table = &env->schema.tables[p->table];
    buf_addz(&out, cli_style(c, STYLE_BOLD));
    buf_add(&out, p->id);
    buf_addz(&out, cli_style(c, STYLE_NONE));
    buf_printf(&out, " fills table " SLICE_FMT "%s (%s, line %u)\n", SLICE_ARG(table->name),
               p->lists == LISTS_YES    ? " and lists all of its rows"
               : p->lists == LISTS_PART ? " and lists part of its rows"
                                        : "",
               p->file, p->line);
    opts_wrap(&out, p->why.p ? p->why.p : "", 0, 0, 78);
    buf_addz(&out, "\nWays, the first complete answer counts\n");
    for (unsigned i = 0; i < p->nways; i++)
        show_way(&p->ways[i], i + 1, &out);
    for (unsigned i = 0; i < p->nbinds; i++) {
        const struct bind *b = &p->binds[i];
        const struct column *column = &table->columns[b->column];
        _cleanup_(buf_done) struct buf key = BUF_INIT(1024);

        if (b->constant.n)
            buf_printf(&key, "always \"" SLICE_FMT "\"", SLICE_ARG(b->constant));
        else
            buf_printf(&key, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(b->keys), b->otherwise.n ? ", else " : "", SLICE_ARG(b->otherwise));
        text_table_add(t, (const struct slice[]){column->name, buf_slice(&key), slice_of(take_name(b->take)),
                                                 slice_of(value_type_name(column->type))});
    }
    buf_addc(&out, '\n');
    text_table_print(t, cli_table_width(c), &out);
    return cli_write(c, &out);
}

/* --- decode --- */

/* The source that went best: its state, form and reason are the answer's. */
static const struct source *best_source(const struct facts *f)
{
    const struct source *best = NULL;

    for (size_t i = 1; i < f->nsources; i++)
        if (!best || f->sources[i].state < best->state)
            best = &f->sources[i];
    return best;
}

static struct js *decode_json(const struct env *env, const struct facts *f, const char *command,
                              const struct source *best)
{
    bool tables[SCHEMA_MAX_TABLES] = {0};
    const struct facts_filter filter = {.tables = tables};
    struct js *document = js_object(), *probes = js_array();
    const char *last = NULL;

    for (size_t i = 1; i < f->nsources; i++) {
        const struct probe *p = probes_find(&env->probes, slice_of(f->sources[i].probe));

        if (!p || p->id.p == last)
            continue;
        last = p->id.p;
        js_add(probes, js_text(p->id));
        tables[p->table] = true;
    }
    js_put(document, "schema_version", js_int(FACTS_JSON_VERSION));
    js_put(document, "command", js_textz(command));
    js_put(document, "probes", probes);
    js_put(document, "form", js_textz(best->form));
    js_put(document, "state", js_textz(source_state_name(best)));
    js_put(document, "why", js_textz(best->why));
    js_put(document, "line", best->line ? js_int(best->line) : js_null());
    js_put(document, "tables", facts_json_tables(f, &filter));
    return document;
}

static int decode(struct cli *c, const struct env *env, const char *command, const char *file, struct err *e)
{
    _cleanup_(arena_done) struct arena *a = arena_new(ENV_MAX_HOST);
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    struct facts *f = facts_new(&env->schema, a);
    const struct source *best;
    enum decode_state state;
    struct js *document;
    struct slice body;
    size_t matched;
    int rc, status;

    if (!f)
        return err_set(e, VF_ELIMIT, "no room for the facts");
    rc = collect_asked(&env->probes, slice_of(command), e);
    if (rc < 0)
        return e->code = VF_EUSAGE;
    rc = fsx_read(file, MAX_REPLY, a, &body, NULL, e);
    if (rc < 0)
        return rc == VF_EUSAGE ? err_set(e, VF_EIO, "%s: not a regular file", file) : rc;
    rc = collect_decode(&env->probes, slice_of(command), body, name, f, &state, &matched, e);
    if (rc < 0)
        return rc;
    facts_sort(f);
    best = best_source(f);
    if (!best)
        return err_set(e, VF_ELIMIT, "%s: no room for what it says", name);
    document = decode_json(env, f, command, best);
    status = cli_write_json(c, &document);
    return status ? status : state == DECODE_COMPLETE ? STATUS_OK : STATUS_INCOMPLETE;
}

/* --- doc --- */

static int doc(struct cli *c, const struct env *env)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(MAX_TEXT);

    probe_doc(env, &out);
    return cli_write(c, &out);
}

/* --- the command --- */

static const char *const verbs[] = {"list", "show", "decode", "doc", NULL};
static const char *const takes[] = {"no words", "one probe's ID", "an ID or a command in quotes, and a FILE or -", "no words"};
static const int operands[] = {0, 1, 2, 0};

/* Index of the verb that the words fit, or VF_EUSAGE. */
static int which_verb(int n, char **words, struct err *e)
{
    struct near near = {.word = slice_of(n ? words[0] : NULL)};

    if (n == 0)
        return err_set(e, VF_EUSAGE, "say list, show, decode or doc");
    for (int i = 0; verbs[i]; i++)
        if (strcmp(verbs[i], words[0]) == 0)
            return n == operands[i] + 1 ? i : err_set(e, VF_EUSAGE, "%s takes %s", verbs[i], takes[i]);
    near_tryz(&near, verbs);
    return near_fail(&near, "", e, "\"%s\" is none of list, show, decode, doc", words[0]);
}

static int run_probe(struct cli *c, int argc, char **argv)
{
    _cleanup_(env_close) struct env env = {0};
    struct err e = {0};
    int n, status, rc, verb;

    if (!cli_parse(c, &cmd_probe, NULL, argc, argv, &n, &status))
        return status;
    verb = which_verb(n, argv, &e);
    rc = verb < 0 ? verb : env_open(&env, c->data, c->env.data, &e);
    if (rc == 0)
        rc = verb == 0   ? list(c, &env)
             : verb == 1 ? show(c, &env, argv[1], &e)
             : verb == 2 ? decode(c, &env, argv[1], argv[2], &e)
                         : doc(c, &env);
    return rc < 0 ? cli_fail(c, "probe", &e) : rc;
}

const struct command cmd_probe = {
    .name = "probe",
    .summary = "show what is asked of a host, and try a decoder on one answer",
    .usage = "list\n"
             "show ID\n"
             "decode ID|COMMAND FILE|-\n"
             "doc",
    .examples = "vmkfit probe list\n"
                "vmkfit probe show adapter\n"
                "vmkfit probe decode adapter adapters.txt\n"
                "ssh esx1 vmkchdev -l | vmkfit probe decode \"vmkchdev -l\" -\n",
    .description =
        "A probe says which commands and files are asked for one table, which of their keys goes to which "
        "column, and whether the answer lists "
        "all rows. list names them, show tells all of one. Probes are data and can only read: every command passes "
        "a grammar of read-only commands.\n\n"
        "decode reads one answer, in any form that the command prints (text, XML, JSON, CSV, keyvalue), and "
        "writes what it says as JSON "
        "(docs/schema/probe-decode.json). The exit status is 0 when the answer is complete and 3 when it is cut, "
        "damaged, refused by the host "
        "or not readable; then why says why. Computed columns are left out.\n\n"
        "doc writes all tables and columns with the probes that fill them, in Markdown (docs/facts.md).",
    .verbs = verbs,
    .run = run_probe,
};
