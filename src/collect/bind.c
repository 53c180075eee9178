#include "collect/bind.h"

#include "base/buf.h"
#include "base/map.h"
#include "core/pciaddr.h"

#define MAX_LIST 4096u /* members of one list; vSwitches with 1,000 port groups exist */

static struct value unknown(struct arena *a, const char *why, struct slice text)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(200);

    buf_add_safe(&b, text);
    return value_unknown(arena_printf(a, "%s: \"%s\"", why, buf_z(&b)));
}

/* --- extractions --- */

static struct slice after_last(struct slice s, char c)
{
    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == c)
            return slice_from(s, i);
    return s;
}

/* One word that begins with a letter or '%' and holds no digits: in "1,024", "39.5C" and "12:30" the number is not over. */
static bool is_unit(struct slice s)
{
    unsigned char first = s.n ? (unsigned char)s.p[0] : 'x';

    if (!((first | 0x20) >= 'a' && (first | 0x20) <= 'z') && first != '%' && first < 0x80)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == ' ' || (s.p[i] >= '0' && s.p[i] <= '9'))
            return false;
    return true;
}

static struct slice leading_number(struct slice s)
{
    size_t n = s.n && s.p[0] == '-' ? 1 : 0;

    if (slice_starts(s, "0x"))
        for (n = 2; n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || ((s.p[n] | 0x20) >= 'a' && (s.p[n] | 0x20) <= 'f')); n++)
            ;
    else
        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
            n++;
    /* the unit may be glued to the number; what is no unit is more of a number that we do not understand */
    return is_unit(slice_trim(slice_from(s, n))) ? slice_cut(s, 0, n) : (struct slice){s.p, 0};
}

/* 16 bytes: one word of 32 digits or parted by dashes, or a word each, of two digits or 0x and one or two. */
static struct slice hex_uuid(struct slice s, struct arena *a)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64);
    struct slice word;

    while (slice_next_word(&s, " -", &word)) {
        bool prefixed = slice_starts(word, "0x");

        if (prefixed)
            word = slice_from(word, 2);
        if (prefixed ? word.n < 1 || word.n > 2 : word.n < 2 || word.n % 2)
            return (struct slice){NULL, 0};
        if (word.n == 1)
            buf_addc(&b, '0');
        for (size_t i = 0; i < word.n; i++)
            buf_addc(&b, word.p[i] >= 'A' && word.p[i] <= 'F' ? (char)(word.p[i] | 0x20) : word.p[i]);
    }
    for (size_t i = 0; i < b.n; i++)
        if (!((b.p[i] >= '0' && b.p[i] <= '9') || (b.p[i] >= 'a' && b.p[i] <= 'f')))
            return (struct slice){NULL, 0};
    return b.n == 32 ? arena_dup(a, buf_slice(&b)) : (struct slice){NULL, 0};
}

static struct slice bracketed(struct slice s, struct slice *after)
{
    size_t close = s.n && s.p[0] == '(' ? slice_find_char(s, 1, ')') : SIZE_MAX;

    if (close == SIZE_MAX) {
        *after = s;
        return (struct slice){NULL, 0};
    }
    *after = slice_trim(slice_from(s, close + 1));
    return slice_cut(s, 1, close - 1);
}

static struct slice lower(struct slice s, struct arena *a)
{
    struct slice d = arena_dup(a, s);
    char *p = arena_alloc(a, d.n + 1);

    for (size_t i = 0; p && i < d.n; i++)
        p[i] = d.p[i] >= 'A' && d.p[i] <= 'Z' ? (char)(d.p[i] | 0x20) : d.p[i];
    return (struct slice){p, p ? d.n : 0};
}

static struct slice mebibytes(struct slice s, struct arena *a)
{
    struct slice number = leading_number(s), unit = slice_trim(slice_from(s, number.n));
    uint64_t v;

    if (num_parse_u64(number, &v) < 0)
        return (struct slice){NULL, 0};
    if (slice_ieq(unit, SLICE_LIT("GB")) || slice_ieq(unit, SLICE_LIT("GiB"))) {
        if (__builtin_mul_overflow(v, 1024u, &v))
            return (struct slice){NULL, 0};
    } else if (unit.n && !slice_ieq(unit, SLICE_LIT("MB")) && !slice_ieq(unit, SLICE_LIT("MiB"))) {
        return (struct slice){NULL, 0};
    }
    return slice_of(arena_printf(a, "%llu", (unsigned long long)v));
}

