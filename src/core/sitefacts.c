#include "core/sitefacts.h"

#include "base/csv.h"
#include "base/opts.h"
#include "core/derive.h"
#include "core/pciaddr.h"
#include "core/rule.h"

#define MAX_STATEMENTS 100000u
#define MAX_STATED     4096u  /* cells of one host */
#define MAX_WORD       128u

enum field { F_HOST, F_PCI, F_PCI_ID, F_SERIAL, F_NAME, F_FIRMWARE, F_DATE, F_NOTE, NFIELDS };

static const char *const fields[] = {"host", "pci", "pci-id", "serial", "name", "firmware", "date", "note", NULL};
static const char *const kinds[] = {"pci", "pci-id", "serial", "name"}; /* in the order of enum statement_by */

bool statement_old(const struct statement *s)
{
    return s->days > STATEMENT_OLD_DAYS;
}

/* --- the file --- */

static int heading(const struct csv *c, int *at, struct err *e)
{
    static const enum field wanted[] = {F_HOST, F_FIRMWARE, F_DATE};

    for (unsigned i = 0; i < c->nheader; i++) {
        struct near near = {.word = c->header[i]};
        bool ours = c->header[i].n == 0; /* a spreadsheet leaves empty columns at the end */

        for (unsigned k = 0; k < NFIELDS && !ours; k++)
            ours = csv_column(c, fields[k]) == (int)i;
        near_tryz(&near, fields);
        if (ours)
            continue;
        return err_set(e, VF_EFORMAT, "%s:1: unknown column \"" SLICE_FMT "\"%s" SLICE_FMT "%s Columns are host, pci, pci-id, serial, name, firmware, date, note",
                       c->name, SLICE_ARG(c->header[i]), near.best.n ? "; did you mean \"" : "", SLICE_ARG(near.best), near.best.n ? "\"?" : ".");
    }
    for (unsigned k = 0; k < NFIELDS; k++)
        at[k] = csv_column(c, fields[k]);
    for (unsigned k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if (at[wanted[k]] < 0)
            return err_set(e, VF_EFORMAT, "%s:1: no column \"%s\": the first line names the columns, such as host,pci,firmware,date", c->name, fields[wanted[k]]);
    if (at[F_PCI] < 0 && at[F_PCI_ID] < 0 && at[F_SERIAL] < 0 && at[F_NAME] < 0)
        return err_set(e, VF_EFORMAT, "%s:1: no column says which device: add one of pci, pci-id, serial, name", c->name);
    return 0;
}

static int fail(const struct csv *c, enum field f, struct slice found, struct err *e, const char *what)
{
    return err_set(e, VF_EFORMAT, "%s:%u: %s: %s, not \"" SLICE_FMT "\"", c->name, c->line, fields[f], what, SLICE_ARG(slice_cut(found, 0, 60)));
}

/* One word that a device could have printed. */
static bool is_word(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
            return false;
    return s.n > 0 && s.n <= MAX_WORD;
}

static bool says_nothing(struct slice s)
{
    static const char *const words[] = {"?", "-", "n/a", "na", "none", "unknown", "tbd", "latest", "current"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_ieq(s, slice_of(words[i])))
            return true;
    return false;
}

static struct slice lower(struct slice s, struct arena *a)
{
    struct slice out = arena_dup(a, s);
    char *p = out.n ? arena_alloc(a, out.n) : NULL;

    for (size_t i = 0; p && i < s.n; i++)
        p[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
    return p ? (struct slice){p, s.n} : out;
}

static int device_of(const struct csv *c, const int *at, struct arena *a, struct statement *st, struct err *e)
{
    unsigned filled = 0;
    struct slice v = {NULL, 0}, normal;

    for (unsigned k = 0; k < 4; k++)
        if (at[F_PCI + k] >= 0 && c->fields[at[F_PCI + k]].n) {
            filled++;
            st->by = (enum statement_by)k;
            v = c->fields[at[F_PCI + k]];
        }
    if (filled != 1)
        return err_set(e, VF_EFORMAT, "%s:%u: %s: fill exactly one of the columns pci, pci-id, serial, name", c->name, c->line,
                       filled ? "the device is named twice" : "no device is named");
    switch (st->by) {
    case BY_PCI: /* other spellings of hosts are decimal in part: only the one that cannot be misread */
        v = lower(v, a);
        if (pciaddr_parse(v, a, &normal) < 0 || !slice_eq(normal, v))
            return fail(c, F_PCI, v, e, "an address is written 0000:3b:00.0");
        break;
    case BY_PCI_ID:
        v = lower(v, a);
        if (pci_id_check(v, NULL) < 0)
            return fail(c, F_PCI_ID, v, e, "an id is written 1000:005d or 1000:005d:1028:1f49");
        break;
    case BY_SERIAL:
    case BY_NAME:
        if (!is_word(v))
            return fail(c, st->by == BY_SERIAL ? F_SERIAL : F_NAME, v, e, "one word without blanks is wanted");
        break;
    }
    st->device = v;
    return 0;
}

static int read_row(const struct csv *c, const int *at, struct slice today, struct arena *a, struct statement *st, struct err *e)
{
    *st = (struct statement){.file = c->name, .line = c->line, .host = c->fields[at[F_HOST]], .firmware = c->fields[at[F_FIRMWARE]],
                             .date = c->fields[at[F_DATE]]};
    if (at[F_NOTE] >= 0)
        st->note = c->fields[at[F_NOTE]];
    if (st->host.n == 0)
        return fail(c, F_HOST, st->host, e, "the serial number or name of a host is wanted, such as esx01 or esx*");
    if (device_of(c, at, a, st, e) < 0)
        return e->code;
    if (says_nothing(st->firmware) || st->firmware.n == 0)
        return fail(c, F_FIRMWARE, st->firmware, e, "a version is wanted; leave the row out when it is not known");
    if (!is_word(st->firmware))
        return fail(c, F_FIRMWARE, st->firmware, e, "the version alone is wanted, one word such as 24.21.0-0148");
    if (!rule_date(st->date))
        return fail(c, F_DATE, st->date, e, "the day when it was read is wanted, such as 2026-11-30 (in a spreadsheet, as text)");
    st->days = rule_days(today) - rule_days(st->date);
    if (st->days < 0)
        return fail(c, F_DATE, st->date, e, "that day is still to come; the day when it was read is wanted");
    return 0;
}

static int add(struct sitefacts *s, const struct statement *st, struct map *seen, struct arena *a, struct err *e)
{
    struct slice key = lower(slice_of(arena_printf(a, "%u/" SLICE_FMT "/" SLICE_FMT, st->by, SLICE_ARG(st->device), SLICE_ARG(st->host))), a);
    uint32_t before = map_get(seen, key);
    void *v = s->v;

    if (before != MAP_NONE && !slice_eq(s->v[before].firmware, st->firmware))
        return err_set(e, VF_EFORMAT, "%s:%u: firmware: %s " SLICE_FMT " of host " SLICE_FMT " is \"" SLICE_FMT "\" here and \"" SLICE_FMT
                       "\" in line %u%s%s; keep the one that is true", st->file, st->line, kinds[st->by], SLICE_ARG(st->device), SLICE_ARG(st->host),
                       SLICE_ARG(st->firmware), SLICE_ARG(s->v[before].firmware), s->v[before].line, s->v[before].file == st->file ? "" : " of ",
                       s->v[before].file == st->file ? "" : s->v[before].file);
    if (before != MAP_NONE) { /* said again: the later reading stands */
        if (s->v[before].days > st->days)
            s->v[before] = *st;
        return 0;
    }
    if (arena_grow(a, &v, s->n, &s->cap, sizeof *s->v, MAX_STATEMENTS) < 0 || map_put(seen, a, key, (uint32_t)s->n) < 0)
        return err_set(e, VF_ELIMIT, "%s:%u: more than %u rows", st->file, st->line, MAX_STATEMENTS);
    s->v = v;
    s->v[s->n++] = *st;
    return 0;
}

int sitefacts_load(struct sitefacts *s, struct slice text, const char *name, struct slice today, struct arena *a, struct err *e)
{
    struct map seen = {0};
    struct sitefacts old = *s;
    struct statement st;
    int at[NFIELDS], rc;
    struct csv c;

    s->v = NULL;
    s->n = s->cap = 0;
    for (size_t i = 0; i < old.n; i++)
        if (add(s, &old.v[i], &seen, a, e) < 0)
            return e->code;
    if (csv_open(&c, text, name, a, e) < 0 || heading(&c, at, e) < 0)
        return e->code;
    while ((rc = csv_next(&c, e)) > 0)
        if (read_row(&c, at, today, a, &st, e) < 0 || add(s, &st, &seen, a, e) < 0)
            return e->code;
    if (rc == 0 && s->n == old.n)
        return err_set(e, VF_EFORMAT, "%s: no row below the names of the columns", name);
    return rc;
}

/* --- a host --- */

struct applying {
    struct sitefacts *s;
    struct facts *f;
    struct stated *v;
    size_t n, cap;
};

static bool names_host(const struct statement *st, const struct facts *f)
{
    const struct row *h = facts_single(f, "host");
    const struct value *name = facts_cell(f, h, "name"), *serial = facts_cell(f, h, "serial");

    if (slice_eqz(st->host, "*"))
        return true;
    if (serial->state == VS_KNOWN && slice_iglob(st->host, serial->s))
        return true;
    if (name->state != VS_KNOWN)
        return false;
    return slice_iglob(st->host, name->s) ||
           (slice_find_char(st->host, 0, '.') >= st->host.n && slice_iglob(st->host, slice_cut(name->s, 0, slice_find_char(name->s, 0, '.'))));
}

static void hit(struct applying *x, const struct statement *st, const struct row *r, const char *column)
{
    int c = table_column(&x->f->schema->tables[r->table], slice_of(column));
    void *v = x->v;

    if (c < 0 || arena_grow(x->f->arena, &v, x->n, &x->cap, sizeof *x->v, MAX_STATED) < 0)
        return;
    x->v = v;
    x->v[x->n++] = (struct stated){.by = st, .row = r, .column = (unsigned)c};
}

/* The firmware of an NVMe drive is told in its own table, not in that of its adapter. */
static void hit_adapter(struct applying *x, const struct statement *st, const struct row *a)
{
    const struct row *nvme = facts_find(x->f, facts_table_index(x->f, "nvme"), a->key);

    hit(x, st, nvme ? nvme : a, "firmware");
}

/* Does "8086:1572" begin the id "8086:1572:8086:0001". */
static bool id_begins(struct slice id, struct slice with)
{
    return id.n >= with.n && slice_eq(slice_cut(id, 0, with.n), with) && (id.n == with.n || id.p[with.n] == ':');
}

static bool function_fits(const struct applying *x, const struct statement *st, const struct row *device)
{
    const struct value *at = facts_cell(x->f, device, "pci");
    const struct row *pci = facts_ref(x->f, device, "pci");
    const struct value *id = facts_cell(x->f, pci, "id");

    if (st->by == BY_PCI)
        return at->state == VS_KNOWN && slice_eq(at->s, st->device);
    return id->state == VS_KNOWN && id_begins(id->s, st->device);
}

/*
 * The designator of an ATA disk ends in its serial number (SCSI/ATA translation: "ATA", 40 characters of model, 20 of serial number), and ESXi
 * prints blanks as '_': t10.ATA_____MODEL____SERIAL______. Those of NVMe name spaces have more behind it, and their table tells the number.
 */
static bool designates(struct slice id, struct slice serial)
{
    if (!slice_starts(id, "t10.ATA_"))
        return false;
    while (id.n && id.p[id.n - 1] == '_')
        id.n--;
    return id.n > serial.n + 1 && slice_ieq(slice_from(id, id.n - serial.n), serial) && id.p[id.n - serial.n - 1] == '_';
}

static void find_devices(struct applying *x, const struct statement *st)
{
    struct facts *f = x->f;
    const struct row *r;

    for (size_t i = 0; (r = derive_row(f, "adapter", i)); i++)
        if (st->by == BY_NAME ? slice_eq(r->key, st->device) : st->by != BY_SERIAL && function_fits(x, st, r))
            hit_adapter(x, st, r);
    for (size_t i = 0; (r = derive_row(f, "nic", i)); i++)
        if (st->by == BY_NAME ? slice_eq(r->key, st->device) : st->by != BY_SERIAL && function_fits(x, st, r))
            hit(x, st, r, "firmware-version");
    for (size_t i = 0; (r = derive_row(f, "device", i)); i++)
        if (st->by == BY_NAME ? slice_eq(r->key, st->device) : st->by == BY_SERIAL && designates(r->key, st->device))
            hit(x, st, r, "revision");
    for (size_t i = 0; st->by == BY_SERIAL && (r = derive_row(f, "nvme", i)); i++) {
        const struct value *serial = facts_cell(f, r, "serial");

        if (serial->state == VS_KNOWN && slice_ieq(slice_trim(serial->s), st->device))
            hit(x, st, r, "firmware");
    }
}

static const char *said_by(const struct statement *st, struct arena *a)
{
    return arena_printf(a, "site %s:%u of " SLICE_FMT, st->file, st->line, SLICE_ARG(st->date));
}

/* Does the host's value say the same: a version in other digits is the same one (20.00.07.00, 20.0.7.0); text has to be equal. */
static bool agrees(const struct column *c, struct slice told, struct slice stated)
{
    struct slice rest = told, first;
    int order;

    if (slice_eq(told, stated))
        return true;
    if (c->type != VT_VERSION)
        return false;
    /* "20.00.00.00 - Firmware Package Version: 20.00.00.00" */
    if (!slice_next_word(&rest, " ", &first))
        return false;
    return slice_eq(first, stated) || (version_order(first, stated, c->scheme, &order) == 0 && order == 0);
}

/* The first statement about the same cell that says otherwise; NULL when there is none. */
static const struct stated *contradicted(const struct applying *x, const struct stated *one)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].row == one->row && x->v[i].fate != STATED_REFUSED && !slice_eq(x->v[i].by->firmware, one->by->firmware))
            return &x->v[i];
    return NULL;
}

