/* The three phases of a plan, as a device calls them: the functions that edit a draft, invalid edits that
   nnrt_plan_finish rejects, a device's own layouts, memory to the byte, and the device of examples/device against the
   reference device, bit by bit, with one and several threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nnrt_hal.h"

#include "examples/device/device.h"
#include "kit.h"

/* ---- networks: a convolution, and an ADD of its result and another tensor ---- */

typedef enum source { FROM_INPUT, FROM_CONSTANT, FROM_IN_FRONT, FROM_BEHIND, FROM_CONV, FROM_ROW } source;

/* Variants of the networks. */
typedef struct variant {
    const char *name;
    NNRT_ActivationType first, second;
    bool swapped;       /* ADD's first input is the other one */
    source other;       /* where the other one comes from: FROM_CONV: the result again, FROM_ROW: it is broadcast */
    bool twice, output; /* the result is also read by another node; is an output of the model */
    bool noBias, openWeights, channelsFirst;
    int64_t group;
    uint32_t steps; /* that the example device needs: as many as the reference device, or one less */
} variant;

#define NONE NNRT_ACTIVATION_TYPE_NO_ACTIVATION
#define RELU NNRT_ACTIVATION_TYPE_RELU
#define TANH NNRT_ACTIVATION_TYPE_TANH
#define HSWISH NNRT_ACTIVATION_TYPE_HSWISH

static const variant variants[] = {
    {"merged", NONE, NONE, false, FROM_INPUT, false, false, false, false, false, 1, 1},
    {"merged, second operand", NONE, NONE, true, FROM_INPUT, false, false, false, false, false, 1, 1},
    {"ADD activates", NONE, RELU, false, FROM_INPUT, false, false, false, false, false, 1, 1},
    {"convolution activates", RELU, NONE, true, FROM_INPUT, false, false, false, false, false, 1, 1},
    {"both activate", TANH, HSWISH, false, FROM_INPUT, false, false, true, false, false, 1, 1},
    {"other is constant", HSWISH, RELU, true, FROM_CONSTANT, false, false, false, false, false, 1, 1},
    {"other is made in front", NONE, TANH, false, FROM_IN_FRONT, false, false, false, false, false, 1, 2},
    {"other is made behind", RELU, NONE, false, FROM_BEHIND, false, false, false, false, false, 1, 2},
    {"other is made behind, second operand", RELU, RELU, true, FROM_BEHIND, false, false, true, false, false, 1, 2},
    {"result is added to itself", RELU, NONE, false, FROM_CONV, false, false, false, false, false, 1, 2},
    {"result is read twice", NONE, RELU, false, FROM_INPUT, true, false, false, false, false, 1, 3},
    {"result is an output", NONE, RELU, true, FROM_INPUT, false, true, false, false, false, 1, 2},
    {"other is broadcast", NONE, NONE, false, FROM_ROW, false, false, false, false, false, 1, 2},
    {"weights are no constant", NONE, NONE, false, FROM_INPUT, false, false, false, true, false, 1, 2},
    {"two groups", NONE, NONE, false, FROM_INPUT, false, false, false, false, false, 2, 2},
    {"channels first", NONE, NONE, false, FROM_INPUT, false, false, false, false, true, 1, 2},
};

enum { BATCH = 2, SIDE = 5, CHANNELS = 4, PIXELS = BATCH * SIDE * SIDE * CHANNELS };

/* A network, its attributes, its inputs, and the results of a run. */
typedef struct network {
    graph g;
    NNRT_Conv2DFusion conv;
    NNRT_AddFusion add;
    int64_t window[2];
    float numbers[3][PIXELS];
    float out[3][PIXELS];
} network;

static void fill(float *numbers, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        numbers[i] = (float)(int32_t)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

/* Tensors: 0 x, 1 weights [4,3,3,4 / group], 2 bias, 3 other, 4 result, 5 sum, 6 and 7 as needed. x keeps its shape. */
static void build(network *n, const variant *v)
{
    graph *g = &n->g;
    const char *image = "2,5,5,4", *weights = v->group == 2 ? "4,3,3,2" : "4,3,3,4";
    char operands[8];
    uint32_t other = 3;
    memset(n, 0, sizeof(*n));
    for (uint32_t i = 0; i < 3; i++)
        fill(n->numbers[i], PIXELS, i + 1);
    n->conv.stride = n->conv.dilation = nnrt_int64_list(n->window, 2);
    n->window[0] = n->window[1] = 1;
    n->conv.padMode = NNRT_PAD_MODE_SAME;
    n->conv.group = v->group;
    n->conv.activationType = v->first;
    n->add.activationType = v->second;
    graph_init(g);
    tensor(g, "x", F32, v->channelsFirst ? "2,4,5,5" : image);
    g->tensors[0].format = v->channelsFirst ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC;
    if (v->openWeights)
        tensor(g, "w", F32, weights);
    else
        constant(g, "w", F32, weights, n->numbers[1], (size_t)(4 * 3 * 3 * 4) / (size_t)v->group * sizeof(float));
    constant(g, "b", F32, "4", n->numbers[2], 4 * sizeof(float));
    if (v->other == FROM_CONSTANT)
        constant(g, "other", F32, image, n->numbers[2], sizeof(n->numbers[2]));
    else
        tensor(g, "other", F32, v->other == FROM_ROW ? "4" : v->channelsFirst ? "2,4,5,5" : image);
    g->tensors[3].format = v->channelsFirst ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NONE;
    result(g, "result");
    result(g, "sum");
    result(g, "made");
    g->tensors[4].format = g->tensors[5].format = v->channelsFirst ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NONE;
    if (v->other == FROM_IN_FRONT)
        ACTIVATION(g, "make", absolute, "3", "6");
    node(g, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &n->conv, sizeof(n->conv), v->noBias ? "0 1" : "0 1 2", "4");
    if (v->other == FROM_BEHIND)
        ACTIVATION(g, "make", absolute, "3", "6");
    if (v->twice)
        ACTIVATION(g, "read", absolute, "4", "6");
    if (v->other == FROM_IN_FRONT || v->other == FROM_BEHIND)
        other = 6;
    else if (v->other == FROM_CONV)
        other = 4;
    snprintf(operands, sizeof(operands), v->swapped ? "%u 4" : "4 %u", (unsigned)other);
    node(g, "add", NNRT_NODE_TYPE_ADD_FUSION, &n->add, sizeof(n->add), operands, "5");
    graph_io(g,
             v->other == FROM_CONSTANT || v->other == FROM_CONV ? (v->openWeights ? "0 1" : "0")
             : v->openWeights                                   ? "0 1 3"
                                                                : "0 3",
             v->twice    ? "5 6"
             : v->output ? "4 5"
                         : "5");
}

/* Buffers for all inputs and outputs: input i reads numbers of its tensor. */
static void buffers(network *n, NNRT_PreparedModel *p, NNRT_IOTensor *io, nnrt_dims *shapes)
{
    const uint32_t nIn = n->g.model.inputIndex.count, nOut = n->g.model.outputIndex.count;
    memset(n->out, 0xFF, sizeof(n->out));
    memset(io, 0, (nIn + nOut) * sizeof(*io));
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        const bool input = i < nIn;
        const uint32_t t = input ? n->g.inputs[i] : i - nIn;
        assert_int_equal(p->vtbl->GetIO(p, !input, input ? i : i - nIn, &io[i].dataType, &shapes[i]), NNRT_SUCCESS);
        io[i].dimensions = NNRT_Int32List_make(shapes[i].dims, (uint32_t)shapes[i].rank);
        io[i].format = NNRT_FORMAT_NONE;
        io[i].data.fd = -1;
        io[i].data.addr = input ? n->numbers[t % 3] : n->out[t];
        io[i].data.bufferSize = io[i].data.dataSize = sizeof(n->out[0]);
    }
}

