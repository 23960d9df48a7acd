/* The fast device (devices/nnrt_cpu.h) with dynamic shapes, with each instruction set of this machine. One session with
   upper bounds runs inputs of many sizes, among them 0, 1, the bound and one less, with several numbers of workers. Its
   results must be bit-identical to a session of that fixed size with the same kernel, whose error bounds the other cpu
   suites check, and near the results of the reference device, the only comparison for empty tensors. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#include "devices/nnrt_cpu.h"
#include "kit.h"
#include "on_sets.h"

#define F16 NNRT_DATA_TYPE_FLOAT16
#define I8 NNRT_DATA_TYPE_INT8
#define U8 NNRT_DATA_TYPE_UINT8
enum { MOST = 300, ELEMENTS = MOST * MOST * 2, OPERANDS = 4 };

/* An operand: its shape, in which -1 is the size of the run. rank -1: none. */
typedef struct shape {
    int32_t rank, dims[5];
} shape;

#define NONE {-1, {0, 0, 0, 0, 0}}

/* A model of one node. inputs: number of operands that are inputs; the others are constants. */
typedef struct one_node {
    const char *kernel; /* of its step; NULL: it has no name for "nnrt.cpu.kernel" */
    NNRT_NodeType type;
    const void *attr;
    NNRT_DataType dataType;
    uint32_t inputs;
    shape operands[OPERANDS];
    bool first; /* images are channels first */
    const char *tile; /* of Winograd; NULL: any */
} one_node;

static const NNRT_MatMulFusion turned = {false, true, NNRT_ACTIVATION_TYPE_RELU};
static const NNRT_Activation gelu = {NNRT_ACTIVATION_TYPE_GELU, 0, 0, 0, true}, tanh_of = {NNRT_ACTIVATION_TYPE_TANH, 0, 0, 0, false};
static const NNRT_LogSoftmax log_last = {1}, log_middle = {1};
static const NNRT_RMSNormalization rms = {1, 1e-5f};
static const NNRT_MatMulNBits four_bits = {64, 4, 32, 0, 0}, four_bits_int8 = {64, 4, 32, 4, 0};
static const int64_t last_axis[1] = {-1}, order[4] = {0, 2, 3, 1};
static const int64_t ones3[6] = {1, 1, 1, 1, 1, 1};
static const int64_t cells[6] = {NNRT_ACTIVATION_TYPE_SIGMOID, NNRT_ACTIVATION_TYPE_TANH, NNRT_ACTIVATION_TYPE_TANH,
                                 NNRT_ACTIVATION_TYPE_SIGMOID, NNRT_ACTIVATION_TYPE_TANH, NNRT_ACTIVATION_TYPE_TANH};
static NNRT_Softmax softmax, softmax_middle;
static NNRT_LayerNormFusion norm;
static NNRT_ReduceFusion mean;
static NNRT_ArgMaxFusion most;
static NNRT_FullConnection product;
static const int64_t ones[4] = {1, 1, 1, 1}, twos[2] = {2, 2}, fours[2] = {4, 4}, sixes[2] = {6, 6}, none[4] = {0, 0, 0, 0};
static NNRT_Conv2DFusion conv, wide, unpadded, depthwise, grouped;
static NNRT_Conv2dTransposeFusion transposed, sixteen; /* phases */
static NNRT_MaxPoolFusion largest, padded_largest;
static NNRT_AvgPoolFusion average, global, padded_average, whole;
static NNRT_Resize bilinear, nearest;
static NNRT_ScaleFusion affine;
static const NNRT_Einsum scores = {"bqhd,bkhd->bhqk"};
static NNRT_LSTM lstm;
static NNRT_LSTMPeephole peephole;
static NNRT_GRU gru;
static NNRT_Conv3D volume;
static NNRT_RNN rnn;
static const NNRT_InstanceNorm instance = {1e-5f};
static NNRT_GroupNormFusion groups;
static NNRT_LRN local;
static const NNRT_CumSum running = {false, true};
static const NNRT_QuantDTypeCast to_8_bits = {F32, I8}, from_8_bits = {I8, F32};

