#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/fsw.h"
#include "base/fsx.h"
#include "cmd/rules_parts.h"
#include "core/rng.h"

static const struct opt rules_opts[] = {
    {"recordings", 0, OPT_TEXT, offsetof(struct rules_values, recordings), "DIR",
     "test: the folder that holds recordings with an expect.json (default without FILE: fixtures/ beside rules/)", NULL},
    {"rules", 0, OPT_LIST, offsetof(struct rules_values, rules), "FILE,...", "list, show, doc: further rule files or folders", NULL},
    {"on", 0, OPT_LIST, offsetof(struct rules_values, on), "DIR,...", "try, import, explain: recordings, bundles or folders of several hosts",
     NULL},
    {"facts", 0, OPT_LIST, offsetof(struct rules_values, facts), "FILE,...", "try, new: " SITE_OPT_HELP, NULL},
    {"check", 0, OPT_FLAG, offsetof(struct rules_values, check), NULL, "fmt: only name the files that would change, and exit with 2", NULL},
    {"json", 0, OPT_FLAG, offsetof(struct rules_values, json), NULL, "try: as JSON (docs/schema/rules-try.json)", NULL},
    {"from", 0, OPT_TEXT, offsetof(struct rules_values, from), "TARGET", "new: the host that has the device", NULL},
    {"device", 0, OPT_TEXT, offsetof(struct rules_values, device), "NAME", "new: vmhba0, vmnic0, a disk, a PCI address", NULL},
    {"pci", 0, OPT_TEXT, offsetof(struct rules_values, pci), "ID",
     "new, list: a PCI id, 8086:9d03 or 1000:005d:1028:1f49; list: rules whose conditions name it", NULL},
    {"topic", 0, OPT_TEXT, offsetof(struct rules_values, topic), "TOPIC", "list: only rules of this topic; * is any text", NULL},
    {"table", 0, OPT_TEXT, offsetof(struct rules_values, table), "TABLE", "list: only rules about rows of this table", NULL},
    {"status", 0, OPT_TEXT, offsetof(struct rules_values, status), "STATUS", "list: only rules that are draft, stable or retired", NULL},
    {"output", 'o', OPT_TEXT, offsetof(struct rules_values, output), "FILE",
     "new, import: write the rules there instead of printing them; sign: the pack (default NAME.vmkpack)", NULL},
    {"force", 0, OPT_FLAG, offsetof(struct rules_values, force), NULL,
     "new, import, sign: replace FILE when it exists; install: also an older pack, or one that another key has signed", NULL},
    {"key", 0, OPT_TEXT, offsetof(struct rules_values, key), "FILE", "sign: the private key, as rules key has written it", NULL},
    {"keys", 0, OPT_TEXT, offsetof(struct rules_values, keys), "DIR",
     "verify, install: the folder of trusted public keys, instead of /etc/vmkfit/keys.d and ~/.config/vmkfit/keys.d", NULL},
    {"name", 0, OPT_TEXT, offsetof(struct rules_values, name), "NAME", "sign: of the pack; it replaces an installed one of this name", NULL},
    {"serial", 0, OPT_TEXT, offsetof(struct rules_values, serial), "N", "sign: must rise with each version (default: the date, 20261130)", NULL},
    {"date", 0, OPT_TEXT, offsetof(struct rules_values, date), "DATE",
     "import: the day the list is of, where it does not say so; sign: of the pack (default today); lint: the day on which reviews "
     "are looked at (default today)", NULL},
    {"source", 0, OPT_TEXT, offsetof(struct rules_values, source), "URL", "import: where the list comes from, where it does not say so", NULL},
    {0},
};

/* A verb: how many words it takes behind it, and which of the options, parted by blanks. */
static const struct verb {
    const char *name;
    int most;
    const char *options;
    int (*run)(struct rules_run *r);
} table[] = {
    {"list", INT_MAX, "rules pci topic table status", rules_list},
    {"new", 0, "from device pci output force facts", rules_new},
    {"show", INT_MAX, "rules", rules_show},
    {"explain", INT_MAX, "rules on", rules_explain},
    {"lint", INT_MAX, "date", rules_lint},
    {"test", INT_MAX, "recordings", rules_test},
    {"try", INT_MAX, "on json facts", rules_try},
    {"mutate", INT_MAX, "", rules_mutate},
    {"fmt", INT_MAX, "check", rules_fmt},
    {"rng", 0, "", rules_rng},
    {"doc", 1, "rules", rules_doc},
    {"coverage", 0, "", rules_coverage},
    {"import", 2, "on output force date source", rules_import},
    {"key", 1, "", rules_key},
    {"sign", INT_MAX, "key name serial date output force", rules_sign},
    {"verify", 1, "keys", rules_verify},
    {"install", 1, "keys force", rules_install},
    {"rollback", 1, "", rules_rollback},
    {"remove", 1, "", rules_remove},
    {"packs", 0, "", rules_packs},
};

static const char *const verbs[] = {"list", "show", "explain", "new", "lint", "test", "try", "mutate", "fmt", "rng", "doc", "coverage", "import",
                                    "key", "sign", "verify", "install", "rollback", "remove", "packs", NULL};

