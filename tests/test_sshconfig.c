#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/run.h"
#include "net/sshconfig.h"

#define LIMIT (1u << 20)

static const struct ssh_user anna = {"/users/anna", "anna", 1000};
static struct arena *keep;
static char folder[] = "/tmp/vmkfit-sshconfig-XXXXXX";

static const char *at(const char *name)
{
    return arena_printf(keep, "%s/%s", folder, name);
}

static const char *put(const char *name, const char *text, mode_t mode)
{
    const char *path = at(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
    return path;
}

static struct ssh_config parse(const char *text)
{
    const struct ssh_query q = {.host = "esx1"};
    struct ssh_config c = {0};
    struct err e = {0};
    const char *whole = arena_printf(keep, "host esx1\nuser root\nhostname esx1.lab\nport 2222\n%s", text);

    if (sshconfig_parse(slice_of(whole), &q, &anna, keep, &c, &e) < 0)
        fail_msg("%s", e.msg);
    return c;
}

static void files_are(const struct ssh_files *f, size_t n, const char *const *paths)
{
    for (size_t i = 0; i < n && i < f->n; i++)
        assert_string_equal(f->v[i], paths[i]);
    assert_int_equal(f->n, n);
}

#define FILES_ARE(f, ...) files_are(f, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

/* --- parsing --- */

/* As ssh -G of OpenSSH 9.2 prints it, what is not asked for left out. */
static void all_that_is_asked_for_is_taken_from_the_answer(void **state)
{
    struct ssh_config c = parse("addressfamily inet6\nhashknownhosts yes\nidentitiesonly yes\npubkeyauthentication true\nstricthostkeychecking ask\n"
                                "hostkeyalias esxalias\nidentityagent /run/agent.sock\npubkeyacceptedalgorithms ssh-ed25519,rsa-sha2-256\n"
                                "identityfile ~/.ssh/id_rsa\nidentityfile /keys/esx\ncertificatefile ~/cert-%i\n"
                                "globalknownhostsfile /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2\n"
                                "userknownhostsfile /users/anna/.ssh/known_hosts ~/.ssh/known_hosts2\n"
                                "addkeystoagent confirm\nconnecttimeout 15\nbindaddress 10.0.0.9\nproxyjump jump@bastion:22\n");
    unsigned port = 0;

    (void)state;
    assert_string_equal(c.hostname, "esx1.lab");
    assert_string_equal(c.user, "root");
    assert_int_equal(c.port, 2222);
    assert_int_equal(c.family, SSH_FAMILY_INET6);
    assert_true(c.hash_known_hosts && c.identities_only);
    assert_string_equal(c.host_key_alias, "esxalias");
    assert_int_equal(c.agent_kind, SSH_AGENT_PATH);
    assert_string_equal(c.agent, "/run/agent.sock");
    FILES_ARE(&c.identities, "/users/anna/.ssh/id_rsa", "/keys/esx");
    FILES_ARE(&c.certificates, "/users/anna/cert-1000");
    FILES_ARE(&c.global_known_hosts, "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2");
    FILES_ARE(&c.user_known_hosts, "/users/anna/.ssh/known_hosts", "/users/anna/.ssh/known_hosts2");
    assert_string_equal(c.bind_address, "10.0.0.9");
    assert_string_equal(c.proxy, "jump@bastion:22");
    assert_int_equal(c.nnotes, 0);
    assert_string_equal(sshconfig_hostkey_name(&c, &port), "esxalias");
    assert_int_equal(port, 22);
}

static void what_is_not_told_or_none_is_empty(void **state)
{
    struct ssh_config c = parse("connecttimeout none\nidentityfile none\nproxycommand none\nproxyjump none\nhostkeyalias none\nuserknownhostsfile none\n"
                                "unknownkeyword value\nkeywordalone\n\n");
    unsigned port = 0;

    (void)state;
    assert_int_equal(c.identities.n + c.certificates.n + c.user_known_hosts.n + c.global_known_hosts.n, 0);
    assert_string_equal(c.proxy, "");
    assert_null(c.host_key_alias);
    assert_null(c.bind_address);
    assert_null(c.agent);
    assert_int_equal(c.agent_kind, SSH_AGENT_DEFAULT);
    assert_int_equal(c.family, SSH_FAMILY_ANY);
    assert_string_equal(sshconfig_hostkey_name(&c, &port), "esx1.lab");
    assert_int_equal(port, 2222);
}

/* ssh_config(5), TOKENS. */
static void tokens_are_expanded_as_the_manual_says(void **state)
{
    static const struct {
        const char *value, *path;
    } t[] = {
        {"~/.ssh/id", "/users/anna/.ssh/id"}, {"~", "/users/anna"},           {"/keys/%h", "/keys/esx1.lab"}, {"/keys/%n", "/keys/esx1"},
        {"/keys/%r@%h:%p", "/keys/root@esx1.lab:2222"}, {"%d/%u/%i", "/users/anna/anna/1000"}, {"/keys/100%%", "/keys/100%"}, {"/keys/%k", "/keys/esx1"},
        {"/keys/a b", "/keys/a b"},           {"keys/id", "keys/id"},         {"/keys/~/$x", "/keys/~/$x"},   {"/keys/%%h", "/keys/%h"},
        {"~root/.ssh/id", NULL},              {"/keys/%C", NULL},             {"/keys/%l", NULL},             {"/keys/%L", NULL},
        {"/keys/%", NULL},                    {"/keys/%x", NULL},             {"${KEYS}/id", NULL},           {"/keys/${USER}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct ssh_config c = parse(arena_printf(keep, "identityfile %s\nidentityfile /last\n", t[i].value));

        if (c.identities.n != (t[i].path ? 2 : 1) || c.nnotes != (t[i].path ? 0 : 1) || (t[i].path && strcmp(c.identities.v[0], t[i].path) != 0))
            fail_msg("%s: %zu files, %zu notes, %s", t[i].value, c.identities.n, c.nnotes, c.identities.v[0]);
        if (!t[i].path)
            assert_non_null(strstr(c.notes[0], t[i].value));
    }
    assert_string_equal(parse("identityfile /keys/%k\nhostkeyalias alias\n").identities.v[0], "/keys/alias"); /* whatever comes first */
}

static void agents_have_four_forms(void **state)
{
    struct ssh_config c;

    (void)state;
    assert_int_equal(parse("identityagent none\n").agent_kind, SSH_AGENT_NONE);
    assert_int_equal(parse("identityagent SSH_AUTH_SOCK\n").agent_kind, SSH_AGENT_DEFAULT);
    c = parse("identityagent $MY_SOCK\n");
    assert_int_equal(c.agent_kind, SSH_AGENT_VARIABLE);
    assert_string_equal(c.agent, "MY_SOCK");
    c = parse("identityagent ~/agent-%u\n");
    assert_int_equal(c.agent_kind, SSH_AGENT_PATH);
    assert_string_equal(c.agent, "/users/anna/agent-anna");
    c = parse("identityagent /first\nidentityagent none\n");
    assert_int_equal(c.agent_kind, SSH_AGENT_NONE);
    assert_null(c.agent);
    c = parse("identityagent ${XDG_RUNTIME_DIR}/agent\n"); /* no other agent in its place */
    assert_int_equal(c.agent_kind, SSH_AGENT_NONE);
    assert_int_equal(c.nnotes, 1);
}

static void paths_with_blanks_in_a_list_stay_whole(void **state)
{
    struct ssh_config c = parse("userknownhostsfile /a b/known hosts ~/x \"/quoted one\" /last\n");

    (void)state;
    FILES_ARE(&c.user_known_hosts, "/a b/known hosts", "/users/anna/x", "/quoted one", "/last");
}

static void more_files_than_there_is_room_for_are_noted(void **state)
{
    _cleanup_(buf_done) struct buf text = BUF_INIT(LIMIT);
    struct ssh_config c;

    (void)state;
    for (int i = 0; i < 40; i++)
        buf_printf(&text, "identityfile /key%d\n", i);
    c = parse(buf_z(&text));
    assert_int_equal(c.identities.n, SSH_MAX_FILES);
    assert_true(c.nnotes > 0 && c.nnotes <= SSH_MAX_NOTES);
    c = parse("identityfile /same\nidentityfile /same\n");
    FILES_ARE(&c.identities, "/same");
}

static void an_answer_that_lacks_what_is_needed_is_refused(void **state)
{
    static const char *const bad[] = {"", "user root\nport 22\n", "hostname x\nport 22\n", "hostname x\nuser root\n", "hostname x\nuser root\nport 0\n",
                                      "hostname x\nuser root\nport 65536\n", "hostname x\nuser root\nport many\n", "hostname -x\nuser root\nport 22\n",
                                      "hostname x y\nuser root\nport 22\n"};
    const struct ssh_query q = {.host = "esx1"};
    struct ssh_config c = {.port = 77};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sshconfig_parse(slice_of(bad[i]), &q, &anna, keep, &c, &e) != VF_EFORMAT)
            fail_msg("accepted: %s", bad[i]);
    assert_int_equal(c.port, 77);
}

static void an_arena_without_room_is_an_error(void **state)
{
    const char *text = "hostname x\nuser root\nport 22\nidentityfile ~/a\nproxyjump b\nuserknownhostsfile ~/k ~l/k\n";
    const struct ssh_query q = {.host = "esx1"};
    int rc = -1;

    (void)state;
    for (size_t n = 1; rc != 0; n++) {
        struct arena *a = arena_new(LIMIT);
        struct ssh_config c = {0};
        struct err e = {0};

        assert_true(n < 50);
        arena_fail_at(a, n);
        rc = sshconfig_parse(slice_of(text), &q, &anna, a, &c, &e);
        assert_true(rc == 0 || rc == VF_ELIMIT);
        arena_free(a);
    }
}

/* --- asking --- */

static int ask(const struct ssh_query *q, struct ssh_config *c, struct err *e)
{
    const struct ssh_user me = {folder, "anna", 1000};

    return sshconfig_ask(q, &me, 20000, keep, c, e);
}

static void ssh_is_asked_and_only_files_that_exist_count(void **state)
{
    const char *config = put("config",
                             "Host esx*\n  HostName %h.lab\n  User root\n  Port 2222\n  HashKnownHosts yes\n  HostKeyAlias alias-of-it\n"
                             "  IdentityFile ~/id_%h_%r\n  IdentityFile ~/in-agent\n  IdentityFile ~/nowhere\n  CertificateFile ~/nowhere-cert\n  ProxyJump jump@bastion\n"
                             "  UserKnownHostsFile ~/known %d/%n.known\n  ConnectTimeout 7\n",
                             0600);
    struct ssh_query q = {.host = "esx1", .config_file = config};
    struct ssh_config c = {0};
    struct err e = {0};

    (void)state;
    (void)put("id_esx1.lab_root", "key", 0600);
    (void)put("in-agent.pub", "key", 0600);
    if (ask(&q, &c, &e) < 0)
        fail_msg("%s", e.msg);
    assert_string_equal(c.hostname, "esx1.lab");
    assert_string_equal(c.user, "root");
    assert_int_equal(c.port, 2222);
    FILES_ARE(&c.identities, at("id_esx1.lab_root"), at("in-agent"));
    assert_int_equal(c.certificates.n, 0);
    assert_string_equal(c.proxy, "jump@bastion");
    assert_string_equal(c.host_key_alias, "alias-of-it");
    assert_true(c.hash_known_hosts);
    assert_int_equal(c.user_known_hosts.n, 2);
    q.user = "svc";
    q.port = 22;
    assert_int_equal(ask(&q, &c, &e), 0);
    assert_string_equal(c.user, "svc");
    assert_int_equal(c.port, 22);
    assert_int_equal(c.identities.n, 1); /* %r is another one now */
    q = (struct ssh_query){.host = "10.0.0.1", .config_file = config};
    assert_int_equal(ask(&q, &c, &e), 0);
    assert_string_equal(c.hostname, "10.0.0.1");
    assert_int_equal(c.port, 22);
    assert_string_equal(c.proxy, "");
}

static void what_ssh_says_against_its_configuration_is_told(void **state)
{
    struct ssh_query q = {.host = "esx1", .config_file = put("broken", "Nonsense yes\n", 0600)};
    struct ssh_config c = {.port = 77};
    struct err e = {0};

    (void)state;
    assert_int_equal(ask(&q, &c, &e), VF_EFORMAT);
    assert_non_null(strstr(e.msg, "broken"));
    assert_non_null(strcasestr(e.msg, "nonsense"));
    assert_int_equal(c.port, 77);
}

static void hosts_that_are_options_or_no_names_are_refused(void **state)
{
    static const char *const bad[] = {"", "-oProxyCommand=x", "-F", "a b", "a\nb", "root@esx1", "ssh://esx1", "a\x01"};
    struct ssh_config c = {0};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ask(&(struct ssh_query){.host = bad[i]}, &c, &e), VF_EUSAGE);
    assert_int_equal(ask(&(struct ssh_query){.host = "esx1", .user = "-oProxyCommand=x"}, &c, &e), VF_EUSAGE);
    assert_int_equal(ask(&(struct ssh_query){.host = "esx1", .port = 65536}, &c, &e), VF_EUSAGE);
}

