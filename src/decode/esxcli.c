#include "decode/esxcli.h"

#include "base/buf.h"

#define MAX_MESSAGE 200 /* characters of a host's error that are kept */

/* --- sink --- */

void esxcli_sink_init(struct esxcli_sink *s, const struct decode_opt *o, struct arena *a)
{
    *s = (struct esxcli_sink){.o = o};
    builder_init(&s->b, a);
}

void esxcli_note(struct esxcli_sink *s, uint32_t line, const char *why)
{
    if (s->why)
        return;
    s->why = why;
    s->line = line;
}

bool esxcli_begin(struct esxcli_sink *s, struct slice id, uint32_t line)
{
    builder_finish(&s->b);
    if (s->b.n >= DECODE_MAX_RECORDS) {
        esxcli_note(s, line, "over the limit of 200000 entries");
        s->stop = true;
        return false;
    }
    builder_begin(&s->b, id, line);
    return !s->b.failed;
}

struct field *esxcli_add(struct esxcli_sink *s, struct slice key, struct slice text, uint32_t line)
{
    struct field *f;

    if (s->b.nfields >= DECODE_MAX_FIELDS) {
        esxcli_note(s, line, "over the limit of 512 fields");
        s->stop = true;
        return NULL;
    }
    text = slice_trim(text);
    f = builder_field(&s->b, key, text, line);
    if (!f)
        s->stop = true;
    else
        esxcli_damage(s, f, esxcli_not_plain(text));
    return f;
}

void esxcli_damage(struct esxcli_sink *s, struct field *f, const char *why)
{
    if (!f || !why)
        return;
    if (!f->damage)
        f->damage = why;
    esxcli_note(s, f->line, why);
}

/* Keys that ask for a state, not for text: "Is SSD", "LinkStatus", "DriverInfo/Link Detected". */
static bool is_state_key(struct slice key)
{
    static const char *const ends[] = {
        "Status",   "State",    "Mode",       "Enabled", "Supported", "Active", "Ready",
        "Allowed",  "Required", "Capable",    "Local",   "Branded",   "Online", "Loaded",
        "Reserved", "Detected", "Accessible", "Mounted", "Overlay",   "ANO",
    };
    size_t at;

    while ((at = slice_find_char(key, 0, '/')) != SIZE_MAX)
        key = slice_from(key, at + 1);
    if (slice_eqz(key, "value"))
        return true;
    if (key.n > 3 && slice_starts(key, "Is") && (key.p[2] == ' ' || (key.p[2] >= 'A' && key.p[2] <= 'Z')))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (slice_ends(key, ends[i]))
            return true;
    return false;
}

void esxcli_unended(struct esxcli_sink *s, struct field *f)
{
    /* "on", "off" and "no" are missing on purpose: "online", "offline", "not connected" begin so. */
    static const char *const whole[] = {"true", "false",   "True",     "False", "TRUE", "FALSE",
                                        "yes",  "Enabled", "Disabled", "Up",    "Down", "OK"};

    if (!f)
        return;
    for (size_t i = 0; !s->o->cut && is_state_key(f->key) && i < sizeof whole / sizeof *whole; i++)
        if (slice_eqz(f->text, whole[i]))
            return;
    esxcli_damage(s, f, "the last line has no end; it may be cut");
}

size_t esxcli_find(struct esxcli_sink *s, size_t from, struct slice key)
{
    return builder_find(&s->b, from, key, true);
}

struct slice esxcli_path(struct arena *a, struct slice parent, struct slice key)
{
    char *p;

    if (parent.n == 0)
        return arena_dup(a, key);
    p = arena_alloc(a, parent.n + key.n + 2);
    if (!p)
        return (struct slice){NULL, 0};
    memcpy(p, parent.p, parent.n);
    p[parent.n] = '/';
    if (key.n)
        memcpy(p + parent.n + 1, key.p, key.n);
    return (struct slice){p, parent.n + 1 + key.n};
}

int esxcli_end(struct esxcli_sink *s, const char *form, struct decoded *out)
{
    int rc = builder_end(&s->b, s->o, form, s->why ? DECODE_PARTIAL : DECODE_COMPLETE, s->why, s->line, out);

    if (rc < 0 || arena_full(s->b.a)) {
        (void)decode_nothing(DECODE_UNUSABLE, form, "over the memory limit of one answer", 0, out);
        return VF_ELIMIT;
    }
    return 0;
}

