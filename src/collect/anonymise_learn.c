#include "collect/anonymise_parts.h"

/* Patterns: what identifies somebody by its form, wherever it stands. Every one begins where no letter or digit goes before. */

#define LOOK_BACK 64u /* bytes in front of an address that tell whether it is a version */

static size_t hex_run(struct slice s, size_t at)
{
    size_t n = 0;

    while (at + n < s.n && is_hex_digit(s.p[at + n]))
        n++;
    return n;
}

static bool ends_at(struct slice s, size_t at)
{
    return at >= s.n || !is_alnum(s.p[at]);
}

static bool istarts(struct slice s, const char *lower)
{
    size_t i = 0;

    while (lower[i] && i < s.n && lower_of(s.p[i]) == lower[i])
        i++;
    return !lower[i];
}

static bool has_letter(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_letter(s.p[i]))
            return true;
    return false;
}

/* --- hexadecimal forms --- */

static void see_digits(struct anonymiser *x, enum thing thing, struct slice text, size_t want)
{
    char digits[32];

    if (anonymise_digits(text, digits, want) == want)
        anonymise_see(x, thing, (struct slice){digits, want});
}

/* Pairs of digits parted by one character: MAC, WWN, serial number of a PCI device, UUID as machines have it. */
static void learn_pairs(struct anonymiser *x, struct slice s)
{
    char sep = s.n > 2 ? s.p[2] : 0;
    size_t n = 1;

    if (sep != ':' && sep != '-' && sep != ' ')
        return;
    while (n < 16 && s.n >= 3 * n + 2 && (s.p[3 * n - 1] == sep || (n == 8 && sep == ' ' && s.p[3 * n - 1] == '-')) && hex_run(s, 3 * n) == 2)
        n++;
    if (!ends_at(s, 3 * n - 1) || (sep == ':' && 3 * n - 1 < s.n && s.p[3 * n - 1] == ':'))
        return;
    s.n = 3 * n - 1;
    if (n == 6 && sep != ' ')
        see_digits(x, THING_MAC, s, 12);
    else if (n == 8 && sep == ':')
        see_digits(x, THING_WWN, s, 16);
    else if (n == 8 && sep == '-') {
        char digits[32];

        (void)anonymise_digits(s, digits, 16);
        if (memcmp(digits + 6, "ffff", 4) == 0) { /* a MAC address with ff-ff in its middle */
            memmove(digits + 6, digits + 10, 6);
            anonymise_see(x, THING_MAC, (struct slice){digits, 12});
        } else {
            see_digits(x, THING_WWN, s, 16);
        }
    } else if (n == 16) {
        see_digits(x, THING_UUID, s, 32);
    }
}

/* "0x4c 0x4c 0x45 ..." of 16 bytes */
static void learn_0x(struct anonymiser *x, struct slice s)
{
    char digits[32];
    size_t at = 0, n = 0;

    while (n < 32) {
        size_t run;

        if (!istarts(slice_from(s, at), "0x"))
            return;
        run = hex_run(s, at + 2);
        if (run < 1 || run > 2)
            return;
        digits[n++] = run == 2 ? lower_of(s.p[at + 2]) : '0';
        digits[n++] = lower_of(s.p[at + 1 + run]);
        at += 2 + run;
        if (n < 32 && (at >= s.n || s.p[at++] != ' '))
            return;
    }
    anonymise_see(x, THING_UUID, (struct slice){digits, 32});
}

/* Lengths of groups of digits parted by dashes; returns the length of it all, or 0. */
static size_t groups(struct slice s, const unsigned char *want)
{
    size_t at = 0;

    for (unsigned i = 0; want[i]; i++) {
        if (i && (at >= s.n || s.p[at++] != '-'))
            return 0;
        if (hex_run(s, at) != want[i])
            return 0;
        at += want[i];
    }
    return ends_at(s, at) ? at : 0;
}

