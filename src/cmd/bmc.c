#include "cmd/bmc.h"

#include <time.h>

#include "base/buf.h"
#include "cmd/live.h"
#include "cmd/places.h"

#define HTTPS_PORT 443u

/* "bmc01", "root@bmc01:8443", "https://[2001:db8::1]/". A password in it is refused without being repeated. */
static int parse(const char *text, struct arena *a, struct redfish_opt *o, struct err *e)
{
    static const char form[] = "--bmc is written [USER@]BMC[:PORT], such as root@bmc01";
    struct slice s = slice_of(text), host, port = {NULL, 0};
    size_t at, colon;
    uint64_t n = HTTPS_PORT;

    if (slice_starts(s, "http://"))
        return err_set(e, VF_EUSAGE, "a BMC is asked by HTTPS only");
    if (slice_starts(s, "https://"))
        s = slice_from(s, strlen("https://"));
    if (slice_ends(s, "/"))
        s.n--;
    for (at = s.n; at > 0 && s.p[at - 1] != '@'; at--)
        ;
    if (at > 0) {
        struct slice user = slice_cut(s, 0, at - 1);

        if (slice_find_char(user, 0, ':') != SIZE_MAX)
            return err_set(e, VF_EUSAGE, "--bmc: no password in there; it is asked for, or read by --bmc-password-file");
        if (user.n == 0)
            return err_set(e, VF_EUSAGE, "%s", form);
        o->user = arena_dup(a, user).p;
        s = slice_from(s, at);
    }
    host = s;
    if (slice_starts(s, "[")) {
        size_t end = slice_find_char(s, 0, ']');

        if (end == SIZE_MAX)
            return err_set(e, VF_EUSAGE, "%s", form);
        host = slice_cut(s, 1, end - 1);
        if (end + 1 < s.n && s.p[end + 1] != ':')
            return err_set(e, VF_EUSAGE, "%s", form);
        port = slice_from(s, end + 2);
        colon = end + 1 < s.n ? end + 1 : SIZE_MAX;
    } else {
        colon = slice_find_char(s, 0, ':');
        host = slice_cut(s, 0, colon);
        port = slice_from(s, colon == SIZE_MAX ? s.n : colon + 1);
    }
    if (host.n == 0 || host.n > 253 || (colon != SIZE_MAX && (num_parse_u64(port, &n) < 0 || n == 0 || n > 65535)))
        return err_set(e, VF_EUSAGE, "%s", form);
    for (size_t i = 0; i < host.n; i++)
        if (!((host.p[i] >= 'a' && host.p[i] <= 'z') || (host.p[i] >= 'A' && host.p[i] <= 'Z') || (host.p[i] >= '0' && host.p[i] <= '9') || strchr(".-_:%", host.p[i])))
            return err_set(e, VF_EUSAGE, "%s", form);
    o->http.host = arena_dup(a, host).p;
    o->http.port = (uint16_t)n;
    o->label = n == HTTPS_PORT ? o->http.host : arena_printf(a, slice_find_char(host, 0, ':') == SIZE_MAX ? "%s:%u" : "[%s]:%u", o->http.host, o->http.port);
    return 0;
}

static const char *now(struct arena *a)
{
    char text[64];
    time_t t = time(NULL);
    struct tm tm;

    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&t, &tm));
    return arena_printf(a, "%s", text);
}

int bmc_options(struct cli *c, bool with_user, struct arena *a, struct redfish_opt *out, struct err *e)
{
    const struct live_values *v = &c->live_options;

    *out = (struct redfish_opt){.http = {.ca = v->bmc_ca, .connect_ms = REDFISH_CONNECT_MS}, .known = arena_printf(a, "%s/bmc-keys", place_state(c, a)),
                                .ledger = arena_printf(a, "%s/logins", place_state(c, a)), .when = now(a), .total_ms = REDFISH_TOTAL_MS,
                                .password = live_bmc_password, .ctx = c};
    if (parse(v->bmc, a, out, e) < 0)
        return e->code;
    if (!out->user)
        out->user = v->bmc_user;
    if (with_user && (!out->user || !*out->user))
        return err_set(e, VF_EUSAGE, "--bmc %s: as which user? USER@%s, or --bmc-user", v->bmc, v->bmc);
    if (!out->known || !out->ledger || !out->when || !out->label)
        return err_set(e, VF_ELIMIT, "no room left for the BMC");
    return 0;
}

int bmc_attach(struct cli *c, struct target *t, struct arena *a, struct err *e)
{
    const struct live_values *v = &c->live_options;
    struct redfish_opt *o = arena_alloc(a, sizeof *o);
    struct channel *channel;

    if (!v->bmc) {
        if (v->bmc_user || v->bmc_ca || v->bmc_password_file || v->bmc_password_command)
            return err_set(e, VF_EUSAGE, "there are options for a BMC, and no --bmc that says which");
        return 0;
    }
    if (!o)
        return err_set(e, VF_ELIMIT, "no room left for the BMC");
    if (bmc_options(c, true, a, o, e) < 0)
        return e->code;
    channel = t->channel ? redfish_new(t->channel, o) : NULL;
    if (!channel)
        return t->channel ? err_set(e, VF_ELIMIT, "no room left for the BMC") : 0;
    t->channel = channel;
    return 0;
}
