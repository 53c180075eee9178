#include "net/offline_hosts.h"

#include "base/map.h"
#include "net/offline_parts.h"

enum sign { SIGN_ANSWERS, SIGN_COMMANDS, SIGN_RECORDING }; /* the later the stronger */

struct splitting {
    struct arena *a;
    struct hosts *out;
    struct map signs; /* folder to sign */
    struct map names; /* answers by their names */
    struct map twice; /* folders that answer what one above answers too */
    struct map roots; /* folder to host */
    bool by_host_files;
};

static bool up(struct slice *folder)
{
    if (folder->n == 0)
        return false;
    *folder = path_folder(*folder);
    return true;
}

/* "x/var/log/vmkernel.log": x. */
static bool root_of_host_file(struct slice name, struct slice *root)
{
    static const char *const tails[] = {"var/log", "var/run/log", "scratch/log", "bootbank", "altbootbank", "etc/vmware/default.map.d",
                                        "etc/vmware/driver.map.d", "etc/vmware/ihv.map.d", "etc/vmware/oem.map.d"};
    struct slice folder = path_folder(name);

    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (path_ends(folder, slice_of(tails[i]))) {
            size_t n = folder.n - strlen(tails[i]);

            *root = slice_cut(folder, 0, n ? n - 1 : 0);
            return true;
        }
    return false;
}

/* Which folder would be a host's because of this file, and how surely. */
static bool sign_of(const struct splitting *s, const struct found *f, struct slice *folder, enum sign *sign)
{
    *sign = SIGN_ANSWERS;
    if (f->folder)
        return false;
    if (s->by_host_files)
        return root_of_host_file(f->name, folder);
    *folder = path_folder(f->name);
    if (slice_eqz(path_base(f->name), "recording.json")) {
        *sign = SIGN_RECORDING;
        return true;
    }
    if (!offline_answer_name(f->name))
        return false;
    if (path_ends(*folder, SLICE_LIT("commands"))) {
        *sign = SIGN_COMMANDS;
        (void)up(folder);
    } else if (path_ends(*folder, SLICE_LIT("json"))) { /* of a bundle: the same answers in another form */
        (void)up(folder);
    }
    return true;
}

/* The same file name in a folder above that holds answers too: another host's. */
static void look_for_twice(struct splitting *s, const struct found *f, struct slice folder)
{
    struct slice above = folder, base = path_base(f->name);

    while (up(&above)) {
        _cleanup_(buf_done) struct buf b = BUF_INIT(8192);

        if (map_get(&s->signs, above) != SIGN_ANSWERS)
            continue;
        buf_printf(&b, SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(above), above.n ? "/" : "", SLICE_ARG(base));
        if (!b.cut && map_get(&s->names, buf_slice(&b)) != MAP_NONE)
            (void)map_put(&s->twice, s->a, folder, 1);
    }
}

static bool is_host(const struct splitting *s, struct slice folder)
{
    uint32_t sign = map_get(&s->signs, folder);
    struct slice above = folder;

    if (sign == SIGN_RECORDING)
        return true;
    while (up(&above)) {
        uint32_t other = map_get(&s->signs, above);

        if (other == SIGN_RECORDING || (other == SIGN_COMMANDS && sign == SIGN_ANSWERS))
            return false;
        if (other == SIGN_ANSWERS && sign == SIGN_ANSWERS && map_get(&s->twice, folder) == MAP_NONE)
            return false;
    }
    return true;
}

static void add_host(struct splitting *s, struct slice folder)
{
    struct hosts *h = s->out;

    if (map_get(&s->roots, folder) != MAP_NONE)
        return;
    if (h->n == MAX_TARGETS) {
        h->more = true;
        (void)map_put(&s->roots, s->a, folder, MAX_TARGETS);
        return;
    }
    h->recorded[h->n] = map_get(&s->signs, folder) == SIGN_RECORDING;
    h->roots[h->n] = folder;
    (void)map_put(&s->roots, s->a, folder, (uint32_t)h->n++);
}

static void find_hosts(struct splitting *s, const struct found *v, size_t n)
{
    struct slice folder;
    enum sign sign;

    for (size_t i = 0; i < n; i++) {
        uint32_t had;

        if (!sign_of(s, &v[i], &folder, &sign))
            continue;
        had = map_get(&s->signs, folder);
        if (had == MAP_NONE || had < sign)
            (void)map_put(&s->signs, s->a, folder, sign);
        if (sign == SIGN_ANSWERS)
            (void)map_put(&s->names, s->a, v[i].name, 1);
    }
    for (size_t i = 0; i < n && !s->by_host_files; i++)
        if (sign_of(s, &v[i], &folder, &sign) && sign == SIGN_ANSWERS)
            look_for_twice(s, &v[i], folder);
    for (size_t i = 0; i < n; i++)
        if (sign_of(s, &v[i], &folder, &sign) && is_host(s, folder))
            add_host(s, folder);
}

void offline_split(struct found *v, size_t n, struct hosts *out, struct arena *a)
{
    struct splitting s = {.a = a, .out = out};

    *out = (struct hosts){.n = 0};
    find_hosts(&s, v, n);
    if (out->n == 0) {
        s.by_host_files = true;
        find_hosts(&s, v, n);
    }
    for (size_t i = 0; i < n; i++) {
        struct slice folder = v[i].folder ? v[i].name : path_folder(v[i].name);

        do
            v[i].host = map_get(&s.roots, folder);
        while (v[i].host == MAP_NONE && up(&folder));
    }
}
