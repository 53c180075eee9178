#include "world.h"

#include "core/pack.h"

/* The pair, message and signature of RFC 8032, section 7.1, test 2; the key's PEM by RFC 8410. */
static const char private_pem[] = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n-----END PRIVATE KEY-----\n";
static const char public_pem[] = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n-----END PUBLIC KEY-----\n";
static const uint8_t rfc_signature[SIGN_BYTES] = {
    0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f, 0x64, 0x25, 0x40, 0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50,
    0x3f, 0x8f, 0xb3, 0x76, 0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda, 0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99, 0x6e, 0x45, 0x8f, 0x36, 0x13,
    0xd0, 0xf1, 0x1d, 0x8c, 0x38, 0x7b, 0x2e, 0xae, 0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00,
};

static const struct slice two_files[] = {{"<rules format=\"1\"/>\n", 19}, {"bytes \0 of any kind", 19}};

static void setup(struct pack *p)
{
    *p = (struct pack){.name = SLICE_LIT("acme"), .date = SLICE_LIT("2026-11-30"), .serial = 7, .nfiles = 2,
                       .files = {{SLICE_LIT("a.xml"), two_files[0]}, {SLICE_LIT("b-2.xml"), two_files[1]}}};
}

static void signatures_are_those_of_the_rfc(void **state)
{
    struct sign_public key, other;
    uint8_t made[SIGN_BYTES];
    struct err e = {0};
    _cleanup_(buf_done) struct buf b = BUF_INIT(100);

    (void)state;
    assert_int_equal(sign_read_public(slice_of(public_pem), "x.pub", &key, &e), 0);
    assert_int_equal(sign_read_public(slice_of(private_pem), "x", &other, &e), 0);
    assert_memory_equal(key.v, other.v, SIGN_KEY_BYTES);
    assert_true(sign_holds(&key, SLICE_LIT("\x72"), rfc_signature));
    assert_false(sign_holds(&key, SLICE_LIT("\x73"), rfc_signature));
    assert_false(sign_holds(&key, SLICE_LIT(""), rfc_signature));
    assert_int_equal(sign_make(slice_of(private_pem), "x", SLICE_LIT("\x72"), made, &e), 0);
    assert_memory_equal(made, rfc_signature, SIGN_BYTES);
    sign_fingerprint(&key, &b);
    assert_string_equal(buf_z(&b), "SHA256:OfcT0KZEJT8EUpQhufUbmwiXnQgpWVnE85kO5hf1E58"); /* sha256sum of the raw key */
}

static void keys_of_another_kind_are_refused(void **state)
{
    /* openssl genpkey -algorithm ed25519 -aes256 asks for a passphrase to read this; nobody is asked here */
    static const char *const bad[] = {
        "", "-----BEGIN PUBLIC KEY-----\n", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMC4C\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8u\n-----END PUBLIC KEY-----\n",
        /* X25519 (RFC 8410, section 10.2) signs nothing */
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
    };
    uint8_t made[SIGN_BYTES];
    struct sign_public key;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sign_read_public(slice_of(bad[i]), "x.pub", &key, &e), VF_EFORMAT);
        assert_int_equal(sign_make(slice_of(bad[i]), "x", SLICE_LIT("t"), made, &e), VF_EFORMAT);
    }
    assert_int_equal(sign_make(slice_of(public_pem), "x", SLICE_LIT("t"), made, &e), VF_EFORMAT);
}

static void what_is_packed_comes_out(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(PACK_MAX);
    struct sign_public key;
    struct pack p, back;
    struct err e = {0};

    (void)state;
    setup(&p);
    assert_int_equal(sign_read_public(slice_of(public_pem), "x.pub", &key, &e), 0);
    assert_int_equal(pack_write(&p, slice_of(private_pem), "x", &b, &e), 0);
    assert_int_equal(pack_read(buf_slice(&b), "x", &back, &e), 0);
    assert_true(pack_signed_by(&back, &key));
    assert_true(slice_eqz(back.name, "acme") && slice_eqz(back.date, "2026-11-30") && back.serial == 7 && back.nfiles == 2);
    assert_true(slice_eqz(back.files[1].name, "b-2.xml") && slice_eq(back.files[1].bytes, two_files[1]));
}

