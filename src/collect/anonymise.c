#include "collect/anonymise_parts.h"

#include "decode/decode.h"

#define MAX_HOSTNAME (64u << 20) /* for decoding an answer of a few lines */
#define MAX_NAME 512u /* bytes of a name; the product's own limit is 80 characters */

static uint64_t word_of(const uint8_t *p)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

struct anonymiser *anonymiser_new(const uint8_t key[16], struct arena *a)
{
    struct anonymiser *x = arena_alloc(a, sizeof *x);

    if (!x)
        return NULL;
    x->a = a;
    x->key[0] = word_of(key);
    x->key[1] = word_of(key + 8);
    anonymise_words_init(x);
    return x->failed ? NULL : x;
}

struct slice anonymise_lower(struct anonymiser *x, struct slice s)
{
    char *p = arena_alloc(x->a, s.n + 1);

    if (!p) {
        x->failed = true;
        return (struct slice){NULL, 0};
    }
    for (size_t i = 0; i < s.n; i++)
        p[i] = lower_of(s.p[i]);
    return (struct slice){p, s.n};
}

/* Key of by_text: the thing's number before the text. */
static struct slice key_for(enum thing thing, struct slice lower, char room[MAX_NAME + 1])
{
    room[0] = (char)('A' + thing);
    for (size_t i = 0; i < lower.n; i++)
        room[i + 1] = lower_of(lower.p[i]);
    return (struct slice){room, lower.n + 1};
}

const struct identity_seen *anonymise_find(const struct anonymiser *x, enum thing thing, struct slice text)
{
    char room[MAX_NAME + 1];
    uint32_t at = text.n > MAX_NAME ? MAP_NONE : map_get(&x->by_text, key_for(thing, text, room));

    return at == MAP_NONE ? NULL : &x->seen[at];
}

static void note_runs(struct anonymiser *x, struct slice lower)
{
    for (size_t i = 0; i < lower.n;) {
        size_t end = i;

        while (end < lower.n && is_alnum(lower.p[end]))
            end++;
        if (end > i && map_get(&x->originals, slice_cut(lower, i, end - i)) == MAP_NONE && map_put(&x->originals, x->a, slice_cut(lower, i, end - i), 1) < 0)
            x->failed = true;
        i = end > i ? end : i + 1;
    }
}

/* Nothing but one digit: all zeros, all f. */
static bool is_blank_id(struct slice s)
{
    for (size_t i = 1; i < s.n; i++)
        if (lower_of(s.p[i]) != lower_of(s.p[0]))
            return false;
    return true;
}

static bool worth_seeing(enum thing thing, struct slice text)
{
    switch (thing) {
    case THING_MAC: /* a multicast address is a protocol's */
        return text.n == 12 && !is_blank_id(text) && !memchr("13579bdfBDF", text.p[1], 11);
    case THING_WWN:
    case THING_NFS:
        return text.n == 16 && !is_blank_id(text);
    case THING_NAA:
    case THING_UUID:
        return text.n == 32 && !is_blank_id(text);
    case THING_HEX:
        return text.n >= 8 && !is_blank_id(text);
    case THING_SERIAL:
        return !anonymise_is_placeholder(text);
    case THING_HOST:
    case THING_MACHINE:
    case THING_DATASTORE:
    case THING_NAME: {
        char room[MAX_NAME + 1];

        return !anonymise_is_default(slice_from(key_for(thing, text, room), 1));
    }
    case THING_IPV4:
    case THING_IPV6:
    case THING_IQN:
    case THING_VML:
    case THINGS:
        break;
    }
    return true;
}

void anonymise_see(struct anonymiser *x, enum thing thing, struct slice text)
{
    char room[MAX_NAME + 1];
    struct identity_seen one = {.thing = thing};
    struct slice key;

    if (text.n == 0 || text.n > MAX_NAME || !worth_seeing(thing, text))
        return;
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return; /* no name, and not one that an answer may hold */
    key = key_for(thing, text, room);
    if (map_get(&x->by_text, key) != MAP_NONE)
        return;
    key = arena_dup(x->a, key);
    one.text = slice_from(key, 1);
    one.shown = arena_dup(x->a, text);
    if (!key.p || !one.shown.p || arena_grow(x->a, (void **)&x->seen, x->nseen, &x->seen_cap, sizeof *x->seen, ANONYMISER_MAX) < 0 ||
        map_put(&x->by_text, x->a, key, (uint32_t)x->nseen) < 0) {
        x->failed = true;
        return;
    }
    x->seen[x->nseen++] = one;
    if (thing >= THING_SERIAL && thing <= THING_NAME)
        note_runs(x, one.text);
}

size_t anonymise_digits(struct slice text, char out[32], size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n && n < max; i++)
        if (is_hex_digit(text.p[i]))
            out[n++] = lower_of(text.p[i]);
        else if (!memchr(":- ", text.p[i], 3))
            break;
    return n;
}