/* Prepares and runs on a device; returns how many steps that takes. */
static uint32_t run_network(network *n, const char *device, const NNRT_ModelConfig *config)
{
    nnrt_device *d = nnrt_device_find(device);
    NNRT_PreparedModel *p = NULL;
    NNRT_IOTensor io[8];
    nnrt_dims shapes[8];
    nnrt_prepared_memory memory;
    assert_non_null(d);
    assert_int_equal(nnrt_device_prepare(d, &n->g.model, config, &p), NNRT_SUCCESS);
    buffers(n, p, io, shapes);
    assert_int_equal(nnrt_prepared_run(p, NULL, 0, io, n->g.model.inputIndex.count, io + n->g.model.inputIndex.count,
                                       n->g.model.outputIndex.count, NULL, NULL, NULL),
                     NNRT_SUCCESS);
    assert_int_equal(p->vtbl->GetMemory(p, &memory), NNRT_SUCCESS);
    nnrt_device_release(d, p);
    return memory.steps;
}

static void test_same_bits(void **state)
{
    static network a, b;
    (void)state;
    for (uint32_t i = 0; i < COUNT(variants); i++) {
        uint32_t steps;
        build(&a, &variants[i]);
        build(&b, &variants[i]);
        (void)run_network(&a, "reference", NULL);
        steps = run_network(&b, "example", NULL);
        if (steps != variants[i].steps || memcmp(a.out, b.out, sizeof(a.out)) != 0)
            fail_msg("%s: %u steps, expected %u, or other bits", variants[i].name, (unsigned)steps,
                     (unsigned)variants[i].steps);
    }
}

/* 2 * 3 + 1 = 7; 7 - 10 = -3, which RELU of the ADD makes 0; RELU of the convolution changes nothing of 7. And
   -2 * 3 + 1 = -5, which RELU of the convolution makes 0: 0 + 4 = 4. */
static void test_by_hand(void **state)
{
    static const float w = 3, b = 1;
    static const float want[3][2] = {{-3, -1}, {0, 0}, {-3, 4}}; /* no activation, of the ADD, of the convolution */
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        static network n;
        const variant v = {
            "", i == 2 ? RELU : NONE, i == 1 ? RELU : NONE, i == 1, FROM_INPUT, false, false, false, false, false, 1,
            1};
        build(&n, &v);
        n.g.dims[0][0] = n.g.dims[3][0] = n.g.dims[0][1] = n.g.dims[3][1] = n.g.dims[0][3] = n.g.dims[3][3] = 1;
        n.g.dims[0][2] = n.g.dims[3][2] = 2;
        for (uint32_t k = 0; k < 4; k++)
            n.g.dims[1][k] = 1;
        n.g.dims[2][0] = 1;
        n.g.tensors[1].data.addr = (void *)(uintptr_t)&w;
        n.g.tensors[2].data.addr = (void *)(uintptr_t)&b;
        n.g.tensors[1].data.dataSize = n.g.tensors[2].data.dataSize = sizeof(float);
        n.numbers[0][0] = 2;
        n.numbers[0][1] = -2;
        {
            static const float other[2] = {-10, 4};
            NNRT_PreparedModel *p = NULL;
            NNRT_IOTensor io[3];
            nnrt_dims shapes[8];
            assert_int_equal(nnrt_device_prepare(nnrt_device_find("example"), &n.g.model, NULL, &p), NNRT_SUCCESS);
            buffers(&n, p, io, shapes);
            io[1].data.addr = (void *)(uintptr_t)other;
            assert_int_equal(nnrt_prepared_run(p, NULL, 0, io, 2, io + 2, 1, NULL, NULL, NULL), NNRT_SUCCESS);
            assert_memory_equal(n.out[0], want[i], sizeof(want[i]));
            nnrt_device_release(nnrt_device_find("example"), p);
        }
    }
}

/* ---- threads ---- */

typedef struct pool {
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
    uint32_t count, next, workers, used; /* used: bits of workers that had something to do */
    pthread_mutex_t lock;
} pool;

typedef struct helper {
    pool *p;
    uint32_t worker;
    pthread_t thread;
} helper;

static void *help(void *user)
{
    helper *h = (helper *)user;
    for (;;) {
        uint32_t i;
        pthread_mutex_lock(&h->p->lock);
        i = h->p->next++;
        h->p->used |= i < h->p->count ? 1u << h->worker : 0u;
        pthread_mutex_unlock(&h->p->lock);
        if (i >= h->p->count)
            return NULL;
        h->p->task(h->p->arg, i, h->worker);
    }
}

static void pool_run(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    pool *p = (pool *)user;
    helper helpers[4];
    p->task = task;
    p->arg = arg;
    p->count = count;
    p->next = 0;
    for (uint32_t i = 0; i < p->workers; i++) {
        helpers[i].p = p;
        helpers[i].worker = i;
        if (pthread_create(&helpers[i].thread, NULL, help, &helpers[i]) != 0)
            abort();
    }
    for (uint32_t i = 0; i < p->workers; i++)
        pthread_join(helpers[i].thread, NULL);
}

static void test_threads(void **state)
{
    static network want, n;
    (void)state;
    for (uint32_t v = 0; v < COUNT(variants); v++)
        for (uint32_t workers = 1; workers <= 3; workers++) {
            pool p;
            nnrt_parallel parallel;
            NNRT_ModelConfig config;
            memset(&p, 0, sizeof(p));
            memset(&config, 0, sizeof(config));
            assert_int_equal(pthread_mutex_init(&p.lock, NULL), 0);
            p.workers = workers;
            parallel.run = pool_run;
            parallel.user = &p;
            parallel.workers = workers;
            config.parallel = &parallel;
            build(&want, &variants[v]);
            build(&n, &variants[v]);
            (void)run_network(&want, "reference", NULL);
            (void)run_network(&n, "example", &config);
            assert_memory_equal(n.out, want.out, sizeof(n.out));
            if (!variants[v].openWeights && variants[v].group == 1 && !variants[v].channelsFirst)
                assert_true(workers == 1 || p.used != 0); /* the kernel did use the threads */
            pthread_mutex_destroy(&p.lock);
        }
}

/* ---- memory ---- */

static void test_bytes(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < COUNT(variants); v++)
        for (uint32_t copy = 0; copy < 2; copy++) {
            static network n, want;
            nnrt_device *device = nnrt_device_find("example");
            NNRT_ModelConfig config;
            NNRT_PreparedModel *p = NULL;
            guarded buffer;
            size_t bytes = 0, again = 0;
            memset(&config, 0, sizeof(config));
            config.copyConstants = copy != 0;
            build(&n, &variants[v]);
            build(&want, &variants[v]);
            (void)run_network(&want, "reference", NULL);
            assert_int_equal(nnrt_device_model_memory(device, &n.g.model, &config, &bytes), NNRT_SUCCESS);
            assert_int_equal(nnrt_device_model_memory(device, &n.g.model, &config, &again), NNRT_SUCCESS);
            assert_true(bytes > 0 && bytes == again);
            buffer = guarded_make(bytes, 0);
            config.buffer = buffer.data;
            config.bufferBytes = bytes - 1;
            assert_int_equal(nnrt_device_prepare(device, &n.g.model, &config, &p), NNRT_OUT_OF_MEMORY);
            assert_null(p);
            config.bufferBytes = bytes;
            (void)run_network(&n, "example", &config);
            assert_memory_equal(n.out, want.out, sizeof(n.out));
            guarded_end(&buffer);
        }
}

/* Every request for memory fails once, in counting and in preparing; nothing is left. */
static void test_without_memory(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < COUNT(variants); v += 3) {
        bool done[2] = {false, false};
        for (int64_t at = 1; !done[0] || !done[1]; at++)
            for (uint32_t count = 0; count < 2; count++) {
                static network n;
                static tracker t;
                nnrt_allocator a = allocator_of(&t);
                nnrt_error error;
                NNRT_ModelConfig config;
                NNRT_PreparedModel *p = NULL;
                NNRT_ReturnCode code;
                size_t bytes = 0;
                memset(&t, 0, sizeof(t));
                memset(&error, 0, sizeof(error));
                memset(&config, 0, sizeof(config));
                t.failAt = at;
                config.structSize = sizeof(config);
                config.allocator = &a;
                config.error = &error;
                build(&n, &variants[v]);
                code = count != 0 ? nnrt_plan_memory(&n.g.model, &config, example_edit, NULL, &bytes)
                                  : nnrt_plan_prepare(&n.g.model, &config, example_edit, NULL, NULL, &p);
                if (code == NNRT_SUCCESS) {
                    assert_true(t.calls < at);
                    done[count] = true;
                    if (p != NULL)
                        p->vtbl->Destroy(p);
                } else {
                    assert_int_equal(code, NNRT_OUT_OF_MEMORY);
                    assert_true(error.message[0] != '\0');
                    assert_null(p);
                }
                assert_true(t.live == 0 && !t.wrong);
            }
    }
}

