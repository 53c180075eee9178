/*
 * Every command of a host that is played, told apart by name. It writes down how it was called, then answers from the recording (the file
 * "answers" of the work folder), or runs the host folder's script or the machine's program of that name (links in "scripts" and "tools").
 * A fault that is set for the command comes first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

enum { LINE_SIZE = 16384 };

/* Where no process is to be left for ever when a test forgets its peer. */
enum { HANG_SECONDS = 900 };

struct answer {
    char line[LINE_SIZE];
    const char *cli, *form, *status, *file;
    int exit;
};

static void out(const char *p, size_t n)
{
    while (n) {
        ssize_t put = write(STDOUT_FILENO, p, n);

        if (put <= 0)
            _exit(1);
        p += put;
        n -= (size_t)put;
    }
}

static void say(const char *text)
{
    out(text, strlen(text));
}

static void hang(void)
{
    signal(SIGPIPE, SIG_IGN);
    for (time_t end = time(NULL) + HANG_SECONDS; time(NULL) < end;)
        sleep(1);
    _exit(1);
}

/* The connection ends as when a host loses power: nobody says goodbye. */
static void lose_connection(void)
{
    const char *sshd = getenv("PEER_SSHD");
    pid_t pid = sshd ? (pid_t)strtol(sshd, NULL, 10) : 0;

    usleep(100000); /* what was written is on its way */
    if (pid > 1)
        kill(pid, SIGKILL);
    _exit(1);
}

/* --- answers --- */

static bool parse(struct answer *a, const char **ask)
{
    char *p = a->line, *field[6];

    for (size_t i = 0; i < 6; i++) {
        field[i] = p;
        p += strcspn(p, "\t\n");
        if (i < 5 && *p != '\t')
            return false;
        *p++ = '\0';
    }
    a->cli = field[0], a->form = field[1], a->status = field[2], a->file = field[4];
    a->exit = (int)strtol(field[3], NULL, 10);
    *ask = field[5];
    return true;
}

/* How well an answer fits; 0 is not at all. localcli has what esxcli says too, unless esxcli failed. */
static int rank(const struct answer *a, const char *cli, const char *form)
{
    int n = 1;

    if (strcmp(cli, a->cli) != 0) {
        if (strcmp(cli, "localcli") != 0 || a->exit != 0 || strcmp(a->status, "ok") != 0)
            return 0;
    } else
        n += 4;
    return n + (strcmp(a->form, form) == 0 ? 2 : 0) + (strcmp(a->form, "txt") == 0 ? 1 : 0);
}

static bool find(const char *dir, const char *cli, const char *form, const char *wanted, struct answer *best, bool *localcli_has)
{
    char path[4096];
    const char *ask;
    int high = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/answers", dir);
    f = fopen(path, "re");
    if (!f)
        return false;
    for (struct answer a; fgets(a.line, sizeof a.line, f);) {
        if (!parse(&a, &ask) || strcmp(ask, wanted) != 0)
            continue;
        *localcli_has |= strcmp(a.cli, "localcli") == 0;
        if (rank(&a, cli, form) > high) {
            high = rank(&a, cli, form);
            memcpy(best->line, a.line, sizeof a.line);
            best->cli = best->line + (a.cli - a.line), best->form = best->line + (a.form - a.line);
            best->status = best->line + (a.status - a.line), best->file = best->line + (a.file - a.line);
            best->exit = a.exit;
        }
    }
    fclose(f);
    return high > 0;
}

static int print_file(const char *path)
{
    char buf[65536];
    ssize_t n;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC); /* a file of this machine; see rootdir.c */

    if (fd < 0)
        return -1;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        out(buf, (size_t)n);
    close(fd);
    return 0;
}

static int give(const struct answer *a, const char *name)
{
    if (strcmp(a->status, "ok") == 0 && print_file(a->file) == 0)
        return a->exit;
    if (strcmp(a->status, "timeout") == 0)
        hang();
    if (strcmp(a->status, "lost") == 0)
        lose_connection();
    if (strcmp(a->status, "denied") == 0) {
        fprintf(stderr, "sh: %s: Permission denied\n", name);
        return 126;
    }
    fprintf(stderr, "%s: failed\n", name);
    return 1;
}