/* A statement by id that means several devices, of which another one names some and differs: which of them the first is about is not said. */
static const struct stated *in_question(const struct applying *x, size_t first)
{
    const struct stated *other = NULL;
    size_t i;

    for (i = first; i < x->n && x->v[i].by == x->v[first].by; i++)
        if (!other)
            other = contradicted(x, &x->v[i]);
    return i - first > 1 ? other : NULL;
}

/* One source for each statement that counts on this host; its cells follow each other. */
static uint32_t source_of(struct applying *x, const struct stated *one)
{
    const struct statement *st = one->by;

    if (one > x->v && one[-1].by == st && one[-1].fate == STATED_FILLED) {
        uint32_t at = one[-1].row->cells[one[-1].column].source;

        x->f->sources[at].rows++;
        return at;
    }
    return facts_add_source(x->f, (struct source){.ask = slice_of(arena_printf(x->f->arena, "site %s:%u, " SLICE_FMT ", %lld day%s old", st->file, st->line,
                                                                               SLICE_ARG(st->date), (long long)st->days, st->days == 1 ? "" : "s")),
                                                  .probe = "site", .form = "csv", .state = SOURCE_OK, .rows = 1});
}

static struct value refusal(const char *why)
{
    struct value v = value_unknown(why);

    v.conflict = true;
    return v;
}

