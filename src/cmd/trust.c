#include <stddef.h>

#include "cmd/bmc.h"
#include "cmd/live.h"
#include "net/pins.h"

struct trust_values {
    bool replace, yes;
    const char *fingerprint;
};

static const struct opt trust_opts[] = {
    {"fingerprint", 0, OPT_TEXT, offsetof(struct trust_values, fingerprint), "SHA256:...",
     "store the key without asking if this is its fingerprint, and nothing else", NULL},
    {"replace", 0, OPT_FLAG, offsetof(struct trust_values, replace), NULL, "let the key take the place of another one, after a new installation", NULL},
    {"yes", 'y', OPT_FLAG, offsetof(struct trust_values, yes), NULL, "store what the host shows, without asking: where nobody can stand in between", NULL},
    {0},
};

static const char *const verdicts[] = {
    [HOSTKEY_KNOWN] = "known",
    [HOSTKEY_UNKNOWN] = "not known yet",
    [HOSTKEY_OTHER_TYPE] = "not known yet; keys of other types are",
    [HOSTKEY_CHANGED] = "NOT the key that is known",
    [HOSTKEY_REVOKED] = "REVOKED",
};

static int show(struct cli *c, const char *text, const struct login_identity *who)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8192);

    buf_printf(&b, "%s: %s\n  key        %s %s\n", text, verdicts[who->verdict], who->type, who->fingerprint);
    if (who->known_file)
        buf_printf(&b, "  %s %s line %u\n", who->verdict == HOSTKEY_KNOWN ? "known from" : "against   ", who->known_file, who->known_line);
    return cli_write(c, &b);
}

/* A key that may be stored. */
struct offer {
    const char *fingerprint, *file, *host;
    const char *how; /* to see it on the host itself */
};

/* May it be stored: the user compares, or said before what it is. */
static bool agreed(struct cli *c, const struct trust_values *v, const struct offer *who, struct err *e)
{
    _cleanup_(buf_done) struct buf q = BUF_INIT(4096);
    char answer[200];

    if (v->fingerprint && strcmp(v->fingerprint, who->fingerprint) != 0) {
        (void)err_set(e, VF_EIDENTITY, "its key has another fingerprint than %s; nothing is stored", v->fingerprint);
        return false;
    }
    if (v->fingerprint || v->yes)
        return true;
    buf_printf(&q, "%s\nStore it in %s as %s? yes, no, or the fingerprint: ", who->how, who->file, who->host);
    if (!live_question(c, buf_z(&q), answer, sizeof answer)) {
        (void)err_set(e, VF_EIDENTITY, "not stored: there is no terminal to ask; give --fingerprint SHA256:...");
        return false;
    }
    if (strcmp(answer, "yes") != 0 && strcmp(answer, who->fingerprint) != 0) {
        (void)err_set(e, VF_EIDENTITY, "not stored");
        return false;
    }
    return true;
}

/* One host. Returns 0 or a negative code. */
static int trust(struct cli *c, const struct trust_values *v, const char *text, struct arena *a, struct err *e)
{
    struct login_identity who;
    struct target_host host;
    struct login_opt o;

    if (live_identity(c, text, &host, &o, a, &who, e) < 0)
        return e->code;
    if (show(c, text, &who) || fflush(c->out) != 0)
        return err_set(e, VF_EIO, "standard output: cannot be written");
    switch (who.verdict) {
    case HOSTKEY_KNOWN:
        if (v->fingerprint && strcmp(v->fingerprint, who.fingerprint) != 0)
            return err_set(e, VF_EIDENTITY, "%s: its key has another fingerprint than %s", text, v->fingerprint);
        return 0;
    case HOSTKEY_REVOKED:
        return err_set(e, VF_EIDENTITY, "%s: a revoked key is never stored; see %s line %u", text, who.known_file, who.known_line);
    case HOSTKEY_CHANGED:
        if (!v->replace)
            return err_set(e, VF_EIDENTITY, "%s: not stored. Was the host installed anew? Then --replace; else another machine may stand in its place", text);
        break;
    case HOSTKEY_UNKNOWN:
    case HOSTKEY_OTHER_TYPE:
        break;
    }
    if (!agreed(c, v, &(struct offer){who.fingerprint, who.file, who.host, "On the host: ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub"}, e) || login_store(&host, &o, &who, who.verdict == HOSTKEY_CHANGED, a, e) < 0)
        return err_ctx(e, "%s", text);
    (void)fprintf(c->out, "  stored in  %s\n", who.file);
    return 0;
}

