/*
neural_network_runtime_type.h - types of OpenHarmony's OH_NN API (API level 9 to 12), for programs written for it.

Names and numbers are OpenHarmony's. The comment of an operator lists its inputs and outputs, in order; the comment of a
parameter the element type and number of elements of its tensor. int64 parameters may be int32 tensors, too. A parameter
that an operation does not have uses its default.

MIT license, see LICENSE.
*/
#ifndef NEURAL_NETWORK_RUNTIME_TYPE_H
#define NEURAL_NETWORK_RUNTIME_TYPE_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Handles. Their creator frees them with the function named Destroy. */
typedef struct OH_NNModel OH_NNModel;
typedef struct OH_NNCompilation OH_NNCompilation;
typedef struct OH_NNExecutor OH_NNExecutor;
typedef struct NN_QuantParam NN_QuantParam;
typedef struct NN_TensorDesc NN_TensorDesc;
typedef struct NN_Tensor NN_Tensor;

/* How a device trades speed against power. */
typedef enum {
    OH_NN_PERFORMANCE_NONE = 0,
    OH_NN_PERFORMANCE_LOW = 1,
    OH_NN_PERFORMANCE_MEDIUM = 2,
    OH_NN_PERFORMANCE_HIGH = 3,
    OH_NN_PERFORMANCE_EXTREME = 4
} OH_NN_PerformanceMode;

/* Priority among the models of one process. */
typedef enum {
    OH_NN_PRIORITY_NONE = 0,
    OH_NN_PRIORITY_LOW = 1,
    OH_NN_PRIORITY_MEDIUM = 2,
    OH_NN_PRIORITY_HIGH = 3
} OH_NN_Priority;

/* Return codes. The comment of each function describes its codes. */
typedef enum {
    OH_NN_SUCCESS = 0,
    OH_NN_FAILED = 1,                /* errors without a code of their own */
    OH_NN_INVALID_PARAMETER = 2,     /* an argument is not allowed */
    OH_NN_MEMORY_ERROR = 3,          /* out of memory, or memory that cannot be used */
    OH_NN_OPERATION_FORBIDDEN = 4,   /* not allowed in this state, or on this device */
    OH_NN_NULL_PTR = 5,              /* a pointer is NULL */
    OH_NN_INVALID_FILE = 6,          /* invalid contents of a file, or of a buffer with such contents */
    OH_NN_UNAVALIDABLE_DEVICE = 7,   /* deprecated: UNAVAILABLE_DEVICE */
    OH_NN_INVALID_PATH = 8,          /* a file cannot be read */
    OH_NN_TIMEOUT = 9,               /* timeout */
    OH_NN_UNSUPPORTED = 10,          /* unsupported */
    OH_NN_CONNECTION_EXCEPTION = 11, /* the driver does not respond */
    OH_NN_SAVE_CACHE_EXCEPTION = 12, /* a cache cannot be written */
    OH_NN_DYNAMIC_SHAPE = 13,        /* a dimension is unknown */
    OH_NN_UNAVAILABLE_DEVICE = 14    /* the device failed */
} OH_NN_ReturnCode;

/* Fused activations, as int8 in the tensor of a parameter. */
typedef enum { OH_NN_FUSED_NONE = 0, OH_NN_FUSED_RELU = 1, OH_NN_FUSED_RELU6 = 2 } OH_NN_FuseType;

/* Axis order (layout) of a tensor. */
typedef enum {
    OH_NN_FORMAT_NONE = 0, /* unspecified */
    OH_NN_FORMAT_NCHW = 1,
    OH_NN_FORMAT_NHWC = 2,
    OH_NN_FORMAT_ND = 3 /* any rank, without a layout */
} OH_NN_Format;

/* Kind of device. */
typedef enum { OH_NN_OTHERS = 0, OH_NN_CPU = 1, OH_NN_GPU = 2, OH_NN_ACCELERATOR = 3 } OH_NN_DeviceType;

