#ifndef VF_BASE_ARENA_H
#define VF_BASE_ARENA_H

#include <stddef.h>

#include "base/slice.h"

/*
 * A bump allocator with a byte limit: one per host, one per rule set. Nothing is freed singly; the whole
 * goes in one call. Memory is zeroed and aligned for any type.
 *
 * Over the limit, arena_alloc returns NULL and arena_full() stays true: what a host or a file may make us
 * hold is bounded, and the caller reports VF_ELIMIT. When the machine itself has no memory left the process
 * ends with one message.
 */
struct arena;

struct arena *arena_new(size_t limit);
void arena_free(struct arena *a);
/* For cleanup. */
void arena_done(struct arena **a);
bool arena_full(const struct arena *a);
size_t arena_used(const struct arena *a);

void *arena_alloc(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t count, size_t size);

/* Copies; NUL-terminated as well, so that .p can be printed. On the limit: an empty slice with a NULL pointer. */
struct slice arena_dup(struct arena *a, struct slice s);
const char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Make room for one more element in a growing array that lives in the arena: doubles *v when full (the old
 * copy stays until the arena goes). Returns 0 or -1 at the limit or when max elements are reached.
 */
int arena_grow(struct arena *a, void **v, size_t n, size_t *cap, size_t size, size_t max);

/* For tests: the n-th allocation from now on, and all after it, meet the limit. 0 switches it off. */
void arena_fail_at(struct arena *a, size_t n);

/* malloc that ends the process with one message when there is no memory. Freed with free(). */
void *xmalloc(size_t size);
void *xrealloc(void *p, size_t size);

#endif
