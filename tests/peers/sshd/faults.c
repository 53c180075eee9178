#include "faults.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* System calls instead of open and read: rootdir.c, which changes what open does, reads its faults here too. */
static size_t slurp(const char *dir, const char *file, char *buf, size_t size)
{
    char path[4096];
    size_t n = 0;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    while (n < size - 1 && (got = syscall(SYS_read, fd, buf + n, size - 1 - n)) > 0)
        n += (size_t)got;
    syscall(SYS_close, fd);
    buf[n] = '\0';
    return n;
}

bool fault_each(const char *dir, const char *name, bool (*fn)(void *ctx, const char *value), void *ctx)
{
    char text[65536];
    size_t len = strlen(name), n;

    if (!dir)
        return false;
    n = slurp(dir, "faults", text, sizeof text);
    if (n && text[n - 1] != '\n' && n < sizeof text - 1)
        text[n++] = '\n';
    slurp(dir, "faults.recording", text + n, sizeof text - n);
    for (char *line = text, *next; *line; line = next) {
        char *end = strchrnul(line, '\n');

        next = *end ? end + 1 : end;
        *end = '\0';
        if (strncmp(line, name, len) == 0 && (line[len] == '=' || line[len] == '\0') &&
            fn(ctx, line[len] ? line + len + 1 : ""))
            return true;
    }
    return false;
}

struct last {
    char *value;
    size_t size;
    bool found;
};

static bool keep_last(void *ctx, const char *value)
{
    struct last *l = ctx;
    size_t n = 0;

    for (const char *p = value; *p && n < l->size - 1; p++) {
        char hex[3] = "";

        if (*p != '\\' || !p[1]) {
            l->value[n++] = *p;
            continue;
        }
        switch (*++p) {
        case 'n': l->value[n++] = '\n'; break;
        case 'r': l->value[n++] = '\r'; break;
        case 'e': l->value[n++] = '\033'; break;
        case 'x':
            if (p[1] && p[2]) {
                hex[0] = *++p;
                hex[1] = *++p;
                l->value[n++] = (char)strtol(hex, NULL, 16);
            }
            break;
        default: l->value[n++] = *p;
        }
    }
    l->value[n] = '\0';
    l->found = true;
    return false;
}

bool fault_get(const char *dir, const char *name, char *value, size_t size)
{
    struct last l = {value, size, false};

    fault_each(dir, name, keep_last, &l);
    return l.found;
}

struct wanted {
    const char *command;
    char *arg;
    size_t size;
    bool found;
};

static bool fits(void *ctx, const char *value)
{
    struct wanted *w = ctx;
    const char *colon = w->arg ? strrchr(value, ':') : NULL;
    size_t n = colon ? (size_t)(colon - value) : strlen(value);

    if ((n == 1 && value[0] == '*') ||
        (strncmp(w->command, value, n) == 0 && (w->command[n] == ' ' || w->command[n] == '\0'))) {
        w->found = true;
        if (w->arg)
            snprintf(w->arg, w->size, "%s", colon ? colon + 1 : "");
    }
    return false;
}

bool fault_for(const char *dir, const char *name, const char *command, char *arg, size_t size)
{
    struct wanted w = {command, arg, size, false};

    fault_each(dir, name, fits, &w);
    return w.found;
}

void peer_log(const char *dir, const char *file, const char *line, size_t n)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, file);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    while (n) {
        ssize_t put = syscall(SYS_write, fd, line, n);

        if (put <= 0)
            break;
        line += put;
        n -= (size_t)put;
    }
    syscall(SYS_close, fd);
}
