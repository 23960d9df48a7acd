/* nnrt_model_optimize: every model is run before and after, results are compared, and its nodes counted. A pass that
   only moves nodes gives bit-identical results; if constants are folded into weights, a result may differ by TOLERANCE
   * (1 + largest result): sums here have at most 36 terms of size 1, so that rounding the weights once more (2^-24
   each) stays below it. */
#include "inside.h"

#include "nnrt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trial.h"
#include "unchecked.h"

#define TOLERANCE 1e-5
#define MOST 4096 /* elements of a tensor here */
#define F32 NNRT_DATA_TYPE_FLOAT32
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- building ---- */

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static float random_float(void)
{
    return (float)random_below(2001) / 1000.0f - 1.0f;
}

static bool unchecked; /* the builder of now takes nodes as they are */

static nnrt_builder *begin(const nnrt_allocator *a)
{
    nnrt_builder *b = NULL;
    assert_int_equal(nnrt_builder_create(&b, "model", a), NNRT_SUCCESS);
    seed = 1;
    unchecked = false;
    return b;
}

/* A builder that takes nodes as they are. */
static nnrt_builder *begin_unchecked(void)
{
    nnrt_builder *b = begin(NULL);
    unchecked = true;
    return b;
}

static void add_node(nnrt_builder *b, const char *name, NNRT_NodeType type, const void *attr, const uint32_t *in,
                     uint32_t nIn, const uint32_t *out, uint32_t nOut)
{
    (unchecked ? unchecked_node : nnrt_builder_node)(b, name, type, attr, in, nIn, out, nOut);
}

static uint32_t add_op(nnrt_builder *b, const char *name, NNRT_NodeType type, const void *attr, const uint32_t *in,
                       uint32_t nIn)
{
    return (unchecked ? unchecked_op : nnrt_builder_op)(b, name, type, attr, in, nIn);
}

/* Up to four dimensions, 0 ends them. */
static uint32_t input(nnrt_builder *b, const char *name, int32_t d0, int32_t d1, int32_t d2, int32_t d3)
{
    const int32_t dims[] = {d0, d1, d2, d3};
    return nnrt_builder_input(b, name, F32, d0 == 0 ? 0 : d1 == 0 ? 1 : d2 == 0 ? 2 : d3 == 0 ? 3 : 4, dims);
}

/* Random numbers in -1..1, or between `least` and 1 when that is positive. */
static uint32_t numbers(nnrt_builder *b, float least, int32_t d0, int32_t d1, int32_t d2, int32_t d3)
{
    const int32_t dims[] = {d0, d1, d2, d3};
    int32_t rank = d0 == 0 ? 0 : d1 == 0 ? 1 : d2 == 0 ? 2 : d3 == 0 ? 3 : 4;
    float data[MOST];
    size_t count = 0;
    assert_true(nnrt_dims_count(dims, rank, &count) && count <= MOST);
    for (size_t i = 0; i < count; i++) {
        data[i] = random_float();
        if (least > 0)
            data[i] = least + (1 - least) * (data[i] + 1) / 2;
    }
    return nnrt_builder_constant(b, NULL, F32, rank, dims, data, true);
}

static uint32_t ints(nnrt_builder *b, int32_t count, int32_t v0, int32_t v1, int32_t v2, int32_t v3)
{
    const int32_t values[] = {v0, v1, v2, v3};
    return nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 1, &count, values, true);
}

static uint32_t op1(nnrt_builder *b, NNRT_NodeType type, uint32_t x)
{
    return add_op(b, NULL, type, NULL, &x, 1);
}

static uint32_t op2(nnrt_builder *b, NNRT_NodeType type, uint32_t x, uint32_t y)
{
    const uint32_t in[] = {x, y};
    return add_op(b, NULL, type, NULL, in, 2);
}

static uint32_t op3(nnrt_builder *b, NNRT_NodeType type, uint32_t x, uint32_t y, uint32_t z)
{
    const uint32_t in[] = {x, y, z};
    return add_op(b, NULL, type, NULL, in, 3);
}

static uint32_t activation(nnrt_builder *b, NNRT_ActivationType type, uint32_t x)
{
    NNRT_Activation a;
    memset(&a, 0, sizeof(a));
    a.activationType = type;
    a.alpha = 0.25f;
    a.minVal = -0.5f;
    a.maxVal = 0.5f;
    return add_op(b, NULL, NNRT_NODE_TYPE_ACTIVATION, &a, &x, 1);
}

/* x with 4 channels, result with 6; 3x3 windows, groups, with or without bias, activation. */
static uint32_t conv(nnrt_builder *b, uint32_t x, int32_t group, bool bias, NNRT_ActivationType type)
{
    static const int64_t one[] = {1, 1};
    uint32_t in[3] = {x, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_Conv2DFusion a;
    nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
    a.stride = a.dilation = nnrt_int64_list(one, 2);
    a.padMode = NNRT_PAD_MODE_SAME;
    a.group = group;
    a.activationType = type;
    in[1] = numbers(b, 0, 6, 3, 3, 4 / group);
    if (bias)
        in[2] = numbers(b, 0, 6, 0, 0, 0);
    return add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, bias ? 3 : 2);
}

static uint32_t deconv(nnrt_builder *b, uint32_t x, bool bias)
{
    static const int64_t two[] = {2, 2}, one[] = {1, 1};
    uint32_t in[3] = {x, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_Conv2dTransposeFusion a;
    nnrt_attr_defaults(nnrt_op_named("CONV2D_TRANSPOSE_FUSION")->attr, &a);
    a.stride = nnrt_int64_list(two, 2);
    a.dilation = nnrt_int64_list(one, 2);
    a.padMode = NNRT_PAD_MODE_VALID;
    in[1] = numbers(b, 0, 6, 2, 2, 4);
    if (bias)
        in[2] = numbers(b, 0, 6, 0, 0, 0);
    return add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a, in, bias ? 3 : 2);
}

/* x with rows of `columns`, result with rows of 6. */
static uint32_t full(nnrt_builder *b, uint32_t x, int32_t columns, bool bias)
{
    uint32_t in[3] = {x, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_FullConnection a;
    nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &a);
    a.hasBias = bias;
    in[1] = numbers(b, 0, 6, columns, 0, 0);
    if (bias)
        in[2] = numbers(b, 0, 6, 0, 0, 0);
    return add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, bias ? 3 : 2);
}

static uint32_t norm(nnrt_builder *b, uint32_t x)
{
    const uint32_t in[] = {x, numbers(b, 0, 6, 0, 0, 0), numbers(b, 0, 6, 0, 0, 0), numbers(b, 0, 6, 0, 0, 0),
                           numbers(b, 0.1f, 6, 0, 0, 0)};
    return add_op(b, NULL, NNRT_NODE_TYPE_FUSED_BATCH_NORM, NULL, in, 5);
}

static uint32_t scale(nnrt_builder *b, uint32_t x, int64_t axis, uint32_t factor, uint32_t bias)
{
    const uint32_t in[] = {x, factor, bias};
    NNRT_ScaleFusion a;
    memset(&a, 0, sizeof(a));
    a.axis = axis;
    a.activationType = NNRT_ACTIVATION_TYPE_RELU;
    return add_op(b, NULL, NNRT_NODE_TYPE_SCALE_FUSION, &a, in, bias != NNRT_NO_TENSOR ? 3 : 2);
}

/* ---- running ---- */

/* Runs m on numbers that depend only on the index; results are concatenated. */
typedef struct outcome {
    uint8_t bytes[16 * MOST];
    NNRT_DataType types[8];
    size_t sizes[8], total;
    uint32_t count;
} outcome;

static void run(const NNRT_Model *m, const nnrt_dims *shapes, outcome *o)
{
    static float data[4][MOST];
    nnrt_session_desc desc;
    nnrt_session *session;
    nnrt_error error;
    nnrt_io in[4], out[8];
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    memset(o, 0, sizeof(*o));
    if (shapes != NULL)
        desc.inputDims = nnrt_dims_list_make(shapes, m->inputIndex.count);
    if (nnrt_session_create(&session, m, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    o->count = nnrt_session_outputs(session);
    assert_true(nnrt_session_inputs(session) <= 4 && o->count <= 8);
    for (uint32_t i = 0; i < nnrt_session_inputs(session); i++) {
        nnrt_io_info info = nnrt_session_input(session, i);
        assert_true(info.bytes <= sizeof(data[i]) && (info.dataType == F32 || info.dataType == NNRT_DATA_TYPE_BOOL));
        for (uint32_t k = 0; k < MOST; k++)
            data[i][k] = info.dataType == F32 ? (float)((k * 37u + i * 11u) % 41u) / 20.0f - 1.0f : 0; /* false */
        in[i] = nnrt_io_make(data[i], info.bytes);
    }
    for (uint32_t i = 0; i < o->count; i++) {
        nnrt_io_info info = nnrt_session_output(session, i);
        assert_true(o->total + info.bytes <= sizeof(o->bytes));
        o->sizes[i] = info.bytes;
        out[i] = nnrt_io_make(o->bytes + o->total, info.bytes);
        o->types[i] = info.dataType;
        o->total += (info.bytes + 15) / 16 * 16;
    }
    if (nnrt_run(session, in, nnrt_session_inputs(session), out, o->count) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(session));
    nnrt_session_destroy(session);
}

static double size_of(double v)
{
    return v < 0 ? -v : v;
}

static void compare(const outcome *a, const outcome *b, double tolerance)
{
    size_t at = 0;
    double largest = 0;
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->sizes, b->sizes, sizeof(a->sizes));
    assert_memory_equal(a->types, b->types, sizeof(a->types));
    if (tolerance <= 0) {
        assert_memory_equal(a->bytes, b->bytes, a->total);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const float *x = (const float *)(const void *)(a->bytes + at),
                    *y = (const float *)(const void *)(b->bytes + at);
        assert_int_equal(a->types[i], F32);
        for (size_t k = 0; k < a->sizes[i] / 4; k++)
            largest = size_of((double)x[k]) > largest ? size_of((double)x[k]) : largest;
        for (size_t k = 0; k < a->sizes[i] / 4; k++)
            if (!(size_of((double)x[k] - (double)y[k]) <= tolerance * (1 + largest)))
                fail_msg("output %u, element %u: %.9g became %.9g", i, (unsigned)k, (double)x[k], (double)y[k]);
        at += (a->sizes[i] + 15) / 16 * 16;
    }
}

static uint32_t nodes_of(const NNRT_Model *m, NNRT_NodeType type)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        n += m->nodes.data[i].nodeType == type;
    return n;
}

/* Whether the model has a constant of this name. */
static bool has_constant(const NNRT_Model *m, const char *name)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].data.addr != NULL && m->allTensors.data[i].name != NULL &&
            strcmp(m->allTensors.data[i].name, name) == 0)
            return true;
    return false;
}

/* Finishes b, optimizes, compares results; the optimized model has `nodes` nodes. The caller destroys it. */
static NNRT_Model *optimized(nnrt_builder *b, uint32_t nodes, double tolerance, const nnrt_dims *shapes)
{
    static outcome before, after;
    NNRT_Model *m = NULL, *was;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    run(m, shapes, &before);
    was = m;
    if (nnrt_model_optimize(&m, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    if (m->nodes.count != nodes) {
        char text[8192];
        (void)nnrt_model_dot(m, NULL, text, sizeof(text));
        fail_msg("%u nodes of %u are left, expected %u\n%s", m->nodes.count, was->nodes.count, nodes, text);
    }
    run(m, shapes, &after);
    compare(&before, &after, tolerance);
    assert_true(was->name != NULL && m->name != NULL);
    assert_string_equal(m->name, was->name);
    for (uint32_t i = 0; i < m->outputIndex.count; i++) { /* inputs and outputs keep their names */
        const char *name = was->allTensors.data[was->outputIndex.data[i]].name;
        if (name != NULL)
            assert_string_equal(m->allTensors.data[m->outputIndex.data[i]].name, name);
    }
    was = m;
    assert_int_equal(nnrt_model_optimize(&m, NULL, &error), NNRT_SUCCESS); /* there is nothing left to do */
    assert_ptr_equal(m, was);
    return m;
}

static void expect(nnrt_builder *b, uint32_t nodes, double tolerance)
{
    nnrt_model_destroy(optimized(b, nodes, tolerance, NULL));
}

/* ---- constants ---- */

/* Constant folding: small and large results, in one pass. */
static void test_fold(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 2, 600, 0, 0), sum, product;
    NNRT_Model *m;
    (void)state;
    sum = op2(b, NNRT_NODE_TYPE_ADD_FUSION, numbers(b, 0, 2, 600, 0, 0), numbers(b, 0, 600, 0, 0, 0));
    product = op2(b, NNRT_NODE_TYPE_MUL_FUSION, sum, op1(b, NNRT_NODE_TYPE_SQRT, numbers(b, 0.5f, 1, 0, 0, 0)));
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_MAXIMUM, x, product));
    m = optimized(b, 1, 0, NULL);
    assert_int_equal(m->allTensors.count, 3); /* the parts are removed */
    assert_int_equal(m->allTensors.data[1].data.dataSize + m->allTensors.data[2].data.dataSize +
                         m->allTensors.data[0].data.dataSize,
                     4800);
    nnrt_model_destroy(m);
}

/* An unused node is removed before anything is computed: this one divides 1 by 0. */
static void test_fold_of_the_dead(void **state)
{
    static const int32_t one = 1, zero = 0;
    nnrt_builder *b = begin_unchecked();
    uint32_t x = input(b, "x", 2, 3, 0, 0), dead[2];
    NNRT_Model *m;
    (void)state;
    dead[0] = nnrt_builder_constant(b, "one", NNRT_DATA_TYPE_INT32, 0, NULL, &one, true);
    dead[1] = nnrt_builder_constant(b, "zero", NNRT_DATA_TYPE_INT32, 0, NULL, &zero, true);
    (void)add_op(b, "dead", NNRT_NODE_TYPE_DIV_FUSION, NULL, dead, 2);
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, x));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 1);
    assert_int_equal(m->nodes.data[0].nodeType, NNRT_NODE_TYPE_SQRT);
    nnrt_model_destroy(m);
}

/* A result that becomes a constant has no dynamic dimensions any more; declarations of other tensors stay. */
static void test_fold_open(void **state)
{
    static const int32_t open[1] = {-1};
    static const uint32_t symbols[1] = {3};
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 8, 0, 0, 0), c, y;
    NNRT_Model *m;
    (void)state;
    c = op1(b, NNRT_NODE_TYPE_SQRT, numbers(b, 1, 8, 0, 0, 0));
    nnrt_builder_declare(b, c, NNRT_DATA_TYPE_FLOAT32, 1, open);
    nnrt_builder_symbols(b, c, symbols, 1);
    y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, c);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_FLOAT32, 1, open);
    nnrt_builder_symbols(b, y, symbols, 1);
    nnrt_builder_quant_axis(b, y, 1);
    nnrt_builder_output(b, y);
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 1);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        assert_int_equal(m->allTensors.data[i].symbols.count, i == m->outputIndex.data[0] ? 1 : 0);
    assert_int_equal(m->allTensors.data[m->outputIndex.data[0]].symbols.data[0], 3);
    assert_int_equal(m->allTensors.data[m->outputIndex.data[0]].quantAxis, 1);
    nnrt_model_destroy(m);
}

/* Parameters of axis 0 belong to axis 1 of the transposed constant, which records the axis: the model keeps computing with
   these parameters. */
static void test_fold_quant_axis(void **state)
{
    static const int8_t data[6] = {1, 2, 3, 4, 5, 6};
    static const NNRT_QuantParam two[2] = {{8, 0, 0.5}, {8, 1, 2}};
    static const int32_t dims[2] = {2, 3}, row[2] = {1, 2};
    const NNRT_Concat join = {0};
    nnrt_builder *b = begin(NULL);
    uint32_t in[2], c, found = NNRT_NO_TENSOR;
    NNRT_Model *m;
    (void)state;
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_INT8, 2, row);
    nnrt_builder_quant(b, in[0], two, 2);
    nnrt_builder_quant_axis(b, in[0], 2);
    c = nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_INT8, 2, dims, data, true);
    nnrt_builder_quant(b, c, two, 2);
    nnrt_builder_quant_axis(b, c, 1);
    in[1] = op2(b, NNRT_NODE_TYPE_TRANSPOSE, c, ints(b, 2, 1, 0, 0, 0));
    nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_CONCAT, &join, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_validate(m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 1);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].data.dataSize == 6)
            found = i;
    assert_int_not_equal(found, NNRT_NO_TENSOR);
    assert_int_equal(m->allTensors.data[found].dims.data[0], 3);
    assert_int_equal(m->allTensors.data[found].quantParams.count, 2);
    assert_int_equal(m->allTensors.data[found].quantAxis, 2);
    assert_int_equal(nnrt_model_validate(m, NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
}

/* A constant in another shape shares the bytes of the constant, which stays in the old model. */
static void test_fold_shares(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 4, 8, 0, 0), c = numbers(b, 0, 32, 0, 0, 0);
    NNRT_Model *m, *was;
    (void)state;
    nnrt_builder_output(
        b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, op2(b, NNRT_NODE_TYPE_RESHAPE, c, ints(b, 2, 4, 8, 0, 0))));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    was = m;
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_ptr_not_equal(m, was);
    assert_int_equal(m->nodes.count, 1);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].data.addr != NULL) {
            assert_ptr_equal(m->allTensors.data[i].data.addr, was->allTensors.data[c].data.addr);
            assert_int_equal(m->allTensors.data[i].dims.count, 2);
        }
    nnrt_model_destroy(m);
}

/* Weights of one byte, of which the model consists, become floats before the run: cast, less their zero point, times their
   scale, transposed. That takes 16 bytes for each. */
static void test_fold_byte_weights(void **state)
{
    enum { SIDE = 512 };
    static int8_t bytes[SIDE * SIDE];
    static const int32_t dims[2] = {SIDE, SIDE}, side = SIDE;
    static float zero[SIDE], scale[SIDE];
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 1, SIDE, 0, 0), w, y;
    const float *found = NULL;
    NNRT_Model *m;
    (void)state;
    for (int32_t i = 0; i < SIDE * SIDE; i++)
        bytes[i] = (int8_t)(i % 251 - 125);
    for (int32_t i = 0; i < SIDE; i++) {
        zero[i] = 3;
        scale[i] = 0.5f;
    }
    w = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_INT8, 2, dims, bytes, false);
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_declare(b, y, F32, NNRT_RANK_UNKNOWN, NULL);
    add_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &w, 1, &y, 1);
    y = op2(b, NNRT_NODE_TYPE_SUB_FUSION, y, nnrt_builder_constant(b, NULL, F32, 1, &side, zero, false));
    y = op2(b, NNRT_NODE_TYPE_MUL_FUSION, y, nnrt_builder_constant(b, NULL, F32, 1, &side, scale, false));
    y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 2, 1, 0, 0, 0));
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, y));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 1);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].data.dataSize == sizeof(float) * SIDE * SIDE)
            found = (const float *)m->allTensors.data[i].data.addr;
    assert_non_null(found);
    for (int32_t i = 0; i < SIDE * SIDE; i++)
        assert_true(found[i % SIDE * SIDE + i / SIDE] == ((float)bytes[i] - 3) * 0.5f);
    nnrt_model_destroy(m);
}

/* A large result of small constants stays with the run: 4096 floats from one are folded, 20000 are not. */
static void test_fold_growth(void **state)
{
    for (uint32_t large = 0; large < 2; large++) {
        nnrt_builder *b = begin(NULL);
        const int32_t extent = large ? 20000 : 4096;
        uint32_t x = input(b, "x", 1, 0, 0, 0), in[2];
        NNRT_ReduceFusion sum;
        nnrt_attr_defaults(nnrt_op_named("REDUCE_FUSION")->attr, &sum);
        sum.mode = NNRT_REDUCE_MODE_SUM;
        in[0] = op2(b, NNRT_NODE_TYPE_ADD_FUSION, x,
                    op2(b, NNRT_NODE_TYPE_FILL, numbers(b, 0, 0, 0, 0, 0), ints(b, 1, extent, 0, 0, 0)));
        in[1] = ints(b, 1, 0, 0, 0, 0);
        nnrt_builder_output(b, add_op(b, "sum", NNRT_NODE_TYPE_REDUCE_FUSION, &sum, in, 2));
        expect(b, large ? 3 : 2, 0);
    }
    (void)state;
}

/* Of a chain of products of constants as many are computed as the budget of multiplications allows; operators whose sums have few
   terms always are. */
static void test_fold_work(void **state)
{
    static float data[65536];
    const int32_t square[2] = {256, 256}; /* 256 KB: a budget of 16.8 and 64 times 0.26 million; a product takes 16.9 million */
    NNRT_FullConnection connect;
    NNRT_Conv2DFusion conv;
    NNRT_AvgPoolFusion pool;
    NNRT_MaxPoolFusion most;
    NNRT_Model *m = NULL;
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 1, 0, 0, 0), in[3], y;
    (void)state;
    for (uint32_t i = 0; i < COUNT(data); i++)
        data[i] = (float)(i % 7) / 1024.0f;
    in[0] = nnrt_builder_constant(b, NULL, F32, 2, square, data, false);
    y = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, in[0], in[0]);
    y = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, y, in[0]);
    y = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, y, in[0]);
    in[0] = y;
    in[1] = ints(b, 2, 0, 1, 0, 0);
    y = add_op(b, NULL, NNRT_NODE_TYPE_REDUCE_FUSION, NULL, in, 2);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, y));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 4); /* two products are left, the mean and the sum */
    nnrt_model_destroy(m);

    b = begin(NULL); /* sums of 256 products each, not of as many as the weight has elements, which exceeds the budget */
    x = input(b, "x", 1, 0, 0, 0);
    memset(&connect, 0, sizeof(connect));
    in[0] = in[1] = nnrt_builder_constant(b, NULL, F32, 2, (const int32_t[2]){64, 256}, data, false);
    in[2] = NNRT_NO_TENSOR;
    y = add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &connect, in, 3);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, y));
    expect(b, 1, 0);

    b = begin(NULL);
    x = input(b, "x", 1, 0, 0, 0);
    memset(&connect, 0, sizeof(connect));
    in[0] = numbers(b, 0, 2, 6, 0, 0);
    in[1] = numbers(b, 0, 5, 6, 0, 0);
    in[2] = NNRT_NO_TENSOR;
    y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &connect, in, 3));
    nnrt_builder_output(b, y);
    nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &conv);
    conv.kernelSize = nnrt_int64_list((const int64_t[2]){3, 3}, 2);
    conv.stride = conv.dilation = nnrt_int64_list((const int64_t[2]){1, 1}, 2);
    conv.padList = nnrt_int64_list((const int64_t[4]){0, 0, 0, 0}, 4);
    conv.group = 1;
    in[0] = numbers(b, 0, 1, 5, 5, 2);
    in[1] = numbers(b, 0, 3, 3, 3, 2);
    y = add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 3);
    nnrt_attr_defaults(nnrt_op_named("AVGPOOL_FUSION")->attr, &pool);
    pool.kernelSize = pool.strides = nnrt_int64_list((const int64_t[2]){2, 2}, 2);
    pool.pad = nnrt_int64_list((const int64_t[4]){0, 0, 0, 0}, 4);
    y = add_op(b, NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &pool, &y, 1);
    nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &most);
    most.kernelSize = most.strides = pool.kernelSize;
    most.pad = pool.pad;
    in[0] = numbers(b, 0, 1, 2, 2, 3);
    in[0] = add_op(b, NULL, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, in, 1);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, y), in[0]));
    expect(b, 3, 0); /* the sums */
}

/* Shapes computed from shapes: SHAPE, GATHER, STACK and RESHAPE become one RESHAPE. */
static void test_fold_shapes(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 2, 3, 4, 0), first, list;
    (void)state;
    first =
        op3(b, NNRT_NODE_TYPE_GATHER, op1(b, NNRT_NODE_TYPE_SHAPE, x), ints(b, 1, 0, 0, 0, 0), ints(b, 1, 0, 0, 0, 0));
    list = add_op(b, NULL, NNRT_NODE_TYPE_CONCAT, NULL, (uint32_t[]){first, ints(b, 1, -1, 0, 0, 0)}, 2);
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, op2(b, NNRT_NODE_TYPE_RESHAPE, x, list)));
    expect(b, 2, 0);
}

