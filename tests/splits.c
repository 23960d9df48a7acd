/* splits N MODEL.onnx...: every model split at random over two devices of devices/nnrt_fake.h and the reference device must
   give the bits that the reference device alone gives. N splits of a model that the reference device runs in less than 20 ms,
   N / 200 of the others, at least one. Of every two splits one is by operators, each taken by a device or not, and one by
   nodes, in stretches of random length. Prints a line a model, and last "N passed, N failed". */
#define _POSIX_C_SOURCE 200809L
#include "nnrt.h"

#include "devices/nnrt_fake.h"
#include "formats/nnrt_onnx.h"

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

/* What a session is run on, and what it gives. */
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

/* Registers device `name`, which takes all operators, or some. */
static bool device_of(const char *name, bool all)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text), "fake:name=%s", name);
    bool first = true;
    for (uint32_t i = 0; !all && nnrt_op_at(i) != NULL && n < sizeof(text) - 64; i++)
        if (draw(2) == 0) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", first ? ",not=" : "+", nnrt_op_at(i)->name);
            first = false;
        }
    return nnrt_fake_register(NULL, text, NULL) == NNRT_SUCCESS;
}

/* One split, whose outputs are those of `want`. *parts: how many it has. NULL, or what is wrong. */
static const char *split(const NNRT_Model *m, const buffers *want, bool nodes, uint32_t *parts)
{
    static char message[NNRT_MESSAGE_BYTES];
    const bool there = device_of("a", nodes) && device_of("b", nodes);
    nnrt_partition p;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_error e;
    division d;
    buffers got;
    memset(&p, 0, sizeof(p));
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    memset(&got, 0, sizeof(got));
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
    message[0] = '\0';
    if (!there)
        snprintf(message, sizeof(message), "a device cannot be registered");
    else if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
        snprintf(message, sizeof(message), "%s", e.message);
    else if (!buffers_begin(&got, s))
        snprintf(message, sizeof(message), "there is no memory");
    else if (nnrt_run(s, got.io, got.nIn, got.io + got.nIn, got.nOut) != NNRT_SUCCESS)
        snprintf(message, sizeof(message), "%s", nnrt_session_error(s));
    for (uint32_t i = 0; message[0] == '\0' && i < got.nIn + got.nOut; i++)
        if (got.io[i].bytes != want->io[i].bytes || memcmp(got.io[i].data, want->io[i].data, got.io[i].bytes) != 0)
            snprintf(message, sizeof(message), "%s %u has other bits", i < got.nIn ? "input" : "output", (unsigned)i);
    buffers_end(&got);
    nnrt_session_destroy(s);
    if (nnrt_device_unregister("a") != NNRT_SUCCESS || nnrt_device_unregister("b") != NNRT_SUCCESS)
        snprintf(message, sizeof(message), "a device is not given back");
    free(d.of);
    *parts = d.parts;
    return message[0] != '\0' ? message : NULL;
}

/* All splits of a model; false: one is wrong. */
static bool model(const char *path, uint32_t number)
{
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    buffers want;
    const char *wrong = NULL;
    uint32_t least = UINT32_MAX, most = 0, count = 0;
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
        printf("FAIL %s, split %u: %s\n", path, count, wrong);
    else
        printf("%-24s %5u nodes  %8.1f ms  %4u splits of %u to %u parts  %.1f s\n",
               strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, (unsigned)m->nodes.count, run,
               (unsigned)count, (unsigned)least, (unsigned)most, (now_ms() - start) / 1e3);
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
    for (int i = 2; i < argc; i++)
        if (model(argv[i], (uint32_t)atoi(argv[1])))
            passed++;
        else
            failed++;
    printf("%u passed, %u failed\n", (unsigned)passed, (unsigned)failed);
    return failed != 0;
}
