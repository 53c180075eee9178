#include "decode/esxcli.h"

#define MAX_BASE 5u /* esxcli indents by 3; publishers by one or two more or less */
#define STEP     6u /* a structure's members stand 6 further in */

/*
 * Entries of "Key: value" lines. base is the indent of an entry's own keys, taken from the first of them; a member of a
 * structure stands STEP blanks further in, below a key without a value.
 */
struct level {
    struct slice path; /* key path of the structure; empty for the entry itself */
    size_t start;      /* first field of this structure, or of this member of a list of structures */
    size_t whole;      /* first field of the list */
    bool listed;
};

struct blocks {
    struct esxcli_sink s;
    enum decode_shape shape;
    uint32_t number;
    bool ended; /* the line at hand has a line end */

    struct slice id;
    uint32_t id_line;
    bool have_id; /* an id line that no field followed yet */
    bool gap;     /* nothing but empty lines since the last entry, or since the start */
    bool skip;    /* the entry is spoilt: leave out lines until the next one can begin */

    size_t base;
    bool have_base;
    bool flush;             /* OBJECT, BLOCKS: the first line has lost its indent, or all have */
    unsigned flush_lines;   /* fields seen at column 0 before base was known */
    const char *taint;      /* damage of every further field of the entry */
    bool parent;            /* the line before was a field without a value: a structure may begin */
    bool field_before;      /* the line before was a field */
    bool prose;             /* within a Description of several lines (OBJECT) */
    struct slice first_key; /* of the first entry: every entry begins with it */
    bool have_first;
    struct slice structure; /* BLOCKS: the line above each entry, "SasDevice:", as localcli has it */
    bool announced;         /* it stands above, and no field yet */

    unsigned depth;
    struct level levels[ESXCLI_MAX_DEPTH + 1];
};

static void note(struct blocks *b, const char *why)
{
    esxcli_note(&b->s, b->number, why);
}

static struct field *last_field(struct blocks *b)
{
    return b->s.b.open && b->s.b.nfields ? &b->s.b.fields[b->s.b.nfields - 1] : NULL;
}

static bool is_list(const struct blocks *b)
{
    return b->shape == SHAPE_LIST;
}

static void end_entry(struct blocks *b)
{
    if (b->have_id && b->shape != SHAPE_OBJECT)
        esxcli_note(&b->s, b->id_line, "an entry without fields");
    if (b->shape != SHAPE_OBJECT)
        b->have_id = false;
    builder_finish(&b->s.b);
    b->depth = 0;
    b->parent = b->field_before = b->prose = false;
    b->taint = NULL;
}

/* The entry cannot be told from its neighbour: forget it, and all up to where the next one can begin. */
static void spoil(struct blocks *b, const char *why)
{
    note(b, why);
    builder_drop(&b->s.b);
    b->have_id = false;
    b->skip = true;
    b->parent = b->field_before = false;
    b->depth = 0;
}

/* "Key: value" or "Key:"; false when it is neither. */
static bool split_field(struct slice body, struct slice *key, struct slice *text)
{
    size_t at = slice_find(body, 0, ": ");

    body = slice_trim(body);
    if (at == SIZE_MAX || at >= body.n) {
        if (!slice_ends(body, ":"))
            return false;
        at = body.n - 1;
    }
    *key = slice_trim(slice_cut(body, 0, at));
    *text = slice_trim(slice_from(body, at + 1));
    return key->n && key->n <= ESXCLI_MAX_KEY && !esxcli_not_plain(*key) && !memchr(key->p, '\t', key->n);
}

/* A field before any entry, or the first of one. Returns false when it is left out. */
static bool begin_entry(struct blocks *b, struct slice key)
{
    if (is_list(b) && !b->have_id) {
        note(b, "fields without a line that names their entry");
        b->skip = true;
        return false;
    }
    if (b->shape != SHAPE_OBJECT && !is_list(b) && !b->gap) {
        b->skip = true;
        return false;
    }
    if (b->have_first && b->shape != SHAPE_OBJECT && !decode_key_eq(key, b->first_key)) {
        spoil(b, "an entry that does not begin with the key that the others begin with");
        return false;
    }
    if (!esxcli_begin(&b->s, b->have_id ? b->id : (struct slice){NULL, 0}, b->have_id ? b->id_line : b->number))
        return false;
    b->levels[0] = (struct level){.start = 0};
    b->depth = 0;
    b->have_id = b->gap = b->announced = false;
    if (!b->have_first)
        b->first_key = key;
    b->have_first = true;
    return true;
}

