#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/run.h"
#include "base/secret.h"

#define MARK "Hunter2-marker" /* never to be seen in a message */

static char folder[] = "/tmp/vmkfit-secret-XXXXXX";
static char path[sizeof folder + 32];

static const char *at(const char *name)
{
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *file(const char *name, struct slice bytes, mode_t mode)
{
    int fd;

    (void)unlink(at(name));
    fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
    return path;
}

static void expect(int rc, struct secret **s, const struct err *e, const char *text)
{
    if (rc != 0)
        fail_msg("%s", e->msg);
    assert_string_equal(secret_text(*s), text);
    assert_int_equal(secret_length(*s), strlen(text));
    secret_free(s);
    assert_null(*s);
}

static void refused(int rc, const struct secret *s, const struct err *e, int code, const char *says)
{
    assert_int_equal(rc, code);
    assert_null(s);
    if (!strstr(e->msg, says))
        fail_msg("\"%s\" should say \"%s\"", e->msg, says);
    assert_null(strstr(e->msg, MARK));
}

/* --- files --- */

static void a_file_gives_its_line_without_the_line_end(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};

    (void)state;
    expect(secret_from_file(file("a", SLICE_LIT("s3cret\n"), 0600), &s, &e), &s, &e, "s3cret");
    expect(secret_from_file(file("a", SLICE_LIT("s3cret\r\n"), 0400), &s, &e), &s, &e, "s3cret");
    expect(secret_from_file(file("a", SLICE_LIT(" with blanks "), 0600), &s, &e), &s, &e, " with blanks ");
    expect(secret_from_file(file("a", SLICE_LIT("p\xc3\xa4ss"), 0600), &s, &e), &s, &e, "p\xc3\xa4ss");
}

static void a_file_that_others_may_read_is_refused_and_the_remedy_named(void **state)
{
    static const mode_t open_modes[] = {0644, 0604, 0660, 0620, 0601, 0666};
    struct secret *s = NULL;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        int rc = secret_from_file(file("open", SLICE_LIT(MARK "\n"), open_modes[i]), &s, &e);

        refused(rc, s, &e, VF_EDENIED, "chmod 600");
        assert_non_null(strstr(e.msg, path));
    }
}

static void a_file_of_another_user_is_refused(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};

    (void)state;
    (void)file("other", SLICE_LIT(MARK "\n"), 0600);
    if (geteuid() != 0 || chown(path, 12345, 0) < 0)
        skip();
    refused(secret_from_file(path, &s, &e), s, &e, VF_EDENIED, "another user");
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chmod(path, 0440), 0); /* as systemd hands over credentials */
    expect(secret_from_file(path, &s, &e), &s, &e, MARK);
    assert_int_equal(chown(path, 0, 12345), 0);
    refused(secret_from_file(path, &s, &e), s, &e, VF_EDENIED, "chmod 600");
}

static void links_folders_and_fifos_are_no_password_files(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};
    char link[sizeof path];

    (void)state;
    (void)snprintf(link, sizeof link, "%s", at("link"));
    assert_int_equal(symlink(file("real", SLICE_LIT(MARK), 0600), link), 0);
    refused(secret_from_file(link, &s, &e), s, &e, VF_EDENIED, "symbolic link");
    refused(secret_from_file(folder, &s, &e), s, &e, VF_EDENIED, "not a regular file");
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    refused(secret_from_file(path, &s, &e), s, &e, VF_EDENIED, "not a regular file");
    refused(secret_from_file("/dev/null", &s, &e), s, &e, VF_EDENIED, "not a regular file");
    refused(secret_from_file(at("nowhere"), &s, &e), s, &e, VF_ENOTFOUND, "nowhere");
}

static void what_no_password_can_be_is_refused_without_showing_it(void **state)
{
    char longest[SECRET_MAX + 3];
    struct secret *s = NULL;
    struct err e = {0};

    (void)state;
    refused(secret_from_file(file("b", SLICE_LIT(""), 0600), &s, &e), s, &e, VF_EFORMAT, "empty");
    refused(secret_from_file(file("b", SLICE_LIT("\r\n\n"), 0600), &s, &e), s, &e, VF_EFORMAT, "empty");
    refused(secret_from_file(file("b", SLICE_LIT(MARK "\nmore\n"), 0600), &s, &e), s, &e, VF_EFORMAT, "more than one line");
    refused(secret_from_file(file("b", SLICE_LIT(MARK "\0x"), 0600), &s, &e), s, &e, VF_EFORMAT, "NUL");
    memset(longest, 'x', sizeof longest);
    longest[SECRET_MAX] = '\r';
    longest[SECRET_MAX + 1] = '\n';
    assert_int_equal(secret_from_file(file("b", (struct slice){longest, SECRET_MAX + 2}, 0600), &s, &e), 0);
    assert_int_equal(secret_length(s), SECRET_MAX);
    secret_free(&s);
    longest[SECRET_MAX] = 'x';
    refused(secret_from_file(file("b", (struct slice){longest, SECRET_MAX + 1}, 0600), &s, &e), s, &e, VF_ELIMIT, "1024");
    refused(secret_from_bytes((struct slice){longest, SECRET_MAX + 1}, &s, &e), s, &e, VF_ELIMIT, "1024");
    expect(secret_from_bytes(SLICE_LIT("copied"), &s, &e), &s, &e, "copied");
}

