/* Two threads beside one, on an idle machine and beside busy processes: make bench-threads

       bench_threads [THREADS [SECONDS [FILE...]]]    default: 2 threads, 4 seconds for each row

   Without files the network is a decoding step of a language model of 12 layers with random weights of 4 bits: small
   matrix-vector products (GEMV), one after the other. A file is an .onnx network with fixed shapes; its inputs are zero.
   Two sessions of the same network, one of them without a thread pool, run in turns of a quarter of a second, beside 0, 1
   and 2 processes that are always busy, then beside one that is busy for 5 ms and sleeps for 5 ms. Each row has medians
   and 90th percentiles of a run, the ratio of the medians and that of the means; below 1 the threads pay. */
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include "formats/nnrt_onnx.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LAYERS = 12,
    HIDDEN = 576,
    HEADS = 9,
    KEYS = 192,
    HEAD = 64,
    INNER = 1536,
    PAST = 32,
    WORDS = 16384,
    BLOCK = 32
};
enum { ALL_RUNS = 1 << 18, ALL_VALUES = 64 };

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(NNRT_ReturnCode code, const nnrt_error *error)
{
    if (code == NNRT_SUCCESS)
        return;
    printf("FAIL %s\n", error->message);
    exit(1);
}

static void *block_of(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, NNRT_ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        exit(1);
    memset(block, 0, bytes);
    return block;
}

/* ---- the network ---- */

/* A constant of pseudorandom floats in -scale .. scale, or bytes. The builder copies them. */
static uint32_t constant(nnrt_builder *b, NNRT_DataType type, int32_t rank, const int32_t *dims, float scale)
{
    static uint32_t state = 1;
    size_t count = 1;
    uint32_t made;
    float *values;
    for (int32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    values = (float *)block_of(count * sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        if (type == NNRT_DATA_TYPE_FLOAT32)
            values[i] = scale * (float)((int32_t)(state >> 8) - (1 << 23)) / (float)(1 << 23);
        else
            ((uint8_t *)values)[i] = (uint8_t)(state >> 24);
    }
    made = nnrt_builder_constant(b, NULL, type, rank, dims, values, true);
    free(values);
    return made;
}

/* x [1,1,K] times 4-bit weights: [1,1,N]. */
static uint32_t product(nnrt_builder *b, uint32_t x, int32_t K, int32_t N)
{
    const int32_t weights[] = {N, K / BLOCK, BLOCK / 2}, scales[] = {N, K / BLOCK};
    NNRT_MatMulNBits attr;
    uint32_t in[3];
    memset(&attr, 0, sizeof(attr));
    attr.columns = K;
    attr.bits = 4;
    attr.blockSize = BLOCK;
    attr.accuracyLevel = 0;
    in[0] = x;
    in[1] = constant(b, NNRT_DATA_TYPE_UINT8, 3, weights, 0);
    in[2] = constant(b, NNRT_DATA_TYPE_FLOAT32, 2, scales, 0.01f);
    return nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_MATMUL_NBITS, &attr, in, 3);
}

static uint32_t normalized(nnrt_builder *b, uint32_t x)
{
    const int32_t dims[] = {HIDDEN};
    NNRT_RMSNormalization attr;
    uint32_t in[2];
    attr.axis = -1;
    attr.epsilon = 1e-5f;
    in[0] = x;
    in[1] = constant(b, NNRT_DATA_TYPE_FLOAT32, 1, dims, 1.0f);
    return nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_RMS_NORMALIZATION, &attr, in, 2);
}

static uint32_t joined(nnrt_builder *b, NNRT_NodeType type, uint32_t x, uint32_t y)
{
    uint32_t in[2];
    in[0] = x;
    in[1] = y;
    return nnrt_builder_op(b, NULL, type, NULL, in, 2);
}

