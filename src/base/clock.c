#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FDS 4u

uint64_t clock_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t clock_left(uint64_t deadline)
{
    uint64_t now = clock_ms();

    return deadline > now ? deadline - now : 0;
}

/* The one state of the process: a pipe that becomes readable with the first signal and wakes every wait. */
static volatile sig_atomic_t stopped;
static int stop_pipe[2] = {-1, -1};

static void on_signal(int sig)
{
    int keep = errno;

    if (stopped) {
        (void)signal(sig, SIG_DFL);
        (void)raise(sig);
    }
    stopped = 1;
    (void)!write(stop_pipe[1], "", 1);
    errno = keep;
}

void stop_catch(void)
{
    struct sigaction act = {.sa_handler = on_signal};

    if (stop_pipe[0] >= 0 || pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return;
    (void)sigaction(SIGINT, &act, NULL);
    (void)sigaction(SIGTERM, &act, NULL);
}

bool stop_wanted(void)
{
    return stopped;
}

enum clock_wait clock_poll(struct pollfd *fds, unsigned n, uint64_t deadline)
{
    struct pollfd all[MAX_FDS + 1];

    n = n < MAX_FDS ? n : MAX_FDS;
    if (n)
        memcpy(all, fds, n * sizeof *all);
    all[n] = (struct pollfd){stop_pipe[0], POLLIN, 0};
    for (;;) {
        uint64_t left = clock_left(deadline);
        int rc = poll(all, n + 1, left > INT_MAX ? INT_MAX : (int)left);

        if (stopped)
            return WAIT_STOPPED;
        if (rc > 0) {
            memcpy(fds, all, n * sizeof *all);
            return WAIT_READY;
        }
        if (rc == 0 && clock_left(deadline) == 0)
            return WAIT_TIMEOUT;
    }
}