/* An output keeps a node, also when it is constant or equals an input; a model never loses its last node. */
static void test_outputs_stay(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 2, 3, 0, 0), c = numbers(b, 0, 2, 3, 0, 0), y;
    NNRT_Model *m;
    (void)state;
    nnrt_builder_output(b, add_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, (uint32_t[]){c, c}, 2));
    nnrt_builder_output(b, add_op(b, "copy", NNRT_NODE_TYPE_ACTIVATION, NULL, &x, 1));
    nnrt_builder_output(b, c);
    nnrt_builder_output(b, x);
    m = optimized(b, 2, 0, NULL);
    assert_int_equal(m->outputIndex.data[3], m->inputIndex.data[0]);
    assert_int_equal(m->outputIndex.data[0], nnrt_model_tensor(m, "sum"));
    nnrt_model_destroy(m);

    b = begin(NULL); /* the only node reaches no output */
    x = input(b, "x", 2, 3, 0, 0);
    (void)op1(b, NNRT_NODE_TYPE_SQRT, x);
    nnrt_builder_output(b, x);
    expect(b, 1, 0);

    b = begin(NULL); /* nor does the only one whose result is constant */
    x = input(b, "x", 2, 3, 0, 0);
    (void)op1(b, NNRT_NODE_TYPE_SQRT, numbers(b, 0, 2, 3, 0, 0));
    nnrt_builder_output(b, x);
    expect(b, 1, 0);

    b = begin(NULL); /* one result that is an output twice, which the builder's own function refuses */
    x = input(b, "x", 2, 3, 0, 0);
    y = op1(b, NNRT_NODE_TYPE_SQRT, x);
    y = activation(b, NNRT_ACTIVATION_TYPE_LINEAR, y);
    nnrt_builder_output(b, y);
    nnrt_builder_output(b, x);
    b->outputs[1] = y;
    expect(b, 1, 0);

    b = begin(NULL); /* the source is an output of its own: the copy stays */
    x = input(b, "x", 2, 3, 0, 0);
    y = add_op(b, "a", NNRT_NODE_TYPE_SQRT, NULL, &x, 1);
    nnrt_builder_output(b, y);
    nnrt_builder_output(b, add_op(b, "b", NNRT_NODE_TYPE_ACTIVATION, NULL, &y, 1));
    expect(b, 2, 0);
}

/* ---- nodes that do nothing ---- */

static uint32_t slice_all(nnrt_builder *b, uint32_t x, int32_t stride)
{
    const uint32_t in[] = {x, ints(b, 2, stride > 0 ? 0 : 2, 0, 0, 0), ints(b, 2, stride > 0 ? 3 : -9, 9, 0, 0),
                           ints(b, 2, stride, 1, 0, 0)};
    return add_op(b, NULL, NNRT_NODE_TYPE_STRIDED_SLICE, NULL, in, 4);
}

/* Copy `kind` of x [3,4]; returns NNRT_NO_TENSOR after the last one. */
static uint32_t copy_of(nnrt_builder *b, uint32_t kind, uint32_t x)
{
    const int64_t parts[] = {-1};
    NNRT_Split split;
    NNRT_Concat concat;
    uint32_t y;
    switch (kind) {
    case 0: return op2(b, NNRT_NODE_TYPE_RESHAPE, x, ints(b, 2, 3, -1, 0, 0));
    case 1: return op1(b, NNRT_NODE_TYPE_SQUEEZE, x);
    case 2: return op2(b, NNRT_NODE_TYPE_TRANSPOSE, x, ints(b, 2, 0, -1, 0, 0));
    case 3:
        y = nnrt_builder_tensor(b, NULL);
        nnrt_builder_declare(b, y, F32, NNRT_RANK_UNKNOWN, NULL);
        add_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &x, 1, &y, 1);
        return y;
    case 4: concat.axis = 1; return add_op(b, NULL, NNRT_NODE_TYPE_CONCAT, &concat, &x, 1);
    case 5:
        memset(&split, 0, sizeof(split));
        split.outputNum = 1;
        split.sizeSplits = nnrt_int64_list(parts, 1);
        return add_op(b, NULL, NNRT_NODE_TYPE_SPLIT, &split, &x, 1);
    case 6: return op2(b, NNRT_NODE_TYPE_TILE_FUSION, x, ints(b, 2, 1, 1, 0, 0));
    case 7: return op2(b, NNRT_NODE_TYPE_PAD_FUSION, x, ints(b, 4, 0, 0, 0, 0));
    case 8: return op3(b, NNRT_NODE_TYPE_SLICE_FUSION, x, ints(b, 2, 0, 0, 0, 0), ints(b, 2, -1, 4, 0, 0));
    case 9: return slice_all(b, x, 1);
    case 10: return activation(b, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, x);
    case 11: return activation(b, NNRT_ACTIVATION_TYPE_LINEAR, x);
    default: return NNRT_NO_TENSOR;
    }
}

/* Each copy goes, between other nodes, at the end, and several in a row. */
static void test_drop_copies(void **state)
{
    uint32_t kind;
    (void)state;
    for (kind = 0;; kind++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 3, 4, 0, 0), y = copy_of(b, kind, op1(b, NNRT_NODE_TYPE_SQRT, x));
        if (y == NNRT_NO_TENSOR) {
            nnrt_builder_destroy(b);
            break;
        }
        nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_RSQRT, y));
        expect(b, 2, 0);
        b = begin(NULL);
        x = input(b, "x", 3, 4, 0, 0);
        nnrt_builder_output(b, copy_of(b, kind, op1(b, NNRT_NODE_TYPE_SQRT, x)));
        expect(b, 1, 0);
        b = begin(NULL);
        x = input(b, "x", 3, 4, 0, 0);
        y = copy_of(b, kind, x);
        nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, copy_of(b, kind, copy_of(b, (kind + 1) % 12, y)), y));
        expect(b, 1, 0);
    }
    assert_int_equal(kind, 12);
}

/* Nodes that look like copies and are none. */
static void test_keep_others(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 3, 4, 0, 0), y;
    (void)state;
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, slice_all(b, x, -1))); /* reversed, same shape */
    expect(b, 2, 0);

    b = begin(NULL); /* square, but swapped */
    x = input(b, "x", 4, 4, 0, 0);
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, op2(b, NNRT_NODE_TYPE_TRANSPOSE, x, ints(b, 2, 1, 0, 0, 0))));
    expect(b, 2, 0);

    b = begin(NULL); /* another type */
    x = input(b, "x", 3, 4, 0, 0);
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_INT32, NNRT_RANK_UNKNOWN, NULL);
    add_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &x, 1, &y, 1);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, y, y));
    expect(b, 2, 0);

    b = begin(NULL); /* the order of the axes goes through it, so that it changes nothing */
    x = input(b, "x", 2, 4, 4, 4);
    nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
    y = activation(b, NNRT_ACTIVATION_TYPE_LINEAR, x);
    nnrt_builder_output(b, conv(b, y, 1, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION));
    expect(b, 1, 0);
}

/* ---- joined nodes ---- */

static void test_join_reshapes(void **state)
{
    const int64_t axis[] = {0};
    NNRT_Unsqueeze un;
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 2, 3, 4, 0), y;
    NNRT_Model *m;
    (void)state;
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, x, ints(b, 2, 6, 4, 0, 0));
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 2, 0, 4, 0, 0)); /* 0 copies a dimension of the tensor before it */
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 2, 3, -1, 0, 0));
    un.axis = nnrt_int64_list(axis, 1);
    y = add_op(b, NULL, NNRT_NODE_TYPE_UNSQUEEZE, &un, &y, 1);
    y = op1(b, NNRT_NODE_TYPE_SQUEEZE, y);
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    m = optimized(b, 2, 0, NULL);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_RESHAPE), 1);
    nnrt_model_destroy(m);

    b = begin(NULL); /* the copied dimension again, with nothing after it */
    x = input(b, "x", 2, 3, 4, 0);
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, x, ints(b, 2, 6, 4, 0, 0));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 3, 0, 2, 2, 0))));
    expect(b, 2, 0);

    b = begin(NULL); /* there and back again */
    x = input(b, "x", 2, 3, 4, 0);
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, x, ints(b, 2, 6, 4, 0, 0));
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 3, 2, 3, 4, 0));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    expect(b, 1, 0);

    b = begin(NULL); /* the one between has another user: it stays, but the last no longer depends on it */
    x = input(b, "x", 2, 3, 4, 0);
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, x, ints(b, 2, 6, 4, 0, 0));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 1, 24, 0, 0, 0))));
    expect(b, 4, 0);
}

/* A change of shape that requantizes is not fused with others, and its result is not in place. */
static void test_join_requantised(void **state)
{
    static const NNRT_QuantParam half = {8, 0, 0.5}, whole = {8, 0, 1};
    static const int8_t given[6] = {1, 2, 3, 4, -5, 127}, want[12] = {2, 2, 4, 4, -4, 127, 2, 2, 4, 4, -4, 127};
    static const int32_t dims[] = {2, 3};
    const NNRT_Concat join = {0};
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        nnrt_builder *b = begin(NULL);
        uint32_t from[2], ends[2];
        NNRT_Model *m = NULL;
        nnrt_session *session = NULL;
        nnrt_io in, out;
        int8_t result[12];
        from[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_INT8, 2, dims);
        from[1] = nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_INT8, 2, dims, given, true);
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t y = from[k];
            nnrt_builder_quant(b, y, &half, 1);
            for (uint32_t i = 0; i < 3; i++) { /* the same, coarser, finer again */
                uint32_t in2[2], z = nnrt_builder_tensor(b, NULL);
                in2[0] = y;
                in2[1] = i == 1 ? ints(b, 2, 3, 2, 0, 0) : ints(b, 1, 6, 0, 0, 0);
                nnrt_builder_quant(b, z, i == 1 ? &whole : &half, 1);
                add_node(b, NULL, NNRT_NODE_TYPE_RESHAPE, NULL, in2, 2, &z, 1);
                y = z;
            }
            ends[k] = y;
        }
        nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_CONCAT, &join, ends, 2));
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        if (round == 1) {
            assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
            assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_RESHAPE), 2); /* of x: the first two are one; of c: none */
        }
        assert_int_equal(nnrt_session_create(&session, m, NULL, NULL), NNRT_SUCCESS);
        memset(&in, 0, sizeof(in));
        memset(&out, 0, sizeof(out));
        in.data = (void *)(uintptr_t)given;
        in.bytes = sizeof(given);
        out.data = result;
        out.bytes = sizeof(result);
        assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_memory_equal(result, want, sizeof(want));
        nnrt_session_destroy(session);
        nnrt_model_destroy(m);
    }
}

static void test_join_transposes(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 2, 3, 4, 5), y;
    (void)state;
    y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, x, ints(b, 4, 1, 2, 3, 0)); /* not its own inverse */
    y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 4, 0, 2, -1, 1));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    expect(b, 2, 0);

    b = begin(NULL); /* NCHW to NHWC and back */
    x = input(b, "x", 2, 3, 4, 5);
    y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, x, ints(b, 4, 0, 2, 3, 1));
    y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 4, 0, 3, 1, 2));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    expect(b, 1, 0);
}

/* Dead-code elimination: unused nodes are removed, with all nodes that only they need. */
static void test_dead(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 2, 3, 0, 0), y;
    NNRT_Model *m;
    (void)state;
    (void)input(b, "unused", 2, 3, 0, 0);
    y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, numbers(b, 0, 3, 0, 0, 0));
    y = op1(b, NNRT_NODE_TYPE_SQRT, op1(b, NNRT_NODE_TYPE_SQRT, y));
    nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_RSQRT, NULL, &x, 1));
    m = optimized(b, 1, 0, NULL);
    assert_int_equal(m->allTensors.count, 3);
    assert_int_equal(m->inputIndex.count, 2);
    assert_string_equal(m->allTensors.data[m->inputIndex.data[1]].name, "unused");
    nnrt_model_destroy(m);
}

/* ---- constants for each channel that go into weights ---- */

/* Follower `kind` of x, whose 6 channels are on the last of `rank` axes or, for images in NCHW, along axis 1. */
static uint32_t follower(nnrt_builder *b, uint32_t kind, uint32_t x, int32_t rank, bool nchw)
{
    const int64_t axis = nchw ? 1 : rank - 1;
    switch (kind) {
    case 0: return norm(b, x);
    case 1: return op2(b, NNRT_NODE_TYPE_BIAS_ADD, x, numbers(b, 0, 6, 0, 0, 0));
    case 2: return scale(b, x, axis - rank, numbers(b, 0, 6, 0, 0, 0), numbers(b, 0, 6, 0, 0, 0));
    case 3: return scale(b, x, axis, numbers(b, 0, 6, 0, 0, 0), NNRT_NO_TENSOR);
    case 4: return op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, nchw ? numbers(b, 0, 1, 6, 1, 1) : numbers(b, 0, 6, 0, 0, 0));
    case 5: return op2(b, NNRT_NODE_TYPE_ADD_FUSION, nchw ? numbers(b, 0, 6, 1, 1, 0) : numbers(b, 0, 1, 6, 0, 0), x);
    case 6: return op2(b, NNRT_NODE_TYPE_SUB_FUSION, x, nchw ? numbers(b, 0, 6, 1, 1, 0) : numbers(b, 0, 6, 0, 0, 0));
    case 7: return op2(b, NNRT_NODE_TYPE_SUB_FUSION, nchw ? numbers(b, 0, 6, 1, 1, 0) : numbers(b, 0, 6, 0, 0, 0), x);
    case 8: return op2(b, NNRT_NODE_TYPE_MUL_FUSION, x, nchw ? numbers(b, 0, 6, 1, 1, 0) : numbers(b, 0, 6, 0, 0, 0));
    case 9: return op2(b, NNRT_NODE_TYPE_MUL_FUSION, numbers(b, 0, 1, 0, 0, 0), x);
    default: return NNRT_NO_TENSOR;
    }
}

/* Producer `kind` of 6 channels from x. */
static uint32_t producer(nnrt_builder *b, uint32_t kind, bool nchw, uint32_t *x)
{
    if (kind < 5) {
        *x = nchw ? input(b, "x", 2, 4, 5, 5) : input(b, "x", 2, 5, 5, 4);
        nnrt_builder_format(b, *x, nchw ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    } else {
        *x = input(b, "x", 3, 8, 0, 0);
    }
    return kind == 0   ? conv(b, *x, 1, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
           : kind == 1 ? conv(b, *x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
           : kind == 2 ? conv(b, *x, 2, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
           : kind < 5  ? deconv(b, *x, kind == 4)
                       : full(b, *x, 8, kind == 6);
}

static void test_affine(void **state)
{
    uint32_t tried = 0;
    (void)state;
    for (uint32_t p = 0; p < 7; p++)
        for (uint32_t nchw = 0; nchw < (p < 5 ? 2u : 1u); nchw++)
            for (uint32_t f = 0; f < 10; f++, tried++) {
                nnrt_builder *b = begin(NULL);
                uint32_t x, y = producer(b, p, nchw != 0, &x);
                if (nchw) { /* results in another layout than the library's own need a declared format */
                    nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
                    y = follower(b, f, y, 4, true);
                    nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
                } else {
                    y = follower(b, f, y, p < 5 ? 4 : 2, false);
                }
                nnrt_builder_output(b, y);
                expect(b, 1, TOLERANCE);
            }
    assert_int_equal(tried, 120);
}

/* Several in a row, and an activation at the end: one node is left, with the numbers of a small case worked by hand. */
static void test_affine_chain(void **state)
{
    const int32_t w22[] = {2, 2}, two[] = {2};
    const float w[] = {1, 2, 3, 4}, s[] = {2, -1}, o[] = {1, 0}, mean[] = {3, 1}, var[] = {4, 1}, c[] = {10, 20};
    const float weight[] = {1, 2, -3, -4}, bias[] = {8, 21}; /* w * s/sqrt(v), (0 - mean) * s/sqrt(v) + o + c */
    NNRT_FusedBatchNorm attr;
    NNRT_FullConnection fc;
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 1, 2, 0, 0), in[5];
    NNRT_Model *m;
    (void)state;
    attr.epsilon = 1e-30f; /* vanishes in double */
    nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &fc);
    in[0] = x;
    in[1] = nnrt_builder_constant(b, "w", F32, 2, w22, w, true);
    in[0] = add_op(b, "fc", NNRT_NODE_TYPE_FULL_CONNECTION, &fc, in, 2);
    in[1] = nnrt_builder_constant(b, "s", F32, 1, two, s, true);
    in[2] = nnrt_builder_constant(b, "o", F32, 1, two, o, true);
    in[3] = nnrt_builder_constant(b, "m", F32, 1, two, mean, true);
    in[4] = nnrt_builder_constant(b, "v", F32, 1, two, var, true);
    in[0] = add_op(b, "bn", NNRT_NODE_TYPE_FUSED_BATCH_NORM, &attr, in, 5);
    in[1] = nnrt_builder_constant(b, "c", F32, 1, two, c, true);
    in[0] = add_op(b, "add", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    nnrt_builder_output(b, activation(b, NNRT_ACTIVATION_TYPE_RELU6, in[0]));
    m = optimized(b, 1, TOLERANCE, NULL);
    assert_int_equal(m->nodes.data[0].inputIndex.count, 3);
    assert_memory_equal(m->allTensors.data[m->nodes.data[0].inputIndex.data[1]].data.addr, weight, sizeof(weight));
    assert_memory_equal(m->allTensors.data[m->nodes.data[0].inputIndex.data[2]].data.addr, bias, sizeof(bias));
    assert_true(((const NNRT_FullConnection *)m->nodes.data[0].nodeAttr.data)->hasBias);
    assert_int_equal(((const NNRT_FullConnection *)m->nodes.data[0].nodeAttr.data)->activationType,
                     NNRT_ACTIVATION_TYPE_RELU6);
    nnrt_model_destroy(m);
}

/* A sum changes the bias alone: the weight stays the same constant, of which there is no copy. A product makes another one. */
static void test_affine_sum(void **state)
{
    static const int32_t dims[] = {6, 4};
    (void)state;
    for (uint32_t kind = 0; kind < 2; kind++) {
        nnrt_builder *b = begin(NULL);
        float w[24];
        uint32_t in[2], y;
        NNRT_Model *m;
        for (uint32_t i = 0; i < COUNT(w); i++)
            w[i] = random_float();
        in[0] = input(b, "x", 2, 4, 0, 0);
        in[1] = nnrt_builder_constant(b, "w", F32, 2, dims, w, true);
        y = add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, NULL, in, 2);
        nnrt_builder_output(b, op2(b, kind == 0 ? NNRT_NODE_TYPE_ADD_FUSION : NNRT_NODE_TYPE_MUL_FUSION, y,
                                   numbers(b, 0.5f, 6, 0, 0, 0)));
        m = optimized(b, 1, TOLERANCE, NULL);
        assert_int_equal(has_constant(m, "w"), kind == 0);
        nnrt_model_destroy(m);
    }
}

/* A weight of 96 KB that folding has made is scaled in place, unless another node reads it, too, or a value of a small
   factor would be infinite. All sums are exact: small integers, and factors that are powers of 2. */
static void test_affine_large(void **state)
{
    enum { ROWS = 3, IN = 128, OUT = 192 };
    static float w[IN * OUT], x[ROWS * IN], y[ROWS * OUT], other[ROWS * OUT], factor[OUT];
    static const int32_t dims[] = {IN, OUT}, row[] = {OUT};
    (void)state;
    for (int32_t k = 0; k < 3; k++) {
        const bool shared = k == 1, infinite = k == 2;
        nnrt_builder *b = begin(NULL);
        uint32_t in = input(b, "x", ROWS, IN, 0, 0), weight, out[2];
        NNRT_Model *m = NULL;
        nnrt_session *session = NULL;
        nnrt_io from = nnrt_io_make(x, sizeof(x)), to[2];
        NNRT_FullConnection fc;
        for (uint32_t i = 0; i < IN * OUT; i++)
            w[i] = (float)(i * 7 % 31) - 15;
        for (uint32_t i = 0; i < ROWS * IN; i++)
            x[i] = (float)(i * 5 % 17) - 8;
        for (uint32_t i = 0; i < OUT; i++)
            factor[i] = i == 3 && infinite ? INFINITY : i % 3 == 0 ? 0.5f : i % 3 == 1 ? -4.0f : 1.0f;
        nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &fc);
        weight = op2(b, NNRT_NODE_TYPE_TRANSPOSE, nnrt_builder_constant(b, "w", F32, 2, dims, w, true),
                     ints(b, 2, 1, 0, 0, 0));
        {
            const uint32_t operands[] = {in, weight};
            out[0] = out[1] = add_op(b, "product", NNRT_NODE_TYPE_FULL_CONNECTION, &fc, operands, 2);
            if (shared)
                out[1] = add_op(b, "plain", NNRT_NODE_TYPE_FULL_CONNECTION, &fc, operands, 2);
        }
        out[0] = op2(b, NNRT_NODE_TYPE_MUL_FUSION, out[0], nnrt_builder_constant(b, "f", F32, 1, row, factor, true));
        nnrt_builder_output(b, out[0]);
        if (shared)
            nnrt_builder_output(b, out[1]);
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(m->nodes.count, k == 0 ? 1 : 2);
        assert_int_equal(nnrt_session_create(&session, m, NULL, NULL), NNRT_SUCCESS);
        to[0] = nnrt_io_make(y, sizeof(y));
        to[1] = nnrt_io_make(other, sizeof(other));
        assert_int_equal(nnrt_run(session, &from, 1, to, shared ? 2 : 1), NNRT_SUCCESS);
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t o = 0; o < OUT; o++) {
                float sum = 0;
                for (uint32_t c = 0; c < IN; c++)
                    sum += x[i * IN + c] * w[c * OUT + o];
                if (infinite && o == 3)
                    assert_true(isinf(y[i * OUT + o]) || (sum == 0 && isnan(y[i * OUT + o])));
                else
                    assert_true(y[i * OUT + o] == sum * factor[o]);
                assert_true(!shared || other[i * OUT + o] == sum);
            }
        nnrt_session_destroy(session);
        nnrt_model_destroy(m);
    }
}

/* A full connection of images: with useAxis its result has more axes, whose format determines the axis of a normalization.
 */
static void test_affine_rank(void **state)
{
    for (uint32_t nchw = 0; nchw < 2; nchw++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 2, 6, 8, 0), in[2], y;
        NNRT_FullConnection a;
        nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &a);
        a.useAxis = true;
        a.axis = 2;
        in[0] = x;
        in[1] = numbers(b, 0, 6, 8, 0, 0);
        y = add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, 2); /* [2,6,6] */
        if (nchw)
            nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
        y = norm(b, y);
        if (nchw)
            nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
        nnrt_builder_output(b, y);
        expect(b, nchw ? 2 : 1, TOLERANCE);
    }
    (void)state;
}

/* If the result would be wrong, nothing is folded. */
static void test_affine_not(void **state)
{
    const NNRT_ActivationType none = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    const float factors[] = {1, 1, 1, 1, 1, INFINITY};
    const int32_t six[] = {6};
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 1, 6, 6, 4), y, in[5];
    (void)state;
    y = conv(b, x, 1, true, none); /* a second user */
    nnrt_builder_output(b, norm(b, y));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    expect(b, 3, 0);

    b = begin(NULL); /* an output */
    x = input(b, "x", 1, 6, 6, 4);
    y = conv(b, x, 1, true, none);
    nnrt_builder_output(b, y);
    nnrt_builder_output(b, norm(b, y));
    expect(b, 2, 0);

    b = begin(NULL); /* an activation between */
    x = input(b, "x", 1, 6, 6, 4);
    nnrt_builder_output(b, norm(b, conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_RELU)));
    expect(b, 2, 0);

    b = begin(NULL); /* constants along the width, 6 as the channels */
    x = input(b, "x", 1, 6, 6, 4);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, conv(b, x, 1, true, none), numbers(b, 0, 6, 1, 0, 0)));
    expect(b, 2, 0);

    b = begin(NULL); /* an addition that makes the result larger */
    x = input(b, "x", 1, 6, 6, 4);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, conv(b, x, 1, true, none), numbers(b, 0, 2, 1, 1, 6)));
    expect(b, 2, 0);

    b = begin(NULL); /* a weight, then a mean, that comes with the run */
    x = input(b, "x", 1, 2, 0, 0);
    in[0] = x;
    in[1] = input(b, "w", 6, 2, 0, 0);
    y = add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, NULL, in, 2);
    nnrt_builder_output(b, norm(b, y));
    expect(b, 2, 0);
    b = begin(NULL);
    x = input(b, "x", 1, 6, 6, 4);
    in[0] = conv(b, x, 1, true, none);
    in[1] = numbers(b, 0, 6, 0, 0, 0);
    in[2] = numbers(b, 0, 6, 0, 0, 0);
    in[3] = input(b, "mean", 6, 0, 0, 0);
    in[4] = numbers(b, 0.5f, 6, 0, 0, 0);
    nnrt_builder_output(b, add_op(b, NULL, NNRT_NODE_TYPE_FUSED_BATCH_NORM, NULL, in, 5));
    expect(b, 2, 0);

    b = begin(NULL); /* weights would not be finite */
    x = input(b, "x", 1, 2, 0, 0);
    in[1] = nnrt_builder_constant(b, NULL, F32, 1, six, factors, true);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_MUL_FUSION, full(b, x, 2, true), in[1]));
    expect(b, 2, 0);
}

