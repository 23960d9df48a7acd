/* Every operator of OpenHarmony's API alone, as the operator tests of its compatibility suite (xts_acts) take them: a model
   with all parameters of the operator is built on a device that accepts everything, and runs on the reference device;
   then each fault of the calls that build it, with its code. A fault adds nothing: the model is completed after all of
   them. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inside.h"

#include "devices/nnrt_auto.h"

#include "devices/nnrt_cpu.h"
#include "ohnn_kit.h"

/* ---- the table ---- */

#define MOST_PARAMS 10
#define MOST_TENSORS 24

/* Tensors are words TYPE[DIMENSIONS][=VALUES]. TYPE: b bool, c int8, i int32, l int64, f float32; q int8 with scale 0.5 and
   zero point 1. Without dimensions it is a scalar. The last value, or 1, fills the rest. Inputs with values are constants. */
typedef struct each {
    OH_NN_OperationType op;
    const char *in, *out;
    struct {
        OH_NN_TensorType type;
        const char *text;
    } params[MOST_PARAMS];
} each;

#define UNARY(name) {OH_NN_OPS_##name, "f2x3", "f2x3", {{OH_NN_TENSOR, NULL}}}
#define BINARY(name, type, result) {OH_NN_OPS_##name, type " " type, result, {{OH_NN_TENSOR, NULL}}}
#define FUSED(name, param) {OH_NN_OPS_##name, "f2x3 f2x3", "f2x3", {{OH_NN_##param, "c=0"}}}
#define POOL(name)                                                                                                     \
    {OH_NN_OPS_##name,                                                                                                 \
     "f1x4x4x1",                                                                                                       \
     "f1x2x2x1",                                                                                                       \
     {{OH_NN_##name##_KERNEL_SIZE, "l2=2"},                                                                            \
      {OH_NN_##name##_STRIDE, "l2=2"},                                                                                 \
      {OH_NN_##name##_PAD_MODE, "c=1"},                                                                                \
      {OH_NN_##name##_PAD, "l4=0"},                                                                                    \
      {OH_NN_##name##_ACTIVATION_TYPE, "c=0"},                                                                         \
      {OH_NN_##name##_ROUND_MODE, "i=0"},                                                                              \
      {OH_NN_##name##_GLOBAL, "b=0"}}}
#define REDUCE(mode, type)                                                                                             \
    {OH_NN_OPS_REDUCE_##mode,                                                                                          \
     type "2x3 i1=1",                                                                                                  \
     type "2x1",                                                                                                       \
     {{OH_NN_REDUCE_##mode##_KEEP_DIMS, "b=1"},                                                                        \
      {OH_NN_REDUCE_##mode##_REDUCE_TO_END, "b=0"},                                                                    \
      {OH_NN_REDUCE_##mode##_COEFF, "f=1"}}}

/* clang-format off */
static const each operators[] = {
    FUSED(ADD, ADD_ACTIVATIONTYPE),
    POOL(AVG_POOL),
    {OH_NN_OPS_BATCH_NORM, "f2x3 f3 f3 f3 f3", "f2x3", {{OH_NN_BATCH_NORM_EPSILON, "f=0.5"}}},
    {OH_NN_OPS_BATCH_TO_SPACE_ND, "f4x1x1x1", "f1x2x2x1",
     {{OH_NN_BATCH_TO_SPACE_ND_BLOCKSIZE, "l2=2"}, {OH_NN_BATCH_TO_SPACE_ND_CROPS, "l2x2=0"}}},
    {OH_NN_OPS_BIAS_ADD, "f1x2x2x3 f3", "f1x2x2x3", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_CAST, "f2x3 i1=4", "i2x3", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_CONCAT, "f2x3 f2x3", "f4x3", {{OH_NN_CONCAT_AXIS, "l=0"}}},
    {OH_NN_OPS_CONV2D, "f1x3x3x1 f1x2x2x1 f1", "f1x2x2x1",
     {{OH_NN_CONV2D_STRIDES, "l2=1"}, {OH_NN_CONV2D_PAD, "l4=0"}, {OH_NN_CONV2D_DILATION, "l2=1"},
      {OH_NN_CONV2D_PAD_MODE, "c=1"}, {OH_NN_CONV2D_ACTIVATION_TYPE, "c=0"}, {OH_NN_CONV2D_GROUP, "l=1"}}},
    {OH_NN_OPS_CONV2D_TRANSPOSE, "f1x2x2x1 f1x2x2x1 f1", "f1x3x3x1",
     {{OH_NN_CONV2D_TRANSPOSE_STRIDES, "l2=1"}, {OH_NN_CONV2D_TRANSPOSE_PAD, "l4=0"},
      {OH_NN_CONV2D_TRANSPOSE_DILATION, "l2=1"}, {OH_NN_CONV2D_TRANSPOSE_OUTPUT_PADDINGS, "l2=0"},
      {OH_NN_CONV2D_TRANSPOSE_PAD_MODE, "c=1"}, {OH_NN_CONV2D_TRANSPOSE_ACTIVATION_TYPE, "c=0"},
      {OH_NN_CONV2D_TRANSPOSE_GROUP, "l=1"}}},
    {OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE, "f1x3x3x2 f2x2x2x1 f2", "f1x2x2x2",
     {{OH_NN_DEPTHWISE_CONV2D_NATIVE_STRIDES, "l2=1"}, {OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD, "l4=0"},
      {OH_NN_DEPTHWISE_CONV2D_NATIVE_DILATION, "l2=1"}, {OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD_MODE, "c=1"},
      {OH_NN_DEPTHWISE_CONV2D_NATIVE_ACTIVATION_TYPE, "c=0"}}},
    FUSED(DIV, DIV_ACTIVATIONTYPE),
    FUSED(ELTWISE, ELTWISE_MODE),
    {OH_NN_OPS_EXPAND_DIMS, "f2x3 i1=0", "f1x2x3", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_FILL, "f1 i2=2,3", "f2x3", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_FULL_CONNECTION, "f2x3 f2x3 f2", "f2x2",
     {{OH_NN_FULL_CONNECTION_AXIS, "l=1"}, {OH_NN_FULL_CONNECTION_ACTIVATIONTYPE, "c=0"},
      {OH_NN_FULL_CONNECTION_HAS_BIAS, "b=1"}, {OH_NN_FULL_CONNECTION_USE_AXIS, "b=1"}}},
    {OH_NN_OPS_GATHER, "f2x3 i2=0,1 i1=0", "f2x3", {{OH_NN_TENSOR, NULL}}},
    UNARY(HSWISH),
    BINARY(LESS_EQUAL, "f2x3", "b2x3"),
    {OH_NN_OPS_MATMUL, "f2x3 f3x2", "f2x2",
     {{OH_NN_MATMUL_TRANSPOSE_A, "b=0"}, {OH_NN_MATMUL_TRANSPOSE_B, "b=0"}, {OH_NN_MATMUL_ACTIVATION_TYPE, "c=0"}}},
    BINARY(MAXIMUM, "f2x3", "f2x3"),
    POOL(MAX_POOL),
    FUSED(MUL, MUL_ACTIVATION_TYPE),
    {OH_NN_OPS_ONE_HOT, "i3 i1=3 f1=1 f1=0", "f3x3", {{OH_NN_ONE_HOT_AXIS, "l=-1"}}},
    {OH_NN_OPS_PAD, "f2x3 i2x2=0,0,1,1", "f2x5", {{OH_NN_PAD_CONSTANT_VALUE, "f=2"}, {OH_NN_PAD_PADDING_MODE, "i=0"}}},
    {OH_NN_OPS_POW, "f2x3 f2x3", "f2x3", {{OH_NN_POW_SCALE, "f=1"}, {OH_NN_POW_SHIFT, "f=0"}}},
    {OH_NN_OPS_SCALE, "f2x3 f3 f3", "f2x3", {{OH_NN_SCALE_ACTIVATIONTYPE, "c=0"}, {OH_NN_SCALE_AXIS, "l=1"}}},
    {OH_NN_OPS_SHAPE, "f2x3", "i2", {{OH_NN_TENSOR, NULL}}},
    UNARY(SIGMOID),
    {OH_NN_OPS_SLICE, "f2x3 i2=0 i2=1,3", "f1x3", {{OH_NN_SLICE_AXES, "l2=0,1"}}},
    {OH_NN_OPS_SOFTMAX, "f2x3", "f2x3", {{OH_NN_SOFTMAX_AXIS, "l1=1"}}},
    {OH_NN_OPS_SPACE_TO_BATCH_ND, "f1x2x2x1", "f4x1x1x1",
     {{OH_NN_SPACE_TO_BATCH_ND_BLOCK_SHAPE, "l2=2"}, {OH_NN_SPACE_TO_BATCH_ND_PADDINGS, "l2x2=0"}}},
    {OH_NN_OPS_SPLIT, "f4x3", "f2x3 f2x3",
     {{OH_NN_SPLIT_AXIS, "l=0"}, {OH_NN_SPLIT_OUTPUT_NUM, "l=2"}, {OH_NN_SPLIT_SIZE_SPLITS, "l2=2"}}},
    UNARY(SQRT),
    BINARY(SQUARED_DIFFERENCE, "f2x3", "f2x3"),
    {OH_NN_OPS_SQUEEZE, "f1x2x3", "f2x3", {{OH_NN_SQUEEZE_AXIS, "l1=0"}}},
    {OH_NN_OPS_STACK, "f2x3 f2x3", "f2x2x3", {{OH_NN_STACK_AXIS, "l=0"}}},
    {OH_NN_OPS_STRIDED_SLICE, "f2x3 i2=0 i2=2,3 i2=1", "f2x3",
     {{OH_NN_STRIDED_SLICE_BEGIN_MASK, "l=0"}, {OH_NN_STRIDED_SLICE_END_MASK, "l=0"},
      {OH_NN_STRIDED_SLICE_ELLIPSIS_MASK, "l=0"}, {OH_NN_STRIDED_SLICE_NEW_AXIS_MASK, "l=0"},
      {OH_NN_STRIDED_SLICE_SHRINK_AXIS_MASK, "l=0"}}},
    FUSED(SUB, SUB_ACTIVATIONTYPE),
    UNARY(TANH),
    {OH_NN_OPS_TILE, "f2x3 i2=1,2", "f2x6", {{OH_NN_TILE_DIMS, "l2=0,1"}}},
    {OH_NN_OPS_TRANSPOSE, "f2x3 i2=1,0", "f3x2", {{OH_NN_TENSOR, NULL}}},
    REDUCE(MEAN, "f"),
    {OH_NN_OPS_RESIZE_BILINEAR, "f1x2x2x1", "f1x4x4x1",
     {{OH_NN_RESIZE_BILINEAR_NEW_HEIGHT, "l=4"}, {OH_NN_RESIZE_BILINEAR_NEW_WIDTH, "l=4"},
      {OH_NN_RESIZE_BILINEAR_PRESERVE_ASPECT_RATIO, "b=0"}, {OH_NN_RESIZE_BILINEAR_COORDINATE_TRANSFORM_MODE, "c=0"},
      {OH_NN_RESIZE_BILINEAR_EXCLUDE_OUTSIDE, "l=0"}}},
    UNARY(RSQRT),
    {OH_NN_OPS_RESHAPE, "f2x3 i1=6", "f6", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_PRELU, "f2x3 f3", "f2x3", {{OH_NN_TENSOR, NULL}}},
    UNARY(RELU),
    UNARY(RELU6),
    {OH_NN_OPS_LAYER_NORM, "f2x3 f3 f3", "f2x3",
     {{OH_NN_LAYER_NORM_BEGIN_NORM_AXIS, "l=1"}, {OH_NN_LAYER_NORM_EPSILON, "f=0.5"},
      {OH_NN_LAYER_NORM_BEGIN_PARAM_AXIS, "l=1"}, {OH_NN_LAYER_NORM_ELEMENTWISE_AFFINE, "b=1"}}},
    REDUCE(PROD, "f"),
    REDUCE(ALL, "b"),
    {OH_NN_OPS_QUANT_DTYPE_CAST, "f2x3", "q2x3",
     {{OH_NN_QUANT_DTYPE_CAST_SRC_T, "l=11"}, {OH_NN_QUANT_DTYPE_CAST_DST_T, "l=2"}, {OH_NN_QUANT_DTYPE_CAST_AXIS, "l=0"}}},
    {OH_NN_OPS_TOP_K, "f2x3 i1=2", "f2x2 i2x2", {{OH_NN_TOP_K_SORTED, "b=1"}, {OH_NN_TOP_K_AXIS, "l=1"}}},
    {OH_NN_OPS_ARG_MAX, "f2x3", "i2x1",
     {{OH_NN_ARG_MAX_AXIS, "l=1"}, {OH_NN_ARG_MAX_KEEPDIMS, "b=1"}, {OH_NN_ARG_MAX_TOP_K, "l=1"},
      {OH_NN_ARG_MAX_OUT_MAX_VALUE, "b=0"}}},
    {OH_NN_OPS_UNSQUEEZE, "f2x3", "f1x2x3", {{OH_NN_UNSQUEEZE_AXIS, "l1=0"}}},
    {OH_NN_OPS_GELU, "f2x3", "f2x3", {{OH_NN_GELU_APPROXIMATE, "b=0"}}},
    {OH_NN_OPS_UNSTACK, "f2x3", "f3 f3", {{OH_NN_UNSTACK_AXIS, "l=0"}}},
    UNARY(ABS),
    UNARY(ERF),
    {OH_NN_OPS_EXP, "f2x3", "f2x3", {{OH_NN_EXP_BASE, "f=2"}, {OH_NN_EXP_SCALE, "f=1"}, {OH_NN_EXP_SHIFT, "f=0"}}},
    BINARY(LESS, "f2x3", "b2x3"),
    {OH_NN_OPS_SELECT, "b2x3 f2x3 f2x3", "f2x3", {{OH_NN_TENSOR, NULL}}},
    UNARY(SQUARE),
    {OH_NN_OPS_FLATTEN, "f2x3x2", "f2x6", {{OH_NN_FLATTEN_AXIS, "l=1"}}},
    {OH_NN_OPS_DEPTH_TO_SPACE, "f1x1x1x4", "f1x2x2x1",
     {{OH_NN_DEPTH_TO_SPACE_BLOCK_SIZE, "l=2"}, {OH_NN_DEPTH_TO_SPACE_MODE, "i=0"}}},
    {OH_NN_OPS_RANGE, "f3", "f3", {{OH_NN_RANGE_START, "l=0"}, {OH_NN_RANGE_LIMIT, "l=3"}, {OH_NN_RANGE_DELTA, "l=1"}}},
    {OH_NN_OPS_INSTANCE_NORM, "f1x2x2x3 f3 f3", "f1x2x2x3", {{OH_NN_INSTANCE_NORM_EPSILON, "f=0.5"}}},
    {OH_NN_OPS_CONSTANT_OF_SHAPE, "i2=2,3", "f2x3",
     {{OH_NN_CONSTANT_OF_SHAPE_DATA_TYPE, "l=11"}, {OH_NN_CONSTANT_OF_SHAPE_VALUE, "f1=1"}}},
    {OH_NN_OPS_BROADCAST_TO, "f1x3", "f2x3", {{OH_NN_BROADCAST_TO_SHAPE, "l2=2,3"}}},
    BINARY(EQUAL, "f2x3", "b2x3"),
    BINARY(GREATER, "f2x3", "b2x3"),
    BINARY(NOT_EQUAL, "f2x3", "b2x3"),
    BINARY(GREATER_EQUAL, "f2x3", "b2x3"),
    {OH_NN_OPS_LEAKY_RELU, "f2x3", "f2x3", {{OH_NN_LEAKY_RELU_NEGATIVE_SLOPE, "f=0.5"}}},
    {OH_NN_OPS_LSTM, "f2x1x3 f1x8x3 f1x8x2 f1x16 f1x1x2 f1x1x2", "f2x1x2 f1x1x2 f1x1x2",
     {{OH_NN_LSTM_BIDIRECTIONAL, "b=0"}, {OH_NN_LSTM_HAS_BIAS, "b=1"}, {OH_NN_LSTM_INPUT_SIZE, "l=3"},
      {OH_NN_LSTM_HIDDEN_SIZE, "l=2"}, {OH_NN_LSTM_NUM_LAYERS, "l=1"}, {OH_NN_LSTM_NUM_DIRECTIONS, "l=1"},
      {OH_NN_LSTM_DROPOUT, "f=0"}, {OH_NN_LSTM_ZONEOUT_CELL, "f=0"}, {OH_NN_LSTM_ZONEOUT_HIDDEN, "f=0"},
      {OH_NN_LSTM_PROJ_SIZE, "l=0"}}},
    {OH_NN_OPS_CLIP, "f2x3", "f2x3", {{OH_NN_CLIP_MAX, "f=3"}, {OH_NN_CLIP_MIN, "f=-3"}}},
    {OH_NN_OPS_ALL, "b2x3 i1=1", "b2x1", {{OH_NN_ALL_KEEP_DIMS, "l=1"}}},
    {OH_NN_OPS_ASSERT, "b1 f2", "b", {{OH_NN_ASSERT_SUMMARIZE, "l=3"}}},
    UNARY(COS),
    UNARY(LOG),
    BINARY(LOGICAL_AND, "b2x3", "b2x3"),
    {OH_NN_OPS_LOGICAL_NOT, "b2x3", "b2x3", {{OH_NN_TENSOR, NULL}}},
    BINARY(MOD, "f2x3", "f2x3"),
    UNARY(NEG),
    UNARY(RECIPROCAL),
    UNARY(SIN),
    {OH_NN_OPS_WHERE, "b2x3 f2x3 f2x3", "f2x3", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_SPARSE_TO_DENSE, "i1x2=0,1 f1 i2=2,3", "f2x3", {{OH_NN_TENSOR, NULL}}},
    BINARY(LOGICAL_OR, "b2x3", "b2x3"),
    UNARY(CEIL),
    {OH_NN_OPS_CROP, "f2x4 i2=2", "f2x2", {{OH_NN_CROP_AXIS, "l=1"}, {OH_NN_CROP_OFFSET, "l1=1"}}},
    {OH_NN_OPS_DETECTION_POST_PROCESS, "f1x2x4 f1x2x2 f2x4", "f1x2x4 f1x2 f1x2 f1",
     {{OH_NN_DETECTION_POST_PROCESS_INPUT_SIZE, "l=8"}, {OH_NN_DETECTION_POST_PROCESS_SCALE, "f4=1"},
      {OH_NN_DETECTION_POST_PROCESS_NMS_IOU_THRESHOLD, "f=0.5"}, {OH_NN_DETECTION_POST_PROCESS_NMS_SCORE_THRESHOLD, "f=0.5"},
      {OH_NN_DETECTION_POST_PROCESS_MAX_DETECTIONS, "l=2"}, {OH_NN_DETECTION_POST_PROCESS_DETECTIONS_PER_CLASS, "l=1"},
      {OH_NN_DETECTION_POST_PROCESS_MAX_CLASSES_PER_DETECTION, "l=1"}, {OH_NN_DETECTION_POST_PROCESS_NUM_CLASSES, "l=1"},
      {OH_NN_DETECTION_POST_PROCESS_USE_REGULAR_NMS, "b=0"}, {OH_NN_DETECTION_POST_PROCESS_OUT_QUANTIZED, "b=0"}}},
    UNARY(FLOOR),
    {OH_NN_OPS_L2_NORMALIZE, "f2x3", "f2x3",
     {{OH_NN_L2_NORMALIZE_AXIS, "l1=1"}, {OH_NN_L2_NORMALIZE_EPSILON, "f=0.5"}, {OH_NN_L2_NORMALIZE_ACTIVATION_TYPE, "c=0"}}},
    {OH_NN_OPS_LOG_SOFTMAX, "f2x3", "f2x3", {{OH_NN_LOG_SOFTMAX_AXIS, "l=1"}}},
    {OH_NN_OPS_LRN, "f1x1x1x4", "f1x1x1x4",
     {{OH_NN_LRN_DEPTH_RADIUS, "l=1"}, {OH_NN_LRN_BIAS, "f=1"}, {OH_NN_LRN_ALPHA, "f=1"}, {OH_NN_LRN_BETA, "f=0.5"},
      {OH_NN_LRN_NORM_REGION, "i=0"}}},
    BINARY(MINIMUM, "f2x3", "f2x3"),
    {OH_NN_OPS_RANK, "f2x3", "i", {{OH_NN_TENSOR, NULL}}},
    REDUCE(MAX, "f"),
    REDUCE(MIN, "f"),
    REDUCE(SUM, "f"),
    UNARY(ROUND),
    {OH_NN_OPS_SCATTER_ND, "i1x1=1 f1x3 i2=2,3", "f2x3", {{OH_NN_TENSOR, NULL}}},
    {OH_NN_OPS_SPACE_TO_DEPTH, "f1x2x2x1", "f1x1x1x4", {{OH_NN_SPACE_TO_DEPTH_BLOCK_SIZE, "l=2"}}},
    UNARY(SWISH),
    REDUCE(L2, "f"),
    UNARY(HARD_SIGMOID),
    {OH_NN_OPS_GATHER_ND, "f2x3 i1x2=0,1", "f1", {{OH_NN_TENSOR, NULL}}}};
/* clang-format on */

/* ---- tensors ---- */

typedef struct word {
    char letter;
    OH_NN_DataType type;
    int32_t dims[4];
    size_t rank, count, bytes;
    bool constant;
    union {
        int8_t c[64];
        int32_t i[64];
        int64_t l[64];
        float f[64];
    } data;
} word;

static size_t size_of(OH_NN_DataType type)
{
    static const size_t sizes[13] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    return sizes[type];
}

/* Reads one word; returns the rest of the text. */
static const char *read_word(word *w, const char *text)
{
    static const char letters[] = "bcqilf";
    static const OH_NN_DataType types[] = {OH_NN_BOOL, OH_NN_INT8, OH_NN_INT8, OH_NN_INT32, OH_NN_INT64, OH_NN_FLOAT32};
    double number = 1;
    char *end = NULL;
    memset(w, 0, sizeof(*w));
    text += strspn(text, " ");
    w->letter = *text;
    w->type = types[strchr(letters, *text++) - letters];
    for (w->count = 1; *text >= '0' && *text <= '9'; text = *end == 'x' ? end + 1 : end) {
        w->dims[w->rank] = (int32_t)strtol(text, &end, 10);
        w->count *= (size_t)w->dims[w->rank++];
    }
    w->bytes = w->count * size_of(w->type);
    assert_true(w->count <= 64);
    w->constant = *text == '=';
    text += w->constant;
    for (size_t i = 0; i < w->count; i++) {
        if (w->constant && *text != ' ' && *text != '\0') {
            number = strtod(text, &end);
            text = *end == ',' ? end + 1 : end;
        }
        switch (w->type) {
        case OH_NN_INT32: w->data.i[i] = (int32_t)number; break;
        case OH_NN_INT64: w->data.l[i] = (int64_t)number; break;
        case OH_NN_FLOAT32: w->data.f[i] = (float)number; break;
        default: w->data.c[i] = (int8_t)number; break;
        }
    }
    return text;
}

/* A model under test: its tensors are inputs, outputs, then parameters. */
typedef struct made {
    OH_NNModel *model;
    word words[MOST_TENSORS];
    uint32_t nIn, nOut, nParams, inputs[MOST_TENSORS], nInputs; /* inputs: of the model */
    uint32_t in[MOST_TENSORS], out[MOST_TENSORS], params[MOST_TENSORS];
} made;

/* The operator, for messages; the number of comparisons. */
static OH_NN_OperationType now;
static size_t checks;

static void expect_at(int found, int wanted, const char *what, int line)
{
    checks++;
    if (found != wanted)
        fail_msg("operator %d, line %d: %s: found %d, expected %d", (int)now, line, what, found, wanted);
}
#define expect(call, code) expect_at((int)(call), (int)(code), #call, __LINE__)

static uint32_t tensor_count(const made *m)
{
    return m->model->graph->nValues;
}

/* Adds a tensor as OpenHarmony's tests do, with data or without; returns its index. */
static uint32_t add_word(made *m, const word *w, OH_NN_TensorType type, bool data)
{
    const uint32_t index = tensor_count(m);
    expect(add_tensor(m->model, w->type, w->dims, w->rank, type, data ? (const void *)&w->data : NULL, w->bytes), OK);
    if (w->letter == 'q') {
        static const double scale = 0.5;
        static const int32_t zero = 1;
        static const uint32_t bits = 8;
        NN_QuantParam *q = OH_NNQuantParam_Create();
        is(OH_NNQuantParam_SetScales(q, &scale, 1), OK);
        is(OH_NNQuantParam_SetZeroPoints(q, &zero, 1), OK);
        is(OH_NNQuantParam_SetNumBits(q, &bits, 1), OK);
        expect(OH_NNModel_SetTensorQuantParams(m->model, index, q), OK);
        is(OH_NNQuantParam_Destroy(&q), OK);
    }
    return index;
}

/* Adds all tensors of an operator; constants: inputs with values are constants, else inputs of the model. */
static void make(made *m, const each *e, bool constants)
{
    const char *text;
    memset(m, 0, sizeof(*m));
    now = e->op;
    m->model = OH_NNModel_Construct();
    assert_non_null(m->model);
    for (text = e->in; *text != '\0'; m->nIn++)
        text = read_word(&m->words[m->nIn], text);
    for (text = e->out; *text != '\0'; m->nOut++)
        text = read_word(&m->words[m->nIn + m->nOut], text);
    for (; m->nParams < MOST_PARAMS && e->params[m->nParams].text != NULL; m->nParams++)
        (void)read_word(&m->words[m->nIn + m->nOut + m->nParams], e->params[m->nParams].text);
    for (uint32_t i = 0; i < m->nIn; i++) {
        const bool constant = constants && m->nIn > 1 && m->words[i].constant;
        m->in[i] = add_word(m, &m->words[i], OH_NN_TENSOR, constant);
        if (!constant)
            m->inputs[m->nInputs++] = i;
    }
    for (uint32_t i = 0; i < m->nOut; i++)
        m->out[i] = add_word(m, &m->words[m->nIn + i], OH_NN_TENSOR, false);
    for (uint32_t i = 0; i < m->nParams; i++)
        m->params[i] = add_word(m, &m->words[m->nIn + m->nOut + i], e->params[i].type, true);
}

static OH_NN_ReturnCode add(made *m, uint32_t nParams, uint32_t nIn, uint32_t nOut)
{
    return add_operation(m->model, now, nParams > 0 ? m->params : NULL, nParams, m->in, nIn, m->out, nOut);
}

static OH_NN_ReturnCode complete(made *m)
{
    expect(specify(m->model, m->inputs, m->nInputs, m->out, m->nOut), OK);
    return OH_NNModel_Finish(m->model);
}

/* ---- a device that accepts every model, as the mock of OpenHarmony's tests ---- */

static NNRT_ReturnCode mock_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 2;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode mock_name(void *self, const char **name)
{
    (void)self;
    *name = "mock";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode mock_yes(void *self, bool *isSupported)
{
    (void)self;
    *isSupported = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode mock_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    (void)self, (void)inputs, (void)nIn, (void)outputs, (void)nOut, (void)outputDims;
    return NNRT_SUCCESS;
}

static NNRT_PreparedModelVtbl mockModel;
static NNRT_PreparedModel mockPrepared = {&mockModel};
static uint32_t prepared;

static NNRT_ReturnCode mock_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                    NNRT_PreparedModel **result)
{
    (void)self, (void)model, (void)config;
    *result = &mockPrepared;
    prepared++;
    return NNRT_SUCCESS;
}

static void mock_register(void)
{
    static NNRT_DeviceVtbl table; /* it must outlive the device */
    memset(&table, 0, sizeof(table));
    memset(&mockModel, 0, sizeof(mockModel));
    table.structSize = (uint32_t)sizeof(table);
    table.version = mockModel.version = NNRT_HDI(2, 0);
    table.GetVersion = mock_version;
    table.GetDeviceName = table.GetVendorName = mock_name;
    table.IsFloat16PrecisionSupported = table.IsPerformanceModeSupported = mock_yes;
    table.IsPrioritySupported = table.IsDynamicInputSupported = mock_yes;
    table.PrepareModel = mock_prepare;
    mockModel.structSize = (uint32_t)sizeof(mockModel);
    mockModel.Run = mock_run;
    is(nnrt_device_register(&table, NULL, NULL), NNRT_SUCCESS);
}

static size_t device_id(const char *device)
{
    const size_t *ids = NULL;
    uint32_t count = 0;
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL;
        is(OH_NNDevice_GetName(ids[i], &name), OK);
        if (strncmp(name, device, strlen(device)) == 0)
            return ids[i];
    }
    fail_msg("no device %s", device);
    return 0;
}

/* A compilation with all options that the device of OpenHarmony's tests has. */
static OH_NNExecutor *build_on(made *m, const char *device)
{
    OH_NNCompilation *c = OH_NNCompilation_Construct(m->model);
    OH_NNExecutor *e;
    assert_non_null(c);
    expect(OH_NNCompilation_SetDevice(c, device_id(device)), OK);
    if (strcmp(device, "mock") == 0) {
        expect(OH_NNCompilation_SetPerformanceMode(c, OH_NN_PERFORMANCE_HIGH), OK);
        expect(OH_NNCompilation_SetPriority(c, OH_NN_PRIORITY_HIGH), OK);
        expect(OH_NNCompilation_EnableFloat16(c, true), OK);
    }
    expect(OH_NNCompilation_Build(c), OK);
    e = OH_NNExecutor_Construct(c);
    checks++;
    if (e == NULL)
        fail_msg("operator %d: no executor on %s", (int)now, device);
    OH_NNCompilation_Destroy(&c);
    return e;
}

/* Runs with the values of the words, in tensors of the executor's descriptions. */
static void run(made *m, OH_NNExecutor *e)
{
    NN_Tensor *tensors[MOST_TENSORS];
    for (uint32_t i = 0; i < m->nInputs + m->nOut; i++) {
        const word *w = &m->words[i < m->nInputs ? m->inputs[i] : m->nIn + i - m->nInputs];
        NN_TensorDesc *desc = i < m->nInputs ? OH_NNExecutor_CreateInputTensorDesc(e, i)
                                             : OH_NNExecutor_CreateOutputTensorDesc(e, i - m->nInputs);
        size_t bytes = 0;
        tensors[i] = OH_NNTensor_Create(0, desc);
        assert_non_null(tensors[i]);
        expect(OH_NNTensor_GetSize(tensors[i], &bytes), OK);
        expect(bytes, w->bytes);
        if (i < m->nInputs)
            memcpy(OH_NNTensor_GetDataBuffer(tensors[i]), &w->data, bytes);
        is(OH_NNTensorDesc_Destroy(&desc), OK);
    }
    expect(OH_NNExecutor_RunSync(e, tensors, m->nInputs, tensors + m->nInputs, m->nOut), OK);
    for (uint32_t i = 0; i < m->nInputs + m->nOut; i++)
        is(OH_NNTensor_Destroy(&tensors[i]), OK);
}

/* ---- tests ---- */

/* A valid model of each operator: with constants it runs on the reference device. As in OpenHarmony's tests, where no input
   is a constant, the mock accepts it; only CAST cannot be converted then, as its result's type is unknown. */
static void valid(void **state)
{
    (void)state;
    mock_register();
    for (size_t i = 0; i < COUNT(operators); i++)
        for (int constants = 0; constants < 2; constants++) {
            OH_NNExecutor *e;
            made m;
            make(&m, &operators[i], constants != 0);
            expect(add(&m, m.nParams, m.nIn, m.nOut), OK);
            if (constants == 0 && now == OH_NN_OPS_CAST) {
                expect(complete(&m), OH_NN_FAILED);
                OH_NNModel_Destroy(&m.model);
                continue;
            }
            expect(complete(&m), OK);
            prepared = 0;
            e = build_on(&m, "mock");
            expect(prepared, 1);
            OH_NNExecutor_Destroy(&e);
            /* the shape must be a constant there, which leaves no input to a model of this operator alone */
            if (constants != 0 && now != OH_NN_OPS_CONSTANT_OF_SHAPE) {
                e = build_on(&m, "reference");
                run(&m, e);
                OH_NNExecutor_Destroy(&e);
            }
            OH_NNModel_Destroy(&m.model);
        }
    is(nnrt_device_unregister("mock"), NNRT_SUCCESS);
}

/* Lists of tensors: one too many, one too few, none, of no data, out of range, absent. */
static void lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(operators); i++) {
        OH_NN_UInt32Array array[3], broken;
        uint32_t more[MOST_TENSORS], far[1] = {100000};
        made m;
        bool any;
        make(&m, &operators[i], false);
        array[0] = list_of(m.nParams > 0 ? m.params : NULL, m.nParams);
        array[1] = list_of(m.in, m.nIn);
        array[2] = list_of(m.out, m.nOut);
        for (int which = 0; which < 3; which++) {
            const OH_NN_UInt32Array *p[3] = {&array[0], &array[1], &array[2]};
            p[which] = NULL;
            expect(OH_NNModel_AddOperation(m.model, now, p[0], p[1], p[2]), IP);
            p[which] = &broken;
            broken = list_of(far, 1);
            expect(OH_NNModel_AddOperation(m.model, now, p[0], p[1], p[2]), IP);
            if (array[which].size == 0)
                continue;
            broken = list_of(NULL, array[which].size);
            expect(OH_NNModel_AddOperation(m.model, now, p[0], p[1], p[2]), IP);
            broken = list_of(array[which].data, 0);
            expect(OH_NNModel_AddOperation(m.model, now, p[0], p[1], p[2]), IP);
            broken = list_of(NULL, 0);
            if (which > 0) /* all parameters are optional */
                expect(OH_NNModel_AddOperation(m.model, now, p[0], p[1], p[2]), IP);
        }
        any = now == OH_NN_OPS_CONCAT || now == OH_NN_OPS_STACK;
        memcpy(more, m.in, sizeof(more));
        more[m.nIn] = add_word(&m, &m.words[m.nIn - 1], OH_NN_TENSOR, false);
        if (!any)
            expect(add_operation(m.model, now, array[0].data, array[0].size, more, m.nIn + 1, m.out, m.nOut), IP);
        if (m.nIn > 1 && now != OH_NN_OPS_FULL_CONNECTION) /* whose bias is optional */
            expect(add_operation(m.model, now, array[0].data, array[0].size, m.in, m.nIn - 1, m.out, m.nOut), IP);
        any = now == OH_NN_OPS_SPLIT || now == OH_NN_OPS_UNSTACK;
        memcpy(more, m.out, sizeof(more));
        more[m.nOut] = add_word(&m, &m.words[m.nIn], OH_NN_TENSOR, false);
        if (!any)
            expect(add_operation(m.model, now, array[0].data, array[0].size, m.in, m.nIn, more, m.nOut + 1), IP);
        if (m.nOut > 1 && !any)
            expect(add_operation(m.model, now, array[0].data, array[0].size, m.in, m.nIn, m.out, m.nOut - 1), IP);
        expect(m.model->graph->nNodes, 0);
        expect(add(&m, m.nParams, m.nIn, m.nOut), OK);
        OH_NNModel_Destroy(&m.model);
    }
}

/* Adds the operation with parameter `at` replaced by a tensor. */
static OH_NN_ReturnCode exchanged(made *m, uint32_t at, const word *w, OH_NN_TensorType type, bool data)
{
    const uint32_t before = m->params[at];
    OH_NN_ReturnCode code;
    m->params[at] = add_word(m, w, type, data);
    code = add(m, m->nParams, m->nIn, m->nOut);
    m->params[at] = before;
    return code;
}

/* The number of a parameter's values: an enumerator must be less; 0: any number. */
static int64_t enumerators(OH_NN_TensorType type, const word *w)
{
    if (w->letter == 'c')
        return 3; /* fused activations, padding modes, element-wise modes, coordinates */
    if (w->letter == 'i')
        return type == OH_NN_PAD_PADDING_MODE ? 3 : type == OH_NN_LRN_NORM_REGION ? 1 : 2;
    return 0;
}

/* Parameters: without data, of another element type, of another length, no such enumerator, of another operator, more than
   the operator has. */
static void parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(operators); i++) {
        const each *e = &operators[i];
        const OH_NN_TensorType other = e->op == OH_NN_OPS_ADD ? OH_NN_MUL_ACTIVATION_TYPE : OH_NN_ADD_ACTIVATIONTYPE;
        word w, activation;
        made m;
        make(&m, e, false);
        (void)read_word(&activation, "c=0");
        for (uint32_t p = 0; p < m.nParams; p++) {
            const OH_NN_TensorType type = e->params[p].type;
            const word *good = &m.words[m.nIn + m.nOut + p];
            expect(exchanged(&m, p, good, type, false), IP);
            expect(exchanged(&m, p, good, other, true), IP);
            for (int t = OH_NN_BOOL; t <= OH_NN_FLOAT64; t++) {
                w = *good;
                w.type = (OH_NN_DataType)t;
                w.bytes = w.count * size_of(w.type);
                if (t != (int)good->type && (good->letter != 'l' || t != OH_NN_INT32)) /* int32 is accepted for int64 */
                    expect(exchanged(&m, p, &w, type, true), IP);
            }
            w = *good;
            for (int32_t length = 2; length < 6; length++) {
                w.rank = 1;
                w.dims[0] = length;
                w.count = (size_t)length;
                w.bytes = w.count * size_of(w.type);
                if (good->rank == 0 || (strcmp(e->params[p].text, "l4=0") == 0 && length != 4)) /* four paddings */
                    expect(exchanged(&m, p, &w, type, true), IP);
            }
            for (int k = 0; k < 2 && enumerators(type, good) > 0; k++) {
                const int64_t number = k == 0 ? -1 : enumerators(type, good);
                w = *good;
                if (w.letter == 'c')
                    w.data.c[0] = (int8_t)number;
                else
                    w.data.i[0] = (int32_t)number;
                expect(exchanged(&m, p, &w, type, true), IP);
            }
        }
        m.params[m.nParams] = add_word(&m, &activation, other, true);
        expect(add(&m, m.nParams + 1, m.nIn, m.nOut), IP);
        if (m.nParams > 0) {
            m.params[m.nParams] = m.params[0];
            expect(add(&m, m.nParams + 1, m.nIn, m.nOut), IP); /* the table names all that it has */
        }
        expect(m.model->graph->nNodes, 0);
        expect(add(&m, m.nParams, m.nIn, m.nOut), OK);
        OH_NNModel_Destroy(&m.model);
    }
}

/* Values of parameters, and the order of the steps: operator, inputs and outputs, Finish. */
static void steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(operators); i++) {
        const OH_NN_UInt32Array none = list_of(NULL, 0);
        OH_NN_UInt32Array array[2], broken;
        uint32_t far[1] = {100000};
        made m;
        make(&m, &operators[i], false);
        if (now == OH_NN_OPS_CAST) { /* its second input must be a constant */
            OH_NNModel_Destroy(&m.model);
            continue;
        }
        for (uint32_t p = 0; p < m.nParams; p++) {
            const word *w = &m.words[m.nIn + m.nOut + p];
            const uint32_t empty = add_word(&m, w, operators[i].params[p].type, false);
            expect(OH_NNModel_SetTensorData(m.model, 1000 + p, &w->data, w->bytes), IP);
            expect(OH_NNModel_SetTensorData(m.model, empty, NULL, w->bytes), IP);
            expect(OH_NNModel_SetTensorData(m.model, empty, &w->data, 0), IP);
            expect(OH_NNModel_SetTensorData(m.model, empty, &w->data, w->bytes + 1), IP);
            expect(OH_NNModel_SetTensorData(m.model, empty, &w->data, w->bytes), OK);
            expect(OH_NNModel_SetTensorData(m.model, empty, &w->data, w->bytes), IP); /* twice */
        }
        expect(OH_NNModel_AddOperation(m.model, now, &none, &none, &none), IP);
        expect(OH_NNModel_Finish(m.model), OF); /* no operator */
        expect(add(&m, m.nParams, m.nIn, m.nOut), OK);
        expect(OH_NNModel_Finish(m.model), OF); /* no inputs */
        array[0] = list_of(m.inputs, m.nInputs);
        array[1] = list_of(m.out, m.nOut);
        for (int which = 0; which < 2; which++)
            for (int fault = 0; fault < 5; fault++) {
                const OH_NN_UInt32Array *p[2] = {&array[0], &array[1]};
                broken = fault == 0   ? list_of(NULL, array[which].size)
                         : fault == 1 ? list_of(far, 1)
                         : fault == 2 ? list_of(array[which].data, 0)
                                      : none;
                p[which] = fault < 4 ? &broken : NULL;
                expect(OH_NNModel_SpecifyInputsAndOutputs(m.model, p[0], p[1]), IP);
            }
        expect(complete(&m), OK);
        expect(specify(m.model, m.inputs, m.nInputs, m.out, m.nOut), OF);
        expect(add(&m, m.nParams, m.nIn, m.nOut), OF);
        expect(OH_NNModel_Finish(m.model), OF);
        OH_NNModel_Destroy(&m.model);
    }
}

/* The table has every operator once, and each parameter of the API at its operator. */
static void complete_table(void **state)
{
    bool seen[OH_NN_REDUCE_L2_COEFF + 1] = {false};
    (void)state;
    assert_int_equal(COUNT(operators), OH_NN_OPS_GATHER_ND);
    for (size_t i = 0; i < COUNT(operators); i++) {
        assert_int_equal(operators[i].op, i + 1);
        for (size_t p = 0; p < MOST_PARAMS && operators[i].params[p].text != NULL; p++) {
            assert_false(seen[operators[i].params[p].type]);
            seen[operators[i].params[p].type] = true;
        }
    }
    for (int type = OH_NN_ADD_ACTIVATIONTYPE; type <= OH_NN_REDUCE_L2_COEFF; type++)
        if (!seen[type])
            fail_msg("parameter %d is missing", type);
}

static int count_checks(void **state)
{
    (void)state;
    print_message("%d calls compared\n", (int)checks);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(complete_table), cmocka_unit_test(valid),
                                              cmocka_unit_test(lists), cmocka_unit_test(parameters),
                                              cmocka_unit_test(steps)};
    return cmocka_run_group_tests(tests, NULL, count_checks);
}
