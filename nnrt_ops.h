/*
nnrt_ops.h - operators of nnrt: data types, attribute structs, operator table, shape rules, reference kernels.

WHAT IT IS
    The lowest of nnrt's three headers. It knows nothing of models, devices, files, threads or malloc.
    Use it alone to call or copy one operator; include nnrt.h to run whole networks.

        #define NNRT_IMPLEMENTATION          in one C or C++ file of the program
        #include "nnrt_ops.h"

    The names are those of the OpenHarmony Neural Network Runtime, HDI 1.0/2.0: type NNRT_ + struct name, enumerators
    NNRT_NODE_TYPE_CONV2D_FUSION, NNRT_DATA_TYPE_FLOAT32 and so on. What is our own is called nnrt_lower_case.

SECTIONS (search for the tag)
    >>options     what may be defined before including
    >>types       enumerations, return codes, lists, quantisation parameters
    >>attributes  the attribute struct of every operator, described once: one row a member
    >>table       NNRT_OPS: one row an operator; what is generated from it
    >>views       how a kernel sees a tensor
    >>resolve     how a node is checked and made ready: shape rules
    >>api         functions of this header
    -- implementation --
    >>text        error messages, names, attribute printing, comparison and copying
    >>engine      checks every operator shares, around the operator's own rule
    >>math        exp, log, tanh, erf, pow, sin, cos, float16: the same bits on every platform
    >>helpers     what kernels share: element access, broadcasting, copying, activations
    >>rules       what shape rules share
    >>op NAME     one operator: its shape rule and
    >>kernel NAME its reference kernels

HOW A KERNEL LOOKS
    NNRT_ReturnCode nnrt_softmax_f32(const NNRT_Softmax *attr, const nnrt_view *x, nnrt_view *y);

    A kernel gets the attribute struct *resolved* (axes positive, padList explicit, nothing left to interpret) and
    views. It validates nothing: the shape rule did, once, when the model was prepared. What depends on run-time data
    (an index in GATHER, an integer divisor) it checks, and returns NNRT_INVALID_PARAMETER. A kernel calls no allocator
    and keeps no state. Views have strides, so one body serves NHWC and NCHW: where a kernel says [N,H,W,C], the view's
    axes are in that order whatever the tensor's format is. Reference kernels give the same bits on every platform: sums
    run in the order that the kernel's comment states, no multiply-add is contracted, and the functions of >>math
    replace libm. The sign and payload of a NaN are excepted. nnrt_same_bits() says where the compiler's options or the
    processor's modes do not allow it.

ADDING AN OPERATOR
    1. its row in NNRT_OPS (>>table), 2. its attribute struct in >>attributes, if new, 3. its shape rule and 4. its
    kernel under a new ">>op NAME" in the implementation, 5. its test vectors in tests/vectors/name.vec. Nothing else.
    Where the rule changes the attributes or derives constants, a comment there says so behind "Resolved:" and
    "Derived:"; `nnrt ops --copy NAME` tells those who take the kernel alone.

MIT licence, see LICENSE.
*/
#ifndef NNRT_OPS_H
#define NNRT_OPS_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>options */

/* NNRT_API      linkage of public functions: extern by default, static under NNRT_STATIC, or what you define. */
#ifndef NNRT_API
#ifdef NNRT_STATIC
#if defined(__GNUC__) || defined(__clang__)
#define NNRT_API static __attribute__((unused))
#else
#define NNRT_API static
#endif
#else
#define NNRT_API extern
#endif
#endif

/* NNRT_FIRMWARE          for a microcontroller: implies NNRT_NO_MESSAGES; what the other headers leave out, they say. */
#ifdef NNRT_FIRMWARE
#ifndef NNRT_NO_MESSAGES
#define NNRT_NO_MESSAGES
#endif
#endif

/* NNRT_NO_MESSAGES       a fault has its code, node and tensor, but no text: nnrt_error.message stays empty. */
#ifdef NNRT_NO_MESSAGES
#define NNRT_MESSAGE_BYTES 4
#else
#define NNRT_MESSAGE_BYTES 276
#endif

/* NNRT_MAX_RANK          tensors have at most this many axes: 4 to 8. */
#ifndef NNRT_MAX_RANK
#define NNRT_MAX_RANK 8
#endif
#if NNRT_MAX_RANK < 4 || NNRT_MAX_RANK > 8
#error "NNRT_MAX_RANK must lie between 4 and 8"
#endif
#define NNRTI_NO_VOLUMES (NNRT_MAX_RANK < 5) /* no tensor has three spatial axes */

/* NNRT_SELECT            only operators NAME for which NNRT_KEEP_NAME is defined as 1 are in the table;
   NNRT_KEEP_TYPES        and of their kernels only those for these types (NNRT_TYPES_ bits of all operands, quantised
                          ones with bits of their own): for programs that load models and must be small.
                          `nnrt info MODEL` prints what a model needs. */
#ifndef NNRT_KEEP_TYPES
#define NNRT_KEEP_TYPES NNRT_TYPES_ALL
#endif

/* NNRT_SAME_BITS  not to be defined but to be asked, in #if: 0 where this compiler's options keep the reference kernels
                   from giving the bits of every other machine. That is excess precision (x87: -msse2 -mfpmath=sse
                   ends it; gcc for s390x with -std=c99: -fexcess-precision=fast) and -ffast-math or, where the
                   compiler tells, one of its parts. nnrt_same_bits() sees more, at run time. (FLT_EVAL_METHOD 16 says
                   that _Float16 has arithmetic of its own; float and double are as with 0.) */
#if (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16) || defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) ||      \
    defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(_M_FP_FAST) ||                             \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#define NNRT_SAME_BITS 0
#else
#define NNRT_SAME_BITS 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>types */

/* clang-format off */
/* Enumerations are int32_t with an anonymous enum for the values, so that size and C++ conversions never vary. Each is
   described once: E(prefix, NAME, value). Names for messages, files and tools come from the same description. */
#define NNRT_ENUM_ReturnCode(E) \
    E(NNRT_, SUCCESS,                   0) \
    E(NNRT_, FAILED,                    1) \
    E(NNRT_, NULL_PTR,                  2) \
    E(NNRT_, INVALID_PARAMETER,         3) \
    E(NNRT_, MEMORY_ERROR,              4) \
    E(NNRT_, OUT_OF_MEMORY,             5) \
    E(NNRT_, OPERATION_FORBIDDEN,       6) \
    E(NNRT_, INVALID_FILE,              7) \
    E(NNRT_, INVALID_PATH,              8) \
    E(NNRT_, INSUFFICIENT_BUFFER,       9) \
    E(NNRT_, NO_CHANGE,                10) \
    E(NNRT_, NOT_SUPPORT,              11) \
    E(NNRT_, SERVICE_ERROR,            12) \
    E(NNRT_, DEVICE_ERROR,             13) \
    E(NNRT_, DEVICE_BUSY,              14) \
    E(NNRT_, CANCELLED,                15) \
    E(NNRT_, PERMISSION_DENIED,        16) \
    E(NNRT_, TIME_OUT,                 17) \
    E(NNRT_, INVALID_TENSOR,           18) \
    E(NNRT_, INVALID_NODE,             19) \
    E(NNRT_, INVALID_INPUT,            20) \
    E(NNRT_, INVALID_OUTPUT,           21) \
    E(NNRT_, INVALID_DATATYPE,         22) \
    E(NNRT_, INVALID_FORMAT,           23) \
    E(NNRT_, INVALID_TENSOR_NAME,      24) \
    E(NNRT_, INVALID_SHAPE,            25) \
    E(NNRT_, OUT_OF_DIMENTION_RANGES,  26) \
    E(NNRT_, INVALID_BUFFER,           27) \
    E(NNRT_, INVALID_BUFFER_SIZE,      28) \
    E(NNRT_, INVALID_PERFORMANCE_MODE, 29) \
    E(NNRT_, INVALID_PRIORITY,         30) \
    E(NNRT_, INVALID_MODEL,            31) \
    E(NNRT_, INVALID_MODEL_CACHE,      32) \
    E(NNRT_, UNSUPPORTED_OP,           33)
#define NNRT_ENUM_DeviceType(E) \
    E(NNRT_DEVICE_TYPE_, OTHER,       0) \
    E(NNRT_DEVICE_TYPE_, CPU,         1) \
    E(NNRT_DEVICE_TYPE_, GPU,         2) \
    E(NNRT_DEVICE_TYPE_, ACCELERATOR, 3)
#define NNRT_ENUM_DeviceStatus(E) \
    E(NNRT_DEVICE_STATUS_, AVAILABLE, 0) \
    E(NNRT_DEVICE_STATUS_, BUSY,      1) \
    E(NNRT_DEVICE_STATUS_, OFFLINE,   2) \
    E(NNRT_DEVICE_STATUS_, UNKNOWN,   3)
#define NNRT_ENUM_PerformanceMode(E) \
    E(NNRT_PERFORMANCE_, NONE,    0) \
    E(NNRT_PERFORMANCE_, LOW,     1) \
    E(NNRT_PERFORMANCE_, MEDIUM,  2) \
    E(NNRT_PERFORMANCE_, HIGH,    3) \
    E(NNRT_PERFORMANCE_, EXTREME, 4)
#define NNRT_ENUM_Priority(E) \
    E(NNRT_PRIORITY_, NONE,   0) \
    E(NNRT_PRIORITY_, LOW,    1) \
    E(NNRT_PRIORITY_, MEDIUM, 2) \
    E(NNRT_PRIORITY_, HIGH,   3)
#define NNRT_ENUM_Format(E) \
    E(NNRT_FORMAT_, NONE, -1) \
    E(NNRT_FORMAT_, NCHW,  0) \
    E(NNRT_FORMAT_, NHWC,  1)
#define NNRT_ENUM_QuantType(E) \
    E(NNRT_QUANT_TYPE_, NONE, 0) \
    E(NNRT_QUANT_TYPE_, ALL,  1)
#define NNRT_ENUM_ResizeMethod(E) \
    E(NNRT_RESIZE_METHOD_, UNKNOWN, -1) \
    E(NNRT_RESIZE_METHOD_, LINEAR,   0) \
    E(NNRT_RESIZE_METHOD_, NEAREST,  1) \
    E(NNRT_RESIZE_METHOD_, CUBIC,    2)
#define NNRT_ENUM_CoordinateTransformMode(E) \
    E(NNRT_COORDINATE_TRANSFORM_MODE_, ASYMMETRIC,    0) \
    E(NNRT_COORDINATE_TRANSFORM_MODE_, ALIGN_CORNERS, 1) \
    E(NNRT_COORDINATE_TRANSFORM_MODE_, HALF_PIXEL,    2)
#define NNRT_ENUM_NearestMode(E) \
    E(NNRT_NEAREST_MODE_, NORMAL,          0) \
    E(NNRT_NEAREST_MODE_, ROUND_HALF_DOWN, 1) \
    E(NNRT_NEAREST_MODE_, ROUND_HALF_UP,   2) \
    E(NNRT_NEAREST_MODE_, FLOOR,           3) \
    E(NNRT_NEAREST_MODE_, CEIL,            4)
#define NNRT_ENUM_ActivationType(E) \
    E(NNRT_ACTIVATION_TYPE_, NO_ACTIVATION,  0) \
    E(NNRT_ACTIVATION_TYPE_, RELU,           1) \
    E(NNRT_ACTIVATION_TYPE_, SIGMOID,        2) \
    E(NNRT_ACTIVATION_TYPE_, RELU6,          3) \
    E(NNRT_ACTIVATION_TYPE_, ELU,            4) \
    E(NNRT_ACTIVATION_TYPE_, LEAKY_RELU,     5) \
    E(NNRT_ACTIVATION_TYPE_, ABS,            6) \
    E(NNRT_ACTIVATION_TYPE_, RELU1,          7) \
    E(NNRT_ACTIVATION_TYPE_, SOFTSIGN,       8) \
    E(NNRT_ACTIVATION_TYPE_, SOFTPLUS,       9) \
    E(NNRT_ACTIVATION_TYPE_, TANH,          10) \
    E(NNRT_ACTIVATION_TYPE_, SELU,          11) \
    E(NNRT_ACTIVATION_TYPE_, HSWISH,        12) \
    E(NNRT_ACTIVATION_TYPE_, HSIGMOID,      13) \
    E(NNRT_ACTIVATION_TYPE_, THRESHOLDRELU, 14) \
    E(NNRT_ACTIVATION_TYPE_, LINEAR,        15) \
    E(NNRT_ACTIVATION_TYPE_, HARD_TANH,     16) \
    E(NNRT_ACTIVATION_TYPE_, SIGN,          17) \
    E(NNRT_ACTIVATION_TYPE_, SWISH,         18) \
    E(NNRT_ACTIVATION_TYPE_, GELU,          19) \
    E(NNRT_ACTIVATION_TYPE_, UNKNOWN,       20)
#define NNRT_ENUM_ReduceMode(E) \
    E(NNRT_REDUCE_MODE_, MEAN,       0) \
    E(NNRT_REDUCE_MODE_, MAX,        1) \
    E(NNRT_REDUCE_MODE_, MIN,        2) \
    E(NNRT_REDUCE_MODE_, PROD,       3) \
    E(NNRT_REDUCE_MODE_, SUM,        4) \
    E(NNRT_REDUCE_MODE_, SUM_SQUARE, 5) \
    E(NNRT_REDUCE_MODE_, ASUM,       6) \
    E(NNRT_REDUCE_MODE_, ALL,        7) \
    E(NNRT_REDUCE_MODE_, L2,         8)
#define NNRT_ENUM_EltwiseMode(E) \
    E(NNRT_ELTWISE_MODE_, PROD,    0) \
    E(NNRT_ELTWISE_MODE_, SUM,     1) \
    E(NNRT_ELTWISE_MODE_, MAXIMUM, 2) \
    E(NNRT_ELTWISE_MODE_, UNKNOWN, 3)
#define NNRT_ENUM_PadMode(E) \
    E(NNRT_PAD_MODE_, PAD,   0) \
    E(NNRT_PAD_MODE_, SAME,  1) \
    E(NNRT_PAD_MODE_, VALID, 2)
#define NNRT_ENUM_RoundMode(E) \
    E(NNRT_ROUND_MODE_, FLOOR, 0) \
    E(NNRT_ROUND_MODE_, CEIL,  1)
#define NNRT_ENUM_PaddingMode(E) \
    E(NNRT_PADDING_MODE_, CONSTANT,  0) \
    E(NNRT_PADDING_MODE_, REFLECT,   1) \
    E(NNRT_PADDING_MODE_, SYMMETRIC, 2) \
    E(NNRT_PADDING_MODE_, RESERVED,  3)
#define NNRT_ENUM_AutoPad(E) \
    E(NNRT_AUTO_PAD_, NOTSET,     0) \
    E(NNRT_AUTO_PAD_, SAME_UPPER, 1) \
    E(NNRT_AUTO_PAD_, SAME_LOWER, 2) \
    E(NNRT_AUTO_PAD_, VALID,      3)
#define NNRT_ENUM_RecurrentDirection(E) \
    E(NNRT_RECURRENT_DIRECTION_, FORWARD,       0) \
    E(NNRT_RECURRENT_DIRECTION_, REVERSE,       1) \
    E(NNRT_RECURRENT_DIRECTION_, BIDIRECTIONAL, 2)
#define NNRT_ENUM_ScatterReduction(E) \
    E(NNRT_SCATTER_REDUCTION_, NONE, 0) \
    E(NNRT_SCATTER_REDUCTION_, ADD,  1) \
    E(NNRT_SCATTER_REDUCTION_, MUL,  2) \
    E(NNRT_SCATTER_REDUCTION_, MIN,  3) \
    E(NNRT_SCATTER_REDUCTION_, MAX,  4)
#define NNRT_ENUM_ShiftDirection(E) \
    E(NNRT_SHIFT_DIRECTION_, LEFT,  0) \
    E(NNRT_SHIFT_DIRECTION_, RIGHT, 1)
#define NNRT_ENUM_LossReduction(E) \
    E(NNRT_LOSS_REDUCTION_, MEAN, 0) \
    E(NNRT_LOSS_REDUCTION_, SUM,  1) \
    E(NNRT_LOSS_REDUCTION_, NONE, 2)
#define NNRT_ENUM_WindowKind(E) \
    E(NNRT_WINDOW_KIND_, HANN,     0) \
    E(NNRT_WINDOW_KIND_, HAMMING,  1) \
    E(NNRT_WINDOW_KIND_, BLACKMAN, 2)

/* The enumerations above; a new one is one more entry here. NodeType comes from the operator table. */
#define NNRT_ENUMS(T) \
    T(ReturnCode) \
    T(DeviceType) \
    T(DeviceStatus) \
    T(PerformanceMode) \
    T(Priority) \
    T(Format) \
    T(QuantType) \
    T(ResizeMethod) \
    T(CoordinateTransformMode) \
    T(NearestMode) \
    T(ActivationType) \
    T(ReduceMode) \
    T(EltwiseMode) \
    T(PadMode) \
    T(RoundMode) \
    T(PaddingMode) \
    T(AutoPad) \
    T(RecurrentDirection) \
    T(ScatterReduction) \
    T(ShiftDirection) \
    T(LossReduction) \
    T(WindowKind)

/* Element types: D(NAME, number, bytes, text). Floats are IEEE binary16/32/64; bool is one byte, 0 or 1. */
#define NNRT_DATA_TYPES(D) \
    D(BOOL,    30, 1, "bool") \
    D(INT8,    32, 1, "int8") \
    D(INT16,   33, 2, "int16") \
    D(INT32,   34, 4, "int32") \
    D(INT64,   35, 8, "int64") \
    D(UINT8,   37, 1, "uint8") \
    D(UINT16,  38, 2, "uint16") \
    D(UINT32,  39, 4, "uint32") \
    D(UINT64,  40, 8, "uint64") \
    D(FLOAT16, 42, 2, "float16") \
    D(FLOAT32, 43, 4, "float32") \
    D(FLOAT64, 44, 8, "float64")
/* clang-format on */

/* C++ says which type an enumerator has, so that `failed ? code : NNRT_SUCCESS` is one type where int32_t is long. */
#ifdef __cplusplus
#define NNRTI_INT32 : int32_t
#else
#define NNRTI_INT32
#endif
#define NNRTI_ENUM_VALUE(prefix, name, value) prefix##name = value,
#define NNRTI_ENUM_TYPE(T)                                                                                             \
    typedef int32_t NNRT_##T;                                                                                          \
    enum NNRTI_INT32 { NNRT_ENUM_##T(NNRTI_ENUM_VALUE) NNRTI_ENUM_END_##T };
#define NNRTI_ENUM_ENDS(T) NNRTI_ENUM_END_##T,
NNRT_ENUMS(NNRTI_ENUM_TYPE)

typedef int32_t NNRT_DataType;
#define NNRTI_DATA_TYPE_VALUE(name, number, bytes, text) NNRT_DATA_TYPE_##name = number,
enum NNRTI_INT32 { NNRT_DATA_TYPE_UNKNOWN = 0, NNRT_DATA_TYPES(NNRTI_DATA_TYPE_VALUE) NNRTI_DATA_TYPE_END };

/* Sets of element types, a bit each; NNRT_TYPES_QUANT has those of the quantised ones. */
#define NNRT_TYPES_OF(type) (1u << ((type)-30))
#define NNRT_TYPES_BOOL NNRT_TYPES_OF(NNRT_DATA_TYPE_BOOL)
#define NNRT_TYPES_F32 NNRT_TYPES_OF(NNRT_DATA_TYPE_FLOAT32)
#define NNRT_TYPES_F16 NNRT_TYPES_OF(NNRT_DATA_TYPE_FLOAT16)
#define NNRT_TYPES_F64 NNRT_TYPES_OF(NNRT_DATA_TYPE_FLOAT64)
#define NNRT_TYPES_I32 NNRT_TYPES_OF(NNRT_DATA_TYPE_INT32)
#define NNRT_TYPES_I8 NNRT_TYPES_OF(NNRT_DATA_TYPE_INT8)
#define NNRT_TYPES_U8 NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT8)
#define NNRT_TYPES_I16 NNRT_TYPES_OF(NNRT_DATA_TYPE_INT16)
#define NNRT_TYPES_INDEX (NNRT_TYPES_I32 | NNRT_TYPES_OF(NNRT_DATA_TYPE_INT64))
#define NNRT_TYPES_FLOAT (NNRT_TYPES_F16 | NNRT_TYPES_F32)
#define NNRT_TYPES_INT                                                                                                 \
    (NNRT_TYPES_I8 | NNRT_TYPES_I16 | NNRT_TYPES_INDEX | NNRT_TYPES_U8 | NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT16) |        \
     NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT32) | NNRT_TYPES_OF(NNRT_DATA_TYPE_UINT64))
#define NNRT_TYPES_NUM (NNRT_TYPES_INT | NNRT_TYPES_FLOAT | NNRT_TYPES_F64)
#define NNRT_TYPES_ANY (NNRT_TYPES_NUM | NNRT_TYPES_BOOL)
#define NNRT_TYPES_BUT_F32 (NNRT_TYPES_ANY & ~NNRT_TYPES_F32)
/* An integer tensor with QuantParams is of a type of its own: "qint8". Kernels of plain integers do not take it. */
#define NNRT_TYPES_QUANT(types) (((types)&NNRT_TYPES_INT) << 16)
#define NNRT_TYPES_ALL (NNRT_TYPES_ANY | NNRT_TYPES_QUANT(NNRT_TYPES_INT)) /* what only moves data takes all */

/* A list is a pointer and a count. The pointer may be NULL when the count is 0; lists own nothing. */
typedef struct NNRT_Int64List {
    const int64_t *data;
    uint32_t count;
} NNRT_Int64List;
typedef struct NNRT_Int64Lists {
    const NNRT_Int64List *data;
    uint32_t count;
} NNRT_Int64Lists;

typedef struct NNRT_FloatList {
    const float *data;
    uint32_t count;
} NNRT_FloatList;

/* Makes a list from an array, in C and in C++: attr.stride = nnrt_int64_list(two, 2). */
static inline NNRT_Int64List nnrt_int64_list(const int64_t *data, uint32_t count)
{
    NNRT_Int64List list;
    list.data = data;
    list.count = count;
    return list;
}
static inline NNRT_FloatList nnrt_float_list(const float *data, uint32_t count)
{
    NNRT_FloatList list;
    list.data = data;
    list.count = count;
    return list;
}

/* real = scale * (q - zeroPoint). scale is 0 only when the data range is empty. */
typedef struct NNRT_QuantParam {
    int32_t numBits;
    int32_t zeroPoint;
    double scale;
} NNRT_QuantParam;

/* What went wrong, filled by the first fault of a call and not overwritten while it unwinds. Zero it before use. */
typedef struct nnrt_error {
    NNRT_ReturnCode code;
    int32_t node;                     /* index of the node in Model.nodes, -1 = none */
    int32_t tensor;                   /* index of the tensor in Model.allTensors, -1 = none */
    uint32_t capacity;                /* bytes of message that there are; 0 = as many as where it is written. To be set
                                         where code that may be built with other options writes, as devices are */
    char message[NNRT_MESSAGE_BYTES]; /* one sentence, ends in '\0' */
} nnrt_error;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>attributes */

/* One description a struct: M(S, kind, type, member, default), S the struct; the rows of >>table name them. Kinds:
   BOOL    bool
   INT     int64_t whose value must lie inside int32, as all do that count or number axes and elements
   INT64   int64_t
   FLOAT   float
   DOUBLE  double
   ENUM    NNRT_<type>
   TYPE    <type>, NNRT_DataType or int64_t: the number of an element type, 0 = none said
   STRING  const char *, an enumeration by name; NULL and the empty text are the default
   GRAPH   uint32_t, index of a subgraph in Model.subGraph, NNRT_NO_GRAPH = none; 0 is the main graph and never valid
   INTS    NNRT_Int64List of INT
   INTS64  NNRT_Int64List of INT64
   INTS2   NNRT_Int64Lists of INT
   FLOATS  NNRT_FloatList
   NONE    uint8_t, the byte of a struct without members
   A list's default is empty. Where 0 has no meaning a rule takes it for the default, so that a struct of zeros works, too.
   From this come the structs, the defaults, printing, comparison and copying. */
#define NNRT_NO_GRAPH 0xFFFFFFFFu

/* clang-format off */
/* ABS */
#define NNRT_ATTR_Abs(M, S) M(S, NONE, _, reserved, 0)
/* ACOS */
#define NNRT_ATTR_Acos(M, S) M(S, NONE, _, reserved, 0)
/* ACOSH */
#define NNRT_ATTR_Acosh(M, S) M(S, NONE, _, reserved, 0)
/* ACTIVATION */
#define NNRT_ATTR_Activation(M, S) \
    M(S, ENUM,  ActivationType, activationType, 0) /* which function */ \
    M(S, FLOAT, _,              alpha,          0) /* slope of LEAKY_RELU, scale of ELU, threshold of THRESHOLDRELU */ \
    M(S, FLOAT, _,              minVal,         0) /* lower bound of HARD_TANH */ \
    M(S, FLOAT, _,              maxVal,         0) /* upper bound of HARD_TANH; must be > minVal */ \
    M(S, BOOL,  _,              approximate,    0) /* GELU only: true = tanh form, false = erf form */
/* ADAPTIVE_AVERAGE_POOL_2D, ADAPTIVE_MAX_POOL_2D */
#define NNRT_ATTR_AdaptivePool2D(M, S) \
    M(S, BOOL, _,             returnIndices, 0) /* of the maximum: true: the second output must be there */ \
    M(S, TYPE, NNRT_DataType, indicesType,   0) /* INT32 or INT64, as the output is declared; 0 = as declared, else INT32 */
/* ADD_FUSION */
#define NNRT_ATTR_AddFusion(M, S) \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* ADD_N */
#define NNRT_ATTR_AddN(M, S) M(S, NONE, _, reserved, 0)
/* AFFINE_GRID */
#define NNRT_ATTR_AffineGrid(M, S) \
    M(S, INT, _, alignCorners, 0) /* not 0: -1 and 1 are the middles of the first and the last cell, else their outer edges */
/* ALL */
#define NNRT_ATTR_All(M, S) \
    M(S, INT, _, keepDims, 0) /* non-zero keeps reduced axes with extent 1; an int64, not a bool */
/* ARGMAX_FUSION */
#define NNRT_ATTR_ArgMaxFusion(M, S) \
    M(S, INT,  _, axis,        -1) /* axis searched, in [-rank, rank) */ \
    M(S, INT,  _, topK,         1) /* how many maxima, 1 <= topK <= extent; 0 = 1 */ \
    M(S, BOOL, _, keepDims,     0) /* keep the axis; matters only for topK 1 */ \
    M(S, BOOL, _, outMaxValue,  0) /* false: output indices, true: output values */
/* ARGMIN_FUSION */
#define NNRT_ATTR_ArgMinFusion(M, S) \
    M(S, INT,  _, axis,        -1) /* axis searched, in [-rank, rank) */ \
    M(S, INT,  _, topK,         1) /* how many minima, 1 <= topK <= extent; 0 = 1 */ \
    M(S, BOOL, _, keepDims,     0) /* keep the axis; matters only for topK 1 */ \
    M(S, BOOL, _, outMaxValue,  0) /* false: output indices, true: output values */
/* ASIN */
#define NNRT_ATTR_Asin(M, S) M(S, NONE, _, reserved, 0)
/* ASINH */
#define NNRT_ATTR_Asinh(M, S) M(S, NONE, _, reserved, 0)
/* ASSERT */
#define NNRT_ATTR_Assert(M, S) \
    M(S, INT, _, summarize, 0) /* how many elements of each tensor of data a message shows, >= 0 */
/* ASSIGN */
#define NNRT_ATTR_Assign(M, S) M(S, NONE, _, reserved, 0)
/* ATAN */
#define NNRT_ATTR_Atan(M, S) M(S, NONE, _, reserved, 0)
/* ATANH */
#define NNRT_ATTR_Atanh(M, S) M(S, NONE, _, reserved, 0)
/* AVGPOOL_FUSION, AVGPOOL_INCLUDE_PAD */
#define NNRT_ATTR_AvgPoolFusion(M, S) \
    M(S, INTS, _,              kernelSize,     0) /* [height, width], both >= 1; ignored when global */ \
    M(S, INTS, _,              strides,        0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              pad,            0) /* [top, bottom, left, right], all >= 0; must be zero unless PAD_MODE_PAD; empty = zeros */ \
    M(S, ENUM, PadMode,        padMode,        0) /* PAD, SAME or VALID */ \
    M(S, ENUM, RoundMode,      roundMode,      0) /* how the output extent is rounded with PAD and VALID */ \
    M(S, ENUM, Format,         format,         0) /* not used: the format of the tensor decides and NONE means NHWC */ \
    M(S, BOOL, _,              global,         0) /* true: one window over the whole plane, kernelSize and strides ignored */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* AVERAGE_POOL_3D */
#define NNRT_ATTR_AveragePool3D(M, S) \
    M(S, INTS, _,       kernelShape,      0) /* [depth, height, width], each >= 1 */ \
    M(S, INTS, _,       strides,          0) /* of depth, height, width, each >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,       dilations,        0) /* the same */ \
    M(S, INTS, _,       pads,             0) /* before depth, height, width, then behind them, each >= 0; empty = zeros */ \
    M(S, ENUM, AutoPad, autoPad,          0) /* NOTSET: pads; SAME: extent / stride, rounded up, the odd cell last (UPPER) or first; VALID: none */ \
    M(S, INT,  _,       ceilMode,        0) /* not 0: extents are rounded up, but no window begins behind the data */ \
    M(S, INT,  _,       countIncludePad, 0) /* not 0: paddings count as cells */
/* AVGPOOL_FUSION, AVGPOOL_INCLUDE_PAD */
#define NNRT_ATTR_AvgPoolFusion(M, S) \
    M(S, INTS, _,              kernelSize,     0) /* [height, width], both >= 1; ignored when global */ \
    M(S, INTS, _,              strides,        0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              pad,            0) /* [top, bottom, left, right], all >= 0; must be zero unless PAD_MODE_PAD; empty = zeros */ \
    M(S, ENUM, PadMode,        padMode,        0) /* PAD, SAME or VALID */ \
    M(S, ENUM, RoundMode,      roundMode,      0) /* how the output extent is rounded with PAD and VALID */ \
    M(S, ENUM, Format,         format,         0) /* not used: the format of the tensor decides and NONE means NHWC */ \
    M(S, BOOL, _,              global,         0) /* true: one window over the whole plane, kernelSize and strides ignored */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* BATCH_TO_SPACE_ND */
#define NNRT_ATTR_BatchToSpaceND(M, S) \
    M(S, INTS,  _, blockShape, 0) /* [height, width], both >= 1 */ \
    M(S, INTS2, _, crops,      0) /* 2x2: [[top, bottom], [left, right]], all >= 0; empty = zeros */
/* BIAS_ADD */
#define NNRT_ATTR_BiasAdd(M, S) M(S, NONE, _, reserved, 0)
/* BITWISE_AND */
#define NNRT_ATTR_BitwiseAnd(M, S) M(S, NONE, _, reserved, 0)
/* BITWISE_NOT */
#define NNRT_ATTR_BitwiseNot(M, S) M(S, NONE, _, reserved, 0)
/* BITWISE_OR */
#define NNRT_ATTR_BitwiseOr(M, S) M(S, NONE, _, reserved, 0)
/* BITWISE_XOR */
#define NNRT_ATTR_BitwiseXor(M, S) M(S, NONE, _, reserved, 0)
/* BIT_SHIFT */
#define NNRT_ATTR_BitShift(M, S) \
    M(S, ENUM, ShiftDirection, direction, 0) /* LEFT or RIGHT */
/* BROADCAST_TO */
#define NNRT_ATTR_BroadcastTo(M, S) \
    M(S, INTS, _, shape, 0) /* extents of the result, -1 and 1 = as x has; used only when input 1 is absent */
/* CAST */
#define NNRT_ATTR_Cast(M, S) M(S, NONE, _, reserved, 0)
/* CEIL */
#define NNRT_ATTR_Ceil(M, S) M(S, NONE, _, reserved, 0)
/* CENTER_CROP_PAD */
#define NNRT_ATTR_CenterCropPad(M, S) \
    M(S, INTS, _, axes, 0) /* whose extents shape lists, in its order; empty = all */
/* CHANNEL_SHUFFLE */
#define NNRT_ATTR_ChannelShuffle(M, S) \
    M(S, INT, _, group, 1) /* number of groups, divides the channels; 0 = 1 */
/* CLIP */
#define NNRT_ATTR_Clip(M, S) \
    M(S, FLOAT, _, max,  FLT_MAX) /* upper bound, unless input 2 has it; FLT_MAX and infinity: none */ \
    M(S, FLOAT, _, min, -FLT_MAX) /* lower bound, unless input 1 has it; -FLT_MAX and -infinity: none; min <= max */
/* COL2IM */
#define NNRT_ATTR_Col2Im(M, S) \
    M(S, INTS, _, dilations, 0) /* steps between the elements of a block, >= 1, for each axis of the image; empty = 1 */ \
    M(S, INTS, _, pads,      0) /* rows and columns around the image, all begins and then all ends, >= 0; empty = 0 */ \
    M(S, INTS, _, strides,   0) /* steps between blocks, >= 1, for each axis of the image; empty = 1 */
/* COMPRESS */
#define NNRT_ATTR_Compress(M, S) \
    M(S, INTS, _, axis, 0) /* axis of which places are kept, one, in [-rank, rank); empty = x counts as one line */
/* CONCAT */
#define NNRT_ATTR_Concat(M, S) \
    M(S, INT, _, axis, 0) /* axis joined, in [-rank, rank) */
/* CONSTANT_OF_SHAPE */
#define NNRT_ATTR_ConstantOfShape(M, S) \
    M(S, TYPE,   int64_t, dataType, 0) /* element type of the output; 0 = as declared */ \
    M(S, FLOATS, _,       value,    0) /* one value, converted to dataType; empty = 0 */
/* CONV2D_FUSION */
#define NNRT_ATTR_Conv2DFusion(M, S) \
    M(S, INTS, _,              kernelSize,     0) /* [height, width]; must equal weight dims 1 and 2, as nothing and zeros do */ \
    M(S, INTS, _,              stride,         0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              dilation,       0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, ENUM, PadMode,        padMode,        0) /* PAD, SAME or VALID */ \
    M(S, INTS, _,              padList,        0) /* [top, bottom, left, right], all >= 0; must be zero unless PAD_MODE_PAD; empty = zeros */ \
    M(S, INT,  _,              group,          1) /* number of groups, divides inChannel and outChannel; group == inChannel is depthwise; 0 = 1 */ \
    M(S, INT,  _,              inChannel,      0) /* input channels (all groups); 0 = as x has */ \
    M(S, INT,  _,              outChannel,     0) /* output channels (all groups); 0 = as the weight has */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* CONV2D_TRANSPOSE_FUSION */
#define NNRT_ATTR_Conv2dTransposeFusion(M, S) \
    M(S, INTS, _,              kernelSize,     0) /* [height, width]; must equal weight dims 1 and 2, as nothing and zeros do */ \
    M(S, INTS, _,              stride,         0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              dilation,       0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, ENUM, PadMode,        padMode,        0) /* PAD, SAME or VALID */ \
    M(S, INTS, _,              padList,        0) /* [top, bottom, left, right], all >= 0; must be zero unless PAD_MODE_PAD; empty = zeros */ \
    M(S, INT,  _,              group,          1) /* number of groups, divides inChannel and outChannel; group == inChannel is depthwise; 0 = 1 */ \
    M(S, INT,  _,              inChannel,      0) /* input channels (all groups); 0 = as x has */ \
    M(S, INT,  _,              outChannel,     0) /* output channels (all groups); 0 = as the weight has */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */ \
    M(S, INTS, _,              outputPaddings, 0) /* [height, width] extra rows/columns at the bottom/right, each >= 0 and < stride (or < dilation) */
/* CONV_3D */
#define NNRT_ATTR_Conv3D(M, S) \
    M(S, INTS, _,       kernelShape, 0) /* [depth, height, width], each >= 1; nothing = the weight's */ \
    M(S, INTS, _,       strides,     0) /* of depth, height, width, each >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,       dilations,   0) /* the same */ \
    M(S, INTS, _,       pads,        0) /* before depth, height, width, then behind them, each >= 0; empty = zeros */ \
    M(S, ENUM, AutoPad, autoPad,     0) /* NOTSET: pads; SAME: extent / stride, rounded up, the odd cell last (UPPER) or first; VALID: none */ \
    M(S, INT,  _,       group,       1) /* divides both channels; 0 = 1 */
/* CONV_TRANSPOSE_3D */
#define NNRT_ATTR_ConvTranspose3D(M, S) \
    M(S, INTS, _,       kernelShape,    0) /* [depth, height, width], each >= 1; nothing = the weight's */ \
    M(S, INTS, _,       strides,        0) /* of depth, height, width, each >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,       dilations,      0) /* the same */ \
    M(S, INTS, _,       pads,           0) /* before depth, height, width, then behind them, each >= 0; empty = zeros */ \
    M(S, ENUM, AutoPad, autoPad,        0) /* NOTSET: pads; SAME: extent * stride, the odd cell last (UPPER) or first; VALID: none */ \
    M(S, INT,  _,       group,          1) /* divides both channels; 0 = 1 */ \
    M(S, INTS, _,       outputPadding,  0) /* cells more at the end of depth, height, width, each >= 0; empty = zeros */ \
    M(S, INTS, _,       outputShape,    0) /* extents of the result, whose paddings follow; empty = what pads and autoPad make */
/* COS */
#define NNRT_ATTR_Cos(M, S) M(S, NONE, _, reserved, 0)
/* COSH */
#define NNRT_ATTR_Cosh(M, S) M(S, NONE, _, reserved, 0)
/* CROP */
#define NNRT_ATTR_Crop(M, S) \
    M(S, INT,  _, axis,   0) /* first axis cropped, in [-rank, rank) */ \
    M(S, INTS, _, offset, 0) /* first place taken of each axis from there on, or one for all of them; empty = 0 */
/* CUM_SUM */
#define NNRT_ATTR_CumSum(M, S) \
    M(S, BOOL, _, exclusive, 0) /* leave the own element out: the first result is 0 */ \
    M(S, BOOL, _, reverse,   0) /* sum from the end */
/* DEFORMABLE_CONV_2D */
#define NNRT_ATTR_DeformableConv2D(M, S) \
    M(S, INTS, _,              stride,          0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              dilation,        0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              padList,         0) /* [top, bottom, left, right], all >= 0; empty = zeros */ \
    M(S, INT,  _,              group,           1) /* groups of the convolution, divides input and output channels; 0 = 1 */ \
    M(S, INT,  _,              deformableGroup, 1) /* groups of input channels that share offsets and mask; 0 = 1 */ \
    M(S, ENUM, ActivationType, activationType,  0) /* applied to the result before it is stored */
/* DEPTH_TO_SPACE */
#define NNRT_ATTR_DepthToSpace(M, S) \
    M(S, INT,    _,      blockSize,     0) /* edge of a block, >= 1; 1 is the identity */ \
    M(S, ENUM,   Format, format,        0) /* not used: the format of the tensor decides and NONE means NHWC */ \
    M(S, STRING, _,      mode,      "DCR") /* order of the channels: "DCR", the cells of a block outside, or "CRD" */
/* DET */
#define NNRT_ATTR_Det(M, S) M(S, NONE, _, reserved, 0)
/* DETECTION_POST_PROCESS */
#define NNRT_ATTR_DetectionPostProcess(M, S) \
    M(S, ENUM,   Format, format,                 0) /* not used */ \
    M(S, INT,    _,      inputSize,              0) /* not used */ \
    M(S, FLOATS, _,      scale,                  0) /* [y, x, h, w]: what the encoded boxes are divided by, all > 0 */ \
    M(S, FLOAT,  _,      nmsIoUThreshold,        0) /* a box that overlaps a kept one by more is dropped; in [0,1] */ \
    M(S, FLOAT,  _,      nmsScoreThreshold,      0) /* boxes of a lower score are not looked at */ \
    M(S, INT,    _,      maxDetections,          0) /* boxes kept at most, >= 1 */ \
    M(S, INT,    _,      detectionsPerClass,     0) /* useRegularNms: boxes kept of a class, >= 1 */ \
    M(S, INT,    _,      maxClassesPerDetection, 0) /* otherwise: classes told of a kept box; >= 1 */ \
    M(S, INT,    _,      numClasses,             0) /* classes without the background, >= 1 */ \
    M(S, BOOL,   _,      useRegularNms,          0) /* true: every class by itself; false: each box by its best class */ \
    M(S, BOOL,   _,      outQuantized,           0) /* not used: the results are float32 */
/* DFT */
#define NNRT_ATTR_DFT(M, S) \
    M(S, INT, _, axis,    -2) /* axis of the values, in [-rank, rank), not the last one */ \
    M(S, INT, _, inverse,  0) /* not 0: back to the values */ \
    M(S, INT, _, onesided, 0) /* not 0: the first half of the frequencies of real values, of which the others follow */
/* DIV_FUSION */
#define NNRT_ATTR_DivFusion(M, S) \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* EINSUM */
#define NNRT_ATTR_Einsum(M, S) \
    M(S, STRING, _, equation, "") /* a letter for each axis, terms of inputs with commas between, "->" and that of the result, as numpy.einsum */
/* ELTWISE */
#define NNRT_ATTR_Eltwise(M, S) \
    M(S, ENUM, EltwiseMode, mode, 0) /* PROD, SUM or MAXIMUM; UNKNOWN is an error */
/* EQUAL */
#define NNRT_ATTR_Equal(M, S) M(S, NONE, _, reserved, 0)
/* ERF */
#define NNRT_ATTR_Erf(M, S) M(S, NONE, _, reserved, 0)
/* EXPAND_DIMS */
#define NNRT_ATTR_ExpandDims(M, S) M(S, NONE, _, reserved, 0)
/* EXPFUSION */
#define NNRT_ATTR_ExpFusion(M, S) \
    M(S, FLOAT, _, base,  -1) /* base, > 0, or -1 for e */ \
    M(S, FLOAT, _, scale,  1) /* factor of x */ \
    M(S, FLOAT, _, shift,  0) /* added to scale*x */
/* EYE_LIKE */
#define NNRT_ATTR_EyeLike(M, S) \
    M(S, TYPE, int64_t, dtype, 0) /* element type of the output; 0 = as declared, else that of x */ \
    M(S, INT,  _,       k,     0) /* which diagonal is 1: 0 = the main one, above it > 0, below it < 0 */
/* FILL */
#define NNRT_ATTR_Fill(M, S) M(S, NONE, _, reserved, 0)
/* FILL_LIKE */
#define NNRT_ATTR_FillLike(M, S) M(S, NONE, _, reserved, 0)
/* FLATTEN */
#define NNRT_ATTR_Flatten(M, S) \
    M(S, INT, _, axis, 1) /* first axis of x that goes into the second of the result, in [-rank, rank] */
/* FLATTEN_RANGE */
#define NNRT_ATTR_FlattenRange(M, S) \
    M(S, INT, _, startAxis,  0) /* first axis folded, in [-rank, rank) */ \
    M(S, INT, _, endAxis,   -1) /* last axis folded, >= startAxis */
/* FLOOR */
#define NNRT_ATTR_Floor(M, S) M(S, NONE, _, reserved, 0)
/* FLOOR_DIV */
#define NNRT_ATTR_FloorDiv(M, S) M(S, NONE, _, reserved, 0)
/* FULL_CONNECTION */
#define NNRT_ATTR_FullConnection(M, S) \
    M(S, BOOL, _,              hasBias,        0) /* true: input 2 is present */ \
    M(S, BOOL, _,              useAxis,        0) /* true: fold axes axis..rank-1 into the feature axis */ \
    M(S, INT,  _,              axis,           0) /* see useAxis; 1 <= axis < rank when useAxis (negative counted from the end); 0 otherwise */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* FUSED_BATCH_NORM */
#define NNRT_ATTR_FusedBatchNorm(M, S) \
    M(S, FLOAT, _, epsilon, 1e-4f) /* added to the variance, > 0 */
/* GATHER */
#define NNRT_ATTR_Gather(M, S) M(S, NONE, _, reserved, 0)
/* GATHER_ELEMENTS */
#define NNRT_ATTR_GatherElements(M, S) \
    M(S, INT, _, axis, 0) /* axis that the indices name places of, in [-rank, rank) */
/* GATHER_ND */
#define NNRT_ATTR_GatherNd(M, S) M(S, NONE, _, reserved, 0)
/* GREATER */
#define NNRT_ATTR_Greater(M, S) M(S, NONE, _, reserved, 0)
/* GREATER_EQUAL */
#define NNRT_ATTR_GreaterEqual(M, S) M(S, NONE, _, reserved, 0)
/* GRID_SAMPLE */
#define NNRT_ATTR_GridSample(M, S) \
    M(S, BOOL, _,            alignCorners, 0) /* -1 and 1 are the centres of the outer cells (true) or their outer edges (false) */ \
    M(S, ENUM, ResizeMethod, method,       0) /* LINEAR or NEAREST */ \
    M(S, INT,  _,            paddingMode,  0) /* outside x: 0 zeros, 1 the nearest cell of the border, 2 reflection */
/* GROUP_NORM_FUSION */
#define NNRT_ATTR_GroupNormFusion(M, S) \
    M(S, INT,   _, numGroups,     1) /* groups, divides the channel count; 0 = 1 */ \
    M(S, FLOAT, _, epsilon,   1e-5f) /* added to the variance, >= 0 */ \
    M(S, BOOL,  _, affine,        1) /* true: scale and bias are applied */
/* GRU */
#define NNRT_ATTR_GRU(M, S) \
    M(S, INTS,  _,                  activations,       0) /* for each direction of the gates and of the state, ActivationType: RELU, SIGMOID, SOFTSIGN, SOFTPLUS, TANH; empty = SIGMOID, TANH */ \
    M(S, FLOAT, _,                  clip,              0) /* what activations get is kept inside [-clip, clip]; 0 = as it is */ \
    M(S, ENUM,  RecurrentDirection, direction,         0) /* of time, BIDIRECTIONAL: both */ \
    M(S, INT,   _,                  hiddenSize,        0) /* features of the state; 0 = those of w */ \
    M(S, INT,   _,                  layout,            0) /* 0: steps first, 1: batch first */ \
    M(S, INT,   _,                  linearBeforeReset, 0) /* not 0: the reset gate acts behind the product with the state */
/* HARDMAX */
#define NNRT_ATTR_Hardmax(M, S) \
    M(S, INT, _, axis, -1) /* axis searched, in [-rank, rank) */
/* HARD_SIGMOID */
#define NNRT_ATTR_HardSigmoid(M, S) \
    M(S, FLOAT, _, alpha, 0.2f) /* slope */ \
    M(S, FLOAT, _, beta,  0.5f) /* offset */
/* HARD_SWISH */
#define NNRT_ATTR_HardSwish(M, S) \
    M(S, FLOAT, _, alpha, 0.16666667f) /* slope of the gate */ \
    M(S, FLOAT, _, beta,  0.5f)        /* offset of the gate */
/* IF */
#define NNRT_ATTR_If(M, S) \
    M(S, GRAPH, _, thenGraph, NNRT_NO_GRAPH) /* runs where cond is true; no inputs, as many outputs as the node */ \
    M(S, GRAPH, _, elseGraph, NNRT_NO_GRAPH) /* runs where it is not */
/* INSTANCE_NORM */
#define NNRT_ATTR_InstanceNorm(M, S) \
    M(S, FLOAT, _, epsilon, 1e-5f) /* added to the variance, >= 0; 0 = 1e-5 */
/* IS_INF */
#define NNRT_ATTR_IsInf(M, S) \
    M(S, BOOL, _, detectNegative, 1) /* -infinity counts */ \
    M(S, BOOL, _, detectPositive, 1) /* infinity counts */
/* IS_NAN */
#define NNRT_ATTR_IsNaN(M, S) M(S, NONE, _, reserved, 0)
/* L2_NORMALIZE_FUSION */
#define NNRT_ATTR_L2NormalizeFusion(M, S) \
    M(S, INTS,  _,              axis,              0) /* axes normalised together; -1 = last; empty = last */ \
    M(S, FLOAT, _,              epsilon,       1e-6f) /* lower bound of the sum of squares */ \
    M(S, ENUM,  ActivationType, activationType,    0) /* applied to the result before it is stored */
/* LAYER_NORM_FUSION */
#define NNRT_ATTR_LayerNormFusion(M, S) \
    M(S, INT,   _, beginNormAxis,         1) /* first normalised axis, in [-rank, rank) */ \
    M(S, FLOAT, _, epsilon,           1e-5f) /* added to the variance; 1e-5 in the schema, 1e-7 in the OH_NN builder */ \
    M(S, BOOL,  _, elementwiseAffine,     1) /* true: gamma and beta are applied */ \
    M(S, INT,   _, beginParamsAxis,       1) /* first axis gamma and beta run along, in [-rank, rank) */
/* LEAKY_RELU */
#define NNRT_ATTR_LeakyRelu(M, S) \
    M(S, FLOAT, _, negativeSlope, 0) /* slope for x < 0 */
/* LESS */
#define NNRT_ATTR_Less(M, S) M(S, NONE, _, reserved, 0)
/* LESS_EQUAL */
#define NNRT_ATTR_LessEqual(M, S) M(S, NONE, _, reserved, 0)
/* LOG */
#define NNRT_ATTR_Log(M, S) M(S, NONE, _, reserved, 0)
/* LOGICAL_AND */
#define NNRT_ATTR_LogicalAnd(M, S) M(S, NONE, _, reserved, 0)
/* LOGICAL_NOT */
#define NNRT_ATTR_LogicalNot(M, S) M(S, NONE, _, reserved, 0)
/* LOGICAL_OR */
#define NNRT_ATTR_LogicalOr(M, S) M(S, NONE, _, reserved, 0)
/* LOGICAL_XOR */
#define NNRT_ATTR_LogicalXor(M, S) M(S, NONE, _, reserved, 0)
/* LOG_SOFTMAX */
#define NNRT_ATTR_LogSoftmax(M, S) \
    M(S, INT, _, axis, 0) /* axis, in [-rank, rank) */
/* LOOP */
#define NNRT_ATTR_Loop(M, S) \
    M(S, GRAPH, _, body, NNRT_NO_GRAPH) /* inputs: number of the trip, cond, v..; outputs: cond, v.., elements of scans */
/* LP_NORMALIZATION */
#define NNRT_ATTR_LpNormalization(M, S) \
    M(S, INT,   _, axis,        1) /* axis, in [-rank, rank) */ \
    M(S, INT,   _, p,           2) /* 1: sum of |x|; 2: root of the sum of x^2; 0 = 2 */ \
    M(S, FLOAT, _, epsilon, 1e-5f) /* added to the norm */
/* LP_POOL */
#define NNRT_ATTR_LpPool(M, S) \
    M(S, INTS, _,       kernelShape, 0) /* of each axis behind the channels, each >= 1 */ \
    M(S, INTS, _,       strides,     0) /* the same; nothing and zeros = 1 */ \
    M(S, INTS, _,       dilations,   0) /* the same */ \
    M(S, INTS, _,       pads,        0) /* before each of those axes, then behind each, each >= 0; empty = zeros */ \
    M(S, ENUM, AutoPad, autoPad,     0) /* NOTSET: pads; SAME: extent / stride, rounded up, the odd cell last (UPPER) or first; VALID: none */ \
    M(S, INT,  _,       ceilMode,    0) /* not 0: extents are rounded up, but no window begins behind the data */ \
    M(S, INT,  _,       p,           2) /* of the norm, >= 1; 0 = 2 */
/* LRN */
#define NNRT_ATTR_LRN(M, S) \
    M(S, INT,    _, depthRadius,    0) /* half width of the window of channels, >= 0 */ \
    M(S, FLOAT,  _, bias,           1) /* added to the sum of squares */ \
    M(S, FLOAT,  _, alpha,          1) /* factor of the sum of squares */ \
    M(S, FLOAT,  _, beta,        0.5f) /* exponent */ \
    M(S, STRING, _, normRegion, "ACROSS_CHANNELS") /* the only one */
/* LSTM */
#define NNRT_ATTR_LSTM(M, S) \
    M(S, BOOL,  _, bidirectional, 0) /* two directions */ \
    M(S, BOOL,  _, hasBias,       0) /* false: input 3 is there, but counts as zeros */ \
    M(S, INT,   _, inputSize,     0) /* features of a step of x; 0 = those of wIh */ \
    M(S, INT,   _, hiddenSize,    0) /* features of the cell state; 0 = those of wIh */ \
    M(S, INT,   _, numLayers,     0) /* layers, one on the other; 0 = 1 */ \
    M(S, INT,   _, numDirections, 0) /* 1, or 2 when bidirectional, as 0 is */ \
    M(S, FLOAT, _, dropout,       0) /* of training only: not used */ \
    M(S, FLOAT, _, zoneoutCell,   0) /* share of the old cell state that is kept, 0 to 1 */ \
    M(S, FLOAT, _, zoneoutHidden, 0) /* share of the old hidden state that is kept, 0 to 1 */ \
    M(S, INT,   _, projSize,      0) /* features that the hidden state is projected to; 0: it is not */
/* MATMUL_FUSION */
#define NNRT_ATTR_MatMulFusion(M, S) \
    M(S, BOOL, _,              transposeA,     0) /* swap the last two axes of input 0 first */ \
    M(S, BOOL, _,              transposeB,     0) /* swap the last two axes of input 1 first */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* MATMUL_INTEGER */
#define NNRT_ATTR_MatMulInteger(M, S) M(S, NONE, _, reserved, 0)
/* MAXIMUM */
#define NNRT_ATTR_Maximum(M, S) M(S, NONE, _, reserved, 0)
/* MAX_POOL_3D */
#define NNRT_ATTR_MaxPool3D(M, S) \
    M(S, INTS, _,       kernelShape, 0) /* [depth, height, width], each >= 1 */ \
    M(S, INTS, _,       strides,     0) /* of depth, height, width, each >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,       dilations,   0) /* the same */ \
    M(S, INTS, _,       pads,        0) /* before depth, height, width, then behind them, each >= 0; empty = zeros */ \
    M(S, ENUM, AutoPad, autoPad,     0) /* NOTSET: pads; SAME: extent / stride, rounded up, the odd cell last (UPPER) or first; VALID: none */ \
    M(S, INT,  _,       ceilMode,    0) /* not 0: extents are rounded up, but no window begins behind the data */
/* MAX_POOL_FUSION */
#define NNRT_ATTR_MaxPoolFusion(M, S) \
    M(S, INTS, _,              kernelSize,     0) /* [height, width], both >= 1; ignored when global */ \
    M(S, INTS, _,              strides,        0) /* [height, width], both >= 1; nothing and zeros = 1 */ \
    M(S, INTS, _,              pad,            0) /* [top, bottom, left, right], all >= 0; must be zero unless PAD_MODE_PAD; empty = zeros */ \
    M(S, ENUM, PadMode,        padMode,        0) /* PAD, SAME or VALID */ \
    M(S, ENUM, Format,         format,         0) /* not used: the format of the tensor decides and NONE means NHWC */ \
    M(S, ENUM, RoundMode,      roundMode,      0) /* as in AvgPoolFusion; FLOOR in HDI 1.0 */ \
    M(S, BOOL, _,              global,         0) /* true: one window over the whole plane, kernelSize and strides ignored */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* MAX_UNPOOL */
#define NNRT_ATTR_MaxUnpool(M, S) \
    M(S, INTS, _, kernelShape, 0) /* of the pooling, of each axis behind the channels, each >= 1 */ \
    M(S, INTS, _, strides,     0) /* the same; nothing and zeros = 1 */ \
    M(S, INTS, _, pads,        0) /* before each of those axes, then behind each, each >= 0; empty = zeros */
/* MEL_WEIGHT_MATRIX */
#define NNRT_ATTR_MelWeightMatrix(M, S) \
    M(S, TYPE, NNRT_DataType, outputDatatype, 0) /* float16, float32 or float64; 0 = as declared, else float32 */
/* MESHGRID */
#define NNRT_ATTR_Meshgrid(M, S) M(S, NONE, _, reserved, 0)
/* MINIMUM */
#define NNRT_ATTR_Minimum(M, S) M(S, NONE, _, reserved, 0)
/* MISH */
#define NNRT_ATTR_Mish(M, S) M(S, NONE, _, reserved, 0)
/* MOD */
#define NNRT_ATTR_Mod(M, S) M(S, NONE, _, reserved, 0)
/* MULTICLASS_NMS */
#define NNRT_ATTR_MulticlassNms(M, S) \
    M(S, INT,   _, backgroundLabel, -1) /* class left out, -1 = none */ \
    M(S, FLOAT, _, scoreThreshold,   0) /* only scores above it take part */ \
    M(S, INT,   _, nmsTopK,         -1) /* boxes looked at for a class of an image, the best ones; -1 = all */ \
    M(S, FLOAT, _, nmsThreshold,     0) /* a box that overlaps a kept one by more is dropped */ \
    M(S, FLOAT, _, nmsEta,           1) /* factor of nmsThreshold after each kept box, while it is above 0.5; 1 and 0 = none */ \
    M(S, INT,   _, keepTopK,        -1) /* boxes kept of an image, the best ones; -1 = all */ \
    M(S, BOOL,  _, normalized,       1) /* true: edges are differences of coordinates; false: of pixels, 1 more */ \
    M(S, BOOL,  _, returnIndex,      0) /* true: the third output must be there */
/* MUL_FUSION */
#define NNRT_ATTR_MulFusion(M, S) \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* NEG */
#define NNRT_ATTR_Neg(M, S) M(S, NONE, _, reserved, 0)
/* NEGATIVE_LOG_LIKELIHOOD_LOSS */
#define NNRT_ATTR_NegativeLogLikelihoodLoss(M, S) \
    M(S, INTS, _,             ignoreIndex, 0) /* one target that counts for nothing; empty = none */ \
    M(S, ENUM, LossReduction, reduction,   0) /* MEAN, weighted, or SUM of all; NONE: each by itself */
/* NON_MAX_SUPPRESSION */
#define NNRT_ATTR_NonMaxSuppression(M, S) \
    M(S, INT, _, centerPointBox, 0) /* 0: a box is two corners, y and x of each; 1: centre x, y, width, height */
/* NON_ZERO */
#define NNRT_ATTR_NonZero(M, S) M(S, NONE, _, reserved, 0)
/* NOT_EQUAL */
#define NNRT_ATTR_NotEqual(M, S) M(S, NONE, _, reserved, 0)
/* ONE_HOT */
#define NNRT_ATTR_OneHot(M, S) \
    M(S, INT, _, axis, -1) /* where the new axis goes, in [-1, rank(indices)]; -1 = last */
/* PAD_EDGE */
#define NNRT_ATTR_PadEdge(M, S) M(S, NONE, _, reserved, 0)
/* PAD_FUSION */
#define NNRT_ATTR_PadFusion(M, S) \
    M(S, INTS2, _,           paddings,      0) /* rank x 2, same meaning as input 1; used only when input 1 is absent */ \
    M(S, ENUM,  PaddingMode, paddingMode,   0) /* CONSTANT, REFLECT or SYMMETRIC; RESERVED is an error */ \
    M(S, FLOAT, _,           constantValue, 0) /* fill value for CONSTANT, converted to the element type */
/* POW_FUSION */
#define NNRT_ATTR_PowFusion(M, S) \
    M(S, FLOAT, _, scale, 1) /* factor of x */ \
    M(S, FLOAT, _, shift, 0) /* added to scale*x */
/* PRELU_FUSION */
#define NNRT_ATTR_PReLUFusion(M, S) \
    M(S, BOOL, _, channelShared, 0) /* true: one slope for all channels; consistency check only, the weight length decides */
/* PRIOR_BOX */
#define NNRT_ATTR_PriorBox(M, S) \
    M(S, FLOATS, _, minSizes,                   0) /* edges of the square boxes in pixels, > 0; one at least */ \
    M(S, FLOATS, _, maxSizes,                   0) /* empty, or one > 0 for each of minSizes: boxes of their geometric mean */ \
    M(S, FLOATS, _, aspectRatios,               0) /* width / height of further boxes, > 0; 1 is always there */ \
    M(S, FLOATS, _, variances,                  0) /* four numbers, the second result everywhere */ \
    M(S, BOOL,   _, flip,                       0) /* the inverses of aspectRatios, too */ \
    M(S, BOOL,   _, clip,                       0) /* clamp the boxes to [0,1] */ \
    M(S, FLOAT,  _, stepW,                      0) /* pixels from cell to cell; where stepW or stepH is 0, both are image / feature */ \
    M(S, FLOAT,  _, stepH,                      0) /* see stepW */ \
    M(S, FLOAT,  _, offset,                  0.5f) /* place of the centre within a cell */ \
    M(S, BOOL,   _, minMaxAspectRatiosOrder,    0) /* order of a cell's boxes: min, max, ratios; false: min, ratios, max */
/* QUANT_DTYPE_CAST */
#define NNRT_ATTR_QuantDTypeCast(M, S) \
    M(S, TYPE, int64_t, srcT, 0) /* DataType number of the input; must match the tensor, as 0 does */ \
    M(S, TYPE, int64_t, dstT, 0) /* DataType number of the output; must match the tensor, as 0 does where its type is declared */
/* QUANT_DTYPE_CAST_V2 */
#define NNRT_ATTR_QuantDTypeCastV2(M, S) \
    M(S, TYPE, int64_t, srcT, 0) /* DataType number of the input; must match the tensor, as 0 does */ \
    M(S, TYPE, int64_t, dstT, 0) /* DataType number of the output; must match the tensor, as 0 does where its type is declared */ \
    M(S, INT,  _,       axis, 0) /* axis of the QuantParams where there are several, in [-rank, rank) */
/* RANGE */
#define NNRT_ATTR_Range(M, S) \
    M(S, TYPE,  int64_t, dataType, 0) /* not used: the result has the type of input 0 */ \
    M(S, INT64, _,       start,    0) /* first value; this and the others are used only where input 0 stands alone */ \
    M(S, INT64, _,       limit,    0) /* end, not included */ \
    M(S, INT64, _,       delta,    1) /* step, not 0 */
/* RANK */
#define NNRT_ATTR_Rank(M, S) M(S, NONE, _, reserved, 0)
/* REAL_DIV */
#define NNRT_ATTR_RealDiv(M, S) M(S, NONE, _, reserved, 0)
/* RECIPROCAL */
#define NNRT_ATTR_Reciprocal(M, S) M(S, NONE, _, reserved, 0)
/* REDUCE_FUSION */
#define NNRT_ATTR_ReduceFusion(M, S) \
    M(S, BOOL,  _,          keepDims,    0) /* keep reduced axes with extent 1 */ \
    M(S, ENUM,  ReduceMode, mode,        0) /* which reduction */ \
    M(S, BOOL,  _,          reduceToEnd, 0) /* true: reduce every axis from the first listed one to the last */ \
    M(S, FLOAT, _,          coeff,       0) /* result factor, used only with reduceToEnd and when |coeff| > 1e-5 */
/* RESHAPE */
#define NNRT_ATTR_Reshape(M, S) M(S, NONE, _, reserved, 0)
/* RESIZE */
#define NNRT_ATTR_Resize(M, S) \
    M(S, ENUM,  ResizeMethod,            method,                  0) /* LINEAR, NEAREST or CUBIC; UNKNOWN is an error */ \
    M(S, INT,   _,                       newHeight,               0) /* output height, >= 1 */ \
    M(S, INT,   _,                       newWidth,                0) /* output width, >= 1 */ \
    M(S, BOOL,  _,                       preserveAspectRatio,     0) /* true is not supported (error), as in the reference */ \
    M(S, ENUM,  CoordinateTransformMode, coordinateTransformMode, 0) /* ASYMMETRIC, ALIGN_CORNERS or HALF_PIXEL */ \
    M(S, FLOAT, _,                       cubicCoeff,              0) /* cubic coefficient; 0 = -0.5 with HALF_PIXEL and -0.75 otherwise */ \
    M(S, INT,   _,                       excludeOutside,          0) /* 1: taps outside the input get weight 0, the rest is rescaled to sum 1 (cubic only) */ \
    M(S, FLOAT, _,                       extrapolationValue,      0) /* value outside a crop window; unused by the three transform modes */ \
    M(S, ENUM,  NearestMode,             nearestMode,             0) /* rounding of the source coordinate for NEAREST */
/* REVERSE_SEQUENCE */
#define NNRT_ATTR_ReverseSequence(M, S) \
    M(S, INT, _, batchAxis, 1) /* axis of the sequences, in [-rank, rank) */ \
    M(S, INT, _, timeAxis,  0) /* axis along which they run; another one: both 0 = 1 and 0 */
/* RMS_NORMALIZATION */
#define NNRT_ATTR_RMSNormalization(M, S) \
    M(S, INT,   _, axis,    -1)    /* elements from this axis on are normalised together */ \
    M(S, FLOAT, _, epsilon, 1e-5f) /* added to the mean of squares */
/* RNN */
#define NNRT_ATTR_RNN(M, S) \
    M(S, INTS,  _,                  activations, 0) /* as in GRU, one for each direction; empty = TANH */ \
    M(S, FLOAT, _,                  clip,        0) /* what activations get is kept inside [-clip, clip]; 0 = as it is */ \
    M(S, ENUM,  RecurrentDirection, direction,   0) /* of time, BIDIRECTIONAL: both */ \
    M(S, INT,   _,                  hiddenSize,  0) /* features of the state; 0 = those of w */ \
    M(S, INT,   _,                  layout,      0) /* 0: steps first, 1: batch first */
/* ROI_ALIGN */
#define NNRT_ATTR_RoiAlign(M, S) \
    M(S, INT,   _, outputHeight,  0) /* rows of a region's result, >= 1 */ \
    M(S, INT,   _, outputWidth,   0) /* columns, >= 1 */ \
    M(S, INT,   _, samplingRatio, 0) /* samples along each edge of a bin; <= 0: the edge's length, rounded up */ \
    M(S, FLOAT, _, spatialScale,  1) /* factor from coordinates of the regions to those of x, > 0; 0 = 1 */ \
    M(S, BOOL,  _, aligned,       0) /* true: cell 0 lies at coordinate 0.5, and regions may be smaller than a cell */
/* ROLL */
#define NNRT_ATTR_Roll(M, S) M(S, NONE, _, reserved, 0)
/* ROTARY_EMBEDDING */
#define NNRT_ATTR_RotaryEmbedding(M, S) \
    M(S, INT, _, interleaved,        0) /* not 0: neighbours are pairs, else elements half of the rotated ones apart */ \
    M(S, INT, _, numHeads,           0) /* heads in the last axis of an x of 3 axes */ \
    M(S, INT, _, rotaryEmbeddingDim, 0) /* elements of a head that are rotated, its first ones, even; 0 = all */
/* ROUND */
#define NNRT_ATTR_Round(M, S) M(S, NONE, _, reserved, 0)
/* RSQRT */
#define NNRT_ATTR_Rsqrt(M, S) M(S, NONE, _, reserved, 0)
/* SCALE_FUSION */
#define NNRT_ATTR_ScaleFusion(M, S) \
    M(S, INT,  _,              axis,           0) /* first input axis the scale shape is matched with, in [-rank, rank) */ \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* SCATTER_ELEMENTS */
#define NNRT_ATTR_ScatterElements(M, S) \
    M(S, INT,  _,                axis,      0) /* axis that the indices name places of, in [-rank, rank) */ \
    M(S, ENUM, ScatterReduction, reduction, 0) /* what an update does with the element: NONE replaces it */
/* SCATTER_ND */
#define NNRT_ATTR_ScatterNd(M, S) M(S, NONE, _, reserved, 0)
/* SCATTER_ND_UPDATE */
#define NNRT_ATTR_ScatterNDUpdate(M, S) \
    M(S, ENUM, ScatterReduction, reduction, 0) /* of what is there and the update; NONE: the update */
/* SELECT */
#define NNRT_ATTR_Select(M, S) M(S, NONE, _, reserved, 0)
/* SHAPE */
#define NNRT_ATTR_Shape(M, S) M(S, NONE, _, reserved, 0)
/* SIN */
#define NNRT_ATTR_Sin(M, S) M(S, NONE, _, reserved, 0)
/* SINH */
#define NNRT_ATTR_Sinh(M, S) M(S, NONE, _, reserved, 0)
/* SLICE_FUSION */
#define NNRT_ATTR_SliceFusion(M, S) \
    M(S, INTS, _, axes, 0) /* axes begin and size refer to; empty = 0,1,2,... */
/* SOFTMAX */
#define NNRT_ATTR_Softmax(M, S) \
    M(S, INTS, _, axis, 0) /* axis in a list of exactly one element, in [-rank, rank); empty = -1 */
/* SOFTPLUS */
#define NNRT_ATTR_Softplus(M, S) \
    M(S, FLOAT, _, beta,      1)  /* factor of x and divisor of the result, not 0 */ \
    M(S, FLOAT, _, threshold, 20) /* where beta*x is greater, the result is x */
/* SPACE_TO_BATCH_ND */
#define NNRT_ATTR_SpaceToBatchND(M, S) \
    M(S, INTS,  _, blockShape, 0) /* [height, width], both >= 1 */ \
    M(S, INTS2, _, paddings,   0) /* 2x2: [[top, bottom], [left, right]], all >= 0; empty = zeros */
/* SPACE_TO_DEPTH */
#define NNRT_ATTR_SpaceToDepth(M, S) \
    M(S, INT,  _,      blockSize, 0) /* edge of a block, >= 1; 1 is the identity */ \
    M(S, ENUM, Format, format,    0) /* not used: the format of the tensor decides and NONE means NHWC */
/* SPARSE_TO_DENSE */
#define NNRT_ATTR_SparseToDense(M, S) M(S, NONE, _, reserved, 0)
/* SPLIT */
#define NNRT_ATTR_Split(M, S) \
    M(S, INT,  _, outputNum,  0) /* number of outputs; must equal the node outputs, as 0 does */ \
    M(S, INTS, _, sizeSplits, 0) /* extent of each output along axis; empty = equal parts; one entry may be -1 = the rest */ \
    M(S, INT,  _, axis,       0) /* axis split, in [-rank, rank) */
/* SQRT */
#define NNRT_ATTR_Sqrt(M, S) M(S, NONE, _, reserved, 0)
/* SQUARE */
#define NNRT_ATTR_Square(M, S) M(S, NONE, _, reserved, 0)
/* SQUARED_DIFFERENCE */
#define NNRT_ATTR_SquaredDifference(M, S) M(S, NONE, _, reserved, 0)
/* SQUEEZE */
#define NNRT_ATTR_Squeeze(M, S) \
    M(S, INTS, _, axis, 0) /* axes removed where their extent is 1, each in [-rank, rank); empty = every axis of extent 1 */
/* STACK */
#define NNRT_ATTR_Stack(M, S) \
    M(S, INT, _, axis, 0) /* where the new axis goes, in [-(rank+1), rank] */
/* STFT */
#define NNRT_ATTR_STFT(M, S) \
    M(S, INT, _, onesided, 1) /* not 0: the first half of the frequencies of real values, of which the others follow */
/* STRIDED_SLICE */
#define NNRT_ATTR_StridedSlice(M, S) \
    M(S, INT, _, beginMask,      0) /* bit i: begin[i] is ignored, slice from the start */ \
    M(S, INT, _, endMask,        0) /* bit i: end[i] is ignored, slice to the end */ \
    M(S, INT, _, ellipsisMask,   0) /* bit i: entry i stands for as many whole axes as needed; at most one bit */ \
    M(S, INT, _, newAxisMask,    0) /* bit i: entry i inserts an axis of extent 1 */ \
    M(S, INT, _, shrinkAxisMask, 0) /* bit i: take the single element begin[i] and drop the axis */
/* SUB_FUSION */
#define NNRT_ATTR_SubFusion(M, S) \
    M(S, ENUM, ActivationType, activationType, 0) /* applied to the result before it is stored */
/* TAN */
#define NNRT_ATTR_Tan(M, S) M(S, NONE, _, reserved, 0)
/* TILE_FUSION */
#define NNRT_ATTR_TileFusion(M, S) \
    M(S, INTS, _, dims, 0) /* axes multiples refers to; empty = the last len(multiples) axes */
/* TOPK_FUSION */
#define NNRT_ATTR_TopKFusion(M, S) \
    M(S, BOOL, _, sorted,  1) /* true: descending values; false: by ascending index */ \
    M(S, INT,  _, axis,   -1) /* axis searched, in [-rank, rank) */
/* TRANSPOSE */
#define NNRT_ATTR_Transpose(M, S) M(S, NONE, _, reserved, 0)
/* TRILU */
#define NNRT_ATTR_Trilu(M, S) \
    M(S, BOOL, _, upper, 1) /* the upper triangle is kept; false: the lower one */
/* UNIQUE */
#define NNRT_ATTR_Unique(M, S) \
    M(S, INTS, _, axis,   0) /* axis whose places are compared, one, in [-rank, rank); empty = x counts as one line */ \
    M(S, BOOL, _, sorted, 1) /* rising; false: in the order in which they come first */
/* UNSQUEEZE */
#define NNRT_ATTR_Unsqueeze(M, S) \
    M(S, INTS, _, axis, 0) /* positions of the new axes in the output, each in [-(rank+n), rank+n) */
/* UNSTACK */
#define NNRT_ATTR_Unstack(M, S) \
    M(S, INT, _, axis, 0) /* axis taken apart, in [-rank, rank) */
/* WHERE */
#define NNRT_ATTR_Where(M, S) M(S, NONE, _, reserved, 0)
/* WINDOW */
#define NNRT_ATTR_Window(M, S) \
    M(S, ENUM, WindowKind,    kind,           0) /* HANN, HAMMING or BLACKMAN */ \
    M(S, TYPE, NNRT_DataType, outputDatatype, 0) /* float16, float32 or float64; 0 = as declared, else float32 */ \
    M(S, INT,  _,             periodic,       1) /* not 0: the first values of a window longer by one */
/* YOLO_BOX */
#define NNRT_ATTR_YoloBox(M, S) \
    M(S, INT,   _, classNum,           0) /* classes, >= 1 */ \
    M(S, FLOAT, _, confThresh,         0) /* boxes of a lower confidence become zeros */ \
    M(S, INT,   _, downsampleRatio,    0) /* pixels of the network's input for each cell of x, >= 1 */ \
    M(S, BOOL,  _, clipBbox,           1) /* keep the corners inside the image */ \
    M(S, FLOAT, _, scaleXY,            1) /* how far centres may leave their cell; 0 = 1 */ \
    M(S, BOOL,  _, iouAware,           0) /* x begins with a channel for each anchor, the expected overlap */ \
    M(S, FLOAT, _, iouAwareFactor,  0.5f) /* weight of that in the confidence */
/* clang-format on */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>table */

/* The operators: X(NAME, number, Struct, own|same, rule, "inputs", "outputs", flags, kernels, since, ...), a row a line, and
   below it a line for each kernel.
   Struct    attribute struct without NNRT_; same: it is that of another row
   rule      nnrti_rule_<rule> checks shapes and attributes (>>op in the implementation); rows may share one
   operands  separated by spaces: name, then ? optional or * one or more (*? any number), then what its element type must be:
             nothing: anything, for input 0 what the kernels take;  =k: that of input k;  :i int32 or int64;
             :f float16 or float32;  :n numbers;  :b bool;  :q quantised int8 or uint8;  :s int32, quantised or not;  :8 int8 or uint8;
             :. decided by the rule or by the type that the model declares.
   flags     LAYOUT   input 0 and the outputs are images: their views are in the order [N,H,W,C] whatever the format
             INPLACE  output 0 may overwrite an input of the same shape and element size
             ALIAS    output 0 has the bytes of input 0 in another shape: no copy is needed
             EMPTY    extents of 0 are legal; without it they are refused
             EFFECT   is run although nobody reads its results, if it has any
             FOLLOW   does not care for the order of axes: results of as many axes as an input have its format
             TELLS    how large the results are only the kernel knows: the rule gives the largest extents, the kernel
                      puts the true ones into its views
             MOVES    only moves elements of input 0; of all, where that is repeated
             EACH     an element of the result comes from those of the inputs that broadcasting puts there
             GROWS    no result becomes smaller when numbers of the inputs grow, of products those above 0; of a
                      difference and a quotient the first
             GRAPHS   runs subgraphs: a model's plan does so itself. Its rule refuses a node that stands alone; the K,
                      which a row must have, is never called
   kernels   K(types of input 0, operands, Struct, kernel, arguments, own|shared): nnrt_<kernel>. The first K is
             taken whose types contain the type of input 0 and whose operands ("name:type ..." as above; NULL: those of
             the row) fit the others. A quantised tensor is a type of its own (NNRT_TYPES_QUANT): an operator without
             a K for it refuses it. shared: the kernel of another row.
   arguments how the kernel is called: <inputs>d<derived>_<outputs>c, V = repeated, without d..: no derived constants
             (>>resolve), c: the nnrt_call comes last.
   since     HDI version times ten that has it: 10, 20, 21; 0 = our own
   Rows stand in the order of their numbers and end in `...`, so that a new column breaks no consumer. */
#define NNRT_OP_LAYOUT 1u
#define NNRT_OP_INPLACE 2u
#define NNRT_OP_ALIAS 4u
#define NNRT_OP_EMPTY 8u
#define NNRT_OP_EFFECT 16u
#define NNRT_OP_FOLLOW 32u
#define NNRT_OP_TELLS 64u
#define NNRT_OP_GRAPHS 128u
#define NNRT_OP_MOVES 256u
#define NNRT_OP_EACH 512u
#define NNRT_OP_GROWS 1024u
/* What the rows combine of them. */
#define NNRTI_MOVE (NNRT_OP_EMPTY)
#define NNRTI_SHAPE (NNRTI_MOVE | NNRT_OP_ALIAS | NNRT_OP_MOVES)
#define NNRTI_PART (NNRT_OP_EMPTY | NNRT_OP_FOLLOW)
#define NNRTI_MAP (NNRTI_PART | NNRT_OP_INPLACE)
#define NNRTI_EACH (NNRTI_MAP | NNRT_OP_EACH)
#define NNRTI_RISE (NNRTI_EACH | NNRT_OP_GROWS)
#define NNRTI_IMAGE (NNRT_OP_LAYOUT)
#define NNRTI_BLOCKS (NNRTI_MOVE | NNRTI_IMAGE)
#define NNRTI_CHANNELS (NNRTI_MAP | NNRTI_IMAGE)
#define NNRTI_GRAPHS (NNRTI_MOVE | NNRT_OP_GRAPHS)
/* Types of input 0 that no name above has: of what is quantised or is a real number; what has an order; what has
   quantised arithmetic; what has a difference; integers with a sign and without; what has a quotient that is a real
   number. */
#define NNRTI_CAST_INTS (NNRT_TYPES_I8 | NNRT_TYPES_U8 | NNRT_TYPES_I16 | NNRT_TYPES_I32)
#define NNRTI_TYPES_SCALED (NNRT_TYPES_FLOAT | NNRTI_CAST_INTS | NNRT_TYPES_QUANT(NNRTI_CAST_INTS))
#define NNRTI_TYPES_ORDERED (NNRT_TYPES_NUM | NNRT_TYPES_QUANT(NNRT_TYPES_INT))
#define NNRTI_TYPES_Q8 NNRT_TYPES_QUANT(NNRT_TYPES_I8 | NNRT_TYPES_U8)
#define NNRTI_TYPES_SUB (NNRT_TYPES_BUT_F32 & ~NNRT_TYPES_BOOL)
#define NNRTI_TYPES_SIGNED (NNRT_TYPES_I8 | NNRT_TYPES_I16 | NNRT_TYPES_INDEX)
#define NNRTI_TYPES_UINT (NNRT_TYPES_INT & ~NNRTI_TYPES_SIGNED)
#define NNRTI_TYPES_REAL (NNRT_TYPES_FLOAT | NNRT_TYPES_F64 | NNRT_TYPES_INDEX)

/* clang-format off */
#define NNRT_OPS(X, K) \
    X(ABS,                       1, Abs,                   own, abs,                     "x",                       "y=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_F32,      NULL, Abs,                   abs_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Abs,                   abs_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Abs,                   abs_f64,                     1_1,    own) \
        K(NNRTI_TYPES_SIGNED,  NULL, Abs,                   abs_int,                     1_1,    own) \
        K(NNRTI_TYPES_UINT,    NULL, Reshape,               reshape,                     1_1,    shared) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 21) \
    X(ACTIVATION,                2, Activation,            own, activation,              "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Activation,            activation_f32,              1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Activation,            activation_f16,              1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Activation,            activation_f64,              1_1,    own) \
        K(NNRT_TYPES_I32,      NULL, Activation,            activation_i32,              1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  own), 10) \
    X(ADD_FUSION,                5, AddFusion,             own, add_fusion,              "x y=0",                   "z=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, AddFusion,             add_fusion_f32,              2_1,    own) \
        K(NNRT_TYPES_BUT_F32,  NULL, AddFusion,             add_fusion,                  2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, AddFusion,             add_fusion_q8,               2d1_1,  own), 10) \
    X(ADD_N,                     8, AddN,                  own, add_n,                   "x*=0",                    "y=0",                 NNRTI_PART | NNRT_OP_EACH | NNRT_OP_GROWS, \
        K(NNRT_TYPES_F16,      NULL, AddN,                  add_n_f16,                   V_1,    own) \
        K(NNRT_TYPES_NUM,      NULL, AddN,                  add_n,                       V_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, AddN,                  add_n_q8,                    Vd1_1,  own), 0) \
    X(ALL,                       9, All,                   own, all,                     "x axis?:i",               "y:b",                 NNRTI_PART, \
        K(NNRT_TYPES_ANY,      NULL, All,                   all,                         1d1_1,  own), 21) \
    X(ARGMAX_FUSION,            11, ArgMaxFusion,          own, argmax_fusion,           "x",                       "indices:. values?=0", NNRTI_PART, \
        K(NNRTI_TYPES_ORDERED, NULL, ArgMaxFusion,          argmax_fusion,               1_2c,   own), 10) \
    X(ARGMIN_FUSION,            12, ArgMinFusion,          own, argmin_fusion,           "x",                       "indices:. values?=0", NNRTI_PART, \
        K(NNRTI_TYPES_ORDERED, NULL, ArgMinFusion,          argmin_fusion,               1_2c,   own), 0) \
    X(ASSERT,                   13, Assert,                own, assert,                  "condition:b data*?",      "y?:b",                NNRT_OP_EMPTY | NNRT_OP_EFFECT, \
        K(NNRT_TYPES_BOOL,     NULL, Assert,                assert,                      V_1c,   own), 21) \
    X(ASSIGN,                   14, Assign,                own, assign,                  "x",                       "y=0",                 NNRTI_MAP | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    shared), 0) \
    X(AVGPOOL_FUSION,           17, AvgPoolFusion,         own, avgpool_fusion,          "x",                       "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, AvgPoolFusion,         avgpool_fusion_f32,          1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, AvgPoolFusion,         avgpool_fusion_f16,          1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, AvgPoolFusion,         avgpool_fusion_q8,           1d1_1,  own), 10) \
    X(BATCH_TO_SPACE_ND,        22, BatchToSpaceND,        own, batch_to_space_nd,       "x",                       "y=0",                 NNRTI_BLOCKS, \
        K(NNRT_TYPES_ALL,      NULL, BatchToSpaceND,        batch_to_space_nd,           1_1,    own), 10) \
    X(BIAS_ADD,                 23, BiasAdd,               own, bias_add,                "x bias=0",                "y=0",                 NNRTI_CHANNELS, \
        K(NNRT_TYPES_NUM,      NULL, BiasAdd,               bias_add,                    2_1,    own) \
        K(NNRTI_TYPES_Q8,      "x bias:s", BiasAdd, bias_add_q8, 2d1_1, own), 10) \
    X(BROADCAST_TO,             27, BroadcastTo,           own, broadcast_to,            "x shape?:i",              "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Fill,                  fill,                        1_1,    shared), 21) \
    X(CAST,                     28, Cast,                  own, cast,                    "x type?:i",               "y:.",                 NNRTI_RISE, \
        K(NNRT_TYPES_ALL,      NULL, Cast,                  cast,                        1_1,    own), 10) \
    X(CEIL,                     29, Ceil,                  own, unary,                   "x",                       "y=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, Ceil,                  ceil_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Ceil,                  ceil_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Ceil,                  ceil_f64,                    1_1,    own), 21) \
    X(CLIP,                     30, Clip,                  own, clip,                    "x min?=0 max?=0",         "y=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_NUM,      NULL, Clip,                  clip,                        3d1_1c, own) \
        K(NNRTI_TYPES_Q8,      NULL, Clip,                  clip_q8,                     3d1_1c, own), 21) \
    X(CONCAT,                   31, Concat,                own, concat,                  "x*=0",                    "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Concat,                concat,                      V_1,    own), 10) \
    X(CONV2D_FUSION,            35, Conv2DFusion,          own, conv2d_fusion,           "x weight=0 bias?=0",      "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, Conv2DFusion,          conv2d_fusion_f32,           3_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Conv2DFusion,          conv2d_fusion_f16,           3_1,    own) \
        K(NNRTI_TYPES_Q8,      "x weight:q bias?:s", Conv2DFusion, conv2d_fusion_q8,     3d1_1,  own), 10) \
    X(CONV2D_TRANSPOSE_FUSION,  36, Conv2dTransposeFusion, own, conv2d_transpose_fusion, "x weight=0 bias?=0",      "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, Conv2dTransposeFusion, conv2d_transpose_fusion_f32, 3_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Conv2dTransposeFusion, conv2d_transpose_fusion_f16, 3_1,    own) \
        K(NNRTI_TYPES_Q8,      "x weight:q bias?:s", Conv2dTransposeFusion, conv2d_transpose_fusion_q8, 3d1_1, own), 10) \
    X(COS,                      37, Cos,                   own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Cos,                   cos_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Cos,                   cos_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Cos,                   cos_f64,                     1_1,    own), 21) \
    X(CONSTANT_OF_SHAPE,        38, ConstantOfShape,       own, constant_of_shape,       "shape",                   "y:.",                 NNRTI_MOVE, \
        K(NNRT_TYPES_INDEX,    NULL, ConstantOfShape,       constant_of_shape,           1d1_1,  own), 21) \
    X(CROP,                     39, Crop,                  own, crop,                    "x shape:i",               "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, SliceFusion,           slice_fusion,                1d1_1,  shared), 21) \
    X(DEPTH_TO_SPACE,           45, DepthToSpace,          own, depth_to_space,          "x",                       "y=0",                 NNRTI_BLOCKS, \
        K(NNRT_TYPES_ALL,      NULL, DepthToSpace,          depth_to_space,              1_1,    own), 21) \
    X(DETECTION_POST_PROCESS,   46, DetectionPostProcess,  own, detection_post_process,  "bbox scores=0 anchors=0", "boxes:. classes:. scores:. num:.", 0, \
        K(NNRT_TYPES_FLOAT,    NULL, DetectionPostProcess,  detection_post_process,      3_4c,   own), 21) \
    X(DIV_FUSION,               47, DivFusion,             own, div_fusion,              "x y=0",                   "z=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, DivFusion,             div_fusion_f32,              2_1,    own) \
        K(NNRT_TYPES_BUT_F32,  NULL, DivFusion,             div_fusion,                  2_1c,   own) \
        K(NNRTI_TYPES_Q8,      NULL, DivFusion,             div_fusion_q8,               2d1_1,  own), 10) \
    X(ELTWISE,                  52, Eltwise,               own, eltwise,                 "x y=0",                   "z=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_NUM,      NULL, Eltwise,               eltwise,                     2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Eltwise,               eltwise_q8,                  2d1_1,  own), 10) \
    X(EQUAL,                    53, Equal,                 own, compare,                 "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, Equal,                 equal,                       2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Equal,                 equal_q8,                    2d1_1,  own), 21) \
    X(EXPFUSION,                55, ExpFusion,             own, expfusion,               "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, ExpFusion,             expfusion_f32,               1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, ExpFusion,             expfusion_f16,               1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 21) \
    X(EXPAND_DIMS,              56, ExpandDims,            own, expand_dims,             "x axis:i",                "y=0",                 NNRTI_SHAPE, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    shared), 10) \
    X(FLATTEN,                  61, Flatten,               own, flatten,                 "x",                       "y=0",                 NNRTI_SHAPE, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    shared), 21) \
    X(FLOOR,                    63, Floor,                 own, floor,                   "x",                       "y=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, Floor,                 floor_f32,                   1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Floor,                 floor_f16,                   1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Floor,                 floor_f64,                   1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 21) \
    X(FLOOR_DIV,                64, FloorDiv,              own, floor_div,               "x y=0",                   "z=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_NUM,      NULL, FloorDiv,              floor_div,                   2_1c,   own) \
        K(NNRTI_TYPES_Q8,      NULL, FloorDiv,              floor_div_q8,                2d2_1,  own), 0) \
    X(FILL,                     66, Fill,                  own, fill,                    "value shape:i",           "y=0",                 NNRTI_MOVE, \
        K(NNRT_TYPES_ALL,      NULL, Fill,                  fill,                        1_1,    own), 10) \
    X(FULL_CONNECTION,          67, FullConnection,        own, full_connection,         "x weight=0 bias?=0",      "y=0",                 0, \
        K(NNRT_TYPES_F32,      NULL, FullConnection,        full_connection_f32,         3_1,    own) \
        K(NNRT_TYPES_F16,      NULL, FullConnection,        full_connection_f16,         3_1,    own) \
        K(NNRTI_TYPES_Q8,      "x weight:q bias?:s", FullConnection, full_connection_q8, 3d1_1,  own), 10) \
    X(FUSED_BATCH_NORM,         68, FusedBatchNorm,        own, fused_batch_norm,        "x scale=0 offset=0 mean=0 variance=0", "y=0",    NNRTI_CHANNELS, \
        K(NNRT_TYPES_F32,      NULL, FusedBatchNorm,        fused_batch_norm_f32,        5_1,    own) \
        K(NNRT_TYPES_F16,      "x scale:f offset:f mean:f variance:f", FusedBatchNorm, fused_batch_norm_f16, 5_1, own) \
        K(NNRT_TYPES_F64,      NULL, FusedBatchNorm,        fused_batch_norm_f64,        5_1,    own), 10) \
    X(GATHER,                   69, Gather,                own, gather,                  "x indices:i axis?:i",     "y=0",                 NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Gather,                gather,                      2d1_1c, own), 10) \
    X(GATHER_ND,                70, GatherNd,              own, gather_nd,               "x indices:i",             "y=0",                 NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, GatherNd,              gather_nd,                   2_1c,   own), 21) \
    X(GREATER,                  71, Greater,               own, compare,                 "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, Greater,               greater,                     2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Greater,               greater_q8,                  2d1_1,  own), 21) \
    X(GREATER_EQUAL,            72, GreaterEqual,          own, compare,                 "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, GreaterEqual,          greater_equal,               2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, GreaterEqual,          greater_equal_q8,            2d1_1,  own), 21) \
    X(INSTANCE_NORM,            74, InstanceNorm,          own, instance_norm,           "x scale=0 bias=0",        "y=0",                 NNRTI_CHANNELS, \
        K(NNRT_TYPES_F32,      NULL, InstanceNorm,          instance_norm_f32,           3_1,    own) \
        K(NNRT_TYPES_F16,      "x scale:f bias:f", InstanceNorm, instance_norm_f16,     3_1,    own), 21) \
    X(LAYER_NORM_FUSION,        75, LayerNormFusion,       own, layer_norm_fusion,       "x gamma?=0 beta?=0",      "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, LayerNormFusion,       layer_norm_fusion_f32,       3_1,    own) \
        K(NNRT_TYPES_F16,      "x gamma?:f beta?:f", LayerNormFusion, layer_norm_fusion_f16, 3_1, own), 10) \
    X(LEAKY_RELU,               76, LeakyRelu,             own, leaky_relu,              "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, LeakyRelu,             leaky_relu_f32,              1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, LeakyRelu,             leaky_relu_f16,              1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, LeakyRelu,             leaky_relu_f64,              1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 21) \
    X(LESS,                     77, Less,                  own, compare,                 "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, Less,                  less,                        2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Less,                  less_q8,                     2d1_1,  own), 21) \
    X(LESS_EQUAL,               78, LessEqual,             own, compare,                 "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, LessEqual,             less_equal,                  2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, LessEqual,             less_equal_q8,               2d1_1,  own), 10) \
    X(LOG,                      79, Log,                   own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Log,                   log_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Log,                   log_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Log,                   log_f64,                     1_1,    own), 21) \
    X(LOGICAL_AND,              81, LogicalAnd,            own, binary,                  "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, LogicalAnd,            logical_and,                 2_1,    own), 21) \
    X(LOGICAL_NOT,              82, LogicalNot,            own, unary,                   "x",                       "y:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, LogicalNot,            logical_not,                 1_1,    own), 21) \
    X(LOGICAL_OR,               83, LogicalOr,             own, binary,                  "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, LogicalOr,             logical_or,                  2_1,    own), 21) \
    X(LP_NORMALIZATION,         84, LpNormalization,       own, lp_normalization,        "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, LpNormalization,       lp_normalization_f32,        1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, LpNormalization,       lp_normalization_f16,        1_1,    own), 0) \
    X(LRN,                      85, LRN,                   own, lrn,                     "x",                       "y=0",                 NNRT_OP_EMPTY | NNRT_OP_LAYOUT, \
        K(NNRT_TYPES_F32,      NULL, LRN,                   lrn_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, LRN,                   lrn_f16,                     1_1,    own), 21) \
    X(LSTM,                     87, LSTM,                  own, lstm,                    "x wIh=0 wHh=0 bias=0 hx=0 cx=0 wProj?=0", "y=0 hy=0 cy=0", 0, \
        K(NNRT_TYPES_FLOAT,    NULL, LSTM,                  lstm,                        7_3c,   own), 21) \
    X(L2_NORMALIZE_FUSION,      88, L2NormalizeFusion,     own, l2_normalize_fusion,     "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, L2NormalizeFusion,     l2_normalize_fusion_f32,     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, L2NormalizeFusion,     l2_normalize_fusion_f16,     1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, L2NormalizeFusion,     l2_normalize_fusion_q8,      1d2_1,  own), 21) \
    X(MATMUL_FUSION,            89, MatMulFusion,          own, matmul_fusion,           "x y=0 bias?=0",           "z=0",                 NNRT_OP_EMPTY, \
        K(NNRT_TYPES_F32,      NULL, MatMulFusion,          matmul_fusion_f32,           3_1,    own) \
        K(NNRT_TYPES_F16,      NULL, MatMulFusion,          matmul_fusion_f16,           3_1,    own) \
        K(NNRTI_TYPES_Q8,      "x y:q bias?:s", MatMulFusion, matmul_fusion_q8,          3d1_1,  own), 10) \
    X(MAXIMUM,                  90, Maximum,               own, extreme,                 "x y=0",                   "z=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_NUM,      NULL, Maximum,               maximum,                     2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Maximum,               maximum_q8,                  2d1_1,  own), 10) \
    X(MAX_POOL_FUSION,          92, MaxPoolFusion,         own, max_pool_fusion,         "x",                       "y=0 indices?:.",      NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, MaxPoolFusion,         max_pool_fusion_f32,         1_2,    own) \
        K(NNRT_TYPES_F16,      NULL, MaxPoolFusion,         max_pool_fusion_f16,         1_2,    own) \
        K(NNRTI_TYPES_Q8,      NULL, MaxPoolFusion,         max_pool_fusion_q8,          1d1_2,  own), 10) \
    X(MINIMUM,                  96, Minimum,               own, extreme,                 "x y=0",                   "z=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_NUM,      NULL, Minimum,               minimum,                     2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Minimum,               minimum_q8,                  2d1_1,  own), 21) \
    X(MOD,                      98, Mod,                   own, binary,                  "x y=0",                   "z=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_NUM,      NULL, Mod,                   mod,                         2_1c,   own), 21) \
    X(MUL_FUSION,               99, MulFusion,             own, mul_fusion,              "x y=0",                   "z=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, MulFusion,             mul_fusion_f32,              2_1,    own) \
        K(NNRT_TYPES_BUT_F32,  NULL, MulFusion,             mul_fusion,                  2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, MulFusion,             mul_fusion_q8,               2d1_1,  own), 10) \
    X(NEG,                     101, Neg,                   own, unary,                   "x",                       "y=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_F32,      NULL, Neg,                   neg_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Neg,                   neg_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Neg,                   neg_f64,                     1_1,    own) \
        K(NNRTI_TYPES_SIGNED,  NULL, Neg,                   neg_int,                     1_1,    own), 21) \
    X(NOT_EQUAL,               103, NotEqual,              own, compare,                 "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, NotEqual,              not_equal,                   2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, NotEqual,              not_equal_q8,                2d1_1,  own), 21) \
    X(ONE_HOT,                 105, OneHot,                own, one_hot,                 "indices depth:i onValue offValue=2", "y=2",      NNRTI_MOVE, \
        K(NNRT_TYPES_INDEX,    NULL, OneHot,                one_hot,                     4_1,    own), 10) \
    X(PAD_FUSION,              107, PadFusion,             own, pad_fusion,              "x paddings?:i value?=0",  "y=0",                 NNRTI_PART, \
        K(NNRT_TYPES_ALL,      NULL, PadFusion,             pad_fusion,                  3d1_1,  own), 10) \
    X(POW_FUSION,              110, PowFusion,             own, pow_fusion,              "x y=0",                   "z=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_NUM,      NULL, PowFusion,             pow_fusion,                  2_1,    own), 10) \
    X(PRIOR_BOX,               111, PriorBox,              own, prior_box,               "feature image:f",         "boxes:. variances:.", 0, \
        K(NNRT_TYPES_FLOAT,    NULL, PriorBox,              prior_box,                   0d2_2,  own), 0) \
    X(PRELU_FUSION,            112, PReLUFusion,           own, prelu_fusion,            "x weight=0",              "y=0",                 NNRTI_CHANNELS, \
        K(NNRT_TYPES_F32,      NULL, PReLUFusion,           prelu_fusion_f32,            2_1,    own) \
        K(NNRT_TYPES_F16,      NULL, PReLUFusion,           prelu_fusion_f16,            2_1,    own) \
        K(NNRT_TYPES_F64,      NULL, PReLUFusion,           prelu_fusion_f64,            2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, PReLUFusion,           prelu_fusion_q8,             2d1_1,  own) \
        K(NNRTI_TYPES_Q8,      "x weight:f", PReLUFusion, prelu_fusion_q8_float, 2d1_1, own), 10) \
    X(QUANT_DTYPE_CAST,        113, QuantDTypeCast,        own, quant_dtype_cast,        "x",                       "y:.",                 NNRTI_MAP, \
        K(NNRTI_TYPES_SCALED,  NULL, QuantDTypeCast,        quant_dtype_cast,            1_1,    own), 10) \
    X(RANK,                    114, Rank,                  own, rank,                    "x",                       "y:.",                 NNRTI_MOVE, \
        K(NNRT_TYPES_ALL,      NULL, Rank,                  rank,                        1_1,    own), 21) \
    X(RANGE,                   115, Range,                 own, range,                   "x limit?=0 delta?=0",     "y=0",                 NNRTI_MOVE, \
        K(NNRT_TYPES_NUM,      NULL, Range,                 range,                       1d1_1,  own), 21) \
    X(RECIPROCAL,              116, Reciprocal,            own, unary,                   "x",                       "y=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_F32,      NULL, Reciprocal,            reciprocal_f32,              1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Reciprocal,            reciprocal_f16,              1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Reciprocal,            reciprocal_f64,              1_1,    own), 21) \
    X(REAL_DIV,                117, RealDiv,               own, real_div,                "x y=0",                   "z:.",                 NNRTI_EACH, \
        K(NNRTI_TYPES_REAL,    NULL, RealDiv,               real_div,                    2_1,    own), 21) \
    X(REDUCE_FUSION,           118, ReduceFusion,          own, reduce_fusion,           "x axes?:i",               "y=0",                 NNRTI_PART | NNRT_OP_GROWS, \
        K(NNRT_TYPES_F32,      NULL, ReduceFusion,          reduce_fusion_f32,           1d1_1,  own) \
        K(NNRT_TYPES_BUT_F32,  NULL, ReduceFusion,          reduce_fusion,               1d1_1,  own) \
        K(NNRTI_TYPES_Q8,      NULL, ReduceFusion,          reduce_fusion_q8,            1d2_1,  own), 10) \
    X(RESHAPE,                 119, Reshape,               own, reshape,                 "x shape:i",               "y=0",                 NNRTI_SHAPE, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    own), 10) \
    X(RESIZE,                  120, Resize,                own, resize,                  "x size?",                 "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, Resize,                resize_f32,                  1d1_1,  own) \
        K(NNRT_TYPES_F16,      NULL, Resize,                resize_f16,                  1d1_1,  own) \
        K(NNRTI_TYPES_Q8,      NULL, Resize,                resize_q8,                   1d2_1,  own), 10) \
    X(ROUND,                   125, Round,                 own, unary,                   "x",                       "y=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, Round,                 round_f32,                   1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Round,                 round_f16,                   1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Round,                 round_f64,                   1_1,    own), 21) \
    X(RSQRT,                   126, Rsqrt,                 own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Rsqrt,                 rsqrt_f32,                   1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Rsqrt,                 rsqrt_f16,                   1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Rsqrt,                 rsqrt_f64,                   1_1,    own), 10) \
    X(SCALE_FUSION,            127, ScaleFusion,           own, scale_fusion,            "x scale=0 bias?=0",       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, ScaleFusion,           scale_fusion_f32,            3_1,    own) \
        K(NNRT_TYPES_F16,      NULL, ScaleFusion,           scale_fusion_f16,            3_1,    own) \
        K(NNRT_TYPES_F64,      NULL, ScaleFusion,           scale_fusion_f64,            3_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, ScaleFusion,           scale_fusion_q8,             3d1_1,  own) \
        K(NNRTI_TYPES_Q8,      "x scale=0 bias?:s", ScaleFusion, scale_fusion_q8, 3d1_1, shared), 10) \
    X(SCATTER_ND,              128, ScatterNd,             own, scatter_nd,              "indices:i updates:n shape:i", "y=1",             NNRTI_MOVE, \
        K(NNRT_TYPES_INDEX,    NULL, ScatterNd,             scatter_nd,                  2_1c,   own), 21) \
    X(SHAPE,                   130, Shape,                 own, shape,                   "x",                       "y:.",                 NNRTI_MOVE, \
        K(NNRT_TYPES_ALL,      NULL, Shape,                 shape,                       1_1,    own), 10) \
    X(SIN,                     133, Sin,                   own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Sin,                   sin_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Sin,                   sin_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Sin,                   sin_f64,                     1_1,    own), 21) \
    X(SLICE_FUSION,            135, SliceFusion,           own, slice_fusion,            "x begin:i size:i",        "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, SliceFusion,           slice_fusion,                1d1_1,  own), 10) \
    X(SOFTMAX,                 138, Softmax,               own, softmax,                 "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Softmax,               softmax_f32,                 1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Softmax,               softmax_f16,                 1_1c,   own) \
        K(NNRTI_TYPES_Q8,      NULL, Softmax,               softmax_q8,                  1d2_1,  own), 10) \
    X(SPACE_TO_BATCH_ND,       141, SpaceToBatchND,        own, space_to_batch_nd,       "x",                       "y=0",                 NNRTI_BLOCKS, \
        K(NNRT_TYPES_ALL,      NULL, SpaceToBatchND,        space_to_batch_nd,           1_1,    own), 10) \
    X(SPACE_TO_DEPTH,          142, SpaceToDepth,          own, space_to_depth,          "x",                       "y=0",                 NNRTI_BLOCKS, \
        K(NNRT_TYPES_ALL,      NULL, SpaceToDepth,          space_to_depth,              1_1,    own), 21) \
    X(SPARSE_TO_DENSE,         144, SparseToDense,         own, sparse_to_dense,         "indices:i values:n shape:i default?=1", "y=1",   NNRTI_MOVE, \
        K(NNRT_TYPES_INDEX,    NULL, SparseToDense,         sparse_to_dense,             4_1c,   own), 21) \
    X(SPLIT,                   145, Split,                 own, split,                   "x",                       "y*=0",                NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Split,                 split,                       1_V,    own), 10) \
    X(SQRT,                    146, Sqrt,                  own, unary,                   "x",                       "y=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, Sqrt,                  sqrt_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Sqrt,                  sqrt_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Sqrt,                  sqrt_f64,                    1_1,    own), 10) \
    X(SQUEEZE,                 147, Squeeze,               own, squeeze,                 "x",                       "y=0",                 NNRTI_SHAPE, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    shared), 10) \
    X(SQUARE,                  148, Square,                own, square,                  "x",                       "y=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_F32,      NULL, Square,                square_f32,                  1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Square,                square_f16,                  1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Square,                square_f64,                  1_1,    own) \
        K(NNRT_TYPES_INT,      NULL, Square,                square_int,                  1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 21) \
    X(SQUARED_DIFFERENCE,      149, SquaredDifference,     own, squared_difference,      "x y=0",                   "z=0",                 NNRTI_EACH, \
        K(NNRT_TYPES_ANY,      NULL, SquaredDifference,     squared_difference,          2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, SquaredDifference,     squared_difference_q8,       2d1_1,  own), 10) \
    X(STACK,                   150, Stack,                 own, stack,                   "x*=0",                    "y=0",                 NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Stack,                 stack,                       V_1,    own), 10) \
    X(STRIDED_SLICE,           151, StridedSlice,          own, strided_slice,           "x begin:i end:i strides?:i stepsOfAxes?:i", "y=0", NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, StridedSlice,          strided_slice,               1d2_1,  own), 10) \
    X(SUB_FUSION,              152, SubFusion,             own, sub_fusion,              "x y=0",                   "z=0",                 NNRTI_RISE, \
        K(NNRT_TYPES_F32,      NULL, SubFusion,             sub_fusion_f32,              2_1,    own) \
        K(NNRTI_TYPES_SUB,     NULL, SubFusion,             sub_fusion,                  2_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, SubFusion,             sub_fusion_q8,               2d1_1,  own), 10) \
    X(TILE_FUSION,             160, TileFusion,            own, tile_fusion,             "x multiples:i",           "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, TileFusion,            tile_fusion,                 1_1,    own), 10) \
    X(TOPK_FUSION,             161, TopKFusion,            own, topk_fusion,             "x k:i",                   "values=0 indices?:.", NNRTI_PART, \
        K(NNRTI_TYPES_ORDERED, NULL, TopKFusion,            topk_fusion,                 1_2c,   own), 10) \
    X(TRANSPOSE,               162, Transpose,             own, transpose,               "x perm:i",                "y=0",                 NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Transpose,             transpose,                   1d1_1,  own), 10) \
    X(UNSQUEEZE,               165, Unsqueeze,             own, unsqueeze,               "x",                       "y=0",                 NNRTI_SHAPE, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    shared), 10) \
    X(UNSTACK,                 166, Unstack,               own, unstack,                 "x",                       "y*=0",                NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Unstack,               unstack,                     1_V,    own), 21) \
    X(WHERE,                   168, Where,                 own, where,                   "condition x y=1",         "z=1",                 NNRTI_PART, \
        K(NNRT_TYPES_BOOL,     NULL, Where,                 where,                       3_1,    own), 21) \
    X(SELECT,                  170, Select,                own, where,                   "condition x y=1",         "z=1",                 NNRTI_PART, \
        K(NNRT_TYPES_BOOL,     NULL, Where,                 where,                       3_1,    shared), 21) \
    X(ERF,                     178, Erf,                   own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Erf,                   erf_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Erf,                   erf_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Erf,                   erf_f64,                     1_1,    own), 21) \
    X(LOG_SOFTMAX,             189, LogSoftmax,            own, log_softmax,             "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, LogSoftmax,            log_softmax_f32,             1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, LogSoftmax,            log_softmax_f16,             1_1,    own), 21) \
    X(CUM_SUM,                 192, CumSum,                own, cum_sum,                 "x axis?:i",               "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_NUM,      NULL, CumSum,                cum_sum,                     2_1c,   own), 0) \
    X(GROUP_NORM_FUSION,       211, GroupNormFusion,       own, group_norm_fusion,       "x scale?=0 bias?=0",      "y=0",                 NNRTI_CHANNELS, \
        K(NNRT_TYPES_F32,      NULL, GroupNormFusion,       group_norm_fusion_f32,       3_1,    own) \
        K(NNRT_TYPES_F16,      "x scale?:f bias?:f", GroupNormFusion, group_norm_fusion_f16, 3_1, own), 0) \
    X(QUANT_DTYPE_CAST_V2,     999, QuantDTypeCastV2,      own, quant_dtype_cast_v2,     "x",                       "y:.",                 NNRTI_MAP, \
        K(NNRTI_TYPES_SCALED,  NULL, QuantDTypeCast,        quant_dtype_cast,            1_1,    shared), 21) \
    X(ADAPTIVE_AVERAGE_POOL_2D, 1000, AdaptivePool2D,      own, adaptive_average_pool_2d, "x size:i",               "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, AdaptivePool2D,        adaptive_average_pool_2d_f32, 1_1,   own) \
        K(NNRT_TYPES_F16,      NULL, AdaptivePool2D,        adaptive_average_pool_2d_f16, 1_1,   own) \
        K(NNRTI_TYPES_Q8,      NULL, AdaptivePool2D,        adaptive_average_pool_2d_q8, 1d1_1,  own), 0) \
    X(ADAPTIVE_MAX_POOL_2D,   1001, AdaptivePool2D,        same, adaptive_max_pool_2d,   "x size:i",                "y=0 indices?:.",      NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, AdaptivePool2D,        adaptive_max_pool_2d_f32,    1_2,    own) \
        K(NNRT_TYPES_F16,      NULL, AdaptivePool2D,        adaptive_max_pool_2d_f16,    1_2,    own) \
        K(NNRTI_TYPES_Q8,      NULL, AdaptivePool2D,        adaptive_max_pool_2d_q8,     1d1_2,  own), 0) \
    X(AVGPOOL_INCLUDE_PAD,    1002, AvgPoolFusion,         same, avgpool_fusion,         "x",                       "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, AvgPoolFusion,         avgpool_include_pad_f32,     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, AvgPoolFusion,         avgpool_include_pad_f16,     1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, AvgPoolFusion,         avgpool_include_pad_q8,      1d1_1,  own), 0) \
    X(BOTTOM_K,               1003, TopKFusion,           same, topk_fusion,             "x k:i",                   "values=0 indices?:.", NNRTI_PART, \
        K(NNRT_TYPES_NUM,      NULL, TopKFusion,            bottom_k,                    1_2c,   own), 0) \
    X(CHANNEL_SHUFFLE,        1004, ChannelShuffle,        own, channel_shuffle,         "x",                       "y=0",                 NNRTI_BLOCKS, \
        K(NNRT_TYPES_ALL,      NULL, ChannelShuffle,        channel_shuffle,             1_1,    own), 0) \
    X(DEFORMABLE_CONV_2D,     1005, DeformableConv2D,      own, deformable_conv_2d,      "x offset=0 mask?=0 weight=0 bias?=0", "y=0",     NNRTI_BLOCKS, \
        K(NNRT_TYPES_F32,      NULL, DeformableConv2D,      deformable_conv_2d_f32,      5_1,    own) \
        K(NNRT_TYPES_F16,      NULL, DeformableConv2D,      deformable_conv_2d_f16,      5_1,    own), 0) \
    X(FILL_LIKE,              1006, FillLike,              own, fill_like,               "x value",                 "y=1",                 NNRTI_PART, \
        K(NNRT_TYPES_ALL,      NULL, FillLike,              fill_like,                   2_1,    own), 0) \
    X(FLATTEN_RANGE,          1007, FlattenRange,          own, flatten_range,           "x",                       "y=0",                 NNRTI_SHAPE, \
        K(NNRT_TYPES_ALL,      NULL, Reshape,               reshape,                     1_1,    shared), 0) \
    X(GRID_SAMPLE,            1008, GridSample,            own, grid_sample,             "x grid=0",                "y=0",                 NNRTI_IMAGE, \
        K(NNRT_TYPES_F32,      NULL, GridSample,            grid_sample_f32,             2_1,    own) \
        K(NNRT_TYPES_F16,      "x grid:f", GridSample,      grid_sample_f16,             2_1,    own), 0) \
    X(HARD_SIGMOID,           1009, HardSigmoid,           own, hard_sigmoid,            "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, HardSigmoid,           hard_sigmoid_f32,            1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, HardSigmoid,           hard_sigmoid_f16,            1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, HardSigmoid,           hard_sigmoid_f64,            1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 0) \
    X(HARD_SWISH,             1010, HardSwish,             own, hard_swish,              "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, HardSwish,             hard_swish_f32,              1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, HardSwish,             hard_swish_f16,              1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, HardSwish,             hard_swish_f64,              1_1,    own) \
        K(NNRTI_TYPES_Q8,      NULL, Activation,            activation_q8,               1d1_1,  shared), 0) \
    X(LOGICAL_XOR,            1011, LogicalXor,            own, binary,                  "x y=0",                   "z:b",                 NNRTI_EACH, \
        K(NNRT_TYPES_BOOL,     NULL, NotEqual,              not_equal,                   2_1,    shared), 0) \
    X(MESHGRID,               1012, Meshgrid,              own, meshgrid,                "x*=0",                    "y*=0",                NNRTI_MOVE | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Meshgrid,              meshgrid,                    V_V,    own), 0) \
    X(MULTICLASS_NMS,         1013, MulticlassNms,         own, multiclass_nms,          "boxes scores=0 roisNum?:i", "out=0 outRoisNum:. index?:.", NNRT_OP_EMPTY | NNRT_OP_TELLS, \
        K(NNRT_TYPES_FLOAT,    NULL, MulticlassNms,         multiclass_nms,              3_3c,   own), 0) \
    X(PAD_EDGE,               1014, PadEdge,               own, pad_edge,                "x paddings:i",            "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, PadEdge,               pad_edge,                    1d1_1,  own), 0) \
    X(ROI_ALIGN,              1015, RoiAlign,              own, roi_align,               "x rois=0 batchIndices:i", "y=0",                 NNRTI_BLOCKS, \
        K(NNRT_TYPES_F32,      NULL, RoiAlign,              roi_align_f32,               3_1c,   own) \
        K(NNRT_TYPES_F16,      "x rois:f batchIndices:i", RoiAlign, roi_align_f16,       3_1c,   own), 0) \
    X(ROLL,                   1016, Roll,                  own, roll,                    "x shifts:i axes?:i",      "y=0",                 NNRTI_PART | NNRT_OP_MOVES, \
        K(NNRT_TYPES_ALL,      NULL, Roll,                  roll,                        1d1_1,  own), 0) \
    X(SOFTPLUS,               1017, Softplus,              own, softplus,                "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Softplus,              softplus_f32,                1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Softplus,              softplus_f16,                1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Softplus,              softplus_f64,                1_1,    own), 0) \
    X(YOLO_BOX,               1018, YoloBox,               own, yolo_box,                "x imgSize:i anchors:i",   "boxes:. scores:.",    0, \
        K(NNRT_TYPES_FLOAT,    NULL, YoloBox,               yolo_box,                    3d1_2,  own), 0) \
    X(IF,                     1100, If,                    own, control,                 "cond:b",                  "y*:.",                NNRTI_GRAPHS, \
        K(NNRT_TYPES_BOOL,     NULL, Reshape,               reshape,                     1_1,    shared), 0) \
    X(LOOP,                   1101, Loop,                  own, control,                 "trips?:i cond?:b v*?",    "y*:.",                NNRTI_GRAPHS, \
        K(NNRT_TYPES_INDEX,    NULL, Reshape,               reshape,                     1_1,    shared), 0) \
    X(NON_ZERO,               1102, NonZero,               own, non_zero,                "x",                       "y:.",                 NNRT_OP_EMPTY | NNRT_OP_TELLS, \
        K(NNRT_TYPES_ANY,      NULL, NonZero,               non_zero,                    1_1,    own), 0) \
    X(TAN,                    1110, Tan,                   own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Tan,                   tan_f32,                     1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Tan,                   tan_f16,                     1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Tan,                   tan_f64,                     1_1,    own), 0) \
    X(ASIN,                   1111, Asin,                  own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Asin,                  asin_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Asin,                  asin_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Asin,                  asin_f64,                    1_1,    own), 0) \
    X(ACOS,                   1112, Acos,                  own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Acos,                  acos_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Acos,                  acos_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Acos,                  acos_f64,                    1_1,    own), 0) \
    X(ATAN,                   1113, Atan,                  own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Atan,                  atan_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Atan,                  atan_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Atan,                  atan_f64,                    1_1,    own), 0) \
    X(SINH,                   1114, Sinh,                  own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Sinh,                  sinh_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Sinh,                  sinh_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Sinh,                  sinh_f64,                    1_1,    own), 0) \
    X(COSH,                   1115, Cosh,                  own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Cosh,                  cosh_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Cosh,                  cosh_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Cosh,                  cosh_f64,                    1_1,    own), 0) \
    X(ASINH,                  1116, Asinh,                 own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Asinh,                 asinh_f32,                   1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Asinh,                 asinh_f16,                   1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Asinh,                 asinh_f64,                   1_1,    own), 0) \
    X(ACOSH,                  1117, Acosh,                 own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Acosh,                 acosh_f32,                   1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Acosh,                 acosh_f16,                   1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Acosh,                 acosh_f64,                   1_1,    own), 0) \
    X(ATANH,                  1118, Atanh,                 own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Atanh,                 atanh_f32,                   1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Atanh,                 atanh_f16,                   1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Atanh,                 atanh_f64,                   1_1,    own), 0) \
    X(IS_NAN,                 1119, IsNaN,                 own, unary,                   "x",                       "y:b",                 NNRTI_PART, \
        K(NNRT_TYPES_FLOAT | NNRT_TYPES_F64, NULL, IsNaN,                 is_nan,                      1_1,    own), 0) \
    X(IS_INF,                 1120, IsInf,                 own, unary,                   "x",                       "y:b",                 NNRTI_PART, \
        K(NNRT_TYPES_FLOAT | NNRT_TYPES_F64, NULL, IsInf,                 is_inf,                      1_1,    own), 0) \
    X(MISH,                   1121, Mish,                  own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_F32,      NULL, Mish,                  mish_f32,                    1_1,    own) \
        K(NNRT_TYPES_F16,      NULL, Mish,                  mish_f16,                    1_1,    own) \
        K(NNRT_TYPES_F64,      NULL, Mish,                  mish_f64,                    1_1,    own), 0) \
    X(BITWISE_AND,            1122, BitwiseAnd,            own, binary,                  "x y=0",                   "z=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_INT,      NULL, BitwiseAnd,            bitwise_and,                 2_1,    own), 0) \
    X(BITWISE_OR,             1123, BitwiseOr,             own, binary,                  "x y=0",                   "z=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_INT,      NULL, BitwiseOr,             bitwise_or,                  2_1,    own), 0) \
    X(BITWISE_XOR,            1124, BitwiseXor,            own, binary,                  "x y=0",                   "z=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_INT,      NULL, BitwiseXor,            bitwise_xor,                 2_1,    own), 0) \
    X(BITWISE_NOT,            1125, BitwiseNot,            own, unary,                   "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_INT,      NULL, BitwiseNot,            bitwise_not_int,             1_1,    own), 0) \
    X(BIT_SHIFT,              1126, BitShift,              own, binary,                  "x y=0",                   "z=0",                 NNRTI_MAP, \
        K(NNRTI_TYPES_UINT,    NULL, BitShift,              bit_shift,                   2_1,    own), 0) \
    X(TRILU,                  1127, Trilu,                 own, trilu,                   "x k?:i",                  "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_ANY,      NULL, Trilu,                 trilu,                       2_1,    own), 0) \
    X(EYE_LIKE,               1128, EyeLike,               own, eye_like,                "x",                       "y:.",                 NNRTI_PART, \
        K(NNRT_TYPES_ANY,      NULL, EyeLike,               eye_like,                    1_1,    own), 0) \
    X(HARDMAX,                1129, Hardmax,               own, hardmax,                 "x",                       "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_FLOAT | NNRT_TYPES_F64, NULL, Hardmax,               hardmax,                     1_1,    own), 0) \
    X(REVERSE_SEQUENCE,       1130, ReverseSequence,       own, reverse_sequence,        "x lengths:i",             "y=0",                 NNRTI_PART, \
        K(NNRT_TYPES_ALL,      NULL, ReverseSequence,       reverse_sequence,            2_1c,   own), 0) \
    X(GATHER_ELEMENTS,        1131, GatherElements,        own, gather_elements,         "x indices:i",             "y=0",                 NNRTI_PART, \
        K(NNRT_TYPES_ALL,      NULL, GatherElements,        gather_elements,             2_1c,   own), 0) \
    X(SCATTER_ELEMENTS,       1132, ScatterElements,       own, scatter_elements,        "x indices:i updates=0",   "y=0",                 NNRTI_PART, \
        K(NNRT_TYPES_ANY,      NULL, ScatterElements,       scatter_elements,            3_1c,   own), 0) \
    X(COMPRESS,               1133, Compress,              own, compress,                "x condition:b",           "y=0",                 NNRT_OP_EMPTY | NNRT_OP_TELLS, \
        K(NNRT_TYPES_ALL,      NULL, Compress,              compress,                    2_1,    own), 0) \
    X(UNIQUE,                 1134, Unique,                own, unique,                  "x",                       "y=0 indices?:. inverse?:. counts?:.", NNRT_OP_EMPTY | NNRT_OP_TELLS, \
        K(NNRT_TYPES_ANY,      NULL, Unique,                unique,                      1_4c,   own), 0) \
    X(NEGATIVE_LOG_LIKELIHOOD_LOSS, 1135, NegativeLogLikelihoodLoss, own, negative_log_likelihood_loss, "x target:i weight?=0",    "y=0",                 NNRT_OP_EMPTY, \
        K(NNRT_TYPES_F32,      NULL, NegativeLogLikelihoodLoss, negative_log_likelihood_loss_f32, 3_1c,   own) \
        K(NNRT_TYPES_F16,      NULL, NegativeLogLikelihoodLoss, negative_log_likelihood_loss_f16, 3_1c,   own), 0) \
    X(GRU,                    1150, GRU,                   own, gru,                     "x w=0 r=0 b?=0 sequenceLens?:i initialH?=0", "y=0 yH=0", 0, \
        K(NNRT_TYPES_FLOAT,    NULL, GRU,                   gru,                         6_2c,   own), 0) \
    X(RNN,                    1151, RNN,                   own, rnn,                     "x w=0 r=0 b?=0 sequenceLens?:i initialH?=0", "y=0 yH=0", 0, \
        K(NNRT_TYPES_FLOAT,    NULL, RNN,                   rnn,                         6_2c,   own), 0) \
    X(NON_MAX_SUPPRESSION,    1152, NonMaxSuppression,     own, non_max_suppression,     "boxes scores=0 maxOutputBoxesPerClass?:i iouThreshold?:f scoreThreshold?:f", "y:.", NNRT_OP_EMPTY | NNRT_OP_TELLS, \
        K(NNRT_TYPES_FLOAT,    NULL, NonMaxSuppression,     non_max_suppression,         5_1c,   own), 0) \
    X(SCATTER_ND_UPDATE,      1153, ScatterNDUpdate,       own, scatter_nd_update,       "x indices:i updates=0",   "y=0",                 NNRTI_MOVE, \
        K(NNRT_TYPES_ANY,      NULL, ScatterNDUpdate,       scatter_nd_update,           3_1c,   own), 0) \
    X(LP_POOL,                1154, LpPool,                own, lp_pool,                 "x",                       "y=0",                 0, \
        K(NNRT_TYPES_FLOAT,    NULL, LpPool,                lp_pool,                     1_1,    own), 0) \
    X(MAX_UNPOOL,             1155, MaxUnpool,             own, max_unpool,              "x indices:i outputShape?:i", "y=0",              0, \
        K(NNRT_TYPES_ANY,      NULL, MaxUnpool,             max_unpool,                  3_1c,   own), 0) \
    X(CONV_3D,                1156, Conv3D,                own, conv_3d,                 "x weight=0 bias?=0",      "y=0",                 0, \
        K(NNRT_TYPES_FLOAT,    NULL, Conv3D,                conv_3d,                     3_1,    own), 0) \
    X(CONV_TRANSPOSE_3D,      1157, ConvTranspose3D,       own, conv_transpose_3d,       "x weight=0 bias?=0",      "y=0",                 0, \
        K(NNRT_TYPES_FLOAT,    NULL, ConvTranspose3D,       conv_transpose_3d,           3_1,    own), 0) \
    X(MAX_POOL_3D,            1158, MaxPool3D,             own, max_pool_3d,             "x",                       "y=0 indices?:.",      0, \
        K(NNRT_TYPES_FLOAT,    NULL, MaxPool3D,             max_pool_3d,                 1_2,    own), 0) \
    X(AVERAGE_POOL_3D,        1159, AveragePool3D,         own, average_pool_3d,         "x",                       "y=0",                 0, \
        K(NNRT_TYPES_FLOAT,    NULL, AveragePool3D,         average_pool_3d,             1_1,    own), 0) \
    X(EINSUM,                 1160, Einsum,                own, einsum,                  "x*=0",                    "y=0",                 NNRTI_MOVE, \
        K(NNRT_TYPES_NUM,      NULL, Einsum,                einsum,                      Vd1_1,  own), 0) \
    X(DET,                    1161, Det,                   own, det,                     "x",                       "y=0",                 0, \
        K(NNRT_TYPES_FLOAT,    NULL, Det,                   det,                         1_1c,   own), 0) \
    X(DFT,                    1164, DFT,                   own, dft,                     "x dftLength?:i",          "y=0",                 0, \
        K(NNRT_TYPES_FLOAT,    NULL, DFT,                   dft,                         2_1c,   own), 0) \
    X(STFT,                   1165, STFT,                  own, stft,                    "x frameStep:i window?=0 frameLength?:i", "y=0",  0, \
        K(NNRT_TYPES_FLOAT,    NULL, STFT,                  stft,                        4_1c,   own), 0) \
    X(WINDOW,                 1167, Window,                own, window,                  "size",                    "y:.",                 NNRTI_MOVE, \
        K(NNRT_TYPES_INDEX,    NULL, Window,                window,                      1_1,    own), 0) \
    X(MEL_WEIGHT_MATRIX,      1168, MelWeightMatrix,       own, mel_weight_matrix,       "numMelBins dftLength:i sampleRate:i lowerEdgeHertz:f upperEdgeHertz:f", "y:.", NNRTI_MOVE, \
        K(NNRT_TYPES_INDEX,    NULL, MelWeightMatrix,       mel_weight_matrix,           5_1c,   own), 0) \
    X(CENTER_CROP_PAD,        1169, CenterCropPad,         own, center_crop_pad,         "x shape:i",               "y=0",                 NNRTI_PART, \
        K(NNRT_TYPES_ANY,      NULL, CenterCropPad,         center_crop_pad,             2_1,    own), 0) \
    X(MATMUL_INTEGER,         1170, MatMulInteger,         own, matmul_integer,          "a b:8 aZeroPoint?=0 bZeroPoint?=1", "y:.",        NNRT_OP_EMPTY, \
        K(NNRT_TYPES_I8 | NNRT_TYPES_U8, NULL, MatMulInteger, matmul_integer,            4_1,    own), 0) \
    X(CONV_INTEGER,           1171, Conv2DFusion,         same, conv_integer,            "x weight:8 bias?:s xZeroPoint?=0 weightZeroPoint?=1", "y:.", NNRTI_IMAGE, \
        K(NNRT_TYPES_I8 | NNRT_TYPES_U8, NULL, Conv2DFusion, conv_integer,               5_1,    own), 0) \
    NNRTI_OPS_OF_TEST(X, K) \
    X(COL2IM,                 1180, Col2Im,                own, col2im,                  "x imageShape:i blockShape:i", "y=0",             NNRTI_MOVE, \
        K(NNRT_TYPES_FLOAT,    NULL, Col2Im,                col2im,                      3_1,    own), 0) \
    X(AFFINE_GRID,            1181, AffineGrid,            own, affine_grid,             "theta size:i",            "y=0",                 NNRTI_MOVE, \
        K(NNRT_TYPES_FLOAT,    NULL, AffineGrid,            affine_grid,                 2_1,    own), 0) \
    X(RMS_NORMALIZATION,      1182, RMSNormalization,      own, rms_normalization,       "x scale=0",               "y=0",                 NNRTI_MAP, \
        K(NNRT_TYPES_FLOAT,    NULL, RMSNormalization,      rms_normalization,           2_1,    own), 0) \
    X(ROTARY_EMBEDDING,       1183, RotaryEmbedding,       own, rotary_embedding,        "x cosCache=0 sinCache=0 positionIds?:i", "y=0",  NNRTI_MAP, \
        K(NNRT_TYPES_FLOAT,    NULL, RotaryEmbedding,       rotary_embedding,            4_1c,   own), 0) \
    NNRTI_OPS_OF_TEST(X, K)
/* clang-format on */

/* Rows of a test, in the order of their numbers behind all others: of what no operator uses yet. */
#ifndef NNRTI_OPS_OF_TEST
#define NNRTI_OPS_OF_TEST(X, K)
#endif

#define NNRTI_NO_KERNEL(types, operands, S, fn, args, ...)
#define NNRTI_OP_VALUE(name, number, ...) NNRT_NODE_TYPE_##name = number,
typedef int32_t NNRT_NodeType;
enum NNRTI_INT32 { NNRT_NODE_TYPE_NONE = 0, NNRT_OPS(NNRTI_OP_VALUE, NNRTI_NO_KERNEL) NNRTI_NODE_TYPE_END };

/* The attribute structs. */
#define NNRTI_CTYPE_BOOL(T) bool
#define NNRTI_CTYPE_INT(T) int64_t
#define NNRTI_CTYPE_INT64(T) int64_t
#define NNRTI_CTYPE_FLOAT(T) float
#define NNRTI_CTYPE_DOUBLE(T) double
#define NNRTI_CTYPE_ENUM(T) NNRT_##T
#define NNRTI_CTYPE_TYPE(T) T
#define NNRTI_CTYPE_STRING(T) const char *
#define NNRTI_CTYPE_GRAPH(T) uint32_t
#define NNRTI_CTYPE_INTS(T) NNRT_Int64List
#define NNRTI_CTYPE_INTS64(T) NNRT_Int64List
#define NNRTI_CTYPE_INTS2(T) NNRT_Int64Lists
#define NNRTI_CTYPE_FLOATS(T) NNRT_FloatList
#define NNRTI_CTYPE_NONE(T) uint8_t
#define NNRTI_ATTR_MEMBER(S, kind, T, member, value) NNRTI_CTYPE_##kind(T) member;
#define NNRTI_ATTR_STRUCT(S)                                                                                           \
    typedef struct NNRT_##S {                                                                                          \
        NNRT_ATTR_##S(NNRTI_ATTR_MEMBER, S)                                                                            \
    } NNRT_##S;
/* The struct of every row that brings one of its own; rows with `same` use that of another row. */
#define NNRTI_STRUCT_own(S) NNRTI_ATTR_STRUCT(S)
#define NNRTI_STRUCT_same(S)
#define NNRTI_OP_STRUCT(name, number, S, whose, ...) NNRTI_STRUCT_##whose(S)
NNRT_OPS(NNRTI_OP_STRUCT, NNRTI_NO_KERNEL)

/* The description as data: what readers, writers, printers and generators of attributes walk over. The numbers stand in
   .nnrt files. */
typedef int32_t nnrt_attr_kind;
enum {
    NNRT_ATTR_KIND_NONE,
    NNRT_ATTR_KIND_BOOL,
    NNRT_ATTR_KIND_INT,
    NNRT_ATTR_KIND_FLOAT,
    NNRT_ATTR_KIND_ENUM,
    NNRT_ATTR_KIND_INTS,
    NNRT_ATTR_KIND_INTS2,
    NNRT_ATTR_KIND_INT64,
    NNRT_ATTR_KIND_DOUBLE,
    NNRT_ATTR_KIND_TYPE,
    NNRT_ATTR_KIND_STRING,
    NNRT_ATTR_KIND_GRAPH,
    NNRT_ATTR_KIND_INTS64,
    NNRT_ATTR_KIND_FLOATS
};

typedef struct nnrt_enum_value {
    const char *name; /* "SAME" */
    int32_t value;
} nnrt_enum_value;

typedef struct nnrt_attr_member {
    const char *name;
    nnrt_attr_kind kind;
    uint32_t offset, bytes;        /* place in the struct */
    const nnrt_enum_value *values; /* kind ENUM: valueCount enumerators */
    uint32_t valueCount;
} nnrt_attr_member;

typedef struct nnrt_attr_struct {
    const char *name; /* "Conv2DFusion" */
    uint32_t bytes;   /* sizeof(NNRT_Conv2DFusion) */
    const nnrt_attr_member *members;
    uint32_t count;      /* 0 for a struct without members */
    const void *initial; /* a struct of the defaults */
} nnrt_attr_struct;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>views */

/* A tensor as a kernel sees it: element [i0,i1,..] lies at data + (i0*strides[0] + i1*strides[1] + ..) elements.
   dataType NNRT_DATA_TYPE_UNKNOWN marks an absent optional operand; kernels get NULL for it. */
typedef struct nnrt_view {
    void *data;
    NNRT_DataType dataType;
    int32_t rank;
    int32_t dims[NNRT_MAX_RANK];
    ptrdiff_t strides[NNRT_MAX_RANK]; /* in elements */
    const NNRT_QuantParam *quant;     /* quantCount parameters: 0 none, 1 whole tensor, else one per index of an axis */
    uint32_t quantCount;
} nnrt_view;

/* Offers threads: calls task(arg, i, worker) for every i < count, each exactly once, on any thread and in any order, and
   returns when all calls have. worker < workers tells calls apart that may run at the same time. */
typedef struct nnrt_parallel {
    void (*run)(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg);
    void *user;
    uint32_t workers; /* 1 or more */
} nnrt_parallel;

/* What a kernel may use beside its attributes and views. */
typedef struct nnrt_call {
    uint32_t nIn, nDerived, nOut;  /* views: inputs, derived constants, outputs, one behind the other */
    void *scratch;                 /* the bytes that the rule asked for, for each worker; NULL: none were asked for */
    size_t scratchBytes;           /* from one worker's scratch to the next one's */
    const nnrt_parallel *parallel; /* NULL: this thread */
    nnrt_error *error;             /* where a fault is told, NULL: nowhere */
} nnrt_call;

/* A kernel behind one signature: the resolved attributes, then the views of all inputs in the order of the operator's
   row, of the derived constants, and of all outputs; absent optional operands take their place. The kernels themselves
   are plain functions of their views; one that needs scratch, can fail or splits its work takes the nnrt_call last,
   which may be NULL. */
typedef NNRT_ReturnCode (*nnrt_kernel)(const void *attr, nnrt_view *args, nnrt_call *call);

/* Prototypes of the kernels by their arguments; optional operands may be NULL. */
#define NNRTI_ARGS_1_1 const nnrt_view *, nnrt_view *
#define NNRTI_ARGS_1_1c NNRTI_ARGS_1_1, nnrt_call *
#define NNRTI_ARGS_1_2c const nnrt_view *, nnrt_view *, nnrt_view *, nnrt_call *
#define NNRTI_ARGS_1_2 const nnrt_view *, nnrt_view *, nnrt_view *
#define NNRTI_ARGS_1_4c NNRTI_ARGS_1_2, nnrt_view *, nnrt_view *, nnrt_call *
#define NNRTI_ARGS_2_1 const nnrt_view *, NNRTI_ARGS_1_1
#define NNRTI_ARGS_2_1c NNRTI_ARGS_2_1, nnrt_call *
#define NNRTI_ARGS_3_1 const nnrt_view *, NNRTI_ARGS_2_1
#define NNRTI_ARGS_3_1c NNRTI_ARGS_3_1, nnrt_call *
#define NNRTI_ARGS_3_3c NNRTI_ARGS_3_1, nnrt_view *, nnrt_view *, nnrt_call *
#define NNRTI_ARGS_3_4c NNRTI_ARGS_3_1, nnrt_view *, nnrt_view *, nnrt_view *, nnrt_call *
#define NNRTI_ARGS_4_1 const nnrt_view *, NNRTI_ARGS_3_1
#define NNRTI_ARGS_4_1c NNRTI_ARGS_4_1, nnrt_call *
#define NNRTI_ARGS_5_1 const nnrt_view *, NNRTI_ARGS_4_1
#define NNRTI_ARGS_5_1c NNRTI_ARGS_5_1, nnrt_call *
#define NNRTI_ARGS_6_2c const nnrt_view *, NNRTI_ARGS_5_1, nnrt_view *, nnrt_call *
#define NNRTI_ARGS_7_3c const nnrt_view *, const nnrt_view *, NNRTI_ARGS_5_1, nnrt_view *, nnrt_view *, nnrt_call *
#define NNRTI_ARGS_1d1_1 NNRTI_ARGS_2_1
#define NNRTI_ARGS_1d1_2 NNRTI_ARGS_2_1, nnrt_view *
#define NNRTI_ARGS_1d2_1 NNRTI_ARGS_3_1
#define NNRTI_ARGS_2d1_1 NNRTI_ARGS_3_1
#define NNRTI_ARGS_2d2_1 NNRTI_ARGS_4_1
#define NNRTI_ARGS_2d1_1c NNRTI_ARGS_3_1, nnrt_call *
#define NNRTI_ARGS_3d1_1 NNRTI_ARGS_4_1
#define NNRTI_ARGS_3d1_1c NNRTI_ARGS_4_1, nnrt_call *
#define NNRTI_ARGS_0d2_2 const nnrt_view *, NNRTI_ARGS_1_2
#define NNRTI_ARGS_3d1_2 const nnrt_view *, const nnrt_view *, NNRTI_ARGS_0d2_2
#define NNRTI_ARGS_V_1 const nnrt_view *, uint32_t, nnrt_view * /* nIn inputs that lie one behind the other */
#define NNRTI_ARGS_Vd1_1 const nnrt_view *, uint32_t, NNRTI_ARGS_1_1
#define NNRTI_ARGS_V_1c NNRTI_ARGS_V_1, nnrt_call *
#define NNRTI_ARGS_1_V const nnrt_view *, nnrt_view *, uint32_t /* nOut outputs that lie one behind the other */
#define NNRTI_ARGS_V_V const nnrt_view *, uint32_t, nnrt_view *, uint32_t
#define NNRTI_KERNEL_PROTO(types, operands, S, fn, args, ...)                                                          \
    NNRT_API NNRT_ReturnCode nnrt_##fn(const NNRT_##S *, NNRTI_ARGS_##args);
#define NNRTI_OP_KERNELS(name, number, S, whose, rule, in, out, flags, kernels, ...) kernels
NNRT_OPS(NNRTI_OP_KERNELS, NNRTI_KERNEL_PROTO)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>resolve */

/* What is known of an operand while a node is prepared. rank -1 = absent, or a result not yet worked out. */
typedef struct nnrt_operand {
    const char *name;       /* of the tensor, for messages; may be NULL */
    NNRT_DataType dataType; /* NNRT_DATA_TYPE_UNKNOWN: absent input, or a result whose type follows from the inputs */
    NNRT_Format format;
    int32_t rank;
    int32_t dims[NNRT_MAX_RANK];
    int32_t viewRank; /* -1: the kernel sees rank and dims; else the shape in which it sees the same elements */
    int32_t viewDims[NNRT_MAX_RANK];
    const void *data; /* the value, when known before the run: constants, or what the rule computed; else NULL */
    const NNRT_QuantParam *quant;
    uint32_t quantCount;
    int32_t quantAxis; /* several parameters: k > 0: one per index of axis k-1; 0: of the axis that the operator says */
#ifndef NNRT_FIRMWARE
    /* Open extents: dims then has a number to work with, and the identity of the extent stands here, 0: it is fixed. Two
       extents with one symbol are equal. What is computed from an open extent is open, whatever number comes out. */
    uint32_t symbols[NNRT_MAX_RANK];
    const uint32_t *open; /* the same for each element of data, dense; NULL: all are what they are */
    size_t most;          /* elements that there are at most, where that is less than dims say; 0: as dims say */
#endif
} nnrt_operand;

#define NNRT_MAX_FIXED_OPERANDS 16 /* inputs plus outputs of an operator without a repeated operand */
#define NNRT_MAX_DERIVED 4         /* derived constants of a node */

typedef struct nnrt_op nnrt_op;

/* One node being resolved. The caller fills the first group; nnrt_resolve_node fills the second and completes out[].
   in[] has room for as many operands as the row can have, or the node has, and out[] likewise; those beyond the node's
   own are absent. */
typedef struct nnrt_resolve {
    const nnrt_op *op;
    const char *nodeName;
    int32_t node;     /* index for messages, -1 = none */
    const void *attr; /* attribute block, NULL or shorter than the struct: what is missing takes its defaults */
    uint32_t attrBytes;
    nnrt_operand *in, *out;
    uint32_t nIn, nOut;                       /* how many the node has */
    void *(*alloc)(void *user, size_t bytes); /* memory that lives as long as the result, NULL when there is none */
    void *user;
    nnrt_error *error;     /* may be NULL */
    uint32_t *symbolCount; /* symbols given so far, for extents that are computed; NULL: no extent is open */

    void *resolved; /* the attribute struct with nothing left to interpret */
    nnrt_kernel kernel;
    const char *kernelName;       /* of its row: "nnrt_softmax_f32" */
    uint32_t kernelIn, kernelOut; /* operands that the kernel gets: those of the node, optional ones that it leaves out
                                     behind them */
    /* What the rule computed once, for the kernel: arrays without holes whose views stand between those of the inputs
       and of the outputs. An input is never replaced. */
    nnrt_operand derived[NNRT_MAX_DERIVED];
    uint32_t nDerived;
    size_t scratch; /* bytes that the kernel needs during its call, for each worker */
    size_t room;    /* bytes that the rule took from alloc, and may take in a run */
    int32_t part;   /* of a node that runs subgraphs: which of its parts this is (NNRT_PART_..), else 0 */
    bool open;      /* an extent, or an element of a known value, of an input is open */
    bool late;      /* what the rule needs to know is told in a run: attributes and kernel hold then only */
    bool unbounded; /* dims do not bound what is computed here */
} nnrt_resolve;

/* A node that runs subgraphs is met where each of them begins and behind the last. UNDO: what was met since BEGIN does not
   hold, and comes once more. */
enum { NNRT_PART_BEGIN = 1, NNRT_PART_ELSE, NNRT_PART_END, NNRT_PART_UNDO };

typedef struct nnrt_kernel_row {
    uint32_t types;       /* NNRT_TYPES_ bits of input 0 */
    const char *operands; /* what the other inputs must be, NULL: as the operator's row says */
    nnrt_kernel call;
    const char *name;
} nnrt_kernel_row;

/* One operator, as data. */
struct nnrt_op {
    const char *name;
    NNRT_NodeType type;
    uint32_t flags;
    const char *inputs, *outputs;
    const nnrt_attr_struct *attr;
    NNRT_ReturnCode (*rule)(nnrt_resolve *c);
    const nnrt_kernel_row *kernels;
    uint32_t kernelCount;
    uint32_t since; /* HDI version times ten, 0 = our own */
};

/* How many inputs and outputs a node of an operator may have. */
typedef struct nnrt_op_arity {
    uint32_t minIn, maxIn, minOut, maxOut; /* UINT32_MAX: repeated */
} nnrt_op_arity;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>api */

/* The operator with this number, NULL when there is none. nnrt_op_at(i) lists all, in the order of their numbers. */
NNRT_API const nnrt_op *nnrt_op_find(NNRT_NodeType type);
NNRT_API const nnrt_op *nnrt_op_named(const char *name);
NNRT_API const nnrt_op *nnrt_op_at(uint32_t index);
NNRT_API nnrt_op_arity nnrt_op_operands(const nnrt_op *op);
/* Types that input 0 may have (NNRT_TYPES_ bits); the bit of an operand's type, quantised or not (0: absent). */
NNRT_API uint32_t nnrt_op_types(const nnrt_op *op);
NNRT_API uint32_t nnrt_operand_types(const nnrt_operand *o);

/* Checks a node against its row and its rule, works out shapes and types of the results, and gives the resolved
   attributes and the kernel. Of several faults the first counts: number of operands, element types, format, extents,
   attribute block, then what the rule says. On failure error tells node, operator, found and expected. */
NNRT_API NNRT_ReturnCode nnrt_resolve_node(nnrt_resolve *c);
/* View of an operand as the kernel of op sees it, without its data. index counts inputs; outputs pass -1. */
NNRT_API void nnrt_operand_view(const nnrt_op *op, const nnrt_operand *o, int32_t index, nnrt_view *view);
/* Calls task(arg, i, worker) for every i < count: on the threads that call offers, or here one after the other. */
NNRT_API void nnrt_parallel_for(const nnrt_call *call, uint32_t count,
                                void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg);
/* A kernel's fault: writes the message into call's error, if there is one, and returns code. The caller of the kernel
   puts node and operator before it. */
NNRT_API NNRT_ReturnCode nnrt_call_fail(const nnrt_call *call, NNRT_ReturnCode code, const char *format, ...);
/* An operand of n extents. rank must be <= NNRT_MAX_RANK. */
NNRT_API nnrt_operand nnrt_operand_make(NNRT_DataType type, int32_t rank, const int32_t *dims, const void *data);

/* Bytes of an element, 0 for a type that does not exist. */
NNRT_API size_t nnrt_type_size(NNRT_DataType type);
NNRT_API const char *nnrt_type_name(NNRT_DataType type);   /* "float32", "unknown" */
NNRT_API const char *nnrt_code_name(NNRT_ReturnCode code); /* "NNRT_INVALID_SHAPE" */
/* Elements and bytes of a shape; false when an extent is negative or the size does not fit. */
NNRT_API bool nnrt_dims_count(const int32_t *dims, int32_t rank, size_t *count);
NNRT_API bool nnrt_dims_bytes(const int32_t *dims, int32_t rank, NNRT_DataType type, size_t *bytes);
/* *out = a + b, *out = a * b; false on overflow. All size arithmetic of nnrt goes through these. */
NNRT_API bool nnrt_add_size(size_t a, size_t b, size_t *out);
NNRT_API bool nnrt_mul_size(size_t a, size_t b, size_t *out);

/* Do the reference kernels give here, and now, the bits that they give on every machine? NNRT_SAME_BITS of the file with
   the implementation, and what only a computation shows: fused multiply-add, excess precision, subnormal numbers
   flushed to zero, another rounding than to nearest. These are the calling thread's modes. */
NNRT_API bool nnrt_same_bits(void);

/* Attributes by description. defaults fills the struct; equal compares values, not pointers (floats by bits);
   print writes "kernelSize=[3,3] padMode=SAME ..." (of NULL: nothing) and returns the length it would need; copy copies
   the struct and its lists into memory from alloc, NULL when there is none left. */
NNRT_API void nnrt_attr_defaults(const nnrt_attr_struct *s, void *attr);
NNRT_API bool nnrt_attr_equal(const nnrt_attr_struct *s, const void *a, const void *b);
NNRT_API size_t nnrt_attr_print(const nnrt_attr_struct *s, const void *attr, char *out, size_t size);
NNRT_API void *nnrt_attr_copy(const nnrt_attr_struct *s, const void *attr, void *(*alloc)(void *user, size_t bytes),
                              void *user);

/* Writes a message into error, unless it holds one already, and returns code. Where it would not fit, names (texts in '')
   of more than 40 bytes are shortened with "...", so that the reason stays. Formats: %s text, %c char, %d int32_t,
   %u uint32_t, %l int64_t, %z size_t, %t NNRT_DataType, %m NNRT_TYPES_ set, %o const nnrt_operand*
   ("float32[1,28,28]"). */
NNRT_API NNRT_ReturnCode nnrt_error_set(nnrt_error *error, NNRT_ReturnCode code, const char *format, ...);
/* The same into a text; returns the length without the end. */
NNRT_API size_t nnrt_text(char *out, size_t size, const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_OPS_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_OPS_IMPLEMENTED)
#define NNRT_OPS_IMPLEMENTED

#include <math.h>
#include <stdarg.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define NNRTI_UNUSED __attribute__((unused))
#define NNRTI_INLINE static inline __attribute__((always_inline, unused))
#else
#define NNRTI_UNUSED
#define NNRTI_INLINE static inline
#endif

/* Contraction of a * b + c into one rounding is off from here to the end of this section, for each compiler its own
 * way.
 * - gcc ignores the STDC pragma. Its optimize pragma holds against -ffp-contract=fast, its default outside of
 *   -std=c99, and keeps inlining and vectors as long as caller and callee both stand in the region. (The same option
 *   as an attribute of one function works, too, but that function is not inlined into one without it.)
 * - clang obeys the STDC pragma except under -ffp-contract=fast, which is defined to overrule it. For that flag
 *   define NNRT_FP_STRICT: strict exceptions stop the fusion. They also stop vectorisation and inlining into
 *   functions outside the region (5 to 10 times slower), hence they are not the default. clang 14 knows them on x86
 *   only, and says so.
 * -ffast-math cannot be undone here (among other things it sets the processor to flush subnormals). */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#ifdef NNRT_FP_STRICT
#pragma clang fp exceptions(maytrap)
#endif
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

/* A selection of operators leaves functions that only others use. */
#if (defined(NNRT_SELECT) || defined(NNRT_FIRMWARE)) && (defined(__GNUC__) || defined(__clang__))
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text */

/* Names that only messages, printers and tools need. */
#ifdef NNRT_NO_MESSAGES
#define NNRTI_LABEL(text) ""
#else
#define NNRTI_LABEL(text) text
#endif

/* Tables made from the descriptions of the declarations. */
#define NNRTI_ENUM_ROW(prefix, name, value) {NNRTI_LABEL(#name), value},
#define NNRTI_ENUM_TABLE(T)                                                                                            \
    static const nnrt_enum_value nnrti_enum_##T[] NNRTI_UNUSED = {NNRT_ENUM_##T(NNRTI_ENUM_ROW)};
NNRT_ENUMS(NNRTI_ENUM_TABLE)

#define NNRTI_COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define NNRTI_VALUES_BOOL(T) NULL, 0
#define NNRTI_VALUES_INT(T) NULL, 0
#define NNRTI_VALUES_INT64(T) NULL, 0
#define NNRTI_VALUES_FLOAT(T) NULL, 0
#define NNRTI_VALUES_DOUBLE(T) NULL, 0
#define NNRTI_VALUES_ENUM(T) nnrti_enum_##T, NNRTI_COUNT(nnrti_enum_##T)
#define NNRTI_VALUES_TYPE(T) NULL, 0
#define NNRTI_VALUES_STRING(T) NULL, 0
#define NNRTI_VALUES_GRAPH(T) NULL, 0
#define NNRTI_VALUES_INTS(T) NULL, 0
#define NNRTI_VALUES_INTS64(T) NULL, 0
#define NNRTI_VALUES_INTS2(T) NULL, 0
#define NNRTI_VALUES_FLOATS(T) NULL, 0
#define NNRTI_VALUES_NONE(T) NULL, 0
#define NNRTI_INITIAL_BOOL(value) (value) != 0
#define NNRTI_INITIAL_INT(value) value
#define NNRTI_INITIAL_INT64(value) value
#define NNRTI_INITIAL_FLOAT(value) (float)(value)
#define NNRTI_INITIAL_DOUBLE(value) (double)(value)
#define NNRTI_INITIAL_ENUM(value) value
#define NNRTI_INITIAL_TYPE(value) value
#define NNRTI_INITIAL_STRING(value) value
#define NNRTI_INITIAL_GRAPH(value) value
#define NNRTI_INITIAL_INTS(value)                                                                                      \
    {                                                                                                                  \
        NULL, 0                                                                                                        \
    }
#define NNRTI_INITIAL_INTS64(value)                                                                                    \
    {                                                                                                                  \
        NULL, 0                                                                                                        \
    }
#define NNRTI_INITIAL_INTS2(value)                                                                                     \
    {                                                                                                                  \
        NULL, 0                                                                                                        \
    }
#define NNRTI_INITIAL_FLOATS(value)                                                                                    \
    {                                                                                                                  \
        NULL, 0                                                                                                        \
    }
#define NNRTI_INITIAL_NONE(value) 0
#ifdef NNRT_FIRMWARE
#define NNRTI_MEMBER_NAME(text) ""
#else
#define NNRTI_MEMBER_NAME(text) text
#endif
#define NNRTI_MEMBER_ROW(S, kind, T, member, value)                                                                    \
    {NNRTI_MEMBER_NAME(#member), NNRT_ATTR_KIND_##kind, (uint32_t)offsetof(NNRT_##S, member),                          \
     (uint32_t)sizeof(((NNRT_##S *)0)->member), NNRTI_VALUES_##kind(T)},
#define NNRTI_MEMBER_INITIAL(S, kind, T, member, value) NNRTI_INITIAL_##kind(value),
#define NNRTI_MEMBER_ONE(S, kind, T, member, value) +(NNRT_ATTR_KIND_##kind != NNRT_ATTR_KIND_NONE)
#define NNRTI_MEMBER_TABLE(S)                                                                                          \
    static const nnrt_attr_member nnrti_members_##S[] = {NNRT_ATTR_##S(NNRTI_MEMBER_ROW, S)};                          \
    static const NNRT_##S nnrti_initial_##S = {NNRT_ATTR_##S(NNRTI_MEMBER_INITIAL, S)};                                \
    static const nnrt_attr_struct nnrti_struct_##S = {NNRTI_LABEL(#S), (uint32_t)sizeof(NNRT_##S), nnrti_members_##S,  \
                                                      0 NNRT_ATTR_##S(NNRTI_MEMBER_ONE, S), &nnrti_initial_##S};
#define NNRTI_MEMBERS_own(S) NNRTI_MEMBER_TABLE(S)
#define NNRTI_MEMBERS_same(S)
#define NNRTI_OP_MEMBERS(name, number, S, whose, ...) NNRTI_MEMBERS_##whose(S)
NNRT_OPS(NNRTI_OP_MEMBERS, NNRTI_NO_KERNEL)

/* What belongs to an operator's row; under NNRT_SELECT only where NNRT_KEEP_<name> is 1: its expansion then makes a comma,
   and 1 the second of the arguments. */
#ifdef NNRT_SELECT
#define NNRTI_KEPT_1 0,
#define NNRTI_SECOND(first, second, ...) second
#define NNRTI_PICK(probe) NNRTI_SECOND(probe 1, 0, 0)
#define NNRTI_PROBE(value) NNRTI_PICK(NNRTI_KEPT_##value)
#define NNRTI_IS_KEPT(value) NNRTI_PROBE(value)
#define NNRTI_ROW_IF_0(...)
#define NNRTI_ROW_IF_1(...) __VA_ARGS__
#define NNRTI_ROW_IF_(kept) NNRTI_ROW_IF_##kept
#define NNRTI_ROW_IF(kept) NNRTI_ROW_IF_(kept)
#define NNRTI_IF_KEPT(name, ...) NNRTI_ROW_IF(NNRTI_IS_KEPT(NNRT_KEEP_##name))(__VA_ARGS__)
#else
#define NNRTI_IF_KEPT(name, ...) __VA_ARGS__
#endif

/* Does a member of any operator have this kind? A kind that none has costs a firmware nothing. */
#ifdef NNRT_FIRMWARE
#define NNRTI_MEMBER_KIND(S, kind, T, member, value) | (1 << NNRT_ATTR_KIND_##kind)
#define NNRTI_OP_KINDS(name, number, S, ...) NNRTI_IF_KEPT(name, NNRT_ATTR_##S(NNRTI_MEMBER_KIND, S))
enum { NNRTI_KINDS = 0 NNRT_OPS(NNRTI_OP_KINDS, NNRTI_NO_KERNEL) };
#define NNRTI_HAS(kind) ((NNRTI_KINDS >> NNRT_ATTR_KIND_##kind & 1) != 0)
#else
#define NNRTI_HAS(kind) true
#endif

NNRT_API size_t nnrt_type_size(NNRT_DataType type)
{
    switch (type) {
#define NNRTI_TYPE_SIZE(name, number, bytes, text)                                                                     \
    case number: return bytes;
        NNRT_DATA_TYPES(NNRTI_TYPE_SIZE)
    default: return 0;
    }
}

NNRT_API const char *nnrt_type_name(NNRT_DataType type)
{
    switch (type) {
#define NNRTI_TYPE_NAME(name, number, bytes, text)                                                                     \
    case number: return text;
        NNRT_DATA_TYPES(NNRTI_TYPE_NAME)
    default: return "unknown";
    }
}

NNRT_API const char *nnrt_code_name(NNRT_ReturnCode code)
{
    switch (code) {
#define NNRTI_CODE_NAME(prefix, name, value)                                                                           \
    case value: return NNRTI_LABEL("NNRT_" #name);
        NNRT_ENUM_ReturnCode(NNRTI_CODE_NAME) default : return code < 0 ? NNRTI_LABEL("a system code")
                                                                        : NNRTI_LABEL("an unknown code");
    }
}

NNRT_API bool nnrt_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b)
        return false;
    *out = a + b;
    return true;
}

NNRT_API bool nnrt_mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *out = a * b;
    return true;
}

/* An extent of 0 gives 0 elements, but the other extents must still be sensible: their product must fit too, as
   strides are made from it. */
NNRT_API bool nnrt_dims_count(const int32_t *dims, int32_t rank, size_t *count)
{
    size_t n = 1;
    bool empty = false;
    if (rank < 0 || rank > NNRT_MAX_RANK)
        return false;
    for (int32_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return false;
        if (dims[i] == 0)
            empty = true;
        else if (!nnrt_mul_size(n, (size_t)dims[i], &n) || n > (size_t)PTRDIFF_MAX / 8)
            return false;
    }
    *count = empty ? 0 : n;
    return true;
}

NNRT_API bool nnrt_dims_bytes(const int32_t *dims, int32_t rank, NNRT_DataType type, size_t *bytes)
{
    size_t count;
    return nnrt_dims_count(dims, rank, &count) && nnrt_mul_size(count, nnrt_type_size(type), bytes);
}

/* Where text goes: what does not fit is counted, not written. */
typedef struct nnrti_out {
    char *data;
    size_t size, length;
} nnrti_out;

static void nnrti_put(nnrti_out *o, char c)
{
    if (o->length + 1 < o->size)
        o->data[o->length] = c;
    o->length++;
}

static void nnrti_puts(nnrti_out *o, const char *s)
{
    while (*s)
        nnrti_put(o, *s++);
}

static void nnrti_put_u64(nnrti_out *o, uint64_t v)
{
    char digits[20];
    int32_t n = 0;
    do {
        digits[n++] = (char)('0' + (char)(v % 10u));
        v /= 10u;
    } while (v != 0);
    while (n > 0)
        nnrti_put(o, digits[--n]);
}

static void nnrti_put_i64(nnrti_out *o, int64_t v)
{
    if (v < 0)
        nnrti_put(o, '-');
    nnrti_put_u64(o, v < 0 ? 0u - (uint64_t)v : (uint64_t)v);
}

/* Up to nine significant digits, enough to tell any two floats apart when the exponent is moderate; for people. */
static void nnrti_put_float(nnrti_out *o, double v)
{
    int32_t exponent = 0, digits = 9;
    uint32_t m;
    char text[9];
    if (v != v) {
        nnrti_puts(o, "nan");
        return;
    }
    if (v < 0) {
        nnrti_put(o, '-');
        v = -v;
    }
    if (v > DBL_MAX) {
        nnrti_puts(o, "inf");
        return;
    }
    if (v == 0) {
        nnrti_put(o, '0');
        return;
    }
    for (; v >= 10; exponent++)
        v /= 10;
    for (; v < 1; exponent--)
        v *= 10;
    m = (uint32_t)(v * 1e8 + 0.5);
    if (m >= 1000000000u) {
        m /= 10u;
        exponent++;
    }
    for (int32_t i = 8; i >= 0; i--, m /= 10u)
        text[i] = (char)('0' + (char)(m % 10u));
    while (digits > 1 && text[digits - 1] == '0')
        digits--;
    if (exponent >= -5 && exponent < 0) {
        nnrti_puts(o, "0.");
        for (int32_t i = exponent + 1; i < 0; i++)
            nnrti_put(o, '0');
    }
    for (int32_t i = 0; i < digits || (exponent < 9 && i <= exponent); i++) {
        if (i == (exponent >= 0 && exponent < 9 ? exponent + 1 : exponent >= -5 && exponent < 0 ? -1 : 1))
            nnrti_put(o, '.');
        nnrti_put(o, i < digits ? text[i] : '0');
    }
    if (exponent < -5 || exponent >= 9) {
        nnrti_put(o, 'e');
        nnrti_put_i64(o, exponent);
    }
}

static void nnrti_put_dims(nnrti_out *o, const nnrt_operand *t)
{
    nnrti_put(o, '[');
    for (int32_t i = 0; i < t->rank && i < NNRT_MAX_RANK; i++) {
        if (i > 0)
            nnrti_put(o, ',');
#ifndef NNRT_FIRMWARE
        if (t->symbols[i] != 0) {
            nnrti_put(o, '?');
            continue;
        }
#endif
        nnrti_put_i64(o, t->dims[i]);
    }
    nnrti_put(o, ']');
}

static void nnrti_put_types(nnrti_out *o, uint32_t types)
{
    bool first = true;
#define NNRTI_PUT_TYPE(name, number, bytes, text)                                                                      \
    if (types & NNRT_TYPES_OF(number)) {                                                                               \
        nnrti_puts(o, first ? text : "," text);                                                                        \
        first = false;                                                                                                 \
    }                                                                                                                  \
    if (types & NNRT_TYPES_QUANT(NNRT_TYPES_OF(number))) {                                                             \
        nnrti_puts(o, first ? "q" text : ",q" text);                                                                   \
        first = false;                                                                                                 \
    }
    NNRT_DATA_TYPES(NNRTI_PUT_TYPE)
}

/* Integers with parameters stand for real numbers; a float with some is a float. */
static bool nnrti_is_quant(const nnrt_operand *o)
{
    return o->quantCount > 0 && o->dataType >= NNRT_DATA_TYPE_INT8 && o->dataType < NNRT_DATA_TYPE_FLOAT16;
}

static void nnrti_put_operand(nnrti_out *o, const nnrt_operand *t)
{
    if (t == NULL || (t->rank < 0 && t->dataType == NNRT_DATA_TYPE_UNKNOWN)) {
        nnrti_puts(o, "nothing");
        return;
    }
    if (nnrti_is_quant(t))
        nnrti_put(o, 'q');
    nnrti_puts(o, nnrt_type_name(t->dataType));
    if (t->rank < 0)
        nnrti_puts(o, " of unknown shape");
    else
        nnrti_put_dims(o, t);
}

/* A name of more than 40 bytes as its beginning, "..." and its end; no UTF-8 character is cut. */
static void nnrti_put_brief(nnrti_out *o, const char *s)
{
    size_t head = 24, tail = strlen(s);
    if (tail <= 40) {
        nnrti_puts(o, s);
        return;
    }
    for (tail -= 12; ((uint8_t)s[tail] & 0xC0u) == 0x80u;)
        tail++;
    while (head > 0 && ((uint8_t)s[head] & 0xC0u) == 0x80u)
        head--;
    for (size_t i = 0; i < head; i++)
        nnrti_put(o, s[i]);
    nnrti_puts(o, "...");
    nnrti_puts(o, s + tail);
}

/* brief: names, which are the texts in '', are shortened. */
static void nnrti_vformat(nnrti_out *o, const char *format, va_list *args, bool brief)
{
    for (char before = '\0'; *format; before = *format++) {
        if (*format != '%') {
            nnrti_put(o, *format);
            continue;
        }
        switch (*++format) {
        case 's': {
            const char *s = va_arg(*args, const char *);
            if (brief && before == '\'' && s != NULL)
                nnrti_put_brief(o, s);
            else
                nnrti_puts(o, s != NULL ? s : "");
            break;
        }
        case 'c': nnrti_put(o, (char)va_arg(*args, int)); break;
        case 'd': nnrti_put_i64(o, va_arg(*args, int32_t)); break;
        case 'u': nnrti_put_u64(o, va_arg(*args, uint32_t)); break;
        case 'l': nnrti_put_i64(o, va_arg(*args, int64_t)); break;
        case 'z': nnrti_put_u64(o, va_arg(*args, size_t)); break;
        case 'f': nnrti_put_float(o, va_arg(*args, double)); break;
        case 't': nnrti_puts(o, nnrt_type_name(va_arg(*args, NNRT_DataType))); break;
        case 'm': nnrti_put_types(o, va_arg(*args, uint32_t)); break;
        case 'o': nnrti_put_operand(o, va_arg(*args, const nnrt_operand *)); break;
        case '\0': return;
        default: nnrti_put(o, *format); break;
        }
    }
}

static size_t nnrti_end(nnrti_out *o)
{
    if (o->size > 0)
        o->data[o->length < o->size ? o->length : o->size - 1] = '\0';
    return o->length;
}

NNRT_API size_t nnrt_text(char *out, size_t size, const char *format, ...)
{
    va_list args;
    nnrti_out o;
    o.data = out;
    o.size = size;
    o.length = 0;
    va_start(args, format);
    nnrti_vformat(&o, format, &args, false);
    va_end(args);
    return nnrti_end(&o);
}

/* True when error waits for a fault; its code, node and tensor are then set. */
static bool nnrti_error_take(nnrt_error *error, NNRT_ReturnCode code, int32_t node)
{
    if (error == NULL || error->code != NNRT_SUCCESS)
        return false;
    error->code = code;
    error->node = node;
    error->tensor = -1;
    return true;
}

/* Where the message goes: as many bytes as it has, which need not be as many as they are in this build. */
static void nnrti_error_out(nnrt_error *error, nnrti_out *o)
{
    o->data = error->message;
    o->size = o->length = error->capacity != 0 ? error->capacity : sizeof(error->message);
}

NNRT_API NNRT_ReturnCode nnrt_error_set(nnrt_error *error, NNRT_ReturnCode code, const char *format, ...)
{
    va_list args;
    nnrti_out o;
    if (!nnrti_error_take(error, code, -1))
        return code;
    nnrti_error_out(error, &o);
    for (int brief = 0; brief < 2 && o.length >= o.size; brief++) {
        o.length = 0;
        va_start(args, format);
        nnrti_vformat(&o, format, &args, brief != 0);
        va_end(args);
    }
    nnrti_end(&o);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_call_fail(const nnrt_call *call, NNRT_ReturnCode code, const char *format, ...)
{
    va_list args;
    nnrti_out o;
    if (call == NULL || !nnrti_error_take(call->error, code, -1))
        return code;
    o.data = call->error->message;
    o.size = sizeof(call->error->message);
    o.length = 0;
    va_start(args, format);
    nnrti_vformat(&o, format, &args, true);
    va_end(args);
    nnrti_end(&o);
    return code;
}

/* The message of a fault in the node that c resolves: "node 3 'conv1' (CONV2D_FUSION): " and what follows. */
static NNRT_ReturnCode nnrti_fail(nnrt_resolve *c, NNRT_ReturnCode code, const char *format, ...)
{
    va_list args;
    nnrti_out o;
    nnrt_error *e = c->error;
    if (!nnrti_error_take(e, code, c->node))
        return code;
    nnrti_error_out(e, &o);
    for (int brief = 0; brief < 2 && o.length >= o.size; brief++) {
        o.length = 0;
        nnrti_puts(&o, "node ");
        if (c->node >= 0) {
            nnrti_put_i64(&o, c->node);
            nnrti_put(&o, ' ');
        }
        nnrti_put(&o, '\'');
        if (brief != 0 && c->nodeName != NULL)
            nnrti_put_brief(&o, c->nodeName);
        else
            nnrti_puts(&o, c->nodeName != NULL ? c->nodeName : "");
        nnrti_puts(&o, "' (");
        nnrti_puts(&o, c->op->name);
        nnrti_puts(&o, "): ");
        va_start(args, format);
        nnrti_vformat(&o, format, &args, brief != 0);
        va_end(args);
    }
    nnrti_end(&o);
    return code;
}

/* Without messages the calls stay, for what they check of their arguments, but nothing of them is compiled. The code of
   a fault in a node is recorded by a function without a result, so that what the caller returns stays a known number:
   most of these calls stand in functions that are inlined where their result is compared with NNRT_SUCCESS. */
#ifdef NNRT_NO_MESSAGES
static NNRT_ReturnCode nnrti_error_code(nnrt_error *error, NNRT_ReturnCode code)
{
    (void)nnrti_error_take(error, code, -1);
    return code;
}

static void nnrti_fail_record(const nnrt_resolve *c, NNRT_ReturnCode code)
{
    (void)nnrti_error_take(c->error, code, c->node);
}

static NNRT_ReturnCode nnrti_fail_code(const nnrt_resolve *c, NNRT_ReturnCode code)
{
    nnrti_fail_record(c, code);
    return code;
}
#define nnrt_error_set(error, code, ...)                                                                               \
    ((void)(0 && nnrt_error_set(error, code, __VA_ARGS__)), nnrti_error_code(error, code))
#define nnrti_fail(c, code, ...) ((void)(0 && nnrti_fail(c, code, __VA_ARGS__)), nnrti_fail_code(c, code))
#define nnrt_call_fail(call, code, ...) ((void)(0 && nnrt_call_fail(call, code, __VA_ARGS__)), code)
#endif

NNRT_API void nnrt_attr_defaults(const nnrt_attr_struct *s, void *attr)
{
    memcpy(attr, s->initial, s->bytes);
}

/* A list of any kind: their structs are alike. */
typedef struct nnrti_any_list {
    const void *data;
    uint32_t count;
} nnrti_any_list;

static nnrti_any_list nnrti_list_at(const void *at)
{
    nnrti_any_list list;
    memcpy(&list.data, at, sizeof(list.data));
    memcpy(&list.count, (const uint8_t *)at + offsetof(nnrti_any_list, count), sizeof(list.count));
    return list;
}

/* The value of a TYPE member. */
static int64_t nnrti_type_at(const nnrt_attr_member *m, const void *at)
{
    return m->bytes == sizeof(int64_t) ? *(const int64_t *)at : *(const int32_t *)at;
}

/* The text of a STRING member, "" for NULL. */
static const char *nnrti_text_at(const void *at)
{
    const char *text = *(const char *const *)at;
    return text != NULL ? text : "";
}

/* Lists of entries that are compared byte by byte. */
static bool nnrti_list_equal(nnrti_any_list a, nnrti_any_list b, size_t width)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.data, b.data, a.count * width) == 0);
}

static bool nnrti_lists_equal(const NNRT_Int64Lists *a, const NNRT_Int64Lists *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t k = 0; k < a->count; k++)
        if (!nnrti_list_equal(nnrti_list_at(&a->data[k]), nnrti_list_at(&b->data[k]), sizeof(int64_t)))
            return false;
    return true;
}

static bool nnrti_member_equal(const nnrt_attr_member *m, const void *a, const void *b)
{
    switch (m->kind) {
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64: return nnrti_list_equal(nnrti_list_at(a), nnrti_list_at(b), sizeof(int64_t));
    case NNRT_ATTR_KIND_FLOATS: return nnrti_list_equal(nnrti_list_at(a), nnrti_list_at(b), sizeof(float));
    case NNRT_ATTR_KIND_INTS2: return nnrti_lists_equal((const NNRT_Int64Lists *)a, (const NNRT_Int64Lists *)b);
    case NNRT_ATTR_KIND_STRING: return strcmp(nnrti_text_at(a), nnrti_text_at(b)) == 0;
    default: return memcmp(a, b, m->bytes) == 0;
    }
}

NNRT_API bool nnrt_attr_equal(const nnrt_attr_struct *s, const void *a, const void *b)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!nnrti_member_equal(&s->members[i], (const uint8_t *)a + s->members[i].offset,
                                (const uint8_t *)b + s->members[i].offset))
            return false;
    return true;
}

static void nnrti_put_ints(nnrti_out *o, const NNRT_Int64List *list)
{
    nnrti_put(o, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i > 0)
            nnrti_put(o, ',');
        nnrti_put_i64(o, list->data[i]);
    }
    nnrti_put(o, ']');
}

static void nnrti_put_floats(nnrti_out *o, const NNRT_FloatList *list)
{
    nnrti_put(o, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i > 0)
            nnrti_put(o, ',');
        nnrti_put_float(o, (double)list->data[i]);
    }
    nnrti_put(o, ']');
}

static void nnrti_put_lists(nnrti_out *o, const NNRT_Int64Lists *lists)
{
    nnrti_put(o, '[');
    for (uint32_t k = 0; k < lists->count; k++) {
        if (k > 0)
            nnrti_put(o, ',');
        nnrti_put_ints(o, &lists->data[k]);
    }
    nnrti_put(o, ']');
}

/* An enumerator or element type by its name, or by its number where it has none. */
static void nnrti_put_enum(nnrti_out *o, const nnrt_attr_member *m, int64_t value)
{
    for (uint32_t k = 0; k < m->valueCount; k++)
        if (m->values[k].value == value) {
            nnrti_puts(o, m->values[k].name);
            return;
        }
    if (m->kind == NNRT_ATTR_KIND_TYPE && value >= 0 && value < NNRTI_DATA_TYPE_END &&
        (value == NNRT_DATA_TYPE_UNKNOWN || nnrt_type_size((NNRT_DataType)value) > 0))
        nnrti_puts(o, nnrt_type_name((NNRT_DataType)value));
    else
        nnrti_put_i64(o, value);
}

static void nnrti_put_member(nnrti_out *o, const nnrt_attr_member *m, const void *at)
{
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL: nnrti_puts(o, *(const bool *)at ? "true" : "false"); break;
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_INT64: nnrti_put_i64(o, *(const int64_t *)at); break;
    case NNRT_ATTR_KIND_FLOAT: nnrti_put_float(o, (double)*(const float *)at); break;
    case NNRT_ATTR_KIND_DOUBLE: nnrti_put_float(o, *(const double *)at); break;
    case NNRT_ATTR_KIND_TYPE: nnrti_put_enum(o, m, nnrti_type_at(m, at)); break;
    case NNRT_ATTR_KIND_STRING:
        nnrti_put(o, '\'');
        nnrti_puts(o, nnrti_text_at(at));
        nnrti_put(o, '\'');
        break;
    case NNRT_ATTR_KIND_GRAPH:
        if (*(const uint32_t *)at == NNRT_NO_GRAPH)
            nnrti_puts(o, "none");
        else
            nnrti_put_u64(o, *(const uint32_t *)at);
        break;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64: nnrti_put_ints(o, (const NNRT_Int64List *)at); break;
    case NNRT_ATTR_KIND_INTS2: nnrti_put_lists(o, (const NNRT_Int64Lists *)at); break;
    case NNRT_ATTR_KIND_FLOATS: nnrti_put_floats(o, (const NNRT_FloatList *)at); break;
    default: nnrti_put_enum(o, m, *(const int32_t *)at); break;
    }
}

NNRT_API size_t nnrt_attr_print(const nnrt_attr_struct *s, const void *attr, char *out, size_t size)
{
    nnrti_out o;
    o.data = out;
    o.size = out != NULL ? size : 0;
    o.length = 0;
    for (uint32_t i = 0; s != NULL && attr != NULL && i < s->count; i++) {
        if (i > 0)
            nnrti_put(&o, ' ');
        nnrti_puts(&o, s->members[i].name);
        nnrti_put(&o, '=');
        nnrti_put_member(&o, &s->members[i], (const uint8_t *)attr + s->members[i].offset);
    }
    return nnrti_end(&o);
}

/* A copy of count entries, NULL where there are none; *good = false: no memory. */
static const void *nnrti_array_copy(const void *data, size_t count, size_t width,
                                    void *(*alloc)(void *user, size_t bytes), void *user, bool *good)
{
    void *copy = NULL;
    size_t bytes;
    if (count == 0 || data == NULL)
        return NULL;
    if (nnrt_mul_size(count, width, &bytes))
        copy = alloc(user, bytes);
    *good = copy != NULL;
    if (copy != NULL)
        memcpy(copy, data, bytes);
    return copy;
}

static bool nnrti_lists_copy(NNRT_Int64Lists *lists, void *(*alloc)(void *user, size_t bytes), void *user)
{
    bool good = true;
    NNRT_Int64List *each =
        (NNRT_Int64List *)(uintptr_t)nnrti_array_copy(lists->data, lists->count, sizeof(*each), alloc, user, &good);
    lists->data = each;
    for (uint32_t k = 0; each != NULL && k < lists->count && good; k++)
        each[k].data =
            (const int64_t *)nnrti_array_copy(each[k].data, each[k].count, sizeof(int64_t), alloc, user, &good);
    return good;
}

/* Gives the struct at attr, whose lists and texts lie elsewhere, some of its own. */
static bool nnrti_attr_own(const nnrt_attr_struct *s, void *attr, void *(*alloc)(void *user, size_t bytes), void *user)
{
    bool good = true;
    for (uint32_t i = 0; i < s->count && good; i++) {
        const nnrt_attr_kind kind = s->members[i].kind;
        void *at = (uint8_t *)attr + s->members[i].offset;
        if (kind == NNRT_ATTR_KIND_INTS || (NNRTI_HAS(INTS64) && kind == NNRT_ATTR_KIND_INTS64)) {
            NNRT_Int64List *list = (NNRT_Int64List *)at;
            list->data =
                (const int64_t *)nnrti_array_copy(list->data, list->count, sizeof(int64_t), alloc, user, &good);
        } else if (NNRTI_HAS(INTS2) && kind == NNRT_ATTR_KIND_INTS2) {
            good = nnrti_lists_copy((NNRT_Int64Lists *)at, alloc, user);
        } else if (NNRTI_HAS(FLOATS) && kind == NNRT_ATTR_KIND_FLOATS) {
            NNRT_FloatList *list = (NNRT_FloatList *)at;
            list->data = (const float *)nnrti_array_copy(list->data, list->count, sizeof(float), alloc, user, &good);
        } else if (NNRTI_HAS(STRING) && kind == NNRT_ATTR_KIND_STRING) {
            const char **text = (const char **)at;
            if (*text != NULL)
                *text = (const char *)nnrti_array_copy(*text, strlen(*text) + 1, 1, alloc, user, &good);
        }
    }
    return good;
}

NNRT_API void *nnrt_attr_copy(const nnrt_attr_struct *s, const void *attr, void *(*alloc)(void *user, size_t bytes),
                              void *user)
{
    void *copy = alloc(user, s->bytes);
    if (copy == NULL)
        return NULL;
    memcpy(copy, attr, s->bytes);
    return nnrti_attr_own(s, copy, alloc, user) ? copy : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>engine */

/* One operand of a row's text: name, ? or *, type. */
typedef struct nnrti_sig {
    const char *name;
    int32_t nameLength;
    bool optional, repeated;
    char code; /* 0, '=', 'i', 'f', 'n', 'b', 'q', 's', '.' */
    int32_t same;
} nnrti_sig;

/* Reads the operand at *at and moves *at behind it; false at the end. */
static bool nnrti_sig_next(const char **at, nnrti_sig *s)
{
    const char *p = *at;
    memset(s, 0, sizeof(*s));
    while (*p == ' ')
        p++;
    if (*p == '\0')
        return false;
    s->name = p;
    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))
        p++;
    s->nameLength = (int32_t)(p - s->name);
    for (; *p == '?' || *p == '*'; p++) {
        s->optional = s->optional || *p == '?';
        s->repeated = s->repeated || *p == '*';
    }
    if (*p == '=') {
        s->code = '=';
        s->same = p[1] - '0';
        p += 2;
    } else if (*p == ':') {
        s->code = p[1];
        p += 2;
    }
    *at = p;
    return true;
}

static void nnrti_sig_count(const char *text, uint32_t *least, uint32_t *most)
{
    nnrti_sig s;
    *least = 0;
    *most = 0;
    while (nnrti_sig_next(&text, &s)) {
        if (s.repeated) {
            *most = UINT32_MAX;
            *least += s.optional ? 0 : 1;
            return;
        }
        *most += 1;
        if (!s.optional)
            *least = *most;
    }
}

NNRT_API nnrt_op_arity nnrt_op_operands(const nnrt_op *op)
{
    nnrt_op_arity a;
    nnrti_sig_count(op->inputs, &a.minIn, &a.maxIn);
    nnrti_sig_count(op->outputs, &a.minOut, &a.maxOut);
    return a;
}

NNRT_API uint32_t nnrt_operand_types(const nnrt_operand *o)
{
    uint32_t types;
    if (nnrt_type_size(o->dataType) == 0)
        return 0;
    types = NNRT_TYPES_OF(o->dataType);
    return nnrti_is_quant(o) ? NNRT_TYPES_QUANT(types) : types;
}

NNRT_API uint32_t nnrt_op_types(const nnrt_op *op)
{
    uint32_t types = 0;
    for (uint32_t i = 0; i < op->kernelCount; i++)
        types |= op->kernels[i].types;
    return types;
}

static bool nnrti_type_in(NNRT_DataType type, uint32_t types)
{
    return nnrt_type_size(type) != 0 && (types & NNRT_TYPES_OF(type)) != 0;
}

static uint32_t nnrti_sig_types(const nnrti_sig *s)
{
    switch (s->code) {
    case 'i': return NNRT_TYPES_INDEX;
    case 'f': return NNRT_TYPES_FLOAT;
    case 'n': return NNRT_TYPES_NUM;
    case 'b': return NNRT_TYPES_BOOL;
    case 'q': return NNRTI_TYPES_Q8;
    case '8': return NNRT_TYPES_I8 | NNRT_TYPES_U8;
    case 's': return NNRT_TYPES_I32 | NNRT_TYPES_QUANT(NNRT_TYPES_I32);
    default: return NNRT_TYPES_ALL;
    }
}

/* The name of operand i of a row, copied for a message. */
static const char *nnrti_sig_name(const char *text, uint32_t i, char *name, size_t size)
{
    nnrti_sig s;
    memset(&s, 0, sizeof(s));
    for (uint32_t k = 0; k <= i; k++)
        if (!nnrti_sig_next(&text, &s) || s.repeated)
            break;
    if (s.name == NULL || (size_t)s.nameLength >= size)
        return "";
    memcpy(name, s.name, (size_t)s.nameLength);
    name[s.nameLength] = '\0';
    return name;
}

static bool nnrti_absent(const nnrt_operand *o)
{
    return o->dataType == NNRT_DATA_TYPE_UNKNOWN;
}

static NNRT_ReturnCode nnrti_check_arity(nnrt_resolve *c, const nnrt_op_arity *arity)
{
    const nnrt_op_arity a = *arity;
    if (c->nIn < a.minIn || c->nIn > a.maxIn)
        return nnrti_fail(c, NNRT_INVALID_INPUT, "has %u inputs, expected %u%s (%s)", c->nIn, a.minIn,
                          a.maxIn == UINT32_MAX ? " or more"
                          : a.maxIn > a.minIn   ? " and optional ones"
                                                : "",
                          c->op->inputs);
    if (c->nOut < a.minOut || c->nOut > a.maxOut)
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "has %u outputs, expected %u%s (%s)", c->nOut, a.minOut,
                          a.maxOut == UINT32_MAX ? " or more"
                          : a.maxOut > a.minOut  ? " and optional ones"
                                                 : "",
                          c->op->outputs);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_check_missing(nnrt_resolve *c)
{
    const char *text = c->op->inputs;
    char name[32];
    nnrti_sig s;
    memset(&s, 0, sizeof(s));
    for (uint32_t i = 0; i < c->nIn; i++) {
        if (!s.repeated)
            (void)nnrti_sig_next(&text, &s);
        if (!s.optional && nnrti_absent(&c->in[i]))
            return nnrti_fail(c, NNRT_NULL_PTR, "input %u (%s) is missing", i,
                              nnrti_sig_name(c->op->inputs, i, name, sizeof(name)));
    }
    return NNRT_SUCCESS;
}

/* The first input whose type is not the one that row k wants, nIn when all are; *s = its operand of the row, *types =
   what it may have. =0 asks for the type of input 0, and may be quantised or not as the row's types allow. */
static uint32_t nnrti_misfit(const nnrt_resolve *c, const nnrt_kernel_row *k, nnrti_sig *s, uint32_t *types)
{
    const char *text = k->operands != NULL ? k->operands : c->op->inputs;
    uint32_t i;
    memset(s, 0, sizeof(*s));
    for (i = 0; i < c->nIn; i++) {
        const nnrt_operand *o = &c->in[i];
        if (!s->repeated)
            (void)nnrti_sig_next(&text, s);
        if (i == 0 || nnrti_absent(o))
            continue;
        *types = s->code == '=' && s->same == 0 ? k->types : nnrti_sig_types(s);
        if ((nnrt_operand_types(o) & *types) == 0 || (s->code == '=' && o->dataType != c->in[s->same].dataType))
            break;
    }
    return i;
}

/* The kernel: the first row that takes the types of all inputs. Where none does, the fault is the one that the first row
   for the type of input 0 finds. */
static NNRT_ReturnCode nnrti_choose_kernel(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    uint32_t types = c->nIn > 0 && !nnrti_absent(x) ? nnrt_operand_types(x) : NNRT_TYPES_ALL, wanted, i;
    const nnrt_kernel_row *first = NULL;
    const char *text;
    char name[32];
    nnrti_sig s;
    for (i = 0; i < c->op->kernelCount; i++) {
        const nnrt_kernel_row *k = &c->op->kernels[i];
        if ((k->types & types) == 0)
            continue;
        if (first == NULL)
            first = k;
        if (nnrti_misfit(c, k, &s, &wanted) == c->nIn) {
            c->kernel = k->call;
            c->kernelName = k->name;
            return NNRT_SUCCESS;
        }
    }
    if (first == NULL && nnrti_is_quant(x) && (nnrt_op_types(c->op) & NNRT_TYPES_QUANT(NNRT_TYPES_INT)) == 0)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                          "input 0 (%s) '%s' is %o: this operator has no quantised kernel, use QUANT_DTYPE_CAST nodes",
                          nnrti_sig_name(c->op->inputs, 0, name, sizeof(name)), x->name, x);
    if (first == NULL)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input 0 (%s) '%s' is %o, expected one of %m",
                          nnrti_sig_name(c->op->inputs, 0, name, sizeof(name)), x->name, x, nnrt_op_types(c->op));
    i = nnrti_misfit(c, first, &s, &wanted);
    x = &c->in[i];
    text = first->operands != NULL ? first->operands : c->op->inputs;
    if (s.code != '=')
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input %u (%s) '%s' is %o, expected one of %m", i,
                          nnrti_sig_name(text, i, name, sizeof(name)), x->name, x, wanted);
    return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input %u (%s) '%s' is %o, expected the type of input %d: %o", i,
                      nnrti_sig_name(text, i, name, sizeof(name)), x->name, x, s.same, &c->in[s.same]);
}

/* Sets the element types that the row gives the results; the others keep what the model declares, for the rule to
   use. */
static NNRT_ReturnCode nnrti_check_outputs(nnrt_resolve *c)
{
    const char *text = c->op->outputs;
    nnrti_sig s;
    memset(&s, 0, sizeof(s));
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrt_operand *o = &c->out[i];
        NNRT_DataType want;
        if (!s.repeated)
            (void)nnrti_sig_next(&text, &s);
        want = s.code == '=' ? c->in[s.same].dataType : s.code == 'b' ? NNRT_DATA_TYPE_BOOL : o->dataType;
        if (o->dataType != NNRT_DATA_TYPE_UNKNOWN && o->dataType != want)
            return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output %u '%s' is declared %t, but is %t", i, o->name,
                              o->dataType, want);
        o->dataType = want;
        o->rank = -1;
        o->viewRank = -1;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_check_format(nnrt_resolve *c)
{
    for (uint32_t i = 0; i < c->nIn; i++)
        if (c->in[i].format < NNRT_FORMAT_NONE || c->in[i].format > NNRT_FORMAT_NHWC)
            return nnrti_fail(c, NNRT_INVALID_FORMAT, "input %u '%s' has format %d, expected NONE, NCHW or NHWC", i,
                              c->in[i].name, c->in[i].format);
    return NNRT_SUCCESS;
}

/* Bytes of an operand, the most where extents are open; false: more than a size_t. */
static bool nnrti_operand_size(const nnrt_operand *o, size_t *bytes)
{
#ifndef NNRT_FIRMWARE
    size_t dims;
    if (o->most != 0) /* dims may say less, where they are fixed */
        return nnrt_mul_size(nnrt_dims_count(o->dims, o->rank, &dims) && dims < o->most ? dims : o->most,
                             nnrt_type_size(o->dataType), bytes);
#endif
    return nnrt_dims_bytes(o->dims, o->rank, o->dataType, bytes);
}

static NNRT_ReturnCode nnrti_check_shapes(nnrt_resolve *c)
{
    for (uint32_t i = 0; i < c->nIn; i++) {
        const nnrt_operand *o = &c->in[i];
        size_t bytes;
        if (nnrti_absent(o))
            continue;
        if (o->rank < 0 || o->rank > NNRT_MAX_RANK)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' has rank %d, expected 0 to %d", i, o->name, o->rank,
                              NNRT_MAX_RANK);
        for (int32_t k = 0; k < o->rank; k++)
            if (o->dims[k] < 0)
                return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o: axis %d has no extent", i, o->name, o,
                                  k);
            else if (o->dims[k] == 0 && !(c->op->flags & NNRT_OP_EMPTY))
                return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o: this operator takes no empty tensor", i,
                                  o->name, o);
        if (!nnrti_operand_size(o, &bytes))
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input %u '%s' is %o: its size does not fit", i, o->name, o);
    }
    return NNRT_SUCCESS;
}

/* Integers of a member that lie outside int32, which no operator takes. */
static NNRT_ReturnCode nnrti_check_ints(nnrt_resolve *c, const nnrt_attr_member *m, const int64_t *values,
                                        uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (values[k] < INT32_MIN || values[k] > INT32_MAX)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is %l, which lies outside int32", m->name, values[k]);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_check_lists_of(nnrt_resolve *c, const nnrt_attr_member *m, const NNRT_Int64Lists *lists)
{
    if (lists->count > 0 && lists->data == NULL)
        return nnrti_fail(c, NNRT_NULL_PTR, "%s counts %u lists, but has no data", m->name, lists->count);
    for (uint32_t k = 0; k < lists->count; k++)
        for (uint32_t n = 0; n < lists->data[k].count; n++)
            if (lists->data[k].data == NULL || lists->data[k].data[n] < INT32_MIN || lists->data[k].data[n] > INT32_MAX)
                return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u][%u] lies outside int32", m->name, k, n);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_check_enum(nnrt_resolve *c, const nnrt_attr_member *m, int32_t value)
{
    for (uint32_t k = 0; k < m->valueCount; k++)
        if (m->values[k].value == value)
            return NNRT_SUCCESS;
    return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is %d, which no enumerator has (%s=%d ... %s=%d)", m->name, value,
                      m->values[0].name, m->values[0].value, m->values[m->valueCount - 1].name,
                      m->values[m->valueCount - 1].value);
}

/* A value that no operator takes: an enumerator or element type that does not exist, an integer beyond int32, the main
   graph; a list that counts entries, but has none. */
static NNRT_ReturnCode nnrti_check_member(nnrt_resolve *c, const nnrt_attr_member *m, const void *at)
{
    const nnrt_attr_kind kind = m->kind;
    if (kind == NNRT_ATTR_KIND_INT)
        return nnrti_check_ints(c, m, (const int64_t *)at, 1);
    if (kind == NNRT_ATTR_KIND_ENUM)
        return nnrti_check_enum(c, m, *(const int32_t *)at);
    if (NNRTI_HAS(INTS2) && kind == NNRT_ATTR_KIND_INTS2)
        return nnrti_check_lists_of(c, m, (const NNRT_Int64Lists *)at);
    if (NNRTI_HAS(TYPE) && kind == NNRT_ATTR_KIND_TYPE) {
        const int64_t type = nnrti_type_at(m, at);
        if (type != NNRT_DATA_TYPE_UNKNOWN &&
            (type < 0 || type >= NNRTI_DATA_TYPE_END || nnrt_type_size((NNRT_DataType)type) == 0))
            return nnrti_fail(c, NNRT_INVALID_DATATYPE, "%s is %l, which is no element type", m->name, type);
    }
    if (NNRTI_HAS(GRAPH) && kind == NNRT_ATTR_KIND_GRAPH && *(const uint32_t *)at == 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is 0, the main graph: expected the index of another subgraph",
                          m->name);
    if (kind == NNRT_ATTR_KIND_INTS || (NNRTI_HAS(INTS64) && kind == NNRT_ATTR_KIND_INTS64) ||
        (NNRTI_HAS(FLOATS) && kind == NNRT_ATTR_KIND_FLOATS)) {
        const nnrti_any_list list = nnrti_list_at(at);
        if (list.count > 0 && list.data == NULL)
            return nnrti_fail(c, NNRT_NULL_PTR, "%s counts %u entries, but has no data", m->name, list.count);
        if (kind == NNRT_ATTR_KIND_INTS)
            return nnrti_check_ints(c, m, (const int64_t *)list.data, list.count);
    }
    return NNRT_SUCCESS;
}

/* resolved = the given block, completed with defaults and with lists of its own. No block is one of no bytes. */
static NNRT_ReturnCode nnrti_take_attr(nnrt_resolve *c)
{
    const nnrt_attr_struct *s = c->op->attr;
    const uint32_t bytes = c->attr != NULL ? c->attrBytes : 0;
    c->resolved = c->alloc(c->user, s->bytes);
    if (c->resolved == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its attributes (%u bytes)", s->bytes);
    nnrt_attr_defaults(s, c->resolved);
    for (uint32_t i = 0; i < s->count; i++) {
        const nnrt_attr_member *m = &s->members[i];
        uint8_t *at = (uint8_t *)c->resolved + m->offset;
        const uint8_t *from;
        NNRT_ReturnCode code;
        if (m->offset + m->bytes > bytes)
            continue;
        from = (const uint8_t *)c->attr + m->offset;
        if (!NNRTI_HAS(STRING) || m->kind != NNRT_ATTR_KIND_STRING || *nnrti_text_at(from) != '\0')
            memcpy(at, from, m->bytes);
        if ((code = nnrti_check_member(c, m, at)) != NNRT_SUCCESS)
            return code;
    }
    if (!nnrti_attr_own(s, c->resolved, c->alloc, c->user))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its attributes");
    return NNRT_SUCCESS;
}

static const char *nnrti_format_name(NNRT_Format format)
{
    return format == NNRT_FORMAT_NCHW ? "NCHW" : format == NNRT_FORMAT_NHWC ? "NHWC" : "NONE";
}

/* Result k has the format that the inputs of as many axes have. NONE goes with both; NCHW and NHWC do not meet. */
static NNRT_ReturnCode nnrti_follow(nnrt_resolve *c, uint32_t k)
{
    nnrt_operand *y = &c->out[k];
    const nnrt_operand *first = NULL;
    for (uint32_t i = 0; i < c->nIn && y->rank > 2; i++) {
        const nnrt_operand *x = &c->in[i];
        if (nnrti_absent(x) || x->rank != y->rank || x->format == NNRT_FORMAT_NONE)
            continue;
        if (first != NULL && first->format != x->format)
            return nnrti_fail(c, NNRT_INVALID_FORMAT, "input '%s' is %s, but input '%s' is %s: transpose one of them",
                              first->name, nnrti_format_name(first->format), x->name, nnrti_format_name(x->format));
        first = x;
    }
    if (first == NULL)
        return NNRT_SUCCESS;
    if (y->format != NNRT_FORMAT_NONE && y->format != first->format)
        return nnrti_fail(c, NNRT_INVALID_FORMAT, "output %u '%s' is declared %s, but input '%s' is %s", k, y->name,
                          nnrti_format_name(y->format), first->name, nnrti_format_name(first->format));
    y->format = first->format;
    return NNRT_SUCCESS;
}

/* What is computed from open extents has a symbol of its own: NEW is replaced by one. The numbers beside symbols are the
   largest that there can be, when a model is planned; where that does not follow, the symbol has a bit that says so,
   unless the rule has a bound of its own (BOUNDED). */
#define NNRTI_SYMBOL_NEW UINT32_MAX
#define NNRTI_SYMBOL_BOUNDED (UINT32_MAX - 1)
#define NNRTI_UNBOUNDED 0x80000000u

#ifdef NNRT_FIRMWARE
#define nnrti_find_open(c) ((void)0)
#define nnrti_new_symbols(c, o) ((void)0)
#else
/* Bits of the symbols of a known value's elements, one with another: 0 where none is open. */
static uint32_t nnrti_value_symbols(const nnrt_operand *o)
{
    uint32_t bits = 0;
    size_t n = 0;
    (void)nnrt_dims_count(o->dims, o->rank, &n);
    for (size_t i = 0; o->open != NULL && i < n; i++)
        bits |= o->open[i];
    return bits;
}

/* Whether an element of a known value is open. */
static bool nnrti_value_open(const nnrt_operand *o)
{
    return nnrti_value_symbols(o) != 0;
}

static void nnrti_find_open(nnrt_resolve *c)
{
    c->open = c->late = c->unbounded = false;
    for (uint32_t i = 0; i < c->nIn && c->symbolCount != NULL; i++) {
        const uint32_t bits = c->in[i].data != NULL ? nnrti_value_symbols(&c->in[i]) : 0;
        for (int32_t k = 0; k < c->in[i].rank; k++)
            c->open = c->open || c->in[i].symbols[k] != 0;
        c->open = c->open || bits != 0;
        c->unbounded = c->unbounded || (bits & NNRTI_UNBOUNDED) != 0;
    }
}

/* Gives symbols to what was computed. A result that has the extents of an input has as many elements. */
static void nnrti_new_symbols(nnrt_resolve *c, nnrt_operand *o)
{
    for (int32_t k = 0; k < o->rank && c->symbolCount != NULL; k++)
        if (o->symbols[k] == NNRTI_SYMBOL_NEW)
            o->symbols[k] = ++*c->symbolCount | (c->unbounded ? NNRTI_UNBOUNDED : 0);
        else if (o->symbols[k] == NNRTI_SYMBOL_BOUNDED)
            o->symbols[k] = ++*c->symbolCount;
    for (uint32_t i = 0; i < c->nIn && c->open && o->most == 0; i++) {
        const nnrt_operand *x = &c->in[i];
        if (x->most != 0 && x->rank == o->rank && memcmp(x->dims, o->dims, (size_t)o->rank * sizeof(o->dims[0])) == 0 &&
            memcmp(x->symbols, o->symbols, (size_t)o->rank * sizeof(o->symbols[0])) == 0)
            o->most = x->most;
    }
}
#endif

static NNRT_ReturnCode nnrti_finish_outputs(nnrt_resolve *c)
{
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrt_operand *o = &c->out[i];
        size_t bytes;
        if (o->rank > NNRT_MAX_RANK)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "output %u '%s' would have %d axes, at most %d are possible", i,
                              o->name, o->rank, NNRT_MAX_RANK);
        nnrti_new_symbols(c, o);
        if (!nnrti_operand_size(o, &bytes))
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "output %u '%s' would be %o: its size does not fit", i, o->name,
                              o);
        if (c->op->flags & NNRT_OP_LAYOUT) {
            bool channelsFirst = c->in[0].format == NNRT_FORMAT_NCHW;
            if (o->format != NNRT_FORMAT_NONE && (o->format == NNRT_FORMAT_NCHW) != channelsFirst)
                return nnrti_fail(c, NNRT_INVALID_FORMAT, "output %u '%s' is declared %s, but input 0 is %s", i,
                                  o->name, nnrti_format_name(o->format), nnrti_format_name(c->in[0].format));
            o->format = c->in[0].format;
        } else if (c->op->flags & NNRT_OP_FOLLOW) {
            const NNRT_ReturnCode code = nnrti_follow(c, i);
            if (code != NNRT_SUCCESS)
                return code;
        }
    }
    return NNRT_SUCCESS;
}

/* Operands that a kernel gets for a node with n inputs (outputs): optional ones that the node leaves out take their
   place. */
static uint32_t nnrti_padded(uint32_t n, uint32_t most)
{
    return most == UINT32_MAX || most < n ? n : most;
}

/* What can be said of a node without shapes: the kernel, and the types of the results that the row gives. */
static NNRT_ReturnCode nnrti_resolve_types(nnrt_resolve *c)
{
    const nnrt_op_arity a = nnrt_op_operands(c->op);
    NNRT_ReturnCode code;
    c->resolved = NULL;
    c->kernel = NULL;
    c->nDerived = 0;
    c->scratch = 0;
    if ((code = nnrti_check_arity(c, &a)) != NNRT_SUCCESS || (code = nnrti_check_missing(c)) != NNRT_SUCCESS)
        return code;
    c->kernelIn = nnrti_padded(c->nIn, a.maxIn);
    c->kernelOut = nnrti_padded(c->nOut, a.maxOut);
    if ((code = nnrti_choose_kernel(c)) != NNRT_SUCCESS)
        return code;
    return nnrti_check_outputs(c);
}

NNRT_API NNRT_ReturnCode nnrt_resolve_node(nnrt_resolve *c)
{
    NNRT_ReturnCode code;
    if ((code = nnrti_resolve_types(c)) != NNRT_SUCCESS || (code = nnrti_check_format(c)) != NNRT_SUCCESS ||
        (code = nnrti_check_shapes(c)) != NNRT_SUCCESS || (code = nnrti_take_attr(c)) != NNRT_SUCCESS)
        return code;
    nnrti_find_open(c);
    if ((code = c->op->rule(c)) != NNRT_SUCCESS)
        return code;
    return nnrti_finish_outputs(c);
}

NNRT_API void nnrt_parallel_for(const nnrt_call *call, uint32_t count,
                                void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    const nnrt_parallel *p = call != NULL ? call->parallel : NULL;
    if (p != NULL && p->workers > 1 && count > 1) {
        p->run(p->user, count, task, arg);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(arg, i, 0);
}

NNRT_API nnrt_operand nnrt_operand_make(NNRT_DataType type, int32_t rank, const int32_t *dims, const void *data)
{
    nnrt_operand o;
    memset(&o, 0, sizeof(o));
    o.dataType = type;
    o.format = NNRT_FORMAT_NONE;
    o.rank = rank;
    o.viewRank = -1;
    o.data = data;
    for (int32_t i = 0; i < rank && i < NNRT_MAX_RANK; i++)
        o.dims[i] = dims[i];
    return o;
}

/* Elements lie densely in the order of the dims; where there are none all steps are 0, so that no kernel computes an
   address behind a tensor that has no memory. Under LAYOUT an NCHW image gets its channel axis moved to the end of the
   view: the kernel sees [N,H,W,C] with other strides. */
NNRT_API void nnrt_operand_view(const nnrt_op *op, const nnrt_operand *o, int32_t index, nnrt_view *view)
{
    const int32_t *dims = o->viewRank >= 0 ? o->viewDims : o->dims;
    ptrdiff_t step = 1;
    memset(view, 0, sizeof(*view));
    view->dataType = o->dataType;
    view->rank = o->viewRank >= 0 ? o->viewRank : o->rank;
    view->quant = o->quant;
    view->quantCount = o->quantCount;
    for (int32_t i = 0; i < view->rank; i++)
        step = dims[i] > 0 ? step : 0;
    for (int32_t i = view->rank - 1; i >= 0; i--) {
        view->dims[i] = dims[i];
        view->strides[i] = step;
        step = (ptrdiff_t)((size_t)step * (size_t)dims[i]); /* of the largest open extents it may not fit, nor matter */
    }
    if (op != NULL && (op->flags & NNRT_OP_LAYOUT) && o->format == NNRT_FORMAT_NCHW && index <= 0 && view->rank > 2) {
        int32_t channels = view->dims[1];
        ptrdiff_t stride = view->strides[1];
        for (int32_t i = 1; i < view->rank - 1; i++) {
            view->dims[i] = view->dims[i + 1];
            view->strides[i] = view->strides[i + 1];
        }
        view->dims[view->rank - 1] = channels;
        view->strides[view->rank - 1] = stride;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>math */
/* Small math functions of the reference kernels. They give the same bits on every platform, compiler and optimisation
 * level: they use integer operations, IEEE + - * / and the square root, which IEEE defines exactly, and nothing else
 * of the C library but memcpy. Float functions compute in float only (powf is the exception), so that a processor
 * with single precision hardware runs them at full speed.
 * - Errors are in units in the last place (ulp) of the exact result, the largest one found. "all floats" means that
 *   every one of the 2^32 arguments was compared with a double precision function.
 * - Every NaN result is the one quiet NaN 0x7fc00000 (double: 0x7ff8000000000000), because processors differ in the
 *   sign and payload of the NaN they make and compilers do not keep those of one that passes through (LLVM turns c ?
 *   t + s : t into t + (c ? s : -0)). Only the conversions from and to half keep sign and payload.
 * - Subnormal arguments and results are exact to the bound stated. A processor set to flush them to zero breaks that.
 * - The evaluation type must be the operand type (FLT_EVAL_METHOD 0): 32-bit x86 needs -msse2 -mfpmath=sse. */

/* A few bytes copied without a call, also where -ffreestanding makes memcpy a function like any other. */
#if defined(__GNUC__) || defined(__clang__)
#define NNRTI_MEMCPY __builtin_memcpy
#else
#define NNRTI_MEMCPY memcpy
#endif

/* The 32 bits of a float. */
NNRTI_UNUSED static uint32_t nnrti_bits_of_float(float x)
{
    uint32_t u;
    NNRTI_MEMCPY(&u, &x, sizeof u);
    return u;
}

/* The float that has these 32 bits. */
NNRTI_UNUSED static float nnrti_float_of_bits(uint32_t u)
{
    float x;
    NNRTI_MEMCPY(&x, &u, sizeof x);
    return x;
}

/* The 64 bits of a double. */
NNRTI_UNUSED static uint64_t nnrti_bits_of_double(double x)
{
    uint64_t u;
    NNRTI_MEMCPY(&u, &x, sizeof u);
    return u;
}

/* The double that has these 64 bits. */
NNRTI_UNUSED static double nnrti_double_of_bits(uint64_t u)
{
    double x;
    NNRTI_MEMCPY(&x, &u, sizeof x);
    return x;
}

/* 1 when x is a NaN, else 0. */
NNRTI_UNUSED static int nnrti_isnanf(float x)
{
    return x != x;
}

/* 1 when x is a NaN, else 0. */
NNRTI_UNUSED static int nnrti_isnan(double x)
{
    return x != x;
}

/* The NaN that the float functions return. */
NNRTI_UNUSED static float nnrti_nanf(void)
{
    return nnrti_float_of_bits(0x7fc00000u);
}

/* The NaN that the double functions return. */
NNRTI_UNUSED static double nnrti_nan(void)
{
    return nnrti_double_of_bits((uint64_t)0x7ff80000u << 32);
}

/* Plus infinity. */
NNRTI_UNUSED static float nnrti_inff(void)
{
    return nnrti_float_of_bits(0x7f800000u);
}

/* Plus infinity. */
NNRTI_UNUSED static double nnrti_inf(void)
{
    return nnrti_double_of_bits((uint64_t)0x7ff00000u << 32);
}

/* |x|; a NaN loses its sign. */
NNRTI_UNUSED static float nnrti_absf(float x)
{
    return nnrti_float_of_bits(nnrti_bits_of_float(x) & 0x7fffffffu);
}

/* |x|; a NaN loses its sign. */
NNRTI_UNUSED static double nnrti_abs(double x)
{
    return nnrti_double_of_bits(nnrti_bits_of_double(x) & ~((uint64_t)1 << 63));
}

/* The magnitude of x with the sign of s, also for zeros. */
NNRTI_UNUSED static float nnrti_copysignf(float x, float s)
{
    return nnrti_float_of_bits((nnrti_bits_of_float(x) & 0x7fffffffu) | (nnrti_bits_of_float(s) & 0x80000000u));
}

/* The magnitude of x with the sign of s, also for zeros. */
NNRTI_UNUSED static double nnrti_copysign(double x, double s)
{
    uint64_t sign = (uint64_t)1 << 63;
    return nnrti_double_of_bits((nnrti_bits_of_double(x) & ~sign) | (nnrti_bits_of_double(s) & sign));
}

/* Square root, correctly rounded; NaN for x < 0; sqrt(-0) = -0. The bits are compared, because LLVM shortens
 * x >= 0 ? sqrt(x) : NaN to the machine's square root and so to the machine's NaN. */
NNRTI_UNUSED static float nnrti_sqrtf(float x)
{
    uint32_t u = nnrti_bits_of_float(x);
    return u > 0x7f800000u && u != 0x80000000u ? nnrti_nanf() : sqrtf(x);
}

/* Square root, correctly rounded; NaN for x < 0; sqrt(-0) = -0. */
NNRTI_UNUSED static double nnrti_sqrt(double x)
{
    uint64_t u = nnrti_bits_of_double(x);
    return u > (uint64_t)0x7ff00000u << 32 && u != (uint64_t)1 << 63 ? nnrti_nan() : sqrt(x);
}

/* >>math rounding: every function here is exact and keeps the sign of zero (ceil(-0.5) = -0). */

/* x toward zero: clears the fraction bits. */
NNRTI_UNUSED static float nnrti_truncf(float x)
{
    uint32_t u = nnrti_bits_of_float(x), e = (u >> 23) & 0xffu;
    if (e >= 150u) {
        return u << 1 > 0xff000000u ? nnrti_nanf() : x;
    }
    return nnrti_float_of_bits(u & (e < 127u ? 0x80000000u : ~(0x7fffffu >> (e - 127u))));
}

/* Largest whole number <= x. */
NNRTI_UNUSED static float nnrti_floorf(float x)
{
    float t = nnrti_truncf(x);
    return t > x ? t - 1.0f : t;
}

/* Smallest whole number >= x. */
NNRTI_UNUSED static float nnrti_ceilf(float x)
{
    float t = nnrti_truncf(x);
    return t < x ? t + 1.0f : t;
}

/* Nearest whole number, halves away from zero. x - trunc(x) is exact. */
NNRTI_UNUSED static float nnrti_roundf(float x)
{
    float t = nnrti_truncf(x);
    return nnrti_absf(x - t) >= 0.5f ? t + nnrti_copysignf(1.0f, x) : t;
}

/* Nearest whole number, halves to the even one. */
NNRTI_UNUSED static float nnrti_roundevenf(float x)
{
    float t = nnrti_truncf(x), d = nnrti_absf(x - t);
    int odd = nnrti_truncf(t * 0.5f) * 2.0f != t;
    return d > 0.5f || (d == 0.5f && odd) ? t + nnrti_copysignf(1.0f, x) : t;
}

/* x toward zero: clears the fraction bits. */
NNRTI_UNUSED static double nnrti_trunc(double x)
{
    uint64_t u = nnrti_bits_of_double(x), sign = (uint64_t)1 << 63;
    uint32_t e = (uint32_t)(u >> 52) & 0x7ffu;
    if (e >= 1075u) {
        return u << 1 > (uint64_t)0xffe00000u << 32 ? nnrti_nan() : x;
    }
    return nnrti_double_of_bits(u & (e < 1023u ? sign : ~((((uint64_t)1 << 52) - 1u) >> (e - 1023u))));
}

/* Largest whole number <= x. */
NNRTI_UNUSED static double nnrti_floor(double x)
{
    double t = nnrti_trunc(x);
    return t > x ? t - 1.0 : t;
}

/* Smallest whole number >= x. */
NNRTI_UNUSED static double nnrti_ceil(double x)
{
    double t = nnrti_trunc(x);
    return t < x ? t + 1.0 : t;
}

/* Nearest whole number, halves away from zero. x - trunc(x) is exact. */
NNRTI_UNUSED static double nnrti_round(double x)
{
    double t = nnrti_trunc(x);
    return nnrti_abs(x - t) >= 0.5 ? t + nnrti_copysign(1.0, x) : t;
}

/* Nearest whole number, halves to the even one. */
NNRTI_UNUSED static double nnrti_roundeven(double x)
{
    double t = nnrti_trunc(x), d = nnrti_abs(x - t);
    int odd = nnrti_trunc(t * 0.5) * 2.0 != t;
    return d > 0.5 || (d == 0.5 && odd) ? t + nnrti_copysign(1.0, x) : t;
}

/* >>math remainder x - trunc(x / y) * y has the digits of x and y and is exact. */

/* The remainder of numbers without sign, given by their bits; x is finite, y not 0. A float has 23 digits, a double 52.
 * x is divided as on paper: what is left of it is shifted, digit by digit, to the place where y stands. */
NNRTI_UNUSED static uint64_t nnrti_fmod_bits(uint64_t x, uint64_t y, int32_t digits)
{
    const uint64_t one = (uint64_t)1 << digits;
    int32_t e = (int32_t)(x >> digits), least = (int32_t)(y >> digits);
    uint64_t m = e > 0 ? (x & (one - 1u)) | one : x, d = least > 0 ? (y & (one - 1u)) | one : y;
    e = e > 0 ? e : 1;
    least = least > 0 ? least : 1;
    if (x < y) {
        return x;
    }
    for (m %= d; e > least; e--) {
        m <<= 1;
        m -= m >= d ? d : 0u;
    }
    for (; m != 0u && m < one && e > 1; e--) {
        m <<= 1;
    }
    return m < one ? m : ((uint64_t)e << digits) + (m - one);
}

/* The remainder of x / y with the sign of x; NaN when x is infinite or y is 0. */
NNRTI_UNUSED static float nnrti_fmodf(float x, float y)
{
    uint32_t u = nnrti_bits_of_float(x) & 0x7fffffffu, v = nnrti_bits_of_float(y) & 0x7fffffffu;
    if (u >= 0x7f800000u || v > 0x7f800000u || v == 0u) {
        return nnrti_nanf();
    }
    return nnrti_copysignf(nnrti_float_of_bits((uint32_t)nnrti_fmod_bits(u, v, 23)), x);
}

/* The remainder of x / y with the sign of x; NaN when x is infinite or y is 0. */
NNRTI_UNUSED static double nnrti_fmod(double x, double y)
{
    const uint64_t inf = (uint64_t)0x7ff00000u << 32, sign = (uint64_t)1 << 63;
    uint64_t u = nnrti_bits_of_double(x) & ~sign, v = nnrti_bits_of_double(y) & ~sign;
    if (u >= inf || v > inf || v == 0u) {
        return nnrti_nan();
    }
    return nnrti_copysign(nnrti_double_of_bits(nnrti_fmod_bits(u, v, 52)), x);
}

/* >>math half: IEEE binary16, 1 sign, 5 exponent, 10 fraction bits. A NaN keeps its sign and the top of its payload and
 * becomes quiet, as the conversion instructions of x86 and ARM do. */

/* The value sig * 2^(e - 30) as a half without sign, nearest, ties to even. sig has bit 30 set; its bit 0 also stands
 * for all lower bits of the source. Below 2^-14 the result is subnormal: the shift grows as the exponent falls. */
NNRTI_UNUSED static uint32_t nnrti_half_pack(int32_t e, uint32_t sig)
{
    int32_t shift = e < -14 ? 6 - e : 20;
    uint32_t q, rest, tie;
    if (e > 15) {
        return 0x7c00u;
    }
    if (e < -25) {
        return 0u;
    }
    q = sig >> shift;
    rest = sig & (((uint32_t)1 << shift) - 1u);
    tie = (uint32_t)1 << (shift - 1);
    q += (rest > tie || (rest == tie && (q & 1u) != 0u)) ? 1u : 0u;
    return e < -14 ? q : ((uint32_t)(e + 14) << 10) + q;
}

/* float to half, nearest, ties to even; beyond 65519.99 infinity. */
NNRTI_UNUSED static uint16_t nnrti_half_from_float(float x)
{
    uint32_t u = nnrti_bits_of_float(x), sign = (u >> 16) & 0x8000u, m = u & 0x7fffffu;
    int32_t e = (int32_t)((u >> 23) & 0xffu) - 127;
    if (e == 128 && m != 0u) {
        return (uint16_t)(sign | 0x7e00u | (m >> 13));
    }
    return (uint16_t)(sign | nnrti_half_pack(e, 0x40000000u | (m << 7)));
}

/* double to half in one rounding, nearest, ties to even. Going through float would round twice. */
NNRTI_UNUSED static uint16_t nnrti_half_from_double(double x)
{
    uint64_t u = nnrti_bits_of_double(x), m = u & (((uint64_t)1 << 52) - 1u);
    uint32_t sign = (uint32_t)(u >> 48) & 0x8000u;
    uint32_t sticky = (u & 0x3fffffu) != 0u ? 1u : 0u;
    int32_t e = (int32_t)((uint32_t)(u >> 52) & 0x7ffu) - 1023;
    if (e == 1024 && m != 0u) {
        return (uint16_t)(sign | 0x7e00u | (uint32_t)(m >> 42));
    }
    return (uint16_t)(sign | nnrti_half_pack(e, 0x40000000u | (uint32_t)(m >> 22) | sticky));
}

/* half to float, exact. A subnormal is m * 2^-24. */
NNRTI_UNUSED static float nnrti_half_to_float(uint16_t h)
{
    uint32_t sign = ((uint32_t)h & 0x8000u) << 16, e = ((uint32_t)h >> 10) & 31u, m = (uint32_t)h & 0x3ffu;
    if (e == 0u) {
        return nnrti_float_of_bits(sign | nnrti_bits_of_float((float)m * 5.9604644775390625e-8f));
    }
    if (e == 31u) {
        return nnrti_float_of_bits(sign | 0x7f800000u | (m != 0u ? 0x400000u : 0u) | (m << 13));
    }
    return nnrti_float_of_bits(sign | ((e + 112u) << 23) | (m << 13));
}

/* >>math exp x = k * ln2 + r with |r| <= ln2 / 2, ln2 as a sum of a part of 16 bits (double: 40), so that k times it
 * is exact, and the rest; r = hi - lo is never rounded to one number where that would hurt. With
 *     T = r * coth(r / 2) = 2 + r^2 * Q(r^2),   e^r - 1 = 2 * r / (T - r) = r + r * c / (2 - c),   c = r - r^2 * Q(r^2)
 * where Q is the minimax polynomial of (r * coth(r / 2) - 2) / r^2 on [0, (ln2 / 2)^2] (Remez exchange, weight r^2 /
 * 2): 2 coefficients give 2.2e-9, 5 give 8.6e-19 relative to T. */

/* y * 2^k for |k| <= 252 in two exact factors, so that only a subnormal result rounds. */
NNRTI_UNUSED static float nnrti_scalef(float y, int32_t k)
{
    int32_t k1 = k / 2, k2 = k - k1;
    return y * nnrti_float_of_bits((uint32_t)(k1 + 127) << 23) * nnrti_float_of_bits((uint32_t)(k2 + 127) << 23);
}

/* e^x = 2^k * (1 + (hi - t)) for |x| <= 105; returns t. hi is exact, so that t carries the only error. */
NNRTI_UNUSED static float nnrti_exp_partf(float x, float *hi, int32_t *k)
{
    int32_t n = (int32_t)(x * 1.44269502f + (x < 0.0f ? -0.5f : 0.5f));
    float h = x - (float)n * 0.693145751953125f, lo = (float)n * 1.42860677e-6f;
    float r = h - lo, z = r * r;
    float c = r - z * (0.166666254f + z * -0.0027667447f);
    *hi = h;
    *k = n;
    return lo - r * c / (2.0f - c);
}

/* e^x. 1 + hi loses bits; they are added back before the one rounding that counts. Largest error 0.78 ulp (all
 * floats). */
NNRTI_UNUSED static float nnrti_expf(float x)
{
    int32_t k;
    float hi, t, y;
    if (!(x > -104.0f)) {
        return nnrti_isnanf(x) ? nnrti_nanf() : 0.0f;
    }
    if (x > 89.0f) {
        return nnrti_inff();
    }
    t = nnrti_exp_partf(x, &hi, &k);
    y = 1.0f + hi;
    return nnrti_scalef(y + ((hi - (y - 1.0f)) - t), k);
}

/* e^x - 1 without cancellation: 2^k * (1 + q) - 1 = 2 * ((2^(k-1) - 1/2) + 2^(k-1) * q), which cannot overflow too
 * early. Largest error 1.71 ulp (all floats). */
NNRTI_UNUSED static float nnrti_expm1f(float x)
{
    int32_t k;
    float hi, q, h;
    if (nnrti_isnanf(x)) {
        return nnrti_nanf();
    }
    if (nnrti_absf(x) < 2.98023224e-8f) {
        return x;
    }
    if (x > 89.0f) {
        return nnrti_inff();
    }
    if (x < -18.0f) {
        return -1.0f;
    }
    q = nnrti_exp_partf(x, &hi, &k);
    q = hi - q;
    if (k == 0) {
        return q;
    }
    h = nnrti_float_of_bits((uint32_t)(k + 126) << 23);
    return ((h - 0.5f) + h * q) * 2.0f;
}

/* 1 / (1 + e^-x), for x < 0 as e^x / (1 + e^x), so that nothing overflows and small results keep their digits. The last
 * line makes good what 1 + e lost by rounding. Largest error 1.97 ulp (all floats). */
NNRTI_UNUSED static float nnrti_sigmoidf(float x)
{
    float e = nnrti_expf(-nnrti_absf(x)), s = 1.0f + e, q = (x < 0.0f ? e : 1.0f) / s;
    return nnrti_isnanf(x) ? e : q - q * (e - (s - 1.0f));
}

/* tanh x. |x| < 0.27: x + x^3 * P(x^2), P minimax of (tanh(x) / x - 1) / x^2, relative error of the result 5.3e-9
 * (Remez exchange, weight x^2). To 9.1: t / (t + 2), t = e^(2|x|) - 1, with the sign of x; then 1. Largest error 1.50
 * ulp (all floats). */
NNRTI_UNUSED static float nnrti_tanhf(float x)
{
    float a = nnrti_absf(x), z = x * x, t;
    if (nnrti_isnanf(x)) {
        return nnrti_nanf();
    }
    if (a > 9.1f) {
        return nnrti_copysignf(1.0f, x);
    }
    if (a < 0.27f) {
        t = a * z * (-0.333331883f + z * (0.133210897f + z * -0.0510281026f));
        return nnrti_copysignf(a + t, x);
    }
    t = nnrti_expm1f(a + a);
    return nnrti_copysignf(t / (t + 2.0f), x);
}

/* >>math log x = 2^k * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f), ln(1 + f) = 2 * atanh(s) = 2 * s
 * + s * R, and because 2 * s = f - s * f,
 *     ln(1 + f) = f - s * (f - R),   R = 2/3 * s^2 + 2/5 * s^4 + ...
 * where f is exact and what is subtracted is small. R is s^2 times the minimax polynomial of (2 * atanh(s) / s - 2) /
 * s^2 on [0, 0.17166^2] (Remez exchange, weight s^2 / 2): 3 coefficients give 8.2e-10, 7 give 1.3e-18 relative to 2 *
 * s. */

/* f and k of the positive normal float with these bits. */
NNRTI_UNUSED static float nnrti_log_partf(uint32_t u, int32_t *k)
{
    u += 0x3f800000u - 0x3f3504f3u;
    *k = (int32_t)(u >> 23) - 127;
    return nnrti_float_of_bits((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
}

/* k * ln2 + ln(1 + f) + c, for c tiny beside the rest. */
NNRTI_UNUSED static float nnrti_log_sumf(float f, int32_t k, float c)
{
    float s = f / (2.0f + f), z = s * s;
    float r = z * (0.666667759f + z * (0.399774969f + z * 0.298730731f));
    c += (float)k * 1.42860677e-6f;
    return (float)k * 0.693145751953125f + (f - (s * (f - r) - c));
}

/* ln x; -inf at 0, NaN below. Largest error 0.96 ulp (all floats). */
NNRTI_UNUSED static float nnrti_logf(float x)
{
    int32_t k, scale = 0;
    float f;
    if (!(x > 0.0f)) {
        return x == 0.0f ? -nnrti_inff() : nnrti_nanf();
    }
    if (x == nnrti_inff()) {
        return x;
    }
    if (x < 1.17549435e-38f) {
        x *= 33554432.0f;
        scale = 25;
    }
    f = nnrti_log_partf(nnrti_bits_of_float(x), &k);
    return nnrti_log_sumf(f, k - scale, 0.0f);
}

/* ln(1 + x): near 0 the log formula with f = x; elsewhere ln(u) + c / u, where u = 1 + x rounded and c is what the
 * rounding lost, exactly. Largest error 0.96 ulp (all floats). */
NNRTI_UNUSED static float nnrti_log1pf(float x)
{
    int32_t k;
    float f, u, c;
    if (!(x > -1.0f)) {
        return x == -1.0f ? -nnrti_inff() : nnrti_nanf();
    }
    if (x == nnrti_inff()) {
        return x;
    }
    if (nnrti_absf(x) < 2.98023224e-8f) {
        return x;
    }
    if (x > -0.29f && x < 0.41f) {
        return nnrti_log_sumf(x, 0, 0.0f);
    }
    u = 1.0f + x;
    c = (x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x)) / u;
    f = nnrti_log_partf(nnrti_bits_of_float(u), &k);
    return nnrti_log_sumf(f, k, c);
}

/* >>math sin cos The angle in quarter turns, x * 2/pi, is wanted modulo 4 and to about 2^-60, also for huge x. x = m
 * * 2^(E - 150) with a whole m < 2^24, so the bits of 2/pi that m * 2^(E - 150) turns into multiples of 4 can be
 * skipped: 96 bits from the first one that matters, times m, modulo 2^96, are the angle in units of 2^-94. This is
 * exact integer work, and the 8 words below reach to the largest float. */

/* Quadrant n (modulo 4) of x and the angle left, r = x - n * pi/2, |r| <= pi/4, rounded once. x is finite. */
NNRTI_UNUSED static uint32_t nnrti_trig_reducef(float x, float *r)
{
    static const uint32_t w[8] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                  0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu}; /* 2/pi * 2^32, in words */
    uint32_t u = nnrti_bits_of_float(x), e = (u >> 23) & 0xffu, m = (u & 0x7fffffu) | 0x800000u, n, s;
    uint32_t i = (e - 120u) >> 5, b = (e - 120u) & 31u;
    uint64_t p, g, one = 1;
    if ((u & 0x7fffffffu) <= 0x3f490fdbu) {
        *r = x;
        return 0u;
    }
    p = (((((uint64_t)w[i] << 32 | w[i + 1u]) << b) >> 32) * m) << 32;
    p += ((((uint64_t)w[i + 1u] << 32 | w[i + 2u]) << b) >> 32) * m;
    p += (((((uint64_t)w[i + 2u] << 32 | w[i + 3u]) << b) >> 32) * m) >> 32;
    n = (uint32_t)((p + (one << 61)) >> 62);
    g = p - ((uint64_t)n << 62);
    g = (g >> 63) != 0u ? 0u - g : g;
    for (s = 0; s < 40u && (g >> 63) == 0u; s++) {
        g <<= 1;
    }
    g = (g >> 32) * 0xc90fdaa2u; /* pi/2 * 2^31 */
    *r = (float)(uint32_t)(g >> 32) * nnrti_float_of_bits((98u - s) << 23);
    if (((p - ((uint64_t)n << 62)) >> 63) != (uint64_t)(u >> 31)) {
        *r = -*r;
    }
    return (u >> 31) != 0u ? 0u - n : n;
}

/* sin(n * pi/2 + r), |r| <= pi/4: r + r^3 * S(r^2) or 1 - r^2/2 + r^4 * C(r^2), S with relative error 3.6e-9 and C with
 * absolute error 9.6e-11 of the result (minimax, Remez exchange). */
NNRTI_UNUSED static float nnrti_sin_quarterf(uint32_t n, float r)
{
    float z = r * r, y;
    if ((n & 1u) != 0u) {
        y = 0.0416666456f + z * (-0.00138873665f + z * 2.44383791e-05f);
        y = 1.0f - (0.5f * z - z * z * y);
    } else {
        y = r + r * z * (-0.166666552f + z * (0.008332178f + z * -0.000195172353f));
    }
    return (n & 2u) != 0u ? -y : y;
}

/* sin x; NaN for infinities. Largest error 1.58 ulp (all floats). */
NNRTI_UNUSED static float nnrti_sinf(float x)
{
    float r, a = nnrti_absf(x);
    uint32_t n;
    if (!(a < nnrti_inff())) {
        return nnrti_nanf();
    }
    if (a < 0.000244140625f) {
        return x;
    }
    n = nnrti_trig_reducef(x, &r);
    return nnrti_sin_quarterf(n, r);
}

/* cos x; NaN for infinities. Largest error 1.57 ulp (all floats). */
NNRTI_UNUSED static float nnrti_cosf(float x)
{
    float r;
    uint32_t n;
    if (!(nnrti_absf(x) < nnrti_inff())) {
        return nnrti_nanf();
    }
    n = nnrti_trig_reducef(x, &r);
    return nnrti_sin_quarterf(n + 1u, r);
}

/* tan x = sin x / cos x; NaN for infinities. Largest error 3.57 ulp (all floats). */
NNRTI_UNUSED static float nnrti_tanf(float x)
{
    float r, a = nnrti_absf(x);
    uint32_t n;
    if (!(a < nnrti_inff())) {
        return nnrti_nanf();
    }
    if (a < 0.000244140625f) {
        return x;
    }
    n = nnrti_trig_reducef(x, &r);
    return nnrti_sin_quarterf(n, r) / nnrti_sin_quarterf(n + 1u, r);
}

/* >>math atan asin acos |x| is the tangent of b + atan t, where b = 0, pi/4 or pi/2 and t = |x|, (|x| - 1) / (|x| + 1) or
 * -1 / |x|, so that |t| <= tan(pi/8). asin and acos follow from atan and a square root. */

/* atan x. t + t^3 * P(t^2), P minimax of (atan(t) / t - 1) / t^2, relative error 6.6e-10 (Remez exchange, weight t^2).
 * Largest error 1.89 ulp (all floats). */
NNRTI_UNUSED static float nnrti_atanf(float x)
{
    float a = nnrti_absf(x), t = a, b = 0.0f, lo = 0.0f, z, p;
    if (nnrti_isnanf(x)) {
        return nnrti_nanf();
    }
    if (a > 2.41421366f) {
        t = -1.0f / a;
        b = 1.57079637f;
        lo = -4.37113883e-08f;
    } else if (a > 0.414213568f) {
        t = (a - 1.0f) / (a + 1.0f);
        b = 0.785398185f;
        lo = -2.18556941e-08f;
    }
    z = t * t;
    p = -0.142437935f + z * (0.105955712f + z * -0.0608230494f);
    p = t * z * (-0.333333164f + z * (0.199984863f + z * p));
    return nnrti_copysignf(b + (t + (p + lo)), x);
}

/* asin x = atan(x / sqrt((1 - x) * (1 + x))); NaN beyond 1. Largest error 2.93 ulp (all floats). */
NNRTI_UNUSED static float nnrti_asinf(float x)
{
    return nnrti_atanf(x / nnrti_sqrtf((1.0f - x) * (1.0f + x)));
}

/* acos x = 2 * atan(sqrt((1 - x) / (1 + x))); NaN beyond 1. Largest error 2.68 ulp (all floats). */
NNRTI_UNUSED static float nnrti_acosf(float x)
{
    return 2.0f * nnrti_atanf(nnrti_sqrtf((1.0f - x) / (1.0f + x)));
}

/* >>math sinh cosh and their inverses, from exp and log of |x|. */

/* e^a / 2 for a >= 0, also where e^a is beyond all floats: e^(a - h) * (e^h / 2), h such that a - h is exact, and the factor
 * to 8e-11. */
NNRTI_UNUSED static float nnrti_half_expf(float a)
{
    return a < 88.0f ? 0.5f * nnrti_expf(a) : nnrti_expf(a - 0.8115234375f) * 1.12566757f;
}

/* sinh x = (t + t / (t + 1)) / 2, t = e^|x| - 1, with the sign of x. Largest error 2.18 ulp (all floats). */
NNRTI_UNUSED static float nnrti_sinhf(float x)
{
    float a = nnrti_absf(x), t;
    if (nnrti_isnanf(x)) {
        return nnrti_nanf();
    }
    if (a > 88.0f) {
        return nnrti_copysignf(nnrti_half_expf(a), x);
    }
    t = nnrti_expm1f(a);
    return nnrti_copysignf(0.5f * (t + t / (t + 1.0f)), x);
}

/* cosh x = h + 1 / (4 * h), h = e^|x| / 2. Largest error 1.19 ulp (all floats). */
NNRTI_UNUSED static float nnrti_coshf(float x)
{
    float h = nnrti_half_expf(nnrti_absf(x));
    return nnrti_isnanf(x) ? nnrti_nanf() : h + 0.25f / h;
}

/* asinh x = ln(1 + a + a^2 / (1 + sqrt(1 + a^2))), a = |x|, with the sign of x; from 2^14 on ln a + ln 2. Largest error
 * 1.82 ulp (all floats). */
NNRTI_UNUSED static float nnrti_asinhf(float x)
{
    float a = nnrti_absf(x), z = a * a;
    if (a > 16384.0f) {
        return nnrti_copysignf(nnrti_logf(a) + 0.693147182f, x);
    }
    return nnrti_isnanf(x) ? nnrti_nanf() : nnrti_copysignf(nnrti_log1pf(a + z / (1.0f + nnrti_sqrtf(1.0f + z))), x);
}

/* acosh x = ln(1 + t + sqrt(2 * t + t^2)), t = x - 1; from 2^14 on ln x + ln 2; NaN below 1. Largest error 2.09 ulp
 * (all floats). */
NNRTI_UNUSED static float nnrti_acoshf(float x)
{
    float t = x - 1.0f;
    if (!(x >= 1.0f)) {
        return nnrti_nanf();
    }
    return x > 16384.0f ? nnrti_logf(x) + 0.693147182f : nnrti_log1pf(t + nnrti_sqrtf(2.0f * t + t * t));
}

/* atanh x = ln(1 + 2 * |x| / (1 - |x|)) / 2 with the sign of x; infinite at 1, NaN beyond. Largest error 2.12 ulp (all
 * floats). */
NNRTI_UNUSED static float nnrti_atanhf(float x)
{
    float a = nnrti_absf(x);
    return a <= 1.0f ? nnrti_copysignf(0.5f * nnrti_log1pf(2.0f * a / (1.0f - a)), x) : nnrti_nanf();
}

/* erf x, odd. |x| < 0.921875: x + x * P(x^2), P minimax of erf(x) / x - 1, relative error 1.6e-8. To 3.93: 1 -
 * e^L(x), L minimax of ln(erfc(x)), error of the result 2.4e-8 (Remez exchange, weights 1 / (erf(x) / x) and erfc /
 * erf); then 1. Largest error 1.65 ulp (all floats). */
NNRTI_UNUSED static float nnrti_erff(float x)
{
    float a = nnrti_absf(x), z = x * x, p;
    if (nnrti_isnanf(x)) {
        return nnrti_nanf();
    }
    if (a < 0.921875f) {
        p = 0.00499317981f + z * -0.000599085179f;
        p = 0.112818159f + z * (-0.026766615f + z * p);
        return x + x * (0.128379151f + z * (-0.376124948f + z * p));
    }
    if (a > 3.93f) {
        return nnrti_copysignf(1.0f, x);
    }
    p = -0.0907834843f + a * (0.0154731609f + a * -0.00123814098f);
    p = -0.00197975198f + a * (-1.11983347f + a * (-0.651243687f + a * p));
    return nnrti_copysignf(1.0f - nnrti_expf(p), x);
}

/* >>math double: the same formulas with longer polynomials. */

/* y * 2^k for |k| <= 2044 in two exact factors, so that only a subnormal result rounds. */
NNRTI_UNUSED static double nnrti_scale(double y, int32_t k)
{
    int32_t k1 = k / 2, k2 = k - k1;
    return y * nnrti_double_of_bits((uint64_t)(k1 + 1023) << 52) * nnrti_double_of_bits((uint64_t)(k2 + 1023) << 52);
}

/* e^(x + w) = 2^k * (1 + (hi - t)) for |x| <= 750 and w tiny beside x; returns t. hi keeps all bits of x. */
NNRTI_UNUSED static double nnrti_exp_part(double x, double w, double *hi, int32_t *k)
{
    int32_t n = (int32_t)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
    double h = x - (double)n * 0.6931471805592082, lo = (double)n * 7.371002565167799e-13 - w;
    double r = h - lo, z = r * r, q;
    q = 6.613756320693448e-05 + z * (-1.6533901402599901e-06 + z * 4.138106722081625e-08);
    q = r - z * (0.16666666666666602 + z * (-0.0027777777777012783 + z * q));
    *hi = h;
    *k = n;
    return lo - r * q / (2.0 - q);
}

/* e^(x + w), w tiny beside x. 1 + hi loses bits; they are added back before the one rounding that counts. */
NNRTI_UNUSED static double nnrti_exp_pair(double x, double w)
{
    int32_t k;
    double hi, t, y;
    if (!(x > -746.0)) {
        return nnrti_isnan(x) ? nnrti_nan() : 0.0;
    }
    if (x > 710.0) {
        return nnrti_inf();
    }
    t = nnrti_exp_part(x, w, &hi, &k);
    y = 1.0 + hi;
    return nnrti_scale(y + ((hi - (y - 1.0)) - t), k);
}

/* e^x. Largest error 0.78 ulp (9 million random arguments). */
NNRTI_UNUSED static double nnrti_exp(double x)
{
    return nnrti_exp_pair(x, 0.0);
}

/* e^a - 1 = 2^k * (1 + q) - 1 for 0 <= a <= 44. */
NNRTI_UNUSED static double nnrti_expm1(double a)
{
    int32_t k;
    double hi, t = nnrti_exp_part(a, 0.0, &hi, &k), h = nnrti_scale(1.0, k);
    return (h - 1.0) + h * (hi - t);
}

/* tanh x = t / (t + 2), t = e^(2|x|) - 1; 1 from 22 on. Largest error 2.39 ulp (12 million random arguments). */
NNRTI_UNUSED static double nnrti_tanh(double x)
{
    double a = nnrti_abs(x), t;
    if (nnrti_isnan(x)) {
        return nnrti_nan();
    }
    if (a > 22.0) {
        return nnrti_copysign(1.0, x);
    }
    t = nnrti_expm1(a + a);
    return nnrti_copysign(t / (t + 2.0), x);
}

/* x without its low 27 bits: the product of two such numbers is exact. */
NNRTI_UNUSED static double nnrti_high_part(double x)
{
    return nnrti_double_of_bits(nnrti_bits_of_double(x) & ~(uint64_t)0x7ffffffu);
}

/* f and k of a positive finite x (see log above). */
NNRTI_UNUSED static double nnrti_log_part(double x, int32_t *k)
{
    const uint64_t half_root = (uint64_t)0x3fe6a09eu << 32;
    int32_t scale = 0;
    uint64_t u;
    if (x < 2.2250738585072014e-308) {
        x *= 18014398509481984.0;
        scale = 54;
    }
    u = nnrti_bits_of_double(x) + (((uint64_t)0x3ff00000u << 32) - half_root);
    *k = (int32_t)(u >> 52) - 1023 - scale;
    return nnrti_double_of_bits((u & (((uint64_t)1 << 52) - 1u)) + half_root) - 1.0;
}

/* R of the log formula, z = s^2. */
NNRTI_UNUSED static double nnrti_log_poly(double z)
{
    double p = 0.18183569754703288 + z * (0.15313902916171723 + z * 0.14797510569321579);
    p = 0.39999999999411073 + z * (0.2857142874326625 + z * (0.2222219847565851 + z * p));
    return z * (0.6666666666666735 + z * p);
}

/* ln x; -inf at 0, NaN below. Largest error 0.95 ulp (9 million random arguments). */
NNRTI_UNUSED static double nnrti_log(double x)
{
    int32_t k;
    double f, s;
    if (!(x > 0.0)) {
        return x == 0.0 ? -nnrti_inf() : nnrti_nan();
    }
    if (x == nnrti_inf()) {
        return x;
    }
    f = nnrti_log_part(x, &k);
    s = f / (2.0 + f);
    s = s * (f - nnrti_log_poly(s * s)) - (double)k * 7.371002565167799e-13;
    return (double)k * 0.6931471805592082 + (f - s);
}

/* ln x as a sum hi + lo, relative error about 2^-58, for x positive and finite. s = f / (2 + f) is split into a short
 * part sh and the rest of the division sl, then 2 * sh + (2 * sl + s * R) + k * ln2 is summed without loss. */
NNRTI_UNUSED static double nnrti_log_pair(double x, double *lo)
{
    int32_t k;
    double f = nnrti_log_part(x, &k), t = 2.0 + f, s = f / t, sh = nnrti_high_part(s), th = nnrti_high_part(t);
    double sl = ((f - sh * th) - sh * (f - (th - 2.0))) / t;
    double kh = (double)k * 0.6931471805592082, h = kh + 2.0 * sh, hi;
    double rest = (2.0 * sl + s * nnrti_log_poly(s * s)) + (double)k * 7.371002565167799e-13;
    rest += k == 0 ? 0.0 : 2.0 * sh - (h - kh);
    hi = h + rest;
    *lo = rest - (hi - h);
    return hi;
}

/* a^y for a positive and finite, y finite: e^(y * ln a), the product kept as a sum of two numbers. */
NNRTI_UNUSED static double nnrti_pow_positive(double a, double y)
{
    double lo, hi = nnrti_log_pair(a, &lo), ah = nnrti_high_part(hi), yh = nnrti_high_part(y), p, q, v;
    v = y * hi;
    if (!(v > -750.0 && v < 750.0)) {
        return v < 0.0 ? 0.0 : nnrti_inf();
    }
    p = yh * ah;
    q = (y - yh) * hi + yh * ((hi - ah) + lo);
    v = p + q;
    return nnrti_exp_pair(v, q - (v - p));
}

/* x^y with all special cases of C (Annex F): 1 for y = 0 or x = 1 even beside a NaN, NaN for x < 0 and a y that is
 * not whole, the sign of x for odd y. Largest error 5.9e-15 relative (3 million random pairs, results over the whole
 * range), far less near 1. An exactly representable x^n comes out exact. */
NNRTI_UNUSED static double nnrti_pow(double x, double y)
{
    double a = nnrti_abs(x), r;
    int whole, odd;
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (nnrti_isnan(x) || nnrti_isnan(y)) {
        return nnrti_nan();
    }
    if (nnrti_abs(y) == nnrti_inf()) {
        return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? nnrti_inf() : 0.0;
    }
    whole = nnrti_trunc(y) == y;
    odd = whole && nnrti_trunc(y * 0.5) * 2.0 != y;
    if (a == 0.0 || a == nnrti_inf()) {
        r = (a == 0.0) == (y < 0.0) ? nnrti_inf() : 0.0;
    } else if (x < 0.0 && !whole) {
        return nnrti_nan();
    } else {
        r = nnrti_pow_positive(a, y);
    }
    return odd ? nnrti_copysign(r, x) : r;
}

/* x^y in float, computed in double: a float logarithm would need twice the digits that float has.
 * Largest error 0.501 ulp (10^8 random pairs, results over the whole range). */
NNRTI_UNUSED static float nnrti_powf(float x, float y)
{
    double r = nnrti_pow((double)x, (double)y);
    return nnrti_isnan(r) ? nnrti_nanf() : (float)r;
}

/* erf x, odd. |x| < 1.25: 2 / sqrt(pi) * x * (1 - z * (1/3 - z/2 * (1/5 - z/3 * (1/7 - ...)))), z = x^2, the power
 * series. To 6: 1 - erfc(x), erfc(x) = e^-z / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + (3/2) / (x + ...)))), where z
 * enters as a sum of two numbers. Then 1. Both run backward over a fixed number of terms: slow, but with three
 * constants. Largest error 3.21 ulp (33 million random arguments). */
NNRTI_UNUSED static double nnrti_erf(double x)
{
    double a = nnrti_abs(x), ah = nnrti_high_part(a), z = a * a, s = 0.0;
    int32_t n;
    if (nnrti_isnan(x)) {
        return nnrti_nan();
    }
    if (a > 6.0) {
        return nnrti_copysign(1.0, x);
    }
    if (a < 1.25) {
        for (n = 24; n >= 0; n--) {
            s = 1.0 / (double)(2 * n + 1) - z * s / (double)(n + 1);
        }
        return x * 1.1283791670955126 * s;
    }
    s = a;
    for (n = 120; n > 0; n--) {
        s = a + 0.5 * (double)n / s;
    }
    s = nnrti_exp_pair(-ah * ah, -((a - ah) * (a + ah))) * 0.5641895835477563 / s;
    return nnrti_copysign(1.0 - s, x);
}

/* Quadrant n (modulo 4) of x and the angle left, as nnrti_trig_reducef: x = m * 2^(E - 1075), and 192 bits of 2/pi times
 * m, modulo 2^192, are the angle in units of 2^-190. Of the angle left, 128 bits are kept and 64 used. */
NNRTI_UNUSED static uint32_t nnrti_trig_reduce(double x, double *r)
{
    static const uint32_t w[39] = {0u,          0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                   0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u,
                                   0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,
                                   0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
                                   0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
                                   0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau,
                                   0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u}; /* 2/pi * 2^64, in words */
    uint64_t u = nnrti_bits_of_double(x), m = (u & (((uint64_t)1 << 52) - 1u)) | (uint64_t)1 << 52, hi, lo, p, q;
    uint32_t e = (uint32_t)(u >> 52) & 0x7ffu, i = (e - 1013u) >> 5, b = (e - 1013u) & 31u, v[6] = {0}, n, s, k;
    if (nnrti_abs(x) <= 0.78539816339744828) {
        *r = x;
        return 0u;
    }
    for (s = 0; s < 2u; s++) { /* v, the least word first, = the bits of w times the low and the high half of m */
        for (k = s, p = 0; k < 6u; k++) {
            q = (((uint64_t)w[i + 5u + s - k] << 32 | w[i + 6u + s - k]) << b >> 32) * (uint32_t)(m >> (32u * s));
            p = q + v[k] + (p >> 32);
            v[k] = (uint32_t)p;
        }
    }
    hi = (uint64_t)v[5] << 32 | v[4];
    lo = (uint64_t)v[3] << 32 | v[2];
    n = (uint32_t)((hi + ((uint64_t)1 << 61)) >> 62);
    hi -= (uint64_t)n << 62;
    s = (uint32_t)(hi >> 63);
    hi = s != 0u ? ~hi : hi; /* a unit of 2^-126 is no matter */
    lo = s != 0u ? ~lo : lo;
    *r = s != (uint32_t)(u >> 63) ? -1.0 : 1.0;
    for (s = 0; s < 100u && (hi >> 63) == 0u; s++) {
        hi = hi << 1 | lo >> 63;
        lo <<= 1;
    }
    p = (hi >> 32) * 0x2168c234u; /* pi/2 * 2^63 is 0xc90fdaa22168c234 */
    q = (hi & 0xffffffffu) * 0xc90fdaa2u;
    hi = (hi >> 32) * 0xc90fdaa2u + (p >> 32) + (q >> 32);
    *r *= (double)hi * nnrti_double_of_bits((uint64_t)(962u - s) << 52);
    return (u >> 63) != 0u ? 0u - n : n;
}

/* sin(n * pi/2 + r), |r| <= pi/4, by the power series, backward: r - r * z/6 * (1 - z/20 * (1 - ...)) or 1 - z/2 * (1 -
 * z/12 * (1 - ...)), z = r^2. */
NNRTI_UNUSED static double nnrti_sin_quarter(uint32_t n, double r)
{
    const int32_t odd = (int32_t)(n & 1u);
    double z = r * r, t = 1.0, y;
    int32_t k;
    for (k = 18; k > 2; k -= 2) {
        t = 1.0 - z * t / (double)((k - odd) * (k + 1 - odd));
    }
    y = odd != 0 ? 1.0 - 0.5 * z * t : r - r * (z * t / 6.0);
    return (n & 2u) != 0u ? -y : y;
}

/* sin x; NaN for infinities. Largest error 1.48 ulp (17 million random arguments). */
NNRTI_UNUSED static double nnrti_sin(double x)
{
    double r, a = nnrti_abs(x);
    uint32_t n;
    if (!(a < nnrti_inf())) {
        return nnrti_nan();
    }
    if (a < 7.450580596923828e-09) {
        return x;
    }
    n = nnrti_trig_reduce(x, &r);
    return nnrti_sin_quarter(n, r);
}

/* cos x; NaN for infinities. Largest error 1.47 ulp (17 million random arguments). */
NNRTI_UNUSED static double nnrti_cos(double x)
{
    double r;
    uint32_t n;
    if (!(nnrti_abs(x) < nnrti_inf())) {
        return nnrti_nan();
    }
    n = nnrti_trig_reduce(x, &r);
    return nnrti_sin_quarter(n + 1u, r);
}

/* tan x = sin x / cos x; NaN for infinities. Largest error 3.46 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_tan(double x)
{
    double r, a = nnrti_abs(x);
    uint32_t n;
    if (!(a < nnrti_inf())) {
        return nnrti_nan();
    }
    if (a < 7.450580596923828e-09) {
        return x;
    }
    n = nnrti_trig_reduce(x, &r);
    return nnrti_sin_quarter(n, r) / nnrti_sin_quarter(n + 1u, r);
}

/* atan x, as nnrti_atanf, by the power series t - t^3 * (1/3 - t^2 * (1/5 - ...)), backward. Largest error 1.90 ulp (20
 * million random arguments). */
NNRTI_UNUSED static double nnrti_atan(double x)
{
    double a = nnrti_abs(x), t = a, b = 0.0, lo = 0.0, z, s = 0.0;
    int32_t k;
    if (nnrti_isnan(x)) {
        return nnrti_nan();
    }
    if (a > 2.4142135623730949) {
        t = -1.0 / a;
        b = 1.5707963267948966;
        lo = 6.123233995736766e-17;
    } else if (a > 0.41421356237309503) {
        t = (a - 1.0) / (a + 1.0);
        b = 0.78539816339744828;
        lo = 3.061616997868383e-17;
    }
    z = t * t;
    for (k = 43; k > 1; k -= 2) {
        s = 1.0 / (double)k - z * s;
    }
    return nnrti_copysign(b + (t - (t * z * s - lo)), x);
}

/* asin x; NaN beyond 1. Largest error 2.98 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_asin(double x)
{
    return nnrti_atan(x / nnrti_sqrt((1.0 - x) * (1.0 + x)));
}

/* acos x; NaN beyond 1. Largest error 2.71 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_acos(double x)
{
    return 2.0 * nnrti_atan(nnrti_sqrt((1.0 - x) / (1.0 + x)));
}

/* e^a / 2 for a >= 0, also where e^a is beyond all doubles. */
NNRTI_UNUSED static double nnrti_half_exp(double a)
{
    return a < 700.0 ? 0.5 * nnrti_exp(a) : nnrti_exp_pair(a - 0.6931471805592082, -7.371002565167799e-13);
}

/* sinh x; from 22 on e^|x| / 2. Largest error 2.18 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_sinh(double x)
{
    double a = nnrti_abs(x), t;
    if (nnrti_isnan(x)) {
        return nnrti_nan();
    }
    if (a > 22.0) {
        return nnrti_copysign(nnrti_half_exp(a), x);
    }
    t = nnrti_expm1(a);
    return nnrti_copysign(0.5 * (t + t / (t + 1.0)), x);
}

/* cosh x. Largest error 1.17 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_cosh(double x)
{
    double h = nnrti_half_exp(nnrti_abs(x));
    return nnrti_isnan(x) ? nnrti_nan() : h + 0.25 / h;
}

/* ln(1 + x) for x >= 0: ln(u) + c / u, where u = 1 + x rounded and c is what the rounding lost. */
NNRTI_UNUSED static double nnrti_log1p(double x)
{
    double u = 1.0 + x;
    return x == nnrti_inf() ? x : nnrti_log(u) + (x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x)) / u;
}

/* asinh x; from 2^28 on ln |x| + ln 2. Largest error 2.12 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_asinh(double x)
{
    double a = nnrti_abs(x), z = a * a;
    if (a > 268435456.0) {
        return nnrti_copysign(nnrti_log(a) + 0.69314718055994531, x);
    }
    return nnrti_isnan(x) ? nnrti_nan() : nnrti_copysign(nnrti_log1p(a + z / (1.0 + nnrti_sqrt(1.0 + z))), x);
}

/* acosh x; NaN below 1. Largest error 2.57 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_acosh(double x)
{
    double t = x - 1.0;
    if (!(x >= 1.0)) {
        return nnrti_nan();
    }
    return x > 268435456.0 ? nnrti_log(x) + 0.69314718055994531 : nnrti_log1p(t + nnrti_sqrt(2.0 * t + t * t));
}

/* atanh x; infinite at 1, NaN beyond. Largest error 2.40 ulp (20 million random arguments). */
NNRTI_UNUSED static double nnrti_atanh(double x)
{
    double a = nnrti_abs(x);
    return a <= 1.0 ? nnrti_copysign(0.5 * nnrti_log1p(2.0 * a / (1.0 - a)), x) : nnrti_nan();
}

/* Each line gives something else under one of the modes that change bits. volatile: computed when it is called. */
NNRT_API bool nnrt_same_bits(void)
{
    volatile float one = 1.0f, unit = FLT_EPSILON, half = 0.5f, least = FLT_MIN, small = 1.0f / 4096, x, y;
    volatile double wideOne = 1.0, wideLeast = DBL_MIN, wideSmall = 1.0 / 134217728, u, v;
    bool same = NNRT_SAME_BITS != 0;
    x = one + small; /* x * x is 1 + 2 small + small^2, whose last term is half a unit and goes when it is rounded */
    y = one + small + small;
    same = same && x * x - y == 0.0f;
    u = wideOne + wideSmall;
    v = wideOne + wideSmall + wideSmall;
    same = same && u * u - v == 0.0;
    x = one + unit; /* half units, once to the even number below and once to the one above */
    y = x + unit;
    same = same && one + unit * half == one && x + unit * half == y;
    x = least * half; /* subnormal, as a result and as an operand */
    u = wideLeast * 0.5;
    return same && x > 0.0f && x + x == least && u > 0.0 && u + u == wideLeast;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>helpers */

/* memcmp(a, b, bytes) == 0. */
static bool nnrti_same(const void *a, const void *b, size_t bytes)
{
    const uint8_t *p = (const uint8_t *)a, *q = (const uint8_t *)b;
    while (bytes > 0 && *p == *q) {
        p++;
        q++;
        bytes--;
    }
    return bytes == 0;
}

/* a / b toward zero, b > 0. Extents are computed with 64 bits and mostly divided with 32: where these are all that the
   processor divides, a division of 64 is 900 bytes of code and slow. */
static int64_t nnrti_quotient(int64_t a, int64_t b)
{
    const uint64_t n = a < 0 ? 0u - (uint64_t)a : (uint64_t)a, d = (uint64_t)b;
    uint64_t q = 0, rest = 0;
    if (n <= UINT32_MAX && d <= UINT32_MAX)
        q = (uint32_t)n / (uint32_t)d;
    else
        for (int32_t bit = 63; bit >= 0; bit--) {
            rest = rest << 1 | (n >> bit & 1u);
            if (rest >= d) {
                rest -= d;
                q |= (uint64_t)1 << bit;
            }
        }
    return a < 0 ? -(int64_t)q : (int64_t)q;
}

static int64_t nnrti_remainder(int64_t a, int64_t b)
{
    return a - nnrti_quotient(a, b) * b;
}

/* Element i of a float32 or float16 array as float. type is a constant where it counts, so that nothing is decided in
   inner loops: each float kernel is one body, instantiated for float32 and for float16. */
NNRTI_INLINE float nnrti_load(const void *data, ptrdiff_t i, NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_FLOAT16 ? nnrti_half_to_float(((const uint16_t *)data)[i]) : ((const float *)data)[i];
}

NNRTI_INLINE void nnrti_store(void *data, ptrdiff_t i, float value, NNRT_DataType type)
{
    if (type == NNRT_DATA_TYPE_FLOAT16)
        ((uint16_t *)data)[i] = nnrti_half_from_float(value);
    else
        ((float *)data)[i] = value;
}

/* Element i of a vector beside data of the given type: float16 data may have vectors of float32. */
NNRTI_INLINE float nnrti_load_beside(const nnrt_view *v, ptrdiff_t i, NNRT_DataType type)
{
    return nnrti_load(v->data, i, type == NNRT_DATA_TYPE_FLOAT32 ? type : v->dataType);
}

/* Address of element i of data with elements of the given width. */
static void *nnrti_at(void *data, ptrdiff_t i, size_t width)
{
    return (uint8_t *)data + i * (ptrdiff_t)width;
}

/* Copies n elements of the given width from x to z, sx and sz elements apart. */
static void nnrti_copy_row(void *z, ptrdiff_t sz, const void *x, ptrdiff_t sx, int32_t n, size_t width)
{
    if (sz == 1 && sx == 1) {
        if (n > 0 && z != x)
            memcpy(z, x, (size_t)n * width);
        return;
    }
    switch (width) {
#define NNRTI_COPY_ROW(bytes, T)                                                                                       \
    case bytes:                                                                                                        \
        for (int32_t i = 0; i < n; i++)                                                                                \
            ((T *)z)[i * sz] = ((const T *)x)[i * sx];                                                                 \
        break;
        NNRTI_COPY_ROW(1, uint8_t)
        NNRTI_COPY_ROW(2, uint16_t)
        NNRTI_COPY_ROW(4, uint32_t)
        NNRTI_COPY_ROW(8, uint64_t)
    default: break;
    }
}

/* Walks over the elements of z in row order, a row (the last axis) at a time, together with up to two views that are
   broadcast to the dims of z (aligned at the last axis, extents 1 or missing are repeated). Neighbouring axes that lie
   behind one another in all views are joined, so rows are as long as they can be. */
typedef struct nnrti_walk {
    int32_t rank, count; /* axes without the row's; elements of a row */
    int32_t dims[NNRT_MAX_RANK], index[NNRT_MAX_RANK];
    ptrdiff_t step[3][NNRT_MAX_RANK];
    ptrdiff_t row[3]; /* step within a row, in elements: z, x, y */
    ptrdiff_t at[3];  /* first element of the current row */
} nnrti_walk;

static ptrdiff_t nnrti_walk_step(const nnrt_view *v, const nnrt_view *z, int32_t axis)
{
    int32_t i = axis - (z->rank - v->rank);
    return i < 0 || v->dims[i] == 1 ? 0 : v->strides[i];
}

/* false: z has no elements. x and y may be NULL. */
static bool nnrti_walk_first(nnrti_walk *w, const nnrt_view *z, const nnrt_view *x, const nnrt_view *y)
{
    const nnrt_view *views[3];
    int32_t n = 0;
    views[0] = z;
    views[1] = x != NULL ? x : z;
    views[2] = y != NULL ? y : z;
    memset(w, 0, sizeof(*w));
    for (int32_t i = 0; i < z->rank; i++) {
        bool joins = n > 0;
        if (z->dims[i] == 0)
            return false;
        if (z->dims[i] == 1)
            continue;
        for (int32_t k = 0; k < 3; k++) {
            w->step[k][n] = nnrti_walk_step(views[k], z, i);
            joins = joins && w->step[k][n - 1] == w->step[k][n] * z->dims[i];
        }
        joins = joins && w->dims[n - 1] <= INT32_MAX / z->dims[i];
        if (joins) {
            w->dims[n - 1] *= z->dims[i];
            for (int32_t k = 0; k < 3; k++)
                w->step[k][n - 1] = w->step[k][n];
        } else {
            w->dims[n++] = z->dims[i];
        }
    }
    w->rank = n > 0 ? n - 1 : 0;
    w->count = n > 0 ? w->dims[n - 1] : 1;
    for (int32_t k = 0; k < 3; k++)
        w->row[k] = n > 0 ? w->step[k][n - 1] : 1;
    return true;
}

/* Moves to the next row; false behind the last. */
static bool nnrti_walk_next(nnrti_walk *w)
{
    for (int32_t i = w->rank - 1; i >= 0; i--) {
        if (++w->index[i] < w->dims[i]) {
            for (int32_t k = 0; k < 3; k++)
                w->at[k] += w->step[k][i];
            return true;
        }
        for (int32_t k = 0; k < 3; k++)
            w->at[k] -= w->step[k][i] * (w->dims[i] - 1);
        w->index[i] = 0;
    }
    return false;
}

/* z = x, broadcast to the dims of z. Works by element width. */
static void nnrti_copy(const nnrt_view *x, nnrt_view *z)
{
    size_t width = nnrt_type_size(z->dataType);
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, NULL))
        return;
    do
        nnrti_copy_row(nnrti_at(z->data, w.at[0], width), w.row[0], nnrti_at(x->data, w.at[1], width), w.row[1],
                       w.count, width);
    while (nnrti_walk_next(&w));
}

/* Every element of z = 0. */
static void nnrti_clear(nnrt_view *z)
{
    static const uint64_t zero = 0;
    nnrt_view x = *z;
    x.data = (void *)(uintptr_t)&zero;
    x.rank = 0;
    nnrti_copy(&x, z);
}

/* Activation functions without parameters, as they may be fused into other operators. */
static float nnrti_activate(float v, NNRT_ActivationType type)
{
    switch (type) {
    case NNRT_ACTIVATION_TYPE_RELU: return v > 0 || v != v ? v : 0.0f;
    case NNRT_ACTIVATION_TYPE_SIGMOID: return nnrti_sigmoidf(v);
    case NNRT_ACTIVATION_TYPE_RELU6: return v > 6 ? 6.0f : v > 0 || v != v ? v : 0.0f;
    case NNRT_ACTIVATION_TYPE_ABS: return v > 0 ? v : 0.0f - v;
    case NNRT_ACTIVATION_TYPE_RELU1: return v > 1 ? 1.0f : v > 0 || v != v ? v : 0.0f;
    case NNRT_ACTIVATION_TYPE_SOFTSIGN:
        return v > FLT_MAX ? 1.0f : v < -FLT_MAX ? -1.0f : v / (1.0f + (v < 0 ? -v : v));
    case NNRT_ACTIVATION_TYPE_SOFTPLUS: return (v > 0 ? v : 0.0f) + nnrti_log1pf(nnrti_expf(v > 0 ? -v : v));
    case NNRT_ACTIVATION_TYPE_TANH: return nnrti_tanhf(v);
    case NNRT_ACTIVATION_TYPE_SELU: return 1.05070098f * (v >= 0 ? v : 1.67326324f * nnrti_expm1f(v));
    case NNRT_ACTIVATION_TYPE_HSWISH: return v <= -3 ? 0.0f : v >= 3 ? v : v * (v + 3.0f) / 6.0f;
    case NNRT_ACTIVATION_TYPE_HSIGMOID: return v <= -3 ? 0.0f : v >= 3 ? 1.0f : (v + 3.0f) / 6.0f;
    case NNRT_ACTIVATION_TYPE_SIGN: return v > 0 ? 1.0f : v < 0 ? -1.0f : v;
    case NNRT_ACTIVATION_TYPE_SWISH: return v < -FLT_MAX ? 0.0f : v * nnrti_sigmoidf(v);
    case NNRT_ACTIVATION_TYPE_GELU: return v < -FLT_MAX ? 0.0f : 0.5f * v * (1.0f + nnrti_erff(v * 0.70710678f));
    default: return v; /* NO_ACTIVATION, LINEAR */
    }
}

/* true when v has no elements. */
static bool nnrti_empty(const nnrt_view *v)
{
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dims[i] == 0)
            return true;
    return false;
}

/* The part of v that holds `count` places of the given axis from `first` on; all other axes are whole. Nothing is
   copied. An empty part keeps the address of v. */
static nnrt_view nnrti_part(const nnrt_view *v, int32_t axis, int32_t first, int32_t count)
{
    nnrt_view part = *v;
    part.dims[axis] = count;
    if (!nnrti_empty(&part))
        part.data = nnrti_at(v->data, first * v->strides[axis], nnrt_type_size(v->dataType));
    return part;
}

/* v without `count` axes from `axis` on: its elements at place 0 of those axes. */
static nnrt_view nnrti_without_axes(const nnrt_view *v, int32_t axis, int32_t count)
{
    nnrt_view rest = *v;
    rest.rank = v->rank - count;
    for (int32_t i = axis; i < rest.rank; i++) {
        rest.dims[i] = v->dims[i + count];
        rest.strides[i] = v->strides[i + count];
    }
    return rest;
}

/* v with `count` axes from `axis` on only: its elements at place 0 of all others. */
static nnrt_view nnrti_only_axes(const nnrt_view *v, int32_t axis, int32_t count)
{
    nnrt_view some = *v;
    some.rank = count;
    for (int32_t i = 0; i < count; i++) {
        some.dims[i] = v->dims[axis + i];
        some.strides[i] = v->strides[axis + i];
    }
    return some;
}

/* DEPTH_TO_SPACE and SPACE_TO_DEPTH: the channels of v [N,H,W,b*b*C] that hold cell k of each block of b x b, [N,H,W,C].
   outside: they are C neighbours, else every (b*b)-th. v has elements. */
static nnrt_view nnrti_cell_channels(const nnrt_view *v, int64_t b, int64_t k, bool outside)
{
    const int64_t count = nnrti_quotient(v->dims[3], b * b);
    nnrt_view cell = nnrti_part(v, 3, (int32_t)(outside ? k * count : k), (int32_t)count);
    cell.strides[3] *= outside ? 1 : (ptrdiff_t)(b * b);
    return cell;
}

/* Cell k of each block of v [N,H*b,W*b,C], row by row: [N,H,W,C]. */
static nnrt_view nnrti_cell_places(const nnrt_view *v, int64_t b, int64_t k)
{
    const nnrt_view row = nnrti_part(v, 1, (int32_t)nnrti_quotient(k, b), (int32_t)nnrti_quotient(v->dims[1], b));
    nnrt_view cell = nnrti_part(&row, 2, (int32_t)nnrti_remainder(k, b), (int32_t)nnrti_quotient(v->dims[2], b));
    cell.strides[1] *= (ptrdiff_t)b;
    cell.strides[2] *= (ptrdiff_t)b;
    return cell;
}

/* The true extent of axis, of a result that a kernel tells: y lies densely. */
static NNRTI_UNUSED void nnrti_tell(nnrt_view *y, int32_t axis, int32_t extent)
{
    ptrdiff_t step = 1;
    y->dims[axis] = extent;
    for (int32_t i = y->rank - 1; i >= 0; i--) {
        y->strides[i] = step;
        step *= y->dims[i];
    }
}

/* Element i (an offset) of an int32 or int64 view. */
static int64_t nnrti_index(const nnrt_view *v, ptrdiff_t i)
{
    return v->dataType == NNRT_DATA_TYPE_INT64 ? ((const int64_t *)v->data)[i] : ((const int32_t *)v->data)[i];
}

/* *place = offset in y of the element, or of the slice, that row `row` of indices names: n numbers from offset `at` on,
   `step` apart, one for each of the first axes of y. Where fromEnd is true -L to -1 count from the end of an axis.
   NNRT_INVALID_PARAMETER, with a message, when one lies outside. */
static NNRT_ReturnCode nnrti_place_of(const nnrt_call *call, const nnrt_view *indices, ptrdiff_t at, ptrdiff_t step,
                                      int32_t n, int64_t row, bool fromEnd, const nnrt_view *y, ptrdiff_t *place)
{
    *place = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t L = y->dims[i], least = fromEnd ? -L : 0;
        const int64_t index = nnrti_index(indices, at + i * step);
        if (index < least || index >= L)
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                                  "index %l, element %l of indices, lies outside axis %d of the result, expected %d to "
                                  "%d",
                                  index, row * n + i, i, least, L - 1);
        *place += (ptrdiff_t)(index < 0 ? index + L : index) * y->strides[i];
    }
    return NNRT_SUCCESS;
}

/* GATHER_ELEMENTS, SCATTER_ELEMENTS: *lines = for each element of indices the start of the line of v along axis that it names a
   place of. */
static NNRTI_UNUSED void nnrti_lines_beside(const nnrt_view *v, const nnrt_view *indices, int32_t axis,
                                            nnrt_view *lines)
{
    *lines = *v;
    for (int32_t i = 0; i < v->rank; i++)
        lines->dims[i] = indices->dims[i];
    lines->strides[axis] = 0;
}

/* *place = how far behind the start of a line of v along axis the place lies that element n of indices names, at offset `at`; -L
   to -1 count from the end. NNRT_INVALID_PARAMETER, with a message, when it lies outside. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_place_along(const nnrt_call *call, const nnrt_view *indices, ptrdiff_t at,
                                                      int64_t n, const nnrt_view *v, int32_t axis, ptrdiff_t *place)
{
    const int32_t L = v->dims[axis];
    const int64_t index = nnrti_index(indices, at);
    if (index < -(int64_t)L || index >= L)
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                              "index %l, element %l of indices, lies outside axis %d of x, expected %d to %d", index, n,
                              axis, -L, L - 1);
    *place = (ptrdiff_t)(index < 0 ? index + L : index) * v->strides[axis];
    return NNRT_SUCCESS;
}

/* Offset of element [i,j,k,l] of a view with four axes. */
NNRTI_INLINE ptrdiff_t nnrti_place(const nnrt_view *v, int32_t i, int32_t j, int32_t k, int32_t l)
{
    return i * v->strides[0] + j * v->strides[1] + k * v->strides[2] + l * v->strides[3];
}

/* sum[t] += a[0]*b[0,t] + a[1]*b[1,t] + .. for t < count, in this order: a[k] lies k*aK elements behind a, b[k,t] lies
   k*bK + t*bT elements behind b, k < K. The sums stand side by side; none changes another. */
NNRTI_INLINE void nnrti_dots_of(float *sum, int32_t count, const void *a, ptrdiff_t aK, const void *b, ptrdiff_t bK,
                                ptrdiff_t bT, int32_t K, NNRT_DataType type)
{
    for (int32_t k = 0; k < K; k++) {
        const float v = nnrti_load(a, k * aK, type);
        for (int32_t t = 0; t < count; t++)
            sum[t] += v * nnrti_load(b, k * bK + t * bT, type);
    }
}

#define NNRTI_DOTS 16 /* sums side by side that are worth a block */

/* The same for 8 or 16 sums, written so that compilers keep them in registers: as vectors when bT is 1. */
NNRTI_INLINE void nnrti_dots_full(float *sum, int32_t count, const void *a, ptrdiff_t aK, const void *b, ptrdiff_t bK,
                                  ptrdiff_t bT, int32_t K, NNRT_DataType type)
{
    float s0[4], s1[4], s2[4] = {0}, s3[4] = {0};
    memcpy(s0, sum, sizeof(s0));
    memcpy(s1, sum + 4, sizeof(s1));
    if (count == 16) {
        memcpy(s2, sum + 8, sizeof(s2));
        memcpy(s3, sum + 12, sizeof(s3));
    }
    for (int32_t k = 0; k < K; k++) {
        const float v = nnrti_load(a, k * aK, type);
        for (int32_t t = 0; t < 4; t++)
            s0[t] += v * nnrti_load(b, k * bK + t * bT, type);
        for (int32_t t = 0; t < 4; t++)
            s1[t] += v * nnrti_load(b, k * bK + (t + 4) * bT, type);
        for (int32_t t = 0; t < 4 && count == 16; t++)
            s2[t] += v * nnrti_load(b, k * bK + (t + 8) * bT, type);
        for (int32_t t = 0; t < 4 && count == 16; t++)
            s3[t] += v * nnrti_load(b, k * bK + (t + 12) * bT, type);
    }
    memcpy(sum, s0, sizeof(s0));
    memcpy(sum + 4, s1, sizeof(s1));
    if (count == 16) {
        memcpy(sum + 8, s2, sizeof(s2));
        memcpy(sum + 12, s3, sizeof(s3));
    }
}

/* The same for any count <= NNRTI_DOTS. A full block is a case of its own: of neighbours at once, of elements that lie
   apart in halves, because 16 rows of a large power of two would drive each other out of the cache. */
NNRTI_INLINE void nnrti_dots(float *sum, int32_t count, const void *a, ptrdiff_t aK, const void *b, ptrdiff_t bK,
                             ptrdiff_t bT, int32_t K, NNRT_DataType type)
{
    const ptrdiff_t next = bT * (ptrdiff_t)nnrt_type_size(type); /* bytes from b[k,t] to b[k,t + 1] */
    int32_t t = 0;
    if (count == NNRTI_DOTS && bT == 1) {
        nnrti_dots_full(sum, 16, a, aK, b, bK, 1, K, type);
        return;
    }
    for (; count - t >= 8; t += 8)
        nnrti_dots_full(sum + t, 8, a, aK, (const uint8_t *)b + t * next, bK, bT, K, type);
    if (t < count)
        nnrti_dots_of(sum + t, count - t, a, aK, (const uint8_t *)b + t * next, bK, bT, K, type);
}

/* sum[i] += w[row,i,0]*a[0] + w[row,i,1]*a[1] + .. in this order. */
static NNRTI_UNUSED void nnrti_rows_times(float *sum, const float *a, const nnrt_view *w, int32_t row)
{
    for (int32_t i = 0; i < w->dims[1]; i += NNRTI_DOTS) {
        const int32_t count = w->dims[1] - i < NNRTI_DOTS ? w->dims[1] - i : NNRTI_DOTS;
        const void *b = nnrti_at(w->data, row * w->strides[0] + i * w->strides[1], nnrt_type_size(w->dataType));
        if (w->dataType == NNRT_DATA_TYPE_FLOAT32)
            nnrti_dots(sum + i, count, a, 1, b, w->strides[2], w->strides[1], w->dims[2], NNRT_DATA_TYPE_FLOAT32);
        else
            for (int32_t k = 0; k < w->dims[2]; k++)
                for (int32_t t = 0; t < count; t++)
                    sum[i + t] += a[k] * nnrti_load(b, k * w->strides[2] + t * w->strides[1], NNRT_DATA_TYPE_FLOAT16);
    }
}

/* to[k] = v[i,j,k] for all k, as float. */
static NNRTI_UNUSED void nnrti_row_read(float *to, const nnrt_view *v, int32_t i, int32_t j)
{
    for (int32_t k = 0; k < v->dims[2]; k++)
        to[k] = nnrti_load(v->data, i * v->strides[0] + j * v->strides[1] + k * v->strides[2], v->dataType);
}

/* v[i,j,first + k] = from[k] for k < n. */
static NNRTI_UNUSED void nnrti_row_write(const nnrt_view *v, int32_t i, int32_t j, int32_t first, int32_t n,
                                         const float *from)
{
    for (int32_t k = 0; k < n; k++)
        nnrti_store(v->data, i * v->strides[0] + j * v->strides[1] + (first + k) * v->strides[2], from[k], v->dataType);
}

/* Element i of integer or bool data as int64 modulo 2^64: signed types keep their sign, bool is 0 or 1. */
static uint64_t nnrti_load_int(const void *data, ptrdiff_t i, NNRT_DataType type)
{
    switch (type) {
    case NNRT_DATA_TYPE_BOOL: return ((const uint8_t *)data)[i] != 0;
    case NNRT_DATA_TYPE_INT8: return (uint64_t)(int64_t)((const int8_t *)data)[i];
    case NNRT_DATA_TYPE_INT16: return (uint64_t)(int64_t)((const int16_t *)data)[i];
    case NNRT_DATA_TYPE_INT32: return (uint64_t)(int64_t)((const int32_t *)data)[i];
    case NNRT_DATA_TYPE_UINT8: return ((const uint8_t *)data)[i];
    case NNRT_DATA_TYPE_UINT16: return ((const uint16_t *)data)[i];
    case NNRT_DATA_TYPE_UINT32: return ((const uint32_t *)data)[i];
    default: return ((const uint64_t *)data)[i]; /* int64, uint64 */
    }
}

/* Stores v modulo 2^n into element i of integer or bool data of n bits. */
static void nnrti_store_int(void *data, ptrdiff_t i, uint64_t v, NNRT_DataType type)
{
    switch (nnrt_type_size(type)) {
    case 1: ((uint8_t *)data)[i] = (uint8_t)v; break;
    case 2: ((uint16_t *)data)[i] = (uint16_t)v; break;
    case 4: ((uint32_t *)data)[i] = (uint32_t)v; break;
    default: ((uint64_t *)data)[i] = v; break;
    }
}

/* Whether element i of x is not 0; -0 is. */
static bool nnrti_is_non_zero(const void *x, NNRT_DataType type, ptrdiff_t i)
{
    switch (type) {
    case NNRT_DATA_TYPE_FLOAT16: return (((const uint16_t *)x)[i] & 0x7FFF) != 0;
    case NNRT_DATA_TYPE_FLOAT32: return ((const float *)x)[i] != 0;
    case NNRT_DATA_TYPE_FLOAT64: return ((const double *)x)[i] != 0;
    default: return nnrti_load_int(x, i, type) != 0;
    }
}

/* A number that orders the elements of one numeric type as their values: NaN below all others, -0 equal to 0. */
static uint64_t nnrti_order(const void *data, ptrdiff_t i, NNRT_DataType type)
{
    const uint64_t top = (uint64_t)1 << 63;
    uint64_t bits;
    double v;
    if (type < NNRT_DATA_TYPE_UINT8)
        return nnrti_load_int(data, i, type) ^ top;
    if (type < NNRT_DATA_TYPE_FLOAT16)
        return nnrti_load_int(data, i, type);
    v = type == NNRT_DATA_TYPE_FLOAT64 ? ((const double *)data)[i] : (double)nnrti_load(data, i, type);
    if (v != v)
        return 0;
    v = v == 0 ? 0 : v;
    memcpy(&bits, &v, sizeof(bits));
    return bits >= top ? ~bits : bits | top;
}

/* What is reduced to one element: the walk visits it from element 0 on, and is back at its start when it has ended. */
typedef struct nnrti_reduction {
    nnrti_walk walk;
    bool empty;
    size_t count;
} nnrti_reduction;

static nnrti_reduction nnrti_reduction_of(const nnrt_view *x, const nnrt_view *axes)
{
    nnrti_reduction r;
    nnrt_view part = *x;
    for (int32_t i = 0; i < x->rank; i++)
        part.dims[i] = 1;
    for (int32_t k = 0; k < axes->dims[0]; k++)
        part.dims[((const int32_t *)axes->data)[k]] = x->dims[((const int32_t *)axes->data)[k]];
    r.empty = !nnrti_walk_first(&r.walk, &part, NULL, NULL);
    r.count = r.empty ? 0 : 1;
    for (int32_t i = 0; i < x->rank; i++)
        r.count *= (size_t)part.dims[i];
    return r;
}

/* Part of a view: element i lies i*step elements behind data. data is NULL for an absent operand. */
typedef struct nnrti_line {
    void *data;
    ptrdiff_t step;
    NNRT_DataType type;
    bool rising; /* nnrti_top takes the smallest elements, in rising order */
} nnrti_line;

/* The elements of v along axis that start at the given element. */
static nnrti_line nnrti_line_of(const nnrt_view *v, int32_t axis, ptrdiff_t at)
{
    nnrti_line line;
    line.data = v != NULL ? nnrti_at(v->data, at, nnrt_type_size(v->dataType)) : NULL;
    line.step = v != NULL ? v->strides[axis] : 0;
    line.type = v != NULL ? v->dataType : NNRT_DATA_TYPE_UNKNOWN;
    line.rising = false;
    return line;
}

/* to[i] = from[k]; both have one type. Nothing happens when to is absent. */
static void nnrti_line_copy(const nnrti_line *to, int32_t i, const nnrti_line *from, int32_t k)
{
    size_t width = nnrt_type_size(to->type);
    const void *source;
    void *target;
    if (to->data == NULL)
        return;
    source = nnrti_at(from->data, k * from->step, width);
    target = nnrti_at(to->data, i * to->step, width);
    if (target != source)
        memcpy(target, source, width);
}

/* v without the extent of axis: walking it visits the first element of every line along axis. NULL stays NULL. */
static const nnrt_view *nnrti_starts(const nnrt_view *v, int32_t axis, nnrt_view *starts)
{
    if (v == NULL)
        return NULL;
    *starts = *v;
    starts->dims[axis] = 1;
    return starts;
}

/* What becomes of a line of L elements; y may be x. */
typedef void (*nnrti_line_function)(const void *attr, const nnrti_line *x, const nnrti_line *y, int32_t L,
                                    NNRT_DataType type);

/* Every line of y along axis = function of the line of x in its place. */
NNRTI_INLINE NNRT_ReturnCode nnrti_lines(const void *attr, const nnrt_view *x, nnrt_view *y, int32_t axis,
                                         NNRT_DataType type, nnrti_line_function function)
{
    const int32_t L = x->dims[axis];
    nnrt_view starts[2];
    nnrti_walk w;
    if (L == 0 || !nnrti_walk_first(&w, nnrti_starts(y, axis, &starts[0]), nnrti_starts(x, axis, &starts[1]), NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const nnrti_line from = nnrti_line_of(x, axis, w.at[1] + i * w.row[1]);
            const nnrti_line to = nnrti_line_of(y, axis, w.at[0] + i * w.row[0]);
            function(attr, &from, &to, L, type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* A sum of floats, and in rest what rounding has taken from it (Knuth's two-sum): together as good as rounded once. */
typedef struct nnrti_sum {
    float sum, rest;
} nnrti_sum;

static void nnrti_sum_add(nnrti_sum *s, float v)
{
    const float sum = s->sum + v, part = sum - s->sum;
    s->rest += (s->sum - (sum - part)) + (v - part);
    s->sum = sum;
}

/* An infinite sum leaves no meaningful rest. */
static float nnrti_sum_of(const nnrti_sum *s)
{
    return s->rest - s->rest == 0 ? s->sum + s->rest : s->sum;
}

/* A number that is the larger the further in front element i of x stands: in falling order, or in rising order. NaN is
   last in both. */
static uint64_t nnrti_top_order(const nnrti_line *x, int32_t i)
{
    const uint64_t order = nnrti_order(x->data, i * x->step, x->type);
    const bool isNan = order == 0 && x->type >= NNRT_DATA_TYPE_FLOAT16;
    return x->rising && !isNan ? ~order : order;
}

/* Whether element a of x stands behind element b: equal ones stand by rising position. */
static bool nnrti_behind(const nnrti_line *x, int32_t a, int32_t b)
{
    const uint64_t p = nnrti_top_order(x, a), q = nnrti_top_order(x, b);
    return p < q || (p == q && a > b);
}

/* heap[0..n) holds positions in x, none in front of those below it (2i+1, 2i+2), but for heap[0]: puts that in its place. */
static void nnrti_top_sift(const nnrti_line *x, int32_t *heap, int32_t n)
{
    const int32_t moved = heap[0];
    int32_t at = 0;
    for (int32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && nnrti_behind(x, heap[child + 1], heap[child]))
            child++;
        if (!nnrti_behind(x, heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* heap = positions of the count elements of x that are first in its order, the last of them on top. */
static void nnrti_top_heap(const nnrti_line *x, int32_t L, int32_t count, int32_t *heap)
{
    uint64_t least;
    for (int32_t k = 0; k < count; k++) { /* element k rises from the end of the heap */
        int32_t at = k;
        for (; at > 0 && nnrti_behind(x, k, heap[(at - 1) / 2]); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = k;
    }
    least = nnrti_top_order(x, heap[0]);
    for (int32_t k = count; k < L; k++) /* behind all of the heap where it is equal */
        if (nnrti_top_order(x, k) > least) {
            heap[0] = k;
            nnrti_top_sift(x, heap, count);
            least = nnrti_top_order(x, heap[0]);
        }
}

/* The position of the first element behind `last`; last -1: of the first of all. */
static int32_t nnrti_top_next(const nnrti_line *x, int32_t L, int32_t last)
{
    int32_t best = -1;
    for (int32_t k = 0; k < L; k++)
        if ((last < 0 || nnrti_behind(x, k, last)) && (best < 0 || nnrti_behind(x, best, k)))
            best = k;
    return best;
}

/* Entry i of the results: element k of x and its position. */
static void nnrti_top_put(const nnrti_line *x, int32_t k, const nnrti_line *values, const nnrti_line *indices,
                          int32_t i)
{
    nnrti_line_copy(values, i, x, k);
    if (indices->data != NULL)
        nnrti_store_int(indices->data, i * indices->step, (uint64_t)k, indices->type);
}

/* The count largest of the L elements of x, or smallest, count > 0: elements into values, positions into indices (one of
   the two may be absent). sorted: in falling (rising) order, equal ones by rising position, NaN last; otherwise by rising
   position. heap has room for count positions; NULL: each next one is looked for in all of x. */
static void nnrti_top(const nnrti_line *x, int32_t L, int32_t count, bool sorted, int32_t *heap,
                      const nnrti_line *values, const nnrti_line *indices)
{
    int32_t last = -1, n = 0;
    if (heap != NULL) {
        nnrti_top_heap(x, L, count, heap);
        last = heap[0];
    }
    for (int32_t i = 0; heap == NULL && i < count; i++) {
        last = nnrti_top_next(x, L, last);
        if (sorted)
            nnrti_top_put(x, last, values, indices, i);
    }
    for (int32_t i = count - 1; heap != NULL && sorted && i >= 0; i--) {
        nnrti_top_put(x, heap[0], values, indices, i);
        heap[0] = heap[i];
        nnrti_top_sift(x, heap, i);
    }
    for (int32_t k = 0; !sorted && k < L; k++)
        if (!nnrti_behind(x, k, last))
            nnrti_top_put(x, k, values, indices, n++);
}

/* order = positions of the count elements of x, count > 0, that are first in falling order, in that order. */
static void nnrti_top_sorted(const nnrti_line *x, int32_t L, int32_t count, int32_t *order)
{
    nnrti_top_heap(x, L, count, order);
    for (int32_t i = count - 1; i > 0; i--) {
        const int32_t last = order[0];
        order[0] = order[i];
        order[i] = last;
        nnrti_top_sift(x, order, i);
    }
}

/* The scratch of a call when it has at least so many bytes, else NULL. */
static void *nnrti_scratch(const nnrt_call *call, size_t bytes)
{
    return call != NULL && call->scratchBytes >= bytes ? call->scratch : NULL;
}

/* The count largest (rising: smallest) elements of every line of x along axis: nnrti_top into values and positions into
   indices, either of which may be NULL. */
static NNRT_ReturnCode nnrti_top_lines(const nnrt_view *x, int32_t axis, int32_t count, bool rising, bool sorted,
                                       const nnrt_view *values, const nnrt_view *indices, const nnrt_call *call)
{
    int32_t *heap = (int32_t *)nnrti_scratch(call, (size_t)count * sizeof(*heap));
    nnrt_view starts[3];
    nnrti_walk w;
    if (count == 0 || !nnrti_walk_first(&w, nnrti_starts(x, axis, &starts[0]), nnrti_starts(values, axis, &starts[1]),
                                        nnrti_starts(indices, axis, &starts[2])))
        return NNRT_SUCCESS;
    do {
        for (int32_t i = 0; i < w.count; i++) {
            const nnrti_line top = nnrti_line_of(values, axis, w.at[1] + i * w.row[1]);
            const nnrti_line at = nnrti_line_of(indices, axis, w.at[2] + i * w.row[2]);
            nnrti_line line = nnrti_line_of(x, axis, w.at[0] + i * w.row[0]);
            line.rising = rising;
            nnrti_top(&line, x->dims[axis], count, sorted, heap, &top, &at);
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* first <= i < end: the cells of a window of k cells from start on that lie inside an axis of extent L. */
typedef struct nnrti_cells {
    int32_t first, end;
} nnrti_cells;

static nnrti_cells nnrti_cells_of(int64_t start, int64_t k, int32_t L)
{
    nnrti_cells cells;
    cells.first = start > 0 ? (int32_t)start : 0;
    cells.end = start + k < L ? (int32_t)(start + k) : L;
    return cells;
}

/* Cells first <= i < end of a window along an axis of extent L: cell i, at start + i*d, lies inside. */
static NNRTI_UNUSED nnrti_cells nnrti_cells_apart(int64_t start, int64_t k, int64_t d, int64_t L)
{
    const int64_t end = start < L ? nnrti_quotient(L - 1 - start, d) + 1 : 0;
    nnrti_cells cells;
    cells.first = start < 0 ? (int32_t)nnrti_quotient(d - 1 - start, d) : 0;
    cells.end = (int32_t)(end < k ? end : k);
    cells.first = cells.first < cells.end ? cells.first : cells.end;
    return cells;
}

/* Offset of the element at place[0], place[1], .. of v. */
static NNRTI_UNUSED ptrdiff_t nnrti_offset(const nnrt_view *v, const int32_t *place)
{
    ptrdiff_t at = 0;
    for (int32_t i = 0; i < v->rank; i++)
        at += place[i] * v->strides[i];
    return at;
}

/* The next place in v, the last axis fastest; false behind the last one. */
static NNRTI_UNUSED bool nnrti_next_place(const nnrt_view *v, int32_t *place)
{
    int32_t axis = v->rank - 1;
    while (axis >= 0 && ++place[axis] == v->dims[axis])
        place[axis--] = 0;
    return axis >= 0;
}

/* Where a window lies: image n, its channels from c on, the cells of rows and columns. */
typedef struct nnrti_window_at {
    int32_t n, c;
    nnrti_cells rows, columns;
} nnrti_window_at;

/* best[t] = the largest cell of channel c + t, t < count. NaN is largest. */
NNRTI_INLINE void nnrti_max_cells(const nnrt_view *x, const nnrti_window_at *m, int32_t count, float *best,
                                  NNRT_DataType type)
{
    const ptrdiff_t first = nnrti_place(x, m->n, m->rows.first, m->columns.first, m->c);
    for (int32_t t = 0; t < count; t++)
        best[t] = nnrti_load(x->data, first + t * x->strides[3], type);
    for (int32_t h = m->rows.first; h < m->rows.end; h++)
        for (int32_t w = m->columns.first; w < m->columns.end; w++) {
            const ptrdiff_t in = nnrti_place(x, m->n, h, w, m->c);
            for (int32_t t = 0; t < count; t++) {
                const float v = nnrti_load(x->data, in + t * x->strides[3], type);
                const float larger = v > best[t] ? v : best[t];
                best[t] = v == v ? larger : v;
            }
        }
}

/* Position h*W + w of the first cell of channel c + t that equals best, or is NaN when best is. */
NNRTI_INLINE int64_t nnrti_max_position(const nnrt_view *x, const nnrti_window_at *m, int32_t t, float best,
                                        NNRT_DataType type)
{
    for (int32_t h = m->rows.first; h < m->rows.end; h++)
        for (int32_t w = m->columns.first; w < m->columns.end; w++) {
            const float v = nnrti_load(x->data, nnrti_place(x, m->n, h, w, m->c + t), type);
            if (v == best || (v != v && best != best))
                return (int64_t)h * x->dims[2] + w;
        }
    return 0;
}

/* y[n,p,q,..] = act(sum of the window's cells / cells) for all channels; m->n is n, `at` the element y[n,p,q,0]. The sum
   runs over rows, then columns. Up to 16 channels are summed side by side; that changes no sum. */
NNRTI_INLINE void nnrti_average(const nnrt_view *x, const nnrti_window_at *m, float cells,
                                NNRT_ActivationType activation, nnrt_view *y, ptrdiff_t at, NNRT_DataType type)
{
    for (int32_t c = 0; c < y->dims[3]; c += 16) {
        const int32_t count = y->dims[3] - c < 16 ? y->dims[3] - c : 16;
        float sum[16] = {0};
        for (int32_t h = m->rows.first; h < m->rows.end; h++)
            for (int32_t w = m->columns.first; w < m->columns.end; w++) {
                const ptrdiff_t in = nnrti_place(x, m->n, h, w, c);
                for (int32_t t = 0; t < count; t++)
                    sum[t] += nnrti_load(x->data, in + t * x->strides[3], type);
            }
        for (int32_t t = 0; t < count; t++)
            nnrti_store(y->data, at + (c + t) * y->strides[3], nnrti_activate(sum[t] / cells, activation), type);
    }
}

/* The largest cell of the window, for all channels, into y[n,p,q,..] and its position h*W + w into indices[n,p,q,..]; one
   of the two may be NULL. */
NNRTI_INLINE void nnrti_largest(const nnrt_view *x, nnrti_window_at *m, int32_t p, int32_t q,
                                NNRT_ActivationType activation, nnrt_view *y, nnrt_view *indices, NNRT_DataType type)
{
    for (m->c = 0; m->c < x->dims[3]; m->c += 16) {
        const int32_t count = x->dims[3] - m->c < 16 ? x->dims[3] - m->c : 16;
        float best[16];
        nnrti_max_cells(x, m, count, best, type);
        for (int32_t t = 0; t < count; t++) {
            if (y != NULL)
                nnrti_store(y->data, nnrti_place(y, m->n, p, q, m->c + t), nnrti_activate(best[t], activation), type);
            if (indices != NULL)
                nnrti_store_int(indices->data, nnrti_place(indices, m->n, p, q, m->c + t),
                                (uint64_t)nnrti_max_position(x, m, t, best[t], type), indices->dataType);
        }
    }
}

/* The cells that make the value of an image [N,H,W,C] at a place between cells, and their weights. */
typedef struct nnrti_corners {
    int32_t count;
    ptrdiff_t at[4]; /* elements behind that of row 0, column 0 */
    float weight[4];
} nnrti_corners;

/* Bilinear interpolation at row h, column w: the four cells around, upper ones first, left before right. What lies outside
   x counts as 0, as a place that is no number does; of weight 0 is left out. */
static NNRTI_UNUSED nnrti_corners nnrti_corners_of(const nnrt_view *x, float h, float w)
{
    nnrti_corners s;
    int32_t row, column;
    memset(&s, 0, sizeof(s));
    if (!(h > -1 && h < (float)x->dims[1] && w > -1 && w < (float)x->dims[2]))
        return s;
    row = (int32_t)nnrti_floorf(h);
    column = (int32_t)nnrti_floorf(w);
    h -= (float)row;
    w -= (float)column;
    for (int32_t i = 0; i < 2; i++)
        for (int32_t j = 0; j < 2; j++) {
            const float weight = (i == 0 ? 1 - h : h) * (j == 0 ? 1 - w : w);
            if (row + i < 0 || row + i >= x->dims[1] || column + j < 0 || column + j >= x->dims[2] || weight == 0)
                continue;
            s.at[s.count] = (row + i) * x->strides[1] + (column + j) * x->strides[2];
            s.weight[s.count++] = weight;
        }
    return s;
}

/* The weighted sum of the cells, in their order; `at` is row 0, column 0 of an image and channel. */
NNRTI_INLINE float nnrti_at_corners(const nnrt_view *x, ptrdiff_t at, const nnrti_corners *s, NNRT_DataType type)
{
    float sum = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const float v = nnrti_load(x->data, at + s->at[i], type) * s->weight[i];
        sum = i == 0 ? v : sum + v;
    }
    return sum;
}

/* Intersection / union of two boxes of two lower and two upper bounds; `more` is added to each of their edges. 0 where one
   box ends before the other begins, or there is no area. */
static NNRTI_UNUSED float nnrti_overlap(const float a[4], const float b[4], float more)
{
    float edge[2], both, all;
    for (int32_t k = 0; k < 2; k++)
        edge[k] = (a[k + 2] < b[k + 2] ? a[k + 2] : b[k + 2]) - (a[k] > b[k] ? a[k] : b[k]);
    if (!(edge[0] >= 0 && edge[1] >= 0))
        return 0;
    both = (edge[0] + more) * (edge[1] + more);
    all = (a[2] - a[0] + more) * (a[3] - a[1] + more) + (b[2] - b[0] + more) * (b[3] - b[1] + more) - both;
    return all > 0 ? both / all : 0;
}

/* The activation functions of nnrti_activate in float64. */
static NNRTI_UNUSED double nnrti_activate_f64(double v, NNRT_ActivationType type)
{
    const double size = v < 0 ? -v : v;
    switch (type) {
    case NNRT_ACTIVATION_TYPE_RELU: return v > 0 || v != v ? v : 0.0;
    case NNRT_ACTIVATION_TYPE_SIGMOID: return 1.0 / (1.0 + nnrti_exp(-v));
    case NNRT_ACTIVATION_TYPE_RELU6: return v > 6 ? 6.0 : v > 0 || v != v ? v : 0.0;
    case NNRT_ACTIVATION_TYPE_ABS: return v > 0 ? v : 0.0 - v;
    case NNRT_ACTIVATION_TYPE_RELU1: return v > 1 ? 1.0 : v > 0 || v != v ? v : 0.0;
    case NNRT_ACTIVATION_TYPE_SOFTSIGN: return v > DBL_MAX ? 1.0 : v < -DBL_MAX ? -1.0 : v / (1.0 + size);
    case NNRT_ACTIVATION_TYPE_SOFTPLUS: return (v > 0 ? v : 0.0) + nnrti_log(1.0 + nnrti_exp(-size));
    case NNRT_ACTIVATION_TYPE_TANH: return nnrti_tanh(v);
    case NNRT_ACTIVATION_TYPE_SELU: return 1.05070098 * (v >= 0 ? v : 1.67326324 * (nnrti_exp(v) - 1.0));
    case NNRT_ACTIVATION_TYPE_HSWISH: return v <= -3 ? 0.0 : v >= 3 ? v : v * (v + 3.0) / 6.0;
    case NNRT_ACTIVATION_TYPE_HSIGMOID: return v <= -3 ? 0.0 : v >= 3 ? 1.0 : (v + 3.0) / 6.0;
    case NNRT_ACTIVATION_TYPE_SIGN: return v > 0 ? 1.0 : v < 0 ? -1.0 : v;
    case NNRT_ACTIVATION_TYPE_SWISH: return v < -DBL_MAX ? 0.0 : v / (1.0 + nnrti_exp(-v));
    case NNRT_ACTIVATION_TYPE_GELU: return v < -DBL_MAX ? 0.0 : 0.5 * v * (1.0 + nnrti_erf(v * 0.70710678118654752));
    default: return v; /* NO_ACTIVATION, LINEAR */
    }
}

/* Element-wise operators of two inputs: nnrti_walk goes over z, x and y, and a row function computes the current row.
   What the row functions of all types have in common is the loop, so it is written once, as a macro. It expects the
   names of nnrti_row: w, x, y, z. Z and T are the element types of z and of x and y; W is the type computed in,
   `load` makes a W of a T. value is an expression in a and b, the elements of x and y. Both are read before the
   element of z is written, so z may lie where x or y lies. */
#define NNRTI_ROW(Z, T, W, load, value)                                                                                \
    {                                                                                                                  \
        Z *zs = (Z *)z->data + w->at[0];                                                                               \
        const T *xs = (const T *)x->data + w->at[1], *ys = (const T *)y->data + w->at[2];                              \
        for (int32_t i = 0; i < w->count; i++) {                                                                       \
            const W a = load(xs[i * w->row[1]]), b = load(ys[i * w->row[2]]);                                          \
            zs[i * w->row[0]] = (Z)(value);                                                                            \
        }                                                                                                              \
        break;                                                                                                         \
    }
#define NNRTI_ROW_CASE(name, Z, T, W, load, value)                                                                     \
    case NNRT_DATA_TYPE_##name: NNRTI_ROW(Z, T, W, load, value)

/* The integer types: R(NAME, type, unsigned type of its width, least, greatest value). */
#define NNRTI_INT_TYPES(R)                                                                                             \
    R(INT8, int8_t, uint8_t, INT8_MIN, INT8_MAX)                                                                       \
    R(INT16, int16_t, uint16_t, INT16_MIN, INT16_MAX)                                                                  \
    R(INT32, int32_t, uint32_t, INT32_MIN, INT32_MAX)                                                                  \
    R(INT64, int64_t, uint64_t, INT64_MIN, INT64_MAX)                                                                  \
    R(UINT8, uint8_t, uint8_t, 0, UINT8_MAX)                                                                           \
    R(UINT16, uint16_t, uint16_t, 0, UINT16_MAX)                                                                       \
    R(UINT32, uint32_t, uint32_t, 0, UINT32_MAX)                                                                       \
    R(UINT64, uint64_t, uint64_t, 0, UINT64_MAX)

/* + - * of integers wrap modulo 2^n. The bits of the result are those of the unsigned operation, which C defines; types
   below 32 bits compute in 32, for two uint16_t would multiply as int. */
#define NNRTI_ROWS_WRAP(value)                                                                                         \
    case NNRT_DATA_TYPE_INT8:                                                                                          \
    case NNRT_DATA_TYPE_UINT8: NNRTI_ROW(uint8_t, uint8_t, uint32_t, (uint32_t), value)                                \
    case NNRT_DATA_TYPE_INT16:                                                                                         \
    case NNRT_DATA_TYPE_UINT16: NNRTI_ROW(uint16_t, uint16_t, uint32_t, (uint32_t), value)                             \
    case NNRT_DATA_TYPE_INT32:                                                                                         \
    case NNRT_DATA_TYPE_UINT32: NNRTI_ROW(uint32_t, uint32_t, uint32_t, (uint32_t), value)                             \
    case NNRT_DATA_TYPE_INT64:                                                                                         \
    case NNRT_DATA_TYPE_UINT64: NNRTI_ROW(uint64_t, uint64_t, uint64_t, (uint64_t), value)

/* float16 computes in float32; its fused activation acts here, before the result is rounded. */
#define NNRTI_ROW_HALF(value, activation)                                                                              \
    NNRTI_ROW_CASE(FLOAT16, uint16_t, uint16_t, float, nnrti_half_to_float,                                            \
                   nnrti_half_from_float(nnrti_activate((float)(value), activation)))
#define NNRTI_ROWS_FLOAT(value, activation)                                                                            \
    NNRTI_ROW_CASE(FLOAT32, float, float, float, (float), value)                                                       \
    NNRTI_ROW_CASE(FLOAT64, double, double, double, (double), value)                                                   \
    NNRTI_ROW_HALF(value, activation)

/* The current row of walk w for float32. The frequent steps stand apart, so that compilers can vectorise them. */
#define NNRTI_ROW_F32(w, x, y, z, value)                                                                               \
    {                                                                                                                  \
        float *zs = (float *)(z)->data + (w).at[0];                                                                    \
        const float *xs = (const float *)(x)->data + (w).at[1], *ys = (const float *)(y)->data + (w).at[2];            \
        if ((w).row[0] == 1 && (w).row[1] == 1 && (w).row[2] == 1) {                                                   \
            for (int32_t i = 0; i < (w).count; i++) {                                                                  \
                const float a = xs[i], b = ys[i];                                                                      \
                zs[i] = value;                                                                                         \
            }                                                                                                          \
        } else if ((w).row[0] == 1 && (w).row[1] == 1 && (w).row[2] == 0) {                                            \
            const float b = ys[0];                                                                                     \
            for (int32_t i = 0; i < (w).count; i++) {                                                                  \
                const float a = xs[i];                                                                                 \
                zs[i] = value;                                                                                         \
            }                                                                                                          \
        } else if ((w).row[0] == 1 && (w).row[1] == 0 && (w).row[2] == 1) {                                            \
            const float a = xs[0];                                                                                     \
            for (int32_t i = 0; i < (w).count; i++) {                                                                  \
                const float b = ys[i];                                                                                 \
                zs[i] = value;                                                                                         \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int32_t i = 0; i < (w).count; i++) {                                                                  \
                const float a = xs[i * (w).row[1]], b = ys[i * (w).row[2]];                                            \
                zs[i * (w).row[0]] = value;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Fused activation over the current row of a float32 z. */
static NNRTI_UNUSED void nnrti_activate_row_f32(const nnrti_walk *w, nnrt_view *z, NNRT_ActivationType type)
{
    float *v = (float *)z->data + w->at[0];
    if (type == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || type == NNRT_ACTIVATION_TYPE_LINEAR)
        return;
    for (int32_t i = 0; i < w->count; i++, v += w->row[0])
        *v = nnrti_activate(*v, type);
}

/* Fused activation over the current row of z, of any type but float16, whose rows do it themselves. Integers know RELU,
   RELU6 and RELU1, which leave a bool as it is. */
static NNRTI_UNUSED void nnrti_activate_row(const nnrti_walk *w, nnrt_view *z, NNRT_ActivationType type)
{
    if (type == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || type == NNRT_ACTIVATION_TYPE_LINEAR)
        return;
    switch (z->dataType) {
#define NNRTI_CLAMP_ROW(name, T, U, least, greatest)                                                                   \
    case NNRT_DATA_TYPE_##name: {                                                                                      \
        T *v = (T *)z->data + w->at[0], top = greatest;                                                                \
        if (type == NNRT_ACTIVATION_TYPE_RELU6)                                                                        \
            top = 6;                                                                                                   \
        else if (type == NNRT_ACTIVATION_TYPE_RELU1)                                                                   \
            top = 1;                                                                                                   \
        for (int32_t i = 0; i < w->count; i++, v += w->row[0])                                                         \
            *v = (T)(*v > top ? top : *v > 0 ? *v : 0);                                                                \
        break;                                                                                                         \
    }
        NNRTI_INT_TYPES(NNRTI_CLAMP_ROW)
    case NNRT_DATA_TYPE_FLOAT32: nnrti_activate_row_f32(w, z, type); break;
    case NNRT_DATA_TYPE_FLOAT64: {
        double *v = (double *)z->data + w->at[0];
        for (int32_t i = 0; i < w->count; i++, v += w->row[0])
            *v = nnrti_activate_f64(*v, type);
        break;
    }
    default: break;
    }
}

/* A row function: elements w->at[0] + i*w->row[0] of z from those of x and y, i < w->count. */
typedef void (*nnrti_row)(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                          NNRT_ActivationType activation);

/* z = activation(row(x, y)), x and y broadcast to the dims of z. */
static NNRTI_UNUSED void nnrti_binary(const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                      NNRT_ActivationType activation, nnrti_row row)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return;
    do {
        row(&w, x, y, z, activation);
        nnrti_activate_row(&w, z, activation);
    } while (nnrti_walk_next(&w));
}

/* x + y of any type; bools are added as integers, and what is not zero is true. */
static NNRTI_UNUSED void nnrti_add_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                       NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_WRAP(a + b)
        NNRTI_ROWS_FLOAT(a + b, activation)
        NNRTI_ROW_CASE(BOOL, uint8_t, uint8_t, uint32_t, (uint32_t), (a | b) != 0)
    default: break;
    }
}

/* x * y of any type. */
static NNRTI_UNUSED void nnrti_mul_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                       NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_WRAP(a * b)
        NNRTI_ROWS_FLOAT(a * b, activation)
        NNRTI_ROW_CASE(BOOL, uint8_t, uint8_t, uint32_t, (uint32_t), a != 0 && b != 0)
    default: break;
    }
}

/* x > y ? x : y of numbers. */
static NNRTI_UNUSED void nnrti_max_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                       NNRT_ActivationType activation)
{
    switch (z->dataType) {
#define NNRTI_MAX_ROW(name, T, U, least, greatest) NNRTI_ROW_CASE(name, T, T, T, (T), a > b ? a : b)
        NNRTI_INT_TYPES(NNRTI_MAX_ROW)
        NNRTI_ROWS_FLOAT(a > b ? a : b, activation)
    default: break;
    }
}

/* Division of integers, rows of every type: value, an expression in a and b, and b is not 0. least / -1 has no result
   in C: where b is -1 the row has `wrapped`, modulo 2^n. */
#define NNRTI_ROWS_DIVIDE(wrapped, value)                                                                              \
    NNRTI_DIVIDE_CASE(INT8, int8_t, uint8_t, wrapped, value)                                                           \
    NNRTI_DIVIDE_CASE(INT16, int16_t, uint16_t, wrapped, value)                                                        \
    NNRTI_DIVIDE_CASE(INT32, int32_t, uint32_t, wrapped, value)                                                        \
    NNRTI_DIVIDE_CASE(INT64, int64_t, uint64_t, wrapped, value)                                                        \
    NNRTI_ROW_CASE(UINT8, uint8_t, uint8_t, uint8_t, (uint8_t), value)                                                 \
    NNRTI_ROW_CASE(UINT16, uint16_t, uint16_t, uint16_t, (uint16_t), value)                                            \
    NNRTI_ROW_CASE(UINT32, uint32_t, uint32_t, uint32_t, (uint32_t), value)                                            \
    NNRTI_ROW_CASE(UINT64, uint64_t, uint64_t, uint64_t, (uint64_t), value)
#define NNRTI_DIVIDE_CASE(name, T, U, wrapped, value)                                                                  \
    NNRTI_ROW_CASE(name, U, T, T, (T), b == -1 ? (U)(wrapped) : (U)(value))

/* The number of the first element of v, integers or bools, that is 0; -1 when there is none. */
static NNRTI_UNUSED int64_t nnrti_div_zero(const nnrt_view *v)
{
    static const uint8_t zero[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const size_t width = nnrt_type_size(v->dataType);
    int64_t n = 0;
    nnrti_walk w;
    if (!nnrti_walk_first(&w, v, NULL, NULL))
        return -1;
    do
        for (int32_t i = 0; i < w.count; i++, n++)
            if (nnrti_same(nnrti_at(v->data, w.at[0] + i * w.row[0], width), zero, width))
                return n;
    while (nnrti_walk_next(&w));
    return -1;
}

/* nnrti_binary of a row that divides x by y: a divisor 0 of integers or bools is NNRT_INVALID_PARAMETER, and z is not
   written then. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_divide(const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                                 NNRT_ActivationType activation, nnrti_row row, nnrt_call *call)
{
    const int64_t zero = z->dataType < NNRT_DATA_TYPE_FLOAT16 && !nnrti_empty(z) ? nnrti_div_zero(y) : -1;
    if (zero >= 0)
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "element %l of the divisor is 0, which %t cannot divide by",
                              zero, z->dataType);
    nnrti_binary(x, y, z, activation, row);
    return NNRT_SUCCESS;
}

/* The kernel nnrt_<fn> of an operator that says yes or no of two elements of one type: z = value, an expression in a
   and b, as bool. */
#define NNRTI_PREDICATE(S, fn, value)                                                                                  \
    static void nnrti_##fn##_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,            \
                                 NNRT_ActivationType activation)                                                       \
    {                                                                                                                  \
        (void)activation;                                                                                              \
        switch (x->dataType) {                                                                                         \
            NNRTI_PREDICATE_CASE(BOOL, uint8_t, value)                                                                 \
            NNRTI_PREDICATE_CASE(INT8, int8_t, value)                                                                  \
            NNRTI_PREDICATE_CASE(INT16, int16_t, value)                                                                \
            NNRTI_PREDICATE_CASE(INT32, int32_t, value)                                                                \
            NNRTI_PREDICATE_CASE(INT64, int64_t, value)                                                                \
            NNRTI_PREDICATE_CASE(UINT8, uint8_t, value)                                                                \
            NNRTI_PREDICATE_CASE(UINT16, uint16_t, value)                                                              \
            NNRTI_PREDICATE_CASE(UINT32, uint32_t, value)                                                              \
            NNRTI_PREDICATE_CASE(UINT64, uint64_t, value)                                                              \
            NNRTI_PREDICATE_CASE(FLOAT32, float, value)                                                                \
            NNRTI_PREDICATE_CASE(FLOAT64, double, value)                                                               \
            NNRTI_ROW_CASE(FLOAT16, uint8_t, uint16_t, float, nnrti_half_to_float, value)                              \
        default: break;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    NNRT_API NNRT_ReturnCode nnrt_##fn(const NNRT_##S *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)     \
    {                                                                                                                  \
        (void)attr;                                                                                                    \
        nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_##fn##_row);                                   \
        return NNRT_SUCCESS;                                                                                           \
    }
#define NNRTI_PREDICATE_CASE(name, T, value) NNRTI_ROW_CASE(name, uint8_t, T, T, (T), value)

/* The kernel nnrt_<fn> of an operator on the bits of integers: z = value, an expression in a and b. */
#define NNRTI_BITWISE(S, fn, value)                                                                                    \
    static void nnrti_##fn##_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,            \
                                 NNRT_ActivationType activation)                                                       \
    {                                                                                                                  \
        (void)activation;                                                                                              \
        switch (z->dataType) {                                                                                         \
            NNRTI_ROWS_WRAP(value)                                                                                     \
        default: break;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    NNRT_API NNRT_ReturnCode nnrt_##fn(const NNRT_##S *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)     \
    {                                                                                                                  \
        (void)attr;                                                                                                    \
        nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_##fn##_row);                                   \
        return NNRT_SUCCESS;                                                                                           \
    }

/* y = f(x) element by element, in float64 g(x); x and y of one shape and of the given type. y may lie where x lies. */
NNRTI_INLINE NNRT_ReturnCode nnrti_map(const nnrt_view *x, nnrt_view *y, NNRT_DataType type, float (*f)(float),
                                       double (*g)(double))
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t from = w.at[1] + i * w.row[1], to = w.at[0] + i * w.row[0];
            if (type == NNRT_DATA_TYPE_FLOAT64)
                ((double *)y->data)[to] = g(((const double *)x->data)[from]);
            else
                nnrti_store(y->data, to, f(nnrti_load(x->data, from, type)), type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* The kernels of an operator that is a function of one number: nnrt_<fn>_f32, _f16, _f64. */
#define NNRTI_UNARY(S, fn, f, g)                                                                                       \
    NNRTI_UNARY_OF(S, fn##_f32, FLOAT32, f, g)                                                                         \
    NNRTI_UNARY_OF(S, fn##_f16, FLOAT16, f, g) NNRTI_UNARY_OF(S, fn##_f64, FLOAT64, f, g)
#define NNRTI_UNARY_OF(S, fn, type, f, g)                                                                              \
    NNRT_API NNRT_ReturnCode nnrt_##fn(const NNRT_##S *attr, const nnrt_view *x, nnrt_view *y)                         \
    {                                                                                                                  \
        (void)attr;                                                                                                    \
        return nnrti_map(x, y, NNRT_DATA_TYPE_##type, f, g);                                                           \
    }

/* The same of functions with parameters: y = f(x, p, q). */
NNRTI_INLINE NNRT_ReturnCode nnrti_map_with(const nnrt_view *x, nnrt_view *y, NNRT_DataType type, float p, float q,
                                            float (*f)(float, float, float), double (*g)(double, double, double))
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t from = w.at[1] + i * w.row[1], to = w.at[0] + i * w.row[0];
            if (type == NNRT_DATA_TYPE_FLOAT64)
                ((double *)y->data)[to] = g(((const double *)x->data)[from], (double)p, (double)q);
            else
                nnrti_store(y->data, to, f(nnrti_load(x->data, from, type), p, q), type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* Its kernels; p and q are made of attr. */
#define NNRTI_UNARY_WITH(S, fn, p, q, f, g)                                                                            \
    NNRTI_UNARY_WITH_OF(S, fn##_f32, FLOAT32, p, q, f, g)                                                              \
    NNRTI_UNARY_WITH_OF(S, fn##_f16, FLOAT16, p, q, f, g) NNRTI_UNARY_WITH_OF(S, fn##_f64, FLOAT64, p, q, f, g)
#define NNRTI_UNARY_WITH_OF(S, fn, type, p, q, f, g)                                                                   \
    NNRT_API NNRT_ReturnCode nnrt_##fn(const NNRT_##S *attr, const nnrt_view *x, nnrt_view *y)                         \
    {                                                                                                                  \
        return nnrti_map_with(x, y, NNRT_DATA_TYPE_##type, p, q, f, g);                                                \
    }

/* y = the low bits of f(x), element by element, for integers: f gets x as 64 bits, sign and all. */
NNRTI_INLINE NNRT_ReturnCode nnrti_map_int(const nnrt_view *x, nnrt_view *y, uint64_t (*f)(uint64_t))
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++)
            nnrti_store_int(y->data, w.at[0] + i * w.row[0],
                            f(nnrti_load_int(x->data, w.at[1] + i * w.row[1], x->dataType)), y->dataType);
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* The kernel of such an operator for integers: nnrt_<fn>_int. */
#define NNRTI_UNARY_INT(S, fn, f)                                                                                      \
    NNRT_API NNRT_ReturnCode nnrt_##fn##_int(const NNRT_##S *attr, const nnrt_view *x, nnrt_view *y)                   \
    {                                                                                                                  \
        (void)attr;                                                                                                    \
        return nnrti_map_int(x, y, f);                                                                                 \
    }

/* Floats that are not finite numbers, a bit each. */
#define NNRTI_CLASS_NAN 1u
#define NNRTI_CLASS_INF 2u
#define NNRTI_CLASS_MINUS_INF 4u

/* y = x is of one of these classes, element by element: x of floats, y bool. The bits but for the sign tell. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_map_class(const nnrt_view *x, nnrt_view *y, uint32_t classes)
{
    const bool half = x->dataType == NNRT_DATA_TYPE_FLOAT16, wide = x->dataType == NNRT_DATA_TYPE_FLOAT64;
    const uint64_t sign = (uint64_t)1 << 63, inf = (uint64_t)(half ? 0x7c00u : wide ? 0x7ff0u : 0x7f80u) << 48;
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t from = w.at[1] + i * w.row[1];
            const uint64_t bits = half   ? (uint64_t)((const uint16_t *)x->data)[from] << 48
                                  : wide ? ((const uint64_t *)x->data)[from]
                                         : (uint64_t)((const uint32_t *)x->data)[from] << 32;
            const uint64_t size = bits & ~sign;
            const uint32_t is = size < inf     ? 0u
                                : size > inf   ? NNRTI_CLASS_NAN
                                : bits != size ? NNRTI_CLASS_MINUS_INF
                                               : NNRTI_CLASS_INF;
            ((uint8_t *)y->data)[w.at[0] + i * w.row[0]] = (is & classes) != 0;
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

#define NNRTI_CHUNK 64 /* elements that a conversion keeps on the stack */

/* v toward zero, kept inside [least, greatest]; NaN gives 0. */
static NNRTI_UNUSED int64_t nnrti_saturate(double v, int64_t least, int64_t greatest)
{
    if (v != v)
        return 0;
    return v <= (double)least ? least : v >= (double)greatest ? greatest : (int64_t)v;
}

static NNRTI_UNUSED uint64_t nnrti_saturate_u64(double v)
{
    return v >= 18446744073709551616.0 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0;
}

/* out[i] = element i of x as float64, n <= NNRTI_CHUNK; step elements apart. Integers beyond 2^53 are rounded. */
static NNRTI_UNUSED void nnrti_read_f64(double *out, const void *x, ptrdiff_t step, int32_t n, NNRT_DataType type)
{
    switch (type) {
#define NNRTI_READ_F64(name, T, U, least, greatest)                                                                    \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t i = 0; i < n; i++)                                                                                \
            out[i] = (double)((const T *)x)[i * step];                                                                 \
        break;
        NNRTI_INT_TYPES(NNRTI_READ_F64)
        NNRTI_READ_F64(FLOAT32, float, _, _, _)
        NNRTI_READ_F64(FLOAT64, double, _, _, _)
    case NNRT_DATA_TYPE_FLOAT16:
        for (int32_t i = 0; i < n; i++)
            out[i] = (double)nnrti_half_to_float(((const uint16_t *)x)[i * step]);
        break;
    default: break;
    }
}

/* Element i of z = in[i]: toward zero and saturating for integers, rounded for floats, != 0 for bool. */
static NNRTI_UNUSED void nnrti_write_f64(void *z, ptrdiff_t step, const double *in, int32_t n, NNRT_DataType type)
{
#define NNRTI_WRITE_F64(name, T, value)                                                                                \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t i = 0; i < n; i++)                                                                                \
            ((T *)z)[i * step] = (T)(value);                                                                           \
        break;
    switch (type) {
        NNRTI_WRITE_F64(BOOL, uint8_t, in[i] != 0)
        NNRTI_WRITE_F64(INT8, int8_t, nnrti_saturate(in[i], INT8_MIN, INT8_MAX))
        NNRTI_WRITE_F64(INT16, int16_t, nnrti_saturate(in[i], INT16_MIN, INT16_MAX))
        NNRTI_WRITE_F64(INT32, int32_t, nnrti_saturate(in[i], INT32_MIN, INT32_MAX))
        NNRTI_WRITE_F64(INT64, int64_t, nnrti_saturate(in[i], INT64_MIN, INT64_MAX))
        NNRTI_WRITE_F64(UINT8, uint8_t, nnrti_saturate(in[i], 0, UINT8_MAX))
        NNRTI_WRITE_F64(UINT16, uint16_t, nnrti_saturate(in[i], 0, UINT16_MAX))
        NNRTI_WRITE_F64(UINT32, uint32_t, nnrti_saturate(in[i], 0, UINT32_MAX))
        NNRTI_WRITE_F64(UINT64, uint64_t, nnrti_saturate_u64(in[i]))
        NNRTI_WRITE_F64(FLOAT16, uint16_t, nnrti_half_from_double(in[i]))
        NNRTI_WRITE_F64(FLOAT32, float, in[i])
        NNRTI_WRITE_F64(FLOAT64, double, in[i])
    default: break;
    }
}

/* ---- quantised arithmetic (rules of TensorFlow Lite for Microcontrollers: a product is rounded twice)

   q: stored integer, z: zero point, s: scale, which counts as float32; real = s * (q - z). Scales meet in a factor d
   only, which the rule turns into two int32 numbers {m, e}, d = m * 2^(e - 31): a run has integers alone. */

/* floor(x / 2^n), n < 64. */
NNRTI_INLINE int64_t nnrti_shift_down(int64_t x, int32_t n)
{
    return x < 0 ? ~(~x >> n) : x >> n;
}

/* x / 2^n, halves away from zero; beyond n = 32 it is 0. |x| < 2^62. */
NNRTI_INLINE int64_t nnrti_shift_round(int64_t x, int32_t n)
{
    return n == 0 ? x : n > 32 ? 0 : nnrti_shift_down(x + ((int64_t)1 << (n - 1)) - (x < 0 ? 1 : 0), n);
}

/* x, or the end of int32 that is nearest. */
NNRTI_INLINE int32_t nnrti_to_int32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

/* a * b / 2^31, halves up. */
NNRTI_INLINE int32_t nnrti_high_product(int32_t a, int32_t b)
{
    return nnrti_to_int32(nnrti_shift_down((int64_t)a * b + ((int64_t)1 << 30), 31));
}

/* factor = {m, e}: |d| = m * 2^(e - 31), 2^30 <= m < 2^31, the nearest, halves away from zero. Below 2^-32 {0, 0}; from
   2^31 on, infinity included, {2^31 - 1, 31}. Of d < 0 the m is negative. */
static void nnrti_factor(double d, int32_t factor[2])
{
    const uint64_t u = nnrti_bits_of_double(d);
    int64_t m = (int64_t)(((u & (((uint64_t)1 << 52) - 1u)) + ((uint64_t)1 << 52) + (1u << 21)) >> 22);
    int32_t e = (int32_t)(u >> 52 & 0x7ffu) - 1022;
    if (m > INT32_MAX) {
        m = (int64_t)1 << 30;
        e++;
    }
    if (e < -31) {
        m = 0;
        e = 0;
    } else if (e > 31) {
        m = INT32_MAX;
        e = 31;
    }
    factor[0] = (int32_t)(d < 0 ? -m : m);
    factor[1] = e;
}

/* x * d for factor = {m, e} of d: x * 2^e for e > 0, kept in int32, times m, rounded to a multiple of 2^31 with halves
   up, then for e < 0 by the rest with halves away from zero. An x outside int32 is halved before, rounded down, until
   it fits. For m < 0 it is -(x * -d). */
NNRTI_INLINE int32_t nnrti_rescale(int64_t x, const int32_t factor[2])
{
    const int32_t m = factor[0];
    int32_t e = factor[1], y;
    for (; x < INT32_MIN || x > INT32_MAX; e++)
        x = nnrti_shift_down(x, 1);
    if (e > 0)
        x = nnrti_to_int32(x * ((int64_t)1 << (e < 31 ? e : 31)));
    y = nnrti_high_product((int32_t)x, m < 0 ? -m : m);
    y = e < 0 ? (int32_t)nnrti_shift_round(y, -e) : y;
    return m < 0 ? -y : y;
}

/* What the rule derives for a quantised kernel is a list of int32: zero point, least and greatest of the result, then
   the factors, two numbers each. */
#define NNRTI_QUANT_FACTORS 3 /* where they begin */

/* The result whose real value is x * s: x + z within its bounds. quant is that list. */
NNRTI_INLINE int32_t nnrti_quant_result(int64_t x, const int32_t *quant)
{
    x += quant[0];
    return x < quant[1] ? quant[1] : x > quant[2] ? quant[2] : (int32_t)x;
}

/* Element i of int8 or uint8 data. */
NNRTI_INLINE int32_t nnrti_load_8(const void *data, ptrdiff_t i, NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_INT8 ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
}

/* Stores v, which lies in its range, into element i of int8 or uint8 data. */
NNRTI_INLINE void nnrti_store_8(void *data, ptrdiff_t i, int32_t v)
{
    ((uint8_t *)data)[i] = (uint8_t)v;
}

/* round(r / s) in float32, kept inside 10^9; NaN, and of an empty range all, is 0. */
static NNRTI_UNUSED int64_t nnrti_quant_real(float r, float s)
{
    const float v = s > 0 ? r / s : 0.0f;
    return v != v ? 0 : v > 1e9f ? 1000000000 : v < -1e9f ? -1000000000 : (int64_t)nnrti_round((double)v);
}

/* Bits of n: the least k with n < 2^k. */
static NNRTI_UNUSED int32_t nnrti_bit_count(uint64_t n)
{
    int32_t k = 0;
    for (; n > 0; n >>= 1)
        k++;
    return k;
}

/* 1 / (1 + a) with 29 fraction bits, of a with 31, 0 <= a < 1: Newton's iteration from 48/17 - 32/17 * (1 + a) / 2. */
static NNRTI_UNUSED int32_t nnrti_fixed_inverse(int32_t a)
{
    const int32_t half = (int32_t)(((int64_t)a + ((int64_t)1 << 31)) >> 1);
    int64_t x = (int64_t)1515870810 + nnrti_high_product(half, -1010580540);
    for (int32_t i = 0; i < 3; i++) {
        const int32_t v = nnrti_to_int32(x);
        x = (int64_t)v + nnrti_to_int32((int64_t)4 * nnrti_high_product(v, (1 << 29) - nnrti_high_product(half, v)));
    }
    return nnrti_to_int32(x);
}

/* The same with 31 fraction bits. */
static NNRTI_UNUSED int32_t nnrti_fixed_reciprocal(int32_t a)
{
    return nnrti_to_int32((int64_t)2 * nnrti_fixed_inverse(a));
}

/* exp(a) with 31 fraction bits, of a <= 0 with 31 - i: e^-1/8 times a polynomial of what lies within 1/4 below a, times e^-1/4,
   e^-1/2 and so on for each bit of the rest. */
static NNRTI_UNUSED int32_t nnrti_fixed_exp(int32_t a, int32_t i)
{
    static const int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t f = 31 - i, quarter = (int32_t)1 << (f - 2);
    const int32_t l = (int32_t)((uint32_t)a & (uint32_t)(quarter - 1)) - quarter;
    const int32_t x = l * ((int32_t)1 << i) + (1 << 28), x2 = nnrti_high_product(x, x);
    const int32_t x3 = nnrti_high_product(x2, x), x4 = nnrti_high_product(x2, x2);
    int32_t r = nnrti_high_product((int32_t)nnrti_shift_round(x4, 2) + x3, 715827883) + x2;
    if (a == 0)
        return INT32_MAX;
    r = 1895147668 + nnrti_high_product(1895147668, x + (int32_t)nnrti_shift_round(r, 1));
    for (int32_t k = -2; k < i; k++)
        if (((int64_t)l - a) >> (f + k) & 1)
            r = nnrti_high_product(r, powers[k + 2]);
    return r;
}

/* Of two stored integers without their zero points, and the list that the rule derived, the result without its own. */
typedef int64_t (*nnrti_quant_function)(int32_t a, int32_t b, const int32_t *quant);

/* z = f(x, y), x and y quantised, broadcast to the dims of z. The list has the factors of x, of y and of the result. */
NNRTI_INLINE NNRT_ReturnCode nnrti_binary_q8(const nnrt_view *x, const nnrt_view *y, const nnrt_view *derived,
                                             nnrt_view *z, nnrti_quant_function f)
{
    const int32_t *quant = (const int32_t *)derived->data;
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t a = nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - x->quant[0].zeroPoint;
            const int32_t b = nnrti_load_8(y->data, w.at[2] + i * w.row[2], y->dataType) - y->quant[0].zeroPoint;
            nnrti_store_8(z->data, w.at[0] + i * w.row[0], nnrti_quant_result(f(a, b, quant), quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* x + y: both are brought to one scale first, 2^20 times as fine as twice the larger. */
static int64_t nnrti_quant_add(int32_t a, int32_t b, const int32_t *quant)
{
    const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
    const int64_t p = nnrti_rescale((int64_t)a * (1 << 20), factor);
    return nnrti_rescale(p + nnrti_rescale((int64_t)b * (1 << 20), factor + 2), factor + 4);
}

static int64_t nnrti_quant_mul(int32_t a, int32_t b, const int32_t *quant)
{
    return nnrti_rescale((int64_t)a * b, quant + NNRTI_QUANT_FACTORS + 4);
}

/* The larger, of x and y in the parameters of the result. */
static int64_t nnrti_quant_max(int32_t a, int32_t b, const int32_t *quant)
{
    const int32_t p = nnrti_rescale(a, quant + NNRTI_QUANT_FACTORS);
    const int32_t q = nnrti_rescale(b, quant + NNRTI_QUANT_FACTORS + 2);
    return p > q ? p : q;
}

/* Two stored integers compare as their real values do when each, without its zero point, is multiplied with a number of its
   own: list = {zero points of x and of y, these two numbers}. */
#define NNRTI_PREDICATE_Q8(S, fn, value)                                                                               \
    NNRT_API NNRT_ReturnCode nnrt_##fn(const NNRT_##S *attr, const nnrt_view *x, const nnrt_view *y,                   \
                                       const nnrt_view *list, nnrt_view *z)                                            \
    {                                                                                                                  \
        const int64_t *m = (const int64_t *)list->data;                                                                \
        nnrti_walk w;                                                                                                  \
        (void)attr;                                                                                                    \
        if (!nnrti_walk_first(&w, z, x, y))                                                                            \
            return NNRT_SUCCESS;                                                                                       \
        do                                                                                                             \
            for (int32_t i = 0; i < w.count; i++) {                                                                    \
                const int64_t a = (nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - m[0]) * m[2];          \
                const int64_t b = (nnrti_load_8(y->data, w.at[2] + i * w.row[2], y->dataType) - m[1]) * m[3];          \
                ((uint8_t *)z->data)[w.at[0] + i * w.row[0]] = value;                                                  \
            }                                                                                                          \
        while (nnrti_walk_next(&w));                                                                                   \
        return NNRT_SUCCESS;                                                                                           \
    }

/* The factor of place k of an axis, or the only one. */
NNRTI_INLINE const int32_t *nnrti_quant_factor(const nnrt_view *quant, ptrdiff_t k)
{
    const int32_t *list = (const int32_t *)quant->data + NNRTI_QUANT_FACTORS;
    return quant->dims[0] > NNRTI_QUANT_FACTORS + 2 ? list + 2 * k : list;
}

/* Sums of products of 8 bits that stand side by side: sum over k of (a[k] - zeroA) * (b[k,t] - zeroB[t]). a[k] lies
   k*aK elements behind a, b[k,t] lies k*bK + t*bT behind b. All are taken as bytes of 0 to 255: of int8 the highest bit
   is turned over (flip 0x80), which makes it and its zero point 128 more. */
typedef struct nnrti_dots_8 {
    const uint8_t *a, *b;
    ptrdiff_t aK, bK, bT;
    int32_t flipA, flipB, zeroA, zeroB[NNRTI_DOTS];
} nnrti_dots_8;

NNRTI_INLINE int32_t nnrti_flip(const nnrt_view *v)
{
    return v->dataType == NNRT_DATA_TYPE_INT8 ? 0x80 : 0;
}

/* The zero point of v, at place k of its axis, as it is for bytes of 0 to 255. */
NNRTI_INLINE int32_t nnrti_zero(const nnrt_view *v, ptrdiff_t k)
{
    return v->quant[v->quantCount > 1 ? k : 0].zeroPoint + nnrti_flip(v);
}

/* s[t] += sum over k of (a[k] - zeroA) * b[k,t]. Along k or across t, whichever lies closer together: no order changes
   an exact sum. */
NNRTI_INLINE void nnrti_sum_run(const nnrti_dots_8 *d, const uint8_t *a, const uint8_t *b, int32_t K, int32_t count,
                                int32_t *s)
{
    const ptrdiff_t aK = d->aK, bK = d->bK, bT = d->bT;
    const int32_t flipA = d->flipA, flipB = d->flipB, zeroA = d->zeroA;
    if (bT < bK)
        for (int32_t k = 0; k < K; k++) {
            const int32_t v = (a[k * aK] ^ flipA) - zeroA;
            for (int32_t t = 0; t < count; t++)
                s[t] += v * (b[k * bK + t * bT] ^ flipB);
        }
    else
        for (int32_t t = 0; t < count; t++) {
            int32_t sum = 0;
            for (int32_t k = 0; k < K; k++)
                sum += ((a[k * aK] ^ flipA) - zeroA) * (b[k * bK + t * bT] ^ flipB);
            s[t] += sum;
        }
}

/* sum[t] += the sums of t < count. Runs of 2^15 products fit into int32: 255 * 255 * 2^15 < 2^31. */
NNRTI_INLINE void nnrti_sum_dots(const nnrti_dots_8 *d, int32_t K, int32_t count, int64_t *sum)
{
    for (int32_t first = 0; first < K; first += 1 << 15) {
        const int32_t n = K - first < 1 << 15 ? K - first : 1 << 15;
        const uint8_t *a = d->a + first * d->aK, *b = d->b + first * d->bK;
        int32_t s[NNRTI_DOTS] = {0}, all = 0;
        nnrti_sum_run(d, a, b, n, count, s);
        for (int32_t k = 0; k < n; k++)
            all += (a[k * d->aK] ^ d->flipA) - d->zeroA;
        for (int32_t t = 0; t < count; t++)
            sum[t] += (int64_t)s[t] - (int64_t)all * d->zeroB[t];
    }
}

/* The zero point at place i of the axis of x that it belongs to, as it is for bytes of 0 to 255: zero has one for all, or one
   for each place; NULL: it is 0. */
NNRTI_INLINE int32_t nnrti_zero_at(const nnrt_view *x, const nnrt_view *zero, ptrdiff_t i)
{
    const ptrdiff_t at = zero != NULL && zero->rank > 0 && zero->dims[0] > 1 ? i * zero->strides[0] : 0;
    return (zero != NULL ? nnrti_load_8(zero->data, at, zero->dataType) : 0) + nnrti_flip(x);
}

/* Element i of an int32 bias, 0 where there is none. */
NNRTI_INLINE int64_t nnrti_bias_at(const nnrt_view *bias, ptrdiff_t i)
{
    return bias != NULL ? ((const int32_t *)bias->data)[i * bias->strides[0]] : 0;
}

/* The sums of a convolution: the weight as a, x as b. */
static void nnrti_dots_of_weight(nnrti_dots_8 *d, const nnrt_view *weight, const nnrt_view *x)
{
    memset(d, 0, sizeof(*d));
    d->aK = weight->strides[3];
    d->bK = x->strides[3];
    d->flipA = nnrti_flip(weight);
    d->flipB = nnrti_flip(x);
    for (int32_t t = 0; t < NNRTI_DOTS && x->quantCount > 0; t++)
        d->zeroB[t] = nnrti_zero(x, 0);
}

/* Elements at, at + step, .. of y = results of count sums of channel o. */
NNRTI_INLINE void nnrti_store_sums(nnrt_view *y, ptrdiff_t at, ptrdiff_t step, const int64_t *sum, int32_t count,
                                   const nnrt_view *quant, int32_t o)
{
    const int32_t *factor = nnrti_quant_factor(quant, o);
    for (int32_t t = 0; t < count; t++)
        nnrti_store_8(y->data, at + t * step,
                      nnrti_quant_result(nnrti_rescale(sum[t], factor), (const int32_t *)quant->data));
}

/* v with its last two axes swapped when asked for. */
static nnrt_view nnrti_transposed(const nnrt_view *v, bool transpose)
{
    const int32_t i = v->rank - 2, k = v->rank - 1;
    nnrt_view t = *v;
    if (transpose) {
        t.dims[i] = v->dims[k];
        t.dims[k] = v->dims[i];
        t.strides[i] = v->strides[k];
        t.strides[k] = v->strides[i];
    }
    return t;
}

/* z[m,n] = result of bias[n] + sum over k of (a[m,k] - its zero point) * (b[k,n] - its zero point, one or one per n),
   for the last two axes; data points at the matrices. */
NNRTI_INLINE void nnrti_matrix_8(const nnrt_view *a, const nnrt_view *b, const nnrt_view *bias, const nnrt_view *quant,
                                 nnrt_view *z)
{
    const int32_t M = z->dims[z->rank - 2], N = z->dims[z->rank - 1], K = a->dims[a->rank - 1];
    nnrti_dots_8 d;
    d.aK = a->strides[a->rank - 1];
    d.bK = b->strides[b->rank - 2];
    d.bT = b->strides[b->rank - 1];
    d.flipA = nnrti_flip(a);
    d.flipB = nnrti_flip(b);
    d.zeroA = nnrti_zero(a, 0);
    for (int32_t n = 0; n < N; n += NNRTI_DOTS) {
        const int32_t count = N - n < NNRTI_DOTS ? N - n : NNRTI_DOTS;
        for (int32_t t = 0; t < count; t++)
            d.zeroB[t] = nnrti_zero(b, n + t);
        d.b = (const uint8_t *)nnrti_at(b->data, n * d.bT, 1);
        for (int32_t m = 0; m < M; m++) {
            int64_t sum[NNRTI_DOTS];
            d.a = (const uint8_t *)nnrti_at(a->data, m * a->strides[a->rank - 2], 1);
            for (int32_t t = 0; t < count; t++)
                sum[t] = nnrti_bias_at(bias, n + t);
            nnrti_sum_dots(&d, K, count, sum);
            for (int32_t t = 0; t < count; t++)
                nnrti_store_8(z->data, m * z->strides[z->rank - 2] + (n + t) * z->strides[z->rank - 1],
                              nnrti_quant_result(nnrti_rescale(sum[t], nnrti_quant_factor(quant, n + t)),
                                                 (const int32_t *)quant->data));
        }
    }
}

/* The real value of q, an element of x, as y has it: clamp(q + zY - zX times the factor). */
NNRTI_INLINE int32_t nnrti_requantised(const nnrt_view *x, int64_t q, const nnrt_view *quant)
{
    return nnrti_quant_result(nnrti_rescale(q - x->quant[0].zeroPoint, nnrti_quant_factor(quant, 0)),
                              (const int32_t *)quant->data);
}

/* As nnrti_average, of quantised int8 or uint8: the mean of the stored integers, halves away from zero; of
   `cells` those outside the window count as zero points. */
NNRTI_INLINE void nnrti_average_8(const nnrt_view *x, const nnrti_window_at *m, int64_t cells, const nnrt_view *quant,
                                  nnrt_view *y, ptrdiff_t at)
{
    const int64_t missing = cells - (int64_t)(m->rows.end - m->rows.first) * (m->columns.end - m->columns.first);
    for (int32_t c = 0; c < y->dims[3]; c += 16) {
        const int32_t count = y->dims[3] - c < 16 ? y->dims[3] - c : 16;
        int64_t sum[16];
        for (int32_t t = 0; t < 16; t++)
            sum[t] = missing * x->quant[0].zeroPoint;
        for (int32_t h = m->rows.first; h < m->rows.end; h++)
            for (int32_t w = m->columns.first; w < m->columns.end; w++) {
                const ptrdiff_t in = nnrti_place(x, m->n, h, w, c);
                for (int32_t t = 0; t < count; t++)
                    sum[t] += nnrti_load_8(x->data, in + t * x->strides[3], x->dataType);
            }
        for (int32_t t = 0; t < count; t++) {
            const int64_t mean = (sum[t] > 0 ? sum[t] + cells / 2 : sum[t] - cells / 2) / cells;
            nnrti_store_8(y->data, at + (c + t) * y->strides[3], nnrti_requantised(x, mean, quant));
        }
    }
}

/* As nnrti_largest, of quantised int8 or uint8, whose stored integers are compared. */
NNRTI_INLINE void nnrti_largest_8(const nnrt_view *x, nnrti_window_at *m, int32_t p, int32_t q, const nnrt_view *quant,
                                  nnrt_view *y, nnrt_view *indices)
{
    for (m->c = 0; m->c < x->dims[3]; m->c++) {
        int32_t best = INT32_MIN;
        int64_t position = 0;
        for (int32_t h = m->rows.first; h < m->rows.end; h++)
            for (int32_t w = m->columns.first; w < m->columns.end; w++) {
                const int32_t v = nnrti_load_8(x->data, nnrti_place(x, m->n, h, w, m->c), x->dataType);
                position = v > best ? (int64_t)h * x->dims[2] + w : position;
                best = v > best ? v : best;
            }
        if (y != NULL)
            nnrti_store_8(y->data, nnrti_place(y, m->n, p, q, m->c), nnrti_requantised(x, best, quant));
        if (indices != NULL)
            nnrti_store_int(indices->data, nnrti_place(indices, m->n, p, q, m->c), (uint64_t)position,
                            indices->dataType);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>rules */

/* Axis k of result i has the extent of axis a of x, open or not. */
static void nnrti_from(nnrt_resolve *c, uint32_t i, int32_t k, const nnrt_operand *x, int32_t a)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)i, (void)k, (void)x, (void)a;
#else
    c->out[i].symbols[k] = x->symbols[a];
#endif
}

/* The extent of axis k of result i is computed from open ones. */
static void nnrti_computed(nnrt_resolve *c, uint32_t i, int32_t k)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)i, (void)k;
#else
    c->out[i].symbols[k] = NNRTI_SYMBOL_NEW;
#endif
}

/* The extent of axis k of result i does not depend on open ones. */
static void nnrti_fixed(nnrt_resolve *c, uint32_t i, int32_t k)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)i, (void)k;
#else
    c->out[i].symbols[k] = 0;
#endif
}

/* The extent of axis k of result i is element n of x, a known value. */
static void nnrti_from_value(nnrt_resolve *c, uint32_t i, int32_t k, const nnrt_operand *x, size_t n)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)i, (void)k, (void)x, (void)n;
#else
    c->out[i].symbols[k] = x->open != NULL ? x->open[n] : 0;
#endif
}

/* The extent of axis k of result i is open, and its number bounds it, whatever else is not bounded. */
static void nnrti_bounded(nnrt_resolve *c, uint32_t i, int32_t k)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)i, (void)k;
#else
    c->out[i].symbols[k] = NNRTI_SYMBOL_BOUNDED;
#endif
}

/* Whether axis a of x is open; an extent of 1 that is not broadcasts, and one that is cannot be told. */
static bool nnrti_axis_open(const nnrt_operand *x, int32_t a)
{
#ifdef NNRT_FIRMWARE
    (void)x, (void)a;
    return false;
#else
    return x->symbols[a] != 0;
#endif
}

/* Whether element n of x, a known value, is open. */
static bool nnrti_element_open(const nnrt_operand *x, size_t n)
{
#ifdef NNRT_FIRMWARE
    (void)x, (void)n;
    return false;
#else
    return x->open != NULL && x->open[n] != 0;
#endif
}

/* Whether element n of x, a known value, is open and its number says nothing. */
static bool nnrti_element_unbounded(const nnrt_operand *x, size_t n)
{
#ifdef NNRT_FIRMWARE
    (void)x, (void)n;
    return false;
#else
    return x->open != NULL && (x->open[n] & NNRTI_UNBOUNDED) != 0;
#endif
}

/* Whether axis a of x and axis b of y cannot have the same extent. What is open may: a run will tell. */
static bool nnrti_unlike(const nnrt_operand *x, int32_t a, const nnrt_operand *y, int32_t b)
{
    return x->dims[a] != y->dims[b] && !nnrti_axis_open(x, a) && !nnrti_axis_open(y, b);
}

/* Whether axis a of x and axis b of y have the same extent in every run. */
static bool nnrti_equal(const nnrt_operand *x, int32_t a, const nnrt_operand *y, int32_t b)
{
#ifndef NNRT_FIRMWARE
    if (x->symbols[a] != y->symbols[b])
        return false;
#endif
    return x->dims[a] == y->dims[b];
}

/* Whether axis a of x has extent 1 in every run. */
static bool nnrti_is_one(const nnrt_operand *x, int32_t a)
{
    return x->dims[a] == 1 && !nnrti_axis_open(x, a);
}

/* Whether x and y can have one shape. */
static bool nnrti_like(const nnrt_operand *x, const nnrt_operand *y)
{
    bool like = x->rank == y->rank;
    for (int32_t i = 0; like && i < x->rank; i++)
        like = !nnrti_unlike(x, i, y, i);
    return like;
}

/* Whether an extent of x is open from axis `first` on. */
static bool nnrti_open_from(const nnrt_operand *x, int32_t first)
{
    for (int32_t i = first; i < x->rank; i++)
        if (nnrti_axis_open(x, i))
            return true;
    return false;
}

/* *extent = what two extents make that broadcast together: equal, or one of them 1. openP, openQ: p (q) is open and says
   only how large it can be. false: they never do. */
static bool nnrti_broadcast_extent(int32_t p, bool openP, int32_t q, bool openQ, int32_t *extent)
{
    if (openP && openQ)
        *extent = p > q ? p : q;
    else if (openP)
        *extent = q == 1 ? p : q;
    else
        *extent = p == 1 ? q : p;
    return p == q || p == 1 || q == 1 || openP || openQ;
}

/* Result i has the given extents. They count as computed from all inputs, unless the rule then says where they are from
   (nnrti_from, nnrti_fixed, nnrti_bounded). */
static void nnrti_result(nnrt_resolve *c, uint32_t i, int32_t rank, const int32_t *dims)
{
    nnrt_operand *o = &c->out[i];
    o->rank = rank;
    for (int32_t k = 0; k < rank && k < NNRT_MAX_RANK; k++) {
        o->dims[k] = dims[k];
#ifndef NNRT_FIRMWARE
        o->symbols[k] = c->open ? NNRTI_SYMBOL_NEW : 0;
#endif
    }
}

/* Result i has the shape of input 0. */
static void nnrti_result_like(nnrt_resolve *c, uint32_t i)
{
    nnrti_result(c, i, c->in[0].rank, c->in[0].dims);
    for (int32_t k = 0; k < c->in[0].rank; k++)
        nnrti_from(c, i, k, &c->in[0], k);
}

/* Result 0 has the axes of input 0 and one more, of a fixed extent, at place `axis`. */
static void nnrti_result_inserted(nnrt_resolve *c, int32_t axis)
{
    for (int32_t i = 0; i <= c->in[0].rank; i++)
        if (i == axis)
            nnrti_fixed(c, 0, i);
        else
            nnrti_from(c, 0, i, &c->in[0], i < axis ? i : i - 1);
}

/* One result, of the shape of the one input. */
static NNRT_ReturnCode nnrti_rule_unary(nnrt_resolve *c)
{
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* Operand as the kernel sees it: the same elements, other extents. */
static void nnrti_see_as(nnrt_operand *o, int32_t rank, const int32_t *dims)
{
    o->viewRank = rank;
    for (int32_t k = 0; k < rank; k++)
        o->viewDims[k] = dims[k];
}

/* *out = axis in 0..rank-1; rank counts the axes that may be named. */
static NNRT_ReturnCode nnrti_axis(nnrt_resolve *c, const char *what, int64_t axis, int32_t rank, int32_t *out)
{
    *out = 0;
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is %l, expected %d to %d", what, axis, -rank, rank - 1);
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return NNRT_SUCCESS;
}

/* Whether the value of input i, which the rule needs, is told in a run only. */
static bool nnrti_late(const nnrt_resolve *c, uint32_t i)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)i;
    return false;
#else
    return c->symbolCount != NULL && c->in[i].data == NULL && !(c->in[i].rank == 1 && c->in[i].dims[0] == 0);
#endif
}

/* Whether the value of an integer input is told in a run only. */
NNRTI_UNUSED static bool nnrti_any_late(const nnrt_resolve *c)
{
    bool late = false;
    for (uint32_t i = 1; i < c->nIn; i++)
        late = late || (!nnrti_absent(&c->in[i]) && nnrti_late(c, i) &&
                        nnrti_type_in(c->in[i].dataType, NNRT_TYPES_INDEX | NNRT_TYPES_FLOAT));
    return late;
}

static NNRT_ReturnCode nnrti_unknown(nnrt_resolve *c, uint32_t i, const char *what)
{
    return nnrti_fail(
        c, NNRT_UNSUPPORTED_OP,
        "input %u (%s) '%s' must be a constant or follow from the shapes: the result's shape depends on it", i, what,
        c->in[i].name);
}

#ifndef NNRT_FIRMWARE
/* Input i, integers whose value is told in a run, gets one until then: ones, all of them open and without a bound. */
static NNRT_ReturnCode nnrti_stand_in(nnrt_resolve *c, uint32_t i, const char *what)
{
    nnrt_operand *o = &c->in[i];
    const size_t width = nnrt_type_size(o->dataType);
    const int64_t wide = 1;
    const int32_t narrow = 1;
    uint32_t *open;
    uint8_t *data;
    size_t n = 0;
    (void)nnrt_dims_count(o->dims, o->rank, &n);
    if (nnrti_open_from(o, 0) || n > 4 * NNRT_MAX_RANK || !nnrti_type_in(o->dataType, NNRT_TYPES_INDEX))
        return nnrti_unknown(c, i, what);
    data = (uint8_t *)c->alloc(c->user, n * width);
    open = (uint32_t *)c->alloc(c->user, n * sizeof(*open));
    if (data == NULL || open == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its value");
    for (size_t k = 0; k < n; k++) {
        memcpy(data + k * width, o->dataType == NNRT_DATA_TYPE_INT64 ? (const void *)&wide : &narrow, width);
        open[k] = ++*c->symbolCount | NNRTI_UNBOUNDED;
    }
    o->data = data;
    o->open = open;
    c->open = c->late = c->unbounded = true;
    return NNRT_SUCCESS;
}
#endif

/* The value of input i must be known: a constant, or computed from the shapes; elements may be open extents. Where
   extents may be open it may also be told in a run (c->late): it is then ones, all of them open. */
static NNRT_ReturnCode nnrti_known(nnrt_resolve *c, uint32_t i, const char *what)
{
#ifndef NNRT_FIRMWARE
    if (nnrti_late(c, i))
        return nnrti_stand_in(c, i, what);
#endif
    if (c->in[i].data == NULL && !(c->in[i].rank == 1 && c->in[i].dims[0] == 0))
        return nnrti_unknown(c, i, what);
    return NNRT_SUCCESS;
}

/* The same, but no element is open: what depends on it is more than an extent. */
static NNRT_ReturnCode nnrti_known_fixed(nnrt_resolve *c, uint32_t i, const char *what)
{
    const NNRT_ReturnCode code = nnrti_late(c, i) ? nnrti_unknown(c, i, what) : nnrti_known(c, i, what);
#ifndef NNRT_FIRMWARE
    if (code == NNRT_SUCCESS && c->in[i].data != NULL && nnrti_value_open(&c->in[i]))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "input %u (%s) '%s' depends on extents that are open: give them", i,
                          what, c->in[i].name);
#endif
    return code;
}

/* Elements of an operand whose shape has been checked. */
static size_t nnrti_count(const nnrt_operand *o)
{
    size_t n = 0;
    (void)nnrt_dims_count(o->dims, o->rank, &n);
    return n;
}

/* Elements that x has at most, where extents are open. */
static size_t nnrti_most(const nnrt_operand *x)
{
#ifndef NNRT_FIRMWARE
    size_t dims;
    if (x->most != 0) /* dims may say less, where they are fixed */
        return nnrt_dims_count(x->dims, x->rank, &dims) && dims < x->most ? dims : x->most;
#endif
    return nnrti_count(x);
}

/* Result 0 has as many elements as x, even where the numbers of its open extents would make more. */
static void nnrti_result_of_as_many(nnrt_resolve *c, const nnrt_operand *x)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)x;
#else
    if (c->open)
        c->out[0].most = nnrti_most(x) > 0 ? nnrti_most(x) : 1;
#endif
}

/* Element k of a known int32 or int64 operand. */
static int64_t nnrti_value(const nnrt_operand *o, size_t k)
{
    int64_t wide;
    int32_t narrow;
    if (o->dataType == NNRT_DATA_TYPE_INT64) {
        memcpy(&wide, (const uint8_t *)o->data + k * sizeof(wide), sizeof(wide));
        return wide;
    }
    memcpy(&narrow, (const uint8_t *)o->data + k * sizeof(narrow), sizeof(narrow));
    return narrow;
}

/* a * b of numbers that are not negative, at most INT64_MAX. */
static int64_t nnrti_product(int64_t a, int64_t b)
{
    return b > 0 && a > nnrti_quotient(INT64_MAX, b) ? INT64_MAX : a * b;
}

/* One more derived constant of the node, for the kernel: *data = room for its elements, to be filled by the rule. */
static NNRT_ReturnCode nnrti_derive(nnrt_resolve *c, NNRT_DataType type, int32_t rank, const int32_t *dims, void **data)
{
    size_t bytes;
    nnrt_operand *d = &c->derived[c->nDerived];
    *d = nnrt_operand_make(type, rank, dims, NULL);
    d->name = "a derived constant";
    *data = nnrt_dims_bytes(dims, rank, type, &bytes) ? c->alloc(c->user, bytes > 0 ? bytes : 1) : NULL;
    if (*data == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for what is derived from its parameters");
    d->data = *data;
    c->nDerived++;
    return NNRT_SUCCESS;
}

/* A derived constant of `count` int32 numbers: a list as the kernel wants it. */
static NNRT_ReturnCode nnrti_derive_ints(nnrt_resolve *c, int32_t count, const int32_t *from)
{
    void *data;
    const NNRT_ReturnCode code = nnrti_derive(c, NNRT_DATA_TYPE_INT32, 1, &count, &data);
    if (code == NNRT_SUCCESS)
        memcpy(data, from, (size_t)count * sizeof(*from));
    return code;
}

/* A new list for the resolved attributes; NULL = no memory (the message is set). */
static int64_t *nnrti_list(nnrt_resolve *c, NNRT_Int64List *list, uint32_t count)
{
    int64_t *data = (int64_t *)c->alloc(c->user, (count > 0 ? count : 1u) * sizeof(int64_t));
    if (data == NULL) {
        (void)nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its attributes");
        return NULL;
    }
    list->data = data;
    list->count = count;
    return data;
}

/* A fused activation: those with parameters of their own cannot be fused; on integers only the clamps make sense. */
static NNRT_ReturnCode nnrti_fused(nnrt_resolve *c, NNRT_ActivationType type)
{
    bool isFloat = nnrti_type_in(c->in[0].dataType, NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    if (type == NNRT_ACTIVATION_TYPE_ELU || type == NNRT_ACTIVATION_TYPE_LEAKY_RELU ||
        type == NNRT_ACTIVATION_TYPE_THRESHOLDRELU || type == NNRT_ACTIVATION_TYPE_HARD_TANH ||
        type == NNRT_ACTIVATION_TYPE_UNKNOWN)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "activationType %d needs parameters and cannot be fused: use an ACTIVATION node behind it",
                          type);
    if (!isFloat && type != NNRT_ACTIVATION_TYPE_NO_ACTIVATION && type != NNRT_ACTIVATION_TYPE_LINEAR &&
        type != NNRT_ACTIVATION_TYPE_RELU && type != NNRT_ACTIVATION_TYPE_RELU6 && type != NNRT_ACTIVATION_TYPE_RELU1)
        return nnrti_fail(c, nnrti_is_quant(&c->in[0]) ? NNRT_UNSUPPORTED_OP : NNRT_INVALID_PARAMETER,
                          "activationType %d is not defined for %t", type, c->in[0].dataType);
    return NNRT_SUCCESS;
}

/* dims = the extents of x and y broadcast together: aligned at the last axis, equal or one of them 1 or missing. */
static NNRT_ReturnCode nnrti_broadcast(nnrt_resolve *c, const nnrt_operand *x, const nnrt_operand *y, int32_t *rank,
                                       int32_t *dims)
{
    *rank = x->rank > y->rank ? x->rank : y->rank;
    for (int32_t i = 0; i < *rank; i++) {
        int32_t k = i - (*rank - x->rank), m = i - (*rank - y->rank);
        int32_t p = k < 0 ? 1 : x->dims[k], q = m < 0 ? 1 : y->dims[m];
        if (!nnrti_broadcast_extent(p, k >= 0 && nnrti_axis_open(x, k), q, m >= 0 && nnrti_axis_open(y, m), &dims[i]))
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "'%s' %o and '%s' %o do not broadcast: extents %d and %d of axis %d", x->name, x, y->name,
                              y, p, q, i);
    }
    return NNRT_SUCCESS;
}

/* Where the first extents of result 0 are from, the first nX axes of x and nY of y having been broadcast together: the
   one that the other, 1 or missing, does not change; both, when they are one; a fixed one above 1. */
static void nnrti_from_both(nnrt_resolve *c, const nnrt_operand *x, int32_t nX, const nnrt_operand *y, int32_t nY)
{
    const int32_t rank = nX > nY ? nX : nY;
    for (int32_t i = 0; i < rank; i++) {
        const int32_t k = i - (rank - nX), m = i - (rank - nY);
        const bool openX = k >= 0 && nnrti_axis_open(x, k), openY = m >= 0 && nnrti_axis_open(y, m);
        if (k < 0 || (m >= 0 && !openX && x->dims[k] == 1))
            nnrti_from(c, 0, i, y, m);
        else if (m < 0 || (!openY && y->dims[m] == 1))
            nnrti_from(c, 0, i, x, k);
        else if (!openX || !openY)
            nnrti_fixed(c, 0, i);
#ifndef NNRT_FIRMWARE
        else if (x->symbols[k] == y->symbols[m])
            nnrti_from(c, 0, i, x, k);
#endif
    }
}

/* A list that says nothing: without entries, or with zeros only, as a struct of zeros has it. */
static bool nnrti_unsaid(const NNRT_Int64List *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->data[i] != 0)
            return false;
    return true;
}

/* A list attribute of [height, width]: empty, or zeros, = both `initial`. Every entry must be >= least. */
static NNRT_ReturnCode nnrti_pair(nnrt_resolve *c, const char *what, NNRT_Int64List *list, int64_t initial,
                                  int64_t least)
{
    if (list->count == 0 || (list->count == 2 && nnrti_unsaid(list))) {
        int64_t *v = nnrti_list(c, list, 2);
        if (v == NULL)
            return NNRT_OUT_OF_MEMORY;
        v[0] = initial;
        v[1] = initial;
    }
    if (list->count != 2)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s has %u entries, expected 2: height, width", what, list->count);
    for (uint32_t i = 0; i < 2; i++)
        if (list->data[i] < least)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u] is %l, expected at least %l", what, i, list->data[i],
                              least);
    return NNRT_SUCCESS;
}

/* pads = [top, bottom, left, right] as given: none = zeros; they must be >= 0, and 0 unless padMode is PAD. */
static NNRT_ReturnCode nnrti_pads(nnrt_resolve *c, const char *what, const NNRT_Int64List *list, NNRT_PadMode mode,
                                  int64_t pads[4])
{
    memset(pads, 0, 4 * sizeof(pads[0]));
    if (list->count != 4 && list->count != 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s has %u entries, expected 4: top, bottom, left, right", what,
                          list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        pads[i] = list->data[i];
        if (pads[i] < 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u] is %l, expected at least 0", what, i, pads[i]);
        if (pads[i] > 0 && mode != NNRT_PAD_MODE_PAD)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u] is %l, but only padMode PAD takes paddings", what, i,
                              pads[i]);
    }
    return NNRT_SUCCESS;
}

/* Extents of the image operand o along height (axis 0), width (1) and channels (2), wherever the format puts them. */
static int32_t nnrti_image_axis(const nnrt_operand *o, int32_t which)
{
    bool channelsFirst = o->format == NNRT_FORMAT_NCHW;
    return which == 2 ? (channelsFirst ? 1 : o->rank - 1) : which + (channelsFirst ? 2 : 1);
}

/* Result 0 of a 4-D operator: [N, height, width, channels] in the order of input 0's format. */
static NNRT_ReturnCode nnrti_result_image(nnrt_resolve *c, uint32_t i, int32_t n, int64_t h, int64_t w,
                                          int64_t channels)
{
    int32_t dims[4];
    if (h <= 0 || w <= 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "the result would be %l x %l: the window does not fit into input '%s' %o", h, w,
                          c->in[0].name, &c->in[0]);
    if (h > INT32_MAX || w > INT32_MAX || channels > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would be %l x %l x %l: too large", h, w, channels);
    dims[0] = n;
    dims[nnrti_image_axis(&c->in[0], 0)] = (int32_t)h;
    dims[nnrti_image_axis(&c->in[0], 1)] = (int32_t)w;
    dims[nnrti_image_axis(&c->in[0], 2)] = (int32_t)channels;
    nnrti_result(c, i, 4, dims);
    nnrti_from(c, i, 0, &c->in[0], 0);
    for (int32_t which = 0; which < 3; which++) {
        const int32_t axis = nnrti_image_axis(&c->in[0], which);
        if (!nnrti_axis_open(&c->in[0], axis))
            nnrti_fixed(c, i, axis);
    }
    return NNRT_SUCCESS;
}

/* Convolution along one axis: extent L, window k, stride s, dilation d. On SAME (ceil(L/s) windows, the odd cell of
   padding at the end) and VALID (none) p0 and p1 are computed. Returns the extent of the result, which is <= 0 when
   the window does not fit. */
static int64_t nnrti_window(NNRT_PadMode mode, int64_t L, int64_t k, int64_t s, int64_t d, int64_t *p0, int64_t *p1)
{
    int64_t reach = (k - 1) * d + 1, total;
    if (mode == NNRT_PAD_MODE_SAME) {
        int64_t out = nnrti_quotient(L + s - 1, s);
        total = (out - 1) * s + reach - L;
        total = total > 0 ? total : 0;
        *p0 = total / 2;
        *p1 = total - *p0;
        return out;
    }
    if (mode == NNRT_PAD_MODE_VALID)
        *p0 = *p1 = 0;
    total = L + *p0 + *p1 - reach;
    return total < 0 ? 0 : nnrti_quotient(total, s) + 1;
}

/* Writes the explicit paddings into a resolved list, and the mode that goes with them. */
static NNRT_ReturnCode nnrti_set_pads(nnrt_resolve *c, NNRT_Int64List *list, NNRT_PadMode *mode, const int64_t pads[4])
{
    int64_t *v = nnrti_list(c, list, 4);
    if (v == NULL)
        return NNRT_OUT_OF_MEMORY;
    memcpy(v, pads, 4 * sizeof(v[0]));
    *mode = NNRT_PAD_MODE_PAD;
    return NNRT_SUCCESS;
}

/* A result of that many axes is possible. */
static NNRT_ReturnCode nnrti_room(nnrt_resolve *c, int64_t rank)
{
    if (rank > NNRT_MAX_RANK)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "the result would have %l axes, at most %d are possible", rank,
                          NNRT_MAX_RANK);
    return NNRT_SUCCESS;
}

/* Input i has one element; its shape may be [] or [1] alike. */
static NNRT_ReturnCode nnrti_one_element(nnrt_resolve *c, uint32_t i, const char *what)
{
    const nnrt_operand *o = &c->in[i];
    if (nnrti_count(o) != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected one element", i, what, o->name, o);
    return NNRT_SUCCESS;
}

/* *value = the one element of int32 or int64 input i, which must be known. */
static NNRT_ReturnCode nnrti_known_int(nnrt_resolve *c, uint32_t i, const char *what, int64_t *value)
{
    NNRT_ReturnCode code = nnrti_one_element(c, i, what);
    if (code != NNRT_SUCCESS || (code = nnrti_known_fixed(c, i, what)) != NNRT_SUCCESS)
        return code;
    *value = nnrti_value(&c->in[i], 0);
    return NNRT_SUCCESS;
}

/* Input i is a known list of `least` to `most` entries: a tensor of one axis. */
static NNRT_ReturnCode nnrti_known_list(nnrt_resolve *c, uint32_t i, const char *what, int32_t least, int32_t most)
{
    const nnrt_operand *o = &c->in[i];
    if (o->rank != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected one axis", i, what, o->name, o);
    if (o->dims[0] < least || o->dims[0] > most)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' has %d entries, expected %d to %d", i, what,
                          o->name, o->dims[0], least, most);
    return nnrti_known(c, i, what);
}

/* dims = the extents that input i lists; what a run tells and nothing bounds is 1 until then. */
static NNRT_ReturnCode nnrti_known_extents(nnrt_resolve *c, uint32_t i, const char *what, int32_t dims[NNRT_MAX_RANK])
{
    const NNRT_ReturnCode code = nnrti_known_list(c, i, what, 0, NNRT_MAX_RANK);
    for (int32_t k = 0; code == NNRT_SUCCESS && k < c->in[i].dims[0]; k++) {
        const int64_t extent = nnrti_element_unbounded(&c->in[i], (size_t)k) ? 1 : nnrti_value(&c->in[i], (size_t)k);
        if (extent < 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%d] is %l, expected at least 0", what, k, extent);
        if (extent > INT32_MAX)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "%s[%d] is %l: too large", what, k, extent);
        dims[k] = (int32_t)extent;
    }
    return code;
}

/* Result 0 has the extents that input i (shape) lists; an empty list makes a scalar. */
static NNRT_ReturnCode nnrti_result_listed(nnrt_resolve *c, uint32_t i)
{
    const nnrt_operand *list = &c->in[i];
    int32_t dims[NNRT_MAX_RANK] = {0};
    const NNRT_ReturnCode code = nnrti_known_extents(c, i, "shape", dims);
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, list->dims[0], dims);
    for (int32_t k = 0; k < list->dims[0]; k++)
        nnrti_from_value(c, 0, k, list, (size_t)k);
    return NNRT_SUCCESS;
}

/* axes[k] = entry k of the list, in 0..rank-1. No axis may stand in it twice. */
static NNRT_ReturnCode nnrti_axes(nnrt_resolve *c, const char *what, const NNRT_Int64List *list, int32_t rank,
                                  int32_t axes[NNRT_MAX_RANK])
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < list->count; k++) {
        int32_t axis;
        NNRT_ReturnCode code = nnrti_axis(c, what, list->data[k], rank, &axis);
        if (code != NNRT_SUCCESS)
            return code;
        if ((seen >> axis) & 1u)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s names axis %d twice", what, axis);
        seen |= 1u << axis;
        axes[k] = axis;
    }
    return NNRT_SUCCESS;
}

/* *list = the axes whose bits are set, in ascending order. */
static NNRT_ReturnCode nnrti_set_axes(nnrt_resolve *c, NNRT_Int64List *list, uint32_t set)
{
    int64_t *data = nnrti_list(c, list, NNRT_MAX_RANK);
    if (data == NULL)
        return NNRT_OUT_OF_MEMORY;
    list->count = 0;
    for (int32_t i = 0; i < NNRT_MAX_RANK; i++)
        if ((set >> i) & 1u)
            data[list->count++] = i;
    return NNRT_SUCCESS;
}

/* *set = the axes to reduce, a bit each: those of input 1, or all; with toEnd from the first of them to the end. */
static NNRT_ReturnCode nnrti_reduce_axes(nnrt_resolve *c, bool toEnd, uint32_t *set)
{
    const nnrt_operand *x = &c->in[0], *axes = &c->in[1];
    const uint32_t all = (1u << x->rank) - 1u;
    size_t count = 0;
    NNRT_ReturnCode code;
    *set = 0;
    if (!nnrti_absent(axes)) {
        if (axes->rank > 1)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (axes) '%s' is %o, expected one axis at most", axes->name,
                              axes);
        if ((code = nnrti_known_fixed(c, 1, "axes")) != NNRT_SUCCESS)
            return code;
        count = nnrti_count(axes);
    }
    for (size_t k = 0; k < count; k++) {
        int32_t axis;
        if ((code = nnrti_axis(c, "an entry of axes", nnrti_value(axes, k), x->rank, &axis)) != NNRT_SUCCESS)
            return code;
        if ((*set >> axis) & 1u)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axes names axis %d twice", axis);
        *set |= 1u << axis;
    }
    if (count == 0)
        *set = all;
    else if (toEnd)
        *set = all & ~((1u << (uint32_t)(nnrti_value(axes, 0) + (nnrti_value(axes, 0) < 0 ? x->rank : 0))) - 1u);
    return NNRT_SUCCESS;
}

/* An empty set has a value in this mode and type: none has MAX, MIN, and MEAN of integers. */
static NNRT_ReturnCode nnrti_reduce_empty(nnrt_resolve *c, NNRT_ReduceMode mode, uint32_t set)
{
    const nnrt_operand *x = &c->in[0];
    const bool extreme = mode == NNRT_REDUCE_MODE_MAX || mode == NNRT_REDUCE_MODE_MIN;
    const bool isFloat = nnrti_type_in(x->dataType, NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    for (int32_t i = 0; i < x->rank; i++)
        if (((set >> i) & 1u) && x->dims[i] == 0 && (extreme || (mode == NNRT_REDUCE_MODE_MEAN && !isFloat)))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o: mode %d has no value for the empty axis %d",
                              x->name, x, mode, i);
    return NNRT_SUCCESS;
}

/* The axes are told in a run: as all are kept, none is larger than x's, but where that has no extent: 1. */
static NNRT_ReturnCode nnrti_reduce_late(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    int32_t all[NNRT_MAX_RANK] = {0}, dims[NNRT_MAX_RANK];
    const NNRT_ReturnCode code = nnrti_known(c, 1, "axes");
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i] > 1 ? x->dims[i] : 1;
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t i = 0; i < x->rank; i++)
        nnrti_bounded(c, 0, i);
    return nnrti_derive_ints(c, x->rank, all);
}

/* Result 0 = a reduction of input 0 along the axes that input 1 names. Derived: the ascending list of the axes reduced.
   The kernel sees them in the result, whether they are kept or not. */
static NNRT_ReturnCode nnrti_reduce_rule(nnrt_resolve *c, NNRT_ReduceMode mode, bool keepDims, bool toEnd)
{
    const nnrt_operand *x = &c->in[0];
    int32_t rank = 0, dims[NNRT_MAX_RANK], kept[NNRT_MAX_RANK], count = 0, axes[NNRT_MAX_RANK];
    uint32_t set;
    NNRT_ReturnCode code;
    if (keepDims && !nnrti_absent(&c->in[1]) && nnrti_late(c, 1))
        return nnrti_reduce_late(c);
    if ((code = nnrti_reduce_axes(c, toEnd, &set)) != NNRT_SUCCESS ||
        (code = nnrti_reduce_empty(c, mode, set)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < x->rank; i++) {
        const bool reduced = ((set >> i) & 1u) != 0;
        kept[i] = reduced ? 1 : x->dims[i];
        if (!reduced || keepDims)
            dims[rank++] = kept[i];
        if (reduced)
            axes[count++] = i;
    }
    nnrti_result(c, 0, rank, dims);
    for (int32_t i = 0, at = 0; i < x->rank; i++) {
        const bool reduced = ((set >> i) & 1u) != 0;
        if (reduced && !keepDims)
            continue;
        nnrti_from(c, 0, at, x, i);
        if (reduced)
            nnrti_fixed(c, 0, at);
        at++;
    }
    nnrti_see_as(&c->out[0], x->rank, kept);
    return nnrti_derive_ints(c, count, axes);
}

static bool nnrti_quant_equal(const nnrt_operand *a, const nnrt_operand *b)
{
    if (a->quantCount != b->quantCount)
        return false;
    for (uint32_t k = 0; k < a->quantCount; k++)
        if (!nnrti_same(&a->quant[k], &b->quant[k], sizeof(a->quant[k])))
            return false;
    return true;
}

/* The axis along which o has its parameters, which 0 leaves to the operator: the channels. */
static int32_t nnrti_quant_axis(const nnrt_operand *o)
{
    if (o->quantAxis > 0)
        return o->quantAxis - 1;
    return o->rank > 2 && o->format == NNRT_FORMAT_NCHW ? 1 : o->rank - 1;
}

/* Elements of input i go into result k unchanged, so their quantisation parameters must be equal. A result that has
   none takes those of the input. Parameters along an axis go with it: to[axis of the input] = the axis of the result
   that has the same places in the same order, -1 where there is none (NULL: all axes are the same). */
static NNRT_ReturnCode nnrti_quant_moves(nnrt_resolve *c, uint32_t i, uint32_t k, const int32_t *to)
{
    const nnrt_operand *x = &c->in[i];
    nnrt_operand *y = &c->out[k];
    int32_t axis = -1;
    if (!nnrti_is_quant(x) || nnrti_absent(y))
        return NNRT_SUCCESS;
    if (x->quantCount > 1) {
        const int32_t from = nnrti_quant_axis(x);
        if (from < 0 || from >= x->rank || x->quantCount != (uint32_t)x->dims[from])
            return nnrti_fail(
                c, NNRT_INVALID_PARAMETER,
                "input %u '%s' is %o: its %u quantisation parameters are not one for each place of axis %d", i, x->name,
                x, x->quantCount, from);
        axis = to != NULL ? to[from] : from;
        if (axis < 0)
            return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                              "input %u '%s' is %o with one quantisation parameter for each place of axis %d, which "
                              "this operator cuts, joins or reorders",
                              i, x->name, x, from);
    }
    if (y->quantCount == 0) {
        y->quant = x->quant;
        y->quantCount = x->quantCount;
        y->quantAxis = axis + 1;
        return NNRT_SUCCESS;
    }
    if (nnrti_quant_equal(x, y) && (axis < 0 || nnrti_quant_axis(y) == axis))
        return NNRT_SUCCESS;
    return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                      "input %u '%s' and output %u '%s' have different quantisation parameters: requantising is not "
                      "supported here, use QUANT_DTYPE_CAST nodes",
                      i, x->name, k, y->name);
}

/* to = -1 for every axis of the image x but that of the channels, which stays. */
static const int32_t *nnrti_only_channels(const nnrt_operand *x, int32_t to[NNRT_MAX_RANK])
{
    const int32_t channels = nnrti_image_axis(x, 2);
    for (int32_t i = 0; i < x->rank; i++)
        to[i] = i == channels ? i : -1;
    return to;
}

/* to = every axis of input 0 in its place, but one that the operator cuts, joins or reorders. */
static void nnrti_axes_but(const nnrt_resolve *c, int32_t axis, int32_t to[NNRT_MAX_RANK])
{
    for (int32_t i = 0; i < c->in[0].rank; i++)
        to[i] = i == axis ? -1 : i;
}

/* to = where each axis of input 0 is in a result that has `count` more axes from `axis` on (fewer when negative). */
static void nnrti_axes_shifted(const nnrt_resolve *c, int32_t axis, int32_t count, int32_t to[NNRT_MAX_RANK])
{
    for (int32_t i = 0; i < c->in[0].rank; i++)
        to[i] = i < axis ? i : i < axis - count ? -1 : i + count;
}

/* Result k holds elements that were chosen along an axis of input 0, which one scale orders; it may have lost the axis. */
static NNRT_ReturnCode nnrti_quant_chosen(nnrt_resolve *c, uint32_t k, int32_t axis)
{
    int32_t to[NNRT_MAX_RANK];
    nnrti_axes_shifted(c, axis, c->out[k].rank - c->in[0].rank, to);
    to[axis] = -1;
    return nnrti_quant_moves(c, 0, k, to);
}

/* Integer data that gets new elements (paddings) must have one zero point: at most one parameter. */
static NNRT_ReturnCode nnrti_quant_single(nnrt_resolve *c, uint32_t i)
{
    if (nnrti_is_quant(&c->in[i]) && c->in[i].quantCount > 1)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                          "input %u '%s' has %u quantisation parameters, at most 1 is supported here", i, c->in[i].name,
                          c->in[i].quantCount);
    return NNRT_SUCCESS;
}

/* ---- quantised arithmetic: what rules prepare for it. */

/* Scale k of an operand, or its only one, as it counts: float32. */
static NNRTI_UNUSED double nnrti_quant_scale(const nnrt_operand *o, uint32_t k)
{
    return (double)(float)o->quant[o->quantCount > 1 ? k : 0].scale;
}

/* a / b; of an empty range, b = 0, it is 0. */
static NNRTI_UNUSED double nnrti_quant_ratio(double a, double b)
{
    return b == 0 ? 0 : a / b;
}

/* A quantised int8 or uint8 operand of a kernel that computes: one parameter, or one per place of axis (-1: one only),
   8 bits, the zero point an element. */
static NNRT_ReturnCode nnrti_quant_operand(nnrt_resolve *c, const nnrt_operand *o, int32_t axis)
{
    const int32_t least = o->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    if (o->quantCount == 0 || o->quant == NULL)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "'%s' is %o without QuantParam beside quantised inputs", o->name,
                          o);
    if (o->quantCount > 1 && axis < 0)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "'%s' %o has %u QuantParams, at most 1 is supported here", o->name, o,
                          o->quantCount);
    if (o->quantCount > 1 && (o->quantAxis < 0 || o->quantAxis > o->rank))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "'%s' %o has quantAxis %d, expected 0 to %d", o->name, o,
                          o->quantAxis, o->rank);
    if (o->quantCount > 1 && o->quantAxis > 0 && o->quantAxis - 1 != axis)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "'%s' %o has its QuantParams along axis %d, supported is axis %d",
                          o->name, o, o->quantAxis - 1, axis);
    if (o->quantCount > 1 && o->quantCount != (uint32_t)o->dims[axis] && !nnrti_axis_open(o, axis))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "'%s' %o has %u QuantParams, expected 1 or %d, the extent of axis %d", o->name, o,
                          o->quantCount, o->dims[axis], axis);
    for (uint32_t i = 0; i < o->quantCount; i++) {
        const NNRT_QuantParam *q = &o->quant[i];
        if (q->numBits != 8)
            return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "QuantParam %u of '%s' has numBits %d, supported are 8", i,
                              o->name, q->numBits);
        if (q->zeroPoint < least || q->zeroPoint > least + 255)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "QuantParam %u of '%s' has zeroPoint %d, expected %d to %d", i,
                              o->name, q->zeroPoint, least, least + 255);
        if (!(q->scale >= 0 && q->scale <= DBL_MAX))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "QuantParam %u of '%s' has scale %f, expected a finite one >= 0", i, o->name, q->scale);
    }
    return NNRT_SUCCESS;
}

/* The stored integer of a real number: z + round(r / s) in float32, within the type. */
static int32_t nnrti_quant_of(const nnrt_operand *o, float r)
{
    const int32_t least = o->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    const float s = (float)o->quant[0].scale;
    const double q = o->quant[0].zeroPoint + nnrti_round(s == 0 ? 0 : (double)(r / s));
    return q > least + 255 ? least + 255 : q > least ? (int32_t)q : least;
}

/* The bounds of the stored integers of y behind a fused activation. */
static void nnrti_quant_bounds(const nnrt_operand *y, NNRT_ActivationType activation, int32_t *least, int32_t *greatest)
{
    *least = y->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    *greatest = *least + 255;
    if (activation == NNRT_ACTIVATION_TYPE_RELU || activation == NNRT_ACTIVATION_TYPE_RELU6 ||
        activation == NNRT_ACTIVATION_TYPE_RELU1)
        *least = nnrti_quant_of(y, 0);
    if (activation == NNRT_ACTIVATION_TYPE_RELU6 || activation == NNRT_ACTIVATION_TYPE_RELU1)
        *greatest = nnrti_quant_of(y, activation == NNRT_ACTIVATION_TYPE_RELU6 ? 6.0f : 1.0f);
}

/* Derives the list that a quantised kernel has: zero point, least and greatest of result k behind the fused activation,
   then count factors, which the caller fills in from *factors on, two numbers each. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_derive(nnrt_resolve *c, uint32_t k, NNRT_ActivationType activation,
                                                       uint32_t count, int32_t **factors)
{
    const nnrt_operand *y = &c->out[k];
    const int32_t n = (int32_t)(NNRTI_QUANT_FACTORS + 2 * count);
    void *data;
    int32_t *quant;
    NNRT_ReturnCode code = nnrti_quant_operand(c, y, -1);
    if (code == NNRT_SUCCESS)
        code = nnrti_derive(c, NNRT_DATA_TYPE_INT32, 1, &n, &data);
    if (code != NNRT_SUCCESS)
        return code;
    quant = (int32_t *)data;
    *factors = quant + NNRTI_QUANT_FACTORS;
    quant[0] = y->quant[0].zeroPoint;
    nnrti_quant_bounds(y, activation, &quant[1], &quant[2]);
    return NNRT_SUCCESS;
}

/* Inputs 0 and 1 and result 0, quantised with one parameter each: their scales, and the derived list with three factors to
   be filled in: of input 0, of input 1, and of what both make. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_two(nnrt_resolve *c, NNRT_ActivationType activation, double s[3],
                                                    int32_t **factors)
{
    NNRT_ReturnCode code;
    if ((code = nnrti_quant_operand(c, &c->in[0], -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, &c->in[1], -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, activation, 3, factors)) != NNRT_SUCCESS)
        return code;
    memset(*factors, 0, 6 * sizeof(**factors));
    for (uint32_t i = 0; i < 2; i++)
        s[i] = nnrti_quant_scale(&c->in[i], 0);
    s[2] = nnrti_quant_scale(&c->out[0], 0);
    return NNRT_SUCCESS;
}

/* x + y: both inputs times 2^20 come to the scale S, twice the larger one. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_sum(nnrt_resolve *c, NNRT_ActivationType activation)
{
    double s[3], S;
    int32_t *factors;
    const NNRT_ReturnCode code = nnrti_quant_two(c, activation, s, &factors);
    if (code != NNRT_SUCCESS)
        return code;
    S = 2 * (s[0] > s[1] ? s[0] : s[1]);
    nnrti_factor(nnrti_quant_ratio(s[0], S), factors);
    nnrti_factor(nnrti_quant_ratio(s[1], S), factors + 2);
    nnrti_factor(nnrti_quant_ratio(S, 1048576.0 * s[2]), factors + 4);
    return NNRT_SUCCESS;
}

static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_product(nnrt_resolve *c, NNRT_ActivationType activation)
{
    double s[3];
    int32_t *factors;
    const NNRT_ReturnCode code = nnrti_quant_two(c, activation, s, &factors);
    if (code == NNRT_SUCCESS)
        nnrti_factor(nnrti_quant_ratio(s[0] * s[1], s[2]), factors + 4);
    return code;
}

/* Whether two operands of one parameter each, and of one type, have the same one. */
static bool nnrti_quant_alike(const nnrt_operand *x, const nnrt_operand *y)
{
    return x->dataType == y->dataType && x->quant[0].zeroPoint == y->quant[0].zeroPoint &&
           (float)x->quant[0].scale == (float)y->quant[0].scale;
}

/* factor = what brings x to the parameters of y. */
static void nnrti_quant_refit(const nnrt_operand *x, const nnrt_operand *y, int32_t factor[2])
{
    const double d = nnrti_quant_ratio(nnrti_quant_scale(x, 0), nnrti_quant_scale(y, 0));
    nnrti_factor(nnrti_quant_alike(x, y) ? 1 : d, factor);
}

static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_extreme(nnrt_resolve *c)
{
    double s[3];
    int32_t *factors;
    const NNRT_ReturnCode code = nnrti_quant_two(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, s, &factors);
    for (uint32_t i = 0; i < 2 && code == NNRT_SUCCESS; i++)
        nnrti_quant_refit(&c->in[i], &c->out[0], factors + 2 * i);
    return code;
}

/* s = *p * 2^*t, 2^23 <= *p < 2^24; both are 0 for s = 0. */
static void nnrti_quant_parts(float s, int64_t *p, int32_t *t)
{
    const uint32_t u = nnrti_bits_of_float(s);
    *p = u & 0x7fffffu;
    *t = u >= 1u << 23 ? (int32_t)(u >> 23) - 150 : -149;
    if (u >= 1u << 23)
        *p += 1 << 23;
    for (; *p > 0 && *p < 1 << 23; *p *= 2)
        --*t;
    *t = *p == 0 ? 0 : *t;
}

/* Derives int64[4], the list of NNRTI_PREDICATE_Q8: with it a comparison, or a quotient, of stored integers is exactly that
   of the real values. Scales further apart than 2^limit need not be told apart. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_compare(nnrt_resolve *c, int32_t limit)
{
    static const int32_t four = 4;
    int64_t *list = NULL, p[2];
    int32_t t[2], g;
    void *data = NULL;
    NNRT_ReturnCode code;
    if ((code = nnrti_quant_operand(c, &c->in[0], -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, &c->in[1], -1)) != NNRT_SUCCESS ||
        (code = nnrti_derive(c, NNRT_DATA_TYPE_INT64, 1, &four, &data)) != NNRT_SUCCESS)
        return code;
    list = (int64_t *)data;
    for (int32_t i = 0; i < 2; i++) {
        nnrti_quant_parts((float)c->in[i].quant[0].scale, &p[i], &t[i]);
        list[i] = c->in[i].quant[0].zeroPoint;
    }
    g = t[0] - t[1] < -limit ? -limit : t[0] - t[1] > limit ? limit : t[0] - t[1];
    if (nnrti_quant_alike(&c->in[0], &c->in[1]))
        p[0] = p[1] = 1;
    list[2] = p[0] * ((int64_t)1 << (g > 0 ? g : 0));
    list[3] = p[1] * ((int64_t)1 << (g < 0 ? -g : 0));
    return NNRT_SUCCESS;
}

/* What 16 bits hold of x; a * b / 2^15 in them, halves up. */
static NNRTI_UNUSED int32_t nnrti_quant_16(int64_t x)
{
    return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : (int32_t)x;
}

static NNRTI_UNUSED int32_t nnrti_quant_product_16(int32_t a, int32_t b)
{
    return nnrti_quant_16(nnrti_shift_down((int64_t)a * b + (1 << 14), 15));
}

/* An operator of one input, quantised, is a table: what its function needs to make it. */
typedef struct nnrti_coder {
    const void *attr;
    float sx, sy;
    int32_t least, greatest; /* bounds of the result */
    int32_t a[2], b[2];      /* factors: of sx / sy in float32 both, unless the rule has others */
    float (*real)(const void *attr, float v);
} nnrti_coder;

/* The result without its zero point of a stored integer without its own. */
typedef int64_t (*nnrti_code)(const nnrti_coder *k, int32_t v);

/* Input 0 and result 0 are quantised with one parameter each; the result is bounded by a fused activation. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_coder_of(nnrt_resolve *c, NNRT_ActivationType activation, nnrti_coder *k)
{
    const nnrt_operand *y = &c->out[0];
    NNRT_ReturnCode code;
    if ((code = nnrti_quant_operand(c, &c->in[0], -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, y, -1)) != NNRT_SUCCESS)
        return code;
    memset(k, 0, sizeof(*k));
    k->attr = c->resolved;
    k->sx = (float)nnrti_quant_scale(&c->in[0], 0);
    k->sy = (float)nnrti_quant_scale(y, 0);
    nnrti_quant_bounds(y, activation, &k->least, &k->greatest);
    nnrti_factor(k->sy > 0 ? (double)(k->sx / k->sy) : 0, k->a);
    memcpy(k->b, k->a, sizeof(k->b));
    return NNRT_SUCCESS;
}

/* Derives uint8[256]: the bits of the result for the bits of each stored integer. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_table(nnrt_resolve *c, const nnrti_coder *k, nnrti_code f)
{
    static const int32_t codes = 256;
    const int32_t zx = c->in[0].quant[0].zeroPoint, zy = c->out[0].quant[0].zeroPoint;
    void *data;
    const NNRT_ReturnCode code = nnrti_derive(c, NNRT_DATA_TYPE_UINT8, 1, &codes, &data);
    for (int32_t i = 0; i < codes && code == NNRT_SUCCESS; i++) {
        const int32_t q = i > 127 && c->in[0].dataType == NNRT_DATA_TYPE_INT8 ? i - 256 : i;
        const int64_t y = f(k, q - zx) + zy;
        nnrti_store_8(data, i, y < k->least ? k->least : y > k->greatest ? k->greatest : (int32_t)y);
    }
    return code;
}

/* v times a, below 0 times b. */
static NNRTI_UNUSED int64_t nnrti_code_linear(const nnrti_coder *k, int32_t v)
{
    return nnrti_rescale(v, v >= 0 ? k->a : k->b);
}

static NNRTI_UNUSED int64_t nnrti_code_abs(const nnrti_coder *k, int32_t v)
{
    return nnrti_rescale(v < 0 ? -v : v, k->a);
}

/* The float32 function of the real value; NaN is the zero point. */
static NNRTI_UNUSED int64_t nnrti_code_real(const nnrti_coder *k, int32_t v)
{
    const float r = k->real(k->attr, k->sx * (float)v) * (k->sy > 0 ? 1.0f / k->sy : 0.0f);
    return r != r ? 0 : r > 1e9f ? 1000000000 : r < -1e9f ? -1000000000 : (int64_t)nnrti_round((double)r);
}

/* x * min(max(x + 3, 0), 6) / 6 in 16 bits; a: to the result; b: to where 3 is 2^15, that is 3 / 2^15 a unit. */
static NNRTI_UNUSED int64_t nnrti_code_hswish(const nnrti_coder *k, int32_t v)
{
    const int32_t wide[2] = {nnrti_quant_16(((int64_t)k->a[0] + (1 << 15)) >> 16),
                             nnrti_quant_16(((int64_t)k->b[0] + (1 << 15)) >> 16)};
    const int32_t x = 128 * v;
    int32_t gate, y;
    if (k->b[1] > 0)
        gate = nnrti_quant_16(2 * nnrti_quant_product_16(nnrti_quant_16(x * ((int64_t)1 << (k->b[1] - 1))), wide[1]));
    else
        gate = (int32_t)nnrti_shift_round(nnrti_quant_product_16(x, wide[1]), -k->b[1]);
    gate = (int32_t)nnrti_shift_down(gate + (1 << 15), 1);
    y = gate * nnrti_quant_product_16(x, wide[0]) / (1 << 15);
    return k->a[1] > 0 ? nnrti_quant_16((int64_t)y * ((int64_t)1 << k->a[1])) : nnrti_shift_round(y, -k->a[1]);
}

/* The one input and the result of HSWISH, whose gate has slope 1/6 and offset 1/2. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_quant_hswish(nnrt_resolve *c, nnrti_coder *k)
{
    const float unit = k->sx / 128;
    nnrti_factor(k->sy > 0 ? (double)(unit / k->sy) : 0, k->a);
    nnrti_factor((double)(unit / 0.000091552734375f), k->b);
    return nnrti_quant_table(c, k, nnrti_code_hswish);
}

/* Result 0, quantised, has values of input 0 or between them: one factor, scale of x / scale of the result, which is 1
   of equal parameters. */
static NNRT_ReturnCode nnrti_quant_values(nnrt_resolve *c, NNRT_ActivationType activation)
{
    const nnrt_operand *x = &c->in[0], *y = &c->out[0];
    int32_t *factor;
    NNRT_ReturnCode code;
    if (!nnrti_is_quant(x))
        return NNRT_SUCCESS;
    if ((code = nnrti_quant_operand(c, x, -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, activation, 1, &factor)) != NNRT_SUCCESS)
        return code;
    nnrti_quant_refit(x, y, factor);
    return NNRT_SUCCESS;
}

/* A quantised sum of products of inputs 0 and 1, with a bias of the scale of these: input 1 has one parameter, or one
   per place of axis, each with a factor scale of x * scale of weight / scale of the result. narrow: of a single
   parameter the product is rounded to float32. */
static NNRT_ReturnCode nnrti_quant_products(nnrt_resolve *c, int32_t axis, NNRT_ActivationType activation, bool narrow)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[1];
    int32_t *factors;
    NNRT_ReturnCode code;
    if (!nnrti_is_quant(x))
        return NNRT_SUCCESS;
    if (x->dataType == NNRT_DATA_TYPE_INT8 && w->dataType != NNRT_DATA_TYPE_INT8)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input 1 '%s' is %o, expected the type of input 0: %o", w->name, w,
                          x);
    if ((code = nnrti_quant_operand(c, x, -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, w, axis)) != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, activation, w->quantCount, &factors)) != NNRT_SUCCESS)
        return code;
    for (uint32_t k = 0; k < w->quantCount; k++) {
        const double product = nnrti_quant_scale(x, 0) * nnrti_quant_scale(w, k);
        nnrti_factor(nnrti_quant_ratio(narrow && w->quantCount == 1 ? (double)(float)product : product,
                                       nnrti_quant_scale(&c->out[0], 0)),
                     factors + 2 * k);
    }
    return NNRT_SUCCESS;
}

/* Result 0 has the elements of input 0, and as axis k its axes from ends[k - 1] (0) up to ends[k], folded into one. y is seen
   with the shape of x. */
static NNRT_ReturnCode nnrti_result_folded(nnrt_resolve *c, int32_t rank, const int32_t *ends)
{
    const nnrt_operand *x = &c->in[0];
    int32_t dims[NNRT_MAX_RANK] = {0}, only[NNRT_MAX_RANK], to[NNRT_MAX_RANK], i = 0;
    for (int32_t k = 0; k < rank; k++) {
        int64_t extent = 1, fixed = 1;
        only[k] = -1; /* the one axis whose open extent it is; x->rank: computed from some */
        for (int32_t n = i; n < ends[k]; n++) {
            extent = nnrti_product(extent, x->dims[n]);
            if (nnrti_axis_open(x, n))
                only[k] = only[k] < 0 ? n : x->rank;
            else
                fixed = nnrti_product(fixed, x->dims[n]);
        }
        if (extent > INT32_MAX && only[k] < 0)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %d of the result would have extent %l: too large", k,
                              extent);
        only[k] = only[k] >= 0 && fixed != 1 ? x->rank : only[k];
        dims[k] = extent < INT32_MAX ? (int32_t)extent : INT32_MAX; /* no run folds more */
        for (; i < ends[k]; i++)
            to[i] = x->dims[i] == dims[k] ? k : -1;
    }
    nnrti_result(c, 0, rank, dims);
    for (int32_t k = 0; k < rank; k++)
        if (only[k] < 0)
            nnrti_fixed(c, 0, k);
        else if (only[k] < x->rank)
            nnrti_from(c, 0, k, x, only[k]);
    nnrti_result_of_as_many(c, x);
    nnrti_see_as(&c->out[0], x->rank, x->dims);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* A 2x2 attribute [[top, bottom], [left, right]] with entries >= 0, empty = zeros: pads = top, bottom, left, right. */
static NNRT_ReturnCode nnrti_border(nnrt_resolve *c, const char *what, NNRT_Int64Lists *lists, int64_t pads[4])
{
    if (lists->count == 0) {
        NNRT_Int64List *both = (NNRT_Int64List *)c->alloc(c->user, 2 * sizeof(*both));
        if (both == NULL)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its attributes");
        for (uint32_t i = 0; i < 2; i++) {
            int64_t *pair = nnrti_list(c, &both[i], 2);
            if (pair == NULL)
                return NNRT_OUT_OF_MEMORY;
            pair[0] = pair[1] = 0;
        }
        lists->data = both;
        lists->count = 2;
    }
    if (lists->count != 2)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s has %u lists, expected 2: [top,bottom], [left,right]", what,
                          lists->count);
    for (uint32_t i = 0; i < 2; i++) {
        if (lists->data[i].count != 2)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u] has %u entries, expected 2", what, i,
                              lists->data[i].count);
        for (uint32_t k = 0; k < 2; k++) {
            pads[2 * i + k] = lists->data[i].data[k];
            if (pads[2 * i + k] < 0)
                return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u][%u] is %l, expected at least 0", what, i, k,
                                  pads[2 * i + k]);
        }
    }
    return NNRT_SUCCESS;
}

/* What SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND share: x has 4 axes, blockShape two entries >= 1, border as above. */
static NNRT_ReturnCode nnrti_blocks(nnrt_resolve *c, const NNRT_Int64List *block, const char *what,
                                    NNRT_Int64Lists *lists, int64_t pads[4])
{
    const nnrt_operand *x = &c->in[0];
    memset(pads, 0, 4 * sizeof(pads[0]));
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if (block->count != 2)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "blockShape has %u entries, expected 2: height, width",
                          block->count);
    for (uint32_t i = 0; i < 2; i++)
        if (block->data[i] < 1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "blockShape[%u] is %l, expected at least 1", i,
                              block->data[i]);
    return nnrti_border(c, what, lists, pads);
}

/* COMPRESS, UNIQUE: the one axis that a list names, or that of x as one line: the kernel sees x so. *rank, dims: extents of x then;
   to: where quantisation parameters along an axis go. */
static NNRT_ReturnCode nnrti_told_axis(nnrt_resolve *c, NNRT_Int64List *list, int32_t *rank, int32_t *dims,
                                       int32_t *axis, int32_t *to)
{
    nnrt_operand *x = &c->in[0];
    const size_t all = nnrti_count(x);
    const bool flat = list->count == 0;
    NNRT_ReturnCode code;
    int64_t *one;
    if (list->count > 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis has %u entries, expected at most 1", list->count);
    if (flat && all > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input '%s' %o has more elements than an axis can have", x->name, x);
    *axis = 0;
    if (!flat && (code = nnrti_axis(c, "axis", list->data[0], x->rank, axis)) != NNRT_SUCCESS)
        return code;
    if ((one = nnrti_list(c, list, 1)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    one[0] = *axis;
    nnrti_axes_but(c, *axis, to);
    *rank = x->rank;
    memcpy(dims, x->dims, sizeof(x->dims));
    if (flat) {
        *rank = 1;
        dims[0] = (int32_t)all;
        nnrti_see_as(x, 1, dims);
        for (int32_t i = 0; i < x->rank; i++)
            to[i] = -1;
    }
    return NNRT_SUCCESS;
}

/* Result i has these extents, those of x but along axis, whose extent, where the
   kernel tells it, is bounded. */
static void nnrti_told_result(nnrt_resolve *c, uint32_t i, int32_t rank, const int32_t *dims, int32_t axis, bool told)
{
    nnrti_result(c, i, rank, dims);
    for (int32_t k = 0; k < rank; k++)
        if (k != axis)
            nnrti_from(c, i, k, &c->in[0], k);
    if (told && c->symbolCount != NULL)
        nnrti_bounded(c, i, axis);
}

/* Result 0 has n images of h x w and the channels of input 0, in the order of input 0's format. Extents may be 0. */
static NNRT_ReturnCode nnrti_result_images(nnrt_resolve *c, int64_t n, int64_t h, int64_t w)
{
    int32_t dims[4];
    if (n > INT32_MAX || h > INT32_MAX || w > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would be %l images of %l x %l: too large", n, h, w);
    memcpy(dims, c->in[0].dims, sizeof(dims));
    dims[0] = (int32_t)n;
    dims[nnrti_image_axis(&c->in[0], 0)] = (int32_t)h;
    dims[nnrti_image_axis(&c->in[0], 1)] = (int32_t)w;
    nnrti_result(c, 0, 4, dims);
    nnrti_from(c, 0, nnrti_image_axis(&c->in[0], 2), &c->in[0], nnrti_image_axis(&c->in[0], 2));
    return NNRT_SUCCESS;
}

/* DEPTH_TO_SPACE and SPACE_TO_DEPTH: x has 4 axes, a block an edge >= 1. */
static NNRT_ReturnCode nnrti_block_size(nnrt_resolve *c, int64_t blockSize)
{
    if (c->in[0].rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", c->in[0].name, &c->in[0]);
    if (blockSize < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "blockSize is %l, expected at least 1", blockSize);
    return NNRT_SUCCESS;
}

/* Result 0 has the images of input 0 with other extents, all computed from its own, or (same) its own. */
static NNRT_ReturnCode nnrti_result_blocks(nnrt_resolve *c, bool same, int64_t h, int64_t w, int64_t channels)
{
    const nnrt_operand *x = &c->in[0];
    int32_t dims[4], to[NNRT_MAX_RANK];
    if (h > INT32_MAX || w > INT32_MAX || channels > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would be %l x %l x %l: too large", h, w, channels);
    dims[0] = x->dims[0];
    dims[nnrti_image_axis(x, 0)] = (int32_t)h;
    dims[nnrti_image_axis(x, 1)] = (int32_t)w;
    dims[nnrti_image_axis(x, 2)] = (int32_t)channels;
    nnrti_result(c, 0, 4, dims);
    for (int32_t i = 0; i < 4; i++) {
        to[i] = i == 0 || same ? i : -1;
        if (to[i] == i || !nnrti_axis_open(x, i))
            nnrti_from(c, 0, i, x, i);
    }
    return nnrti_quant_moves(c, 0, 0, to);
}

/* pads = before, after of every axis of input 0: input 1, [R,2] or 2R entries. */
static NNRT_ReturnCode nnrti_pad_list(nnrt_resolve *c, int64_t pads[2 * NNRT_MAX_RANK])
{
    const nnrt_operand *x = &c->in[0], *p = &c->in[1];
    const int32_t n = 2 * x->rank;
    NNRT_ReturnCode code;
    if (!(p->rank == 1 && p->dims[0] == n) && !(p->rank == 2 && p->dims[0] == x->rank && p->dims[1] == 2))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (paddings) '%s' is %o, expected [%d,2] or [%d]", p->name, p,
                          x->rank, n);
    if (n > 0 && (code = nnrti_known(c, 1, "paddings")) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < n; i++)
        pads[i] = nnrti_element_unbounded(p, (size_t)i) ? 0 : nnrti_value(p, (size_t)i);
    return NNRT_SUCCESS;
}

/* Where extent i of the result is from: x's where nothing is added; fixed when x's and both paddings are. */
static void nnrti_pad_axis(nnrt_resolve *c, int32_t i, bool same)
{
    bool open = false;
#ifndef NNRT_FIRMWARE
    const nnrt_operand *p = &c->in[1];
    open = !nnrti_absent(p) && p->open != NULL && (p->open[2 * i] != 0 || p->open[2 * i + 1] != 0);
#endif
    if (open)
        nnrti_computed(c, 0, i);
    else if (same)
        nnrti_from(c, 0, i, &c->in[0], i);
    else if (!nnrti_axis_open(&c->in[0], i))
        nnrti_fixed(c, 0, i);
}

/* Result 0 is input 0 with so much before and after each axis. to[i] = i, or -1 where anything is added. */
static NNRT_ReturnCode nnrti_pad_result(nnrt_resolve *c, const int64_t *pads, int32_t to[NNRT_MAX_RANK])
{
    const nnrt_operand *x = &c->in[0];
    int32_t dims[NNRT_MAX_RANK];
    for (int32_t i = 0; i < 2 * x->rank; i++)
        if (pads[i] < 0 && (nnrti_absent(&c->in[1]) || !nnrti_element_open(&c->in[1], (size_t)i)))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "paddings[%d][%d] is %l, expected at least 0", i / 2, i % 2,
                              pads[i]);
    for (int32_t i = 0; i < x->rank; i++) {
        const int64_t room = INT32_MAX - (int64_t)x->dims[i];
        if (pads[2 * i] > room || pads[2 * i + 1] > room - pads[2 * i])
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %d, extent %d, padded by %l and %l: too large", i,
                              x->dims[i], pads[2 * i], pads[2 * i + 1]);
        dims[i] = (int32_t)(pads[2 * i] + x->dims[i] + pads[2 * i + 1]);
        to[i] = dims[i] == x->dims[i] ? i : -1;
    }
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t i = 0; i < x->rank; i++)
        nnrti_pad_axis(c, i, to[i] == i);
    return NNRT_SUCCESS;
}

/* Writes v into an element of the given type: integers truncate toward zero and saturate, NaN gives 0. */
static void nnrti_number(NNRT_DataType type, double v, void *element)
{
    switch (type) {
#define NNRTI_NUMBER(T, lo, hi)                                                                                        \
    {                                                                                                                  \
        T n = (T)(v != v ? (T)0 : v <= (double)(lo) ? (T)(lo) : v >= (double)(hi) ? (T)(hi) : (T)v);                   \
        memcpy(element, &n, sizeof(n));                                                                                \
        break;                                                                                                         \
    }
    case NNRT_DATA_TYPE_INT8: NNRTI_NUMBER(int8_t, INT8_MIN, INT8_MAX)
    case NNRT_DATA_TYPE_INT16: NNRTI_NUMBER(int16_t, INT16_MIN, INT16_MAX)
    case NNRT_DATA_TYPE_INT32: NNRTI_NUMBER(int32_t, INT32_MIN, INT32_MAX)
    case NNRT_DATA_TYPE_INT64: NNRTI_NUMBER(int64_t, INT64_MIN, INT64_MAX)
    case NNRT_DATA_TYPE_UINT8: NNRTI_NUMBER(uint8_t, 0, UINT8_MAX)
    case NNRT_DATA_TYPE_UINT16: NNRTI_NUMBER(uint16_t, 0, UINT16_MAX)
    case NNRT_DATA_TYPE_UINT32: NNRTI_NUMBER(uint32_t, 0, UINT32_MAX)
    case NNRT_DATA_TYPE_UINT64: NNRTI_NUMBER(uint64_t, 0, UINT64_MAX)
    case NNRT_DATA_TYPE_BOOL: {
        uint8_t b = v != 0 ? 1 : 0;
        memcpy(element, &b, sizeof(b));
        break;
    }
    case NNRT_DATA_TYPE_FLOAT64: memcpy(element, &v, sizeof(v)); break;
    case NNRT_DATA_TYPE_FLOAT16:
    case NNRT_DATA_TYPE_FLOAT32: nnrti_store(element, 0, (float)v, type); break;
    default: break;
    }
}

/* Result i holds positions: int32 unless the model declares int64. */
static NNRT_ReturnCode nnrti_index_result(nnrt_resolve *c, uint32_t i)
{
    nnrt_operand *o = &c->out[i];
    if (nnrti_absent(o))
        o->dataType = NNRT_DATA_TYPE_INT32;
    if (!nnrti_type_in(o->dataType, NNRT_TYPES_INDEX))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output %u '%s' is declared %t, expected int32 or int64", i,
                          o->name, o->dataType);
    return NNRT_SUCCESS;
}

/* Result i is float32, whatever the inputs are. */
static NNRT_ReturnCode nnrti_float_result(nnrt_resolve *c, uint32_t i)
{
    nnrt_operand *o = &c->out[i];
    if (nnrti_absent(o))
        o->dataType = NNRT_DATA_TYPE_FLOAT32;
    if (o->dataType != NNRT_DATA_TYPE_FLOAT32)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output %u '%s' is declared %t, but is float32", i, o->name,
                          o->dataType);
    return NNRT_SUCCESS;
}

/* The attributes that AVGPOOL_FUSION and MAX_POOL_FUSION share. */
typedef struct nnrti_pool {
    NNRT_Int64List *kernelSize, *strides, *pad;
    NNRT_PadMode *padMode;
    NNRT_RoundMode *roundMode;
    bool *global;
    NNRT_ActivationType activationType;
} nnrti_pool;

/* A global pool becomes one window over the whole plane of height x width. */
static NNRT_ReturnCode nnrti_pool_global(nnrt_resolve *c, const nnrti_pool *a, int32_t height, int32_t width)
{
    int64_t *kernelSize = nnrti_list(c, a->kernelSize, 2), *strides = nnrti_list(c, a->strides, 2);
    if (kernelSize == NULL || strides == NULL)
        return NNRT_OUT_OF_MEMORY;
    kernelSize[0] = height;
    kernelSize[1] = width;
    strides[0] = 1;
    strides[1] = 1;
    a->pad->count = 0;
    *a->padMode = NNRT_PAD_MODE_VALID;
    *a->roundMode = NNRT_ROUND_MODE_FLOOR;
    *a->global = false;
    return NNRT_SUCCESS;
}

/* *out = extent of the result along axis 0 or 1 (height, width) of input extent L; pads = the two paddings of the axis.
   Every window must reach a cell: the first and the last one decide that. */
static NNRT_ReturnCode nnrti_pool_extent(nnrt_resolve *c, const nnrti_pool *a, int32_t axis, int64_t L, int64_t pads[2],
                                         int64_t *out)
{
    static const char *const names[] = {"height", "width"};
    const int64_t k = a->kernelSize->data[axis], s = a->strides->data[axis];
    int64_t n = nnrti_window(*a->padMode, L, k, s, 1, &pads[0], &pads[1]);
    if (*a->padMode != NNRT_PAD_MODE_SAME && *a->roundMode == NNRT_ROUND_MODE_CEIL) {
        const int64_t rest = L + pads[0] + pads[1] - k;
        n = nnrti_quotient(rest > 0 ? rest + s - 1 : rest, s) + 1; /* both round up */
    }
    if (n <= 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "%s %l with paddings %l and %l is smaller than the window of %l",
                          names[axis], L, pads[0], pads[1], k);
    if (pads[0] >= k || (n - 1) * s - pads[0] >= L)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "%s %l, window %l, stride %l, paddings %l and %l: the %s window has no cell", names[axis], L,
                          k, s, pads[0], pads[1], pads[0] >= k ? "first" : "last");
    *out = n;
    return NNRT_SUCCESS;
}

/* Resolved: kernelSize, strides and pad explicit, padMode PAD, no global; roundMode has shaped the result.
   Derived: when quantised, zero point, bounds and factor of the result. */
static NNRT_ReturnCode nnrti_pool_rule(nnrt_resolve *c, const nnrti_pool *a)
{
    const nnrt_operand *x = &c->in[0];
    int64_t pads[4], h, w;
    int32_t height, width;
    bool global;
    NNRT_ReturnCode code;
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    height = x->dims[nnrti_image_axis(x, 0)];
    width = x->dims[nnrti_image_axis(x, 1)];
    global = *a->global;
    if (global && (code = nnrti_pool_global(c, a, height, width)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_pair(c, "kernelSize", a->kernelSize, 0, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "strides", a->strides, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pads(c, "pad", a->pad, *a->padMode, pads)) != NNRT_SUCCESS ||
        (code = nnrti_fused(c, a->activationType)) != NNRT_SUCCESS ||
        (code = nnrti_pool_extent(c, a, 0, height, &pads[0], &h)) != NNRT_SUCCESS ||
        (code = nnrti_pool_extent(c, a, 1, width, &pads[2], &w)) != NNRT_SUCCESS ||
        (code = nnrti_set_pads(c, a->pad, a->padMode, pads)) != NNRT_SUCCESS)
        return code;
    *a->roundMode = NNRT_ROUND_MODE_FLOOR;
    for (uint32_t i = 0; i < c->nOut; i++) {
        if ((code = nnrti_result_image(c, i, x->dims[0], h, w, x->dims[nnrti_image_axis(x, 2)])) != NNRT_SUCCESS)
            return code;
        nnrti_from(c, i, nnrti_image_axis(x, 2), x, nnrti_image_axis(x, 2));
        for (int32_t which = 0; which < 2 && global; which++)
            nnrti_fixed(c, i, nnrti_image_axis(x, which));
    }
    return nnrti_quant_values(c, a->activationType);
}

/* The attributes that windows over [N,C,..] with `axes` axes more share; pads: before each axis, then behind each. */
typedef struct nnrti_volume {
    NNRT_Int64List *kernelShape, *strides, *dilations, *pads;
    NNRT_AutoPad *autoPad;
    int32_t axes;
    bool ceil, pool; /* the extent is rounded up; every window must have a cell */
} nnrti_volume;

/* A list attribute of `count` numbers: nothing and zeros = all `initial`; each must be >= least. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_volume_list(nnrt_resolve *c, const char *what, NNRT_Int64List *list,
                                                      uint32_t count, int64_t initial, int64_t least)
{
    if (nnrti_unsaid(list) && (list->count == 0 || list->count == count)) {
        int64_t *v = nnrti_list(c, list, count);
        if (v == NULL)
            return NNRT_OUT_OF_MEMORY;
        for (uint32_t i = 0; i < count; i++)
            v[i] = initial;
    }
    if (list->count != count)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s has %u entries, expected %u", what, list->count, count);
    for (uint32_t i = 0; i < count; i++)
        if (list->data[i] < least)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u] is %l, expected at least %l", what, i, list->data[i],
                              least);
    return NNRT_SUCCESS;
}

/* The lists are said, and pads are 0 unless autoPad is NOTSET. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_volume_lists(nnrt_resolve *c, const nnrti_volume *a)
{
    const nnrt_operand *x = &c->in[0];
    const uint32_t axes = (uint32_t)a->axes;
    NNRT_ReturnCode code;
    if (x->rank != a->axes + 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected %d axes", x->name, x, a->axes + 2);
    if ((code = nnrti_volume_list(c, "kernelShape", a->kernelShape, axes, 0, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "strides", a->strides, axes, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "dilations", a->dilations, axes, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "pads", a->pads, 2 * axes, 0, 0)) != NNRT_SUCCESS)
        return code;
    if (*a->autoPad != NNRT_AUTO_PAD_NOTSET && !nnrti_unsaid(a->pads))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "only autoPad NOTSET takes pads");
    return NNRT_SUCCESS;
}

/* *out = windows along an axis of extent L, of which *p0 and *p1 are the paddings: known, or computed (SAME). */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_volume_extent(nnrt_resolve *c, const nnrti_volume *a, int32_t axis, int64_t L,
                                                        int64_t *p0, int64_t *p1, int64_t *out)
{
    const int64_t k = a->kernelShape->data[axis], s = a->strides->data[axis], d = a->dilations->data[axis];
    const int64_t reach = (k - 1) * d + 1;
    int64_t n, rest;
    if (*a->autoPad == NNRT_AUTO_PAD_SAME_UPPER || *a->autoPad == NNRT_AUTO_PAD_SAME_LOWER) {
        n = nnrti_quotient(L + s - 1, s);
        rest = (n - 1) * s + reach - L;
        rest = rest > 0 ? rest : 0;
        *p0 = *a->autoPad == NNRT_AUTO_PAD_SAME_UPPER ? rest / 2 : rest - rest / 2;
        *p1 = rest - *p0;
    } else {
        rest = L + *p0 + *p1 - reach + (a->ceil ? s - 1 : 0);
        n = rest < 0 ? 0 : nnrti_quotient(rest, s) + 1;
        if (a->ceil && n > 0 && (n - 1) * s >= L + *p0) /* windows that begin behind the data are dropped */
            n = nnrti_quotient(L + *p0 - 1, s) + 1;
    }
    if (n <= 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "axis %d of input '%s' %o with paddings %l and %l is smaller than the "
                          "window of %l",
                          axis + 2, c->in[0].name, &c->in[0], *p0, *p1, reach);
    if (a->pool && (*p0 >= reach || (n - 1) * s - *p0 >= L || (*p0 > 0 && d > L)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "axis %d of input '%s' %o, window %l, stride %l, dilation %l, paddings "
                          "%l and %l: a window has no cell",
                          axis + 2, c->in[0].name, &c->in[0], k, s, d, *p0, *p1);
    *out = n;
    return NNRT_SUCCESS;
}

/* Result i = [N,channels,out..], N that of input 0; the extents of axes that are not open in input 0 are not. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_result_volume(nnrt_resolve *c, uint32_t i, int64_t channels,
                                                        const int64_t *out)
{
    const nnrt_operand *x = &c->in[0];
    int32_t dims[NNRT_MAX_RANK] = {0};
    for (int32_t k = 1; k < x->rank; k++) {
        const int64_t extent = k == 1 ? channels : out[k - 2];
        if (extent > INT32_MAX)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %d of the result would have extent %l: too large", k,
                              extent);
        dims[k] = (int32_t)extent;
    }
    dims[0] = x->dims[0];
    nnrti_result(c, i, x->rank, dims);
    nnrti_from(c, i, 0, x, 0);
    for (int32_t k = 2; k < x->rank; k++)
        if (!nnrti_axis_open(x, k))
            nnrti_fixed(c, i, k);
    return NNRT_SUCCESS;
}

/* Resolved: all lists are said, pads explicit and autoPad NOTSET. All results are [N,channels,windows..]. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_volume_rule(nnrt_resolve *c, const nnrti_volume *a, int64_t channels)
{
    const NNRT_Int64List given = *a->pads;
    int64_t out[NNRT_MAX_RANK], *pads = nnrti_list(c, a->pads, given.count);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (pads == NULL)
        return NNRT_OUT_OF_MEMORY;
    memcpy(pads, given.data, given.count * sizeof(*pads));
    for (int32_t i = 0; i < a->axes; i++)
        if ((code = nnrti_volume_extent(c, a, i, c->in[0].dims[2 + i], &pads[i], &pads[a->axes + i], &out[i])) !=
            NNRT_SUCCESS)
            return code;
    *a->autoPad = NNRT_AUTO_PAD_NOTSET;
    for (uint32_t i = 0; i < c->nOut && code == NNRT_SUCCESS; i++)
        code = nnrti_result_volume(c, i, channels, out);
    return code;
}

/* What CONV_3D and CONV_TRANSPOSE_3D share: weight [W0,W1,kD,kH,kW], bias [Co]; W0 or W1 is that of a group. The window
   that is not said is the weight's; of one that is open the smallest gives the largest result of a convolution. */
static NNRTI_UNUSED NNRT_ReturnCode nnrti_volume_weight(nnrt_resolve *c, NNRT_Int64List *kernelShape, int64_t *group,
                                                        bool transposed, int64_t *channels)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[1], *b = &c->in[2];
    const int32_t part = transposed ? 0 : 1; /* the axis of w that goes with the channels of x */
    const NNRT_Int64List given = *kernelShape;
    int64_t *k, own;
    *channels = 0;
    *group = *group == 0 ? 1 : *group;
    if (*group < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "group is %l, expected at least 1", *group);
    if (NNRTI_NO_VOLUMES || x->rank != 5 || w->rank != 5)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o and weight '%s' %o, expected 5 axes", x->name, x,
                          w->name, w);
    own = transposed ? w->dims[0] : nnrti_product(w->dims[1], *group);
    *channels = transposed ? nnrti_product(w->dims[1], *group) : w->dims[0];
    if ((own != x->dims[1] && !nnrti_axis_open(x, 1) && !nnrti_axis_open(w, part)) ||
        (nnrti_remainder(w->dims[0], *group) != 0 && !nnrti_axis_open(w, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "weight '%s' %o does not go with input '%s' %o in %l groups", w->name,
                          w, x->name, x, *group);
    if (!nnrti_absent(b) &&
        (b->rank != 1 || (b->dims[0] != *channels && !nnrti_axis_open(b, 0) && !nnrti_axis_open(w, 1 - part))))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected [%l]", b->name, b, *channels);
    if ((k = nnrti_list(c, kernelShape, 3)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (int32_t i = 0; i < 3; i++)
        k[i] = nnrti_axis_open(w, 2 + i) && !transposed ? 1 : w->dims[2 + i];
    for (int32_t i = 0; i < 3 && !nnrti_unsaid(&given); i++)
        if (given.count != 3 || (given.data[i] != w->dims[2 + i] && !nnrti_axis_open(w, 2 + i)))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "kernelShape is not the window of weight '%s' %o", w->name, w);
    return NNRT_SUCCESS;
}

/* The channels of result 0 are as many as axis `axis` of the weight has, times group; its window is the weight's. */
static NNRTI_UNUSED void nnrti_volume_from_weight(nnrt_resolve *c, int32_t axis, int64_t group)
{
    const nnrt_operand *w = &c->in[1];
    if (group == 1 || !nnrti_axis_open(w, axis))
        nnrti_from(c, 0, 1, w, axis);
    for (int32_t i = 2; i < w->rank; i++)
        if (nnrti_axis_open(w, i))
            nnrti_computed(c, 0, i);
}

/* Result 0 = inputs 0 and 1 broadcast together, followed by a fused activation. */
static NNRT_ReturnCode nnrti_binary_rule(nnrt_resolve *c, NNRT_ActivationType activation)
{
    int32_t rank, dims[NNRT_MAX_RANK] = {0};
    NNRT_ReturnCode code = nnrti_broadcast(c, &c->in[0], &c->in[1], &rank, dims);
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, rank, dims);
    nnrti_from_both(c, &c->in[0], c->in[0].rank, &c->in[1], c->in[1].rank);
    return nnrti_fused(c, activation);
}

/* The same without an activation. */
static NNRT_ReturnCode nnrti_rule_binary(nnrt_resolve *c)
{
    return nnrti_binary_rule(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
}

/* The same of what compares. Derived: when quantised, int64[4], the zero points of x and of y, and of each a number by which
   a stored integer without its zero point is multiplied to be comparable. */
static NNRT_ReturnCode nnrti_rule_compare(nnrt_resolve *c)
{
    const NNRT_ReturnCode code = nnrti_rule_binary(c);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_compare(c, 10) : code;
}

/* The same of what takes one of two elements. Derived: when quantised, zero point and bounds of the result, the factors of x
   and of y. */
static NNRT_ReturnCode nnrti_rule_extreme(nnrt_resolve *c)
{
    const NNRT_ReturnCode code = nnrti_rule_binary(c);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_extreme(c) : code;
}

/* Result 0, some inputs broadcast together, is broadcast with y as well. It begins as a scalar, or as one of them. */
static NNRT_ReturnCode nnrti_broadcast_also(nnrt_resolve *c, const nnrt_operand *y)
{
    nnrt_operand x = c->out[0];
    int32_t rank, dims[NNRT_MAX_RANK] = {0};
    NNRT_ReturnCode code;
    x.name = "the other inputs";
    if ((code = nnrti_broadcast(c, &x, y, &rank, dims)) != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, rank, dims);
    nnrti_from_both(c, &x, x.rank, y, y->rank);
    return NNRT_SUCCESS;
}

/* Extent of the channel axis of input 0: axis 1 of NCHW with three axes or more, else the last; a scalar has one channel. */
static int32_t nnrti_channels(const nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    if (x->rank == 0)
        return 1;
    return x->rank > 2 && x->format == NNRT_FORMAT_NCHW ? x->dims[1] : x->dims[x->rank - 1];
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ABS */

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_abs(nnrt_resolve *c)
{
    nnrti_coder k;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_table(c, &k, nnrti_code_abs);
}

/* >>kernel ABS */

static uint64_t nnrti_abs_int(uint64_t v)
{
    return v >> 63 != 0 ? 0u - v : v;
}

/* y = |x|, element by element; |-0| = 0, and the least integer, which has no opposite, stays. Unsigned integers are
   copied. y may lie where x lies. */
NNRTI_UNARY(Abs, abs, nnrti_absf, nnrti_abs)
NNRTI_UNARY_INT(Abs, abs, nnrti_abs_int)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ACOS */
/* >>kernel ACOS */

/* y = the angle of 0 to pi whose cosine is x, element by element; NaN where |x| > 1. y may lie where x lies. */
NNRTI_UNARY(Acos, acos, nnrti_acosf, nnrti_acos)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ACOSH */
/* >>kernel ACOSH */

/* y = ln(x + sqrt(x * x - 1)), element by element; NaN where x < 1. y may lie where x lies. */
NNRTI_UNARY(Acosh, acosh, nnrti_acoshf, nnrti_acosh)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ACTIVATION */

/* The function that attr names; those without parameters of their own are nnrti_activate. NaN gives NaN
   but for THRESHOLDRELU, where no comparison holds. */
static float nnrti_activation_value(const NNRT_Activation *attr, float v)
{
    switch (attr->activationType) {
    case NNRT_ACTIVATION_TYPE_ELU: return v >= 0 ? v : attr->alpha * nnrti_expm1f(v);
    case NNRT_ACTIVATION_TYPE_LEAKY_RELU: return v >= 0 ? v : attr->alpha * v;
    case NNRT_ACTIVATION_TYPE_THRESHOLDRELU: return v > attr->alpha ? v : 0.0f;
    case NNRT_ACTIVATION_TYPE_HARD_TANH: return v < attr->minVal ? attr->minVal : v > attr->maxVal ? attr->maxVal : v;
    case NNRT_ACTIVATION_TYPE_GELU:
        if (attr->approximate && !(v < -FLT_MAX))
            return 0.5f * v * (1.0f + nnrti_tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
        break;
    default: break;
    }
    return nnrti_activate(v, attr->activationType);
}

static float nnrti_activation_real(const void *attr, float v)
{
    return nnrti_activation_value((const NNRT_Activation *)attr, v);
}

/* 1 / (1 + exp(-x)) and tanh(x) of v rescaled to 27 fraction bits (k->a); from 15 on they are what they tend to. */
static int64_t nnrti_code_logistic(const nnrti_coder *k, int32_t v)
{
    const int64_t one = (int64_t)1 << 31, unit = (int64_t)15 << 27;
    const int64_t limit = k->a[1] > 0 ? unit >> k->a[1] : unit * ((int64_t)1 << -k->a[1]);
    const int32_t g = nnrti_rescale(v, k->a);
    int64_t y = one >> 1;
    if (v <= -limit || v >= limit)
        return v <= -limit ? 0 : 255;
    if (g != 0)
        y = nnrti_fixed_reciprocal(nnrti_fixed_exp(g < 0 ? g : -g, 4));
    return nnrti_shift_round(g == 0 ? (int64_t)1 << 30 : g > 0 ? y : one - 1 - y, 23);
}

static int64_t nnrti_code_tanh(const nnrti_coder *k, int32_t v)
{
    const int64_t unit = (int64_t)15 << 27;
    const int64_t limit = k->a[1] > 0 ? unit >> k->a[1] : unit * ((int64_t)1 << -k->a[1]);
    const int32_t g = nnrti_rescale(v, k->a);
    int32_t y;
    if (v <= -limit || v >= limit)
        return v <= -limit ? -128 : 127;
    if (g == 0)
        return 0;
    y = nnrti_fixed_inverse(nnrti_fixed_exp(g < 0 ? g : -g, 5));
    y = nnrti_to_int32((int64_t)4 * ((int64_t)y - (1 << 29)));
    return nnrti_shift_round(g < 0 ? -y : y, 24);
}

/* Derives the table of quantised data: in integers where they are those of TensorFlow Lite, else from the float function. */
static NNRT_ReturnCode nnrti_quant_activation(nnrt_resolve *c, const NNRT_Activation *a)
{
    const nnrt_operand *x = &c->in[0], *y = &c->out[0];
    const NNRT_ActivationType type = a->activationType;
    nnrti_coder k;
    const NNRT_ReturnCode code = nnrti_coder_of(c, type, &k);
    if (code != NNRT_SUCCESS)
        return code;
    k.real = nnrti_activation_real;
    switch (type) {
    case NNRT_ACTIVATION_TYPE_NO_ACTIVATION:
    case NNRT_ACTIVATION_TYPE_LINEAR:
        nnrti_quant_refit(x, y, k.a);
        memcpy(k.b, k.a, sizeof(k.b));
        return nnrti_quant_table(c, &k, nnrti_code_linear);
    case NNRT_ACTIVATION_TYPE_HARD_TANH:
        k.least = nnrti_quant_of(y, a->minVal);
        k.greatest = nnrti_quant_of(y, a->maxVal);
        return nnrti_quant_table(c, &k, nnrti_code_linear);
    case NNRT_ACTIVATION_TYPE_LEAKY_RELU:
        nnrti_factor(k.sy > 0 ? (double)(k.sx * a->alpha / k.sy) : 0, k.b);
        return nnrti_quant_table(c, &k, nnrti_code_linear);
    case NNRT_ACTIVATION_TYPE_RELU:
    case NNRT_ACTIVATION_TYPE_RELU6:
    case NNRT_ACTIVATION_TYPE_RELU1: return nnrti_quant_table(c, &k, nnrti_code_linear);
    case NNRT_ACTIVATION_TYPE_ABS: return nnrti_quant_table(c, &k, nnrti_code_abs);
    case NNRT_ACTIVATION_TYPE_HSWISH: return nnrti_quant_hswish(c, &k);
    case NNRT_ACTIVATION_TYPE_SIGMOID:
    case NNRT_ACTIVATION_TYPE_TANH: break;
    default: return nnrti_quant_table(c, &k, nnrti_code_real);
    }
    nnrti_factor((double)k.sx * 134217728.0, k.a);
    if (type == NNRT_ACTIVATION_TYPE_SIGMOID && k.sy == 1.0f / 256 && y->quant[0].zeroPoint == k.least)
        return nnrti_quant_table(c, &k, nnrti_code_logistic);
    if (type == NNRT_ACTIVATION_TYPE_TANH && k.sy == 1.0f / 128 && y->quant[0].zeroPoint == k.least + 128)
        return nnrti_quant_table(c, &k, nnrti_code_tanh);
    return nnrti_quant_table(c, &k, nnrti_code_real);
}

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_activation(nnrt_resolve *c)
{
    const NNRT_Activation *a = (const NNRT_Activation *)c->resolved;
    if (c->in[0].dataType == NNRT_DATA_TYPE_INT32 && a->activationType != NNRT_ACTIVATION_TYPE_RELU)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input '%s' is %o, but of int32 only RELU (1) is defined, not %d",
                          c->in[0].name, &c->in[0], a->activationType);
    if (a->activationType == NNRT_ACTIVATION_TYPE_UNKNOWN)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "activationType is UNKNOWN (20), expected 0 to 19");
    if (a->activationType == NNRT_ACTIVATION_TYPE_HARD_TANH && !(a->minVal < a->maxVal))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "minVal is %f, expected less than maxVal %f", (double)a->minVal,
                          (double)a->maxVal);
    nnrti_result_like(c, 0);
    return nnrti_is_quant(&c->in[0]) ? nnrti_quant_activation(c, a) : NNRT_SUCCESS;
}

/* >>kernel ACTIVATION */

static double nnrti_activation_value_f64(const NNRT_Activation *attr, double v)
{
    const double alpha = (double)attr->alpha, least = (double)attr->minVal, greatest = (double)attr->maxVal;
    switch (attr->activationType) {
    case NNRT_ACTIVATION_TYPE_ELU: return v >= 0 ? v : alpha * (nnrti_exp(v) - 1.0);
    case NNRT_ACTIVATION_TYPE_LEAKY_RELU: return v >= 0 ? v : alpha * v;
    case NNRT_ACTIVATION_TYPE_THRESHOLDRELU: return v > alpha ? v : 0.0;
    case NNRT_ACTIVATION_TYPE_HARD_TANH: return v < least ? least : v > greatest ? greatest : v;
    case NNRT_ACTIVATION_TYPE_GELU:
        if (attr->approximate && !(v < -DBL_MAX))
            return 0.5 * v * (1.0 + nnrti_tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
        break;
    default: break;
    }
    return nnrti_activate_f64(v, attr->activationType);
}

/* y = f(x), element by element; x and y of one shape. y may lie where x lies. */
NNRTI_INLINE NNRT_ReturnCode nnrti_activation(const NNRT_Activation *attr, const nnrt_view *x, nnrt_view *y,
                                              NNRT_DataType type)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            float v = nnrti_load(x->data, w.at[1] + i * w.row[1], type);
            nnrti_store(y->data, w.at[0] + i * w.row[0], nnrti_activation_value(attr, v), type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_activation_f32(const NNRT_Activation *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_activation(attr, x, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_activation_f16(const NNRT_Activation *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_activation(attr, x, y, NNRT_DATA_TYPE_FLOAT16);
}

NNRT_API NNRT_ReturnCode nnrt_activation_f64(const NNRT_Activation *attr, const nnrt_view *x, nnrt_view *y)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do {
        const double *in = (const double *)x->data + w.at[1];
        double *out = (double *)y->data + w.at[0];
        for (int32_t i = 0; i < w.count; i++)
            out[i * w.row[0]] = nnrti_activation_value_f64(attr, in[i * w.row[1]]);
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* y = max(x, 0): int32 knows RELU only. */
NNRT_API NNRT_ReturnCode nnrt_activation_i32(const NNRT_Activation *attr, const nnrt_view *x, nnrt_view *y)
{
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do {
        const int32_t *in = (const int32_t *)x->data + w.at[1];
        int32_t *out = (int32_t *)y->data + w.at[0];
        for (int32_t i = 0; i < w.count; i++)
            out[i * w.row[0]] = in[i * w.row[1]] > 0 ? in[i * w.row[1]] : 0;
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* y = table[x]: int8 or uint8, the table has the bits of y for the 256 of x. y may lie where x lies. */
NNRT_API NNRT_ReturnCode nnrt_activation_q8(const NNRT_Activation *attr, const nnrt_view *x, const nnrt_view *table,
                                            nnrt_view *y)
{
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++)
            ((uint8_t *)y->data)[w.at[0] + i * w.row[0]] =
                ((const uint8_t *)table->data)[((const uint8_t *)x->data)[w.at[1] + i * w.row[1]]];
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ADAPTIVE_AVERAGE_POOL_2D */

/* The extents of all results along height and width are those of input 1.
   Derived: when quantised, zero point, bounds and factor of the result. */
static NNRT_ReturnCode nnrti_rule_adaptive_average_pool_2d(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *size = &c->in[1];
    int64_t extent[2];
    NNRT_ReturnCode code;
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if (size->rank != 1 || size->dims[0] != 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (size) '%s' is %o, expected [2]: height, width", size->name,
                          size);
    if ((code = nnrti_known(c, 1, "size")) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < 2; i++) {
        extent[i] = nnrti_element_unbounded(size, i) ? 1 : nnrti_value(size, i);
        if (extent[i] < 1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "size[%u] is %l, expected at least 1", i, extent[i]);
    }
    for (uint32_t i = 0; i < c->nOut; i++) {
        if ((code = nnrti_result_image(c, i, x->dims[0], extent[0], extent[1], x->dims[nnrti_image_axis(x, 2)])) !=
            NNRT_SUCCESS)
            return code;
        nnrti_from(c, i, nnrti_image_axis(x, 2), x, nnrti_image_axis(x, 2));
        for (int32_t which = 0; which < 2; which++)
            nnrti_from_value(c, i, nnrti_image_axis(x, which), size, (size_t)which);
    }
    return nnrti_quant_values(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
}

/* >>kernel ADAPTIVE_AVERAGE_POOL_2D */

/* The cells of an axis of extent L that place p of n takes: floor(p*L/n) .. ceil((p + 1)*L/n) - 1. */
static nnrti_cells nnrti_adaptive_cells(int32_t p, int32_t n, int32_t L)
{
    nnrti_cells cells;
    cells.first = (int32_t)nnrti_quotient((int64_t)p * L, n);
    cells.end = (int32_t)nnrti_quotient(((int64_t)p + 1) * L + n - 1, n);
    return cells;
}

/* x [N,H,W,C], y [N,Ho,Wo,C]; they may not overlap. y[n,p,q,c] = mean of x[n,h,w,c] over the cells h of p, w of q, as
   nnrti_adaptive_cells tells them. The sum runs over h, then w. */
NNRTI_INLINE NNRT_ReturnCode nnrti_adaptive_average_pool_2d(const nnrt_view *x, const nnrt_view *quant, nnrt_view *y,
                                                            NNRT_DataType type)
{
    nnrti_window_at m = {0, 0, {0, 0}, {0, 0}};
    int32_t height, width;
    for (m.n = 0; m.n < y->dims[0]; m.n++)
        for (int32_t p = 0; p < y->dims[1]; p++)
            for (int32_t q = 0; q < y->dims[2]; q++) {
                m.rows = nnrti_adaptive_cells(p, y->dims[1], x->dims[1]);
                m.columns = nnrti_adaptive_cells(q, y->dims[2], x->dims[2]);
                height = m.rows.end - m.rows.first;
                width = m.columns.end - m.columns.first;
                if (quant != NULL)
                    nnrti_average_8(x, &m, (int64_t)height * width, quant, y, nnrti_place(y, m.n, p, q, 0));
                else
                    nnrti_average(x, &m, (float)height * (float)width, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, y,
                                  nnrti_place(y, m.n, p, q, 0), type);
            }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_adaptive_average_pool_2d_f32(const NNRT_AdaptivePool2D *attr, const nnrt_view *x,
                                                           nnrt_view *y)
{
    (void)attr;
    return nnrti_adaptive_average_pool_2d(x, NULL, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_adaptive_average_pool_2d_f16(const NNRT_AdaptivePool2D *attr, const nnrt_view *x,
                                                           nnrt_view *y)
{
    (void)attr;
    return nnrti_adaptive_average_pool_2d(x, NULL, y, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the mean of the stored integers, halves away from zero, then
   y = clamp((mean - zX) * factor + zY). */
NNRT_API NNRT_ReturnCode nnrt_adaptive_average_pool_2d_q8(const NNRT_AdaptivePool2D *attr, const nnrt_view *x,
                                                          const nnrt_view *quant, nnrt_view *y)
{
    (void)attr;
    return nnrti_adaptive_average_pool_2d(x, quant, y, NNRT_DATA_TYPE_INT8);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ADAPTIVE_MAX_POOL_2D */

/* Resolved: indicesType is that of the second output. */
static NNRT_ReturnCode nnrti_rule_adaptive_max_pool_2d(nnrt_resolve *c)
{
    NNRT_AdaptivePool2D *a = (NNRT_AdaptivePool2D *)c->resolved;
    NNRT_ReturnCode code;
    if (a->returnIndices && c->nOut < 2)
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "returnIndices is true, but output 1 (indices) is missing");
    if (c->nOut > 1) {
        if (nnrti_absent(&c->out[1]))
            c->out[1].dataType = a->indicesType;
        if ((code = nnrti_index_result(c, 1)) != NNRT_SUCCESS)
            return code;
        if (a->indicesType != NNRT_DATA_TYPE_UNKNOWN && a->indicesType != c->out[1].dataType)
            return nnrti_fail(c, NNRT_INVALID_DATATYPE, "indicesType is %t, but output 1 '%s' is declared %t",
                              a->indicesType, c->out[1].name, c->out[1].dataType);
        a->indicesType = c->out[1].dataType;
    }
    return nnrti_rule_adaptive_average_pool_2d(c);
}

/* >>kernel ADAPTIVE_MAX_POOL_2D */

/* x [N,H,W,C], y [N,Ho,Wo,C]; they may not overlap. y[n,p,q,c] = largest x[n,h,w,c] over the cells h of p, w of q, as
   nnrti_adaptive_cells tells them; NaN counts as largest. indices (int32 or int64 of the extents of y) gets h*W + w of the
   first such cell. One of y and indices may be NULL. */
NNRTI_INLINE NNRT_ReturnCode nnrti_adaptive_max_pool_2d(const nnrt_view *x, const nnrt_view *quant, nnrt_view *y,
                                                        nnrt_view *indices, NNRT_DataType type)
{
    const nnrt_view *z = y != NULL ? y : indices;
    nnrti_window_at m = {0, 0, {0, 0}, {0, 0}};
    for (m.n = 0; m.n < z->dims[0]; m.n++)
        for (int32_t p = 0; p < z->dims[1]; p++)
            for (int32_t q = 0; q < z->dims[2]; q++) {
                m.rows = nnrti_adaptive_cells(p, z->dims[1], x->dims[1]);
                m.columns = nnrti_adaptive_cells(q, z->dims[2], x->dims[2]);
                if (quant != NULL)
                    nnrti_largest_8(x, &m, p, q, quant, y, indices);
                else
                    nnrti_largest(x, &m, p, q, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, y, indices, type);
            }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_adaptive_max_pool_2d_f32(const NNRT_AdaptivePool2D *attr, const nnrt_view *x,
                                                       nnrt_view *y, nnrt_view *indices)
{
    (void)attr;
    return nnrti_adaptive_max_pool_2d(x, NULL, y, indices, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_adaptive_max_pool_2d_f16(const NNRT_AdaptivePool2D *attr, const nnrt_view *x,
                                                       nnrt_view *y, nnrt_view *indices)
{
    (void)attr;
    return nnrti_adaptive_max_pool_2d(x, NULL, y, indices, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the largest stored integer q, then y = clamp((q - zX) * factor + zY). */
NNRT_API NNRT_ReturnCode nnrt_adaptive_max_pool_2d_q8(const NNRT_AdaptivePool2D *attr, const nnrt_view *x,
                                                      const nnrt_view *quant, nnrt_view *y, nnrt_view *indices)
{
    (void)attr;
    return nnrti_adaptive_max_pool_2d(x, quant, y, indices, NNRT_DATA_TYPE_INT8);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ADD_FUSION */

/* Derived: when quantised, zero point and bounds of the result, the factors of x, of y and of what they make. */
static NNRT_ReturnCode nnrti_rule_add_fusion(nnrt_resolve *c)
{
    const NNRT_ActivationType type = ((const NNRT_AddFusion *)c->resolved)->activationType;
    const NNRT_ReturnCode code = nnrti_binary_rule(c, type);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_sum(c, type) : code;
}

/* >>kernel ADD_FUSION */

/* z = act(x + y), x and y broadcast to the dims of z. z may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_add_fusion_f32(const NNRT_AddFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                             nnrt_view *z)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do {
        NNRTI_ROW_F32(w, x, y, z, a + b)
        nnrti_activate_row_f32(&w, z, attr->activationType);
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* The same for every other type: integers wrap, two bools give "the sum is not zero". */
NNRT_API NNRT_ReturnCode nnrt_add_fusion(const NNRT_AddFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                         nnrt_view *z)
{
    nnrti_binary(x, y, z, attr->activationType, nnrti_add_row);
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8 with a list of nnrti_quant_sum. */
NNRT_API NNRT_ReturnCode nnrt_add_fusion_q8(const NNRT_AddFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                            const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_add);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ADD_N */

/* Derived of quantised data: the list with the factors of the result and of every input, which times 2^20 comes to the scale
   S, twice the largest; one input is brought to the parameters of the result. */
static NNRT_ReturnCode nnrti_quant_add_n(nnrt_resolve *c)
{
    double S = 0;
    int32_t *factors;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t i = 0; i < c->nIn && code == NNRT_SUCCESS; i++)
        if ((code = nnrti_quant_operand(c, &c->in[i], -1)) == NNRT_SUCCESS && 2 * nnrti_quant_scale(&c->in[i], 0) > S)
            S = 2 * nnrti_quant_scale(&c->in[i], 0);
    if (code != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 1 + c->nIn, &factors)) != NNRT_SUCCESS)
        return code;
    nnrti_factor(nnrti_quant_ratio(S, 1048576.0 * nnrti_quant_scale(&c->out[0], 0)), factors);
    for (uint32_t i = 0; i < c->nIn; i++)
        nnrti_factor(nnrti_quant_ratio(nnrti_quant_scale(&c->in[i], 0), S), factors + 2 + 2 * i);
    if (c->nIn == 1)
        nnrti_quant_refit(&c->in[0], &c->out[0], factors);
    return NNRT_SUCCESS;
}

/* Derived: when quantised, zero point and bounds of the result, its factor and those of the inputs. */
static NNRT_ReturnCode nnrti_rule_add_n(nnrt_resolve *c)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrti_result_like(c, 0);
    for (uint32_t i = 1; i < c->nIn && code == NNRT_SUCCESS; i++)
        code = nnrti_broadcast_also(c, &c->in[i]);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_add_n(c) : code;
}

/* >>kernel ADD_N */

/* y = x[0] + x[1] + .., the sums from left to right, of nIn inputs broadcast to the dims of y; numbers of any type but
   float16, integers wrap. y must not overlap an input. */
NNRT_API NNRT_ReturnCode nnrt_add_n(const NNRT_AddN *attr, const nnrt_view *x, uint32_t nIn, nnrt_view *y)
{
    (void)attr;
    nnrti_copy(&x[0], y);
    for (uint32_t k = 1; k < nIn; k++)
        nnrti_binary(y, &x[k], y, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_add_row);
    return NNRT_SUCCESS;
}

/* The elements of v that are broadcast to those of z along its last axis, from element n of z on, in row order. */
static nnrti_line nnrti_add_n_line(const nnrt_view *v, const nnrt_view *z, size_t n)
{
    nnrti_line line;
    ptrdiff_t at = 0;
    memset(&line, 0, sizeof(line));
    for (int32_t i = z->rank - 1; i >= 0; i--) {
        at += (ptrdiff_t)(n % (size_t)z->dims[i]) * nnrti_walk_step(v, z, i);
        n /= (size_t)z->dims[i];
    }
    if (z->rank > 0)
        line.step = nnrti_walk_step(v, z, z->rank - 1);
    line.data = nnrti_at(v->data, at, nnrt_type_size(v->dataType));
    return line;
}

/* The same for float16: the sums are float32 and rounded once, so all inputs are added up for a piece of a row of y. */
NNRT_API NNRT_ReturnCode nnrt_add_n_f16(const NNRT_AddN *attr, const nnrt_view *x, uint32_t nIn, nnrt_view *y)
{
    const int32_t L = y->rank > 0 ? y->dims[y->rank - 1] : 1;
    float sum[NNRTI_CHUNK];
    size_t count = 0;
    (void)attr;
    (void)nnrt_dims_count(y->dims, y->rank, &count);
    for (size_t row = 0; row < count; row += (size_t)L)
        for (ptrdiff_t first = 0; first < L; first += NNRTI_CHUNK) {
            const nnrti_line to = nnrti_add_n_line(y, y, row + (size_t)first);
            const int32_t n = L - first < NNRTI_CHUNK ? (int32_t)(L - first) : NNRTI_CHUNK;
            for (uint32_t k = 0; k < nIn; k++) {
                const nnrti_line from = nnrti_add_n_line(&x[k], y, row + (size_t)first);
                for (int32_t i = 0; i < n; i++) {
                    const float v = nnrti_load(from.data, i * from.step, NNRT_DATA_TYPE_FLOAT16);
                    sum[i] = k > 0 ? sum[i] + v : v;
                }
            }
            for (int32_t i = 0; i < n; i++)
                nnrti_store(to.data, i * to.step, sum[i], NNRT_DATA_TYPE_FLOAT16);
        }
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8, with the list of the rule. */
NNRT_API NNRT_ReturnCode nnrt_add_n_q8(const NNRT_AddN *attr, const nnrt_view *x, uint32_t nIn, const nnrt_view *list,
                                       nnrt_view *y)
{
    const int32_t *quant = (const int32_t *)list->data, *factor = quant + NNRTI_QUANT_FACTORS;
    size_t count = 0;
    (void)attr;
    (void)nnrt_dims_count(y->dims, y->rank, &count);
    for (size_t i = 0; i < count; i++) {
        int64_t sum = 0;
        for (uint32_t k = 0; k < nIn; k++) {
            const nnrti_line from = nnrti_add_n_line(&x[k], y, i);
            const int64_t v = nnrti_load_8(from.data, 0, y->dataType) - x[k].quant[0].zeroPoint;
            sum += nIn == 1 ? v : nnrti_rescale(v * (1 << 20), factor + 2 + 2 * k);
        }
        nnrti_store_8(nnrti_add_n_line(y, y, i).data, 0, nnrti_quant_result(nnrti_rescale(sum, factor), quant));
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op AFFINE_GRID */

static NNRT_ReturnCode nnrti_rule_affine_grid(nnrt_resolve *c)
{
    const nnrt_operand *theta = &c->in[0], *size = &c->in[1];
    int32_t extents[NNRT_MAX_RANK] = {0}, dims[NNRT_MAX_RANK] = {0}, axes;
    NNRT_ReturnCode code = nnrti_known_extents(c, 1, "size", extents);
    if (code != NNRT_SUCCESS)
        return code;
    axes = size->dims[0] - 2;
    if (axes != 2 && axes != 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (size) '%s' has %d entries, expected 4 or 5", size->name,
                          size->dims[0]);
    if (theta->rank != 3 || theta->dims[1] != axes || theta->dims[2] != axes + 1 || nnrti_open_from(theta, 1))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected [N,%d,%d] for a size of %d entries",
                          theta->name, theta, axes, axes + 1, axes + 2);
    if (theta->dims[0] != extents[0] && !nnrti_axis_open(theta, 0) && !nnrti_element_open(size, 0))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, but size[0] is %d", theta->name, theta, extents[0]);
    if ((code = nnrti_room(c, axes + 2)) != NNRT_SUCCESS)
        return code;
    dims[0] = theta->dims[0];
    for (int32_t i = 0; i < axes; i++)
        dims[1 + i] = extents[2 + i];
    dims[1 + axes] = axes;
    nnrti_result(c, 0, axes + 2, dims);
    nnrti_from(c, 0, 0, theta, 0);
    for (int32_t i = 0; i < axes; i++)
        nnrti_from_value(c, 0, 1 + i, size, 2 + (size_t)i);
    nnrti_fixed(c, 0, 1 + axes);
    return NNRT_SUCCESS;
}

/* >>kernel AFFINE_GRID */

/* theta [N,2,3] or [N,3,4], y [N,H,W,2] or [N,D,H,W,3], float32 or float16; size is not looked at. With the coordinates
   (x,y) of [h,w] or (x,y,z) of [d,h,w], y[n,..,i] = theta[n,i,0]*x + theta[n,i,1]*y (+ theta[n,i,2]*z) + the last of
   theta[n,i], in this order. A coordinate along an axis of extent L is (2*i + 1)/L - 1; with alignCorners 2*i/(L - 1) - 1,
   and 0 for L = 1. */
NNRT_API NNRT_ReturnCode nnrt_affine_grid(const NNRT_AffineGrid *attr, const nnrt_view *theta, const nnrt_view *size,
                                          nnrt_view *y)
{
    const int32_t axes = y->rank - 2;
    int32_t place[NNRT_MAX_RANK] = {0};
    (void)size;
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    do {
        const ptrdiff_t row = place[0] * theta->strides[0] + place[1 + axes] * theta->strides[1];
        float sum = 0;
        for (int32_t k = 0; k < axes; k++) { /* x is the last axis */
            const int32_t i = place[axes - k], L = y->dims[axes - k];
            const float at = attr->alignCorners == 0 ? (2.0f * (float)i + 1.0f) / (float)L - 1.0f
                             : L > 1                 ? 2.0f * (float)i / (float)(L - 1) - 1.0f
                                                     : 0;
            sum += nnrti_load(theta->data, row + k * theta->strides[2], theta->dataType) * at;
        }
        sum += nnrti_load(theta->data, row + axes * theta->strides[2], theta->dataType);
        nnrti_store(y->data, nnrti_offset(y, place), sum, y->dataType);
    } while (nnrti_next_place(y, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ALL */

static NNRT_ReturnCode nnrti_rule_all(nnrt_resolve *c)
{
    return nnrti_reduce_rule(c, NNRT_REDUCE_MODE_ALL, ((const NNRT_All *)c->resolved)->keepDims != 0, false);
}

/* >>kernel ALL */

/* y[i..] = no x[i..] over all indices along axes (int32, ascending) is 0; true of none at all. x of any type, -0 is 0
   and NaN is not; y bool with extent 1 along axes. */
NNRT_API NNRT_ReturnCode nnrt_all(const NNRT_All *attr, const nnrt_view *x, const nnrt_view *axes, nnrt_view *y)
{
    nnrti_reduction r = nnrti_reduction_of(x, axes);
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t q = 0; q < w.count; q++) {
            const ptrdiff_t first = w.at[1] + q * w.row[1];
            bool all = true;
            do {
                for (int32_t i = 0; i < r.walk.count && !r.empty; i++)
                    all = all && nnrti_is_non_zero(x->data, x->dataType, first + r.walk.at[0] + i * r.walk.row[0]);
            } while (!r.empty && nnrti_walk_next(&r.walk));
            ((uint8_t *)y->data)[w.at[0] + q * w.row[0]] = all ? 1 : 0;
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ARGMAX_FUSION */

/* Results: positions; or the elements when outMaxValue is set and there is one result only; or both. Resolved:
   axis >= 0, outMaxValue: result 0 holds elements. Kernels see the axis in the results, whether it is kept or not. */
static NNRT_ReturnCode nnrti_arg_rule(nnrt_resolve *c, int64_t *given, int64_t *topK, bool keepDims, bool *elements)
{
    const nnrt_operand *x = &c->in[0];
    int32_t axis, rank = 0, dims[NNRT_MAX_RANK], kept[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    *elements = *elements && c->nOut == 1;
    if (*elements && nnrti_absent(&c->out[0]))
        c->out[0].dataType = x->dataType;
    if (*elements && c->out[0].dataType != x->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE,
                          "output 0 '%s' is declared %t, but holds elements of input '%s': %t", c->out[0].name,
                          c->out[0].dataType, x->name, x->dataType);
    if (!*elements && (code = nnrti_index_result(c, 0)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_axis(c, "axis", *given, x->rank, &axis)) != NNRT_SUCCESS)
        return code;
    *topK = *topK == 0 ? 1 : *topK;
    if (*topK < 1 || *topK > x->dims[axis])
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "topK is %l, expected 1 to %d, the extent of axis %d", *topK,
                          x->dims[axis], axis);
    for (int32_t i = 0; i < x->rank; i++) {
        kept[i] = i == axis ? (int32_t)*topK : x->dims[i];
        if (i != axis || *topK > 1 || keepDims)
            dims[rank++] = kept[i];
    }
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrti_result(c, i, rank, dims);
        for (int32_t k = 0, at = 0; k < x->rank; k++) {
            if (k == axis && rank < x->rank)
                continue;
            nnrti_from(c, i, at, x, k);
            if (k == axis)
                nnrti_fixed(c, i, at);
            at++;
        }
        nnrti_see_as(&c->out[i], x->rank, kept);
        if ((i > 0 || *elements) && (code = nnrti_quant_chosen(c, i, axis)) != NNRT_SUCCESS)
            return code;
    }
    *given = axis;
    c->scratch = *topK > 1 ? (size_t)*topK * sizeof(int32_t) : 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_rule_argmax_fusion(nnrt_resolve *c)
{
    NNRT_ArgMaxFusion *a = (NNRT_ArgMaxFusion *)c->resolved;
    return nnrti_arg_rule(c, &a->axis, &a->topK, a->keepDims, &a->outMaxValue);
}

/* >>kernel ARGMAX_FUSION */

/* For every line of x [.., L, ..] along axis the topK largest elements in falling order, equal ones by rising position,
   NaN smallest: their positions (int32 or int64) into indices and the elements into values, both [.., topK, ..]. values
   may be NULL. With outMaxValue the first result gets the elements, and values is NULL. Scratch: 4*topK bytes. */
NNRT_API NNRT_ReturnCode nnrt_argmax_fusion(const NNRT_ArgMaxFusion *attr, const nnrt_view *x, nnrt_view *indices,
                                            nnrt_view *values, nnrt_call *call)
{
    return nnrti_top_lines(x, (int32_t)attr->axis, (int32_t)attr->topK, false, true,
                           attr->outMaxValue ? indices : values, attr->outMaxValue ? NULL : indices, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ARGMIN_FUSION */

static NNRT_ReturnCode nnrti_rule_argmin_fusion(nnrt_resolve *c)
{
    NNRT_ArgMinFusion *a = (NNRT_ArgMinFusion *)c->resolved;
    return nnrti_arg_rule(c, &a->axis, &a->topK, a->keepDims, &a->outMaxValue);
}

/* >>kernel ARGMIN_FUSION */

/* As ARGMAX_FUSION with the topK smallest elements in rising order, NaN last, too. Scratch: 4*topK bytes. */
NNRT_API NNRT_ReturnCode nnrt_argmin_fusion(const NNRT_ArgMinFusion *attr, const nnrt_view *x, nnrt_view *indices,
                                            nnrt_view *values, nnrt_call *call)
{
    return nnrti_top_lines(x, (int32_t)attr->axis, (int32_t)attr->topK, true, true,
                           attr->outMaxValue ? indices : values, attr->outMaxValue ? NULL : indices, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ASIN */
/* >>kernel ASIN */

/* y = the angle of -pi/2 to pi/2 whose sine is x, element by element; NaN where |x| > 1. y may lie where x lies. */
NNRTI_UNARY(Asin, asin, nnrti_asinf, nnrti_asin)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ASINH */
/* >>kernel ASINH */

/* y = ln(x + sqrt(x * x + 1)), element by element. y may lie where x lies. */
NNRTI_UNARY(Asinh, asinh, nnrti_asinhf, nnrti_asinh)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ASSERT */

/* The result, where there is one, is a scalar. */
static NNRT_ReturnCode nnrti_rule_assert(nnrt_resolve *c)
{
    const NNRT_Assert *a = (const NNRT_Assert *)c->resolved;
    if (a->summarize < 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "summarize is %l, expected at least 0", a->summarize);
    if (c->nOut > 0)
        nnrti_result(c, 0, 0, NULL);
    return NNRT_SUCCESS;
}

/* >>kernel ASSERT */

#ifndef NNRT_NO_MESSAGES
/* The first `most` elements of v, in the order in which they lie, as far as there is room. */
static void nnrti_put_elements(nnrti_out *o, const nnrt_view *v, int64_t most)
{
    nnrti_walk w;
    bool more = nnrti_walk_first(&w, v, NULL, NULL);
    for (; more; more = nnrti_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t at = w.at[0] + i * w.row[0];
            if (most-- <= 0 || o->length >= o->size)
                return;
            nnrti_put(o, ' ');
            if (v->dataType == NNRT_DATA_TYPE_FLOAT64)
                nnrti_put_float(o, ((const double *)v->data)[at]);
            else if (v->dataType >= NNRT_DATA_TYPE_FLOAT16)
                nnrti_put_float(o, (double)nnrti_load(v->data, at, v->dataType));
            else if (v->dataType >= NNRT_DATA_TYPE_UINT8)
                nnrti_put_u64(o, nnrti_load_int(v->data, at, v->dataType));
            else
                nnrti_put_i64(o, (int64_t)nnrti_load_int(v->data, at, v->dataType));
        }
}
#endif

/* NNRT_FAILED with a message that has the first elements of the n tensors of data; element `at` of the condition is false. */
static NNRT_ReturnCode nnrti_assert_fail(const nnrt_call *call, int64_t at, int64_t summarize, const nnrt_view *data,
                                         uint32_t n)
{
    char text[NNRT_MESSAGE_BYTES] = "";
#ifdef NNRT_NO_MESSAGES
    (void)summarize, (void)data, (void)n;
#else
    nnrti_out o = {text, sizeof(text), 0};
    for (uint32_t i = 0; i < n; i++) {
        const nnrt_operand is = nnrt_operand_make(data[i].dataType, data[i].rank, data[i].dims, NULL);
        nnrti_puts(&o, i == 0 ? ": " : "; ");
        nnrti_put_operand(&o, &is);
        nnrti_put_elements(&o, &data[i], data[i].dataType != NNRT_DATA_TYPE_UNKNOWN ? summarize : 0);
    }
    (void)nnrti_end(&o);
#endif
    return nnrt_call_fail(call, NNRT_FAILED, "element %l of the condition is false%s", at, text);
}

/* args: the condition, bool, and nIn - 1 tensors of data of any types, which may be absent; y one bool or NULL.
   y = true where all elements of the condition are, as of none; otherwise NNRT_FAILED, and call's error shows the first
   `summarize` elements of each tensor of data. */
NNRT_API NNRT_ReturnCode nnrt_assert(const NNRT_Assert *attr, const nnrt_view *args, uint32_t nIn, nnrt_view *y,
                                     nnrt_call *call)
{
    int64_t n = 0;
    nnrti_walk w;
    bool more = nnrti_walk_first(&w, &args[0], NULL, NULL);
    for (; more; more = nnrti_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++, n++)
            if (((const uint8_t *)args[0].data)[w.at[0] + i * w.row[0]] == 0)
                return nnrti_assert_fail(call, n, attr->summarize, args + 1, nIn - 1);
    if (y != NULL)
        *(uint8_t *)y->data = 1;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ASSIGN */

/* y = x: a copy, unless both lie in one place. */
static NNRT_ReturnCode nnrti_rule_assign(nnrt_resolve *c)
{
    nnrti_result_like(c, 0);
    return nnrti_quant_moves(c, 0, 0, NULL);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ATAN */
/* >>kernel ATAN */

/* y = the angle of -pi/2 to pi/2 whose tangent is x, element by element. y may lie where x lies. */
NNRTI_UNARY(Atan, atan, nnrti_atanf, nnrti_atan)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ATANH */
/* >>kernel ATANH */

/* y = ln((1 + x) / (1 - x)) / 2, element by element; NaN where |x| > 1, infinite at 1. y may lie where x lies. */
NNRTI_UNARY(Atanh, atanh, nnrti_atanhf, nnrti_atanh)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op AVERAGE_POOL_3D */

static NNRT_ReturnCode nnrti_rule_average_pool_3d(nnrt_resolve *c)
{
    NNRT_AveragePool3D *a = (NNRT_AveragePool3D *)c->resolved;
    nnrti_volume v;
    NNRT_ReturnCode code;
    v.axes = 3;
    v.kernelShape = &a->kernelShape;
    v.strides = &a->strides;
    v.dilations = &a->dilations;
    v.pads = &a->pads;
    v.autoPad = &a->autoPad;
    v.ceil = a->ceilMode != 0;
    v.pool = true;
    if ((code = nnrti_volume_lists(c, &v)) != NNRT_SUCCESS ||
        (code = nnrti_volume_rule(c, &v, c->in[0].dims[1])) != NNRT_SUCCESS)
        return code;
    nnrti_from(c, 0, 1, &c->in[0], 1);
    return NNRT_SUCCESS;
}

/* >>kernel AVERAGE_POOL_3D */

/* x [N,C,D,H,W], y [N,C,Do,Ho,Wo], float32 or float16; they may not overlap. y[n,c,p..] = sum / count of the cells
   q = p*stride - pad + (i,j,k)*dilation inside x, 0 <= (i,j,k) < kernelShape; countIncludePad: count is that of the cells
   inside x and its paddings. The sum runs over i, then j, k. */
NNRT_API NNRT_ReturnCode nnrt_average_pool_3d(const NNRT_AveragePool3D *attr, const nnrt_view *x, nnrt_view *y)
{
    const int64_t *s = attr->strides.data, *d = attr->dilations.data, *pad = attr->pads.data;
    int32_t out[5] = {0, 0, 0, 0, 0}, in[5], tap[3];
    if (NNRTI_NO_VOLUMES)
        return NNRT_UNSUPPORTED_OP;
    do {
        float sum = 0, count = 1;
        int64_t start[3];
        nnrti_cells cells[3];
        for (int32_t i = 0; i < 3; i++) {
            const int64_t k = attr->kernelShape.data[i];
            nnrti_cells counted;
            start[i] = out[2 + i] * s[i] - pad[i];
            counted = cells[i] = nnrti_cells_apart(start[i], k, d[i], x->dims[2 + i]);
            if (attr->countIncludePad != 0)
                counted = nnrti_cells_apart(out[2 + i] * s[i], k, d[i], pad[i] + x->dims[2 + i] + pad[3 + i]);
            count *= (float)(counted.end - counted.first);
        }
        in[0] = out[0];
        in[1] = out[1];
        for (tap[0] = cells[0].first; tap[0] < cells[0].end; tap[0]++)
            for (tap[1] = cells[1].first; tap[1] < cells[1].end; tap[1]++)
                for (tap[2] = cells[2].first; tap[2] < cells[2].end; tap[2]++) {
                    for (int32_t i = 0; i < 3; i++)
                        in[2 + i] = (int32_t)(start[i] + tap[i] * d[i]);
                    sum += nnrti_load(x->data, nnrti_offset(x, in), x->dataType);
                }
        nnrti_store(y->data, nnrti_offset(y, out), sum / count, y->dataType);
    } while (nnrti_next_place(y, out));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op AVGPOOL_FUSION */

static NNRT_ReturnCode nnrti_rule_avgpool_fusion(nnrt_resolve *c)
{
    NNRT_AvgPoolFusion *a = (NNRT_AvgPoolFusion *)c->resolved;
    nnrti_pool pool;
    pool.kernelSize = &a->kernelSize;
    pool.strides = &a->strides;
    pool.pad = &a->pad;
    pool.padMode = &a->padMode;
    pool.roundMode = &a->roundMode;
    pool.global = &a->global;
    pool.activationType = a->activationType;
    return nnrti_pool_rule(c, &pool);
}

/* >>kernel AVGPOOL_FUSION */

/* x [N,H,W,C], y [N,Ho,Wo,C]; they may not overlap. y[n,p,q,c] = act(sum of x[n,h,w,c] / cells over the cells h, w inside
   x with p*sH - top <= h < p*sH - top + kH and q*sW - left <= w < q*sW - left + kW; every window has one. cells: how many
   these are; padded: how many lie inside the padded x, -top <= h < H + bottom and -left <= w < W + right. The sum runs
   over h, then w. */
NNRTI_INLINE NNRT_ReturnCode nnrti_avgpool_fusion(const NNRT_AvgPoolFusion *attr, const nnrt_view *x,
                                                  const nnrt_view *quant, nnrt_view *y, bool padded, NNRT_DataType type)
{
    const int64_t *k = attr->kernelSize.data, *s = attr->strides.data, *pad = attr->pad.data;
    nnrti_window_at m = {0, 0, {0, 0}, {0, 0}};
    for (m.n = 0; m.n < y->dims[0]; m.n++)
        for (int32_t p = 0; p < y->dims[1]; p++)
            for (int32_t q = 0; q < y->dims[2]; q++) {
                const int64_t top = p * s[0] - pad[0], left = q * s[1] - pad[2];
                int64_t height, width;
                m.rows = nnrti_cells_of(top, k[0], x->dims[1]);
                m.columns = nnrti_cells_of(left, k[1], x->dims[2]);
                height = m.rows.end - m.rows.first;
                width = m.columns.end - m.columns.first;
                if (padded) {
                    height = top + k[0] <= x->dims[1] + pad[1] ? k[0] : x->dims[1] + pad[1] - top;
                    width = left + k[1] <= x->dims[2] + pad[3] ? k[1] : x->dims[2] + pad[3] - left;
                }
                if (quant != NULL)
                    nnrti_average_8(x, &m, height * width, quant, y, nnrti_place(y, m.n, p, q, 0));
                else
                    nnrti_average(x, &m, (float)height * (float)width, attr->activationType, y,
                                  nnrti_place(y, m.n, p, q, 0), type);
            }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_avgpool_fusion_f32(const NNRT_AvgPoolFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_avgpool_fusion(attr, x, NULL, y, false, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_avgpool_fusion_f16(const NNRT_AvgPoolFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_avgpool_fusion(attr, x, NULL, y, false, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the mean of the stored integers, halves away from zero, then
   y = clamp((mean - zX) * factor + zY). */
NNRT_API NNRT_ReturnCode nnrt_avgpool_fusion_q8(const NNRT_AvgPoolFusion *attr, const nnrt_view *x,
                                                const nnrt_view *quant, nnrt_view *y)
{
    return nnrti_avgpool_fusion(attr, x, quant, y, false, NNRT_DATA_TYPE_INT8);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op AVGPOOL_INCLUDE_PAD */
/* >>kernel AVGPOOL_INCLUDE_PAD */

/* As AVGPOOL_FUSION, but a mean over the cells of the window inside the padded x, of which those outside x are 0. */
NNRT_API NNRT_ReturnCode nnrt_avgpool_include_pad_f32(const NNRT_AvgPoolFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_avgpool_fusion(attr, x, NULL, y, true, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_avgpool_include_pad_f16(const NNRT_AvgPoolFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_avgpool_fusion(attr, x, NULL, y, true, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the mean of the stored integers, zX outside x, halves away from zero, then
   y = clamp((mean - zX) * factor + zY). */
NNRT_API NNRT_ReturnCode nnrt_avgpool_include_pad_q8(const NNRT_AvgPoolFusion *attr, const nnrt_view *x,
                                                     const nnrt_view *quant, nnrt_view *y)
{
    return nnrti_avgpool_fusion(attr, x, quant, y, true, NNRT_DATA_TYPE_INT8);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BATCH_TO_SPACE_ND */

/* The batch must be made of whole blocks; crops may leave nothing, but not less than nothing. */
static NNRT_ReturnCode nnrti_rule_batch_to_space_nd(nnrt_resolve *c)
{
    NNRT_BatchToSpaceND *a = (NNRT_BatchToSpaceND *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t to[NNRT_MAX_RANK];
    int64_t crops[4], h, w, area;
    NNRT_ReturnCode code = nnrti_blocks(c, &a->blockShape, "crops", &a->crops, crops);
    if (code != NNRT_SUCCESS)
        return code;
    area = a->blockShape.data[0] * a->blockShape.data[1];
    h = x->dims[nnrti_image_axis(x, 0)] * a->blockShape.data[0] - crops[0] - crops[1];
    w = x->dims[nnrti_image_axis(x, 1)] * a->blockShape.data[1] - crops[2] - crops[3];
    if (nnrti_remainder(x->dims[0], area) != 0 && !nnrti_axis_open(x, 0))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o: its batch %d is no multiple of the block %l x %l",
                          x->name, x, x->dims[0], a->blockShape.data[0], a->blockShape.data[1]);
    if (h < 0 || w < 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "crops are larger than the image: %l x %l would remain", h, w);
    if ((code = nnrti_result_images(c, nnrti_quotient(x->dims[0], area), h, w)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, nnrti_only_channels(x, to));
}

/* >>kernel BATCH_TO_SPACE_ND */

/* x [n2*bh*bw,H,W,C], y [n2,Ho,Wo,C], any element type; y must not overlap x.
   y[n,p,q,c] = x[(i*bw + j)*n2 + n, h, w, c] with h*bh + i = p + top, w*bw + j = q + left, 0 <= i < bh, 0 <= j < bw;
   blockShape [bh,bw], crops [[top,bottom],[left,right]]. */
NNRT_API NNRT_ReturnCode nnrt_batch_to_space_nd(const NNRT_BatchToSpaceND *attr, const nnrt_view *x, nnrt_view *y)
{
    const int64_t bh = attr->blockShape.data[0], bw = attr->blockShape.data[1];
    const int64_t top = attr->crops.data[0].data[0], left = attr->crops.data[1].data[0];
    const size_t width = nnrt_type_size(x->dataType);
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    for (int32_t n = 0; n < y->dims[0]; n++)
        for (int32_t p = 0; p < y->dims[1]; p++)
            for (int32_t q = 0; q < y->dims[2]; q++) {
                const int64_t block = nnrti_remainder(p + top, bh) * bw + nnrti_remainder(q + left, bw);
                const ptrdiff_t batch = (ptrdiff_t)block * y->dims[0] + n;
                const ptrdiff_t h = (ptrdiff_t)nnrti_quotient(p + top, bh), w = (ptrdiff_t)nnrti_quotient(q + left, bw);
                const ptrdiff_t in = batch * x->strides[0] + h * x->strides[1] + w * x->strides[2];
                const ptrdiff_t out = n * y->strides[0] + p * y->strides[1] + q * y->strides[2];
                nnrti_copy_row(nnrti_at(y->data, out, width), y->strides[3], nnrti_at(x->data, in, width),
                               x->strides[3], y->dims[3], width);
            }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BIAS_ADD */

/* Derived: when quantised, zero point and bounds of the result, the factor of x and of bias, which has its scale. */
static NNRT_ReturnCode nnrti_rule_bias_add(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *bias = &c->in[1];
    int32_t *factor;
    NNRT_ReturnCode code;
    if (x->rank < 2 || x->rank > 5)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 2 to 5 axes", x->name, x);
    if (bias->rank != 1 || bias->dims[0] != nnrti_channels(c))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected [%d], the channels of '%s' %o", bias->name,
                          bias, nnrti_channels(c), x->name, x);
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(x))
        return NNRT_SUCCESS;
    if ((code = nnrti_quant_operand(c, x, -1)) == NNRT_SUCCESS &&
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 1, &factor)) == NNRT_SUCCESS)
        nnrti_factor(nnrti_quant_ratio(nnrti_quant_scale(x, 0), nnrti_quant_scale(&c->out[0], 0)), factor);
    return code;
}

/* >>kernel BIAS_ADD */

/* x and y [..,C], bias [C]: y[..,c] = x[..,c] + bias[c]. y may lie where x lies. */
NNRT_API NNRT_ReturnCode nnrt_bias_add(const NNRT_BiasAdd *attr, const nnrt_view *x, const nnrt_view *bias,
                                       nnrt_view *y)
{
    (void)attr;
    nnrti_binary(x, bias, y, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_add_row);
    return NNRT_SUCCESS;
}

/* x and y quantised int8 or uint8, bias int32. */
NNRT_API NNRT_ReturnCode nnrt_bias_add_q8(const NNRT_BiasAdd *attr, const nnrt_view *x, const nnrt_view *bias,
                                          const nnrt_view *list, nnrt_view *y)
{
    const int32_t *quant = (const int32_t *)list->data;
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, bias))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t a = nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - x->quant[0].zeroPoint;
            const int64_t sum = (int64_t)a + ((const int32_t *)bias->data)[w.at[2] + i * w.row[2]];
            nnrti_store_8(y->data, w.at[0] + i * w.row[0],
                          nnrti_quant_result(nnrti_rescale(sum, quant + NNRTI_QUANT_FACTORS), quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BITWISE_AND */
/* >>kernel BITWISE_AND */

/* z = x and y bit by bit, integers of any type, broadcast to the dims of z. z may lie where an input of its shape lies. */
NNRTI_BITWISE(BitwiseAnd, bitwise_and, a &b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BITWISE_NOT */
/* >>kernel BITWISE_NOT */

static uint64_t nnrti_not_int(uint64_t v)
{
    return ~v;
}

/* y = every bit of x turned round, element by element. y may lie where x lies. */
NNRTI_UNARY_INT(BitwiseNot, bitwise_not, nnrti_not_int)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BITWISE_OR */
/* >>kernel BITWISE_OR */

/* z = x or y bit by bit, integers of any type, broadcast to the dims of z. z may lie where an input of its shape lies. */
NNRTI_BITWISE(BitwiseOr, bitwise_or, a | b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BITWISE_XOR */
/* >>kernel BITWISE_XOR */

/* z = x xor y bit by bit, integers of any type, broadcast to the dims of z. z may lie where an input of its shape lies. */
NNRTI_BITWISE(BitwiseXor, bitwise_xor, a ^ b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BIT_SHIFT */
/* >>kernel BIT_SHIFT */

static void nnrti_shift_left_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                 NNRT_ActivationType activation)
{
    const size_t bits = 8 * nnrt_type_size(z->dataType);
    (void)activation;
    switch (z->dataType) {
        NNRTI_ROWS_WRAP(b < bits ? a << b : 0)
    default: break;
    }
}

static void nnrti_shift_right_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                  NNRT_ActivationType activation)
{
    const size_t bits = 8 * nnrt_type_size(z->dataType);
    (void)activation;
    switch (z->dataType) {
        NNRTI_ROWS_WRAP(b < bits ? a >> b : 0)
    default: break;
    }
}

/* z = the bits of x, y places further left or right, unsigned integers of one type, broadcast to the dims of z: x * 2^y
   modulo 2^n, or x / 2^y without the rest. As many places as there are bits, or more, leave 0. z may lie where an input of
   its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_bit_shift(const NNRT_BitShift *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)
{
    nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION,
                 attr->direction == NNRT_SHIFT_DIRECTION_LEFT ? nnrti_shift_left_row : nnrti_shift_right_row);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BOTTOM_K */
/* >>kernel BOTTOM_K */

/* As TOPK_FUSION with the k smallest elements; sorted: rising, NaN last, too. Scratch: 4*k bytes. */
NNRT_API NNRT_ReturnCode nnrt_bottom_k(const NNRT_TopKFusion *attr, const nnrt_view *x, nnrt_view *values,
                                       nnrt_view *indices, nnrt_call *call)
{
    const int32_t axis = (int32_t)attr->axis;
    return nnrti_top_lines(x, axis, values->dims[axis], true, attr->sorted, values, indices, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op BROADCAST_TO */

/* Where extent i of the result is from: x's where it is kept, else entry i of the list. */
static void nnrti_broadcast_to_axis(nnrt_resolve *c, int32_t i, int64_t entry)
{
    const nnrt_operand *x = &c->in[0], *list = &c->in[1];
    const int32_t k = i - (c->out[0].rank - x->rank);
    const bool open = nnrti_element_open(list, (size_t)i), openX = k >= 0 && nnrti_axis_open(x, k);
    if (k < 0 || (!openX && x->dims[k] == 1))
        nnrti_from_value(c, 0, i, list, (size_t)i);
    else if (!openX || (!open && (entry == -1 || entry == 1)))
        nnrti_from(c, 0, i, x, k);
    else if (!open)
        nnrti_fixed(c, 0, i);
    else if (!nnrti_element_unbounded(list, (size_t)i))
        nnrti_bounded(c, 0, i);
}

/* Resolved: shape = the extents of the result. */
static NNRT_ReturnCode nnrti_rule_broadcast_to(nnrt_resolve *c)
{
    NNRT_BroadcastTo *a = (NNRT_BroadcastTo *)c->resolved;
    const nnrt_operand *x = &c->in[0], *list = &c->in[1];
    const NNRT_Int64List given = a->shape;
    int32_t rank, dims[NNRT_MAX_RANK] = {0}, to[NNRT_MAX_RANK];
    int64_t *shape;
    NNRT_ReturnCode code;
    if (nnrti_absent(list) ? (code = nnrti_room(c, given.count)) != NNRT_SUCCESS
                           : (code = nnrti_known_list(c, 1, "shape", x->rank, NNRT_MAX_RANK)) != NNRT_SUCCESS)
        return code;
    rank = nnrti_absent(list) ? (int32_t)given.count : list->dims[0];
    if (rank < x->rank)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "shape has %d entries, expected at least the %d axes of input '%s' %o",
                          rank, x->rank, x->name, x);
    shape = nnrti_list(c, &a->shape, (uint32_t)rank);
    if (shape == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (int32_t i = 0; i < rank; i++) {
        const int32_t k = i - (rank - x->rank);
        const int64_t entry = nnrti_absent(list) ? given.data[i] : nnrti_value(list, (size_t)i);
        if (entry < -1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "shape[%d] is %l, expected at least -1", i, entry);
        if (entry > INT32_MAX)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "shape[%d] is %l: too large", i, entry);
        shape[i] = entry;
        if ((k < 0 && entry == -1) ||
            !nnrti_broadcast_extent(k < 0 ? 1 : x->dims[k], k >= 0 && nnrti_axis_open(x, k),
                                    entry < 0 ? 1 : (int32_t)entry, nnrti_element_open(list, (size_t)i), &dims[i]))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "shape[%d] is %l, to which input '%s' %o does not broadcast", i,
                              entry, x->name, x);
    }
    nnrti_result(c, 0, rank, dims);
    for (int32_t i = 0; i < rank; i++) {
        nnrti_broadcast_to_axis(c, i, shape[i]);
        shape[i] = dims[i];
    }
    nnrti_axes_shifted(c, 0, rank - x->rank, to);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CAST */

/* *type = the type that input 1 names; UNKNOWN when there is none, or its value is not known yet. */
static NNRT_ReturnCode nnrti_cast_named(nnrt_resolve *c, NNRT_DataType *type)
{
    const nnrt_operand *o = &c->in[1];
    int64_t number;
    *type = NNRT_DATA_TYPE_UNKNOWN;
    if (nnrti_absent(o))
        return NNRT_SUCCESS;
    if (nnrti_count(o) != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "type '%s' is %o, expected one number", o->name, o);
    if (o->data == NULL)
        return NNRT_SUCCESS;
    number = nnrti_value(o, 0);
    if (number < NNRT_DATA_TYPE_BOOL || number > NNRT_DATA_TYPE_FLOAT64 || nnrt_type_size((NNRT_DataType)number) == 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "type '%s' is %l, which is the number of no element type", o->name,
                          number);
    *type = (NNRT_DataType)number;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_rule_cast(nnrt_resolve *c)
{
    nnrt_operand *y = &c->out[0];
    NNRT_DataType named;
    NNRT_ReturnCode code = nnrti_cast_named(c, &named);
    if (code != NNRT_SUCCESS)
        return code;
    if (nnrti_is_quant(&c->in[0]))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE,
                          "input '%s' is %o: CAST knows no quantisation, QUANT_DTYPE_CAST is the operator for it",
                          c->in[0].name, &c->in[0]);
    if (y->dataType == NNRT_DATA_TYPE_UNKNOWN)
        y->dataType = named;
    if (nnrt_type_size(y->dataType) == 0)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE,
                          "the type of output '%s' is not known: declare it, or give input 1 (type) as a constant",
                          y->name);
    if (named != NNRT_DATA_TYPE_UNKNOWN && named != y->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output '%s' is declared %t, but input 1 (type) says %t", y->name,
                          y->dataType, named);
    if (nnrti_is_quant(y))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE,
                          "output '%s' is q%t: CAST knows no quantisation, QUANT_DTYPE_CAST is the operator for it",
                          y->name, y->dataType);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel CAST */

/* out[i] = element i of x as 64 bits, sign and all; x is integer or bool, n <= NNRTI_CHUNK. */
static void nnrti_read_bits(uint64_t *out, const void *x, ptrdiff_t step, int32_t n, NNRT_DataType type)
{
    switch (type) {
#define NNRTI_READ_BITS(name, T, U, least, greatest)                                                                   \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t i = 0; i < n; i++)                                                                                \
            out[i] = (uint64_t)((const T *)x)[i * step];                                                               \
        break;
        NNRTI_INT_TYPES(NNRTI_READ_BITS)
    default: /* bool */
        for (int32_t i = 0; i < n; i++)
            out[i] = ((const uint8_t *)x)[i * step] != 0;
        break;
    }
}

/* Bits that stand for a signed or an unsigned number, as float32: rounded once. */
static float nnrti_bits_to_f32(uint64_t bits, bool isSigned)
{
    return isSigned ? (float)(int64_t)bits : (float)bits;
}

/* Element i of z = in[i]: the low bits for integers, rounded for floats, != 0 for bool. */
static void nnrti_write_bits(void *z, ptrdiff_t step, const uint64_t *in, bool isSigned, int32_t n, NNRT_DataType type)
{
#define NNRTI_WRITE_BITS(name, T, value)                                                                               \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t i = 0; i < n; i++)                                                                                \
            ((T *)z)[i * step] = (T)(value);                                                                           \
        break;
#define NNRTI_WRITE_LOW(name, T, U, least, greatest) NNRTI_WRITE_BITS(name, U, in[i])
    switch (type) {
        NNRTI_INT_TYPES(NNRTI_WRITE_LOW)
        NNRTI_WRITE_BITS(BOOL, uint8_t, in[i] != 0)
        NNRTI_WRITE_BITS(FLOAT16, uint16_t, nnrti_half_from_float(nnrti_bits_to_f32(in[i], isSigned)))
        NNRTI_WRITE_BITS(FLOAT32, float, nnrti_bits_to_f32(in[i], isSigned))
        NNRTI_WRITE_BITS(FLOAT64, double, isSigned ? (double)(int64_t)in[i] : (double)in[i])
    default: break;
    }
}

/* y = x in the element type of y; x and y of one shape and any types. Floats become integers toward zero and
   saturate, NaN gives 0; integers keep their low bits; bool is 0 or 1 and takes "not zero". The way from type to type
   leads over float64 for floats and over 64 bits for the others. y may lie where x lies when their elements have one
   size. */
NNRT_API NNRT_ReturnCode nnrt_cast(const NNRT_Cast *attr, const nnrt_view *x, nnrt_view *y)
{
    const size_t in = nnrt_type_size(x->dataType), out = nnrt_type_size(y->dataType);
    const bool isFloat = x->dataType >= NNRT_DATA_TYPE_FLOAT16;
    const bool isSigned = x->dataType >= NNRT_DATA_TYPE_INT8 && x->dataType <= NNRT_DATA_TYPE_INT64;
    uint64_t bits[NNRTI_CHUNK];
    double reals[NNRTI_CHUNK];
    nnrti_walk w;
    (void)attr;
    if (x->dataType == y->dataType) {
        nnrti_copy(x, y);
        return NNRT_SUCCESS;
    }
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (ptrdiff_t i = 0; i < w.count; i += NNRTI_CHUNK) {
            const int32_t n = w.count - i < NNRTI_CHUNK ? (int32_t)(w.count - i) : NNRTI_CHUNK;
            const void *from = nnrti_at(x->data, w.at[1] + i * w.row[1], in);
            void *to = nnrti_at(y->data, w.at[0] + i * w.row[0], out);
            if (isFloat) {
                nnrti_read_f64(reals, from, w.row[1], n, x->dataType);
                nnrti_write_f64(to, w.row[0], reals, n, y->dataType);
            } else {
                nnrti_read_bits(bits, from, w.row[1], n, x->dataType);
                nnrti_write_bits(to, w.row[0], bits, isSigned, n, y->dataType);
            }
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CEIL */
/* >>kernel CEIL */

/* y = the smallest whole number >= x, element by element; -0, NaN and the infinities stay. y may lie where x lies. */
NNRTI_UNARY(Ceil, ceil, nnrti_ceilf, nnrti_ceil)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CENTER_CROP_PAD */

static NNRT_ReturnCode nnrti_rule_center_crop_pad(nnrt_resolve *c)
{
    const NNRT_CenterCropPad *a = (const NNRT_CenterCropPad *)c->resolved;
    const nnrt_operand *x = &c->in[0], *shape = &c->in[1];
    const int32_t count = a->axes.count > 0 ? (int32_t)a->axes.count : x->rank;
    int32_t dims[NNRT_MAX_RANK] = {0};
    uint32_t set = 0;
    NNRT_ReturnCode code = nnrti_known_extents(c, 1, "shape", dims);
    if (code != NNRT_SUCCESS)
        return code;
    if (shape->dims[0] != count)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (shape) '%s' has %d entries, expected %d, one for each axis",
                          shape->name, shape->dims[0], count);
    nnrti_result_like(c, 0);
    for (int32_t k = 0; k < count; k++) {
        int32_t axis = k;
        if (a->axes.count > 0 && (code = nnrti_axis(c, "an axis", a->axes.data[k], x->rank, &axis)) != NNRT_SUCCESS)
            return code;
        if ((set >> axis & 1u) != 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axes names axis %d twice", axis);
        set |= 1u << axis;
        c->out[0].dims[axis] = dims[k];
        nnrti_from_value(c, 0, axis, shape, (size_t)k);
    }
    return NNRT_SUCCESS;
}

/* >>kernel CENTER_CROP_PAD */

/* x and y have as many axes and one element type, whatever that is; shape is not looked at. Along each axis the middle of x
   lies in the middle of y: of what there is too much, or of the zeros where there is too little, half, rounded down, goes
   in front. */
NNRT_API NNRT_ReturnCode nnrt_center_crop_pad(const NNRT_CenterCropPad *attr, const nnrt_view *x,
                                              const nnrt_view *shape, nnrt_view *y)
{
    nnrt_view from = *x, to = *y;
    (void)attr, (void)shape;
    nnrti_clear(y);
    for (int32_t i = 0; i < x->rank; i++) {
        const int32_t more = x->dims[i] - y->dims[i];
        if (more > 0)
            from = nnrti_part(&from, i, more / 2, y->dims[i]);
        else
            to = nnrti_part(&to, i, -more / 2, x->dims[i]);
    }
    nnrti_copy(&from, &to);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CHANNEL_SHUFFLE */

/* Resolved: group >= 1. */
static NNRT_ReturnCode nnrti_rule_channel_shuffle(nnrt_resolve *c)
{
    NNRT_ChannelShuffle *a = (NNRT_ChannelShuffle *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t channels, to[NNRT_MAX_RANK];
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    channels = nnrti_image_axis(x, 2);
    a->group = a->group == 0 ? 1 : a->group;
    if (a->group < 1 || (nnrti_remainder(x->dims[channels], a->group) != 0 && !nnrti_axis_open(x, channels)))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "group is %l, expected a divisor of the %d channels of input '%s' %o", a->group,
                          x->dims[channels], x->name, x);
    nnrti_result_like(c, 0);
    nnrti_axes_but(c, a->group > 1 ? channels : -1, to);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel CHANNEL_SHUFFLE */

/* x and y [N,H,W,group*K], any element type; y must not overlap x. y[n,h,w,k*group + g] = x[n,h,w,g*K + k]. */
NNRT_API NNRT_ReturnCode nnrt_channel_shuffle(const NNRT_ChannelShuffle *attr, const nnrt_view *x, nnrt_view *y)
{
    const int32_t groups = nnrti_empty(y) ? 0 : (int32_t)attr->group;
    for (int32_t g = 0; g < groups; g++) {
        const int32_t K = x->dims[3] / groups;
        const nnrt_view from = nnrti_part(x, 3, g * K, K);
        nnrt_view to = nnrti_part(y, 3, g, K);
        to.strides[3] *= groups;
        nnrti_copy(&from, &to);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CLIP */

/* Whether *lo <= *hi, elements of one type; a NaN is no bound. */
static bool nnrti_clip_ordered(const void *lo, const void *hi, NNRT_DataType type)
{
    const uint64_t p = nnrti_order(lo, 0, type), q = nnrti_order(hi, 0, type);
    return p <= q && (p > 0 || type < NNRT_DATA_TYPE_FLOAT16);
}

/* Element i of bounds = input i + 1, where its value is known, or the attribute. */
static void nnrti_clip_bound(const nnrt_resolve *c, float attribute, int32_t i, void *bounds)
{
    const nnrt_operand *given = &c->in[i + 1];
    const size_t width = nnrt_type_size(c->in[0].dataType);
    if (given->data != NULL && !nnrti_element_open(given, 0))
        memcpy(nnrti_at(bounds, i, width), given->data, width);
    else
        nnrti_number(c->in[0].dataType, (double)attribute, nnrti_at(bounds, i, width));
}

/* Derives the list of quantised data: the bounds are those of the attributes; the factors of x, of min and of max. */
static NNRT_ReturnCode nnrti_quant_clip(nnrt_resolve *c, const NNRT_Clip *a)
{
    nnrti_coder k;
    int32_t *factors;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k);
    for (uint32_t i = 1; i < c->nIn && code == NNRT_SUCCESS; i++)
        if (!nnrti_absent(&c->in[i]))
            code = nnrti_quant_operand(c, &c->in[i], -1);
    if (code != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 3, &factors)) != NNRT_SUCCESS)
        return code;
    factors[-2] = nnrti_quant_of(&c->out[0], a->min);
    factors[-1] = nnrti_quant_of(&c->out[0], a->max);
    memset(factors, 0, 6 * sizeof(*factors));
    memcpy(factors, k.a, sizeof(k.a));
    for (uint32_t i = 1; i < c->nIn; i++)
        if (!nnrti_absent(&c->in[i]))
            nnrti_factor(nnrti_quant_ratio(nnrti_quant_scale(&c->in[i], 0), (double)k.sy), factors + 2 * i);
    return NNRT_SUCCESS;
}

/* Resolved: what is no bound, and what an input has instead, is infinite. Derived: [min, max] in the type of x, for the
   kernel where an input is absent; of integers toward zero and saturating; when quantised, zero point and bounds of the
   result, the factors of x, of min and of max. */
static NNRT_ReturnCode nnrti_rule_clip(nnrt_resolve *c)
{
    static const int32_t two[] = {2};
    NNRT_Clip *a = (NNRT_Clip *)c->resolved;
    const NNRT_DataType type = c->in[0].dataType;
    void *bounds;
    double shown[2];
    NNRT_ReturnCode code;
    if ((!nnrti_absent(&c->in[1]) && (code = nnrti_one_element(c, 1, "min")) != NNRT_SUCCESS) ||
        (!nnrti_absent(&c->in[2]) && (code = nnrti_one_element(c, 2, "max")) != NNRT_SUCCESS))
        return code;
    if (!nnrti_absent(&c->in[1]) || a->min == -FLT_MAX)
        a->min = -nnrti_inff();
    if (!nnrti_absent(&c->in[2]) || a->max == FLT_MAX)
        a->max = nnrti_inff();
    if (!(a->min <= a->max))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "min is %f, expected at most max: %f", (double)a->min,
                          (double)a->max);
    if (nnrti_is_quant(&c->in[0]))
        return nnrti_quant_clip(c, a);
    if ((code = nnrti_derive(c, type, 1, two, &bounds)) != NNRT_SUCCESS)
        return code;
    nnrti_clip_bound(c, a->min, 0, bounds);
    nnrti_clip_bound(c, a->max, 1, bounds);
    if (!nnrti_clip_ordered(bounds, nnrti_at(bounds, 1, nnrt_type_size(type)), type)) {
        nnrti_read_f64(shown, bounds, 1, 2, type);
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "min is %f, expected at most max: %f", shown[0], shown[1]);
    }
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel CLIP */

/* The current row of y = x inside [*lo, *hi]. */
static void nnrti_clip_row(const nnrti_walk *w, const nnrt_view *x, const void *lo, const void *hi, nnrt_view *y)
{
    switch (x->dataType) {
#define NNRTI_CLIP_ROW(name, T, V, load, store)                                                                        \
    case NNRT_DATA_TYPE_##name: {                                                                                      \
        const V least = load(*(const T *)lo), greatest = load(*(const T *)hi);                                         \
        const T *xs = (const T *)x->data + w->at[1];                                                                   \
        T *ys = (T *)y->data + w->at[0];                                                                               \
        for (int32_t i = 0; i < w->count; i++) {                                                                       \
            const V v = load(xs[i * w->row[1]]);                                                                       \
            ys[i * w->row[0]] = store(v < least ? least : v > greatest ? greatest : v);                                \
        }                                                                                                              \
        break;                                                                                                         \
    }
#define NNRTI_CLIP_INT(name, T, U, low, high) NNRTI_CLIP_ROW(name, T, T, (T), (T))
        NNRTI_INT_TYPES(NNRTI_CLIP_INT)
        NNRTI_CLIP_ROW(FLOAT16, uint16_t, float, nnrti_half_to_float, nnrti_half_from_float)
        NNRTI_CLIP_ROW(FLOAT32, float, float, (float), (float))
        NNRTI_CLIP_ROW(FLOAT64, double, double, (double), (double))
    default: break;
    }
}

/* y = min(max(x, lo), hi), element by element, numbers of any type; a NaN stays. lo is the one element of min and hi
   that of max; what is NULL stands in bounds, [lo, hi]. lo > hi or a NaN among them: NNRT_INVALID_PARAMETER. y may lie
   where x lies. */
NNRT_API NNRT_ReturnCode nnrt_clip(const NNRT_Clip *attr, const nnrt_view *x, const nnrt_view *min,
                                   const nnrt_view *max, const nnrt_view *bounds, nnrt_view *y, nnrt_call *call)
{
    const void *lo = min != NULL ? min->data : bounds->data;
    const void *hi = max != NULL ? max->data : nnrti_at(bounds->data, 1, nnrt_type_size(x->dataType));
    double shown[2];
    nnrti_walk w;
    (void)attr;
    if (!nnrti_clip_ordered(lo, hi, x->dataType)) {
        nnrti_read_f64(&shown[0], lo, 1, 1, x->dataType);
        nnrti_read_f64(&shown[1], hi, 1, 1, x->dataType);
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "min is %f, expected at most max: %f", shown[0], shown[1]);
    }
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        nnrti_clip_row(&w, x, lo, hi, y);
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8: a bound that is a tensor is brought to the parameters of y. */
NNRT_API NNRT_ReturnCode nnrt_clip_q8(const NNRT_Clip *attr, const nnrt_view *x, const nnrt_view *min,
                                      const nnrt_view *max, const nnrt_view *list, nnrt_view *y, nnrt_call *call)
{
    const nnrt_view *bounds[2];
    int32_t quant[NNRTI_QUANT_FACTORS + 6];
    const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
    nnrti_walk w;
    (void)attr;
    memcpy(quant, list->data, sizeof(quant));
    bounds[0] = min;
    bounds[1] = max;
    for (int32_t i = 0; i < 2; i++)
        if (bounds[i] != NULL) {
            const int32_t v = nnrti_load_8(bounds[i]->data, 0, x->dataType) - bounds[i]->quant[0].zeroPoint;
            const int32_t least = y->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
            const int64_t q = (int64_t)quant[0] + nnrti_rescale(v, factor + 2 + 2 * i);
            quant[1 + i] = q < least ? least : q > least + 255 ? least + 255 : (int32_t)q;
        }
    if (quant[1] > quant[2])
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                              "min is %d of the stored integers of the result, expected at most max: %d", quant[1],
                              quant[2]);
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t a = nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - x->quant[0].zeroPoint;
            nnrti_store_8(y->data, w.at[0] + i * w.row[0], nnrti_quant_result(nnrti_rescale(a, factor), quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op COL2IM */

/* Resolved: all lists are said. */
static NNRT_ReturnCode nnrti_rule_col2im(nnrt_resolve *c)
{
    NNRT_Col2Im *a = (NNRT_Col2Im *)c->resolved;
    const nnrt_operand *x = &c->in[0], *image = &c->in[1], *block = &c->in[2];
    int32_t dims[NNRT_MAX_RANK] = {0}, extents[NNRT_MAX_RANK] = {0};
    int64_t cells = 1, blocks = 1;
    bool open = false;
    uint32_t axes;
    NNRT_ReturnCode code;
    if ((code = nnrti_known_extents(c, 1, "imageShape", extents)) != NNRT_SUCCESS ||
        (code = nnrti_room(c, (int64_t)image->dims[0] + 2)) != NNRT_SUCCESS ||
        (code = nnrti_known_list(c, 2, "blockShape", image->dims[0], image->dims[0])) != NNRT_SUCCESS ||
        (code = nnrti_known_fixed(c, 2, "blockShape")) != NNRT_SUCCESS)
        return code;
    axes = (uint32_t)image->dims[0];
    if (x->rank != 3 || axes == 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "input '%s' is %o and imageShape has %u entries, expected 3 axes and 1", x->name, x, axes);
    if ((code = nnrti_volume_list(c, "dilations", &a->dilations, axes, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "strides", &a->strides, axes, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "pads", &a->pads, 2 * axes, 0, 0)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < axes; i++) {
        const int64_t k = nnrti_value(block, i), reach = nnrti_product(k - 1, a->dilations.data[i]) + 1;
        const int64_t L = extents[i] + a->pads.data[i] + a->pads.data[axes + i];
        if (k < 1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "blockShape[%u] is %l, expected at least 1", i, k);
        if (L < reach && !nnrti_element_open(image, i))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "axis %u of the image is %l with its paddings, a block %l", i, L,
                              reach);
        cells = nnrti_product(cells, k);
        blocks = nnrti_product(blocks, L < reach ? 0 : nnrti_quotient(L - reach, a->strides.data[i]) + 1);
        open = open || nnrti_element_open(image, i);
        dims[2 + i] = extents[i];
    }
    if (!open && !nnrti_axis_open(x, 2) && x->dims[2] != blocks)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' %o has %d blocks, expected %l", x->name, x, x->dims[2],
                          blocks);
    if (!nnrti_axis_open(x, 1) && nnrti_remainder(x->dims[1], cells) != 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "axis 1 of input '%s' %o is no multiple of the %l elements of a block",
                          x->name, x, cells);
    dims[0] = x->dims[0];
    dims[1] = (int32_t)nnrti_quotient(x->dims[1], cells);
    nnrti_result(c, 0, (int32_t)axes + 2, dims);
    nnrti_from(c, 0, 0, x, 0);
    if (!nnrti_axis_open(x, 1))
        nnrti_fixed(c, 0, 1);
    for (uint32_t i = 0; i < axes; i++)
        nnrti_from_value(c, 0, 2 + (int32_t)i, image, i);
    return NNRT_SUCCESS;
}

/* >>kernel COL2IM */

/* x [N,C*K,L], y [N,C,image..], float32 or float16, K elements to a block and L blocks, the last axis fastest; imageShape is
   not looked at. y[n,c,p] = sum over the elements k of a block that lie at p in some block l, in this order, of
   x[n,c*K + k,l]: p[i] = l[i]*strides[i] + k[i]*dilations[i] - pads[i]. */
NNRT_API NNRT_ReturnCode nnrt_col2im(const NNRT_Col2Im *attr, const nnrt_view *x, const nnrt_view *imageShape,
                                     const nnrt_view *blockShape, nnrt_view *y)
{
    const int32_t axes = y->rank - 2;
    int32_t place[NNRT_MAX_RANK] = {0}, windows[NNRT_MAX_RANK], K = 1;
    (void)imageShape;
    for (int32_t i = 0; i < axes; i++) {
        const int64_t k = nnrti_index(blockShape, i * blockShape->strides[0]);
        const int64_t L = y->dims[2 + i] + attr->pads.data[i] + attr->pads.data[axes + i];
        windows[i] = (int32_t)nnrti_quotient(L - (k - 1) * attr->dilations.data[i] - 1, attr->strides.data[i]) + 1;
        K *= (int32_t)k;
    }
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    do {
        float sum = 0;
        for (int32_t k = 0; k < K; k++) {
            int64_t l = 0, times = 1, rest = k;
            for (int32_t i = axes - 1; i >= 0 && l >= 0; i--) {
                const int64_t extent = nnrti_index(blockShape, i * blockShape->strides[0]);
                const int64_t at =
                    place[2 + i] + attr->pads.data[i] - nnrti_remainder(rest, extent) * attr->dilations.data[i];
                const int64_t window = at >= 0 ? nnrti_quotient(at, attr->strides.data[i]) : 0;
                rest = nnrti_quotient(rest, extent);
                l = at < 0 || window * attr->strides.data[i] != at || window >= windows[i] ? -1 : l + window * times;
                times *= windows[i];
            }
            if (l >= 0)
                sum += nnrti_load(x->data,
                                  place[0] * x->strides[0] + ((ptrdiff_t)place[1] * K + k) * x->strides[1] +
                                      (ptrdiff_t)l * x->strides[2],
                                  x->dataType);
        }
        nnrti_store(y->data, nnrti_offset(y, place), sum, y->dataType);
    } while (nnrti_next_place(y, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op COMPRESS */

/* Resolved: axis is one entry >= 0. The result has a place for every one that there is, until condition is known. */
static NNRT_ReturnCode nnrti_rule_compress(nnrt_resolve *c)
{
    NNRT_Compress *a = (NNRT_Compress *)c->resolved;
    const nnrt_operand *condition = &c->in[1];
    int32_t dims[NNRT_MAX_RANK], rank, axis, L, count, to[NNRT_MAX_RANK];
    const NNRT_ReturnCode code = nnrti_told_axis(c, &a->axis, &rank, dims, &axis, to);
    bool open;
    if (code != NNRT_SUCCESS)
        return code;
    open = c->open;
    L = dims[axis];
    if (condition->rank != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "condition '%s' is %o, expected one axis", condition->name, condition);
    if (condition->dims[0] > L && !open)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "condition '%s' is %o, expected %d places at most", condition->name,
                          condition, L);
    count = condition->dims[0] < L ? condition->dims[0] : L;
    if (condition->data != NULL && c->symbolCount != NULL && !open)
        for (int32_t i = condition->dims[0] - 1; i >= 0; i--)
            count -= ((const uint8_t *)condition->data)[i] == 0 ? 1 : 0;
    dims[axis] = count;
    nnrti_told_result(c, 0, rank, dims, axis, condition->data == NULL || open);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel COMPRESS */

/* x [A..,L,B..] of any element type, condition bool [M], M <= L; y [A..,N,B..], N the number of places of condition that are
   true: those of x along axis, in their order. Without an axis the kernel sees x as one line. It sets y's extent to N; there is
   room for M. y must not overlap x. */
NNRT_API NNRT_ReturnCode nnrt_compress(const NNRT_Compress *attr, const nnrt_view *x, const nnrt_view *condition,
                                       nnrt_view *y)
{
    const int32_t axis = (int32_t)attr->axis.data[0];
    int32_t n = 0;
    for (int32_t pass = 0; pass < 2; pass++) { /* counts, then writes */
        nnrti_tell(y, axis, n);
        n = 0;
        for (int32_t i = 0; i < condition->dims[0]; i++)
            if (((const uint8_t *)condition->data)[i * condition->strides[0]] != 0) {
                if (pass == 1) {
                    const nnrt_view from = nnrti_part(x, axis, i, 1);
                    nnrt_view to = nnrti_part(y, axis, n, 1);
                    nnrti_copy(&from, &to);
                }
                n++;
            }
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONCAT */

/* Where extent k of the result is from: the sum of the inputs' along the axis joined, fixed when all are; elsewhere that of
   any input, a fixed one if there is one. */
static void nnrti_concat_axis(nnrt_resolve *c, int32_t k, int32_t axis)
{
    bool open = false, fixed = false;
    for (uint32_t i = 0; i < c->nIn; i++) {
        open = open || nnrti_axis_open(&c->in[i], k);
        fixed = fixed || !nnrti_axis_open(&c->in[i], k);
    }
    if (k == axis && c->nIn > 1 ? !open : fixed)
        nnrti_fixed(c, 0, k);
    else if (k != axis || c->nIn == 1)
        nnrti_from(c, 0, k, &c->in[0], k);
}

/* All inputs have the extents of input 0, apart from the axis that is joined. Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_concat(nnrt_resolve *c)
{
    NNRT_Concat *a = (NNRT_Concat *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axis, dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    int64_t total = 0;
    bool open = false;
    NNRT_ReturnCode code;
    for (uint32_t i = 1; i < c->nIn; i++)
        if (c->in[i].rank != x->rank)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, expected %d axes as input 0", i,
                              c->in[i].name, &c->in[i], x->rank);
    if ((code = nnrti_axis(c, "axis", a->axis, x->rank, &axis)) != NNRT_SUCCESS)
        return code;
    memcpy(dims, x->dims, sizeof(dims));
    for (uint32_t i = 0; i < c->nIn; i++) {
        for (int32_t k = 0; k < x->rank; k++)
            if (k != axis && nnrti_unlike(&c->in[i], k, x, k))
                return nnrti_fail(c, NNRT_INVALID_SHAPE,
                                  "input %u '%s' is %o, expected extent %d of axis %d as input 0", i, c->in[i].name,
                                  &c->in[i], x->dims[k], k);
            else if (k != axis && !nnrti_axis_open(&c->in[i], k))
                dims[k] = c->in[i].dims[k];
        total += c->in[i].dims[axis];
        open = open || nnrti_axis_open(&c->in[i], axis);
    }
    if (total > INT32_MAX && !open)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %d of the result would have extent %l: too large", axis, total);
    dims[axis] = total < INT32_MAX ? (int32_t)total : INT32_MAX; /* no run joins more */
    a->axis = axis;
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t k = 0; k < x->rank; k++)
        nnrti_concat_axis(c, k, axis);
    nnrti_axes_but(c, axis, to);
    for (uint32_t i = 0; i < c->nIn; i++)
        if ((code = nnrti_quant_moves(c, i, 0, to)) != NNRT_SUCCESS)
            return code;
    return NNRT_SUCCESS;
}

/* >>kernel CONCAT */

/* y = the nIn inputs x[0], x[1], .. joined along axis. All have the rank of y and its element type, whatever that is,
   and its extents apart from the axis, where theirs add up to that of y. y must not overlap an input. */
NNRT_API NNRT_ReturnCode nnrt_concat(const NNRT_Concat *attr, const nnrt_view *x, uint32_t nIn, nnrt_view *y)
{
    const int32_t axis = (int32_t)attr->axis;
    int32_t first = 0;
    for (uint32_t i = 0; i < nIn; i++) {
        nnrt_view part = nnrti_part(y, axis, first, x[i].dims[axis]);
        nnrti_copy(&x[i], &part);
        first += x[i].dims[axis];
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONSTANT_OF_SHAPE */

/* Resolved: dataType. Derived: the value, one element of it, converted as CAST does. */
static NNRT_ReturnCode nnrti_rule_constant_of_shape(nnrt_resolve *c)
{
    NNRT_ConstantOfShape *a = (NNRT_ConstantOfShape *)c->resolved;
    nnrt_operand *y = &c->out[0];
    void *element;
    NNRT_ReturnCode code;
    a->dataType = a->dataType == NNRT_DATA_TYPE_UNKNOWN ? y->dataType : a->dataType;
    if (a->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE,
                          "dataType is 0 and the type of output '%s' is not declared: say one", y->name);
    if (!nnrti_absent(y) && a->dataType != y->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output '%s' is declared %t, but dataType is %t", y->name,
                          y->dataType, (NNRT_DataType)a->dataType);
    if (nnrti_is_quant(y))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "output '%s' is quantised, which this operator does not know",
                          y->name);
    y->dataType = (NNRT_DataType)a->dataType;
    if ((code = nnrti_result_listed(c, 0)) != NNRT_SUCCESS)
        return code;
    if (a->value.count > 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "value has %u entries, expected at most 1", a->value.count);
    if ((code = nnrti_derive(c, y->dataType, 0, NULL, &element)) == NNRT_SUCCESS)
        nnrti_number(y->dataType, a->value.count > 0 ? (double)a->value.data[0] : 0.0, element);
    return code;
}

/* >>kernel CONSTANT_OF_SHAPE */

/* Every element of y = the one element of value, any element type. shape is not used. */
NNRT_API NNRT_ReturnCode nnrt_constant_of_shape(const NNRT_ConstantOfShape *attr, const nnrt_view *shape,
                                                const nnrt_view *value, nnrt_view *y)
{
    (void)attr, (void)shape;
    nnrti_copy(value, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONV2D_FUSION */

/* Result 0 of a convolution: its channels, and with the extents of the window all the rest, come from the weight. */
static NNRT_ReturnCode nnrti_result_conv(nnrt_resolve *c, int64_t h, int64_t w, int64_t channels)
{
    const nnrt_operand *x = &c->in[0], *weight = &c->in[1];
    const NNRT_ReturnCode code = nnrti_result_image(c, 0, x->dims[0], h, w, channels);
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_from(c, 0, nnrti_image_axis(x, 2), weight, 0);
    for (int32_t which = 0; which < 2; which++)
        if (nnrti_axis_open(weight, which + 1))
            nnrti_computed(c, 0, nnrti_image_axis(x, which));
    return NNRT_SUCCESS;
}

/* The weight [Co,kH,kW,Ci/group] takes ci channels in so many groups. Where an extent is open a run tells whether it does:
   what is open has the extent that fits, or is as large at least. */
static NNRT_ReturnCode nnrti_conv_channels(nnrt_resolve *c, int64_t group, int32_t ci)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[1], *b = &c->in[2];
    if ((nnrti_remainder(ci, group) != 0 && !nnrti_axis_open(x, nnrti_image_axis(x, 2))) ||
        (nnrti_remainder(w->dims[0], group) != 0 && !nnrti_axis_open(w, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "group %l divides not both: %d input channels, %d output channels",
                          group, ci, w->dims[0]);
    if (w->dims[3] != nnrti_quotient(ci, group) && !nnrti_axis_open(w, 3))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "weight '%s' is %o, expected %l as last extent: %d input channels / group %l", w->name, w,
                          nnrti_quotient(ci, group), ci, group);
    if (!nnrti_absent(b) && (b->rank != 1 || nnrti_unlike(b, 0, w, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected [%d]", b->name, b, w->dims[0]);
    return NNRT_SUCCESS;
}

/* What CONV2D_FUSION and CONV2D_TRANSPOSE_FUSION share: weight [Co,kH,kW,Ci/group], bias [Co], and attributes that are
   0 or empty taken from the tensors. */
static NNRT_ReturnCode nnrti_conv_operands(nnrt_resolve *c, NNRT_Int64List *kernelSize, int64_t *group,
                                           int64_t *inChannel, int64_t *outChannel)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[1];
    int32_t ci;
    bool openCi;
    NNRT_ReturnCode code;
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if (w->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "weight '%s' is %o, expected 4 axes [outChannel,kH,kW,inChannel/group]", w->name, w);
    ci = x->dims[nnrti_image_axis(x, 2)];
    openCi = nnrti_axis_open(x, nnrti_image_axis(x, 2));
    *group = *group == 0 ? 1 : *group;
    if (*group < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "group is %l, expected at least 1", *group);
    if (openCi && nnrti_product(w->dims[3], *group) <= ci)
        ci = (int32_t)nnrti_product(w->dims[3], *group); /* the one extent that fits */
    if ((code = nnrti_conv_channels(c, *group, ci)) != NNRT_SUCCESS)
        return code;
    if (*inChannel != 0 && *inChannel != ci && *inChannel != nnrti_quotient(ci, *group) && !openCi)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "inChannel is %l, but input '%s' %o has %d channels", *inChannel,
                          x->name, x, ci);
    if (*outChannel != 0 && *outChannel != w->dims[0] && !nnrti_axis_open(w, 0))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "outChannel is %l, but weight '%s' is %o", *outChannel, w->name, w);
    if (nnrti_unsaid(kernelSize)) {
        int64_t *k = nnrti_list(c, kernelSize, 2);
        if (k == NULL)
            return NNRT_OUT_OF_MEMORY;
        k[0] = w->dims[1];
        k[1] = w->dims[2];
    }
    if (kernelSize->count != 2 || (kernelSize->data[0] != w->dims[1] && !nnrti_axis_open(w, 1)) ||
        (kernelSize->data[1] != w->dims[2] && !nnrti_axis_open(w, 2)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "kernelSize is not [%d,%d], the window of weight '%s' %o", w->dims[1],
                          w->dims[2], w->name, w);
    *inChannel = ci;
    *outChannel = w->dims[0];
    return NNRT_SUCCESS;
}

/* Resolved: kernelSize, inChannel and outChannel as the weight and x have them, padList explicit, padMode PAD.
   Derived: when quantised, zero point, bounds and factors of the result. */
static NNRT_ReturnCode nnrti_rule_conv2d_fusion(nnrt_resolve *c)
{
    NNRT_Conv2DFusion *a = (NNRT_Conv2DFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0], *weight = &c->in[1];
    int64_t pads[4], kernel[2], h, w;
    NNRT_ReturnCode code;
    if ((code = nnrti_conv_operands(c, &a->kernelSize, &a->group, &a->inChannel, &a->outChannel)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "stride", &a->stride, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "dilation", &a->dilation, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pads(c, "padList", &a->padList, a->padMode, pads)) != NNRT_SUCCESS ||
        (code = nnrti_fused(c, a->activationType)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < 2; i++) /* of a window that is open the smallest gives the largest result */
        kernel[i] = nnrti_axis_open(weight, i + 1) ? 1 : a->kernelSize.data[i];
    h = nnrti_window(a->padMode, x->dims[nnrti_image_axis(x, 0)], kernel[0], a->stride.data[0], a->dilation.data[0],
                     &pads[0], &pads[1]);
    w = nnrti_window(a->padMode, x->dims[nnrti_image_axis(x, 1)], kernel[1], a->stride.data[1], a->dilation.data[1],
                     &pads[2], &pads[3]);
    if ((code = nnrti_set_pads(c, &a->padList, &a->padMode, pads)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_result_conv(c, h, w, a->outChannel)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_products(c, 0, a->activationType, false);
}

/* >>kernel CONV2D_FUSION */

/* Up to 16 neighbouring columns of a row of y: y[n,p,q + t,o], t < count. */
typedef struct nnrti_conv_block {
    int32_t n, p, q, o, count;
    int32_t channel; /* the first of x that o reads: that of its group */
} nnrti_conv_block;

/* Where tap i,j of the window has cells: columns first to last - 1 of the block read channels of x from x[in] on, the
   next column inStep further, with those of the weight from weight[at] on. */
typedef struct nnrti_conv_tap {
    int32_t first, last;
    ptrdiff_t at, in, inStep;
} nnrti_conv_tap;

/* The row of x that row i of the weight meets in the block, -1: none. */
NNRTI_INLINE int32_t nnrti_conv_row(const NNRT_Conv2DFusion *attr, const nnrt_view *x, const nnrti_conv_block *b,
                                    int32_t i)
{
    const int64_t row = b->p * attr->stride.data[0] - attr->padList.data[0] + i * attr->dilation.data[0];
    return row >= 0 && row < x->dims[1] ? (int32_t)row : -1;
}

/* The tap of a block, with that row of x; false where it reaches no cell. */
NNRTI_INLINE bool nnrti_conv_reaches(const NNRT_Conv2DFusion *attr, const nnrt_view *x, const nnrt_view *weight,
                                     const nnrti_conv_block *b, int32_t row, int32_t i, int32_t j, nnrti_conv_tap *tap)
{
    const int64_t stride = attr->stride.data[1];
    const int64_t column = b->q * stride - attr->padList.data[2] + j * attr->dilation.data[1]; /* of t = 0 */
    const int64_t first = column < 0 ? nnrti_quotient(stride - 1 - column, stride) : 0;
    const int64_t end = column < x->dims[2] ? nnrti_quotient(x->dims[2] - 1 - column, stride) + 1 : 0;
    const int64_t last = end < b->count ? end : b->count;
    if (first >= last)
        return false;
    tap->first = (int32_t)first;
    tap->last = (int32_t)last;
    tap->at = nnrti_place(weight, b->o, i, j, 0);
    tap->in = nnrti_place(x, b->n, row, (int32_t)(column + first * stride), b->channel);
    tap->inStep = (ptrdiff_t)stride * x->strides[2];
    return true;
}

/* sum[t] += the window of column t of the block, over i, then j, then the channels of its group. */
NNRTI_INLINE void nnrti_conv_sum(const NNRT_Conv2DFusion *attr, const nnrt_view *x, const nnrt_view *weight,
                                 const nnrti_conv_block *b, float *sum, NNRT_DataType type)
{
    const size_t width = nnrt_type_size(type);
    nnrti_conv_tap m;
    for (int32_t i = 0; i < weight->dims[1]; i++) {
        const int32_t row = nnrti_conv_row(attr, x, b, i);
        for (int32_t j = 0; j < weight->dims[2] && row >= 0; j++)
            if (nnrti_conv_reaches(attr, x, weight, b, row, i, j, &m))
                nnrti_dots(sum + m.first, m.last - m.first, nnrti_at(weight->data, m.at, width), weight->strides[3],
                           nnrti_at(x->data, m.in, width), x->strides[3], m.inStep, weight->dims[3], type);
    }
}

/* x [N,H,W,Ci], weight [Co,kH,kW,Ci/group], bias [Co] or NULL, y [N,Ho,Wo,Co]; none may overlap y.
   y[n,p,q,o] = act(bias[o] + sum over i,j,k of x[n, p*sH - top + i*dH, q*sW - left + j*dW, g*Ci/group + k] *
   weight[o,i,j,k]) with g = o / (Co/group); cells outside x are left out. The sum starts with the bias and runs over i,
   then j, then k. Up to 16 neighbouring columns are summed side by side; that changes no sum. */
NNRTI_INLINE NNRT_ReturnCode nnrti_conv2d_fusion(const NNRT_Conv2DFusion *attr, const nnrt_view *x,
                                                 const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y,
                                                 NNRT_DataType type)
{
    const int32_t perGroup = weight->dims[0] / (int32_t)attr->group;
    nnrti_conv_block b;
    for (b.n = 0; b.n < y->dims[0]; b.n++)
        for (b.p = 0; b.p < y->dims[1]; b.p++)
            for (b.q = 0; b.q < y->dims[2]; b.q += b.count) {
                b.count = y->dims[2] - b.q < NNRTI_DOTS ? y->dims[2] - b.q : NNRTI_DOTS;
                for (b.o = 0; b.o < y->dims[3]; b.o++) {
                    const ptrdiff_t out = nnrti_place(y, b.n, b.p, b.q, b.o);
                    float sum[NNRTI_DOTS],
                        start = bias != NULL ? nnrti_load(bias->data, b.o * bias->strides[0], type) : 0;
                    b.channel = b.o / perGroup * weight->dims[3];
                    for (int32_t t = 0; t < NNRTI_DOTS; t++)
                        sum[t] = start;
                    nnrti_conv_sum(attr, x, weight, &b, sum, type);
                    for (int32_t t = 0; t < b.count; t++)
                        nnrti_store(y->data, out + t * y->strides[2], nnrti_activate(sum[t], attr->activationType),
                                    type);
                }
            }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_conv2d_fusion_f32(const NNRT_Conv2DFusion *attr, const nnrt_view *x,
                                                const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_conv2d_fusion(attr, x, weight, bias, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_conv2d_fusion_f16(const NNRT_Conv2DFusion *attr, const nnrt_view *x,
                                                const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_conv2d_fusion(attr, x, weight, bias, y, NNRT_DATA_TYPE_FLOAT16);
}

/* sum[t] += the window of column t of the block, of 8 bits; d as nnrti_dots_of_weight has it, with the weight's zero point. */
NNRTI_INLINE void nnrti_conv_sum_8(const NNRT_Conv2DFusion *attr, const nnrt_view *x, const nnrt_view *weight,
                                   const nnrti_conv_block *b, nnrti_dots_8 *d, int64_t *sum)
{
    nnrti_conv_tap m;
    for (int32_t i = 0; i < weight->dims[1]; i++) {
        const int32_t row = nnrti_conv_row(attr, x, b, i);
        for (int32_t j = 0; j < weight->dims[2] && row >= 0; j++)
            if (nnrti_conv_reaches(attr, x, weight, b, row, i, j, &m)) {
                d->a = (const uint8_t *)weight->data + m.at;
                d->b = (const uint8_t *)x->data + m.in;
                d->bT = m.inStep;
                nnrti_sum_dots(d, weight->dims[3], m.last - m.first, sum + m.first);
            }
    }
}

/* The same of quantised int8 or uint8: the sum of (x - zX) * (weight - zW[o]) over the cells inside x and the int32 bias
   is exact, its result y = clamp(sum * factor[o] + zY). */
NNRT_API NNRT_ReturnCode nnrt_conv2d_fusion_q8(const NNRT_Conv2DFusion *attr, const nnrt_view *x,
                                               const nnrt_view *weight, const nnrt_view *bias, const nnrt_view *quant,
                                               nnrt_view *y)
{
    const int32_t perGroup = weight->dims[0] / (int32_t)attr->group;
    nnrti_dots_8 d;
    nnrti_conv_block b;
    nnrti_dots_of_weight(&d, weight, x);
    for (b.n = 0; b.n < y->dims[0]; b.n++)
        for (b.p = 0; b.p < y->dims[1]; b.p++)
            for (b.q = 0; b.q < y->dims[2]; b.q += b.count) {
                b.count = y->dims[2] - b.q < NNRTI_DOTS ? y->dims[2] - b.q : NNRTI_DOTS;
                for (b.o = 0; b.o < y->dims[3]; b.o++) {
                    int64_t sum[NNRTI_DOTS];
                    for (int32_t t = 0; t < NNRTI_DOTS; t++)
                        sum[t] = nnrti_bias_at(bias, b.o);
                    b.channel = b.o / perGroup * weight->dims[3];
                    d.zeroA = nnrti_zero(weight, b.o);
                    nnrti_conv_sum_8(attr, x, weight, &b, &d, sum);
                    nnrti_store_sums(y, nnrti_place(y, b.n, b.p, b.q, b.o), y->strides[2], sum, b.count, quant, b.o);
                }
            }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONV2D_TRANSPOSE_FUSION */

/* Transposed convolution along one axis: extent L, window k, stride s, dilation d, `extra` cells at the
   end. On SAME (L*s cells, the odd one of padding at the end) and VALID (no padding) p0 and p1 are computed. Returns
   the extent of the result. */
static int64_t nnrti_unwindow(NNRT_PadMode mode, int64_t L, int64_t k, int64_t s, int64_t d, int64_t extra, int64_t *p0,
                              int64_t *p1)
{
    const int64_t full = (L - 1) * s + (k - 1) * d + 1;
    if (mode == NNRT_PAD_MODE_SAME) {
        const int64_t out = L * s + extra, total = full > out ? full - out : 0;
        *p0 = total / 2;
        *p1 = total - *p0;
        return out;
    }
    if (mode == NNRT_PAD_MODE_VALID)
        *p0 = *p1 = 0;
    return full - *p0 - *p1 + extra;
}

/* outputPaddings: none = zeros; each entry is smaller than the stride or the dilation of its axis. */
static NNRT_ReturnCode nnrti_output_paddings(nnrt_resolve *c, NNRT_Conv2dTransposeFusion *a)
{
    NNRT_ReturnCode code = nnrti_pair(c, "outputPaddings", &a->outputPaddings, 0, 0);
    for (uint32_t i = 0; i < 2 && code == NNRT_SUCCESS; i++) {
        const int64_t s = a->stride.data[i], d = a->dilation.data[i];
        if (a->outputPaddings.data[i] >= (s > d ? s : d))
            code = nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "outputPaddings[%u] is %l, expected less than stride %l or dilation %l", i,
                              a->outputPaddings.data[i], s, d);
    }
    return code;
}

/* Resolved: kernelSize, inChannel and outChannel as the weight and x have them, padList and outputPaddings explicit,
   padMode PAD.
   Derived: when quantised, zero point, bounds and factors of the result. */
static NNRT_ReturnCode nnrti_rule_conv2d_transpose_fusion(nnrt_resolve *c)
{
    NNRT_Conv2dTransposeFusion *a = (NNRT_Conv2dTransposeFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int64_t pads[4], h, w;
    NNRT_ReturnCode code;
    if ((code = nnrti_conv_operands(c, &a->kernelSize, &a->group, &a->inChannel, &a->outChannel)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "stride", &a->stride, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "dilation", &a->dilation, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_output_paddings(c, a)) != NNRT_SUCCESS ||
        (code = nnrti_pads(c, "padList", &a->padList, a->padMode, pads)) != NNRT_SUCCESS ||
        (code = nnrti_fused(c, a->activationType)) != NNRT_SUCCESS)
        return code;
    h = nnrti_unwindow(a->padMode, x->dims[nnrti_image_axis(x, 0)], a->kernelSize.data[0], a->stride.data[0],
                       a->dilation.data[0], a->outputPaddings.data[0], &pads[0], &pads[1]);
    w = nnrti_unwindow(a->padMode, x->dims[nnrti_image_axis(x, 1)], a->kernelSize.data[1], a->stride.data[1],
                       a->dilation.data[1], a->outputPaddings.data[1], &pads[2], &pads[3]);
    if ((code = nnrti_set_pads(c, &a->padList, &a->padMode, pads)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_result_conv(c, h, w, a->outChannel)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_products(c, 0, a->activationType, false);
}

/* >>kernel CONV2D_TRANSPOSE_FUSION */

/* Up to 16 cells of a row of y that lie stride apart: y[n,p,q + t*sW,o], t < count. The same taps reach all of them. */
typedef struct nnrti_unconv_block {
    int32_t n, p, q, o, count;
    int32_t channel; /* the first of x that o reads: that of its group */
} nnrti_unconv_block;

/* Where tap i,j of the weight reaches the block: its cells first to last - 1 get the channels of x from x[in] on, the
   next cell those of the next column, times those of the weight from weight[at] on. */
typedef struct nnrti_unconv_tap {
    int32_t first, last;
    ptrdiff_t at, in;
} nnrti_unconv_tap;

/* The row of x that row i of the weight meets in the block, -1: none. */
NNRTI_INLINE int32_t nnrti_unconv_row(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x,
                                      const nnrti_unconv_block *b, int32_t i)
{
    const int64_t stride = attr->stride.data[0];
    const int64_t at = b->p + attr->padList.data[0] - i * attr->dilation.data[0], row = nnrti_quotient(at, stride);
    return at >= 0 && row * stride == at && row < x->dims[1] ? (int32_t)row : -1;
}

/* The tap of a block, with that row of x; false where it reaches no cell. */
NNRTI_INLINE bool nnrti_unconv_reaches(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x,
                                       const nnrt_view *weight, const nnrti_unconv_block *b, int32_t row, int32_t i,
                                       int32_t j, nnrti_unconv_tap *tap)
{
    const int64_t stride = attr->stride.data[1];
    const int64_t at = b->q + attr->padList.data[2] - j * attr->dilation.data[1];
    const int64_t column = nnrti_quotient(at, stride); /* of cell 0; the next cell has the next column */
    const int64_t first = column < 0 ? -column : 0;
    const int64_t last = x->dims[2] - column < b->count ? x->dims[2] - column : b->count;
    if (column * stride != at || first >= last)
        return false;
    tap->first = (int32_t)first;
    tap->last = (int32_t)last;
    tap->at = nnrti_place(weight, b->o, i, j, 0);
    tap->in = nnrti_place(x, b->n, row, (int32_t)(column + first), b->channel);
    return true;
}

/* sum[t] += what reaches cell t of the block, over i, then j, then the channels of its group. */
NNRTI_INLINE void nnrti_unconv_sum(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x, const nnrt_view *weight,
                                   const nnrti_unconv_block *b, float *sum, NNRT_DataType type)
{
    const size_t width = nnrt_type_size(type);
    nnrti_unconv_tap m;
    for (int32_t i = 0; i < weight->dims[1]; i++) {
        const int32_t row = nnrti_unconv_row(attr, x, b, i);
        for (int32_t j = 0; j < weight->dims[2] && row >= 0; j++)
            if (nnrti_unconv_reaches(attr, x, weight, b, row, i, j, &m))
                nnrti_dots(sum + m.first, m.last - m.first, nnrti_at(weight->data, m.at, width), weight->strides[3],
                           nnrti_at(x->data, m.in, width), x->strides[3], x->strides[2], weight->dims[3], type);
    }
}

/* x [N,H,W,Ci], weight [Co,kH,kW,Ci/group], bias [Co] or NULL, y [N,Ho,Wo,Co]; none may overlap y.
   y[n,P,Q,o] = act(bias[o] + sum over i,j,k of x[n,p,q, g*Ci/group + k] * weight[o,i,j,k]) with g = o / (Co/group) and
   all p, q inside x for which P = p*sH - top + i*dH and Q = q*sW - left + j*dW. The sum starts with the bias and runs
   over i, then j, then k. Up to 16 columns, stride apart, are summed side by side; that changes no sum. */
NNRTI_INLINE NNRT_ReturnCode nnrti_conv2d_transpose_fusion(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x,
                                                           const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y,
                                                           NNRT_DataType type)
{
    const int32_t columns = y->dims[2], perGroup = weight->dims[0] / (int32_t)attr->group;
    const int32_t step = attr->stride.data[1] < columns ? (int32_t)attr->stride.data[1] : columns;
    nnrti_unconv_block b;
    for (b.n = 0; b.n < y->dims[0]; b.n++)
        for (b.p = 0; b.p < y->dims[1]; b.p++)
            for (int32_t phase = 0; phase < step; phase++)
                for (int32_t cell = 0; cell <= (columns - 1 - phase) / step; cell += NNRTI_DOTS)
                    for (b.o = 0; b.o < y->dims[3]; b.o++) {
                        const int32_t left = (columns - 1 - phase) / step + 1 - cell;
                        float start = bias != NULL ? nnrti_load(bias->data, b.o * bias->strides[0], type) : 0;
                        float sum[NNRTI_DOTS];
                        ptrdiff_t out;
                        b.q = phase + cell * step;
                        b.count = left < NNRTI_DOTS ? left : NNRTI_DOTS;
                        b.channel = b.o / perGroup * weight->dims[3];
                        out = nnrti_place(y, b.n, b.p, b.q, b.o);
                        for (int32_t t = 0; t < NNRTI_DOTS; t++)
                            sum[t] = start;
                        nnrti_unconv_sum(attr, x, weight, &b, sum, type);
                        for (int32_t t = 0; t < b.count; t++)
                            nnrti_store(y->data, out + t * step * y->strides[2],
                                        nnrti_activate(sum[t], attr->activationType), type);
                    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_conv2d_transpose_fusion_f32(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x,
                                                          const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_conv2d_transpose_fusion(attr, x, weight, bias, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_conv2d_transpose_fusion_f16(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x,
                                                          const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_conv2d_transpose_fusion(attr, x, weight, bias, y, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the sum of (x - zX) * (weight - zW[o]) and the int32 bias is exact, its result
   y = clamp(sum * factor[o] + zY). */
NNRT_API NNRT_ReturnCode nnrt_conv2d_transpose_fusion_q8(const NNRT_Conv2dTransposeFusion *attr, const nnrt_view *x,
                                                         const nnrt_view *weight, const nnrt_view *bias,
                                                         const nnrt_view *quant, nnrt_view *y)
{
    const int32_t columns = y->dims[2], perGroup = weight->dims[0] / (int32_t)attr->group;
    const int32_t step = attr->stride.data[1] < columns ? (int32_t)attr->stride.data[1] : columns;
    nnrti_dots_8 d;
    nnrti_unconv_tap m;
    nnrti_unconv_block b;
    nnrti_dots_of_weight(&d, weight, x);
    d.bT = x->strides[2];
    for (b.n = 0; b.n < y->dims[0]; b.n++)
        for (b.p = 0; b.p < y->dims[1]; b.p++)
            for (int32_t phase = 0; phase < step; phase++)
                for (int32_t cell = 0; cell <= (columns - 1 - phase) / step; cell += NNRTI_DOTS)
                    for (b.o = 0; b.o < y->dims[3]; b.o++) {
                        const int32_t left = (columns - 1 - phase) / step + 1 - cell;
                        int64_t sum[NNRTI_DOTS];
                        b.q = phase + cell * step;
                        b.count = left < NNRTI_DOTS ? left : NNRTI_DOTS;
                        b.channel = b.o / perGroup * weight->dims[3];
                        for (int32_t t = 0; t < NNRTI_DOTS; t++)
                            sum[t] = nnrti_bias_at(bias, b.o);
                        d.zeroA = nnrti_zero(weight, b.o);
                        for (int32_t i = 0; i < weight->dims[1]; i++) {
                            const int32_t row = nnrti_unconv_row(attr, x, &b, i);
                            for (int32_t j = 0; j < weight->dims[2] && row >= 0; j++)
                                if (nnrti_unconv_reaches(attr, x, weight, &b, row, i, j, &m)) {
                                    d.a = (const uint8_t *)weight->data + m.at;
                                    d.b = (const uint8_t *)x->data + m.in;
                                    nnrti_sum_dots(&d, weight->dims[3], m.last - m.first, sum + m.first);
                                }
                        }
                        nnrti_store_sums(y, nnrti_place(y, b.n, b.p, b.q, b.o), step * y->strides[2], sum, b.count,
                                         quant, b.o);
                    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONV_3D */

/* Resolved: kernelShape as the weight has it, all lists are said, autoPad NOTSET. */
static NNRT_ReturnCode nnrti_rule_conv_3d(nnrt_resolve *c)
{
    NNRT_Conv3D *a = (NNRT_Conv3D *)c->resolved;
    nnrti_volume v;
    int64_t channels;
    NNRT_ReturnCode code = nnrti_volume_weight(c, &a->kernelShape, &a->group, false, &channels);
    v.axes = 3;
    v.kernelShape = &a->kernelShape;
    v.strides = &a->strides;
    v.dilations = &a->dilations;
    v.pads = &a->pads;
    v.autoPad = &a->autoPad;
    v.ceil = v.pool = false;
    if (code != NNRT_SUCCESS || (code = nnrti_volume_lists(c, &v)) != NNRT_SUCCESS ||
        (code = nnrti_volume_rule(c, &v, channels)) != NNRT_SUCCESS)
        return code;
    nnrti_volume_from_weight(c, 0, 1);
    return NNRT_SUCCESS;
}

/* >>kernel CONV_3D */

/* x [N,Ci,D,H,W], weight [Co,Ci/group,kD,kH,kW], bias [Co] or NULL, y [N,Co,Do,Ho,Wo], float32 or float16; none may
   overlap y. y[n,o,p..] = bias[o] + sum over i,j,k,c of x[n, g*Ci/group + c, p*stride - pad + (i,j,k)*dilation] *
   weight[o,c,i,j,k] with g = o / (Co/group); cells outside x are left out. The sum starts with the bias and runs over i,
   then j, k, c. */
NNRT_API NNRT_ReturnCode nnrt_conv_3d(const NNRT_Conv3D *attr, const nnrt_view *x, const nnrt_view *weight,
                                      const nnrt_view *bias, nnrt_view *y)
{
    const int64_t *s = attr->strides.data, *d = attr->dilations.data, *pad = attr->pads.data;
    const int32_t channels = weight->dims[1], perGroup = weight->dims[0] / (int32_t)attr->group;
    int32_t out[5] = {0, 0, 0, 0, 0}, in[5], tap[5];
    if (NNRTI_NO_VOLUMES)
        return NNRT_UNSUPPORTED_OP;
    do {
        float sum = bias != NULL ? nnrti_load(bias->data, out[1] * bias->strides[0], bias->dataType) : 0;
        int64_t start[3];
        nnrti_cells cells[3];
        for (int32_t i = 0; i < 3; i++) {
            start[i] = out[2 + i] * s[i] - pad[i];
            cells[i] = nnrti_cells_apart(start[i], weight->dims[2 + i], d[i], x->dims[2 + i]);
        }
        in[0] = out[0];
        in[1] = out[1] / perGroup * channels;
        tap[0] = out[1];
        tap[1] = 0;
        for (tap[2] = cells[0].first; tap[2] < cells[0].end; tap[2]++)
            for (tap[3] = cells[1].first; tap[3] < cells[1].end; tap[3]++)
                for (tap[4] = cells[2].first; tap[4] < cells[2].end; tap[4]++) {
                    ptrdiff_t from, w = nnrti_offset(weight, tap);
                    for (int32_t i = 0; i < 3; i++)
                        in[2 + i] = (int32_t)(start[i] + tap[2 + i] * d[i]);
                    from = nnrti_offset(x, in);
                    for (int32_t c = 0; c < channels; c++)
                        sum += nnrti_load(x->data, from + c * x->strides[1], x->dataType) *
                               nnrti_load(weight->data, w + c * weight->strides[1], x->dataType);
                }
        nnrti_store(y->data, nnrti_offset(y, out), sum, y->dataType);
    } while (nnrti_next_place(y, out));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONV_INTEGER */

/* Input i is the zero point of x: one number, alone or as a list, or where axis >= 0 one for each place of that axis. */
static NNRT_ReturnCode nnrti_zero_point(nnrt_resolve *c, uint32_t i, const nnrt_operand *x, int32_t axis)
{
    const nnrt_operand *zero = &c->in[i];
    const bool one = zero->rank == 0 || (zero->rank == 1 && nnrti_is_one(zero, 0));
    if (nnrti_absent(zero) || one || (zero->rank == 1 && axis >= 0 && !nnrti_unlike(zero, 0, x, axis)))
        return NNRT_SUCCESS;
    if (axis < 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "zero point '%s' is %o, expected one element", zero->name, zero);
    return nnrti_fail(c, NNRT_INVALID_SHAPE, "zero point '%s' is %o, expected one element, or [%d] for '%s'",
                      zero->name, zero, x->dims[axis], x->name);
}

/* Result 0 is int32, not quantised. */
static NNRT_ReturnCode nnrti_result_sums(nnrt_resolve *c)
{
    nnrt_operand *y = &c->out[0];
    if (nnrti_absent(y))
        y->dataType = NNRT_DATA_TYPE_INT32;
    if (nnrt_operand_types(y) != NNRT_TYPES_I32)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output 0 '%s' is declared %o, expected int32", y->name, y);
    return NNRT_SUCCESS;
}

/* As CONV2D_FUSION. */
static NNRT_ReturnCode nnrti_rule_conv_integer(nnrt_resolve *c)
{
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)c->resolved;
    NNRT_ReturnCode code;
    if ((code = nnrti_result_sums(c)) != NNRT_SUCCESS || (code = nnrti_rule_conv2d_fusion(c)) != NNRT_SUCCESS ||
        (code = nnrti_zero_point(c, 3, &c->in[0], -1)) != NNRT_SUCCESS ||
        (code = nnrti_zero_point(c, 4, &c->in[1], 0)) != NNRT_SUCCESS)
        return code;
    if (attr->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "activationType is %d, expected 0: results are sums",
                          attr->activationType);
    return NNRT_SUCCESS;
}

/* >>kernel CONV_INTEGER */

/* x [N,H,W,Ci], weight [Co,kH,kW,Ci/group], int8 or uint8 each, y [N,Ho,Wo,Co] int32: y[n,p,q,o] = bias[o] + the sum of
   (x - xZeroPoint) * (weight - weightZeroPoint, one or one per o) over the window as CONV2D_FUSION has it, modulo 2^32;
   cells outside x are left out. bias and zero points may be NULL: 0. */
NNRT_API NNRT_ReturnCode nnrt_conv_integer(const NNRT_Conv2DFusion *attr, const nnrt_view *x, const nnrt_view *weight,
                                           const nnrt_view *bias, const nnrt_view *xZeroPoint,
                                           const nnrt_view *weightZeroPoint, nnrt_view *y)
{
    const int32_t perGroup = weight->dims[0] / (int32_t)attr->group;
    nnrti_dots_8 d;
    nnrti_conv_block b;
    nnrti_dots_of_weight(&d, weight, x);
    for (int32_t t = 0; t < NNRTI_DOTS; t++)
        d.zeroB[t] = nnrti_zero_at(x, xZeroPoint, 0);
    for (b.n = 0; b.n < y->dims[0]; b.n++)
        for (b.p = 0; b.p < y->dims[1]; b.p++)
            for (b.q = 0; b.q < y->dims[2]; b.q += b.count) {
                b.count = y->dims[2] - b.q < NNRTI_DOTS ? y->dims[2] - b.q : NNRTI_DOTS;
                for (b.o = 0; b.o < y->dims[3]; b.o++) {
                    int64_t sum[NNRTI_DOTS];
                    for (int32_t t = 0; t < NNRTI_DOTS; t++)
                        sum[t] = nnrti_bias_at(bias, b.o);
                    b.channel = b.o / perGroup * weight->dims[3];
                    d.zeroA = nnrti_zero_at(weight, weightZeroPoint, b.o);
                    nnrti_conv_sum_8(attr, x, weight, &b, &d, sum);
                    for (int32_t t = 0; t < b.count; t++)
                        nnrti_store_int(y->data, nnrti_place(y, b.n, b.p, b.q + t, b.o), (uint64_t)sum[t],
                                        NNRT_DATA_TYPE_INT32);
                }
            }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CONV_TRANSPOSE_3D */

/* *out = the extent of the result along an axis, and its paddings, where they are not given: outputShape, then SAME (L
   times the stride), say what the result is; one larger than the window reaches has more at its end. */
static NNRT_ReturnCode nnrti_transposed_extent(nnrt_resolve *c, const NNRT_ConvTranspose3D *a, int32_t axis,
                                               int64_t *pads, int64_t *out)
{
    const int64_t L = c->in[0].dims[2 + axis], s = a->strides.data[axis];
    const int64_t reach = (a->kernelShape.data[axis] - 1) * a->dilations.data[axis] + 1, all = nnrti_product(L - 1, s);
    const bool same = a->autoPad == NNRT_AUTO_PAD_SAME_UPPER || a->autoPad == NNRT_AUTO_PAD_SAME_LOWER;
    int64_t total;
    if (all > INT32_MAX || reach > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %d of the result would have %l and %l more: too large", axis + 2,
                          all, reach);
    total = all + reach + a->outputPadding.data[axis];
    if (a->outputShape.count > 0 || same) {
        *out = a->outputShape.count > 0 ? a->outputShape.data[axis] : L * s;
        total = total > *out ? total - *out : 0;
        pads[axis] = a->autoPad == NNRT_AUTO_PAD_SAME_UPPER ? total / 2 : total - total / 2;
        pads[axis + 3] = total - pads[axis];
    } else {
        *out = total - pads[axis] - pads[axis + 3];
    }
    if (*out <= 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "axis %d of the result would have extent %l: its paddings are %l and %l", axis + 2, *out,
                          pads[axis], pads[axis + 3]);
    return NNRT_SUCCESS;
}

/* Resolved: as CONV_3D, and outputShape is said, too. */
static NNRT_ReturnCode nnrti_rule_conv_transpose_3d(nnrt_resolve *c)
{
    NNRT_ConvTranspose3D *a = (NNRT_ConvTranspose3D *)c->resolved;
    const bool shaped = !nnrti_unsaid(&a->outputShape);
    NNRT_Int64List given;
    nnrti_volume v;
    int64_t channels, *pads, out[3], *shape;
    NNRT_ReturnCode code = nnrti_volume_weight(c, &a->kernelShape, &a->group, true, &channels);
    v.axes = 3;
    v.kernelShape = &a->kernelShape;
    v.strides = &a->strides;
    v.dilations = &a->dilations;
    v.pads = &a->pads;
    v.autoPad = &a->autoPad;
    if (code != NNRT_SUCCESS || (code = nnrti_volume_lists(c, &v)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "outputPadding", &a->outputPadding, 3, 0, 0)) != NNRT_SUCCESS ||
        (shaped && (code = nnrti_volume_list(c, "outputShape", &a->outputShape, 3, 0, 1)) != NNRT_SUCCESS))
        return code;
    a->outputShape.count = shaped ? 3 : 0;
    given = a->pads;
    if ((pads = nnrti_list(c, &a->pads, 6)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    memcpy(pads, given.data, 6 * sizeof(*pads));
    for (int32_t i = 0; i < 3; i++)
        if ((code = nnrti_transposed_extent(c, a, i, pads, &out[i])) != NNRT_SUCCESS)
            return code;
    if ((code = nnrti_result_volume(c, 0, channels, out)) != NNRT_SUCCESS)
        return code;
    nnrti_volume_from_weight(c, 1, a->group);
    for (int32_t i = 0; i < 3 && shaped; i++)
        nnrti_fixed(c, 0, 2 + i);
    if ((shape = nnrti_list(c, &a->outputShape, 3)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    memcpy(shape, out, sizeof(out));
    a->autoPad = NNRT_AUTO_PAD_NOTSET;
    return NNRT_SUCCESS;
}

/* >>kernel CONV_TRANSPOSE_3D */

/* x [N,Ci,D,H,W], weight [Ci,Co/group,kD,kH,kW], bias [Co] or NULL, y [N,Co,Do,Ho,Wo], float32 or float16; none may
   overlap y. y[n,o,p..] = bias[o] + sum over i,j,k,c of x[n, g*Ci/group + c, q] * weight[g*Ci/group + c, o - g*Co/group,
   i,j,k] with g = o / (Co/group), where q = (p + pad - (i,j,k)*dilation) / stride is whole and inside x. The sum starts
   with the bias and runs over i, then j, k, c. */
NNRT_API NNRT_ReturnCode nnrt_conv_transpose_3d(const NNRT_ConvTranspose3D *attr, const nnrt_view *x,
                                                const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    const int64_t *s = attr->strides.data, *d = attr->dilations.data, *pad = attr->pads.data;
    const int32_t channels = weight->dims[0] / (int32_t)attr->group, perGroup = weight->dims[1];
    int32_t out[5] = {0, 0, 0, 0, 0}, in[5], tap[5];
    if (NNRTI_NO_VOLUMES)
        return NNRT_UNSUPPORTED_OP;
    do {
        float sum = bias != NULL ? nnrti_load(bias->data, out[1] * bias->strides[0], bias->dataType) : 0;
        in[0] = out[0];
        in[1] = tap[0] = out[1] / perGroup * channels;
        tap[1] = out[1] % perGroup;
        tap[2] = tap[3] = tap[4] = 0;
        do {
            bool inside = true;
            for (int32_t i = 0; i < 3 && inside; i++) {
                const int64_t at = out[2 + i] + pad[i] - tap[2 + i] * d[i], q = at < 0 ? -1 : nnrti_quotient(at, s[i]);
                inside = at >= 0 && q * s[i] == at && q < x->dims[2 + i];
                in[2 + i] = (int32_t)q;
            }
            for (int32_t c = 0; c < channels && inside; c++)
                sum += nnrti_load(x->data, nnrti_offset(x, in) + c * x->strides[1], x->dataType) *
                       nnrti_load(weight->data, nnrti_offset(weight, tap) + c * weight->strides[0], x->dataType);
            for (int32_t i = 4; i > 1; i--) { /* the next tap */
                if (++tap[i] < weight->dims[i])
                    break;
                tap[i] = 0;
            }
        } while (tap[2] != 0 || tap[3] != 0 || tap[4] != 0);
        nnrti_store(y->data, nnrti_offset(y, out), sum, y->dataType);
    } while (nnrti_next_place(y, out));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op COS */
/* >>kernel COS */

/* y = cos(x), x in radians, element by element; NaN for the infinities. y may lie where x lies. */
NNRTI_UNARY(Cos, cos, nnrti_cosf, nnrti_cos)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op COSH */
/* >>kernel COSH */

/* y = (e^x + e^-x) / 2, element by element. y may lie where x lies. */
NNRTI_UNARY(Cosh, cosh, nnrti_coshf, nnrti_cosh)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CROP */

/* Where extent i of the result is from, and its number: from axis on entry i of the list, else x's. */
static NNRT_ReturnCode nnrti_crop_axis(nnrt_resolve *c, int32_t i, int32_t axis, int64_t offset)
{
    const nnrt_operand *x = &c->in[0], *shape = &c->in[1];
    const int64_t L = x->dims[i], extent = nnrti_value(shape, (size_t)i), most = L > offset ? L - offset : 0;
    const bool open = nnrti_element_open(shape, (size_t)i), unbounded = nnrti_element_unbounded(shape, (size_t)i);
    nnrti_from(c, 0, i, x, i);
    if (extent < 0 && !open)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "shape[%d] is %l, expected at least 0", i, extent);
    if (i < axis && extent != L && !open && !nnrti_axis_open(x, i))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "shape[%d] is %l, expected the %l of input '%s' %o: axis is %d", i,
                          extent, L, x->name, x, axis);
    if (i < axis)
        return NNRT_SUCCESS;
    if ((extent > most || offset > L) && !open && !nnrti_axis_open(x, i))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "shape[%d] is %l from %l on, but input '%s' is %o", i, extent,
                          offset, x->name, x);
    c->out[0].dims[i] = (int32_t)(extent < 0 || extent > most || unbounded ? most : extent);
    if (unbounded)
        nnrti_bounded(c, 0, i);
    else
        nnrti_from_value(c, 0, i, shape, (size_t)i);
    return NNRT_SUCCESS;
}

/* Resolved: axis is 0 and offset has an entry for every axis. Derived: these, as int32. */
static NNRT_ReturnCode nnrti_rule_crop(nnrt_resolve *c)
{
    NNRT_Crop *a = (NNRT_Crop *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    const NNRT_Int64List given = a->offset;
    int32_t axis, first[NNRT_MAX_RANK] = {0}, to[NNRT_MAX_RANK];
    int64_t *offset;
    NNRT_ReturnCode code;
    if ((code = nnrti_known_list(c, 1, "shape", x->rank, x->rank)) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "axis", a->axis, x->rank, &axis)) != NNRT_SUCCESS)
        return code;
    if (given.count > 1 && given.count != (uint32_t)(x->rank - axis))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "offset has %u entries, expected 1, or one for each of the %d axes", given.count,
                          x->rank - axis);
    offset = nnrti_list(c, &a->offset, (uint32_t)x->rank);
    if (offset == NULL)
        return NNRT_OUT_OF_MEMORY;
    a->axis = 0;
    nnrti_result(c, 0, x->rank, x->dims);
    for (int32_t i = 0; i < x->rank; i++) {
        offset[i] = i < axis || given.count == 0 ? 0 : given.data[given.count == 1 ? 0 : i - axis];
        if (offset[i] < 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "offset of axis %d is %l, expected at least 0", i, offset[i]);
        if ((code = nnrti_crop_axis(c, i, axis, offset[i])) != NNRT_SUCCESS)
            return code;
        first[i] = (int32_t)offset[i];
        to[i] = c->out[0].dims[i] == x->dims[i] ? i : -1;
    }
    if ((code = nnrti_derive_ints(c, x->rank, first)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op CUM_SUM */

/* The axis may be told in a run: no extent depends on it. */
static NNRT_ReturnCode nnrti_rule_cum_sum(nnrt_resolve *c)
{
    const nnrt_operand *given = &c->in[1];
    const bool known = given->data != NULL && !nnrti_element_open(given, 0);
    int32_t axis;
    NNRT_ReturnCode code;
    if (!nnrti_absent(given) && (code = nnrti_one_element(c, 1, "axis")) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_axis(c, "axis", known ? nnrti_value(given, 0) : -1, c->in[0].rank, &axis)) != NNRT_SUCCESS)
        return code; /* where a run tells the axis, -1 is in range unless there is none */
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel CUM_SUM */

static void nnrti_cum_sum_line(const void *attr, const nnrti_line *x, const nnrti_line *y, int32_t L,
                               NNRT_DataType type)
{
    const NNRT_CumSum *a = (const NNRT_CumSum *)attr;
    nnrti_sum sum = {0, 0};
    uint64_t whole = 0;
    double wide = 0;
    for (int32_t k = 0; k < L; k++) {
        const int32_t i = a->reverse ? L - 1 - k : k;
        const ptrdiff_t from = i * x->step, to = i * y->step;
        if (type == NNRT_DATA_TYPE_FLOAT64) {
            const double v = ((const double *)x->data)[from];
            ((double *)y->data)[to] = a->exclusive ? wide : wide + v;
            wide += v;
        } else if (type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT16) {
            const float before = nnrti_sum_of(&sum);
            nnrti_sum_add(&sum, nnrti_load(x->data, from, type));
            nnrti_store(y->data, to, a->exclusive ? before : nnrti_sum_of(&sum), type);
        } else {
            const uint64_t v = nnrti_load_int(x->data, from, type);
            nnrti_store_int(y->data, to, a->exclusive ? whole : whole + v, type);
            whole += v;
        }
    }
}

/* x, y of one shape; y may be x. axis is one int32 or int64, NULL: the last. y[..,i,..] = the sum of x[..,k,..] along
   axis from the start to i, with reverse from the end to i; exclusive: without x[..,i,..]. float16 and float32 sums
   carry their rounding errors along, float64 are plain, integers modulo 2^n.
   NNRT_INVALID_PARAMETER when axis lies outside [-rank,rank). */
NNRT_API NNRT_ReturnCode nnrt_cum_sum(const NNRT_CumSum *attr, const nnrt_view *x, const nnrt_view *axis, nnrt_view *y,
                                      nnrt_call *call)
{
    const int64_t given = axis != NULL ? nnrti_index(axis, 0) : -1;
    if (given < -(int64_t)x->rank || given >= x->rank)
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "axis is %l, expected %d to %d", given, -x->rank,
                              x->rank - 1);
    return nnrti_lines(attr, x, y, (int32_t)(given < 0 ? given + x->rank : given), x->dataType, nnrti_cum_sum_line);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op DEFORMABLE_CONV_2D */

/* Axis `axis` of input i must have the given extent; `open`: that is computed from one that is open. */
static NNRT_ReturnCode nnrti_deformable_extent(nnrt_resolve *c, uint32_t i, int32_t axis, int64_t extent, bool open)
{
    const nnrt_operand *o = &c->in[i];
    if (o->dims[axis] != extent && !open && !nnrti_axis_open(o, axis))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, expected %l as extent of axis %d", i, o->name, o,
                          extent, axis);
    return NNRT_SUCCESS;
}

/* Input i, offset or mask, is [N, channels, h, w]. */
static NNRT_ReturnCode nnrti_deformable_map(nnrt_resolve *c, uint32_t i, int64_t channels, int64_t h, int64_t w)
{
    const nnrt_operand *x = &c->in[0];
    NNRT_ReturnCode code;
    if (c->in[i].rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, expected 4 axes", i, c->in[i].name, &c->in[i]);
    if ((code = nnrti_deformable_extent(c, i, 0, x->dims[0], nnrti_axis_open(x, 0))) != NNRT_SUCCESS ||
        (code = nnrti_deformable_extent(c, i, 1, channels, false)) != NNRT_SUCCESS ||
        (code = nnrti_deformable_extent(c, i, 2, h, nnrti_axis_open(x, nnrti_image_axis(x, 0)))) != NNRT_SUCCESS)
        return code;
    return nnrti_deformable_extent(c, i, 3, w, nnrti_axis_open(x, nnrti_image_axis(x, 1)));
}

/* The channels of x, of the weight [Co,Ci/group,kH,kW] and of the bias [Co] go together. */
static NNRT_ReturnCode nnrti_deformable_channels(nnrt_resolve *c, NNRT_DeformableConv2D *a)
{
    const nnrt_operand *x = &c->in[0], *weight = &c->in[3], *bias = &c->in[4];
    const int32_t channels = x->dims[nnrti_image_axis(x, 2)];
    const bool open = nnrti_axis_open(x, nnrti_image_axis(x, 2));
    a->group = a->group == 0 ? 1 : a->group;
    a->deformableGroup = a->deformableGroup == 0 ? 1 : a->deformableGroup;
    if (a->group < 1 || a->deformableGroup < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "group is %l and deformableGroup %l, expected at least 1",
                          a->group, a->deformableGroup);
    if (nnrti_remainder(weight->dims[0], a->group) != 0 ||
        (channels != nnrti_product(weight->dims[1], a->group) && !open))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "weight '%s' is %o: it does not go with %d input channels in %l groups", weight->name, weight,
                          channels, a->group);
    if (nnrti_remainder(channels, a->deformableGroup) != 0 && !open)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "deformableGroup %l does not divide %d input channels",
                          a->deformableGroup, channels);
    if (!nnrti_absent(bias) && (bias->rank != 1 || (bias->dims[0] != weight->dims[0] && !nnrti_axis_open(bias, 0))))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected [%d]", bias->name, bias, weight->dims[0]);
    return NNRT_SUCCESS;
}

/* Resolved: stride, dilation and padList explicit, groups >= 1. The extents of the weight must be fixed. */
static NNRT_ReturnCode nnrti_rule_deformable_conv_2d(nnrt_resolve *c)
{
    NNRT_DeformableConv2D *a = (NNRT_DeformableConv2D *)c->resolved;
    const nnrt_operand *x = &c->in[0], *weight = &c->in[3];
    NNRT_PadMode mode = NNRT_PAD_MODE_PAD;
    int64_t pads[4], h, w, taps;
    NNRT_ReturnCode code;
    if (x->rank != 4 || nnrti_count(x) == 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes, none of them empty", x->name, x);
    if (weight->rank != 4 || nnrti_count(weight) == 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "weight '%s' is %o, expected 4 axes [Co,Ci/group,kH,kW], none empty",
                          weight->name, weight);
    if (nnrti_open_from(weight, 0))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "weight '%s' is %o with open extents: give them", weight->name,
                          weight);
    if ((code = nnrti_deformable_channels(c, a)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "stride", &a->stride, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pair(c, "dilation", &a->dilation, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_pads(c, "padList", &a->padList, mode, pads)) != NNRT_SUCCESS ||
        (code = nnrti_set_pads(c, &a->padList, &mode, pads)) != NNRT_SUCCESS ||
        (code = nnrti_fused(c, a->activationType)) != NNRT_SUCCESS)
        return code;
    h = nnrti_window(mode, x->dims[nnrti_image_axis(x, 0)], weight->dims[2], a->stride.data[0], a->dilation.data[0],
                     &pads[0], &pads[1]);
    w = nnrti_window(mode, x->dims[nnrti_image_axis(x, 1)], weight->dims[3], a->stride.data[1], a->dilation.data[1],
                     &pads[2], &pads[3]);
    if ((code = nnrti_result_image(c, 0, x->dims[0], h, w, weight->dims[0])) != NNRT_SUCCESS)
        return code;
    nnrti_fixed(c, 0, nnrti_image_axis(x, 2));
    taps = nnrti_product(nnrti_product(weight->dims[2], weight->dims[3]), a->deformableGroup);
    if ((code = nnrti_deformable_map(c, 1, nnrti_product(taps, 2), h, w)) != NNRT_SUCCESS)
        return code;
    return nnrti_absent(&c->in[2]) || nnrti_count(&c->in[2]) == 0 ? NNRT_SUCCESS
                                                                  : nnrti_deformable_map(c, 2, taps, h, w);
}

/* >>kernel DEFORMABLE_CONV_2D */

/* What the window of y[n,p,q,..] reads. */
typedef struct nnrti_deformable {
    const NNRT_DeformableConv2D *attr;
    const nnrt_view *x, *offset, *mask, *weight;
    int32_t n, p, q;
} nnrti_deformable;

/* The cells that tap (i,j) reads in deformable group d, and what the sample is multiplied with. */
NNRTI_INLINE nnrti_corners nnrti_deformable_tap(const nnrti_deformable *v, int32_t d, int32_t i, int32_t j, float *mask,
                                                NNRT_DataType type)
{
    const int64_t *s = v->attr->stride.data, *dilation = v->attr->dilation.data, *pad = v->attr->padList.data;
    const int32_t tap = (d * v->weight->dims[2] + i) * v->weight->dims[3] + j;
    const ptrdiff_t at = nnrti_place(v->offset, v->n, 2 * tap, v->p, v->q);
    const float down = nnrti_load(v->offset->data, at, type);
    const float right = nnrti_load(v->offset->data, at + v->offset->strides[1], type);
    *mask = v->mask == NULL ? 1 : nnrti_load(v->mask->data, nnrti_place(v->mask, v->n, tap, v->p, v->q), type);
    return nnrti_corners_of(v->x, (float)(v->p * s[0] - pad[0] + i * dilation[0]) + down,
                            (float)(v->q * s[1] - pad[2] + j * dilation[1]) + right);
}

/* sum[t] += the window with the weights of output channel o + t, t < count, all of one group: over i, then j, then the
   channels of the group. */
NNRTI_INLINE void nnrti_deformable_sum(const nnrti_deformable *v, int32_t o, int32_t count, float *sum,
                                       NNRT_DataType type)
{
    const nnrt_view *x = v->x, *weight = v->weight;
    const int32_t group = o / (weight->dims[0] / (int32_t)v->attr->group);
    const int32_t shared = x->dims[3] / (int32_t)v->attr->deformableGroup; /* channels that read the same cells */
    for (int32_t i = 0; i < weight->dims[2]; i++)
        for (int32_t j = 0; j < weight->dims[3]; j++) {
            nnrti_corners s = {0, {0}, {0}};
            float mask = 1;
            for (int32_t k = 0; k < weight->dims[1]; k++) {
                const int32_t channel = group * weight->dims[1] + k;
                const ptrdiff_t at = nnrti_place(weight, o, k, i, j);
                float value;
                if (k == 0 || channel % shared == 0)
                    s = nnrti_deformable_tap(v, channel / shared, i, j, &mask, type);
                value = nnrti_at_corners(x, nnrti_place(x, v->n, 0, 0, channel), &s, type) * mask;
                for (int32_t t = 0; t < count; t++)
                    sum[t] += value * nnrti_load(weight->data, at + t * weight->strides[0], type);
            }
        }
}

/* x [N,H,W,Ci], offset [N,2*D*kH*kW,Ho,Wo], mask [N,D*kH*kW,Ho,Wo], NULL or empty: all 1, weight [Co,Ci/group,kH,kW],
   bias [Co] or NULL, y [N,Ho,Wo,Co], D = deformableGroup; none may overlap y. A convolution, but tap (i,j) of y[n,p,q,..]
   reads channel k at row p*sH - top + i*dH + offset[n,2*m,p,q], column q*sW - left + j*dW + offset[n,2*m + 1,p,q], by
   bilinear interpolation, and multiplies that with mask[n,m,p,q], where m = (d*kH + i)*kW + j and d = k / (Ci/D). Outside x
   there are zeros. The sum starts with the bias and runs over i, then j, then k. Up to 16 output channels are summed side
   by side; that changes no sum. */
NNRTI_INLINE NNRT_ReturnCode nnrti_deformable_conv_2d(const NNRT_DeformableConv2D *attr, const nnrt_view *x,
                                                      const nnrt_view *offset, const nnrt_view *mask,
                                                      const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y,
                                                      NNRT_DataType type)
{
    const int32_t group = y->dims[3] / (int32_t)attr->group; /* output channels of one */
    nnrti_deformable v = {attr, x, offset, mask != NULL && nnrti_empty(mask) ? NULL : mask, weight, 0, 0, 0};
    for (v.n = 0; v.n < y->dims[0]; v.n++)
        for (v.p = 0; v.p < y->dims[1]; v.p++)
            for (v.q = 0; v.q < y->dims[2]; v.q++)
                for (int32_t o = 0, count; o < y->dims[3]; o += count) {
                    const ptrdiff_t at = nnrti_place(y, v.n, v.p, v.q, o);
                    float sum[16] = {0};
                    count = group - o % group < 16 ? group - o % group : 16;
                    for (int32_t t = 0; t < count && bias != NULL; t++)
                        sum[t] = nnrti_load(bias->data, (o + t) * bias->strides[0], type);
                    nnrti_deformable_sum(&v, o, count, sum, type);
                    for (int32_t t = 0; t < count; t++)
                        nnrti_store(y->data, at + t * y->strides[3], nnrti_activate(sum[t], attr->activationType),
                                    type);
                }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_deformable_conv_2d_f32(const NNRT_DeformableConv2D *attr, const nnrt_view *x,
                                                     const nnrt_view *offset, const nnrt_view *mask,
                                                     const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_deformable_conv_2d(attr, x, offset, mask, weight, bias, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_deformable_conv_2d_f16(const NNRT_DeformableConv2D *attr, const nnrt_view *x,
                                                     const nnrt_view *offset, const nnrt_view *mask,
                                                     const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_deformable_conv_2d(attr, x, offset, mask, weight, bias, y, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op DEPTH_TO_SPACE */

/* Resolved: mode is "DCR" or "CRD". */
static NNRT_ReturnCode nnrti_rule_depth_to_space(nnrt_resolve *c)
{
    const NNRT_DepthToSpace *a = (const NNRT_DepthToSpace *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int64_t b, cells, channels;
    const NNRT_ReturnCode code = nnrti_block_size(c, a->blockSize);
    if (code != NNRT_SUCCESS)
        return code;
    if (strcmp(a->mode, "DCR") != 0 && strcmp(a->mode, "CRD") != 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "mode is \"%s\", expected \"DCR\" or \"CRD\"", a->mode);
    b = a->blockSize;
    cells = b * b;
    channels = x->dims[nnrti_image_axis(x, 2)];
    if (nnrti_remainder(channels, cells) != 0 && !nnrti_axis_open(x, nnrti_image_axis(x, 2)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "input '%s' is %o: its %l channels are no multiple of the %l cells of a block", x->name, x,
                          channels, cells);
    return nnrti_result_blocks(c, b == 1, nnrti_product(x->dims[nnrti_image_axis(x, 0)], b),
                               nnrti_product(x->dims[nnrti_image_axis(x, 1)], b), nnrti_quotient(channels, cells));
}

/* >>kernel DEPTH_TO_SPACE */

/* x [N,H,W,b*b*C], y [N,H*b,W*b,C], b = blockSize, any element type; y must not overlap x.
   DCR: y[n, h*b + i, w*b + j, c] = x[n, h, w, (i*b + j)*C + c]; CRD: = x[n, h, w, c*b*b + i*b + j]. */
NNRT_API NNRT_ReturnCode nnrt_depth_to_space(const NNRT_DepthToSpace *attr, const nnrt_view *x, nnrt_view *y)
{
    const bool outside = strcmp(attr->mode, "DCR") == 0;
    const int64_t cells = nnrti_empty(y) ? 0 : attr->blockSize * attr->blockSize;
    for (int64_t k = 0; k < cells; k++) {
        const nnrt_view from = nnrti_cell_channels(x, attr->blockSize, k, outside);
        nnrt_view to = nnrti_cell_places(y, attr->blockSize, k);
        nnrti_copy(&from, &to);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op DET */

static NNRT_ReturnCode nnrti_rule_det(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    const int32_t rank = x->rank - 2;
    size_t count;
    if (rank < 0 || nnrti_unlike(x, rank, x, rank + 1))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected square matrices", x->name, x);
    nnrti_result(c, 0, rank, x->dims);
    for (int32_t i = 0; i < rank; i++)
        nnrti_from(c, 0, i, x, i);
    if (!nnrt_mul_size((size_t)x->dims[rank], (size_t)x->dims[rank], &count) ||
        !nnrt_mul_size(count, sizeof(float), &c->scratch))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "a matrix of input '%s' %o is too large", x->name, x);
    return NNRT_SUCCESS;
}

/* >>kernel DET */

/* The determinant of m, M rows of M, which is spent: each column in turn is cleared below its row with the row whose
   number there is the largest, of equal ones the first. */
static float nnrti_det(float *m, int32_t M)
{
    float det = 1;
    for (int32_t k = 0; k < M; k++) {
        float *row = m + (ptrdiff_t)k * M;
        int32_t best = k;
        for (int32_t i = k + 1; i < M; i++) {
            const float v = m[(ptrdiff_t)i * M + k], b = m[(ptrdiff_t)best * M + k];
            best = (v < 0 ? -v : v) > (b < 0 ? -b : b) ? i : best;
        }
        for (int32_t j = k; j < M && best != k; j++) {
            const float v = row[j];
            row[j] = m[(ptrdiff_t)best * M + j];
            m[(ptrdiff_t)best * M + j] = v;
        }
        det = best != k ? -det * row[k] : det * row[k];
        if (row[k] == 0)
            return 0;
        for (int32_t i = k + 1; i < M; i++) {
            const float f = m[(ptrdiff_t)i * M + k] / row[k];
            for (int32_t j = k + 1; j < M; j++)
                m[(ptrdiff_t)i * M + j] -= f * row[j];
        }
    }
    return det;
}

/* x [..,M,M], y [..], float32 or float16: y = the determinants, by elimination in float32. Scratch: 4*M*M bytes;
   NNRT_INSUFFICIENT_BUFFER without it. */
NNRT_API NNRT_ReturnCode nnrt_det(const NNRT_Det *attr, const nnrt_view *x, nnrt_view *y, nnrt_call *call)
{
    const int32_t M = x->dims[x->rank - 1];
    const size_t bytes = (size_t)M * (size_t)M * sizeof(float);
    const ptrdiff_t rows = x->strides[x->rank - 2], columns = x->strides[x->rank - 1];
    float *m = (float *)nnrti_scratch(call, bytes);
    int32_t place[NNRT_MAX_RANK] = {0};
    (void)attr;
    if (m == NULL)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch", bytes);
    do {
        ptrdiff_t at = 0;
        for (int32_t i = 0; i < y->rank; i++)
            at += place[i] * x->strides[i];
        for (int32_t i = 0; i < M; i++)
            for (int32_t j = 0; j < M; j++)
                m[(ptrdiff_t)i * M + j] = nnrti_load(x->data, at + i * rows + j * columns, x->dataType);
        nnrti_store(y->data, nnrti_offset(y, place), nnrti_det(m, M), y->dataType);
    } while (nnrti_next_place(y, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op DETECTION_POST_PROCESS */

static NNRT_ReturnCode nnrti_detection_attr(nnrt_resolve *c, const NNRT_DetectionPostProcess *a)
{
    if (a->scale.count != 4)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "scale has %u entries, expected 4: y, x, h, w", a->scale.count);
    for (uint32_t i = 0; i < 4; i++)
        if (!(a->scale.data[i] > 0))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "scale[%u] is %f, expected more than 0", i,
                              (double)a->scale.data[i]);
    if (!(a->nmsIoUThreshold >= 0 && a->nmsIoUThreshold <= 1))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "nmsIoUThreshold is %f, expected 0 to 1",
                          (double)a->nmsIoUThreshold);
    if (a->maxDetections < 1 || a->maxClassesPerDetection < 1 || a->numClasses < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "maxDetections is %l, maxClassesPerDetection %l, numClasses %l, expected at least 1",
                          a->maxDetections, a->maxClassesPerDetection, a->numClasses);
    if (a->useRegularNms && a->detectionsPerClass < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "detectionsPerClass is %l, expected at least 1",
                          a->detectionsPerClass);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_rule_detection_post_process(nnrt_resolve *c)
{
    const NNRT_DetectionPostProcess *a = (const NNRT_DetectionPostProcess *)c->resolved;
    const nnrt_operand *bbox = &c->in[0], *scores = &c->in[1], *anchors = &c->in[2];
    int32_t dims[3] = {1, 0, 4};
    int64_t slots;
    NNRT_ReturnCode code = nnrti_detection_attr(c, a);
    if (code != NNRT_SUCCESS)
        return code;
    if (bbox->rank != 3 || (bbox->dims[0] != 1 && !nnrti_axis_open(bbox, 0)) ||
        (bbox->dims[2] != 4 && !nnrti_axis_open(bbox, 2)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bbox '%s' is %o, expected [1,boxes,4]", bbox->name, bbox);
    if (scores->rank != 3 || (scores->dims[0] != 1 && !nnrti_axis_open(scores, 0)) ||
        nnrti_unlike(bbox, 1, scores, 1) ||
        (scores->dims[2] != a->numClasses && scores->dims[2] != a->numClasses + 1 && !nnrti_axis_open(scores, 2)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "scores '%s' is %o, expected [1,%d,classes], %l of them or one more",
                          scores->name, scores, bbox->dims[1], a->numClasses);
    if (anchors->rank != 2 || nnrti_unlike(bbox, 1, anchors, 0) ||
        (anchors->dims[1] != 4 && !nnrti_axis_open(anchors, 1)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "anchors '%s' is %o, expected [%d,4]", anchors->name, anchors,
                          bbox->dims[1]);
    slots = nnrti_product(a->maxDetections, a->maxClassesPerDetection);
    if (slots > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "maxDetections is %l, maxClassesPerDetection %l: too large",
                          a->maxDetections, a->maxClassesPerDetection);
    dims[1] = (int32_t)slots;
    for (uint32_t i = 0; i < 4; i++) {
        const int32_t rank = i == 0 ? 3 : i == 3 ? 1 : 2;
        if ((code = nnrti_float_result(c, i)) != NNRT_SUCCESS)
            return code;
        nnrti_result(c, i, rank, dims);
        for (int32_t k = 0; k < rank; k++)
            nnrti_fixed(c, i, k);
    }
    if (!a->useRegularNms && !nnrt_mul_size((size_t)bbox->dims[1], sizeof(float), &c->scratch))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "bbox '%s' is %o: too many boxes", bbox->name, bbox);
    return NNRT_SUCCESS;
}

/* >>kernel DETECTION_POST_PROCESS */

/* What boxes are looked at: label is the class that orders them, -1: each box's best one, kept in best unless that is
   NULL. */
typedef struct nnrti_detector {
    const NNRT_DetectionPostProcess *attr;
    const nnrt_view *bbox, *scores, *anchors;
    int32_t label;
    float *best;
} nnrti_detector;

/* The results so far; a slot has a box, a class and a score. */
typedef struct nnrti_detections {
    nnrt_view *boxes, *classes, *scores;
    int32_t count;
} nnrti_detections;

/* The scores of box i, without that of the background. */
static nnrti_line nnrti_detection_scores(const nnrti_detector *d, int32_t i)
{
    const int32_t background = d->scores->dims[2] - (int32_t)d->attr->numClasses;
    return nnrti_line_of(d->scores, 2, i * d->scores->strides[1] + background * d->scores->strides[2]);
}

static float nnrti_detection_score(const nnrti_detector *d, int32_t i)
{
    const nnrti_line line = nnrti_detection_scores(d, i);
    int32_t label = d->label;
    if (label < 0 && d->best != NULL)
        return d->best[i];
    if (label < 0)
        label = nnrti_top_next(&line, (int32_t)d->attr->numClasses, -1);
    return nnrti_load(line.data, label * line.step, line.type);
}

/* The box behind box `last` in the order of falling scores, equal ones by rising number, down to nmsScoreThreshold; last
   -1: the first one. -1: there is none. */
static int32_t nnrti_detection_next(const nnrti_detector *d, int32_t last)
{
    const float limit = last < 0 ? 0 : nnrti_detection_score(d, last);
    int32_t next = -1;
    float top = 0;
    for (int32_t i = 0; i < d->bbox->dims[1]; i++) {
        const float score = nnrti_detection_score(d, i);
        if (!(score >= d->attr->nmsScoreThreshold) || (next >= 0 && score <= top) ||
            (last >= 0 && (score > limit || (score == limit && i <= last))))
            continue;
        next = i;
        top = score;
    }
    return next;
}

/* The bounds of box i: y and x of its upper left corner, then of the lower right one. */
static void nnrti_detection_box(const nnrti_detector *d, int32_t i, float box[4])
{
    const float *scale = d->attr->scale.data;
    const nnrti_line code = nnrti_line_of(d->bbox, 2, i * d->bbox->strides[1]);
    const nnrti_line anchor = nnrti_line_of(d->anchors, 1, i * d->anchors->strides[0]);
    for (int32_t k = 0; k < 2; k++) {
        const float edge = nnrti_load(anchor.data, (k + 2) * anchor.step, anchor.type);
        const float centre = nnrti_load(code.data, k * code.step, code.type) / scale[k] * edge +
                             nnrti_load(anchor.data, k * anchor.step, anchor.type);
        const float half = nnrti_expf(nnrti_load(code.data, (k + 2) * code.step, code.type) / scale[k + 2]) * edge / 2;
        box[k] = centre - half;
        box[k + 2] = centre + half;
    }
}

/* The numbers of a slot: four of the box, class, score. */
static float *nnrti_detection_at(const nnrti_detections *y, int32_t slot, int32_t k)
{
    if (k < 4)
        return (float *)y->boxes->data + slot * y->boxes->strides[1] + k * y->boxes->strides[2];
    return k == 4 ? (float *)y->classes->data + slot * y->classes->strides[1]
                  : (float *)y->scores->data + slot * y->scores->strides[1];
}

static void nnrti_detection_put(const nnrti_detections *y, int32_t slot, const float box[4], int32_t label, float score)
{
    for (int32_t k = 0; k < 4; k++)
        *nnrti_detection_at(y, slot, k) = box[k];
    *nnrti_detection_at(y, slot, 4) = (float)label;
    *nnrti_detection_at(y, slot, 5) = score;
}

/* Whether a box overlaps none of the results, every `step`-th of them, by more than nmsIoUThreshold; only those of class
   d->label count, if that is not -1. */
static bool nnrti_detection_free(const nnrti_detector *d, const nnrti_detections *y, int32_t step, const float box[4])
{
    for (int32_t i = 0; i < y->count; i += step) {
        float kept[4];
        for (int32_t k = 0; k < 4; k++)
            kept[k] = *nnrti_detection_at(y, i, k);
        if ((d->label < 0 || *nnrti_detection_at(y, i, 4) == (float)d->label) &&
            nnrti_overlap(box, kept, 0) > d->attr->nmsIoUThreshold)
            return false;
    }
    return true;
}

/* Puts a box between the results so far, which have falling scores, behind equal ones. false: they are maxDetections and
   none is worse. */
static bool nnrti_detection_insert(const nnrti_detector *d, nnrti_detections *y, const float box[4], float score)
{
    int32_t at = y->count;
    while (at > 0 && *nnrti_detection_at(y, at - 1, 5) < score)
        at--;
    if (at == d->attr->maxDetections)
        return false;
    y->count += y->count < d->attr->maxDetections ? 1 : 0;
    for (int32_t i = y->count - 1; i > at; i--)
        for (int32_t k = 0; k < 6; k++)
            *nnrti_detection_at(y, i, k) = *nnrti_detection_at(y, i - 1, k);
    nnrti_detection_put(y, at, box, d->label, score);
    return true;
}

/* Every class by itself: the kept boxes of a class stand among the results, for one that did not get there is worse than
   all of them, and so are those behind it. */
static void nnrti_detection_classes(nnrti_detector *d, nnrti_detections *y)
{
    for (d->label = 0; d->label < d->attr->numClasses; d->label++) {
        int32_t i = -1, kept = 0;
        bool more = true;
        while (more && kept < d->attr->detectionsPerClass && (i = nnrti_detection_next(d, i)) >= 0) {
            float box[4];
            nnrti_detection_box(d, i, box);
            if (!nnrti_detection_free(d, y, 1, box))
                continue;
            more = nnrti_detection_insert(d, y, box, nnrti_detection_score(d, i));
            kept++;
        }
    }
}

/* Each box by its best class: a kept one has as many slots as classes of it are told. */
static void nnrti_detection_best(nnrti_detector *d, nnrti_detections *y)
{
    const int32_t classes = (int32_t)d->attr->numClasses;
    const int32_t told = d->attr->maxClassesPerDetection < classes ? (int32_t)d->attr->maxClassesPerDetection : classes;
    int32_t i = -1;
    while (y->count < d->attr->maxDetections * told && (i = nnrti_detection_next(d, i)) >= 0) {
        const nnrti_line scores = nnrti_detection_scores(d, i);
        float box[4];
        nnrti_detection_box(d, i, box);
        if (!nnrti_detection_free(d, y, told, box))
            continue;
        for (int32_t k = 0, label = -1; k < told; k++) {
            label = nnrti_top_next(&scores, classes, label);
            nnrti_detection_put(y, y->count++, box, label, nnrti_load(scores.data, label * scores.step, scores.type));
        }
    }
}

/* bbox [1,n,4] (ty,tx,th,tw), anchors [n,4] (ya,xa,ha,wa), scores [1,n,c], the background first where c is numClasses + 1;
   all of one type. boxes [1,m,4], classes and scores [1,m], num [1] float32: num detections, then zeros. Box i has the
   centre ty/scale[0]*ha + ya, tx/scale[1]*wa + xa and the edges exp(th/scale[2])*ha, exp(tw/scale[3])*wa. Boxes are
   looked at by falling score, and kept unless they overlap a kept one by more than nmsIoUThreshold: by their best class
   until maxDetections are kept, of which maxClassesPerDetection classes are told; or with useRegularNms class by class
   until detectionsPerClass are kept of it, and the maxDetections best of all classes are told. Scratch: without
   useRegularNms 4 bytes a box, or scores are looked for again and again. */
NNRT_API NNRT_ReturnCode nnrt_detection_post_process(const NNRT_DetectionPostProcess *attr, const nnrt_view *bbox,
                                                     const nnrt_view *scores, const nnrt_view *anchors,
                                                     nnrt_view *boxes, nnrt_view *classes, nnrt_view *best,
                                                     nnrt_view *num, nnrt_call *call)
{
    const float none[4] = {0, 0, 0, 0};
    float *kept = (float *)nnrti_scratch(call, (size_t)bbox->dims[1] * sizeof(*kept));
    nnrti_detector d = {attr, bbox, scores, anchors, -1, NULL};
    nnrti_detections y = {boxes, classes, best, 0};
    if (boxes == NULL || classes == NULL || best == NULL)
        return nnrt_call_fail(call, NNRT_INVALID_OUTPUT,
                              "boxes, classes and scores must be there: none can be left out");
    for (int32_t i = 0; i < boxes->dims[1]; i++)
        nnrti_detection_put(&y, i, none, 0, 0);
    for (int32_t i = 0; i < bbox->dims[1] && kept != NULL && !attr->useRegularNms; i++)
        kept[i] = nnrti_detection_score(&d, i);
    d.best = kept;
    if (attr->useRegularNms)
        nnrti_detection_classes(&d, &y);
    else
        nnrti_detection_best(&d, &y);
    if (num != NULL)
        *(float *)num->data = (float)y.count;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op DFT */

/* The last axis of x is 1 (real) or 2 (complex), and not that with onesided. */
static NNRT_ReturnCode nnrti_dft_input(nnrt_resolve *c, bool onesided)
{
    const nnrt_operand *x = &c->in[0];
    const int32_t last = x->rank - 1;
    if (!nnrti_axis_open(x, last) && x->dims[last] != 1 && (x->dims[last] != 2 || onesided))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 1%s as last extent", x->name, x,
                          onesided ? ", as onesided needs," : " or 2");
    return NNRT_SUCCESS;
}

/* What a transform of N values keeps. */
static NNRT_ReturnCode nnrti_dft_scratch(nnrt_resolve *c, int64_t N)
{
    if (N < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "a transform of %l values, expected at least 1", N);
    if (N > INT32_MAX || !nnrt_mul_size((size_t)N, 2 * sizeof(float), &c->scratch))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "a transform of %l values: too many", N);
    return NNRT_SUCCESS;
}

/* Resolved: axis in 0..rank-2. */
static NNRT_ReturnCode nnrti_rule_dft(nnrt_resolve *c)
{
    NNRT_DFT *a = (NNRT_DFT *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    const bool given = !nnrti_absent(&c->in[1]);
    int32_t dims[NNRT_MAX_RANK] = {0}, axis;
    int64_t N;
    NNRT_ReturnCode code;
    if (x->rank < 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 2 axes or more", x->name, x);
    if ((code = nnrti_axis(c, "axis", a->axis, x->rank, &axis)) != NNRT_SUCCESS ||
        (code = nnrti_dft_input(c, a->onesided != 0)) != NNRT_SUCCESS)
        return code;
    if (axis == x->rank - 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis is %l, the one of real and imaginary parts", a->axis);
    if (a->inverse != 0 && a->onesided != 0)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "inverse and onesided together are not supported");
    a->axis = axis;
    N = x->dims[axis];
    if (given && (code = nnrti_known_int(c, 1, "dftLength", &N)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_dft_scratch(c, N)) != NNRT_SUCCESS)
        return code;
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = (int32_t)(a->onesided != 0 ? N / 2 + 1 : N);
    dims[x->rank - 1] = 2;
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t i = 0; i < x->rank; i++)
        if (i == x->rank - 1 || (i == axis && given))
            nnrti_fixed(c, 0, i);
        else if (i != axis || a->onesided == 0 || !nnrti_axis_open(x, i))
            nnrti_from(c, 0, i, x, i);
    return NNRT_SUCCESS;
}

/* >>kernel DFT */

/* A transform of N values, the first `count` of which are there, of x times a window, NULL: none. */
typedef struct nnrti_dft {
    const nnrt_view *x, *window;
    int32_t N, count;
    bool inverse;
    float *table; /* cos(2*pi*n/N), then sin(2*pi*n/N), n < N */
} nnrti_dft;

/* The table, with angles in float64. */
static void nnrti_dft_table(const nnrti_dft *m)
{
    for (int32_t n = 0; n < m->N; n++) {
        const double a = 6.283185307179586 * (double)n / (double)m->N;
        m->table[n] = (float)nnrti_cos(a);
        m->table[m->N + n] = (float)nnrti_sin(a);
    }
}

/* Frequency k of the values from offset `at` on, `step` apart: real and imaginary part into y at `to`. The sums run over n,
   and each term adds the real part's share first. */
static void nnrti_dft_bin(const nnrti_dft *m, ptrdiff_t at, ptrdiff_t step, int32_t k, nnrt_view *y, ptrdiff_t to)
{
    const int32_t last = m->x->rank - 1;
    const NNRT_DataType type = m->x->dataType;
    float re = 0, im = 0;
    int64_t i = 0; /* k*n modulo N */
    for (int32_t n = 0; n < m->count; n++, at += step, i = i + k < m->N ? i + k : i + k - m->N) {
        const float w = m->window != NULL ? nnrti_load(m->window->data, n * m->window->strides[0], type) : 1;
        const float c = m->table[i], s = m->inverse ? m->table[m->N + i] : 0 - m->table[m->N + i];
        const float a = nnrti_load(m->x->data, at, type) * w;
        re += a * c;
        im += a * s;
        if (m->x->dims[last] == 2) {
            const float b = nnrti_load(m->x->data, at + m->x->strides[last], type) * w;
            re -= b * s;
            im += b * c;
        }
    }
    nnrti_store(y->data, to, m->inverse ? re / (float)m->N : re, type);
    nnrti_store(y->data, to + y->strides[y->rank - 1], m->inverse ? im / (float)m->N : im, type);
}

/* x [..,L,..,1 or 2], real numbers or complex ones, y [..,N or N/2+1,..,2], float32 or float16; N is dftLength, which is
   not looked at, or L, and x counts as 0 behind L. Along axis: y[k] = sum over n of x[n] * e^(-2*pi*i*k*n/N); inverse:
   e^(2*pi*i*k*n/N), and divided by N; onesided: k <= N/2 only. Computed in float32, sines and cosines rounded from
   float64. Scratch: 8*N bytes; NNRT_INSUFFICIENT_BUFFER without it. */
NNRT_API NNRT_ReturnCode nnrt_dft(const NNRT_DFT *attr, const nnrt_view *x, const nnrt_view *dftLength, nnrt_view *y,
                                  nnrt_call *call)
{
    const int32_t axis = (int32_t)attr->axis, L = x->dims[axis];
    int32_t place[NNRT_MAX_RANK] = {0};
    nnrt_view starts = *y;
    nnrti_dft m;
    size_t bytes;
    m.x = x;
    m.window = NULL;
    m.N = dftLength != NULL ? (int32_t)nnrti_index(dftLength, 0) : L;
    m.count = L < m.N ? L : m.N;
    m.inverse = attr->inverse != 0;
    bytes = (size_t)m.N * 2 * sizeof(float);
    if ((m.table = (float *)nnrti_scratch(call, bytes)) == NULL)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch", bytes);
    nnrti_dft_table(&m);
    starts.dims[axis] = starts.dims[y->rank - 1] = 1;
    do
        for (int32_t k = 0; k < y->dims[axis]; k++)
            nnrti_dft_bin(&m, nnrti_offset(x, place), x->strides[axis], k, y,
                          nnrti_offset(y, place) + k * y->strides[axis]);
    while (nnrti_next_place(&starts, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op DIV_FUSION */

static NNRT_ReturnCode nnrti_quant_quotient(nnrt_resolve *c, NNRT_ActivationType activation)
{
    double s[3];
    int32_t *factors;
    const NNRT_ReturnCode code = nnrti_quant_two(c, activation, s, &factors);
    if (code == NNRT_SUCCESS && s[1] > 0 && s[2] > 0)
        nnrti_factor((double)((float)s[0] / ((float)s[1] * (float)s[2])), factors + 4);
    return code;
}

/* Derived: when quantised, zero point and bounds of the result, the factors of x, of y and of what they make. */
static NNRT_ReturnCode nnrti_rule_div_fusion(nnrt_resolve *c)
{
    const NNRT_ActivationType type = ((const NNRT_DivFusion *)c->resolved)->activationType;
    const NNRT_ReturnCode code = nnrti_binary_rule(c, type);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_quotient(c, type) : code;
}

/* >>kernel DIV_FUSION */

/* z = act(x / y), x and y broadcast to the dims of z; x / 0 is infinite or NaN. z may lie where an input of its shape
   lies. */
NNRT_API NNRT_ReturnCode nnrt_div_fusion_f32(const NNRT_DivFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                             nnrt_view *z)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do {
        NNRTI_ROW_F32(w, x, y, z, a / b)
        nnrti_activate_row_f32(&w, z, attr->activationType);
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* Integers toward zero; least / -1 wraps to least, and true / true is true. */
static void nnrti_div_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                          NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_DIVIDE(0u - (uint64_t)a, a / b)
        NNRTI_ROW_CASE(BOOL, uint8_t, uint8_t, uint8_t, (uint8_t), a / b)
        NNRTI_ROWS_FLOAT(a / b, activation)
    default: break;
    }
}

/* The same for every other type. An integer divisor 0 is NNRT_INVALID_PARAMETER; z is not written then. */
NNRT_API NNRT_ReturnCode nnrt_div_fusion(const NNRT_DivFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                         nnrt_view *z, nnrt_call *call)
{
    return nnrti_divide(x, y, z, attr->activationType, nnrti_div_row, call);
}

/* a / b as a * (1 / b), a and b scaled to 31 bits. By 0: the least or the greatest result, and 0 / 0 is 0. */
static int64_t nnrti_quant_div(int32_t a, int32_t b, const int32_t *quant)
{
    int32_t factor[2], k, h;
    if (b == 0)
        return a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0;
    a = b < 0 ? -a : a;
    b = b < 0 ? -b : b;
    k = nnrti_bit_count((uint64_t)b);
    h = 31 - nnrti_bit_count((uint64_t)(a < 0 ? -1 - a : a));
    factor[0] = quant[NNRTI_QUANT_FACTORS + 4];
    factor[1] = quant[NNRTI_QUANT_FACTORS + 5] - (k - 1) - h;
    b = nnrti_fixed_reciprocal((int32_t)(b * ((int64_t)1 << (32 - k)) - ((int64_t)1 << 31)));
    return nnrti_rescale(nnrti_high_product((int32_t)(a * ((int64_t)1 << h)), b), factor);
}

/* Quantised int8 or uint8 with a list of nnrti_quant_quotient. */
NNRT_API NNRT_ReturnCode nnrt_div_fusion_q8(const NNRT_DivFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                            const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_div);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op EINSUM */

#define NNRTI_EINSUM_LABELS 32 /* letters and axes of an ellipsis that an equation may have */

/* What axes of one label are: its letter, or for axes of an ellipsis 256 and more, counted from the last one. */
typedef struct nnrti_einsum {
    int32_t count, key[NNRTI_EINSUM_LABELS], extent[NNRTI_EINSUM_LABELS];
    uint32_t uses[NNRTI_EINSUM_LABELS];                        /* how often it stands in the inputs */
    bool open[NNRTI_EINSUM_LABELS], same[NNRTI_EINSUM_LABELS]; /* an extent is open; all are that of the first axis */
    const nnrt_operand *of[NNRTI_EINSUM_LABELS];               /* whose axis that is */
    int32_t axis[NNRTI_EINSUM_LABELS];
} nnrti_einsum;

/* Reads the term at p up to a comma, an arrow or the end; an ellipsis stands for `hidden` axes. keys (room for most) gets
   one number for each axis; *count = how many, letters = those without the ellipsis. NULL: it is no term. */
static const char *nnrti_einsum_term(const char *p, int32_t hidden, int32_t most, int32_t *keys, int32_t *count,
                                     int32_t *letters, bool *dots)
{
    *count = *letters = 0;
    *dots = false;
    for (; *p != '\0' && *p != ',' && !(p[0] == '-' && p[1] == '>'); p++) {
        int32_t axes = 1;
        if (*p == ' ')
            continue;
        if (p[0] == '.' && p[1] == '.' && p[2] == '.' && !*dots) {
            axes = hidden;
            *dots = true;
            p += 2;
        } else if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')) {
            *letters += 1;
        } else {
            return NULL;
        }
        for (int32_t i = 0; i < axes; i++, *count += 1)
            if (*count < most)
                keys[*count] = *p == '.' ? 255 + axes - i : *p;
    }
    return p;
}

/* The number of a label; count: there is none. */
static int32_t nnrti_einsum_find(const nnrti_einsum *e, int32_t key)
{
    int32_t i = 0;
    while (i < e->count && e->key[i] != key)
        i++;
    return i;
}

/* Axis `axis` of input x has label `key`. */
static NNRT_ReturnCode nnrti_einsum_axis(nnrt_resolve *c, nnrti_einsum *e, const nnrt_operand *x, int32_t axis,
                                         int32_t key)
{
    const int32_t i = nnrti_einsum_find(e, key);
    if (i == NNRTI_EINSUM_LABELS)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "equation has more than %d labels", NNRTI_EINSUM_LABELS);
    if (i == e->count) {
        e->count++;
        e->key[i] = key;
        e->extent[i] = x->dims[axis];
        e->uses[i] = 0;
        e->open[i] = false;
        e->same[i] = true;
        e->of[i] = x;
        e->axis[i] = axis;
    } else if ((e->of[i] == x && nnrti_unlike(x, e->axis[i], x, axis)) ||
               !nnrti_broadcast_extent(e->extent[i], e->open[i], x->dims[axis], nnrti_axis_open(x, axis),
                                       &e->extent[i])) {
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "axis %d of input '%s' %o has another extent than axes of its label, %d", axis, x->name, x,
                          e->extent[i]);
    }
    e->uses[i]++;
    e->open[i] = e->open[i] || nnrti_axis_open(x, axis);
    e->same[i] = e->same[i] && nnrti_equal(e->of[i], e->axis[i], x, axis);
    return NNRT_SUCCESS;
}

/* The labels of all inputs; *hidden = the most axes that an ellipsis stands for, *p what is behind the terms. */
static NNRT_ReturnCode nnrti_einsum_inputs(nnrt_resolve *c, nnrti_einsum *e, const char **p, int32_t *hidden)
{
    int32_t keys[NNRT_MAX_RANK], count, letters;
    bool dots;
    *hidden = 0;
    for (uint32_t i = 0; i < c->nIn; i++) {
        const nnrt_operand *x = &c->in[i];
        const char *term = *p, *end = nnrti_einsum_term(term, 0, 0, keys, &count, &letters, &dots);
        if (end == NULL || (i + 1 < c->nIn ? *end != ',' : *end == ','))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "equation '%s' has no %u terms of letters",
                              ((const NNRT_Einsum *)c->resolved)->equation, c->nIn);
        if (letters > x->rank || (!dots && letters < x->rank))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, but its term has %d letters", i, x->name, x,
                              letters);
        (void)nnrti_einsum_term(term, x->rank - letters, NNRT_MAX_RANK, keys, &count, &letters, &dots);
        *hidden = x->rank - letters > *hidden ? x->rank - letters : *hidden;
        for (int32_t k = 0; k < count; k++) {
            const NNRT_ReturnCode code = nnrti_einsum_axis(c, e, x, k, keys[k]);
            if (code != NNRT_SUCCESS)
                return code;
        }
        *p = *end == ',' ? end + 1 : end;
    }
    return NNRT_SUCCESS;
}

/* out = the labels of the result, *rank of them: as the equation says, else the ellipsis, then what stands once in all terms, in the
   order of the letters. */
static NNRT_ReturnCode nnrti_einsum_result(nnrt_resolve *c, const nnrti_einsum *e, const char *p, int32_t hidden,
                                           int32_t *out, int32_t *rank)
{
    const char *equation = ((const NNRT_Einsum *)c->resolved)->equation;
    int32_t letters;
    bool dots;
    NNRT_ReturnCode code;
    if (*p == '-') {
        p = nnrti_einsum_term(p + 2, hidden, NNRT_MAX_RANK, out, rank, &letters, &dots);
        if (p == NULL || *p != '\0')
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "equation '%s' has no term of letters behind its arrow",
                              equation);
        if (hidden > 0 && !dots)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "equation '%s' has an ellipsis that the result lacks",
                              equation);
    } else {
        *rank = 0;
        for (int32_t k = hidden; k > 0; k--, *rank += 1)
            out[*rank] = 255 + k;
        for (int32_t key = 'A'; key <= 'z'; key++) {
            const int32_t i = nnrti_einsum_find(e, key);
            if (i < e->count && e->uses[i] == 1) {
                if (*rank < NNRT_MAX_RANK)
                    out[*rank] = key;
                *rank += 1;
            }
        }
    }
    if ((code = nnrti_room(c, *rank)) != NNRT_SUCCESS)
        return code;
    for (int32_t k = 0; k < *rank; k++) {
        bool twice = false;
        for (int32_t i = 0; i < k; i++)
            twice = twice || out[i] == out[k];
        if (twice || nnrti_einsum_find(e, out[k]) == e->count)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "equation '%s': label %d of the result stands in no input, or stands there twice",
                              equation, k);
    }
    return NNRT_SUCCESS;
}

/* Derived: the number of labels, then the label of each axis of each input; those of the result come first, in its order. */
static NNRT_ReturnCode nnrti_rule_einsum(nnrt_resolve *c)
{
    const char *p = ((const NNRT_Einsum *)c->resolved)->equation;
    int32_t hidden, rank, out[NNRT_MAX_RANK] = {0}, dims[NNRT_MAX_RANK] = {0}, number[NNRTI_EINSUM_LABELS], all = 1, n;
    int32_t keys[NNRT_MAX_RANK], letters, count;
    bool dots;
    void *data;
    nnrti_einsum e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    if (*p == '\0')
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "equation is empty");
    if ((code = nnrti_einsum_inputs(c, &e, &p, &hidden)) != NNRT_SUCCESS ||
        (code = nnrti_einsum_result(c, &e, p, hidden, out, &rank)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < e.count; i++)
        number[i] = -1;
    for (int32_t k = 0; k < rank; k++) {
        const int32_t i = nnrti_einsum_find(&e, out[k]);
        number[i] = k;
        dims[k] = e.extent[i];
    }
    nnrti_result(c, 0, rank, dims);
    for (int32_t k = 0; k < rank; k++) {
        const int32_t i = nnrti_einsum_find(&e, out[k]);
        if (!e.open[i])
            nnrti_fixed(c, 0, k);
        else if (e.same[i])
            nnrti_from(c, 0, k, e.of[i], e.axis[i]);
    }
    n = rank;
    for (int32_t i = 0; i < e.count; i++)
        number[i] = number[i] < 0 ? n++ : number[i];
    for (uint32_t i = 0; i < c->nIn; i++)
        all += c->in[i].rank;
    if ((code = nnrti_derive(c, NNRT_DATA_TYPE_INT32, 1, &all, &data)) != NNRT_SUCCESS)
        return code;
    ((int32_t *)data)[0] = n;
    p = ((const NNRT_Einsum *)c->resolved)->equation;
    all = 1;
    for (uint32_t i = 0; i < c->nIn; i++) {
        (void)nnrti_einsum_term(p, 0, 0, keys, &count, &letters, &dots);
        p = nnrti_einsum_term(p, c->in[i].rank - letters, NNRT_MAX_RANK, keys, &count, &letters, &dots) + 1;
        for (int32_t k = 0; k < count; k++)
            ((int32_t *)data)[all++] = number[nnrti_einsum_find(&e, keys[k])];
    }
    return NNRT_SUCCESS;
}

/* >>kernel EINSUM */

/* A number of any type: floats as float, float64 as double, integers modulo 2^64. */
typedef struct nnrti_term {
    float f;
    double d;
    uint64_t u;
} nnrti_term;

/* The product of the elements of all inputs, in their order, where label i is at place[i]. */
static nnrti_term nnrti_einsum_product(const nnrt_view *x, uint32_t n, const int32_t *labels, const int32_t *place)
{
    nnrti_term t;
    memset(&t, 0, sizeof(t));
    for (uint32_t i = 0; i < n; i++) {
        ptrdiff_t at = 0;
        for (int32_t k = 0; k < x[i].rank; k++)
            at += x[i].dims[k] == 1 ? 0 : place[labels[k]] * x[i].strides[k];
        labels += x[i].rank;
        if (x->dataType == NNRT_DATA_TYPE_FLOAT64)
            t.d = i == 0 ? ((const double *)x[i].data)[at] : t.d * ((const double *)x[i].data)[at];
        else if (x->dataType >= NNRT_DATA_TYPE_FLOAT16)
            t.f = i == 0 ? nnrti_load(x[i].data, at, x->dataType) : t.f * nnrti_load(x[i].data, at, x->dataType);
        else
            t.u =
                i == 0 ? nnrti_load_int(x[i].data, at, x->dataType) : t.u * nnrti_load_int(x[i].data, at, x->dataType);
    }
    return t;
}

/* n inputs x of one type of numbers; labels int32: how many labels there are, then that of each axis of each input. Label
   i < rank of y is axis i of y. An axis of extent 1 is repeated where others of its label are longer. y = the sum of the
   products of the inputs, left to right, over the labels that y lacks, in the order of their numbers, the last one
   fastest. float16 computes in float32 and is rounded once; integers modulo 2^n. */
NNRT_API NNRT_ReturnCode nnrt_einsum(const NNRT_Einsum *attr, const nnrt_view *x, uint32_t n, const nnrt_view *labels,
                                     nnrt_view *y)
{
    const int32_t *label = (const int32_t *)labels->data + 1, count = label[-1];
    int32_t extent[NNRTI_EINSUM_LABELS], place[NNRTI_EINSUM_LABELS] = {0};
    bool empty = false;
    (void)attr;
    for (int32_t i = 0; i < count; i++)
        extent[i] = 1;
    for (uint32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < x[i].rank; k++, label++)
            extent[*label] = x[i].dims[k] != 1 ? x[i].dims[k] : extent[*label];
    for (int32_t i = y->rank; i < count; i++)
        empty = empty || extent[i] == 0;
    label = (const int32_t *)labels->data + 1;
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    do {
        const ptrdiff_t at = nnrti_offset(y, place);
        nnrti_term sum;
        int32_t i = count - 1;
        memset(&sum, 0, sizeof(sum));
        if (!empty)
            sum = nnrti_einsum_product(x, n, label, place);
        while (!empty && i >= y->rank) {
            nnrti_term t;
            if (++place[i] == extent[i]) {
                place[i--] = 0;
                continue;
            }
            i = count - 1;
            t = nnrti_einsum_product(x, n, label, place);
            sum.f += t.f;
            sum.d += t.d;
            sum.u += t.u;
        }
        if (y->dataType == NNRT_DATA_TYPE_FLOAT64)
            ((double *)y->data)[at] = sum.d;
        else if (y->dataType >= NNRT_DATA_TYPE_FLOAT16)
            nnrti_store(y->data, at, sum.f, y->dataType);
        else
            nnrti_store_int(y->data, at, sum.u, y->dataType);
    } while (nnrti_next_place(y, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ELTWISE */

/* Derived: when quantised, zero point and bounds of the result, the factors of x, of y and of what they make. */
static NNRT_ReturnCode nnrti_rule_eltwise(nnrt_resolve *c)
{
    NNRT_ReturnCode code = nnrti_binary_rule(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
    if (code == NNRT_SUCCESS && ((const NNRT_Eltwise *)c->resolved)->mode == NNRT_ELTWISE_MODE_UNKNOWN)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "mode is UNKNOWN (3), expected PROD (0), SUM (1) or MAXIMUM (2)");
    if (code != NNRT_SUCCESS || !nnrti_is_quant(&c->in[0]))
        return code;
    switch (((const NNRT_Eltwise *)c->resolved)->mode) {
    case NNRT_ELTWISE_MODE_PROD: return nnrti_quant_product(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
    case NNRT_ELTWISE_MODE_SUM: return nnrti_quant_sum(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
    default: return nnrti_quant_extreme(c);
    }
}

/* >>kernel ELTWISE */

/* z = x * y, x + y or x > y ? x : y by mode, x and y broadcast to the dims of z; numbers of any type. z may lie where
   an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_eltwise(const NNRT_Eltwise *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)
{
    nnrti_row row = attr->mode == NNRT_ELTWISE_MODE_PROD  ? nnrti_mul_row
                    : attr->mode == NNRT_ELTWISE_MODE_SUM ? nnrti_add_row
                                                          : nnrti_max_row;
    nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, row);
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8 with a list of nnrti_quant_product, nnrti_quant_sum or nnrti_quant_extreme. */
NNRT_API NNRT_ReturnCode nnrt_eltwise_q8(const NNRT_Eltwise *attr, const nnrt_view *x, const nnrt_view *y,
                                         const nnrt_view *list, nnrt_view *z)
{
    switch (attr->mode) {
    case NNRT_ELTWISE_MODE_PROD: return nnrti_binary_q8(x, y, list, z, nnrti_quant_mul);
    case NNRT_ELTWISE_MODE_SUM: return nnrti_binary_q8(x, y, list, z, nnrti_quant_add);
    default: return nnrti_binary_q8(x, y, list, z, nnrti_quant_max);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op EQUAL */
/* >>kernel EQUAL */

/* z = x == y as bool, x and y of any one type, broadcast to the dims of z; a NaN equals nothing, -0 equals 0. */
NNRTI_PREDICATE(Equal, equal, a == b)

/* Quantised int8 or uint8: the real values, with the list of nnrti_quant_compare. */
NNRTI_PREDICATE_Q8(Equal, equal_q8, a == b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ERF */
/* >>kernel ERF */

/* y = 2/sqrt(pi) * integral of exp(-t*t) from 0 to x, element by element. y may lie where x lies. */
NNRTI_UNARY(Erf, erf, nnrti_erff, nnrti_erf)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op EXPAND_DIMS */

/* y is seen with the shape of x. */
static NNRT_ReturnCode nnrti_rule_expand_dims(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    int32_t axis, dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    int64_t given = 0;
    NNRT_ReturnCode code;
    if ((code = nnrti_room(c, x->rank + 1)) != NNRT_SUCCESS ||
        (code = nnrti_known_int(c, 1, "axis", &given)) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "axis", given, x->rank + 1, &axis)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i <= x->rank; i++)
        dims[i] = i == axis ? 1 : x->dims[i < axis ? i : i - 1];
    nnrti_result(c, 0, x->rank + 1, dims);
    nnrti_result_inserted(c, axis);
    nnrti_see_as(&c->out[0], x->rank, x->dims);
    nnrti_axes_shifted(c, axis, 1, to);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op EXPFUSION */

static float nnrti_expfusion_real(const void *attr, float v)
{
    const NNRT_ExpFusion *a = (const NNRT_ExpFusion *)attr;
    v = a->scale * v + a->shift;
    return a->base > 0 ? nnrti_powf(a->base, v) : nnrti_expf(v);
}

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_expfusion(nnrt_resolve *c)
{
    const NNRT_ExpFusion *a = (const NNRT_ExpFusion *)c->resolved;
    nnrti_coder k;
    NNRT_ReturnCode code;
    if (!(a->base > 0) && a->base != -1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "base is %f, expected a number > 0, or -1 for e", (double)a->base);
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    k.real = nnrti_expfusion_real;
    return nnrti_quant_table(c, &k, nnrti_code_real);
}

/* >>kernel EXPFUSION */

/* y = base^(scale*x + shift), element by element; base -1 stands for e. y may lie where x lies. */
NNRTI_INLINE NNRT_ReturnCode nnrti_expfusion(const NNRT_ExpFusion *attr, const nnrt_view *x, nnrt_view *y,
                                             NNRT_DataType type)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const float v = nnrti_load(x->data, w.at[1] + i * w.row[1], type);
            nnrti_store(y->data, w.at[0] + i * w.row[0], nnrti_expfusion_real(attr, v), type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_expfusion_f32(const NNRT_ExpFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_expfusion(attr, x, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_expfusion_f16(const NNRT_ExpFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_expfusion(attr, x, y, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op EYE_LIKE */

/* Resolved: dtype is that of y. */
static NNRT_ReturnCode nnrti_rule_eye_like(nnrt_resolve *c)
{
    NNRT_EyeLike *a = (NNRT_EyeLike *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    nnrt_operand *y = &c->out[0];
    if (a->dtype == NNRT_DATA_TYPE_UNKNOWN)
        a->dtype = nnrti_absent(y) ? x->dataType : y->dataType;
    if (!nnrti_absent(y) && a->dtype != y->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output '%s' is declared %t, but dtype is %t", y->name, y->dataType,
                          (NNRT_DataType)a->dtype);
    if (nnrti_is_quant(y))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "output '%s' is quantised, which this operator does not know",
                          y->name);
    if (x->rank != 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected two axes", x->name, x);
    y->dataType = (NNRT_DataType)a->dtype;
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel EYE_LIKE */

/* y [R,C] of any element type = 1 where j = i + k, else 0. x is not read. */
NNRT_API NNRT_ReturnCode nnrt_eye_like(const NNRT_EyeLike *attr, const nnrt_view *x, nnrt_view *y)
{
    (void)x;
    nnrti_clear(y);
    for (int32_t i = 0; i < y->dims[0]; i++) {
        const int64_t j = i + attr->k;
        if (j >= 0 && j < y->dims[1])
            nnrti_number(
                y->dataType, 1,
                nnrti_at(y->data, i * y->strides[0] + (ptrdiff_t)j * y->strides[1], nnrt_type_size(y->dataType)));
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FILL */

static NNRT_ReturnCode nnrti_rule_fill(nnrt_resolve *c)
{
    NNRT_ReturnCode code;
    if ((code = nnrti_one_element(c, 0, "value")) != NNRT_SUCCESS ||
        (code = nnrti_result_listed(c, 1)) != NNRT_SUCCESS || (code = nnrti_quant_single(c, 0)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, NULL);
}

/* >>kernel FILL */

/* Every element of y = the one element of value, any element type. This is the kernel of BROADCAST_TO, too, where value has
   more of them: extents of 1, or missing, are repeated. */
NNRT_API NNRT_ReturnCode nnrt_fill(const NNRT_Fill *attr, const nnrt_view *value, nnrt_view *y)
{
    (void)attr;
    nnrti_copy(value, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FILL_LIKE */

static NNRT_ReturnCode nnrti_rule_fill_like(nnrt_resolve *c)
{
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if ((code = nnrti_one_element(c, 1, "value")) != NNRT_SUCCESS || (code = nnrti_quant_single(c, 1)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 1, 0, NULL);
}

/* >>kernel FILL_LIKE */

/* Every element of y, which has the shape of x, = the one element of value, any element type. */
NNRT_API NNRT_ReturnCode nnrt_fill_like(const NNRT_FillLike *attr, const nnrt_view *x, const nnrt_view *value,
                                        nnrt_view *y)
{
    (void)attr, (void)x;
    nnrti_copy(value, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FLATTEN */

/* Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_flatten(nnrt_resolve *c)
{
    NNRT_Flatten *a = (NNRT_Flatten *)c->resolved;
    const int32_t rank = c->in[0].rank;
    int32_t ends[2] = {0, rank};
    if (a->axis < -(int64_t)rank || a->axis > rank)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis is %l, expected %d to %d", a->axis, -rank, rank);
    a->axis += a->axis < 0 ? rank : 0;
    ends[0] = (int32_t)a->axis;
    return nnrti_result_folded(c, 2, ends);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FLATTEN_RANGE */

/* Resolved: startAxis and endAxis >= 0. */
static NNRT_ReturnCode nnrti_rule_flatten_range(nnrt_resolve *c)
{
    NNRT_FlattenRange *a = (NNRT_FlattenRange *)c->resolved;
    const int32_t rank = c->in[0].rank;
    int32_t start, end, ends[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if ((code = nnrti_axis(c, "startAxis", a->startAxis, rank, &start)) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "endAxis", a->endAxis, rank, &end)) != NNRT_SUCCESS)
        return code;
    if (end < start)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "endAxis is %l, expected an axis from startAxis %l on", a->endAxis,
                          a->startAxis);
    a->startAxis = start;
    a->endAxis = end;
    for (int32_t k = 0; k < rank - (end - start); k++)
        ends[k] = k < start ? k + 1 : k + 1 + end - start;
    return nnrti_result_folded(c, rank - (end - start), ends);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FLOOR */

static float nnrti_floor_real(const void *attr, float v)
{
    (void)attr;
    return nnrti_floorf(v);
}

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_floor(nnrt_resolve *c)
{
    nnrti_coder k;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    k.real = nnrti_floor_real;
    return nnrti_quant_table(c, &k, nnrti_code_real);
}

/* >>kernel FLOOR */

/* y = the largest whole number <= x, element by element; -0, NaN and the infinities stay. y may lie where x lies. */
NNRTI_UNARY(Floor, floor, nnrti_floorf, nnrti_floor)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FLOOR_DIV */

/* Derived: when quantised, the numbers of nnrti_rule_compare; zero point, bounds and factor of the result. */
static NNRT_ReturnCode nnrti_rule_floor_div(nnrt_resolve *c)
{
    int32_t *factor;
    NNRT_ReturnCode code = nnrti_rule_binary(c);
    if (code != NNRT_SUCCESS || !nnrti_is_quant(&c->in[0]))
        return code;
    if ((code = nnrti_quant_compare(c, 30)) == NNRT_SUCCESS &&
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 1, &factor)) == NNRT_SUCCESS)
        nnrti_factor(nnrti_quant_ratio(1, nnrti_quant_scale(&c->out[0], 0)), factor);
    return code;
}

/* >>kernel FLOOR_DIV */

/* a / b is the quotient toward zero: one too large where there is a rest and the signs differ. */
static void nnrti_floor_div_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_DIVIDE(0u - (uint64_t)a, a / b - (a % b != 0 && (a > 0) != (b > 0)))
        NNRTI_ROW_CASE(FLOAT32, float, float, float, (float), nnrti_floorf(a / b))
        NNRTI_ROW_CASE(FLOAT64, double, double, double, (double), nnrti_floor(a / b))
        NNRTI_ROW_HALF(nnrti_floorf(a / b), activation)
    default: break;
    }
}

/* z = floor(x / y), numbers of any type, broadcast to the dims of z. Floats: of the rounded quotient; x / 0 is infinite
   or NaN. Integers: least / -1 wraps to least; a divisor 0 is NNRT_INVALID_PARAMETER, and z is not written then. z may
   lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_floor_div(const NNRT_FloorDiv *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                        nnrt_call *call)
{
    (void)attr;
    return nnrti_divide(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_floor_div_row, call);
}

/* Quantised int8 or uint8: of the real values, exactly, with the numbers m that make them comparable and the list of the rule.
   By 0: the least or the greatest result, and 0 / 0 is 0. */
NNRT_API NNRT_ReturnCode nnrt_floor_div_q8(const NNRT_FloorDiv *attr, const nnrt_view *x, const nnrt_view *y,
                                           const nnrt_view *numbers, const nnrt_view *list, nnrt_view *z)
{
    const int64_t *m = (const int64_t *)numbers->data;
    const int32_t *quant = (const int32_t *)list->data;
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const int64_t v = nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - m[0], a = v * m[2];
            const int64_t b = (nnrti_load_8(y->data, w.at[2] + i * w.row[2], y->dataType) - m[1]) * m[3];
            int64_t n = v > 0 ? INT32_MAX : v < 0 ? INT32_MIN : 0;
            if (b != 0)
                n = nnrti_rescale(a / b - (a % b != 0 && (a > 0) != (b > 0)), quant + NNRTI_QUANT_FACTORS);
            nnrti_store_8(z->data, w.at[0] + i * w.row[0], nnrti_quant_result(n, quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FULL_CONNECTION */

/* Whether the rows are those that x has, [rows,K]. */
static bool nnrti_full_connection_rows(const nnrt_resolve *c)
{
    return c->in[0].rank == 2 && nnrti_equal(&c->in[0], 1, &c->in[1], 1);
}

/* *rank, dims = the result for x folded into rows of K: [rows, O]; with useAxis the axes of x before axis, then O. There are
   most rows where K is open and turns out to be 1. */
static NNRT_ReturnCode nnrti_full_connection_fold(nnrt_resolve *c, const NNRT_FullConnection *a, int32_t *rank,
                                                  int32_t *dims)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[1];
    const size_t total = nnrti_count(x), K = (size_t)w->dims[1];
    const size_t rows = nnrti_axis_open(w, 1) && !nnrti_full_connection_rows(c) ? total : total / K;
    *rank = 0;
    if (rows > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would have %z rows: too large", rows);
    if (!a->useAxis) {
        if (total % K != 0 && !nnrti_open_from(x, 0))
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "input '%s' %o has %z elements, expected a multiple of %z, the columns of weight '%s'",
                              x->name, x, total, K, w->name);
        dims[(*rank)++] = (int32_t)rows;
    } else {
        const int64_t axis = a->axis < 0 ? a->axis + x->rank : a->axis;
        size_t columns = 1;
        if (axis < 1 || axis >= x->rank)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis is %l, expected 1 to %d", a->axis, x->rank - 1);
        for (int32_t i = 0; i < x->rank; i++)
            if (i < axis)
                dims[(*rank)++] = x->dims[i];
            else
                columns *= (size_t)x->dims[i];
        if (columns != K && !nnrti_open_from(x, (int32_t)axis))
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "input '%s' %o has %z elements from axis %l on, expected %z, the columns of weight '%s'",
                              x->name, x, columns, axis, K, w->name);
    }
    dims[(*rank)++] = w->dims[0];
    return NNRT_SUCCESS;
}

/* Resolved: the kernel sees x as [rows,K] and y as [rows,O], whatever axis said.
   Derived: when quantised, zero point, bounds and factors of the result. */
static NNRT_ReturnCode nnrti_rule_full_connection(nnrt_resolve *c)
{
    NNRT_FullConnection *a = (NNRT_FullConnection *)c->resolved;
    const nnrt_operand *w = &c->in[1], *b = &c->in[2];
    int32_t rank, dims[NNRT_MAX_RANK], seen[2];
    NNRT_ReturnCode code;
    if (w->rank != 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "weight '%s' is %o, expected 2 axes [outputs,inputs]", w->name, w);
    if (!nnrti_absent(b) && (b->rank != 1 || nnrti_unlike(b, 0, w, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected [%d]", b->name, b, w->dims[0]);
    if (a->hasBias == nnrti_absent(b))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "hasBias is %s, but input 2 (bias) is %s",
                          a->hasBias ? "true" : "false", a->hasBias ? "missing" : "present");
    if ((code = nnrti_full_connection_fold(c, a, &rank, dims)) != NNRT_SUCCESS ||
        (code = nnrti_fused(c, a->activationType)) != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, rank, dims);
    nnrti_from(c, 0, rank - 1, w, 0);
    for (int32_t i = 0; i < rank - 1 && (a->useAxis || nnrti_full_connection_rows(c)); i++)
        nnrti_from(c, 0, i, &c->in[0], i);
    seen[0] = (int32_t)(nnrti_count(&c->in[0]) / (size_t)w->dims[1]);
    seen[1] = w->dims[1];
    nnrti_see_as(&c->in[0], 2, seen);
    seen[1] = w->dims[0];
    nnrti_see_as(&c->out[0], 2, seen);
    a->useAxis = false;
    a->axis = 0;
    return nnrti_quant_products(c, 0, a->activationType, true);
}

/* >>kernel FULL_CONNECTION */

/* x [M,K], weight [O,K], bias [O] or NULL, y [M,O]; none may overlap y.
   y[m,o] = act(bias[o] + sum over k of x[m,k] * weight[o,k]). The sum starts with the bias and runs over k. Up to 16
   neighbouring outputs are summed side by side; that changes no sum. */
NNRTI_INLINE NNRT_ReturnCode nnrti_full_connection(const NNRT_FullConnection *attr, const nnrt_view *x,
                                                   const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y,
                                                   NNRT_DataType type)
{
    const size_t width = nnrt_type_size(type);
    for (int32_t m = 0; m < y->dims[0]; m++)
        for (int32_t o = 0; o < y->dims[1]; o += NNRTI_DOTS) {
            const int32_t count = y->dims[1] - o < NNRTI_DOTS ? y->dims[1] - o : NNRTI_DOTS;
            float sum[NNRTI_DOTS];
            for (int32_t t = 0; t < count; t++)
                sum[t] = bias != NULL ? nnrti_load(bias->data, (o + t) * bias->strides[0], type) : 0.0f;
            nnrti_dots(sum, count, nnrti_at(x->data, m * x->strides[0], width), x->strides[1],
                       nnrti_at(weight->data, o * weight->strides[0], width), weight->strides[1], weight->strides[0],
                       x->dims[1], type);
            for (int32_t t = 0; t < count; t++)
                nnrti_store(y->data, m * y->strides[0] + (o + t) * y->strides[1],
                            nnrti_activate(sum[t], attr->activationType), type);
        }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_full_connection_f32(const NNRT_FullConnection *attr, const nnrt_view *x,
                                                  const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_full_connection(attr, x, weight, bias, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_full_connection_f16(const NNRT_FullConnection *attr, const nnrt_view *x,
                                                  const nnrt_view *weight, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_full_connection(attr, x, weight, bias, y, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the sum of (x - zX) * (weight - zW[o]) and the int32 bias is exact, its result
   y = clamp(sum * factor[o] + zY). */
NNRT_API NNRT_ReturnCode nnrt_full_connection_q8(const NNRT_FullConnection *attr, const nnrt_view *x,
                                                 const nnrt_view *weight, const nnrt_view *bias, const nnrt_view *quant,
                                                 nnrt_view *y)
{
    const nnrt_view columns = nnrti_transposed(weight, true);
    (void)attr;
    nnrti_matrix_8(x, &columns, bias, quant, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op FUSED_BATCH_NORM */

static NNRT_ReturnCode nnrti_rule_fused_batch_norm(nnrt_resolve *c)
{
    static const char *const names[] = {"x", "scale", "offset", "mean", "variance"};
    const NNRT_FusedBatchNorm *a = (const NNRT_FusedBatchNorm *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    if (x->rank < 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected at least 1 axis", x->name, x);
    for (uint32_t i = 1; i < 5; i++)
        if (c->in[i].rank != 1 || c->in[i].dims[0] != nnrti_channels(c))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "%s '%s' is %o, expected [%d], the channels of '%s' %o", names[i],
                              c->in[i].name, &c->in[i], nnrti_channels(c), x->name, x);
    if (!(a->epsilon > 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "epsilon is %f, expected more than 0", (double)a->epsilon);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel FUSED_BATCH_NORM */

/* x and y [..,C]; scale, offset, mean, variance [C] with one stride, each float16 or float32 where x is float16.
   y[..,c] = scale[c] * (x[..,c] - mean[c]) / sqrt(variance[c] + epsilon) + offset[c], evaluated from left to right.
   y may lie where x lies. */
NNRTI_INLINE NNRT_ReturnCode nnrti_fused_batch_norm(const NNRT_FusedBatchNorm *attr, const nnrt_view *x,
                                                    const nnrt_view *scale, const nnrt_view *offset,
                                                    const nnrt_view *mean, const nnrt_view *variance, nnrt_view *y,
                                                    NNRT_DataType type)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, scale))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t c = w.at[2] + i * w.row[2];
            const float deviation = nnrti_sqrtf(nnrti_load_beside(variance, c, type) + attr->epsilon);
            float v = nnrti_load(x->data, w.at[1] + i * w.row[1], type) - nnrti_load_beside(mean, c, type);
            v = nnrti_load_beside(scale, c, type) * v / deviation + nnrti_load_beside(offset, c, type);
            nnrti_store(y->data, w.at[0] + i * w.row[0], v, type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_fused_batch_norm_f32(const NNRT_FusedBatchNorm *attr, const nnrt_view *x,
                                                   const nnrt_view *scale, const nnrt_view *offset,
                                                   const nnrt_view *mean, const nnrt_view *variance, nnrt_view *y)
{
    return nnrti_fused_batch_norm(attr, x, scale, offset, mean, variance, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_fused_batch_norm_f16(const NNRT_FusedBatchNorm *attr, const nnrt_view *x,
                                                   const nnrt_view *scale, const nnrt_view *offset,
                                                   const nnrt_view *mean, const nnrt_view *variance, nnrt_view *y)
{
    return nnrti_fused_batch_norm(attr, x, scale, offset, mean, variance, y, NNRT_DATA_TYPE_FLOAT16);
}

/* The same in float64. */
NNRT_API NNRT_ReturnCode nnrt_fused_batch_norm_f64(const NNRT_FusedBatchNorm *attr, const nnrt_view *x,
                                                   const nnrt_view *scale, const nnrt_view *offset,
                                                   const nnrt_view *mean, const nnrt_view *variance, nnrt_view *y)
{
    const double *s = (const double *)scale->data, *o = (const double *)offset->data;
    const double *m = (const double *)mean->data, *v = (const double *)variance->data;
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, scale))
        return NNRT_SUCCESS;
    do {
        const double *in = (const double *)x->data + w.at[1];
        double *out = (double *)y->data + w.at[0];
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t c = w.at[2] + i * w.row[2];
            const double deviation = nnrti_sqrt(v[c] + (double)attr->epsilon);
            out[i * w.row[0]] = s[c] * (in[i * w.row[1]] - m[c]) / deviation + o[c];
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GATHER */

/* Derived: the axis, one int32 >= 0. */
static NNRT_ReturnCode nnrti_rule_gather(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *indices = &c->in[1];
    int32_t axis, dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK], n = 0;
    int64_t given = 0;
    NNRT_ReturnCode code;
    if ((code = nnrti_room(c, (int64_t)x->rank - 1 + indices->rank)) != NNRT_SUCCESS ||
        (!nnrti_absent(&c->in[2]) && (code = nnrti_known_int(c, 2, "axis", &given)) != NNRT_SUCCESS) ||
        (code = nnrti_axis(c, "axis", given, x->rank, &axis)) != NNRT_SUCCESS ||
        (code = nnrti_derive_ints(c, 1, &axis)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < axis; i++)
        dims[n++] = x->dims[i];
    for (int32_t i = 0; i < indices->rank; i++)
        dims[n++] = indices->dims[i];
    for (int32_t i = axis + 1; i < x->rank; i++)
        dims[n++] = x->dims[i];
    nnrti_result(c, 0, n, dims);
    for (int32_t i = 0; i < n; i++)
        if (i >= axis && i < axis + indices->rank)
            nnrti_from(c, 0, i, indices, i - axis);
        else
            nnrti_from(c, 0, i, x, i < axis ? i : i - indices->rank + 1);
    nnrti_axes_shifted(c, axis, indices->rank - 1, to);
    to[axis] = -1;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel GATHER */

/* x [A..,L,B..], indices [I..] int32 or int64, axis one int32: the place of L; y [A..,I..,B..]. Any element type; y
   must not overlap x. y[a..,i..,b..] = x[a.., indices[i..], b..]; indices from -L to -1 count from the end.
   NNRT_INVALID_PARAMETER when an index lies outside [-L,L): call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_gather(const NNRT_Gather *attr, const nnrt_view *x, const nnrt_view *indices,
                                     const nnrt_view *axis, nnrt_view *y, nnrt_call *call)
{
    const int32_t a = ((const int32_t *)axis->data)[0], L = x->dims[a];
    const size_t width = nnrt_type_size(x->dataType);
    const nnrt_view places = nnrti_only_axes(y, a, indices->rank);
    nnrt_view from = nnrti_without_axes(x, a, 1), to = nnrti_without_axes(y, a, indices->rank);
    const bool empty = nnrti_empty(&to);
    int64_t n = 0;
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, indices, &places, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++, n++) {
            int64_t index = nnrti_index(indices, w.at[0] + i * w.row[0]);
            if (index < -(int64_t)L || index >= L)
                return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                                      "index %l, element %l of indices, lies outside axis %d of x, expected %d to %d",
                                      index, n, a, -L, L - 1);
            if (empty)
                continue;
            index += index < 0 ? L : 0;
            from.data = nnrti_at(x->data, (ptrdiff_t)index * x->strides[a], width);
            to.data = nnrti_at(y->data, w.at[1] + i * w.row[1], width);
            nnrti_copy(&from, &to);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GATHER_ELEMENTS */

/* What GATHER_ELEMENTS and SCATTER_ELEMENTS share: indices have the axes of x, and no more places than x along all of them but
   `axis`, which may be any. */
static NNRT_ReturnCode nnrti_elements_of(nnrt_resolve *c, int64_t *given)
{
    const nnrt_operand *x = &c->in[0], *indices = &c->in[1];
    int32_t axis;
    const NNRT_ReturnCode code = nnrti_axis(c, "axis", *given, x->rank, &axis);
    bool fits = indices->rank == x->rank;
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; fits && i < x->rank; i++)
        fits = i == axis || indices->dims[i] <= x->dims[i] || nnrti_axis_open(indices, i) || nnrti_axis_open(x, i);
    if (!fits)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "indices '%s' is %o, expected as many axes as '%s' %o has, and no larger ones but axis %d",
                          indices->name, indices, x->name, x, axis);
    *given = axis;
    return NNRT_SUCCESS;
}

/* Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_gather_elements(nnrt_resolve *c)
{
    NNRT_GatherElements *a = (NNRT_GatherElements *)c->resolved;
    const nnrt_operand *x = &c->in[0], *indices = &c->in[1];
    int32_t to[NNRT_MAX_RANK];
    const NNRT_ReturnCode code = nnrti_elements_of(c, &a->axis);
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, indices->rank, indices->dims);
    for (int32_t i = 0; i < x->rank; i++) {
        nnrti_from(c, 0, i, indices, i);
        to[i] = i != a->axis && nnrti_equal(x, i, indices, i) ? i : -1;
    }
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel GATHER_ELEMENTS */

/* x [..,L,..] of any element type, indices int32 or int64, y of the shape of indices; y must not overlap x.
   y[..,i,..] = x[..,indices[..,i,..],..] along axis; indices from -L to -1 count from the end.
   NNRT_INVALID_PARAMETER when an index lies outside [-L,L): call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_gather_elements(const NNRT_GatherElements *attr, const nnrt_view *x,
                                              const nnrt_view *indices, nnrt_view *y, nnrt_call *call)
{
    const size_t width = nnrt_type_size(x->dataType);
    nnrt_view lines;
    nnrti_walk w;
    int64_t n = 0;
    nnrti_lines_beside(x, indices, (int32_t)attr->axis, &lines);
    if (!nnrti_walk_first(&w, y, &lines, indices))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++, n++) {
            ptrdiff_t at;
            const NNRT_ReturnCode code =
                nnrti_place_along(call, indices, w.at[2] + i * w.row[2], n, x, (int32_t)attr->axis, &at);
            if (code != NNRT_SUCCESS)
                return code;
            memcpy(nnrti_at(y->data, w.at[0] + i * w.row[0], width),
                   nnrti_at(x->data, w.at[1] + i * w.row[1] + at, width), width);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GATHER_ND */

/* The last axis of indices names places of the first axes of x, so it must be known how many. */
static NNRT_ReturnCode nnrti_rule_gather_nd(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *indices = &c->in[1];
    const int32_t rows = indices->rank - 1, k = rows >= 0 ? indices->dims[rows] : 0;
    int32_t dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if (rows >= 0 && nnrti_axis_open(indices, rows))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "the last extent of indices '%s' %o is open: give it", indices->name,
                          indices);
    if (k < 1 || k > x->rank)
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "indices '%s' is %o, expected a last extent of 1 to %d, the axes of '%s' %o", indices->name,
                          indices, x->rank, x->name, x);
    if ((code = nnrti_room(c, (int64_t)rows + x->rank - k)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < rows + x->rank - k; i++)
        dims[i] = i < rows ? indices->dims[i] : x->dims[i - rows + k];
    nnrti_result(c, 0, rows + x->rank - k, dims);
    for (int32_t i = 0; i < rows + x->rank - k; i++)
        nnrti_from(c, 0, i, i < rows ? indices : x, i < rows ? i : i - rows + k);
    for (int32_t i = 0; i < x->rank; i++)
        to[i] = i < k ? -1 : i + rows - k;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel GATHER_ND */

/* x [L0,..,Lk-1,B..], indices [I..,k] int32 or int64, y [I..,B..]. Any element type; y must not overlap x.
   y[i..,b..] = x[j0,..,jk-1,b..] with jn = indices[i..,n]; indices from -Ln to -1 count from the end.
   NNRT_INVALID_PARAMETER when an index lies outside [-Ln,Ln): call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_gather_nd(const NNRT_GatherNd *attr, const nnrt_view *x, const nnrt_view *indices,
                                        nnrt_view *y, nnrt_call *call)
{
    const size_t width = nnrt_type_size(x->dataType);
    const int32_t last = indices->rank - 1, k = indices->dims[last];
    const nnrt_view rows = nnrti_without_axes(indices, last, 1), places = nnrti_only_axes(y, 0, last);
    nnrt_view from = nnrti_without_axes(x, 0, k), to = nnrti_without_axes(y, 0, last);
    const bool empty = nnrti_empty(&to);
    int64_t n = 0;
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, &rows, &places, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            ptrdiff_t at = 0;
            for (int32_t axis = 0; axis < k; axis++, n++) {
                const int32_t L = x->dims[axis];
                int64_t index = nnrti_index(indices, w.at[0] + i * w.row[0] + axis * indices->strides[last]);
                if (index < -(int64_t)L || index >= L)
                    return nnrt_call_fail(
                        call, NNRT_INVALID_PARAMETER,
                        "index %l, element %l of indices, lies outside axis %d of x, expected %d to %d", index, n, axis,
                        -L, L - 1);
                index += index < 0 ? L : 0;
                at += (ptrdiff_t)index * x->strides[axis];
            }
            if (empty)
                continue;
            from.data = nnrti_at(x->data, at, width);
            to.data = nnrti_at(y->data, w.at[1] + i * w.row[1], width);
            nnrti_copy(&from, &to);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GREATER */
/* >>kernel GREATER */

/* z = x > y as bool, x and y of any one type, broadcast to the dims of z; false for a NaN, true > false. */
NNRTI_PREDICATE(Greater, greater, a > b)

/* Quantised int8 or uint8: the real values, with the list of nnrti_quant_compare. */
NNRTI_PREDICATE_Q8(Greater, greater_q8, a > b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GREATER_EQUAL */
/* >>kernel GREATER_EQUAL */

/* z = x >= y as bool, x and y of any one type, broadcast to the dims of z; false for a NaN, true >= false. */
NNRTI_PREDICATE(GreaterEqual, greater_equal, a >= b)

/* Quantised int8 or uint8: the real values, with the list of nnrti_quant_compare. */
NNRTI_PREDICATE_Q8(GreaterEqual, greater_equal_q8, a >= b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GRID_SAMPLE */

static NNRT_ReturnCode nnrti_rule_grid_sample(nnrt_resolve *c)
{
    const NNRT_GridSample *a = (const NNRT_GridSample *)c->resolved;
    const nnrt_operand *x = &c->in[0], *grid = &c->in[1];
    const nnrt_operand *images = nnrti_axis_open(x, 0) ? grid : x; /* the fixed one of two */
    NNRT_ReturnCode code;
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if (grid->rank != 4 || nnrti_unlike(x, 0, grid, 0) || (grid->dims[3] != 2 && !nnrti_axis_open(grid, 3)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "grid '%s' is %o, expected [%d,height,width,2]", grid->name, grid,
                          x->dims[0]);
    if (a->method != NNRT_RESIZE_METHOD_LINEAR && a->method != NNRT_RESIZE_METHOD_NEAREST)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "method is %d, expected LINEAR or NEAREST", a->method);
    if (a->paddingMode < 0 || a->paddingMode > 2)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "paddingMode is %l, expected 0 to 2", a->paddingMode);
    if ((code = nnrti_result_image(c, 0, images->dims[0], grid->dims[1], grid->dims[2],
                                   x->dims[nnrti_image_axis(x, 2)])) != NNRT_SUCCESS)
        return code;
    nnrti_from(c, 0, 0, images, 0);
    nnrti_from(c, 0, nnrti_image_axis(x, 0), grid, 1);
    nnrti_from(c, 0, nnrti_image_axis(x, 1), grid, 2);
    nnrti_from(c, 0, nnrti_image_axis(x, 2), x, nnrti_image_axis(x, 2));
    return NNRT_SUCCESS;
}

/* >>kernel GRID_SAMPLE */

/* Where g, -1..1 from one end of an axis of extent L to the other, lies in cells: as paddingMode has it, and for NEAREST
   rounded, halves to the even cell. NaN is the first cell, or with zeros outside no cell. */
static float nnrti_grid_place(const NNRT_GridSample *attr, float g, int32_t L)
{
    const float last = (float)(L - 1), least = attr->alignCorners ? 0.0f : -0.5f; /* where reflection begins */
    const float span = attr->alignCorners ? last : (float)L; /* and how far it is from end to end */
    float at = attr->alignCorners ? (g + 1) / 2 * last : ((g + 1) * (float)L - 1) / 2;
    if (attr->paddingMode == 2 && span > 0) {
        at = nnrti_absf(at - least);
        at -= 2 * span * nnrti_floorf(at / (2 * span));
        at = least + (at > span ? 2 * span - at : at);
    }
    if (attr->paddingMode != 0)
        at = at > 0 ? at < last ? at : last : 0;
    return attr->method == NNRT_RESIZE_METHOD_NEAREST ? nnrti_roundevenf(at) : at;
}

/* x [N,H,W,C], grid [N,Ho,Wo,2], float32 or x's type, y [N,Ho,Wo,C]; none may overlap y. y[n,p,q,c] = x[n,..,..,c] at
   column grid[n,p,q,0], row grid[n,p,q,1]: the nearest cell, or by bilinear interpolation. */
NNRTI_INLINE NNRT_ReturnCode nnrti_grid_sample(const NNRT_GridSample *attr, const nnrt_view *x, const nnrt_view *grid,
                                               nnrt_view *y, NNRT_DataType type)
{
    for (int32_t n = 0; n < y->dims[0]; n++)
        for (int32_t p = 0; p < y->dims[1]; p++)
            for (int32_t q = 0; q < y->dims[2]; q++) {
                const ptrdiff_t at = nnrti_place(grid, n, p, q, 0);
                const float w = nnrti_grid_place(attr, nnrti_load_beside(grid, at, type), x->dims[2]);
                const float h =
                    nnrti_grid_place(attr, nnrti_load_beside(grid, at + grid->strides[3], type), x->dims[1]);
                const nnrti_corners s = nnrti_corners_of(x, h, w);
                for (int32_t c = 0; c < y->dims[3]; c++)
                    nnrti_store(y->data, nnrti_place(y, n, p, q, c),
                                nnrti_at_corners(x, nnrti_place(x, n, 0, 0, c), &s, type), type);
            }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_grid_sample_f32(const NNRT_GridSample *attr, const nnrt_view *x, const nnrt_view *grid,
                                              nnrt_view *y)
{
    return nnrti_grid_sample(attr, x, grid, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_grid_sample_f16(const NNRT_GridSample *attr, const nnrt_view *x, const nnrt_view *grid,
                                              nnrt_view *y)
{
    return nnrti_grid_sample(attr, x, grid, y, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GROUP_NORM_FUSION */

/* scale and bias are there, one number for each place of axis `channels` of x. */
static NNRT_ReturnCode nnrti_group_norm_params(nnrt_resolve *c, int32_t channels)
{
    static const char *const names[] = {"x", "scale", "bias"};
    const nnrt_operand *x = &c->in[0];
    for (uint32_t i = 1; i <= 2; i++)
        if (nnrti_absent(&c->in[i]))
            return nnrti_fail(c, NNRT_NULL_PTR, "input %u (%s) is missing, and affine is true", i, names[i]);
    for (uint32_t i = 1; i <= 2; i++)
        if (c->in[i].rank != 1 || nnrti_unlike(&c->in[i], 0, x, channels))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected [%d], the channels of '%s' %o",
                              i, names[i], c->in[i].name, &c->in[i], x->dims[channels], x->name, x);
    return NNRT_SUCCESS;
}

/* x has `least` axes or more, and `groups` groups of channels. Resolved: the kernel sees x and y as [N,K,C], K all
   cells. */
static NNRT_ReturnCode nnrti_group_norm_rule(nnrt_resolve *c, int32_t least, int64_t groups, float epsilon, bool affine)
{
    const nnrt_operand *x = &c->in[0];
    const bool first = x->format == NNRT_FORMAT_NCHW;
    const int32_t channels = first ? 1 : x->rank - 1;
    int32_t dims[3];
    size_t cells;
    NNRT_ReturnCode code;
    if (x->rank < least)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected at least %d axes", x->name, x, least);
    if (affine && (code = nnrti_group_norm_params(c, channels)) != NNRT_SUCCESS)
        return code;
    if (groups < 1 || (nnrti_remainder(x->dims[channels], groups) != 0 && !nnrti_axis_open(x, channels)))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "numGroups is %l, expected a divisor of %d, the channels of '%s' %o", groups,
                          x->dims[channels], x->name, x);
    if (!(epsilon >= 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "epsilon is %f, expected at least 0", (double)epsilon);
    if (!nnrt_dims_count(x->dims + (first ? 2 : 1), x->rank - 2, &cells) ||
        (cells > INT32_MAX && !nnrti_open_from(x, 0)))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input '%s' %o: its size does not fit", x->name, x);
    dims[0] = x->dims[0];
    dims[first ? 1 : 2] = x->dims[channels];
    dims[first ? 2 : 1] = cells > INT32_MAX ? INT32_MAX : (int32_t)cells; /* the most: a run has its own */
    nnrti_result_like(c, 0);
    nnrti_see_as(&c->in[0], 3, dims);
    nnrti_see_as(&c->out[0], 3, dims);
    return NNRT_SUCCESS;
}

/* Resolved: numGroups >= 1. */
static NNRT_ReturnCode nnrti_rule_group_norm_fusion(nnrt_resolve *c)
{
    NNRT_GroupNormFusion *a = (NNRT_GroupNormFusion *)c->resolved;
    a->numGroups = a->numGroups == 0 ? 1 : a->numGroups;
    return nnrti_group_norm_rule(c, 2, a->numGroups, a->epsilon, a->affine);
}

/* >>kernel GROUP_NORM_FUSION */

/* x, y [N,K,C], y may be x; scale, bias [C], each float16 or float32 where x is float16, or both NULL. Every `size`
   channels from g*size on are a set with all their cells: y[n,k,c] = (x[n,k,c] - mean) / sqrt(variance + epsilon) of its
   set, variance over all elements, not one less; then times scale[c] plus bias[c]. Sums run over k, then c, and carry
   their rounding errors along. mean is rounded, so `rest` is what is left of it: sets far away from 0 lose no digits, and
   the variance is the mean of (x - mean)^2 less rest^2. */
NNRTI_INLINE NNRT_ReturnCode nnrti_group_norm(const nnrt_view *x, const nnrt_view *scale, const nnrt_view *bias,
                                              nnrt_view *y, int32_t size, float epsilon, NNRT_DataType type)
{
    const int32_t K = x->dims[1], groups = nnrti_empty(x) ? 0 : x->dims[2] / size;
    const float count = (float)((size_t)K * (size_t)size);
    for (int32_t n = 0; n < x->dims[0]; n++)
        for (int32_t g = 0; g < groups; g++) {
            const ptrdiff_t from = n * x->strides[0] + (ptrdiff_t)g * size * x->strides[2];
            const ptrdiff_t to = n * y->strides[0] + (ptrdiff_t)g * size * y->strides[2];
            nnrti_sum sum = {0, 0}, left = {0, 0}, squares = {0, 0};
            float mean, rest, variance, deviation;
            for (int32_t k = 0; k < K; k++)
                for (int32_t i = 0; i < size; i++)
                    nnrti_sum_add(&sum, nnrti_load(x->data, from + k * x->strides[1] + i * x->strides[2], type));
            mean = nnrti_sum_of(&sum) / count;
            for (int32_t k = 0; k < K; k++)
                for (int32_t i = 0; i < size; i++) {
                    const float d = nnrti_load(x->data, from + k * x->strides[1] + i * x->strides[2], type) - mean;
                    nnrti_sum_add(&left, d);
                    nnrti_sum_add(&squares, d * d);
                }
            rest = nnrti_sum_of(&left) / count;
            variance = nnrti_sum_of(&squares) / count - rest * rest;
            deviation = nnrti_sqrtf((variance < 0 ? 0.0f : variance) + epsilon);
            for (int32_t k = 0; k < K; k++)
                for (int32_t i = 0; i < size; i++) {
                    const int32_t c = g * size + i;
                    float v = nnrti_load(x->data, from + k * x->strides[1] + i * x->strides[2], type);
                    v = ((v - mean) - rest) / deviation;
                    if (scale != NULL)
                        v = v * nnrti_load_beside(scale, c * scale->strides[0], type) +
                            nnrti_load_beside(bias, c * bias->strides[0], type);
                    nnrti_store(y->data, to + k * y->strides[1] + i * y->strides[2], v, type);
                }
        }
    return NNRT_SUCCESS;
}

/* numGroups groups of C / numGroups channels; scale and bias count with affine only. */
NNRTI_INLINE NNRT_ReturnCode nnrti_group_norm_fusion(const NNRT_GroupNormFusion *attr, const nnrt_view *x,
                                                     const nnrt_view *scale, const nnrt_view *bias, nnrt_view *y,
                                                     NNRT_DataType type)
{
    const int32_t size = x->dims[2] / (int32_t)attr->numGroups;
    return nnrti_group_norm(x, attr->affine ? scale : NULL, attr->affine ? bias : NULL, y, size, attr->epsilon, type);
}

NNRT_API NNRT_ReturnCode nnrt_group_norm_fusion_f32(const NNRT_GroupNormFusion *attr, const nnrt_view *x,
                                                    const nnrt_view *scale, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_group_norm_fusion(attr, x, scale, bias, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_group_norm_fusion_f16(const NNRT_GroupNormFusion *attr, const nnrt_view *x,
                                                    const nnrt_view *scale, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_group_norm_fusion(attr, x, scale, bias, y, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op GRU */

/* The attributes that GRU and RNN share. */
typedef struct nnrti_recurrent {
    NNRT_Int64List *activations;
    int64_t *hiddenSize;
    int64_t layout;
    NNRT_RecurrentDirection direction;
    float clip;
    int32_t gates,
        functions; /* blocks of hiddenSize rows in w and r; activations of a direction, the first is the gates' */
} nnrti_recurrent;

/* Input i is absent, or has these extents; that at place `at` is the batch of x, which may be open. */
static NNRT_ReturnCode nnrti_recurrent_shape(nnrt_resolve *c, uint32_t i, const char *what, int32_t rank,
                                             const int32_t *dims, int32_t at, int32_t batch)
{
    const nnrt_operand *o = &c->in[i];
    nnrt_operand want = nnrt_operand_make(o->dataType, rank, dims, NULL);
    if (nnrti_absent(o))
        return NNRT_SUCCESS;
    if (at >= 0 && nnrti_axis_open(&c->in[0], batch) && o->rank == rank)
        want.dims[at] = o->dims[at];
    if (!nnrti_like(o, &want))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected %o", i, what, o->name, o, &want);
    return NNRT_SUCCESS;
}

/* activations becomes a function for each use: nothing said is SIGMOID for the gates and TANH for the state. */
static NNRT_ReturnCode nnrti_recurrent_activations(nnrt_resolve *c, const nnrti_recurrent *a, int32_t directions)
{
    const uint32_t count = (uint32_t)(directions * a->functions);
    int64_t *list;
    if (a->activations->count == 0) {
        if ((list = nnrti_list(c, a->activations, count)) == NULL)
            return NNRT_OUT_OF_MEMORY;
        for (uint32_t i = 0; i < count; i++)
            list[i] = a->functions > 1 && i % 2 == 0 ? NNRT_ACTIVATION_TYPE_SIGMOID : NNRT_ACTIVATION_TYPE_TANH;
    }
    if (a->activations->count != count)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "activations has %u entries, expected %u", a->activations->count,
                          count);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t type = a->activations->data[i];
        if (type != NNRT_ACTIVATION_TYPE_RELU && type != NNRT_ACTIVATION_TYPE_SIGMOID &&
            type != NNRT_ACTIVATION_TYPE_SOFTSIGN && type != NNRT_ACTIVATION_TYPE_SOFTPLUS &&
            type != NNRT_ACTIVATION_TYPE_TANH)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "activations[%u] is %l, expected RELU, SIGMOID, SOFTSIGN, SOFTPLUS or TANH", i, type);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_recurrent_attributes(nnrt_resolve *c, const nnrti_recurrent *a)
{
    const nnrt_operand *x = &c->in[0], *r = &c->in[2];
    if (x->rank != 3 || r->rank != 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 0 (x) '%s' is %o and input 2 (r) '%s' %o, expected 3 axes",
                          x->name, x, r->name, r);
    if (a->layout != 0 && a->layout != 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "layout is %l, expected 0 or 1", a->layout);
    if (!(a->clip >= 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "clip is %f, expected at least 0", (double)a->clip);
    if (*a->hiddenSize < 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "hiddenSize is %l, expected at least 0", *a->hiddenSize);
    if (*a->hiddenSize == 0)
        *a->hiddenSize = r->dims[2];
    if (*a->hiddenSize > INT32_MAX / (2 * a->gates))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "hiddenSize is %l: too large", *a->hiddenSize);
    return NNRT_SUCCESS;
}

/* Resolved: hiddenSize and all activations are said. */
static NNRT_ReturnCode nnrti_recurrent_rule(nnrt_resolve *c, const nnrti_recurrent *a)
{
    const nnrt_operand *x = &c->in[0], *w = &c->in[1], *r = &c->in[2];
    const int32_t D = a->direction == NNRT_RECURRENT_DIRECTION_BIDIRECTIONAL ? 2 : 1;
    const int32_t time = a->layout != 0 ? 1 : 0, batch = 1 - time, first = time != 0 ? 0 : 2;
    const bool said = *a->hiddenSize != 0;
    int32_t rows[3], input[3], bias[2], state[3], y[4], H;
    NNRT_ReturnCode code = nnrti_recurrent_attributes(c, a);
    if (code != NNRT_SUCCESS || (code = nnrti_recurrent_activations(c, a, D)) != NNRT_SUCCESS)
        return code;
    H = (int32_t)*a->hiddenSize;
    input[0] = rows[0] = bias[0] = D;
    input[1] = rows[1] = a->gates * H;
    input[2] = nnrti_axis_open(x, 2) && w->rank == 3 ? w->dims[2] : x->dims[2];
    rows[2] = H;
    bias[1] = 2 * a->gates * H;
    state[time] = D;
    state[batch] = x->dims[batch];
    state[2] = H;
    y[time] = x->dims[time];
    y[time + 1] = D;
    y[first] = x->dims[batch];
    y[3] = H;
    nnrti_result(c, 0, 4, y);
    nnrti_result(c, 1, 3, state);
    nnrti_from(c, 0, time, x, time);
    nnrti_fixed(c, 0, time + 1);
    nnrti_from(c, 0, first, x, batch);
    nnrti_fixed(c, 1, time);
    nnrti_from(c, 1, batch, x, batch);
    for (uint32_t i = 0; i < 2; i++)
        if (said)
            nnrti_fixed(c, i, 3 - (int32_t)i);
        else
            nnrti_from(c, i, 3 - (int32_t)i, r, 2);
    if (!nnrt_mul_size((size_t)H, (size_t)(a->gates + 2), &c->scratch) ||
        !nnrt_add_size(c->scratch, (size_t)x->dims[2], &c->scratch) ||
        !nnrt_mul_size(c->scratch, sizeof(float), &c->scratch))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "a step of %d features: too large", H);
    if ((code = nnrti_recurrent_shape(c, 1, "w", 3, input, -1, batch)) != NNRT_SUCCESS ||
        (code = nnrti_recurrent_shape(c, 2, "r", 3, rows, -1, batch)) != NNRT_SUCCESS ||
        (code = nnrti_recurrent_shape(c, 3, "b", 2, bias, -1, batch)) != NNRT_SUCCESS ||
        (code = nnrti_recurrent_shape(c, 4, "sequenceLens", 1, &state[batch], 0, batch)) != NNRT_SUCCESS)
        return code;
    return nnrti_recurrent_shape(c, 5, "initialH", 3, state, batch, batch);
}

static NNRT_ReturnCode nnrti_rule_gru(nnrt_resolve *c)
{
    NNRT_GRU *a = (NNRT_GRU *)c->resolved;
    nnrti_recurrent r;
    r.activations = &a->activations;
    r.hiddenSize = &a->hiddenSize;
    r.layout = a->layout;
    r.direction = a->direction;
    r.clip = a->clip;
    r.gates = 3;
    r.functions = 2;
    return nnrti_recurrent_rule(c, &r);
}

/* >>kernel GRU */

/* What the steps of all sequences share, and the state of the current one. */
typedef struct nnrti_cell {
    const nnrt_view *w, *r, *b; /* b: NULL where there is none */
    const int64_t *activations; /* of all directions */
    float clip;
    bool linearBeforeReset;
    int32_t H, gates, functions, row;
    float *h, *sums, *aside, *in; /* H, gates*H, H and I numbers */
} nnrti_cell;

/* One step: h becomes the next state. */
typedef void (*nnrti_cell_step)(const nnrti_cell *m);

/* Number k of block `block` of b; 0 without b. */
static float nnrti_cell_bias(const nnrti_cell *m, int32_t block, int32_t k)
{
    const nnrt_view *b = m->b;
    return b == NULL ? 0.0f
                     : nnrti_load(b->data, m->row * b->strides[0] + (block * m->H + k) * b->strides[1], b->dataType);
}

/* sum[k] += the rows k of block `block` of w times a, for k < H. */
static void nnrti_cell_add(const nnrti_cell *m, const nnrt_view *w, int32_t block, const float *a, float *sum)
{
    const nnrt_view part = nnrti_part(w, 1, block * m->H, m->H);
    nnrti_rows_times(sum, a, &part, m->row);
}

/* Activation `which` of the direction, of v kept inside [-clip, clip]. */
static float nnrti_cell_activate(const nnrti_cell *m, int32_t which, float v)
{
    if (m->clip > 0)
        v = v > m->clip ? m->clip : v < -m->clip ? -m->clip : v;
    return nnrti_activate(v, (NNRT_ActivationType)m->activations[m->row * m->functions + which]);
}

static void nnrti_gru_step(const nnrti_cell *m)
{
    const int32_t H = m->H;
    float *z = m->sums, *r = z + H, *n = r + H;
    for (int32_t block = 0; block < 2; block++) {
        for (int32_t k = 0; k < H; k++)
            z[block * H + k] = nnrti_cell_bias(m, block, k) + nnrti_cell_bias(m, 3 + block, k);
        nnrti_cell_add(m, m->w, block, m->in, z + block * H);
        nnrti_cell_add(m, m->r, block, m->h, z + block * H);
        for (int32_t k = block * H; k < (block + 1) * H; k++)
            z[k] = nnrti_cell_activate(m, 0, z[k]);
    }
    for (int32_t k = 0; k < H; k++) {
        const float b = nnrti_cell_bias(m, 5, k);
        n[k] = m->linearBeforeReset ? nnrti_cell_bias(m, 2, k) : nnrti_cell_bias(m, 2, k) + b;
        m->aside[k] = m->linearBeforeReset ? b : r[k] * m->h[k];
    }
    nnrti_cell_add(m, m->w, 2, m->in, n);
    if (m->linearBeforeReset) {
        nnrti_cell_add(m, m->r, 2, m->h, m->aside);
        for (int32_t k = 0; k < H; k++)
            n[k] += r[k] * m->aside[k];
    } else {
        nnrti_cell_add(m, m->r, 2, m->aside, n);
    }
    for (int32_t k = 0; k < H; k++)
        m->h[k] = (1.0f - z[k]) * nnrti_cell_activate(m, 1, n[k]) + z[k] * m->h[k];
}

/* v with axis 0 behind the next `places` axes. */
static nnrt_view nnrti_cell_batch(const nnrt_view *v, int32_t places, bool moved)
{
    nnrt_view u = *v;
    for (int32_t i = 0; moved && i <= places; i++) {
        u.dims[i] = v->dims[i < places ? i + 1 : 0];
        u.strides[i] = v->strides[i < places ? i + 1 : 0];
    }
    return u;
}

/* All sequences in all directions: m has what they share. batchFirst: layout 1. */
static NNRT_ReturnCode nnrti_recurrent_run(nnrti_cell *m, NNRT_RecurrentDirection direction, bool batchFirst,
                                           const nnrt_view *x_, const nnrt_view *lens, const nnrt_view *initial_,
                                           nnrt_view *y_, nnrt_view *yH_, nnrti_cell_step step, nnrt_call *call)
{
    const nnrt_view x = nnrti_cell_batch(x_, 1, batchFirst), y = nnrti_cell_batch(y_, 2, batchFirst);
    const nnrt_view yH = nnrti_cell_batch(yH_, 1, batchFirst);
    const nnrt_view initial = nnrti_cell_batch(initial_ != NULL ? initial_ : yH_, 1, batchFirst);
    const int32_t T = x.dims[0], H = yH.dims[2];
    const size_t bytes = ((size_t)H * (size_t)(m->gates + 2) + (size_t)x.dims[2]) * sizeof(float);
    if ((m->h = (float *)nnrti_scratch(call, bytes)) == NULL)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch", bytes);
    m->H = H;
    m->aside = m->h + H;
    m->sums = m->aside + H;
    m->in = m->sums + m->gates * (ptrdiff_t)H;
    for (int32_t n = 0; n < x.dims[1]; n++) {
        const int64_t len = lens != NULL ? nnrti_index(lens, n * lens->strides[0]) : T;
        if (len < 0 || len > T)
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "sequenceLens[%d] is %l, expected 0 to %d", n, len, T);
        for (m->row = 0; m->row < yH.dims[0]; m->row++) {
            const bool back = direction == NNRT_RECURRENT_DIRECTION_REVERSE || m->row == 1;
            nnrt_view out = nnrti_part(&y, 1, m->row, 1);
            out = nnrti_without_axes(&out, 1, 1);
            memset(m->h, 0, (size_t)H * sizeof(float));
            if (initial_ != NULL)
                nnrti_row_read(m->h, &initial, m->row, n);
            for (int32_t k = 0; k < len; k++) {
                const int32_t t = back ? (int32_t)len - 1 - k : k;
                nnrti_row_read(m->in, &x, t, n);
                step(m);
                nnrti_row_write(&out, t, n, 0, H, m->h);
            }
            nnrti_row_write(&yH, m->row, n, 0, H, m->h);
            memset(m->h, 0, (size_t)H * sizeof(float));
            for (int32_t t = (int32_t)len; t < T; t++)
                nnrti_row_write(&out, t, n, 0, H, m->h);
        }
    }
    return NNRT_SUCCESS;
}

/* Sequences x [T,N,I] in D directions; direction REVERSE and the second of BIDIRECTIONAL run from the last step down.
   w [D,3*H,I], r [D,3*H,H], b [D,6*H] or NULL: zeros; sequenceLens [N] int32 or int64 or NULL: T each; initialH [D,N,H]
   or NULL: zeros; y [T,D,N,H], yH [D,N,H]. layout 1: x [N,T,I], initialH and yH [N,D,H], y [N,T,D,H]. All but
   sequenceLens of one type, float32 or float16. Per step, in the order of the blocks z, r, n of w, r and b, where the
   blocks 3 to 5 of b go with r:
   z = f(bz + bz' + wz*x + rz*h), r likewise; n = g(bn + bn' + wn*x + rn*(r . h)), with linearBeforeReset
   n = g(bn + wn*x + r . (bn' + rn*h)); h = (1 - z) . n + z . h, each sum in this order. f and g are the two activations
   of the direction; clip > 0: of what is kept inside [-clip, clip]. A sequence ends with its length: y is 0 behind it,
   and REVERSE begins at its last step. What lies between x and the results is float32.
   Scratch: 4*(I + 5*H) bytes; NNRT_INSUFFICIENT_BUFFER without it. NNRT_INVALID_PARAMETER when a length is not 0 to T. */
NNRT_API NNRT_ReturnCode nnrt_gru(const NNRT_GRU *attr, const nnrt_view *x, const nnrt_view *w, const nnrt_view *r,
                                  const nnrt_view *b, const nnrt_view *sequenceLens, const nnrt_view *initialH,
                                  nnrt_view *y, nnrt_view *yH, nnrt_call *call)
{
    nnrti_cell m;
    memset(&m, 0, sizeof(m));
    m.w = w;
    m.r = r;
    m.b = b;
    m.activations = attr->activations.data;
    m.clip = attr->clip;
    m.linearBeforeReset = attr->linearBeforeReset != 0;
    m.gates = 3;
    m.functions = 2;
    return nnrti_recurrent_run(&m, attr->direction, attr->layout != 0, x, sequenceLens, initialH, y, yH, nnrti_gru_step,
                               call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op HARDMAX */

/* Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_hardmax(nnrt_resolve *c)
{
    NNRT_Hardmax *a = (NNRT_Hardmax *)c->resolved;
    int32_t axis;
    const NNRT_ReturnCode code = nnrti_axis(c, "axis", a->axis, c->in[0].rank, &axis);
    if (code != NNRT_SUCCESS)
        return code;
    a->axis = axis;
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel HARDMAX */

static void nnrti_hardmax_line(const void *attr, const nnrti_line *x, const nnrti_line *y, int32_t L,
                               NNRT_DataType type)
{
    uint64_t most = 0;
    int32_t at = 0;
    (void)attr;
    for (int32_t i = 0; i < L; i++) {
        const uint64_t order = nnrti_order(x->data, i * x->step, type);
        at = order > most ? i : at;
        most = order > most ? order : most;
    }
    for (int32_t i = 0; i < L; i++)
        nnrti_number(type, i == at ? 1 : 0, nnrti_at(y->data, i * y->step, nnrt_type_size(type)));
}

/* x, y of one shape, floats; y may be x. y[..,i,..] = 1 where x[..,i,..] is the first of the largest along axis, else 0. NaN is
   smallest. */
NNRT_API NNRT_ReturnCode nnrt_hardmax(const NNRT_Hardmax *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lines(attr, x, y, (int32_t)attr->axis, x->dataType, nnrti_hardmax_line);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op HARD_SIGMOID */

static float nnrti_hard_sigmoidf(float v, float alpha, float beta)
{
    const float line = alpha * v + beta;
    return line < 0 ? 0.0f : line > 1 ? 1.0f : line;
}

static float nnrti_hard_sigmoid_real(const void *attr, float v)
{
    const NNRT_HardSigmoid *a = (const NNRT_HardSigmoid *)attr;
    return nnrti_hard_sigmoidf(v, a->alpha, a->beta);
}

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_hard_sigmoid(nnrt_resolve *c)
{
    nnrti_coder k;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    k.real = nnrti_hard_sigmoid_real;
    return nnrti_quant_table(c, &k, nnrti_code_real);
}

/* >>kernel HARD_SIGMOID */

static double nnrti_hard_sigmoid(double v, double alpha, double beta)
{
    const double line = alpha * v + beta;
    return line < 0 ? 0.0 : line > 1 ? 1.0 : line;
}

/* y = min(max(alpha*x + beta, 0), 1), element by element; NaN stays. y may lie where x lies. */
NNRTI_UNARY_WITH(HardSigmoid, hard_sigmoid, attr->alpha, attr->beta, nnrti_hard_sigmoidf, nnrti_hard_sigmoid)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op HARD_SWISH */

static float nnrti_hard_swishf(float v, float alpha, float beta)
{
    const float line = alpha * v + beta, gate = line > 1 ? 1.0f : line;
    return gate <= 0 ? 0.0f : v * gate;
}

static float nnrti_hard_swish_real(const void *attr, float v)
{
    const NNRT_HardSwish *a = (const NNRT_HardSwish *)attr;
    return nnrti_hard_swishf(v, a->alpha, a->beta);
}

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_hard_swish(nnrt_resolve *c)
{
    const NNRT_HardSwish *a = (const NNRT_HardSwish *)c->resolved;
    nnrti_coder k;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    if (a->alpha == 1.0f / 6 && a->beta == 0.5f)
        return nnrti_quant_hswish(c, &k);
    k.real = nnrti_hard_swish_real;
    return nnrti_quant_table(c, &k, nnrti_code_real);
}

/* >>kernel HARD_SWISH */

static double nnrti_hard_swish(double v, double alpha, double beta)
{
    const double line = alpha * v + beta, gate = line > 1 ? 1.0 : line;
    return gate <= 0 ? 0.0 : v * gate;
}

/* y = x * min(max(alpha*x + beta, 0), 1), element by element; 0 where the gate is 0, even for an infinity, and NaN
   stays. y may lie where x lies. */
NNRTI_UNARY_WITH(HardSwish, hard_swish, attr->alpha, attr->beta, nnrti_hard_swishf, nnrti_hard_swish)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op IF */

/* IF and LOOP: their results are those of subgraphs, which only the model has that the node is in. */
static NNRT_ReturnCode nnrti_rule_control(nnrt_resolve *c)
{
    return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "runs subgraphs: it is resolved with its model, not by itself");
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op INSTANCE_NORM */

/* Resolved: epsilon is explicit. */
static NNRT_ReturnCode nnrti_rule_instance_norm(nnrt_resolve *c)
{
    NNRT_InstanceNorm *a = (NNRT_InstanceNorm *)c->resolved;
    a->epsilon = a->epsilon == 0 ? 1e-5f : a->epsilon;
    return nnrti_group_norm_rule(c, 3, 1, a->epsilon, true);
}

/* >>kernel INSTANCE_NORM */

/* x, y [N,K,C], y may be x; scale, bias [C], each float16 or float32 where x is float16. y[n,k,c] = scale[c] *
   (x[n,k,c] - mean) / sqrt(variance + epsilon) + bias[c], mean and variance (over K elements, not K-1) of x[n,..,c]. */
NNRT_API NNRT_ReturnCode nnrt_instance_norm_f32(const NNRT_InstanceNorm *attr, const nnrt_view *x,
                                                const nnrt_view *scale, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_group_norm(x, scale, bias, y, 1, attr->epsilon, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_instance_norm_f16(const NNRT_InstanceNorm *attr, const nnrt_view *x,
                                                const nnrt_view *scale, const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_group_norm(x, scale, bias, y, 1, attr->epsilon, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op IS_INF */
/* >>kernel IS_INF */

/* y = x is infinite, of a sign that attr asks for, element by element: x of floats, y bool. */
NNRT_API NNRT_ReturnCode nnrt_is_inf(const NNRT_IsInf *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_map_class(
        x, y, (attr->detectNegative ? NNRTI_CLASS_MINUS_INF : 0u) | (attr->detectPositive ? NNRTI_CLASS_INF : 0u));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op IS_NAN */
/* >>kernel IS_NAN */

/* y = x is not a number, element by element: x of floats, y bool. */
NNRT_API NNRT_ReturnCode nnrt_is_nan(const NNRT_IsNaN *attr, const nnrt_view *x, nnrt_view *y)
{
    (void)attr;
    return nnrti_map_class(x, y, NNRTI_CLASS_NAN);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op L2_NORMALIZE_FUSION */

/* Derived of quantised data: int64[1], the least sum of squares of stored integers, and the list without a factor. */
static NNRT_ReturnCode nnrti_quant_l2_normalize(nnrt_resolve *c, const NNRT_L2NormalizeFusion *a)
{
    static const int32_t one = 1;
    const nnrt_operand *x = &c->in[0], *y = &c->out[0];
    const double most = 4611686018427387904.0; /* 2^62 */
    double s, least;
    void *data;
    int32_t *factors;
    NNRT_ReturnCode code;
    if ((code = nnrti_quant_operand(c, x, -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, y, -1)) != NNRT_SUCCESS ||
        (code = nnrti_derive(c, NNRT_DATA_TYPE_INT64, 1, &one, &data)) != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, a->activationType, 0, &factors)) != NNRT_SUCCESS)
        return code;
    if (nnrti_quant_scale(y, 0) != 1.0 / 128 || y->quant[0].zeroPoint != (y->dataType == NNRT_DATA_TYPE_INT8 ? 0 : 128))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                          "result '%s' %o has scale %f and zeroPoint %d, supported are 1/128 and %d", y->name, y,
                          nnrti_quant_scale(y, 0), y->quant[0].zeroPoint, y->dataType == NNRT_DATA_TYPE_INT8 ? 0 : 128);
    s = nnrti_quant_scale(x, 0);
    least = nnrti_quant_ratio((double)a->epsilon, s * s);
    least = nnrti_round(least < most ? least : most);
    *(int64_t *)data = least > -most ? (int64_t)least : 0;
    return NNRT_SUCCESS;
}

/* Resolved: axis lists axes >= 0 in ascending order.
   Derived: when quantised, int64[1], the least sum of squares of stored integers; zero point and bounds of the result. */
static NNRT_ReturnCode nnrti_rule_l2_normalize_fusion(nnrt_resolve *c)
{
    NNRT_L2NormalizeFusion *a = (NNRT_L2NormalizeFusion *)c->resolved;
    const int64_t last = -1;
    const NNRT_Int64List given = a->axis.count > 0 ? a->axis : nnrt_int64_list(&last, 1);
    int32_t axes[NNRT_MAX_RANK];
    uint32_t set = 0;
    NNRT_ReturnCode code = nnrti_axes(c, "axis", &given, c->in[0].rank, axes);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t k = 0; k < given.count; k++)
        set |= 1u << axes[k];
    nnrti_result_like(c, 0);
    if ((code = nnrti_set_axes(c, &a->axis, set)) != NNRT_SUCCESS)
        return code;
    code = nnrti_fused(c, a->activationType);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_l2_normalize(c, a) : code;
}

/* >>kernel L2_NORMALIZE_FUSION */

/* x, y of one shape; y may be x. y = act(x / sqrt(the larger of epsilon and the sum of x^2 along axis)). A set is visited
   in row order, and its sum carries its rounding errors along. */
NNRTI_INLINE NNRT_ReturnCode nnrti_l2_normalize_fusion(const NNRT_L2NormalizeFusion *attr, const nnrt_view *x,
                                                       nnrt_view *y, NNRT_DataType type)
{
    nnrt_view firstX = *x, firstY = *y, setX = *x, setY = *y; /* the first elements of all sets; one set */
    nnrti_walk w, s;
    for (int32_t i = 0; i < x->rank; i++)
        setX.dims[i] = setY.dims[i] = 1;
    for (uint32_t k = 0; k < attr->axis.count; k++) {
        const int32_t axis = (int32_t)attr->axis.data[k];
        setX.dims[axis] = setY.dims[axis] = x->dims[axis];
        firstX.dims[axis] = firstY.dims[axis] = 1;
    }
    if (!nnrti_walk_first(&w, &firstY, &firstX, NULL) || !nnrti_walk_first(&s, &setY, &setX, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t q = 0; q < w.count; q++) {
            const ptrdiff_t to = w.at[0] + q * w.row[0], from = w.at[1] + q * w.row[1];
            nnrti_sum sum = {0, 0};
            float norm;
            do
                for (int32_t i = 0; i < s.count; i++) {
                    const float v = nnrti_load(x->data, from + s.at[1] + i * s.row[1], type);
                    nnrti_sum_add(&sum, v * v);
                }
            while (nnrti_walk_next(&s)); /* which is then back at its start */
            norm = nnrti_sum_of(&sum);
            norm = nnrti_sqrtf(norm < attr->epsilon ? attr->epsilon : norm);
            do
                for (int32_t i = 0; i < s.count; i++) {
                    const float v = nnrti_load(x->data, from + s.at[1] + i * s.row[1], type) / norm;
                    nnrti_store(y->data, to + s.at[0] + i * s.row[0], nnrti_activate(v, attr->activationType), type);
                }
            while (nnrti_walk_next(&s));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_l2_normalize_fusion_f32(const NNRT_L2NormalizeFusion *attr, const nnrt_view *x,
                                                      nnrt_view *y)
{
    return nnrti_l2_normalize_fusion(attr, x, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_l2_normalize_fusion_f16(const NNRT_L2NormalizeFusion *attr, const nnrt_view *x,
                                                      nnrt_view *y)
{
    return nnrti_l2_normalize_fusion(attr, x, y, NNRT_DATA_TYPE_FLOAT16);
}

/* factor of 1 / sqrt(a) times 128, a >= 0; of 0 and 1 the same. Newton's iteration with 28 fraction bits from 1. */
static void nnrti_l2_factor(int64_t a, int32_t factor[2])
{
    int32_t x = 1 << 28, u, n = 11, j;
    factor[0] = INT32_MAX;
    factor[1] = 7;
    if (a <= 1)
        return;
    for (; a >= (1 << 29); a >>= 2)
        n++;
    j = (31 - nnrti_bit_count((uint64_t)a)) / 2 - 1;
    n -= j;
    a *= (int64_t)1 << (2 * j);
    u = (int32_t)nnrti_shift_round(a >> 1, 1);
    for (int32_t i = 0; i < 5; i++) {
        const int32_t cube = nnrti_high_product(nnrti_high_product(x, x), x);
        x = nnrti_to_int32((int64_t)8 * (nnrti_high_product(402653184, x) -
                                         nnrti_high_product(u, nnrti_to_int32((int64_t)64 * cube))));
    }
    x = nnrti_high_product(x, 1518500250);
    factor[0] = n < 0 ? x * (1 << -n) : x;
    factor[1] = n < 0 ? 7 : 7 - n;
}

/* Quantised int8 or uint8, y with scale 1/128; least: the square of epsilon in stored integers, list: of the rule. */
NNRT_API NNRT_ReturnCode nnrt_l2_normalize_fusion_q8(const NNRT_L2NormalizeFusion *attr, const nnrt_view *x,
                                                     const nnrt_view *least, const nnrt_view *list, nnrt_view *y)
{
    const int32_t *quant = (const int32_t *)list->data, zero = x->quant[0].zeroPoint;
    nnrt_view firstX = *x, firstY = *y, setX = *x, setY = *y; /* the first elements of all sets; one set */
    nnrti_walk w, s;
    for (int32_t i = 0; i < x->rank; i++)
        setX.dims[i] = setY.dims[i] = 1;
    for (uint32_t k = 0; k < attr->axis.count; k++) {
        const int32_t axis = (int32_t)attr->axis.data[k];
        setX.dims[axis] = setY.dims[axis] = x->dims[axis];
        firstX.dims[axis] = firstY.dims[axis] = 1;
    }
    if (!nnrti_walk_first(&w, &firstY, &firstX, NULL) || !nnrti_walk_first(&s, &setY, &setX, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t q = 0; q < w.count; q++) {
            const ptrdiff_t to = w.at[0] + q * w.row[0], from = w.at[1] + q * w.row[1];
            int64_t sum = 0;
            int32_t factor[2];
            do
                for (int32_t i = 0; i < s.count; i++) {
                    const int32_t v = nnrti_load_8(x->data, from + s.at[1] + i * s.row[1], x->dataType) - zero;
                    sum += (int64_t)v * v;
                }
            while (nnrti_walk_next(&s)); /* which is then back at its start */
            nnrti_l2_factor(sum > *(const int64_t *)least->data ? sum : *(const int64_t *)least->data, factor);
            do
                for (int32_t i = 0; i < s.count; i++) {
                    const int32_t v = nnrti_load_8(x->data, from + s.at[1] + i * s.row[1], x->dataType) - zero;
                    nnrti_store_8(y->data, to + s.at[0] + i * s.row[0],
                                  nnrti_quant_result(nnrti_rescale(v, factor), quant));
                }
            while (nnrti_walk_next(&s));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LAYER_NORM_FUSION */

/* gamma and beta are there, with the extents of x from axis `first` on. */
static NNRT_ReturnCode nnrti_layer_norm_params(nnrt_resolve *c, int32_t first)
{
    static const char *const names[] = {"x", "gamma", "beta"};
    const nnrt_operand *x = &c->in[0];
    const nnrt_operand want = nnrt_operand_make(x->dataType, x->rank - first, x->dims + first, NULL);
    for (uint32_t i = 1; i <= 2; i++)
        if (nnrti_absent(&c->in[i]))
            return nnrti_fail(c, NNRT_NULL_PTR, "input %u (%s) is missing, and elementwiseAffine is true", i, names[i]);
    for (uint32_t i = 1; i <= 2; i++) {
        const nnrt_operand *o = &c->in[i];
        if (o->rank != want.rank || !nnrti_same(o->dims, want.dims, (size_t)want.rank * sizeof(want.dims[0])))
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "input %u (%s) '%s' is %o, expected %o: the extents of x %o from axis %d on", i, names[i],
                              o->name, o, &want, x, first);
    }
    return NNRT_SUCCESS;
}

/* *dims = {elements of x before axis, elements from axis on}; false when one does not fit. The largest open extents may
   make more than fits: a run has its own. */
static bool nnrti_two_parts(const nnrt_operand *x, int32_t axis, int32_t dims[2])
{
    const bool open = nnrti_open_from(x, 0);
    size_t before, behind;
    if (!nnrt_dims_count(x->dims, axis, &before) || !nnrt_dims_count(x->dims + axis, x->rank - axis, &behind))
        return false;
    dims[0] = before > INT32_MAX ? INT32_MAX : (int32_t)before;
    dims[1] = behind > INT32_MAX ? INT32_MAX : (int32_t)behind;
    return open || (before <= INT32_MAX && behind <= INT32_MAX);
}

/* Resolved: the kernel sees x and y as [M,K], K normalised together, and gamma and beta as [G]; axes >= 0. */
static NNRT_ReturnCode nnrti_rule_layer_norm_fusion(nnrt_resolve *c)
{
    NNRT_LayerNormFusion *a = (NNRT_LayerNormFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axis, first, dims[2], parts[2];
    NNRT_ReturnCode code;
    if ((code = nnrti_axis(c, "beginNormAxis", a->beginNormAxis, x->rank, &axis)) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "beginParamsAxis", a->beginParamsAxis, x->rank, &first)) != NNRT_SUCCESS ||
        (code = a->elementwiseAffine ? nnrti_layer_norm_params(c, first) : NNRT_SUCCESS) != NNRT_SUCCESS)
        return code;
    if (!nnrti_two_parts(x, axis, dims) || !nnrti_two_parts(x, first, parts))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input '%s' %o: its size does not fit", x->name, x);
    nnrti_result_like(c, 0);
    nnrti_see_as(&c->in[0], 2, dims);
    nnrti_see_as(&c->out[0], 2, dims);
    for (uint32_t i = 1; i <= 2 && a->elementwiseAffine; i++)
        nnrti_see_as(&c->in[i], 1, &parts[1]);
    a->beginNormAxis = axis;
    a->beginParamsAxis = first;
    return NNRT_SUCCESS;
}

/* >>kernel LAYER_NORM_FUSION */

/* Elements are normalised by (x - mean - rest) * scale. */
typedef struct nnrti_norm {
    float mean, rest, scale;
} nnrti_norm;

/* Row of K elements that begins at element `at`. mean is a first approximation of the mean, rest what is left of it:
   with both, rows far away from 0 lose no digits. The variance is the mean of (x - mean)^2 less rest^2. All sums run
   over k. */
NNRTI_INLINE nnrti_norm nnrti_norm_of(const nnrt_view *x, ptrdiff_t at, float epsilon, NNRT_DataType type)
{
    const int32_t K = x->dims[1];
    float sum = 0, rest = 0, squares = 0, variance;
    nnrti_norm norm;
    for (int32_t k = 0; k < K; k++)
        sum += nnrti_load(x->data, at + k * x->strides[1], type);
    norm.mean = sum / (float)K;
    for (int32_t k = 0; k < K; k++) {
        const float d = nnrti_load(x->data, at + k * x->strides[1], type) - norm.mean;
        rest += d;
        squares += d * d;
    }
    norm.rest = rest / (float)K;
    variance = squares / (float)K - norm.rest * norm.rest;
    norm.scale = 1.0f / nnrti_sqrtf((variance < 0 ? 0.0f : variance) + epsilon);
    return norm;
}

/* x [M,K], y [M,K], which may be x; gamma, beta [G], G a part or a multiple of K, float16 or float32 where x is float16.
   y[m,k] = (x[m,k] - mean of x[m,..]) / sqrt(variance of x[m,..] + epsilon), variance over K elements, not K-1; with
   elementwiseAffine this times gamma[(m*K + k) % G] plus beta[(m*K + k) % G]. */
NNRTI_INLINE NNRT_ReturnCode nnrti_layer_norm_fusion(const NNRT_LayerNormFusion *attr, const nnrt_view *x,
                                                     const nnrt_view *gamma, const nnrt_view *beta, nnrt_view *y,
                                                     NNRT_DataType type)
{
    int32_t g = 0; /* (m*K + k) % G */
    for (int32_t m = 0; m < x->dims[0]; m++) {
        const nnrti_norm norm = nnrti_norm_of(x, m * x->strides[0], attr->epsilon, type);
        for (int32_t k = 0; k < x->dims[1]; k++) {
            float v = nnrti_load(x->data, m * x->strides[0] + k * x->strides[1], type);
            v = ((v - norm.mean) - norm.rest) * norm.scale;
            if (attr->elementwiseAffine) {
                v = v * nnrti_load_beside(gamma, g * gamma->strides[0], type) +
                    nnrti_load_beside(beta, g * beta->strides[0], type);
                g = g + 1 < gamma->dims[0] ? g + 1 : 0;
            }
            nnrti_store(y->data, m * y->strides[0] + k * y->strides[1], v, type);
        }
    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_layer_norm_fusion_f32(const NNRT_LayerNormFusion *attr, const nnrt_view *x,
                                                    const nnrt_view *gamma, const nnrt_view *beta, nnrt_view *y)
{
    return nnrti_layer_norm_fusion(attr, x, gamma, beta, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_layer_norm_fusion_f16(const NNRT_LayerNormFusion *attr, const nnrt_view *x,
                                                    const nnrt_view *gamma, const nnrt_view *beta, nnrt_view *y)
{
    return nnrti_layer_norm_fusion(attr, x, gamma, beta, y, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LEAKY_RELU */

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_leaky_relu(nnrt_resolve *c)
{
    nnrti_coder k;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    nnrti_factor(k.sy > 0 ? (double)(k.sx * ((const NNRT_LeakyRelu *)c->resolved)->negativeSlope / k.sy) : 0, k.b);
    return nnrti_quant_table(c, &k, nnrti_code_linear);
}

/* >>kernel LEAKY_RELU */

static float nnrti_leaky_reluf(float v, float slope, float unused)
{
    (void)unused;
    return v >= 0 ? v : slope * v;
}

static double nnrti_leaky_relu(double v, double slope, double unused)
{
    (void)unused;
    return v >= 0 ? v : slope * v;
}

/* y = x >= 0 ? x : negativeSlope*x, element by element; NaN stays. y may lie where x lies. */
NNRTI_UNARY_WITH(LeakyRelu, leaky_relu, attr->negativeSlope, 0, nnrti_leaky_reluf, nnrti_leaky_relu)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LESS */
/* >>kernel LESS */

/* z = x < y as bool, x and y of any one type, broadcast to the dims of z; false for a NaN, false < true. */
NNRTI_PREDICATE(Less, less, a < b)

/* Quantised int8 or uint8: the real values, with the list of nnrti_quant_compare. */
NNRTI_PREDICATE_Q8(Less, less_q8, a < b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LESS_EQUAL */
/* >>kernel LESS_EQUAL */

/* z = x <= y as bool, x and y of any one type, broadcast to the dims of z; false for a NaN, false <= true. */
NNRTI_PREDICATE(LessEqual, less_equal, a <= b)

/* Quantised int8 or uint8: the real values, with the list of nnrti_quant_compare. */
NNRTI_PREDICATE_Q8(LessEqual, less_equal_q8, a <= b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LOG */
/* >>kernel LOG */

/* y = the natural logarithm of x, element by element; 0 gives -infinity, x < 0 NaN. y may lie where x lies. */
NNRTI_UNARY(Log, log, nnrti_logf, nnrti_log)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LOGICAL_AND */
/* >>kernel LOGICAL_AND */

/* z = x != 0 and y != 0 as bool, x and y of any one type, broadcast to the dims of z; a NaN is not 0, -0 is. */
NNRTI_PREDICATE(LogicalAnd, logical_and, a != 0 && b != 0)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LOGICAL_NOT */
/* >>kernel LOGICAL_NOT */

/* y = (x == 0), element by element, x of any type and y bool; -0 is 0, NaN is not. y may lie where x lies when x has
   elements of one byte. */
NNRT_API NNRT_ReturnCode nnrt_logical_not(const NNRT_LogicalNot *attr, const nnrt_view *x, nnrt_view *y)
{
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do {
        uint8_t *out = (uint8_t *)y->data + w.at[0];
        switch (x->dataType) {
#define NNRTI_NOT_ROW(name, T, zero)                                                                                   \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t i = 0; i < w.count; i++) {                                                                        \
            const T v = ((const T *)x->data)[w.at[1] + i * w.row[1]];                                                  \
            out[i * w.row[0]] = zero;                                                                                  \
        }                                                                                                              \
        break;
#define NNRTI_NOT_INT(name, T, U, least, greatest) NNRTI_NOT_ROW(name, T, v == 0)
            NNRTI_INT_TYPES(NNRTI_NOT_INT)
            NNRTI_NOT_ROW(BOOL, uint8_t, v == 0)
            NNRTI_NOT_ROW(FLOAT16, uint16_t, (v & 0x7fffu) == 0) /* the bits but for the sign */
            NNRTI_NOT_ROW(FLOAT32, float, v == 0)
            NNRTI_NOT_ROW(FLOAT64, double, v == 0)
        default: break;
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LOGICAL_OR */
/* >>kernel LOGICAL_OR */

/* z = x != 0 or y != 0 as bool, x and y of any one type, broadcast to the dims of z; a NaN is not 0, -0 is. */
NNRTI_PREDICATE(LogicalOr, logical_or, a != 0 || b != 0)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LOG_SOFTMAX */

/* Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_log_softmax(nnrt_resolve *c)
{
    NNRT_LogSoftmax *a = (NNRT_LogSoftmax *)c->resolved;
    int32_t axis;
    const NNRT_ReturnCode code = nnrti_axis(c, "axis", a->axis, c->in[0].rank, &axis);
    if (code != NNRT_SUCCESS)
        return code;
    a->axis = axis;
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel LOG_SOFTMAX */

NNRTI_INLINE void nnrti_log_softmax_line(const void *attr, const nnrti_line *x, const nnrti_line *y, int32_t L,
                                         NNRT_DataType type)
{
    float max = nnrti_load(x->data, 0, type), log;
    nnrti_sum sum = {0, 0};
    (void)attr;
    for (int32_t i = 1; i < L; i++) {
        const float v = nnrti_load(x->data, i * x->step, type);
        max = v > max ? v : max;
    }
    for (int32_t i = 0; i < L; i++)
        nnrti_sum_add(&sum, nnrti_expf(nnrti_load(x->data, i * x->step, type) - max));
    log = nnrti_logf(nnrti_sum_of(&sum));
    for (int32_t i = 0; i < L; i++)
        nnrti_store(y->data, i * y->step, (nnrti_load(x->data, i * x->step, type) - max) - log, type);
}

/* x, y of one shape; y may be x. y[..,i,..] = x[..,i,..] - max - log(sum of exp(x[..,k,..] - max) over k), max and sum
   along axis. The sum runs over k and carries its rounding errors along. */
NNRT_API NNRT_ReturnCode nnrt_log_softmax_f32(const NNRT_LogSoftmax *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lines(attr, x, y, (int32_t)attr->axis, NNRT_DATA_TYPE_FLOAT32, nnrti_log_softmax_line);
}

NNRT_API NNRT_ReturnCode nnrt_log_softmax_f16(const NNRT_LogSoftmax *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lines(attr, x, y, (int32_t)attr->axis, NNRT_DATA_TYPE_FLOAT16, nnrti_log_softmax_line);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LP_NORMALIZATION */

/* Resolved: axis >= 0, p 1 or 2. */
static NNRT_ReturnCode nnrti_rule_lp_normalization(nnrt_resolve *c)
{
    NNRT_LpNormalization *a = (NNRT_LpNormalization *)c->resolved;
    int32_t axis;
    const NNRT_ReturnCode code = nnrti_axis(c, "axis", a->axis, c->in[0].rank, &axis);
    if (code != NNRT_SUCCESS)
        return code;
    a->axis = axis;
    a->p = a->p == 0 ? 2 : a->p;
    if (a->p != 1 && a->p != 2)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "p is %l, expected 1 or 2", a->p);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel LP_NORMALIZATION */

NNRTI_INLINE void nnrti_lp_normalization_line(const void *attr, const nnrti_line *x, const nnrti_line *y, int32_t L,
                                              NNRT_DataType type)
{
    const NNRT_LpNormalization *a = (const NNRT_LpNormalization *)attr;
    nnrti_sum sum = {0, 0};
    float norm;
    for (int32_t i = 0; i < L; i++) {
        const float v = nnrti_load(x->data, i * x->step, type);
        nnrti_sum_add(&sum, a->p == 2 ? v * v : v < 0 ? -v : v);
    }
    norm = nnrti_sum_of(&sum);
    norm = (a->p == 2 ? nnrti_sqrtf(norm) : norm) + a->epsilon;
    for (int32_t i = 0; i < L; i++)
        nnrti_store(y->data, i * y->step, nnrti_load(x->data, i * x->step, type) / norm, type);
}

/* x, y of one shape; y may be x. y = x / (norm + epsilon), the norm of each line along axis: p 1: the sum of |x|, p 2:
   the root of the sum of x^2. Sums run along the line and carry their rounding errors along. */
NNRT_API NNRT_ReturnCode nnrt_lp_normalization_f32(const NNRT_LpNormalization *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lines(attr, x, y, (int32_t)attr->axis, NNRT_DATA_TYPE_FLOAT32, nnrti_lp_normalization_line);
}

NNRT_API NNRT_ReturnCode nnrt_lp_normalization_f16(const NNRT_LpNormalization *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lines(attr, x, y, (int32_t)attr->axis, NNRT_DATA_TYPE_FLOAT16, nnrti_lp_normalization_line);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LP_POOL */

static NNRT_ReturnCode nnrti_rule_lp_pool(nnrt_resolve *c)
{
    NNRT_LpPool *a = (NNRT_LpPool *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    nnrti_volume v;
    NNRT_ReturnCode code;
    if (x->rank < 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 3 axes or more", x->name, x);
    a->p = a->p == 0 ? 2 : a->p;
    if (a->p < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "p is %l, expected at least 1", a->p);
    v.axes = x->rank - 2;
    v.kernelShape = &a->kernelShape;
    v.strides = &a->strides;
    v.dilations = &a->dilations;
    v.pads = &a->pads;
    v.autoPad = &a->autoPad;
    v.ceil = a->ceilMode != 0;
    v.pool = false;
    if ((code = nnrti_volume_lists(c, &v)) != NNRT_SUCCESS ||
        (code = nnrti_volume_rule(c, &v, x->dims[1])) != NNRT_SUCCESS)
        return code;
    nnrti_from(c, 0, 1, x, 1);
    return NNRT_SUCCESS;
}

/* >>kernel LP_POOL */

/* |v|^p. */
static float nnrti_lp_power(float v, int64_t p)
{
    v = v < 0 ? -v : v;
    return p == 1 ? v : p == 2 ? v * v : nnrti_powf(v, (float)p);
}

/* x [N,C,L..], y [N,C,M..], float32 or float16, of one rank; they may not overlap. y[n,c,m..] = (sum of |x[n,c,q..]|^p)^(1/p)
   over the cells q = m*stride - pad + i*dilation inside x, 0 <= i < kernelShape, of each axis. The sum runs over the cells
   with the last axis fastest; that of no cells is 0. */
NNRT_API NNRT_ReturnCode nnrt_lp_pool(const NNRT_LpPool *attr, const nnrt_view *x, nnrt_view *y)
{
    const int32_t axes = x->rank - 2;
    int32_t out[NNRT_MAX_RANK] = {0};
    do {
        int32_t in[NNRT_MAX_RANK], tap[NNRT_MAX_RANK], axis = axes;
        int64_t start[NNRT_MAX_RANK];
        nnrti_cells cells[NNRT_MAX_RANK];
        float sum = 0;
        bool any = true;
        in[0] = out[0];
        in[1] = out[1];
        for (int32_t i = 0; i < axes; i++) {
            start[i] = out[2 + i] * attr->strides.data[i] - attr->pads.data[i];
            cells[i] = nnrti_cells_apart(start[i], attr->kernelShape.data[i], attr->dilations.data[i], x->dims[2 + i]);
            any = any && cells[i].first < cells[i].end;
            tap[i] = cells[i].first;
        }
        while (any && axis >= 0) {
            for (int32_t i = 0; i < axes; i++)
                in[2 + i] = (int32_t)(start[i] + tap[i] * attr->dilations.data[i]);
            sum += nnrti_lp_power(nnrti_load(x->data, nnrti_offset(x, in), x->dataType), attr->p);
            for (axis = axes - 1; axis >= 0 && ++tap[axis] == cells[axis].end; axis--)
                tap[axis] = cells[axis].first;
        }
        if (attr->p > 1)
            sum = attr->p == 2 ? nnrti_sqrtf(sum) : nnrti_powf(sum, 1.0f / (float)attr->p);
        nnrti_store(y->data, nnrti_offset(y, out), sum, y->dataType);
    } while (nnrti_next_place(y, out));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LRN */

/* Resolved: normRegion is explicit. */
static NNRT_ReturnCode nnrti_rule_lrn(nnrt_resolve *c)
{
    const NNRT_LRN *a = (const NNRT_LRN *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if (a->depthRadius < 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "depthRadius is %l, expected at least 0", a->depthRadius);
    if (strcmp(a->normRegion, "ACROSS_CHANNELS") != 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "normRegion is '%s', expected ACROSS_CHANNELS", a->normRegion);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel LRN */

/* x, y [N,H,W,C]; they may not overlap. y[..,c] = x[..,c] * (bias + alpha * S)^-beta, S the sum of x[..,i]^2 over the
   channels i from c - depthRadius to c + depthRadius, in this order. */
NNRTI_INLINE NNRT_ReturnCode nnrti_lrn(const NNRT_LRN *attr, const nnrt_view *x, nnrt_view *y, NNRT_DataType type)
{
    const int64_t r = attr->depthRadius;
    const int32_t C = x->dims[3];
    for (int32_t n = 0; n < x->dims[0]; n++)
        for (int32_t h = 0; h < x->dims[1]; h++)
            for (int32_t w = 0; w < x->dims[2]; w++)
                for (int32_t c = 0; c < C; c++) {
                    const nnrti_cells window = nnrti_cells_of(c - r, 2 * r + 1, C);
                    float sum = 0, power;
                    for (int32_t i = window.first; i < window.end; i++) {
                        const float v = nnrti_load(x->data, nnrti_place(x, n, h, w, i), type);
                        sum += v * v;
                    }
                    power = nnrti_powf(attr->bias + attr->alpha * sum, -attr->beta);
                    nnrti_store(y->data, nnrti_place(y, n, h, w, c),
                                nnrti_load(x->data, nnrti_place(x, n, h, w, c), type) * power, type);
                }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_lrn_f32(const NNRT_LRN *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lrn(attr, x, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_lrn_f16(const NNRT_LRN *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_lrn(attr, x, y, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op LSTM */

/* numLayers, numDirections, inputSize and hiddenSize become what 0 stands for: 1 layer, the directions of bidirectional,
   the sizes that wIh [rows,4H,I] has. */
static NNRT_ReturnCode nnrti_lstm_sizes(nnrt_resolve *c, NNRT_LSTM *a)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"inputSize", a->inputSize},
                 {"hiddenSize", a->hiddenSize},
                 {"numLayers", a->numLayers},
                 {"projSize", a->projSize}};
    const int64_t directions = a->bidirectional ? 2 : 1;
    const nnrt_operand *x = &c->in[0], *w = &c->in[1];
    for (uint32_t i = 0; i < NNRTI_COUNT(sizes); i++)
        if (sizes[i].value < 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is %l, expected at least 0", sizes[i].name,
                              sizes[i].value);
    if (!(a->zoneoutCell >= 0 && a->zoneoutCell <= 1) || !(a->zoneoutHidden >= 0 && a->zoneoutHidden <= 1))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "zoneoutCell is %f and zoneoutHidden %f, expected 0 to 1",
                          (double)a->zoneoutCell, (double)a->zoneoutHidden);
    if (a->numDirections != 0 && a->numDirections != directions)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "numDirections is %l, expected %l: bidirectional is %s",
                          a->numDirections, directions, a->bidirectional ? "true" : "false");
    if (x->rank != 3 || w->rank != 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 0 (x) '%s' is %o and input 1 (wIh) '%s' %o, expected 3 axes",
                          x->name, x, w->name, w);
    if (nnrti_open_from(w, 0))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "input 1 (wIh) '%s' is %o: its extents must be given", w->name, w);
    a->numDirections = directions;
    a->numLayers = a->numLayers > 0 ? a->numLayers : 1;
    a->inputSize = a->inputSize > 0 ? a->inputSize : w->dims[2];
    a->hiddenSize = a->hiddenSize > 0 ? a->hiddenSize : w->dims[1] / 4;
    return NNRT_SUCCESS;
}

/* Input i has the extents d0, d1 and, but for the bias, d2. Those of states along axis 1 are the batch of x, which may be
   open. */
static NNRT_ReturnCode nnrti_lstm_shape(nnrt_resolve *c, uint32_t i, int64_t d0, int64_t d1, int64_t d2)
{
    static const char *const names[] = {"x", "wIh", "wHh", "bias", "hx", "cx", "wProj"};
    const nnrt_operand *o = &c->in[i], *x = &c->in[0];
    nnrt_operand want = *o;
    want.rank = i == 3 ? 2 : 3;
    want.dims[0] = (int32_t)d0;
    want.dims[1] = (i == 4 || i == 5) && o->rank == 3 && nnrti_axis_open(x, 1) ? o->dims[1] : (int32_t)d1;
    want.dims[2] = (int32_t)d2;
    if (!nnrti_like(o, &want))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected %o", i, names[i], o->name, o,
                          &want);
    return NNRT_SUCCESS;
}

/* *bytes = what the kernel keeps in scratch: see there. false: too much. */
static bool nnrti_lstm_scratch(const NNRT_LSTM *a, int32_t steps, size_t *bytes)
{
    const size_t H = (size_t)a->hiddenSize, R = a->projSize > 0 ? (size_t)a->projSize : H;
    const size_t between = a->numLayers > 2 ? 2 : (size_t)(a->numLayers - 1);
    size_t floats, each = 0;
    return nnrt_mul_size((size_t)a->numDirections * R, (size_t)steps, &floats) &&
           nnrt_mul_size(floats, between, &floats) && nnrt_mul_size(6, H, &each) &&
           nnrt_add_size(floats, each, &floats) && nnrt_add_size(floats, (size_t)a->inputSize, &floats) &&
           nnrt_add_size(floats, 2 * R, &floats) && nnrt_mul_size(floats, sizeof(float), bytes);
}

/* Resolved: all sizes but projSize are said; that is 0 where there is no projection. */
static NNRT_ReturnCode nnrti_rule_lstm(nnrt_resolve *c)
{
    NNRT_LSTM *a = (NNRT_LSTM *)c->resolved;
    const nnrt_operand *x = &c->in[0], *wIh = &c->in[1], *wProj = &c->in[6];
    NNRT_ReturnCode code = nnrti_lstm_sizes(c, a);
    const int64_t I = a->inputSize, H = a->hiddenSize, D = a->numDirections, R = a->projSize > 0 ? a->projSize : H;
    const int64_t rows = a->numLayers * D;
    int32_t dims[3];
    if (code != NNRT_SUCCESS)
        return code;
    if ((a->projSize > 0) == nnrti_absent(wProj))
        return nnrti_fail(c, nnrti_absent(wProj) ? NNRT_NULL_PTR : NNRT_INVALID_PARAMETER,
                          "projSize is %l, but input 6 (wProj) is %s", a->projSize,
                          nnrti_absent(wProj) ? "missing" : "present");
    if (rows > INT32_MAX || 8 * H > INT32_MAX || D * R > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "%l layers of %l directions, %l cells: too large", a->numLayers, D, H);
    if (a->numLayers > 1 && I != D * R)
        return nnrti_fail(
            c, NNRT_INVALID_SHAPE,
            "input 1 (wIh) '%s' is %o: with %l layers its last extent must be that of a layer's result, %l", wIh->name,
            wIh, a->numLayers, D * R);
    if ((code = nnrti_lstm_shape(c, 1, rows, 4 * H, I)) != NNRT_SUCCESS ||
        (code = nnrti_lstm_shape(c, 0, x->dims[0], x->dims[1], I)) != NNRT_SUCCESS ||
        (code = nnrti_lstm_shape(c, 2, rows, 4 * H, R)) != NNRT_SUCCESS ||
        (code = a->hasBias ? nnrti_lstm_shape(c, 3, rows, 8 * H, 0) : NNRT_SUCCESS) != NNRT_SUCCESS ||
        (code = nnrti_lstm_shape(c, 4, rows, x->dims[1], R)) != NNRT_SUCCESS ||
        (code = nnrti_lstm_shape(c, 5, rows, x->dims[1], H)) != NNRT_SUCCESS ||
        (code = a->projSize > 0 ? nnrti_lstm_shape(c, 6, rows, R, H) : NNRT_SUCCESS) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < 3; i++) {
        dims[0] = i == 0 ? x->dims[0] : (int32_t)rows;
        dims[1] = x->dims[1];
        dims[2] = (int32_t)(i == 0 ? D * R : i == 1 ? R : H);
        nnrti_result(c, i, 3, dims);
        nnrti_fixed(c, i, 0);
        nnrti_from(c, i, 1, x, 1);
        nnrti_fixed(c, i, 2);
    }
    nnrti_from(c, 0, 0, x, 0);
    if (!nnrti_lstm_scratch(a, x->dims[0], &c->scratch))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the results of %d steps in %l layers: too large", x->dims[0],
                          a->numLayers);
    return NNRT_SUCCESS;
}

/* >>kernel LSTM */

/* What the steps of all sequences share, and the state of the current one. */
typedef struct nnrti_lstm {
    const nnrt_view *wIh, *wHh, *bias, *wProj; /* bias and wProj: NULL where there is none */
    int32_t H, R;
    float zoneoutCell, zoneoutHidden;
    float *h, *c, *gates, *cells, *out; /* R, H, 4*H, H and R numbers */
} nnrti_lstm;

/* One step of layer and direction `row`: h and c become the next state, out the h' of its result. */
static void nnrti_lstm_step(const nnrti_lstm *m, int32_t row, const float *in)
{
    const int32_t H = m->H;
    const nnrt_view *b = m->bias;
    for (int32_t k = 0; k < 4 * H; k++) {
        const ptrdiff_t at = b != NULL ? row * b->strides[0] + k * b->strides[1] : 0;
        m->gates[k] = b == NULL ? 0.0f
                                : nnrti_load(b->data, at, b->dataType) +
                                      nnrti_load(b->data, at + 4 * H * b->strides[1], b->dataType);
    }
    nnrti_rows_times(m->gates, in, m->wIh, row);
    nnrti_rows_times(m->gates, m->h, m->wHh, row);
    for (int32_t k = 0; k < H; k++) {
        const float i = nnrti_sigmoidf(m->gates[k]), o = nnrti_sigmoidf(m->gates[H + k]);
        const float f = nnrti_sigmoidf(m->gates[2 * H + k]), g = nnrti_tanhf(m->gates[3 * H + k]);
        const float c = f * m->c[k] + i * g, z = m->zoneoutCell;
        m->cells[k] = o * nnrti_tanhf(c);
        m->c[k] = z > 0 ? z * m->c[k] + (1.0f - z) * c : c;
    }
    if (m->wProj != NULL) {
        memset(m->out, 0, (size_t)m->R * sizeof(float));
        nnrti_rows_times(m->out, m->cells, m->wProj, row);
    } else {
        memcpy(m->out, m->cells, (size_t)H * sizeof(float));
    }
    for (int32_t k = 0; k < m->R; k++) {
        const float z = m->zoneoutHidden;
        m->h[k] = z > 0 ? z * m->h[k] + (1.0f - z) * m->out[k] : m->out[k];
    }
}

/* Sequences x [T,N,I] through L layers of D directions; row l*D + d of the weights is direction d of layer l, direction 1
   runs from t = T-1 down. wIh [L*D,4*H,I], wHh [L*D,4*H,R], bias [L*D,8*H] or NULL (of no effect without hasBias), wProj
   [L*D,R,H] or NULL, R = H then; hx, hy [L*D,N,R]; cx, cy [L*D,N,H]; y [T,N,D*R], direction 0 first. For L > 1 I = D*R: a
   layer's in are the h' of all directions of the one below. All of one type, float32 or float16. Per step
   s = b1 + b2 + wIh*in + wHh*h, in this order, for each of the blocks i, o, f, g of 4*H;
   c' = sigmoid(f)*c + sigmoid(i)*tanh(g); h' = sigmoid(o)*tanh(c'), with wProj wProj*h'; y = h';
   c = zc*c + (1-zc)*c', h = zh*h + (1-zh)*h', zc and zh the zoneouts. What lies between x and the results is float32.
   Scratch: 4*(I + 6*H + 2*R) bytes, and 4*T*D*R for a second, and again for a third layer; NNRT_INSUFFICIENT_BUFFER
   without it. */
NNRT_API NNRT_ReturnCode nnrt_lstm(const NNRT_LSTM *attr, const nnrt_view *x, const nnrt_view *wIh,
                                   const nnrt_view *wHh, const nnrt_view *bias, const nnrt_view *hx,
                                   const nnrt_view *cx, const nnrt_view *wProj, nnrt_view *y, nnrt_view *hy,
                                   nnrt_view *cy, nnrt_call *call)
{
    const int32_t T = x->dims[0], I = x->dims[2], D = (int32_t)attr->numDirections, L = (int32_t)attr->numLayers;
    const int32_t H = cx->dims[2], R = hx->dims[2];
    const ptrdiff_t width = (ptrdiff_t)D * R; /* of a layer's result */
    float *in, *between[2];
    nnrti_lstm m;
    size_t bytes = 0;
    if (!nnrti_lstm_scratch(attr, T, &bytes) || (in = (float *)nnrti_scratch(call, bytes)) == NULL)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch", bytes);
    m.wIh = wIh;
    m.wHh = wHh;
    m.bias = attr->hasBias ? bias : NULL;
    m.wProj = wProj;
    m.H = H;
    m.R = R;
    m.zoneoutCell = attr->zoneoutCell;
    m.zoneoutHidden = attr->zoneoutHidden;
    m.h = in + I;
    m.out = m.h + R;
    m.c = m.out + R;
    m.cells = m.c + H;
    m.gates = m.cells + H;
    between[0] = m.gates + 4 * (ptrdiff_t)H;
    between[1] = L > 2 ? between[0] + T * width : between[0];
    for (int32_t n = 0; n < x->dims[1]; n++)
        for (int32_t row = 0; row < L * D; row++) {
            const int32_t layer = row / D, d = row % D;
            const float *below = between[(layer + 1) % 2];
            float *above = between[layer % 2];
            nnrti_row_read(m.h, hx, row, n);
            nnrti_row_read(m.c, cx, row, n);
            for (int32_t step = 0; step < T; step++) {
                const int32_t t = d == 0 ? step : T - 1 - step;
                if (layer == 0)
                    nnrti_row_read(in, x, t, n);
                nnrti_lstm_step(&m, row, layer == 0 ? in : below + t * width);
                if (layer == L - 1)
                    nnrti_row_write(y, t, n, d * R, R, m.out);
                else
                    memcpy(above + t * width + (ptrdiff_t)d * R, m.out, (size_t)R * sizeof(float));
            }
            nnrti_row_write(hy, row, n, 0, R, m.h);
            nnrti_row_write(cy, row, n, 0, H, m.c);
        }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MATMUL_FUSION */

/* One operand as a stack of matrices: its extents before the flags, rank >= 2. */
typedef struct nnrti_matrix {
    int32_t rank, dims[NNRT_MAX_RANK];
} nnrti_matrix;

/* A vector becomes [1,K] as x (front) and [K,1] as y; it is not transposed. */
static nnrti_matrix nnrti_matrix_of(const nnrt_operand *o, bool front, bool *transpose)
{
    nnrti_matrix m;
    m.rank = o->rank;
    memcpy(m.dims, o->dims, sizeof(m.dims));
    if (o->rank == 1) {
        m.rank = 2;
        m.dims[0] = front ? 1 : o->dims[0];
        m.dims[1] = front ? o->dims[0] : 1;
        *transpose = false;
    }
    return m;
}

/* Leading extents of a and b, broadcast, become those of z. */
static NNRT_ReturnCode nnrti_matmul_leading(nnrt_resolve *c, const nnrti_matrix *a, const nnrti_matrix *b,
                                            nnrti_matrix *z)
{
    z->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int32_t i = 0; i < z->rank - 2; i++) {
        const int32_t k = i - (z->rank - a->rank), m = i - (z->rank - b->rank);
        const int32_t p = k < 0 ? 1 : a->dims[k], q = m < 0 ? 1 : b->dims[m];
        if (!nnrti_broadcast_extent(p, k >= 0 && nnrti_axis_open(&c->in[0], k), q,
                                    m >= 0 && nnrti_axis_open(&c->in[1], m), &z->dims[i]))
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "'%s' %o and '%s' %o: the axes before the last two do not broadcast", c->in[0].name,
                              &c->in[0], c->in[1].name, &c->in[1]);
    }
    return NNRT_SUCCESS;
}

/* Where the extents of the result are from: leading ones as broadcast, rows of x, columns of y. */
static void nnrti_matmul_axes(nnrt_resolve *c, bool transposeA, bool transposeB)
{
    const nnrt_operand *x = &c->in[0], *y = &c->in[1];
    const int32_t last = c->out[0].rank - 1;
    nnrti_from_both(c, x, x->rank > 2 ? x->rank - 2 : 0, y, y->rank > 2 ? y->rank - 2 : 0);
    if (x->rank > 1)
        nnrti_from(c, 0, y->rank > 1 ? last - 1 : last, x, x->rank - (transposeA ? 1 : 2));
    if (y->rank > 1)
        nnrti_from(c, 0, last, y, y->rank - (transposeB ? 2 : 1));
}

/* The shape of a product of matrices, the last two axes of x and y. All operands are seen with two axes or more; of a
   vector the flag is cleared. *columns = extent of the last axis of the result. */
static NNRT_ReturnCode nnrti_matmul_shape(nnrt_resolve *c, bool *transposeA, bool *transposeB, int32_t *columns)
{
    nnrt_operand *x = &c->in[0], *y = &c->in[1];
    int32_t rank, dims[NNRT_MAX_RANK], last[2];
    nnrti_matrix a, b, z;
    NNRT_ReturnCode code;
    if (x->rank < 1 || y->rank < 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "'%s' %o and '%s' %o: expected one axis or more", x->name, x, y->name,
                          y);
    a = nnrti_matrix_of(x, true, transposeA);
    b = nnrti_matrix_of(y, false, transposeB);
    if (nnrti_unlike(x, x->rank - (*transposeA ? 2 : 1), y, y->rank > 1 ? y->rank - (*transposeB ? 1 : 2) : 0))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "'%s' %o%s and '%s' %o%s: %d columns meet %d rows", x->name, x,
                          *transposeA ? " transposed" : "", y->name, y, *transposeB ? " transposed" : "",
                          a.dims[a.rank - (*transposeA ? 2 : 1)], b.dims[b.rank - (*transposeB ? 1 : 2)]);
    if ((code = nnrti_matmul_leading(c, &a, &b, &z)) != NNRT_SUCCESS)
        return code;
    last[0] = a.dims[a.rank - (*transposeA ? 1 : 2)];
    last[1] = b.dims[b.rank - (*transposeB ? 2 : 1)];
    memcpy(z.dims + z.rank - 2, last, sizeof(last));
    rank = z.rank - 2;
    memcpy(dims, z.dims, sizeof(dims));
    if (x->rank > 1)
        dims[rank++] = last[0];
    if (y->rank > 1)
        dims[rank++] = last[1];
    nnrti_result(c, 0, rank, dims);
    nnrti_matmul_axes(c, *transposeA, *transposeB);
    nnrti_see_as(x, a.rank, a.dims);
    nnrti_see_as(y, b.rank, b.dims);
    nnrti_see_as(&c->out[0], z.rank, z.dims);
    *columns = last[1];
    return NNRT_SUCCESS;
}

/* Resolved: all operands have two axes or more; flags are set for matrices only.
   Derived: when quantised, zero point, bounds and factors of the result. */
static NNRT_ReturnCode nnrti_rule_matmul_fusion(nnrt_resolve *c)
{
    NNRT_MatMulFusion *attr = (NNRT_MatMulFusion *)c->resolved;
    const nnrt_operand *y = &c->in[1], *bias = &c->in[2];
    int32_t columns, axis;
    NNRT_ReturnCode code;
    if ((code = nnrti_matmul_shape(c, &attr->transposeA, &attr->transposeB, &columns)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_absent(bias) && (bias->rank != 1 || (bias->dims[0] != columns && !nnrti_open_from(y, 0))))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected [%d]", bias->name, bias, columns);
    if ((code = nnrti_fused(c, attr->activationType)) != NNRT_SUCCESS)
        return code;
    axis = y->rank < 2 ? -1 : attr->transposeB ? y->rank - 2 : y->rank - 1;
    if (y->quantCount > 1 && y->quantAxis == 0 && nnrti_quant_axis(y) != axis)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "'%s' %o has its QuantParams along axis %d, supported is axis %d",
                          y->name, y, nnrti_quant_axis(y), axis);
    return nnrti_quant_products(c, axis, attr->activationType, true);
}

/* >>kernel MATMUL_FUSION */

/* v as a stack: its axes before the last two. */
static nnrt_view nnrti_stack_of(const nnrt_view *v)
{
    nnrt_view stack = *v;
    stack.rank -= 2;
    return stack;
}

/* z[m,n] = act(bias[n] + sum over k of a[m,k] * b[k,n]) for the last two axes; data points at the matrices. */
NNRTI_INLINE void nnrti_matmul_one(const nnrt_view *a, const nnrt_view *b, const nnrt_view *bias, nnrt_view *z,
                                   NNRT_ActivationType activation, NNRT_DataType type)
{
    const int32_t M = z->dims[z->rank - 2], N = z->dims[z->rank - 1], K = a->dims[a->rank - 1];
    const ptrdiff_t aM = a->strides[a->rank - 2], aK = a->strides[a->rank - 1];
    const ptrdiff_t bK = b->strides[b->rank - 2], bN = b->strides[b->rank - 1];
    const ptrdiff_t zM = z->strides[z->rank - 2], zN = z->strides[z->rank - 1];
    const size_t width = nnrt_type_size(type);
    for (int32_t m = 0; m < M; m++)
        for (int32_t n = 0; n < N; n += NNRTI_DOTS) {
            const int32_t count = N - n < NNRTI_DOTS ? N - n : NNRTI_DOTS;
            float sum[NNRTI_DOTS];
            for (int32_t t = 0; t < count; t++)
                sum[t] = bias != NULL ? nnrti_load(bias->data, (n + t) * bias->strides[0], type) : 0.0f;
            nnrti_dots(sum, count, nnrti_at(a->data, m * aM, width), aK, nnrti_at(b->data, n * bN, width), bK, bN, K,
                       type);
            for (int32_t t = 0; t < count; t++)
                nnrti_store(z->data, m * zM + (n + t) * zN, nnrti_activate(sum[t], activation), type);
        }
}

/* x [..,M,K] or, with transposeA, [..,K,M]; y [..,K,N] or, with transposeB, [..,N,K]; bias [N] or NULL; z [..,M,N]. The
   leading axes of x and y are broadcast to those of z; none may overlap z. With A and B the matrices after the flags
   z[..,m,n] = act(bias[n] + sum over k of A[..,m,k] * B[..,k,n]). The sum starts with the bias and runs over k. Up to
   16 neighbouring columns are summed side by side; that changes no sum. */
NNRTI_INLINE NNRT_ReturnCode nnrti_matmul_fusion(const NNRT_MatMulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                                 const nnrt_view *bias, const nnrt_view *quant, nnrt_view *z,
                                                 NNRT_DataType type)
{
    const size_t width = nnrt_type_size(type);
    nnrt_view a = nnrti_transposed(x, attr->transposeA), b = nnrti_transposed(y, attr->transposeB), c = *z;
    nnrt_view stackA = nnrti_stack_of(x), stackB = nnrti_stack_of(y), stackZ = nnrti_stack_of(z);
    nnrti_walk w;
    if (!nnrti_walk_first(&w, &stackZ, &stackA, &stackB))
        return NNRT_SUCCESS;
    do {
        for (int32_t i = 0; i < w.count; i++) {
            c.data = nnrti_at(z->data, w.at[0] + i * w.row[0], width);
            a.data = nnrti_at(x->data, w.at[1] + i * w.row[1], width);
            b.data = nnrti_at(y->data, w.at[2] + i * w.row[2], width);
            if (quant != NULL)
                nnrti_matrix_8(&a, &b, bias, quant, &c);
            else
                nnrti_matmul_one(&a, &b, bias, &c, attr->activationType, type);
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_matmul_fusion_f32(const NNRT_MatMulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                                const nnrt_view *bias, nnrt_view *z)
{
    return nnrti_matmul_fusion(attr, x, y, bias, NULL, z, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_matmul_fusion_f16(const NNRT_MatMulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                                const nnrt_view *bias, nnrt_view *z)
{
    return nnrti_matmul_fusion(attr, x, y, bias, NULL, z, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the sum of (A - zX) * (B - zY[n]) and the int32 bias is exact, its result
   z = clamp(sum * factor[n] + zZ). */
NNRT_API NNRT_ReturnCode nnrt_matmul_fusion_q8(const NNRT_MatMulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                               const nnrt_view *bias, const nnrt_view *quant, nnrt_view *z)
{
    return nnrti_matmul_fusion(attr, x, y, bias, quant, z, NNRT_DATA_TYPE_INT8);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MATMUL_INTEGER */

/* As MATMUL_FUSION, of matrices that are not transposed. */
static NNRT_ReturnCode nnrti_rule_matmul_integer(nnrt_resolve *c)
{
    const nnrt_operand *a = &c->in[0], *b = &c->in[1];
    bool transposeA = false, transposeB = false;
    int32_t columns;
    NNRT_ReturnCode code;
    if ((code = nnrti_result_sums(c)) != NNRT_SUCCESS ||
        (code = nnrti_matmul_shape(c, &transposeA, &transposeB, &columns)) != NNRT_SUCCESS ||
        (code = nnrti_zero_point(c, 2, a, a->rank - 2)) != NNRT_SUCCESS)
        return code;
    return nnrti_zero_point(c, 3, b, b->rank < 2 ? -1 : b->rank - 1);
}

/* >>kernel MATMUL_INTEGER */

/* a [..,M,K], b [..,K,N], int8 or uint8 each, y [..,M,N] int32; the leading axes of a and b are broadcast to those of y.
   y[..,m,n] = sum over k of (a[..,m,k] - aZeroPoint, one or one per m) * (b[..,k,n] - bZeroPoint, one or one per n), modulo
   2^32. Zero points may be NULL: 0. */
NNRT_API NNRT_ReturnCode nnrt_matmul_integer(const NNRT_MatMulInteger *attr, const nnrt_view *a, const nnrt_view *b,
                                             const nnrt_view *aZeroPoint, const nnrt_view *bZeroPoint, nnrt_view *y)
{
    const int32_t i = y->rank - 2, K = a->dims[a->rank - 1], M = y->dims[i], N = y->dims[i + 1];
    nnrt_view stackA = nnrti_stack_of(a), stackB = nnrti_stack_of(b), stackY = nnrti_stack_of(y);
    nnrti_dots_8 d;
    nnrti_walk w;
    (void)attr;
    d.aK = a->strides[a->rank - 1];
    d.bK = b->strides[b->rank - 2];
    d.bT = b->strides[b->rank - 1];
    d.flipA = nnrti_flip(a);
    d.flipB = nnrti_flip(b);
    if (!nnrti_walk_first(&w, &stackY, &stackA, &stackB))
        return NNRT_SUCCESS;
    do
        for (int32_t s = 0; s < w.count; s++)
            for (int32_t n = 0; n < N; n += NNRTI_DOTS) {
                const int32_t count = N - n < NNRTI_DOTS ? N - n : NNRTI_DOTS;
                for (int32_t t = 0; t < count; t++)
                    d.zeroB[t] = nnrti_zero_at(b, bZeroPoint, n + t);
                d.b = (const uint8_t *)nnrti_at(b->data, w.at[2] + s * w.row[2] + n * d.bT, 1);
                for (int32_t m = 0; m < M; m++) {
                    const ptrdiff_t at = w.at[0] + s * w.row[0] + m * y->strides[i] + n * y->strides[i + 1];
                    int64_t sum[NNRTI_DOTS] = {0};
                    d.zeroA = nnrti_zero_at(a, aZeroPoint, m);
                    d.a = (const uint8_t *)nnrti_at(a->data, w.at[1] + s * w.row[1] + m * a->strides[a->rank - 2], 1);
                    nnrti_sum_dots(&d, K, count, sum);
                    for (int32_t t = 0; t < count; t++)
                        nnrti_store_int(y->data, at + t * y->strides[i + 1], (uint64_t)sum[t], NNRT_DATA_TYPE_INT32);
                }
            }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MAXIMUM */
/* >>kernel MAXIMUM */

/* z = x > y ? x : y, numbers of any type, broadcast to the dims of z; so a NaN in x gives y, a NaN in y gives NaN. z
   may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_maximum(const NNRT_Maximum *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)
{
    (void)attr;
    nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_max_row);
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8 with a list of nnrti_quant_extreme. */
NNRT_API NNRT_ReturnCode nnrt_maximum_q8(const NNRT_Maximum *attr, const nnrt_view *x, const nnrt_view *y,
                                         const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_max);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MAX_POOL_3D */

static NNRT_ReturnCode nnrti_rule_max_pool_3d(nnrt_resolve *c)
{
    NNRT_MaxPool3D *a = (NNRT_MaxPool3D *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    nnrti_volume v;
    NNRT_ReturnCode code = c->nOut > 1 ? nnrti_index_result(c, 1) : NNRT_SUCCESS;
    v.axes = 3;
    v.kernelShape = &a->kernelShape;
    v.strides = &a->strides;
    v.dilations = &a->dilations;
    v.pads = &a->pads;
    v.autoPad = &a->autoPad;
    v.ceil = a->ceilMode != 0;
    v.pool = true;
    if (code != NNRT_SUCCESS || (code = nnrti_volume_lists(c, &v)) != NNRT_SUCCESS ||
        (code = nnrti_volume_rule(c, &v, x->dims[1])) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < c->nOut; i++)
        nnrti_from(c, i, 1, x, 1);
    if (c->nOut > 1 && c->out[1].dataType == NNRT_DATA_TYPE_INT32 && nnrti_count(x) > INT32_MAX)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input '%s' %o has more elements than int32 numbers", x->name, x);
    return NNRT_SUCCESS;
}

/* >>kernel MAX_POOL_3D */

/* x [N,C,D,H,W], y [N,C,Do,Ho,Wo], float32 or float16; they may not overlap. y[n,c,p..] = the largest x[n,c,q] of the cells
   q = p*stride - pad + (i,j,k)*dilation inside x, 0 <= (i,j,k) < kernelShape; every window has one. A NaN counts as
   largest. indices (int32 or int64 of the extents of y) gets the number of the first such cell, counted over all elements
   of x. One of y and indices may be NULL. */
NNRT_API NNRT_ReturnCode nnrt_max_pool_3d(const NNRT_MaxPool3D *attr, const nnrt_view *x, nnrt_view *y,
                                          nnrt_view *indices)
{
    const int64_t *s = attr->strides.data, *d = attr->dilations.data, *pad = attr->pads.data;
    const nnrt_view *z = y != NULL ? y : indices;
    int32_t out[5] = {0, 0, 0, 0, 0}, in[5], tap[3];
    if (NNRTI_NO_VOLUMES)
        return NNRT_UNSUPPORTED_OP;
    do {
        float best = 0;
        int64_t start[3], position = -1;
        nnrti_cells cells[3];
        for (int32_t i = 0; i < 3; i++) {
            start[i] = out[2 + i] * s[i] - pad[i];
            cells[i] = nnrti_cells_apart(start[i], attr->kernelShape.data[i], d[i], x->dims[2 + i]);
        }
        in[0] = out[0];
        in[1] = out[1];
        for (tap[0] = cells[0].first; tap[0] < cells[0].end; tap[0]++)
            for (tap[1] = cells[1].first; tap[1] < cells[1].end; tap[1]++)
                for (tap[2] = cells[2].first; tap[2] < cells[2].end; tap[2]++) {
                    int64_t number = 0;
                    float v;
                    for (int32_t i = 0; i < 3; i++)
                        in[2 + i] = (int32_t)(start[i] + tap[i] * d[i]);
                    for (int32_t i = 0; i < x->rank; i++)
                        number = number * x->dims[i] + in[i];
                    v = nnrti_load(x->data, nnrti_offset(x, in), x->dataType);
                    if (position < 0 || v > best || (v != v && best == best)) {
                        best = v;
                        position = number;
                    }
                }
        if (y != NULL)
            nnrti_store(y->data, nnrti_offset(y, out), best, y->dataType);
        if (indices != NULL)
            nnrti_store_int(indices->data, nnrti_offset(indices, out), (uint64_t)position, indices->dataType);
    } while (nnrti_next_place(z, out));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MAX_POOL_FUSION */

static NNRT_ReturnCode nnrti_rule_max_pool_fusion(nnrt_resolve *c)
{
    NNRT_MaxPoolFusion *a = (NNRT_MaxPoolFusion *)c->resolved;
    nnrti_pool pool;
    NNRT_ReturnCode code = c->nOut > 1 ? nnrti_index_result(c, 1) : NNRT_SUCCESS;
    if (code != NNRT_SUCCESS)
        return code;
    pool.kernelSize = &a->kernelSize;
    pool.strides = &a->strides;
    pool.pad = &a->pad;
    pool.padMode = &a->padMode;
    pool.roundMode = &a->roundMode;
    pool.global = &a->global;
    pool.activationType = a->activationType;
    return nnrti_pool_rule(c, &pool);
}

/* >>kernel MAX_POOL_FUSION */

/* x [N,H,W,C], y [N,Ho,Wo,C]; they may not overlap. y[n,p,q,c] = act(largest x[n,h,w,c] over the cells h, w inside x
   with p*sH - top <= h < p*sH - top + kH and q*sW - left <= w < q*sW - left + kW); every window has one. A NaN counts
   as largest. indices (int32 or int64 of the extents of y) gets h*W + w of the first such cell. One of y and indices may
   be NULL. */
NNRTI_INLINE NNRT_ReturnCode nnrti_max_pool_fusion(const NNRT_MaxPoolFusion *attr, const nnrt_view *x,
                                                   const nnrt_view *quant, nnrt_view *y, nnrt_view *indices,
                                                   NNRT_DataType type)
{
    const int64_t *k = attr->kernelSize.data, *s = attr->strides.data, *pad = attr->pad.data;
    const nnrt_view *z = y != NULL ? y : indices;
    nnrti_window_at m;
    for (m.n = 0; m.n < z->dims[0]; m.n++)
        for (int32_t p = 0; p < z->dims[1]; p++)
            for (int32_t q = 0; q < z->dims[2]; q++) {
                m.rows = nnrti_cells_of(p * s[0] - pad[0], k[0], x->dims[1]);
                m.columns = nnrti_cells_of(q * s[1] - pad[2], k[1], x->dims[2]);
                if (quant != NULL)
                    nnrti_largest_8(x, &m, p, q, quant, y, indices);
                else
                    nnrti_largest(x, &m, p, q, attr->activationType, y, indices, type);
            }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_max_pool_fusion_f32(const NNRT_MaxPoolFusion *attr, const nnrt_view *x, nnrt_view *y,
                                                  nnrt_view *indices)
{
    return nnrti_max_pool_fusion(attr, x, NULL, y, indices, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_max_pool_fusion_f16(const NNRT_MaxPoolFusion *attr, const nnrt_view *x, nnrt_view *y,
                                                  nnrt_view *indices)
{
    return nnrti_max_pool_fusion(attr, x, NULL, y, indices, NNRT_DATA_TYPE_FLOAT16);
}

/* The same of quantised int8 or uint8: the largest stored integer q, then y = clamp((q - zX) * factor + zY). */
NNRT_API NNRT_ReturnCode nnrt_max_pool_fusion_q8(const NNRT_MaxPoolFusion *attr, const nnrt_view *x,
                                                 const nnrt_view *quant, nnrt_view *y, nnrt_view *indices)
{
    return nnrti_max_pool_fusion(attr, x, quant, y, indices, NNRT_DATA_TYPE_INT8);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MAX_UNPOOL */

/* Resolved: all lists are said. */
static NNRT_ReturnCode nnrti_rule_max_unpool(nnrt_resolve *c)
{
    NNRT_MaxUnpool *a = (NNRT_MaxUnpool *)c->resolved;
    const nnrt_operand *x = &c->in[0], *indices = &c->in[1], *shape = &c->in[2];
    const uint32_t axes = (uint32_t)(x->rank - 2);
    int32_t dims[NNRT_MAX_RANK] = {0};
    NNRT_ReturnCode code;
    if (x->rank < 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 3 axes or more", x->name, x);
    if (!nnrti_like(x, indices))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (indices) '%s' is %o, expected %o", indices->name, indices,
                          x);
    if ((code = nnrti_volume_list(c, "kernelShape", &a->kernelShape, axes, 0, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "strides", &a->strides, axes, 1, 1)) != NNRT_SUCCESS ||
        (code = nnrti_volume_list(c, "pads", &a->pads, 2 * axes, 0, 0)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_absent(shape)) {
        if ((code = nnrti_result_listed(c, 2)) != NNRT_SUCCESS)
            return code;
        if (c->out[0].rank != x->rank || nnrti_unlike(x, 0, &c->out[0], 0) || nnrti_unlike(x, 1, &c->out[0], 1))
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "outputShape '%s' asks for %o, expected %d axes, the first two of "
                              "input '%s' %o",
                              shape->name, &c->out[0], x->rank, x->name, x);
        return NNRT_SUCCESS;
    }
    for (uint32_t i = 0; i < axes; i++) {
        const int64_t L = nnrti_product(x->dims[2 + i] - 1, a->strides.data[i]);
        const int64_t extent =
            L > INT32_MAX ? L : L + a->kernelShape.data[i] - a->pads.data[i] - a->pads.data[axes + i];
        if (extent > INT32_MAX)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %u of the result would have extent %l: too large", i + 2,
                              extent);
        if (extent <= 0)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "axis %u of the result would have extent %l", i + 2, extent);
        dims[2 + i] = (int32_t)extent;
    }
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t i = 0; i < x->rank; i++)
        if (i < 2 || !nnrti_axis_open(x, i))
            nnrti_from(c, 0, i, x, i);
    return NNRT_SUCCESS;
}

/* >>kernel MAX_UNPOOL */

/* x and indices (int32 or int64) of one shape, y of the type of x; outputShape is not looked at. y = 0, but element number
   indices[i..] of y, counted over all of its elements, is x[i..], for i.. in their order. NNRT_INVALID_PARAMETER when y
   has no such element: call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_max_unpool(const NNRT_MaxUnpool *attr, const nnrt_view *x, const nnrt_view *indices,
                                         const nnrt_view *outputShape, nnrt_view *y, nnrt_call *call)
{
    const size_t width = nnrt_type_size(x->dataType);
    int64_t count = 1;
    int32_t place[NNRT_MAX_RANK] = {0};
    (void)attr;
    (void)outputShape;
    for (int32_t i = 0; i < y->rank; i++)
        count *= y->dims[i];
    nnrti_clear(y);
    do {
        int64_t index = nnrti_index(indices, nnrti_offset(indices, place));
        ptrdiff_t at = 0;
        if (index < 0 || index >= count)
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "index %l lies outside the result, expected 0 to %l",
                                  index, count - 1);
        for (int32_t i = y->rank - 1; i >= 0; i--) {
            const int64_t rest = nnrti_quotient(index, y->dims[i]);
            at += (ptrdiff_t)(index - rest * y->dims[i]) * y->strides[i];
            index = rest;
        }
        memcpy(nnrti_at(y->data, at, width), nnrti_at(x->data, nnrti_offset(x, place), width), width);
    } while (nnrti_next_place(x, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MEL_WEIGHT_MATRIX */

/* Resolved: outputDatatype. */
static NNRT_ReturnCode nnrti_rule_mel_weight_matrix(nnrt_resolve *c)
{
    static const char *const names[] = {"numMelBins", "dftLength", "sampleRate", "lowerEdgeHertz", "upperEdgeHertz"};
    NNRT_MelWeightMatrix *a = (NNRT_MelWeightMatrix *)c->resolved;
    nnrt_operand *y = &c->out[0];
    int64_t value[3];
    int32_t dims[2];
    NNRT_ReturnCode code;
    if (a->outputDatatype == NNRT_DATA_TYPE_UNKNOWN)
        a->outputDatatype = nnrti_absent(y) ? NNRT_DATA_TYPE_FLOAT32 : y->dataType;
    if (!nnrti_absent(y) && a->outputDatatype != y->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output '%s' is declared %t, but outputDatatype is %t", y->name,
                          y->dataType, (NNRT_DataType)a->outputDatatype);
    if (!nnrti_type_in((NNRT_DataType)a->outputDatatype, NNRT_TYPES_FLOAT | NNRT_TYPES_F64))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "outputDatatype is %t, expected float16, float32 or float64",
                          (NNRT_DataType)a->outputDatatype);
    y->dataType = (NNRT_DataType)a->outputDatatype;
    for (uint32_t i = 0; i < 5; i++) {
        if ((code = nnrti_one_element(c, i, names[i])) != NNRT_SUCCESS)
            return code;
        if (i > 2)
            continue;
        if ((code = nnrti_known(c, i, names[i])) != NNRT_SUCCESS)
            return code;
        value[i] = nnrti_element_unbounded(&c->in[i], 0) ? 1 : nnrti_value(&c->in[i], 0);
        if (value[i] < 1 || value[i] > INT32_MAX - 2)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is %l, expected 1 to %d", names[i], value[i],
                              INT32_MAX - 2);
    }
    dims[0] = (int32_t)value[1] / 2 + 1;
    dims[1] = (int32_t)value[0];
    nnrti_result(c, 0, 2, dims);
    if (!nnrti_element_open(&c->in[1], 0))
        nnrti_fixed(c, 0, 0);
    nnrti_from_value(c, 0, 1, &c->in[0], 0);
    return NNRT_SUCCESS;
}

/* >>kernel MEL_WEIGHT_MATRIX */

/* y [K,M], K = dftLength/2 + 1, M = numMelBins: weights that take a spectrum of K bins to M bands. With mel(f) =
   2595*log10(1 + f/700) the edges of the bands lie at mel(lowerEdgeHertz) + i*step, i < M + 2, step the (M + 2)-th part of
   mel(upperEdgeHertz) - mel(lowerEdgeHertz); back in Hertz, times (dftLength + 1)/sampleRate and rounded down they are
   bins e[i]. Band i rises from 0 at e[i] to 1 at e[i+1] and falls to 0 at e[i+2]. Computed in float64. An edge beyond
   the K bins, or edges in the wrong order: NNRT_INVALID_PARAMETER. */
NNRT_API NNRT_ReturnCode nnrt_mel_weight_matrix(const NNRT_MelWeightMatrix *attr, const nnrt_view *numMelBins,
                                                const nnrt_view *dftLength, const nnrt_view *sampleRate,
                                                const nnrt_view *lowerEdgeHertz, const nnrt_view *upperEdgeHertz,
                                                nnrt_view *y, nnrt_call *call)
{
    const double ten = 2.302585092994046, per = ((double)nnrti_index(dftLength, 0) + 1) * 700;
    const double lower = (double)nnrti_load(lowerEdgeHertz->data, 0, lowerEdgeHertz->dataType);
    const double upper = (double)nnrti_load(upperEdgeHertz->data, 0, upperEdgeHertz->dataType);
    const double rate = (double)nnrti_index(sampleRate, 0), K = (double)y->dims[0];
    const double first = 2595 * (nnrti_log(1 + lower / 700) / ten);
    const double step = (2595 * (nnrti_log(1 + upper / 700) / ten) - first) / ((double)y->dims[1] + 2);
    int32_t e[3] = {0, 0, 0};
    (void)attr, (void)numMelBins;
    if (!(lower >= 0 && upper >= lower && upper <= (double)FLT_MAX))
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                              "lowerEdgeHertz is %f and upperEdgeHertz %f, expected 0 or more and no less than that",
                              lower, upper);
    nnrti_clear(y);
    for (int32_t i = 0; i < y->dims[1] + 2; i++) {
        const double bin = (nnrti_exp((i * step + first) / 2595 * ten) - 1) * per / rate;
        if (!(bin < K + 1))
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "edge %d lies at bin %f, the spectrum has %d", i, bin,
                                  y->dims[0]);
        e[0] = e[1];
        e[1] = e[2];
        e[2] = bin > 0 ? (int32_t)bin : 0;
        for (int32_t k = e[0]; i > 1 && k < y->dims[0] && (k <= e[1] || k < e[2]); k++) {
            const double v = k >= e[1] && e[2] > e[1] ? (double)(e[2] - k) / (double)(e[2] - e[1])
                             : e[1] > e[0]            ? (double)(k - e[0]) / (double)(e[1] - e[0])
                                                      : 1;
            nnrti_number(y->dataType, v,
                         nnrti_at(y->data, k * y->strides[0] + (i - 2) * y->strides[1], nnrt_type_size(y->dataType)));
        }
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MESHGRID */

/* Every result has an axis for each input. */
static NNRT_ReturnCode nnrti_rule_meshgrid(nnrt_resolve *c)
{
    int32_t dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK] = {0};
    NNRT_ReturnCode code;
    if (c->nOut != c->nIn)
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "has %u outputs, expected %u, as many as inputs", c->nOut, c->nIn);
    if ((code = nnrti_room(c, c->nIn)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < c->nIn; i++) {
        if (c->in[i].rank != 1)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, expected one axis", i, c->in[i].name,
                              &c->in[i]);
        dims[i] = c->in[i].dims[0];
    }
    for (uint32_t k = 0; k < c->nOut; k++) {
        nnrti_result(c, k, (int32_t)c->nIn, dims);
        for (uint32_t i = 0; i < c->nIn; i++)
            nnrti_from(c, k, (int32_t)i, &c->in[i], 0);
        to[0] = (int32_t)k;
        if ((code = nnrti_quant_moves(c, k, k, to)) != NNRT_SUCCESS)
            return code;
    }
    return NNRT_SUCCESS;
}

/* >>kernel MESHGRID */

/* nIn vectors x[k] [Lk] and as many y [L0,L1,..], one element type, whatever that is; no y may overlap an x.
   y[k][i0,i1,..] = x[k][ik]. One without data is left out. */
NNRT_API NNRT_ReturnCode nnrt_meshgrid(const NNRT_Meshgrid *attr, const nnrt_view *x, uint32_t nIn, nnrt_view *y,
                                       uint32_t nOut)
{
    (void)attr, (void)nOut;
    for (uint32_t k = 0; k < nIn; k++) {
        nnrt_view line = y[k];
        for (int32_t i = 0; i < line.rank; i++)
            line.dims[i] = 1;
        line.data = x[k].data;
        line.dims[k] = x[k].dims[0];
        line.strides[k] = x[k].strides[0];
        if (y[k].data != NULL)
            nnrti_copy(&line, &y[k]);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MINIMUM */
/* >>kernel MINIMUM */

static void nnrti_min_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                          NNRT_ActivationType activation)
{
    switch (z->dataType) {
#define NNRTI_MIN_ROW(name, T, U, least, greatest) NNRTI_ROW_CASE(name, T, T, T, (T), a < b ? a : b)
        NNRTI_INT_TYPES(NNRTI_MIN_ROW)
        NNRTI_ROWS_FLOAT(a < b ? a : b, activation)
    default: break;
    }
}

/* z = x < y ? x : y, numbers of any type, broadcast to the dims of z; so a NaN in x gives y, a NaN in y gives NaN. z
   may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_minimum(const NNRT_Minimum *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)
{
    (void)attr;
    nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_min_row);
    return NNRT_SUCCESS;
}

static int64_t nnrti_quant_min(int32_t a, int32_t b, const int32_t *quant)
{
    const int32_t p = nnrti_rescale(a, quant + NNRTI_QUANT_FACTORS);
    const int32_t q = nnrti_rescale(b, quant + NNRTI_QUANT_FACTORS + 2);
    return p < q ? p : q;
}

/* Quantised int8 or uint8 with a list of nnrti_quant_extreme. */
NNRT_API NNRT_ReturnCode nnrt_minimum_q8(const NNRT_Minimum *attr, const nnrt_view *x, const nnrt_view *y,
                                         const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_min);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MISH */
/* >>kernel MISH */

/* x * tanh(ln(1 + e^x)) without tanh and ln: with e = e^x and n = e * (e + 2) it is x * n / (n + 2). From 20 on that is x,
   and 0 of -infinity. */
static float nnrti_mishf(float x)
{
    const float e = nnrti_expf(x > 20 ? 0.0f : x), n = e * (e + 2.0f);
    return x > 20 ? x : x < -FLT_MAX ? 0.0f : x * (n / (n + 2.0f));
}

static double nnrti_mish(double x)
{
    const double e = nnrti_exp(x > 40 ? 0.0 : x), n = e * (e + 2.0);
    return x > 40 ? x : x < -DBL_MAX ? 0.0 : x * (n / (n + 2.0));
}

/* y = x * tanh(softplus(x)), element by element. y may lie where x lies. */
NNRTI_UNARY(Mish, mish, nnrti_mishf, nnrti_mish)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MOD */
/* >>kernel MOD */

static void nnrti_mod_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                          NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_DIVIDE(0, a % b)
        NNRTI_ROW_CASE(FLOAT32, float, float, float, (float), nnrti_fmodf(a, b))
        NNRTI_ROW_CASE(FLOAT64, double, double, double, (double), nnrti_fmod(a, b))
        NNRTI_ROW_HALF(nnrti_fmodf(a, b), activation)
    default: break;
    }
}

/* z = x - trunc(x / y) * y without rounding, the rest with the sign of x, as % and fmod of C; numbers of any type,
   broadcast to the dims of z. Floats: NaN where x is infinite or y is 0, x where y is infinite. Integers: a divisor 0
   is NNRT_INVALID_PARAMETER, and z is not written then. z may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_mod(const NNRT_Mod *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                  nnrt_call *call)
{
    (void)attr;
    return nnrti_divide(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_mod_row, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MULTICLASS_NMS */

/* boxes [N,M,4] with scores [N,C,M]; or boxes [M,C,4] with scores [M,C] and roisNum [B]. */
static NNRT_ReturnCode nnrti_nms_operands(nnrt_resolve *c)
{
    const nnrt_operand *boxes = &c->in[0], *scores = &c->in[1], *rois = &c->in[2];
    if (boxes->rank != 3 || (scores->rank != 3 && scores->rank != 2))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "boxes '%s' is %o, scores '%s' %o, expected 3 axes, and 3 or 2",
                          boxes->name, boxes, scores->name, scores);
    if (boxes->dims[2] % 8 == 0 && boxes->dims[2] >= 8 && boxes->dims[2] <= 32)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "boxes '%s' is %o: polygons are not supported", boxes->name, boxes);
    if (boxes->dims[2] != 4 && !nnrti_axis_open(boxes, 2))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "boxes '%s' is %o, expected 4 as last extent", boxes->name, boxes);
    if (scores->rank == 3 ? nnrti_unlike(boxes, 0, scores, 0) || nnrti_unlike(boxes, 1, scores, 2)
                          : nnrti_unlike(boxes, 0, scores, 0) || nnrti_unlike(boxes, 1, scores, 1))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "scores '%s' is %o: it does not go with boxes '%s' %o", scores->name,
                          scores, boxes->name, boxes);
    if ((scores->rank == 2) == nnrti_absent(rois))
        return nnrti_fail(c, NNRT_INVALID_INPUT, "scores '%s' is %o: input 2 (roisNum) %s", scores->name, scores,
                          scores->rank == 2 ? "must be there" : "goes with two axes only");
    if (scores->rank == 2 && rois->rank != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "roisNum '%s' is %o, expected one axis", rois->name, rois);
    return NNRT_SUCCESS;
}

/* Resolved: nmsEta > 0. Results have room for as many rows as there can be. */
static NNRT_ReturnCode nnrti_rule_multiclass_nms(nnrt_resolve *c)
{
    NNRT_MulticlassNms *a = (NNRT_MulticlassNms *)c->resolved;
    const nnrt_operand *boxes = &c->in[0], *scores = &c->in[1];
    const bool single = scores->rank == 2; /* every class has boxes of its own */
    const nnrt_operand *images = single ? &c->in[2] : nnrti_axis_open(boxes, 0) ? scores : boxes;
    int32_t dims[2] = {0, 6};
    int64_t classes, most, count;
    NNRT_ReturnCode code = nnrti_nms_operands(c);
    if (code != NNRT_SUCCESS)
        return code;
    a->nmsEta = a->nmsEta == 0 ? 1 : a->nmsEta;
    if (a->nmsTopK < -1 || a->keepTopK < -1 || a->backgroundLabel < -1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "nmsTopK is %l, keepTopK %l, backgroundLabel %l, expected -1 or more", a->nmsTopK,
                          a->keepTopK, a->backgroundLabel);
    if (!(a->nmsEta > 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "nmsEta is %f, expected more than 0", (double)a->nmsEta);
    if (a->returnIndex && c->nOut < 3)
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "returnIndex is true, but output 2 (index) is missing");
    if (nnrti_product(boxes->dims[0], boxes->dims[1]) > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "boxes '%s' is %o: too many", boxes->name, boxes);
    classes = scores->dims[1] -
              (a->backgroundLabel >= 0 && a->backgroundLabel < scores->dims[1] && !nnrti_axis_open(scores, 1) ? 1 : 0);
    most = boxes->dims[single ? 0 : 1]; /* candidates of a class */
    most = a->nmsTopK >= 0 && a->nmsTopK < most ? a->nmsTopK : most;
    c->scratch = (size_t)most * sizeof(int32_t);
    count = nnrti_product(most, classes);
    count = a->keepTopK >= 0 && a->keepTopK < count ? a->keepTopK : count;
    count = nnrti_product(count, images->dims[0]);
    if (single && count > nnrti_product(boxes->dims[0], classes))
        count = nnrti_product(boxes->dims[0], classes);
    if (count > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result could have %l rows: too many", count);
    for (uint32_t i = 0; i < c->nOut; i++) {
        if (i > 0 && (code = nnrti_index_result(c, i)) != NNRT_SUCCESS)
            return code;
        dims[0] = i == 1 ? images->dims[0] : (int32_t)count;
        nnrti_result(c, i, i == 0 ? 2 : 1, dims);
        if (i == 0)
            nnrti_fixed(c, 0, 1);
        if (i == 1)
            nnrti_from(c, 1, 0, images, 0);
        else if (c->symbolCount != NULL)
            nnrti_bounded(c, i, 0);
    }
    return NNRT_SUCCESS;
}

/* >>kernel MULTICLASS_NMS */

/* One image. Its rows of the result begin at first; until it is done, a row has its score in place, and where the box will
   stand the position of that in the image and the class, as int32. */
typedef struct nnrti_nms {
    const NNRT_MulticlassNms *attr;
    nnrt_view *out;
    int32_t first, count;
    int32_t boxes;             /* boxes of a class */
    nnrti_line box;            /* coordinates of box 0 of class 0 */
    ptrdiff_t next, nextClass; /* elements to those of the next box, of the next class */
    bool byPosition;           /* the order of a class's rows: by position, else by falling score */
} nnrti_nms;

static void *nnrti_nms_at(const nnrti_nms *v, int32_t row, int32_t column)
{
    return nnrti_at(v->out->data, (v->first + row) * v->out->strides[0] + column, nnrt_type_size(v->out->dataType));
}

static int32_t nnrti_nms_note(const nnrti_nms *v, int32_t row, int32_t column)
{
    int32_t note;
    memcpy(&note, nnrti_nms_at(v, row, column), sizeof(note));
    return note;
}

static void nnrti_nms_box(const nnrti_nms *v, int32_t position, int32_t label, float box[4])
{
    for (int32_t k = 0; k < 4; k++)
        box[k] = nnrti_load(v->box.data, position * v->next + label * v->nextClass + k * v->box.step, v->box.type);
}

/* Moves `count` rows, row `from` to row `to` and those behind it along. */
static void nnrti_nms_move(const nnrti_nms *v, int32_t to, int32_t from, int32_t count)
{
    const size_t bytes = (size_t)v->out->strides[0] * nnrt_type_size(v->out->dataType);
    if (count > 0)
        memmove(nnrti_nms_at(v, to, 0), nnrti_nms_at(v, from, 0), (size_t)count * bytes);
}

/* Adds a box to the rows; those of its class begin at *begin. Where there are keepTopK, it takes the place of the worst, of
   equal ones the last; false: none is worse. */
static bool nnrti_nms_keep(nnrti_nms *v, int32_t *begin, int32_t position, int32_t label, float score)
{
    const NNRT_DataType type = v->out->dataType;
    int32_t row, worst = 0;
    if (v->attr->keepTopK == v->count) {
        for (row = 1; row < v->count; row++)
            if (nnrti_load(nnrti_nms_at(v, row, 1), 0, type) <= nnrti_load(nnrti_nms_at(v, worst, 1), 0, type))
                worst = row;
        if (v->count == 0 || !(nnrti_load(nnrti_nms_at(v, worst, 1), 0, type) < score))
            return false;
        nnrti_nms_move(v, worst, worst + 1, v->count - worst - 1);
        v->count--;
        *begin -= worst < *begin ? 1 : 0;
    }
    row = v->count;
    while (v->byPosition && row > *begin && nnrti_nms_note(v, row - 1, 2) > position)
        row--;
    nnrti_nms_move(v, row + 1, row, v->count - row);
    nnrti_store(nnrti_nms_at(v, row, 1), 0, score, type);
    memcpy(nnrti_nms_at(v, row, 2), &position, sizeof(position));
    memcpy(nnrti_nms_at(v, row, 4), &label, sizeof(label));
    v->count++;
    return true;
}

/* The boxes of a class by falling score: order has room for the positions of those that are looked at; NULL: each next one
   is looked for. The kept ones stand among the rows, for one that did not get there is worse than all of them, and so are
   those behind it. */
static void nnrti_nms_class(nnrti_nms *v, const nnrti_line *scores, int32_t label, int32_t *order)
{
    const NNRT_MulticlassNms *attr = v->attr;
    float threshold = attr->nmsThreshold;
    int32_t candidates = 0, begin = v->count, i = -1;
    for (int32_t k = 0; k < v->boxes; k++)
        candidates += nnrti_load(scores->data, k * scores->step, scores->type) > attr->scoreThreshold ? 1 : 0;
    candidates = attr->nmsTopK >= 0 && attr->nmsTopK < candidates ? (int32_t)attr->nmsTopK : candidates;
    if (order != NULL && candidates > 0)
        nnrti_top_sorted(scores, v->boxes, candidates, order);
    for (int32_t k = 0; k < candidates; k++) {
        bool isFree = true;
        float box[4], kept[4];
        i = order != NULL ? order[k] : nnrti_top_next(scores, v->boxes, i);
        nnrti_nms_box(v, i, label, box);
        for (int32_t row = begin; isFree && row < v->count; row++) {
            nnrti_nms_box(v, nnrti_nms_note(v, row, 2), label, kept);
            isFree = !(nnrti_overlap(box, kept, attr->normalized ? 0.0f : 1.0f) > threshold);
        }
        if (!isFree)
            continue;
        if (!nnrti_nms_keep(v, &begin, i, label, nnrti_load(scores->data, i * scores->step, scores->type)))
            return;
        threshold *= attr->nmsEta < 1 && threshold > 0.5f ? attr->nmsEta : 1.0f;
    }
}

/* The rows of the image as they are told; its first box counts as number `number` of index, the next one `step` on. */
static void nnrti_nms_finish(const nnrti_nms *v, nnrt_view *index, int32_t number, int32_t step)
{
    for (int32_t row = 0; row < v->count; row++) {
        const int32_t position = nnrti_nms_note(v, row, 2), label = nnrti_nms_note(v, row, 4);
        float box[4];
        nnrti_nms_box(v, position, label, box);
        nnrti_store(nnrti_nms_at(v, row, 0), 0, (float)label, v->out->dataType);
        for (int32_t k = 0; k < 4; k++)
            nnrti_store(nnrti_nms_at(v, row, 2 + k), 0, box[k], v->out->dataType);
        if (index != NULL)
            nnrti_store_int(index->data, v->first + row,
                            (uint64_t)(number + (int64_t)position * step + (step > 1 ? label : 0)), index->dataType);
    }
}

/* boxes [N,M,4], scores [N,C,M], roisNum NULL; or boxes [M,C,4], scores [M,C], roisNum [B] int32 or int64: so many of the M
   for each image. out [n,6] of one type with them: class, score, xmin, ymin, xmax, ymax; outRoisNum [B] the rows of each
   image; index [n] the number of the box among all, image*M + m or m*C + class; these two int32 or int64, or NULL. For every
   class of an image, but backgroundLabel, the nmsTopK boxes of the highest scores above scoreThreshold are looked at by
   falling score, equal ones by rising position, and kept unless they overlap a kept one by more than the threshold; that
   begins as nmsThreshold and is multiplied with nmsEta < 1 after each kept box, while above 0.5. Of all, the keepTopK best
   make rows, equal ones of lower classes first: by class, within it by falling score, with roisNum by rising position. The
   kernel sets n; there is room for as many as there can be, without gaps. NNRT_INVALID_PARAMETER when roisNum does not go
   with M: call's error tells where. Scratch: 4 bytes for each box of a class that is looked at, or they are looked for
   again and again. */
NNRT_API NNRT_ReturnCode nnrt_multiclass_nms(const NNRT_MulticlassNms *attr, const nnrt_view *boxes,
                                             const nnrt_view *scores, const nnrt_view *roisNum, nnrt_view *out,
                                             nnrt_view *outRoisNum, nnrt_view *index, nnrt_call *call)
{
    const int32_t M = roisNum != NULL ? boxes->dims[0] : boxes->dims[1], C = scores->dims[1];
    const int32_t most = attr->nmsTopK >= 0 && attr->nmsTopK < M ? (int32_t)attr->nmsTopK : M;
    int32_t *order = (int32_t *)nnrti_scratch(call, (size_t)most * sizeof(*order));
    nnrti_nms v;
    int32_t done = 0; /* boxes of earlier images */
    memset(&v, 0, sizeof(v));
    v.attr = attr;
    v.out = out;
    v.boxes = M;
    v.byPosition = roisNum != NULL;
    if (out == NULL)
        return nnrt_call_fail(call, NNRT_INVALID_OUTPUT, "output 0 (out) must be there: it cannot be left out");
    v.next = boxes->strides[roisNum != NULL ? 0 : 1];
    v.nextClass = roisNum != NULL ? boxes->strides[1] : 0;
    for (int32_t b = 0; b < (roisNum != NULL ? roisNum->dims[0] : boxes->dims[0]); b++) {
        const int64_t rois = roisNum != NULL ? nnrti_index(roisNum, b * roisNum->strides[0]) : M;
        if (rois < 0 || rois > (roisNum != NULL ? M - done : M))
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "roisNum[%d] is %l, but of %d boxes %d are left", b,
                                  rois, M, M - done);
        v.boxes = (int32_t)rois;
        if (rois > 0)
            v.box = nnrti_line_of(boxes, 2, (roisNum != NULL ? done : b) * boxes->strides[0]);
        for (int32_t label = 0; label < C && rois > 0; label++) {
            const nnrti_line line =
                roisNum != NULL ? nnrti_line_of(scores, 0, done * scores->strides[0] + label * scores->strides[1])
                                : nnrti_line_of(scores, 2, b * scores->strides[0] + label * scores->strides[1]);
            if (label != attr->backgroundLabel)
                nnrti_nms_class(&v, &line, label, order);
        }
        nnrti_nms_finish(&v, index, roisNum != NULL ? done * C : b * M, roisNum != NULL ? C : 1);
        if (outRoisNum != NULL)
            nnrti_store_int(outRoisNum->data, b, (uint64_t)v.count, outRoisNum->dataType);
        v.first += v.count;
        v.count = 0;
        done += roisNum != NULL ? (int32_t)rois : 0;
    }
    out->dims[0] = v.first;
    if (index != NULL)
        index->dims[0] = v.first;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op MUL_FUSION */

/* Derived: when quantised, zero point and bounds of the result, the factors of x, of y and of what they make. */
static NNRT_ReturnCode nnrti_rule_mul_fusion(nnrt_resolve *c)
{
    const NNRT_ActivationType type = ((const NNRT_MulFusion *)c->resolved)->activationType;
    const NNRT_ReturnCode code = nnrti_binary_rule(c, type);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_product(c, type) : code;
}

/* >>kernel MUL_FUSION */

/* z = act(x * y), x and y broadcast to the dims of z. z may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_mul_fusion_f32(const NNRT_MulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                             nnrt_view *z)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do {
        NNRTI_ROW_F32(w, x, y, z, a * b)
        nnrti_activate_row_f32(&w, z, attr->activationType);
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* The same for every other type: integers wrap, two bools give "both are true". */
NNRT_API NNRT_ReturnCode nnrt_mul_fusion(const NNRT_MulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                         nnrt_view *z)
{
    nnrti_binary(x, y, z, attr->activationType, nnrti_mul_row);
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8 with a list of nnrti_quant_product. */
NNRT_API NNRT_ReturnCode nnrt_mul_fusion_q8(const NNRT_MulFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                            const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_mul);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op NEG */
/* >>kernel NEG */

static float nnrti_negf(float v)
{
    return -v;
}

static double nnrti_neg(double v)
{
    return -v;
}

static uint64_t nnrti_neg_int(uint64_t v)
{
    return 0u - v;
}

/* y = -x, element by element; the least integer, which has no opposite, stays. y may lie where x lies. */
NNRTI_UNARY(Neg, neg, nnrti_negf, nnrti_neg)
NNRTI_UNARY_INT(Neg, neg, nnrti_neg_int)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op NEGATIVE_LOG_LIKELIHOOD_LOSS */

/* x [N,C,D..], target [N,D..], weight [C]. */
static NNRT_ReturnCode nnrti_rule_negative_log_likelihood_loss(nnrt_resolve *c)
{
    const NNRT_NegativeLogLikelihoodLoss *a = (const NNRT_NegativeLogLikelihoodLoss *)c->resolved;
    const nnrt_operand *x = &c->in[0], *target = &c->in[1], *weight = &c->in[2];
    const int32_t rank = x->rank - 1;
    bool fits = rank > 0 && target->rank == rank;
    int32_t dims[NNRT_MAX_RANK];
    for (int32_t i = 0; fits && i < rank; i++)
        fits = !nnrti_unlike(target, i, x, i == 0 ? 0 : i + 1);
    if (rank < 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected two axes or more", x->name, x);
    if (!fits)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "target '%s' is %o, expected the extents of '%s' %o but the second",
                          target->name, target, x->name, x);
    if (!nnrti_absent(weight) && (weight->rank != 1 || nnrti_unlike(weight, 0, x, 1)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "weight '%s' is %o, expected [%d], the second extent of '%s' %o",
                          weight->name, weight, x->dims[1], x->name, x);
    if (a->ignoreIndex.count > 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "ignoreIndex has %u entries, expected at most 1",
                          a->ignoreIndex.count);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = nnrti_axis_open(target, i) ? x->dims[i == 0 ? 0 : i + 1] : target->dims[i];
    nnrti_result(c, 0, a->reduction == NNRT_LOSS_REDUCTION_NONE ? rank : 0, dims);
    for (int32_t i = 0; i < c->out[0].rank; i++)
        if (nnrti_axis_open(target, i))
            nnrti_from(c, 0, i, x, i == 0 ? 0 : i + 1);
        else
            nnrti_from(c, 0, i, target, i);
    return NNRT_SUCCESS;
}

/* >>kernel NEGATIVE_LOG_LIKELIHOOD_LOSS */

/* x [N,C,D..], mostly the logarithms of probabilities; target [N,D..] int32 or int64; weight [C], NULL: ones. Where t = target[n,d..]
   is not ignoreIndex: v = -x[n,t,d..] * weight[t]; where it is: v = 0, of no weight. NONE: y [N,D..] = v. SUM: y [] = the sum of all
   v. MEAN: y [] = that sum / the sum of the weights; NaN when that is 0. Sums run in the order of target and carry their rounding
   errors along.
   NNRT_INVALID_PARAMETER when a target lies outside [0,C): call's error tells which; y may then be written in part. */
NNRTI_INLINE NNRT_ReturnCode nnrti_nll_loss(const NNRT_NegativeLogLikelihoodLoss *attr, const nnrt_view *x,
                                            const nnrt_view *target, const nnrt_view *weight, nnrt_view *y,
                                            nnrt_call *call, NNRT_DataType type)
{
    const nnrt_view first = nnrti_without_axes(x, 1, 1); /* class 0 */
    const bool each = attr->reduction == NNRT_LOSS_REDUCTION_NONE, ignores = attr->ignoreIndex.count > 0;
    nnrti_sum loss = {0, 0}, weights = {0, 0};
    nnrti_walk w;
    int64_t n = 0;
    bool more = nnrti_walk_first(&w, target, &first, each ? y : NULL);
    for (; more; more = nnrti_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++, n++) {
            const int64_t t = nnrti_index(target, w.at[0] + i * w.row[0]);
            const bool ignored = ignores && t == attr->ignoreIndex.data[0];
            float factor = 0, v = 0;
            if (!ignored && (t < 0 || t >= x->dims[1]))
                return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                                      "class %l, element %l of target, lies outside axis 1 of x, expected 0 to %d", t,
                                      n, x->dims[1] - 1);
            if (!ignored) {
                factor = weight != NULL ? nnrti_load(weight->data, (ptrdiff_t)t * weight->strides[0], type) : 1.0f;
                v = -nnrti_load(x->data, w.at[1] + i * w.row[1] + (ptrdiff_t)t * x->strides[1], type) * factor;
            }
            if (each) {
                nnrti_store(y->data, w.at[2] + i * w.row[2], v, type);
            } else {
                nnrti_sum_add(&loss, v);
                nnrti_sum_add(&weights, factor);
            }
        }
    if (!each)
        nnrti_store(y->data, 0,
                    attr->reduction == NNRT_LOSS_REDUCTION_SUM ? nnrti_sum_of(&loss)
                                                               : nnrti_sum_of(&loss) / nnrti_sum_of(&weights),
                    type);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_negative_log_likelihood_loss_f32(const NNRT_NegativeLogLikelihoodLoss *attr,
                                                               const nnrt_view *x, const nnrt_view *target,
                                                               const nnrt_view *weight, nnrt_view *y, nnrt_call *call)
{
    return nnrti_nll_loss(attr, x, target, weight, y, call, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_negative_log_likelihood_loss_f16(const NNRT_NegativeLogLikelihoodLoss *attr,
                                                               const nnrt_view *x, const nnrt_view *target,
                                                               const nnrt_view *weight, nnrt_view *y, nnrt_call *call)
{
    return nnrti_nll_loss(attr, x, target, weight, y, call, NNRT_DATA_TYPE_FLOAT16);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op NON_MAX_SUPPRESSION */

/* The result has room for as many rows as there can be. */
static NNRT_ReturnCode nnrti_rule_non_max_suppression(nnrt_resolve *c)
{
    static const char *const names[] = {"", "", "maxOutputBoxesPerClass", "iouThreshold", "scoreThreshold"};
    const nnrt_operand *boxes = &c->in[0], *scores = &c->in[1], *most = &c->in[2];
    nnrt_operand *y = &c->out[0];
    int64_t count = 0;
    int32_t dims[2] = {0, 3};
    NNRT_ReturnCode code;
    if (boxes->rank != 3 || scores->rank != 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "boxes '%s' is %o, scores '%s' %o, expected 3 axes", boxes->name,
                          boxes, scores->name, scores);
    if (boxes->dims[2] != 4 && !nnrti_axis_open(boxes, 2))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "boxes '%s' is %o, expected 4 as last extent", boxes->name, boxes);
    if (nnrti_unlike(boxes, 0, scores, 0) || nnrti_unlike(boxes, 1, scores, 2))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "scores '%s' is %o: it does not go with boxes '%s' %o", scores->name,
                          scores, boxes->name, boxes);
    for (uint32_t i = 2; i < 5; i++)
        if (!nnrti_absent(&c->in[i]) && !nnrti_open_from(&c->in[i], 0) &&
            (code = nnrti_one_element(c, i, names[i])) != NNRT_SUCCESS)
            return code;
    if (y->dataType == NNRT_DATA_TYPE_UNKNOWN)
        y->dataType = NNRT_DATA_TYPE_INT64;
    if ((code = nnrti_index_result(c, 0)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_absent(most)) {
        count = scores->dims[2];
        if (most->data != NULL && !nnrti_element_open(most, 0) && nnrti_value(most, 0) < count)
            count = nnrti_value(most, 0) > 0 ? nnrti_value(most, 0) : 0;
    }
    count = nnrti_product(nnrti_product(count, scores->dims[0]), scores->dims[1]);
    if (count > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result could have %l rows: too many", count);
    dims[0] = (int32_t)count;
    nnrti_result(c, 0, 2, dims);
    nnrti_fixed(c, 0, 1);
    if (c->symbolCount != NULL)
        nnrti_bounded(c, 0, 0);
    c->scratch = (size_t)scores->dims[2] * sizeof(int32_t);
    return NNRT_SUCCESS;
}

/* >>kernel NON_MAX_SUPPRESSION */

/* Box `at` of image n as two lower and two upper bounds. */
static void nnrti_suppression_box(const nnrt_view *boxes, int32_t n, int32_t at, bool centre, float box[4])
{
    float v[4];
    nnrti_row_read(v, boxes, n, at);
    for (int32_t k = 0; k < 2; k++) {
        const float half = v[k + 2] / 2;
        box[k] = centre ? v[k] - half : v[k] < v[k + 2] ? v[k] : v[k + 2];
        box[k + 2] = centre ? v[k] + half : v[k] < v[k + 2] ? v[k + 2] : v[k];
    }
}

/* boxes [N,S,4]: two corners in any order, or (centerPointBox) centre x, y and edges; scores [N,C,S]; both float32 or
   float16. maxOutputBoxesPerClass, int32 or int64, NULL and negative: 0; iouThreshold, NULL: 0; scoreThreshold, NULL: none;
   of one element each. Of each image and class, in this order, boxes are taken by falling score, equal ones by rising
   position, NaN last, while scores are above scoreThreshold and fewer than maxOutputBoxesPerClass are kept: a box is
   kept unless its intersection / union with one kept before is above iouThreshold. y [kept,3], int32 or int64: image,
   class and position of each. The kernel sets y's first extent; there is room for N*C*min(S, maxOutputBoxesPerClass).
   Scratch: 4*S bytes; NNRT_INSUFFICIENT_BUFFER without it. NNRT_INVALID_PARAMETER when iouThreshold is not 0 to 1. */
NNRT_API NNRT_ReturnCode nnrt_non_max_suppression(const NNRT_NonMaxSuppression *attr, const nnrt_view *boxes,
                                                  const nnrt_view *scores, const nnrt_view *maxOutputBoxesPerClass,
                                                  const nnrt_view *iouThreshold, const nnrt_view *scoreThreshold,
                                                  nnrt_view *y, nnrt_call *call)
{
    const int32_t S = scores->dims[2];
    const int64_t most = maxOutputBoxesPerClass != NULL ? nnrti_index(maxOutputBoxesPerClass, 0) : 0;
    const float overlap = iouThreshold != NULL ? nnrti_load(iouThreshold->data, 0, iouThreshold->dataType) : 0;
    int32_t *order = (int32_t *)nnrti_scratch(call, (size_t)S * sizeof(*order)), rows = 0;
    const bool centre = attr->centerPointBox != 0;
    if (!(overlap >= 0 && overlap <= 1))
        return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "iouThreshold is %f, expected 0 to 1", (double)overlap);
    if (order == NULL && S > 0)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch", (size_t)S * sizeof(*order));
    for (int32_t n = 0; n < scores->dims[0] && S > 0; n++)
        for (int32_t label = 0; label < scores->dims[1]; label++) {
            const nnrti_line line = nnrti_line_of(scores, 2, n * scores->strides[0] + label * scores->strides[1]);
            const int32_t first = rows;
            nnrti_top_sorted(&line, S, S, order);
            for (int32_t i = 0; i < S && rows - first < most; i++) {
                float box[4], kept[4];
                int32_t k = first;
                if (scoreThreshold != NULL && !(nnrti_load(line.data, order[i] * line.step, line.type) >
                                                nnrti_load(scoreThreshold->data, 0, scoreThreshold->dataType)))
                    break;
                nnrti_suppression_box(boxes, n, order[i], centre, box);
                for (; k < rows; k++) {
                    nnrti_suppression_box(boxes, n, (int32_t)nnrti_index(y, k * y->strides[0] + 2 * y->strides[1]),
                                          centre, kept);
                    if (nnrti_overlap(kept, box, 0) > overlap)
                        break;
                }
                if (k < rows)
                    continue;
                nnrti_store_int(y->data, rows * y->strides[0], (uint64_t)n, y->dataType);
                nnrti_store_int(y->data, rows * y->strides[0] + y->strides[1], (uint64_t)label, y->dataType);
                nnrti_store_int(y->data, rows * y->strides[0] + 2 * y->strides[1], (uint64_t)order[i], y->dataType);
                rows++;
            }
        }
    y->dims[0] = rows;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op NON_ZERO */

/* The result has a place for every element, until x is known. */
static NNRT_ReturnCode nnrti_rule_non_zero(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    nnrt_operand *y = &c->out[0];
    const size_t all = nnrti_count(x);
    size_t count = all;
    int32_t dims[2];
    if (y->dataType == NNRT_DATA_TYPE_UNKNOWN)
        y->dataType = NNRT_DATA_TYPE_INT64;
    if (!nnrti_type_in(y->dataType, NNRT_TYPES_INDEX))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output 0 '%s' is declared %t, expected int32 or int64", y->name,
                          y->dataType);
    if (all > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input '%s' %o has more elements than an axis can have", x->name, x);
#ifndef NNRT_FIRMWARE
    if (x->data != NULL && c->symbolCount != NULL && !c->open) {
        count = 0;
        for (size_t i = 0; i < all; i++)
            count += nnrti_is_non_zero(x->data, x->dataType, (ptrdiff_t)i) ? 1 : 0;
    }
#endif
    dims[0] = x->rank;
    dims[1] = (int32_t)count;
    nnrti_result(c, 0, 2, dims);
    nnrti_fixed(c, 0, 0);
#ifndef NNRT_FIRMWARE
    if (c->symbolCount != NULL && (x->data == NULL || c->open))
        nnrti_bounded(c, 0, 1);
#endif
    return NNRT_SUCCESS;
}

/* >>kernel NON_ZERO */

/* y [rank of x, N], int32 or int64, N the number of elements of x that are not 0: column n holds the place of the n-th of
   them, in the order in which they lie. The kernel sets y's second extent to N; there is room for as many as x has. */
NNRT_API NNRT_ReturnCode nnrt_non_zero(const NNRT_NonZero *attr, const nnrt_view *x, nnrt_view *y)
{
    const size_t width = nnrt_type_size(y->dataType);
    int32_t place[NNRT_MAX_RANK];
    ptrdiff_t n = 0;
    (void)attr;
    for (int pass = 0; pass < 2; pass++) { /* counts, then writes */
        bool more = !nnrti_empty(x);
        y->dims[1] = (int32_t)n;
        y->strides[0] = n;
        y->strides[1] = 1;
        n = 0;
        memset(place, 0, sizeof(place));
        while (more) {
            ptrdiff_t at = 0;
            int32_t axis = x->rank - 1;
            for (int32_t i = 0; i < x->rank; i++)
                at += place[i] * x->strides[i];
            if (nnrti_is_non_zero(x->data, x->dataType, at)) {
                for (int32_t i = 0; pass == 1 && i < x->rank; i++)
                    nnrti_number(y->dataType, place[i], nnrti_at(y->data, i * y->strides[0] + n, width));
                n++;
            }
            while (axis >= 0 && ++place[axis] == x->dims[axis])
                place[axis--] = 0;
            more = axis >= 0;
        }
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op NOT_EQUAL */
/* >>kernel NOT_EQUAL */

/* z = x != y as bool, x and y of any one type, broadcast to the dims of z; a NaN differs from all, -0 equals 0. */
NNRTI_PREDICATE(NotEqual, not_equal, a != b)

/* Quantised int8 or uint8: the real values, with the list of nnrti_quant_compare. */
NNRTI_PREDICATE_Q8(NotEqual, not_equal_q8, a != b)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ONE_HOT */

/* Resolved: axis is the place of the new axis in y, >= 0. */
static NNRT_ReturnCode nnrti_rule_one_hot(nnrt_resolve *c)
{
    NNRT_OneHot *a = (NNRT_OneHot *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t dims[NNRT_MAX_RANK];
    int64_t depth;
    NNRT_ReturnCode code;
    if ((code = nnrti_room(c, x->rank + 1)) != NNRT_SUCCESS ||
        (code = nnrti_one_element(c, 2, "onValue")) != NNRT_SUCCESS ||
        (code = nnrti_one_element(c, 3, "offValue")) != NNRT_SUCCESS ||
        (code = nnrti_one_element(c, 1, "depth")) != NNRT_SUCCESS ||
        (code = nnrti_known(c, 1, "depth")) != NNRT_SUCCESS)
        return code;
    depth = nnrti_element_unbounded(&c->in[1], 0) ? 1 : nnrti_value(&c->in[1], 0);
    if (a->axis < -1 || a->axis > x->rank)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis is %l, expected -1 to %d", a->axis, x->rank);
    if (depth < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "depth is %l, expected at least 1", depth);
    if (depth > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "depth is %l: too large", depth);
    a->axis = a->axis < 0 ? x->rank : a->axis;
    for (int32_t i = 0; i <= x->rank; i++)
        dims[i] = i == a->axis ? (int32_t)depth : x->dims[i < a->axis ? i : i - 1];
    nnrti_result(c, 0, x->rank + 1, dims);
    nnrti_result_inserted(c, (int32_t)a->axis);
    nnrti_from_value(c, 0, (int32_t)a->axis, &c->in[1], 0);
    for (uint32_t i = 2; i < 4; i++)
        if ((code = nnrti_quant_single(c, i)) != NNRT_SUCCESS ||
            (code = nnrti_quant_moves(c, i, 0, NULL)) != NNRT_SUCCESS)
            return code;
    return NNRT_SUCCESS;
}

/* >>kernel ONE_HOT */

/* indices [A..,B..] int32 or int64; onValue and offValue one element each of y's type, whatever that is; y [A..,D,B..]
   with D at place axis. depth is not used.
   y[a..,k,b..] = indices[a..,b..] == k ? onValue : offValue; an index outside [0,D) matches nothing. */
NNRT_API NNRT_ReturnCode nnrt_one_hot(const NNRT_OneHot *attr, const nnrt_view *indices, const nnrt_view *depth,
                                      const nnrt_view *onValue, const nnrt_view *offValue, nnrt_view *y)
{
    const int32_t axis = (int32_t)attr->axis;
    const size_t width = nnrt_type_size(y->dataType);
    const nnrt_view places = nnrti_without_axes(y, axis, 1);
    nnrti_walk w;
    (void)depth;
    nnrti_copy(offValue, y);
    if (!nnrti_walk_first(&w, indices, &places, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const int64_t index = nnrti_index(indices, w.at[0] + i * w.row[0]);
            const ptrdiff_t at = w.at[1] + i * w.row[1];
            if (index >= 0 && index < y->dims[axis])
                memcpy(nnrti_at(y->data, at + (ptrdiff_t)index * y->strides[axis], width), onValue->data, width);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op PAD_EDGE */

/* Derived: how much comes before each axis, as int32. */
static NNRT_ReturnCode nnrti_rule_pad_edge(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    int64_t pads[2 * NNRT_MAX_RANK];
    int32_t before[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if ((code = nnrti_pad_list(c, pads)) != NNRT_SUCCESS || (code = nnrti_pad_result(c, pads, to)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < x->rank; i++) {
        if (x->dims[i] == 0 && c->out[0].dims[i] > 0 && !c->open)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis %d of input '%s' %o has no edge, but paddings %l and %l",
                              i, x->name, x, pads[2 * i], pads[2 * i + 1]);
        before[i] = (int32_t)pads[2 * i];
    }
    if ((code = nnrti_derive_ints(c, x->rank, before)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel PAD_EDGE */

/* x [L0,L1,..], before [b0,b1,..] int32, y of as many axes, each at least b + L; y must not overlap x. Any element type.
   y[o0,o1,..] = x[s0,s1,..] with, on each axis, s = o - b, kept inside 0..L-1.
   Axis by axis, the first and the last place that are there are copied into those before and behind. */
NNRT_API NNRT_ReturnCode nnrt_pad_edge(const NNRT_PadEdge *attr, const nnrt_view *x, const nnrt_view *before,
                                       nnrt_view *y)
{
    nnrt_view inner = *y;
    (void)attr;
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    for (int32_t i = 0; i < x->rank; i++)
        inner = nnrti_part(&inner, i, ((const int32_t *)before->data)[i], x->dims[i]);
    nnrti_copy(x, &inner);
    for (int32_t i = 0; i < x->rank; i++) {
        const int32_t b = ((const int32_t *)before->data)[i], L = x->dims[i], a = y->dims[i] - b - L;
        const nnrt_view first = nnrti_part(&inner, i, 0, 1), last = nnrti_part(&inner, i, L - 1, 1);
        nnrt_view front = nnrti_part(&inner, i, -b, b), back = nnrti_part(&inner, i, L, a);
        nnrti_copy(&first, &front);
        nnrti_copy(&last, &back);
        inner = nnrti_part(&inner, i, -b, y->dims[i]);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op PAD_FUSION */

/* pads = before, after of every axis, from input 1 or else from the attribute. */
static NNRT_ReturnCode nnrti_pad_given(nnrt_resolve *c, const NNRT_PadFusion *a, int64_t pads[2 * NNRT_MAX_RANK])
{
    const nnrt_operand *x = &c->in[0];
    if (!nnrti_absent(&c->in[1]))
        return nnrti_pad_list(c, pads);
    if (a->paddings.count != (uint32_t)x->rank)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "paddings has %u lists, expected one for each of the %d axes",
                          a->paddings.count, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        if (a->paddings.data[i].count != 2)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "paddings[%d] has %u entries, expected 2: before, after", i,
                              a->paddings.data[i].count);
        pads[2 * i] = a->paddings.data[i].data[0];
        pads[2 * i + 1] = a->paddings.data[i].data[1];
    }
    return NNRT_SUCCESS;
}

/* Entry i of pads is possible: a mirror does not reach beyond the far edge of its axis. */
static NNRT_ReturnCode nnrti_pad_check(nnrt_resolve *c, NNRT_PaddingMode mode, const int64_t *pads, int32_t i)
{
    const int64_t extent = c->in[0].dims[i / 2], most = mode == NNRT_PADDING_MODE_REFLECT ? extent - 1 : extent;
    if (!nnrti_absent(&c->in[1]) && nnrti_element_open(&c->in[1], (size_t)i))
        return NNRT_SUCCESS;
    if (mode != NNRT_PADDING_MODE_CONSTANT && pads[i] > 0 && pads[i] > most)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "paddings[%d][%d] is %l, but %s of axis %d, extent %d, gives at most %l", i / 2, i % 2,
                          pads[i], mode == NNRT_PADDING_MODE_REFLECT ? "REFLECT" : "SYMMETRIC", i / 2,
                          c->in[0].dims[i / 2], most > 0 ? most : (int64_t)0);
    return NNRT_SUCCESS;
}

/* attr->paddings = R lists of before, after. */
static NNRT_ReturnCode nnrti_pad_set(nnrt_resolve *c, NNRT_PadFusion *a, const int64_t *pads)
{
    const uint32_t rank = (uint32_t)c->in[0].rank;
    NNRT_Int64List *lists = (NNRT_Int64List *)c->alloc(c->user, (rank + 1u) * sizeof(*lists));
    if (lists == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its attributes");
    for (uint32_t i = 0; i < rank; i++) {
        int64_t *pair = nnrti_list(c, &lists[i], 2);
        if (pair == NULL)
            return NNRT_OUT_OF_MEMORY;
        pair[0] = pads[2 * i];
        pair[1] = pads[2 * i + 1];
    }
    a->paddings.data = lists;
    a->paddings.count = rank;
    return NNRT_SUCCESS;
}

/* Derived: what CONSTANT pads with when there is no input value, one element of x's type: constantValue, converted.
   Quantised integers get round(constantValue/scale + zeroPoint). */
static NNRT_ReturnCode nnrti_pad_value(nnrt_resolve *c, const NNRT_PadFusion *a)
{
    const nnrt_operand *x = &c->in[0];
    double number = (double)a->constantValue;
    void *element;
    NNRT_ReturnCode code = nnrti_derive(c, x->dataType, 0, NULL, &element);
    if (code != NNRT_SUCCESS)
        return code;
    if (!nnrti_absent(&c->in[2])) {
        if ((code = nnrti_one_element(c, 2, "value")) != NNRT_SUCCESS ||
            (code = nnrti_quant_single(c, 2)) != NNRT_SUCCESS)
            return code;
        return nnrti_quant_moves(c, 2, 0, NULL);
    }
    if (a->paddingMode == NNRT_PADDING_MODE_CONSTANT && (code = nnrti_quant_single(c, 0)) != NNRT_SUCCESS)
        return code;
    if (nnrti_is_quant(x)) {
        const double scale = x->quant[0].scale, zero = (double)x->quant[0].zeroPoint;
        number = scale > 0 && number == number ? nnrti_round(number / scale + zero) : zero;
    }
    nnrti_number(x->dataType, number, element);
    return NNRT_SUCCESS;
}

/* Resolved: attr->paddings has a list for every axis. */
static NNRT_ReturnCode nnrti_rule_pad_fusion(nnrt_resolve *c)
{
    NNRT_PadFusion *a = (NNRT_PadFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int64_t pads[2 * NNRT_MAX_RANK];
    int32_t to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if ((code = nnrti_pad_given(c, a, pads)) != NNRT_SUCCESS)
        return code;
    if (a->paddingMode == NNRT_PADDING_MODE_RESERVED)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "paddingMode is RESERVED, expected CONSTANT, REFLECT or SYMMETRIC");
    for (int32_t i = 0; i < 2 * x->rank; i++)
        if ((code = nnrti_pad_check(c, a->paddingMode, pads, i)) != NNRT_SUCCESS)
            return code;
    if ((code = nnrti_pad_result(c, pads, to)) != NNRT_SUCCESS || (code = nnrti_pad_set(c, a, pads)) != NNRT_SUCCESS ||
        (code = nnrti_quant_moves(c, 0, 0, to)) != NNRT_SUCCESS)
        return code;
    return nnrti_pad_value(c, a);
}

/* >>kernel PAD_FUSION */

/* What place j < 0 or j >= L of a mirrored axis shows, a place in 0..L-1: SYMMETRIC repeats the edge, REFLECT not. */
static int32_t nnrti_pad_source(int32_t j, int32_t L, NNRT_PaddingMode mode)
{
    const int32_t edge = mode == NNRT_PADDING_MODE_SYMMETRIC ? 1 : 0;
    return j < 0 ? -j - edge : L - 2 + edge - (j - L);
}

/* v lies inside a larger view: mirrors its places along one axis into the `before` places in front of it and the
   `after` places behind it, which v takes in. */
static void nnrti_pad_mirror(nnrt_view *v, int32_t axis, int32_t before, int32_t after, NNRT_PaddingMode mode)
{
    const int32_t L = v->dims[axis];
    for (int32_t k = 0; k < before + after; k++) {
        const int32_t j = k < before ? k - before : L + (k - before);
        const nnrt_view from = nnrti_part(v, axis, nnrti_pad_source(j, L, mode), 1);
        nnrt_view to = nnrti_part(v, axis, j, 1);
        nnrti_copy(&from, &to);
    }
    *v = nnrti_part(v, axis, -before, before + L + after);
}

/* x [L0,L1,..], y [b0+L0+a0, b1+L1+a1, ..] with attr->paddings [[b0,a0],[b1,a1],..]; value, or where that is NULL
   constant, is one element; all of one element type, whatever that is; y must not overlap x. The input paddings is not
   used.
   y[o0,o1,..] = x[s0,s1,..] with, on each axis, j = o - b and s = j where 0 <= j < L. Elsewhere
   CONSTANT: the element is that value; REFLECT: s = -j or 2L-2-j; SYMMETRIC: s = -j-1 or 2L-1-j.
   A mirror is made inside y, axis by axis: what is mirrored along an axis holds the mirrors along the earlier ones. */
NNRT_API NNRT_ReturnCode nnrt_pad_fusion(const NNRT_PadFusion *attr, const nnrt_view *x, const nnrt_view *paddings,
                                         const nnrt_view *value, const nnrt_view *constant, nnrt_view *y)
{
    const NNRT_Int64List *pads = attr->paddings.data;
    nnrt_view inner = *y;
    (void)paddings;
    for (int32_t i = 0; i < x->rank; i++)
        inner = nnrti_part(&inner, i, (int32_t)pads[i].data[0], x->dims[i]);
    if (attr->paddingMode == NNRT_PADDING_MODE_CONSTANT)
        nnrti_copy(value != NULL ? value : constant, y);
    nnrti_copy(x, &inner);
    for (int32_t i = 0; i < x->rank && attr->paddingMode != NNRT_PADDING_MODE_CONSTANT; i++)
        nnrti_pad_mirror(&inner, i, (int32_t)pads[i].data[0], (int32_t)pads[i].data[1], attr->paddingMode);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op POW_FUSION */

static NNRT_ReturnCode nnrti_rule_pow_fusion(nnrt_resolve *c)
{
    return nnrti_binary_rule(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
}

/* >>kernel POW_FUSION */

/* Integers: computed in float64, then toward zero and saturating; NaN gives 0. */
static void nnrti_pow_row_int(const NNRT_PowFusion *attr, const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y,
                              nnrt_view *z)
{
    const double scale = (double)attr->scale, shift = (double)attr->shift;
    const size_t width = nnrt_type_size(z->dataType);
    double a[NNRTI_CHUNK], b[NNRTI_CHUNK];
    for (ptrdiff_t i = 0; i < w->count; i += NNRTI_CHUNK) {
        const int32_t n = w->count - i < NNRTI_CHUNK ? (int32_t)(w->count - i) : NNRTI_CHUNK;
        nnrti_read_f64(a, nnrti_at(x->data, w->at[1] + i * w->row[1], width), w->row[1], n, x->dataType);
        nnrti_read_f64(b, nnrti_at(y->data, w->at[2] + i * w->row[2], width), w->row[2], n, y->dataType);
        for (int32_t k = 0; k < n; k++)
            a[k] = nnrti_pow(scale * a[k] + shift, b[k]);
        nnrti_write_f64(nnrti_at(z->data, w->at[0] + i * w->row[0], width), w->row[0], a, n, z->dataType);
    }
}

static void nnrti_pow_row(const NNRT_PowFusion *attr, const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y,
                          nnrt_view *z)
{
    const float scale = attr->scale, shift = attr->shift == 0 ? -0.0f : attr->shift; /* -0 + 0 would be 0 */
    switch (z->dataType) {
        NNRTI_ROW_CASE(FLOAT32, float, float, float, (float), nnrti_powf(scale * a + shift, b))
        NNRTI_ROW_CASE(FLOAT64, double, double, double, (double), nnrti_pow((double)scale * a + (double)shift, b))
        NNRTI_ROW_HALF(nnrti_powf(scale * a + shift, b), NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
    default: nnrti_pow_row_int(attr, w, x, y, z); break;
    }
}

/* z = (scale*x + shift) ^ y by the rules of C's pow, x and y broadcast to the dims of z; numbers of any type. z may
   lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_pow_fusion(const NNRT_PowFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                         nnrt_view *z)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do
        nnrti_pow_row(attr, &w, x, y, z);
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op PRELU_FUSION */

/* Derived of quantised data: the list with the factors of x >= 0 and, at the third place, of slope * x; of float slopes the
   kernel makes them. */
static NNRT_ReturnCode nnrti_quant_prelu(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *weight = &c->in[1], *y = &c->out[0];
    double s;
    int32_t *factors;
    NNRT_ReturnCode code = nnrti_quant_operand(c, x, -1);
    if (code == NNRT_SUCCESS && nnrti_is_quant(weight))
        code = nnrti_quant_operand(c, weight, -1);
    if (code != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 3, &factors)) != NNRT_SUCCESS)
        return code;
    memset(factors, 0, 6 * sizeof(*factors));
    s = nnrti_is_quant(weight) ? nnrti_quant_scale(weight, 0) : 0;
    nnrti_factor(nnrti_quant_ratio(nnrti_quant_scale(x, 0), nnrti_quant_scale(y, 0)), factors);
    nnrti_factor(nnrti_quant_ratio(nnrti_quant_scale(x, 0) * s, nnrti_quant_scale(y, 0)), factors + 4);
    return NNRT_SUCCESS;
}

/* channelShared decides nothing: the length of weight does.
   Derived: when quantised, zero point and bounds of the result, the factors of x, none, and of x * weight. */
static NNRT_ReturnCode nnrti_rule_prelu_fusion(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0], *weight = &c->in[1];
    int32_t channels = x->rank < 2 ? 1 : nnrti_channels(c);
    if (weight->rank != 1 || (weight->dims[0] != 1 && weight->dims[0] != channels))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "weight '%s' is %o, expected [1] or [%d], the channels of '%s' %o",
                          weight->name, weight, channels, x->name, x);
    nnrti_result_like(c, 0);
    return nnrti_is_quant(x) ? nnrti_quant_prelu(c) : NNRT_SUCCESS;
}

/* >>kernel PRELU_FUSION */

/* x and y [..,C], weight [C] or [1]: y[..,c] = x >= 0 ? x : weight[c]*x. A NaN stays. y may lie where x lies. */
NNRTI_INLINE NNRT_ReturnCode nnrti_prelu_fusion(const nnrt_view *x, const nnrt_view *weight, nnrt_view *y,
                                                NNRT_DataType type)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, weight))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const float v = nnrti_load(x->data, w.at[1] + i * w.row[1], type);
            const float slope = nnrti_load(weight->data, w.at[2] + i * w.row[2], type);
            nnrti_store(y->data, w.at[0] + i * w.row[0], v >= 0 ? v : slope * v, type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_prelu_fusion_f32(const NNRT_PReLUFusion *attr, const nnrt_view *x,
                                               const nnrt_view *weight, nnrt_view *y)
{
    (void)attr;
    return nnrti_prelu_fusion(x, weight, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_prelu_fusion_f16(const NNRT_PReLUFusion *attr, const nnrt_view *x,
                                               const nnrt_view *weight, nnrt_view *y)
{
    (void)attr;
    return nnrti_prelu_fusion(x, weight, y, NNRT_DATA_TYPE_FLOAT16);
}

/* The same in float64. */
NNRT_API NNRT_ReturnCode nnrt_prelu_fusion_f64(const NNRT_PReLUFusion *attr, const nnrt_view *x,
                                               const nnrt_view *weight, nnrt_view *y)
{
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, weight))
        return NNRT_SUCCESS;
    do {
        const double *in = (const double *)x->data + w.at[1], *slope = (const double *)weight->data + w.at[2];
        double *out = (double *)y->data + w.at[0];
        for (int32_t i = 0; i < w.count; i++) {
            const double v = in[i * w.row[1]];
            out[i * w.row[0]] = v >= 0 ? v : slope[i * w.row[2]] * v;
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

static int64_t nnrti_quant_prelu_of(int32_t a, int32_t b, const int32_t *quant)
{
    const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
    return a >= 0 ? nnrti_rescale(a, factor) : nnrti_rescale((int64_t)a * b, factor + 4);
}

/* Quantised int8 or uint8, weight too. */
NNRT_API NNRT_ReturnCode nnrt_prelu_fusion_q8(const NNRT_PReLUFusion *attr, const nnrt_view *x, const nnrt_view *weight,
                                              const nnrt_view *list, nnrt_view *y)
{
    (void)attr;
    return nnrti_binary_q8(x, weight, list, y, nnrti_quant_prelu_of);
}

/* The same, weight is float32 or float16: the one place where a factor is made in a run, as weight may be told there. */
NNRT_API NNRT_ReturnCode nnrt_prelu_fusion_q8_float(const NNRT_PReLUFusion *attr, const nnrt_view *x,
                                                    const nnrt_view *weight, const nnrt_view *list, nnrt_view *y)
{
    const int32_t *quant = (const int32_t *)list->data;
    const double sx = (double)(float)x->quant[0].scale, sy = (double)(float)y->quant[0].scale;
    nnrti_walk w;
    (void)attr;
    if (!nnrti_walk_first(&w, y, x, weight))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t a = nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - x->quant[0].zeroPoint;
            const double slope = (double)nnrti_load(weight->data, w.at[2] + i * w.row[2], weight->dataType);
            const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
            int32_t below[2];
            if (a < 0) {
                nnrti_factor(sy > 0 && slope == slope ? sx * slope / sy : 0, below);
                factor = below;
            }
            nnrti_store_8(y->data, w.at[0] + i * w.row[0], nnrti_quant_result(nnrti_rescale(a, factor), quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op PRIOR_BOX */

/* Every number of a list must be > 0. */
static NNRT_ReturnCode nnrti_positive(nnrt_resolve *c, const char *what, const NNRT_FloatList *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!(list->data[i] > 0))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s[%u] is %f, expected more than 0", what, i,
                              (double)list->data[i]);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_prior_attr(nnrt_resolve *c, const NNRT_PriorBox *a)
{
    NNRT_ReturnCode code;
    if ((code = nnrti_positive(c, "minSizes", &a->minSizes)) != NNRT_SUCCESS ||
        (code = nnrti_positive(c, "maxSizes", &a->maxSizes)) != NNRT_SUCCESS ||
        (code = nnrti_positive(c, "aspectRatios", &a->aspectRatios)) != NNRT_SUCCESS)
        return code;
    if (a->minSizes.count == 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "minSizes has 0 entries, expected at least 1");
    if (a->maxSizes.count != 0 && a->maxSizes.count != a->minSizes.count)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "maxSizes has %u entries, expected %u as minSizes, or none",
                          a->maxSizes.count, a->minSizes.count);
    if (a->variances.count != 4)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "variances has %u entries, expected 4", a->variances.count);
    if (!(a->stepW >= 0 && a->stepH >= 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "stepW is %f and stepH %f, expected at least 0", (double)a->stepW,
                          (double)a->stepH);
    return NNRT_SUCCESS;
}

/* aspectRatios becomes 1 and all that differ from those before by more than 1e-6, each with its inverse where flip asks for
   them. */
static NNRT_ReturnCode nnrti_prior_ratios(nnrt_resolve *c, NNRT_PriorBox *a)
{
    const NNRT_FloatList given = a->aspectRatios;
    size_t bytes;
    float *ratios =
        nnrt_mul_size(given.count, 2 * sizeof(*ratios), &bytes) && nnrt_add_size(bytes, sizeof(*ratios), &bytes)
            ? (float *)c->alloc(c->user, bytes)
            : NULL;
    uint32_t n = 0;
    if (ratios == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its attributes");
    ratios[n++] = 1;
    for (uint32_t i = 0; i < given.count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < n; k++)
            known = known || nnrti_absf(given.data[i] - ratios[k]) <= 1e-6f;
        if (known)
            continue;
        ratios[n++] = given.data[i];
        if (a->flip)
            ratios[n++] = 1 / given.data[i];
    }
    a->aspectRatios = nnrt_float_list(ratios, n);
    return NNRT_SUCCESS;
}

/* Half the width and half the height of every box of a cell, in pixels. */
static void nnrti_prior_sizes(const NNRT_PriorBox *a, float *half)
{
    for (uint32_t i = 0; i < a->minSizes.count; i++) {
        const float least = a->minSizes.data[i];
        const bool square = a->maxSizes.count > 0;
        const uint32_t place = a->minMaxAspectRatiosOrder ? 1 : a->aspectRatios.count; /* of the box of maxSizes */
        for (uint32_t k = 0, ratio = 0; k < a->aspectRatios.count + (square ? 1 : 0); k++) {
            if (square && k == place) {
                half[0] = half[1] = nnrti_sqrtf(least * a->maxSizes.data[i]) / 2;
            } else {
                const float root = nnrti_sqrtf(a->aspectRatios.data[ratio++]);
                half[0] = least * root / 2;
                half[1] = least / root / 2;
            }
            half += 2;
        }
    }
}

/* Resolved: aspectRatios has all ratios, 1 first; stepW and stepH are not 0. Derived: float32 [P,2], half the width and
   height of the boxes of a cell, and float32 [2], width and height of the image. The image is in the order of the feature,
   unless it has a format of its own. */
static NNRT_ReturnCode nnrti_rule_prior_box(nnrt_resolve *c)
{
    NNRT_PriorBox *a = (NNRT_PriorBox *)c->resolved;
    const nnrt_operand *x = &c->in[0], *image = &c->in[1];
    const nnrt_operand *order = image->format != NNRT_FORMAT_NONE ? image : x;
    int32_t dims[4] = {0, 0, 0, 4}, pairs[2] = {0, 2};
    int64_t count;
    void *sizes, *extents;
    NNRT_ReturnCode code;
    if (x->rank != 4 || image->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o and '%s' %o, expected 4 axes", x->name, x,
                          image->name, image);
    if ((code = nnrti_prior_attr(c, a)) != NNRT_SUCCESS || (code = nnrti_prior_ratios(c, a)) != NNRT_SUCCESS)
        return code;
    count = nnrti_product(a->aspectRatios.count, a->minSizes.count);
    if (count > INT32_MAX - (int64_t)a->maxSizes.count)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "%u sizes in %u ratios: too large", a->minSizes.count,
                          a->aspectRatios.count);
    dims[0] = x->dims[nnrti_image_axis(x, 0)];
    dims[1] = x->dims[nnrti_image_axis(x, 1)];
    dims[2] = (int32_t)(count + a->maxSizes.count);
    pairs[0] = dims[2];
    if ((code = nnrti_derive(c, NNRT_DATA_TYPE_FLOAT32, 2, pairs, &sizes)) != NNRT_SUCCESS ||
        (code = nnrti_derive(c, NNRT_DATA_TYPE_FLOAT32, 1, &pairs[1], &extents)) != NNRT_SUCCESS)
        return code;
    nnrti_prior_sizes(a, (float *)sizes);
    for (int32_t i = 0; i < 2; i++)
        ((float *)extents)[i] = (float)image->dims[nnrti_image_axis(order, 1 - i)];
    if (a->stepW == 0 || a->stepH == 0) {
        a->stepW = ((const float *)extents)[0] / (float)dims[1];
        a->stepH = ((const float *)extents)[1] / (float)dims[0];
    }
    for (uint32_t i = 0; i < 2; i++) {
        if ((code = nnrti_float_result(c, i)) != NNRT_SUCCESS)
            return code;
        nnrti_result(c, i, 4, dims);
        nnrti_from(c, i, 0, x, nnrti_image_axis(x, 0));
        nnrti_from(c, i, 1, x, nnrti_image_axis(x, 1));
        nnrti_fixed(c, i, 2);
        nnrti_fixed(c, i, 3);
    }
    return NNRT_SUCCESS;
}

/* >>kernel PRIOR_BOX */

/* half float32 [P,2]: half the width and height of box i, in pixels; image float32 [2]: width and height of the image;
   boxes and variances float32 [H,W,P,4]. boxes[h,w,i,..] = left, top, right, bottom of the box with its centre at
   (w + offset)*stepW, (h + offset)*stepH, as parts of the image; clip: clamped to [0,1]. variances repeats the four. One of
   boxes and variances may be NULL. */
NNRT_API NNRT_ReturnCode nnrt_prior_box(const NNRT_PriorBox *attr, const nnrt_view *half, const nnrt_view *image,
                                        nnrt_view *boxes, nnrt_view *variances)
{
    const float *extent = (const float *)image->data;
    const nnrt_view *y = boxes != NULL ? boxes : variances;
    for (int32_t h = 0; h < y->dims[0]; h++)
        for (int32_t w = 0; w < y->dims[1]; w++)
            for (int32_t i = 0; i < y->dims[2]; i++)
                for (int32_t k = 0; k < 4; k++) {
                    const float size = ((const float *)half->data)[2 * i + k % 2];
                    const float centre =
                        k % 2 == 0 ? ((float)w + attr->offset) * attr->stepW : ((float)h + attr->offset) * attr->stepH;
                    const float v = (k < 2 ? centre - size : centre + size) / extent[k % 2];
                    if (boxes != NULL)
                        ((float *)boxes->data)[nnrti_place(boxes, h, w, i, k)] = !attr->clip ? v
                                                                                 : v < 0     ? 0
                                                                                 : v > 1     ? 1
                                                                                             : v;
                    if (variances != NULL)
                        ((float *)variances->data)[nnrti_place(variances, h, w, i, k)] = attr->variances.data[k];
                }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op QUANT_DTYPE_CAST */

/* What may be cast to what: the integers to each other and to floats, floats to the integers. */
static bool nnrti_quant_pair(NNRT_DataType from, NNRT_DataType to)
{
    return nnrti_type_in(to, NNRTI_CAST_INTS) ||
           (nnrti_type_in(to, NNRT_TYPES_FLOAT) && !nnrti_type_in(from, NNRT_TYPES_FLOAT));
}

/* The parameters of a quantised operand: one, or one per index of the given axis. */
static NNRT_ReturnCode nnrti_quant_check(nnrt_resolve *c, const char *what, const nnrt_operand *o, int32_t axis)
{
    const int32_t bits = 8 * (int32_t)nnrt_type_size(o->dataType);
    const int32_t extent = axis < c->in[0].rank ? c->in[0].dims[axis] : 1;
    if (o->quantCount == 0 || o->quant == NULL)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s '%s' is %t and has no QuantParam", what, o->name, o->dataType);
    if (o->quantCount > 1 && o->quantCount != (uint32_t)extent)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "%s '%s' has %u QuantParams, expected 1 or %d, the extent of axis %d", what, o->name,
                          o->quantCount, extent, axis);
    for (uint32_t i = 0; i < o->quantCount; i++) {
        const NNRT_QuantParam *q = &o->quant[i];
        if (!(q->scale >= 0 && q->scale <= DBL_MAX) || (q->scale == 0 && q->zeroPoint != 0))
            return nnrti_fail(
                c, NNRT_INVALID_PARAMETER,
                "QuantParam %u of %s '%s' has scale %f and zeroPoint %d, expected a scale above 0 or both 0", i, what,
                o->name, q->scale, q->zeroPoint);
        if (q->numBits < 1 || q->numBits > bits)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "QuantParam %u of %s '%s' has numBits %d, expected 1 to %d", i,
                              what, o->name, q->numBits, bits);
    }
    return NNRT_SUCCESS;
}

/* Several parameters of x or of y are along *axis; said: an attribute says so, otherwise a quantAxis may name another.
   The kernel then sees both tensors as [A,C,B], C the extent of the axis, and y tells those behind it which it is. */
static NNRT_ReturnCode nnrti_quant_along(nnrt_resolve *c, int32_t *axis, bool said)
{
    nnrt_operand *const both[2] = {&c->in[0], &c->out[0]};
    const nnrt_operand *x = &c->in[0];
    int32_t before[2], behind[2], dims[3];
    bool several = false;
    for (int32_t i = 0; i < 2; i++) {
        nnrt_operand *o = both[i];
        if (!nnrti_is_quant(o) || o->quantCount == 1)
            continue;
        if (o->quantAxis > x->rank || (o->quantAxis > 0 && (said || several) && o->quantAxis - 1 != *axis))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "'%s' has its QuantParams along axis %d (quantAxis %d), expected axis %d", o->name,
                              o->quantAxis - 1, o->quantAxis, *axis);
        *axis = o->quantAxis > 0 ? o->quantAxis - 1 : *axis;
        several = true;
    }
    if (!several || x->rank == 0)
        return NNRT_SUCCESS;
    if (!nnrti_two_parts(x, *axis, before) || !nnrti_two_parts(x, *axis + 1, behind))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input '%s' %o: its size does not fit", x->name, x);
    dims[0] = before[0];
    dims[1] = x->dims[*axis];
    dims[2] = behind[1];
    for (int32_t i = 0; i < 2; i++)
        nnrti_see_as(both[i], 3, dims);
    if (nnrti_is_quant(both[1]))
        both[1]->quantAxis = *axis + 1;
    return NNRT_SUCCESS;
}

/* srcT and dstT become the types; axis: the channel axis as it is given, NULL: the tensors say, or it is axis 0. */
static NNRT_ReturnCode nnrti_quant_cast_rule(nnrt_resolve *c, int64_t *srcT, int64_t *dstT, const int64_t *axis)
{
    nnrt_operand *x = &c->in[0], *y = &c->out[0];
    int32_t along = 0;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    *srcT = *srcT == NNRT_DATA_TYPE_UNKNOWN ? x->dataType : *srcT;
    *dstT = *dstT == NNRT_DATA_TYPE_UNKNOWN ? y->dataType : *dstT;
    if (*srcT != x->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "srcT is %l, but input '%s' is %t (%d)", *srcT, x->name,
                          x->dataType, x->dataType);
    if (!nnrti_quant_pair(x->dataType, (NNRT_DataType)*dstT))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "dstT is %l (%t), to which %t cannot be cast", *dstT,
                          (NNRT_DataType)*dstT, x->dataType);
    if (y->dataType != NNRT_DATA_TYPE_UNKNOWN && y->dataType != *dstT)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "dstT is %l, but output '%s' is declared %t (%d)", *dstT, y->name,
                          y->dataType, y->dataType);
    y->dataType = (NNRT_DataType)*dstT;
    nnrti_result_like(c, 0);
    if (axis != NULL && (x->quantCount > 1 || y->quantCount > 1) &&
        (code = nnrti_axis(c, "axis", *axis, x->rank, &along)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_quant_along(c, &along, axis != NULL)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_type_in(x->dataType, NNRT_TYPES_FLOAT))
        code = nnrti_quant_check(c, "input", x, along);
    if (code == NNRT_SUCCESS && !nnrti_type_in(y->dataType, NNRT_TYPES_FLOAT))
        code = nnrti_quant_check(c, "output", y, along);
    return code;
}

static NNRT_ReturnCode nnrti_rule_quant_dtype_cast(nnrt_resolve *c)
{
    NNRT_QuantDTypeCast *a = (NNRT_QuantDTypeCast *)c->resolved;
    return nnrti_quant_cast_rule(c, &a->srcT, &a->dstT, NULL);
}

/* >>kernel QUANT_DTYPE_CAST */

/* The parameters of place k of the axis that they are of. */
static const NNRT_QuantParam *nnrti_quant_at(const nnrt_view *v, ptrdiff_t k)
{
    return &v->quant[v->quantCount > 1 ? k : 0];
}

/* clamp(v + zeroPoint) to the range of numBits; uint8 is 0..255. */
static double nnrti_quant_clamp(double v, const NNRT_QuantParam *q, NNRT_DataType type)
{
    const double half = (double)((int64_t)1 << (q->numBits - 1));
    const double least = type == NNRT_DATA_TYPE_UINT8 ? 0.0 : -half;
    const double greatest = type == NNRT_DATA_TYPE_UINT8 ? 255.0 : half - 1.0;
    v += (double)q->zeroPoint;
    return v < least ? least : v > greatest ? greatest : v;
}

/* One element on its way from x to y; k is its place along the axis of the parameters. A scale counts as float32; one of
   0, an empty range, gives 0. */
static double nnrti_quant_value(const nnrt_view *x, const nnrt_view *y, double v, ptrdiff_t k)
{
    const NNRT_QuantParam *from = x->dataType < NNRT_DATA_TYPE_FLOAT16 ? nnrti_quant_at(x, k) : NULL;
    const NNRT_QuantParam *to = y->dataType < NNRT_DATA_TYPE_FLOAT16 ? nnrti_quant_at(y, k) : NULL;
    int32_t factor[2];
    if (to == NULL)
        return from != NULL ? (double)((float)from->scale * (float)(v - (double)from->zeroPoint)) : v;
    if ((float)to->scale == 0)
        return 0.0;
    if (from == NULL) {
        v = (double)((float)v / (float)to->scale);
        return nnrti_quant_clamp(v == v ? nnrti_round(v) : 0.0, to, y->dataType);
    }
    if (x->dataType == y->dataType && from->numBits == to->numBits && from->zeroPoint == to->zeroPoint &&
        from->scale == to->scale)
        return v;
    nnrti_factor((double)(float)from->scale / (double)(float)to->scale, factor);
    v = (double)nnrti_rescale((int64_t)(v - (double)from->zeroPoint), factor);
    return nnrti_quant_clamp(v, to, y->dataType);
}

/* y = x in the element type of y, x and y of one shape; float16 or float32, and int8, uint8, int16 or int32 with
   parameters: one, or x and y are [A,C,B] and there is one for each place of C. To a float scale*(q - zeroPoint), from a
   float clamp(round(x/scale) + zeroPoint), both in float32, NaN gives zeroPoint; between integers the same in integer
   arithmetic (nnrti_rescale), with equal parameters of one type a copy. y may lie where x lies when their elements have
   one size. */
NNRT_API NNRT_ReturnCode nnrt_quant_dtype_cast(const NNRT_QuantDTypeCast *attr, const nnrt_view *x, nnrt_view *y)
{
    const size_t in = nnrt_type_size(x->dataType), out = nnrt_type_size(y->dataType);
    nnrt_view channel = *y; /* element [a,c,b] "lies" at c: the walk tells the place along the axis of the parameters */
    double v[NNRTI_CHUNK];
    nnrti_walk w;
    (void)attr;
    for (int32_t i = 0; i < y->rank; i++)
        channel.strides[i] = i == 1 && (x->quantCount > 1 || y->quantCount > 1) ? 1 : 0;
    if (!nnrti_walk_first(&w, y, x, &channel))
        return NNRT_SUCCESS;
    do
        for (ptrdiff_t i = 0; i < w.count; i += NNRTI_CHUNK) {
            const int32_t n = w.count - i < NNRTI_CHUNK ? (int32_t)(w.count - i) : NNRTI_CHUNK;
            nnrti_read_f64(v, nnrti_at(x->data, w.at[1] + i * w.row[1], in), w.row[1], n, x->dataType);
            for (int32_t k = 0; k < n; k++)
                v[k] = nnrti_quant_value(x, y, v[k], w.at[2] + (i + k) * w.row[2]);
            nnrti_write_f64(nnrti_at(y->data, w.at[0] + i * w.row[0], out), w.row[0], v, n, y->dataType);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op QUANT_DTYPE_CAST_V2 */

/* Resolved: axis is used up; the kernel is that of QUANT_DTYPE_CAST. */
static NNRT_ReturnCode nnrti_rule_quant_dtype_cast_v2(nnrt_resolve *c)
{
    NNRT_QuantDTypeCastV2 *a = (NNRT_QuantDTypeCastV2 *)c->resolved;
    return nnrti_quant_cast_rule(c, &a->srcT, &a->dstT, &a->axis);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RANGE */

/* *n = max(0, ceil((limit - start) / delta)), v = start, limit, delta. */
static NNRT_ReturnCode nnrti_range_reals(nnrt_resolve *c, const double v[3], double *n)
{
    double count;
    if (v[2] == 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "delta is 0");
    count = (v[1] - v[0]) / v[2];
    if (count != count)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%f to %f in steps of %f is no number of values", v[0], v[1],
                          v[2]);
    *n = count > 0 ? nnrti_ceil(count) : 0;
    return NNRT_SUCCESS;
}

/* The same of integers, exactly: start, limit and delta have 64 bits, with a sign or without. */
static NNRT_ReturnCode nnrti_range_integers(nnrt_resolve *c, const uint64_t v[3], bool isSigned, double *n)
{
    const bool down = isSigned && (int64_t)v[2] < 0;
    const uint64_t from = down ? v[1] : v[0], to = down ? v[0] : v[1], step = down ? 0u - v[2] : v[2];
    if (step == 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "delta is 0");
    *n = (isSigned ? (int64_t)from < (int64_t)to : from < to) ? (double)((to - from - 1u) / step + 1u) : 0;
    return NNRT_SUCCESS;
}

/* v[i] and w[i] = the one element of input i, the former of integers, the latter of floats; late ones stay. */
static NNRT_ReturnCode nnrti_range_given(nnrt_resolve *c, uint64_t v[3], double w[3])
{
    static const char *const names[] = {"start", "limit", "delta"};
    NNRT_ReturnCode code;
    if (c->nIn == 2)
        return nnrti_fail(c, NNRT_INVALID_INPUT, "has 2 inputs, expected 1, or 3: start, limit, delta");
    for (uint32_t i = 0; i < 3; i++) {
        const nnrt_operand *o = &c->in[i];
        if (nnrti_absent(o))
            return nnrti_fail(c, NNRT_NULL_PTR, "input %u (%s) is missing", i, names[i]);
        if ((code = nnrti_one_element(c, i, names[i])) != NNRT_SUCCESS)
            return code;
        if (nnrti_late(c, i))
            c->open = c->late = true;
        else if (o->data == NULL)
            return nnrti_unknown(c, i, names[i]);
        else if (o->dataType >= NNRT_DATA_TYPE_FLOAT16)
            nnrti_read_f64(&w[i], o->data, 1, 1, o->dataType);
        else
            v[i] = nnrti_load_int(o->data, 0, o->dataType);
    }
    return NNRT_SUCCESS;
}

/* Start, limit and delta come from three inputs, or the attributes. Of open values only the limit bounds the extent, and
   counted upwards. Derived: start and delta, two float64 for a result of floats, else two int64. */
static NNRT_ReturnCode nnrti_rule_range(nnrt_resolve *c)
{
    const NNRT_Range *a = (const NNRT_Range *)c->resolved;
    const nnrt_operand *limit = &c->in[1];
    const bool given = c->nIn > 1, isFloat = c->in[0].dataType >= NNRT_DATA_TYPE_FLOAT16;
    const bool isSigned = !given || c->in[0].dataType < NNRT_DATA_TYPE_UINT8;
    const bool open = given && nnrti_element_open(limit, 0);
    uint64_t v[3] = {(uint64_t)a->start, (uint64_t)a->limit, (uint64_t)a->delta};
    double w[3] = {(double)a->start, (double)a->limit, (double)a->delta}, n = 1;
    int32_t dims[1] = {2};
    void *steps;
    NNRT_ReturnCode code;
    if (given && (code = nnrti_range_given(c, v, w)) != NNRT_SUCCESS)
        return code;
    if (given && (c->late || nnrti_element_open(&c->in[0], 0) || nnrti_element_open(&c->in[2], 0) ||
                  nnrti_element_unbounded(limit, 0) || (open && (isFloat ? w[2] < 0 : isSigned && (int64_t)v[2] < 0))))
        c->unbounded = true;
    else if ((code = isFloat ? nnrti_range_reals(c, w, &n) : nnrti_range_integers(c, v, isSigned, &n)) != NNRT_SUCCESS)
        return code;
    if (n > INT32_MAX && !open)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would have %f elements: too many", n);
    if ((code = nnrti_derive(c, isFloat ? NNRT_DATA_TYPE_FLOAT64 : NNRT_DATA_TYPE_INT64, 1, dims, &steps)) !=
        NNRT_SUCCESS)
        return code;
    v[1] = v[2];
    w[1] = w[2];
    memcpy(steps, isFloat ? (const void *)w : (const void *)v, 2 * sizeof(w[0]));
    dims[0] = n < INT32_MAX ? (int32_t)n : INT32_MAX;
    nnrti_result(c, 0, 1, dims);
    if (!given || (!open && !c->unbounded))
        nnrti_fixed(c, 0, 0);
    else if (!c->unbounded && !isFloat && v[0] == 0 && v[2] == 1)
        nnrti_from_value(c, 0, 0, limit, 0);
    return NNRT_SUCCESS;
}

/* >>kernel RANGE */

/* y[k] = start + k*delta; steps are start and delta: two int64, of which the result keeps the low bits, or two float64,
   whose result is rounded once. x, a value or three, is not used. */
NNRT_API NNRT_ReturnCode nnrt_range(const NNRT_Range *attr, const nnrt_view *x, const nnrt_view *steps, nnrt_view *y)
{
    const size_t width = nnrt_type_size(y->dataType);
    (void)attr, (void)x;
    for (int32_t k = 0; k < y->dims[0]; k++) {
        const uint64_t *v = (const uint64_t *)steps->data;
        const double *w = (const double *)steps->data;
        const double real = y->dataType < NNRT_DATA_TYPE_FLOAT16 ? 0 : w[0] + k * w[1];
        if (y->dataType < NNRT_DATA_TYPE_FLOAT16)
            nnrti_store_int(y->data, k * y->strides[0], v[0] + (uint64_t)k * v[1], y->dataType);
        else
            nnrti_write_f64(nnrti_at(y->data, k * y->strides[0], width), 1, &real, 1, y->dataType);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RANK */

/* The result is known now: out[0].data. */
static NNRT_ReturnCode nnrti_rule_rank(nnrt_resolve *c)
{
    nnrt_operand *y = &c->out[0];
    const NNRT_ReturnCode code = nnrti_index_result(c, 0);
    void *value;
    if (code != NNRT_SUCCESS)
        return code;
    value = c->alloc(c->user, sizeof(int64_t));
    if (value == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its value");
    nnrti_number(y->dataType, (double)c->in[0].rank, value);
    nnrti_result(c, 0, 0, NULL);
    y->data = value;
    return NNRT_SUCCESS;
}

/* >>kernel RANK */

/* x of any type and shape, y int32 or int64 []. y = the number of axes that x has. */
NNRT_API NNRT_ReturnCode nnrt_rank(const NNRT_Rank *attr, const nnrt_view *x, nnrt_view *y)
{
    (void)attr;
    nnrti_store_int(y->data, 0, (uint64_t)x->rank, y->dataType);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op REAL_DIV */

/* The result has the type of the inputs, of integers float32. */
static NNRT_ReturnCode nnrti_rule_real_div(nnrt_resolve *c)
{
    const NNRT_DataType given = c->in[0].dataType, declared = c->out[0].dataType;
    const NNRT_DataType type = nnrti_type_in(given, NNRT_TYPES_INDEX) ? NNRT_DATA_TYPE_FLOAT32 : given;
    if (declared != NNRT_DATA_TYPE_UNKNOWN && declared != type)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output 0 '%s' is declared %t, but the quotient of %t is %t",
                          c->out[0].name, declared, given, type);
    c->out[0].dataType = type;
    return nnrti_rule_binary(c);
}

/* >>kernel REAL_DIV */

static void nnrti_real_div_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                               NNRT_ActivationType activation)
{
    switch (x->dataType) {
        NNRTI_ROWS_FLOAT(a / b, activation)
        NNRTI_ROW_CASE(INT32, float, int32_t, double, (double), a / b)
        NNRTI_ROW_CASE(INT64, float, int64_t, double, (double), a / b)
    default: break;
    }
}

/* z = x / y, broadcast to the dims of z; x / 0 is infinite or NaN. x and y of one type: floats, then z is of it, too;
   or int32 or int64, then z is float32 and the quotient is computed in float64. z may lie where an input of its shape
   lies. */
NNRT_API NNRT_ReturnCode nnrt_real_div(const NNRT_RealDiv *attr, const nnrt_view *x, const nnrt_view *y, nnrt_view *z)
{
    (void)attr;
    nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_real_div_row);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RECIPROCAL */
/* >>kernel RECIPROCAL */

static float nnrti_reciprocalf(float v)
{
    return 1.0f / v;
}

static double nnrti_reciprocal(double v)
{
    return 1.0 / v;
}

/* y = 1/x, element by element; 0 and -0 give the infinities. y may lie where x lies. */
NNRTI_UNARY(Reciprocal, reciprocal, nnrti_reciprocalf, nnrti_reciprocal)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op REDUCE_FUSION */

/* Derived of quantised data, behind the axes: the list with the factor of x, or of its square; of ALL it is {what 1 is
   without the zero point, 0}. */
static NNRT_ReturnCode nnrti_quant_reduce(nnrt_resolve *c, NNRT_ReduceMode mode)
{
    const nnrt_operand *x = &c->in[0], *y = &c->out[0];
    double d;
    int32_t *factor;
    NNRT_ReturnCode code;
    if ((code = nnrti_quant_operand(c, x, -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 1, &factor)) != NNRT_SUCCESS)
        return code;
    d = nnrti_quant_scale(x, 0);
    nnrti_factor(nnrti_quant_ratio(mode == NNRT_REDUCE_MODE_SUM_SQUARE ? d * d : d, nnrti_quant_scale(y, 0)), factor);
    if (mode == NNRT_REDUCE_MODE_MAX || mode == NNRT_REDUCE_MODE_MIN)
        nnrti_quant_refit(x, y, factor);
    if (mode == NNRT_REDUCE_MODE_ALL) {
        factor[0] = nnrti_quant_of(y, 1) - y->quant[0].zeroPoint;
        factor[1] = 0;
    }
    return NNRT_SUCCESS;
}

/* Resolved: coeff is the factor of the result (1 = none).
   Derived: when quantised, also zero point, bounds and factor of the result. */
static NNRT_ReturnCode nnrti_rule_reduce_fusion(nnrt_resolve *c)
{
    NNRT_ReduceFusion *a = (NNRT_ReduceFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    NNRT_ReturnCode code;
    if (x->dataType == NNRT_DATA_TYPE_BOOL && a->mode != NNRT_REDUCE_MODE_ALL && a->mode != NNRT_REDUCE_MODE_MAX &&
        a->mode != NNRT_REDUCE_MODE_MIN)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE,
                          "input '%s' is bool, but mode %d is not defined for it (ALL, MAX, MIN are)", x->name,
                          a->mode);
    code = nnrti_reduce_rule(c, a->mode, a->keepDims, a->reduceToEnd);
    if (!a->reduceToEnd || !(a->coeff > 1e-5f || a->coeff < -1e-5f))
        a->coeff = 1;
    a->reduceToEnd = false;
    return code == NNRT_SUCCESS && nnrti_is_quant(x) ? nnrti_quant_reduce(c, a->mode) : code;
}

/* >>kernel REDUCE_FUSION */

/* Up to 16 results in the making, side by side. rest[t] is what rounding has taken from sum[t]. */
typedef struct nnrti_reduce_lanes {
    int32_t count;
    float sum[16], rest[16], v[16]; /* v: the next element of each */
} nnrti_reduce_lanes;

/* sum += v with the rounding error of this addition added to rest (Knuth's two-sum). */
static void nnrti_reduce_add(nnrti_reduce_lanes *l)
{
    for (int32_t t = 0; t < l->count; t++) {
        const float sum = l->sum[t] + l->v[t], part = sum - l->sum[t];
        l->rest[t] += (l->sum[t] - (sum - part)) + (l->v[t] - part);
        l->sum[t] = sum;
    }
}

/* Takes v into the results. MAX and MIN of a set with a NaN are NaN. */
static void nnrti_reduce_take(nnrti_reduce_lanes *l, NNRT_ReduceMode mode)
{
    const int32_t n = l->count;
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX:
        for (int32_t t = 0; t < n; t++)
            l->sum[t] = l->v[t] > l->sum[t] || l->v[t] != l->v[t] ? l->v[t] : l->sum[t];
        return;
    case NNRT_REDUCE_MODE_MIN:
        for (int32_t t = 0; t < n; t++)
            l->sum[t] = l->v[t] < l->sum[t] || l->v[t] != l->v[t] ? l->v[t] : l->sum[t];
        return;
    case NNRT_REDUCE_MODE_PROD:
        for (int32_t t = 0; t < n; t++)
            l->sum[t] *= l->v[t];
        return;
    case NNRT_REDUCE_MODE_ALL:
        for (int32_t t = 0; t < n; t++)
            l->sum[t] = l->v[t] != 0 ? l->sum[t] : 0.0f;
        return;
    case NNRT_REDUCE_MODE_SUM_SQUARE:
    case NNRT_REDUCE_MODE_L2:
        for (int32_t t = 0; t < n; t++)
            l->v[t] *= l->v[t];
        break;
    case NNRT_REDUCE_MODE_ASUM:
        for (int32_t t = 0; t < n; t++)
            l->v[t] = l->v[t] < 0 ? -l->v[t] : l->v[t];
        break;
    default: break; /* MEAN, SUM */
    }
    nnrti_reduce_add(l);
}

static float nnrti_reduce_start(NNRT_ReduceMode mode)
{
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX: return -INFINITY;
    case NNRT_REDUCE_MODE_MIN: return INFINITY;
    case NNRT_REDUCE_MODE_PROD:
    case NNRT_REDUCE_MODE_ALL: return 1;
    default: return 0;
    }
}

/* The result of one lane for a set of n. An infinite sum leaves no meaningful rest. */
static float nnrti_reduce_end(NNRT_ReduceMode mode, float sum, float rest, size_t n)
{
    const float total = rest - rest == 0 ? sum + rest : sum;
    if (mode == NNRT_REDUCE_MODE_MEAN)
        return n > 0 ? total / (float)n : NAN;
    return mode == NNRT_REDUCE_MODE_L2 ? nnrti_sqrtf(total) : total;
}

/* float32 and float16, see the kernels below. */
NNRTI_INLINE NNRT_ReturnCode nnrti_reduce_float(const NNRT_ReduceFusion *attr, const nnrt_view *x,
                                                const nnrt_view *axes, nnrt_view *y, NNRT_DataType type)
{
    const NNRT_ReduceMode mode = attr->mode;
    nnrti_reduction r = nnrti_reduction_of(x, axes);
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do {
        for (int32_t q = 0; q < w.count; q += 16) {
            const ptrdiff_t first = w.at[1] + q * w.row[1];
            nnrti_reduce_lanes lanes;
            lanes.count = w.count - q < 16 ? w.count - q : 16;
            for (int32_t t = 0; t < lanes.count; t++) {
                lanes.sum[t] = nnrti_reduce_start(mode);
                lanes.rest[t] = 0;
            }
            do {
                for (int32_t i = 0; i < r.walk.count && !r.empty; i++) {
                    const ptrdiff_t at = first + r.walk.at[0] + i * r.walk.row[0];
                    for (int32_t t = 0; t < lanes.count; t++)
                        lanes.v[t] = nnrti_load(x->data, at + t * w.row[1], type);
                    nnrti_reduce_take(&lanes, mode);
                }
            } while (!r.empty && nnrti_walk_next(&r.walk));
            for (int32_t t = 0; t < lanes.count; t++)
                nnrti_store(y->data, w.at[0] + (q + t) * w.row[0],
                            nnrti_reduce_end(mode, lanes.sum[t], lanes.rest[t], r.count) * attr->coeff, type);
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

static double nnrti_reduce_f64_take(NNRT_ReduceMode mode, double sum, double v)
{
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX: return v > sum || v != v ? v : sum;
    case NNRT_REDUCE_MODE_MIN: return v < sum || v != v ? v : sum;
    case NNRT_REDUCE_MODE_PROD: return sum * v;
    case NNRT_REDUCE_MODE_ALL: return v != 0 ? sum : 0;
    case NNRT_REDUCE_MODE_SUM_SQUARE:
    case NNRT_REDUCE_MODE_L2: return sum + v * v;
    case NNRT_REDUCE_MODE_ASUM: return sum + (v < 0 ? -v : v);
    default: return sum + v; /* MEAN, SUM */
    }
}

static double nnrti_reduce_f64(const NNRT_ReduceFusion *attr, const double *x, nnrti_reduction *r)
{
    double sum = (double)nnrti_reduce_start(attr->mode);
    do {
        for (int32_t i = 0; i < r->walk.count && !r->empty; i++)
            sum = nnrti_reduce_f64_take(attr->mode, sum, x[r->walk.at[0] + i * r->walk.row[0]]);
    } while (!r->empty && nnrti_walk_next(&r->walk));
    if (attr->mode == NNRT_REDUCE_MODE_MEAN)
        sum = r->count > 0 ? sum / (double)r->count : (double)NAN;
    return (attr->mode == NNRT_REDUCE_MODE_L2 ? nnrti_sqrt(sum) : sum) * (double)attr->coeff;
}

/* Integers are taken modulo 2^64; order has the top bit set for signed types, so that sum ^ order compares right. */
static uint64_t nnrti_reduce_int_take(NNRT_ReduceMode mode, uint64_t sum, uint64_t v, uint64_t order)
{
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX: return (v ^ order) > (sum ^ order) ? v : sum;
    case NNRT_REDUCE_MODE_MIN: return (v ^ order) < (sum ^ order) ? v : sum;
    case NNRT_REDUCE_MODE_PROD: return sum * v;
    case NNRT_REDUCE_MODE_ALL: return v != 0 ? sum : 0;
    case NNRT_REDUCE_MODE_SUM_SQUARE:
    case NNRT_REDUCE_MODE_L2: return sum + v * v;
    case NNRT_REDUCE_MODE_ASUM: return sum + (v & order ? 0u - v : v);
    default: return sum + v; /* MEAN, SUM */
    }
}

/* The largest number whose square is not above v. */
static uint64_t nnrti_root_of(uint64_t v)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= v)
            root |= bit;
    return root;
}

/* x points at the first element of the set. MEAN is cut toward zero, L2 too. */
static uint64_t nnrti_reduce_int(NNRT_ReduceMode mode, const void *x, NNRT_DataType type, nnrti_reduction *r)
{
    const uint64_t order = type >= NNRT_DATA_TYPE_INT8 && type <= NNRT_DATA_TYPE_INT64 ? (uint64_t)1 << 63 : 0;
    uint64_t sum = mode == NNRT_REDUCE_MODE_PROD || mode == NNRT_REDUCE_MODE_ALL ? 1
                   : mode == NNRT_REDUCE_MODE_MAX                                ? order
                   : mode == NNRT_REDUCE_MODE_MIN                                ? ~order
                                                                                 : 0;
    do {
        for (int32_t i = 0; i < r->walk.count && !r->empty; i++)
            sum = nnrti_reduce_int_take(mode, sum, nnrti_load_int(x, r->walk.at[0] + i * r->walk.row[0], type), order);
    } while (!r->empty && nnrti_walk_next(&r->walk));
    if (mode == NNRT_REDUCE_MODE_MEAN)
        return sum & order ? 0u - (0u - sum) / r->count : sum / r->count;
    return mode == NNRT_REDUCE_MODE_L2 ? nnrti_root_of(sum) : sum;
}

/* y[i..] = reduction of x[i..] over all indices along axes (int32, ascending); y has extent 1 there and may not overlap
   x. MEAN sum/n, MAX, MIN, PROD, SUM, SUM_SQUARE, ASUM sum of |x|, ALL of x != 0, L2 sqrt of SUM_SQUARE; times coeff.
   Sets are visited in row order. The sums carry their rounding errors along, so they are as good as rounded once. */
NNRT_API NNRT_ReturnCode nnrt_reduce_fusion_f32(const NNRT_ReduceFusion *attr, const nnrt_view *x,
                                                const nnrt_view *axes, nnrt_view *y)
{
    return nnrti_reduce_float(attr, x, axes, y, NNRT_DATA_TYPE_FLOAT32);
}

/* The same for all other types. float16 is computed in float32 as above, float64 in plain sums, integers modulo 2^64
   and stored modulo their own size; coeff is for floats. bool (ALL, MAX, MIN) gives 0 or 1. */
NNRT_API NNRT_ReturnCode nnrt_reduce_fusion(const NNRT_ReduceFusion *attr, const nnrt_view *x, const nnrt_view *axes,
                                            nnrt_view *y)
{
    const NNRT_DataType type = x->dataType;
    const size_t width = nnrt_type_size(type);
    nnrti_reduction r = nnrti_reduction_of(x, axes);
    nnrti_walk w;
    if (type == NNRT_DATA_TYPE_FLOAT16)
        return nnrti_reduce_float(attr, x, axes, y, NNRT_DATA_TYPE_FLOAT16);
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do {
        for (int32_t q = 0; q < w.count; q++) {
            const void *set = nnrti_at(x->data, w.at[1] + q * w.row[1], width);
            const ptrdiff_t out = w.at[0] + q * w.row[0];
            if (type == NNRT_DATA_TYPE_FLOAT64)
                ((double *)y->data)[out] = nnrti_reduce_f64(attr, (const double *)set, &r);
            else
                nnrti_store_int(y->data, out, nnrti_reduce_int(attr->mode, set, type, &r), type);
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

static int64_t nnrti_reduce_take_q8(NNRT_ReduceMode mode, int64_t sum, int32_t v)
{
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX: return v > sum ? v : sum;
    case NNRT_REDUCE_MODE_MIN: return v < sum ? v : sum;
    case NNRT_REDUCE_MODE_ALL: return v != 0 ? sum : 0;
    case NNRT_REDUCE_MODE_SUM_SQUARE: return sum + (int64_t)v * v;
    case NNRT_REDUCE_MODE_ASUM: return sum + (v < 0 ? -v : v);
    default: return sum + v; /* MEAN, SUM */
    }
}

/* factor = that of the sum of n, divided by n: m * 2^k / n with as many bits as int64 holds. */
static void nnrti_reduce_mean_q8(int32_t factor[2], size_t n)
{
    int32_t k = nnrti_bit_count(n) - 1;
    k = k > 32 ? 32 : k;
    k = k > 31 + factor[1] ? 31 + factor[1] : k;
    factor[0] = (int32_t)((uint64_t)((int64_t)factor[0] * ((int64_t)1 << k)) / n);
    factor[1] -= k;
}

/* PROD and L2 of a set, as the float32 kernel computes them of the real values. */
static int64_t nnrti_reduce_real_q8(NNRT_ReduceMode mode, const nnrt_view *x, ptrdiff_t first, nnrti_reduction *r,
                                    const nnrt_view *y)
{
    const float sx = (float)x->quant[0].scale;
    nnrti_reduce_lanes l;
    l.count = 1;
    l.sum[0] = nnrti_reduce_start(mode);
    l.rest[0] = 0;
    do {
        for (int32_t i = 0; i < r->walk.count && !r->empty; i++) {
            const ptrdiff_t at = first + r->walk.at[0] + i * r->walk.row[0];
            l.v[0] = sx * (float)(nnrti_load_8(x->data, at, x->dataType) - x->quant[0].zeroPoint);
            nnrti_reduce_take(&l, mode);
        }
    } while (!r->empty && nnrti_walk_next(&r->walk));
    return nnrti_quant_real(nnrti_reduce_end(mode, l.sum[0], l.rest[0], r->count), (float)y->quant[0].scale);
}

/* Quantised int8 or uint8, with the list of the rule: MEAN, MAX, MIN, SUM, SUM_SQUARE, ASUM and ALL from exact sums. */
NNRT_API NNRT_ReturnCode nnrt_reduce_fusion_q8(const NNRT_ReduceFusion *attr, const nnrt_view *x, const nnrt_view *axes,
                                               const nnrt_view *list, nnrt_view *y)
{
    const int32_t *quant = (const int32_t *)list->data;
    nnrti_reduction r = nnrti_reduction_of(x, axes);
    const int64_t start = attr->mode == NNRT_REDUCE_MODE_MAX   ? INT32_MIN
                          : attr->mode == NNRT_REDUCE_MODE_MIN ? INT32_MAX
                                                               : attr->mode == NNRT_REDUCE_MODE_ALL;
    const bool real = attr->mode == NNRT_REDUCE_MODE_PROD || attr->mode == NNRT_REDUCE_MODE_L2;
    int32_t factor[2];
    nnrti_walk w;
    memcpy(factor, quant + NNRTI_QUANT_FACTORS, sizeof(factor));
    if (attr->mode == NNRT_REDUCE_MODE_MEAN && r.count > 0)
        nnrti_reduce_mean_q8(factor, r.count);
    if (!nnrti_walk_first(&w, y, x, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t q = 0; q < w.count; q++) {
            const ptrdiff_t first = w.at[1] + q * w.row[1];
            int64_t sum = start;
            if (real) {
                sum = nnrti_reduce_real_q8(attr->mode, x, first, &r, y);
                nnrti_store_8(y->data, w.at[0] + q * w.row[0], nnrti_quant_result(sum, quant));
                continue;
            }
            do {
                for (int32_t i = 0; i < r.walk.count && !r.empty; i++)
                    sum = nnrti_reduce_take_q8(
                        attr->mode, sum,
                        nnrti_load_8(x->data, first + r.walk.at[0] + i * r.walk.row[0], x->dataType) -
                            x->quant[0].zeroPoint);
            } while (!r.empty && nnrti_walk_next(&r.walk));
            sum = attr->mode == NNRT_REDUCE_MODE_ALL ? sum * factor[0] : nnrti_rescale(sum, factor);
            nnrti_store_8(y->data, w.at[0] + q * w.row[0], nnrti_quant_result(sum, quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RESHAPE */

/* dims = the list in input 1: 0 takes over the extent of x (of an empty x: is 0), -1 stays, *inferred tells where. */
static NNRT_ReturnCode nnrti_reshape_list(nnrt_resolve *c, int32_t rank, int32_t *dims, int32_t *inferred)
{
    const nnrt_operand *x = &c->in[0];
    const bool copies = nnrti_count(x) > 0;
    *inferred = -1;
    for (int32_t i = 0; i < rank; i++) {
        const int64_t entry = nnrti_value(&c->in[1], (size_t)i);
        if (nnrti_element_unbounded(&c->in[1], (size_t)i) ||
            (nnrti_element_open(&c->in[1], (size_t)i) && entry > 0 && (uint64_t)entry > nnrti_most(x))) {
            /* as many as x has elements at most; of an empty x any, but a 1 will do */
            dims[i] = nnrti_most(x) < INT32_MAX ? (int32_t)nnrti_most(x) : INT32_MAX;
            dims[i] = dims[i] > 0 ? dims[i] : 1;
            continue;
        }
        if (entry < -1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "shape[%d] is %l, expected at least -1", i, entry);
        if (entry == -1 && *inferred >= 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "shape has -1 at %d and at %d, at most one can be inferred",
                              *inferred, i);
        if (entry == -1)
            *inferred = i;
        if (entry > INT32_MAX || (entry == 0 && copies && i >= x->rank))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "shape[%d] is %l, which input '%s' %o cannot give", i, entry,
                              x->name, x);
        dims[i] = entry == 0 && copies ? x->dims[i] : (int32_t)entry;
    }
    return NNRT_SUCCESS;
}

/* to[i] = the axis of y that has the extent of axis i of x and as many elements before it: its places are the same. */
static void nnrti_reshape_axes(const nnrt_operand *x, const nnrt_operand *y, int32_t to[NNRT_MAX_RANK])
{
    int64_t before = 1;
    for (int32_t i = 0; i < x->rank; before = nnrti_product(before, x->dims[i]), i++) {
        int64_t passed = 1;
        int32_t k = 0;
        while (k < y->rank && (passed != before || y->dims[k] != x->dims[i]))
            passed = nnrti_product(passed, y->dims[k++]);
        to[i] = k < y->rank ? k : -1;
    }
}

/* Where the extents of the result are from: x, for an entry 0; the list, which may hold open extents; and the one that is
   inferred is what is left of x's extents without the others: a number, one open extent, or what is computed. */
static void nnrti_reshape_symbols(nnrt_resolve *c, int32_t rank, int32_t inferred)
{
#ifdef NNRT_FIRMWARE
    (void)c, (void)rank, (void)inferred;
#else
    const nnrt_operand *x = &c->in[0], *list = &c->in[1];
    nnrt_operand *y = &c->out[0];
    uint32_t left[NNRT_MAX_RANK], count = 0;
    int64_t fixed = 1, taken = 1, most[NNRT_MAX_RANK] = {0}; /* of what is left, the numbers */
    bool whole = true;
    if (inferred >= 0 && nnrti_element_open(list, (size_t)inferred))
        return; /* perhaps it is another one that is inferred */
    for (int32_t k = 0; k < x->rank; k++) {
        const int64_t number = x->dims[k] > 0 ? x->dims[k] : 1;
        if (x->symbols[k] == 0) {
            fixed = nnrti_product(fixed, number);
            continue;
        }
        most[count] = number;
        left[count++] = x->symbols[k];
    }
    for (int32_t i = 0; i < rank; i++) {
        uint32_t at = 0;
        if (i == inferred)
            continue;
        nnrti_from_value(c, 0, i, list, (size_t)i);
        if (nnrti_value(list, (size_t)i) == 0 && i < x->rank && y->symbols[i] == 0)
            nnrti_from(c, 0, i, x, i);
        if (y->symbols[i] == 0) {
            taken = nnrti_product(taken, y->dims[i] > 0 ? y->dims[i] : 1);
            continue;
        }
        while (at < count && left[at] != y->symbols[i])
            at++;
        whole = whole && at < count;
        if (at < count) {
            left[at] = left[--count];
            most[at] = most[count];
        }
        if (nnrti_element_unbounded(list, (size_t)i) && nnrti_most(x) > 0) /* nothing bounds those of an empty x */
            nnrti_bounded(c, 0, i);
    }
    nnrti_result_of_as_many(c, x);
    if (inferred < 0)
        return;
    if (c->open) { /* the extents that are open may be as small as 1: those of x that are left make it, or all of x */
        int64_t rest = fixed;
        for (uint32_t i = 0; i < count; i++)
            rest = nnrti_product(rest, most[i]);
        if ((uint64_t)rest > nnrti_most(x))
            rest = (int64_t)nnrti_most(x);
        rest = nnrti_quotient(rest, taken);
        y->dims[inferred] = rest < INT32_MAX ? (int32_t)rest : INT32_MAX;
        nnrti_bounded(c, 0, inferred);
    }
    if (whole && count == 0 && nnrti_remainder(fixed, taken) == 0)
        nnrti_fixed(c, 0, inferred);
    else if (whole && count == 1 && fixed == taken)
        y->symbols[inferred] = left[0];
#endif
}

/* The shape must have as many elements as x. y is seen with the shape of x. */
static NNRT_ReturnCode nnrti_rule_reshape(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    int32_t dims[NNRT_MAX_RANK] = {0}, to[NNRT_MAX_RANK], rank, inferred;
    size_t count = nnrti_count(x), given = 0;
    nnrt_operand y;
    NNRT_ReturnCode code;
    if ((code = nnrti_known_list(c, 1, "shape", 0, NNRT_MAX_RANK)) != NNRT_SUCCESS)
        return code;
    rank = c->in[1].dims[0];
    if ((code = nnrti_reshape_list(c, rank, dims, &inferred)) != NNRT_SUCCESS)
        return code;
    if (inferred >= 0)
        dims[inferred] = 1;
    if (!nnrt_dims_count(dims, rank, &given) && !c->open)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "shape has far more elements than input '%s' %o", x->name, x);
    if (inferred >= 0 && given > 0 && count % given == 0 && count / given <= INT32_MAX) {
        dims[inferred] = (int32_t)(count / given);
        given = count;
    }
    y = nnrt_operand_make(x->dataType, rank, dims, NULL);
    if (!c->open && (given != count || (inferred >= 0 && given == 0 && dims[inferred] != 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' %o has %z elements, which do not make %o%s", x->name, x,
                          count, &y, inferred >= 0 ? " or a multiple of it along the inferred axis" : "");
    nnrti_result(c, 0, rank, dims);
    nnrti_reshape_symbols(c, rank, inferred);
    nnrti_see_as(&c->out[0], x->rank, x->dims);
    nnrti_reshape_axes(x, &c->out[0], to);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel RESHAPE */

/* y = x, any element type. The elements keep their order, so y comes here with the dims of x. y may be x itself. This is
   the kernel of SQUEEZE, UNSQUEEZE, EXPAND_DIMS, FLATTEN, FLATTEN_RANGE and ASSIGN, too, and of ABS for unsigned
   integers. */
NNRT_API NNRT_ReturnCode nnrt_reshape(const NNRT_Reshape *attr, const nnrt_view *x, nnrt_view *y)
{
    (void)attr;
    nnrti_copy(x, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RESIZE */

/* The step of the source coordinate along height and width: numerator / denominator. Quotients of extents are kept as
   such, because L / M rounded and multiplied again would miss integers. */
typedef struct nnrti_resize_step {
    double numerator, denominator;
} nnrti_resize_step;

static float nnrti_scale_at(const nnrt_operand *scales, int32_t i)
{
    uint16_t half;
    float scale;
    if (scales->dataType == NNRT_DATA_TYPE_FLOAT16) {
        memcpy(&half, (const uint8_t *)scales->data + (size_t)i * sizeof(half), sizeof(half));
        return nnrti_half_to_float(half);
    }
    memcpy(&scale, (const uint8_t *)scales->data + (size_t)i * sizeof(scale), sizeof(scale));
    return scale;
}

/* Extents and steps from scales of float32 or float16, one for each axis of x; batch and channels have 1. */
static NNRT_ReturnCode nnrti_resize_scales(nnrt_resolve *c, int64_t extent[2], nnrti_resize_step step[2])
{
    const nnrt_operand *x = &c->in[0], *scales = &c->in[1];
    for (int32_t i = 0; i < 4; i++) {
        const float scale = nnrti_scale_at(scales, i);
        const float product = (float)x->dims[i] * scale;
        const int32_t which = i == nnrti_image_axis(x, 0) ? 0 : i == nnrti_image_axis(x, 1) ? 1 : 2;
        if (which == 2 && scale != 1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "scales[%d] is %f, but only height and width can be resized",
                              i, (double)scale);
        if (!(product >= 1 && product < 2147483648.0f))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "scales[%d] is %f: extent %d would become %f", i,
                              (double)scale, x->dims[i], (double)product);
        if (which < 2) {
            extent[which] = (int64_t)product;
            step[which].numerator = 1;
            step[which].denominator = (double)scale;
        }
    }
    return NNRT_SUCCESS;
}

/* extent = [height, width] of the result and the steps L/M or 1/scale, from input 1 or else the attributes. */
static NNRT_ReturnCode nnrti_resize_extents(nnrt_resolve *c, const NNRT_Resize *a, int64_t extent[2],
                                            nnrti_resize_step step[2])
{
    const nnrt_operand *x = &c->in[0], *size = &c->in[1];
    const bool scales = nnrti_type_in(size->dataType, NNRT_TYPES_FLOAT);
    NNRT_ReturnCode code;
    extent[0] = a->newHeight;
    extent[1] = a->newWidth;
    if (!nnrti_absent(size)) {
        if (size->rank != 1 || size->dims[0] != (scales ? 4 : 2))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (size) '%s' is %o, expected %s", size->name, size,
                              scales ? "[4] scales" : "[2]: height, width");
        if ((code = nnrti_known(c, 1, "size")) != NNRT_SUCCESS)
            return code;
        if (scales)
            return (code = nnrti_known_fixed(c, 1, "scales")) == NNRT_SUCCESS ? nnrti_resize_scales(c, extent, step)
                                                                              : code;
        extent[0] = nnrti_value(size, 0);
        extent[1] = nnrti_value(size, 1);
    }
    for (int32_t i = 0; i < 2; i++) {
        if (!nnrti_absent(size) && nnrti_element_unbounded(size, (size_t)i))
            extent[i] = 1;
        if (extent[i] < 1)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%s is %l, expected at least 1",
                              i == 0 ? "newHeight" : "newWidth", extent[i]);
        step[i].numerator = x->dims[nnrti_image_axis(x, i)];
        step[i].denominator = (double)extent[i];
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_resize_attr(nnrt_resolve *c, NNRT_Resize *a)
{
    if (a->method == NNRT_RESIZE_METHOD_UNKNOWN)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "method is UNKNOWN, expected LINEAR, NEAREST or CUBIC");
    if (a->preserveAspectRatio)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "preserveAspectRatio is true, which is not supported: give both extents");
    if (a->excludeOutside != 0 && a->excludeOutside != 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "excludeOutside is %l, expected 0 or 1", a->excludeOutside);
    if (a->cubicCoeff == 0)
        a->cubicCoeff = a->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL ? -0.5f : -0.75f;
    return NNRT_SUCCESS;
}

static double nnrti_nearest(double c, NNRT_NearestMode mode)
{
    switch (mode) {
    case NNRT_NEAREST_MODE_ROUND_HALF_DOWN: return nnrti_ceil(c - 0.5);
    case NNRT_NEAREST_MODE_ROUND_HALF_UP: return nnrti_floor(c + 0.5);
    case NNRT_NEAREST_MODE_FLOOR: return nnrti_floor(c);
    case NNRT_NEAREST_MODE_CEIL: return nnrti_ceil(c);
    default: return nnrti_round(c); /* NORMAL: halves away from zero */
    }
}

/* Quantised coordinates have 10 fraction bits. taps = 3 numbers for each of M places of a result along an axis of extent L:
   two cells and the weight of the second, of 1024; NEAREST takes one. step: of the source coordinate; scale: as it is given, or
   0. */
static void nnrti_quant_taps(const NNRT_Resize *a, const nnrti_resize_step *step, int32_t L, int32_t M, float scale,
                             int32_t *taps)
{
    const bool half = a->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL;
    const bool corners = a->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS && M > 1;
    const int64_t l = corners ? L - 1 : L, m = corners ? M - 1 : M;
    const int64_t unit =
        scale > 0 && !corners ? (int64_t)nnrti_round(1024.0 / (double)scale) : nnrti_quotient(1024 * l + m / 2, m);
    for (int32_t i = 0; i < M; i++, taps += 3) {
        int64_t p = !half ? i * unit : M == 1 ? 0 : i * unit + unit / 2 - 512, cell;
        if (a->method == NNRT_RESIZE_METHOD_NEAREST) {
            const double shift = half ? 0.5 : 0.0, at = (i + shift) * step->numerator / step->denominator - shift;
            p = 1024 * (int64_t)nnrti_nearest(at < 0 ? 0 : at > L ? L : at, a->nearestMode);
        }
        cell = p < 0 ? 0 : nnrti_quotient(p, 1024);
        taps[0] = (int32_t)(cell > L - 1 ? L - 1 : cell);
        taps[1] = taps[0] < L - 1 && p > 1024 * cell ? taps[0] + 1 : taps[0];
        taps[2] = taps[1] > taps[0] ? (int32_t)(p - 1024 * cell) : 0;
    }
}

/* Derived of quantised data: int32[newHeight + newWidth, 3], the taps of the rows and of the columns; the list with the factor
   of x. */
static NNRT_ReturnCode nnrti_quant_resize(nnrt_resolve *c, const NNRT_Resize *a, const nnrti_resize_step step[2])
{
    const nnrt_operand *x = &c->in[0], *scales = &c->in[1];
    const bool scaled = nnrti_type_in(scales->dataType, NNRT_TYPES_FLOAT);
    const int64_t count = a->newHeight + a->newWidth;
    int32_t dims[2] = {0, 3};
    void *data;
    NNRT_ReturnCode code;
    if (a->method == NNRT_RESIZE_METHOD_CUBIC)
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                          "method CUBIC of quantised data is not supported, use QUANT_DTYPE_CAST nodes");
    if (count > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would be %l x %l: too large", a->newHeight, a->newWidth);
    dims[0] = (int32_t)count;
    if ((code = nnrti_quant_operand(c, x, -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, &c->out[0], -1)) != NNRT_SUCCESS ||
        (code = nnrti_derive(c, NNRT_DATA_TYPE_INT32, 2, dims, &data)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t axis = nnrti_image_axis(x, i), M = (int32_t)(i == 0 ? a->newHeight : a->newWidth);
        nnrti_quant_taps(a, &step[i], x->dims[axis], M, scaled ? nnrti_scale_at(scales, axis) : 0,
                         (int32_t *)data + (i == 0 ? 0 : 3 * (ptrdiff_t)a->newHeight));
    }
    return nnrti_quant_values(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
}

/* Resolved: newHeight, newWidth, cubicCoeff. Derived: float64[4], numerator and denominator of the step of height, then
   of width, as the coordinate mode wants them; when quantised instead int32[newHeight + newWidth, 3], for each row and
   column of y two cells and the weight of the second of 1024, and zero point, bounds and factor of the result. */
static NNRT_ReturnCode nnrti_rule_resize(nnrt_resolve *c)
{
    NNRT_Resize *a = (NNRT_Resize *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    nnrti_resize_step step[2];
    int64_t extent[2];
    const int32_t dims[1] = {4};
    void *steps;
    NNRT_ReturnCode code;
    if (!nnrti_absent(&c->in[1]) && !nnrti_type_in(c->in[1].dataType, NNRT_TYPES_INDEX | NNRT_TYPES_FLOAT))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input 1 (size) '%s' has type %t, expected one of %m",
                          c->in[1].name, c->in[1].dataType, NNRT_TYPES_INDEX | NNRT_TYPES_FLOAT);
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if ((code = nnrti_resize_attr(c, a)) != NNRT_SUCCESS ||
        (code = nnrti_resize_extents(c, a, extent, step)) != NNRT_SUCCESS ||
        (code = nnrti_result_image(c, 0, x->dims[0], extent[0], extent[1], x->dims[nnrti_image_axis(x, 2)])) !=
            NNRT_SUCCESS)
        return code;
    nnrti_from(c, 0, nnrti_image_axis(x, 2), x, nnrti_image_axis(x, 2));
    for (int32_t i = 0; i < 2; i++) { /* scales: computed from x's; extents: as given */
        const nnrt_operand *size = &c->in[1];
        if (!nnrti_absent(size) && nnrti_type_in(size->dataType, NNRT_TYPES_FLOAT))
            continue;
        nnrti_fixed(c, 0, nnrti_image_axis(x, i));
        if (!nnrti_absent(size))
            nnrti_from_value(c, 0, nnrti_image_axis(x, i), size, (size_t)i);
    }
    for (int32_t i = 0; i < 2; i++) {
        if (a->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS) {
            step[i].numerator = extent[i] > 1 ? x->dims[nnrti_image_axis(x, i)] - 1 : 0;
            step[i].denominator = extent[i] > 1 ? (double)(extent[i] - 1) : 1;
        } else if (a->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL && extent[i] == 1) {
            step[i].numerator = step[i].denominator = 1; /* coordinate 0 */
        }
    }
    a->newHeight = extent[0];
    a->newWidth = extent[1];
    if (nnrti_is_quant(x))
        return nnrti_quant_resize(c, a, step);
    if ((code = nnrti_derive(c, NNRT_DATA_TYPE_FLOAT64, 1, dims, &steps)) == NNRT_SUCCESS)
        memcpy(steps, step, sizeof(step));
    return code;
}

/* >>kernel RESIZE */

/* Cells along one axis that make an output cell, and their weights: one for NEAREST, two for LINEAR, four for CUBIC. */
typedef struct nnrti_taps {
    int32_t index[4];
    float weight[4];
} nnrti_taps;

/* Weight of a cell at distance d >= 0, coefficient a. */
static double nnrti_cubic(double d, double a)
{
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Four cells around coordinate c. Cells outside are those of the edge; with excludeOutside they have weight 0, and the
   others are scaled to sum 1. */
static void nnrti_cubic_taps(const NNRT_Resize *attr, double c, int32_t L, nnrti_taps *taps)
{
    const double base = nnrti_floor(c);
    double weight[4], sum = 0;
    for (int32_t i = 0; i < 4; i++) {
        const double at = base + (i - 1), d = at < c ? c - at : at - c;
        const bool outside = at < 0 || at > L - 1;
        weight[i] = outside && attr->excludeOutside ? 0 : nnrti_cubic(d, (double)attr->cubicCoeff);
        sum += weight[i];
        taps->index[i] = at < 0 ? 0 : at > L - 1 ? L - 1 : (int32_t)at;
    }
    for (int32_t i = 0; i < 4; i++)
        taps->weight[i] = (float)(attr->excludeOutside ? weight[i] / sum : weight[i]);
}

/* Cells for output index i of an axis of extent L; step = numerator, denominator. Coordinates are computed in float64.
   Returns their number. */
static int32_t nnrti_resize_taps(const NNRT_Resize *attr, int32_t i, int32_t L, const double step[2], nnrti_taps *taps)
{
    const double shift = attr->coordinateTransformMode == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL ? 0.5 : 0.0;
    double c = (i + shift) * step[0] / step[1] - shift, at;
    if (attr->method == NNRT_RESIZE_METHOD_CUBIC) {
        nnrti_cubic_taps(attr, c, L, taps);
        return 4;
    }
    c = c < 0 ? 0 : c;
    at = attr->method == NNRT_RESIZE_METHOD_NEAREST ? nnrti_nearest(c, attr->nearestMode) : nnrti_floor(c);
    taps->index[0] = at > L - 1 ? L - 1 : (int32_t)at;
    taps->weight[0] = 1;
    if (attr->method == NNRT_RESIZE_METHOD_NEAREST)
        return 1;
    taps->index[1] = taps->index[0] < L - 1 ? taps->index[0] + 1 : L - 1;
    taps->weight[1] = (float)(c - at);
    taps->weight[0] = (float)(1 - (c - at));
    return 2;
}

/* Sum of rows of sums of columns, weighted; `at` is the element of the image and channel. Each sum starts with its
   first term, so that a single cell of weight 1 stays as it is. */
NNRTI_INLINE float nnrti_resize_cell(const nnrt_view *x, ptrdiff_t at, const nnrti_taps *rows,
                                     const nnrti_taps *columns, int32_t taps, NNRT_DataType type)
{
    float value = 0;
    for (int32_t i = 0; i < taps; i++) {
        const ptrdiff_t row = at + rows->index[i] * x->strides[1];
        float sum = nnrti_load(x->data, row + columns->index[0] * x->strides[2], type) * columns->weight[0];
        for (int32_t j = 1; j < taps; j++)
            sum += nnrti_load(x->data, row + columns->index[j] * x->strides[2], type) * columns->weight[j];
        value = i == 0 ? sum * rows->weight[0] : value + sum * rows->weight[i];
    }
    return value;
}

/* x [N,H,W,C], y [N,Ho,Wo,C]; they may not overlap. step: float64 numerator and denominator for height, then for width.
   Output index i lies at coordinate (i + h)*numerator/denominator - h of its axis, h = 1/2 for HALF_PIXEL and else 0.
   y[n,p,q,c] is the weighted sum of the cells around (p, q), along the width, then the height. */
NNRTI_INLINE NNRT_ReturnCode nnrti_resize(const NNRT_Resize *attr, const nnrt_view *x, const nnrt_view *step,
                                          nnrt_view *y, NNRT_DataType type)
{
    const double *steps = (const double *)step->data;
    for (int32_t first = 0; first < y->dims[2]; first += 16) {
        const int32_t count = y->dims[2] - first < 16 ? y->dims[2] - first : 16;
        nnrti_taps columns[16], rows;
        for (int32_t t = 0; t < count; t++)
            (void)nnrti_resize_taps(attr, first + t, x->dims[2], steps + 2, &columns[t]);
        for (int32_t p = 0; p < y->dims[1]; p++) {
            const int32_t taps = nnrti_resize_taps(attr, p, x->dims[1], steps, &rows);
            for (int32_t n = 0; n < y->dims[0]; n++)
                for (int32_t t = 0; t < count; t++)
                    for (int32_t c = 0; c < y->dims[3]; c++) {
                        const ptrdiff_t at = nnrti_place(x, n, 0, 0, c);
                        const float v = nnrti_resize_cell(x, at, &rows, &columns[t], taps, type);
                        nnrti_store(y->data, nnrti_place(y, n, p, first + t, c), v, type);
                    }
        }
    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_resize_f32(const NNRT_Resize *attr, const nnrt_view *x, const nnrt_view *step,
                                         nnrt_view *y)
{
    return nnrti_resize(attr, x, step, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_resize_f16(const NNRT_Resize *attr, const nnrt_view *x, const nnrt_view *step,
                                         nnrt_view *y)
{
    return nnrti_resize(attr, x, step, y, NNRT_DATA_TYPE_FLOAT16);
}

/* Quantised int8 or uint8, LINEAR and NEAREST, with the taps and the list of the rule: the stored integers of four cells,
   weighted with 10 bits along each axis, in the sum rounded, halves away from zero. */
NNRT_API NNRT_ReturnCode nnrt_resize_q8(const NNRT_Resize *attr, const nnrt_view *x, const nnrt_view *taps,
                                        const nnrt_view *list, nnrt_view *y)
{
    const int32_t *rows = (const int32_t *)taps->data;
    (void)attr;
    for (int32_t n = 0; n < y->dims[0]; n++)
        for (int32_t p = 0; p < y->dims[1]; p++)
            for (int32_t q = 0; q < y->dims[2]; q++)
                for (int32_t c = 0; c < y->dims[3]; c++) {
                    const int32_t *row = rows + 3 * (ptrdiff_t)p, *column = rows + 3 * ((ptrdiff_t)y->dims[1] + q);
                    int64_t sum = 0;
                    for (int32_t k = 0; k < 4; k++) {
                        const int32_t h = k / 2 == 0 ? 1024 - row[2] : row[2],
                                      w = k % 2 == 0 ? 1024 - column[2] : column[2];
                        sum += (int64_t)nnrti_load_8(x->data, nnrti_place(x, n, row[k / 2], column[k % 2], c),
                                                     x->dataType) *
                               h * w;
                    }
                    nnrti_store_8(y->data, nnrti_place(y, n, p, q, c),
                                  nnrti_requantised(x, nnrti_shift_round(sum, 20), list));
                }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op REVERSE_SEQUENCE */

/* Resolved: batchAxis and timeAxis >= 0. */
static NNRT_ReturnCode nnrti_rule_reverse_sequence(nnrt_resolve *c)
{
    NNRT_ReverseSequence *a = (NNRT_ReverseSequence *)c->resolved;
    const nnrt_operand *x = &c->in[0], *lengths = &c->in[1];
    int32_t batch, time, to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if (x->rank < 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected two axes or more", x->name, x);
    a->batchAxis = a->batchAxis == 0 && a->timeAxis == 0 ? 1 : a->batchAxis;
    if ((code = nnrti_axis(c, "batchAxis", a->batchAxis, x->rank, &batch)) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "timeAxis", a->timeAxis, x->rank, &time)) != NNRT_SUCCESS)
        return code;
    if (batch == time)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "batchAxis and timeAxis are both %d, expected two axes", batch);
    if (lengths->rank != 1 || nnrti_unlike(lengths, 0, x, batch))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "lengths '%s' is %o, expected [%d], the extent of axis %d of '%s' %o",
                          lengths->name, lengths, x->dims[batch], batch, x->name, x);
    a->batchAxis = batch;
    a->timeAxis = time;
    nnrti_result_like(c, 0);
    nnrti_axes_but(c, time, to);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel REVERSE_SEQUENCE */

/* x, y of one shape and any element type, which must not overlap; lengths [B] int32 or int64, B places of batchAxis. Along
   timeAxis the first lengths[b] elements of sequence b stand in turned order, the others as they are.
   NNRT_INVALID_PARAMETER when a length lies outside [0,T]: call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_reverse_sequence(const NNRT_ReverseSequence *attr, const nnrt_view *x,
                                               const nnrt_view *lengths, nnrt_view *y, nnrt_call *call)
{
    const int32_t batch = (int32_t)attr->batchAxis, time = (int32_t)attr->timeAxis, T = x->dims[time];
    for (int32_t b = 0; b < x->dims[batch]; b++) {
        const int64_t length = nnrti_index(lengths, b * lengths->strides[0]);
        const nnrt_view from = nnrti_part(x, batch, b, 1), to = nnrti_part(y, batch, b, 1);
        nnrt_view part, target;
        if (length < 0 || length > T)
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                                  "length %l, element %d of lengths, lies outside axis %d of x, expected 0 to %d",
                                  length, b, time, T);
        part = nnrti_part(&from, time, (int32_t)length, T - (int32_t)length);
        target = nnrti_part(&to, time, (int32_t)length, T - (int32_t)length);
        nnrti_copy(&part, &target);
        part = nnrti_part(&from, time, length > 0 ? (int32_t)length - 1 : 0, (int32_t)length); /* read backward */
        part.strides[time] = -part.strides[time];
        target = nnrti_part(&to, time, 0, (int32_t)length);
        nnrti_copy(&part, &target);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RMS_NORMALIZATION */

/* Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_rms_normalization(nnrt_resolve *c)
{
    NNRT_RMSNormalization *a = (NNRT_RMSNormalization *)c->resolved;
    const nnrt_operand *x = &c->in[0], *scale = &c->in[1];
    const int32_t before = x->rank - scale->rank;
    int32_t axis;
    NNRT_ReturnCode code = nnrti_axis(c, "axis", a->axis, x->rank, &axis);
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < scale->rank; i++)
        if (before < 0 || (!nnrti_is_one(scale, i) && nnrti_unlike(scale, i, x, i + before)))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (scale) '%s' is %o, which does not broadcast to x %o",
                              scale->name, scale, x);
    nnrti_result_like(c, 0);
    a->axis = axis;
    return NNRT_SUCCESS;
}

/* >>kernel RMS_NORMALIZATION */

/* x, y, which may be x, float32 or float16, and scale, which broadcasts to x. y = x / sqrt(m + epsilon) * scale, m the mean
   of the squares of the elements of x from axis on that are normalised together, summed in their order. */
NNRT_API NNRT_ReturnCode nnrt_rms_normalization(const NNRT_RMSNormalization *attr, const nnrt_view *x,
                                                const nnrt_view *scale, nnrt_view *y)
{
    const int32_t axis = (int32_t)attr->axis, count = x->rank - axis, before = x->rank - scale->rank;
    const nnrt_view rows = nnrti_only_axes(x, 0, axis), row = nnrti_only_axes(x, axis, count);
    int32_t place[NNRT_MAX_RANK] = {0};
    if (nnrti_empty(x))
        return NNRT_SUCCESS;
    do {
        int32_t *inner = place + axis;
        const ptrdiff_t at = nnrti_offset(&rows, place);
        float sum = 0, n = 0, by;
        do {
            const float v = nnrti_load(x->data, at + nnrti_offset(&row, inner), x->dataType);
            sum += v * v;
            n += 1;
        } while (nnrti_next_place(&row, inner));
        by = 1.0f / nnrti_sqrtf(sum / n + attr->epsilon);
        do {
            const float v = nnrti_load(x->data, at + nnrti_offset(&row, inner), x->dataType);
            ptrdiff_t k = 0;
            for (int32_t i = 0; i < scale->rank; i++)
                k += scale->dims[i] > 1 ? place[before + i] * scale->strides[i] : 0;
            nnrti_store(y->data, nnrti_offset(y, place), v * by * nnrti_load(scale->data, k, scale->dataType),
                        y->dataType);
        } while (nnrti_next_place(&row, inner));
    } while (nnrti_next_place(&rows, place));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RNN */

static NNRT_ReturnCode nnrti_rule_rnn(nnrt_resolve *c)
{
    NNRT_RNN *a = (NNRT_RNN *)c->resolved;
    nnrti_recurrent r;
    r.activations = &a->activations;
    r.hiddenSize = &a->hiddenSize;
    r.layout = a->layout;
    r.direction = a->direction;
    r.clip = a->clip;
    r.gates = 1;
    r.functions = 1;
    return nnrti_recurrent_rule(c, &r);
}

/* >>kernel RNN */

static void nnrti_rnn_step(const nnrti_cell *m)
{
    for (int32_t k = 0; k < m->H; k++)
        m->sums[k] = nnrti_cell_bias(m, 0, k) + nnrti_cell_bias(m, 1, k);
    nnrti_cell_add(m, m->w, 0, m->in, m->sums);
    nnrti_cell_add(m, m->r, 0, m->h, m->sums);
    for (int32_t k = 0; k < m->H; k++)
        m->h[k] = nnrti_cell_activate(m, 0, m->sums[k]);
}

/* As nnrt_gru, with w [D,H,I], r [D,H,H], b [D,2*H] and one activation of each direction: per step
   h = f(b + b' + w*x + r*h), in this order. Scratch: 4*(I + 3*H) bytes. */
NNRT_API NNRT_ReturnCode nnrt_rnn(const NNRT_RNN *attr, const nnrt_view *x, const nnrt_view *w, const nnrt_view *r,
                                  const nnrt_view *b, const nnrt_view *sequenceLens, const nnrt_view *initialH,
                                  nnrt_view *y, nnrt_view *yH, nnrt_call *call)
{
    nnrti_cell m;
    memset(&m, 0, sizeof(m));
    m.w = w;
    m.r = r;
    m.b = b;
    m.activations = attr->activations.data;
    m.clip = attr->clip;
    m.gates = 1;
    m.functions = 1;
    return nnrti_recurrent_run(&m, attr->direction, attr->layout != 0, x, sequenceLens, initialH, y, yH, nnrti_rnn_step,
                               call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ROI_ALIGN */

/* Resolved: spatialScale > 0, samplingRatio >= 0. There may be no regions. */
static NNRT_ReturnCode nnrti_rule_roi_align(nnrt_resolve *c)
{
    NNRT_RoiAlign *a = (NNRT_RoiAlign *)c->resolved;
    const nnrt_operand *x = &c->in[0], *rois = &c->in[1], *batch = &c->in[2], *regions;
    NNRT_ReturnCode code;
    if (x->rank != 4 || nnrti_count(x) == 0)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes, none of them empty", x->name, x);
    if (rois->rank != 2 || (rois->dims[1] != 4 && !nnrti_axis_open(rois, 1)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "rois '%s' is %o, expected [regions,4]", rois->name, rois);
    if (batch->rank != 1 || nnrti_unlike(rois, 0, batch, 0))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "batchIndices '%s' is %o, expected [%d]: one for each region",
                          batch->name, batch, rois->dims[0]);
    if (a->outputHeight < 1 || a->outputWidth < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "outputHeight is %l and outputWidth %l, expected at least 1",
                          a->outputHeight, a->outputWidth);
    a->spatialScale = a->spatialScale == 0 ? 1 : a->spatialScale;
    a->samplingRatio = a->samplingRatio < 0 ? 0 : a->samplingRatio;
    if (!(a->spatialScale > 0 && a->spatialScale <= FLT_MAX))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "spatialScale is %f, expected more than 0",
                          (double)a->spatialScale);
    regions = nnrti_axis_open(rois, 0) ? batch : rois; /* the fixed one of two */
    if ((code = nnrti_result_image(c, 0, regions->dims[0], a->outputHeight, a->outputWidth,
                                   x->dims[nnrti_image_axis(x, 2)])) != NNRT_SUCCESS)
        return code;
    nnrti_from(c, 0, 0, regions, 0);
    nnrti_fixed(c, 0, nnrti_image_axis(x, 0));
    nnrti_fixed(c, 0, nnrti_image_axis(x, 1));
    nnrti_from(c, 0, nnrti_image_axis(x, 2), x, nnrti_image_axis(x, 2));
    return NNRT_SUCCESS;
}

/* >>kernel ROI_ALIGN */

/* A region along one axis: bin p begins at start + p*bin and has `samples` samples. */
typedef struct nnrti_roi {
    float start, bin;
    int32_t samples;
} nnrti_roi;

/* low, high: its ends. outputs: bins. */
static nnrti_roi nnrti_roi_of(const NNRT_RoiAlign *attr, float low, float high, int64_t outputs)
{
    const float shift = attr->aligned ? 0.5f : 0.0f;
    float extent;
    nnrti_roi r;
    r.start = low * attr->spatialScale - shift;
    extent = (high * attr->spatialScale - shift) - r.start;
    r.bin = (extent < 1 && !attr->aligned ? 1 : extent) / (float)outputs;
    r.samples = attr->samplingRatio > 0 ? (int32_t)attr->samplingRatio
                                        : (int32_t)nnrti_saturate((double)nnrti_ceilf(r.bin), 0, INT32_MAX);
    return r;
}

static float nnrti_roi_place(const nnrti_roi *r, int32_t p, int32_t i)
{
    return (r->start + (float)p * r->bin) + ((float)i + 0.5f) * r->bin / (float)r->samples;
}

/* The samples of bin p that can lie in -1..L: their places rise, unless the region has no extent. The others are 0 and,
   where a region is far larger than x, too many to be looked at. */
static nnrti_cells nnrti_roi_samples(const nnrti_roi *r, int32_t p, int32_t L)
{
    nnrti_cells cells;
    cells.first = 0;
    cells.end = r->samples;
    for (int32_t end = r->samples; r->bin > 0 && cells.first < end;) {
        const int32_t middle = cells.first + (end - cells.first) / 2;
        if (nnrti_roi_place(r, p, middle) < -1)
            cells.first = middle + 1;
        else
            end = middle;
    }
    for (int32_t first = cells.first; r->bin > 0 && first < cells.end;) {
        const int32_t middle = first + (cells.end - first) / 2;
        if (nnrti_roi_place(r, p, middle) <= (float)L)
            first = middle + 1;
        else
            cells.end = middle;
    }
    return cells;
}

/* A coordinate along an axis of extent L for interpolation: up to a cell outside it is that of the border; then NaN. */
static float nnrti_roi_clamp(float at, int32_t L)
{
    if (!(at >= -1 && at <= (float)L))
        return nnrti_nanf();
    return at < 0 ? 0 : at > (float)(L - 1) ? (float)(L - 1) : at;
}

/* sum[t] += the samples of bin (p,q), rows before columns, in channel c + t of image n, t < count. */
NNRTI_INLINE void nnrti_roi_sum(const nnrt_view *x, const nnrti_roi region[2], int32_t n, int32_t p, int32_t q,
                                int32_t c, int32_t count, float *sum, NNRT_DataType type)
{
    const nnrti_cells rows = nnrti_roi_samples(&region[0], p, x->dims[1]);
    const nnrti_cells columns = nnrti_roi_samples(&region[1], q, x->dims[2]);
    const ptrdiff_t at = nnrti_place(x, n, 0, 0, c);
    for (int32_t i = rows.first; i < rows.end; i++)
        for (int32_t j = columns.first; j < columns.end; j++) {
            const float h = nnrti_roi_clamp(nnrti_roi_place(&region[0], p, i), x->dims[1]);
            const float w = nnrti_roi_clamp(nnrti_roi_place(&region[1], q, j), x->dims[2]);
            const nnrti_corners s = nnrti_corners_of(x, h, w);
            for (int32_t t = 0; t < count; t++)
                sum[t] += nnrti_at_corners(x, at + t * x->strides[3], &s, type);
        }
}

/* x [N,H,W,C], rois [R,4], float32 or x's type, batchIndices [R] int32 or int64, y [R,Ho,Wo,C]; none may overlap y.
   Region r is x1, y1, x2, y2 = rois[r,..] * spatialScale of image batchIndices[r]; aligned: less 0.5, otherwise at least 1
   wide and high. It has Ho x Wo bins, a bin g x g samples, g = samplingRatio or else the edge of the bin rounded up, in the
   middle of as many equal parts; y[r,p,q,c] is the mean of the samples of bin (p,q), bilinear in channel c. Samples up to a
   cell outside x are those of the border, further ones 0; no samples: 0. The sum runs over rows, then columns; up to 16
   channels side by side, which changes no sum. NNRT_INVALID_PARAMETER when an image does not exist: call's error tells
   which; y is then written in part. */
NNRTI_INLINE NNRT_ReturnCode nnrti_roi_align(const NNRT_RoiAlign *attr, const nnrt_view *x, const nnrt_view *rois,
                                             const nnrt_view *batch, nnrt_view *y, NNRT_DataType type, nnrt_call *call)
{
    for (int32_t r = 0; r < y->dims[0]; r++) {
        const int64_t n = nnrti_index(batch, r * batch->strides[0]);
        nnrti_roi region[2];
        float samples;
        if (n < 0 || n >= x->dims[0])
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                                  "batchIndices[%d] is %l, but x has %d images: expected 0 to %d", r, n, x->dims[0],
                                  x->dims[0] - 1);
        for (int32_t axis = 0; axis < 2; axis++) {
            const ptrdiff_t at = r * rois->strides[0] + (1 - axis) * rois->strides[1];
            region[axis] = nnrti_roi_of(attr, nnrti_load_beside(rois, at, type),
                                        nnrti_load_beside(rois, at + 2 * rois->strides[1], type), y->dims[1 + axis]);
        }
        samples = (float)region[0].samples * (float)region[1].samples;
        for (int32_t p = 0; p < y->dims[1]; p++)
            for (int32_t q = 0; q < y->dims[2]; q++)
                for (int32_t c = 0; c < y->dims[3]; c += 16) {
                    const int32_t count = y->dims[3] - c < 16 ? y->dims[3] - c : 16;
                    float sum[16] = {0};
                    nnrti_roi_sum(x, region, (int32_t)n, p, q, c, count, sum, type);
                    for (int32_t t = 0; t < count; t++)
                        nnrti_store(y->data, nnrti_place(y, r, p, q, c + t), samples > 0 ? sum[t] / samples : 0, type);
                }
    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_roi_align_f32(const NNRT_RoiAlign *attr, const nnrt_view *x, const nnrt_view *rois,
                                            const nnrt_view *batchIndices, nnrt_view *y, nnrt_call *call)
{
    return nnrti_roi_align(attr, x, rois, batchIndices, y, NNRT_DATA_TYPE_FLOAT32, call);
}

NNRT_API NNRT_ReturnCode nnrt_roi_align_f16(const NNRT_RoiAlign *attr, const nnrt_view *x, const nnrt_view *rois,
                                            const nnrt_view *batchIndices, nnrt_view *y, nnrt_call *call)
{
    return nnrti_roi_align(attr, x, rois, batchIndices, y, NNRT_DATA_TYPE_FLOAT16, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ROLL */

/* by[axis] = shift modulo the extent L, for every axis that input 2 lists, or axis 0 when it is absent. */
static NNRT_ReturnCode nnrti_roll_by(nnrt_resolve *c, int32_t rank, const int32_t *dims, int32_t by[NNRT_MAX_RANK])
{
    const nnrt_operand *shifts = &c->in[1], *axes = &c->in[2];
    uint32_t seen = 0;
    for (int32_t k = 0; k < shifts->dims[0]; k++) {
        int64_t rest;
        int32_t axis = 0;
        const NNRT_ReturnCode code = nnrti_absent(axes)
                                         ? NNRT_SUCCESS
                                         : nnrti_axis(c, "an entry of axes", nnrti_value(axes, (size_t)k), rank, &axis);
        if (code != NNRT_SUCCESS)
            return code;
        if ((seen >> axis) & 1u)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axes names axis %d twice", axis);
        seen |= 1u << axis;
        rest = dims[axis] > 1 ? nnrti_remainder(nnrti_value(shifts, (size_t)k), dims[axis]) : 0;
        by[axis] = (int32_t)(rest < 0 ? rest + dims[axis] : rest);
    }
    return NNRT_SUCCESS;
}

/* Without axes x and y are seen as vectors. Derived: how far each axis of what is seen moves, 0..L-1. */
static NNRT_ReturnCode nnrti_rule_roll(nnrt_resolve *c)
{
    nnrt_operand *x = &c->in[0];
    const nnrt_operand *axes = &c->in[2];
    const bool flat = nnrti_absent(axes), lateAxes = !flat && nnrti_late(c, 2), late = lateAxes || nnrti_late(c, 1);
    const size_t most = nnrti_most(x);
    int32_t count = most < INT32_MAX ? (int32_t)most : INT32_MAX, by[NNRT_MAX_RANK] = {0}, to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if (!flat && ((code = nnrti_known_list(c, 2, "axes", 0, x->rank)) != NNRT_SUCCESS ||
                  (!lateAxes && (code = nnrti_known_fixed(c, 2, "axes")) != NNRT_SUCCESS)))
        return code;
    if ((code = nnrti_known_list(c, 1, "shifts", flat ? 1 : axes->dims[0], flat ? 1 : axes->dims[0])) != NNRT_SUCCESS)
        return code;
    if (flat && most > INT32_MAX && !nnrti_open_from(x, 0))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "input '%s' %o has more elements than an axis can have", x->name, x);
    if (!late && (code = nnrti_roll_by(c, x->rank, flat ? &count : x->dims, by)) != NNRT_SUCCESS)
        return code;
    nnrti_result_like(c, 0);
    for (int32_t i = 0; i < x->rank; i++)
        to[i] = late || by[flat ? 0 : i] != 0 ? -1 : i;
    if (flat) {
        nnrti_see_as(x, 1, &count);
        nnrti_see_as(&c->out[0], 1, &count);
    }
    if ((code = nnrti_derive_ints(c, flat ? 1 : x->rank, by)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel ROLL */

/* y[(i0 + by[0]) % L0, (i1 + by[1]) % L1, ..] = x[i0,i1,..]; by int32 with an entry of 0..L-1 per axis. Any element type;
   y must not overlap x. Each axis has two parts, which change places: all pairings of parts are copied. */
NNRT_API NNRT_ReturnCode nnrt_roll(const NNRT_Roll *attr, const nnrt_view *x, const nnrt_view *by, nnrt_view *y)
{
    (void)attr;
    for (uint32_t parts = 0; parts >> x->rank == 0; parts++) {
        nnrt_view from = *x, to = *y;
        for (int32_t i = 0; i < x->rank; i++) {
            const int32_t L = x->dims[i], shift = ((const int32_t *)by->data)[i];
            const bool behind = ((parts >> i) & 1u) != 0; /* the last places, which come first */
            from = nnrti_part(&from, i, behind ? L - shift : 0, behind ? shift : L - shift);
            to = nnrti_part(&to, i, behind ? 0 : shift, from.dims[i]);
        }
        nnrti_copy(&from, &to);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ROTARY_EMBEDDING */

/* Resolved: numHeads and rotaryEmbeddingDim. */
static NNRT_ReturnCode nnrti_rule_rotary_embedding(nnrt_resolve *c)
{
    static const char *const names[] = {"x", "cosCache", "sinCache"};
    NNRT_RotaryEmbedding *a = (NNRT_RotaryEmbedding *)c->resolved;
    const nnrt_operand *x = &c->in[0], *ids = &c->in[3];
    const int32_t last = x->rank - 1, steps = x->rank == 4 ? 2 : 1, rank = nnrti_absent(ids) ? 3 : 2;
    int64_t head;
    if ((x->rank != 3 && x->rank != 4) || nnrti_axis_open(x, last) || (x->rank == 4 && nnrti_axis_open(x, 1)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "input '%s' is %o, expected [B,S,heads*D] or [B,heads,S,D] with known heads and D", x->name,
                          x);
    if (x->rank == 4)
        a->numHeads = x->dims[1];
    if (a->numHeads < 1 || (x->rank == 3 && nnrti_remainder(x->dims[2], a->numHeads) != 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "numHeads is %l, expected a divisor of %d, the last axis of '%s'",
                          a->numHeads, x->dims[last], x->name);
    head = x->rank == 4 ? x->dims[3] : nnrti_quotient(x->dims[2], a->numHeads);
    if (a->rotaryEmbeddingDim == 0)
        a->rotaryEmbeddingDim = head;
    if (a->rotaryEmbeddingDim < 2 || a->rotaryEmbeddingDim > head || a->rotaryEmbeddingDim % 2 != 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "rotaryEmbeddingDim is %l, expected an even number of 2 to %l",
                          a->rotaryEmbeddingDim, head);
    if (!nnrti_absent(ids) && (ids->rank != 2 || nnrti_unlike(ids, 0, x, 0) || nnrti_unlike(ids, 1, x, steps)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 3 (positionIds) '%s' is %o, expected [%d,%d]", ids->name, ids,
                          x->dims[0], x->dims[steps]);
    for (uint32_t i = 1; i < 3; i++) {
        const nnrt_operand *o = &c->in[i];
        if (o->rank != rank || nnrti_axis_open(o, rank - 1) || o->dims[rank - 1] != a->rotaryEmbeddingDim / 2 ||
            (rank == 3 && (nnrti_unlike(o, 0, x, 0) || nnrti_unlike(o, 1, x, steps))) ||
            (rank == 2 && i == 2 && nnrti_unlike(o, 0, &c->in[1], 0)))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected %s with a last axis of %l", i,
                              names[i], o->name, o, rank == 3 ? "[B,S,..]" : "[positions,..]",
                              a->rotaryEmbeddingDim / 2);
    }
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel ROTARY_EMBEDDING */

/* x [B,S,heads*D] or [B,heads,S,D], y of its shape, which may be x, float32 or float16; cosCache and sinCache [P,R/2], of which
   positionIds [B,S] (int32 or int64) names the row of each step, or without it [B,S,R/2]; R = rotaryEmbeddingDim. Of each
   head the pair (a, b) of number k < R/2, elements k and k + R/2 or with interleaved 2*k and 2*k + 1, becomes
   (cos[k]*a - sin[k]*b, sin[k]*a + cos[k]*b); elements from R on stay. NNRT_INVALID_PARAMETER when there is no such row. */
NNRT_API NNRT_ReturnCode nnrt_rotary_embedding(const NNRT_RotaryEmbedding *attr, const nnrt_view *x,
                                               const nnrt_view *cosCache, const nnrt_view *sinCache,
                                               const nnrt_view *positionIds, nnrt_view *y, nnrt_call *call)
{
    const int32_t heads = (int32_t)attr->numHeads, R = (int32_t)attr->rotaryEmbeddingDim, step = x->rank == 4 ? 2 : 1;
    const int32_t D = x->dims[x->rank - 1] / (x->rank == 4 ? 1 : heads), S = x->dims[step], rank = cosCache->rank;
    const bool pairs = attr->interleaved != 0;
    for (int64_t i = 0; i < (int64_t)x->dims[0] * S * heads; i++) { /* step s of head h of b */
        const int64_t row = nnrti_quotient(i, heads);
        const int32_t h = (int32_t)(i - row * heads), b = (int32_t)nnrti_quotient(row, S),
                      s = (int32_t)(row - (int64_t)b * S);
        const ptrdiff_t dx = x->strides[x->rank - 1], dy = y->strides[x->rank - 1];
        const ptrdiff_t from = b * x->strides[0] + s * x->strides[step] + h * (step == 2 ? x->strides[1] : D * dx);
        const ptrdiff_t to = b * y->strides[0] + s * y->strides[step] + h * (step == 2 ? y->strides[1] : D * dy);
        ptrdiff_t c = 0, n = 0;
        if (positionIds != NULL) {
            const int64_t id = nnrti_index(positionIds, b * positionIds->strides[0] + s * positionIds->strides[1]);
            if (id < 0 || id >= cosCache->dims[0])
                return nnrt_call_fail(call, NNRT_INVALID_PARAMETER,
                                      "positionIds[%d,%d] is %l, expected 0 to %d: the rows of cosCache", b, s, id,
                                      cosCache->dims[0] - 1);
            c = (ptrdiff_t)id * cosCache->strides[0];
            n = (ptrdiff_t)id * sinCache->strides[0];
        } else {
            c = b * cosCache->strides[0] + s * cosCache->strides[1];
            n = b * sinCache->strides[0] + s * sinCache->strides[1];
        }
        for (int32_t k = 0; k < R / 2; k++) {
            const int32_t p = pairs ? 2 * k : k, q = pairs ? 2 * k + 1 : k + R / 2;
            const float u = nnrti_load(x->data, from + p * dx, x->dataType);
            const float v = nnrti_load(x->data, from + q * dx, x->dataType);
            const float cosine = nnrti_load(cosCache->data, c + k * cosCache->strides[rank - 1], cosCache->dataType);
            const float sine = nnrti_load(sinCache->data, n + k * sinCache->strides[rank - 1], sinCache->dataType);
            nnrti_store(y->data, to + p * dy, cosine * u - sine * v, y->dataType);
            nnrti_store(y->data, to + q * dy, sine * u + cosine * v, y->dataType);
        }
        for (int32_t k = R; k < D; k++)
            nnrti_store(y->data, to + k * dy, nnrti_load(x->data, from + k * dx, x->dataType), y->dataType);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op ROUND */
/* >>kernel ROUND */

/* y = the whole number nearest to x, halves to the even one, element by element; -0, NaN and the infinities stay. y may
   lie where x lies. */
NNRTI_UNARY(Round, round, nnrti_roundevenf, nnrti_roundeven)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op RSQRT */
/* >>kernel RSQRT */

static float nnrti_rsqrtf(float v)
{
    return 1.0f / nnrti_sqrtf(v);
}

static double nnrti_rsqrt(double v)
{
    return 1.0 / nnrti_sqrt(v);
}

/* y = 1/sqrt(x), element by element: 0 gives infinity, x < 0 NaN. y may lie where x lies. */
NNRTI_UNARY(Rsqrt, rsqrt, nnrti_rsqrtf, nnrti_rsqrt)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SCALE_FUSION */

/* Derived of quantised data: the list with the factors of a bias of 8 bits, to the scale of the product, and, at the third
   place, of the product. */
static NNRT_ReturnCode nnrti_quant_scale_fusion(nnrt_resolve *c, NNRT_ActivationType activation)
{
    const nnrt_operand *bias = &c->in[2];
    double s[3];
    int32_t *factors;
    NNRT_ReturnCode code = nnrti_quant_two(c, activation, s, &factors);
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_factor(nnrti_quant_ratio(s[0] * s[1], s[2]), factors + 4);
    if (nnrti_absent(bias) || bias->dataType == NNRT_DATA_TYPE_INT32)
        return NNRT_SUCCESS;
    if ((code = nnrti_quant_operand(c, bias, -1)) == NNRT_SUCCESS)
        nnrti_factor(nnrti_quant_ratio(nnrti_quant_scale(bias, 0), s[0] * s[1]), factors);
    return code;
}

/* Resolved: axis is positive.
   Derived: when quantised, zero point and bounds of the result, the factors of bias, none, and of the product. */
static NNRT_ReturnCode nnrti_rule_scale_fusion(nnrt_resolve *c)
{
    NNRT_ScaleFusion *a = (NNRT_ScaleFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0], *s = &c->in[1], *bias = &c->in[2];
    int32_t axis;
    NNRT_ReturnCode code = nnrti_axis(c, "axis", a->axis, x->rank, &axis);
    if (code != NNRT_SUCCESS)
        return code;
    a->axis = axis;
    if (s->rank > x->rank - axis || !nnrti_same(s->dims, x->dims + axis, (size_t)s->rank * sizeof(s->dims[0])))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "scale '%s' is %o, expected extents of '%s' %o from axis %d on",
                          s->name, s, x->name, x, axis);
    if (!nnrti_absent(bias) &&
        (bias->rank != s->rank || !nnrti_same(bias->dims, s->dims, (size_t)s->rank * sizeof(s->dims[0]))))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "bias '%s' is %o, expected the shape of scale '%s' %o", bias->name,
                          bias, s->name, s);
    nnrti_result_like(c, 0);
    code = nnrti_fused(c, a->activationType);
    return code == NNRT_SUCCESS && nnrti_is_quant(x) ? nnrti_quant_scale_fusion(c, a->activationType) : code;
}

/* >>kernel SCALE_FUSION */

/* scale with extents of 1 appended, so that it stands from `axis` on under a tensor of the given rank. */
static nnrt_view nnrti_scale_under(const nnrt_view *scale, int64_t axis, int32_t rank)
{
    nnrt_view v = *scale;
    v.rank = rank - (int32_t)axis;
    for (int32_t i = scale->rank; i < v.rank; i++)
        v.dims[i] = 1;
    return v;
}

/* x and y of one shape, scale of the extents of x from axis on, bias NULL or of the shape and the strides of scale.
   y = act(x*scale + bias), scale and bias broadcast over the other axes: the product is rounded, then the sum.
   y may lie where x lies. */
NNRTI_INLINE NNRT_ReturnCode nnrti_scale_fusion(const NNRT_ScaleFusion *attr, const nnrt_view *x,
                                                const nnrt_view *scale, const nnrt_view *bias, nnrt_view *y,
                                                NNRT_DataType type)
{
    const nnrt_view under = nnrti_scale_under(scale, attr->axis, y->rank);
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, &under))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t k = w.at[2] + i * w.row[2];
            float v = nnrti_load(x->data, w.at[1] + i * w.row[1], type) * nnrti_load(scale->data, k, type);
            if (bias != NULL)
                v += nnrti_load(bias->data, k, type);
            nnrti_store(y->data, w.at[0] + i * w.row[0], nnrti_activate(v, attr->activationType), type);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_scale_fusion_f32(const NNRT_ScaleFusion *attr, const nnrt_view *x, const nnrt_view *scale,
                                               const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_scale_fusion(attr, x, scale, bias, y, NNRT_DATA_TYPE_FLOAT32);
}

NNRT_API NNRT_ReturnCode nnrt_scale_fusion_f16(const NNRT_ScaleFusion *attr, const nnrt_view *x, const nnrt_view *scale,
                                               const nnrt_view *bias, nnrt_view *y)
{
    return nnrti_scale_fusion(attr, x, scale, bias, y, NNRT_DATA_TYPE_FLOAT16);
}

/* The same in float64. */
NNRT_API NNRT_ReturnCode nnrt_scale_fusion_f64(const NNRT_ScaleFusion *attr, const nnrt_view *x, const nnrt_view *scale,
                                               const nnrt_view *bias, nnrt_view *y)
{
    const nnrt_view under = nnrti_scale_under(scale, attr->axis, y->rank);
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, &under))
        return NNRT_SUCCESS;
    do {
        const double *in = (const double *)x->data + w.at[1], *factor = (const double *)scale->data + w.at[2];
        const double *add = bias != NULL ? (const double *)bias->data + w.at[2] : NULL;
        double *out = (double *)y->data + w.at[0];
        for (int32_t i = 0; i < w.count; i++) {
            double v = in[i * w.row[1]] * factor[i * w.row[2]];
            if (add != NULL)
                v += add[i * w.row[2]];
            out[i * w.row[0]] = nnrti_activate_f64(v, attr->activationType);
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* Quantised int8 or uint8, scale too; bias likewise, or int32 in the scale of the product. */
NNRT_API NNRT_ReturnCode nnrt_scale_fusion_q8(const NNRT_ScaleFusion *attr, const nnrt_view *x, const nnrt_view *scale,
                                              const nnrt_view *bias, const nnrt_view *list, nnrt_view *y)
{
    const nnrt_view under = nnrti_scale_under(scale, attr->axis, y->rank);
    const int32_t *quant = (const int32_t *)list->data, *factor = quant + NNRTI_QUANT_FACTORS;
    nnrti_walk w;
    if (!nnrti_walk_first(&w, y, x, &under))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const ptrdiff_t k = w.at[2] + i * w.row[2];
            const int32_t a = nnrti_load_8(x->data, w.at[1] + i * w.row[1], x->dataType) - x->quant[0].zeroPoint;
            int64_t v = (int64_t)a * (nnrti_load_8(scale->data, k, scale->dataType) - scale->quant[0].zeroPoint);
            if (bias != NULL && bias->dataType == NNRT_DATA_TYPE_INT32)
                v += ((const int32_t *)bias->data)[k];
            else if (bias != NULL)
                v += nnrti_rescale(nnrti_load_8(bias->data, k, bias->dataType) - bias->quant[0].zeroPoint, factor);
            nnrti_store_8(y->data, w.at[0] + i * w.row[0], nnrti_quant_result(nnrti_rescale(v, factor + 4), quant));
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SCATTER_ELEMENTS */

/* Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_scatter_elements(nnrt_resolve *c)
{
    NNRT_ScatterElements *a = (NNRT_ScatterElements *)c->resolved;
    const NNRT_ReturnCode code = nnrti_elements_of(c, &a->axis);
    if (code != NNRT_SUCCESS)
        return code;
    if (!nnrti_like(&c->in[1], &c->in[2]))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 2 (updates) '%s' is %o, expected the shape of indices %o",
                          c->in[2].name, &c->in[2], &c->in[1]);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel SCATTER_ELEMENTS */

/* x, y [..,L,..] of one shape; indices int32 or int64, updates of its shape. All of any one element type; y may be x, but must
   not overlap the others. y = x, then y[..,indices[..,i,..],..] = y + updates[..,i,..] along axis (or *, the lesser, the
   larger; NONE: the update), one after the other in the order of indices. Integers wrap modulo 2^n; bools add as or, multiply
   as and. Of numbers of which one is NaN: as MINIMUM and MAXIMUM. Indices from -L to -1 count from the end.
   NNRT_INVALID_PARAMETER when an index lies outside [-L,L): call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_scatter_elements(const NNRT_ScatterElements *attr, const nnrt_view *x,
                                               const nnrt_view *indices, const nnrt_view *updates, nnrt_view *y,
                                               nnrt_call *call)
{
    static const nnrti_row rows[] = {NULL, nnrti_add_row, nnrti_mul_row, nnrti_min_row, nnrti_max_row};
    static const nnrti_row bools[] = {NULL, nnrti_add_row, nnrti_mul_row, nnrti_mul_row, nnrti_add_row};
    const nnrti_row row = (x->dataType == NNRT_DATA_TYPE_BOOL ? bools : rows)[attr->reduction];
    const size_t width = nnrt_type_size(x->dataType);
    nnrti_walk w, one;
    nnrt_view lines;
    int64_t n = 0;
    nnrti_copy(x, y);
    nnrti_lines_beside(y, indices, (int32_t)attr->axis, &lines);
    if (!nnrti_walk_first(&w, indices, &lines, updates))
        return NNRT_SUCCESS;
    memset(&one, 0, sizeof(one)); /* a row of one element */
    one.count = 1;
    do
        for (int32_t i = 0; i < w.count; i++, n++) {
            ptrdiff_t at;
            const NNRT_ReturnCode code =
                nnrti_place_along(call, indices, w.at[0] + i * w.row[0], n, y, (int32_t)attr->axis, &at);
            if (code != NNRT_SUCCESS)
                return code;
            one.at[0] = one.at[1] = w.at[1] + i * w.row[1] + at;
            one.at[2] = w.at[2] + i * w.row[2];
            if (row != NULL)
                row(&one, y, updates, y, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
            else
                memcpy(nnrti_at(y->data, one.at[0], width), nnrti_at(updates->data, one.at[2], width), width);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SCATTER_ND */

/* indices [I..,k] and updates [I..,B..] go with a shape of k extents more than B. The extents B are those of updates. */
static NNRT_ReturnCode nnrti_rule_scatter_nd(nnrt_resolve *c)
{
    const nnrt_operand *indices = &c->in[0], *updates = &c->in[1], *shape = &c->in[2];
    const int32_t lead = indices->rank - 1;
    int32_t dims[NNRT_MAX_RANK] = {0}, rank, k;
    bool fits;
    NNRT_ReturnCode code;
    if (lead < 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 0 (indices) '%s' is %o, expected two axes or more",
                          indices->name, indices);
    if ((code = nnrti_known_extents(c, 2, "shape", dims)) != NNRT_SUCCESS)
        return code;
    rank = shape->dims[0];
    k = rank - (updates->rank - lead);
    fits = k >= 0 && k <= rank && (indices->dims[lead] == k || nnrti_axis_open(indices, lead));
    for (int32_t i = 0; fits && i < lead; i++)
        fits = !nnrti_unlike(updates, i, indices, i);
    for (int32_t i = k; fits && i < rank; i++)
        fits = dims[i] == updates->dims[lead + i - k] || nnrti_axis_open(updates, lead + i - k) ||
               nnrti_element_open(shape, (size_t)i);
    if (!fits)
        return nnrti_fail(
            c, NNRT_INVALID_SHAPE,
            "input 1 (updates) '%s' is %o, expected the extents of indices %o but the last, k, then those "
            "of shape (%d entries) from entry k on",
            updates->name, updates, indices, rank);
    for (int32_t i = k; i < rank; i++)
        dims[i] = nnrti_element_open(shape, (size_t)i) ? updates->dims[lead + i - k] : dims[i];
    nnrti_result(c, 0, rank, dims);
    for (int32_t i = 0; i < rank; i++)
        if (i >= k && nnrti_element_open(shape, (size_t)i))
            nnrti_from(c, 0, i, updates, lead + i - k);
        else
            nnrti_from_value(c, 0, i, shape, (size_t)i);
    return NNRT_SUCCESS;
}

/* >>kernel SCATTER_ND */

/* row(y[indices[i..,0],..,indices[i..,k-1], b..], updates[i..,b..]) for i.. in their order, in y; NULL: updates. */
static NNRT_ReturnCode nnrti_scatter(const nnrt_view *indices, const nnrt_view *updates, nnrt_view *y, nnrti_row row,
                                     nnrt_call *call)
{
    const int32_t lead = indices->rank - 1, k = indices->dims[lead];
    const size_t width = nnrt_type_size(y->dataType);
    const nnrt_view rows = nnrti_without_axes(indices, lead, 1), starts = nnrti_only_axes(updates, 0, lead);
    nnrt_view from = nnrti_without_axes(updates, 0, lead), to = nnrti_without_axes(y, 0, k);
    const bool empty = nnrti_empty(&to);
    int64_t n = 0;
    nnrti_walk w;
    if (!nnrti_walk_first(&w, &rows, &starts, NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++, n++) {
            ptrdiff_t place;
            const NNRT_ReturnCode code =
                nnrti_place_of(call, indices, w.at[0] + i * w.row[0], indices->strides[lead], k, n, true, y, &place);
            if (code != NNRT_SUCCESS)
                return code;
            if (empty)
                continue;
            from.data = nnrti_at(updates->data, w.at[1] + i * w.row[1], width);
            to.data = nnrti_at(y->data, place, width);
            if (row == NULL)
                nnrti_copy(&from, &to);
            else
                nnrti_binary(&to, &from, &to, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, row);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* indices [I..,k] int32 or int64, updates [I..,B..], y [A..,B..] with k extents A, of any one type of numbers.
   y = 0; then y[indices[i..,0],..,indices[i..,k-1], b..] += updates[i..,b..] for i.. in their order: what meets at one
   place adds up, each sum rounded, integers modulo 2^n. Indices from -L to -1 count from the end.
   NNRT_INVALID_PARAMETER when an index lies outside its axis: call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_scatter_nd(const NNRT_ScatterNd *attr, const nnrt_view *indices, const nnrt_view *updates,
                                         nnrt_view *y, nnrt_call *call)
{
    (void)attr;
    nnrti_clear(y);
    return nnrti_scatter(indices, updates, y, nnrti_add_row, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SCATTER_ND_UPDATE */

/* indices [I..,k] and updates [I..,B..], where x has k extents more than B, which it ends with. */
static NNRT_ReturnCode nnrti_rule_scatter_nd_update(nnrt_resolve *c)
{
    const NNRT_ScatterNDUpdate *a = (const NNRT_ScatterNDUpdate *)c->resolved;
    const nnrt_operand *x = &c->in[0], *indices = &c->in[1], *updates = &c->in[2];
    const int32_t lead = indices->rank - 1, k = x->rank - (updates->rank - lead);
    bool fits = lead >= 0 && k >= 0 && k <= x->rank && (indices->dims[lead] == k || nnrti_axis_open(indices, lead));
    for (int32_t i = 0; fits && i < lead; i++)
        fits = !nnrti_unlike(updates, i, indices, i);
    for (int32_t i = k; fits && i < x->rank; i++)
        fits = !nnrti_unlike(x, i, updates, lead + i - k);
    if (!fits)
        return nnrti_fail(
            c, NNRT_INVALID_SHAPE,
            "input 2 (updates) '%s' is %o, expected the extents of indices %o but the last, k, then those of x %o from "
            "axis k on",
            updates->name, updates, indices, x);
    if (a->reduction != NNRT_SCATTER_REDUCTION_NONE && x->dataType == NNRT_DATA_TYPE_BOOL)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input '%s' is %o: bool has no reduction", x->name, x);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel SCATTER_ND_UPDATE */

/* The smaller (larger) of two numbers; NaN when one of them is. */
static void nnrti_scatter_min_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                  NNRT_ActivationType activation)
{
    switch (z->dataType) {
#define NNRTI_SCATTER_MIN_ROW(name, T, U, least, greatest) NNRTI_ROW_CASE(name, T, T, T, (T), a < b ? a : b)
        NNRTI_INT_TYPES(NNRTI_SCATTER_MIN_ROW)
        NNRTI_ROWS_FLOAT(a < b || a != a ? a : b, activation)
    default: break;
    }
}

static void nnrti_scatter_max_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                  NNRT_ActivationType activation)
{
    switch (z->dataType) {
#define NNRTI_SCATTER_MAX_ROW(name, T, U, least, greatest) NNRTI_ROW_CASE(name, T, T, T, (T), a > b ? a : b)
        NNRTI_INT_TYPES(NNRTI_SCATTER_MAX_ROW)
        NNRTI_ROWS_FLOAT(a > b || a != a ? a : b, activation)
    default: break;
    }
}

/* x and y [A..,B..] with k extents A, indices [I..,k] int32 or int64, updates [I..,B..] of the type of x; y may not
   overlap an input. y = x; then y[indices[i..,0],..,indices[i..,k-1], b..] becomes updates[i..,b..] for i.. in their
   order, or with reduction its sum, product, minimum or maximum with that: floats are rounded each time, integers modulo
   2^n; a minimum or maximum of NaN is NaN. Indices from -L to -1 count from the end. NNRT_INVALID_PARAMETER when an index
   lies outside its axis: call's error tells which; y is then written in part. */
NNRT_API NNRT_ReturnCode nnrt_scatter_nd_update(const NNRT_ScatterNDUpdate *attr, const nnrt_view *x,
                                                const nnrt_view *indices, const nnrt_view *updates, nnrt_view *y,
                                                nnrt_call *call)
{
    nnrti_row row = NULL;
    switch (attr->reduction) {
    case NNRT_SCATTER_REDUCTION_ADD: row = nnrti_add_row; break;
    case NNRT_SCATTER_REDUCTION_MUL: row = nnrti_mul_row; break;
    case NNRT_SCATTER_REDUCTION_MIN: row = nnrti_scatter_min_row; break;
    case NNRT_SCATTER_REDUCTION_MAX: row = nnrti_scatter_max_row; break;
    default: break;
    }
    nnrti_copy(x, y);
    return nnrti_scatter(indices, updates, y, row, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SHAPE */

/* The result is known now: out[0].data. */
static NNRT_ReturnCode nnrti_rule_shape(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    nnrt_operand *y = &c->out[0];
    const int32_t rank = x->rank;
    uint8_t *value;
    size_t width;
    if (y->dataType == NNRT_DATA_TYPE_UNKNOWN)
        y->dataType = NNRT_DATA_TYPE_INT32;
    if (!nnrti_type_in(y->dataType, NNRT_TYPES_INDEX))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output 0 '%s' is declared %t, expected int32 or int64", y->name,
                          y->dataType);
    width = nnrt_type_size(y->dataType);
    value = (uint8_t *)c->alloc(c->user, (NNRT_MAX_RANK + 1) * width);
    if (value == NULL)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its value");
    for (int32_t i = 0; i < rank; i++)
        nnrti_number(y->dataType, (double)x->dims[i], value + (size_t)i * width);
    nnrti_result(c, 0, 1, &rank);
    nnrti_fixed(c, 0, 0);
    y->data = value;
#ifndef NNRT_FIRMWARE
    if (c->open) {
        uint32_t *open = (uint32_t *)c->alloc(c->user, sizeof(x->symbols));
        if (open == NULL)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "no memory for its value");
        memcpy(open, x->symbols, sizeof(x->symbols));
        y->open = open;
    }
#endif
    return NNRT_SUCCESS;
}

/* >>kernel SHAPE */

/* x of any type and shape [L0,L1,..], y int32 or int64 [rank of x]. y = L0, L1, .. */
NNRT_API NNRT_ReturnCode nnrt_shape(const NNRT_Shape *attr, const nnrt_view *x, nnrt_view *y)
{
    (void)attr;
    for (int32_t i = 0; i < x->rank; i++)
        if (y->dataType == NNRT_DATA_TYPE_INT64)
            ((int64_t *)y->data)[i * y->strides[0]] = x->dims[i];
        else
            ((int32_t *)y->data)[i * y->strides[0]] = x->dims[i];
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SIN */
/* >>kernel SIN */

/* y = sin(x), x in radians, element by element; -0 stays, NaN for the infinities. y may lie where x lies. */
NNRTI_UNARY(Sin, sin, nnrti_sinf, nnrti_sin)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SINH */
/* >>kernel SINH */

/* y = (e^x - e^-x) / 2, element by element. y may lie where x lies. */
NNRTI_UNARY(Sinh, sinh, nnrti_sinhf, nnrti_sinh)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SLICE_FUSION */

/* begin and size have an entry for every axis listed; axes = which these are. */
static NNRT_ReturnCode nnrti_slice_axes(nnrt_resolve *c, const NNRT_SliceFusion *a, int32_t axes[NNRT_MAX_RANK])
{
    const int32_t rank = c->in[0].rank, listed = a->axes.count > (uint32_t)rank ? rank + 1 : (int32_t)a->axes.count;
    NNRT_ReturnCode code;
    if ((code = nnrti_known_list(c, 1, "begin", listed, listed > 0 ? listed : rank)) != NNRT_SUCCESS ||
        (code = nnrti_known_list(c, 2, "size", c->in[1].dims[0], c->in[1].dims[0])) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < rank; i++)
        axes[i] = i;
    return nnrti_axes(c, "an entry of axes", &a->axes, rank, axes);
}

/* Where the extents of the result are from: x, for axes that are not listed, or are taken from 0 to the end; size, else. */
static void nnrti_slice_symbols(nnrt_resolve *c, const int32_t axes[NNRT_MAX_RANK])
{
    const nnrt_operand *x = &c->in[0];
    for (int32_t i = 0; i < x->rank; i++)
        nnrti_from(c, 0, i, x, i);
    for (int32_t k = 0; k < c->in[1].dims[0]; k++) {
        const int64_t begin = nnrti_value(&c->in[1], (size_t)k), size = nnrti_value(&c->in[2], (size_t)k);
        const bool open = nnrti_element_open(&c->in[1], (size_t)k);
        if (nnrti_element_unbounded(&c->in[2], (size_t)k))
            nnrti_bounded(c, 0, axes[k]);
        else if (size >= 0 || nnrti_element_open(&c->in[2], (size_t)k))
            nnrti_from_value(c, 0, axes[k], &c->in[2], (size_t)k);
        else if (open || (begin != 0 && nnrti_axis_open(x, axes[k])))
            nnrti_bounded(c, 0, axes[k]);
    }
}

/* Derived: the first place taken of every axis of x, 0..L. Resolved: axes lists every axis of x. */
static NNRT_ReturnCode nnrti_rule_slice_fusion(nnrt_resolve *c)
{
    NNRT_SliceFusion *a = (NNRT_SliceFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axes[NNRT_MAX_RANK], first[NNRT_MAX_RANK], dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if ((code = nnrti_slice_axes(c, a, axes)) != NNRT_SUCCESS)
        return code;
    memset(first, 0, sizeof(first));
    memcpy(dims, x->dims, sizeof(dims));
    for (int32_t k = 0; k < c->in[1].dims[0]; k++) {
        const int64_t given = nnrti_value(&c->in[1], (size_t)k), size = nnrti_value(&c->in[2], (size_t)k);
        const int64_t L = x->dims[axes[k]], begin = given < 0 ? given + L : given;
        const bool openBegin = nnrti_element_open(&c->in[1], (size_t)k), openAxis = nnrti_axis_open(x, axes[k]);
        if (openBegin || openAxis || nnrti_element_open(&c->in[2], (size_t)k)) {
            /* At most L places, those from begin on, and size of them. */
            int64_t most = !openBegin && given >= 0 ? L - given : !openBegin && -given < L ? -given : L;
            if (size >= 0 && !nnrti_element_unbounded(&c->in[2], (size_t)k) && size < most)
                most = size;
            dims[axes[k]] = (int32_t)(most > 0 ? most : 0);
            continue;
        }
        if (begin < 0 || begin > L)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "begin[%d] is %l, expected %l to %l for axis %d of input '%s' %o", k, given, -L, L,
                              axes[k], x->name, x);
        if (size < -1 || size > L - begin)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                              "size[%d] is %l, expected -1 to %l: axis %d of '%s' %o from %l on", k, size, L - begin,
                              axes[k], x->name, x, begin);
        first[axes[k]] = (int32_t)begin;
        dims[axes[k]] = (int32_t)(size < 0 ? L - begin : size);
    }
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t i = 0; i < x->rank; i++)
        to[i] = dims[i] == x->dims[i] ? i : -1;
    nnrti_slice_symbols(c, axes);
    if ((code = nnrti_derive_ints(c, x->rank, first)) != NNRT_SUCCESS ||
        (code = nnrti_set_axes(c, &a->axes, (1u << x->rank) - 1u)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel SLICE_FUSION */

/* y[i0,i1,..] = x[begin[0] + i0, begin[1] + i1, ..]; begin int32 with an entry per axis of x. y has the rank of x and
   its element type, whatever that is; it must not overlap x. */
NNRT_API NNRT_ReturnCode nnrt_slice_fusion(const NNRT_SliceFusion *attr, const nnrt_view *x, const nnrt_view *begin,
                                           nnrt_view *y)
{
    nnrt_view part = *x;
    (void)attr;
    for (int32_t i = 0; i < x->rank; i++)
        part = nnrti_part(&part, i, ((const int32_t *)begin->data)[i], y->dims[i]);
    nnrti_copy(&part, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SOFTMAX */

/* Derived of quantised data: int32[256], exp of -d for the difference d to the largest stored integer, 31 fraction bits, 0
   where the difference is above 31; and the list, whose factor is {0, 1} where the scale of the result is 1/256. */
static NNRT_ReturnCode nnrti_quant_softmax(nnrt_resolve *c)
{
    static const int32_t codes = 256;
    const nnrt_operand *x = &c->in[0], *y = &c->out[0];
    const int64_t most = (int64_t)31 << 26;
    const double limit = INT32_MAX;
    double fine;
    int64_t far;
    void *data;
    int32_t unit[2], *factor;
    NNRT_ReturnCode code;
    if ((code = nnrti_quant_operand(c, x, -1)) != NNRT_SUCCESS ||
        (code = nnrti_quant_operand(c, y, -1)) != NNRT_SUCCESS ||
        (code = nnrti_derive(c, NNRT_DATA_TYPE_INT32, 1, &codes, &data)) != NNRT_SUCCESS ||
        (code = nnrti_quant_derive(c, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, 1, &factor)) != NNRT_SUCCESS)
        return code;
    fine = nnrti_quant_scale(x, 0) * 67108864.0;
    nnrti_factor(fine < limit ? fine : limit, unit);
    far = unit[1] > 0 ? most >> unit[1] : most * ((int64_t)1 << -unit[1]);
    for (int32_t d = 0; d < codes; d++)
        ((int32_t *)data)[d] = d > far ? 0 : nnrti_fixed_exp(nnrti_rescale(-d, unit), 5);
    nnrti_factor(nnrti_quant_ratio(1, 65536.0 * nnrti_quant_scale(y, 0)), factor);
    if (nnrti_quant_scale(y, 0) == 1.0 / 256 && factor[-3] == factor[-2]) {
        factor[0] = 0;
        factor[1] = 1;
    }
    return NNRT_SUCCESS;
}

/* Resolved: axis is a list of one entry >= 0.
   Derived: when quantised, int32[256], exp of minus each difference; zero point, bounds and factor of the result. */
static NNRT_ReturnCode nnrti_rule_softmax(nnrt_resolve *c)
{
    NNRT_Softmax *a = (NNRT_Softmax *)c->resolved;
    const int64_t given = a->axis.count > 0 ? a->axis.data[0] : -1;
    int32_t axis;
    int64_t *list;
    NNRT_ReturnCode code;
    if (a->axis.count > 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axis has %u entries, expected 1", a->axis.count);
    if ((code = nnrti_axis(c, "axis", given, c->in[0].rank, &axis)) != NNRT_SUCCESS)
        return code;
    list = nnrti_list(c, &a->axis, 1);
    if (list == NULL)
        return NNRT_OUT_OF_MEMORY;
    list[0] = axis;
    nnrti_result_like(c, 0);
    if (c->in[0].dataType == NNRT_DATA_TYPE_FLOAT16)
        c->scratch = (size_t)c->in[0].dims[axis] * sizeof(float);
    return nnrti_is_quant(&c->in[0]) ? nnrti_quant_softmax(c) : NNRT_SUCCESS;
}

/* >>kernel SOFTMAX */

/* One line of L elements, from x to y, which may be x. exp(x - max) is kept in e until the sum is known; where there is no
   e, it is computed once more. */
NNRTI_INLINE void nnrti_softmax_line(const nnrti_line *x, const nnrti_line *y, int32_t L, NNRT_DataType type, float *e,
                                     ptrdiff_t step)
{
    const bool kept = type == NNRT_DATA_TYPE_FLOAT32 || e != NULL; /* known when this is compiled for float32 */
    float max = nnrti_load(x->data, 0, type), sum = 0;
    for (int32_t i = 1; i < L; i++) {
        const float v = nnrti_load(x->data, i * x->step, type);
        max = v > max ? v : max;
    }
    for (int32_t i = 0; i < L; i++) {
        const float v = nnrti_expf(nnrti_load(x->data, i * x->step, type) - max);
        if (kept)
            e[i * step] = v;
        sum += v;
    }
    for (int32_t i = 0; i < L; i++) {
        const float v = kept ? e[i * step] : nnrti_expf(nnrti_load(x->data, i * x->step, type) - max);
        nnrti_store(y->data, i * y->step, v / sum, type);
    }
}

/* x, y of one shape; y may be x. y[..,i,..] = exp(x[..,i,..] - max) / sum of exp(x[..,k,..] - max) over k, max and sum
   along axis. The sum runs over k. float32 keeps exp(x - max) in y; float16 would round it there and uses 4 bytes of
   scratch for each place of the axis, or computes it twice. */
NNRTI_INLINE NNRT_ReturnCode nnrti_softmax(const NNRT_Softmax *attr, const nnrt_view *x, nnrt_view *y,
                                           NNRT_DataType type, float *scratch)
{
    const int32_t axis = (int32_t)attr->axis.data[0], L = x->dims[axis];
    nnrt_view starts[2];
    nnrti_walk w;
    if (L == 0 || !nnrti_walk_first(&w, nnrti_starts(y, axis, &starts[0]), nnrti_starts(x, axis, &starts[1]), NULL))
        return NNRT_SUCCESS;
    do {
        for (int32_t i = 0; i < w.count; i++) {
            const nnrti_line from = nnrti_line_of(x, axis, w.at[1] + i * w.row[1]);
            const nnrti_line to = nnrti_line_of(y, axis, w.at[0] + i * w.row[0]);
            if (type == NNRT_DATA_TYPE_FLOAT32)
                nnrti_softmax_line(&from, &to, L, type, (float *)to.data, to.step);
            else
                nnrti_softmax_line(&from, &to, L, type, scratch, 1);
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_softmax_f32(const NNRT_Softmax *attr, const nnrt_view *x, nnrt_view *y)
{
    return nnrti_softmax(attr, x, y, NNRT_DATA_TYPE_FLOAT32, NULL);
}

NNRT_API NNRT_ReturnCode nnrt_softmax_f16(const NNRT_Softmax *attr, const nnrt_view *x, nnrt_view *y, nnrt_call *call)
{
    const size_t bytes = (size_t)x->dims[attr->axis.data[0]] * sizeof(float);
    return nnrti_softmax(attr, x, y, NNRT_DATA_TYPE_FLOAT16, (float *)nnrti_scratch(call, bytes));
}

/* One line of L stored integers. */
static void nnrti_softmax_line_q8(const nnrti_line *x, const nnrti_line *y, int32_t L, const int32_t *powers,
                                  const int32_t *quant)
{
    const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
    int32_t top = nnrti_load_8(x->data, 0, x->type), k, inverse;
    int64_t sum = 0;
    for (int32_t i = 1; i < L; i++) {
        const int32_t q = nnrti_load_8(x->data, i * x->step, x->type);
        top = q > top ? q : top;
    }
    for (int32_t i = 0; i < L; i++)
        sum += nnrti_shift_round(powers[top - nnrti_load_8(x->data, i * x->step, x->type)], 12);
    k = nnrti_bit_count((uint64_t)sum);
    inverse = nnrti_fixed_reciprocal(
        (int32_t)((k <= 32 ? sum * ((int64_t)1 << (32 - k)) : sum >> (k - 32)) - ((int64_t)1 << 31)));
    for (int32_t i = 0; i < L; i++) {
        const int32_t q = nnrti_load_8(x->data, i * x->step, x->type);
        const int64_t share = nnrti_high_product(inverse, powers[top - q]);
        int64_t v;
        if (factor[0] == 0 && factor[1] == 1)
            v = sum >> 28 != 0 ? 0 : nnrti_shift_round(share, k + 3);
        else
            v = nnrti_rescale(nnrti_shift_round(share, k - 5), factor);
        nnrti_store_8(y->data, i * y->step, nnrti_quant_result(v, quant));
    }
}

/* Quantised int8 or uint8, with the powers and the list that the rule derives. The sum has 19 fraction bits. */
NNRT_API NNRT_ReturnCode nnrt_softmax_q8(const NNRT_Softmax *attr, const nnrt_view *x, const nnrt_view *powers,
                                         const nnrt_view *list, nnrt_view *y)
{
    const int32_t axis = (int32_t)attr->axis.data[0], L = x->dims[axis];
    nnrt_view starts[2];
    nnrti_walk w;
    if (L == 0 || !nnrti_walk_first(&w, nnrti_starts(y, axis, &starts[0]), nnrti_starts(x, axis, &starts[1]), NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t i = 0; i < w.count; i++) {
            const nnrti_line from = nnrti_line_of(x, axis, w.at[1] + i * w.row[1]);
            const nnrti_line to = nnrti_line_of(y, axis, w.at[0] + i * w.row[0]);
            nnrti_softmax_line_q8(&from, &to, L, (const int32_t *)powers->data, (const int32_t *)list->data);
        }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SOFTPLUS */

static NNRT_ReturnCode nnrti_rule_softplus(nnrt_resolve *c)
{
    const NNRT_Softplus *a = (const NNRT_Softplus *)c->resolved;
    if (!(a->beta < 0) && !(a->beta > 0))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "beta is %f, expected a number that is not 0", (double)a->beta);
    nnrti_result_like(c, 0);
    return NNRT_SUCCESS;
}

/* >>kernel SOFTPLUS */

/* ln(1 + e^t) = max(t, 0) + ln(1 + e^-|t|) */
static float nnrti_softplusf(float v, float beta, float threshold)
{
    const float t = beta * v, sum = (t > 0 ? t : 0.0f) + nnrti_log1pf(nnrti_expf(-nnrti_absf(t)));
    return t > threshold ? v : sum / beta;
}

/* u - 1 is what 1 + e^-|t| has kept of e^-|t|, and ln(u) is as much too large or small. */
static double nnrti_softplus(double v, double beta, double threshold)
{
    const double t = beta * v, small = nnrti_exp(-nnrti_abs(t)), u = 1.0 + small;
    const double sum = (t > 0 ? t : 0.0) + (u > 1 ? nnrti_log(u) * (small / (u - 1.0)) : small);
    return t > threshold ? v : sum / beta;
}

/* y = beta*x > threshold ? x : ln(1 + e^(beta*x)) / beta, element by element; NaN stays. y may lie where x lies. */
NNRTI_UNARY_WITH(Softplus, softplus, attr->beta, attr->threshold, nnrti_softplusf, nnrti_softplus)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SPACE_TO_BATCH_ND */

/* The padded image must be made of whole blocks. */
static NNRT_ReturnCode nnrti_rule_space_to_batch_nd(nnrt_resolve *c)
{
    NNRT_SpaceToBatchND *a = (NNRT_SpaceToBatchND *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int64_t pads[4], h, w, bh, bw;
    NNRT_ReturnCode code = nnrti_blocks(c, &a->blockShape, "paddings", &a->paddings, pads);
    if (code != NNRT_SUCCESS)
        return code;
    bh = a->blockShape.data[0];
    bw = a->blockShape.data[1];
    h = x->dims[nnrti_image_axis(x, 0)] + pads[0] + pads[1];
    w = x->dims[nnrti_image_axis(x, 1)] + pads[2] + pads[3];
    if ((nnrti_remainder(h, bh) != 0 && !nnrti_axis_open(x, nnrti_image_axis(x, 0))) ||
        (nnrti_remainder(w, bw) != 0 && !nnrti_axis_open(x, nnrti_image_axis(x, 1))))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "the padded image is %l x %l, no multiple of the block %l x %l", h, w,
                          bh, bw);
    if (x->dims[0] > 0 && bh * bw > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the block %l x %l makes too large a batch", bh, bw);
    if ((code = nnrti_result_images(c, x->dims[0] > 0 ? x->dims[0] * (bh * bw) : 0, nnrti_quotient(h, bh),
                                    nnrti_quotient(w, bw))) != NNRT_SUCCESS ||
        (code = nnrti_quant_single(c, 0)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, NULL);
}

/* >>kernel SPACE_TO_BATCH_ND */

/* *element = what stands for 0 in x: the zero point of quantised integers, otherwise all bits 0. */
static void nnrti_zero_element(const nnrt_view *x, uint64_t *element)
{
    const int32_t z = x->quantCount > 0 ? x->quant[0].zeroPoint : 0;
    const uint8_t z8 = (uint8_t)z;
    const uint16_t z16 = (uint16_t)z;
    *element = 0;
    switch (x->dataType) {
    case NNRT_DATA_TYPE_INT8:
    case NNRT_DATA_TYPE_UINT8: memcpy(element, &z8, sizeof(z8)); break;
    case NNRT_DATA_TYPE_INT16:
    case NNRT_DATA_TYPE_UINT16: memcpy(element, &z16, sizeof(z16)); break;
    case NNRT_DATA_TYPE_INT32:
    case NNRT_DATA_TYPE_UINT32: memcpy(element, &z, sizeof(z)); break;
    default: break;
    }
}

/* x [N,H,W,C], y [N*bh*bw,Ho,Wo,C], any element type; y must not overlap x.
   y[(i*bw + j)*N + n, h, w, c] = x[n, h*bh + i - top, w*bw + j - left, c]; cells outside x are 0 (the zero point);
   blockShape [bh,bw], paddings [[top,bottom],[left,right]]. */
NNRT_API NNRT_ReturnCode nnrt_space_to_batch_nd(const NNRT_SpaceToBatchND *attr, const nnrt_view *x, nnrt_view *y)
{
    const int64_t bh = attr->blockShape.data[0], bw = attr->blockShape.data[1];
    const int64_t top = attr->paddings.data[0].data[0], left = attr->paddings.data[1].data[0];
    const size_t width = nnrt_type_size(x->dataType);
    uint64_t zero;
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    nnrti_zero_element(x, &zero);
    for (int32_t m = 0; m < y->dims[0]; m++)
        for (int32_t h = 0; h < y->dims[1]; h++)
            for (int32_t w = 0; w < y->dims[2]; w++) {
                const int32_t n = m % x->dims[0], block = m / x->dims[0];
                const int64_t row = h * bh + nnrti_quotient(block, bw) - top;
                const int64_t column = w * bw + nnrti_remainder(block, bw) - left;
                const bool inside = row >= 0 && row < x->dims[1] && column >= 0 && column < x->dims[2];
                const ptrdiff_t in =
                    inside ? n * x->strides[0] + (ptrdiff_t)row * x->strides[1] + (ptrdiff_t)column * x->strides[2] : 0;
                const ptrdiff_t out = m * y->strides[0] + h * y->strides[1] + w * y->strides[2];
                const void *from = inside ? nnrti_at(x->data, in, width) : (void *)&zero;
                nnrti_copy_row(nnrti_at(y->data, out, width), y->strides[3], from, inside ? x->strides[3] : 0,
                               y->dims[3], width);
            }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SPACE_TO_DEPTH */

/* The image must be made of whole blocks. */
static NNRT_ReturnCode nnrti_rule_space_to_depth(nnrt_resolve *c)
{
    const int64_t b = ((const NNRT_SpaceToDepth *)c->resolved)->blockSize;
    const nnrt_operand *x = &c->in[0];
    int64_t extent[2];
    const NNRT_ReturnCode code = nnrti_block_size(c, b);
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t axis = nnrti_image_axis(x, i);
        extent[i] = nnrti_quotient(x->dims[axis], b);
        if (extent[i] * b != x->dims[axis] && !nnrti_axis_open(x, axis))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o: extent %d is no multiple of blockSize %l",
                              x->name, x, x->dims[axis], b);
    }
    return nnrti_result_blocks(c, b == 1, extent[0], extent[1], nnrti_product(x->dims[nnrti_image_axis(x, 2)], b * b));
}

/* >>kernel SPACE_TO_DEPTH */

/* x [N,H*b,W*b,C], y [N,H,W,b*b*C], b = blockSize, any element type; y must not overlap x.
   y[n, h, w, (i*b + j)*C + c] = x[n, h*b + i, w*b + j, c]. */
NNRT_API NNRT_ReturnCode nnrt_space_to_depth(const NNRT_SpaceToDepth *attr, const nnrt_view *x, nnrt_view *y)
{
    const int64_t cells = nnrti_empty(y) ? 0 : attr->blockSize * attr->blockSize;
    for (int64_t k = 0; k < cells; k++) {
        const nnrt_view from = nnrti_cell_places(x, attr->blockSize, k);
        nnrt_view to = nnrti_cell_channels(y, attr->blockSize, k, true);
        nnrti_copy(&from, &to);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SPARSE_TO_DENSE */

/* indices [n,R], R the number of extents in shape; where that is 1 also [n], or one index alone. values [n] or one. */
static NNRT_ReturnCode nnrti_rule_sparse_to_dense(nnrt_resolve *c)
{
    const nnrt_operand *indices = &c->in[0], *values = &c->in[1], *shape = &c->in[2], *rest = &c->in[3];
    int32_t dims[NNRT_MAX_RANK] = {0};
    NNRT_ReturnCode code = nnrti_known_extents(c, 2, "shape", dims);
    if (code != NNRT_SUCCESS || (!nnrti_absent(rest) && (code = nnrti_one_element(c, 3, "default")) != NNRT_SUCCESS))
        return code;
    if (indices->rank > 2 ||
        (indices->rank == 2 ? indices->dims[1] != shape->dims[0] && !nnrti_axis_open(indices, 1) : shape->dims[0] != 1))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "input 0 (indices) '%s' is %o, expected rows of %d entries, the number of extents in shape",
                          indices->name, indices, shape->dims[0]);
    if (nnrti_count(values) != 1 && (values->rank != 1 || indices->rank == 0 || nnrti_unlike(values, 0, indices, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "input 1 (values) '%s' is %o, expected one element, or one for each row of indices %o",
                          values->name, values, indices);
    if (nnrti_is_quant(rest))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input 3 (default) '%s' is %o, expected the type of input 1: %o",
                          rest->name, rest, values);
    nnrti_result(c, 0, shape->dims[0], dims);
    for (int32_t i = 0; i < shape->dims[0]; i++)
        nnrti_from_value(c, 0, i, shape, (size_t)i);
    return NNRT_SUCCESS;
}

/* >>kernel SPARSE_TO_DENSE */

/* indices int32 or int64, [n,R], for R = 1 also [n] or []; values [n] or one element, rest one element or NULL, 0; y of R
   axes and their type, any but bool. shape is not used.
   y = rest; then y[indices[i,0],..,indices[i,R-1]] = values[i] for i in rising order: of those with one place the last
   stays. NNRT_INVALID_PARAMETER when an index lies outside its axis, or is negative: call's error tells which; y is then
   written in part. */
NNRT_API NNRT_ReturnCode nnrt_sparse_to_dense(const NNRT_SparseToDense *attr, const nnrt_view *indices,
                                              const nnrt_view *values, const nnrt_view *shape, const nnrt_view *rest,
                                              nnrt_view *y, nnrt_call *call)
{
    const int32_t n = indices->rank > 0 ? indices->dims[0] : 1;
    const ptrdiff_t next = indices->rank > 0 ? indices->strides[0] : 0,
                    step = indices->rank > 1 ? indices->strides[1] : 0;
    const ptrdiff_t each = values->rank > 0 && values->dims[0] > 1 ? values->strides[0] : 0;
    const size_t width = nnrt_type_size(y->dataType);
    (void)attr;
    (void)shape;
    if (rest != NULL)
        nnrti_copy(rest, y);
    else
        nnrti_clear(y);
    for (int32_t i = 0; i < n; i++) {
        ptrdiff_t place;
        const NNRT_ReturnCode code = nnrti_place_of(call, indices, i * next, step, y->rank, i, false, y, &place);
        if (code != NNRT_SUCCESS)
            return code;
        memcpy(nnrti_at(y->data, place, width), nnrti_at(values->data, i * each, width), width);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SPLIT */

/* sizes = the extent of each result along an axis of extent L: as given (one -1 = the rest), or equal parts. open: L is
   the most that it can be. */
static NNRT_ReturnCode nnrti_split_sizes(nnrt_resolve *c, NNRT_Split *a, int64_t L, bool open)
{
    const NNRT_Int64List given = a->sizeSplits;
    int64_t *sizes, sum = 0, rest = -1;
    if (given.count != 0 && given.count != c->nOut)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                          "sizeSplits has %u entries, expected one for each of the %u outputs", given.count, c->nOut);
    if (given.count == 0 && nnrti_remainder(L, c->nOut) != 0 && !open)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "axis %l of input '%s' %o cannot be split into %u equal parts",
                          a->axis, c->in[0].name, &c->in[0], c->nOut);
    sizes = nnrti_list(c, &a->sizeSplits, c->nOut);
    if (sizes == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t k = 0; k < c->nOut; k++) {
        sizes[k] = given.count == 0 ? nnrti_quotient(L, c->nOut) : given.data[k];
        if (sizes[k] < -1 || (sizes[k] == -1 && rest >= 0))
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "sizeSplits[%u] is %l, expected at least 0, or -1 once", k,
                              sizes[k]);
        if (sizes[k] == -1)
            rest = k;
        else
            sum += sizes[k];
    }
    if ((rest >= 0 ? sum > L : sum != L) && !open)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "sizeSplits add up to %l, but axis %l of input '%s' has extent %l",
                          sum, a->axis, c->in[0].name, L);
    if (rest >= 0)
        sizes[rest] = L > sum ? L - sum : 0;
    return NNRT_SUCCESS;
}

/* Resolved: axis >= 0, sizeSplits has an entry for every result. */
static NNRT_ReturnCode nnrti_rule_split(nnrt_resolve *c)
{
    NNRT_Split *a = (NNRT_Split *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axis, dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    a->outputNum = a->outputNum == 0 ? (int64_t)c->nOut : a->outputNum;
    if (a->outputNum < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "outputNum is %l, expected at least 1", a->outputNum);
    if (a->outputNum != (int64_t)c->nOut)
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "has %u outputs, expected %l as outputNum says", c->nOut,
                          a->outputNum);
    if ((code = nnrti_axis(c, "axis", a->axis, x->rank, &axis)) != NNRT_SUCCESS)
        return code;
    a->axis = axis;
    if ((code = nnrti_split_sizes(c, a, x->dims[axis], nnrti_axis_open(x, axis))) != NNRT_SUCCESS)
        return code;
    memcpy(dims, x->dims, sizeof(dims));
    nnrti_axes_but(c, axis, to);
    for (uint32_t k = 0; k < c->nOut; k++) {
        dims[axis] = (int32_t)a->sizeSplits.data[k];
        nnrti_result(c, k, x->rank, dims);
        for (int32_t i = 0; i < x->rank; i++)
            if (i != axis || c->nOut == 1)
                nnrti_from(c, k, i, x, i);
            else if (!nnrti_axis_open(x, i))
                nnrti_fixed(c, k, i);
        if ((code = nnrti_quant_moves(c, 0, k, to)) != NNRT_SUCCESS)
            return code;
    }
    return NNRT_SUCCESS;
}

/* >>kernel SPLIT */

/* x cut along axis: y[k] holds the next sizeSplits[k] places of it. All y have the rank of x, its element type,
   whatever that is, and its other extents; none may overlap x. One without data is left out. */
NNRT_API NNRT_ReturnCode nnrt_split(const NNRT_Split *attr, const nnrt_view *x, nnrt_view *y, uint32_t nOut)
{
    const int32_t axis = (int32_t)attr->axis;
    int32_t first = 0;
    for (uint32_t k = 0; k < nOut; k++) {
        const int32_t count = (int32_t)attr->sizeSplits.data[k];
        const nnrt_view part = nnrti_part(x, axis, first, count);
        if (y[k].data != NULL)
            nnrti_copy(&part, &y[k]);
        first += count;
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SQRT */
/* >>kernel SQRT */

/* y = sqrt(x), element by element, NaN for x < 0. y may lie where x lies. */
NNRTI_UNARY(Sqrt, sqrt, nnrti_sqrtf, nnrti_sqrt)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SQUARE */

static int64_t nnrti_code_square(const nnrti_coder *k, int32_t v)
{
    return nnrti_rescale((int64_t)v * v, k->a);
}

/* Derived: when quantised, uint8[256], the bits of the result for those of each stored integer. */
static NNRT_ReturnCode nnrti_rule_square(nnrt_resolve *c)
{
    nnrti_coder k;
    NNRT_ReturnCode code;
    nnrti_result_like(c, 0);
    if (!nnrti_is_quant(&c->in[0]))
        return NNRT_SUCCESS;
    if ((code = nnrti_coder_of(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &k)) != NNRT_SUCCESS)
        return code;
    nnrti_factor(nnrti_quant_ratio((double)k.sx * (double)k.sx, (double)k.sy), k.a);
    return nnrti_quant_table(c, &k, nnrti_code_square);
}

/* >>kernel SQUARE */

static float nnrti_squaref(float v)
{
    return v * v;
}

static double nnrti_square(double v)
{
    return v * v;
}

static uint64_t nnrti_square_int(uint64_t v)
{
    return v * v;
}

/* y = x*x, element by element; integers wrap. y may lie where x lies. */
NNRTI_UNARY(Square, square, nnrti_squaref, nnrti_square)
NNRTI_UNARY_INT(Square, square, nnrti_square_int)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SQUARED_DIFFERENCE */

/* As nnrti_quant_sum, and the square has the scale S*S. */
static NNRT_ReturnCode nnrti_quant_square_sum(nnrt_resolve *c)
{
    double s[3], S;
    int32_t *factors;
    const NNRT_ReturnCode code = nnrti_quant_two(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, s, &factors);
    if (code != NNRT_SUCCESS)
        return code;
    S = 2 * (s[0] > s[1] ? s[0] : s[1]);
    nnrti_factor(nnrti_quant_ratio(s[0], S), factors);
    nnrti_factor(nnrti_quant_ratio(s[1], S), factors + 2);
    nnrti_factor(nnrti_quant_ratio(S * S, 16384.0 * s[2]), factors + 4);
    return NNRT_SUCCESS;
}

/* Derived: when quantised, zero point and bounds of the result, the factors of x, of y and of what they make. */
static NNRT_ReturnCode nnrti_rule_squared_difference(nnrt_resolve *c)
{
    const NNRT_ReturnCode code = nnrti_binary_rule(c, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_square_sum(c) : code;
}

/* >>kernel SQUARED_DIFFERENCE */

/* Modulo 2^n the square of the wrapped difference is that of the true one, also for unsigned types. */
static void nnrti_squared_difference_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                                         NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_WRAP((a - b) * (a - b))
        NNRTI_ROWS_FLOAT((a - b) * (a - b), activation)
        NNRTI_ROW_CASE(BOOL, uint8_t, uint8_t, uint32_t, (uint32_t), (a != 0) != (b != 0))
    default: break;
    }
}

/* z = (x - y)^2, x and y of any one type, broadcast to the dims of z; integers wrap, two bools give "they differ". z
   may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_squared_difference(const NNRT_SquaredDifference *attr, const nnrt_view *x,
                                                 const nnrt_view *y, nnrt_view *z)
{
    (void)attr;
    nnrti_binary(x, y, z, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, nnrti_squared_difference_row);
    return NNRT_SUCCESS;
}

/* Both are brought to one scale first, 2^7 times as fine as twice the larger. */
static int64_t nnrti_quant_squared_difference(int32_t a, int32_t b, const int32_t *quant)
{
    const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
    const int64_t d = (int64_t)nnrti_rescale(a * (1 << 7), factor) - nnrti_rescale(b * (1 << 7), factor + 2);
    return nnrti_rescale(d * d, factor + 4);
}

/* Quantised int8 or uint8 with a list of nnrti_quant_square_sum. */
NNRT_API NNRT_ReturnCode nnrt_squared_difference_q8(const NNRT_SquaredDifference *attr, const nnrt_view *x,
                                                    const nnrt_view *y, const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_squared_difference);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SQUEEZE */

/* Resolved: axis lists what is dropped, ascending; y is seen with the shape of x. A listed axis of another extent than
   1 stays. Ranks are never open: an open extent counts as 1 where its axis is listed, else not, and a run in which that
   is not so is refused. */
static NNRT_ReturnCode nnrti_rule_squeeze(nnrt_resolve *c)
{
    NNRT_Squeeze *a = (NNRT_Squeeze *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axes[NNRT_MAX_RANK], dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK], n = 0;
    uint32_t listed = a->axis.count == 0 ? ~0u : 0u, dropped = 0;
    NNRT_ReturnCode code = nnrti_axes(c, "an entry of axis", &a->axis, x->rank, axes);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t k = 0; k < a->axis.count; k++)
        listed |= 1u << axes[k];
    for (int32_t i = 0; i < x->rank; i++)
        if (nnrti_axis_open(x, i) ? a->axis.count > 0 && ((listed >> i) & 1u)
                                  : x->dims[i] == 1 && ((listed >> i) & 1u)) {
            dropped |= 1u << i;
            to[i] = -1;
        } else {
            to[i] = n;
            dims[n++] = x->dims[i];
        }
    if ((code = nnrti_set_axes(c, &a->axis, dropped)) != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, n, dims);
    for (int32_t i = 0; i < x->rank; i++)
        if (to[i] >= 0)
            nnrti_from(c, 0, to[i], x, i);
    nnrti_see_as(&c->out[0], x->rank, x->dims);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op STACK */

/* Resolved: axis is the place of the new axis in y, >= 0. */
static NNRT_ReturnCode nnrti_rule_stack(nnrt_resolve *c)
{
    NNRT_Stack *a = (NNRT_Stack *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axis, dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    for (uint32_t i = 1; i < c->nIn; i++)
        if (!nnrti_like(&c->in[i], x))
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u '%s' is %o, expected the shape of input 0, %o", i,
                              c->in[i].name, &c->in[i], x);
    if ((code = nnrti_room(c, x->rank + 1)) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "axis", a->axis, x->rank + 1, &axis)) != NNRT_SUCCESS)
        return code;
    if (c->nIn > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "%u inputs are too many for an axis", c->nIn);
    for (int32_t i = 0; i <= x->rank; i++)
        dims[i] = i == axis ? (int32_t)c->nIn : x->dims[i < axis ? i : i - 1];
    a->axis = axis;
    nnrti_result(c, 0, x->rank + 1, dims);
    nnrti_result_inserted(c, axis);
    nnrti_axes_shifted(c, axis, 1, to);
    for (uint32_t i = 0; i < c->nIn; i++)
        if ((code = nnrti_quant_moves(c, i, 0, to)) != NNRT_SUCCESS)
            return code;
    return NNRT_SUCCESS;
}

/* >>kernel STACK */

/* x[0], x[1], .. nIn inputs [A..,B..]; y [A..,nIn,B..] with nIn at place axis; one element type, whatever that is; y
   must not overlap an input. y[a..,k,b..] = x[k][a..,b..]. */
NNRT_API NNRT_ReturnCode nnrt_stack(const NNRT_Stack *attr, const nnrt_view *x, uint32_t nIn, nnrt_view *y)
{
    const int32_t axis = (int32_t)attr->axis;
    for (uint32_t k = 0; k < nIn; k++) {
        const nnrt_view part = nnrti_part(y, axis, (int32_t)k, 1);
        nnrt_view place = nnrti_without_axes(&part, axis, 1);
        nnrti_copy(&x[k], &place);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op STFT */

static NNRT_ReturnCode nnrti_rule_stft(nnrt_resolve *c)
{
    const NNRT_STFT *a = (const NNRT_STFT *)c->resolved;
    const nnrt_operand *x = &c->in[0], *window = &c->in[2];
    int64_t step, N = 0;
    int32_t dims[4];
    NNRT_ReturnCode code;
    if (x->rank != 3)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 3 axes", x->name, x);
    if ((code = nnrti_dft_input(c, a->onesided != 0)) != NNRT_SUCCESS ||
        (code = nnrti_known_int(c, 1, "frameStep", &step)) != NNRT_SUCCESS)
        return code;
    if (nnrti_absent(window) && nnrti_absent(&c->in[3]))
        return nnrti_fail(c, NNRT_NULL_PTR, "inputs 2 (window) and 3 (frameLength) are missing: one must be there");
    if (!nnrti_absent(window) && (window->rank != 1 || nnrti_axis_open(window, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 2 (window) '%s' is %o, expected one axis of a given extent",
                          window->name, window);
    N = nnrti_absent(window) ? 0 : window->dims[0];
    if (!nnrti_absent(&c->in[3]) && (code = nnrti_known_int(c, 3, "frameLength", &N)) != NNRT_SUCCESS)
        return code;
    if (step < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "frameStep is %l, expected at least 1", step);
    if ((code = nnrti_dft_scratch(c, N)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_absent(window) && window->dims[0] != N)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 2 (window) '%s' is %o, but frameLength is %l", window->name,
                          window, N);
    if (x->dims[1] < N)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' %o is shorter than a frame of %l", x->name, x, N);
    dims[0] = x->dims[0];
    dims[1] = (int32_t)nnrti_quotient(x->dims[1] - N, step) + 1;
    dims[2] = (int32_t)(a->onesided != 0 ? N / 2 + 1 : N);
    dims[3] = 2;
    nnrti_result(c, 0, 4, dims);
    nnrti_from(c, 0, 0, x, 0);
    if (!nnrti_axis_open(x, 1))
        nnrti_fixed(c, 0, 1);
    nnrti_fixed(c, 0, 2);
    nnrti_fixed(c, 0, 3);
    return NNRT_SUCCESS;
}

/* >>kernel STFT */

/* x [B,L,1 or 2], real numbers or complex ones, window [N] or NULL: ones, y [B,F,N or N/2+1,2], float32 or float16. Frame
   f is x[b,f*frameStep + n] * window[n], n < N; y[b,f] = its transform, as nnrt_dft, of which onesided keeps k <= N/2.
   N is frameLength or the window's extent. Scratch: 8*N bytes; NNRT_INSUFFICIENT_BUFFER without it. */
NNRT_API NNRT_ReturnCode nnrt_stft(const NNRT_STFT *attr, const nnrt_view *x, const nnrt_view *frameStep,
                                   const nnrt_view *window, const nnrt_view *frameLength, nnrt_view *y, nnrt_call *call)
{
    const ptrdiff_t step = (ptrdiff_t)nnrti_index(frameStep, 0) * x->strides[1];
    nnrti_dft m;
    size_t bytes;
    (void)attr;
    m.x = x;
    m.window = window;
    m.N = m.count = frameLength != NULL ? (int32_t)nnrti_index(frameLength, 0) : window->dims[0];
    m.inverse = false;
    bytes = (size_t)m.N * 2 * sizeof(float);
    if ((m.table = (float *)nnrti_scratch(call, bytes)) == NULL)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch", bytes);
    nnrti_dft_table(&m);
    for (int32_t b = 0; b < y->dims[0]; b++)
        for (int32_t f = 0; f < y->dims[1]; f++)
            for (int32_t k = 0; k < y->dims[2]; k++)
                nnrti_dft_bin(&m, b * x->strides[0] + f * step, x->strides[1], k, y, nnrti_place(y, b, f, k, 0));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op STRIDED_SLICE */

/* One entry of begin, end, strides on an axis. */
typedef struct nnrti_slice_entry {
    int64_t begin, end, stride;
} nnrti_slice_entry;

static int64_t nnrti_clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* *begin = first element taken, returns how many. listed: the five-input form, where a begin below -L with a negative
   stride still takes element 0. */
static int32_t nnrti_slice_extent(const nnrti_slice_entry *e, int32_t L, bool fromStart, bool toEnd, bool listed,
                                  int32_t *begin)
{
    int64_t s = e->stride, lo = s > 0 ? 0 : -1, hi = s > 0 ? L : (int64_t)L - 1;
    int64_t b = fromStart      ? (s > 0 ? 0 : (int64_t)L - 1)
                : e->begin < 0 ? nnrti_clamp(e->begin, -INT32_MAX, 0) + L
                               : e->begin;
    int64_t t = toEnd ? (s > 0 ? L : -1) : e->end < 0 ? nnrti_clamp(e->end, INT64_MIN / 2, 0) + L : e->end, n;
    b = nnrti_clamp(b, listed && s < 0 && L > 0 ? 0 : lo, hi);
    t = nnrti_clamp(t, lo, hi);
    n = s > 0 ? nnrti_quotient(t - b + s - 1, s) : nnrti_quotient(b - t + (-s) - 1, -s);
    *begin = (int32_t)b;
    return n > 0 ? (int32_t)n : 0;
}

/* Reads entry i; strides are clamped into int32, which changes no result. */
static nnrti_slice_entry nnrti_slice_at(nnrt_resolve *c, uint32_t strides, size_t i)
{
    nnrti_slice_entry e;
    e.begin = nnrti_value(&c->in[1], i);
    e.end = nnrti_value(&c->in[2], i);
    e.stride = nnrti_absent(&c->in[strides]) ? 1 : nnrti_clamp(nnrti_value(&c->in[strides], i), -INT32_MAX, INT32_MAX);
    return e;
}

/* begin, end and strides (and axes) are known, 1-D and of one length. */
static NNRT_ReturnCode nnrti_slice_operands(nnrt_resolve *c, uint32_t strides)
{
    static const char *const names[] = {"x", "begin", "end", "axes or strides", "strides"};
    if (c->nIn == 3)
        return nnrti_fail(c, NNRT_INVALID_INPUT,
                          "has 3 inputs, expected x, begin, end, strides or x, begin, end, axes, strides");
    if (c->nIn == 4 && nnrti_absent(&c->in[3]))
        return nnrti_fail(c, NNRT_NULL_PTR, "input 3 (strides) is missing");
    for (uint32_t i = 1; i < c->nIn; i++) {
        NNRT_ReturnCode code;
        if (nnrti_absent(&c->in[i]))
            continue;
        if (c->in[i].rank != 1 || c->in[i].dims[0] != c->in[1].dims[0])
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected [%d] as begin", i, names[i],
                              c->in[i].name, &c->in[i], c->in[1].rank == 1 ? c->in[1].dims[0] : -1);
        code = i == 3 && strides == 4 ? nnrti_known_fixed(c, i, "axes") : nnrti_known(c, i, names[i]);
        if (code != NNRT_SUCCESS)
            return code;
        for (int32_t k = 0; i == strides && k < c->in[i].dims[0]; k++)
            if (nnrti_value(&c->in[i], (size_t)k) == 0)
                return nnrti_fail(c, NNRT_INVALID_PARAMETER, "strides[%d] is 0", k);
    }
    return NNRT_SUCCESS;
}

/* The result while the entries are walked: extents it keeps, and for every axis of x what the kernel does. */
typedef struct nnrti_slice {
    int32_t rank, dims[2 * NNRT_MAX_RANK];               /* of the result */
    int32_t begin[NNRT_MAX_RANK], stride[NNRT_MAX_RANK]; /* of the axes of x */
    int32_t extent[NNRT_MAX_RANK];
    int32_t to[NNRT_MAX_RANK]; /* axis of the result, -1: dropped */
    bool cut[NNRT_MAX_RANK];   /* an entry decides the extent of the axis */
} nnrti_slice;

/* Whether begin, end or stride of entry i is open. */
static bool nnrti_slice_open(const nnrt_resolve *c, int32_t i)
{
    bool open = false;
    for (uint32_t k = 1; k < c->nIn; k++)
        open = open || (!nnrti_absent(&c->in[k]) && nnrti_element_open(&c->in[k], (size_t)i));
    return open;
}

/* Where entry i or the axis that it cuts is open: the most places that it can take. What lies between two places that
   count from the same end, or reaches to an end, does not shrink as the axis grows. */
static void nnrti_slice_bound(const nnrt_resolve *c, const nnrti_slice_entry *e, int32_t i, int32_t axis,
                              bool fromStart, bool toEnd, nnrti_slice *s)
{
    const int64_t L = c->in[0].dims[axis], step = e->stride < 0 ? -e->stride : e->stride;
    const bool grows = fromStart || toEnd || (e->begin < 0) == (e->end < 0) || (e->begin >= 0 && e->stride > 0) ||
                       (e->begin < 0 ? e->end >= L : e->begin >= L);
    if (nnrti_slice_open(c, i))
        s->extent[axis] = (int32_t)L;
    else if (nnrti_axis_open(&c->in[0], axis) && !grows)
        s->extent[axis] = (int32_t)nnrti_quotient(L + step - 1, step);
}

/* The next axis of the result is axis `from` of x, -1: a new one. */
static void nnrti_slice_keep(nnrti_slice *s, int32_t from, int32_t extent)
{
    if (s->rank < 2 * NNRT_MAX_RANK)
        s->dims[s->rank] = extent;
    if (from >= 0)
        s->to[from] = s->rank;
    s->rank++;
}

/* The three- and four-input form with masks. Of an entry's bits ellipsis stands above newAxis, that above shrink;
   without an ellipsis the axes behind the last entry are whole. */
static NNRT_ReturnCode nnrti_slice_masks(nnrt_resolve *c, const NNRT_StridedSlice *a, nnrti_slice *s)
{
    const nnrt_operand *x = &c->in[0];
    int32_t count = c->in[1].dims[0], consume = 0, axis = 0;
    bool ellipsis = false;
    if (count > 32)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "begin has %d entries, at most 32 have mask bits", count);
    for (int32_t i = 0; i < count; i++) {
        if ((a->ellipsisMask >> i) & 1) {
            if (ellipsis)
                return nnrti_fail(c, NNRT_INVALID_PARAMETER, "ellipsisMask %l has more than one bit", a->ellipsisMask);
            ellipsis = true;
        } else if (!((a->newAxisMask >> i) & 1)) {
            consume++;
        }
    }
    if (consume > x->rank)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "%d entries each take an axis, but input '%s' %o has %d", consume,
                          x->name, x, x->rank);
    for (int32_t i = 0; i < count; i++) {
        nnrti_slice_entry e = nnrti_slice_at(c, 3, (size_t)i);
        if ((a->ellipsisMask >> i) & 1) {
            for (int32_t k = 0; k < x->rank - consume; k++, axis++)
                nnrti_slice_keep(s, axis, x->dims[axis]);
        } else if ((a->newAxisMask >> i) & 1) {
            nnrti_slice_keep(s, -1, 1);
        } else if ((a->shrinkAxisMask >> i) & 1) {
            const bool late = nnrti_slice_open(c, i) || nnrti_axis_open(x, axis);
            if (!late && (e.begin < -(int64_t)x->dims[axis] || e.begin >= x->dims[axis] || e.stride < 0))
                return nnrti_fail(c, NNRT_INVALID_PARAMETER,
                                  "entry %d takes element %l with stride %l of axis %d, extent %d", i, e.begin,
                                  e.stride, axis, x->dims[axis]);
            s->begin[axis] = late ? 0 : (int32_t)(e.begin < 0 ? e.begin + x->dims[axis] : e.begin);
            s->extent[axis++] = 1;
        } else {
            s->cut[axis] = nnrti_slice_open(c, i) || !((a->beginMask >> i) & 1) || !((a->endMask >> i) & 1) ||
                           (e.stride != 1 && e.stride != -1);
            s->extent[axis] = nnrti_slice_extent(&e, x->dims[axis], ((a->beginMask >> i) & 1) != 0,
                                                 ((a->endMask >> i) & 1) != 0, false, &s->begin[axis]);
            s->stride[axis] = (int32_t)e.stride;
            nnrti_slice_bound(c, &e, i, axis, ((a->beginMask >> i) & 1) != 0, ((a->endMask >> i) & 1) != 0, s);
            nnrti_slice_keep(s, axis, s->extent[axis]);
            axis++;
        }
    }
    for (; axis < x->rank; axis++)
        nnrti_slice_keep(s, axis, x->dims[axis]);
    return NNRT_SUCCESS;
}

/* The five-input form: x, begin, end, axes, strides. */
static NNRT_ReturnCode nnrti_slice_listed(nnrt_resolve *c, nnrti_slice *s)
{
    const nnrt_operand *x = &c->in[0];
    uint32_t seen = 0;
    for (int32_t i = 0; i < c->in[1].dims[0]; i++) {
        nnrti_slice_entry e = nnrti_slice_at(c, 4, (size_t)i);
        int32_t axis;
        NNRT_ReturnCode code = nnrti_axis(
            c, "an entry of axes", nnrti_absent(&c->in[3]) ? i : nnrti_value(&c->in[3], (size_t)i), x->rank, &axis);
        if (code != NNRT_SUCCESS)
            return code;
        if ((seen >> axis) & 1u)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "axes names axis %d twice", axis);
        seen |= 1u << axis;
        s->cut[axis] = nnrti_slice_open(c, i) || e.begin != 0 || e.end < INT32_MAX || e.stride != 1;
        s->extent[axis] = nnrti_slice_extent(&e, x->dims[axis], false, false, true, &s->begin[axis]);
        s->stride[axis] = (int32_t)e.stride;
        nnrti_slice_bound(c, &e, i, axis, false, false, s);
    }
    for (int32_t i = 0; i < x->rank; i++)
        nnrti_slice_keep(s, i, s->extent[i]);
    return NNRT_SUCCESS;
}

/* Where the extents of the result are from: new axes are fixed; an axis that is whole is x's; one that is cut is fixed when
   it is and the entries are. */
static void nnrti_strided_symbols(nnrt_resolve *c, const nnrti_slice *s)
{
    const nnrt_operand *x = &c->in[0];
    bool open = false;
    for (int32_t i = 0; i < c->in[1].dims[0]; i++)
        open = open || nnrti_slice_open(c, i);
    for (int32_t k = 0; k < s->rank && k < NNRT_MAX_RANK; k++)
        nnrti_fixed(c, 0, k);
    for (int32_t i = 0; i < x->rank; i++) {
        if (s->to[i] < 0 || s->to[i] >= NNRT_MAX_RANK)
            continue;
        if (!s->cut[i])
            nnrti_from(c, 0, s->to[i], x, i);
        else if (open || nnrti_axis_open(x, i))
            nnrti_bounded(c, 0, s->to[i]);
    }
}

/* Derived: first place and stride of every axis of x. y is seen with the axes of x (new and dropped ones gone). */
static NNRT_ReturnCode nnrti_rule_strided_slice(nnrt_resolve *c)
{
    const NNRT_StridedSlice *a = (const NNRT_StridedSlice *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    bool listed = c->nIn == 5, follows = true;
    NNRT_ReturnCode code;
    nnrti_slice s;
    memset(&s, 0, sizeof(s));
    for (int32_t i = 0; i < x->rank; i++) {
        s.extent[i] = x->dims[i];
        s.stride[i] = 1;
        s.to[i] = -1;
    }
    if ((code = nnrti_slice_operands(c, listed ? 4 : 3)) != NNRT_SUCCESS ||
        (code = listed ? nnrti_slice_listed(c, &s) : nnrti_slice_masks(c, a, &s)) != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, s.rank, s.dims);
    nnrti_strided_symbols(c, &s);
    nnrti_see_as(&c->out[0], x->rank, s.extent);
    if ((code = nnrti_derive_ints(c, x->rank, s.begin)) != NNRT_SUCCESS ||
        (code = nnrti_derive_ints(c, x->rank, s.stride)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < x->rank && follows; i++)
        follows = s.to[i] == i;
    if (follows && s.rank == x->rank && (code = nnrti_follow(c, 0)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < x->rank; i++)
        if (s.extent[i] != x->dims[i] || s.stride[i] != 1)
            s.to[i] = -1;
    return nnrti_quant_moves(c, 0, 0, s.to);
}

/* >>kernel STRIDED_SLICE */

/* y[i0,i1,..] = x[begin[0] + i0*strides[0], begin[1] + i1*strides[1], ..]; begin and strides int32 with an entry per
   axis of x. y has the rank of x and its element type, whatever that is. */
NNRT_API NNRT_ReturnCode nnrt_strided_slice(const NNRT_StridedSlice *attr, const nnrt_view *x, const nnrt_view *begin,
                                            const nnrt_view *strides, nnrt_view *y)
{
    const int32_t *b = (const int32_t *)begin->data, *s = (const int32_t *)strides->data;
    nnrt_view part = *x;
    ptrdiff_t first = 0;
    (void)attr;
    for (int32_t i = 0; i < x->rank; i++) {
        first += y->dims[i] > 0 ? b[i] * x->strides[i] : 0;
        part.dims[i] = y->dims[i];
        part.strides[i] = y->dims[i] > 1 ? s[i] * x->strides[i] : 0; /* a step that nobody takes may be any number */
    }
    part.data = nnrti_at(x->data, first, nnrt_type_size(x->dataType));
    nnrti_copy(&part, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op SUB_FUSION */

/* The quotients of SUB_FUSION are those of float32. */
static NNRT_ReturnCode nnrti_quant_difference(nnrt_resolve *c, NNRT_ActivationType activation)
{
    double s[3];
    float S;
    int32_t *factors;
    const NNRT_ReturnCode code = nnrti_quant_two(c, activation, s, &factors);
    if (code != NNRT_SUCCESS)
        return code;
    S = (float)(2 * (s[0] > s[1] ? s[0] : s[1]));
    nnrti_factor(S > 0 ? (double)((float)s[0] / S) : 0, factors);
    nnrti_factor(S > 0 ? (double)((float)s[1] / S) : 0, factors + 2);
    nnrti_factor(s[2] > 0 ? (double)(S / (1048576.0f * (float)s[2])) : 0, factors + 4);
    return NNRT_SUCCESS;
}

/* Derived: when quantised, zero point and bounds of the result, the factors of x, of y and of what they make. */
static NNRT_ReturnCode nnrti_rule_sub_fusion(nnrt_resolve *c)
{
    const NNRT_ActivationType type = ((const NNRT_SubFusion *)c->resolved)->activationType;
    const NNRT_ReturnCode code = nnrti_binary_rule(c, type);
    return code == NNRT_SUCCESS && nnrti_is_quant(&c->in[0]) ? nnrti_quant_difference(c, type) : code;
}

/* >>kernel SUB_FUSION */

/* z = act(x - y), x and y broadcast to the dims of z. z may lie where an input of its shape lies. */
NNRT_API NNRT_ReturnCode nnrt_sub_fusion_f32(const NNRT_SubFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                             nnrt_view *z)
{
    nnrti_walk w;
    if (!nnrti_walk_first(&w, z, x, y))
        return NNRT_SUCCESS;
    do {
        NNRTI_ROW_F32(w, x, y, z, a - b)
        nnrti_activate_row_f32(&w, z, attr->activationType);
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

static void nnrti_sub_row(const nnrti_walk *w, const nnrt_view *x, const nnrt_view *y, nnrt_view *z,
                          NNRT_ActivationType activation)
{
    switch (z->dataType) {
        NNRTI_ROWS_WRAP(a - b)
        NNRTI_ROWS_FLOAT(a - b, activation)
    default: break;
    }
}

/* The same for every other number type; integers wrap. */
NNRT_API NNRT_ReturnCode nnrt_sub_fusion(const NNRT_SubFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                         nnrt_view *z)
{
    nnrti_binary(x, y, z, attr->activationType, nnrti_sub_row);
    return NNRT_SUCCESS;
}

/* As nnrti_quant_add, which of -b would not be the same: halves are rounded up. */
static int64_t nnrti_quant_sub(int32_t a, int32_t b, const int32_t *quant)
{
    const int32_t *factor = quant + NNRTI_QUANT_FACTORS;
    const int64_t p = nnrti_rescale((int64_t)a * (1 << 20), factor);
    return nnrti_rescale(p - nnrti_rescale((int64_t)b * (1 << 20), factor + 2), factor + 4);
}

/* Quantised int8 or uint8 with a list of nnrti_quant_difference. */
NNRT_API NNRT_ReturnCode nnrt_sub_fusion_q8(const NNRT_SubFusion *attr, const nnrt_view *x, const nnrt_view *y,
                                            const nnrt_view *list, nnrt_view *z)
{
    (void)attr;
    return nnrti_binary_q8(x, y, list, z, nnrti_quant_sub);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op TAN */
/* >>kernel TAN */

/* y = the tangent of x, element by element; NaN of an infinity. y may lie where x lies. */
NNRTI_UNARY(Tan, tan, nnrti_tanf, nnrti_tan)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op TILE_FUSION */

/* times = how often each of the rank axes of the result repeats that of x, which gets leading axes of extent 1. */
static NNRT_ReturnCode nnrti_tile_times(nnrt_resolve *c, const NNRT_TileFusion *a, int32_t rank,
                                        int64_t times[NNRT_MAX_RANK])
{
    const int32_t count = c->in[1].dims[0];
    int32_t axes[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    for (int32_t k = 0; k < count && k < NNRT_MAX_RANK; k++) /* more are refused below: dims names one twice */
        axes[k] = rank - count + k;
    if ((code = nnrti_axes(c, "an entry of dims", &a->dims, rank, axes)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < rank; i++)
        times[i] = 1;
    for (int32_t k = 0; k < count; k++) {
        times[axes[k]] = nnrti_element_unbounded(&c->in[1], (size_t)k) ? 1 : nnrti_value(&c->in[1], (size_t)k);
        if (times[axes[k]] < 0)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "multiples[%d] is %l, expected at least 0", k, times[axes[k]]);
    }
    return NNRT_SUCCESS;
}

/* Where the extents of the result are from: x's where it is not repeated. */
static void nnrti_tile_symbols(nnrt_resolve *c, const int32_t to[NNRT_MAX_RANK])
{
    const nnrt_operand *x = &c->in[0];
    bool open = false;
    for (int32_t k = 0; k < c->in[1].dims[0]; k++)
        open = open || nnrti_element_open(&c->in[1], (size_t)k);
    for (int32_t i = 0; i < x->rank && !open; i++)
        if (to[i] >= 0)
            nnrti_from(c, 0, to[i], x, i);
        else if (!nnrti_axis_open(x, i))
            nnrti_fixed(c, 0, i + c->out[0].rank - x->rank);
    for (int32_t k = 0; k < c->out[0].rank - x->rank && !open; k++)
        nnrti_fixed(c, 0, k);
}

/* Resolved: dims lists the axes of y; x is seen with as many axes as y. How often each repeats is told by the extents. */
static NNRT_ReturnCode nnrti_rule_tile_fusion(nnrt_resolve *c)
{
    NNRT_TileFusion *a = (NNRT_TileFusion *)c->resolved;
    nnrt_operand *x = &c->in[0];
    const int32_t listed = a->dims.count > (uint32_t)x->rank ? x->rank + 1 : (int32_t)a->dims.count;
    int32_t rank, seen[NNRT_MAX_RANK], dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    int64_t times[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if ((code = nnrti_known_list(c, 1, "multiples", listed, listed > 0 ? listed : NNRT_MAX_RANK)) != NNRT_SUCCESS)
        return code;
    rank = listed == 0 && c->in[1].dims[0] > x->rank ? c->in[1].dims[0] : x->rank;
    if ((code = nnrti_tile_times(c, a, rank, times)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < rank; i++) {
        seen[i] = i < rank - x->rank ? 1 : x->dims[i - (rank - x->rank)];
        if (times[i] > INT32_MAX || seen[i] * times[i] > INT32_MAX)
            return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "axis %d, extent %d, repeated %l times: too large", i, seen[i],
                              times[i]);
        dims[i] = seen[i] * (int32_t)times[i];
        if (i >= rank - x->rank)
            to[i - (rank - x->rank)] = times[i] == 1 ? i : -1;
    }
    nnrti_result(c, 0, rank, dims);
    nnrti_tile_symbols(c, to);
    nnrti_see_as(x, rank, seen);
    if ((code = nnrti_set_axes(c, &a->dims, (1u << rank) - 1u)) != NNRT_SUCCESS)
        return code;
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel TILE_FUSION */

/* x [L0,L1,..], y [L0*m0, L1*m1, ..] of as many axes; the multiples m follow from the extents.
   y[i0,i1,..] = x[i0 % L0, i1 % L1, ..]. Any element type; y must not overlap x.
   Axis by axis, what is there is copied behind itself, twice as much each time. */
NNRT_API NNRT_ReturnCode nnrt_tile_fusion(const NNRT_TileFusion *attr, const nnrt_view *x, nnrt_view *y)
{
    nnrt_view done = *y;
    (void)attr;
    if (nnrti_empty(y))
        return NNRT_SUCCESS;
    memcpy(done.dims, x->dims, sizeof(done.dims));
    nnrti_copy(x, &done);
    for (int32_t i = 0; i < y->rank; i++) {
        int32_t have = x->dims[i];
        while (have < y->dims[i]) {
            const int32_t more = have < y->dims[i] - have ? have : y->dims[i] - have;
            const nnrt_view from = nnrti_part(&done, i, 0, more);
            nnrt_view to = nnrti_part(&done, i, have, more);
            nnrti_copy(&from, &to);
            have += more;
        }
        done.dims[i] = have;
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op TOPK_FUSION */

/* Resolved: axis >= 0. k is the extent of the results along axis. */
static NNRT_ReturnCode nnrti_rule_topk_fusion(nnrt_resolve *c)
{
    NNRT_TopKFusion *a = (NNRT_TopKFusion *)c->resolved;
    const nnrt_operand *x = &c->in[0], *k = &c->in[1];
    int32_t axis, dims[NNRT_MAX_RANK];
    int64_t count;
    NNRT_ReturnCode code = c->nOut > 1 ? nnrti_index_result(c, 1) : NNRT_SUCCESS;
    if (code != NNRT_SUCCESS)
        return code;
    if (nnrti_count(k) != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input 1 (k) '%s' is %o, expected [1]", k->name, k);
    if ((code = nnrti_known(c, 1, "k")) != NNRT_SUCCESS ||
        (code = nnrti_axis(c, "axis", a->axis, x->rank, &axis)) != NNRT_SUCCESS)
        return code;
    count = nnrti_element_unbounded(k, 0) ? x->dims[axis] : nnrti_value(k, 0);
    if (count > x->dims[axis] && nnrti_element_open(k, 0))
        count = x->dims[axis];
    if (count < 0 || (count > x->dims[axis] && !nnrti_axis_open(x, axis)))
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "k is %l, expected 0 to %d, the extent of axis %d", count,
                          x->dims[axis], axis);
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = (int32_t)count;
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrti_result(c, i, x->rank, dims);
        for (int32_t n = 0; n < x->rank; n++)
            nnrti_from(c, i, n, x, n);
        nnrti_from_value(c, i, axis, k, 0);
        if (nnrti_element_unbounded(k, 0))
            nnrti_bounded(c, i, axis);
    }
    a->axis = axis;
    c->scratch = count > 1 ? (size_t)count * sizeof(int32_t) : 0; /* the largest is found in one pass */
    return nnrti_quant_chosen(c, 0, axis);
}

/* >>kernel TOPK_FUSION */

/* For every line of x [.., L, ..] along axis the k largest elements, NaN smallest, into values [.., k, ..] and their
   positions (int32 or int64) into indices, which may be NULL. sorted: falling, equal ones by rising position; otherwise
   the same elements by rising position. Neither result may overlap x. Scratch: 4*k bytes. */
NNRT_API NNRT_ReturnCode nnrt_topk_fusion(const NNRT_TopKFusion *attr, const nnrt_view *x, nnrt_view *values,
                                          nnrt_view *indices, nnrt_call *call)
{
    const int32_t axis = (int32_t)attr->axis;
    return nnrti_top_lines(x, axis, values->dims[axis], false, attr->sorted, values, indices, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op TRANSPOSE */

/* The format of x with its axes permuted: kept or changed where the channels stay or go from one end of the image to the
   other, and the rest keeps its order. */
static NNRT_Format nnrti_transposed_format(const nnrt_operand *x, const int32_t *perm)
{
    bool kept = x->format != NNRT_FORMAT_NONE, turned = kept && x->rank > 2 && perm[0] == 0;
    for (int32_t k = 0; k < x->rank; k++) {
        kept = kept && perm[k] == k;
        if (k > 0 && x->format == NNRT_FORMAT_NCHW)
            turned = turned && perm[k] == (k + 1 < x->rank ? k + 1 : 1);
        else if (k > 0)
            turned = turned && perm[k] == (k > 1 ? k - 1 : x->rank - 1);
    }
    if (turned)
        return x->format == NNRT_FORMAT_NCHW ? NNRT_FORMAT_NHWC : NNRT_FORMAT_NCHW;
    return kept ? x->format : NNRT_FORMAT_NONE;
}

/* perm is told in a run: each axis may become that of the largest extent. */
static NNRT_ReturnCode nnrti_transpose_late(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    int32_t dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK], largest = 0;
    const NNRT_ReturnCode code = nnrti_known(c, 1, "perm");
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t k = 0; k < x->rank; k++)
        largest = x->dims[k] > largest ? x->dims[k] : largest;
    for (int32_t k = 0; k < x->rank; k++) {
        dims[k] = largest;
        to[k] = -1;
    }
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t k = 0; k < x->rank; k++)
        nnrti_bounded(c, 0, k);
    nnrti_result_of_as_many(c, x);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* Derived: perm as int32 without negative entries. */
static NNRT_ReturnCode nnrti_rule_transpose(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    int32_t perm[NNRT_MAX_RANK], dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    uint32_t seen = 0;
    const bool late = nnrti_late(c, 1);
    NNRT_ReturnCode code = nnrti_known_list(c, 1, "perm", x->rank, x->rank);
    if (code == NNRT_SUCCESS && late)
        return nnrti_transpose_late(c);
    if (code == NNRT_SUCCESS)
        code = nnrti_known_fixed(c, 1, "perm");
    for (int32_t k = 0; k < x->rank && code == NNRT_SUCCESS; k++) {
        code = nnrti_axis(c, "an entry of perm", nnrti_value(&c->in[1], (size_t)k), x->rank, &perm[k]);
        if (code != NNRT_SUCCESS)
            break;
        if ((seen >> perm[k]) & 1u)
            return nnrti_fail(c, NNRT_INVALID_PARAMETER, "perm names axis %d twice", perm[k]);
        seen |= 1u << perm[k];
        dims[k] = x->dims[perm[k]];
        to[perm[k]] = k;
    }
    if (code != NNRT_SUCCESS || (code = nnrti_derive_ints(c, x->rank, perm)) != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, x->rank, dims);
    for (int32_t k = 0; k < x->rank; k++)
        nnrti_from(c, 0, k, x, perm[k]);
    if (c->out[0].format == NNRT_FORMAT_NONE)
        c->out[0].format = nnrti_transposed_format(x, perm);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* >>kernel TRANSPOSE */

/* Axis k of y is axis perm[k] of x: y[i0,i1,..] = x[j0,j1,..] with j[perm[k]] = i[k]. perm int32, one entry per axis.
   Any element type; y must not overlap x. */
NNRT_API NNRT_ReturnCode nnrt_transpose(const NNRT_Transpose *attr, const nnrt_view *x, const nnrt_view *perm,
                                        nnrt_view *y)
{
    nnrt_view turned = *x;
    (void)attr;
    for (int32_t k = 0; k < x->rank; k++) {
        const int32_t axis = ((const int32_t *)perm->data)[k];
        turned.dims[k] = x->dims[axis];
        turned.strides[k] = x->strides[axis];
    }
    nnrti_copy(&turned, y);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op TRILU */

/* k may be told in a run: no extent depends on it. */
static NNRT_ReturnCode nnrti_rule_trilu(nnrt_resolve *c)
{
    const nnrt_operand *x = &c->in[0];
    if (x->rank < 2)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected two axes or more", x->name, x);
    nnrti_result_like(c, 0);
    return nnrti_absent(&c->in[1]) ? NNRT_SUCCESS : nnrti_one_element(c, 1, "k");
}

/* >>kernel TRILU */

/* x, y [..,R,C] of any one element type; k one int32 or int64, NULL: 0. y[..,i,j] = j >= i + k ? x[..,i,j] : 0; for the lower
   triangle j <= i + k. y may lie where x lies. */
NNRT_API NNRT_ReturnCode nnrt_trilu(const NNRT_Trilu *attr, const nnrt_view *x, const nnrt_view *k, nnrt_view *y)
{
    static const uint64_t zero = 0;
    const int32_t rows = x->rank - 2, R = x->dims[rows], C = x->dims[rows + 1];
    const int64_t given = k != NULL ? nnrti_index(k, 0) : 0, shift = given > C             ? C
                                                                     : given < -(int64_t)R ? -(int64_t)R
                                                                                           : given;
    const ptrdiff_t from = x->strides[rows + 1], to = y->strides[rows + 1];
    const size_t width = nnrt_type_size(x->dataType);
    nnrt_view starts[2];
    nnrti_walk w;
    starts[0] = nnrti_without_axes(y, rows, 2);
    starts[1] = nnrti_without_axes(x, rows, 2);
    if (nnrti_empty(x) || !nnrti_walk_first(&w, &starts[0], &starts[1], NULL))
        return NNRT_SUCCESS;
    do
        for (int32_t n = 0; n < w.count; n++)
            for (int32_t i = 0; i < R; i++) {
                const int64_t edge = i + shift + (attr->upper ? 0 : 1);
                const int32_t at = edge < 0 ? 0 : edge > C ? C : (int32_t)edge; /* zeros end or begin here */
                const int32_t kept = attr->upper ? at : 0, zeros = attr->upper ? 0 : at;
                uint8_t *z = (uint8_t *)nnrti_at(y->data, w.at[0] + n * w.row[0] + i * y->strides[rows], width);
                uint8_t *v = (uint8_t *)nnrti_at(x->data, w.at[1] + n * w.row[1] + i * x->strides[rows], width);
                nnrti_copy_row(nnrti_at(z, kept * to, width), to, nnrti_at(v, kept * from, width), from,
                               attr->upper ? C - at : at, width);
                nnrti_copy_row(nnrti_at(z, zeros * to, width), to, &zero, 0, attr->upper ? at : C - at, width);
            }
    while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op UNIQUE */

/* Resolved: axis is one entry >= 0. The results have a place for every one that there is. */
static NNRT_ReturnCode nnrti_rule_unique(nnrt_resolve *c)
{
    NNRT_Unique *a = (NNRT_Unique *)c->resolved;
    int32_t dims[NNRT_MAX_RANK], rank, axis, L, to[NNRT_MAX_RANK];
    NNRT_ReturnCode code = nnrti_told_axis(c, &a->axis, &rank, dims, &axis, to);
    if (code != NNRT_SUCCESS)
        return code;
    L = dims[axis];
    nnrti_told_result(c, 0, rank, dims, axis, true);
    for (uint32_t i = 1; i < c->nOut; i++) {
        if ((code = nnrti_index_result(c, i)) != NNRT_SUCCESS)
            return code;
        if (i == 2)
            nnrti_result(c, 2, 1, &L); /* inverse: one for each place of x */
        else
            nnrti_told_result(c, i, 1, &L, 0, true);
        if (i == 2 && rank == c->in[0].rank)
            nnrti_from(c, 2, 0, &c->in[0], axis);
    }
    c->scratch = 2 * (size_t)L * sizeof(int32_t);
    return NNRT_SUCCESS;
}

/* >>kernel UNIQUE */

/* The places of x along axis, each a slice; walk is over the elements of one. */
typedef struct nnrti_slices {
    const nnrt_view *x;
    nnrti_walk walk;
    ptrdiff_t step;
    bool empty;
} nnrti_slices;

/* < 0, 0, > 0: slice a is less than, equal to, larger than slice b by the first elements in which they differ; NaN is largest, and
   equal to itself. */
static int32_t nnrti_slices_differ(const nnrti_slices *s, int32_t a, int32_t b)
{
    nnrti_walk w = s->walk;
    bool more = !s->empty;
    for (; more; more = nnrti_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++) {
            nnrti_line line = nnrti_line_of(s->x, 0, w.at[0] + i * w.row[0]);
            uint64_t p, q;
            line.step = s->step;
            line.rising = true;
            p = nnrti_top_order(&line, a); /* the larger, the further in front */
            q = nnrti_top_order(&line, b);
            if (p != q)
                return p > q ? -1 : 1;
        }
    return 0;
}

/* heap[at..n) holds slices, none in front of those below it, but for heap[at]: puts that in its place. Equal ones stand in the
   order of x. */
static void nnrti_slices_sift(const nnrti_slices *s, int32_t *heap, int32_t at, int32_t n)
{
    const int32_t moved = heap[at];
    for (int32_t child; (child = 2 * at + 1) < n; at = child) {
        int32_t differ = child + 1 < n ? nnrti_slices_differ(s, heap[child + 1], heap[child]) : -1;
        child += differ > 0 || (differ == 0 && heap[child + 1] > heap[child]) ? 1 : 0;
        differ = nnrti_slices_differ(s, heap[child], moved);
        if (differ < 0 || (differ == 0 && heap[child] < moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* order = the L slices in rising order. */
static void nnrti_slices_sort(const nnrti_slices *s, int32_t L, int32_t *order)
{
    for (int32_t i = 0; i < L; i++)
        order[i] = i;
    for (int32_t i = L / 2 - 1; i >= 0; i--)
        nnrti_slices_sift(s, order, i, L);
    for (int32_t n = L - 1; n > 0; n--) {
        const int32_t last = order[0];
        order[0] = order[n];
        order[n] = last;
        nnrti_slices_sift(s, order, 0, n);
    }
}

/* group[i] = which of the different slices slice i is, 0 for the first; returns how many there are. order is used. */
static int32_t nnrti_slices_group(const nnrti_slices *s, bool sorted, int32_t L, int32_t *order, int32_t *group)
{
    int32_t n = 0, met = 0;
    nnrti_slices_sort(s, L, order);
    for (int32_t i = 0; i < L; i++) {
        n += i == 0 || nnrti_slices_differ(s, order[i - 1], order[i]) != 0 ? 1 : 0;
        group[order[i]] = n - 1;
    }
    if (sorted)
        return n;
    for (int32_t i = 0; i < n; i++)
        order[i] = -1; /* new number of each group */
    for (int32_t i = 0; i < L; i++) {
        if (order[group[i]] < 0)
            order[group[i]] = met++;
        group[i] = order[group[i]];
    }
    return n;
}

/* x [A..,L,B..] of any one element type; of its L places along axis y [A..,N,B..] has those that differ, the first of equal ones; -0
   is 0, and NaN is NaN. indices [N]: where each was first; inverse [L]: which of y each place of x is; counts [N]: how often;
   these are int32 or int64 and may be NULL. Rising order is that of the first elements in which two places differ, NaN last.
   Without an axis the kernel sees x as one line. It sets the extents to N; there is room for L. y must not overlap x.
   Scratch: 8*L bytes; NNRT_INSUFFICIENT_BUFFER without. */
NNRT_API NNRT_ReturnCode nnrt_unique(const NNRT_Unique *attr, const nnrt_view *x, nnrt_view *y, nnrt_view *indices,
                                     nnrt_view *inverse, nnrt_view *counts, nnrt_call *call)
{
    const int32_t axis = (int32_t)attr->axis.data[0], L = x->dims[axis];
    int32_t *count = (int32_t *)nnrti_scratch(call, 2 * (size_t)L * sizeof(*count)), *group, n;
    nnrt_view one = *x;
    nnrti_slices s;
    if (count == NULL && L > 0)
        return nnrt_call_fail(call, NNRT_INSUFFICIENT_BUFFER, "needs %z bytes of scratch",
                              2 * (size_t)L * sizeof(*count));
    group = L > 0 ? count + L : NULL;
    one.dims[axis] = 1;
    s.x = x;
    s.step = x->strides[axis];
    s.empty = !nnrti_walk_first(&s.walk, &one, NULL, NULL);
    n = L > 0 ? nnrti_slices_group(&s, attr->sorted, L, count, group) : 0;
    if (y != NULL)
        nnrti_tell(y, axis, n);
    if (indices != NULL)
        nnrti_tell(indices, 0, n);
    if (counts != NULL)
        nnrti_tell(counts, 0, n);
    for (int32_t i = 0; i < n; i++)
        count[i] = 0;
    for (int32_t i = 0; i < L; i++) {
        const bool first = count[group[i]]++ == 0;
        if (first && y != NULL) {
            const nnrt_view from = nnrti_part(x, axis, i, 1);
            nnrt_view to = nnrti_part(y, axis, group[i], 1);
            nnrti_copy(&from, &to);
        }
        if (first && indices != NULL)
            nnrti_store_int(indices->data, group[i], (uint64_t)i, indices->dataType);
        if (inverse != NULL)
            nnrti_store_int(inverse->data, i * inverse->strides[0], (uint64_t)group[i], inverse->dataType);
    }
    for (int32_t i = 0; i < n && counts != NULL; i++)
        nnrti_store_int(counts->data, i, (uint64_t)count[i], counts->dataType);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op UNSQUEEZE */

/* Resolved: axis lists the new axes of y, ascending; y is seen with the shape of x. */
static NNRT_ReturnCode nnrti_rule_unsqueeze(nnrt_resolve *c)
{
    NNRT_Unsqueeze *a = (NNRT_Unsqueeze *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axes[NNRT_MAX_RANK], dims[NNRT_MAX_RANK] = {0}, to[NNRT_MAX_RANK], rank, from = 0;
    uint32_t added = 0;
    NNRT_ReturnCode code = nnrti_room(c, (int64_t)x->rank + a->axis.count);
    if (code != NNRT_SUCCESS)
        return code;
    rank = x->rank + (int32_t)a->axis.count;
    if ((code = nnrti_axes(c, "an entry of axis", &a->axis, rank, axes)) != NNRT_SUCCESS)
        return code;
    for (uint32_t k = 0; k < a->axis.count; k++)
        added |= 1u << axes[k];
    for (int32_t i = 0; i < rank; i++) {
        if (((added >> i) & 1u) == 0)
            to[from] = i;
        dims[i] = (added >> i) & 1u ? 1 : x->dims[from++];
    }
    if ((code = nnrti_set_axes(c, &a->axis, added)) != NNRT_SUCCESS)
        return code;
    nnrti_result(c, 0, rank, dims);
    for (int32_t i = 0; i < rank; i++)
        nnrti_fixed(c, 0, i);
    for (int32_t i = 0; i < x->rank; i++)
        nnrti_from(c, 0, to[i], x, i);
    nnrti_see_as(&c->out[0], x->rank, x->dims);
    return nnrti_quant_moves(c, 0, 0, to);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op UNSTACK */

/* A result for each place of the axis. Resolved: axis >= 0. */
static NNRT_ReturnCode nnrti_rule_unstack(nnrt_resolve *c)
{
    NNRT_Unstack *a = (NNRT_Unstack *)c->resolved;
    const nnrt_operand *x = &c->in[0];
    int32_t axis, dims[NNRT_MAX_RANK], to[NNRT_MAX_RANK];
    NNRT_ReturnCode code = nnrti_axis(c, "axis", a->axis, x->rank, &axis);
    if (code != NNRT_SUCCESS)
        return code;
    if (c->nOut != (uint32_t)x->dims[axis] && !nnrti_axis_open(x, axis))
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "has %u outputs, expected %d, the extent of axis %d of input '%s' %o",
                          c->nOut, x->dims[axis], axis, x->name, x);
    a->axis = axis;
    for (int32_t i = 0; i < x->rank - 1; i++)
        dims[i] = x->dims[i < axis ? i : i + 1];
    nnrti_axes_shifted(c, axis, -1, to);
    for (uint32_t k = 0; k < c->nOut; k++) {
        nnrti_result(c, k, x->rank - 1, dims);
        for (int32_t i = 0; i < x->rank - 1; i++)
            nnrti_from(c, k, i, x, i < axis ? i : i + 1);
        if ((code = nnrti_quant_moves(c, 0, k, to)) != NNRT_SUCCESS)
            return code;
    }
    return NNRT_SUCCESS;
}

/* >>kernel UNSTACK */

/* x [A..,nOut,B..] with nOut at place axis, y[k] [A..,B..]: y[k][a..,b..] = x[a..,k,b..]. One element type, whatever that
   is; no y may overlap x. One without data is left out. */
NNRT_API NNRT_ReturnCode nnrt_unstack(const NNRT_Unstack *attr, const nnrt_view *x, nnrt_view *y, uint32_t nOut)
{
    const int32_t axis = (int32_t)attr->axis;
    for (uint32_t k = 0; k < nOut; k++) {
        const nnrt_view part = nnrti_part(x, axis, (int32_t)k, 1), place = nnrti_without_axes(&part, axis, 1);
        if (y[k].data != NULL)
            nnrti_copy(&place, &y[k]);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op WHERE */

/* Elements of input i of x and y go into the result, whose axes it has behind others. */
static NNRT_ReturnCode nnrti_where_quant(nnrt_resolve *c, uint32_t i)
{
    int32_t to[NNRT_MAX_RANK];
    for (int32_t k = 0; k < c->in[i].rank; k++)
        to[k] = k + c->out[0].rank - c->in[i].rank;
    return nnrti_quant_moves(c, i, 0, to);
}

/* A condition of one axis, as long as the first of several of x, chooses rows: the kernel sees it with the axes of x, 1
   behind the first. Any other is broadcast; with an extent of 1 both are the same. */
static NNRT_ReturnCode nnrti_rule_where(nnrt_resolve *c)
{
    nnrt_operand *condition = &c->in[0];
    const nnrt_operand *x = &c->in[1], *y = &c->in[2];
    const bool several = condition->rank == 1 && x->rank > 1;
    const bool rows = several && nnrti_equal(condition, 0, x, 0);
    int32_t dims[NNRT_MAX_RANK];
    NNRT_ReturnCode code;
    if (several && !rows && !nnrti_unlike(condition, 0, x, 0) && !nnrti_is_one(condition, 0) && !nnrti_is_one(x, 0))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                          "condition '%s' %o chooses rows of '%s' %o where it is as long as axis 0, and is broadcast "
                          "where it is not: give the extents, or the condition as many axes",
                          condition->name, condition, x->name, x);
    if (nnrti_is_quant(x) != nnrti_is_quant(y))
        return nnrti_fail(c, NNRT_UNSUPPORTED_OP, "of inputs '%s' and '%s' only one is quantised", x->name, y->name);
    nnrti_result(c, 0, 0, NULL);
    if ((code = nnrti_broadcast_also(c, x)) != NNRT_SUCCESS || (code = nnrti_broadcast_also(c, y)) != NNRT_SUCCESS ||
        (!rows && (code = nnrti_broadcast_also(c, condition)) != NNRT_SUCCESS) ||
        (code = nnrti_where_quant(c, 1)) != NNRT_SUCCESS)
        return code;
    if (rows) {
        for (int32_t i = 0; i < x->rank; i++)
            dims[i] = i == 0 ? condition->dims[0] : 1;
        nnrti_see_as(condition, x->rank, dims);
    }
    return nnrti_where_quant(c, 2);
}

/* >>kernel WHERE */

/* z = condition ? x : y, a bool and elements of any one type, broadcast to the dims of z. A condition that chooses rows
   has as many axes as x, with extents of 1 behind the first. z must not overlap an input. */
NNRT_API NNRT_ReturnCode nnrt_where(const NNRT_Where *attr, const nnrt_view *condition, const nnrt_view *x,
                                    const nnrt_view *y, nnrt_view *z)
{
    const size_t width = nnrt_type_size(z->dataType);
    nnrti_walk w;
    (void)attr;
    nnrti_copy(y, z);
    if (!nnrti_walk_first(&w, z, condition, x))
        return NNRT_SUCCESS;
    do {
        const uint8_t *chosen = (const uint8_t *)condition->data + w.at[1];
        switch (width) {
#define NNRTI_WHERE_ROW(bytes, T)                                                                                      \
    case bytes:                                                                                                        \
        for (int32_t i = 0; i < w.count; i++)                                                                          \
            if (chosen[i * w.row[1]] != 0)                                                                             \
                ((T *)z->data)[w.at[0] + i * w.row[0]] = ((const T *)x->data)[w.at[2] + i * w.row[2]];                 \
        break;
            NNRTI_WHERE_ROW(1, uint8_t)
            NNRTI_WHERE_ROW(2, uint16_t)
            NNRTI_WHERE_ROW(4, uint32_t)
            NNRTI_WHERE_ROW(8, uint64_t)
        default: break;
        }
    } while (nnrti_walk_next(&w));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op WINDOW */

/* Resolved: outputDatatype. */
static NNRT_ReturnCode nnrti_rule_window(nnrt_resolve *c)
{
    NNRT_Window *a = (NNRT_Window *)c->resolved;
    const nnrt_operand *size = &c->in[0];
    nnrt_operand *y = &c->out[0];
    int64_t extent = 1;
    int32_t dims[1];
    NNRT_ReturnCode code;
    if (a->outputDatatype == NNRT_DATA_TYPE_UNKNOWN)
        a->outputDatatype = nnrti_absent(y) ? NNRT_DATA_TYPE_FLOAT32 : y->dataType;
    if (!nnrti_absent(y) && a->outputDatatype != y->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "output '%s' is declared %t, but outputDatatype is %t", y->name,
                          y->dataType, (NNRT_DataType)a->outputDatatype);
    if (!nnrti_type_in((NNRT_DataType)a->outputDatatype, NNRT_TYPES_FLOAT | NNRT_TYPES_F64))
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "outputDatatype is %t, expected float16, float32 or float64",
                          (NNRT_DataType)a->outputDatatype);
    y->dataType = (NNRT_DataType)a->outputDatatype;
    if ((code = nnrti_one_element(c, 0, "size")) != NNRT_SUCCESS || (code = nnrti_known(c, 0, "size")) != NNRT_SUCCESS)
        return code;
    if (!nnrti_element_unbounded(size, 0))
        extent = nnrti_value(size, 0);
    if (extent < 0)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "size is %l, expected at least 0", extent);
    if (extent > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "size is %l: too large", extent);
    dims[0] = (int32_t)extent;
    nnrti_result(c, 0, 1, dims);
    nnrti_from_value(c, 0, 0, size, 0);
    return NNRT_SUCCESS;
}

/* >>kernel WINDOW */

/* y [L], float16, float32 or float64; size is not looked at. y[n] with a = 2*pi*n/L, in float64 (periodic 0: n/(L - 1),
   and 1 for L = 1): HANN 0.5 - 0.5*cos(a), HAMMING 25/46 - 21/46*cos(a), BLACKMAN 0.42 - 0.5*cos(a) + 0.08*cos(2*a). */
NNRT_API NNRT_ReturnCode nnrt_window(const NNRT_Window *attr, const nnrt_view *size, nnrt_view *y)
{
    const size_t width = nnrt_type_size(y->dataType);
    const int32_t period = attr->periodic != 0 ? y->dims[0] : y->dims[0] - 1;
    (void)size;
    for (int32_t n = 0; n < y->dims[0]; n++) {
        const double a = period > 0 ? 6.283185307179586 * (double)n / (double)period : 0, b = nnrti_cos(a);
        double v = 1;
        if (period > 0)
            v = attr->kind == NNRT_WINDOW_KIND_HANN      ? 0.5 - 0.5 * b
                : attr->kind == NNRT_WINDOW_KIND_HAMMING ? 25.0 / 46.0 - 21.0 / 46.0 * b
                                                         : 0.42 - 0.5 * b + 0.08 * nnrti_cos(2 * a);
        nnrti_write_f64(nnrti_at(y->data, n * y->strides[0], width), 1, &v, 1, y->dataType);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>op YOLO_BOX */

/* Resolved: scaleXY is not 0. Derived: the axis of the channels of x, one int32. */
static NNRT_ReturnCode nnrti_rule_yolo_box(nnrt_resolve *c)
{
    NNRT_YoloBox *a = (NNRT_YoloBox *)c->resolved;
    const nnrt_operand *x = &c->in[0], *size = &c->in[1], *anchors = &c->in[2];
    const nnrt_operand *images = nnrti_axis_open(x, 0) ? size : x; /* the fixed one of two */
    int32_t dims[3], channels;
    int64_t wanted, boxes;
    NNRT_ReturnCode code;
    if (x->rank != 4)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected 4 axes", x->name, x);
    if (size->rank != 2 || nnrti_unlike(x, 0, size, 0) || (size->dims[1] != 2 && !nnrti_axis_open(size, 1)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "imgSize '%s' is %o, expected [%d,2]", size->name, size, x->dims[0]);
    if (anchors->rank != 1 || (anchors->dims[0] % 2 != 0 && !nnrti_axis_open(anchors, 0)))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "anchors '%s' is %o, expected one axis of pairs: width, height",
                          anchors->name, anchors);
    if (a->classNum < 1 || a->downsampleRatio < 1)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "classNum is %l and downsampleRatio %l, expected at least 1",
                          a->classNum, a->downsampleRatio);
    a->scaleXY = a->scaleXY == 0 ? 1 : a->scaleXY;
    channels = nnrti_image_axis(x, 2);
    wanted = nnrti_product(anchors->dims[0] / 2, a->classNum + (a->iouAware ? 6 : 5));
    if (x->dims[channels] != wanted && !nnrti_axis_open(x, channels) && !nnrti_axis_open(anchors, 0))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input '%s' is %o, expected %l channels: %d anchors of %l classes",
                          x->name, x, wanted, anchors->dims[0] / 2, a->classNum);
    boxes =
        nnrti_product(anchors->dims[0] / 2, (int64_t)x->dims[nnrti_image_axis(x, 0)] * x->dims[nnrti_image_axis(x, 1)]);
    if (boxes > INT32_MAX)
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "the result would have %l boxes: too large", boxes);
    dims[0] = images->dims[0];
    dims[1] = (int32_t)boxes;
    for (uint32_t i = 0; i < 2; i++) {
        dims[2] = i == 0 ? 4 : (int32_t)a->classNum;
        if ((code = nnrti_float_result(c, i)) != NNRT_SUCCESS)
            return code;
        nnrti_result(c, i, 3, dims);
        nnrti_from(c, i, 0, images, 0);
        if (!nnrti_axis_open(x, nnrti_image_axis(x, 0)) && !nnrti_axis_open(x, nnrti_image_axis(x, 1)) &&
            !nnrti_axis_open(anchors, 0))
            nnrti_fixed(c, i, 1);
        nnrti_fixed(c, i, 2);
    }
    return nnrti_derive_ints(c, 1, &channels);
}

/* >>kernel YOLO_BOX */

/* The numbers of an anchor in a cell, step elements apart: x, y, w, h, confidence, classes. */
typedef struct nnrti_yolo {
    nnrti_line code;
    float overlap;     /* what the network expects, before the sigmoid */
    float row, column; /* of the cell */
    float cells[2];    /* of x: columns, rows */
    float image[2];    /* width and height in pixels */
    float anchor[2];   /* width and height, in pixels of the network's input */
} nnrti_yolo;

static float nnrti_yolo_at(const nnrti_yolo *v, int64_t i)
{
    return nnrti_load(v->code.data, (ptrdiff_t)i * v->code.step, v->code.type);
}

static float nnrti_yolo_confidence(const NNRT_YoloBox *attr, const nnrti_yolo *v)
{
    const float own = nnrti_sigmoidf(nnrti_yolo_at(v, 4));
    if (!attr->iouAware)
        return own;
    return nnrti_powf(own, 1 - attr->iouAwareFactor) * nnrti_powf(nnrti_sigmoidf(v->overlap), attr->iouAwareFactor);
}

/* box = left, top, right, bottom in pixels of the image. */
static void nnrti_yolo_bounds(const NNRT_YoloBox *attr, const nnrti_yolo *v, float box[4])
{
    for (int32_t k = 0; k < 2; k++) {
        const float cell = k == 0 ? v->column : v->row, network = (float)attr->downsampleRatio * v->cells[k];
        const float shift = nnrti_sigmoidf(nnrti_yolo_at(v, k)) * attr->scaleXY - 0.5f * (attr->scaleXY - 1);
        const float centre = (cell + shift) * v->image[k] / v->cells[k];
        const float half = nnrti_expf(nnrti_yolo_at(v, 2 + k)) * v->anchor[k] * v->image[k] / network / 2;
        box[k] = centre - half;
        box[2 + k] = centre + half;
        if (attr->clipBbox) {
            box[k] = box[k] > 0 ? box[k] : 0;
            box[2 + k] = box[2 + k] < v->image[k] - 1 ? box[2 + k] : v->image[k] - 1;
        }
    }
}

/* The box and the scores of a cell's anchor, both zeros where the confidence is below confThresh. */
static void nnrti_yolo_cell(const NNRT_YoloBox *attr, const nnrti_yolo *v, const nnrti_line *box,
                            const nnrti_line *scores)
{
    const float confidence = nnrti_yolo_confidence(attr, v);
    const bool low = confidence < attr->confThresh;
    float bounds[4];
    nnrti_yolo_bounds(attr, v, bounds);
    for (int32_t k = 0; k < 4 && box->data != NULL; k++)
        ((float *)box->data)[k * box->step] = low ? 0 : bounds[k];
    for (int32_t k = 0; k < attr->classNum && scores->data != NULL; k++)
        ((float *)scores->data)[k * scores->step] = low ? 0 : confidence * nnrti_sigmoidf(nnrti_yolo_at(v, 5 + k));
}

/* The numbers of box i of image n in y, which may be NULL. */
static nnrti_line nnrti_yolo_line(const nnrt_view *y, int32_t n, int32_t i)
{
    return nnrti_line_of(y, 2, y != NULL ? n * y->strides[0] + i * y->strides[1] : 0);
}

/* x [N,H,W,C] or [N,C,H,W], channels one int32: the axis of C; imgSize [N,2] height, width and anchors [2*A] width, height..
   int32 or int64; boxes [N,A*H*W,4], scores [N,A*H*W,classNum] float32. Anchor a has 5 + classNum channels: x, y, w, h,
   confidence, classes; iouAware: before all of them stands one for each anchor, the expected overlap. With S(v) =
   1/(1 + exp(-v)) and s = scaleXY, the box of anchor a, row h, column w, which is box (a*H + h)*W + w, has the centre
   (w + S(x)*s - (s - 1)/2)*width/W, likewise for h, and the edges exp(w)*anchorWidth*width/(downsampleRatio*W), likewise;
   confidence S(c), iouAware: S(c)^(1 - f)*S(overlap)^f, f = iouAwareFactor; scores confidence*S(class). One of boxes
   and scores may be NULL. */
NNRT_API NNRT_ReturnCode nnrt_yolo_box(const NNRT_YoloBox *attr, const nnrt_view *x, const nnrt_view *imgSize,
                                       const nnrt_view *anchors, const nnrt_view *channels, nnrt_view *boxes,
                                       nnrt_view *scores)
{
    const int32_t axis = ((const int32_t *)channels->data)[0],
                  rows = axis == 1 ? 2 : 1; /* the columns stand behind rows */
    const int32_t H = x->dims[rows], W = x->dims[rows + 1], A = anchors->dims[0] / 2;
    const int32_t lead = attr->iouAware ? A : 0, count = (boxes != NULL ? boxes : scores)->dims[1];
    for (int32_t n = 0; n < x->dims[0]; n++)
        for (int32_t i = 0; i < count; i++) {
            const int32_t a = i / W / H, h = i / W % H, w = i % W;
            const ptrdiff_t at = n * x->strides[0] + h * x->strides[rows] + w * x->strides[rows + 1];
            const ptrdiff_t first = lead + a * (5 + (ptrdiff_t)attr->classNum);
            const nnrti_line box = nnrti_yolo_line(boxes, n, i), line = nnrti_yolo_line(scores, n, i);
            nnrti_yolo v;
            v.code = nnrti_line_of(x, axis, at + first * x->strides[axis]);
            v.overlap = attr->iouAware ? nnrti_load(x->data, at + a * x->strides[axis], x->dataType) : 0;
            v.row = (float)h;
            v.column = (float)w;
            for (int32_t k = 0; k < 2; k++) {
                v.cells[k] = (float)(k == 0 ? W : H);
                v.image[k] = (float)nnrti_index(imgSize, n * imgSize->strides[0] + (1 - k) * imgSize->strides[1]);
                v.anchor[k] = (float)nnrti_index(anchors, (2 * a + k) * anchors->strides[0]);
            }
            nnrti_yolo_cell(attr, &v, &box, &line);
        }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The table, made from NNRT_OPS: a wrapper for each kernel, the kernels of each operator, the operators. */

static nnrt_view *nnrti_arg(nnrt_view *args, uint32_t i)
{
    return args[i].dataType == NNRT_DATA_TYPE_UNKNOWN ? NULL : &args[i];
}

#define NNRTI_OUT(i) &args[call->nIn + (i)] /* i counts the derived constants, too, and then the outputs */
#define NNRTI_DERIVED(i) &args[call->nIn + (i)]
#define NNRTI_CALL_1_1 nnrti_arg(args, 0), NNRTI_OUT(0)
#define NNRTI_CALL_1_1c NNRTI_CALL_1_1, call
#define NNRTI_CALL_1_2 nnrti_arg(args, 0), nnrti_arg(args, call->nIn), nnrti_arg(args, call->nIn + 1)
#define NNRTI_CALL_1_2c NNRTI_CALL_1_2, call
#define NNRTI_CALL_1_4c NNRTI_CALL_1_2, nnrti_arg(args, call->nIn + 2), nnrti_arg(args, call->nIn + 3), call
#define NNRTI_CALL_2_1 nnrti_arg(args, 0), nnrti_arg(args, 1), NNRTI_OUT(0)
#define NNRTI_CALL_2_1c NNRTI_CALL_2_1, call
#define NNRTI_CALL_3_1 nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), NNRTI_OUT(0)
#define NNRTI_CALL_3_1c NNRTI_CALL_3_1, call
#define NNRTI_CALL_3_3c                                                                                                \
    nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), nnrti_arg(args, call->nIn),                            \
        nnrti_arg(args, call->nIn + 1), nnrti_arg(args, call->nIn + 2), call
#define NNRTI_CALL_3_4c                                                                                                \
    nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), nnrti_arg(args, call->nIn),                            \
        nnrti_arg(args, call->nIn + 1), nnrti_arg(args, call->nIn + 2), nnrti_arg(args, call->nIn + 3), call
#define NNRTI_CALL_4_1 nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), nnrti_arg(args, 3), NNRTI_OUT(0)
#define NNRTI_CALL_4_1c NNRTI_CALL_4_1, call
#define NNRTI_CALL_5_1                                                                                                 \
    nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), nnrti_arg(args, 3), nnrti_arg(args, 4), NNRTI_OUT(0)
#define NNRTI_CALL_5_1c NNRTI_CALL_5_1, call
#define NNRTI_CALL_6_2c                                                                                                \
    nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), nnrti_arg(args, 3), nnrti_arg(args, 4),                \
        nnrti_arg(args, 5), NNRTI_OUT(0), NNRTI_OUT(1), call
#define NNRTI_CALL_7_3c                                                                                                \
    nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), nnrti_arg(args, 3), nnrti_arg(args, 4),                \
        nnrti_arg(args, 5), nnrti_arg(args, 6), NNRTI_OUT(0), NNRTI_OUT(1), NNRTI_OUT(2), call
#define NNRTI_CALL_1d1_1 nnrti_arg(args, 0), NNRTI_DERIVED(0), NNRTI_OUT(1)
#define NNRTI_CALL_1d1_2 NNRTI_CALL_1d1_1, nnrti_arg(args, call->nIn + 2)
#define NNRTI_CALL_1d2_1 nnrti_arg(args, 0), NNRTI_DERIVED(0), NNRTI_DERIVED(1), NNRTI_OUT(2)
#define NNRTI_CALL_2d1_1 nnrti_arg(args, 0), nnrti_arg(args, 1), NNRTI_DERIVED(0), NNRTI_OUT(1)
#define NNRTI_CALL_2d1_1c NNRTI_CALL_2d1_1, call
#define NNRTI_CALL_2d2_1 nnrti_arg(args, 0), nnrti_arg(args, 1), NNRTI_DERIVED(0), NNRTI_DERIVED(1), NNRTI_OUT(2)
#define NNRTI_CALL_3d1_1 nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), NNRTI_DERIVED(0), NNRTI_OUT(1)
#define NNRTI_CALL_3d1_1c NNRTI_CALL_3d1_1, call
#define NNRTI_CALL_0d2_2                                                                                               \
    NNRTI_DERIVED(0), NNRTI_DERIVED(1), nnrti_arg(args, call->nIn + 2), nnrti_arg(args, call->nIn + 3)
#define NNRTI_CALL_3d1_2                                                                                               \
    nnrti_arg(args, 0), nnrti_arg(args, 1), nnrti_arg(args, 2), NNRTI_DERIVED(0), nnrti_arg(args, call->nIn + 1),      \
        nnrti_arg(args, call->nIn + 2)
#define NNRTI_CALL_V_1 args, call->nIn, NNRTI_OUT(0)
#define NNRTI_CALL_Vd1_1 args, call->nIn, NNRTI_DERIVED(0), NNRTI_OUT(1)
#define NNRTI_CALL_V_1c args, call->nIn, nnrti_arg(args, call->nIn), call
#define NNRTI_CALL_1_V args, NNRTI_OUT(0), call->nOut
#define NNRTI_CALL_V_V args, call->nIn, NNRTI_OUT(0), call->nOut

#define NNRTI_WRAPPER_own(S, fn, pattern)                                                                              \
    static NNRT_ReturnCode nnrti_call_##fn(const void *attr, nnrt_view *args, nnrt_call *call)                         \
    {                                                                                                                  \
        return nnrt_##fn((const NNRT_##S *)attr, NNRTI_CALL_##pattern);                                                \
    }
#define NNRTI_WRAPPER_shared(S, fn, pattern)
#define NNRTI_KERNEL_WRAPPER(types, operands, S, fn, pattern, whose) NNRTI_WRAPPER_##whose(S, fn, pattern)
NNRT_OPS(NNRTI_OP_KERNELS, NNRTI_KERNEL_WRAPPER)

#define NNRTI_KERNEL_ROW(types, operands, S, fn, ...)                                                                  \
    {(types)&NNRT_KEEP_TYPES, operands, ((types)&NNRT_KEEP_TYPES) != 0 ? nnrti_call_##fn : (nnrt_kernel)0,             \
     NNRTI_LABEL("nnrt_" #fn)},
#define NNRTI_KERNEL_TABLE(name, number, S, whose, rule, in, out, flags, kernels, ...)                                 \
    static const nnrt_kernel_row nnrti_kernels_##name[] = {kernels};
NNRT_OPS(NNRTI_KERNEL_TABLE, NNRTI_KERNEL_ROW)

#define NNRTI_OP_SINCE(since, ...) since
#define NNRTI_OP_ROW(name, number, S, whose, rule, in, out, flags, kernels, ...)                                       \
    NNRTI_IF_KEPT(name,                                                                                                \
                  {NNRTI_LABEL(#name), number, flags, in, out, &nnrti_struct_##S, nnrti_rule_##rule,                   \
                   nnrti_kernels_##name, NNRTI_COUNT(nnrti_kernels_##name), NNRTI_OP_SINCE(__VA_ARGS__, 0)}, )
static const nnrt_op nnrti_ops[] = {NNRT_OPS(NNRTI_OP_ROW, NNRTI_NO_KERNEL)};

NNRT_API const nnrt_op *nnrt_op_at(uint32_t index)
{
    return index < NNRTI_COUNT(nnrti_ops) ? &nnrti_ops[index] : NULL;
}

NNRT_API const nnrt_op *nnrt_op_find(NNRT_NodeType type)
{
    uint32_t lo = 0, hi = NNRTI_COUNT(nnrti_ops);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (nnrti_ops[mid].type < type)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < NNRTI_COUNT(nnrti_ops) && nnrti_ops[lo].type == type ? &nnrti_ops[lo] : NULL;
}

NNRT_API const nnrt_op *nnrt_op_named(const char *name)
{
    for (uint32_t i = 0; i < NNRTI_COUNT(nnrti_ops); i++)
        if (name != NULL && strcmp(nnrti_ops[i].name, name) == 0)
            return &nnrti_ops[i];
    return NULL;
}

/* End of the region without contraction. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#ifdef NNRT_FP_STRICT
#pragma clang fp exceptions(ignore)
#endif
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif /* NNRT_IMPLEMENTATION */
