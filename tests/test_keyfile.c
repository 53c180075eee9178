/* Keys that ssh-keygen made, in every form it knows: type, public half and whether they want a passphrase are those that ssh-keygen tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/fsx.h"
#include "base/run.h"
#include "net/keyfile.h"

static char folder[] = "/tmp/vmkfit-test-XXXXXX";
static struct arena *a;

static const char *at(const char *name)
{
    return arena_printf(a, "%s/%s", folder, name);
}

static void ssh_keygen(const char *const *args)
{
    const char *argv[16] = {"ssh-keygen", "-q"};
    struct buf out = BUF_INIT(4096);
    struct run r = {.argv = argv, .out = {run_take_buf, &out}, .err = {run_take_buf, &out}, .timeout_ms = 60000};
    struct err e = {0};
    int status = -1;

    for (size_t i = 0; args[i]; i++)
        argv[i + 2] = args[i];
    if (run_program(&r, &status, &e) < 0 || status != 0)
        fail_msg("ssh-keygen: %s%s", e.msg, buf_z(&out));
    buf_done(&out);
}

static void make(const char *type, const char *bits, const char *form, const char *passphrase, const char *name)
{
    ssh_keygen((const char *[]){"-t", type, "-b", bits, "-m", form, "-N", passphrase, "-C", "somebody", "-f", at(name), NULL});
}

/* The blob that ssh-keygen wrote beside it. */
static struct slice public_of(const char *name)
{
    struct buf b = BUF_INIT(64u << 10);
    struct slice text, word;
    struct err e = {0};

    if (fsx_read(arena_printf(a, "%s.pub", at(name)), 64u << 10, a, &text, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    assert_true(slice_next_word(&text, " ", &word) && slice_next_word(&text, " \n", &word));
    assert_int_equal(base64_decode(word, &b), 0);
    text = arena_dup(a, buf_slice(&b));
    buf_done(&b);
    return text;
}

static void keyfile_tells_type_and_public_half(void **state)
{
    static const struct {
        const char *type, *bits, *form, *passphrase, *is;
        bool encrypted;
    } t[] = {
        {"rsa", "2048", "RFC4716", "", "ssh-rsa", false},         {"ecdsa", "256", "RFC4716", "", "ecdsa-sha2-nistp256", false},
        {"ecdsa", "384", "RFC4716", "", "ecdsa-sha2-nistp384", false}, {"ed25519", "256", "RFC4716", "", "ssh-ed25519", false},
        {"rsa", "2048", "PEM", "", "ssh-rsa", false},             {"ecdsa", "256", "PEM", "", "ecdsa-sha2-nistp256", false},
        {"rsa", "2048", "PKCS8", "", "ssh-rsa", false},           {"ecdsa", "521", "PKCS8", "", "ecdsa-sha2-nistp521", false},
        {"ecdsa", "256", "RFC4716", "secret words", "ecdsa-sha2-nistp256", true}, {"rsa", "2048", "PEM", "secret words", "ssh-rsa", true},
        {"ecdsa", "256", "PKCS8", "secret words", "ecdsa-sha2-nistp256", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *name = arena_printf(a, "key%zu", i);
        struct keyfile k = {.bytes = NULL};
        struct err e = {0};

        make(t[i].type, t[i].bits, t[i].form, t[i].passphrase, name);
        if (keyfile_read(at(name), a, &k, &e) < 0)
            fail_msg("%s", e.msg);
        assert_true(slice_eqz(k.type, t[i].is));
        assert_true(slice_eq(k.blob, public_of(name)));
        assert_int_equal(k.encrypted, t[i].encrypted);
        assert_non_null(k.bytes);
        keyfile_done(&k);
        assert_null(k.bytes);
    }
}

static void keyfile_of_pem_without_its_public_half_has_the_type_that_its_heading_tells(void **state)
{
    struct keyfile k = {.bytes = NULL};
    struct err e = {0};

    (void)state;
    make("ecdsa", "256", "PEM", "", "alone");
    assert_int_equal(unlink(arena_printf(a, "%s.pub", at("alone"))), 0);
    assert_int_equal(keyfile_read(at("alone"), a, &k, &e), 0);
    assert_true(slice_eqz(k.type, "ecdsa"));
    assert_int_equal(k.blob.n, 0);
    keyfile_done(&k);
}

static void keyfile_takes_a_public_half_alone_for_a_key_of_the_agent(void **state)
{
    struct keyfile k = {.bytes = NULL};
    struct err e = {0};

    (void)state;
    make("ed25519", "256", "RFC4716", "", "agents");
    assert_int_equal(unlink(at("agents")), 0);
    assert_int_equal(keyfile_read(at("agents"), a, &k, &e), 0); /* IdentityFile agents */
    assert_null(k.bytes);
    assert_true(slice_eq(k.blob, public_of("agents")));
    assert_int_equal(keyfile_read(at("agents.pub"), a, &k, &e), 0); /* IdentityFile agents.pub; everybody may read it */
    assert_null(k.bytes);
    assert_true(slice_eq(k.blob, public_of("agents")));
}

static void put(const char *name, struct slice text, mode_t mode)
{
    FILE *f = fopen(at(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(at(name), mode), 0);
}

static void keyfile_refuses_what_is_no_key_of_ours(void **state)
{
    struct keyfile k = {.bytes = NULL};
    struct slice text;
    struct err e = {0};

    (void)state;
    assert_int_equal(keyfile_read(at("nothing"), a, &k, &e), VF_ENOTFOUND);
    assert_int_equal(keyfile_read(folder, a, &k, &e), VF_EFORMAT);
    put("empty", SLICE_LIT(""), 0600);
    assert_int_equal(keyfile_read(at("empty"), a, &k, &e), VF_EFORMAT);
    put("text", SLICE_LIT("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), 0600);
    assert_int_equal(keyfile_read(at("text"), a, &k, &e), VF_EFORMAT);
    make("ecdsa", "256", "RFC4716", "", "open");
    assert_int_equal(chmod(at("open"), 0640), 0);
    assert_int_equal(keyfile_read(at("open"), a, &k, &e), VF_EDENIED);
    assert_int_equal(chmod(at("open"), 0600), 0);
    assert_int_equal(fsx_read(at("open"), KEYFILE_MAX, a, &text, NULL, &e), 0);
    for (size_t n = 0; n + 40 < text.n; n += 7) { /* cut anywhere: no key, or the public half that is whole */
        put("cut", slice_cut(text, 0, n), 0600);
        if (keyfile_read(at("cut"), a, &k, &e) == 0) {
            assert_true(slice_eq(k.blob, public_of("open")));
            keyfile_done(&k);
        }
    }
    assert_null(k.bytes);
}

static int setup(void **state)
{
    (void)state;
    a = arena_new(16u << 20);
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    const char *argv[] = {"rm", "-r", folder, NULL};
    struct buf out = BUF_INIT(4096);
    struct run r = {.argv = argv, .out = {run_take_buf, &out}, .err = {run_take_buf, &out}, .timeout_ms = 10000};
    int status;

    (void)state;
    (void)run_program(&r, &status, &(struct err){0});
    buf_done(&out);
    arena_free(a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keyfile_tells_type_and_public_half),
        cmocka_unit_test(keyfile_of_pem_without_its_public_half_has_the_type_that_its_heading_tells),
        cmocka_unit_test(keyfile_takes_a_public_half_alone_for_a_key_of_the_agent),
        cmocka_unit_test(keyfile_refuses_what_is_no_key_of_ours),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
