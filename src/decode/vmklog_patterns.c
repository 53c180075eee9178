#include "decode/vmklog.h"

/*
 * Sources: "log of X" is a line seen whole in a published log of that release; "KB N" and the other documents quote the
 * text but not a whole line, so those patterns ask for the quoted words and no more [text only]. Numbers of source
 * lines ("ScsiDeviceIO: 1223:") change with every build and are never looked at.
 *
 * vobd.log says most things twice, as vob.* and as esx.problem.*; one of the two is counted.
 */
const struct log_pattern log_patterns[] = {
    /* log of 8.0, NFS */
    {"nfs-latency", "performance has deteriorated", "NFS volume ", NULL,
     "NFS volume ", " performance has", LOG_VOLUME, LOG_LATENCY},
    /* log of 5.x; vobd.log of 5.5 has the same words behind [esx.problem.scsi.device.io.latency.high] */
    {"latency-deteriorated", "performance has deteriorated", NULL, "[vob.scsi.device.io.latency",
     "Device ", " ", LOG_DEVICE, LOG_LATENCY},
    /* "... has improved. I/O latency reduced from A microseconds to B microseconds." [text only] */
    {"latency-improved", "performance has improved", "NFS volume ", NULL,
     "NFS volume ", " performance has", LOG_VOLUME, LOG_NO_NUMBERS},
    {"latency-improved", "performance has improved", NULL, "[vob.scsi.device.io.latency",
     "Device ", " ", LOG_DEVICE, LOG_NO_NUMBERS},
    /* log of 6.5 and 6.x (NMP), whose line may end after "Invalid sense" */
    {"scsi-error", "Failed: H:0x", "NMP", NULL, "to dev \"", "\"", LOG_DEVICE, LOG_SCSI},
    /* log of 6.5 (ScsiDeviceIO: Cmd(0x...) 0x2a, ... to dev "...") and of 4.x (Command 0x1a to device "...") */
    {"scsi-error", "failed H:0x", "to dev \"", NULL, "to dev \"", "\"", LOG_DEVICE, LOG_SCSI},
    {"scsi-error", "failed H:0x", "to device \"", NULL, "to device \"", "\"", LOG_DEVICE, LOG_SCSI},
    /* log of 4.x: nmp_CompleteRetryForPath ... to NMP device "..." failed on physical path "..." H:0x0 D:0x2 P:0x0 */
    {"scsi-error", "failed on physical path", "H:0x", NULL, "NMP device \"", "\"", LOG_DEVICE, LOG_SCSI},
    /* log of 4.0, published with single quotes */
    {"scsi-error", "failed on physical path", "H:0x", NULL, "NMP device '", "'", LOG_DEVICE, LOG_SCSI},
    /* KB 432963, 7.0 U3: "HPP: HppScsiThrottleLogForDevice:585: Cmd 0x2a (...) to dev "..." on path ... Failed:", then this line */
    {"scsi-error", "Error status H:0x", "HppScsiThrottleLogForDevice", NULL, "to dev \"", "\"", LOG_DEVICE, LOG_SCSI_PAIR},
    /* KB 312191: both halves of a fused compare and write, opc 0x5 and opc 0x1. Status 0xa of the NVMe specification: aborted because the
     * other half is missing */
    {"nvme-fused-failed", "psaCmd 0x", "status 0xa,", NULL, "failed: ", ",", LOG_NAMED, LOG_NO_NUMBERS},
    /* KB 390259: "NVMEIO:2644 command 0x... failed: ctlr 262, queue 3, psaCmd 0x..., status 0x371, opc 0x2" [text only] */
    {"nvme-error", "psaCmd 0x", "NVMEIO", NULL, "failed: ", ",", LOG_NAMED, LOG_NO_NUMBERS},
    /* log of 6.5: lines that the NMP folded */
    {"scsi-error", "last error status from device", " times", NULL,
     "from device ", " ", LOG_DEVICE, LOG_REPEATED},
    /* log of 6.5 and 6.x */
    {"state-in-doubt", "state in doubt", "NMP device", NULL, "NMP device \"", "\"", LOG_DEVICE, LOG_NO_NUMBERS},
    /* log of 6.x */
    {"apd-start", "APD start for", "StorageApdHandler", NULL, "[", "]", LOG_DEVICE, LOG_NO_NUMBERS},
    {"apd-end", "is Out of APD", "ScsiDevice", NULL, "Device ", " ", LOG_DEVICE, LOG_NO_NUMBERS},
    /* vobd.log of 6.x */
    {"apd-start", "[esx.problem.storage.apd.start]", NULL, NULL,
     "identifier [", "]", LOG_DEVICE, LOG_NO_NUMBERS},
    {"apd-timeout", "[esx.problem.storage.apd.timeout]", NULL, NULL, "identifier [", "]", LOG_DEVICE, LOG_NO_NUMBERS},
    {"apd-end", "[esx.clear.storage.apd.exit]", NULL, NULL, "identifier [", "]", LOG_DEVICE, LOG_NO_NUMBERS},
    /* vobd.log of 8.0 "scsiPath vmhba2:C0:T19:L1 changed state from on"; earlier ones without "ver2"; KB 432676 */
    {"path-dead", "[vob.scsi.scsipath.pathstate.dead", NULL, NULL, NULL, NULL, LOG_ADAPTER, LOG_NO_NUMBERS},
    /* event texts: "Lost access to volume UUID (NAME) due to connectivity issues" [text only] */
    {"lost-access", "Lost access to volume", NULL, NULL, "(", ")", LOG_VOLUME, LOG_NO_NUMBERS},
    {"restored-access", "restored access to volume", NULL, NULL, "(", ")", LOG_VOLUME, LOG_NO_NUMBERS},
    /* vobd.log: the events above by id, esx.problem.* (event catalogues) or esx.clear.*, with the arguments of the
     * corruption event below [text only] */
    {"lost-access", "vmfs.heartbeat.timedout]", "[esx.", NULL, "timedout] ", "", LOG_UUID_NAME, LOG_NO_NUMBERS},
    {"restored-access", "vmfs.heartbeat.recovered]", "[esx.", NULL, "recovered] ", "", LOG_UUID_NAME, LOG_NO_NUMBERS},
    /* log of 6.5 */
    {"task-reset", "scsiTaskMgmtCommand", "_RESET", NULL, NULL, NULL, LOG_INSTANCE, LOG_NO_NUMBERS},
    {"task-abort", "ahciAbortIO", NULL, NULL, NULL, NULL, LOG_INSTANCE, LOG_NO_NUMBERS},
    /* KB 341549, mtip32xx_native of 5.x and 6.0 */
    {"task-abort", "scsiTaskMgmtCommand", "Task: ABORT", NULL, NULL, NULL, LOG_INSTANCE, LOG_NO_NUMBERS},
    {"io-timeout", "HeavyTimeoutCheck", "IO Timeout", NULL, NULL, NULL, LOG_INSTANCE, LOG_NO_NUMBERS},
    /* cormachogan.com 2016/03/08, vSAN 6.2; the disk by its UUID in vSAN */
    {"vsan-disk-error", "is under permanent error", "LSOMEventNotify", NULL,
     "SAN device ", " ", LOG_NAMED, LOG_NO_NUMBERS},
    {"heartbeat-timeout", "Waiting for timed out HB", "HBX", NULL, "'", "'", LOG_VOLUME, LOG_NO_NUMBERS},
    {"fs-timeout", "File system timeout", "Aborting txn", NULL, NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    /* log of 5.0 */
    {"write-quiesced", "write-quiesced partition", NULL, NULL,
     "write-quiesced partition ", " ", LOG_PARTITION, LOG_NO_NUMBERS},
    /* log of 6.x; 4.x and 5.0 lack "(Event:N)" */
    {"iscsi-offline", "iSCSI connection is being marked", "\"OFFLINE\"", NULL,
     NULL, NULL, LOG_ADAPTER, LOG_NO_NUMBERS},
    {"iscsi-online", "iSCSI connection is being marked", "\"ONLINE\"", NULL,
     NULL, NULL, LOG_ADAPTER, LOG_NO_NUMBERS},
    /* log of 5.0: "lpfc820 0000:02:00.2: 0:1305 Link Down Event x2 received", then "vmnic0 : 02:00.0 Link Down" */
    {"link-down", "Link Down", "Link Down Event", NULL, NULL, NULL, LOG_INSTANCE, LOG_NO_NUMBERS},
    {"link-down", "Link Down", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    /* log of 6.5: "<6>igb: vmnic2 NIC Link is Down", "INFO (ne1000): vmnic0: Link is Up" */
    {"link-down", "Link is Down", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    {"link-up", "Link is Up", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    /* vobd.log of 6.x or 7.0; the up form by analogy [text only] */
    {"link-down", "[vob.net.vmnic.linkstate.down]", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    {"link-up", "[vob.net.vmnic.linkstate.up]", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    /* KB 324499: "Taking down physical NIC vmnic5 because the link is flapping." */
    {"link-flapping", "[esx.problem.net.vmnic.linkstate.flapping]", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    {"uplink-down", "[vob.net.pg.uplink.transition.down]", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    {"redundancy-lost", "[esx.problem.net.redundancy.lost]", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    /* justvirtualthings.com, X710: i40en_HandleMddEvent; the head of the line was not seen [text only] */
    {"mdd", "Malicious Driver Detection event", NULL, NULL, NULL, NULL, LOG_NIC_DRIVER, LOG_NO_NUMBERS},
    /* elatov.github.io 2018-02-20, ne1000 and e1000e [text only] */
    {"rx-hang", "false RX hang detected", NULL, NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    {"tx-timeout", "NETDEV WATCHDOG", "transmit timed out", NULL, NULL, NULL, LOG_NIC, LOG_NO_NUMBERS},
    /* log of 6.5 */
    {"unmap", "scsiUnmapCommand", NULL, NULL, NULL, NULL, LOG_INSTANCE, LOG_NO_NUMBERS},
    /* vmkwarning.log of 7.0: "ALERT: Bootbank cannot be found at path '/bootbank'"; KB 318611 */
    {"bootbank-missing", "Bootbank cannot be found at path", NULL, NULL, NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    /* alert of 5.x and 6.x; KB 323075 [text only] */
    {"bootbank-missing", "configuration changes will not be saved", NULL, NULL,
     NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    /* vobd.log of 7.0: "[esx.problem.vmfs.resource.corruptondisk] UUID LOCKER-UUID"; KB 318611 */
    {"resource-corrupt", "[esx.problem.vmfs.resource.corruptondisk]", NULL, NULL,
     "corruptondisk] ", "", LOG_UUID_NAME, LOG_NO_NUMBERS},
    /* KB 432676: "fnic_fdls_link_status_change ... link up:0" of nfnic [text only] */
    {"fc-link-down", "fnic_fdls_link_status_change", "link up:0", NULL, NULL, NULL, LOG_ADAPTER, LOG_NO_NUMBERS},
    /* KB 436435 [text only] */
    {"lpfc-abort", "Outstanding FCP I/O Abort Request still pending", NULL, NULL,
     NULL, NULL, LOG_ADAPTER, LOG_NO_NUMBERS},
    /* KB 380959 [text only] */
    {"iocb-exhausted", "Ran out of IOCBs", NULL, NULL, NULL, NULL, LOG_ADAPTER, LOG_NO_NUMBERS},
    /* KB 374362, KB 426419 [text only] */
    {"firmware-dead", "FW went bad, stop waiting for queue flush", NULL, NULL,
     NULL, NULL, LOG_NIC_DRIVER, LOG_NO_NUMBERS},
    {"firmware-crashed", "FW_STATUS_REG: 0x89021", NULL, NULL, NULL, NULL, LOG_NIC_DRIVER, LOG_NO_NUMBERS},
    /* KB 373203: "MCA: 202: CE Poll ... Memory Controller Read Error", with CE Intr alike [text only] */
    {"memory-error", "CE Poll", "Memory Controller", NULL, NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    {"memory-error", "CE Intr", "Memory Controller", NULL, NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    /* KB 367598: "Heap VMKAPI-char-metadata already at its maximum size" [text only] */
    {"heap-full", "already at its maximum size", "Heap ", NULL, "Heap ", " already", LOG_NAMED, LOG_NO_NUMBERS},
    /* KB 316522: "ALERT: Heap: 2746: Unable to complete wait for non-empty heap (worldGroup.2611820): Timeout" [text only] */
    {"heap-not-empty", "Unable to complete wait for non-empty heap", "worldGroup", NULL,
     NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    /* KB 317585 [text only] */
    {"intr-invalid", "Interrupt received on invalid vector", NULL, NULL, NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
    /* KB 326437: "ATS Miscompare detected between test and set HB images" [text only] */
    {"ats-miscompare", "ATS Miscompare detected", NULL, NULL, "vol '", "'", LOG_NAMED, LOG_NO_NUMBERS},
    /* ixgbe of Linux, which the vmklinux driver is made of: "failed to load because an unsupported SFP+ module type was detected" [text only] */
    {"sfp-unsupported", "unsupported SFP", NULL, NULL, NULL, NULL, LOG_NIC_DRIVER, LOG_NO_NUMBERS},
    /* A purple screen. KB 370976, a log of 7.0: "@BlueScreen: #PF Exception 14 in world 2097460:HELPER_UPLIN IP 0x42002b65ad3b addr 0x8", then
     * "0x453949a1be20:[0x42002b65ad3b]i40en_UplinkPrivStatsGet@(i40en)#<None>+0x45f stack: 0x4307b3a7e050"; KB 426284, logEFI.log of 9.0: the
     * same without "@BlueScreen", and "Module(s) involved in panic: [lpfc 900.14.4.390.20-36vmw.901.0.24957456 (External)]" */
    {"crash", "@BlueScreen: ", NULL, NULL, "in world ", " ", LOG_WORLD, LOG_NO_NUMBERS},
    {"crash", "#PF Exception 14 in world ", NULL, NULL, "in world ", " ", LOG_WORLD, LOG_NO_NUMBERS},
    {"crash-module", "Module(s) involved in panic: [", NULL, NULL, "panic: [", " ", LOG_NAMED, LOG_NO_NUMBERS},
    {"crash-frame", " stack: 0x", NULL, NULL, NULL, NULL, LOG_FRAME, LOG_NO_NUMBERS},
    /* KB 429117, the processor that another one found hanging: frames without "stack:" */
    {"crash-frame", "#nover+0x", NULL, NULL, NULL, NULL, LOG_FRAME, LOG_NO_NUMBERS},
    {"crash-frame", "#<None>+0x", NULL, NULL, NULL, NULL, LOG_FRAME, LOG_NO_NUMBERS},
    {NULL, NULL, NULL, NULL, NULL, NULL, LOG_HOST, LOG_NO_NUMBERS},
};

static bool has(struct slice s, const char *text)
{
    return slice_find(s, 0, text) != SIZE_MAX;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool word_char(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Text between the first mark and the first stop behind it; empty text does not count. */
static bool between(struct slice s, const char *mark, const char *stop, struct slice *out)
{
    size_t at = slice_find(s, 0, mark), end;

    if (at == SIZE_MAX)
        return false;
    at += strlen(mark);
    end = *stop ? slice_find(s, at, stop) : s.n;
    if (end == SIZE_MAX)
        return false;
    *out = slice_trim(slice_cut(s, at, end - at));
    return out->n > 0;
}

/* The first word that begins with prefix and goes on with a digit or "_": vmnic6, vmnic_110100, vmhba64. */
static struct slice find_name(struct slice s, const char *prefix)
{
    size_t n = strlen(prefix);

    for (size_t at = slice_find(s, 0, prefix); at != SIZE_MAX; at = slice_find(s, at + 1, prefix)) {
        size_t end = at + n;

        if (at > 0 && word_char(s.p[at - 1]))
            continue;
        while (end < s.n && word_char(s.p[end]))
            end++;
        if (end > at + n && (is_digit(s.p[at + n]) || s.p[at + n] == '_'))
            return slice_cut(s, at, end - at);
    }
    return (struct slice){NULL, 0};
}

static struct slice find_nic(struct slice s)
{
    struct slice nic = find_name(s, "vmnic");

    return nic.n ? nic : find_name(s, "vusb");
}

static bool device_id(struct slice s)
{
    return slice_starts(s, "naa.") || slice_starts(s, "eui.") || slice_starts(s, "t10.") || slice_starts(s, "mpx.") ||
           slice_starts(s, "vml.") || slice_starts(s, "sym.");
}

static void set_identifier(struct log_event *e, struct slice id)
{
    e->subject = id;
    if (device_id(id))
        e->device = id;
    else
        e->volume = id;
}

/* Without "WARNING: ", "ALERT: ", "<6>" and the like; "INFO (ne1000): " gives the driver. */
static struct slice component(struct slice message, struct slice *driver)
{
    static const char *const levels[] = {"WARNING: ", "ALERT: ", "ERROR: "};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (slice_starts(message, levels[i]))
            message = slice_from(message, strlen(levels[i]));
    if (message.n > 3 && message.p[0] == '<' && is_digit(message.p[1]) && message.p[2] == '>')
        message = slice_from(message, 3);
    if (slice_starts(message, "INFO (") && between(slice_cut(message, 0, 64), "(", "): ", driver))
        message = slice_from(message, 6 + driver->n + 3);
    return message;
}

static void set_instance(struct log_event *e, struct slice message)
{
    struct slice driver = {NULL, 0}, s = component(message, &driver);
    size_t n = 0, end;

    while (n < s.n && word_char(s.p[n]))
        n++;
    if (driver.n == 0)
        driver = slice_cut(s, 0, n);
    if (driver.n == 0 || n == 0)
        return;
    e->driver = driver;
    end = n;
    if (n < s.n && s.p[n] == '[') {
        end = slice_find_char(slice_cut(s, 0, n + 24), n, ']');
        end = end == SIZE_MAX ? n : end + 1;
    } else if (n + 5 < s.n && s.p[n] == ' ' && is_digit(s.p[n + 1]) && s.p[n + 5] == ':') { /* an address */
        end = slice_find(slice_cut(s, 0, n + 24), n, ": ");
        end = end == SIZE_MAX ? n : end;
    }
    e->subject = slice_cut(s, 0, end);
}

/* "0x4539:[0x4200]lpfc_pathclaim_event@(lpfc)#<None>+0x45f": the function, and the module unless that is the kernel itself. */
static bool set_frame(struct log_event *e, struct slice m)
{
    struct slice module;

    if (!slice_starts(m, "0x") || !between(slice_cut(m, 0, 256), "]", "@", &e->subject) ||
        !between(slice_cut(m, 0, 256), "@", "#", &module))
        return false;
    if (module.n > 2 && module.p[0] == '(' && module.p[module.n - 1] == ')')
        module = slice_cut(module, 1, module.n - 2);
    if (word_char(module.p[0]) && !slice_eqz(module, "vmkernel"))
        e->driver = module;
    return true;
}

static bool find_subject(const struct log_pattern *p, struct slice m, struct log_event *e)
{
    struct slice text = {NULL, 0};

    if (p->mark && !between(m, p->mark, p->stop, &text) && p->subject != LOG_NAMED && p->subject != LOG_WORLD) {
        /* "partition naa.x:1" stands at the end of its line */
        if (p->subject != LOG_PARTITION || !between(m, p->mark, "", &text))
            return false;
    }
    switch (p->subject) {
    case LOG_PARTITION:
        while (text.n && is_digit(text.p[text.n - 1]))
            text.n--;
        if (text.n && text.p[text.n - 1] == ':')
            text.n--;
        __attribute__((fallthrough));
    case LOG_DEVICE:
        set_identifier(e, text);
        break;
    case LOG_UUID_NAME:
        text = slice_trim(slice_from(text, slice_find_char(text, 0, ' ')));
        __attribute__((fallthrough));
    case LOG_VOLUME:
        e->subject = e->volume = text;
        break;
    case LOG_WORLD:
        text = slice_from(text, slice_find_char(text, 0, ':'));
        if (text.n)
            text = slice_from(text, 1);
        __attribute__((fallthrough));
    case LOG_NAMED:
        e->subject = text;
        break;
    case LOG_FRAME:
        if (!set_frame(e, m))
            return false;
        break;
    case LOG_ADAPTER:
        set_instance(e, m);
        e->adapter = find_name(m, "vmhba");
        if (e->adapter.n)
            e->subject = e->adapter;
        break;
    case LOG_NIC:
        (void)component(m, &e->driver);
        e->subject = e->nic = find_nic(m);
        if (!e->subject.n)
            return false;
        break;
    case LOG_NIC_DRIVER:
        set_instance(e, m);
        e->nic = find_nic(m);
        if (e->nic.n)
            e->subject = e->nic;
        break;
    case LOG_INSTANCE:
        set_instance(e, m);
        break;
    case LOG_HOST:
        break;
    }
    if (!e->subject.n)
        e->subject = SLICE_LIT("host");
    return true;
}

/* A number and its unit behind it: a number at the end of a line may be cut. */
static bool number_after(struct slice s, size_t *at, const char *mark, uint64_t *out)
{
    size_t start = slice_find(s, *at, mark), end;

    if (start == SIZE_MAX)
        return false;
    start += strlen(mark);
    for (end = start; end < s.n && is_digit(s.p[end]); end++)
        ;
    *at = end;
    return (slice_starts(slice_from(s, end), " microseconds") || slice_starts(slice_from(s, end), "(us)")) &&
           num_parse_u64(slice_cut(s, start, end - start), out) == 0;
}

static void read_latency(struct slice m, struct log_event *e)
{
    size_t at = 0;

    e->latency = number_after(m, &at, "average value of ", &e->baseline) && number_after(m, &at, " to ", &e->worst);
}

/* The hexadecimal number that stands after mark and is followed by a blank. */
static struct slice hex_after(struct slice s, const char *mark)
{
    size_t at = slice_find(s, 0, mark), n = 2;
    struct slice none = {NULL, 0};
    uint64_t v;

    if (at == SIZE_MAX)
        return none;
    s = slice_from(s, at + strlen(mark));
    if (!slice_starts(s, "0x"))
        return none;
    while (n < s.n && word_char(s.p[n]))
        n++;
    if (n == s.n || (s.p[n] != ' ' && s.p[n] != ','))
        return none;
    s = slice_cut(s, 0, n);
    return num_parse_hex(slice_from(s, 2), 8, &v) == 0 ? s : none;
}

/* "Valid sense data: 0x5 0x24 0x0." "Invalid" and "Possible" sense data is left over from another command. */
static struct slice valid_sense(struct slice m)
{
    static const char mark[] = " Valid sense data: ";
    size_t at = slice_find(m, 0, mark), start = at + sizeof mark - 1;
    struct slice rest, word, none = {NULL, 0};

    if (at == SIZE_MAX)
        return none;
    rest = slice_from(m, start);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t v;

        if (!slice_next_word(&rest, i < 2 ? " " : " .", &word) || !slice_starts(word, "0x") ||
            num_parse_hex(slice_from(word, 2), 2, &v) < 0)
            return none;
    }
    return slice_cut(m, start, (size_t)(word.p + word.n - m.p) - start);
}

static void read_scsi(struct slice m, struct log_event *e)
{
    struct slice path;
    size_t at;

    e->host_status = hex_after(m, " H:");
    e->device_status = hex_after(m, " D:");
    e->sense = valid_sense(m);
    e->command = hex_after(m, "Cmd ");
    if (!e->command.n)
        e->command = hex_after(m, "ommand ");
    at = slice_find(m, 0, "Cmd(0x");
    if (!e->command.n && at != SIZE_MAX)
        e->command = hex_after(slice_from(m, at), ") ");
    if (e->command.n > 4) /* one byte */
        e->command.n = 0;
    if ((between(m, "path \"", "\"", &path) || between(m, "path '", "'", &path) || between(m, "on path ", " ", &path)) &&
        slice_starts(path, "vmhba"))
        e->adapter = slice_cut(path, 0, slice_find_char(path, 0, ':'));
}

static void read_repeated(struct slice m, struct log_event *e)
{
    struct slice n;

    if (!between(m, " repeated ", " time", &n) || num_parse_u64(n, &e->count) < 0 || e->count > UINT32_MAX)
        e->count = 0;
}

bool log_match(const struct log_pattern *p, struct slice m, struct log_event *e)
{
    *e = (struct log_event){.pattern = p, .count = 1};
    if ((p->need && !has(m, p->need)) || (p->unless && has(m, p->unless)) || !find_subject(p, m, e))
        return false;
    switch (p->numbers) {
    case LOG_NO_NUMBERS:
        return true;
    case LOG_LATENCY:
        read_latency(m, e);
        return true;
    case LOG_SCSI:
    case LOG_SCSI_PAIR:
        read_scsi(m, e);
        return e->host_status.n > 0;
    case LOG_REPEATED:
        read_repeated(m, e);
        return e->count > 0;
    }
    return false;
}

/* Characters of the form: 'd' a digit, others themselves. */
static bool has_form(struct slice s, const char *form)
{
    size_t n = strlen(form);

    if (s.n < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (form[i] == 'd' ? !is_digit(s.p[i]) : s.p[i] != form[i])
            return false;
    return true;
}

/* The message after "cpuN:WORLD)" or "cpuN:WORLD opID=N)", after vobd's "[netCorrelator] ", or after "LogEFI[N]: ". At most four words stand
 * before it: severity, program, on a log server the host's name, on 4.x the time since boot. */
static bool after_words(struct slice s, struct slice *message)
{
    for (unsigned i = 0; i < 5; i++) {
        struct slice word;
        size_t end;

        s = slice_trim(s);
        if (slice_starts(s, "cpu") && s.n > 4 && is_digit(s.p[3])) {
            end = slice_find_char(slice_cut(s, 0, 64), 0, ')');
            *message = slice_from(s, end == SIZE_MAX ? s.n : end + 1);
            return end != SIZE_MAX;
        }
        if (slice_starts(s, "[")) {
            *message = s;
            end = slice_find_char(s, 0, ']');
            return end != SIZE_MAX && slice_ends(slice_cut(s, 0, end), "Correlator");
        }
        if (!slice_next_word(&s, " ", &word))
            return false;
        if (slice_starts(word, "LogEFI") && slice_ends(word, ":") && !slice_starts(slice_trim(s), "cpu")) {
            *message = slice_trim(s);
            return true;
        }
    }
    return false;
}

unsigned log_month(struct slice time)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (unsigned i = 0; i < 12 && time.n >= 3; i++)
        if (memcmp(time.p, names + 3 * i, 3) == 0)
            return i + 1;
    return 0;
}

bool log_begins(struct slice line)
{
    size_t n = 0;

    while (n < line.n && is_digit(line.p[n]))
        n++;
    return has_form(line, "dddd-dd-ddTdd:dd:dd") || has_form(line, "TSC: d") || has_form(line, "VMB: d") ||
           (n > 0 && has_form(slice_from(line, n), ":dd:dd:dd")) || (log_month(line) && has_form(slice_from(line, 6), " dd:dd:dd "));
}

bool log_head(struct slice line, struct slice *time, struct slice *message)
{
    size_t n = 19;

    if (has_form(line, "dddd-dd-ddTdd:dd:dd")) {
        if (n < line.n && line.p[n] == '.')
            for (n++; n < line.n && is_digit(line.p[n]); n++)
                ;
        if (n == line.n || line.p[n] != 'Z')
            return false;
        *time = slice_cut(line, 0, n + 1);
        line = slice_from(line, n + 1);
        if (slice_starts(line, ":"))
            line = slice_from(line, 1);
        return after_words(line, message);
    }
    if (line.n > 16 && log_month(line) && line.p[3] == ' ' && (line.p[4] == ' ' || is_digit(line.p[4])) &&
        is_digit(line.p[5]) && has_form(slice_from(line, 6), " dd:dd:dd ")) {
        *time = slice_cut(line, 0, 15);
        return after_words(slice_from(line, 16), message);
    }
    return false;
}