static int from_recording(const char *dir, const char *name, const char *form, const char *text)
{
    bool cli = strcmp(name, "esxcli") == 0 || strcmp(name, "localcli") == 0, localcli_has = false;
    struct answer a;

    if (find(dir, cli ? name : "-", form, cli ? text + strlen(name) + (text[strlen(name)] == ' ') : text, &a, &localcli_has))
        return give(&a, name);
    if (localcli_has) { /* recorded while hostd was away */
        say("Connect to localhost failed: Connection failure\n");
        return 1;
    }
    if (cli) {
        say("Error: Unknown command or namespace ");
        for (const char *p = text + strlen(name) + (text[strlen(name)] == ' '); *p && *p != '-'; p += strcspn(p, " ")) {
            p += strspn(p, " ");
            if (*p == '-' || !*p)
                break;
            out(p, strcspn(p, " "));
            if (p[strcspn(p, " ")] && p[strcspn(p, " ") + 1] != '-')
                say(" ");
        }
        say("\n");
        return 1;
    }
    fprintf(stderr, "sh: %s: not found\n", name);
    return 127;
}

/* --- calls --- */

/* A link of one of the work folder's folders, followed to the program; by the system call, since execve means the host's programs here. */
static void try_program(const char *dir, const char *folder, const char *name, char **argv)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s/%s", dir, folder, name);
    if (syscall(SYS_faccessat, AT_FDCWD, path, X_OK) != 0)
        return;
    if (strcmp(folder, "scripts") == 0)
        setenv("PEER_INSIDE", "1", 1);
    syscall(SYS_execve, path, argv, environ);
}

static int answer(const char *dir, const char *name, const char *form, const char *text, char **argv)
{
    char state[64];
    bool down = fault_get(dir, "hostd", state, sizeof state) && strcmp(state, "down") == 0;

    if (down && strcmp(name, "esxcli") == 0) {
        say("Connect to localhost failed: Connection failure\n");
        return 1;
    }
    if (down && strcmp(name, "vim-cmd") == 0) {
        say("Failed to login: Invalid response code: 503 Service Unavailable\n");
        return 255;
    }
    if (strchr(name, '/') == NULL) {
        try_program(dir, "scripts", name, argv);
        try_program(dir, "tools", name, argv);
    }
    return from_recording(dir, name, form, text);
}

/* The same answer, but piece by piece: a byte a second, or half of it and then no connection. */
static int in_pieces(const char *dir, const char *name, const char *form, const char *text, char **argv, bool cut)
{
    size_t n = 0, size = 64u << 20;
    char *body = malloc(size);
    int pipes[2], status = 1;
    ssize_t got;
    pid_t child;

    if (!body || pipe(pipes) != 0 || (child = fork()) < 0)
        return 1;
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        _exit(answer(dir, name, form, text, argv));
    }
    close(pipes[1]);
    while (n < size && (got = read(pipes[0], body + n, size - n)) > 0)
        n += (size_t)got;
    close(pipes[0]);
    waitpid(child, &status, 0);
    if (cut) {
        out(body, n / 2);
        lose_connection();
    }
    for (size_t i = 0; i < n; i++) {
        out(body + i, 1);
        sleep(1);
    }
    free(body);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void flood(size_t bytes, bool zeros)
{
    static char block[65536];

    for (size_t i = 0; i < sizeof block && !zeros; i++)
        block[i] = i % 80 == 79 ? '\n' : 'x';
    for (size_t done = 0, n; zeros || done < bytes; done += n) {
        n = zeros || bytes - done > sizeof block ? sizeof block : bytes - done;
        out(block, n);
    }
}