/* --- characters and lines --- */

size_t esxcli_char(struct slice s, bool *valid)
{
    unsigned char c = (unsigned char)s.p[0];
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

    *valid = n != 0 && n <= s.n;
    for (size_t i = 1; *valid && i < n; i++)
        *valid = ((unsigned char)s.p[i] & 0xc0) == 0x80;
    if (*valid && n > 2) { /* longer than needed, surrogates, beyond U+10FFFF */
        unsigned char d = (unsigned char)s.p[1];

        *valid = !(c == 0xe0 && d < 0xa0) && !(c == 0xed && d >= 0xa0) && !(c == 0xf0 && d < 0x90) &&
                 !(c == 0xf4 && d >= 0x90);
    }
    return *valid ? n : 1;
}

const char *esxcli_not_plain(struct slice s)
{
    while (s.n) {
        unsigned char c = (unsigned char)s.p[0];
        bool valid;

        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            return "control characters in the text";
        s = slice_from(s, esxcli_char(s, &valid));
        if (!valid)
            return "the text is not UTF-8";
    }
    return NULL;
}

bool esxcli_blank(struct slice s)
{
    return slice_trim(s).n == 0;
}

static bool is_command(struct slice line)
{
    static const char *const programs[] = {"esxcli ", "localcli "};

    if (line.n == 0 || line.p[0] == ' ' || line.p[0] == '\t')
        return false;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        size_t at = slice_find(line, 0, programs[i]);

        if (at == 0)
            return true;
        if (at != SIZE_MAX && at >= 2 && line.p[at - 1] == ' ' && strchr("#$]>%", line.p[at - 2]))
            return true;
    }
    return false;
}

/* "[root@esx1:~]", "[root@esx1:~] exit", "~ #" */
static bool is_prompt(struct slice line)
{
    size_t at = slice_find_char(line, 0, '@'), end = slice_find_char(line, 0, ']');
    struct slice bare = slice_trim(line);

    if (slice_eqz(bare, "~ #") || slice_eqz(bare, "#") || slice_eqz(bare, "$"))
        return true;
    return line.n && line.p[0] == '[' && at != SIZE_MAX && end != SIZE_MAX && at < end &&
           (end + 1 == line.n || line.p[end + 1] == ' ');
}

static struct slice skip_empty_lines(struct slice s, uint32_t *line)
{
    struct slice rest = s, text;

    while (slice_next_line(&rest, &text, NULL) && text.n == 0) {
        s = rest;
        ++*line;
    }
    return s;
}

struct slice esxcli_body(struct slice in, uint32_t *line)
{
    struct slice body, rest, first;
    size_t end, start;

    *line = 1;
    body = skip_empty_lines(slice_starts(in, "\xef\xbb\xbf") ? slice_from(in, 3) : in, line);
    rest = body;
    if (slice_next_line(&rest, &first, NULL) && is_command(first)) {
        ++*line;
        body = skip_empty_lines(rest, line);
    }
    for (end = body.n; end && strchr(" \t\r\n", body.p[end - 1]) && body.p[end - 1]; end--)
        ;
    for (start = end; start && body.p[start - 1] != '\n'; start--)
        ;
    if (start && is_prompt(slice_cut(body, start, end - start)))
        body.n = start;
    return body;
}

/* --- which form --- */

/* Only what cannot begin a name: a VM may be called "[1] test". */
static bool looks_json(struct slice lead, enum decode_shape shape)
{
    struct slice s = lead;

    if (s.n && s.p[0] == '"')
        return shape == SHAPE_VALUE;
    if (s.n == 0 || (s.p[0] != '{' && s.p[0] != '['))
        return false;
    do
        s = slice_from(s, 1);
    while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0]);
    return s.n == 0 || s.p[0] == '"' || s.p[0] == (lead.p[0] == '{' ? '}' : ']') || (lead.p[0] == '[' && s.p[0] == '{');
}

enum esxcli_form esxcli_form_of(struct slice body, enum decode_shape shape)
{
    struct slice rest = body, line, second, lead = body;

