#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fsw.h"
#include "base/fsx.h"
#include "cmd/places.h"
#include "cmd/rules_parts.h"
#include "core/lint.h"

#define MAX_PEM (64u << 10)

/* "acme 7", as its rules are named. */
static const char *pack_label(struct rules_run *r, const struct pack *p)
{
    return arena_printf(r->env.arena, SLICE_FMT " %llu", SLICE_ARG(p->name), (unsigned long long)p->serial);
}

static int fail(struct rules_run *r, const struct err *e)
{
    return cli_fail(r->c, "rules", e);
}

/* --- making one --- */

int rules_key(struct rules_run *r)
{
    _cleanup_(buf_done) struct buf secret = BUF_INIT(MAX_PEM), open = BUF_INIT(MAX_PEM), fingerprint = BUF_INIT(100);
    const char *path = r->nfiles ? r->files[0] : NULL, *pub = path ? arena_printf(r->env.arena, "%s.pub", path) : NULL;
    struct sign_public key;
    struct err e = {0};

    if (!path)
        (void)err_set(&e, VF_EUSAGE, "key wants the FILE to write the private key to; the public one goes to FILE.pub");
    else if (fsx_kind(path) != FSX_NONE || fsx_kind(pub) != FSX_NONE)
        (void)err_set(&e, VF_EUSAGE, "%s exists; a key is never written over", fsx_kind(path) != FSX_NONE ? path : pub);
    else if (sign_new_pair(&secret, &open, &e) == 0 && sign_read_public(buf_slice(&open), pub, &key, &e) == 0 &&
             fsw_replace(path, buf_slice(&secret), &e) == 0)
        (void)fsw_write(pub, buf_slice(&open), &e);
    if (secret.p)
        explicit_bzero(secret.p, secret.cap);
    if (e.code)
        return fail(r, &e);
    sign_fingerprint(&key, &fingerprint);
    buf_printf(r->out, "%s\n", buf_z(&fingerprint));
    rules_say(r, arena_printf(r->env.arena, "Keep %s to yourself. Machines that have %s in /etc/vmkfit/keys.d trust what it signs.", path, pub));
    return STATUS_OK;
}

struct collecting {
    struct rules_run *r;
    struct pack *p;
};

static int collect_file(void *ctx, const char *path, struct err *e)
{
    struct collecting *c = ctx;
    struct arena *a = c->r->env.arena;
    struct slice name = slice_of(path);

    for (size_t at = slice_find_char(name, 0, '/'); at != SIZE_MAX; at = slice_find_char(name, 0, '/'))
        name = slice_from(name, at + 1);
    if (!pack_name_valid(name))
        return err_set(e, VF_EUSAGE, "%s: in a pack the name of a file has letters, digits, \".\", \"_\" and \"-\" only", path);
    for (size_t i = 0; i < c->p->nfiles; i++)
        if (slice_eq(c->p->files[i].name, name))
            return err_set(e, VF_EUSAGE, "%s: the pack already has a file of this name", path);
    if (c->p->nfiles == PACK_MAX_FILES)
        return err_set(e, VF_ELIMIT, "a pack has at most %u files", PACK_MAX_FILES);
    if (fsx_read(path, PACK_MAX, a, &c->p->files[c->p->nfiles].bytes, NULL, e) < 0)
        return e->code;
    c->p->files[c->p->nfiles++].name = arena_dup(a, name);
    return 0;
}

static uint64_t serial_of(const char *text)
{
    uint64_t n = 0;
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 18 || text[digits])
        return 0;
    for (; *text; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    return n;
}

/* Name, serial and date of the pack to be made. */
static int describe(struct rules_run *r, struct pack *p, struct err *e)
{
    struct slice day = cli_today(r->env.arena);

    if (!r->v->key || !r->v->name || r->nfiles == 0)
        return err_set(e, VF_EUSAGE, "sign wants rule files, --key FILE (vmkfit rules key makes one) and --name NAME");
    p->name = slice_of(r->v->name);
    if (!pack_name_valid(p->name))
        return err_set(e, VF_EUSAGE, "--name: letters, digits, \".\", \"_\" and \"-\", at most 64, not \"%s\"", r->v->name);
    p->date = r->v->date ? slice_of(r->v->date) : day;
    if (!rule_date(p->date))
        return err_set(e, VF_EUSAGE, "--date: a day such as 2026-11-30, not \"%s\"", r->v->date);
    p->serial = serial_of(r->v->serial ? r->v->serial
                                       : arena_printf(r->env.arena, SLICE_FMT SLICE_FMT SLICE_FMT, SLICE_ARG(slice_cut(p->date, 0, 4)),
                                                      SLICE_ARG(slice_cut(p->date, 5, 2)), SLICE_ARG(slice_cut(p->date, 8, 2))));
    return p->serial ? 0 : err_set(e, VF_EUSAGE, "--serial: a number from 1 up to 18 digits, not \"%s\"", r->v->serial);
}

