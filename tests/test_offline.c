#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "net/offline.h"

/* --- names --- */

static void a_name_answers_its_command_in_every_spelling(void **state)
{
    static const struct {
        const char *file;
        enum ask_kind kind;
        const char *ask;
        bool answers;
    } t[] = {
        {"esxcli_storage_core_adapter_list.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli storage core adapter list.xml", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli-storage-core-adapter-list.csv", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list", ASK_ESXCLI, "storage core adapter list", true},
        {"storage core adapter list.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"ESXCLI Storage Core Adapter List.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli --formatter=xml storage core adapter list.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_--debug_--formatter=csv_storage_core_adapter_list.out", ASK_ESXCLI, "storage core adapter list", true},
        {"commands/localcli_storage-core-adapter-list.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"localcli storage core adapter list.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list.txt.gz", ASK_ESXCLI, "storage core adapter list", true},
        {"ESXCLI_STORAGE_CORE_ADAPTER_LIST.TXT", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list.txt.txt", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list.xml.TXT", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list (1).txt", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list.txt (12)", ASK_ESXCLI, "storage core adapter list", true},
        {"esxcli_storage_core_adapter_list ().txt", ASK_ESXCLI, "storage core adapter list", false},
        {"esxcli_network_nic_get_-n_vmnic0.txt", ASK_ESXCLI, "network nic get -n {}", true},
        {"esxcli_network_nic_get_-n.txt", ASK_ESXCLI, "network nic get -n {}", false},
        {"esxcli_storage_core_device_list.txt", ASK_ESXCLI, "storage core adapter list", false},
        {"esxcli_storage_core_adapter_list_2.txt", ASK_ESXCLI, "storage core adapter list", false},
        {"esxcli_storage_core_adapter.txt", ASK_ESXCLI, "storage core adapter list", false},
        {"esxcli_system_module_get_-m_vmw_ahci.xml", ASK_ESXCLI, "system module get -m vmw_ahci", true},
        {"esxcli system module get --module=vmw_ahci.xml", ASK_ESXCLI, "system module get -m vmw_ahci", false},
        {"esxcli_system_settings_advanced_list_-o_VMFS3_UseATSForHBOnVMFS5.xml", ASK_ESXCLI, "system settings advanced list -o /VMFS3/UseATSForHBOnVMFS5",
         true},
        {"esxcli_storage_core_device_list_-d_naa.600508b1001c1234.txt", ASK_ESXCLI, "storage core device list -d naa.600508b1001c1234", true},
        {"esxcfg-scsidevs_-a.txt", ASK_SHELL, "esxcfg-scsidevs -a", true},
        {"esxcfg-scsidevs_-A.txt", ASK_SHELL, "esxcfg-scsidevs -a", false}, /* case counts in words of one letter */
        {"esxcfg-scsidevs_-A.txt", ASK_SHELL, "esxcfg-scsidevs -A", true},
        {"vmware_-vl.txt", ASK_SHELL, "vmware -vl", true},
        {"vmkchdev -l.out", ASK_SHELL, "vmkchdev -l", true},
        {"bootbank/boot.cfg", ASK_FILE, "/bootbank/boot.cfg", true},
        {"altbootbank/boot.cfg", ASK_FILE, "/bootbank/boot.cfg", false},
        {"esx-host-2026/bootbank/boot.cfg", ASK_FILE, "/bootbank/boot.cfg", true},
        {"etc/vmware/default.map.d/vmw_ahci.map", ASK_FILE, "/etc/vmware/default.map.d/*.map", true},
        {"vmw_ahci.map", ASK_FILE, "/etc/vmware/default.map.d/*.map", true},
        {"vmw_ahci.map", ASK_FILE, "/etc/vmware/driver.map.d/*.map", false},
        {"etc/vmware/driver.map.d/ahci.map", ASK_FILE, "/etc/vmware/default.map.d/*.map", false},
        {"etc/vmware/default.map.d/vmw_ahci.txt", ASK_FILE, "/etc/vmware/default.map.d/*.map", false},
        {"vmkernel.log", ASK_FILE, "/var/log/vmkernel.log", true},
        {"var/log/vmkernel.log", ASK_FILE, "/var/log/vmkernel.log", true},
        {"var/run/log/vmkernel.0.gz", ASK_FILE, "/var/log/vmkernel.log", true},
        {"var/log/vmkernel.7.gz", ASK_FILE, "/var/log/vmkernel.log", true},
        {"vmkernel.1.log", ASK_FILE, "/var/log/vmkernel.log", true},
        {"var/log/vmkernel.log.FRAG-00001", ASK_FILE, "/var/log/vmkernel.log", true},
        {"var/log/vmkernel.log.gz", ASK_FILE, "/var/log/vmkernel.log", true},
        {"var/log/vmkwarning.log", ASK_FILE, "/var/log/vmkernel.log", false},
        {"vmkernel.txt", ASK_FILE, "/var/log/vmkernel.log", false},
        {"var/log/vmkernel.log.old", ASK_FILE, "/var/log/vmkernel.log", false},
        {"home/vmkernel.log", ASK_FILE, "/var/log/vmkernel.log", false},
        {"", ASK_ESXCLI, "storage core adapter list", false},
        {".txt", ASK_ESXCLI, "storage core adapter list", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct ask q = {.kind = t[i].kind, .text = slice_of(t[i].ask)};

        if (offline_name_answers(t[i].file, &q) != t[i].answers)
            fail_msg("\"%s\" %s \"%s\"", t[i].file, t[i].answers ? "does not answer" : "answers", t[i].ask);
    }
}

/* --- folders --- */

struct fixture {
    char dir[64];
    struct arena *arena;
    struct target *targets;
    size_t n;
    struct err e;
    /* what an ask gave */
    struct reply replies[8];
    size_t nreplies;
    int take; /* returned for each reply */
};

static int setup(void **state)
{
    struct fixture *f = xmalloc(sizeof *f);

    *f = (struct fixture){.dir = "/tmp/vmkfit-test-XXXXXX", .arena = arena_new(64u << 20)};
    *state = f;
    return mkdtemp(f->dir) ? 0 : -1;
}

static int teardown(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(200);
    struct fixture *f = *state;
    pid_t pid;

    for (size_t i = 0; i < f->n; i++)
        channel_close(&f->targets[i].channel);
    buf_printf(&b, "%s", f->dir);
    pid = fork();
    if (pid == 0) {
        (void)execl("/bin/rm", "rm", "-r", "--", buf_z(&b), (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
    arena_free(f->arena);
    free(f);
    return 0;
}

/* A file below the folder; the folders of its name are made. */
static void put(struct fixture *f, const char *name, const char *text)
{
    _cleanup_(buf_done) struct buf path = BUF_INIT(400);
    FILE *file;

    buf_printf(&path, "%s/", f->dir);
    for (const char *p = name; *p; p++) {
        if (*p == '/')
            (void)mkdir(buf_z(&path), 0700);
        buf_addc(&path, *p);
    }
    file = fopen(buf_z(&path), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void open_ok(struct fixture *f, const char *kind)
{
    if (offline_open(f->dir, f->arena, &f->targets, &f->n, &f->e) < 0)
        fail_msg("%s", f->e.msg);
    assert_int_equal(f->n, 1);
    assert_non_null(f->targets[0].channel);
    assert_string_equal(f->targets[0].kind, kind);
    assert_true(strstr(f->dir, f->targets[0].label) != NULL);
}

static int on_reply(void *ctx, const struct reply *r)
{
    struct fixture *f = ctx;

    assert_true(f->nreplies < sizeof f->replies / sizeof *f->replies);
    f->replies[f->nreplies++] = *r;
    return f->take;
}

/* The first answer; the others stay in the fixture. */
static const struct reply *ask(struct fixture *f, enum ask_kind kind, const char *text)
{
    struct ask q = {.kind = kind, .text = slice_of(text)};

    f->nreplies = 0;
    assert_int_equal(channel_ask(f->targets[0].channel, &q, on_reply, f, &f->e), 0);
    assert_true(f->nreplies > 0); /* every ask is answered */
    return &f->replies[0];
}

static void a_folder_answers_with_its_files(void **state)
{
    struct fixture *f = *state;
    const struct reply *r;
    const char *names[4];

    put(f, "esxcli_storage_core_adapter_list.txt", "adapters");
    put(f, "notes.txt", "not an answer");
    open_ok(f, "folder");
    assert_int_equal(f->targets[0].files, 2);
    r = ask(f, ASK_ESXCLI, "storage core adapter list");
    assert_int_equal(r->status, REPLY_OK);
    assert_true(slice_eqz(r->body, "adapters"));
    assert_true(slice_eqz(r->where, "esxcli_storage_core_adapter_list.txt"));
    assert_int_equal(r->exit_code, -1);
    assert_false(r->cut || r->part);
    r = ask(f, ASK_ESXCLI, "storage core device list");
    assert_int_equal(r->status, REPLY_MISSING);
    assert_int_equal(r->body.n, 0);
    assert_true(r->note && r->note[0]);
    assert_int_equal(offline_unknown(f->targets[0].channel, names, 4), 1);
    assert_string_equal(names[0], "notes.txt");
}

static void structured_forms_are_offered_first_and_one_is_taken(void **state)
{
    struct fixture *f = *state;

    put(f, "esxcli_storage_core_adapter_list.txt", "text");
    put(f, "esxcli_storage_core_adapter_list.csv", "csv");
    put(f, "esxcli_storage_core_adapter_list.xml", "xml");
    open_ok(f, "folder");
    (void)ask(f, ASK_ESXCLI, "storage core adapter list");
    assert_int_equal(f->nreplies, 3);
    assert_true(slice_eqz(f->replies[0].body, "xml"));
    assert_true(slice_eqz(f->replies[1].body, "csv"));
    assert_true(slice_eqz(f->replies[2].body, "text"));
    f->take = 1;
    (void)ask(f, ASK_ESXCLI, "storage core adapter list");
    assert_int_equal(f->nreplies, 1);
}

static int give_up(void *ctx, const struct reply *r)
{
    (void)ctx;
    (void)r;
    return VF_ELIMIT;
}

static void an_error_of_the_asker_is_returned(void **state)
{
    struct fixture *f = *state;
    struct ask q = {.kind = ASK_ESXCLI, .text = SLICE_LIT("system version get")};

    put(f, "esxcli_system_version_get.txt", "x");
    open_ok(f, "folder");
    assert_int_equal(channel_ask(f->targets[0].channel, &q, give_up, NULL, &f->e), VF_ELIMIT);
}

static void files_of_a_pattern_and_rotated_logs_all_count(void **state)
{
    struct fixture *f = *state;

    put(f, "etc/vmware/default.map.d/a.map", "a");
    put(f, "etc/vmware/default.map.d/b.map", "b");
    put(f, "var/log/vmkernel.log", "new");
    put(f, "var/run/log/vmkernel.0.gz", "old, and not really compressed");
    put(f, "var/log/vmkwarning.log", "beside");
    open_ok(f, "folder");
    (void)ask(f, ASK_FILE, "/etc/vmware/default.map.d/*.map");
    assert_int_equal(f->nreplies, 2);
    assert_true(f->replies[0].part && f->replies[1].part);
    assert_true(slice_eqz(f->replies[0].body, "a") && slice_eqz(f->replies[1].body, "b"));
    (void)ask(f, ASK_FILE, "/var/log/vmkernel.log");
    assert_int_equal(f->nreplies, 2);
}

static void fragments_are_joined_in_order_and_a_gap_cuts(void **state)
{
    struct fixture *f = *state;
    const struct reply *r;

    put(f, "var/log/vmkernel.log.FRAG-00001", "two ");
    put(f, "var/log/vmkernel.log.FRAG-00000", "one ");
    put(f, "var/log/vmkernel.log.FRAG-00002", "three");
    put(f, "var/log/vobd.log.FRAG-00000", "one ");
    put(f, "var/log/vobd.log.FRAG-00002", "three");
    put(f, "commands/localcli_software-vib-list.txt.FRAG-00001", "the second alone");
    open_ok(f, "support bundle");
    r = ask(f, ASK_FILE, "/var/log/vmkernel.log");
    assert_int_equal(f->nreplies, 1);
    assert_true(slice_eqz(r->body, "one two three"));
    assert_false(r->cut);
    assert_true(slice_eqz(r->where, "var/log/vmkernel.log"));
    r = ask(f, ASK_FILE, "/var/log/vobd.log");
    assert_int_equal(f->nreplies, 1);
    assert_true(r->cut);
    assert_true(slice_eqz(r->body, "one "));
    assert_non_null(strstr(r->note, "fragment"));
    r = ask(f, ASK_ESXCLI, "software vib list");
    assert_int_equal(f->nreplies, 1);
    assert_true(r->cut);
    assert_int_equal(r->body.n, 0);
}

/* --- recordings --- */

static void a_recording_knows_how_its_asks_went(void **state)
{
    struct fixture *f = *state;
    const struct reply *r;

    put(f, "a1.txt", "adapters");
    put(f, "a2.txt", "the whole of it was longer");
    put(f, "a3.txt", "kernel=b.b00\n");
    put(f, "a4.txt", "failed halfway");
    put(f, "esxcli_network_nic_list.txt", "nics");
    put(f, "recording.json",
        "{\"format\": 1, \"taken\": \"2026-11-30T10:00:00Z\", \"answers\": ["
        "{\"ask\": \"esxcli storage core adapter list\", \"file\": \"a1.txt\", \"status\": \"ok\", \"exit\": 0, \"bytes\": 8},"
        "{\"ask\": \"esxcli software vib list\", \"file\": \"a2.txt\", \"status\": \"ok\", \"exit\": 0, \"bytes\": 999},"
        "{\"ask\": \"/bootbank/boot.cfg\", \"file\": \"a3.txt\", \"status\": \"ok\", \"bytes\": 13},"
        "{\"ask\": \"esxcli system module list\", \"file\": \"a4.txt\", \"status\": \"lost\", \"exit\": 1, \"bytes\": 14, \"note\": \"connection\"},"
        "{\"ask\": \"esxcli system version get\", \"status\": \"timeout\", \"note\": \"after 60 s\"},"
        "{\"ask\": \"esxcli hardware pci list\", \"status\": \"denied\"},"
        "{\"ask\": \"/altbootbank/boot.cfg\", \"status\": \"failed\"},"
        "{\"ask\": \"esxcli storage nfs list\", \"status\": \"ok\", \"exit\": 0, \"bytes\": 0}]}");
    open_ok(f, "recording");

    r = ask(f, ASK_ESXCLI, "storage core adapter list");
    assert_int_equal(r->status, REPLY_OK);
    assert_int_equal(r->exit_code, 0);
    assert_false(r->cut);
    assert_true(slice_eqz(r->body, "adapters"));
    assert_true(slice_eqz(r->where, "a1.txt"));

    r = ask(f, ASK_ESXCLI, "software vib list"); /* shorter than it was recorded */
    assert_int_equal(r->status, REPLY_OK);
    assert_true(r->cut);
    assert_non_null(strstr(r->note, "size"));

    r = ask(f, ASK_FILE, "/bootbank/boot.cfg"); /* files too go by what was asked, not by their name */
    assert_int_equal(r->status, REPLY_OK);
    assert_true(slice_eqz(r->body, "kernel=b.b00\n"));

    r = ask(f, ASK_ESXCLI, "system module list"); /* what came before the connection was lost */
    assert_int_equal(r->status, REPLY_OK);
    assert_true(r->cut);
    assert_non_null(strstr(r->note, "lost"));
    assert_non_null(strstr(r->note, "connection"));

    r = ask(f, ASK_ESXCLI, "system version get");
    assert_int_equal(r->status, REPLY_FAILED);
    assert_non_null(strstr(r->note, "timeout"));
    assert_non_null(strstr(r->note, "after 60 s"));
    assert_int_equal(r->body.n, 0);

    assert_int_equal(ask(f, ASK_ESXCLI, "hardware pci list")->status, REPLY_FAILED);
    assert_int_equal(ask(f, ASK_FILE, "/altbootbank/boot.cfg")->status, REPLY_FAILED);

    r = ask(f, ASK_ESXCLI, "storage nfs list"); /* asked, ended well, printed nothing */
    assert_int_equal(r->status, REPLY_OK);
    assert_int_equal(r->body.n, 0);
    assert_int_equal(r->exit_code, 0);
    assert_false(r->cut);

    assert_int_equal(ask(f, ASK_ESXCLI, "network nic list")->status, REPLY_OK); /* a file beside the list answers by its name */
    r = ask(f, ASK_ESXCLI, "storage core path list");
    assert_int_equal(r->status, REPLY_MISSING);
    assert_non_null(strstr(r->note, "recording"));
    assert_int_equal(offline_unknown(f->targets[0].channel, NULL, 0), 0);
}

static void a_broken_recording_leaves_its_files_and_is_incomplete(void **state)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{\"format\": 2, \"answers\": []}",
        "{\"format\": 1}",
        "{\"format\": 1, \"answers\": {}}",
        "{\"format\": 1, \"answers\": [1]}",
        "{\"format\": 1, \"answers\": [],}",
        "{\"format\": 1, \"trouble\": true, \"answers\": []}",
        "{\"format\": 1, \"trouble\": \"\", \"answers\": []}",
        "{\"format\": 1, \"answers\": [{\"ask\": \"x\"}]}",
        "{\"format\": 1, \"answers\": [{\"status\": \"ok\", \"file\": \"esxcli_vm_process_list.txt\"}]}",
        "{\"format\": 1, \"answers\": [{\"ask\": \"x\", \"status\": \"ok\", \"file\": \"gone.txt\"}]}",
        "{\"format\": 1, \"answers\": [{\"ask\": \"x\", \"status\": \"ok\", \"file\": \"../a.txt\"}]}",
        "{\"format\": 1, \"answers\": [{\"ask\": \"x\", \"status\": \"ok\", \"file\": \"/etc/passwd\"}]}",
    };
    struct fixture *f = *state;

    put(f, "esxcli_vm_process_list.txt", "machines");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(f, "recording.json", bad[i]);
        open_ok(f, "recording");
        if (!f->targets[0].cut || !strstr(f->targets[0].cut, "recording.json"))
            fail_msg("%s: %s", bad[i], f->targets[0].cut ? f->targets[0].cut : "nothing said");
        assert_true(slice_eqz(ask(f, ASK_ESXCLI, "vm process list")->body, "machines"));
        channel_close(&f->targets[0].channel);
    }
    f->n = 0;
}

static void a_recorded_file_answers_what_was_asked_and_nothing_else(void **state)
{
    struct fixture *f = *state;

    put(f, "var/log/vmkernel.log", "no log");
    put(f, "esxcli_vm_process_list.txt", "no machines");
    put(f, "recording.json", "{\"format\": 1, \"answers\": ["
                             "{\"ask\": \"uptime\", \"file\": \"var/log/vmkernel.log\", \"status\": \"ok\", \"bytes\": 6},"
                             "{\"ask\": \"/etc/motd\", \"file\": \"esxcli_vm_process_list.txt\", \"status\": \"ok\", \"bytes\": 11}]}");
    open_ok(f, "recording");
    assert_int_equal(ask(f, ASK_FILE, "/var/log/vmkernel.log")->status, REPLY_MISSING);
    assert_int_equal(ask(f, ASK_ESXCLI, "vm process list")->status, REPLY_MISSING);
    assert_true(slice_eqz(ask(f, ASK_SHELL, "uptime")->body, "no log"));
    assert_true(slice_eqz(ask(f, ASK_FILE, "/etc/motd")->body, "no machines"));
    assert_true(slice_eqz(ask(f, ASK_FILE, "/etc/motd")->path, "/etc/motd"));
}

static void what_ailed_a_recorded_host_is_said_again(void **state)
{
    struct fixture *f = *state;

    put(f, "esxcli_vm_process_list.txt", "machines");
    put(f, "recording.json", "{\"format\": 1, \"trouble\": \"hostd does not run: esxcli cannot connect to it\", \"answers\": []}");
    open_ok(f, "recording");
    assert_string_equal(f->targets[0].cut, "hostd does not run: esxcli cannot connect to it");
    assert_true(slice_eqz(ask(f, ASK_ESXCLI, "vm process list")->body, "machines"));
    channel_close(&f->targets[0].channel);
    put(f, "recording.json", "{\"format\": 1, \"trouble\": null, \"answers\": []}");
    open_ok(f, "recording");
    assert_null(f->targets[0].cut);
}

static void a_file_that_a_recording_names_and_lacks_is_unreadable(void **state)
{
    struct fixture *f = *state;
    const struct reply *r;

    put(f, "a1.txt", "adapters");
    put(f, "recording.json", "\xef\xbb\xbf{\"format\": 1, \"answers\": [" /* with the mark that Windows editors put in front */
                             "{\"ask\": \"esxcli storage core adapter list\", \"file\": \"a1.txt\", \"status\": \"ok\", \"bytes\": 9},"
                             "{\"ask\": \"esxcli vm process list\", \"file\": \"gone.txt\", \"status\": \"ok\", \"bytes\": 9}]}");
    open_ok(f, "recording");
    assert_non_null(strstr(f->targets[0].cut, "gone.txt"));
    assert_true(ask(f, ASK_ESXCLI, "storage core adapter list")->cut);
    r = ask(f, ASK_ESXCLI, "vm process list");
    assert_int_equal(r->status, REPLY_UNREADABLE);
    assert_non_null(strstr(r->note, "not there"));
    assert_int_equal(r->body.n, 0);
}

/* --- several hosts --- */

#define RECORDING "{\"format\": 1, \"answers\": [{\"ask\": \"esxcli vm process list\", \"file\": \"x.txt\", \"status\": \"ok\", \"bytes\": 3}]}"

/* Opens the folder and looks for hosts: their labels behind the folder's name, parted by '|'. */
static void open_hosts(struct fixture *f, const char *labels)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(4096);
    const char *base = strrchr(f->dir, '/') + 1;

    if (offline_open(f->dir, f->arena, &f->targets, &f->n, &f->e) < 0)
        fail_msg("%s", f->e.msg);
    for (size_t i = 0; i < f->n; i++) {
        assert_true(strncmp(f->targets[i].label, base, strlen(base)) == 0);
        assert_true(strstr(f->targets[i].path, f->targets[i].label) != NULL);
        buf_printf(&b, "%s%s", i ? "|" : "", f->targets[i].label + strlen(base));
    }
    assert_string_equal(buf_z(&b), labels);
}

static struct slice answer_of(struct fixture *f, size_t host, const char *text)
{
    struct ask q = {.kind = ASK_ESXCLI, .text = slice_of(text)};

    f->nreplies = 0;
    assert_int_equal(channel_ask(f->targets[host].channel, &q, on_reply, f, &f->e), 0);
    assert_int_equal(f->nreplies, 1);
    return f->replies[0].body;
}

static void each_folder_of_answers_is_a_host(void **state)
{
    struct fixture *f = *state;

    put(f, "README.txt", "two hosts");
    put(f, "esx1/esxcli_system_version_get.txt", "6.5");
    put(f, "esx1/more/esxcli_network_nic_list.txt", "nics");
    put(f, "esx2/esxcli_system_version_get.txt", "6.7");
    put(f, "rack/esx3/commands/localcli_system-version-get.txt", "7.0");
    put(f, "rack/esx3/json/localcli_vm-process-list.json", "vms");
    open_hosts(f, "/esx1|/esx2|/rack/esx3");
    assert_true(slice_eqz(answer_of(f, 0, "system version get"), "6.5"));
    assert_true(slice_eqz(answer_of(f, 0, "network nic list"), "nics"));
    assert_true(slice_eqz(answer_of(f, 1, "system version get"), "6.7"));
    assert_int_equal(answer_of(f, 1, "network nic list").n, 0);
    assert_true(slice_eqz(answer_of(f, 2, "system version get"), "7.0"));
    assert_true(slice_eqz(answer_of(f, 2, "vm process list"), "vms"));
    assert_string_equal(f->targets[2].kind, "support bundle");
}

static void a_recording_speaks_of_its_own_folder(void **state)
{
    struct fixture *f = *state;

    put(f, "a/recording.json", RECORDING);
    put(f, "a/x.txt", "one");
    put(f, "b/recording.json", RECORDING);
    put(f, "b/x.txt", "cut, since longer");
    put(f, "b/logs/esxcli_system_version_get.txt", "6.7");
    open_hosts(f, "/a|/b");
    assert_string_equal(f->targets[1].kind, "recording");
    assert_true(slice_eqz(answer_of(f, 0, "vm process list"), "one"));
    assert_false(f->replies[0].cut);
    assert_true(slice_eqz(answer_of(f, 1, "vm process list"), "cut, since longer"));
    assert_true(f->replies[0].cut);
    assert_true(slice_eqz(answer_of(f, 1, "system version get"), "6.7"));
}

/* Answers at the top, and the same once more in a folder: not one host. Other answers in a folder are. */
static void a_folder_that_answers_the_same_again_is_another_host(void **state)
{
    struct fixture *f = *state;

    put(f, "esxcli_system_version_get.txt", "6.5");
    put(f, "esx2/esxcli_system_version_get.txt", "6.7");
    put(f, "network/esxcli_network_nic_list.txt", "nics");
    open_hosts(f, "/esx2|");
    assert_true(slice_eqz(answer_of(f, 0, "system version get"), "6.7"));
    assert_int_equal(answer_of(f, 0, "network nic list").n, 0);
    assert_true(slice_eqz(answer_of(f, 1, "system version get"), "6.5"));
    assert_true(slice_eqz(answer_of(f, 1, "network nic list"), "nics"));
}

static void one_host_in_a_folder_keeps_what_lies_beside_it(void **state)
{
    struct fixture *f = *state;
    const struct reply *r;

    put(f, "case/rec/recording.json", RECORDING);
    put(f, "case/rec/x.txt", "one");
    put(f, "vmkernel.log", "log");
    open_hosts(f, "");
    assert_string_equal(f->targets[0].kind, "recording");
    r = ask(f, ASK_ESXCLI, "vm process list");
    assert_true(slice_eqz(r->body, "one") && !r->cut);
    assert_true(slice_eqz(ask(f, ASK_FILE, "/var/log/vmkernel.log")->body, "log"));
}

static void hosts_of_which_only_files_are_there_are_told_apart(void **state)
{
    struct fixture *f = *state;

    put(f, "esx1/var/log/vmkernel.log", "one");
    put(f, "esx2/var/log/vmkernel.log", "two");
    put(f, "esx2/bootbank/boot.cfg", "three");
    open_hosts(f, "/esx1|/esx2");
}

/* Perhaps of hosts of which nothing was saved: each is named, and what is no folder is not. */
static void folders_beside_hosts_that_say_nothing_are_named(void **state)
{
    struct fixture *f = *state;
    _cleanup_(buf_done) struct buf path = BUF_INIT(400);

    put(f, "esx1/esxcli_system_version_get.txt", "6.5");
    put(f, "esx2/esxcli_system_version_get.txt", "6.7");
    put(f, "esx3/error.txt", "connection refused");
    put(f, "esx3/other/error.txt", "connection refused");
    put(f, "README", "three hosts");
    buf_printf(&path, "%s/esx4", f->dir);
    (void)mkdir(buf_z(&path), 0700);
    buf_addz(&path, "/sub");
    (void)mkdir(buf_z(&path), 0700);
    open_hosts(f, "/esx1|/esx2|/esx3|/esx4");
    assert_null(f->targets[1].cut);
    assert_null(f->targets[2].channel);
    assert_non_null(strstr(f->targets[2].cut, "no file in it is named after a command"));
    assert_null(f->targets[3].channel);
    assert_non_null(strstr(f->targets[3].cut, "empty"));
}

/* Neither ends the reading; both are said. */
static void what_cannot_be_read_below_is_said(void **state)
{
    _cleanup_(buf_done) struct buf deep = BUF_INIT(400);
    struct fixture *f = *state;

    for (int i = 0; i < 20; i++)
        buf_addz(&deep, "d/");
    buf_addz(&deep, "esxcli_vm_process_list.txt");
    put(f, "esxcli_system_version_get.txt", "6.5");
    put(f, buf_z(&deep), "too deep");
    open_ok(f, "folder");
    assert_non_null(strstr(f->targets[0].cut, "nested deeper"));
    assert_true(slice_eqz(ask(f, ASK_ESXCLI, "system version get")->body, "6.5"));
    assert_int_equal(ask(f, ASK_ESXCLI, "vm process list")->status, REPLY_MISSING);
}

static void what_is_no_target_is_refused_by_name(void **state)
{
    struct fixture *f = *state;
    struct target *targets = NULL;
    struct err e = {0};
    size_t n = 0;
    char path[100];

    assert_int_equal(offline_open(f->dir, f->arena, &targets, &n, &e), VF_ENOTFOUND);
    assert_non_null(strstr(e.msg, "empty"));
    assert_non_null(strstr(e.msg, f->dir));
    (void)snprintf(path, sizeof path, "%s/none", f->dir);
    assert_int_equal(offline_open(path, f->arena, &targets, &n, &e), VF_ENOTFOUND);
    put(f, "one.txt", "HBA Name  Driver\n"); /* a file where a folder or archive is wanted */
    (void)snprintf(path, sizeof path, "%s/one.txt", f->dir);
    assert_true(offline_open(path, f->arena, &targets, &n, &e) < 0);
    assert_non_null(strstr(e.msg, "one.txt"));
    put(f, "zero.tgz", "");
    (void)snprintf(path, sizeof path, "%s/zero.tgz", f->dir);
    assert_true(offline_open(path, f->arena, &targets, &n, &e) < 0);
    assert_int_equal(offline_open("/dev/null", f->arena, &targets, &n, &e), VF_EUSAGE);
    assert_null(targets);
}

static void symbolic_links_are_not_followed_and_said_to_be_unreadable(void **state)
{
    struct target *targets = NULL;
    struct fixture *f = *state;
    struct err e = {0};
    const struct reply *r;
    size_t n = 0;
    char path[100];

    (void)snprintf(path, sizeof path, "%s/esxcli_system_version_get.txt", f->dir);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_true(offline_open(f->dir, f->arena, &targets, &n, &e) < 0); /* nothing else is there */
    assert_non_null(strstr(e.msg, "symbolic link"));
    put(f, "a.txt", "x");
    open_ok(f, "folder");
    r = ask(f, ASK_ESXCLI, "system version get");
    assert_int_equal(r->status, REPLY_UNREADABLE);
    assert_int_equal(r->body.n, 0);
    assert_non_null(strstr(r->note, "symbolic link"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_answers_its_command_in_every_spelling),
        T(a_folder_answers_with_its_files),
        T(structured_forms_are_offered_first_and_one_is_taken),
        T(an_error_of_the_asker_is_returned),
        T(files_of_a_pattern_and_rotated_logs_all_count),
        T(fragments_are_joined_in_order_and_a_gap_cuts),
        T(a_recording_knows_how_its_asks_went),
        T(a_broken_recording_leaves_its_files_and_is_incomplete),
        T(a_recorded_file_answers_what_was_asked_and_nothing_else),
        T(what_ailed_a_recorded_host_is_said_again),
        T(a_file_that_a_recording_names_and_lacks_is_unreadable),
        T(each_folder_of_answers_is_a_host),
        T(a_recording_speaks_of_its_own_folder),
        T(a_folder_that_answers_the_same_again_is_another_host),
        T(one_host_in_a_folder_keeps_what_lies_beside_it),
        T(hosts_of_which_only_files_are_there_are_told_apart),
        T(folders_beside_hosts_that_say_nothing_are_named),
        T(what_cannot_be_read_below_is_said),
        T(what_is_no_target_is_refused_by_name),
        T(symbolic_links_are_not_followed_and_said_to_be_unreadable),
    };

    return cmocka_run_group_tests_name("offline", tests, NULL, NULL);
}
