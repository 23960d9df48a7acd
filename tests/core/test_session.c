/* Sessions of nnrt.h: creating, running, memory to the byte, valid inputs of a run, sharing, threads, and other devices.
   Expected values are computed in this file, element by element. */
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

#include "nnrt.h"

extern bool heap_shut; /* the library's heap: tests/kit/nnrt.c */

#include "devices.h"
#include "kit.h"

/* ---- sample models: x is [4,4] float32, c is [4] ---- */

#define MAX_OUTPUTS 6

typedef struct sample {
    const char *name;
    void (*build)(graph *g);
    void (*compute)(const float *x, float out[MAX_OUTPUTS][48]);
    uint32_t nOut, elements[MAX_OUTPUTS];
    size_t arena; /* worked by hand: blocks of 64 bytes that live at once */
    uint32_t steps;
} sample;

static const float four[4] = {10, -20, 30, -40};
static const int32_t into_1_16[2] = {1, 16};
static const NNRT_Concat concat_0 = {0};
static const int64_t axis_0[1] = {0};
static const NNRT_Squeeze squeeze_0 = {{axis_0, 1}};

static float clamp0(float v)
{
    return v > 0 ? v : 0;
}

static float magnitude(float v)
{
    return v < 0 ? -v : v;
}

/* Element i of x [4,4] transposed. */
static float turned(const float *x, int32_t i)
{
    return x[i % 4 * 4 + i / 4];
}

static void graph_start(graph *g)
{
    graph_init(g);
    (void)tensor(g, "x", F32, "4,4");
    (void)constant(g, "c", F32, "4", four, 16);
    (void)constant(g, "perm", I32, "2", swap_axes, 8);
    (void)constant(g, "flat", I32, "2", into_1_16, 8);
}

/* y = T(relu(T(x) + c)): one block, in which sum and activation work */
static void build_chain(graph *g)
{
    graph_start(g);
    (void)result(g, "a");
    (void)result(g, "b");
    (void)result(g, "d");
    (void)result(g, "y");
    PLAIN(g, "turn back", TRANSPOSE, "6 2", "7");
    ACTIVATION(g, "act", relu, "5", "6");
    PLAIN(g, "turn", TRANSPOSE, "0 2", "4");
    ADD(g, "sum", "4 1", "5");
    graph_io(g, "0", "7");
}

static void compute_chain(const float *x, float out[MAX_OUTPUTS][48])
{
    float b[16];
    for (int32_t i = 0; i < 16; i++)
        b[i] = clamp0(turned(x, i) + four[i % 4]);
    for (int32_t i = 0; i < 16; i++)
        out[0][i] = turned(b, i);
}

/* a = T(x), y = T(a + relu(a)): two blocks, the sum in place of a */
static void build_residual(graph *g)
{
    graph_start(g);
    (void)result(g, "a");
    (void)result(g, "b");
    (void)result(g, "s");
    (void)result(g, "y");
    PLAIN(g, "turn", TRANSPOSE, "0 2", "4");
    ACTIVATION(g, "act", relu, "4", "5");
    ADD(g, "residual", "4 5", "6");
    PLAIN(g, "turn back", TRANSPOSE, "6 2", "7");
    graph_io(g, "0", "7");
}

static void compute_residual(const float *x, float out[MAX_OUTPUTS][48])
{
    for (int32_t i = 0; i < 16; i++)
        out[0][i] = x[i] + clamp0(x[i]);
}

/* y = [T(x); relu(x); |x|]: three blocks, the rest is the output's */
static void build_branches(graph *g)
{
    graph_start(g);
    (void)result(g, "a");
    (void)result(g, "b");
    (void)result(g, "d");
    (void)tensor(g, "y", F32, "12,4");
    PLAIN(g, "turn", TRANSPOSE, "0 2", "4");
    ACTIVATION(g, "act", relu, "0", "5");
    ACTIVATION(g, "abs", absolute, "0", "6");
    node(g, "join", NNRT_NODE_TYPE_CONCAT, &concat_0, sizeof(concat_0), "4 5 6", "7");
    graph_io(g, "0", "7");
}

static void compute_branches(const float *x, float out[MAX_OUTPUTS][48])
{
    for (int32_t i = 0; i < 16; i++) {
        out[0][i] = turned(x, i);
        out[0][16 + i] = clamp0(x[i]);
        out[0][32 + i] = magnitude(x[i]);
    }
}

/* y = |relu(x + c) - c|: all of it in the output */
static void build_in_place(graph *g)
{
    graph_start(g);
    (void)result(g, "");
    (void)result(g, "");
    (void)result(g, "");
    (void)result(g, "y");
    ADD(g, "sum", "0 1", "4");
    ACTIVATION(g, "act", relu, "4", "5");
    node(g, "difference", NNRT_NODE_TYPE_SUB_FUSION, &plain_sub, sizeof(plain_sub), "5 1", "6");
    ACTIVATION(g, "abs", absolute, "6", "7");
    graph_io(g, "0", "7");
}

static void compute_in_place(const float *x, float out[MAX_OUTPUTS][48])
{
    for (int32_t i = 0; i < 16; i++)
        out[0][i] = magnitude(clamp0(x[i] + four[i % 4]) - four[i % 4]);
}

/* y = relu of x as [1,16], as [16]: one step */
static void build_alias(graph *g)
{
    graph_start(g);
    (void)result(g, "row");
    (void)result(g, "list");
    (void)result(g, "y");
    PLAIN(g, "reshape", RESHAPE, "0 3", "4");
    node(g, "squeeze", NNRT_NODE_TYPE_SQUEEZE, &squeeze_0, sizeof(squeeze_0), "4", "5");
    ACTIVATION(g, "act", relu, "5", "6");
    graph_io(g, "0", "6");
}

static void compute_alias(const float *x, float out[MAX_OUTPUTS][48])
{
    for (int32_t i = 0; i < 16; i++)
        out[0][i] = clamp0(x[i]);
}

/* Outputs: the input, a constant, y twice, an intermediate that is used later, and a reshape of it. */
static void build_outputs(graph *g)
{
    graph_start(g);
    (void)result(g, "a");
    (void)result(g, "row");
    (void)result(g, "y");
    PLAIN(g, "turn", TRANSPOSE, "0 2", "4");
    PLAIN(g, "reshape", RESHAPE, "4 3", "5");
    ACTIVATION(g, "act", relu, "4", "6");
    graph_io(g, "0", "0 1 6 6 4 5");
}

static void compute_outputs(const float *x, float out[MAX_OUTPUTS][48])
{
    memcpy(out[1], four, sizeof(four));
    for (int32_t i = 0; i < 16; i++) {
        out[0][i] = x[i];
        out[2][i] = out[3][i] = clamp0(turned(x, i));
        out[4][i] = out[5][i] = turned(x, i);
    }
}

static const sample samples[] = {
    {"chain", build_chain, compute_chain, 1, {16}, 64, 4},
    {"residual", build_residual, compute_residual, 1, {16}, 128, 4},
    {"branches", build_branches, compute_branches, 1, {48}, 192, 4},
    {"in place", build_in_place, compute_in_place, 1, {16}, 0, 4},
    {"alias", build_alias, compute_alias, 1, {16}, 0, 1},
    {"outputs", build_outputs, compute_outputs, MAX_OUTPUTS, {16, 4, 16, 16, 16, 16}, 0, 6},
};

/* Runs s with an input that depends on round; every buffer is between guards, aligned to its elements only, outputs hold NaN
   before. */
static void sample_run(const sample *s, nnrt_session *session, uint32_t round)
{
    guarded in = guarded_make(64, 4), out[MAX_OUTPUTS];
    nnrt_io inputs[1], outputs[MAX_OUTPUTS];
    float want[MAX_OUTPUTS][48], x[16];
    for (int32_t i = 0; i < 16; i++)
        x[i] = (float)((i * 7 + (int32_t)round * 5) % 23 - 11);
    memcpy(in.data, x, sizeof(x));
    inputs[0] = nnrt_io_make(in.data, in.bytes);
    for (uint32_t k = 0; k < s->nOut; k++) {
        out[k] = guarded_make(s->elements[k] * 4u, 4 * (k % 3));
        outputs[k] = nnrt_io_make(out[k].data, out[k].bytes);
    }
    if (nnrt_run(session, inputs, 1, outputs, s->nOut) != NNRT_SUCCESS)
        fail_msg("%s: %s", s->name, nnrt_session_error(session));
    assert_string_equal(nnrt_session_error(session), "");
    s->compute(x, want);
    for (uint32_t k = 0; k < s->nOut; k++) {
        const float *got = (const float *)(const void *)out[k].data;
        for (uint32_t i = 0; i < s->elements[k]; i++)
            if (!(got[i] == want[k][i]))
                fail_msg("%s, output %u, element %u: %g, expected %g", s->name, k, i, (double)got[i],
                         (double)want[k][i]);
        guarded_end(&out[k]);
    }
    assert_memory_equal(in.data, x, sizeof(x));
    guarded_end(&in);
}

