/* The builder, the memory of models, nnrt_model_tensor and nnrt_model_dot. */
#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trial.h"

static nnrt_builder *begin(const nnrt_allocator *a)
{
    nnrt_builder *b = NULL;
    assert_int_equal(nnrt_builder_create(&b, "model", a), NNRT_SUCCESS);
    assert_non_null(b);
    return b;
}

/* Finishes with a failure, whose code it returns; the message must contain `text`. */
static NNRT_ReturnCode refused(nnrt_builder *b, const char *text)
{
    nnrt_error error;
    NNRT_Model *m = (NNRT_Model *)(uintptr_t)&error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    code = nnrt_builder_finish(b, &m, &error);
    assert_null(m);
    assert_int_equal(error.code, code);
    if (strstr(error.message, text) == NULL)
        fail_msg("the message is '%s', expected '%s' in it", error.message, text);
    nnrt_builder_destroy(b);
    return code;
}

static const int32_t dims2x3[] = {2, 3}, dims1x3[] = {1, 3}, dims2[] = {2};
static const float weights[] = {1, 2, 3, -1, 0, 1}, biases[] = {0.5f, -0.5f};

/* y = relu(x * w^T + b): x [1,3], w [2,3], b [2]. */
static void two_layers(nnrt_builder *b, bool copy)
{
    uint32_t in[3], fc;
    NNRT_FullConnection attr;
    NNRT_Activation relu;
    nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &attr);
    nnrt_attr_defaults(nnrt_op_named("ACTIVATION")->attr, &relu);
    attr.hasBias = true;
    relu.activationType = NNRT_ACTIVATION_TYPE_RELU;
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3, weights, copy);
    in[2] = nnrt_builder_constant(b, "b", NNRT_DATA_TYPE_FLOAT32, 1, dims2, biases, copy);
    fc = nnrt_builder_op(b, "fc", NNRT_NODE_TYPE_FULL_CONNECTION, &attr, in, 3);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ACTIVATION, &relu, &fc, 1));
}

static NNRT_Model *finish(nnrt_builder *b)
{
    NNRT_Model *m = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return m;
}

/* The model as it should lie in memory, and the numbers it gives: worked by hand. */
static void test_by_hand(void **state)
{
    trial t;
    nnrt_allocator a = trial_allocator(&t);
    nnrt_builder *b = begin(&a);
    const float x[] = {1, 1, 2};
    float y[2] = {7, 7};
    nnrt_session *session = NULL;
    nnrt_error error;
    NNRT_Model *m;
    (void)state;
    two_layers(b, true);
    m = finish(b);
    nnrt_builder_destroy(b);
    assert_int_equal(t.live, 1); /* one block */
    assert_string_equal(m->name, "model");
    assert_int_equal(m->nodes.count, 2);
    assert_int_equal(m->allTensors.count, 5);
    assert_int_equal(m->subGraph.count, 1);
    assert_string_equal(m->subGraph.data[0].name, "main");
    assert_int_equal(m->subGraph.data[0].nodeIndices.count, 2);
    assert_int_equal(m->subGraph.data[0].nodeIndices.data[1], 1);
    assert_int_equal(m->subGraph.data[0].inputIndices.data[0], 0);
    assert_int_equal(m->subGraph.data[0].outputIndices.data[0], nnrt_model_tensor(m, "y"));
    assert_int_equal(m->nodes.data[0].quantType, NNRT_QUANT_TYPE_NONE);
    for (uint32_t i = 1; i <= 2; i++) {
        assert_true((const void *)m->allTensors.data[i].data.addr != (const void *)weights);
        assert_int_equal((uintptr_t)m->allTensors.data[i].data.addr % 64, 0);
    }
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_create(&session, m, NULL, &error), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_true(y[0] == 9.5f); /* 1 + 2 + 6 + 0.5 */
    assert_true(y[1] == 0.5f); /* -1 + 0 + 2 - 0.5 */
    nnrt_session_destroy(session);
    nnrt_model_destroy(m);
    assert_int_equal(t.live, 0);
    assert_int_equal(t.bytes, 0);
}