/* Element types. A bool is one byte. */
typedef enum {
    OH_NN_UNKNOWN = 0,
    OH_NN_BOOL = 1,
    OH_NN_INT8 = 2,
    OH_NN_INT16 = 3,
    OH_NN_INT32 = 4,
    OH_NN_INT64 = 5,
    OH_NN_UINT8 = 6,
    OH_NN_UINT16 = 7,
    OH_NN_UINT32 = 8,
    OH_NN_UINT64 = 9,
    OH_NN_FLOAT16 = 10,
    OH_NN_FLOAT32 = 11,
    OH_NN_FLOAT64 = 12
} OH_NN_DataType;

/* Operators: inputs -> outputs. */
typedef enum {
    OH_NN_OPS_ADD = 1,                      /* x, y -> z */
    OH_NN_OPS_AVG_POOL = 2,                 /* x -> y */
    OH_NN_OPS_BATCH_NORM = 3,               /* x, scale, offset, mean, variance -> y */
    OH_NN_OPS_BATCH_TO_SPACE_ND = 4,        /* x -> y */
    OH_NN_OPS_BIAS_ADD = 5,                 /* x, bias -> y */
    OH_NN_OPS_CAST = 6,                     /* x, type (int32, an OH_NN_DataType) -> y */
    OH_NN_OPS_CONCAT = 7,                   /* x, x, .. -> y */
    OH_NN_OPS_CONV2D = 8,                   /* x, weight, bias -> y */
    OH_NN_OPS_CONV2D_TRANSPOSE = 9,         /* x, weight, bias -> y */
    OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE = 10, /* x, weight, bias -> y */
    OH_NN_OPS_DIV = 11,                     /* x, y -> z */
    OH_NN_OPS_ELTWISE = 12,                 /* x, y -> z */
    OH_NN_OPS_EXPAND_DIMS = 13,             /* x, axis -> y */
    OH_NN_OPS_FILL = 14,                    /* value, shape -> y */
    OH_NN_OPS_FULL_CONNECTION = 15,         /* x, weight, bias (may be missing) -> y */
    OH_NN_OPS_GATHER = 16,                  /* x, indices, axis -> y */
    OH_NN_OPS_HSWISH = 17,                  /* x -> y */
    OH_NN_OPS_LESS_EQUAL = 18,              /* x, y -> z */
    OH_NN_OPS_MATMUL = 19,                  /* x, y -> z */
    OH_NN_OPS_MAXIMUM = 20,                 /* x, y -> z */
    OH_NN_OPS_MAX_POOL = 21,                /* x -> y */
    OH_NN_OPS_MUL = 22,                     /* x, y -> z */
    OH_NN_OPS_ONE_HOT = 23,                 /* indices, depth, onValue, offValue -> y */
    OH_NN_OPS_PAD = 24,                     /* x, paddings -> y */
    OH_NN_OPS_POW = 25,                     /* x, y -> z */
    OH_NN_OPS_SCALE = 26,                   /* x, scale, bias -> y */
    OH_NN_OPS_SHAPE = 27,                   /* x -> y */
    OH_NN_OPS_SIGMOID = 28,                 /* x -> y */
    OH_NN_OPS_SLICE = 29,                   /* x, begin, size -> y */
    OH_NN_OPS_SOFTMAX = 30,                 /* x -> y */
    OH_NN_OPS_SPACE_TO_BATCH_ND = 31,       /* x -> y */
    OH_NN_OPS_SPLIT = 32,                   /* x -> y, .. */
    OH_NN_OPS_SQRT = 33,                    /* x -> y */
    OH_NN_OPS_SQUARED_DIFFERENCE = 34,      /* x, y -> z */
    OH_NN_OPS_SQUEEZE = 35,                 /* x -> y */
    OH_NN_OPS_STACK = 36,                   /* x, x, .. -> y */
    OH_NN_OPS_STRIDED_SLICE = 37,           /* x, begin, end, strides -> y */
    OH_NN_OPS_SUB = 38,                     /* x, y -> z */
    OH_NN_OPS_TANH = 39,                    /* x -> y */
    OH_NN_OPS_TILE = 40,                    /* x, multiples -> y */
    OH_NN_OPS_TRANSPOSE = 41,               /* x, perm -> y */
    OH_NN_OPS_REDUCE_MEAN = 42,             /* x, axes -> y */
    OH_NN_OPS_RESIZE_BILINEAR = 43,         /* x -> y */
    OH_NN_OPS_RSQRT = 44,                   /* x -> y */
    OH_NN_OPS_RESHAPE = 45,                 /* x, shape -> y */
    OH_NN_OPS_PRELU = 46,                   /* x, weight -> y */
    OH_NN_OPS_RELU = 47,                    /* x -> y */
    OH_NN_OPS_RELU6 = 48,                   /* x -> y */
    OH_NN_OPS_LAYER_NORM = 49,              /* x, gamma, beta -> y */
    OH_NN_OPS_REDUCE_PROD = 50,             /* x, axes -> y */
    OH_NN_OPS_REDUCE_ALL = 51,              /* x, axes -> y */
    OH_NN_OPS_QUANT_DTYPE_CAST = 52,        /* x -> y */
    OH_NN_OPS_TOP_K = 53,                   /* x, k -> values, indices */
    OH_NN_OPS_ARG_MAX = 54,                 /* x -> indices (or values) */
    OH_NN_OPS_UNSQUEEZE = 55,               /* x -> y */
    OH_NN_OPS_GELU = 56,                    /* x -> y */
    OH_NN_OPS_UNSTACK = 57,                 /* x -> y, .. */
    OH_NN_OPS_ABS = 58,                     /* x -> y */
    OH_NN_OPS_ERF = 59,                     /* x -> y */
    OH_NN_OPS_EXP = 60,                     /* x -> y */
    OH_NN_OPS_LESS = 61,                    /* x, y -> z */
    OH_NN_OPS_SELECT = 62,                  /* condition, x, y -> z */
    OH_NN_OPS_SQUARE = 63,                  /* x -> y */
    OH_NN_OPS_FLATTEN = 64,                 /* x -> y */
    OH_NN_OPS_DEPTH_TO_SPACE = 65,          /* x -> y */
    OH_NN_OPS_RANGE = 66,                   /* x (only its element type matters) -> y */
    OH_NN_OPS_INSTANCE_NORM = 67,           /* x, scale, bias -> y */
    OH_NN_OPS_CONSTANT_OF_SHAPE = 68,       /* x -> y */
    OH_NN_OPS_BROADCAST_TO = 69,            /* x -> y */
    OH_NN_OPS_EQUAL = 70,                   /* x, y -> z */
    OH_NN_OPS_GREATER = 71,                 /* x, y -> z */
    OH_NN_OPS_NOT_EQUAL = 72,               /* x, y -> z */
    OH_NN_OPS_GREATER_EQUAL = 73,           /* x, y -> z */
    OH_NN_OPS_LEAKY_RELU = 74,              /* x -> y */
    OH_NN_OPS_LSTM = 75,                    /* x, wIh, wHh, bias, hx, cx -> y, hy, cy */
    OH_NN_OPS_CLIP = 76,                    /* x -> y */
    OH_NN_OPS_ALL = 77,                     /* x, axes -> y */
    OH_NN_OPS_ASSERT = 78,                  /* condition, data -> y */
    OH_NN_OPS_COS = 79,                     /* x -> y */
    OH_NN_OPS_LOG = 80,                     /* x -> y */
    OH_NN_OPS_LOGICAL_AND = 81,             /* x, y -> z */
    OH_NN_OPS_LOGICAL_NOT = 82,             /* x -> y */
    OH_NN_OPS_MOD = 83,                     /* x, y -> z */
    OH_NN_OPS_NEG = 84,                     /* x -> y */
    OH_NN_OPS_RECIPROCAL = 85,              /* x -> y */
    OH_NN_OPS_SIN = 86,                     /* x -> y */
    OH_NN_OPS_WHERE = 87,                   /* condition, x, y -> z */
    OH_NN_OPS_SPARSE_TO_DENSE = 88,         /* indices, values, shape -> y */
    OH_NN_OPS_LOGICAL_OR = 89,              /* x, y -> z */
    OH_NN_OPS_CEIL = 90,                    /* x -> y */
    OH_NN_OPS_CROP = 91,                    /* x, shape -> y */
    OH_NN_OPS_DETECTION_POST_PROCESS = 92,  /* bbox, scores, anchors -> boxes, classes, scores, num */
    OH_NN_OPS_FLOOR = 93,                   /* x -> y */
    OH_NN_OPS_L2_NORMALIZE = 94,            /* x -> y */
    OH_NN_OPS_LOG_SOFTMAX = 95,             /* x -> y */
    OH_NN_OPS_LRN = 96,                     /* x -> y */
    OH_NN_OPS_MINIMUM = 97,                 /* x, y -> z */
    OH_NN_OPS_RANK = 98,                    /* x -> y */
    OH_NN_OPS_REDUCE_MAX = 99,              /* x, axes -> y */
    OH_NN_OPS_REDUCE_MIN = 100,             /* x, axes -> y */
    OH_NN_OPS_REDUCE_SUM = 101,             /* x, axes -> y */
    OH_NN_OPS_ROUND = 102,                  /* x -> y */
    OH_NN_OPS_SCATTER_ND = 103,             /* indices, updates, shape -> y */
    OH_NN_OPS_SPACE_TO_DEPTH = 104,         /* x -> y */
    OH_NN_OPS_SWISH = 105,                  /* x -> y */
    OH_NN_OPS_REDUCE_L2 = 106,              /* x, axes -> y */
    OH_NN_OPS_HARD_SIGMOID = 107,           /* x -> y */
    OH_NN_OPS_GATHER_ND = 108               /* x, indices -> y */
} OH_NN_OperationType;

