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

/* The expected layout of the model in memory and its results, computed by hand. */
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

/* x -> RELU -> y; y is an output so many times. */
static uint32_t one_output(nnrt_builder *b, uint32_t times)
{
    const int32_t dims[2] = {2, 3};
    uint32_t x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims), y;
    NNRT_Activation a;
    memset(&a, 0, sizeof(a));
    a.activationType = NNRT_ACTIVATION_TYPE_RELU;
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ACTIVATION, &a, &x, 1);
    while (times-- > 0)
        nnrt_builder_output(b, y);
    return y;
}

/* Each operator has a function that adds a node with the attributes of its struct. */
static void test_typed(void **state)
{
    const int32_t dims[2] = {2, 3};
    static const float x[6] = {1, -2, 3, -4, 5, -6}, wanted[6] = {2, 0, 6, 0, 6, 0};
    float y[6];
    nnrt_builder *b = begin(NULL);
    NNRT_AddFusion add;
    NNRT_Clip clip;
    nnrt_session *session = NULL;
    NNRT_Model *m;
    uint32_t in[2];
    (void)state;
    memset(&add, 0, sizeof(add));
    memset(&clip, 0, sizeof(clip));
    add.activationType = NNRT_ACTIVATION_TYPE_RELU;
    clip.max = 6;
    in[0] = in[1] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[0] = nnrt_add_ADD_FUSION(b, "sum", &add, in, 2);
    nnrt_builder_output(b, nnrt_add_CLIP(b, "y", &clip, in, 1));
    m = finish(b);
    nnrt_builder_destroy(b);
    assert_int_equal(m->nodes.count, 2);
    assert_int_equal(m->nodes.data[0].nodeType, NNRT_NODE_TYPE_ADD_FUSION);
    assert_int_equal(m->nodes.data[1].nodeType, NNRT_NODE_TYPE_CLIP);
    assert_string_equal(m->nodes.data[0].name, "sum");
    assert_int_equal(nnrt_session_create(&session, m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_memory_equal(y, wanted, sizeof(wanted));
    nnrt_session_destroy(session);
    nnrt_model_destroy(m);
#define TYPED(op, number, S, ...)                                                                                      \
    {                                                                                                                  \
        uint32_t (*const typed)(nnrt_builder *, const char *, const NNRT_##S *, const uint32_t *, uint32_t) =          \
            nnrt_add_##op;                                                                                             \
        assert_int_equal(typed(NULL, NULL, NULL, NULL, 0), NNRT_NO_TENSOR);                                            \
    }
    NNRT_OPS(TYPED, NNRTI_NO_KERNEL)
}

/* Calls after nnrt_builder_finish, a tensor that is an output twice, and an error that an earlier call filled. */
static void test_used_up(void **state)
{
    static const char *const once = "nnrt_builder_finish was called: a builder makes one model, create another one for the next";
    const int32_t dims[2] = {2, 3};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL, *none = NULL;
    nnrt_error error;
    uint32_t x;
    (void)state;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    (void)one_output(b, 2);
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_OPERATION_FORBIDDEN);
    assert_string_equal(nnrt_builder_error(b)->message, "nnrt_builder_output: tensor 1 'y' is output 0 already");
    assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_OPERATION_FORBIDDEN);
    assert_string_equal(error.message, "nnrt_builder_output: tensor 1 'y' is output 0 already");
    assert_null(m);
    /* the builder that failed has finished, too; the error has the new fault */
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_OPERATION_FORBIDDEN);
    assert_string_equal(error.message, once);
    nnrt_builder_destroy(b);
    /* success clears the error */
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    (void)one_output(b, 1);
    assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_SUCCESS);
    assert_non_null(m);
    assert_int_equal(error.code, NNRT_SUCCESS);
    assert_string_equal(error.message, "");
    assert_int_equal(nnrt_builder_finish(b, &none, &error), NNRT_OPERATION_FORBIDDEN);
    assert_null(none);
    assert_int_equal(error.code, NNRT_OPERATION_FORBIDDEN);
    assert_string_equal(error.message, once);
    /* every function that builds */
    for (int call = 0; call < 12; call++) {
        const float data[6] = {0};
        x = 0;
        switch (call) {
        case 0: assert_int_equal(nnrt_builder_input(b, "q", NNRT_DATA_TYPE_FLOAT32, 2, dims), NNRT_NO_TENSOR); break;
        case 1:
            assert_int_equal(nnrt_builder_constant(b, "q", NNRT_DATA_TYPE_FLOAT32, 2, dims, data, true), NNRT_NO_TENSOR);
            break;
        case 2: assert_int_equal(nnrt_builder_tensor(b, "q"), NNRT_NO_TENSOR); break;
        case 3: nnrt_builder_declare(b, 0, NNRT_DATA_TYPE_FLOAT32, 2, dims); break;
        case 4: nnrt_builder_format(b, 0, NNRT_FORMAT_NCHW); break;
        case 5: nnrt_builder_quant(b, 0, NULL, 0); break;
        case 6: nnrt_builder_symbols(b, 0, NULL, 0); break;
        case 7: nnrt_builder_node(b, "q", NNRT_NODE_TYPE_ABS, NULL, &x, 1, &x, 1); break;
        case 8: assert_int_equal(nnrt_builder_op(b, "q", NNRT_NODE_TYPE_ABS, NULL, &x, 1), NNRT_NO_TENSOR); break;
        case 9: nnrt_builder_output(b, 0); break;
        case 10: assert_int_equal(nnrt_builder_graph(b, "q"), NNRT_NO_GRAPH); break;
        default: nnrt_builder_enter(b, 0); break;
        }
        assert_int_equal(nnrt_builder_error(b)->code, NNRT_OPERATION_FORBIDDEN);
        assert_string_equal(nnrt_builder_error(b)->message, once);
        assert_int_equal(nnrt_builder_finish(b, &none, NULL), NNRT_OPERATION_FORBIDDEN);
    }
    nnrt_builder_destroy(b);
    /* other functions clear it as well */
    {
        nnrt_session *session = NULL;
        size_t bytes = 0;
        assert_int_equal(nnrt_session_create(&session, m, NULL, &error), NNRT_SUCCESS);
        assert_string_equal(error.message, "");
        nnrt_session_destroy(session);
        assert_int_equal(nnrt_session_create(&session, NULL, NULL, &error), NNRT_NULL_PTR);
        assert_true(error.message[0] != '\0');
        assert_int_equal(nnrt_session_bytes(m, NULL, &bytes, &error), NNRT_SUCCESS);
        assert_string_equal(error.message, "");
        assert_int_equal(nnrt_model_load(&none, "no such file.nnrt", NULL, &error), NNRT_INVALID_PATH);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ /* others write no .nnrt files */
        assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, &bytes, &error), NNRT_SUCCESS);
        assert_string_equal(error.message, "");
#endif
    }
    nnrt_model_destroy(m);
}