/* The extraction; an empty result of a text that was not empty means that it did not fit, unless *absent is set. */
static struct slice extract(enum take take, struct slice s, struct arena *a, bool *absent)
{
    struct slice rest, inner;
    uint64_t v;
    size_t at;

    *absent = false;
    switch (take) {
    case TAKE_TEXT:
    case TAKE_SPLIT:
    case TAKE_WORDS:
        return s;
    case TAKE_PCI:
        return pciaddr_parse(s, a, &rest) < 0 ? (struct slice){NULL, 0} : rest;
    case TAKE_PCI_IN_BRACKETS:
        inner = bracketed(s, &rest);
        if (inner.n == 0) { /* no brackets, or "()": a software adapter, USB */
            *absent = true;
            return inner;
        }
        return pciaddr_parse(inner, a, &rest) < 0 ? (struct slice){NULL, 0} : rest;
    case TAKE_AFTER_BRACKETS:
        (void)bracketed(s, &rest);
        *absent = rest.n == 0;
        return rest;
    case TAKE_NUMBER:
        return leading_number(s);
    case TAKE_BUILD:
        return after_last(s, '-');
    case TAKE_UUID:
        return hex_uuid(s, a);
    case TAKE_BASENAME:
        return after_last(s, '/');
    case TAKE_ADAPTER:
        return slice_cut(s, 0, slice_find_char(s, 0, ':'));
    case TAKE_BEFORE_COLON:
        rest = after_last(s, ':');
        return slice_cut(s, 0, rest.n == s.n ? s.n : s.n - rest.n - 1);
    case TAKE_AFTER_COLON:
        return slice_trim(after_last(s, ':'));
    case TAKE_CLASS:
        if (slice_starts(s, "0x")) /* 0x0106, or with the programming interface 0x010601 */
            return slice_cut(s, 0, s.n == 8 ? 6 : s.n > 6 ? 0 : s.n);
        at = s.n >= 4 && num_parse_hex(slice_cut(s, 0, 4), 4, &v) == 0 ? 4 : 0;
        return slice_cut(s, 0, s.n == 4 || s.n == 6 ? at : s.n);
    case TAKE_LOWER:
        return lower(s, a);
    case TAKE_SECONDS:
        return num_parse_u64(s, &v) < 0 ? (struct slice){NULL, 0} : slice_of(arena_printf(a, "%llu", (unsigned long long)(v / 1000000)));
    case TAKE_MIB:
        return mebibytes(s, a);
    }
    return s;
}

/* --- types --- */

static bool one_of(struct slice text, const char *const *words)
{
    for (; *words; words++)
        if (slice_ieq(text, slice_of(*words)))
            return true;
    return false;
}

static const char *const no_value[] = {"N/A", "None", "Not Applicable", "<unset>", "No pending image profile available.",
                                       "No associated device", NULL};
static const char *const host_unknown[] = {"Unknown", "Unavailable or path is unclaimed", NULL};

static struct value boolean(struct slice text, struct arena *a)
{
    static const char *const yes[] = {"true", "yes", "enabled", "on", "1", NULL};
    static const char *const no[] = {"false", "no", "disabled", "off", "0", NULL};

    if (one_of(text, yes))
        return value_bool(true);
    if (one_of(text, no))
        return value_bool(false);
    return unknown(a, "not a truth value", text);
}

static struct value hexadecimal(const struct column *c, bool esxcli, struct slice text, struct arena *a)
{
    bool prefixed = slice_starts(text, "0x") || slice_starts(text, "0X");
    struct slice digits = prefixed ? slice_from(text, 2) : text;
    uint64_t v;

    if (esxcli && !prefixed ? num_parse_u64(text, &v) < 0 : num_parse_hex(digits, 8, &v) < 0)
        return unknown(a, "not a hexadecimal id", text);
    if (c->digits && c->digits < 8 && v >> (4 * c->digits))
        return unknown(a, "a hexadecimal id with too many digits", text);
    return value_slice(slice_of(arena_printf(a, "%0*llx", (int)c->digits, (unsigned long long)v)));
}