static void a_pipe_is_read_by_the_name_that_bash_gives_it(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};
    char name[64];
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    assert_int_equal(write(p[1], "through a pipe\n", 15), 15);
    (void)close(p[1]);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", p[0]);
    expect(secret_from_file(name, &s, &e), &s, &e, "through a pipe");
    (void)close(p[0]);
    refused(secret_from_file(name, &s, &e), s, &e, VF_EIO, name);
}

/* --- memory --- */

/* Flags of the mapping that holds p, as /proc/self/smaps has them. */
static void mapping_flags(const void *p, char *out, size_t size)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    char line[512];
    bool here = false;

    out[0] = '\0';
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *end;
        unsigned long long from = strtoull(line, &end, 16), to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;

        if (to)
            here = (uintptr_t)p >= from && (uintptr_t)p < to;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            (void)snprintf(out, size, "%s", line);
    }
    (void)fclose(f);
}

static void a_secret_is_not_dumped_and_a_forked_child_does_not_have_it(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};
    struct rlimit core;
    char flags[512];
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(secret_from_bytes(SLICE_LIT(MARK), &s, &e), 0);
    mapping_flags(secret_text(s), flags, sizeof flags);
    if (flags[0]) { /* not every kernel tells */
        assert_non_null(strstr(flags, " dd"));
        assert_non_null(strstr(flags, " wf"));
    }
    assert_int_equal(getrlimit(RLIMIT_CORE, &core), 0);
    assert_int_equal(core.rlim_cur, 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(secret_text(s)[0] == '\0' && secret_length(s) == 0 ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(secret_text(s), MARK);
    secret_free(&s);
    secret_free(&s);
    secret_free(NULL);
}

/* --- commands --- */

static void a_command_gives_the_first_line_it_prints(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};

    (void)state;
    expect(secret_from_command("echo s3cret", 5000, &s, &e), &s, &e, "s3cret");
    expect(secret_from_command("printf 'one\\r\\nuser: two\\nurl: three\\n'", 5000, &s, &e), &s, &e, "one");
    expect(secret_from_command("printf no-line-end", 5000, &s, &e), &s, &e, "no-line-end");
    expect(secret_from_command("printf 'sl'; sleep 0.1; echo ow", 5000, &s, &e), &s, &e, "slow");
    expect(secret_from_command("echo first; head -c 300000 /dev/zero", 5000, &s, &e), &s, &e, "first");
}

static void a_command_that_fails_is_named_with_its_status(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};

    (void)state;
    refused(secret_from_command("cat " MARK "-not-there 2>/dev/null || exit 3", 5000, &s, &e), s, &(struct err){0}, VF_EIO, "");
    assert_non_null(strstr(e.msg, "exit status 3"));
    refused(secret_from_command("echo \"Hunter2\"-\"marker\"; exit 1", 5000, &s, &e), s, &e, VF_EIO, "exit status 1");
    refused(secret_from_command("kill -9 $$", 5000, &s, &e), s, &e, VF_EIO, "signal 9");
    refused(secret_from_command("true", 5000, &s, &e), s, &e, VF_EFORMAT, "empty");
    refused(secret_from_command("echo; echo second", 5000, &s, &e), s, &e, VF_EFORMAT, "empty");
    refused(secret_from_command("head -c 2000 /dev/zero | tr '\\0' x", 5000, &s, &e), s, &e, VF_ELIMIT, "1024");
    refused(secret_from_command("printf 'a\\0b\\n'", 5000, &s, &e), s, &e, VF_EFORMAT, "NUL");
}

