#ifndef VF_BASE_MAP_H
#define VF_BASE_MAP_H

#include "base/arena.h"

/*
 * Text to uint32_t, in an arena. Keys are copied by reference: they must live as long as the map (an arena's
 * do). A zeroed struct map is an empty one. The hash is seeded, since keys come from hosts; the order of
 * slots therefore means nothing and is not offered.
 */
struct map_slot {
    struct slice key;
    uint32_t value, hash;
};

struct map {
    struct map_slot *slots;
    size_t n, cap;
    uint32_t seed;
};

#define MAP_NONE UINT32_MAX

/* MAP_NONE when the key is not there. */
uint32_t map_get(const struct map *m, struct slice key);
/* Insert or replace. Returns 0, or -1 at the arena's limit. */
int map_put(struct map *m, struct arena *a, struct slice key, uint32_t value);

/* New value of a key that is there; the key stays the one it was put with. */
void map_set(struct map *m, struct slice key, uint32_t value);

#endif