/* ---- a draft by hand: x [4,4] -> ABS -> t -> RELU -> u -> RESHAPE -> v [16] ---- */

typedef struct bench {
    graph g;
    tracker t;
    nnrt_allocator allocator;
    nnrt_error error;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_draft *draft;
    nnrt_plan *plan;
} bench;

enum { X, SHAPE, T, U, V };

static void bench_begin(bench *b, bool counting)
{
    static const int32_t flat[1] = {16};
    memset(b, 0, sizeof(*b));
    graph_init(&b->g);
    tensor(&b->g, "x", F32, "4,4");
    constant(&b->g, "shape", I32, "1", flat, sizeof(flat));
    result(&b->g, "t");
    result(&b->g, "u");
    result(&b->g, "v");
    ACTIVATION(&b->g, "abs", absolute, "0", "2");
    ACTIVATION(&b->g, "relu", relu, "2", "3");
    PLAIN(&b->g, "reshape", RESHAPE, "3 1", "4");
    graph_io(&b->g, "0", "4");
    b->allocator = allocator_of(&b->t);
    b->config.structSize = sizeof(b->config);
    b->config.error = &b->error;
    b->config.allocator = &b->allocator;
    if (counting)
        nnrt_memory_count(&b->memory, &b->allocator);
    else
        nnrt_memory_allocate(&b->memory, &b->allocator);
    assert_int_equal(nnrt_plan_draft(&b->g.model, &b->config, &b->memory, &b->draft), NNRT_SUCCESS);
    assert_int_equal(b->draft->nSteps, 3);
    assert_int_equal(b->draft->nTensors, 5);
}

static void bench_end(bench *b)
{
    nnrt_memory_end(&b->memory);
    assert_true(b->t.live == 0 && !b->t.wrong);
}

/* Finishes, runs on x[i] = i - 8 and checks that v[i] = want(i). */
static void bench_run(bench *b, float (*want)(uint32_t i))
{
    float x[16], v[16];
    int32_t square[2] = {4, 4}, flat[1] = {16};
    NNRT_IOTensor in, out;
    guarded workspace;
    assert_int_equal(nnrt_plan_finish(b->draft, &b->plan), NNRT_SUCCESS);
    memset(&in, 0, sizeof(in));
    memset(v, 0xFF, sizeof(v));
    for (uint32_t i = 0; i < 16; i++)
        x[i] = (float)i - 8;
    in.dataType = F32;
    in.format = NNRT_FORMAT_NONE;
    in.data.fd = -1;
    in.data.bufferSize = in.data.dataSize = sizeof(x);
    out = in;
    in.dimensions = NNRT_Int32List_make(square, 2);
    out.dimensions = NNRT_Int32List_make(flat, 1);
    in.data.addr = x;
    out.data.addr = v;
    workspace = guarded_make(nnrt_plan_workspace(b->plan), 0);
    assert_int_equal(nnrt_plan_run(b->plan, workspace.data, workspace.bytes, &in, 1, &out, 1, NULL, &b->error),
                     NNRT_SUCCESS);
    guarded_end(&workspace);
    for (uint32_t i = 0; i < 16; i++)
        assert_true(v[i] == want(i) && x[i] == (float)i - 8);
}

static float distance(uint32_t i)
{
    return i < 8 ? (float)(8 - i) : (float)(i - 8);
}

static float twice_distance(uint32_t i)
{
    return 2 * distance(i);
}

static void test_writer_and_readers(void **state)
{
    static bench b;
    (void)state;
    bench_begin(&b, false);
    assert_int_equal(nnrt_draft_writer(b.draft, T), 0);
    assert_int_equal(nnrt_draft_writer(b.draft, V), 2);
    assert_int_equal(nnrt_draft_writer(b.draft, X), UINT32_MAX);
    assert_int_equal(nnrt_draft_writer(b.draft, SHAPE), UINT32_MAX);
    assert_int_equal(nnrt_draft_writer(b.draft, 99), UINT32_MAX);
    assert_int_equal(nnrt_draft_writer(b.draft, NNRT_NO_TENSOR), UINT32_MAX);
    assert_int_equal(nnrt_draft_readers(b.draft, X), 1);
    assert_int_equal(nnrt_draft_readers(b.draft, T), 1);
    assert_int_equal(nnrt_draft_readers(b.draft, V), 1); /* the model's output */
    assert_int_equal(nnrt_draft_readers(b.draft, SHAPE), 1);
    assert_int_equal(nnrt_draft_readers(b.draft, 99), 0);
    assert_non_null(nnrt_draft_args(b.draft, 0, 3, 1)); /* absent arguments have no readers and no writer */
    assert_int_equal(nnrt_draft_readers(b.draft, NNRT_NO_TENSOR), 0);
    assert_int_equal(nnrt_draft_writer(b.draft, NNRT_NO_TENSOR), UINT32_MAX);
    b.draft->steps[1].kernel = NULL; /* a removed step neither reads nor writes */
    assert_int_equal(nnrt_draft_readers(b.draft, T), 0);
    assert_int_equal(nnrt_draft_writer(b.draft, U), UINT32_MAX);
    bench_end(&b);
}

static void test_args(void **state)
{
    static bench b;
    (void)state;
    bench_begin(&b, false);
    {
        const nnrt_plan_arg *old = b.draft->steps[1].args;
        nnrt_plan_arg *args = nnrt_draft_args(b.draft, 1, 2, 1);
        assert_non_null(args);
        assert_ptr_equal(args, b.draft->steps[1].args);
        assert_int_equal(b.draft->steps[1].nIn, 2);
        assert_int_equal(b.draft->steps[1].nDerived, 0);
        assert_int_equal(b.draft->steps[1].nOut, 1);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(args[i].tensor == NNRT_NO_TENSOR && args[i].kind == NNRT_PLACE_NONE &&
                        args[i].view.data == NULL && args[i].view.dataType == NNRT_DATA_TYPE_UNKNOWN);
        assert_int_equal(old[0].tensor, T);
        args[0] = old[0];
        args[2] = old[1];
        assert_null(nnrt_draft_args(b.draft, 3, 1, 1)); /* no such step */
        bench_run(&b, distance);
    }
    bench_end(&b);
    bench_begin(&b, false);
    {
        const nnrt_plan_arg *old = b.draft->steps[1].args;
        b.t.cap = 1; /* nothing more is given */
        while (nnrt_memory_temp(&b.memory, 1000) != NULL)
            ;
        assert_null(nnrt_draft_args(b.draft, 1, 2, 1));
        assert_ptr_equal(b.draft->steps[1].args, old);
        assert_int_equal(nnrt_plan_finish(b.draft, &b.plan), NNRT_OUT_OF_MEMORY); /* and the failure cannot be missed */
    }
    bench_end(&b);
}

/* A kernel of the test: y = x times its derived constant, whatever the layouts. Records its arguments. */
static nnrt_call seen;

static NNRT_ReturnCode scale(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *x = &args[0], *y = &args[call->nIn + call->nDerived];
    const float factor = call->nDerived > 0 ? *(const float *)args[call->nIn].data : 1;
    (void)attr;
    seen = *call;
    for (int32_t i = 0; i < x->dims[0]; i++)
        for (int32_t k = 0; k < x->dims[1]; k++)
            ((float *)y->data)[i * y->strides[0] + k * y->strides[1]] =
                factor * ((const float *)x->data)[i * x->strides[0] + k * x->strides[1]];
    return NNRT_SUCCESS;
}

static void use_scale(nnrt_draft_step *step)
{
    step->kernel = scale;
    step->kernelName = "test_scale";
    step->flags = 0;
}