/* With a program in the place of ssh, or none. */
static int ask_with_path(const char *path, const struct ssh_query *q, int timeout_ms, struct ssh_config *c, struct err *e)
{
    const struct ssh_user me = {folder, "anna", 1000};
    const char *before = arena_printf(keep, "%s", getenv("PATH"));
    int rc;

    assert_int_equal(setenv("PATH", path, 1), 0);
    rc = sshconfig_ask(q, &me, timeout_ms, keep, c, e);
    assert_int_equal(setenv("PATH", before, 1), 0);
    return rc;
}

static void without_ssh_its_defaults_hold_and_a_note_says_so(void **state)
{
    struct ssh_query q = {.host = "esx1", .port = 2222};
    struct ssh_config c = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(mkdir(at(".ssh"), 0700), 0);
    (void)put(".ssh/id_ecdsa", "key", 0600);
    if (ask_with_path(at("no-such-folder"), &q, 5000, &c, &e) < 0)
        fail_msg("%s", e.msg);
    assert_string_equal(c.hostname, "esx1");
    assert_string_equal(c.user, "anna");
    assert_int_equal(c.port, 2222);
    FILES_ARE(&c.identities, at(".ssh/id_ecdsa"));
    FILES_ARE(&c.user_known_hosts, at(".ssh/known_hosts"), at(".ssh/known_hosts2"));
    assert_int_equal(c.nnotes, 1);
    assert_non_null(strstr(c.notes[0], "not installed"));
}

