#include <stdlib.h>

#include "decode/esxcli.h"

#define NO_INDEX  UINT32_MAX
#define MAX_PARTS (2 * ESXCLI_MAX_DEPTH + 2)

struct entry {
    uint32_t index; /* of the structure, or NO_INDEX for the one object */
    uint32_t line;
    struct slice key, text;
    const char *damage;
    bool listed, boolean;
};

/* The left side of "structure[2].Nic.MTU.integer=1500": index 2, names Nic and MTU, type integer. */
struct left {
    uint32_t index;
    struct slice names[MAX_PARTS];
    size_t n;
    struct slice type;
    bool listed;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(struct slice s)
{
    if (s.n == 0 || s.n > ESXCLI_MAX_KEY || !is_letter(s.p[0]))
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!is_letter(s.p[i]) && !(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '_')
            return false;
    return true;
}

/* "name" or "name[12]". */
static bool split_part(struct slice part, struct slice *name, uint32_t *index)
{
    size_t at = slice_find_char(part, 0, '[');
    uint64_t n;

    *index = NO_INDEX;
    *name = slice_cut(part, 0, at == SIZE_MAX ? part.n : at);
    if (!is_name(*name))
        return false;
    if (at == SIZE_MAX)
        return true;
    if (part.n < at + 3 || part.p[part.n - 1] != ']' || part.p[at + 1] == '+' ||
        num_parse_u64(slice_cut(part, at + 1, part.n - at - 2), &n) < 0 || n >= DECODE_MAX_RECORDS)
        return false;
    *index = (uint32_t)n;
    return true;
}

static bool is_group(struct slice name)
{
    return slice_eqz(name, "structure") || slice_eqz(name, "struct") || slice_eqz(name, "list");
}

static bool is_type(struct slice name)
{
    static const char *const types[] = {"string", "integer", "boolean", "int", "bool"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (slice_eqz(name, types[i]))
            return true;
    return false;
}

static bool read_left(struct slice s, struct left *l)
{
    struct slice name;
    uint32_t index;
    bool first = true;

    *l = (struct left){.index = NO_INDEX};
    for (;;) {
        size_t dot = slice_find_char(s, 0, '.');

        if (!split_part(slice_cut(s, 0, dot == SIZE_MAX ? s.n : dot), &name, &index))
            return false;
        if (first && index != NO_INDEX && is_group(name)) {
            l->index = index;
        } else {
            if (index != NO_INDEX)
                l->listed = true;
            if (index == NO_INDEX || !is_group(name)) {
                if (l->n == MAX_PARTS)
                    return false;
                l->names[l->n++] = name;
            }
        }
        first = false;
        if (dot == SIZE_MAX)
            break;
        s = slice_from(s, dot + 1);
    }
    if (l->n == 0 || !is_type(l->names[l->n - 1]))
        return false;
    l->type = l->names[--l->n];
    return true;
}

bool esxcli_is_keyvalue(struct slice line)
{
    size_t eq = slice_find_char(line, 0, '=');
    struct left l;

    return eq != SIZE_MAX && eq <= 4 * ESXCLI_MAX_KEY && read_left(slice_cut(line, 0, eq), &l);
}

/* Type and field names take turns; the types go: Nic.DriverInfo.NICDriverInfo.Version is DriverInfo/Version. */
static struct slice key_of(struct arena *a, const struct left *l)
{
    struct slice key = {NULL, 0};

    if (l->n == 0)
        return SLICE_LIT("value");
    if (l->n <= 2)
        return l->names[l->n - 1];
    for (size_t i = 1; i < l->n; i += 2)
        key = esxcli_path(a, key, l->names[i]);
    return l->n % 2 ? esxcli_path(a, key, l->names[l->n - 1]) : key;
}

static const char *check_value(struct slice type, struct slice text)
{
    int64_t n;
    uint64_t u;

    if (type.p[0] == 'b' && !slice_eqz(text, "true") && !slice_eqz(text, "false"))
        return "a boolean that is neither true nor false";
    if (type.p[0] == 'i' && num_parse_i64(text, &n) < 0 && num_parse_u64(text, &u) < 0)
        return "an integer that is not a number";
    return NULL;
}

struct entries {
    struct entry *v;
    size_t n, cap;
    bool sorted;
};

static struct entry *read_line(struct esxcli_sink *s, struct entries *es, struct slice line, uint32_t number)
{
    size_t eq = slice_find_char(line, 0, '=');
    void *v = es->v;
    struct left l;
    struct entry *e;

    if (eq == SIZE_MAX || eq > 4 * ESXCLI_MAX_KEY || !read_left(slice_cut(line, 0, eq), &l))
        return NULL;
    if (es->n >= DECODE_MAX_RECORDS) {
        esxcli_note(s, number, "over the limit of 200000 lines");
        s->stop = true;
        return NULL;
    }
    if (arena_grow(s->b.a, &v, es->n, &es->cap, sizeof *es->v, SIZE_MAX) < 0) {
        s->stop = true;
        return NULL;
    }
    es->v = v;
    e = &es->v[es->n++];
    *e = (struct entry){.index = l.index, .line = number, .listed = l.listed, .boolean = l.type.p[0] == 'b'};
    e->key = key_of(s->b.a, &l);
    e->text = slice_trim(slice_from(line, eq + 1));
    e->damage = check_value(l.type, e->text);
    if (es->n > 1 && es->v[es->n - 2].index > e->index)
        es->sorted = false;
    return e;
}

static int by_index(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* All lines, in the order of the structures' indexes. */
static void read_lines(struct esxcli_sink *s, struct slice body, uint32_t number, struct entries *es, bool *unended)
{
    struct entry *last = NULL;
    struct slice line;
    bool ended = true;

    for (; !s->stop && slice_next_line(&body, &line, &ended); number++) {
        struct entry *e;

        if (esxcli_blank(line))
            continue;
        if (line.n > DECODE_MAX_LINE) {
            esxcli_note(s, number, "over the limit of one line");
            break;
        }
        e = read_line(s, es, line, number);
        if (!e && !s->stop) {
            esxcli_note(s, number, "a line that is no key=value");
            if (last) /* a value of several lines, or junk: not to be told apart */
                last->damage = "the next line is no key=value; the text may go on there";
            e = NULL;
        }
        last = e;
    }
    *unended = !ended && last;
    if (!es->sorted)
        qsort(es->v, es->n, sizeof *es->v, by_index);
}

static void emit(struct esxcli_sink *s, const struct entry *e, bool unended)
{
    struct field *f;

    if (!e->listed && esxcli_find(s, 0, e->key) != SIZE_MAX)
        esxcli_note(s, e->line, "a field occurs twice in one structure");
    f = esxcli_add(s, e->key, e->text, e->line);
    if (!f)
        return;
    f->listed = e->listed;
    esxcli_damage(s, f, e->damage);
    if (unended && (s->o->cut || !e->boolean))
        esxcli_unended(s, f);
}

int decode_esxcli_keyvalue(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct entries es = {.sorted = true};
    struct esxcli_sink s;
    uint32_t line, expected = 0, last_line = 0;
    struct slice body = esxcli_body(in, &line), first, rest = body;
    bool unended = false;
    const struct entry *e;

    if (!slice_next_line(&rest, &first, NULL) || !esxcli_is_keyvalue(first))
        return decode_nothing(DECODE_UNUSABLE, "keyvalue", "not the keyvalue form", line, out);
    esxcli_sink_init(&s, o, a);
    read_lines(&s, body, line, &es, &unended);
    for (size_t i = 0; i < es.n; i++)
        if (es.v[i].line > last_line)
            last_line = es.v[i].line;
    for (e = es.v; !arena_full(a) && e < es.v + es.n; e++) {
        bool begins = e == es.v || e->index != e[-1].index;

        if (e->index == NO_INDEX && es.v->index != NO_INDEX) {
            esxcli_note(&s, e->line, "a line without an index among those with one");
            break;
        }
        if (begins && e->index != NO_INDEX && e->index != expected)
            esxcli_note(&s, e->line, "a structure is missing: there is a gap in the indexes");
        expected = e->index + 1;
        if (begins && !esxcli_begin(&s, (struct slice){NULL, 0}, e->line))
            break;
        emit(&s, e, unended && e->line == last_line);
        if (s.stop)
            break;
    }
    builder_finish(&s.b);
    if (s.b.n > 1 && !s.b.failed) {
        const struct record *r = &s.b.records[s.b.n - 1], *before = r - 1;
        bool whole = false;

        for (size_t i = 0; i < r->nfields && before->nfields; i++)
            whole = whole || slice_eq(r->fields[i].key, before->fields[before->nfields - 1].key);
        if (!whole)
            esxcli_note(&s, r->line, "the last entry ends early");
    }
    return esxcli_end(&s, "keyvalue", out);
}