static void test_derive(void **state)
{
    static bench b;
    const int32_t one[1] = {1}, odd[2] = {3, 5}, negative[1] = {-1}, huge[4] = {INT32_MAX, INT32_MAX, INT32_MAX, 16};
    void *data = &b, *second = NULL;
    (void)state;
    bench_begin(&b, false);
    use_scale(&b.draft->steps[1]);
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, 1, one, &data), NNRT_SUCCESS);
    assert_int_equal(nnrt_draft_derive(b.draft, 1, NNRT_DATA_TYPE_INT8, 2, odd, &second), NNRT_SUCCESS);
    assert_true(data != NULL && second != NULL && (uintptr_t)data % NNRT_ALIGNMENT == 0 &&
                (uintptr_t)second % NNRT_ALIGNMENT == 0);
    *(float *)data = 2;
    memset(second, 0x5A, 15);
    assert_int_equal(b.draft->steps[1].nDerived, 2);
    assert_int_equal(b.draft->steps[1].args[0].tensor, T); /* inputs, constants in their order, outputs */
    assert_ptr_equal(b.draft->steps[1].args[1].view.data, data);
    assert_ptr_equal(b.draft->steps[1].args[2].view.data, second);
    assert_int_equal(b.draft->steps[1].args[2].view.strides[0], 5);
    assert_int_equal(b.draft->steps[1].args[3].tensor, U);
    bench_run(&b, twice_distance);
    assert_int_equal(b.plan->derivedBytes, 4 + 15);
    bench_end(&b);

    bench_begin(&b, true); /* while counting there is no room, but a list as long */
    data = &b;
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, 1, one, &data), NNRT_SUCCESS);
    assert_null(data);
    assert_int_equal(b.draft->steps[1].nDerived, 1);
    bench_end(&b);

    bench_begin(&b, false);
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, 1, negative, &data), NNRT_DEVICE_ERROR);
    assert_null(data);
    assert_non_null(strstr(b.error.message, "derived constant of step 1"));
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, 4, huge, &data), NNRT_DEVICE_ERROR);
    assert_int_equal(nnrt_draft_derive(b.draft, 1, NNRT_DATA_TYPE_UNKNOWN, 1, one, &data), NNRT_DEVICE_ERROR);
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, NNRT_MAX_RANK + 1, one, &data), NNRT_DEVICE_ERROR);
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, -1, one, &data), NNRT_DEVICE_ERROR);
    assert_int_equal(nnrt_draft_derive(b.draft, 3, F32, 1, one, &data), NNRT_DEVICE_ERROR);
    assert_int_equal(b.draft->steps[1].nDerived, 0);
    bench_run(&b, distance); /* a refused edit changes nothing */
    bench_end(&b);

    bench_begin(&b, false);
    b.t.cap = 1;
    while (nnrt_memory_temp(&b.memory, 1000) != NULL)
        ;
    assert_int_equal(nnrt_draft_derive(b.draft, 1, F32, 1, one, &data), NNRT_OUT_OF_MEMORY);
    assert_true(data == NULL && b.error.message[0] != '\0');
    bench_end(&b);
}

/* Inserts a step without arguments and kernel. */
static bool insert(nnrt_draft *draft, uint32_t at)
{
    nnrt_draft_step step;
    memset(&step, 0, sizeof(step));
    step.node = -1;
    step.name = step.kernelName = "";
    return nnrt_draft_insert(draft, &step, &at, 1);
}

/* New tensors and steps, more than there was room for: x -> ABS -> t, then 20 copies, each into a new tensor, then RELU. */
static void test_tensor_and_insert(void **state)
{
    static bench b;
    const int32_t dims[2] = {4, 4}, negative[2] = {-1, 4}, huge[4] = {INT32_MAX, INT32_MAX, INT32_MAX, 16};
    uint32_t last = T;
    (void)state;
    bench_begin(&b, false);
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t made = nnrt_draft_tensor(b.draft, F32, 2, dims);
        const nnrt_draft_step *step;
        nnrt_plan_arg *args;
        assert_true(insert(b.draft, 1 + i));
        step = &b.draft->steps[1 + i];
        assert_int_equal(made, 5 + i);
        assert_int_equal(b.draft->bytes[made], 64);
        assert_true(step->node == -1 && step->op == NULL && step->kernel == NULL && step->nIn == 0);
        args = nnrt_draft_args(b.draft, 1 + i, 1, 1);
        assert_non_null(args);
        args[0] = args[1] = b.draft->steps[0].args[1]; /* the view of t */
        args[0].tensor = last;
        args[1].tensor = made;
        use_scale(&b.draft->steps[1 + i]);
        last = made;
    }
    assert_int_equal(b.draft->nSteps, 23);
    assert_int_equal(b.draft->nTensors, 25);
    assert_int_equal(b.draft->steps[21].node, 1); /* RELU moved */
    b.draft->steps[21].args[0].tensor = last;
    assert_false(insert(b.draft, 24)); /* after the end of the list */
    assert_true(insert(b.draft, 23));
    b.draft->nSteps--;
    assert_int_equal(nnrt_draft_tensor(b.draft, F32, 2, negative), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_draft_tensor(b.draft, F32, 4, huge), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_draft_tensor(b.draft, F32, NNRT_MAX_RANK + 1, dims), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_draft_tensor(b.draft, NNRT_DATA_TYPE_UNKNOWN, 2, dims), NNRT_NO_TENSOR);
    bench_run(&b, distance);
    assert_int_equal(b.plan->nSteps, 22); /* RESHAPE is another shape of RELU's result */
    bench_end(&b);

    bench_begin(&b, false);
    b.t.cap = 1;
    while (nnrt_memory_temp(&b.memory, 1000) != NULL)
        ;
    assert_int_equal(nnrt_draft_tensor(b.draft, F32, 2, dims), NNRT_NO_TENSOR);
    assert_false(insert(b.draft, 1));
    assert_int_equal(b.draft->nSteps, 3);
    bench_end(&b);
}

/* ---- def-use lists ---- */

/* The lists give the answers of a draft without lists, which looks at all steps. */
static void check_uses(const nnrt_draft *d)
{
    nnrt_draft plain = *d;
    assert_non_null(d->uses);
    plain.uses = NULL;
    for (uint32_t t = 0; t < d->nTensors + 2; t++) {
        const uint32_t tensor = t <= d->nTensors ? t : NNRT_NO_TENSOR; /* nTensors is none either */
        nnrt_draft_use listed = nnrt_draft_uses(d, tensor), found = nnrt_draft_uses(&plain, tensor);
        uint32_t times[8][8];
        memset(times, 0, sizeof(times));
        while (nnrt_draft_next(d, &listed)) {
            assert_true(listed.step < 8 && listed.argument < 8);
            times[listed.step][listed.argument]++;
        }
        while (nnrt_draft_next(&plain, &found))
            assert_int_equal(times[found.step][found.argument]--, 1);
        for (uint32_t s = 0; s < 8; s++)
            for (uint32_t k = 0; k < 8; k++)
                assert_int_equal(times[s][k], 0);
        assert_int_equal(nnrt_draft_reader(d, tensor), nnrt_draft_reader(&plain, tensor));
        assert_int_equal(nnrt_draft_readers(d, tensor), nnrt_draft_readers(&plain, tensor));
        assert_int_equal(nnrt_draft_writer(d, tensor), nnrt_draft_writer(&plain, tensor));
    }
}

