/*
nnadapter.h - NNAdapter, Paddle-Lite's device interface (version 1, 28 functions), for programs written for it.

Names and numbers are NNAdapter's. Functions return an NNAdapterResultCode; comments omit its prefix NNADAPTER_. An
error without a listed code is INVALID_PARAMETER. Pointer arguments must not be NULL unless a comment says otherwise.
The caller owns the handles that functions create, and frees them with the function named destroy or release, which
accept NULL. A model, its compilations and their executions may be used by one thread at a time; only executions of one
compilation may compute in threads of their own.

MIT license, see LICENSE.
*/
#ifndef NNADAPTER_H
#define NNADAPTER_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifndef NNRT_NNADAPTER_API
#define NNRT_NNADAPTER_API extern /* linkage of the functions, for shared libraries */
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { NNADAPTER_VERSION = 1 };
enum { NNADAPTER_UNKNOWN = -65535 }; /* a dynamic dimension; the precision of an output that is inferred */
enum { NNADAPTER_MAX_SIZE_OF_DIMENSIONS = 8 };
enum { NNADAPTER_MAX_SIZE_OF_DYNAMIC_DIMENSIONS = 8 };

typedef enum {
    NNADAPTER_NO_ERROR = 0,
    NNADAPTER_OUT_OF_MEMORY = 1,
    NNADAPTER_INVALID_DIMENSIONS = 2,
    NNADAPTER_INVALID_PARAMETER = 3,
    NNADAPTER_DEVICE_NOT_FOUND = 4,
    NNADAPTER_DEVICE_INTERNAL_ERROR = 5,
    NNADAPTER_FEATURE_NOT_SUPPORTED = 6
} NNAdapterResultCode;

/* Element types. Quantized ones: real = (integer - zero point) * scale; SYMM: the zero point is 0; PER_CHANNEL: a scale
   for each index of an axis. */
typedef enum {
    NNADAPTER_BOOL8 = 0,
    NNADAPTER_INT8 = 1,
    NNADAPTER_UINT8 = 2,
    NNADAPTER_INT16 = 3,
    NNADAPTER_UINT16 = 4,
    NNADAPTER_INT32 = 5,
    NNADAPTER_UINT32 = 6,
    NNADAPTER_INT64 = 7,
    NNADAPTER_UINT64 = 8,
    NNADAPTER_FLOAT16 = 9,
    NNADAPTER_FLOAT32 = 10,
    NNADAPTER_FLOAT64 = 11,
    NNADAPTER_QUANT_INT8_SYMM_PER_LAYER = 24,
    NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL = 25,
    NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER = 26,
    NNADAPTER_QUANT_INT16_SYMM_PER_LAYER = 27,
    NNADAPTER_QUANT_INT16_SYMM_PER_CHANNEL = 28,
    NNADAPTER_QUANT_UINT16_ASYMM_PER_LAYER = 29,
    NNADAPTER_QUANT_INT32_SYMM_PER_LAYER = 30,
    NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL = 31,
    NNADAPTER_QUANT_UINT32_ASYMM_PER_LAYER = 32
} NNAdapterOperandPrecisionCode;

/* Layout of images; operations support NCHW. */
typedef enum {
    NNADAPTER_NCHW = 0,
    NNADAPTER_NHWC = 1,
    NNADAPTER_HWCN = 2,
    NNADAPTER_HWNC = 3
} NNAdapterOperandLayoutCode;

/* Source of an operand's values. Set by the runtime, not by the program. */
typedef enum {
    NNADAPTER_TEMPORARY_VARIABLE = 0,
    NNADAPTER_TEMPORARY_SHAPE = 1,
    NNADAPTER_CONSTANT_COPY = 2,
    NNADAPTER_CONSTANT_REFERENCE = 3,
    NNADAPTER_MODEL_INPUT = 4,
    NNADAPTER_MODEL_OUTPUT = 5
} NNAdapterOperandLifetimeCode;

