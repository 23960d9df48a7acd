/*
nnrt_ohnn.h - OpenHarmony's OH_NN API (level 9 to 12) over nnrt.h: programs written for OH_NN compile and run unchanged.

    #define NNRT_IMPLEMENTATION
    #include "nnrt_ohnn.h"          in one file of the program; includes nnrt.h from the parent folder

    cc -Icompat program.c ...       program.c includes <neural_network_runtime/neural_network_runtime.h> as before

SECTIONS (search for the tag)
    >>ohnn          what the three headers declare
    -- implementation --
    >>ohnn_system   locks, memory of tensors, the log
    >>ohnn_table    operators and their parameters
    >>ohnn_small    return codes, data types, devices, blocks that are freed together
    >>ohnn_desc     tensor descriptions
    >>ohnn_tensor   tensors
    >>ohnn_quant    quantization parameters
    >>ohnn_model    models under construction
    >>ohnn_lower    conversion to an NNRT_Model
    >>ohnn_cache    model caches
    >>ohnn_compile  compilations
    >>ohnn_run      executors
    >>ohnn_legacy   the deprecated functions of executors

SCOPE
    All 75 functions and all types; the three headers document each function. OH_NNModel_Finish converts a model to an
    NNRT_Model without validating it further: Build reports what a device does not support. The devices are those of
    nnrt.h (nnrt_device_register), in the same order: the first is "auto". A compilation keeps its model alive: the
    model's handle may be destroyed before Build.

    Implicit conversion: MAXIMUM, MINIMUM, SQUARED_DIFFERENCE, MOD, POW, DIV and the comparisons accept inputs of two
    types: the lower one is converted to the higher type, in the order BOOL, INT8 and UINT8 (both: INT16), INT16, INT32,
    INT64, FLOAT16, FLOAT32, FLOAT64. ADD, SUB and MUL require equal types.

    Dynamic shapes: the first run with a new shape prepares a model with dynamic inputs, which takes longer. An executor
    keeps the prepared models of four shapes, and a fifth for an upper bound (nnrt_compat.h).

    Offline models: a .nnrt file, for any device, or the vendor's own format for a device with PrepareOfflineModel. The
    device receives the latter in a block of its memory, with the extensions; the model cache is not used. HDI has no
    method that reports the inputs and outputs of such a model: they are those that the prepared model's GetIO reports,
    in its order, named "Tensor: 0" and so on, with format NONE, and with dimensions of -1 if the dimension ranges allow
    more than one size.

    Memory: a tensor's memory is a block of its device (AllocateBuffer), or of the system if the device allocates none.
    It is shared memory (GetFd) if it has a file descriptor, on Linux always. Data is not copied on the way to the
    device.

    Model cache: SetCache, ExportCacheToBuffer and ImportCacheFromBuffer require a device with a model cache, such as
    "auto" and "cpu". 0.nncache and the exported buffer are caches of nnrt.h (>>cache there), with the names and formats
    of inputs and outputs; cache_info.nncache is OpenHarmony's JSON object, with a CRC-32 of that file, and is written
    last. A cache of another model is never used, whatever its version: a digest of all weights is compared, which reads
    the weights once. Rejected: trusting the version alone; an application that forgets to increment it would silently
    get the results of its old model. A compilation on an accelerator or a GPU keeps the exported cache in memory; other
    devices prepare the model again for an export. If inputs have dynamic dimensions, a device may need the shapes of a
    run first: then nothing is cached.

    Asynchronous runs need NNRT_THREADS 1 (libneural_network_runtime.so has it). All executors of the process share one
    queue, created by the first SetOnRunDone or SetOnServiceDied. It runs up to four executors at once, the highest
    priority (SetPriority) first, and the runs of one executor in sequence. A run in progress is not interrupted:
    TIMEOUT is reported once the device has finished it. At most 64 runs of an executor may wait; then RunAsync returns
    UNAVAILABLE_DEVICE. Destroying the executor ends its waiting runs with FAILED. OPERATION_FORBIDDEN: no NNRT_THREADS,
    or a device without RunIn.

    An output that is too small is INVALID_PARAMETER, and nothing is written, if the device reports the sizes of its
    outputs (GetOutputDimRanges), as the built-in devices do; on a device with HDI's methods alone it is
    UNAVAILABLE_DEVICE.

    SetPerformanceMode gives a compilation its own thread pool (nnrt_pool_desc.mode): LOW no threads, MEDIUM half as
    many as there are processors, HIGH and EXTREME one for each; threads of EXTREME spin for 2 ms before they sleep.
    EnableFloat16 lets "cpu" keep packed weights in half precision (devices/nnrt_cpu.h). The reason why a device refuses
    a model or an option is written to a log (nnrt_ohnn_log, NNRT_OHNN_LOG).

NOT SUPPORTED
    Vendors' offline models on a device that has HDI's methods only, and no GetIO: Build returns FAILED.

OPTIONS
    NNRT_OHNN_API    linkage of the functions, for shared libraries; default extern
    NNRT_OHNN_DRIVERS  name of the environment variable that lists drivers, which are loaded when devices are queried
                     for the first time (devices/nnrt_driver.h; also nnrt_nnadapter_driver.h if it is included before
                     this header). Default: not defined, and none is loaded. libneural_network_runtime.so has
                     "NNRT_DRIVERS"
    NNRT_POSIX       of nnrt.h: 0 = no locks (only one thread at a time may call the functions), no file descriptors

MIT license, see LICENSE.
*/
#ifndef NNRT_OHNN_H
#define NNRT_OHNN_H

#include "../nnrt.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn */

#include "neural_network_runtime/neural_network_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the log of OH_NN, whose functions return a code and no text. It receives the reason of a failed compilation
   (NNRT_LOG_WARNING) and the steps of a successful one (NNRT_LOG_INFO). *log is copied; NULL: no log. Call it before
   other threads use OH_NN. A program without nnrt.h (linked with libneural_network_runtime.so) names a file in the
   environment variable NNRT_OHNN_LOG, to which lines are appended (/dev/stderr); setuid and setgid programs ignore the
   variable. */
NNRT_API void nnrt_ohnn_log(const nnrt_log *log);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_OHNN_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_OHNN_IMPLEMENTED)
#define NNRT_OHNN_IMPLEMENTED

#include "../nnrt.h" /* its implementation, if only its declarations were included so far */
#include "nnrt_compat.h"

#ifdef NNRT_OHNN_DRIVERS
#include "../devices/nnrt_driver.h"
#endif
#include <stdlib.h>
#include <string.h>
#ifndef NNRT_NO_STDIO
#include <stdio.h>
#endif
#if NNRT_POSIX
#include <pthread.h>
#include <unistd.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NNRTI_OHNN_MAX_LIST 200 /* inputs, outputs, dimensions */
#define NNRTI_OHNN_DIMS ((int32_t)(sizeof(((nnrt_dims *)NULL)->dims) / sizeof(int32_t)))
#define NNRTI_OHNN_MAX_SHAPE 10                /* dimensions of a description */
#define NNRTI_OHNN_MAX_BLOCK ((size_t)1 << 30) /* bytes of a tensor's memory */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_system */

#if NNRT_POSIX
typedef pthread_mutex_t nnrti_ohnn_mutex;
static nnrti_ohnn_mutex nnrti_ohnn_global = PTHREAD_MUTEX_INITIALIZER; /* guards state that several handles share */
#define NNRTI_OHNN_INIT(m) (pthread_mutex_init(m, NULL) == 0)
#define NNRTI_OHNN_END(m) ((void)pthread_mutex_destroy(m))
#define NNRTI_OHNN_LOCK(m) ((void)pthread_mutex_lock(m))
#define NNRTI_OHNN_UNLOCK(m) ((void)pthread_mutex_unlock(m))
#else
typedef char nnrti_ohnn_mutex;
#define NNRTI_OHNN_INIT(m) (*(m) = 0, true)
#define NNRTI_OHNN_END(m) ((void)(m))
#define NNRTI_OHNN_LOCK(m) ((void)(m))
#define NNRTI_OHNN_UNLOCK(m) ((void)(m))
static nnrti_ohnn_mutex nnrti_ohnn_global;
#endif

/* Memory of a tensor: a block of its device, or the caller's. */
typedef struct nnrti_ohnn_shared {
    NNRT_SharedBuffer buffer;
    void *at;  /* mapped address of the block */
    bool ours; /* caller's memory: buffer.fd is a duplicated descriptor to close */
} nnrti_ohnn_shared;

static void nnrti_ohnn_shared_free(nnrti_ohnn_shared *s, nnrt_device *device)
{
    nnrt_buffer_unmap(&s->buffer, s->at);
    if (s->ours)
        nnrt_buffer_destroy(&s->buffer);
    else
        (void)nnrt_device_free(device, &s->buffer);
}

/* Allocates and maps `size` bytes of the device's memory; false: failure. */
static bool nnrti_ohnn_shared_make(nnrti_ohnn_shared *s, nnrt_device *device, size_t size)
{
    memset(s, 0, sizeof(*s));
    if (nnrt_device_allocate(device, (uint32_t)size, &s->buffer) != NNRT_SUCCESS)
        return false;
    if (nnrt_buffer_map(&s->buffer, true, &s->at, NULL) == NNRT_SUCCESS)
        return true;
    (void)nnrt_device_free(device, &s->buffer);
    return false;
}

/* Returns the address of the data in the block. */
static void *nnrti_ohnn_shared_data(const nnrti_ohnn_shared *s)
{
    return (uint8_t *)s->at + s->buffer.offset;
}

static nnrt_log nnrti_ohnn_log_target;
static int32_t nnrti_ohnn_log_set; /* 1: the log is set, by the program or from the environment */

#if NNRT_POSIX && !defined(NNRT_NO_STDIO)
static void nnrti_ohnn_log_line(void *user, nnrt_log_level level, const char *text)
{
    FILE *const file = fopen((const char *)user, "a");
    (void)level;
    if (file == NULL)
        return;
    (void)fputs("nnrt: ", file);
    (void)fputs(text, file);
    (void)fputc('\n', file);
    (void)fclose(file);
}
#endif

NNRT_API void nnrt_ohnn_log(const nnrt_log *log)
{
    memset(&nnrti_ohnn_log_target, 0, sizeof(nnrti_ohnn_log_target));
    if (log != NULL)
        nnrti_ohnn_log_target = *log;
    nnrti_ohnn_log_set = 1;
}

/* Returns the log of the process, or NULL; reads NNRT_OHNN_LOG on the first call. */
static const nnrt_log *nnrti_ohnn_get_log(void)
{
#if NNRT_POSIX && !defined(NNRT_NO_STDIO)
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    if (nnrti_ohnn_log_set == 0) {
        char *const path = getuid() == geteuid() && getgid() == getegid() ? getenv("NNRT_OHNN_LOG") : NULL;
        if (path != NULL && *path != '\0') {
            nnrti_ohnn_log_target.line = nnrti_ohnn_log_line;
            nnrti_ohnn_log_target.user = path;
            nnrti_ohnn_log_target.most = NNRT_LOG_INFO;
        }
        nnrti_ohnn_log_set = 1;
    }
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
#endif
    return nnrti_ohnn_log_target.line != NULL ? &nnrti_ohnn_log_target : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_table */

/* An operator: O(name, minimum and maximum inputs, minimum and maximum outputs, NodeType, parameters). P and V:
   nnrt_compat.h. Q(parameter, attribute struct, mode, list): the parameter is a padding mode or a list of 4 pads. */
/* clang-format off */
#define NNRTI_OHNN_POOL(P, Q, op, S) \
    P(op##_KERNEL_SIZE, INTS, S, kernelSize) P(op##_STRIDE, INTS, S, strides) Q(op##_PAD_MODE, S, padMode, pad) \
    Q(op##_PAD, S, padMode, pad) P(op##_ACTIVATION_TYPE, OHNN_FUSE, S, activationType) \
    P(op##_ROUND_MODE, OHNN_ROUND, S, roundMode) P(op##_GLOBAL, BOOL, S, global)
#define NNRTI_OHNN_REDUCE(P, V, mode_) \
    P(REDUCE_##mode_##_KEEP_DIMS, BOOL, ReduceFusion, keepDims) \
    P(REDUCE_##mode_##_REDUCE_TO_END, BOOL, ReduceFusion, reduceToEnd) \
    P(REDUCE_##mode_##_COEFF, FLOAT, ReduceFusion, coeff) V(ENUM, ReduceFusion, mode, NNRT_REDUCE_MODE_##mode_)
#define NNRTI_OHNN_OPS(O, P, Q, V) \
    O(ADD, 2, 2, 1, 1, ADD_FUSION, P(ADD_ACTIVATIONTYPE, OHNN_FUSE, AddFusion, activationType)) \
    O(AVG_POOL, 1, 1, 1, 1, AVGPOOL_FUSION, NNRTI_OHNN_POOL(P, Q, AVG_POOL, AvgPoolFusion)) \
    O(BATCH_NORM, 5, 5, 1, 1, FUSED_BATCH_NORM, P(BATCH_NORM_EPSILON, FLOAT, FusedBatchNorm, epsilon)) \
    O(BATCH_TO_SPACE_ND, 1, 1, 1, 1, BATCH_TO_SPACE_ND, \
        P(BATCH_TO_SPACE_ND_BLOCKSIZE, INTS, BatchToSpaceND, blockShape) \
        P(BATCH_TO_SPACE_ND_CROPS, PAIRS, BatchToSpaceND, crops)) \
    O(BIAS_ADD, 2, 2, 1, 1, BIAS_ADD,) \
    O(CAST, 2, 2, 1, 1, CAST,) \
    O(CONCAT, 2, 200, 1, 1, CONCAT, P(CONCAT_AXIS, INT, Concat, axis)) \
    O(CONV2D, 3, 3, 1, 1, CONV2D_FUSION, P(CONV2D_STRIDES, INTS, Conv2DFusion, stride) \
        Q(CONV2D_PAD, Conv2DFusion, padMode, padList) P(CONV2D_DILATION, INTS, Conv2DFusion, dilation) \
        Q(CONV2D_PAD_MODE, Conv2DFusion, padMode, padList) \
        P(CONV2D_ACTIVATION_TYPE, OHNN_FUSE, Conv2DFusion, activationType) P(CONV2D_GROUP, INT, Conv2DFusion, group)) \
    O(CONV2D_TRANSPOSE, 3, 3, 1, 1, CONV2D_TRANSPOSE_FUSION, \
        P(CONV2D_TRANSPOSE_STRIDES, INTS, Conv2dTransposeFusion, stride) \
        Q(CONV2D_TRANSPOSE_PAD, Conv2dTransposeFusion, padMode, padList) \
        P(CONV2D_TRANSPOSE_DILATION, INTS, Conv2dTransposeFusion, dilation) \
        P(CONV2D_TRANSPOSE_OUTPUT_PADDINGS, INTS, Conv2dTransposeFusion, outputPaddings) \
        Q(CONV2D_TRANSPOSE_PAD_MODE, Conv2dTransposeFusion, padMode, padList) \
        P(CONV2D_TRANSPOSE_ACTIVATION_TYPE, OHNN_FUSE, Conv2dTransposeFusion, activationType) \
        P(CONV2D_TRANSPOSE_GROUP, INT, Conv2dTransposeFusion, group)) \
    O(DEPTHWISE_CONV2D_NATIVE, 3, 3, 1, 1, CONV2D_FUSION, \
        P(DEPTHWISE_CONV2D_NATIVE_STRIDES, INTS, Conv2DFusion, stride) \
        Q(DEPTHWISE_CONV2D_NATIVE_PAD, Conv2DFusion, padMode, padList) \
        P(DEPTHWISE_CONV2D_NATIVE_DILATION, INTS, Conv2DFusion, dilation) \
        Q(DEPTHWISE_CONV2D_NATIVE_PAD_MODE, Conv2DFusion, padMode, padList) \
        P(DEPTHWISE_CONV2D_NATIVE_ACTIVATION_TYPE, OHNN_FUSE, Conv2DFusion, activationType)) \
    O(DIV, 2, 2, 1, 1, DIV_FUSION, P(DIV_ACTIVATIONTYPE, OHNN_FUSE, DivFusion, activationType)) \
    O(ELTWISE, 2, 2, 1, 1, ELTWISE, P(ELTWISE_MODE, OHNN_ELTWISE, Eltwise, mode)) \
    O(EXPAND_DIMS, 2, 2, 1, 1, EXPAND_DIMS,) \
    O(FILL, 2, 2, 1, 1, FILL,) \
    O(FULL_CONNECTION, 2, 3, 1, 1, FULL_CONNECTION, P(FULL_CONNECTION_AXIS, INT, FullConnection, axis) \
        P(FULL_CONNECTION_ACTIVATIONTYPE, OHNN_FUSE, FullConnection, activationType) \
        P(FULL_CONNECTION_HAS_BIAS, BOOL, FullConnection, hasBias) \
        P(FULL_CONNECTION_USE_AXIS, BOOL, FullConnection, useAxis)) \
    O(GATHER, 3, 3, 1, 1, GATHER,) \
    O(HSWISH, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_HSWISH)) \
    O(LESS_EQUAL, 2, 2, 1, 1, LESS_EQUAL,) \
    O(MATMUL, 2, 2, 1, 1, MATMUL_FUSION, P(MATMUL_TRANSPOSE_A, BOOL, MatMulFusion, transposeA) \
        P(MATMUL_TRANSPOSE_B, BOOL, MatMulFusion, transposeB) \
        P(MATMUL_ACTIVATION_TYPE, OHNN_FUSE, MatMulFusion, activationType)) \
    O(MAXIMUM, 2, 2, 1, 1, MAXIMUM,) \
    O(MAX_POOL, 1, 1, 1, 1, MAX_POOL_FUSION, NNRTI_OHNN_POOL(P, Q, MAX_POOL, MaxPoolFusion)) \
    O(MUL, 2, 2, 1, 1, MUL_FUSION, P(MUL_ACTIVATION_TYPE, OHNN_FUSE, MulFusion, activationType)) \
    O(ONE_HOT, 4, 4, 1, 1, ONE_HOT, P(ONE_HOT_AXIS, INT, OneHot, axis)) \
    O(PAD, 2, 2, 1, 1, PAD_FUSION, P(PAD_CONSTANT_VALUE, FLOAT, PadFusion, constantValue) \
        P(PAD_PADDING_MODE, OHNN_PADDING, PadFusion, paddingMode)) \
    O(POW, 2, 2, 1, 1, POW_FUSION, P(POW_SCALE, FLOAT, PowFusion, scale) P(POW_SHIFT, FLOAT, PowFusion, shift)) \
    O(SCALE, 3, 3, 1, 1, SCALE_FUSION, P(SCALE_ACTIVATIONTYPE, OHNN_FUSE, ScaleFusion, activationType) \
        P(SCALE_AXIS, INT, ScaleFusion, axis)) \
    O(SHAPE, 1, 1, 1, 1, SHAPE,) \
    O(SIGMOID, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_SIGMOID)) \
    O(SLICE, 3, 3, 1, 1, SLICE_FUSION, P(SLICE_AXES, INTS, SliceFusion, axes)) \
    O(SOFTMAX, 1, 1, 1, 1, SOFTMAX, P(SOFTMAX_AXIS, INTS, Softmax, axis)) \
    O(SPACE_TO_BATCH_ND, 1, 1, 1, 1, SPACE_TO_BATCH_ND, \
        P(SPACE_TO_BATCH_ND_BLOCK_SHAPE, INTS, SpaceToBatchND, blockShape) \
        P(SPACE_TO_BATCH_ND_PADDINGS, PAIRS, SpaceToBatchND, paddings)) \
    O(SPLIT, 1, 1, 1, 200, SPLIT, P(SPLIT_AXIS, INT, Split, axis) P(SPLIT_OUTPUT_NUM, INT, Split, outputNum) \
        P(SPLIT_SIZE_SPLITS, INTS, Split, sizeSplits)) \
    O(SQRT, 1, 1, 1, 1, SQRT,) \
    O(SQUARED_DIFFERENCE, 2, 2, 1, 1, SQUARED_DIFFERENCE,) \
    O(SQUEEZE, 1, 1, 1, 1, SQUEEZE, P(SQUEEZE_AXIS, INTS, Squeeze, axis)) \
    O(STACK, 2, 200, 1, 1, STACK, P(STACK_AXIS, INT, Stack, axis)) \
    O(STRIDED_SLICE, 4, 4, 1, 1, STRIDED_SLICE, P(STRIDED_SLICE_BEGIN_MASK, INT, StridedSlice, beginMask) \
        P(STRIDED_SLICE_END_MASK, INT, StridedSlice, endMask) \
        P(STRIDED_SLICE_ELLIPSIS_MASK, INT, StridedSlice, ellipsisMask) \
        P(STRIDED_SLICE_NEW_AXIS_MASK, INT, StridedSlice, newAxisMask) \
        P(STRIDED_SLICE_SHRINK_AXIS_MASK, INT, StridedSlice, shrinkAxisMask)) \
    O(SUB, 2, 2, 1, 1, SUB_FUSION, P(SUB_ACTIVATIONTYPE, OHNN_FUSE, SubFusion, activationType)) \
    O(TANH, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_TANH)) \
    O(TILE, 2, 2, 1, 1, TILE_FUSION, P(TILE_DIMS, INTS, TileFusion, dims)) \
    O(TRANSPOSE, 2, 2, 1, 1, TRANSPOSE,) \
    O(REDUCE_MEAN, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, MEAN)) \
    O(RESIZE_BILINEAR, 1, 1, 1, 1, RESIZE, P(RESIZE_BILINEAR_NEW_HEIGHT, INT, Resize, newHeight) \
        P(RESIZE_BILINEAR_NEW_WIDTH, INT, Resize, newWidth) \
        P(RESIZE_BILINEAR_PRESERVE_ASPECT_RATIO, BOOL, Resize, preserveAspectRatio) \
        P(RESIZE_BILINEAR_COORDINATE_TRANSFORM_MODE, OHNN_COORDINATES, Resize, coordinateTransformMode) \
        P(RESIZE_BILINEAR_EXCLUDE_OUTSIDE, INT, Resize, excludeOutside) \
        V(ENUM, Resize, method, NNRT_RESIZE_METHOD_LINEAR)) \
    O(RSQRT, 1, 1, 1, 1, RSQRT,) \
    O(RESHAPE, 2, 2, 1, 1, RESHAPE,) \
    O(PRELU, 2, 2, 1, 1, PRELU_FUSION,) \
    O(RELU, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_RELU)) \
    O(RELU6, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_RELU6)) \
    O(LAYER_NORM, 3, 3, 1, 1, LAYER_NORM_FUSION, P(LAYER_NORM_BEGIN_NORM_AXIS, INT, LayerNormFusion, beginNormAxis) \
        P(LAYER_NORM_EPSILON, FLOAT, LayerNormFusion, epsilon) \
        P(LAYER_NORM_BEGIN_PARAM_AXIS, INT, LayerNormFusion, beginParamsAxis) \
        P(LAYER_NORM_ELEMENTWISE_AFFINE, BOOL, LayerNormFusion, elementwiseAffine) \
        V(FLOAT, LayerNormFusion, epsilon, 1e-7f)) \
    O(REDUCE_PROD, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, PROD)) \
    O(REDUCE_ALL, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, ALL)) \
    O(QUANT_DTYPE_CAST, 1, 1, 1, 1, QUANT_DTYPE_CAST_V2, P(QUANT_DTYPE_CAST_SRC_T, TYPE, QuantDTypeCastV2, srcT) \
        P(QUANT_DTYPE_CAST_DST_T, TYPE, QuantDTypeCastV2, dstT) P(QUANT_DTYPE_CAST_AXIS, INT, QuantDTypeCastV2, axis)) \
    O(TOP_K, 2, 2, 2, 2, TOPK_FUSION, P(TOP_K_SORTED, BOOL, TopKFusion, sorted) P(TOP_K_AXIS, INT, TopKFusion, axis)) \
    O(ARG_MAX, 1, 1, 1, 1, ARGMAX_FUSION, P(ARG_MAX_AXIS, INT, ArgMaxFusion, axis) \
        P(ARG_MAX_KEEPDIMS, BOOL, ArgMaxFusion, keepDims) P(ARG_MAX_TOP_K, INT, ArgMaxFusion, topK) \
        P(ARG_MAX_OUT_MAX_VALUE, BOOL, ArgMaxFusion, outMaxValue)) \
    O(UNSQUEEZE, 1, 1, 1, 1, UNSQUEEZE, P(UNSQUEEZE_AXIS, INTS, Unsqueeze, axis)) \
    O(GELU, 1, 1, 1, 1, ACTIVATION, P(GELU_APPROXIMATE, BOOL, Activation, approximate) \
        V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_GELU)) \
    O(UNSTACK, 1, 1, 1, 200, UNSTACK, P(UNSTACK_AXIS, INT, Unstack, axis)) \
    O(ABS, 1, 1, 1, 1, ABS,) \
    O(ERF, 1, 1, 1, 1, ERF,) \
    O(EXP, 1, 1, 1, 1, EXPFUSION, P(EXP_BASE, FLOAT, ExpFusion, base) P(EXP_SCALE, FLOAT, ExpFusion, scale) \
        P(EXP_SHIFT, FLOAT, ExpFusion, shift)) \
    O(LESS, 2, 2, 1, 1, LESS,) \
    O(SELECT, 3, 3, 1, 1, SELECT,) \
    O(SQUARE, 1, 1, 1, 1, SQUARE,) \
    O(FLATTEN, 1, 1, 1, 1, FLATTEN, P(FLATTEN_AXIS, INT, Flatten, axis)) \
    O(DEPTH_TO_SPACE, 1, 1, 1, 1, DEPTH_TO_SPACE, P(DEPTH_TO_SPACE_BLOCK_SIZE, INT, DepthToSpace, blockSize) \
        P(DEPTH_TO_SPACE_MODE, OHNN_ORDER, DepthToSpace, mode)) \
    O(RANGE, 1, 1, 1, 1, RANGE, P(RANGE_START, INT, Range, start) P(RANGE_LIMIT, INT, Range, limit) \
        P(RANGE_DELTA, INT, Range, delta)) \
    O(INSTANCE_NORM, 3, 3, 1, 1, INSTANCE_NORM, P(INSTANCE_NORM_EPSILON, FLOAT, InstanceNorm, epsilon)) \
    O(CONSTANT_OF_SHAPE, 1, 1, 1, 1, CONSTANT_OF_SHAPE, \
        P(CONSTANT_OF_SHAPE_DATA_TYPE, TYPE, ConstantOfShape, dataType) \
        P(CONSTANT_OF_SHAPE_VALUE, FLOATS, ConstantOfShape, value)) \
    O(BROADCAST_TO, 1, 1, 1, 1, BROADCAST_TO, P(BROADCAST_TO_SHAPE, INTS, BroadcastTo, shape)) \
    O(EQUAL, 2, 2, 1, 1, EQUAL,) \
    O(GREATER, 2, 2, 1, 1, GREATER,) \
    O(NOT_EQUAL, 2, 2, 1, 1, NOT_EQUAL,) \
    O(GREATER_EQUAL, 2, 2, 1, 1, GREATER_EQUAL,) \
    O(LEAKY_RELU, 1, 1, 1, 1, LEAKY_RELU, P(LEAKY_RELU_NEGATIVE_SLOPE, FLOAT, LeakyRelu, negativeSlope)) \
    O(LSTM, 6, 6, 3, 3, LSTM, P(LSTM_BIDIRECTIONAL, BOOL, LSTM, bidirectional) P(LSTM_HAS_BIAS, BOOL, LSTM, hasBias) \
        P(LSTM_INPUT_SIZE, INT, LSTM, inputSize) P(LSTM_HIDDEN_SIZE, INT, LSTM, hiddenSize) \
        P(LSTM_NUM_LAYERS, INT, LSTM, numLayers) P(LSTM_NUM_DIRECTIONS, INT, LSTM, numDirections) \
        P(LSTM_DROPOUT, FLOAT, LSTM, dropout) P(LSTM_ZONEOUT_CELL, FLOAT, LSTM, zoneoutCell) \
        P(LSTM_ZONEOUT_HIDDEN, FLOAT, LSTM, zoneoutHidden) P(LSTM_PROJ_SIZE, INT, LSTM, projSize)) \
    O(CLIP, 1, 1, 1, 1, CLIP, P(CLIP_MAX, FLOAT, Clip, max) P(CLIP_MIN, FLOAT, Clip, min)) \
    O(ALL, 2, 2, 1, 1, ALL, P(ALL_KEEP_DIMS, INT, All, keepDims)) \
    O(ASSERT, 2, 2, 1, 1, ASSERT, P(ASSERT_SUMMARIZE, INT, Assert, summarize)) \
    O(COS, 1, 1, 1, 1, COS,) \
    O(LOG, 1, 1, 1, 1, LOG,) \
    O(LOGICAL_AND, 2, 2, 1, 1, LOGICAL_AND,) \
    O(LOGICAL_NOT, 1, 1, 1, 1, LOGICAL_NOT,) \
    O(MOD, 2, 2, 1, 1, MOD,) \
    O(NEG, 1, 1, 1, 1, NEG,) \
    O(RECIPROCAL, 1, 1, 1, 1, RECIPROCAL,) \
    O(SIN, 1, 1, 1, 1, SIN,) \
    O(WHERE, 3, 3, 1, 1, WHERE,) \
    O(SPARSE_TO_DENSE, 3, 3, 1, 1, SPARSE_TO_DENSE,) \
    O(LOGICAL_OR, 2, 2, 1, 1, LOGICAL_OR,) \
    O(CEIL, 1, 1, 1, 1, CEIL,) \
    O(CROP, 2, 2, 1, 1, CROP, P(CROP_AXIS, INT, Crop, axis) P(CROP_OFFSET, INTS, Crop, offset)) \
    O(DETECTION_POST_PROCESS, 3, 3, 4, 4, DETECTION_POST_PROCESS, \
        P(DETECTION_POST_PROCESS_INPUT_SIZE, INT, DetectionPostProcess, inputSize) \
        P(DETECTION_POST_PROCESS_SCALE, FLOATS, DetectionPostProcess, scale) \
        P(DETECTION_POST_PROCESS_NMS_IOU_THRESHOLD, FLOAT, DetectionPostProcess, nmsIoUThreshold) \
        P(DETECTION_POST_PROCESS_NMS_SCORE_THRESHOLD, FLOAT, DetectionPostProcess, nmsScoreThreshold) \
        P(DETECTION_POST_PROCESS_MAX_DETECTIONS, INT, DetectionPostProcess, maxDetections) \
        P(DETECTION_POST_PROCESS_DETECTIONS_PER_CLASS, INT, DetectionPostProcess, detectionsPerClass) \
        P(DETECTION_POST_PROCESS_MAX_CLASSES_PER_DETECTION, INT, DetectionPostProcess, maxClassesPerDetection) \
        P(DETECTION_POST_PROCESS_NUM_CLASSES, INT, DetectionPostProcess, numClasses) \
        P(DETECTION_POST_PROCESS_USE_REGULAR_NMS, BOOL, DetectionPostProcess, useRegularNms) \
        P(DETECTION_POST_PROCESS_OUT_QUANTIZED, BOOL, DetectionPostProcess, outQuantized)) \
    O(FLOOR, 1, 1, 1, 1, FLOOR,) \
    O(L2_NORMALIZE, 1, 1, 1, 1, L2_NORMALIZE_FUSION, P(L2_NORMALIZE_AXIS, INTS, L2NormalizeFusion, axis) \
        P(L2_NORMALIZE_EPSILON, FLOAT, L2NormalizeFusion, epsilon) \
        P(L2_NORMALIZE_ACTIVATION_TYPE, OHNN_FUSE, L2NormalizeFusion, activationType)) \
    O(LOG_SOFTMAX, 1, 1, 1, 1, LOG_SOFTMAX, P(LOG_SOFTMAX_AXIS, INT, LogSoftmax, axis)) \
    O(LRN, 1, 1, 1, 1, LRN, P(LRN_DEPTH_RADIUS, INT, LRN, depthRadius) P(LRN_BIAS, FLOAT, LRN, bias) \
        P(LRN_ALPHA, FLOAT, LRN, alpha) P(LRN_BETA, FLOAT, LRN, beta) \
        P(LRN_NORM_REGION, OHNN_REGION, LRN, normRegion)) \
    O(MINIMUM, 2, 2, 1, 1, MINIMUM,) \
    O(RANK, 1, 1, 1, 1, RANK,) \
    O(REDUCE_MAX, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, MAX)) \
    O(REDUCE_MIN, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, MIN)) \
    O(REDUCE_SUM, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, SUM)) \
    O(ROUND, 1, 1, 1, 1, ROUND,) \
    O(SCATTER_ND, 3, 3, 1, 1, SCATTER_ND,) \
    O(SPACE_TO_DEPTH, 1, 1, 1, 1, SPACE_TO_DEPTH, P(SPACE_TO_DEPTH_BLOCK_SIZE, INT, SpaceToDepth, blockSize)) \
    O(SWISH, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_SWISH)) \
    O(REDUCE_L2, 2, 2, 1, 1, REDUCE_FUSION, NNRTI_OHNN_REDUCE(P, V, L2)) \
    O(HARD_SIGMOID, 1, 1, 1, 1, ACTIVATION, V(ENUM, Activation, activationType, NNRT_ACTIVATION_TYPE_HSIGMOID)) \
    O(GATHER_ND, 2, 2, 1, 1, GATHER_ND,)
