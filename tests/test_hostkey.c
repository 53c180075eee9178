/* known_hosts, with ssh-keygen as the second opinion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/fsx.h"
#include "base/run.h"
#include "net/hostkey.h"

enum key { RSA, RSA2, ECDSA, ECDSA2, ED25519, KEYS };

static const char *const key_types[KEYS] = {"ssh-rsa", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", "ssh-ed25519"};
static const char *const generate[KEYS] = {"rsa", "rsa", "ecdsa", "ecdsa", "ed25519"};

static struct arena *keep;
static char folder[] = "/tmp/vmkfit-hostkey-XXXXXX";
static const char *text_of[KEYS]; /* base64 */
static struct slice blob_of[KEYS];

static const char *at(const char *name)
{
    return arena_printf(keep, "%s/%s", folder, name);
}

/* Run a program in C's own way of words; what it prints, NUL-terminated. */
static const char *output(int *status, const char *const *argv)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(1 << 20), err = BUF_INIT(4096);
    struct run r = {.argv = argv, .out = {run_take_buf, &out}, .err = {run_take_buf, &err}, .timeout_ms = 60000};
    struct err e = {0};

    if (run_program(&r, status, &e) < 0)
        fail_msg("%s", e.msg);
    return arena_dup(keep, buf_slice(&out)).p;
}

#define KEYGEN(status, ...) output(status, (const char *const[]){"ssh-keygen", __VA_ARGS__, NULL})

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