/* Whichever byte is another, or wherever it is cut: refused, or not signed by the key. */
static void no_byte_can_be_changed(void **state)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(PACK_MAX);
    struct sign_public key;
    struct pack p, back;
    struct err e = {0};
    char *copy;

    (void)state;
    setup(&p);
    assert_int_equal(sign_read_public(slice_of(public_pem), "x.pub", &key, &e), 0);
    assert_int_equal(pack_write(&p, slice_of(private_pem), "x", &b, &e), 0);
    copy = xmalloc(b.n + 1);
    for (size_t i = 0; i < b.n; i++) {
        memcpy(copy, b.p, b.n);
        copy[i] = (char)(copy[i] ^ 1);
        assert_false(pack_read((struct slice){copy, b.n}, "x", &back, &e) == 0 && pack_signed_by(&back, &key));
        assert_int_not_equal(pack_read((struct slice){b.p, i}, "x", &back, &e), 0);
    }
    memcpy(copy, b.p, b.n);
    copy[b.n] = ' ';
    assert_int_equal(pack_read((struct slice){copy, b.n + 1}, "x", &back, &e), VF_EFORMAT);
    assert_non_null(strstr(e.msg, "1 bytes behind the end"));
    free(copy);
}

static void another_form_is_refused(void **state)
{
    static const struct {
        const char *from, *to, *says;
    } t[] = {
        {"vmkfit-rules-pack 1", "vmkfit-rules-pack 2", "of another format"},
        {"vmkfit-rules-pack 1", "<rules format=\"1\">", "\"vmkfit rules sign\" makes one"},
        {"name acme", "name ../acme", "no line \"name\""},
        {"name acme", "title acme", "no line \"name\""},
        {"serial 7", "serial 07", "no line \"serial\""},
        {"serial 7", "serial -7", "no line \"serial\""},
        {"serial 7", "serial 1234567890123456789", "no line \"serial\""},
        {"date 2026-11-30", "date 2026-11-31", "no line \"date\""},
        {"file a.xml", "file .a.xml", "not a name of a rule file"},
        {"file a.xml", "file a/b.xml", "not a name of a rule file"},
        {"file a.xml", "file a.sh", "not a name of a rule file"},
        {"file a.xml", "file b-2.xml", "two files b-2.xml"},
        {"file a.xml 19", "file a.xml 20", "altered"},
        {"file a.xml 19", "file a.xml 99999999999", "file NAME SIZE DIGEST"},
        {"file a.xml 19", "file a.xml 1000", "cut in a.xml"},
        {"signature ", "signature x", "signature is damaged"},
        {"signature ", "sig ", "no line \"signature\""},
    };
    _cleanup_(buf_done) struct buf b = BUF_INIT(PACK_MAX);
    struct pack p, back;
    struct err e = {0};

    (void)state;
    setup(&p);
    assert_int_equal(pack_write(&p, slice_of(private_pem), "x", &b, &e), 0);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        size_t at = slice_find(buf_slice(&b), 0, t[i].from);
        _cleanup_(buf_done) struct buf other = BUF_INIT(PACK_MAX);

        assert_int_not_equal(at, SIZE_MAX);
        buf_add(&other, slice_cut(buf_slice(&b), 0, at));
        buf_addz(&other, t[i].to);
        buf_add(&other, slice_from(buf_slice(&b), at + strlen(t[i].from)));
        assert_int_equal(pack_read(buf_slice(&other), "x", &back, &e), VF_EFORMAT);
        if (!strstr(e.msg, t[i].says))
            fail_msg("%s: %s", t[i].to, e.msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_those_of_the_rfc),
        cmocka_unit_test(keys_of_another_kind_are_refused),
        cmocka_unit_test(what_is_packed_comes_out),
        cmocka_unit_test(no_byte_can_be_changed),
        cmocka_unit_test(another_form_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
