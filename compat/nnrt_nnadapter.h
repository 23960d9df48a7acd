/* nnrt_nnadapter.h - NNAdapter, Paddle-Lite's device interface, over nnrt.h: programs written for NNAdapter compile and
run.

    #define NNRT_IMPLEMENTATION
    #include "nnrt_nnadapter.h"     in one file of the program; includes nnrt.h from the parent folder

    cc -Icompat/nnadapter program.c ...     program.c includes "nnadapter.h" as before

SECTIONS (search for the tag)
    >>nna           internal declarations, and error messages
    -- implementation --
    >>nna_table     operations and their operands
    >>nna_small     codes, types, devices, contexts
    >>nna_model     models under construction
    >>nna_lower     conversion of operations to nodes
    >>nna_records   operations selected by records; float32 operations in quantized models
    >>nna_compile   compilations
    >>nna_run       executions

SCOPE
    All 28 functions of NNAdapter's second generation, and all types; the header documents each function. An operation
    of negative type is an operator that the program registered by that number before (nnrt_op_register); its operands
    are the inputs of the node. Devices are registered with nnrt_device_register of nnrt.h and found by name;
    "builtin_device" is an alias of "reference". An operation becomes one or a few nodes of a model in NCHW: filters are
    permuted to nnrt's order once, and constant operands that are parameters become attributes.

    Partitioning: a context of one device runs the whole model on it. With several devices, each operation runs on the
    first one that supports it, as "auto:" of nnrt.h partitions a model (nnrt_partition, strict):
    NNAdapterCompilation_finish fails if no device supports an operation.

    Dynamic shapes: the first run with a new shape prepares a model with dynamic inputs, which takes longer. An
    execution keeps the prepared models of four shapes, and a fifth for an upper bound (nnrt_compat.h). An input may
    have any shape that fits its type; shapes in dynamic_data are hints. Inputs of the model may be operands of EXPAND,
    FILL (shape), PAD, RANGE, RESIZE_NEAREST, RESIZE_LINEAR, SPLIT and TILE on whose elements output shapes depend. An
    execution keeps the model for the last elements; for other elements it builds the model again, with them as
    constants. In that run it also queries the devices, and reports errors of these operations:
    NNAdapterModel_getSupportedOperations counts them as supported.

    A pool with ceil_mode may have windows that begin in the end padding and cover no input element: their average is 0,
    their maximum the lowest value of the type (then the activation) with index -1. With dynamic dimensions, a run with
    such windows fails.

    Properties: BUILTIN_DEVICE_NUM_THREADS=N is the number of threads. All other properties are passed to every device
    as extensions (NNRT_ModelConfig.extensions); each device reads its own.

    Records select operations. Those in SUBGRAPH_PARTITION_CONFIG_BUFFER, or in the file SUBGRAPH_PARTITION_CONFIG_FILE,
    run on the reference device instead of the context's devices. Those in MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER or
    _FILE compute in float32: their quantized constants are converted, their inputs are dequantized before and their
    outputs quantized behind them, each tensor once for all users. A buffer takes precedence over a file; without both
    properties, environment variables with these names are used. A file that cannot be read, and records that match
    nothing, have no effect; nnrt_nnadapter_compilation_error reports them after NNAdapterCompilation_finish. A record
    is a line, OPERATION[:INPUTS[:OUTPUTS]]: it selects all operations of that name ("CONV_2D") that read all these
    inputs and write all these outputs, comma-separated lists of operands in any order. An operand's name is its index,
    counted from 0 by the calls of NNAdapterModel_addOperand. Empty lines and lines that begin with '#' are ignored.
    nnrt_nnadapter_model_records writes a model as such lines.

    Drivers: NNAdapterDevice_acquire with a name that no registered device has loads the driver library libNAME.so,
    which the system's loader searches for, and registers its table __nnadapter_device__NAME; it stays until the process
    ends. Available in libnnadapter.so, and in a program that includes nnrt_nnadapter_driver.h before this header, if
    libraries can be loaded (NNRT_NNADAPTER_LOAD). A name with '/' is DEVICE_NOT_FOUND. Acquire a driver's device before
    other threads compile.

    Caches: DIR/TOKEN.nnc, or a buffer with the contents of such a file, for devices with a model cache.
    NNAdapterCompilation_create reads them; NNAdapterCompilation_finish writes the file. If writing fails, finish
    succeeds nevertheless, and nnrt_nnadapter_compilation_error reports the reason. With a finished model, a cache is
    used only if it was made from the same model, because a token does not identify the weights. Models with dynamic
    inputs are not cached. The cache file of a partitioned model contains the model, and the result of each device; a
    context with other records rejects it.

NOT SUPPORTED, BECAUSE NNRT HAS NO OPERATOR WITH THE SAME RESULT (FEATURE_NOT_SUPPORTED)
    LRN over an even number of channels; INSTANCE_NORMALIZATION with epsilon 0; CONV_2D_TRANSPOSE with groups and
    per-channel scales, or with an output_shape that output paddings cannot produce; RESIZE_LINEAR with align_mode 0 to
    a dimension that is or may be 1; non-constant filters of grouped transposed convolutions; layouts other than NCHW;
    operations of negative type that are not registered operators.

NOT YET SUPPORTED
    Records for QUANTIZE and DEQUANTIZE, which only convert, in MIXED_PRECISION_QUANTIZATION_CONFIG:
    NNAdapterCompilation_finish returns FEATURE_NOT_SUPPORTED, also for a non-constant bias of int32 there. Files, with
    NNRT_NO_STDIO: NNAdapterContext_create returns it.

OPTIONS
    NNRT_NNADAPTER_API    linkage of the functions, for shared libraries; default extern

MIT license, see LICENSE.
*/
#ifndef NNRT_NNADAPTER_H
#define NNRT_NNADAPTER_H

#include "../nnrt.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna */

#include "nnadapter/nnadapter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Message of the last call that failed: which operation, and the reason. "": no call failed, or the argument is NULL.
   */
NNRT_API const char *nnrt_nnadapter_model_error(const NNAdapterModel *model);
NNRT_API const char *nnrt_nnadapter_compilation_error(const NNAdapterCompilation *compilation);
NNRT_API const char *nnrt_nnadapter_execution_error(const NNAdapterExecution *execution);

/* Writes a record for each operation, with all its operands, in the order in which they were added. Returns the length
   without the terminating 0, also if it exceeds `size`; 0 for NULL. Operations of negative type have no record. */
NNRT_API size_t nnrt_nnadapter_model_records(const NNAdapterModel *model, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_NNADAPTER_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_NNADAPTER_IMPLEMENTED)
#define NNRT_NNADAPTER_IMPLEMENTED

#include "../nnrt.h" /* its implementation, if only its declarations were included so far */
#include "nnrt_compat.h"

#include <float.h>
#include <limits.h>
#ifndef NNRT_NO_STDIO
#include <stdio.h>
#endif
#include <stdlib.h>
#include <string.h>
#if defined(NNRT_NNADAPTER_DRIVER_H) && NNRT_NNADAPTER_LOAD
#include <pthread.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_table */

/* An operation: O(name, operands, minimum and maximum outputs, NodeType, parameters). One letter for each operand: x
   and o are inputs of the node, o is optional; X: one or more inputs; P and p are parameters, p is optional; "." is
   read by the operation's function. P and V: nnrt_compat.h; the parameter of P is the index of its operand. T(operand,
   out, default type): the operand's value is the element type of output `out`. F(name, function): the operation differs
   from its node, to which nnrti_nna_adapt_<function> adapts it. */
/* clang-format off */
#define NNRTI_NNA_OPS(O, P, V, T, F) \
    O(ABS, "x", 1, 1, ABS,) \
    O(ADAPTIVE_AVERAGE_POOL_2D, "xx", 1, 1, ADAPTIVE_AVERAGE_POOL_2D,) \
    O(ADAPTIVE_MAX_POOL_2D, "xxpp", 1, 2, ADAPTIVE_MAX_POOL_2D, P(2, BOOL, AdaptivePool2D, returnIndices) \
        T(3, 1, INT32) F(ADAPTIVE_MAX_POOL_2D, adaptive_max_pool)) \
    O(ADD, "xxp", 1, 1, ADD_FUSION, P(2, NNA_FUSE, AddFusion, activationType) F(ADD, add)) \
    O(AND, "xx", 1, 1, LOGICAL_AND,) \
    O(ARG_MAX, "xPpp", 1, 1, ARGMAX_FUSION, P(1, INT, ArgMaxFusion, axis) P(2, BOOL, ArgMaxFusion, keepDims) \
        T(3, 0, INT64)) \
    O(ARG_MIN, "xPpp", 1, 1, ARGMIN_FUSION, P(1, INT, ArgMinFusion, axis) P(2, BOOL, ArgMinFusion, keepDims) \
        T(3, 0, INT64)) \
    O(ASSIGN, "x", 1, 1, ASSIGN,) \
    O(AVERAGE_POOL_2D, "xPpPPppp", 1, 1, AVGPOOL_FUSION, P(1, NNA_PAD_MODE, AvgPoolFusion, padMode) \
        P(2, PADS, AvgPoolFusion, pad) P(3, ONES, AvgPoolFusion, kernelSize) P(4, ONES, AvgPoolFusion, strides) \
        P(5, NNA_CEIL, AvgPoolFusion, roundMode) P(7, NNA_FUSE, AvgPoolFusion, activationType) \
        F(AVERAGE_POOL_2D, average_pool)) \
    O(BATCH_NORMALIZATION, "xxxxxp", 1, 1, FUSED_BATCH_NORM, V(FLOAT, FusedBatchNorm, epsilon, 1e-5f) \
        P(5, FLOAT, FusedBatchNorm, epsilon)) \
    O(CAST, "xP", 1, 1, CAST, T(1, 0, FLOAT32)) \
    O(CHANNEL_SHUFFLE, "xP", 1, 1, CHANNEL_SHUFFLE, P(1, ONE, ChannelShuffle, group)) \
    O(CLIP, "xoo", 1, 1, CLIP, F(CLIP, clip)) \
    O(CONCAT, "XP", 1, 1, CONCAT, P(1, INT, Concat, axis)) \
    O(CONV_2D, "xxoPpPppp", 1, 1, CONV2D_FUSION, P(3, NNA_PAD_MODE, Conv2DFusion, padMode) \
        P(4, PADS, Conv2DFusion, padList) P(5, ONES, Conv2DFusion, stride) P(6, ONE, Conv2DFusion, group) \
        P(7, ONES, Conv2DFusion, dilation) P(8, NNA_FUSE, Conv2DFusion, activationType) F(CONV_2D, convolution)) \
    O(CONV_2D_TRANSPOSE, "xxoPpPppp.p", 1, 1, CONV2D_TRANSPOSE_FUSION, \
        P(3, NNA_PAD_MODE, Conv2dTransposeFusion, padMode) P(4, PADS, Conv2dTransposeFusion, padList) \
        P(5, ONES, Conv2dTransposeFusion, stride) P(6, ONE, Conv2dTransposeFusion, group) \
        P(7, ONES, Conv2dTransposeFusion, dilation) P(8, INTS, Conv2dTransposeFusion, outputPaddings) \
        P(10, NNA_FUSE, Conv2dTransposeFusion, activationType) F(CONV_2D_TRANSPOSE, convolution)) \
    O(COS, "x", 1, 1, COS,) \
    O(CUM_SUM, "xopp", 1, 1, CUM_SUM, P(2, BOOL, CumSum, exclusive) P(3, BOOL, CumSum, reverse)) \
    O(DEFORMABLE_CONV_2D, "xxoxopPpppp", 1, 1, DEFORMABLE_CONV_2D, P(5, PADS, DeformableConv2D, padList) \
        P(6, ONES, DeformableConv2D, stride) P(7, ONE, DeformableConv2D, group) \
        P(8, ONE, DeformableConv2D, deformableGroup) P(9, ONES, DeformableConv2D, dilation) \
        P(10, NNA_FUSE, DeformableConv2D, activationType)) \
    O(DEQUANTIZE, "x", 1, 1, QUANT_DTYPE_CAST, F(DEQUANTIZE, dequantize)) \
    O(DIV, "xxp", 1, 1, DIV_FUSION, P(2, NNA_FUSE, DivFusion, activationType)) \
    O(EQUAL, "xx", 1, 1, EQUAL,) \
    O(EXP, "x", 1, 1, EXPFUSION,) \
    O(EXPAND, "xx", 1, 1, BROADCAST_TO,) \
    O(FILL, "xx", 1, 1, FILL, F(FILL, fill)) \
    O(FILL_LIKE, "xx", 1, 1, FILL_LIKE,) \
    O(FLATTEN, "xPP", 1, 1, FLATTEN_RANGE, P(1, INT, FlattenRange, startAxis) P(2, INT, FlattenRange, endAxis)) \
    O(FLOOR, "x", 1, 1, FLOOR,) \
    O(FLOOR_DIV, "xx.", 1, 1, FLOOR_DIV, F(FLOOR_DIV, activation)) \
    O(FULLY_CONNECTED, "xxop", 1, 1, FULL_CONNECTION, P(3, NNA_FUSE, FullConnection, activationType) \
        F(FULLY_CONNECTED, fully_connected)) \
    O(GATHER, "xxx", 1, 1, GATHER,) \
    O(GELU, "xp", 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_GELU) \
        P(1, BOOL, Activation, approximate)) \
    O(GREATER, "xx", 1, 1, GREATER,) \
    O(GREATER_EQUAL, "xx", 1, 1, GREATER_EQUAL,) \
    O(GRID_SAMPLE, "xxPPP", 1, 1, GRID_SAMPLE, P(2, BOOL, GridSample, alignCorners) \
        P(3, NNA_METHOD, GridSample, method) P(4, NNA_OUTSIDE, GridSample, paddingMode)) \
    O(GROUP_NORMALIZATION, "xxxpP", 1, 1, GROUP_NORM_FUSION, P(3, FLOAT, GroupNormFusion, epsilon) \
        P(4, ONE, GroupNormFusion, numGroups)) \
    O(HARD_SIGMOID, "xPP", 1, 1, HARD_SIGMOID, P(1, FLOAT, HardSigmoid, alpha) P(2, FLOAT, HardSigmoid, beta)) \
    O(HARD_SWISH, "xPP", 1, 1, HARD_SWISH, P(1, FLOAT, HardSwish, alpha) P(2, FLOAT, HardSwish, beta)) \
    O(INSTANCE_NORMALIZATION, "xxxp", 1, 1, INSTANCE_NORM, P(3, FLOAT, InstanceNorm, epsilon) \
        F(INSTANCE_NORMALIZATION, instance_normalization)) \
    O(LAYER_NORMALIZATION, "xooPp", 1, 1, LAYER_NORM_FUSION, P(3, INT, LayerNormFusion, beginNormAxis) \
        P(3, INT, LayerNormFusion, beginParamsAxis) P(4, FLOAT, LayerNormFusion, epsilon) \
        F(LAYER_NORMALIZATION, layer_normalization)) \
    O(LEAKY_RELU, "xP", 1, 1, LEAKY_RELU, P(1, FLOAT, LeakyRelu, negativeSlope)) \
    O(LESS, "xx", 1, 1, LESS,) \
    O(LESS_EQUAL, "xx", 1, 1, LESS_EQUAL,) \
    O(LOG, "x", 1, 1, LOG,) \
    O(LOG_SOFTMAX, "xp", 1, 1, LOG_SOFTMAX, V(INT, LogSoftmax, axis, 1) P(1, INT, LogSoftmax, axis)) \
    O(LP_NORMALIZATION, "xppp", 1, 1, LP_NORMALIZATION, P(1, INT, LpNormalization, axis) P(2, ONE, LpNormalization, p) \
        P(3, FLOAT, LpNormalization, epsilon)) \
    O(LRN, "x.ppp", 1, 1, LRN, V(FLOAT, LRN, alpha, 1e-4f) V(FLOAT, LRN, beta, 0.75f) P(2, FLOAT, LRN, bias) \
        P(3, FLOAT, LRN, alpha) P(4, FLOAT, LRN, beta) F(LRN, lrn)) \
    O(MAT_MUL, "xxpp", 1, 1, MATMUL_FUSION, P(2, BOOL, MatMulFusion, transposeA) P(3, BOOL, MatMulFusion, transposeB)) \
    O(MAX, "xx.", 1, 1, MAXIMUM, F(MAX, activation)) \
    O(MAX_POOL_2D, "xPpPPp.pp", 1, 2, MAX_POOL_FUSION, P(1, NNA_PAD_MODE, MaxPoolFusion, padMode) \
        P(2, PADS, MaxPoolFusion, pad) P(3, ONES, MaxPoolFusion, kernelSize) P(4, ONES, MaxPoolFusion, strides) \
        P(5, NNA_CEIL, MaxPoolFusion, roundMode) T(7, 1, INT32) P(8, NNA_FUSE, MaxPoolFusion, activationType) \
        F(MAX_POOL_2D, max_pool)) \
    O(MESHGRID, "X", 1, UINT32_MAX, MESHGRID,) \
    O(MIN, "xx.", 1, 1, MINIMUM, F(MIN, activation)) \
    O(MUL, "xxp", 1, 1, MUL_FUSION, P(2, NNA_FUSE, MulFusion, activationType) F(MUL, multiply)) \
    O(NOT, "x", 1, 1, LOGICAL_NOT,) \
    O(NOT_EQUAL, "xx", 1, 1, NOT_EQUAL,) \
    O(OR, "xx", 1, 1, LOGICAL_OR,) \
    O(PAD, "xx..", 1, 1, PAD_FUSION, F(PAD, pad)) \
    O(POW, "xx.", 1, 1, POW_FUSION, F(POW, power)) \
    O(PRIOR_BOX, "xxPppPpppppp", 2, 2, PRIOR_BOX, P(2, FLOATS, PriorBox, minSizes) P(3, FLOATS, PriorBox, maxSizes) \
        P(4, FLOATS, PriorBox, aspectRatios) P(5, FLOATS, PriorBox, variances) P(6, BOOL, PriorBox, flip) \
        P(7, BOOL, PriorBox, clip) P(8, FLOAT, PriorBox, stepW) P(9, FLOAT, PriorBox, stepH) \
        P(10, FLOAT, PriorBox, offset) P(11, BOOL, PriorBox, minMaxAspectRatiosOrder)) \
    O(PRELU, "xx", 1, 1, PRELU_FUSION,) \
    O(QUANTIZE, "x...", 1, 1, QUANT_DTYPE_CAST, F(QUANTIZE, quantize)) \
    O(RANGE, "xxx", 1, 1, RANGE,) \
    O(REDUCE_MEAN, "xop", 1, 1, REDUCE_FUSION, V(ENUM, ReduceFusion, mode, NNRT_REDUCE_MODE_MEAN) \
        P(2, BOOL, ReduceFusion, keepDims)) \
    O(REDUCE_MAX, "xop", 1, 1, REDUCE_FUSION, V(ENUM, ReduceFusion, mode, NNRT_REDUCE_MODE_MAX) \
        P(2, BOOL, ReduceFusion, keepDims)) \
    O(REDUCE_SUM, "xop", 1, 1, REDUCE_FUSION, V(ENUM, ReduceFusion, mode, NNRT_REDUCE_MODE_SUM) \
        P(2, BOOL, ReduceFusion, keepDims)) \
    O(RELU, "x", 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_RELU)) \
    O(RELU6, "x", 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_RELU6)) \
    O(RESHAPE, "xx", 1, 1, RESHAPE,) \
    O(RESIZE_NEAREST, "xo..", 1, 1, RESIZE, V(ENUM, Resize, method, NNRT_RESIZE_METHOD_NEAREST) \
        F(RESIZE_NEAREST, resize)) \
    O(RESIZE_LINEAR, "xo...", 1, 1, RESIZE, V(ENUM, Resize, method, NNRT_RESIZE_METHOD_LINEAR) \
        F(RESIZE_LINEAR, resize)) \
    O(ROI_ALIGN, "xxxPPPPP", 1, 1, ROI_ALIGN, P(3, INT, RoiAlign, outputHeight) P(4, INT, RoiAlign, outputWidth) \
        P(5, INT, RoiAlign, samplingRatio) P(6, NONZERO, RoiAlign, spatialScale) P(7, BOOL, RoiAlign, aligned)) \
    O(ROLL, "xxo", 1, 1, ROLL,) \
    O(RSQRT, "x", 1, 1, RSQRT,) \
    O(SHAPE, "xp", 1, 1, SHAPE, T(1, 0, INT32)) \
    O(SIGMOID, "x", 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_SIGMOID)) \
    O(SIN, "x", 1, 1, SIN,) \
    O(SLICE, "xoxxo", 1, 1, STRIDED_SLICE, F(SLICE, slice)) \
    O(SOFTMAX, "xp", 1, 1, SOFTMAX, P(1, INTS, Softmax, axis) F(SOFTMAX, softmax)) \
    O(SOFTPLUS, "xpp", 1, 1, SOFTPLUS, P(1, FLOAT, Softplus, beta) P(2, FLOAT, Softplus, threshold)) \
    O(SPLIT, "xPP", 1, UINT32_MAX, SPLIT, P(1, INT, Split, axis) P(2, INTS, Split, sizeSplits)) \
    O(SQUARE, "x", 1, 1, SQUARE,) \
    O(SQUEEZE, "xp", 1, 1, SQUEEZE, P(1, INTS, Squeeze, axis)) \
    O(STACK, "XP", 1, 1, STACK, P(1, INT, Stack, axis)) \
    O(SUB, "xxp", 1, 1, SUB_FUSION, P(2, NNA_FUSE, SubFusion, activationType)) \
    O(SUM, "X", 1, 1, ADD_N,) \
    O(SWISH, "x", 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_SWISH)) \
    O(TANH, "x", 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_TANH)) \
    O(TILE, "xx", 1, 1, TILE_FUSION, F(TILE, tile)) \
    O(TOP_K, "xxp.pp", 2, 2, TOPK_FUSION, P(2, INT, TopKFusion, axis) P(4, BOOL, TopKFusion, sorted) T(5, 1, INT64) \
        F(TOP_K, top_k)) \
    O(TRANSPOSE, "xo", 1, 1, TRANSPOSE, F(TRANSPOSE, transpose)) \
    O(UNSQUEEZE, "xP", 1, 1, UNSQUEEZE, P(1, INTS, Unsqueeze, axis)) \
    O(UNSTACK, "xP.", 1, UINT32_MAX, UNSTACK, P(1, INT, Unstack, axis) F(UNSTACK, unstack)) \
    O(WHERE, "xxx", 1, 1, WHERE, F(WHERE, where)) \
    O(XOR, "xx", 1, 1, LOGICAL_XOR,) \
    O(NON_MAX_SUPPRESSION, "xxoPPPPPPPP", 2, 3, MULTICLASS_NMS, P(3, INT, MulticlassNms, backgroundLabel) \
        P(4, FLOAT, MulticlassNms, scoreThreshold) P(5, INT, MulticlassNms, nmsTopK) \
        P(6, FLOAT, MulticlassNms, nmsThreshold) P(7, NONZERO, MulticlassNms, nmsEta) \
        P(8, INT, MulticlassNms, keepTopK) P(9, BOOL, MulticlassNms, normalized) \
        P(10, BOOL, MulticlassNms, returnIndex) F(NON_MAX_SUPPRESSION, non_max_suppression)) \
    O(YOLO_BOX, "xxxPPPpppp", 2, 2, YOLO_BOX, P(3, INT, YoloBox, classNum) P(4, FLOAT, YoloBox, confThresh) \
        P(5, INT, YoloBox, downsampleRatio) P(6, BOOL, YoloBox, clipBbox) P(7, NONZERO, YoloBox, scaleXY) \
        P(8, BOOL, YoloBox, iouAware) P(9, FLOAT, YoloBox, iouAwareFactor))
/* clang-format on */

#define NNRTI_NNA_T(operand, out, type) {operand, NNRTI_PARAM_OUTPUT_TYPE, out, (float)NNADAPTER_##type},
#define NNRTI_NNA_PARAMS_OF(name, operands, minOut, maxOut, node, ...) NNRTI_PARAMS_BEGIN(NNADAPTER_##name) __VA_ARGS__
static const nnrti_param nnrti_nna_params[] = {NNRTI_NNA_OPS(NNRTI_NNA_PARAMS_OF, NNRTI_PARAM_P, NNRTI_PARAM_V,
                                                             NNRTI_NNA_T, NNRTI_PARAM_NOTHING) NNRTI_PARAMS_END};

typedef struct nnrti_nna_row {
    const char *name, *operands;
    uint32_t minOut, maxOut;
    NNRT_NodeType type;
} nnrti_nna_row;