static nnrt_session *session_of(const NNRT_Model *model, const nnrt_session_desc *desc)
{
    nnrt_session *session = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_session_create(&session, model, desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_non_null(session);
    return session;
}

static nnrt_session_desc no_desc(void)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    return desc;
}

/* ---- creating ---- */

static void test_defaults(void **state)
{
    static graph g;
    nnrt_session *session;
    nnrt_io_info info;
    (void)state;
    build_outputs(&g);
    session = session_of(&g.model, NULL);
    assert_string_equal(nnrt_session_device(session), nnrt_device_unique_name(nnrt_device_find("auto")));
    assert_int_equal(nnrt_session_inputs(session), 1);
    assert_int_equal(nnrt_session_outputs(session), 6);
    info = nnrt_session_input(session, 0);
    assert_string_equal(info.name, "x");
    assert_int_equal(info.dataType, F32);
    assert_int_equal(info.format, NNRT_FORMAT_NONE);
    assert_int_equal(info.shape.rank, 2);
    assert_int_equal(info.shape.dims[0], 4);
    assert_int_equal(info.shape.dims[1], 4);
    assert_int_equal(info.bytes, 64);
    info = nnrt_session_output(session, 1);
    assert_string_equal(info.name, "c");
    assert_int_equal(info.bytes, 16);
    info = nnrt_session_output(session, 5); /* inferred, not declared */
    assert_string_equal(info.name, "row");
    assert_int_equal(info.shape.dims[0], 1);
    assert_int_equal(info.shape.dims[1], 16);
    info = nnrt_session_input(session, 1);
    assert_null(info.name);
    assert_int_equal(info.bytes, 0);
    info = nnrt_session_output(session, 6);
    assert_int_equal(info.dataType, NNRT_DATA_TYPE_UNKNOWN);
    sample_run(&samples[5], session, 0);
    nnrt_session_destroy(session);
    nnrt_session_destroy(NULL);
    assert_int_equal(nnrt_session_inputs(NULL), 0);
    assert_int_equal(nnrt_session_outputs(NULL), 0);
    assert_int_equal(nnrt_session_get_memory(NULL).total, 0);
    assert_string_equal(nnrt_session_device(NULL), "");
    assert_string_equal(nnrt_session_error(NULL), "");
    assert_int_equal(nnrt_run(NULL, NULL, 0, NULL, 0), NNRT_NULL_PTR);
    assert_string_equal(nnrt_version(), "0.2.0");
}

static void test_samples(void **state)
{
    static graph g;
    static const char *const devices[3] = {NULL, "reference", "auto"};
    (void)state;
    for (uint32_t i = 0; i < COUNT(samples); i++)
        for (uint32_t d = 0; d < 3; d++) {
            nnrt_session_desc desc = no_desc();
            nnrt_session *session;
            desc.device = devices[d];
            samples[i].build(&g);
            session = session_of(&g.model, &desc);
            for (uint32_t round = 0; round < 4; round++)
                sample_run(&samples[i], session, round);
            assert_int_equal(nnrt_session_get_memory(session).arena, samples[i].arena);
            assert_int_equal(nnrt_session_get_memory(session).bound, samples[i].arena);
            assert_int_equal(nnrt_session_get_memory(session).steps, samples[i].steps);
            nnrt_session_destroy(session);
        }
}

/* The same values on the device that NNRT_TEST_DEVICE names, or on that of examples/device. */
static void test_samples_on_device(void **state)
{
    static graph g;
    const char *given = getenv("NNRT_TEST_DEVICE");
    const test_device *device = test_device_open(given != NULL && given[0] != '\0' ? given : "example");
    (void)state;
    assert_non_null(device);
    for (uint32_t i = 0; i < COUNT(samples); i++) {
        nnrt_session_desc desc = no_desc();
        nnrt_session *session;
        desc.device = device->name;
        samples[i].build(&g);
        session = session_of(&g.model, &desc);
        for (uint32_t round = 0; round < 4; round++)
            sample_run(&samples[i], session, round);
        nnrt_session_destroy(session);
    }
    assert_int_equal(nnrt_device_unregister(device->name),
                     device->add != NULL ? NNRT_SUCCESS : NNRT_OPERATION_FORBIDDEN);
}

/* All of the model const: y = relu(x * [2,-3] + [1,1]). */
static const float flash_factor[2] = {2, -3}, flash_offset[2] = {1, 1};
static const int32_t flash_dims[2] = {3, 2}, flash_row[1] = {2};
static const NNRT_MulFusion flash_mul = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
static const NNRT_AddFusion flash_add = {NNRT_ACTIVATION_TYPE_RELU};
static const uint32_t flash_in0[2] = {0, 1}, flash_in1[2] = {3, 2}, flash_out0[1] = {3}, flash_out1[1] = {4};
static const uint32_t flash_order[2] = {0, 1};
#define FLASH_DATA(array)                                                                                              \
    {                                                                                                                  \
        -1, sizeof(array), 0, sizeof(array), (void *)(uintptr_t)(array)                                                \
    }
#define FLASH_NONE                                                                                                     \
    {                                                                                                                  \
        -1, 0, 0, 0, NULL                                                                                              \
    }
static const NNRT_Tensor flash_tensors[5] = {
    {"x", NNRT_DATA_TYPE_FLOAT32, {flash_dims, 2}, NNRT_FORMAT_NONE, FLASH_NONE, {NULL, 0}, 0, {NULL, 0}},
    {"factor",
     NNRT_DATA_TYPE_FLOAT32,
     {flash_row, 1},
     NNRT_FORMAT_NONE,
     FLASH_DATA(flash_factor),
     {NULL, 0},
     0,
     {NULL, 0}},
    {"offset",
     NNRT_DATA_TYPE_FLOAT32,
     {flash_row, 1},
     NNRT_FORMAT_NONE,
     FLASH_DATA(flash_offset),
     {NULL, 0},
     0,
     {NULL, 0}},
    {"product", NNRT_DATA_TYPE_FLOAT32, {flash_dims, 2}, NNRT_FORMAT_NONE, FLASH_NONE, {NULL, 0}, 0, {NULL, 0}},
    {"y", NNRT_DATA_TYPE_FLOAT32, {flash_dims, 2}, NNRT_FORMAT_NONE, FLASH_NONE, {NULL, 0}, 0, {NULL, 0}}};
static const NNRT_Node flash_nodes[2] = {{"mul",
                                          NNRT_NODE_TYPE_MUL_FUSION,
                                          {&flash_mul, sizeof(flash_mul)},
                                          {flash_in0, 2},
                                          {flash_out0, 1},
                                          NNRT_QUANT_TYPE_NONE},
                                         {"add",
                                          NNRT_NODE_TYPE_ADD_FUSION,
                                          {&flash_add, sizeof(flash_add)},
                                          {flash_in1, 2},
                                          {flash_out1, 1},
                                          NNRT_QUANT_TYPE_NONE}};
static const NNRT_SubGraph flash_main[1] = {{"main", {flash_in0, 1}, {flash_out1, 1}, {flash_order, 2}}};
static const NNRT_Model flash_model = {"flash",          {flash_in0, 1},     {flash_out1, 1},
                                       {flash_nodes, 2}, {flash_tensors, 5}, {flash_main, 1}, NULL};

static const float flash_x[6] = {0, 0, 1, 2, -3, -4}, flash_y[6] = {1, 1, 3, 0, 0, 13};