/* dotted: behind naa., vml. or the like, which are read by themselves; behind id= and before dots stand PCI ids of a map file. */
static void learn_hex(struct anonymiser *x, struct slice s, size_t run, bool dotted)
{
    static const unsigned char uuid[] = {8, 4, 4, 4, 12, 0}, volume[] = {8, 8, 4, 12, 0};

    if (run == 2)
        learn_pairs(x, s);
    else if (run == 8 && s.n > 8 && s.p[8] == '-' && (groups(s, uuid) || groups(s, volume)))
        see_digits(x, THING_UUID, s, 32);
    else if (run == 16 && !dotted && ends_at(s, run) && has_letter(slice_cut(s, 0, run)) && memchr("125", s.p[0], 3))
        see_digits(x, THING_WWN, s, 16);
    else if (run == 32 && !dotted && ends_at(s, run) && has_letter(slice_cut(s, 0, run)))
        see_digits(x, THING_UUID, s, 32);
}

/* --- addresses --- */

static bool looks_back(struct slice body, size_t at, const char *const *words, size_t nwords)
{
    size_t from = at > LOOK_BACK ? at - LOOK_BACK : 0;

    for (size_t i = at; i-- > from;) {
        bool marked = i + 8 < body.n && memcmp(body.p + i, "<string>", 8) == 0; /* XML: the key is on the line before */

        if (marked)
            from = i > LOOK_BACK ? i - LOOK_BACK : 0;
        if (((body.p[i] == '\n' && !(at - i < 40 && slice_find(slice_cut(body, i, at - i), 0, "<string>") != SIZE_MAX)) || body.p[i] == ',' ||
             body.p[i] == ';'))
            return false;
        for (size_t w = 0; w < nwords; w++)
            if (istarts(slice_cut(body, i, at - i), words[w]))
                return true;
    }
    return false;
}

static size_t quad_length(struct slice s)
{
    size_t n = 0;
    unsigned dots = 0;

    while (n < s.n && (is_digit(s.p[n]) || (s.p[n] == '.' && n + 1 < s.n && is_digit(s.p[n + 1]))))
        dots += s.p[n++] == '.';
    return dots == 3 && (n >= s.n || !is_letter(s.p[n])) ? n : 0;
}

static void learn_ipv4(struct anonymiser *x, struct slice body, size_t at)
{
    static const char *const versions[] = {"version", "firmware", "driver", "build", "release", " rev", "fw "};
    static const char *const addresses[] = {"addr", "ip ", "ip:", "gateway", "server", "host", "route", "dns", "subnet"};
    struct slice s = slice_from(body, at);
    size_t n = quad_length(s);
    struct slice text = slice_cut(s, 0, n);

    if (n == 0 || (at && body.p[at - 1] == '.'))
        return;
    if (n + 1 < s.n && s.p[n] == '-' && is_alnum(s.p[n + 1]) && !quad_length(slice_from(s, n + 1)))
        return; /* a VIB's version */
    if (text.p[1] == '.' && !looks_back(body, at, addresses, sizeof addresses / sizeof *addresses))
        return; /* 0.1.0.0, 7.0.3.105 */
    if (!slice_starts(text, "255.") && !slice_starts(text, "192.168.") &&
        (map_get(&x->phrases, text) != MAP_NONE || looks_back(body, at, versions, sizeof versions / sizeof *versions)))
        return;
    anonymise_see_ipv4(x, text);
}

static void learn_ipv6(struct anonymiser *x, struct slice s)
{
    unsigned colons = 0, doubles = 0, digits = 0;
    size_t n = 0, group = 0;

    while (n < s.n && n < 40 && (is_hex_digit(s.p[n]) || s.p[n] == ':')) {
        if (s.p[n] == ':') {
            colons++;
            doubles += n > 0 && s.p[n - 1] == ':';
            group = 0;
        } else if (++group > 4) {
            return;
        }
        digits += is_digit(s.p[n++]);
    }
    if (n > 2 && s.p[n - 1] == ':' && s.p[n - 2] != ':')
        n--, colons--; /* "fe80::1: up" */
    if (!ends_at(s, n) || digits < 2 || n < 6 || !(doubles == 1 ? colons <= 7 : doubles == 0 && colons == 7))
        return;
    anonymise_see(x, THING_IPV6, slice_cut(s, 0, n));
}