/* Constants that are not copied stay where they are; a builder can be used again after it has finished. */
static void test_in_place(void **state)
{
    nnrt_builder *b = begin(NULL);
    NNRT_Model *first, *second;
    (void)state;
    two_layers(b, false);
    first = finish(b);
    two_layers(b, true);
    second = finish(b);
    nnrt_builder_destroy(b);
    assert_ptr_equal(first->allTensors.data[1].data.addr, weights);
    assert_ptr_equal(first->allTensors.data[2].data.addr, biases);
    assert_ptr_not_equal(second->allTensors.data[1].data.addr, weights);
    assert_memory_equal(second->allTensors.data[1].data.addr, weights, sizeof(weights));
    assert_int_equal(second->nodes.count, 2);
    assert_null(second->name);
    nnrt_model_destroy(first);
    nnrt_model_destroy(second);
    nnrt_model_destroy(NULL);
    nnrt_builder_destroy(NULL);
}

/* What is handed to the builder may change at once: lists in attributes, names, dims, operands, quantisation
   parameters. */
static void test_copies(void **state)
{
    nnrt_builder *b = begin(NULL);
    char name[] = "pooled";
    int64_t two[] = {2, 2}, one[] = {1, 1};
    int32_t dims[] = {1, 4, 4, 3}, open[] = {-1, 4, 4, 3};
    uint32_t symbols[] = {8, 0, 0, 0};
    NNRT_QuantParam q = {8, 3, 0.25};
    NNRT_MaxPoolFusion attr;
    const NNRT_MaxPoolFusion *kept;
    uint32_t x, y;
    NNRT_Model *m;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &attr);
    attr.kernelSize = nnrt_int64_list(two, 2);
    attr.strides = nnrt_int64_list(one, 2);
    attr.padMode = NNRT_PAD_MODE_VALID;
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, dims);
    nnrt_builder_format(b, x, NNRT_FORMAT_NHWC);
    y = nnrt_builder_tensor(b, name);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_FLOAT32, 4, dims);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_UNKNOWN, NNRT_RANK_UNKNOWN, NULL);
    nnrt_builder_quant(b, y, &q, 1);
    nnrt_builder_quant_axis(b, y, 3);
    nnrt_builder_declare(b, x, NNRT_DATA_TYPE_FLOAT32, 4, open);
    nnrt_builder_symbols(b, x, symbols, 4);
    symbols[0] = 99;
    nnrt_builder_node(b, name, NNRT_NODE_TYPE_MAX_POOL_FUSION, &attr, &x, 1, &y, 1);
    nnrt_builder_output(b, y);
    x = y = 77;
    memset(name, 'x', sizeof(name) - 1);
    memset(two, 0, sizeof(two));
    memset(dims, 0, sizeof(dims));
    memset(&q, 0, sizeof(q));
    m = finish(b);
    nnrt_builder_destroy(b);
    kept = (const NNRT_MaxPoolFusion *)m->nodes.data[0].nodeAttr.data;
    assert_int_equal(m->nodes.data[0].nodeAttr.size, sizeof(*kept));
    assert_int_equal(kept->kernelSize.data[1], 2);
    assert_string_equal(m->nodes.data[0].name, "pooled");
    assert_string_equal(m->allTensors.data[1].name, "pooled");
    assert_int_equal(m->allTensors.data[0].dims.data[2], 4);
    assert_int_equal(m->allTensors.data[0].format, NNRT_FORMAT_NHWC);
    assert_int_equal(m->allTensors.data[1].dims.data[0], NNRT_RANK_UNKNOWN);
    assert_int_equal(m->allTensors.data[1].quantParams.data[0].zeroPoint, 3);
    assert_int_equal(m->allTensors.data[1].quantAxis, 3);
    assert_int_equal(m->allTensors.data[1].symbols.count, 0);
    assert_int_equal(m->allTensors.data[0].quantAxis, 0);
    assert_int_equal(m->allTensors.data[0].symbols.count, 4);
    assert_int_equal(m->allTensors.data[0].symbols.data[0], 8);
    assert_int_equal(m->nodes.data[0].quantType, NNRT_QUANT_TYPE_ALL);
    assert_int_equal(m->nodes.data[0].outputIndex.data[0], 1);
    nnrt_model_destroy(m);
}

