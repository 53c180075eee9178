#include <stddef.h>

#include "base/archive.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/pcinames.h"
#include "base/xml.h"
#include "cmd/cmd.h"
#include "net/http.h"
#include "net/ssh.h"

/* help, completion, --version: all from the tables of the commands. */

#define MAX_TEXT (1u << 20)

#define SUMMARY "tells which VMware ESXi hosts have drivers, firmware and settings that do not fit"

static const struct opts_section sections[] = {
    {"TARGETS",
     "A host is written esx01, root@esx01 or ssh://root@esx01:2222 and reached over SSH; name, user, port, keys, known hosts and jump hosts are taken from "
     "~/.ssh/config, as ssh does. A name that is a file or folder here is that file.\n\n"
     "A recording is a folder with recording.json, which tells what was asked, what failed, and how long each answer "
     "is. A folder of outputs holds files that are named after the commands they answer; blanks, underscores and "
     "dashes are alike, and .txt, .xml, .json and .csv only say in which form. A support bundle is what vm-support "
     "makes, as .tgz or unpacked. A .zip may hold several bundles, as vCenter exports them."},
    {"EXIT STATUS",
     "    0   nothing at or above --fail-on\n"
     "    1   the run failed, or saved answers could not be read at all\n"
     "    2   findings at or above --fail-on; of rules lint and rules test: faults; of waivers: one has expired\n"
     "    3   incomplete: a host was not reached, a host or an answer could not be read whole, or a file of waivers is refused\n"
     "    64  wrong words on the command line\n\n"
     "Of several the first of 1, 2, 3, 0 counts. Results go to standard output, everything else to standard error."},
    {"ENVIRONMENT",
     "VMKFIT_DATA names the folder that holds probes/ and rules/ when none is found beside the program or in "
     "share/vmkfit. NO_COLOR and TERM=dumb "
     "switch colour off. COLUMNS sets the width of tables.\n\n"
     "SSH_AUTH_SOCK names the ssh agent. CREDENTIALS_DIRECTORY, set by systemd, may hold vmkfit.password. STATE_DIRECTORY, else XDG_STATE_HOME, says where tries "
     "with a password are counted. XDG_CONFIG_HOME, else ~/.config, has vmkfit/waivers.d."},
    {"FILES",
     "probes/ and rules/ are looked for in the folder of the program, the one above it, ../share/vmkfit, "
     "/usr/share/vmkfit and VMKFIT_DATA; "
     "--data comes before all.\n\n"
     "probes/schema.xml declares tables and columns, probes/releases.xml the builds of ESXi; the other files in "
     "probes/ say what is asked. rules/ holds the rules, rules/rules.rng their RELAX NG schema for editors.\n\n"
     "/etc/vmkfit/waivers.d/*.xml and ~/.config/vmkfit/waivers.d/*.xml hold the findings that a site accepts for a while; docs/waivers.md."},
    {"EXAMPLES",
     "A host over SSH:\n\n"
     "    vmkfit trust root@esx01\n"
     "    vmkfit scan root@esx01\n\n"
     "Save a few outputs on a host, copy them here, and look:\n\n"
     "    esxcli system version get > 'esxcli_system_version_get.txt'\n"
     "    esxcli storage core adapter list > 'esxcli_storage_core_adapter_list.txt'\n"
     "    vmkfit scan outputs/\n\n"
     "What is missing for a verdict, and which command would tell it:\n\n"
     "    vmkfit facts outputs/ --source\n\n"
     "Every night, mail only when there is something to do:\n\n"
     "    vmkfit scan --json bundles/*.tgz > report.json || mail -s 'ESXi findings' admins < report.json\n"},
    {"SEE ALSO",
     "vmkfit-rules(5); in the documentation docs/facts.md, docs/writing-rules.md, docs/writing-probes.md, "
     "docs/saving-outputs.md, docs/live-hosts.md, docs/waivers.md."},
    {0},
};

void help_version(struct buf *out)
{
    buf_printf(out, "vmkfit %s\n%s\n%s\n%s\n%s\n%s\n%s\nlibssh2 %s\n%s\n", VMKFIT_VERSION, xml_library(), archive_library(), js_library(),
               text_table_library(), pcinames_library(), digest_library(), ssh_library(), http_library());
}

void help_overview(const struct cli *c, struct buf *out)
{
    opts_wrap(out, "vmkfit " SUMMARY ".", 0, 0, OPTS_WIDTH);
    buf_addz(out, "\nExamples\n");
    for (const struct command *const *cmd = c->commands; *cmd; cmd++) { /* the first example of each */
        struct slice rest = slice_of((*cmd)->examples), line;

        if (slice_next_line(&rest, &line, NULL))
            buf_printf(out, "  " SLICE_FMT "\n", SLICE_ARG(line));
    }
    buf_addz(out, "\nCommands\n");
    opts_help_commands(c->commands, out);
    buf_addz(out, "\n\"vmkfit help COMMAND\" tells more; \"vmkfit --version\" names the libraries.\n");
}

/* --- help --- */

struct help_values {
    bool man;
};

static const struct opt help_opts[] = {
    {"man", 0, OPT_FLAG, offsetof(struct help_values, man), NULL, "write the manual page, vmkfit(1), in roff", NULL},
    {0},
};

static int run_help(struct cli *c, int argc, char **argv)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_TEXT);
    struct help_values v = {0};
    const struct command *cmd;
    struct err e = {0};
    int n, status;

    if (!cli_parse(c, &cmd_help, &v, argc, argv, &n, &status))
        return status;
    if (n > 1) {
        (void)err_set(&e, VF_EUSAGE, "one command at a time, not \"%s\" too", argv[1]);
        return cli_fail(c, "help", &e);
    }
    if (v.man) {
        opts_man("vmkfit", VMKFIT_VERSION, SUMMARY, c->commands, cli_options, sections, &b);
    } else if (n == 0) {
        help_overview(c, &b);
    } else {
        cmd = cli_command(c, argv[0], &e);
        if (!cmd)
            return cli_fail(c, "help", &e);
        opts_help("vmkfit", cmd, cli_options, &b);
    }
    return cli_write(c, &b);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "show help of a command",
    .usage = "[COMMAND]",
    .examples = "vmkfit help facts\n"
                "vmkfit help --man > vmkfit.1\n",
    .opts = help_opts,
    .run = run_help,
};

/* --- completion --- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int run_completion(struct cli *c, int argc, char **argv)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_TEXT);
    struct err e = {0};
    int n, status;

    if (!cli_parse(c, &cmd_completion, NULL, argc, argv, &n, &status))
        return status;
    for (int i = 0; n == 1 && shells[i]; i++)
        if (strcmp(argv[0], shells[i]) == 0) {
            opts_completion((enum opts_shell)i, "vmkfit", c->commands, cli_options, &b);
            return cli_write(c, &b);
        }
    (void)err_set(&e, VF_EUSAGE, "say for which shell: bash, zsh or fish");
    return cli_fail(c, "completion", &e);
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "write a completion script for a shell",
    .usage = "bash|zsh|fish",
    .examples = "source <(vmkfit completion bash)\n"
                "vmkfit completion fish > ~/.config/fish/completions/vmkfit.fish\n",
    .verbs = shells,
    .run = run_completion,
};
