/*
bench.c - runs networks and single layers on devices of nnrt and on other libraries, in turn, in one process.
bench.py starts it and makes tables of its output; `make bench` runs both.

    bench [--threads "1 2"] [--seconds S] [--devices "cpu reference"] [--ort LIBRARY] [--peers FOLDER] PLAN
    bench --start DEVICE MODEL            loads a model, creates a session, runs it once
    bench --convert MODEL.onnx MODEL.nnrt [DEVICE]    DEVICE: with its packed weights

PLAN has a line for each model, with tab-separated fields: its name, its kind (float, int8, chain, product,
convolution), ten numbers (m k n of a GEMM; image size, channels of input and output, kernel size, stride, pad, group of
a convolution), its file. NAME.weights beside the file of a layer contains its constants in the same order, float32.

It prints tab-separated lines: the kind, and then

    machine KEY VALUE
    flops   THREADS ISA FLOPS                 peak operations per second; ISA ends with int8 for int8 operations
    level   THREADS NAME CAPACITY EACH BYTES_PER_SECOND   a memory level; EACH 1: one per core
    absent  WHO WHY                           a missing library
    missing MODEL THREADS WHO WHY             a library that does not run this model
    peak    MODEL THREADS FLOPS               of the widest instruction set, just before the model was run
    prepare MODEL THREADS WHO SECONDS
    error   MODEL THREADS WHO ERROR           max |a - b| / max |b|, the largest of all outputs; b is ONNX Runtime's
    time    MODEL THREADS WHO ROUND MEDIAN LEAST RUNS     seconds of the runs of one round
    start   DEVICE MODEL LOAD PREPARE FIRST ALLOCATED CONSTANTS FILE RSS   seconds, bytes

    >>options   the command line
    >>tensors   inputs and outputs, and their largest difference
    >>nnrt      sessions
    >>jobs      all runners of one model
    >>times     in turn, round by round
    >>start     the cost of a start
*/
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#include "formats/nnrt_onnx.h"
#ifdef __has_include
#if __has_include("devices/nnrt_cpu.h")
#include "devices/nnrt_cpu.h"
#define BENCH_CPU
#endif
#endif

#include "machine.h"
#include "ort.h"

#include <math.h>
#include <stdarg.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>options */

enum { BENCH_LIST = 4, BENCH_PEERS = 16, BENCH_ROUNDS = 7, BENCH_SLOW_ROUNDS = 3, BENCH_SAMPLES = 4096 };

typedef struct bench_options {
    int threads[BENCH_LIST];
    const char *devices[BENCH_LIST];
    int nThreads, nDevices;
    double seconds; /* for each model and number of threads */
    const char *ort, *peers, *plan;
} bench_options;

static int bench_fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    return 1;
}

/* A progress line on standard error, if that is a terminal; "" erases it. */
static void bench_progress(const char *format, ...)
{
    va_list values;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(values, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, values);
    fflush(stderr);
    va_end(values);
}

/* Splits a text, which is modified, into at most BENCH_LIST words. Returns their number, -1 if there are more. */
static int bench_words(char *text, const char **words)
{
    int count = 0;
    for (char *word = strtok(text, " ,"); word != NULL; word = strtok(NULL, " ,")) {
        if (count == BENCH_LIST)
            return -1;
        words[count++] = word;
    }
    return count;
}

static bool bench_parse_threads(bench_options *o, char *text)
{
    const char *words[BENCH_LIST];
    o->nThreads = bench_words(text, words);
    for (int i = 0; i < o->nThreads; i++) {
        char *end = NULL;
        const long count = strtol(words[i], &end, 10);
        if (*end != '\0' || count < 1 || count > BENCH_MAX_THREADS)
            return bench_fail("--threads: '%s' is not a number from 1 to %d", words[i], BENCH_MAX_THREADS), false;
        o->threads[i] = (int)count;
    }
    return o->nThreads > 0 || (bench_fail("--threads needs 1 to %d numbers", BENCH_LIST), false);
}

