#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/xml.h"
#include "cmd/live.h"

static const struct command *const commands[] = {
    &cmd_scan,
    &cmd_explain,
    &cmd_drivers,
    &cmd_facts,
    &cmd_record,
    &cmd_doctor,
    &cmd_trust,
    &cmd_probe,
    &cmd_rules,
    &cmd_waivers,
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

/* A closed input or output stays closed for us, but its number is taken: no socket or file may become it. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
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
        .config_home = getenv("XDG_CONFIG_HOME"),
        .variable = variable,
    };
    struct cli c;
    int status;

    hold_standard_files();
    (void)setlocale(LC_CTYPE, "");
    xml_setup();
    cli_init(&c, stdout, stderr, &env);
    c.commands = commands;
    status = dispatch(&c, argc - (argc > 0), argv + (argc > 0));
    live_done(&c);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) { /* why an earlier write failed is not known any more */
        (void)fprintf(stderr, "vmkfit: standard output: %s\n", errno ? strerror(errno) : "cannot be written to the end");
        return STATUS_FAILED;
    }
    return status;
}
