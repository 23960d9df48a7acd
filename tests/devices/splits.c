/* splits N MODEL.onnx...: every way to run a model is bit-identical to the reference device:
     - partitioned at random over two devices of devices/nnrt_fake.h and the reference device: N partitions of a model
       that the reference device runs in less than 20 ms, N / 200 of the others, at least one. Half of them are by
       operators, each supported by a device or not, and half by nodes, in runs of random length.
     - on one such device, and partitioned over two, each with a model cache in a folder and one in memory: the second
       session takes everything from the cache of the first one, and prepares nothing.
     - on a device that another process serves (devices/nnrt_remote.h); a run sends exactly the bytes of the
       protocol's fields through the socket, and no tensor data.
   Prints a line for each model, and at the end "N passed, N failed". */
#define _XOPEN_SOURCE 700
#include "nnrt.h"

#include "devices/nnrt_fake.h"
#include "formats/nnrt_onnx.h"
#include "remotes.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Inputs and outputs of a session. */
typedef struct buffers {
    nnrt_io io[64]; /* inputs, then outputs */
    uint32_t nIn, nOut;
} buffers;

static void buffers_end(buffers *b)
{
    for (uint32_t i = 0; i < b->nIn + b->nOut; i++)
        free(b->io[i].data);
    memset(b, 0, sizeof(*b));
}

/* Numbers between -1 and 1, small whole ones where the type has no fractions. */
static void fill(const nnrt_io_info *info, void *data, uint32_t salt)
{
    const size_t width = nnrt_type_size(info->dataType), count = info->bytes / width;
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = ((uint32_t)i * 2654435761u + salt) >> 9;
        if (info->dataType == NNRT_DATA_TYPE_FLOAT32)
            ((float *)data)[i] = (float)(bits & 1023) / 512 - 1;
        else
            memset((uint8_t *)data + i * width, width == 1 ? (int)(bits & 255) : 0, width);
    }
}

static bool buffers_begin(buffers *b, const nnrt_session *s)
{
    memset(b, 0, sizeof(*b));
    if (nnrt_session_inputs(s) + nnrt_session_outputs(s) > 64)
        return false;
    for (uint32_t i = 0; i < nnrt_session_inputs(s) + nnrt_session_outputs(s); i++) {
        const bool input = i < nnrt_session_inputs(s);
        const nnrt_io_info info =
            input ? nnrt_session_input(s, i) : nnrt_session_output(s, i - nnrt_session_inputs(s));
        void *data = malloc(info.bytes + 1);
        if (data == NULL)
            return false;
        memset(data, 0x5A, info.bytes);
        if (input)
            fill(&info, data, i);
        b->io[i] = nnrt_io_make(data, info.bytes);
        b->nIn += input ? 1 : 0;
        b->nOut += input ? 0 : 1;
    }
    return true;
}

/* Of a split: which of the three devices has which node. */
typedef struct division {
    uint8_t *of; /* of each node; NULL: the operators decide */
    uint32_t parts;
} division;

static uint64_t cost_of(void *user, uint32_t node, const char *device)
{
    const division *d = (const division *)user;
    return d->of[node] == (device[0] == 'a' ? 0 : device[0] == 'b' ? 1 : 2) ? 0 : 1;
}

static void count_parts(void *user, const nnrt_placement *p)
{
    division *d = (division *)user;
    if (p->part != NNRT_NO_TENSOR && p->part >= d->parts)
        d->parts = p->part + 1;
}

/* Registers device `name`, which has a model cache and takes all operators, or some. */
static bool device_of(const char *name, bool all)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text), "fake:name=%s,cache=yes", name);
    bool first = true;
    for (uint32_t i = 0; !all && nnrt_op_at(i) != NULL && n < sizeof(text) - 64; i++)
        if (draw(2) == 0) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", first ? ",not=" : "+", nnrt_op_at(i)->name);
            first = false;
        }
    return nnrt_fake_register(NULL, text, NULL) == NNRT_SUCCESS;
}

static char message[NNRT_MESSAGE_BYTES];

