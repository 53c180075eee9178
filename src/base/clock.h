#ifndef VF_BASE_CLOCK_H
#define VF_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Milliseconds that only go forward, for deadlines and durations; nothing to do with the time of day. A deadline is such a number;
 * clock_left gives what is left of it, 0 when it is past.
 */
uint64_t clock_ms(void);
uint64_t clock_left(uint64_t deadline);
static inline uint64_t clock_sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * The user's wish to stop: the first SIGINT or SIGTERM asks for it, the second ends the process. Every wait wakes on it. Without
 * stop_catch nothing is caught and stop_wanted stays false.
 */
void stop_catch(void);
bool stop_wanted(void);

enum clock_wait { WAIT_READY, WAIT_TIMEOUT, WAIT_STOPPED };

struct pollfd;
/* poll() until something happens to one of fds (n at most 4), the deadline passes, or a stop is wanted. A negative fd is left out. */
enum clock_wait clock_poll(struct pollfd *fds, unsigned n, uint64_t deadline);

#endif
