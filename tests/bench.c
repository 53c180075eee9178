/*
 * Ratios against a floor measured in the same run: CPU time, medians of several rounds. A machine's speed cancels out, so that the targets
 * mean the same everywhere. Prints a table; the exit status is 1 when a target is missed.
 */
#include <fcntl.h>
#include <libxml/xmlreader.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fsx.h"
#include "base/xml.h"
#include "bench_inputs.h"
#include "cmd/env.h"
#include "core/match.h"

#define HOST   "fixtures/sys-5028d-6.5-before"
#define ROUNDS 9

struct bench {
    struct env env;
    char folder[64];
    unsigned missed;
};

static double cpu_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_size);
    return v[n / 2];
}

/* target 0: only told */
static void tell(struct bench *b, const char *what, double ratio, const char *unit, double target, const char *detail)
{
    bool ok = target <= 0 || ratio <= target;
    char limit[32] = "-";

    if (target > 0)
        (void)snprintf(limit, sizeof limit, "%.1f", target);
    (void)printf("  %-44s %9.2f %-6s %7s  %-6s  %s\n", what, ratio, unit, limit, target <= 0 ? "" : ok ? "ok" : "MISSED", detail);
    b->missed += !ok;
}

static void die(const char *what, const struct err *e)
{
    (void)fprintf(stderr, "bench: %s: %s\n", what, e ? e->msg : "");
    exit(1);
}

/* --- processes --- */

static double spawn_seconds(char *const *argv)
{
    posix_spawn_file_actions_t quiet;
    double v[ROUNDS * 3];
    size_t n;

    (void)posix_spawn_file_actions_init(&quiet);
    (void)posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    for (n = 0; n < ROUNDS * 3; n++) {
        struct rusage use;
        pid_t pid;
        int status;

        if (posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ) != 0 || wait4(pid, &status, 0, &use) != pid || !WIFEXITED(status) ||
            WEXITSTATUS(status) == 127)
            die(argv[0], NULL);
        v[n] = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    }
    (void)posix_spawn_file_actions_destroy(&quiet);
    return median(v, n);
}

static void bench_scan(struct bench *b)
{
    char *const scan[] = {(char[]){"build/vmkfit"}, (char[]){"scan"}, (char[]){HOST}, NULL};
    char *const version[] = {(char[]){"build/vmkfit"}, (char[]){"--version"}, NULL};
    char *const git[] = {(char[]){"git"}, (char[]){"--version"}, NULL}, *const nothing[] = {(char[]){"true"}, NULL};
    double s = spawn_seconds(scan), v = spawn_seconds(version), g = spawn_seconds(git), t = spawn_seconds(nothing);
    char detail[80];

    (void)snprintf(detail, sizeof detail, "%.2f ms against %.2f ms", s * 1e3, g * 1e3);
    tell(b, "scan of a recording / git --version", s / g, "times", 0, detail);
    (void)snprintf(detail, sizeof detail, "%.2f ms against %.2f ms", s * 1e3, t * 1e3);
    tell(b, "scan of a recording / true", s / t, "times", 0, detail);
    (void)snprintf(detail, sizeof detail, "%.2f ms against %.2f ms", v * 1e3, t * 1e3);
    tell(b, "vmkfit --version / true", v / t, "times", 0, detail);
}

/* --- decoders --- */

static double decode_seconds(const struct bench_form *f, struct slice in)
{
    double v[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(1u << 30);
        struct decoded d = {0};
        double begin = cpu_now();

        if (f->run(in, &f->opt, a, &d) != 0 || d.state < DECODE_PARTIAL || d.n == 0) {
            (void)fprintf(stderr, "bench: %s: %zu records, line %u: %s\n", f->name, d.n, d.line, d.why ? d.why : "");
            exit(1);
        }
        v[i] = cpu_now() - begin;
    }
    return median(v, ROUNDS);
}

static double read_seconds(const char *path, struct slice in)
{
    double v[ROUNDS];
    struct err e = {0};
    FILE *f = fopen(path, "w");

    if (!f || fwrite(in.p, 1, in.n, f) != in.n || fclose(f) != 0)
        die(path, NULL);
    for (size_t i = 0; i < ROUNDS; i++) {
        _cleanup_(arena_done) struct arena *a = arena_new(1u << 30);
        struct slice bytes;
        double begin = cpu_now();

        if (fsx_read(path, BENCH_MAX_INPUT, a, &bytes, NULL, &e) < 0)
            die(path, &e);
        v[i] = cpu_now() - begin;
    }
    return median(v, ROUNDS);
}

static void bench_decoders(struct bench *b)
{
    _cleanup_(buf_done) struct buf whole = BUF_INIT(BENCH_MAX_INPUT), half = BUF_INIT(BENCH_MAX_INPUT);
    char path[96], what[80], detail[120];

    (void)snprintf(path, sizeof path, "%s/input", b->folder);
    for (size_t i = 0; i < BENCH_FORMS; i++) {
        const struct bench_form *f = &bench_forms[i];
        double t, h, r;

        bench_input(f, f->rows, &whole);
        bench_input(f, f->rows / 2, &half);
        t = decode_seconds(f, buf_slice(&whole));
        h = decode_seconds(f, buf_slice(&half));
        r = read_seconds(path, buf_slice(&whole));
        (void)snprintf(what, sizeof what, "%s: twice the rows", f->name);
        (void)snprintf(detail, sizeof detail, "%6.0f MB/s, %.1f times reading the file; %.1f MB, %.1f ms", (double)whole.n / 1e6 / t, t / r,
                       (double)whole.n / 1e6, t * 1e3);
        tell(b, what, t / h, "times", 3.5, detail); /* in linear time 2, in quadratic time 4 */
    }
    (void)unlink(path);
}

