#include "core/action.h"

#include "base/sh.h"

const char *const risk_names[] = {"none", "low", "live", "path", "reboot", "boot", "data", NULL};

const struct action actions[] = {
    {"module-enable", "let a module load at the next boot",
     {{"name", "module", ARG_MODULE, false, 0, 0}},
     "esxcli system module set --enabled=true --module={name}", "esxcli system module set --enabled=false --module={name}",
     "at the next boot", "reboot"},
    {"module-disable", "keep a module from loading at the next boot, on every device it claims",
     {{"name", "module", ARG_MODULE, false, 0, 0}},
     "esxcli system module set --enabled=false --module={name}", "esxcli system module set --enabled=true --module={name}",
     "at the next boot", "reboot"},
    {"module-param", "set a module's complete parameter string; what was set before and is not repeated is lost",
     {{"name", "module", ARG_MODULE, false, 0, 0}, {"set", "name=value pairs", ARG_PARAMS, false, 0, 0}},
     "esxcli system module parameters set --module={name} --parameter-string={set}", NULL, "at the next boot", "reboot"},
    {"device-set", "set queue limits of one device",
     {{"competing-ios", "outstanding I/Os with competing worlds, 1 to 256", ARG_NUMBER, true, 1, 256},
      {"qfull-sample-size", "queue full sample size, 0 to 64", ARG_NUMBER, true, 0, 64},
      {"qfull-threshold", "queue full threshold, 1 to 16", ARG_NUMBER, true, 1, 16},
      {"device", "device; the subject when left out", ARG_DEVICE, true, 0, 0}},
     "esxcli storage core device set --device={device} [--sched-num-req-outstanding={competing-ios}]"
     " [--queue-full-sample-size={qfull-sample-size}] [--queue-full-threshold={qfull-threshold}]", NULL, "at once", "live"},
    {"roundrobin-set", "set after how many I/Os Round Robin switches paths",
     {{"iops", "I/Os, 1 to 10000", ARG_NUMBER, false, 1, 10000}, {"device", "device; the subject when left out", ARG_DEVICE, true, 0, 0}},
     "esxcli storage nmp psp roundrobin deviceconfig set --type=iops --iops={iops} --device={device}", NULL, "at once", "live"},
    {"setting-set", "set an advanced setting to an integer",
     {{"path", "option", ARG_SETTING, false, 0, 0}, {"value", "integer", ARG_NUMBER, false, 0, 0}},
     "esxcli system settings advanced set --option={path} --int-value={value}", NULL, "at once", "live"},
    {"kernel-setting-set", "set a VMkernel boot option",
     {{"name", "option", ARG_MODULE, false, 0, 0}, {"value", "value", ARG_WORD, false, 0, 0}},
     "esxcli system settings kernel set --setting={name} --value={value}", NULL, "at the next boot", "reboot"},
    {"graphics-type-set", "set the host's default graphics type",
     {{"type", "Shared or SharedPassthru", ARG_WORD, false, 0, 0}},
     "esxcli graphics host set --default-type={type}", NULL, "when the graphics service restarts", "live"},
    {"vib-install", "install one VIB from a file; it may replace an installed one of that name, also by an older version",
     {{"file", "path on the host", ARG_FILE, false, 0, 0}},
     "esxcli software vib install --viburl={file}", NULL, "at the next boot", "reboot"},
    {"vib-remove", "remove a VIB",
     {{"name", "VIB", ARG_VIB, false, 0, 0}},
     "esxcli software vib remove --vibname={name}", NULL, "at the next boot", "reboot"},
    {"vmfs-unmap", "give free blocks of a VMFS datastore back to its device; heavy I/O while it runs",
     {{"datastore", "datastore name", ARG_WORD, false, 0, 0}},
     "esxcli storage vmfs unmap --volume-label={datastore}", NULL, "at once", "live"},
    {NULL, NULL, {{NULL, NULL, ARG_NONE, false, 0, 0}}, NULL, NULL, NULL, NULL},
};

const struct action *action_find(struct slice name)
{
    for (const struct action *a = actions; a->name; a++)
        if (slice_eqz(name, a->name))
            return a;
    return NULL;
}

