/*
 * Preloaded into sshd: who may log in, and with which password.
 *
 * getpwnam answers for the host's users (PEER_USERS) with the user that started the server and with the peer's shell, so root logs in to a
 * peer that a plain user started. The PAM functions know one password, that of the work folder's file "password", and write down what was
 * tried; so no system account, no file in /etc and no rights are needed. The layouts and numbers are those of Linux-PAM 1.5
 * (_pam_types.h), spelled out since its headers are not needed for anything else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <unistd.h>

#include "faults.h"

enum { PAM_SUCCESS = 0, PAM_AUTH_ERR = 7, PAM_NEW_AUTHTOK_REQD = 12, PAM_CONV_ERR = 19, PAM_AUTHTOK_ERR = 20, PAM_BUF_ERR = 5, PAM_BAD_ITEM = 29 };
enum { PAM_SERVICE = 1, PAM_USER = 2, PAM_CONV = 5 };
enum { PAM_PROMPT_ECHO_OFF = 1, PAM_TEXT_INFO = 4 };

struct pam_message {
    int style;
    const char *text;
};
struct pam_response {
    char *text;
    int unused;
};
struct pam_conv {
    int (*fn)(int n, const struct pam_message **m, struct pam_response **r, void *ctx);
    void *ctx;
};
struct pam_handle {
    struct pam_conv conv;
    char *user;
};

int pam_start(const char *service, const char *user, const struct pam_conv *conv, struct pam_handle **h);
int pam_end(struct pam_handle *h, int status);
int pam_authenticate(struct pam_handle *h, int flags);
int pam_acct_mgmt(struct pam_handle *h, int flags);
int pam_chauthtok(struct pam_handle *h, int flags);
int pam_setcred(struct pam_handle *h, int flags);
int pam_open_session(struct pam_handle *h, int flags);
int pam_close_session(struct pam_handle *h, int flags);
int pam_set_item(struct pam_handle *h, int type, const void *item);
int pam_get_item(const struct pam_handle *h, int type, const void **item);
int pam_putenv(struct pam_handle *h, const char *text);
char **pam_getenvlist(struct pam_handle *h);
const char *pam_strerror(struct pam_handle *h, int status);

/* Kept from the start: sshd empties its environment before it asks for a password. */
static struct {
    char *dir, *users, *shell;
    uid_t uid;
    gid_t gid;
} peer;

static char *kept(const char *name)
{
    const char *value = getenv(name);

    return strdup(value ? value : "");
}

__attribute__((constructor)) static void begin(void)
{
    peer.dir = kept("PEER");
    peer.users = kept("PEER_USERS");
    peer.shell = kept("PEER_SHELL");
    peer.uid = getuid();
    peer.gid = getgid();
}

static bool is_user_of_host(const char *name)
{
    size_t n = strlen(name);

    for (const char *p = peer.users; *p; p += *p == ',') {
        size_t len = strcspn(p, ",");

        if (len == n && memcmp(p, name, n) == 0)
            return true;
        p += len;
    }
    return false;
}

struct passwd *getpwnam(const char *name)
{
    static struct passwd pw;
    static char user[256], x[] = "x", none[] = "";
    struct passwd *(*next)(const char *);

    if (!is_user_of_host(name)) {
        struct passwd *real;

        *(void **)&next = dlsym(RTLD_NEXT, "getpwnam");
        real = next(name); /* the user that sshd hides behind, which its package would have made */
        return real || strcmp(name, "sshd") != 0 ? real : next("nobody");
    }
    snprintf(user, sizeof user, "%s", name);
    pw = (struct passwd){.pw_name = user, .pw_passwd = x, .pw_uid = peer.uid, .pw_gid = peer.gid, .pw_gecos = none, .pw_dir = peer.dir, .pw_shell = peer.shell};
    return &pw;
}

/* sshd keeps accounts of failed logins in /var/log/btmp when root runs it: those of a test do not belong there. */
int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...);
    mode_t mode = 0;
    va_list ap;

    if (strcmp(path, "/var/log/btmp") == 0 || strcmp(path, "/var/log/wtmp") == 0 || strcmp(path, "/var/log/lastlog") == 0) {
        errno = ENOENT;
        return -1;
    }
    va_start(ap, flags);
    if (flags & (O_CREAT | O_TMPFILE))
        mode = va_arg(ap, mode_t);
    va_end(ap);
    *(void **)&next = dlsym(RTLD_NEXT, "open");
    return next(path, flags, mode);
}

static void write_down(const char *file, const char *user)
{
    struct timespec t;
    char line[512];

    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(line, sizeof line, "%lld.%03ld %.200s\n", (long long)t.tv_sec, t.tv_nsec / 1000000, user ? user : "?");
    peer_log(peer.dir, file, line, strlen(line));
}

