#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK_BYTES (64u << 10)

/*
 * Under AddressSanitizer what was not handed out is poisoned, with a gap behind each allocation, so that a read past the end of one is seen
 * as it would be with malloc.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_GAP 16u
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_GAP 16u
#endif
#ifdef ARENA_GAP
#include <sanitizer/asan_interface.h>
#else
#define ARENA_GAP 0u
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

struct chunk {
    struct chunk *next;
    size_t size, used;
    alignas(max_align_t) char data[];
};

struct arena {
    struct chunk *head;
    size_t limit, used, fail_at, count;
    bool full;
};

void *xmalloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p) {
        (void)fputs("vmkfit: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *xrealloc(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    if (!p) {
        (void)fputs("vmkfit: out of memory\n", stderr);
        abort();
    }
    return p;
}

struct arena *arena_new(size_t limit)
{
    struct arena *a = xmalloc(sizeof *a);

    a->limit = limit;
    return a;
}

void arena_free(struct arena *a)
{
    struct chunk *c = a ? a->head : NULL;

    while (c) {
        struct chunk *next = c->next;

        free(c);
        c = next;
    }
    free(a);
}

void arena_done(struct arena **a)
{
    arena_free(*a);
    *a = NULL;
}

bool arena_full(const struct arena *a)
{
    return a->full;
}

size_t arena_used(const struct arena *a)
{
    return a->used;
}

void arena_fail_at(struct arena *a, size_t n)
{
    a->fail_at = n ? a->count + n : 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct chunk *c = a->head;
    size_t asked = size;
    void *p;

    a->count++;
    if (size > a->limit || a->used > a->limit - size || (a->fail_at && a->count >= a->fail_at)) {
        a->full = true;
        return NULL;
    }
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (size == 0)
        size = alignof(max_align_t);
    size += ARENA_GAP;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK_BYTES / 4 ? size : CHUNK_BYTES;

        c = xmalloc(sizeof *c + room);
        c->size = room;
        ASAN_POISON_MEMORY_REGION(c->data, room);
        if (room == size && a->head) { /* a large one goes behind, so that the open chunk stays in use */
            c->next = a->head->next;
            a->head->next = c;
        } else {
            c->next = a->head;
            a->head = c;
        }
    }
    p = c->data + c->used;
    ASAN_UNPOISON_MEMORY_REGION(p, asked);
    c->used += size;
    a->used += size - ARENA_GAP;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        a->full = true;
        return NULL;
    }
    return arena_alloc(a, total);
}

struct slice arena_dup(struct arena *a, struct slice s)
{
    char *p = s.n == SIZE_MAX ? NULL : arena_alloc(a, s.n + 1);

    if (!p)
        return (struct slice){NULL, 0};
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct slice){p, s.n};
}

const char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (!p)
        return "";
    va_start(ap, fmt);
    (void)vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

int arena_grow(struct arena *a, void **v, size_t n, size_t *cap, size_t size, size_t max)
{
    size_t want = *cap ? *cap * 2 : 8;
    void *p;

    if (n >= max) {
        a->full = true;
        return -1;
    }
    if (n < *cap)
        return 0;
    p = arena_array(a, want, size);
    if (!p)
        return -1;
    if (n)
        memcpy(p, *v, n * size);
    *v = p;
    *cap = want;
    return 0;
}