static void test_matmul_bias(void **state)
{
    for (uint32_t kind = 0; kind < 5; kind++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 2, 3, 4, 0), y, c;
        y = kind == 4 ? op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, numbers(b, 0, 4, 0, 0, 0))  /* [2,3] */
                      : op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, numbers(b, 0, 4, 5, 0, 0)); /* [2,3,5] */
        c = kind == 0   ? numbers(b, 0, 5, 0, 0, 0)
            : kind == 1 ? numbers(b, 0, 1, 1, 5, 0)
            : kind == 2 ? numbers(b, 0, 3, 5, 0, 0)
            : kind == 3 ? numbers(b, 0, 1, 0, 0, 0)
                        : numbers(b, 0, 3, 0, 0, 0);
        nnrt_builder_output(b, activation(b, NNRT_ACTIVATION_TYPE_RELU, op2(b, NNRT_NODE_TYPE_ADD_FUSION, c, y)));
        expect(b, kind < 2 ? 1 : 2, TOLERANCE);
    }
    (void)state;
}

/* ---- activations ---- */

/* Every type, after operators of several kinds: fused when it needs no parameter of its own. */
static void test_fuse_activation(void **state)
{
    uint32_t fused = 0;
    (void)state;
    for (NNRT_ActivationType type = 0; type < NNRT_ACTIVATION_TYPE_UNKNOWN; type++) {
        const bool own = type == NNRT_ACTIVATION_TYPE_ELU || type == NNRT_ACTIVATION_TYPE_LEAKY_RELU ||
                         type == NNRT_ACTIVATION_TYPE_THRESHOLDRELU || type == NNRT_ACTIVATION_TYPE_HARD_TANH;
        for (uint32_t kind = 0; kind < 4; kind++) {
            nnrt_builder *b = begin(NULL);
            uint32_t x = input(b, "x", 1, 4, 4, 4), y;
            NNRT_AvgPoolFusion pool;
            NNRT_Model *m;
            nnrt_attr_defaults(nnrt_op_named("AVGPOOL_FUSION")->attr, &pool);
            pool.global = true;
            y = kind == 0   ? conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
                : kind == 1 ? op2(b, NNRT_NODE_TYPE_DIV_FUSION, x, numbers(b, 0.5f, 4, 0, 0, 0))
                : kind == 2 ? add_op(b, NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &pool, &x, 1)
                            : op1(b, NNRT_NODE_TYPE_SOFTMAX, x); /* has no place for one */
            nnrt_builder_output(b, activation(b, type, y));
            m = optimized(b, kind == 3 && type != 0 && type != NNRT_ACTIVATION_TYPE_LINEAR ? 2 : own ? 2 : 1, 0, NULL);
            fused += m->nodes.count == 1;
            nnrt_model_destroy(m);
        }
    }
    assert_int_equal(fused, 16 * 3 + 2);
}

/* x * SIGMOID(x), in either order, is SWISH, and is then fused. Not: if another node reads the gate, if the gate is that of
   another value, if the product has an activation, or in float16. */
static void test_swish(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = input(b, "x", 1, 4, 4, 4);
        const uint32_t y = conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
        const uint32_t gate = activation(b, NNRT_ACTIVATION_TYPE_SIGMOID, kind == 3 ? op1(b, NNRT_NODE_TYPE_ABS, y) : y);
        const uint32_t pair[2] = {kind == 1 ? gate : y, kind == 1 ? y : gate};
        NNRT_MulFusion mul;
        NNRT_Model *m;
        memset(&mul, 0, sizeof(mul));
        mul.activationType = kind == 4 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        nnrt_builder_output(b, add_op(b, NULL, NNRT_NODE_TYPE_MUL_FUSION, &mul, pair, 2));
        if (kind == 2)
            nnrt_builder_output(b, gate);
        if (kind == 5)
            nnrt_builder_output(b, y);
        m = optimized(b, kind < 2 ? 1 : kind == 3 ? 4 : kind == 5 ? 2 : 3, 0, NULL);
        if (kind == 5)
            assert_int_equal(m->nodes.data[1].nodeType, NNRT_NODE_TYPE_ACTIVATION);
        nnrt_model_destroy(m);
    }
}

static uint32_t number(nnrt_builder *b, float value)
{
    return nnrt_builder_constant(b, NULL, F32, 0, NULL, &value, true);
}

/* x * min(max(x + 3, 0), 6) / 6, as exporters write it, is HSWISH, and is then fused: with the limits as an activation of the
   ADD or as a node, operands in any order, a factor instead of the divisor. Not: if another node reads the gate, with another
   number, for 6 / product, if the gate is that of another value. */
static void test_hard_swish(void **state)
{
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = input(b, "x", 1, 4, 4, 4);
        const uint32_t y = conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
        const uint32_t of = kind == 7 ? op1(b, NNRT_NODE_TYPE_ABS, y) : y, three = number(b, kind == 5 ? 2.9f : 3.0f);
        const uint32_t pair[2] = {kind % 2 == 0 ? of : three, kind % 2 == 0 ? three : of};
        NNRT_AddFusion add;
        uint32_t gate, product, last;
        NNRT_Model *m;
        memset(&add, 0, sizeof(add));
        add.activationType = kind == 1 ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION : NNRT_ACTIVATION_TYPE_RELU6;
        gate = add_op(b, NULL, NNRT_NODE_TYPE_ADD_FUSION, &add, pair, 2);
        if (kind == 1)
            gate = activation(b, NNRT_ACTIVATION_TYPE_RELU6, gate);
        product = kind == 2 ? op2(b, NNRT_NODE_TYPE_MUL_FUSION, gate, y) : op2(b, NNRT_NODE_TYPE_MUL_FUSION, y, gate);
        last = kind == 3   ? op2(b, NNRT_NODE_TYPE_MUL_FUSION, number(b, 1.0f / 6.0f), product)
               : kind == 6 ? op2(b, NNRT_NODE_TYPE_DIV_FUSION, number(b, 6.0f), product)
                           : op2(b, NNRT_NODE_TYPE_DIV_FUSION, product, number(b, kind == 8 ? 5.0f : 6.0f));
        nnrt_builder_output(b, last);
        if (kind == 4)
            nnrt_builder_output(b, gate);
        m = optimized(b, kind < 4 ? 1 : kind == 7 ? 5 : 4, kind < 4 ? 1e-6 : 0, NULL);
        if (kind < 4)
            assert_int_equal(((const NNRT_Conv2DFusion *)m->nodes.data[0].nodeAttr.data)->activationType,
                             NNRT_ACTIVATION_TYPE_HSWISH);
        nnrt_model_destroy(m);
    }
}

/* ---- chains ---- */

/* A node of one input or two, whose attributes are the defaults. */
static const struct {
    const char *word;
    NNRT_NodeType type;
    uint32_t inputs;
} words[] = {
    {"+", NNRT_NODE_TYPE_ADD_FUSION, 2},     {"-", NNRT_NODE_TYPE_SUB_FUSION, 2},
    {"*", NNRT_NODE_TYPE_MUL_FUSION, 2},     {"/", NNRT_NODE_TYPE_DIV_FUSION, 2},
    {"pow", NNRT_NODE_TYPE_POW_FUSION, 2},   {"sqdiff", NNRT_NODE_TYPE_SQUARED_DIFFERENCE, 2},
    {"sqrt", NNRT_NODE_TYPE_SQRT, 1},        {"rsqrt", NNRT_NODE_TYPE_RSQRT, 1},
    {"recip", NNRT_NODE_TYPE_RECIPROCAL, 1}, {"square", NNRT_NODE_TYPE_SQUARE, 1},
    {"erf", NNRT_NODE_TYPE_ERF, 1},          {"abs", NNRT_NODE_TYPE_ABS, 1},
};

static const struct {
    const char *word;
    NNRT_ActivationType type;
} activations[] = {
    {"sigmoid", NNRT_ACTIVATION_TYPE_SIGMOID}, {"hsigmoid", NNRT_ACTIVATION_TYPE_HSIGMOID},
    {"tanh", NNRT_ACTIVATION_TYPE_TANH},       {"relu", NNRT_ACTIVATION_TYPE_RELU},
    {"relu1", NNRT_ACTIVATION_TYPE_RELU1},     {"relu6", NNRT_ACTIVATION_TYPE_RELU6},
};

/* REDUCE_FUSION MEAN of x over one axis, which stays. */
static uint32_t mean(nnrt_builder *b, uint32_t x, int32_t axis)
{
    const uint32_t in[] = {x, ints(b, 1, axis, 0, 0, 0)};
    NNRT_ReduceFusion a;
    nnrt_attr_defaults(nnrt_op_named("REDUCE_FUSION")->attr, &a);
    a.mode = NNRT_REDUCE_MODE_MEAN;
    a.keepDims = true;
    return add_op(b, NULL, NNRT_NODE_TYPE_REDUCE_FUSION, &a, in, 2);
}

/* Other reductions that keep their axes: the largest element of a line; the mean from the last axis to the end; the mean over
   the last two axes. */
static uint32_t reduction(nnrt_builder *b, uint32_t x, const char *word)
{
    const bool both = strcmp(word, "mean12") == 0;
    const uint32_t in[] = {x, both ? ints(b, 2, 1, 2, 0, 0) : ints(b, 1, -1, 0, 0, 0)};
    NNRT_ReduceFusion a;
    nnrt_attr_defaults(nnrt_op_named("REDUCE_FUSION")->attr, &a);
    a.mode = strcmp(word, "most") == 0 ? NNRT_REDUCE_MODE_MAX : NNRT_REDUCE_MODE_MEAN;
    a.reduceToEnd = strcmp(word, "meanend") == 0;
    a.keepDims = true;
    return add_op(b, NULL, NNRT_NODE_TYPE_REDUCE_FUSION, &a, in, 2);
}

/* 2 * x to the power of 2. */
static uint32_t twice_squared(nnrt_builder *b, uint32_t x)
{
    const float two = 2;
    const uint32_t in[] = {x, nnrt_builder_constant(b, NULL, F32, 0, NULL, &two, true)};
    NNRT_PowFusion a;
    nnrt_attr_defaults(nnrt_op_named("POW_FUSION")->attr, &a);
    a.scale = 2;
    return add_op(b, NULL, NNRT_NODE_TYPE_POW_FUSION, &a, in, 2);
}

/* One word of a chain in postfix notation: a number, x, a constant of the last axis (g, h) or of two axes (w), an
   operator, the mean over the last axis (mean) or over axis 0 (mean0), another reduction, LETTER= that names the last
   value, the letter, or `out`, which makes it an output. */
static void add_word(nnrt_builder *b, const char *word, uint32_t x, uint32_t named[26], uint32_t *stack,
                     uint32_t *count)
{
    uint32_t *top = stack + *count - 1;
    char *end;
    const float v = strtof(word, &end);
    if (*end == 0) {
        stack[(*count)++] = nnrt_builder_constant(b, NULL, F32, 0, NULL, &v, true);
        return;
    }
    for (uint32_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].word, word) == 0) {
            *count -= words[i].inputs - 1;
            top = stack + *count - 1;
            *top = words[i].inputs == 1 ? op1(b, words[i].type, *top) : op2(b, words[i].type, top[0], top[1]);
            return;
        }
    for (uint32_t i = 0; i < COUNT(activations); i++)
        if (strcmp(activations[i].word, word) == 0) {
            *top = activation(b, activations[i].type, *top);
            return;
        }
    if (strcmp(word, "x") == 0)
        stack[(*count)++] = x;
    else if (strcmp(word, "g") == 0 || strcmp(word, "h") == 0)
        stack[(*count)++] = numbers(b, 0.5f, 8, 0, 0, 0);
    else if (strcmp(word, "w") == 0)
        stack[(*count)++] = numbers(b, 0.5f, 3, 8, 0, 0);
    else if (strcmp(word, "mean") == 0)
        *top = mean(b, *top, -1);
    else if (strcmp(word, "mean0") == 0)
        *top = mean(b, *top, 0);
    else if (strcmp(word, "most") == 0 || strncmp(word, "mean", 4) == 0)
        *top = reduction(b, *top, word);
    else if (strcmp(word, "twice2") == 0)
        *top = twice_squared(b, *top);
    else if (strcmp(word, "out") == 0)
        nnrt_builder_output(b, *top);
    else if (word[1] == '=')
        named[word[0] - 'A'] = *top;
    else
        stack[(*count)++] = named[word[0] - 'A'];
}

/* Adds the nodes of a chain of x; returns the last value. */
static uint32_t add_chain(nnrt_builder *b, const char *text, uint32_t x)
{
    char copy[256], *at = copy;
    uint32_t named[26], stack[8] = {0}, count = 0;
    assert_true(strlen(text) < sizeof(copy));
    memcpy(copy, text, strlen(text) + 1);
    for (char *word = at; word != NULL; word = at) {
        if ((at = strchr(word, ' ')) != NULL)
            *at++ = 0;
        add_word(b, word, x, named, stack, &count);
    }
    assert_int_equal(count, 1);
    return stack[0];
}

#define NORM "x x mean - D= " /* then the deviation, and a division by it */
#define DEVIATION "D D * mean 1e-5 + "
#define SPELLINGS(...)                                                                                                 \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

/* Each spelling of a chain is one node of the operator; results are within `tolerance`, 0: the same bits. */
static void test_chains(void **state)
{
    static const struct {
        NNRT_NodeType type;
        NNRT_ActivationType activation; /* of ACTIVATION */
        double tolerance;
        const char *spellings[12];
    } chains[] = {
        {NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_SWISH, 0,
         SPELLINGS("x x sigmoid *", "x sigmoid x *", "x x 1 * sigmoid *", "1 x * sigmoid x *")},
        {NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_HSIGMOID, 0, SPELLINGS("x 3 + relu6 6 /", "3 x + relu6 6 /")},
        {NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_HSIGMOID, 1e-6,
         SPELLINGS("x 3 + relu6 0.16666667 *", "x 6 / 0.5 + relu1", "0.5 0.16666667 x * + relu1")},
        {NNRT_NODE_TYPE_HARD_SIGMOID, 0, 0, SPELLINGS("x 0.2 * 0.5 + relu1", "0.25 0.3 x * + relu1")},
        {NNRT_NODE_TYPE_HARD_SIGMOID, 0, 1e-6, SPELLINGS("x 5 / 0.5 + relu1")},
        {NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_HSWISH, 1e-6,
         SPELLINGS("x x 3 + relu6 * 6 /", "3 x + relu6 x * 6 /", "x x 3 + relu6 6 / *", "x 6 / x 3 + relu6 *",
                   "x 3 + relu6 0.16666667 x * *", "0.16666667 x x 3 + relu6 * *", "x x hsigmoid *", "x hsigmoid x *",
                   "x x 3 + relu6 0.16666667 * *", "x 6 / 0.5 + relu1 x *")},
        {NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_GELU, 1e-6,
         SPELLINGS("x x 1.41421356 / erf 1 + * 0.5 *", "x 0.5 * x 1.41421356 / erf 1 + *",
                   "x 1 x 0.70710678 * erf + 0.5 * *", "0.5 x * 1 0.7071068 x * erf + *",
                   "0.5 x x 1.4142135 / erf 1 + * *", "x 2 / x 1.41421356 / erf 1 + *")},
        {NNRT_NODE_TYPE_ACTIVATION, NNRT_ACTIVATION_TYPE_GELU, 1e-6, /* its tanh form */
         SPELLINGS("0.5 x * x x 3 pow 0.044715 * + 0.7978845608 * tanh 1 + *",
                   "x 1 0.7978846 0.044715 x 3 pow * x + * tanh + * 0.5 *",
                   "0.5 x * x 0.044715 x * x * x * + 0.79788456 * tanh 1 + *",
                   "0.5 x * x x x x * * 0.044715 * + 0.79788456 * tanh 1 + *",
                   "0.5 x * x 0.79788456 * 0.044715 x * x * 1 + * tanh 1 + *")},
        {NNRT_NODE_TYPE_LAYER_NORM_FUSION, 0, TOLERANCE,
         SPELLINGS(NORM DEVIATION "sqrt /", NORM "D square mean 1e-5 + sqrt /", NORM "D 2 pow mean 1e-5 + sqrt /",
                   NORM DEVIATION "rsqrt *", NORM DEVIATION "sqrt recip *", NORM "1 " DEVIATION "sqrt / *",
                   "x x mean - x x mean - 2 pow mean 1e-5 + sqrt /", "x x mean M= sqdiff mean 1e-5 + rsqrt x M - *",
                   "x mean M= x sqdiff mean 1e-5 + rsqrt x M - *")},
        {NNRT_NODE_TYPE_LAYER_NORM_FUSION, 0, TOLERANCE,
         SPELLINGS(NORM DEVIATION "sqrt / g * h +", "h g " NORM DEVIATION "sqrt / * +",
                   NORM DEVIATION "rsqrt g * * h +", NORM "g * " DEVIATION "sqrt / h +",
                   NORM DEVIATION "sqrt recip * g * h +",
                   "x mean M= x sqdiff mean 1e-5 + rsqrt g * R= x * h M R * - +")},
        {NNRT_NODE_TYPE_RMS_NORMALIZATION, 0, TOLERANCE,
         SPELLINGS("x x 2 pow mean 1e-5 + sqrt /", "x x x * mean 1e-5 + rsqrt *", "x 1 x square mean 1e-5 + sqrt / *",
                   "x x square mean 1e-5 + sqrt recip *", "x x 2 pow mean 1e-5 + sqrt / g *",
                   "g x x x * mean 1e-5 + rsqrt * *", "x x x * mean 1e-5 + rsqrt g * *",
                   "x g * x x * mean 1e-5 + sqrt /")},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(chains); i++)
        for (uint32_t k = 0; chains[i].spellings[k] != NULL; k++) {
            nnrt_builder *b = begin(NULL);
            NNRT_Model *m;
            nnrt_builder_output(b, add_chain(b, chains[i].spellings[k], input(b, "x", 4, 3, 8, 0)));
            m = optimized(b, 1, chains[i].tolerance, NULL);
            assert_int_equal(m->nodes.data[0].nodeType, chains[i].type);
            if (chains[i].type == NNRT_NODE_TYPE_ACTIVATION)
                assert_int_equal(((const NNRT_Activation *)m->nodes.data[0].nodeAttr.data)->activationType,
                                 chains[i].activation);
            nnrt_model_destroy(m);
        }
}

/* Operators whose cost is their multiplications, or their windows, of constants: each becomes a constant, an operand of ADD. */
static void test_fold_products(void **state)
{
    static const int64_t two[] = {2, 2}, one[] = {1, 1};
    nnrt_builder *b = begin(NULL);
    NNRT_AvgPoolFusion average;
    NNRT_MaxPoolFusion most;
    const uint32_t x = input(b, "x", 1, 0, 0, 0);
    uint32_t in[2], made[6];
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("AVGPOOL_FUSION")->attr, &average);
    nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &most);
    average.kernelSize = most.kernelSize = nnrt_int64_list(two, 2);
    average.strides = most.strides = nnrt_int64_list(one, 2);
    in[0] = numbers(b, 0, 1, 4, 4, 2);
    in[1] = numbers(b, 0, 3, 2, 2, 2);
    made[0] = op2(b, NNRT_NODE_TYPE_CONV2D_FUSION, in[0], in[1]);
    made[1] = op2(b, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, in[0], in[1]);
    made[2] = add_op(b, NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, in, 1);
    made[3] = add_op(b, NULL, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, in, 1);
    made[4] = op2(b, NNRT_NODE_TYPE_FULL_CONNECTION, numbers(b, 0, 2, 4, 0, 0), numbers(b, 0, 3, 4, 0, 0));
    made[5] = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, numbers(b, 0, 2, 4, 0, 0), numbers(b, 0, 4, 5, 0, 0));
    for (uint32_t i = 0; i < 6; i++)
        nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, made[i]));
    expect(b, 6, 0);
}

/* Chains that compute something else keep their nodes, and their bits; only activations are fused. */
static void test_no_chains(void **state)
{
    static const struct {
        const char *text;
        uint32_t nodes;
        double tolerance;
    } chains[] = {
        {"x x abs sigmoid *", 3, 0},         /* the gate of another value */
        {"x x sigmoid S= * S abs +", 4, 0},  /* a gate with another reader */
        {"x x sigmoid out *", 2, 0},         /* a gate that is an output */
        {"x x 1.702 * sigmoid *", 2, 0},     /* no operator computes it */
        {"x x 3 + relu6 * 5.99999 /", 3, 0}, /* other constants */
        {"x x 2.99999 + relu6 * 6 /", 3, 0},
        {"x x 3 + relu6 * relu 6 /", 3, 0}, /* an activation between */
        {"6 x x 3 + relu6 * /", 3, 0},      /* the inverse */
        {"x x 3 + relu * 6 /", 3, 0},       /* another limit */
        {"x 0.2 * 0.5 + relu6", 2, 0},
        {"x g * 0.5 + relu1", 2, 0}, /* a slope per column */
        {"x x 1.41421 / erf 1 + * 0.5 *", 5, 0},
        {"x x 1.41421356 / erf 1 + * 0.499999 *", 5, 0},
        {"x x 1.41421356 / erf 2 + * 0.5 *", 5, 0},
        {"x x 1.41421356 / erf 1 + E= * 0.5 * E +", 6, 0},
        {"x x abs 1.41421356 / erf 1 + * 0.5 *", 6, 0},
        {"0.5 x * x x 3 pow 0.0447 * + 0.79788456 * tanh 1 + *", 7, 0},
        {"0.5 x * x x 2 pow 0.044715 * + 0.79788456 * tanh 1 + *", 7, 0},
        {"x x mean0 - D= D D * mean0 1e-5 + sqrt /", 7, 0},    /* not the last axis */
        {"x x mean - D= D D * mean0 1e-5 + sqrt /", 7, 0},     /* two axes */
        {"x x mean - D= D abs D * mean 1e-5 + sqrt /", 8, 0},  /* not a square */
        {"x x mean - D= D D * mean g + sqrt /", 7, 0},         /* an epsilon per column */
        {"x x mean - D= D D * mean -1e-5 + sqrt / 0 *", 8, 0}, /* an epsilon below 0 */
        {"x x mean - D= D D * mean 1e-5 + sqrt out /", 7, 0},
        {"x mean x - D= D D * mean 1e-5 + sqrt /", 3, TOLERANCE}, /* the other difference: RMS_NORMALIZATION of it */
        {"x x mean - D= D D * mean 1e-5 + sqrt / w * h +", 3, TOLERANCE}, /* shapes of gamma: LAYER_NORM, MUL, ADD */
        {"x x mean - D= D D * mean 1e-5 + sqrt / g * 0.5 +", 3, TOLERANCE},
        {"x x x * mean 1e-5 + sqrt / w *", 2, TOLERANCE},
        {"x x abs x * mean 1e-5 + sqrt /", 6, 0},
        {"x x x * most 1e-5 + sqrt /", 5, 0}, /* not a mean */
        {"x x x * meanend 1e-5 + sqrt /", 5, 0},
        {"x x twice2 mean 1e-5 + sqrt /", 5, 0},
        {"x x mean12 - D= D D * mean 1e-5 + sqrt /", 7, 0}, /* two axes, then one */
        {"x x x * mean12 1e-5 + sqrt /", 1, TOLERANCE},     /* RMS_NORMALIZATION over two axes */
        {"x g * 6 /", 2, 0},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(chains); i++) {
        nnrt_builder *b = begin(NULL);
        nnrt_builder_output(b, add_chain(b, chains[i].text, input(b, "x", 4, 3, 8, 0)));
        expect(b, chains[i].nodes, chains[i].tolerance);
    }
}