static void a_command_is_killed_with_its_children_at_the_deadline(void **state)
{
    _cleanup_(buf_done) struct buf command = BUF_INIT(512);
    struct secret *s = NULL;
    struct err e = {0};
    int64_t begin = (int64_t)clock_ms();
    char pid[32] = "";
    FILE *f;

    (void)state;
    buf_printf(&command, "sleep 60 & echo $! >%s; wait", at("pid"));
    refused(secret_from_command(buf_z(&command), 400, &s, &e), s, &e, VF_EIO, "killed");
    assert_true((int64_t)clock_ms() - begin < 20000);
    f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(pid, sizeof pid, f));
    (void)fclose(f);
    for (int i = 0; i < 200 && kill((pid_t)strtol(pid, NULL, 10), 0) == 0; i++) { /* init reaps it some time; a zombie is as good */
        char stat[64], line[256] = "";

        (void)snprintf(stat, sizeof stat, "/proc/%ld/stat", strtol(pid, NULL, 10));
        f = fopen(stat, "re");
        if (f) {
            (void)!fgets(line, sizeof line, f);
            (void)fclose(f);
        }
        if (!f || strstr(line, ") Z "))
            return;
        (void)usleep(10000);
    }
    assert_int_equal(kill((pid_t)strtol(pid, NULL, 10), 0), -1);
}

static void what_a_command_leaves_running_is_not_waited_for(void **state)
{
    struct secret *s = NULL;
    struct err e = {0};
    int64_t begin = (int64_t)clock_ms();

    (void)state;
    expect(secret_from_command("sleep 3 & echo agent-started", 60000, &s, &e), &s, &e, "agent-started");
    assert_true((int64_t)clock_ms() - begin < 2500);
}

static void a_program_that_is_not_there_is_not_found(void **state)
{
    static const char *const argv[] = {"vmkfit-no-such-program", NULL};
    _cleanup_(buf_done) struct buf b = BUF_INIT(64);
    struct run r = {.argv = argv, .out = {run_take_buf, &b}, .timeout_ms = 5000};
    struct err e = {0};
    int status = 77;

    (void)state;
    assert_int_equal(run_program(&r, &status, &e), VF_ENOTFOUND); /* nor where a folder of PATH may not be looked into */
    assert_int_equal(status, 77);
}

static void both_outputs_of_a_program_are_read_and_bounded(void **state)
{
    static const char *const argv[] = {"sh", "-c", "head -c 300000 /dev/zero; echo wrong >&2; head -c 300000 /dev/zero >&2; exit 7", NULL};
    _cleanup_(buf_done) struct buf out = BUF_INIT(1000), err = BUF_INIT(5);
    struct run r = {.argv = argv, .out = {run_take_buf, &out}, .err = {run_take_buf, &err}, .timeout_ms = 10000};
    struct err e = {0};
    int status = 0;

    (void)state;
    assert_int_equal(run_program(&r, &status, &e), 0);
    assert_int_equal(status, 7);
    assert_true(out.cut && out.n == 1000);
    assert_string_equal(buf_z(&err), "wrong");
}

/* --- the terminal --- */

struct pty {
    int master, slave;
    pid_t pid;
};

/*
 * A child with a terminal of its own asks, or lets a command ask; it exits with 0 when it got the text, 3 when it got none, 5 when the
 * terminal was not given back to it.
 */
static struct pty asker_by(const char *command, const char *text)
{
    struct pty p = {posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), -1, -1};
    char name[64];

    assert_true(p.master >= 0);
    assert_int_equal(grantpt(p.master), 0);
    assert_int_equal(unlockpt(p.master), 0);
    assert_int_equal(ptsname_r(p.master, name, sizeof name), 0);
    p.slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(p.slave >= 0);
    p.pid = fork();
    assert_true(p.pid >= 0);
    if (p.pid == 0) {
        struct secret *s = NULL;
        struct err e = {0};
        int rc, tty;

        (void)setsid();
        tty = open(name, O_RDWR);
        if (tty < 0)
            _exit(9);
        rc = command ? secret_from_command(command, 20000, &s, &e) : secret_from_terminal("Password: ", &s, &e);
        if (tcgetpgrp(tty) != getpgrp())
            _exit(5);
        _exit(rc < 0 ? 3 : strcmp(secret_text(s), text) == 0 ? 0 : 4);
    }
    return p;
}

static struct pty asker(const char *text)
{
    return asker_by(NULL, text);
}

static bool echoes(const struct pty *p)
{
    struct termios t;

    assert_int_equal(tcgetattr(p->slave, &t), 0);
    return (t.c_lflag & ECHO) != 0;
}

static void await_echo(const struct pty *p, bool wanted)
{
    for (int i = 0; i < 1000 && echoes(p) != wanted; i++)
        (void)usleep(10000);
    assert_int_equal(echoes(p), wanted);
}

/* What the terminal showed so far. */
static void shown(const struct pty *p, const char *wanted, struct buf *out)
{
    (void)fcntl(p->master, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 1000 && slice_find(buf_slice(out), 0, wanted) == SIZE_MAX; i++) {
        char block[256];
        ssize_t n = read(p->master, block, sizeof block);

        if (n > 0)
            buf_add(out, (struct slice){block, (size_t)n});
        else
            (void)usleep(10000);
    }
    if (slice_find(buf_slice(out), 0, wanted) == SIZE_MAX)
        fail_msg("the terminal showed \"%s\", not \"%s\"", buf_z(out), wanted);
}

