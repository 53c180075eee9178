/* Output of the shell: the first byte says how the bytes are cut into pieces, every 0x01 among them stands for the boundary's beginning. */
#include "fuzz.h"
#include "net/script.h"

#define MAX_INPUT (1u << 16)
#define MAX_HELD  (1u << 18)

/* What was taken: number, status, path and body of each boundary, then the rest. */
static void take_all(const struct script *s, struct slice in, size_t piece, struct buf *seen)
{
    struct splitter sp;
    struct slice body;
    struct boundary b;
    size_t bytes = 0;

    splitter_init(&sp, s, MAX_HELD);
    for (size_t at = 0; at < in.n; at += piece) {
        splitter_add(&sp, slice_cut(in, at, piece));
        while (splitter_next(&sp, &body, &b)) {
            struct slice again;
            struct boundary c;

            fuzz_touch(body);
            fuzz_touch(b.path);
            FUZZ_CHECK(b.status >= 0);
            FUZZ_CHECK(slice_find_char(b.path, 0, '\n') == SIZE_MAX);
            FUZZ_CHECK(splitter_next(&sp, &again, &c) && slice_eq(again, body) && c.number == b.number);
            bytes += body.n + 1 + SCRIPT_TOKEN;
            buf_printf(seen, "\n%u %lld %zu/", b.number, (long long)b.status, b.path.n);
            buf_add(seen, b.path);
            buf_add(seen, body);
            splitter_drop(&sp);
        }
    }
    FUZZ_CHECK(bytes + splitter_rest(&sp).n <= in.n);
    buf_addz(seen, "\nrest ");
    buf_add(seen, splitter_rest(&sp));
    splitter_done(&sp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t digits[16] = {1, 2, 3};
    _cleanup_(buf_done) struct buf in = BUF_INIT(MAX_HELD), whole = BUF_INIT(1u << 22), cut = BUF_INIT(1u << 22);
    size_t piece = 1 + fuzz_choice(&data, &size) % 80;
    struct script s;

    if (size > MAX_INPUT / SCRIPT_TOKEN)
        return 0;
    script_init(&s, digits);
    FUZZ_CHECK(strlen(s.token) == SCRIPT_TOKEN);
    for (size_t i = 0; i < size; i++)
        if (data[i] == 1)
            buf_printf(&in, "\n%s ", s.token);
        else
            buf_addc(&in, (char)data[i]);
    take_all(&s, buf_slice(&in), MAX_HELD, &whole);
    take_all(&s, buf_slice(&in), piece, &cut); /* how it comes makes no difference */
    FUZZ_CHECK(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    return 0;
}