/* --- proving one --- */

/* The pack's rules on top of what is in use here: all load, lint finds no error, every example passes. Counts stay in r. */
static int prove(struct rules_run *r, const struct pack *p, size_t *rules, size_t *replacing, struct err *e)
{
    struct lint l = {.rules = &r->rules, .arena = r->env.arena, .without_results = true};

    r->pack = pack_label(r, p);
    r->layers.without = arena_dup(r->env.arena, p->name).p;
    *rules = *replacing = 0;
    if (layers_rules_with(&r->layers, p, r->pack, &r->rules, e) < 0)
        return e->code;
    for (size_t i = 0; i < r->rules.rules.n; i++) {
        const struct rule *rule = r->rules.rules.v[i];

        if (!rules_concern(r, rule->file))
            continue;
        lint_rule(&l, rule);
        ++*rules;
        *replacing += rule->replaced != NULL;
    }
    for (size_t i = 0; i < l.n; i++)
        if (l.v[i].error) {
            buf_printf(r->out, "%s:%u: ", l.v[i].file, l.v[i].place.line);
            rules_say(r, l.v[i].text);
            r->errors++;
        }
    if (r->errors)
        return err_set(e, VF_EFORMAT, "%s: %zu mistakes that rules lint finds", r->pack, r->errors);
    if (rules_test_examples(r, e) < 0)
        return e->code;
    return r->failed ? err_set(e, VF_EFORMAT, "%s: %zu of %zu examples fail in this program", r->pack, r->failed, r->failed + r->passed)
                     : *rules ? 0 : err_set(e, VF_EFORMAT, "%s: no rule in it", r->pack);
}

static void tell(struct rules_run *r, const struct pack *p, size_t rules, size_t replacing)
{
    buf_printf(r->out, "%zu rule%s", rules, rules == 1 ? "" : "s");
    if (replacing)
        buf_printf(r->out, ", %zu of them in place of another of the same id", replacing);
    buf_printf(r->out, "; %zu examples pass; dated " SLICE_FMT "\n", r->passed, SLICE_ARG(p->date));
}

int rules_sign(struct rules_run *r)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(PACK_MAX + PACK_MAX_HEAD);
    struct pack *p = arena_alloc(r->env.arena, sizeof *p), *back = arena_alloc(r->env.arena, sizeof *p);
    struct collecting c = {r, p};
    const char *to;
    struct slice *files, pem;
    size_t n = rules_operands(r, &files), rules, replacing;
    struct err e = {0};

    if (!p || !back)
        return STATUS_FAILED;
    *p = (struct pack){.nfiles = 0};
    if (describe(r, p, &e) < 0 || env_rules_files(&r->env, files, n, false, collect_file, &c, &e) < 0)
        return fail(r, &e);
    to = r->v->output ? r->v->output : arena_printf(r->env.arena, "%s" PACK_SUFFIX, r->v->name);
    if (fsx_kind(to) != FSX_NONE && !r->v->force)
        (void)err_set(&e, VF_EUSAGE, "%s exists; --force replaces it", to);
    else if (prove(r, p, &rules, &replacing, &e) == 0 && fsx_read(r->v->key, MAX_PEM, r->env.arena, &pem, NULL, &e) == 0 &&
             pack_write(p, pem, r->v->key, &out, &e) == 0 && pack_read(buf_slice(&out), to, back, &e) == 0)
        (void)fsw_write(to, buf_slice(&out), &e);
    if (e.code)
        return fail(r, &e);
    buf_printf(r->out, "%s: %s, ", to, r->pack);
    tell(r, p, rules, replacing);
    return STATUS_OK;
}

/* The pack that was named, its bytes, and who has signed it. */
static int open_named(struct rules_run *r, const char *verb, struct pack **p, struct slice *bytes, const struct trusted_key **by, struct err *e)
{
    *p = arena_alloc(r->env.arena, sizeof **p);
    if (!*p)
        return err_set(e, VF_ELIMIT, "no room left");
    if (r->nfiles == 0)
        return err_set(e, VF_EUSAGE, "%s wants a PACK, a file that rules sign has written", verb);
    r->layers.keys_only = r->v->keys;
    if (r->v->keys && fsx_kind(r->v->keys) != FSX_FOLDER)
        return err_set(e, VF_ENOTFOUND, "--keys %s: no such folder", r->v->keys);
    if (fsx_read(r->files[0], PACK_MAX + PACK_MAX_HEAD, r->env.arena, bytes, NULL, e) < 0)
        return e->code;
    return layers_open_pack(&r->layers, *bytes, r->files[0], *p, by, e);
}