/* Operations: input operands in order -> outputs. Images are [N,C,H,W]. Brackets: an optional operand, which may be
   NULL, and its default. "..." stands for one or more. Operands after the first are mostly constant parameters. fuse is
   an NNAdapterFuseCode, dtype an NNAdapterOperandPrecisionCode; pads are top, bottom, left, right; kernels, strides,
   dilations and shapes are height, width. Binary operations broadcast like NumPy. */
typedef enum {
    NNADAPTER_ABS = 0,                      /* input -> output */
    NNADAPTER_ADAPTIVE_AVERAGE_POOL_2D = 1, /* input, output_shape [2] -> output */
    NNADAPTER_ADAPTIVE_MAX_POOL_2D = 2,     /* input, output_shape [2], [return_indices false], [dtype of them INT32]
                                               -> output, indices h * W + w if returned */
    NNADAPTER_ADD = 3,                      /* input0, input1, [fuse] -> output */
    NNADAPTER_AND = 4,                      /* input0, input1 -> output */
    NNADAPTER_ARG_MAX = 5,             /* input, axis, [keepdim false], [dtype INT64] -> indices; the first one wins */
    NNADAPTER_ARG_MIN = 6,             /* the same */
    NNADAPTER_ASSIGN = 7,              /* input -> output */
    NNADAPTER_AVERAGE_POOL_2D = 8,     /* input, auto_pad, [pads 0], kernel_shape, strides, [ceil_mode false],
                                           [count_include_pad false], [fuse] -> output. In kernel_shape
                                           NNADAPTER_UNKNOWN is the input's size: a global pool */
    NNADAPTER_BATCH_NORMALIZATION = 9, /* input [N,C,...], scale, bias, mean, variance [C], [epsilon 1e-5] -> output */
    NNADAPTER_CAST = 10,               /* input, dtype -> output */
    NNADAPTER_CHANNEL_SHUFFLE = 11,    /* input, group -> output: channel k * group + g is g * C / group + k of input */
    NNADAPTER_CLIP = 12,               /* input, [min], [max] -> output */
    NNADAPTER_CONCAT = 13,             /* input..., axis -> output */
    NNADAPTER_CONV_2D = 14, /* input, filter [Cout,Cin/group,kH,kW], [bias], auto_pad, [pads 0], strides, [group 1],
                                           [dilations 1], [fuse] -> output. With SAME dilations count as 1 */
    NNADAPTER_CONV_2D_TRANSPOSE =
        15,                 /* input, filter [Cin,Cout/group,kH,kW], [bias], auto_pad, [pads 0], strides, [group 1],
                                           [dilations 1], [output_padding 0], [output_shape], [fuse] -> output */
    NNADAPTER_COS = 16,     /* input -> output */
    NNADAPTER_CUM_SUM = 17, /* input, [axis -1], [exclusive false], [reverse false] -> output */
    NNADAPTER_DEFORMABLE_CONV_2D =
        18,                    /* input, offset, [mask 1], filter [Cout,Cin/group,kH,kW], [bias], [pads 0], strides,
                                           [group 1], [deformable_group 1], [dilations 1], [fuse] -> output */
    NNADAPTER_DEQUANTIZE = 19, /* quantized input -> float32 output */
    NNADAPTER_DIV = 20,        /* input0, input1, [fuse] -> output */
    NNADAPTER_EQUAL = 21,      /* input0, input1 -> output BOOL8 */
    NNADAPTER_EXP = 22,        /* input -> output */
    NNADAPTER_EXPAND = 23,     /* input, shape -> output */
    NNADAPTER_FILL = 24,       /* shape, value [1] -> output */
    NNADAPTER_FILL_LIKE = 25,  /* input, value [1] -> output of the shape of input */
    NNADAPTER_FLATTEN = 26,    /* input, start_axis, end_axis -> output: these axes and those between become one */
    NNADAPTER_FLOOR = 27,      /* input -> output */
    NNADAPTER_FLOOR_DIV = 28,  /* input0, input1, [fuse] -> output */
    NNADAPTER_FULLY_CONNECTED = 29,        /* input, weight [O,K], [bias [O]], [fuse] -> output [elements / K, O] */
    NNADAPTER_GATHER = 30,                 /* input, indices, axis -> output */
    NNADAPTER_GELU = 31,                   /* input, [approximate false] -> output */
    NNADAPTER_GREATER = 32,                /* input0, input1 -> output BOOL8 */
    NNADAPTER_GREATER_EQUAL = 33,          /* input0, input1 -> output BOOL8 */
    NNADAPTER_GRID_SAMPLE = 34,            /* input, grid [N,H,W,2], align_corners, NNAdapterInterpolateModeCode,
                                           NNAdapterPadModeCode -> output [N,C,H,W] */
    NNADAPTER_GROUP_NORMALIZATION = 35,    /* input [N,C,...], scale, bias [C], [epsilon 1e-5], groups -> output */
    NNADAPTER_HARD_SIGMOID = 36,           /* input x, alpha, beta -> min(max(alpha * x + beta, 0), 1) */
    NNADAPTER_HARD_SWISH = 37,             /* input x, alpha, beta -> x * min(max(alpha * x + beta, 0), 1) */
    NNADAPTER_INSTANCE_NORMALIZATION = 38, /* input [N,C,...], scale, bias [C], [epsilon 1e-5] -> output */
    NNADAPTER_LAYER_NORMALIZATION =
        39,                     /* input, scale, bias of the last axes, begin_norm_axis, [epsilon 1e-5] -> output */
    NNADAPTER_LEAKY_RELU = 40,  /* input, alpha -> output */
    NNADAPTER_LESS = 41,        /* input0, input1 -> output BOOL8 */
    NNADAPTER_LESS_EQUAL = 42,  /* input0, input1 -> output BOOL8 */
    NNADAPTER_LOG = 43,         /* input -> output */
    NNADAPTER_LOG_SOFTMAX = 44, /* input, [axis 1] -> output */
    NNADAPTER_LP_NORMALIZATION = 45, /* input, [axis 1], [p 2], [epsilon 1e-5] -> output */
    NNADAPTER_LRN = 46,     /* input, [size 5], [bias 1], [alpha 1e-4], [beta 0.75] -> output: x / (bias + alpha / size *
                                           sum of x * x over size channels) ^ beta */
    NNADAPTER_MAT_MUL = 47, /* x, y, [transpose_x false], [transpose_y false] -> output */
    NNADAPTER_MAX = 48,     /* input0, input1, [fuse] -> output */
    NNADAPTER_MAX_POOL_2D = 49,    /* input, auto_pad, [pads 0], kernel_shape, strides, [ceil_mode false],
                                           [return_indices false], [dtype of them INT32], [fuse] -> output, [indices] */
    NNADAPTER_MESHGRID = 50,       /* input... [d] -> an output of shape [d0,d1,...] for each */
    NNADAPTER_MIN = 51,            /* input0, input1, [fuse] -> output */
    NNADAPTER_MUL = 52,            /* input0, input1, [fuse] -> output */
    NNADAPTER_NOT = 53,            /* input -> output */
    NNADAPTER_NOT_EQUAL = 54,      /* input0, input1 -> output BOOL8 */
    NNADAPTER_OR = 55,             /* input0, input1 -> output */
    NNADAPTER_PAD = 56,            /* input, pads: first and last of each axis in turn, NNAdapterPadModeCode, [value 0]
                                           -> output */
    NNADAPTER_POW = 57,            /* input0, input1, [fuse] -> output */
    NNADAPTER_PRIOR_BOX = 58,      /* input, image, min_sizes, [max_sizes], [aspect_ratios], variances, [flip false],
                                           [clip false], [step_w 0], [step_h 0], [offset 0.5],
                                           [min_max_aspect_ratios_order false] -> boxes, variances [H,W,P,4] */
    NNADAPTER_PRELU = 59,          /* input [N,C,...], alpha [1] or [C] -> output */
    NNADAPTER_QUANTIZE = 60,       /* FLOAT32 or INT32 input, [axis 1], scale [1] or [C], [zero_point 0: INT32, or
                                           FLOAT32 of a whole number] -> quantized output */
    NNADAPTER_RANGE = 61,          /* start, end, step -> output */
    NNADAPTER_REDUCE_MEAN = 62,    /* input, [axes: all], [keepdim false] -> output */
    NNADAPTER_REDUCE_MAX = 63,     /* the same */
    NNADAPTER_REDUCE_SUM = 64,     /* the same */
    NNADAPTER_RELU = 65,           /* input -> output */
    NNADAPTER_RELU6 = 66,          /* input -> output */
    NNADAPTER_RESHAPE = 67,        /* input, shape: 0: the input's dimension, one -1: inferred -> output */
    NNADAPTER_RESIZE_NEAREST = 68, /* input, [shape [2]], [scales [2]], align_corners -> output; positive scales
                                           take precedence over shape */
    NNADAPTER_RESIZE_LINEAR = 69,  /* input, [shape [2]], [scales [2]], align_corners, align_mode: 0 = half-pixel,
                                           1 = corners -> output */
    NNADAPTER_ROI_ALIGN = 70,      /* input, rois [n,4], batch_indices [n], output_height, output_width, sampling_ratio,
                                           spatial_scale, aligned -> output [n,C,height,width] */
    NNADAPTER_ROLL = 71,           /* input, shifts, [axes: flattened to one axis] -> output */
    NNADAPTER_RSQRT = 72,          /* input -> output */
    NNADAPTER_SHAPE = 73,          /* input, [dtype INT32] -> output */
    NNADAPTER_SIGMOID = 74,        /* input -> output */
    NNADAPTER_SIN = 75,            /* input -> output */
    NNADAPTER_SLICE = 76,          /* input, [axes: the first ones], starts, ends, [steps 1] -> output */
    NNADAPTER_SOFTMAX = 77,        /* input, [axis 1] -> output */
    NNADAPTER_SOFTPLUS = 78,       /* input, [beta 1], [threshold 20] -> output */
    NNADAPTER_SPLIT = 79,          /* input, axis, sizes -> an output for each */
    NNADAPTER_SQUARE = 80,         /* input -> output */
    NNADAPTER_SQUEEZE = 81,        /* input, [axes: all of size 1] -> output */
    NNADAPTER_STACK = 82,          /* input..., axis -> output */
    NNADAPTER_SUB = 83,            /* input0, input1, [fuse] -> output */
    NNADAPTER_SUM = 84,            /* input... -> output */
    NNADAPTER_SWISH = 85,          /* input -> output */
    NNADAPTER_TANH = 86,           /* input -> output */
    NNADAPTER_TILE = 87,           /* input, repeats: one an axis -> output */
    NNADAPTER_TOP_K = 88,     /* input, k, [axis -1], [largest true], [sorted true], [dtype INT64] -> values, indices */
    NNADAPTER_TRANSPOSE = 89, /* input, [perm: axes reversed] -> output */
    NNADAPTER_UNSQUEEZE = 90, /* input, axes -> output */
    NNADAPTER_UNSTACK = 91,   /* input, axis, [num: number of outputs] -> an output for each index */
    NNADAPTER_WHERE = 92,     /* condition, input0, input1 -> output */
    NNADAPTER_XOR = 93,       /* input0, input1 -> output */
    NNADAPTER_NON_MAX_SUPPRESSION = 94, /* boxes, scores, [rois_num], background_label, score_threshold, nms_top_k,
                                           nms_threshold, nms_eta, keep_top_k, normalized, return_index
                                           -> output, out_rois_num, index if returned */
    NNADAPTER_YOLO_BOX = 95             /* input, imgsize [N,2], anchors, class_num, conf_thresh, downsample_ratio,
                                           [clip_bbox true], [scale_x_y 1], [iou_aware false], [iou_aware_factor 0.5]
                                           -> boxes [N,M,4], scores [N,M,class_num] */
} NNAdapterOperationCode;

