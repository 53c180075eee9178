#include "core/derive.h"

#include <time.h>

#include "base/map.h"

/* What the host boots from, what waits for the next boot, how much log there is. */

static struct value boot_device(struct facts *f)
{
    const struct value *undecided = NULL, *booted = facts_cell(f, facts_single(f, "host"), "boot-uuid");
    const struct row *d, *hit = NULL;
    const char *why;

    for (size_t i = 0; (d = derive_row(f, "device", i)); i++) {
        const struct value *boot = facts_cell(f, d, "boot");

        if (known_bool(boot, true)) {
            if (hit)
                return value_unknown("several devices are marked as boot device");
            hit = d;
        } else if (boot->state != VS_KNOWN) {
            undecided = boot;
        }
    }
    if (hit)
        return derive_from(value_slice(hit->key), facts_cell(f, hit, "boot"));
    if (facts_table(f, facts_table_index(f, "device"), &why) != TS_COMPLETE)
        return value_unknown(arena_printf(f->arena, "device list: %s", why));
    if (undecided)
        return derive_unknown(f, "boot mark of a device", undecided);
    if (booted->state == VS_ABSENT) /* from the network: there is no boot file system */
        return value_absent();
    return booted->state == VS_KNOWN ? value_unknown("no device is marked as boot device, yet the host booted from a file system")
                                     : derive_unknown(f, "no device is marked as boot device, and the boot file system is not known", booted);
}

/* Do two versions begin with the same release, 6.7 in 6.7.0-0.0.8169922. */
static bool same_release(const struct value *a, const struct value *b)
{
    unsigned dots = 0;

    if (a->state != VS_KNOWN || b->state != VS_KNOWN)
        return false;
    for (size_t n = 0; n < a->s.n && n < b->s.n && a->s.p[n] == b->s.p[n]; n++)
        if (a->s.p[n] == '.' && ++dots == 2)
            return true;
    return false;
}

static struct value staged_as(struct facts *f, const struct row *adapter)
{
    unsigned vibs = facts_table_index(f, "vib"), table = facts_table_index(f, "staged-vib");
    const struct value *name = facts_cell(f, adapter, "vib"), *now, *next;
    const struct row *vib = facts_ref(f, adapter, "vib"), *base = facts_find(f, table, SLICE_LIT("esx-base")), *staged;
    const char *why;
    enum table_state state = facts_table(f, table, &why);
    int order;

    if (!derive_row(f, "staged-vib", 0) && state == TS_COMPLETE)
        return value_absent();
    if (!vib)
        return derive_unknown(f, "VIB of the driver", name);
    staged = facts_find(f, table, vib->key);
    if (!staged && state != TS_COMPLETE)
        return value_unknown(arena_printf(f->arena, "staged VIBs: %s", why));
    if (!staged)
        return value_slice(same_release(facts_cell(f, facts_find(f, vibs, SLICE_LIT("esx-base")), "version"), facts_cell(f, base, "version"))
                               ? SLICE_LIT("gone") : SLICE_LIT("unlisted"));
    now = facts_cell(f, vib, "version");
    next = facts_cell(f, staged, "version");
    if (now->state != VS_KNOWN || next->state != VS_KNOWN)
        return derive_unknown(f, "version of its VIB", now->state != VS_KNOWN ? now : next);
    if (version_order(next->s, now->s, SCHEME_VIB, &order) < 0)
        return value_unknown("its versions now and at the next boot are not ordered");
    return derive_from(value_slice(order < 0 ? SLICE_LIT("older") : order > 0 ? SLICE_LIT("newer") : SLICE_LIT("same")), next);
}

/*
 * The other boot bank boots next: an update was installed there, or the two were swapped. NULL when not so; *open then says what does not fit
 * or is not known of the banks. bootstate: 0 good, 1 just installed; 2 failed and 3 empty do not boot.
 */