/* Constants that are not copied keep their address. */
static void test_in_place(void **state)
{
    nnrt_builder *b = begin(NULL);
    NNRT_Model *first, *second;
    (void)state;
    two_layers(b, false);
    first = finish(b);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
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

/* Arguments of the builder may change after a call: lists in attributes, names, dims, operands, quantization
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

/* Missing attributes have their defaults. */
static void test_default_attr(void **state)
{
    nnrt_builder *b = begin(NULL);
    const int32_t one[] = {1};
    uint32_t x = nnrt_builder_input(b, NULL, NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    uint32_t k = nnrt_builder_input(b, NULL, NNRT_DATA_TYPE_INT32, 1, one);
    NNRT_Model *m;
    (void)state;
    nnrt_builder_output(b, nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_TOPK_FUSION, NULL, (uint32_t[]){x, k}, 2));
    m = finish(b);
    nnrt_builder_destroy(b);
    assert_true(((const NNRT_TopKFusion *)m->nodes.data[0].nodeAttr.data)->sorted);
    assert_int_equal(((const NNRT_TopKFusion *)m->nodes.data[0].nodeAttr.data)->axis, -1);
    assert_null(m->allTensors.data[0].name);
    nnrt_model_destroy(m);
}

/* A node cannot omit a required output of its operator. (Some of the repeated outputs: test_hostile.) */
static void test_left_out(void **state)
{
    const int32_t one[] = {1};
    nnrt_builder *b = begin(NULL);
    uint32_t in[2], out[2];
    (void)state;
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    in[1] = nnrt_builder_constant(b, "k", NNRT_DATA_TYPE_INT32, 1, one, one, true);
    out[0] = NNRT_NO_TENSOR;
    out[1] = nnrt_builder_tensor(b, "y");
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_TOPK_FUSION, NULL, in, 2, out, 2);
    nnrt_builder_output(b, out[1]);
    assert_int_equal(refused(b, "output 0 is missing (values=0 indices?:.)"), NNRT_NULL_PTR);
}

/* A constant without elements needs no data; a scalar has rank 0. */
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

/* Every misuse is reported once, at the end, with its code; calls after the first fault have no effect. */
static void test_misuse(void **state)
{
    const int32_t negative[] = {2, -2}, wide[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, open[] = {-1, 3}, huge[] = {65536, 65536};
    const uint32_t nowhere = 9, none = NNRT_NO_TENSOR;
    NNRT_Conv2DFusion conv;
    NNRT_PadFusion pad;
    NNRT_Int64List list;
    nnrt_builder *b;
    uint32_t x, y;
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
    assert_int_equal(refused(b, "axis 1 has size -2"), NNRT_INVALID_SHAPE);
    b = begin(NULL);
    (void)nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, NULL);
    assert_int_equal(refused(b, "dims is NULL"), NNRT_NULL_PTR);
    b = begin(NULL);
    (void)nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_FLOAT32, 2, open, weights, true);
    assert_int_equal(refused(b, "size -1, expected 0 or more"), NNRT_INVALID_SHAPE);
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
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    y = nnrt_builder_tensor(b, "y"); /* its rank is unknown until its node is added */
    nnrt_builder_quant_axis(b, y, 4);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &y, 1);
    nnrt_builder_output(b, y);
    assert_int_equal(refused(b, "output 0 'y': quantAxis 4, expected 0 to 2"), NNRT_INVALID_PARAMETER);
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

/* A fault of the newest node: the call that added it has reported it. */
static void at_once(nnrt_builder *b, NNRT_ReturnCode code, int32_t node, const char *text)
{
    const nnrt_error *e = nnrt_builder_error(b);
    assert_int_equal(e->code, code);
    assert_int_equal(e->node, node);
    assert_int_equal(e->tensor, -1);
    if (strstr(e->message, text) == NULL)
        fail_msg("the message is '%s', expected '%s' in it", e->message, text);
    assert_int_equal(refused(b, text), code);
}

static uint32_t image(nnrt_builder *b, const char *name, NNRT_Format format, int32_t n)
{
    const int32_t dims[] = {n, 4, 4, 4};
    const uint32_t x = nnrt_builder_input(b, name, NNRT_DATA_TYPE_FLOAT32, 4, dims);
    nnrt_builder_format(b, x, format);
    return x;
}

