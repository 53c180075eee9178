#include "net/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fsx.h"

#define FORMAT    1
#define MAX_INDEX (64u << 20) /* recording.json; 20,000 answers of 200 bytes are 4 MB */

struct recording {
    const char *path;
    int folder;
    struct js *answers;
    struct arena *arena;
};

static const char not_empty[] = "%s: there is something in this folder; a recording wants a new one or an empty one";

static int failed(const struct recording *r, const char *what, struct err *e)
{
    return err_set(e, VF_EIO, "%s%s%s: %s", r->path, *what ? "/" : "", what, strerror(errno));
}

static bool is_empty(int fd)
{
    int copy = dup(fd);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    bool empty = d;

    while (d && (entry = readdir(d)))
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (d)
        (void)closedir(d);
    return empty;
}

/* The folder that a path lies in, as text. */
static void add_parent(const char *path, struct buf *out)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    buf_add(out, n ? (struct slice){path, n} : SLICE_LIT("."));
}

int recording_check(const char *folder, struct err *e)
{
    _cleanup_(fsx_close) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_(buf_done) struct buf parent = BUF_INIT(64u << 10);
    const char *writes = folder;
    struct stat st;

    if (fd < 0 && errno == ENOTDIR)
        return err_set(e, VF_EUSAGE, "%s: this is no folder", folder);
    if (fd < 0 && (errno != ENOENT || lstat(folder, &st) == 0)) /* a link to nothing is there as well */
        return err_set(e, VF_EIO, "%s: %s", folder, strerror(errno));
    if (fd >= 0 && !is_empty(fd))
        return err_set(e, VF_EUSAGE, not_empty, folder);
    if (fd < 0) {
        add_parent(folder, &parent);
        writes = buf_z(&parent);
        if (stat(writes, &st) < 0 && errno == ENOENT)
            return err_set(e, VF_EUSAGE, "%s: the folder %s, in which it would be made, does not exist; make it first", folder, writes);
    }
    return faccessat(AT_FDCWD, writes, W_OK | X_OK, AT_EACCESS) < 0 ? err_set(e, VF_EIO, "%s: nothing can be written in it: %s", writes, strerror(errno)) : 0;
}

void recording_free(struct recording **at)
{
    struct recording *r = *at;

    if (!r)
        return;
    fsx_close(&r->folder);
    js_free(&r->answers);
    arena_free(r->arena);
    free(r);
    *at = NULL;
}

/* The folders that a file lies in. */
static int make_folders(struct recording *r, const char *file, struct err *e)
{
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
        const char *part = arena_printf(r->arena, "%.*s", (int)(slash - file), file);

        if (!part || (mkdirat(r->folder, part, 0700) < 0 && errno != EEXIST))
            return failed(r, file, e);
    }
    return 0;
}

static int write_file(struct recording *r, const char *file, struct slice body, struct err *e)
{
    _cleanup_(fsx_close) int fd = openat(r->folder, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return failed(r, file, e);
    while (body.n) {
        ssize_t n = write(fd, body.p, body.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return failed(r, file, e);
        body = slice_from(body, (size_t)n);
    }
    return fsync(fd) < 0 ? failed(r, file, e) : 0;
}

/* "timeout: no answer within 60 s" to both halves. */
static struct slice status_of(const struct reply *reply, struct slice *note)
{
    static const char *const words[] = {"timeout", "lost", "denied", "failed"};

    *note = slice_of(reply->note ? reply->note : "");
    if (reply->status == REPLY_OK && !reply->cut)
        return SLICE_LIT("ok");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slice_starts(*note, words[i]) && slice_starts(slice_from(*note, strlen(words[i])), ": ")) {
            *note = slice_from(*note, strlen(words[i]) + 2);
            return slice_of(words[i]);
        }
    return SLICE_LIT("failed");
}

int recording_add(struct recording *r, struct slice command, struct slice file, const struct reply *reply, struct slice body, struct err *e)
{
    struct slice note, status = status_of(reply, &note);
    struct js *answer = js_object();

    js_put(answer, "ask", js_text(command));
    if (reply->status == REPLY_OK) {
        const char *name = arena_printf(r->arena, SLICE_FMT, SLICE_ARG(file));

        if (!name || make_folders(r, name, e) < 0 || write_file(r, name, body, e) < 0) {
            js_free(&answer);
            return e->code ? e->code : err_set(e, VF_ELIMIT, "%s: too many answers", r->path);
        }
        js_put(answer, "file", js_text(file));
    }
    js_put(answer, "status", js_text(status));
    if (reply->exit_code >= 0)
        js_put(answer, "exit", js_int(reply->exit_code));
    if (reply->status == REPLY_OK)
        js_put(answer, "bytes", js_int((int64_t)body.n));
    if (note.n)
        js_put(answer, "note", js_text(note));
    js_add(r->answers, answer);
    return 0;
}

/* Takes answers. What is there already is replaced at once, whenever the machine stops. */
static int write_index(struct recording *r, const char *taken, const char *trouble, struct js *answers, struct err *e)
{
    _cleanup_(buf_done) struct buf b = BUF_INIT(MAX_INDEX);
    _cleanup_(js_free) struct js *doc = js_object();

    js_put(doc, "format", js_int(FORMAT));
    if (taken)
        js_put(doc, "taken", js_textz(taken));
    if (trouble)
        js_put(doc, "trouble", js_textz(trouble));
    js_put(doc, "answers", answers);
    js_write(doc, true, &b);
    if (b.cut)
        return err_set(e, VF_ELIMIT, "%s/recording.json: too many answers", r->path);
    if (write_file(r, "recording.json.part", buf_slice(&b), e) < 0)
        return e->code;
    if (renameat(r->folder, "recording.json.part", r->folder, "recording.json") < 0 || fsync(r->folder) < 0)
        return failed(r, "recording.json", e);
    return 0;
}

int recording_new(const char *folder, struct recording **out, struct err *e)
{
    struct recording *r = xmalloc(sizeof *r);
    bool made = mkdir(folder, 0700) == 0;

    *r = (struct recording){.folder = -1, .arena = arena_new(16u << 20), .answers = js_array()};
    r->path = arena_printf(r->arena, "%s", folder);
    if (!made && errno != EEXIST)
        (void)failed(r, "", e);
    else if ((r->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        (void)failed(r, "", e);
    else if (!made && !is_empty(r->folder))
        (void)err_set(e, VF_EUSAGE, not_empty, folder);
    else if (write_index(r, NULL, "the recording was not finished", js_array(), e) == 0) {
        *out = r;
        return 0;
    }
    recording_free(&r);
    return e->code;
}

int recording_end(struct recording *r, const char *taken, const char *trouble, struct err *e)
{
    struct js *answers = r->answers;

    r->answers = NULL;
    return write_index(r, taken, trouble, answers, e);
}
