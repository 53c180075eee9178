/*
 * The anonymiser: every spelling by itself, names that are words of the product, random identities. Whole hosts: test_anonymise_hosts.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "promises.h"

#include "collect/anonymise.h"

static const uint8_t test_key[16] = "0123456789abcde";

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool alnum(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

/* --- units --- */

struct unit {
    struct arena *a;
    struct anonymiser *x;
    struct facts *f;
};

static void unit_begin(struct unit *u)
{
    u->a = arena_new(256u << 20);
    u->x = anonymiser_new(test_key, u->a);
    u->f = facts_new(&shared->schema, u->a);
    assert_non_null(u->x);
    assert_non_null(u->f);
}

static void unit_put(struct unit *u, const char *table, const char *key, const char *column, const char *text)
{
    unsigned t = facts_table_index(u->f, table);
    int c = table_column(&u->f->schema->tables[t], slice_of(column));

    assert_true(c >= 0);
    facts_put(u->f, facts_row(u->f, t, slice_of(key)), (unsigned)c, value_slice(slice_of(text)));
}

static void unit_seal(struct unit *u, const char *body)
{
    struct err e = {0};

    assert_int_equal(anonymiser_facts(u->x, u->f), 0);
    assert_int_equal(anonymiser_learn(u->x, NULL, slice_of(body)), 0);
    if (anonymiser_seal(u->x, &e) < 0)
        fail_msg("%s", e.msg);
}

static const char *unit_apply(struct unit *u, const char *text)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(1u << 20);
    struct err e = {0};

    assert_int_equal(anonymiser_apply(u->x, slice_of(text), &out, &e), 0);
    assert_int_equal(out.n, strlen(text));
    return arena_dup(u->a, buf_slice(&out)).p;
}

/* Every character of the same class: a digit for a digit, a letter in the same case, everything else itself. hex: either for either. */
static bool same_form(const char *a, const char *b, bool hex)
{
    for (; *a && *b; a++, b++) {
        bool digits = *a >= '0' && *a <= '9' && *b >= '0' && *b <= '9';
        bool letters = lower(*a) >= 'a' && lower(*a) <= 'z' && lower(*b) >= 'a' && lower(*b) <= 'z' && (*a == lower(*a)) == (*b == lower(*b));

        if (*a != *b && !digits && !letters && !(hex && alnum(*a) && alnum(*b)))
            return false;
    }
    return *a == *b;
}

#define NAA  "naa.600508b1001c0a1b2c3d4e5f60718201"
#define T10  "t10.ATA_____Samsung_SSD_850_PRO_512GB_______________S2BENWAG0000001_____"

static void one_mac_is_one_in_all_spellings(void **state)
{
    struct unit u;
    const char *colon, *dash, *bare, *upper, *volume, *wwn, *dsn, *uuid;

    (void)state;
    unit_begin(&u);
    unit_seal(&u, "mac 00:1b:21:aa:bc:cd, 5a1b2c3d-4e5f6a7b-8c9d-001b21aabccd, fc.2000001b21aabccd:2100001b21aabccd, "
                  "UUID 4c4c4544-0030-3010-8031-001b21aabccd");
    colon = unit_apply(&u, "00:1b:21:aa:bc:cd");
    dash = unit_apply(&u, "00-1b-21-aa-bc-cd");
    bare = unit_apply(&u, "001b21aabccd");
    upper = unit_apply(&u, "00:1B:21:AA:BC:CD");
    volume = unit_apply(&u, "5a1b2c3d-4e5f6a7b-8c9d-001b21aabccd");
    wwn = unit_apply(&u, "20:00:00:1b:21:aa:bc:cd");
    dsn = unit_apply(&u, "00-1b-21-ff-ff-aa-bc-cd");
    uuid = unit_apply(&u, "4c4c4544-0030-3010-8031-001b21aabccd");
    assert_memory_equal(colon, "00:1b:21:", 9); /* the vendor's half stays */
    assert_string_not_equal(colon + 9, "aa:bc:cd");
    for (unsigned i = 0; i < 6; i++) {
        assert_memory_equal(colon + 3 * i, dash + 3 * i, 2);
        assert_memory_equal(colon + 3 * i, bare + 2 * i, 2);
        assert_int_equal(colon[3 * i], lower(upper[3 * i]));
        assert_int_equal(colon[3 * i + 1], lower(upper[3 * i + 1]));
        assert_memory_equal(colon + 3 * i, volume + 23 + 2 * i, 2);
        assert_memory_equal(colon + 3 * i, wwn + 6 + 3 * i, 2);
        assert_memory_equal(colon + 3 * i, dsn + 3 * i + (i >= 3 ? 6 : 0), 2);
        assert_memory_equal(colon + 3 * i, uuid + 24 + 2 * i, 2);
    }
    for (const char *p = upper; *p; p++)
        assert_false(*p >= 'a' && *p <= 'z');
    assert_memory_equal(dsn + 9, "ff-ff", 5);
    assert_memory_not_equal(volume, "5a1b2c3d", 8);
    arena_free(u.a);
}