/* The BMC of --bmc. Returns 0 or a negative code. */
static int trust_bmc(struct cli *c, const struct trust_values *v, struct arena *a, struct err *e)
{
    char now[HTTP_MAX_PIN];
    const char *site, *known;
    struct redfish_opt o;

    if (bmc_options(c, false, a, &o, e) < 0)
        return e->code;
    site = redfish_site(&o.http, a);
    if (pins_find(o.known, site, a, &known, e) < 0 || http_fingerprint(&o.http, now, e) < 0)
        return e->code;
    (void)fprintf(c->out, "%s: %s\n  key        %s\n", o.label, !known ? "not known yet" : strcmp(known, now) == 0 ? "known" : "NOT the key that is known", now);
    if (known)
        (void)fprintf(c->out, "  %s %s\n", strcmp(known, now) == 0 ? "known from" : "against   ", o.known);
    if (fflush(c->out) != 0)
        return err_set(e, VF_EIO, "standard output: cannot be written");
    if (known && strcmp(known, now) != 0 && !v->replace)
        return err_set(e, VF_EIDENTITY, "%s: it shows the key %s, known is %s; somebody may stand in between. Was its certificate replaced: --replace", o.label, now,
                       known);
    if (known && strcmp(known, now) == 0)
        return v->fingerprint && strcmp(v->fingerprint, now) != 0
                   ? err_set(e, VF_EIDENTITY, "%s: its key has another fingerprint than %s", o.label, v->fingerprint) : 0;
    if (!agreed(c, v, &(struct offer){now, o.known, site, "It is the SHA-256 of the certificate's public key, in base64. From the BMC's certificate file:\n"
                                      "  openssl x509 -in FILE -pubkey -noout | openssl pkey -pubin -outform der |\n"
                                      "  openssl dgst -sha256 -binary | base64"}, e) || pins_store(o.known, site, now, a, e) < 0)
        return err_ctx(e, "%s", o.label);
    (void)fprintf(c->out, "  stored in  %s\n", o.known);
    return 0;
}

static int run(struct cli *c, int argc, char **argv)
{
    struct trust_values v = {.yes = false};
    struct err e = {0};
    int n, status, failed = STATUS_OK;

    if (!cli_parse(c, &cmd_trust, &v, argc, argv, &n, &status))
        return status;
    if (n == 0 && !c->live_options.bmc)
        (void)err_set(&e, VF_EUSAGE, "which HOST?");
    else if (n > 0 && c->live_options.bmc)
        (void)err_set(&e, VF_EUSAGE, "a HOST, or --bmc BMC: one at a time");
    else if (v.fingerprint && n > 1)
        (void)err_set(&e, VF_EUSAGE, "--fingerprint is of one HOST");
    else if (v.fingerprint && strncmp(v.fingerprint, "SHA256:", 7) != 0)
        (void)err_set(&e, VF_EUSAGE, "--fingerprint begins with SHA256:, as ssh-keygen -l shows it");
    if (e.code)
        return cli_fail(c, "trust", &e);
    if (c->live_options.bmc) {
        _cleanup_(arena_done) struct arena *a = arena_new(16u << 20);

        if (trust_bmc(c, &v, a, &e) < 0)
            failed = cli_fail(c, "trust", &e);
    }
    for (int i = 0; i < n; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(64u << 20);

        e = (struct err){0};
        if (trust(c, &v, argv[i], a, &e) < 0)
            failed = cli_fail(c, "trust", &e);
    }
    return failed;
}

const struct command cmd_trust = {
    .name = "trust",
    .summary = "show the key of a host, and store it as known",
    .usage = "HOST...\n--bmc BMC",
    .examples = "vmkfit trust esx01\n"
                "vmkfit trust esx01 --fingerprint SHA256:kX1hJ0...\n"
                "vmkfit trust --replace esx01   # after a new installation\n"
                "vmkfit trust --bmc bmc01       # the key of a BMC's certificate\n",
    .description =
        "Connects, looks at the key that the host shows, and says whether it is known; no login is made. An unknown key is stored in the first of "
        "ssh's own files, mostly ~/.ssh/known_hosts, so that ssh knows it too, after you have compared the fingerprint with what the host itself "
        "prints on its console. Without that, whoever stands in between reads the password.\n\n"
        "With --bmc it is the key of the certificate that a BMC shows. It is stored in vmkfit's own bmc-keys (~/.local/state/vmkfit) and counts alone "
        "from then on, whoever signed the certificate; a BMC with a certificate of a known CA needs none.\n\n"
        "Exit status: 0 the key is known now, 1 a file could not be written, 3 the host was not reached or its key not stored.",
    .opts = trust_opts,
    .group = &hosts_over_ssh,
    .run = run,
};
