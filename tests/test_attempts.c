#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/run.h"
#include "base/fsx.h"
#include "net/attempts.h"

#define NOW 1700000000

static char folder[] = "/tmp/vmkfit-attempts-XXXXXX";
static char path[128];

static struct err last;

static struct attempt *begin(const char *user, const char *host, int64_t now)
{
    struct attempt *t = NULL;

    if (attempts_begin(path, user, host, now, 0, &t, &last) < 0)
        assert_null(t);
    return t;
}

static void end(struct attempt *t, bool succeeded)
{
    assert_non_null(t);
    if (attempts_end(&t, succeeded, &last) < 0)
        fail_msg("%s", last.msg);
    assert_null(t);
}

static void fail_once(const char *user, const char *host, int64_t now)
{
    struct attempt *t = begin(user, host, now);

    if (!t)
        fail_msg("%s", last.msg);
    end(t, false);
}

static void denied(const char *user, const char *host, int64_t now)
{
    assert_null(begin(user, host, now));
    assert_int_equal(last.code, VF_EDENIED);
}

static void says(const char *text)
{
    if (!strstr(last.msg, text))
        fail_msg("\"%s\" should say \"%s\"", last.msg, text);
}

static void put(struct slice bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
    (void)close(fd);
}

#define HEAD "vmkfit-attempts 1\n"

/* --- counting --- */

static void a_third_try_within_the_time_is_refused_and_told_when(void **state)
{
    struct attempt *t;

    (void)state;
    fail_once("root", "esx1", NOW);
    fail_once("root", "esx1", NOW + 300);
    denied("root", "esx1", NOW + 420);
    says("2 password tries of root on esx1 failed");
    says("the last one 2 min ago");
    says("possible in 8 min"); /* when the first one is 15 min old */
    says("key");
    denied("root", "ESX1", NOW + 890);
    t = begin("root", "esx1", NOW + 910);
    assert_non_null(t);
    end(t, false);
    denied("root", "esx1", NOW + 911);
}

static void a_try_that_succeeded_or_was_not_made_does_not_count(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        end(begin("root", "esx1", NOW), true);
    fail_once("root", "esx1", NOW);
    end(begin("root", "esx1", NOW), true);
    fail_once("root", "esx1", NOW);
    denied("root", "esx1", NOW);
}

static void accounts_are_counted_apart(void **state)
{
    static const char *const others[][2] = {{"root", "esx2"}, {"svc", "esx1"}, {"root@esx1", "x"}, {"root", "esx1.lab"}, {"DOMAIN\\svc", "esx1"}, {"r\xc3\xb6t", "fe80::1%eth0"},
                                            {"a b", "esx1"}, {"*", "*"}};

    (void)state;
    fail_once("root", "esx1", NOW);
    fail_once("root", "esx1", NOW);
    denied("root", "esx1", NOW);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        fail_once(others[i][0], others[i][1], NOW);
        fail_once(others[i][0], others[i][1], NOW);
        denied(others[i][0], others[i][1], NOW);
    }
    assert_null(begin("", "esx1", NOW));
    assert_int_equal(last.code, VF_EUSAGE);
    assert_null(begin("root", "", NOW));
    assert_int_equal(last.code, VF_EUSAGE);
}

static void a_clock_that_goes_back_never_makes_the_wait_shorter(void **state)
{
    (void)state;
    fail_once("root", "esx1", NOW + 86400);
    fail_once("root", "esx1", NOW + 86400);
    denied("root", "esx1", NOW);
    denied("root", "esx1", NOW + 899);
    end(begin("root", "esx1", NOW + 900), true); /* and not a day longer */
}

/* --- files --- */