/* The model in flash, the session in a static buffer, no allocation: as in firmware. The buffers are given by NNRT_IO. */
static void test_const_model_in_static_buffer(void **state)
{
    static uint64_t buffer[2048];
    nnrt_session_desc desc = no_desc();
    nnrt_session *session;
    float image[6], scores[6];
    size_t bytes = 0;
    (void)state;
    desc.buffer = (uint8_t *)buffer + (NNRT_ALIGNMENT - (uintptr_t)buffer % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    assert_int_equal(nnrt_session_bytes(&flash_model, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_true(bytes <= sizeof(buffer) - NNRT_ALIGNMENT);
    desc.bufferBytes = bytes;
    session = session_of(&flash_model, &desc);
    memcpy(image, flash_x, sizeof(image));
    memset(scores, 0, sizeof(scores));
    assert_int_equal(nnrt_run(session, NNRT_IO(image), NNRT_IO(scores)), NNRT_SUCCESS);
    for (int32_t i = 0; i < 6; i++)
        assert_true(scores[i] == flash_y[i]);
    assert_int_equal(nnrt_session_get_memory(session).constants, 16);
    nnrt_session_destroy(session);
}

/* ---- memory ---- */

static void expect_no_memory(const NNRT_Model *model, const nnrt_session_desc *desc)
{
    nnrt_session *session = (nnrt_session *)(uintptr_t)desc;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&session, model, desc, &e), NNRT_OUT_OF_MEMORY);
    assert_null(session);
    assert_int_equal(e.code, NNRT_OUT_OF_MEMORY);
    assert_non_null(strstr(e.message, "memory"));
    if (desc->buffer != NULL) {
        char both[96];
        size_t bytes;
        assert_int_equal(nnrt_session_bytes(model, desc, &bytes, NULL), NNRT_SUCCESS);
        (void)nnrt_text(both, sizeof(both), "the buffer has %z bytes, the session takes %z", desc->bufferBytes, bytes);
        assert_non_null(strstr(e.message, both));
    }
    assert_int_equal(nnrt_session_create(&session, model, desc, NULL), NNRT_OUT_OF_MEMORY);
}

/* N bytes as nnrt_session_bytes says suffice, N - 1 do not, and with more it works as well: for every sample, on either device,
   with constants in place and copied. Nothing is written outside the buffer, and nothing is allocated. */
static void test_bytes_are_exact(void **state)
{
    static const char *const devices[2] = {"reference", "auto"};
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < 4 * COUNT(samples); i++) {
        const sample *s = &samples[i / 4];
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        nnrt_session_desc desc = no_desc();
        size_t bytes = 0;
        memset(&t, 0, sizeof(t));
        s->build(&g);
        desc.device = devices[i & 1];
        desc.copyConstants = (i & 2) != 0;
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
        assert_true(bytes > s->arena);
        for (uint32_t k = 0; k < 7; k++) {
            static const int32_t more[7] = {0, 1, 64, 1000, -1, -64, -65};
            guarded buffer = guarded_make((size_t)((int64_t)bytes + more[k]), 0);
            nnrt_session_memory memory;
            nnrt_session *session;
            desc.buffer = buffer.data;
            desc.bufferBytes = buffer.bytes;
            desc.allocator = &a;
            if (more[k] < 0) {
                expect_no_memory(&g.model, &desc);
            } else {
                t.calls = 0;
                session = session_of(&g.model, &desc);
                assert_int_equal(t.live, 0);
                sample_run(s, session, k);
                sample_run(s, session, k + 1);
                memory = nnrt_session_get_memory(session);
                assert_int_equal(memory.arena, s->arena);
                assert_true(memory.total <= bytes); /* preparing may need more than the session keeps */
                assert_true(memory.tables + memory.arena <= memory.total);
                if (desc.device[0] == 'r')
                    assert_int_equal(t.calls, 0);
                nnrt_session_destroy(session);
            }
            guarded_end(&buffer);
        }
        for (uint32_t k = 0; k < bytes; k += 61) { /* any buffer that is too small is refused, down to none */
            guarded buffer = guarded_make(k, 0);
            desc.buffer = buffer.data;
            desc.bufferBytes = k;
            expect_no_memory(&g.model, &desc);
            guarded_end(&buffer);
        }
    }
}

/* The n-th allocation fails, for all n: nothing is lost, and the next try works. */
static void test_every_allocation_fails(void **state)
{
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(samples); i++) {
        const sample *s = &samples[i / 2];
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        nnrt_session_desc desc = no_desc();
        nnrt_session *session = NULL;
        int64_t n;
        memset(&t, 0, sizeof(t));
        s->build(&g);
        desc.allocator = &a;
        desc.copyConstants = i % 2 != 0;
        for (n = 1;; n++) {
            nnrt_error e;
            NNRT_ReturnCode code;
            memset(&e, 0, sizeof(e));
            t.calls = 0;
            t.failAt = n;
            code = nnrt_session_create(&session, &g.model, &desc, &e);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_null(session);
            assert_int_equal(e.code, NNRT_OUT_OF_MEMORY);
            assert_non_null(strstr(e.message, "memory"));
            assert_int_equal(t.live, 0);
            t.failAt = 0;
            session = session_of(&g.model, &desc);
            sample_run(s, session, (uint32_t)n);
            nnrt_session_destroy(session);
            assert_int_equal(t.live, 0);
        }
        assert_true(n > 10);
        t.calls = 0; /* a run allocates nothing */
        t.failAt = 0;
        for (uint32_t round = 0; round < 10; round++)
            sample_run(s, session, round);
        assert_int_equal(t.calls, 0);
        assert_true(nnrt_session_get_memory(session).tables + s->arena <= t.live);
        nnrt_session_destroy(session);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
        for (n = 1;; n++) {
            size_t bytes = 1;
            NNRT_ReturnCode code;
            t.calls = 0;
            t.failAt = n;
            code = nnrt_session_bytes(&g.model, &desc, &bytes, NULL);
            assert_int_equal(t.live, 0);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_int_equal(bytes, 0);
        }
    }
}

/* ---- errors in the creation of a session ---- */

static void expect_create_on(const NNRT_Model *model, const nnrt_session_desc *desc, NNRT_ReturnCode want,
                             const char *says)
{
    nnrt_session *session = (nnrt_session *)(uintptr_t)&want;
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    code = nnrt_session_create(&session, model, desc, &e);
    if (code != want || e.code != want || session != NULL || strstr(e.message, says) == NULL)
        fail_msg("%s, expected %s; \"%s\", expected \"%s\"", nnrt_code_name(code), nnrt_code_name(want), e.message,
                 says);
    assert_int_equal(nnrt_session_create(&session, model, desc, NULL), want);
    assert_null(session);
}

/* The same, and of nnrt_session_bytes too. */
static void expect_create(const NNRT_Model *model, const nnrt_session_desc *desc, NNRT_ReturnCode want,
                          const char *says)
{
    nnrt_error e;
    size_t bytes = 1;
    NNRT_ReturnCode code;
    expect_create_on(model, desc, want, says);
    if (desc != NULL && desc->buffer != NULL)
        return;
    memset(&e, 0, sizeof(e));
    code = nnrt_session_bytes(model, desc, &bytes, &e);
    assert_int_equal(code, want);
    assert_int_equal(bytes, 0);
    assert_non_null(strstr(e.message, says));
}

static void test_create_is_checked(void **state)
{
    static graph g;
    static uint64_t block[64];
    nnrt_session_desc desc = no_desc();
    nnrt_session *session;
    size_t bytes;
    (void)state;
    build_chain(&g);
    assert_int_equal(nnrt_session_create(NULL, &g.model, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_bytes(&g.model, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_bytes(&g.model, NULL, &bytes, NULL), NNRT_SUCCESS);
    expect_create(NULL, NULL, NNRT_NULL_PTR, "model");
    desc.device = "warp drive";
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "'warp drive'");
    desc.device = "";
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "''");
    desc.device = nnrt_device_unique_name(nnrt_device_find("reference"));
    session = session_of(&g.model, &desc);
    assert_string_equal(nnrt_session_device(session), desc.device);
    nnrt_session_destroy(session);
    for (uint32_t i = 0; i < 2; i++) {
        desc.device = i == 0 ? "reference" : "auto";
        desc.buffer = (uint8_t *)block + (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT) % NNRT_ALIGNMENT + 8;
        desc.bufferBytes = 256;
        expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "64");
        desc.buffer = NULL;
        g.model.nodes.count = 0;
        expect_create(&g.model, &desc, NNRT_INVALID_NODE, "nodes");
        build_chain(&g);
        g.inputs[0] = 99;
        expect_create(&g.model, &desc, NNRT_INVALID_INPUT, "99");
        build_chain(&g);
        g.outputs[0] = 99;
        expect_create(&g.model, &desc, NNRT_INVALID_OUTPUT, "99");
        build_chain(&g);
        g.model.inputIndex.count = 0x80000000u;
        expect_create(&g.model, &desc, NNRT_INVALID_INPUT, "inputIndex");
        build_chain(&g);
        g.nodes[3].nodeType = 4242;
        expect_create(&g.model, &desc, NNRT_UNSUPPORTED_OP, "node 3 'sum': there is no operator with number 4242");
        build_chain(&g);
        g.dims[0][0] = -1;
        expect_create(&g.model, &desc, NNRT_INVALID_SHAPE, "input 0 'x'");
        build_chain(&g);
        g.dims[0][0] = 2147483647;
        g.dims[0][1] = 2147483647;
        g.dims[0][2] = 4;
        g.tensors[0].dims.count = 3;
        expect_create(&g.model, &desc, NNRT_OUT_OF_MEMORY, "'x'");
        build_chain(&g);
    }
}