/* Fused activations. RELU1 is min(max(x, 0), 1). */
typedef enum {
    NNADAPTER_FUSED_NONE = 0,
    NNADAPTER_FUSED_RELU = 1,
    NNADAPTER_FUSED_RELU1 = 2,
    NNADAPTER_FUSED_RELU6 = 3
} NNAdapterFuseCode;

/* NONE: explicit pads. SAME: output dimensions are the input's divided by the strides, rounded up. */
typedef enum {
    NNADAPTER_AUTO_PAD_NONE = 0,
    NNADAPTER_AUTO_PAD_SAME = 1,
    NNADAPTER_AUTO_PAD_VALID = 2
} NNAdapterAutoPadCode;

typedef enum { NNADAPTER_CPU = 0, NNADAPTER_GPU = 1, NNADAPTER_ACCELERATOR = 2 } NNAdapterDeviceCode;

typedef enum {
    NNADAPTER_PAD_MODE_NONE = 0,
    NNADAPTER_PAD_MODE_CONSTANT = 1,
    NNADAPTER_PAD_MODE_REFLECT = 2,
    NNADAPTER_PAD_MODE_REPLICATE = 3,
    NNADAPTER_PAD_MODE_EDGE = 4
} NNAdapterPadModeCode;

typedef enum {
    NNADAPTER_INTERPOLATE_MODE_NONE = 0,
    NNADAPTER_INTERPOLATE_MODE_BILINEAR = 1,
    NNADAPTER_INTERPOLATE_MODE_NEAREST = 2
} NNAdapterInterpolateModeCode;

