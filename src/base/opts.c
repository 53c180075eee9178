#include "base/opts.h"

#include <stdarg.h>

/* --- did you mean --- */

void near_try(struct near *n, struct slice candidate)
{
    unsigned d = slice_distance(n->word, candidate), most = n->word.n < 4 ? 1 : n->word.n < 8 ? 2 : 3;

    if (n->word.n > 1 && candidate.n > n->word.n && slice_eq(slice_cut(candidate, 0, n->word.n), n->word))
        d = 1; /* the beginning of it */
    if (d <= most && (n->best.n == 0 || d < n->least)) {
        n->best = candidate;
        n->least = d;
    }
}

void near_tryz(struct near *n, const char *const *words)
{
    for (; words && *words; words++)
        near_try(n, slice_of(*words));
}

int near_fail(const struct near *n, const char *before, struct err *e, const char *fmt, ...)
{
    char text[sizeof e->msg];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n->best.n == 0)
        return err_set(e, VF_EUSAGE, "%s", text);
    return err_set(e, VF_EUSAGE, "%s; did you mean %s" SLICE_FMT "?", text, before, SLICE_ARG(n->best));
}

/* --- parsing --- */

struct parse {
    const struct opt_set *sets;
    size_t nsets;
    struct err *e;
};

static const struct opt *next_opt(const struct parse *p, size_t *set, const struct opt *o)
{
    for (o = o ? o + 1 : p->sets[*set].opts; !o || !o->name; o = p->sets[*set].opts)
        if (++*set >= p->nsets)
            return NULL;
    return o;
}

static int unknown_option(const struct parse *p, const char *shown, struct slice name)
{
    struct near near = {.word = name};
    size_t set = 0;

    for (const struct opt *o = NULL; (o = next_opt(p, &set, o));)
        near_try(&near, slice_of(o->name));
    return near_fail(&near, "--", p->e, "unknown option %s", shown);
}

static int set_choice(const struct parse *p, const struct opt *o, int *where, const char *value)
{
    _cleanup_(buf_done) struct buf all = BUF_INIT(512);
    struct near near = {.word = slice_of(value)};

    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], value) == 0) {
            *where = i;
            return 0;
        }
        buf_printf(&all, "%s%s", i ? ", " : "", o->choices[i]);
    }
    near_tryz(&near, o->choices);
    if (near.best.n)
        return near_fail(&near, "", p->e, "--%s cannot be \"%s\"", o->name, value);
    return err_set(p->e, VF_EUSAGE, "--%s cannot be \"%s\"; it is one of %s", o->name, value, buf_z(&all));
}

static int missing_value(const struct parse *p, const struct opt *o)
{
    const char *value = o->value_name ? o->value_name : "VALUE";

    return err_set(p->e, VF_EUSAGE, "--%s needs a value: --%s %s", o->name, o->name, value);
}

static int set_value(const struct parse *p, const struct opt *o, void *values, const char *value)
{
    char *where = (char *)values + o->at;
    struct opt_list *list;
    struct slice rest = slice_of(value), word;
    size_t before;

    switch (o->kind) {
    case OPT_FLAG:
        *(bool *)(void *)where = true;
        return 0;
    case OPT_COUNT:
        ++*(unsigned *)(void *)where;
        return 0;
    case OPT_TEXT:
        if (!*value)
            return missing_value(p, o);
        *(const char **)(void *)where = value;
        return 0;
    case OPT_CHOICE:
        return set_choice(p, o, (int *)(void *)where, value);
    case OPT_LIST:
        list = (struct opt_list *)(void *)where;
        before = list->n;
        while (slice_next_word(&rest, ",", &word)) {
            if (list->n == OPT_MAX_LIST)
                return err_set(p->e, VF_EUSAGE, "--%s: more than %u values", o->name, OPT_MAX_LIST);
            list->v[list->n++] = word;
        }
        return list->n > before ? 0 : missing_value(p, o);
    }
    return 0;
}

static bool takes_value(const struct opt *o)
{
    return o->kind == OPT_TEXT || o->kind == OPT_CHOICE || o->kind == OPT_LIST;
}

/* --name, --name=value, --name value: *i moves over a value taken from the next word. */
static int parse_long(const struct parse *p, int argc, char **argv, int *i)
{
    const char *text = argv[*i] + 2, *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
    struct slice name = {text, equals ? (size_t)(equals - text) : strlen(text)};
    _cleanup_(buf_done) struct buf shown = BUF_INIT(200);
    const struct opt *o = NULL;
    size_t set = 0;

    while ((o = next_opt(p, &set, o)) && !slice_eqz(name, o->name))
        ;
    if (!o) {
        buf_addz(&shown, "--");
        buf_add(&shown, name);
        return unknown_option(p, buf_z(&shown), name);
    }
    if (!takes_value(o) && value)
        return err_set(p->e, VF_EUSAGE, "--%s takes no value", o->name);
    if (takes_value(o) && !value) {
        if (*i + 1 >= argc)
            return missing_value(p, o);
        value = argv[++*i];
    }
    return set_value(p, o, p->sets[set].values, value);
}