/* lock=N: as a host does with Security.AccountLockFailures, N failures lock the user, for 900 seconds. */
static bool is_locked(const char *user)
{
    char text[64], path[4096], line[512];
    long max = fault_get(peer.dir, "lock", text, sizeof text) ? strtol(text, NULL, 10) : 0, seen = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/failures", peer.dir);
    if (max <= 0 || !(f = fopen(path, "re")))
        return false;
    while (fgets(line, sizeof line, f)) {
        char *name = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        seen += name && strcmp(name + 1, user) == 0 && strtol(line, NULL, 10) + 900 > (long)time(NULL);
    }
    fclose(f);
    return seen >= max;
}

static bool is_password(const char *tried)
{
    char path[4096], want[512] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/password", peer.dir);
    f = fopen(path, "re");
    if (!f)
        return false;
    if (!fgets(want, sizeof want, f))
        want[0] = '\0';
    fclose(f);
    want[strcspn(want, "\n")] = '\0';
    return *want && strcmp(want, tried) == 0;
}

/* The answer is the caller's to free; NULL when there is none. */
static char *ask(struct pam_handle *h, int style, const char *text)
{
    struct pam_message m = {style, text};
    const struct pam_message *list = &m;
    struct pam_response *r = NULL;
    char *answer;

    if (h->conv.fn(1, &list, &r, h->conv.ctx) != PAM_SUCCESS || !r)
        return NULL;
    answer = r->text;
    free(r);
    return answer;
}

int pam_start(const char *service, const char *user, const struct pam_conv *conv, struct pam_handle **h)
{
    (void)service;
    *h = calloc(1, sizeof **h);
    if (!*h)
        return PAM_BUF_ERR;
    (*h)->conv = *conv;
    (*h)->user = user ? strdup(user) : NULL;
    return PAM_SUCCESS;
}

int pam_end(struct pam_handle *h, int status)
{
    (void)status;
    if (h)
        free(h->user);
    free(h);
    return PAM_SUCCESS;
}

int pam_authenticate(struct pam_handle *h, int flags)
{
    char delay[64];
    bool right;
    char *answer = ask(h, PAM_PROMPT_ECHO_OFF, "Password: ");

    (void)flags;
    if (!answer)
        return PAM_CONV_ERR;
    if (fault_get(peer.dir, "authdelay", delay, sizeof delay))
        usleep((useconds_t)(strtod(delay, NULL) * 1e6));
    right = h->user && !is_locked(h->user) && is_password(answer);
    explicit_bzero(answer, strlen(answer));
    free(answer);
    write_down(right ? "logins" : "failures", h->user);
    return right ? PAM_SUCCESS : PAM_AUTH_ERR;
}

int pam_acct_mgmt(struct pam_handle *h, int flags)
{
    char text[8];

    (void)h, (void)flags;
    return fault_get(peer.dir, "expired", text, sizeof text) ? PAM_NEW_AUTHTOK_REQD : PAM_SUCCESS;
}

/* A client that answers this has changed the password of a host: what it sends is noted, and refused. */
int pam_chauthtok(struct pam_handle *h, int flags)
{
    char *answer = ask(h, PAM_PROMPT_ECHO_OFF, "New password: ");

    (void)flags;
    if (answer)
        write_down("changes", h->user);
    free(answer);
    return PAM_AUTHTOK_ERR;
}

int pam_setcred(struct pam_handle *h, int flags)
{
    (void)h, (void)flags;
    return PAM_SUCCESS;
}

int pam_open_session(struct pam_handle *h, int flags)
{
    (void)h, (void)flags;
    return PAM_SUCCESS;
}

int pam_close_session(struct pam_handle *h, int flags)
{
    (void)h, (void)flags;
    return PAM_SUCCESS;
}

int pam_set_item(struct pam_handle *h, int type, const void *item)
{
    if (type == PAM_CONV)
        h->conv = *(const struct pam_conv *)item;
    return PAM_SUCCESS;
}

int pam_get_item(const struct pam_handle *h, int type, const void **item)
{
    *item = type == PAM_USER ? h->user : NULL;
    return type == PAM_USER || type == PAM_SERVICE ? PAM_SUCCESS : PAM_BAD_ITEM;
}

int pam_putenv(struct pam_handle *h, const char *text)
{
    (void)h, (void)text;
    return PAM_SUCCESS;
}

char **pam_getenvlist(struct pam_handle *h)
{
    (void)h;
    return calloc(1, sizeof(char *));
}

const char *pam_strerror(struct pam_handle *h, int status)
{
    (void)h;
    return status == PAM_AUTH_ERR ? "Authentication failure" : status == PAM_SUCCESS ? "Success" : "Failure";
}
