#include "net/pins.h"

#include "base/buf.h"
#include "base/fsw.h"
#include "base/fsx.h"

/* base64 of 32 bytes behind "SHA256:" */
static bool is_pin(struct slice s)
{
    if (!slice_starts(s, "SHA256:") || s.n != 51 || s.p[50] != '=')
        return false;
    for (size_t i = 7; i < 50; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '+' || s.p[i] == '/'))
            return false;
    return true;
}

static int read_file(const char *path, struct arena *a, struct slice *out, struct err *e)
{
    bool cut = false;

    *out = (struct slice){NULL, 0};
    if (fsx_kind(path) == FSX_NONE)
        return 0;
    if (fsx_read(path, PINS_MAX_FILE, a, out, &cut, e) < 0)
        return e->code;
    return cut ? err_set(e, VF_ELIMIT, "%s: larger than a file of known keys may be", path) : 0;
}

/* The site and the pin of a line; empty for a comment. */
static int parse(const char *path, struct slice line, unsigned number, struct slice *site, struct slice *pin, struct err *e)
{
    struct slice rest = slice_trim(line), more;

    *site = *pin = (struct slice){NULL, 0};
    if (rest.n == 0 || rest.p[0] == '#')
        return 0;
    if (!slice_next_word(&rest, " \t\r", site) || !slice_next_word(&rest, " \t\r", pin) || slice_next_word(&rest, " \t\r", &more) || !is_pin(*pin))
        return err_set(e, VF_EFORMAT, "%s:%u: not \"host:port SHA256:...\"; mend the line or take it out", path, number);
    return 0;
}

int pins_find(const char *path, const char *site, struct arena *a, const char **out, struct err *e)
{
    struct slice rest, line, who, pin;
    unsigned number = 0;

    *out = NULL;
    if (read_file(path, a, &rest, e) < 0)
        return e->code;
    while (slice_next_line(&rest, &line, NULL)) {
        if (parse(path, line, ++number, &who, &pin, e) < 0)
            return e->code;
        if (!slice_eqz(who, site))
            continue;
        if (*out && !slice_eqz(pin, *out))
            return err_set(e, VF_EFORMAT, "%s:%u: a second key of %s; take the wrong one out", path, number, site);
        *out = arena_dup(a, pin).p;
    }
    return 0;
}

int pins_store(const char *path, const char *site, const char *pin, struct arena *a, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(PINS_MAX_FILE);
    struct slice rest, line, who, old;
    unsigned number = 0;

    if (read_file(path, a, &rest, e) < 0)
        return e->code;
    while (slice_next_line(&rest, &line, NULL)) {
        if (parse(path, line, ++number, &who, &old, e) < 0)
            return e->code;
        if (slice_eqz(who, site))
            continue;
        buf_add(&b, line);
        buf_addc(&b, '\n');
    }
    buf_printf(&b, "%s %s\n", site, pin);
    if (b.cut)
        return err_set(e, VF_ELIMIT, "%s: no room for one more", path);
    if (fsw_make_parents(path, e) < 0)
        return e->code;
    return fsw_replace(path, buf_slice(&b), e);
}
