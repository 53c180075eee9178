#include "base/xml.h"

#include <string.h>

#define MAX_TAG_BYTES    (64u << 10) /* no longer one is read */
#define MAX_COLUMN_BYTES (64u << 10) /* farther behind the beginning of its line a place has no column */

/* Place of an offset whose line is known. */
static struct xml_place place_at(struct slice in, uint32_t line, size_t at)
{
    struct xml_place place = {line, 1};
    size_t from = at < in.n ? at : in.n;
    size_t to = from;

    while (from > 0 && in.p[from - 1] != '\n' && to - from < MAX_COLUMN_BYTES)
        from--;
    if (from > 0 && in.p[from - 1] != '\n')
        return (struct xml_place){line, 0};
    if (from == 0 && to >= 3 && slice_starts(in, "\xef\xbb\xbf"))
        from = 3;
    for (; from < to; from++)
        place.column += ((unsigned char)in.p[from] & 0xc0) != 0x80;
    return place;
}

struct xml_place xml_place_at(struct slice in, size_t at)
{
    uint32_t line = 1;

    for (size_t i = 0; i < at && i < in.n; i++)
        line += in.p[i] == '\n';
    return place_at(in, line, at);
}

/* In the tag that begins at lt, where the attribute's name stands; lt when it has none of that name. */
static size_t attribute_at(struct slice in, size_t lt, size_t end, struct slice attribute)
{
    size_t i = lt + 1;

    while (i < end && !strchr(" \t\r\n/>", in.p[i]))
        i++;
    while (i < end) {
        size_t name, colon, n;
        char quote;

        while (i < end && strchr(" \t\r\n", in.p[i]))
            i++;
        for (name = i; i < end && !strchr(" \t\r\n=", in.p[i]); i++)
            ;
        n = i - name;
        colon = slice_find_char(slice_cut(in, name, n), 0, ':');
        if (slice_eq(slice_cut(in, name, n), attribute) || (colon != SIZE_MAX && slice_eq(slice_cut(in, name + colon + 1, n - colon - 1), attribute)))
            return name;
        while (i < end && in.p[i] != '"' && in.p[i] != '\'')
            i++;
        quote = i < end ? in.p[i++] : '\0';
        while (i < end && in.p[i] != quote)
            i++;
        i++;
    }
    return lt;
}

struct xml_place xml_place_in(struct slice in, uint32_t line, size_t end, struct slice attribute)
{
    size_t lt = end;

    while (lt > 0 && lt <= in.n && end - lt <= MAX_TAG_BYTES && in.p[lt - 1] != '<') /* "<" does not stand inside a tag */
        lt--;
    if (lt == 0 || lt > in.n || in.p[lt - 1] != '<')
        return (struct xml_place){line, 0};
    lt--;
    if (attribute.n)
        lt = attribute_at(in, lt, end, attribute);
    for (size_t i = lt; i < end; i++)
        line -= in.p[i] == '\n' && line > 1;
    return place_at(in, line, lt);
}

struct xml_place xml_place_behind(struct slice in, uint32_t line, size_t from)
{
    size_t at = from > 0 && from <= in.n && in.p[from - 1] == '>' ? from : slice_find_char(in, from, '>') + 1, end;

    for (;;) {
        while (at < in.n && strchr(" \t\r\n", in.p[at]))
            at++;
        if (!slice_starts(slice_from(in, at), "<!--") || (end = slice_find(in, at, "-->")) == SIZE_MAX)
            break;
        at = end + 3;
    }
    for (size_t i = from; i < at && i < in.n; i++)
        line += in.p[i] == '\n';
    return place_at(in, line, at);
}