#define NNRTI_NNA_ROW(name, operands, minOut, maxOut, node, ...)                                                       \
    {#name, operands, minOut, maxOut, NNRT_NODE_TYPE_##node},
/* Indexed by NNAdapterOperationCode. */
static const nnrti_nna_row nnrti_nna_rows[] = {
    NNRTI_NNA_OPS(NNRTI_NNA_ROW, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING)};
enum { NNRTI_NNA_ROWS = sizeof(nnrti_nna_rows) / sizeof(nnrti_nna_rows[0]) };
/* An operation of negative type is the operator that the application registered by that number (nnrt_op_register):
   every operand is an input of the node, and the attributes have their defaults. */
static const nnrti_nna_row nnrti_nna_custom = {"CUSTOM", "", 0, 0, 0};

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_small */

static int nnrti_nna_code(NNRT_ReturnCode code)
{
    switch (code) {
    case NNRT_SUCCESS: return NNADAPTER_NO_ERROR;
    case NNRT_MEMORY_ERROR:
    case NNRT_OUT_OF_MEMORY: return NNADAPTER_OUT_OF_MEMORY;
    case NNRT_INVALID_SHAPE:
    case NNRT_OUT_OF_DIMENTION_RANGES: return NNADAPTER_INVALID_DIMENSIONS;
    case NNRT_SERVICE_ERROR: return NNADAPTER_DEVICE_NOT_FOUND;
    case NNRT_NOT_SUPPORT:
    case NNRT_UNSUPPORTED_OP: return NNADAPTER_FEATURE_NOT_SUPPORTED;
    case NNRT_NULL_PTR:
    case NNRT_INVALID_PARAMETER:
    case NNRT_INSUFFICIENT_BUFFER: return NNADAPTER_INVALID_PARAMETER;
    default:
        return code >= NNRT_INVALID_TENSOR && code <= NNRT_INVALID_MODEL_CACHE ? NNADAPTER_INVALID_PARAMETER
                                                                               : NNADAPTER_DEVICE_INTERNAL_ERROR;
    }
}

static bool nnrti_nna_quantized(int64_t precision)
{
    return precision >= NNADAPTER_QUANT_INT8_SYMM_PER_LAYER && precision <= NNADAPTER_QUANT_UINT32_ASYMM_PER_LAYER;
}

static bool nnrti_nna_per_channel(int64_t precision)
{
    return precision == NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL || precision == NNADAPTER_QUANT_INT16_SYMM_PER_CHANNEL ||
           precision == NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL;
}

/* Casts a number to the enumeration; NNADAPTER_UNKNOWN is not one of its enumerators. */
static NNAdapterOperandPrecisionCode nnrti_nna_precision_of(int32_t number)
{
    return (NNAdapterOperandPrecisionCode)number;
}

/* Checks whether the precision is NNADAPTER_UNKNOWN. */
static bool nnrti_nna_unknown(const NNAdapterOperandType *type)
{
    return (int32_t)type->precision == NNADAPTER_UNKNOWN;
}

static bool nnrti_nna_asymmetric(int64_t precision)
{
    return precision == NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER || precision == NNADAPTER_QUANT_UINT16_ASYMM_PER_LAYER ||
           precision == NNADAPTER_QUANT_UINT32_ASYMM_PER_LAYER;
}

/* Returns scale i of a quantized type. */
static double nnrti_nna_scale(const NNAdapterOperandType *type, uint32_t i)
{
    return nnrti_nna_per_channel(type->precision)  ? (double)type->symm_per_channel_params.scales[i]
           : nnrti_nna_asymmetric(type->precision) ? (double)type->asymm_per_layer_params.scale
                                                   : (double)type->symm_per_layer_params.scale;
}

/* Returns the zero point of a quantized type, 0 if it is symmetric. */
static int32_t nnrti_nna_zero_point(const NNAdapterOperandType *type)
{
    return nnrti_nna_asymmetric(type->precision) ? type->asymm_per_layer_params.zero_point : 0;
}

/* Returns the element type of a precision; UNKNOWN: invalid precision. */
static NNRT_DataType nnrti_nna_type(int64_t precision)
{
    static const NNRT_DataType plain[] = {NNRT_DATA_TYPE_BOOL,    NNRT_DATA_TYPE_INT8,    NNRT_DATA_TYPE_UINT8,
                                          NNRT_DATA_TYPE_INT16,   NNRT_DATA_TYPE_UINT16,  NNRT_DATA_TYPE_INT32,
                                          NNRT_DATA_TYPE_UINT32,  NNRT_DATA_TYPE_INT64,   NNRT_DATA_TYPE_UINT64,
                                          NNRT_DATA_TYPE_FLOAT16, NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT64};
    static const NNRT_DataType quantised[] = {NNRT_DATA_TYPE_INT8,  NNRT_DATA_TYPE_INT8,  NNRT_DATA_TYPE_UINT8,
                                              NNRT_DATA_TYPE_INT16, NNRT_DATA_TYPE_INT16, NNRT_DATA_TYPE_UINT16,
                                              NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_UINT32};
    if (precision >= 0 && precision <= NNADAPTER_FLOAT64)
        return plain[precision];
    return nnrti_nna_quantized(precision) ? quantised[precision - NNADAPTER_QUANT_INT8_SYMM_PER_LAYER]
                                          : NNRT_DATA_TYPE_UNKNOWN;
}

static NNAdapterOperandPrecisionCode nnrti_nna_precision(NNRT_DataType type)
{
    int32_t precision = 0;
    while (precision < NNADAPTER_FLOAT64 && nnrti_nna_type(precision) != type)
        precision++;
    return (NNAdapterOperandPrecisionCode)precision;
}

/* ---- devices ---- */

struct NNAdapterDevice {
    nnrt_device *device;
    const char *alias; /* name in this API; NULL: the device's own */
};

NNRT_NNADAPTER_API int NNAdapter_getVersion(uint32_t *version)
{
    if (version == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    *version = NNADAPTER_VERSION;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapter_getDeviceCount(uint32_t *numDevices)
{
    if (numDevices == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    *numDevices = nnrt_device_count();
    return NNADAPTER_NO_ERROR;
}

#if defined(NNRT_NNADAPTER_DRIVER_H) && NNRT_NNADAPTER_LOAD
static pthread_mutex_t nnrti_nna_loading = PTHREAD_MUTEX_INITIALIZER; /* guards the loading of drivers */
#endif

/* Finds a device by name. If this build can load drivers, a missing device's library is loaded, by one thread at a
   time. */
static nnrt_device *nnrti_nna_device(const char *name)
{
#if defined(NNRT_NNADAPTER_DRIVER_H) && NNRT_NNADAPTER_LOAD
    nnrt_device *found;
    char file[128];
    (void)pthread_mutex_lock(&nnrti_nna_loading);
    found = nnrt_device_find(name);
    if (found == NULL && *name != '\0' && strchr(name, '/') == NULL && strlen(name) < sizeof(file) - sizeof("lib.so")) {
        (void)nnrt_text(file, sizeof(file), "lib%s.so", name);
        if (nnrt_nnadapter_driver_load(file, NULL, NULL) == NNRT_SUCCESS)
            found = nnrt_device_find(name);
    }
    (void)pthread_mutex_unlock(&nnrti_nna_loading);
    return found;
#else
    return nnrt_device_find(name);
#endif
}

NNRT_NNADAPTER_API int NNAdapterDevice_acquire(const char *name, NNAdapterDevice **device)
{
    static const char builtin[] = "builtin_device";
    nnrt_device *found;
    const char *alias = NULL;
    if (device != NULL)
        *device = NULL;
    if (name == NULL || device == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    if (strcmp(name, builtin) == 0 && nnrt_device_find(name) == NULL) {
        found = nnrt_device_find("reference");
        alias = builtin;
    } else {
        found = nnrti_nna_device(name);
    }
    if (found == NULL)
        return NNADAPTER_DEVICE_NOT_FOUND;
    if ((*device = (NNAdapterDevice *)calloc(1, sizeof(**device))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    (*device)->device = found;
    (*device)->alias = alias;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API void NNAdapterDevice_release(NNAdapterDevice *device)
{
    free(device);
}

NNRT_NNADAPTER_API int NNAdapterDevice_getName(const NNAdapterDevice *device, const char **name)
{
    if (device == NULL || name == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    *name = device->alias != NULL ? device->alias : nnrt_device_name(device->device);
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterDevice_getVendor(const NNAdapterDevice *device, const char **vendor)
{
    if (device == NULL || vendor == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    *vendor = nnrt_device_vendor(device->device);
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterDevice_getType(const NNAdapterDevice *device, NNAdapterDeviceType *type)
{
    if (device == NULL || type == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    switch (nnrt_device_type(device->device, NULL)) {
    case NNRT_DEVICE_TYPE_CPU: *type = NNADAPTER_CPU; break;
    case NNRT_DEVICE_TYPE_GPU: *type = NNADAPTER_GPU; break;
    default: *type = NNADAPTER_ACCELERATOR; break;
    }
    return NNADAPTER_NO_ERROR;
}

/* The unique name ends in "_v<major>_<minor>"; the version is the major number. */
NNRT_NNADAPTER_API int NNAdapterDevice_getVersion(const NNAdapterDevice *device, int32_t *version)
{
    const char *text;
    size_t at;
    int64_t number = 0;
    if (device == NULL || version == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    text = nnrt_device_unique_name(device->device);
    for (at = strlen(text); at > 1 && (text[at - 1] != 'v' || text[at - 2] != '_');)
        at--;
    for (; text[at] >= '0' && text[at] <= '9' && number < INT32_MAX / 10; at++)
        number = 10 * number + (text[at] - '0');
    *version = (int32_t)number;
    return NNADAPTER_NO_ERROR;
}

/* ---- contexts ---- */

/* Kinds of record texts; each comes from a buffer or a file. */
enum { NNRTI_NNA_PARTITION, NNRTI_NNA_MIXED, NNRTI_NNA_CONFIGS };
static const char *const nnrti_nna_keys[2 * NNRTI_NNA_CONFIGS] = {
    "SUBGRAPH_PARTITION_CONFIG_BUFFER", "SUBGRAPH_PARTITION_CONFIG_FILE", "MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER",
    "MIXED_PRECISION_QUANTIZATION_CONFIG_FILE"};

struct NNAdapterContext {
    uint32_t count, threads;
    nnrt_context *contexts; /* one for each device, opened after NNAdapterContext_create has read all properties */
    char *given[2 * NNRTI_NNA_CONFIGS]; /* values of these keys; NULL: not set */
    char *configs[NNRTI_NNA_CONFIGS];   /* record texts; NULL: none */
    char unread[160];                   /* message about a file that could not be read; "": none */
    NNRT_Extension *extensions;         /* all other properties; values are strings, whose terminating 0 does not count
                                           */
    uint32_t nExtensions;
    int (*callback)(int event_id, void *user_data); /* NULL: devices get no callback */
};

/* Finds a record text: the buffer, the file, or the same two in the environment. */
static int nnrti_nna_config(NNAdapterContext *context, uint32_t which)
{
    const char *const *keys = &nnrti_nna_keys[2 * which];
    const char *text = context->given[2 * which], *path = context->given[2 * which + 1];
    int code = NNADAPTER_NO_ERROR;
    if (text == NULL && path == NULL && (text = getenv(keys[0])) == NULL)
        path = getenv(keys[1]);
    if (text != NULL) {
        context->configs[which] = nnrti_compat_text(text, strlen(text));
        return context->configs[which] != NULL ? NNADAPTER_NO_ERROR : NNADAPTER_OUT_OF_MEMORY;
    }
    if (path != NULL) {
#ifndef NNRT_NO_STDIO
        size_t bytes = 0;
        bool full;
        context->configs[which] = (char *)nnrti_compat_read(path, LONG_MAX - 1, &bytes, &full);
        if (full)
            code = NNADAPTER_OUT_OF_MEMORY;
        else if (context->configs[which] == NULL)
            (void)nnrt_text(context->unread, sizeof(context->unread), "%s: '%s' cannot be read", keys[1], path);
#else
        code = NNADAPTER_FEATURE_NOT_SUPPORTED;
#endif
    }
    return code;
}

/* Checks that the text [at, at + length) equals key. */
static bool nnrti_nna_is(const char *at, size_t length, const char *key)
{
    return strlen(key) == length && memcmp(at, key, length) == 0;
}

/* Adds a property for the devices; replaces an earlier one with the same key. */
static int nnrti_nna_extend(NNAdapterContext *context, const char *key, size_t length, const char *value, size_t bytes)
{
    NNRT_Extension *e = context->extensions;
    char *data = nnrti_compat_text(value, bytes), *name;
    uint32_t i = 0;
    while (i < context->nExtensions && !nnrti_nna_is(key, length, e[i].name))
        i++;
    if (data != NULL && i == context->nExtensions) {
        name = nnrti_compat_text(key, length);
        e = name != NULL ? (NNRT_Extension *)realloc(e, ((size_t)i + 1) * sizeof(*e)) : NULL;
        if (e == NULL) {
            free(name);
            free(data);
            return NNADAPTER_OUT_OF_MEMORY;
        }
        memset(&e[i], 0, sizeof(e[i]));
        e[i].name = name;
        context->extensions = e;
        context->nExtensions++;
    }
    if (data == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    free((void *)(uintptr_t)e[i].data);
    e[i].data = data;
    e[i].size = (uint32_t)bytes;
    return NNADAPTER_NO_ERROR;
}

/* Reads one property "KEY=VALUE" of `length` bytes. */
static int nnrti_nna_property(NNAdapterContext *context, const char *at, size_t length)
{
    const char *equals = (const char *)memchr(at, '=', length);
    size_t key, rest;
    uint32_t number = 0;
    if (equals == NULL || equals == at)
        return NNADAPTER_INVALID_PARAMETER;
    key = (size_t)(equals - at);
    rest = length - key - 1;
    if (rest == 0 || rest > UINT32_MAX - 1 || memchr(equals + 1, '=', rest) != NULL)
        return NNADAPTER_INVALID_PARAMETER;
    for (size_t i = 0; i < 2 * NNRTI_NNA_CONFIGS; i++)
        if (nnrti_nna_is(at, key, nnrti_nna_keys[i])) {
            free(context->given[i]);
            context->given[i] = nnrti_compat_text(equals + 1, rest);
            return context->given[i] != NULL ? NNADAPTER_NO_ERROR : NNADAPTER_OUT_OF_MEMORY;
        }
    if (!nnrti_nna_is(at, key, "BUILTIN_DEVICE_NUM_THREADS"))
        return nnrti_nna_extend(context, at, key, equals + 1, rest);
    for (size_t i = 0; i < rest; i++) {
        const char c = equals[1 + i];
        if (c < '0' || c > '9' || number > 1000000)
            return NNADAPTER_INVALID_PARAMETER;
        number = 10 * number + (uint32_t)(c - '0');
    }
    context->threads = number;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API void NNAdapterContext_destroy(NNAdapterContext *context)
{
    if (context == NULL)
        return;
    for (uint32_t i = 0; i < 2 * NNRTI_NNA_CONFIGS; i++)
        free(context->given[i]);
    for (uint32_t i = 0; i < NNRTI_NNA_CONFIGS; i++)
        free(context->configs[i]);
    for (uint32_t i = 0; i < context->nExtensions; i++) {
        free((void *)(uintptr_t)context->extensions[i].name);
        free((void *)(uintptr_t)context->extensions[i].data);
    }
    free(context->extensions);
    for (uint32_t i = 0; i < context->count; i++)
        nnrt_context_close(&context->contexts[i]);
    free(context->contexts);
    free(context);
}

NNRT_NNADAPTER_API int NNAdapterContext_create(NNAdapterDevice **devices, uint32_t num_devices, const char *properties,
                                               int (*callback)(int event_id, void *user_data),
                                               NNAdapterContext **context)
{
    NNAdapterContext *c;
    int code = NNADAPTER_NO_ERROR;
    if (context != NULL)
        *context = NULL;
    if (devices == NULL || num_devices == 0 || context == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    for (uint32_t i = 0; i < num_devices; i++)
        if (devices[i] == NULL)
            return NNADAPTER_INVALID_PARAMETER;
    c = (NNAdapterContext *)calloc(1, sizeof(*c));
    if (c == NULL || (c->contexts = (nnrt_context *)calloc(num_devices, sizeof(*c->contexts))) == NULL) {
        free(c);
        return NNADAPTER_OUT_OF_MEMORY;
    }
    for (c->count = 0; c->count < num_devices; c->count++)
        c->contexts[c->count].device = devices[c->count]->device;
    c->callback = callback;
    for (const char *at = properties; at != NULL && *at != '\0' && code == NNADAPTER_NO_ERROR;) {
        const char *end = strchr(at, ';');
        code = nnrti_nna_property(c, at, end != NULL ? (size_t)(end - at) : strlen(at));
        at = end != NULL ? end + 1 : NULL;
    }
    for (uint32_t i = 0; i < NNRTI_NNA_CONFIGS && code == NNADAPTER_NO_ERROR; i++)
        code = nnrti_nna_config(c, i);
    for (uint32_t i = 0; i < num_devices && code == NNADAPTER_NO_ERROR; i++)
        code = nnrti_nna_code(nnrt_context_open(&c->contexts[i], c->contexts[i].device, properties, callback, NULL));
    if (code != NNADAPTER_NO_ERROR)
        NNAdapterContext_destroy(c);
    else
        *context = c;
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_model */

struct NNAdapterOperand {
    NNAdapterModel *model;
    uint32_t index; /* in the model's operands; also the name of its tensor */
    NNAdapterOperandType type;
    float *scales;          /* owned copy */
    const void *data;       /* of a constant, otherwise NULL */
    void *copy;             /* owned copy of data, or NULL */
    uint32_t writer;        /* index + 1 of the operation that writes it, 0: none */
    bool input;             /* of the model */
    bool image;             /* an operator with a layout reads or writes it */
    bool real;              /* float32 version of the operand with the same index */
    bool unknown;           /* added with precision UNKNOWN */
    bool late;              /* its shape depends on elements that are known only in a run */
    bool decides;           /* shapes or attributes depend on its elements */
    uint32_t stamp, tensor; /* its tensor in the builder with this stamp */
};

struct NNAdapterOperation {
    NNAdapterOperationType type;
    uint32_t index, nIn, nOut;
    NNAdapterOperand **operands; /* inputs, then outputs */
    bool pending;                /* inference of its results is deferred to NNAdapterModel_finish */
};

/* Reference-counted: its handle and its compilations are users. */
struct NNAdapterModel {
    uint32_t users;
    bool finished;
    bool late; /* shapes depend on elements that are known only in a run: each run builds a model with them as constants
                  */
    NNAdapterOperand **operands;
    NNAdapterOperation **operations;
    uint32_t nOperands, roomOperands, nOperations, roomOperations;
    NNAdapterOperand **io; /* inputs, then outputs */
    uint32_t nIn, nOut;
    uint32_t stamp;
    NNRT_Model *model; /* set by finish; NULL: late, or an operation of negative type has no operator */
    nnrt_error error;
};

NNRT_API const char *nnrt_nnadapter_model_error(const NNAdapterModel *model)
{
    return model != NULL ? model->error.message : "";
}

NNRT_NNADAPTER_API int NNAdapterModel_create(NNAdapterModel **model)
{
    if (model == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    if ((*model = (NNAdapterModel *)calloc(1, sizeof(**model))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    (*model)->users = 1;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API void NNAdapterModel_destroy(NNAdapterModel *model)
{
    if (model == NULL || --model->users > 0)
        return;
    nnrt_model_destroy(model->model);
    for (uint32_t i = 0; i < model->nOperands; i++) {
        free(model->operands[i]->scales);
        free(model->operands[i]->copy);
        free(model->operands[i]);
    }
    for (uint32_t i = 0; i < model->nOperations; i++) {
        free(model->operations[i]->operands);
        free(model->operations[i]);
    }
    free(model->operands);
    free(model->operations);
    free(model->io);
    free(model);
}

/* Sets per-channel quantization with a copy of the scales; false: out of memory. */
static bool nnrti_nna_scales(NNAdapterOperand *o, uint32_t axis, const float *scales, uint32_t count)
{
    float *copy = (float *)calloc(count, sizeof(*copy));
    if (copy == NULL)
        return false;
    memcpy(copy, scales, count * sizeof(*copy));
    free(o->scales);
    o->scales = copy;
    o->type.symm_per_channel_params.channel_dim = axis;
    o->type.symm_per_channel_params.scale_count = count;
    o->type.symm_per_channel_params.scales = copy;
    return true;
}

/* Whether dimension `axis` is `size`, or dynamic. */
static bool nnrti_nna_has_size(const NNAdapterOperandType *type, uint32_t axis, uint32_t size)
{
    return type->dimensions.data[axis] < 0 || (uint32_t)type->dimensions.data[axis] == size;
}

/* Scales of the output channels belong to axis 1 of the weights [K,N] of MAT_MUL and [Cin,Cout,kH,kW] of
   CONV_2D_TRANSPOSE, whatever channel_dim says: Paddle-Lite passes 0, the axis after a transposition that its own
   passes add later. Scales of K or Cin could not be taken out of the sums. */
static void nnrti_nna_columns(const NNAdapterOperation *op)
{
    NNAdapterOperand *w = op->nIn > 1 ? op->operands[1] : NULL;
    const NNAdapterOperand *transposed = op->nIn > 3 ? op->operands[3] : NULL;
    const uint32_t rank = op->type == NNADAPTER_MAT_MUL ? 2 : op->type == NNADAPTER_CONV_2D_TRANSPOSE ? 4 : 0;
    if (rank > 0 && w != NULL && nnrti_nna_per_channel(w->type.precision) && w->type.dimensions.count == rank &&
        nnrti_nna_has_size(&w->type, 1, w->type.symm_per_channel_params.scale_count) &&
        (rank == 4 || transposed == NULL || (transposed->data != NULL && *(const uint8_t *)transposed->data == 0)))
        w->type.symm_per_channel_params.channel_dim = 1;
}

/* Validates a type. */
static int nnrti_nna_type_check(const NNAdapterOperandType *type)
{
    const NNAdapterSymmPerChannelQuantParams *q = &type->symm_per_channel_params;
    if (type->dimensions.count > NNADAPTER_MAX_SIZE_OF_DIMENSIONS)
        return NNADAPTER_INVALID_DIMENSIONS;
    if ((nnrti_nna_type(type->precision) == NNRT_DATA_TYPE_UNKNOWN && !nnrti_nna_unknown(type)) ||
        (int)type->layout < 0 || (int)type->layout > NNADAPTER_HWNC ||
        type->dimensions.dynamic_count > NNADAPTER_MAX_SIZE_OF_DYNAMIC_DIMENSIONS)
        return NNADAPTER_INVALID_PARAMETER;
    if (nnrti_nna_per_channel(type->precision) &&
        (q->scales == NULL || q->scale_count == 0 || q->channel_dim >= type->dimensions.count ||
         !(nnrti_nna_has_size(type, q->channel_dim, q->scale_count) ||
           ((type->dimensions.count == 2 || type->dimensions.count == 4) &&
            nnrti_nna_has_size(type, 1, q->scale_count))))) /* nnrti_nna_columns */
        return NNADAPTER_INVALID_PARAMETER;
    return type->layout == NNADAPTER_NCHW ? NNADAPTER_NO_ERROR : NNADAPTER_FEATURE_NOT_SUPPORTED;
}

/* Checks that every dimension of a new operand is 0 or more, or unknown: NNADAPTER_UNKNOWN, or -1 as in other APIs. */
static int nnrti_nna_dims_check(NNAdapterModel *model, const NNAdapterOperandDimensionType *d)
{
    for (uint32_t k = 0; k < d->count; k++)
        if (d->data[k] < -1 && d->data[k] != NNADAPTER_UNKNOWN) {
            (void)nnrt_error_set(&model->error, NNRT_INVALID_SHAPE,
                                 "operand %u: dimension %u is %d, expected 0 or more, or NNADAPTER_UNKNOWN (%d)",
                                 model->nOperands, k, d->data[k], NNADAPTER_UNKNOWN);
            return NNADAPTER_INVALID_DIMENSIONS;
        }
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterModel_addOperand(NNAdapterModel *model, const NNAdapterOperandType *type,
                                                 NNAdapterOperand **operand)
{
    NNAdapterOperand *o, **grown;
    int code;
    if (operand != NULL)
        *operand = NULL;
    if (model == NULL || type == NULL || operand == NULL || model->finished)
        return NNADAPTER_INVALID_PARAMETER;
    if ((code = nnrti_nna_type_check(type)) != NNADAPTER_NO_ERROR ||
        (code = nnrti_nna_dims_check(model, &type->dimensions)) != NNADAPTER_NO_ERROR)
        return code;
    grown =
        (NNAdapterOperand **)nnrti_compat_grow(model->operands, model->nOperands, &model->roomOperands, sizeof(*grown));
    if (grown == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    model->operands = grown;
    if ((o = (NNAdapterOperand *)calloc(1, sizeof(*o))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    o->model = model;
    o->index = model->nOperands;
    o->type = *type;
    o->type.lifetime = NNADAPTER_TEMPORARY_VARIABLE;
    o->unknown = nnrti_nna_unknown(type);
    if (nnrti_nna_per_channel(type->precision) &&
        !nnrti_nna_scales(o, type->symm_per_channel_params.channel_dim, type->symm_per_channel_params.scales,
                          type->symm_per_channel_params.scale_count)) {
        free(o);
        return NNADAPTER_OUT_OF_MEMORY;
    }
    *operand = model->operands[model->nOperands++] = o;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterModel_setOperandValue(NNAdapterOperand *operand, void *buffer, uint32_t length,
                                                      bool copy)
{
    NNAdapterOperand *o = operand;
    void *own = NULL;
    size_t bytes;
    if (o == NULL || buffer == NULL || length == 0 || o->model->finished || o->writer != 0 || o->input ||
        !nnrt_dims_bytes(o->type.dimensions.data, (int32_t)o->type.dimensions.count, nnrti_nna_type(o->type.precision),
                         &bytes) ||
        bytes != length)
        return NNADAPTER_INVALID_PARAMETER;
    if (copy) {
        if ((own = malloc(length)) == NULL)
            return NNADAPTER_OUT_OF_MEMORY;
        memcpy(own, buffer, length);
    }
    free(o->copy);
    o->copy = own;
    o->data = copy ? own : buffer;
    o->type.lifetime = copy ? NNADAPTER_CONSTANT_COPY : NNADAPTER_CONSTANT_REFERENCE;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterModel_getOperandType(NNAdapterOperand *operand, NNAdapterOperandType **type)
{
    if (operand == NULL || type == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    *type = &operand->type;
    return NNADAPTER_NO_ERROR;
}

/* Checks that all operands belong to the model. absent: NULL is allowed for optional operands. */
static bool nnrti_nna_own(const NNAdapterModel *model, NNAdapterOperand **operands, uint32_t count, bool absent)
{
    for (uint32_t i = 0; i < count; i++)
        if (operands[i] == NULL ? !absent : operands[i]->model != model)
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_lower */

#define NNRTI_NNA_NUMBERS 256     /* total entries of the lists of one operation */
#define NNRTI_NNA_MORE_INPUTS 8   /* of a node, more than the operands: an operation's function may write them */
#define NNRTI_NNA_DYNAMIC_SIZE 64 /* value of a dynamic dimension during shape inference */

/* State of the conversion of one operation. */
typedef struct nnrti_nna_lower {
    nnrt_builder *b;
    const NNAdapterOperation *op;
    const nnrti_nna_row *row;
    bool shapes; /* only shapes matter: weights need not be permuted */
    NNRT_NodeType type;
    union {
        double align;
        void *pointer;
        uint8_t bytes[256];
    } attr;
    uint32_t *in, nIn; /* input tensors of the node */
    uint32_t nOut;
    NNRT_DataType declared[3];
    NNRT_ActivationType fuse; /* activation in a node of its own */
    bool real;                /* the node computes in float32, its result is quantized */
    int32_t empty[2];         /* number of rows and columns, at the end of a pool's output, whose windows contain no
                                 input element */
    int64_t numbers[NNRTI_NNA_NUMBERS];
    uint32_t used;
    uint32_t operand; /* of the parameter that is being read */
} nnrti_nna_lower;

static bool nnrti_nna_failed(const nnrti_nna_lower *l)
{
    return nnrt_builder_error(l->b)->code != NNRT_SUCCESS;
}

/* Writes the name of an operation's node. The suffix is empty for its first node, and distinguishes additional nodes and
   the tensors between them. */
static const char *nnrti_nna_name(const nnrti_nna_lower *l, const char *what, char *name, size_t size)
{
    (void)nnrt_text(name, size, "%s_%u%s", l->row->name, l->op->index, what);
    return name;
}

/* Sets the builder's error: "operation N (NAME): operand K FAULT"; operand < 0: without an operand. */
static void nnrti_nna_fault(nnrti_nna_lower *l, NNRT_ReturnCode code, int32_t operand, const char *what)
{
    char text[256];
    if (operand >= 0)
        (void)nnrt_text(text, sizeof(text), "operation %u (%s): operand %d %s", l->op->index, l->row->name, operand,
                        what);
    else
        (void)nnrt_text(text, sizeof(text), "operation %u (%s): %s", l->op->index, l->row->name, what);
    nnrt_builder_fail(l->b, code, text);
}

static size_t nnrti_nna_count(const NNAdapterOperand *o)
{
    size_t count;
    return nnrt_dims_count(o->type.dimensions.data, (int32_t)o->type.dimensions.count, &count) ? count : 0;
}

/* Checks for an empty list without data or producer. It stands for an optional operand that is left out. */
static bool nnrti_nna_empty(const NNAdapterOperand *o)
{
    return o->data == NULL && o->writer == 0 && !o->input && o->type.dimensions.count == 1 &&
           o->type.dimensions.data[0] == 0;
}

/* Checks that it is one of NNAdapter's operations, not of negative type. */
static bool nnrti_nna_known(const NNAdapterOperation *op)
{
    return op->type >= 0 && op->type < NNRTI_NNA_ROWS;
}

/* Checks that it can become nodes: one of NNAdapter's operations, or a registered operator. */
static bool nnrti_nna_lowered(const NNAdapterOperation *op)
{
    return nnrti_nna_known(op) || (op->type < 0 && nnrt_op_find(op->type) != NULL);
}

static const nnrti_nna_row *nnrti_nna_row_of(const NNAdapterOperation *op)
{
    return op->type < 0 ? &nnrti_nna_custom : &nnrti_nna_rows[op->type];
}

/* Returns the node type, if the operation becomes one node. */
static NNRT_NodeType nnrti_nna_node_type(const NNAdapterOperation *op)
{
    return op->type < 0 ? op->type : nnrti_nna_rows[op->type].type;
}

/* Returns the table's letter for operand i; "." beyond the table's operands. */
static char nnrti_nna_letter(const nnrti_nna_lower *l, uint32_t i)
{
    const char *letters = l->row->operands;
    const uint32_t count = (uint32_t)strlen(letters);
    if (l->row == &nnrti_nna_custom)
        return i < l->op->nIn ? 'o' : '.';
    if (letters[0] != 'X')
        return i < count ? letters[i] : '.';
    if (i >= l->op->nIn)
        return '.';
    return i + count <= l->op->nIn ? 'x' : 'P';
}

/* Returns operand i; NULL: left out. */
static NNAdapterOperand *nnrti_nna_operand(const nnrti_nna_lower *l, uint32_t i)
{
    NNAdapterOperand *o = i < l->op->nIn ? l->op->operands[i] : NULL;
    return o != NULL && nnrti_nna_letter(l, i) != 'x' && nnrti_nna_empty(o) ? NULL : o;
}

/* Returns the elements of an operand. Quantized ones are no parameters: their type is UNKNOWN. INT8 is BOOL8 as well: Paddle-Lite
   passes keepdim of ARG_MAX so. */
static nnrti_param_value nnrti_nna_elements(const NNAdapterOperand *o)
{
    const nnrti_param_value elements = {nnrti_nna_quantized(o->type.precision)  ? NNRT_DATA_TYPE_UNKNOWN
                                        : o->type.precision == NNADAPTER_INT8 ? NNRT_DATA_TYPE_BOOL
                                                                                : nnrti_nna_type(o->type.precision),
                                        nnrti_nna_count(o), o->data};
    return elements;
}

/* Element i of a constant of integers. */
static int64_t nnrti_nna_number(const NNAdapterOperand *o, size_t i)
{
    const nnrti_param_value elements = nnrti_nna_elements(o);
    return nnrti_param_number(&elements, i);
}

/* Checks for a constant of this type (INT64: also INT32). */
static bool nnrti_nna_constant(const NNAdapterOperand *o, NNRT_DataType type)
{
    const nnrti_param_value elements = nnrti_nna_elements(o);
    return nnrti_param_is(&elements, type);
}

/* Reads an optional operand of one number (kind: nnrti_param_scalar); returns fallback if it is left out, and with an
   error if it is invalid. */
static int64_t nnrti_nna_scalar(nnrti_nna_lower *l, uint32_t i, uint8_t kind, int64_t fallback)
{
    const NNAdapterOperand *o = nnrti_nna_operand(l, i);
    nnrti_param_value elements;
    const char *fault;
    int64_t number = fallback;
    if (o == NULL)
        return fallback;
    elements = nnrti_nna_elements(o);
    if ((fault = nnrti_param_scalar(kind, &elements, &number)) != NULL)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, (int32_t)i, fault);
    return number;
}

/* Reserves room for a list of an attribute; NULL: none left, with an error. */
static int64_t *nnrti_nna_room(nnrti_nna_lower *l, uint32_t operand, size_t count)
{
    int64_t *room = l->numbers + l->used;
    if (count > NNRTI_NNA_NUMBERS - l->used) {
        nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, (int32_t)operand,
                        "exceeds the limit of 256 list entries of an operation");
        return NULL;
    }
    l->used += (uint32_t)count;
    return room;
}

/* The room of nnrti_param_set: l->operand is the parameter's. */
static void *nnrti_nna_param_room(void *user, size_t count, size_t size)
{
    nnrti_nna_lower *l = (nnrti_nna_lower *)user;
    (void)size; /* of an int64: NNAdapter has no PAIRS */
    return nnrti_nna_room(l, l->operand, count);
}

/* Whether the window of a pool is the image: NNADAPTER_UNKNOWN is the size of a dynamic dimension, which Paddle-Lite
   copies from the input's dimensions to the kernel of a global pool. */
static bool nnrti_nna_global_pool(const nnrti_nna_lower *l)
{
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0), *kernel = nnrti_nna_operand(l, 3);
    bool unknown = false;
    if ((l->op->type != NNADAPTER_AVERAGE_POOL_2D && l->op->type != NNADAPTER_MAX_POOL_2D) || kernel == NULL ||
        !nnrti_nna_constant(kernel, NNRT_DATA_TYPE_INT64) || nnrti_nna_count(kernel) != 2 ||
        x->type.dimensions.count != 4)
        return false;
    for (size_t i = 0; i < 2; i++) {
        const int64_t size = nnrti_nna_number(kernel, i);
        if (size != NNADAPTER_UNKNOWN && size != x->type.dimensions.data[2 + i])
            return false;
        unknown = unknown || size == NNADAPTER_UNKNOWN;
    }
    return unknown;
}

/* Sets an attribute, or the element type of an output. */
static void nnrti_nna_set(nnrti_nna_lower *l, const nnrti_param *p)
{
    /* if a list of inputs comes first, the parameter is the last operand */
    const uint32_t at = l->row->operands[0] == 'X' ? l->op->nIn - 1 : (uint32_t)p->key;
    const NNAdapterOperand *o = nnrti_nna_operand(l, at);
    nnrti_param_value elements;
    const char *fault;
    if (p->kind == NNRTI_PARAM_OUTPUT_TYPE) {
        const int64_t precision = nnrti_nna_scalar(l, at, NNRTI_PARAM_OUTPUT_TYPE, (int64_t)p->value);
        l->declared[p->at] = nnrti_nna_quantized(precision) ? NNRT_DATA_TYPE_UNKNOWN : nnrti_nna_type(precision);
        if (l->declared[p->at] == NNRT_DATA_TYPE_UNKNOWN)
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, (int32_t)at, "is not a valid element type of an output");
    } else if (o != NULL && !(at == 3 && nnrti_nna_global_pool(l))) {
        elements = nnrti_nna_elements(o);
        l->operand = at;
        fault = nnrti_param_set(p, &elements, nnrti_nna_param_room, l, l->attr.bytes);
        if (fault != NULL && *fault != '\0')
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, (int32_t)at, fault);
    }
}

/* Copies the dimensions; dynamic ones become -1. Returns the rank. */
static uint32_t nnrti_nna_dims(const NNAdapterOperandType *type, int32_t *dims)
{
    for (uint32_t i = 0; i < type->dimensions.count; i++)
        dims[i] = type->dimensions.data[i] >= 0 ? type->dimensions.data[i] : -1;
    return type->dimensions.count;
}

/* Sets the quantization parameters of tensor t. place: axis i of the operand is axis place[i] of the tensor; NULL: the
   same. */
static void nnrti_nna_quant(nnrt_builder *b, uint32_t t, const NNAdapterOperand *o, const int32_t *place)
{
    const NNAdapterOperandType *type = &o->type;
    const uint32_t count = nnrti_nna_per_channel(type->precision) ? type->symm_per_channel_params.scale_count : 1;
    NNRT_QuantParam *params;
    if (!nnrti_nna_quantized(type->precision))
        return;
    if ((params = (NNRT_QuantParam *)calloc(count, sizeof(*params))) == NULL) {
        nnrt_builder_fail(b, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        params[i].numBits = (int32_t)(8 * nnrt_type_size(nnrti_nna_type(type->precision)));
        params[i].scale = nnrti_nna_scale(type, i);
        params[i].zeroPoint = nnrti_nna_zero_point(type);
    }
    nnrt_builder_quant(b, t, params, count);
    if (count > 1) {
        const int32_t axis = (int32_t)type->symm_per_channel_params.channel_dim;
        nnrt_builder_quant_axis(b, t, (place != NULL ? place[axis] : axis) + 1);
    }
    free(params);
}

/* Returns the tensor of an operand; makes it on the first use in this builder. */
static uint32_t nnrti_nna_tensor(nnrt_builder *b, NNAdapterOperand *o)
{
    int32_t dims[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    const int32_t rank = (int32_t)nnrti_nna_dims(&o->type, dims);
    const NNRT_DataType type = nnrti_nna_type(o->type.precision);
    char name[32];
    if (o->stamp == o->model->stamp)
        return o->tensor;
    o->stamp = o->model->stamp;
    (void)nnrt_text(name, sizeof(name), o->real ? "%u float" : "%u", o->index);
    o->tensor = o->data != NULL ? nnrt_builder_constant(b, NULL, type, rank, dims, o->data, false)
                                : nnrt_builder_tensor(b, name);
    if (o->data == NULL && nnrti_nna_quantized(o->type.precision))
        nnrt_builder_declare(b, o->tensor, type, NNRT_RANK_UNKNOWN, NULL);
    nnrti_nna_quant(b, o->tensor, o, NULL);
    if (o->image)
        nnrt_builder_format(b, o->tensor, NNRT_FORMAT_NCHW);
    return o->tensor;
}

/* Makes a constant list of integers. */
static uint32_t nnrti_nna_ints(nnrti_nna_lower *l, const int32_t *values, int32_t count)
{
    return nnrt_builder_constant(l->b, NULL, NNRT_DATA_TYPE_INT32, 1, &count, values, true);
}

/* Permutes a dense 4-D array: axis k of the result is axis perm[k] of from[dims]. */
static void nnrti_nna_permute(uint8_t *to, const uint8_t *from, const int32_t *dims, const int32_t *perm, size_t size)
{
    size_t step[4];
    const size_t strides[4] = {(size_t)dims[1] * (size_t)dims[2] * (size_t)dims[3], (size_t)dims[2] * (size_t)dims[3],
                               (size_t)dims[3], 1};
    for (int k = 0; k < 4; k++)
        step[k] = strides[perm[k]] * size;
    for (int32_t a = 0; a < dims[perm[0]]; a++)
        for (int32_t b = 0; b < dims[perm[1]]; b++)
            for (int32_t c = 0; c < dims[perm[2]]; c++)
                for (int32_t d = 0; d < dims[perm[3]]; d++, to += size)
                    memcpy(to,
                           from + (size_t)a * step[0] + (size_t)b * step[1] + (size_t)c * step[2] + (size_t)d * step[3],
                           size);
}

/* Returns the filter, operand 1, in nnrt's order [Cout,kH,kW,Cin/group]. A transposed convolution has
   [Cin,Cout/group,kH,kW], with the groups one after another along the first axis. */
static uint32_t nnrti_nna_filter(nnrti_nna_lower *l, bool transposed, int32_t groups)
{
    static const int32_t plain[4] = {0, 2, 3, 1}, turned[4] = {1, 2, 3, 0};
    static const int32_t placePlain[4] = {0, 3, 1, 2}, placeTurned[4] = {3, 0, 1, 2};
    const int32_t *perm = transposed ? turned : plain;
    NNAdapterOperand *o = nnrti_nna_operand(l, 1);
    const NNRT_DataType type = nnrti_nna_type(o->type.precision);
    int32_t dims[NNADAPTER_MAX_SIZE_OF_DIMENSIONS], to[4];
    size_t bytes;
    uint8_t *data = NULL;
    uint32_t t;
    if (nnrti_nna_dims(&o->type, dims) != 4) {
        nnrti_nna_fault(l, NNRT_INVALID_SHAPE, 1, "must have 4 axes");
        return NNRT_NO_TENSOR;
    }
    if (!transposed)
        groups = 1;
    if (groups > 1 && nnrti_nna_per_channel(o->type.precision)) {
        nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 1, "has per-channel scales, which are unsupported with groups");
        return NNRT_NO_TENSOR;
    }
    if (o->data == NULL) {
        uint32_t in[2];
        char name[64];
        if (groups > 1) {
            nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 1, "must be a constant if there are groups");
            return NNRT_NO_TENSOR;
        }
        in[0] = nnrti_nna_tensor(l->b, o);
        in[1] = nnrti_nna_ints(l, perm, 4);
        t = nnrt_builder_tensor(l->b, nnrti_nna_name(l, " filter", name, sizeof(name)));
        if (nnrti_nna_quantized(o->type.precision)) {
            nnrt_builder_declare(l->b, t, type, NNRT_RANK_UNKNOWN, NULL);
            nnrti_nna_quant(l->b, t, o, transposed ? placeTurned : placePlain);
        }
        nnrt_builder_node(l->b, name, NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2, &t, 1);
        return t;
    }
    if (dims[0] % groups != 0) {
        nnrti_nna_fault(l, NNRT_INVALID_SHAPE, 1, "has a first dimension that is not a multiple of group");
        return NNRT_NO_TENSOR;
    }
    dims[0] /= groups;
    for (int k = 0; k < 4; k++)
        to[k] = dims[perm[k]];
    to[0] *= groups;
    if (!l->shapes) {
        if (!nnrt_dims_bytes(to, 4, type, &bytes) || (data = (uint8_t *)malloc(bytes + 1)) == NULL) {
            nnrti_nna_fault(l, NNRT_OUT_OF_MEMORY, 1, "is too large for memory");
            return NNRT_NO_TENSOR;
        }
        for (int32_t g = 0; g < groups; g++) {
            const size_t part = bytes / (size_t)groups * (size_t)g;
            nnrti_nna_permute(data + part, (const uint8_t *)o->data + part, dims, perm, nnrt_type_size(type));
        }
    }
    t = nnrt_builder_constant(l->b, NULL, type, 4, to, l->shapes ? o->data : data, !l->shapes);
    nnrti_nna_quant(l->b, t, o, transposed ? placeTurned : placePlain);
    free(data);
    return t;
}

/* Returns the bias, operand 2. A quantized int32 bias must have the scale of the input times the scale of the weight.
   */
static uint32_t nnrti_nna_bias(nnrti_nna_lower *l)
{
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0), *w = nnrti_nna_operand(l, 1);
    NNAdapterOperand *o = nnrti_nna_operand(l, 2);
    const bool each = o != NULL && o->type.precision == NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL;
    int32_t dims[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    int32_t rank;
    uint32_t count;
    if (o == NULL)
        return NNRT_NO_TENSOR;
    if (!each && o->type.precision != NNADAPTER_QUANT_INT32_SYMM_PER_LAYER)
        return nnrti_nna_tensor(l->b, o);
    if (!nnrti_nna_quantized(x->type.precision) || nnrti_nna_per_channel(x->type.precision) ||
        !nnrti_nna_quantized(w->type.precision) || each != nnrti_nna_per_channel(w->type.precision)) {
        nnrti_nna_fault(
            l, NNRT_INVALID_DATATYPE, 2,
            "is a quantized bias: input and weight must be quantized, the weight per channel if the bias is");
        return NNRT_NO_TENSOR;
    }
    count = each ? o->type.symm_per_channel_params.scale_count : 1;
    if (each && count != w->type.symm_per_channel_params.scale_count) {
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2, "must have as many scales as the weight");
        return NNRT_NO_TENSOR;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double xs = nnrti_nna_scale(&x->type, 0), ws = nnrti_nna_scale(&w->type, i);
        const double own = nnrti_nna_scale(&o->type, i);
        const double off = own > xs * ws ? own - xs * ws : xs * ws - own;
        if (!(off <= 1e-5 * xs * ws)) {
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2,
                            "must have the scale of the input times the scale of the weight");
            return NNRT_NO_TENSOR;
        }
    }
    if (o->data != NULL) {
        rank = (int32_t)nnrti_nna_dims(&o->type, dims);
        return nnrt_builder_constant(l->b, NULL, NNRT_DATA_TYPE_INT32, rank, dims, o->data, false);
    }
    return nnrti_nna_tensor(l->b, o);
}

/* Convolutions: SAME ignores the dilation, SAME and VALID ignore the pads; output_shape of a transposed convolution
   becomes output paddings. */
static void nnrti_nna_adapt_convolution(nnrti_nna_lower *l)
{
    const bool transposed = l->op->type == NNADAPTER_CONV_2D_TRANSPOSE;
    NNRT_Conv2DFusion *c = (NNRT_Conv2DFusion *)(void *)l->attr.bytes;
    NNRT_Conv2dTransposeFusion *t = (NNRT_Conv2dTransposeFusion *)(void *)l->attr.bytes;
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0), *w = nnrti_nna_operand(l, 1);
    const NNAdapterOperand *shape = transposed ? nnrti_nna_operand(l, 9) : NULL;
    const NNRT_PadMode mode = transposed ? t->padMode : c->padMode;
    NNRT_Int64List *pads = transposed ? &t->padList : &c->padList, *dilation = transposed ? &t->dilation : &c->dilation;
    const int64_t group = transposed ? t->group : c->group;
    int64_t *extra;
    if (mode != NNRT_PAD_MODE_PAD)
        *pads = nnrt_int64_list(NULL, 0);
    if (mode == NNRT_PAD_MODE_SAME)
        *dilation = nnrt_int64_list(NULL, 0);
    if (group > INT32_MAX) {
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 6, "is too large");
        return;
    }
    l->in[1] = nnrti_nna_filter(l, transposed, (int32_t)group);
    l->in[2] = nnrti_nna_bias(l);
    if (shape == NULL || nnrti_nna_failed(l))
        return;
    if (!nnrti_nna_constant(shape, NNRT_DATA_TYPE_INT64) || nnrti_nna_count(shape) != 2) {
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 9, "is not a constant list of 2 integers");
        return;
    }
    if ((extra = nnrti_nna_room(l, 9, 2)) == NULL || x->type.dimensions.count != 4)
        return;
    for (int i = 0; i < 2; i++) {
        const int64_t extent = x->type.dimensions.data[2 + i], stride = t->stride.data[i];
        const int64_t d = dilation->count == 2 ? dilation->data[i] : 1;
        const int64_t window = (int64_t)(w->type.dimensions.data[2 + i] - 1) * d + 1;
        int64_t least = (extent - 1) * stride + window;
        if (extent < 0 || stride > INT32_MAX || d > INT32_MAX) {
            nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 9, "is given, but the input has dynamic dimensions");
            return;
        }
        if (mode == NNRT_PAD_MODE_SAME)
            least = extent * stride;
        else if (pads->count == 4)
            least -= pads->data[2 * i] + pads->data[2 * i + 1];
        extra[i] = nnrti_nna_number(shape, (size_t)i) - least;
        if (extra[i] < 0 || extra[i] >= (stride > d ? stride : d)) {
            nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 9, "has a dimension that output paddings cannot produce");
            return;
        }
    }
    t->outputPaddings = nnrt_int64_list(extra, 2);
}

/* A pool whose output dimensions are rounded up may have windows that begin behind the image. The node omits them
   (l->empty), and a PAD after it appends their values. With dynamic dimensions nothing changes: the node's shape rule
   rejects such windows. */
static void nnrti_nna_pool(nnrti_nna_lower *l, const NNRT_Int64List *kernel, const NNRT_Int64List *strides,
                           NNRT_Int64List *pad, NNRT_PadMode *mode, NNRT_RoundMode *roundMode, bool *global)
{
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0);
    const bool counted = l->type == NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD; /* its average counts padding: a window outside
                                                                           the padded image has fewer elements */
    bool exact = true;
    int64_t pads[4] = {0, 0, 0, 0}, up[2], *list;
    int32_t empty[2];
    if (*mode != NNRT_PAD_MODE_PAD)
        *pad = nnrt_int64_list(NULL, 0);
    *global = nnrti_nna_global_pool(l);
    if (*global || *roundMode != NNRT_ROUND_MODE_CEIL || *mode == NNRT_PAD_MODE_SAME || x->type.dimensions.count != 4 ||
        kernel->count != 2 || strides->count != 2)
        return;
    for (uint32_t i = 0; i < pad->count && i < 4; i++)
        pads[i] = pad->data[i];
    for (int i = 0; i < 2; i++) {
        const int64_t L = x->type.dimensions.data[2 + i], k = kernel->data[i], s = strides->data[i];
        const int64_t p = pads[2 * i], last = pads[2 * i + 1];
        int64_t rest, all, some;
        if (L < 1 || k > INT32_MAX || s > INT32_MAX || p >= k || last > INT32_MAX || L + p + last < k)
            return;
        rest = L + p + last - k;
        all = (rest + s - 1) / s + 1;
        some = (L - 1 + p) / s + 1;
        empty[i] = all > some ? (int32_t)(all - some) : 0;
        up[i] = (some < all ? some - 1 : all - 1) * s + k - L - p; /* padding that the last window with an input element
                                                                      needs */
        if (empty[i] > 0)
            exact = exact && up[i] >= 0;
    }
    if (empty[0] == 0 && empty[1] == 0)
        return;
    for (int i = 0; i < 2; i++) {
        if (empty[i] == 0 && !exact && counted && up[i] > pads[2 * i + 1])
            return;
        if (empty[i] > 0 || !exact)
            pads[2 * i + 1] = up[i] > 0 ? up[i] : 0;
    }
    if ((list = nnrti_nna_room(l, 2, 4)) == NULL)
        return;
    memcpy(list, pads, sizeof(pads));
    *pad = nnrt_int64_list(list, 4);
    *mode = NNRT_PAD_MODE_PAD;
    *roundMode = exact ? NNRT_ROUND_MODE_CEIL : NNRT_ROUND_MODE_FLOOR;
    memcpy(l->empty, empty, sizeof(empty));
}

static void nnrti_nna_adapt_average_pool(nnrti_nna_lower *l)
{
    NNRT_AvgPoolFusion *a = (NNRT_AvgPoolFusion *)(void *)l->attr.bytes;
    if (nnrti_nna_scalar(l, 6, NNRTI_PARAM_BOOL, 0) != 0)
        l->type = NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD;
    nnrti_nna_pool(l, &a->kernelSize, &a->strides, &a->pad, &a->padMode, &a->roundMode, &a->global);
}

static void nnrti_nna_adapt_max_pool(nnrti_nna_lower *l)
{
    NNRT_MaxPoolFusion *a = (NNRT_MaxPoolFusion *)(void *)l->attr.bytes;
    nnrti_nna_pool(l, &a->kernelSize, &a->strides, &a->pad, &a->padMode, &a->roundMode, &a->global);
    l->nOut = nnrti_nna_scalar(l, 6, NNRTI_PARAM_BOOL, 0) != 0 ? 2 : 1;
}

/* RESIZE_NEAREST and RESIZE_LINEAR: coordinate mode and scales. */
static void nnrti_nna_adapt_resize(nnrti_nna_lower *l)
{
    NNRT_Resize *r = (NNRT_Resize *)(void *)l->attr.bytes;
    const bool linear = l->op->type == NNADAPTER_RESIZE_LINEAR;
    const bool corners = nnrti_nna_scalar(l, 3, NNRTI_PARAM_BOOL, 0) != 0;
    const int64_t mode = linear ? nnrti_nna_scalar(l, 4, NNRTI_PARAM_INT32, 0) : 1;
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0), *shape = nnrti_nna_operand(l, 1);
    const NNAdapterOperand *scales = nnrti_nna_operand(l, 2);
    const float *scale = NULL;
    r->coordinateTransformMode = corners     ? NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS
                                 : mode == 0 ? NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL
                                             : NNRT_COORDINATE_TRANSFORM_MODE_ASYMMETRIC;
    r->nearestMode = corners ? NNRT_NEAREST_MODE_NORMAL : NNRT_NEAREST_MODE_FLOOR;
    if (mode != 0 && mode != 1)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 4, "must be 0 or 1");
    /* with both operands, positive scales take precedence, as in Paddle's operators; Paddle-Lite passes 0 for none */
    if (shape != NULL && scales != NULL && nnrti_nna_constant(scales, NNRT_DATA_TYPE_FLOAT32) &&
        nnrti_nna_count(scales) == 2 && ((const float *)scales->data)[0] > 0 && ((const float *)scales->data)[1] > 0)
        shape = NULL;
    if (shape == NULL && scales == NULL)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 1, "and operand 2 are both left out; one of them is required");
    if (nnrti_nna_failed(l))
        return;
    if (shape == NULL) {
        const int32_t four = 4;
        float all[4] = {1, 1, 1, 1};
        if (scales->data == NULL) {
            nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 2, "must be a constant");
            return;
        }
        if (!nnrti_nna_constant(scales, NNRT_DATA_TYPE_FLOAT32) || nnrti_nna_count(scales) != 2) {
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2, "must be 2 constants FLOAT32");
            return;
        }
        scale = (const float *)scales->data;
        all[2] = scale[0];
        all[3] = scale[1];
        l->in[1] = nnrt_builder_constant(l->b, NULL, NNRT_DATA_TYPE_FLOAT32, 1, &four, all, true);
        l->nIn = 2;
    }
    /* half-pixel centers: for an output dimension of 1, nnrt takes the first element, NNAdapter the center */
    for (int i = 0; i < 2 && r->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL; i++) {
        const int32_t extent = x->type.dimensions.count == 4 ? x->type.dimensions.data[2 + i] : 1;
        const bool one = scale != NULL ? extent < 0 || (float)extent * scale[i] < 2
                         : nnrti_nna_constant(shape, NNRT_DATA_TYPE_INT64) && nnrti_nna_count(shape) == 2
                             ? nnrti_nna_number(shape, (size_t)i) == 1
                             : true;
        if (one && extent != 1)
            nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, scale != NULL ? 2 : 1,
                            "resizes, or may resize, a dimension to 1, which is unsupported with align_mode 0");
    }
}

/* A cast from or to quantized elements: the tensor `to` has its type. */
static void nnrti_nna_dtype_cast(nnrti_nna_lower *l, const char *what, uint32_t from, uint32_t to)
{
    NNRT_QuantDTypeCast cast;
    char name[80];
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_QUANT_DTYPE_CAST)->attr, &cast);
    (void)nnrti_nna_name(l, what, name, sizeof(name));
    nnrt_builder_node(l->b, name, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &cast, &from, 1, &to, 1);
}

/* A tensor of float32 between two nodes. */
static uint32_t nnrti_nna_float(nnrti_nna_lower *l, const char *what)
{
    char name[80];
    const uint32_t t = nnrt_builder_tensor(l->b, nnrti_nna_name(l, what, name, sizeof(name)));
    nnrt_builder_declare(l->b, t, NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
    return t;
}

/* Reads zero point i of QUANTIZE, an INT32 or an integral FLOAT32; o NULL: 0. false: neither. */
static bool nnrti_nna_zero(const NNAdapterOperand *o, size_t i, int64_t *zero)
{
    float real;
    *zero = 0;
    if (o == NULL)
        return true;
    if (!nnrti_nna_constant(o, NNRT_DATA_TYPE_FLOAT32)) {
        *zero = nnrti_nna_constant(o, NNRT_DATA_TYPE_INT32) ? nnrti_nna_number(o, i) : 0;
        return nnrti_nna_constant(o, NNRT_DATA_TYPE_INT32);
    }
    real = ((const float *)o->data)[i];
    if (!(real >= -65536.0f && real <= 65536.0f) || (float)(int32_t)real < real || (float)(int32_t)real > real)
        return false;
    *zero = (int32_t)real;
    return true;
}

/* QUANTIZE: the operands scale and zero point must equal the quantization parameters of the output's type. */
static void nnrti_nna_adapt_quantize(nnrti_nna_lower *l)
{
    const NNAdapterOperand *scale = nnrti_nna_operand(l, 2), *zero = nnrti_nna_operand(l, 3);
    const NNAdapterOperand *y = l->op->operands[l->op->nIn], *x = nnrti_nna_operand(l, 0);
    const bool each = nnrti_nna_per_channel(y->type.precision);
    const int64_t axis = nnrti_nna_scalar(l, 1, NNRTI_PARAM_INT32, 1);
    const size_t count = each ? y->type.symm_per_channel_params.scale_count : 1;
    if (!nnrti_nna_quantized(y->type.precision))
        nnrti_nna_fault(l, NNRT_INVALID_DATATYPE, -1, "the output must have a quantized type");
    else if (scale == NULL || !nnrti_nna_constant(scale, NNRT_DATA_TYPE_FLOAT32) || nnrti_nna_count(scale) != count)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2,
                        "must be a constant FLOAT32 with one element for each scale of the output");
    else if (zero != NULL && nnrti_nna_count(zero) != count)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 3, "must have one element for each scale of the output");
    else if (each && (axis < 0 ? axis + x->type.dimensions.count : axis) != y->type.symm_per_channel_params.channel_dim)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 1, "must be the axis of the output's scales");
    for (size_t i = 0; i < count && !nnrti_nna_failed(l); i++) {
        const float own = (float)nnrti_nna_scale(&y->type, (uint32_t)i);
        int64_t z;
        if (!nnrti_nna_zero(zero, i, &z))
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 3, "must be a constant INT32 or an integral FLOAT32");
        else if (memcmp(&own, (const float *)scale->data + i, sizeof(own)) != 0)
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2, "must be the scale of the output");
        else if (z != nnrti_nna_zero_point(&y->type))
            nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 3, "must be the zero point of the output");
    }
    if (x->type.precision == NNADAPTER_INT32 && !nnrti_nna_failed(l)) {
        const uint32_t from = l->in[0];
        char name[80];
        l->in[0] = nnrti_nna_float(l, " real input");
        (void)nnrti_nna_name(l, " from integers", name, sizeof(name));
        nnrt_builder_node(l->b, name, NNRT_NODE_TYPE_CAST, NULL, &from, 1, &l->in[0], 1);
    }
}

/* Checks for a FLOAT32 scalar operand, passed as a parameter, beside a quantized x. */
static bool nnrti_nna_float_scalar(const nnrti_nna_lower *l, const NNAdapterOperand *o)
{
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0);
    return o != NULL && nnrti_nna_quantized(x->type.precision) && nnrti_nna_constant(o, NNRT_DATA_TYPE_FLOAT32) &&
           nnrti_nna_count(o) == 1;
}

static uint32_t nnrti_nna_rank(const nnrti_nna_lower *l, uint32_t i)
{
    return nnrti_nna_operand(l, i)->type.dimensions.count;
}

/* ---- the further functions of the table, F ---- */

static void nnrti_nna_adapt_adaptive_max_pool(nnrti_nna_lower *l)
{
    l->nOut = ((const NNRT_AdaptivePool2D *)(const void *)l->attr.bytes)->returnIndices ? 2 : 1;
}

/* Computes the node in float32: input 0 is dequantized before it, and the result quantized behind it. */
static void nnrti_nna_compute_real(nnrti_nna_lower *l)
{
    uint32_t between;
    if (nnrt_op_find(NNRT_NODE_TYPE_QUANT_DTYPE_CAST) == NULL) {
        nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, -1, "this build excludes QUANT_DTYPE_CAST (NNRT_SELECT)");
        return;
    }
    between = nnrti_nna_float(l, " real input");
    nnrti_nna_dtype_cast(l, " from codes", l->in[0], between);
    l->in[0] = between;
    l->real = true;
}

/* ADD of a quantized operand and a constant of int32 with scales: the bias of a matrix product in 8 bits, as Paddle-Lite's
   fully connected layer has it. The sum is that of the real numbers, computed in float32. */
static void nnrti_nna_adapt_add(nnrti_nna_lower *l)
{
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0), *o = nnrti_nna_operand(l, 1);
    const bool each = o->type.precision == NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL;
    const uint32_t axis = each ? o->type.symm_per_channel_params.channel_dim : 0;
    int32_t dims[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    const int32_t rank = (int32_t)nnrti_nna_dims(&o->type, dims);
    const size_t count = nnrti_nna_count(o);
    size_t inner = 1;
    float *values;
    if ((!each && o->type.precision != NNADAPTER_QUANT_INT32_SYMM_PER_LAYER) || o->data == NULL ||
        !nnrti_nna_quantized(x->type.precision) || nnrti_nna_type(x->type.precision) == NNRT_DATA_TYPE_INT32)
        return;
    for (int32_t k = (int32_t)axis + 1; k < rank; k++)
        inner *= (size_t)dims[k];
    if ((values = (float *)calloc(count + 1, sizeof(*values))) == NULL) {
        nnrti_nna_fault(l, NNRT_OUT_OF_MEMORY, -1, "there is not enough memory");
        return;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)((const int32_t *)o->data)[i] *
                            nnrti_nna_scale(&o->type, each ? (uint32_t)(i / inner % o->type.symm_per_channel_params.scale_count) : 0));
    l->in[1] = nnrt_builder_constant(l->b, NULL, NNRT_DATA_TYPE_FLOAT32, rank, dims, values, true);
    free(values);
    nnrti_nna_compute_real(l);
}

/* MUL of a quantized operand and a constant of FLOAT32: Paddle-Lite's hard_swish passes a factor like this. */
static void nnrti_nna_adapt_multiply(nnrti_nna_lower *l)
{
    if (nnrti_nna_float_scalar(l, nnrti_nna_operand(l, 1)))
        nnrti_nna_compute_real(l);
}

static void nnrti_nna_adapt_clip(nnrti_nna_lower *l)
{
    NNRT_Clip *a = (NNRT_Clip *)(void *)l->attr.bytes;
    for (uint32_t i = 1; i <= 2; i++) {
        const NNAdapterOperand *bound = nnrti_nna_operand(l, i);
        if (!nnrti_nna_float_scalar(l, bound))
            continue;
        *(i == 1 ? &a->min : &a->max) = *(const float *)bound->data;
        l->in[i] = NNRT_NO_TENSOR;
    }
}

static void nnrti_nna_adapt_dequantize(nnrti_nna_lower *l)
{
    l->declared[0] = NNRT_DATA_TYPE_FLOAT32;
    if (!nnrti_nna_quantized(nnrti_nna_operand(l, 0)->type.precision))
        nnrti_nna_fault(l, NNRT_INVALID_DATATYPE, 0, "must have a quantized type");
}

static void nnrti_nna_adapt_fill(nnrti_nna_lower *l)
{
    const uint32_t swapped = l->in[0];
    l->in[0] = l->in[1];
    l->in[1] = swapped;
}

/* The node has no activation: it gets a node of its own. */
static void nnrti_nna_adapt_activation(nnrti_nna_lower *l)
{
    l->fuse = (NNRT_ActivationType)nnrti_nna_scalar(l, 2, NNRTI_PARAM_NNA_FUSE, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
}

/* A quantized operand may have an exponent of FLOAT32, as Paddle-Lite's pow and sqrt have it. */
static void nnrti_nna_adapt_power(nnrti_nna_lower *l)
{
    nnrti_nna_adapt_activation(l);
    if (nnrti_nna_float_scalar(l, nnrti_nna_operand(l, 1)))
        nnrti_nna_compute_real(l);
}

static void nnrti_nna_adapt_fully_connected(nnrti_nna_lower *l)
{
    l->in[2] = nnrti_nna_bias(l);
    ((NNRT_FullConnection *)(void *)l->attr.bytes)->hasBias = l->in[2] != NNRT_NO_TENSOR;
}

static void nnrti_nna_adapt_instance_normalization(nnrti_nna_lower *l)
{
    const float epsilon = ((const NNRT_InstanceNorm *)(const void *)l->attr.bytes)->epsilon;
    if (!(epsilon < 0) && !(epsilon > 0))
        nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 3, "is 0");
}

static void nnrti_nna_adapt_layer_normalization(nnrti_nna_lower *l)
{
    NNRT_LayerNormFusion *a = (NNRT_LayerNormFusion *)(void *)l->attr.bytes;
    a->elementwiseAffine = l->in[1] != NNRT_NO_TENSOR || l->in[2] != NNRT_NO_TENSOR;
}

static void nnrti_nna_adapt_lrn(nnrti_nna_lower *l)
{
    NNRT_LRN *a = (NNRT_LRN *)(void *)l->attr.bytes;
    const int64_t size = nnrti_nna_scalar(l, 1, NNRTI_PARAM_INT32, 5);
    if (size < 1)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 1, "is less than 1");
    else if (size % 2 == 0)
        nnrti_nna_fault(l, NNRT_UNSUPPORTED_OP, 1, "is even");
    a->depthRadius = (size - 1) / 2;
    a->alpha /= (float)(size > 0 ? size : 1);
}

