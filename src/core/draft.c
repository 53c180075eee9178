#include "core/draft.h"

#include "base/opts.h"
#include "base/xml.h"
#include "core/pciaddr.h"

/* The tables that a rule about a device is about, the first that has the name. */
static const char *const tables[] = {"adapter", "nic", "device", "gpu", "pci"};

static const struct slice nothing = {NULL, 0};

static struct slice known(const struct facts *f, const struct row *r, const char *column)
{
    const struct value *v = r ? facts_cell(f, r, column) : NULL;

    return v && v->state == VS_KNOWN ? v->s : nothing;
}

static bool has_column(const struct facts *f, unsigned table, const char *column)
{
    return table_column(&f->schema->tables[table], slice_of(column)) >= 0;
}

/* The PCI function of a row, or the row itself when it is one. */
static const struct row *function_of(const struct facts *f, const struct row *r)
{
    if (r->table == facts_table_index(f, "pci"))
        return r;
    return has_column(f, r->table, "pci") ? facts_ref(f, r, "pci") : NULL;
}

int draft_find(const struct facts *f, struct slice name, const struct row **out, struct err *e)
{
    struct near near = {.word = name};
    unsigned pci = facts_table_index(f, "pci");

    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        unsigned t = facts_table_index(f, tables[k]);

        for (size_t i = 0; i < facts_count(f, t); i++) {
            const struct row *r = facts_at(f, t, i);

            near_try(&near, r->key);
            if (slice_eq(r->key, name) || (t == pci && slice_eq(known(f, r, "alias"), name))) {
                *out = r;
                return 0;
            }
        }
    }
    for (size_t k = 0; k < sizeof tables / sizeof *tables && near.best.n == 0; k++) {
        const char *why;

        if (facts_table(f, facts_table_index(f, tables[k]), &why) != TS_COMPLETE)
            return err_set(e, VF_ENOTFOUND, "no \"" SLICE_FMT "\" among what was read, and the table %s is not complete: %s", SLICE_ARG(name), tables[k],
                           why ? why : "not read");
    }
    return err_set(e, VF_ENOTFOUND, "the host has no adapter, NIC, disk or PCI function \"" SLICE_FMT "\"%s" SLICE_FMT "%s", SLICE_ARG(name),
                   near.best.n ? "; did you mean " : "", SLICE_ARG(near.best.n ? near.best : SLICE_LIT("")), near.best.n ? "?" : "");
}

static bool id_covers(struct slice asked, struct slice have)
{
    return have.n >= asked.n && slice_ieq(slice_cut(have, 0, asked.n), asked) && (have.n == asked.n || have.p[asked.n] == ':');
}

int draft_find_id(const struct facts *f, struct slice id, const struct row **out, struct err *e)
{
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        unsigned t = facts_table_index(f, tables[k]);

        for (size_t i = 0; i < facts_count(f, t); i++) {
            const struct row *r = facts_at(f, t, i), *on = function_of(f, r);

            if (on && known(f, on, "id").n && id_covers(id, known(f, on, "id"))) {
                *out = r;
                return 0;
            }
        }
    }
    return err_set(e, VF_ENOTFOUND, "the host has no PCI function " SLICE_FMT, SLICE_ARG(id));
}

/* --- writing --- */

static void attribute(struct buf *out, const char *name, struct slice value)
{
    if (value.n == 0)
        return;
    buf_printf(out, " %s=\"", name);
    xml_escape(out, value);
    buf_addc(out, '"');
}

/* As a test: a bar at the end says that the blanks inside part no alternatives. A text with a bar of its own cannot be tested for. */
static void test(struct buf *out, const char *name, struct slice value)
{
    bool blanks = slice_find_char(value, 0, ' ') != SIZE_MAX;

    if (value.n == 0 || slice_find_char(value, 0, '|') != SIZE_MAX)
        return;
    buf_printf(out, " %s=\"", name);
    xml_escape(out, value);
    buf_addz(out, blanks ? "|\"" : "\"");
}

