#include "collect/anonymise_parts.h"

#include "decode/vmklog.h"

#define MAX_VOCABULARY (1u << 20) /* the texts of a host: parameters of modules are most of it, some 100 KiB */

/*
 * Words that answers have for everybody and that neither a key, a heading nor a column without identity shows: values, paths, and what
 * programs write into logs. A name that is one of them is replaced in its place only.
 */
static const char everybody[] =
    "true false yes no none null unknown unset default enabled disabled enable disable up down on off online offline active inactive standby "
    "dead degraded local remote disk disks device devices path paths port ports host hosts vm vms world worlds group user users root system "
    "network storage software hardware core list get set add remove status state name type size free used mounted mount volume volumes vmfs "
    "vmfs3 vmfs5 vmfs6 vmfsl vmfsos vffs vfat nfs nfs41 vsan vvol osdata bootbank altbootbank bootbank1 bootbank2 locker scratch store "
    "vmkernel vmkwarning vmksummary vobd hostd vpxa vpxd fdm syslog dcui esx esxi esxcli localcli vmware vmware-vmx vmx vmm vmdk log logs "
    "var run etc lib usr bin sbin opt tmp dev bootstate kernelopt build modules title prefix updated error errors warning warnings info debug "
    "failed failure success ok connected disconnected connection server client address adapter adapters driver drivers module "
    "firmware version vendor model serial number revision product platform cpu memory pci usb sata sas scsi nvme ahci fc fcoe iscsi raid "
    "boot uefi bios secure management vmotion provisioning backup replication fault tolerance production test dev prod lab data iso isos "
    "template templates heartbeat lost access restored timeout latency performance deteriorated improved link uplink switch vswitch "
    "portgroup vlan mtu mac ip ipv4 ipv6 dns dhcp ntp ssh shell console cluster datacenter datastore datastores machine virtual guest snapshot "
    "swap home media web db database app mail file files print router gateway proxy firewall server1 linux windows ubuntu debian centos "
    "http https com org net local localdomain localhost nic nics vmk vmnic vmhba naa eui t10 vml mpx iqn nqn uuid nguid discovery "
    "vpxuser nobody daemon admin administrator microseconds average value increased reduced from to of in is not has have been for with and the this that by at as all any one "
    "world id process cartel display config open opened closed registered unregistered enabled plugin claimed command cmd sense data valid "
    "initialization succeeded interface loaded loading unloaded request reset abort task event events start started stop stopped end ended";

/* Names that installers and wizards give. A number may follow. */
static const char *const defaults[] = {"datastore", "datastore1 (", "bootbank", "osdata-", "locker-", "vswitch", "vm network", "management network", "vmkernel",
                                       "vmotion", "localhost", "localhost.localdomain", "dvswitch", "dswitch", "dvportgroup", "dportgroup", "vmware"};

static const char *const placeholders[] = {"none", "unknown", "n/a", "not specified", "not available", "not set", "no asset tag", "default string",
                                           "to be filled by o.e.m.", "system serial number", "chassis serial number", "base board serial number", "0123456789",
                                           "123456789", "1234567890", "not applicable", "unavailable", "invalid", "empty", "unset", "<unset>", "null"};

static const char *const top_labels[] = {"com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "local", "lan", "internal", "intern", "intra",
                                         "home", "corp", "localdomain", "arpa", "domain", "test", "invalid", "co", "ac", "dev", "app", "cloud", "lab"};

static bool among(const char *const *list, size_t n, struct slice s)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eqz(s, list[i]))
            return true;
    return false;
}

bool anonymise_is_default(struct slice lower)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        struct slice rest;

        if (!slice_starts(lower, defaults[i]))
            continue;
        rest = slice_from(lower, strlen(defaults[i]));
        while (rest.n && (is_digit(rest.p[0]) || rest.p[0] == ')' || rest.p[0] == ' '))
            rest = slice_from(rest, 1);
        if (rest.n == 0)
            return true;
    }
    /* OSDATA- and LOCKER- have a UUID behind them, which is replaced as one */
    return slice_starts(lower, "osdata-") || slice_starts(lower, "locker-") || slice_starts(lower, "vmk") || slice_starts(lower, "vmnic");
}

bool anonymise_is_placeholder(struct slice serial)
{
    _cleanup_(buf_done) struct buf lower = BUF_INIT(256);
    bool varies = false, telling = false;

    for (size_t i = 0; i < serial.n; i++) {
        buf_addc(&lower, lower_of(serial.p[i]));
        telling = telling || is_digit(serial.p[i]);
        if (serial.p[i] != ' ' && serial.p[i] != '-')
            varies = varies || serial.p[i] != serial.p[0];
    }
    return serial.n < 4 || serial.n > 64 || !varies || !telling || among(placeholders, sizeof placeholders / sizeof *placeholders, buf_slice(&lower));
}

bool anonymise_is_top_label(struct slice lower)
{
    return lower.n <= 2 || among(top_labels, sizeof top_labels / sizeof *top_labels, lower);
}