static void one_serial_number_is_one_in_all_spellings(void **state)
{
    struct unit u;
    const char *plain, *t10, *vml, *dashed;
    char hex[64] = "";

    (void)state;
    unit_begin(&u);
    unit_seal(&u, T10 "\n   Serial Number: WD-WCC4N0000017\nvml.010000000057442d5743433" "44e30303030303137574443205744\n");
    plain = unit_apply(&u, "S2BENWAG0000001");
    t10 = unit_apply(&u, "Local ATA Disk (" T10 ")");
    assert_string_not_equal(plain, "S2BENWAG0000001");
    assert_true(same_form(plain, "S2BENWAG0000001", false));
    assert_memory_equal(t10, "Local ATA Disk (t10.ATA_____Samsung_SSD_850_PRO_512GB_______________", 68);
    assert_memory_equal(t10 + 68, plain, 15);
    assert_string_equal(t10 + 83, "_____)");
    plain = unit_apply(&u, "WD-WCC4N0000017");
    assert_true(same_form(plain, "WD-WCC4N0000017", false));
    dashed = unit_apply(&u, "t10.ATA_____WDC_WD40EFRX2D68WT0N0_________________________WD2DWCC4N0000017");
    dashed += strlen(dashed) - 16;
    assert_memory_equal(dashed, plain, 2);
    assert_memory_equal(dashed + 2, "2D", 2);
    assert_memory_equal(dashed + 4, plain + 3, 12);
    for (unsigned i = 0; i < 15; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned char)plain[i]);
    vml = unit_apply(&u, "vml.010000000057442d574343344e30303030303137574443205744");
    assert_memory_equal(vml + 14, hex, 30);
    assert_string_equal(vml + 44, "574443205744");
    arena_free(u.a);
}