static void the_ledger_is_private(void **state)
{
    char below[160];
    struct stat st;
    struct attempt *t = NULL;

    (void)state;
    (void)snprintf(below, sizeof below, "%s/state/vmkfit/attempts", folder);
    assert_int_equal(attempts_begin(below, "root", "esx1", NOW, 0, &t, &last), 0);
    assert_int_equal(stat(below, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    below[strlen(below) - strlen("/attempts")] = '\0';
    assert_int_equal(stat(below, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    attempts_free(&t);
    assert_null(t);
    attempts_free(&t);
    assert_int_equal(attempts_end(&t, false, &last), 0);
}

static void what_cannot_be_written_down_is_not_tried(void **state)
{
    char below[160];
    struct attempt *t = NULL;

    (void)state;
    put(SLICE_LIT(HEAD));
    (void)snprintf(below, sizeof below, "%s/attempts", path); /* below a file */
    assert_int_equal(attempts_begin(below, "root", "esx1", NOW, 0, &t, &last), VF_EIO);
    assert_null(t);
    assert_int_equal(attempts_begin("/proc/self/attempts", "root", "esx1", NOW, 0, &t, &last), VF_EIO);
    assert_null(t);
}

static void a_damaged_line_counts_as_a_failure_of_every_account(void **state)
{
    static const struct {
        struct slice text;
        bool denied; /* at once; else one try is free */
    } t[] = {
        {SLICE_LIT(HEAD "garbage\n"), false},
        {SLICE_LIT(HEAD "garbage\nmore\n"), true},
        {SLICE_LIT("garbage\nmore\n"), true},
        {SLICE_LIT("\0\0\0\0\0\0"), false},
        {SLICE_LIT(HEAD "\n\n\n"), true},
        {SLICE_LIT(HEAD "1700000000 1 1 0123456789abcdef failed root@es"), false}, /* the end of the file is missing */
        {SLICE_LIT(HEAD "1700000000 1 1 0123456789abcdef failed root@esx1\n1700000000 1 1 0123456789abcdef failed root@es"), true},
        {SLICE_LIT(HEAD "1700000000 1 1 0123456789abcdef failed root@esx1\n1700000000 1 1 0123456789abcdef ailed root@esx1\n"), true},
        {SLICE_LIT(HEAD "1700000000 1 1 0123456789abcdef failed root@esx1\n-5 1 1 0123456789abcdef failed root@esx1\n"), true},
        {SLICE_LIT(HEAD "1700000000 1 1 0123456789abcdef failed root@esx1\n1700000000 1 1 0123456789abcdef failed\n"), true},
        {SLICE_LIT(HEAD "1700000000 1 1 0123456789abcdef failed root@esx1 x\n1700000000 1 1 0123456789abcdef failed root@a@b\n"), true},
        {SLICE_LIT("vmkfit-attempts 1"), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct attempt *a;

        put(t[i].text);
        a = begin("root", "esx1", NOW);
        if ((a == NULL) != t[i].denied)
            fail_msg("row %zu: %s", i, a ? "not denied" : last.msg);
        if (a)
            end(a, false);
        else
            says("damaged");
        denied("root", "esx1", NOW + 1);
        denied("root", "esx1", NOW + 899); /* not a new failure each time it is read */
        a = begin("root", "esx1", NOW + 1000);
        if (!a)
            fail_msg("row %zu: %s", i, last.msg);
        end(a, true);
    }
}

static void an_empty_file_is_an_empty_ledger(void **state)
{
    (void)state;
    put(SLICE_LIT(""));
    fail_once("root", "esx1", NOW);
    fail_once("root", "esx1", NOW);
    denied("root", "esx1", NOW);
}

static void a_file_of_another_kind_is_refused(void **state)
{
    int fd;

    (void)state;
    put(SLICE_LIT("vmkfit-attempts 2\n"));
    assert_null(begin("root", "esx1", NOW));
    assert_int_equal(last.code, VF_EFORMAT);
    fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, ATTEMPTS_MAX_FILE + 1), 0);
    (void)close(fd);
    assert_null(begin("root", "esx1", NOW));
    assert_int_equal(last.code, VF_ELIMIT);
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_null(begin("root", "esx1", NOW));
    assert_int_equal(rmdir(path), 0);
}

static void a_failure_whose_line_was_taken_out_is_written_again(void **state)
{
    struct attempt *a = begin("root", "esx1", NOW), *b = begin("root", "esx1", NOW);

    (void)state;
    (void)unlink(path);
    end(a, false);
    end(b, false);
    denied("root", "esx1", NOW);
}

/* --- processes --- */

static int await(pid_t pid)
{
    int status = -1;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void a_try_cut_off_by_kill_counts_as_failed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int ready[2];
        pid_t pid;
        char byte;

        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct attempt *t = NULL;
            struct err e = {0};

            if (attempts_begin(path, "root", "esx1", NOW, 0, &t, &e) < 0 || write(ready[1], "x", 1) != 1)
                _exit(1);
            for (;;)
                (void)pause();
        }
        (void)close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        (void)close(ready[0]);
        (void)kill(pid, SIGKILL);
        (void)await(pid);
    }
    denied("root", "esx1", NOW);
    says("failed");
    assert_null(strstr(last.msg, "another process"));
    denied("root", "esx1", NOW + 900); /* it may have failed after it was written down */
    end(begin("root", "esx1", NOW + ATTEMPTS_WINDOW_S + ATTEMPTS_MARGIN_S), true);
}

static void of_many_processes_at_once_two_may_try(void **state)
{
    enum { MANY = 12 };
    pid_t pid[MANY];
    int go[2], allowed = 0;

    (void)state;
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    for (int i = 0; i < MANY; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0) {
            struct attempt *t = NULL;
            struct err e = {0};
            char byte;
            int rc;

            (void)close(go[1]);
            (void)!read(go[0], &byte, 1); /* its end starts them all */
            rc = attempts_begin(path, "root", "esx1", NOW, 0, &t, &e);
            if (rc == 0)
                rc = attempts_end(&t, false, &e);
            _exit(rc == 0 ? 0 : rc == VF_EDENIED ? 1 : 2);
        }
    }
    (void)close(go[1]);
    for (int i = 0; i < MANY; i++) {
        int status = await(pid[i]);

        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        allowed += WEXITSTATUS(status) == 0;
    }
    (void)close(go[0]);
    assert_int_equal(allowed, 2);
}