typedef int32_t NNAdapterDeviceType;    /* NNAdapterDeviceCode */
typedef int32_t NNAdapterOperationType; /* NNAdapterOperationCode; negative: an operator that the application registered */

typedef struct NNAdapterSymmPerLayerQuantParams {
    float scale;
} NNAdapterSymmPerLayerQuantParams;

typedef struct NNAdapterSymmPerChannelQuantParams {
    uint32_t channel_dim; /* the axis */
    uint32_t scale_count; /* size of the axis */
    float *scales;
} NNAdapterSymmPerChannelQuantParams;

typedef struct NNAdapterAsymmPerLayerQuantParams {
    float scale;
    int32_t zero_point;
} NNAdapterAsymmPerLayerQuantParams;

/* Dimensions data[count]; negative: dynamic. dynamic_data: optional hints, the shapes that a program will run with. */
typedef struct NNAdapterOperandDimensionType {
    uint32_t count;
    int32_t data[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    uint32_t dynamic_count;
    int32_t dynamic_data[NNADAPTER_MAX_SIZE_OF_DYNAMIC_DIMENSIONS][NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
} NNAdapterOperandDimensionType;

typedef struct NNAdapterOperandType {
    NNAdapterOperandPrecisionCode precision;
    NNAdapterOperandLayoutCode layout;
    NNAdapterOperandLifetimeCode lifetime;
    NNAdapterOperandDimensionType dimensions;
    /* the member for the precision */
#ifdef __GNUC__
    __extension__ /* C99 has no anonymous unions */
#endif
        union {
        NNAdapterSymmPerLayerQuantParams symm_per_layer_params;
        NNAdapterSymmPerChannelQuantParams symm_per_channel_params;
        NNAdapterAsymmPerLayerQuantParams asymm_per_layer_params;
    };
} NNAdapterOperandType;

typedef struct NNAdapterDevice NNAdapterDevice;
typedef struct NNAdapterContext NNAdapterContext;
typedef struct NNAdapterOperand NNAdapterOperand;     /* belongs to its model */
typedef struct NNAdapterOperation NNAdapterOperation; /* belongs to its model */
typedef struct NNAdapterModel NNAdapterModel;
typedef struct NNAdapterCompilation NNAdapterCompilation;
typedef struct NNAdapterExecution NNAdapterExecution;

/* ---- devices ---- */

/* *version = 1. */
NNRT_NNADAPTER_API int NNAdapter_getVersion(uint32_t *version);
/* *numDevices = the number of registered devices. */
NNRT_NNADAPTER_API int NNAdapter_getDeviceCount(uint32_t *numDevices);
/* Returns a handle of the device with that name; a device may have several handles. DEVICE_NOT_FOUND: no such device.
   */
NNRT_NNADAPTER_API int NNAdapterDevice_acquire(const char *name, NNAdapterDevice **device);
NNRT_NNADAPTER_API void NNAdapterDevice_release(NNAdapterDevice *device);
/* The strings are owned by the device. */
NNRT_NNADAPTER_API int NNAdapterDevice_getName(const NNAdapterDevice *device, const char **name);
NNRT_NNADAPTER_API int NNAdapterDevice_getVendor(const NNAdapterDevice *device, const char **vendor);
NNRT_NNADAPTER_API int NNAdapterDevice_getType(const NNAdapterDevice *device, NNAdapterDeviceType *type);
NNRT_NNADAPTER_API int NNAdapterDevice_getVersion(const NNAdapterDevice *device, int32_t *version);

/* ---- contexts: devices in order of preference, and their properties ---- */

/* properties: "KEY=VALUE;KEY=VALUE;", copied, NULL = "". An empty key or value, or a second "=", is an error; if a key
   occurs again, its last value counts. A device uses the keys that it knows; nnrt_nnadapter.h describes the keys that
   select operations for the reference device or for float32. callback, which may be NULL, is for devices that request
   objects from the program. num_devices must not be 0. The handles may be released afterwards. */
NNRT_NNADAPTER_API int NNAdapterContext_create(NNAdapterDevice **devices, uint32_t num_devices, const char *properties,
                                               int (*callback)(int event_id, void *user_data),
                                               NNAdapterContext **context);
NNRT_NNADAPTER_API void NNAdapterContext_destroy(NNAdapterContext *context);

/* ---- models: functions that change a model fail after NNAdapterModel_finish ---- */

NNRT_NNADAPTER_API int NNAdapterModel_create(NNAdapterModel **model);
NNRT_NNADAPTER_API void NNAdapterModel_destroy(NNAdapterModel *model);
/* May succeed once. Requirements: outputs are identified; every operation is known, or negative; no operand has two
   producers, every operand that is read has one, and there are no cycles. Also the codes of
   NNAdapterModel_addOperation. */
NNRT_NNADAPTER_API int NNAdapterModel_finish(NNAdapterModel *model);
/* Copies type including its scales, but not lifetime. Precision NNADAPTER_UNKNOWN, with any dimensions: the output of
   an operation, which infers them. A quantized output of the same type as an input gets the input's precision, and the
   scale and zero point in type; the output of an operation that only moves elements may leave them 0, and gets the
   input's. INVALID_DIMENSIONS: more than 8 dimensions. FEATURE_NOT_SUPPORTED: another layout than NCHW. */
NNRT_NNADAPTER_API int NNAdapterModel_addOperand(NNAdapterModel *model, const NNAdapterOperandType *type,
                                                 NNAdapterOperand **operand);
/* Makes the operand a constant of `length` bytes, not 0. copy false: the bytes are used in place; they must exist
   unchanged as long as the model and its compilations. */
NNRT_NNADAPTER_API int NNAdapterModel_setOperandValue(NNAdapterOperand *operand, void *buffer, uint32_t length,
                                                      bool copy);
/* *type = the operand's type, read-only. It changes: an operation's output gets its inferred type and shape when the
   operation is added, or in NNAdapterModel_finish if an input had an unknown precision. */
NNRT_NNADAPTER_API int NNAdapterModel_getOperandType(NNAdapterOperand *operand, NNAdapterOperandType **type);
/* Set the values of constants before this call. input_operands may be NULL if there are none, and contains NULL for
   optional operands that are left out; there is at least one output. INVALID_DIMENSIONS: shapes do not match.
   FEATURE_NOT_SUPPORTED: valid, but unsupported here. An unknown operation code is reported later, by
   NNAdapterModel_finish. */
NNRT_NNADAPTER_API int NNAdapterModel_addOperation(NNAdapterModel *model, NNAdapterOperationType type,
                                                   uint32_t input_count, NNAdapterOperand **input_operands,
                                                   uint32_t output_count, NNAdapterOperand **output_operands,
                                                   NNAdapterOperation **operation);
/* Sets inputs and outputs in the order of a run. At least one output; inputs may be none. */
NNRT_NNADAPTER_API int NNAdapterModel_identifyInputsAndOutputs(NNAdapterModel *model, uint32_t input_count,
                                                               NNAdapterOperand **input_operands, uint32_t output_count,
                                                               NNAdapterOperand **output_operands);
/* supported_operations has an entry for each operation, in the order in which they were added: whether a device of the
   context supports it. FEATURE_NOT_SUPPORTED: a device does not report its support. */
NNRT_NNADAPTER_API int NNAdapterModel_getSupportedOperations(const NNAdapterModel *model, NNAdapterContext *context,
                                                             bool *supported_operations);

/* ---- compilations ---- */

/* From a finished model, or from a cache: cache_token with cache_buffer and cache_length, or with cache_dir, in which
   the file is <cache_dir>/<cache_token>.nnc. All arguments except context and compilation may be NULL. The context must
   exist as long as the compilation; the model may be destroyed. */
NNRT_NNADAPTER_API int NNAdapterCompilation_create(NNAdapterModel *model, const char *cache_token, void *cache_buffer,
                                                   uint32_t cache_length, const char *cache_dir,
                                                   NNAdapterContext *context, NNAdapterCompilation **compilation);
NNRT_NNADAPTER_API void NNAdapterCompilation_destroy(NNAdapterCompilation *compilation);
/* May be called once. FEATURE_NOT_SUPPORTED: no device supports the model. INVALID_PARAMETER: no finished model, and no
   usable cache. */
NNRT_NNADAPTER_API int NNAdapterCompilation_finish(NNAdapterCompilation *compilation);
/* After NNAdapterCompilation_finish: the numbers of inputs and outputs and, if the arrays are not NULL, their types,
   which the compilation owns. */
NNRT_NNADAPTER_API int NNAdapterCompilation_queryInputsAndOutputs(NNAdapterCompilation *compilation,
                                                                  uint32_t *input_count,
                                                                  NNAdapterOperandType **input_types,
                                                                  uint32_t *output_count,
                                                                  NNAdapterOperandType **output_types);

/* ---- executions: destroy them before their compilation ---- */

NNRT_NNADAPTER_API int NNAdapterExecution_create(NNAdapterCompilation *compilation, NNAdapterExecution **execution);
NNRT_NNADAPTER_API void NNAdapterExecution_destroy(NNAdapterExecution *execution);
/* memory is an object of the program. Each run calls access with it and the operand's type: for an input it stores the
   dimensions of this run there and returns the address of the elements; for an output it reads the dimensions there and
   returns the address for the elements, aligned for that type. device_buffer is NULL. Both stay set for further runs.
   The third parameter was added in NNAdapter's second generation; programs of the first lack it. */
NNRT_NNADAPTER_API int NNAdapterExecution_setInput(NNAdapterExecution *execution, int32_t index, void *memory,
                                                   void *(*access)(void *memory, NNAdapterOperandType *type,
                                                                   void *device_buffer));
NNRT_NNADAPTER_API int NNAdapterExecution_setOutput(NNAdapterExecution *execution, int32_t index, void *memory,
                                                    void *(*access)(void *memory, NNAdapterOperandType *type,
                                                                    void *device_buffer));
/* Runs and waits. INVALID_PARAMETER: an input or output was never set, or access returned NULL. INVALID_DIMENSIONS:
   dimensions that the compilation does not support; another compilation may. DEVICE_INTERNAL_ERROR: the device failed.
   */
NNRT_NNADAPTER_API int NNAdapterExecution_compute(NNAdapterExecution *execution);

#ifdef __cplusplus
}
#endif

#endif /* NNADAPTER_H */