static bool date_form(struct slice s)
{
    static const char form[] = "dddd-dd-dd";

    if (s.n != sizeof form - 1)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (form[i] == 'd' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != form[i])
            return false;
    return true;
}

static bool has_blank(struct slice s)
{
    return slice_find_char(s, 0, ' ') != SIZE_MAX || slice_find_char(s, 0, '\t') != SIZE_MAX;
}

/* Names are ASCII without blanks, and no rows of dashes or dots. */
static bool is_name(struct slice s)
{
    bool word = false;

    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i], low = (char)(ch | 0x20);

        if (ch < 0x21 || ch > 0x7e)
            return false;
        word |= (low >= 'a' && low <= 'z') || (ch >= '0' && ch <= '9');
    }
    return word;
}

/* Control characters that no value has; descriptions of several lines have tabs and line ends. */
static bool has_control(struct slice s, bool lines)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];

        if (lines && (ch == '\t' || ch == '\n' || (ch == '\r' && i + 1 < s.n && s.p[i + 1] == '\n')))
            continue;
        if (ch < 0x20 || ch == 0x7f)
            return true;
    }
    return false;
}

static struct value typed(const struct column *c, const struct schema *s, bool esxcli, struct slice text, struct arena *a)
{
    struct slice out;
    int64_t i;
    uint64_t u;

    for (unsigned k = 0; k < c->nvalues; k++)
        if (slice_ieq(text, c->values[k]))
            return value_slice(c->values[k]);
    if (c->nvalues)
        return unknown(a, "not a word this column knows", text);
    if (!column_like(c, text))
        return unknown(a, "not of the form of such a name", text);
    switch (c->type) {
    case VT_BOOL:
        return boolean(text, a);
    case VT_INT:
        if (num_parse_i64(text, &i) == 0)
            return value_int(i);
        if (num_parse_u64(text, &u) == 0) /* counters of 64 bits that wrapped into the sign */
            return unknown(a, "a number beyond what is counted here", text);
        return unknown(a, "not a number", text);
    case VT_HEX:
        return hexadecimal(c, esxcli, text, a);
    case VT_PCI:
        return pciaddr_parse(text, a, &out) < 0 ? unknown(a, "not a PCI address", text) : value_slice(out);
    case VT_REF: {
        const struct table *t = &s->tables[c->table];

        if (!t->single && t->columns[t->keys[0]].type == VT_PCI)
            return pciaddr_parse(text, a, &out) < 0 ? unknown(a, "not a PCI address", text) : value_slice(out);
        if (!t->single && (!column_like(&t->columns[t->keys[0]], text) ||
                           (t->columns[t->keys[0]].type == VT_NAME && !is_name(text))))
            return unknown(a, "not of the form of such a name", text);
        return value_slice(arena_dup(a, text));
    }
    case VT_NAME:
        if (has_blank(text))
            return unknown(a, "blanks in a name", text);
        return is_name(text) ? value_slice(arena_dup(a, text)) : unknown(a, "not a name", text);
    case VT_VERSION:
        for (size_t k = 0; k < text.n; k++)
            if (text.p[k] >= '0' && text.p[k] <= '9')
                return value_slice(arena_dup(a, text));
        return unknown(a, "not a version", text);
    case VT_DATE:
        return date_form(text) ? value_slice(arena_dup(a, text)) : unknown(a, "not a date", text);
    case VT_TIME:
        return text.n >= 19 && date_form(slice_cut(text, 0, 10)) && text.p[10] == 'T' ? value_slice(arena_dup(a, text))
                                                                                     : unknown(a, "not a time", text);
    case VT_TEXT:
    case VT_LIST:
    case VT_REFS:
        return value_slice(arena_dup(a, text));
    }
    return unknown(a, "not understood", text);
}

struct value bind_value(const struct column *c, const struct schema *s, enum take take, bool esxcli, struct slice text, struct arena *a)
{
    struct slice none = c->none, word, taken;
    bool absent;