/* --- device ids --- */

void anonymise_learn_t10(struct anonymiser *x, struct slice token)
{
    size_t end = token.n, from;

    while (end && token.p[end - 1] == '_')
        end--;
    for (from = end; from > 1 && !(token.p[from - 1] == '_' && token.p[from - 2] == '_'); from--)
        ;
    if (from <= 12) { /* only the vendor's eight characters go before: model and serial number have one blank between */
        for (from = end; from > 13 && token.p[from - 1] != '_'; from--)
            ;
        if (from <= 13)
            return;
    }
    anonymise_see(x, THING_SERIAL, slice_cut(token, from, end - from));
}

static size_t token_length(struct slice s, const char *more)
{
    size_t n = 0;

    while (n < s.n && (is_alnum(s.p[n]) || strchr(more, s.p[n])) && s.p[n])
        n++;
    return n;
}

/* The rest of a vml. id after its first ten digits: a naa. id and a model, or a serial number and six characters of the model. */
static void learn_vml(struct anonymiser *x, struct slice token)
{
    struct slice rest = slice_from(token, 14);
    char text[128];
    size_t n = 0;

    anonymise_see(x, THING_VML, token);
    for (size_t i = 0; i + 1 < rest.n && n < sizeof text; i += 2) {
        uint64_t byte = 0;

        if (num_parse_hex(slice_cut(rest, i, 2), 2, &byte) < 0 || byte < 0x20 || byte > 0x7e)
            return;
        text[n++] = (char)byte;
    }
    if (n > 10 && memcmp(text, "vmhba", 5) != 0)
        anonymise_see(x, THING_SERIAL, slice_trim((struct slice){text, n - 6}));
}

/* "iqn.YYYY-MM.authority" */
static bool is_dated(struct slice s)
{
    return s.n > 12 && s.p[8] == '-' && s.p[11] == '.' && is_digit(s.p[4]) && is_digit(s.p[7]) && is_digit(s.p[9]) && is_digit(s.p[10]);
}

static void learn_device(struct anonymiser *x, struct slice s)
{
    char first = lower_of(s.p[0]);
    size_t run;

    if (first == 'n' && istarts(s, "naa.")) {
        run = hex_run(s, 4);
        see_digits(x, run == 16 ? THING_WWN : run == 32 ? THING_NAA : THING_HEX, slice_from(s, 4), run > 32 ? 32 : run);
    } else if (first == 'e' && istarts(s, "eui.")) {
        run = hex_run(s, 4);
        see_digits(x, run == 16 ? THING_WWN : THING_HEX, slice_from(s, 4), run > 32 ? 32 : run);
    } else if (first == 'u' && istarts(s, "uuid.")) {
        see_digits(x, THING_UUID, slice_from(s, 5), 32);
    } else if (first == 's' && istarts(s, "sas.")) {
        if (hex_run(s, 4) == 16)
            see_digits(x, THING_WWN, slice_from(s, 4), 16);
    } else if (first == 'f' && istarts(s, "fc.")) {
        if (hex_run(s, 3) == 16)
            see_digits(x, THING_WWN, slice_from(s, 3), 16);
        if (s.n > 20 && s.p[19] == ':' && hex_run(s, 20) == 16)
            see_digits(x, THING_WWN, slice_from(s, 20), 16);
    } else if (first == 'v' && istarts(s, "vml.")) {
        run = hex_run(s, 4);
        if (run > 10)
            learn_vml(x, slice_cut(s, 0, run + 4));
    } else if (first == 't' && istarts(s, "t10.")) {
        anonymise_learn_t10(x, slice_cut(s, 0, token_length(s, "._-")));
    } else if (first == 'i' && istarts(s, "iqn.")) {
        struct slice token = slice_cut(s, 0, token_length(s, ".:-"));

        if (is_dated(token))
            anonymise_see(x, THING_IQN, token);
    } else if (first == 'n' && istarts(s, "nqn.")) {
        struct slice token = slice_cut(s, 0, token_length(s, ".:-_"));

        if (slice_find(token, 0, "__") != SIZE_MAX) /* of PCIe: the model, padded, and the serial number */
            anonymise_learn_t10(x, token);
        else if (is_dated(token))
            anonymise_see(x, THING_IQN, token);
    }
}

