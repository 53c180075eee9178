#include "net/script.h"

#include <stdio.h>

#include "base/sh.h"

void script_init(struct script *s, const uint8_t random[16])
{
    for (unsigned i = 0; i < 16; i++)
        (void)snprintf(s->token + 2 * i, 3, "%02x", random[i]);
}

void script_start(const struct script *s, const struct script_shell *hung, struct buf *out)
{
    buf_addz(out, "LC_ALL=C; export LC_ALL; PATH=$PATH:/bin:/sbin:/usr/bin:/usr/sbin\n");
    buf_printf(out, "b() { echo; echo \"%s $*\"; { echo; echo \"%s $*\"; } >&2; }\n", s->token, s->token);
    if (hung && hung->pid > 1 && hung->parent > 1)
        buf_printf(out, "kill -0 %llu 2>/dev/null && { kill -9 -%llu 2>/dev/null || kill -9 -%llu 2>/dev/null; }\n", (unsigned long long)hung->pid,
                   (unsigned long long)hung->pid, (unsigned long long)hung->parent);
    buf_addz(out, "b 0 $$ $PPID\n");
}

/* Words of text as shell words, the value at its end as one. */
static int add_words(struct slice text, struct slice value, struct buf *out)
{
    struct slice rest = slice_cut(text, 0, text.n - value.n), word;

    for (bool first = true; slice_next_word(&rest, " ", &word); first = false) {
        if (!first)
            buf_addc(out, ' ');
        if (sh_quote(out, word) < 0)
            return -1;
    }
    if (value.n == 0)
        return 0;
    buf_addc(out, ' ');
    return value.p[0] == '-' ? -1 : sh_quote(out, value);
}

/* '/etc/vmware/default.map.d/'*.map */
static int add_pattern(struct slice path, struct buf *out)
{
    size_t star;

    while ((star = slice_find_char(path, 0, '*')) != SIZE_MAX) {
        if (star && sh_quote(out, slice_cut(path, 0, star)) < 0)
            return -1;
        buf_addc(out, '*');
        path = slice_from(path, star + 1);
    }
    return path.n ? sh_quote(out, path) : 0;
}

/* "/var/log/vmkernel.log": the one before is /var/run/log/vmkernel.0.gz */
static int add_files(struct slice path, struct buf *out)
{
    struct slice base = path;

    if (add_pattern(path, out) < 0)
        return -1;
    if (!slice_starts(path, "/var/log/") || !slice_ends(path, ".log"))
        return 0;
    base = slice_cut(path, 9, path.n - 9 - 4);
    buf_addz(out, " /var/run/log/");
    if (sh_quote(out, base) < 0)
        return -1;
    buf_addz(out, ".0.gz");
    return 0;
}

/* Names of a pattern's files are the host's: what is no plain one is neither read nor printed. */
static int add_loop(struct slice path, uint32_t number, struct buf *out)
{
    bool names = slice_find_char(path, 0, '*') != SIZE_MAX;

    buf_addz(out, names ? "o=0; for f in " : "for f in ");
    if (add_files(path, out) < 0)
        return -1;
    if (names)
        buf_printf(out, "; do [ -f \"$f\" ] && case $f in *[!A-Za-z0-9._/+-]*) o=1;; *) cat \"$f\" </dev/null; b %u $? \"$f\";; esac; done; b %u $o\n",
                   number, number);
    else
        buf_printf(out, "; do [ -f \"$f\" ] && { cat \"$f\" </dev/null; b %u $? \"$f\"; }; done; b %u 0\n", number, number);
    return 0;
}

int script_ask(const struct ask *q, uint32_t number, bool localcli, struct buf *out, struct err *e)
{
    _cleanup_(buf_done) struct buf line = BUF_INIT(64u << 10);
    int rc = 0;

    if (ask_readonly(q, e) < 0)
        return e->code;
    switch (q->kind) {
    case ASK_ESXCLI:
        buf_addz(&line, localcli ? "localcli " : "esxcli ");
        if (q->form == ASK_AS_XML)
            buf_addz(&line, "--formatter=xml ");
        rc = add_words(q->text, q->value, &line);
        break;
    case ASK_SHELL:
        rc = add_words(q->text, q->value, &line);
        break;
    case ASK_FILE:
        rc = add_loop(q->text, number, &line);
        break;
    case ASK_REDFISH:
        return err_set(e, VF_EUNSUPPORTED, "a BMC is not asked through a shell");
    }
    if (rc < 0 || line.cut)
        return err_set(e, VF_EDENIED, "\"" SLICE_FMT "\": an argument that cannot be sent as one word", SLICE_ARG(q->text));
    if (q->kind != ASK_FILE)
        buf_printf(&line, " </dev/null; b %u $?\n", number);
    buf_add(out, buf_slice(&line));
    return 0;
}

/* --- what comes back --- */

void splitter_init(struct splitter *sp, const struct script *s, size_t max)
{
    *sp = (struct splitter){.script = s, .held = BUF_INIT(max)};
}

void splitter_done(struct splitter *sp)
{
    buf_done(&sp->held);
}

void splitter_add(struct splitter *sp, struct slice bytes)
{
    buf_add(&sp->held, bytes);
}

/* "3 0 /bootbank/boot.cfg" */
static bool parse(struct slice line, struct boundary *b)
{
    struct slice number = slice_cut(line, 0, slice_find_char(line, 0, ' ')), status;
    uint64_t v;

    if (num_parse_u64(number, &v) < 0 || v > UINT32_MAX || number.n == line.n)
        return false;
    b->number = (uint32_t)v;
    line = slice_from(line, number.n + 1);
    status = slice_cut(line, 0, slice_find_char(line, 0, ' '));
    if (num_parse_i64(status, &b->status) < 0 || b->status < 0)
        return false;
    b->path = slice_from(line, status.n + 1);
    return true;
}

bool splitter_next(struct splitter *sp, struct slice *body, struct boundary *b)
{
    const size_t head = 1 + SCRIPT_TOKEN + 1; /* LF TOKEN ' ' */
    struct slice all = buf_slice(&sp->held);

    while (sp->looked < all.n) {
        size_t at = slice_find_char(all, sp->looked, '\n'), end;

        if (at == SIZE_MAX) {
            sp->looked = all.n;
            return false;
        }
        sp->looked = at; /* to begin here again when the line is not all there */
        if (all.n - at < head)
            return false;
        if (memcmp(all.p + at + 1, sp->script->token, SCRIPT_TOKEN) == 0 && all.p[at + head - 1] == ' ') {
            end = slice_find_char(all, at + head, '\n');
            if (end == SIZE_MAX)
                return false;
            if (parse(slice_cut(all, at + head, end - at - head), b)) {
                *body = slice_cut(all, 0, at);
                sp->next = end + 1;
                return true;
            }
        }
        sp->looked = at + 1;
    }
    return false;
}

void splitter_drop(struct splitter *sp)
{
    memmove(sp->held.p, sp->held.p + sp->next, sp->held.n - sp->next);
    sp->held.n -= sp->next;
    sp->looked = sp->next = 0;
}

struct slice splitter_rest(const struct splitter *sp)
{
    return buf_slice(&sp->held);
}
