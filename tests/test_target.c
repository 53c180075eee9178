/* Hosts as a user writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/target.h"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void hosts_are_parsed(void **state)
{
    static const struct {
        const char *text, *user, *host;
        unsigned port;
    } good[] = {
        {"esx01", NULL, "esx01", 0},
        {"root@esx01", "root", "esx01", 0},
        {"esx01.example.com", NULL, "esx01.example.com", 0},
        {"192.0.2.7", NULL, "192.0.2.7", 0},
        {"::1", NULL, "::1", 0},
        {"root@2001:db8::1", "root", "2001:db8::1", 0},
        {"[2001:db8::1]", NULL, "2001:db8::1", 0},
        {"fe80::1%eth0", NULL, "fe80::1%eth0", 0},
        {"ssh://esx01", NULL, "esx01", 0},
        {"ssh://esx01/", NULL, "esx01", 0},
        {"ssh://root@esx01:2222", "root", "esx01", 2222},
        {"ssh://esx01:1", NULL, "esx01", 1},
        {"ssh://esx01:65535/", NULL, "esx01", 65535},
        {"ssh://root@[2001:db8::1]:22", "root", "2001:db8::1", 22},
        {"ssh://[::1]", NULL, "::1", 0},
        {"anna@example.com@esx01", "anna@example.com", "esx01", 0}, /* of a domain */
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct target_host t = {0};
        struct err e = {0};

        if (target_parse(good[i].text, arena, &t, &e) < 0)
            fail_msg("%s: %s", good[i].text, e.msg);
        assert_ptr_equal(t.text, good[i].text);
        assert_string_equal(t.host, good[i].host);
        assert_int_equal(t.port, good[i].port);
        assert_int_equal(t.user == NULL, good[i].user == NULL);
        if (t.user)
            assert_string_equal(t.user, good[i].user);
    }
}

static void what_is_no_host_is_a_usage_error(void **state)
{
    static const char *const bad[] = {
        "", "@esx01", "root@", "-oProxyCommand=x", "root@-oProxyCommand=x", "-root@esx01", "esx 01", "esx01\n", "a/b", "ssh://", "ssh:///", "ssh://a/b",
        "ssh://esx01:", "ssh://esx01:0", "ssh://esx01:65536", "ssh://esx01:22x", "ssh://esx01:-1", "ssh://[::1", "ssh://[::1]x", "ssh://[::1]:",
        "https://esx01", "ftp://esx01", "ssh://root@", "esx01;reboot", "$(x)", "`x`", "esx01:22", "root@esx01:22", "a\"b", "a'b", "a*", "a,b", "[]",
        "\x7f", "a\x1b[1m",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct target_host t = {.host = "untouched"};
        struct err e = {0};

        if (target_parse(bad[i], arena, &t, &e) != VF_EUSAGE)
            fail_msg("\"%s\" is taken for a host", bad[i]);
        assert_true(e.msg[0]);
        assert_string_equal(t.host, "untouched");
    }
}

static void a_password_is_refused_without_being_repeated(void **state)
{
    static const char *const bad[] = {"ssh://root:s3cret@esx01", "root:s3cret@esx01", "ssh://:s3cret@esx01", "ssh://root:s3cret@esx01:22/", "https://root:s3cret@esx01",
                                      "ssh://root:s3cret@", "ssh://root:s3cret@a b", "vi://root:s3cret@esx01/", "ssh://root:a@s3cret@esx01"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct target_host t;
        struct err e = {0};

        assert_int_equal(target_parse(bad[i], arena, &t, &e), VF_EUSAGE);
        if (strstr(e.msg, "s3cret"))
            fail_msg("%s: %s", bad[i], e.msg);
    }
}

static void a_port_without_ssh_is_explained(void **state)
{
    struct target_host t;
    struct err e = {0};

    (void)state;
    assert_int_equal(target_parse("root@esx01:2222", arena, &t, &e), VF_EUSAGE);
    assert_non_null(strstr(e.msg, "ssh://root@esx01:2222"));
}

static void files_are_no_hosts(void **state)
{
    static const char *const hosts[] = {"esx01", "root@esx01", "esx01.example.com", "ssh://esx01", "ssh://a/b", "https://esx01", "10.0.0.1", "::1", "esx01:22"};
    static const char *const files[] = {"", ".", "./esx01", "../x", "/tmp", "a/b", "-", "tests", "Makefile", "esx01.tgz", "ESX01.TGZ", "out.txt", "vcenter.zip",
                                        "bundle.tar", "recording.json", "vmkernel.log", "root@esx01/x"};

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!target_is_host(hosts[i]))
            fail_msg("%s is a host", hosts[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (target_is_host(files[i]))
            fail_msg("%s is no host", files[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_parsed),
        cmocka_unit_test(what_is_no_host_is_a_usage_error),
        cmocka_unit_test(a_password_is_refused_without_being_repeated),
        cmocka_unit_test(a_port_without_ssh_is_explained),
        cmocka_unit_test(files_are_no_hosts),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