/* Dynamic dimensions: gamma and beta apply only if the normalized axis is known; a number of more axes than x adds
   axes. Without NNRT_PASS_CHAINS nothing becomes an operator. */
static void test_chain_shapes(void **state)
{
    static const char *const texts[] = {NORM DEVIATION "sqrt / g * h +", "x x 3 + relu6 * 6 /",
                                        "x x x * mean 1e-5 + sqrt /"};
    static const int32_t rows[] = {-1, 8}, columns[] = {4, -1}, ones[] = {1, 1};
    const nnrt_dims rowsOf8 = {2, {4, 8}}, eight = {1, {8}};
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = kind < 2 || kind == 5 ? nnrt_builder_input(b, "x", F32, 2, kind == 0 ? rows : columns)
                                                 : input(b, "x", 8, 0, 0, 0);
        const float three = 3;
        nnrt_optimize_desc desc;
        nnrt_error error;
        NNRT_Model *m = NULL;
        if (kind == 2) {
            const uint32_t c = nnrt_builder_constant(b, NULL, F32, 2, ones, &three, true);
            const uint32_t gate = activation(b, NNRT_ACTIVATION_TYPE_RELU6, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, c));
            nnrt_builder_output(
                b, op2(b, NNRT_NODE_TYPE_DIV_FUSION, op2(b, NNRT_NODE_TYPE_MUL_FUSION, x, gate), number(b, 6)));
            expect(b, 3, 0);
            continue;
        }
        nnrt_builder_output(b, add_chain(b, texts[kind < 2 ? 0 : kind == 5 ? 2 : 1], x));
        if (kind != 3) {
            nnrt_model_destroy(optimized(b, kind == 1 ? 3 : 1, TOLERANCE, kind == 4 ? &eight : &rowsOf8));
            continue;
        }
        memset(&desc, 0, sizeof(desc));
        desc.without = NNRT_PASS_CHAINS;
        assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_model_optimize(&m, &desc, &error), NNRT_SUCCESS);
        assert_int_equal(m->nodes.count, 3); /* RELU6 is fused into the ADD */
        nnrt_model_destroy(m);
    }
}

/* RESHAPE to [N,groups,-1], INSTANCE_NORM, RESHAPE back, MUL and ADD per channel, channels first, is GROUP_NORM_FUSION.
   Not: if the channels are last, also of the view alone, scale and bias of INSTANCE_NORM are not 1 and 0, the images are
   joined, the groups do not divide the channels, or the factor varies over the image. */
static void test_group_norm(void **state)
{
    static const int32_t dims[] = {2, 8, 3, 4}, column[] = {8, 1, 1}, image[] = {8, 3, 1}, open[] = {-1, 8, 3, 4};
    const nnrt_dims shape = {4, {2, 8, 3, 4}};
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        nnrt_builder *b = begin(NULL);
        const NNRT_Format format = kind == 2 ? NNRT_FORMAT_NHWC : NNRT_FORMAT_NCHW;
        const NNRT_Format view = kind == 8 ? NNRT_FORMAT_NHWC : format;
        const int32_t groups = kind == 5 || kind == 6 ? 16 : 4, size = view == NNRT_FORMAT_NHWC ? 24 : groups;
        const uint32_t x = nnrt_builder_input(b, "x", F32, 4, kind == 1 ? open : dims);
        float values[24], ones[24], zeros[24];
        uint32_t in[3], y;
        NNRT_Model *m;
        for (int i = 0; i < 24; i++) {
            ones[i] = kind == 3 && i == 1 ? 1.5f : 1;
            zeros[i] = kind == 4 && i == 1 ? 0.5f : 0;
            values[i] = 0.5f + (float)i / 8;
        }
        nnrt_builder_format(b, x, format);
        in[0] = op2(b, NNRT_NODE_TYPE_RESHAPE, x, kind == 5 ? ints(b, 3, 1, 16, -1, 0) : ints(b, 3, 0, groups, -1, 0));
        nnrt_builder_format(b, in[0], view);
        in[1] = nnrt_builder_constant(b, NULL, F32, 1, &size, ones, true);
        in[2] = nnrt_builder_constant(b, NULL, F32, 1, &size, zeros, true);
        y = add_op(b, NULL, NNRT_NODE_TYPE_INSTANCE_NORM, NULL, in, 3);
        nnrt_builder_format(b, y, view);
        y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 4, kind == 1 ? -1 : 2, 8, 3, 4));
        nnrt_builder_format(b, y, format);
        y = op2(b, NNRT_NODE_TYPE_MUL_FUSION, y,
                nnrt_builder_constant(b, NULL, F32, 3, kind == 7 ? image : column, values, true));
        y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, nnrt_builder_constant(b, NULL, F32, 3, column, values, true), y);
        nnrt_builder_format(b, y, format);
        nnrt_builder_output(b, y);
        m = optimized(b, kind < 2 ? 1 : 5, kind < 2 ? TOLERANCE : 0, &shape);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_GROUP_NORM_FUSION), kind < 2);
        nnrt_model_destroy(m);
    }
}

/* HARD_SIGMOID of a convolution is in its weight, bias and limits. */
static void test_fold_hard_sigmoid(void **state)
{
    NNRT_HardSigmoid a;
    (void)state;
    a.alpha = 0.2f;
    a.beta = 0.5f;
    for (int kind = 0; kind < 3; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = kind == 1 ? input(b, "x", 3, 5, 0, 0) : input(b, "x", 1, 4, 4, 4);
        const uint32_t y = kind == 1 ? full(b, x, 5, false) : conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
        NNRT_Model *m;
        if (kind == 2)
            nnrt_builder_output(b, y);
        nnrt_builder_output(b, add_op(b, NULL, NNRT_NODE_TYPE_HARD_SIGMOID, &a, &y, 1));
        m = optimized(b, kind == 2 ? 2 : 1, kind == 2 ? 0 : TOLERANCE, NULL);
        if (kind == 0)
            assert_int_equal(((const NNRT_Conv2DFusion *)m->nodes.data[0].nodeAttr.data)->activationType,
                             NNRT_ACTIVATION_TYPE_RELU1);
        nnrt_model_destroy(m);
    }
}

/* MUL, ADD before convolutions: folded into those without padding, before others the factor only; also if one of each
   reads the sum, and with dynamic sizes. Not: if two with padding or another node read the sum, or if the factor is 0.
   */
static void test_two_before(void **state)
{
    static const int32_t open[] = {1, -1, -1, 4}, run[] = {1, 4, 4, 4};
    const nnrt_dims shape = {4, {1, 4, 4, 4}};
    static const int64_t one[] = {1, 1};
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        static const uint32_t left[] = {1, 2, 3, 4, 4, 2, 2, 3, 2};
        nnrt_builder *b = begin(NULL);
        const uint32_t x = nnrt_builder_input(b, "x", F32, 4, kind == 5 ? open : run);
        const uint32_t factor = kind == 6 ? numbers(b, 0.5f, 4, 0, 0, 0) : number(b, kind == 7 ? 0.0f : 0.7f);
        const uint32_t product = op2(b, NNRT_NODE_TYPE_MUL_FUSION, factor, x);
        const uint32_t y =
            op2(b, kind == 8 ? NNRT_NODE_TYPE_SUB_FUSION : NNRT_NODE_TYPE_ADD_FUSION, product, number(b, -0.4f));
        NNRT_Model *m;
        for (int i = 0; i < (kind == 2 || kind == 3 ? 2 : 1); i++) {
            uint32_t in[2];
            NNRT_Conv2DFusion a;
            nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
            a.stride = a.dilation = nnrt_int64_list(one, 2);
            a.padMode = kind == 0 || (kind == 2 && i == 1) ? NNRT_PAD_MODE_VALID : NNRT_PAD_MODE_SAME;
            in[0] = y;
            in[1] = numbers(b, 0, 6, 3, 3, 4);
            nnrt_builder_output(b, add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 2));
        }
        if (kind == 4)
            nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_ABS, y));
        m = optimized(b, left[kind], kind == 4 ? 0 : TOLERANCE, &shape);
        if (kind == 1)
            assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_MUL_FUSION), 0);
        nnrt_model_destroy(m);
    }
}

/* RELU before RELU6 or RELU1, as PyTorch writes ReLU6, is that limit alone; no other pair is one activation. */
static void test_fuse_limits(void **state)
{
    static const NNRT_ActivationType pairs[][2] = {{NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_RELU6},
                                                   {NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_RELU1},
                                                   {NNRT_ACTIVATION_TYPE_RELU6, NNRT_ACTIVATION_TYPE_RELU},
                                                   {NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_TANH}};
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(pairs); i++) {
        nnrt_builder *b = begin(NULL);
        const NNRT_ActivationType *pair = pairs[i / 2];
        const uint32_t x = input(b, "x", 1, 4, 4, 4);
        const uint32_t y = i % 2 == 0 ? conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION) : x;
        NNRT_Model *m;
        bool has;
        nnrt_builder_output(b, activation(b, pair[1], activation(b, pair[0], y)));
        m = optimized(b, i < 4 ? 1 : 2, 0, NULL);
        assert_int_equal(nnrti_activation_of(&m->nodes.data[0], &has), pair[i < 4 ? 1 : 0]);
        nnrt_model_destroy(m);
    }
}

/* MUL, ADD or SUB of constants before a convolution change its weight and bias; a summand only if the convolution has no
   padding. Not: if the product is an output, has an activation, or the constant varies over the image. */
static void test_before(void **state)
{
    static const int64_t one[] = {1, 1};
    (void)state;
    for (int kind = 0; kind < 11; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = input(b, "x", 1, 4, 4, 4);
        const NNRT_NodeType types[] = {NNRT_NODE_TYPE_MUL_FUSION, NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION};
        const NNRT_NodeType type = types[kind < 3 ? 0 : kind < 5 ? 1 : kind < 7 ? 2 : 0];
        const uint32_t by = kind == 1 || kind == 4 ? number(b, 0.7f) : kind == 9 ? numbers(b, 0, 4, 4, 0, 0) : numbers(b, 0, 4, 0, 0, 0);
        const uint32_t pair[2] = {kind % 2 == 0 ? x : by, kind % 2 == 0 ? by : x};
        uint32_t in[3], y;
        NNRT_Conv2DFusion a;
        NNRT_MulFusion binary;
        memset(&binary, 0, sizeof(binary));
        binary.activationType = kind == 8 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        y = add_op(b, NULL, type, &binary, pair, 2);
        if (kind == 7)
            nnrt_builder_output(b, y);
        nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
        a.stride = a.dilation = nnrt_int64_list(one, 2);
        a.padMode = kind < 3 || kind == 10 ? NNRT_PAD_MODE_SAME : NNRT_PAD_MODE_VALID;
        a.group = kind == 2 || kind == 5 ? 2 : 1;
        in[0] = y;
        in[1] = numbers(b, 0, 6, 3, 3, 4 / (int32_t)a.group);
        in[2] = kind % 3 == 0 ? NNRT_NO_TENSOR : numbers(b, 0, 6, 0, 0, 0);
        if (kind == 10) /* a summand before padding stays */
            in[0] = op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, by);
        nnrt_builder_output(b, add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 3));
        expect(b, kind < 7 ? 1 : 2, 1e-5);
    }
}

/* In float16 the node before rounds the input of the activation: a fused one would round only once. Same bits, and fused if
   rounding before or after it is the same. */
static void test_fuse_float16(void **state)
{
    (void)state;
    for (NNRT_ActivationType type = 0; type < NNRT_ACTIVATION_TYPE_UNKNOWN; type++) {
        const bool goes = type == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || type == NNRT_ACTIVATION_TYPE_LINEAR ||
                          type == NNRT_ACTIVATION_TYPE_RELU || type == NNRT_ACTIVATION_TYPE_RELU6 ||
                          type == NNRT_ACTIVATION_TYPE_RELU1 || type == NNRT_ACTIVATION_TYPE_ABS;
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 8, 64, 0, 0), half[2], y;
        half[0] = nnrt_builder_tensor(b, NULL);
        nnrt_builder_declare(b, half[0], NNRT_DATA_TYPE_FLOAT16, NNRT_RANK_UNKNOWN, NULL);
        add_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &x, 1, &half[0], 1);
        y = activation(b, type, op2(b, NNRT_NODE_TYPE_SUB_FUSION, op2(b, NNRT_NODE_TYPE_MUL_FUSION, half[0], half[0]), half[0]));
        half[1] = nnrt_builder_tensor(b, NULL);
        nnrt_builder_declare(b, half[1], F32, NNRT_RANK_UNKNOWN, NULL);
        add_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &y, 1, &half[1], 1);
        nnrt_builder_output(b, half[1]);
        expect(b, goes ? 4 : 5, 0);
    }
}

static void test_fuse_not(void **state)
{
    const NNRT_ActivationType none = NNRT_ACTIVATION_TYPE_NO_ACTIVATION, relu = NNRT_ACTIVATION_TYPE_RELU;
    NNRT_Activation gelu;
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 1, 4, 4, 4), y;
    (void)state;
    y = conv(b, x, 1, true, none); /* a second user */
    nnrt_builder_output(b, activation(b, relu, y));
    nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, y));
    expect(b, 3, 0);

    b = begin(NULL); /* an output */
    x = input(b, "x", 1, 4, 4, 4);
    y = conv(b, x, 1, true, none);
    nnrt_builder_output(b, y);
    nnrt_builder_output(b, activation(b, relu, y));
    expect(b, 2, 0);

    b = begin(NULL); /* there is one already */
    x = input(b, "x", 1, 4, 4, 4);
    nnrt_builder_output(b, activation(b, NNRT_ACTIVATION_TYPE_TANH, conv(b, x, 1, true, relu)));
    expect(b, 2, 0);

    b = begin(NULL); /* the tanh form of GELU; two activations in a row */
    x = input(b, "x", 1, 4, 4, 4);
    memset(&gelu, 0, sizeof(gelu));
    gelu.activationType = NNRT_ACTIVATION_TYPE_GELU;
    gelu.approximate = true;
    y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, x);
    y = add_op(b, NULL, NNRT_NODE_TYPE_ACTIVATION, &gelu, &y, 1);
    nnrt_builder_output(b, activation(b, relu, y));
    expect(b, 3, 0);

    b = begin(NULL); /* integers; but not because of the order of axes, which the activation does not change */
    x = input(b, "x", 1, 4, 4, 4);
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_INT32, NNRT_RANK_UNKNOWN, NULL);
    add_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &x, 1, &y, 1);
    nnrt_builder_output(b, activation(b, relu, op2(b, NNRT_NODE_TYPE_ADD_FUSION, y, y)));
    expect(b, 3, 0);
    b = begin(NULL);
    x = input(b, "x", 1, 4, 4, 4);
    nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
    y = activation(b, relu, conv(b, x, 1, true, none));
    nnrt_builder_output(b, norm(b, op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 2, -1, 6, 0, 0))));
    expect(b, 3, 0);
}

/* ---- whole models ---- */

/* Inputs without shapes: optimizations that need none are still done, and the model runs at any size. */
static void test_open_inputs(void **state)
{
    const int32_t dims[] = {-1, -1, -1, 4}, sizes[][4] = {{1, 3, 5, 4}, {3, 6, 4, 4}};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = nnrt_builder_input(b, "x", F32, 4, dims), y, c;
        nnrt_dims shape;
        NNRT_Model *m;
        shape.rank = 4;
        memcpy(shape.dims, sizes[i], sizeof(sizes[i]));
        y = norm(b, conv(b, x, 2, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION));
        y = activation(b, NNRT_ACTIVATION_TYPE_RELU, y);
        y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 1, -1, 0, 0, 0));
        y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 2, -1, 6, 0, 0));
        y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 2, 0, 1, 0, 0));
        c = op2(b, NNRT_NODE_TYPE_ADD_FUSION, numbers(b, 0, 6, 0, 0, 0), numbers(b, 0, 6, 0, 0, 0));
        nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_MAXIMUM, y, c));
        m = optimized(b, 3, TOLERANCE, &shape);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_CONV2D_FUSION), 1);
        nnrt_model_destroy(m);
    }
}

/* The layout is known without shapes: a convolution of NCHW images gives NCHW, which later nodes inherit. */
static void test_open_format(void **state)
{
    const int32_t dims[] = {-1, 4, 6, 6};
    nnrt_builder *b = begin(NULL);
    uint32_t x = nnrt_builder_input(b, "x", F32, 4, dims);
    nnrt_dims shape;
    (void)state;
    nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
    shape.rank = 4;
    memcpy(shape.dims, dims, sizeof(dims));
    shape.dims[0] = 2;
    x = activation(b, NNRT_ACTIVATION_TYPE_RELU, conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION));
    nnrt_builder_output(b, norm(b, x));
    nnrt_model_destroy(optimized(b, 2, 0, &shape));
}

/* Two convolutions with layout-agnostic operators between them, where channels, height and width are equal: by hand, NCHW
   images give the same results as NHWC images, in the other order. */
static void test_formats_travel(void **state)
{
    static float in[2][64], out[2][8 * 64];
    (void)state;
    for (uint32_t last = 0; last < 2; last++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 1, 4, 4, 4), sides[2];
        nnrt_session *session = NULL;
        NNRT_Model *m = NULL;
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        nnrt_builder_format(b, x, last != 0 ? NNRT_FORMAT_NHWC : NNRT_FORMAT_NCHW);
        for (uint32_t i = 0; i < 64; i++) { /* h, w, c = i / 16, i / 4 % 4, i % 4 */
            const uint32_t at = last != 0 ? i : i % 4 * 16 + i / 16 * 4 + i / 4 % 4;
            in[last][at] = (float)(i * 37 % 41) / 20 - 1;
        }
        x = conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
        sides[0] = activation(b, NNRT_ACTIVATION_TYPE_TANH, x);
        sides[1] = op2(b, NNRT_NODE_TYPE_MAXIMUM, x, sides[0]);
        x = add_op(b, NULL, NNRT_NODE_TYPE_MUL_FUSION, NULL, sides, 2);
        nnrt_builder_output(b, norm(b, x));
        if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS ||
            nnrt_session_create(&session, m, NULL, &error) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        assert_int_equal(nnrt_session_output(session, 0).bytes, 6 * 16 * 4);
        {
            nnrt_io x0 = nnrt_io_make(in[last], sizeof(in[last])), y0 = nnrt_io_make(out[last], 6 * 16 * 4);
            assert_int_equal(nnrt_run(session, &x0, 1, &y0, 1), NNRT_SUCCESS);
        }
        nnrt_session_destroy(session);
        nnrt_model_destroy(m);
        nnrt_builder_destroy(b);
    }
    for (uint32_t i = 0; i < 6 * 16; i++)
        assert_true(out[1][i] == out[0][i % 6 * 16 + i / 6]);
}

/* An invalid model is refused, and is unchanged. */
static void test_refused(void **state)
{
    nnrt_builder *b = begin_unchecked();
    uint32_t x = input(b, "x", 2, 3, 0, 0);
    NNRT_Model *m, *was;
    nnrt_error error;
    (void)state;
    nnrt_builder_output(
        b, add_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, (uint32_t[]){x, numbers(b, 0, 4, 0, 0, 0)}, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    was = m;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_optimize(&m, NULL, &error), NNRT_INVALID_SHAPE);
    assert_int_equal(error.code, NNRT_INVALID_SHAPE);
    assert_int_equal(error.node, 0);
    assert_non_null(strstr(error.message, "'sum'"));
    assert_ptr_equal(m, was);
    assert_int_equal(m->nodes.count, 1);
    nnrt_model_destroy(m);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_optimize(NULL, NULL, &error), NNRT_NULL_PTR);
    m = NULL;
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_NULL_PTR);
}

/* A model with something for every pass. */
static void everything(nnrt_builder *b)
{
    uint32_t x = input(b, "x", 1, 6, 6, 4), y, z;
    y = activation(b, NNRT_ACTIVATION_TYPE_RELU, norm(b, conv(b, x, 1, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION)));
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 1, -1, 0, 0, 0)),
            ints(b, 2, 0, 1, 0, 0));
    y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 2, 36, 6, 0, 0));
    y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 2, 1, 0, 0, 0)),
            ints(b, 2, 1, 0, 0, 0));
    z = op2(b, NNRT_NODE_TYPE_MUL_FUSION, numbers(b, 0, 6, 300, 0, 0), numbers(b, 0, 300, 0, 0, 0));
    z = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, y, z);
    z = op2(b, NNRT_NODE_TYPE_ADD_FUSION, z, numbers(b, 0, 1, 300, 0, 0));
    nnrt_builder_output(b, copy_of(b, 10, activation(b, NNRT_ACTIVATION_TYPE_TANH, z)));
    (void)op1(b, NNRT_NODE_TYPE_SQRT, y);
}

/* ---- memory ---- */

/* Allocation n fails, for all n until none does: the code, a message, the model as it was, and nothing stays. */
static void without_memory_for(void (*make)(nnrt_builder *b), const nnrt_optimize_desc *desc)
{
    uint32_t failures = 0;
    for (uint32_t n = 1;; n++) {
        trial t;
        nnrt_allocator a;
        nnrt_builder *b;
        NNRT_Model *m, *was;
        nnrt_error error;
        NNRT_ReturnCode code;
        bool met;
        a = trial_allocator(&t);
        memset(&error, 0, sizeof(error));
        b = begin(&a);
        make(b);
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_int_equal(t.live, 1);
        was = m;
        t.calls = 0;
        t.failing = n;
        code = nnrt_model_optimize(&m, desc, &error);
        met = t.calls >= n;
        assert_int_equal(code, met ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
        assert_int_equal(error.code, code);
        assert_true(!met || strlen(error.message) > 10);
        assert_true(met == (m == was));
        assert_int_equal(t.live, met ? 1 : 2);
        nnrt_model_destroy(m);
        assert_int_equal(t.live, 0);
        if (!met)
            break;
        failures++;
    }
    assert_true(failures > 100);
}

static void without_memory(void (*make)(nnrt_builder *b))
{
    without_memory_for(make, NULL);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    without_memory(everything);
}

/* Small blocks share pieces of 8 KiB: the graph is grown in steps of 16 bytes, so that every small block becomes the
   one that needs a new piece, and that piece is not to be had. */
static void test_out_of_pieces(void **state)
{
    uint32_t failures = 0;
    (void)state;
    for (uint32_t fill = 0; fill < 512; fill++)
        for (uint32_t n = 1;; n++) {
            trial t;
            nnrt_allocator a;
            nnrt_builder *b;
            NNRT_Model *m, *was;
            nnrt_error error;
            uint32_t many[256], x;
            bool met;
            a = trial_allocator(&t);
            memset(&error, 0, sizeof(error));
            b = begin(&a);
            everything(b);
            x = input(b, "filler", 1, 0, 0, 0);
            for (uint32_t i = 0; i < COUNT(many); i++)
                many[i] = x;
            nnrt_builder_output(
                b, add_op(b, NULL, NNRT_NODE_TYPE_CONCAT, NULL, many, (fill % 64 + 1) * 4)); /* 16..1024 B */
            for (uint32_t i = 0; i < fill / 64; i++)
                nnrt_builder_output(b, add_op(b, NULL, NNRT_NODE_TYPE_CONCAT, NULL, many, 256));
            assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
            nnrt_builder_destroy(b);
            was = m;
            t.pieces = n;
            met = nnrt_model_optimize(&m, NULL, &error) != NNRT_SUCCESS;
            assert_true(met == (m == was));
            assert_int_equal(error.code, met ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
            assert_true(met == (t.seen >= n));
            assert_int_equal(t.live, met ? 1 : 2);
            nnrt_model_destroy(m);
            assert_int_equal(t.live, 0);
            if (!met)
                break;
            failures++;
        }
    print_message("out of pieces: %u failures\n", failures);
    assert_true(failures > 512);
}

static void test_everything(void **state)
{
    nnrt_builder *b = begin(NULL);
    NNRT_Model *m;
    (void)state;
    everything(b);
    m = optimized(b, 3, TOLERANCE, NULL); /* CONV2D_FUSION, RESHAPE, MATMUL_FUSION */
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_CONV2D_FUSION), 1);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_RESHAPE), 1);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_MATMUL_FUSION), 1);
    nnrt_model_destroy(m);
}