static uint32_t add(nnrt_builder *b, const char *name, uint32_t x, uint32_t y)
{
    const uint32_t in[2] = {x, y};
    return nnrt_builder_op(b, name, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
}

/* Each node is inferred when it is added: types, shapes, formats, symbols of dynamic dimensions. */
static void test_inferred(void **state)
{
    static float data[6];
    const int32_t row[] = {3}, four[] = {4}, n3[] = {-1, 3}, one[] = {1};
    const int32_t axes[] = {-1, 2}, cut[] = {-1, 7};
    const uint32_t same[] = {5, 0};
    nnrt_builder *b;
    NNRT_Model *m;
    uint32_t x, y, in[2];
    (void)state;
    assert_null(nnrt_builder_error(NULL));

    b = begin(NULL); /* a shape, after a node with an inferred result */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    y = add(b, "y", x, nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3, data, true));
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    assert_int_equal(add(b, "z", y, nnrt_builder_constant(b, "d", NNRT_DATA_TYPE_FLOAT32, 1, four, data, true)),
                     NNRT_NO_TENSOR);
    at_once(b, NNRT_INVALID_SHAPE, 1, "node 1 'z' (ADD_FUSION)");

    b = begin(NULL); /* a type, also with dynamic dimensions */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, n3);
    assert_int_equal(add(b, "y", x, nnrt_builder_input(b, "c", NNRT_DATA_TYPE_INT32, 2, n3)), NNRT_NO_TENSOR);
    at_once(b, NNRT_INVALID_DATATYPE, 0, "node 0 'y' (ADD_FUSION)");

    b = begin(NULL); /* a node that works in any format passes the format on */
    x = image(b, "x", NNRT_FORMAT_NCHW, 1);
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1);
    assert_int_equal(add(b, "z", y, image(b, "c", NNRT_FORMAT_NHWC, 1)), NNRT_NO_TENSOR);
    at_once(b, NNRT_INVALID_FORMAT, 1, "node 1 'z' (ADD_FUSION)");

    b = begin(NULL); /* a wrong declaration: before the node, and after it */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    y = nnrt_builder_tensor(b, "y");
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &y, 1);
    at_once(b, NNRT_INVALID_SHAPE, 0, "output 0 'y' is declared float32[1,3], but is float32[2,3]");
    b = begin(NULL);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_FLOAT32, 2, dims1x3);
    at_once(b, NNRT_INVALID_SHAPE, 0, "output 0 'y' is declared float32[1,3], but is float32[2,3]");
    b = begin(NULL); /* a node already reads it: inferred properties would become wrong */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    (void)nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1);
    nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
    at_once(b, NNRT_OPERATION_FORBIDDEN, -1, "a node reads tensor 0 'x' already");

    b = begin(NULL); /* two writers, and a tensor that is an input */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &x, 1);
    at_once(b, NNRT_INVALID_OUTPUT, 0, "output 0 'x' is a model input");
    b = begin(NULL);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &y, 1);
    at_once(b, NNRT_INVALID_OUTPUT, 1, "output 0 'y' is also written by node 0 'y'");

    b = begin(NULL); /* dynamic dimensions fail only if all their values are invalid: [n,3] as [-1,2] or [-1,7] may be valid */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, n3);
    for (int k = 0; k < 2; k++) {
        const int32_t two[] = {2};
        in[0] = x;
        in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 1, two, k == 0 ? axes : cut, true);
        y = nnrt_builder_op(b, k == 0 ? "y" : "z", NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
        nnrt_builder_output(b, y);
    }
    m = finish(b);
    nnrt_model_destroy(m);
    nnrt_builder_destroy(b);

    b = begin(NULL); /* dimensions that share a symbol are equal */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, n3);
    y = nnrt_builder_input(b, "y", NNRT_DATA_TYPE_FLOAT32, 2, n3);
    nnrt_builder_symbols(b, x, same, 2);
    nnrt_builder_symbols(b, y, same, 2);
    nnrt_builder_output(b, add(b, "z", x, y));
    m = finish(b);
    nnrt_model_destroy(m);
    nnrt_builder_destroy(b);

    b = begin(NULL); /* the reader first: checked when the model is finished */
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    y = nnrt_builder_tensor(b, "y");
    in[0] = add(b, "z", y, nnrt_builder_constant(b, "d", NNRT_DATA_TYPE_FLOAT32, 1, four, data, true));
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &y, 1);
    nnrt_builder_output(b, in[0]);
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    assert_int_equal(refused(b, "node 0 'z' (ADD_FUSION)"), NNRT_INVALID_SHAPE);
    b = begin(NULL);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    y = nnrt_builder_tensor(b, "y");
    in[0] = add(b, "z", y, nnrt_builder_constant(b, "d", NNRT_DATA_TYPE_FLOAT32, 1, row, data, true));
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_SQRT, NULL, &x, 1, &y, 1);
    nnrt_builder_output(b, in[0]);
    nnrt_model_destroy(finish(b));
    nnrt_builder_destroy(b);

    b = begin(NULL); /* shape rules read constants: an index exceeds the axis */
    in[0] = nnrt_builder_constant(b, "d", NNRT_DATA_TYPE_FLOAT32, 1, row, data, true);
    in[1] = nnrt_builder_constant(b, "i", NNRT_DATA_TYPE_INT32, 1, one, four, true);
    x = nnrt_builder_constant(b, "a", NNRT_DATA_TYPE_INT32, 0, NULL, &(const int32_t){0}, true);
    assert_int_equal(nnrt_builder_op(b, "g", NNRT_NODE_TYPE_GATHER, NULL, (const uint32_t[]){in[0], in[1], x}, 3),
                     NNRT_NO_TENSOR);
    at_once(b, NNRT_INVALID_PARAMETER, 0, "node 0 'g' (GATHER)");
}

/* A LOOP that passes an image through: each of its tensors may declare a format, and two formats contradict each other. */
static void test_graph_formats(void **state)
{
    static const struct {
        NNRT_Format x, v, y;
        const char *text; /* NULL: no contradiction */
    } cases[] = {
        {NNRT_FORMAT_NCHW, NNRT_FORMAT_NCHW, NNRT_FORMAT_NCHW, NULL},
        {NNRT_FORMAT_NONE, NNRT_FORMAT_NHWC, NNRT_FORMAT_NONE, NULL},
        {NNRT_FORMAT_NONE, NNRT_FORMAT_NONE, NNRT_FORMAT_NCHW, NULL},
        {NNRT_FORMAT_NCHW, NNRT_FORMAT_NHWC, NNRT_FORMAT_NONE, "carried value 0 'v' is declared NHWC, but is NCHW"},
        {NNRT_FORMAT_NCHW, NNRT_FORMAT_NONE, NNRT_FORMAT_NHWC, "output 0 'y' is declared NHWC, but is NCHW"},
        {NNRT_FORMAT_NONE, NNRT_FORMAT_NHWC, NNRT_FORMAT_NCHW, "output 0 'y' is declared NCHW, but is NHWC"},
    };
    static const int32_t image[] = {1, 2, 2, 2};
    (void)state;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nnrt_builder *b = begin(NULL);
        NNRT_Loop loop;
        uint32_t ins[3], outs[2], in[3], y;
        in[0] = nnrt_builder_input(b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL);
        in[1] = NNRT_NO_TENSOR;
        in[2] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, image);
        nnrt_builder_format(b, in[2], cases[i].x);
        loop.body = nnrt_builder_graph(b, "body");
        for (uint32_t k = 0; k < 3; k++)
            ins[k] = nnrt_builder_tensor(b, k == 0 ? "trip" : k == 1 ? "goes" : "v");
        nnrt_builder_format(b, ins[2], cases[i].v);
        outs[0] = ins[1];
        outs[1] = ins[2];
        nnrt_builder_graph_io(b, loop.body, ins, 3, outs, 2);
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_format(b, y, cases[i].y);
        nnrt_builder_node(b, "n", NNRT_NODE_TYPE_LOOP, &loop, in, 3, &y, 1);
        nnrt_builder_output(b, y);
        if (cases[i].text != NULL) {
            assert_int_equal(refused(b, cases[i].text), NNRT_INVALID_FORMAT);
            continue;
        }
        nnrt_model_destroy(finish(b));
        nnrt_builder_destroy(b);
    }
}

/* The branches of an IF return inputs that no node reads: the shape of its result is known at once. */
static void test_graph_passes(void **state)
{
    static const float row[4];
    const int32_t four[] = {4};
    nnrt_builder *b = begin(NULL);
    const uint32_t cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    uint32_t x[2], y;
    NNRT_If branch;
    (void)state;
    x[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    x[1] = nnrt_builder_input(b, "w", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    branch.thenGraph = nnrt_builder_graph(b, "then");
    branch.elseGraph = nnrt_builder_graph(b, "else");
    nnrt_builder_graph_io(b, branch.thenGraph, NULL, 0, &x[0], 1);
    nnrt_builder_graph_io(b, branch.elseGraph, NULL, 0, &x[1], 1);
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_IF, &branch, &cond, 1);
    (void)add(b, "z", y, nnrt_builder_constant(b, "bad", NNRT_DATA_TYPE_FLOAT32, 1, four, row, true));
    at_once(b, NNRT_INVALID_SHAPE, 1, "node 1 'z' (ADD_FUSION)");
}

/* y = x doubled `trips` times, by a LOOP whose body adds v to itself, or v and `other`; grows: concatenates them
   instead. Before a node runs the body, type and shape of v are unknown, and nothing fails. */
static NNRT_ReturnCode doubled(nnrt_builder *b, int64_t trips, uint32_t other, bool grows, uint32_t *y)
{
    const bool yes = true;
    NNRT_Loop loop;
    NNRT_Concat join = {0};
    uint32_t ins[3], outs[2], in[3], two[2];
    const uint32_t x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    in[0] = nnrt_builder_constant(b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL, &trips, true);
    in[1] = nnrt_builder_constant(b, "yes", NNRT_DATA_TYPE_BOOL, 0, NULL, &yes, true);
    in[2] = x;
    loop.body = nnrt_builder_graph(b, "body");
    for (uint32_t i = 0; i < 3; i++)
        ins[i] = nnrt_builder_tensor(b, i == 0 ? "trip" : i == 1 ? "goes" : "v");
    nnrt_builder_enter(b, loop.body);
    two[0] = ins[2];
    two[1] = other == NNRT_NO_TENSOR ? ins[2] : other;
    outs[0] = ins[1];
    outs[1] = grows ? nnrt_builder_op(b, "w", NNRT_NODE_TYPE_CONCAT, &join, two, 2) : add(b, "w", two[0], two[1]);
    nnrt_builder_graph_io(b, loop.body, ins, 3, outs, 2);
    nnrt_builder_enter(b, 0);
    assert_true(nnrt_builder_error(b)->code == NNRT_SUCCESS || nnrt_builder_error(b)->code == NNRT_OUT_OF_MEMORY);
    *y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_LOOP, &loop, in, 3);
    nnrt_builder_output(b, *y);
    return nnrt_builder_error(b)->code;
}