static int parse_letters(const struct parse *p, int argc, char **argv, int *i)
{
    for (const char *c = argv[*i] + 1; *c; c++) {
        char shown[] = {'-', *c, '\0'};
        const struct opt *o = NULL;
        const char *value = NULL;
        size_t set = 0;
        int rc;

        while ((o = next_opt(p, &set, o)) && o->letter != *c)
            ;
        if (!o) /* -json for --json is seen often: look for the whole word */
            return unknown_option(p, c == argv[*i] + 1 ? argv[*i] : shown, slice_of(c));
        if (takes_value(o)) {
            if (c[1])
                value = c + 1;
            else if (*i + 1 < argc)
                value = argv[++*i];
            else
                return missing_value(p, o);
        }
        rc = set_value(p, o, p->sets[set].values, value);
        if (rc < 0 || value)
            return rc;
    }
    return 0;
}

int opts_parse(const struct opt_set *sets, size_t nsets, bool stop, int argc, char **argv, int *n, struct err *e)
{
    struct parse p = {sets, nsets, e};
    bool only_operands = false;
    int rc = 0;

    *n = 0;
    for (int i = 0; i < argc && rc == 0; i++) {
        if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[(*n)++] = argv[i];
            only_operands |= stop;
        } else if (strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (argv[i][1] == '-') {
            rc = parse_long(&p, argc, argv, &i);
        } else {
            rc = parse_letters(&p, argc, argv, &i);
        }
    }
    return rc;
}

/* --- help --- */

static void pad(struct buf *out, unsigned from, unsigned to)
{
    for (; from < to; from++)
        buf_addc(out, ' ');
}

static unsigned chars(struct slice s)
{
    unsigned n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

void opts_wrap(struct buf *out, const char *text, unsigned at, unsigned indent, unsigned width)
{
    struct slice rest = slice_of(text), word;
    bool first = true;

    pad(out, at, indent);
    if (at < indent)
        at = indent;
    while (slice_next_word(&rest, " \n", &word)) {
        unsigned n = chars(word);

        if (!first && at + 1 + n > width) {
            buf_addc(out, '\n');
            pad(out, 0, indent);
            at = indent;
            first = true;
        }
        if (!first)
            buf_addc(out, ' ');
        buf_add(out, word);
        at += n + !first;
        first = false;
    }
    buf_addc(out, '\n');
}

/* Paragraphs parted by empty lines, one at a time, as a NUL-terminated copy in b. */
static bool next_paragraph(struct slice *rest, struct buf *b)
{
    struct slice line;

    buf_reset(b);
    while (slice_next_line(rest, &line, NULL)) {
        if (line.n == 0 && b->n)
            break;
        if (line.n == 0)
            continue;
        buf_add(b, line);
        buf_addc(b, '\n');
    }
    return b->n > 0;
}

static void paragraphs(struct buf *out, const char *text, unsigned indent)
{
    _cleanup_(buf_done) struct buf one = BUF_INIT(16u << 10);
    struct slice rest = slice_of(text);
    bool first = true;

    while (next_paragraph(&rest, &one)) {
        if (!first)
            buf_addc(out, '\n');
        first = false;
        if (one.p[0] == ' ')
            buf_add(out, buf_slice(&one));
        else
            opts_wrap(out, buf_z(&one), 0, indent, OPTS_WIDTH);
    }
}

/* "-v, --verbose", "    --columns COLUMN,..." */
static void option_head(struct buf *out, const struct opt *o)
{
    if (o->letter)
        buf_printf(out, "-%c, --%s", o->letter, o->name);
    else
        buf_printf(out, "    --%s", o->name);
    if (takes_value(o) && o->value_name)
        buf_printf(out, " %s", o->value_name);
    for (int i = 0; o->kind == OPT_CHOICE && !o->value_name && o->choices[i]; i++)
        buf_printf(out, "%s%s", i ? "|" : " ", o->choices[i]);
}

static void help_options(struct buf *out, const struct opt *o)
{
    for (; o && o->name; o++) {
        _cleanup_(buf_done) struct buf head = BUF_INIT(200);
        unsigned at;

        option_head(&head, o);
        at = 2 + chars(buf_slice(&head));
        buf_printf(out, "  %s", buf_z(&head));
        if (at > 24) {
            buf_addc(out, '\n');
            at = 0;
        }
        opts_wrap(out, o->help, at, 26, OPTS_WIDTH);
    }
}

void opts_help(const char *program, const struct command *c, const struct opt *common, struct buf *out)
{
    struct slice rest = slice_of(c->usage), line;
    bool first = true;

    buf_printf(out, "%s %s: %s\n", program, c->name, c->summary);
    if (c->examples) {
        buf_addz(out, "\nExamples\n");
        for (struct slice ex = slice_of(c->examples); slice_next_line(&ex, &line, NULL);)
            buf_printf(out, "  " SLICE_FMT "\n", SLICE_ARG(line));
    }
    buf_addz(out, "\nUsage\n");
    while (slice_next_line(&rest, &line, NULL) || first) {
        buf_printf(out, "  %s %s%s" SLICE_FMT "%s\n", program, c->name, line.n ? " " : "", SLICE_ARG(line),
                   c->opts && c->opts->name ? " [OPTION]..." : "");
        first = false;
    }
    if (c->description) {
        buf_addc(out, '\n');
        paragraphs(out, c->description, 0);
    }
    if (c->opts && c->opts->name) {
        buf_addz(out, "\nOptions\n");
        help_options(out, c->opts);
    }
    if (c->group) {
        buf_printf(out, "\n%s\n", c->group->title);
        help_options(out, c->group->opts);
    }
    if (common) {
        buf_addz(out, "\nOptions of every command\n");
        help_options(out, common);
    }
}

void opts_help_commands(const struct command *const *commands, struct buf *out)
{
    for (; *commands; commands++) {
        buf_printf(out, "  %-12s", (*commands)->name);
        opts_wrap(out, (*commands)->summary, 14, 14, OPTS_WIDTH);
    }
}

/* --- manual page --- */

/* Text for roff: a dash that can be copied, no request at the start of a line. */
static void roff(struct buf *out, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((s.p[i] == '.' || s.p[i] == '\'') && (i == 0 || s.p[i - 1] == '\n'))
            buf_addz(out, "\\&");
        if (s.p[i] == '\\')
            buf_addz(out, "\\e");
        else if (s.p[i] == '-')
            buf_addz(out, "\\-");
        else
            buf_addc(out, s.p[i]);
    }
}