static bool bench_parse(bench_options *o, int argc, char **argv)
{
    static char threads[] = "1 2", devices[] = "cpu reference";
    char *numbers = threads, *names = devices;
    memset(o, 0, sizeof(*o));
    o->seconds = 2;
    for (int i = 1; i < argc; i++) {
        const char *const name = argv[i];
        char *end = NULL;
        if (name[0] != '-' && o->plan == NULL) {
            o->plan = name;
            continue;
        }
        if (i + 1 == argc)
            return bench_fail("%s needs a value", name), false;
        i++;
        if (strcmp(name, "--threads") == 0)
            numbers = argv[i];
        else if (strcmp(name, "--devices") == 0)
            names = argv[i];
        else if (strcmp(name, "--ort") == 0)
            o->ort = argv[i];
        else if (strcmp(name, "--peers") == 0)
            o->peers = argv[i];
        else if (strcmp(name, "--seconds") != 0)
            return bench_fail("unknown option %s", name), false;
        else if (o->seconds = strtod(argv[i], &end), *end != '\0' || !(o->seconds > 0 && o->seconds <= 3600))
            return bench_fail("--seconds: '%s' is not a number above 0", argv[i]), false;
    }
    if (o->plan == NULL)
        return bench_fail("no plan; see the top of tests/bench/bench.c"), false;
    o->nDevices = bench_words(names, o->devices);
    if (o->nDevices < 1)
        return bench_fail("--devices needs 1 to %d names", BENCH_LIST), false;
    return bench_parse_threads(o, numbers);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tensors */

/* Bytes that are 0. */
static void *bench_alloc(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, 64, bytes > 0 ? bytes : 1) != 0)
        exit(bench_fail("out of memory: %lu bytes", (unsigned long)bytes));
    memset(block, 0, bytes);
    return block;
}

/* A tensor as a session describes it, filled with reproducible random numbers from [-1, 1). */
static bool bench_tensor_make(bench_tensor *t, const nnrt_io_info *info)
{
    uint32_t state = 1;
    memset(t, 0, sizeof(*t));
    if (info->dataType != NNRT_DATA_TYPE_FLOAT32 || info->shape.rank < 0 || info->shape.rank > 8)
        return false;
    t->rank = info->shape.rank;
    for (int i = 0; i < t->rank; i++)
        t->dims[i] = info->shape.dims[i];
    t->count = info->bytes / sizeof(float);
    t->data = (float *)bench_alloc(info->bytes);
    for (size_t i = 0; i < t->count; i++) {
        state = state * 1664525u + 1013904223u;
        t->data[i] = (float)(int32_t)state / 2147483648.0f;
    }
    return true;
}

static void bench_tensors_free(bench_tensor *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(t[i].data);
        t[i].data = NULL;
    }
}

static bool bench_finite(float x)
{
    return x - x == 0;
}

/* max |a - b| / max |b|; infinite if an element is NaN. */
static double bench_distance(const float *a, const float *b, size_t count)
{
    double apart = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        if (!bench_finite(a[i]) || !bench_finite(b[i]))
            return HUGE_VAL;
        apart = fmax(apart, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)b[i]));
    }
    return apart > 0 ? apart / size : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nnrt */

/* Registers a device under its name, if its header is part of the program; built-in devices are registered already. */
static bool bench_device(const char *name)
{
#ifdef BENCH_CPU
    nnrt_error error = {0};
    if (nnrt_device_find(name) == NULL && strncmp(name, "cpu", 3) == 0)
        (void)nnrt_cpu_register(name[3] == '-' ? name + 4 : NULL, &error);
#endif
    return nnrt_device_find(name) != NULL;
}

/* A session with its inputs and outputs. */
typedef struct bench_session {
    nnrt_session *session;
    nnrt_io in[BENCH_MAX_TENSORS], out[BENCH_MAX_TENSORS];
    uint32_t nIn, nOut;
    const bench_layer *layer; /* its result is NHWC and must be transposed; NULL: no conversion */
} bench_session;

static bool bench_session_run(void *state)
{
    bench_session *s = (bench_session *)state;
    return nnrt_run(s->session, s->in, s->nIn, s->out, s->nOut) == NNRT_SUCCESS;
}

static void bench_session_result(void *state, float *y)
{
    const bench_session *s = (const bench_session *)state;
    if (s->layer != NULL) {
        const size_t rows = (size_t)bench_rows(s->layer);
        bench_transpose((const float *)s->out[0].data, rows * rows, (size_t)s->layer->cout, y);
        return;
    }
    for (uint32_t i = 0; i < s->nOut; i++) {
        memcpy(y, s->out[i].data, s->out[i].bytes);
        y += s->out[i].bytes / sizeof(float);
    }
}