static const char *get(const char *path)
{
    struct slice s;
    struct err e = {0};

    if (fsx_read(path, 1 << 20, keep, &s, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    return s.p;
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

/* "NAMES TYPE KEY\n" */
static const char *line(const char *names, enum key k)
{
    return arena_printf(keep, "%s %s %s\n", names, key_types[k], text_of[k]);
}

static const char *join(const char *a, const char *b)
{
    return arena_printf(keep, "%s%s", a, b);
}

static struct hostkey_store *store_of(const char *text)
{
    struct hostkey_store *s = hostkey_store_new(keep);
    struct err e = {0};

    assert_non_null(s);
    if (hostkey_parse(s, slice_of(text), "known", &e) < 0)
        fail_msg("%s", e.msg);
    return s;
}

static struct hostkey_answer check(const char *text, const char *host, unsigned port, enum key k)
{
    struct hostkey_answer a = {0};
    struct err e = {0};

    if (hostkey_check(store_of(text), host, port, blob_of[k], &a, &e) < 0)
        fail_msg("%s", e.msg);
    return a;
}

/* --- keys --- */

static void fingerprints_are_those_of_ssh_keygen(void **state)
{
    (void)state;
    for (int k = 0; k < KEYS; k++) {
        const char *shown = KEYGEN(&(int){0}, "-lf", at(arena_printf(keep, "key%d.pub", k)));
        char print[HOSTKEY_FINGERPRINT];

        assert_int_equal(hostkey_fingerprint(blob_of[k], print), 0);
        assert_non_null(strstr(shown, arena_printf(keep, " %s ", print)));
        assert_true(slice_eqz(hostkey_type(blob_of[k]), key_types[k]));
    }
}

static void what_is_no_key_has_no_type_and_no_verdict(void **state)
{
    static const struct slice bad[] = {{NULL, 0},
                                       SLICE_LIT("\0\0\0\7ssh-rs"),
                                       SLICE_LIT("\0\0\0\7ssh-rsa"),
                                       SLICE_LIT("\0\0\0\0x"),
                                       SLICE_LIT("\xff\xff\xff\xffssh-rsa and more"),
                                       SLICE_LIT("\0\0\0\7ssh rsa and more"),
                                       SLICE_LIT("\0\0\0\7ssh\nrsa and more")};
    struct hostkey_answer a = {.line = 77};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hostkey_type(bad[i]).n, 0);
        assert_int_equal(hostkey_check(store_of(""), "esx1", 22, bad[i], &a, &e), VF_EFORMAT);
    }
    assert_int_equal(a.line, 77);
}

/* --- looking up --- */

static void verdicts_follow_the_lines_about_the_host(void **state)
{
    const struct {
        const char *text, *host;
        unsigned port;
        enum key key;
        enum hostkey_verdict verdict;
        unsigned line;
    } t[] = {
        {"", "esx1", 22, ECDSA, HOSTKEY_UNKNOWN, 0},
        {line("esx2", ECDSA), "esx1", 22, ECDSA, HOSTKEY_UNKNOWN, 0},
        {line("esx1", ECDSA), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 1},
        {line("esx1", ECDSA), "esx1", 0, ECDSA, HOSTKEY_KNOWN, 1},
        {line("esx1", ECDSA), "ESX1", 22, ECDSA, HOSTKEY_KNOWN, 1},
        {line("Esx1", ECDSA), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 1},
        {line("esx1", ECDSA2), "esx1", 22, ECDSA, HOSTKEY_CHANGED, 1},
        {line("esx1", RSA), "esx1", 22, ECDSA, HOSTKEY_OTHER_TYPE, 1},
        {join(line("esx1", RSA), line("esx1", ECDSA2)), "esx1", 22, ECDSA, HOSTKEY_CHANGED, 2},
        /* several of one type: any is good */
        {join(line("esx1", ECDSA2), line("esx1", ECDSA)), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 2},
        {join("# comment\n\n  \t\n", line("  esx1", ECDSA)), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 4},
        /* revoked, before or behind, by this name or by all */
        {join(line("esx1", ECDSA), line("@revoked *", ECDSA)), "esx1", 22, ECDSA, HOSTKEY_REVOKED, 2},
        {join(line("@revoked esx1", ECDSA), line("esx1", ECDSA)), "esx1", 22, ECDSA, HOSTKEY_REVOKED, 1},
        {join(line("@revoked esx1", ECDSA2), line("esx1", ECDSA)), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 2},
        {line("@revoked esx2", ECDSA), "esx1", 22, ECDSA, HOSTKEY_UNKNOWN, 0},
        {line("@revoked esx1", ECDSA), "esx1", 2222, ECDSA, HOSTKEY_REVOKED, 1},
        /* a CA's key is not the host's */
        {line("@cert-authority *", ECDSA), "esx1", 22, ECDSA, HOSTKEY_UNKNOWN, 0},
        /* ports: [host]:port first, the bare name only when no line has that */
        {line("[esx1]:2222", ECDSA), "esx1", 2222, ECDSA, HOSTKEY_KNOWN, 1},
        {line("[esx1]:2222", ECDSA), "esx1", 22, ECDSA, HOSTKEY_UNKNOWN, 0},
        {line("[esx1]:2222", ECDSA), "esx1", 2223, ECDSA, HOSTKEY_UNKNOWN, 0},
        {line("esx1", ECDSA), "esx1", 2222, ECDSA, HOSTKEY_KNOWN, 1},
        {line("esx1", ECDSA2), "esx1", 2222, ECDSA, HOSTKEY_UNKNOWN, 0},
        {line("esx1", RSA), "esx1", 2222, ECDSA, HOSTKEY_UNKNOWN, 0},
        {join(line("esx1", ECDSA), line("[esx1]:2222", ECDSA2)), "esx1", 2222, ECDSA, HOSTKEY_CHANGED, 2},
        {join(line("esx1", ECDSA), line("[esx1]:2222", RSA)), "esx1", 2222, ECDSA, HOSTKEY_OTHER_TYPE, 2},
        {line("[fe80::1%eth0]:2222", ECDSA), "fe80::1%eth0", 2222, ECDSA, HOSTKEY_KNOWN, 1},
        {line("10.0.0.1", ECDSA), "10.0.0.1", 22, ECDSA, HOSTKEY_KNOWN, 1},
        /* a comment behind the key, tabs, CR LF, no line end */
        {arena_printf(keep, "esx1\t%s\t%s  root@esx1 a comment\r\n", key_types[ECDSA], text_of[ECDSA]), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 1},
        {arena_printf(keep, "esx1 %s %s", key_types[ECDSA], text_of[ECDSA]), "esx1", 22, ECDSA, HOSTKEY_KNOWN, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct hostkey_answer a = check(t[i].text, t[i].host, t[i].port, t[i].key);

        if (a.verdict != t[i].verdict || a.line != t[i].line || (a.line > 0) != (a.file != NULL))
            fail_msg("row %zu: verdict %d at line %u, expected %d at %u\n%s", i, a.verdict, a.line, t[i].verdict, t[i].line, t[i].text);
    }
}

static void patterns_match_as_ssh_keygen_says(void **state)
{
    static const char *const patterns[] = {
        "esx1", "esx1,esx2", "esx?", "esx*", "*", "*.lab", "esx*.lab,!esx9.lab", "!esx1,esx*", "esx*,!esx1", "!*", "ESX1", "Esx*.LAB", "[esx1]:2222",
        "[esx1]:*", "[*]:2222", "*:2222", "esx1,[esx1]:2222", "10.0.0.?", "10.0.*", "?", "????", "esx1,", ",esx1", "e*x*1", "e*1*b", "!esx2", "**", "esx1.lab,!*.lab",
    };
    static const char *const hosts[] = {"esx1", "esx2", "esx9.lab", "esx1.lab", "esx10", "10.0.0.1", "10.0.0.12", "[esx1]:2222", "[esx1.lab]:2222", "x"};

    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const char *text = line(patterns[i], ECDSA);

        put(at("known"), text);
        for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++) {
            bool bracketed = hosts[k][0] == '[';
            const char *host = bracketed ? arena_dup(keep, slice_cut(slice_of(hosts[k]), 1, strcspn(hosts[k], "]") - 1)).p : hosts[k];
            int status;
            bool here, there;
            struct hostkey_answer a;

            (void)KEYGEN(&status, "-F", hosts[k], "-f", at("known"));
            there = status == 0;
            /* another key than the line's: a line about the bare name alone then leaves the host unknown, as ssh-keygen has it */
            a = check(text, host, bracketed ? 2222 : 22, bracketed ? ECDSA2 : ECDSA);
            here = a.verdict == (bracketed ? HOSTKEY_CHANGED : HOSTKEY_KNOWN);
            if (here != there)
                fail_msg("\"%s\" for %s: %d, ssh-keygen says %d", patterns[i], hosts[k], here, there);
        }
    }
}