/* --- keys with a value --- */

/* After a key: blanks, a separator or the tags of XML, a quotation mark; then the value. Empty when this is no key. */
static struct slice value_after(struct slice s)
{
    size_t at = 0, end;
    bool separated = false;
    char stop = 0;

    while (at < s.n && at < 80 && memchr(" :=#\t\">", s.p[at], 7)) {
        separated = separated || memchr(":=#>", s.p[at], 4);
        stop = s.p[at] == '"' || s.p[at] == '>' ? s.p[at] : stop;
        at++;
    }
    if (stop == '>') {
        while (at < s.n && memchr(" \t\r\n", s.p[at], 4))
            at++;
        if (!slice_starts(slice_from(s, at), "<string>"))
            return (struct slice){NULL, 0};
        at += 8;
    }
    if (!separated)
        return (struct slice){NULL, 0};
    for (end = at; end < s.n && !memchr("\r\n\"<,;", s.p[end], 6) && (stop || s.p[end] != ' '); end++)
        ;
    return slice_trim(slice_cut(s, at, end - at));
}

static void learn_serial(struct anonymiser *x, struct slice s)
{
    static const char *const keys[] = {"serial", "asset tag", "assettag", "service tag", "servicetag", "license key", "licensekey", "identifiervalue"};
    static const char *const more[] = {" number", "number", "_number", " no", " num", "-number"};
    struct slice value, rest = {NULL, 0};

    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rest.p; i++)
        if (istarts(s, keys[i]))
            rest = slice_from(s, strlen(keys[i]));
    if (!rest.p)
        return;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (istarts(rest, more[i])) {
            rest = slice_from(rest, strlen(more[i]));
            break;
        }
    value = value_after(rest);
    if (value.n && !istarts(value, "vmware-") && !istarts(value, "0x") && !memchr(value.p, '*', value.n))
        anonymise_see(x, THING_SERIAL, value);
}

/* user 'root'@nas17.initech.com, user root@nas17 */
static void learn_user(struct anonymiser *x, struct slice s)
{
    size_t at = 4, n, quote;
    struct slice name, host;
    bool marked;

    if (istarts(s, "username"))
        at = 8;
    marked = at < s.n && (s.p[at] == '=' || (at + 1 < s.n && s.p[at] == ' ' && memchr("'\"", s.p[at + 1], 2)));
    while (at < s.n && memchr(" ='\"", s.p[at], 4))
        at++;
    n = token_length(slice_from(s, at), "._-\\");
    name = slice_cut(s, at, n);
    quote = at + n + (at + n < s.n && memchr("'\"", s.p[at + n], 2));
    if (quote < s.n && s.p[quote] == '@') {
        host = slice_cut(s, quote + 1, token_length(slice_from(s, quote + 1), ".-"));
        while (host.n && !is_alnum(host.p[host.n - 1])) /* the end of a sentence */
            host.n--;
        if (host.n > 2)
            anonymise_see_host(x, host);
    }
    if (n < 3 || !(marked || (at + n < s.n && s.p[at + n] == '@')) || !has_letter(name))
        return;
    at = slice_find_char(name, 0, '\\');
    if (at != SIZE_MAX) { /* DOMAIN\name */
        anonymise_see_host(x, slice_cut(name, 0, at));
        name = slice_from(name, at + 1);
    }
    anonymise_see(x, THING_NAME, name);
}