static void one_uuid_is_one_in_all_spellings(void **state)
{
    static const char *const spellings[] = {
        "4c4c4544003030108031b4c04f303031", "4c4c4544-0030-3010-8031-b4c04f303031", "4C4C4544-0030-3010-8031-B4C04F303031",
        "4c 4c 45 44 00 30 30 10-80 31 b4 c0 4f 30 30 31", "0x4c 0x4c 0x45 0x44 0x0 0x30 0x30 0x10 0x80 0x31 0xb4 0xc0 0x4f 0x30 0x30 0x31"};
    struct unit u;
    char first[40] = "";

    (void)state;
    unit_begin(&u);
    unit_seal(&u, "   UUID: 0x4c 0x4c 0x45 0x44 0x0 0x30 0x30 0x10 0x80 0x31 0xb4 0xc0 0x4f 0x30 0x30 0x31\n");
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const char *to = unit_apply(&u, spellings[i]);
        char digits[40] = "";
        size_t n = 0;

        for (const char *p = to; *p; p++) {
            if (slice_starts(slice_of(p), "0x")) { /* one digit or two */
                p += 2;
                if (p[1] == ' ' || !p[1])
                    digits[n++] = '0';
            }
            if (alnum(*p))
                digits[n++] = lower(*p);
        }
        assert_int_equal(n, 32);
        if (i == 0)
            memcpy(first, digits, 32);
        assert_memory_equal(first, digits, 32);
        assert_string_not_equal(to, spellings[i]);
    }
    /* the order of bytes that SMBIOS has */
    {
        const char *swapped = unit_apply(&u, "44454c4c-3000-1030-8031-b4c04f303031");

        assert_memory_equal(swapped, first + 6, 2);
        assert_memory_equal(swapped + 6, first, 2);
        assert_memory_equal(swapped + 19, first + 16, 4);
    }
    arena_free(u.a);
}

static void device_ids_keep_type_and_vendor(void **state)
{
    struct unit u;
    const char *naa, *vml, *wwn;

    (void)state;
    unit_begin(&u);
    unit_seal(&u, NAA " fc.50060160c0000008:5006016040000008 eui.0025385b71b0a1c2 vml.0200000000600508b1001c0a1b2c3d4e5f607182014c4f47494341 mpx.vmhba32:C0:T0:L0 "
                      "vml.0000000000766d68626133323a303a30");
    naa = unit_apply(&u, NAA);
    assert_memory_equal(naa, NAA, 11);
    assert_string_not_equal(naa, NAA);
    vml = unit_apply(&u, "vml.0200000000600508b1001c0a1b2c3d4e5f607182014c4f47494341");
    assert_memory_equal(vml, "vml.0200000000", 14);
    assert_memory_equal(vml + 14, naa + 4, 32);
    assert_string_equal(vml + 46, "4c4f47494341");
    wwn = unit_apply(&u, "WWPN 50:06:01:60:40:00:00:08 or 0x5006016040000008");
    assert_memory_equal(wwn, "WWPN 50:06:01:6", 15);
    assert_null(strstr(wwn, "60:40:00:00:08"));
    assert_null(strstr(wwn, "5006016040000008"));
    assert_null(strstr(unit_apply(&u, "eui.0025385b71b0a1c2"), "b71b0a1c2"));
    assert_string_equal(unit_apply(&u, "mpx.vmhba32:C0:T0:L0 vml.0000000000766d68626133323a303a30"), "mpx.vmhba32:C0:T0:L0 vml.0000000000766d68626133323a303a30");
    arena_free(u.a);
}

static void addresses_stay_in_their_networks(void **state)
{
    struct unit u;
    const char *a, *b, *c, *d;

    (void)state;
    unit_begin(&u);
    unit_put(&u, "vmknic", "vmk0", "ipv4", "192.168.17.21");
    unit_put(&u, "vmknic", "vmk0", "netmask", "255.255.255.0");
    unit_put(&u, "vmknic", "vmk0", "gateway", "192.168.17.1");
    unit_seal(&u, "Address: 192.168.18.21 255.255.252.0 127.0.0.1 0.0.0.0 224.0.0.1 fe80::21b:21ff:feaa:bccd 2001:db8:5:1::17 ::1\n"
                  "Firmware Version: 10.2.309.8\nVersion: 1.0.0.32\n  10.20.2.7-1vmw.650 18:02:23 0000:00:1f.2\n");
    a = unit_apply(&u, "192.168.17.21");
    b = unit_apply(&u, "192.168.17.1");
    c = unit_apply(&u, "192.168.18.21");
    assert_string_not_equal(a, "192.168.17.21");
    assert_memory_equal(a, b, 11);      /* one network */
    assert_memory_equal(a, c, 8);       /* half of it */
    assert_memory_equal(a + 8, "17", 2); /* a mask of the host parts this octet: it stays, so that the networks do */
    assert_memory_equal(c + 8, "18", 2);
    d = unit_apply(&u, "fe80::21b:21ff:feaa:bccd 2001:db8:5:1::17");
    assert_memory_equal(d, "fe80::", 6);
    assert_null(strstr(d, "bccd"));
    assert_null(strstr(d, "db8:5"));
    assert_string_equal(unit_apply(&u, "255.255.252.0 127.0.0.1 0.0.0.0 224.0.0.1 ::1 10.2.309.8 1.0.0.32 10.20.2.7-1vmw.650 18:02:23 0000:00:1f.2"),
                        "255.255.252.0 127.0.0.1 0.0.0.0 224.0.0.1 ::1 10.2.309.8 1.0.0.32 10.20.2.7-1vmw.650 18:02:23 0000:00:1f.2");
    assert_string_equal(unit_apply(&u, "192.168.17.211"), "192.168.17.211"); /* another one, that nobody has seen */
    arena_free(u.a);
}