/* --- hosts and addresses --- */

static bool octets_of(struct slice text, unsigned octet[4])
{
    struct slice rest = text, word;
    uint64_t v;
    unsigned n = 0;

    while (slice_next_word(&rest, ".", &word)) {
        if (n == 4 || word.n > 3 || (word.n > 1 && word.p[0] == '0') || num_parse_u64(word, &v) < 0 || v > 255)
            return false;
        octet[n++] = (unsigned)v;
    }
    return n == 4 && slice_find(text, 0, "..") == SIZE_MAX && is_digit(text.p[0]) && is_digit(text.p[text.n - 1]);
}

void anonymise_see_ipv4(struct anonymiser *x, struct slice text)
{
    unsigned o[4];
    size_t dot;

    if (text.n < 7 || text.n > 15 || !octets_of(text, o))
        return;
    if (o[0] == 255) { /* a mask: an octet that is neither all nor nothing parts addresses inside of it */
        for (unsigned i = 0; i < 4; i++)
            x->parted[i] = x->parted[i] || (o[i] != 0 && o[i] != 255);
        return;
    }
    if (o[0] == 0 || o[0] == 127 || o[0] >= 224)
        return;
    dot = slice_find_char(text, 0, '.');
    if (!anonymise_find(x, THING_IPV4, text)) {
        struct slice first = arena_dup(x->a, slice_cut(text, 0, dot));

        if (!first.p || map_put(&x->first_octets, x->a, first, 1) < 0)
            x->failed = true;
    }
    anonymise_see(x, THING_IPV4, text);
}