    while (lead.n && strchr(" \t\r\n", lead.p[0]) && lead.p[0])
        lead = slice_from(lead, 1);
    if (lead.n > 1 && lead.p[0] == '<' &&
        (lead.p[1] == '?' || lead.p[1] == '!' || ((lead.p[1] | 0x20) >= 'a' && (lead.p[1] | 0x20) <= 'z')))
        return ESXCLI_XML;
    if (looks_json(lead, shape))
        return ESXCLI_JSON;
    if (!slice_next_line(&rest, &line, NULL))
        return ESXCLI_TEXT;
    if (esxcli_is_keyvalue(line))
        return ESXCLI_KEYVALUE;
    if (esxcli_is_csv_heading(line) && (!slice_next_line(&rest, &second, NULL) || !slice_starts(second, "   ")))
        return ESXCLI_CSV;
    return ESXCLI_TEXT;
}

/* --- errors of the host --- */

static bool is_error_class(struct slice s)
{
    if (s.n < 8 || s.p[0] != '[' || !slice_ends(s, "Error]"))
        return false;
    for (size_t i = 1; i + 1 < s.n; i++)
        if (!((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z'))
            return false;
    return true;
}

static bool is_error_line(struct slice s)
{
    static const char *const begins[] = {
        "Error: ",
        "Unknown command or namespace ",
        "Unable to find requested formatter: ",
        "Unable to load module ",
        "Unable to set device's ",
        "Unable to find module ",
        "Unable to ",
        "Failed to ",
        "Unknown module ",
        "Invalid Module name",
        "No VIB matching ",
        "Please refer to the log file for more details",
    };

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (slice_starts(s, begins[i]))
            return true;
    if (slice_starts(s, "Connect to ") && slice_find(s, 0, " failed: ") != SIZE_MAX)
        return true;
    if (slice_starts(s, "VSISH") && slice_find(s, 0, "failed: ") != SIZE_MAX)
        return true;
    return is_error_class(s);
}

/* An object whose name begins like an error ("Error: x" is a legal VM name) has fields at indent 3 below it. */
static bool is_field_line(struct slice s)
{
    return slice_starts(s, "   ") && s.n > 3 && s.p[3] != ' ' && slice_find_char(s, 3, ':') != SIZE_MAX;
}

const char *decode_host_error(struct slice in, struct arena *a)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(8 * MAX_MESSAGE);
    struct slice rest, line, next, text;
    uint32_t at;
    size_t n = 0, chars = 0;
    bool valid;

    rest = esxcli_body(in, &at);
    if (!slice_next_line(&rest, &line, NULL) || slice_starts(line, "  ") || !is_error_line(slice_trim(line)))
        return NULL;
    next = rest;
    if (slice_next_line(&next, &text, NULL) && is_field_line(text))
        return NULL;
    do {
        if (b.n)
            buf_addc(&b, ' ');
        buf_add_safe(&b, slice_cut(slice_trim(line), 0, MAX_MESSAGE * 4));
    } while (b.n < MAX_MESSAGE * 4 && slice_next_line(&rest, &line, NULL) && !esxcli_blank(line));
    text = buf_slice(&b);
    while (n < text.n && chars < MAX_MESSAGE) {
        n += esxcli_char(slice_from(text, n), &valid);
        chars++;
    }
    text = arena_dup(a, slice_cut(text, 0, n));
    return text.p ? text.p : "the host answered with an error";
}

/* --- dispatcher --- */

int decode_esxcli(struct slice in, const struct decode_opt *o, struct arena *a, struct decoded *out)
{
    uint32_t line;
    struct slice body = esxcli_body(in, &line);
    const char *error = decode_host_error(in, a);

    if (error) {
        (void)decode_nothing(DECODE_REFUSED, "text", error, line, out);
        return arena_full(a) ? VF_ELIMIT : 0;
    }
    switch (esxcli_form_of(body, o->shape)) {
    case ESXCLI_XML: return decode_esxcli_xml(in, o, a, out);
    case ESXCLI_JSON: return decode_esxcli_json(in, o, a, out);
    case ESXCLI_KEYVALUE: return decode_esxcli_keyvalue(in, o, a, out);
    case ESXCLI_CSV: return decode_esxcli_csv(in, o, a, out);
    case ESXCLI_TEXT: break;
    }
    return decode_esxcli_text(in, o, a, out);
}