static void test_input_dims(void **state)
{
    static graph g;
    static const nnrt_dims rows[2] = {{2, {3, 4}}, {2, {3, 5}}};
    nnrt_session_desc desc = no_desc();
    nnrt_session *session;
    float x[12], y[12];
    (void)state;
    build_in_place(&g);
    g.dims[0][0] = -1;
    desc.inputDims = nnrt_dims_list_make(rows, 1);
    session = session_of(&g.model, &desc);
    assert_int_equal(nnrt_session_input(session, 0).shape.dims[0], 3);
    assert_int_equal(nnrt_session_input(session, 0).bytes, 48);
    assert_int_equal(nnrt_session_output(session, 0).bytes, 48);
    for (int32_t i = 0; i < 12; i++)
        x[i] = (float)(i * i);
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    for (int32_t i = 0; i < 12; i++)
        assert_true(y[i] == magnitude(clamp0(x[i] + four[i % 4]) - four[i % 4]));
    nnrt_session_destroy(session);
    desc.inputDims = nnrt_dims_list_make(rows + 1, 1);
    expect_create(&g.model, &desc, NNRT_INVALID_SHAPE, "input 0 'x'");
    desc.inputDims = nnrt_dims_list_make(rows, 2);
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "2 entries");
}

/* ---- errors in a run of a session ---- */

static void expect_run(nnrt_session *session, const nnrt_io *in, uint32_t nIn, const nnrt_io *out, uint32_t nOut,
                       NNRT_ReturnCode want, const char *says)
{
    NNRT_ReturnCode code = nnrt_run(session, in, nIn, out, nOut);
    if (code != want || strstr(nnrt_session_error(session), says) == NULL)
        fail_msg("%s, expected %s; \"%s\", expected \"%s\"", nnrt_code_name(code), nnrt_code_name(want),
                 nnrt_session_error(session), says);
    sample_run(&samples[0], session, 3); /* it still works, and the message is cleared */
}

static void test_run_is_checked(void **state)
{
    static graph g;
    static float in[18], out[18];
    nnrt_io x[2], y[2];
    nnrt_session *session;
    (void)state;
    build_chain(&g);
    session = session_of(&g.model, NULL);
    x[0] = x[1] = nnrt_io_make(in, 64);
    y[0] = y[1] = nnrt_io_make(out, 64);
    expect_run(session, x, 0, y, 1, NNRT_INVALID_INPUT, "got 0 inputs, the model has 1");
    expect_run(session, x, 2, y, 1, NNRT_INVALID_INPUT, "got 2 inputs, the model has 1");
    expect_run(session, x, 1, y, 0, NNRT_INVALID_OUTPUT, "got 0 outputs, the model has 1");
    expect_run(session, x, 1, y, 2, NNRT_INVALID_OUTPUT, "got 2 outputs, the model has 1");
    expect_run(session, NULL, 1, y, 1, NNRT_NULL_PTR, "input");
    expect_run(session, x, 1, NULL, 1, NNRT_NULL_PTR, "output");
    x[0].data = NULL;
    expect_run(session, x, 1, y, 1, NNRT_NULL_PTR, "input 0 'x' is NULL");
    x[0] = x[1];
    y[0].data = NULL;
    expect_run(session, x, 1, y, 1, NNRT_NULL_PTR, "output 0 'y' is NULL");
    y[0] = y[1];
    x[0].bytes = 63;
    expect_run(session, x, 1, y, 1, NNRT_INVALID_BUFFER_SIZE, "input 0 'x' has 63 bytes, expected 64");
    x[0].bytes = 68;
    expect_run(session, x, 1, y, 1, NNRT_INVALID_BUFFER_SIZE, "input 0 'x' has 68 bytes, expected 64");
    if (sizeof(size_t) > 4) {
        x[0].bytes = (size_t)((uint64_t)UINT32_MAX + 65); /* 64 when cut to 32 bits */
        expect_run(session, x, 1, y, 1, NNRT_INVALID_BUFFER_SIZE, "input 0 'x'");
    }
    x[0] = x[1];
    y[0].bytes = 60;
    expect_run(session, x, 1, y, 1, NNRT_INSUFFICIENT_BUFFER, "output 0 'y' has 60 bytes, expected 64");
    y[0].bytes = 0;
    expect_run(session, x, 1, y, 1, NNRT_INSUFFICIENT_BUFFER, "output 0 'y'");
    y[0] = y[1];
    x[0].data = (uint8_t *)in + 1;
    expect_run(session, x, 1, y, 1, NNRT_INVALID_BUFFER, "input 0 'x' is not aligned to the 4 bytes of a float32");
    x[0].data = (uint8_t *)in + 2;
    expect_run(session, x, 1, y, 1, NNRT_INVALID_BUFFER, "input 0 'x'");
    x[0] = x[1];
    y[0].data = (uint8_t *)out + 3;
    expect_run(session, x, 1, y, 1, NNRT_INVALID_BUFFER, "output 0 'y' is not aligned");
    y[0] = y[1];
    y[0].bytes = 72; /* a larger buffer is valid; the rest of it is unchanged */
    out[16] = 5;
    assert_int_equal(nnrt_run(session, x, 1, y, 1), NNRT_SUCCESS);
    assert_true(out[16] == 5);
    if (sizeof(size_t) > 4)
        y[0].bytes = (size_t)((uint64_t)UINT32_MAX + 65); /* so is an output that says it has more than 4 GiB */
    assert_int_equal(nnrt_run(session, x, 1, y, 1), NNRT_SUCCESS);
    nnrt_session_destroy(session);
}

/* Faults that only the data of a run show: node and operator are named, the session stays usable. */
static void test_data_faults(void **state)
{
    static const NNRT_DivFusion div = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    static const int32_t zero[1] = {0};
    static graph g;
    int32_t table[3] = {70, 80, 90}, index[2], divisor[2], y[2];
    nnrt_io in[3], out[1];
    nnrt_session *session;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "table", I32, "3");
    (void)tensor(&g, "index", I32, "2");
    (void)tensor(&g, "divisor", I32, "2");
    (void)constant(&g, "axis", I32, "", zero, 4);
    (void)result(&g, "picked");
    (void)result(&g, "y");
    node(&g, "share out", NNRT_NODE_TYPE_DIV_FUSION, &div, sizeof(div), "4 2", "5");
    PLAIN(&g, "look up", GATHER, "0 1 3", "4");
    graph_io(&g, "0 1 2", "5");
    session = session_of(&g.model, NULL);
    in[0] = nnrt_io_make(table, sizeof(table));
    in[1] = nnrt_io_make(index, sizeof(index));
    in[2] = nnrt_io_make(divisor, sizeof(divisor));
    out[0] = nnrt_io_make(y, sizeof(y));
    for (int32_t i = 0; i < 8; i++) {
        static const int32_t cases[8][4] = {{0, 1, 1, 1}, {3, 0, 1, 1}, {0, -4, 1, 1},         {2, -3, 7, 7},
                                            {0, 0, 0, 1}, {0, 0, 1, 0}, {2147483647, 0, 1, 1}, {1, 2, -8, -9}};
        NNRT_ReturnCode code;
        const char *who = i == 1 || i == 2 || i == 6 ? "node 1 'look up' (GATHER)"
                          : i == 4 || i == 5         ? "node 0 'share out' (DIV_FUSION)"
                                                     : NULL;
        index[0] = cases[i][0];
        index[1] = cases[i][1];
        divisor[0] = cases[i][2];
        divisor[1] = cases[i][3];
        code = nnrt_run(session, in, 3, out, 1);
        assert_int_equal(code, who != NULL ? NNRT_INVALID_PARAMETER : NNRT_SUCCESS);
        if (who != NULL) {
            if (strstr(nnrt_session_error(session), who) == NULL)
                fail_msg("\"%s\" does not name %s", nnrt_session_error(session), who);
            continue;
        }
        assert_string_equal(nnrt_session_error(session), "");
        for (int32_t k = 0; k < 2;
             k++) /* |table| and divisors keep their signs apart: -90 / -9 and 80 / -8 are exact */
            assert_int_equal(y[k], table[index[k] < 0 ? index[k] + 3 : index[k]] / divisor[k]);
    }
    nnrt_session_destroy(session);
}