/* Attributes that are left out take their defaults. */
static void test_default_attr(void **state)
{
    nnrt_builder *b = begin(NULL);
    uint32_t x = nnrt_builder_input(b, NULL, NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    NNRT_Model *m;
    (void)state;
    nnrt_builder_output(b, nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_TOPK_FUSION, NULL, (uint32_t[]){x, x}, 2));
    m = finish(b); /* shapes are not looked at here */
    nnrt_builder_destroy(b);
    assert_true(((const NNRT_TopKFusion *)m->nodes.data[0].nodeAttr.data)->sorted);
    assert_int_equal(((const NNRT_TopKFusion *)m->nodes.data[0].nodeAttr.data)->axis, -1);
    assert_null(m->allTensors.data[0].name);
    nnrt_model_destroy(m);
}

/* A constant without elements needs no data; a scalar has no extents. */
static void test_empty_and_scalar(void **state)
{
    nnrt_builder *b = begin(NULL);
    const int32_t none[] = {0, 3};
    const float scalar = 5;
    uint32_t in[2];
    NNRT_Model *m;
    (void)state;
    in[0] = nnrt_builder_constant(b, "none", NNRT_DATA_TYPE_FLOAT32, 2, none, NULL, false);
    in[1] = nnrt_builder_constant(b, "five", NNRT_DATA_TYPE_FLOAT32, 0, NULL, &scalar, true);
    (void)nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 0, NULL);
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    m = finish(b);
    nnrt_builder_destroy(b);
    assert_non_null(m->allTensors.data[0].data.addr);
    assert_int_equal(m->allTensors.data[0].data.dataSize, 0);
    assert_int_equal(m->allTensors.data[1].dims.count, 0);
    assert_int_equal(nnrt_model_validate(m, NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
}

/* Every misuse is told once, at the end, with the code for it; what follows the first fault does nothing. */
static void test_misuse(void **state)
{
    const int32_t negative[] = {2, -2}, wide[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, open[] = {-1, 3}, huge[] = {65536, 65536};
    const uint32_t nowhere = 9, none = NNRT_NO_TENSOR;
    NNRT_Conv2DFusion conv;
    NNRT_PadFusion pad;
    NNRT_Int64List list;
    nnrt_builder *b;
    uint32_t x;
    (void)state;

    assert_int_equal(refused(begin(NULL), "allTensors"), NNRT_INVALID_TENSOR);

    b = begin(NULL);
    assert_int_equal(nnrt_builder_input(b, "x", 31, 2, dims1x3), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_builder_input(b, "y", NNRT_DATA_TYPE_FLOAT32, 9, wide), NNRT_NO_TENSOR);
    assert_int_equal(refused(b, "31"), NNRT_INVALID_DATATYPE); /* the first fault counts */

    b = begin(NULL);
    assert_int_equal(nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 9, wide), NNRT_NO_TENSOR);
    assert_int_equal(refused(b, "9 axes"), NNRT_INVALID_SHAPE);
    b = begin(NULL);
    (void)nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, negative);
    assert_int_equal(refused(b, "axis 1 has extent -2"), NNRT_INVALID_SHAPE);
    b = begin(NULL);
    (void)nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, NULL);
    assert_int_equal(refused(b, "dims is NULL"), NNRT_NULL_PTR);
    b = begin(NULL);
    (void)nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_FLOAT32, 2, open, weights, true);
    assert_int_equal(refused(b, "extent -1"), NNRT_INVALID_SHAPE);
    b = begin(NULL);
    (void)nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3, NULL, true);
    assert_int_equal(refused(b, "expected 24 bytes"), NNRT_NULL_PTR);
    b = begin(NULL);
    (void)nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_INT8, 2, huge, weights, false);
    assert_int_equal(refused(b, "too large"), NNRT_INVALID_BUFFER_SIZE);

    b = begin(NULL);
    nnrt_builder_declare(b, 3, NNRT_DATA_TYPE_FLOAT32, 0, NULL);
    assert_int_equal(refused(b, "no tensor 3"), NNRT_INVALID_TENSOR);
    b = begin(NULL);
    nnrt_builder_declare(b, nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_FLOAT32, 1, dims2, biases, true),
                         NNRT_DATA_TYPE_FLOAT32, 1, dims2);
    assert_int_equal(refused(b, "constant"), NNRT_OPERATION_FORBIDDEN);
    b = begin(NULL);
    nnrt_builder_format(b, NNRT_NO_TENSOR, NNRT_FORMAT_NHWC);
    assert_int_equal(refused(b, "nnrt_builder_format"), NNRT_INVALID_TENSOR);
    b = begin(NULL);
    nnrt_builder_quant(b, nnrt_builder_tensor(b, "q"), NULL, 2);
    assert_int_equal(refused(b, "params is NULL"), NNRT_NULL_PTR);
    b = begin(NULL);
    nnrt_builder_symbols(b, nnrt_builder_tensor(b, "s"), NULL, 2);
    assert_int_equal(refused(b, "symbols is NULL"), NNRT_NULL_PTR);
    b = begin(NULL);
    nnrt_builder_symbols(b, 1, NULL, 0);
    assert_int_equal(refused(b, "nnrt_builder_symbols"), NNRT_INVALID_TENSOR);
    b = begin(NULL);
    nnrt_builder_quant_axis(b, 1, 0);
    assert_int_equal(refused(b, "nnrt_builder_quant_axis"), NNRT_INVALID_TENSOR);
    b = begin(NULL);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    nnrt_builder_quant_axis(b, x, 3);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    assert_int_equal(refused(b, "quantAxis 3, expected 0 to 2"), NNRT_INVALID_PARAMETER);
    b = begin(NULL);
    nnrt_builder_output(b, 0);
    assert_int_equal(refused(b, "nnrt_builder_output"), NNRT_INVALID_TENSOR);

    b = begin(NULL);
    nnrt_builder_node(b, "n", 99999, NULL, NULL, 0, NULL, 0);
    assert_int_equal(refused(b, "99999"), NNRT_UNSUPPORTED_OP);
    b = begin(NULL);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_CONCAT, NULL, NULL, 2, NULL, 0);
    assert_int_equal(refused(b, "CONCAT"), NNRT_NULL_PTR);
    b = begin(NULL);
    assert_int_equal(nnrt_builder_op(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &nowhere, 1), NNRT_NO_TENSOR);
    assert_int_equal(refused(b, "input 0 is tensor 9"), NNRT_INVALID_INPUT);
    b = begin(NULL);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &nowhere, 1);
    assert_int_equal(refused(b, "output 0 is tensor 9"), NNRT_INVALID_OUTPUT);

    b = begin(NULL);
    memset(&conv, 0, sizeof(conv));
    conv.stride.count = 2;
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, &none, 1, &none, 1);
    assert_int_equal(refused(b, "CONV2D_FUSION"), NNRT_NULL_PTR);
    b = begin(NULL);
    memset(&pad, 0, sizeof(pad));
    memset(&list, 0, sizeof(list));
    list.count = 1;
    pad.paddings.data = &list;
    pad.paddings.count = 1;
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_PAD_FUSION, &pad, &none, 1, &none, 1);
    assert_int_equal(refused(b, "PAD_FUSION"), NNRT_NULL_PTR);
}