/* The key occurs again in its structure. Returns false when the entry is given up. */
static bool repeated(struct blocks *b, size_t at, struct slice text)
{
    bool adjacent = at + 1 == b->s.b.nfields && slice_eq(b->s.b.fields[at].text, text);

    note(b, "a key occurs twice in one entry");
    if (b->depth || (adjacent && (b->shape == SHAPE_OBJECT || at > 0)))
        return true;
    if (b->shape != SHAPE_OBJECT) {
        spoil(b, "a key occurs twice in one entry: two may have run together");
        return false;
    }
    b->taint = "a key occurs twice above; this may belong to another object";
    return true;
}

/* Go to the structure at this level. False when no such structure is open. */
static bool enter_level(struct blocks *b, unsigned level)
{
    struct level *l;
    struct slice path;

    if (level <= b->depth) {
        b->depth = level;
        return true;
    }
    if (level != b->depth + 1 || !b->parent || level > ESXCLI_MAX_DEPTH)
        return false;
    path = last_field(b)->key;
    builder_pop(&b->s.b); /* it was a structure's name, not a key without a value */
    l = &b->levels[level];
    *l = (struct level){.path = path, .start = b->s.b.nfields, .whole = b->s.b.nfields};
    l->listed = b->levels[b->depth].listed;
    b->depth = level;
    return true;
}

static void add_field(struct blocks *b, unsigned level, struct slice key, struct slice text)
{
    struct level *l;
    struct field *f;
    size_t at;

    if (b->skip)
        return;
    if (!b->s.b.open && (level || !begin_entry(b, key))) {
        if (!b->skip)
            note(b, "a member without the structure it belongs to");
        return;
    }
    if (!enter_level(b, level)) {
        note(b, "a member without the structure it belongs to");
        b->parent = b->field_before = false;
        return;
    }
    l = &b->levels[level];
    if (level)
        key = esxcli_path(b->s.b.a, l->path, key);
    at = esxcli_find(&b->s, l->start, key);
    if (at != SIZE_MAX && !repeated(b, at, text))
        return;
    f = esxcli_add(&b->s, key, text, b->number);
    if (!f)
        return;
    f->listed = l->listed;
    esxcli_damage(&b->s, f, b->taint);
    if (!b->ended)
        esxcli_unended(&b->s, f);
    b->parent = text.n == 0;
    b->field_before = true;
    b->prose = b->shape == SHAPE_OBJECT && level == 0 && decode_key_eq(key, SLICE_LIT("Description"));
}

/* A line that is no field where only fields stand: the value before it may go on here. */
static void stray(struct blocks *b, const char *why)
{
    note(b, why);
    if (b->field_before)
        esxcli_damage(&b->s, last_field(b), "the next line is no field; the text may go on there");
    b->parent = b->field_before = false;
}

/* A line of a Description that goes on: image profiles have them, with empty lines between. It is kept as it stands. */
static void add_prose(struct blocks *b, struct slice line)
{
    struct field *f = last_field(b);
    struct slice text = slice_trim(line);

    if (!f || text.n == 0)
        return;
    if (f->text.n)
        f->text.n = (size_t)(text.p + text.n - f->text.p);
    else
        f->text = text;
    esxcli_damage(&b->s, f, esxcli_not_plain(text));
    if (!b->ended)
        esxcli_unended(&b->s, f);
}

/* A line of blanks alone. Within a structure some blanks part the members of a list; else it parts entries. */
static void blank_line(struct blocks *b, size_t blanks)
{
    if (b->depth && blanks > 1) {
        struct level *l = &b->levels[b->depth];

        for (size_t i = l->whole; i < b->s.b.nfields; i++)
            b->s.b.fields[i].listed = true;
        l->listed = true;
        l->start = b->s.b.nfields;
        b->parent = false;
        return;
    }
    b->parent = false;
    if (b->shape == SHAPE_OBJECT)
        return;
    end_entry(b);
    b->gap = true;
    b->skip = false;
}

/* Not "..." or "```", which stand for lines left out and around copied ones. */
static bool has_word(struct slice line)
{
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i], low = (char)(c | 0x20);

        if ((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80)
            return true;
    }
    return false;
}

/* "SasDevice:" above an entry: localcli names each entry's structure, the same for all. */
static bool structure_line(struct blocks *b, struct slice line)
{
    struct slice name = slice_trim(line);

    if (b->shape != SHAPE_BLOCKS || !slice_ends(name, ":") || slice_find_char(name, 0, ' ') != SIZE_MAX || esxcli_not_plain(name) ||
        (b->structure.n ? !slice_eq(name, b->structure) : b->have_first))
        return false;
    if (b->announced)
        note(b, "an entry without fields");
    b->structure = name;
    b->announced = true;
    end_entry(b);
    b->gap = true;
    b->skip = false;
    return true;
}