static void a_slow_or_endless_answer_ends(void **state)
{
    const char *path = arena_printf(keep, "%s:/usr/bin:/bin", folder);
    struct ssh_query q = {.host = "esx1"};
    struct ssh_config c = {0};
    struct err e = {0};
    int64_t begin = (int64_t)clock_ms();

    (void)state;
    (void)put("ssh", "#!/bin/sh\nsleep 60\n", 0700);
    assert_int_equal(ask_with_path(path, &q, 300, &c, &e), VF_EIO);
    assert_true((int64_t)clock_ms() - begin < 20000);
    (void)put("ssh", "#!/bin/sh\necho hostname x\nhead -c 2000000 /dev/zero\n", 0700);
    assert_int_equal(ask_with_path(path, &q, 20000, &c, &e), VF_ELIMIT);
    (void)put("ssh", "#!/bin/sh\nprintf 'bad\\033[2Jline\\n' >&2\nexit 255\n", 0700);
    assert_int_equal(ask_with_path(path, &q, 20000, &c, &e), VF_EFORMAT);
    assert_non_null(strstr(e.msg, "exit status 255: bad\\x1b[2Jline"));
    (void)put("ssh", "#!/bin/sh\nprintf 'user %s\\nport 22\\nhostname x\\n' \"$(echo \"$*\" | tr ' ' '_')\"\n", 0700);
    q = (struct ssh_query){.host = "esx1", .config_file = "f", .user = "u", .port = 9};
    assert_int_equal(ask_with_path(path, &q, 20000, &c, &e), 0);
    assert_string_equal(c.user, "-G_-T_-F_f_-p_9_-l_u_--_esx1");
}