/* Subgraphs are inferred with the node that runs them, because their input types and shapes are unknown before. */
static void test_graphs(void **state)
{
    static const float x[6] = {1, 2, 3, -1, 0, 0.5f};
    static float bad[4];
    const int32_t four[] = {4};
    const bool yes = true;
    float z[6];
    nnrt_builder *b = begin(NULL);
    nnrt_session *s = NULL;
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, sizeof(x)), out = nnrt_io_make(z, sizeof(z));
    NNRT_Loop loop;
    NNRT_If branch;
    NNRT_Model *m;
    uint32_t y, v;
    (void)state;
    assert_int_equal(doubled(b, 5, NNRT_NO_TENSOR, false, &y), NNRT_SUCCESS);
    m = finish(b);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_session_create(&s, m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    for (int i = 0; i < 6; i++)
        assert_true(z[i] == 32 * x[i]);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);

    b = begin(NULL); /* the node of the body fails for the shape of its input */
    v = nnrt_builder_constant(b, "bad", NNRT_DATA_TYPE_FLOAT32, 1, four, bad, true);
    assert_int_equal(doubled(b, 5, v, false, &y), NNRT_INVALID_SHAPE);
    at_once(b, NNRT_INVALID_SHAPE, 0, "node 0 'w' (ADD_FUSION)");
    b = begin(NULL); /* later nodes know the type and shape of the result */
    assert_int_equal(doubled(b, 5, NNRT_NO_TENSOR, false, &y), NNRT_SUCCESS);
    (void)add(b, "z", y, nnrt_builder_constant(b, "bad", NNRT_DATA_TYPE_FLOAT32, 1, four, bad, true));
    at_once(b, NNRT_INVALID_SHAPE, 2, "node 2 'z' (ADD_FUSION)");
    b = begin(NULL); /* a growing value needs no bound before a session is created: its constant axis is known */
    assert_int_equal(doubled(b, 5, NNRT_NO_TENSOR, true, &y), NNRT_SUCCESS);
    (void)add(b, "z", y, nnrt_builder_constant(b, "three", NNRT_DATA_TYPE_FLOAT32, 2, dims1x3, x, true));
    nnrt_model_destroy(finish(b));
    nnrt_builder_destroy(b);

    b = begin(NULL); /* nodes before the first subgraph; its body reads a tensor that a later node writes */
    y = nnrt_builder_op(b, "first", NNRT_NODE_TYPE_SQRT, NULL,
                        (const uint32_t[]){nnrt_builder_input(b, "p", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3)}, 1);
    v = nnrt_builder_tensor(b, "given");
    assert_int_equal(doubled(b, 5, v, false, &y), NNRT_SUCCESS);
    nnrt_builder_node(b, "late", NNRT_NODE_TYPE_SQRT, NULL, &y, 0, &v, 1);
    at_once(b, NNRT_INVALID_INPUT, 3, "node 3 'late' (SQRT)");
    for (int k = 0; k < 2; k++) {
        const int32_t wrong[] = {2, k == 0 ? 3 : 2};
        uint32_t x4;
        b = begin(NULL);
        v = nnrt_builder_tensor(b, "given");
        assert_int_equal(doubled(b, 5, v, false, &y), NNRT_SUCCESS);
        x4 = nnrt_builder_input(b, "q", NNRT_DATA_TYPE_FLOAT32, 2, wrong);
        nnrt_builder_node(b, "late", NNRT_NODE_TYPE_SQRT, NULL, &x4, 1, &v, 1);
        assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
        if (k == 0) {
            nnrt_model_destroy(finish(b));
            nnrt_builder_destroy(b);
        } else {
            assert_int_equal(refused(b, "node 0 'w' (ADD_FUSION)"), NNRT_INVALID_SHAPE);
        }
    }
    for (uint32_t k = 0; k < 2; k++) { /* no node writes an input of a graph */
        uint32_t inputs[2];
        b = begin(NULL);
        inputs[0] = nnrt_builder_tensor(b, "v");
        inputs[1] = nnrt_builder_tensor(b, "w");
        y = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
        nnrt_builder_graph_io(b, nnrt_builder_graph(b, "body"), inputs, 2, NULL, 0);
        nnrt_builder_node(b, "late", NNRT_NODE_TYPE_SQRT, NULL, &y, 1, &inputs[k], 1);
        at_once(b, NNRT_INVALID_OUTPUT, 0, "node 0 'late' (SQRT)");
    }
    b = begin(NULL); /* the inputs of a graph may be set again: nodes may then write the previous inputs */
    v = nnrt_builder_tensor(b, "v");
    y = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    loop.body = nnrt_builder_graph(b, "body");
    nnrt_builder_graph_io(b, loop.body, &v, 1, NULL, 0);
    nnrt_builder_graph_io(b, loop.body, NULL, 0, NULL, 0);
    nnrt_builder_node(b, "late", NNRT_NODE_TYPE_SQRT, NULL, &y, 1, &v, 1);
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    nnrt_builder_graph_io(b, loop.body, &v, 1, NULL, 0);
    nnrt_builder_output(b, v);
    assert_int_equal(refused(b, "subgraph 1: no node runs it"), NNRT_INVALID_MODEL);

    b = begin(NULL); /* a graph is complete when a node runs it */
    assert_int_equal(doubled(b, 5, NNRT_NO_TENSOR, false, &y), NNRT_SUCCESS);
    nnrt_builder_enter(b, 1);
    (void)add(b, "late", y, y);
    at_once(b, NNRT_OPERATION_FORBIDDEN, 2, "subgraph 1 gets no more nodes, node 1 'y' runs it");
    b = begin(NULL); /* no graph contains itself, none is deeper than NNRT_MAX_NESTING */
    loop.body = nnrt_builder_graph(b, "body");
    nnrt_builder_enter(b, loop.body);
    (void)nnrt_builder_op(b, "self", NNRT_NODE_TYPE_LOOP, &loop, (const uint32_t[]){NNRT_NO_TENSOR, NNRT_NO_TENSOR}, 2);
    at_once(b, NNRT_INVALID_MODEL, 0, "subgraph 1 lies in itself");
    b = begin(NULL);
    v = nnrt_builder_constant(b, "yes", NNRT_DATA_TYPE_BOOL, 0, NULL, &yes, true);
    y = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims2x3);
    for (uint32_t depth = 0; depth <= NNRT_MAX_NESTING && nnrt_builder_error(b)->code == NNRT_SUCCESS; depth++) {
        uint32_t outer = 0;
        branch.thenGraph = nnrt_builder_graph(b, "then");
        branch.elseGraph = nnrt_builder_graph(b, "else");
        nnrt_builder_graph_io(b, branch.thenGraph, NULL, 0, &y, 1);
        nnrt_builder_graph_io(b, branch.elseGraph, NULL, 0, &y, 1);
        if (depth > 0) { /* the inner one is in a branch */
            NNRT_If inner;
            inner.thenGraph = branch.thenGraph - 2;
            inner.elseGraph = branch.elseGraph - 2;
            nnrt_builder_enter(b, branch.thenGraph);
            outer = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_IF, &inner, &v, 1);
            nnrt_builder_graph_io(b, branch.thenGraph, NULL, 0, &outer, 1);
        }
    }
    nnrt_builder_enter(b, 0);
    (void)nnrt_builder_op(b, "deep", NNRT_NODE_TYPE_IF, &branch, &v, 1);
    at_once(b, NNRT_INVALID_MODEL, NNRT_MAX_NESTING, "or in more than 16 subgraphs");

    b = begin(NULL);
    nnrt_builder_enter(b, 1);
    at_once(b, NNRT_INVALID_PARAMETER, -1, "nnrt_builder_enter: there is no subgraph 1, only 0");
    b = begin(NULL);
    nnrt_builder_graph_io(b, 0, NULL, 0, NULL, 0);
    at_once(b, NNRT_INVALID_PARAMETER, -1, "graph 0 is the main graph, use nnrt_builder_input");
    b = begin(NULL);
    nnrt_builder_graph_io(b, nnrt_builder_graph(b, NULL), NULL, 1, NULL, 0);
    at_once(b, NNRT_NULL_PTR, -1, "a list that counts entries is NULL");
    b = begin(NULL);
    nnrt_builder_graph_io(b, nnrt_builder_graph(b, NULL), (const uint32_t[]){4}, 1, NULL, 0);
    at_once(b, NNRT_INVALID_TENSOR, -1, "nnrt_builder_graph_io: there is no tensor 4");
    b = begin(NULL);
    memset(&branch, 0xFF, sizeof(branch));
    v = nnrt_builder_constant(b, "yes", NNRT_DATA_TYPE_BOOL, 0, NULL, &yes, true);
    (void)nnrt_builder_op(b, "none", NNRT_NODE_TYPE_IF, &branch, &v, 1);
    at_once(b, NNRT_INVALID_PARAMETER, 0, "has no thenGraph");
}