/* A line at column 0 that is not taken for a field: an id line or a title. */
static void head_line(struct blocks *b, struct slice line)
{
    if (structure_line(b, line))
        return;
    if (slice_starts(line, "Error getting field ")) { /* localcli, instead of the field: it is not there */
        b->parent = b->field_before = false;
        return;
    }
    if (b->shape == SHAPE_BLOCKS) {
        stray(b, "a line out of place");
        end_entry(b);
        b->skip = true;
        b->gap = false;
        return;
    }
    if (b->shape == SHAPE_OBJECT && b->s.b.open) {
        stray(b, "more than one object");
        b->s.stop = true;
        return;
    }
    if (is_list(b) && !b->gap)
        stray(b, "an entry without an empty line before it");
    if (b->shape == SHAPE_OBJECT && b->have_id)
        note(b, "more than one title");
    end_entry(b);
    b->skip = b->gap = false;
    if (esxcli_not_plain(line) || !has_word(line)) {
        note(b, "an entry whose name is not plain text");
        b->skip = true;
        return;
    }
    b->id = slice_trim(line);
    if (is_list(b) && b->id.n > 1 && slice_ends(b->id, ":")) /* localcli, and esxcli of 5.0, write it as a heading */
        b->id.n--;
    b->id_line = b->number;
    b->have_id = true;
}

/*
 * Column 0 in OBJECT and BLOCKS. "Key: value" there is a field when the copy lost its indents: the first line's alone,
 * or everyone's. Then a structure's members cannot be told from the keys below it.
 */
static bool flush_field(struct blocks *b, struct slice line)
{
    struct slice key, text;

    if (is_list(b) || (b->have_base && b->base != 0) || !split_field(line, &key, &text))
        return false;
    if (!b->flush && text.n == 0) /* "SMART And Health Info:" is a title */
        return false;
    b->flush = true;
    if (++b->flush_lines > 1) {
        b->have_base = true;
        b->base = 0;
    }
    if (b->parent && b->base == 0 && !b->taint)
        b->taint = "the indent is lost; this may be a member of a structure above";
    add_field(b, 0, key, text);
    return true;
}

static void field_line(struct blocks *b, struct slice line, size_t indent)
{
    struct slice key, text, body = slice_from(line, indent);
    bool is_field = split_field(body, &key, &text);
    size_t deep;

    if (!b->have_base) {
        if (b->prose || !is_field || indent > MAX_BASE) {
            stray(b, "a line out of place");
            return;
        }
        b->have_base = true;
        b->base = indent;
        b->parent = false;
    }
    deep = indent > b->base ? indent - b->base : 0;
    if (b->prose && !(is_field && indent == b->base)) {
        add_prose(b, line);
        return;
    }
    if (b->skip)
        return;
    if (indent < b->base || deep % STEP || deep / STEP > ESXCLI_MAX_DEPTH || !is_field) {
        stray(b, is_field ? "a field out of place" : "a line that is no field");
        return;
    }
    add_field(b, (unsigned)(deep / STEP), key, text);
}

static void one_line(struct blocks *b, struct slice line)
{
    size_t indent = 0;

    while (indent < line.n && line.p[indent] == ' ')
        indent++;
    if (indent == line.n) {
        blank_line(b, indent);
    } else if (line.p[indent] == '\t') {
        stray(b, "a tab where blanks must be");
        if (indent == 0 && !b->skip && b->shape != SHAPE_OBJECT)
            spoil(b, "a tab where blanks must be");
    } else if (indent) {
        field_line(b, line, indent);
    } else if (!flush_field(b, line)) {
        head_line(b, line);
    }
}

/* All entries of one command have the same keys: one that lacks the last key of the one before was cut. */
static void check_last(struct blocks *b)
{
    const struct builder *r = &b->s.b;
    const struct record *last = r->n > 1 && !r->failed ? &r->records[r->n - 1] : NULL;
    struct slice key;

    if (!last || b->shape == SHAPE_OBJECT || last[-1].nfields == 0)
        return;
    key = last[-1].fields[last[-1].nfields - 1].key;
    for (uint32_t i = 0; i < last->nfields; i++)
        if (slice_eq(last->fields[i].key, key))
            return;
    esxcli_note(&b->s, last->line, "the last entry ends early");
}

int esxcli_blocks(struct slice body, uint32_t first, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct blocks b = {.shape = o->shape, .number = first, .gap = true};
    struct slice line;

    esxcli_sink_init(&b.s, o, a);
    for (; !b.s.stop && slice_next_line(&body, &line, &b.ended); b.number++) {
        if (line.n > DECODE_MAX_LINE) {
            note(&b, "over the limit of one line");
            break;
        }
        one_line(&b, line);
    }
    if (!b.s.stop && b.have_id && b.shape == SHAPE_OBJECT)
        esxcli_note(&b.s, b.id_line, "a title without fields");
    end_entry(&b);
    if (b.announced)
        note(&b, "an entry without fields");
    check_last(&b);
    if (!b.s.why && b.s.b.n == 0)
        note(&b, "no fields");
    return esxcli_end(&b.s, "text blocks", out);
}