static void nnrti_nna_adapt_non_max_suppression(nnrti_nna_lower *l)
{
    l->nOut = ((const NNRT_MulticlassNms *)(const void *)l->attr.bytes)->returnIndex ? 3 : 2;
}

static void nnrti_nna_adapt_pad(nnrti_nna_lower *l)
{
    NNRT_PadFusion *a = (NNRT_PadFusion *)(void *)l->attr.bytes;
    NNAdapterOperand *value = nnrti_nna_operand(l, 3);
    switch (nnrti_nna_scalar(l, 2, NNRTI_PARAM_INT32, NNADAPTER_PAD_MODE_NONE)) {
    case NNADAPTER_PAD_MODE_CONSTANT:
        if (nnrti_nna_float_scalar(l, value)) {
            a->constantValue = *(const float *)value->data;
        } else if (value != NULL) {
            l->in[2] = nnrti_nna_tensor(l->b, value);
            l->nIn = 3;
        }
        break;
    case NNADAPTER_PAD_MODE_REFLECT: a->paddingMode = NNRT_PADDING_MODE_REFLECT; break;
    case NNADAPTER_PAD_MODE_REPLICATE:
    case NNADAPTER_PAD_MODE_EDGE: l->type = NNRT_NODE_TYPE_PAD_EDGE; break;
    default: nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2, "is not a supported padding mode"); break;
    }
}

