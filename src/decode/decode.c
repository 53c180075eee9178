#include "decode/decode.h"

static size_t key_next(struct slice s, size_t i, char *c)
{
    for (; i < s.n; i++) {
        char k = s.p[i];

        if (k >= 'A' && k <= 'Z')
            k = (char)(k | 0x20);
        if ((k >= 'a' && k <= 'z') || (k >= '0' && k <= '9') || (unsigned char)k >= 0x80) {
            *c = k;
            return i + 1;
        }
    }
    *c = '\0';
    return s.n;
}

bool decode_key_eq(struct slice a, struct slice b)
{
    size_t i = 0, j = 0;
    char ca, cb;

    do {
        i = key_next(a, i, &ca);
        j = key_next(b, j, &cb);
    } while (ca == cb && ca);
    return ca == cb;
}

void builder_init(struct builder *b, struct arena *a)
{
    *b = (struct builder){.a = a};
}

void builder_begin(struct builder *b, struct slice id, uint32_t line)
{
    builder_finish(b);
    b->now = (struct record){.id = id, .line = line};
    b->nfields = b->fcap = b->indexed = b->icap = 0;
    b->fields = NULL;
    b->open = true;
}

struct field *builder_field(struct builder *b, struct slice key, struct slice text, uint32_t line)
{
    void *v = b->fields;

    if (b->failed || !b->open)
        return NULL;
    if (arena_grow(b->a, &v, b->nfields, &b->fcap, sizeof *b->fields, DECODE_MAX_FIELDS) < 0) {
        b->failed = true;
        return NULL;
    }
    b->fields = v;
    b->fields[b->nfields] = (struct field){.key = key, .text = text, .line = line};
    return &b->fields[b->nfields++];
}

#define FEW_FIELDS 24u /* so many are looked through without an index */

static uint32_t *chain_of(const struct builder *b, struct slice key)
{
    uint32_t h = 2166136261u;
    size_t i = 0;
    char c;

    while (i = key_next(key, i, &c), c)
        h = (h ^ (unsigned char)c) * 16777619u;
    return &b->heads[(h ^ h >> 16) & (b->icap - 1)];
}

/* Chains hold indices plus one, the latest field first. */
static void index_fields(struct builder *b)
{
    if (b->nfields > b->icap) {
        size_t cap = b->icap ? b->icap * 2 : 64;

        while (cap < b->nfields)
            cap *= 2;
        b->indexed = 0;
        b->icap = cap;
        b->heads = arena_array(b->a, cap, sizeof *b->heads);
        b->nexts = arena_array(b->a, cap, sizeof *b->nexts);
        if (!b->heads || !b->nexts) {
            b->failed = true;
            b->icap = 0;
            return;
        }
    }
    for (; b->indexed < b->nfields; b->indexed++) {
        uint32_t *head = chain_of(b, b->fields[b->indexed].key);

        b->nexts[b->indexed] = *head;
        *head = (uint32_t)b->indexed + 1;
    }
}

static bool same_key(struct slice a, struct slice b, bool exact)
{
    return exact ? slice_eq(a, b) : decode_key_eq(a, b);
}

size_t builder_find(struct builder *b, size_t from, struct slice key, bool exact)
{
    size_t found = SIZE_MAX;

    if (!b->open)
        return SIZE_MAX;
    if (b->nfields > FEW_FIELDS)
        index_fields(b);
    if (b->nfields <= FEW_FIELDS || b->icap == 0) {
        for (size_t i = from; i < b->nfields; i++)
            if (same_key(b->fields[i].key, key, exact))
                return i;
        return SIZE_MAX;
    }
    for (uint32_t at = *chain_of(b, key); at > from; at = b->nexts[at - 1])
        if (same_key(b->fields[at - 1].key, key, exact))
            found = at - 1;
    return found;
}

void builder_pop(struct builder *b)
{
    if (b->nfields == 0)
        return;
    b->nfields--;
    if (b->indexed > b->nfields) {
        b->indexed = b->nfields;
        *chain_of(b, b->fields[b->nfields].key) = b->nexts[b->nfields];
    }
}

void builder_finish(struct builder *b)
{
    void *v = b->records;

    if (!b->open)
        return;
    b->open = false;
    if (b->failed || arena_grow(b->a, &v, b->n, &b->cap, sizeof *b->records, DECODE_MAX_RECORDS) < 0) {
        b->failed = true;
        return;
    }
    b->records = v;
    b->now.fields = b->fields;
    b->now.nfields = (uint32_t)b->nfields;
    b->records[b->n++] = b->now;
}

void builder_drop(struct builder *b)
{
    b->open = false;
}

int builder_end(struct builder *b, const struct decode_opt *o, const char *form, enum decode_state state,
                const char *why, uint32_t line, struct decoded *out)
{
    builder_finish(b);
    if (state == DECODE_COMPLETE && o->cut) {
        state = DECODE_PARTIAL;
        why = "the answer was cut before its end";
    }
    if (state == DECODE_PARTIAL && b->n == 0)
        state = DECODE_UNUSABLE;
    *out = (struct decoded){.state = state, .form = form, .why = why, .line = line, .records = b->records, .n = b->n};
    return b->failed ? VF_ELIMIT : 0;
}

int decode_nothing(enum decode_state state, const char *form, const char *why, uint32_t line, struct decoded *out)
{
    *out = (struct decoded){.state = state, .form = form, .why = why, .line = line};
    return 0;
}
