/*
 * bench_ssh PORT KEY KNOWN_HOSTS CONFIG: CPU time of one host's SSH part, connection to close, against the least that libssh2 needs for the same
 * commands in the same run: connect, key exchange, the same key, one sh with the script on its input, read to the end. Prints
 * "ours floor child": medians in milliseconds, child being ssh -G, a process of its own. tests/bench-ssh starts the host.
 */
#include <arpa/inet.h>
#include <libssh2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fsx.h"
#include "collect/probe.h"
#include "net/login.h"
#include "net/script.h"

#define ROUNDS   31
#define MAX_ASKS 400u

static struct ask asks[MAX_ASKS];
static size_t nasks;

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double cpu_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double children_now(void)
{
    struct rusage r;

    (void)getrusage(RUSAGE_CHILDREN, &r);
    return seconds(&r.ru_utime) + seconds(&r.ru_stime);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "bench_ssh: %s: %s\n", what, why);
    exit(1);
}

/* Every question of every probe that needs no earlier answer. */
static int on_probe_file(void *ctx, const char *path, const char *rel, struct err *e)
{
    static struct probes probes;
    struct schema *s = ctx;
    static struct arena *a;
    struct slice xml;

    if (slice_eqz(slice_of(rel), "schema.xml") || slice_eqz(slice_of(rel), "releases.xml"))
        return 0;
    a = a ? a : arena_new(64u << 20);
    if (fsx_read(path, 8u << 20, a, &xml, NULL, e) < 0 || probes_load(&probes, xml, arena_printf(a, "%s", path), s, a, e) < 0)
        return e->code;
    nasks = 0;
    for (size_t i = 0; i < probes.n; i++)
        for (unsigned k = 0; k < probes.v[i]->nways && nasks < MAX_ASKS; k++)
            if (!probes.v[i]->ways[k].never && !probes.v[i]->ways[k].each.n)
                asks[nasks++] = probes.v[i]->ways[k].ask;
    return 0;
}

static int count(void *ctx, const struct reply *r)
{
    *(size_t *)ctx += r->body.n;
    return 0;
}

static uint16_t number(const char *port)
{
    uint64_t n = 0;

    (void)num_parse_u64(slice_of(port), &n);
    return (uint16_t)n;
}

static size_t ours(const char *port, const char *known_hosts, const char *config)
{
    static const struct ssh_user nobody = {"/nonexistent", "root", 0};
    const struct login_opt o = {.config = config, .known_hosts = known_hosts, .person = &nobody, .times = SSH_TIMES, .command_ms = 60000,
                                .deadline = UINT64_MAX};
    struct arena *a = arena_new(256u << 20);
    struct target_host host = {"bench", "root", "bench", number(port)};
    struct channel *c = NULL;
    struct err e = {0};
    size_t bytes = 0;

    if (login_open(&host, &o, a, &c, &e) < 0)
        die("login", e.msg);
    for (size_t i = 0; i < nasks; i++)
        (void)channel_want(c, &asks[i]);
    (void)channel_fetch(c, &e);
    for (size_t i = 0; i < nasks; i++)
        (void)channel_ask(c, &asks[i], count, &bytes, &e);
    channel_close(&c);
    arena_free(a);
    return bytes;
}

static size_t floor_(const char *port, const char *key)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    LIBSSH2_SESSION *s = libssh2_session_init();
    LIBSSH2_CHANNEL *c;
    struct buf script = BUF_INIT(1u << 20);
    struct script boundaries;
    struct err e = {0};
    char piece[32768];
    size_t bytes = 0;
    ssize_t n;

    script_init(&boundaries, (const uint8_t[16]){1});
    script_start(&boundaries, NULL, &script);
    for (size_t i = 0; i < nasks; i++)
        (void)script_ask(&asks[i], (uint32_t)i + 1, false, &script, &e);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || libssh2_session_handshake(s, fd) < 0)
        die("floor", "no connection");
    if (libssh2_userauth_publickey_fromfile(s, "root", NULL, key, "") < 0)
        die("floor", "no login");
    c = libssh2_channel_open_session(s);
    if (!c || libssh2_channel_exec(c, "sh") < 0)
        die("floor", "no shell");
    for (size_t at = 0; at < script.n; at += (size_t)n)
        if ((n = libssh2_channel_write(c, script.p + at, script.n - at)) < 0)
            die("floor", "no write");
    (void)libssh2_channel_send_eof(c);
    while ((n = libssh2_channel_read(c, piece, sizeof piece)) > 0)
        bytes += (size_t)n;
    while ((n = libssh2_channel_read_stderr(c, piece, sizeof piece)) > 0)
        ;
    (void)libssh2_channel_free(c);
    (void)libssh2_session_disconnect(s, "done");
    (void)libssh2_session_free(s);
    (void)close(fd);
    buf_done(&script);
    return bytes;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new(64u << 20);
    double mine[ROUNDS], least[ROUNDS], child[ROUNDS];
    struct schema schema;
    struct slice xml;
    struct err e = {0};

    if (argc != 5)
        die("usage", "bench_ssh PORT KEY KNOWN_HOSTS CONFIG");
    if (fsx_read("probes/schema.xml", 8u << 20, a, &xml, NULL, &e) < 0 || schema_load(xml, "schema.xml", a, &schema, &e) < 0 ||
        fsx_walk("probes", on_probe_file, &schema, &e) < 0)
        die("probes", e.msg);
    for (unsigned i = 0; i < ROUNDS; i++) {
        double begin = cpu_now(), children = children_now();

        if (ours(argv[1], argv[3], argv[4]) == 0)
            die("ours", "nothing was answered");
        mine[i] = cpu_now() - begin;
        child[i] = children_now() - children;
        begin = cpu_now();
        if (floor_(argv[1], argv[2]) == 0)
            die("floor", "nothing was answered");
        least[i] = cpu_now() - begin;
    }
    qsort(mine, ROUNDS, sizeof *mine, by_size);
    qsort(least, ROUNDS, sizeof *least, by_size);
    qsort(child, ROUNDS, sizeof *child, by_size);
    (void)printf("%.3f %.3f %.3f %zu\n", mine[ROUNDS / 2] * 1e3, least[ROUNDS / 2] * 1e3, child[ROUNDS / 2] * 1e3, nasks);
    arena_free(a);
    return 0;
}
