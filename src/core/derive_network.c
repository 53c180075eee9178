#include "core/derive.h"

#include "base/map.h"

/* Switches of NICs and VMkernel ports, links lost at once; NFS servers outside every VMkernel subnet. */

static struct value routed(struct facts *f, const struct row *n)
{
    const struct value *host = facts_cell(f, n, "host");
    uint32_t server, address, mask;
    const struct row *k;
    const char *why;
    bool any = false, open = false;

    if (host->state != VS_KNOWN)
        return derive_unknown(f, "server", host);
    if (!derive_ipv4(host->s, &server))
        return value_unknown("the server is given by name, not by an IPv4 address");
    for (size_t i = 0; (k = derive_row(f, "vmknic", i)); i++) {
        const struct value *ip = facts_cell(f, k, "ipv4"), *nm = facts_cell(f, k, "netmask");

        if (ip->state == VS_KNOWN && nm->state == VS_KNOWN && derive_ipv4(ip->s, &address) && derive_ipv4(nm->s, &mask)) {
            any = true;
            if (mask && (server & mask) == (address & mask))
                return value_bool(false);
        } else if (ip->state == VS_UNKNOWN) {
            open = true;
        }
    }
    if (facts_table(f, facts_table_index(f, "vmknic"), &why) != TS_COMPLETE)
        return value_unknown(arena_printf(f->arena, "VMkernel ports: %s", why));
    if (open || !any)
        return value_unknown("the address of a VMkernel port is not known");
    return value_bool(true);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Drivers print their firmware's version first and other images behind it: "14.25.1020 (HP_2190110032)", "8.15 0x80009621 1.2829.0",
 * "1.63, 0x80000aa6, 0.384.130", "216.0.146.0/pkg 216.0.146.0". A text that begins otherwise is not guessed at: "FFV7.13.24 bc 7.13.54" begins
 * with the number of a package of the server's vendor, "0x800005c1" with a checksum, "bc 7.14.24" with the boot code's.
 */
static struct value firmware_version(struct facts *f, const struct row *n)
{
    const struct value *text = facts_cell(f, n, "firmware");
    bool dot = false;
    size_t end = 0;