/* What nnrt_model_check finds comes through, with the places. */
static void test_checked(void **state)
{
    nnrt_builder *b = begin(NULL);
    nnrt_error error;
    NNRT_Model *m = NULL;
    uint32_t x;
    (void)state;
    two_layers(b, true);
    (void)nnrt_builder_tensor(b, "w");
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_INVALID_TENSOR_NAME);
    assert_non_null(strstr(error.message, "'w'"));
    assert_int_equal(error.tensor, 5);

    x = nnrt_builder_tensor(b, "x"); /* the builder is empty again, and has forgotten the fault */
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    (void)nnrt_builder_input(b, "z", NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    assert_int_equal(refused(b, "which no node writes"), NNRT_INVALID_INPUT);

    b = begin(NULL);
    nnrt_builder_fail(b, NNRT_INVALID_FILE, "the importer's own");
    nnrt_builder_fail(b, NNRT_INVALID_PATH, "a later one");
    assert_int_equal(nnrt_builder_tensor(b, "x"), NNRT_NO_TENSOR);
    assert_int_equal(refused(b, "the importer's own"), NNRT_INVALID_FILE);
    b = begin(NULL);
    nnrt_builder_fail(b, NNRT_SUCCESS, "no code");
    assert_int_equal(refused(b, "no code"), NNRT_FAILED);

    assert_int_equal(nnrt_builder_create(NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_builder_finish(NULL, &m, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_builder_tensor(NULL, "x"), NNRT_NO_TENSOR);
    nnrt_builder_output(NULL, 0);
    nnrt_builder_fail(NULL, NNRT_FAILED, "");
}

/* A long chain: all arrays grow several times. */
static void test_many(void **state)
{
    trial t;
    nnrt_allocator a = trial_allocator(&t);
    nnrt_builder *b = begin(&a);
    uint32_t last = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    char name[32];
    NNRT_Model *m;
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        (void)nnrt_text(name, sizeof(name), "node %u", i);
        last = nnrt_builder_op(b, name, NNRT_NODE_TYPE_SQRT, NULL, &last, 1);
    }
    nnrt_builder_output(b, last);
    m = finish(b);
    nnrt_builder_destroy(b);
    assert_int_equal(m->nodes.count, 5000);
    assert_int_equal(nnrt_model_tensor(m, "node 4321"), 4322);
    assert_string_equal(m->nodes.data[4321].name, "node 4321");
    assert_int_equal(m->nodes.data[4321].inputIndex.data[0], 4321);
    assert_int_equal(nnrt_model_tensor(m, "node"), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_model_tensor(m, ""), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_model_tensor(m, NULL), NNRT_NO_TENSOR);
    nnrt_model_destroy(m);
    assert_int_equal(t.live, 0);
}

/* Allocation n fails, once or from then on, for all n until none does: the code and a message, and nothing stays. */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (uint32_t forGood = 0; forGood < 2; forGood++) {
        uint32_t failures = 0;
        for (uint32_t n = 1;; n++) {
            trial t;
            nnrt_allocator a = trial_allocator(&t);
            nnrt_builder *b = NULL;
            NNRT_Model *m = NULL;
            nnrt_error error;
            NNRT_ReturnCode code;
            bool met;
            t.failing = n;
            t.forGood = forGood != 0;
            memset(&error, 0, sizeof(error));
            code = nnrt_builder_create(&b, "model", &a);
            if (code == NNRT_SUCCESS) {
                for (uint32_t i = 0; i < 40; i++)
                    (void)nnrt_builder_tensor(b, NULL);
                two_layers(b, true);
                code = nnrt_builder_finish(b, &m, &error);
                met = t.calls >= n;
                assert_true((code == NNRT_SUCCESS) == !met);
                assert_true(!met || (code == NNRT_OUT_OF_MEMORY && error.code == code && strlen(error.message) > 10));
                nnrt_builder_destroy(b);
            } else {
                assert_int_equal(code, NNRT_OUT_OF_MEMORY);
                assert_null(b);
                met = true;
            }
            assert_true(met == (m == NULL));
            nnrt_model_destroy(m);
            assert_int_equal(t.live, 0);
            if (!met)
                break;
            failures++;
        }
        assert_true(failures > 20);
    }
}