static void a_host_is_the_same_in_every_name_that_holds_it(void **state)
{
    struct unit u;
    const char *whole, *word, *iqn;

    (void)state;
    unit_begin(&u);
    unit_put(&u, "host", "", "name", "esx01.mgmt.initech.com");
    unit_put(&u, "datastore", "5a1b2c3d-4e5f6a7b-8c9d-001b21aabbcc", "name", "esx01-local");
    unit_put(&u, "vm", "1", "name", "M\xc3\xbcller & S\xc3\xb6hne");
    unit_seal(&u, "iqn.1998-01.com.vmware:esx01-1a2b3c4d nfs.initech.com user 'jdoe'@10.1.2.3, User root@bastion.");
    whole = unit_apply(&u, "esx01.mgmt.initech.com");
    assert_true(same_form(whole, "esx01.mgmt.initech.com", false));
    assert_string_equal(whole + 18, ".com");
    assert_null(strstr(whole, "initech"));
    word = unit_apply(&u, "Mar  2 ESX01 vmkernel: initech.com, initech; esx01-local");
    assert_null(strstr(word, "ESX01"));
    assert_null(strstr(word, "initech"));
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(lower(word[7 + i]), whole[i]);
        assert_int_equal(word[45 + i], whole[i]);
    }
    iqn = unit_apply(&u, "iqn.1998-01.com.vmware:esx01-1a2b3c4d");
    assert_memory_equal(iqn, "iqn.1998-01.com.vmware:", 23);
    assert_memory_equal(iqn + 23, whole, 5);
    assert_string_not_equal(iqn + 29, "1a2b3c4d");
    assert_null(strstr(unit_apply(&u, "nfs.initech.com"), "initech"));
    assert_null(strstr(unit_apply(&u, "User jdoe logged in"), "jdoe"));
    assert_null(strstr(unit_apply(&u, "login from bastion by root"), "bastion"));
    assert_non_null(strstr(unit_apply(&u, "login from bastion by root"), "login from "));
    assert_non_null(strstr(unit_apply(&u, "login from bastion by root"), " by root"));
    /* in XML, JSON and with blanks as file names have them */
    assert_null(strstr(unit_apply(&u, "<string>M\xc3\xbcller &amp; S\xc3\xb6hne</string>"), "ller"));
    assert_non_null(strstr(unit_apply(&u, "<string>M\xc3\xbcller &amp; S\xc3\xb6hne</string>"), " &amp; "));
    assert_null(strstr(unit_apply(&u, "\"M\\u00fcller & S\\u00f6hne\""), "ller"));
    assert_null(strstr(unit_apply(&u, "M\xc3\xbcller_&_S\xc3\xb6hne"), "ller"));
    arena_free(u.a);
}

