#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/cmd.h"

#define MAX_OUTPUT (1u << 30) /* one host's document; the largest seen is 3 MB */
#define MIN_WIDTH  40u
#define MAX_WIDTH  1000u

static const char *const color_words[] = {"auto", "always", "never", NULL};

const struct opt cli_options[] = {
    {"data", 0, OPT_TEXT, offsetof(struct cli, data), "DIR", "folder that holds probes/ and rules/", NULL},
    {"color", 0, OPT_CHOICE, offsetof(struct cli, color), NULL,
     "colour: auto (on a terminal, unless NO_COLOR is set), always or never", color_words},
    {"verbose", 'v', OPT_COUNT, offsetof(struct cli, verbose), NULL, "tell reasons and sources", NULL},
    {"help", 'h', OPT_FLAG, offsetof(struct cli, help), NULL, "show help, examples first", NULL},
    {0},
};

enum status status_of(int code)
{
    if (code == VF_EUSAGE)
        return STATUS_USAGE;
    return code == VF_EHOST || code == VF_EIDENTITY || code == VF_ELOGIN ? STATUS_INCOMPLETE : STATUS_FAILED;
}

static unsigned width_of(FILE *out, const char *columns)
{
    struct winsize w = {0};
    uint64_t n;

    if (columns && num_parse_u64(slice_of(columns), &n) == 0 && n >= MIN_WIDTH && n <= MAX_WIDTH)
        return (unsigned)n;
    if (out && fileno(out) >= 0 && ioctl(fileno(out), TIOCGWINSZ, &w) == 0 && w.ws_col >= MIN_WIDTH)
        return w.ws_col < MAX_WIDTH ? w.ws_col : MAX_WIDTH;
    return 80;
}

void cli_init(struct cli *c, FILE *out, FILE *err, const struct cli_environment *env)
{
    *c = (struct cli){.out = out, .err = err, .env = *env};
    c->tty = fileno(out) >= 0 && isatty(fileno(out));
    c->width = width_of(out, env->columns);
}

bool cli_parse(struct cli *c, const struct command *cmd, void *values, int argc, char **argv, int *n, int *status)
{
    const struct opt_set sets[] = {{cmd->opts, values}, {cli_options, c}, {cmd->group ? cmd->group->opts : NULL, c}};
    struct err e = {0};

    *status = STATUS_OK;
    if (opts_parse(sets, 3, false, argc, argv, n, &e) < 0) {
        *status = cli_fail(c, cmd->name, &e);
        return false;
    }
    if (c->help) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);

        opts_help("vmkfit", cmd, cli_options, &b);
        *status = cli_write(c, &b);
        return false;
    }
    return true;
}

/* One message; on a terminal its words are wrapped, so that none is parted. */
static void say(struct cli *c, const char *before, const char *text)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8192), safe = BUF_INIT(8192), out = BUF_INIT(16384);
    struct slice rest = slice_of(text), line;
    bool tty = fileno(c->err) >= 0 && isatty(fileno(c->err));

    buf_addz(&b, before);
    for (bool first = true; slice_next_line(&rest, &line, NULL); first = false) {
        if (!first)
            buf_addz(&b, "\n  ");
        buf_add_safe(&b, line);
    }
    rest = buf_slice(&b);
    while (tty && slice_next_line(&rest, &line, NULL)) {
        buf_reset(&safe);
        buf_add(&safe, line);
        opts_wrap(&out, buf_z(&safe), 2, 2, cli_text_width(c)); /* the first line stands at the edge */
    }
    if (!tty) {
        buf_add(&out, buf_slice(&b));
        buf_addc(&out, '\n');
    }
    (void)fwrite(out.p, 1, out.n, c->err);
}

int cli_fail(struct cli *c, const char *command, const struct err *e)
{
    _cleanup_(buf_done) struct buf head = BUF_INIT(100);

    buf_printf(&head, "vmkfit%s%s: ", command ? " " : "", command ? command : "");
    say(c, buf_z(&head), e->msg);
    if (e->code == VF_EUSAGE)
        (void)fprintf(c->err, "Try \"vmkfit%s%s --help\".\n", command ? " " : "", command ? command : "");
    return (int)status_of(e->code);
}

void cli_warn(struct cli *c, const char *fmt, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say(c, "vmkfit: ", text);
}

int cli_write(struct cli *c, struct buf *b)
{
    if (b->n)
        (void)fwrite(b->p, 1, b->n, c->out);
    if (!b->cut)
        return STATUS_OK;
    cli_warn(c, "the output is larger than %zu bytes; the rest is left out", b->max);
    return STATUS_FAILED;
}

int cli_write_json(struct cli *c, struct js **document)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_OUTPUT);

    js_write(*document, true, &b);
    js_free(document);
    return cli_write(c, &b);
}

size_t cli_table_width(const struct cli *c)
{
    return c->tty || c->env.columns ? c->width : 0;
}

unsigned cli_text_width(const struct cli *c)
{
    return c->width > 100 ? 100 : c->width;
}

struct slice cli_today(struct arena *a)
{
    time_t now = time(NULL);
    struct tm tm;
    char text[16];

    if (!gmtime_r(&now, &tm) || strftime(text, sizeof text, "%Y-%m-%d", &tm) == 0)
        return (struct slice){NULL, 0};
    return arena_dup(a, slice_of(text));
}

const char *cli_style(const struct cli *c, enum style s)
{
    static const char *const codes[] = {
        [STYLE_NONE] = "\033[0m", [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m", [STYLE_YELLOW] = "\033[33m", [STYLE_GREEN] = "\033[32m",
    };
    bool plain = (c->env.no_color && *c->env.no_color) || !c->env.term || strcmp(c->env.term, "dumb") == 0;

    return c->color == COLOR_ALWAYS || (c->color == COLOR_AUTO && c->tty && !plain) ? codes[s] : "";
}

const struct command *cli_command(const struct cli *c, const char *name, struct err *e)
{
    struct near near = {.word = slice_of(name)};

    for (const struct command *const *cmd = c->commands; *cmd; cmd++) {
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
        near_try(&near, slice_of((*cmd)->name));
    }
    (void)near_fail(&near, "", e, "unknown command \"%s\"", name);
    return NULL;
}