/* nnrt_builder_finish reports the faults of nnrt_model_check, with tensor and node. */
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
    nnrt_builder_destroy(b);

    b = begin(NULL);
    x = nnrt_builder_tensor(b, "x");
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

/* Allocation n fails, once or with all later ones, for all n until none fails: a code, a message, and no leak. */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        const uint32_t forGood = round / 2, kind = round % 2;
        uint32_t failures = 0, y;
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
                if (kind == 0)
                    two_layers(b, true);
                else
                    (void)doubled(b, 3, NNRT_NO_TENSOR, false, &y);
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

/* The model frees attached blocks; the caller keeps the fifth one. */
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

/* The model of two_layers with metadata, edited: w is another constant, in a block that has a descriptor. */
typedef struct edit {
    NNRT_Model *source, model;
    NNRT_Tensor tensors[5];
} edit;

static void edit_begin(edit *e)
{
    const nnrt_metadata metadata = {"states", "x=y"};
    nnrt_builder *b = begin(NULL);
    static const float other[] = {2, 4, 6, -2, 0, 2};
    void *block;
    two_layers(b, true);
    e->source = finish(b);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_annotate(&e->source, &metadata, 1, NULL), NNRT_SUCCESS);
    memcpy(e->tensors, e->source->allTensors.data, sizeof(e->tensors));
    assert_int_equal(nnrt_buffer_create(sizeof(other), &e->tensors[1].data), NNRT_SUCCESS);
    assert_int_equal(nnrt_buffer_map(&e->tensors[1].data, true, &block, NULL), NNRT_SUCCESS);
    memcpy(block, other, sizeof(other));
    nnrt_buffer_unmap(&e->tensors[1].data, block);
    e->model = *e->source;
    e->model.allTensors.data = e->tensors;
}

static void edit_end(edit *e)
{
    nnrt_buffer_destroy(&e->tensors[1].data);
    nnrt_model_destroy(e->source);
    memset(e, 0xA5, sizeof(*e));
}

