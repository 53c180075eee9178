/* recording.json, and what file names answer: the first byte chooses. */
#include <unistd.h>

#include "fuzz.h"
#include "net/offline.h"

static char folder[64], manifest[96];

static void remove_folder(void)
{
    (void)unlink(manifest);
    (void)rmdir(folder);
}

static int touch_reply(void *ctx, const struct reply *r)
{
    ++*(size_t *)ctx;
    fuzz_touch(r->body);
    fuzz_touch(r->where);
    fuzz_touchz(r->note);
    FUZZ_CHECK(r->status == REPLY_OK || (r->note && r->body.n == 0));
    return 0;
}

static void open_recording(const uint8_t *data, size_t size)
{
    static const struct ask asks[] = {
        {.kind = ASK_ESXCLI, .text = {"storage core adapter list", 25}},
        {.kind = ASK_SHELL, .text = {"vmware -vl", 10}},
        {.kind = ASK_FILE, .text = {"/var/log/vmkernel.log", 21}},
        {.kind = ASK_FILE, .text = {"/etc/vmware/default.map.d/*.map", 31}},
    };
    FUZZ_ARENA(a, 64u << 20);
    struct target *t;
    struct err e = {0};
    FILE *f;
    size_t n = 0;
    int rc;

    if (!folder[0]) {
        (void)snprintf(folder, sizeof folder, "/tmp/vmkfit-fuzz-XXXXXX");
        FUZZ_CHECK(mkdtemp(folder));
        (void)snprintf(manifest, sizeof manifest, "%s/recording.json", folder);
        (void)atexit(remove_folder);
    }
    f = fopen(manifest, "w");
    FUZZ_CHECK(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    rc = offline_open(folder, a, &t, &n, &e);
    FUZZ_CHECK(rc == 0 || (rc < 0 && e.code == rc && e.msg[0]));
    for (size_t i = 0; rc == 0 && i < n; i++) {
        for (size_t k = 0; k < sizeof asks / sizeof *asks; k++) {
            size_t replies = 0;

            FUZZ_CHECK(channel_ask(t[i].channel, &asks[k], touch_reply, &replies, &e) <= 0 && replies > 0);
        }
        channel_close(&t[i].channel);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned choice = fuzz_choice(&data, &size);
    struct slice in = fuzz_slice(data, size), name = {NULL, 0};
    FUZZ_ARENA(a, 1u << 20);

    if (choice % 4u == 0) {
        open_recording(data, size);
        return 0;
    }
    if (slice_next_line(&in, &name, NULL)) { /* a name, a line end, and the ask */
        struct ask q = {.kind = (enum ask_kind)(choice % 4u - 1u), .text = in};

        if ((q.kind != ASK_FILE || slice_starts(in, "/")) && arena_dup(a, name).p)
            (void)offline_name_answers(arena_dup(a, name).p, &q);
    }
    return 0;
}