/* A layer of the decoder: attention to the past keys and values (inputs), then the gated MLP. */
static uint32_t layer(nnrt_builder *b, uint32_t x, int32_t number)
{
    static const int32_t past[] = {1, KEYS / HEAD, PAST, HEAD};
    static const NNRT_Activation sigmoid = {NNRT_ACTIVATION_TYPE_SIGMOID, 0, 0, 0, false};
    const uint32_t h = normalized(b, x);
    NNRT_Attention attr;
    uint32_t in[6], out, gate, silu;
    char name[2][20];
    memset(&attr, 0, sizeof(attr));
    attr.qNumHeads = HEADS;
    attr.kvNumHeads = KEYS / HEAD;
    attr.leftWindowSize = attr.rightWindowSize = -1;
    (void)snprintf(name[0], sizeof(name[0]), "key%d", (int)number);
    (void)snprintf(name[1], sizeof(name[1]), "value%d", (int)number);
    in[0] = product(b, h, HIDDEN, HIDDEN);
    in[1] = product(b, h, HIDDEN, KEYS);
    in[2] = product(b, h, HIDDEN, KEYS);
    in[3] = NNRT_NO_TENSOR;
    in[4] = nnrt_builder_input(b, name[0], NNRT_DATA_TYPE_FLOAT32, 4, past);
    in[5] = nnrt_builder_input(b, name[1], NNRT_DATA_TYPE_FLOAT32, 4, past);
    out = product(b, nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_ATTENTION, &attr, in, 6), HIDDEN, HIDDEN);
    x = joined(b, NNRT_NODE_TYPE_ADD_FUSION, x, out);
    out = normalized(b, x);
    gate = product(b, out, HIDDEN, INNER);
    silu = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_ACTIVATION, &sigmoid, &gate, 1);
    silu = joined(b, NNRT_NODE_TYPE_MUL_FUSION, gate, silu);
    out = joined(b, NNRT_NODE_TYPE_MUL_FUSION, silu, product(b, out, HIDDEN, INNER));
    return joined(b, NNRT_NODE_TYPE_ADD_FUSION, x, product(b, out, INNER, HIDDEN));
}

static NNRT_Model *decoder(void)
{
    static const int32_t dims[] = {1, 1, HIDDEN};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error error;
    uint32_t x;
    memset(&error, 0, sizeof(error));
    check(nnrt_builder_create(&b, "decoder", NULL), &error);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 3, dims);
    for (int32_t i = 0; i < LAYERS; i++)
        x = layer(b, x, i);
    nnrt_builder_output(b, product(b, normalized(b, x), HIDDEN, WORDS));
    check(nnrt_builder_finish(b, &model, &error), &error);
    nnrt_builder_destroy(b);
    return model;
}

/* ---- a session and its times ---- */

typedef struct timed {
    nnrt_session *session;
    nnrt_io in[ALL_VALUES], out[ALL_VALUES];
    uint32_t ins, outs, runs;
    double ms[ALL_RUNS];
} timed;

static void prepare(timed *t, const NNRT_Model *model, const nnrt_parallel *parallel)
{
    nnrt_session_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.device = "cpu";
    desc.parallel = parallel;
    check(nnrt_session_create(&t->session, model, &desc, &error), &error);
    t->ins = nnrt_session_inputs(t->session);
    t->outs = nnrt_session_outputs(t->session);
    if (t->ins > ALL_VALUES || t->outs > ALL_VALUES) {
        printf("FAIL %u inputs and %u outputs, at most %d are expected\n", t->ins, t->outs, ALL_VALUES);
        exit(1);
    }
    for (uint32_t i = 0; i < t->ins; i++) {
        const size_t bytes = nnrt_session_input(t->session, i).bytes;
        t->in[i] = nnrt_io_make(block_of(bytes), bytes);
    }
    for (uint32_t i = 0; i < t->outs; i++) {
        const size_t bytes = nnrt_session_output(t->session, i).bytes;
        t->out[i] = nnrt_io_make(block_of(bytes), bytes);
    }
}