static int make_folder(void **state)
{
    (void)state;
    keep = arena_new(64u << 20);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"config", "broken", "id_esx1.lab_root", "in-agent.pub", "ssh", ".ssh/id_ecdsa"};
    int rc;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(at(names[i]));
    (void)rmdir(at(".ssh"));
    rc = rmdir(folder);
    arena_free(keep);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_asked_for_is_taken_from_the_answer),
        cmocka_unit_test(what_is_not_told_or_none_is_empty),
        cmocka_unit_test(tokens_are_expanded_as_the_manual_says),
        cmocka_unit_test(agents_have_four_forms),
        cmocka_unit_test(paths_with_blanks_in_a_list_stay_whole),
        cmocka_unit_test(more_files_than_there_is_room_for_are_noted),
        cmocka_unit_test(an_answer_that_lacks_what_is_needed_is_refused),
        cmocka_unit_test(an_arena_without_room_is_an_error),
        cmocka_unit_test(ssh_is_asked_and_only_files_that_exist_count),
        cmocka_unit_test(what_ssh_says_against_its_configuration_is_told),
        cmocka_unit_test(hosts_that_are_options_or_no_names_are_refused),
        cmocka_unit_test(without_ssh_its_defaults_hold_and_a_note_says_so),
        cmocka_unit_test(a_slow_or_endless_answer_ends),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