static void bench_session_close(void *state)
{
    bench_session *s = (bench_session *)state;
    nnrt_session_destroy(s->session);
    free(s);
}

/* The pool of so many threads, shared by all sessions; NULL: one thread, or the system starts no more. Idle threads
   spin for about a millisecond, as in ONNX Runtime. */
static const nnrt_parallel *bench_pool(int threads)
{
    static nnrt_pool *pools[BENCH_MAX_THREADS + 1]; /* as long as the program runs */
    nnrt_pool_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.threads = (uint32_t)threads;
    desc.linger = 1000;
    if (threads > 1 && pools[threads] == NULL)
        (void)nnrt_pool_create(&pools[threads], &desc, NULL);
    return nnrt_pool_parallel(pools[threads]);
}

static NNRT_ReturnCode bench_session_open(bench_job *job, const NNRT_Model *model, const bench_layer *layer,
                                          const char *device, int threads, const bench_tensor *in, size_t nIn,
                                          const bench_tensor *out, size_t nOut, nnrt_error *error)
{
    bench_session *s = (bench_session *)bench_alloc(sizeof(*s));
    nnrt_session_desc desc;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    desc.threads = (uint32_t)threads;
    desc.parallel = bench_pool(threads);
    if ((code = nnrt_session_create(&s->session, model, &desc, error)) != NNRT_SUCCESS) {
        free(s);
        return code;
    }
    s->layer = layer;
    s->nIn = (uint32_t)nIn;
    s->nOut = (uint32_t)nOut;
    for (size_t i = 0; i < nIn; i++)
        s->in[i] = nnrt_io_make(in[i].data, in[i].count * sizeof(float));
    for (size_t i = 0; i < nOut; i++)
        s->out[i] = nnrt_io_make(out[i].data, out[i].count * sizeof(float));
    job->state = s;
    job->run = bench_session_run;
    job->result = bench_session_result;
    job->close = bench_session_close;
    return code;
}

/* A convolution with channels last (NHWC), the layout that nnrt prefers and uses between the layers of a network. */
static NNRT_ReturnCode bench_layer_model(const bench_layer *l, NNRT_Model **model, nnrt_error *error)
{
    const int32_t inner = l->cin / l->group, taps = l->kernel * l->kernel;
    const int32_t dims[4] = {1, l->extent, l->extent, l->cin}, wDims[4] = {l->cout, l->kernel, l->kernel, inner};
    const int64_t kernel[2] = {l->kernel, l->kernel}, stride[2] = {l->stride, l->stride}, dilation[2] = {1, 1};
    const int64_t pad[4] = {l->pad, l->pad, l->pad, l->pad};
    float *w = (float *)bench_alloc((size_t)l->cout * (size_t)inner * (size_t)taps * sizeof(float));
    NNRT_Conv2DFusion attr;
    nnrt_builder *b = NULL;
    uint32_t in[3];
    NNRT_ReturnCode code = nnrt_builder_create(&b, "layer", NULL);
    memset(&attr, 0, sizeof(attr));
    attr.kernelSize = nnrt_int64_list(kernel, 2);
    attr.stride = nnrt_int64_list(stride, 2);
    attr.dilation = nnrt_int64_list(dilation, 2);
    attr.padList = nnrt_int64_list(pad, 4);
    attr.group = l->group;
    for (int32_t o = 0; o < l->cout; o++)
        bench_transpose(l->w + (size_t)o * (size_t)(inner * taps), (size_t)inner, (size_t)taps,
                        w + (size_t)o * (size_t)(inner * taps));
    if (code == NNRT_SUCCESS) {
        in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, dims);
        in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 4, wDims, w, true);
        in[2] = nnrt_builder_constant(b, "bias", NNRT_DATA_TYPE_FLOAT32, 1, &wDims[0], l->bias, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3));
        code = nnrt_builder_finish(b, model, error);
    }
    nnrt_builder_destroy(b);
    free(w);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>jobs */

typedef struct bench_model {
    char name[64], kind[16], path[1024];
    bench_layer layer; /* of a GEMM or a convolution */
    NNRT_Model *model;
    NNRT_Model *last; /* of a convolution: the NHWC model, with the input inLast; else NULL */
    bench_tensor inLast;
    bench_tensor in[BENCH_MAX_TENSORS], out[BENCH_MAX_TENSORS];
    size_t nIn, nOut;
} bench_model;