static void discard(timed *t)
{
    nnrt_session_destroy(t->session);
    for (uint32_t i = 0; i < t->ins; i++)
        free(t->in[i].data);
    for (uint32_t i = 0; i < t->outs; i++)
        free(t->out[i].data);
}

/* Runs for a quarter of a second, three times at least. */
static void turn(timed *t)
{
    const double end = now() + 0.25;
    double begin = now();
    for (uint32_t i = 0; i < 3 || begin < end; i++) {
        double over;
        if (nnrt_run(t->session, t->in, t->ins, t->out, t->outs) != NNRT_SUCCESS) {
            printf("FAIL %s\n", nnrt_session_error(t->session));
            exit(1);
        }
        over = now();
        if (t->runs < ALL_RUNS)
            t->ms[t->runs++] = 1000 * (over - begin);
        begin = over;
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(timed *t, double part)
{
    qsort(t->ms, t->runs, sizeof(t->ms[0]), by_size);
    return t->ms[(uint32_t)(part * (double)(t->runs - 1))];
}

static double mean(const timed *t)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->runs; i++)
        sum += t->ms[i];
    return sum / t->runs;
}

/* ---- busy processes ---- */

/* A process that computes until its parent ends; rest: it sleeps for 5 of each 10 ms. */
static pid_t busy(bool rest)
{
    const struct timespec pause = {0, 5000000};
    const pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    while (getppid() == parent) {
        for (const double end = now() + 0.005; now() < end;)
            ;
        if (rest)
            (void)nanosleep(&pause, NULL);
    }
    _exit(0);
}

static void measure(const char *name, timed *one, timed *more, uint32_t threads, double seconds)
{
    static const char *const loads[] = {"idle", "1 busy", "2 busy", "1 half busy"};
    for (int load = 0; load < 4; load++) {
        pid_t children[2];
        const int count = load == 3 ? 1 : load;
        for (int i = 0; i < count; i++)
            children[i] = busy(load == 3);
        turn(one);
        turn(more);
        one->runs = more->runs = 0;
        for (const double end = now() + seconds; now() < end;) {
            turn(one);
            turn(more);
        }
        for (int i = 0; i < count; i++) {
            (void)kill(children[i], SIGKILL);
            (void)waitpid(children[i], NULL, 0);
        }
        printf("%-20s %-12s 1: %8.3f %8.3f   %u: %8.3f %8.3f   ratio %.2f, of the means %.2f\n", name, loads[load],
               quantile(one, 0.5), quantile(one, 0.9), threads, quantile(more, 0.5), quantile(more, 0.9),
               quantile(more, 0.5) / quantile(one, 0.5), mean(more) / mean(one));
        (void)fflush(stdout);
    }
}

/* Measures a network with one thread and with the threads of the pool, and frees it. */
static void compare(const char *name, NNRT_Model *model, const nnrt_pool *pool, double seconds)
{
    static timed one, more;
    prepare(&one, model, NULL);
    prepare(&more, model, nnrt_pool_parallel(pool));
    measure(name, &one, &more, nnrt_pool_parallel(pool)->workers, seconds);
    discard(&one);
    discard(&more);
    nnrt_model_destroy(model);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 2 ? atof(argv[2]) : 4;
    nnrt_pool_desc desc;
    nnrt_pool *pool = NULL;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.threads = argc > 1 && atoi(argv[1]) > 0 ? (uint32_t)atoi(argv[1]) : 2;
    check(nnrt_pool_create(&pool, &desc, &error), &error);
    printf("%ld processors, instruction set %s; ms of a run: median and 90th percentile\n",
           sysconf(_SC_NPROCESSORS_ONLN), nnrt_cpu_set(0));
    if (argc <= 3)
        compare("decoder", decoder(), pool, seconds);
    for (int i = 3; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        NNRT_Model *model = NULL;
        check(nnrt_onnx_load(&model, argv[i], NULL, &error), &error);
        compare(slash != NULL ? slash + 1 : argv[i], model, pool, seconds);
    }
    nnrt_pool_destroy(pool);
    return 0;
}
