/* The output of ssh -G. */
#include "fuzz.h"
#include "net/sshconfig.h"

static void check_files(const struct ssh_files *f)
{
    FUZZ_CHECK(f->n <= SSH_MAX_FILES);
    for (size_t i = 0; i < f->n; i++)
        FUZZ_CHECK(f->v[i] && f->v[i][0]);
}

static void check(struct slice text, struct arena *a)
{
    const struct ssh_query q = {.host = "esx1"};
    const struct ssh_user u = {"/users/anna", "anna", 1000};
    struct ssh_config c = {0};
    struct err e = {0};
    unsigned port = 0;

    if (sshconfig_parse(text, &q, &u, a, &c, &e) < 0) {
        FUZZ_CHECK((e.code == VF_EFORMAT || e.code == VF_ELIMIT) && e.msg[0]);
        return;
    }
    FUZZ_CHECK(c.hostname[0] && c.hostname[0] != '-' && c.user[0] && c.port > 0 && c.port <= 65535);
    FUZZ_CHECK((c.agent != NULL) == (c.agent_kind == SSH_AGENT_PATH || c.agent_kind == SSH_AGENT_VARIABLE));
    check_files(&c.identities);
    check_files(&c.certificates);
    check_files(&c.user_known_hosts);
    check_files(&c.global_known_hosts);
    fuzz_touchz(c.proxy);
    fuzz_touchz(sshconfig_hostkey_name(&c, &port));
    FUZZ_CHECK(c.nnotes <= SSH_MAX_NOTES);
    for (size_t i = 0; i < c.nnotes; i++)
        fuzz_touchz(c.notes[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_ARENA(arena, 16u << 20);
    FUZZ_ARENA(failing, 16u << 20);

    check(fuzz_slice(data, size), arena);
    arena_fail_at(failing, 1 + size % 13);
    check(fuzz_slice(data, size), failing);
    return 0;
}
