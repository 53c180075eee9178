#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fsw.h"
#include "net/pins.h"

#define K1 "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=" /* of "test" */
#define K2 "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" /* of nothing */

struct place {
    struct arena *a;
    char folder[64], path[128];
};

static int setup(void **state)
{
    static struct place p;

    p = (struct place){.a = arena_new(8u << 20)};
    (void)snprintf(p.folder, sizeof p.folder, "/tmp/vmkfit-pins-XXXXXX");
    if (!mkdtemp(p.folder))
        return -1;
    (void)snprintf(p.path, sizeof p.path, "%s/state/bmc-keys", p.folder);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    char below[128];

    (void)snprintf(below, sizeof below, "%s/state", p->folder);
    (void)unlink(p->path);
    (void)rmdir(below);
    arena_free(p->a);
    return rmdir(p->folder);
}

static void a_key_is_stored_found_and_replaced(void **state)
{
    struct place *p = *state;
    struct err e = {0};
    const char *pin;
    struct stat st;

    assert_int_equal(pins_find(p->path, "bmc01:443", p->a, &pin, &e), 0); /* no file: nothing known */
    assert_null(pin);
    assert_int_equal(pins_store(p->path, "bmc01:443", K1, p->a, &e), 0);
    assert_int_equal(stat(p->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(pins_store(p->path, "bmc02:443", K2, p->a, &e), 0);
    assert_int_equal(pins_store(p->path, "bmc01:443", K2, p->a, &e), 0);
    assert_int_equal(pins_find(p->path, "bmc01:443", p->a, &pin, &e), 0);
    assert_string_equal(pin, K2);
    assert_int_equal(pins_find(p->path, "bmc0:443", p->a, &pin, &e), 0);
    assert_null(pin);
    assert_int_equal(pins_find(p->path, "bmc01:8443", p->a, &pin, &e), 0);
    assert_null(pin);
}

static void a_damaged_file_is_an_error_and_stays(void **state)
{
    static const char *const bad[] = {
        "bmc01:443 " K1 "\nbmc01:443 " K2 "\n", "bmc01:443\n", "bmc01:443 SHA256:short\n", "bmc01:443 " K1 " more\n", "bmc01:443 sha256//n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n",
        "bmc01:443 SHA256:n4bQgYhMfWWaL*qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n", "bmc01:443 " K1 "x\n",
    };
    struct place *p = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        const char *pin;

        assert_int_equal(fsw_make_parents(p->path, &e), 0);
        assert_int_equal(fsw_replace(p->path, slice_of(bad[i]), &e), 0);
        if (pins_find(p->path, "bmc01:443", p->a, &pin, &e) != VF_EFORMAT)
            fail_msg("taken: %s", bad[i]);
    }
}

static void comments_and_blank_lines_stay(void **state)
{
    struct place *p = *state;
    struct err e = {0};
    const char *pin;

    assert_int_equal(fsw_make_parents(p->path, &e), 0);
    assert_int_equal(fsw_replace(p->path, SLICE_LIT("# mine\n\n  bmc01:443\t" K1 "\r\n"), &e), 0);
    assert_int_equal(pins_find(p->path, "bmc01:443", p->a, &pin, &e), 0);
    assert_string_equal(pin, K1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(a_key_is_stored_found_and_replaced), T(a_damaged_file_is_an_error_and_stays), T(comments_and_blank_lines_stay)};

    return cmocka_run_group_tests_name("pins", tests, NULL, NULL);
}