typedef struct bench_runner {
    char name[48];
    bench_job job;
    bench_tensor out[BENCH_MAX_TENSORS];
    double last; /* seconds of its last run */
    bool failed; /* a run has failed: no further runs */
} bench_runner;

/* All runners to compare. */
typedef struct bench {
    bench_options o;
    bench_isa isa;
    bench_ort ort;
    bool hasOrt;
    const bench_peer *peers[BENCH_PEERS];
    int nPeers;
    bench_runner runners[BENCH_LIST + 1 + BENCH_PEERS];
    int nRunners;
} bench;

static bool bench_is_layer(const bench_model *m)
{
    return strcmp(m->kind, "product") == 0 || strcmp(m->kind, "convolution") == 0;
}

/* A line of the plan. */
static bool bench_model_parse(bench_model *m, char *line)
{
    bench_layer *l = &m->layer;
    int end = 0;
    memset(m, 0, sizeof(*m));
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%63s %15s %d %d %d %d %d %d %d %d %d %d %n", m->name, m->kind, &l->m, &l->k, &l->n, &l->extent,
               &l->cin, &l->cout, &l->kernel, &l->stride, &l->pad, &l->group, &end) != 12 ||
        end == 0 || strlen(line + end) >= sizeof(m->path) - 16)
        return false;
    strcpy(m->path, line + end);
    l->product = strcmp(m->kind, "product") == 0;
    return true;
}

static void bench_model_close(bench_model *m)
{
    bench_tensors_free(m->in, m->nIn);
    bench_tensors_free(m->out, m->nOut);
    free((void *)(uintptr_t)m->layer.w);
    nnrt_model_destroy(m->last);
    free(m->inLast.data);
    nnrt_model_destroy(m->model);
}

/* Constants of a layer, for the libraries that read no files, and nnrt's own model of a convolution. */
static bool bench_layer_read(bench_model *m)
{
    bench_layer *l = &m->layer;
    const size_t weights = l->product ? (size_t)l->k * (size_t)l->n
                                      : (size_t)l->cout * (size_t)(l->cin / l->group) * (size_t)(l->kernel * l->kernel);
    const size_t count = weights + (l->product ? 0 : (size_t)l->cout);
    float *w = (float *)bench_alloc(count * sizeof(float));
    char path[sizeof(m->path)];
    FILE *file;
    bool good;
    snprintf(path, sizeof(path), "%.*s.weights", (int)(strlen(m->path) - strlen(".onnx")), m->path);
    file = fopen(path, "rb");
    good = file != NULL && fread(w, sizeof(float), count, file) == count;
    if (file != NULL)
        (void)fclose(file);
    l->w = w;
    l->bias = l->product ? NULL : w + weights;
    l->x = m->in[0].data;
    good = good && m->nIn == 1 && m->nOut == 1 && m->out[0].count == bench_results(l);
    if (good && !l->product) {
        const size_t pixels = (size_t)l->extent * (size_t)l->extent;
        m->inLast = m->in[0];
        m->inLast.data = (float *)bench_alloc(m->in[0].count * sizeof(float));
        bench_transpose(m->in[0].data, (size_t)l->cin, pixels, m->inLast.data);
        good = bench_layer_model(l, &m->last, NULL) == NNRT_SUCCESS;
    }
    return good;
}

/* Loads a model and makes its inputs. */
static bool bench_model_open(bench_model *m)
{
    nnrt_error error = {0};
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    bool good = true;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    if (nnrt_onnx_load(&m->model, m->path, NULL, &error) != NNRT_SUCCESS ||
        nnrt_session_create(&session, m->model, &desc, &error) != NNRT_SUCCESS) {
        bench_fail("%s: %s", m->path, error.message);
        nnrt_model_destroy(m->model);
        return false;
    }
    m->nIn = nnrt_session_inputs(session);
    m->nOut = nnrt_session_outputs(session);
    good = m->nIn <= BENCH_MAX_TENSORS && m->nOut <= BENCH_MAX_TENSORS;
    for (uint32_t i = 0; good && i < m->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(session, i);
        good = bench_tensor_make(&m->in[i], &info);
    }
    for (uint32_t i = 0; good && i < m->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(session, i);
        good = bench_tensor_make(&m->out[i], &info);
    }
    nnrt_session_destroy(session);
    if (!good || (bench_is_layer(m) && !bench_layer_read(m))) {
        bench_fail("%s: its inputs, outputs or constants are not what the plan says", m->path);
        bench_model_close(m);
        return false;
    }
    return true;
}