static void test_uses(void **state)
{
    static bench b;
    nnrt_draft_use use;
    (void)state;
    bench_begin(&b, false);
    assert_true(nnrt_draft_changed(b.draft, 0, 0)); /* no lists: nothing to tell */
    assert_true(nnrt_draft_index(b.draft));
    check_uses(b.draft);
    assert_int_equal(nnrt_draft_reader(b.draft, T), 1);
    assert_int_equal(nnrt_draft_reader(b.draft, V), UINT32_MAX); /* an output of the model */
    assert_int_equal(nnrt_draft_readers(b.draft, V), 1);
    assert_false(nnrt_draft_changed(b.draft, 3, 0)); /* no such step */
    b.draft->steps[1].args[0].tensor = X;            /* in place */
    assert_true(nnrt_draft_changed(b.draft, 1, 0));
    check_uses(b.draft);
    assert_int_equal(nnrt_draft_reader(b.draft, X), UINT32_MAX); /* two */
    assert_int_equal(nnrt_draft_readers(b.draft, X), 2);
    assert_int_equal(nnrt_draft_readers(b.draft, T), 0);
    b.draft->steps[0].kernel = NULL; /* gone */
    check_uses(b.draft);
    assert_int_equal(nnrt_draft_reader(b.draft, X), 1);
    assert_int_equal(nnrt_draft_writer(b.draft, T), UINT32_MAX);
    use_scale(&b.draft->steps[0]); /* and back */
    assert_true(nnrt_draft_changed(b.draft, 0, NNRT_DRAFT_STEP));
    check_uses(b.draft);
    assert_int_equal(nnrt_draft_writer(b.draft, T), 0);
    assert_true(insert(b.draft, 1)); /* ends the lists */
    assert_null(b.draft->uses);
    assert_true(nnrt_draft_index(b.draft));
    check_uses(b.draft);
    assert_int_equal(nnrt_draft_writer(b.draft, V), 3);
    use = nnrt_draft_uses(b.draft, X);
    assert_true(nnrt_draft_next(b.draft, &use) && nnrt_draft_next(b.draft, &use) && !nnrt_draft_next(b.draft, &use));
    bench_end(&b);

    bench_begin(&b, false); /* without memory there are no lists, and the functions work all the same */
    b.t.cap = 1;
    while (nnrt_memory_temp(&b.memory, 1000) != NULL)
        ;
    assert_false(nnrt_draft_index(b.draft));
    assert_null(b.draft->uses);
    assert_int_equal(nnrt_draft_reader(b.draft, T), 1);
    bench_end(&b);
}

/* 400 edits of any kind, each reported to the draft: arguments in place, longer and shorter lists of arguments, derived
   constants, new tensors, steps that are removed and restored. */
static void test_uses_of_many_edits(void **state)
{
    static bench b;
    const int32_t dims[2] = {4, 4}, one[1] = {1};
    uint32_t seed = 7;
    (void)state;
    bench_begin(&b, false);
    for (uint32_t i = 0; i < 4; i++) {
        nnrt_plan_arg *args;
        assert_true(insert(b.draft, 1));
        args = nnrt_draft_args(b.draft, 1, 1, 1);
        assert_non_null(args);
        args[0] = args[1] = b.draft->steps[0].args[1];
        use_scale(&b.draft->steps[1]);
    }
    assert_true(nnrt_draft_index(b.draft));
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t numbers[4], s, count;
        nnrt_draft_step *step;
        for (uint32_t k = 0; k < 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            numbers[k] = seed >> 16;
        }
        s = numbers[0] % b.draft->nSteps;
        step = &b.draft->steps[s];
        count = step->nIn + step->nDerived + step->nOut;
        if (numbers[1] % 8 == 0) {
            nnrt_plan_arg *args = nnrt_draft_args(b.draft, s, 1 + numbers[2] % 4, 1 + numbers[3] % 2);
            assert_non_null(args);
            for (uint32_t k = 0; k < step->nIn + step->nOut; k++)
                args[k].tensor = (numbers[2] >> k) % b.draft->nTensors;
        } else if (numbers[1] % 8 == 1) {
            step->kernel = NULL;
        } else if (numbers[1] % 8 == 2) {
            use_scale(step);
            assert_true(nnrt_draft_changed(b.draft, s, NNRT_DRAFT_STEP));
        } else if (numbers[1] % 8 == 3 && b.draft->nTensors < 30) {
            (void)nnrt_draft_tensor(b.draft, F32, 2, dims);
        } else if (numbers[1] % 8 == 4 && step->nDerived < 2) {
            void *data;
            assert_int_equal(nnrt_draft_derive(b.draft, s, F32, 1, one, &data), NNRT_SUCCESS);
        } else {
            const uint32_t k = numbers[2] % count;
            if (k < step->nIn || k >= step->nIn + step->nDerived)
                step->args[k].tensor = numbers[3] % 9 == 0 ? NNRT_NO_TENSOR : numbers[3] % b.draft->nTensors;
            assert_true(nnrt_draft_changed(b.draft, s, k));
        }
        if (numbers[3] % 3 != 0) /* several edits between two questions, too */
            check_uses(b.draft);
    }
    bench_end(&b);
}

/* An edit that used the lists of readers and writers and changed something without updating them is refused; one that updated
   them is not. */
static void test_stale_uses(void **state)
{
    static bench b;
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        const bool lists = i % 3 != 0, told = i % 3 == 2;
        NNRT_ReturnCode code;
        bench_begin(&b, i >= 3);
        if (lists)
            assert_true(nnrt_draft_index(b.draft));
        b.draft->steps[1].args[0].tensor = X;
        if (told)
            assert_true(nnrt_draft_changed(b.draft, 1, 0));
        code = nnrt_plan_finish(b.draft, &b.plan);
        if (!lists || told) {
            assert_int_equal(code, NNRT_SUCCESS);
        } else {
            assert_int_equal(code, NNRT_DEVICE_ERROR);
            assert_null(b.plan);
            assert_non_null(strstr(b.error.message, "node 1 'relu': argument 0 of nnrt_activation_f32 is tensor 0"));
            assert_non_null(strstr(b.error.message, "nnrt_draft_changed"));
        }
        bench_end(&b);
    }
}

/* ---- plans that nnrt_plan_finish refuses ---- */

static void read_nobody(nnrt_draft *d)
{
    const int32_t dims[2] = {4, 4};
    d->steps[1].args[0].tensor = nnrt_draft_tensor(d, F32, 2, dims);
}

static void read_later(nnrt_draft *d)
{
    const nnrt_draft_step first = d->steps[0];
    d->steps[0] = d->steps[1];
    d->steps[1] = first;
}

static void read_gone(nnrt_draft *d)
{
    d->steps[0].kernel = NULL;
}

static void read_own(nnrt_draft *d)
{
    d->steps[1].args[0].tensor = U;
}

static void read_beyond(nnrt_draft *d)
{
    d->steps[1].args[0].tensor = 1000000;
}

static void write_beyond(nnrt_draft *d)
{
    d->steps[1].args[1].tensor = 5;
}

static void write_twice(nnrt_draft *d)
{
    d->steps[1].args[1].tensor = T;
}

static void write_input(nnrt_draft *d)
{
    d->steps[0].args[1].tensor = X;
}

static void write_constant(nnrt_draft *d)
{
    d->steps[0].args[1] = d->steps[2].args[1];
}

static void write_no_output(nnrt_draft *d)
{
    d->steps[2].kernel = NULL;
}

static void too_short(nnrt_draft *d)
{
    d->bytes[T] = 63;
}

static void too_wide(nnrt_draft *d)
{
    d->steps[1].args[0].view.strides[0] = 5;
}

static void backwards(nnrt_draft *d)
{
    d->steps[1].args[0].view.strides[0] = -4;
}

static void begin_beyond(nnrt_draft *d)
{
    d->steps[1].args[0].offset = 65;
}

static void end_beyond(nnrt_draft *d)
{
    d->steps[1].args[0].offset = 4;
}

static void begin_in_input(nnrt_draft *d)
{
    d->steps[0].args[0].offset = 32;
    d->steps[0].args[0].view.dims[0] = 2;
}

static void write_half(nnrt_draft *d)
{
    d->steps[1].args[1].offset = 32;
    d->steps[1].args[1].view.dims[0] = 2;
}

static void longer_output(nnrt_draft *d)
{
    d->bytes[V] = 128;
}

static void longer_input(nnrt_draft *d)
{
    d->bytes[X] = 128;
}

