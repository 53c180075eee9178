#include "base/slice.h"

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

bool slice_ieq(struct slice a, struct slice b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower((unsigned char)a.p[i]) != lower((unsigned char)b.p[i]))
            return false;
    return true;
}

int slice_cmp(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int rc = n ? memcmp(a.p, b.p, n) : 0;

    if (rc)
        return rc;
    return a.n < b.n ? -1 : a.n > b.n;
}

struct slice slice_trim(struct slice s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\r'))
        s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
        s.n--;
    return s;
}

bool slice_blank(struct slice s)
{
    size_t i = 0;

    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\r' || s.p[i] == '\n'))
        i++;
    return i == s.n;
}

bool slice_iends(struct slice s, const char *z)
{
    size_t n = strlen(z);

    return s.n >= n && slice_ieq(slice_from(s, s.n - n), (struct slice){z, n});
}

size_t slice_find(struct slice s, size_t from, const char *needle)
{
    size_t n = strlen(needle);
    const char *hit;

    if (from > s.n || n > s.n - from)
        return SIZE_MAX;
    hit = s.n ? memmem(s.p + from, s.n - from, needle, n) : NULL;
    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

size_t slice_find_char(struct slice s, size_t from, char c)
{
    const char *hit = from < s.n ? memchr(s.p + from, c, s.n - from) : NULL;

    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

bool slice_next_line(struct slice *rest, struct slice *line, bool *ended)
{
    size_t at;

    if (rest->n == 0)
        return false;
    at = slice_find_char(*rest, 0, '\n');
    if (ended)
        *ended = at != SIZE_MAX;
    *line = slice_cut(*rest, 0, at == SIZE_MAX ? rest->n : at);
    *rest = slice_from(*rest, at == SIZE_MAX ? rest->n : at + 1);
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

/* NUL is none of them. */
static bool among(const uint64_t set[4], char c)
{
    return set[(unsigned char)c >> 6] >> (c & 63) & 1u;
}

bool slice_next_word(struct slice *rest, const char *seps, struct slice *word)
{
    uint64_t set[4] = {0};
    size_t i = 0, start;

    for (; *seps; seps++)
        set[(unsigned char)*seps >> 6] |= 1ull << (*seps & 63);
    while (i < rest->n && among(set, rest->p[i]))
        i++;
    start = i;
    while (i < rest->n && !among(set, rest->p[i]))
        i++;
    *word = slice_cut(*rest, start, i - start);
    *rest = slice_from(*rest, i);
    return word->n > 0;
}

bool slice_has_word(struct slice text, struct slice word)
{
    struct slice w;

    while (slice_next_word(&text, " \t\r\n", &w))
        if (slice_eq(w, word))
            return true;
    return false;
}

/* any: '?' stands for one character too, and case does not count. */
static bool matches(struct slice pattern, struct slice text, bool any)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;

    while (t < text.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.n && (pattern.p[p] == text.p[t] || (any && (pattern.p[p] == '?' || lower((unsigned char)pattern.p[p]) == lower((unsigned char)text.p[t]))))) {
            p++, t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

bool slice_glob(struct slice pattern, struct slice text)
{
    return matches(pattern, text, false);
}

bool slice_iglob(struct slice pattern, struct slice text)
{
    return matches(pattern, text, true);
}

struct slice slice_first_line(struct slice text)
{
    struct slice line = {NULL, 0};

    while (slice_next_line(&text, &line, NULL) && slice_blank(line))
        ;
    return slice_trim(line);
}

unsigned slice_distance(struct slice a, struct slice b)
{
    enum { MAX = 48 };
    unsigned d[MAX + 1][MAX + 1];

    if (a.n > MAX || b.n > MAX)
        return 99;
    for (size_t i = 0; i <= a.n; i++)
        d[i][0] = (unsigned)i;
    for (size_t j = 0; j <= b.n; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++)
        for (size_t j = 1; j <= b.n; j++) {
            unsigned same = lower((unsigned char)a.p[i - 1]) == lower((unsigned char)b.p[j - 1]);
            unsigned best = d[i - 1][j - 1] + !same;

            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[a.n][b.n];
}

size_t slice_utf8(struct slice s, uint32_t *cp)
{
    unsigned char c = s.n ? (unsigned char)s.p[0] : 0xff;
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    uint32_t v = n == 1 ? c : n == 2 ? c & 0x1fu : n == 3 ? c & 0xfu : c & 7u;

    if (n == 0 || n > s.n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s.p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | ((unsigned char)s.p[i] & 0x3fu);
    }
    if ((n == 3 && v < 0x800) || (n == 4 && (v < 0x10000 || v > 0x10ffff)) || (v >= 0xd800 && v < 0xe000))
        return 0;
    *cp = v;
    return n;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static int parse_base(struct slice s, unsigned base, uint64_t *out)
{
    uint64_t v = 0;

    if (s.n == 0)
        return -1;
    for (size_t i = 0; i < s.n; i++) {
        unsigned d = (unsigned)digit(s.p[i]);

        if (d >= base || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
            return -1;
    }
    *out = v;
    return 0;
}

int num_parse_u64(struct slice s, uint64_t *out)
{
    if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X'))
        return parse_base(slice_from(s, 2), 16, out);
    return parse_base(s, 10, out);
}

int num_parse_i64(struct slice s, int64_t *out)
{
    bool neg = s.n && s.p[0] == '-';
    uint64_t v;

    if (num_parse_u64(neg ? slice_from(s, 1) : s, &v) < 0)
        return -1;
    if (v > (neg ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX))
        return -1;
    *out = neg ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

int num_parse_hex(struct slice s, unsigned max_digits, uint64_t *out)
{
    return s.n > max_digits ? -1 : parse_base(s, 16, out);
}