    text = slice_trim(text);
    if (text.n == 0)
        return value_absent();
    if (has_control(text, c->type == VT_TEXT))
        return unknown(a, "control characters in it", text);
    for (unsigned k = 0; k < c->nvalues; k++)
        if (slice_ieq(text, c->values[k]))
            return value_slice(c->values[k]);
    if (one_of(text, no_value))
        return value_absent();
    if (one_of(text, host_unknown))
        return value_unknown("the host says unknown");
    while (slice_next_word(&none, " ", &word))
        if (slice_eq(text, word))
            return value_absent();
    taken = extract(take, text, a, &absent);
    if (taken.n == 0)
        return absent ? value_absent() : unknown(a, "not of the expected form", text);
    return typed(c, s, esxcli, taken, a);
}

/* --- records --- */

/* A list is a set: what stands in it twice is one member. */
struct members {
    struct slice *v;
    size_t n, cap;
    bool full;
    struct map seen;
};

static void add_member(struct members *m, struct slice text, struct arena *a)
{
    void *v = m->v;

    text = slice_trim(text);
    if (text.n == 0 || one_of(text, no_value) || map_get(&m->seen, text) != MAP_NONE)
        return;
    if (arena_grow(a, &v, m->n, &m->cap, sizeof *m->v, MAX_LIST) < 0) {
        m->full = true;
        return;
    }
    m->v = v;
    m->v[m->n] = arena_dup(a, text);
    (void)map_put(&m->seen, a, m->v[m->n++], 1);
}

static struct value list_value(const struct bind *b, const struct record *r, struct slice wanted, struct arena *a)
{
    const char *damage = NULL;
    uint32_t line = r->line;
    struct members m = {0};
    struct value out;

    for (uint32_t i = 0; i < r->nfields; i++) {
        const struct field *fd = &r->fields[i];
        struct slice rest = fd->text, one;
        const char *seps = b->take == TAKE_WORDS ? " \t" : ",";

        if (!decode_key_eq(wanted, fd->key))
            continue;
        if (line == r->line)
            line = fd->line;
        damage = fd->damage ? fd->damage : has_control(fd->text, true) ? "control characters in it" : damage;
        if (b->take != TAKE_SPLIT && b->take != TAKE_WORDS) {
            add_member(&m, rest, a);
            continue;
        }
        while (slice_next_word(&rest, seps, &one))
            add_member(&m, one, a);
    }
    if (m.full)
        damage = "a list with more members than are kept";
    out = damage ? value_unknown(damage) : m.n ? value_list(m.v, m.n) : value_absent();
    out.line = line;
    return out;
}

/* A list where the column holds one text: joined as esxcli's text form prints it. */
static struct value joined(const struct bind *b, const struct record *r, struct slice wanted, struct arena *a)
{
    struct value v = list_value(b, r, wanted, a);
    _cleanup_(buf_done) struct buf text = BUF_INIT(65536);

    if (v.state != VS_KNOWN)
        return v;
    for (size_t i = 0; i < v.nlist; i++) {
        if (i)
            buf_add(&text, SLICE_LIT(", "));
        buf_add(&text, v.list[i]);
    }
    return (struct value){.state = VS_KNOWN, .s = arena_dup(a, buf_slice(&text)), .line = v.line};
}

static struct value cell_value(const struct probe *p, const struct way *w, const struct bind *b, const struct record *r,
                               struct slice each, struct facts *f)
{
    const struct column *c = &f->schema->tables[p->table].columns[b->column];
    bool esxcli = w->decoder->run == decode_esxcli, list = c->type == VT_LIST || c->type == VT_REFS;
    struct value v, none = {.state = VS_UNKNOWN};
    struct slice rest = b->keys, wanted;