static void test_bad_edits(void **state)
{
    static const struct {
        void (*edit)(nnrt_draft *d);
        const char *says;
    } edits[] = {
        {read_nobody,
         "node 1 'relu': argument 0 of nnrt_activation_f32 is tensor 5, which no step in front of it writes"},
        {read_later,
         "node 1 'relu': argument 0 of nnrt_activation_f32 is tensor 2, which no step in front of it writes"},
        {read_gone, "which no step in front of it writes"},
        {read_own, "tensor 3, which no step in front of it writes"},
        {read_beyond, "argument 0 of nnrt_activation_f32 is tensor 1000000, which does not exist"},
        {write_beyond, "argument 1 of nnrt_activation_f32 is tensor 5, which does not exist"},
        {write_twice, "argument 1 of nnrt_activation_f32 is tensor 2, which has a value already"},
        {write_input, "argument 1 of nnrt_activation_f32 is tensor 0, which has a value already"},
        {write_constant, "tensor 1, which has a value already"},
        {write_no_output, "no step writes model output 0 'v'"},
        {too_short, "tensor 2, whose bytes end before its view does"},
        {too_wide, "tensor 2, whose bytes end before its view does"},
        {backwards, "tensor 2, whose bytes end before its view does"},
        {begin_beyond, "tensor 2, whose bytes end before its view does"},
        {end_beyond, "tensor 2, whose bytes end before its view does"},
        {begin_in_input,
         "tensor 0 'x' is an input of the model, or has a value, and an argument begins inside it"},
        {write_half, "argument 1 of nnrt_activation_f32 is tensor 3, of which the parts that are written are not the "
                     "whole"},
        {longer_output, "tensor 4 'v' is an input or output of the model, which has 64 bytes and not 128"},
        {longer_input, "tensor 0 'x' is an input or output of the model, which has 64 bytes and not 128"},
    };
    static bench b;
    (void)state;
    for (uint32_t i = 0; i < COUNT(edits); i++) {
        bench_begin(&b, i % 2 != 0); /* counting sees it, too */
        edits[i].edit(b.draft);
        assert_int_equal(nnrt_plan_finish(b.draft, &b.plan), NNRT_DEVICE_ERROR);
        assert_null(b.plan);
        assert_int_equal(b.error.code, NNRT_DEVICE_ERROR);
        if (strstr(b.error.message, edits[i].says) == NULL)
            fail_msg("edit %u: \"%s\", expected \"%s\"", (unsigned)i, b.error.message, edits[i].says);
        bench_end(&b);
    }
}

static NNRT_ReturnCode refuse(void *user, nnrt_draft *draft)
{
    ++*(uint32_t *)user;
    return nnrt_error_set(draft->config->error, NNRT_UNSUPPORTED_OP, "not today");
}

/* The code of an edit is returned, and all memory is freed. */
static void test_edit_refuses(void **state)
{
    static bench b;
    NNRT_PreparedModel *p = NULL;
    uint32_t calls = 0;
    size_t bytes = 1;
    (void)state;
    bench_begin(&b, false);
    assert_int_equal(nnrt_plan_prepare(&b.g.model, &b.config, refuse, &calls, NULL, &p), NNRT_UNSUPPORTED_OP);
    assert_null(p);
    assert_string_equal(b.error.message, "not today");
    assert_int_equal(nnrt_plan_memory(&b.g.model, &b.config, refuse, &calls, &bytes), NNRT_UNSUPPORTED_OP);
    assert_int_equal(bytes, 0);
    assert_int_equal(calls, 2);
    bench_end(&b);
}

/* ---- layouts of a device's own ---- */

/* t with 8 elements from row to row: ABS becomes a kernel that writes it so. RESHAPE reads it: it must not be taken for
   another shape of the same bytes. */
static void test_holes(void **state)
{
    static bench b;
    (void)state;
    bench_begin(&b, false);
    b.draft->bytes[U] = 128;
    use_scale(&b.draft->steps[1]);
    b.draft->steps[1].args[1].view.strides[0] = 8;
    b.draft->steps[2].args[0].view.strides[0] = 8;
    bench_run(&b, distance);
    assert_int_equal(b.plan->nSteps, 3);
    bench_end(&b);
}

/* t column by column: as many bytes, but RELU must not write its rows over columns that it has yet to read. */
static void test_columns(void **state)
{
    static bench b;
    (void)state;
    bench_begin(&b, false);
    use_scale(&b.draft->steps[0]);
    b.draft->steps[0].args[1].view.strides[0] = b.draft->steps[1].args[0].view.strides[0] = 1;
    b.draft->steps[0].args[1].view.strides[1] = b.draft->steps[1].args[0].view.strides[1] = 4;
    b.draft->steps[1].attr = &absolute;
    b.draft->steps[2].flags = 0; /* RESHAPE copies: u, which it reads, is in the arena with t */
    bench_run(&b, distance);
    assert_true(b.plan->args[b.plan->steps[1].arg].offset != b.plan->args[b.plan->steps[1].arg + 1].offset);
    bench_end(&b);

    bench_begin(&b, false); /* where both are columns it may */
    use_scale(&b.draft->steps[0]);
    b.draft->steps[0].args[1].view.strides[0] = b.draft->steps[1].args[0].view.strides[0] = 1;
    b.draft->steps[0].args[1].view.strides[1] = b.draft->steps[1].args[0].view.strides[1] = 4;
    b.draft->steps[1].args[1].view.strides[0] = b.draft->steps[2].args[0].view.strides[0] = 1;
    b.draft->steps[1].args[1].view.strides[1] = b.draft->steps[2].args[0].view.strides[1] = 4;
    b.draft->steps[1].attr = &absolute;
    bench_run(&b, distance);
    assert_int_equal(b.plan->nSteps, 3); /* RESHAPE gathers the columns */
    assert_true(b.plan->args[b.plan->steps[1].arg].offset == b.plan->args[b.plan->steps[1].arg + 1].offset);
    bench_end(&b);
}

/* ---- parts ---- */

/* Step 1 on the first two rows of t and u, and one more after it on the other two; args of both are returned in order. */
static void halve(nnrt_draft *d, nnrt_plan_arg *args[2])
{
    const nnrt_plan_arg *old = d->steps[1].args;
    const nnrt_draft_step added = d->steps[1];
    const uint32_t at = 2;
    assert_true(nnrt_draft_insert(d, &added, &at, 1));
    for (uint32_t s = 0; s < 2; s++) {
        args[s] = nnrt_draft_args(d, 1 + s, 1, 1);
        assert_non_null(args[s]);
        for (uint32_t k = 0; k < 2; k++) {
            args[s][k] = old[k];
            args[s][k].view.dims[0] = 2;
            args[s][k].offset = s * 32;
        }
    }
}

/* Two steps write u, each half of it from half of t. u in another shape would be the output of the model, where its parts
   cannot be tracked: RESHAPE copies it. */
static void test_parts(void **state)
{
    static bench b;
    nnrt_plan_arg *args[2];
    const nnrt_plan_arg *first;
    (void)state;
    bench_begin(&b, false);
    halve(b.draft, args);
    assert_int_equal(nnrt_draft_writer(b.draft, U), UINT32_MAX);
    assert_int_equal(nnrt_draft_writer(b.draft, T), 0);
    bench_run(&b, distance);
    assert_int_equal(b.plan->nSteps, 4);
    first = &b.plan->args[b.plan->steps[1].arg];
    for (uint32_t k = 0; k < 2; k++) {
        assert_int_equal(first[k].kind, NNRT_PLACE_ARENA);
        assert_int_equal(b.plan->args[b.plan->steps[2].arg + k].offset, first[k].offset + 32);
    }
    assert_int_equal(b.plan->steps[3].nOut, 1);
    assert_int_equal(b.plan->args[b.plan->steps[3].arg].offset, first[1].offset);
    bench_end(&b);

    bench_begin(&b, false); /* the second half in place of the first one */
    halve(b.draft, args);
    args[1][1].offset = 0;
    assert_int_equal(nnrt_plan_finish(b.draft, &b.plan), NNRT_DEVICE_ERROR);
    bench_end(&b);

    bench_begin(&b, false); /* u is the output */
    halve(b.draft, args);
    b.draft->steps[3].kernel = NULL;
    args[0][1].tensor = args[1][1].tensor = V;
    bench_run(&b, distance);
    assert_int_equal(b.plan->nSteps, 3 + 1); /* and a copy into the caller's buffer */
    assert_int_equal(b.plan->steps[3].node, -1);
    bench_end(&b);
}

/* ---- NNRT_STEP_OVERLAP ---- */

/* y[i] = x[i / 2], from the last element on, so that y may begin where x does. */
static NNRT_ReturnCode double_kernel(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    (void)call;
    for (int32_t i = args[1].dims[0] - 1; i >= 0; i--)
        ((float *)args[1].data)[i] = ((const float *)args[0].data)[i / 2];
    return NNRT_SUCCESS;
}