/* clang-format on */

#define NNRTI_OHNN_P(name, kind, S, member) NNRTI_PARAM_P(OH_NN_##name, kind, S, member)
#define NNRTI_OHNN_Q(name, S, mode, list) NNRTI_OHNN_P(name, OHNN_PAD_MODE, S, mode) NNRTI_OHNN_P(name, FOUR, S, list)
#define NNRTI_OHNN_ROWS(name, minIn, maxIn, minOut, maxOut, node, ...) NNRTI_PARAMS_BEGIN(OH_NN_OPS_##name) __VA_ARGS__
static const nnrti_param nnrti_ohnn_params[] = {
    NNRTI_OHNN_OPS(NNRTI_OHNN_ROWS, NNRTI_OHNN_P, NNRTI_OHNN_Q, NNRTI_PARAM_V) NNRTI_PARAMS_END};

typedef struct nnrti_ohnn_op {
    uint8_t minIn, maxIn, minOut, maxOut;
    NNRT_NodeType type;
} nnrti_ohnn_op;

#define NNRTI_OHNN_OP(name, minIn, maxIn, minOut, maxOut, node, ...)                                                   \
    {minIn, maxIn, minOut, maxOut, NNRT_NODE_TYPE_##node},
/* Indexed by OH_NN_OperationType - 1. */
static const nnrti_ohnn_op nnrti_ohnn_ops[] = {
    NNRTI_OHNN_OPS(NNRTI_OHNN_OP, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING, NNRTI_PARAM_NOTHING)};

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_small */

static const NNRT_DataType nnrti_ohnn_types[] = {
    NNRT_DATA_TYPE_UNKNOWN, NNRT_DATA_TYPE_BOOL,    NNRT_DATA_TYPE_INT8,   NNRT_DATA_TYPE_INT16,  NNRT_DATA_TYPE_INT32,
    NNRT_DATA_TYPE_INT64,   NNRT_DATA_TYPE_UINT8,   NNRT_DATA_TYPE_UINT16, NNRT_DATA_TYPE_UINT32, NNRT_DATA_TYPE_UINT64,
    NNRT_DATA_TYPE_FLOAT16, NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT64};
static const NNRT_Format nnrti_ohnn_formats[] = {NNRT_FORMAT_NONE, NNRT_FORMAT_NCHW, NNRT_FORMAT_NHWC,
                                                 NNRT_FORMAT_NONE};

/* Checks 0 <= value <= last. Callers pass enumerations, which may hold any integer. */
static bool nnrti_ohnn_one_of(int64_t value, int64_t last)
{
    return value >= 0 && value <= last;
}

static OH_NN_DataType nnrti_ohnn_type_back(NNRT_DataType type)
{
    for (int i = OH_NN_BOOL; i <= OH_NN_FLOAT64; i++)
        if (nnrti_ohnn_types[i] == type)
            return (OH_NN_DataType)i;
    return OH_NN_UNKNOWN;
}

static OH_NN_Format nnrti_ohnn_format_back(NNRT_Format format)
{
    if (format == NNRT_FORMAT_NONE)
        return OH_NN_FORMAT_NONE;
    return format == NNRT_FORMAT_NCHW ? OH_NN_FORMAT_NCHW : OH_NN_FORMAT_NHWC;
}

/* Number of elements of a shape; dimensions of -1 (and 0) count as `open`. false: overflow. */
static bool nnrti_ohnn_count(const int32_t *dims, size_t rank, size_t open, size_t *count)
{
    *count = 1;
    for (size_t i = 0; i < rank; i++)
        if (!nnrt_mul_size(*count, dims[i] > 0 ? (size_t)dims[i] : open, count))
            return false;
    return true;
}

/* Identifies a device, with the same id in every process: FNV-1a of its name, never 0. */
static size_t nnrti_ohnn_id(const nnrt_device *device)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *c = nnrt_device_unique_name(device); *c != '\0'; c++)
        hash = (hash ^ (uint8_t)*c) * 0x100000001B3u;
    if (sizeof(size_t) < sizeof(hash))
        hash ^= hash >> 32;
    return (size_t)hash != 0 ? (size_t)hash : 1;
}

#if defined(NNRT_OHNN_DRIVERS) && NNRT_POSIX
/* Loads a driver of nnrt's own table, or otherwise one of NNAdapter's hardware layer. */
static NNRT_ReturnCode nnrti_ohnn_driver(const char *path, nnrt_error *error)
{
    NNRT_ReturnCode code = nnrt_driver_load(path, NULL);
#ifdef NNRT_NNADAPTER_DRIVER_H
    if (code == NNRT_NOT_SUPPORT)
        return nnrt_nnadapter_driver_load(path, NULL, error);
#endif
    return code != NNRT_SUCCESS ? nnrt_error_set(error, code, "the driver '%s' cannot be loaded", path) : code;
}

static void nnrti_ohnn_drivers(void)
{
    (void)nnrt_driver_load_environment(NNRT_OHNN_DRIVERS, nnrti_ohnn_driver, NULL);
}

/* Loads the drivers that the environment lists, once, before the registry is used. */
static void nnrti_ohnn_registry(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, nnrti_ohnn_drivers);
}
#else
#define nnrti_ohnn_registry() ((void)0)
#endif

/* Finds the device with this id, 0: the first one; NULL: none. */
static nnrt_device *nnrti_ohnn_device(size_t id)
{
    nnrti_ohnn_registry();
    for (uint32_t i = 0; i < nnrt_device_count(); i++)
        if (id == 0 || nnrti_ohnn_id(nnrt_device_at(i)) == id)
            return nnrt_device_at(i);
    return NULL;
}

/* Header of an allocation in a list that is freed as a whole. */
typedef struct nnrti_ohnn_block {
    struct nnrti_ohnn_block *next;
    double align[1]; /* aligns the data behind the header for any element */
} nnrti_ohnn_block;

#define NNRTI_OHNN_HEAD ((sizeof(nnrti_ohnn_block) + 15) / 16 * 16)

/* Allocates zeroed memory in the list, as aligned as malloc's (at most 16); NULL: out of memory or overflow. */
static void *nnrti_ohnn_keep(nnrti_ohnn_block **blocks, size_t count, size_t size)
{
    nnrti_ohnn_block *block = NULL;
    size_t bytes;
    if (nnrt_mul_size(count, size, &bytes) && nnrt_add_size(bytes, NNRTI_OHNN_HEAD, &bytes))
        block = (nnrti_ohnn_block *)calloc(1, bytes);
    if (block == NULL)
        return NULL;
    block->next = *blocks;
    *blocks = block;
    return (uint8_t *)block + NNRTI_OHNN_HEAD;
}

static void *nnrti_ohnn_copy(nnrti_ohnn_block **blocks, const void *data, size_t count, size_t size)
{
    void *to = nnrti_ohnn_keep(blocks, count, size);
    if (to != NULL && count > 0)
        memcpy(to, data, count * size);
    return to;
}