/* Adds a runner with its own outputs. */
static bench_runner *bench_runner_add(bench *b, const bench_model *m, const char *prefix, const char *name)
{
    bench_runner *r = &b->runners[b->nRunners++];
    memset(r, 0, sizeof(*r));
    snprintf(r->name, sizeof(r->name), "%s%s", prefix, name);
    for (size_t i = 0; i < m->nOut; i++) {
        r->out[i] = m->out[i];
        r->out[i].data = (float *)bench_alloc(m->out[i].count * sizeof(float));
    }
    return r;
}

/* Removes the last runner, which does not run this model. */
static void bench_runner_drop(bench *b, const bench_model *m, int threads, const char *why)
{
    bench_runner *r = &b->runners[--b->nRunners];
    printf("missing\t%s\t%d\t%s\t%s\n", m->name, threads, r->name, why);
    bench_tensors_free(r->out, m->nOut);
}

static void bench_runner_prepared(const bench *b, const bench_model *m, int threads, double start)
{
    printf("prepare\t%s\t%d\t%s\t%.9g\n", m->name, threads, b->runners[b->nRunners - 1].name, bench_now() - start);
}

static void bench_runners_open(bench *b, const bench_model *m, int threads)
{
    nnrt_error error = {0};
    bench_runner *r;
    double start;
    b->nRunners = 0;
    for (int i = 0; i < b->o.nDevices; i++) {
        const char *const device = b->o.devices[i];
        if (nnrt_device_find(device) == NULL || (threads > 1 && strcmp(device, "reference") == 0))
            continue; /* the reference device has one thread */
        r = bench_runner_add(b, m, "nnrt ", device);
        start = bench_now();
        if (bench_session_open(&r->job, m->last != NULL ? m->last : m->model, m->last != NULL ? &m->layer : NULL,
                               device, threads, m->last != NULL ? &m->inLast : m->in, m->nIn, r->out, m->nOut,
                               &error) != NNRT_SUCCESS)
            bench_runner_drop(b, m, threads, error.message);
        else
            bench_runner_prepared(b, m, threads, start);
    }
    if (b->hasOrt) {
        r = bench_runner_add(b, m, "", "ONNX Runtime");
        start = bench_now();
        if (!ort_open(&b->ort, &r->job, m->path, threads, m->in, m->nIn, r->out, m->nOut))
            bench_runner_drop(b, m, threads, b->ort.fault);
        else
            bench_runner_prepared(b, m, threads, start);
    }
    for (int i = 0; bench_is_layer(m) && i < b->nPeers; i++) {
        const char *why;
        r = bench_runner_add(b, m, "", b->peers[i]->name);
        if ((why = b->peers[i]->open(&r->job, &m->layer, threads)) != NULL)
            bench_runner_drop(b, m, threads, why);
    }
}