/* Drafts the plan of b->g. */
static void draft_graph(bench *b)
{
    b->config.structSize = sizeof(b->config);
    b->config.error = &b->error;
    b->allocator = allocator_of(&b->t);
    b->config.allocator = &b->allocator;
    nnrt_memory_allocate(&b->memory, &b->allocator);
    assert_int_equal(nnrt_plan_draft(&b->g.model, &b->config, &b->memory, &b->draft), NNRT_SUCCESS);
}

/* t = |x|, u = double(t), v = |u|; more: w = |t| as well. The output is v, or u. */
static void overlap_begin(bench *b, bool more, const char *outputs)
{
    static const float zeros[16] = {0};
    nnrt_plan_arg t, u;
    memset(b, 0, sizeof(*b));
    graph_init(&b->g);
    tensor(&b->g, "x", F32, "16");
    constant(&b->g, "c", F32, "16", zeros, sizeof(zeros));
    result(&b->g, "t");
    result(&b->g, "u");
    result(&b->g, "v");
    result(&b->g, "w");
    ACTIVATION(&b->g, "abs", absolute, "0", "2");
    PLAIN(&b->g, "double", CONCAT, "2 1", "3");
    ACTIVATION(&b->g, "abs again", absolute, "3", "4");
    if (more)
        ACTIVATION(&b->g, "t again", absolute, "2", "5");
    graph_io(&b->g, "0", outputs);
    draft_graph(b);
    nnrt_draft_arg(b->draft, 2, &t);
    nnrt_draft_arg(b->draft, 3, &u);
    assert_non_null(nnrt_draft_args(b->draft, 1, 1, 1));
    b->draft->steps[1].args[0] = t;
    b->draft->steps[1].args[1] = u;
    b->draft->steps[1].kernel = double_kernel;
    b->draft->steps[1].kernelName = "double_kernel";
    b->draft->steps[1].flags = NNRT_STEP_OVERLAP;
    assert_int_equal(nnrt_plan_finish(b->draft, &b->plan), NNRT_SUCCESS);
}

/* The result takes over the storage of the input, which grows, if the input is dead afterwards; the values are right in any
   case. */
static void test_overlap(void **state)
{
    static const struct {
        bool more, shared;
        const char *outputs;
    } cases[] = {{false, true, "4"}, {true, false, "4 5"}, {false, true, "3"}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        static bench b;
        float x[16], v[32], w[16];
        void *const io[3] = {x, v, w};
        nnrt_view views[8];
        guarded arena;
        const nnrt_plan_arg *a;
        overlap_begin(&b, cases[k].more, cases[k].outputs);
        a = &b.plan->args[b.plan->steps[1].arg];
        assert_int_equal(a[0].kind, NNRT_PLACE_OUTPUT); /* every chain ends in a buffer of the caller */
        assert_int_equal(a[0].kind == a[1].kind && a[0].offset == a[1].offset, cases[k].shared);
        assert_int_equal(b.plan->arenaBytes, 0);
        for (uint32_t i = 0; i < 16; i++)
            x[i] = (float)i - 8;
        arena = guarded_make(b.plan->arenaBytes, 0);
        assert_int_equal(nnrt_plan_execute(b.plan, views, arena.data, io, NULL), NNRT_SUCCESS);
        guarded_end(&arena);
        for (uint32_t i = 0; i < 32; i++)
            assert_true(v[i] == distance(i / 2));
        for (uint32_t i = 0; i < 16 && cases[k].more; i++)
            assert_true(w[i] == distance(i));
        bench_end(&b);
    }
}

/* ---- NNRT_STEP_ACCUMULATE ---- */

/* y[i] = x[15 - i] + z[i] */
static NNRT_ReturnCode reverse_kernel(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    (void)call;
    for (int32_t i = 0; i < 16; i++)
        ((float *)args[2].data)[i] = ((const float *)args[0].data)[15 - i] + ((const float *)args[1].data)[i];
    return NNRT_SUCCESS;
}

/* t = |x|, u = |t|, v = reverse(t, u or t), w = |v|; later: also the output |u|. */
static void accumulate_begin(bench *b, const char *inputs, bool later)
{
    nnrt_plan_arg args[3];
    memset(b, 0, sizeof(*b));
    graph_init(&b->g);
    tensor(&b->g, "x", F32, "16");
    for (uint32_t i = 0; i < 5; i++) {
        static const char *const names[5] = {"t", "u", "v", "w", "more"};
        result(&b->g, names[i]);
    }
    ACTIVATION(&b->g, "t", absolute, "0", "1");
    ACTIVATION(&b->g, "u", absolute, "1", "2");
    PLAIN(&b->g, "v", MAXIMUM, inputs, "3");
    ACTIVATION(&b->g, "w", absolute, "3", "4");
    if (later)
        ACTIVATION(&b->g, "more", absolute, "2", "5");
    graph_io(&b->g, "0", later ? "4 5" : "4");
    draft_graph(b);
    for (uint32_t k = 0; k < 3; k++)
        args[k] = b->draft->steps[2].args[k];
    assert_non_null(nnrt_draft_args(b->draft, 2, 2, 1));
    memcpy(b->draft->steps[2].args, args, sizeof(args));
    b->draft->steps[2].kernel = reverse_kernel;
    b->draft->steps[2].kernelName = "reverse_kernel";
    b->draft->steps[2].flags = NNRT_STEP_ACCUMULATE;
    b->draft->steps[0].flags = b->draft->steps[1].flags = b->draft->steps[3].flags = 0; /* no other sharing */
    assert_int_equal(nnrt_plan_finish(b->draft, &b->plan), NNRT_SUCCESS);
}

/* The result takes over the storage of input 1 if that is dead afterwards and is not input 0 as well, never that of
   input 0. */
static void test_accumulate(void **state)
{
    static const struct {
        const char *inputs;
        bool later, shared;
    } cases[] = {{"1 2", false, true}, {"2 1", false, true}, {"1 2", true, false}, {"1 1", true, false}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        static bench b;
        float x[16], w[16], more[16];
        void *const io[3] = {x, w, more};
        nnrt_view views[8];
        guarded arena;
        const nnrt_plan_arg *a;
        accumulate_begin(&b, cases[k].inputs, cases[k].later);
        a = &b.plan->args[b.plan->steps[2].arg];
        assert_int_equal(a[2].kind, NNRT_PLACE_ARENA);
        assert_int_equal(a[1].kind == a[2].kind && a[1].offset == a[2].offset, cases[k].shared);
        assert_false(a[0].kind == a[2].kind && a[0].offset == a[2].offset);
        for (uint32_t i = 0; i < 16; i++)
            x[i] = (float)i - 8;
        arena = guarded_make(b.plan->arenaBytes, 0);
        assert_int_equal(nnrt_plan_execute(b.plan, views, arena.data, io, NULL), NNRT_SUCCESS);
        guarded_end(&arena);
        for (uint32_t i = 0; i < 16; i++)
            assert_true(w[i] == distance(15 - i) + distance(i));
        bench_end(&b);
    }
}

/* ---- scratch ---- */

