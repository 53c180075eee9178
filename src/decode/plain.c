#include "decode/plain.h"

const char plain_cut[] = "the last line has no line end: it may be cut";
const char plain_twice[] = "given twice with different texts";

struct plain plain_open(struct slice in)
{
    return (struct plain){.rest = in, .ended = true};
}

bool plain_next(struct plain *l)
{
    if (l->too_long || !slice_next_line(&l->rest, &l->line, &l->ended))
        return false;
    l->number++;
    l->too_long = l->line.n > DECODE_MAX_LINE || l->number > DECODE_MAX_RECORDS;
    return !l->too_long;
}

bool plain_blank(struct slice line)
{
    return slice_trim(line).n == 0;
}

bool plain_empty(struct slice in)
{
    for (size_t i = 0; i < in.n; i++)
        if (in.p[i] != ' ' && in.p[i] != '\t' && in.p[i] != '\r' && in.p[i] != '\n')
            return false;
    return true;
}

size_t plain_indent(struct slice line)
{
    size_t n = 0;

    while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
        n++;
    return n;
}

bool plain_error(struct slice line)
{
    static const char *const ends[] = {": not found", ": command not found", "No such file or directory",
                                       "Operation not permitted", "Permission denied", "Input/output error"};
    static const char *const starts[] = {"Error: ", "Connect to localhost failed", "VSISHCmd"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (slice_ends(line, ends[i]))
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (slice_starts(line, starts[i]))
            return true;
    return false;
}

/* An error stands alone or nearly so: among many lines it is one bad line, which the decoder reports as such. */
static struct slice lone_error(struct slice in)
{
    struct plain l = plain_open(in);
    struct slice first = {NULL, 0};
    unsigned lines = 0;

    while (lines < 4 && plain_next(&l)) {
        if (plain_blank(l.line))
            continue;
        if (lines++ == 0)
            first = slice_trim(l.line);
    }
    return lines < 4 && plain_error(first) ? first : (struct slice){NULL, 0};
}

bool plain_refused(struct slice in, const char *form, struct arena *a, struct decoded *out)
{
    struct slice error;
    const char *why;

    if (plain_empty(in)) {
        (void)decode_nothing(DECODE_UNUSABLE, form, "empty answer", 0, out);
        return true;
    }
    error = lone_error(in);
    why = error.n ? arena_printf(a, SLICE_FMT, SLICE_ARG(error)) : decode_host_error(in, a);
    if (!why)
        return false;
    (void)decode_nothing(DECODE_REFUSED, form, why, 0, out);
    return true;
}

struct field *plain_field(struct builder *b, const char *key, struct slice text, const struct plain *l)
{
    return builder_field(b, slice_of(key), text, l->number);
}

void plain_suspect(struct field *f, const struct plain *l)
{
    if (f && !l->ended && !f->damage)
        f->damage = plain_cut;
}

struct field *plain_find(struct builder *b, struct slice key)
{
    size_t at = builder_find(b, 0, key, false);

    return at == SIZE_MAX ? NULL : &b->fields[at];
}

struct field *plain_once(struct builder *b, struct slice key, struct slice text, const struct plain *l)
{
    struct field *old = plain_find(b, key), *f;

    if (old && (old->damage == plain_twice || slice_eq(old->text, text)))
        return NULL; /* a third text says nothing new */
    if (old)
        old->damage = plain_twice;
    f = builder_field(b, key, text, l->number);
    if (f && old)
        f->damage = plain_twice;
    return f;
}

void plain_harm(struct plain_harm *h, const char *why, uint32_t line)
{
    if (!h->why)
        *h = (struct plain_harm){why, line};
}

/* A field that must not be believed makes the whole partial: where a line was cut, lines after it may be missing too. */
static struct plain_harm first_damage(const struct builder *b)
{
    for (size_t i = 0; i < b->n; i++)
        for (uint32_t k = 0; k < b->records[i].nfields; k++)
            if (b->records[i].fields[k].damage)
                return (struct plain_harm){b->records[i].fields[k].damage, b->records[i].fields[k].line};
    return (struct plain_harm){NULL, 0};
}

int plain_end(struct builder *b, const struct decode_opt *o, const char *form, const struct plain *l,
              const struct plain_harm *h, struct decoded *out)
{
    struct plain_harm harm;
    int rc;

    b->failed |= arena_full(b->a);
    builder_finish(b);
    harm = h->why ? *h : first_damage(b);
    if (b->n == 0 && !b->failed) {
        rc = decode_nothing(DECODE_UNUSABLE, form, h->why ? h->why : "nothing in it has the expected form", h->line,
                            out);
    } else {
        rc = builder_end(b, o, form, harm.why ? DECODE_PARTIAL : DECODE_COMPLETE, harm.why, harm.line, out);
    }
    return l->too_long ? VF_ELIMIT : rc;
}