/* The same bytes every time: all values, and what terminals and parsers trip over. */
static void garbage(void)
{
    static const char nasty[] = "\0\033[2J\033]0;title\007\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\r\b\x7f\x9b" "31m\n\0\0<output><root>\0{\"a\":";
    char block[4096];
    unsigned x = 2463534242u;

    for (size_t i = 0; i < sizeof block; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        block[i] = (char)x;
    }
    memcpy(block + 100, nasty, sizeof nasty);
    out(block, sizeof block);
}

static int run(const char *dir, const char *name, const char *form, const char *text, char **argv)
{
    char arg[64];

    if (fault_get(dir, "latency", arg, sizeof arg))
        usleep((useconds_t)(strtod(arg, NULL) * 1e6));
    if (fault_for(dir, "hang", text, NULL, 0))
        hang();
    if (fault_for(dir, "slow", text, arg, sizeof arg))
        usleep((useconds_t)(strtod(arg, NULL) * 1e6));
    if (fault_for(dir, "garbage", text, NULL, 0)) {
        garbage();
        return 0;
    }
    if (fault_for(dir, "endless", text, NULL, 0))
        flood(0, true);
    if (fault_for(dir, "huge", text, arg, sizeof arg)) {
        flood((size_t)strtoul(arg, NULL, 10) << 20, false);
        return 0;
    }
    if (fault_for(dir, "cut", text, NULL, 0))
        return in_pieces(dir, name, form, text, argv, true);
    if (fault_for(dir, "drip", text, NULL, 0))
        return in_pieces(dir, name, form, text, argv, false);
    return answer(dir, name, form, text, argv);
}

/* --- the call as text --- */

struct text {
    char p[LINE_SIZE];
    size_t n;
};

static void add(struct text *t, const char *p, size_t n)
{
    if (n > sizeof t->p - 1 - t->n)
        n = sizeof t->p - 1 - t->n;
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = '\0';
}

/* As a shell would have to be given it, so that a line of "commands" reads back into its words. */
static void add_quoted(struct text *t, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";

    if (*word && word[strspn(word, plain)] == '\0') {
        add(t, word, strlen(word));
        return;
    }
    add(t, "'", 1);
    for (; *word; word++)
        if (*word == '\'')
            add(t, "'\\''", 4);
        else
            add(t, *word == '\n' ? " " : word, 1);
    add(t, "'", 1);
}

int main(int argc, char **argv)
{
    const char *dir = getenv("PEER"), *form = "txt", *name = strrchr(argv[0], '/');
    struct text called = {"", 0}, text = {"", 0};
    char arg[64];
    int status;

    name = !name || strncmp(argv[0], "/usr/lib/vmware/", 16) == 0 || strncmp(argv[0], "/opt/", 5) == 0 ? argv[0] : name + 1;
    if (!dir) {
        fputs("command: is a command of a test peer; see tests/peers/README.md\n", stderr);
        return 2;
    }
    add_quoted(&called, name);
    add(&text, name, strlen(name));
    for (int i = 1; i < argc; i++) {
        add(&called, " ", 1);
        add_quoted(&called, argv[i]);
        if (strncmp(argv[i], "--formatter=", 12) == 0)
            form = argv[i] + 12;
        else if (strcmp(argv[i], "--formatter") == 0 && i + 1 < argc)
            form = argv[i + 1];
        else if (strcmp(argv[i - 1], "--formatter") != 0) {
            add(&text, " ", 1);
            add(&text, argv[i], strlen(argv[i]));
        }
    }
    if (getenv("PEER_INSIDE")) /* a host folder's script at work */
        return answer(dir, name, form, text.p, argv);
    add(&called, "\n", 1);
    peer_log(dir, "commands", called.p, called.n);
    if (fault_for(dir, "exit", text.p, arg, sizeof arg)) {
        pid_t child = fork();

        if (child == 0)
            _exit(run(dir, name, form, text.p, argv));
        waitpid(child, &status, 0);
        return (int)strtol(arg, NULL, 10);
    }
    return run(dir, name, form, text.p, argv);
}