int rules_verify(struct rules_run *r)
{
    const struct trusted_key *by;
    struct pack *p;
    struct slice bytes;
    size_t rules, replacing;
    struct err e = {0};

    if (open_named(r, "verify", &p, &bytes, &by, &e) < 0 || prove(r, p, &rules, &replacing, &e) < 0)
        return fail(r, &e);
    buf_printf(r->out, "%s: signed by %s, " SLICE_FMT "\n", r->pack, by->path, SLICE_ARG(p->key));
    tell(r, p, rules, replacing);
    return STATUS_OK;
}

/* --- putting it into place --- */

static const char *place(struct rules_run *r, struct slice name, const char *behind)
{
    return arena_printf(r->env.arena, "%s/" SLICE_FMT PACK_SUFFIX "%s", layers_home(r->c, r->env.arena), SLICE_ARG(name), behind);
}

/*
 * Only one at a time changes what is installed, from the look at what is there on: else an older pack might come last. The folder is made when it
 * is missing. -1 with e set; closing the descriptor ends the hold.
 */
static int hold(struct rules_run *r, struct err *e)
{
    const char *home = layers_home(r->c, r->env.arena);
    int fd;

    if (strcmp(home, PLACE_SYSTEM_STATE "/rules") == 0) { /* every user of the machine scans with what root has installed */
        (void)mkdir(PLACE_SYSTEM_STATE, 0755);
        (void)mkdir(home, 0755);
    }
    if (fsw_make_parents(arena_printf(r->env.arena, "%s/x", home), e) < 0)
        return -1;
    fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    (void)err_set(e, VF_EIO, "%s: %s", home, strerror(errno));
    fsx_close(&fd);
    return -1;
}

/* The pack at a path, proven or not: what is in use there may be damaged, and is replaced then. NULL when there is none. */
static struct pack *look(struct rules_run *r, const char *path, struct slice *bytes)
{
    struct pack *p = arena_alloc(r->env.arena, sizeof *p);
    struct err e = {0};

    return p && fsx_kind(path) == FSX_FILE && fsx_read(path, PACK_MAX + PACK_MAX_HEAD, r->env.arena, bytes, NULL, &e) == 0 &&
                   pack_read(*bytes, path, p, &e) == 0 ? p : NULL;
}

/* May it take the place of the one before? */
static int may_replace(const struct rules_run *r, const struct pack *before, const struct pack *p, struct err *e)
{
    if (!before || r->v->force)
        return 0;
    if (before->serial > p->serial)
        return err_set(e, VF_EDENIED, "%s is older than the installed " SLICE_FMT " %llu; --force installs it nevertheless", r->pack,
                       SLICE_ARG(before->name), (unsigned long long)before->serial);
    if (before->serial == p->serial)
        return err_set(e, VF_EDENIED, "%s is installed already, with other contents; --force replaces it", r->pack);
    if (!slice_eq(before->key, p->key))
        return err_set(e, VF_EDENIED, "%s is signed by another key than the installed one, which has " SLICE_FMT "; --force installs it nevertheless",
                       r->pack, SLICE_ARG(before->key));
    return 0;
}

int rules_install(struct rules_run *r)
{
    const struct trusted_key *by;
    struct pack *p, *before;
    struct slice bytes, old = {NULL, 0};
    _cleanup_(fsx_close) int held = -1;
    size_t rules, replacing;
    const char *to;
    struct err e = {0};

    if (open_named(r, "install", &p, &bytes, &by, &e) < 0 || (held = hold(r, &e)) < 0)
        return fail(r, &e);
    to = place(r, p->name, "");
    before = look(r, to, &old);
    r->pack = pack_label(r, p);
    if (before && slice_eq(old, bytes)) {
        buf_printf(r->out, "%s is installed already\n", r->pack);
        return STATUS_OK;
    }
    if (may_replace(r, before, p, &e) < 0 || prove(r, p, &rules, &replacing, &e) < 0 ||
        (before && fsw_write(place(r, p->name, ".previous"), old, &e) < 0) || fsw_write(to, bytes, &e) < 0)
        return fail(r, &e);
    buf_printf(r->out, "%s is installed", r->pack);
    if (before)
        buf_printf(r->out, " in place of %s, which vmkfit rules rollback " SLICE_FMT " brings back", pack_label(r, before), SLICE_ARG(p->name));
    buf_addz(r->out, ": ");
    tell(r, p, rules, replacing);
    if (r->v->keys)
        cli_warn(r->c, "it is used only where its key lies in /etc/vmkfit/keys.d or ~/.config/vmkfit/keys.d");
    return STATUS_OK;
}