/* x, axes, starts, ends, steps become x, starts, ends, axes, steps. */
static void nnrti_nna_adapt_slice(nnrti_nna_lower *l)
{
    int32_t list[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    const int32_t n = nnrti_nna_rank(l, 2) == 1 ? nnrti_nna_operand(l, 2)->type.dimensions.data[0] : -1;
    const uint32_t axes = l->in[1], steps = l->in[4];
    l->in[1] = l->in[2];
    l->in[2] = l->in[3];
    l->in[3] = axes;
    l->nIn = 5;
    if (axes != NNRT_NO_TENSOR && steps != NNRT_NO_TENSOR)
        return;
    if (n < 0 || n > NNADAPTER_MAX_SIZE_OF_DIMENSIONS) {
        nnrti_nna_fault(l, NNRT_INVALID_SHAPE, 2, "must be a list with a fixed number of entries, at most 8");
        return;
    }
    for (int32_t i = 0; i < n; i++)
        list[i] = i;
    if (axes == NNRT_NO_TENSOR)
        l->in[3] = nnrti_nna_ints(l, list, n);
    for (int32_t i = 0; i < n; i++)
        list[i] = 1;
    if (steps == NNRT_NO_TENSOR)
        l->in[4] = nnrti_nna_ints(l, list, n);
}

static void nnrti_nna_adapt_softmax(nnrti_nna_lower *l)
{
    NNRT_Softmax *a = (NNRT_Softmax *)(void *)l->attr.bytes;
    if (a->axis.count > 0)
        return;
    l->numbers[0] = 1;
    a->axis = nnrt_int64_list(l->numbers, 1);
}

static void nnrti_nna_adapt_tile(nnrti_nna_lower *l)
{
    const NNAdapterOperandDimensionType *repeats = &nnrti_nna_operand(l, 1)->type.dimensions;
    if (repeats->count == 1 && repeats->data[0] >= 0 && (uint32_t)repeats->data[0] != nnrti_nna_rank(l, 0))
        nnrti_nna_fault(l, NNRT_INVALID_SHAPE, 1, "must have an entry for each axis");
}

static void nnrti_nna_adapt_top_k(nnrti_nna_lower *l)
{
    if (nnrti_nna_scalar(l, 3, NNRTI_PARAM_BOOL, 1) == 0)
        l->type = NNRT_NODE_TYPE_BOTTOM_K;
}

static void nnrti_nna_adapt_transpose(nnrti_nna_lower *l)
{
    int32_t list[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    const int32_t n = (int32_t)nnrti_nna_rank(l, 0);
    if (l->in[1] != NNRT_NO_TENSOR)
        return;
    for (int32_t i = 0; i < n; i++)
        list[i] = n - 1 - i;
    l->in[1] = nnrti_nna_ints(l, list, n);
    l->nIn = 2;
}

static void nnrti_nna_adapt_unstack(nnrti_nna_lower *l)
{
    if (nnrti_nna_scalar(l, 2, NNRTI_PARAM_INT32, l->op->nOut) != l->op->nOut)
        nnrti_nna_fault(l, NNRT_INVALID_PARAMETER, 2, "must equal the number of outputs");
}

/* A condition of rank 1 broadcasts; nnrt's WHERE would select rows by it. */
static void nnrti_nna_adapt_where(nnrti_nna_lower *l)
{
    int32_t list[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    const uint32_t a = nnrti_nna_rank(l, 1), b = nnrti_nna_rank(l, 2), most = a > b ? a : b;
    uint32_t in[2];
    char name[64];
    if (nnrti_nna_rank(l, 0) != 1 || most < 2)
        return;
    for (uint32_t i = 0; i < most; i++)
        list[i] = i + 1 < most ? 1 : -1;
    in[0] = l->in[0];
    in[1] = nnrti_nna_ints(l, list, (int32_t)most);
    (void)nnrti_nna_name(l, " condition", name, sizeof(name));
    l->in[0] = nnrt_builder_op(l->b, name, NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
}

#define NNRTI_NNA_ADAPTER(op, function) {NNADAPTER_##op, nnrti_nna_adapt_##function},
#define NNRTI_NNA_LAST_OF(name, operands, minOut, maxOut, node, ...) __VA_ARGS__
/* Called after the parameters are set, if there is no error yet. */
static const struct {
    int32_t type;
    void (*adapt)(nnrti_nna_lower *l);
} nnrti_nna_adapters[] = {
    NNRTI_NNA_OPS(NNRTI_NNA_LAST_OF, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING, NNRTI_NNA_ADAPTER)};

/* Checks the number of operands and outputs; false: with an error. */
static bool nnrti_nna_arity(nnrti_nna_lower *l)
{
    const uint32_t nIn = l->op->nIn, nOut = l->op->nOut, count = (uint32_t)strlen(l->row->operands);
    const bool list = l->row->operands[0] == 'X';
    if (l->row == &nnrti_nna_custom)
        return true; /* its operator's row is checked later */
    if (list ? nIn < count : nIn > count)
        nnrti_nna_fault(l, NNRT_INVALID_INPUT, -1, list ? "has too few operands" : "has too many operands");
    for (uint32_t i = 0; i < (list ? nIn : count) && !nnrti_nna_failed(l); i++)
        if ((nnrti_nna_letter(l, i) == 'x' || nnrti_nna_letter(l, i) == 'P') && nnrti_nna_operand(l, i) == NULL)
            nnrti_nna_fault(l, NNRT_NULL_PTR, (int32_t)i, "is left out, but required");
    if (nOut < l->row->minOut || nOut > l->row->maxOut)
        nnrti_nna_fault(l, NNRT_INVALID_OUTPUT, -1, "has an invalid number of outputs");
    return !nnrti_nna_failed(l);
}

/* Makes a tensor between two nodes, with the element type and quantization of operand o. */
static uint32_t nnrti_nna_between(nnrt_builder *b, const NNAdapterOperand *o, const char *name)
{
    const uint32_t t = nnrt_builder_tensor(b, name);
    if (nnrti_nna_quantized(o->type.precision)) {
        nnrt_builder_declare(b, t, nnrti_nna_type(o->type.precision), NNRT_RANK_UNKNOWN, NULL);
        nnrti_nna_quant(b, t, o, NULL);
    }
    return t;
}

/* Adds a pool and a PAD that appends the windows without an input element: an average is 0, a maximum the lowest finite
   value of the type, or 0 with an activation; its index is -1. */
static void nnrti_nna_empty_windows(nnrti_nna_lower *l, const char *name, const uint32_t *out)
{
    const bool largest = l->type == NNRT_NODE_TYPE_MAX_POOL_FUSION;
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0);
    const NNRT_ActivationType activation = ((const NNRT_MaxPoolFusion *)(void *)l->attr.bytes)->activationType;
    uint32_t pooled[2], in[2];
    const int32_t dims[2] = {4, 2};
    int32_t paddings[8] = {0};
    NNRT_PadFusion pad;
    char text[80];
    for (uint32_t i = 0; i < l->nOut; i++) {
        (void)nnrti_nna_name(l, i == 0 ? " pooled" : " pooled indices", text, sizeof(text));
        pooled[i] = nnrti_nna_between(l->b, l->op->operands[l->op->nIn + i], text);
        if (i > 0)
            nnrt_builder_declare(l->b, pooled[i], l->declared[i], NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_format(l->b, pooled[i], NNRT_FORMAT_NCHW);
    }
    nnrt_builder_node(l->b, name, l->type, l->attr.bytes, l->in, l->nIn, pooled, l->nOut);
    paddings[5] = l->empty[0];
    paddings[7] = l->empty[1];
    for (uint32_t i = 0; i < l->nOut; i++) {
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_PAD_FUSION)->attr, &pad);
        if (i > 0)
            pad.constantValue = -1;
        else if (largest && activation == NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            pad.constantValue = x->type.precision == NNADAPTER_FLOAT16 ? -65504.0f : -FLT_MAX;
        in[0] = pooled[i];
        in[1] = nnrt_builder_constant(l->b, NULL, NNRT_DATA_TYPE_INT32, 2, dims, paddings, true);
        (void)nnrti_nna_name(l, i == 0 ? " padded" : " padded indices", text, sizeof(text));
        nnrt_builder_node(l->b, text, NNRT_NODE_TYPE_PAD_FUSION, &pad, in, 2, &out[i], 1);
    }
}

/* Collects the inputs of the node, except filters and biases, which the operation's function converts. */
static void nnrti_nna_inputs(nnrti_nna_lower *l)
{
    const int32_t type = l->op->type;
    for (uint32_t i = 0; i < l->op->nIn + NNRTI_NNA_MORE_INPUTS; i++) {
        const char letter = nnrti_nna_letter(l, i);
        NNAdapterOperand *o = nnrti_nna_operand(l, i);
        const bool convolution = type == NNADAPTER_CONV_2D || type == NNADAPTER_CONV_2D_TRANSPOSE;
        l->in[i] = NNRT_NO_TENSOR;
        if (o == NULL || (letter != 'x' && letter != 'o'))
            continue;
        if (!(i == 1 && convolution) && !(i == 2 && (convolution || type == NNADAPTER_FULLY_CONNECTED)))
            l->in[i] = nnrti_nna_tensor(l->b, o);
        l->nIn = i + 1;
    }
}

/* Adds the operation's node, and a node behind it for an activation, for empty windows or for codes. */
static void nnrti_nna_nodes(nnrti_nna_lower *l, const uint32_t *out)
{
    char name[64], fused[64];
    NNRT_Activation activation;
    uint32_t between;
    (void)nnrti_nna_name(l, "", name, sizeof(name));
    memset(&activation, 0, sizeof(activation));
    activation.activationType = l->fuse;
    if (l->real) {
        between = nnrti_nna_float(l, " real");
        nnrt_builder_node(l->b, name, l->type, l->attr.bytes, l->in, l->nIn, &between, 1);
        if (l->fuse != NNRT_ACTIVATION_TYPE_NO_ACTIVATION) {
            const uint32_t from = between;
            between = nnrti_nna_float(l, " real activation");
            (void)nnrti_nna_name(l, " activation", fused, sizeof(fused));
            nnrt_builder_node(l->b, fused, NNRT_NODE_TYPE_ACTIVATION, &activation, &from, 1, &between, 1);
        }
        nnrti_nna_dtype_cast(l, " to codes", between, out[0]);
        return;
    }
    if (l->fuse == NNRT_ACTIVATION_TYPE_NO_ACTIVATION) {
        if (l->empty[0] > 0 || l->empty[1] > 0)
            nnrti_nna_empty_windows(l, name, out);
        else
            nnrt_builder_node(l->b, name, l->type, l->attr.bytes, l->in, l->nIn, out, l->nOut);
        return;
    }
    between = nnrti_nna_between(l->b, l->op->operands[l->op->nIn], name);
    nnrt_builder_node(l->b, name, l->type, l->attr.bytes, l->in, l->nIn, &between, 1);
    (void)nnrti_nna_name(l, " activation", fused, sizeof(fused));
    nnrt_builder_node(l->b, fused, NNRT_NODE_TYPE_ACTIVATION, &activation, &between, 1, out, 1);
}

/* Adds an operation to a builder, which keeps the first error. */
static void nnrti_nna_operation(nnrt_builder *b, const NNAdapterOperation *op, bool shapes)
{
    const nnrti_param *p = nnrti_params_of(nnrti_nna_params, op->type);
    const nnrt_op *node;
    nnrti_nna_lower l;
    uint32_t *out;
    memset(&l, 0, sizeof(l));
    l.b = b;
    l.op = op;
    l.row = nnrti_nna_row_of(op);
    l.shapes = shapes;
    l.type = nnrti_nna_node_type(op);
    l.nOut = op->nOut;
    if (!nnrti_nna_arity(&l))
        return;
    if ((node = nnrt_op_find(l.type)) == NULL || node->attr->bytes > sizeof(l.attr)) {
        nnrti_nna_fault(&l, NNRT_UNSUPPORTED_OP, -1, "this build excludes its operator (NNRT_SELECT)");
        return;
    }
    nnrt_attr_defaults(node->attr, l.attr.bytes);
    l.in = (uint32_t *)calloc((size_t)op->nIn + NNRTI_NNA_MORE_INPUTS + op->nOut, sizeof(*l.in));
    if (l.in == NULL) {
        nnrti_nna_fault(&l, NNRT_OUT_OF_MEMORY, -1, "there is not enough memory");
        return;
    }
    out = l.in + op->nIn + NNRTI_NNA_MORE_INPUTS;
    nnrti_nna_inputs(&l);
    nnrti_params_preset(p, l.attr.bytes);
    for (; p->kind != NNRTI_PARAM_OPERATION; p++)
        if (p->key != NNRTI_PARAM_PRESET)
            nnrti_nna_set(&l, p);
    for (size_t i = 0; i < sizeof(nnrti_nna_adapters) / sizeof(nnrti_nna_adapters[0]) && !nnrti_nna_failed(&l); i++)
        if (nnrti_nna_adapters[i].type == op->type)
            nnrti_nna_adapters[i].adapt(&l);
    while (l.nIn > 0 && l.in[l.nIn - 1] == NNRT_NO_TENSOR)
        l.nIn--;
    if (l.nOut > op->nOut)
        nnrti_nna_fault(&l, NNRT_INVALID_OUTPUT, -1, "has too few outputs");
    for (uint32_t i = 0; i < l.nOut && !nnrti_nna_failed(&l); i++) {
        out[i] = nnrti_nna_tensor(b, op->operands[op->nIn + i]);
        if (i < 3 && l.declared[i] != NNRT_DATA_TYPE_UNKNOWN)
            nnrt_builder_declare(b, out[i], l.declared[i], NNRT_RANK_UNKNOWN, NULL);
    }
    if (!nnrti_nna_failed(&l))
        nnrti_nna_nodes(&l, out);
    free(l.in);
}

/* Adds an input of the model, or of a model of one operation. */
static void nnrti_nna_input(nnrt_builder *b, NNAdapterOperand *o, const char *name)
{
    int32_t dims[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    const int32_t rank = (int32_t)nnrti_nna_dims(&o->type, dims);
    o->stamp = o->model->stamp;
    o->tensor = nnrt_builder_input(b, name, nnrti_nna_type(o->type.precision), rank, dims);
    nnrti_nna_quant(b, o->tensor, o, NULL);
    if (o->image)
        nnrt_builder_format(b, o->tensor, NNRT_FORMAT_NCHW);
}

/* Marks the inputs and outputs of an operation with a layout as images. */
static void nnrti_nna_images(const NNAdapterOperation *op)
{
    const nnrt_op *node = nnrti_nna_lowered(op) ? nnrt_op_find(nnrti_nna_node_type(op)) : NULL;
    const bool boxes = op->type == NNADAPTER_PRIOR_BOX || op->type == NNADAPTER_YOLO_BOX; /* x is an image, y is not */
    const bool image = node != NULL && (node->flags & NNRT_OP_LAYOUT) != 0;
    for (uint32_t i = 0; i < op->nIn && (image || boxes) && i < (op->type == NNADAPTER_PRIOR_BOX ? 2u : 1u); i++)
        if (op->operands[i] != NULL)
            op->operands[i]->image = true;
    for (uint32_t i = 0; i < op->nOut && image; i++)
        op->operands[op->nIn + i]->image = true;
}

/* Builds a model of this operation alone; its non-constant operands are inputs, named i0, i1, ... *open: dynamic
   dimensions. */
static NNRT_ReturnCode nnrti_nna_single_op_model(NNAdapterModel *model, const NNAdapterOperation *op,
                                                 NNRT_Model **alone, bool *open, nnrt_error *error)
{
    nnrt_builder *b = NULL;
    NNRT_ReturnCode code = nnrt_builder_create(&b, NULL, NULL);
    char name[16];
    *open = false;
    *alone = NULL;
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "there is not enough memory for the model");
    model->stamp++;
    for (uint32_t i = 0; i < op->nIn; i++) {
        NNAdapterOperand *o = op->operands[i];
        if (o == NULL || o->data != NULL || o->stamp == model->stamp)
            continue;
        for (uint32_t k = 0; k < o->type.dimensions.count; k++)
            *open = *open || o->type.dimensions.data[k] < 0;
        (void)nnrt_text(name, sizeof(name), "i%u", i);
        nnrti_nna_input(b, o, name);
    }
    nnrti_nna_operation(b, op, true);
    for (uint32_t i = 0; i < op->nOut && nnrt_builder_error(b)->code == NNRT_SUCCESS; i++)
        if (op->operands[op->nIn + i]->stamp == model->stamp)
            nnrt_builder_output(b, op->operands[op->nIn + i]->tensor);
    code = nnrt_builder_finish(b, alone, error);
    nnrt_builder_destroy(b);
    return code;
}

/* Returns the index of the node's input whose element type output number `out` has, from the row's outputs; -1: none.
   */
static int32_t nnrti_nna_like(const char *outputs, uint32_t out)
{
    for (;; out--) {
        const size_t length = strcspn(outputs, " "), equals = strcspn(outputs, "=");
        if (out == 0 || memchr(outputs, '*', length) != NULL)
            return equals < length ? outputs[equals + 1] - '0' : -1;
        if (outputs[length] == '\0')
            return -1;
        outputs += length + 1;
    }
}

/* Derives the type of QUANTIZE's output, of precision UNKNOWN, from its operands: several scales make it per-channel,
   and a zero point other than 0 makes it asymmetric. With invalid operands it stays UNKNOWN, and nnrti_nna_quantize
   fails. */
static NNRT_ReturnCode nnrti_nna_derive_quantize(const nnrti_nna_lower *l, NNAdapterOperand *y)
{
    const NNAdapterOperand *x = nnrti_nna_operand(l, 0), *scale = nnrti_nna_operand(l, 2);
    const NNAdapterOperand *zero = nnrti_nna_operand(l, 3), *axis = nnrti_nna_operand(l, 1);
    const size_t count =
        scale != NULL && nnrti_nna_constant(scale, NNRT_DATA_TYPE_FLOAT32) ? nnrti_nna_count(scale) : 0;
    int64_t z = 0, at = 1;
    if (count == 0 || count > UINT32_MAX || (zero != NULL && nnrti_nna_count(zero) != count) ||
        !nnrti_nna_zero(zero, 0, &z))
        return NNRT_SUCCESS;
    if (axis != NULL && nnrti_nna_constant(axis, NNRT_DATA_TYPE_INT32) && nnrti_nna_count(axis) == 1)
        at = nnrti_nna_number(axis, 0);
    at = at < 0 && x != NULL ? at + x->type.dimensions.count : at;
    if (count > 1) {
        if (!nnrti_nna_scales(y, (uint32_t)at, (const float *)scale->data, (uint32_t)count))
            return NNRT_OUT_OF_MEMORY;
        y->type.precision = NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL;
    } else {
        y->type.precision = z == 0 ? NNADAPTER_QUANT_INT8_SYMM_PER_LAYER : NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER;
        y->type.asymm_per_layer_params.scale = *(const float *)scale->data;
        y->type.asymm_per_layer_params.zero_point = (int32_t)z;
    }
    return NNRT_SUCCESS;
}

/* Derives precision UNKNOWN of outputs that have the element type of a quantized operand. They get its precision, and
   keep the scale and zero point that the program set. Other precisions are inferred with the shapes. */
static NNRT_ReturnCode nnrti_nna_derive(const NNAdapterOperation *op, nnrt_error *error)
{
    const nnrt_op *node = nnrt_op_find(nnrti_nna_node_type(op));
    nnrti_nna_lower l;
    memset(&l, 0, sizeof(l));
    l.op = op;
    l.row = nnrti_nna_row_of(op);
    for (uint32_t i = 0; i < op->nOut && node != NULL; i++) {
        NNAdapterOperand *y = op->operands[op->nIn + i];
        const int32_t like = nnrti_nna_like(node->outputs, i);
        /* the node has the same order of operands, except FILL, whose shape comes first */
        const uint32_t at = op->type == NNADAPTER_FILL ? 1 : (uint32_t)like;
        const NNAdapterOperand *x = like >= 0 ? nnrti_nna_operand(&l, at) : NULL;
        if (!nnrti_nna_unknown(&y->type))
            continue;
        if (op->type == NNADAPTER_QUANTIZE && nnrti_nna_derive_quantize(&l, y) != NNRT_SUCCESS)
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
        if (x == NULL || !nnrti_nna_quantized(x->type.precision))
            continue;
        if (!(y->type.asymm_per_layer_params.scale > 0)) { /* also the first member of symm_per_layer_params */
            const bool moves = (node->flags & NNRT_OP_MOVEMENT) != 0 || op->type == NNADAPTER_TOP_K;
            if (!moves || nnrti_nna_per_channel(x->type.precision))
                return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                      "operation %u (%s): output %u has precision UNKNOWN and no scale, and operand %u "
                                      "is quantized; expected a scale > 0",
                                      op->index, l.row->name, i, at);
            y->type.asymm_per_layer_params = x->type.asymm_per_layer_params;
        }
        /* one scale: a per-channel type becomes the per-layer type, which precedes it in the enumeration */
        y->type.precision = nnrti_nna_per_channel(x->type.precision)
                                ? (NNAdapterOperandPrecisionCode)((int)x->type.precision - 1)
                                : x->type.precision;
    }
    return NNRT_SUCCESS;
}

/* Checks whether an output shape depends on the elements of operand i without any upper bound. */
static bool nnrti_nna_needs(const NNAdapterOperation *op, uint32_t i)
{
    switch (op->type) {
    case NNADAPTER_RANGE: return true;
    case NNADAPTER_FILL: return i == 0;
    case NNADAPTER_EXPAND:
    case NNADAPTER_RESIZE_NEAREST:
    case NNADAPTER_RESIZE_LINEAR:
    case NNADAPTER_SPLIT:
    case NNADAPTER_TILE: return i > 0;
    case NNADAPTER_PAD: return i == 1 || i == 2;
    default: return false;
    }
}

/* Checks whether an output shape is known only in a run. Then the outputs are late, and so is every operation that
   reads them. */
static bool nnrti_nna_is_data_dependent(const NNAdapterOperation *op)
{
    nnrti_nna_lower l;
    bool late = false;
    memset(&l, 0, sizeof(l));
    l.op = op;
    l.row = nnrti_nna_row_of(op);
    for (uint32_t i = 0; i < op->nIn; i++) {
        NNAdapterOperand *o = nnrti_nna_operand(&l, i);
        if (o == NULL || o->data != NULL)
            continue;
        o->decides = o->decides || nnrti_nna_needs(op, i);
        late = late || o->late || nnrti_nna_needs(op, i);
    }
    for (uint32_t i = 0; late && i < op->nOut; i++)
        op->operands[op->nIn + i]->late = true;
    return late;
}

/* Checks the number of operands of a late operation, which is converted only in a run. */
static NNRT_ReturnCode nnrti_nna_count_operands(const NNAdapterOperation *op, nnrt_error *error)
{
    nnrti_nna_lower l;
    NNRT_Model *none = NULL;
    NNRT_ReturnCode code;
    memset(&l, 0, sizeof(l));
    l.op = op;
    l.row = nnrti_nna_row_of(op);
    if ((code = nnrt_builder_create(&l.b, NULL, NULL)) != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "there is not enough memory for the model");
    code = nnrti_nna_arity(&l) ? NNRT_SUCCESS : nnrt_builder_finish(l.b, &none, error);
    nnrt_builder_destroy(l.b);
    return code;
}

/* Infers types and shapes of the outputs. Inference is deferred to NNAdapterModel_finish if the precision of an operand
   is unknown, and to the run if the operation is late. */
static NNRT_ReturnCode nnrti_nna_infer(NNAdapterModel *model, NNAdapterOperation *op)
{
    NNRT_Model *alone;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_operand *tensors = NULL;
    nnrt_bound *bounds = NULL;
    bool open;
    NNRT_ReturnCode code;
    op->pending = false;
    if (nnrti_nna_is_data_dependent(op)) {
        if ((code = nnrti_nna_derive(op, &model->error)) == NNRT_SUCCESS)
            code = nnrti_nna_count_operands(op, &model->error);
        model->late = model->late || code == NNRT_SUCCESS;
        return code;
    }
    for (uint32_t i = 0; i < op->nIn; i++)
        op->pending = op->pending || (op->operands[i] != NULL && nnrti_nna_unknown(&op->operands[i]->type));
    if (op->pending)
        return NNRT_SUCCESS;
    if ((code = nnrti_nna_derive(op, &model->error)) != NNRT_SUCCESS ||
        (code = nnrti_nna_single_op_model(model, op, &alone, &open, &model->error)) != NNRT_SUCCESS)
        return code;
    memset(&config, 0, sizeof(config));
    config.error = open ? NULL : &model->error;
    nnrt_memory_allocate(&memory, NULL);
    tensors = (nnrt_operand *)calloc(alone->allTensors.count, sizeof(*tensors));
    bounds = (nnrt_bound *)calloc((size_t)alone->inputIndex.count + 1, sizeof(*bounds));
    if (tensors == NULL || bounds == NULL)
        code = nnrt_error_set(&model->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    for (uint32_t i = 0; open && code == NNRT_SUCCESS && i < alone->inputIndex.count; i++) {
        const NNRT_Tensor *t = &alone->allTensors.data[alone->inputIndex.data[i]];
        bounds[i].tensor = t->name;
        bounds[i].most.rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count; k++)
            bounds[i].most.dims[k] = t->dims.data[k] >= 0 ? t->dims.data[k] : NNRTI_NNA_DYNAMIC_SIZE;
    }
    if (open)
        config.bounds = nnrt_bound_list_make(bounds, alone->inputIndex.count);
    if (code == NNRT_SUCCESS && (code = nnrt_model_infer(alone, &config, &memory, tensors, NULL, NULL)) == NNRT_SUCCESS)
        for (uint32_t i = 0; i < op->nOut; i++) {
            NNAdapterOperand *o = op->operands[op->nIn + i];
            const nnrt_operand *t = o->stamp == model->stamp ? &tensors[o->tensor] : NULL;
            if (t == NULL || t->rank < 0)
                continue;
            o->type.dimensions.count = (uint32_t)t->rank;
            for (int32_t k = 0; k < t->rank; k++)
                o->type.dimensions.data[k] = t->symbols[k] != 0 ? NNADAPTER_UNKNOWN : t->dims[k];
            if (!nnrti_nna_quantized(o->type.precision))
                o->type.precision = nnrti_nna_precision(t->dataType);
        }
    else if (open && code != NNRT_OUT_OF_MEMORY)
        code = NNRT_SUCCESS; /* possibly caused by NNRTI_NNA_DYNAMIC_SIZE in place of dynamic dimensions */
    nnrt_memory_end(&memory);
    free(tensors);
    free(bounds);
    nnrt_model_destroy(alone);
    return code;
}

NNRT_NNADAPTER_API int NNAdapterModel_addOperation(NNAdapterModel *model, NNAdapterOperationType type,
                                                   uint32_t input_count, NNAdapterOperand **input_operands,
                                                   uint32_t output_count, NNAdapterOperand **output_operands,
                                                   NNAdapterOperation **operation)
{
    NNAdapterOperation *op, **grown;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (operation != NULL)
        *operation = NULL;
    while (output_operands != NULL && output_count > 1 && output_operands[output_count - 1] == NULL)
        output_count--; /* an optional output is left out: Paddle-Lite's indices of MAX_POOL_2D */
    if (model == NULL || operation == NULL || output_operands == NULL || output_count == 0 || model->finished ||
        (input_operands == NULL && input_count > 0) || input_count > UINT32_MAX - 16 - output_count ||
        !nnrti_nna_own(model, input_operands, input_count, true) ||
        !nnrti_nna_own(model, output_operands, output_count, false))
        return NNADAPTER_INVALID_PARAMETER;
    memset(&model->error, 0, sizeof(model->error));
    for (uint32_t i = 0; i < output_count; i++) {
        bool twice = output_operands[i]->writer != 0 || output_operands[i]->data != NULL || output_operands[i]->input;
        for (uint32_t k = 0; k < i; k++)
            twice = twice || output_operands[k] == output_operands[i];
        for (uint32_t k = 0; k < input_count; k++)
            twice = twice || input_operands[k] == output_operands[i];
        if (twice)
            return nnrti_nna_code(nnrt_error_set(
                &model->error, NNRT_INVALID_PARAMETER,
                "operation %u: output %u must not be an input, a constant or another output", model->nOperations, i));
    }
    grown = (NNAdapterOperation **)nnrti_compat_grow(model->operations, model->nOperations, &model->roomOperations,
                                                     sizeof(*grown));
    if (grown == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    model->operations = grown;
    if ((op = (NNAdapterOperation *)calloc(1, sizeof(*op))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    op->operands = (NNAdapterOperand **)calloc((size_t)input_count + output_count, sizeof(*op->operands));
    if (op->operands == NULL) {
        free(op);
        return NNADAPTER_OUT_OF_MEMORY;
    }
    op->type = type;
    op->index = model->nOperations;
    op->nIn = input_count;
    op->nOut = output_count;
    if (input_count > 0)
        memcpy(op->operands, input_operands, input_count * sizeof(*op->operands));
    memcpy(op->operands + input_count, output_operands, output_count * sizeof(*op->operands));
    for (uint32_t i = 0; i < output_count; i++)
        output_operands[i]->writer = op->index + 1;
    nnrti_nna_images(op);
    nnrti_nna_columns(op);
    if (nnrti_nna_lowered(op))
        code = nnrti_nna_infer(model, op);
    if (code != NNRT_SUCCESS) {
        for (uint32_t i = 0; i < output_count; i++) {
            output_operands[i]->writer = 0;
            output_operands[i]->late = false;
            if (output_operands[i]->unknown)
                output_operands[i]->type.precision = nnrti_nna_precision_of(NNADAPTER_UNKNOWN);
        }
        free(op->operands);
        free(op);
        return nnrti_nna_code(code);
    }
    *operation = model->operations[model->nOperations++] = op;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterModel_identifyInputsAndOutputs(NNAdapterModel *model, uint32_t input_count,
                                                               NNAdapterOperand **input_operands, uint32_t output_count,
                                                               NNAdapterOperand **output_operands)
{
    NNAdapterOperand **io;
    if (model == NULL || output_operands == NULL || output_count == 0 || model->finished ||
        (input_operands == NULL && input_count > 0) || !nnrti_nna_own(model, input_operands, input_count, false) ||
        !nnrti_nna_own(model, output_operands, output_count, false))
        return NNADAPTER_INVALID_PARAMETER;
    for (uint32_t i = 0; i < input_count; i++) {
        if (input_operands[i]->data != NULL || input_operands[i]->writer != 0 ||
            nnrti_nna_unknown(&input_operands[i]->type))
            return NNADAPTER_INVALID_PARAMETER;
        for (uint32_t k = 0; k < i; k++)
            if (input_operands[k] == input_operands[i])
                return NNADAPTER_INVALID_PARAMETER;
    }
    if ((io = (NNAdapterOperand **)calloc((size_t)input_count + output_count, sizeof(*io))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < model->nIn + model->nOut; i++) { /* marks of an earlier call */
        model->io[i]->input = false;
        if (model->io[i]->data == NULL)
            model->io[i]->type.lifetime = NNADAPTER_TEMPORARY_VARIABLE;
    }
    for (uint32_t i = 0; i < input_count; i++) {
        io[i] = input_operands[i];
        io[i]->input = true;
        io[i]->type.lifetime = NNADAPTER_MODEL_INPUT;
    }
    for (uint32_t i = 0; i < output_count; i++) {
        io[input_count + i] = output_operands[i];
        if (output_operands[i]->data == NULL && !output_operands[i]->input)
            output_operands[i]->type.lifetime = NNADAPTER_MODEL_OUTPUT;
    }
    free(model->io);
    model->io = io;
    model->nIn = input_count;
    model->nOut = output_count;
    return NNADAPTER_NO_ERROR;
}

/* Topological sort (depth-first): calls the builder with each operation after its producers, otherwise in the order in
   which they were added. b NULL: instead infers the operations that are pending, or have become late. false:
   model->error reports a cycle, an operand without a producer, an invalid operation, or out of memory. */
static bool nnrti_nna_topological_sort(NNAdapterModel *model, nnrt_builder *b)
{
    const uint32_t n = model->nOperations;
    uint32_t *next = (uint32_t *)calloc((size_t)n + 1, sizeof(*next)), *asked;
    bool good = true;
    if ((asked = (uint32_t *)calloc((size_t)n + 1, sizeof(*asked))) == NULL || next == NULL) {
        (void)nnrt_error_set(&model->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
        good = false;
    }
    /* next: 1 + number of operands visited, 0: not visited, UINT32_MAX: done; asked: the operation from which it was
       reached */
    for (uint32_t i = 0; good && i < n; i++) {
        uint32_t at = i;
        if (next[i] != 0)
            continue;
        next[i] = 1;
        asked[i] = UINT32_MAX;
        while (good && at != UINT32_MAX) {
            NNAdapterOperation *op = model->operations[at];
            const NNAdapterOperand *o;
            uint32_t from;
            if (next[at] > op->nIn) {
                if (b != NULL)
                    nnrti_nna_operation(b, op, false);
                else if (nnrti_nna_lowered(op) && (op->pending || model->late) &&
                         (op->pending || nnrti_nna_is_data_dependent(op)) && nnrti_nna_infer(model, op) != NNRT_SUCCESS)
                    op->pending = !(good = false);
                next[at] = UINT32_MAX;
                at = asked[at];
                continue;
            }
            o = op->operands[next[at]++ - 1];
            if (o == NULL || o->data != NULL || o->input)
                continue;
            from = o->writer;
            if (from == 0 ? !nnrti_nna_empty(o) : next[from - 1] != 0 && next[from - 1] != UINT32_MAX) {
                (void)nnrt_error_set(
                    &model->error, NNRT_INVALID_PARAMETER,
                    from == 0 ? "operation %u: operand %u has no producer: an input, a constant or an operation"
                              : "operation %u: operand %u depends on the operation itself (cycle)",
                    op->index, next[at] - 2);
                good = false;
            } else if (from != 0 && next[from - 1] == 0) {
                next[from - 1] = 1;
                asked[from - 1] = at;
                at = from - 1;
            }
        }
    }
    free(next);
    free(asked);
    return good;
}

/* Builds the model from checked operations; on failure, model->error is set. */
static NNRT_ReturnCode nnrti_nna_build(NNAdapterModel *model, NNRT_Model **built)
{
    nnrt_builder *b = NULL;
    NNRT_ReturnCode code = nnrt_builder_create(&b, NULL, NULL);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(&model->error, code, "there is not enough memory for the model");
    model->stamp++;
    for (uint32_t i = 0; i < model->nIn; i++) {
        char name[32];
        (void)nnrt_text(name, sizeof(name), "input %u", i);
        nnrti_nna_input(b, model->io[i], name);
        if (model->io[i]->data != NULL)
            model->io[i]->stamp = 0; /* elements are constant in this run: operations read a constant, not the input */
    }
    if (nnrti_nna_topological_sort(model, b)) {
        for (uint32_t i = model->nIn; i < model->nIn + model->nOut; i++)
            nnrt_builder_output(b, model->io[i]->stamp == model->stamp ? model->io[i]->tensor : NNRT_NO_TENSOR);
        code = nnrt_builder_finish(b, built, &model->error);
    } else {
        code = model->error.code;
    }
    nnrt_builder_destroy(b);
    return code;
}

/* Marks all inputs on which shapes depend, backwards from the operands that decide. SHAPE does not read elements, and
   ends the search. */
static NNRT_ReturnCode nnrti_nna_mark_shape_inputs(NNAdapterModel *model)
{
    NNAdapterOperand **stack = (NNAdapterOperand **)calloc((size_t)model->nOperands + 1, sizeof(*stack));
    uint32_t n = 0;
    if (stack == NULL)
        return nnrt_error_set(&model->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    for (uint32_t i = 0; i < model->nOperands; i++)
        if (model->operands[i]->decides)
            stack[n++] = model->operands[i];
    while (n > 0) {
        const NNAdapterOperand *o = stack[--n];
        const NNAdapterOperation *op = o->writer != 0 ? model->operations[o->writer - 1] : NULL;
        for (uint32_t i = 0; op != NULL && op->type != NNADAPTER_SHAPE && i < op->nIn; i++)
            if (op->operands[i] != NULL && !op->operands[i]->decides) {
                op->operands[i]->decides = true;
                stack[n++] = op->operands[i];
            }
    }
    free(stack);
    return NNRT_SUCCESS;
}

NNRT_NNADAPTER_API int NNAdapterModel_finish(NNAdapterModel *model)
{
    bool own = false;
    NNRT_ReturnCode code;
    if (model == NULL || model->finished)
        return NNADAPTER_INVALID_PARAMETER;
    memset(&model->error, 0, sizeof(model->error));
    if (model->nOut == 0)
        return nnrti_nna_code(
            nnrt_error_set(&model->error, NNRT_INVALID_PARAMETER,
                           "call NNAdapterModel_identifyInputsAndOutputs before NNAdapterModel_finish"));
    for (uint32_t i = 0; i < model->nOperations; i++) {
        const NNAdapterOperation *op = model->operations[i];
        own = own || (op->type < 0 && !nnrti_nna_lowered(op));
        if (op->type >= NNRTI_NNA_ROWS)
            return nnrti_nna_code(nnrt_error_set(&model->error, NNRT_INVALID_PARAMETER,
                                                 "operation %u: unknown operation code %d", i, op->type));
    }
    for (uint32_t i = model->nIn; i < model->nIn + model->nOut; i++)
        if (model->io[i]->writer == 0)
            return nnrti_nna_code(
                nnrt_error_set(&model->error, NNRT_INVALID_PARAMETER, "no operation writes output %u", i - model->nIn));
    for (uint32_t i = 0; i < model->nIn; i++)
        if (model->io[i]->writer != 0 || model->io[i]->data != NULL)
            return nnrti_nna_code(nnrt_error_set(&model->error, NNRT_INVALID_PARAMETER,
                                                 "input %u must not be a constant or the output of an operation", i));
    if (!nnrti_nna_topological_sort(model, NULL))
        return nnrti_nna_code(model->error.code);
    if (model->late && (code = nnrti_nna_mark_shape_inputs(model)) != NNRT_SUCCESS)
        return nnrti_nna_code(code);
    if (own || model->late) { /* unregistered operators are checked, and a late model is built, later */
        model->finished = true;
        return NNADAPTER_NO_ERROR;
    }
    code = nnrti_nna_build(model, &model->model);
    model->finished = code == NNRT_SUCCESS;
    return nnrti_nna_code(code);
}

NNRT_NNADAPTER_API int NNAdapterModel_getSupportedOperations(const NNAdapterModel *model, NNAdapterContext *context,
                                                             bool *supported_operations)
{
    NNAdapterModel *m = (NNAdapterModel *)(uintptr_t)model;
    if (model == NULL || context == NULL || supported_operations == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    for (uint32_t d = 0; d < context->count; d++)
        if (!nnrt_device_can(context->contexts[d].device, NNRT_ABILITY_TELL_NODES, NULL))
            return NNADAPTER_FEATURE_NOT_SUPPORTED;
    for (uint32_t i = 0; i < model->nOperations; i++) {
        const NNAdapterOperation *op = model->operations[i];
        NNRT_Model *alone = NULL;
        bool open, *nodes;
        NNRT_ReturnCode code;
        supported_operations[i] = op->operands[op->nIn]->late; /* built in a run, which queries the devices */
        if (!nnrti_nna_lowered(op) || supported_operations[i])
            continue;
        code = nnrti_nna_single_op_model(m, op, &alone, &open, NULL);
        if (code == NNRT_OUT_OF_MEMORY)
            return NNADAPTER_OUT_OF_MEMORY;
        if (code != NNRT_SUCCESS)
            continue;
        nodes = (bool *)calloc(alone->nodes.count, sizeof(*nodes));
        code = nodes == NULL ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS;
        for (uint32_t d = 0; d < context->count && code == NNRT_SUCCESS; d++) {
            bool all = true;
            code =
                nnrt_device_supported(context->contexts[d].device, alone, NULL, nodes, alone->nodes.count, NULL, NULL);
            for (uint32_t k = 0; k < alone->nodes.count; k++)
                all = all && nodes[k];
            supported_operations[i] = supported_operations[i] || (code == NNRT_SUCCESS && all);
        }
        free(nodes);
        nnrt_model_destroy(alone);
        if (code != NNRT_SUCCESS)
            return nnrti_nna_code(code);
    }
    return NNADAPTER_NO_ERROR;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_records */

/* Appends text to out[size], as far as it fits; *used counts all bytes. */
static void nnrti_nna_append(char *out, size_t size, size_t *used, const char *text)
{
    const size_t length = strlen(text);
    if (out != NULL && *used < size)
        (void)nnrt_text(out + *used, size - *used, "%s", text);
    *used += length;
}

NNRT_API size_t nnrt_nnadapter_model_records(const NNAdapterModel *model, char *out, size_t size)
{
    size_t used = 0;
    if (out != NULL && size > 0)
        out[0] = '\0';
    for (uint32_t i = 0; model != NULL && i < model->nOperations; i++) {
        const NNAdapterOperation *op = model->operations[i];
        bool first = true;
        if (!nnrti_nna_known(op))
            continue;
        nnrti_nna_append(out, size, &used, nnrti_nna_rows[op->type].name);
        for (uint32_t k = 0; k < op->nIn + op->nOut; k++) {
            char text[16];
            first = first || k == op->nIn;
            if (k == 0 || k == op->nIn)
                nnrti_nna_append(out, size, &used, k == 0 && op->nIn == 0 ? "::" : ":");
            if (op->operands[k] == NULL)
                continue;
            (void)nnrt_text(text, sizeof(text), first ? "%u" : ",%u", op->operands[k]->index);
            nnrti_nna_append(out, size, &used, text);
            first = false;
        }
        nnrti_nna_append(out, size, &used, "\n");
    }
    return used;
}

/* Returns the next record of a text; NULL: none left. */
static const char *nnrti_nna_line(const char **text, size_t *length)
{
    while (*text != NULL && **text != '\0') {
        const char *line = *text;
        *length = strcspn(line, "\n");
        *text = line + *length + (line[*length] != '\0' ? 1 : 0);
        if (*length > 0 && line[*length - 1] == '\r')
            --*length;
        if (*length > 0 && *line != '#')
            return line;
    }
    return NULL;
}

/* Checks that all operands in the comma-separated list [at, end) are among `operands`, and that they are not more. */
static bool nnrti_nna_lists(NNAdapterOperand *const *operands, uint32_t count, const char *at, const char *end)
{
    uint32_t names = 0;
    while (at < end) {
        const char *stop = (const char *)memchr(at, ',', (size_t)(end - at));
        uint64_t number = 0;
        bool found = false, number_is = true;
        stop = stop != NULL ? stop : end;
        for (const char *c = at; c < stop; c++) {
            number_is = number_is && *c >= '0' && *c <= '9' && number <= UINT32_MAX;
            number = number_is ? 10 * number + (uint64_t)(*c - '0') : number;
        }
        for (uint32_t i = 0; i < count && number_is && stop > at; i++)
            found = found || (operands[i] != NULL && operands[i]->index == number);
        if (!found || ++names > count)
            return false;
        at = stop + 1;
    }
    return true;
}

static bool nnrti_nna_matches(const NNAdapterOperation *op, const char *line, size_t length)
{
    const char *const end = line + length, *type = (const char *)memchr(line, ':', length), *in;
    type = type != NULL ? type : end;
    if (!nnrti_nna_known(op) || !nnrti_nna_is(line, (size_t)(type - line), nnrti_nna_rows[op->type].name))
        return false;
    in = type < end ? (const char *)memchr(type + 1, ':', (size_t)(end - type - 1)) : NULL;
    in = in != NULL ? in : end;
    return nnrti_nna_lists(op->operands, op->nIn, type < end ? type + 1 : end, in) &&
           nnrti_nna_lists(op->operands + op->nIn, op->nOut, in < end ? in + 1 : end, end);
}

/* Appends a warning, separated by "; ". */
static void nnrti_nna_warn(char *warning, size_t size, const char *what)
{
    const size_t used = strlen(warning);
    if (*what != '\0')
        (void)nnrt_text(warning + used, size - used, "%s%s", used > 0 ? "; " : "", what);
}

/* Sets chosen[] for all operations that the records select; false: none. */
static bool nnrti_nna_choose(const NNAdapterModel *m, const char *text, bool *chosen, char *warning, size_t size)
{
    const char *line;
    size_t length = 0;
    bool any = false;
    while ((line = nnrti_nna_line(&text, &length)) != NULL) {
        bool matched = false;
        for (uint32_t i = 0; i < m->nOperations; i++)
            if (nnrti_nna_matches(m->operations[i], line, length))
                matched = chosen[i] = true;
        any = any || matched;
        if (!matched) {
            char own[64], what[96];
            length = length < sizeof(own) - 1 ? length : sizeof(own) - 1;
            memcpy(own, line, length);
            own[length] = '\0';
            (void)nnrt_text(what, sizeof(what), "no operation matches '%s'", own);
            nnrti_nna_warn(warning, size, what);
        }
    }
    return any;
}

/* Builds nnrt_partition.keep, records for the nodes of these operations, which are found by their names. NULL: out of
   memory. */
static char *nnrti_nna_keep(const NNRT_Model *model, const bool *chosen, uint32_t count)
{
    char *text = NULL;
    for (size_t size = 0, used = 0;; size = used + 1, used = 0) {
        for (uint32_t n = 0; n < model->nodes.count; n++) {
            const NNRT_Node *node = &model->nodes.data[n];
            size_t end = strcspn(node->name, " "), at = end;
            uint32_t index = 0;
            while (node->name[at - 1] != '_')
                at--;
            for (; at < end; at++)
                index = 10 * index + (uint32_t)(node->name[at] - '0');
            if (index >= count || !chosen[index]) /* index >= count: an inserted cast */
                continue;
            nnrti_nna_append(text, size, &used, nnrt_op_find(node->nodeType)->name);
            nnrti_nna_append(text, size, &used, "::");
            nnrti_nna_append(text, size, &used, model->allTensors.data[node->outputIndex.data[0]].name);
            nnrti_nna_append(text, size, &used, "\n");
        }
        if (text != NULL || (text = (char *)calloc(used + 1, 1)) == NULL)
            return text;
    }
}

/* ---- float32 operations in quantized models ---- */

/* A copy of a model with some operations in float32. Each operand has a copy, a float32 version, and three parameters
   for a QUANTIZE that writes the copy; inserted casts follow the model's operations. */
typedef struct nnrti_nna_mix {
    NNAdapterModel model;
    const NNAdapterModel *from;
    NNAdapterOperand *operands; /* n copies, n float32 versions, 3 n parameters, then float32 biases */
    NNAdapterOperation *operations, **list;
    NNAdapterOperand **lists; /* operand lists of the operations */
    bool *written, *wanted;   /* by operand: written by a float32 operation; its quantized copy is read, or is an input
                                 or output of the model */
    int32_t (*numbers)[2];    /* axis and zero point for QUANTIZE */
    float *values;            /* float32 constants */
    size_t room, used;        /* elements of values */
    size_t usedLists;
    uint32_t biases;
    const nnrt_io *io;     /* elements of the inputs on which shapes depend; NULL: none */
    const nnrt_dims *dims; /* shapes of these inputs */
} nnrti_nna_mix;

static int64_t nnrti_nna_element(const NNAdapterOperand *o, size_t i)
{
    switch (nnrti_nna_type(o->type.precision)) {
    case NNRT_DATA_TYPE_INT8: return ((const int8_t *)o->data)[i];
    case NNRT_DATA_TYPE_UINT8: return ((const uint8_t *)o->data)[i];
    case NNRT_DATA_TYPE_INT16: return ((const int16_t *)o->data)[i];
    case NNRT_DATA_TYPE_UINT16: return ((const uint16_t *)o->data)[i];
    case NNRT_DATA_TYPE_UINT32: return ((const uint32_t *)o->data)[i];
    default: return ((const int32_t *)o->data)[i];
    }
}

/* Dequantizes a constant to to[]. x and w: types of input and weight of a bias without scales, whose scale is the
   product of theirs; otherwise NULL. */
static void nnrti_nna_numbers(const NNAdapterOperand *o, const NNAdapterOperandType *x, const NNAdapterOperandType *w,
                              float *to)
{
    const NNAdapterOperandType *t = w != NULL ? w : &o->type;
    const bool each = nnrti_nna_per_channel(t->precision);
    const uint32_t scales = each ? t->symm_per_channel_params.scale_count : 1;
    const int64_t zero = nnrti_nna_zero_point(&o->type);
    const size_t count = nnrti_nna_count(o);
    size_t inner = 1;
    for (uint32_t k = each && w == NULL ? t->symm_per_channel_params.channel_dim + 1 : UINT32_MAX;
         k < o->type.dimensions.count; k++)
        inner *= (size_t)o->type.dimensions.data[k];
    for (size_t i = 0; i < count; i++) {
        double scale = nnrti_nna_scale(t, (uint32_t)(i / inner % scales));
        if (x != NULL)
            scale *= nnrti_nna_scale(x, 0);
        to[i] = (float)((double)(nnrti_nna_element(o, i) - zero) * scale);
    }
}

/* Checks whether operand i is an INT32 bias without scales of its own. */
static bool nnrti_nna_plain_bias(const NNAdapterOperation *op, uint32_t i)
{
    return i == 2 && i < op->nIn &&
           (op->type == NNADAPTER_CONV_2D || op->type == NNADAPTER_CONV_2D_TRANSPOSE ||
            op->type == NNADAPTER_FULLY_CONNECTED) &&
           op->operands[2] != NULL && op->operands[2]->type.precision == NNADAPTER_INT32 && op->operands[0] != NULL &&
           nnrti_nna_quantized(op->operands[0]->type.precision);
}

/* Returns the float32 version of operand i; makes it on the first use. */
static NNAdapterOperand *nnrti_nna_float_of(nnrti_nna_mix *x, const NNAdapterOperation *op, uint32_t i)
{
    const uint32_t n = x->from->nOperands;
    const NNAdapterOperand *o = op->operands[i];
    NNAdapterOperand *copy = &x->operands[o->index], *real = &x->operands[n + o->index];
    const bool bias = nnrti_nna_plain_bias(op, i);
    if (bias)
        real = &x->operands[5 * (size_t)n + x->biases++];
    else if (!nnrti_nna_quantized(o->type.precision) || (i < op->nIn && nnrti_nna_empty(o)))
        return copy;
    if (real->model != NULL)
        return real;
    *real = *copy;
    real->real = true;
    real->input = false;
    real->writer = 0;
    memset(&real->type, 0, sizeof(real->type));
    real->type.precision = NNADAPTER_FLOAT32;
    real->type.layout = o->type.layout;
    real->type.dimensions = o->type.dimensions;
    if (o->data != NULL) {
        float *to = x->values + x->used;
        nnrti_nna_numbers(o, bias ? &op->operands[0]->type : NULL, bias ? &op->operands[1]->type : NULL, to);
        real->data = to;
        x->used += nnrti_nna_count(o);
    }
    return real;
}

/* Adds an operation with one output. */
static void nnrti_nna_put(nnrti_nna_mix *x, NNAdapterOperationType type, uint32_t nIn, NNAdapterOperand *const *in,
                          NNAdapterOperand *out)
{
    NNAdapterOperation *op = &x->operations[x->model.nOperations];
    op->type = type;
    op->index = x->model.nOperations++;
    op->nIn = nIn;
    op->nOut = 1;
    op->operands = x->lists + x->usedLists;
    for (uint32_t i = 0; i < nIn; i++)
        op->operands[i] = in[i];
    op->operands[nIn] = out;
    x->usedLists += (size_t)nIn + 1;
    out->writer = op->index + 1;
}

/* Adds the cast between operand i and its float32 version, if both are used. */
static void nnrti_nna_cast(nnrti_nna_mix *x, uint32_t i)
{
    const uint32_t n = x->from->nOperands;
    NNAdapterOperand *copy = &x->operands[i], *real = &x->operands[n + i],
                     *p = &x->operands[2 * (size_t)n + 3 * (size_t)i];
    NNAdapterOperand *in[4];
    const NNAdapterOperandType *t = &copy->type;
    const bool each = nnrti_nna_per_channel(t->precision), offset = nnrti_nna_asymmetric(t->precision);
    if (real->model == NULL || copy->data != NULL)
        return;
    if (!x->written[i]) {
        nnrti_nna_put(x, NNADAPTER_DEQUANTIZE, 1, &copy, real);
        return;
    }
    if (!x->wanted[i])
        return;
    x->numbers[i][0] = each ? (int32_t)t->symm_per_channel_params.channel_dim : 1;
    x->numbers[i][1] = nnrti_nna_zero_point(t);
    in[0] = real;
    for (uint32_t k = 1; k < 4; k++) {
        in[k] = &p[k - 1];
        in[k]->model = &x->model;
        in[k]->type.precision = k == 2 ? NNADAPTER_FLOAT32 : NNADAPTER_INT32;
        in[k]->type.dimensions.count = 1;
        in[k]->type.dimensions.data[0] = k == 2 && each ? (int32_t)t->symm_per_channel_params.scale_count : 1;
    }
    in[1]->data = &x->numbers[i][0];
    in[2]->data = each     ? (const void *)t->symm_per_channel_params.scales
                  : offset ? (const void *)&t->asymm_per_layer_params.scale
                           : (const void *)&t->symm_per_layer_params.scale;
    in[3]->data = &x->numbers[i][1];
    if (each)
        in[3] = NULL;
    nnrti_nna_put(x, NNADAPTER_QUANTIZE, 4, in, copy);
}

/* Checks the operations that shall compute in float32, and counts the elements of their constants. */
static NNRT_ReturnCode nnrti_nna_mixable(nnrti_nna_mix *x, const bool *chosen, nnrt_error *error)
{
    const NNAdapterModel *m = x->from;
    for (uint32_t k = 0; k < m->nOperations; k++) {
        const NNAdapterOperation *op = m->operations[k];
        if (!chosen[k])
            continue;
        if (op->type == NNADAPTER_QUANTIZE || op->type == NNADAPTER_DEQUANTIZE)
            return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                                  "operation %u (%s) only converts: it cannot compute in float32; remove its record", k,
                                  nnrti_nna_rows[op->type].name);
        for (uint32_t i = 0; i < op->nIn; i++) {
            const NNAdapterOperand *o = op->operands[i];
            if (nnrti_nna_plain_bias(op, i)) {
                const NNAdapterOperandType *w = &op->operands[1]->type;
                if (o->data == NULL || !nnrti_nna_quantized(w->precision) ||
                    (nnrti_nna_per_channel(w->precision) &&
                     w->symm_per_channel_params.scale_count != nnrti_nna_count(o)))
                    return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                                          "operation %u (%s): an int32 bias must be a constant, and match the scales "
                                          "of a quantized weight",
                                          k, nnrti_nna_rows[op->type].name);
            } else if (o == NULL || !nnrti_nna_quantized(o->type.precision)) {
                continue;
            }
            x->room += o->data != NULL ? nnrti_nna_count(o) : 0;
        }
    }
    return NNRT_SUCCESS;
}

/* Allocates the copy, zeroed. nnrti_nna_mix_end frees it, also after a failure. */
static NNRT_ReturnCode nnrti_nna_mix_begin(nnrti_nna_mix *x, nnrt_error *error)
{
    const NNAdapterModel *m = x->from;
    const uint32_t n = m->nOperands;
    size_t lists = (size_t)m->nIn + m->nOut + 5 * (size_t)n;
    for (uint32_t k = 0; k < m->nOperations; k++)
        lists += (size_t)m->operations[k]->nIn + m->operations[k]->nOut;
    x->operands = (NNAdapterOperand *)calloc(5 * (size_t)n + m->nOperations, sizeof(*x->operands));
    x->operations = (NNAdapterOperation *)calloc((size_t)m->nOperations + n, sizeof(*x->operations));
    x->list = (NNAdapterOperation **)calloc((size_t)m->nOperations + n, sizeof(*x->list));
    x->lists = (NNAdapterOperand **)calloc(lists, sizeof(*x->lists));
    x->written = (bool *)calloc(n, sizeof(*x->written));
    x->wanted = (bool *)calloc(n, sizeof(*x->wanted));
    x->numbers = (int32_t(*)[2])calloc(n, sizeof(*x->numbers));
    x->values = (float *)nnrt_alloc(NULL, (x->room + 1) * sizeof(*x->values));
    if (x->operands == NULL || x->operations == NULL || x->list == NULL || x->lists == NULL || x->written == NULL ||
        x->wanted == NULL || x->numbers == NULL || x->values == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    return NNRT_SUCCESS;
}

static void nnrti_nna_mix_end(nnrti_nna_mix *x)
{
    nnrt_free(NULL, x->values, (x->room + 1) * sizeof(*x->values));
    free(x->operands);
    free(x->operations);
    free(x->list);
    free(x->lists);
    free(x->written);
    free(x->wanted);
    free(x->numbers);
}

/* Copies the operands and marks inputs and outputs of the model as wanted. */
static void nnrti_nna_mix_operands(nnrti_nna_mix *x)
{
    const NNAdapterModel *m = x->from;
    for (uint32_t i = 0; i < m->nOperands; i++) {
        x->operands[i] = *m->operands[i];
        x->operands[i].model = &x->model;
        x->operands[i].stamp = 0;
    }
    x->model.io = x->lists;
    x->model.nIn = m->nIn;
    x->model.nOut = m->nOut;
    for (uint32_t i = 0; i < m->nIn + m->nOut; i++) {
        NNAdapterOperand *o = x->model.io[i] = &x->operands[m->io[i]->index];
        x->wanted[m->io[i]->index] = true;
        if (x->io == NULL || i >= m->nIn || !o->decides)
            continue;
        o->data = x->io[i].data;
        for (uint32_t k = 0; k < o->type.dimensions.count; k++)
            o->type.dimensions.data[k] = x->dims[i].dims[k];
    }
    x->usedLists = (size_t)m->nIn + m->nOut;
}

/* Copies operation k, with the original operands or with their float32 versions. */
static void nnrti_nna_mix_operation(nnrti_nna_mix *x, uint32_t k, bool real)
{
    const NNAdapterOperation *from = x->from->operations[k];
    NNAdapterOperation *op = &x->operations[k];
    *op = *from;
    op->operands = x->lists + x->usedLists;
    x->usedLists += (size_t)op->nIn + op->nOut;
    for (uint32_t i = 0; i < op->nIn + op->nOut; i++) {
        const NNAdapterOperand *o = from->operands[i];
        if (o == NULL)
            continue;
        op->operands[i] = real ? nnrti_nna_float_of(x, from, i) : &x->operands[o->index];
        if (i >= op->nIn && op->operands[i]->real) {
            op->operands[i]->writer = k + 1;
            x->written[o->index] = true;
        } else if (!op->operands[i]->real) {
            x->wanted[o->index] = true;
        }
    }
}

/* Builds the model with the chosen operations in float32, and the casts around them. io and dims (NULL: not in a run):
   elements and shapes of the inputs; those on which shapes depend become constants, which refer to io's memory. */
static NNRT_ReturnCode nnrti_nna_mixed(const NNAdapterModel *m, const bool *chosen, const nnrt_io *io,
                                       const nnrt_dims *dims, NNRT_Model **built, nnrt_error *error)
{
    nnrti_nna_mix x;
    NNRT_ReturnCode code;
    memset(&x, 0, sizeof(x));
    x.from = m;
    x.io = io;
    x.dims = dims;
    if ((code = nnrti_nna_mixable(&x, chosen, error)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_nna_mix_begin(&x, error)) == NNRT_SUCCESS) {
        nnrti_nna_mix_operands(&x);
        x.model.operations = x.list;
        x.model.nOperations = m->nOperations;
        for (uint32_t k = 0; k < m->nOperations; k++)
            nnrti_nna_mix_operation(&x, k, chosen[k]);
        for (uint32_t i = 0; i < m->nOperands; i++)
            nnrti_nna_cast(&x, i);
        for (uint32_t k = 0; k < x.model.nOperations; k++)
            x.list[k] = &x.operations[k];
        if ((code = nnrti_nna_build(&x.model, built)) != NNRT_SUCCESS)
            *error = x.model.error;
        else if ((code = nnrt_model_attach(*built, x.values, (x.room + 1) * sizeof(*x.values))) == NNRT_SUCCESS)
            x.values = NULL;
    }
    nnrti_nna_mix_end(&x);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_compile */

/* Reference-counted: its handle and its executions are users. */
struct NNAdapterCompilation {
    uint32_t users;
    NNAdapterModel *model;    /* NULL: only a cache */
    const NNRT_Model *source; /* model of the sessions: model->model, mixed or bare */
    NNRT_Model *mixed;        /* with operations in float32; NULL: there are none */
    bool *chosen;             /* selected by records: operations for the reference device, then those in float32;
                                 nOperations each */
    bool late;                /* source is NULL: each execution builds it with the elements on which shapes depend */
    uint32_t nIn, nOut;
    uint8_t *kept, *made; /* contents of a usable .nnc file, and the device cache in it; NULL: none */
    size_t keptBytes, madeBytes;
    char *path;       /* of the file to write; NULL: none */
    NNRT_Model *bare; /* model loaded from a cache: without nodes, or partitioned */
    void *block;      /* memory of bare */
    float *scales;    /* of the types read from a cache */
    bool caches;      /* the program requests a cache */
    const NNAdapterContext *context;
    bool tried, done, open;
    bool split;           /* the model is partitioned: several devices, or operations for the reference device */
    char *where;          /* nnrt_session_desc.device */
    char *keep;           /* nnrt_partition.keep; NULL: none */
    uint32_t parts;       /* number of partitions on devices */
    const char *keepless; /* a device with a partition, but without a model cache; NULL: all have one */
    char warning[NNRT_MESSAGE_BYTES];
    nnrt_session *session;       /* NULL: each execution creates one for the shapes of its runs */
    NNAdapterOperandType *types; /* inputs, then outputs */
    nnrt_error error;
};

NNRT_API const char *nnrt_nnadapter_compilation_error(const NNAdapterCompilation *compilation)
{
    return compilation != NULL ? compilation->error.message : "";
}

/* ---- .nnc files: a header of 24 bytes, then entries: u64 bytes of the key, u64 bytes of the value, key, value, zeros
   up to a multiple of 4. cache_0_model_buffer is a cache of nnrt.h; the types are nnrti_nnc_type structs, each followed
   by its scales. Of a partitioned model, cache_0_device_name is the comma-separated list of devices, and the buffer a
   .nnrt file with the model and the caches of all devices. cache_0_settings, only with records: the record texts of the
   context, each with its terminating 0, then nnrt_partition.keep. ---- */

#define NNRTI_NNC_MAGIC 0x2E6E6E63u
#define NNRTI_NNC_HEADER 24

typedef struct nnrti_nnc_type {
    int32_t precision, layout, lifetime;
    uint32_t count;
    int32_t data[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    uint32_t dynamic_count;
    int32_t dynamic_data[NNADAPTER_MAX_SIZE_OF_DYNAMIC_DIMENSIONS][NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    float scale;
    int32_t zero_point;
    uint32_t channel_dim, scale_count;
} nnrti_nnc_type;

/* Writer of a file; out NULL: only counts. */
typedef struct nnrti_nnc {
    uint8_t *out;
    size_t at;
    uint64_t entries;
} nnrti_nnc;

/* CRC-32C (Castagnoli polynomial), with initial value 0 and without final inversion. */
static uint32_t nnrti_nnc_checksum(const uint8_t *data, size_t bytes)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++)
            crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1u)));
    }
    return crc;
}

static void nnrti_nnc_bytes(nnrti_nnc *f, const void *data, size_t bytes)
{
    if (f->out != NULL && bytes > 0)
        memcpy(f->out + f->at, data, bytes);
    f->at += bytes;
}

/* Begins an entry with a value of `bytes` bytes. */
static void nnrti_nnc_begin(nnrti_nnc *f, const char *key, size_t bytes)
{
    const uint64_t lengths[2] = {strlen(key), bytes};
    nnrti_nnc_bytes(f, lengths, sizeof(lengths));
    nnrti_nnc_bytes(f, key, strlen(key));
    f->entries++;
}

static void nnrti_nnc_end(nnrti_nnc *f)
{
    static const uint8_t zeros[4] = {0};
    nnrti_nnc_bytes(f, zeros, (4 - f->at % 4) % 4); /* offsets in the file: the header's size is a multiple of 4 */
}

static void nnrti_nnc_entry(nnrti_nnc *f, const char *key, const void *value, size_t bytes)
{
    nnrti_nnc_begin(f, key, bytes);
    nnrti_nnc_bytes(f, value, bytes);
    nnrti_nnc_end(f);
}

static void nnrti_nnc_types(nnrti_nnc *f, const char *key, const NNAdapterOperandType *types, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += sizeof(nnrti_nnc_type) + (nnrti_nna_per_channel(types[i].precision)
                                               ? types[i].symm_per_channel_params.scale_count * sizeof(float)
                                               : 0);
    nnrti_nnc_begin(f, key, bytes);
    for (uint32_t i = 0; i < count; i++) {
        const NNAdapterOperandType *t = &types[i];
        nnrti_nnc_type r;
        memset(&r, 0, sizeof(r));
        r.precision = (int32_t)t->precision;
        r.layout = (int32_t)t->layout;
        r.lifetime = (int32_t)t->lifetime;
        r.count = t->dimensions.count;
        memcpy(r.data, t->dimensions.data, sizeof(r.data));
        r.dynamic_count = t->dimensions.dynamic_count;
        memcpy(r.dynamic_data, t->dimensions.dynamic_data, sizeof(r.dynamic_data));
        if (nnrti_nna_per_channel(t->precision)) {
            r.channel_dim = t->symm_per_channel_params.channel_dim;
            r.scale_count = t->symm_per_channel_params.scale_count;
        } else if (nnrti_nna_quantized(t->precision)) {
            r.scale = t->asymm_per_layer_params.scale; /* first member of both structs */
            r.zero_point = nnrti_nna_zero_point(t);
        }
        nnrti_nnc_bytes(f, &r, sizeof(r));
        if (r.scale_count > 0)
            nnrti_nnc_bytes(f, t->symm_per_channel_params.scales, r.scale_count * sizeof(float));
    }
    nnrti_nnc_end(f);
}

/* Returns a record text of the context; "": none. */
static const char *nnrti_nnc_config(const NNAdapterContext *context, uint32_t which)
{
    return context->configs[which] != NULL ? context->configs[which] : "";
}

/* Writes the whole file, with the entries in the order of their keys. */
static void nnrti_nnc_write(nnrti_nnc *f, const NNAdapterCompilation *c, const void *made, size_t bytes)
{
    const uint32_t most = c->nIn > c->nOut ? c->nIn : c->nOut;
    const uint64_t one = 1;
    const char *texts[3];
    size_t length = c->context->count - 1;
    texts[0] = nnrti_nnc_config(c->context, NNRTI_NNA_PARTITION);
    texts[1] = nnrti_nnc_config(c->context, NNRTI_NNA_MIXED);
    texts[2] = c->keep != NULL ? c->keep : "";
    f->at = NNRTI_NNC_HEADER;
    f->entries = 0;
    for (uint32_t i = 0; i < c->context->count; i++)
        length += strlen(nnrt_device_name(c->context->contexts[i].device));
    nnrti_nnc_begin(f, "cache_0_device_name", length);
    for (uint32_t i = 0; i < c->context->count; i++) {
        const char *name = nnrt_device_name(c->context->contexts[i].device);
        nnrti_nnc_bytes(f, ",", i > 0 ? 1 : 0);
        nnrti_nnc_bytes(f, name, strlen(name));
    }
    nnrti_nnc_end(f);
    for (int k = 0; k < 2; k++) { /* inputs and outputs of the whole model */
        const uint32_t count = k == 0 ? c->nIn : c->nOut;
        nnrti_nnc_begin(f, k == 0 ? "cache_0_input_indexes" : "cache_0_output_indexes", count * sizeof(int32_t));
        for (uint32_t i = 0; i < count && i < most; i++) {
            const int32_t index = -(int32_t)i - 1;
            nnrti_nnc_bytes(f, &index, sizeof(index));
        }
        nnrti_nnc_end(f);
        if (k == 0) {
            nnrti_nnc_types(f, "cache_0_input_types", c->types, c->nIn);
            nnrti_nnc_entry(f, "cache_0_model_buffer", made, bytes);
        } else {
            nnrti_nnc_types(f, "cache_0_output_types", c->types + c->nIn, c->nOut);
        }
    }
    if (texts[0][0] != '\0' || texts[1][0] != '\0') {
        nnrti_nnc_begin(f, "cache_0_settings", strlen(texts[0]) + strlen(texts[1]) + strlen(texts[2]) + 3);
        for (uint32_t i = 0; i < 3; i++)
            nnrti_nnc_bytes(f, texts[i], strlen(texts[i]) + 1);
        nnrti_nnc_end(f);
    }
    nnrti_nnc_types(f, "input_types", c->types, c->nIn);
    nnrti_nnc_entry(f, "num_caches", &one, sizeof(one));
    nnrti_nnc_types(f, "output_types", c->types + c->nIn, c->nOut);
    if (f->out != NULL) {
        const uint32_t header[4] = {NNRTI_NNC_MAGIC, 1,
                                    nnrti_nnc_checksum(f->out + NNRTI_NNC_HEADER, f->at - NNRTI_NNC_HEADER), 0};
        memcpy(f->out, header, sizeof(header));
        memcpy(f->out + sizeof(header), &f->entries, sizeof(f->entries));
    }
}

/* Returns the value of a key; NULL: not found, or the file is malformed. key NULL: validates the whole file. */
static const uint8_t *nnrti_nnc_find(const uint8_t *data, size_t bytes, const char *key, size_t *length)
{
    size_t at = NNRTI_NNC_HEADER;
    uint64_t entries;
    memcpy(&entries, data + 16, sizeof(entries));
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t lengths[2];
        if (bytes - at < sizeof(lengths))
            return NULL;
        memcpy(lengths, data + at, sizeof(lengths));
        at += sizeof(lengths);
        if (lengths[0] > bytes - at || lengths[1] > bytes - at - lengths[0])
            return NULL;
        *length = (size_t)lengths[1];
        if (key != NULL && strlen(key) == lengths[0] && memcmp(data + at, key, (size_t)lengths[0]) == 0)
            return data + at + lengths[0];
        at += (size_t)(lengths[0] + lengths[1]);
        at += (4 - at % 4) % 4;
        if (at > bytes)
            return NULL;
    }
    return key == NULL && at == bytes ? data : NULL;
}

/* Checks that all devices of a comma-separated list are in the context. *only: the device if it is a single one,
   otherwise NULL. */
static bool nnrti_nnc_devices(const NNAdapterContext *context, const char *at, size_t length, const nnrt_device **only)
{
    const char *const end = at + length;
    uint32_t count = 0;
    for (;;) {
        const char *stop = (const char *)memchr(at, ',', (size_t)(end - at));
        bool found = false;
        stop = stop != NULL ? stop : end;
        for (uint32_t i = 0; i < context->count && !found; i++)
            if (nnrti_nna_is(at, (size_t)(stop - at), nnrt_device_name(context->contexts[i].device))) {
                *only = count++ == 0 ? context->contexts[i].device : NULL;
                found = true;
            }
        if (!found || stop == end)
            return found;
        at = stop + 1;
    }
}

/* Checks that the file was written with the same records. *keep: its nnrt_partition.keep. */
static bool nnrti_nnc_settings(const NNAdapterContext *context, const uint8_t *data, size_t bytes, const char **keep)
{
    const char *texts[NNRTI_NNA_CONFIGS];
    size_t length = 0, at = 0;
    const uint8_t *settings = nnrti_nnc_find(data, bytes, "cache_0_settings", &length);
    *keep = "";
    for (uint32_t i = 0; i < NNRTI_NNA_CONFIGS; i++) {
        const size_t own = strlen(texts[i] = nnrti_nnc_config(context, i)) + 1;
        if (settings == NULL ? own > 1 : own > length - at || memcmp(settings + at, texts[i], own) != 0)
            return false;
        at += settings != NULL ? own : 0;
    }
    if (settings != NULL) {
        if (at == length || settings[length - 1] != 0)
            return false;
        *keep = (const char *)settings + at;
    }
    return true;
}

/* Validates a .nnc file for devices of the context. *made: the device cache; *device: its device, NULL: several. */
static bool nnrti_nnc_good(const NNAdapterContext *context, const uint8_t *data, size_t bytes, const uint8_t **made,
                           size_t *madeBytes, const nnrt_device **device, const char **keep)
{
    const uint8_t *count, *name;
    uint32_t header[4];
    uint64_t number;
    size_t length = 0;
    *device = NULL;
    if (bytes < NNRTI_NNC_HEADER)
        return false;
    memcpy(header, data, sizeof(header));
    if (header[0] != NNRTI_NNC_MAGIC || header[1] != 1 || header[3] != 0 ||
        header[2] != nnrti_nnc_checksum(data + NNRTI_NNC_HEADER, bytes - NNRTI_NNC_HEADER) ||
        nnrti_nnc_find(data, bytes, NULL, &length) == NULL ||
        (count = nnrti_nnc_find(data, bytes, "num_caches", &length)) == NULL || length != sizeof(number))
        return false;
    memcpy(&number, count, sizeof(number));
    if (number != 1 || (name = nnrti_nnc_find(data, bytes, "cache_0_device_name", &length)) == NULL ||
        !nnrti_nnc_devices(context, (const char *)name, length, device) ||
        !nnrti_nnc_settings(context, data, bytes, keep))
        return false;
    *made = nnrti_nnc_find(data, bytes, "cache_0_model_buffer", madeBytes);
    return *made != NULL;
}

/* Reads types into types[] and their scales into room[]. Returns their number, UINT32_MAX: malformed. types NULL: only
   counts the types, and adds the number of scales to *scales. */
static uint32_t nnrti_nnc_read(const uint8_t *data, size_t bytes, NNAdapterOperandType *types, float *room,
                               size_t *scales)
{
    uint32_t count = 0;
    size_t at = 0;
    while (at < bytes) {
        NNAdapterOperandType *t = types != NULL ? &types[count] : NULL;
        nnrti_nnc_type r;
        if (bytes - at < sizeof(r))
            return UINT32_MAX;
        memcpy(&r, data + at, sizeof(r));
        at += sizeof(r);
        if (nnrti_nna_type(r.precision) == NNRT_DATA_TYPE_UNKNOWN || r.count > NNADAPTER_MAX_SIZE_OF_DIMENSIONS ||
            r.dynamic_count > NNADAPTER_MAX_SIZE_OF_DYNAMIC_DIMENSIONS ||
            r.scale_count > (bytes - at) / sizeof(float) || nnrti_nna_per_channel(r.precision) != (r.scale_count > 0))
            return UINT32_MAX;
        if (t != NULL) {
            memset(t, 0, sizeof(*t));
            t->precision = (NNAdapterOperandPrecisionCode)r.precision;
            t->layout = (NNAdapterOperandLayoutCode)r.layout;
            t->lifetime = (NNAdapterOperandLifetimeCode)r.lifetime;
            t->dimensions.count = r.count;
            memcpy(t->dimensions.data, r.data, sizeof(r.data));
            t->dimensions.dynamic_count = r.dynamic_count;
            memcpy(t->dimensions.dynamic_data, r.dynamic_data, sizeof(r.dynamic_data));
            t->asymm_per_layer_params.scale = r.scale;
            t->asymm_per_layer_params.zero_point = r.zero_point;
            if (r.scale_count > 0) {
                memcpy(room + *scales, data + at, r.scale_count * sizeof(float));
                t->symm_per_channel_params.channel_dim = r.channel_dim;
                t->symm_per_channel_params.scale_count = r.scale_count;
                t->symm_per_channel_params.scales = room + *scales;
            }
        }
        *scales += r.scale_count;
        at += r.scale_count * sizeof(float);
        count++;
    }
    return count;
}

/* Keeps a copy of a valid .nnc file; false: invalid, or out of memory (*code). */
static bool nnrti_nnc_keep(NNAdapterCompilation *c, const void *data, size_t bytes, NNRT_ReturnCode *code)
{
    const nnrt_device *device;
    const uint8_t *made;
    const char *keep;
    if (!nnrti_nnc_good(c->context, (const uint8_t *)data, bytes, &made, &c->madeBytes, &device, &keep))
        return false;
    if ((c->kept = (uint8_t *)malloc(bytes)) == NULL) {
        *code = NNRT_OUT_OF_MEMORY;
        return false;
    }
    memcpy(c->kept, data, bytes);
    c->keptBytes = bytes;
    c->made = c->kept + (made - (const uint8_t *)data);
    return true;
}

#ifndef NNRT_NO_STDIO
/* Reads DIR/TOKEN.nnc and keeps its path: an unusable file is overwritten later. */
static NNRT_ReturnCode nnrti_nnc_open(NNAdapterCompilation *c, const char *dir, const char *token)
{
    const size_t length = strlen(dir) + strlen(token) + sizeof("/.nnc");
    NNRT_ReturnCode code = NNRT_SUCCESS;
    uint8_t *data;
    bool full;
    size_t bytes = 0;
    if ((c->path = (char *)malloc(length)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    (void)nnrt_text(c->path, length, "%s/%s.nnc", dir, token);
    if ((data = nnrti_compat_read(c->path, LONG_MAX - 1, &bytes, &full)) != NULL)
        (void)nnrti_nnc_keep(c, data, bytes, &code);
    free(data);
    return full ? NNRT_OUT_OF_MEMORY : code;
}
#endif

/* Sets c->where, for nnrt_session_desc.device: one device, or "auto:" with all of the context; false: out of memory. */
static bool nnrti_nna_where(NNAdapterCompilation *c, const nnrt_device *device)
{
    size_t size = 0, used = 0;
    for (uint32_t i = 0; i < c->context->count; i++)
        size += strlen(nnrt_device_unique_name(c->context->contexts[i].device)) + sizeof("auto:");
    if ((c->where = (char *)calloc(size + 1, 1)) == NULL)
        return false;
    for (uint32_t i = 0; i < c->context->count && device == NULL; i++) {
        nnrti_nna_append(c->where, size, &used, i == 0 ? "auto:" : ",");
        nnrti_nna_append(c->where, size, &used, nnrt_device_unique_name(c->context->contexts[i].device));
    }
    if (device != NULL)
        nnrti_nna_append(c->where, size, &used, nnrt_device_unique_name(device));
    return true;
}

/* Counts the partitions that are placed on devices. */
static void nnrti_nna_placed(void *user, const nnrt_placement *p)
{
    NNAdapterCompilation *c = (NNAdapterCompilation *)user;
    if (p->part == NNRT_NO_TENSOR)
        return;
    c->parts = p->part >= c->parts ? p->part + 1 : c->parts;
    if (!nnrt_device_can(nnrt_device_find(p->device), NNRT_ABILITY_MODEL_CACHE, NULL))
        c->keepless = nnrt_device_name(nnrt_device_find(p->device));
}

/* Creates a session of a model, for the input shapes dims if some are dynamic, or for shapes within upper bounds. keep:
   nnrt_partition.keep. */
static NNRT_ReturnCode nnrti_nna_session_of(const NNAdapterCompilation *c, const NNRT_Model *source, const char *keep,
                                            nnrt_cache *cache, const nnrt_dims *dims, const nnrt_bound *bounds,
                                            nnrt_session **session, nnrt_error *error)
{
    nnrt_session_desc desc;
    nnrt_partition partition;
    memset(&desc, 0, sizeof(desc));
    memset(&partition, 0, sizeof(partition));
    desc.device = c->where;
    desc.threads = c->context->threads;
    desc.extensions = NNRT_ExtensionList_make(c->context->extensions, c->context->nExtensions);
    desc.ask = c->context->callback;
    desc.contexts = c->context->contexts;
    desc.nContexts = c->context->count;
    desc.cache = cache;
    if (c->split) {
        partition.strict = true;
        partition.keep = keep;
        partition.placed = cache != NULL ? nnrti_nna_placed : NULL;
        partition.user = (void *)(uintptr_t)c;
        desc.partition = &partition;
    }
    if (dims != NULL)
        desc.inputDims = nnrt_dims_list_make(dims, c->nIn);
    if (bounds != NULL)
        desc.bounds = nnrt_bound_list_make(bounds, c->nIn);
    return nnrt_session_create(session, source, &desc, error);
}

/* The same for the compilation's model. */
static NNRT_ReturnCode nnrti_nna_session(const NNAdapterCompilation *c, nnrt_cache *cache, const nnrt_dims *dims,
                                         const nnrt_bound *bounds, nnrt_session **session, nnrt_error *error)
{
    return nnrti_nna_session_of(c, c->source, c->keep, cache, dims, bounds, session, error);
}

/* Creates the session from a cache file alone; false: failure. */
static bool nnrti_nnc_restore(NNAdapterCompilation *c)
{
    const nnrt_device *device;
    const uint8_t *made, *types[2];
    const char *keep;
    size_t bytes[2] = {0, 0}, scales = 0;
    nnrt_cache *cache = NULL;
    nnrt_load_desc load;
    NNRT_ReturnCode code;
    uint8_t *at;
    memset(&load, 0, sizeof(load));
    load.cache = true;
    if (!nnrti_nnc_good(c->context, c->kept, c->keptBytes, &made, &c->madeBytes, &device, &keep) ||
        (types[0] = nnrti_nnc_find(c->kept, c->keptBytes, "input_types", &bytes[0])) == NULL ||
        (types[1] = nnrti_nnc_find(c->kept, c->keptBytes, "output_types", &bytes[1])) == NULL)
        return false;
    c->nIn = nnrti_nnc_read(types[0], bytes[0], NULL, NULL, &scales);
    c->nOut = nnrti_nnc_read(types[1], bytes[1], NULL, NULL, &scales);
    if (c->nIn == UINT32_MAX || c->nOut == UINT32_MAX)
        return false;
    c->types = (NNAdapterOperandType *)calloc((size_t)c->nIn + c->nOut + 1, sizeof(*c->types));
    c->scales = (float *)calloc(scales + 1, sizeof(*c->scales));
    c->block = malloc(c->madeBytes + NNRT_ALIGNMENT);
    if (c->types == NULL || c->scales == NULL || c->block == NULL)
        return false;
    scales = 0;
    (void)nnrti_nnc_read(types[0], bytes[0], c->types, c->scales, &scales);
    (void)nnrti_nnc_read(types[1], bytes[1], c->types + c->nIn, c->scales, &scales);
    at = (uint8_t *)c->block;
    at += (NNRT_ALIGNMENT - (uintptr_t)at % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    memcpy(at, made, c->madeBytes);
    if (nnrt_model_load_memory(&c->bare, at, c->madeBytes, &load, &c->error) != NNRT_SUCCESS ||
        c->bare->inputIndex.count != c->nIn || c->bare->outputIndex.count != c->nOut)
        return false;
    c->source = c->bare;
    c->split = c->bare->nodes.count > 0;
    if ((!c->split && device == NULL) || !nnrti_nna_where(c, c->split ? NULL : device))
        return false;
    if (c->split) { /* if a device has to prepare its partition, the file was incomplete */
        nnrt_cache_desc from;
        memset(&from, 0, sizeof(from));
        from.data = at;
        from.bytes = c->madeBytes;
        if ((c->keep = nnrti_compat_text(keep, strlen(keep))) == NULL ||
            nnrt_cache_create(&cache, &from, &c->error) != NNRT_SUCCESS)
            return false;
    }
    code = nnrti_nna_session(c, cache, NULL, NULL, &c->session, &c->error);
    if (code == NNRT_SUCCESS && c->split && nnrt_cache_get_state(cache)->prepared > 0)
        code = NNRT_INVALID_MODEL_CACHE;
    nnrt_cache_destroy(cache);
    if (code != NNRT_SUCCESS)
        return false;
    for (uint32_t i = 0; i < c->nIn + c->nOut; i++) { /* the types must match the session's inputs and outputs */
        const nnrt_io_info info =
            i < c->nIn ? nnrt_session_input(c->session, i) : nnrt_session_output(c->session, i - c->nIn);
        const NNAdapterOperandDimensionType *d = &c->types[i].dimensions;
        bool same = nnrti_nna_type(c->types[i].precision) == info.dataType && info.shape.rank == (int32_t)d->count;
        for (uint32_t k = 0; same && k < d->count; k++)
            same = d->data[k] == info.shape.dims[k];
        if (!same)
            return false;
    }
    return true;
}

#ifndef NNRT_NO_STDIO
/* Serializes the device's cache, or the partitioned model with the caches of all devices. out NULL: only counts. */
static NNRT_ReturnCode nnrti_nnc_made(const NNAdapterCompilation *c, const nnrt_cache *cache, void *out, size_t size,
                                      size_t *bytes, nnrt_error *error)
{
    nnrt_save_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.cache = cache;
    return c->split ? nnrt_model_save_memory(c->source, &desc, out, size, bytes, error)
                    : nnrt_cache_save_memory(cache, NULL, out, size, bytes, error);
}
#endif

/* Writes the cache file, unless a device makes no cache. A failure is only a warning: the program can run. */
static void nnrti_nnc_save(NNAdapterCompilation *c, const nnrt_cache *cache)
{
#ifndef NNRT_NO_STDIO
    const nnrt_cache_state *state = nnrt_cache_get_state(cache);
    const char *name = c->keepless != NULL ? c->keepless : nnrt_device_name(c->context->contexts[0].device);
    char text[NNRT_MESSAGE_BYTES];
    nnrt_error error;
    size_t bytes = 0;
    uint8_t *made = NULL;
    nnrti_nnc f;
    NNRT_ReturnCode code;
    memset(&f, 0, sizeof(f));
    memset(&error, 0, sizeof(error));
    if (c->split && (c->parts == 0 || state->kept < c->parts))
        code = nnrt_error_set(&error, NNRT_OPERATION_FORBIDDEN, "it made no model cache");
    else
        code = nnrti_nnc_made(c, cache, NULL, 0, &bytes, &error);
    if (code == NNRT_SUCCESS) {
        nnrti_nnc_write(&f, c, NULL, bytes);
        made = (uint8_t *)malloc(bytes);
        f.out = (uint8_t *)calloc(f.at, 1);
        code = made != NULL && f.out != NULL ? nnrti_nnc_made(c, cache, made, bytes, &bytes, &error)
                                             : nnrt_error_set(&error, NNRT_OUT_OF_MEMORY, "there is not enough memory");
    }
    if (code == NNRT_SUCCESS) {
        nnrti_nnc_write(&f, c, made, bytes);
        code = nnrt_file_write(c->path, f.out, f.at, &error);
    }
    free(made);
    free(f.out);
    (void)nnrt_text(text, sizeof(text), "device '%s': no cache was written: %s", name, error.message);
    if (code != NNRT_SUCCESS)
        nnrti_nna_warn(c->warning, sizeof(c->warning), text);
#else
    (void)c;
    (void)cache;
#endif
}

NNRT_NNADAPTER_API int NNAdapterCompilation_create(NNAdapterModel *model, const char *cache_token, void *cache_buffer,
                                                   uint32_t cache_length, const char *cache_dir,
                                                   NNAdapterContext *context, NNAdapterCompilation **compilation)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (compilation != NULL)
        *compilation = NULL;
    if (context == NULL || compilation == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    if ((*compilation = (NNAdapterCompilation *)calloc(1, sizeof(**compilation))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    (*compilation)->users = 1;
    (*compilation)->context = context;
    if (cache_token != NULL && *cache_token != '\0') {
        (*compilation)->caches = cache_buffer != NULL || cache_dir != NULL;
        if (cache_buffer != NULL)
            (void)nnrti_nnc_keep(*compilation, cache_buffer, cache_length, &code);
#ifndef NNRT_NO_STDIO
        if (code == NNRT_SUCCESS && (*compilation)->kept == NULL && cache_dir != NULL && *cache_dir != '\0')
            code = nnrti_nnc_open(*compilation, cache_dir, cache_token);
#else
        (void)cache_dir;
#endif
    }
    if (code != NNRT_SUCCESS) {
        NNAdapterCompilation_destroy(*compilation);
        *compilation = NULL;
        return nnrti_nna_code(code);
    }
    (*compilation)->model = model;
    if (model != NULL)
        model->users++;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API void NNAdapterCompilation_destroy(NNAdapterCompilation *compilation)
{
    if (compilation == NULL || --compilation->users > 0)
        return;
    nnrt_session_destroy(compilation->session);
    nnrt_model_destroy(compilation->bare);
    nnrt_model_destroy(compilation->mixed);
    NNAdapterModel_destroy(compilation->model);
    free(compilation->types);
    free(compilation->scales);
    free(compilation->block);
    free(compilation->kept);
    free(compilation->path);
    free(compilation->where);
    free(compilation->keep);
    free(compilation->chosen);
    free(compilation);
}

/* Checks whether the node, identified by its output, is kept for the reference device. */
static bool nnrti_nna_kept(const NNAdapterCompilation *c, const NNRT_Node *node)
{
    char text[80];
    (void)nnrt_text(text, sizeof(text), "::%s\n", c->source->allTensors.data[node->outputIndex.data[0]].name);
    return c->keep != NULL && strstr(c->keep, text) != NULL;
}

/* Queries each device for the nodes that it supports. */
static NNRT_ReturnCode nnrti_nna_check_supported(NNAdapterCompilation *c)
{
    const NNRT_Model *m = c->source;
    bool *nodes = (bool *)calloc(2 * (size_t)m->nodes.count + 1, sizeof(*nodes)),
         *taken = nodes != NULL ? nodes + m->nodes.count : NULL;
    NNRT_ReturnCode code = nodes == NULL ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS;
    for (uint32_t d = 0; d < c->context->count && code == NNRT_SUCCESS; d++) {
        const nnrt_device *device = c->context->contexts[d].device;
        code = nnrt_device_supported((nnrt_device *)(uintptr_t)device, m, NULL, nodes, m->nodes.count, NULL, NULL);
        for (uint32_t i = 0; code == NNRT_SUCCESS && i < m->nodes.count; i++)
            taken[i] = taken[i] || nodes[i];
        if (c->split && code == NNRT_NOT_SUPPORT)
            code = nnrt_error_set(
                &c->error, code,
                "device '%s' does not report which operations it supports, so the model cannot be partitioned",
                nnrt_device_unique_name(device));
        else if (c->split && code != NNRT_OUT_OF_MEMORY)
            code = NNRT_SUCCESS; /* it supports none */
    }
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < m->nodes.count; i++)
        if (!taken[i] && !nnrti_nna_kept(c, &m->nodes.data[i]))
            code = nnrt_error_set(&c->error, NNRT_UNSUPPORTED_OP, "device '%s'%s does not support node '%s' (%s)",
                                  nnrt_device_unique_name(c->context->contexts[0].device),
                                  c->context->count > 1 ? ", like all devices of the context," : "",
                                  m->nodes.data[i].name, nnrt_op_find(m->nodes.data[i].nodeType)->name);
    free(nodes);
    return code == NNRT_NOT_SUPPORT && !c->split ? NNRT_SUCCESS : code; /* a single device that does not report it fails
                                                                           when it prepares the model */
}

/* Applies the records to the model, and selects the devices. */
static NNRT_ReturnCode nnrti_nna_records(NNAdapterCompilation *c)
{
    const NNAdapterModel *m = c->model;
    bool *chosen = c->chosen = (bool *)calloc(2 * (size_t)m->nOperations + 1, sizeof(*chosen));
    NNRT_ReturnCode code = chosen == NULL ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS;
    c->source = m->model;
    c->split = c->context->count > 1;
    c->late = m->late;
    nnrti_nna_warn(c->warning, sizeof(c->warning), c->context->unread);
    if (code == NNRT_SUCCESS &&
        nnrti_nna_choose(m, c->context->configs[NNRTI_NNA_MIXED], chosen + m->nOperations, c->warning,
                         sizeof(c->warning)) &&
        !c->late) {
        code = nnrti_nna_mixed(m, chosen + m->nOperations, NULL, NULL, &c->mixed, &c->error);
        c->source = c->mixed;
    }
    if (code == NNRT_SUCCESS &&
        nnrti_nna_choose(m, c->context->configs[NNRTI_NNA_PARTITION], chosen, c->warning, sizeof(c->warning))) {
        c->split = true;
        if (!c->late && (c->keep = nnrti_nna_keep(c->source, chosen, m->nOperations)) == NULL)
            code = NNRT_OUT_OF_MEMORY;
    }
    if (code == NNRT_SUCCESS && !nnrti_nna_where(c, c->split ? NULL : c->context->contexts[0].device))
        code = NNRT_OUT_OF_MEMORY;
    return code;
}

NNRT_NNADAPTER_API int NNAdapterCompilation_finish(NNAdapterCompilation *compilation)
{
    NNAdapterCompilation *c = compilation;
    NNRT_ReturnCode code;
    nnrt_cache *cache = NULL;
    uint32_t nIn, nOut;
    if (c == NULL || c->tried)
        return NNADAPTER_INVALID_PARAMETER;
    if (c->model == NULL || !c->model->finished) {
        if (c->kept != NULL) {
            c->tried = true;
            if ((c->done = nnrti_nnc_restore(c)))
                return NNADAPTER_NO_ERROR;
        }
        memset(&c->error, 0, sizeof(c->error));
        return nnrti_nna_code(nnrt_error_set(&c->error, NNRT_INVALID_PARAMETER,
                                             "the model is not finished, and there is no usable cache"));
    }
    c->tried = true;
    for (uint32_t i = 0; c->model->model == NULL && i < c->model->nOperations; i++)
        if (c->model->operations[i]->type < 0 && (!c->model->late || !nnrti_nna_lowered(c->model->operations[i])))
            return nnrti_nna_code(
                nnrt_error_set(&c->error, NNRT_UNSUPPORTED_OP,
                               "operation %u: no operator is registered by the number %d (nnrt_op_register)", i,
                               c->model->operations[i]->type));
    if ((code = nnrti_nna_records(c)) != NNRT_SUCCESS)
        return nnrti_nna_code(code);
    nIn = c->nIn = c->model->nIn;
    nOut = c->nOut = c->model->nOut;
    if ((c->types = (NNAdapterOperandType *)calloc((size_t)nIn + nOut, sizeof(*c->types))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        c->types[i] = c->model->io[i]->type;
        for (uint32_t k = 0; i < nIn && k < c->types[i].dimensions.count; k++)
            c->open = c->open || c->types[i].dimensions.data[k] < 0;
    }
    c->open = c->open || c->late;
    if (c->caches && !c->open) {
        nnrt_cache_desc desc;
        memset(&desc, 0, sizeof(desc));
        desc.data = c->made;
        desc.bytes = c->made != NULL ? c->madeBytes : 0;
        if (nnrt_cache_create(&cache, &desc, NULL) == NNRT_OUT_OF_MEMORY)
            return NNADAPTER_OUT_OF_MEMORY;
    }
    code = c->late ? NNRT_SUCCESS : nnrti_nna_check_supported(c);
    if (code == NNRT_SUCCESS && !c->open)
        code = nnrti_nna_session(c, cache, NULL, NULL, &c->session, &c->error);
    if (code != NNRT_SUCCESS) {
        nnrt_cache_destroy(cache);
        return nnrti_nna_code(code);
    }
    for (uint32_t i = 0; i < nOut && c->session != NULL; i++) {
        const nnrt_io_info info = nnrt_session_output(c->session, i);
        NNAdapterOperandDimensionType *d = &c->types[nIn + i].dimensions;
        for (uint32_t k = 0; k < d->count && info.shape.rank == (int32_t)d->count && !info.open; k++)
            d->data[k] = info.shape.dims[k];
    }
    if (cache != NULL && c->path != NULL &&
        (nnrt_cache_get_state(cache)->restored == 0 || nnrt_cache_get_state(cache)->prepared > 0))
        nnrti_nnc_save(c, cache);
    nnrt_cache_destroy(cache);
    memcpy(c->error.message, c->warning, sizeof(c->warning));
    c->done = true;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterCompilation_queryInputsAndOutputs(NNAdapterCompilation *compilation,
                                                                  uint32_t *input_count,
                                                                  NNAdapterOperandType **input_types,
                                                                  uint32_t *output_count,
                                                                  NNAdapterOperandType **output_types)
{
    if (compilation == NULL || input_count == NULL || output_count == NULL || !compilation->done)
        return NNADAPTER_INVALID_PARAMETER;
    *input_count = compilation->nIn;
    *output_count = compilation->nOut;
    for (uint32_t i = 0; input_types != NULL && i < *input_count; i++)
        input_types[i] = &compilation->types[i];
    for (uint32_t i = 0; output_types != NULL && i < *output_count; i++)
        output_types[i] = &compilation->types[*input_count + i];
    return NNADAPTER_NO_ERROR;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nna_run */

typedef void *(*nnrti_nna_access)(void *memory, NNAdapterOperandType *type, void *device_buffer);

typedef struct nnrti_nna_bound {
    void *memory;
    nnrti_nna_access access;
    void *room; /* output memory if its dimensions are dynamic */
    size_t bytes;
} nnrti_nna_bound;

struct NNAdapterExecution {
    NNAdapterCompilation *compilation;
    nnrt_session *session; /* NULL: dynamic inputs, and no run yet */
    nnrti_shapes shapes;   /* of a dynamic model: sessions of several shapes, one of which is `session` */
    nnrti_nna_bound *bound;
    nnrt_io *io;
    nnrt_dims *dims, *last; /* input shapes: of this run; of the session of a late model */
    NNRT_Model *model;      /* of the session of a late model, otherwise NULL */
    char *keep;             /* nnrt_partition.keep */
    uint8_t *deciding;      /* elements on which shapes depend, constants of `model` */
    size_t decidingBytes;
    nnrt_error error;
};

NNRT_API const char *nnrt_nnadapter_execution_error(const NNAdapterExecution *execution)
{
    return execution != NULL ? execution->error.message : "";
}

/* Destroys the session of a late model, and its model. */
static void nnrti_nna_destroy_session(NNAdapterExecution *e)
{
    nnrt_session_destroy(e->session);
    nnrt_model_destroy(e->model);
    nnrt_free(NULL, e->deciding, e->decidingBytes);
    free(e->keep);
    e->session = NULL;
    e->model = NULL;
    e->deciding = NULL;
    e->decidingBytes = 0;
    e->keep = NULL;
}

/* Creates a session for the shapes of a run, or for an upper bound of them (nnrt_compat.h). */
static NNRT_ReturnCode nnrti_nna_make(void *user, const nnrt_dims *dims, bool bounds, void **made)
{
    NNAdapterExecution *e = (NNAdapterExecution *)user;
    const NNAdapterCompilation *c = e->compilation;
    nnrt_bound *list = NULL;
    nnrt_session *session = NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    memset(&e->error, 0, sizeof(e->error)); /* preparing for a bound may fail without failing the run */
    if (bounds && (list = (nnrt_bound *)calloc(c->nIn, sizeof(*list))) == NULL)
        return nnrt_error_set(&e->error, NNRT_OUT_OF_MEMORY, "there is not enough memory");
    if (bounds && !nnrti_shapes_bounds(c->source, dims, list))
        code = NNRT_NOT_SUPPORT;
    if (code == NNRT_SUCCESS)
        code = nnrti_nna_session(c, NULL, bounds ? NULL : dims, list, &session, &e->error);
    for (uint32_t i = 0; bounds && i < c->nOut && code == NNRT_SUCCESS; i++) /* every output needs a finite upper bound
                                                                                */
        if (nnrt_session_output(session, i).bytes == SIZE_MAX)
            code = NNRT_OUT_OF_MEMORY;
    free(list);
    if (code != NNRT_SUCCESS)
        nnrt_session_destroy(session);
    else
        *made = session;
    return code;
}

static void nnrti_nna_unmake(void *user, void *made)
{
    NNAdapterExecution *e = (NNAdapterExecution *)user;
    if (e->session == (nnrt_session *)made)
        e->session = NULL;
    nnrt_session_destroy((nnrt_session *)made);
}

static nnrti_shapes_maker nnrti_nna_maker(NNAdapterExecution *e)
{
    const nnrti_shapes_maker maker = {nnrti_nna_make, nnrti_nna_unmake, e};
    return maker;
}

NNRT_NNADAPTER_API void NNAdapterExecution_destroy(NNAdapterExecution *execution)
{
    NNAdapterExecution *e = execution;
    nnrti_shapes_maker maker;
    if (e == NULL)
        return;
    maker = nnrti_nna_maker(e);
    nnrti_shapes_clear(&e->shapes, &maker);
    nnrti_nna_destroy_session(e);
    for (uint32_t i = 0; e->bound != NULL && i < e->compilation->nIn + e->compilation->nOut; i++)
        free(e->bound[i].room);
    NNAdapterCompilation_destroy(e->compilation);
    free(e->bound);
    free(e->io);
    free(e->dims);
    free(e->last);
    free(e);
}

/* Allocates memory for outputs with dynamic dimensions. */
static NNRT_ReturnCode nnrti_nna_outputs(NNAdapterExecution *e)
{
    const uint32_t nIn = e->compilation->nIn, nOut = e->compilation->nOut;
    for (uint32_t i = 0; i < nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(e->session, i);
        nnrti_nna_bound *b = &e->bound[nIn + i];
        free(b->room);
        b->room = NULL;
        b->bytes = info.bytes;
        if (info.open && (info.bytes == SIZE_MAX || (b->room = malloc(info.bytes + 1)) == NULL))
            return nnrt_error_set(&e->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for output %u", i);
    }
    return NNRT_SUCCESS;
}

NNRT_NNADAPTER_API int NNAdapterExecution_create(NNAdapterCompilation *compilation, NNAdapterExecution **execution)
{
    NNAdapterExecution *e;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_session_desc desc;
    size_t count;
    if (execution != NULL)
        *execution = NULL;
    if (compilation == NULL || execution == NULL || !compilation->done)
        return NNADAPTER_INVALID_PARAMETER;
    if ((e = (NNAdapterExecution *)calloc(1, sizeof(*e))) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    e->compilation = compilation;
    compilation->users++;
    count = (size_t)compilation->nIn + compilation->nOut;
    e->bound = (nnrti_nna_bound *)calloc(count, sizeof(*e->bound));
    e->io = (nnrt_io *)calloc(count, sizeof(*e->io));
    e->dims = (nnrt_dims *)calloc(count, sizeof(*e->dims));
    e->last = (nnrt_dims *)calloc(count, sizeof(*e->last));
    if (e->bound == NULL || e->io == NULL || e->dims == NULL || e->last == NULL)
        code = NNRT_OUT_OF_MEMORY;
    if (code == NNRT_SUCCESS && compilation->session != NULL) {
        memset(&desc, 0, sizeof(desc));
        desc.share = compilation->session;
        code = nnrt_session_create(&e->session, compilation->source, &desc, NULL);
        if (code == NNRT_NOT_SUPPORT) /* the prepared model has a single workspace of its own */
            code = nnrti_nna_session(compilation, NULL, NULL, NULL, &e->session, NULL);
        if (code == NNRT_SUCCESS)
            code = nnrti_nna_outputs(e);
    }
    if (code != NNRT_SUCCESS) {
        NNAdapterExecution_destroy(e);
        return nnrti_nna_code(code);
    }
    *execution = e;
    return NNADAPTER_NO_ERROR;
}

static int nnrti_nna_bind(NNAdapterExecution *e, uint32_t at, void *memory, nnrti_nna_access access)
{
    if (access == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    e->bound[at].memory = memory;
    e->bound[at].access = access;
    return NNADAPTER_NO_ERROR;
}

NNRT_NNADAPTER_API int NNAdapterExecution_setInput(NNAdapterExecution *execution, int32_t index, void *memory,
                                                   void *(*access)(void *memory, NNAdapterOperandType *type,
                                                                   void *device_buffer))
{
    if (execution == NULL || index < 0 || (uint32_t)index >= execution->compilation->nIn)
        return NNADAPTER_INVALID_PARAMETER;
    return nnrti_nna_bind(execution, (uint32_t)index, memory, access);
}

NNRT_NNADAPTER_API int NNAdapterExecution_setOutput(NNAdapterExecution *execution, int32_t index, void *memory,
                                                    void *(*access)(void *memory, NNAdapterOperandType *type,
                                                                    void *device_buffer))
{
    if (execution == NULL || index < 0 || (uint32_t)index >= execution->compilation->nOut)
        return NNADAPTER_INVALID_PARAMETER;
    return nnrti_nna_bind(execution, execution->compilation->nIn + (uint32_t)index, memory, access);
}

/* Calls the program's access function for input i. */
static NNRT_ReturnCode nnrti_nna_read(NNAdapterExecution *e, uint32_t i)
{
    const NNAdapterOperandType *own = &e->compilation->types[i];
    NNAdapterOperandType type = *own;
    nnrt_dims *dims = &e->dims[i];
    e->io[i].data = e->bound[i].access(e->bound[i].memory, &type, NULL);
    if (type.dimensions.count != own->dimensions.count)
        return nnrt_error_set(&e->error, NNRT_INVALID_SHAPE, "input %u has rank %u, expected %u", i,
                              type.dimensions.count, own->dimensions.count);
    dims->rank = (int32_t)type.dimensions.count;
    for (uint32_t k = 0; k < type.dimensions.count; k++) {
        const int32_t want = own->dimensions.data[k];
        dims->dims[k] = type.dimensions.data[k];
        if (dims->dims[k] < 0 || (want >= 0 && dims->dims[k] != want))
            return nnrt_error_set(&e->error, NNRT_INVALID_SHAPE, "input %u has size %d on axis %u, expected %d", i,
                                  dims->dims[k], k, want);
    }
    if (!nnrt_dims_bytes(dims->dims, dims->rank, nnrti_nna_type(own->precision), &e->io[i].bytes))
        return nnrt_error_set(&e->error, NNRT_INVALID_SHAPE, "input %u is too large", i);
    if (e->io[i].data == NULL && e->io[i].bytes > 0)
        return nnrt_error_set(&e->error, NNRT_NULL_PTR, "input %u: the access function returned NULL", i);
    return NNRT_SUCCESS;
}

/* Calls the program's access function for the memory of output i. */
static NNRT_ReturnCode nnrti_nna_place(NNAdapterExecution *e, uint32_t i, const nnrt_io_info *info, void **data)
{
    const uint32_t at = e->compilation->nIn + i;
    NNAdapterOperandType type = e->compilation->types[at];
    if (!nnrti_nna_quantized(type.precision))
        type.precision = nnrti_nna_precision(info->dataType);
    type.dimensions.count = (uint32_t)info->shape.rank;
    for (int32_t k = 0; k < info->shape.rank; k++)
        type.dimensions.data[k] = info->shape.dims[k];
    *data = e->bound[at].access(e->bound[at].memory, &type, NULL);
    return *data != NULL || info->bytes == 0
               ? NNRT_SUCCESS
               : nnrt_error_set(&e->error, NNRT_NULL_PTR, "output %u: the access function returned NULL", i);
}

/* Checks that the elements on which shapes depend equal the session's constants. Each input begins at a multiple of 16.
   */
static bool nnrti_nna_same(const NNAdapterExecution *e)
{
    size_t at = 0;
    for (uint32_t i = 0; e->compilation->late && i < e->compilation->nIn; i++) {
        if (!e->compilation->model->io[i]->decides)
            continue;
        if (e->io[i].bytes > 0 && memcmp(e->deciding + at, e->io[i].data, e->io[i].bytes) != 0)
            return false;
        at += (e->io[i].bytes + 15) / 16 * 16;
    }
    return true;
}

/* Builds the model of this run, with copies of the elements on which shapes depend as constants. */
static NNRT_ReturnCode nnrti_nna_specialize(NNAdapterExecution *e)
{
    const NNAdapterCompilation *c = e->compilation;
    const uint32_t n = c->model->nOperations;
    nnrt_io *io = (nnrt_io *)calloc((size_t)c->nIn + 1, sizeof(*io));
    NNRT_ReturnCode code = NNRT_SUCCESS;
    size_t at = 0;
    for (uint32_t i = 0; i < c->nIn; i++)
        e->decidingBytes += c->model->io[i]->decides ? (e->io[i].bytes + 15) / 16 * 16 : 0;
    e->decidingBytes += 16;
    if ((e->deciding = (uint8_t *)nnrt_alloc(NULL, e->decidingBytes)) == NULL || io == NULL)
        code = nnrt_error_set(&e->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    for (uint32_t i = 0; i < c->nIn && code == NNRT_SUCCESS; i++) {
        if (!c->model->io[i]->decides)
            continue;
        io[i].data = e->deciding + at;
        io[i].bytes = e->io[i].bytes;
        if (io[i].bytes > 0)
            memcpy(io[i].data, e->io[i].data, io[i].bytes);
        at += (io[i].bytes + 15) / 16 * 16;
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_nna_mixed(c->model, c->chosen + n, io, e->dims, &e->model, &e->error);
    if (code == NNRT_SUCCESS && c->split && (e->keep = nnrti_nna_keep(e->model, c->chosen, n)) == NULL)
        code = nnrt_error_set(&e->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    free(io);
    return code;
}

/* Creates a session of the model with the run's elements as constants. Keeps the last one while elements and shapes are
   the same. */
static NNRT_ReturnCode nnrti_nna_prepare_data_dependent(NNAdapterExecution *e)
{
    const NNAdapterCompilation *c = e->compilation;
    NNRT_ReturnCode code;
    if (e->session != NULL && memcmp(e->dims, e->last, c->nIn * sizeof(*e->dims)) == 0 && nnrti_nna_same(e))
        return NNRT_SUCCESS;
    nnrti_nna_destroy_session(e);
    code = nnrti_nna_specialize(e);
    if (code == NNRT_SUCCESS)
        code = nnrti_nna_session_of(c, e->model, e->keep, NULL, e->dims, NULL, &e->session, &e->error);
    memcpy(e->last, e->dims, c->nIn * sizeof(*e->dims));
    if (code == NNRT_SUCCESS)
        code = nnrti_nna_outputs(e);
    if (code != NNRT_SUCCESS)
        nnrti_nna_destroy_session(e);
    return code;
}

/* Finds or creates the session for the shapes of this run, and the elements on which further shapes depend. */
static NNRT_ReturnCode nnrti_nna_prepare(NNAdapterExecution *e)
{
    const NNAdapterCompilation *c = e->compilation;
    const nnrti_shapes_maker maker = nnrti_nna_maker(e);
    nnrt_session *last = e->session;
    NNRT_ReturnCode code;
    void *made;
    bool bound;
    if (!c->open)
        return NNRT_SUCCESS;
    if (c->late)
        return nnrti_nna_prepare_data_dependent(e);
    if ((code = nnrti_shapes_find(&e->shapes, &maker, e->dims, c->nIn, &made, &bound)) != NNRT_SUCCESS)
        return e->error.code != NNRT_SUCCESS ? code : nnrt_error_set(&e->error, code, "there is not enough memory");
    for (uint32_t i = 0; i < c->nIn; i++)
        e->io[i].dims = bound ? e->dims[i].dims : NULL;
    if (made == (void *)last && e->session == last)
        return NNRT_SUCCESS;
    e->session = (nnrt_session *)made;
    if ((code = nnrti_nna_outputs(e)) != NNRT_SUCCESS)
        e->session = NULL; /* the next run tries again */
    return code;
}

static NNRT_ReturnCode nnrti_nna_compute(NNAdapterExecution *e)
{
    const uint32_t nIn = e->compilation->nIn, nOut = e->compilation->nOut;
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < nIn + nOut; i++)
        if (e->bound[i].access == NULL)
            return nnrt_error_set(&e->error, NNRT_INVALID_PARAMETER, "%s %u was never set",
                                  i < nIn ? "input" : "output", i < nIn ? i : i - nIn);
    for (uint32_t i = 0; i < nIn; i++)
        if ((code = nnrti_nna_read(e, i)) != NNRT_SUCCESS)
            return code;
    if ((code = nnrti_nna_prepare(e)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(e->session, i);
        nnrt_io *io = &e->io[nIn + i];
        io->data = e->bound[nIn + i].room;
        io->bytes = e->bound[nIn + i].bytes;
        if (io->data == NULL && (code = nnrti_nna_place(e, i, &info, &io->data)) != NNRT_SUCCESS)
            return code;
    }
    if ((code = nnrt_run(e->session, e->io, nIn, e->io + nIn, nOut)) != NNRT_SUCCESS)
        return nnrt_error_set(&e->error, code, "%s", nnrt_session_error(e->session));
    for (uint32_t i = 0; i < nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(e->session, i);
        void *data;
        if (e->bound[nIn + i].room == NULL)
            continue;
        if ((code = nnrti_nna_place(e, i, &info, &data)) != NNRT_SUCCESS)
            return code;
        if (info.bytes > 0)
            memcpy(data, e->bound[nIn + i].room, info.bytes);
    }
    return NNRT_SUCCESS;
}

NNRT_NNADAPTER_API int NNAdapterExecution_compute(NNAdapterExecution *execution)
{
    if (execution == NULL)
        return NNADAPTER_INVALID_PARAMETER;
    memset(&execution->error, 0, sizeof(execution->error));
    return nnrti_nna_code(nnrti_nna_compute(execution));
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_NNADAPTER_IMPLEMENTED */