/* Five groups of five: a licence key. */
static void learn_licence(struct anonymiser *x, struct slice s)
{
    for (size_t i = 0; i < 29; i++)
        if (i >= s.n || (i % 6 == 5 ? s.p[i] != '-' : !is_digit(s.p[i]) && !(s.p[i] >= 'A' && s.p[i] <= 'Z')))
            return;
    if (ends_at(s, 29) && (s.n < 30 || s.p[29] != '-'))
        anonymise_see(x, THING_SERIAL, slice_cut(s, 0, 29));
}

/* --- names --- */

static void learn_file(struct anonymiser *x, struct slice file)
{
    static const char *const endings[] = {".vmx", ".vmdk", ".vmxf", ".vmsd", ".vmsn", ".vmem", ".nvram", ".vswp", ".iso", ".vmx~", ".vmx.lck"};
    static const char *const tails[] = {"-flat", "-ctk", "-delta", "-sesparse", "-rdm", "-rdmp"};
    bool known = false;

    for (size_t i = 0; i < sizeof endings / sizeof *endings && !known; i++)
        if (slice_iends(file, endings[i])) {
            file.n -= strlen(endings[i]);
            known = true;
        }
    if (!known)
        return;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (slice_iends(file, tails[i]))
            file.n -= strlen(tails[i]);
    if (file.n > 7 && file.p[file.n - 7] == '-') { /* a snapshot's number */
        size_t digits = 0;

        while (digits < 6 && is_digit(file.p[file.n - 1 - digits]))
            digits++;
        file.n -= digits == 6 ? 7 : 0;
    }
    anonymise_see(x, THING_MACHINE, file);
}

/* "/vmfs/volumes/DATASTORE/FOLDER/FILE". Blanks belong to it where a quotation mark, a tag or the line's end closes it. */
static void learn_path(struct anonymiser *x, struct slice body, size_t at)
{
    static const unsigned char nfs[] = {8, 8, 0}, volume[] = {8, 8, 4, 12, 0};
    char before = at ? body.p[at - 1] : ' ';
    const char *stops = before == '"' ? "\"\r\n" : before == '\'' ? "'\r\n" : before == '>' ? "<\r\n" : before == ' ' && at > 1 && body.p[at - 2] == ':' ? "\r\n" : " \"'<>\r\n\t,;)]";
    struct slice s = slice_from(body, at + 14), part;
    size_t n = 0;
    unsigned depth = 0;

    while (n < s.n && n < 1024 && s.p[n] && !strchr(stops, s.p[n]))
        n++;
    s.n = n;
    while (slice_next_word(&s, "/", &part)) {
        depth++;
        if (depth == 1 && groups(part, nfs))
            see_digits(x, THING_NFS, part, 16);
        else if (depth == 1 && !groups(part, volume) && !slice_starts(part, "vsan:") && !slice_starts(part, "vvol:"))
            anonymise_see(x, THING_DATASTORE, part);
        else if (depth == 2 && s.n && part.p[0] != '.')
            anonymise_see(x, THING_MACHINE, part);
        if (s.n == 0 && depth > 1)
            learn_file(x, part);
    }
}

/* "vmm0:NAME", "vmx-vcpu-0:NAME" */
static void learn_world(struct anonymiser *x, struct slice s)
{
    static const char *const heads[] = {"vmm", "vcpu-", "vmx-svga", "vmx-mks", "vmx-vthread-"};
    size_t at, n = 0;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!istarts(s, heads[i]))
            continue;
        at = strlen(heads[i]);
        while (at < s.n && is_digit(s.p[at]))
            at++;
        if (at + 1 >= s.n || s.p[at] != ':')
            return;
        s = slice_from(s, at + 1);
        while (n < s.n && (unsigned char)s.p[n] > ' ' && !strchr("\"',;)]<", s.p[n]))
            n++;
        anonymise_see(x, THING_MACHINE, slice_cut(s, 0, n));
        return;
    }
}