static bool widen_vocabulary(struct anonymiser *x, size_t by)
{
    size_t cap = x->vocabulary_cap ? x->vocabulary_cap : 16384;
    char *p;

    while (cap - x->nvocabulary < by)
        cap *= 2;
    if (cap == x->vocabulary_cap)
        return true;
    p = arena_alloc(x->a, cap);
    if (!p) {
        x->failed = true;
        return false;
    }
    if (x->nvocabulary)
        memcpy(p, x->vocabulary, x->nvocabulary);
    x->vocabulary = p;
    x->vocabulary_cap = cap;
    return true;
}

void anonymise_keep_words(struct anonymiser *x, struct slice text)
{
    struct slice lower = slice_trim(text);

    if (lower.n == 0 || lower.n > 4096)
        return;
    lower = anonymise_lower(x, lower);
    if (!lower.p || map_get(&x->phrases, lower) != MAP_NONE)
        return;
    if (map_put(&x->phrases, x->a, lower, 1) < 0)
        x->failed = true;
    if (lower.n + 2 <= MAX_VOCABULARY - x->nvocabulary && widen_vocabulary(x, lower.n + 2)) { /* past it only the single words count */
        x->vocabulary[x->nvocabulary] = '\n';
        memcpy(x->vocabulary + x->nvocabulary + 1, lower.p, lower.n);
        x->nvocabulary += lower.n + 2;
        x->vocabulary[x->nvocabulary - 1] = '\n';
    }
    for (size_t i = 0; i < lower.n;) {
        size_t end = i;

        while (end < lower.n && is_alnum(lower.p[end]))
            end++;
        if (end > i && map_get(&x->words, slice_cut(lower, i, end - i)) == MAP_NONE && map_put(&x->words, x->a, slice_cut(lower, i, end - i), 1) < 0)
            x->failed = true;
        i = end > i ? end : i + 1;
    }
}

void anonymise_words_init(struct anonymiser *x)
{
    struct slice rest = SLICE_LIT(everybody), word;

    while (slice_next_word(&rest, " ", &word)) /* a single word needs no copy and is found among the words */
        if (slice_find_char(word, 0, '-') != SIZE_MAX)
            anonymise_keep_words(x, word);
        else if (map_put(&x->words, x->a, word, 1) < 0)
            x->failed = true;
    for (const struct log_pattern *p = log_patterns; p->kind; p++) {
        anonymise_keep_words(x, slice_of(p->find));
        anonymise_keep_words(x, slice_of(p->need));
        anonymise_keep_words(x, slice_of(p->unless));
        anonymise_keep_words(x, slice_of(p->mark));
    }
}

/* The text before the first colon, when it could be a key. */
static struct slice key_of(struct slice line)
{
    size_t colon = slice_find_char(line, 0, ':');

    if (colon == SIZE_MAX || colon > 64)
        return (struct slice){NULL, 0};
    for (size_t i = 0; i < colon; i++)
        if (!is_letter(line.p[i]) && !memchr(" /()-.", line.p[i], 6))
            return (struct slice){NULL, 0};
    return slice_cut(line, 0, colon);
}

static bool is_dashes(struct slice line)
{
    line = slice_trim(line);
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != '-' && line.p[i] != ' ')
            return false;
    return line.n > 2;
}

static void keep_quoted(struct anonymiser *x, struct slice line, const char *mark)
{
    size_t at = slice_find(line, 0, mark), end;

    if (at == SIZE_MAX)
        return;
    at += strlen(mark);
    end = slice_find_char(line, at, '"');
    if (end != SIZE_MAX)
        anonymise_keep_words(x, slice_cut(line, at, end - at));
}

void anonymise_keep_structure(struct anonymiser *x, const struct ask *q, struct slice body)
{
    struct slice rest, line, last = {NULL, 0}, word;

    if (!q || q->kind == ASK_FILE)
        return;
    rest = q->text;
    while (slice_next_word(&rest, " ", &word) && word.p[0] != '-')
        anonymise_keep_words(x, word);
    rest = body;
    while (slice_next_line(&rest, &line, NULL)) {
        struct slice key = key_of(line);

        if (key.n)
            anonymise_keep_words(x, key);
        if (is_dashes(line))
            anonymise_keep_words(x, last);
        keep_quoted(x, line, "field name=\"");
        keep_quoted(x, line, "typeName=\"");
        last = line;
    }
}

bool anonymise_is_word(const struct anonymiser *x, struct slice lower)
{
    return map_get(&x->words, lower) != MAP_NONE;
}

bool anonymise_is_phrase(const struct anonymiser *x, struct slice lower)
{
    const char *at = x->vocabulary, *end = at + x->nvocabulary;

    if (anonymise_is_word(x, lower))
        return true;
    while (lower.n && (at = memmem(at, (size_t)(end - at), lower.p, lower.n)) != NULL) {
        if (!is_alnum(at[-1]) && !is_alnum(at[lower.n])) /* a line end stands on both sides of all of it */
            return true;
        at++;
    }
    return false;
}