static void names_hashed_by_ssh_keygen_are_found(void **state)
{
    const char *text = arena_printf(keep, "%s%s%s", line("esx1,10.0.0.1", ECDSA), line("[esx2.lab]:2222", RSA), line("esx3", ED25519));
    const char *hashed;

    (void)state;
    put(at("known"), text);
    (void)KEYGEN(&(int){0}, "-H", "-f", at("known"));
    hashed = get(at("known"));
    assert_null(strstr(hashed, "esx"));
    assert_int_equal(check(hashed, "esx1", 22, ECDSA).verdict, HOSTKEY_KNOWN);
    assert_int_equal(check(hashed, "ESX1", 22, ECDSA).verdict, HOSTKEY_KNOWN);
    assert_int_equal(check(hashed, "10.0.0.1", 22, ECDSA2).verdict, HOSTKEY_CHANGED);
    assert_int_equal(check(hashed, "esx2.lab", 2222, RSA).verdict, HOSTKEY_KNOWN);
    assert_int_equal(check(hashed, "esx2.lab", 22, RSA).verdict, HOSTKEY_UNKNOWN);
    assert_int_equal(check(hashed, "esx3", 22, RSA).verdict, HOSTKEY_OTHER_TYPE);
    assert_int_equal(check(hashed, "esx4", 22, RSA).verdict, HOSTKEY_UNKNOWN);
}

static void types_are_those_of_keys_that_would_be_good(void **state)
{
    const char *text = arena_printf(keep, "%s%s%s%s%s%s", line("esx1", RSA), line("esx*", ECDSA), line("esx1", RSA2), line("esx1", ED25519),
                                    line("@revoked *", ED25519), line("[esx2]:2222", RSA));
    const struct hostkey_store *s = store_of(text);
    struct slice types[8];

    (void)state;
    assert_int_equal(hostkey_known_types(s, "esx1", 22, types, 8), 2);
    assert_true(slice_eqz(types[0], "ssh-rsa") && slice_eqz(types[1], "ecdsa-sha2-nistp256"));
    assert_int_equal(hostkey_known_types(s, "esx1", 22, types, 1), 1);
    assert_int_equal(hostkey_known_types(s, "esx1", 2222, types, 8), 2); /* the bare name's */
    assert_int_equal(hostkey_known_types(s, "esx2", 2222, types, 8), 1);
    assert_true(slice_eqz(types[0], "ssh-rsa"));
    assert_int_equal(hostkey_known_types(s, "other", 22, types, 8), 0);
    assert_int_equal(hostkey_known_types(s, "a b", 22, types, 8), 0);
}