/* ---- constants ---- */

static void test_constants_may_vanish(void **state)
{
    float *data = (float *)malloc(sizeof(four));
    graph *g = (graph *)malloc(sizeof(*g));
    char *name = (char *)malloc(2);
    nnrt_session_desc desc = no_desc();
    nnrt_session *session;
    (void)state;
    build_chain(g);
    memcpy(data, four, sizeof(four));
    g->tensors[1].data.addr = data;
    memcpy(name, "x", 2);
    g->tensors[0].name = name;
    desc.copyConstants = true;
    session = session_of(&g->model, &desc);
    sample_run(&samples[0], session, 0);
    memset(data, 0xFF, sizeof(four)); /* NaN */
    sample_run(&samples[0], session, 1);
    free(data);
    free(name);
    memset(g, 0xEE, sizeof(*g));
    free(g);
    sample_run(&samples[0], session, 2);
    assert_string_equal(nnrt_session_input(session, 0).name, "x");
    assert_int_equal(nnrt_run(session, NULL, 1, NULL, 1), NNRT_NULL_PTR);
    nnrt_session_destroy(session);
}

/* Without copying, the constants are read in place: a change is visible. */
static void test_constants_in_place(void **state)
{
    static graph g;
    static float data[4];
    nnrt_session *session;
    float x[16], y[16];
    (void)state;
    build_chain(&g);
    memcpy(data, four, sizeof(data));
    g.tensors[1].data.addr = data;
    session = session_of(&g.model, NULL);
    sample_run(&samples[0], session, 0);
    memset(x, 0, sizeof(x));
    for (int32_t i = 0; i < 4; i++)
        data[i] = (float)i + 1;
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    for (int32_t i = 0; i < 16; i++)
        assert_true(y[i] == data[i / 4]);
    nnrt_session_destroy(session);
}

/* ---- sharing a prepared model ---- */

/* Two and three sessions on one prepared model, destroyed in every order; the owner last, first, and between. */
/* A model is plain data: with another list of outputs it is run up to a tensor, and with other nodes and inputs from
   one on; nothing else of it is computed. */
static void test_part_of_a_model(void **state)
{
    static const float addend[4] = {1, -2, 3, -4}, x[4] = {1, -3, 5, 2};
    static const float summed[4] = {2, -5, 8, -2}, relued[4] = {2, 0, 8, 0}, ended[4] = {1, 3, 3, -2};
    static const uint32_t from[2] = {3, 0}, last[1] = {4};
    nnrt_session_memory part;
    NNRT_Model cut;
    graph g;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "4");
    (void)constant(&g, "c", F32, "4", addend, sizeof(addend));
    (void)tensor(&g, "sum", F32, "4");
    (void)tensor(&g, "relu", F32, "4");
    (void)tensor(&g, "y", F32, "4");
    ADD(&g, "add", "0 1", "2");
    ACTIVATION(&g, "cut", relu, "2", "3");
    SUB(&g, "sub", "3 0", "4");
    graph_io(&g, "0", "4");
    for (uint32_t end = 2; end < 5; end++) { /* up to each of the three results */
        const uint32_t output[1] = {end};
        const float *const wanted = end == 2 ? summed : end == 3 ? relued : ended;
        float y[4] = {0};
        nnrt_session *s;
        cut = g.model;
        cut.outputIndex.data = output;
        assert_int_equal(nnrt_session_create(&s, &cut, NULL, NULL), NNRT_SUCCESS);
        part = nnrt_session_get_memory(s);
        assert_int_equal(part.steps, end - 1);
        assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
        assert_memory_equal(y, wanted, sizeof(y));
        nnrt_session_destroy(s);
    }
    cut = g.model; /* from the second result on: one node */
    cut.nodes.data = &g.nodes[2];
    cut.nodes.count = 1;
    cut.inputIndex.data = from;
    cut.inputIndex.count = 2;
    cut.outputIndex.data = last;
    {
        float y[4] = {0};
        nnrt_io in[2], out = nnrt_io_make(y, sizeof(y));
        nnrt_session *s;
        in[0] = nnrt_io_make((void *)(uintptr_t)relued, sizeof(relued));
        in[1] = nnrt_io_make((void *)(uintptr_t)x, sizeof(x));
        assert_int_equal(nnrt_session_create(&s, &cut, NULL, NULL), NNRT_SUCCESS);
        part = nnrt_session_get_memory(s);
        assert_true(part.steps == 1 && part.arena == 0 && part.constants == 0);
        assert_int_equal(nnrt_run(s, in, 2, &out, 1), NNRT_SUCCESS);
        assert_memory_equal(y, ended, sizeof(y));
        nnrt_session_destroy(s);
    }
}

static void test_sharing(void **state)
{
    static const uint32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < COUNT(samples); i++)
        for (uint32_t k = 0; k < 6; k++) {
            const sample *s = &samples[i];
            tracker t;
            nnrt_allocator a = allocator_of(&t);
            nnrt_session_desc desc = no_desc();
            nnrt_session *sessions[3];
            size_t first, second;
            memset(&t, 0, sizeof(t));
            s->build(&g);
            desc.allocator = &a;
            sessions[0] = session_of(&g.model, &desc);
            first = t.live;
            desc.share = sessions[0];
            sessions[1] = session_of(&g.model, &desc);
            second = t.live - first;
            assert_true(second < first); /* only a head and a workspace */
            assert_true(second >= s->arena);
            desc.share = sessions[1]; /* of one that shares itself */
            sessions[2] = session_of(&g.model, &desc);
            assert_int_equal(nnrt_session_get_memory(sessions[2]).arena, s->arena);
            assert_int_equal(nnrt_session_get_memory(sessions[2]).steps, s->steps);
            assert_string_equal(nnrt_session_device(sessions[2]), nnrt_session_device(sessions[0]));
            for (uint32_t round = 0; round < 6; round++)
                sample_run(s, sessions[round % 3], round);
            for (uint32_t n = 0; n < 3; n++) {
                nnrt_session_destroy(sessions[orders[k][n]]);
                sessions[orders[k][n]] = NULL;
                for (uint32_t left = 0; left < 3; left++)
                    if (sessions[left] != NULL)
                        sample_run(s, sessions[left], n);
            }
            assert_int_equal(t.live, 0);
            assert_false(t.wrong);
        }
}

/* A sharing session in a buffer of its own is exact too; one that fails to be made leaves its owner alone. */
static void test_sharing_in_memory(void **state)
{
    static graph g;
    (void)state;
    for (uint32_t i = 0; i < COUNT(samples); i++) {
        const sample *s = &samples[i];
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        nnrt_session_desc desc = no_desc();
        nnrt_session *owner, *session;
        guarded buffer;
        size_t bytes = 0, own = 0, held;
        int64_t n;
        memset(&t, 0, sizeof(t));
        s->build(&g);
        desc.allocator = &a;
        owner = session_of(&g.model, &desc);
        held = t.live;
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &own, NULL), NNRT_SUCCESS);
        desc.share = owner;
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
        assert_true(bytes < own);
        buffer = guarded_make(bytes, 0);
        desc.buffer = buffer.data;
        desc.bufferBytes = bytes;
        t.calls = 0;
        session = session_of(&g.model, &desc);
        assert_int_equal(t.calls, 0);
        sample_run(s, session, i);
        sample_run(s, owner, i);
        assert_int_equal(nnrt_session_get_memory(session).total, bytes);
        nnrt_session_destroy(session);
        desc.bufferBytes = bytes - 1;
        expect_no_memory(&g.model, &desc);
        guarded_end(&buffer);
        desc.buffer = NULL;
        for (n = 1;; n++) {
            t.calls = 0;
            t.failAt = n;
            if (nnrt_session_create(&session, &g.model, &desc, NULL) == NNRT_SUCCESS)
                break;
            assert_null(session);
            assert_int_equal(t.live, held);
        }
        assert_true(n > 1);
        nnrt_session_destroy(owner);
        sample_run(s, session, i);
        nnrt_session_destroy(session);
        assert_int_equal(t.live, 0);
    }
}