/* Text inside a comment: no "--" may stand in it. */
static void comment(struct buf *out, struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        buf_addc(out, s.p[i] == '-' && i && s.p[i - 1] == '-' ? '_' : (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
}

/* Lower-case letters, digits, '.' and '-' of a text: for an id, at most 64 characters in all. */
static void id_part(struct buf *out, struct slice s, size_t begin)
{
    for (size_t i = 0; i < s.n && out->n - begin < 64; i++) {
        char c = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';

        if (plain || (out->n > begin && out->p[out->n - 1] != '-'))
            buf_addc(out, plain ? c : '-');
    }
}

static void head(struct buf *out)
{
    buf_addz(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?xml-model href=\"rules.rng\"?>\n<rules format=\"1\">\n");
}

static void open_rule(struct buf *out, struct slice name, struct slice id, const char *subject, struct slice today)
{
    size_t begin;

    buf_addz(out, "  <rule id=\"");
    begin = out->n;
    id_part(out, name, begin);
    if (name.n && id.n)
        id_part(out, SLICE_LIT("-"), begin);
    id_part(out, id, begin);
    while (out->n > begin && (out->p[out->n - 1] == '-' || out->p[out->n - 1] == '.'))
        out->n--;
    buf_printf(out, "\" subject=\"%s\" severity=\"note\" status=\"draft\" reviewed=\"" SLICE_FMT "\">\n    <title>" DRAFT_OPEN
                    ": what is wrong, in one line</title>\n",
               subject, SLICE_ARG(today));
}

static void close_texts(struct buf *out)
{
    buf_addz(out, "    <why>\n      " DRAFT_OPEN ": what happens, on which hosts, since when, and how that is known.\n"
                  "      <see href=\"" DRAFT_SOURCE "\"/>\n    </why>\n"
                  "    <fix id=\"first\" risk=\"none\">\n      <advise>" DRAFT_OPEN ": what to do.</advise>\n    </fix>\n");
}

/* The columns that tell which device and which state of it: written where they are known. */
static const char *const of_adapter[] = {"driver", "driver-version", "firmware", NULL}, *const of_device[] = {"model", "revision", NULL},
                         *const of_pci[] = {"module", NULL};

static const char *const *columns_of(const struct facts *f, const struct row *r)
{
    const char *name = f->schema->tables[r->table].name.p;

    return strcmp(name, "device") == 0 ? of_device : strcmp(name, "adapter") == 0 || strcmp(name, "nic") == 0 ? of_adapter : of_pci;
}

static void example(struct buf *out, const char *kind, const struct facts *f, const struct row *r, struct slice release, struct slice id,
                    const char *other)
{
    const char *const *columns = columns_of(f, r);

    buf_printf(out, "    <%s", kind);
    attribute(out, "esxi", release);
    if (r->table != facts_table_index(f, "pci"))
        attribute(out, "pci", id);
    else
        attribute(out, "id", id);
    for (unsigned i = 0; columns[i]; i++)
        attribute(out, columns[i], i == 0 && other ? slice_of(other) : known(f, r, columns[i]));
    buf_addz(out, "/>\n");
}

/* What was not read, so that the author knows that it is left out. */
static void left_out(struct buf *out, const struct facts *f, const struct row *r)
{
    const char *const *columns = columns_of(f, r);

    for (unsigned i = 0; columns[i]; i++) {
        const struct value *v = facts_cell(f, r, columns[i]);

        if (v->state == VS_KNOWN)
            continue;
        buf_printf(out, "    <!-- %s is left out: ", columns[i]);
        comment(out, slice_of(v->state == VS_ABSENT ? "the host has none" : v->why ? v->why : "not read"));
        buf_addz(out, " -->\n");
    }
}

int draft_row(const struct facts *f, const struct row *r, struct slice today, struct buf *out, struct err *e)
{
    const struct row *on = function_of(f, r), *esxi = facts_single(f, "esxi");
    struct slice id = on ? known(f, on, "id") : nothing, release = known(f, esxi, "release");
    const char *const *columns = columns_of(f, r);
    const char *subject = f->schema->tables[r->table].name.p;
    struct slice first = known(f, r, columns[0]);

    if (first.n == 0)
        return err_set(e, VF_ENOTFOUND, "%s " SLICE_FMT ": its %s is not known, so there is nothing to make a rule of", subject, SLICE_ARG(r->key),
                       columns[0]);
    head(out);
    buf_addz(out, "  <!-- Made of ");
    comment(out, r->key);
    buf_addz(out, " of a host. Look at when and bad: they hold what was found there; take out what does not matter. -->\n");
    open_rule(out, first, id, subject, today);
    if (release.n || id.n)
        buf_addz(out, "    <when>\n");
    if (release.n) {
        buf_addz(out, "      <esxi");
        attribute(out, "release", release);
        buf_addz(out, "/>\n");
    }
    if (id.n && on != r) {
        buf_addz(out, "      <pci");
        attribute(out, "id", id);
        buf_addz(out, "/>\n");
    }
    if (release.n || id.n)
        buf_addz(out, "    </when>\n");
    left_out(out, f, r);
    buf_addz(out, "    <bad");
    if (id.n && on == r)
        attribute(out, "id", id);
    for (unsigned i = 0; columns[i]; i++)
        test(out, columns[i], known(f, r, columns[i]));
    buf_addz(out, "/>\n");
    close_texts(out);
    example(out, "matches", f, r, release, id, NULL);
    buf_addz(out, "    <!-- to be edited: a host that must not match, and as many more as \"vmkfit rules mutate\" asks for -->\n");
    example(out, "ignores", f, r, release, id, "another");
    buf_addz(out, "  </rule>\n</rules>\n");
    return 0;
}

int draft_id(struct slice id, struct slice what, struct slice today, struct buf *out, struct err *e)
{
    if (pci_id_check(id, e) < 0)
        return e->code;
    head(out);
    buf_addz(out, "  <!-- ");
    if (what.n)
        comment(out, what);
    buf_addz(out, what.n ? ". " : "");
    buf_addz(out, "No host was asked: put in the driver, and the release. -->\n");
    open_rule(out, SLICE_LIT("device"), id, "pci", today);
    buf_addz(out, "    <bad");
    attribute(out, "id", id);
    buf_addz(out, " module=\"" DRAFT_DRIVER "\"/>\n");
    close_texts(out);
    buf_addz(out, "    <matches");
    attribute(out, "id", id);
    buf_addz(out, " module=\"" DRAFT_DRIVER "\"/>\n    <!-- to be edited: a host that must not match -->\n    <ignores");
    attribute(out, "id", id);
    buf_addz(out, " module=\"another\"/>\n  </rule>\n</rules>\n");
    return 0;
}