/* Where the first bytes of one are the last ones of another: both are replaced, the second as far as the first leaves it. */
static void what_begins_inside_of_another_is_replaced_past_its_end(void **state)
{
    struct unit u;
    const char *mac, *naa, *both;

    (void)state;
    unit_begin(&u);
    unit_put(&u, "vm", "1", "name", "omega-alphaxx");
    unit_put(&u, "vm", "2", "name", "alphaxx betayy-gamma");
    unit_seal(&u, "00:24:ff:09:00:90 naa.6d09466000000000900-24-ff-09-00-90 UID sas.6-naa.6d09466000000000900");
    mac = unit_apply(&u, "00-24-ff-09-00-90");
    naa = unit_apply(&u, "naa.6d09466000000000900");
    both = unit_apply(&u, "naa.6d09466000000000900-24-ff-09-00-90 00-24-ff-09-00-90");
    assert_memory_equal(both, naa, 23);
    assert_string_equal(both + 23, arena_printf(u.a, "%s %s", mac + 2, mac)); /* and what comes after them is as everywhere */
    assert_string_not_equal(mac + 8, "-09-00-90");
    both = unit_apply(&u, "Omega-alphaxx Betayy-gamma");
    assert_null(strstr(both, "alphaxx"));
    assert_null(strstr(both, "etayy"));
    assert_null(strstr(both, "gamma"));
    assert_true(same_form(both, "Omega-alphaxx Betayy-gamma", false));
    arena_free(u.a);
}

/* "co" is the end of domains, and here the begin of a label. */
static void a_label_is_the_same_alone_in_a_domain_and_in_an_iqn(void **state)
{
    struct unit u;
    const char *alone, *whole;

    (void)state;
    unit_begin(&u);
    unit_put(&u, "host", "", "name", "esx01.co-operate.org");
    unit_seal(&u, "iqn.2001-04.org.co-operate:x17 iqn.2003-01.org.linux-iscsi.stor17:sn.1");
    alone = unit_apply(&u, "co-operate");
    whole = unit_apply(&u, "esx01.co-operate.org");
    assert_memory_equal(whole + 6, alone, 10);
    assert_memory_not_equal(alone, "co", 2);
    assert_string_equal(whole + 16, ".org");
    whole = unit_apply(&u, "iqn.2001-04.org.co-operate:x17");
    assert_memory_equal(whole, "iqn.2001-04.org.", 16);
    assert_memory_equal(whole + 16, alone, 10);
    whole = unit_apply(&u, "iqn.2003-01.org.linux-iscsi.stor17:sn.1"); /* the authority is a product */
    assert_memory_equal(whole, "iqn.2003-01.org.linux-iscsi.", 28);
    assert_memory_not_equal(whole + 28, "stor17", 6);
    arena_free(u.a);
}

static void words_of_the_product_are_replaced_in_their_place_only(void **state)
{
    static const char *const names[] = {"list", "1", "true", "vmw-ahci", "esx", "Name"};
    static const char log[] = "esxcli storage core adapter list 1 true vmw-ahci esx Name lpfc\n";

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        _cleanup_(buf_done) struct buf text = BUF_INIT(4096), path = BUF_INIT(4096);
        struct unit u;

        unit_begin(&u);
        unit_put(&u, "vib", "vmw-ahci", "name", "vmw-ahci");
        unit_put(&u, "vm", "17", "name", names[i]);
        unit_seal(&u, "");
        assert_string_equal(unit_apply(&u, log), log);
        buf_printf(&text, "17\n   World ID: 17\n   Display Name: %s\n", names[i]);
        buf_printf(&path, "/vmfs/volumes/ds/%s/%s.vmx", names[i], names[i]);
        assert_string_not_equal(unit_apply(&u, buf_z(&text)), buf_z(&text));
        assert_memory_equal(unit_apply(&u, buf_z(&text)), buf_z(&text), text.n - strlen(names[i]) - 1);
        assert_string_not_equal(unit_apply(&u, buf_z(&path)), buf_z(&path));
        buf_reset(&text);
        buf_printf(&text, "<field name=\"DisplayName\">\n <string>%s</string>", names[i]);
        assert_string_not_equal(unit_apply(&u, buf_z(&text)), buf_z(&text));
        buf_reset(&text);
        buf_printf(&text, "vmm0:%s", names[i]);
        assert_string_not_equal(unit_apply(&u, buf_z(&text)), buf_z(&text));
        arena_free(u.a);
    }
}