/* Sharing requires the same model, device and shapes: otherwise it is refused, and the message names the difference. */
static void test_sharing_another_model(void **state)
{
    static const nnrt_dims rows[3] = {{2, {3, 4}}, {2, {5, 4}}, {1, {3, 4}}};
    static graph g, other;
    nnrt_session_desc desc = no_desc();
    nnrt_session *owner, *session;
    (void)state;
    build_chain(&g);
    build_outputs(&other); /* six outputs, not one */
    owner = session_of(&g.model, NULL);
    desc.share = owner;
    expect_create(&other.model, &desc, NNRT_INVALID_PARAMETER, "another model");
    build_chain(&other); /* the same, but not it */
    other.model.name = "twin";
    expect_create(&other.model, &desc, NNRT_INVALID_PARAMETER, "another model than 'twin'");
    build_outputs(&g); /* in the same place */
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "another model");
    build_chain(&g);
    g.tensors[0].name = "z";
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "another model");
    g.tensors[0].name = "x";
    desc.device = "reference";
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "'auto_nnrt_v2_0', not on 'reference'");
    desc.device = "auto";
    desc.maxTrips = 1;
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "maxTrips is that of that session, expected 0 but got 1");
    desc.maxTrips = 0;
    nnrt_session_destroy(session_of(&g.model, &desc));
    sample_run(&samples[0], owner, 1);
    nnrt_session_destroy(owner);
    build_in_place(&g);
    g.dims[0][0] = -1;
    desc = no_desc();
    desc.inputDims = nnrt_dims_list_make(rows, 1);
    owner = session_of(&g.model, &desc);
    desc.share = owner;
    session = session_of(&g.model, &desc);
    assert_int_equal(nnrt_session_input(session, 0).shape.dims[0], 3);
    nnrt_session_destroy(session);
    desc.inputDims = nnrt_dims_list_make(rows + 1, 1);
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "inputDims has other dimensions for input 0 'x'");
    desc.inputDims = nnrt_dims_list_make(rows + 2, 1);
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "inputDims has other dimensions for input 0 'x'");
    desc.inputDims = nnrt_dims_list_make(rows, 2);
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "2 entries");
    desc.inputDims = nnrt_dims_list_make(NULL, 1);
    expect_create(&g.model, &desc, NNRT_INVALID_PARAMETER, "0 entries");
    desc.inputDims.count = 0; /* the shapes of that session */
    session = session_of(&g.model, &desc);
    assert_int_equal(nnrt_session_input(session, 0).shape.dims[0], 3);
    assert_int_equal(nnrt_session_output(session, 0).bytes, 48);
    nnrt_session_destroy(owner);
    nnrt_session_destroy(session);
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 300

/* WebAssembly has threads only if it is compiled with them. */
static void needs_threads(void)
{
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
    skip();
#endif
}

typedef struct worker {
    pthread_t thread;
    nnrt_session *session;
    const sample *s;
    float in[16], out[MAX_OUTPUTS][48];
    int32_t wrong;
} worker;

/* No assertion here: cmocka's jump out of the test only on its own thread. */
static void *work(void *user)
{
    worker *w = (worker *)user;
    nnrt_io in[1], out[MAX_OUTPUTS];
    float want[MAX_OUTPUTS][48];
    in[0] = nnrt_io_make(w->in, sizeof(w->in));
    for (uint32_t k = 0; k < w->s->nOut; k++)
        out[k] = nnrt_io_make(w->out[k], w->s->elements[k] * 4u);
    for (int32_t round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < 16; i++)
            w->in[i] = (float)((i * 11 + round * 3 + (int32_t)(w->s - samples)) % 31 - 15);
        memset(w->out, 0xFF, sizeof(w->out));
        if (nnrt_run(w->session, in, 1, out, w->s->nOut) != NNRT_SUCCESS)
            w->wrong++;
        w->s->compute(w->in, want);
        for (uint32_t k = 0; k < w->s->nOut; k++)
            w->wrong += memcmp(w->out[k], want[k], w->s->elements[k] * 4u) != 0 ? 1 : 0;
    }
    return NULL;
}

static void test_threads(void **state)
{
    static graph g;
    static worker w[THREADS];
    (void)state;
    needs_threads();
    for (uint32_t i = 0; i < COUNT(samples); i++) {
        nnrt_session_desc desc = no_desc();
        memset(w, 0, sizeof(w));
        samples[i].build(&g);
        for (uint32_t k = 0; k < THREADS; k++) {
            desc.share = k == 0 ? NULL : w[0].session;
            w[k].session = session_of(&g.model, &desc);
            w[k].s = &samples[i];
        }
        for (uint32_t k = 0; k < THREADS; k++)
            assert_int_equal(pthread_create(&w[k].thread, NULL, work, &w[k]), 0);
        for (uint32_t k = 0; k < THREADS; k++)
            assert_int_equal(pthread_join(w[k].thread, NULL), 0);
        for (uint32_t k = 0; k < THREADS; k++) {
            assert_int_equal(w[k].wrong, 0);
            nnrt_session_destroy(w[k].session);
        }
    }
}

/* Sessions of one model that end on their own threads: the prepared model goes once, after the last. */
static void *work_and_destroy(void *user)
{
    worker *w = (worker *)user;
    nnrt_io in[1], out[MAX_OUTPUTS];
    in[0] = nnrt_io_make(w->in, sizeof(w->in));
    for (uint32_t k = 0; k < w->s->nOut; k++)
        out[k] = nnrt_io_make(w->out[k], w->s->elements[k] * 4u);
    if (nnrt_run(w->session, in, 1, out, w->s->nOut) != NNRT_SUCCESS)
        w->wrong++;
    nnrt_session_destroy(w->session);
    return NULL;
}

static void test_destroy_on_threads(void **state)
{
    static graph g;
    static worker w[THREADS];
    (void)state;
    needs_threads();
    build_chain(&g);
    for (uint32_t round = 0; round < 200; round++) {
        nnrt_session_desc desc = no_desc();
        memset(w, 0, sizeof(w));
        for (uint32_t k = 0; k < THREADS; k++) {
            desc.share = k == 0 ? NULL : w[0].session;
            w[k].session = session_of(&g.model, &desc);
            w[k].s = &samples[0];
        }
        for (uint32_t k = 0; k < THREADS; k++)
            assert_int_equal(pthread_create(&w[k].thread, NULL, work_and_destroy, &w[k]), 0);
        for (uint32_t k = 0; k < THREADS; k++) {
            assert_int_equal(pthread_join(w[k].thread, NULL), 0);
            assert_int_equal(w[k].wrong, 0);
        }
    }
}

/* ---- sessions on registered devices ---- */

/* A driver that adds 100 to x, whatever the model says. Its tables say how much of them there is. */
typedef struct driver {
    NNRT_DeviceVtbl table;
    NNRT_PreparedModelVtbl modelTable;
    NNRT_ReturnCode prepareCode, runCode, ioCode;
    nnrt_dims shapes[2]; /* that GetIO says, where a test offers it */
    bool notEnough;
    int32_t prepared, released, ranV1, ran;
    NNRT_PreparedModel *last;
} driver;

typedef struct driver_model {
    NNRT_PreparedModel base;
    driver *d;
} driver_model;

static driver *driver_of(NNRT_PreparedModel *m)
{
    return ((driver_model *)(void *)m)->d;
}

