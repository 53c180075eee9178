#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/xml.h"
#include "cmd/live.h"

static const struct command *const commands[] = {
    &cmd_scan,
    &cmd_explain,
    &cmd_facts,
    &cmd_record,
    &cmd_doctor,
    &cmd_trust,
    &cmd_probe,
    &cmd_rules,
    &cmd_completion,
    &cmd_help,
    NULL,
};

struct main_values {
    bool version;
};

static const struct opt main_opts[] = {
    {"version", 'V', OPT_FLAG, offsetof(struct main_values, version), NULL,
     "show the versions of vmkfit and its libraries", NULL},
    {0},
};

static int dispatch(struct cli *c, int argc, char **argv)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(64u << 10);
    struct main_values v = {0};
    const struct opt_set sets[] = {{main_opts, &v}, {cli_options, c}};
    const struct command *cmd;
    struct err e = {0};
    int n;

    if (opts_parse(sets, 2, true, argc, argv, &n, &e) < 0)
        return cli_fail(c, NULL, &e);
    if (v.version) {
        help_version(&b);
        return cli_write(c, &b);
    }
    if (n == 0) {
        help_overview(c, &b);
        if (c->help)
            return cli_write(c, &b);
        (void)fwrite(b.p, 1, b.n, c->err);
        return STATUS_USAGE;
    }
    cmd = cli_command(c, argv[0], &e);
    return cmd ? cmd->run(c, n - 1, argv + 1) : cli_fail(c, NULL, &e);
}

static const char *variable(const char *name)
{
    return getenv(name);
}

int main(int argc, char **argv)
{
    const struct cli_environment env = {
        .data = getenv("VMKFIT_DATA"),
        .no_color = getenv("NO_COLOR"),
        .term = getenv("TERM"),
        .columns = getenv("COLUMNS"),
        .home = getenv("HOME"),
        .agent = getenv("SSH_AUTH_SOCK"),
        .credentials = getenv("CREDENTIALS_DIRECTORY"),
        .state_dir = getenv("STATE_DIRECTORY"),
        .state_home = getenv("XDG_STATE_HOME"),
        .variable = variable,
    };
    struct cli c;
    int status;

    (void)setlocale(LC_CTYPE, "");
    xml_setup();
    cli_init(&c, stdout, stderr, &env);
    c.commands = commands;
    status = dispatch(&c, argc - (argc > 0), argv + (argc > 0));
    live_done(&c);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "vmkfit: standard output: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    return status;
}
