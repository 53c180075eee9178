/* Replays inputs through a fuzz target: each argument is a file, or a folder of files. Prints how many there were. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fsx.h"
#include "base/xml.h"
#include "fuzz.h"

static int replay(void *ctx, const char *path, const char *rel, struct err *e)
{
    FUZZ_ARENA(a, 64u << 20);
    struct slice bytes;
    uint8_t *copy;

    (void)rel;
    if (fsx_read(path, 32u << 20, a, &bytes, NULL, e) < 0)
        return e->code;
    copy = xmalloc(bytes.n); /* of its exact size, so that a read past its end is seen */
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    (void)LLVMFuzzerTestOneInput(copy, bytes.n);
    free(copy);
    ++*(size_t *)ctx;
    return 0;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    size_t n = 0;
    int rc = 0;

    xml_setup();
    for (int i = 1; i < argc && rc == 0; i++)
        rc = fsx_kind(argv[i]) == FSX_FOLDER ? fsx_walk(argv[i], replay, &n, &e) : replay(&n, argv[i], argv[i], &e);
    if (rc < 0) {
        (void)fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    (void)printf("%zu inputs\n", n);
    return n ? 0 : 1;
}
