#include <stddef.h>

#include "cmd/cmd.h"
#include "cmd/facts_text.h"
#include "cmd/site.h"

static const char *const states[] = {"unknown", "absent", "known", NULL}; /* in the order of enum value_state */

struct facts_values {
    bool json, source;
    int state;
    struct opt_list columns, facts;
};

static const struct opt facts_opts[] = {
    {"json", 0, OPT_FLAG, offsetof(struct facts_values, json), NULL,
     "everything as JSON (docs/schema/facts.json)", NULL},
    {"columns", 0, OPT_LIST, offsetof(struct facts_values, columns), "COLUMN,...", "only these columns of TABLE", NULL},
    {"state", 0, OPT_CHOICE, offsetof(struct facts_values, state), NULL, "only cells in this state", states},
    {"source", 0, OPT_FLAG, offsetof(struct facts_values, source), NULL,
     "the answers that were read, instead of the facts", NULL},
    {"facts", 0, OPT_LIST, offsetof(struct facts_values, facts), "FILE,...", SITE_OPT_HELP, NULL},
    {0},
};

struct run {
    struct cli *c;
    struct env *env;
    const char *path;
    const struct facts_values *v;
    struct facts_view view;
    bool tables[SCHEMA_MAX_TABLES], columns[SCHEMA_MAX_COLUMNS];
    struct js *hosts;
    bool incomplete;
    int status;
};

static struct js *host_json(const struct run *r, const struct env_host *h)
{
    const struct value *name = facts_cell(h->facts, facts_single(h->facts, "host"), "name");
    struct js *host = js_object(), *sources = js_array();

    for (size_t i = 1; i < h->facts->nsources; i++)
        if (facts_text_wants_source(&r->view, &h->facts->sources[i]))
            js_add(sources, facts_json_source(&h->facts->sources[i]));
    js_put(host, "target", js_textz(h->target->label));
    js_put(host, "kind", js_textz(h->target->kind));
    js_put(host, "host", name->state == VS_KNOWN ? js_text(name->s) : js_null());
    js_put(host, "incomplete", js_textz(h->incomplete));
    js_put(host, "tables", facts_json_tables(h->facts, &r->view.filter));
    js_put(host, "sources", sources);
    return host;
}

static int on_host(void *ctx, const struct env_host *h, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(1u << 30);
    struct run *r = ctx;
    int status;

    (void)e;
    if (h->incomplete) {
        cli_warn(r->c, "%s: %s", h->target->label, h->incomplete);
        r->incomplete = true;
    }
    if (r->v->json) {
        js_add(r->hosts, host_json(r, h));
        return 0;
    }
    if (h->count > 1 || r->view.table < 0)
        facts_text_heading(&r->view, h, &b);
    if (r->v->source)
        facts_text_sources(&r->view, h->facts, &b);
    else if (r->view.table >= 0)
        facts_text_table(&r->view, h->facts, (unsigned)r->view.table, &b);
    else if (r->view.filter.one_state)
        facts_text_all(&r->view, h->facts, &b);
    else
        facts_text_overview(&r->view, h->facts, &b);
    status = cli_write(r->c, &b);
    r->status = status ? status : r->status;
    return 0;
}

/* Check TABLE and --columns against the schema. */
static int choose(struct run *r, const char *table, struct err *e)
{
    const struct schema *s = &r->env->schema;
    const struct table *t;

    r->view.table = -1;
    if (!table)
        return r->v->columns.n ? err_set(e, VF_EUSAGE, "--columns needs a TABLE") : 0;
    r->view.table = schema_table(s, slice_of(table));
    if (r->view.table < 0) {
        const struct near near = {.best = schema_near_table(s, slice_of(table))};

        return near_fail(&near, "", e, "no table \"%s\"", table);
    }
    r->tables[r->view.table] = true;
    r->view.filter.tables = r->tables;
    t = &s->tables[r->view.table];
    for (size_t i = 0; i < r->v->columns.n; i++) {
        struct slice name = r->v->columns.v[i];
        int column = table_column(t, name);

        if (column < 0) {
            const struct near near = {.best = table_near_column(t, name)};

            return near_fail(&near, "", e, "table %s has no column \"" SLICE_FMT "\"", table, SLICE_ARG(name));
        }
        if (!r->columns[column])
            r->view.order[r->view.norder++] = (unsigned)column;
        r->columns[column] = true;
        r->view.filter.columns = r->columns;
    }
    return 0;
}