static void defaults_and_placeholders_stay(void **state)
{
    static const char text[] = "datastore1 vSwitch0 VM Network Management Network localhost BOOTBANK1 None No Asset Tag 0000000000 root";
    struct unit u;

    (void)state;
    unit_begin(&u);
    unit_put(&u, "host", "", "name", "localhost.localdomain");
    unit_put(&u, "host", "", "serial", "0000000000");
    unit_put(&u, "vswitch", "vSwitch0", "name", "vSwitch0");
    unit_put(&u, "vmknic", "vmk0", "portgroup", "Management Network");
    unit_put(&u, "datastore", "5a1b2c3d-4e5f6a7b-8c9d-001b21aabbcc", "name", "datastore1");
    unit_seal(&u, "Serial Number: None\nAsset Tag: No Asset Tag\nuser 'root'@10.1.2.3\n");
    assert_string_equal(unit_apply(&u, text), text);
    arena_free(u.a);
}

static void the_name_that_a_host_was_reached_by_is_its_own(void **state)
{
    struct unit u;

    (void)state;
    unit_begin(&u);
    assert_int_equal(anonymiser_host(u.x, SLICE_LIT("esx-alias7")), 0);
    assert_int_equal(anonymiser_host(u.x, SLICE_LIT("2001:db8:5:1::17")), 0);
    unit_seal(&u, "");
    assert_null(strstr(unit_apply(&u, "lost: Connection to esx-alias7 closed by remote host."), "esx-alias7"));
    assert_null(strstr(unit_apply(&u, "lost: [2001:db8:5:1::17] port 22"), "db8:5"));
    arena_free(u.a);
}

static void before_the_seal_nothing_is_given_out(void **state)
{
    _cleanup_(buf_done) struct buf out = BUF_INIT(100);
    struct err e = {0};
    struct unit u;

    (void)state;
    unit_begin(&u);
    assert_int_equal(anonymiser_apply(u.x, SLICE_LIT("00:1b:21:aa:bc:cd"), &out, &e), VF_EUSAGE);
    assert_int_equal(out.n, 0);
    unit_seal(&u, "");
    assert_int_equal(anonymiser_apply(u.x, (struct slice){NULL, 0}, &out, &e), 0);
    arena_free(u.a);
}

static void a_full_arena_is_said(void **state)
{
    bool full = true;
    size_t n;

    (void)state;
    for (n = 1; full && n < 5000; n++) {
        struct arena *a = arena_new(64u << 20);
        struct anonymiser *x = anonymiser_new(test_key, a);
        struct err e = {0};

        arena_fail_at(a, n);
        full = anonymiser_learn(x, NULL, SLICE_LIT(T10 " " NAA " 00:1b:21:aa:bc:cd 192.168.1.17 iqn.1998-01.com.vmware:a-1 nqn.2014-08.org:uuid:x\n"
                                                   "search mgmt.initech.com\n/vmfs/volumes/store-eleven/web server/web server.vmx vmm0:db-17\n")) < 0 ||
               anonymiser_seal(x, &e) < 0;
        if (full) {
            _cleanup_(buf_done) struct buf out = BUF_INIT(100);

            assert_int_equal(anonymiser_apply(x, SLICE_LIT("x"), &out, &e), VF_EUSAGE);
        }
        arena_free(a);
    }
    assert_in_range(n, 100, 4999);
}

/* --- random identities --- */