/* Random graphs over images of [1,4,4,6] and rows of 6 in which all that passes look for is frequent. */
static void test_random(void **state)
{
    uint32_t before = 0, after = 0;
    (void)state;
    for (uint32_t trial_ = 1; trial_ <= 400; trial_++) {
        static outcome was, is;
        nnrt_builder *b = begin(NULL);
        uint32_t out[4], pool[64], n = 0, x;
        NNRT_Model *m;
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        seed = trial_ * 7919u;
        pool[n++] = x = input(b, "x", 1, 4, 4, 6);
        pool[n++] = numbers(b, 0, 1, 4, 4, 6);
        while (n < 16) {
            const uint32_t p = pool[n - 1 - random_below(random_below(2) ? 1 : n)], q = pool[random_below(n)];
            const int32_t swap = (int32_t)random_below(2);
            uint32_t y;
            switch (random_below(11)) {
            case 0: y = follower(b, random_below(10), p, 4, false); break;
            case 1: y = activation(b, (NNRT_ActivationType)random_below(20), p); break;
            case 2: y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, p, q); break;
            case 3:
                y = op2(b, NNRT_NODE_TYPE_RESHAPE, op2(b, NNRT_NODE_TYPE_RESHAPE, p, ints(b, 2, 0, -1, 0, 0)),
                        ints(b, 4, 1, 4, 4, 6));
                break;
            case 4: y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, p, ints(b, 4, 0, 1 + swap, 2 - swap, 3)); break;
            case 5: y = op3(b, NNRT_NODE_TYPE_SLICE_FUSION, p, ints(b, 4, 0, 0, 0, 0), ints(b, 4, 1, 4, -1, 6)); break;
            case 6: y = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, p, numbers(b, 0, 6, 6, 0, 0)); break;
            case 7: y = op2(b, NNRT_NODE_TYPE_RESHAPE, full(b, p, 6, swap == 1), ints(b, 4, 1, 4, 4, 6)); break;
            case 8: y = op2(b, NNRT_NODE_TYPE_MAXIMUM, p, q); break;
            default: {
                const int64_t one[] = {1, 1};
                uint32_t in[3];
                NNRT_Conv2DFusion a;
                nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
                a.stride = a.dilation = nnrt_int64_list(one, 2);
                a.padMode = NNRT_PAD_MODE_SAME;
                in[0] = p;
                in[1] = numbers(b, 0, 6, 1, 1, 6);
                in[2] = numbers(b, 0, 6, 0, 0, 0);
                y = add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, swap ? 3 : 2);
                break;
            }
            }
            pool[n++] = activation(b, NNRT_ACTIVATION_TYPE_SOFTSIGN, y); /* keeps the numbers small */
            if (random_below(3) > 0)
                pool[n - 1] = y;
        }
        for (uint32_t i = 0; i < 4; i++) { /* each once */
            uint32_t k = 0;
            out[i] = pool[i == 0 ? n - 1 : random_below(n)];
            while (out[k] != out[i])
                k++;
            if (k == i)
                nnrt_builder_output(b, out[i]);
        }
        if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
            fail_msg("graph %u: %s", trial_, error.message);
        nnrt_builder_destroy(b);
        run(m, NULL, &was);
        before += m->nodes.count;
        if (nnrt_model_optimize(&m, NULL, &error) != NNRT_SUCCESS)
            fail_msg("graph %u: %s", trial_, error.message);
        after += m->nodes.count;
        run(m, NULL, &is);
        compare(&was, &is, 20 * TOLERANCE); /* chains of up to 14 sums */
        nnrt_model_destroy(m);
    }
    print_message("random graphs: %u nodes became %u\n", before, after);
    assert_true(after < before / 2);
}

/* ---- subgraphs ---- */

static uint32_t truth(nnrt_builder *b, bool value)
{
    return nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_BOOL, 0, NULL, &value, true);
}

/* A branch that gives y, entered until the caller enters another graph. */
static uint32_t branch(nnrt_builder *b)
{
    const uint32_t g = nnrt_builder_graph(b, NULL);
    nnrt_builder_enter(b, g);
    return g;
}

static void gives(nnrt_builder *b, uint32_t g, uint32_t y)
{
    nnrt_builder_graph_io(b, g, NULL, 0, &y, 1);
}

/* y = relu(x) where cond, else relu(x * x * 3): the constants of 3 are computed from others. */
static uint32_t either(nnrt_builder *b, uint32_t cond, uint32_t x)
{
    NNRT_If a;
    uint32_t three;
    a.thenGraph = branch(b);
    gives(b, a.thenGraph, activation(b, NNRT_ACTIVATION_TYPE_RELU, x));
    a.elseGraph = branch(b);
    three = op2(b, NNRT_NODE_TYPE_ADD_FUSION, numbers(b, 1, 1, 0, 0, 0), numbers(b, 1, 1, 0, 0, 0));
    gives(b, a.elseGraph,
          activation(b, NNRT_ACTIVATION_TYPE_RELU,
                     op2(b, NNRT_NODE_TYPE_MUL_FUSION, op2(b, NNRT_NODE_TYPE_MUL_FUSION, x, x), three)));
    nnrt_builder_enter(b, 0);
    return add_op(b, "either", NNRT_NODE_TYPE_IF, &a, &cond, 1);
}

/* v = relu(v + c + sum), trips times, sum computed from constants; the scan is v * c. */
static void repeated(nnrt_builder *b, uint32_t trips, uint32_t x, uint32_t c, uint32_t out[2])
{
    NNRT_Loop a;
    const uint32_t in[3] = {trips, NNRT_NO_TENSOR, x};
    uint32_t ins[3], outs[3], sum;
    a.body = branch(b);
    for (uint32_t i = 0; i < 3; i++)
        ins[i] = nnrt_builder_tensor(b, NULL);
    sum = op1(b, NNRT_NODE_TYPE_SQRT, numbers(b, 0.5f, 1, 0, 0, 0));
    outs[0] = ins[1];
    outs[1] = activation(b, NNRT_ACTIVATION_TYPE_RELU,
                         op2(b, NNRT_NODE_TYPE_ADD_FUSION, op2(b, NNRT_NODE_TYPE_ADD_FUSION, ins[2], c), sum));
    outs[2] = op2(b, NNRT_NODE_TYPE_MUL_FUSION, outs[1], activation(b, NNRT_ACTIVATION_TYPE_LINEAR, c));
    nnrt_builder_graph_io(b, a.body, ins, 3, outs, 3);
    nnrt_builder_enter(b, 0);
    out[0] = nnrt_builder_tensor(b, NULL);
    out[1] = nnrt_builder_tensor(b, NULL);
    add_node(b, "repeated", NNRT_NODE_TYPE_LOOP, &a, in, 3, out, 2);
}

/* IF of a known condition, a LOOP, and an unused one. */
static void several(nnrt_builder *b)
{
    static const int64_t seven = 7;
    const uint32_t x = input(b, "x", 3, 4, 0, 0), c = input(b, "c", 4, 0, 0, 0);
    const uint32_t trips = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &seven, true);
    uint32_t y[2];
    repeated(b, trips, either(b, truth(b, false), x), c, y);
    nnrt_builder_output(b, y[0]);
    repeated(b, trips, x, c, y);
}

/* An unused node of a branch is removed, and the node that runs the branch is inferred without it. */
static void test_dead_in_a_branch(void **state)
{
    nnrt_builder *b = begin(NULL);
    const uint32_t cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    const uint32_t x = input(b, "x", 2, 3, 0, 0);
    NNRT_Model *m;
    NNRT_If a;
    (void)state;
    a.thenGraph = branch(b);
    (void)op1(b, NNRT_NODE_TYPE_SQRT, x);
    gives(b, a.thenGraph, op1(b, NNRT_NODE_TYPE_FLOOR, x));
    a.elseGraph = branch(b);
    gives(b, a.elseGraph, op1(b, NNRT_NODE_TYPE_CEIL, x));
    nnrt_builder_enter(b, 0);
    nnrt_builder_output(b, add_op(b, "z", NNRT_NODE_TYPE_IF, &a, &cond, 1));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_SQRT), 1);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_SQRT), 0);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_IF), 1);
    nnrt_model_destroy(m);
}

static void test_subgraphs_out_of_memory(void **state)
{
    (void)state;
    without_memory(several);
}

/* The passes enter subgraphs, and keep the tensors that these use from outside. */
static void test_subgraphs(void **state)
{
    static const int64_t seven = 7;
    NNRT_Model *m;
    (void)state;
    for (int known = 0; known < 3; known++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 3, 4, 0, 0), y, cond;
        cond = known < 2 ? truth(b, known != 0) : nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
        y = either(b, cond, activation(b, NNRT_ACTIVATION_TYPE_TANH, x));
        nnrt_builder_output(b, y);
        /* tanh, relu: one is read by the other graph until that takes its place; tanh, mul, mul with relu */
        m = optimized(b, known == 1 ? 2 : known == 0 ? 3 : 5, 0, NULL);
        assert_int_equal(m->subGraph.count, known < 2 ? 1 : 3);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_ADD_FUSION), 0); /* it was computed */
        nnrt_model_destroy(m);
    }
    for (uint32_t kind = 0; kind < 4; kind++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 3, 4, 0, 0), c = input(b, "c", 4, 0, 0, 0), y[2];
        const uint32_t trips =
            kind % 2 == 0 ? nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &seven, true)
                          : nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &(const int64_t){0}, true);
        c = op1(b, NNRT_NODE_TYPE_SQRT, c); /* the body takes it */
        repeated(b, trips, activation(b, NNRT_ACTIVATION_TYPE_LINEAR, x), c, y);
        nnrt_builder_output(b, kind < 2 ? activation(b, NNRT_ACTIVATION_TYPE_RELU6, y[0]) : c);
        nnrt_builder_output(b, kind < 2 ? y[1] : x);
        /* SQRT, LOOP, two sums, a product, RELU6; an unused LOOP is removed completely */
        m = optimized(b, kind < 2 ? 6 : 1, 0, NULL);
        assert_int_equal(m->subGraph.count, kind < 2 ? 2 : 1);
        nnrt_model_destroy(m);
    }
    for (uint32_t which = 0; which < 2; which++) { /* IF in IF in IF, the conditions of the outer ones known */
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 3, 4, 0, 0), cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
        uint32_t at[3][2], y[2], z;
        NNRT_If a;
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k < 2; k++)
                at[i][k] = nnrt_builder_graph(b, NULL);
        for (uint32_t k = 0; k < 2; k++) {
            nnrt_builder_enter(b, at[2][k]);
            gives(b, at[2][k], op1(b, k == 0 ? NNRT_NODE_TYPE_SQRT : NNRT_NODE_TYPE_FLOOR, x));
        }
        for (uint32_t i = 2; i > 0; i--)
            for (uint32_t k = 0; k < 2; k++) {
                nnrt_builder_enter(b, at[i - 1][k]);
                a.thenGraph = at[i][0];
                a.elseGraph = at[i][1];
                y[k] = k == which ? add_op(b, NULL, NNRT_NODE_TYPE_IF, &a, &cond, 1) : op1(b, NNRT_NODE_TYPE_FLOOR, x);
                gives(b, at[i - 1][k], op1(b, NNRT_NODE_TYPE_SQRT, y[k]));
                cond = k == which ? truth(b, which == 0) : cond;
            }
        nnrt_builder_enter(b, 0);
        a.thenGraph = at[0][0];
        a.elseGraph = at[0][1];
        z = add_op(b, "z", NNRT_NODE_TYPE_IF, &a, &cond, 1);
        nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_FLOOR, z));
        nnrt_builder_output(b, z);
        m = optimized(b, 6, 0, NULL); /* IF with SQRT and FLOOR, two SQRT, FLOOR */
        assert_int_equal(m->subGraph.count, 3);
        nnrt_model_destroy(m);
    }
    {
        nnrt_builder *b = begin(NULL); /* a branch returns x itself, or another output: the IF stays */
        uint32_t x = input(b, "x", 3, 4, 0, 0), y = op1(b, NNRT_NODE_TYPE_SQRT, x), cond = truth(b, true);
        NNRT_If a;
        a.thenGraph = branch(b);
        gives(b, a.thenGraph, y);
        a.elseGraph = branch(b);
        gives(b, a.elseGraph, op1(b, NNRT_NODE_TYPE_FLOOR, x));
        nnrt_builder_enter(b, 0);
        nnrt_builder_output(b, add_op(b, "z", NNRT_NODE_TYPE_IF, &a, &cond, 1));
        nnrt_builder_output(b, y);
        m = optimized(b, 3, 0, NULL);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_IF), 1);
        nnrt_model_destroy(m);
    }
}

/* ---- nodes that cannot be resolved, or should not be computed ---- */

/* Finishes b and optimizes; the model must be checkable afterwards. Returns the code, and the number of remaining nodes in
   *nodes. */
static NNRT_ReturnCode tried(nnrt_builder *b, uint32_t *nodes, nnrt_error *error)
{
    NNRT_Model *m = NULL;
    NNRT_ReturnCode code;
    nnrt_memory memory;
    memset(error, 0, sizeof(*error));
    if (nnrt_builder_finish(b, &m, error) != NNRT_SUCCESS)
        fail_msg("%s", error->message);
    nnrt_builder_destroy(b);
    code = nnrt_model_optimize(&m, NULL, error);
    assert_int_equal(error->code, code);
    *nodes = m->nodes.count;
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_model_check(m, &memory, NULL, NULL), NNRT_SUCCESS);
    nnrt_memory_end(&memory);
    nnrt_model_destroy(m);
    return code;
}

/* Every operator with every choice of its first four inputs and first three outputs left out, after an input without a shape
   and between nodes that passes fuse: nothing is lost, or a message names the node. */
static void test_left_out(void **state)
{
    const int32_t open[] = {-1, -1, -1, -1};
    const nnrt_op *op;
    uint32_t done = 0, refused = 0;
    (void)state;
    for (uint32_t at = 0; (op = nnrt_op_at(at)) != NULL; at++)
        for (uint32_t mask = 0; mask < 256; mask++) {
            nnrt_builder *b = begin_unchecked();
            uint32_t x = nnrt_builder_input(b, "x", F32, 4, open), in[4], out[4], nodes;
            const uint32_t nOut = 1 + (mask >> 7);
            nnrt_error error;
            in[0] = op1(b, op->type, op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, numbers(b, 0, 4, 4, 0, 0)));
            in[1] = numbers(b, 0, 4, 0, 0, 0);
            in[2] = x;
            in[3] = ints(b, 2, 1, 0, 0, 0);
            for (uint32_t i = 0; i < 4; i++)
                in[i] = mask >> i & 1u ? NNRT_NO_TENSOR : in[i];
            for (uint32_t i = 0; i < 2; i++)
                out[i] = mask >> (4 + i) & 1u ? NNRT_NO_TENSOR : nnrt_builder_tensor(b, i == 0 ? "y" : "z");
            add_node(b, "odd", op->type, NULL, in, 2 + (mask >> 6 & 1u) * 2, out, nOut);
            nnrt_builder_output(b, op1(b, NNRT_NODE_TYPE_SQRT, x));
            for (uint32_t i = 0; i < nOut; i++)
                if (out[i] != NNRT_NO_TENSOR)
                    nnrt_builder_output(b, op1(b, op->type, activation(b, NNRT_ACTIVATION_TYPE_RELU, out[i])));
            if (tried(b, &nodes, &error) == NNRT_SUCCESS) {
                done++;
            } else {
                assert_true(error.node >= 0 || error.tensor >= 0);
                assert_true(strlen(error.message) > 10);
                refused++;
            }
            assert_true(nodes >= 1);
        }
    print_message("left out: %u optimised, %u refused\n", done, refused);
    assert_true(done > 1000);
}

/* Operands that a constant node leaves out; large results of large constants, which are folded; and results that no
   memory could hold, which are not. */
static void test_fold_operands(void **state)
{
    const int64_t corner[2] = {0, 1};
    const int32_t many[] = {20000};
    static float data[20000];
    NNRT_Int64List pairs[1];
    NNRT_MaxPoolFusion pool;
    NNRT_PadFusion pad;
    nnrt_builder *b = begin(NULL);
    uint32_t x = input(b, "x", 1, 0, 0, 0), in[3], out[2], nodes;
    nnrt_error error;
    NNRT_Model *m;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &pool);
    pool.global = true;
    in[0] = numbers(b, 0, 1, 4, 4, 6);
    out[0] = nnrt_builder_tensor(b, NULL);
    out[1] = NNRT_NO_TENSOR;
    add_node(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, in, 1, out, 2);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, out[0]));
    expect(b, 1, 0);

    b = begin(NULL); /* paddings as an attribute, the value as input 2 */
    x = input(b, "x", 1, 0, 0, 0);
    nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &pad);
    pairs[0] = nnrt_int64_list(corner, 2);
    pad.paddings.data = pairs;
    pad.paddings.count = 1;
    in[0] = numbers(b, 0, 5, 0, 0, 0);
    in[1] = NNRT_NO_TENSOR;
    in[2] = numbers(b, 0, 0, 0, 0, 0);
    nnrt_builder_output(b,
                        op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, add_op(b, "pad", NNRT_NODE_TYPE_PAD_FUSION, &pad, in, 3)));
    expect(b, 1, 0);

    b = begin(NULL); /* 80,000 bytes from as many */
    x = input(b, "x", 1, 0, 0, 0);
    for (uint32_t i = 0; i < COUNT(data); i++)
        data[i] = (float)i / 32.0f;
    in[0] = nnrt_builder_constant(b, NULL, F32, 1, many, data, false);
    in[1] = op1(b, NNRT_NODE_TYPE_SQRT, in[0]);
    in[2] = op2(b, NNRT_NODE_TYPE_GATHER, in[1], ints(b, 2, 32, 19968, 0, 0));
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, in[1]));
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, in[2]));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 2);
    for (uint32_t i = 0; i < m->allTensors.count; i++) { /* sqrt(k / 32) for k = 32 and 19968: 1 and sqrt(624) */
        const float *v = (const float *)m->allTensors.data[i].data.addr;
        if (v != NULL && m->allTensors.data[i].data.dataSize == 8)
            assert_true(v[0] == 1.0f && size_of((double)v[1] - 24.979991993593593) < 1e-5);
    }
    nnrt_model_destroy(m);

    b = begin(NULL); /* 16 GiB of one number */
    x = input(b, "x", 1, 0, 0, 0);
    in[0] = op2(b, NNRT_NODE_TYPE_FILL, numbers(b, 0, 0, 0, 0, 0), ints(b, 2, 65536, 65536, 0, 0));
    in[1] = ints(b, 2, 0, 1, 0, 0);
    nnrt_builder_output(
        b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, add_op(b, NULL, NNRT_NODE_TYPE_REDUCE_FUSION, NULL, in, 2)));
    if (sizeof(size_t) > 4) {
        assert_int_equal(tried(b, &nodes, &error), NNRT_SUCCESS);
        assert_int_equal(nodes, 3);
    } else { /* no tensor is that large: the builder says so */
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "float32[65536,65536]: its size does not fit"));
        nnrt_builder_destroy(b);
    }
}

/* Constants that do not match, before shapes are known: nothing is folded, the fault is found when a session is created. */
static void test_affine_open(void **state)
{
    const int32_t open[] = {-1, -1, -1, 4}, rows[] = {-1, 4};
    for (uint32_t kind = 0; kind < 20; kind++) {
        static const uint16_t halves[6 * 3 * 3 * 4];
        const int32_t six[] = {6}, weight16[] = {6, 3, 3, 4};
        nnrt_builder *b = begin_unchecked();
        uint32_t x = nnrt_builder_input(b, "x", F32, 4, open), y, in[5], nodes;
        nnrt_error error;
        switch (kind) {
        case 0: /* five channels of a normalization; a single one */
        case 1:
            in[0] = conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
            for (uint32_t i = 1; i < 5; i++)
                in[i] = numbers(b, 0.5f, kind == 0 ? 5 : 1, 0, 0, 0);
            y = add_op(b, NULL, NNRT_NODE_TYPE_FUSED_BATCH_NORM, NULL, in, 5);
            break;
        case 2: /* more axes than an image has */
            in[0] = conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
            in[1] = nnrt_builder_constant(b, NULL, F32, 5, (const int32_t[]){1, 1, 1, 1, 6}, halves, true);
            y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, in[0], in[1]);
            break;
        case 3: /* SCALE_FUSION after the last axis, before the first, past the channels */
        case 4:
        case 5:
            y = scale(b, conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION),
                      kind == 3   ? 4
                      : kind == 4 ? -5
                                  : 2,
                      kind == 5 ? numbers(b, 0, 5, 6, 0, 0) : numbers(b, 0, 6, 0, 0, 0), NNRT_NO_TENSOR);
            break;
        case 6: /* its bias is for another axis */
            y = scale(b, conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION), 3, numbers(b, 0, 6, 0, 0, 0),
                      numbers(b, 0, 5, 0, 0, 0));
            break;
        case 7: /* SCALE_FUSION and BIAS_ADD whose constants come with the run */
            y = scale(b, conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION), 3, input(b, "s", 6, 0, 0, 0),
                      NNRT_NO_TENSOR);
            break;
        case 8:
            y = op2(b, NNRT_NODE_TYPE_BIAS_ADD, conv(b, x, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION),
                    input(b, "s", 6, 0, 0, 0));
            break;
        case 9: /* a weight of float16, of three axes, without rows, of one axis */
        case 10:
        case 11:
        case 12:
            in[0] = x;
            in[1] = kind == 9    ? nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT16, 4, weight16, halves, true)
                    : kind == 10 ? numbers(b, 0, 6, 3, 4, 0)
                    : kind == 11 ? nnrt_builder_constant(b, NULL, F32, 2, (const int32_t[]){0, 4}, halves, true)
                                 : numbers(b, 0, 6, 0, 0, 0);
            y = norm(b, add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, in, 2));
            break;
        case 13: /* a bias of float16, of two axes, of five entries, that comes with the run */
        case 14:
        case 15:
        case 16:
            in[0] = x;
            in[1] = numbers(b, 0, 6, 3, 3, 4);
            in[2] = kind == 13   ? nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT16, 1, six, halves, true)
                    : kind == 14 ? numbers(b, 0, 6, 1, 0, 0)
                    : kind == 15 ? numbers(b, 0, 5, 0, 0, 0)
                                 : input(b, "bias", 6, 0, 0, 0);
            y = norm(b, add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, in, 3));
            break;
        case 17: /* a product before weights of three channels of four, and of two groups for five results */
        case 18:
            in[0] = op2(b, NNRT_NODE_TYPE_MUL_FUSION, x, numbers(b, 0.5f, 4, 0, 0, 0));
            in[1] = kind == 17 ? numbers(b, 0, 6, 3, 3, 3) : numbers(b, 0, 5, 3, 3, 2);
            y = add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, in, 2);
            break;
        default: { /* FULL_CONNECTION of unknown rank, its weight with three axes */
            NNRT_FullConnection a;
            nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &a);
            in[0] = x;
            in[1] = numbers(b, 0, 6, 2, 2, 0);
            y = norm(b, add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, 2));
            break;
        }
        }
        nnrt_builder_output(b, y);
        assert_int_equal(tried(b, &nodes, &error), NNRT_SUCCESS);
        if (nodes != 2)
            fail_msg("kind %u: %u nodes are left, expected 2", kind, nodes);
    }
    for (uint32_t useAxis = 0; useAxis < 2; useAxis++) { /* a full connection with open rows: folded, unless it may have
                                                            more axes than two */
        nnrt_builder *b = begin_unchecked();
        uint32_t in[2], nodes;
        NNRT_FullConnection a;
        nnrt_error error;
        nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &a);
        a.useAxis = useAxis == 1;
        a.axis = 1;
        in[0] = nnrt_builder_input(b, "x", F32, 2, rows);
        in[1] = numbers(b, 0, 6, 4, 0, 0);
        nnrt_builder_output(b, norm(b, add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, 2)));
        assert_int_equal(tried(b, &nodes, &error), NNRT_SUCCESS);
        assert_int_equal(nodes, 1 + useAxis);
    }
    (void)state;
}

/* TRANSPOSE and MATMUL_FUSION with constants that do not match, after dynamic shapes: they are unchanged. A bias of as
   many columns is fused. */