static NNRT_ReturnCode driver_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 7;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_name(void *self, const char **name)
{
    (void)self;
    *name = "npu";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_ACCELERATOR;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                      NNRT_PreparedModel **prepared)
{
    driver *d = (driver *)self;
    driver_model *m;
    (void)model;
    (void)config;
    if (d->prepareCode != NNRT_SUCCESS)
        return d->prepareCode;
    m = (driver_model *)malloc(sizeof(*m));
    m->base.vtbl = &d->modelTable;
    m->d = d;
    d->prepared++;
    d->last = *prepared = &m->base;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_run(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                  const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    driver_of(m)->ran++;
    (void)outputDims;
    if (driver_of(m)->runCode != NNRT_SUCCESS)
        return driver_of(m)->runCode;
    assert_int_equal(nIn, 1);
    assert_string_equal(inputs[0].name, "x");
    assert_int_equal(inputs[0].dimensions.count, 2);
    for (uint32_t i = 0; i < nOut; i++)
        for (uint32_t k = 0; k < outputs[i].data.dataSize / 4 && k < 16; k++)
            ((float *)outputs[i].data.addr)[k] = ((const float *)inputs[0].data.addr)[k] + 100;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode driver_run_v1(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                     const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims, bool *enough)
{
    driver *d = driver_of(m);
    d->ranV1++;
    enough[0] = !d->notEnough;
    return d->notEnough ? NNRT_SUCCESS : driver_run(m, inputs, nIn, outputs, nOut, outputDims);
}

static void driver_release(NNRT_PreparedModel *m)
{
    driver_of(m)->released++;
    free(m);
}

/* "npu" of "npu", an accelerator. Without Destroy its models would be lost: the slot is always there, unless a test
   shortens the table. */
static void driver_start(driver *d)
{
    nnrt_error e;
    memset(d, 0, sizeof(*d));
    d->table.structSize = sizeof(d->table);
    d->table.version = NNRT_HDI(2, 0);
    d->table.GetVersion = driver_version;
    d->table.GetDeviceName = driver_name;
    d->table.GetVendorName = driver_name;
    d->table.GetDeviceType = driver_type;
    d->table.PrepareModel = driver_prepare;
    d->modelTable.structSize = sizeof(d->modelTable);
    d->modelTable.version = NNRT_HDI(2, 0);
    d->modelTable.Run = driver_run;
    d->modelTable.RunV1 = driver_run_v1;
    d->modelTable.Destroy = driver_release;
    memset(&e, 0, sizeof(e));
    if (nnrt_device_register(&d->table, d, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
}

static void driver_session_run(nnrt_session *session)
{
    float x[16], y[16];
    for (int32_t i = 0; i < 16; i++)
        x[i] = (float)i;
    if (nnrt_run(session, NNRT_IO(x), NNRT_IO(y)) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(session));
    for (int32_t i = 0; i < 16; i++)
        assert_true(y[i] == (float)(i + 100));
}

/* By name and through auto, with and without a buffer: the session runs on the driver, which stays while it lives. */
static void test_driver_session(void **state)
{
    static const char *const names[3] = {"npu", "npu_npu_v1_7", NULL};
    static graph g;
    static driver d;
    (void)state;
    driver_start(&d);
    build_chain(&g);
    g.tensors[7] = g.tensors[0]; /* the driver does not tell shapes: y is declared */
    g.tensors[7].name = "y";
    for (uint32_t i = 0; i < 6; i++) {
        nnrt_session_desc desc = no_desc();
        nnrt_session *session;
        size_t bytes = 0;
        guarded buffer;
        desc.device = names[i % 3];
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
        buffer = guarded_make(bytes, 0);
        if (i >= 3) {
            desc.buffer = buffer.data;
            desc.bufferBytes = bytes;
        }
        session = session_of(&g.model, &desc);
        driver_session_run(session);
        driver_session_run(session);
        assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY);
        assert_int_equal(nnrt_session_get_memory(session).arena, 0); /* it does not tell */
        nnrt_session_destroy(session);
        assert_int_equal(d.released, d.prepared);
        guarded_end(&buffer);
    }
    assert_true(d.ran >= 12 && d.ranV1 == 0);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
}

/* Tables that end where HDI 1.0 ended. The model handle is the driver's to free; it has no slot for that. */
static void test_hdi_1_0_session(void **state)
{
    static const int32_t open_dims[2] = {-1, 4};
    static graph g;
    static driver d;
    nnrt_session_desc desc = no_desc();
    nnrt_session *session, *shared = NULL;
    nnrt_error e;
    float x[16], y[16];
    (void)state;
    driver_start(&d);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
    d.table.structSize = offsetof(NNRT_DeviceVtbl, PrepareOfflineModel);
    d.table.version = NNRT_HDI(1, 0);
    d.modelTable.structSize = offsetof(NNRT_PreparedModelVtbl, GetInputDimRanges);
    assert_int_equal(nnrt_device_register(&d.table, &d, NULL), NNRT_SUCCESS);
    build_chain(&g);
    desc.device = "npu";
    for (uint32_t i = 0; i < 3; i++) { /* the driver does not tell of y, nor the model: not at all, or in part */
        if (i > 0) {
            g.tensors[7] = g.tensors[0];
            g.tensors[7].name = "y";
        }
        if (i == 1)
            g.tensors[7].dims = NNRT_Int32List_make(open_dims, 2);
        if (i == 2)
            g.tensors[7].dataType = NNRT_DATA_TYPE_UNKNOWN;
        session = session_of(&g.model, &desc);
        assert_int_equal(nnrt_session_output(session, 0).dataType, F32);
        assert_int_equal(nnrt_session_output(session, 0).shape.rank, 2);
        assert_int_equal(nnrt_session_output(session, 0).shape.dims[0], 4);
        assert_int_equal(nnrt_session_output(session, 0).bytes, 64);
        driver_session_run(session);
        nnrt_session_destroy(session);
        free(d.last);
    }
    g.dims[1][0] = 2; /* c [2], which does not broadcast with [4,4]: an undeclared shape cannot be inferred either */
    g.tensors[1].data.bufferSize = g.tensors[1].data.dataSize = 8;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), NNRT_INVALID_SHAPE);
    assert_null(session);
    assert_non_null(strstr(e.message, "'sum' (ADD_FUSION)"));
    free(d.last);
    build_chain(&g);
    d.ranV1 = 0;
    g.tensors[7] = g.tensors[0];
    g.tensors[7].name = "y";
    session = session_of(&g.model, &desc);
    driver_session_run(session);
    assert_int_equal(d.ranV1, 1);
    d.notEnough = true;
    memset(x, 0, sizeof(x));
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_INSUFFICIENT_BUFFER);
    assert_non_null(strstr(nnrt_session_error(session), "output 0 'y'"));
    d.notEnough = false;
    driver_session_run(session);
    desc.share = session; /* it runs in one workspace only */
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&shared, &g.model, &desc, &e), NNRT_NOT_SUPPORT);
    assert_null(shared);
    assert_non_null(strstr(e.message, "npu_npu_v1_7"));
    driver_session_run(session);
    nnrt_session_destroy(session);
    free(d.last);
    assert_int_equal(d.prepared, 5);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
}

static NNRT_ReturnCode driver_io(NNRT_PreparedModel *m, bool output, uint32_t index, NNRT_DataType *type,
                                 nnrt_dims *shape)
{
    (void)index;
    *type = F32;
    *shape = driver_of(m)->shapes[output ? 1 : 0];
    return driver_of(m)->ioCode;
}

/* Shapes reported by a driver are validated before use. */
static void test_driver_shapes(void **state)
{
    static const nnrt_dims good = {2, {4, 4}},
                           bad[4] = {{9, {1, 1, 1, 1, 1, 1, 1, 1}}, {-1, {0}}, {2, {4, -1}}, {1000000, {0}}};
    static graph g;
    nnrt_session_desc desc = no_desc();
    nnrt_session *session;
    driver d;
    (void)state;
    driver_start(&d);
    d.modelTable.GetIO = driver_io;
    desc.device = "npu";
    build_chain(&g);
    for (uint32_t output = 0; output < 2; output++)
        for (uint32_t i = 0; i < COUNT(bad); i++) {
            d.shapes[0] = d.shapes[1] = good;
            session = session_of(&g.model, &desc);
            driver_session_run(session);
            nnrt_session_destroy(session);
            d.shapes[output] = bad[i];
            expect_create_on(&g.model, &desc, NNRT_INVALID_SHAPE, output == 0 ? "input 0 'x'" : "output 0 'y'");
        }
    d.shapes[0] = d.shapes[1] = good;
    d.ioCode = NNRT_TIME_OUT;
    expect_create_on(&g.model, &desc, NNRT_TIME_OUT, "input 0 'x'");
    assert_int_equal(d.released, d.prepared);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
}

