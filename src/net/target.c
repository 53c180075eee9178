#include "net/target.h"

#include "base/buf.h"
#include "base/fsx.h"

#define MAX_NAME 255u /* of a host, RFC 1035; a user's is shorter */

bool target_is_host(const char *text)
{
    static const char *const files[] = {".tgz", ".gz", ".zip", ".tar", ".txt", ".log", ".json", ".xml", ".csv", ".map", ".cfg"};
    struct slice s = slice_of(text);

    if (slice_find(s, 0, "://") != SIZE_MAX)
        return true;
    if (s.n == 0 || s.p[0] == '.' || s.p[0] == '-' || slice_find_char(s, 0, '/') != SIZE_MAX || fsx_kind(text) != FSX_NONE)
        return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (slice_iends(s, files[i]))
            return false;
    return true;
}

static bool plain(struct slice s, bool address)
{
    if (s.n == 0 || s.n > MAX_NAME || s.p[0] == '-')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c <= ' ' || c == 0x7f || strchr("/\\\"'`$&;|<>()[]{}*?!,", c) || (c == '@' && address) || (c == ':' && !address))
            return false;
    }
    return true;
}

/* "[2001:db8::1]:22", "esx01:22", "::1" */
static bool split_port(struct slice s, struct slice *host, struct slice *port)
{
    size_t end = slice_find_char(s, 0, ']'), colon = slice_find_char(s, 0, ':');

    *port = (struct slice){NULL, 0};
    if (slice_starts(s, "[") && end != SIZE_MAX) {
        *host = slice_cut(s, 1, end - 1);
        s = slice_from(s, end + 1);
        if (s.n && s.p[0] != ':')
            return false;
        *port = slice_from(s, 1);
        return s.n != 1;
    }
    *host = s;
    if (colon == SIZE_MAX || slice_find_char(s, colon + 1, ':') != SIZE_MAX) /* none, or an IPv6 address */
        return true;
    *host = slice_cut(s, 0, colon);
    *port = slice_from(s, colon + 1);
    return port->n > 0;
}

static int wrong(const char *text, const char *what, struct err *e)
{
    return err_set(e, VF_EUSAGE, "%s: %s; a host is written esx01, root@esx01 or ssh://root@esx01:2222", text, what);
}

int target_parse(const char *text, struct arena *a, struct target_host *out, struct err *e)
{
    struct slice s = slice_of(text), user = {NULL, 0}, host, port;
    bool url = slice_starts(s, "ssh://");
    size_t at = s.n;
    uint64_t number = 0;

    if (url)
        s = slice_from(s, 6);
    else if (slice_find(s, 0, "://") != SIZE_MAX)
        return err_set(e, VF_EUSAGE, "a target that begins with " SLICE_FMT "// is not known; hosts are reached by ssh://",
                       SLICE_ARG(slice_cut(s, 0, slice_find_char(s, 0, ':') + 1)));
    if (url && slice_ends(s, "/"))
        s.n--;
    for (at = s.n; at > 0 && s.p[at - 1] != '@'; at--)
        ;
    if (at > 0) {
        user = slice_cut(s, 0, at - 1);
        s = slice_from(s, at);
        if (slice_find_char(user, 0, ':') != SIZE_MAX)
            return err_set(e, VF_EUSAGE, "a password may not stand in a target, where everybody on this machine can read it; use --password-file "
                           "or --password-command, or be asked");
    }
    if (!split_port(s, &host, &port) || !plain(host, true) || (at > 0 && !plain(user, false)))
        return wrong(text, "not a host", e);
    if (port.n && !url)
        return err_set(e, VF_EUSAGE, "%s: a port is written as in ssh://" SLICE_FMT "%s" SLICE_FMT ":" SLICE_FMT, text, SLICE_ARG(user), at ? "@" : "",
                       SLICE_ARG(host), SLICE_ARG(port));
    if (port.n && (num_parse_u64(port, &number) < 0 || number == 0 || number > 65535))
        return wrong(text, "the port is a number from 1 to 65535", e);
    *out = (struct target_host){text, at ? arena_dup(a, user).p : NULL, arena_dup(a, host).p, (uint16_t)number};
    return 0;
}