static void bench_runners_close(bench *b, const bench_model *m)
{
    for (int i = 0; i < b->nRunners; i++) {
        b->runners[i].job.close(b->runners[i].job.state);
        bench_tensors_free(b->runners[i].out, m->nOut);
    }
    b->nRunners = 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>times */

static int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Threads of other libraries spin for a while after a run before they sleep: the next run waits until then. */
static void bench_rest(int threads)
{
    const struct timespec t = {0, 20000000};
    if (threads > 1)
        (void)nanosleep(&t, NULL);
}

/* Runs for so many seconds, at least once. times may be NULL. Returns the number of runs, with times at most
   BENCH_SAMPLES; 0: a run has failed, now or before. */
static int bench_runs(bench_runner *r, double seconds, double *times)
{
    const double start = bench_now();
    double before = start, now;
    int count = 0;
    do {
        if (r->failed || !r->job.run(r->job.state)) {
            r->failed = true;
            return 0;
        }
        now = bench_now();
        r->last = now - before;
        if (times != NULL)
            times[count] = r->last;
        before = now;
        count++;
    } while (now - start < seconds && (times == NULL || count < BENCH_SAMPLES));
    return count;
}

/* Prints the error of all results against ONNX Runtime or, without it, the reference device. */
static void bench_errors(bench *b, const bench_model *m, int threads)
{
    const char *const judge = b->hasOrt ? "ONNX Runtime" : "nnrt reference";
    size_t count = 0;
    float *expected = NULL, *found;
    for (size_t i = 0; i < m->nOut; i++)
        count += m->out[i].count;
    found = (float *)bench_alloc(2 * count * sizeof(float));
    for (int i = 0; i < b->nRunners; i++)
        if (strcmp(b->runners[i].name, judge) == 0 && !b->runners[i].failed) {
            expected = found + count;
            b->runners[i].job.result(b->runners[i].job.state, expected);
        }
    for (int i = 0; i < b->nRunners && expected != NULL; i++) {
        double largest = 0;
        if (b->runners[i].failed)
            continue;
        b->runners[i].job.result(b->runners[i].job.state, found);
        for (size_t k = 0, at = 0; k < m->nOut; at += m->out[k++].count)
            largest = fmax(largest, bench_distance(found + at, expected + at, m->out[k].count));
        printf("error\t%s\t%d\t%s\t%.3g\n", m->name, threads, b->runners[i].name, largest);
    }
    free(found);
}

/* Times all runners in turn, every second round in the reverse order. Each runs twice beforehand: memory is touched,
   the processor is awake. A very slow runner runs once a round, in some rounds. Returns false if a run has failed. */
static bool bench_measure(bench *b, const bench_model *m, int threads, const char *where)
{
    static double times[BENCH_SAMPLES];
    const double part = b->o.seconds / (BENCH_ROUNDS * fmax(b->nRunners, 1));
    bool slow[BENCH_LIST + 1 + BENCH_PEERS], good = true;
    for (int i = 0; i < b->nRunners; i++) {
        bench_runner *r = &b->runners[i];
        bench_rest(threads);
        if (bench_runs(r, part, NULL) != 0 && r->last < part)
            (void)bench_runs(r, part, NULL);
        slow[i] = r->last > 2 * part;
    }
    bench_errors(b, m, threads);
    for (int round = 0; round < BENCH_ROUNDS; round++)
        for (int k = 0; k < b->nRunners; k++) {
            const int i = round % 2 == 0 ? k : b->nRunners - 1 - k;
            bench_runner *r = &b->runners[i];
            int count;
            if (r->failed || (slow[i] && round >= BENCH_SLOW_ROUNDS))
                continue;
            bench_progress("%s %s, %d thread%s, round %d of %d: %s", where, m->name, threads, threads == 1 ? "" : "s",
                           round + 1, BENCH_ROUNDS, r->name);
            bench_rest(threads);
            if (!slow[i])
                (void)bench_runs(r, part / 4, NULL);
            if ((count = bench_runs(r, part, times)) == 0)
                continue;
            qsort(times, (size_t)count, sizeof(double), bench_compare);
            printf("time\t%s\t%d\t%s\t%d\t%.9g\t%.9g\t%d\n", m->name, threads, r->name, round,
                   (times[(count - 1) / 2] + times[count / 2]) / 2, times[0], count);
        }
    for (int i = 0; i < b->nRunners; i++)
        if (b->runners[i].failed) {
            printf("missing\t%s\t%d\t%s\ta run has failed\n", m->name, threads, b->runners[i].name);
            good = false;
        }
    fflush(stdout);
    return good;
}

/* Prints the peak of each instruction set and the bandwidth of each memory level. */
static void bench_machine(const bench *b)
{
    const double seconds = fmin(b->o.seconds / 4, 0.25);
    bench_isa isa;
    bench_level levels[4];
    for (int t = 0; t < b->o.nThreads; t++) {
        const int threads = b->o.threads[t];
        for (int i = 0; bench_isa_at(i, &isa); i++) {
            bench_progress("machine: %s, %d thread%s", isa.name, threads, threads == 1 ? "" : "s");
            printf("flops\t%d\t%s\t%.6g\n", threads, isa.name, bench_flops(&isa, threads, seconds));
        }
        bench_levels(levels, threads);
        for (int i = 0; i < 4; i++) {
            bench_progress("machine: %s, %d thread%s", levels[i].name, threads, threads == 1 ? "" : "s");
            printf("level\t%d\t%s\t%lu\t%d\t%.6g\n", threads, levels[i].name, (unsigned long)levels[i].capacity,
                   (int)levels[i].each, bench_bandwidth(&b->isa, &levels[i], threads, seconds));
        }
    }
    fflush(stdout);
}

/* Devices, ONNX Runtime and the libraries in the folder of peers. */
static void bench_find(bench *b)
{
    static const char *const names[] = {"openblas", "onednn", "xnnpack"};
    char path[1024], text[256];
    for (int i = 0; i < b->o.nDevices; i++)
        if (!bench_device(b->o.devices[i]))
            printf("absent\tnnrt %s\tno such device in this program\n", b->o.devices[i]);
    if (b->o.ort != NULL && !(b->hasOrt = ort_load(&b->ort, b->o.ort)))
        printf("absent\tONNX Runtime\t%s\n", b->ort.fault);
    if (b->hasOrt)
        printf("machine\tONNX Runtime\t%s\n", b->ort.version);
#if BENCH_X86
    /* OpenBLAS detects processors by their model, and does not know newer ones than itself. */
    if (__builtin_cpu_supports("avx512f"))
        (void)setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
#endif
    (void)setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0); /* its threads spin for 2^20 cycles */
    for (size_t i = 0; b->o.peers != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        void *library, *symbol;
        snprintf(path, sizeof(path), "%s/%s.so", b->o.peers, names[i]);
        if (access(path, R_OK) != 0)
            continue; /* bench.py, which builds it, has printed the reason */
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        symbol = library != NULL ? dlsym(library, "bench_peers") : NULL;
        if (symbol == NULL) {
            printf("absent\t%s\t%s\n", names[i], dlerror());
            continue;
        }
        for (const bench_peer *p = (const bench_peer *)symbol; p->name != NULL && b->nPeers < BENCH_PEERS; p++) {
            b->peers[b->nPeers++] = p;
            p->version(text, sizeof(text));
            printf("machine\t%s\t%s\n", p->name, text);
        }
    }
    fflush(stdout);
}