/* A device that reports no shapes, of a model that declares none: they are inferred, in the session's buffer if it
   has one, and the bytes that this takes are counted. */
static void test_driver_shapes_inferred(void **state)
{
    static const char *const names[2] = {"npu", NULL};
    static const nnrt_dims rows[1] = {{2, {4, 4}}};
    static graph g;
    static driver d;
    (void)state;
    driver_start(&d);
    for (uint32_t i = 0; i < 4; i++) {
        nnrt_session_desc desc = no_desc();
        nnrt_session *session;
        guarded buffer;
        size_t bytes = 0;
        build_chain(&g);
        if (i >= 2) {
            g.dims[0][0] = -1;
            desc.inputDims = nnrt_dims_list_make(rows, 1);
        }
        desc.device = names[i % 2];
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
        buffer = guarded_make(bytes, 0);
        desc.buffer = buffer.data;
        desc.bufferBytes = bytes;
        heap_shut = true; /* the driver of this file has its own */
        session = NULL;
        if (nnrt_session_create(&session, &g.model, &desc, NULL) != NNRT_SUCCESS)
            session = NULL;
        heap_shut = false;
        assert_non_null(session);
        assert_int_equal(nnrt_session_input(session, 0).shape.dims[0], 4);
        driver_session_run(session);
        nnrt_session_destroy(session);
        desc.bufferBytes = bytes - 1;
        expect_no_memory(&g.model, &desc);
        guarded_end(&buffer);
    }
    assert_int_equal(d.released, d.prepared);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
}

/* With an allocator all memory comes from it, whatever the device: the library's heap is shut. Files are the system's. */
static void test_allocator_serves_all(void **state)
{
    static const float ones[4] = {1, 1, 1, 1};
    static const int32_t dims[2] = {4, 4}, row[1] = {4};
    static const uint32_t symbols[2] = {0, 0};
    const NNRT_QuantParam quant = {8, 0, 1};
    driver d;
    (void)state;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) /* it writes a .nnrt file */
        skip();
    driver_start(&d);
    for (uint32_t i = 0; i < 4; i++) {
        static const char *const names[4] = {"reference", "auto", "npu", "auto"};
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        nnrt_session_desc desc = no_desc();
        nnrt_save_desc saving;
        nnrt_load_desc loading;
        nnrt_session *session = NULL, *shared = NULL;
        nnrt_builder *b = NULL;
        NNRT_Model *model = NULL, *loaded = NULL;
        NNRT_ReturnCode codes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        uint32_t x[2], y;
        size_t bytes = 0, fileBytes = 0;
        static uint8_t file[4096];
        uint8_t *at = file + (NNRT_ALIGNMENT - (uintptr_t)file % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        float in[16], out[16];
        memset(&t, 0, sizeof(t));
        memset(in, 0, sizeof(in));
        memset(&saving, 0, sizeof(saving));
        memset(&loading, 0, sizeof(loading));
        saving.allocator = loading.allocator = desc.allocator = &a;
        desc.device = names[i];
        d.prepareCode = i == 3 ? NNRT_FAILED : NNRT_SUCCESS; /* then auto continues with the next device */
        heap_shut = true;                                    /* no assertion until it is open again */
        codes[0] = nnrt_builder_create(&b, "model", &a);
        x[0] = nnrt_builder_input(b, "x", F32, 2, dims);
        x[1] = nnrt_builder_constant(b, "one", F32, 1, row, ones, true);
        y = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, x, 2);
        nnrt_builder_quant(b, y, &quant, 1);
        nnrt_builder_quant_axis(b, y, 1);
        nnrt_builder_declare(b, y, F32, 2, dims);
        nnrt_builder_symbols(b, y, symbols, 2);
        nnrt_builder_output(b, nnrt_builder_op(b, "act", NNRT_NODE_TYPE_ACTIVATION, &absolute, &y, 1));
        codes[1] = nnrt_builder_finish(b, &model, NULL);
        nnrt_builder_destroy(b);
        codes[2] = nnrt_model_optimize(&model, NULL, NULL);
        codes[3] = nnrt_model_save_memory(model, &saving, at, sizeof(file) - NNRT_ALIGNMENT, &fileBytes, NULL);
        codes[4] = nnrt_model_load_memory(&loaded, at, fileBytes, &loading, NULL);
        codes[5] = nnrt_session_bytes(loaded, &desc, &bytes, NULL);
        codes[6] = nnrt_session_create(&session, loaded, &desc, NULL);
        if (codes[6] == NNRT_SUCCESS) {
            codes[7] = nnrt_run(session, NNRT_IO(in), NNRT_IO(out));
            desc.share = session;
            if (i != 2) /* it cannot */
                codes[7] = codes[7] == NNRT_SUCCESS ? nnrt_session_create(&shared, loaded, &desc, NULL) : codes[7];
        }
        nnrt_session_destroy(shared);
        nnrt_session_destroy(session);
        nnrt_model_destroy(loaded);
        nnrt_model_destroy(model);
        heap_shut = false;
        for (uint32_t k = 0; k < 8; k++)
            if (codes[k] != NNRT_SUCCESS && !(i == 1 && k == 7)) /* auto is on the driver then, which cannot share */
                fail_msg("%s, call %u: %s", names[i], k, nnrt_code_name(codes[k]));
        assert_true(t.calls > 20);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
    }
    assert_int_equal(d.released, d.prepared);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
}

/* Every code of the driver comes through nnrt_session_create and nnrt_run, with a message; auto has the next one run. */
static void test_driver_codes(void **state)
{
    static graph g;
    nnrt_session_desc desc = no_desc();
    driver d;
    (void)state;
    desc.device = "npu";
    driver_start(&d);
    build_chain(&g);
    g.tensors[7] = g.tensors[0];
    g.tensors[7].name = "y";
    for (int32_t code = -1; code <= 33; code++) {
        nnrt_session *session = NULL;
        nnrt_error e;
        char number[16];
        float x[16], y[16];
        if (code == 0)
            continue;
        snprintf(number, sizeof(number), "(%d)", (int)code);
        memset(x, 0, sizeof(x));
        memset(&e, 0, sizeof(e));
        d.prepareCode = code;
        session = session_of(&g.model, NULL);
        sample_run(&samples[0], session, 0);
        nnrt_session_destroy(session);
        assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), code);
        assert_null(session);
        assert_int_equal(e.code, code);
        assert_non_null(strstr(e.message, "npu_npu_v1_7"));
        assert_non_null(strstr(e.message, number));
        d.prepareCode = NNRT_SUCCESS;
        session = session_of(&g.model, NULL);
        d.runCode = code;
        assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), code);
        assert_non_null(strstr(nnrt_session_error(session), number));
        d.runCode = NNRT_SUCCESS;
        driver_session_run(session);
        assert_string_equal(nnrt_session_error(session), "");
        nnrt_session_destroy(session);
    }
    assert_int_equal(d.released, d.prepared);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_SUCCESS);
}

/* A test that failed may leave its driver registered; it is removed here unless a model uses it. */
static int reset_registry(void **state)
{
    (void)state;
    while (nnrt_device_count() > 2 &&
           nnrt_device_unregister(nnrt_device_name(nnrt_device_at(nnrt_device_count() - 1))) == NNRT_SUCCESS) {
    }
    return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, reset_registry)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_defaults),
        TEST(test_samples),
        TEST(test_samples_on_device),
        TEST(test_const_model_in_static_buffer),
        TEST(test_bytes_are_exact),
        TEST(test_every_allocation_fails),
        TEST(test_create_is_checked),
        TEST(test_input_dims),
        TEST(test_run_is_checked),
        TEST(test_data_faults),
        TEST(test_constants_may_vanish),
        TEST(test_constants_in_place),
        TEST(test_part_of_a_model),
        TEST(test_sharing),
        TEST(test_sharing_in_memory),
        TEST(test_sharing_another_model),
        TEST(test_threads),
        TEST(test_destroy_on_threads),
        TEST(test_driver_session),
        TEST(test_hdi_1_0_session),
        TEST(test_driver_shapes),
        TEST(test_driver_shapes_inferred),
        TEST(test_allocator_serves_all),
        TEST(test_driver_codes),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