/* Attached blocks go with the model; the fifth one stays the caller's. */
static void test_attach(void **state)
{
    trial t;
    nnrt_allocator a = trial_allocator(&t);
    nnrt_builder *b = begin(&a);
    void *blocks[5];
    NNRT_Model *m;
    (void)state;
    two_layers(b, true);
    m = finish(b);
    nnrt_builder_destroy(b);
    for (uint32_t i = 0; i < 5; i++) {
        blocks[i] = nnrt_alloc(&a, 100 + i);
        assert_int_equal(nnrt_model_attach(m, blocks[i], 100 + i), i < 4 ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY);
    }
    assert_int_equal(nnrt_model_attach(m, NULL, 1), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_attach(NULL, blocks[4], 104), NNRT_NULL_PTR);
    assert_int_equal(t.live, 6);
    nnrt_model_destroy(m);
    assert_int_equal(t.live, 1);
    assert_int_equal(t.bytes, 104);
    nnrt_free(&a, blocks[4], 104);
}

static void contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("expected '%s' in:\n%s", part, text);
}

static void test_dot(void **state)
{
    nnrt_builder *b = begin(NULL);
    char text[4096], part[64];
    size_t length, edges;
    NNRT_Model *m;
    NNRT_Model broken;
    uint32_t x;
    const int32_t open[] = {-1, 3};
    (void)state;
    two_layers(b, true);
    x = nnrt_builder_tensor(b, NULL);
    m = finish(b);
    (void)x;
    length = nnrt_model_dot(m, text, sizeof(text));
    assert_int_equal(length, strlen(text));
    contains(text, "digraph \"model\" {");
    contains(text, "t0 [shape=ellipse style=filled label=\"x\\nfloat32[1,3]\"];");
    contains(text, "t1 [shape=note fontsize=9 label=\"w\\nfloat32[2,3]\"];");
    contains(text, "n0 [shape=box style=rounded label=\"FULL_CONNECTION\\nfc\\nhasBias=true\\n");
    contains(text, "activationType=RELU");
    contains(text, "t0 -> n0;");
    contains(text, "n0 -> n1 [label=\"float32[1,2]\"];");
    contains(text, "o0 [shape=ellipse peripheries=2 label=\"y\\nfloat32[1,2]\"];");
    contains(text, "n1 -> o0 [label=\"float32[1,2]\"];");
    edges = 0;
    for (const char *at = text; (at = strstr(at, " -> ")) != NULL; at++)
        edges++;
    assert_int_equal(edges, 5); /* x, w and the bias to n0, n0 to n1, n1 to y */
    assert_int_equal(nnrt_model_dot(m, NULL, 0), length);
    for (size_t size = 1; size < sizeof(part); size++) {
        memset(part, '#', sizeof(part));
        assert_int_equal(nnrt_model_dot(m, part, size), length);
        assert_int_equal(strlen(part), size - 1);
        assert_true(size == sizeof(part) || part[size] == '#');
    }
    broken = *m; /* a model of our own that is none: its fault is the graph */
    broken.outputIndex.count = 0;
    (void)nnrt_model_dot(&broken, text, sizeof(text));
    contains(text, "error [shape=plaintext label=\"the model's list outputIndex is empty\"]");
    (void)nnrt_model_dot(NULL, text, sizeof(text));
    contains(text, "the model is NULL");
    nnrt_model_destroy(m);

    x = nnrt_builder_input(b, "a \"b\" \\ c\nd", NNRT_DATA_TYPE_FLOAT32, 2, open);
    nnrt_builder_output(b, nnrt_builder_op(b, "", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    m = finish(b);
    nnrt_builder_destroy(b);
    (void)nnrt_model_dot(m, text, sizeof(text));
    contains(text, "label=\"a \\\"b\\\" \\\\ c\\nd\\nfloat32[-1,3]\"");
    contains(text, "label=\"SQRT\"");
    contains(text, "[label=\"nothing\"]");
    nnrt_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_default_attr),
        cmocka_unit_test(test_empty_and_scalar),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_checked),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_attach),
        cmocka_unit_test(test_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