/* --- rules --- */

static struct facts *host_facts(struct bench *b, struct arena *a)
{
    struct target *t;
    struct facts *f;
    struct err e = {0};
    size_t n;

    if (offline_open(HOST, b->env.arena, &t, &n, &e) < 0 || env_gather(&b->env, t, a, &f, &e) < 0)
        die(HOST, &e);
    channel_close(&t->channel);
    return f;
}

/* The floor of loading: the library's reader over the same bytes, nothing taken. */
static double walk_seconds(struct slice in)
{
    xmlTextReaderPtr r;
    double begin = cpu_now();
    int rc;

    r = xmlReaderForMemory(in.p, (int)in.n, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_COMPACT | XML_PARSE_BIG_LINES);
    while ((rc = xmlTextReaderRead(r)) == 1)
        ;
    xmlFreeTextReader(r);
    if (rc != 0)
        die("xmlTextReader", NULL);
    return cpu_now() - begin;
}

static double match_seconds(const struct ruleset *rs, const struct facts *f, size_t *findings)
{
    double v[ROUNDS * 5];
    size_t n;

    for (n = 0; n < sizeof v / sizeof *v; n++) {
        _cleanup_(arena_done) struct arena *a = arena_new(256u << 20);
        struct match_ctx m = {.rules = rs, .facts = f, .arena = a};
        struct findings out;
        struct err e = {0};
        double begin = cpu_now();

        for (unsigned k = 0; k < 10; k++)
            if (match_run(&m, &out, &e) < 0)
                die("match", &e);
        v[n] = (cpu_now() - begin) / 10;
        *findings = out.n;
    }
    return median(v, n);
}

static void bench_rules_of(struct bench *b, unsigned n, const struct facts *f, double *base)
{
    _cleanup_(buf_done) struct buf text = BUF_INIT(BENCH_MAX_INPUT);
    _cleanup_(arena_done) struct arena *bytes_arena = arena_new(1u << 30), *keep = NULL;
    unsigned rounds = n > 10000 ? 3 : 7;
    double load[8], walk[8], seal[8], match;
    struct ruleset rs = {0};
    struct err e = {0};
    struct slice bytes;
    size_t findings = 0;
    char path[96], what[80], detail[160];
    FILE *out;

    (void)snprintf(path, sizeof path, "%s/rules.xml", b->folder);
    bench_rules(n, &text);
    out = fopen(path, "w");
    if (!out || fwrite(text.p, 1, text.n, out) != text.n || fclose(out) != 0)
        die(path, NULL);
    buf_done(&text);
    if (fsx_read(path, BENCH_MAX_INPUT, bytes_arena, &bytes, NULL, &e) < 0)
        die(path, &e);
    (void)unlink(path);
    for (unsigned i = 0; i < rounds; i++) {
        double begin;

        arena_free(keep);
        keep = arena_new((size_t)4 << 30);
        ruleset_init(&rs, &b->env.schema, &b->env.builds, keep);
        rs.rules.without_examples = true; /* as a scan does */
        begin = cpu_now();
        if (rules_load(&rs.rules, bytes, path, &b->env.schema, keep, &e) < 0)
            die("rules", &e);
        load[i] = cpu_now() - begin;
        begin = cpu_now();
        if (ruleset_seal(&rs, &e) < 0)
            die("rules", &e);
        seal[i] = cpu_now() - begin;
        walk[i] = walk_seconds(bytes);
    }
    match = match_seconds(&rs, f, &findings);
    if (*base <= 0)
        *base = match;
    (void)snprintf(what, sizeof what, "match one host: %u rules / 1,000 rules", n);
    (void)snprintf(detail, sizeof detail, "%.1f us a host, %zu findings and doubts", match * 1e6, findings);
    tell(b, what, match / *base, "times", 2.0, detail);
    (void)snprintf(what, sizeof what, "load %u rules / bare xmlTextReader", n);
    {
        double l = median(load, rounds), w = median(walk, rounds), s = median(seal, rounds);

        (void)snprintf(detail, sizeof detail, "%.0f ms against %.0f ms, %.1f MB; index %.0f ms; arena %.1f MB", l * 1e3, w * 1e3, (double)bytes.n / 1e6, s * 1e3,
                       (double)arena_used(keep) / 1e6);
        tell(b, what, l / w, "times", 2.0, detail);
    }
}

int main(void)
{
    struct bench b = {.missed = 0};
    struct arena *a = arena_new(512u << 20);
    struct err e = {0};
    const struct facts *f;
    double base = 0;

    xml_setup();
    if (env_open(&b.env, ".", NULL, &e) < 0)
        die("probes", &e);
    (void)snprintf(b.folder, sizeof b.folder, "build/bench-XXXXXX");
    if (!mkdtemp(b.folder))
        die(b.folder, NULL);
    (void)printf("  %-44s %9s %-6s %7s\n", "CPU time, medians", "ratio", "", "at most");
    bench_scan(&b);
    bench_decoders(&b);
    f = host_facts(&b, a);
    bench_rules_of(&b, 1000, f, &base);
    bench_rules_of(&b, 10000, f, &base);
    bench_rules_of(&b, 100000, f, &base);
    (void)rmdir(b.folder);
    arena_free(a);
    env_close(&b.env);
    (void)printf("%u targets missed\n", b.missed);
    return b.missed ? 1 : 0;
}