static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* '#' a hexadecimal digit, '9' a digit, 'A' a capital, 'a' a small letter; anything else itself. */
static void random_form(uint64_t *seed, const char *form, char *out)
{
    size_t i = 0;

    for (; form[i]; i++) {
        uint64_t r = random_next(seed) >> 20;

        out[i] = form[i] == '#' ? "0123456789abcdef"[r % 16] : form[i] == '9' ? (char)('0' + r % 10)
                 : form[i] == 'A' ? (char)('A' + r % 26) : form[i] == 'a' ? (char)('a' + r % 26) : form[i];
    }
    out[i] = '\0';
}

static void different_originals_become_different_replacements(void **state)
{
    static const struct {
        const char *form, *around;
    } kinds[] = {
        {"00:1b:21:##:##:##", "mac %s\n"},
        {"naa.600508b1001#######################", "dev \"%s\"\n"},
        {"50:0#:##:##:##:##:##:##", "wwpn %s\n"},
        {"########-####-####-####-############", "uuid %s\n"},
        {"########-########-####-############", "/vmfs/volumes/%s/\n"},
        {"t10.ATA_____MODEL_X1_SSD____________________________SAA9999999A____", "(%s)\n"},
        {"192.168.99.99", "address: %s\n"},
        {"WAA9999-A999999", "Serial Number: %s\n"},
        {"2001:db8:1#::1##", "address %s \n"},
        {"iqn.2003-01.org.linux-iscsi:aaa99.x", "target %s\n"},
        {"aaaaa-99", "vmm0:%s\n"},
        {"zz9", "vmm0:%s\n"},
    };
    uint64_t seed = 20260717;

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        _cleanup_(buf_done) struct buf body = BUF_INIT(1u << 20), all = BUF_INIT(1u << 20);
        static char originals[300][80];
        struct slice images[300];
        struct unit u;
        size_t n = 0;

        unit_begin(&u);
        while (n < 300) {
            char one[80];
            const char *mark = strchr(kinds[k].around, '%');

            random_form(&seed, kinds[k].form, one);
            for (char *p = one; k == 11 && *p; p++)
                *p = *p == 'z' ? (char)('b' + random_next(&seed) % 24) : *p;
            if (k == 6 && strstr(one, ".0")) /* no octet has a leading zero */
                continue;
            memcpy(originals[n++], one, sizeof one);
            buf_add(&body, (struct slice){kinds[k].around, (size_t)(mark - kinds[k].around)});
            buf_addz(&body, one);
            buf_addz(&body, mark + 2);
        }
        unit_seal(&u, buf_z(&body));
        for (size_t i = 0; i < n; i++) {
            images[i] = slice_of(unit_apply(&u, originals[i]));
            if (!same_form(originals[i], images[i].p, true))
                fail_msg("%s becomes %s", originals[i], images[i].p);
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (slice_eq(images[i], images[j]) != (strcmp(originals[i], originals[j]) == 0))
                    fail_msg("%s and %s become %s and %s", originals[i], originals[j], images[i].p, images[j].p);
        for (size_t i = 0; i < n; i++) /* in one text as by itself */
            buf_printf(&all, " %s\n", originals[i]);
        {
            const char *out = unit_apply(&u, buf_z(&all));

            for (size_t i = 0; i < n; i++) {
                if (memcmp(out + 1, images[i].p, images[i].n) != 0)
                    fail_msg("%s is another one beside others", originals[i]);
                out += images[i].n + 2;
            }
        }
        arena_free(u.a);
    }
}

static void another_key_gives_other_replacements(void **state)
{
    static const uint8_t other_key[16] = "another key, too";
    struct unit u, v;
    const char *one, *two;

    (void)state;
    unit_begin(&u);
    unit_begin(&v);
    v.x = anonymiser_new(other_key, v.a);
    unit_seal(&u, NAA);
    unit_seal(&v, NAA);
    one = unit_apply(&u, NAA);
    two = unit_apply(&v, NAA);
    assert_string_not_equal(one, two);
    arena_free(u.a);
    arena_free(v.a);
}