/* Role of a model's tensor: data, or a parameter of the operator that the name begins with. */
typedef enum {
    OH_NN_TENSOR = 0,                            /* input, output, constant or intermediate result */
    OH_NN_ADD_ACTIVATIONTYPE = 1,                /* int8[1]: OH_NN_FuseType */
    OH_NN_AVG_POOL_KERNEL_SIZE = 2,              /* int64[n] */
    OH_NN_AVG_POOL_STRIDE = 3,                   /* int64[n] */
    OH_NN_AVG_POOL_PAD_MODE = 4,                 /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_AVG_POOL_PAD = 5,                      /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_AVG_POOL_ACTIVATION_TYPE = 6,          /* int8[1]: OH_NN_FuseType */
    OH_NN_BATCH_NORM_EPSILON = 7,                /* float32[1] */
    OH_NN_BATCH_TO_SPACE_ND_BLOCKSIZE = 8,       /* int64[n] */
    OH_NN_BATCH_TO_SPACE_ND_CROPS = 9,           /* int64[2n]: before and after, an axis a pair */
    OH_NN_CONCAT_AXIS = 10,                      /* int64[1] */
    OH_NN_CONV2D_STRIDES = 11,                   /* int64[n] */
    OH_NN_CONV2D_PAD = 12,                       /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_CONV2D_DILATION = 13,                  /* int64[n] */
    OH_NN_CONV2D_PAD_MODE = 14,                  /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_CONV2D_ACTIVATION_TYPE = 15,           /* int8[1]: OH_NN_FuseType */
    OH_NN_CONV2D_GROUP = 16,                     /* int64[1] */
    OH_NN_CONV2D_TRANSPOSE_STRIDES = 17,         /* int64[n] */
    OH_NN_CONV2D_TRANSPOSE_PAD = 18,             /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_CONV2D_TRANSPOSE_DILATION = 19,        /* int64[n] */
    OH_NN_CONV2D_TRANSPOSE_OUTPUT_PADDINGS = 20, /* int64[n] */
    OH_NN_CONV2D_TRANSPOSE_PAD_MODE = 21,        /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_CONV2D_TRANSPOSE_ACTIVATION_TYPE = 22, /* int8[1]: OH_NN_FuseType */
    OH_NN_CONV2D_TRANSPOSE_GROUP = 23,           /* int64[1] */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_STRIDES = 24,  /* int64[n] */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD = 25,      /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_DILATION = 26, /* int64[n] */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD_MODE = 27, /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_DEPTHWISE_CONV2D_NATIVE_ACTIVATION_TYPE = 28, /* int8[1]: OH_NN_FuseType */
    OH_NN_DIV_ACTIVATIONTYPE = 29,                      /* int8[1]: OH_NN_FuseType */
    OH_NN_ELTWISE_MODE = 30,                            /* int8[1]: 0 product, 1 sum, 2 maximum */
    OH_NN_FULL_CONNECTION_AXIS = 31,                    /* int64[1] */
    OH_NN_FULL_CONNECTION_ACTIVATIONTYPE = 32,          /* int8[1]: OH_NN_FuseType */
    OH_NN_MATMUL_TRANSPOSE_A = 33,                      /* bool[1] */
    OH_NN_MATMUL_TRANSPOSE_B = 34,                      /* bool[1] */
    OH_NN_MATMUL_ACTIVATION_TYPE = 35,                  /* int8[1]: OH_NN_FuseType */
    OH_NN_MAX_POOL_KERNEL_SIZE = 36,                    /* int64[n] */
    OH_NN_MAX_POOL_STRIDE = 37,                         /* int64[n] */
    OH_NN_MAX_POOL_PAD_MODE = 38,              /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_MAX_POOL_PAD = 39,                   /* int8[1]: 0 SAME, 1 VALID; or int64[4]: top, bottom, left, right */
    OH_NN_MAX_POOL_ACTIVATION_TYPE = 40,       /* int8[1]: OH_NN_FuseType */
    OH_NN_MUL_ACTIVATION_TYPE = 41,            /* int8[1]: OH_NN_FuseType */
    OH_NN_ONE_HOT_AXIS = 42,                   /* int64[1] */
    OH_NN_PAD_CONSTANT_VALUE = 43,             /* float32[1] */
    OH_NN_SCALE_ACTIVATIONTYPE = 44,           /* int8[1]: OH_NN_FuseType */
    OH_NN_SCALE_AXIS = 45,                     /* int64[1] */
    OH_NN_SOFTMAX_AXIS = 46,                   /* int64[n] */
    OH_NN_SPACE_TO_BATCH_ND_BLOCK_SHAPE = 47,  /* int64[n] */
    OH_NN_SPACE_TO_BATCH_ND_PADDINGS = 48,     /* int64[2n]: before and after, an axis a pair */
    OH_NN_SPLIT_AXIS = 49,                     /* int64[1] */
    OH_NN_SPLIT_OUTPUT_NUM = 50,               /* int64[1] */
    OH_NN_SPLIT_SIZE_SPLITS = 51,              /* int64[n] */
    OH_NN_SQUEEZE_AXIS = 52,                   /* int64[n] */
    OH_NN_STACK_AXIS = 53,                     /* int64[1] */
    OH_NN_STRIDED_SLICE_BEGIN_MASK = 54,       /* int64[1] */
    OH_NN_STRIDED_SLICE_END_MASK = 55,         /* int64[1] */
    OH_NN_STRIDED_SLICE_ELLIPSIS_MASK = 56,    /* int64[1] */
    OH_NN_STRIDED_SLICE_NEW_AXIS_MASK = 57,    /* int64[1] */
    OH_NN_STRIDED_SLICE_SHRINK_AXIS_MASK = 58, /* int64[1] */
    OH_NN_SUB_ACTIVATIONTYPE = 59,             /* int8[1]: OH_NN_FuseType */
    OH_NN_REDUCE_MEAN_KEEP_DIMS = 60,          /* bool[1] */
    OH_NN_RESIZE_BILINEAR_NEW_HEIGHT = 61,     /* int64[1] */
    OH_NN_RESIZE_BILINEAR_NEW_WIDTH = 62,      /* int64[1] */
    OH_NN_RESIZE_BILINEAR_PRESERVE_ASPECT_RATIO = 63,        /* bool[1] */
    OH_NN_RESIZE_BILINEAR_COORDINATE_TRANSFORM_MODE = 64,    /* int8[1]: 0 asymmetric, 1 align corners, 2 half pixel */
    OH_NN_RESIZE_BILINEAR_EXCLUDE_OUTSIDE = 65,              /* int64[1]: 0 or 1 */
    OH_NN_LAYER_NORM_BEGIN_NORM_AXIS = 66,                   /* int64[1] */
    OH_NN_LAYER_NORM_EPSILON = 67,                           /* float32[1] */
    OH_NN_LAYER_NORM_BEGIN_PARAM_AXIS = 68,                  /* int64[1] */
    OH_NN_LAYER_NORM_ELEMENTWISE_AFFINE = 69,                /* bool[1] */
    OH_NN_REDUCE_PROD_KEEP_DIMS = 70,                        /* bool[1] */
    OH_NN_REDUCE_ALL_KEEP_DIMS = 71,                         /* bool[1] */
    OH_NN_QUANT_DTYPE_CAST_SRC_T = 72,                       /* int64[1]: OH_NN_DataType */
    OH_NN_QUANT_DTYPE_CAST_DST_T = 73,                       /* int64[1]: OH_NN_DataType */
    OH_NN_TOP_K_SORTED = 74,                                 /* bool[1] */
    OH_NN_ARG_MAX_AXIS = 75,                                 /* int64[1] */
    OH_NN_ARG_MAX_KEEPDIMS = 76,                             /* bool[1] */
    OH_NN_UNSQUEEZE_AXIS = 77,                               /* int64[n] */
    OH_NN_UNSTACK_AXIS = 78,                                 /* int64[1] */
    OH_NN_FLATTEN_AXIS = 79,                                 /* int64[1] */
    OH_NN_DEPTH_TO_SPACE_BLOCK_SIZE = 80,                    /* int64[1] */
    OH_NN_DEPTH_TO_SPACE_MODE = 81,                          /* int32[1]: 0 DCR, 1 CRD */
    OH_NN_RANGE_START = 82,                                  /* int64[1] */
    OH_NN_RANGE_LIMIT = 83,                                  /* int64[1] */
    OH_NN_RANGE_DELTA = 84,                                  /* int64[1] */
    OH_NN_CONSTANT_OF_SHAPE_DATA_TYPE = 85,                  /* int64[1]: OH_NN_DataType */
    OH_NN_CONSTANT_OF_SHAPE_VALUE = 86,                      /* float32[n] */
    OH_NN_BROADCAST_TO_SHAPE = 87,                           /* int64[n] */
    OH_NN_INSTANCE_NORM_EPSILON = 88,                        /* float32[1] */
    OH_NN_EXP_BASE = 89,                                     /* float32[1] */
    OH_NN_EXP_SCALE = 90,                                    /* float32[1] */
    OH_NN_EXP_SHIFT = 91,                                    /* float32[1] */
    OH_NN_LEAKY_RELU_NEGATIVE_SLOPE = 92,                    /* float32[1] */
    OH_NN_LSTM_BIDIRECTIONAL = 93,                           /* bool[1] */
    OH_NN_LSTM_HAS_BIAS = 94,                                /* bool[1] */
    OH_NN_LSTM_INPUT_SIZE = 95,                              /* int64[1] */
    OH_NN_LSTM_HIDDEN_SIZE = 96,                             /* int64[1] */
    OH_NN_LSTM_NUM_LAYERS = 97,                              /* int64[1] */
    OH_NN_LSTM_NUM_DIRECTIONS = 98,                          /* int64[1] */
    OH_NN_LSTM_DROPOUT = 99,                                 /* float32[1] */
    OH_NN_LSTM_ZONEOUT_CELL = 100,                           /* float32[1] */
    OH_NN_LSTM_ZONEOUT_HIDDEN = 101,                         /* float32[1] */
    OH_NN_LSTM_PROJ_SIZE = 102,                              /* int64[1] */
    OH_NN_CLIP_MAX = 103,                                    /* float32[1] */
    OH_NN_CLIP_MIN = 104,                                    /* float32[1] */
    OH_NN_ALL_KEEP_DIMS = 105,                               /* int64[1]: 0 or 1 */
    OH_NN_ASSERT_SUMMARIZE = 106,                            /* int64[1] */
    OH_NN_POW_SCALE = 107,                                   /* float32[1] */
    OH_NN_POW_SHIFT = 108,                                   /* float32[1] */
    OH_NN_AVG_POOL_ROUND_MODE = 109,                         /* int32[1]: 0 down, 1 up */
    OH_NN_AVG_POOL_GLOBAL = 110,                             /* bool[1] */
    OH_NN_FULL_CONNECTION_HAS_BIAS = 111,                    /* bool[1] */
    OH_NN_FULL_CONNECTION_USE_AXIS = 112,                    /* bool[1] */
    OH_NN_GELU_APPROXIMATE = 113,                            /* bool[1] */
    OH_NN_MAX_POOL_ROUND_MODE = 114,                         /* int32[1]: 0 down, 1 up */
    OH_NN_MAX_POOL_GLOBAL = 115,                             /* bool[1] */
    OH_NN_PAD_PADDING_MODE = 116,                            /* int32[1]: 0 constant, 1 reflect, 2 symmetric */
    OH_NN_REDUCE_MEAN_REDUCE_TO_END = 117,                   /* bool[1] */
    OH_NN_REDUCE_MEAN_COEFF = 118,                           /* float32[1] */
    OH_NN_REDUCE_PROD_REDUCE_TO_END = 119,                   /* bool[1] */
    OH_NN_REDUCE_PROD_COEFF = 120,                           /* float32[1] */
    OH_NN_REDUCE_ALL_REDUCE_TO_END = 121,                    /* bool[1] */
    OH_NN_REDUCE_ALL_COEFF = 122,                            /* float32[1] */
    OH_NN_TOP_K_AXIS = 123,                                  /* int64[1] */
    OH_NN_ARG_MAX_TOP_K = 124,                               /* int64[1] */
    OH_NN_ARG_MAX_OUT_MAX_VALUE = 125,                       /* bool[1] */
    OH_NN_QUANT_DTYPE_CAST_AXIS = 126,                       /* int64[1] */
    OH_NN_SLICE_AXES = 127,                                  /* int64[n] */
    OH_NN_TILE_DIMS = 128,                                   /* int64[n] */
    OH_NN_CROP_AXIS = 129,                                   /* int64[1] */
    OH_NN_CROP_OFFSET = 130,                                 /* int64[n] */
    OH_NN_DETECTION_POST_PROCESS_INPUT_SIZE = 131,           /* int64[1] */
    OH_NN_DETECTION_POST_PROCESS_SCALE = 132,                /* float32[n] */
    OH_NN_DETECTION_POST_PROCESS_NMS_IOU_THRESHOLD = 133,    /* float32[1] */
    OH_NN_DETECTION_POST_PROCESS_NMS_SCORE_THRESHOLD = 134,  /* float32[1] */
    OH_NN_DETECTION_POST_PROCESS_MAX_DETECTIONS = 135,       /* int64[1] */
    OH_NN_DETECTION_POST_PROCESS_DETECTIONS_PER_CLASS = 136, /* int64[1] */
    OH_NN_DETECTION_POST_PROCESS_MAX_CLASSES_PER_DETECTION = 137, /* int64[1] */
    OH_NN_DETECTION_POST_PROCESS_NUM_CLASSES = 138,               /* int64[1] */
    OH_NN_DETECTION_POST_PROCESS_USE_REGULAR_NMS = 139,           /* bool[1] */
    OH_NN_DETECTION_POST_PROCESS_OUT_QUANTIZED = 140,             /* bool[1] */
    OH_NN_L2_NORMALIZE_AXIS = 141,                                /* int64[n] */
    OH_NN_L2_NORMALIZE_EPSILON = 142,                             /* float32[1] */
    OH_NN_L2_NORMALIZE_ACTIVATION_TYPE = 143,                     /* int8[1]: OH_NN_FuseType */
    OH_NN_LOG_SOFTMAX_AXIS = 144,                                 /* int64[1] */
    OH_NN_LRN_DEPTH_RADIUS = 145,                                 /* int64[1] */
    OH_NN_LRN_BIAS = 146,                                         /* float32[1] */
    OH_NN_LRN_ALPHA = 147,                                        /* float32[1] */
    OH_NN_LRN_BETA = 148,                                         /* float32[1] */
    OH_NN_LRN_NORM_REGION = 149,                                  /* int32[1]: 0 across channels */
    OH_NN_SPACE_TO_DEPTH_BLOCK_SIZE = 150,                        /* int64[1] */
    OH_NN_REDUCE_MAX_KEEP_DIMS = 151,                             /* bool[1] */
    OH_NN_REDUCE_MAX_REDUCE_TO_END = 152,                         /* bool[1] */
    OH_NN_REDUCE_MAX_COEFF = 153,                                 /* float32[1] */
    OH_NN_REDUCE_MIN_KEEP_DIMS = 154,                             /* bool[1] */
    OH_NN_REDUCE_MIN_REDUCE_TO_END = 155,                         /* bool[1] */
    OH_NN_REDUCE_MIN_COEFF = 156,                                 /* float32[1] */
    OH_NN_REDUCE_SUM_KEEP_DIMS = 157,                             /* bool[1] */
    OH_NN_REDUCE_SUM_REDUCE_TO_END = 158,                         /* bool[1] */
    OH_NN_REDUCE_SUM_COEFF = 159,                                 /* float32[1] */
    OH_NN_REDUCE_L2_KEEP_DIMS = 160,                              /* bool[1] */
    OH_NN_REDUCE_L2_REDUCE_TO_END = 161,                          /* bool[1] */
    OH_NN_REDUCE_L2_COEFF = 162                                   /* float32[1] */
} OH_NN_TensorType;