static void a_line_of_a_ca_is_told_of(void **state)
{
    struct hostkey_answer a = check(join(line("esx1", RSA), line("@cert-authority *.lab,esx1", ECDSA)), "esx1", 22, RSA);

    (void)state;
    assert_int_equal(a.verdict, HOSTKEY_KNOWN);
    assert_int_equal(a.ca_line, 2);
    assert_string_equal(a.ca_file, "known");
    assert_null(check(line("@cert-authority *.lab", ECDSA), "esx1", 22, RSA).ca_file);
}

static void bad_lines_are_skipped_and_counted(void **state)
{
    static const char *const bad[] = {"esx1", "esx1 ssh-rsa", "esx1 ssh-rsa #", "esx1 ssh-rsa AAAA", "esx1 1024 35 1234567890", "@unknown esx1 ssh-rsa AAAA",
                                      "@revoked", "@revoked @cert-authority esx1 ssh-rsa AAAA", "|1|abc|def ssh-rsa AAAA", "|2|x|y ssh-rsa AAAA"};
    _cleanup_(buf_done) struct buf text = BUF_INIT(1 << 20);
    struct hostkey_answer a = {0};
    const struct hostkey_bad *list;
    struct hostkey_store *s;
    struct err e = {0};
    size_t n = sizeof bad / sizeof *bad;

    (void)state;
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s\n", bad[i]);
    buf_printf(&text, "esx1 ssh-ed25519 %s\n", text_of[RSA]); /* not its type */
    buf_printf(&text, "esx1 ssh-rsa %.40s\n", text_of[RSA] + 4);
    buf_add(&text, SLICE_LIT("esx1\0 ssh-rsa x\n"));
    n += 3;
    buf_addz(&text, line("esx1", ECDSA));
    s = hostkey_store_new(keep);
    assert_int_equal(hostkey_parse(s, buf_slice(&text), "many", &e), 0);
    assert_int_equal(hostkey_bad(s, &list), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(list[i].line, i + 1);
        assert_string_equal(list[i].file, "many");
        assert_true(list[i].why[0] != '\0');
    }
    assert_int_equal(hostkey_check(s, "esx1", 22, blob_of[ECDSA], &a, &e), 0);
    assert_int_equal(a.verdict, HOSTKEY_KNOWN);
    assert_int_equal(a.line, n + 1);
}

static void several_files_are_one_list_and_missing_ones_are_empty(void **state)
{
    struct hostkey_store *s = hostkey_store_new(keep);
    struct hostkey_answer a = {0};
    struct err e = {0};

    (void)state;
    put(at("first"), line("esx1", RSA));
    put(at("second"), join("# global\n", line("esx1", ECDSA)));
    assert_int_equal(hostkey_read(s, at("first"), &e), 0);
    assert_int_equal(hostkey_read(s, at("nowhere"), &e), 0);
    assert_int_equal(hostkey_read(s, "/dev/null", &e), 0);
    assert_int_equal(hostkey_read(s, at("second"), &e), 0);
    assert_int_equal(hostkey_check(s, "esx1", 22, blob_of[ECDSA], &a, &e), 0);
    assert_int_equal(a.verdict, HOSTKEY_KNOWN);
    assert_string_equal(a.file, at("second"));
    assert_int_equal(a.line, 2);
    assert_true(hostkey_read(s, folder, &e) < 0);
}

static void a_file_over_the_limit_is_refused_whole(void **state)
{
    int fd = open(at("huge"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct hostkey_store *s = hostkey_store_new(keep);
    struct hostkey_answer a = {0};
    struct err e = {0};

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, line("esx1", RSA), strlen(line("esx1", RSA))), (ssize_t)strlen(line("esx1", RSA)));
    assert_int_equal(ftruncate(fd, HOSTKEY_MAX_FILE + 1), 0);
    (void)close(fd);
    assert_int_equal(hostkey_read(s, at("huge"), &e), VF_ELIMIT);
    assert_int_equal(hostkey_check(s, "esx1", 22, blob_of[RSA], &a, &e), 0);
    assert_int_equal(a.verdict, HOSTKEY_UNKNOWN);
}