static void short_names_are_learned_beside_a_full_one_they_are_no_part_of(void **state)
{
    const struct ask hostname = {.kind = ASK_ESXCLI, .text = SLICE_LIT("system hostname get")}, other = {.kind = ASK_ESXCLI, .text = SLICE_LIT("system version get")};
    static const char *const answers[] = {
        "   Domain Name: bankhaus.ch\n   Fully Qualified Domain Name: prod42.acme.example\n   Host Name: zuerich7\n",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<output xmlns=\"http://www.vmware.com/Products/ESX/5.0/esxcli\">\n<root>\n   <structure typeName=\"FQDNHostName\">\n"
        "      <field name=\"DomainName\">\n         <string>bankhaus.ch</string>\n      </field>\n"
        "      <field name=\"FullyQualifiedDomainName\">\n         <string>prod42.acme.example</string>\n      </field>\n"
        "      <field name=\"HostName\">\n         <string>zuerich7</string>\n      </field>\n   </structure>\n</root>\n</output>\n",
        "DomainName,FullyQualifiedDomainName,HostName,\nbankhaus.ch,prod42.acme.example,zuerich7,\n",
    };

    (void)state;
    for (size_t i = 0; i <= sizeof answers / sizeof *answers; i++) {
        bool asked = i < sizeof answers / sizeof *answers;
        const char *text = "zuerich7 prod42.acme.example nas01.bankhaus.ch esx-77.firma.test";
        const char *out;
        struct unit u;

        unit_begin(&u);
        assert_int_equal(anonymiser_hostname(u.x, asked ? &hostname : &other, slice_of(answers[asked ? i : 0])), 0);
        assert_int_equal(anonymiser_host(u.x, SLICE_LIT("esx-77.firma.test")), 0);
        assert_int_equal(anonymiser_host(u.x, SLICE_LIT("127.0.0.1")), 0);
        unit_seal(&u, "nas01.bankhaus.ch");
        out = unit_apply(&u, text);
        assert_null(strstr(out, "firma"));
        assert_int_equal(strstr(out, "zuerich7") == NULL, asked);
        assert_int_equal(strstr(out, "prod42") == NULL, asked);
        assert_int_equal(strstr(out, "acme") == NULL, asked);
        assert_int_equal(strstr(out, "bankhaus") == NULL, asked);
        assert_int_equal(strstr(out, "nas01") == NULL, asked);
        arena_free(u.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mac_is_one_in_all_spellings),
        cmocka_unit_test(one_serial_number_is_one_in_all_spellings),
        cmocka_unit_test(one_uuid_is_one_in_all_spellings),
        cmocka_unit_test(device_ids_keep_type_and_vendor),
        cmocka_unit_test(addresses_stay_in_their_networks),
        cmocka_unit_test(a_host_is_the_same_in_every_name_that_holds_it),
        cmocka_unit_test(short_names_are_learned_beside_a_full_one_they_are_no_part_of),
        cmocka_unit_test(what_begins_inside_of_another_is_replaced_past_its_end),
        cmocka_unit_test(a_label_is_the_same_alone_in_a_domain_and_in_an_iqn),
        cmocka_unit_test(words_of_the_product_are_replaced_in_their_place_only),
        cmocka_unit_test(defaults_and_placeholders_stay),
        cmocka_unit_test(the_name_that_a_host_was_reached_by_is_its_own),
        cmocka_unit_test(before_the_seal_nothing_is_given_out),
        cmocka_unit_test(a_full_arena_is_said),
        cmocka_unit_test(different_originals_become_different_replacements),
        cmocka_unit_test(another_key_gives_other_replacements),
    };

    return cmocka_run_group_tests(tests, shared_open, shared_close);
}