/* A fault as text; NULL: no message was set. */
static const char *wrong_of(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    return message;
}

/* Runs a session, whose outputs must equal `want`. Returns NULL or the fault, as do the functions below. */
static const char *same_bits(nnrt_session *s, const buffers *want)
{
    const char *wrong = NULL;
    buffers got;
    if (!buffers_begin(&got, s))
        wrong = wrong_of("there is no memory");
    else if (nnrt_run(s, got.io, got.nIn, got.io + got.nIn, got.nOut) != NNRT_SUCCESS)
        wrong = wrong_of("%s", nnrt_session_error(s));
    else if (got.nIn != want->nIn || got.nOut != want->nOut)
        wrong = wrong_of("it has %u inputs and %u outputs", (unsigned)got.nIn, (unsigned)got.nOut);
    for (uint32_t i = 0; wrong == NULL && i < got.nIn + got.nOut; i++)
        if (got.io[i].bytes != want->io[i].bytes || memcmp(got.io[i].data, want->io[i].data, got.io[i].bytes) != 0)
            wrong = wrong_of("%s %u has other bits", i < got.nIn ? "input" : "output",
                             (unsigned)(i < got.nIn ? i : i - got.nIn));
    buffers_end(&got);
    return wrong;
}

/* A session as described, and a run. */
static const char *run_as(const NNRT_Model *m, const nnrt_session_desc *desc, const buffers *want)
{
    nnrt_session *s = NULL;
    const char *wrong;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    wrong = nnrt_session_create(&s, m, desc, &e) == NNRT_SUCCESS ? same_bits(s, want) : wrong_of("%s", e.message);
    nnrt_session_destroy(s);
    return wrong;
}

/* One split. *parts: how many it has. */
static const char *split(const NNRT_Model *m, const buffers *want, bool nodes, uint32_t *parts)
{
    const bool there = device_of("a", nodes) && device_of("b", nodes);
    const char *wrong;
    nnrt_partition p;
    nnrt_session_desc desc;
    division d;
    memset(&p, 0, sizeof(p));
    memset(&desc, 0, sizeof(desc));
    memset(&d, 0, sizeof(d));
    d.of = nodes ? (uint8_t *)malloc(m->nodes.count + 1u) : NULL;
    for (uint32_t i = 0, left = 0, to = 0, most = 1 + draw(30); nodes && i < m->nodes.count; i++, left--) {
        to = left == 0 ? draw(3) : to;
        left = left == 0 ? 1 + draw(most) : left;
        d.of[i] = (uint8_t)to;
    }
    p.placed = count_parts;
    p.cost = nodes ? cost_of : NULL;
    p.user = &d;
    desc.device = "auto:a,b";
    desc.partition = &p;
    wrong = there ? run_as(m, &desc, want) : wrong_of("a device cannot be registered");
    if (nnrt_device_unregister("a") != NNRT_SUCCESS || nnrt_device_unregister("b") != NNRT_SUCCESS)
        wrong = wrong_of("a device is not given back");
    free(d.of);
    *parts = d.parts;
    return wrong;
}

/* ---- through a cache ---- */

static char folder[] = "/tmp/nnrt-splits-XXXXXX";

/* Removes the files in the folder. */
static void sweep(void)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    while (d != NULL && (e = readdir(d)) != NULL) {
        char path[sizeof(folder) + sizeof(e->d_name) + 1];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            (void)unlink(path);
    }
    if (d != NULL)
        (void)closedir(d);
}

