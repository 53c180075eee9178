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
    b->nfields = b->fcap = 0;
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