static void test_join_open(void **state)
{
    const int32_t open[] = {-1, -1, 4}, six[] = {6};
    static const uint16_t halves[6];
    (void)state;
    for (uint32_t kind = 0; kind < 5; kind++) {
        nnrt_builder *b = begin_unchecked();
        uint32_t x = nnrt_builder_input(b, "x", F32, 2, open), nodes;
        const uint32_t good = ints(b, 2, 1, 0, 0, 0);
        const uint32_t bad = kind == 0   ? ints(b, 2, 0, 2, 0, 0)  /* there is no axis 2 */
                             : kind == 1 ? ints(b, 2, -3, 0, 0, 0) /* nor -3 */
                             : kind == 2 ? numbers(b, 0, 2, 0, 0, 0)
                             : kind == 3 ? ints(b, 3, 2, 1, 0, 0) /* of other rank */
                                         : ints(b, 2, 1, 1, 0, 0);
        nnrt_error error;
        nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_TRANSPOSE, op2(b, NNRT_NODE_TYPE_TRANSPOSE, x, good), bad));
        nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_TRANSPOSE, op2(b, NNRT_NODE_TYPE_TRANSPOSE, x, bad), good));
        assert_int_equal(tried(b, &nodes, &error), NNRT_SUCCESS);
        assert_int_equal(nodes, 4);
    }
    for (uint32_t kind = 0; kind < 4; kind++) {
        nnrt_builder *b = begin_unchecked();
        uint32_t x = kind < 2 ? nnrt_builder_input(b, "x", F32, 3, open) : input(b, "x", 2, 3, 4, 0), y, c, nodes;
        nnrt_error error;
        y = kind == 3 ? op3(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, numbers(b, 0, 4, 6, 0, 0), numbers(b, 0, 6, 0, 0, 0))
                      : op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, numbers(b, 0, 4, 6, 0, 0));
        c = kind == 0   ? nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT16, 1, six, halves, true)
            : kind == 2 ? numbers(b, 0, 1, 1, 1, 6) /* makes the result larger */
                        : numbers(b, 0, 6, 0, 0, 0);
        nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, y, c));
        assert_int_equal(tried(b, &nodes, &error), NNRT_SUCCESS);
        assert_int_equal(nodes, kind == 1 ? 1 : 2);
    }
}

/* A STRIDED_SLICE that takes everything is dropped, with strides and without; one that turns an axis round is not. */
static void test_slices(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 3; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = input(b, "x", 2, 3, 0, 0), begin_ = ints(b, 2, 0, kind == 2 ? 2 : 0, 0, 0),
                       end = ints(b, 2, 2, kind == 2 ? -4 : 3, 0, 0), strides = ints(b, 2, 1, kind == 2 ? -1 : 1, 0, 0);
        const uint32_t y = op1(b, NNRT_NODE_TYPE_SQRT, x);
        const uint32_t four[] = {y, begin_, end, strides};
        const uint32_t five[] = {y, begin_, end, ints(b, 2, 0, 1, 0, 0), NNRT_NO_TENSOR};
        nnrt_builder_output(
            b, add_op(b, NULL, NNRT_NODE_TYPE_STRIDED_SLICE, NULL, kind == 0 ? five : four, kind == 0 ? 5 : 4));
        expect(b, kind == 2 ? 2 : 1, 0);
    }
}

/* ---- operators between casts from and to 8 bits ---- */

#define I8 NNRT_DATA_TYPE_INT8
#define U8 NNRT_DATA_TYPE_UINT8
#define I32 NNRT_DATA_TYPE_INT32

static NNRT_QuantParam quant_of(NNRT_DataType type, int32_t zero, double step)
{
    NNRT_QuantParam q;
    q.numBits = (int32_t)(8 * nnrt_type_size(type));
    q.zeroPoint = zero;
    q.scale = step;
    return q;
}

/* A node of this type from `from` to `to`. */
static uint32_t convert(nnrt_builder *b, NNRT_NodeType type, uint32_t x, NNRT_DataType from, NNRT_DataType to,
                        const NNRT_QuantParam *q)
{
    const uint32_t y = nnrt_builder_tensor(b, NULL);
    NNRT_QuantDTypeCast a;
    NNRT_QuantizeLinear linear;
    a.srcT = from;
    a.dstT = linear.dstT = to;
    linear.axis = 0;
    nnrt_builder_declare(b, y, to, NNRT_RANK_UNKNOWN, NULL);
    if (q != NULL)
        nnrt_builder_quant(b, y, q, 1);
    add_node(b, NULL, type, type == NNRT_NODE_TYPE_QUANTIZE_LINEAR ? (const void *)&linear : &a, &x, 1, &y, 1);
    return y;
}

static uint32_t cast(nnrt_builder *b, uint32_t x, NNRT_DataType from, NNRT_DataType to, const NNRT_QuantParam *q)
{
    return convert(b, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, x, from, to, q);
}

static bool even; /* halves go to the even integer, as in ONNX */

static uint32_t quantise(nnrt_builder *b, uint32_t x, NNRT_DataType type, int32_t zero, double step)
{
    const NNRT_QuantParam q = quant_of(type, zero, step);
    return convert(b, even ? NNRT_NODE_TYPE_QUANTIZE_LINEAR : NNRT_NODE_TYPE_QUANT_DTYPE_CAST, x, F32, type, &q);
}

/* x, made integers and then real again. */
static uint32_t through(nnrt_builder *b, uint32_t x, NNRT_DataType type, int32_t zero, double step)
{
    return cast(b, quantise(b, x, type, zero, step), type, F32, NULL);
}

/* Dequantized random constants, of `many` parameters along axis 0: their steps are step, 2 * step, .. */
static uint32_t codes(nnrt_builder *b, NNRT_DataType type, double step, int32_t many, int32_t d0, int32_t d1,
                      int32_t d2, int32_t d3)
{
    const int32_t dims[] = {d0, d1, d2, d3}, rank = d1 == 0 ? 1 : d2 == 0 ? 2 : d3 == 0 ? 3 : 4;
    int32_t wide[MOST];
    NNRT_QuantParam q[8];
    NNRT_QuantDTypeCastV2 a;
    size_t count;
    uint32_t x, y;
    assert_true(nnrt_dims_count(dims, rank, &count) && count <= MOST && many <= 8);
    for (size_t i = 0; i < count; i++) {
        wide[i] = (int32_t)random_below(255) - (type == U8 ? 0 : 127);
        if (type != I32)
            ((int8_t *)wide)[i] = (int8_t)wide[i];
    }
    x = nnrt_builder_constant(b, NULL, type, rank, dims, wide, true);
    for (int32_t i = 0; i < many; i++)
        q[i] = quant_of(type, type == U8 ? 100 + i : 0, step * (i + 1));
    nnrt_builder_quant(b, x, q, (uint32_t)many);
    if (many == 1)
        return cast(b, x, type, F32, NULL);
    nnrt_builder_quant_axis(b, x, 1);
    a.srcT = type;
    a.dstT = F32;
    a.axis = 0;
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_declare(b, y, F32, NNRT_RANK_UNKNOWN, NULL);
    add_node(b, NULL, NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2, &a, &x, 1, &y, 1);
    return y;
}

static uint32_t conv_of(nnrt_builder *b, uint32_t x, uint32_t weight, uint32_t bias)
{
    const uint32_t in[] = {x, weight, bias};
    return add_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, in, bias != NNRT_NO_TENSOR ? 3 : 2);
}

static uint32_t full_of(nnrt_builder *b, uint32_t x, uint32_t weight, uint32_t bias)
{
    const uint32_t in[] = {x, weight, bias};
    NNRT_FullConnection a;
    nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &a);
    a.hasBias = bias != NNRT_NO_TENSOR;
    return add_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, a.hasBias ? 3 : 2);
}

/* PAD by zeros of an int8 image, then a convolution with padMode PAD or VALID. attribute: paddings are an attribute,
   not a constant. */
static uint32_t padded(nnrt_builder *b, bool first, bool attribute, float value, int32_t zero, NNRT_PadMode mode,
                       int64_t channels)
{
    static const int64_t one[] = {1, 1}, two[] = {2, 1}, own[] = {1, 0, 0, 1};
    const int32_t kernel[4] = {6, 3, 2, 4}, all[2] = {4, 2};
    const int64_t rows[2] = {1, 2}, columns[2] = {0, 3}, none[2] = {0, 0}, more[2] = {0, channels};
    const NNRT_QuantParam q[3] = {quant_of(I8, -9, 0.01), quant_of(I8, zero, 0.01), quant_of(I8, 5, 0.02)};
    int8_t weights[144];
    int32_t list[8];
    NNRT_Int64List pairs[4];
    NNRT_PadFusion pad;
    NNRT_Conv2DFusion a;
    uint32_t in[2], x, y;
    pairs[0] = nnrt_int64_list(none, 2);
    pairs[first ? 1 : 3] = nnrt_int64_list(more, 2);
    pairs[first ? 2 : 1] = nnrt_int64_list(rows, 2);
    pairs[first ? 3 : 2] = nnrt_int64_list(columns, 2);
    for (uint32_t i = 0; i < 8; i++)
        list[i] = (int32_t)pairs[i / 2].data[i % 2];
    nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &pad);
    nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
    pad.paddingMode = NNRT_PADDING_MODE_CONSTANT;
    pad.constantValue = value;
    pad.paddings.data = attribute ? pairs : NULL;
    pad.paddings.count = attribute ? 4 : 0;
    a.stride = nnrt_int64_list(two, 2);
    a.dilation = nnrt_int64_list(one, 2);
    a.padMode = mode;
    a.padList = nnrt_int64_list(own, mode == NNRT_PAD_MODE_PAD ? 4 : 0);
    for (uint32_t i = 0; i < 144; i++)
        weights[i] = (int8_t)((int32_t)random_below(255) - 127);
    x = first ? input(b, "image", 1, 4 - (int32_t)channels, 5, 6) : input(b, "image", 1, 5, 6, 4 - (int32_t)channels);
    nnrt_builder_format(b, x, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    in[0] = cast(b, x, F32, I8, &q[0]);
    in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 2, all, list, true);
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_quant(b, y, &q[1], 1);
    add_node(b, "pad", NNRT_NODE_TYPE_PAD_FUSION, &pad, in, attribute ? 1 : 2, &y, 1);
    in[0] = y;
    in[1] = nnrt_builder_constant(b, NULL, I8, 4, kernel, weights, true);
    nnrt_builder_quant(b, in[1], &q[0], 1);
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_quant(b, y, &q[2], 1);
    add_node(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 2, &y, 1);
    return cast(b, y, I8, F32, NULL);
}

static nnrt_builder *padded_model(bool first, bool attribute, float value, int32_t zero, NNRT_PadMode mode,
                                  int64_t channels)
{
    nnrt_builder *b = begin(NULL);
    nnrt_builder_output(b, padded(b, first, attribute, value, zero, mode, channels));
    return b;
}

/* Padding of rows and columns by 0 becomes padding of the convolution: same bits. Other padding stays. */
static void test_fold_pads(void **state)
{
    nnrt_optimize_desc desc;
    nnrt_builder *b;
    NNRT_Model *m;
    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        expect(padded_model(i % 2 != 0, i / 2 % 2 != 0, 0, -9, i < 4 ? NNRT_PAD_MODE_PAD : NNRT_PAD_MODE_VALID, 0), 3, 0);
    expect(padded_model(false, true, 0, -9, NNRT_PAD_MODE_SAME, 0), 4, 0);      /* SAME depends on the size of the image */
    expect(padded_model(false, true, 0.5f, -9, NNRT_PAD_MODE_PAD, 0), 4, 0);    /* another number than 0 */
    expect(padded_model(false, true, 0, -8, NNRT_PAD_MODE_PAD, 0), 4, 0);       /* requantizes */
    expect(padded_model(false, false, 0, -9, NNRT_PAD_MODE_PAD, 1), 4, 0);      /* a channel */
    b = padded_model(false, true, 0, -9, NNRT_PAD_MODE_PAD, 0);
    memset(&desc, 0, sizeof(desc));
    desc.without = NNRT_PASS_PADS;
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 4);
    nnrt_model_destroy(m);
}

/* Whether the node of this type gives integers in m. */
static bool is_quantised(const NNRT_Model *m, NNRT_NodeType type)
{
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (m->nodes.data[i].nodeType == type)
            return m->allTensors.data[m->nodes.data[i].outputIndex.data[0]].dataType == U8;
    fail_msg("no node is of type %d", (int)type);
    return false;
}

/* Runs m unchanged, and optimized; destroys m. */
static NNRT_Model *run_both(NNRT_Model *m, bool noQuantize, outcome *before, outcome *after)
{
    nnrt_optimize_desc desc;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    desc.no_quantize = noQuantize;
    run(m, NULL, before);
    if (nnrt_model_optimize(&m, noQuantize ? &desc : NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    run(m, NULL, after);
    return m;
}

/* y, the result of an operator, is quantized with this step and real again. The pass quantizes the operator, or leaves it:
   results differ by at most one step, in one element of four, or not at all. With the switch nothing changes. */
static void between(nnrt_builder *b, uint32_t y, double step, NNRT_NodeType type, bool integers)
{
    static outcome before, after;
    static uint8_t block[65536 + 64];
    uint8_t *file = block + (64 - (uintptr_t)block % 64) % 64;
    NNRT_Model *m = NULL, *once;
    nnrt_error error;
    size_t differ = 0, count, bytes;
    memset(&error, 0, sizeof(error));
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) { /* the model goes through a .nnrt file */
        nnrt_builder_destroy(b);
        skip();
    }
    nnrt_builder_output(b, through(b, y, U8, 120, step));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    if (nnrt_model_save_memory(m, NULL, file, sizeof(block) - 64, &bytes, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    m = run_both(m, true, &before, &after);
    compare(&before, &after, 0);
    assert_false(is_quantised(m, type));
    nnrt_model_destroy(m);
    assert_int_equal(nnrt_model_load_memory(&m, file, bytes, NULL, NULL), NNRT_SUCCESS);
    m = run_both(m, false, &before, &after);
    if (is_quantised(m, type) != integers)
        fail_msg("operator %d: quantised %d", (int)type, (int)!integers);
    if (!integers)
        compare(&before, &after, 0);
    count = before.sizes[0] / sizeof(float);
    for (size_t i = 0; i < count && integers; i++) {
        const float p = ((const float *)(const void *)before.bytes)[i],
                    q = ((const float *)(const void *)after.bytes)[i];
        if (size_of((double)p - (double)q) > 1.001 * step)
            fail_msg("operator %d, element %u: %.9g became %.9g", (int)type, (unsigned)i, (double)p, (double)q);
        differ += p != q;
    }
    if (differ > count / 4)
        fail_msg("operator %d: %u of %u elements differ", (int)type, (unsigned)differ, (unsigned)count);
    if (integers && nodes_of(m, NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2) > 0) {
        char text[8192];
        (void)nnrt_model_dot(m, NULL, text, sizeof(text));
        fail_msg("%s", text);
    }
    if (integers) { /* each input is quantized, then the operator, then its result is dequantized */
        const uint32_t inputs = m->inputIndex.count, linear = even ? inputs : 0;
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_QUANT_DTYPE_CAST), inputs + 1 - linear);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_QUANTIZE_LINEAR), linear);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2), 0);
    }
    once = m;
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    assert_ptr_equal(m, once);
    nnrt_model_destroy(m);
}

/* ---- each pass by itself ---- */

#define PASSES 11 /* bits NNRT_PASS_ */
#define DEAD 9    /* the number of NNRT_PASS_DEAD, which says nothing of the nodes that it removes */

/* The texts of the log by which each pass is recognized. */
static const char *const pass_says[PASSES] = {
    "is merged with the reshape before it", "is merged with the TRANSPOSE before it",
    "is removed: it changes nothing", "is folded into weight and bias of the node before it",
    "became the bias of the matrix multiplication before it", "is fused into the node before it",
    "became the branch that it runs", "computes in integers",
    "is folded: its results are constants", NULL, "has the padding of the PAD before it"};

static void count_passes(void *user, nnrt_log_level level, const char *text)
{
    uint32_t *did = (uint32_t *)user;
    (void)level;
    for (uint32_t p = 0; p < PASSES; p++)
        did[p] += p != DEAD && strstr(text, pass_says[p]) != NULL;
}

/* A model that gives every pass something to do, without some of them: how often each did something, unused SQRT nodes, and by
   how much the results differ: not at all, or a bit. */
static void without_passes(uint32_t without, bool no_quantize, uint32_t did[PASSES])
{
    static outcome was, is;
    nnrt_builder *b = begin(NULL);
    const nnrt_log log = {count_passes, did, NNRT_LOG_DEBUG};
    nnrt_optimize_desc desc;
    nnrt_error error;
    NNRT_Model *m = NULL;
    uint32_t x;
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    memset(did, 0, PASSES * sizeof(*did));
    everything(b);
    nnrt_builder_output(b, padded(b, false, true, 0, -9, NNRT_PAD_MODE_PAD, 0));
    x = input(b, "branches", 1, 3, 3, 2);
    nnrt_builder_output(b, either(b, truth(b, true), x));
    x = through(b, input(b, "numbers", 1, 5, 6, 4), U8, 128, 0.01);
    x = conv_of(b, x, codes(b, I8, 0.002, 6, 6, 3, 2, 4), NNRT_NO_TENSOR);
    nnrt_builder_output(b, through(b, x, U8, 120, 0.03));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    run(m, NULL, &was);
    desc.log = &log;
    desc.without = without;
    desc.no_quantize = no_quantize;
    if (nnrt_model_optimize(&m, &desc, &error) != NNRT_SUCCESS)
        fail_msg("without %u: %s", without, error.message);
    run(m, NULL, &is);
    compare(&was, &is, 0.03); /* a step of the last cast */
    did[DEAD] = nodes_of(m, NNRT_NODE_TYPE_SQRT);
    nnrt_model_destroy(m);
}

/* Casts of float16 constants are folded, but for large ones without NNRT_PASS_WIDEN. */
static void test_widened_weights(void **state)
{
    static uint16_t w[200 * 200]; /* 80,000 bytes; zeros */
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const bool keeps = i % 2 != 0, large = i / 2 != 0;
        const int32_t dims[2] = {large ? 200 : 8, 200};
        nnrt_builder *b = begin(NULL);
        NNRT_MatMulFusion product;
        nnrt_optimize_desc desc;
        NNRT_Model *m = NULL;
        nnrt_error error;
        uint32_t in[2], half;
        memset(&desc, 0, sizeof(desc));
        memset(&error, 0, sizeof(error));
        memset(&product, 0, sizeof(product));
        product.transposeB = true;
        in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
        half = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT16, 2, dims, w, true);
        in[1] = nnrt_builder_tensor(b, "wide");
        nnrt_builder_declare(b, in[1], NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "cast", NNRT_NODE_TYPE_CAST, NULL, &half, 1, &in[1], 1);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_FUSION, &product, in, 2));
        if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        nnrt_builder_destroy(b);
        desc.without = keeps ? NNRT_PASS_WIDEN : 0;
        assert_int_equal(nnrt_model_optimize(&m, &desc, &error), NNRT_SUCCESS);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_CAST), keeps && large ? 1 : 0);
        nnrt_model_destroy(m);
    }
}

static void test_each_pass(void **state)
{
    const uint32_t every = (1u << PASSES) - 1;
    uint32_t all[PASSES], did[PASSES];
    (void)state;
    without_passes(0, false, all);
    assert_int_equal(all[DEAD], 0);
    for (uint32_t p = 0; p < PASSES; p++) {
        if (p == DEAD)
            continue;
        if (all[p] == 0)
            fail_msg("nothing %s", pass_says[p]);
        without_passes(1u << p, false, did);
        if (did[p] != 0)
            fail_msg("without it, %u %s", did[p], pass_says[p]);
        without_passes(every - (1u << p), false, did);
        for (uint32_t k = 0; k < PASSES; k++)
            if (k != DEAD && (did[k] != 0) != (k == p))
                fail_msg("%u alone: %u %s", p, did[k], pass_says[k]);
        assert_int_equal(did[DEAD], 1); /* the dead one has stayed */
    }
    without_passes(NNRT_PASS_DEAD, false, did);
    assert_int_equal(did[DEAD], 1);
    without_passes(every - NNRT_PASS_DEAD, false, did);
    assert_int_equal(did[DEAD], 0);
    without_passes(0, true, did); /* the same as NNRT_PASS_QUANTIZE */
    assert_int_equal(did[7], 0);
    without_passes(every, false, did);
    for (uint32_t k = 0; k < PASSES; k++)
        assert_int_equal(did[k], k == DEAD);
}

/* Products, with biases of all kinds: their own unit, another one, float32, one for all. */
static void test_quantize_products(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 10; kind++) {
        nnrt_builder *b = begin(NULL);
        const bool deep = kind < 6, odd = kind % 2 != 0;
        const uint32_t x =
            (even = odd, through(b, deep ? input(b, "x", 1, 5, 6, 4) : input(b, "x", 5, 8, 0, 0), U8, 128, 0.01));
        uint32_t bias = NNRT_NO_TENSOR, y = NNRT_NO_TENSOR;
        NNRT_NodeType type = deep ? NNRT_NODE_TYPE_CONV2D_FUSION : NNRT_NODE_TYPE_FULL_CONNECTION;
        if (kind == 0 || kind == 6)
            bias = codes(b, I32, 0.01 * 0.002, 6, 6, 0, 0, 0);
        else if (kind == 1)
            bias = codes(b, I32, 0.001, 1, 6, 0, 0, 0);
        else if (kind == 2 || kind == 7)
            bias = numbers(b, 0, 6, 0, 0, 0);
        else if (kind == 8)
            bias = op2(b, NNRT_NODE_TYPE_RESHAPE, codes(b, I32, 0.00002, 1, 1, 6, 0, 0), ints(b, 1, 6, 0, 0, 0));
        if (kind < 4) {
            y = conv_of(b, x, codes(b, I8, 0.002, 6, 6, 3, 2, 4), bias);
        } else if (kind == 4) { /* after a change of shape and a permutation */
            y = op2(b, NNRT_NODE_TYPE_RESHAPE, codes(b, I8, 0.002, 6, 6, 24, 0, 0), ints(b, 4, 6, 4, 3, 2));
            y = conv_of(b, x, op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 4, 0, 2, 3, 1)), bias);
        } else if (kind == 5) { /* ReLU, fused first; uint8 weights with zero points */
            y = activation(b, NNRT_ACTIVATION_TYPE_RELU, conv_of(b, x, codes(b, U8, 0.002, 6, 6, 3, 2, 4), bias));
        } else if (kind < 9) {
            y = full_of(b, x, codes(b, I8, 0.002, kind == 6 ? 6 : 1, 6, 8, 0, 0), bias);
        } else { /* the weight is permuted, its parameters go along */
            type = NNRT_NODE_TYPE_MATMUL_FUSION;
            y = op2(b, type, x,
                    op2(b, NNRT_NODE_TYPE_TRANSPOSE, codes(b, I8, 0.002, 6, 6, 8, 0, 0), ints(b, 2, 1, 0, 0, 0)));
        }
        between(b, y, 0.03, type, true);
    }
    even = false;
}

/* As an importer of images writes it: the casts have no layout, their readers do. */
static void test_quantize_images(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x, y, in[2];
    (void)state;
    even = true;
    x = through(b, input(b, "x", 1, 4, 5, 6), U8, 128, 0.01);
    nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
    y = nnrt_builder_tensor(b, NULL);
    nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
    in[0] = x;
    in[1] = codes(b, I8, 0.002, 6, 6, 3, 2, 4);
    add_node(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, in, 2, &y, 1);
    between(b, y, 0.03, NNRT_NODE_TYPE_CONV2D_FUSION, true);
    even = false;
}