static int print_json(struct run *r)
{
    struct js *document = js_object();

    js_put(document, "schema_version", js_int(FACTS_JSON_VERSION));
    js_put(document, "target", js_textz(r->path));
    js_put(document, "hosts", r->hosts);
    r->hosts = NULL;
    return cli_write_json(r->c, &document);
}

static int run_facts(struct cli *c, int argc, char **argv)
{
    _cleanup_(env_close) struct env env = {0};
    _cleanup_(js_free) struct js *hosts = NULL;
    struct facts_values v = {.state = -1};
    struct run r = {.c = c, .env = &env, .v = &v};
    struct err e = {0};
    int n, status, rc;

    if (!cli_parse(c, &cmd_facts, &v, argc, argv, &n, &status))
        return status;
    if (n < 1 || n > 2) {
        (void)err_set(&e, VF_EUSAGE, n < 1 ? "say which TARGET: a host, a folder of outputs, a recording or a support bundle"
                                           : "one TARGET and one TABLE at a time");
        return cli_fail(c, "facts", &e);
    }
    r.path = argv[0];
    r.view = (struct facts_view){.c = c, .probes = &env.probes};
    r.view.filter.derived = true;
    r.view.filter.one_state = v.state >= 0;
    if (v.state >= 0)
        r.view.filter.state = (enum value_state)v.state;
    rc = env_open(&env, c->data, c->env.data, &e);
    env.cli = c;
    if (rc == 0)
        rc = site_open(&env, &v.facts, &e);
    if (rc == 0)
        rc = choose(&r, n == 2 ? argv[1] : NULL, &e);
    if (rc < 0)
        return cli_fail(c, "facts", &e);
    r.hosts = hosts = v.json ? js_array() : NULL;
    rc = env_hosts(&env, r.path, on_host, &r, &e);
    if (rc < 0)
        r.status = cli_fail(c, "facts", &e);
    else
        site_end(&env, c);
    if (v.json) { /* also when nothing could be read: a reader of it gets a document */
        hosts = NULL; /* the document owns it now */
        status = print_json(&r);
        r.status = r.status ? r.status : status;
    }
    return r.status ? r.status : r.incomplete ? STATUS_INCOMPLETE : STATUS_OK;
}

const struct command cmd_facts = {
    .name = "facts",
    .summary = "show what is known of a host, and where each value comes from",
    .usage = "TARGET [TABLE]",
    .examples = "vmkfit facts root@esx01                    # all tables: rows, state\n"
                "vmkfit facts esx1/ adapter -v              # one table, with sources\n"
                "vmkfit facts esx1.tgz device --columns id,model,revision\n"
                "vmkfit facts esx1.tgz --state unknown -v   # what is not known, and why\n"
                "vmkfit facts bundles.zip --json > facts.json\n",
    .description =
        "TARGET is a host (root@esx01), a folder of saved outputs (\"esxcli storage core adapter list.txt\"), a recording, a "
        "vm-support bundle (.tgz, or unpacked), "
        "or a folder or a .zip of several hosts; then one follows the other.\n\n"
        "A cell is known, absent (-), or unknown (?). A table is complete when some answer lists all of its "
        "rows, partial when such an "
        "answer was cut or damaged, and unknown when there was none. -v tells the reason of everything unknown, "
        "and for every cell the "
        "command, file and line that it was read from.\n\n"
        "Tables that are too wide are shown row by row; --columns picks what fits.",
    .opts = facts_opts,
    .group = &hosts_over_ssh,
    .run = run_facts,
};