/* Lines of hosts, resolv.conf and ntp.conf, and of uname. */
static void learn_line(struct anonymiser *x, struct slice line)
{
    static const char *const keys[] = {"search ", "domain ", "nameserver ", "server "};
    struct slice rest = line, first, word;

    if (!slice_next_word(&rest, " \t", &first))
        return;
    if (quad_length(first) == first.n && first.n && slice_find_char(rest, 0, '.') != SIZE_MAX) {
        struct slice names = rest;
        bool plain = true;

        while (slice_next_word(&names, " \t", &word))
            plain = plain && token_length(word, ".-") == word.n && is_letter(word.p[0]);
        while (plain && slice_next_word(&rest, " \t", &word))
            anonymise_see_host(x, word);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (istarts(line, keys[i]))
            while (slice_next_word(&rest, " \t", &word))
                if (slice_find_char(word, 0, '.') != SIZE_MAX)
                    anonymise_see_host(x, word);
    if (slice_eqz(first, "VMkernel") && slice_next_word(&rest, " ", &word) && rest.n > 3 && is_digit(rest.p[1]))
        anonymise_see_host(x, word);
}

/* A further name inside a domain that is known. */
static void learn_dotted(struct anonymiser *x, struct slice s, size_t run)
{
    struct slice token = slice_cut(s, 0, run);

    if (run < s.n && s.p[run] != '.' && s.p[run] != '-')
        return;
    token.n = token_length(s, ".-");
    while (token.n && !is_alnum(token.p[token.n - 1]))
        token.n--;
    for (size_t dot = slice_find_char(token, 0, '.'); dot != SIZE_MAX && token.n < 256; dot = slice_find_char(token, dot + 1, '.'))
        if (slice_find_char(token, dot + 1, '.') != SIZE_MAX && anonymise_find(x, THING_HOST, slice_from(token, dot + 1))) {
            anonymise_see_host(x, token);
            return;
        }
}

void anonymise_learn_text(struct anonymiser *x, struct slice body)
{
    size_t at = 0;

    while (at < body.n) {
        struct slice s = slice_from(body, at);
        size_t run = 0, hex;

        if (at == 0 || body.p[at - 1] == '\n') {
            struct slice rest = s, line;

            if (slice_next_line(&rest, &line, NULL) && line.n < 1024)
                learn_line(x, line);
        }
        if (s.p[0] == '/' && slice_starts(s, "/vmfs/volumes/"))
            learn_path(x, body, at);
        if (s.p[0] == ':' && s.n > 1 && s.p[1] == ':' && (at == 0 || !is_alnum(body.p[at - 1])))
            learn_ipv6(x, s);
        if (!is_alnum(s.p[0])) {
            at++;
            continue;
        }
        while (run < s.n && is_alnum(s.p[run]))
            run++;
        hex = hex_run(s, 0);
        if (hex == run) {
            learn_hex(x, s, run, (at && (body.p[at - 1] == '.' || (body.p[at - 1] == '=' && at > 2 && body.p[at - 2] == 'd'))) || (run < s.n && s.p[run] == '.'));
            if (run <= 4 && run < s.n && s.p[run] == ':' && (at == 0 || body.p[at - 1] != ':'))
                learn_ipv6(x, s);
        }
        if (is_digit(s.p[0])) {
            learn_ipv4(x, body, at);
            if (run == 3 || run == 4)
                learn_0x(x, s);
        }
        if (run == 5)
            learn_licence(x, s);
        if (is_letter(s.p[0])) {
            learn_device(x, s);
            learn_serial(x, s);
            if (lower_of(s.p[0]) == 'v')
                learn_world(x, s);
            if (istarts(s, "user"))
                learn_user(x, s);
        }
        if (x->by_text.n && run < s.n && (s.p[run] == '.' || s.p[run] == '-'))
            learn_dotted(x, s, run);
        for (size_t i = 1; i + 6 < run; i++) /* "EnclosureSerialNumber" */
            if (s.p[i] == 'S' && istarts(slice_from(s, i), "serial"))
                learn_serial(x, slice_from(s, i));
        at += run;
    }
}