/* An edited struct becomes a model that needs neither it nor its source. */
static void test_create(void **state)
{
    trial t;
    nnrt_allocator a = trial_allocator(&t);
    nnrt_session *session = NULL;
    const float x[] = {1, 1, 2};
    NNRT_Model *m = NULL, *plain = NULL, *light = NULL;
    float y[2] = {7, 7};
    edit e;
    (void)state;
    edit_begin(&e);
    assert_int_equal(nnrt_model_create(&m, &e.model, e.source, true, &a, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_create(&plain, &e.model, NULL, true, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_create(&light, &e.model, NULL, false, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(light->allTensors.data[1].data.fd, -1); /* only a descriptor: copied */
    assert_non_null(light->allTensors.data[1].data.addr);
    assert_ptr_equal(light->allTensors.data[2].data.addr, e.tensors[2].data.addr);
    assert_ptr_not_equal(plain->allTensors.data[2].data.addr, e.tensors[2].data.addr);
    nnrt_model_destroy(light);
    edit_end(&e);
    assert_int_equal(t.live, 2); /* the model, the metadata */
    assert_string_equal(nnrt_model_metadata(m, "states"), "x=y");
    assert_null(nnrt_model_metadata_at(plain, 0).key);
    for (uint32_t i = 1; i <= 2; i++) {
        assert_int_equal(m->allTensors.data[i].data.fd, -1);
        assert_int_equal((uintptr_t)m->allTensors.data[i].data.addr % NNRT_ALIGNMENT, 0);
    }
    assert_int_equal(nnrt_session_create(&session, plain, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_true(y[0] == 18.5f && y[1] == 1.5f); /* 2 + 4 + 12 + 0.5, -2 + 0 + 4 - 0.5 */
    nnrt_session_destroy(session);
    nnrt_model_destroy(plain);
    nnrt_model_destroy(m);
    assert_int_equal(t.live, 0);
}

/* Faults of the struct, states that it lacks, and no memory, at each allocation: a code, a message, no model. */
static void test_create_refused(void **state)
{
    const uint32_t none = 77;
    NNRT_Model *m;
    nnrt_error error;
    uint32_t n = 0;
    trial t;
    nnrt_allocator a = trial_allocator(&t);
    edit e;
    (void)state;
    memset(&error, 0, sizeof(error));
    edit_begin(&e);
    assert_int_equal(nnrt_model_create(NULL, &e.model, NULL, true, NULL, &error), NNRT_NULL_PTR);
    assert_string_equal(error.message, "nnrt_model_create: model is NULL");
    m = e.source;
    assert_int_equal(nnrt_model_create(&m, NULL, NULL, true, NULL, &error), NNRT_NULL_PTR);
    assert_string_equal(error.message, "nnrt_model_create: from is NULL");
    do {
        m = e.source;
        t.calls = 0;
        t.failing = ++n;
        if (nnrt_model_create(&m, &e.model, e.source, true, &a, &error) == NNRT_SUCCESS)
            break;
        assert_null(m);
        assert_int_equal(error.code, NNRT_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "not enough memory"));
        assert_int_equal(t.live, 0);
    } while (n < 100);
    assert_in_range(n, 4, 99);
    t.failing = 0;
    nnrt_model_destroy(m);
    e.tensors[0].name = "z"; /* the input of the state */
    assert_int_equal(nnrt_model_create(&m, &e.model, e.source, true, &a, &error), NNRT_INVALID_PARAMETER);
    assert_null(m);
    e.model.outputIndex = NNRT_Uint32List_make(&none, 1);
    assert_int_equal(nnrt_model_create(&m, &e.model, NULL, true, &a, &error), NNRT_INVALID_OUTPUT);
    assert_null(m);
    assert_true(error.message[0] != '\0');
    assert_int_equal(t.live, 0);
    edit_end(&e);
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
    length = nnrt_model_dot(m, NULL, text, sizeof(text));
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
    assert_int_equal(nnrt_model_dot(m, NULL, NULL, 0), length);
    for (size_t size = 1; size < sizeof(part); size++) {
        memset(part, '#', sizeof(part));
        assert_int_equal(nnrt_model_dot(m, NULL, part, size), length);
        assert_int_equal(strlen(part), size - 1);
        assert_true(size == sizeof(part) || part[size] == '#');
    }
    broken = *m;
    broken.name = "a\x1b[2J\x7f\"\nb";
    (void)nnrt_model_dot(&broken, NULL, text, sizeof(text));
    contains(text, "digraph \"a [2J \\\"\\nb\" {");
    broken = *m; /* an invalid model of our own: its fault is the graph */
    broken.outputIndex.count = 0;
    (void)nnrt_model_dot(&broken, NULL, text, sizeof(text));
    contains(text, "error [shape=plaintext label=\"the model's list outputIndex is empty\"]");
    (void)nnrt_model_dot(NULL, NULL, text, sizeof(text));
    contains(text, "the model is NULL");
    nnrt_model_destroy(m);
    nnrt_builder_destroy(b);

    b = begin(NULL);
    x = nnrt_builder_input(b, "a \"b\" \\ c\nd", NNRT_DATA_TYPE_FLOAT32, 2, open);
    nnrt_builder_output(b, nnrt_builder_op(b, "", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    m = finish(b);
    nnrt_builder_destroy(b);
    (void)nnrt_model_dot(m, NULL, text, sizeof(text));
    contains(text, "label=\"a \\\"b\\\" \\\\ c\\nd\\nfloat32[-1,3]\"");
    contains(text, "label=\"SQRT\"");
    contains(text, "[label=\"nothing\"]");
    nnrt_model_destroy(m);
}

/* Nodes with the colors of their devices, whose hues are ('a' = 97) / 1000 and (('a' * 31 + '"') % 1000) / 1000. */
static void test_dot_placed(void **state)
{
    nnrt_builder *b = begin(NULL);
    nnrt_placement places[2];
    char text[4096];
    size_t length;
    NNRT_Model *m;
    (void)state;
    two_layers(b, true);
    m = finish(b);
    nnrt_builder_destroy(b);
    memset(places, 0, sizeof(places));
    places[0].device = "a";
    places[1].device = "a\"";
    places[0].part = 0;
    places[1].part = NNRT_NO_TENSOR;
    length = nnrt_model_dot(m, places, text, sizeof(text));
    assert_int_equal(length, strlen(text));
    contains(text, "n0 [shape=box style=\"rounded,filled\" fillcolor=\"0.097 0.25 1\" tooltip=\"a\" label=\"FULL_C");
    contains(text, "n1 [shape=box style=\"rounded,filled\" fillcolor=\"0.041 0.25 1\" tooltip=\"a\\\"\" label=\"");
    contains(text, "  subgraph cluster_part0 {\n");
    contains(text, "color=\"0.097 0.8 0.7\" label=\"part 0, a\";\n  n0;\n  }\n");
    assert_null(strstr(strstr(text, "cluster_part") + 1, "cluster_part"));
    places[1].device = "";
    places[1].part = 0; /* both in one */
    (void)nnrt_model_dot(m, places, text, sizeof(text));
    contains(text, "label=\"part 0, a\";\n  n0;\n  n1;\n  }\n");
    contains(text, "n1 [shape=box style=rounded label=");
    places[1].device = NULL;
    places[1].part = 0xFFFFFFFEu;
    (void)nnrt_model_dot(m, places, text, sizeof(text));
    contains(text, "  subgraph cluster_part4294967294 {\n");
    contains(text, "label=\"part 4294967294, \";\n  n1;\n  }\n");
    nnrt_model_destroy(m);
}

/* Three nodes run a body whose IF has one graph for both branches: each gets its own copies, whose results have the
   shape of its own operands. */
static NNRT_ReturnCode three_runs(const nnrt_allocator *a, NNRT_Model **model, nnrt_error *error)
{
    static const int32_t dims[3][2] = {{3, 0}, {2, 2}, {1, 5}};
    static const int64_t trips = 3;
    static const float half = 0.5f;
    static const char *const inputs[3] = {"x0", "x1", "x2"}, *const results[3] = {"y0", "y1", "y2"};
    NNRT_Loop loop;
    NNRT_If branch;
    nnrt_builder *b = NULL;
    uint32_t in[3], ins[3], outs[2], c, sum, x[3];
    NNRT_ReturnCode code = nnrt_builder_create(&b, "three", a);
    memset(&loop, 0, sizeof(loop));
    memset(&branch, 0, sizeof(branch));
    if (code != NNRT_SUCCESS)
        return code;
    for (int k = 0; k < 3; k++)
        x[k] = nnrt_builder_input(b, inputs[k], NNRT_DATA_TYPE_FLOAT32, k == 0 ? 1 : 2, dims[k]);
    in[0] = nnrt_builder_constant(b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL, &trips, true);
    in[1] = NNRT_NO_TENSOR;
    c = nnrt_builder_constant(b, "half", NNRT_DATA_TYPE_FLOAT32, 0, NULL, &half, true);
    loop.body = nnrt_builder_graph(b, "body");
    branch.thenGraph = branch.elseGraph = nnrt_builder_graph(b, "branch");
    for (uint32_t i = 0; i < 3; i++)
        ins[i] = nnrt_builder_tensor(b, NULL);
    nnrt_builder_enter(b, branch.thenGraph);
    sum = add(b, "sum", ins[2], c);
    nnrt_builder_graph_io(b, branch.thenGraph, NULL, 0, &sum, 1);
    nnrt_builder_enter(b, loop.body);
    outs[0] = ins[1];
    outs[1] = nnrt_builder_op(b, "if", NNRT_NODE_TYPE_IF, &branch, &ins[1], 1);
    nnrt_builder_graph_io(b, loop.body, ins, 3, outs, 2);
    nnrt_builder_enter(b, 0);
    for (int k = 0; k < 3; k++) {
        in[2] = x[k];
        nnrt_builder_output(b, nnrt_builder_op(b, results[k], NNRT_NODE_TYPE_LOOP, &loop, in, 3));
    }
    code = nnrt_builder_finish(b, model, error);
    nnrt_builder_destroy(b);
    return code;
}

static void test_shared_graphs(void **state)
{
    trial t;
    nnrt_allocator a = trial_allocator(&t);
    NNRT_Model *m = NULL;
    nnrt_error error;
    uint32_t calls;
    (void)state;
    memset(&error, 0, sizeof(error));
    if (three_runs(&a, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    calls = t.calls;
    assert_int_equal(m->subGraph.count, 1 + 3 * 3);
    assert_int_equal(m->nodes.count, 3 + 3 * 3);
    for (int optimized = 0; optimized < 2; optimized++) {
        nnrt_session *s = NULL;
        float x[3][5], y[3][5];
        nnrt_io in[3], out[3];
        if (optimized == 1)
            assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_create(&s, m, NULL, &error), NNRT_SUCCESS);
        for (uint32_t k = 0; k < 3; k++) {
            for (uint32_t i = 0; i < 5; i++)
                x[k][i] = (float)(10 * k + i);
            in[k] = nnrt_io_make(x[k], (3 + k) * sizeof(float));
            out[k] = nnrt_io_make(y[k], (3 + k) * sizeof(float));
        }
        assert_int_equal(nnrt_run(s, in, 3, out, 3), NNRT_SUCCESS);
        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t i = 0; i < 3 + k; i++)
                assert_true(y[k][i] == x[k][i] + 1.5f);
        nnrt_session_destroy(s);
    }
    nnrt_model_destroy(m);
    for (uint32_t k = 1; k <= calls; k++) { /* each allocation fails once */
        t.calls = 0;
        t.failing = k;
        m = NULL;
        assert_int_equal(three_runs(&a, &m, &error), NNRT_OUT_OF_MEMORY);
        assert_null(m);
        assert_int_equal(t.live, 0);
    }
}

/* Only a dynamic axis has a symbol. */
static void test_symbol_of_fixed_axis(void **state)
{
    const int32_t dims[] = {-1, 4, -1, 5};
    (void)state;
    for (uint32_t axis = 0; axis < 4; axis++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, dims);
        uint32_t symbols[] = {0, 0, 0, 0};
        char text[64];
        symbols[axis] = 7;
        nnrt_builder_symbols(b, x, symbols, 4);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
        (void)snprintf(text, sizeof(text), "symbol 7 for axis %u, which is not dynamic but %d", axis, dims[axis]);
        if (dims[axis] < 0) {
            nnrt_model_destroy(finish(b));
            nnrt_builder_destroy(b);
        } else {
            assert_int_equal(refused(b, text), NNRT_INVALID_PARAMETER);
        }
    }
}

/* A tensor that is declared anew has no symbols of its old shape. */
static void test_declared_anew(void **state)
{
    const int32_t before[] = {-1, -1, 4}, after[] = {-1, 4};
    const uint32_t symbols[] = {7, 7, 0};
    nnrt_builder *b = begin(NULL);
    uint32_t x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 3, before);
    NNRT_Model *m;
    (void)state;
    nnrt_builder_symbols(b, x, symbols, 3);
    nnrt_builder_declare(b, x, NNRT_DATA_TYPE_FLOAT32, 2, after);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    m = finish(b);
    assert_int_equal(m->allTensors.data[x].dims.count, 2);
    assert_int_equal(m->allTensors.data[x].symbols.count, 0);
    nnrt_model_destroy(m);
    nnrt_builder_destroy(b);
}

/* A shape that does not match is reported in the layout of the operand: of images in [N,C,H,W] only input 0 has it. */
static void test_expected_layout(void **state)
{
    const int32_t dims[] = {6, 3, 3, 4}, image_dims[] = {1, 4, 8, 8};
    const float zeros[6 * 3 * 3 * 4] = {0};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const NNRT_Format format = k < 2 ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC;
        const bool weight = k % 2 == 0; /* the weight lacks an axis; else x does */
        nnrt_builder *b = begin(NULL);
        uint32_t in[2];
        NNRT_Conv2DFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_CONV2D_FUSION)->attr, &a);
        in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, weight ? 4 : 3, image_dims);
        nnrt_builder_format(b, in[0], format);
        in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, weight ? 3 : 4, dims, zeros, true);
        (void)nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 2);
        at_once(b, NNRT_INVALID_SHAPE, 0,
                weight   ? "input 1 (weight) 'w' is float32[6,3,3], expected [O,R,S,I]"
                : k == 1 ? "input 0 (x) 'x' is float32[1,4,8], expected [N,C,H,W]"
                         : "input 0 (x) 'x' is float32[1,4,8], expected [N,H,W,C]");
    }
}