static bool is_public_domain(struct slice lower)
{
    static const char *const known[] = {"vmware.com", "broadcom.com", "localdomain", "nvmexpress.org"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (slice_eqz(lower, known[i]))
            return true;
    return false;
}

static void see_one_host(struct anonymiser *x, struct slice text)
{
    struct slice lower, rest, label;
    unsigned octet[4];
    size_t dot;

    text = slice_trim(text);
    if (text.n == 0 || text.n > 255)
        return;
    if (octets_of(text, octet)) {
        anonymise_see_ipv4(x, text);
        return;
    }
    if (slice_find_char(text, 0, ':') != SIZE_MAX) { /* IPv6: the patterns know it */
        anonymise_learn_text(x, text);
        return;
    }
    lower = anonymise_lower(x, text);
    if (!lower.p || slice_starts(lower, "localhost") || is_public_domain(lower))
        return;
    dot = slice_find_char(lower, 0, '.');
    if (dot == SIZE_MAX) {
        anonymise_see(x, THING_HOST, text);
        return;
    }
    /* all of it, the name alone, the domain alone, and each label of the domain that names somebody */
    anonymise_see(x, THING_HOST, text);
    anonymise_see(x, THING_HOST, slice_cut(text, 0, dot));
    rest = slice_from(lower, dot + 1);
    if (is_public_domain(rest))
        return;
    if (slice_find_char(rest, 0, '.') != SIZE_MAX)
        anonymise_see(x, THING_HOST, rest);
    while (slice_next_word(&rest, ".", &label))
        if (!anonymise_is_top_label(label))
            anonymise_see(x, THING_HOST, label);
}

void anonymise_see_host(struct anonymiser *x, struct slice text)
{
    struct slice word;

    while (slice_next_word(&text, ", ", &word))
        see_one_host(x, word);
}

/* --- facts --- */

/* Folder and file of a machine's configuration; the display name need not be either. */
static void see_config(struct anonymiser *x, struct slice path)
{
    struct slice rest = path, part;
    unsigned n = 0;

    if (!slice_starts(path, "/vmfs/volumes/"))
        return;
    while (slice_next_word(&rest, "/", &part))
        if (++n > 3)
            anonymise_see(x, THING_MACHINE, slice_iends(part, ".vmx") ? slice_cut(part, 0, part.n - 4) : part);
}

/* "Local ATA Disk (t10...)" is the host's own word for it; a name that somebody gave stands alone. */
static void see_label(struct anonymiser *x, struct slice text)
{
    static const char *const ids[] = {"naa.", "eui.", "t10.", "mpx.", "uuid.", "vml.", "sym."};
    struct slice id = text;
    size_t open = slice_find_char(text, 0, '(');

    if (open != SIZE_MAX && slice_ends(text, ")"))
        id = slice_from(text, open + 1);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (slice_starts(id, ids[i]))
            return;
    anonymise_see(x, THING_NAME, text);
}

static void see_uuid(struct anonymiser *x, struct slice text)
{
    char digits[32];
    size_t n = anonymise_digits(text, digits, 32);

    anonymise_see(x, n == 16 ? THING_NFS : THING_UUID, (struct slice){digits, n});
}

static void see_value(struct anonymiser *x, const struct column *c, struct slice text)
{
    static const enum thing things[] = {
        [IDENTITY_SERIAL] = THING_SERIAL, [IDENTITY_MACHINE] = THING_MACHINE, [IDENTITY_DATASTORE] = THING_DATASTORE, [IDENTITY_NAME] = THING_NAME};

    anonymise_learn_text(x, text);
    switch (c->identity) {
    case IDENTITY_SERIAL:
        if (slice_starts(text, "VMware-")) /* a machine's: its UUID */
            return;
        anonymise_see(x, things[c->identity], text);
        return;
    case IDENTITY_MACHINE:
    case IDENTITY_DATASTORE:
    case IDENTITY_NAME:
        anonymise_see(x, things[c->identity], text);
        return;
    case IDENTITY_UUID:
        see_uuid(x, text);
        return;
    case IDENTITY_HOST:
        anonymise_see_host(x, text);
        return;
    case IDENTITY_IP:
        anonymise_see_ipv4(x, text);
        return;
    case IDENTITY_LABEL:
        see_label(x, text);
        return;
    case IDENTITY_TEXT:
        see_config(x, text);
        return;
    case IDENTITY_NONE:
    case IDENTITY_MAC:
    case IDENTITY_WWN:
    case IDENTITY_IQN:
    case IDENTITY_DEVICE: /* the patterns have seen them */
        return;
    }
}

static void see_cell(struct anonymiser *x, const struct column *c, const struct value *v)
{
    bool text = value_kind(c->type) == KIND_TEXT || value_kind(c->type) == KIND_LIST;

    if (v->state != VS_KNOWN || !text || c->type == VT_REF || c->type == VT_REFS || (c->derived && c->identity == IDENTITY_NONE))
        return;
    for (size_t i = 0; i < (value_kind(c->type) == KIND_LIST ? v->nlist : 1); i++) {
        struct slice s = value_kind(c->type) == KIND_LIST ? v->list[i] : v->s;

        if (c->identity == IDENTITY_NONE)
            anonymise_keep_words(x, s);
        else
            see_value(x, c, s);
    }
}

int anonymiser_facts(struct anonymiser *x, const struct facts *f)
{
    for (unsigned t = 0; t < f->schema->ntables; t++)
        for (size_t i = 0; i < facts_count(f, t); i++)
            for (unsigned c = 0; c < f->schema->tables[t].ncolumns; c++)
                see_cell(x, &f->schema->tables[t].columns[c], &facts_at(f, t, i)->cells[c]);
    return x->failed ? VF_ELIMIT : 0;
}

int anonymiser_host(struct anonymiser *x, struct slice name)
{
    anonymise_see_host(x, name);
    return x->failed ? VF_ELIMIT : 0;
}

int anonymiser_hostname(struct anonymiser *x, const struct ask *q, struct slice body)
{
    static const char *const keys[] = {"Host Name", "Domain Name", "Fully Qualified Domain Name"};
    static const struct decode_opt opt = {.shape = SHAPE_OBJECT, .name = ""};
    _cleanup_(arena_done) struct arena *a = NULL;
    struct decoded d;

    if (q->kind != ASK_ESXCLI || !slice_eqz(q->text, "system hostname get"))
        return 0;
    a = arena_new(MAX_HOSTNAME);
    if (decode_answer(decoder_find(SLICE_LIT("esxcli")), body, &opt, a, &d) < 0)
        return 0; /* no host's name is so long: the patterns see what there is */
    for (size_t i = 0; i < d.n; i++)
        for (uint32_t k = 0; k < d.records[i].nfields; k++)
            for (size_t n = 0; n < sizeof keys / sizeof *keys; n++)
                if (decode_key_eq(d.records[i].fields[k].key, slice_of(keys[n])))
                    anonymise_see_host(x, d.records[i].fields[k].text);
    return x->failed ? VF_ELIMIT : 0;
}

int anonymiser_learn(struct anonymiser *x, const struct ask *q, struct slice body)
{
    anonymise_keep_structure(x, q, body);
    anonymise_learn_text(x, body);
    if (q)
        anonymise_learn_text(x, q->text);
    return x->failed ? VF_ELIMIT : 0;
}

int anonymiser_seal(struct anonymiser *x, struct err *e)
{
    if (!x->failed)
        anonymise_make(x);
    if (!x->failed)
        anonymise_sort(x);
    x->sealed = !x->failed;
    return x->failed ? err_set(e, VF_ELIMIT, "what identifies the host does not fit: more than %u names, numbers and addresses", ANONYMISER_MAX) : 0;
}

int anonymiser_each(const struct anonymiser *x, int (*fn)(void *ctx, const struct anonymised *one), void *ctx)
{
    int rc = 0;

    for (size_t i = 0; i < x->nspellings && rc == 0; i++) {
        const struct spelling *s = &x->spellings[i];
        const struct anonymised one = {s->text, {s->replacement, s->text.n}, s->bounds != BOUNDS_NONE, s->bounds == BOUNDS_PLACE};

        rc = fn(ctx, &one);
    }
    return rc;
}