void rules_say(struct rules_run *r, const char *text)
{
    buf_add_safe(r->out, slice_of(text));
    buf_addc(r->out, '\n');
}

bool rules_concern(const struct rules_run *r, const char *file)
{
    char real[PATH_MAX], named[PATH_MAX];

    if (r->pack)
        return slice_starts(slice_of(file), r->pack) && file[strlen(r->pack)] == '/';
    for (int i = 0; i < r->nfiles; i++) {
        struct slice below;

        if (!realpath(file, real) || !realpath(r->files[i], named))
            continue;
        below = slice_from(slice_of(real), strlen(named));
        if (slice_starts(slice_of(real), named) && (below.n == 0 || below.p[0] == '/'))
            return true;
    }
    return r->nfiles == 0;
}

int rules_put(struct rules_run *r, struct slice text)
{
    struct err e = {0};
    int rc;

    if (!r->v->output) {
        buf_add(r->out, text);
        return STATUS_OK;
    }
    if (fsx_kind(r->v->output) != FSX_NONE && !r->v->force)
        rc = err_set(&e, VF_EUSAGE, "%s exists; --force replaces it", r->v->output);
    else
        rc = fsw_write(r->v->output, text, &e);
    return rc < 0 ? cli_fail(r->c, "rules", &e) : STATUS_OK;
}

const struct rule *rules_named(struct rules_run *r, const char *id, struct err *e)
{
    const struct rule *rule = rules_find(&r->rules.rules, slice_of(id));
    struct slice near = rule ? (struct slice){NULL, 0} : rules_near(&r->rules.rules, slice_of(id));

    if (!rule)
        (void)err_set(e, VF_EUSAGE, "no rule \"%s\"%s" SLICE_FMT "%s", id, near.n ? "; did you mean " : "; see vmkfit rules list",
                      SLICE_ARG(near.n ? near : SLICE_LIT("")), near.n ? "?" : "");
    return rule;
}

size_t rules_operands(const struct rules_run *r, struct slice **v)
{
    *v = arena_array(r->env.arena, (size_t)r->nfiles + 1, sizeof **v);
    for (int i = 0; i < r->nfiles; i++)
        (*v)[i] = slice_of(r->files[i]);
    return (size_t)r->nfiles;
}

int rules_load_named(struct rules_run *r, struct err *e)
{
    struct slice *files;
    size_t n = rules_operands(r, &files);

    return env_rules(&r->env, files, n, &r->rules, e);
}

int rules_rng(struct rules_run *r)
{
    rng_write(&r->env.schema, r->out);
    return STATUS_OK;
}

static bool is_given(const struct opt *o, const struct rules_values *v)
{
    const char *at = (const char *)v + o->at;

    switch (o->kind) {
    case OPT_TEXT:
        return *(const char *const *)(const void *)at != NULL;
    case OPT_LIST:
        return ((const struct opt_list *)(const void *)at)->n > 0;
    case OPT_FLAG:
        return *(const bool *)at;
    case OPT_CHOICE:
    case OPT_COUNT:
        break;
    }
    return false;
}

/* Is the option one of the verb's; of which verbs it is, in owners. */
static bool takes(const struct verb *verb, const struct opt *o, struct buf *owners)
{
    bool own = false;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (slice_has_word(slice_of(table[i].options), slice_of(o->name))) {
            buf_printf(owners, "%s%s", owners->n ? ", " : "", table[i].name);
            own |= &table[i] == verb;
        }
    return own;
}

/* The verb, what it takes, and which options are its own. */
static const struct verb *find_verb(const struct rules_values *v, int n, char **words, struct err *e)
{
    _cleanup_(buf_done) struct buf all = BUF_INIT(1000);
    struct near near = {.word = slice_of(n ? words[0] : NULL)};
    const struct verb *verb = NULL;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        buf_printf(&all, "%s%s", i ? ", " : "", table[i].name);
        if (n && strcmp(words[0], table[i].name) == 0)
            verb = &table[i];
    }
    if (n == 0) {
        (void)err_set(e, VF_EUSAGE, "rules what? %s", buf_z(&all));
        return NULL;
    }
    if (!verb) {
        near_tryz(&near, verbs);
        (void)near_fail(&near, "", e, "\"%s\" is none of %s", words[0], buf_z(&all));
        return NULL;
    }
    for (const struct opt *o = rules_opts; o->name; o++) {
        _cleanup_(buf_done) struct buf owners = BUF_INIT(1000);

        if (is_given(o, v) && !takes(verb, o, &owners)) {
            (void)err_set(e, VF_EUSAGE, "--%s is an option of %s", o->name, buf_z(&owners));
            return NULL;
        }
    }
    if (n - 1 > verb->most) {
        (void)err_set(e, VF_EUSAGE, "%s takes %s, \"%s\" is too much", words[0], verb->most == 0 ? "no words" : verb->most == 1 ? "one word" : "two words", words[verb->most + 1]);
        return NULL;
    }
    return verb;
}