/* Indices of tensors. The caller owns the array. */
typedef struct OH_NN_UInt32Array {
    uint32_t *data;
    uint32_t size;
} OH_NN_UInt32Array;

/* Quantization parameters: real = scale * (q - zeroPoint). Arrays of quantCount elements: 1: per tensor; more: per
   channel. */
typedef struct OH_NN_QuantParam {
    uint32_t quantCount;
    const uint32_t *numBits; /* each 8 */
    const double *scale;
    const int32_t *zeroPoint;
} OH_NN_QuantParam;

/* A tensor description of the deprecated functions. The caller owns all memory that it points to. */
typedef struct OH_NN_Tensor {
    OH_NN_DataType dataType;
    uint32_t dimensionCount;            /* 0: a scalar */
    const int32_t *dimensions;          /* -1: known when the model runs; NULL for a scalar */
    const OH_NN_QuantParam *quantParam; /* NULL: not quantized */
    OH_NN_TensorType type;
} OH_NN_Tensor;

/* A block of memory that a device and the program share. */
typedef struct OH_NN_Memory {
    void *const data;
    const size_t length; /* bytes */
} OH_NN_Memory;

/* Called on another thread at the end of an asynchronous run. userData and outputTensor are arguments of
   OH_NNExecutor_RunAsync. */
typedef void (*NN_OnRunDone)(void *userData, OH_NN_ReturnCode errCode, void *outputTensor[], int32_t outputCount);
/* Called on another thread if the driver's process ended during an asynchronous run; the model must be compiled again.
   */
typedef void (*NN_OnServiceDied)(void *userData);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_RUNTIME_TYPE_H */
