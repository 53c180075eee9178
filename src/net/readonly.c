#include "net/channel.h"

#include <string.h>

/*
 * Commands other than esxcli, and the options that only read. '*' stands for one argument without metacharacters. Sources: the usage
 * texts of ESXi 6.7; esxcfg-* and vmkload_mod with other options change the host.
 */
static const char *const permitted[] = {
    "vmware -v", "vmware -vl", "vmkchdev -l", "lspci", "lspci -n", "lspci -v", "lspci -p", "smbiosDump",
    "esxcfg-scsidevs -a", "esxcfg-scsidevs -A", "esxcfg-scsidevs -l", "esxcfg-scsidevs -c", "esxcfg-scsidevs -m",
    "esxcfg-mpath -b", "esxcfg-mpath -bd *", "esxcfg-nics -l", "esxcfg-vswitch -l", "esxcfg-vmknic -l", "esxcfg-module -i *",
    "esxcfg-module -q", "vmkload_mod -s *", "vmkload_mod -l", "ethtool -i *", "vsish -e get *", "vsish -e cat *", "vsish -pe get *",
    "vim-cmd hostsvc/hostsummary", "vim-cmd hostsvc/autostartmanager/get_defaults",
    "/usr/lib/vmware/secureboot/bin/secureBoot.py -s", "uptime", "date -u",
    /* nolog: else the tool writes a log file into the folder it is started in */
    "/opt/lsi/perccli/perccli /call show nolog", "/opt/lsi/perccli64/perccli64 /call show nolog",
    "/opt/lsi/storcli/storcli /call show nolog", "/opt/lsi/storcli64/storcli64 /call show nolog",
    /* ESXi 6.5 and later; 5.1 to 6.0; before. "show" reads, "modify", "create", "delete" and others change */
    "/opt/smartstorageadmin/ssacli/bin/ssacli ctrl all show config detail", "/opt/smartstorageadmin/ssacli/bin/ssacli ctrl all show detail",
    "/opt/hp/hpssacli/bin/hpssacli ctrl all show config detail", "/opt/hp/hpssacli/bin/hpssacli ctrl all show detail",
    "/opt/hp/hpacucli/bin/hpacucli ctrl all show config detail", "/opt/hp/hpacucli/bin/hpacucli ctrl all show detail",
};

static bool fits(struct slice pattern, struct slice text)
{
    struct slice pw, tw;

    for (;;) {
        bool hp = slice_next_word(&pattern, " ", &pw), ht = slice_next_word(&text, " ", &tw);

        if (!hp || !ht)
            return hp == ht;
        if (!slice_eqz(pw, "*") && !slice_eq(pw, tw))
            return false;
        if (slice_eqz(pw, "*") && tw.p[0] == '-')
            return false;
    }
}

static int only_reads(struct slice text, struct err *e)
{
    static const char *const change[] = {"set", "add", "remove", "delete", "load", "unload", "install", "update", "apply", "reset", "start",
                                         "stop", "restart", "reboot", "poweroff", "kill", "exec", "ping", "create", "copy", "mount", "unmount"};
    struct slice rest = text, word, verb = {NULL, 0};
    bool options = false;

    while (slice_next_word(&rest, " ", &word)) {
        bool option = word.p[0] == '-';

        while (word.n && word.p[0] == '-') /* "--set=1" and a value that holds a word more are setters too */
            word = slice_from(word, 1);
        word = slice_cut(word, 0, option ? slice_find_char(word, 0, '=') : word.n);
        for (size_t i = 0; i < sizeof change / sizeof *change; i++)
            if (slice_ieq(word, slice_of(change[i])))
                return err_set(e, VF_EDENIED, "\"esxcli " SLICE_FMT "\": \"" SLICE_FMT "\" changes the host; a probe may only read",
                               SLICE_ARG(text), SLICE_ARG(word));
        options |= option;
        verb = options ? verb : word;
    }
    if (!slice_eqz(verb, "list") && !slice_eqz(verb, "get"))
        return err_set(e, VF_EDENIED, "\"esxcli " SLICE_FMT "\": a probe's command ends in list or get", SLICE_ARG(text));
    return 0;
}

int ask_readonly(const struct ask *q, struct err *e)
{
    for (size_t i = 0; i < q->text.n; i++) {
        unsigned char c = (unsigned char)q->text.p[i];

        if (c < 0x20 || c == 0x7f || strchr("`$|&;<>\\\"'()[]!~?^#\n", c) || (c == '*' && q->kind != ASK_FILE))
            return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\": the character '%c' may not stand in a probe's command", SLICE_ARG(q->text),
                           c < 0x20 || c == 0x7f ? '?' : c);
    }
    switch (q->kind) {
    case ASK_ESXCLI:
        return only_reads(q->text, e);
    case ASK_SHELL:
        for (size_t i = 0; i < sizeof permitted / sizeof *permitted; i++)
            if (fits(slice_of(permitted[i]), q->text))
                return 0;
        return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\" is not one of the read-only commands that a probe may ask", SLICE_ARG(q->text));
    case ASK_FILE:
        if (q->text.n == 0 || q->text.p[0] != '/' || slice_find(q->text, 0, "..") != SIZE_MAX)
            return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\": a file is asked by an absolute path without \"..\"", SLICE_ARG(q->text));
        if (slice_find(q->text, 0, "//") != SIZE_MAX || slice_find(q->text, 0, "/./") != SIZE_MAX ||
            slice_find_char(slice_cut(q->text, slice_find_char(q->text, 0, '*'), SIZE_MAX), 0, '/') != SIZE_MAX)
            return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\": a path has no empty parts, and '*' in its last part only", SLICE_ARG(q->text));
        if (slice_glob(q->text, SLICE_LIT("/etc/shadow")) || slice_starts(q->text, "/etc/shadow") ||
            slice_starts(q->text, "/etc/ssh") || slice_starts(q->text, "/etc/vmware/ssl"))
            return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\" holds secrets and is never read", SLICE_ARG(q->text));
        return 0;
    case ASK_REDFISH:
        if (!slice_eqz(q->text, "/redfish/v1"))
            return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\": of a BMC /redfish/v1 is asked, which stands for all that is read of it", SLICE_ARG(q->text));
        return 0;
    }
    return err_set(e, VF_EDENIED, "unknown kind of ask");
}