static void nnrti_ohnn_drop(nnrti_ohnn_block *blocks)
{
    while (blocks != NULL) {
        nnrti_ohnn_block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* ---- devices ---- */

NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetAllDevicesID(const size_t **allDevicesID, uint32_t *deviceCount)
{
    static size_t ids[NNRT_MAX_DEVICES];
    uint32_t count;
    if (allDevicesID == NULL || *allDevicesID != NULL || deviceCount == NULL)
        return OH_NN_INVALID_PARAMETER;
    nnrti_ohnn_registry();
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    count = nnrt_device_count();
    for (uint32_t i = 0; i < count; i++) {
        const size_t id = nnrti_ohnn_id(nnrt_device_at(i));
        if (ids[i] != id) /* written only if it changes: other threads may be reading */
            ids[i] = id;
    }
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    *allDevicesID = count > 0 ? ids : NULL;
    *deviceCount = count;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetName(size_t deviceID, const char **name)
{
    const nnrt_device *device = nnrti_ohnn_device(deviceID);
    if (name == NULL || *name != NULL)
        return OH_NN_INVALID_PARAMETER;
    if (device == NULL)
        return OH_NN_FAILED;
    *name = nnrt_device_unique_name(device);
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetType(size_t deviceID, OH_NN_DeviceType *deviceType)
{
    const nnrt_device *device = nnrti_ohnn_device(deviceID);
    NNRT_ReturnCode code;
    NNRT_DeviceType type;
    if (device == NULL || deviceType == NULL)
        return OH_NN_INVALID_PARAMETER;
    type = nnrt_device_type(device, &code);
    if (code != NNRT_SUCCESS)
        return OH_NN_UNAVAILABLE_DEVICE;
    switch (type) {
    case NNRT_DEVICE_TYPE_CPU: *deviceType = OH_NN_CPU; break;
    case NNRT_DEVICE_TYPE_GPU: *deviceType = OH_NN_GPU; break;
    case NNRT_DEVICE_TYPE_ACCELERATOR: *deviceType = OH_NN_ACCELERATOR; break;
    default: *deviceType = OH_NN_OTHERS; break;
    }
    return OH_NN_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_desc */

struct NN_TensorDesc {
    OH_NN_DataType dataType;
    OH_NN_Format format;
    size_t rank;
    bool shaped; /* has a shape: set by the program, or known to an executor; rank 0 is then a scalar */
    int32_t shape[NNRTI_OHNN_MAX_SHAPE];
    char *name; /* NULL: "" */
};

/* Copies a description including its name; false: out of memory. */
static bool nnrti_ohnn_desc_copy(NN_TensorDesc *to, const NN_TensorDesc *from)
{
    *to = *from;
    if (from->name != NULL && (to->name = nnrti_compat_text(from->name, strlen(from->name))) == NULL)
        return false;
    return true;
}

/* Sets the shape. dims->rank must not exceed NNRTI_OHNN_MAX_SHAPE; a negative rank is "no shape". */
static void nnrti_ohnn_desc_shape(NN_TensorDesc *desc, const nnrt_dims *dims)
{
    desc->shaped = dims->rank >= 0;
    desc->rank = dims->rank > 0 ? (size_t)dims->rank : 0;
    memcpy(desc->shape, dims->dims, desc->rank * sizeof(*dims->dims));
}

NNRT_OHNN_API NN_TensorDesc *OH_NNTensorDesc_Create(void)
{
    return (NN_TensorDesc *)calloc(1, sizeof(NN_TensorDesc)); /* OH_NN_UNKNOWN and OH_NN_FORMAT_NONE are 0 */
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_Destroy(NN_TensorDesc **tensorDesc)
{
    if (tensorDesc == NULL || *tensorDesc == NULL)
        return OH_NN_INVALID_PARAMETER;
    free((*tensorDesc)->name);
    free(*tensorDesc);
    *tensorDesc = NULL;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetName(NN_TensorDesc *tensorDesc, const char *name)
{
    char *copy;
    if (tensorDesc == NULL || name == NULL)
        return OH_NN_INVALID_PARAMETER;
    if ((copy = nnrti_compat_text(name, strlen(name))) == NULL)
        return OH_NN_MEMORY_ERROR;
    free(tensorDesc->name);
    tensorDesc->name = copy;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetName(const NN_TensorDesc *tensorDesc, const char **name)
{
    if (tensorDesc == NULL || name == NULL || *name != NULL)
        return OH_NN_INVALID_PARAMETER;
    *name = tensorDesc->name != NULL ? tensorDesc->name : "";
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetDataType(NN_TensorDesc *tensorDesc, OH_NN_DataType dataType)
{
    if (tensorDesc == NULL || !nnrti_ohnn_one_of(dataType, OH_NN_FLOAT64))
        return OH_NN_INVALID_PARAMETER;
    tensorDesc->dataType = dataType;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetDataType(const NN_TensorDesc *tensorDesc, OH_NN_DataType *dataType)
{
    if (tensorDesc == NULL || dataType == NULL)
        return OH_NN_INVALID_PARAMETER;
    *dataType = tensorDesc->dataType;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetShape(NN_TensorDesc *tensorDesc, const int32_t *shape,
                                                        size_t shapeLength)
{
    if (tensorDesc == NULL || shape == NULL || shapeLength == 0 || shapeLength > NNRTI_OHNN_MAX_SHAPE)
        return OH_NN_INVALID_PARAMETER;
    memmove(tensorDesc->shape, shape, shapeLength * sizeof(*shape)); /* shape may be the array that GetShape returned */
    tensorDesc->rank = shapeLength;
    tensorDesc->shaped = true;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetShape(const NN_TensorDesc *tensorDesc, int32_t **shape,
                                                        size_t *shapeLength)
{
    if (tensorDesc == NULL || shape == NULL || *shape != NULL || shapeLength == NULL)
        return OH_NN_INVALID_PARAMETER;
    *shape = tensorDesc->rank > 0 ? ((NN_TensorDesc *)(uintptr_t)tensorDesc)->shape : NULL;
    *shapeLength = tensorDesc->rank;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetFormat(NN_TensorDesc *tensorDesc, OH_NN_Format format)
{
    if (tensorDesc == NULL || !nnrti_ohnn_one_of(format, OH_NN_FORMAT_ND))
        return OH_NN_INVALID_PARAMETER;
    tensorDesc->format = format;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetFormat(const NN_TensorDesc *tensorDesc, OH_NN_Format *format)
{
    if (tensorDesc == NULL || format == NULL)
        return OH_NN_INVALID_PARAMETER;
    *format = tensorDesc->format;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetElementCount(const NN_TensorDesc *tensorDesc, size_t *elementCount)
{
    size_t count;
    if (tensorDesc == NULL || elementCount == NULL || !tensorDesc->shaped)
        return OH_NN_INVALID_PARAMETER;
    for (size_t i = 0; i < tensorDesc->rank; i++)
        if (tensorDesc->shape[i] <= 0) {
            *elementCount = 0;
            return OH_NN_DYNAMIC_SHAPE;
        }
    if (!nnrti_ohnn_count(tensorDesc->shape, tensorDesc->rank, 0, &count))
        return OH_NN_INVALID_PARAMETER;
    *elementCount = count;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetByteSize(const NN_TensorDesc *tensorDesc, size_t *byteSize)
{
    size_t count;
    if (tensorDesc == NULL || byteSize == NULL)
        return OH_NN_INVALID_PARAMETER;
    *byteSize = 0;
    if (!tensorDesc->shaped)
        return OH_NN_INVALID_PARAMETER;
    for (size_t i = 0; i < tensorDesc->rank; i++)
        if (tensorDesc->shape[i] <= 0)
            return OH_NN_SUCCESS;
    if (tensorDesc->dataType == OH_NN_UNKNOWN || !nnrti_ohnn_count(tensorDesc->shape, tensorDesc->rank, 0, &count) ||
        !nnrt_mul_size(count, nnrt_type_size(nnrti_ohnn_types[tensorDesc->dataType]), &count))
        return OH_NN_INVALID_PARAMETER;
    *byteSize = count;
    return OH_NN_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_tensor */

struct NN_Tensor {
    NN_TensorDesc desc;
    size_t device;       /* id */
    size_t size, offset; /* bytes of the block, and offset of the data in it */
    nnrti_ohnn_shared memory;
};

/* Makes a tensor without memory; NULL: for the reasons of the functions below. *bytes: of the data, 0: dynamic shape.
   */
static NN_Tensor *nnrti_ohnn_tensor(size_t deviceID, const NN_TensorDesc *desc, size_t *bytes)
{
    nnrt_device *device = nnrti_ohnn_device(deviceID);
    NN_Tensor *tensor;
    if (desc == NULL || device == NULL || OH_NNTensorDesc_GetByteSize(desc, bytes) != OH_NN_SUCCESS ||
        (tensor = (NN_Tensor *)calloc(1, sizeof(*tensor))) == NULL)
        return NULL;
    tensor->device = nnrti_ohnn_id(device);
    if (!nnrti_ohnn_desc_copy(&tensor->desc, desc)) {
        free(tensor);
        return NULL;
    }
    return tensor;
}

/* Returns the tensor if it has its memory; otherwise frees it and returns NULL. */
static NN_Tensor *nnrti_ohnn_tensor_end(NN_Tensor *tensor, bool good)
{
    if (good)
        return tensor;
    free(tensor->desc.name);
    free(tensor);
    return NULL;
}

/* Makes a tensor with memory. exact: of the description's size; otherwise of `size` bytes. */
static NN_Tensor *nnrti_ohnn_tensor_make(size_t deviceID, const NN_TensorDesc *desc, bool exact, size_t size)
{
    size_t bytes;
    NN_Tensor *tensor = nnrti_ohnn_tensor(deviceID, desc, &bytes);
    if (tensor == NULL)
        return NULL;
    tensor->size = exact ? bytes : size;
    return nnrti_ohnn_tensor_end(
        tensor, tensor->size != 0 && tensor->size >= bytes && tensor->size <= NNRTI_OHNN_MAX_BLOCK &&
                    nnrti_ohnn_shared_make(&tensor->memory, nnrti_ohnn_device(tensor->device), tensor->size));
}

NNRT_OHNN_API NN_Tensor *OH_NNTensor_Create(size_t deviceID, NN_TensorDesc *tensorDesc)
{
    return nnrti_ohnn_tensor_make(deviceID, tensorDesc, true, 0);
}

NNRT_OHNN_API NN_Tensor *OH_NNTensor_CreateWithSize(size_t deviceID, NN_TensorDesc *tensorDesc, size_t size)
{
    return nnrti_ohnn_tensor_make(deviceID, tensorDesc, false, size);
}

NNRT_OHNN_API NN_Tensor *OH_NNTensor_CreateWithFd(size_t deviceID, NN_TensorDesc *tensorDesc, int fd, size_t size,
                                                  size_t offset)
{
#if NNRT_POSIX
    NN_Tensor *tensor;
    NNRT_SharedBuffer *b;
    size_t bytes;
    if (fd < 0 || size == 0 || size < offset || size > NNRTI_OHNN_MAX_BLOCK ||
        (tensor = nnrti_ohnn_tensor(deviceID, tensorDesc, &bytes)) == NULL)
        return NULL;
    tensor->size = size;
    tensor->offset = offset;
    tensor->memory.ours = true;
    b = &tensor->memory.buffer;
    b->bufferSize = (uint32_t)size;
    b->offset = (uint32_t)offset;
    b->dataSize = (uint32_t)(size - offset);
    if (b->dataSize < bytes || b->dataSize == 0 || (b->fd = dup(fd)) < 0)
        return nnrti_ohnn_tensor_end(tensor, false);
    if (nnrt_buffer_map(b, true, &tensor->memory.at, NULL) != NNRT_SUCCESS) {
        nnrt_buffer_destroy(b);
        return nnrti_ohnn_tensor_end(tensor, false);
    }
    return tensor;
#else
    (void)deviceID, (void)tensorDesc, (void)fd, (void)size, (void)offset;
    return NULL;
#endif
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_Destroy(NN_Tensor **tensor)
{
    if (tensor == NULL || *tensor == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (nnrti_ohnn_device((*tensor)->device) == NULL)
        return OH_NN_NULL_PTR;
    nnrti_ohnn_shared_free(&(*tensor)->memory, nnrti_ohnn_device((*tensor)->device));
    (void)nnrti_ohnn_tensor_end(*tensor, false);
    *tensor = NULL;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API NN_TensorDesc *OH_NNTensor_GetTensorDesc(const NN_Tensor *tensor)
{
    return tensor != NULL ? &((NN_Tensor *)(uintptr_t)tensor)->desc : NULL;
}

NNRT_OHNN_API void *OH_NNTensor_GetDataBuffer(const NN_Tensor *tensor)
{
    return tensor != NULL ? nnrti_ohnn_shared_data(&tensor->memory) : NULL;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetFd(const NN_Tensor *tensor, int *fd)
{
    if (tensor == NULL || fd == NULL)
        return OH_NN_INVALID_PARAMETER;
    *fd = tensor->memory.buffer.fd;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetSize(const NN_Tensor *tensor, size_t *size)
{
    if (tensor == NULL || size == NULL)
        return OH_NN_INVALID_PARAMETER;
    *size = tensor->size;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetOffset(const NN_Tensor *tensor, size_t *offset)
{
    if (tensor == NULL || offset == NULL)
        return OH_NN_INVALID_PARAMETER;
    *offset = tensor->offset;
    return OH_NN_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_quant */

struct NN_QuantParam {
    double *scales;
    int32_t *zeroPoints;
    uint32_t *numBits;
    size_t counts[3];
};

/* Replaces one of the three lists by a copy of `values`. */
static OH_NN_ReturnCode nnrti_ohnn_quant_list(void **list, size_t *count, const void *values, size_t n, size_t size)
{
    void *copy = NULL;
    size_t bytes;
    if (!nnrt_mul_size(n, size, &bytes) || (copy = malloc(bytes)) == NULL)
        return OH_NN_MEMORY_ERROR;
    memcpy(copy, values, bytes);
    free(*list);
    *list = copy;
    *count = n;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API NN_QuantParam *OH_NNQuantParam_Create(void)
{
    return (NN_QuantParam *)calloc(1, sizeof(NN_QuantParam));
}

#define NNRTI_OHNN_QUANT_SETTER(Name, T, member, values, index)                                                        \
    NNRT_OHNN_API OH_NN_ReturnCode Name(NN_QuantParam *quantParams, const T *values, size_t quantCount)                \
    {                                                                                                                  \
        OH_NN_ReturnCode code;                                                                                         \
        void *list;                                                                                                    \
        if (quantParams == NULL || values == NULL || quantCount == 0)                                                  \
            return OH_NN_INVALID_PARAMETER;                                                                            \
        list = quantParams->member;                                                                                    \
        code = nnrti_ohnn_quant_list(&list, &quantParams->counts[index], values, quantCount, sizeof(T));               \
        quantParams->member = (T *)list;                                                                               \
        return code;                                                                                                   \
    }
NNRTI_OHNN_QUANT_SETTER(OH_NNQuantParam_SetScales, double, scales, scales, 0)
NNRTI_OHNN_QUANT_SETTER(OH_NNQuantParam_SetZeroPoints, int32_t, zeroPoints, zeroPoints, 1)
NNRTI_OHNN_QUANT_SETTER(OH_NNQuantParam_SetNumBits, uint32_t, numBits, numBits, 2)

NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_Destroy(NN_QuantParam **quantParams)
{
    if (quantParams == NULL || *quantParams == NULL)
        return OH_NN_INVALID_PARAMETER;
    free((*quantParams)->scales);
    free((*quantParams)->zeroPoints);
    free((*quantParams)->numBits);
    free(*quantParams);
    *quantParams = NULL;
    return OH_NN_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_model */

/* A tensor of a model under construction. */
typedef struct nnrti_ohnn_value {
    OH_NN_DataType dataType;
    OH_NN_Format format;
    OH_NN_TensorType type;
    uint32_t rank, quantCount;
    int32_t *dims;
    char *name; /* NULL: "Tensor: <index>" */
    void *data; /* constant; NULL: none */
    size_t count, bytes;
    bool dynamic;
    NNRT_QuantParam *quant;
} nnrti_ohnn_value;

typedef struct nnrti_ohnn_node {
    OH_NN_OperationType op;
    void *attr;
    uint32_t *in, *out;
    uint32_t nIn, nOut;
    bool axis; /* QUANT_DTYPE_CAST has the parameter axis */
} nnrti_ohnn_node;

/* A model under construction and the finished model. Reference-counted: the model, its compilations and executors are
   users. */
typedef struct nnrti_ohnn_graph {
    int32_t users;
    nnrti_ohnn_block *blocks; /* all allocations except the growing lists */
    nnrti_ohnn_value *values;
    nnrti_ohnn_node *nodes;
    uint32_t nValues, roomValues, nNodes, roomNodes;
    uint32_t *inputs, *outputs; /* indices of values */
    uint32_t nIn, nOut;
    bool finished;
    uint32_t *operation;     /* for each node of `model`: the index of its OH_NN operation */
    const NNRT_Model *model; /* NULL until the model is finished or loaded */
    NNRT_Model *loaded;      /* owned; NULL if the model was built */
    void *file;              /* memory that a loaded model refers to */
} nnrti_ohnn_graph;

struct OH_NNModel {
    nnrti_ohnn_graph *graph;
    bool *supported; /* result of GetAvailableOperations */
};

static nnrti_ohnn_graph *nnrti_ohnn_graph_new(void)
{
    nnrti_ohnn_graph *graph = (nnrti_ohnn_graph *)calloc(1, sizeof(*graph));
    if (graph != NULL)
        graph->users = 1;
    return graph;
}

static nnrti_ohnn_graph *nnrti_ohnn_graph_use(nnrti_ohnn_graph *graph)
{
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    graph->users++;
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    return graph;
}

static void nnrti_ohnn_graph_leave(nnrti_ohnn_graph *graph)
{
    bool last;
    if (graph == NULL)
        return;
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    last = --graph->users == 0;
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    if (!last)
        return;
    nnrt_model_destroy(graph->loaded);
    free(graph->file);
    nnrti_ohnn_drop(graph->blocks);
    free(graph->values);
    free(graph->nodes);
    free(graph);
}

NNRT_OHNN_API OH_NNModel *OH_NNModel_Construct(void)
{
    OH_NNModel *model = (OH_NNModel *)calloc(1, sizeof(*model));
    if (model != NULL && (model->graph = nnrti_ohnn_graph_new()) == NULL) {
        free(model);
        return NULL;
    }
    return model;
}

NNRT_OHNN_API void OH_NNModel_Destroy(OH_NNModel **model)
{
    if (model == NULL || *model == NULL)
        return;
    nnrti_ohnn_graph_leave((*model)->graph);
    free((*model)->supported);
    free(*model);
    *model = NULL;
}

/* Checks type, dimensions and size, and initializes *v, which owns nothing yet. */
static bool nnrti_ohnn_value_make(nnrti_ohnn_value *v, OH_NN_DataType type, const int32_t *dims, size_t rank)
{
    memset(v, 0, sizeof(*v));
    v->dataType = type;
    v->rank = (uint32_t)rank;
    if (!nnrti_ohnn_one_of(type, OH_NN_FLOAT64) || rank > NNRTI_OHNN_MAX_LIST)
        return false;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] == 0 || dims[i] < -1)
            return false;
        v->dynamic = v->dynamic || dims[i] == -1;
    }
    return nnrti_ohnn_count(dims, rank, 1, &v->count) &&
           nnrt_mul_size(v->count, nnrt_type_size(nnrti_ohnn_types[type]), &v->bytes) && v->bytes <= UINT32_MAX;
}

/* Makes room for one more value. Callers do so before they check the tensor, so that MEMORY_ERROR comes first; false:
   out of memory. */
static bool nnrti_ohnn_room(nnrti_ohnn_graph *graph)
{
    nnrti_ohnn_value *grown =
        (nnrti_ohnn_value *)nnrti_compat_grow(graph->values, graph->nValues, &graph->roomValues, sizeof(*grown));
    if (grown != NULL)
        graph->values = grown;
    return grown != NULL;
}

/* Appends *v with copies of its dimensions and name. nnrti_ohnn_room must have succeeded. */
static OH_NN_ReturnCode nnrti_ohnn_append(nnrti_ohnn_graph *graph, nnrti_ohnn_value *v, const int32_t *dims,
                                          const char *name)
{
    if ((v->dims = (int32_t *)nnrti_ohnn_copy(&graph->blocks, dims, v->rank, sizeof(*dims))) == NULL)
        return OH_NN_MEMORY_ERROR;
    if (name != NULL && *name != '\0' &&
        (v->name = (char *)nnrti_ohnn_copy(&graph->blocks, name, strlen(name) + 1, 1)) == NULL)
        return OH_NN_MEMORY_ERROR;
    graph->values[graph->nValues++] = *v;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddTensorToModel(OH_NNModel *model, const NN_TensorDesc *tensorDesc)
{
    nnrti_ohnn_value v;
    if (model == NULL || tensorDesc == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    if (!nnrti_ohnn_room(model->graph))
        return OH_NN_MEMORY_ERROR;
    if (!nnrti_ohnn_value_make(&v, tensorDesc->dataType, tensorDesc->shape, tensorDesc->rank))
        return OH_NN_INVALID_PARAMETER;
    v.format = tensorDesc->format;
    return nnrti_ohnn_append(model->graph, &v, tensorDesc->shape, tensorDesc->name);
}

/* Checks the number of quantization parameters: one, or one for each element of an axis that can be the channel axis.
   */
static bool nnrti_ohnn_quant_fits(const nnrti_ohnn_value *v, size_t count)
{
    const uint32_t last = v->rank > 0 ? v->rank - 1 : 0;
    if (count == 1)
        return true;
    if (v->rank == 0)
        return false;
    if (v->dims[0] > 0 && (size_t)v->dims[0] == count)
        return true;
    if (v->format == OH_NN_FORMAT_NCHW && v->rank > 1)
        return v->dims[1] > 0 && (size_t)v->dims[1] == count;
    return v->dims[last] > 0 && (size_t)v->dims[last] == count;
}

/* Sets the quantization parameters of *v, which is in the graph or will be appended. */
static OH_NN_ReturnCode nnrti_ohnn_quantize(nnrti_ohnn_graph *graph, nnrti_ohnn_value *v, const double *scales,
                                            const int32_t *zeroPoints, const uint32_t *bits, size_t count)
{
    NNRT_QuantParam *quant;
    for (size_t i = 0; i < count; i++)
        if (bits[i] != 8) {
            v->quantCount = 0;
            return OH_NN_INVALID_PARAMETER;
        }
    for (size_t i = 0; i < count; i++)
        if (!(scales[i] > 0 && scales[i] <= DBL_MAX))
            return OH_NN_INVALID_PARAMETER;
    if (count > UINT32_MAX || (count > 0 && !nnrti_ohnn_quant_fits(v, count)))
        return OH_NN_INVALID_PARAMETER;
    if ((quant = (NNRT_QuantParam *)nnrti_ohnn_keep(&graph->blocks, count, sizeof(*quant))) == NULL)
        return OH_NN_MEMORY_ERROR;
    for (size_t i = 0; i < count; i++) {
        quant[i].numBits = 8;
        quant[i].zeroPoint = zeroPoints[i];
        quant[i].scale = scales[i];
    }
    v->quant = quant;
    v->quantCount = (uint32_t)count;
    return OH_NN_SUCCESS;
}

/* Checks an OH_NN_Tensor of the deprecated functions and initializes *v from it; false: invalid. */
static bool nnrti_ohnn_value_of(nnrti_ohnn_value *v, const OH_NN_Tensor *tensor)
{
    const OH_NN_QuantParam *q = tensor->quantParam;
    if (!nnrti_ohnn_one_of(tensor->type, OH_NN_REDUCE_L2_COEFF) ||
        (tensor->dimensions == NULL) != (tensor->dimensionCount == 0) ||
        !nnrti_ohnn_value_make(v, tensor->dataType, tensor->dimensions, tensor->dimensionCount))
        return false;
    v->type = tensor->type;
    v->format = OH_NN_FORMAT_NHWC;
    if (q == NULL)
        return true;
    if (q->numBits == NULL || q->scale == NULL || q->zeroPoint == NULL)
        return false;
    for (uint32_t i = 0; i < q->quantCount; i++)
        if (q->numBits[i] != 8)
            return false;
    return true;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddTensor(OH_NNModel *model, const OH_NN_Tensor *tensor)
{
    nnrti_ohnn_value v;
    OH_NN_ReturnCode code = OH_NN_SUCCESS;
    if (model == NULL || tensor == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    if (!nnrti_ohnn_room(model->graph))
        return OH_NN_MEMORY_ERROR;
    if (!nnrti_ohnn_value_of(&v, tensor))
        return OH_NN_INVALID_PARAMETER;
    if (tensor->quantParam != NULL) {
        const OH_NN_QuantParam *q = tensor->quantParam;
        v.dims = (int32_t *)(uintptr_t)tensor->dimensions; /* only read, by nnrti_ohnn_quant_fits */
        code = nnrti_ohnn_quantize(model->graph, &v, q->scale, q->zeroPoint, q->numBits, q->quantCount);
    }
    return code != OH_NN_SUCCESS ? code : nnrti_ohnn_append(model->graph, &v, tensor->dimensions, NULL);
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorType(OH_NNModel *model, uint32_t index, OH_NN_TensorType tensorType)
{
    if (model == NULL || !nnrti_ohnn_one_of(tensorType, OH_NN_REDUCE_L2_COEFF))
        return OH_NN_INVALID_PARAMETER;
    if (model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    if (index >= model->graph->nValues)
        return OH_NN_INVALID_PARAMETER;
    model->graph->values[index].type = tensorType;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorQuantParams(OH_NNModel *model, uint32_t index,
                                                               NN_QuantParam *quantParam)
{
    const NN_QuantParam *q = quantParam;
    if (model == NULL || q == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    if (index >= model->graph->nValues || q->counts[0] != q->counts[1] || q->counts[0] != q->counts[2])
        return OH_NN_INVALID_PARAMETER;
    return nnrti_ohnn_quantize(model->graph, &model->graph->values[index], q->scales, q->zeroPoints, q->numBits,
                               q->counts[0]);
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorData(OH_NNModel *model, uint32_t index, const void *dataBuffer,
                                                        size_t length)
{
    nnrti_ohnn_value *v;
    if (model == NULL || dataBuffer == NULL || length == 0)
        return OH_NN_INVALID_PARAMETER;
    if (model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    if (index >= model->graph->nValues)
        return OH_NN_INVALID_PARAMETER;
    v = &model->graph->values[index];
    if (v->data != NULL)
        return OH_NN_INVALID_PARAMETER;
    if (v->dynamic)
        return OH_NN_OPERATION_FORBIDDEN;
    if (length != v->bytes)
        return OH_NN_INVALID_PARAMETER;
    v->data = nnrti_ohnn_copy(&model->graph->blocks, dataBuffer, length, 1);
    return v->data != NULL ? OH_NN_SUCCESS : OH_NN_MEMORY_ERROR;
}

/* Checks that list has 1 to 200 existing tensors that are data, not parameters. */
static bool nnrti_ohnn_operands(const nnrti_ohnn_graph *graph, const OH_NN_UInt32Array *list)
{
    if (list->data == NULL || list->size == 0 || list->size > NNRTI_OHNN_MAX_LIST)
        return false;
    for (uint32_t i = 0; i < list->size; i++)
        if (list->data[i] >= graph->nValues || graph->values[list->data[i]].type != OH_NN_TENSOR)
            return false;
    return true;
}

static bool nnrti_ohnn_among(const uint32_t *list, uint32_t count, uint32_t index)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == index)
            return true;
    return false;
}

static bool nnrti_ohnn_in_and_out(const nnrti_ohnn_graph *graph, const OH_NN_UInt32Array *in,
                                  const OH_NN_UInt32Array *out)
{
    if (!nnrti_ohnn_operands(graph, in) || !nnrti_ohnn_operands(graph, out))
        return false;
    for (uint32_t i = 0; i < in->size; i++)
        if (nnrti_ohnn_among(out->data, out->size, in->data[i]))
            return false;
    return true;
}

/* Returns the elements of a parameter, or of a constant. */
static nnrti_param_value nnrti_ohnn_elements(const nnrti_ohnn_value *v)
{
    const nnrti_param_value elements = {nnrti_ohnn_types[v->dataType], v->count, v->data};
    return elements;
}

static void *nnrti_ohnn_param_room(void *blocks, size_t count, size_t size)
{
    return nnrti_ohnn_keep((nnrti_ohnn_block **)blocks, count, size);
}

/* Sets the members of one parameter. rows: of the operation. */
static OH_NN_ReturnCode nnrti_ohnn_set(nnrti_ohnn_graph *graph, const nnrti_param *rows, const nnrti_ohnn_value *v,
                                       void *attr)
{
    const nnrti_param_value elements = nnrti_ohnn_elements(v);
    OH_NN_ReturnCode code = OH_NN_INVALID_PARAMETER;
    for (const nnrti_param *p = rows; p->kind != NNRTI_PARAM_OPERATION; p++) {
        int64_t *type = (int64_t *)(void *)((uint8_t *)attr + p->at);
        const char *fault;
        if (p->key != (int32_t)v->type || !nnrti_param_fits(p, &elements))
            continue;
        if ((fault = nnrti_param_set(p, &elements, nnrti_ohnn_param_room, &graph->blocks, attr)) != NULL)
            return *fault == '\0' ? OH_NN_MEMORY_ERROR : OH_NN_INVALID_PARAMETER;
        /* The device validates an element type when the model is prepared: a number without an OH_NN name stays. */
        if (p->kind == NNRTI_PARAM_TYPE && nnrti_ohnn_one_of(*type, OH_NN_FLOAT64))
            *type = nnrti_ohnn_types[*type];
        code = OH_NN_SUCCESS;
    }
    return code;
}

/* Makes the attributes of node n: the defaults, then OH_NN's different defaults, then the parameters. */
static OH_NN_ReturnCode nnrti_ohnn_attributes(nnrti_ohnn_graph *graph, nnrti_ohnn_node *n,
                                              const OH_NN_UInt32Array *params)
{
    const nnrt_op *op = nnrt_op_find(nnrti_ohnn_ops[n->op - 1].type);
    const nnrti_param *rows = nnrti_params_of(nnrti_ohnn_params, (int32_t)n->op);
    int32_t last = NNRTI_PARAM_PRESET;
    uint32_t known = 0;
    bool axis = false, useAxis = false, hasBias = false;
    if (op == NULL)
        return OH_NN_INVALID_PARAMETER; /* excluded from this build (NNRT_SELECT) */
    if ((n->attr = nnrti_ohnn_keep(&graph->blocks, 1, op->attr->bytes)) == NULL)
        return OH_NN_MEMORY_ERROR;
    nnrt_attr_defaults(op->attr, n->attr);
    nnrti_params_preset(rows, n->attr);
    for (const nnrti_param *p = rows; p->kind != NNRTI_PARAM_OPERATION; last = p++->key)
        known += p->key != NNRTI_PARAM_PRESET && p->key != last;
    if (params->size > known)
        return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < params->size; i++) {
        const nnrti_ohnn_value *v = &graph->values[params->data[i]];
        const OH_NN_ReturnCode code = nnrti_ohnn_set(graph, rows, v, n->attr);
        if (code != OH_NN_SUCCESS)
            return code;
        axis = axis || v->type == OH_NN_FULL_CONNECTION_AXIS;
        useAxis = useAxis || v->type == OH_NN_FULL_CONNECTION_USE_AXIS;
        hasBias = hasBias || v->type == OH_NN_FULL_CONNECTION_HAS_BIAS;
        n->axis = n->axis || v->type == OH_NN_QUANT_DTYPE_CAST_AXIS;
    }
    if (n->op == OH_NN_OPS_FULL_CONNECTION) {
        NNRT_FullConnection *a = (NNRT_FullConnection *)n->attr;
        if (axis && useAxis && !a->useAxis)
            return OH_NN_INVALID_PARAMETER;
        a->useAxis = a->useAxis || axis;
        a->hasBias = hasBias ? a->hasBias : n->nIn == 3;
    }
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddOperation(OH_NNModel *model, OH_NN_OperationType op,
                                                       const OH_NN_UInt32Array *paramIndices,
                                                       const OH_NN_UInt32Array *inputIndices,
                                                       const OH_NN_UInt32Array *outputIndices)
{
    const OH_NN_UInt32Array *params = paramIndices, *in = inputIndices, *out = outputIndices;
    const nnrti_ohnn_op *row;
    nnrti_ohnn_graph *graph;
    nnrti_ohnn_node n, *grown;
    OH_NN_ReturnCode code;
    if (model == NULL || params == NULL || in == NULL || out == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    graph = model->graph;
    if (!nnrti_ohnn_in_and_out(graph, in, out) || (params->data == NULL) != (params->size == 0))
        return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < params->size; i++)
        if (params->data[i] >= graph->nValues)
            return OH_NN_INVALID_PARAMETER;
    if (!nnrti_ohnn_one_of((int64_t)op - 1, OH_NN_OPS_GATHER_ND - 1))
        return OH_NN_INVALID_PARAMETER;
    row = &nnrti_ohnn_ops[op - 1];
    if (in->size < row->minIn || in->size > row->maxIn || out->size < row->minOut || out->size > row->maxOut)
        return OH_NN_INVALID_PARAMETER;
    memset(&n, 0, sizeof(n));
    n.op = op;
    n.nIn = in->size;
    n.nOut = out->size;
    if ((code = nnrti_ohnn_attributes(graph, &n, params)) != OH_NN_SUCCESS)
        return code;
    n.in = (uint32_t *)nnrti_ohnn_copy(&graph->blocks, in->data, n.nIn, sizeof(*n.in));
    n.out = (uint32_t *)nnrti_ohnn_copy(&graph->blocks, out->data, n.nOut, sizeof(*n.out));
    grown = (nnrti_ohnn_node *)nnrti_compat_grow(graph->nodes, graph->nNodes, &graph->roomNodes, sizeof(*grown));
    if (grown != NULL)
        graph->nodes = grown;
    if (grown == NULL || n.in == NULL || n.out == NULL)
        return OH_NN_MEMORY_ERROR;
    graph->nodes[graph->nNodes++] = n;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SpecifyInputsAndOutputs(OH_NNModel *model,
                                                                  const OH_NN_UInt32Array *inputIndices,
                                                                  const OH_NN_UInt32Array *outputIndices)
{
    nnrti_ohnn_graph *graph;
    uint32_t *in, *out;
    if (model == NULL || inputIndices == NULL || outputIndices == NULL)
        return OH_NN_INVALID_PARAMETER;
    graph = model->graph;
    if (model->graph->finished || graph->nIn != 0)
        return OH_NN_OPERATION_FORBIDDEN;
    if (!nnrti_ohnn_in_and_out(graph, inputIndices, outputIndices))
        return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < inputIndices->size; i++)
        if (graph->values[inputIndices->data[i]].data != NULL)
            return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < outputIndices->size; i++)
        if (graph->values[outputIndices->data[i]].data != NULL)
            return OH_NN_INVALID_PARAMETER;
    in = (uint32_t *)nnrti_ohnn_copy(&graph->blocks, inputIndices->data, inputIndices->size, sizeof(*in));
    out = (uint32_t *)nnrti_ohnn_copy(&graph->blocks, outputIndices->data, outputIndices->size, sizeof(*out));
    if (in == NULL || out == NULL)
        return OH_NN_MEMORY_ERROR;
    graph->inputs = in;
    graph->outputs = out;
    graph->nIn = inputIndices->size;
    graph->nOut = outputIndices->size;
    return OH_NN_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_lower */

/* Validates the graph: every operand has one producer (a node, an input or a constant), there are no cycles, and inputs
   and outputs are still data tensors, inputs without a constant value. Allocates its tables in *blocks. */
static OH_NN_ReturnCode nnrti_ohnn_check_graph(const nnrti_ohnn_graph *graph, nnrti_ohnn_block **blocks)
{
    /* writer[t]: index + 1 of the node that writes tensor t, 0: none. Depth-first search over the nodes: asked[n] is
       the node from which n was reached, state 1 is on the path, 2 is done. */
    uint32_t *writer = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nValues, sizeof(*writer));
    uint32_t *next = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nNodes, sizeof(*next));
    uint32_t *asked = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nNodes, sizeof(*asked));
    uint8_t *state = (uint8_t *)nnrti_ohnn_keep(blocks, graph->nNodes, sizeof(*state));
    bool *input = (bool *)nnrti_ohnn_keep(blocks, graph->nValues, sizeof(*input));
    if (writer == NULL || next == NULL || asked == NULL || state == NULL || input == NULL)
        return OH_NN_MEMORY_ERROR;
    for (uint32_t i = 0; i < graph->nIn + graph->nOut; i++)
        if (graph->values[i < graph->nIn ? graph->inputs[i] : graph->outputs[i - graph->nIn]].type != OH_NN_TENSOR ||
            (i < graph->nIn && graph->values[graph->inputs[i]].data != NULL))
            return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < graph->nIn; i++)
        input[graph->inputs[i]] = true;
    for (uint32_t i = 0; i < graph->nNodes; i++)
        for (uint32_t k = 0; k < graph->nodes[i].nOut; k++) {
            const uint32_t t = graph->nodes[i].out[k];
            if (writer[t] != 0 || input[t] || graph->values[t].data != NULL || graph->values[t].type != OH_NN_TENSOR)
                return OH_NN_INVALID_PARAMETER;
            writer[t] = i + 1;
        }
    for (uint32_t i = 0; i < graph->nNodes; i++) {
        uint32_t at = i;
        if (state[i] != 0)
            continue;
        state[i] = 1;
        asked[i] = UINT32_MAX;
        while (at != UINT32_MAX) {
            const nnrti_ohnn_node *n = &graph->nodes[at];
            uint32_t t, from;
            if (next[at] == n->nIn) {
                state[at] = 2; /* all its inputs are done */
                at = asked[at];
                continue;
            }
            t = n->in[next[at]++];
            from = writer[t];
            if (graph->values[t].type != OH_NN_TENSOR || (from == 0 && !input[t] && graph->values[t].data == NULL))
                return OH_NN_INVALID_PARAMETER;
            if (from == 0 || state[from - 1] == 2)
                continue;
            if (state[from - 1] == 1)
                return OH_NN_INVALID_PARAMETER; /* a cycle */
            state[from - 1] = 1;
            asked[from - 1] = at;
            at = from - 1;
        }
    }
    return OH_NN_SUCCESS;
}

/* Tensor and node tables of the NNRT_Model under construction. */
typedef struct nnrti_ohnn_tables {
    NNRT_Tensor *tensors;
    NNRT_Node *nodes;
    uint32_t nTensors, nNodes;
} nnrti_ohnn_tables;

/* Rank of a type in implicit conversions: the operand of the lower rank is converted. 0: no conversion. */
static int nnrti_ohnn_type_rank(OH_NN_DataType type)
{
    static const uint8_t order[] = {0, 1, 2, 3, 4, 5, 2, 0, 0, 0, 6, 7, 8}; /* indexed by OH_NN_DataType */
    return order[type];
}

/* Returns the common type of operands of types a and b; UNKNOWN: there is none. */
static OH_NN_DataType nnrti_ohnn_common_type(OH_NN_DataType a, OH_NN_DataType b)
{
    const int first = nnrti_ohnn_type_rank(a), second = nnrti_ohnn_type_rank(b);
    if (first == 0 || second == 0)
        return OH_NN_UNKNOWN;
    if (first == second)
        return a == b ? a : OH_NN_INT16; /* INT8 and UINT8 */
    return first > second ? a : b;
}

/* Operations with implicit conversion of their two inputs. */
static bool nnrti_ohnn_converts(OH_NN_OperationType op)
{
    switch (op) {
    case OH_NN_OPS_DIV:
    case OH_NN_OPS_MAXIMUM:
    case OH_NN_OPS_MINIMUM:
    case OH_NN_OPS_MOD:
    case OH_NN_OPS_POW:
    case OH_NN_OPS_SQUARED_DIFFERENCE:
    case OH_NN_OPS_EQUAL:
    case OH_NN_OPS_NOT_EQUAL:
    case OH_NN_OPS_LESS:
    case OH_NN_OPS_LESS_EQUAL:
    case OH_NN_OPS_GREATER:
    case OH_NN_OPS_GREATER_EQUAL: return true;
    default: return false;
    }
}

/* Returns a copy of a constant, converted to `type`; NULL: out of memory. */
static void *nnrti_ohnn_converted(nnrti_ohnn_graph *graph, const NNRT_Tensor *x, NNRT_DataType type, uint32_t *bytes)
{
    const size_t count = x->data.dataSize / nnrt_type_size(x->dataType), size = count * nnrt_type_size(type);
    void *data = size <= UINT32_MAX ? nnrti_ohnn_keep(&graph->blocks, size, 1) : NULL;
    nnrt_view from, to;
    if (data == NULL)
        return NULL;
    memset(&from, 0, sizeof(from));
    from.rank = 1;
    from.strides[0] = 1;
    to = from;
    from.dataType = x->dataType;
    to.dataType = type;
    *bytes = (uint32_t)size;
    for (size_t done = 0; done < count; done += (size_t)to.dims[0]) {
        from.dims[0] = to.dims[0] = count - done < INT32_MAX ? (int32_t)(count - done) : INT32_MAX;
        from.data = (uint8_t *)x->data.addr + done * nnrt_type_size(x->dataType);
        to.data = (uint8_t *)data + done * nnrt_type_size(type);
        (void)nnrt_cast(NULL, &from, &to);
    }
    return data;
}

/* Returns "KIND: NUMBER", in the graph's memory; NULL: out of memory. */
static const char *nnrti_ohnn_numbered(nnrti_ohnn_graph *graph, const char *kind, uint32_t number)
{
    char name[32];
    (void)nnrt_text(name, sizeof(name), "%s: %u", kind, number);
    return (const char *)nnrti_ohnn_copy(&graph->blocks, name, strlen(name) + 1, 1);
}

/* Adds a node without operands. */
static NNRT_Node *nnrti_ohnn_add_node(nnrti_ohnn_tables *m, const nnrt_op *op, const void *attr)
{
    NNRT_Node *node = &m->nodes[m->nNodes++];
    node->name = "";
    node->nodeType = op->type;
    node->nodeAttr.data = attr;
    node->nodeAttr.size = op->attr->bytes;
    node->quantType = NNRT_QUANT_TYPE_NONE;
    return node;
}

/* Replaces *operand by a tensor converted to `type`: constants are converted now, other tensors by a CAST node. */
static OH_NN_ReturnCode nnrti_ohnn_convert(nnrti_ohnn_graph *graph, nnrti_ohnn_tables *m, uint32_t *operand,
                                           NNRT_DataType type)
{
    const nnrt_op *op = nnrt_op_find(NNRT_NODE_TYPE_CAST);
    const NNRT_Tensor *x = &m->tensors[*operand];
    NNRT_Tensor *t = &m->tensors[m->nTensors];
    NNRT_Node *node;
    uint32_t *io;
    void *attr;
    if (x->dataType == type || x->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return OH_NN_SUCCESS;
    *t = *x;
    if ((t->name = nnrti_ohnn_numbered(graph, "Converted", m->nTensors)) == NULL)
        return OH_NN_MEMORY_ERROR;
    t->dataType = type;
    if (x->data.addr != NULL) {
        if ((t->data.addr = nnrti_ohnn_converted(graph, x, type, &t->data.dataSize)) == NULL)
            return OH_NN_MEMORY_ERROR;
        t->data.bufferSize = t->data.dataSize;
        *operand = m->nTensors++;
        return OH_NN_SUCCESS;
    }
    if (op == NULL)
        return OH_NN_FAILED; /* the build excludes CAST (NNRT_SELECT) */
    if ((io = (uint32_t *)nnrti_ohnn_keep(&graph->blocks, 2, sizeof(*io))) == NULL ||
        (attr = nnrti_ohnn_keep(&graph->blocks, 1, op->attr->bytes)) == NULL)
        return OH_NN_MEMORY_ERROR;
    io[0] = *operand;
    io[1] = *operand = m->nTensors++;
    nnrt_attr_defaults(op->attr, attr);
    node = nnrti_ohnn_add_node(m, op, attr);
    node->inputIndex = NNRT_Uint32List_make(io, 1);
    node->outputIndex = NNRT_Uint32List_make(io + 1, 1);
    return OH_NN_SUCCESS;
}

/* Converts the operands of an operation to the types that its node requires. */
static OH_NN_ReturnCode nnrti_ohnn_convert_operands(nnrti_ohnn_graph *graph, nnrti_ohnn_tables *m,
                                                    const nnrti_ohnn_node *n, uint32_t *operands)
{
    const nnrti_ohnn_value *x = &graph->values[n->in[0]], *y = n->nIn > 1 ? &graph->values[n->in[1]] : x;
    OH_NN_DataType type;
    OH_NN_ReturnCode code;
    if (n->op == OH_NN_OPS_TOP_K && y->dataType == OH_NN_INT8)
        return nnrti_ohnn_convert(graph, m, &operands[1], NNRT_DATA_TYPE_INT32);
    if (!nnrti_ohnn_converts(n->op) || x->dataType == y->dataType || x->quantCount > 0 || y->quantCount > 0 ||
        (type = nnrti_ohnn_common_type(x->dataType, y->dataType)) == OH_NN_UNKNOWN)
        return OH_NN_SUCCESS;
    code = nnrti_ohnn_convert(graph, m, &operands[0], nnrti_ohnn_types[type]);
    return code == OH_NN_SUCCESS ? nnrti_ohnn_convert(graph, m, &operands[1], nnrti_ohnn_types[type]) : code;
}

/* Checks whether the model has an operator, other than INSTANCE_NORM, that depends on the layout of images. */
static bool nnrti_ohnn_has_layout_op(const nnrti_ohnn_graph *graph)
{
    for (uint32_t i = 0; i < graph->nNodes; i++) {
        const nnrt_op *op = nnrt_op_find(nnrti_ohnn_ops[graph->nodes[i].op - 1].type);
        if (graph->nodes[i].op != OH_NN_OPS_INSTANCE_NORM && op != NULL && (op->flags & NNRT_OP_LAYOUT) != 0)
            return true;
    }
    return false;
}

/* Checks whether input 0 of this INSTANCE_NORM is channels first. Rank 3 is [N,C,D], whatever the format. With a higher
   rank and no format it is channels first if the length of scale equals the size of axis 1 and cannot equal that of the
   last axis. If the model has other operators, which read such tensors as channels last, it must state the format. */
static bool nnrti_ohnn_channels_first(const nnrti_ohnn_graph *graph, const nnrti_ohnn_node *n)
{
    const nnrti_ohnn_value *x = &graph->values[n->in[0]], *scale = &graph->values[n->in[1]];
    if (x->rank == 3)
        return true;
    return nnrti_ohnn_formats[x->format] == NNRT_FORMAT_NONE && x->rank > 3 && scale->rank == 1 && !scale->dynamic &&
           (x->dims[1] == scale->dims[0] || x->dims[1] < 0) && x->dims[x->rank - 1] > 0 &&
           x->dims[x->rank - 1] != scale->dims[0] && !nnrti_ohnn_has_layout_op(graph);
}

/* Sets the kernel size and the channels of a convolution, from the weight [outChannel,kH,kW,inChannel/group]. */
static OH_NN_ReturnCode nnrti_ohnn_lower_convolution(nnrti_ohnn_graph *graph, const nnrti_ohnn_node *n)
{
    const nnrti_ohnn_value *x = &graph->values[n->in[0]], *w = &graph->values[n->in[1]];
    const int32_t channels = x->rank != 4 ? -1 : x->dims[x->format == OH_NN_FORMAT_NCHW ? 1 : 3];
    int64_t *window;
    if (w->rank != 4 || w->dynamic)
        return OH_NN_SUCCESS;
    if ((window = (int64_t *)nnrti_ohnn_keep(&graph->blocks, 2, sizeof(*window))) == NULL)
        return OH_NN_MEMORY_ERROR;
    window[0] = w->dims[1];
    window[1] = w->dims[2];
    if (n->op == OH_NN_OPS_CONV2D_TRANSPOSE) {
        NNRT_Conv2dTransposeFusion *a = (NNRT_Conv2dTransposeFusion *)n->attr;
        a->kernelSize = nnrt_int64_list(window, 2);
        a->inChannel = channels > 0 ? channels : 0;
        a->outChannel = w->dims[0];
    } else {
        NNRT_Conv2DFusion *a = (NNRT_Conv2DFusion *)n->attr;
        if (n->op == OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE) {
            if (channels <= 0)
                return OH_NN_FAILED;
            a->group = channels;
        }
        a->kernelSize = nnrt_int64_list(window, 2);
        a->inChannel = channels > 0 ? channels : 0;
        a->outChannel = w->dims[0];
    }
    return OH_NN_SUCCESS;
}

/* Adapts a node to differences between OH_NN's operation and nnrt's operator. FAILED: it cannot be expressed. */
static OH_NN_ReturnCode nnrti_ohnn_lower_node(nnrti_ohnn_graph *graph, const nnrti_ohnn_node *n, NNRT_Node *node,
                                              NNRT_Tensor *tensors, const uint32_t *number)
{
    const nnrti_ohnn_value *x = &graph->values[n->in[0]], *y = &graph->values[n->out[0]];
    const nnrti_ohnn_value *w = n->nIn > 1 ? &graph->values[n->in[1]] : x;
    nnrti_param_value elements;
    int64_t type;
    switch (n->op) {
    case OH_NN_OPS_CAST: /* OH_NN has the target type as an input; nnrt takes it from the output tensor */
        elements = nnrti_ohnn_elements(w);
        if (nnrti_param_scalar(NNRTI_PARAM_TYPE, &elements, &type) != NULL || type == OH_NN_UNKNOWN ||
            !nnrti_ohnn_one_of(type, OH_NN_FLOAT64) || (y->dataType != OH_NN_UNKNOWN && type != (int64_t)y->dataType))
            return OH_NN_FAILED;
        tensors[number[n->out[0]]].dataType = nnrti_ohnn_types[type];
        node->inputIndex.count = 1;
        break;
    case OH_NN_OPS_FULL_CONNECTION:
        if (!((const NNRT_FullConnection *)n->attr)->hasBias)
            node->inputIndex.count = 2;
        break;
    case OH_NN_OPS_QUANT_DTYPE_CAST:
        if (!n->axis || (x->quantCount < 2 && y->quantCount < 2)) {
            NNRT_QuantDTypeCast *plain = (NNRT_QuantDTypeCast *)nnrti_ohnn_keep(&graph->blocks, 1, sizeof(*plain));
            if (plain == NULL)
                return OH_NN_MEMORY_ERROR;
            plain->srcT = ((const NNRT_QuantDTypeCastV2 *)n->attr)->srcT;
            plain->dstT = ((const NNRT_QuantDTypeCastV2 *)n->attr)->dstT;
            node->nodeType = NNRT_NODE_TYPE_QUANT_DTYPE_CAST;
            node->nodeAttr.data = plain;
            node->nodeAttr.size = (uint32_t)sizeof(*plain);
        }
        break;
    case OH_NN_OPS_INSTANCE_NORM:
        if (nnrti_ohnn_channels_first(graph, n))
            tensors[number[n->in[0]]].format = tensors[number[n->out[0]]].format = NNRT_FORMAT_NCHW;
        break;
    case OH_NN_OPS_CONV2D:
    case OH_NN_OPS_CONV2D_TRANSPOSE:
    case OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE: return nnrti_ohnn_lower_convolution(graph, n);
    default: break;
    }
    return OH_NN_SUCCESS;
}

/* Quantization axis of tensor t with several parameters, as axis + 1; 0: the axis that node n uses by default. That one
   is preferred if its size fits, then the channel axis of the tensor's format, then axis 0, then the last axis. */
static int32_t nnrti_ohnn_quant_axis(const nnrti_ohnn_graph *graph, uint32_t t, const nnrti_ohnn_node *n)
{
    const nnrti_ohnn_value *v = &graph->values[t];
    const uint32_t last = v->rank - 1, own = v->format == OH_NN_FORMAT_NCHW && v->rank > 1 ? 1 : last;
    const bool second = n != NULL && n->nIn > 1 && n->in[1] == t;
    int64_t usual = own;
    if (second && (n->op == OH_NN_OPS_CONV2D || n->op == OH_NN_OPS_CONV2D_TRANSPOSE ||
                   n->op == OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE || n->op == OH_NN_OPS_FULL_CONNECTION))
        usual = 0;
    if (second && n->op == OH_NN_OPS_MATMUL && v->rank > 1)
        usual = ((const NNRT_MatMulFusion *)n->attr)->transposeB ? last - 1 : last;
    if (n != NULL && n->op == OH_NN_OPS_QUANT_DTYPE_CAST && n->axis)
        usual = ((const NNRT_QuantDTypeCastV2 *)n->attr)->axis;
    if (usual < 0)
        usual += v->rank;
    if (nnrti_ohnn_one_of(usual, last) && v->dims[usual] > 0 && (uint32_t)v->dims[usual] == v->quantCount)
        return 0;
    if ((v->format == OH_NN_FORMAT_NCHW || v->format == OH_NN_FORMAT_NHWC) && v->dims[own] > 0 &&
        (uint32_t)v->dims[own] == v->quantCount)
        return (int32_t)own + 1;
    return v->dims[0] > 0 && (uint32_t)v->dims[0] == v->quantCount ? 1 : (int32_t)last + 1;
}

/* Adds the data tensors to the model. reader[t]: the last node that reads tensor t, or else the first that writes it.
   */
static OH_NN_ReturnCode nnrti_ohnn_lower_tensors(nnrti_ohnn_graph *graph, nnrti_ohnn_tables *to, uint32_t *number,
                                                 const nnrti_ohnn_node **reader)
{
    for (uint32_t i = 0; i < graph->nNodes; i++)
        for (uint32_t k = graph->nodes[i].nIn + graph->nodes[i].nOut; k-- > 0;) {
            const nnrti_ohnn_node *n = &graph->nodes[i];
            const uint32_t t = k < n->nIn ? n->in[k] : n->out[k - n->nIn];
            reader[t] = k < n->nIn || reader[t] == NULL ? n : reader[t];
        }
    for (uint32_t i = 0; i < graph->nValues; i++) {
        const nnrti_ohnn_value *v = &graph->values[i];
        NNRT_Tensor *t = &to->tensors[to->nTensors];
        if (v->type != OH_NN_TENSOR)
            continue;
        if ((t->name = nnrti_ohnn_numbered(graph, "Tensor", i)) == NULL) /* the program's names need not be unique */
            return OH_NN_MEMORY_ERROR;
        number[i] = to->nTensors++;
        t->dataType = nnrti_ohnn_types[v->dataType];
        t->dims = NNRT_Int32List_make(v->dims, v->rank);
        t->format = nnrti_ohnn_formats[v->format];
        t->data.fd = -1;
        if (v->data != NULL) {
            t->data.addr = v->data;
            t->data.bufferSize = t->data.dataSize = (uint32_t)v->bytes;
        }
        t->quantParams = NNRT_QuantParamList_make(v->quant, v->quantCount);
        t->quantAxis = v->quantCount > 1 ? nnrti_ohnn_quant_axis(graph, i, reader[i]) : 0;
    }
    return OH_NN_SUCCESS;
}

/* Adds the nodes of operation i to the model: conversions of its operands, then its own. */
static OH_NN_ReturnCode nnrti_ohnn_lower_operation(nnrti_ohnn_graph *graph, nnrti_ohnn_tables *to, uint32_t i,
                                                   const uint32_t *number)
{
    const nnrti_ohnn_node *n = &graph->nodes[i];
    uint32_t *operands = (uint32_t *)nnrti_ohnn_keep(&graph->blocks, n->nIn + n->nOut, sizeof(*operands));
    NNRT_Node *node;
    OH_NN_ReturnCode code;
    if (operands == NULL)
        return OH_NN_MEMORY_ERROR;
    for (uint32_t k = 0; k < n->nIn + n->nOut; k++)
        operands[k] = number[k < n->nIn ? n->in[k] : n->out[k - n->nIn]];
    if ((code = nnrti_ohnn_convert_operands(graph, to, n, operands)) != OH_NN_SUCCESS)
        return code;
    node = nnrti_ohnn_add_node(to, nnrt_op_find(nnrti_ohnn_ops[n->op - 1].type), n->attr);
    node->inputIndex = NNRT_Uint32List_make(operands, n->nIn);
    node->outputIndex = NNRT_Uint32List_make(operands + n->nIn, n->nOut);
    if (graph->values[n->out[0]].quantCount > 0)
        node->quantType = NNRT_QUANT_TYPE_ALL;
    return nnrti_ohnn_lower_node(graph, n, node, to->tensors, number);
}

/* Builds graph->model, in graph->blocks. Does not validate: the model of an invalid graph is invalid. */
static OH_NN_ReturnCode nnrti_ohnn_lower(nnrti_ohnn_graph *graph)
{
    nnrti_ohnn_block **blocks = &graph->blocks;
    const size_t room = 2 * (size_t)graph->nNodes; /* for converted operands */
    uint32_t *number = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nValues, sizeof(*number));
    const nnrti_ohnn_node **reader = (const nnrti_ohnn_node **)nnrti_ohnn_keep(blocks, graph->nValues, sizeof(*reader));
    NNRT_Tensor *tensors = (NNRT_Tensor *)nnrti_ohnn_keep(blocks, graph->nValues + room, sizeof(*tensors));
    NNRT_Node *nodes = (NNRT_Node *)nnrti_ohnn_keep(blocks, graph->nNodes + room, sizeof(*nodes));
    uint32_t *all = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nNodes + room, sizeof(*all));
    uint32_t *operation = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nNodes + room, sizeof(*operation));
    uint32_t *io = (uint32_t *)nnrti_ohnn_keep(blocks, graph->nIn + graph->nOut, sizeof(*io));
    NNRT_Model *m = (NNRT_Model *)nnrti_ohnn_keep(blocks, 1, sizeof(*m));
    NNRT_SubGraph *main = (NNRT_SubGraph *)nnrti_ohnn_keep(blocks, 1, sizeof(*main));
    nnrti_ohnn_tables to = {tensors, nodes, 0, 0};
    OH_NN_ReturnCode code;
    if (number == NULL || reader == NULL || tensors == NULL || nodes == NULL || all == NULL || operation == NULL ||
        io == NULL || m == NULL || main == NULL)
        return OH_NN_MEMORY_ERROR;
    if ((code = nnrti_ohnn_lower_tensors(graph, &to, number, reader)) != OH_NN_SUCCESS)
        return code;
    for (uint32_t i = 0, k = 0; i < graph->nNodes; i++) {
        if ((code = nnrti_ohnn_lower_operation(graph, &to, i, number)) != OH_NN_SUCCESS)
            return code;
        for (; k < to.nNodes; k++) {
            all[k] = k;
            operation[k] = i;
        }
    }
    for (uint32_t i = 0; i < graph->nIn + graph->nOut; i++)
        io[i] = number[i < graph->nIn ? graph->inputs[i] : graph->outputs[i - graph->nIn]];
    m->name = main->name = "";
    m->inputIndex = main->inputIndices = NNRT_Uint32List_make(io, graph->nIn);
    m->outputIndex = main->outputIndices = NNRT_Uint32List_make(io + graph->nIn, graph->nOut);
    main->nodeIndices = NNRT_Uint32List_make(all, to.nNodes);
    m->nodes = NNRT_NodeList_make(nodes, to.nNodes);
    m->allTensors = NNRT_TensorList_make(tensors, to.nTensors);
    m->subGraph = NNRT_SubGraphList_make(main, 1);
    graph->operation = operation;
    graph->model = m;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_Finish(OH_NNModel *model)
{
    nnrti_ohnn_block *temporary = NULL;
    nnrti_ohnn_graph *graph;
    OH_NN_ReturnCode code;
    if (model == NULL)
        return OH_NN_INVALID_PARAMETER;
    graph = model->graph;
    if (graph->finished || graph->nValues == 0 || graph->nNodes == 0 || graph->nIn == 0)
        return OH_NN_OPERATION_FORBIDDEN;
    if ((code = nnrti_ohnn_lower(graph)) == OH_NN_SUCCESS) {
        code = nnrti_ohnn_check_graph(graph, &temporary);
        nnrti_ohnn_drop(temporary);
    }
    graph->finished = code == OH_NN_SUCCESS;
    return code;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t deviceID,
                                                                 const bool **isSupported, uint32_t *opCount)
{
    nnrt_device *device = nnrti_ohnn_device(deviceID);
    uint32_t count;
    bool *answers;
    if (model == NULL || isSupported == NULL || *isSupported != NULL || opCount == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (!model->graph->finished)
        return OH_NN_OPERATION_FORBIDDEN;
    if (device == NULL)
        return OH_NN_FAILED;
    count = model->graph->model->nodes.count;
    if ((answers = (bool *)calloc(count, sizeof(*answers))) == NULL)
        return OH_NN_MEMORY_ERROR;
    if (nnrt_device_supported(device, model->graph->model, NULL, answers, count, NULL, NULL) != NNRT_SUCCESS) {
        free(answers);
        return OH_NN_FAILED;
    }
    for (uint32_t i = 0, last = UINT32_MAX; i < count; i++) { /* several nodes may belong to one operation */
        const uint32_t to = model->graph->operation[i];
        answers[to] = answers[i] && (to != last || answers[to]);
        last = to;
    }
    free(model->supported);
    model->supported = answers;
    *isSupported = answers;
    *opCount = model->graph->nNodes;
    return OH_NN_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Result of Build. Reference-counted: the compilation and its executors are users. */
typedef struct nnrti_ohnn_compiled {
    int32_t users;
    nnrti_ohnn_graph *graph;
    nnrt_device *device;
    size_t id;                    /* device id */
    nnrt_cache *cache;            /* of the device; NULL: none */
    uint8_t *kept;                /* data that the cache was read from, or NULL */
    NNRT_PreparedModel *prepared; /* NULL: each executor prepares the model for the shapes of its runs */
    NNRT_ModelConfig config;
    NNRT_Extension *extensions;
    uint32_t nExtensions;
    nnrti_ohnn_mutex mutex; /* guards a prepared model without RunIn, which serves one thread at a time */
#if NNRT_THREADS
    nnrt_pool *pool; /* of the performance mode; NULL: runs use the calling thread only */
#endif
} nnrti_ohnn_compiled;

struct OH_NNCompilation {
    nnrti_ohnn_graph *graph; /* source: the graph of a model, whose handle may be destroyed; at most one of graph, path,
                                offline, imported */
    char *path;
    const void *offline, *imported;
    size_t offlineBytes, importedBytes;
    size_t device;
    char *cachePath; /* NULL: no cache */
    uint32_t version;
    bool float16, tried;
    OH_NN_PerformanceMode mode;
    OH_NN_Priority priority;
    NNRT_Extension *extensions;
    uint32_t nExtensions, roomExtensions;
    nnrti_ohnn_compiled *compiled; /* NULL: not built */
};

static void nnrti_ohnn_extensions_free(NNRT_Extension *extensions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)extensions[i].name);
        free((void *)(uintptr_t)extensions[i].data);
    }
    free(extensions);
}

static void nnrti_ohnn_compiled_leave(nnrti_ohnn_compiled *compiled)
{
    bool last;
    if (compiled == NULL)
        return;
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    last = --compiled->users == 0;
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    if (!last)
        return;
    nnrt_device_release(compiled->device, compiled->prepared);
#if NNRT_THREADS
    nnrt_pool_destroy(compiled->pool);
#endif
    nnrt_cache_destroy(compiled->cache);
    free(compiled->kept);
    nnrti_ohnn_graph_leave(compiled->graph);
    nnrti_ohnn_extensions_free(compiled->extensions, compiled->nExtensions);
    NNRTI_OHNN_END(&compiled->mutex);
    free(compiled);
}

/* An input or output of an executor. */
typedef struct nnrti_ohnn_io {
    const char *name;  /* in the NNRT_Model, for the device */
    const char *label; /* the program's name */
    NNRT_DataType dataType;
    OH_NN_Format format;
    nnrt_dims dims;                                       /* in the model */
    nnrt_dims planned;                                    /* of an output: in the prepared model */
    nnrt_dims shape;                                      /* of an output: in the last run */
    size_t least[NNRTI_OHNN_DIMS], most[NNRTI_OHNN_DIMS]; /* of an input: its dimension ranges */
    bool handed;                                          /* GetInputDimRange returned these arrays */
    /* of the deprecated functions */
    bool set, gone; /* gone: its memory was destroyed */
    void *data;
    size_t bytes;
    const OH_NN_Memory *memory; /* NULL: uses `data` of the program, or `own` */
    void *own;                  /* copy of an input */
    size_t ownBytes;
    nnrt_dims now; /* of an input: shape of the next run */
} nnrti_ohnn_io;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_cache */

#define NNRTI_OHNN_NO_VERSION UINT32_MAX

/* Key of metadata in a cache: "ohnn.3" for the fourth tensor (inputs, then outputs). Its value "FORMAT NAME" stores the
   OH_NN format and name, which an NNRT_Model does not keep. */
static void nnrti_ohnn_cache_key(char *key, size_t size, uint32_t i)
{
    (void)nnrt_text(key, size, "ohnn.%u", i);
}

static bool nnrti_ohnn_io_make(nnrti_ohnn_io *io, const nnrti_ohnn_graph *graph, uint32_t i);

/* Checks whether a compilation keeps its exported cache in memory. On an accelerator or a GPU, compiling again may take
   minutes. Other devices would hold their weights twice, so an export prepares the model again. */
static bool nnrti_ohnn_cache_held(const nnrt_device *device)
{
    const NNRT_DeviceType type = nnrt_device_type(device, NULL);
    return type == NNRT_DEVICE_TYPE_ACCELERATOR || type == NNRT_DEVICE_TYPE_GPU;
}

/* Calls nnrt_cache_save_memory for the cache of *c; prepares the model again if *c keeps none. */
static NNRT_ReturnCode nnrti_ohnn_cache_give(const nnrti_ohnn_compiled *c, const nnrt_save_desc *desc, void *out,
                                             size_t size, size_t *bytes)
{
    nnrt_cache *cache = c->cache;
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (cache == NULL && (c->prepared == NULL || !nnrt_device_can(c->device, NNRT_ABILITY_MODEL_CACHE, NULL)))
        return NNRT_OPERATION_FORBIDDEN;
    if (cache == NULL && (code = nnrt_cache_create(&cache, NULL, NULL)) == NNRT_SUCCESS) {
        code = nnrt_cache_prepare(cache, c->device, c->graph->model, &c->config, &prepared);
        nnrt_device_release(c->device, prepared);
    }
    if (code == NNRT_SUCCESS)
        code = nnrt_cache_save_memory(cache, desc, out, size, bytes, NULL);
    if (cache != c->cache)
        nnrt_cache_destroy(cache);
    return code;
}

/* Serializes the cache of *c into a buffer; out NULL: only *bytes is set. SAVE_CACHE_EXCEPTION: the device made no
   cache. */
static OH_NN_ReturnCode nnrti_ohnn_cache_save(const nnrti_ohnn_compiled *c, void *out, size_t size, size_t *bytes)
{
    const NNRT_Model *m = c->graph->model;
    const uint32_t count = m->inputIndex.count + m->outputIndex.count;
    nnrti_ohnn_block *blocks = NULL;
    nnrt_metadata *metadata = (nnrt_metadata *)nnrti_ohnn_keep(&blocks, count, sizeof(*metadata));
    NNRT_ReturnCode code = metadata != NULL ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY;
    nnrt_save_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.metadata = metadata;
    desc.metadataCount = count;
    for (uint32_t i = 0; i < count && code == NNRT_SUCCESS; i++) {
        nnrti_ohnn_io io;
        char *text;
        size_t room;
        memset(&io, 0, sizeof(io));
        (void)nnrti_ohnn_io_make(&io, c->graph, i);
        room = strlen(io.label) + sizeof("-2147483648 ");
        if ((text = (char *)nnrti_ohnn_keep(&blocks, room + 16, 1)) == NULL) {
            code = NNRT_OUT_OF_MEMORY;
            break;
        }
        nnrti_ohnn_cache_key(text, 16, i);
        (void)nnrt_text(text + 16, room, "%d ", (int32_t)io.format);
        memcpy(text + 16 + strlen(text + 16), io.label, strlen(io.label) + 1);
        metadata[i].key = text;
        metadata[i].value = text + 16;
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_ohnn_cache_give(c, &desc, out, size, bytes);
    nnrti_ohnn_drop(blocks);
    switch (code) {
    case NNRT_SUCCESS: return OH_NN_SUCCESS;
    case NNRT_INSUFFICIENT_BUFFER: return OH_NN_INVALID_PARAMETER; /* *bytes is the required size */
    case NNRT_OUT_OF_MEMORY: return OH_NN_MEMORY_ERROR;
    default: return OH_NN_SAVE_CACHE_EXCEPTION;
    }
}

/* Loads a model without nodes from a copy of an exported cache. */
static bool nnrti_ohnn_cache_load(nnrti_ohnn_graph *graph, const void *data, size_t bytes)
{
    nnrt_load_desc desc;
    uint8_t *at;
    size_t room;
    memset(&desc, 0, sizeof(desc));
    desc.cache = true;
    if (!nnrt_add_size(bytes, NNRT_ALIGNMENT, &room) || (graph->file = malloc(room)) == NULL)
        return false;
    at = (uint8_t *)graph->file;
    at += (NNRT_ALIGNMENT - (uintptr_t)at % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    memcpy(at, data, bytes);
    if (nnrt_model_load_memory(&graph->loaded, at, bytes, &desc, NULL) != NNRT_SUCCESS)
        return false;
    graph->model = graph->loaded;
    return true;
}

#ifndef NNRT_NO_STDIO

/* CRC-32 as in zlib: reflected 0xEDB88320. */
static uint32_t nnrti_ohnn_crc(const void *data, size_t bytes)
{
    uint32_t crc = 0xFFFFFFFFu, table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = (table[i] >> 1) ^ (0xEDB88320u & (0u - (table[i] & 1u)));
    }
    for (size_t i = 0; i < bytes; i++)
        crc = (crc >> 8) ^ table[(crc ^ ((const uint8_t *)data)[i]) & 0xFFu];
    return ~crc;
}

/* Returns DIRECTORY/PREFIXname, to be freed; PREFIX is the extension ModelName. NULL: out of memory, or a prefix with
   '/', '\' or '\0', which would name another directory. */
static char *nnrti_ohnn_cache_path(const char *directory, const NNRT_Extension *extensions, uint32_t count,
                                   const char *name)
{
    const NNRT_Extension *prefix = NULL;
    size_t length = strlen(directory), prefixed;
    char *path;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(extensions[i].name, "ModelName") == 0)
            prefix = &extensions[i];
    prefixed = prefix != NULL ? prefix->size : 0;
    if (prefixed > 0 && ((const char *)prefix->data)[prefixed - 1] == '\0')
        prefixed--; /* the extension includes the terminating 0 */
    for (size_t i = 0; i < prefixed; i++)
        if (memchr("/\\", ((const char *)prefix->data)[i], 3) != NULL) /* and '\0', the third byte */
            return NULL;
    if ((path = (char *)malloc(length + 1 + prefixed + strlen(name) + 1)) == NULL)
        return NULL;
    memcpy(path, directory, length);
    path[length] = '/';
    if (prefixed > 0)
        memcpy(path + length + 1, prefix->data, prefixed);
    memcpy(path + length + 1 + prefixed, name, strlen(name) + 1);
    return path;
}

#define NNRTI_OHNN_INFO 320 /* maximum bytes of cache_info.nncache */

/* Writes the contents of cache_info.nncache. */
static size_t nnrti_ohnn_info(char *text, size_t device, uint32_t crc, uint32_t version)
{
    char data[NNRTI_OHNN_INFO];
    const size_t bytes = nnrt_text(
        data, sizeof(data),
        "{\"deviceId\":%z,\"fileNumber\":1,\"isExceedRamLimit\":0,\"liteGraphModelId\":0,\"modelCheckSum\":[%u],"
        "\"opVersion\":0,\"version\":%u}",
        device, crc, version);
    return nnrt_text(text, NNRTI_OHNN_INFO, "{\"CheckSum\":%u,\"data\":%s}", nnrti_ohnn_crc(data, bytes), data);
}

/* Reads the number after a key; 0 if the key is missing. */
static uint32_t nnrti_ohnn_info_number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    uint32_t number = 0;
    if (at == NULL)
        return 0;
    for (at += strlen(key); *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint32_t)(*at - '0');
    return number;
}

/* Looks up the cache of a compilation: *data, to be freed, or NULL if there is no usable one. An outdated or damaged
   cache loses its cache_info.nncache. OPERATION_FORBIDDEN: the cache has a newer version. */
static OH_NN_ReturnCode nnrti_ohnn_cache_find(const OH_NNCompilation *c, const nnrt_device *device, uint8_t **data,
                                              size_t *bytes)
{
    char *path = nnrti_ohnn_cache_path(c->cachePath, c->extensions, c->nExtensions, "cache_info.nncache");
    char *kept = nnrti_ohnn_cache_path(c->cachePath, c->extensions, c->nExtensions, "0.nncache");
    char wanted[NNRTI_OHNN_INFO];
    size_t length = 0;
    bool full;
    char *info = (char *)nnrti_compat_read(path, sizeof(wanted), &length, &full);
    OH_NN_ReturnCode code = OH_NN_SUCCESS;
    *data = NULL;
    if (info != NULL) {
        const uint32_t version = nnrti_ohnn_info_number(info, "\"version\":");
        const uint32_t crc = nnrti_ohnn_info_number(info, "\"modelCheckSum\":[");
        const bool good =
            nnrti_ohnn_info(wanted, nnrti_ohnn_id(device), crc, version) == length && memcmp(info, wanted, length) == 0;
        if (good && version > c->version)
            code = OH_NN_OPERATION_FORBIDDEN;
        if (good && version == c->version)
            *data = nnrti_compat_read(kept, SIZE_MAX - 1, bytes, &full);
        if (*data != NULL && nnrti_ohnn_crc(*data, *bytes) != crc) {
            free(*data);
            *data = NULL;
        }
        if (*data == NULL && code == OH_NN_SUCCESS)
            (void)remove(path);
    }
    free(info);
    free(kept);
    free(path);
    return code;
}

/* Writes the cache file, and then cache_info.nncache, which makes it valid. */
static OH_NN_ReturnCode nnrti_ohnn_cache_write(const OH_NNCompilation *c, const nnrti_ohnn_compiled *compiled)
{
    char *path, *kept, info[NNRTI_OHNN_INFO];
    uint8_t *data = NULL;
    size_t bytes = 0;
    NNRT_ReturnCode wrote;
    OH_NN_ReturnCode code;
    if (c->version == NNRTI_OHNN_NO_VERSION)
        return OH_NN_INVALID_PARAMETER;
    if (compiled->prepared == NULL)
        return OH_NN_SUCCESS;
    if ((code = nnrti_ohnn_cache_save(compiled, NULL, 0, &bytes)) != OH_NN_SUCCESS)
        return code;
    path = nnrti_ohnn_cache_path(c->cachePath, compiled->extensions, compiled->nExtensions, "cache_info.nncache");
    kept = nnrti_ohnn_cache_path(c->cachePath, compiled->extensions, compiled->nExtensions, "0.nncache");
    data = (uint8_t *)malloc(bytes);
    if (path == NULL || kept == NULL)
        code = OH_NN_INVALID_PARAMETER;
    else if (data == NULL)
        code = OH_NN_MEMORY_ERROR;
    else
        code = nnrti_ohnn_cache_save(compiled, data, bytes, &bytes);
    if (code == OH_NN_SUCCESS) {
        wrote = nnrt_file_write(kept, data, bytes, NULL);
        code = wrote == NNRT_SUCCESS        ? OH_NN_SUCCESS
               : wrote == NNRT_INVALID_PATH ? OH_NN_INVALID_PARAMETER
                                            : OH_NN_SAVE_CACHE_EXCEPTION;
    }
    if (code == OH_NN_SUCCESS) {
        const size_t length = nnrti_ohnn_info(info, compiled->id, nnrti_ohnn_crc(data, bytes), c->version);
        wrote = nnrt_file_write(path, info, length, NULL);
        code = wrote == NNRT_SUCCESS        ? OH_NN_SUCCESS
               : wrote == NNRT_INVALID_PATH ? OH_NN_INVALID_FILE
                                            : OH_NN_SAVE_CACHE_EXCEPTION;
    }
    free(data);
    free(kept);
    free(path);
    return code;
}

#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_compile */

#define NNRTI_OHNN_MODEL_HAS(p, slot) NNRT_HAS((p)->vtbl, NNRT_PreparedModelVtbl, slot)

static OH_NNCompilation *nnrti_ohnn_compilation(void)
{
    return (OH_NNCompilation *)calloc(1, sizeof(OH_NNCompilation));
}

NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_Construct(const OH_NNModel *model)
{
    OH_NNCompilation *compilation = model != NULL ? nnrti_ohnn_compilation() : NULL;
    if (compilation != NULL)
        compilation->graph = nnrti_ohnn_graph_use(model->graph);
    return compilation;
}

NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelFile(const char *modelPath)
{
    OH_NNCompilation *compilation = modelPath != NULL ? nnrti_ohnn_compilation() : NULL;
    if (compilation != NULL && (compilation->path = nnrti_compat_text(modelPath, strlen(modelPath))) == NULL) {
        free(compilation);
        return NULL;
    }
    return compilation;
}

NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelBuffer(const void *modelBuffer,
                                                                                 size_t modelSize)
{
    OH_NNCompilation *compilation = modelBuffer != NULL && modelSize > 0 ? nnrti_ohnn_compilation() : NULL;
    if (compilation != NULL) {
        compilation->offline = modelBuffer;
        compilation->offlineBytes = modelSize;
    }
    return compilation;
}

NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructForCache(void)
{
    return nnrti_ohnn_compilation();
}

NNRT_OHNN_API void OH_NNCompilation_Destroy(OH_NNCompilation **compilation)
{
    if (compilation == NULL || *compilation == NULL)
        return;
    nnrti_ohnn_compiled_leave((*compilation)->compiled);
    nnrti_ohnn_graph_leave((*compilation)->graph);
    nnrti_ohnn_extensions_free((*compilation)->extensions, (*compilation)->nExtensions);
    free((*compilation)->path);
    free((*compilation)->cachePath);
    free(*compilation);
    *compilation = NULL;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_ExportCacheToBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                                    size_t length, size_t *modelSize)
{
    OH_NN_ReturnCode code;
    if (compilation == NULL || buffer == NULL || length == 0 || modelSize == NULL || compilation->compiled == NULL)
        return OH_NN_INVALID_PARAMETER;
    code = nnrti_ohnn_cache_save(compilation->compiled, (void *)(uintptr_t)buffer, length, modelSize);
    return code == OH_NN_SAVE_CACHE_EXCEPTION ? OH_NN_UNSUPPORTED : code;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_ImportCacheFromBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                                      size_t modelSize)
{
    if (compilation == NULL || buffer == NULL || modelSize == 0)
        return OH_NN_INVALID_PARAMETER;
    if (compilation->tried)
        return OH_NN_OPERATION_FORBIDDEN;
    compilation->imported = buffer;
    compilation->importedBytes = modelSize;
    return OH_NN_SUCCESS;
}

/* Appends a value to the extension's data; false: out of memory. */
static bool nnrti_ohnn_extension_append(NNRT_Extension *e, const void *value, size_t size)
{
    uint8_t *data;
    size_t bytes;
    if (!nnrt_add_size(e->size, size, &bytes) || bytes >= UINT32_MAX || (data = (uint8_t *)malloc(bytes + 1)) == NULL)
        return false;
    memcpy(data, e->data, e->size);
    data[e->size] = '|';
    memcpy(data + e->size + 1, value, size);
    free((void *)(uintptr_t)e->data);
    e->data = data;
    e->size = (uint32_t)bytes + 1;
    return true;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_AddExtensionConfig(OH_NNCompilation *compilation,
                                                                   const char *configName, const void *configValue,
                                                                   const size_t configValueSize)
{
    NNRT_Extension *grown;
    char *name;
    void *value;
    if (compilation == NULL || configName == NULL || configValue == NULL || configValueSize == 0 || *configName == '\0')
        return OH_NN_INVALID_PARAMETER;
    if (compilation->tried)
        return OH_NN_OPERATION_FORBIDDEN;
    for (uint32_t i = 0; i < compilation->nExtensions; i++)
        if (strcmp(compilation->extensions[i].name, configName) == 0)
            return nnrti_ohnn_extension_append(&compilation->extensions[i], configValue, configValueSize)
                       ? OH_NN_SUCCESS
                       : OH_NN_FAILED;
    grown = (NNRT_Extension *)nnrti_compat_grow(compilation->extensions, compilation->nExtensions,
                                                &compilation->roomExtensions, sizeof(*grown));
    if (grown == NULL)
        return OH_NN_FAILED;
    compilation->extensions = grown;
    name = nnrti_compat_text(configName, strlen(configName));
    value = configValueSize < UINT32_MAX ? malloc(configValueSize) : NULL;
    if (name == NULL || value == NULL) {
        free(name);
        free(value);
        return OH_NN_FAILED;
    }
    memcpy(value, configValue, configValueSize);
    grown[compilation->nExtensions].name = name;
    grown[compilation->nExtensions].data = value;
    grown[compilation->nExtensions++].size = (uint32_t)configValueSize;
    return OH_NN_SUCCESS;
}

/* First lines of the setters. */
#define NNRTI_OHNN_SETTER(good)                                                                                        \
    if (!(good))                                                                                                       \
        return OH_NN_INVALID_PARAMETER;                                                                                \
    if (compilation->tried)                                                                                            \
    return OH_NN_OPERATION_FORBIDDEN

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetDevice(OH_NNCompilation *compilation, size_t deviceID)
{
    NNRTI_OHNN_SETTER(compilation != NULL);
    compilation->device = deviceID;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetCache(OH_NNCompilation *compilation, const char *cachePath,
                                                         uint32_t version)
{
    char *path;
    NNRTI_OHNN_SETTER(compilation != NULL && cachePath != NULL);
    if ((path = nnrti_compat_text(cachePath, strlen(cachePath))) == NULL)
        return OH_NN_MEMORY_ERROR;
    free(compilation->cachePath);
    compilation->cachePath = path;
    compilation->version = version;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetPerformanceMode(OH_NNCompilation *compilation,
                                                                   OH_NN_PerformanceMode performanceMode)
{
    NNRTI_OHNN_SETTER(compilation != NULL);
    compilation->mode = performanceMode;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetPriority(OH_NNCompilation *compilation, OH_NN_Priority priority)
{
    NNRTI_OHNN_SETTER(compilation != NULL);
    compilation->priority = priority;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_EnableFloat16(OH_NNCompilation *compilation, bool enableFloat16)
{
    NNRTI_OHNN_SETTER(compilation != NULL);
    compilation->float16 = enableFloat16;
    return OH_NN_SUCCESS;
}

/* Maps the result of loading a .nnrt file. */
static OH_NN_ReturnCode nnrti_ohnn_loaded(NNRT_ReturnCode code)
{
    if (code == NNRT_SUCCESS)
        return OH_NN_SUCCESS;
    return code == NNRT_OUT_OF_MEMORY || code == NNRT_MEMORY_ERROR ? OH_NN_MEMORY_ERROR : OH_NN_INVALID_FILE;
}

/* Sets *foreign if *c has an offline model that is not a .nnrt file. INVALID_PATH: the file cannot be read; FAILED:
   this build has no files. */
static OH_NN_ReturnCode nnrti_ohnn_detect_format(const OH_NNCompilation *c, bool *foreign)
{
    *foreign = c->offline != NULL && !nnrt_file_is(c->offline, c->offlineBytes);
    if (c->path == NULL)
        return OH_NN_SUCCESS;
#ifdef NNRT_NO_STDIO
    return OH_NN_FAILED;
#else
    {
        uint8_t begin[NNRT_FILE_HEADER];
        FILE *file = fopen(c->path, "rb");
        size_t got;
        bool read;
        if (file == NULL)
            return OH_NN_INVALID_PATH;
        got = fread(begin, 1, sizeof(begin), file);
        read = !ferror(file);
        (void)fclose(file);
        *foreign = read && !nnrt_file_is(begin, got);
        return read ? OH_NN_SUCCESS : OH_NN_INVALID_PATH;
    }
#endif
}

/* Loads an offline model that is a .nnrt file. */
static OH_NN_ReturnCode nnrti_ohnn_load(const OH_NNCompilation *c, nnrti_ohnn_graph *graph)
{
    nnrt_load_desc desc;
    OH_NN_ReturnCode code = OH_NN_FAILED;
    memset(&desc, 0, sizeof(desc));
    desc.checksum = true;
    if (c->path == NULL) {
        size_t bytes;
        uint8_t *at;
        if (!nnrt_add_size(c->offlineBytes, NNRT_ALIGNMENT, &bytes) || (graph->file = malloc(bytes)) == NULL)
            return OH_NN_MEMORY_ERROR;
        at = (uint8_t *)graph->file;
        at += (NNRT_ALIGNMENT - (uintptr_t)at % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        memcpy(at, c->offline, c->offlineBytes);
        code = nnrti_ohnn_loaded(nnrt_model_load_memory(&graph->loaded, at, c->offlineBytes, &desc, NULL));
    } else {
#ifndef NNRT_NO_STDIO
        code = nnrti_ohnn_loaded(nnrt_model_load(&graph->loaded, c->path, &desc, NULL));
#endif
    }
    graph->model = graph->loaded;
    return code;
}

/* Checks whether an input has a dynamic dimension. */
static bool nnrti_ohnn_has_dynamic_input(const NNRT_Model *m)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        const NNRT_Int32List *dims = &m->allTensors.data[m->inputIndex.data[i]].dims;
        for (uint32_t k = 0; k < dims->count; k++)
            if (dims->data[k] < 0)
                return true;
    }
    return false;
}

/* An nnrt_reason that writes to the log. */
static void nnrti_ohnn_refused(void *user, uint32_t node, const nnrt_error *error)
{
    const nnrti_ohnn_compiled *const c = (const nnrti_ohnn_compiled *)user;
    nnrt_log_line(c->config.log, NNRT_LOG_WARNING, "OH_NNCompilation_Build: device '%s' does not support node %u: %s",
                  nnrt_device_unique_name(c->device), node, error->message);
}

/* Checks that the device supports the whole model, and prepares it. */
static OH_NN_ReturnCode nnrti_ohnn_prepare(nnrti_ohnn_compiled *c)
{
    const NNRT_Model *m = c->graph->model;
    const bool open = nnrti_ohnn_has_dynamic_input(m);
    NNRT_ModelConfig config = c->config;
    bool *supported, all = true, dynamic;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_error error;
    if (m->nodes.count == 0) { /* imported from a cache */
        code = nnrt_cache_prepare(c->cache, c->device, m, &c->config, &c->prepared);
        return code == NNRT_SUCCESS ? OH_NN_SUCCESS : OH_NN_INVALID_FILE;
    }
    dynamic = open && nnrt_device_can(c->device, NNRT_ABILITY_DYNAMIC_INPUT, &code);
    if (code != NNRT_SUCCESS)
        return OH_NN_UNAVAILABLE_DEVICE;
    if (open && !dynamic) {
        nnrt_log_line(c->config.log, NNRT_LOG_WARNING,
                      "OH_NNCompilation_Build: an input has dynamic dimensions, which device '%s' does not "
                      "support",
                      nnrt_device_unique_name(c->device));
        return OH_NN_FAILED;
    }
    if ((supported = (bool *)calloc(m->nodes.count > 0 ? m->nodes.count : 1, sizeof(*supported))) == NULL)
        return OH_NN_MEMORY_ERROR;
    code = nnrt_device_supported(c->device, m, NULL, supported, m->nodes.count,
                                 c->config.log != NULL ? nnrti_ohnn_refused : NULL, c);
    for (uint32_t i = 0; i < m->nodes.count; i++)
        all = all && supported[i];
    free(supported);
    if (code != NNRT_SUCCESS)
        return OH_NN_UNAVAILABLE_DEVICE;
    if (!all)
        return OH_NN_FAILED;
    memset(&error, 0, sizeof(error));
    config.error = &error;
    if (open) /* INVALID_SHAPE is no refusal then: the device needs the shapes of a run, and prepares the model for them */
        config.log = NULL;
    code = c->cache != NULL ? nnrt_cache_prepare(c->cache, c->device, m, &config, &c->prepared)
                            : nnrt_device_prepare(c->device, m, &config, &c->prepared);
    if (open && code == NNRT_INVALID_SHAPE)
        nnrt_log_line(c->config.log, NNRT_LOG_INFO,
                      "OH_NNCompilation_Build: device '%s' prepares the model for the shapes of a run",
                      nnrt_device_unique_name(c->device));
    else if (open && code != NNRT_SUCCESS)
        nnrt_log_line(c->config.log, NNRT_LOG_WARNING, "OH_NNCompilation_Build: device '%s' refuses the model: %s",
                      nnrt_device_unique_name(c->device), *error.message != '\0' ? error.message : nnrt_code_name(code));
    return code == NNRT_SUCCESS || (open && code == NNRT_INVALID_SHAPE) ? OH_NN_SUCCESS : OH_NN_FAILED;
}

/* Checks that the device supports an option, if it was set (asked); `function` is the setter's name. Returns `failed`
   if the device does not answer. */
static OH_NN_ReturnCode nnrti_ohnn_option(const nnrt_device *device, bool asked, nnrt_ability ability,
                                          const char *function, OH_NN_ReturnCode failed)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    const bool can = !asked || nnrt_device_can(device, ability, &code), told = code == NNRT_SUCCESS;
    if (!can)
        nnrt_log_line(nnrti_ohnn_get_log(), NNRT_LOG_WARNING,
                      "OH_NNCompilation_Build: device '%s' %s OH_NNCompilation_%s", nnrt_device_unique_name(device),
                      told ? "does not support" : "fails to say whether it supports", function);
    if (!told)
        return failed;
    return can ? OH_NN_SUCCESS : OH_NN_OPERATION_FORBIDDEN;
}

/* Checks that the device supports all options that were set. */
static OH_NN_ReturnCode nnrti_ohnn_options(const OH_NNCompilation *c, const nnrt_device *device)
{
    const OH_NN_ReturnCode gone = OH_NN_UNAVAILABLE_DEVICE;
    OH_NN_ReturnCode code;
#ifdef NNRT_NO_STDIO
    if (c->cachePath != NULL)
        return OH_NN_OPERATION_FORBIDDEN;
#endif
    if ((code = nnrti_ohnn_option(device, c->cachePath != NULL, NNRT_ABILITY_MODEL_CACHE, "SetCache", gone)) !=
            OH_NN_SUCCESS ||
        (code = nnrti_ohnn_option(device, c->float16, NNRT_ABILITY_FLOAT16, "EnableFloat16", gone)) != OH_NN_SUCCESS ||
        (code = nnrti_ohnn_option(device, c->mode != OH_NN_PERFORMANCE_NONE, NNRT_ABILITY_PERFORMANCE_MODE,
                                  "SetPerformanceMode", OH_NN_FAILED)) != OH_NN_SUCCESS)
        return code;
    if (!nnrti_ohnn_one_of(c->mode, OH_NN_PERFORMANCE_EXTREME))
        return OH_NN_INVALID_PARAMETER;
    code = nnrti_ohnn_option(device, c->priority != OH_NN_PRIORITY_NONE, NNRT_ABILITY_PRIORITY, "SetPriority", gone);
    if (code != OH_NN_SUCCESS)
        return code;
    return nnrti_ohnn_one_of(c->priority, OH_NN_PRIORITY_HIGH) ? OH_NN_SUCCESS : OH_NN_INVALID_PARAMETER;
}

/* Returns the graph to compile, with a reference for the caller. kept: contents of the cache, or NULL. */
static OH_NN_ReturnCode nnrti_ohnn_source(const OH_NNCompilation *c, const void *kept, size_t bytes,
                                          nnrti_ohnn_graph **graph)
{
    OH_NN_ReturnCode code;
    *graph = NULL;
    if (c->graph != NULL) {
        *graph = nnrti_ohnn_graph_use(c->graph);
        return OH_NN_SUCCESS;
    }
    if (c->path == NULL && c->offline == NULL && c->imported == NULL && kept == NULL)
        return OH_NN_INVALID_PARAMETER;
    if ((*graph = nnrti_ohnn_graph_new()) == NULL)
        return OH_NN_MEMORY_ERROR;
    if (c->imported != NULL)
        code = nnrti_ohnn_cache_load(*graph, c->imported, c->importedBytes) ? OH_NN_SUCCESS : OH_NN_INVALID_FILE;
    else if (c->path == NULL && c->offline == NULL)
        code = nnrti_ohnn_cache_load(*graph, kept, bytes) ? OH_NN_SUCCESS : OH_NN_INVALID_PARAMETER;
    else
        code = nnrti_ohnn_load(c, *graph);
    if (code != OH_NN_SUCCESS)
        nnrti_ohnn_graph_leave(*graph);
    return code;
}

/* Creates the thread pool of the performance mode. The mode is a hint: if this fails, a run uses one thread. */
static void nnrti_ohnn_threads(nnrti_ohnn_compiled *c)
{
#if NNRT_THREADS
    nnrt_pool_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.mode = c->config.mode;
    if (desc.mode <= NNRT_PERFORMANCE_LOW)
        return;
    if (nnrt_pool_create(&c->pool, &desc, &error) == NNRT_SUCCESS)
        c->config.parallel = nnrt_pool_parallel(c->pool);
    else
        nnrt_log_line(c->config.log, NNRT_LOG_WARNING, "OH_NNCompilation_Build: runs use one thread: %s",
                      error.message);
#else
    (void)c;
#endif
}

/* Creates the result of Build, which takes over the caller's reference to the graph. NULL: out of memory, and the
   reference is dropped. */
static nnrti_ohnn_compiled *nnrti_ohnn_compiled_new(OH_NNCompilation *c, nnrt_device *device, nnrti_ohnn_graph *graph)
{
    nnrti_ohnn_compiled *compiled = (nnrti_ohnn_compiled *)calloc(1, sizeof(*compiled));
    if (compiled == NULL || !NNRTI_OHNN_INIT(&compiled->mutex)) {
        free(compiled);
        nnrti_ohnn_graph_leave(graph);
        return NULL;
    }
    compiled->users = 1;
    compiled->graph = graph;
    compiled->device = device;
    compiled->id = nnrti_ohnn_id(device);
    compiled->extensions = c->extensions;
    compiled->nExtensions = c->nExtensions;
    c->extensions = NULL;
    c->nExtensions = 0;
    compiled->config.enableFloat16 = c->float16;
    compiled->config.mode = (NNRT_PerformanceMode)c->mode; /* both enumerations have the same numbers */
    compiled->config.priority = (NNRT_Priority)c->priority;
    compiled->config.extensions = NNRT_ExtensionList_make(compiled->extensions, compiled->nExtensions);
    compiled->config.callerWorkspace = true;
    compiled->config.log = nnrti_ohnn_get_log();
    nnrti_ohnn_threads(compiled);
    return compiled;
}

/* Ends Build: stores the result, or frees it if code is an error. */
static OH_NN_ReturnCode nnrti_ohnn_built(OH_NNCompilation *c, nnrti_ohnn_compiled *compiled, OH_NN_ReturnCode code)
{
    if (code == OH_NN_SUCCESS)
        c->compiled = compiled;
    else
        nnrti_ohnn_compiled_leave(compiled);
    return code;
}

/* Compiles a graph, through a cache with the contents `kept` or NULL. Takes over `kept` and the reference to the graph.
   */
static OH_NN_ReturnCode nnrti_ohnn_compile(OH_NNCompilation *c, nnrt_device *device, nnrti_ohnn_graph *graph,
                                           uint8_t *kept, size_t bytes)
{
    nnrti_ohnn_compiled *compiled = nnrti_ohnn_compiled_new(c, device, graph);
    nnrt_cache_desc cache;
    OH_NN_ReturnCode code = OH_NN_SUCCESS;
    if (compiled == NULL) {
        free(kept);
        return OH_NN_MEMORY_ERROR;
    }
    compiled->kept = kept;
    memset(&cache, 0, sizeof(cache));
    cache.data = graph->model->nodes.count > 0 ? kept : NULL; /* without nodes, the model itself was loaded from the
                                                                 cache */
    cache.bytes = cache.data != NULL ? bytes : 0;
    if (nnrt_device_can(device, NNRT_ABILITY_MODEL_CACHE, NULL) &&
        (c->cachePath != NULL || nnrti_ohnn_cache_held(device))) {
        const NNRT_ReturnCode made = nnrt_cache_create(&compiled->cache, &cache, NULL);
        if (made == NNRT_OUT_OF_MEMORY)
            code = OH_NN_MEMORY_ERROR;
    }
    if (code == OH_NN_SUCCESS)
        code = nnrti_ohnn_prepare(compiled);
#ifndef NNRT_NO_STDIO
    if (code == OH_NN_SUCCESS && c->cachePath != NULL &&
        (kept == NULL || nnrt_cache_get_state(compiled->cache)->restored == 0))
        code = nnrti_ohnn_cache_write(c, compiled);
#endif
    if (!nnrti_ohnn_cache_held(device)) {
        nnrt_cache_destroy(compiled->cache);
        free(compiled->kept);
        compiled->cache = NULL;
        compiled->kept = NULL;
    }
    return nnrti_ohnn_built(c, compiled, code);
}

/* Lets the device prepare an offline model in the vendor's format, passed in a block of its memory. */
static OH_NN_ReturnCode nnrti_ohnn_prepare_foreign(const OH_NNCompilation *from, nnrti_ohnn_compiled *c)
{
    const void *data = from->offline;
    size_t bytes = from->offlineBytes;
    uint8_t *read = NULL;
    nnrti_ohnn_shared block;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
#ifndef NNRT_NO_STDIO
    bool full;
    if (from->path != NULL && (data = read = nnrti_compat_read(from->path, UINT32_MAX - 1, &bytes, &full)) == NULL)
        return OH_NN_INVALID_PATH;
#endif
    if (bytes > 0 && bytes < UINT32_MAX && nnrti_ohnn_shared_make(&block, c->device, bytes)) {
        NNRT_SharedBuffer b = block.buffer;
        memcpy(nnrti_ohnn_shared_data(&block), data, bytes);
        b.dataSize = (uint32_t)bytes;
        code = nnrt_device_prepare_offline(c->device, &b, 1, &c->config, &c->prepared);
        nnrti_ohnn_shared_free(&block, c->device);
    }
    free(read);
    return code == NNRT_SUCCESS ? OH_NN_SUCCESS : OH_NN_FAILED;
}

/* Queries an input or output of an offline model in the vendor's format; dimensions of variable size become -1.
   INVALID_PARAMETER: the index is out of range. */
static NNRT_ReturnCode nnrti_ohnn_ask_foreign(NNRT_PreparedModel *p, bool output, uint32_t index, NNRT_DataType *type,
                                              nnrt_dims *dims)
{
    nnrt_dims least, most;
    NNRT_ReturnCode code = p->vtbl->GetIO(p, output, index, type, dims);
    if (code != NNRT_SUCCESS)
        return code;
    if (nnrti_ohnn_type_back(*type) == OH_NN_UNKNOWN || dims->rank < 0 || dims->rank > NNRTI_OHNN_DIMS)
        return NNRT_DEVICE_ERROR;
    for (int32_t k = 0; k < dims->rank; k++)
        if (dims->dims[k] < 0)
            return NNRT_DEVICE_ERROR;
    least = most = *dims;
    if (output)
        code = NNRTI_OHNN_MODEL_HAS(p, GetOutputDimRanges) ? p->vtbl->GetOutputDimRanges(p, index, &least, &most)
                                                           : NNRT_NOT_SUPPORT;
    else
        code = NNRTI_OHNN_MODEL_HAS(p, GetInputDimRanges) ? p->vtbl->GetInputDimRanges(p, index, &least, &most)
                                                          : NNRT_NOT_SUPPORT;
    for (int32_t k = 0; k < dims->rank && code == NNRT_SUCCESS && least.rank == dims->rank && most.rank == dims->rank;
         k++)
        if (least.dims[k] != most.dims[k])
            dims->dims[k] = -1;
    return NNRT_SUCCESS;
}

/* Returns the number of inputs (outputs) of such a model; 0: the device does not report them, or too many. */
static uint32_t nnrti_ohnn_count_foreign(NNRT_PreparedModel *p, bool output)
{
    NNRT_DataType type = NNRT_DATA_TYPE_UNKNOWN;
    nnrt_dims dims;
    for (uint32_t n = 0; n <= NNRTI_OHNN_MAX_LIST; n++) {
        const NNRT_ReturnCode code = nnrti_ohnn_ask_foreign(p, output, n, &type, &dims);
        if (code != NNRT_SUCCESS)
            return code == NNRT_INVALID_PARAMETER ? n : 0;
    }
    return 0;
}

/* Builds the graph's model, without nodes, from the inputs and outputs that the device reports. */
static OH_NN_ReturnCode nnrti_ohnn_describe_foreign(nnrti_ohnn_compiled *c)
{
    nnrti_ohnn_block **blocks = &c->graph->blocks;
    NNRT_PreparedModel *p = c->prepared;
    const bool tells = NNRTI_OHNN_MODEL_HAS(p, GetIO);
    const uint32_t nIn = tells ? nnrti_ohnn_count_foreign(p, false) : 0;
    const uint32_t nOut = tells ? nnrti_ohnn_count_foreign(p, true) : 0;
    uint32_t *io = (uint32_t *)nnrti_ohnn_keep(blocks, nIn + nOut, sizeof(*io));
    NNRT_Tensor *tensors = (NNRT_Tensor *)nnrti_ohnn_keep(blocks, nIn + nOut, sizeof(*tensors));
    nnrt_dims *dims = (nnrt_dims *)nnrti_ohnn_keep(blocks, nIn + nOut, sizeof(*dims));
    NNRT_Model *m = (NNRT_Model *)nnrti_ohnn_keep(blocks, 1, sizeof(*m));
    if (nIn == 0 || nOut == 0)
        return OH_NN_FAILED;
    if (io == NULL || tensors == NULL || dims == NULL || m == NULL)
        return OH_NN_MEMORY_ERROR;
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        const bool output = i >= nIn;
        char name[32], *kept;
        if (nnrti_ohnn_ask_foreign(p, output, output ? i - nIn : i, &tensors[i].dataType, &dims[i]) != NNRT_SUCCESS)
            return OH_NN_FAILED;
        (void)nnrt_text(name, sizeof(name), "Tensor: %u", i);
        if ((kept = (char *)nnrti_ohnn_copy(blocks, name, strlen(name) + 1, 1)) == NULL)
            return OH_NN_MEMORY_ERROR;
        tensors[i].name = kept;
        tensors[i].format = NNRT_FORMAT_NONE;
        tensors[i].dims = NNRT_Int32List_make(dims[i].dims, (uint32_t)dims[i].rank);
        tensors[i].data.fd = -1;
        io[i] = i;
    }
    m->name = "";
    m->inputIndex = NNRT_Uint32List_make(io, nIn);
    m->outputIndex = NNRT_Uint32List_make(io + nIn, nOut);
    m->allTensors = NNRT_TensorList_make(tensors, nIn + nOut);
    c->graph->model = m;
    return OH_NN_SUCCESS;
}

/* Builds from an offline model in the vendor's format. */
static OH_NN_ReturnCode nnrti_ohnn_compile_foreign(OH_NNCompilation *c, nnrt_device *device)
{
    nnrti_ohnn_graph *graph = nnrti_ohnn_graph_new();
    nnrti_ohnn_compiled *compiled = graph != NULL ? nnrti_ohnn_compiled_new(c, device, graph) : NULL;
    OH_NN_ReturnCode code;
    if (compiled == NULL)
        return OH_NN_MEMORY_ERROR;
    if ((code = nnrti_ohnn_prepare_foreign(c, compiled)) == OH_NN_SUCCESS)
        code = nnrti_ohnn_describe_foreign(compiled);
    return nnrti_ohnn_built(c, compiled, code);
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_Build(OH_NNCompilation *compilation)
{
    OH_NNCompilation *c = compilation;
    nnrti_ohnn_graph *graph;
    nnrt_device *device;
    OH_NN_ReturnCode code, found;
    uint8_t *kept = NULL;
    size_t bytes = 0;
    bool foreign;
    if (c == NULL || (c->graph != NULL) + (c->path != NULL) + (c->offline != NULL) + (c->imported != NULL) > 1 ||
        c->tried)
        return OH_NN_INVALID_PARAMETER;
    c->tried = true;
    device = nnrti_ohnn_device(c->device);
    if (device == NULL)
        return OH_NN_FAILED;
    found = nnrti_ohnn_detect_format(c, &foreign);
    if (found == OH_NN_FAILED || (foreign && !nnrt_device_can(device, NNRT_ABILITY_OFFLINE_MODEL, NULL)) ||
        (c->imported != NULL && !nnrt_device_can(device, NNRT_ABILITY_MODEL_CACHE, NULL)))
        return OH_NN_FAILED; /* the device does not support this source */
    if ((code = nnrti_ohnn_options(c, device)) != OH_NN_SUCCESS)
        return code;
    if (c->graph != NULL && !c->graph->finished)
        return OH_NN_INVALID_PARAMETER;
    if (found != OH_NN_SUCCESS)
        return found;
    if (foreign)
        return nnrti_ohnn_compile_foreign(c, device);
#ifndef NNRT_NO_STDIO
    if (c->cachePath != NULL && c->imported == NULL && c->version != NNRTI_OHNN_NO_VERSION &&
        (code = nnrti_ohnn_cache_find(c, device, &kept, &bytes)) != OH_NN_SUCCESS)
        return code;
#endif
    if ((code = nnrti_ohnn_source(c, kept, bytes, &graph)) == OH_NN_SUCCESS)
        code = nnrti_ohnn_compile(c, device, graph, kept, bytes);
    else
        free(kept);
    if (code == OH_NN_INVALID_FILE && c->graph == NULL && c->path == NULL && c->offline == NULL && c->imported == NULL)
        code = OH_NN_INVALID_PARAMETER; /* the cache was the only source, and the device rejects it */
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_run */

/* An OH_NN_Memory, a block of the device, and the input or output that it was made for. */
typedef struct nnrti_ohnn_memory {
    struct nnrti_ohnn_memory *next;
    OH_NN_Memory *memory;
    nnrti_ohnn_shared block;
    const nnrti_ohnn_io *io;
} nnrti_ohnn_memory;

enum { NNRTI_OHNN_RANGES_UNKNOWN, NNRTI_OHNN_RANGES_KNOWN, NNRTI_OHNN_RANGES_INCONSISTENT };

/* A prepared model, with a workspace if it has RunIn. */
typedef struct nnrti_ohnn_runner {
    NNRT_PreparedModel *model;
    void *workspace; /* allocated block; NULL: none */
    size_t workspaceBytes;
} nnrti_ohnn_runner;

struct OH_NNExecutor {
    nnrti_ohnn_compiled *compiled;
    nnrti_ohnn_runner shared;   /* the compilation's model */
    nnrti_shapes shapes;        /* of a dynamic model: prepared models of several shapes */
    nnrti_ohnn_runner *planned; /* entry of `shapes` whose outputs io describes, or NULL */
    uint32_t nIn, nOut;
    nnrti_ohnn_io *io;     /* inputs, then outputs */
    NNRT_IOTensor *values; /* tensors of a run */
    void **copies;         /* aligned copies of misaligned tensors */
    nnrt_dims *told, *dims;
    int ranges; /* state of the input ranges that the device reports */
    nnrti_ohnn_memory *memories;
    NNRT_ReturnCode said; /* return code of the device's last run */
    NN_OnRunDone onRunDone;
    NN_OnServiceDied onServiceDied;
    nnrti_ohnn_mutex mutex;
#if NNRT_THREADS
    bool queued;     /* a user of the queue: a callback is set */
    int32_t waiting; /* runs in the queue that have not started */
#endif
};

#if NNRT_THREADS
/* One queue holds the asynchronous runs of all executors, so that priorities apply between executors. It exists while
   an executor has a callback. */
#define NNRTI_OHNN_RUNS 4     /* executors that run at the same time */
#define NNRTI_OHNN_PLACES 64  /* waiting runs of an executor */
#define NNRTI_OHNN_QUEUE 1024 /* waiting runs of all executors */
static nnrt_queue *nnrti_ohnn_queue;
static int32_t nnrti_ohnn_queue_users;

/* Makes the executor a user of the queue, which the first user creates. */
static OH_NN_ReturnCode nnrti_ohnn_queue_join(OH_NNExecutor *e)
{
    OH_NN_ReturnCode code = OH_NN_SUCCESS;
    nnrt_queue_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.threads = NNRTI_OHNN_RUNS;
    desc.places = NNRTI_OHNN_QUEUE;
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    if (!e->queued && nnrti_ohnn_queue == NULL && nnrt_queue_create(&nnrti_ohnn_queue, &desc, NULL) != NNRT_SUCCESS)
        code = OH_NN_MEMORY_ERROR;
    else if (!e->queued)
        nnrti_ohnn_queue_users++;
    e->queued = e->queued || code == OH_NN_SUCCESS;
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    return code;
}

/* Drops the executor's waiting runs; the last user destroys the queue. */
static void nnrti_ohnn_queue_leave(OH_NNExecutor *e)
{
    nnrt_queue *last = NULL;
    if (!e->queued)
        return;
    nnrt_queue_drop(nnrti_ohnn_queue, e);
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    if (--nnrti_ohnn_queue_users == 0) {
        last = nnrti_ohnn_queue;
        nnrti_ohnn_queue = NULL;
    }
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    nnrt_queue_destroy(last);
}
#endif

/* Allocates the workspace of a prepared model with RunIn; false: out of memory. */
static bool nnrti_ohnn_workspace(nnrti_ohnn_runner *r)
{
    NNRT_PreparedModel *p = r->model;
    size_t bytes = 0, room;
    if (!NNRTI_OHNN_MODEL_HAS(p, RunIn) || !NNRTI_OHNN_MODEL_HAS(p, GetWorkspaceSize))
        return true;
    if (p->vtbl->GetWorkspaceSize(p, &bytes) != NNRT_SUCCESS || !nnrt_add_size(bytes, NNRT_ALIGNMENT, &room) ||
        (r->workspace = malloc(room)) == NULL)
        return false;
    r->workspaceBytes = bytes;
    return true;
}

/* Reads types and shapes of the outputs from a prepared model. */
static void nnrti_ohnn_planned(OH_NNExecutor *e, NNRT_PreparedModel *p)
{
    for (uint32_t i = 0; i < e->nOut; i++) {
        nnrti_ohnn_io *io = &e->io[e->nIn + i];
        NNRT_DataType type = io->dataType;
        nnrt_dims shape = io->planned;
        if (!NNRTI_OHNN_MODEL_HAS(p, GetIO) || p->vtbl->GetIO(p, true, i, &type, &shape) != NNRT_SUCCESS ||
            shape.rank < 0 || shape.rank > NNRTI_OHNN_DIMS)
            continue;
        io->planned = shape;
        if (io->dataType == NNRT_DATA_TYPE_UNKNOWN)
            io->dataType = type;
        if (io->dims.rank < 0)
            io->dims = shape;
    }
}

/* Reads the dimension ranges of the inputs. */
static void nnrti_ohnn_ranges(OH_NNExecutor *e)
{
    NNRT_PreparedModel *p = e->compiled->prepared;
    e->ranges =
        p == NULL || NNRTI_OHNN_MODEL_HAS(p, GetInputDimRanges) ? NNRTI_OHNN_RANGES_KNOWN : NNRTI_OHNN_RANGES_UNKNOWN;
    for (uint32_t i = 0; i < e->nIn && e->ranges == NNRTI_OHNN_RANGES_KNOWN; i++) {
        nnrti_ohnn_io *io = &e->io[i];
        nnrt_dims least = io->dims, most = io->dims;
        for (int32_t k = 0; k < io->dims.rank; k++)
            if (io->dims.dims[k] < 0) {
                least.dims[k] = 1;
                most.dims[k] = INT32_MAX;
            }
        if (p != NULL && p->vtbl->GetInputDimRanges(p, i, &least, &most) != NNRT_SUCCESS) {
            e->ranges = NNRTI_OHNN_RANGES_UNKNOWN;
            return;
        }
        if (least.rank != io->dims.rank || most.rank != io->dims.rank) {
            e->ranges = NNRTI_OHNN_RANGES_INCONSISTENT;
            return;
        }
        for (int32_t k = 0; k < io->dims.rank; k++) {
            if (least.dims[k] < 0 || most.dims[k] < least.dims[k])
                e->ranges = NNRTI_OHNN_RANGES_INCONSISTENT;
            io->least[k] = (size_t)least.dims[k];
            io->most[k] = (size_t)most.dims[k];
        }
    }
}

/* Initializes input or output i from the model. */
static bool nnrti_ohnn_io_make(nnrti_ohnn_io *io, const nnrti_ohnn_graph *graph, uint32_t i)
{
    const NNRT_Model *m = graph->model;
    const uint32_t nIn = m->inputIndex.count;
    const uint32_t index = i < nIn ? m->inputIndex.data[i] : m->outputIndex.data[i - nIn];
    const NNRT_Tensor *t = &m->allTensors.data[index];
    io->name = t->name;
    io->label = t->name != NULL ? t->name : "";
    io->dataType = t->dataType;
    io->format = nnrti_ohnn_format_back(t->format);
    if (graph->values != NULL) {
        const nnrti_ohnn_value *v = &graph->values[i < nIn ? graph->inputs[i] : graph->outputs[i - nIn]];
        io->label = v->name != NULL ? v->name : io->label;
        io->format = v->format;
    } else if (m->nodes.count == 0) { /* imported from a cache */
        char key[16];
        const char *text;
        nnrti_ohnn_cache_key(key, sizeof(key), i);
        text = nnrt_model_metadata(m, key);
        if (text != NULL && text[0] >= '0' && text[0] <= '9' && strchr(text, ' ') != NULL) {
            io->format = (OH_NN_Format)atoi(text);
            io->label = strchr(text, ' ') + 1;
        }
    }
    if (t->dims.count > (uint32_t)NNRTI_OHNN_DIMS)
        return false;
    io->dims.rank = (int32_t)t->dims.count;
    for (uint32_t k = 0; k < t->dims.count; k++)
        io->dims.dims[k] = t->dims.data[k];
    if (t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN)
        io->dims.rank = -1;
    io->planned = io->dims;
    return true;
}

/* Prepares the model for the shapes of a run, or for an upper bound of them (nnrt_compat.h). */
static NNRT_ReturnCode nnrti_ohnn_make(void *user, const nnrt_dims *dims, bool bounds, void **made)
{
    const OH_NNExecutor *e = (const OH_NNExecutor *)user;
    const nnrti_ohnn_compiled *c = e->compiled;
    NNRT_ModelConfig config = c->config;
    nnrti_ohnn_runner *r;
    nnrt_bound *list = NULL;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    if (nnrti_ohnn_device(c->id) != c->device)
        return NNRT_DEVICE_ERROR;
    if ((r = (nnrti_ohnn_runner *)calloc(1, sizeof(*r))) == NULL)
        return code;
    if (!bounds) {
        config.inputDims = nnrt_dims_list_make(dims, e->nIn);
        code = NNRT_SUCCESS;
    } else if ((list = (nnrt_bound *)calloc(e->nIn, sizeof(*list))) != NULL) {
        config.bounds = nnrt_bound_list_make(list, e->nIn);
        code = nnrti_shapes_bounds(c->graph->model, dims, list) ? NNRT_SUCCESS : NNRT_NOT_SUPPORT;
    }
    if (code == NNRT_SUCCESS)
        code = nnrt_device_prepare(c->device, c->graph->model, &config, &r->model);
    if (code == NNRT_SUCCESS && !nnrti_ohnn_workspace(r)) {
        nnrt_device_release(c->device, r->model);
        code = NNRT_OUT_OF_MEMORY;
    }
    free(list);
    if (code == NNRT_SUCCESS)
        *made = r;
    else
        free(r);
    return code;
}

static void nnrti_ohnn_unmake(void *user, void *made)
{
    OH_NNExecutor *e = (OH_NNExecutor *)user;
    nnrti_ohnn_runner *r = (nnrti_ohnn_runner *)made;
    if (e->planned == r)
        e->planned = NULL;
    nnrt_device_release(e->compiled->device, r->model);
    free(r->workspace);
    free(r);
}

static nnrti_shapes_maker nnrti_ohnn_maker(OH_NNExecutor *e)
{
    const nnrti_shapes_maker maker = {nnrti_ohnn_make, nnrti_ohnn_unmake, e};
    return maker;
}

NNRT_OHNN_API void OH_NNExecutor_Destroy(OH_NNExecutor **executor)
{
    OH_NNExecutor *e;
    nnrti_shapes_maker maker;
    if (executor == NULL || *executor == NULL)
        return;
    e = *executor;
    maker = nnrti_ohnn_maker(e);
#if NNRT_THREADS
    nnrti_ohnn_queue_leave(e);
#endif
    while (e->memories != NULL) {
        nnrti_ohnn_memory *next = e->memories->next;
        nnrti_ohnn_shared_free(&e->memories->block, e->compiled->device);
        free(e->memories->memory);
        free(e->memories);
        e->memories = next;
    }
    for (uint32_t i = 0; e->io != NULL && i < e->nIn + e->nOut; i++)
        free(e->io[i].own);
    nnrti_shapes_clear(&e->shapes, &maker);
    free(e->shared.workspace);
    free(e->io);
    free(e->values);
    free(e->copies);
    free(e->told);
    free(e->dims);
    NNRTI_OHNN_END(&e->mutex);
    nnrti_ohnn_compiled_leave(e->compiled);
    free(e);
    *executor = NULL;
}

NNRT_OHNN_API OH_NNExecutor *OH_NNExecutor_Construct(OH_NNCompilation *compilation)
{
    nnrti_ohnn_compiled *compiled = compilation != NULL ? compilation->compiled : NULL;
    OH_NNExecutor *e;
    bool good = true;
    size_t count;
    if (compiled == NULL || nnrti_ohnn_device(compiled->id) != compiled->device ||
        (e = (OH_NNExecutor *)calloc(1, sizeof(*e))) == NULL)
        return NULL;
    if (!NNRTI_OHNN_INIT(&e->mutex)) {
        free(e);
        return NULL;
    }
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    compiled->users++;
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    e->compiled = compiled;
    e->nIn = compiled->graph->model->inputIndex.count;
    e->nOut = compiled->graph->model->outputIndex.count;
    count = (size_t)e->nIn + e->nOut + 1; /* at least 1: a model may have no inputs */
    e->io = (nnrti_ohnn_io *)calloc(count, sizeof(*e->io));
    e->values = (NNRT_IOTensor *)calloc(count, sizeof(*e->values));
    e->copies = (void **)calloc(count, sizeof(*e->copies));
    e->told = (nnrt_dims *)calloc(count, sizeof(*e->told));
    e->dims = (nnrt_dims *)calloc(count, sizeof(*e->dims));
    good = e->io != NULL && e->values != NULL && e->copies != NULL && e->told != NULL && e->dims != NULL;
    for (uint32_t i = 0; good && i < e->nIn + e->nOut; i++)
        good = nnrti_ohnn_io_make(&e->io[i], compiled->graph, i);
    if (good && compiled->prepared != NULL) {
        e->shared.model = compiled->prepared;
        good = nnrti_ohnn_workspace(&e->shared);
        nnrti_ohnn_planned(e, compiled->prepared);
    }
    if (!good) {
        OH_NNExecutor_Destroy(&e);
        return NULL;
    }
    nnrti_ohnn_ranges(e);
    for (uint32_t i = 0; i < e->nOut; i++)
        e->io[e->nIn + i].shape = e->io[e->nIn + i].dims;
    return e;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetOutputShape(OH_NNExecutor *executor, uint32_t outputIndex,
                                                            int32_t **shape, uint32_t *shapeLength)
{
    nnrt_dims *dims;
    if (executor == NULL || shape == NULL || *shape != NULL || shapeLength == NULL || outputIndex >= executor->nOut)
        return OH_NN_INVALID_PARAMETER;
    dims = &executor->io[executor->nIn + outputIndex].shape;
    *shape = dims->dims;
    *shapeLength = dims->rank > 0 ? (uint32_t)dims->rank : 0;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetInputCount(const OH_NNExecutor *executor, size_t *inputCount)
{
    if (executor == NULL || inputCount == NULL)
        return OH_NN_INVALID_PARAMETER;
    *inputCount = executor->nIn;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetOutputCount(const OH_NNExecutor *executor, size_t *outputCount)
{
    if (executor == NULL || outputCount == NULL)
        return OH_NN_INVALID_PARAMETER;
    *outputCount = executor->nOut;
    return OH_NN_SUCCESS;
}

/* Creates a description; NULL: out of memory. */
static NN_TensorDesc *nnrti_ohnn_describe(const nnrti_ohnn_io *io, const nnrt_dims *dims)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    if (desc == NULL)
        return NULL;
    desc->dataType = nnrti_ohnn_type_back(io->dataType);
    desc->format = io->format;
    nnrti_ohnn_desc_shape(desc, dims);
    if ((desc->name = nnrti_compat_text(io->label, strlen(io->label))) == NULL)
        (void)OH_NNTensorDesc_Destroy(&desc);
    return desc;
}

NNRT_OHNN_API NN_TensorDesc *OH_NNExecutor_CreateInputTensorDesc(const OH_NNExecutor *executor, size_t index)
{
    if (executor == NULL || index >= executor->nIn)
        return NULL;
    return nnrti_ohnn_describe(&executor->io[index], &executor->io[index].dims);
}

NNRT_OHNN_API NN_TensorDesc *OH_NNExecutor_CreateOutputTensorDesc(const OH_NNExecutor *executor, size_t index)
{
    if (executor == NULL || index >= executor->nOut)
        return NULL;
    return nnrti_ohnn_describe(&executor->io[executor->nIn + index], &executor->io[executor->nIn + index].shape);
}

/* Checks that dims is NULL or an array that GetInputDimRange returned. */
static bool nnrti_ohnn_is_range_array(const OH_NNExecutor *e, const size_t *dims)
{
    bool handed = dims == NULL;
    for (uint32_t i = 0; i < e->nIn; i++)
        handed = handed || (e->io[i].handed && (dims == e->io[i].least || dims == e->io[i].most));
    return handed;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetInputDimRange(const OH_NNExecutor *executor, size_t index,
                                                              size_t **minInputDims, size_t **maxInputDims,
                                                              size_t *shapeLength)
{
    nnrti_ohnn_io *io;
    if (executor == NULL || minInputDims == NULL || maxInputDims == NULL || shapeLength == NULL ||
        !nnrti_ohnn_is_range_array(executor, *minInputDims) || !nnrti_ohnn_is_range_array(executor, *maxInputDims))
        return OH_NN_INVALID_PARAMETER;
    if (executor->ranges == NNRTI_OHNN_RANGES_UNKNOWN)
        return OH_NN_OPERATION_FORBIDDEN;
    if (index >= executor->nIn || executor->ranges == NNRTI_OHNN_RANGES_INCONSISTENT)
        return OH_NN_INVALID_PARAMETER;
    io = &executor->io[index];
    io->handed = true;
    *minInputDims = io->least;
    *maxInputDims = io->most;
    *shapeLength = (size_t)io->dims.rank;
    return OH_NN_SUCCESS;
}

/* Checks that the executor supports asynchronous runs, and joins the queue. */
static OH_NN_ReturnCode nnrti_ohnn_asynchronous(OH_NNExecutor *e)
{
#if NNRT_THREADS
    const NNRT_PreparedModel *p = e->compiled->prepared;
    return p != NULL && !NNRTI_OHNN_MODEL_HAS(p, RunIn) ? OH_NN_OPERATION_FORBIDDEN : nnrti_ohnn_queue_join(e);
#else
    (void)e;
    return OH_NN_OPERATION_FORBIDDEN;
#endif
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOnRunDone(OH_NNExecutor *executor, NN_OnRunDone onRunDone)
{
    OH_NN_ReturnCode code;
    if (executor == NULL || onRunDone == NULL)
        return OH_NN_INVALID_PARAMETER;
    if ((code = nnrti_ohnn_asynchronous(executor)) == OH_NN_SUCCESS)
        executor->onRunDone = onRunDone;
    return code;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOnServiceDied(OH_NNExecutor *executor, NN_OnServiceDied onServiceDied)
{
    OH_NN_ReturnCode code;
    if (executor == NULL || onServiceDied == NULL)
        return OH_NN_INVALID_PARAMETER;
    if ((code = nnrti_ohnn_asynchronous(executor)) == OH_NN_SUCCESS)
        executor->onServiceDied = onServiceDied;
    return code;
}

/* Stores an input or output of a run in e->values. The shape of an output is that of the prepared model. */
static void nnrti_ohnn_place(OH_NNExecutor *e, uint32_t i, NNRT_DataType type, NNRT_Format format,
                             const nnrt_dims *dims, const NNRT_SharedBuffer *data)
{
    NNRT_IOTensor *t = &e->values[i];
    e->dims[i] = *dims;
    t->name = e->io[i].name;
    t->dataType = type;
    t->format = format;
    t->dimensions = NNRT_Int32List_make(e->dims[i].dims, dims->rank > 0 ? (uint32_t)dims->rank : 0);
    t->data = *data;
}

/* Describes ordinary memory as a buffer. */
static NNRT_SharedBuffer nnrti_ohnn_plain(void *data, size_t bytes)
{
    NNRT_SharedBuffer b = {-1, 0, 0, 0, NULL};
    b.bufferSize = b.dataSize = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    b.addr = data;
    return b;
}

/* Finds or prepares the model for the input shapes of this run, which are in e->dims. */
static NNRT_ReturnCode nnrti_ohnn_prepare_run(OH_NNExecutor *e, nnrti_ohnn_runner **runner)
{
    const nnrti_shapes_maker maker = nnrti_ohnn_maker(e);
    void *made;
    bool bound;
    const NNRT_ReturnCode code = nnrti_shapes_find(&e->shapes, &maker, e->dims, e->nIn, &made, &bound);
    if (code != NNRT_SUCCESS)
        return code;
    *runner = (nnrti_ohnn_runner *)made;
    if (e->planned != *runner) {
        for (uint32_t i = e->nIn; i < e->nIn + e->nOut; i++)
            e->io[i].planned = e->io[i].dims;
        nnrti_ohnn_planned(e, (*runner)->model);
        e->planned = *runner;
    }
    for (uint32_t i = e->nIn; i < e->nIn + e->nOut; i++) {
        e->dims[i] = e->io[i].planned;
        e->values[i].dimensions =
            NNRT_Int32List_make(e->dims[i].dims, e->dims[i].rank > 0 ? (uint32_t)e->dims[i].rank : 0);
    }
    return NNRT_SUCCESS;
}

/* Returns the bytes of output i that a run wrote. */
static size_t nnrti_ohnn_output_bytes(const OH_NNExecutor *e, uint32_t i)
{
    size_t bytes = 0;
    if (!nnrt_dims_bytes(e->told[i].dims, e->told[i].rank, e->values[e->nIn + i].dataType, &bytes))
        return 0;
    return bytes < e->values[e->nIn + i].data.dataSize ? bytes : e->values[e->nIn + i].data.dataSize;
}

/* Runs with the tensors in e->values. e->told receives the output shapes. */
static NNRT_ReturnCode nnrti_ohnn_execute(OH_NNExecutor *e)
{
    nnrti_ohnn_runner *r = &e->shared;
    const bool shared = r->model != NULL && r->workspace == NULL;
    const uint32_t count = e->nIn + e->nOut;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    uint8_t *workspace;
    if (r->model == NULL && (code = nnrti_ohnn_prepare_run(e, &r)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < e->nOut; i++)
        e->told[i].rank = -1;
    for (uint32_t i = 0; i < count && code == NNRT_SUCCESS; i++) {
        NNRT_SharedBuffer *b = &e->values[i].data;
        const size_t size = nnrt_type_size(e->values[i].dataType);
        const void *data = (const uint8_t *)b->addr + b->offset;
        if (size < 2 || (uintptr_t)data % size == 0)
            continue;
        if ((e->copies[i] = malloc(b->dataSize)) == NULL)
            code = NNRT_OUT_OF_MEMORY;
        else if (i < e->nIn)
            memcpy(e->copies[i], data, b->dataSize);
    }
    for (uint32_t i = 0; i < count && code == NNRT_SUCCESS; i++)
        if (e->copies[i] != NULL) {
            NNRT_SharedBuffer *b = &e->values[i].data;
            void *addr = (uint8_t *)b->addr + b->offset;
            *b = nnrti_ohnn_plain(e->copies[i], b->dataSize);
            e->copies[i] = addr; /* copies[i] holds the original address during the run */
        }
    if (code == NNRT_SUCCESS) {
        workspace = (uint8_t *)r->workspace;
        if (workspace != NULL)
            workspace += (NNRT_ALIGNMENT - (uintptr_t)workspace % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        if (shared)
            NNRTI_OHNN_LOCK(&e->compiled->mutex);
        code = nnrt_prepared_run(r->model, workspace, r->workspaceBytes, e->values, e->nIn, e->values + e->nIn, e->nOut,
                                 e->told, NULL, NULL);
        if (shared)
            NNRTI_OHNN_UNLOCK(&e->compiled->mutex);
        for (uint32_t i = 0; i < count; i++)
            if (e->copies[i] != NULL) {
                void *addr = e->copies[i];
                e->copies[i] = e->values[i].data.addr;
                e->values[i].data.addr = addr;
                if (i >= e->nIn && code == NNRT_SUCCESS)
                    memcpy(addr, e->copies[i], nnrti_ohnn_output_bytes(e, i - e->nIn));
            }
    }
    for (uint32_t i = 0; i < count; i++) {
        free(e->copies[i]);
        e->copies[i] = NULL;
    }
    for (uint32_t i = 0; i < e->nOut && code == NNRT_SUCCESS; i++)
        if (e->told[i].rank < 0 || e->told[i].rank > NNRTI_OHNN_DIMS)
            code = NNRT_DEVICE_ERROR;
    for (uint32_t i = 0; i < e->nOut && code == NNRT_SUCCESS; i++)
        e->io[e->nIn + i].shape = e->told[i];
    return code;
}

/* Checks the shape against the ranges of an input. */
static bool nnrti_ohnn_in_range(const OH_NNExecutor *e, const nnrti_ohnn_io *io, const int32_t *shape, size_t rank)
{
    if (rank != (size_t)io->dims.rank)
        return false;
    for (size_t k = 0; k < rank; k++) {
        if (e->ranges == NNRTI_OHNN_RANGES_KNOWN &&
            (shape[k] < 0 || (size_t)shape[k] < io->least[k] || (size_t)shape[k] > io->most[k]))
            return false;
        if (e->ranges == NNRTI_OHNN_RANGES_UNKNOWN && io->dims.dims[k] >= 0 && io->dims.dims[k] != shape[k])
            return false;
    }
    return true;
}

/* Argument checks that RunSync and RunAsync share. */
static bool nnrti_ohnn_run_arguments(const OH_NNExecutor *e, NN_Tensor *const *in, size_t nIn, NN_Tensor *const *out,
                                     size_t nOut)
{
    return e != NULL && in != NULL && nIn > 0 && nIn <= NNRTI_OHNN_MAX_LIST && out != NULL && nOut > 0 &&
           nOut <= NNRTI_OHNN_MAX_LIST;
}

/* Checks that a tensor's memory is at least as large as its description. */
static bool nnrti_ohnn_memory_suffices(const NN_Tensor *t)
{
    size_t bytes;
    return OH_NNTensorDesc_GetByteSize(&t->desc, &bytes) == OH_NN_SUCCESS && bytes <= t->size - t->offset;
}

/* Checks whether the prepared model reports the sizes of its outputs. Then INSUFFICIENT_BUFFER is the caller's fault. A
   driver with HDI's methods alone cannot report them, so the code counts as a failure of the driver. */
static bool nnrti_ohnn_reports_outputs(const OH_NNExecutor *e)
{
    NNRT_PreparedModel *p = e->shared.model != NULL ? e->shared.model : e->planned != NULL ? e->planned->model : NULL;
    nnrt_dims least, most;
    return p != NULL && NNRTI_OHNN_MODEL_HAS(p, GetOutputDimRanges) &&
           p->vtbl->GetOutputDimRanges(p, 0, &least, &most) == NNRT_SUCCESS;
}

/* Runs with checked arguments. The caller holds e->mutex. */
static OH_NN_ReturnCode nnrti_ohnn_run(OH_NNExecutor *e, NN_Tensor *const *in, NN_Tensor *const *out)
{
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < e->nIn + e->nOut; i++) {
        const NN_Tensor *t = i < e->nIn ? in[i] : out[i - e->nIn];
        const NN_TensorDesc *d = &t->desc;
        size_t bytes = t->size - t->offset;
        nnrt_dims dims = e->io[i].planned;
        NNRT_SharedBuffer data = t->memory.buffer;
        if (i < e->nIn) {
            dims.rank = (int32_t)d->rank;
            memcpy(dims.dims, d->shape, d->rank * sizeof(*d->shape));
            (void)OH_NNTensorDesc_GetByteSize(d, &bytes);
        }
        data.addr = t->memory.at;
        data.dataSize = (uint32_t)bytes;
        nnrti_ohnn_place(e, i, nnrti_ohnn_types[d->dataType], nnrti_ohnn_formats[d->format], &dims, &data);
    }
    code = e->said = nnrti_ohnn_execute(e);
    for (uint32_t i = 0; i < e->nOut && code == NNRT_SUCCESS; i++)
        nnrti_ohnn_desc_shape(&out[i]->desc, &e->told[i]);
    if (code == NNRT_INSUFFICIENT_BUFFER && nnrti_ohnn_reports_outputs(e))
        return OH_NN_INVALID_PARAMETER;
    return code == NNRT_SUCCESS ? OH_NN_SUCCESS : OH_NN_UNAVAILABLE_DEVICE;
}

/* Checks the number of tensors, their shapes and their memory. */
static OH_NN_ReturnCode nnrti_ohnn_run_tensors(const OH_NNExecutor *e, NN_Tensor *const *in, size_t nIn,
                                               NN_Tensor *const *out, size_t nOut)
{
    if (nIn != e->nIn || nOut != e->nOut || e->ranges == NNRTI_OHNN_RANGES_INCONSISTENT)
        return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < e->nIn; i++) {
        if (in[i] == NULL)
            return e->ranges == NNRTI_OHNN_RANGES_KNOWN ? OH_NN_NULL_PTR : OH_NN_INVALID_PARAMETER;
        if (!nnrti_ohnn_in_range(e, &e->io[i], in[i]->desc.shape, in[i]->desc.rank))
            return OH_NN_INVALID_PARAMETER;
    }
    for (uint32_t i = 0; i < e->nOut; i++)
        if (out[i] == NULL)
            return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < e->nIn + e->nOut; i++)
        if (!nnrti_ohnn_memory_suffices(i < e->nIn ? in[i] : out[i - e->nIn]))
            return OH_NN_FAILED;
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_RunSync(OH_NNExecutor *executor, NN_Tensor *inputTensor[],
                                                     size_t inputCount, NN_Tensor *outputTensor[], size_t outputCount)
{
    OH_NNExecutor *e = executor;
    OH_NN_ReturnCode code;
    if (!nnrti_ohnn_run_arguments(e, inputTensor, inputCount, outputTensor, outputCount))
        return OH_NN_INVALID_PARAMETER;
    if ((code = nnrti_ohnn_run_tensors(e, inputTensor, inputCount, outputTensor, outputCount)) != OH_NN_SUCCESS)
        return code;
    NNRTI_OHNN_LOCK(&e->mutex);
    code = nnrti_ohnn_run(e, inputTensor, outputTensor);
    NNRTI_OHNN_UNLOCK(&e->mutex);
    return code;
}

#if NNRT_THREADS
/* An asynchronous run. Its lists of inputs and outputs follow the struct: the caller's lists may have ended before it
   starts. */
typedef struct nnrti_ohnn_async {
    OH_NNExecutor *e;
    NN_Tensor **in, **out;
    NN_Tensor **handed; /* the caller's list of outputs, an argument of the callback */
    void *user;
    NN_OnRunDone onRunDone;
    NN_OnServiceDied onServiceDied; /* NULL: not set */
    OH_NN_ReturnCode code;
    bool begun;
} nnrti_ohnn_async;

/* Adds `more` (1 or -1) to the number of the executor's waiting runs and returns the sum. */
static int32_t nnrti_ohnn_count_waiting(OH_NNExecutor *e, int32_t more)
{
    int32_t waiting;
    NNRTI_OHNN_LOCK(&nnrti_ohnn_global);
    waiting = e->waiting += more;
    NNRTI_OHNN_UNLOCK(&nnrti_ohnn_global);
    return waiting;
}

static NNRT_ReturnCode nnrti_ohnn_run_async(void *context, const char **message)
{
    nnrti_ohnn_async *r = (nnrti_ohnn_async *)context;
    NNRT_ReturnCode said;
    (void)message;
    r->begun = true;
    (void)nnrti_ohnn_count_waiting(r->e, -1);
    NNRTI_OHNN_LOCK(&r->e->mutex);
    r->code = nnrti_ohnn_run(r->e, r->in, r->out);
    said = r->e->said;
    NNRTI_OHNN_UNLOCK(&r->e->mutex);
    return said;
}

/* Ends an asynchronous run: calls one of the two callbacks. */
static void nnrti_ohnn_run_ended(void *user, NNRT_ReturnCode code, const char *message)
{
    const nnrti_ohnn_async r = *(nnrti_ohnn_async *)user;
    const bool late = code == NNRT_TIME_OUT;
    (void)message;
    free(user);
    if (!r.begun)
        (void)nnrti_ohnn_count_waiting(r.e, -1);
    if (code == NNRT_SERVICE_ERROR && r.onServiceDied != NULL)
        r.onServiceDied(r.user);
    else
        r.onRunDone(r.user,
                    late                     ? OH_NN_TIMEOUT
                    : code == NNRT_CANCELLED ? OH_NN_FAILED
                                             : r.code,
                    late ? NULL : (void **)r.handed, late ? 0 : (int32_t)r.e->nOut);
}

static OH_NN_ReturnCode nnrti_ohnn_enqueue(OH_NNExecutor *e, NN_Tensor **in, NN_Tensor **out, int32_t timeout,
                                           void *userData)
{
    const size_t count = (size_t)e->nIn + e->nOut;
    nnrti_ohnn_async *r = (nnrti_ohnn_async *)malloc(sizeof(*r) + count * sizeof(*in));
    nnrt_queued how;
    NNRT_ReturnCode code;
    if (r == NULL)
        return OH_NN_MEMORY_ERROR;
    r->e = e;
    r->in = (NN_Tensor **)(r + 1);
    r->out = r->in + e->nIn;
    r->handed = out;
    r->user = userData;
    r->onRunDone = e->onRunDone;
    r->onServiceDied = e->onServiceDied;
    r->code = OH_NN_SUCCESS;
    r->begun = false;
    memcpy(r->in, in, e->nIn * sizeof(*in));
    memcpy(r->out, out, e->nOut * sizeof(*out));
    memset(&how, 0, sizeof(how));
    how.timeLimit = (uint32_t)timeout;
    how.done = nnrti_ohnn_run_ended;
    how.user = r;
    how.priority = e->compiled->config.priority;
    code = nnrti_ohnn_count_waiting(e, 1) > NNRTI_OHNN_PLACES
               ? NNRT_DEVICE_BUSY
               : nnrt_queue_add(nnrti_ohnn_queue, nnrti_ohnn_run_async, r, e, &how, NULL);
    if (code == NNRT_SUCCESS)
        return OH_NN_SUCCESS;
    (void)nnrti_ohnn_count_waiting(e, -1);
    free(r);
    return code == NNRT_DEVICE_BUSY ? OH_NN_UNAVAILABLE_DEVICE : OH_NN_OPERATION_FORBIDDEN;
}
#endif

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_RunAsync(OH_NNExecutor *executor, NN_Tensor *inputTensor[],
                                                      size_t inputCount, NN_Tensor *outputTensor[], size_t outputCount,
                                                      int32_t timeout, void *userData)
{
    OH_NN_ReturnCode code;
    if (!nnrti_ohnn_run_arguments(executor, inputTensor, inputCount, outputTensor, outputCount) || userData == NULL)
        return OH_NN_INVALID_PARAMETER;
    if (executor->onRunDone == NULL) /* also if asynchronous runs are unsupported */
        return OH_NN_OPERATION_FORBIDDEN;
    if (timeout < 0)
        return OH_NN_INVALID_PARAMETER;
    if ((code = nnrti_ohnn_run_tensors(executor, inputTensor, inputCount, outputTensor, outputCount)) != OH_NN_SUCCESS)
        return code;
#if NNRT_THREADS
    code = nnrti_ohnn_enqueue(executor, inputTensor, outputTensor, timeout, userData);
#endif
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>ohnn_legacy */

/* Bytes of a tensor with the model's shape; 0: dynamic shape. */
static size_t nnrti_ohnn_bytes(const nnrti_ohnn_io *io)
{
    size_t bytes = 0;
    for (int32_t k = 0; k < io->dims.rank; k++)
        if (io->dims.dims[k] < 0)
            return 0;
    if (io->dims.rank < 0 || !nnrt_dims_bytes(io->dims.dims, io->dims.rank, io->dataType, &bytes))
        return 0;
    return bytes;
}

/* Checks that a tensor fits input `index`. *bytes: of its data. */
static bool nnrti_ohnn_fits(const OH_NNExecutor *e, uint32_t index, const OH_NN_Tensor *tensor, size_t length,
                            size_t *bytes)
{
    nnrti_ohnn_value v;
    if (length == 0 || index >= e->nIn || e->ranges == NNRTI_OHNN_RANGES_INCONSISTENT ||
        !nnrti_ohnn_value_of(&v, tensor) || v.dynamic || tensor->type != OH_NN_TENSOR ||
        nnrti_ohnn_types[tensor->dataType] != e->io[index].dataType ||
        !nnrti_ohnn_in_range(e, &e->io[index], tensor->dimensions, tensor->dimensionCount) || length < v.bytes)
        return false;
    *bytes = v.bytes;
    return true;
}

static void nnrti_ohnn_bind(nnrti_ohnn_io *io, void *data, size_t bytes, const OH_NN_Memory *memory, bool gone)
{
    io->set = true;
    io->gone = gone;
    io->data = data;
    io->bytes = bytes;
    io->memory = memory;
}

static void nnrti_ohnn_bind_input(nnrti_ohnn_io *io, const OH_NN_Tensor *tensor, void *data, size_t bytes,
                                  const OH_NN_Memory *memory, bool gone)
{
    nnrti_ohnn_bind(io, data, bytes, memory, gone);
    io->now.rank = (int32_t)tensor->dimensionCount;
    for (uint32_t k = 0; k < tensor->dimensionCount; k++)
        io->now.dims[k] = tensor->dimensions[k];
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetInput(OH_NNExecutor *executor, uint32_t inputIndex,
                                                      const OH_NN_Tensor *tensor, const void *dataBuffer, size_t length)
{
    nnrti_ohnn_io *io;
    size_t bytes;
    if (executor == NULL || tensor == NULL || dataBuffer == NULL ||
        !nnrti_ohnn_fits(executor, inputIndex, tensor, length, &bytes))
        return OH_NN_INVALID_PARAMETER;
    io = &executor->io[inputIndex];
    if (io->ownBytes < bytes) {
        void *block = malloc(bytes);
        if (block == NULL)
            return OH_NN_MEMORY_ERROR;
        if (io->set && io->data == io->own)
            io->set = false;
        free(io->own);
        io->own = block;
        io->ownBytes = bytes;
    }
    memcpy(io->own, dataBuffer, bytes);
    nnrti_ohnn_bind_input(io, tensor, io->own, bytes, NULL, false);
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOutput(OH_NNExecutor *executor, uint32_t outputIndex, void *dataBuffer,
                                                       size_t length)
{
    nnrti_ohnn_io *io;
    if (executor == NULL || dataBuffer == NULL || length == 0 || outputIndex >= executor->nOut)
        return OH_NN_INVALID_PARAMETER;
    io = &executor->io[executor->nIn + outputIndex];
    if (length < nnrti_ohnn_bytes(io))
        return OH_NN_INVALID_PARAMETER;
    nnrti_ohnn_bind(io, dataBuffer, length, NULL, false);
    return OH_NN_SUCCESS;
}

/* The block of memory that this executor has allocated and not freed; NULL: it is no such memory. */
static const nnrti_ohnn_shared *nnrti_ohnn_memory_of(const OH_NNExecutor *e, const OH_NN_Memory *memory)
{
    const nnrti_ohnn_memory *entry = memory != NULL ? e->memories : NULL;
    while (entry != NULL && entry->memory != memory)
        entry = entry->next;
    return entry != NULL ? &entry->block : NULL;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_Run(OH_NNExecutor *executor)
{
    OH_NNExecutor *e = executor;
    NNRT_ReturnCode code;
    bool good = true;
    if (e == NULL)
        return OH_NN_INVALID_PARAMETER;
    for (uint32_t i = 0; i < e->nIn + e->nOut; i++)
        if (!e->io[i].set || e->io[i].gone)
            return OH_NN_INVALID_PARAMETER;
    NNRTI_OHNN_LOCK(&e->mutex);
    for (uint32_t i = 0; i < e->nIn + e->nOut; i++) {
        const nnrti_ohnn_io *io = &e->io[i];
        const nnrti_ohnn_shared *block = nnrti_ohnn_memory_of(e, io->memory);
        NNRT_SharedBuffer data = nnrti_ohnn_plain(io->data, io->bytes);
        if (block != NULL) {
            data = block->buffer;
            data.addr = block->at;
            data.dataSize = (uint32_t)io->bytes;
        }
        nnrti_ohnn_place(e, i, io->dataType, nnrti_ohnn_formats[io->format], i < e->nIn ? &io->now : &io->planned,
                         &data);
    }
    code = nnrti_ohnn_execute(e);
    for (uint32_t i = 0; i < e->nOut && code == NNRT_SUCCESS; i++)
        good = good && e->told[i].rank == e->io[e->nIn + i].dims.rank;
    NNRTI_OHNN_UNLOCK(&e->mutex);
    if (code == NNRT_INSUFFICIENT_BUFFER || !good)
        return OH_NN_INVALID_PARAMETER;
    return code == NNRT_SUCCESS ? OH_NN_SUCCESS : OH_NN_UNAVAILABLE_DEVICE;
}

/* Allocates memory for an input or output: zeroed memory of the device. */
static OH_NN_Memory *nnrti_ohnn_allocate(OH_NNExecutor *e, const nnrti_ohnn_io *io, size_t length)
{
    nnrti_ohnn_memory *entry = (nnrti_ohnn_memory *)calloc(1, sizeof(*entry));
    void *memory = malloc(sizeof(OH_NN_Memory));
    if (entry == NULL || memory == NULL || length > NNRTI_OHNN_MAX_BLOCK ||
        !nnrti_ohnn_shared_make(&entry->block, e->compiled->device, length)) {
        free(entry);
        free(memory);
        return NULL;
    }
    {
        const OH_NN_Memory made = {nnrti_ohnn_shared_data(&entry->block), length};
        memset(made.data, 0, length);
        memcpy(memory, &made, sizeof(made)); /* its members are const */
    }
    entry->memory = (OH_NN_Memory *)memory;
    entry->io = io;
    entry->next = e->memories;
    e->memories = entry;
    return entry->memory;
}

NNRT_OHNN_API OH_NN_Memory *OH_NNExecutor_AllocateInputMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                              size_t length)
{
    if (executor == NULL || length == 0 || inputIndex >= executor->nIn)
        return NULL;
    return nnrti_ohnn_allocate(executor, &executor->io[inputIndex], length);
}

NNRT_OHNN_API OH_NN_Memory *OH_NNExecutor_AllocateOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                               size_t length)
{
    if (executor == NULL || length == 0 || outputIndex >= executor->nOut)
        return NULL;
    return nnrti_ohnn_allocate(executor, &executor->io[executor->nIn + outputIndex], length);
}

/* Frees *memory, if it was allocated for io. */
static void nnrti_ohnn_free(OH_NNExecutor *e, const nnrti_ohnn_io *io, OH_NN_Memory **memory)
{
    for (nnrti_ohnn_memory **at = &e->memories; *at != NULL; at = &(*at)->next) {
        nnrti_ohnn_memory *entry = *at;
        if (entry->memory != *memory || entry->io != io)
            continue;
        for (uint32_t i = 0; i < e->nIn + e->nOut; i++)
            e->io[i].gone = e->io[i].gone || (e->io[i].set && e->io[i].memory == *memory);
        *at = entry->next;
        nnrti_ohnn_shared_free(&entry->block, e->compiled->device);
        free(entry->memory);
        free(entry);
        *memory = NULL;
        return;
    }
}

NNRT_OHNN_API void OH_NNExecutor_DestroyInputMemory(OH_NNExecutor *executor, uint32_t inputIndex, OH_NN_Memory **memory)
{
    if (executor != NULL && memory != NULL && *memory != NULL && inputIndex < executor->nIn)
        nnrti_ohnn_free(executor, &executor->io[inputIndex], memory);
}

NNRT_OHNN_API void OH_NNExecutor_DestroyOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                     OH_NN_Memory **memory)
{
    if (executor != NULL && memory != NULL && *memory != NULL && outputIndex < executor->nOut)
        nnrti_ohnn_free(executor, &executor->io[executor->nIn + outputIndex], memory);
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetInputWithMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                                const OH_NN_Tensor *tensor, const OH_NN_Memory *memory)
{
    size_t bytes;
    if (executor == NULL || tensor == NULL || memory == NULL ||
        !nnrti_ohnn_fits(executor, inputIndex, tensor, memory->length, &bytes))
        return OH_NN_INVALID_PARAMETER;
    nnrti_ohnn_bind_input(&executor->io[inputIndex], tensor, memory->data, bytes, memory,
                          nnrti_ohnn_memory_of(executor, memory) == NULL);
    return OH_NN_SUCCESS;
}

NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOutputWithMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                                 const OH_NN_Memory *memory)
{
    nnrti_ohnn_io *io;
    if (executor == NULL || memory == NULL || outputIndex >= executor->nOut)
        return OH_NN_INVALID_PARAMETER;
    io = &executor->io[executor->nIn + outputIndex];
    if (memory->length == 0 || memory->length < nnrti_ohnn_bytes(io))
        return OH_NN_INVALID_PARAMETER;
    nnrti_ohnn_bind(io, memory->data, memory->length, memory, nnrti_ohnn_memory_of(executor, memory) == NULL);
    return OH_NN_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_IMPLEMENTATION */