/* Two sessions, the second of which loads the first one's prepared models from a cache. *parts: their number. */
static const char *cached(const NNRT_Model *m, const buffers *want, const char *device, bool file, uint32_t *parts)
{
    const char *wrong = NULL;
    void *bytes = NULL;
    nnrt_cache_desc how;
    memset(&how, 0, sizeof(how));
    how.directory = file ? folder : NULL;
    for (uint32_t i = 0; i < 2 && wrong == NULL; i++) {
        const nnrt_cache_state *state;
        nnrt_session_desc desc;
        nnrt_cache *cache = NULL;
        memset(&desc, 0, sizeof(desc));
        if (nnrt_cache_create(&cache, &how, NULL) != NNRT_SUCCESS)
            return wrong_of("there is no cache");
        desc.device = device;
        desc.cache = cache;
        wrong = run_as(m, &desc, want);
        state = nnrt_cache_get_state(cache);
        if (wrong == NULL && (state->saved != NNRT_SUCCESS || state->fault.code != NNRT_SUCCESS))
            wrong = wrong_of("cache of session %u: %s", (unsigned)i, state->fault.message);
        else if (wrong == NULL &&
                 (i == 0 ? state->restored != 0 || state->prepared == 0 || state->kept != state->prepared
                         : state->restored != *parts || state->prepared != 0))
            wrong = wrong_of("session %u restored %u parts, prepared %u and kept %u", (unsigned)i,
                             (unsigned)state->restored, (unsigned)state->prepared, (unsigned)state->kept);
        *parts = i == 0 ? state->prepared : *parts;
        if (wrong == NULL && i == 0 && !file) {
            if (nnrt_cache_save_memory(cache, NULL, NULL, 0, &how.bytes, NULL) != NNRT_SUCCESS ||
                posix_memalign(&bytes, NNRT_ALIGNMENT, how.bytes) != 0 ||
                nnrt_cache_save_memory(cache, NULL, bytes, how.bytes, &how.bytes, NULL) != NNRT_SUCCESS)
                wrong = wrong_of("the cache gives no bytes");
            how.data = bytes;
        }
        nnrt_cache_destroy(cache);
    }
    free(bytes);
    sweep();
    return wrong;
}

/* On one device, then `number` splits over two. *most: of how many parts. */
static const char *caches(const NNRT_Model *m, const buffers *want, uint32_t number, uint32_t *most)
{
    const char *wrong = NULL;
    for (uint32_t i = 0; wrong == NULL && i < 2 + number; i++) {
        uint32_t parts = 0;
        if (!device_of("a", i < 2) || !device_of("b", true))
            wrong = wrong_of("a device cannot be registered");
        else
            wrong = cached(m, want, i < 2 ? "a" : "auto:a,b", i % 2 == 0, &parts);
        if (nnrt_device_unregister("a") != NNRT_SUCCESS || nnrt_device_unregister("b") != NNRT_SUCCESS)
            wrong = wrong_of("a device is not given back");
        *most = parts > *most ? parts : *most;
    }
    return wrong;
}

/* ---- through another process ---- */

/* Bytes of a tensor of RUN in the protocol of nnrt_remote.h: seven numbers, its dimensions, its name. */
static uint64_t words_of(const nnrt_io_info *info)
{
    return 32 + 4 * (uint64_t)info->shape.rank + (strlen(info->name) + 1 + 3) / 4 * 4;
}

/* Two runs; *bytes: bytes through the socket for the second one. */
static const char *distant(const NNRT_Model *m, const buffers *want, uint64_t *bytes)
{
    char path[sizeof(folder) + 4], text[sizeof(path) + 32];
    const char *wrong = NULL;
    nnrt_remote *remote = NULL;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    pid_t process;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    (void)snprintf(path, sizeof(path), "%s/s", folder);
    (void)snprintf(text, sizeof(text), "remote:name=far,%s", path);
    desc.device = "far";
    process = remote_start(path, "reference");
    if (process == 0 || nnrt_remote_register(&remote, text, &e) != NNRT_SUCCESS ||
        nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS) {
        wrong = wrong_of("another process: %s", e.message);
    } else if ((wrong = same_bits(s, want)) == NULL) {
        const nnrt_remote_traffic before = nnrt_remote_get_traffic(remote);
        nnrt_remote_traffic after;
        uint64_t asked = 32 + 12, told = 32 + 4;
        wrong = same_bits(s, want);
        after = nnrt_remote_get_traffic(remote);
        for (uint32_t i = 0; i < want->nIn + want->nOut; i++) {
            const nnrt_io_info info = i < want->nIn ? nnrt_session_input(s, i) : nnrt_session_output(s, i - want->nIn);
            asked += words_of(&info);
            told += i < want->nIn ? 0 : 36 + 4;
        }
        *bytes = after.sent - before.sent + (after.received - before.received);
        if (wrong == NULL && (after.sent - before.sent != asked || after.received - before.received != told))
            wrong = wrong_of("a run sent %u bytes and received %u, its words have %u and %u",
                             (unsigned)(after.sent - before.sent), (unsigned)(after.received - before.received),
                             (unsigned)asked, (unsigned)told);
        /* of each node a byte that it is taken; the rest is for inputs and outputs, and greetings */
        if (wrong == NULL && before.sent + before.received > 4096 + m->nodes.count + 1024 * (want->nIn + want->nOut))
            wrong = wrong_of("preparing took %u bytes of the socket", (unsigned)(before.sent + before.received));
    }
    nnrt_session_destroy(s);
    if (remote != NULL && nnrt_device_unregister("far") != NNRT_SUCCESS)
        wrong = wrong_of("the device of another process is not given back");
    if (process != 0) {
        (void)kill(process, SIGKILL);
        (void)waitpid(process, NULL, 0);
    }
    sweep();
    return wrong;
}