/* Other operators than products: of one tensor, of two. */
static void test_quantize_others(void **state)
{
    static const int64_t two[] = {2, 2};
    static const float twice[] = {1, 2, 2, 1};
    static const int32_t count = 4;
    (void)state;
    for (uint32_t kind = 0; kind < 20; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t first = input(b, "x", 1, 4, 6, 4),
                       x = (even = kind % 2 != 0, through(b, first, U8, 120, 0.0207));
        const uint32_t other = kind < 8 ? through(b, input(b, "z", 6, 4, 0, 0), U8, 7, kind == 6 ? 0.0207 : 0.0113) : x;
        uint32_t y = x, in[2];
        NNRT_NodeType type = NNRT_NODE_TYPE_ACTIVATION;
        NNRT_AvgPoolFusion average;
        NNRT_MaxPoolFusion most;
        NNRT_ReduceFusion reduce;
        NNRT_Softmax softmax;
        NNRT_Concat concat;
        NNRT_Resize resize;
        NNRT_Clip clip;
        memset(&average, 0, sizeof(average));
        memset(&most, 0, sizeof(most));
        memset(&resize, 0, sizeof(resize));
        memset(&reduce, 0, sizeof(reduce));
        nnrt_attr_defaults(nnrt_op_named("SOFTMAX")->attr, &softmax);
        average.kernelSize = average.strides = most.kernelSize = most.strides = nnrt_int64_list(two, 2);
        reduce.keepDims = true;
        reduce.mode = NNRT_REDUCE_MODE_MEAN;
        resize.method = NNRT_RESIZE_METHOD_NEAREST;
        clip.min = -0.5f;
        clip.max = 0.25f;
        concat.axis = 3;
        in[0] = in[1] = x;
        if (kind < 6) {
            static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION,
                                                  NNRT_NODE_TYPE_MUL_FUSION, NNRT_NODE_TYPE_MAXIMUM,
                                                  NNRT_NODE_TYPE_MINIMUM,    NNRT_NODE_TYPE_SQUARED_DIFFERENCE};
            y = op2(b, type = types[kind], x, other);
        } else if (kind == 6) {
            y = activation(b, NNRT_ACTIVATION_TYPE_RELU6, op2(b, type = NNRT_NODE_TYPE_ADD_FUSION, x, other));
        } else if (kind == 7) {
            y = op2(b, type = NNRT_NODE_TYPE_MATMUL_FUSION, x,
                    op2(b, NNRT_NODE_TYPE_TRANSPOSE, other, ints(b, 2, 1, 0, 0, 0)));
        } else if (kind < 12) {
            static const NNRT_ActivationType types[] = {NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_SIGMOID,
                                                        NNRT_ACTIVATION_TYPE_TANH, NNRT_ACTIVATION_TYPE_ELU};
            y = activation(b, types[kind - 8], x);
        } else if (kind == 12) {
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &x, 1);
        } else if (kind == 13) {
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, &x, 1);
        } else if (kind == 14) {
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_SOFTMAX, &softmax, &x, 1);
        } else if (kind == 15) {
            in[1] = ints(b, 2, 1, 2, 0, 0);
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_REDUCE_FUSION, &reduce, in, 2);
        } else if (kind == 16) {
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_CONCAT, &concat, in, 2);
        } else if (kind == 17) {
            y = op2(b, type = NNRT_NODE_TYPE_RESHAPE, x, ints(b, 2, 6, 16, 0, 0));
        } else if (kind == 18) {
            in[1] = nnrt_builder_constant(b, NULL, F32, 1, &count, twice, true);
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_RESIZE, &resize, in, 2);
        } else {
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_CLIP, &clip, &x, 1);
        }
        between(b, y, kind > 11 && kind != 14 ? 0.0207 : 0.0219, type, true);
    }
    even = false;
}

/* Nodes that stay in float32, with unchanged bits. */
static void test_quantize_not(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 17; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t first = input(b, "x", 2, 6, 0, 0), x = through(b, first, kind == 5 ? I8 : U8, 0, 0.01);
        const uint32_t weight = codes(b, kind == 5 ? U8 : I8, 0.002, kind == 4 ? 6 : 1, 6, 6, 0, 0);
        uint32_t y = x, in[2], bias = NNRT_NO_TENSOR;
        NNRT_NodeType type = NNRT_NODE_TYPE_FULL_CONNECTION;
        const float large[] = {1, 2, 3, 4, 5, 1e30f}, odd[] = {1, 2, 3, 4, 5, nnrti_nanf()}, half = 0.5f;
        static const int32_t six = 6;
        NNRT_ReduceFusion reduce;
        NNRT_Concat concat;
        memset(&reduce, 0, sizeof(reduce));
        concat.axis = 0;
        in[0] = x;
        in[1] = NNRT_NO_TENSOR;
        if (kind == 0) { /* an operand that is real */
            y = op2(b, type = NNRT_NODE_TYPE_ADD_FUSION, x, first);
        } else if (kind == 1) { /* somebody else reads the result */
            y = full_of(b, x, weight, bias);
            nnrt_builder_output(b, activation(b, NNRT_ACTIVATION_TYPE_TANH, y));
        } else if (kind == 2) { /* it is an output */
            y = full_of(b, x, weight, bias);
            nnrt_builder_output(b, y);
        } else if (kind == 3) { /* a bias that is an input */
            y = full_of(b, x, weight, input(b, "bias", 6, 0, 0, 0));
        } else if (kind == 4) { /* parameters along another axis than that of the columns */
            y = op2(b, type = NNRT_NODE_TYPE_MATMUL_FUSION, x, weight);
        } else if (kind == 5) { /* int8 by uint8 */
            y = full_of(b, x, weight, bias);
        } else if (kind == 6 || kind == 7) { /* a bias that int32 cannot have */
            bias = nnrt_builder_constant(b, NULL, F32, 1, &six, kind == 6 ? large : odd, true);
            y = full_of(b, x, weight, bias);
        } else if (kind == 8) { /* an operator without a quantized kernel */
            y = op1(b, type = NNRT_NODE_TYPE_ERF, x);
        } else if (kind == 9) { /* operators that move elements do change parameters: these two become quantized */
            y = op2(b, type = NNRT_NODE_TYPE_RESHAPE, x, ints(b, 1, 12, 0, 0, 0));
        } else if (kind == 10) {
            in[1] = through(b, input(b, "z", 1, 6, 0, 0), U8, 3, 0.01);
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_CONCAT, &concat, in, 2);
        } else if (kind == 11) { /* a factor that a quantized sum does not support */
            reduce.mode = NNRT_REDUCE_MODE_SUM;
            reduce.reduceToEnd = true;
            reduce.coeff = 0.5f;
            in[1] = ints(b, 1, 1, 0, 0, 0);
            y = add_op(b, NULL, type = NNRT_NODE_TYPE_REDUCE_FUSION, &reduce, in, 2);
        } else if (kind == 12) { /* an activation in between that quantized products do not support */
            y = activation(b, NNRT_ACTIVATION_TYPE_TANH, full_of(b, x, weight, bias));
        } else if (kind == 13) { /* of a weight that is reshaped the parameters lose their axis */
            y = op2(b, NNRT_NODE_TYPE_RESHAPE, codes(b, I8, 0.002, 4, 4, 9, 0, 0), ints(b, 2, 6, 6, 0, 0));
            y = full_of(b, x, y, bias);
        } else if (kind == 14) { /* the permuted weight has another reader, too */
            const uint32_t turned = op2(b, NNRT_NODE_TYPE_TRANSPOSE, weight, ints(b, 2, 1, 0, 0, 0));
            y = full_of(b, x, turned, bias);
            nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_MAXIMUM, turned, input(b, "z", 6, 0, 0, 0)));
        } else if (kind == 15) { /* rounded in other steps than the cast's */
            y = full_of(b, x, weight, bias);
            in[1] = nnrt_builder_constant(b, NULL, F32, 0, NULL, &half, true);
            y = op1(b, NNRT_NODE_TYPE_ROUND, op2(b, NNRT_NODE_TYPE_DIV_FUSION, y, in[1]));
            y = op2(b, NNRT_NODE_TYPE_MUL_FUSION, y, in[1]);
        } else { /* both operands are constants */
            y = op2(b, NNRT_NODE_TYPE_ADD_FUSION,
                    op2(b, type = NNRT_NODE_TYPE_MATMUL_FUSION, x, numbers(b, 0, 6, 2, 0, 0)),
                    numbers(b, 0, 2, 2, 0, 0));
        }
        between(b, y, 0.05, type, kind == 9 || kind == 10);
    }
}

/* A cast of another graph is not looked through: the branch stays in float32. */
static void test_quantize_subgraphs(void **state)
{
    for (uint32_t inside = 0; inside < 2; inside++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
        const uint32_t first = input(b, "x", 2, 6, 0, 0), x = inside ? first : through(b, first, U8, 100, 0.01);
        uint32_t y;
        NNRT_Model *m;
        NNRT_If a;
        (void)state;
        a.thenGraph = branch(b);
        y = inside ? through(b, first, U8, 100, 0.01) : x;
        y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, y, y);
        gives(b, a.thenGraph, through(b, y, U8, 100, 0.01));
        a.elseGraph = branch(b);
        gives(b, a.elseGraph, op1(b, NNRT_NODE_TYPE_FLOOR, x));
        nnrt_builder_enter(b, 0);
        nnrt_builder_output(b, add_op(b, "z", NNRT_NODE_TYPE_IF, &a, &cond, 1));
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(is_quantised(m, NNRT_NODE_TYPE_ADD_FUSION), inside);
        nnrt_model_destroy(m);
    }
}

/* A network of quantized nodes that read quantized results. */
static void quantised_network(nnrt_builder *b)
{
    uint32_t x = through(b, input(b, "x", 1, 5, 6, 4), U8, 128, 0.01), y;
    even = false;
    y = conv_of(b, x, op2(b, NNRT_NODE_TYPE_TRANSPOSE, codes(b, I8, 0.002, 4, 4, 4, 1, 1), ints(b, 4, 0, 2, 3, 1)),
                codes(b, I32, 0.001, 1, 4, 0, 0, 0));
    y = through(b, activation(b, NNRT_ACTIVATION_TYPE_RELU, y), U8, 0, 0.02);
    y = through(b, op2(b, NNRT_NODE_TYPE_ADD_FUSION, x, y), U8, 100, 0.03);
    nnrt_builder_output(b, y);
    even = false;
}

static void test_quantize_network(void **state)
{
    nnrt_builder *b = begin(NULL);
    NNRT_Model *m;
    (void)state;
    quantised_network(b);
    m = optimized(b, 4, 0.03, NULL);
    assert_true(is_quantised(m, NNRT_NODE_TYPE_CONV2D_FUSION));
    assert_true(is_quantised(m, NNRT_NODE_TYPE_ADD_FUSION));
    nnrt_model_destroy(m);
    without_memory(quantised_network);
}

/* ---- plain integers, as the kernels define them ---- */

static int64_t held(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* v * d with two roundings: R(v; d). */
static int64_t rescaled(int64_t v, double d)
{
    int e = 0;
    const double f = frexp(d, &e);
    int64_t m = (int64_t)floor(f * 2147483648.0 + 0.5), h;
    if (m == (int64_t)1 << 31) {
        m /= 2;
        e++;
    }
    h = held(v * ((int64_t)1 << (e > 0 ? e : 0)), INT32_MIN, INT32_MAX);
    h = (h * m + ((int64_t)1 << 30)) >> 31;
    return e >= 0 ? h : (h + ((int64_t)1 << (-e - 1)) - (h < 0 ? 1 : 0)) >> -e;
}

/* The number that stands for v * d: of 8 bits, with this zero point. */
static int64_t code_of(int64_t v, double d, int64_t zero)
{
    return held(rescaled(v, d) + zero, 0, 255);
}

/* Element k of the first input of run(), as an integer of step 0.01 around 0. */
static int64_t code_in(size_t k)
{
    return (int64_t)((k * 37u) % 41u) * 5 - 100;
}

/* A constant of integers, made real. */
static uint32_t real_as(nnrt_builder *b, const char *name, NNRT_DataType type, const void *data, int32_t rank,
                        const int32_t *dims, double step)
{
    const NNRT_QuantParam q = quant_of(type, 0, step);
    const uint32_t x = nnrt_builder_constant(b, name, type, rank, dims, data, true);
    nnrt_builder_quant(b, x, &q, 1);
    return cast(b, x, type, F32, NULL);
}

static uint32_t real_of(nnrt_builder *b, NNRT_DataType type, const void *data, int32_t rank, const int32_t *dims,
                        double step)
{
    return real_as(b, NULL, type, data, rank, dims, step);
}

/* The optimized model gives exactly these integers, of this step and zero point, as real numbers: from element `first` of the
   results on. */
static NNRT_Model *expect_codes(nnrt_builder *b, const int64_t *want, size_t count, double step, int64_t zero)
{
    static outcome got;
    NNRT_Model *m = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS || nnrt_model_optimize(&m, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    run(m, NULL, &got);
    assert_int_equal(got.sizes[0], count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        const float y = ((const float *)(const void *)got.bytes)[i], w = (float)step * (float)(want[i] - zero);
        if (y != w)
            fail_msg("element %u is %.9g, expected %.9g", (unsigned)i, (double)y, (double)w);
    }
    return m;
}

/* A product and then a sum with constants, nothing between them: the constants become a bias in int32. */
static void test_quantize_matmul_bias(void **state)
{
    static const int8_t weight[3][4] = {{5, -90, 33, 127}, {-127, 64, 2, 11}, {80, 81, -82, 83}},
                        narrow[4] = {90, -77, 3, 0};
    static const int32_t dims[2] = {3, 4}, four = 4, wide[4] = {1000, -2500, 3, 0}, row[2] = {1, 4};
    static const float real[4] = {0.021f, -0.35f, 0.6f, 0.0004f};
    const double unit = (double)(float)0.01 * (double)(float)0.002;
    (void)state;
    for (uint32_t kind = 0; kind < 6; kind++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = through(b, input(b, "x", 2, 3, 0, 0), U8, 128, 0.01);
        uint32_t y = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, x, real_of(b, I8, weight, 2, dims, 0.002)), c;
        int64_t want[8];
        NNRT_Model *m;
        switch (kind) {
        case 0: c = nnrt_builder_constant(b, NULL, F32, 1, &four, real, true); break;
        case 1: c = real_as(b, "wide", I32, wide, 1, &four, (double)((float)0.01 * (float)0.002)); break; /* its own unit */
        case 2: c = real_of(b, I32, wide, 1, &four, 0.0003); break;
        case 3: c = nnrt_builder_constant(b, NULL, F32, 2, row, real, true); break;
        default: c = real_of(b, I8, narrow, 1, &four, 0.007); break;
        }
        y = kind == 5 ? op2(b, NNRT_NODE_TYPE_ADD_FUSION, c, y) : op2(b, NNRT_NODE_TYPE_ADD_FUSION, y, c);
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t o = i % 4;
            const double v = kind == 0 || kind == 3 ? (double)real[o]
                             : kind == 1            ? wide[o] * (double)((float)0.01 * (float)0.002)
                             : kind == 2            ? wide[o] * (double)(float)0.0003
                                                    : narrow[o] * (double)(float)0.007;
            int64_t sum = (int64_t)round(v / unit);
            for (uint32_t k = 0; k < 3; k++)
                sum += code_in(i / 4 * 3 + k) * weight[k][o];
            want[i] = code_of(sum, (double)((float)0.01 * (float)0.002) / (double)(float)0.0043, 120);
        }
        nnrt_builder_output(b, through(b, y, U8, 120, 0.0043));
        m = expect_codes(b, want, 8, 0.0043, 120);
        assert_true(is_quantised(m, NNRT_NODE_TYPE_MATMUL_FUSION));
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_ADD_FUSION), 0);
        assert_int_equal(m->nodes.count, 3);
        assert_int_equal(has_constant(m, "wide"), kind == 1); /* it is the bias already, without a copy */
        nnrt_model_destroy(m);
    }
}

/* A convolution along one axis as importers write it: another axis is added before it and removed after it. */
static void test_quantize_one_axis(void **state)
{
    static const int32_t dims[4] = {2, 1, 3, 4};
    int8_t weight[2][3][4];
    (void)state;
    for (int32_t i = 0; i < 24; i++)
        weight[i / 12][i / 4 % 3][i % 4] = (int8_t)(i * 53 % 255 - 127);
    for (uint32_t kind = 0; kind < 3; kind++) { /* an axis; an axis and a permutation; halves to even */
        nnrt_builder *b = begin(NULL);
        uint32_t x = (even = kind == 2, through(b, input(b, "x", 1, 6, 4, 0), U8, 128, 0.01)), y;
        int64_t want[8];
        NNRT_Model *m;
        x = op2(b, NNRT_NODE_TYPE_RESHAPE, x, ints(b, 4, 1, 1, 6, 4));
        y = conv_of(b, x, real_of(b, I8, weight, 4, dims, 0.002), NNRT_NO_TENSOR);
        y = op2(b, NNRT_NODE_TYPE_RESHAPE, y, ints(b, 3, 1, 4, 2, 0));
        if (kind == 1)
            y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 3, 0, 2, 1, 0));
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t o = kind == 1 ? i / 4 : i % 2, at = kind == 1 ? i % 4 : i / 2;
            int64_t sum = 0;
            for (uint32_t k = 0; k < 12; k++)
                sum += code_in(4 * at + k) * weight[o][k / 4][k % 4];
            want[i] = code_of(sum, (double)(float)0.01 * (double)(float)0.002 / (double)(float)0.0043, 120);
        }
        nnrt_builder_output(b, through(b, y, U8, 120, 0.0043));
        m = expect_codes(b, want, 8, 0.0043, 120);
        assert_true(is_quantised(m, NNRT_NODE_TYPE_CONV2D_FUSION));
        nnrt_model_destroy(m);
    }
    even = false;
}

/* A SPLIT whose parts have different quantization parameters; and one with a part in real numbers. */
static void test_quantize_split(void **state)
{
    static const int64_t sizes[] = {1, 2};
    (void)state;
    for (uint32_t kind = 0; kind < 4; kind++) { /* same steps; other steps; halves to even; one part stays real */
        nnrt_builder *b = begin(NULL);
        const double step = kind == 0 ? 0.01 : 0.0173;
        uint32_t x = (even = kind == 2, through(b, input(b, "x", 2, 3, 0, 0), U8, 128, 0.01)), y[2];
        int64_t want[2];
        NNRT_Model *m;
        NNRT_Split a;
        nnrt_attr_defaults(nnrt_op_named("SPLIT")->attr, &a);
        a.axis = 1;
        a.outputNum = 2;
        a.sizeSplits = nnrt_int64_list(sizes, 2);
        y[0] = nnrt_builder_tensor(b, NULL);
        y[1] = nnrt_builder_tensor(b, NULL);
        add_node(b, NULL, NNRT_NODE_TYPE_SPLIT, &a, &x, 1, y, 2);
        for (uint32_t i = 0; i < 2; i++)
            want[i] = kind == 0 ? held(code_in(3 * i) + 120, 0, 255)
                                : code_of(code_in(3 * i), (double)(float)0.01 / (double)(float)step, 120);
        nnrt_builder_output(b, through(b, y[0], U8, 120, step));
        nnrt_builder_output(b,
                            kind == 3 ? activation(b, NNRT_ACTIVATION_TYPE_TANH, y[1]) : through(b, y[1], U8, 7, 0.02));
        if (kind == 3) { /* real numbers, rounded once */
            for (uint32_t i = 0; i < 2; i++)
                want[i] = held(
                    (int64_t)round((double)((float)((float)0.01 * (float)code_in(3 * i)) / (float)step)) + 120, 0, 255);
        }
        m = expect_codes(b, want, 2, step, 120);
        assert_int_equal(is_quantised(m, NNRT_NODE_TYPE_SPLIT), kind < 3);
        nnrt_model_destroy(m);
    }
    even = false;
}

/* Dynamic dimensions, a SPLIT whose parts are cast, a sum after a product, a change of shape after that. */
static void open_network(nnrt_builder *b)
{
    static const int32_t dims[] = {-1, 3, 4};
    const uint32_t x = through(b, nnrt_builder_input(b, "x", F32, 3, dims), U8, 128, 0.01);
    uint32_t y[2];
    NNRT_Split a;
    nnrt_attr_defaults(nnrt_op_named("SPLIT")->attr, &a);
    a.axis = 2;
    a.outputNum = 2;
    y[0] = nnrt_builder_tensor(b, NULL);
    y[1] = nnrt_builder_tensor(b, NULL);
    add_node(b, NULL, NNRT_NODE_TYPE_SPLIT, &a, &x, 1, y, 2);
    y[0] = through(b, y[0], U8, 100, 0.02);
    y[0] = op2(b, NNRT_NODE_TYPE_MATMUL_FUSION, y[0], codes(b, I8, 0.002, 1, 2, 5, 0, 0));
    y[0] = op2(b, NNRT_NODE_TYPE_ADD_FUSION, y[0], codes(b, I8, 0.01, 1, 5, 0, 0, 0));
    y[0] = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y[0], ints(b, 3, 0, 2, 1, 0));
    nnrt_builder_output(b, through(b, y[0], U8, 90, 0.03));
    nnrt_builder_output(b, through(b, y[1], U8, 90, 0.01));
}

/* Dynamic shapes do not change which nodes are quantized: the same nodes, and the same bits. */
static void test_quantize_open(void **state)
{
    static const int64_t two[] = {2, 2}, sizes[] = {2, 2};
    static const NNRT_NodeType types[] = {
        NNRT_NODE_TYPE_CONV2D_FUSION,  NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_MATMUL_FUSION,
        NNRT_NODE_TYPE_AVGPOOL_FUSION, NNRT_NODE_TYPE_SOFTMAX,    NNRT_NODE_TYPE_CONCAT,
        NNRT_NODE_TYPE_RESHAPE,        NNRT_NODE_TYPE_SPLIT,      NNRT_NODE_TYPE_REDUCE_FUSION,
        NNRT_NODE_TYPE_TRANSPOSE,      NNRT_NODE_TYPE_ACTIVATION, NNRT_NODE_TYPE_FULL_CONNECTION};
    (void)state;
    for (uint32_t kind = 0; kind < COUNT(types); kind++) {
        static outcome want, got, real;
        const int32_t shape[4] = {2, 4, 6, 4};
        NNRT_Model *models[2] = {NULL, NULL};
        nnrt_dims given;
        size_t differ = 0;
        given.rank = 4;
        memcpy(given.dims, shape, sizeof(shape));
        for (uint32_t open = 0; open < 2; open++) {
            const int32_t dims[4] = {open ? -1 : 2, open ? -1 : 4, open ? -1 : 6, 4};
            const double step = types[kind] == NNRT_NODE_TYPE_SOFTMAX ? 0.0039 : 0.0219;
            nnrt_builder *b = begin(NULL);
            const uint32_t x =
                (even = kind % 2 != 0, through(b, nnrt_builder_input(b, "x", F32, 4, dims), U8, 120, 0.0207));
            uint32_t y = x, in[2], parts[2];
            NNRT_AvgPoolFusion average;
            NNRT_ReduceFusion reduce;
            NNRT_Softmax softmax;
            NNRT_Concat concat;
            NNRT_Split split;
            nnrt_error error;
            memset(&error, 0, sizeof(error));
            memset(&average, 0, sizeof(average));
            memset(&reduce, 0, sizeof(reduce));
            nnrt_attr_defaults(nnrt_op_named("SOFTMAX")->attr, &softmax);
            nnrt_attr_defaults(nnrt_op_named("SPLIT")->attr, &split);
            average.kernelSize = average.strides = nnrt_int64_list(two, 2);
            reduce.keepDims = true;
            reduce.mode = NNRT_REDUCE_MODE_MEAN;
            concat.axis = 3;
            split.axis = 3;
            split.outputNum = 2;
            split.sizeSplits = nnrt_int64_list(sizes, 2);
            in[0] = in[1] = x;
            switch (types[kind]) {
            case NNRT_NODE_TYPE_CONV2D_FUSION: /* 4 parameters, and a permutation after it */
                y = conv_of(b, x, codes(b, I8, 0.002, 4, 4, 2, 2, 4), codes(b, I32, 0.0001, 1, 4, 0, 0, 0));
                y = op2(b, NNRT_NODE_TYPE_TRANSPOSE, y, ints(b, 4, 0, 3, 1, 2));
                break;
            case NNRT_NODE_TYPE_ADD_FUSION: y = op2(b, types[kind], x, codes(b, U8, 0.01, 1, 4, 0, 0, 0)); break;
            case NNRT_NODE_TYPE_MATMUL_FUSION:
                y = op2(b, types[kind], x, codes(b, I8, 0.002, 1, 4, 5, 0, 0));
                y = op2(b, NNRT_NODE_TYPE_ADD_FUSION, y, codes(b, I8, 0.01, 1, 5, 0, 0, 0));
                break;
            case NNRT_NODE_TYPE_FULL_CONNECTION:
                y = full_of(b, x, codes(b, I8, 0.002, 1, 5, 4, 0, 0), NNRT_NO_TENSOR);
                break;
            case NNRT_NODE_TYPE_AVGPOOL_FUSION: y = add_op(b, NULL, types[kind], &average, in, 1); break;
            case NNRT_NODE_TYPE_SOFTMAX: y = add_op(b, NULL, types[kind], &softmax, in, 1); break;
            case NNRT_NODE_TYPE_CONCAT: y = add_op(b, NULL, types[kind], &concat, in, 2); break;
            case NNRT_NODE_TYPE_RESHAPE: y = op2(b, types[kind], x, ints(b, 2, -1, 8, 0, 0)); break;
            case NNRT_NODE_TYPE_TRANSPOSE: y = op2(b, types[kind], x, ints(b, 4, 3, 0, 2, 1)); break;
            case NNRT_NODE_TYPE_REDUCE_FUSION:
                in[1] = ints(b, 2, 1, 2, 0, 0);
                y = add_op(b, NULL, types[kind], &reduce, in, 2);
                break;
            case NNRT_NODE_TYPE_SPLIT:
                parts[0] = nnrt_builder_tensor(b, NULL);
                y = parts[1] = nnrt_builder_tensor(b, NULL);
                add_node(b, NULL, types[kind], &split, in, 1, parts, 2);
                nnrt_builder_output(b, through(b, parts[0], U8, 3, 0.03));
                break;
            default: y = activation(b, NNRT_ACTIVATION_TYPE_TANH, x); break;
            }
            nnrt_builder_output(b, through(b, y, U8, 120, step));
            if (nnrt_builder_finish(b, &models[open], &error) != NNRT_SUCCESS)
                fail_msg("%u: %s", (unsigned)kind, error.message);
            nnrt_builder_destroy(b);
            if (open)
                run(models[1], &given, &real);
            if (nnrt_model_optimize(&models[open], NULL, &error) != NNRT_SUCCESS)
                fail_msg("%u: %s", (unsigned)kind, error.message);
            if (!is_quantised(models[open], types[kind]))
                fail_msg("%u: not quantised, open %u", (unsigned)kind, (unsigned)open);
        }
        assert_int_equal(models[0]->nodes.count, models[1]->nodes.count);
        run(models[0], NULL, &want);
        run(models[1], &given, &got);
        compare(&want, &got, 0);
        for (size_t i = 0; i < got.sizes[0] / sizeof(float); i++) /* not far from the real one */
            differ += size_of((double)((const float *)(const void *)got.bytes)[i] -
                              (double)((const float *)(const void *)real.bytes)[i]) > 0.0301;
        assert_int_equal(differ, 0);
        nnrt_model_destroy(models[0]);
        nnrt_model_destroy(models[1]);
    }
    even = false;
    without_memory(open_network);
}

