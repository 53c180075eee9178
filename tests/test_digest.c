#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/err.h"

static void hex(const uint8_t *p, size_t n, struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%02x", p[i]);
}

/* FIPS 180-4's examples, and that of no bytes at all. */
static void sha256_gives_the_digests_of_the_standard(void **state)
{
    static const struct {
        const char *text, *digest;
    } t[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    _cleanup_(buf_done) struct buf b = BUF_INIT(128);
    uint8_t out[DIGEST_SHA256_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(digest_sha256(slice_of(t[i].text), out), 0);
        hex(out, sizeof out, &b);
        assert_string_equal(buf_z(&b), t[i].digest);
    }
    assert_int_equal(digest_sha256((struct slice){NULL, 0}, out), 0);
    hex(out, sizeof out, &b);
    assert_string_equal(buf_z(&b), t[0].digest);
}

/* RFC 2202, section 3. */
static void hmac_sha1_gives_the_values_of_rfc_2202(void **state)
{
    char aa[80];
    const struct {
        struct slice key, data;
        const char *digest;
    } t[] = {
        {SLICE_LIT("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"), SLICE_LIT("Hi There"),
         "b617318655057264e28bc0b6fb378c8ef146be00"},
        {SLICE_LIT("Jefe"), SLICE_LIT("what do ya want for nothing?"), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
        {{aa, sizeof aa}, SLICE_LIT("Test Using Larger Than Block-Size Key - Hash Key First"), "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
    };
    _cleanup_(buf_done) struct buf b = BUF_INIT(128);
    uint8_t out[DIGEST_SHA1_BYTES];

    (void)state;
    memset(aa, 0xaa, sizeof aa);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(digest_hmac_sha1(t[i].key, t[i].data, out), 0);
        hex(out, sizeof out, &b);
        assert_string_equal(buf_z(&b), t[i].digest);
    }
}

/* RFC 4648, section 10. */
static void base64_is_that_of_rfc_4648_in_both_ways(void **state)
{
    static const struct {
        const char *bytes, *text, *bare;
    } t[] = {
        {"", "", ""},          {"f", "Zg==", "Zg"},         {"fo", "Zm8=", "Zm8"},           {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"}, {"fooba", "Zm9vYmE=", "Zm9vYmE"}, {"foobar", "Zm9vYmFy", "Zm9vYmFy"}, {"\xfb\xff", "+/8=", "+/8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        _cleanup_(buf_done) struct buf text = BUF_INIT(64), bare = BUF_INIT(64), back = BUF_INIT(64);

        base64_encode(slice_of(t[i].bytes), true, &text);
        base64_encode(slice_of(t[i].bytes), false, &bare);
        assert_string_equal(buf_z(&text), t[i].text);
        assert_string_equal(buf_z(&bare), t[i].bare);
        assert_int_equal(base64_decode(slice_of(t[i].text), &back), 0);
        assert_string_equal(buf_z(&back), t[i].bytes);
    }
}

static void base64_has_one_spelling_of_a_value(void **state)
{
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Zm8", "Zh==", "Zm9=", "Zg==Zg==", "=", "====", "Z===", "Zm9v\n", "Zm 9v", " Zm9v", "Zm9-", "Zm9_", "Zm\xc3\xa4"};
    _cleanup_(buf_done) struct buf out = BUF_INIT(64), small = BUF_INIT(2);

    (void)state;
    buf_addz(&out, "x");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (base64_decode(slice_of(bad[i]), &out) == 0)
            fail_msg("\"%s\" was decoded", bad[i]);
        assert_int_equal(out.n, 1);
    }
    assert_int_equal(base64_decode(SLICE_LIT("Zg=\0"), &out), -1);
    assert_int_equal(base64_decode(SLICE_LIT("Zm9v"), &small), -1); /* more than its buffer takes */
    assert_int_equal(small.n, 0);
}

static void random_bytes_fill_all_that_was_asked_for(void **state)
{
    uint8_t a[1000] = {0}, b[1000] = {0};
    size_t zeros = 0;

    (void)state;
    assert_int_equal(random_bytes(a, sizeof a), 0);
    assert_int_equal(random_bytes(b, sizeof b), 0);
    assert_memory_not_equal(a, b, sizeof a);
    for (size_t i = 0; i < sizeof a; i++)
        zeros += a[i] == 0;
    assert_true(zeros < 100); /* about 4 are expected */
    assert_int_equal(random_bytes(a, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_digests_of_the_standard),
        cmocka_unit_test(hmac_sha1_gives_the_values_of_rfc_2202),
        cmocka_unit_test(base64_is_that_of_rfc_4648_in_both_ways),
        cmocka_unit_test(base64_has_one_spelling_of_a_value),
        cmocka_unit_test(random_bytes_fill_all_that_was_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