/* The name that was given, of an installed pack. */
static int installed(struct rules_run *r, const char *verb, struct slice *name, struct err *e)
{
    *name = slice_of(r->nfiles ? r->files[0] : NULL);
    if (r->nfiles == 0 || !pack_name_valid(*name))
        return err_set(e, VF_EUSAGE, "%s wants the NAME of a pack, see vmkfit rules packs", verb);
    return fsx_kind(place(r, *name, "")) != FSX_NONE || fsx_kind(place(r, *name, ".previous")) != FSX_NONE
               ? 0 : err_set(e, VF_ENOTFOUND, "no pack %s in %s", r->files[0], layers_home(r->c, r->env.arena));
}

int rules_rollback(struct rules_run *r)
{
    const struct trusted_key *by;
    struct pack *p = arena_alloc(r->env.arena, sizeof *p);
    struct slice name, bytes;
    _cleanup_(fsx_close) int held = -1;
    size_t rules, replacing;
    const char *from;
    struct err e = {0};

    if (!p || installed(r, "rollback", &name, &e) < 0 || (held = hold(r, &e)) < 0)
        return fail(r, &e);
    from = place(r, name, ".previous");
    if (fsx_kind(from) == FSX_NONE) {
        (void)err_set(&e, VF_ENOTFOUND, "%s: no pack was replaced by the one that is installed", r->files[0]);
        return fail(r, &e);
    }
    if (fsx_read(from, PACK_MAX + PACK_MAX_HEAD, r->env.arena, &bytes, NULL, &e) < 0 || layers_open_pack(&r->layers, bytes, from, p, &by, &e) < 0 ||
        prove(r, p, &rules, &replacing, &e) < 0 || fsw_write(place(r, name, ""), bytes, &e) < 0)
        return fail(r, &e);
    (void)unlink(from); /* else it would be the pack itself that comes back next time */
    buf_printf(r->out, "%s is back\n", pack_label(r, p));
    return STATUS_OK;
}

int rules_remove(struct rules_run *r)
{
    struct slice name;
    _cleanup_(fsx_close) int held = -1;
    const char *path;
    struct err e = {0};

    if (installed(r, "remove", &name, &e) < 0 || (held = hold(r, &e)) < 0)
        return fail(r, &e);
    path = place(r, name, "");
    if ((unlink(path) < 0 && errno != ENOENT) || (unlink(place(r, name, ".previous")) < 0 && errno != ENOENT)) {
        (void)err_set(&e, VF_EIO, "%s: %s", path, strerror(errno));
        return fail(r, &e);
    }
    rules_say(r, arena_printf(r->env.arena, "%s is removed; its rules are not used any more", r->files[0]));
    return STATUS_OK;
}

int rules_packs(struct rules_run *r)
{
    static const struct text_column columns[] = {{"pack", false, TEXT_KEEP}, {"dated", false, TEXT_KEEP}, {"rules", true, TEXT_KEEP},
                                                 {"before", false, TEXT_KEEP}, {"signed by", false, TEXT_WRAP}};
    struct text_table *t;
    struct err e = {0};
    size_t n = 0;

    if (layers_rules(&r->layers, NULL, 0, &r->rules, &e) < 0)
        return fail(r, &e);
    t = text_table_new(columns, 5);
    for (size_t i = 0; i < r->layers.n; i++) {
        const struct layer *x = &r->layers.v[i];
        struct slice bytes;
        struct pack *before = x->pack ? look(r, arena_printf(r->env.arena, "%s.previous", x->path), &bytes) : NULL;
        struct slice cells[] = {slice_of(x->name), x->date, slice_of(x->refused ? "not used" : arena_printf(r->env.arena, "%zu", x->rules)),
                                slice_of(before ? pack_label(r, before) : "-"), x->pack ? x->pack->key : slice_of("-")};

        if (!slice_ends(slice_of(x->path), PACK_SUFFIX))
            continue;
        text_table_add(t, cells);
        n++;
    }
    if (n)
        text_table_print(t, cli_table_width(r->c), r->out);
    else
        rules_say(r, arena_printf(r->env.arena, "no packs in %s", layers_home(r->c, r->env.arena)));
    text_table_free(&t);
    return r->layers.refused ? STATUS_INCOMPLETE : STATUS_OK;
}