static void put(struct applying *x, struct stated *one)
{
    const struct table *t = &x->f->schema->tables[one->row->table];
    const struct column *c = &t->columns[one->column];
    struct value *cell = &one->row->cells[one->column];
    const struct source *from = cell->source ? &x->f->sources[cell->source] : NULL;
    struct arena *a = x->f->arena;

    if (cell->state == VS_KNOWN) {
        one->fate = agrees(c, cell->s, one->by->firmware) ? STATED_AGREES : STATED_DIFFERS;
        if (one->fate == STATED_DIFFERS)
            *cell = refusal(arena_printf(a, "\"" SLICE_FMT "\" says " SLICE_FMT ", %s " SLICE_FMT, SLICE_ARG(from ? from->ask : SLICE_LIT("the host")),
                                         SLICE_ARG(cell->s), said_by(one->by, a), SLICE_ARG(one->by->firmware)));
        return;
    }
    if (cell->conflict) {
        one->fate = STATED_REFUSED;
        return;
    }
    one->fate = STATED_FILLED;
    *cell = value_slice(one->by->firmware);
    cell->source = source_of(x, one);
}

/* Statements that contradict each other are set aside before any is used. */
static void judge(struct applying *x)
{
    struct arena *a = x->f->arena;
    const struct stated *other = NULL;

    for (size_t i = 0; i < x->n; i++) {
        struct stated *one = &x->v[i];
        struct value *cell = &one->row->cells[one->column];

        if (i == 0 || one->by != one[-1].by) /* the cells of one statement follow each other */
            other = one->by->by == BY_PCI_ID ? in_question(x, i) : NULL;
        if (!other)
            continue;
        one->fate = STATED_REFUSED;
        if (cell->state != VS_KNOWN && !cell->conflict)
            *cell = value_unknown(arena_printf(a, "%s means several devices, and line %u one of them: name each by pci or name", said_by(one->by, a),
                                               other->by->line));
    }
    for (size_t i = 0; i < x->n; i++) {
        struct stated *one = &x->v[i];
        struct value *cell = &one->row->cells[one->column];

        other = one->fate == STATED_REFUSED ? NULL : contradicted(x, one);
        if (!other)
            continue;
        *cell = refusal(arena_printf(a, "%s says " SLICE_FMT ", %s " SLICE_FMT, said_by(one->by, a), SLICE_ARG(one->by->firmware), said_by(other->by, a),
                                     SLICE_ARG(other->by->firmware)));
    }
}

void sitefacts_apply(struct sitefacts *s, struct facts *f, const struct stated **out, size_t *n)
{
    const struct row *h = facts_single(f, "host");
    struct applying x = {.s = s, .f = f};

    s->nameless += facts_cell(f, h, "name")->state != VS_KNOWN && facts_cell(f, h, "serial")->state != VS_KNOWN;
    for (size_t i = 0; i < s->n; i++) {
        size_t had = x.n;

        if (!names_host(&s->v[i], f))
            continue;
        s->v[i].host_seen = true;
        find_devices(&x, &s->v[i]);
        s->v[i].used |= x.n > had;
    }
    judge(&x);
    for (size_t i = 0; i < x.n; i++)
        if (x.v[i].fate != STATED_REFUSED)
            put(&x, &x.v[i]);
    *out = x.v;
    *n = x.n;
}