static const struct value *bank_pending(struct facts *f, const char **open)
{
    unsigned table = facts_table_index(f, "bootbank");
    const struct row *now = facts_find(f, table, SLICE_LIT("/bootbank")), *other = facts_find(f, table, SLICE_LIT("/altbootbank"));
    const struct value *a = facts_cell(f, now, "updated"), *b = facts_cell(f, other, "updated"), *state = facts_cell(f, other, "state");

    const struct value *build = facts_cell(f, now, "build"), *running = facts_cell(f, facts_single(f, "esxi"), "build");
    const struct value *mine = facts_cell(f, now, "state");

    *open = NULL;
    if (state->state == VS_KNOWN && state->i == 1)
        return state;
    if (!now || !other)
        *open = arena_printf(f->arena, NO_ANSWER_TO "\"%s\"", now ? "/altbootbank/boot.cfg" : "/bootbank/boot.cfg");
    for (unsigned i = 0; i < 2 && now && other; i++) {
        static const char *const columns[] = {"state", "updated", "build"};

        for (unsigned k = 0; k < 3; k++) {
            const struct value *v = facts_cell(f, i ? other : now, columns[k]);

            if (i == 1 && k > 0 && state->state == VS_KNOWN && state->i >= 2) /* failed or empty: the rest of it does not matter */
                break;
            if (v->state != VS_KNOWN)
                *open = arena_printf(f->arena, "%s of " SLICE_FMT ": %s", columns[k], SLICE_ARG((i ? other : now)->key), v->why ? v->why : "none");
        }
    }
    if (running->state != VS_KNOWN)
        *open = arena_printf(f->arena, "the running build: %s", running->why ? running->why : "not read");
    if (mine->state == VS_KNOWN && mine->i != 0)
        *open = arena_printf(f->arena, "the running boot bank is marked with bootstate %lld", (long long)mine->i);
    if (build->state == VS_KNOWN && running->state == VS_KNOWN &&
        !slice_ends(build->s, arena_printf(f->arena, ".%lld", (long long)running->i)))
        *open = arena_printf(f->arena, "the boot bank holds " SLICE_FMT ", and build %lld runs", SLICE_ARG(build->s), (long long)running->i);
    if (a->state != VS_KNOWN || b->state != VS_KNOWN || b->i <= a->i || state->state != VS_KNOWN)
        return NULL;
    return state->i == 0 ? b : NULL;
}

static struct value reboot_pending(struct facts *f)
{
    const struct value *staged = facts_cell(f, facts_single(f, "esxi"), "staged-profile"), *bank, *open = NULL;
    const struct row *m, *vib = derive_row(f, "staged-vib", 0); /* the command lists nothing unless an image is staged */
    const char *why, *banks;

    bank = bank_pending(f, &banks);

    if (staged->state == VS_KNOWN)
        return derive_from(value_bool(true), staged);
    if (vib || bank)
        return derive_from(value_bool(true), vib ? facts_cell(f, vib, "name") : bank);
    if (staged->state == VS_UNKNOWN)
        open = staged;
    for (size_t i = 0; (m = derive_row(f, "module", i)); i++) {
        const struct value *p = facts_cell(f, m, "change-pending");

        if (known_bool(p, true))
            return derive_from(value_bool(true), p);
        if (p->state != VS_KNOWN)
            open = p;
    }
    if (facts_table(f, facts_table_index(f, "module"), &why) != TS_COMPLETE)
        return value_unknown(arena_printf(f->arena, "module list: %s", why));
    return open ? derive_unknown(f, "staged image or a module", open) : banks ? value_unknown(banks) : value_bool(false);
}

int64_t derive_minute(struct slice time)
{
    struct slice rest = time, word;
    uint64_t v[6];
    struct tm tm = {.tm_year = 100};
    unsigned n = 0, at;

    while (n < 5 && slice_next_word(&rest, "-T:", &word))
        if (num_parse_u64(slice_cut(word, 0, 4), &v[n]) < 0 || v[n++] > 9999)
            return -1;
    at = time.n > 4 && time.p[4] == '-' ? 1 : 0;
    if (n < 4 + at)
        return -1;
    if (at)
        tm.tm_year = (int)v[0] - 1900;
    tm.tm_mon = (int)v[at] - 1;
    tm.tm_mday = (int)v[at + 1];
    tm.tm_hour = (int)v[at + 2];
    tm.tm_min = (int)v[at + 3];
    return (int64_t)timegm(&tm) / 60;
}

static struct value log_minutes(struct facts *f, const struct row *host)
{
    const struct value *first = facts_cell(f, host, "log-first"), *last = facts_cell(f, host, "log-last");
    int64_t from, to;

    if (first->state != VS_KNOWN || last->state != VS_KNOWN)
        return derive_unknown(f, "log", first);
    from = derive_minute(first->s);
    to = derive_minute(last->s);
    return from < 0 || to < from ? value_unknown("a time in the log is of another form") : derive_from(value_int(to - from), first);
}

/*
 * Modules in the backtrace of a purple screen: those that frames name, and those that the screen lists as involved. Frames are printed for
 * lesser reasons too, so without a crash in the log they say nothing.
 */