static int bench_plan(bench *b)
{
    FILE *plan = fopen(b->o.plan, "r");
    char line[2048], where[32];
    int status = 0, count = 0, done = 0;
    if (plan == NULL)
        return bench_fail("%s: cannot be opened", b->o.plan);
    while (fgets(line, sizeof(line), plan) != NULL)
        count++;
    rewind(plan);
    while (fgets(line, sizeof(line), plan) != NULL) {
        bench_model m;
        snprintf(where, sizeof(where), "[%d/%d]", ++done, count);
        if (!bench_model_parse(&m, line)) {
            status = bench_fail("%s:%d: not a line of a plan", b->o.plan, done);
            break;
        }
        bench_progress("%s %s", where, m.name);
        if (!bench_model_open(&m)) {
            status = 1;
            continue;
        }
        for (int t = 0; t < b->o.nThreads; t++) {
            const int threads = b->o.threads[t];
            bench_runners_open(b, &m, threads);
            printf("peak\t%s\t%d\t%.6g\n", m.name, threads,
                   bench_flops(&b->isa, threads, fmin(b->o.seconds / 10, 0.05)));
            if (!bench_measure(b, &m, threads, where))
                status = 1;
            bench_runners_close(b, &m);
        }
        bench_model_close(&m);
    }
    bench_progress("");
    (void)fclose(plan);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>start */

static size_t bench_held, bench_most; /* bytes allocated now, and at most */

static void *bench_counting_alloc(void *user, size_t bytes, size_t alignment)
{
    void *block = NULL;
    (void)user;
    if (posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    bench_held += bytes;
    bench_most = bench_held > bench_most ? bench_held : bench_most;
    return block;
}

static void bench_counting_free(void *user, void *block, size_t bytes)
{
    (void)user;
    bench_held -= bytes;
    free(block);
}

/* Peak resident memory of this process in bytes; 0: the system does not report it. The peak of getrusage would include
   the process before exec. */
static double bench_resident(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long kib = 0;
    while (status != NULL && fgets(line, sizeof(line), status) != NULL)
        if (sscanf(line, "VmHWM: %lu", &kib) == 1)
            break;
    if (status != NULL)
        (void)fclose(status);
    return (double)kib * 1024;
}

static double bench_file_bytes(const char *path)
{
    FILE *file = fopen(path, "rb");
    double bytes = 0;
    if (file == NULL)
        return 0;
    if (fseek(file, 0, SEEK_END) == 0)
        bytes = (double)ftell(file);
    (void)fclose(file);
    return bytes;
}

/* Measures the first run in a process that does nothing else. */
static int bench_start(const char *device, const char *path)
{
    const size_t length = strlen(path);
    const bool onnx = length > 5 && strcmp(path + length - 5, ".onnx") == 0;
    const double before = bench_resident();
    nnrt_allocator allocator;
    nnrt_error error = {0};
    nnrt_onnx_desc read;
    nnrt_load_desc load;
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    NNRT_Model *model = NULL;
    nnrt_io io[2 * BENCH_MAX_TENSORS];
    uint32_t nIn, nOut;
    double times[4];
    NNRT_ReturnCode code;
    memset(io, 0, sizeof(io));
    memset(&allocator, 0, sizeof(allocator));
    memset(&read, 0, sizeof(read));
    memset(&load, 0, sizeof(load));
    memset(&desc, 0, sizeof(desc));
    allocator.alloc = bench_counting_alloc;
    allocator.free = bench_counting_free;
    read.allocator = load.allocator = desc.allocator = &allocator;
    desc.device = device;
    if (!bench_device(device)) {
        printf("absent\tnnrt %s\tno such device in this program\n", device);
        return 0;
    }
    times[0] = bench_now();
    code = onnx ? nnrt_onnx_load(&model, path, &read, &error) : nnrt_model_load(&model, path, &load, &error);
    times[1] = bench_now();
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&session, model, &desc, &error);
    times[2] = bench_now();
    if (code != NNRT_SUCCESS)
        return bench_fail("%s on %s: %s", path, device, error.message);
    nIn = nnrt_session_inputs(session);
    nOut = nnrt_session_outputs(session);
    if (nIn > BENCH_MAX_TENSORS || nOut > BENCH_MAX_TENSORS)
        return bench_fail("%s: too many inputs or outputs", path);
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        const size_t bytes = (i < nIn ? nnrt_session_input(session, i) : nnrt_session_output(session, i - nIn)).bytes;
        io[i] = nnrt_io_make(bench_alloc(bytes), bytes);
    }
    times[3] = bench_now();
    code = nnrt_run(session, io, nIn, io + nIn, nOut);
    times[3] = bench_now() - times[3];
    if (code != NNRT_SUCCESS)
        return bench_fail("%s on %s: %s", path, device, nnrt_session_error(session));
    printf("start\t%s\t%s\t%.9g\t%.9g\t%.9g\t%lu\t%lu\t%.0f\t%.0f\n", device, path, times[1] - times[0],
           times[2] - times[1], times[3], (unsigned long)bench_most,
           (unsigned long)nnrt_session_get_memory(session).constants, bench_file_bytes(path),
           bench_resident() - before);
    for (uint32_t i = 0; i < nIn + nOut; i++)
        free(io[i].data);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return bench_held == 0 ? 0 : bench_fail("%lu bytes are still held", (unsigned long)bench_held);
}