static void type(const struct pty *p, const char *text)
{
    assert_int_equal(write(p->master, text, strlen(text)), (ssize_t)strlen(text));
}

static int end(struct pty *p)
{
    int status = -1;

    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    (void)close(p->master);
    (void)close(p->slave);
    return status;
}

static void the_terminal_is_asked_without_echo(void **state)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(4096);
    struct pty p = asker(MARK);

    (void)state;
    shown(&p, "Password: ", &out);
    await_echo(&p, false);
    type(&p, MARK "\n");
    shown(&p, "\n", &out);
    await_echo(&p, true);
    assert_null(strstr(buf_z(&out), MARK));
    assert_int_equal(end(&p), 0);
}

static void an_interrupted_question_puts_the_echo_back(void **state)
{
    static const struct {
        const char *key;
        int sig;
    } t[] = {{"\x03", SIGINT}, {NULL, SIGTERM}, {NULL, SIGHUP}};

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        _cleanup_(buf_done) struct buf out = BUF_INIT(4096);
        struct pty p = asker("");
        int status;

        shown(&p, "Password: ", &out);
        await_echo(&p, false);
        if (t[i].key)
            type(&p, t[i].key);
        else
            (void)kill(p.pid, t[i].sig);
        await_echo(&p, true);
        status = end(&p);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == t[i].sig);
    }
}

static void a_stopped_question_is_asked_again(void **state)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(4096);
    struct pty p = asker("second");

    (void)state;
    shown(&p, "Password: ", &out);
    await_echo(&p, false);
    type(&p, "first");
    (void)kill(p.pid, SIGTSTP); /* an orphaned group is not stopped by it; the question starts again all the same */
    buf_reset(&out);
    shown(&p, "Password: ", &out);
    await_echo(&p, false);
    type(&p, "second\n");
    assert_int_equal(end(&p), 0);
}

static void an_end_of_input_is_no_password(void **state)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(4096);
    struct pty p = asker("");

    (void)state;
    shown(&p, "Password: ", &out);
    await_echo(&p, false);
    type(&p, "\x04");
    await_echo(&p, true);
    assert_int_equal(end(&p), 3 << 8);
}

static void a_command_may_ask_on_the_terminal(void **state)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(4096);
    struct pty p = asker_by("printf 'Card PIN: ' >/dev/tty; IFS= read -r pin && echo \"<$pin>\"", "<1234>");

    (void)state;
    shown(&p, "Card PIN: ", &out);
    type(&p, "1234\n");
    assert_int_equal(end(&p), 0);
}

static void without_a_terminal_nothing_is_asked(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        struct secret *s = NULL;
        struct err e = {0};

        (void)setsid();
        _exit(secret_from_terminal("Password: ", &s, &e) == VF_EUNSUPPORTED && strstr(e.msg, "no terminal") ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a", "b", "open", "other", "real", "link", "fifo", "pid"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(at(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_its_line_without_the_line_end),
        cmocka_unit_test(a_file_that_others_may_read_is_refused_and_the_remedy_named),
        cmocka_unit_test(a_file_of_another_user_is_refused),
        cmocka_unit_test(links_folders_and_fifos_are_no_password_files),
        cmocka_unit_test(what_no_password_can_be_is_refused_without_showing_it),
        cmocka_unit_test(a_pipe_is_read_by_the_name_that_bash_gives_it),
        cmocka_unit_test(a_secret_is_not_dumped_and_a_forked_child_does_not_have_it),
        cmocka_unit_test(a_command_gives_the_first_line_it_prints),
        cmocka_unit_test(a_command_that_fails_is_named_with_its_status),
        cmocka_unit_test(a_command_is_killed_with_its_children_at_the_deadline),
        cmocka_unit_test(what_a_command_leaves_running_is_not_waited_for),
        cmocka_unit_test(a_program_that_is_not_there_is_not_found),
        cmocka_unit_test(both_outputs_of_a_program_are_read_and_bounded),
        cmocka_unit_test(the_terminal_is_asked_without_echo),
        cmocka_unit_test(an_interrupted_question_puts_the_echo_back),
        cmocka_unit_test(a_stopped_question_is_asked_again),
        cmocka_unit_test(an_end_of_input_is_no_password),
        cmocka_unit_test(a_command_may_ask_on_the_terminal),
        cmocka_unit_test(without_a_terminal_nothing_is_asked),
    };

    (void)signal(SIGINT, SIG_DFL); /* a shell ignores them for what it runs in the background, and that is inherited */
    (void)signal(SIGQUIT, SIG_DFL);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
