/*
 * The login shell of a host that is played: runs a real sh over pipes, in which commands and files are the host's, and writes down every byte
 * that it is sent, before the shell has it. Its faults: shell, noise, foreign.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

static void put(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

static void first_word(const char *text, char *word, size_t size)
{
    text += strspn(text, " \t");
    snprintf(word, size, "%.*s", (int)strcspn(text, " \t\r\n"), text);
}

/* A login shell that is none: what the vCenter appliance has. shell=odd says so and ends, shell=stays has a prompt. */
static int odd_shell(const char *dir, const char *command, bool stays)
{
    char line[4096], word[256], reply[512];
    ssize_t n;

    if (command) {
        first_word(command, word, sizeof word);
        snprintf(reply, sizeof reply, "Unknown command: `%s'\n", word);
        put(reply);
    }
    if (!stays)
        return 1;
    put("Command> ");
    while ((n = read(STDIN_FILENO, line, sizeof line - 1)) > 0) {
        line[n] = '\0';
        peer_log(dir, "sent", line, (size_t)n);
        first_word(line, word, sizeof word);
        snprintf(reply, sizeof reply, "Unknown command: `%s'\nCommand> ", word);
        put(reply);
    }
    return 0;
}

/* A host of a folder of tables is away for a while after its reboot. */
static bool is_down(const char *dir)
{
    char path[4096], line[512];
    long until = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/host/facts", dir);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "down_until=", 11) == 0)
            until = strtol(line + 11, NULL, 10);
    if (f)
        fclose(f);
    return until > (long)time(NULL);
}

static void run_shell(const char *dir, const char *command, const char *user, pid_t parent)
{
    char path[4096], unused[8], sshd[32];
    bool foreign = fault_get(dir, "foreign", unused, sizeof unused);

    snprintf(sshd, sizeof sshd, "%d", (int)parent);
    clearenv();
    snprintf(path, sizeof path, "%s/%s", dir, foreign ? "bin.foreign" : "bin");
    setenv("PATH", path, 1);
    snprintf(path, sizeof path, "%s/%s", dir, foreign ? "root.foreign" : "root");
    setenv("PEER_ROOT", path, 1);
    snprintf(path, sizeof path, "%s/host", dir);
    setenv("PEER_HOST", path, 1);
    snprintf(path, sizeof path, "%s/rootdir.so", dir);
    setenv("LD_PRELOAD", path, 1);
    setenv("PEER", dir, 1);
    setenv("PEER_SSHD", sshd, 1);
    setenv("USER", user, 1);
    setenv("HOME", "/", 1);
    setenv("SHELL", "/bin/sh", 1);
    snprintf(path, sizeof path, "%s/%s/sh", dir, foreign ? "bin.foreign" : "bin");
    if (chdir(getenv("PEER_ROOT")) != 0)
        _exit(126);
    if (command)
        execl(path, "sh", "-c", command, (char *)NULL);
    else
        execl(path, "sh", (char *)NULL);
    _exit(126);
}

/* Passes input on until the shell has ended; returns its status. */
static int relay(const char *dir, int to, pid_t shell)
{
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = pidfd_open(shell, 0), .events = POLLIN}};
    char buf[65536];
    int status;

    while (poll(p, 2, -1) >= 0 || errno == EINTR) {
        if (p[0].revents) {
            ssize_t n = read(STDIN_FILENO, buf, sizeof buf);

            if (n > 0)
                peer_log(dir, "sent", buf, (size_t)n);
            for (ssize_t done = 0, w; done < n; done += w)
                if ((w = write(to, buf + done, (size_t)(n - done))) <= 0)
                    break;
            if (n <= 0) {
                close(to);
                p[0].fd = -1;
            }
        } else if (p[1].revents)
            break;
    }
    if (waitpid(shell, &status, 0) < 0)
        return 255;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    const char *dir = getenv("PEER"), *user = getenv("USER"), *command = NULL;
    char text[65536];
    int pipes[2];
    pid_t parent = getppid(), shell;

    if (!dir || !user) {
        fputs("hostsh: is the login shell of a test peer; see tests/peers/README.md\n", stderr);
        return 2;
    }
    if (argc == 3 && strcmp(argv[1], "-c") == 0)
        command = argv[2];
    snprintf(text, sizeof text, "%s\n", command ? command : "");
    peer_log(dir, "execs", text, strlen(text));
    snprintf(text, sizeof text, "%d\n%d\n", (int)getpid(), (int)parent);
    peer_log(dir, "pids", text, strlen(text));

    if (is_down(dir))
        return 255;
    if (fault_get(dir, "noise", text, sizeof text))
        put(text);
    if (fault_get(dir, "shell", text, sizeof text))
        return odd_shell(dir, command, strcmp(text, "stays") == 0);
    if (pipe2(pipes, O_CLOEXEC) != 0 || (shell = fork()) < 0) {
        perror("hostsh");
        return 126;
    }
    if (shell == 0) {
        snprintf(text, sizeof text, "%s", user);
        dup2(pipes[0], STDIN_FILENO);
        (void)setsid(); /* as sshd does before it starts a login shell */
        run_shell(strdup(dir), command, text, parent);
    }
    close(pipes[0]);
    signal(SIGPIPE, SIG_IGN);
    return relay(dir, pipes[1], shell);
}
