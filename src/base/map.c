#include "base/map.h"

#include <sys/random.h>

static uint32_t hash_of(struct slice s, uint32_t seed)
{
    uint32_t h = 2166136261u ^ seed;

    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h ? h : 1;
}

static struct map_slot *find(const struct map *m, struct slice key, uint32_t hash)
{
    size_t i = hash & (m->cap - 1);

    while (m->slots[i].hash && !(m->slots[i].hash == hash && slice_eq(m->slots[i].key, key)))
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

uint32_t map_get(const struct map *m, struct slice key)
{
    struct map_slot *s;

    if (m->n == 0)
        return MAP_NONE;
    s = find(m, key, hash_of(key, m->seed));
    return s->hash ? s->value : MAP_NONE;
}

static int widen(struct map *m, struct arena *a)
{
    struct map old = *m;

    m->cap = old.cap ? old.cap * 2 : 16;
    if (old.cap == 0 && getrandom(&m->seed, sizeof m->seed, GRND_NONBLOCK) < 0)
        m->seed = 0;
    m->slots = arena_array(a, m->cap, sizeof *m->slots);
    if (!m->slots) {
        *m = old;
        return -1;
    }
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].hash)
            *find(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
    return 0;
}

int map_put(struct map *m, struct arena *a, struct slice key, uint32_t value)
{
    struct map_slot *s;
    uint32_t hash;

    if (m->n * 4 >= m->cap * 3 && widen(m, a) < 0)
        return -1;
    hash = hash_of(key, m->seed);
    s = find(m, key, hash);
    if (!s->hash)
        m->n++;
    *s = (struct map_slot){key, value, hash};
    return 0;
}

void map_set(struct map *m, struct slice key, uint32_t value)
{
    struct map_slot *s = m->n ? find(m, key, hash_of(key, m->seed)) : NULL;

    if (s && s->hash)
        s->value = value;
}