static const one_node nodes[] = {
    {"gemm", NNRT_NODE_TYPE_FULL_CONNECTION, &product, F32, 1, {{2, {-1, 37}}, {2, {21, 37}}, {1, {21}}, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_MATMUL_FUSION, NULL, F32, 1, {{3, {-1, 3, 20}}, {2, {20, 33}}, NONE, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_MATMUL_FUSION, &turned, F32, 1, {{2, {-1, 8}}, {2, {70, 8}}, NONE, NONE}, false, NULL},
    {"gemm_nbits_int8", NNRT_NODE_TYPE_MATMUL_NBITS, &four_bits_int8, F32, 1, {{2, {-1, 64}}, {3, {40, 2, 16}}, {2, {40, 2}}, NONE}, false, NULL},
    {"gemm_nbits", NNRT_NODE_TYPE_MATMUL_NBITS, &four_bits, F32, 1, {{2, {-1, 64}}, {3, {40, 2, 16}}, {2, {40, 2}}, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_MATMUL_FUSION, NULL, F32, 2, {{3, {2, -1, 16}}, {3, {2, 16, -1}}, NONE, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_MATMUL_FUSION, NULL, F32, 2, {{3, {2, 5, -1}}, {3, {2, -1, 7}}, NONE, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_MATMUL_FUSION, &turned, F32, 2, {{3, {-1, 4, 8}}, {3, {1, 5, 8}}, NONE, NONE}, false, NULL},
    {"softmax", NNRT_NODE_TYPE_SOFTMAX, &softmax, F32, 1, {{3, {-1, 3, 19}}, NONE, NONE, NONE}, false, NULL},
    {"softmax", NNRT_NODE_TYPE_SOFTMAX, &softmax, F32, 1, {{2, {4, -1}}, NONE, NONE, NONE}, false, NULL},
    {"softmax_columns", NNRT_NODE_TYPE_SOFTMAX, &softmax_middle, F32, 1, {{3, {2, -1, 19}}, NONE, NONE, NONE}, false, NULL},
    {"softmax_columns", NNRT_NODE_TYPE_LOG_SOFTMAX, &log_middle, F32, 1, {{3, {-1, 5, 7}}, NONE, NONE, NONE}, false, NULL},
    {"log_softmax", NNRT_NODE_TYPE_LOG_SOFTMAX, &log_last, F32, 1, {{2, {-1, 17}}, NONE, NONE, NONE}, false, NULL},
    {"layer_norm", NNRT_NODE_TYPE_LAYER_NORM_FUSION, &norm, F32, 1, {{2, {-1, 24}}, {1, {24}}, {1, {24}}, NONE}, false, NULL},
    {"rms_norm", NNRT_NODE_TYPE_RMS_NORMALIZATION, &rms, F32, 1, {{2, {-1, 24}}, {1, {24}}, NONE, NONE}, false, NULL},
    {"unary", NNRT_NODE_TYPE_ACTIVATION, &gelu, F32, 1, {{2, {-1, 7}}, NONE, NONE, NONE}, false, NULL},
    {"unary", NNRT_NODE_TYPE_ERF, NULL, F32, 1, {{1, {-1}}, NONE, NONE, NONE}, false, NULL},
    {"unary", NNRT_NODE_TYPE_ACTIVATION, &tanh_of, F16, 1, {{2, {-1, 7}}, NONE, NONE, NONE}, false, NULL},
    {"binary", NNRT_NODE_TYPE_ADD_FUSION, NULL, F32, 2, {{2, {-1, 5}}, {2, {-1, 5}}, NONE, NONE}, false, NULL},
    {"binary", NNRT_NODE_TYPE_MUL_FUSION, NULL, F32, 2, {{3, {-1, 1, 2}}, {3, {1, -1, 2}}, NONE, NONE}, false, NULL},
    {"binary", NNRT_NODE_TYPE_SUB_FUSION, NULL, F32, 2, {{3, {2, 1, -1}}, {2, {-1, 1}}, NONE, NONE}, false, NULL},
    {"binary", NNRT_NODE_TYPE_DIV_FUSION, NULL, F32, 1, {{2, {-1, 9}}, {1, {9}}, NONE, NONE}, false, NULL},
    {"compare", NNRT_NODE_TYPE_LESS, NULL, F32, 2, {{2, {-1, 9}}, {2, {1, 9}}, NONE, NONE}, false, NULL},
    {"argminmax", NNRT_NODE_TYPE_ARGMAX_FUSION, &most, F32, 1, {{2, {-1, 11}}, NONE, NONE, NONE}, false, NULL},
    {"reduce", NNRT_NODE_TYPE_REDUCE_FUSION, &mean, F32, 1, {{2, {3, -1}}, NONE, NONE, NONE}, false, NULL},
    {NULL, NNRT_NODE_TYPE_TRANSPOSE, NULL, F32, 1, {{4, {2, -1, 5, 3}}, NONE, NONE, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {-1, 8, 5, 7}}, {4, {10, 3, 3, 8}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, F32, 1, {{4, {-1, 3, 9, 6}}, {4, {10, 3, 3, 3}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {-1, 5, 7, 8}}, {4, {10, 3, 3, 8}}, NONE, NONE}, false, NULL},
    {"winograd", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {-1, 16, 6, 5}}, {4, {18, 3, 3, 16}}, {1, {18}}, NONE}, true, "4"},
    {"depthwise", NNRT_NODE_TYPE_CONV2D_FUSION, &depthwise, F32, 1, {{4, {-1, 9, 5, 6}}, {4, {9, 3, 3, 1}}, {1, {9}}, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &grouped, F32, 1, {{4, {-1, 8, 5, 6}}, {4, {6, 3, 3, 4}}, {1, {6}}, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &transposed, F32, 1, {{4, {-1, 6, 4, 5}}, {4, {7, 3, 3, 6}}, {1, {7}}, NONE}, true, NULL},
    {"max_pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &largest, F32, 1, {{4, {-1, 5, 6, 6}}, NONE, NONE, NONE}, true, NULL},
    {"average_pool", NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, F32, 1, {{4, {-1, 6, 6, 5}}, NONE, NONE, NONE}, false, NULL},
    {"reduce", NNRT_NODE_TYPE_AVGPOOL_FUSION, &global, F32, 1, {{4, {-1, 5, 6, 6}}, NONE, NONE, NONE}, true, NULL},
    {"affine", NNRT_NODE_TYPE_SCALE_FUSION, &affine, F32, 1, {{4, {-1, 5, 6, 6}}, {1, {5}}, {1, {5}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {2, 8, -1, 7}}, {4, {10, 3, 3, 8}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, F32, 1, {{4, {1, 3, 9, -1}}, {4, {10, 3, 3, 3}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, F32, 1, {{4, {1, 3, -1, 11}}, {4, {10, 3, 7, 3}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, F32, 1, {{4, {1, -1, 9, 3}}, {4, {10, 3, 7, 3}}, {1, {10}}, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &unpadded, F32, 1, {{4, {1, -1, 9, 8}}, {4, {10, 1, 5, 8}}, {1, {10}}, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {1, -1, 7, 8}}, {4, {10, 3, 3, 8}}, NONE, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {1, 1, -1, -1}}, {4, {2, 3, 3, 1}}, {1, {2}}, NONE}, true, NULL},
    {"winograd", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {1, 16, -1, 5}}, {4, {18, 3, 3, 16}}, {1, {18}}, NONE}, true, "4"},
    {"winograd", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F32, 1, {{4, {1, -1, -1, 2}}, {4, {1, 3, 3, 2}}, NONE, NONE}, false, "2"},
    {"depthwise", NNRT_NODE_TYPE_CONV2D_FUSION, &depthwise, F32, 1, {{4, {1, 9, -1, 6}}, {4, {9, 3, 3, 1}}, {1, {9}}, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &grouped, F32, 1, {{4, {2, 8, 5, -1}}, {4, {6, 3, 3, 4}}, {1, {6}}, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &transposed, F32, 1, {{4, {1, 6, -1, 5}}, {4, {7, 3, 3, 6}}, {1, {7}}, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &sixteen, F32, 1, {{4, {1, 5, 3, -1}}, {4, {3, 5, 5, 5}}, {1, {3}}, NONE}, true, NULL},
    {"max_pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &padded_largest, F32, 1, {{4, {2, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"average_pool", NNRT_NODE_TYPE_AVGPOOL_FUSION, &padded_average, F32, 1, {{4, {1, 6, -1, 5}}, NONE, NONE, NONE}, false, NULL},
    {NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &whole, F32, 1, {{4, {2, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &whole, F32, 1, {{4, {2, 6, -1, 5}}, NONE, NONE, NONE}, false, NULL},
    {"resize", NNRT_NODE_TYPE_RESIZE, &bilinear, F32, 1, {{4, {2, 3, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"resize", NNRT_NODE_TYPE_RESIZE, &nearest, F32, 1, {{4, {2, 6, -1, 3}}, NONE, NONE, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_FULL_CONNECTION, &product, F16, 1, {{2, {-1, 37}}, {2, {21, 37}}, {1, {21}}, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_MATMUL_FUSION, &turned, F16, 1, {{2, {-1, 8}}, {2, {70, 8}}, NONE, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_MATMUL_FUSION, NULL, F16, 2, {{3, {2, -1, 16}}, {3, {2, 16, -1}}, NONE, NONE}, false, NULL},
    {"softmax", NNRT_NODE_TYPE_SOFTMAX, &softmax, F16, 1, {{2, {4, -1}}, NONE, NONE, NONE}, false, NULL},
    {"log_softmax", NNRT_NODE_TYPE_LOG_SOFTMAX, &log_last, F16, 1, {{2, {-1, 17}}, NONE, NONE, NONE}, false, NULL},
    {"layer_norm", NNRT_NODE_TYPE_LAYER_NORM_FUSION, &norm, F16, 1, {{2, {-1, 24}}, {1, {24}}, {1, {24}}, NONE}, false, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, F16, 1, {{4, {-1, 3, 9, 6}}, {4, {10, 3, 3, 3}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F16, 1, {{4, {2, 8, -1, 7}}, {4, {10, 3, 3, 8}}, {1, {10}}, NONE}, true, NULL},
    {"gemm", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F16, 1, {{4, {1, -1, 7, 8}}, {4, {10, 3, 3, 8}}, NONE, NONE}, false, NULL},
    {"winograd", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, F16, 1, {{4, {1, 16, -1, 5}}, {4, {18, 3, 3, 16}}, {1, {18}}, NONE}, true, "4"},
    {"depthwise", NNRT_NODE_TYPE_CONV2D_FUSION, &depthwise, F16, 1, {{4, {1, 9, -1, 6}}, {4, {9, 3, 3, 1}}, {1, {9}}, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &transposed, F16, 1, {{4, {1, 6, -1, 5}}, {4, {7, 3, 3, 6}}, {1, {7}}, NONE}, true, NULL},
    {"max_pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &padded_largest, F16, 1, {{4, {2, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"average_pool", NNRT_NODE_TYPE_AVGPOOL_FUSION, &padded_average, F16, 1, {{4, {1, 6, -1, 5}}, NONE, NONE, NONE}, false, NULL},
    {NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &whole, F16, 1, {{4, {2, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {NULL, NNRT_NODE_TYPE_AVGPOOL_FUSION, &whole, F16, 1, {{4, {2, 6, -1, 5}}, NONE, NONE, NONE}, false, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_FULL_CONNECTION, &product, I8, 1, {{2, {-1, 37}}, {2, {21, 37}}, {1, {21}}, NONE}, false, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_MATMUL_FUSION, &turned, U8, 1, {{2, {-1, 8}}, {2, {70, 8}}, NONE, NONE}, false, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, I8, 1, {{4, {-1, 3, 9, 6}}, {4, {10, 3, 3, 3}}, {1, {10}}, NONE}, true, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &wide, U8, 1, {{4, {1, 3, 9, -1}}, {4, {10, 3, 3, 3}}, {1, {10}}, NONE}, true, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, I8, 1, {{4, {2, 8, -1, 7}}, {4, {10, 3, 3, 8}}, {1, {10}}, NONE}, true, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, U8, 1, {{4, {1, -1, 7, 8}}, {4, {10, 3, 3, 8}}, NONE, NONE}, false, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, I8, 1, {{4, {1, 1, -1, -1}}, {4, {2, 3, 3, 1}}, {1, {2}}, NONE}, true, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, U8, 1, {{4, {1, -1, -1, 2}}, {4, {1, 3, 3, 2}}, NONE, NONE}, false, NULL},
    {"depthwise_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &depthwise, I8, 1, {{4, {1, 9, -1, 6}}, {4, {9, 3, 3, 1}}, {1, {9}}, NONE}, true, NULL},
    {"max_pool_q8", NNRT_NODE_TYPE_MAX_POOL_FUSION, &padded_largest, U8, 1, {{4, {2, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"average_pool_q8", NNRT_NODE_TYPE_AVGPOOL_FUSION, &padded_average, I8, 1, {{4, {1, 6, -1, 5}}, NONE, NONE, NONE}, false, NULL},
    {"reduce_q8", NNRT_NODE_TYPE_AVGPOOL_FUSION, &whole, U8, 1, {{4, {2, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"reduce_q8", NNRT_NODE_TYPE_AVGPOOL_FUSION, &whole, I8, 1, {{4, {2, 6, -1, 5}}, NONE, NONE, NONE}, false, NULL},
    {"reduce_q8", NNRT_NODE_TYPE_AVGPOOL_FUSION, &global, I8, 1, {{4, {-1, 5, 6, 6}}, NONE, NONE, NONE}, true, NULL},
    {"binary_q8", NNRT_NODE_TYPE_ADD_FUSION, NULL, U8, 2, {{2, {-1, 5}}, {2, {-1, 5}}, NONE, NONE}, false, NULL},
    {"binary_q8", NNRT_NODE_TYPE_SUB_FUSION, NULL, I8, 2, {{3, {2, 1, -1}}, {2, {-1, 1}}, NONE, NONE}, false, NULL},
    {"binary_q8", NNRT_NODE_TYPE_MUL_FUSION, NULL, I8, 1, {{3, {-1, 3, 9}}, {1, {9}}, NONE, NONE}, false, NULL},
    {"multi_gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &grouped, I8, 1, {{4, {-1, 8, 5, 6}}, {4, {6, 3, 3, 4}}, {1, {6}}, NONE}, true, NULL},
    {"multi_gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &grouped, U8, 1, {{4, {2, 6, 5, -1}}, {4, {6, 3, 3, 3}}, {1, {6}}, NONE}, true, NULL},
    {"multi_gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &grouped, U8, 1, {{4, {1, -1, 5, 8}}, {4, {6, 3, 3, 4}}, NONE, NONE}, false, NULL},
    {"multi_gemm_q8", NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &transposed, I8, 1, {{4, {1, 6, -1, 5}}, {4, {7, 3, 3, 6}}, {1, {7}}, NONE}, true, NULL},
    {"multi_gemm_q8", NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &transposed, U8, 1, {{4, {1, 8, 5, -1}}, {4, {7, 3, 3, 8}}, {1, {7}}, NONE}, true, NULL},
    {"multi_gemm_q8", NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &sixteen, U8, 1, {{4, {-1, 5, 3, 4}}, {4, {3, 5, 5, 5}}, {1, {3}}, NONE}, true, NULL},
    {"reduce_q8", NNRT_NODE_TYPE_REDUCE_FUSION, &mean, U8, 1, {{2, {-1, 19}}, NONE, NONE, NONE}, false, NULL},
    {"table_q8", NNRT_NODE_TYPE_ACTIVATION, &tanh_of, I8, 1, {{2, {-1, 7}}, NONE, NONE, NONE}, false, NULL},
    {"resize_q8", NNRT_NODE_TYPE_RESIZE, &bilinear, U8, 1, {{4, {2, 3, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"resize_q8", NNRT_NODE_TYPE_RESIZE, &nearest, I8, 1, {{4, {2, 6, -1, 3}}, NONE, NONE, NONE}, false, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, U8, 1, {{4, {1, 19, 21, -1}}, {4, {17, 3, 3, 19}}, {1, {17}}, NONE}, true, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, I8, 1, {{4, {1, 16, -1, 16}}, {4, {32, 3, 3, 16}}, {1, {32}}, NONE}, true, NULL},
    {"gemm_q8", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, U8, 1, {{4, {1, 5, -1, 3}}, {4, {7, 3, 3, 3}}, {1, {7}}, NONE}, false, NULL},
    {"quantize", NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &to_8_bits, F32, 1, {{2, {-1, 7}}, NONE, NONE, NONE}, false, NULL},
    {"dequantize", NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &from_8_bits, I8, 1, {{2, {-1, 7}}, NONE, NONE, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_EINSUM, &scores, F32, 2, {{4, {1, -1, 3, 8}}, {4, {1, 5, 3, 8}}, NONE, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_EINSUM, &scores, F32, 2, {{4, {2, 4, 2, 8}}, {4, {2, -1, 2, 8}}, NONE, NONE}, false, NULL},
    {"matmul", NNRT_NODE_TYPE_EINSUM, &scores, F32, 2, {{4, {1, 4, 3, -1}}, {4, {1, 5, 3, -1}}, NONE, NONE}, false, NULL},
    {"recurrent", NNRT_NODE_TYPE_LSTM, &lstm, F32, 1, {{3, {-1, 2, 9}}, {3, {1, 84, 9}}, {3, {1, 84, 21}}, {2, {1, 168}}}, false, NULL},
    {"recurrent", NNRT_NODE_TYPE_LSTM_PEEPHOLE, &peephole, F32, 1, {{3, {1, -1, 5}}, {3, {2, 64, 5}}, {3, {2, 64, 16}}, {2, {2, 128}}}, false, NULL},
    {"recurrent", NNRT_NODE_TYPE_GRU, &gru, F32, 1, {{3, {2, -1, 9}}, {3, {1, 63, 9}}, {3, {1, 63, 21}}, {2, {1, 126}}}, false, NULL},
    {NULL, NNRT_NODE_TYPE_CONV_3D, &volume, F32, 1, {{5, {1, 4, -1, 5, 6}}, {5, {7, 4, 3, 2, 3}}, {1, {7}}, NONE}, false, NULL},
    {NULL, NNRT_NODE_TYPE_CONV_3D, &volume, F32, 1, {{5, {-1, 4, 2, 4, 5}}, {5, {7, 4, 3, 2, 3}}, NONE, NONE}, false, NULL},
    {NULL, NNRT_NODE_TYPE_CONV_3D, &volume, F16, 1, {{5, {1, 4, 3, 5, -1}}, {5, {7, 4, 3, 2, 3}}, {1, {7}}, NONE}, false, NULL},
    {"group_norm", NNRT_NODE_TYPE_INSTANCE_NORM, &instance, F32, 1, {{4, {2, 5, -1, 6}}, {1, {5}}, {1, {5}}, NONE}, true, NULL},
    {"group_norm", NNRT_NODE_TYPE_INSTANCE_NORM, &instance, F16, 1, {{4, {1, 5, 3, -1}}, {1, {5}}, {1, {5}}, NONE}, true, NULL},
    {"group_norm", NNRT_NODE_TYPE_GROUP_NORM_FUSION, &groups, F32, 1, {{4, {1, 8, -1, 3}}, {1, {8}}, {1, {8}}, NONE}, true, NULL},
    {"group_norm", NNRT_NODE_TYPE_GROUP_NORM_FUSION, &groups, F32, 1, {{4, {-1, 3, 2, 70}}, {1, {70}}, {1, {70}}, NONE}, false, NULL},
    {"lrn", NNRT_NODE_TYPE_LRN, &local, F32, 1, {{4, {1, 5, -1, 6}}, NONE, NONE, NONE}, true, NULL},
    {"lrn", NNRT_NODE_TYPE_LRN, &local, F32, 1, {{4, {1, 2, 6, -1}}, NONE, NONE, NONE}, false, NULL},
    {"affine", NNRT_NODE_TYPE_SCALE_FUSION, &affine, F32, 1, {{4, {2, 5, -1, 6}}, {1, {5}}, {1, {5}}, NONE}, true, NULL},
    {"reduce", NNRT_NODE_TYPE_REDUCE_FUSION, &mean, F16, 1, {{2, {3, -1}}, NONE, NONE, NONE}, false, NULL},
    {"cum_sum", NNRT_NODE_TYPE_CUM_SUM, &running, F32, 1, {{2, {3, -1}}, NONE, NONE, NONE}, false, NULL},
    {"recurrent", NNRT_NODE_TYPE_RNN, &rnn, F32, 1, {{3, {-1, 3, 9}}, {3, {2, 21, 9}}, {3, {2, 21, 21}}, {2, {2, 42}}}, false, NULL},
};

static void set_attributes(void)
{
    softmax.axis = nnrt_int64_list(last_axis, 1);
    softmax_middle.axis = nnrt_int64_list(ones3, 1);
    volume.strides = volume.dilations = nnrt_int64_list(ones3, 3);
    volume.pads = nnrt_int64_list(ones3, 6);
    volume.group = 1;
    lstm.hasBias = true;
    lstm.numLayers = lstm.numDirections = 1;
    peephole.activations = nnrt_int64_list(cells, 6);
    gru.activations = nnrt_int64_list(cells, 2);
    rnn.activations = nnrt_int64_list(cells + 1, 2);
    peephole.direction = rnn.direction = NNRT_RECURRENT_DIRECTION_BIDIRECTIONAL;
    gru.layout = rnn.layout = 1; /* batches first */
    gru.linearBeforeReset = 1;
    norm.beginNormAxis = 1;
    norm.epsilon = 1e-5f;
    norm.elementwiseAffine = true;
    norm.beginParamsAxis = 1;
    mean.keepDims = true;
    mean.mode = NNRT_REDUCE_MODE_MEAN;
    mean.coeff = 1;
    groups.numGroups = 2;
    groups.epsilon = 1e-5f;
    groups.affine = true;
    local.depthRadius = 1;
    local.bias = 1;
    local.alpha = 0.5f;
    local.beta = 0.75f;
    most.axis = -1;
    most.topK = 1;
    most.keepDims = true;
    product.hasBias = true;
    conv.stride = conv.dilation = nnrt_int64_list(ones, 2);
    conv.padList = nnrt_int64_list(ones, 4);
    conv.group = 1;
    conv.activationType = NNRT_ACTIVATION_TYPE_RELU;
    wide = depthwise = grouped = unpadded = conv;
    unpadded.padList = nnrt_int64_list(none, 4);
    wide.stride = nnrt_int64_list(twos, 2);
    depthwise.group = 9;
    grouped.group = 2;
    transposed.stride = nnrt_int64_list(twos, 2);
    transposed.dilation = conv.dilation;
    transposed.padList = conv.padList;
    transposed.group = 1;
    sixteen = transposed;
    sixteen.stride = nnrt_int64_list(fours, 2);
    largest.kernelSize = largest.strides = nnrt_int64_list(twos, 2);
    largest.pad = nnrt_int64_list(none, 4);
    average.kernelSize = average.strides = largest.strides;
    average.pad = largest.pad;
    global = average;
    global.kernelSize = nnrt_int64_list(sixes, 2);
    affine.axis = 1;
    padded_largest = largest;
    padded_average = average;
    padded_largest.pad = padded_average.pad = conv.padList;
    whole.global = true;
    bilinear.method = NNRT_RESIZE_METHOD_LINEAR;
    bilinear.coordinateTransformMode = NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL;
    nearest.method = NNRT_RESIZE_METHOD_NEAREST;
}

static bool halves; /* sessions of the fast device pack weights in half precision */

/* Numbers of all operands, float32 or, in the same memory, float16 of both signs between 2^-7 and 2, or bytes; biases of
   8-bit operators are int32. */
static float numbers[OPERANDS][ELEMENTS];

static int32_t biases[64];

static bool is_8_bits(NNRT_DataType type)
{
    return type == I8 || type == U8;
}

static void draw_numbers(NNRT_DataType type)
{
    for (uint32_t k = 0; k < OPERANDS; k++)
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            const uint16_t half = (uint16_t)(draw(2) << 15 | (draw(8) + 8) << 10 | draw(1024));
            numbers[k][i] = real();
            if (type == F16)
                ((uint16_t *)(void *)numbers[k])[i] = half;
            else if (is_8_bits(type))
                ((uint8_t *)(void *)numbers[k])[i] = (uint8_t)draw(256);
        }
    for (uint32_t i = 0; i < 64; i++)
        biases[i] = (int32_t)draw(2000) - 1000;
}

/* The dimensions of an operand in a run of this size; n -1: as in the model. */
static const int32_t *dims_of(const shape *s, int32_t n, int32_t dims[5])
{
    for (int32_t i = 0; i < s->rank; i++)
        dims[i] = s->dims[i] == -1 ? n : s->dims[i];
    return dims;
}

/* n -1: dynamic. */
static NNRT_Model *model_of(const one_node *o, int32_t n)
{
    static const char *const names[OPERANDS] = {"a", "b", "c", "d"};
    static const float scales[2][4] = {{1, 1, 2, 1.5f}, {1, 2, 1.5f, 1}};
    const int32_t count = 4, one = 1, axis = -1, initial[3] = {1, 2, 21};
    const NNRT_QuantParam quant = param_of(0.07, 3);
    nnrt_builder *b = NULL;
    const bool recurrent = o->kernel != NULL && strcmp(o->kernel, "recurrent") == 0; /* its final states are not used */
    uint32_t in[OPERANDS + 4], nIn = 0, y, out[3];
    int32_t dims[5];
    assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
    for (; nIn < OPERANDS && o->operands[nIn].rank >= 0; nIn++) {
        const shape *s = &o->operands[nIn];
        const bool words = o->type == NNRT_NODE_TYPE_MATMUL_NBITS && nIn == 1; /* entries of 4 bits */
        const bool bias = is_8_bits(o->dataType) && nIn == 2;
        const NNRT_DataType type = words  ? U8
                                   : bias ? I32
                                   : nIn >= o->inputs && is_8_bits(o->dataType) ? I8 : o->dataType;
        const NNRT_QuantParam own = param_of(nIn < o->inputs ? 0.05 : 0.01, nIn < o->inputs ? 5 : 0);
        in[nIn] = nIn < o->inputs ? nnrt_builder_input(b, names[nIn], type, s->rank, dims_of(s, n, dims))
                                  : nnrt_builder_constant(b, names[nIn], type, s->rank, s->dims,
                                                          bias ? (const void *)biases : numbers[nIn], true);
        if (!words && is_8_bits(type))
            nnrt_builder_quant(b, in[nIn], &own, 1);
    }
    if (o->operands[0].rank == 4)
        nnrt_builder_format(b, in[0], o->first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    if (o->type == NNRT_NODE_TYPE_REDUCE_FUSION)
        in[nIn++] = nnrt_builder_constant(b, "axes", I32, 1, &one, &axis, true);
    if (o->type == NNRT_NODE_TYPE_RESIZE)
        in[nIn++] = nnrt_builder_constant(b, "scales", F32, 1, &count, o->first ? scales[0] : scales[1], true);
    if (o->type == NNRT_NODE_TYPE_TRANSPOSE)
        in[nIn++] = nnrt_builder_constant(b, "order", NNRT_DATA_TYPE_INT64, 1, &count, order, true);
    y = nnrt_builder_tensor(b, "y");
    if (o->attr == &to_8_bits || (is_8_bits(o->dataType) && o->attr != &from_8_bits))
        nnrt_builder_quant(b, y, &quant, 1);
    out[0] = y;
    out[1] = recurrent ? nnrt_builder_tensor(b, "last h") : NNRT_NO_TENSOR;
    out[2] = o->type == NNRT_NODE_TYPE_LSTM || o->type == NNRT_NODE_TYPE_LSTM_PEEPHOLE ? nnrt_builder_tensor(b, "last c") : NNRT_NO_TENSOR;
    for (; recurrent && nIn < (out[2] == NNRT_NO_TENSOR || o->type == NNRT_NODE_TYPE_LSTM ? 6 : OPERANDS + 4); nIn++)
        in[nIn] = o->type == NNRT_NODE_TYPE_LSTM
                      ? nnrt_builder_constant(b, nIn == 4 ? "h0" : "c0", o->dataType, 3, initial, numbers[nIn - 3], true)
                      : NNRT_NO_TENSOR;
    nnrt_builder_node(b, "y", o->type, o->attr, in, nIn, out, out[2] != NNRT_NO_TENSOR ? 3 : recurrent ? 2 : 1);
    nnrt_builder_output(b, y);
    return finish(b);
}

static nnrt_session *session_of(const NNRT_Model *model, const one_node *o, const char *device, const nnrt_parallel *parallel)
{
    nnrt_session *session = NULL;
    nnrt_bound bounds[OPERANDS];
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_session_desc desc;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.parallel = parallel;
    desc.enableFloat16 = halves && strcmp(device, "reference") != 0;
    kernel = strcmp(device, "reference") != 0 ? o->kernel : NULL;
    tiles = strcmp(device, "reference") != 0 ? o->tile : NULL;
    memory = parallel != NULL && parallel->workers == 3 ? "smallest" : NULL; /* the same bits */
    add_extensions(&desc, extensions);
    kernel = tiles = memory = NULL;
    for (uint32_t i = 0; i < o->inputs; i++) {
        const char names[OPERANDS][2] = {"a", "b", "c", "d"};
        static char kept[OPERANDS][2];
        memcpy(kept, names, sizeof(kept));
        bounds[i].tensor = kept[i];
        bounds[i].most.rank = o->operands[i].rank;
        (void)dims_of(&o->operands[i], MOST, bounds[i].most.dims);
    }
    desc.bounds = nnrt_bound_list_make(bounds, o->inputs);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    return session;
}

#define REFUSED ((size_t)-1)

/* Runs inputs of size n; returns the bytes of the result. REFUSED: the operator does not support empty tensors. */
static size_t run_size(nnrt_session *session, const one_node *o, int32_t n, void *y)
{
    nnrt_io in[OPERANDS], out = nnrt_io_make(y, ELEMENTS * sizeof(float));
    int32_t dims[OPERANDS][5];
    for (uint32_t i = 0; i < o->inputs; i++) {
        size_t bytes = 0;
        const int32_t *d = dims_of(&o->operands[i], n, dims[i]);
        assert_true(nnrt_dims_bytes(d, o->operands[i].rank, o->dataType, &bytes));
        in[i] = nnrt_io_make(numbers[i], bytes);
        in[i].dims = d;
    }
    if (nnrt_run(session, in, o->inputs, &out, 1) != NNRT_SUCCESS) {
        if (n == 0 && strstr(nnrt_session_error(session), "does not support empty tensors") != NULL)
            return REFUSED;
        fail_msg("%s of size %d: %s", nnrt_op_find(o->type)->name, (int)n, nnrt_session_error(session));
    }
    return nnrt_session_output(session, 0).bytes;
}

static const int32_t sizes[] = {MOST, 0, 1, 7, MOST - 1, 2, 256, 64, 5, 17};
static uint8_t *want[COUNT(sizes)]; /* results of the reference device, then of fixed sizes */
static size_t wantBytes[COUNT(sizes)];

static void expect_reference(const one_node *o, const NNRT_Model *model)
{
    nnrt_session *session = session_of(model, o, "reference", NULL);
    for (uint32_t i = 0; i < COUNT(sizes); i++)
        wantBytes[i] = run_size(session, o, sizes[i], want[i]);
    nnrt_session_destroy(session);
}

/* Element k of a result. */
static float element(NNRT_DataType type, const uint8_t *data, size_t k)
{
    return is_8_bits(type) ? data[k]
           : type == F16   ? nnrt_half_to_float(((const uint16_t *)(const void *)data)[k])
                           : ((const float *)(const void *)data)[k];
}

/* y is near the result of the reference device: 1e-4 of 1 and of the largest term, for float16 2e-3, four times the rounding of
   a result, is not a strict bound, but a wrong index, row or size differs more. 8 bits are exact. */
static void check_near(const one_node *o, uint32_t i, const uint8_t *y, const char *device)
{
    const NNRT_DataType type = o->attr == &to_8_bits ? I8 : o->attr == &from_8_bits ? F32 : o->dataType;
    const float bound = type == F16 ? 2e-3f : type == F32 ? 1e-4f : 0;
    if (halves || o->type == NNRT_NODE_TYPE_LESS || o->type == NNRT_NODE_TYPE_ARGMAX_FUSION)
        return;
    for (size_t k = 0; k < wantBytes[i] / nnrt_type_size(type); k++) {
        const float a = element(type, y, k), b = element(type, want[i], k);
        if (!(fabsf(a - b) <= bound * (1 + fabsf(b))) && !(a != a && b != b) && !(a == b))
            fail_msg("%s of size %d on %s: element %u is %.9g, on the reference device %.9g", nnrt_op_find(o->type)->name,
                     (int)sizes[i], device, (unsigned)k, (double)a, (double)b);
    }
}

/* Expects the results of sessions of fixed sizes from now on, except for empty tensors. */
static void expect_fixed(const one_node *o, const char *device, uint8_t *y)
{
    for (uint32_t i = 0; i < COUNT(sizes); i++)
        if (sizes[i] > 0) {
            NNRT_Model *model = model_of(o, sizes[i]);
            nnrt_session *session = session_of(model, o, device, NULL);
            assert_int_equal(run_size(session, o, sizes[i], y), wantBytes[i]);
            check_near(o, i, y, device);
            memcpy(want[i], y, wantBytes[i]);
            nnrt_session_destroy(session);
            nnrt_model_destroy(model);
        }
}

static void check_node(const one_node *o)
{
    NNRT_Model *model;
    uint8_t *y = (uint8_t *)reals(ELEMENTS);
    draw_numbers(o->dataType);
    model = model_of(o, -1);
    for (uint32_t s = 0; s < nSets; s++) {
        if (has_no_floats(s))
            continue;
        expect_reference(o, model);
        expect_fixed(o, sets[s], y);
        for (uint32_t workers = 0; workers <= 3; workers++) {
            team t;
            nnrt_session *session = session_of(model, o, sets[s], team_of(&t, workers));
            for (uint32_t i = 0; i < COUNT(sizes); i++) {
                memset(y, 0xA5, (wantBytes[i] != REFUSED ? wantBytes[i] : 0) + 1);
                assert_int_equal(run_size(session, o, sizes[i], y), wantBytes[i]);
                if (wantBytes[i] == REFUSED)
                    continue;
                if (wantBytes[i] > 0 && memcmp(y, want[i], wantBytes[i]) != 0)
                    fail_msg("%s of size %d on %s: with %u workers the bits differ from a session of that size",
                             nnrt_op_find(o->type)->name, (int)sizes[i], sets[s], (unsigned)workers);
                assert_int_equal(y[wantBytes[i]], 0xA5);
            }
            nnrt_session_destroy(session);
        }
    }
    nnrt_model_destroy(model);
    free(y);
}

static void test_nodes(void **unused)
{
    (void)unused;
    state = 1;
    set_attributes();
    for (uint32_t i = 0; i < COUNT(sizes); i++)
        want[i] = (uint8_t *)reals(ELEMENTS);
    for (uint32_t k = 0; k < COUNT(nodes); k++) {
        check_node(&nodes[k]);
        halves = nodes[k].kernel != NULL && strcmp(nodes[k].kernel, "gemm") == 0;
        if (halves)
            check_node(&nodes[k]);
        halves = false;
    }
    for (uint32_t i = 0; i < COUNT(sizes); i++)
        free(want[i]);
}

/* A residual block of images that are channels first, x [N,3,12,10]: a = conv(x), b = conv(a), c = (a + b) * c0, d = pool(c).
   Results: the global average of d, and by bits of `more` c itself, a TRANSPOSE of a, c plus a constant image. Each of
   these needs c or a channels first. 8: height and width are dynamic, too, and there is e = concat(c, resize(d)), times the
   sigmoid of its global average. */
static NNRT_Model *block_of(uint32_t more)
{
    static const float twice[4] = {1, 1, 2, 2};
    const NNRT_Activation sigmoid = {NNRT_ACTIVATION_TYPE_SIGMOID, 0, 0, 0, false};
    const NNRT_Concat channels = {1};
    const int32_t open = (more & 8) != 0 ? -1 : 0, dims[4] = {-1, 3, 12 + 13 * open, 10 + 11 * open}, first[4] = {16, 3, 3, 3}, second[4] = {16, 3, 3, 16}, image[4] = {1, 16, 12, 10};
    const int32_t count = 4;
    const float half = 0.5f;
    nnrt_builder *b = NULL;
    NNRT_AvgPoolFusion all = global;
    uint32_t in[2], a, c;
    all.global = true;
    assert_int_equal(nnrt_builder_create(&b, "block", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "a", F32, 4, dims);
    nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
    in[1] = nnrt_builder_constant(b, "first", F32, 4, first, numbers[1], true);
    in[0] = a = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 2);
    in[1] = nnrt_builder_constant(b, "second", F32, 4, second, numbers[2], true);
    in[0] = nnrt_builder_op(b, "again", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 2);
    in[1] = a;
    in[0] = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    in[1] = nnrt_builder_constant(b, "half", F32, 0, NULL, &half, true);
    in[0] = c = nnrt_builder_op(b, "c", NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2);
    in[0] = nnrt_builder_op(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &largest, in, 1);
    nnrt_builder_output(b, nnrt_builder_op(b, "mean", NNRT_NODE_TYPE_AVGPOOL_FUSION, &all, in, 1));
    if (more & 8) {
        in[1] = nnrt_builder_constant(b, "twice", F32, 1, &count, twice, true);
        in[1] = nnrt_builder_op(b, "resize", NNRT_NODE_TYPE_RESIZE, &nearest, in, 2);
        in[0] = c;
        in[0] = nnrt_builder_op(b, "concat", NNRT_NODE_TYPE_CONCAT, &channels, in, 2);
        in[1] = nnrt_builder_op(b, "all", NNRT_NODE_TYPE_AVGPOOL_FUSION, &all, in, 1);
        in[1] = nnrt_builder_op(b, "sigmoid", NNRT_NODE_TYPE_ACTIVATION, &sigmoid, in + 1, 1);
        nnrt_builder_output(b, nnrt_builder_op(b, "scaled", NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2));
    }
    if (more & 1)
        nnrt_builder_output(b, c);
    if (more & 2) {
        in[0] = a;
        in[1] = nnrt_builder_constant(b, "order", NNRT_DATA_TYPE_INT64, 1, &count, order, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "turned", NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2));
    }
    if (more & 4) {
        in[0] = c;
        in[1] = nnrt_builder_constant(b, "image", F32, 4, image, numbers[3], true);
        nnrt_builder_output(b, nnrt_builder_op(b, "moved", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    }
    return finish(b);
}

/* x + x w, x [N,3,H,10], w [10,10]. */
static NNRT_Model *matrix_sum(void)
{
    const int32_t dims[4] = {-1, 3, -1, 10}, weights[2] = {10, 10};
    nnrt_builder *b = NULL;
    uint32_t in[2], x;
    assert_int_equal(nnrt_builder_create(&b, "sum", NULL), NNRT_SUCCESS);
    in[0] = x = nnrt_builder_input(b, "a", F32, 4, dims);
    in[1] = nnrt_builder_constant(b, "w", F32, 2, weights, numbers[1], true);
    in[1] = nnrt_builder_op(b, "product", NNRT_NODE_TYPE_MATMUL_FUSION, NULL, in, 2);
    in[0] = x;
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    return finish(b);
}

/* The mean of a + conv(a), a = conv(x), x [N,3,H,W]; first: also the sum itself, which is channels first. */
static NNRT_Model *sum_of(bool first)
{
    const int32_t dims[4] = {-1, 3, -1, -1}, weights[2][4] = {{16, 3, 3, 3}, {16, 3, 3, 16}};
    nnrt_builder *b = NULL;
    NNRT_AvgPoolFusion all = global;
    uint32_t in[2], a;
    all.global = true;
    assert_int_equal(nnrt_builder_create(&b, "sum", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "a", F32, 4, dims);
    nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
    in[1] = nnrt_builder_constant(b, "first", F32, 4, weights[0], numbers[1], true);
    in[0] = a = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 2);
    in[1] = nnrt_builder_constant(b, "second", F32, 4, weights[1], numbers[2], true);
    in[0] = nnrt_builder_op(b, "again", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 2);
    in[1] = a;
    in[0] = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    if (first)
        nnrt_builder_output(b, in[0]);
    nnrt_builder_output(b, nnrt_builder_op(b, "mean", NNRT_NODE_TYPE_AVGPOOL_FUSION, &all, in, 1));
    return finish(b);
}

static void run_block(nnrt_session *session, const int32_t dims[4], float *const *y)
{
    nnrt_io in = nnrt_io_make(numbers[0], (size_t)(dims[0] * dims[1] * dims[2] * dims[3]) * sizeof(float)), out[5];
    in.dims = dims;
    for (uint32_t k = 0; k < nnrt_session_outputs(session); k++)
        out[k] = nnrt_io_make(y[k], 9 * 3840 * sizeof(float));
    if (nnrt_run(session, &in, 1, out, nnrt_session_outputs(session)) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(session));
}

/* The convolution, or matrix product, adds the residual: with dynamic sizes, too, the addition is no step, unless the sum of
   images is channels first. Results are near those of the reference device, as in test_block: sums of at most 144 products. */
static void test_residual(void **unused)
{
    static const one_node as = {NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, F32, 1, {{4, {9, 3, 12, 10}}, NONE, NONE, NONE}, true, NULL};
    static const int32_t dims[4] = {4, 3, 7, 10};
    static const uint32_t steps[3] = {3, 4, 1}, elements[3][2] = {{4 * 16, 0}, {4 * 16 * 7 * 10, 4 * 16}, {4 * 3 * 7 * 10, 0}};
    float *y[2][2];
    (void)unused;
    state = 3;
    set_attributes();
    draw_numbers(F32);
    for (uint32_t k = 0; k < 4; k++)
        y[k / 2][k % 2] = reals(9 * 3840);
    for (uint32_t form = 0; form < 3; form++) {
        NNRT_Model *model = form == 2 ? matrix_sum() : sum_of(form == 1);
        for (uint32_t s = 0; s < nSets; s++) {
            nnrt_session *reference, *fast;
            if (has_no_floats(s))
                continue;
            reference = session_of(model, &as, "reference", NULL);
            fast = session_of(model, &as, sets[s], NULL);
            run_block(reference, dims, y[0]);
            run_block(fast, dims, y[1]);
            if (nnrt_session_get_memory(fast).steps != steps[form])
                fail_msg("form %u on %s: %u steps, expected %u", form, sets[s], nnrt_session_get_memory(fast).steps, steps[form]);
            for (uint32_t k = 0; k < 2; k++)
                for (uint32_t p = 0; p < elements[form][k]; p++)
                    if (!(fabsf(y[0][k][p] - y[1][k][p]) <= 1e-3f))
                        fail_msg("form %u on %s: element %u of output %u is %.9g, on the reference device %.9g", form, sets[s], p,
                                 k, (double)y[1][k][p], (double)y[0][k][p]);
            nnrt_session_destroy(fast);
            nnrt_session_destroy(reference);
        }
        nnrt_model_destroy(model);
    }
    for (uint32_t k = 0; k < 4; k++)
        free(y[k / 2][k % 2]);
}

/* Layouts between steps: near the results of the reference device. Sums of 27 and 144 products below 1: 1e-3 is more than
   any rounding and less than a wrong element. */
static void test_block(void **unused)
{
    static const one_node as = {NULL, NNRT_NODE_TYPE_CONV2D_FUSION, NULL, F32, 1, {{4, {9, 3, 12, 10}}, NONE, NONE, NONE}, true, NULL};
    static const int32_t of_blocks[][4] = {{9, 3, 12, 10}, {1, 3, 12, 10}, {4, 3, 12, 10}, {2, 3, 4, 6}, {9, 3, 12, 2}, {1, 3, 2, 2}};
    float *y[2][5];
    (void)unused;
    state = 2;
    set_attributes();
    draw_numbers(F32);
    for (uint32_t k = 0; k < 10; k++)
        y[k / 5][k % 5] = reals(9 * 3840);
    for (uint32_t more = 0; more < 16; more++) {
        NNRT_Model *model = block_of(more);
        for (uint32_t s = 0; s < nSets; s++) {
            nnrt_session *fast, *reference;
            team t;
            if (has_no_floats(s))
                continue;
            reference = session_of(model, &as, "reference", NULL);
            fast = session_of(model, &as, sets[s], team_of(&t, s % 2 == 0 ? 3 : 0));
            for (uint32_t i = 0; i < ((more & 12) == 8 ? COUNT(of_blocks) : 3); i++) { /* the constant image has one size */
                run_block(reference, of_blocks[i], y[0]);
                run_block(fast, of_blocks[i], y[1]);
                for (uint32_t k = 0; k < nnrt_session_outputs(fast); k++)
                    for (size_t p = 0; p < nnrt_session_output(fast, k).bytes / sizeof(float); p++)
                        if (!(fabsf(y[0][k][p] - y[1][k][p]) <= 1e-3f))
                            fail_msg("variant %u on %s, input %u, output %u: element %u is %.9g, on the reference device %.9g",
                                     (unsigned)more, sets[s], (unsigned)i, (unsigned)k, (unsigned)p,
                                     (double)y[1][k][p], (double)y[0][k][p]);
            }
            nnrt_session_destroy(fast);
            nnrt_session_destroy(reference);
        }
        nnrt_model_destroy(model);
    }
    for (uint32_t k = 0; k < 10; k++)
        free(y[k / 5][k % 5]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_residual),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