/* Windows that are larger than the first size assumed for a dynamic dimension: the result is known, so that the next node is
   checked at once. */
static void test_large_windows(void **state)
{
    static float data[4 * 10000];
    static const int32_t sizes[] = {3, 225, 512, 10000};
    const int32_t x_dims[] = {-1, 1, -1, 1}, one[] = {1};
    const int32_t two[] = {1, 2};
    (void)state;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        const int32_t w_dims[] = {4, 1, sizes[k], 1};
        nnrt_builder *b = begin(NULL);
        uint32_t in[2];
        NNRT_Conv2DFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_CONV2D_FUSION)->attr, &a);
        in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, x_dims);
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NHWC);
        in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 4, w_dims, data, true);
        in[0] = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 2);
        assert_int_equal(add(b, "y", in[0], nnrt_builder_constant(b, "c", NNRT_DATA_TYPE_INT32, 1, one, two, true)),
                         NNRT_NO_TENSOR);
        at_once(b, NNRT_INVALID_DATATYPE, 1, "node 1 'y' (ADD_FUSION)");
    }
}

/* x[300:] of a vector of dynamic length: empty at the first size assumed for it. */
static uint32_t behind_assumed_size(nnrt_builder *b, NNRT_DataType type)
{
    static const int32_t parts[] = {300, INT32_MAX, 1}; /* begin, end, stride */
    static const char *const names[] = {"begin", "end", "stride"};
    const int32_t dims[] = {-1}, one[] = {1};
    uint32_t in[4];
    in[0] = nnrt_builder_input(b, "x", type, 1, dims);
    for (int i = 0; i < 3; i++)
        in[i + 1] = nnrt_builder_constant(b, names[i], NNRT_DATA_TYPE_INT32, 1, one, &parts[i], true);
    return nnrt_builder_op(b, "slice", NNRT_NODE_TYPE_STRIDED_SLICE, NULL, in, 4);
}