    if (b->constant.n)
        return bind_value(c, f->schema, b->take, esxcli, b->constant, f->arena);
    if (slice_eqz(b->keys, "{}"))
        return each.n ? bind_value(c, f->schema, b->take, esxcli, each, f->arena) : value_unknown("which one was asked is not known");
    while (slice_next_word(&rest, "|", &wanted)) {
        const struct field *found = NULL;
        bool id = slice_eqz(wanted, "#id");

        if (id && r->id.n) {
            v = bind_value(c, f->schema, b->take, esxcli, r->id, f->arena);
            v.line = r->line;
            return v;
        }
        for (uint32_t i = 0; i < r->nfields && !id; i++) {
            const struct field *fd = &r->fields[i];

            if (!decode_key_eq(wanted, fd->key))
                continue;
            if (list)
                return list_value(b, r, wanted, f->arena);
            if (fd->damage) {
                v = value_unknown(fd->damage);
                v.line = fd->line;
                return v;
            }
            if (fd->listed && c->type == VT_TEXT)
                return joined(b, r, wanted, f->arena);
            if (found && !slice_eq(slice_trim(found->text), slice_trim(fd->text))) {
                v = unknown(f->arena, "given twice, differently", fd->text);
                v.line = fd->line;
                return v;
            }
            found = fd;
        }
        if (found) {
            v = bind_value(c, f->schema, b->take, esxcli, found->text, f->arena);
            v.line = found->line;
            if (v.state != VS_ABSENT) /* "N/A" leaves it to the next key */
                return v;
            none = v;
        }
    }
    if (none.state == VS_ABSENT && b->otherwise.n) {
        const struct bind other = {.column = b->column, .keys = b->otherwise, .take = b->take};

        return cell_value(p, w, &other, r, each, f);
    }
    if (none.state == VS_ABSENT || p->missing_absent)
        return value_absent();
    return value_unknown(arena_printf(f->arena, "not printed: no \"" SLICE_FMT "\" in the answer", SLICE_ARG(b->keys)));
}

/* Key of the record's row from its key cells. Returns false when one of them is not readable. */
static bool row_key(const struct probe *p, const struct value *cells, struct facts *f, struct slice *key)
{
    const struct table *t = &f->schema->tables[p->table];
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    bool any = t->single;

    for (unsigned k = 0; k < t->nkeys; k++) {
        const struct value *v = &cells[t->keys[k]];

        if (v->state == VS_UNKNOWN)
            return false;
        if (k)
            buf_addc(&b, '/');
        buf_add(&b, value_text(&t->columns[t->keys[k]], v, f->arena));
        any |= v->state == VS_KNOWN;
    }
    *key = arena_dup(f->arena, buf_slice(&b));
    return any && (t->nkeys < 1 || cells[t->keys[0]].state == VS_KNOWN);
}

/*
 * Nothing of a record was understood, and its name is only what was asked for, or it needs none: it is no evidence that there is
 * such a row.
 */
static bool says_nothing(const struct probe *p, const struct value *cells, bool single)
{
    bool asked = single;

    for (unsigned k = 0; k < p->nbinds; k++) {
        const struct bind *b = &p->binds[k];

        if (slice_eqz(b->keys, "{}"))
            asked = true;
        else if (!b->constant.n && cells[b->column].state != VS_UNKNOWN)
            return false;
    }
    return asked;
}

size_t bind_records(const struct probe *p, const struct way *w, const struct decoded *d, struct slice each, uint32_t source,
                    struct facts *f, size_t *rows)
{
    bool whole = p->lists == LISTS_YES && !f->schema->tables[p->table].single;
    struct value cells[SCHEMA_MAX_COLUMNS];
    struct map seen = {0};
    size_t lost = 0;

    *rows = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct slice key;
        struct row *r;

        if (w->record.n && !slice_starts(d->records[i].id, w->record.p))
            continue;
        memset(cells, 0, sizeof cells);
        for (unsigned k = 0; k < p->nbinds; k++) {
            struct value *v = &cells[p->binds[k].column];

            *v = cell_value(p, w, &p->binds[k], &d->records[i], each, f);
            v->source = source;
            if (!v->line)
                v->line = d->records[i].line;
        }
        if (!row_key(p, cells, f, &key) || says_nothing(p, cells, f->schema->tables[p->table].single)) {
            lost++;
            continue;
        }
        r = facts_row(f, p->table, key);
        if (!r)
            return lost + d->n - i;
        if (whole && map_get(&seen, key) != MAP_NONE) /* a list has each name once: here two lists, or two hosts', stand together */
            lost++;
        else if (whole)
            (void)map_put(&seen, f->arena, key, 1);
        if (f->compare)
            r->compared = source;
        else
            r->listed |= p->lists != LISTS_NO;
        for (unsigned k = 0; k < p->nbinds; k++)
            facts_put(f, r, p->binds[k].column, cells[p->binds[k].column]);
        ++*rows;
    }
    return lost;
}