static void a_try_in_flight_is_waited_for(void **state)
{
    struct attempt *a = begin("root", "esx1", NOW), *b = begin("root", "esx1", NOW), *c = NULL;
    int64_t began = (int64_t)clock_ms();
    pid_t pid;

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(attempts_begin(path, "root", "esx1", NOW, 300, &c, &last), VF_EDENIED);
    assert_null(c);
    says("another process is still logging in");
    assert_true((int64_t)clock_ms() - began >= 300);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct attempt *t = NULL;
        struct err e = {0};

        _exit(attempts_begin(path, "root", "esx1", NOW, 30000, &t, &e) == 0 && attempts_end(&t, true, &e) == 0 ? 0 : 1);
    }
    (void)usleep(200000);
    end(a, true);
    assert_int_equal(await(pid), 0);
    end(b, false);
    fail_once("root", "esx1", NOW);
    began = (int64_t)clock_ms();
    assert_int_equal(attempts_begin(path, "root", "esx1", NOW, 30000, &c, &last), VF_EDENIED); /* decided: nothing to wait for */
    assert_true((int64_t)clock_ms() - began < 20000);
}

static void kills_at_any_moment_leave_a_ledger_that_counts(void **state)
{
    (void)state;
    for (int i = 0; i < 25; i++) {
        struct attempt *t;
        char host[32];
        pid_t pid;

        (void)snprintf(host, sizeof host, "esx%d", i);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            for (;;) {
                struct attempt *mine = NULL;
                struct err e = {0};

                if (attempts_begin(path, "root", host, NOW, 0, &mine, &e) < 0 || attempts_end(&mine, true, &e) < 0)
                    _exit(1);
            }
        (void)usleep(1000 + 700 * (unsigned)i);
        (void)kill(pid, SIGKILL);
        assert_true(WIFSIGNALED(await(pid)));
        t = begin("root", host, NOW); /* one try at most is left of it */
        if (!t)
            fail_msg("%s", last.msg);
        end(t, false);
    }
}

static void a_lock_that_is_kept_ends_in_an_error(void **state)
{
    char name[160];
    struct attempt *t = NULL;
    int fd;

    (void)state;
    (void)snprintf(name, sizeof name, "%s.lock", path);
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(attempts_begin(path, "root", "esx1", NOW, 0, &t, &last), VF_EIO);
    assert_null(t);
    says("locked");
    (void)close(fd);
    end(begin("root", "esx1", NOW), true);
}

/* --- */

static int fresh(void **state)
{
    (void)state;
    (void)unlink(path);
    last = (struct err){0};
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/attempts", folder);
    return 0;
}

static int remove_folder(void **state)
{
    const char *const argv[] = {"rm", "-r", folder, NULL};
    _cleanup_(buf_done) struct buf b = BUF_INIT(64);
    struct run r = {.argv = argv, .out = {run_take_buf, &b}, .timeout_ms = 10000};
    int status = 1;

    (void)state;
    return run_program(&r, &status, &last) < 0 ? -1 : status;
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_third_try_within_the_time_is_refused_and_told_when),
        TEST(a_try_that_succeeded_or_was_not_made_does_not_count),
        TEST(accounts_are_counted_apart),
        TEST(a_clock_that_goes_back_never_makes_the_wait_shorter),
        TEST(the_ledger_is_private),
        TEST(what_cannot_be_written_down_is_not_tried),
        TEST(a_damaged_line_counts_as_a_failure_of_every_account),
        TEST(an_empty_file_is_an_empty_ledger),
        TEST(a_file_of_another_kind_is_refused),
        TEST(a_failure_whose_line_was_taken_out_is_written_again),
        TEST(a_try_cut_off_by_kill_counts_as_failed),
        TEST(of_many_processes_at_once_two_may_try),
        TEST(a_try_in_flight_is_waited_for),
        TEST(kills_at_any_moment_leave_a_ledger_that_counts),
        TEST(a_lock_that_is_kept_ends_in_an_error),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
