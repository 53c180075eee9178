#include "decode/plain.h"

struct storcli {
    struct builder b;
    struct plain l;
    struct plain_harm harm;
    bool head, failed;   /* between that line and the first list; its status is not Success */
    const char *wanted;  /* in a list that tells one: the field that its column makes */
    unsigned word;       /* which word of a row that is */
    bool rows;           /* behind the line below the headings */
};

/* The lists of which a column is kept: heading of the first column, of the one wanted, and the field. */
static const struct {
    const char *first, *column, *field;
} lists[] = {{"DG/VD", "Cache", "Cache Policy"}, {"Model", "State", "Battery"}};

/* "00:3b:00:00", hexadecimal, the segment in two digits: as the host writes it, 0000:3b:00.0. Empty when it is none. */
static struct slice address(struct slice s, struct arena *a)
{
    struct slice word;
    uint64_t part[4];
    unsigned n = 0;

    while (n < 4 && slice_next_word(&s, ":", &word) && num_parse_hex(word, 2, &part[n]) == 0)
        n++;
    if (n < 4 || s.n || part[2] > 31 || part[3] > 7)
        return (struct slice){NULL, 0};
    return slice_of(arena_printf(a, "%04x:%02x:%02x.%x", (unsigned)part[0], (unsigned)part[1], (unsigned)part[2], (unsigned)part[3]));
}

/* HBAs have no package; the tool prints zeros for it, and the firmware's own version is the published one. */
static void add_firmware(struct storcli *s)
{
    struct field *package = plain_find(&s->b, SLICE_LIT("FW Package Build")), *own = plain_find(&s->b, SLICE_LIT("FW Version"));
    struct field *from = package && !slice_eqz(package->text, "00.00.00.00") && !slice_eqz(package->text, "N/A") ? package : own, *f;
    struct slice text = from ? from->text : (struct slice){NULL, 0};
    uint32_t line = from ? from->line : 0;
    const char *damage = package && package->damage ? package->damage : from ? from->damage : NULL;

    if (!from || !package) /* without the package's line, which of the two is published is not known */
        return;
    f = plain_field(&s->b, "Firmware", text, &s->l);
    if (f) {
        f->damage = damage;
        f->line = line;
    }
}

/* Headings of a list that is wanted: which word of its rows it is. Only "Cachevault_Info" and "BBU_Info" begin with Model and State. */
static bool list_heading(struct storcli *s, struct slice text)
{
    struct slice rest = text, first, word;

    if (!s->b.open || s->head || !slice_next_word(&rest, " ", &first))
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (unsigned at = 1; slice_eqz(first, lists[i].first) && slice_next_word(&rest, " ", &word); at++)
            if (slice_eqz(word, lists[i].column)) {
                s->wanted = lists[i].field;
                s->word = at;
                s->rows = false;
                return true;
            }
    return false;
}

static bool rule_line(struct slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '-')
            return false;
    return text.n > 3;
}

/* The cells before the wanted one are single words in every list that is kept. */
static void list_row(struct storcli *s, struct slice text)
{
    struct slice rest = text, first, word;
    struct field *f;
    bool many;

    if (rule_line(text)) {
        s->wanted = s->rows ? NULL : s->wanted;
        s->rows = true;
        return;
    }
    if (!s->rows || !slice_next_word(&rest, " ", &first)) {
        s->wanted = NULL; /* a list without its lines is not what it seems */
        return;
    }
    word = first;
    for (unsigned at = 0; at < s->word; at++)
        if (!slice_next_word(&rest, " ", &word)) {
            plain_harm(&s->harm, "a row of a list with too few columns", s->l.number);
            return;
        }
    many = slice_find_char(first, 0, '/') < first.n; /* "0/0": of drive groups there are several, of batteries one */
    if (many)
        word = slice_of(arena_printf(s->b.a, SLICE_FMT " " SLICE_FMT, SLICE_ARG(first), SLICE_ARG(word)));
    f = plain_field(&s->b, s->wanted, word, &s->l);
    if (f)
        f->listed = many;
    plain_suspect(f, &s->l);
}

static void end_controller(struct storcli *s)
{
    s->wanted = NULL;
    if (!s->b.open)
        return;
    if (s->failed || !plain_find(&s->b, SLICE_LIT("PCI Address"))) {
        plain_harm(&s->harm, s->failed ? "the tool reports a failure for a controller" : "a controller without its PCI address", s->l.number);
        builder_drop(&s->b);
        return;
    }
    add_firmware(s);
    builder_finish(&s->b);
}

static void add_pair(struct storcli *s, struct slice key, struct slice value)
{
    struct slice pci;

    if (slice_eqz(key, "Controller")) {
        end_controller(s);
        builder_begin(&s->b, value, s->l.number);
        s->head = true;
        s->failed = false;
    } else if (s->head && slice_eqz(key, "Status")) {
        s->failed = !slice_eqz(value, "Success");
    } else if (s->head && slice_eqz(key, "PCI Address")) {
        pci = address(value, s->b.a);
        if (pci.n)
            plain_suspect(plain_once(&s->b, key, pci, &s->l), &s->l);
        else
            plain_harm(&s->harm, "a PCI address of another form", s->l.number);
    } else if (s->head) {
        plain_suspect(plain_once(&s->b, key, value, &s->l), &s->l);
    }
}

int decode_storcli(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    struct storcli s = {.l = plain_open(in)};

    if (plain_refused(in, "storcli", a, out))
        return arena_full(a) ? VF_ELIMIT : 0;
    builder_init(&s.b, a);
    while (!s.b.failed && plain_next(&s.l)) {
        struct slice text = slice_trim(s.l.line);
        size_t at = slice_find(text, 0, " =");

        if (s.wanted && text.n)
            list_row(&s, text);
        else if (list_heading(&s, text))
            continue;
        else if (at != SIZE_MAX && at)
            add_pair(&s, slice_trim(slice_cut(text, 0, at)), slice_trim(slice_from(text, at + 2)));
        else if (text.n && text.p[text.n - 1] == ':')
            s.head = false; /* "TOPOLOGY :", "VD LIST :" */
    }
    end_controller(&s);
    return plain_end(&s.b, o, "storcli", &s.l, &s.harm, out);
}