static void crashed_modules(struct facts *f, const struct row *host)
{
    unsigned log = facts_table_index(f, "log");
    const struct value *minutes = facts_cell(f, host, "log-minutes");
    struct map names = {0};
    const struct row *r, *m;
    const char *why;
    bool crash = false, read = facts_table(f, log, &why) == TS_COMPLETE;

    if (read && minutes->state == VS_KNOWN && minutes->i < 60) {
        read = false;
        why = "it covers too little time";
    }
    for (size_t i = 0; (r = derive_row(f, "log", i)); i++) {
        const struct value *kind = facts_cell(f, r, "kind");
        const struct value *name = facts_cell(f, r, known_text(kind, "crash-module") ? "subject" : "driver");

        crash |= known_text(kind, "crash") || known_text(kind, "crash-module");
        if ((known_text(kind, "crash-frame") || known_text(kind, "crash-module")) && name->state == VS_KNOWN &&
            map_put(&names, f->arena, name->s, 1) < 0) {
            read = false;
            why = "no memory";
        }
    }
    for (size_t i = 0; (m = derive_row(f, "module", i)); i++) {
        bool hit = crash && map_get(&names, m->key) != MAP_NONE;

        derive_set(f, m, "crashed", hit || read ? value_bool(hit) : value_unknown(arena_printf(f->arena, "log: %s", why)));
    }
}

void derive_host(struct facts *f, const struct derive_env *env)
{
    const struct row *h = facts_single(f, "host"), *r, *device;
    const struct value *uptime = facts_cell(f, h, "uptime");
    const char *why;
    int64_t n = 0;
    bool vsan = false;

    (void)env;
    derive_set(f, h, "log-minutes", log_minutes(f, h));
    crashed_modules(f, h);
    derive_set(f, h, "uptime-days", uptime->state == VS_KNOWN ? derive_from(value_int(uptime->i / 86400), uptime) : derive_unknown(f, "uptime", uptime));
    derive_set(f, h, "boot-device", boot_device(f));
    device = facts_ref(f, h, "boot-device");
    if (!device) {
        const struct value *b = facts_cell(f, h, "boot-device");

        derive_set(f, h, "boot-adapter", b->state == VS_ABSENT ? value_absent() : derive_unknown(f, "boot device", b));
        derive_set(f, h, "boot-usb", b->state == VS_ABSENT ? value_bool(false) : derive_unknown(f, "boot device", b));
    } else {
        const struct value *adapters = facts_cell(f, device, "adapters"), *usb = facts_cell(f, device, "usb");

        derive_set(f, h, "boot-adapter",
                   adapters->state == VS_KNOWN && adapters->nlist ? derive_from(value_slice(adapters->list[0]), adapters)
                                                                  : derive_unknown(f, "paths of the boot device", adapters));
        derive_set(f, h, "boot-usb",
                   usb->state == VS_KNOWN ? *usb
                   : known_text(facts_cell(f, device, "transport"), "usb") ? value_bool(true)
                                                                           : derive_unknown(f, "boot device", usb));
    }
    for (size_t i = 0; (r = derive_row(f, "pci", i)); i++)
        n += facts_cell(f, r, "class")->state == VS_KNOWN && slice_starts(facts_cell(f, r, "class")->s, "01");
    derive_set(f, h, "pci-storage", facts_table(f, facts_table_index(f, "pci"), &why) == TS_COMPLETE
                                        ? value_int(n)
                                        : value_unknown(arena_printf(f->arena, "PCI list: %s", why)));
    for (size_t i = 0; (r = derive_row(f, "datastore", i)); i++)
        vsan |= known_text(facts_cell(f, r, "type"), "vsan");
    derive_set(f, h, "vsan", vsan ? value_bool(true)
                             : facts_table(f, facts_table_index(f, "datastore"), &why) == TS_COMPLETE
                                 ? value_bool(false)
                                 : value_unknown(arena_printf(f->arena, "file systems: %s", why)));
    derive_set(f, h, "reboot-pending", reboot_pending(f));
    /* which adapter carries the boot device: needs host.boot-adapter, so it comes last */
    for (size_t i = 0; (r = derive_row(f, "adapter", i)); i++) {
        const struct value *b = facts_cell(f, h, "boot-adapter");

        derive_set(f, r, "boots", b->state == VS_UNKNOWN ? *b
                                                         : derive_from(value_bool(b->state == VS_KNOWN && slice_eq(b->s, r->key)), b));
        derive_set(f, r, "staged", staged_as(f, r));
    }
}