static int run(struct cli *c, int argc, char **argv)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(64u << 20);
    struct rules_values v = {0};
    struct rules_run r = {.c = c, .v = &v, .out = &out};
    const struct verb *verb;
    struct err e = {0};
    int n, status, written;

    if (!cli_parse(c, &cmd_rules, &v, argc, argv, &n, &status))
        return status;
    verb = find_verb(&v, n, argv, &e);
    if (!verb)
        return cli_fail(c, "rules", &e);
    if (env_open(&r.env, c->data, c->env.data, &e) < 0) {
        env_close(&r.env);
        return cli_fail(c, "rules", &e);
    }
    r.env.cli = c;
    r.layers.env = &r.env;
    r.files = argv + 1;
    r.nfiles = n - 1;
    status = verb->run(&r);
    written = cli_write(c, &out);
    env_close(&r.env);
    return written ? written : status;
}

const struct command cmd_rules = {
    .name = "rules",
    .summary = "list the rules, check them, run their examples",
    .usage = "list [WORD...]\n"
             "show ID...\n"
             "explain ID --on TARGET [SUBJECT]\n"
             "new --from TARGET --device NAME\n"
             "new [--from TARGET] --pci ID\n"
             "lint [FILE...]\n"
             "test [FILE...]\n"
             "try FILE... --on DIR\n"
             "mutate [FILE...]\n"
             "fmt FILE...\n"
             "rng\n"
             "doc DIR\n"
             "coverage\n"
             "import vsan-hcl all.json --on DIR\n"
             "import pairs FILE.csv --on DIR\n"
             "key FILE\n"
             "sign FILE... --key FILE --name NAME\n"
             "verify PACK\n"
             "install PACK\n"
             "rollback NAME\n"
             "remove NAME\n"
             "packs",
    .examples = "vmkfit rules list\n"
                "vmkfit rules lint my-controller.xml\n"
                "vmkfit rules test\n"
                "vmkfit rules rng > rules.rng\n",
    .description =
        "list shows every rule, or those in whose id, title, topic, table or file all WORDs occur, and of these what --topic, --table, --status and "
        "--pci ask for, with its subject, severity and review date (-v: where it comes from, and what it replaces). show tells all of a rule in words: what it is about, when it holds, evidence, fixes, sources, which rules restrain "
        "or replace it, and where it comes from. explain with --on tells why a rule holds on a host or not, as \"vmkfit explain\" does.\n\n"
        "new writes a draft of a rule: device ids, driver, versions and release as found on a host, an example that matches, and one to edit that must "
        "not. Title, reason and fix are left to you, and lint names them until they are written.\n\n"
        "lint checks rule files in plain words, with file, line and column, then against the RELAX NG schema: what is misspelled or missing, what can never "
        "hold, examples that give another result than they say, rules that contradict each other, reviews long ago. test runs every example of every rule, "
        "and every recording that has an expect.json; where one fails it says which condition decided (-v: for all). With FILE, a rule file or "
        "a folder of them, both concern only what is in there; the shipped rules are loaded too, so that it may name their ids. Both exit with "
        "2 when something is wrong.\n\n"
        "try applies rule files to the hosts below --on: which findings the rules would make and where, what stays unsure and why, and, where a rule "
        "would replace one of the same id, the findings that are gained and lost. Guards of the shipped rules act as in a scan.\n\n"
        "mutate weakens each condition of a rule, one at a time, and tells where none of the rule's examples would notice, and which example would. "
        "What no example can notice is named in the rule, with <uncaught what=\"...\" because=\"...\"/>.\n\n"
        "fmt writes rule files again in one layout; comments stay, and what the rules mean is not changed. - is standard input, written to standard "
        "output.\n\n"
        "rng prints the RELAX NG schema that editors complete from; it is generated from the fact schema and the action table.\n\n"
        "doc writes a page for each rule into DIR, and a list of them, README.md.\n\n"
        "coverage prints what is known of drivers, storage and graphics on ESXi hosts, and beside each entry the rules that answer it or why a "
        "host's facts cannot decide it. It exits with 2 when an entry has neither.\n\n"
        "import makes rules of a vendor's list of validated driver and firmware pairs, for the adapters and NICs that the hosts of --on have: "
        "vSAN's list (https://vvs.broadcom.com/service/vsan/all.json), or a table with the columns pci (8086:1572; or vid, did, svid, ssid), "
        "driver, driver-version, firmware, release, and perhaps note, link, date. It says how old the list is; nothing is fetched.\n\n"
        "key writes a new Ed25519 key pair, FILE and FILE.pub. sign packs rule files into one signed file. verify proves a pack: signed by a key of the "
        "folders of trusted keys, unaltered, its rules right and all their examples passing in this program. install does the same and puts the pack "
        "into place, to be used by every scan from then on; it refuses one that is not newer, and keeps the one before, which rollback brings back. "
        "packs lists what is installed, remove takes one away. See docs/rule-packs.md.",
    .verbs = verbs,
    .opts = rules_opts,
    .group = &hosts_over_ssh,
    .run = run,
};