static void an_arena_without_room_is_an_error_and_never_a_verdict(void **state)
{
    const char *text = join(line("esx1", RSA), line("esx1", ECDSA));
    int rc = -1;

    (void)state;
    for (size_t n = 1; rc != 0; n++) {
        struct arena *a = arena_new(1 << 20);
        struct hostkey_store *s = hostkey_store_new(a);
        struct hostkey_answer out = {0};
        struct err e = {0};

        assert_true(n < 50);
        arena_fail_at(a, n);
        rc = hostkey_parse(s, slice_of(text), "known", &e);
        if (rc != 0) {
            assert_int_equal(rc, VF_ELIMIT);
            assert_int_equal(hostkey_check(s, "esx1", 22, blob_of[RSA], &out, &e), 0);
            assert_int_equal(out.verdict, HOSTKEY_UNKNOWN);
        }
        arena_free(a);
    }
}

static void names_that_would_be_patterns_or_lines_are_refused(void **state)
{
    static const char *const bad[] = {"", "*", "esx?", "!esx1", "a,b", "a b", "a\tb", "a\nb", "[esx1]", "|1|x", "#x", "@revoked", "a\x7f"};
    char longest[HOSTKEY_MAX_HOST + 2];
    struct hostkey_answer a;
    struct err e = {0};

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hostkey_check(store_of(""), bad[i], 22, blob_of[RSA], &a, &e), VF_EUSAGE);
        assert_int_equal(hostkey_add(at("refused"), bad[i], 22, blob_of[RSA], false, &e), VF_EUSAGE);
        assert_int_equal(hostkey_replace(at("refused"), bad[i], 22, blob_of[RSA], false, &e), VF_EUSAGE);
    }
    assert_int_equal(hostkey_check(store_of(""), longest, 22, blob_of[RSA], &a, &e), VF_EUSAGE);
    assert_int_equal(hostkey_check(store_of(""), "esx1", 65536, blob_of[RSA], &a, &e), VF_EUSAGE);
    assert_int_equal(access(at("refused"), F_OK), -1);
}

/* --- writing --- */

static void added_lines_are_found_by_ssh_keygen(void **state)
{
    const char *path = at("new/.ssh/known_hosts");
    struct err e = {0};
    int status;

    (void)state;
    for (int hashed = 0; hashed < 2; hashed++) {
        (void)unlink(path);
        (void)rmdir(at("new/.ssh"));
        assert_int_equal(hostkey_add(path, "Esx1.Lab", 22, blob_of[ECDSA], hashed, &e), 0);
        assert_int_equal(hostkey_add(path, "esx1.lab", 2222, blob_of[RSA], hashed, &e), 0);
        assert_int_equal(mode_of(path), 0600);
        assert_int_equal(mode_of(at("new/.ssh")), 0700);
        assert_int_equal(strstr(get(path), "esx1") == NULL, hashed);
        assert_non_null(strstr(KEYGEN(&status, "-F", "esx1.lab", "-f", path), text_of[ECDSA]));
        assert_int_equal(status, 0);
        assert_non_null(strstr(KEYGEN(&status, "-F", "[esx1.lab]:2222", "-f", path), text_of[RSA]));
        assert_int_equal(check(get(path), "esx1.lab", 22, ECDSA).verdict, HOSTKEY_KNOWN);
        assert_int_equal(check(get(path), "esx1.lab", 2222, RSA).verdict, HOSTKEY_KNOWN);
    }
}