static void roffz(struct buf *out, const char *z)
{
    roff(out, slice_of(z));
}

static void roff_lines(struct buf *out, const char *text)
{
    buf_addz(out, ".nf\n");
    roffz(out, text);
    buf_addz(out, ".fi\n");
}

static void roff_paragraphs(struct buf *out, const char *text)
{
    _cleanup_(buf_done) struct buf one = BUF_INIT(16u << 10);
    struct slice rest = slice_of(text);

    while (next_paragraph(&rest, &one)) {
        buf_addz(out, ".PP\n");
        if (one.p[0] == ' ')
            roff_lines(out, buf_z(&one));
        else
            roff(out, buf_slice(&one));
    }
}

static void roff_options(struct buf *out, const struct opt *o)
{
    for (; o && o->name; o++) {
        _cleanup_(buf_done) struct buf head = BUF_INIT(200);

        option_head(&head, o);
        buf_addz(out, ".TP\n.B \"");
        roff(out, slice_trim(buf_slice(&head)));
        buf_addz(out, "\"\n");
        roffz(out, o->help);
        buf_addc(out, '\n');
    }
}

static void roff_command(struct buf *out, const char *program, const struct command *c)
{
    struct slice rest = slice_of(c->usage), line;
    bool first = true;

    buf_addz(out, ".SS ");
    roffz(out, c->name);
    buf_addc(out, '\n');
    roffz(out, c->summary);
    buf_addz(out, ".\n");
    while (slice_next_line(&rest, &line, NULL) || first) {
        buf_printf(out, "%s\n.B %s ", first ? ".PP" : ".br", program);
        roffz(out, c->name);
        buf_addc(out, ' ');
        roff(out, line);
        buf_addc(out, '\n');
        first = false;
    }
    if (c->description)
        roff_paragraphs(out, c->description);
    roff_options(out, c->opts);
    if (c->examples) {
        buf_addz(out, ".PP\nExamples:\n");
        roff_lines(out, c->examples);
    }
}

/* The group that the commands from here on have, if it was not shown before. */
static void roff_group(struct buf *out, const struct command *const *commands, size_t at)
{
    const struct opt_group *g = commands[at]->group;

    for (size_t i = 0; i < at; i++)
        if (commands[i]->group == g)
            return;
    if (!g)
        return;
    buf_addz(out, ".SH ");
    for (const char *p = g->title; *p; p++)
        buf_addc(out, *p >= 'a' && *p <= 'z' ? (char)(*p & ~0x20) : *p);
    buf_addz(out, "\nOf the commands");
    for (bool first = true; commands[at]; at++)
        if (commands[at]->group == g) {
            buf_printf(out, "%s %s", first ? "" : ",", commands[at]->name);
            first = false;
        }
    buf_addz(out, ".\n");
    roff_options(out, g->opts);
}

void opts_man(const char *program, const char *version, const char *summary, const struct command *const *commands,
              const struct opt *common, const struct opts_section *sections, struct buf *out)
{
    buf_printf(out, ".TH %s 1 \"\" \"%s %s\"\n.SH NAME\n%s \\- ", program, program, version, program);
    roffz(out, summary);
    buf_printf(out, "\n.SH SYNOPSIS\n.B %s\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n", program);
    buf_addz(out, ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++)
        roff_command(out, program, commands[i]);
    for (size_t i = 0; commands[i]; i++)
        roff_group(out, commands, i);
    buf_addz(out, ".SH OPTIONS OF EVERY COMMAND\n");
    roff_options(out, common);
    for (; sections && sections->title; sections++) {
        buf_printf(out, ".SH %s\n", sections->title);
        roff_paragraphs(out, sections->text);
    }
}