/* ---- integer inputs and outputs ---- */

static char io_says[1024]; /* the warnings, each with a newline */

static void io_line(void *user, nnrt_log_level level, const char *text)
{
    (void)user;
    assert_int_equal(level, NNRT_LOG_WARNING);
    assert_true(strlen(io_says) + strlen(text) + 2 < sizeof(io_says));
    strcat(strcat(io_says, text), "\n");
}

/* Finishes b and makes its inputs and outputs integers, without some passes. The code must be `want`. */
static NNRT_Model *io_model(nnrt_builder *b, uint32_t without, NNRT_ReturnCode want, nnrt_error *error)
{
    static const nnrt_log log = {io_line, NULL, NNRT_LOG_WARNING};
    nnrt_optimize_desc desc;
    NNRT_Model *m = NULL, *was;
    memset(error, 0, sizeof(*error));
    memset(&desc, 0, sizeof(desc));
    io_says[0] = '\0';
    desc.log = &log;
    desc.without = without;
    desc.integer_io = true;
    if (nnrt_builder_finish(b, &m, error) != NNRT_SUCCESS)
        fail_msg("%s", error->message);
    nnrt_builder_destroy(b);
    was = m;
    if (nnrt_model_optimize(&m, &desc, error) != want)
        fail_msg("code %d, expected %d: %s", (int)error->code, (int)want, error->message);
    assert_true(want == NNRT_SUCCESS || m == was);
    return m;
}

/* A cast whose node and result have a name. */
static uint32_t io_cast(nnrt_builder *b, const char *name, uint32_t x, NNRT_DataType type, int32_t zero, double step)
{
    const NNRT_QuantParam q = quant_of(type == F32 ? I8 : type, zero, step);
    const uint32_t y = nnrt_builder_tensor(b, name);
    NNRT_QuantDTypeCast back;
    NNRT_QuantizeLinear a;
    a.dstT = type;
    a.axis = 0;
    back.srcT = NNRT_DATA_TYPE_UNKNOWN;
    back.dstT = F32;
    nnrt_builder_declare(b, y, type, NNRT_RANK_UNKNOWN, NULL);
    if (type != F32)
        nnrt_builder_quant(b, y, &q, 1);
    nnrt_builder_node(b, name, type == F32 ? NNRT_NODE_TYPE_QUANT_DTYPE_CAST : NNRT_NODE_TYPE_QUANTIZE_LINEAR,
                      type == F32 ? (const void *)&back : &a, &x, 1, &y, 1);
    return y;
}

static uint32_t io_real(nnrt_builder *b, const char *name, uint32_t x)
{
    return io_cast(b, name, x, F32, 0, 0);
}

/* The tensor is of this type; of 8 bits with these parameters. */
static void io_is(const NNRT_Model *m, uint32_t t, const char *name, NNRT_DataType type, int32_t zero, double step)
{
    const NNRT_Tensor *tensor = &m->allTensors.data[t];
    assert_string_equal(tensor->name, name);
    assert_int_equal(tensor->dataType, type);
    assert_int_equal(tensor->quantParams.count, type != F32);
    if (type == F32)
        return;
    assert_int_equal(tensor->quantParams.data->numBits, 8);
    assert_int_equal(tensor->quantParams.data->zeroPoint, zero);
    assert_true(tensor->quantParams.data->scale >= step && tensor->quantParams.data->scale <= step);
}

/* Runs a model of one input of this shape; the result of output 0. */
static void io_run(const NNRT_Model *m, const nnrt_dims *shape, const void *x, size_t bytes, void *y, size_t results)
{
    nnrt_session_desc desc;
    nnrt_session *session;
    nnrt_error error;
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, bytes), out = nnrt_io_make(y, results);
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.inputDims = nnrt_dims_list_make(shape, 1);
    desc.device = "reference";
    if (nnrt_session_create(&session, m, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(session));
    nnrt_session_destroy(session);
}

/* Two casts with equal parameters, images with channels first, any number of them: the pool reads the input itself. */
static void test_io(void **state)
{
    static const int32_t dims[] = {-1, 1, 2, 4};
    static const int64_t two[] = {2, 2};
    static const uint8_t x[] = {1, 9, 3, 4, 5, 2, 8, 7, 255, 254, 0, 1, 250, 0, 2, 3}, want[] = {9, 8, 255, 3};
    const nnrt_dims shape = {4, {2, 1, 2, 4}};
    (void)state;
    for (uint32_t readers = 1; readers <= 2; readers++) {
        nnrt_builder *b = begin(NULL);
        NNRT_Model *m, *once;
        NNRT_MaxPoolFusion a;
        nnrt_error error;
        uint8_t y[4];
        uint32_t in = nnrt_builder_input(b, "x", F32, 4, dims), t;
        nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &a);
        a.kernelSize = a.strides = nnrt_int64_list(two, 2);
        nnrt_builder_format(b, in, NNRT_FORMAT_NCHW);
        for (uint32_t i = 0; i < readers; i++) {
            t = io_real(b, NULL, io_cast(b, NULL, in, U8, 128, 0.5));
            t = add_op(b, NULL, NNRT_NODE_TYPE_MAX_POOL_FUSION, &a, &t, 1);
            nnrt_builder_output(b, io_real(b, i == 0 ? "y" : "z", io_cast(b, NULL, t, U8, 128, 0.5)));
        }
        m = io_model(b, 0, NNRT_SUCCESS, &error);
        assert_string_equal(io_says, "");
        assert_int_equal(m->nodes.count, readers);
        assert_int_equal(m->allTensors.count, 1 + readers);
        io_is(m, m->inputIndex.data[0], "x", U8, 128, 0.5);
        io_is(m, m->outputIndex.data[0], "y", U8, 128, 0.5);
        assert_int_equal(m->allTensors.data[m->inputIndex.data[0]].format, NNRT_FORMAT_NCHW);
        assert_int_equal(m->allTensors.data[m->inputIndex.data[0]].dims.data[0], -1);
        assert_int_equal(m->allTensors.data[m->outputIndex.data[0]].format, NNRT_FORMAT_NCHW);
        if (readers == 1) {
            io_run(m, &shape, x, sizeof(x), y, sizeof(y));
            assert_memory_equal(y, want, sizeof(want));
        }
        once = m; /* again: there is nothing left to do, which is no fault */
        assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
        assert_ptr_equal(m, once);
        nnrt_model_destroy(m);
    }
}

/* SOFTMAX of a dequantized tensor, also through and before a change of shape: within a unit of 1/256. */
static void test_io_softmax(void **state)
{
    static const int8_t logits[] = {10, -20, 127, -128, 100, 126, 3, 4, 5, 6, 7, 8};
    const nnrt_dims shape = {2, {2, 6}};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const NNRT_DataType type = i % 2 == 0 ? I8 : U8;
        const int32_t zero = type == I8 ? -3 : 125;
        nnrt_builder *b = begin(NULL);
        nnrt_error error;
        NNRT_Softmax a;
        NNRT_Model *m;
        uint8_t x[12], y[12];
        uint32_t t = io_real(b, "real", io_cast(b, "q", input(b, "x", 2, 6, 0, 0), type, zero, 0.0625));
        nnrt_attr_defaults(nnrt_op_named("SOFTMAX")->attr, &a);
        if (i >= 2)
            t = op2(b, NNRT_NODE_TYPE_RESHAPE, t, ints(b, 3, 1, 2, 6, 0));
        t = add_op(b, "y", NNRT_NODE_TYPE_SOFTMAX, &a, &t, 1);
        nnrt_builder_output(b, t);
        m = io_model(b, 0, NNRT_SUCCESS, &error);
        assert_string_equal(io_says, "");
        io_is(m, m->inputIndex.data[0], "x", type, zero, 0.0625);
        io_is(m, m->outputIndex.data[0], "y", type, type == I8 ? -128 : 0, 1.0 / 256);
        assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_QUANT_DTYPE_CAST), 0);
        for (uint32_t k = 0; k < 12; k++)
            x[k] = (uint8_t)(logits[k] + (type == I8 ? 0 : 128));
        io_run(m, &shape, x, sizeof(x), y, sizeof(y));
        for (uint32_t k = 0; k < 12; k++) {
            const int32_t got = type == I8 ? (int8_t)y[k] + 128 : y[k];
            double sum = 0, p;
            for (uint32_t n = k / 6 * 6; n < k / 6 * 6 + 6; n++)
                sum += exp(0.0625 * (logits[n] - logits[k]));
            p = 256 / sum < 255 ? 256 / sum : 255;
            if (size_of(got - p) > 1)
                fail_msg("%u, element %u: %d, expected %g", i, k, (int)got, p);
        }
        nnrt_model_destroy(m);
    }
}

/* A change of shape at the end moves integers; an output and a result with readers both become integers. */
static void test_io_moves(void **state)
{
    static const int8_t x[] = {1, 2, 3, 4, 5, 6}, want[] = {1, 4, 2, 5, 3, 6};
    const nnrt_dims shape = {2, {2, 3}};
    nnrt_builder *b = begin(NULL);
    nnrt_error error;
    NNRT_Softmax a;
    NNRT_Model *m;
    int8_t y[6];
    uint32_t t = io_cast(b, "q", input(b, "x", 2, 3, 0, 0), I8, 3, 2);
    (void)state;
    t = io_real(b, "real", t);
    nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_TRANSPOSE, t, ints(b, 2, 1, 0, 0, 0)));
    m = io_model(b, 0, NNRT_SUCCESS, &error);
    assert_string_equal(io_says, "");
    assert_int_equal(m->nodes.count, 1);
    assert_int_equal(m->allTensors.data[m->outputIndex.data[0]].dataType, I8);
    assert_int_equal(m->allTensors.data[m->outputIndex.data[0]].quantParams.data->zeroPoint, 3);
    io_run(m, &shape, x, sizeof(x), y, sizeof(y));
    assert_memory_equal(y, want, sizeof(want));
    nnrt_model_destroy(m);
    b = begin(NULL);
    nnrt_attr_defaults(nnrt_op_named("SOFTMAX")->attr, &a);
    t = io_real(b, NULL, io_cast(b, NULL, input(b, "x", 2, 3, 0, 0), U8, 3, 2));
    t = io_real(b, "logits", io_cast(b, NULL, op2(b, NNRT_NODE_TYPE_ADD_FUSION, t, t), U8, 7, 4));
    nnrt_builder_output(b, t);
    nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_SOFTMAX, &a, &t, 1));
    m = io_model(b, 0, NNRT_SUCCESS, &error);
    assert_string_equal(io_says, "");
    assert_int_equal(m->nodes.count, 2);
    io_is(m, m->outputIndex.data[0], "logits", U8, 7, 4);
    io_is(m, m->outputIndex.data[1], "y", U8, 0, 1.0 / 256);
    nnrt_model_destroy(m);
}

/* Inputs and outputs that stay, each with its reason, and one that does not. */
static void test_io_stays(void **state)
{
    static const char *const says[] = {
        "input 'x' stays float32: node 'second' (QUANTIZE_LINEAR) quantizes it with other parameters than the first "
        "reader\n",
        "input 'x' stays float32: node 'root' (SQRT) reads it in float32\n"
        "output 'root' stays float32: node 'root' (SQRT) has no quantized input\n",
        "input 'x' stays float32: node 'wide' (QUANTIZE_LINEAR) does not quantize it to 8 bits with one scale\n"
        "output 'y' stays float32: node 'y' (QUANT_DTYPE_CAST) has no quantized input\n",
        "input 'x' stays float32: node 'out' (QUANTIZE_LINEAR) writes an output\n",
        "input 'x' stays float32: no node reads it\n",
        "output 'y' stays float32: node 'root' (SQRT) reads it in float32\n"
        "output 'root' stays float32: node 'root' (SQRT) has no quantized input\n",
        "output 'y' stays float32: node 'y' (QUANT_DTYPE_CAST) reads an input, a constant or another output\n",
        "output 'z' stays float32: node 'z' (QUANT_DTYPE_CAST) reads an input, a constant or another output\n",
        "output 'y' stays float32: node 'y' (SOFTMAX) has no quantized input\n",
        "input 'x' stays float32: it is an output, too\n"
        "output 'x' stays float32: no node of the main graph writes it\n",
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(says); i++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = input(b, "x", 2, 3, 0, 0);
        const uint32_t other = i == 6 || i == 8 ? x : input(b, "other", 2, 3, 0, 0);
        nnrt_error error;
        NNRT_Softmax a;
        NNRT_Model *m;
        uint32_t t = NNRT_NO_TENSOR;
        nnrt_attr_defaults(nnrt_op_named("SOFTMAX")->attr, &a);
        switch (i) {
        case 0:
            t = io_real(b, NULL, io_cast(b, "first", x, U8, 0, 0.5)); /* arguments are evaluated in any order */
            t = op2(b, NNRT_NODE_TYPE_ADD_FUSION, t, io_real(b, NULL, io_cast(b, "second", x, U8, 0, 0.25)));
            nnrt_builder_output(b, io_real(b, "y", io_cast(b, NULL, t, U8, 0, 1)));
            break;
        case 1: nnrt_builder_output(b, add_op(b, "root", NNRT_NODE_TYPE_SQRT, NULL, &x, 1)); break;
        case 2: nnrt_builder_output(b, io_real(b, "y", io_cast(b, "wide", x, NNRT_DATA_TYPE_INT16, 0, 0.5))); break;
        case 3: nnrt_builder_output(b, io_cast(b, "out", x, U8, 0, 0.5)); break;
        case 5:
            t = io_real(b, NULL, io_cast(b, NULL, x, U8, 0, 0.5));
            t = io_real(b, "y", io_cast(b, NULL, op2(b, NNRT_NODE_TYPE_ADD_FUSION, t, t), U8, 0, 0.5));
            nnrt_builder_output(b, t);
            nnrt_builder_output(b, add_op(b, "root", NNRT_NODE_TYPE_SQRT, NULL, &t, 1));
            break;
        case 6: nnrt_builder_output(b, io_real(b, "y", io_cast(b, NULL, x, U8, 0, 0.5))); break;
        case 7:
            t = io_real(b, NULL, io_cast(b, NULL, x, U8, 0, 0.5));
            t = io_cast(b, "q", op2(b, NNRT_NODE_TYPE_ADD_FUSION, t, t), U8, 0, 0.5);
            nnrt_builder_output(b, io_real(b, "y", t));
            nnrt_builder_output(b, io_real(b, "z", t));
            break;
        case 8:
            t = io_real(b, NULL, io_cast(b, NULL, x, U8, 0, 0.5));
            nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_SOFTMAX, &a, &t, 1));
            break;
        case 9: nnrt_builder_output(b, x); break;
        default: break;
        }
        if (other != x) /* an input and an output that become integers */
            nnrt_builder_output(b, op2(b, NNRT_NODE_TYPE_TRANSPOSE, io_real(b, NULL, io_cast(b, NULL, other, I8, 1, 4)),
                                       ints(b, 2, 1, 0, 0, 0)));
        m = io_model(b, i == 8 ? NNRT_PASS_QUANTIZE : 0, NNRT_SUCCESS, &error);
        assert_string_equal(io_says, says[i]);
        if (other != x) {
            io_is(m, m->inputIndex.data[1], "other", I8, 1, 4);
            assert_int_equal(m->allTensors.data[m->outputIndex.data[m->outputIndex.count - 1]].dataType, I8);
        } else {
            io_is(m, m->inputIndex.data[0], "x", U8, 0, 0.5);
        }
        nnrt_model_destroy(m);
    }
}

/* A network in float32 is refused, and so is one whose casts are all inside. */
static void test_io_refused(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_builder *b = begin(NULL);
        uint32_t x = input(b, "x", 2, 3, 0, 0);
        nnrt_error error;
        NNRT_Model *m;
        x = add_op(b, "first", NNRT_NODE_TYPE_SQRT, NULL, &x, 1);
        if (i == 1)
            x = io_real(b, NULL, io_cast(b, NULL, x, U8, 0, 0.5));
        nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
        m = io_model(b, 0, NNRT_NOT_SUPPORT, &error);
        assert_int_equal(error.code, NNRT_NOT_SUPPORT);
        assert_string_equal(error.message, "integer_io: input 'x' stays float32: node 'first' (SQRT) reads it in "
                                           "float32; quantize the network in QDQ form, from its inputs to its outputs");
        assert_int_equal(m->allTensors.data[m->inputIndex.data[0]].dataType, F32);
        nnrt_model_destroy(m);
    }
}

/* Branches read the quantized input; an output that a branch returns stays. */
static void test_io_subgraphs(void **state)
{
    nnrt_builder *b = begin(NULL);
    const uint32_t cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    const uint32_t q = io_cast(b, "q", input(b, "x", 2, 3, 0, 0), U8, 5, 0.5);
    const uint32_t other = input(b, "other", 2, 3, 0, 0);
    uint32_t t = io_real(b, NULL, q), y;
    nnrt_error error;
    NNRT_Model *m;
    NNRT_If a;
    (void)state;
    y = io_real(b, "y", io_cast(b, NULL, op2(b, NNRT_NODE_TYPE_ADD_FUSION, t, t), U8, 0, 0.5));
    nnrt_builder_output(b, y);
    a.thenGraph = branch(b);
    gives(b, a.thenGraph, op2(b, NNRT_NODE_TYPE_ADD_FUSION, op1(b, NNRT_NODE_TYPE_FLOOR, io_real(b, NULL, q)),
                              op1(b, NNRT_NODE_TYPE_FLOOR, io_real(b, NULL, io_cast(b, "inner", other, I8, 0, 0.5)))));
    a.elseGraph = branch(b);
    gives(b, a.elseGraph, y);
    nnrt_builder_enter(b, 0);
    nnrt_builder_output(b, add_op(b, "z", NNRT_NODE_TYPE_IF, &a, &cond, 1));
    m = io_model(b, 0, NNRT_SUCCESS, &error);
    assert_string_equal(io_says, "input 'other' stays float32: node 'inner' (QUANTIZE_LINEAR) is in a subgraph\n"
                                 "output 'y' stays float32: a subgraph returns it\n"
                                 "output 'z' stays float32: node 'z' (IF) has no quantized input\n");
    io_is(m, m->inputIndex.data[1], "x", U8, 5, 0.5);
    assert_int_equal(nodes_of(m, NNRT_NODE_TYPE_QUANTIZE_LINEAR), 1);
    nnrt_model_destroy(m);
}

static void io_network(nnrt_builder *b)
{
    NNRT_Softmax a;
    uint32_t t;
    open_network(b);
    nnrt_attr_defaults(nnrt_op_named("SOFTMAX")->attr, &a);
    t = io_real(b, NULL, io_cast(b, NULL, input(b, "x2", 2, 3, 0, 0), I8, 0, 0.5));
    nnrt_builder_output(b, add_op(b, "y", NNRT_NODE_TYPE_SOFTMAX, &a, &t, 1));
}

static void test_io_out_of_memory(void **state)
{
    nnrt_optimize_desc desc;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.integer_io = true;
    without_memory_for(io_network, &desc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_fold_of_the_dead),
        cmocka_unit_test(test_fold_open),
        cmocka_unit_test(test_fold_quant_axis),
        cmocka_unit_test(test_fold_shares),
        cmocka_unit_test(test_fold_byte_weights),
        cmocka_unit_test(test_fold_growth),
        cmocka_unit_test(test_fold_work),
        cmocka_unit_test(test_fold_shapes),
        cmocka_unit_test(test_outputs_stay),
        cmocka_unit_test(test_drop_copies),
        cmocka_unit_test(test_keep_others),
        cmocka_unit_test(test_join_reshapes),
        cmocka_unit_test(test_join_requantised),
        cmocka_unit_test(test_join_transposes),
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_affine_chain),
        cmocka_unit_test(test_affine_sum),
        cmocka_unit_test(test_affine_large),
        cmocka_unit_test(test_affine_rank),
        cmocka_unit_test(test_affine_not),
        cmocka_unit_test(test_matmul_bias),
        cmocka_unit_test(test_fuse_activation),
        cmocka_unit_test(test_fuse_float16),
        cmocka_unit_test(test_swish),
        cmocka_unit_test(test_hard_swish),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_fold_products),
        cmocka_unit_test(test_no_chains),
        cmocka_unit_test(test_chain_shapes),
        cmocka_unit_test(test_group_norm),
        cmocka_unit_test(test_fold_hard_sigmoid),
        cmocka_unit_test(test_two_before),
        cmocka_unit_test(test_fuse_limits),
        cmocka_unit_test(test_before),
        cmocka_unit_test(test_fuse_not),
        cmocka_unit_test(test_open_inputs),
        cmocka_unit_test(test_open_format),
        cmocka_unit_test(test_formats_travel),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_out_of_pieces),
        cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_dead_in_a_branch),
        cmocka_unit_test(test_subgraphs_out_of_memory),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_fold_operands),
        cmocka_unit_test(test_fold_pads),
        cmocka_unit_test(test_join_open),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_affine_open),
        cmocka_unit_test(test_widened_weights),
        cmocka_unit_test(test_each_pass),
        cmocka_unit_test(test_quantize_products),
        cmocka_unit_test(test_quantize_images),
        cmocka_unit_test(test_quantize_others),
        cmocka_unit_test(test_quantize_not),
        cmocka_unit_test(test_quantize_subgraphs),
        cmocka_unit_test(test_quantize_network),
        cmocka_unit_test(test_quantize_matmul_bias),
        cmocka_unit_test(test_quantize_one_axis),
        cmocka_unit_test(test_quantize_split),
        cmocka_unit_test(test_quantize_open),
        cmocka_unit_test(test_io),
        cmocka_unit_test(test_io_softmax),
        cmocka_unit_test(test_io_moves),
        cmocka_unit_test(test_io_stays),
        cmocka_unit_test(test_io_refused),
        cmocka_unit_test(test_io_subgraphs),
        cmocka_unit_test(test_io_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