static void a_line_is_added_once_and_never_to_another_line(void **state)
{
    const char *path = at("known"), *before = arena_printf(keep, "# mine\nesx2,esx3 %s %s", key_types[RSA], text_of[RSA]), *after;
    struct err e = {0};

    (void)state;
    put(path, before); /* no line end */
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(hostkey_add(path, "esx1", 22, blob_of[ECDSA], false, &e), 0);
    after = get(path);
    assert_string_equal(after, arena_printf(keep, "%s\n%s", before, line("esx1", ECDSA)));
    assert_int_equal(hostkey_add(path, "ESX1", 22, blob_of[ECDSA], false, &e), 0);
    assert_int_equal(hostkey_add(path, "esx1", 22, blob_of[ECDSA], true, &e), 0);
    assert_int_equal(hostkey_add(path, "esx3", 22, blob_of[RSA], false, &e), 0);
    assert_string_equal(get(path), after);
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(hostkey_add(path, "esx4", 22, blob_of[RSA], true, &e), 0);
    after = get(path);
    assert_int_equal(hostkey_add(path, "esx4", 22, blob_of[RSA], false, &e), 0);
    assert_string_equal(get(path), after);
}

static void a_revoked_key_is_not_added(void **state)
{
    const char *text = line("@revoked *", ECDSA);
    struct err e = {0};

    (void)state;
    put(at("known"), text);
    assert_int_equal(hostkey_add(at("known"), "esx1", 22, blob_of[ECDSA], false, &e), VF_EDENIED);
    assert_non_null(strstr(e.msg, "known:1"));
    assert_int_equal(hostkey_replace(at("known"), "esx1", 22, blob_of[ECDSA], false, &e), VF_EDENIED);
    assert_string_equal(get(at("known")), text);
    assert_int_equal(hostkey_add("/dev/null", "esx1", 22, blob_of[ECDSA], false, &e), VF_EUNSUPPORTED);
}

static void replacing_keeps_all_that_is_not_the_hosts_key_of_that_type(void **state)
{
    const char *path = at("known");
    const char *head = arena_printf(keep, "# mine\r\n\nbroken line\n%s%s%s%s", line("esx1", RSA), line("[esx1]:2222", ECDSA2), line("esx10", ECDSA2),
                                    line("@cert-authority esx1", ECDSA2));
    const char *before = arena_printf(keep, "%s%s  ESX1,10.0.0.1,esx1.lab\t%s %s  comment of it\nlast line", head, line("esx1", ECDSA2), key_types[ECDSA2],
                                      text_of[ECDSA2]);
    const char *after = arena_printf(keep, "%s  10.0.0.1,esx1.lab\t%s %s  comment of it\nlast line\n%s", head, key_types[ECDSA2], text_of[ECDSA2],
                                     line("esx1", ECDSA));
    struct err e = {0};

    (void)state;
    put(path, before);
    assert_int_equal(chmod(path, 0644), 0);
    put(at("known.old"), "older");
    assert_int_equal(hostkey_replace(path, "esx1", 22, blob_of[ECDSA], false, &e), 0);
    assert_string_equal(get(path), after);
    assert_string_equal(get(at("known.old")), before);
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(check(get(path), "esx1", 22, ECDSA2).verdict, HOSTKEY_CHANGED);
    assert_int_equal(check(get(path), "10.0.0.1", 22, ECDSA2).verdict, HOSTKEY_KNOWN);
    /* once more changes nothing, not even the copy */
    assert_int_equal(hostkey_replace(path, "esx1", 22, blob_of[ECDSA], false, &e), 0);
    assert_string_equal(get(path), after);
    assert_string_equal(get(at("known.old")), before);
}

static void replacing_finds_hashed_names_and_keeps_the_new_key_where_it_stands(void **state)
{
    const char *path = at("known"), *after;
    int status;
    struct err e = {0};

    (void)state;
    put(path, arena_printf(keep, "%s%s%s", line("esx1", ECDSA2), line("esx2", ECDSA2), line("esx1", ECDSA)));
    (void)KEYGEN(&status, "-H", "-f", path);
    assert_int_equal(status, 0);
    assert_int_equal(hostkey_replace(path, "esx1", 22, blob_of[ECDSA], true, &e), 0);
    after = get(path);
    assert_int_equal(check(after, "esx1", 22, ECDSA).verdict, HOSTKEY_KNOWN);
    assert_int_equal(check(after, "esx1", 22, ECDSA2).verdict, HOSTKEY_CHANGED);
    assert_int_equal(check(after, "esx2", 22, ECDSA2).verdict, HOSTKEY_KNOWN);
    assert_int_equal(check(after, "esx1", 22, ECDSA).line, 2);
    /* a host that is not there is added */
    assert_int_equal(hostkey_replace(path, "esx5", 2222, blob_of[RSA], false, &e), 0);
    assert_string_equal(get(path), join(after, line("[esx5]:2222", RSA)));
}