static void test_scratch(void **state)
{
    static bench b;
    const nnrt_parallel three = {pool_run, NULL, 3};
    (void)state;
    bench_begin(&b, false);
    use_scale(&b.draft->steps[1]);
    bench_run(&b, distance);
    assert_true(seen.scratch == NULL && seen.scratchBytes == 0 && seen.parallel == NULL);
    bench_end(&b);

    bench_begin(&b, false);
    b.config.parallel = &three; /* known to whoever drafts now; the test's kernel uses no threads */
    b.draft->workers = 3;
    use_scale(&b.draft->steps[1]);
    b.draft->steps[1].scratchBytes = 100;
    bench_run(&b, distance);
    assert_true(seen.scratch != NULL && (uintptr_t)seen.scratch % NNRT_ALIGNMENT == 0 && seen.parallel == &three);
    assert_int_equal(seen.scratchBytes, (100 + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT);
    assert_true(b.plan->arenaBytes >= 3 * seen.scratchBytes + 64);
    bench_end(&b);

    bench_begin(&b, false);
    b.draft->workers = 3;
    b.draft->steps[1].scratchBytes = SIZE_MAX / 2;
    assert_int_equal(nnrt_plan_finish(b.draft, &b.plan), NNRT_OUT_OF_MEMORY);
    assert_non_null(strstr(b.error.message, "scratch"));
    bench_end(&b);
}

/* ---- memory regions ---- */

/* Finishes the bench with regions of these bytes: t has 1,024 bytes, the scratch of the step that reads it 128. */
static NNRT_ReturnCode finish_regions(bench *b, const nnrt_region *regions, uint32_t count)
{
    bench_begin(b, false);
    use_scale(&b->draft->steps[1]);
    b->draft->steps[1].scratchBytes = 100;
    b->draft->bytes[2] = 1024;
    b->config.regions = regions;
    b->config.nRegions = count;
    return nnrt_plan_finish(b->draft, &b->plan);
}

static void test_regions(void **state)
{
    static bench b;
    static const size_t large = 1024 + 2 * NNRT_ALIGNMENT; /* t and scratch */
    nnrt_region regions[NNRT_MAX_REGIONS + 1] = {{"fast", 1151}, {"slow", 1024}};
    const NNRT_IOTensor none = {0};
    const nnrt_plan_arg *t;
    (void)state;
    assert_int_equal(NNRT_ALIGNMENT, 64);
    for (uint32_t one = 1; one <= 2; one++) { /* all is in the first one, as in one arena */
        regions[0].bytes = large;
        assert_int_equal(finish_regions(&b, regions, one), NNRT_SUCCESS);
        assert_true(b.plan->nRegions == 1 && b.plan->arenaBytes == large && b.plan->regionBytes[0] == large);
        assert_true(one == 1 || b.plan->regionBytes[1] == 0);
        bench_end(&b);
    }
    regions[0].bytes = large - 1;
    assert_int_equal(finish_regions(&b, regions, 1), NNRT_OUT_OF_MEMORY);
    assert_string_equal(b.error.message,
                        "memory region 'fast' requires 1152 bytes and has 1151: raise it, or add another region");
    bench_end(&b);
    regions[0].bytes = 1000; /* the scratch after the address of slow, and the tensor in slow, to the byte */
    assert_int_equal(finish_regions(&b, regions, 2), NNRT_SUCCESS);
    t = &b.plan->args[b.plan->steps[1].arg];
    assert_true(b.plan->nRegions == 2 && b.plan->regionBytes[0] == 192 && b.plan->regionBytes[1] == 1024);
    assert_true(b.plan->arenaBytes == 192 && b.plan->steps[1].scratch == 64);
    assert_true(t->kind == NNRT_PLACE_ARENA && t->offset == NNRT_REGION(1));
    assert_int_equal(nnrt_plan_run(b.plan, NULL, 0, &none, 1, &none, 1, NULL, &b.error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(b.error.message, "2 memory regions"));
    {
        static uint64_t arena[1024]; /* it begins with no address of a region: a run would write through NULL */
        static float values[4096];
        static nnrt_view views[8];
        void *const io[2] = {values, values};
        assert_true(b.plan->maxArgs <= 8 && b.plan->nInputs + b.plan->nOutputs <= 2);
        nnrt_error_clear(&b.error);
        assert_int_equal(nnrt_plan_execute(b.plan, views, arena, io, &b.error), NNRT_NOT_SUPPORT);
        assert_string_equal(b.error.message, "the plan has 2 memory regions: compile with NNRT_REGIONS");
        assert_int_equal(nnrt_plan_execute(b.plan, views, arena, io, NULL), NNRT_NOT_SUPPORT);
    }
    bench_end(&b);
    regions[1].bytes = 1023;
    assert_int_equal(finish_regions(&b, regions, 2), NNRT_OUT_OF_MEMORY);
    assert_string_equal(b.error.message,
                        "memory region 'slow' requires 1024 bytes and has 1023: raise it, or a faster region");
    bench_end(&b);
    regions[0].bytes = 63;
    assert_int_equal(finish_regions(&b, regions, 2), NNRT_OUT_OF_MEMORY);
    assert_non_null(strstr(b.error.message, "'fast' requires 64 bytes and has 63"));
    bench_end(&b);
    regions[1].bytes = NNRT_REGION(1); /* invalid lists of regions */
    assert_int_equal(finish_regions(&b, regions, 2), NNRT_INVALID_PARAMETER);
    bench_end(&b);
    regions[1].bytes = 0;
    assert_int_equal(finish_regions(&b, regions, NNRT_MAX_REGIONS + 1), NNRT_INVALID_PARAMETER);
    bench_end(&b);
    assert_int_equal(finish_regions(&b, NULL, 1), NNRT_INVALID_PARAMETER);
    bench_end(&b);
}

/* Regions require fixed shapes. */
static void test_regions_of_dynamic_shapes(void **state)
{
    static bench b;
    nnrt_dims dims[1] = {{2, {-1, 4}}};
    nnrt_bound most[1] = {{"x", {2, {8, 4}}}};
    const nnrt_region region = {"fast", 4096};
    (void)state;
    memset(&b, 0, sizeof(b));
    graph_init(&b.g);
    tensor(&b.g, "x", F32, "-1,4");
    result(&b.g, "y");
    ACTIVATION(&b.g, "relu", relu, "0", "1");
    graph_io(&b.g, "0", "1");
    b.config.error = &b.error;
    b.config.inputDims = nnrt_dims_list_make(dims, 1);
    b.config.bounds = nnrt_bound_list_make(most, 1);
    b.config.regions = &region;
    b.config.nRegions = 1;
    nnrt_memory_allocate(&b.memory, NULL);
    assert_int_equal(nnrt_plan_build(&b.g.model, &b.config, &b.memory, &b.plan), NNRT_NOT_SUPPORT);
    assert_string_equal(b.error.message, "memory regions require fixed shapes, the model has dynamic ones");
    nnrt_memory_end(&b.memory);
}

/* ---- the same plan every time ---- */

static NNRT_ReturnCode edit_bench(nnrt_draft *d)
{
    const int32_t one[1] = {1};
    void *data;
    const NNRT_ReturnCode code = nnrt_draft_derive(d, 1, F32, 1, one, &data);
    use_scale(&d->steps[1]);
    if (data != NULL)
        *(float *)data = 1;
    return code;
}

static void test_same_plan(void **state)
{
    static bench b[3]; /* twice real, once counted */
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        bench_begin(&b[i], i == 2);
        assert_int_equal(edit_bench(b[i].draft), NNRT_SUCCESS);
        assert_int_equal(nnrt_plan_finish(b[i].draft, &b[i].plan), NNRT_SUCCESS);
    }
    for (uint32_t i = 1; i < 3; i++) {
        const nnrt_plan *p = b[0].plan, *q = b[i].plan;
        assert_int_equal(b[0].memory.peak, b[i].memory.peak);
        assert_true(p->nSteps == q->nSteps && p->nArgs == q->nArgs && p->arenaBytes == q->arenaBytes &&
                    p->arenaBound == q->arenaBound && p->derivedBytes == q->derivedBytes);
        for (uint32_t k = 0; k < p->nSteps; k++)
            assert_true(p->steps[k].kernel == q->steps[k].kernel && p->steps[k].arg == q->steps[k].arg);
        for (uint32_t k = 0; k < p->nArgs; k++)
            assert_true(p->args[k].kind == q->args[k].kind && p->args[k].offset == q->args[k].offset &&
                        p->args[k].tensor == q->args[k].tensor);
    }
    for (uint32_t i = 0; i < 3; i++)
        bench_end(&b[i]);
}

static int setup(void **state)
{
    (void)state;
    return example_device_register(NULL) == NNRT_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return nnrt_device_unregister("example") == NNRT_SUCCESS ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_writer_and_readers),
        cmocka_unit_test(test_args),
        cmocka_unit_test(test_derive),
        cmocka_unit_test(test_tensor_and_insert),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_uses_of_many_edits),
        cmocka_unit_test(test_stale_uses),
        cmocka_unit_test(test_bad_edits),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_edit_refuses),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_regions_of_dynamic_shapes),
        cmocka_unit_test(test_same_plan),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