/* device: NULL, or the file also gets the packed weights of this device. */
static int bench_convert(const char *from, const char *to, const char *device)
{
    nnrt_error error = {0};
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    nnrt_cache *cache = NULL;
    nnrt_session_desc desc;
    nnrt_cache_desc kept;
    nnrt_save_desc save;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(&kept, 0, sizeof(kept));
    memset(&save, 0, sizeof(save));
    if (device != NULL && !bench_device(device))
        return bench_fail("%s: no such device in this program", device);
    code = nnrt_onnx_load(&model, from, NULL, &error);
    kept.packed = true;
    if (code == NNRT_SUCCESS && device != NULL)
        code = nnrt_cache_create(&cache, &kept, &error);
    desc.device = device;
    desc.cache = cache;
    save.cache = cache;
    if (code == NNRT_SUCCESS && device != NULL)
        code = nnrt_session_create(&session, model, &desc, &error);
    if (code == NNRT_SUCCESS)
        code = nnrt_model_save(model, to, &save, &error);
    nnrt_session_destroy(session);
    nnrt_cache_destroy(cache);
    nnrt_model_destroy(model);
    return code == NNRT_SUCCESS ? 0 : bench_fail("%s: %s", from, error.message);
}

int main(int argc, char **argv)
{
    static bench b;
    if (argc == 4 && strcmp(argv[1], "--start") == 0)
        return bench_start(argv[2], argv[3]);
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "--convert") == 0)
        return bench_convert(argv[2], argv[3], argc == 5 ? argv[4] : NULL);
    if (!bench_parse(&b.o, argc, argv))
        return 2;
    if (!bench_isa_at(0, &b.isa))
        return bench_fail("no instruction set is known");
    bench_find(&b);
    bench_machine(&b);
    return bench_plan(&b);
}