    if (text->state == VS_ABSENT)
        return *text;
    if (text->state != VS_KNOWN)
        return derive_unknown(f, "firmware", text);
    while (end < text->s.n && (is_digit(text->s.p[end]) || (text->s.p[end] == '.' && end && text->s.p[end - 1] != '.')))
        dot |= text->s.p[end++] == '.';
    if (!dot || text->s.p[end - 1] == '.' || (end < text->s.n && !strchr(" ,/", text->s.p[end])))
        return derive_from(value_unknown("the driver's text does not begin with a version"), text);
    return derive_from(value_slice(slice_cut(text->s, 0, end)), text);
}

static int by_text(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

/*
 * NICs whose links went down together: of each hour the first loss of each NIC is known, and those of one minute count. One fault of one
 * cable, port or switch takes some; all at once are taken by what they have in common, the host.
 */
static struct value links_lost_together(struct facts *f)
{
    unsigned log = facts_table_index(f, "log");
    const struct row *r;
    struct slice *minute = NULL;
    size_t n = 0, run = 0, cap = 0;
    const char *why;
    int64_t most = 0;

    for (size_t i = 0; (r = derive_row(f, "log", i)); i++) {
        const struct value *first = facts_cell(f, r, "first");
        void *v = minute;

        if (!known_text(facts_cell(f, r, "kind"), "link-down") || facts_cell(f, r, "nic")->state != VS_KNOWN || first->state != VS_KNOWN)
            continue;
        if (arena_grow(f->arena, &v, n, &cap, sizeof *minute, UINT32_MAX) < 0)
            return value_unknown("no memory");
        minute = v;
        minute[n++] = slice_cut(first->s, 0, 16); /* "2026-02-10T08:30" */
    }
    if (n)
        qsort(minute, n, sizeof *minute, by_text);
    for (size_t i = 0; i < n; i++) {
        run = i && slice_eq(minute[i], minute[i - 1]) ? run + 1 : 1;
        most = (int64_t)run > most ? (int64_t)run : most;
    }
    return most || facts_table(f, log, &why) == TS_COMPLETE ? value_int(most) : value_unknown(arena_printf(f->arena, "log: %s", why));
}

/* NICs of each module; one NIC whose driver is not known leaves all numbers open. */
static void count_nics(struct facts *f)
{
    const struct row *nic, *module;
    const struct value *open = NULL;
    struct map count = {0};
    const char *why;
    bool whole = facts_table(f, facts_table_index(f, "nic"), &why) == TS_COMPLETE;

    for (size_t i = 0; (nic = derive_row(f, "nic", i)); i++) {
        const struct value *driver = facts_cell(f, nic, "driver");
        uint32_t n = driver->state == VS_KNOWN ? map_get(&count, driver->s) : 0;

        if (driver->state == VS_UNKNOWN && !open)
            open = driver;
        if (driver->state == VS_KNOWN && map_put(&count, f->arena, driver->s, n == MAP_NONE ? 1 : n + 1) < 0)
            return;
    }
    for (size_t i = 0; (module = derive_row(f, "module", i)); i++) {
        uint32_t n = map_get(&count, module->key);

        derive_set(f, module, "nics", open     ? derive_unknown(f, "driver of a NIC", open)
                                      : !whole ? value_unknown(arena_printf(f->arena, "NICs: %s", why))
                                               : value_int(n == MAP_NONE ? 0 : n));
    }
}

/* "0,0,0,0" holds four. */
static struct value values_of(struct facts *f, const struct row *param)
{
    const struct value *v = facts_cell(f, param, "value");
    int64_t n = 1;

    if (v->state != VS_KNOWN)
        return v->state == VS_ABSENT ? *v : derive_unknown(f, "value", v);
    for (size_t i = 0; i < v->s.n; i++)
        n += v->s.p[i] == ',';
    return derive_from(value_int(n), v);
}

void derive_network(struct facts *f)
{
    unsigned switches = facts_table_index(f, "vswitch");
    const struct row *r, *s;

    derive_set(f, facts_single(f, "host"), "links-lost-together", links_lost_together(f));
    count_nics(f);
    for (size_t i = 0; (r = derive_row(f, "module-param", i)); i++)
        derive_set(f, r, "values", values_of(f, r));
    for (size_t i = 0; (r = derive_row(f, "nic", i)); i++) {
        struct texts in = {0};
        const char *why;

        derive_set(f, r, "firmware-version", firmware_version(f, r));
        for (size_t k = 0; (s = derive_row(f, "vswitch", k)); k++) {
            const struct value *up = facts_cell(f, s, "uplinks");

            for (size_t j = 0; up->state == VS_KNOWN && j < up->nlist; j++)
                if (slice_eq(up->list[j], r->key))
                    texts_add(&in, s->key, f->arena);
        }
        derive_set(f, r, "vswitches", in.n || facts_table(f, switches, &why) == TS_COMPLETE
                                          ? texts_value(&in)
                                          : value_unknown(arena_printf(f->arena, "switch list: %s", why)));
    }
    for (size_t i = 0; (r = derive_row(f, "vmknic", i)); i++) {
        const struct value *name = facts_cell(f, r, "vswitch");

        derive_set(f, r, "switch", name->state == VS_KNOWN && facts_find(f, switches, name->s) ? value_slice(name->s)
                                   : name->state == VS_KNOWN ? value_unknown("its switch is not in the list of switches")
                                                             : derive_unknown(f, "switch", name));
    }
    for (size_t i = 0; (r = derive_row(f, "nfs", i)); i++)
        derive_set(f, r, "routed", routed(f, r));
}