int risk_rank(struct slice name)
{
    for (int i = 0; risk_names[i]; i++)
        if (slice_eqz(name, risk_names[i]))
            return i;
    return -1;
}

static bool only(struct slice s, size_t max, const char *extra)
{
    if (s.n == 0 || s.n > max)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr(extra, c))))
            return false;
    }
    return true;
}

bool action_arg_fits(const struct action_arg *arg, struct slice text)
{
    uint64_t n;

    switch (arg->kind) {
    case ARG_NONE: return text.n == 0;
    case ARG_MODULE: return only(text, 64, "_-") && text.p[0] != '-';
    case ARG_VIB: return only(text, 64, "_-.") && text.p[0] != '-';
    case ARG_DEVICE: return only(text, 256, "_.:-") && text.p[0] != '-';
    case ARG_SETTING: return only(text, 128, "/_-.") && text.p[0] == '/';
    case ARG_PARAMS: return only(text, 512, "_=,.: -") && slice_find_char(text, 0, '=') != SIZE_MAX && text.p[0] != '-';
    case ARG_NUMBER: return num_parse_u64(text, &n) == 0 && n <= INT32_MAX && (!arg->most || (n >= arg->least && n <= arg->most));
    case ARG_WORD: return only(text, 128, "_.,:=-") && text.p[0] != '-';
    case ARG_FILE:
        return only(text, 512, "/_.+-") && text.p[0] == '/' && slice_find(text, 0, "..") == SIZE_MAX &&
               (slice_ends(text, ".vib") || slice_ends(text, ".zip"));
    }
    return false;
}

const char *action_arg_form(enum arg_kind kind)
{
    switch (kind) {
    case ARG_NONE: return "nothing";
    case ARG_MODULE: return "a module or option name: letters, digits, _ and -";
    case ARG_VIB: return "a VIB name: letters, digits, _, - and .";
    case ARG_DEVICE: return "a device id such as naa.600...";
    case ARG_SETTING: return "an option path such as /NFS/MaxQueueDepth";
    case ARG_PARAMS: return "name=value pairs parted by blanks, without quotes";
    case ARG_NUMBER: return "a number";
    case ARG_WORD: return "one word";
    case ARG_FILE: return "an absolute path that ends in .vib or .zip";
    }
    return "";
}

static const struct slice *value_of(const struct action *a, const struct slice *values, struct slice name)
{
    for (unsigned i = 0; i < ACTION_MAX_ARGS && a->args[i].name; i++)
        if (slice_eqz(name, a->args[i].name))
            return &values[i];
    return NULL;
}

/* Text with {name}: put values in; returns whether every name had one. */
static bool fill(const struct action *a, const struct slice *values, struct slice text, struct buf *out)
{
    bool all = true;

    for (size_t i = 0; i < text.n; i++) {
        size_t end = text.p[i] == '{' ? slice_find_char(text, i, '}') : SIZE_MAX;
        const struct slice *v;

        if (end == SIZE_MAX) {
            buf_addc(out, text.p[i]);
            continue;
        }
        v = value_of(a, values, slice_cut(text, i + 1, end - i - 1));
        all &= v && v->n;
        if (v && v->n)
            (void)sh_quote(out, *v);
        i = end;
    }
    return all;
}

void action_command(const struct action *a, const struct slice *values, struct buf *out)
{
    struct slice rest = slice_of(a->command);

    while (rest.n) { /* "[--option={name}]" is left out when the argument is not given */
        size_t open = slice_find(rest, 0, " ["), close;

        (void)fill(a, values, slice_cut(rest, 0, open), out);
        if (open == SIZE_MAX)
            break;
        close = slice_find_char(rest, open, ']');
        {
            _cleanup_(buf_done) struct buf part = BUF_INIT(2048);

            if (fill(a, values, slice_cut(rest, open + 2, close - open - 2), &part)) {
                buf_addc(out, ' ');
                buf_add(out, buf_slice(&part));
            }
        }
        rest = slice_from(rest, close + 1);
    }
}