static void a_pattern_with_the_old_key_stops_replacing(void **state)
{
    const char *path = at("known");
    const char *text = join(line("esx1,*.lab", ECDSA2), line("esx*,!esx9", ECDSA2));
    struct err e = {0};

    (void)state;
    put(path, text);
    assert_int_equal(hostkey_replace(path, "esx1", 22, blob_of[ECDSA], false, &e), VF_EDENIED);
    assert_non_null(strstr(e.msg, "known:2"));
    assert_string_equal(get(path), text);
    assert_int_equal(hostkey_replace(path, "esx9", 22, blob_of[ECDSA], false, &e), 0);
    assert_string_equal(get(path), join(text, line("esx9", ECDSA)));
}

static void a_linked_file_stays_a_link(void **state)
{
    const char *path = at("link"), *real = at("real");
    struct stat st;
    struct err e = {0};

    (void)state;
    put(real, line("esx1", ECDSA2));
    assert_int_equal(symlink(real, path), 0);
    assert_int_equal(hostkey_add(path, "esx2", 22, blob_of[ECDSA], false, &e), 0);
    assert_int_equal(hostkey_replace(path, "esx1", 22, blob_of[ECDSA], false, &e), 0);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(get(real), join(line("esx2", ECDSA), line("esx1", ECDSA)));
    assert_string_equal(get(at("real.old")), join(line("esx1", ECDSA2), line("esx2", ECDSA)));
}

/* --- */

static int make_keys(void **state)
{
    (void)state;
    keep = arena_new(512u << 20);
    if (!mkdtemp(folder))
        return -1;
    for (int k = 0; k < KEYS; k++) {
        _cleanup_(buf_done) struct buf blob = BUF_INIT(8192);
        const char *path = at(arena_printf(keep, "key%d", k));
        struct slice rest, word;
        int status;

        (void)KEYGEN(&status, "-q", "-t", generate[k], "-N", "", "-C", "", "-f", path);
        rest = slice_of(get(join(path, ".pub")));
        if (status != 0 || !slice_next_word(&rest, " \n", &word) || !slice_next_word(&rest, " \n", &word) || base64_decode(word, &blob) < 0)
            return -1;
        text_of[k] = arena_dup(keep, word).p;
        blob_of[k] = arena_dup(keep, buf_slice(&blob));
    }
    return 0;
}

static int remove_keys(void **state)
{
    (void)state;
    (void)output(&(int){0}, (const char *const[]){"rm", "-r", folder, NULL});
    arena_free(keep);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingerprints_are_those_of_ssh_keygen),
        cmocka_unit_test(what_is_no_key_has_no_type_and_no_verdict),
        cmocka_unit_test(verdicts_follow_the_lines_about_the_host),
        cmocka_unit_test(patterns_match_as_ssh_keygen_says),
        cmocka_unit_test(names_hashed_by_ssh_keygen_are_found),
        cmocka_unit_test(types_are_those_of_keys_that_would_be_good),
        cmocka_unit_test(a_line_of_a_ca_is_told_of),
        cmocka_unit_test(bad_lines_are_skipped_and_counted),
        cmocka_unit_test(several_files_are_one_list_and_missing_ones_are_empty),
        cmocka_unit_test(a_file_over_the_limit_is_refused_whole),
        cmocka_unit_test(an_arena_without_room_is_an_error_and_never_a_verdict),
        cmocka_unit_test(names_that_would_be_patterns_or_lines_are_refused),
        cmocka_unit_test(added_lines_are_found_by_ssh_keygen),
        cmocka_unit_test(a_line_is_added_once_and_never_to_another_line),
        cmocka_unit_test(a_revoked_key_is_not_added),
        cmocka_unit_test(replacing_keeps_all_that_is_not_the_hosts_key_of_that_type),
        cmocka_unit_test(replacing_finds_hashed_names_and_keeps_the_new_key_where_it_stands),
        cmocka_unit_test(a_pattern_with_the_old_key_stops_replacing),
        cmocka_unit_test(a_linked_file_stays_a_link),
    };

    return cmocka_run_group_tests(tests, make_keys, remove_keys);
}