/* The maximum of no elements is refused for every size that is assumed for x[300:]: the attempts end. */
static void test_empty_slice_of_assumed_size(void **state)
{
    static const int32_t zero[] = {0};
    const int32_t one[] = {1};
    NNRT_ReduceFusion a;
    nnrt_builder *b = begin(NULL);
    uint32_t in[2];
    (void)state;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_REDUCE_FUSION)->attr, &a);
    a.mode = NNRT_REDUCE_MODE_MAX;
    in[0] = behind_assumed_size(b, NNRT_DATA_TYPE_FLOAT32);
    in[1] = nnrt_builder_constant(b, "axes", NNRT_DATA_TYPE_INT32, 1, one, zero, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "max", NNRT_NODE_TYPE_REDUCE_FUSION, &a, in, 2));
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    nnrt_builder_destroy(b);
}

/* The k of TOPK as a list of dynamic length, assumed to be empty: its value is unknown, and nothing is read. */
static void test_empty_list_of_assumed_size(void **state)
{
    const int32_t row[] = {8};
    nnrt_builder *b = begin(NULL);
    uint32_t in[2];
    (void)state;
    in[0] = nnrt_builder_input(b, "z", NNRT_DATA_TYPE_FLOAT32, 1, row);
    in[1] = behind_assumed_size(b, NNRT_DATA_TYPE_INT32);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_TOPK_FUSION, NULL, in, 2));
    assert_int_equal(nnrt_builder_error(b)->code, NNRT_SUCCESS);
    nnrt_builder_destroy(b);
}

/* With dynamic dimensions only a run knows the number of positions: int32 indices may suffice. */
static void test_places_of_open_extents(void **state)
{
    const int32_t open[] = {-1, -1, -1, -1, -1}, large[] = {2048, 1024, 1024, 1, 1};
    const int64_t two[] = {2, 2, 2};
    NNRT_MaxPool3D a;
    (void)state;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_MAX_POOL_3D)->attr, &a);
    a.kernelShape = nnrt_int64_list(two, 3);
    a.strides = a.kernelShape;
    a.autoPad = NNRT_AUTO_PAD_SAME_UPPER;
    for (int k = 0; k < 2; k++) {
        nnrt_builder *b = begin(NULL);
        const uint32_t x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 5, k == 0 ? open : large);
        const uint32_t y[] = {nnrt_builder_tensor(b, "y"), nnrt_builder_tensor(b, "places")};
        nnrt_builder_declare(b, y[1], NNRT_DATA_TYPE_INT32, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "n", NNRT_NODE_TYPE_MAX_POOL_3D, &a, &x, 1, y, 2);
        if (k == 0) {
            NNRT_Model *m;
            nnrt_builder_output(b, y[1]);
            m = finish(b);
            nnrt_model_destroy(m);
            nnrt_builder_destroy(b);
        } else if (sizeof(size_t) == 4) {
            at_once(b, NNRT_OUT_OF_MEMORY, 0, "");
        } else {
            at_once(b, NNRT_INVALID_DATATYPE, 0, "has more elements than int32 indices reach: declare output 1 as int64");
        }
    }
}

/* Nodes behind an input of dynamic dimensions are judged by their types alone, which follow for each result from the types of
   the inputs, if the model declares none. */
static void test_supported_types(void **state)
{
    static const int32_t four = 4, dynamic = -1, unknown = NNRT_RANK_UNKNOWN;
    NNRT_Split split;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    nnrt_error e;
    bool ok[3] = {false, false, false};
    uint32_t x, parts[2];
    (void)state;
    memset(&split, 0, sizeof(split));
    memset(&e, 0, sizeof(e));
    split.outputNum = 2;
    assert_int_equal(nnrt_builder_create(&b, "types", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_INT32, 1, &four);
    parts[0] = nnrt_builder_tensor(b, "first");
    parts[1] = nnrt_builder_tensor(b, "second");
    nnrt_builder_node(b, "split", NNRT_NODE_TYPE_SPLIT, &split, &x, 1, parts, 2);
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, parts, 2));
    nnrt_builder_output(b, nnrt_builder_op(b, "other", NNRT_NODE_TYPE_NEG, NULL, &parts[1], 1));
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    ((NNRT_Node *)&model->nodes.data[2])->nodeType = NNRT_NODE_TYPE_SIN; /* not of int32 */
    for (uint32_t t = 0; t < model->allTensors.count; t++) {
        NNRT_Tensor *const tensor = (NNRT_Tensor *)&model->allTensors.data[t];
        tensor->dims = NNRT_Int32List_make(t == x ? &dynamic : &unknown, 1);
        tensor->dataType = t == x ? NNRT_DATA_TYPE_INT32 : NNRT_DATA_TYPE_UNKNOWN;
    }
    assert_int_equal(nnrt_device_supported(nnrt_device_find("reference"), model, NULL, ok, 3, NULL, NULL), NNRT_SUCCESS);
    assert_true(ok[0] && ok[1] && !ok[2]);
    nnrt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_supported_types), cmocka_unit_test(test_by_hand),                cmocka_unit_test(test_used_up), cmocka_unit_test(test_typed), cmocka_unit_test(test_in_place),         cmocka_unit_test(test_copies),
        cmocka_unit_test(test_default_attr),           cmocka_unit_test(test_empty_and_scalar), cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_inferred),               cmocka_unit_test(test_graphs),           cmocka_unit_test(test_checked),
        cmocka_unit_test(test_many),                   cmocka_unit_test(test_out_of_memory),    cmocka_unit_test(test_attach),
        cmocka_unit_test(test_dot),                    cmocka_unit_test(test_dot_placed),       cmocka_unit_test(test_shared_graphs),
        cmocka_unit_test(test_symbol_of_fixed_axis),
        cmocka_unit_test(test_declared_anew),
        cmocka_unit_test(test_expected_layout),
        cmocka_unit_test(test_large_windows),
        cmocka_unit_test(test_empty_slice_of_assumed_size),
        cmocka_unit_test(test_empty_list_of_assumed_size),
        cmocka_unit_test(test_places_of_open_extents), cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_graph_formats),          cmocka_unit_test(test_graph_passes),
        cmocka_unit_test(test_create),                 cmocka_unit_test(test_create_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