/* All ways of a model; false: one is wrong. */
static bool model(const char *path, uint32_t number)
{
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    buffers want;
    const char *wrong = NULL;
    uint32_t least = UINT32_MAX, most = 0, count = 0, kept = 0;
    uint64_t bytes = 0;
    double start, run = 0;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    memset(&want, 0, sizeof(want));
    desc.device = "reference";
    if (nnrt_onnx_load(&m, path, NULL, &e) != NNRT_SUCCESS || nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS ||
        !buffers_begin(&want, s)) {
        wrong = e.message;
    } else {
        start = now_ms();
        if (nnrt_run(s, want.io, want.nIn, want.io + want.nIn, want.nOut) != NNRT_SUCCESS)
            wrong = nnrt_session_error(s);
        run = now_ms() - start;
    }
    number = run < 20 ? number : number / 200 > 0 ? number / 200 : 1;
    start = now_ms();
    for (uint32_t i = 0; wrong == NULL && i < number; i++) {
        uint32_t parts;
        wrong = split(m, &want, i % 2 == 0, &parts);
        least = parts < least ? parts : least;
        most = parts > most ? parts : most;
        count += wrong == NULL ? 1 : 0;
    }
    if (wrong != NULL)
        printf("FAIL %s, split %u: %s\n", path, (unsigned)count, wrong);
    else if ((wrong = caches(m, &want, number / 50 + 2, &kept)) != NULL)
        printf("FAIL %s, cache: %s\n", path, wrong);
    else if ((wrong = distant(m, &want, &bytes)) != NULL)
        printf("FAIL %s, another process: %s\n", path, wrong);
    else
        printf("%-28s %5u nodes %8.1f ms, %4u splits of %u to %u parts, cache of up to %u parts, remote: %u bytes a "
               "run, %.1f s\n",
               strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, (unsigned)m->nodes.count, run,
               (unsigned)count, (unsigned)least, (unsigned)most, (unsigned)kept, (unsigned)bytes,
               (now_ms() - start) / 1e3);
    fflush(stdout);
    buffers_end(&want);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
    return wrong == NULL;
}

int main(int argc, char **argv)
{
    uint32_t passed = 0, failed = 0;
    if (argc < 3 || atoi(argv[1]) < 1) {
        fputs("usage: splits N MODEL.onnx...\n", stderr);
        return 1;
    }
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "splits: there is no place for %s\n", folder);
        return 1;
    }
    printf("each model: %s random splits over two devices (fewer of slow ones), model caches, another process\n",
           argv[1]);
    for (int i = 2; i < argc; i++)
        if (model(argv[i], (uint32_t)atoi(argv[1])))
            passed++;
        else
            failed++;
    (void)rmdir(folder);
    printf("%u passed, %u failed\n", (unsigned)passed, (unsigned)failed);
    return failed != 0;
}
