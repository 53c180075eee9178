#ifndef VF_TESTS_DECODING_H
#define VF_TESTS_DECODING_H

/* What the tests of decoders share. Included after cmocka.h. */
#include "base/buf.h"
#include "decode/decode.h"

/* An arena of its own for each test, as its state. */
static inline int setup(void **state)
{
    *state = arena_new(64u << 20);
    return 0;
}

static inline int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Numbers that look random, the same on every run. */
static inline uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

#endif
