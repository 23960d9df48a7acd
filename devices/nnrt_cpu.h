/*
nnrt_cpu.h - the device "cpu": the reference device's plans with faster kernels for the operators in which networks
spend their time: SIMD GEMM microkernels over prepacked weights, implicit-GEMM and Winograd convolutions, depthwise
convolutions, quantized int8 and uint8 kernels, operator fusion, and images channels last (NHWC). Each kernel exists
for several instruction sets (ISA); the best one that the machine supports is chosen at run time (dispatch). A step
without a faster kernel keeps its reference kernel, so every model runs. If nnrt.h finds this file (NNRT_CPU), the
device is registered without a call and is the default device of sessions. A C file that includes devices before
nnrt.h includes this one first.

WHAT IS FAST, float32
    Convolution: CONV2D_FUSION, CONV2D_TRANSPOSE_FUSION and CONV_3D of constant weights; CONV_TRANSPOSE_3D, COL2IM.
    GEMM: FULL_CONNECTION, MATMUL_FUSION; MATMUL_NBITS of constant weights, which stay packed; EINSUM of two tensors
    that is a batched matrix multiplication, if one operand has the summed label as a dense axis and lacks the last
    label of the result.
    Pooling: MAX_POOL_FUSION, AVGPOOL_FUSION, AVGPOOL_INCLUDE_PAD, MAX_POOL_3D (without indices), AVERAGE_POOL_3D.
    Elementwise and broadcast: ADD_FUSION, SUB_FUSION, MUL_FUSION, DIV_FUSION, REAL_DIV, MAXIMUM, MINIMUM,
    SQUARED_DIFFERENCE, BIAS_ADD, PRELU_FUSION; ACTIVATION (except THRESHOLDRELU), CLIP by constants,
    LEAKY_RELU, HARD_SIGMOID, SOFTPLUS, MISH, EXPFUSION of base e, LOG, SQRT, RSQRT, SQUARE, POW_FUSION, ERF, SIN,
    COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, ASINH, ACOSH, ATANH, ABS, NEG, RECIPROCAL, FLOOR, CEIL, ROUND; EQUAL,
    NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, WHERE and SELECT (also of int32); FUSED_BATCH_NORM and
    SCALE_FUSION of constants per channel.
    Reduction and normalization: REDUCE_FUSION (except ALL), also of float16; SOFTMAX and LOG_SOFTMAX; LAYER_NORM_FUSION,
    RMS_NORMALIZATION, L2_NORMALIZE_FUSION and LP_NORMALIZATION over the last axis; INSTANCE_NORM, GROUP_NORM_FUSION,
    LRN.
    Other: ROTARY_EMBEDDING; HARDMAX; ARGMAX_FUSION and ARGMIN_FUSION of one position; RESIZE (except CUBIC), RESIZE_ND;
    LSTM (without projection and zoneout), LSTM_PEEPHOLE, GRU and RNN of constant weights; DFT and STFT of 17 to 2^24
    values, by a fast Fourier transform (FFT).

WHAT IS FAST, float64
    FULL_CONNECTION and MATMUL_FUSION; ADD_FUSION, SUB_FUSION, MUL_FUSION, DIV_FUSION (without activation), REAL_DIV, BIAS_ADD,
    ELTWISE, ADD_N, MAXIMUM, MINIMUM.

WHAT IS FAST, other element types
    Integers: ADD_FUSION, SUB_FUSION, MUL_FUSION (without activation), BIAS_ADD, ELTWISE, ADD_N, MAXIMUM, MINIMUM, ABS, NEG;
    BITWISE_AND, BITWISE_OR, BITWISE_XOR, BITWISE_NOT, BIT_SHIFT; ARGMAX_FUSION and ARGMIN_FUSION of one position. int8, uint8,
    int32 and int64: FLOOR_DIV, MOD. Integers of 32 and 64 bits: MATMUL_FUSION, EINSUM. Integers and bool: REDUCE_FUSION (except L2),
    ALL. bool: LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR. FLOOR_DIV, MOD and those of bool if the innermost axis of each operand is
    dense or broadcast.
    Bytes: CONCAT. Any type: comparisons; LOGICAL_NOT, IS_NAN, IS_INF; TRANSPOSE that moves
    the last axis; RESIZE_ND by NEAREST; TOPK_FUSION and BOTTOM_K in order, UNIQUE, NON_ZERO, GATHER, GATHER_ELEMENTS,
    GATHER_ND of single elements; CUM_SUM (except of 8 and 16 bits); FILL, FILL_LIKE, CONSTANT_OF_SHAPE. CAST between
    integers and bool, of these to float32 and float64 (uint64: to bool and integers), of floats to bool, of float32 to
    int32 and integers of 8 and 16 bits, between float32 and the other floats.

OPERATOR FUSION, LAYOUT, PREPACKED WEIGHTS
    An ADD_FUSION becomes part of the epilogue of the convolution or GEMM that writes its input, if it is the only
    reader.
    A TRANSPOSE before or after a matrix multiplication of two runtime tensors becomes strides of that multiplication.
    A constant factor becomes part of the SOFTMAX that reads the product. A depthwise convolution and the 1 x 1
    (pointwise) convolutions before and after it run a few rows at a time, so that the rows between them stay in the
    cache, if the whole tensors between them exceed the cache. The three steps of ONNX's Max and Min (which propagate
    NaN) become one.
    A CONCAT of images is removed if nothing else reads them: convolutions and pools write to their slices of its
    result.
    A SPLIT of a tensor that the run computes is removed if only pools, depthwise and 1 x 1 convolutions and CONCAT
    read its slices: they read in place.
    Image tensors between steps are channels last, whatever the model's layout; inputs and outputs keep the model's
    layout.
    Weights are packed once, in PrepareModel, and shared by all sessions of a prepared model. nnrt compile MODEL
    --device cpu stores packed weights in the model file, where sessions use them in place. The model cache
    (ExportModelCache, PrepareModelFromModelCache) stores them too, together with the model but without the constants
    that are packed.

DYNAMIC SHAPES
    Steps with dynamic shapes have the float32 kernels of FULL_CONNECTION, MATMUL_FUSION, MATMUL_NBITS, SOFTMAX,
    LOG_SOFTMAX, all normalizations, REDUCE_FUSION of known axes, TRANSPOSE, ARGMAX_FUSION, ARGMIN_FUSION, SCALE_FUSION,
    MAX_POOL_3D, AVERAGE_POOL_3D, CONV_TRANSPOSE_3D, COL2IM, RESIZE_ND, ROTARY_EMBEDDING, comparisons, WHERE, SELECT, and
    elementwise operators; the float16 form of all of these;
    those of MATMUL_INTEGER, CONV_INTEGER, CAST, DFT and STFT; the float64 kernels; and all of other element types.
    CONV2D_FUSION, CONV2D_TRANSPOSE_FUSION, 2-D pools and RESIZE of float32 have them for every dynamic N, height and
    width, and so have those of 8 bits. If only N is dynamic, one image is computed after the other. Other operators keep
    the reference kernel.
    Constant weights are packed once. A result has the bits that the same kernel computes in a model of the run's fixed
    dimensions; Winograd tiles are chosen for the bounds, or for one image. Between steps with dynamic shapes there is no
    operator fusion; images are channels last between convolutions, pools, RESIZE, CONCAT and elementwise operators.
    Biases and activations that the graph passes fuse (nnrt_model_optimize) stay fused.

WHAT IS FAST, float16
    Every operator that is fast with float32 and computes, by the float32 kernels: a step before each widens its inputs,
    a step after it narrows its results. If only the next step reads the result, it is rounded to float16 precision but
    stays float32. Other tensors between steps are float16. Packed weights are float32.
    Elementwise kernels, except CLIP by constants, and DFT and STFT widen and narrow internally. CAST between float16 and
    float32.
    With enableFloat16, on AArch64 with FEAT_FP16: GEMM in float16 arithmetic (see HALF PRECISION).

WHAT IS FAST, quantized int8 and uint8
    CONV2D_FUSION and CONV2D_TRANSPOSE_FUSION, FULL_CONNECTION and MATMUL_FUSION of constant weights that, after
    subtraction of their zero points, are -128 to 127, if no sum can exceed 32 bits and a filter tap reaches every pixel;
    MAX_POOL_FUSION, AVGPOOL_FUSION; ADD_FUSION, SUB_FUSION and MUL_FUSION, also broadcast; RESIZE (except CUBIC);
    REDUCE_FUSION; MATMUL_FUSION of two tensors of the run; SOFTMAX and LOG_SOFTMAX over any axis, LAYER_NORM_FUSION,
    L2_NORMALIZE_FUSION, LP_NORMALIZATION; ADD_N of up to eight tensors; the operators that read their results from a
    table of 256 (ACTIVATION, HARD_SWISH, EXPFUSION, CLIP, ...); QUANTIZE_LINEAR of float32, QUANT_DTYPE_CAST from and to
    float32, each with one scale and zero point per tensor; MATMUL_INTEGER and CONV_INTEGER of constant weights and one zero
    point of x, which the run may compute (dynamic quantization); CAST of float32 to 8 bits and of int32 to float32. Other
    elementwise operators and comparisons
    (DIV_FUSION, MAXIMUM, ADD_N of two tensors, SCALE_FUSION, FUSED_BATCH_NORM, EQUAL, ...) read tables that PrepareModel
    fills, with 64 KB for two tensors, else 256 bytes for each channel of the constants, if the result has at least a
    sixteenth as many elements. All of these also with dynamic shapes.
    Of int16 with int8 weights CONV2D_FUSION of one group and depthwise, and FULL_CONNECTION, with constant weights and fixed
    shapes, and QUANT_DTYPE_CAST from and to float32.

HOW EXACT
    Sums of products are accumulated in the order of the reference device; a product and its addition are rounded once
    (fused multiply-add) if the machine has such an instruction. For Winograd convolutions see below. SIGMOID and TANH
    are within 4 ulp (results below 2^-126 may be 0), SWISH within 5; GELU within 2^-22 of the larger of 1 and |x|, in
    its tanh form within twice that and 8 ulp. At most, in ulp: EXPFUSION 2, plus the effect of its rounded argument;
    LOG 2; ELU 4, SELU 5, SOFTPLUS 6, MISH 8; ERF 2 and 2^-22; SIN, COS and ATAN 2; ASIN and ACOS 3; TAN, SINH, COSH,
    ASINH, ACOSH and ATANH 4; RSQRT 1.5; POW_FUSION by 3: 1, by other
    exponents 0.51; all other elementwise results are rounded as on the reference device. Sums of REDUCE_FUSION,
    INSTANCE_NORM, GROUP_NORM_FUSION and LOG_SOFTMAX are compensated (they carry their rounding errors).
    A product of REDUCE_FUSION of n elements has n - 1 roundings, like that of the reference device, but multiplies in
    another order: it is within (n - 1) * 2^-24 of itself, if no partial product overflows or is below 2^-126.
    FUSED_BATCH_NORM multiplies by scale / sqrt(variance + epsilon), rounded. A global average pool of a
    channels-first image is a reduction, too.
    The gates of LSTM, GRU and RNN are such sums of products and activations; the cell update rounds each product and
    sum once, or both together. SOFTMAX multiplies by 1 / sum, which is rounded, too.
    DFT and STFT: the Euclidean norm of the errors of a transform's results is at most R * 2^-24 times the norm of all N
    exact results; measured: at most an eighth of that. R is 3 plus, for each radix of the length, 6 for 4, 5 for 2,
    sqrt(r) (r + 7) + 4 for an odd r up to 31. A length with a larger prime factor has 3 + 2.5 (2 P + 12) instead, with P
    such a sum for the least power of two from 2 N - 1 on. An even number of real values is a transform of N / 2 values: R
    is 1.42 times its sum, plus 15. An Inf or NaN makes all results of its transform Inf or NaN.
    MATMUL_NBITS of up to four rows of x sums the blocks as the reference device. For more rows, and with float32 zero
    points, it multiplies x by (weight - zero point) * scale, rounded once: at most 2^-24 times the sum of |x| |that|
    further. Scales from 2^96 on, where that product can be infinite, keep the reference kernel. With accuracyLevel 4 it
    rounds x to the same integers as the reference device, and sums their products exactly; each block then adds two to
    four roundings. So results do not depend on the number of rows. Float zero points that are quotients of a minimum of up
    to 20 bits and the scale, as those of GGUF files, are replaced by that minimum where scales and minima of 256 entries
    are products of a factor and an int8: without the rounding of the quotient.
    AVERAGE_POOL_3D adds the rows of a window before the elements of a row: n elements with n - 1 roundings, as on the
    reference device, in another order. MAX_POOL_3D is bit-exact with the reference device; so are comparisons, WHERE and SELECT,
    ARGMAX, ARGMIN, the operators of other element types above, COL2IM, and RESIZE and RESIZE_ND by NEAREST, but a NaN may have
    another payload. ROTARY_EMBEDDING, CONV_TRANSPOSE_3D and RESIZE_ND by LINEAR and CUBIC add in the order of the reference
    device, but a product and its addition may be rounded once.
    RESIZE by LINEAR is within 7 * 2^-24 of the largest element. LRN is off by 2 |beta| (R + 1) + 3 roundings for R squares;
    L2_NORMALIZE_FUSION and LP_NORMALIZATION by 5.
    Without enableFloat16, float16 operators return the bits of the float32 operators, rounded once, to nearest even; no
    other step sees more precision of a result than that. Their distance to the reference device, which computes the
    same way, is that of the float32 operators: after rounding, possibly the adjacent float16 number. Casts are
    bit-exact, including NaN.
    Quantized operators are bit-exact with the reference device if the floating-point rounding mode is to nearest,
    which is the default of C programs. One instruction set returns the same bits for any number of threads.

HALF PRECISION
    With enableFloat16 the weights of CONV2D_FUSION of one group, FULL_CONNECTION, MATMUL_FUSION, LSTM, GRU and RNN are
    packed as float16, which halves their memory; sums, biases and everything else stay float32. A weight w is rounded
    once, to nearest even: its error is at most max(2^-11 |w|, 2^-25), and that of a result
        2^-11 * the sum of |x| |w| + 2^-25 * the sum of |x|
    more than with float32 weights; in a recurrent step this holds for the sum of each gate. The instruction sets of x86 from
    AVX2 on and of AArch64 pack float16, and return the bits of weights that were rounded to float16 beforehand; other
    instruction sets pack float32. A weight tensor with a NaN or a value above 65,504 stays
    float32, in a recurrent operator both of its tensors. So do weights of depthwise, grouped and transposed convolutions,
    and CONV_3D. 3 x 3 convolutions do not use Winograd, which would amplify each rounding, unless "nnrt.cpu.winograd" is
    "2" or "4": then their weights are float32. A GEMM of several pixels widens one panel at a time, in scratch; a
    matrix-vector product (GEMV) and recurrent steps read float16.
    The instruction sets fp16 and i8mm also compute these operators in float16 arithmetic (kernel gemm_f16), if their
    tensors are float16, y has four or more pixels or rows, and their dimensions are static. The products of each block of
    64 consecutive terms are summed in float16, the sums of the blocks and the bias in float32. With K terms, a result
    before its activation is within
        1.01 * 2^-5 * the sum of |x| |w| + F * 2^-25 * (1.1 K + the sum of |x|) + (K / 64 + 3) * 2^-24 * that of |x| |w|
    of the unrounded sum, and then rounded to float16. F is a power of two of the channel, at most four times the largest
    sum of |w| of a block. 64 roundings of 2^-11 give the first term, which they reach only if all err in one direction;
    F makes overflow of a block impossible, and the second term is what float16 drops below 2^-24. An infinite x may
    give NaN. Without enableFloat16 float16 operators are computed in float32.

INT8 WEIGHTS
    The extension "nnrt.cpu.weights" with the value "int8" (the default is "float") packs the weights of LSTM, GRU and RNN,
    and of FULL_CONNECTION, MATMUL_FUSION and 1x1 CONV2D_FUSION whose x has one row or pixel and static dimensions, as
    int8, a quarter of their memory, on the instruction sets that pack float16. Each row of weights (a channel; a gate of
    a cell, of x and of h apart) has a float32 scale, its largest magnitude / 127, so that a weight w is off by at most half
    of it, and a result by
        scale / 2 * the sum of |x|
    Weights that are products of such a scale and integers, as of a network whose weights were quantized by row, keep their
    values. x, sums and biases are float32: y = scale * the sum of q x + bias. A tensor with an infinite weight or a NaN stays
    float32, in a recurrent operator both. With enableFloat16 other weights are float16.

HINTS
    Performance mode LOW limits a run to one thread; other modes use all threads that the application lends. The
    priority orders runs in a queue (nnrt_queue).

WINOGRAD CONVOLUTION
    A convolution of one group with 3 x 3 filter taps and stride 1 is computed by Winograd tiles of 4 x 4 or 2 x 2 pixels
    where that is faster, if x has at least 16 channels: a tile takes 36 multiplications instead of 144, or 16 instead of
    36. With dilation D the pixels of a tile are D apart. These are Winograd's F(4x4,3x3) and F(2x2,3x3), with the
    matrices A, B and G of Lavin and Gray, "Fast algorithms for convolutional neural networks", 2015. Weights are
    transformed in PrepareModel, in double, and so rounded once.
    Winograd is less exact. With K channels of x, a pixel is within (K + 12) * 2^-24 times
        |bias| + the sum over channels of |A^T| ((|G| |w| |G^T|) . (|B^T| |x| |B|)) |A|
    of the unrounded sum, provided that nothing underflows: weights are rounded once, x 4 times, products and their
    sum K + 1 times, y 6 times (for norms instead of elements: Barabasz, Anderson, Soodhalter and Gregg, "Error
    analysis and improving the accuracy of Winograd convolution for deep neural networks", 2020). That is at most 861
    times (tiles of 2 x 2: 16 times) the sum over channels of the largest |x| that the tile reads times the sum of
    |w|, and mostly much less. An activation, or an added tensor, comes on top.
    An element of x that is Inf or NaN, or so large that 100 |x| or the sum above is infinite, can turn all pixels of
    the tiles that read it (6 x 6 or 4 x 4 elements each) into NaN. Pixels whose window contains it are never finite
    before the activation. A convolution with an Inf or NaN weight never uses Winograd.
    The extension "nnrt.cpu.winograd" of a session (nnrt_session_desc.extensions; --extension nnrt.cpu.winograd=0) is
    a string: "0", no Winograd, which is the strict mode; "1", where it is faster; "2" and "4", tiles of that size for
    every convolution that allows them.

LESS MEMORY
    The extension "nnrt.cpu.memory" with the value "smallest" (the default is "fastest") makes work items smaller, and so
    the scratch in the arena, for more time: Winograd by 8 tiles at a time, GEMM by 32 pixels, im2col by 24, transforms of
    DFT and STFT one by one. Weights that are
    float16 in the model are packed as float16. Results keep their bits. docs/SPEED.md has figures.

ONE KERNEL BY ITSELF
    The extension "nnrt.cpu.kernel" of a session names the only kernel that steps may use, a name of NNRTI_CPU_KERNELS
    such as "gemm" or "binary_q8"; all other steps keep the reference kernel. With "fused_depthwise", which is built
    from them, steps may use "gemm" and "depthwise", and are fused wherever possible. If no step of the model can use
    the kernel, the session fails to open. Together with a device such as "cpu-avx2" this selects any kernel of any
    ISA by name: tests compare each with the reference device. Names of version 0.2 ("product", "add_8") are aliases
    until version 0.4 (nnrti_cpu_kernel_aliases).

SECTIONS (search for the tag)
    >>device           registering
    -- implementation --
    >>isa              instruction sets (ISA); which ones the processor has
    >>selecting        sorting, selecting and gathering of single elements
    >>lines            8-bit operators that read whole lines: SOFTMAX, norms, products; ADD_N; CONCAT of bytes
    >>blocks           elementwise operators, reductions and products of any element types
    >>portable         kernels that are compiled once for all instruction sets
    >>layout           channels last (NHWC): layout propagation and copies
    >>steps            kernel selection per step: GEMM and implicit-GEMM convolution, prepacked weights, epilogue fusion
    >>fused_depthwise  fusion of pointwise and depthwise convolutions
    >>nbits            matrix multiplication by packed weights of 4 or 8 bits, of float32 or of int8
    >>multi_gemm       grouped, transposed and 3-D convolutions as several GEMMs
    >>int8             quantized int8 and uint8: packing, requantization tables
    >>tables           elementwise operators of 8 bits by tables of their results
    >>transposes       fusion of TRANSPOSE into matrix multiplications
    >>recurrent        LSTM, GRU and RNN
    >>selections       comparisons, WHERE, ARGMAX, TOPK, RESIZE, LRN, Lp norms; kernels with the reference's arguments
    >>integers         elementwise operators of integers and bool, predicates
    >>float16          float16 by float32 kernels
    >>float64          matrix multiplication of float64
    >>fft              DFT and STFT
    >>concat           CONCAT and SPLIT without copies
    >>edit             the edit pass over a draft, and the dispatch per operator
    >>dynamic          steps with dynamic shapes
    >>winograd         which convolutions use Winograd tiles, and their transformed weights
    >>table            the device's function table; the choice of the ISA
    The kernels, compiled once per instruction set, are in nnrt_cpu_kernels.h.

MIT license, see LICENSE.
*/
#ifndef NNRT_CPU_H
#define NNRT_CPU_H

#ifndef NNRT_CPU
#define NNRT_CPU 1
#endif
/* Instruction sets to leave out: define as 0. Each costs some 150 KB of code and a seventh of the compile time. An
   instruction set worse than the compiler's target can never be chosen and is left out: a build with -march=x86-64-v3
   has no portable ISA "vector", one with -march=x86-64-v4 has AVX-512 only. */
#if defined(__x86_64__) && defined(__GNUC__)
#ifndef NNRT_CPU_AVX512
#define NNRT_CPU_AVX512 1
#endif
#if NNRT_CPU_AVX512 && defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define NNRTI_CPU_TARGET_AVX512 1
#else
#define NNRTI_CPU_TARGET_AVX512 0
#endif
#ifndef NNRT_CPU_AVX2
#define NNRT_CPU_AVX2 !NNRTI_CPU_TARGET_AVX512
#endif
#else
#undef NNRT_CPU_AVX512
#undef NNRT_CPU_AVX2
#define NNRT_CPU_AVX512 0
#define NNRT_CPU_AVX2 0
#endif
/* dotprod and i8mm extend the AArch64 ISA neon (little-endian) by 8-bit kernels, 23 and 16 KB; fp16 extends dotprod by
   float16 arithmetic, 7 KB, which i8mm has, too. They need a compiler that knows their target attributes: gcc 8 and 10,
   clang 14 (older ones are not tested). */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
#ifndef NNRT_CPU_DOTPROD
#if defined(__clang__)
#define NNRT_CPU_DOTPROD (__clang_major__ >= 14)
#else
#define NNRT_CPU_DOTPROD (__GNUC__ >= 8)
#endif
#endif
#ifndef NNRT_CPU_I8MM
#if defined(__clang__)
#define NNRT_CPU_I8MM (__clang_major__ >= 14)
#else
#define NNRT_CPU_I8MM (__GNUC__ >= 10)
#endif
#endif
#else
#undef NNRT_CPU_DOTPROD
#define NNRT_CPU_DOTPROD 0
#endif
#ifndef NNRT_CPU_FP16
#define NNRT_CPU_FP16 NNRT_CPU_DOTPROD
#endif
#if !NNRT_CPU_DOTPROD
#undef NNRT_CPU_FP16
#undef NNRT_CPU_I8MM
#define NNRT_CPU_FP16 0
#define NNRT_CPU_I8MM 0
#endif
/* relaxed extends the WebAssembly ISA simd128 by 8-bit kernels, and makes it fuse multiplications and additions. A module
   with them fails to load in engines without relaxed SIMD, so it needs -mrelaxed-simd; clang 19 (older ones are not
   tested). */
#if !defined(__wasm_relaxed_simd__) && !defined(NNRT_CPU_RELAXED_DOT)
#undef NNRT_CPU_RELAXED
#define NNRT_CPU_RELAXED 0
#elif !defined(NNRT_CPU_RELAXED)
#define NNRT_CPU_RELAXED (__clang_major__ >= 19)
#endif
#if NNRT_CPU && !defined(NNRT_BUILTIN_DEVICE)
#define NNRT_BUILTIN_DEVICE nnrti_cpu_table
#endif
#include "../nnrt_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>device */

/* Registers "cpu", which uses the best instruction set that the machine supports; with the name of an ISA registers
   that one, for instance as "cpu-avx2". NOT_SUPPORT: the machine or this build lacks that ISA. The device and its
   name are static. */
NNRT_API NNRT_ReturnCode nnrt_cpu_register(const char *set, nnrt_error *error);
/* Name i of the instruction sets that the machine supports, the best one first. They are "avx512vnni", "avx512", "avx2"
   on x86-64; "i8mm", "fp16", "dotprod", "neon" on AArch64; "relaxed" and "simd128" of WebAssembly, compiled with
   -mrelaxed-simd and -msimd128; "vector" elsewhere and on x86. NULL from the end of the list on. */
NNRT_API const char *nnrt_cpu_set(uint32_t i);

#ifdef __cplusplus
}
#endif
#endif

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_CPU_IMPLEMENTED)
#define NNRT_CPU_IMPLEMENTED

#if defined(__x86_64__) && defined(__GNUC__)
#if !defined(__clang__) /* gcc 12 warns about undefined vectors in that header */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <cpuid.h>
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#elif defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#if NNRT_CPU_DOTPROD && defined(__linux__) && defined(__has_include)
#if __has_include(<sys/auxv.h>)
#define NNRTI_CPU_AUXV 1
#include <sys/auxv.h>
#endif
#endif
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

/* MATMUL_FUSION of two runtime tensors: x [..,M,K], y [..,K,N], bias [N] or nothing; z [..,M,N]. */
typedef struct nnrti_cpu_matmul {
    bool transposeA, transposeB; /* swap the last two axes first; transposeA requires that the K axis of x is dense */
    NNRT_ActivationType activation;
} nnrti_cpu_matmul;
#define NNRTI_CPU_MATMUL_ROWS 64       /* rows of x per block */
#define NNRTI_CPU_GEMM_ROWS 256        /* most pixels per work item of a GEMM without patches */
#define NNRTI_CPU_MAX_TILE_ROWS 12     /* pixels of the tallest register tile of any ISA */
#define NNRTI_CPU_MAX_PANEL 32         /* channels of the widest panel of any ISA */
#define NNRTI_CPU_PACK_ROWS 16         /* weights per channel that are packed at a time */
#define NNRTI_CPU_LARGE_WEIGHTS 262144 /* floats of weights that are too many to be read several times */
#define NNRTI_CPU_POOL_UNROLL 4        /* pixels, or vectors of one pixel, that a pool processes at once */
#define NNRTI_CPU_PATCH_FLOATS 8192    /* most floats of a zero-padded input patch */
#define NNRTI_CPU_PATCH_PIXELS 256     /* pixels per patch, about */
#define NNRTI_CPU_L1_FLOATS 8192       /* floats that stay in the L1 cache, about */

/* Depthwise convolution and 2-D pooling: attributes of `depthwise`, `max_pool` and `average_pool`. Packed weights:
   the bias and then the weights tap by tap, each row of C channels rounded up to whole vectors. */
typedef struct nnrti_cpu_window {
    int32_t window[2], stride[2], dilation[2], pad[2]; /* height, width */
    int32_t ends[2];                                   /* padding behind x */
    bool padded; /* the average is that of all cells of the padded x */
    NNRT_ActivationType activation;
} nnrti_cpu_window;

/* Of a window that begins at `start` along an axis of size L: its cells inside the padded x. */
static inline int32_t nnrti_cpu_padded_cells(const nnrti_cpu_window *a, int32_t axis, int64_t start, int32_t L)
{
    const int64_t left = (int64_t)L + a->ends[axis] - start;
    return left < a->window[axis] ? (int32_t)left : a->window[axis];
}

/* The depth axis of a 3-D window: x has `from` slices per image, y has `to`. All 0: 2-D. */
typedef struct nnrti_cpu_depth {
    int32_t window, stride, dilation, pad, from, to;
} nnrti_cpu_depth;

/* GEMM: a convolution as implicit GEMM, or a matrix multiplication, which is a 1 x 1 convolution: attributes of the
   kernel `gemm`. Arguments: x [N,H,W,K], a residual tensor that is added to the result or nothing, and the packed
   weights; y [N,Ho,Wo,C]. x is channels last, or channels first (planes) if patches are read. Packed weights: a
   panel per `panel` channels of y: first their bias, then their weights, filter tap by filter tap, channel of x by
   channel of x; channels that pad the last panel are zeros. The last argument is K zeros, read for taps outside x,
   or, with patches, the offset in floats of each term of a sum from the first one. A matrix-vector product (GEMV:
   one pixel, one tap) uses the kernel `gemv`, whose panels are NNRTI_CPU_GEMV_WIDTH times as wide, so that fewer
   memory streams are read at once. */
enum { /* Types of packed weights, of 4 >> type bytes each. Biases are float32. */
    NNRTI_CPU_F32,
    NNRTI_CPU_F16,
    NNRTI_CPU_I8 /* the biases of a panel are followed by a float32 scale for each channel; in `gemv` and `recurrent` */
};
typedef struct nnrti_cpu_gemm {
    nnrti_cpu_window conv;   /* its activation is applied before the residual is added */
    int32_t rows;            /* pixels of y per work item */
    bool padded;             /* some taps are outside x */
    bool adjacent;           /* no column of taps is outside x, and a row of them is one run of elements in x: it is one tap */
    int32_t lines, columns;  /* > 0: a work item is a rectangle of so many rows of so many pixels and reads a
                                zero-padded patch of x; 0: it is any run of consecutive pixels */
    uint32_t parts;          /* parallel work items that the panels are divided into */
    NNRT_ActivationType sum; /* activation after the residual addition */
    int32_t type;            /* of packed weights: NNRTI_CPU_F32 and others */
    size_t wide;             /* unless type is F32: offset in bytes of scratch where `gemm` widens a panel */
    nnrti_cpu_depth depth;
} nnrti_cpu_gemm;
#define NNRTI_CPU_GEMV_WIDTH 2 /* the GEMV microkernels are written for this value */

/* Elements of a channel before its weights in a panel: a bias, with int8 also a scale. */
static int32_t nnrti_cpu_head(int32_t type)
{
    return type == NNRTI_CPU_I8 ? 8 : type == NNRTI_CPU_F16 ? 2 : 1;
}

/* MATMUL_NBITS: attributes of `gemm_nbits`, with the arguments of `gemm`; x and y are matrices, images of one
   row. The packed weights are bytes [panels, bytes of a panel]. A panel has NNRTI_CPU_GEMV_WIDTH * `panel` channels, of
   which zeros fill the last one: their biases, then a record for each block of K: their scales, of scaleBytes each, their
   zero points, of zeroBytes each, and rows of 32-bit words, one per channel. A word has 32 / bits adjacent entries of the
   channel, the first one in its low bits. Up to NNRTI_CPU_NBITS_ROWS rows of x are multiplied by packed panels; for more
   rows, and for float32 zero points, gemm.wide is not 0, and panels are decoded there.
   Only `gemm_nbits_int8` has:
   Float16 scales, scaleBytes 2.
   Entries of 2, 3, 5 or 6 bits, of which `least` was subtracted: 32 entries of a channel are `bits` words, the low 2 or 4
   bits of all of them before the high ones (nnrti_cpu_nbits_planes).
   Factored scales, scaleBytes 1: blocks of NNRTI_CPU_NBITS_SHARED entries share a float32 factor of their scales, which are
   int8, and with zeroBytes 1 one of their minima (zero point * scale), which are int8, too. The factors of the channels
   precede the records of these blocks. A record has 32 entries of each channel. */
typedef struct nnrti_cpu_nbits {
    nnrti_cpu_gemm gemm; /* must be first: epilogue fusion reads it */
    int32_t bits, block; /* of an entry; entries of a block */
    int32_t least;       /* of the entries of the model */
    int32_t middle;      /* the zero point, if there are none, less `least` */
    int32_t record;      /* entries of a channel in a record */
    int32_t scaleBytes;  /* 4: float32; 2: float16; 1: int8 */
    int32_t zeroBytes;   /* 0: the zero point is the middle of the range; 1: an integer, or an int8 minimum; 4: float32 */
    size_t blockBytes;   /* of a record */
    size_t factorBytes;  /* of the factors of NNRTI_CPU_NBITS_SHARED entries; 0: none */
} nnrti_cpu_nbits;
#define NNRTI_CPU_NBITS_SHARED 256
#define NNRTI_CPU_NBITS_ROWS 4

/* A block of a row of x that `gemm_nbits_int8` rounded to int8, before its words. */
typedef struct nnrti_cpu_nbits_head {
    float scale, less; /* less: minus the sum of the integers */
    int32_t start[2];  /* of the sums of products: the middle of the range times `less`, unless there are zero points;
                          [1]: for entries of 8 bits that are read as signed, which are 128 less */
} nnrti_cpu_nbits_head;

/* Bytes of a row of K elements that are rounded in blocks. */
static size_t nnrti_cpu_nbits_row_bytes(int32_t block, int32_t K)
{
    return (size_t)((K - 1) / block + 1) * (sizeof(nnrti_cpu_nbits_head) + (size_t)block);
}

/* A convolution as several GEMMs, each of which computes a part of y: attributes of `multi_gemm` and `conv_grouped`.
   A grouped convolution has a GEMM per group. A transposed convolution has one per phase: the pixels of y that are
   the stride apart use the same filter taps, so each phase is a convolution of stride 1. Arguments: x [N,H,W,groups
   * channels], the packed weights, zeros for taps outside x, and y [N,Ho,Wo,groups * results], both channels last.
   In 3-D, H and Ho count the rows of all slices. Packed weights: phase by phase, group by group, as for `gemm`.
   `conv_grouped` is for groups so small that the y channels of `fold` of them fill a SIMD vector, and their x
   channels, too. Packed weights: phase by phase, for each block of `fold` groups a vector of bias and then, tap by
   tap and x channel of a group by x channel, a vector of weights. The zeros are as many as x has channels; after
   them come the lane indices of each channel of a group, for a whole block and then for the last one, which may have
   fewer groups. */
typedef struct nnrti_cpu_phase {
    nnrti_cpu_gemm gemm;
    int32_t first[2], size[2];  /* rows and columns of y: the first one, and their number */
    int32_t tap[2], nextTap[2]; /* of the weights: the first tap, and the step to the next */
    size_t packed;              /* offset in floats of its packed weights */
} nnrti_cpu_phase;
typedef struct nnrti_cpu_multi_gemm {
    int32_t groups, channels, results; /* per group: channels of x and of y */
    int32_t fold;
    int32_t phases, step[2]; /* step: rows and columns of y from one pixel of a phase to the next */
    nnrti_cpu_phase *phase;
} nnrti_cpu_multi_gemm;
#define NNRTI_CPU_PHASES 64         /* most phases */
#define NNRTI_CPU_DYNAMIC_PHASES 16 /* of a step with dynamic shapes: a run lowers it on the stack */

/* A 3 x 3 convolution by Winograd tiles: attributes of the kernel `winograd`, whose arguments are those of
   `gemm`. For a tile of tile x tile pixels of y it transforms (tile + 2) x (tile + 2) pixels of x, multiplies
   each transformed element ("cell") by the transformed weights of that cell, one GEMM per cell, and transforms the
   results back. Packed weights: a panel per `panel` channels of y, in it cell by cell a bias and then K rows of
   weights. Only cell (1,1) has a bias other than 0: it adds once to each pixel of the tile. */
typedef struct nnrti_cpu_winograd {
    nnrti_cpu_gemm gemm;  /* must be first: epilogue fusion reads it. rows: tiles per work item */
    int32_t tile;         /* 2 or 4 */
    int32_t down, across; /* tiles per image, vertically and horizontally (nnrti_cpu_winograd_tiles) */
    int32_t group;        /* panels between two output transforms */
    size_t rowX, rowY;    /* scratch: floats from one tile to the next, of x and of y */
    size_t cellX, cellY;  /* floats from one cell to the next */
} nnrti_cpu_winograd;

/* Fused pointwise - depthwise - pointwise convolution, a few rows of an image at a time, so that each reads the
   previous one's rows from the cache: attributes of `fused_depthwise`. Either pointwise (1 x 1) convolution may be
   missing. Arguments: x, the residual of the last convolution or nothing, the packed weights of `depthwise`, then
   for each pointwise convolution its packed weights and its zeros, and y. */
typedef struct nnrti_cpu_fused_depthwise {
    nnrti_cpu_window middle;
    nnrti_cpu_gemm first, last; /* rows 0: missing */
    int32_t in[3], out[3];      /* rows, columns and channels of the depthwise input and output */
    int32_t lines, parts;       /* lines: depthwise output rows per iteration; parts: parallel work items per image */
    size_t lists, cells;        /* scratch: bytes of the GEMMs' pointer lists; then floats of depthwise input */
} nnrti_cpu_fused_depthwise;

/* Pooling with any number of spatial axes: attributes of `max_pool_nd` and `average_pool_nd`, whose x and y are
   [N,C,..] and dense. Each list has a number per spatial axis. ends: padding after x, if padding counts in the
   average; else NULL. */
#define NNRTI_CPU_POOL_LINE 1024 /* elements of a row of x that the kernel holds */
typedef struct nnrti_cpu_pool_nd {
    const int64_t *window, *stride, *dilation, *pad, *ends;
} nnrti_cpu_pool_nd;

/* The largest number of elements, a multiple of `lanes`, of a row of y whose windows are in a line; at most 0: there are none. */
static int32_t nnrti_cpu_pool_run(const nnrti_cpu_pool_nd *a, int32_t last, int32_t lanes)
{
    const int64_t L = NNRTI_CPU_POOL_LINE, window = a->window[last], dilation = a->dilation[last], stride = a->stride[last];
    if (window > L || dilation > L / window || stride > L)
        return 0;
    return (int32_t)((L - lanes - window * dilation) / stride / lanes) * lanes;
}

/* Discrete Fourier transforms: attributes of `fft` (>>fft). Arguments: x, the window or nothing, the tables; y. */
#define NNRTI_CPU_FFT_STAGES 32 /* most stages */
#define NNRTI_CPU_FFT_RADIX 31  /* largest radix */
#define NNRTI_CPU_FFT_LEAST 17 /* values: the sums of the definition take as long for fewer, and keep their bits */
typedef struct nnrti_cpu_fft {
    int32_t N, used; /* values of a transform; number of values in x, zeros follow */
    int32_t length;  /* of the complex transform that computes it: N, or N / 2 for an even number of real values */
    int32_t padded;  /* length of the convolution that computes that (Bluestein); 0: none */
    int32_t stages, radix[NNRTI_CPU_FFT_STAGES]; /* of `padded` if it is not 0, otherwise of `length` */
    int32_t lanes;                               /* transforms at a time */
    int32_t axis;                                /* of x and y; with hop > 0: 1 of x, 2 of y */
    int64_t hop;                                 /* values from one frame of x to the next (STFT); 0: DFT */
    bool realIn, realOut;                        /* realOut: x has the frequencies of real values, up to N / 2 */
    bool inverse;
    size_t buffer;        /* floats of each of the four buffers in scratch */
    size_t halves, chirp; /* offsets of tables, behind the tables of the stages */
} nnrti_cpu_fft;

/* Floats of the tables of the stages: for each of its radix r, of n values, r - 1 twiddle factors for each of n / r elements,
   and above radix 5 r cosines and r sines. */
static int32_t nnrti_cpu_fft_stage_floats(int32_t n, int32_t r)
{
    return 2 * (n - n / r) + (r > 5 ? 2 * r : 0);
}

/* FULL_CONNECTION and MATMUL_FUSION of float64: attributes of `matmul_f64` (>>float64). Arguments: x [..,M,K], y [..,K,N],
   bias [N] or nothing, with `packed` the packed y instead of y; z [..,M,N]. */
typedef struct nnrti_cpu_matmul_f64 {
    bool transposeA, transposeB; /* swap the last two axes first */
    bool packed;                 /* panels of `lanes` columns, K rows each; zeros pad the last one */
    int32_t rows;                /* of z per work item */
    NNRT_ActivationType activation;
} nnrti_cpu_matmul_f64;

/* Binary functions, and unary functions with parameters a and b (X-macro lists). */
#define NNRTI_CPU_BINARY_FUNCTIONS(X)                                                                                  \
    X(ADD) X(SUB) X(MUL) X(DIV) X(MAX) X(MIN) X(SQUARED_DIFFERENCE) X(PRELU) X(MAX_NAN) X(MIN_NAN)
#define NNRTI_CPU_UNARY_FUNCTIONS(X)                                                                                   \
    X(CLAMP)                                                                                                           \
    X(LEAKY)                                                                                                           \
    X(ELU)                                                                                                             \
    X(SOFTPLUS)                                                                                                        \
    X(SOFTSIGN)                                                                                                        \
    X(MISH)                                                                                                            \
    X(EXP)                                                                                                             \
    X(LOG)                                                                                                             \
    X(SQRT)                                                                                                            \
    X(RSQRT) X(SQUARE) X(CUBE) X(ERF) X(ABS) X(NEG) X(RECIPROCAL) X(FLOOR) X(CEIL) X(ROUND) X(GELU_TANH) X(HARD_SIGMOID)  \
    X(SIGN) X(ATAN) X(ASIN) X(ACOS) X(SINH) X(COSH) X(ASINH) X(ACOSH) X(ATANH)
typedef int32_t nnrti_cpu_function;
#define NNRTI_CPU_NUMBER(name) NNRTI_CPU_##name,
enum {
    NNRTI_CPU_BINARY_FUNCTIONS(NNRTI_CPU_NUMBER) NNRTI_CPU_POWER,
    NNRTI_CPU_ACTIVATION,
    NNRTI_CPU_UNARY_FUNCTIONS(NNRTI_CPU_NUMBER) NNRTI_CPU_SIN,
    NNRTI_CPU_COS,
    NNRTI_CPU_TAN,
    NNRTI_CPU_AND, /* these five of `integers` only */
    NNRTI_CPU_OR,
    NNRTI_CPU_XOR,
    NNRTI_CPU_FLOOR_DIV,
    NNRTI_CPU_REMAINDER
};
#undef NNRTI_CPU_NUMBER

/* Elementwise operators: attributes of `binary`, whose result then has the activation, and of `unary`, where the
   function ACTIVATION applies the activation itself. */
typedef struct nnrti_cpu_elementwise {
    nnrti_cpu_function function;
    NNRT_ActivationType activation;
    float a, b;
} nnrti_cpu_elementwise;

/* Elementwise operators of integers and bool: attributes of `integers`, whose arguments are x, y unless it is unary, and
   z. x and y are broadcast to z. */
typedef struct nnrti_cpu_integers {
    nnrti_cpu_function function;
    NNRT_DataType type;
    bool unary;
} nnrti_cpu_integers;

/* Predicates of single elements: attributes of `classify`, whose arguments are x and y. y = whether the bits of x, an
   element of `width` bytes, are equal to `limit` after AND with `mask`; with `above` whether they exceed it as unsigned
   integers. */
typedef struct nnrti_cpu_classify {
    uint64_t mask, limit;
    int32_t width;
    bool above;
} nnrti_cpu_classify;

/* Reduction: attributes of `reduce`, whose arguments are x, the axes and y; x and y are float32, or float16. */
typedef struct nnrti_cpu_reduce {
    NNRT_ReduceMode mode;
    float coeff; /* multiplies the results */
} nnrti_cpu_reduce;
typedef int32_t nnrti_cpu_reduce_kind;
enum {
    NNRTI_CPU_REDUCE_EXTREME, /* MAX, MIN */
    NNRTI_CPU_REDUCE_SUM,
    NNRTI_CPU_REDUCE_PRODUCT
};

/* Attributes of `affine`: y = activation((x - mean) * factor + offset). Arguments: x; mean, factor and offset packed
   as [3,C] and viewed as the means, broadcast to y; y. */
typedef struct nnrti_cpu_affine {
    NNRT_ActivationType activation;
    int32_t channels;
} nnrti_cpu_affine;

/* Comparison of float32 x and y, both broadcast to z, of bool: attributes of `compare`. less, equal: -1 if the
   result is true for less or equal operands, else 0. none: -1 inverts the result. */
typedef struct nnrti_cpu_compare {
    int32_t less, equal, none;
} nnrti_cpu_compare;

/* z = c ? x : y for 32-bit elements: attributes of `where`. one: x, or y, is a single element; if neither is, both
   have the same strides. */
typedef struct nnrti_cpu_where {
    bool one[2];
} nnrti_cpu_where;

/* Index of the largest element along an axis (ARGMAX), or of the smallest one (turn -1, ARGMIN): attributes of
   `argminmax`, whose arguments are x and y, of int32 or int64, with size 1 along the axis. */
typedef struct nnrti_cpu_argminmax {
    int32_t axis, turn;
} nnrti_cpu_argminmax;

/* The k largest elements along an axis (TOPK), or the k smallest ones (rising), in order: attributes of `topk`, whose
   arguments are x, the elements and, if places is set, their indices, of int32 or int64. */
typedef struct nnrti_cpu_topk {
    int32_t axis;
    bool rising, places;
} nnrti_cpu_topk;

/* Attributes of `resize`. Arguments: x [N,H,W,C]; indices and weights of the two source elements for every row and
   then for every column of y, each [2,Ho+Wo]; y. `resize_q8` has the arguments of the reference kernel instead: x, the
   taps, the constants of the requantization, y. */
typedef struct nnrti_cpu_resize {
    bool linear;          /* false: the first of the two elements (NEAREST) */
    bool last;            /* x and y are channels last; else columns of y are dense */
    int32_t bands, block; /* bands: parallel work items per image; block: columns at a time */
} nnrti_cpu_resize;

/* Attributes of `lrn`: y = x * (bias + alpha * the sum of the squares of 2 * radius + 1 channels)^power. */
typedef struct nnrti_cpu_lrn {
    bool last; /* channels last; else columns are dense */
    int32_t radius;
    float bias, alpha, power;
} nnrti_cpu_lrn;

/* Attributes of `group_norm`, whose arguments are those of GROUP_NORM_FUSION: x [N,K,C], scale, bias, y. */
typedef struct nnrti_cpu_group_norm {
    int32_t size; /* channels of a group */
    int32_t many; /* groups per work item if channels are dense (channels last); 0: pixels are dense */
    bool affine;  /* scale and bias apply if they exist */
    float epsilon;
} nnrti_cpu_group_norm;
#define NNRTI_CPU_GROUP_CHANNELS 64 /* channels per work item, about, if channels are dense */

/* Rows along the last axis: `rows` rows of `count` elements, `stepX` apart in x and `stepY` apart in y. */
typedef struct nnrti_cpu_rows {
    int64_t rows;
    ptrdiff_t stepX, stepY;
    int32_t count;
    float epsilon; /* of the normalization */
    bool affine;   /* LAYER_NORM_FUSION: gamma and beta apply */
    float factor;  /* SOFTMAX of x * factor */
} nnrti_cpu_rows;

/* Attributes of `softmax_columns`: lines of rows.count elements, nextX and nextY apart; `columns` adjacent lines are a
   block, of which there are rows.rows, rows.stepX and rows.stepY apart. */
typedef struct nnrti_cpu_columns {
    nnrti_cpu_rows rows;
    ptrdiff_t nextX, nextY;
    int32_t columns;
    bool log; /* LOG_SOFTMAX */
} nnrti_cpu_columns;

/* Attributes of `lp_norm`: the norm is the root of the sum of squares (L2), or the sum of absolute values (L1). */
typedef struct nnrti_cpu_lp_norm {
    nnrti_cpu_rows rows;
    bool absolute;
    bool added; /* epsilon is added to the norm; else the sum is at least epsilon */
} nnrti_cpu_lp_norm;

/* Recurrent layers: attributes of the kernel `recurrent`. Arguments: x [1,T,N,I], the initial states h and c
   [L*D,N,H], the sequence lengths [N], all three optional, the three packed constants; the results y [T,D,N,H], the
   final states, and the tensor between layers, [2*T*N*D*H]; c and the latter are optional. `lanes` cells are a
   block. Packed, for each direction of each layer:
       first   biases and weights of x as for `gemm`, whose channels are block by block, gate by gate, the cells
       second  weights of h: a panel for each block, in it for each element of h gate by gate the cells; if the last
               gate is apart, then a panel for each block of that gate
       third   peepholes gate by gate, or the initial value of the last gate's product with h (its bias)
   first and second have weights of gemm.type. With int8 a panel of second begins with the scales of its cells. */
typedef struct nnrti_cpu_recurrent {
    int32_t gates; /* 4: i, o, f and the cell of an LSTM; 3: z, r and the state of a GRU; 1: RNN */
    int32_t layers, directions, cells;
    int32_t padded;    /* cells rounded up to whole blocks */
    bool narrow;       /* one sequence: sums of one block at a time instead of two */
    int32_t sequences; /* sequences per work item */
    int32_t steps;     /* time steps whose products with x are computed by one GEMM */
    bool ahead;        /* the next steps' products with x are computed while weights of h stream from the L2 cache */
    bool backward;     /* the first direction runs from the last step to the first, too */
    bool apart;        /* the last gate of a GRU multiplies r . h, so it follows after the other gates of all cells */
    bool peephole, inputForget;
    bool plain; /* an LSTM with SIGMOID, TANH and TANH and no options */
    float clip;
    NNRT_ActivationType functions[2][3]; /* per direction */
    nnrti_cpu_gemm gemm;                 /* GEMM of x and its weights */
    size_t floats;                       /* of scratch, before the GEMM's own scratch */
} nnrti_cpu_recurrent;

/* Elements per cell of a panel of weights of h: with int8 the scale, and the weights. */
static int32_t nnrti_cpu_state_depth(const nnrti_cpu_recurrent *a)
{
    return a->cells + (a->gemm.type == NNRTI_CPU_I8 ? 4 : 0);
}
#define NNRTI_CPU_AHEAD 8 /* time steps whose products are computed interleaved with two steps, two gates in each */

/* Rows of the third packed constant: peepholes, or the bias of the last gate of a GRU, or none. */
static int32_t nnrti_cpu_recurrent_extra(const nnrti_cpu_recurrent *a)
{
    return a->peephole ? 3 : a->gates == 3 && !a->apart ? 1 : 0;
}

/* Requantization of 32-bit sums to 8-bit elements of y (>>int8). int8 is processed as uint8 by adding 128, so that
   all elements are 0 to 255; flip is the XOR mask that converts y back. */
typedef struct nnrti_cpu_requantize {
    bool plain;               /* the 32-bit forms suffice (nnrti_cpu_requantize_channels): no very large sums or factors */
    bool wide;                /* the wide form does: no very large sums */
    int32_t zero;             /* of y, from 0 to 255: of the wide form */
    bool positive;            /* results below the zero point are clamped, so negative sums need no exact rounding */
    bool bare;                /* bounds are 0 and 255, and flip is 0 */
    bool raw;                 /* no requantization: y is int32 (nnrti_cpu_lower_matmul_integer) */
    uint32_t low, high, flip; /* each repeated in all four bytes */
} nnrti_cpu_requantize;

/* Sets the bounds of the stored element (the activation's range, saturated) and the XOR mask of y. */
static void nnrti_cpu_requantize_bounds(nnrti_cpu_requantize *r, int32_t low, int32_t high, int32_t flip)
{
    r->low = (uint32_t)(low + flip) * 0x01010101u;
    r->high = (uint32_t)(high + flip) * 0x01010101u;
    r->flip = (uint32_t)flip * 0x01010101u;
    r->bare = low + flip == 0 && high + flip == 255 && flip == 0;
}

/* Clamps q, 0 to 255 if in range, to the bounds and converts it to the stored byte. */
static uint8_t nnrti_cpu_clamp_q8(const nnrti_cpu_requantize *s, int64_t q)
{
    const uint8_t low = (uint8_t)s->low, high = (uint8_t)s->high;
    return (uint8_t)((q < low ? low : q > high ? high : (uint8_t)q) ^ (uint8_t)s->flip);
}

/* table[b] = the result of a kernel that first yields a stored integer in the parameters of x, whose byte is b, and then
   requantizes it; quant: the constants that the operator's rule derives. Equal parameters: only the bounds apply. */
static void nnrti_cpu_requantize_bytes(const nnrt_view *x, const nnrt_view *quant, uint8_t table[256])
{
    const int32_t *list = (const int32_t *)quant->data, zero = x->quant[0].zeroPoint;
    const bool same = list[NNRT_QUANT_FACTORS] == 1 << 30 && list[NNRT_QUANT_FACTORS + 1] == 1 && list[0] == zero;
    for (int32_t i = 0; i < 256; i++) {
        const int32_t v = (x->dataType == NNRT_DATA_TYPE_INT8 ? (int8_t)i : i) - zero;
        table[i] = (uint8_t)nnrt_quant_result(same ? v : nnrt_rescale(v, nnrt_quant_factor(quant, 0)), list);
    }
}

/* int8 GEMM (implicit GEMM of a convolution, or a matrix multiplication): attributes of the kernel `gemm_q8`.
   Arguments: x [N,H,W,K], the packed weights, a table and y [N,Ho,Wo,C], both channels last. Packed weights: a panel
   per `panel` channels of y, in it groups of consecutive channels of x, one group per y channel (the operands of one
   dot-product instruction); the last panel has whole vectors. The table has NNRTI_CPU_REQUANTIZE_ROWS rows of 32
   bits for the channels of y: bias and requantization factors (nnrti_cpu_requantize_table). MATMUL_INTEGER, whose y is
   int32, has the factors of nnrti_cpu_lower_matmul_integer instead, and may have the zero point of x, a tensor, as its
   second argument. */
#define NNRTI_CPU_REQUANTIZE_ROWS 7
#define NNRTI_CPU_FRACTION_BITS 16 /* fraction bits of a result that floats compute */
typedef struct nnrti_cpu_gemm_q8 {
    int32_t window[2], stride[2], dilation[2], pad[2]; /* height, width */
    int32_t rows;                                      /* pixels of y per work item */
    uint32_t parts;                                    /* parallel work items that the panels are divided into */
    int32_t depth;                                     /* groups of a panel */
    int32_t across; /* taps of a window row that are consecutive in x: they are read as one tap. 0: the patch (im2col) */
    int32_t groups; /* per tap. The last group may extend past the last element by some bytes, whose weights are 0 */
    int32_t spare;  /* pixels after the tap that contain these bytes */
    bool gather;    /* x is converted to scratch first: rows of x, or patches of one pixel each (im2col) */
    bool zero, sums; /* MATMUL_INTEGER: x has a zero point, row 2 of the table has weights' zero points */
    int32_t correct; /* with sums and requantization (`matmul_q8`): the factor of the sums of x, of all channels */
    nnrti_cpu_requantize scale;
} nnrti_cpu_gemm_q8;

/* Grouped and transposed convolutions of 8 bits as several int8 GEMMs (>>multi_gemm): attributes of `multi_gemm_q8`, which
   has the arguments of `gemm_q8`; each phase has packed weights and a table for each group. */
typedef struct nnrti_cpu_phase_q8 {
    nnrti_cpu_gemm_q8 gemm;
    int32_t first[2], size[2]; /* rows and columns of y: the first one, and their number */
    int32_t row;               /* bytes of packed weights of a channel of y */
    size_t packed;             /* offset in bytes of its packed weights */
} nnrti_cpu_phase_q8;
typedef struct nnrti_cpu_multi_gemm_q8 {
    int32_t groups, channels, results; /* per group: channels of x and of y */
    int32_t padded;                    /* channels of y of a group, whole vectors */
    int32_t phases, step[2];           /* step: rows and columns of y from one pixel of a phase to the next */
    nnrti_cpu_phase_q8 *phase;
} nnrti_cpu_multi_gemm_q8;

/* Convolution of int16 by int8 weights, without zero points, and FULL_CONNECTION as one of a pixel: attributes of the kernel
   `conv_q16`. Arguments: x [N,H,W,K], the packed weights, a table and y [N,Ho,Wo,C], both channels last. Packed weights: of a
   GEMM panels of 2 vectors of channels, as of `gemm_q8`; depthwise, for each block of 16 channels and each pair of taps four
   channels at a time the weights of both taps, alternating, in the order 0 to 3, 8 to 11, 4 to 7, 12 to 15. The table has two
   rows of float64 for the channels: biases b and factors f; y = clamp(floor((sum + b) * f + 1/2)). That is exact: a factor has
   15 bits, and no sum exceeds 2^37. A sum of NNRTI_CPU_Q16_TERMS products fits int32; float64 adds sums of more
   terms. */
#define NNRTI_CPU_Q16_TERMS 510          /* products of at most 2^22 */
#define NNRTI_CPU_Q16_BLOCK 16           /* channels of a block of a depthwise convolution */
#define NNRTI_CPU_Q16_PATCHES 32768      /* bytes of patches of a work item, unless 4 pixels have more */
#define NNRTI_CPU_Q16_PIXELS 64          /* most pixels of a work item */
typedef struct nnrti_cpu_conv_q16 {
    int32_t window[2], stride[2], dilation[2], pad[2]; /* height, width */
    int32_t depth;     /* groups of weights of a channel; depthwise: pairs of taps */
    int32_t rows;      /* pixels of y per work item */
    int32_t low, high; /* bounds of y */
    uint32_t parts;    /* parallel work items that the panels are divided into */
    bool depthwise;
} nnrti_cpu_conv_q16;

/* The taps that the kernel reads by pointers: of one pixel each, or of a row of the window, or a patch. */
static int32_t nnrti_cpu_taps_q8(const nnrti_cpu_gemm_q8 *a)
{
    return a->across == 0 ? 1 : a->window[0] * a->window[1] / a->across;
}

/* Results of a tile: some pixels of y, and some of its channels. */
typedef struct nnrti_cpu_results_q8 {
    uint8_t *const *y;      /* y[row]: channels of a pixel */
    int32_t rows;           /* pixels */
    int32_t channel, count; /* the first of a panel, and the number left from it on */
    const int32_t *table;   /* of the first channel */
    const nnrti_cpu_requantize *scale;
    int32_t zero;         /* MATMUL_INTEGER: the factor of row 1 of the table. `matmul_q8`: of terms */
    const int32_t *terms; /* and of row 2, for each pixel; or NULL */
} nnrti_cpu_results_q8;
#define NNRTI_CPU_MAX_TILE_ROWS_Q8 8             /* pixels of the tallest register tile of any ISA */
#define NNRTI_CPU_DEPTHWISE_Q8_SCRATCH (1 << 22) /* most bytes of interleaved input */
#define NNRTI_CPU_GEMM_Q8_PIXELS 240             /* most pixels that are multiplied by a panel at a time */
#define NNRTI_CPU_GEMM_Q8_GATHERED (1 << 22)     /* most bytes of im2col rows of a work item, unless 6 rows have more */

/* MATMUL_FUSION of two 8-bit tensors of the run, `matmul_q8`: the number of rows of x that are multiplied at a time, and offsets in
   the scratch of a worker, behind the part of gemm_q8: rows of a transposed x, the packed panel and its table. It grows with the
   number of terms K, so that of the largest K serves all. */
typedef struct nnrti_cpu_matmul_q8_room {
    int32_t rows;
    size_t turned, packed, table, total;
} nnrti_cpu_matmul_q8_room;
#define NNRTI_CPU_MATMUL_Q8_WORDS 64        /* groups of terms that are transposed at a time */
#define NNRTI_CPU_MATMUL_Q8_BYTES (1 << 16) /* of converted rows of x, unless 6 rows have more */

/* GEMM in float16 arithmetic: attributes of `gemm_f16`. Arguments: x [N,H,W,K], the packed weights and y [N,Ho,Wo,C],
   all float16, channels last. The packed weights are [C rounded up to NNRTI_CPU_HALF_LANES, 4 + terms]: per panel of
   NNRTI_CPU_HALF_PANEL channels, of which the last one may have NNRTI_CPU_HALF_LANES, their biases and their
   factors, float32, then the weights, filter tap by filter tap, channel of x by channel of x. A weight is packed as
   weight / factor; the factor of a channel is the least power of two for which the |weights| of any
   NNRTI_CPU_HALF_BLOCK consecutive terms have a sum below 1/2, so that no sum of a block overflows. */
#define NNRTI_CPU_HALF_LANES 8  /* float16 per vector */
#define NNRTI_CPU_HALF_PANEL 16 /* channels per panel */
#define NNRTI_CPU_HALF_BLOCK 64 /* terms whose sum is float16; the sum of these sums is float32 */
#define NNRTI_CPU_HALF_ROWS 4   /* pixels from which on the kernel is used: with fewer, memory bounds a GEMM */
typedef struct nnrti_cpu_gemm_f16 {
    nnrti_cpu_gemm_q8 bytes; /* window and division of work; pixels are addressed as pixels of bytes */
    NNRT_ActivationType activation;
} nnrti_cpu_gemm_f16;

/* int8 depthwise convolution: attributes of `depthwise_q8`, which has the arguments of `gemm_q8`. Elements of
   neighboring rows of x, one group of rows or several, are interleaved into scratch first, column by column; all
   pixels of some rows of y then read them. Packed weights: for each block of channels and each of these rows the
   weights column by column, group by group. */
typedef struct nnrti_cpu_window_q8 {
    int32_t window[2], stride[2], dilation[2], pad[2];
    int32_t fold;   /* pixels whose channels fill whole blocks; packed weights are repeated as often; or 1 */
    int32_t lines;  /* rows of y that read the same rows of x */
    int32_t groups; /* groups of these rows of x */
    int32_t span;   /* pixels, or folds of pixels, per interleaved strip */
    uint32_t parts; /* parallel work items that the channel blocks of such rows are divided into */
    nnrti_cpu_requantize scale;
} nnrti_cpu_window_q8;

/* ADD_FUSION, SUB_FUSION and MUL_FUSION of 8 bits: attributes of `binary_q8`, which has the arguments of the reference
   kernel: x, y, the constants of the requantization, z. */
typedef enum nnrti_cpu_binary_q8_type { NNRTI_CPU_Q8_ADD, NNRTI_CPU_Q8_SUB, NNRTI_CPU_Q8_MUL } nnrti_cpu_binary_q8_type;
typedef struct nnrti_cpu_binary_q8 {
    nnrti_cpu_binary_q8_type type;
    const char *name; /* of the reference kernel */
    nnrt_kernel exact;
} nnrti_cpu_binary_q8;

/* REDUCE_FUSION of 8 bits, SUM and MEAN, and global AVGPOOL_FUSION: attributes of `reduce_q8`, which has the arguments of the
   reference kernel. */
typedef struct nnrti_cpu_reduce_q8 {
    NNRT_ReduceMode mode;
    bool pool;
    nnrt_kernel exact; /* the reference kernel, and its attributes */
    const void *attr;
} nnrti_cpu_reduce_q8;

/* factor of a sum becomes that of the mean of n: m * 2^k / n, with k as large as 64 bits permit. */
static void nnrti_cpu_divide_factor(int32_t factor[2], int32_t n)
{
    int32_t k = 0;
    while (k < 30 && n >> (k + 1) != 0)
        k++;
    k = k > 31 + factor[1] ? 31 + factor[1] : k;
    factor[0] = (int32_t)((uint64_t)((int64_t)factor[0] * ((int64_t)1 << k)) / (uint64_t)n);
    factor[1] -= k;
}

/* Quantize float32 to 8 bits: attributes of `quantize`. */
typedef struct nnrti_cpu_quantize {
    bool even;     /* QUANTIZE_LINEAR: to nearest even; QUANT_DTYPE_CAST: halves away from zero */
    float inverse; /* 1 / scale, which decides all results except near halves; 0: not in its range */
} nnrti_cpu_quantize;

/* float16 elementwise: attributes of `elementwise_half`: the float32 kernel that it runs on widened elements. */
typedef struct nnrti_cpu_elementwise_half {
    nnrt_kernel run;
    const void *attr;
    uint32_t nIn; /* 1 or 2 */
} nnrti_cpu_elementwise_half;
#define NNRTI_CPU_HALF_CHUNK 512 /* elements that it widens at a time */

/* A kernel of an instruction set, and its name nnrt_cpu_KERNEL_ISA. */
typedef struct nnrti_cpu_kernel {
    nnrt_kernel run;
    const char *name;
} nnrti_cpu_kernel;

/* The kernels of each instruction set (X-macro lists). These names are the values of "nnrt.cpu.kernel". */
#define NNRTI_CPU_KERNELS(X)                                                                                           \
    X(gemm)                                                                                                            \
    X(gemv)                                                                                                            \
    X(gemm_nbits)                                                                                                      \
    X(matmul)                                                                                                          \
    X(matmul_f64)                                                                                                      \
    X(fft)                                                                                                             \
    X(multi_gemm)                                                                                                      \
    X(conv_grouped)                                                                                                    \
    X(depthwise)                                                                                                       \
    X(fused_depthwise)                                                                                                 \
    X(max_pool)                                                                                                        \
    X(average_pool)                                                                                                    \
    X(max_pool_nd)                                                                                                     \
    X(average_pool_nd)                                                                                                 \
    X(binary)                                                                                                          \
    X(unary)                                                                                                           \
    X(affine)                                                                                                          \
    X(reduce)                                                                                                          \
    X(softmax)                                                                                                         \
    X(log_softmax)                                                                                                     \
    X(softmax_columns)                                                                                                 \
    X(layer_norm)                                                                                                      \
    X(rms_norm)                                                                                                        \
    X(group_norm) X(winograd) X(recurrent) X(compare) X(where) X(argminmax) X(resize) X(lrn) X(lp_norm) X(topk) \
    X(integers) X(classify) X(cum_sum) X(attention) X(quantize_blocks)
/* Kernels that are the same for each instruction set (>>selecting, >>lines, >>blocks, >>portable). */
#define NNRTI_CPU_KERNELS_SELECT(X)                                                                                    \
    X(non_zero) X(unique) X(gather_elements) X(gather) X(gather_nd) X(tables_q8) X(softmax_q8) X(log_softmax_q8)       \
    X(lp_norm_q8) X(l2_norm_q8) X(layer_norm_q8) X(reduce_lines_q8) X(add_n_q8) X(concat_bytes)                        \
    NNRTI_CPU_KERNELS_PORTABLE(X)
#define NNRTI_CPU_KERNELS_PORTABLE(X) /* (>>blocks, >>portable) */                                                     \
    X(elements) X(compare_any) X(cast_elements) X(argminmax_any) X(reduce_any) X(all) X(matmul_int) X(einsum_int)      \
    X(rotary) X(col2im) X(conv_transpose) X(hardmax) X(resize_nd) X(spread) X(fill) X(pad)
/* Kernels between float32 and integers or float16; avx512vnni uses the kernels of avx512. */
#define NNRTI_CPU_KERNELS_CAST(X)                                                                                      \
    X(quantize) X(dequantize) X(cast) X(table_q8) X(widen_half) X(narrow_half) X(round_half) X(elementwise_half)
/* Kernels with float16 arithmetic: of fp16, and of i8mm, which has them from there. */
#if NNRT_CPU_FP16
#define NNRTI_CPU_KERNELS_F16(X) X(gemm_f16)
#else
#define NNRTI_CPU_KERNELS_F16(X)
#endif
/* 8-bit kernels without dot products; then those with dot products, which avx512vnni and dotprod implement themselves:
   i8mm only the first two. */
#define NNRTI_CPU_KERNELS_Q8(X) X(max_pool_q8) X(average_pool_q8) X(binary_q8) X(resize_q8) X(reduce_q8) X(conv_q16) X(cast_q16)
#define NNRTI_CPU_KERNELS_Q8_GEMM(X) X(gemm_q8) X(multi_gemm_q8) X(matmul_q8) X(gemm_nbits_int8)
#define NNRTI_CPU_KERNELS_Q8_ROWS(X) X(depthwise_q8)

/* Layout parameters of the 8-bit kernels of an instruction set. */
typedef struct nnrti_cpu_isa_q8 {
    int32_t lanes, panel; /* int32 per vector; channels per panel */
    int32_t group, bytes; /* x channels per dot product; bytes of a packed weight: 1 (x is read unchanged), 2 or 4 */
    int32_t block;        /* channels per block of a depthwise convolution */
    int32_t mixed;        /* channels that its dot products permute (nnrti_cpu_interleaved_channel); 0: none */
    int32_t group16, bytes16; /* group and bytes of `conv_q16` */
    bool forms;           /* a form for each group follows the weights of a panel (nnrti_cpu_pairs) */
} nnrti_cpu_isa_q8;

/* GEMMs of uint8 by int8 for an ISA without dot products of bytes, and their layout; group 0: none. AVX2's vpmaddubsw adds
   two products in 16 bits, saturated, and vpmaddwd by ones adds these pairs in 32 bits: 3 instructions for 32 products instead
   of 4 by int16. Two results of the former can be added in 16 bits before: 5 for 64. It is exact if the positive weights of a
   sum of 16 bits, and the negative ones, add up to at most 128, as 255 * 128 < 2^15. The weights are known, so each group
   of a panel has a form, a byte behind the weights of the panel: */
enum {
    NNRTI_CPU_PAIRS_FOUR, /* sums of four products, of this group and the next one, are exact */
    NNRTI_CPU_PAIRS_TWO,  /* sums of two */
    NNRTI_CPU_PAIRS_ONE   /* not even these: even and odd terms are multiplied one after the other */
};
typedef struct nnrti_cpu_pairs {
    nnrti_cpu_kernel gemm_q8, multi_gemm_q8;
    nnrti_cpu_isa_q8 q8;
} nnrti_cpu_pairs;

/* Whether an ISA of this build has kernels for float16 and int8 weights. */
#if defined(__aarch64__)
#define NNRTI_CPU_SMALL_WEIGHTS 1
#else
#define NNRTI_CPU_SMALL_WEIGHTS (NNRT_CPU_AVX512 || NNRT_CPU_AVX2)
#endif

/* ISAs whose dot products multiply bytes. VNNI multiplies uint8 by int8, SDOT int8 by int8, I8MM both, relaxed SIMD the
   one or the other, as nnrti_cpu_dot_sign finds.
   NNRTI_CPU_DOT_READS: whether GEMM reads x in place, without a copy that converts it. NNRTI_CPU_DOT_ZERO: the zero
   point of x as GEMM multiplies it. NNRTI_CPU_DOT_SIGN: the XOR mask between uint8 and the operands of depthwise
   convolutions, which are of that type; NNRTI_CPU_ROW_GROUP: the rows of x per dot product of them. Constants of the
   machine: on x86 they cost nothing. */
#if defined(__aarch64__)
#define NNRTI_CPU_DOT_READS(x) true
#define NNRTI_CPU_DOT_ZERO(isa, x)                                                                                     \
    ((x)->quant[0].zeroPoint - ((x)->dataType == NNRT_DATA_TYPE_UINT8 && (isa)->group == 4 ? 0x80 : 0))
#define NNRTI_CPU_DOT_SIGN 0x80
#define NNRTI_CPU_ROW_GROUP(isa) ((isa)->group < 4 ? (isa)->group : 4)
#elif defined(__wasm_simd128__)
#define NNRTI_CPU_DOT_READS(x) (nnrti_cpu_flip(x) == NNRTI_CPU_DOT_SIGN)
#define NNRTI_CPU_DOT_ZERO(isa, x) ((x)->quant[0].zeroPoint + nnrti_cpu_flip(x) - NNRTI_CPU_DOT_SIGN)
#define NNRTI_CPU_DOT_SIGN nnrti_cpu_dot_sign()
#define NNRTI_CPU_ROW_GROUP(isa) (isa)->group
#else
#define NNRTI_CPU_DOT_READS(x) (nnrti_cpu_flip(x) == 0)
#define NNRTI_CPU_DOT_ZERO(isa, x) ((x)->quant[0].zeroPoint + nnrti_cpu_flip(x))
#define NNRTI_CPU_DOT_SIGN 0
#define NNRTI_CPU_ROW_GROUP(isa) (isa)->group
#endif

/* An instruction set (ISA): layout parameters and kernels. */
typedef struct nnrti_cpu_isa {
    const char *name;
    int32_t lanes, panel; /* floats per vector; channels per panel */
    /* Winograd weight transform G g G^T of `width` channels; the 9 taps are `tap` floats apart, the cells `cell` */
    void (*weights)(const float *taps, size_t tap, float *to, size_t cell, int32_t width, int32_t tile);
    /* y = x, rounded to float16; NULL: the ISA converts neither float16 nor int8 by instructions and packs float32 weights */
    void (*narrow)(const float *x, uint16_t *y, int32_t count);
    void (*lookup)(const uint8_t *table, const uint8_t *x, uint8_t *y, int32_t count); /* y = table[x] */
#define NNRTI_CPU_MEMBER(kernel) nnrti_cpu_kernel kernel;
    NNRTI_CPU_KERNELS(NNRTI_CPU_MEMBER)
    NNRTI_CPU_KERNELS_SELECT(NNRTI_CPU_MEMBER)
    NNRTI_CPU_KERNELS_CAST(NNRTI_CPU_MEMBER)
    NNRTI_CPU_KERNELS_F16(NNRTI_CPU_MEMBER)
    NNRTI_CPU_KERNELS_Q8(NNRTI_CPU_MEMBER)
    NNRTI_CPU_KERNELS_Q8_GEMM(NNRTI_CPU_MEMBER)
    NNRTI_CPU_KERNELS_Q8_ROWS(NNRTI_CPU_MEMBER)
#undef NNRTI_CPU_MEMBER
    nnrti_cpu_isa_q8 q8;
    nnrti_cpu_pairs pairs;
} nnrti_cpu_isa;

/* Tasks that are handed to threads in chunks. */
typedef struct nnrti_cpu_chunked_tasks {
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
    uint32_t count, pieces;
} nnrti_cpu_chunked_tasks;

/* Runs chunk i: an equal share of the tasks. */
static void nnrti_cpu_run_chunk(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_chunked_tasks *p = (const nnrti_cpu_chunked_tasks *)arg;
    const uint32_t end = (uint32_t)((uint64_t)p->count * (i + 1) / p->pieces);
    for (uint32_t k = (uint32_t)((uint64_t)p->count * i / p->pieces); k < end; k++)
        p->task(p->arg, k, worker);
}

/* parallel_for on the caller's thread pool: calls task for every i < count. `work` estimates the cost in
   multiply-adds of a GEMM, of which a core does some 80,000 per microsecond. Small work runs on the calling thread:
   threads take about a microsecond to start and to join, and a fraction of it to fetch a chunk. */
#define NNRTI_CPU_MIN_WORK 120000.0
static void nnrti_cpu_parallel_for(const nnrt_call *call, double work, uint32_t count,
                                   void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    const nnrt_parallel *parallel = call != NULL && work > NNRTI_CPU_MIN_WORK ? call->parallel : NULL;
    const uint32_t workers = parallel != NULL ? parallel->workers : 1;
    const double worth = work / (NNRTI_CPU_MIN_WORK / 4); /* as many chunks as are worth a thread's overhead */
    nnrti_cpu_chunked_tasks p;
    p.task = task;
    p.arg = arg;
    p.count = count;
    p.pieces = worth < (double)count ? (uint32_t)worth : count;
    /* A multiple of the workers: so a worker processes the same region from step to step, which its cache holds. */
    if (p.pieces % workers != 0)
        p.pieces += workers - p.pieces % workers;
    if (p.pieces > count)
        p.pieces = count;
    if (workers < 2)
        nnrt_parallel_for(NULL, count, task, arg);
    else
        nnrt_parallel_for(call, p.pieces, nnrti_cpu_run_chunk, &p);
}

/* Work items that the panels of a GEMM are divided into if there are too few pixels to occupy all workers. */
static uint32_t nnrti_cpu_panel_parts(double work, int32_t panels, uint32_t workers)
{
    if (work <= NNRTI_CPU_MIN_WORK)
        return 1;
    return workers < (uint32_t)panels ? workers : (uint32_t)panels;
}

/* Parts of the panels in this run: one if it has no threads, as each part of a GEMM reads x anew. */
static uint32_t nnrti_cpu_parts(const nnrt_call *call, uint32_t planned)
{
    return call != NULL && call->parallel != NULL ? planned : 1;
}

/* Sorts the axes of a view by falling stride, for kernels that may read its elements in any order: an image whose channels
   are last is then read in the order of its memory. */
static void nnrti_cpu_sort_strides(nnrt_view *v)
{
    for (int32_t i = 1; i < v->rank; i++)
        for (int32_t k = i; k > 0 && v->strides[k] > v->strides[k - 1]; k--) {
            const ptrdiff_t stride = v->strides[k];
            const int32_t size = v->dims[k];
            v->strides[k] = v->strides[k - 1];
            v->dims[k] = v->dims[k - 1];
            v->strides[k - 1] = stride;
            v->dims[k - 1] = size;
        }
}

/* The work of a GEMM of 8-bit operands, for nnrti_cpu_parallel_for. bytes: of a packed weight (nnrti_cpu_isa_q8); 2 for
   nnrti_cpu_pairs, which take nearly the time of int16. */
static double nnrti_cpu_gemm_q8_work(size_t bytes, int64_t pixels, int32_t channels, int32_t terms)
{
    return 0.25 * (double)(bytes * bytes) * (double)pixels * channels * terms;
}

/* Work items that an elementwise walk is divided into; an element costs `each` multiply-adds. *work: the total, for
   nnrti_cpu_parallel_for; 0 without threads. */
static uint32_t nnrti_cpu_walk_parts(const nnrt_call *call, const nnrt_walk *w, double each, double *work)
{
    uint32_t most = (uint32_t)(w->rank > 0 ? w->dims[0] : (w->count + 1023) / 1024);
    *work = 0;
    if (call == NULL || call->parallel == NULL)
        return 1;
    *work = each * (double)w->count;
    for (int32_t i = 0; i < w->rank; i++)
        *work *= (double)w->dims[i];
    if (*work <= NNRTI_CPU_MIN_WORK)
        return 1;
    return most < 4 * call->parallel->workers ? most : 4 * call->parallel->workers;
}

/* Restricts a walk to part i of `parts`: of its first axis or, if it has only a row, of the row, cut at cache lines. */
static void nnrti_cpu_walk_part(nnrt_walk *w, uint32_t i, uint32_t parts)
{
    int32_t *extent = w->rank > 0 ? &w->dims[0] : &w->count;
    const int32_t size = w->rank > 0 ? 1 : 16, pieces = (*extent + size - 1) / size;
    const int32_t begin = (int32_t)((int64_t)pieces * i / parts) * size;
    const int32_t end = (int32_t)((int64_t)pieces * (i + 1) / parts) * size;
    for (int32_t k = 0; k < 3; k++)
        w->at[k] += begin * (w->rank > 0 ? w->step[k][0] : w->row[k]);
    *extent = (end < *extent ? end : *extent) - begin;
}

/* Whether the rows of a walk over z, x and y (or NULL) are dense, or broadcast. */
static bool nnrti_cpu_has_dense_rows(const nnrt_view *z, const nnrt_view *x, const nnrt_view *y)
{
    nnrt_walk w;
    if (!nnrt_walk_first(&w, z, x, y))
        return false;
    return w.row[0] == 1 && (w.row[1] | 1) == 1 && (y == NULL || (w.row[2] | 1) == 1);
}

/* v with axis reduced to size 1: the first element of every line along axis. */
static nnrt_view nnrti_cpu_line_starts(const nnrt_view *v, int32_t axis)
{
    nnrt_view starts = *v;
    starts.dims[axis] = 1;
    return starts;
}

/* Stores an index at this offset of an int32 or int64 view. */
static void nnrti_cpu_store_index(const nnrt_view *v, ptrdiff_t offset, int32_t index)
{
    if (v->dataType == NNRT_DATA_TYPE_INT64)
        ((int64_t *)v->data)[offset] = index;
    else
        ((int32_t *)v->data)[offset] = index;
}

/* The scratch of a worker; NULL: the step has none. */
static void *nnrti_cpu_scratch(const nnrt_call *call, uint32_t worker)
{
    return call->scratch != NULL ? (uint8_t *)call->scratch + worker * call->scratchBytes : NULL;
}

/* ---- ATTENTION: shared by its kernels ---- */

#define NNRTI_CPU_QUERIES 4 /* of a work item */
#define NNRTI_CPU_VALUES 2  /* vectors of a value that are summed at a time, for as many queries */
#define NNRTI_CPU_WIDENED 32 /* keys or values of float16 or int8 that become float32 at a time */

/* The elements between the scores of two queries over T keys. */
static ptrdiff_t nnrti_cpu_attention_room(int32_t T)
{
    return ((ptrdiff_t)T + 15) / 16 * 16;
}

/* The operands as [B,heads,steps,D]; dataType UNKNOWN: absent. */
typedef struct nnrti_cpu_attention {
    nnrt_view q, key, value, y, pastKey, pastValue, mask, lengths, keyScale, valueScale, pages;
    int32_t pageSize;    /* rows of a page; 0: without pages */
    int32_t past, total; /* past keys; all keys */
    int32_t valid;       /* the most keys that a query attends to */
    int32_t shared;      /* heads of q of each head of k */
    int32_t rows;        /* queries that read the same keys, and are divided into blocks */
    int32_t blocks;      /* of rows */
    bool grouped;        /* rows: the heads of q that share a head of k, with one query each; else the steps of a head of q */
    ptrdiff_t room;      /* elements between the scores of two queries */
} nnrti_cpu_attention;

/* A query: its batch, head, index, the head of k; the keys first to end - 1 that it attends to; the sum of its weights. */
typedef struct nnrti_cpu_attention_query {
    int32_t b, head, step, from, first, end;
    const float *q;
    float *y, sum;
} nnrti_cpu_attention_query;

/* v [B,S,heads*D] or [B,heads,S,D] as the latter. */
static nnrt_view nnrti_cpu_heads(const nnrt_view *v, int64_t heads)
{
    nnrt_view as = *v;
    if (v->rank == 4)
        return as;
    as.rank = 4;
    as.dims[1] = (int32_t)heads;
    as.dims[2] = v->dims[1];
    as.dims[3] = v->dims[2] / (int32_t)heads;
    as.strides[1] = v->strides[2] * as.dims[3];
    as.strides[2] = v->strides[1];
    as.strides[3] = v->strides[2];
    return as;
}

/* The row of keys and values that is row i of a query: past ones have no pages. */
static int32_t nnrti_cpu_attention_place(const nnrti_cpu_attention *a, const nnrti_cpu_attention_query *query, int32_t i)
{
    const ptrdiff_t at = a->pageSize > 0 ? query->b * a->pages.strides[0] + i / a->pageSize * a->pages.strides[1] : 0;
    return a->pageSize > 0 ? (int32_t)nnrt_load_index(&a->pages, at) * a->pageSize + i % a->pageSize : i;
}

/* Key or value i, or its scales, of the head that a query reads. */
static const void *nnrti_cpu_attention_row(const nnrt_view *v, const nnrti_cpu_attention_query *query, int32_t i)
{
    const ptrdiff_t at = query->b * v->strides[0] + query->from * v->strides[1] + i * v->strides[2];
    return (const uint8_t *)v->data + at * (ptrdiff_t)nnrt_type_size(v->dataType);
}

/* to [B,heads,P + S,D] = past, if there is one, followed by v. */
static void nnrti_cpu_attention_present(const nnrt_view *past, const nnrt_view *v, const nnrt_view *to, int32_t P)
{
    const ptrdiff_t size = (ptrdiff_t)nnrt_type_size(to->dataType);
    for (int32_t b = 0; b < to->dims[0]; b++)
        for (int32_t h = 0; h < to->dims[1]; h++)
            for (int32_t i = 0; i < to->dims[2]; i++) {
                const nnrt_view *x = i < P ? past : v;
                const ptrdiff_t from = b * x->strides[0] + h * x->strides[1] + (i < P ? i : i - P) * x->strides[2];
                const uint8_t *row = (const uint8_t *)x->data + from * size;
                uint8_t *y = (uint8_t *)to->data + (b * to->strides[0] + h * to->strides[1] + i * to->strides[2]) * size;
                if (row != y)
                    memcpy(y, row, (size_t)(to->dims[3] * size));
            }
}

/* The pages of the keys that queries attend to exist. */
static NNRT_ReturnCode nnrti_cpu_attention_check(const nnrti_cpu_attention *a, nnrt_call *call)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (int32_t b = 0; a->pageSize > 0 && b < a->pages.dims[0] && code == NNRT_SUCCESS; b++)
        code = nnrt_check_pages(&a->pages, b, nnrt_load_index(&a->lengths, b * a->lengths.strides[0]), a->pageSize,
                                a->key.dims[2], call);
    return code;
}

/* Divides the queries into blocks. A decoder that generates has one query in each head: the heads that share keys are then
   blocks, which read the keys once, unless that leaves threads without work; a block takes about as long as two queries.
   The bits of a result depend on a block only if its queries attend to other keys, which these do not: so they are the same
   for any number of threads. */
static void nnrti_cpu_attention_divide(nnrti_cpu_attention *a, uint32_t workers)
{
    const int32_t heads = a->key.dims[0] * a->key.dims[1], threads = (int32_t)workers;
    const int32_t units = heads * ((a->shared + NNRTI_CPU_QUERIES - 1) / NNRTI_CPU_QUERIES);
    a->grouped = a->q.dims[2] == 1 && a->shared > 1 &&
                 2 * ((units + threads - 1) / threads) <= (heads * a->shared + threads - 1) / threads;
    a->rows = a->grouped ? a->shared : a->q.dims[2];
    a->blocks = (a->rows + NNRTI_CPU_QUERIES - 1) / NNRTI_CPU_QUERIES;
    a->valid = a->total;
    if (a->lengths.dataType == NNRT_DATA_TYPE_UNKNOWN)
        return;
    a->valid = 0;
    for (int32_t b = 0; b < a->lengths.dims[0]; b++) {
        const int64_t length = nnrt_load_index(&a->lengths, b * a->lengths.strides[0]);
        a->valid = length > a->valid ? length < a->total ? (int32_t)length : a->total : a->valid;
    }
}

/* Reads the arguments, and stores present keys and values. False: there is no query. */
static bool nnrti_cpu_attention_begin(const NNRT_Attention *attr, const nnrt_view *args, const nnrt_call *call,
                                      nnrti_cpu_attention *a)
{
    const uint32_t nIn = call->nIn;
    const nnrt_view *present = args + nIn + 1;
    memset(a, 0, sizeof(*a));
    a->q = nnrti_cpu_heads(&args[0], attr->qNumHeads);
    a->key = nnrti_cpu_heads(&args[1], attr->kvNumHeads);
    a->value = nnrti_cpu_heads(&args[2], attr->kvNumHeads);
    a->y = nnrti_cpu_heads(&args[nIn], attr->qNumHeads);
    if (args[3].dataType != NNRT_DATA_TYPE_UNKNOWN)
        a->mask = args[3];
    if (args[4].dataType != NNRT_DATA_TYPE_UNKNOWN) {
        a->pastKey = args[4];
        a->pastValue = args[5];
        a->past = args[4].dims[2];
    }
    if (args[6].dataType != NNRT_DATA_TYPE_UNKNOWN)
        a->lengths = args[6];
    if (args[7].dataType != NNRT_DATA_TYPE_UNKNOWN) {
        a->keyScale = nnrti_cpu_heads(&args[7], attr->kvNumHeads);
        a->valueScale = nnrti_cpu_heads(&args[8], attr->kvNumHeads);
    }
    if (args[9].dataType != NNRT_DATA_TYPE_UNKNOWN) {
        a->pages = args[9];
        a->pageSize = (int32_t)attr->pageSize;
    }
    a->total = a->pageSize > 0 ? a->pages.dims[1] * a->pageSize : a->past + a->key.dims[2];
    a->shared = a->key.dims[1] > 0 ? a->q.dims[1] / a->key.dims[1] : 1;
    nnrti_cpu_attention_divide(a, call->parallel != NULL ? call->parallel->workers : 1);
    a->room = nnrti_cpu_attention_room(a->total);
    if (present[0].dataType != NNRT_DATA_TYPE_UNKNOWN)
        nnrti_cpu_attention_present(&a->pastKey, &a->key, &present[0], a->past);
    if (present[1].dataType != NNRT_DATA_TYPE_UNKNOWN)
        nnrti_cpu_attention_present(&a->pastValue, &a->value, &present[1], a->past);
    return a->q.dims[0] * a->q.dims[1] * a->q.dims[2] > 0 && a->value.dims[3] > 0;
}

/* The keys that a query attends to; as the reference kernel. */
static void nnrti_cpu_attention_range(const NNRT_Attention *attr, const nnrti_cpu_attention *a, nnrti_cpu_attention_query *query)
{
    const bool listed = a->lengths.dataType != NNRT_DATA_TYPE_UNKNOWN;
    const int64_t length = listed ? nnrt_load_index(&a->lengths, query->b * a->lengths.strides[0]) : a->total;
    const int64_t valid = length < 0 ? 0 : length < a->total ? length : a->total;
    const int64_t at =
        query->step + (listed && a->pastKey.dataType == NNRT_DATA_TYPE_UNKNOWN ? valid - a->q.dims[2] : a->past);
    int64_t first = 0, end = valid;
    if (attr->isCausal != 0 && at + 1 < end)
        end = at + 1;
    if (attr->rightWindowSize >= 0 && attr->rightWindowSize < end - at - 1)
        end = at + attr->rightWindowSize + 1;
    if (attr->leftWindowSize >= 0 && attr->leftWindowSize < at)
        first = at - attr->leftWindowSize;
    query->end = end > 0 ? (int32_t)end : 0;
    query->first = first < query->end ? (int32_t)first : query->end;
}

/* The queries of work item `unit`; returns their number. */
static int32_t nnrti_cpu_attention_queries(const NNRT_Attention *attr, const nnrti_cpu_attention *a, int32_t unit,
                                           nnrti_cpu_attention_query *queries)
{
    const int32_t heads = a->grouped ? a->key.dims[1] : a->q.dims[1];
    const int32_t first = unit % a->blocks * NNRTI_CPU_QUERIES, outer = unit / a->blocks % heads;
    const int32_t b = unit / a->blocks / heads, left = a->rows - first;
    const int32_t n = left < NNRTI_CPU_QUERIES ? left : NNRTI_CPU_QUERIES;
    for (int32_t r = 0; r < n; r++) {
        nnrti_cpu_attention_query *query = &queries[r];
        const int32_t head = a->grouped ? outer * a->shared + first + r : outer;
        query->b = b;
        query->head = head;
        query->from = head / a->shared;
        query->step = a->grouped ? 0 : first + r;
        query->sum = 0;
        query->q = (const float *)a->q.data + b * a->q.strides[0] + head * a->q.strides[1] + query->step * a->q.strides[2];
        query->y = (float *)a->y.data + b * a->y.strides[0] + head * a->y.strides[1] + query->step * a->y.strides[2];
        nnrti_cpu_attention_range(attr, a, query);
    }
    return n;
}

/* Adds the mask, bool or float32, which broadcasts to [B,heads,S,T], to the scores of a query. Behind the end of the
   mask's last axis, and where it is false, a score is -infinity. */
static void nnrti_cpu_attention_mask(const nnrt_view *mask, const nnrti_cpu_attention_query *query, float *w)
{
    const int32_t at[3] = {query->b, query->head, query->step}, last = mask->rank - 1, L = mask->dims[last];
    const ptrdiff_t step = L != 1 ? mask->strides[last] : 0;
    ptrdiff_t from = 0;
    for (int32_t i = 0; i < last; i++)
        from += mask->dims[i] != 1 ? at[4 - mask->rank + i] * mask->strides[i] : 0;
    for (int32_t i = query->first; i < query->end; i++)
        if (L != 1 && i >= L)
            w[i] = -INFINITY;
        else if (mask->dataType != NNRT_DATA_TYPE_BOOL)
            w[i] += ((const float *)mask->data)[from + i * step];
        else if (((const uint8_t *)mask->data)[from + i * step] == 0)
            w[i] = -INFINITY;
}

/* Packs `lanes` columns from column n on of y [K,N], float64, or with `transposed` [N,K], whose matrix begins at `from`; columns
   from N on are 0. */
static void nnrti_cpu_pack_f64(const nnrt_view *y, bool transposed, int32_t n, int32_t lanes, const double *from,
                               double *to)
{
    const int32_t last = y->rank - 1, K = y->dims[last - !transposed], N = y->dims[last - transposed];
    const ptrdiff_t row = y->strides[last - !transposed], column = y->strides[last - transposed];
    const int32_t count = N - n < lanes ? N - n : lanes;
    from += n * column;
    for (int32_t k = 0; k < K; k++, from += row, to += lanes) {
        for (int32_t i = 0; i < count; i++)
            to[i] = from[i * column];
        for (int32_t i = count; i < lanes; i++)
            to[i] = 0.0;
    }
}

/* FFT, without the stages: those are in nnrt_cpu_kernels.h (>>fft_kernel). */

/* The buffers: current values, and results of the next stage. */
typedef struct nnrti_cpu_fft_buffers {
    float *re, *im, *nextRe, *nextIm;
} nnrti_cpu_fft_buffers;

static void nnrti_cpu_fft_next(nnrti_cpu_fft_buffers *b)
{
    float *const re = b->re, *const im = b->im;
    b->re = b->nextRe;
    b->im = b->nextIm;
    b->nextRe = re;
    b->nextIm = im;
}

/* Swaps real and imaginary parts: a transform of them is the inverse transform. */
static void nnrti_cpu_fft_turn(nnrti_cpu_fft_buffers *b)
{
    float *const re = b->re, *const next = b->nextRe;
    b->re = b->im;
    b->im = re;
    b->nextRe = b->nextIm;
    b->nextIm = next;
}

/* The step. */
typedef struct nnrti_cpu_fft_job {
    const nnrti_cpu_fft *attr;
    const nnrt_view *x, *window, *y;
    const float *table;
    const nnrt_call *call;
    int64_t count; /* transforms */
} nnrti_cpu_fft_job;

static float nnrti_cpu_fft_read(const nnrt_view *v, ptrdiff_t i)
{
    return v->dataType == NNRT_DATA_TYPE_FLOAT32 ? ((const float *)v->data)[i]
                                                 : nnrt_half_to_float(((const uint16_t *)v->data)[i]);
}
static void nnrti_cpu_fft_write(const nnrt_view *v, ptrdiff_t i, float value)
{
    if (v->dataType == NNRT_DATA_TYPE_FLOAT32)
        ((float *)v->data)[i] = value;
    else
        ((uint16_t *)v->data)[i] = nnrt_half_from_float(value);
}

/* Where a->lanes transforms from `first` on begin: offsets in x and in y. Behind the last transform they repeat. */
static void nnrti_cpu_fft_places(const nnrti_cpu_fft_job *j, int64_t first, ptrdiff_t *from, ptrdiff_t *to)
{
    const nnrti_cpu_fft *a = j->attr;
    for (int32_t v = 0; v < a->lanes; v++) {
        int64_t rest = first + v < j->count ? first + v : j->count - 1;
        from[v] = to[v] = 0;
        for (int32_t k = j->y->rank - 2; k >= 0; k--) {
            const int32_t size = k == a->axis ? 1 : j->y->dims[k], index = (int32_t)(rest % size);
            rest /= size;
            from[v] += a->hop > 0 && k == 1 ? (ptrdiff_t)(index * a->hop) * j->x->strides[1]
                       : k != a->axis       ? index * j->x->strides[k]
                                            : 0;
            to[v] += index * j->y->strides[k];
        }
    }
}

/* Gathers the values of transforms v to end - 1, which begin at the offsets `from` of x. */
static void nnrti_cpu_fft_gather(const nnrti_cpu_fft_job *j, const nnrti_cpu_fft_buffers *b, const ptrdiff_t *from,
                                 int32_t v, int32_t end)
{
    const nnrti_cpu_fft *a = j->attr;
    const nnrt_view *x = j->x;
    const ptrdiff_t step = x->strides[a->hop > 0 ? 1 : a->axis], part = x->strides[x->rank - 1];
    const bool packed = a->realIn && a->length < a->N; /* x[2n] + i x[2n+1] */
    for (int32_t n = 0; n < a->used; n++) {
        const float w = j->window->data != NULL ? nnrti_cpu_fft_read(j->window, n * j->window->strides[0]) : 1.0f;
        const ptrdiff_t at = (ptrdiff_t)(packed ? n / 2 : n) * a->lanes, other = (ptrdiff_t)(a->N - n) * a->lanes;
        float *const re = (packed && n % 2 != 0 ? b->im : b->re) + at, *const im = b->im + at;
        for (int32_t i = v; i < end; i++)
            re[i] = nnrti_cpu_fft_read(x, from[i] + n * step) * w;
        if (a->realIn || (a->realOut && (n == 0 || 2 * n == a->N)))
            continue; /* its own conjugate */
        for (int32_t i = v; i < end; i++)
            im[i] = nnrti_cpu_fft_read(x, from[i] + n * step + part) * w;
        for (int32_t i = v; i < end && a->realOut && a->length == a->N; i++) { /* the conjugates of the other half */
            b->re[other + i] = re[i];
            b->im[other + i] = -im[i];
        }
    }
}

/* Scatters the results of transforms v to end - 1 to y, where they begin at the offsets `to`. */
static void nnrti_cpu_fft_scatter(const nnrti_cpu_fft_job *j, const nnrti_cpu_fft_buffers *b, const ptrdiff_t *to,
                                  int32_t v, int32_t end)
{
    const nnrti_cpu_fft *a = j->attr;
    const nnrt_view *y = j->y;
    const ptrdiff_t step = y->strides[a->axis], part = y->strides[y->rank - 1];
    const float scale = a->inverse ? 1.0f / (float)(a->realOut ? a->length : a->N) : 1.0f;
    const bool halves = a->length < a->N;
    for (int32_t k = 0; k < y->dims[a->axis]; k++) {
        const bool mirrored = !a->realOut && halves && k > a->length;
        const ptrdiff_t at = (ptrdiff_t)(mirrored ? a->N - k : a->realOut && halves ? k / 2 : k) * a->lanes;
        const float *const re = (a->realOut && halves && k % 2 != 0 ? b->im : b->re) + at, *const im = b->im + at;
        const float sign = mirrored != (a->inverse && a->realIn) ? -scale : scale;
        for (int32_t i = v; i < end; i++)
            nnrti_cpu_fft_write(y, to[i] + k * step, re[i] * scale);
        for (int32_t i = v; i < end && !a->realOut; i++)
            nnrti_cpu_fft_write(y, to[i] + k * step + part, im[i] * sign);
    }
}

/* Gathers the values, or scatters the results, of `count` transforms: eight at a time, as the cache lines of more
   transforms that are a power of two apart would evict each other. */
static void nnrti_cpu_fft_copy(const nnrti_cpu_fft_job *j, const nnrti_cpu_fft_buffers *b, const ptrdiff_t *place,
                               int32_t count, bool gather)
{
    for (int32_t v = 0; v < count; v += 8)
        (gather ? nnrti_cpu_fft_gather : nnrti_cpu_fft_scatter)(j, b, place, v, v + 8 < count ? v + 8 : count);
}

/* The range [low, high] of an activation that only clamps; false: it is another function. */
static bool nnrti_cpu_activation_bounds(NNRT_ActivationType activation, float *low, float *high)
{
    *low = -INFINITY;
    *high = INFINITY;
    switch (activation) {
    case NNRT_ACTIVATION_TYPE_RELU: *low = 0; return true;
    case NNRT_ACTIVATION_TYPE_RELU6:
        *low = 0;
        *high = 6;
        return true;
    case NNRT_ACTIVATION_TYPE_RELU1:
        *low = 0;
        *high = 1;
        return true;
    case NNRT_ACTIVATION_TYPE_NO_ACTIVATION:
    case NNRT_ACTIVATION_TYPE_LINEAR: return true;
    default: return false;
    }
}

/* Whether a unary function costs many multiplications. */
static bool nnrti_cpu_is_expensive(const nnrti_cpu_elementwise *a)
{
    float low, high;
    switch (a->function) {
    case NNRTI_CPU_ACTIVATION: return !nnrti_cpu_activation_bounds(a->activation, &low, &high);
    case NNRTI_CPU_CLAMP:
    case NNRTI_CPU_LEAKY:
    case NNRTI_CPU_HARD_SIGMOID:
    case NNRTI_CPU_SQUARE:
    case NNRTI_CPU_CUBE:
    case NNRTI_CPU_ABS:
    case NNRTI_CPU_NEG:
    case NNRTI_CPU_SIGN: return false;
    default: return true;
    }
}

/* The XOR mask that maps stored int8 to 0 to 255; 0 for uint8. */
static int32_t nnrti_cpu_flip(const nnrt_view *v)
{
    return v->dataType == NNRT_DATA_TYPE_INT8 ? 0x80 : 0;
}

/* Quantized addition by floats, if they are provably exact: 2^FRACTION_BITS * z and half of the margin = x * by[0] + y *
   by[1] + by[2]. Let neither scale be more than R times that of z, R a power of two from 2 to 8: then no term is above R *
   2^24, and the last factor is at most R * 2^-19. For z within 0 to 256, and one more on each side, the float result is
   off by less than 8 R: by R/4 for the exact rounding of the terms and R/16 for rounding halves away from zero, by R for
   each factor, 2 R for by[2], R for the first sum, 1 for the second, 1/2 for the conversion to integer. So if the low
   FRACTION_BITS bits are 16 R, the margin, or more, the bits above them are exactly z. Returns the margin, or 0: the scales
   are out of range. */
static int32_t nnrti_cpu_add_q8_factors(const nnrt_view *args, int32_t flip, bool minus, float *by)
{
    const int32_t *list = (const int32_t *)args[2].data;
    double f[3], base = list[0] + flip + 0.5;
    int32_t most = 2;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t m = list[NNRT_QUANT_FACTORS + 2 * k], e = list[NNRT_QUANT_FACTORS + 2 * k + 1];
        f[k] = (double)m / (double)((int64_t)1 << (31 - e));
    }
    for (int32_t k = 0; k < 2; k++) {
        double factor = f[k] * f[2] * (1 << 20);
        while (factor > most && most <= 8)
            most *= 2;
        factor = minus && k == 1 ? -factor : factor;
        by[k] = (float)(factor * (1 << NNRTI_CPU_FRACTION_BITS));
        base -= factor * args[k].quant[0].zeroPoint;
    }
    by[2] = (float)(base * (1 << NNRTI_CPU_FRACTION_BITS) + 8 * most);
    return most <= 8 ? 16 * most : 0;
}

/* Position of channel c in an interleaved block: interleaving rows of x also permutes the channels, since unpack
   instructions work within 128-bit lanes. Of 64 channels (four rows of bytes, 512 bits) bits 2 and 3 of the number
   change places with bits 4 and 5; of 16 (two rows of int16, 256 bits) bit 2 with bit 3. */
static int32_t nnrti_cpu_interleaved_channel(int32_t c, int32_t mixed)
{
    if (mixed == 64)
        return (c & ~60) | (c & 12) << 2 | (c & 48) >> 2;
    return mixed == 16 ? (c & ~12) | (c & 4) << 1 | (c & 8) >> 1 : c;
}

/* Zero point i of a tensor of them, or the only one; no tensor: 0. */
static int32_t nnrti_cpu_zero_point_at(const nnrt_view *zeros, int32_t i)
{
    const int32_t last = zeros->rank - 1;
    if (zeros->data == NULL)
        return 0;
    return nnrt_load_8(zeros->data, last >= 0 && zeros->dims[last] > 1 ? i * zeros->strides[last] : 0, zeros->dataType);
}

/* The table entry of channel position c, row 0. Rows are `lanes` entries apart, so that a vector of channels has all
   its rows adjacent. */
static int32_t *nnrti_cpu_table_column(int32_t *table, int32_t c, int32_t lanes)
{
    return table + (ptrdiff_t)(c / lanes) * lanes * NNRTI_CPU_REQUANTIZE_ROWS + c % lanes;
}

/* The range first <= i < last of the positions start + i * step, i < k, that are within 0 to L - 1: the taps inside
   x. As nnrt_taps_inside, which returns a struct: with it small int8 networks take 1.05 of the time. */
static void nnrti_cpu_valid_range(int64_t start, int64_t step, int32_t k, int32_t L, int32_t *first, int32_t *last)
{
    int64_t from = start < 0 ? -start : 0, to = start < L ? L - start : 0;
    if (step != 1) { /* branch: a division costs as much as a pixel */
        from = (from + step - 1) / step;
        to = (to + step - 1) / step;
    }
    to = to < k ? to : k;
    *first = (int32_t)(from < to ? from : to);
    *last = (int32_t)to;
}

/* whole / part, rounded up. */
static int64_t nnrti_cpu_div_up(int64_t whole, int64_t part)
{
    return (whole + part - 1) / part;
}

/* Filter taps in a row; taps that are adjacent in x count as one. */
static int32_t nnrti_cpu_row_taps(const nnrti_cpu_gemm *a)
{
    return a->adjacent ? 1 : a->conv.window[1];
}

/* Filter taps of the convolution. */
static int32_t nnrti_cpu_taps(const nnrti_cpu_gemm *a)
{
    return a->conv.window[0] * nnrti_cpu_row_taps(a) * (a->depth.window > 0 ? a->depth.window : 1);
}

/* Cost of a weight per pixel, in multiply-adds, if `rows` pixels share one read of it: a read costs as much as four. */
static double nnrti_cpu_weight_read_cost(int32_t rows)
{
    return rows < 4 ? 4.0 / rows : 1.0;
}

/* The work of a GEMM of packed weights [packed[0], packed[1]], for nnrti_cpu_parallel_for. */
static double nnrti_cpu_gemm_work(const nnrti_cpu_gemm *a, int64_t pixels, const int32_t *packed)
{
    return nnrti_cpu_weight_read_cost(a->rows) * (double)pixels * packed[0] * packed[1];
}

/* Channel blocks of a depthwise convolution or pool: a row of y reads rows of x that the previous row has read; they
   stay in the L1 cache if the rows of a channel block fit. A block has at least four vectors. */
static int32_t nnrti_cpu_channel_blocks(const nnrti_cpu_window *a, const nnrt_view *x, const nnrt_view *y,
                                        int32_t lanes)
{
    const int32_t C = y->dims[3], most = (C + lanes - 1) / lanes / 4;
    const int32_t rows = a->window[0] < x->dims[1] ? a->window[0] : x->dims[1];
    const int64_t cells = (int64_t)rows * x->dims[2] + y->dims[2];
    const int64_t blocks = nnrti_cpu_div_up(cells * C, NNRTI_CPU_L1_FLOATS);
    return blocks < 1 || most < 1 ? 1 : blocks < most ? (int32_t)blocks : most;
}

/* A patch: the input of a rectangle of pixels, with its zero padding. A copy, or x itself if there is no padding.
   Strides to the next row, column and channel, and floats of the copy. */
typedef struct nnrti_cpu_patch {
    ptrdiff_t row, column, channel;
    int32_t rows, columns;
    int64_t floats;
    bool copied, planes; /* planes: channels first */
} nnrti_cpu_patch;

/* The patch of a GEMM with a->lines > 0; false: it would be too large, or the strides do not allow one. */
static bool nnrti_cpu_patch_of(const nnrti_cpu_gemm *a, const nnrt_view *x, int32_t K, nnrti_cpu_patch *patch)
{
    const int64_t rows =
        (int64_t)(a->lines - 1) * a->conv.stride[0] + (int64_t)(a->conv.window[0] - 1) * a->conv.dilation[0] + 1;
    const int64_t columns =
        (int64_t)(a->columns - 1) * a->conv.stride[1] + (int64_t)(a->conv.window[1] - 1) * a->conv.dilation[1] + 1;
    const bool single = a->conv.window[0] == 1 && a->conv.window[1] == 1 && !a->padded; /* nothing is copied */
    if (rows > NNRTI_CPU_PATCH_FLOATS || columns > NNRTI_CPU_PATCH_FLOATS || K > NNRTI_CPU_PATCH_FLOATS ||
        rows * columns > NNRTI_CPU_PATCH_FLOATS || (rows * columns * K > NNRTI_CPU_PATCH_FLOATS && !single))
        return false;
    patch->rows = (int32_t)rows;
    patch->columns = (int32_t)columns;
    patch->floats = single ? 0 : rows * columns * K;
    patch->planes = x->strides[2] == 1 && K > 1;
    patch->copied = a->padded;
    patch->channel = !patch->planes ? 1 : patch->copied ? (ptrdiff_t)(rows * columns) : x->strides[3];
    patch->column = patch->planes ? 1 : K;
    patch->row = !patch->copied ? x->strides[1] : patch->planes ? (ptrdiff_t)columns : (ptrdiff_t)columns * K;
    return (patch->planes || x->strides[2] == K) && /* offsets of terms have 32 bits */
           (rows - 1) * patch->row + (columns - 1) * patch->column + (K - 1) * patch->channel <= INT32_MAX;
}

/* Pixels of a phase; and the work items that they are divided into. */
static int64_t nnrti_cpu_phase_pixels(const nnrti_cpu_phase *p, const nnrt_view *y)
{
    const int32_t slices = p->gemm.depth.to > 0 ? p->gemm.depth.to : 1;
    return (int64_t)y->dims[0] * slices * p->size[0] * p->size[1];
}

static int64_t nnrti_cpu_phase_pieces(const nnrti_cpu_phase *p, const nnrt_view *y)
{
    return nnrti_cpu_div_up(nnrti_cpu_phase_pixels(p, y), p->gemm.rows);
}

/* In >>float16. */
static bool nnrti_cpu_is_type(const nnrt_draft_step *step, uint32_t k, NNRT_DataType type);

/* In >>int8. */
static void nnrti_cpu_requantize_table(nnrti_cpu_requantize *r, const nnrt_view *quant, const nnrt_view *y,
                                       int64_t reach, int32_t C, int32_t padded, int32_t lanes, int32_t mixed,
                                       int32_t *table);

static nnrti_cpu_matmul_q8_room nnrti_cpu_matmul_q8_room_of(const nnrti_cpu_isa_q8 *isa, int32_t K)
{
    const size_t row = ((size_t)K / (size_t)isa->group + 1) * (size_t)(isa->group * isa->bytes);
    const size_t bytes = 6 * row > NNRTI_CPU_MATMUL_Q8_BYTES ? 6 * row : NNRTI_CPU_MATMUL_Q8_BYTES;
    const size_t most = NNRTI_CPU_MATMUL_Q8_BYTES / row / 6 * 6;
    nnrti_cpu_matmul_q8_room room;
    room.rows = (int32_t)(most < 6 ? 6 : most > NNRTI_CPU_GEMM_Q8_PIXELS ? NNRTI_CPU_GEMM_Q8_PIXELS : most);
    room.turned = NNRTI_CPU_GEMM_Q8_PIXELS * (sizeof(int32_t) + 2 * sizeof(void *)) +
                  NNRTI_CPU_MAX_TILE_ROWS_Q8 * sizeof(void *) + bytes + 64; /* sums, pointers and operands of gemm_q8 */
    room.turned = (room.turned + 63) / 64 * 64;
    room.packed = room.turned + (bytes + 63) / 64 * 64;
    room.table = room.packed + (row * (size_t)isa->panel + 63) / 64 * 64;
    room.total = room.table + (size_t)isa->panel * NNRTI_CPU_REQUANTIZE_ROWS * sizeof(int32_t);
    return room;
}

/* The largest absolute value of a sum of K products of elements of x and y, and of a bias [N], whose data may be NULL. */
static int64_t nnrti_cpu_matmul_q8_reach(const nnrt_view *x, const nnrt_view *y, const nnrt_view *bias, int32_t K)
{
    const int64_t zeroX = x->quant[0].zeroPoint + nnrti_cpu_flip(x), zeroY = y->quant[0].zeroPoint + nnrti_cpu_flip(y);
    int64_t most = 0;
    for (int32_t i = 0; bias->data != NULL && i < bias->dims[0]; i++) {
        const int64_t b = ((const int32_t *)bias->data)[i * bias->strides[0]];
        most = b > most ? b : -b > most ? -b : most;
    }
    return K * (zeroX > 127 ? zeroX : 255 - zeroX) * (zeroY > 127 ? zeroY : 255 - zeroY) + most;
}

/* Transpose a matrix of 32-bit elements, or of bytes; in >>layout. */
static void nnrti_cpu_transpose(const uint32_t *from, ptrdiff_t step, uint32_t *to, ptrdiff_t next, int32_t rows,
                                int32_t columns);
static void nnrti_cpu_transpose_bytes(const uint8_t *from, ptrdiff_t step, uint8_t *to, ptrdiff_t next, int32_t rows,
                                      int32_t columns);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>isa */

/* nnrt_cpu_kernels.h is included once per instruction set, with NNRTI_CPU_ISA defined as its name, and compiled for that
   ISA by target attributes, so that one object file runs on every machine.
   NNRTI_CPU(name) appends the ISA's name to an identifier. The table nnrti_cpu_isas lists the ISAs of this build,
   best first; nnrti_cpu_has_isa tests at run time which of them the machine supports (dispatch). Invariant: code
   outside the kernels uses no instruction beyond the compiler's baseline. Not by a file per ISA with compiler flags
   of its own: that needs a build system, and a header has none. Not by target_clones: lanes, register tiles and
   packed layouts differ per ISA. */

#define NNRTI_CPU_JOIN(a, b) a##b
#define NNRTI_CPU_JOIN_2(a, b) NNRTI_CPU_JOIN(a, b)
#define NNRTI_CPU(name) NNRTI_CPU_JOIN_2(nnrti_cpu_##name##_, NNRTI_CPU_ISA)
#define NNRTI_CPU_TEXT(a) #a
#define NNRTI_CPU_TEXT_2(a) NNRTI_CPU_TEXT(a)
#if defined(__clang__)
#define NNRTI_CPU_UNROLL _Pragma("clang loop unroll(full)")
#else
#define NNRTI_CPU_UNROLL _Pragma("GCC unroll 32")
#endif
#if defined(__GNUC__)
#define NNRTI_CPU_INLINE static inline __attribute__((always_inline))
#define NNRTI_CPU_NOINLINE __attribute__((noinline))
/* Copies less than 32 bytes. Not inlined: gcc would otherwise emit an unrolled memcpy at each call. */
NNRTI_CPU_NOINLINE static void nnrti_cpu_copy_small(void *to, const void *from, size_t bytes)
{
    uint8_t *t = (uint8_t *)to;
    const uint8_t *f = (const uint8_t *)from;
    if ((bytes & 16) != 0) {
        memcpy(t, f, 16);
        t += 16;
        f += 16;
    }
    if ((bytes & 8) != 0) {
        memcpy(t, f, 8);
        t += 8;
        f += 8;
    }
    if ((bytes & 4) != 0) {
        memcpy(t, f, 4);
        t += 4;
        f += 4;
    }
    if ((bytes & 2) != 0) {
        memcpy(t, f, 2);
        t += 2;
        f += 2;
    }
    if ((bytes & 1) != 0)
        *t = *f;
}
#endif

/* A build may compile the kernels in an object of their own, in parallel with the rest: NNRTI_CPU_OBJECT is 1 in the
   file without kernels and 2 in the file that has only them (tools/kernels.c). NNRTI_CPU_PORTABLE=0 leaves out the
   portable ISA, for a machine that has a better one: the default if the compiler's target has one. */
#ifndef NNRTI_CPU_OBJECT
#define NNRTI_CPU_OBJECT 0
#endif
#ifndef NNRTI_CPU_PORTABLE
#if NNRT_CPU_AVX512 && NNRTI_CPU_TARGET_AVX512
#define NNRTI_CPU_PORTABLE 0
#elif NNRT_CPU_AVX2 && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define NNRTI_CPU_PORTABLE 0
#elif defined(__aarch64__) /* always has NEON */
#define NNRTI_CPU_PORTABLE 0
#else
#define NNRTI_CPU_PORTABLE 1
#endif
#endif
#define NNRTI_CPU_ISAS 5 /* at most, and the NULL at the end of the list */

#if NNRTI_CPU_OBJECT == 0
#define NNRTI_CPU_SHARED static
#else
#define NNRTI_CPU_SHARED
extern const nnrti_cpu_isa *const nnrti_cpu_isas[NNRTI_CPU_ISAS];
extern bool nnrti_cpu_has_isa(const nnrti_cpu_isa *isa);
#endif
#if defined(__wasm_simd128__)
NNRTI_CPU_SHARED int32_t nnrti_cpu_dot_sign(void);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>selecting */

/* Kernels that move or select single elements of any type, of which no instruction set has a better form: sorting by
   keys, the best elements of a line (TOPK), NON_ZERO, UNIQUE, and GATHER of single elements. They have the arguments and
   attributes of the reference kernels and read the dimensions of a run from their views, so steps with dynamic shapes
   have them, too (nnrti_cpu_exchange). */

/* Sort keys are the reference device's: unsigned integers in the order of the elements, with -0 equal to 0 and NaN
   below all, also if `flip`, ~0, reverses the order. */
static inline uint64_t nnrti_cpu_float_key(uint64_t bits, uint64_t infinity, uint64_t flip)
{
    const uint64_t top = (uint64_t)1 << 63, number = 0 - (uint64_t)((bits & ~top) <= infinity); /* without branches */
    return (((bits ^ ((0 - (bits >> 63)) | top)) + (bits == top)) ^ flip) & number;
}

/* *keys = the sort keys of n elements of x from `at` on, `step` apart. */
#define NNRTI_CPU_KEYS(X)                                                                                              \
    X(BOOL, uint8_t, v ^ flip)                                                                                         \
    X(INT8, int8_t, (uint64_t)(int64_t)v ^ (uint64_t)1 << 63 ^ flip)                                                   \
    X(INT16, int16_t, (uint64_t)(int64_t)v ^ (uint64_t)1 << 63 ^ flip)                                                 \
    X(INT32, int32_t, (uint64_t)(int64_t)v ^ (uint64_t)1 << 63 ^ flip)                                                 \
    X(INT64, int64_t, (uint64_t)v ^ (uint64_t)1 << 63 ^ flip)                                                          \
    X(UINT8, uint8_t, v ^ flip)                                                                                        \
    X(UINT16, uint16_t, v ^ flip)                                                                                      \
    X(UINT32, uint32_t, v ^ flip)                                                                                      \
    X(UINT64, uint64_t, v ^ flip)                                                                                      \
    X(FLOAT16, uint16_t, nnrti_cpu_float_key((uint64_t)v << 48, (uint64_t)0x7c << 56, flip))                           \
    X(FLOAT32, uint32_t, nnrti_cpu_float_key((uint64_t)v << 32, (uint64_t)0xff << 55, flip))                           \
    X(FLOAT64, uint64_t, nnrti_cpu_float_key(v, (uint64_t)0x7ff << 52, flip))
static void nnrti_cpu_sort_keys(const nnrt_view *x, ptrdiff_t at, ptrdiff_t step, int32_t n, uint64_t flip,
                                uint64_t *keys)
{
    switch (x->dataType) {
#define NNRTI_CPU_KEYS_OF(name, T, key)                                                                                \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t i = 0; i < n; i++) {                                                                              \
            T v;                                                                                                       \
            memcpy(&v, (const T *)x->data + (at + i * step), sizeof(v));                                               \
            keys[i] = key;                                                                                             \
        }                                                                                                              \
        return;
        NNRTI_CPU_KEYS(NNRTI_CPU_KEYS_OF)
#undef NNRTI_CPU_KEYS_OF
    default: return;
    }
}

/* Most elements that are sorted here: their scratch, up to 28 bytes each, fits 32 bits. */
#define NNRTI_CPU_MAX_SORTED (1 << 26)

/* Keys and the indices of their elements, in two arrays. */
typedef struct nnrti_cpu_keyed {
    uint64_t *keys;
    int32_t *places;
} nnrti_cpu_keyed;

/* Merges n keys from a and m from b, both in descending order, of equal ones first those from a; stops after `most`. */
static void nnrti_cpu_merge_keys(nnrti_cpu_keyed a, int32_t n, nnrti_cpu_keyed b, int32_t m, nnrti_cpu_keyed to,
                                 int32_t most)
{
    int32_t i = 0, j = 0;
    most = most < n + m ? most : n + m;
    while (i < n && j < m && i + j < most) { /* without branches, which nothing could predict */
        const uint64_t p = a.keys[i], q = b.keys[j];
        const int32_t first = p >= q, mask = -first, at = i + j;
        to.keys[at] = q ^ ((p ^ q) & (uint64_t)(int64_t)mask);
        to.places[at] = (a.places[i] & mask) | (b.places[j] & ~mask);
        i += first;
        j += 1 - first;
    }
    if (i + j < most) {
        const bool first = i < n;
        const size_t left = (size_t)(most - i - j);
        memcpy(to.keys + i + j, first ? a.keys + i : b.keys + j, left * sizeof(*to.keys));
        memcpy(to.places + i + j, first ? a.places + i : b.places + j, left * sizeof(*to.places));
    }
}

static nnrti_cpu_keyed nnrti_cpu_keyed_from(nnrti_cpu_keyed list, int32_t first)
{
    list.keys += first;
    list.places += first;
    return list;
}

/* Inserts a key into n keys in descending order, behind equal ones. */
static inline void nnrti_cpu_insert_key(nnrti_cpu_keyed list, int32_t n, uint64_t key, int32_t place)
{
    for (; n > 0 && list.keys[n - 1] < key; n--) {
        list.keys[n] = list.keys[n - 1];
        list.places[n] = list.places[n - 1];
    }
    list.keys[n] = key;
    list.places[n] = place;
}

/* Sorts n keys in descending order, equal ones as they were: merge sort, n log n steps for any input. spare: room for as
   many. */
#define NNRTI_CPU_SORT_RUN 8 /* keys that are sorted by insertion */
static void nnrti_cpu_sort(nnrti_cpu_keyed list, nnrti_cpu_keyed spare, int32_t n)
{
    nnrti_cpu_keyed from = list, to = spare, swap;
    for (int32_t i = 0; i < n; i++)
        nnrti_cpu_insert_key(nnrti_cpu_keyed_from(list, i / NNRTI_CPU_SORT_RUN * NNRTI_CPU_SORT_RUN),
                             i % NNRTI_CPU_SORT_RUN, list.keys[i], list.places[i]);
    for (int64_t run = NNRTI_CPU_SORT_RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            const int32_t first = (int32_t)i, left = n - first, half = left < run ? left : (int32_t)run;
            nnrti_cpu_merge_keys(nnrti_cpu_keyed_from(from, first), half, nnrti_cpu_keyed_from(from, first + half),
                                 left - half < run ? left - half : (int32_t)run, nnrti_cpu_keyed_from(to, first), left);
        }
        swap = from;
        from = to;
        to = swap;
    }
    if (from.keys != list.keys && n > 0) {
        memcpy(list.keys, from.keys, (size_t)n * sizeof(*list.keys));
        memcpy(list.places, from.places, (size_t)n * sizeof(*list.places));
    }
}

/* The `count` largest of the added keys, in descending order, of equal ones the first. Up to
   NNRTI_CPU_FEW_BEST are kept in order; more by runs: `added` new keys behind the `have` best ones are sorted and merged
   with these when there is no more room. A key is worth adding if the list is not full, or if it exceeds `least`. */
#define NNRTI_CPU_FEW_BEST 16
#define NNRTI_CPU_BEST_LINES 16 /* adjacent lines that are read at once, if their elements are not dense */
typedef struct nnrti_cpu_best {
    nnrti_cpu_keyed list, spare;
    int32_t count, have, added, room;
    uint64_t least;
    bool full;
} nnrti_cpu_best;

/* Keys between two merges. */
static int32_t nnrti_cpu_best_room(int32_t count)
{
    return count <= NNRTI_CPU_FEW_BEST ? 1 : count < 32 ? 32 : count < 4096 ? count : 4096;
}

/* Bytes of scratch of TOPK, which grow with count. */
static size_t nnrti_cpu_best_bytes(int32_t count)
{
    const size_t few = (size_t)(count < NNRTI_CPU_FEW_BEST ? count : NNRTI_CPU_FEW_BEST) * NNRTI_CPU_BEST_LINES;
    const size_t many = count > NNRTI_CPU_FEW_BEST ? 2 * ((size_t)count + (size_t)nnrti_cpu_best_room(count)) : 0;
    return (few > many ? few : many) * (sizeof(uint64_t) + sizeof(int32_t));
}

/* List number `line` of `lines` in scratch. */
static void nnrti_cpu_best_begin(nnrti_cpu_best *best, int32_t count, int32_t line, int32_t lines, void *scratch)
{
    const size_t room = (size_t)nnrti_cpu_best_room(count);
    const size_t each = count <= NNRTI_CPU_FEW_BEST ? (size_t)count : (size_t)count + room;
    const size_t all = each * (count <= NNRTI_CPU_FEW_BEST ? (size_t)lines : 2);
    memset(best, 0, sizeof(*best));
    best->count = count;
    best->room = (int32_t)room;
    best->list.keys = (uint64_t *)scratch + (size_t)line * each;
    best->list.places = (int32_t *)(void *)((uint64_t *)scratch + all) + (size_t)line * each;
    best->spare = nnrti_cpu_keyed_from(best->list, (int32_t)each);
}

static void nnrti_cpu_best_settle(nnrti_cpu_best *best)
{
    const nnrti_cpu_keyed added = nnrti_cpu_keyed_from(best->list, best->have), list = best->list;
    const int32_t all = best->have + best->added;
    nnrti_cpu_sort(added, nnrti_cpu_keyed_from(best->spare, best->have), best->added);
    nnrti_cpu_merge_keys(list, best->have, added, best->added, best->spare, best->count);
    best->list = best->spare;
    best->spare = list;
    best->have = all < best->count ? all : best->count;
    best->added = 0;
    best->full = best->have == best->count;
    best->least = best->full ? best->list.keys[best->have - 1] : 0;
}

static inline void nnrti_cpu_best_add(nnrti_cpu_best *best, uint64_t key, int32_t place)
{
    if (best->full && key <= best->least)
        return;
    if (best->count <= NNRTI_CPU_FEW_BEST) {
        best->have -= best->full ? 1 : 0;
        nnrti_cpu_insert_key(best->list, best->have++, key, place);
        best->full = best->have == best->count;
        best->least = best->list.keys[best->have - 1];
        return;
    }
    best->list.keys[best->have + best->added] = key;
    best->list.places[best->have + best->added] = place;
    if (++best->added == best->room)
        nnrti_cpu_best_settle(best);
}

/* Adds elements `from` to L - 1 of `lines` lines, of which the first begins at `at` and the others follow `next` apart. */
static void nnrti_cpu_best_scan(nnrti_cpu_best *best, const nnrt_view *x, ptrdiff_t at, ptrdiff_t step, ptrdiff_t next,
                                int32_t lines, int32_t L, uint64_t flip)
{
    uint64_t keys[128];
    if (lines == 1)
        for (int32_t k = 0; k < L; k += 128) {
            const int32_t some = L - k < 128 ? L - k : 128;
            nnrti_cpu_sort_keys(x, at + k * step, step, some, flip, keys);
            for (int32_t t = 0; t < some; t++)
                if (!best->full || keys[t] > best->least)
                    nnrti_cpu_best_add(best, keys[t], k + t);
        }
    else
        for (int32_t k = 0; k < L; k++) {
            nnrti_cpu_sort_keys(x, at + k * step, next, lines, flip, keys);
            for (int32_t t = 0; t < lines; t++)
                if (!best[t].full || keys[t] > best[t].least)
                    nnrti_cpu_best_add(&best[t], keys[t], k);
        }
}

/* Copies an element. */
static inline void nnrti_cpu_copy_element(void *to, ptrdiff_t i, const void *from, ptrdiff_t k, size_t width)
{
    switch (width) {
    case 1: ((uint8_t *)to)[i] = ((const uint8_t *)from)[k]; break;
    case 2: ((uint16_t *)to)[i] = ((const uint16_t *)from)[k]; break;
    case 4: ((uint32_t *)to)[i] = ((const uint32_t *)from)[k]; break;
    default: ((uint64_t *)to)[i] = ((const uint64_t *)from)[k];
    }
}

/* *found = the columns of the nonzero ones of `count` elements, at most 256, from `at` on; returns their number. mask: the
   bits that count, all but the sign of floating-point numbers. */
static int32_t nnrti_cpu_find_nonzero(const nnrt_view *x, ptrdiff_t at, ptrdiff_t step, int32_t first, int32_t count,
                                      int32_t *found)
{
    int32_t n = 0;
#define NNRTI_CPU_FIND(T, bits)                                                                                        \
    {                                                                                                                  \
        const T mask = (T)(bits);                                                                                      \
        const T *p = (const T *)x->data + at;                                                                          \
        for (int32_t i = 0; i < count; i++, p += step) {                                                               \
            found[n] = first + i;                                                                                      \
            n += (T)(*p & mask) != 0 ? 1 : 0;                                                                          \
        }                                                                                                              \
    }
    switch (nnrt_type_size(x->dataType)) {
    case 1: NNRTI_CPU_FIND(uint8_t, 0xff) break;
    case 2: NNRTI_CPU_FIND(uint16_t, x->dataType == NNRT_DATA_TYPE_FLOAT16 ? 0x7fff : 0xffff) break;
    case 4: NNRTI_CPU_FIND(uint32_t, x->dataType == NNRT_DATA_TYPE_FLOAT32 ? 0x7fffffffu : 0xffffffffu) break;
    default:
        NNRTI_CPU_FIND(uint64_t, x->dataType == NNRT_DATA_TYPE_FLOAT64 ? ~(uint64_t)0 >> 1 : ~(uint64_t)0)
    }
#undef NNRTI_CPU_FIND
    return n;
}

/* Row `row` of y, columns n to n + count - 1 = found, or `all` if found is NULL. */
static void nnrti_cpu_store_places(const nnrt_view *y, ptrdiff_t at, const int32_t *found, int32_t all, int32_t count)
{
    if (y->dataType == NNRT_DATA_TYPE_INT64)
        for (int32_t t = 0; t < count; t++)
            ((int64_t *)y->data)[at + t] = found != NULL ? found[t] : all;
    else
        for (int32_t t = 0; t < count; t++)
            ((int32_t *)y->data)[at + t] = found != NULL ? found[t] : all;
}

/* NON_ZERO: counts, then writes; the rows of y are as long as the count says. */
static NNRT_ReturnCode nnrti_cpu_non_zero(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0];
    nnrt_view *const y = &args[call->nIn + call->nDerived];
    const int32_t last = x->rank - 1;
    int32_t found[256];
    ptrdiff_t n = 0;
    if (x->rank == 0 || nnrt_view_empty(x))
        return nnrt_non_zero((const NNRT_NonZero *)attr, x, y);
    for (int32_t pass = 0; pass < 2; pass++) {
        int32_t place[NNRT_MAX_RANK] = {0}, axis = last;
        y->dims[1] = (int32_t)n;
        y->strides[0] = n;
        y->strides[1] = 1;
        n = 0;
        while (axis >= 0) {
            ptrdiff_t at = 0;
            for (int32_t i = 0; i < last; i++)
                at += place[i] * x->strides[i];
            for (int32_t k = 0; k < x->dims[last]; k += 256) {
                const int32_t some = x->dims[last] - k < 256 ? x->dims[last] - k : 256;
                const int32_t m =
                    nnrti_cpu_find_nonzero(x, at + k * x->strides[last], x->strides[last], k, some, found);
                for (int32_t i = 0; pass == 1 && i <= last && m > 0; i++)
                    nnrti_cpu_store_places(y, i * y->strides[0] + n, i == last ? found : NULL, place[i], m);
                n += m;
            }
            for (axis = last - 1; axis >= 0 && ++place[axis] == x->dims[axis]; axis--)
                place[axis] = 0;
        }
    }
    return NNRT_SUCCESS;
}

/* Scratch of UNIQUE of L slices: two lists of keys, and the group of each slice. */
static size_t nnrti_cpu_unique_bytes(int32_t L)
{
    return (size_t)L * (2 * sizeof(uint64_t) + 3 * sizeof(int32_t));
}

/* Sets the size of an axis of a dense result. */
static void nnrti_cpu_set_size(nnrt_view *y, int32_t axis, int32_t size)
{
    ptrdiff_t step = 1;
    y->dims[axis] = size;
    for (int32_t i = y->rank - 1; i >= 0; step *= y->dims[i], i--)
        y->strides[i] = step;
}

/* Sorts the slices of x along an axis in ascending order, element by element: list.places = their order; first[i] = 1 where
   another slice begins in this order. The slices that are equal so far are sorted by the next element. */
static void nnrti_cpu_sort_slices(const nnrt_view *x, int32_t axis, nnrti_cpu_keyed list, nnrti_cpu_keyed spare,
                                  int32_t *first)
{
    const int32_t L = x->dims[axis];
    nnrt_view slice = *x;
    nnrt_walk w;
    bool more, same = true;
    slice.dims[axis] = 1;
    for (int32_t i = 0; i < L; i++) {
        list.places[i] = i;
        first[i] = i == 0;
    }
    for (more = nnrt_walk_first(&w, &slice, NULL, NULL); more && same; more = nnrt_walk_next(&w))
        for (int32_t e = 0; e < w.count && same; e++) {
            const ptrdiff_t at = w.at[0] + e * w.row[0];
            same = false;
            for (int32_t i = 0, n; i < L; i += n) {
                for (n = 1; i + n < L && first[i + n] == 0;)
                    n++;
                if (n == 1)
                    continue;
                for (int32_t t = i; t < i + n; t++)
                    nnrti_cpu_sort_keys(x, at + list.places[t] * x->strides[axis], 0, 1, ~(uint64_t)0, &list.keys[t]);
                nnrti_cpu_sort(nnrti_cpu_keyed_from(list, i), spare, n);
                for (int32_t t = i + 1; t < i + n; t++) {
                    first[t] = list.keys[t] != list.keys[t - 1];
                    same = same || first[t] == 0;
                }
            }
        }
}

/* UNIQUE by merge sort. */
static NNRT_ReturnCode nnrti_cpu_unique(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_Unique *const a = (const NNRT_Unique *)attr;
    const nnrt_view *const x = &args[0];
    nnrt_view *const out = args + call->nIn + call->nDerived, from = *x, to;
    const int32_t axis = (int32_t)a->axis.data[0], L = x->dims[axis];
    const size_t width = nnrt_type_size(x->dataType);
    nnrti_cpu_keyed list, spare;
    int32_t *group, *count, n = 0, met = 0;
    if (L == 0 || call->scratch == NULL || call->scratchBytes < nnrti_cpu_unique_bytes(L))
        return nnrt_unique(a, x, out[0].dataType != NNRT_DATA_TYPE_UNKNOWN ? &out[0] : NULL,
                           call->nOut > 1 && out[1].dataType != NNRT_DATA_TYPE_UNKNOWN ? &out[1] : NULL,
                           call->nOut > 2 && out[2].dataType != NNRT_DATA_TYPE_UNKNOWN ? &out[2] : NULL,
                           call->nOut > 3 && out[3].dataType != NNRT_DATA_TYPE_UNKNOWN ? &out[3] : NULL, call);
    list.keys = (uint64_t *)call->scratch;
    spare.keys = list.keys + L;
    list.places = (int32_t *)(void *)(spare.keys + L);
    spare.places = list.places + L;
    group = spare.places + L;
    nnrti_cpu_sort_slices(x, axis, list, spare, group);
    count = spare.places; /* first the group of each slice */
    for (int32_t i = 0; i < L; i++) {
        n += group[i];
        count[list.places[i]] = n - 1;
    }
    memcpy(group, count, (size_t)L * sizeof(*group));
    for (int32_t i = 0; i < n && !a->sorted; i++)
        count[i] = -1; /* the new number of each group */
    for (int32_t i = 0; i < L && !a->sorted; i++) {
        if (count[group[i]] < 0)
            count[group[i]] = met++;
        group[i] = count[group[i]];
    }
    for (uint32_t k = 0; k < call->nOut; k++)
        if (k != 2 && out[k].dataType != NNRT_DATA_TYPE_UNKNOWN)
            nnrti_cpu_set_size(&out[k], k == 0 ? axis : 0, n);
    to = out[0];
    from.dims[axis] = to.dims[axis] = 1;
    memset(count, 0, (size_t)n * sizeof(*count));
    for (int32_t i = 0; i < L; i++) {
        const bool first = count[group[i]]++ == 0;
        nnrt_walk w;
        if (first && x->rank == 1 && to.dataType != NNRT_DATA_TYPE_UNKNOWN)
            nnrti_cpu_copy_element(to.data, group[i] * to.strides[0], x->data, i * x->strides[0], width);
        for (bool more = first && x->rank > 1 && to.dataType != NNRT_DATA_TYPE_UNKNOWN && nnrt_walk_first(&w, &to, &from, NULL); more;
             more = nnrt_walk_next(&w))
            for (int32_t t = 0; t < w.count; t++)
                nnrti_cpu_copy_element(to.data, group[i] * to.strides[axis] + w.at[0] + t * w.row[0], x->data,
                                       i * x->strides[axis] + w.at[1] + t * w.row[1], width);
        if (first && call->nOut > 1 && out[1].dataType != NNRT_DATA_TYPE_UNKNOWN)
            nnrti_cpu_store_index(&out[1], group[i], i);
        if (call->nOut > 2 && out[2].dataType != NNRT_DATA_TYPE_UNKNOWN)
            nnrti_cpu_store_index(&out[2], i * out[2].strides[0], group[i]);
    }
    for (int32_t i = 0; i < n && call->nOut > 3 && out[3].dataType != NNRT_DATA_TYPE_UNKNOWN; i++)
        nnrti_cpu_store_index(&out[3], i, count[i]);
    return NNRT_SUCCESS;
}

/* Elements of y and indices that are gathered, from lines of L elements `step` apart. */
typedef struct nnrti_cpu_gather_row {
    const void *x, *indices;
    void *y;
    ptrdiff_t stepX, stepI, stepY, step; /* from an index to the next: of the lines, of indices, of y */
    int32_t count, L;
} nnrti_cpu_gather_row;

#define NNRTI_CPU_GATHER(T, I)                                                                                         \
    for (int32_t i = 0; i < r->count; i++) {                                                                           \
        int64_t at = ((const I *)r->indices)[i * r->stepI];                                                            \
        at += at < 0 ? r->L : 0;                                                                                       \
        if ((uint64_t)at >= (uint64_t)r->L)                                                                            \
            return false;                                                                                              \
        ((T *)r->y)[i * r->stepY] = ((const T *)r->x)[i * r->stepX + (ptrdiff_t)at * r->step];                         \
    }                                                                                                                  \
    return true;
#define NNRTI_CPU_GATHER_ROW(T)                                                                                        \
    static bool nnrti_cpu_gather_##T(const nnrti_cpu_gather_row *r, bool wide)                                         \
    {                                                                                                                  \
        if (wide) {                                                                                                    \
            NNRTI_CPU_GATHER(T, int64_t)                                                                               \
        }                                                                                                              \
        NNRTI_CPU_GATHER(T, int32_t)                                                                                   \
    }
NNRTI_CPU_GATHER_ROW(uint8_t)
NNRTI_CPU_GATHER_ROW(uint16_t)
NNRTI_CPU_GATHER_ROW(uint32_t)
NNRTI_CPU_GATHER_ROW(uint64_t)
#undef NNRTI_CPU_GATHER_ROW
#undef NNRTI_CPU_GATHER

/* y[p] = the element number indices[p] of the line of x at p, an axis of L elements `step` apart, for each place p of three
   views of the shape of y. false: an index is outside. */
static bool nnrti_cpu_gather_lines(const nnrt_view *y, const nnrt_view *x, const nnrt_view *indices, int32_t L,
                                   ptrdiff_t step)
{
    const size_t width = nnrt_type_size(x->dataType);
    const size_t size = nnrt_type_size(indices->dataType);
    nnrt_walk w;
    nnrti_cpu_gather_row r;
    bool inside = true;
    r.L = L;
    r.step = step;
    for (bool more = nnrt_walk_first(&w, y, x, indices); more && inside; more = nnrt_walk_next(&w)) {
        r.x = (const uint8_t *)x->data + w.at[1] * (ptrdiff_t)width;
        r.y = (uint8_t *)y->data + w.at[0] * (ptrdiff_t)width;
        r.indices = (const uint8_t *)indices->data + w.at[2] * (ptrdiff_t)size;
        r.stepY = w.row[0];
        r.stepX = w.row[1];
        r.stepI = w.row[2];
        r.count = w.count;
        inside = width == 1   ? nnrti_cpu_gather_uint8_t(&r, size == 8)
                 : width == 2 ? nnrti_cpu_gather_uint16_t(&r, size == 8)
                 : width == 4 ? nnrti_cpu_gather_uint32_t(&r, size == 8)
                              : nnrti_cpu_gather_uint64_t(&r, size == 8);
    }
    return inside;
}

/* GATHER_ELEMENTS; the reference kernel reports an index outside. */
static NNRT_ReturnCode nnrti_cpu_gather_elements(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const int32_t axis = (int32_t)((const NNRT_GatherElements *)attr)->axis;
    const nnrt_view *const x = &args[0], *const indices = &args[1];
    nnrt_view *const y = &args[call->nIn + call->nDerived], lines = *x;
    for (int32_t i = 0; i < x->rank; i++)
        lines.dims[i] = y->dims[i];
    lines.strides[axis] = 0;
    if (nnrti_cpu_gather_lines(y, &lines, indices, x->dims[axis], x->strides[axis]))
        return NNRT_SUCCESS;
    return nnrt_gather_elements((const NNRT_GatherElements *)attr, x, indices, y, call);
}

/* GATHER of dense tensors: copies rows of `bytes`, number indices[i] of the L rows of each of `outer` blocks of x. */
typedef struct nnrti_cpu_gather_job {
    const uint8_t *x;
    uint8_t *y;
    const nnrt_view *indices;
    size_t bytes;
    int32_t L, count, slice; /* count: indices; slice: of a work item */
    int64_t rows;            /* of y */
} nnrti_cpu_gather_job;

static void nnrti_cpu_gather_slice(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_gather_job *const j = (const nnrti_cpu_gather_job *)arg;
    const int64_t first = (int64_t)i * j->slice, end = first + j->slice < j->rows ? first + j->slice : j->rows;
    int64_t outer = first / j->count;
    int32_t k = (int32_t)(first - outer * j->count);
    (void)worker;
    for (int64_t row = first; row < end; row++) {
        int64_t at = nnrt_load_index(j->indices, k);
        at += at < 0 ? j->L : 0;
        memcpy(j->y + (size_t)row * j->bytes, j->x + (size_t)(outer * j->L + at) * j->bytes, j->bytes);
        if (++k == j->count) {
            k = 0;
            outer++;
        }
    }
}

/* Whether all tensors are dense and all indices inside; then gathers. */
static bool nnrti_cpu_gather_rows(const nnrt_view *x, const nnrt_view *indices, int32_t axis, nnrt_view *y,
                                  nnrt_call *call)
{
    nnrti_cpu_gather_job j;
    size_t count = 0;
    if (!nnrt_view_dense(x) || !nnrt_view_dense(indices) || !nnrt_view_dense(y) || nnrt_view_empty(y) ||
        !nnrt_dims_count(indices->dims, indices->rank, &count) || count > INT32_MAX)
        return false;
    j.x = (const uint8_t *)x->data;
    j.y = (uint8_t *)y->data;
    j.indices = indices;
    j.bytes = nnrt_type_size(x->dataType);
    j.L = x->dims[axis];
    j.count = (int32_t)count;
    j.rows = j.count;
    for (int32_t i = 0; i < x->rank; i++) {
        j.rows *= i < axis ? x->dims[i] : 1;
        j.bytes *= i > axis ? (size_t)x->dims[i] : 1;
    }
    for (int32_t i = 0; i < j.count; i++) {
        const int64_t at = nnrt_load_index(indices, i);
        if (at < -(int64_t)j.L || at >= j.L)
            return false;
    }
    j.slice = j.bytes < 16384 ? (int32_t)(16384 / j.bytes) : 1;
    nnrti_cpu_parallel_for(call, 4.0 * (double)j.rows * (double)j.bytes, (uint32_t)((j.rows + j.slice - 1) / j.slice),
                           nnrti_cpu_gather_slice, &j);
    return true;
}

/* GATHER along the last axis of x: GATHER_ELEMENTS by the same indices for all lines. Other axes move rows. */
static NNRT_ReturnCode nnrti_cpu_gather(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0], *const indices = &args[1];
    const int32_t axis = ((const int32_t *)args[call->nIn].data)[0];
    nnrt_view *const y = &args[call->nIn + call->nDerived];
    nnrt_view lines = *y, places = *y;
    if (axis < x->rank - 1 && nnrti_cpu_gather_rows(x, indices, axis, y, call))
        return NNRT_SUCCESS;
    if (axis == x->rank - 1) {
        lines.dataType = x->dataType;
        lines.data = x->data;
        places.dataType = indices->dataType;
        places.data = indices->data;
        for (int32_t i = 0; i < y->rank; i++) {
            lines.strides[i] = i < axis ? x->strides[i] : 0;
            places.strides[i] = i < axis ? 0 : indices->strides[i - axis];
        }
        if (!nnrt_view_empty(y) && nnrti_cpu_gather_lines(y, &lines, &places, x->dims[axis], x->strides[axis]))
            return NNRT_SUCCESS;
    }
    return nnrt_gather((const NNRT_Gather *)attr, x, indices, &args[call->nIn], y, call);
}

/* GATHER_ND of single elements. */
static NNRT_ReturnCode nnrti_cpu_gather_nd(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0], *const indices = &args[1];
    nnrt_view *const y = &args[call->nIn + call->nDerived];
    const int32_t last = indices->rank - 1, k = indices->dims[last];
    const size_t width = nnrt_type_size(x->dataType);
    nnrt_view rows = *indices;
    bool inside = k == x->rank && !nnrt_view_empty(y);
    nnrt_walk w;
    rows.rank = last;
    for (bool more = inside && nnrt_walk_first(&w, y, &rows, NULL); more && inside; more = nnrt_walk_next(&w))
        for (int32_t i = 0; i < w.count && inside; i++) {
            ptrdiff_t at = 0;
            for (int32_t axis = 0; axis < k; axis++) {
                int64_t index = nnrt_load_index(indices, w.at[1] + i * w.row[1] + axis * indices->strides[last]);
                index += index < 0 ? x->dims[axis] : 0;
                inside = inside && (uint64_t)index < (uint64_t)x->dims[axis];
                at += inside ? (ptrdiff_t)index * x->strides[axis] : 0;
            }
            if (inside)
                nnrti_cpu_copy_element(y->data, w.at[0] + i * w.row[0], x->data, at, width);
        }
    return inside ? NNRT_SUCCESS : nnrt_gather_nd((const NNRT_GatherNd *)attr, x, indices, y, call);
}

/* 8-bit elementwise operators by tables (>>tables): z = table[256 * y + x], stored bytes; or, with one tensor, z = y[x], where y
   is a table that depends on the index along one axis. Arguments: x, y, the table, z; or x, the tables, z. */
typedef struct nnrti_cpu_tables_job {
    nnrt_view x, y, z; /* y: bytes, or 256 of them along the axis */
    const uint8_t *table; /* NULL: y is the tables */
    int32_t axis, slice;  /* indices of that axis in each work item */
} nnrti_cpu_tables_job;

static void nnrti_cpu_tables_row(const uint8_t *x, ptrdiff_t stepX, const uint8_t *table, uint8_t *z, ptrdiff_t stepZ,
                                 int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        z[i * stepZ] = table[x[i * stepX]];
}

/* Work item: some indices of one axis. */
static void nnrti_cpu_tables_slice(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_tables_job *const j = (const nnrti_cpu_tables_job *)arg;
    nnrt_view part[3] = {j->z, j->x, j->y};
    nnrt_walk w;
    (void)worker;
    for (int32_t k = 0; k < 3 && j->z.rank > 0; k++) {
        const int32_t first = (int32_t)i * j->slice, left = j->z.dims[j->axis] - first;
        if (k > 0 && part[k].dims[j->axis] == 1)
            continue;
        part[k].dims[j->axis] = left < j->slice ? left : j->slice;
        part[k].data = (uint8_t *)part[k].data + first * part[k].strides[j->axis];
    }
    for (bool more = nnrt_walk_first(&w, &part[0], &part[1], &part[2]); more; more = nnrt_walk_next(&w)) {
        const uint8_t *const x = (const uint8_t *)part[1].data + w.at[1], *const y = (const uint8_t *)part[2].data + w.at[2];
        uint8_t *const z = (uint8_t *)part[0].data + w.at[0];
        if (w.row[2] == 0)
            nnrti_cpu_tables_row(x, w.row[1], j->table != NULL ? j->table + 256 * *y : y, z, w.row[0], w.count);
        else if (j->table == NULL)
            for (int32_t k = 0; k < w.count; k++)
                z[k * w.row[0]] = y[k * w.row[2] + x[k * w.row[1]]];
        else
            for (int32_t k = 0; k < w.count; k++)
                z[k * w.row[0]] = j->table[256 * y[k * w.row[2]] + x[k * w.row[1]]];
    }
}

static NNRT_ReturnCode nnrti_cpu_tables_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const bool two = call->nIn > 1;
    nnrti_cpu_tables_job j;
    int32_t size;
    size_t count = 0;
    (void)attr;
    j.x = args[0];
    j.y = args[1];
    j.table = two ? (const uint8_t *)args[2].data : NULL;
    j.z = args[two ? 3 : 2];
    (void)nnrt_dims_count(j.z.dims, j.z.rank, &count);
    for (j.axis = 0; j.axis + 1 < j.z.rank && j.z.dims[j.axis] == 1;)
        j.axis++;
    size = j.z.rank > 0 ? j.z.dims[j.axis] : 1;
    j.slice = (int32_t)(8192 / (count / (size_t)size + 1)) + 1;
    nnrti_cpu_parallel_for(call, 40.0 * (double)count, (uint32_t)((size + j.slice - 1) / j.slice), nnrti_cpu_tables_slice, &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>lines */

/* 8-bit operators that read whole lines: SOFTMAX, LOG_SOFTMAX, LAYER_NORM_FUSION, norms, reductions by products and roots;
   ADD_N; and CONCAT. A byte has 256 values, so a line computes each result at most 256 times and loads it otherwise. Sums of
   integers are exact. Sums of floats run in the order of the reference device, with its compensation, so their bits are the
   same: the chain of additions bounds the speed. No instruction set has a better form for these loads. They have the
   arguments and attributes of the reference kernels (nnrti_cpu_exchange). */

/* No contraction of a * b + c into one rounding, as in nnrt_ops.h. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif

/* The result of an element with stored integer q, q' = q from 0 to 255, v = q - zero point, real f = scale * v. */
typedef enum nnrti_cpu_line_kind {
    NNRTI_CPU_LINE_SOFTMAX,     /* the share of powers[largest - q], in fixed point */
    NNRTI_CPU_LINE_LOG_SOFTMAX, /* (f - largest) - log(sum of exp(f - largest)) */
    NNRTI_CPU_LINE_NORM,        /* f / norm */
    NNRTI_CPU_LINE_L2_FIXED,    /* v / sqrt(sum of v^2), in fixed point */
    NNRTI_CPU_LINE_LAYER_NORM,  /* (f - mean) * scale * gamma + beta */
    NNRTI_CPU_LINE_L2,          /* these have one result: sqrt(sum of f^2) */
    NNRTI_CPU_LINE_PROD,        /* the product of f */
    NNRTI_CPU_LINE_ALL          /* whether no v is 0 */
} nnrti_cpu_line_kind;

typedef struct nnrti_cpu_lines_job {
    nnrti_cpu_line_kind kind;
    nnrt_view x, y, setX, setY; /* x, y: of the first element of each line; set: the elements of a line */
    int64_t elements;           /* of a line */
    int32_t slice;              /* lines of a work item */
    int32_t flip, zero;         /* of x: q' = byte ^ flip */
    const int32_t *list;        /* zero point, bounds and factors of y; NULL: y is rounded from float */
    const int32_t *powers;
    int64_t least;  /* of the sum of L2_FIXED */
    int32_t p;      /* NORM: 1: the sum of |f|; 2: sqrt(sum of f^2), both + epsilon; 0: of at least epsilon */
    float epsilon;  /* NORM, LAYER_NORM */
    NNRT_ActivationType activation;
    const nnrt_view *gamma, *beta; /* LAYER_NORM, or NULL */
    float real[256];               /* f of each q' */
} nnrti_cpu_lines_job;

/* A line: its largest q', its sum, and the results and terms that were computed. */
typedef struct nnrti_cpu_line {
    int32_t largest, bits, inverse, factor[2];
    int64_t exact; /* sum */
    float sum;     /* of terms; then the norm, or the logarithm */
    bool hasByte[256], hasTerm[256];
    uint8_t byte[256];
    float term[256];
} nnrti_cpu_line;

/* H, D, sat32 and I of section 1 and 5 of the rules of quantized arithmetic. */
static int32_t nnrti_cpu_high_product(int32_t a, int32_t b)
{
    const int64_t y = ((int64_t)a * b + ((int64_t)1 << 30)) >> 31;
    return y > INT32_MAX ? INT32_MAX : (int32_t)y;
}

static int64_t nnrti_cpu_shift_round(int64_t x, int32_t n)
{
    return n == 0 ? x : n > 32 ? 0 : (x + ((int64_t)1 << (n - 1)) - (x < 0)) >> n;
}

static int32_t nnrti_cpu_to_int32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

static int32_t nnrti_cpu_fixed_reciprocal(int32_t a)
{
    const int32_t u = (int32_t)(((int64_t)a + ((int64_t)1 << 31)) >> 1);
    int32_t x = 1515870810 + nnrti_cpu_high_product(u, -1010580540);
    for (int32_t i = 0; i < 3; i++)
        x = (int32_t)(x + (int64_t)4 * nnrti_cpu_high_product(x, (1 << 29) - nnrti_cpu_high_product(u, x)));
    return nnrti_cpu_to_int32((int64_t)2 * x);
}

static int32_t nnrti_cpu_bit_count(uint64_t n)
{
    int32_t k = 0;
    for (; n != 0; n >>= 1)
        k++;
    return k;
}

/* The factor {m, e} of 128 / sqrt(a): L2_NORMALIZE of section 5. */
static void nnrti_cpu_root_factor(int64_t a, int32_t factor[2])
{
    int32_t x = 1 << 28, u, n = 11, j;
    factor[0] = INT32_MAX;
    factor[1] = 7;
    if (a <= 1)
        return;
    for (; a >= 1 << 29; a >>= 2)
        n++;
    j = (31 - nnrti_cpu_bit_count((uint64_t)a)) / 2 - 1;
    n -= j;
    a *= (int64_t)1 << (2 * j);
    u = (int32_t)nnrti_cpu_shift_round(a >> 1, 1);
    for (int32_t i = 0; i < 5; i++) {
        const int32_t cube = nnrti_cpu_high_product(nnrti_cpu_high_product(x, x), x);
        x = nnrti_cpu_to_int32((int64_t)8 * (nnrti_cpu_high_product(402653184, x) -
                                             nnrti_cpu_high_product(u, nnrti_cpu_to_int32((int64_t)64 * cube))));
    }
    x = nnrti_cpu_high_product(x, 1518500250);
    factor[0] = n < 0 ? x * (1 << -n) : x;
    factor[1] = n < 0 ? 7 : 7 - n;
}

/* round(r / scale of y), halves away from zero, within 10^9; NaN: 0. */
static int64_t nnrti_cpu_round_real(float r, float scale)
{
    const float v = scale > 0 ? r / scale : 0.0f;
    return v != v ? 0 : v > 1e9f ? 1000000000 : v < -1e9f ? -1000000000 : (int64_t)((double)v + (v < 0 ? -0.5 : 0.5));
}

static uint8_t nnrti_cpu_real_byte(const nnrti_cpu_lines_job *j, float r)
{
    const NNRT_QuantParam *quant = &j->y.quant[0];
    const int64_t q = nnrti_cpu_round_real(r, (float)quant->scale) + quant->zeroPoint;
    const int32_t low = j->y.dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    return (uint8_t)(q < low ? low : q > low + 255 ? low + 255 : q);
}

/* The result of an element. */
static uint8_t nnrti_cpu_line_byte(const nnrti_cpu_lines_job *j, const nnrti_cpu_line *l, int32_t q)
{
    if (j->kind == NNRTI_CPU_LINE_SOFTMAX) {
        const int32_t *const factor = j->list + NNRT_QUANT_FACTORS;
        const int64_t share = nnrti_cpu_high_product(l->inverse, j->powers[l->largest - q]);
        const int64_t v = factor[0] != 0 || factor[1] != 1 ? nnrt_rescale(nnrti_cpu_shift_round(share, l->bits - 5), factor)
                          : l->exact >> 28 != 0            ? 0
                                                           : nnrti_cpu_shift_round(share, l->bits + 3);
        return (uint8_t)nnrt_quant_result(v, j->list);
    }
    if (j->kind == NNRTI_CPU_LINE_L2_FIXED)
        return (uint8_t)nnrt_quant_result(nnrt_rescale(q - j->zero, l->factor), j->list);
    if (j->kind == NNRTI_CPU_LINE_LOG_SOFTMAX)
        return nnrti_cpu_real_byte(j, (j->real[q] - j->real[l->largest]) - l->sum);
    return nnrti_cpu_real_byte(j, nnrt_activate(j->real[q] / l->sum, j->activation));
}

/* The sum of the terms of a line, floats, compensated: exp(f - largest), |f| or f^2. */
static float nnrti_cpu_line_sum(const nnrti_cpu_lines_job *j, nnrti_cpu_line *l, const uint8_t *x)
{
    float sum = 0, rest = 0;
    nnrt_walk w;
    for (bool more = nnrt_walk_first(&w, &j->setX, NULL, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t q = x[w.at[0] + i * w.row[0]] ^ j->flip;
            float v, next, part;
            if (!l->hasTerm[q]) {
                const float f = j->real[q];
                l->hasTerm[q] = true;
                l->term[q] = j->kind == NNRTI_CPU_LINE_LOG_SOFTMAX ? nnrt_expf(f - j->real[l->largest])
                             : j->p != 1                           ? f * f
                             : f < 0                               ? -f
                                                                   : f;
            }
            v = l->term[q];
            next = sum + v;
            part = next - sum;
            rest += (sum - (next - part)) + (v - part);
            sum = next;
        }
    return rest - rest == 0 ? sum + rest : sum;
}

/* The largest q', and of kinds in fixed point the sum. */
static void nnrti_cpu_line_integers(const nnrti_cpu_lines_job *j, nnrti_cpu_line *l, const uint8_t *x)
{
    const int32_t before = l->largest;
    nnrt_walk w;
    bool more;
    l->largest = 0;
    l->exact = 0;
    for (more = nnrt_walk_first(&w, &j->setX, NULL, NULL); more && j->kind <= NNRTI_CPU_LINE_LOG_SOFTMAX;
         more = nnrt_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t q = x[w.at[0] + i * w.row[0]] ^ j->flip;
            l->largest = q > l->largest ? q : l->largest;
        }
    if (l->largest != before)
        memset(l->hasTerm, 0, sizeof(l->hasTerm));
    if (j->kind != NNRTI_CPU_LINE_SOFTMAX && j->kind != NNRTI_CPU_LINE_L2_FIXED)
        return;
    for (more = nnrt_walk_first(&w, &j->setX, NULL, NULL); more; more = nnrt_walk_next(&w)) {
        int64_t sum = 0;
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t q = x[w.at[0] + i * w.row[0]] ^ j->flip, v = q - j->zero;
            sum += j->kind == NNRTI_CPU_LINE_L2_FIXED ? v * v
                                                      : ((int64_t)j->powers[l->largest - q] + (1 << 11)) >> 12;
        }
        l->exact += sum;
    }
    if (j->kind == NNRTI_CPU_LINE_L2_FIXED) {
        nnrti_cpu_root_factor(l->exact > j->least ? l->exact : j->least, l->factor);
        return;
    }
    l->bits = nnrti_cpu_bit_count((uint64_t)l->exact);
    l->inverse = nnrti_cpu_fixed_reciprocal((int32_t)((l->bits <= 32 ? l->exact * ((int64_t)1 << (32 - l->bits))
                                                                     : l->exact >> (l->bits - 32)) -
                                                      ((int64_t)1 << 31)));
}

/* Reductions to one result. */
static uint8_t nnrti_cpu_line_reduced(const nnrti_cpu_lines_job *j, nnrti_cpu_line *l, const uint8_t *x)
{
    float product = 1;
    bool all = true;
    nnrt_walk w;
    if (j->kind == NNRTI_CPU_LINE_L2) {
        const float norm = nnrt_sqrtf(nnrti_cpu_line_sum(j, l, x));
        return (uint8_t)nnrt_quant_result(nnrti_cpu_round_real(norm, (float)j->y.quant[0].scale), j->list);
    }
    for (bool more = nnrt_walk_first(&w, &j->setX, NULL, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t q = x[w.at[0] + i * w.row[0]] ^ j->flip;
            product *= j->real[q];
            all = all && q != j->zero;
        }
    return (uint8_t)nnrt_quant_result(j->kind == NNRTI_CPU_LINE_PROD
                                          ? nnrti_cpu_round_real(product, (float)j->y.quant[0].scale)
                                          : (int64_t)all * j->list[NNRT_QUANT_FACTORS],
                                      j->list);
}

/* Element i of a vector of float32 or float16. */
static float nnrti_cpu_vector_at(const nnrt_view *v, int32_t i)
{
    const ptrdiff_t at = i * v->strides[0];
    return v->dataType == NNRT_DATA_TYPE_FLOAT16 ? nnrt_half_to_float(((const uint16_t *)v->data)[at])
                                                 : ((const float *)v->data)[at];
}

/* LAYER_NORM_FUSION of row m, with the sums of the reference kernel: a first mean, the mean of the remainders, which both are
   subtracted, and the mean of their squares. */
static void nnrti_cpu_line_layer_norm(const nnrti_cpu_lines_job *j, int64_t m, const uint8_t *x, uint8_t *y)
{
    const int32_t K = j->setX.dims[1], G = j->gamma != NULL ? j->gamma->dims[0] : 1;
    const ptrdiff_t stepX = j->setX.strides[1], stepY = j->setY.strides[1];
    float sum = 0, rest = 0, squares = 0, mean, variance, scale;
    int32_t g = (int32_t)(m * K % G);
    for (int32_t k = 0; k < K; k++)
        sum += j->real[x[k * stepX] ^ j->flip];
    mean = sum / (float)K;
    for (int32_t k = 0; k < K; k++) {
        const float d = j->real[x[k * stepX] ^ j->flip] - mean;
        rest += d;
        squares += d * d;
    }
    rest /= (float)K;
    variance = squares / (float)K - rest * rest;
    scale = 1.0f / nnrt_sqrtf((variance < 0 ? 0.0f : variance) + j->epsilon);
    for (int32_t k = 0; k < K; k++) {
        float v = ((j->real[x[k * stepX] ^ j->flip] - mean) - rest) * scale;
        if (j->gamma != NULL)
            v = v * nnrti_cpu_vector_at(j->gamma, g) + nnrti_cpu_vector_at(j->beta, g);
        g = g + 1 < G ? g + 1 : 0;
        y[k * stepY] = nnrti_cpu_real_byte(j, v);
    }
}

static void nnrti_cpu_line_run(const nnrti_cpu_lines_job *j, nnrti_cpu_line *l, const uint8_t *x, uint8_t *y)
{
    nnrt_walk w;
    if (j->kind >= NNRTI_CPU_LINE_L2) {
        *y = nnrti_cpu_line_reduced(j, l, x);
        return;
    }
    nnrti_cpu_line_integers(j, l, x);
    if (j->kind == NNRTI_CPU_LINE_LOG_SOFTMAX)
        l->sum = nnrt_logf(nnrti_cpu_line_sum(j, l, x));
    if (j->kind == NNRTI_CPU_LINE_NORM) {
        const float sum = nnrti_cpu_line_sum(j, l, x);
        l->sum = j->p == 0 ? nnrt_sqrtf(sum < j->epsilon ? j->epsilon : sum)
                           : (j->p == 2 ? nnrt_sqrtf(sum) : sum) + j->epsilon;
    }
    memset(l->hasByte, 0, sizeof(l->hasByte));
    for (bool more = nnrt_walk_first(&w, &j->setY, &j->setX, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++) {
            const int32_t q = x[w.at[1] + i * w.row[1]] ^ j->flip;
            if (!l->hasByte[q]) {
                l->hasByte[q] = true;
                l->byte[q] = nnrti_cpu_line_byte(j, l, q);
            }
            y[w.at[0] + i * w.row[0]] = l->byte[q];
        }
}

/* Work item: some lines. */
static void nnrti_cpu_lines_task(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_lines_job *const j = (const nnrti_cpu_lines_job *)arg;
    nnrti_cpu_line line;
    int64_t count = 1, end;
    (void)worker;
    memset(&line, 0, sizeof(line));
    for (int32_t k = 0; k < j->x.rank; k++)
        count *= j->x.dims[k];
    end = (int64_t)(unit + 1) * j->slice < count ? (int64_t)(unit + 1) * j->slice : count;
    for (int64_t i = (int64_t)unit * j->slice; i < end; i++) {
        int64_t left = i;
        const uint8_t *x = (const uint8_t *)j->x.data;
        uint8_t *y = (uint8_t *)j->y.data;
        for (int32_t k = j->x.rank - 1; k >= 0; left /= j->x.dims[k], k--) {
            x += left % j->x.dims[k] * j->x.strides[k];
            y += left % j->x.dims[k] * j->y.strides[k];
        }
        if (j->kind == NNRTI_CPU_LINE_LAYER_NORM)
            nnrti_cpu_line_layer_norm(j, i, x, y);
        else
            nnrti_cpu_line_run(j, &line, x, y);
    }
}

/* Sets x and y, which is no empty view, and the axes of the lines: bits of `axes`. */
static void nnrti_cpu_lines_of(nnrti_cpu_lines_job *j, nnrti_cpu_line_kind kind, const nnrt_view *x, const nnrt_view *y,
                               uint32_t axes)
{
    memset(j, 0, sizeof(*j));
    j->kind = kind;
    j->x = j->setX = *x;
    j->y = j->setY = *y;
    j->elements = 1;
    for (int32_t k = 0; k < x->rank; k++) {
        nnrt_view *const none = (axes >> k & 1) != 0 ? &j->x : &j->setX;
        j->elements *= (axes >> k & 1) != 0 ? x->dims[k] : 1;
        none->dims[k] = 1;
        j->setY.dims[k] = j->setX.dims[k];
    }
    j->flip = nnrti_cpu_flip(x);
    j->zero = x->quant[0].zeroPoint + j->flip;
    for (int32_t q = 0; q < 256; q++)
        j->real[q] = (float)x->quant[0].scale * (float)(q - j->zero);
}

static NNRT_ReturnCode nnrti_cpu_lines_run(nnrti_cpu_lines_job *j, nnrt_call *call)
{
    double lines = 1;
    for (int32_t k = 0; k < j->x.rank; k++)
        lines *= j->x.dims[k];
    j->slice = (int32_t)(4096 / j->elements) + 1;
    nnrti_cpu_parallel_for(call, 200.0 * lines * (double)j->elements, (uint32_t)((lines + j->slice - 1) / j->slice),
                           nnrti_cpu_lines_task, j);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_softmax_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_lines_job j;
    if (nnrt_view_empty(&args[0]))
        return NNRT_SUCCESS;
    nnrti_cpu_lines_of(&j, NNRTI_CPU_LINE_SOFTMAX, &args[0], &args[3], 1u << ((const NNRT_Softmax *)attr)->axis.data[0]);
    j.powers = (const int32_t *)args[1].data;
    j.list = (const int32_t *)args[2].data;
    return nnrti_cpu_lines_run(&j, call);
}

static NNRT_ReturnCode nnrti_cpu_log_softmax_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_lines_job j;
    if (nnrt_view_empty(&args[0]))
        return NNRT_SUCCESS;
    nnrti_cpu_lines_of(&j, NNRTI_CPU_LINE_LOG_SOFTMAX, &args[0], &args[1], 1u << ((const NNRT_LogSoftmax *)attr)->axis);
    return nnrti_cpu_lines_run(&j, call);
}

static NNRT_ReturnCode nnrti_cpu_lp_norm_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_LpNormalization *const a = (const NNRT_LpNormalization *)attr;
    nnrti_cpu_lines_job j;
    if (nnrt_view_empty(&args[0]))
        return NNRT_SUCCESS;
    nnrti_cpu_lines_of(&j, NNRTI_CPU_LINE_NORM, &args[0], &args[1], 1u << a->axis);
    j.p = (int32_t)a->p;
    j.epsilon = a->epsilon;
    j.activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    return nnrti_cpu_lines_run(&j, call);
}

/* In fixed point, if the rule derived a bound of the sum and the range of the result. */
static NNRT_ReturnCode nnrti_cpu_l2_norm_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_L2NormalizeFusion *const a = (const NNRT_L2NormalizeFusion *)attr;
    const bool fixed = call->nDerived == 2;
    nnrti_cpu_lines_job j;
    uint32_t axes = 0;
    if (nnrt_view_empty(&args[0]))
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < a->axis.count; k++)
        axes |= 1u << a->axis.data[k];
    nnrti_cpu_lines_of(&j, fixed ? NNRTI_CPU_LINE_L2_FIXED : NNRTI_CPU_LINE_NORM, &args[0], &args[fixed ? 3 : 1], axes);
    if (fixed) {
        j.least = *(const int64_t *)args[1].data;
        j.list = (const int32_t *)args[2].data;
    }
    j.epsilon = a->epsilon;
    j.activation = a->activationType;
    return nnrti_cpu_lines_run(&j, call);
}

static NNRT_ReturnCode nnrti_cpu_layer_norm_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_LayerNormFusion *const a = (const NNRT_LayerNormFusion *)attr;
    nnrti_cpu_lines_job j;
    if (nnrt_view_empty(&args[0]))
        return NNRT_SUCCESS;
    nnrti_cpu_lines_of(&j, NNRTI_CPU_LINE_LAYER_NORM, &args[0], &args[3], 2);
    j.epsilon = a->epsilon;
    j.gamma = a->elementwiseAffine ? &args[1] : NULL;
    j.beta = &args[2];
    return nnrti_cpu_lines_run(&j, call);
}

/* REDUCE_FUSION of L2, PROD and ALL. */
static NNRT_ReturnCode nnrti_cpu_reduce_lines_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_ReduceFusion *const a = (const NNRT_ReduceFusion *)attr;
    const nnrt_view *const axes = &args[call->nIn], *const list = axes + 1;
    nnrti_cpu_lines_job j;
    uint32_t set = 0;
    if (nnrt_view_empty(&args[0]))
        return nnrt_reduce_fusion_q8(a, &args[0], axes, list, &args[call->nIn + 2]);
    for (int32_t k = 0; k < axes->dims[0]; k++)
        set |= 1u << ((const int32_t *)axes->data)[k];
    nnrti_cpu_lines_of(&j,
                       a->mode == NNRT_REDUCE_MODE_L2     ? NNRTI_CPU_LINE_L2
                       : a->mode == NNRT_REDUCE_MODE_PROD ? NNRTI_CPU_LINE_PROD
                                                          : NNRTI_CPU_LINE_ALL,
                       &args[0], &args[call->nIn + 2], set);
    j.list = (const int32_t *)list->data;
    return nnrti_cpu_lines_run(&j, call);
}

/* table[b] = byte b of input k of CONCAT in the parameters of y: by the reference kernel, of 256 bytes of this input alone, or
   of its only one if x is a broadcast scalar. */
static void nnrti_cpu_concat_table(const nnrt_view *list, uint32_t k, const nnrt_view *x, const nnrt_view *y,
                                   uint8_t table[256])
{
    nnrt_view row = *list, bytes = *x, to = *y;
    NNRT_Concat attr;
    uint8_t all[256];
    bool one = true;
    for (int32_t i = 0; i < x->rank; i++)
        one = one && x->strides[i] == 0;
    for (int32_t i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    memset(&attr, 0, sizeof(attr));
    row.data = (int32_t *)list->data + (ptrdiff_t)k * list->dims[1];
    row.dims[0] = 1;
    bytes.rank = to.rank = 1;
    bytes.dims[0] = to.dims[0] = one ? 1 : 256;
    bytes.strides[0] = to.strides[0] = 1;
    bytes.data = one ? x->data : all;
    to.data = one ? table + *(const uint8_t *)x->data : table;
    (void)nnrt_concat_q8(&attr, &bytes, 1, &row, &to);
}

/* CONCAT; lookup: of the ISA. */
typedef struct nnrti_cpu_concat {
    NNRT_Concat concat;
    void (*lookup)(const uint8_t *table, const uint8_t *x, uint8_t *y, int32_t count);
} nnrti_cpu_concat;

/* Rows of bytes that a CONCAT copies: `count` bytes `step` apart in each of `rows` rows `next` apart. */
typedef struct nnrti_cpu_byte_rows {
    const uint8_t *from;
    uint8_t *to;
    ptrdiff_t nextX, nextY, stepX, stepY;
    int32_t count, rows;
} nnrti_cpu_byte_rows;

/* Copies dense rows by two moves of n bytes each, which may overlap: a call of memcpy takes several times as long. */
static inline void nnrti_cpu_copy_two(const nnrti_cpu_byte_rows *r, const size_t n)
{
    const uint8_t *from = r->from;
    uint8_t *to = r->to;
    const ptrdiff_t second = r->count - (ptrdiff_t)n;
    for (int32_t i = 0; i < r->rows; i++, from += r->nextX, to += r->nextY) {
        memcpy(to, from, n);
        memcpy(to + second, from + second, n);
    }
}

/* Copies the rows, which do not overlap; table: of the bytes of y, or NULL. */
static void nnrti_cpu_copy_byte_rows(const nnrti_cpu_concat *a, const nnrti_cpu_byte_rows *r, const uint8_t *table)
{
    const uint8_t *from = r->from;
    uint8_t *to = r->to;
    if (r->stepX == 0 && r->nextX == 0 && r->stepY == 1 && r->count <= 128) { /* one byte, such as the zeros of a padding */
        nnrti_cpu_byte_rows same = *r;
        uint8_t row[128];
        memset(row, table != NULL ? table[*from] : *from, (size_t)r->count);
        same.from = row;
        same.stepX = 1;
        nnrti_cpu_copy_byte_rows(a, &same, NULL);
    } else if (table != NULL && r->stepX == 1 && r->stepY == 1) {
        for (int32_t i = 0; i < r->rows; i++, from += r->nextX, to += r->nextY)
            a->lookup(table, from, to, r->count);
    } else if (table != NULL || r->stepX != 1 || r->stepY != 1 || r->count < 2) {
        for (int32_t i = 0; i < r->rows; i++, from += r->nextX, to += r->nextY)
            for (int32_t k = 0; k < r->count; k++)
                to[k * r->stepY] = table != NULL ? table[from[k * r->stepX]] : from[k * r->stepX];
    } else if (r->count > 128) {
        for (int32_t i = 0; i < r->rows; i++, from += r->nextX, to += r->nextY)
            memcpy(to, from, (size_t)r->count);
    } else if (r->count > 64) {
        nnrti_cpu_copy_two(r, 64);
    } else if (r->count > 32) {
        nnrti_cpu_copy_two(r, 32);
    } else if (r->count > 16) {
        nnrti_cpu_copy_two(r, 16);
    } else if (r->count > 8) {
        nnrti_cpu_copy_two(r, 8);
    } else if (r->count > 4) {
        nnrti_cpu_copy_two(r, 4);
    } else {
        nnrti_cpu_copy_two(r, 2);
    }
}

/* CONCAT of bytes; with requantization, if its rule derived that. The axes are sorted (nnrti_cpu_lower_concat). */
static NNRT_ReturnCode nnrti_cpu_concat_bytes(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_concat *const a = (const nnrti_cpu_concat *)attr;
    const int32_t axis = (int32_t)a->concat.axis;
    const nnrt_view *const list = call->nDerived > 0 ? &args[call->nIn] : NULL, *const y = &args[call->nIn + call->nDerived];
    nnrt_view part = *y;
    for (uint32_t k = 0; k < call->nIn; k++) {
        const nnrt_view *const x = &args[k];
        const bool maps = list != NULL && ((const int32_t *)list->data)[(ptrdiff_t)k * list->dims[1] + 1] != 0;
        uint8_t table[256];
        nnrti_cpu_byte_rows r;
        nnrt_walk w;
        bool more;
        int32_t last;
        part.dims[axis] = x->dims[axis];
        if (maps) /* the reference kernel requantizes each byte */
            nnrti_cpu_concat_table(list, k, x, y, table);
        more = nnrt_walk_first(&w, &part, x, NULL);
        last = more ? w.rank - 1 : -1;
        r.rows = last >= 0 ? w.dims[last] : 1;
        r.nextX = last >= 0 ? w.step[1][last] : 0;
        r.nextY = last >= 0 ? w.step[0][last] : 0;
        r.stepX = w.row[1];
        r.stepY = w.row[0];
        r.count = w.count;
        if (last >= 0)
            w.dims[last] = 1; /* the rows of r */
        for (; more; more = nnrt_walk_next(&w)) {
            r.from = (const uint8_t *)x->data + w.at[1];
            r.to = (uint8_t *)part.data + w.at[0];
            nnrti_cpu_copy_byte_rows(a, &r, maps ? table : NULL);
        }
        part.data = (uint8_t *)part.data + x->dims[axis] * y->strides[axis];
    }
    return NNRT_SUCCESS;
}

#define NNRTI_CPU_ADD_N_INPUTS 8   /* most inputs: their sum fits 32 bits */
#define NNRTI_CPU_ADD_N_CHUNK 1024 /* elements of a work item */

typedef struct nnrti_cpu_add_n_job {
    nnrt_view x[NNRTI_CPU_ADD_N_INPUTS], y; /* of equal rank, x broadcast by strides 0 */
    uint32_t nIn;
    int32_t pieces; /* chunks of a line */
    const int32_t *list;
    int32_t term[NNRTI_CPU_ADD_N_INPUTS][256]; /* of each byte */
} nnrti_cpu_add_n_job;

/* Work item: a chunk of a line of the last axis. */
static void nnrti_cpu_add_n_task(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_add_n_job *const j = (const nnrti_cpu_add_n_job *)arg;
    const int32_t last = j->y.rank - 1, first = (int32_t)(unit % (uint32_t)j->pieces) * NNRTI_CPU_ADD_N_CHUNK;
    const int32_t left = j->y.dims[last] - first, count = left < NNRTI_CPU_ADD_N_CHUNK ? left : NNRTI_CPU_ADD_N_CHUNK;
    const int32_t *const factor = j->list + NNRT_QUANT_FACTORS;
    int32_t sum[NNRTI_CPU_ADD_N_CHUNK];
    (void)worker;
    for (uint32_t k = 0; k <= j->nIn; k++) {
        const nnrt_view *const v = k < j->nIn ? &j->x[k] : &j->y;
        const ptrdiff_t step = v->strides[last];
        uint8_t *from = (uint8_t *)v->data + first * step;
        uint32_t line = unit / (uint32_t)j->pieces;
        for (int32_t i = last - 1; i >= 0; line /= (uint32_t)j->y.dims[i], i--)
            from += (ptrdiff_t)(line % (uint32_t)j->y.dims[i]) * v->strides[i];
        for (int32_t i = 0; k == 0 && i < count; i++)
            sum[i] = j->term[0][from[i * step]];
        for (int32_t i = 0; k > 0 && k < j->nIn && i < count; i++)
            sum[i] += j->term[k][from[i * step]];
        for (int32_t i = 0; k == j->nIn && i < count; i++)
            from[i * step] = (uint8_t)nnrt_quant_result(nnrt_rescale(sum[i], factor), j->list);
    }
}

/* ADD_N of two to eight tensors: each is brought to a common scale by a table. */
static NNRT_ReturnCode nnrti_cpu_add_n_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const list = &args[call->nIn], *const y = list + 1;
    nnrti_cpu_add_n_job j;
    bool dense = nnrt_view_dense(y);
    size_t count = 0;
    (void)attr;
    if (nnrt_view_empty(y))
        return NNRT_SUCCESS;
    dense = nnrt_dims_count(y->dims, y->rank, &count) && count <= INT32_MAX && dense;
    memset(&j, 0, sizeof(j));
    j.nIn = call->nIn;
    j.list = (const int32_t *)list->data;
    for (uint32_t k = 0; k <= j.nIn; k++) {
        const nnrt_view *const v = k < j.nIn ? &args[k] : y;
        nnrt_view *const to = k < j.nIn ? &j.x[k] : &j.y;
        *to = *v;
        to->rank = y->rank > 0 ? y->rank : 1;
        for (int32_t i = 0; i < to->rank; i++) {
            const int32_t axis = i - (to->rank - v->rank);
            to->dims[i] = y->rank > 0 ? y->dims[i] : 1;
            to->strides[i] = axis >= 0 && v->dims[axis] != 1 ? v->strides[axis] : 0;
            dense = dense && (to->dims[i] == 1 || to->strides[i] == j.x[0].strides[i]);
        }
        for (int32_t q = 0; k < j.nIn && q < 256; q++) {
            const int32_t v8 = (v->dataType == NNRT_DATA_TYPE_INT8 ? (int8_t)q : q) - v->quant[0].zeroPoint;
            j.term[k][q] = nnrt_rescale((int64_t)v8 * (1 << 20), j.list + NNRT_QUANT_FACTORS + 2 + 2 * k);
        }
    }
    for (uint32_t k = 0; dense && k <= j.nIn; k++) { /* all tensors have the order of y: one line */
        nnrt_view *const v = k < j.nIn ? &j.x[k] : &j.y;
        v->rank = 1;
        v->dims[0] = (int32_t)count;
        v->strides[0] = 1;
    }
    j.pieces = (j.y.dims[j.y.rank - 1] - 1) / NNRTI_CPU_ADD_N_CHUNK + 1;
    nnrti_cpu_parallel_for(call, (40.0 + 20.0 * j.nIn) * (double)count,
                           (uint32_t)(count / (size_t)j.y.dims[j.y.rank - 1]) * (uint32_t)j.pieces, nnrti_cpu_add_n_task, &j);
    return NNRT_SUCCESS;
}

#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>blocks */

/* Elementwise operators of any element types, once for all instruction sets: a table of loops over multiples of
   NNRTI_CPU_GROUP elements, of which compilers make vectors, and one driver, which brings ends of rows, strides and
   broadcasts into blocks. Types without a kernel of their own go this way instead of the reference kernel's single
   elements. */

/* The attributes of a node; in a step with dynamic shapes, as the rule resolved them for the dimensions of the run. */
static const void *nnrti_cpu_attr_of_run(const void *attr, const nnrt_call *call)
{
    return call->resolve != NULL ? ((const nnrt_resolve *)call->resolve)->resolved : attr;
}

/* `count` elements of `width` bytes from y on = the first one: by copies of ever more of them. */
static void nnrti_cpu_repeat(uint8_t *y, size_t width, size_t count)
{
    const size_t bytes = width * count;
    for (size_t done = width, some; done < bytes; done += some) {
        some = done < 4096 ? done : 4096 / width * width; /* of a size for the L1 cache */
        some = some < bytes - done ? some : bytes - done;
        memcpy(y + done, y, some);
    }
}

#define NNRTI_CPU_GROUP 16
#define NNRTI_CPU_BLOCK 256 /* most elements that are brought into a block: groups */
#if defined(__GNUC__) && !defined(__clang__)
#define NNRTI_CPU_APART _Pragma("GCC ivdep") /* z is x or y, or overlaps neither */
#pragma GCC push_options
#pragma GCC optimize("tree-loop-vectorize", "vect-cost-model=cheap")
#else
#define NNRTI_CPU_APART
#endif

/* z[i] = f(x[i], y[i]), i < count, a multiple of NNRTI_CPU_GROUP. */
typedef void (*nnrti_cpu_block)(const void *x, const void *y, void *z, ptrdiff_t count);

/* name, type of x and y, type of z, value of p = x[i] and q = y[i]. Conversions of integers go through int32 or int64. */
#define NNRTI_CPU_BLOCKS(X)                                                                                            \
    X(i8_i32, int8_t, int32_t, p)                                                                                      \
    X(u8_i32, uint8_t, int32_t, p)                                                                                     \
    X(i16_i32, int16_t, int32_t, p)                                                                                    \
    X(u16_i32, uint16_t, int32_t, p)                                                                                   \
    X(bool_i32, uint8_t, int32_t, p != 0)                                                                              \
    X(i64_i32, uint64_t, uint32_t, p)                                                                                  \
    X(i32_u8, uint32_t, uint8_t, p)                                                                                    \
    X(i16_u8, uint16_t, uint8_t, p)                                                                                    \
    X(i32_u16, uint32_t, uint16_t, p)                                                                                  \
    X(i32_i64, int32_t, int64_t, p)                                                                                    \
    X(u32_i64, uint32_t, int64_t, p)                                                                                   \
    X(i32_f32, int32_t, float, p)                                                                                      \
    X(u32_f32, uint32_t, float, p)                                                                                     \
    X(i32_f64, int32_t, double, p)                                                                                     \
    X(u32_f64, uint32_t, double, p)                                                                                    \
    X(f32_f64, float, double, p)                                                                                       \
    X(f64_f32, double, float, p)                                                                                       \
    X(f32_i16, float, int32_t, p != p ? 0.0f : p < -32768.0f ? -32768.0f : p > 32767.0f ? 32767.0f : p)                \
    X(f32_u16, float, int32_t, p > 0.0f ? p > 65535.0f ? 65535.0f : p : 0.0f)                                          \
    X(f32_i32, float, int32_t,                                                                                         \
      (int32_t)(p != p ? 0.0f : p < -2147483648.0f ? -2147483648.0f : p > 2147483520.0f ? 2147483520.0f : p) |         \
          (p > 2147483520.0f ? 127 : 0))                                                                               \
    X(i8_bool, uint8_t, uint8_t, p != 0)                                                                               \
    X(i32_bool, uint32_t, uint8_t, p != 0)                                                                             \
    X(i64_bool, uint64_t, uint8_t, p != 0)                                                                             \
    X(f16_bool, uint16_t, uint8_t, (p & 0x7fff) != 0)                                                                  \
    X(f32_bool, float, uint8_t, p != 0)                                                                                \
    X(f64_bool, double, uint8_t, p != 0)                                                                               \
    NNRTI_CPU_BLOCKS_OF_TWO(X)
#define NNRTI_CPU_BLOCKS_OF_TWO(X)                                                                                     \
    X(and_8, uint8_t, uint8_t, p &q)                                                                                   \
    X(not_8, uint8_t, uint8_t, ~p)                                                                                     \
    X(or_8, uint8_t, uint8_t, p | q)                                                                                   \
    X(xor_8, uint8_t, uint8_t, p ^ q)                                                                                  \
    X(add_8, uint8_t, uint8_t, p + q)                                                                                  \
    X(add_16, uint16_t, uint16_t, p + q)                                                                               \
    X(add_32, uint32_t, uint32_t, p + q)                                                                               \
    X(add_64, uint64_t, uint64_t, p + q)                                                                               \
    X(sub_16, uint16_t, uint16_t, p - q)                                                                               \
    X(mul_16, uint16_t, uint16_t, (uint32_t)p * q)                                                                     \
    X(mul_64, uint64_t, uint64_t, p *q)                                                                                \
    X(max_i16, int16_t, int16_t, p > q ? p : q)                                                                        \
    X(max_u16, uint16_t, uint16_t, p > q ? p : q)                                                                      \
    X(max_u32, uint32_t, uint32_t, p > q ? p : q)                                                                      \
    X(max_i64, int64_t, int64_t, p > q ? p : q)                                                                        \
    X(max_u64, uint64_t, uint64_t, p > q ? p : q)                                                                      \
    X(min_i16, int16_t, int16_t, p < q ? p : q)                                                                        \
    X(min_u16, uint16_t, uint16_t, p < q ? p : q)                                                                      \
    X(min_u32, uint32_t, uint32_t, p < q ? p : q)                                                                      \
    X(min_i64, int64_t, int64_t, p < q ? p : q)                                                                        \
    X(min_u64, uint64_t, uint64_t, p < q ? p : q)                                                                      \
    X(abs_16, int16_t, int16_t, p < 0 ? -p : p)                                                                        \
    X(neg_16, int16_t, int16_t, -p)                                                                                    \
    X(add_f64, double, double, p + q)                                                                                  \
    X(sub_f64, double, double, p - q)                                                                                  \
    X(mul_f64, double, double, p *q)                                                                                   \
    X(div_f64, double, double, p / q)                                                                                  \
    X(max_f64, double, double, p > q ? p : q)                                                                          \
    X(min_f64, double, double, p < q ? p : q)                                                                          \
    X(shl_8, uint8_t, uint8_t, q > 7 ? 0 : (uint32_t)p << q)                                                           \
    X(shl_16, uint16_t, uint16_t, q > 15 ? 0 : (uint32_t)p << q)                                                       \
    X(shl_32, uint32_t, uint32_t, q > 31 ? 0 : p << q)                                                                 \
    X(shl_64, uint64_t, uint64_t, q > 63 ? 0 : p << q)                                                                 \
    X(shr_8, uint8_t, uint8_t, q > 7 ? 0 : (uint32_t)p >> q)                                                           \
    X(shr_16, uint16_t, uint16_t, q > 15 ? 0 : (uint32_t)p >> q)                                                       \
    X(shr_32, uint32_t, uint32_t, q > 31 ? 0 : p >> q)                                                                 \
    X(shr_64, uint64_t, uint64_t, q > 63 ? 0 : p >> q)                                                                 \
    X(equal_8, uint8_t, uint8_t, p == q)                                                                               \
    X(equal_16, uint16_t, uint8_t, p == q)                                                                             \
    X(equal_32, uint32_t, uint8_t, p == q)                                                                             \
    X(equal_64, uint64_t, uint8_t, p == q)                                                                             \
    X(equal_f64, double, uint8_t, p == q)                                                                              \
    X(less_i8, int8_t, uint8_t, p < q)                                                                                 \
    X(less_u8, uint8_t, uint8_t, p < q)                                                                                \
    X(less_i16, int16_t, uint8_t, p < q)                                                                               \
    X(less_u16, uint16_t, uint8_t, p < q)                                                                              \
    X(less_i32, int32_t, uint8_t, p < q)                                                                               \
    X(less_u32, uint32_t, uint8_t, p < q)                                                                              \
    X(less_i64, int64_t, uint8_t, p < q)                                                                               \
    X(less_u64, uint64_t, uint8_t, p < q)                                                                              \
    X(less_f64, double, uint8_t, p < q)
#define NNRTI_CPU_BLOCK_FUNCTION(name, T, U, value)                                                                    \
    static void nnrti_cpu_block_##name(const void *x, const void *y, void *z, ptrdiff_t count)                         \
    {                                                                                                                  \
        const T *a = (const T *)x, *b = (const T *)y;                                                                  \
        U *c = (U *)z;                                                                                                 \
        for (; count > 0; count -= NNRTI_CPU_GROUP, a += NNRTI_CPU_GROUP, b += NNRTI_CPU_GROUP, c += NNRTI_CPU_GROUP)  \
            NNRTI_CPU_APART                                                                                            \
        for (int32_t i = 0; i < NNRTI_CPU_GROUP; i++) {                                                                \
            const T p = a[i], q = b[i];                                                                                \
            (void)q;                                                                                                   \
            c[i] = (U)(value);                                                                                         \
        }                                                                                                              \
    }
NNRTI_CPU_BLOCKS(NNRTI_CPU_BLOCK_FUNCTION)

/* z += a * y, modulo 2^32 and 2^64. */
static void nnrti_cpu_madd_32(uint32_t *z, const uint32_t *y, uint32_t a, int32_t count)
{
    NNRTI_CPU_APART
    for (int32_t i = 0; i < count; i++)
        z[i] += a * y[i];
}

static void nnrti_cpu_madd_64(uint64_t *z, const uint64_t *y, uint64_t a, int32_t count)
{
    NNRTI_CPU_APART
    for (int32_t i = 0; i < count; i++)
        z[i] += a * y[i];
}

/* z = (z | same) ^ none, of bytes that are 0 or 1. */
static void nnrti_cpu_combine(uint8_t *z, const uint8_t *same, uint8_t none, ptrdiff_t count)
{
    NNRTI_CPU_APART
    for (ptrdiff_t i = 0; i < count; i++)
        z[i] = (uint8_t)((z[i] | same[i]) ^ none);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
/* Without vectors, which would be made of single elements. */
NNRTI_CPU_BLOCK_FUNCTION(i64_f32, int64_t, float, p)
NNRTI_CPU_BLOCK_FUNCTION(i64_f64, int64_t, double, p)
#undef NNRTI_CPU_BLOCK_FUNCTION

/* Attributes of `elements`. z = then(run(x, y)); of comparisons run is x < y and then x == y, combined. run NULL: z = x. */
typedef struct nnrti_cpu_blocks {
    nnrti_cpu_block run, then;
    const nnrti_cpu_compare *compare;
    size_t width, to; /* bytes of an element of x and y, of z */
    ptrdiff_t parts;  /* elements that `run` reads for one element of x and y */
} nnrti_cpu_blocks;

/* n rounded up to groups. */
static int32_t nnrti_cpu_groups(int32_t n)
{
    return (n + NNRTI_CPU_GROUP - 1) / NNRTI_CPU_GROUP * NNRTI_CPU_GROUP;
}

/* Part of a row: elements i to i + n - 1 of p, in place, or a block of them in room, padded with zeros to groups. A row of
   step 0 fills the room at i = 0. */
static const void *nnrti_cpu_block_of(const uint8_t *p, ptrdiff_t step, size_t width, int32_t i, int32_t n, uint64_t *room)
{
    const uint8_t *const from = p + i * step * (ptrdiff_t)width;
    const size_t padded = (size_t)nnrti_cpu_groups(n);
    if (step == 1 && padded == (size_t)n)
        return from;
    if (step == 0 && i > 0)
        return room;
    if (step == 0) {
        memcpy(room, p, width);
        nnrti_cpu_repeat((uint8_t *)room, width, NNRTI_CPU_BLOCK);
        return room;
    }
    memset((uint8_t *)room + (size_t)n * width, 0, (padded - (size_t)n) * width);
    if (step == 1) {
        memcpy(room, from, (size_t)n * width);
    } else {
        for (int32_t k = 0; k < n; k++)
            nnrti_cpu_copy_element(room, k, from, k * step, width);
    }
    return room;
}

/* `count` elements, groups; of a detour or a comparison of two parts at most NNRTI_CPU_BLOCK. */
static void nnrti_cpu_run_block(const nnrti_cpu_blocks *a, const uint8_t *x, const uint8_t *y, uint8_t *z, ptrdiff_t count)
{
    uint64_t between[NNRTI_CPU_BLOCK];
    if (a->compare != NULL) {
        (a->compare->less ? a->run : a->then)(x, y, z, count);
        if (a->compare->less && a->compare->equal)
            a->then(x, y, between, count);
        if ((a->compare->less && a->compare->equal) || a->compare->none)
            nnrti_cpu_combine(z, a->compare->less && a->compare->equal ? (const uint8_t *)between : z,
                              a->compare->none & 1, count);
    } else if (a->run == NULL) {
        memmove(z, x, (size_t)count * a->to);
    } else if (a->then != NULL) {
        a->run(x, y, between, count);
        a->then(between, between, z, count);
    } else {
        a->run(x, y, z, count * a->parts);
    }
}

/* A row; step: of z, x, y. */
static void nnrti_cpu_elements_row(const nnrti_cpu_blocks *a, const uint8_t *x, const uint8_t *y, uint8_t *z,
                                   const ptrdiff_t *step, int32_t count)
{
    const bool whole = step[0] == 1 && step[1] == 1 && step[2] == 1 && a->then == NULL;
    uint64_t room[3][NNRTI_CPU_BLOCK];
    for (int32_t i = 0, n; i < count; i += n) {
        const uint8_t *p, *q;
        uint8_t *const to = z + i * step[0] * (ptrdiff_t)a->to;
        n = whole || count - i < NNRTI_CPU_BLOCK ? count - i : NNRTI_CPU_BLOCK;
        n = n >= NNRTI_CPU_GROUP ? n - n % NNRTI_CPU_GROUP : n;
        p = (const uint8_t *)nnrti_cpu_block_of(x, step[1], a->width, i, n, room[0]);
        q = y == x && step[2] == step[1] ? p : (const uint8_t *)nnrti_cpu_block_of(y, step[2], a->width, i, n, room[1]);
        if (step[0] == 1 && n % NNRTI_CPU_GROUP == 0) {
            nnrti_cpu_run_block(a, p, q, to, n);
            continue;
        }
        nnrti_cpu_run_block(a, p, q, (uint8_t *)room[2], nnrti_cpu_groups(n));
        for (int32_t k = 0; k < n && step[0] != 1; k++)
            nnrti_cpu_copy_element(to, k * step[0], room[2], k, a->to);
        if (step[0] == 1)
            memcpy(to, room[2], (size_t)n * a->to);
    }
}

typedef struct nnrti_cpu_elements_job {
    const nnrti_cpu_blocks *attr;
    const nnrt_view *x, *y, *z;
    nnrt_walk walk;
    uint32_t parts;
} nnrti_cpu_elements_job;

static void nnrti_cpu_elements_part(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_elements_job *const j = (const nnrti_cpu_elements_job *)arg;
    const nnrti_cpu_blocks *const a = j->attr;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        nnrti_cpu_elements_row(a, (const uint8_t *)j->x->data + w.at[1] * (ptrdiff_t)a->width,
                               (const uint8_t *)j->y->data + w.at[2] * (ptrdiff_t)a->width,
                               (uint8_t *)j->z->data + w.at[0] * (ptrdiff_t)a->to, w.row, w.count);
    } while (nnrt_walk_next(&w));
}

/* z = f(x, y), broadcast. */
static void nnrti_cpu_run_elements(const nnrti_cpu_blocks *a, const nnrt_view *x, const nnrt_view *y, const nnrt_view *z,
                                   nnrt_call *call)
{
    nnrti_cpu_elements_job j;
    double work;
    j.attr = a;
    j.x = x;
    j.y = y;
    j.z = z;
    if (!nnrt_walk_first(&j.walk, z, x, y))
        return;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 32, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, nnrti_cpu_elements_part, &j);
}

/* `elements`, of one operand or several: z = f(f(x, y), ..). */
static NNRT_ReturnCode nnrti_cpu_elements(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_blocks *const a = (const nnrti_cpu_blocks *)attr;
    const nnrt_view *const z = &args[call->nIn];
    nnrti_cpu_run_elements(a, &args[0], &args[call->nIn > 1 ? 1 : 0], z, call);
    for (uint32_t k = 2; k < call->nIn; k++)
        nnrti_cpu_run_elements(a, z, &args[k], z, call);
    return NNRT_SUCCESS;
}

#define NNRTI_CPU_OF_WIDTH(name, width)                                                                                \
    ((width) == 1   ? nnrti_cpu_block_##name##_8                                                                       \
     : (width) == 2 ? nnrti_cpu_block_##name##_16                                                                      \
     : (width) == 4 ? nnrti_cpu_block_##name##_32                                                                      \
                    : nnrti_cpu_block_##name##_64)

/* Comparisons of integers, bool and float64: attributes and arguments of `compare`. */
static NNRT_ReturnCode nnrti_cpu_compare_any(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_blocks a;
    memset(&a, 0, sizeof(a));
    a.compare = (const nnrti_cpu_compare *)attr;
    a.width = nnrt_type_size(args[0].dataType);
    a.to = 1;
    a.then = NNRTI_CPU_OF_WIDTH(equal, a.width);
    switch (args[0].dataType) {
    case NNRT_DATA_TYPE_INT8: a.run = nnrti_cpu_block_less_i8; break;
    case NNRT_DATA_TYPE_INT16: a.run = nnrti_cpu_block_less_i16; break;
    case NNRT_DATA_TYPE_UINT16: a.run = nnrti_cpu_block_less_u16; break;
    case NNRT_DATA_TYPE_INT32: a.run = nnrti_cpu_block_less_i32; break;
    case NNRT_DATA_TYPE_UINT32: a.run = nnrti_cpu_block_less_u32; break;
    case NNRT_DATA_TYPE_INT64: a.run = nnrti_cpu_block_less_i64; break;
    case NNRT_DATA_TYPE_UINT64: a.run = nnrti_cpu_block_less_u64; break;
    case NNRT_DATA_TYPE_FLOAT64:
        a.run = nnrti_cpu_block_less_f64;
        a.then = nnrti_cpu_block_equal_f64;
        break;
    default: a.run = nnrti_cpu_block_less_u8; /* uint8, bool */
    }
    nnrti_cpu_run_elements(&a, &args[0], &args[1], &args[2], call);
    return NNRT_SUCCESS;
}

/* How integers of a type become int32, or int64 if `wide`, and how bool does. NULL: they are, modulo 2^32. */
static nnrti_cpu_block nnrti_cpu_to_i32(NNRT_DataType type)
{
    switch (type) {
    case NNRT_DATA_TYPE_BOOL: return nnrti_cpu_block_bool_i32;
    case NNRT_DATA_TYPE_INT8: return nnrti_cpu_block_i8_i32;
    case NNRT_DATA_TYPE_UINT8: return nnrti_cpu_block_u8_i32;
    case NNRT_DATA_TYPE_INT16: return nnrti_cpu_block_i16_i32;
    case NNRT_DATA_TYPE_UINT16: return nnrti_cpu_block_u16_i32;
    case NNRT_DATA_TYPE_INT64:
    case NNRT_DATA_TYPE_UINT64: return nnrti_cpu_block_i64_i32;
    default: return NULL;
    }
}

/* A CAST of one step, or that is no detour by int32; false: it has two. */
static bool nnrti_cpu_direct_cast(NNRT_DataType from, NNRT_DataType to, nnrti_cpu_block *run)
{
    const size_t width = nnrt_type_size(from);
    switch (to) {
    case NNRT_DATA_TYPE_BOOL:
        *run = from == NNRT_DATA_TYPE_FLOAT16   ? nnrti_cpu_block_f16_bool
               : from == NNRT_DATA_TYPE_FLOAT32 ? nnrti_cpu_block_f32_bool
               : from == NNRT_DATA_TYPE_FLOAT64 ? nnrti_cpu_block_f64_bool
               : width == 1                     ? nnrti_cpu_block_i8_bool
               : width == 4                     ? nnrti_cpu_block_i32_bool
               : width == 8                     ? nnrti_cpu_block_i64_bool
                                                : NULL;
        return *run != NULL;
    case NNRT_DATA_TYPE_FLOAT32:
        *run = from == NNRT_DATA_TYPE_FLOAT64  ? nnrti_cpu_block_f64_f32
               : from == NNRT_DATA_TYPE_INT64  ? nnrti_cpu_block_i64_f32
               : from == NNRT_DATA_TYPE_UINT32 ? nnrti_cpu_block_u32_f32
                                               : NULL;
        return *run != NULL;
    case NNRT_DATA_TYPE_FLOAT64:
        *run = from == NNRT_DATA_TYPE_FLOAT32  ? nnrti_cpu_block_f32_f64
               : from == NNRT_DATA_TYPE_INT64  ? nnrti_cpu_block_i64_f64
               : from == NNRT_DATA_TYPE_UINT32 ? nnrti_cpu_block_u32_f64
                                               : NULL;
        return *run != NULL;
    default: /* integers; of the same size, their bits */
        *run = from == NNRT_DATA_TYPE_UINT32 ? nnrti_cpu_block_u32_i64 : nnrti_cpu_block_i16_u8;
        if (to < NNRT_DATA_TYPE_FLOAT16 && from < NNRT_DATA_TYPE_FLOAT16 && width == 2 && nnrt_type_size(to) == 1)
            return true;
        return to < NNRT_DATA_TYPE_FLOAT16 && from != NNRT_DATA_TYPE_BOOL && from < NNRT_DATA_TYPE_FLOAT16 &&
               (nnrt_type_size(to) == width || (from == NNRT_DATA_TYPE_UINT32 && nnrt_type_size(to) == 8));
    }
}

/* The blocks of a CAST; false: there are none. */
static bool nnrti_cpu_cast_of(NNRT_DataType from, NNRT_DataType to, nnrti_cpu_blocks *a)
{
    const size_t width = nnrt_type_size(from), wide = nnrt_type_size(to);
    const bool integers = to < NNRT_DATA_TYPE_FLOAT16;
    memset(a, 0, sizeof(*a));
    a->width = width;
    a->to = wide;
    a->parts = 1;
    if (nnrti_cpu_direct_cast(from, to, &a->run)) {
        a->run = wide == width && integers && to != NNRT_DATA_TYPE_BOOL ? NULL : a->run;
        return true;
    }
    if (from == NNRT_DATA_TYPE_FLOAT32 && to == NNRT_DATA_TYPE_INT32) {
        a->run = nnrti_cpu_block_f32_i32;
        return true;
    }
    if (from == NNRT_DATA_TYPE_FLOAT32 && integers && wide == 2) {
        a->run = to == NNRT_DATA_TYPE_INT16 ? nnrti_cpu_block_f32_i16 : nnrti_cpu_block_f32_u16;
        a->then = nnrti_cpu_block_i32_u16;
        return true;
    }
    if (from >= NNRT_DATA_TYPE_FLOAT16 || to == NNRT_DATA_TYPE_FLOAT16 || (width == 8 && !integers))
        return false;
    a->run = nnrti_cpu_to_i32(from);
    a->then = to == NNRT_DATA_TYPE_BOOL      ? nnrti_cpu_block_i32_bool
              : to == NNRT_DATA_TYPE_FLOAT32 ? nnrti_cpu_block_i32_f32
              : to == NNRT_DATA_TYPE_FLOAT64 ? nnrti_cpu_block_i32_f64
              : wide == 1                    ? nnrti_cpu_block_i32_u8
              : wide == 2                    ? nnrti_cpu_block_i32_u16
              : wide == 8                    ? nnrti_cpu_block_i32_i64
                                             : NULL;
    if (a->run == NULL) {
        a->run = a->then;
        a->then = NULL;
    }
    return true;
}

static NNRT_ReturnCode nnrti_cpu_cast_elements(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_blocks a;
    (void)attr;
    (void)nnrti_cpu_cast_of(args[0].dataType, args[1].dataType, &a);
    nnrti_cpu_run_elements(&a, &args[0], &args[0], &args[1], call);
    return NNRT_SUCCESS;
}

/* Integers or bools as int64: elements i to i + n - 1 of p. uint64 becomes signed numbers of the same order if `order`. */
static void nnrti_cpu_load_numbers(const uint8_t *p, ptrdiff_t step, NNRT_DataType type, bool order, int32_t i, int32_t n,
                                   int64_t *numbers)
{
    uint64_t room[NNRTI_CPU_BLOCK];
    nnrti_cpu_blocks a;
    const uint8_t *from;
    (void)nnrti_cpu_cast_of(type, NNRT_DATA_TYPE_INT64, &a);
    from = (const uint8_t *)nnrti_cpu_block_of(p, step, a.width, i, n, room);
    nnrti_cpu_run_block(&a, from, from, (uint8_t *)numbers, nnrti_cpu_groups(n));
    for (int32_t k = 0; k < n && order && type == NNRT_DATA_TYPE_UINT64; k++)
        numbers[k] ^= INT64_MIN;
}

/* ARGMAX_FUSION and ARGMIN_FUSION of integers: attributes and arguments of `argminmax`. Lines along the axis, or, if others
   are dense, NNRTI_CPU_BLOCK lines at a time. */
static NNRT_ReturnCode nnrti_cpu_argminmax_any(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_argminmax *const a = (const nnrti_cpu_argminmax *)attr;
    const nnrt_view *const x = &args[0], *const y = &args[1];
    const int32_t last = x->rank - 1, L = x->dims[a->axis];
    const bool along = a->axis == last || x->strides[last] != 1;
    const ptrdiff_t width = (ptrdiff_t)nnrt_type_size(x->dataType), stride = x->strides[a->axis];
    const nnrt_view from = nnrti_cpu_line_starts(x, a->axis), to = nnrti_cpu_line_starts(y, a->axis);
    int64_t best[NNRTI_CPU_BLOCK], now[NNRTI_CPU_BLOCK];
    int32_t at[NNRTI_CPU_BLOCK];
    nnrt_walk w;
    (void)call;
    for (bool more = nnrt_walk_first(&w, &to, &from, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t c = 0, n; c < w.count; c += n) {
            const uint8_t *const p = (const uint8_t *)x->data + (w.at[1] + c * w.row[1]) * width;
            n = along || w.row[1] != 1 ? 1 : w.count - c < NNRTI_CPU_BLOCK ? w.count - c : NNRTI_CPU_BLOCK;
            for (int32_t k = 0; k < n; k++) {
                best[k] = INT64_MIN;
                at[k] = 0;
            }
            for (int32_t i = 0, some; i < L; i += some) {
                some = n > 1 ? 1 : L - i < NNRTI_CPU_BLOCK ? L - i : NNRTI_CPU_BLOCK;
                nnrti_cpu_load_numbers(n > 1 ? p + i * stride * width : p, n > 1 ? 1 : stride, x->dataType, true,
                                       n > 1 ? 0 : i, n > 1 ? n : some, now);
                for (int32_t k = 0; k < (n > 1 ? n : some); k++) {
                    const int64_t v = now[k] ^ a->turn;
                    const int32_t t = n > 1 ? k : 0;
                    if (v > best[t]) {
                        best[t] = v;
                        at[t] = n > 1 ? i : i + k;
                    }
                }
            }
            for (int32_t k = 0; k < n; k++)
                nnrti_cpu_store_index(y, w.at[0] + (c + k) * w.row[0], at[k]);
        }
    return NNRT_SUCCESS;
}

/* REDUCE_FUSION and ALL of integers and bool. */
typedef struct nnrti_cpu_reduce_job {
    NNRT_ReduceMode mode;
    const nnrt_view *x;
    nnrt_view set; /* x along the reduced axes */
    bool along;    /* lines one by one; else adjacent ones at once */
} nnrti_cpu_reduce_job;

/* The block that reduces `count` numbers v, which are first replaced by their terms: squares, absolute values, of ALL 0 or 1. */
static nnrti_cpu_block nnrti_cpu_reduction_of(NNRT_ReduceMode mode, int64_t *v, int32_t count)
{
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX: return nnrti_cpu_block_max_i64;
    case NNRT_REDUCE_MODE_MIN: return nnrti_cpu_block_min_i64;
    case NNRT_REDUCE_MODE_PROD: return nnrti_cpu_block_mul_64;
    case NNRT_REDUCE_MODE_ALL:
        for (int32_t k = 0; k < count; k++)
            v[k] = v[k] != 0;
        return nnrti_cpu_block_min_i64;
    case NNRT_REDUCE_MODE_SUM_SQUARE: nnrti_cpu_block_mul_64(v, v, v, count); break;
    case NNRT_REDUCE_MODE_ASUM:
        for (int32_t k = 0; k < count; k++)
            v[k] = v[k] < 0 ? (int64_t)(0 - (uint64_t)v[k]) : v[k];
        break;
    default: break;
    }
    return nnrti_cpu_block_add_64;
}

/* The reduction of n numbers v by a block function. */
static int64_t nnrti_cpu_fold(nnrti_cpu_block run, const int64_t *v, int32_t n)
{
    int64_t s = v[0];
    if (run == nnrti_cpu_block_max_i64)
        for (int32_t k = 1; k < n; k++)
            s = v[k] > s ? v[k] : s;
    else if (run == nnrti_cpu_block_min_i64)
        for (int32_t k = 1; k < n; k++)
            s = v[k] < s ? v[k] : s;
    else if (run == nnrti_cpu_block_mul_64)
        for (int32_t k = 1; k < n; k++)
            s = (int64_t)((uint64_t)s * (uint64_t)v[k]);
    else
        for (int32_t k = 1; k < n; k++)
            s = (int64_t)((uint64_t)s + (uint64_t)v[k]);
    return s;
}

/* sums: the reductions of n adjacent lines that begin at p; if j->along, of one. */
static void nnrti_cpu_reduce_lines(const nnrti_cpu_reduce_job *j, const uint8_t *p, int32_t n, int64_t *sums)
{
    const ptrdiff_t width = (ptrdiff_t)nnrt_type_size(j->x->dataType);
    const bool order = j->mode == NNRT_REDUCE_MODE_MAX || j->mode == NNRT_REDUCE_MODE_MIN;
    nnrti_cpu_block run = NULL;
    int64_t v[NNRTI_CPU_BLOCK], parts[2] = {0, 0}; /* of the part blocks; then of the whole ones, too */
    bool whole = false, part = false;
    nnrt_walk w;
    for (bool more = nnrt_walk_first(&w, &j->set, NULL, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t i = 0, some; i < w.count; i += some) {
            const uint8_t *const from = p + (w.at[0] + (j->along ? 0 : i * w.row[0])) * width;
            int32_t count;
            some = !j->along ? 1 : w.count - i < NNRTI_CPU_BLOCK ? w.count - i : NNRTI_CPU_BLOCK;
            nnrti_cpu_load_numbers(from, j->along ? w.row[0] : 1, j->x->dataType, order, j->along ? i : 0,
                                   j->along ? some : n, v);
            count = nnrti_cpu_groups(j->along ? some : n);
            run = nnrti_cpu_reduction_of(j->mode, v, count);
            if (j->along && some < NNRTI_CPU_BLOCK) {
                parts[1] = nnrti_cpu_fold(run, v, some);
                parts[0] = part ? nnrti_cpu_fold(run, parts, 2) : parts[1];
                part = true;
            } else if (whole) {
                run(sums, v, sums, count);
            } else {
                memcpy(sums, v, (size_t)count * sizeof(*v));
                whole = true;
            }
        }
    if (j->along && whole) {
        parts[1] = nnrti_cpu_fold(run, sums, NNRTI_CPU_BLOCK);
        parts[0] = part ? nnrti_cpu_fold(run, parts, 2) : parts[1];
    }
    if (j->along)
        sums[0] = parts[0];
}

/* Stores a reduction of `size` elements of x as an element of y: the low bits, or whether it is not 0. */
static void nnrti_cpu_store_reduction(const nnrti_cpu_reduce_job *j, int64_t sum, uint64_t size, const nnrt_view *y,
                                      ptrdiff_t at)
{
    const NNRT_DataType type = j->x->dataType;
    uint64_t v = (uint64_t)sum;
    if (j->mode == NNRT_REDUCE_MODE_MEAN)
        v = sum < 0 && type != NNRT_DATA_TYPE_UINT64 ? 0 - (0 - v) / size : v / size;
    if ((j->mode == NNRT_REDUCE_MODE_MAX || j->mode == NNRT_REDUCE_MODE_MIN) && type == NNRT_DATA_TYPE_UINT64)
        v ^= (uint64_t)1 << 63;
    if (y->dataType == NNRT_DATA_TYPE_BOOL)
        v = v != 0;
    switch (nnrt_type_size(y->dataType)) {
    case 1: ((uint8_t *)y->data)[at] = (uint8_t)v; break;
    case 2: ((uint16_t *)y->data)[at] = (uint16_t)v; break;
    case 4: ((uint32_t *)y->data)[at] = (uint32_t)v; break;
    default: ((uint64_t *)y->data)[at] = v;
    }
}

/* Reduces x over `axes`, in rows of adjacent lines if there are several. */
static void nnrti_cpu_reduce_integers(NNRT_ReduceMode mode, const nnrt_view *x, const nnrt_view *axes, const nnrt_view *y)
{
    int64_t sums[NNRTI_CPU_BLOCK];
    nnrti_cpu_reduce_job j;
    nnrt_view starts = *x;
    uint64_t size = 1;
    nnrt_walk w;
    for (int32_t k = 0; k < axes->dims[0]; k++)
        starts.dims[nnrt_load_index(axes, k * axes->strides[0])] = 1;
    j.mode = mode;
    j.x = x;
    j.set = *x;
    for (int32_t i = 0; i < x->rank; i++) {
        j.set.dims[i] = starts.dims[i] == x->dims[i] ? 1 : x->dims[i];
        size *= (uint64_t)j.set.dims[i];
    }
    for (bool more = nnrt_walk_first(&w, y, &starts, NULL); more; more = nnrt_walk_next(&w)) {
        j.along = w.row[1] != 1 || w.count < NNRTI_CPU_BLOCK / 8;
        for (int32_t c = 0, n; c < w.count; c += n) {
            n = j.along ? 1 : w.count - c < NNRTI_CPU_BLOCK ? w.count - c : NNRTI_CPU_BLOCK;
            nnrti_cpu_reduce_lines(&j, (const uint8_t *)x->data + (w.at[1] + c * w.row[1]) * (ptrdiff_t)nnrt_type_size(x->dataType),
                                   n, sums);
            for (int32_t k = 0; k < n; k++)
                nnrti_cpu_store_reduction(&j, sums[k], size, y, w.at[0] + (c + k) * w.row[0]);
        }
    }
}

/* REDUCE_FUSION, except L2. */
static NNRT_ReturnCode nnrti_cpu_reduce_any(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_ReduceFusion *const a = (const NNRT_ReduceFusion *)nnrti_cpu_attr_of_run(attr, call);
    const nnrt_view *const x = &args[0], *const axes = &args[call->nIn];
    nnrt_view *const y = &args[call->nIn + call->nDerived];
    const bool absolute = a->mode == NNRT_REDUCE_MODE_ASUM && x->dataType == NNRT_DATA_TYPE_UINT64;
    if (nnrt_view_empty(x))
        return nnrt_reduce_fusion(a, x, axes, y);
    nnrti_cpu_reduce_integers(absolute ? NNRT_REDUCE_MODE_SUM : a->mode, x, axes, y);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_all(const void *attr, nnrt_view *args, nnrt_call *call)
{
    if (nnrt_view_empty(&args[0]))
        return nnrt_all((const NNRT_All *)nnrti_cpu_attr_of_run(attr, call), &args[0], &args[call->nIn],
                        &args[call->nIn + call->nDerived]);
    nnrti_cpu_reduce_integers(NNRT_REDUCE_MODE_ALL, &args[0], &args[call->nIn], &args[call->nIn + call->nDerived]);
    return NNRT_SUCCESS;
}

/* MATMUL_FUSION and EINSUM of integers of 32 and 64 bits: sums of a row of z, a block of columns at a time. */
typedef struct nnrti_cpu_matmul_int_job {
    const nnrt_view *x, *y, *bias, *z;
    ptrdiff_t stepX[2], stepY[2]; /* of x: rows, terms; of y: terms, columns */
    int32_t K;
} nnrti_cpu_matmul_int_job;

/* z += a * y, count elements of `width` bytes. */
static void nnrti_cpu_multiply_add(void *z, const void *y, const void *a, size_t width, int32_t count)
{
    if (width == 4)
        nnrti_cpu_madd_32((uint32_t *)z, (const uint32_t *)y, *(const uint32_t *)a, count);
    else
        nnrti_cpu_madd_64((uint64_t *)z, (const uint64_t *)y, *(const uint64_t *)a, count);
}

static void nnrti_cpu_matmul_int_task(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_matmul_int_job *const j = (const nnrti_cpu_matmul_int_job *)arg;
    const nnrt_view *const z = j->z;
    const size_t size = nnrt_type_size(z->dataType);
    const ptrdiff_t width = (ptrdiff_t)size;
    const int32_t R = z->rank, N = z->dims[R - 1];
    uint64_t sums[NNRTI_CPU_BLOCK], room[NNRTI_CPU_BLOCK];
    ptrdiff_t from = 0, other = 0, to = 0;
    (void)worker;
    for (int32_t i = R - 2, rest = (int32_t)unit; i >= 0; rest /= z->dims[i], i--) {
        const int32_t place = rest % z->dims[i], p = i - (R - j->x->rank), q = i - (R - j->y->rank);
        to += place * z->strides[i];
        from += i == R - 2 ? place * j->stepX[0] : p >= 0 && j->x->dims[p] > 1 ? place * j->x->strides[p] : 0;
        other += i < R - 2 && q >= 0 && j->y->dims[q] > 1 ? place * j->y->strides[q] : 0;
    }
    for (int32_t c = 0, n; c < N; c += n) {
        const uint8_t *const y = (const uint8_t *)j->y->data + (other + c * j->stepY[1]) * width;
        n = N - c < NNRTI_CPU_BLOCK ? N - c : NNRTI_CPU_BLOCK;
        memset(sums, 0, sizeof(sums));
        for (int32_t k = 0; k < n && j->bias != NULL; k++)
            nnrti_cpu_copy_element(sums, k, j->bias->data, (c + k) * j->bias->strides[0], size);
        for (int32_t k = 0; k < j->K; k++) {
            const uint8_t *const row = y + k * j->stepY[0] * width;
            nnrti_cpu_multiply_add(sums, j->stepY[1] == 1 ? row : nnrti_cpu_block_of(row, j->stepY[1], size, 0, n, room),
                                   (const uint8_t *)j->x->data + (from + k * j->stepX[1]) * width, size, n);
        }
        for (int32_t k = 0; k < n; k++)
            nnrti_cpu_copy_element((uint8_t *)z->data + to * width, (c + k) * z->strides[R - 1], sums, k, size);
    }
}

static NNRT_ReturnCode nnrti_cpu_multiply_integers(const NNRT_MatMulFusion *a, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0], *const y = &args[1];
    nnrt_view *const z = &args[call->nIn + call->nDerived];
    const int32_t p = x->rank - 2, q = y->rank - 2;
    nnrti_cpu_matmul_int_job j;
    int64_t rows = 1;
    j.bias = call->nIn > 2 && args[2].dataType != NNRT_DATA_TYPE_UNKNOWN ? &args[2] : NULL;
    for (int32_t i = 0; i + 1 < z->rank; i++)
        rows *= z->dims[i];
    if (p < 0 || q < 0 || z->rank < 2 || rows > INT32_MAX || a->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        return nnrt_matmul_fusion_int(a, x, y, j.bias, z);
    j.x = x;
    j.y = y;
    j.z = z;
    j.K = x->dims[a->transposeA ? p : p + 1];
    j.stepX[0] = x->strides[a->transposeA ? p + 1 : p];
    j.stepX[1] = x->strides[a->transposeA ? p : p + 1];
    j.stepY[0] = y->strides[a->transposeB ? q + 1 : q];
    j.stepY[1] = y->strides[a->transposeB ? q : q + 1];
    nnrti_cpu_parallel_for(call, 4.0 * (double)rows * j.K * z->dims[z->rank - 1], (uint32_t)rows, nnrti_cpu_matmul_int_task,
                           &j);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_matmul_int(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return nnrti_cpu_multiply_integers((const NNRT_MatMulFusion *)nnrti_cpu_attr_of_run(attr, call), args, call);
}

/* EINSUM as a batched matrix multiplication (nnrti_cpu_lower_einsum), of which attr describes the operands. */
static NNRT_ReturnCode nnrti_cpu_einsum_int(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return nnrti_cpu_multiply_integers((const NNRT_MatMulFusion *)attr, args, call);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>portable */

/* Kernels that are compiled once, for all instruction sets: memory or the latency of single elements bounds them, so wider
   vectors would add code and no speed. Where vectors pay, they have the four lanes that each target has (nnrti_cpu_four).
   They have the arguments and attributes of the reference kernels, and those bits too, but for a fused multiply-add that
   the compiler may form; kernels of float32 serve float16 by widening (nnrti_cpu_lower_portable). */

#if defined(__GNUC__)
typedef float nnrti_cpu_four __attribute__((vector_size(16)));
typedef int32_t nnrti_cpu_four_bits __attribute__((vector_size(16)));
#endif

/* Adds `terms` rows of x, `step` apart, each times its factor, to the row y, in this order. */
static void nnrti_cpu_add_rows(float *y, const float *x, ptrdiff_t step, const float *w, int32_t terms, int32_t count)
{
    int32_t i = 0;
#if defined(__GNUC__)
    for (; i + 8 <= count; i += 8) {
        nnrti_cpu_four sum[2], v[2];
        memcpy(sum, y + i, sizeof(sum));
        for (int32_t t = 0; t < terms; t++) {
            memcpy(v, x + t * step + i, sizeof(v));
            sum[0] = sum[0] + v[0] * w[t];
            sum[1] = sum[1] + v[1] * w[t];
        }
        memcpy(y + i, sum, sizeof(sum));
    }
    for (; i + 4 <= count; i += 4) {
        nnrti_cpu_four sum, v;
        memcpy(&sum, y + i, sizeof(sum));
        for (int32_t t = 0; t < terms; t++) {
            memcpy(&v, x + t * step + i, sizeof(v));
            sum = sum + v * w[t];
        }
        memcpy(y + i, &sum, sizeof(sum));
    }
#endif
    for (; i < count; i++) {
        float sum = y[i];
        for (int32_t t = 0; t < terms; t++)
            sum += x[t * step + i] * w[t];
        y[i] = sum;
    }
}

/* ROTARY_EMBEDDING of float32. A work item is a head of a position. */
typedef struct nnrti_cpu_rotary_job {
    const NNRT_RotaryEmbedding *attr;
    const nnrt_view *args;
    const nnrt_view *y;
    int32_t axis; /* of the positions */
    int32_t D;    /* elements of a head */
} nnrti_cpu_rotary_job;

/* Rotates pairs (x[k], x[k + half]) of dense rows; y may be x. */
static void nnrti_cpu_rotate_halves(const float *x, const float *cosines, const float *sines, float *y, int32_t half)
{
    int32_t k = 0;
#if defined(__GNUC__)
    for (; k + 4 <= half; k += 4) {
        nnrti_cpu_four u, v, c, s, p, q;
        memcpy(&u, x + k, sizeof(u));
        memcpy(&v, x + half + k, sizeof(v));
        memcpy(&c, cosines + k, sizeof(c));
        memcpy(&s, sines + k, sizeof(s));
        p = c * u - s * v;
        q = s * u + c * v;
        memcpy(y + k, &p, sizeof(p));
        memcpy(y + half + k, &q, sizeof(q));
    }
#endif
    for (; k < half; k++) {
        const float u = x[k], v = x[half + k];
        y[k] = cosines[k] * u - sines[k] * v;
        y[half + k] = sines[k] * u + cosines[k] * v;
    }
}

static void nnrti_cpu_rotary_task(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_rotary_job *const j = (const nnrti_cpu_rotary_job *)arg;
    const nnrt_view *const x = &j->args[0], *const y = j->y, *const c = &j->args[1], *const s = &j->args[2];
    const nnrt_view *const ids = j->args[3].dataType != NNRT_DATA_TYPE_UNKNOWN ? &j->args[3] : NULL;
    const int32_t heads = (int32_t)j->attr->numHeads, half = (int32_t)j->attr->rotaryEmbeddingDim / 2;
    const int32_t row = (int32_t)i / heads, h = (int32_t)i % heads, S = x->dims[j->axis];
    const int32_t b = row / S, p = row % S, last = x->rank - 1;
    const ptrdiff_t dx = x->strides[last], dy = y->strides[last], dc = c->strides[c->rank - 1],
                    ds = s->strides[s->rank - 1];
    const float *const from = (const float *)x->data + (b * x->strides[0] + p * x->strides[j->axis] +
                                                        h * (j->axis == 2 ? x->strides[1] : j->D * dx));
    float *const to = (float *)y->data +
                      (b * y->strides[0] + p * y->strides[j->axis] + h * (j->axis == 2 ? y->strides[1] : j->D * dy));
    const ptrdiff_t id = ids != NULL ? (ptrdiff_t)nnrt_load_index(ids, b * ids->strides[0] + p * ids->strides[1]) : 0;
    const float *const cosines =
        (const float *)c->data + (ids != NULL ? id * c->strides[0] : b * c->strides[0] + p * c->strides[1]);
    const float *const sines =
        (const float *)s->data + (ids != NULL ? id * s->strides[0] : b * s->strides[0] + p * s->strides[1]);
    (void)worker;
    if (!j->attr->interleaved && dx == 1 && dy == 1 && dc == 1 && ds == 1)
        nnrti_cpu_rotate_halves(from, cosines, sines, to, half);
    else
        for (int32_t k = 0; k < half; k++) {
            const ptrdiff_t m = j->attr->interleaved ? 2 * k : k, n = j->attr->interleaved ? m + 1 : k + half;
            const float u = from[m * dx], v = from[n * dx], cosine = cosines[k * dc], sine = sines[k * ds];
            to[m * dy] = cosine * u - sine * v;
            to[n * dy] = sine * u + cosine * v;
        }
    for (int32_t k = 2 * half; k < j->D; k++)
        to[k * dy] = from[k * dx];
}

static NNRT_ReturnCode nnrti_cpu_rotary(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0], *const ids = call->nIn > 3 && args[3].dataType != NNRT_DATA_TYPE_UNKNOWN
                                                          ? &args[3]
                                                          : NULL;
    nnrt_view in[4];
    nnrti_cpu_rotary_job j;
    memset(in, 0, sizeof(in));
    memcpy(in, args, (call->nIn < 4 ? call->nIn : 4) * sizeof(in[0]));
    j.attr = (const NNRT_RotaryEmbedding *)nnrti_cpu_attr_of_run(attr, call);
    j.args = in;
    j.y = &args[call->nIn + call->nDerived];
    j.axis = x->rank == 4 ? 2 : 1;
    j.D = x->dims[x->rank - 1] / (x->rank == 4 ? 1 : (int32_t)j.attr->numHeads);
    for (int32_t b = 0; ids != NULL && b < x->dims[0]; b++)
        for (int32_t p = 0; p < x->dims[j.axis]; p++) {
            const int64_t id = nnrt_load_index(ids, b * ids->strides[0] + p * ids->strides[1]);
            if (id < 0 || id >= args[1].dims[0]) /* which it reports */
                return nnrt_rotary_embedding(j.attr, x, &args[1], &args[2], ids, &args[call->nIn + call->nDerived],
                                             call);
        }
    nnrti_cpu_parallel_for(call, 8.0 * x->dims[0] * x->dims[j.axis] * (double)j.attr->numHeads * j.D,
                           (uint32_t)(x->dims[0] * x->dims[j.axis] * (int32_t)j.attr->numHeads), nnrti_cpu_rotary_task,
                           &j);
    return NNRT_SUCCESS;
}

/* COL2IM of float32: adds the blocks to a channel of the image, element by element of a block, as the reference kernel
   sums them. */
typedef struct nnrti_cpu_col2im_job {
    const NNRT_Col2Im *attr;
    const nnrt_view *x, *y;
    int32_t axes, K;
    int32_t size[NNRT_MAX_RANK], blocks[NNRT_MAX_RANK]; /* of a block; number of blocks */
} nnrti_cpu_col2im_job;

/* Adds element `cell` of all blocks, whose values are x, to the image y. */
static void nnrti_cpu_add_blocks(const nnrti_cpu_col2im_job *j, const int32_t *cell, const float *x, float *y)
{
    const int32_t last = j->axes - 1;
    const int64_t *const stride = j->attr->strides.data;
    const ptrdiff_t dx = j->x->strides[2], dy = j->y->strides[2 + last] * (ptrdiff_t)stride[last];
    int32_t first[NNRT_MAX_RANK], end[NNRT_MAX_RANK], block[NNRT_MAX_RANK], axis;
    int64_t start[NNRT_MAX_RANK];
    for (int32_t i = 0; i < j->axes; i++) {
        start[i] = cell[i] * j->attr->dilations.data[i] - j->attr->pads.data[i];
        nnrti_cpu_valid_range(start[i], stride[i], j->blocks[i], j->y->dims[2 + i], &first[i], &end[i]);
        if (first[i] >= end[i])
            return;
        block[i] = first[i];
    }
    do {
        ptrdiff_t from = 0, to = 0;
        for (int32_t i = 0; i < j->axes; i++) {
            from = from * j->blocks[i] + block[i];
            to += (ptrdiff_t)(start[i] + block[i] * stride[i]) * j->y->strides[2 + i];
        }
        if (dx == 1 && dy == 1) {
            const float one = 1;
            nnrti_cpu_add_rows(y + to, x + from, 0, &one, 1, end[last] - first[last]);
        } else {
            for (int32_t n = 0; n < end[last] - first[last]; n++)
                y[to + n * dy] += x[(from + n) * dx];
        }
        for (axis = last - 1; axis >= 0 && ++block[axis] == end[axis]; axis--)
            block[axis] = first[axis];
    } while (axis >= 0);
}

static void nnrti_cpu_col2im_task(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_col2im_job *const j = (const nnrti_cpu_col2im_job *)arg;
    const int32_t n = (int32_t)unit / j->y->dims[1], c = (int32_t)unit % j->y->dims[1];
    int32_t cell[NNRT_MAX_RANK] = {0};
    nnrt_view plane = *j->y;
    nnrt_walk w;
    (void)worker;
    plane.rank = j->axes;
    memmove(plane.dims, plane.dims + 2, (size_t)j->axes * sizeof(plane.dims[0]));
    memmove(plane.strides, plane.strides + 2, (size_t)j->axes * sizeof(plane.strides[0]));
    plane.data = (float *)plane.data + (n * j->y->strides[0] + c * j->y->strides[1]);
    for (bool more = nnrt_walk_first(&w, &plane, NULL, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t i = 0; i < w.count; i++)
            ((float *)plane.data)[w.at[0] + i * w.row[0]] = 0;
    for (int32_t k = 0; k < j->K; k++) {
        const float *const x =
            (const float *)j->x->data + (n * j->x->strides[0] + ((ptrdiff_t)c * j->K + k) * j->x->strides[1]);
        nnrti_cpu_add_blocks(j, cell, x, (float *)plane.data);
        for (int32_t i = j->axes - 1; i >= 0 && ++cell[i] == j->size[i]; i--)
            cell[i] = 0;
    }
}

static NNRT_ReturnCode nnrti_cpu_col2im(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_col2im_job j;
    j.attr = (const NNRT_Col2Im *)attr;
    j.x = &args[0];
    j.y = &args[call->nIn + call->nDerived];
    j.axes = j.y->rank - 2;
    j.K = 1;
    for (int32_t i = 0; i < j.axes; i++) {
        const int64_t room = j.y->dims[2 + i] + j.attr->pads.data[i] + j.attr->pads.data[j.axes + i];
        int64_t reach;
        j.size[i] = (int32_t)nnrt_load_index(&args[2], i * args[2].strides[0]);
        reach = (j.size[i] - 1) * j.attr->dilations.data[i] + 1;
        j.blocks[i] = room < reach ? 0 : (int32_t)((room - reach) / j.attr->strides.data[i]) + 1;
        j.K *= j.size[i];
    }
    nnrti_cpu_parallel_for(call, 8.0 * j.x->dims[0] * j.x->dims[1] * j.x->dims[2],
                           (uint32_t)(j.y->dims[0] * j.y->dims[1]), nnrti_cpu_col2im_task, &j);
    return NNRT_SUCCESS;
}

/* CONV_TRANSPOSE_3D of float32: a slice of a channel of y is summed in scratch, filter tap by filter tap, each the channels
   of x, as the reference kernel does. Columns of y that are the stride apart are adjacent there, so that rows of x are
   added to rows. */
typedef struct nnrti_cpu_conv_transpose_job {
    const NNRT_ConvTranspose3D *attr;
    const nnrt_view *x, *w, *y;
    const float *bias;
    ptrdiff_t nextBias;
    const nnrt_call *call;
    int32_t room; /* columns of y of the same phase */
} nnrti_cpu_conv_transpose_job;

/* Adds the taps of row `tap` of the filter, which brings row x to row `sums`. */
static void nnrti_cpu_add_taps(const nnrti_cpu_conv_transpose_job *j, const float *x, const float *w, float *sums)
{
    const int64_t step = j->attr->strides.data[2], pad = j->attr->pads.data[2];
    const int32_t channels = j->w->dims[0] / (int32_t)j->attr->group;
    for (int32_t k = 0; k < j->w->dims[4]; k++) {
        const int64_t start = k * j->attr->dilations.data[2] - pad;
        int32_t first, end;
        float factors[8];
        nnrti_cpu_valid_range(start, step, j->x->dims[4], j->y->dims[4], &first, &end);
        for (int32_t c = 0, n; c < channels && first < end; c += n) {
            const int64_t at = start + first * step;
            n = channels - c < 8 ? channels - c : 8;
            for (int32_t t = 0; t < n; t++)
                factors[t] = w[(c + t) * j->w->strides[0] + k * j->w->strides[4]];
            nnrti_cpu_add_rows(sums + (at % step * j->room + at / step), x + c * j->x->strides[1] + first,
                               j->x->strides[1], factors, n, end - first);
        }
    }
}

static void nnrti_cpu_conv_transpose_task(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_conv_transpose_job *const j = (const nnrti_cpu_conv_transpose_job *)arg;
    const nnrt_view *const x = j->x, *const y = j->y, *const w = j->w;
    const int64_t *const s = j->attr->strides.data, *const dilation = j->attr->dilations.data,
                         *const pad = j->attr->pads.data;
    const int32_t D = y->dims[2], C = y->dims[1], H = y->dims[3], step = (int32_t)s[2];
    const int32_t d = (int32_t)unit % D, o = (int32_t)unit / D % C, n = (int32_t)unit / D / C;
    const int32_t group = o / w->dims[1], channels = w->dims[0] / (int32_t)j->attr->group;
    const ptrdiff_t row = (ptrdiff_t)step * j->room;
    const float bias = j->bias != NULL ? j->bias[o * j->nextBias] : 0;
    float *const sums = (float *)nnrti_cpu_scratch(j->call, worker);
    float *const to = (float *)y->data + (n * y->strides[0] + o * y->strides[1] + d * y->strides[2]);
    for (ptrdiff_t i = 0; i < H * row; i++)
        sums[i] = bias;
    for (int32_t i = 0; i < w->dims[2]; i++) {
        const int64_t depth = d + pad[0] - i * dilation[0];
        if (depth < 0 || depth % s[0] != 0 || depth / s[0] >= x->dims[2])
            continue;
        for (int32_t k = 0; k < w->dims[3]; k++)
            for (int32_t h = 0; h < H; h++) {
                const int64_t line = h + pad[1] - k * dilation[1];
                if (line < 0 || line % s[1] != 0 || line / s[1] >= x->dims[3])
                    continue;
                nnrti_cpu_add_taps(
                    j,
                    (const float *)x->data +
                        (n * x->strides[0] + (ptrdiff_t)group * channels * x->strides[1] +
                         (ptrdiff_t)(depth / s[0]) * x->strides[2] + (ptrdiff_t)(line / s[1]) * x->strides[3]),
                    (const float *)w->data + ((ptrdiff_t)group * channels * w->strides[0] +
                                              o % w->dims[1] * w->strides[1] + i * w->strides[2] + k * w->strides[3]),
                    sums + h * row);
            }
    }
    for (int32_t h = 0; h < H; h++)
        for (int32_t p = 0; p < step; p++)
            for (int32_t q = p, t = 0; q < y->dims[4]; q += step, t++)
                to[h * y->strides[3] + q * y->strides[4]] = sums[h * row + (ptrdiff_t)p * j->room + t];
}

static NNRT_ReturnCode nnrti_cpu_conv_transpose(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const bias = call->nIn > 2 && args[2].dataType != NNRT_DATA_TYPE_UNKNOWN ? &args[2] : NULL;
    nnrti_cpu_conv_transpose_job j;
    j.attr = (const NNRT_ConvTranspose3D *)attr;
    j.x = &args[0];
    j.w = &args[1];
    j.y = &args[call->nIn + call->nDerived];
    j.bias = bias != NULL ? (const float *)bias->data : NULL;
    j.nextBias = bias != NULL ? bias->strides[0] : 0;
    j.call = call;
    j.room = (int32_t)((j.y->dims[4] - 1) / j.attr->strides.data[2]) + 1;
    nnrti_cpu_parallel_for(call,
                           4.0 * j.x->dims[0] * j.x->dims[1] * j.x->dims[2] * j.x->dims[3] * j.x->dims[4] *
                               j.w->dims[1] * j.w->dims[2] * j.w->dims[3] * j.w->dims[4],
                           (uint32_t)(j.y->dims[0] * j.y->dims[1] * j.y->dims[2]), nnrti_cpu_conv_transpose_task, &j);
    return NNRT_SUCCESS;
}

/* y = x, broadcast to the dimensions of y. */
static void nnrti_cpu_spread_view(const nnrt_view *x, const nnrt_view *y)
{
    const size_t width = nnrt_type_size(y->dataType);
    nnrt_walk w;
    for (bool more = nnrt_walk_first(&w, y, x, NULL); more; more = nnrt_walk_next(&w)) {
        const uint8_t *const from = (const uint8_t *)x->data + w.at[1] * (ptrdiff_t)width;
        uint8_t *const to = (uint8_t *)y->data + w.at[0] * (ptrdiff_t)width;
        if (w.row[0] == 1 && w.row[1] == 1) {
            memcpy(to, from, (size_t)w.count * width);
        } else if (w.row[0] == 1 && w.row[1] == 0) {
            memcpy(to, from, width);
            nnrti_cpu_repeat(to, width, (size_t)w.count);
        } else {
            for (int32_t i = 0; i < w.count; i++)
                nnrti_cpu_copy_element(to, i * w.row[0], from, i * w.row[1], width);
        }
    }
}

/* FILL and BROADCAST_TO. */
static NNRT_ReturnCode nnrti_cpu_spread(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const y = &args[call->nIn + call->nDerived];
    (void)attr;
    if (!nnrt_view_empty(y))
        nnrti_cpu_spread_view(&args[0], y);
    return NNRT_SUCCESS;
}

/* FILL_LIKE and CONSTANT_OF_SHAPE, whose value is the last argument before y. */
static NNRT_ReturnCode nnrti_cpu_fill(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const y = &args[call->nIn + call->nDerived];
    (void)attr;
    if (!nnrt_view_empty(y))
        nnrti_cpu_spread_view(y - 1, y);
    return NNRT_SUCCESS;
}

/* PAD_FUSION with a constant. */
static NNRT_ReturnCode nnrti_cpu_pad(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_Int64List *const pads = ((const NNRT_PadFusion *)nnrti_cpu_attr_of_run(attr, call))->paddings.data;
    const nnrt_view *const x = &args[0], *const y = &args[call->nIn + call->nDerived];
    const bool given = call->nIn > 2 && args[2].dataType != NNRT_DATA_TYPE_UNKNOWN;
    nnrt_view inner = *y;
    for (int32_t i = 0; i < x->rank; i++) {
        inner.data = (uint8_t *)inner.data + (ptrdiff_t)pads[i].data[0] * y->strides[i] * (ptrdiff_t)nnrt_type_size(y->dataType);
        inner.dims[i] = x->dims[i];
    }
    nnrti_cpu_spread_view(given ? &args[2] : &args[call->nIn], y);
    if (!nnrt_view_empty(x))
        nnrti_cpu_spread_view(x, &inner);
    return NNRT_SUCCESS;
}

/* The place of the first of the largest numbers of a line; NaN is smallest. */
static int32_t nnrti_cpu_first_largest(const float *x, ptrdiff_t step, int32_t L)
{
    float best = -INFINITY;
    int32_t i = 0;
#if defined(__GNUC__)
    float lanes[4];
    nnrti_cpu_four most = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, v;
    for (; step == 1 && i + 4 <= L; i += 4) {
        nnrti_cpu_four_bits above;
        memcpy(&v, x + i, sizeof(v));
        above = (nnrti_cpu_four_bits)(v > most);
        most = (nnrti_cpu_four)((above & (nnrti_cpu_four_bits)v) | (~above & (nnrti_cpu_four_bits)most));
    }
    memcpy(lanes, &most, sizeof(lanes));
    for (int32_t k = 0; k < 4; k++)
        best = lanes[k] > best ? lanes[k] : best;
#endif
    for (; i < L; i++)
        best = x[i * step] > best ? x[i * step] : best;
    for (i = 0; i < L && x[i * step] != best;)
        i++;
    return i < L ? i : 0;
}

/* HARDMAX of float32. */
static NNRT_ReturnCode nnrti_cpu_hardmax(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const int32_t axis = (int32_t)((const NNRT_Hardmax *)nnrti_cpu_attr_of_run(attr, call))->axis, L = args[0].dims[axis];
    const nnrt_view from = nnrti_cpu_line_starts(&args[0], axis), to = nnrti_cpu_line_starts(&args[1], axis);
    const ptrdiff_t in = args[0].strides[axis], out = args[1].strides[axis];
    nnrt_walk w;
    for (bool more = nnrt_walk_first(&w, &to, &from, NULL); more; more = nnrt_walk_next(&w))
        for (int32_t k = 0; k < w.count; k++) {
            float *const y = (float *)to.data + w.at[0] + k * w.row[0];
            const int32_t first = nnrti_cpu_first_largest((const float *)from.data + w.at[1] + k * w.row[1], in, L);
            for (int32_t i = 0; i < L && out != 1; i++)
                y[i * out] = 0;
            if (out == 1)
                memset(y, 0, (size_t)L * sizeof(*y));
            y[first * out] = 1;
        }
    return NNRT_SUCCESS;
}

/* RESIZE_ND, one axis after the other: a row of y is a sum of rows of x that were resampled along the last axis, of which
   the last few are kept. Each sum is that of the reference kernel. NEAREST moves elements of any type. */
#define NNRTI_CPU_RESIZE_ROWS                                                                                          \
    8 /* resampled rows that are kept, by the indices of the axes before the last: a power of two */
#define NNRTI_CPU_RESIZE_BYTES (1 << 22) /* most scratch; longer axes keep the reference kernel */

/* The taps of an axis; index i has the taps start[i] to start[i + 1] - 1. */
typedef struct nnrti_cpu_resize_axis {
    int32_t *start, *index; /* index: offset in x; -1: outside x */
    float *weight;
    bool same; /* y has the indices of x */
} nnrti_cpu_resize_axis;

typedef struct nnrti_cpu_resize_nd_job {
    const NNRT_ResizeND *attr;
    const nnrt_view *x, *y;
    const nnrt_call *call;
    nnrti_cpu_resize_axis axes[NNRT_MAX_RANK];
    int64_t rows;
    int32_t band;  /* rows of a work item */
    size_t tables; /* bytes of scratch before the rows */
} nnrti_cpu_resize_nd_job;

/* Of a work item: the indices of the row of y, and the rows that were resampled, each with its offset in x. */
typedef struct nnrti_cpu_resize_rows {
    int32_t place[NNRT_MAX_RANK];
    ptrdiff_t kept[NNRTI_CPU_RESIZE_ROWS];
    float *room;
} nnrti_cpu_resize_rows;

static int64_t nnrti_cpu_resize_axis_taps(const NNRT_ResizeND *attr, int64_t L, int64_t M)
{
    return attr->mode == NNRT_RESIZE_METHOD_NEAREST
               ? M
               : (attr->mode == NNRT_RESIZE_METHOD_CUBIC ? 4 : 2) * M + (attr->antialias != 0 ? 4 * L + 2 * M : 0);
}

/* Bytes of the tables and rows of a worker. They grow with each dimension. */
static size_t nnrti_cpu_resize_nd_bytes(const NNRT_ResizeND *attr, const nnrt_view *x, const nnrt_view *y,
                                        size_t *tables)
{
    int64_t words = 0;
    for (int32_t i = 0; i < x->rank; i++)
        words += y->dims[i] + 1 + 2 * nnrti_cpu_resize_axis_taps(attr, x->dims[i], y->dims[i]);
    *tables = ((size_t)words * 4 + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    if (attr->mode == NNRT_RESIZE_METHOD_NEAREST)
        return *tables;
    return *tables + (size_t)(NNRTI_CPU_RESIZE_ROWS + x->rank) * (size_t)y->dims[y->rank - 1] * sizeof(float);
}

/* Fills the tables; false: they have no room for an axis. */
static bool nnrti_cpu_resize_nd_tables(nnrti_cpu_resize_nd_job *j, const double *steps, int32_t *words)
{
    for (int32_t i = 0; i < j->x->rank; i++, steps += 5) {
        nnrti_cpu_resize_axis *const a = &j->axes[i];
        const int32_t L = j->x->dims[i], M = j->y->dims[i];
        const int32_t room = (int32_t)nnrti_cpu_resize_axis_taps(j->attr, L, M);
        int32_t n = 0;
        a->start = words;
        a->index = words + M + 1;
        a->weight = (float *)(void *)(a->index + room);
        words = a->index + 2 * room;
        a->same = i + 1 < j->x->rank && L == M && steps[0] == 0 && steps[1] == 1 && steps[2] == 1 && steps[3] == 0 &&
                  steps[4] == 1;
        for (int32_t k = 0; k < M && !a->same; k++) {
            const int32_t some = nnrt_resize_nd_taps(j->attr, k, L, steps, room - n, a->index + n, a->weight + n);
            if (some > room - n || n == room)
                return false;
            a->start[k] = n;
            for (int32_t t = 0; t < some; t++)
                a->index[n + t] *= (int32_t)j->x->strides[i];
            if (some < 0)
                a->index[n] = -1;
            n += some < 0 ? 1 : some;
            a->start[k + 1] = n;
        }
    }
    return true;
}

/* The row of x at this offset, resampled along the last axis. */
static const float *nnrti_cpu_resampled_row(const nnrti_cpu_resize_nd_job *j, nnrti_cpu_resize_rows *r, ptrdiff_t at,
                                            int32_t slot)
{
    const nnrti_cpu_resize_axis *const a = &j->axes[j->x->rank - 1];
    const int32_t M = j->y->dims[j->x->rank - 1];
    const float *const x = (const float *)j->x->data + at;
    float *const row = r->room + (ptrdiff_t)slot * M;
    if (r->kept[slot] == at)
        return row;
    r->kept[slot] = at;
    for (int32_t k = 0; k < M; k++) {
        const int32_t end = a->start[k + 1];
        int32_t t = a->start[k];
        float sum = 0;
        if (t < end && a->index[t] >= 0)
            sum = x[a->index[t]] * a->weight[t];
        for (t++; t < end; t++)
            sum += x[a->index[t]] * a->weight[t];
        row[k] = sum;
    }
    return row;
}

/* Which kept row is that of index `place` of an axis, if those before it chose `slot`: adjacent places of the last axes have
   different ones. */
static int32_t nnrti_cpu_resize_slot(int32_t slot, ptrdiff_t place)
{
    return (int32_t)((2 * slot + place) & (NNRTI_CPU_RESIZE_ROWS - 1));
}

/* The sum over the taps of `axis` and of all later axes. slot: of the rows that are kept. */
static const float *nnrti_cpu_resize_sum(const nnrti_cpu_resize_nd_job *j, nnrti_cpu_resize_rows *r, int32_t axis,
                                         ptrdiff_t at, int32_t slot)
{
    const nnrti_cpu_resize_axis *const a = &j->axes[axis];
    const int32_t last = j->x->rank - 1, M = j->y->dims[last], place = r->place[axis];
    const ptrdiff_t stride = j->x->strides[axis] != 0 ? j->x->strides[axis] : 1;
    float *const sum = r->room + (ptrdiff_t)(NNRTI_CPU_RESIZE_ROWS + axis) * M;
    int32_t t, end;
    if (axis == last)
        return nnrti_cpu_resampled_row(j, r, at, slot);
    if (a->same)
        return nnrti_cpu_resize_sum(j, r, axis + 1, at + place * j->x->strides[axis],
                                    nnrti_cpu_resize_slot(slot, place));
    t = a->start[place];
    end = a->start[place + 1];
    if (end - t == 1 && a->weight[t] == 1)
        return nnrti_cpu_resize_sum(j, r, axis + 1, at + a->index[t],
                                    nnrti_cpu_resize_slot(slot, a->index[t] / stride));
    for (int32_t k = 0; k < M && t == end; k++)
        sum[k] = 0;
    for (int32_t first = t; t < end; t++) {
        const float *const row =
            nnrti_cpu_resize_sum(j, r, axis + 1, at + a->index[t], nnrti_cpu_resize_slot(slot, a->index[t] / stride));
        if (t == first)
            for (int32_t k = 0; k < M; k++)
                sum[k] = row[k] * a->weight[t];
        else
            nnrti_cpu_add_rows(sum, row, 0, &a->weight[t], 1, M);
    }
    return sum;
}

/* A row of y by NEAREST, from the row of x at this offset. */
static void nnrti_cpu_nearest_row(const nnrti_cpu_resize_nd_job *j, ptrdiff_t at, ptrdiff_t to)
{
    const int32_t *const index = j->axes[j->x->rank - 1].index;
    const int32_t M = j->y->dims[j->x->rank - 1];
    switch (nnrt_type_size(j->x->dataType)) {
#define NNRTI_CPU_NEAREST(T)                                                                                           \
    for (int32_t k = 0; k < M; k++)                                                                                    \
        ((T *)j->y->data)[to + k] = ((const T *)j->x->data)[at + index[k]];                                            \
    break;
    case 1: NNRTI_CPU_NEAREST(uint8_t)
    case 2: NNRTI_CPU_NEAREST(uint16_t)
    case 4: NNRTI_CPU_NEAREST(uint32_t)
    default: NNRTI_CPU_NEAREST(uint64_t)
#undef NNRTI_CPU_NEAREST
    }
}

/* Row r->place of y, at offset `to`. */
static void nnrti_cpu_resize_nd_row(const nnrti_cpu_resize_nd_job *j, nnrti_cpu_resize_rows *r, ptrdiff_t to)
{
    const int32_t last = j->x->rank - 1, M = j->y->dims[last];
    const nnrti_cpu_resize_axis *const a = j->axes;
    const bool nearest = j->attr->mode == NNRT_RESIZE_METHOD_NEAREST;
    float *const y = nearest ? NULL : (float *)j->y->data + to;
    const float *row;
    ptrdiff_t at = 0;
    for (int32_t i = 0; i < last; i++) {
        const int32_t tap = a[i].same ? 0 : a[i].start[r->place[i]];
        if (!a[i].same && a[i].index[tap] < 0 && tap < a[i].start[r->place[i] + 1]) { /* outside x */
            for (int32_t k = 0; k < M; k++)
                y[k] = j->attr->extrapolationValue;
            return;
        }
        at += a[i].same ? r->place[i] * j->x->strides[i] : a[i].index[tap];
    }
    if (nearest) {
        nnrti_cpu_nearest_row(j, at, to);
        return;
    }
    row = nnrti_cpu_resize_sum(j, r, 0, 0, 0);
    memcpy(y, row, (size_t)M * sizeof(*y));
    for (int32_t k = 0; k < M && j->attr->coordinateTransformationMode == NNRT_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
         k++)
        if (a[last].index[a[last].start[k]] < 0 && a[last].start[k] < a[last].start[k + 1])
            y[k] = j->attr->extrapolationValue;
}

/* Work item: a band of rows. */
static void nnrti_cpu_resize_nd_task(void *arg, uint32_t unit, uint32_t worker)
{
    const nnrti_cpu_resize_nd_job *const j = (const nnrti_cpu_resize_nd_job *)arg;
    const int32_t last = j->x->rank - 1;
    int64_t first = (int64_t)unit * j->band, rest = first;
    const int64_t end = first + j->band < j->rows ? first + j->band : j->rows;
    nnrti_cpu_resize_rows r;
    r.room = (float *)(void *)((uint8_t *)nnrti_cpu_scratch(j->call, worker) + j->tables);
    for (int32_t k = 0; k < NNRTI_CPU_RESIZE_ROWS; k++)
        r.kept[k] = -1;
    for (int32_t i = last - 1; i >= 0; rest /= j->y->dims[i], i--)
        r.place[i] = (int32_t)(rest % j->y->dims[i]);
    for (; first < end; first++) {
        ptrdiff_t to = 0;
        for (int32_t i = 0; i < last; i++)
            to += r.place[i] * j->y->strides[i];
        nnrti_cpu_resize_nd_row(j, &r, to);
        for (int32_t i = last - 1; i >= 0 && ++r.place[i] == j->y->dims[i]; i--)
            r.place[i] = 0;
    }
}

static NNRT_ReturnCode nnrti_cpu_resize_nd(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const step = &args[call->nIn];
    nnrt_view *const y = &args[call->nIn + call->nDerived];
    nnrti_cpu_resize_nd_job j;
    const int32_t last = y->rank - 1;
    j.attr = (const NNRT_ResizeND *)attr;
    j.x = &args[0];
    j.y = y;
    j.call = call;
    if (y->rank == 0 || nnrt_view_empty(y) || (y->strides[last] != 1 && y->dims[last] > 1) || call->scratch == NULL ||
        call->scratchBytes < nnrti_cpu_resize_nd_bytes(j.attr, j.x, y, &j.tables) ||
        !nnrti_cpu_resize_nd_tables(&j, (const double *)step->data, (int32_t *)call->scratch))
        return nnrt_resize_nd(j.attr, j.x, step, y);
    j.rows = 1;
    for (int32_t i = 0; i < last; i++)
        j.rows *= y->dims[i];
    j.band = 16384 / y->dims[last] + 1;
    nnrti_cpu_parallel_for(call, 32.0 * (double)j.rows * y->dims[last], (uint32_t)((j.rows + j.band - 1) / j.band),
                           nnrti_cpu_resize_nd_task, &j);
    return NNRT_SUCCESS;
}

#if NNRTI_CPU_OBJECT != 1
#if NNRT_CPU_AVX512
#define NNRTI_CPU_ISA avx512
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#define NNRTI_CPU_ISA avx512vnni
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif
#if NNRT_CPU_AVX2
#define NNRTI_CPU_ISA avx2
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#define NNRTI_CPU_ISA avx2pairs
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif
#if defined(__aarch64__) && defined(__GNUC__)
#define NNRTI_CPU_ISA neon
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif
#if NNRT_CPU_DOTPROD
#define NNRTI_CPU_ISA dotprod
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif
#if NNRT_CPU_FP16
#define NNRTI_CPU_ISA fp16
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif
#if NNRT_CPU_I8MM
#define NNRTI_CPU_ISA i8mm
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif
#if NNRT_CPU_RELAXED
/* c[i] + the sum of w[4i+k] * x[4i+k], k from 0 to 3, with w as int8. The WebAssembly engine chooses, once for all, whether
   it reads x as uint8 (VNNI) or as int8 (SDOT), and whether sums of two products saturate or wrap at 16 bits (SSSE3). */
#ifndef NNRT_CPU_RELAXED_DOT /* a test defines it, to emulate each choice */
#define NNRT_CPU_RELAXED_DOT(w, x, c) wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, x, c)
#endif
#define NNRTI_CPU_ISA simd128
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#define NNRTI_CPU_ISA relaxed
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#elif defined(__wasm_simd128__)
#define NNRTI_CPU_ISA simd128
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#elif defined(__GNUC__) && NNRTI_CPU_PORTABLE
#define NNRTI_CPU_ISA vector
#include "nnrt_cpu_kernels.h"
#undef NNRTI_CPU_ISA
#endif

NNRTI_CPU_SHARED const nnrti_cpu_isa *const nnrti_cpu_isas[NNRTI_CPU_ISAS] = {
#if NNRT_CPU_AVX512
    &nnrti_cpu_isa_avx512vnni,
    &nnrti_cpu_isa_avx512,
#endif
#if NNRT_CPU_AVX2
    &nnrti_cpu_isa_avx2,
#endif
#if NNRT_CPU_I8MM
    &nnrti_cpu_isa_i8mm,
#endif
#if NNRT_CPU_FP16
    &nnrti_cpu_isa_fp16,
#endif
#if NNRT_CPU_DOTPROD
    &nnrti_cpu_isa_dotprod,
#endif
#if defined(__aarch64__) && defined(__GNUC__)
    &nnrti_cpu_isa_neon,
#endif
#if NNRT_CPU_RELAXED
    &nnrti_cpu_isa_relaxed,
#endif
#if defined(__wasm_simd128__)
    &nnrti_cpu_isa_simd128,
#elif defined(__GNUC__) && NNRTI_CPU_PORTABLE
    &nnrti_cpu_isa_vector,
#endif
    NULL};

#if NNRT_CPU_AVX2
/* Not every compiler knows this feature by name. */
static bool nnrti_cpu_has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & 1u << 29) != 0;
}
#endif

#if NNRT_CPU_DOTPROD
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__APPLE__) /* not by their headers, which need types that strict C modes hide */
int sysctlbyname(const char *name, void *value, size_t *bytes, void *set, size_t setBytes);
#elif defined(_WIN32)
__declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature);
#endif
#ifdef __cplusplus
}
#endif
/* Whether the processor has a feature, as the operating system reports, if it has a function for that: a bit of
   AT_HWCAP (16) or AT_HWCAP2 (26), the name of Apple's systems, the number of Windows. */
static bool nnrti_cpu_has_feature(unsigned long word, uint32_t bit, const char *name, unsigned long number)
{
    (void)word;
    (void)bit;
    (void)name;
    (void)number;
#if defined(NNRTI_CPU_AUXV)
    return (getauxval(word) >> bit & 1) != 0;
#elif defined(__APPLE__)
    int has = 0;
    size_t bytes = sizeof(has);
    return sysctlbyname(name, &has, &bytes, NULL, 0) == 0 && has != 0;
#elif defined(_WIN32)
    return IsProcessorFeaturePresent(number) != 0;
#else
    return false;
#endif
}

/* SDOT (FEAT_DotProd), float16 arithmetic (FEAT_FP16) and SMMLA (FEAT_I8MM): a processor has them because the
   compiler's target has, or as the operating system reports. */
static bool nnrti_cpu_has_dotprod(void)
{
#if defined(__ARM_FEATURE_DOTPROD)
    return true;
#else
    return nnrti_cpu_has_feature(16, 20, "hw.optional.arm.FEAT_DotProd", 43);
#endif
}

#if NNRT_CPU_FP16
static bool nnrti_cpu_has_fp16(void)
{
#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
    return nnrti_cpu_has_dotprod();
#else
    return nnrti_cpu_has_dotprod() && nnrti_cpu_has_feature(16, 10, "hw.optional.arm.FEAT_FP16", 67);
#endif
}
#endif

#if NNRT_CPU_I8MM
static bool nnrti_cpu_has_i8mm(void)
{
#if NNRT_CPU_FP16
    const bool other = nnrti_cpu_has_fp16(); /* all known processors with SMMLA have both */
#else
    const bool other = nnrti_cpu_has_dotprod();
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
    return other;
#else
    return other && nnrti_cpu_has_feature(26, 13, "hw.optional.arm.FEAT_I8MM", 66);
#endif
}
#endif
#endif

#if defined(__wasm_simd128__)
/* The XOR mask between uint8 and the operands x of the relaxed dot product: 0 if the engine reads uint8, 0x80 if int8. */
NNRTI_CPU_SHARED int32_t nnrti_cpu_dot_sign(void)
{
#if NNRT_CPU_RELAXED
    const v128_t y = NNRT_CPU_RELAXED_DOT(wasm_i8x16_splat(1), wasm_i8x16_splat(INT8_MIN), wasm_i32x4_splat(0));
    return wasm_i32x4_extract_lane(y, 0) < 0 ? 0x80 : 0;
#else
    return 0;
#endif
}
#endif

#if NNRT_CPU_RELAXED
/* Whether the relaxed dot product is exact for all operands of that type. Only sums of two products of extreme operands
   can exceed 16 bits, so these decide. An engine that is not exact has no faster instruction for it either. */
static bool nnrti_cpu_is_dot_exact(void)
{
    static const int32_t w[3] = {INT8_MIN, INT8_MAX, -1}, extremes[4] = {0, 127, 128, 255};
    const int32_t sign = nnrti_cpu_dot_sign();
    for (int32_t i = 0; i < 144; i++) {
        const int32_t w0 = w[i % 3], w1 = w[i / 3 % 3], x0 = extremes[i / 9 % 4], x1 = extremes[i / 36];
        const v128_t weights = wasm_i16x8_splat((int16_t)((w0 & 255) | w1 * 256));
        const v128_t x = wasm_i16x8_splat((int16_t)((x0 ^ sign) | ((x1 ^ sign) << 8)));
        const v128_t y = NNRT_CPU_RELAXED_DOT(weights, x, wasm_i32x4_make(i, -i, 1 << 30, -5)); /* w * x with x - sign */
        const int32_t sum = 2 * (w0 * (x0 - sign) + w1 * (x1 - sign));
        if (!wasm_i32x4_all_true(wasm_i32x4_eq(y, wasm_i32x4_make(sum + i, sum - i, sum + (1 << 30), sum - 5))))
            return false;
    }
    return true;
}
#endif

/* Whether the machine supports the instruction set. */
NNRTI_CPU_SHARED bool nnrti_cpu_has_isa(const nnrti_cpu_isa *isa)
{
#if NNRT_CPU_AVX512
    if (isa == &nnrti_cpu_isa_avx512 || isa == &nnrti_cpu_isa_avx512vnni)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               (isa == &nnrti_cpu_isa_avx512 || __builtin_cpu_supports("avx512vnni"));
#endif
#if NNRT_CPU_AVX2
    if (isa == &nnrti_cpu_isa_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && nnrti_cpu_has_f16c();
#endif
#if NNRT_CPU_DOTPROD
    if (isa == &nnrti_cpu_isa_dotprod)
        return nnrti_cpu_has_dotprod();
#endif
#if NNRT_CPU_FP16
    if (isa == &nnrti_cpu_isa_fp16)
        return nnrti_cpu_has_fp16();
#endif
#if NNRT_CPU_I8MM
    if (isa == &nnrti_cpu_isa_i8mm)
        return nnrti_cpu_has_i8mm();
#endif
#if NNRT_CPU_RELAXED
    if (isa == &nnrti_cpu_isa_relaxed)
        return nnrti_cpu_is_dot_exact();
#endif
#if defined(__i386__) && defined(__GNUC__) && NNRTI_CPU_PORTABLE
    if (isa == &nnrti_cpu_isa_vector)
        return __builtin_cpu_supports("sse2");
#endif
    return isa != NULL;
}
#endif /* NNRTI_CPU_OBJECT != 1 */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>layout */

/* Layout propagation (nnrt_draft_channels_last): convolutions and pools read and write channels last, because a SIMD
   vector then holds adjacent channels of a pixel. If one of them still has a channels-first argument, a copy step is
   inserted (nnrti_cpu_copy_in, nnrti_cpu_copy_out). The alternative, copies around every convolution, would read and
   write each tensor twice more. */

#define NNRTI_CPU_TILE_AUTO (-1) /* value of nnrti_cpu_edit.tile */
#define NNRTI_CPU_WINOGRAD "nnrt.cpu.winograd"
#define NNRTI_CPU_MEMORY "nnrt.cpu.memory"
#define NNRTI_CPU_WEIGHTS "nnrt.cpu.weights"
#define NNRTI_CPU_KERNEL "nnrt.cpu.kernel"

/* Uses of a tensor before kernel selection: bits of nnrti_cpu_edit.uses. */
#define NNRTI_CPU_USE_INPUT 1 /* is an input of the model */
#define NNRTI_CPU_USE_OTHER 2 /* is read by a step other than a convolution or 2-D pool */
#define NNRTI_CPU_USE_NCHW 4  /* is read by a convolution that reads channels first (nnrti_cpu_reads_nchw) */

/* State of the edit pass over a draft. */
typedef struct nnrti_cpu_edit {
    nnrt_draft *draft;
    const nnrti_cpu_isa *isa;
    uint8_t *uses; /* per tensor: bits NNRTI_CPU_USE_INPUT and others */
    uint32_t tensors;
    bool half;       /* weights are packed as float16 where possible */
    bool int8;       /* extension "nnrt.cpu.weights": int8 weights of GEMV and recurrent steps */
    bool smallest;   /* extension "nnrt.cpu.memory": small work items, for less scratch */
    uint32_t *opens; /* per step: open steps (dynamic shape, IF, LOOP) before it */
    /* Steps to insert, and the steps before which they are inserted. */
    nnrt_draft_step *added;
    uint32_t *addedAt, nAdded, roomAdded;
    uint32_t *copied; /* per tensor: 1 + the index of the added step that writes it */
    uint32_t wide, wideEnd; /* the first float32 tensor of a float16 step, and the one behind the last (>>float16) */
    uint32_t *widened; /* per float16 constant that a CAST widens: 1 + the tensor of the result; NULL: there is none */
    int32_t tile;     /* Winograd tile of 3 x 3 convolutions: 0 none, 2, 4, or NNRTI_CPU_TILE_AUTO: the fastest */
    char only[24];    /* the only kernel that steps may use; "": all */
    nnrt_call call;   /* for nnrti_cpu_parallel_for, of the session's threads */
    struct nnrti_cpu_dynamic *dynamic; /* of the step with dynamic shapes that is lowered (>>dynamic); NULL: static */
    const nnrt_view *packed;           /* in a run: its next packed constant; NULL: in PrepareModel */
    uint32_t number;                   /* in a run: of the next number of `dynamic` */
    uint8_t *tables;                   /* in a run: memory of the next table */
} nnrti_cpu_edit;

#define NNRTI_CPU_DYNAMIC_ARGS 16 /* most arguments of a step with dynamic shapes, and of the one that a run makes of it */

/* A step with dynamic shapes: attributes of nnrti_cpu_run_dynamic, with which a run lowers the step again. */
typedef struct nnrti_cpu_dynamic {
    const nnrti_cpu_isa *isa;
    const nnrt_op *op;
    const char *name, *kernelName; /* of the node; of the reference kernel */
    nnrt_kernel kernel;            /* the kernel for the upper bounds */
    uint32_t workers;
    uint32_t present, constants; /* per input, one bit */
    uint32_t nDerived, packed;   /* derived constants of the shape rule, then of this device */
    uint32_t last;               /* per argument, one bit: it is channels last (nnrti_cpu_layouts) */
    int64_t numbers[4];          /* that lowering noted or recalled, behind the choice of the tile */
    uint32_t nNumbers;
    int32_t tile;           /* of Winograd, which a run takes over */
    int32_t lines, columns; /* of nnrti_cpu_gemm, which a run takes over: packed offsets of terms depend on them */
    bool half, smallest;    /* of nnrti_cpu_edit */
    bool residual;          /* the last input is a tensor of the shape of the result, which the kernel adds */
    NNRT_ActivationType activation; /* of a convolution, a matrix product, an addition */
    NNRT_ActivationType sum;        /* with a residual: of the sum */
    bool image;          /* a step on images, channels last */
    bool volume;         /* a 3-D convolution, which copies x and y channels last */
    bool nan;            /* MAXIMUM or MINIMUM that also returns the NaN of the first operand (nnrti_cpu_fuse_dynamic_max_min) */
    nnrt_kernel planes;  /* of a step on images: the kernel for channels first; NULL: none */
    size_t scratch;      /* of each worker; behind that of all workers are the copies */
    uint32_t wide;       /* per argument, one bit: it is float16, and its copy float32 */
    size_t tables;       /* bytes, behind them, of constants that a run derives from its dimensions */
    size_t reference;    /* scratch of the reference kernel */
    size_t copies[NNRTI_CPU_DYNAMIC_ARGS]; /* bytes of the copy that the kernel uses of each argument; 0: none */
    nnrti_cpu_requantize scale;            /* of 8-bit products */
} nnrti_cpu_dynamic;

/* Whether a kernel, named nnrt_cpu_KERNEL_ISA, is the one of "nnrt.cpu.kernel". */
static bool nnrti_cpu_is_only(const nnrti_cpu_edit *e, const char *kernel)
{
    const char *name = kernel + strlen("nnrt_cpu_");
    const size_t length = strlen(e->only);
    return strncmp(name, e->only, length) == 0 && strrchr(name, '_') == name + length;
}

/* Whether steps may use a kernel: any, or the one of "nnrt.cpu.kernel"; `fused_depthwise` implies the kernels that
   it fuses. */
static bool nnrti_cpu_is_allowed(const nnrti_cpu_edit *e, const nnrti_cpu_kernel *kernel)
{
    if (e->packed != NULL)
        return kernel->run == e->dynamic->kernel || e->dynamic->kernel == e->isa->elementwise_half.run;
    if (e->dynamic != NULL && kernel->run == e->isa->gemv.run)
        return false; /* it packs weights otherwise than `gemm`, which supports any number of rows */
    return e->only[0] == '\0' || nnrti_cpu_is_only(e, kernel->name) ||
           (strcmp(e->only, "fused_depthwise") == 0 &&
            (kernel->run == e->isa->gemm.run || kernel->run == e->isa->depthwise.run));
}

/* Reports NNRT_OUT_OF_MEMORY for a step. */
static NNRT_ReturnCode nnrti_cpu_no_memory(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return nnrt_error_set(e->draft->config->error, NNRT_OUT_OF_MEMORY, "no memory for the faster step of node '%s'",
                          step->name);
}

/* Whether a step computes with quantized int8, uint8 or int16 by this kernel of the reference device. */
static bool nnrti_cpu_is_q8_step(const nnrt_draft_step *step, const char *kernel)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && strcmp(step->kernelName, kernel) == 0 &&
           step->args[0].view.quantCount == 1;
}

/* Whether a pool, of float32 or an average of 8 bits, is global (one window, all of x) without an activation. Channels first,
   it is a reduction. */
static bool nnrti_cpu_is_global(const nnrt_draft_step *step)
{
    const bool most = step->op->type == NNRT_NODE_TYPE_MAX_POOL_FUSION;
    const NNRT_MaxPoolFusion *max = (const NNRT_MaxPoolFusion *)step->attr;
    const NNRT_AvgPoolFusion *average = (const NNRT_AvgPoolFusion *)step->attr;
    const NNRT_Int64List *size = most ? &max->kernelSize : &average->kernelSize;
    const NNRT_Int64List *pad = most ? &max->pad : &average->pad;
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view;
    if (most && step->nOut > 1 && step->args[step->nIn + step->nDerived + 1].tensor != NNRT_NO_TENSOR)
        return false;
    return (x->dataType == NNRT_DATA_TYPE_FLOAT32 || nnrti_cpu_is_q8_step(step, "nnrt_avgpool_fusion_q8")) &&
           y->dims[1] == 1 && y->dims[2] == 1 && size->data[0] == x->dims[1] && size->data[1] == x->dims[2] &&
           pad->data[0] == 0 && pad->data[1] == 0 && pad->data[2] == 0 && pad->data[3] == 0 && !nnrt_view_empty(x) &&
           (most ? max->activationType : average->activationType) == NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
}

/* Tensors with so many elements or more stay with the reference device. */
#define NNRTI_CPU_MAX_ELEMENTS ((int64_t)1 << 30)

/* Whether the element count of an argument, and twice it, fit 32 bits. empty: 0 elements are valid. */
static bool nnrti_cpu_is_eligible_arg(const nnrt_plan_arg *arg, bool empty)
{
    int64_t elements = 1;
    for (int32_t i = 0; arg->tensor != NNRT_NO_TENSOR && i < arg->view.rank; i++)
        if ((elements *= arg->view.dims[i] > 1 ? arg->view.dims[i] : 1) >= NNRTI_CPU_MAX_ELEMENTS ||
            (arg->view.dims[i] == 0 && !empty))
            return false;
    return true;
}

/* Whether a step is an operator with static shapes whose arguments all fit 32 bits. No other step gets a kernel; nor does a batch
   of 0, of which the plan computes nothing. */
static bool nnrti_cpu_is_eligible(const nnrt_draft_step *step)
{
    if (step->open != NULL || step->op == NULL)
        return false;
    for (uint32_t k = 0; k < step->nIn + step->nDerived + step->nOut; k++)
        if (!nnrti_cpu_is_eligible_arg(&step->args[k], (step->op->flags & NNRT_OP_EMPTY) != 0))
            return false;
    return true;
}

/* Whether a grouped or transposed convolution has constant weights and can be computed by several GEMMs (>>multi_gemm). */
static bool nnrti_cpu_is_multi_gemm(const nnrt_draft_step *step);

/* Whether a step is a convolution in float16 arithmetic: all others were made float32 (>>float16). */
static bool nnrti_cpu_is_half_conv(const nnrt_draft_step *step)
{
    return NNRT_CPU_FP16 && step->op->type == NNRT_NODE_TYPE_CONV2D_FUSION &&
           step->args[0].view.dataType == NNRT_DATA_TYPE_FLOAT16 &&
           ((const NNRT_Conv2DFusion *)step->attr)->group == 1;
}

/* Whether a step is a convolution or 2-D pool ("image step") that has a kernel here, for channels last. */
static bool nnrti_cpu_is_image_op(const nnrt_draft_step *step)
{
    if (!nnrti_cpu_is_eligible(step) ||
        (step->args[0].view.dataType != NNRT_DATA_TYPE_FLOAT32 && !nnrti_cpu_is_half_conv(step) &&
         step->op->type != NNRT_NODE_TYPE_CONV_INTEGER && !nnrti_cpu_is_q8_step(step, "nnrt_conv2d_fusion_q8") &&
         !nnrti_cpu_is_q8_step(step, "nnrt_conv2d_fusion_q16") &&
         !nnrti_cpu_is_q8_step(step, "nnrt_conv2d_transpose_fusion_q8") &&
         !nnrti_cpu_is_q8_step(step, "nnrt_max_pool_fusion_q8") &&
         !nnrti_cpu_is_q8_step(step, "nnrt_avgpool_fusion_q8")) ||
        step->args[0].view.rank != 4 || step->args[0].kind == NNRT_PLACE_CONSTANT)
        return false;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION: {
        const nnrt_view *x = &step->args[0].view, *w = &step->args[1].view;
        const int64_t group = ((const NNRT_Conv2DFusion *)step->attr)->group;
        return step->args[1].kind == NNRT_PLACE_CONSTANT &&
               (step->args[2].tensor == NNRT_NO_TENSOR || step->args[2].kind == NNRT_PLACE_CONSTANT) &&
               (group == 1 || (group == x->dims[3] && w->dims[0] == x->dims[3]) || nnrti_cpu_is_multi_gemm(step));
    }
    case NNRT_NODE_TYPE_CONV_INTEGER:
        return step->args[1].kind == NNRT_PLACE_CONSTANT && step->args[2].tensor == NNRT_NO_TENSOR &&
               ((const NNRT_Conv2DFusion *)step->attr)->group == 1;
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION: return nnrti_cpu_is_multi_gemm(step);
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
        return (step->nOut < 2 || step->args[step->nIn + step->nDerived + 1].tensor == NNRT_NO_TENSOR) &&
               !nnrti_cpu_is_global(step);
    case NNRT_NODE_TYPE_AVGPOOL_FUSION: return !nnrti_cpu_is_global(step);
    case NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD: return true;
    default: return false;
    }
}

/* Whether a step is an inserted conversion of float16 to float32 (widening), or back (narrowing); see >>float16. */
static bool nnrti_cpu_is_widening(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return step->op == NULL && step->kernel == e->isa->widen_half.run;
}
static bool nnrti_cpu_is_narrowing(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return step->op == NULL && step->kernel == e->isa->narrow_half.run;
}

/* Whether a step works with any strides. */
static bool nnrti_cpu_is_layout_agnostic(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return nnrti_cpu_is_widening(e, step) || nnrti_cpu_is_narrowing(e, step) || nnrt_draft_is_layout_agnostic(step);
}

/* Whether v is int8 or uint8 with one scale and zero point, as computing operators require. */
static bool nnrti_cpu_is_q8_view(const nnrt_view *v)
{
    const int32_t least = v->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    return (v->dataType == NNRT_DATA_TYPE_INT8 || v->dataType == NNRT_DATA_TYPE_UINT8) && v->quantCount == 1 &&
           v->quant[0].numBits == 8 && v->quant[0].zeroPoint >= least && v->quant[0].zeroPoint <= least + 255;
}

/* Whether a step is QUANT_DTYPE_CAST of float32 to int16, or back. */
static bool nnrti_cpu_is_cast_q16(const nnrt_draft_step *step, bool back)
{
    const nnrt_view *q = &step->args[back ? 0 : 1].view;
    return step->open == NULL && step->op != NULL && step->kernel != NULL &&
           strcmp(step->kernelName, "nnrt_quant_dtype_cast") == 0 &&
           step->args[back ? 1 : 0].view.dataType == NNRT_DATA_TYPE_FLOAT32 &&
           q->dataType == NNRT_DATA_TYPE_INT16 && q->quantCount == 1 && q->quant[0].numBits == 16 && (float)q->quant[0].scale > 0;
}

/* Whether a step quantizes float32 to 8 bits, or dequantizes (back). */
static bool nnrti_cpu_is_quantize(const nnrt_draft_step *step, bool back)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL &&
           (strcmp(step->kernelName, "nnrt_quant_dtype_cast") == 0 ||
            strcmp(step->kernelName, "nnrt_quantize_linear") == 0) &&
           step->args[back ? 1 : 0].view.dataType == NNRT_DATA_TYPE_FLOAT32 &&
           nnrti_cpu_is_q8_view(&step->args[back ? 0 : 1].view);
}

/* In >>steps, and in >>transposes. */
static bool nnrti_cpu_reads_nchw(const nnrti_cpu_edit *e, const nnrt_draft_step *step);
static bool nnrti_cpu_transposed_view(const nnrt_draft_step *step, nnrt_view *turned, int32_t *axes);

/* Whether a step is a TRANSPOSE of an image [N,H,W,C] to [N,C,H,W], which moves no element if the result is channels last. */
static bool nnrti_cpu_is_image_transpose(const nnrt_draft_step *step)
{
    nnrt_view turned;
    int32_t axes[NNRT_MAX_RANK];
    return nnrti_cpu_transposed_view(step, &turned, axes) && turned.rank == 4 && axes[0] == 0 && axes[1] == 3 && axes[2] == 1;
}

/* Whether a step quantizes, transposes an image or widens float16, and only image steps (or none) read the result: it
   writes channels last. */
static bool nnrti_cpu_feeds_image_op(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    const bool widening = nnrti_cpu_is_widening(e, step), transposes = nnrti_cpu_is_image_transpose(step);
    return (widening || transposes || nnrti_cpu_is_quantize(step, false)) &&
           (e->uses[step->args[step->nIn + step->nDerived].tensor] &
            (NNRTI_CPU_USE_OTHER | (widening ? NNRTI_CPU_USE_NCHW : 0))) == 0;
}

/* Fills seen with the uses of each tensor. */
static void nnrti_cpu_collect_uses(nnrti_cpu_edit *e)
{
    const nnrt_draft *d = e->draft;
    const NNRT_Model *m = d->model;
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        e->uses[m->inputIndex.data[i]] |= NNRTI_CPU_USE_INPUT;
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        const uint8_t how = !nnrti_cpu_is_image_op(step)    ? NNRTI_CPU_USE_OTHER
                            : nnrti_cpu_reads_nchw(e, step) ? NNRTI_CPU_USE_NCHW
                                                            : 0;
        for (uint32_t k = 0; k < step->nIn; k++)
            if (step->args[k].tensor < e->tensors)
                e->uses[step->args[k].tensor] |= how;
    }
}

/* Layout propagation (nnrt_draft_channels_last) of this device. */
static bool nnrti_cpu_prefers_nhwc(void *user, const nnrt_draft_step *step)
{
    const nnrti_cpu_edit *e = (const nnrti_cpu_edit *)user;
    return nnrti_cpu_is_image_op(step) || nnrti_cpu_feeds_image_op(e, step);
}

static bool nnrti_cpu_allows_nhwc(void *user, const nnrt_draft_step *step)
{
    return nnrti_cpu_is_layout_agnostic((const nnrti_cpu_edit *)user, step);
}

static NNRT_ReturnCode nnrti_cpu_choose_layout(nnrti_cpu_edit *e)
{
    nnrt_draft *d = e->draft;
    e->tensors = d->nTensors;
    e->uses = (uint8_t *)nnrt_memory_temp(d->memory, d->nTensors);
    if (e->uses == NULL)
        return nnrt_error_set(d->config->error, NNRT_OUT_OF_MEMORY, "no memory for the uses of %u tensors", d->nTensors);
    nnrti_cpu_collect_uses(e);
    return nnrt_draft_channels_last(d, nnrti_cpu_prefers_nhwc, nnrti_cpu_allows_nhwc, e);
}

/* Whether an image [N,H,W,C] is channels last. */
static bool nnrti_cpu_is_nhwc(const nnrt_view *v)
{
    return v->strides[3] == 1 || v->dims[3] <= 1;
}

/* Transpose: to[j * next + i] = from[i * step + j], i < rows, j < columns; 4 x 4 blocks in SIMD registers. */
static void nnrti_cpu_transpose(const uint32_t *from, ptrdiff_t step, uint32_t *to, ptrdiff_t next, int32_t rows,
                                int32_t columns)
{
    int32_t i = 0;
#if defined(__GNUC__)
    typedef uint32_t four __attribute__((vector_size(16)));
#if defined(__clang__)
#define NNRTI_CPU_SHUFFLE(a, b, name, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
    const four first = {0, 4, 1, 5}, last = {2, 6, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
#define NNRTI_CPU_SHUFFLE(a, b, name, i, j, k, l) __builtin_shuffle(a, b, name)
#endif
    for (; i + 4 <= rows; i += 4) { /* 4 x 4 blocks */
        int32_t j = 0;
        for (; j + 4 <= columns; j += 4) {
            four row[4], pair[4];
            for (int32_t k = 0; k < 4; k++)
                memcpy(&row[k], from + (i + k) * step + j, sizeof(four));
            pair[0] = NNRTI_CPU_SHUFFLE(row[0], row[1], first, 0, 4, 1, 5);
            pair[1] = NNRTI_CPU_SHUFFLE(row[0], row[1], last, 2, 6, 3, 7);
            pair[2] = NNRTI_CPU_SHUFFLE(row[2], row[3], first, 0, 4, 1, 5);
            pair[3] = NNRTI_CPU_SHUFFLE(row[2], row[3], last, 2, 6, 3, 7);
            row[0] = NNRTI_CPU_SHUFFLE(pair[0], pair[2], low, 0, 1, 4, 5);
            row[1] = NNRTI_CPU_SHUFFLE(pair[0], pair[2], high, 2, 3, 6, 7);
            row[2] = NNRTI_CPU_SHUFFLE(pair[1], pair[3], low, 0, 1, 4, 5);
            row[3] = NNRTI_CPU_SHUFFLE(pair[1], pair[3], high, 2, 3, 6, 7);
            for (int32_t k = 0; k < 4; k++)
                memcpy(to + (j + k) * next + i, &row[k], sizeof(four));
        }
        for (; j < columns; j++)
            for (int32_t k = i; k < i + 4; k++)
                memcpy(&to[j * next + k], &from[k * step + j], 4); /* memcpy: they may be floats */
    }
#undef NNRTI_CPU_SHUFFLE
#endif
    for (int32_t j = 0; j < columns; j++)
        for (int32_t k = i; k < rows; k++)
            memcpy(&to[j * next + k], &from[k * step + j], 4);
}

#if defined(__GNUC__)
typedef uint8_t nnrti_cpu_sixteen __attribute__((vector_size(16)));

/* Transposes 16 x 16 bytes. Four times, the first eight vectors are interleaved with the last eight: that exchanges the
   row and the column of each byte, which have four bits each. */
static void nnrti_cpu_transpose_block(const uint8_t *from, ptrdiff_t step, uint8_t *to, ptrdiff_t next)
{
#if defined(__clang__)
#define NNRTI_CPU_SHUFFLE(a, b, mask, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
    const nnrti_cpu_sixteen low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    const nnrti_cpu_sixteen high = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
#define NNRTI_CPU_SHUFFLE(a, b, mask, ...) __builtin_shuffle(a, b, mask)
#endif
    nnrti_cpu_sixteen rows[2][16];
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 16; i++)
        memcpy(&rows[0][i], from + i * step, 16);
    NNRTI_CPU_UNROLL
    for (int32_t k = 0; k < 4; k++) {
        const nnrti_cpu_sixteen *const x = rows[k % 2];
        nnrti_cpu_sixteen *const y = rows[1 - k % 2];
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < 8; i++) {
            y[2 * i] = NNRTI_CPU_SHUFFLE(x[i], x[i + 8], low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            y[2 * i + 1] = NNRTI_CPU_SHUFFLE(x[i], x[i + 8], high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                             15, 31);
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 16; i++)
        memcpy(to + i * next, &rows[0][i], 16);
#undef NNRTI_CPU_SHUFFLE
}
#endif

/* to[j * next + i] = from[i * step + j], i < rows, j < columns, of bytes; the last blocks may overlap those before. */
static void nnrti_cpu_transpose_bytes(const uint8_t *from, ptrdiff_t step, uint8_t *to, ptrdiff_t next, int32_t rows,
                                      int32_t columns)
{
#if defined(__GNUC__)
    if (rows >= 16 && columns >= 16) {
        for (int32_t i = 0; i < rows; i += 16)
            for (int32_t j = 0; j < columns; j += 16) {
                const int32_t r = i + 16 < rows ? i : rows - 16, c = j + 16 < columns ? j : columns - 16;
                nnrti_cpu_transpose_block(from + r * step + c, step, to + c * next + r, next);
            }
        return;
    }
#endif
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++)
            to[j * next + i] = from[i * step + j];
}

/* The same of elements of two bytes: 8 x 8 blocks, by three such exchanges. */
static void nnrti_cpu_transpose_halves(const uint16_t *from, ptrdiff_t step, uint16_t *to, ptrdiff_t next, int32_t rows,
                                       int32_t columns)
{
    int32_t i = 0;
#if defined(__GNUC__)
    typedef uint16_t eight __attribute__((vector_size(16)));
#if defined(__clang__)
#define NNRTI_CPU_SHUFFLE(a, b, mask, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
    const eight low = {0, 8, 1, 9, 2, 10, 3, 11}, high = {4, 12, 5, 13, 6, 14, 7, 15};
#define NNRTI_CPU_SHUFFLE(a, b, mask, ...) __builtin_shuffle(a, b, mask)
#endif
    for (; i + 8 <= rows; i += 8) {
        int32_t j = 0;
        for (; j + 8 <= columns; j += 8) {
            eight row[2][8];
            for (int32_t k = 0; k < 8; k++)
                memcpy(&row[0][k], from + (i + k) * step + j, sizeof(eight));
            NNRTI_CPU_UNROLL
            for (int32_t t = 0; t < 3; t++)
                NNRTI_CPU_UNROLL
            for (int32_t k = 0; k < 4; k++) {
                row[1 - t % 2][2 * k] = NNRTI_CPU_SHUFFLE(row[t % 2][k], row[t % 2][k + 4], low, 0, 8, 1, 9, 2, 10, 3, 11);
                row[1 - t % 2][2 * k + 1] =
                    NNRTI_CPU_SHUFFLE(row[t % 2][k], row[t % 2][k + 4], high, 4, 12, 5, 13, 6, 14, 7, 15);
            }
            for (int32_t k = 0; k < 8; k++)
                memcpy(to + (j + k) * next + i, &row[1][k], sizeof(eight));
        }
        for (; j < columns; j++)
            for (int32_t k = i; k < i + 8; k++)
                to[j * next + k] = from[k * step + j];
    }
#undef NNRTI_CPU_SHUFFLE
#endif
    for (int32_t j = 0; j < columns; j++)
        for (int32_t k = i; k < rows; k++)
            to[j * next + k] = from[k * step + j];
}

/* The same for elements of `size` bytes, tile by tile: each cache line of a tile is read and written once, while it is
   in the L1 cache, also if rows are a power of two apart and so share a few sets of the cache. */
static void nnrti_cpu_transpose_tiles(const uint8_t *from, ptrdiff_t step, uint8_t *to, ptrdiff_t next, int32_t rows,
                                      int32_t columns, const size_t size)
{
    const int32_t tile = size == 8 ? 8 : (int32_t)(64 / size);
    const int32_t high = columns <= tile / 2 ? 16 * tile : tile, wide = rows <= tile / 2 ? 16 * tile : tile;
    for (int32_t i = 0, height; i < rows; i += height) {
        height = rows - i < high + high / 4 ? rows - i : high; /* no narrow tile at the end */
        for (int32_t j = 0, width; j < columns; j += width) {
            const uint8_t *const x = from + (i * step + j) * (ptrdiff_t)size;
            uint8_t *const y = to + (j * next + i) * (ptrdiff_t)size;
            width = columns - j < wide + wide / 4 ? columns - j : wide;
            switch (size) {
            case 1: nnrti_cpu_transpose_bytes(x, step, y, next, height, width); break;
            case 2:
                nnrti_cpu_transpose_halves((const uint16_t *)(const void *)x, step, (uint16_t *)(void *)y, next, height,
                                           width);
                break;
            case 4:
                nnrti_cpu_transpose((const uint32_t *)(const void *)x, step, (uint32_t *)(void *)y, next, height, width);
                break;
            default:
                for (int32_t c = 0; c < width; c++)
                    for (int32_t r = 0; r < height; r++)
                        memcpy(y + (c * next + r) * 8, x + (r * step + c) * 8, 8);
            }
        }
    }
}

/* Copies a row of pixels, elements of `size` bytes, that is no transposition of dense rows: 16 channels at a time, so that
   reads and writes stay within a few cache lines. */
static inline void nnrti_cpu_copy_pixels(const nnrt_view *x, const nnrt_view *y, const uint8_t *from, uint8_t *to,
                                         const size_t size)
{
    const int32_t W = x->dims[2], C = x->dims[3];
    for (int32_t c = 0; c < C; c += 16) {
        const int32_t count = c + 16 < C ? 16 : C - c;
        for (int32_t w = 0; w < W; w++)
            for (int32_t k = c; k < c + count; k++)
                memcpy(to + (w * y->strides[2] + k * y->strides[3]) * (ptrdiff_t)size,
                       from + (w * x->strides[2] + k * x->strides[3]) * (ptrdiff_t)size, size);
    }
}

/* Work item: y = x [N,H,W,C], of row h of image n. */
static void nnrti_cpu_copy_task(void *arg, uint32_t i, uint32_t worker)
{
    const nnrt_view *const x = (const nnrt_view *)arg, *const y = x + 1;
    const size_t size = nnrt_type_size(x->dataType);
    const int32_t n = (int32_t)i / x->dims[1], h = (int32_t)i % x->dims[1], W = x->dims[2], C = x->dims[3];
    const uint8_t *const from = (const uint8_t *)x->data + (n * x->strides[0] + h * x->strides[1]) * (ptrdiff_t)size;
    uint8_t *const to = (uint8_t *)y->data + (n * y->strides[0] + h * y->strides[1]) * (ptrdiff_t)size;
    (void)worker;
    if (x->strides[2] == 1 && y->strides[3] == 1) {
        nnrti_cpu_transpose_tiles(from, x->strides[3], to, y->strides[2], C, W, size);
        return;
    }
    if (x->strides[3] == 1 && y->strides[2] == 1) {
        nnrti_cpu_transpose_tiles(from, x->strides[2], to, y->strides[3], W, C, size);
        return;
    }
    switch (size) {
    case 1: nnrti_cpu_copy_pixels(x, y, from, to, 1); break;
    case 2: nnrti_cpu_copy_pixels(x, y, from, to, 2); break;
    case 4: nnrti_cpu_copy_pixels(x, y, from, to, 4); break;
    default: nnrti_cpu_copy_pixels(x, y, from, to, 8);
    }
}

/* Kernel of layout copies and transposes: y = x, both [N,H,W,C] with any strides. */
static NNRT_ReturnCode nnrti_cpu_copy(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    nnrti_cpu_parallel_for(call, 16.0 * args[0].dims[0] * args[0].dims[1] * args[0].dims[2] * args[0].dims[3],
                           (uint32_t)(args[0].dims[0] * args[0].dims[1]), nnrti_cpu_copy_task, args);
    return NNRT_SUCCESS;
}

/* Whether two tensors have the same quantization parameters, or none. */
static bool nnrti_cpu_same_quant(const nnrt_view *x, const nnrt_view *y)
{
    return (x->quantCount == 0 && y->quantCount == 0) ||
           (x->quantCount == 1 && y->quantCount == 1 && x->quant[0].zeroPoint == y->quant[0].zeroPoint &&
            (float)x->quant[0].scale == (float)y->quant[0].scale);
}

/* Selects a kernel of this device for a step. */
static void nnrti_cpu_set_kernel(nnrt_draft_step *step, const nnrti_cpu_kernel *kernel, const void *attr)
{
    step->kernel = kernel->run;
    step->kernelName = kernel->name;
    step->attr = attr;
    step->scratchBytes = 0;
}

/* Records a new step of one input and one result, to be inserted before step `at` by nnrti_cpu_insert_added; it
   belongs to the node of step `of`. at must not decrease from call to call. false: no memory. */
static bool nnrti_cpu_add_step(nnrti_cpu_edit *e, uint32_t at, uint32_t of, const nnrti_cpu_kernel *kernel,
                               const nnrt_plan_arg *from, const nnrt_plan_arg *to)
{
    nnrt_memory *const memory = e->draft->memory;
    nnrt_draft_step *step;
    if (e->nAdded == e->roomAdded) {
        const uint32_t room = 2 * e->roomAdded + 8;
        nnrt_draft_step *steps = (nnrt_draft_step *)nnrt_memory_temp(memory, room * sizeof(*steps));
        uint32_t *places = (uint32_t *)nnrt_memory_temp(memory, room * sizeof(*places));
        if (steps == NULL || places == NULL)
            return false;
        if (e->nAdded > 0) {
            memcpy(steps, e->added, e->nAdded * sizeof(*steps));
            memcpy(places, e->addedAt, e->nAdded * sizeof(*places));
        }
        e->added = steps;
        e->addedAt = places;
        e->roomAdded = room;
    }
    step = &e->added[e->nAdded];
    memset(step, 0, sizeof(*step));
    if ((step->args = (nnrt_plan_arg *)nnrt_memory_temp(memory, 2 * sizeof(*step->args))) == NULL)
        return false;
    step->args[0] = *from;
    step->args[1] = *to;
    step->nIn = step->nOut = 1;
    step->node = -1;
    step->name = e->draft->steps[of].name;
    nnrti_cpu_set_kernel(step, kernel, NULL);
    e->addedAt[e->nAdded++] = at;
    return true;
}

/* Inserts the recorded steps. Step indices change. */
static NNRT_ReturnCode nnrti_cpu_insert_added(nnrti_cpu_edit *e)
{
    if (!nnrt_draft_insert(e->draft, e->added, e->addedAt, e->nAdded))
        return nnrt_error_set(e->draft->config->error, NNRT_OUT_OF_MEMORY, "no memory for %u copies and casts",
                              e->nAdded);
    e->nAdded = 0;
    return NNRT_SUCCESS;
}

static const nnrti_cpu_kernel nnrti_cpu_copy_kernel = {nnrti_cpu_copy, "nnrt_cpu_copy"};

/* A new channels-last tensor of the shape of an image; *made: the argument that shows it. */
static bool nnrti_cpu_new_nhwc(nnrti_cpu_edit *e, const nnrt_plan_arg *image, nnrt_plan_arg *made)
{
    *made = *image;
    made->tensor = nnrt_draft_tensor(e->draft, image->view.dataType, 4, image->view.dims);
    if (made->tensor == NNRT_NO_TENSOR)
        return false;
    nnrt_operand_view(NULL, &e->draft->tensors[made->tensor], 0, &made->view);
    made->view.quant = image->view.quant;
    made->view.quantCount = image->view.quantCount;
    return true;
}

/* Records a step before step `at` that copies an argument to a new channels-last tensor, which step `at` then reads. */
static NNRT_ReturnCode nnrti_cpu_copy_in(nnrti_cpu_edit *e, uint32_t at, uint32_t argument)
{
    nnrt_draft_step *const step = &e->draft->steps[at];
    const nnrt_plan_arg from = step->args[argument];
    if (!nnrti_cpu_new_nhwc(e, &from, &step->args[argument]) ||
        !nnrti_cpu_add_step(e, at, at, &nnrti_cpu_copy_kernel, &from, &step->args[argument]))
        return nnrti_cpu_no_memory(e, step);
    return NNRT_SUCCESS;
}

/* The same after step `at`, for its first result. */
static NNRT_ReturnCode nnrti_cpu_copy_out(nnrti_cpu_edit *e, uint32_t at)
{
    nnrt_draft_step *const step = &e->draft->steps[at];
    nnrt_plan_arg *const y = &step->args[step->nIn + step->nDerived];
    const nnrt_plan_arg to = *y;
    if (!nnrti_cpu_new_nhwc(e, &to, y) || !nnrti_cpu_add_step(e, at + 1, at, &nnrti_cpu_copy_kernel, y, &to))
        return nnrti_cpu_no_memory(e, step);
    if (to.tensor < e->tensors)
        e->copied[to.tensor] = e->nAdded;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>steps */

/* Kernel selection ("lowering"): nnrti_cpu_lower_X turns a step of the draft into a step with the device's kernel X.
   It checks types, strides and constants; if the kernel cannot run the step, the function returns NNRT_SUCCESS and
   leaves the step unchanged. Otherwise it sets kernel, attributes and scratch, and packs constant weights as derived
   constants. All decisions about tiles, work items and scratch are made here, in PrepareModel, so that a run decides
   nothing. Prepare runs the edit twice (count, then do) and again with packed weights from a file, so decisions must
   be deterministic and must not depend on weight values, unless nnrt_draft_note records them for nnrt_draft_recall.

   A convolution is a GEMM without an im2col buffer (implicit GEMM): the kernel gets, per pixel and filter tap, a
   pointer to the channels of x (an indirection buffer); taps outside x point to zeros. A matrix multiplication with
   constant weights is a 1 x 1 convolution of one row of pixels. im2col as a copy was rejected: it multiplies the
   memory traffic by the number of taps. Only for few channels does the kernel read a zero-padded patch instead.

   Epilogue fusion: the bias, the activation, and a residual tensor of an ADD_FUSION are applied to the sums in
   registers. */

NNRT_SETUP()

/* Element i of a constant of float32 or float16. */
static float nnrti_cpu_weight(const nnrt_view *w, ptrdiff_t i)
{
    return w->dataType == NNRT_DATA_TYPE_FLOAT16 ? nnrt_half_to_float(((const uint16_t *)w->data)[i])
                                                 : ((const float *)w->data)[i];
}

/* Packs weights: to[k * width + t] = weight k of channel t, or 0 if t >= left, for `count` weights of a panel of w,
   from element `at` on; weights are `step` apart within a channel, channels `next` apart. NNRTI_CPU_PACK_ROWS
   weights at a time, so that reads and writes stay within a few cache lines. */
static void nnrti_cpu_pack_rows(const nnrt_view *w, ptrdiff_t at, ptrdiff_t next, ptrdiff_t step, int32_t count,
                                int32_t left, int32_t width, float *to)
{
    const float *const from = (const float *)w->data + at;
    const int32_t there = left < width ? left : width;
    for (int32_t first = 0; first < count; first += NNRTI_CPU_PACK_ROWS) {
        const int32_t n = count - first < NNRTI_CPU_PACK_ROWS ? count - first : NNRTI_CPU_PACK_ROWS;
        if (w->dataType == NNRT_DATA_TYPE_FLOAT16) {
            for (int32_t t = 0; t < there; t++)
                for (int32_t k = 0; k < n; k++)
                    to[k * width + t] = nnrti_cpu_weight(w, at + (first + k) * step + t * next);
        } else if (step == 1) {
            nnrti_cpu_transpose((const uint32_t *)(const void *)(from + first), next, (uint32_t *)(void *)to, width,
                                there, n);
        } else {
            for (int32_t k = 0; k < n; k++)
                for (int32_t t = 0; t < there; t++)
                    to[k * width + t] = from[(first + k) * step + t * next];
        }
        for (int32_t k = 0; k < n; k++, to += width)
            for (int32_t t = there; t < width; t++)
                to[t] = 0;
    }
}

/* Channels of y rounded up to what the panels hold: whole panels, and a last one of one vector if that suffices. */
static int32_t nnrti_cpu_padded_channels(const nnrti_cpu_isa *isa, int32_t C)
{
    const int32_t left = C % isa->panel;
    return C - left + (left == 0 ? 0 : left <= isa->lanes ? isa->lanes : isa->panel);
}

/* Weights w [C,kH,kW,K] and their bias, which may be NULL, that are packed into panels of `panel` channels at `to`; the
   last panel may have fewer. tile: of Winograd. A panel is a work item of the caller's thread pool: it is the first to
   touch the memory of that panel, which takes most of the time. */
typedef struct nnrti_cpu_pack_job {
    const nnrti_cpu_isa *isa;
    const nnrt_view *w, *bias;
    int32_t panel, tile, type;
    void *to;
} nnrti_cpu_pack_job;

/* Calls task(&job, i) for each panel i. An element takes about as long as 80 multiply-adds of a GEMM. */
static void nnrti_cpu_pack_panels(const nnrt_call *call, const nnrti_cpu_pack_job *job,
                                  void (*task)(void *arg, uint32_t i, uint32_t worker))
{
    const nnrt_view *const w = job->w;
    nnrti_cpu_parallel_for(call, 80.0 * w->dims[0] * w->dims[1] * w->dims[2] * w->dims[3],
                           (uint32_t)nnrti_cpu_div_up(w->dims[0], job->panel), task, (void *)(uintptr_t)job);
}

/* Packs a panel: biases, then weights. */
static void nnrti_cpu_pack_gemm_panel(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_pack_job *const job = (const nnrti_cpu_pack_job *)arg;
    const nnrt_view *const w = job->w, *const bias = job->bias;
    const int32_t K = w->dims[3], c = (int32_t)i * job->panel, left = w->dims[0] - c;
    const int32_t rest = nnrti_cpu_padded_channels(job->isa, w->dims[0]) - c;
    const int32_t width = rest < job->panel ? rest : job->panel;
    float *to = (float *)job->to + (size_t)c * (1 + (size_t)w->dims[1] * (size_t)w->dims[2] * (size_t)K);
    (void)worker;
    for (int32_t t = 0; t < width; t++)
        *to++ = bias != NULL && t < left ? nnrti_cpu_weight(bias, (c + t) * bias->strides[0]) : 0.0f;
    for (int32_t y = 0; y < w->dims[1]; y++)
        for (int32_t x = 0; x < w->dims[2]; x++, to += (size_t)K * (size_t)width)
            nnrti_cpu_pack_rows(w, c * w->strides[0] + y * w->strides[1] + x * w->strides[2], w->strides[0],
                                w->strides[3], K, left, width, to);
}

#define NNRTI_CPU_ADJACENT_FLOATS 32 /* fewest elements of a row of adjacent taps that is faster without a patch */

/* Whether the taps of a row of the filter are adjacent in channels-last x, and none of their columns is outside x. */
static bool nnrti_cpu_taps_adjacent(const nnrti_cpu_gemm *a, const nnrt_view *x, const nnrt_view *y)
{
    return a->conv.dilation[1] == 1 && a->conv.pad[1] == 0 && x->strides[2] == x->dims[3] &&
           (x->strides[3] == 1 || x->dims[3] == 1) &&
           (int64_t)(y->dims[2] - 1) * a->conv.stride[1] + a->conv.window[1] <= x->dims[2] &&
           (int64_t)a->conv.window[1] * x->dims[3] <= INT32_MAX;
}

/* Decides whether a GEMM reads patches: for several filter taps and few channels, patches of some rows of y, or of a
   part of a row; also for channels-first x, such as a transposed matrix. Sets lines and columns (0: no patches) and
   padded. With dynamic shapes patches are always copies, of one size: the offsets of terms in x itself would change. */
static void nnrti_cpu_choose_patch(const nnrti_cpu_edit *e, nnrti_cpu_gemm *a, const nnrt_view *x, const nnrt_view *y,
                                   int32_t K)
{
    const int32_t H = y->dims[1], W = y->dims[2], pixels = e->smallest ? 32 : NNRTI_CPU_PATCH_PIXELS;
    const uint32_t workers = e->draft->workers;
    nnrti_cpu_patch patch;
    const bool single = a->conv.window[0] == 1 && a->conv.window[1] == 1;
    a->lines = a->columns = 0;
    if ((single && (x->strides[3] == 1 || K == 1 || e->dynamic != NULL)) || K == 0 || H == 0 || W == 0 || y->dims[0] == 0)
        return;
    a->padded = e->dynamic != NULL;
    if (e->packed != NULL) {
        a->lines = e->dynamic->lines;
        a->columns = e->dynamic->columns;
        return;
    }
    for (int32_t i = 0; i < 2; i++) {
        const int64_t last = (int64_t)(y->dims[1 + i] - 1) * a->conv.stride[i] - a->conv.pad[i] +
                             (int64_t)(a->conv.window[i] - 1) * a->conv.dilation[i];
        a->padded = a->padded || a->conv.pad[i] > 0 || last >= x->dims[1 + i];
    }
    if (nnrti_cpu_taps_adjacent(a, x, y) && a->conv.window[1] * K >= NNRTI_CPU_ADJACENT_FLOATS) /* needs no patch */
        a->lines = 0;
    else
        a->lines = W < pixels ? pixels / W : 1;
    a->columns = (int32_t)nnrti_cpu_div_up(W, nnrti_cpu_div_up(W, 2 * pixels));
    while (a->lines == 1 && a->columns > pixels / 4 && !nnrti_cpu_patch_of(a, x, K, &patch))
        a->columns = (a->columns + 1) / 2;
    while (a->lines > 1 && (a->lines > H || (workers > 1 && y->dims[0] * nnrti_cpu_div_up(H, a->lines) < 4 * workers)))
        a->lines--;
    if (a->lines == 0 || !nnrti_cpu_patch_of(a, x, K, &patch))
        a->lines = a->columns = 0;
    if (e->dynamic != NULL) {
        e->dynamic->lines = a->lines;
        e->dynamic->columns = a->columns;
    }
}

/* Offsets of the terms of a sum in a patch. */
static void nnrti_cpu_patch_offsets(const nnrti_cpu_gemm *a, const nnrt_view *x, int32_t K, int32_t *to)
{
    nnrti_cpu_patch patch;
    (void)nnrti_cpu_patch_of(a, x, K, &patch);
    for (int32_t i = 0; i < a->conv.window[0]; i++)
        for (int32_t j = 0; j < a->conv.window[1]; j++)
            for (int32_t k = 0; k < K; k++)
                *to++ = (int32_t)(i * a->conv.dilation[0] * patch.row + j * a->conv.dilation[1] * patch.column +
                                  k * patch.channel);
}

/* Whether a step has a kernel of MATMUL_NBITS. */
static bool nnrti_cpu_is_nbits_kernel(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return step->kernel == e->isa->gemm_nbits.run || step->kernel == e->isa->gemm_nbits_int8.run;
}

/* Channels per packed panel of the kernel of a step. */
static int32_t nnrti_cpu_panel_width(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return step->kernel == e->isa->gemv.run || nnrti_cpu_is_nbits_kernel(e, step)
               ? NNRTI_CPU_GEMV_WIDTH * e->isa->panel
               : e->isa->panel;
}

/* The scale of `count` int8 weights, `step` apart from element `at` on: the largest magnitude / 127, at least the least
   normal number. Rounding that quotient may miss a scale whose 127-fold is the largest magnitude; weights that were
   quantized with such a scale get it back. */
static float nnrti_cpu_weight_scale(const nnrt_view *w, ptrdiff_t at, ptrdiff_t step, int32_t count)
{
    float most = 0, scale;
    for (int32_t k = 0; k < count; k++) {
        const float v = nnrti_cpu_weight(w, at + k * step);
        most = v > most ? v : -v > most ? -v : most;
    }
    scale = most / 127.0f;
    for (int32_t i = -1; i <= 1; i++) {
        const float beside = (float)((double)scale * (1 + i * 0.75 * (double)FLT_EPSILON)); /* scale or an adjacent number */
        if (beside >= FLT_MIN && (float)(127 * (double)beside) == most)
            return beside;
    }
    return scale >= FLT_MIN ? scale : FLT_MIN;
}

/* Stores rows of packed weights, `count` in all, as a type; returns the end of them. scale: per element of a row of
   `width`, for int8. */
static uint8_t *nnrti_cpu_pack_run(const nnrti_cpu_isa *isa, int32_t type, const float *from, int32_t count,
                                   const float *scale, int32_t width, uint8_t *to)
{
    if (NNRTI_CPU_SMALL_WEIGHTS && type == NNRTI_CPU_I8) {
        for (int32_t i = 0; i < count; i += width)
            for (int32_t t = 0; t < width; t++) {
                const double q = (double)from[i + t] / (double)scale[t];
                to[i + t] = (uint8_t)(int8_t)(q < 0 ? q - 0.5 : q + 0.5);
            }
    } else if (NNRTI_CPU_SMALL_WEIGHTS && type == NNRTI_CPU_F16) {
        isa->narrow(from, (uint16_t *)(void *)to, count);
    } else {
        memcpy(to, from, (size_t)count * sizeof(*from));
    }
    return to + (size_t)count * (size_t)(4 >> type);
}

/* nnrti_cpu_pack_gemm_panel with float16 weights, or with int8 weights of one tap. */
static void nnrti_cpu_pack_small_panel(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_pack_job *const job = (const nnrti_cpu_pack_job *)arg;
    const nnrt_view *const w = job->w, *const bias = job->bias;
    const int32_t K = w->dims[3], taps = w->dims[1] * w->dims[2], c = (int32_t)i * job->panel, left = w->dims[0] - c;
    const int32_t rest = nnrti_cpu_padded_channels(job->isa, w->dims[0]) - c;
    const int32_t width = rest < job->panel ? rest : job->panel;
    const size_t depth = (size_t)nnrti_cpu_head(job->type) + (size_t)taps * (size_t)K;
    float rows[NNRTI_CPU_PACK_ROWS * NNRTI_CPU_GEMV_WIDTH * NNRTI_CPU_MAX_PANEL];
    float scale[NNRTI_CPU_GEMV_WIDTH * NNRTI_CPU_MAX_PANEL];
    uint8_t *to = (uint8_t *)job->to + (size_t)c * depth * (size_t)(4 >> job->type);
    (void)worker;
    for (int32_t t = 0; t < width; t++)
        rows[t] = bias != NULL && t < left ? nnrti_cpu_weight(bias, (c + t) * bias->strides[0]) : 0.0f;
    for (int32_t t = 0; t < width && job->type == NNRTI_CPU_I8; t++)
        scale[t] = nnrti_cpu_weight_scale(w, (c + t) * w->strides[0], w->strides[3], t < left ? K : 0);
    memcpy(to, rows, (size_t)width * sizeof(float));
    if (job->type == NNRTI_CPU_I8)
        memcpy(to + (size_t)width * sizeof(float), scale, (size_t)width * sizeof(float));
    to += width * nnrti_cpu_head(job->type) * (4 >> job->type);
    for (int32_t tap = 0; tap < taps; tap++) {
        const ptrdiff_t at = c * w->strides[0] + tap / w->dims[2] * w->strides[1] + tap % w->dims[2] * w->strides[2];
        for (int32_t k = 0; k < K; k += NNRTI_CPU_PACK_ROWS) {
            const int32_t n = K - k < NNRTI_CPU_PACK_ROWS ? K - k : NNRTI_CPU_PACK_ROWS;
            nnrti_cpu_pack_rows(w, at + k * w->strides[3], w->strides[0], w->strides[3], n, left, width, rows);
            to = nnrti_cpu_pack_run(job->isa, job->type, rows, n * width, scale, width, to);
        }
    }
}

static bool nnrti_cpu_is_finite(const nnrt_call *call, const nnrt_view *w);

/* Whether every weight, rounded, is a finite float16. */
static bool nnrti_cpu_fits_half(const nnrt_call *call, const nnrt_view *w)
{
    const float *const v = (const float *)w->data;
    float most[32] = {0};
    size_t count, i = 0;
    if (!nnrti_cpu_is_finite(call, w) || !nnrt_dims_count(w->dims, w->rank, &count))
        return false;
    if (w->dataType == NNRT_DATA_TYPE_FLOAT16)
        return true;
    for (; i + 32 <= count; i += 32)
        for (size_t t = 0; t < 32; t++)
            most[t] = v[i + t] > most[t] ? v[i + t] : -v[i + t] > most[t] ? -v[i + t] : most[t];
    for (; i < count; i++)
        most[0] = v[i] > most[0] ? v[i] : -v[i] > most[0] ? -v[i] : most[0];
    for (size_t t = 0; t < 32; t++)
        if (most[t] > 65504.0f)
            return false;
    return true;
}

/* nnrt_draft_recall, nnrt_draft_note, nnrt_draft_pack and nnrt_draft_derive, also for dynamic shapes: in a run they return
   its numbers and its packed constants of PrepareModel, in the same order. */
static void nnrti_cpu_keep_number(nnrti_cpu_edit *e, int64_t number)
{
    NNRT_ASSERT(e->dynamic == NULL || e->dynamic->nNumbers < sizeof(e->dynamic->numbers) / sizeof(e->dynamic->numbers[0]));
    if (e->dynamic != NULL)
        e->dynamic->numbers[e->dynamic->nNumbers++] = number;
}

static bool nnrti_cpu_recall(nnrti_cpu_edit *e, int64_t *number)
{
    if (e->packed != NULL) {
        *number = e->dynamic->numbers[e->number++];
        return true;
    }
    if (!nnrt_draft_recall(e->draft, number))
        return false;
    nnrti_cpu_keep_number(e, *number);
    return true;
}

static NNRT_ReturnCode nnrti_cpu_note(nnrti_cpu_edit *e, int64_t number)
{
    nnrti_cpu_keep_number(e, number);
    return nnrt_draft_note(e->draft, number);
}

/* In >>dynamic. */
static NNRT_ReturnCode nnrti_cpu_take_packed(nnrti_cpu_edit *e, uint32_t s);

static NNRT_ReturnCode nnrti_cpu_pack(nnrti_cpu_edit *e, uint32_t s, NNRT_DataType type, const int32_t dims[2],
                                      void **data)
{
    *data = NULL;
    if (e->packed != NULL)
        return nnrti_cpu_take_packed(e, s);
    if (e->dynamic != NULL)
        e->dynamic->packed++;
    return nnrt_draft_pack(e->draft, s, type, 2, dims, data);
}

static NNRT_ReturnCode nnrti_cpu_derive(nnrti_cpu_edit *e, uint32_t s, NNRT_DataType type, int32_t rank,
                                        const int32_t *dims, void **data)
{
    *data = NULL;
    if (e->packed != NULL)
        return nnrti_cpu_take_packed(e, s);
    if (e->dynamic != NULL)
        e->dynamic->packed++;
    return nnrt_draft_derive(e->draft, s, type, rank, dims, data);
}

/* In >>dynamic. */
static NNRT_ReturnCode nnrti_cpu_take_table(nnrti_cpu_edit *e, uint32_t s, NNRT_DataType type, int32_t rank,
                                            const int32_t *dims, size_t bytes, void **data);

/* A derived constant that depends on the dimensions of images: of a step with dynamic shapes each run makes it in scratch,
   for which PrepareModel reserves the memory. */
static NNRT_ReturnCode nnrti_cpu_tabulate(nnrti_cpu_edit *e, uint32_t s, NNRT_DataType type, int32_t rank,
                                          const int32_t *dims, void **data)
{
    const size_t count = (size_t)dims[0] * (size_t)(rank > 1 ? dims[1] : 1);
    const size_t bytes = (count * nnrt_type_size(type) + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    *data = NULL;
    if (e->tables != NULL)
        return nnrti_cpu_take_table(e, s, type, rank, dims, bytes, data);
    if (e->dynamic == NULL)
        return nnrt_draft_derive(e->draft, s, type, rank, dims, data);
    e->dynamic->tables += bytes;
    return NNRT_SUCCESS;
}

/* The type of a step's packed weights, w and more (or NULL); recalled if they were packed before. small: they may be
   int8. Float16 weights stay float16 with the least memory, as no bit is lost. */
static NNRT_ReturnCode nnrti_cpu_recall_type(nnrti_cpu_edit *e, const nnrt_view *w, const nnrt_view *more,
                                             bool small, int32_t *type)
{
    bool (*const fits)(const nnrt_call *, const nnrt_view *) = small && e->int8 ? nnrti_cpu_is_finite : nnrti_cpu_fits_half;
    const bool exact = e->smallest && e->isa->narrow != NULL && w->dataType == NNRT_DATA_TYPE_FLOAT16 && more == NULL &&
                       w->dims[0] > 2 * e->isa->panel; /* others save less than the scratch for a widened panel */
    const int32_t wanted = small && e->int8 ? NNRTI_CPU_I8 : e->half || exact ? NNRTI_CPU_F16 : NNRTI_CPU_F32;
    int64_t known;
    *type = NNRTI_CPU_F32;
    if (!NNRTI_CPU_SMALL_WEIGHTS || wanted == NNRTI_CPU_F32)
        return NNRT_SUCCESS;
    if (nnrti_cpu_recall(e, &known)) {
        *type = known != 0 ? wanted : NNRTI_CPU_F32;
        return NNRT_SUCCESS;
    }
    if (fits(&e->call, w) && (more == NULL || fits(&e->call, more)))
        *type = wanted;
    return nnrti_cpu_note(e, *type != NNRTI_CPU_F32);
}

/* The type of the elements of packed weights. */
static NNRT_DataType nnrti_cpu_packed_type(int32_t type)
{
    return type == NNRTI_CPU_I8 ? NNRT_DATA_TYPE_INT8 : type == NNRTI_CPU_F16 ? NNRT_DATA_TYPE_FLOAT16 : NNRT_DATA_TYPE_FLOAT32;
}

/* Reserves scratch for a widened panel behind the rest of a GEMM's scratch. */
static void nnrti_cpu_reserve_panel(const nnrti_cpu_edit *e, nnrt_draft_step *step, nnrti_cpu_gemm *a, int32_t terms)
{
    if (a->type == NNRTI_CPU_F32)
        return;
    a->wide = (step->scratchBytes + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    step->scratchBytes = a->wide + (1 + (size_t)terms) * (size_t)e->isa->panel * sizeof(float);
}

/* The most pixels per work item of a GEMM without patches. */
static int32_t nnrti_cpu_most_rows(const nnrti_cpu_edit *e, int64_t taps)
{
    return taps > 64 ? 16 : e->smallest ? 32 : taps <= 9 ? NNRTI_CPU_GEMM_ROWS : 64;
}

/* Pixels per work item for which scratch is reserved: `rows`, or of a step with dynamic shapes the most of any size. */
static size_t nnrti_cpu_scratch_rows(const nnrti_cpu_edit *e, int32_t rows, int32_t most)
{
    return (size_t)(e->dynamic != NULL ? most : rows) + NNRTI_CPU_MAX_TILE_ROWS;
}

/* Bytes of scratch for the indirection buffer of a GEMM of `taps` filter taps without patches. */
static size_t nnrti_cpu_pointer_bytes(const nnrti_cpu_edit *e, int32_t rows, int64_t taps)
{
    return (size_t)(taps + 2) * nnrti_cpu_scratch_rows(e, rows, nnrti_cpu_most_rows(e, taps)) * sizeof(void *);
}

/* Sets pixels per work item and parts of the panels for a GEMM without patches. packed: channels and weights of each. */
static void nnrti_cpu_tile_gemm(const nnrti_cpu_edit *e, nnrti_cpu_gemm *a, int64_t taps, int64_t pixels,
                                const int32_t packed[2], int32_t panels)
{
    const uint32_t workers = e->draft->workers;
    a->rows = nnrti_cpu_most_rows(e, taps);
    /* Divide pixels rather than channels among threads, as the steps before and after do; the same number for each. */
    if (workers > 1 && pixels >= 8 * (int64_t)workers &&
        (pixels >= 64 || (int64_t)packed[0] * packed[1] <= NNRTI_CPU_LARGE_WEIGHTS)) {
        const int64_t each = nnrti_cpu_div_up(pixels, workers);
        const int64_t rows = nnrti_cpu_div_up(each, nnrti_cpu_div_up(each, a->rows));
        a->rows = (int32_t)(rows < 32 ? rows : nnrti_cpu_div_up(rows, 4) * 4);
    } else if (pixels < a->rows) {
        a->rows = pixels > 0 ? (int32_t)pixels : 1;
    }
    if (pixels <= (int64_t)a->rows * ((int64_t)workers - 1))
        a->parts = nnrti_cpu_panel_parts(nnrti_cpu_gemm_work(a, pixels, packed), panels, workers);
}

/* Step s becomes a GEMM, or a GEMV if there is one pixel, of x and y, viewed as images, and of weights w
   [C,kH,kW,K]. a: the attributes, with `in` set. */
static NNRT_ReturnCode nnrti_cpu_lower_gemm(nnrti_cpu_edit *e, uint32_t s, const nnrt_plan_arg *x, const nnrt_view *w,
                                            const nnrt_view *bias, const nnrt_plan_arg *y, nnrti_cpu_gemm *a)
{
    nnrt_draft *d = e->draft;
    const int64_t taps = (int64_t)w->dims[1] * w->dims[2];
    const int64_t pixels = (int64_t)y->view.dims[0] * y->view.dims[1] * y->view.dims[2];
    const int32_t panels = (w->dims[0] + e->isa->panel - 1) / e->isa->panel;
    int32_t packed[2] = {nnrti_cpu_padded_channels(e->isa, w->dims[0]), (int32_t)(1 + taps * w->dims[3])};
    const nnrt_plan_arg from = *x, to = *y;
    nnrt_plan_arg *args;
    const int32_t terms = (int32_t)(taps * w->dims[3]);
    /* that a tap above or below x reads; a row of taps, if they are adjacent for some sizes */
    const int32_t zeros = w->dims[3] * (a->conv.dilation[1] == 1 && a->conv.pad[1] == 0 ? w->dims[2] : 1);
    void *data, *last;
    size_t bytes;
    NNRT_ReturnCode code;
    const nnrti_cpu_kernel *kernel = &e->isa->gemm;
    nnrti_cpu_pack_job job = {e->isa, w, bias, 0, 0, NNRTI_CPU_F32, NULL};
    nnrti_cpu_choose_patch(e, a, &x->view, &y->view, w->dims[3]);
    if (e->dynamic != NULL && a->lines == 0 && x->view.strides[3] != 1 && x->view.dims[3] > 1)
        return NNRT_SUCCESS;
    if (pixels == 1 && taps == 1 && a->lines == 0 && (a->conv.pad[0] | a->conv.pad[1]) == 0 &&
        nnrti_cpu_is_allowed(e, &e->isa->gemv))
        kernel = &e->isa->gemv;
    else if (!nnrti_cpu_is_allowed(e, kernel))
        return NNRT_SUCCESS;
    if ((code = nnrti_cpu_recall_type(e, w, NULL, kernel == &e->isa->gemv, &a->type)) != NNRT_SUCCESS)
        return code;
    packed[1] += nnrti_cpu_head(a->type) - 1;
    nnrti_cpu_set_kernel(&d->steps[s], kernel, a);
    d->steps[s].flags = 0;
    if ((args = nnrt_draft_args(d, s, 2, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = from;
    args[2] = to;
    if ((code = nnrti_cpu_pack(e, s, nnrti_cpu_packed_type(a->type), packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, a->lines > 0 ? NNRT_DATA_TYPE_INT32 : NNRT_DATA_TYPE_FLOAT32, 1,
                                 a->lines > 0 ? &terms : &zeros, &last)) != NNRT_SUCCESS)
        return code;
    job.panel = nnrti_cpu_panel_width(e, &d->steps[s]);
    job.type = a->type;
    job.to = data;
    if (data != NULL)
        nnrti_cpu_pack_panels(&e->call, &job,
                              NNRTI_CPU_SMALL_WEIGHTS && a->type != NNRTI_CPU_F32 ? nnrti_cpu_pack_small_panel
                                                                                 : nnrti_cpu_pack_gemm_panel);
    if (last != NULL && a->lines > 0)
        nnrti_cpu_patch_offsets(a, &x->view, w->dims[3], (int32_t *)last);
    else if (last != NULL)
        memset(last, 0, (size_t)zeros * sizeof(float));
    a->parts = 1;
    if (kernel == &e->isa->gemv) {
        a->rows = 1;
        a->parts = nnrti_cpu_panel_parts(nnrti_cpu_gemm_work(a, 1, packed), packed[0] / e->isa->lanes, d->workers);
        return NNRT_SUCCESS;
    }
    if (a->lines > 0) {
        const int64_t patches = (int64_t)y->view.dims[0] * nnrti_cpu_div_up(y->view.dims[1], a->lines) *
                                nnrti_cpu_div_up(y->view.dims[2], a->columns);
        nnrti_cpu_patch patch;
        (void)nnrti_cpu_patch_of(a, &x->view, w->dims[3], &patch);
        a->rows = a->lines * a->columns;
        if (patches <= (int64_t)d->workers)
            a->parts = nnrti_cpu_panel_parts(nnrti_cpu_gemm_work(a, pixels, packed), panels, d->workers);
        d->steps[s].scratchBytes =
            3 * (size_t)(a->rows + NNRTI_CPU_MAX_TILE_ROWS) * sizeof(void *) + (size_t)patch.floats * sizeof(float);
        nnrti_cpu_reserve_panel(e, &d->steps[s], a, terms);
        return NNRT_SUCCESS;
    }
    a->adjacent = w->dims[2] > 1 && nnrti_cpu_taps_adjacent(a, &x->view, &y->view);
    nnrti_cpu_tile_gemm(e, a, nnrti_cpu_taps(a), pixels, packed, panels);
    bytes = nnrti_cpu_pointer_bytes(e, a->rows, nnrti_cpu_taps(a));
    d->steps[s].scratchBytes = nnrti_cpu_pointer_bytes(e, a->rows, taps);
    if (bytes > d->steps[s].scratchBytes || e->dynamic == NULL) /* sizes decide whether taps are adjacent */
        d->steps[s].scratchBytes = bytes;
    nnrti_cpu_reserve_panel(e, &d->steps[s], a, terms);
    return NNRT_SUCCESS;
}

/* Step s becomes a depthwise convolution; packs its weights tap by tap. */
static NNRT_ReturnCode nnrti_cpu_lower_depthwise(nnrti_cpu_edit *e, uint32_t s, nnrti_cpu_window *a)
{
    nnrt_draft *d = e->draft;
    const nnrt_plan_arg x = d->steps[s].args[0], y = d->steps[s].args[3];
    const nnrt_view w = d->steps[s].args[1].view, bias = d->steps[s].args[2].view;
    const bool has = d->steps[s].args[2].tensor != NNRT_NO_TENSOR;
    const int32_t C = w.dims[0], padded = (C + e->isa->lanes - 1) / e->isa->lanes * e->isa->lanes;
    const int32_t packed[2] = {1 + w.dims[1] * w.dims[2], padded};
    nnrt_plan_arg *args;
    void *data;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_is_allowed(e, &e->isa->depthwise))
        return NNRT_SUCCESS;
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->depthwise, a);
    d->steps[s].flags = 0;
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = x;
    args[1] = y;
    if ((code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_FLOAT32, 2, packed, &data)) != NNRT_SUCCESS || data == NULL)
        return code;
    memset(data, 0, (size_t)packed[0] * (size_t)padded * sizeof(float));
    for (int32_t c = 0; c < C; c++) {
        float *to = (float *)data + c;
        *to = has ? nnrti_cpu_weight(&bias, c * bias.strides[0]) : 0.0f;
        for (int32_t i = 0; i < w.dims[1]; i++)
            for (int32_t j = 0; j < w.dims[2]; j++)
                *(to += padded) = nnrti_cpu_weight(&w, c * w.strides[0] + i * w.strides[1] + j * w.strides[2]);
    }
    return NNRT_SUCCESS;
}

static void nnrti_cpu_pair(int32_t *to, const NNRT_Int64List *from, int32_t first, int32_t second)
{
    to[0] = (int32_t)from->data[first];
    to[1] = (int32_t)from->data[second];
}

/* A dense tensor of weights in `parts` shares; finite[i]: every weight of share i is finite. */
#define NNRTI_CPU_FINITE_PARTS 64
typedef struct nnrti_cpu_finite_job {
    const nnrt_view *w;
    size_t count;
    uint32_t parts;
    bool finite[NNRTI_CPU_FINITE_PARTS];
} nnrti_cpu_finite_job;

static void nnrti_cpu_check_finite(void *arg, uint32_t part, uint32_t worker)
{
    nnrti_cpu_finite_job *const job = (nnrti_cpu_finite_job *)arg;
    const size_t each = job->count / job->parts, end = part + 1 < job->parts ? each * (part + 1) : job->count;
    const float *const v = (const float *)job->w->data;
    size_t i = each * part;
    float sum[32] = {0}, all = 0; /* 32 independent sums, which the compiler vectorizes */
    (void)worker;
    if (job->w->dataType == NNRT_DATA_TYPE_FLOAT16) {
        while (i < end && (((const uint16_t *)job->w->data)[i] & 0x7c00) != 0x7c00)
            i++;
        job->finite[part] = i == end;
        return;
    }
    for (; i + 32 <= end; i += 32)
        for (size_t t = 0; t < 32; t++)
            sum[t] += v[i + t] - v[i + t];
    for (; i < end; i++)
        all += v[i] - v[i];
    for (size_t t = 0; t < 32; t++)
        all += sum[t];
    job->finite[part] = all == 0; /* NaN if a weight is Inf or NaN */
}

/* Whether every weight is finite. A tap outside x is skipped by the definition, but multiplied by 0 here: 0 * Inf is
   NaN. */
static bool nnrti_cpu_is_finite(const nnrt_call *call, const nnrt_view *w)
{
    nnrti_cpu_finite_job job = {w, 0, 0, {0}};
    bool finite = nnrt_dims_count(w->dims, w->rank, &job.count);
    job.parts = (uint32_t)(job.count / 16384 + 1);
    if (job.parts > NNRTI_CPU_FINITE_PARTS)
        job.parts = NNRTI_CPU_FINITE_PARTS;
    if (finite)
        nnrti_cpu_parallel_for(call, 8.0 * (double)job.count, job.parts, nnrti_cpu_check_finite, &job);
    for (uint32_t i = 0; i < job.parts; i++)
        finite = finite && job.finite[i];
    return finite;
}

/* nnrti_cpu_is_finite of a step's weights; recalled if they were packed before. */
static NNRT_ReturnCode nnrti_cpu_recall_finite(nnrti_cpu_edit *e, const nnrt_view *w, bool *finite)
{
    int64_t known;
    if (nnrti_cpu_recall(e, &known)) {
        *finite = known != 0;
        return NNRT_SUCCESS;
    }
    *finite = nnrti_cpu_is_finite(&e->call, w);
    return nnrti_cpu_note(e, *finite);
}

/* Window and activation of a convolution of weights w. */
static nnrti_cpu_window nnrti_cpu_window_of(const NNRT_Conv2DFusion *attr, const nnrt_view *w)
{
    nnrti_cpu_window a;
    memset(&a, 0, sizeof(a));
    a.window[0] = w->dims[1];
    a.window[1] = w->dims[2];
    nnrti_cpu_pair(a.stride, &attr->stride, 0, 1);
    nnrti_cpu_pair(a.dilation, &attr->dilation, 0, 1);
    nnrti_cpu_pair(a.pad, &attr->padList, 0, 2);
    a.activation = attr->activationType;
    return a;
}

/* Whether a convolution reads few channels directly from a channels-first tensor, the usual model input, without a
   copy. */
static bool nnrti_cpu_reads_nchw(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    const nnrt_view *x = &step->args[0].view;
    nnrti_cpu_gemm a;
    if (step->op->type != NNRT_NODE_TYPE_CONV2D_FUSION || ((const NNRT_Conv2DFusion *)step->attr)->group != 1 ||
        x->dims[3] > 4 || x->strides[2] != 1 || x->dataType != NNRT_DATA_TYPE_FLOAT32)
        return false;
    memset(&a, 0, sizeof(a));
    a.conv = nnrti_cpu_window_of((const NNRT_Conv2DFusion *)step->attr, &step->args[1].view);
    if (a.conv.window[0] == 1 && a.conv.window[1] == 1)
        return false;
    nnrti_cpu_choose_patch(e, &a, x, &step->args[step->nIn + step->nDerived].view, x->dims[3]);
    return a.lines > 0;
}

/* In >>winograd. */
static NNRT_ReturnCode nnrti_cpu_choose_winograd_tile(nnrti_cpu_edit *e, const nnrt_draft_step *step,
                                                      int32_t *tile);
static NNRT_ReturnCode nnrti_cpu_lower_winograd(nnrti_cpu_edit *e, uint32_t s, int32_t tile);
static NNRT_ReturnCode nnrti_cpu_read_config(nnrti_cpu_edit *e);
/* In >>multi_gemm. */
static NNRT_ReturnCode nnrti_cpu_lower_conv_multi_gemm(nnrti_cpu_edit *e, uint32_t s);

/* CONV2D_FUSION of float32: depthwise, grouped (>>multi_gemm), Winograd (>>winograd) or implicit GEMM. */
static NNRT_ReturnCode nnrti_cpu_lower_conv(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
    const nnrt_plan_arg *args = step->args;
    const int64_t *pad = attr->padList.data;
    nnrti_cpu_gemm *a;
    int32_t tile;
    bool finite = true;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (e->packed != NULL)
        tile = e->dynamic->tile;
    else if ((code = nnrti_cpu_choose_winograd_tile(e, step, &tile)) != NNRT_SUCCESS)
        return code;
    if (e->dynamic != NULL && e->packed == NULL) { /* a run recalls the numbers behind this decision */
        e->dynamic->tile = tile;
        e->dynamic->nNumbers = 0;
    }
    if (attr->group != 1 && (attr->group != args[0].view.dims[3] || attr->group != args[1].view.dims[0]))
        return nnrti_cpu_lower_conv_multi_gemm(e, s);
    if (attr->group != 1) {
        nnrti_cpu_window *window = (nnrti_cpu_window *)nnrt_memory_keep(d->memory, sizeof(*window));
        if (window == NULL)
            return nnrti_cpu_no_memory(e, step);
        *window = nnrti_cpu_window_of(attr, &args[1].view);
        return nnrti_cpu_lower_depthwise(e, s, window);
    }
    if (tile > 0)
        return nnrti_cpu_lower_winograd(e, s, tile);
    if ((pad[0] | pad[1] | pad[2] | pad[3]) != 0)
        code = nnrti_cpu_recall_finite(e, &args[1].view, &finite);
    if (code != NNRT_SUCCESS || !finite)
        return code;
    a = (nnrti_cpu_gemm *)nnrt_memory_keep(d->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->conv = nnrti_cpu_window_of(attr, &args[1].view);
    return nnrti_cpu_lower_gemm(e, s, &args[0], &args[1].view, args[2].tensor != NNRT_NO_TENSOR ? &args[2].view : NULL,
                                &args[3], a);
}

/* Attributes that MAX_POOL_FUSION and AVGPOOL_FUSION share. */
typedef struct nnrti_cpu_pool {
    const NNRT_Int64List *kernelSize, *strides, *pad;
    NNRT_ActivationType activation;
    bool padded;
} nnrti_cpu_pool;

static NNRT_ReturnCode nnrti_cpu_lower_pool_window(nnrti_cpu_edit *e, uint32_t s, const nnrti_cpu_kernel *kernel,
                                                   const nnrti_cpu_pool *pool)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrti_cpu_window *a;
    if (!nnrti_cpu_is_allowed(e, kernel))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_window *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    nnrti_cpu_pair(a->window, pool->kernelSize, 0, 1);
    nnrti_cpu_pair(a->stride, pool->strides, 0, 1);
    nnrti_cpu_pair(a->pad, pool->pad, 0, 2);
    nnrti_cpu_pair(a->ends, pool->pad, 1, 3);
    a->dilation[0] = a->dilation[1] = 1;
    a->padded = pool->padded;
    a->activation = pool->activation;
    nnrti_cpu_set_kernel(step, kernel, a);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_lower_pool(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    if (step->op->type == NNRT_NODE_TYPE_MAX_POOL_FUSION) {
        const NNRT_MaxPoolFusion *attr = (const NNRT_MaxPoolFusion *)step->attr;
        const nnrti_cpu_pool pool = {&attr->kernelSize, &attr->strides, &attr->pad, attr->activationType, false};
        return nnrti_cpu_lower_pool_window(e, s, &e->isa->max_pool, &pool);
    } else {
        const NNRT_AvgPoolFusion *attr = (const NNRT_AvgPoolFusion *)step->attr;
        const nnrti_cpu_pool pool = {&attr->kernelSize, &attr->strides, &attr->pad, attr->activationType,
                                     step->op->type == NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD};
        return nnrti_cpu_lower_pool_window(e, s, &e->isa->average_pool, &pool);
    }
}

/* MAX_POOL_3D without indices (which are integers), and AVERAGE_POOL_3D. */
static NNRT_ReturnCode nnrti_cpu_lower_pool_nd(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool largest = step->op->type == NNRT_NODE_TYPE_MAX_POOL_3D;
    const nnrti_cpu_kernel *const kernel = largest ? &e->isa->max_pool_nd : &e->isa->average_pool_nd;
    nnrti_cpu_pool_nd *a;
    if (!nnrti_cpu_is_allowed(e, kernel) || !nnrt_view_dense(&step->args[0].view) ||
        !nnrt_view_dense(&step->args[1].view))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_pool_nd *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    if (largest) {
        const NNRT_MaxPool3D *attr = (const NNRT_MaxPool3D *)step->attr;
        a->window = attr->kernelShape.data;
        a->stride = attr->strides.data;
        a->dilation = attr->dilations.data;
        a->pad = attr->pads.data;
    } else {
        const NNRT_AveragePool3D *attr = (const NNRT_AveragePool3D *)step->attr;
        a->window = attr->kernelShape.data;
        a->stride = attr->strides.data;
        a->dilation = attr->dilations.data;
        a->pad = attr->pads.data;
        a->ends = attr->countIncludePad != 0 ? attr->pads.data + (step->args[0].view.rank - 2) : NULL;
    }
    if (nnrti_cpu_pool_run(a, step->args[0].view.rank - 3, e->isa->lanes) > 0)
        nnrti_cpu_set_kernel(step, kernel, a);
    return NNRT_SUCCESS;
}

/* A matrix [rows,columns] as an image of 1 x rows pixels. */
static nnrt_view nnrti_cpu_matrix_as_image(const nnrt_view *v, int64_t rows, ptrdiff_t rowStride, int32_t columns)
{
    nnrt_view image = *v;
    image.rank = 4;
    image.dims[0] = image.dims[1] = 1;
    image.dims[2] = (int32_t)rows;
    image.dims[3] = columns;
    image.strides[0] = image.strides[1] = 0;
    image.strides[2] = rowStride;
    image.strides[3] = 1;
    return image;
}

/* Whether a view is a matrix: its last axis is dense and the others collapse into one axis of *rows rows, *step
   apart. */
static bool nnrti_cpu_is_matrix(const nnrt_view *v, int64_t *rows, ptrdiff_t *step)
{
    *rows = 1;
    *step = 0;
    if (v->rank < 1 || (v->strides[v->rank - 1] != 1 && v->dims[v->rank - 1] > 1))
        return false;
    for (int32_t i = v->rank - 2; i >= 0; i--) {
        if (v->dims[i] != 1 && *rows != 1 && v->strides[i] != *step * *rows)
            return false;
        if (v->dims[i] != 1 && *rows == 1)
            *step = v->strides[i];
        *rows *= v->dims[i];
    }
    return *rows <= INT32_MAX;
}

/* Whether x is one matrix [K,M] of which each column is a pixel (transposed A): *rows pixels, *step apart. */
static bool nnrti_cpu_is_transposed_matrix(const nnrt_view *x, int64_t *rows, ptrdiff_t *step)
{
    const int32_t last = x->rank - 1;
    if (x->rank < 2 || x->strides[last] != 1 || x->dims[last - 1] < 1 || x->dims[last - 1] > NNRTI_CPU_PATCH_FLOATS ||
        x->strides[last - 1] > INT32_MAX / NNRTI_CPU_PATCH_FLOATS - 1) /* offsets of terms have 32 bits */
        return false;
    for (int32_t i = 0; i < last - 1; i++)
        if (x->dims[i] != 1)
            return false;
    *rows = x->dims[last];
    *step = 1;
    return true;
}

/* FULL_CONNECTION and MATMUL_FUSION of constant weights, viewed as [columns,1,1,k]. turned: x is transposed;
   transposed: the weights are. */
static NNRT_ReturnCode nnrti_cpu_lower_constant_matmul(nnrti_cpu_edit *e, uint32_t s, bool turned, bool transposed,
                                                       NNRT_ActivationType activation)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    nnrt_plan_arg x = step->args[0], y = step->args[3];
    const nnrt_view *weight = &step->args[1].view,
                    *bias = step->args[2].tensor != NNRT_NO_TENSOR ? &step->args[2].view : NULL;
    nnrt_view w = *weight;
    nnrti_cpu_gemm *a;
    int64_t rows, rowsY;
    ptrdiff_t stepX, stepY, stepK;
    const int32_t row = weight->rank - 2, column = weight->rank - 1;
    if (weight->rank < 2 || step->args[1].kind != NNRT_PLACE_CONSTANT ||
        (bias != NULL && step->args[2].kind != NNRT_PLACE_CONSTANT) ||
        !(turned ? nnrti_cpu_is_transposed_matrix(&x.view, &rows, &stepX)
                 : nnrti_cpu_is_matrix(&x.view, &rows, &stepX)) ||
        !nnrti_cpu_is_matrix(&y.view, &rowsY, &stepY) || rows != rowsY)
        return NNRT_SUCCESS;
    for (int32_t i = 0; i < row; i++)
        if (weight->dims[i] != 1)
            return NNRT_SUCCESS;
    w.rank = 4;
    w.dims[0] = weight->dims[transposed ? row : column];
    w.dims[1] = w.dims[2] = 1;
    w.dims[3] = weight->dims[transposed ? column : row];
    w.strides[0] = weight->strides[transposed ? row : column];
    w.strides[3] = weight->strides[transposed ? column : row];
    w.strides[1] = w.strides[2] = 0;
    if (w.dims[0] == 0 || w.dims[3] == 0 || rows == 0)
        return NNRT_SUCCESS;
    a = (nnrti_cpu_gemm *)nnrt_memory_keep(d->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    for (int32_t i = 0; i < 2; i++)
        a->conv.window[i] = a->conv.stride[i] = a->conv.dilation[i] = 1;
    a->conv.activation = activation;
    stepK = turned ? x.view.strides[x.view.rank - 2] : 1;
    x.view = nnrti_cpu_matrix_as_image(&x.view, rows, stepX, w.dims[3]);
    x.view.strides[3] = stepK;
    y.view = nnrti_cpu_matrix_as_image(&y.view, rows, stepY, w.dims[0]);
    return nnrti_cpu_lower_gemm(e, s, &x, &w, bias, &y, a);
}

static NNRT_ReturnCode nnrti_cpu_lower_full_connection(nnrti_cpu_edit *e, uint32_t s)
{
    return nnrti_cpu_lower_constant_matmul(e, s, false, true,
                                           ((const NNRT_FullConnection *)e->draft->steps[s].attr)->activationType);
}

/* Scratch of `matmul`: a packed panel, and pointers to rows. */
static size_t nnrti_cpu_matmul_scratch(const nnrti_cpu_edit *e, int32_t terms)
{
    return (1 + (size_t)terms) * (size_t)e->isa->panel * sizeof(float) +
           2 * (size_t)(NNRTI_CPU_MATMUL_ROWS + NNRTI_CPU_MAX_TILE_ROWS) * sizeof(void *);
}

/* Whether a step is a GEMM (`gemm`, `gemm_nbits`, `gemm_nbits_int8`), a GEMV or a Winograd convolution. All have the same arguments and an
   nnrti_cpu_gemm as attributes or as their first member, so epilogue fusion treats them alike. */
static bool nnrti_cpu_is_gemm(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    return step->kernel == e->isa->gemm.run || step->kernel == e->isa->gemv.run ||
           nnrti_cpu_is_nbits_kernel(e, step) || step->kernel == e->isa->winograd.run;
}

/* MATMUL_FUSION: a GEMM if y is constant, else `matmul`. */
static NNRT_ReturnCode nnrti_cpu_lower_matmul(nnrti_cpu_edit *e, uint32_t s)
{
    const NNRT_MatMulFusion *attr = (const NNRT_MatMulFusion *)e->draft->steps[s].attr;
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *y = &step->args[1].view, *z = &step->args[3].view;
    const int32_t k = x->rank - (attr->transposeA ? 2 : 1);
    nnrti_cpu_matmul *a;
    if (step->args[1].kind == NNRT_PLACE_CONSTANT) {
        const NNRT_ReturnCode code =
            nnrti_cpu_lower_constant_matmul(e, s, attr->transposeA, attr->transposeB, attr->activationType);
        if (code != NNRT_SUCCESS || nnrti_cpu_is_gemm(e, step))
            return code;
    }
    if (x->rank < 2 || y->rank < 2 || x->strides[k] != 1 || z->strides[z->rank - 1] != 1 || x->dims[k] == 0 ||
        y->dataType != NNRT_DATA_TYPE_FLOAT32 || !nnrti_cpu_is_allowed(e, &e->isa->matmul))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_matmul *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->transposeA = attr->transposeA;
    a->transposeB = attr->transposeB;
    a->activation = attr->activationType;
    nnrti_cpu_set_kernel(step, &e->isa->matmul, a);
    step->scratchBytes = nnrti_cpu_matmul_scratch(e, x->dims[k]);
    return NNRT_SUCCESS;
}

/* An operand of EINSUM: the axis of each label, -1: none. */
typedef struct nnrti_cpu_einsum_operand {
    const nnrt_view *view;
    int32_t axis[NNRT_MAX_RANK + 1];
} nnrti_cpu_einsum_operand;

/* Makes axis k of v the axis of `term` with that label; size 1 if it has none. */
static void nnrti_cpu_put_axis(nnrt_view *v, int32_t k, const nnrti_cpu_einsum_operand *term, int32_t label)
{
    const int32_t axis = label >= 0 ? term->axis[label] : -1;
    v->dims[k] = axis >= 0 ? term->view->dims[axis] : 1;
    v->strides[k] = axis >= 0 ? term->view->strides[axis] : 0;
}

/* EINSUM of two tensors, float32 or integers of 32 or 64 bits, that is a batched matrix multiplication. The result's last label
   is the columns (N); only one operand, y, has it. A single label is missing in the result (K); both operands have it, x densely
   unless they are integers. Rows (M) are the longest label that only x has; all other labels are batch axes. */
static NNRT_ReturnCode nnrti_cpu_lower_einsum(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const nnrt_plan_arg *old = step->args;
    const nnrt_view *out = &old[step->nIn + step->nDerived].view;
    const int32_t *label = (const int32_t *)old[step->nIn].view.data, sum = out->rank, last = sum - 1;
    const NNRT_DataType type = old[0].view.dataType;
    const bool integers = type == NNRT_DATA_TYPE_INT32 || type == NNRT_DATA_TYPE_INT64 || type == NNRT_DATA_TYPE_UINT32 ||
                          type == NNRT_DATA_TYPE_UINT64;
    const nnrti_cpu_kernel *const kernel = integers ? &e->isa->einsum_int : &e->isa->matmul;
    const size_t size = integers ? sizeof(NNRT_MatMulFusion) : sizeof(nnrti_cpu_matmul);
    nnrti_cpu_einsum_operand terms[3], *x, *y;
    int32_t row = -1, at = 0;
    nnrt_plan_arg *args;
    void *a;
    if (step->nIn != 2 || step->nDerived != 1 || label == NULL || sum < 1 || sum >= NNRT_MAX_RANK ||
        *label++ != sum + 1 || !nnrti_cpu_is_allowed(e, kernel) || (type != NNRT_DATA_TYPE_FLOAT32 && !integers))
        return NNRT_SUCCESS;
    for (int32_t i = 0; i < 3; i++) {
        terms[i].view = &old[i < 2 ? i : 3].view;
        if (terms[i].view->dataType != type || nnrt_view_empty(terms[i].view))
            return NNRT_SUCCESS;
        for (int32_t k = 0; k <= sum; k++)
            terms[i].axis[k] = i == 2 && k < sum ? k : -1;
        for (int32_t k = 0; k < terms[i].view->rank && i < 2; k++, label++) {
            if (terms[i].axis[*label] >= 0) /* a diagonal */
                return NNRT_SUCCESS;
            terms[i].axis[*label] = k;
        }
    }
    y = terms[0].axis[last] >= 0 ? &terms[0] : &terms[1];
    x = y == &terms[0] ? &terms[1] : &terms[0];
    if (x->axis[last] >= 0 || y->axis[last] < 0 || x->axis[sum] < 0 || y->axis[sum] < 0 || out->strides[last] != 1 ||
        (x->view->strides[x->axis[sum]] != 1 && !integers) || x->view->dims[x->axis[sum]] != y->view->dims[y->axis[sum]])
        return NNRT_SUCCESS;
    for (int32_t k = 0; k < last; k++)
        if (y->axis[k] < 0 && (row < 0 || out->dims[k] > out->dims[row]))
            row = k;
    a = nnrt_memory_keep(d->memory, size);
    if (a == NULL || (args = nnrt_draft_args(d, s, 3, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    memset(a, 0, size); /* no activation, no transposed operand */
    args[0] = old[x == &terms[1]];
    args[1] = old[y == &terms[1]];
    args[3] = old[3];
    for (int32_t k = 0; k < last; k++) {
        if (k == row)
            continue;
        nnrti_cpu_put_axis(&args[0].view, at, x, k);
        nnrti_cpu_put_axis(&args[1].view, at, y, k);
        nnrti_cpu_put_axis(&args[3].view, at++, &terms[2], k);
    }
    nnrti_cpu_put_axis(&args[0].view, at, x, row);
    nnrti_cpu_put_axis(&args[0].view, at + 1, x, sum);
    nnrti_cpu_put_axis(&args[1].view, at, y, sum);
    nnrti_cpu_put_axis(&args[1].view, at + 1, y, last);
    nnrti_cpu_put_axis(&args[3].view, at, &terms[2], row);
    nnrti_cpu_put_axis(&args[3].view, at + 1, &terms[2], last);
    args[0].view.rank = args[1].view.rank = args[3].view.rank = at + 2;
    nnrti_cpu_set_kernel(&d->steps[s], kernel, a);
    d->steps[s].flags = 0;
    d->steps[s].scratchBytes = integers ? 0 : nnrti_cpu_matmul_scratch(e, x->view->dims[x->axis[sum]]);
    return NNRT_SUCCESS;
}

/* Fills a with the rows along the last axis; false: the strides do not allow that. */
static bool nnrti_cpu_rows_of(const nnrt_draft_step *step, const nnrt_view *y, nnrti_cpu_rows *a)
{
    const nnrt_view *x = &step->args[0].view;
    int64_t rows;
    a->count = x->rank > 0 ? x->dims[x->rank - 1] : 0;
    return a->count > 0 && nnrti_cpu_is_matrix(x, &a->rows, &a->stepX) && nnrti_cpu_is_matrix(y, &rows, &a->stepY) &&
           rows == a->rows && y->dims[y->rank - 1] == a->count;
}

/* Whether two views have the same shape. */
static bool nnrti_cpu_same_dims(const nnrt_view *x, const nnrt_view *y)
{
    return x->rank == y->rank && memcmp(x->dims, y->dims, (size_t)x->rank * sizeof(x->dims[0])) == 0;
}

/* Fusion of a constant scalar factor: if a MUL that only this step reads multiplies x by a constant, x becomes the
   other factor and the constant is returned; 1 if there is none. */
static float nnrti_cpu_fuse_scale(nnrti_cpu_edit *e, nnrt_draft_step *step)
{
    nnrt_draft *d = e->draft;
    const uint32_t from = nnrt_draft_writer(d, step->args[0].tensor);
    nnrt_draft_step *multiply = from != UINT32_MAX ? &d->steps[from] : step;
    const nnrti_cpu_elementwise *a = (const nnrti_cpu_elementwise *)multiply->attr;
    nnrti_cpu_rows rows;
    if (multiply->kernel != e->isa->binary.run || a->function != NNRTI_CPU_MUL || multiply->open != NULL ||
        a->activation != NNRT_ACTIVATION_TYPE_NO_ACTIVATION || nnrt_draft_reader(d, step->args[0].tensor) == UINT32_MAX)
        return 1.0f;
    for (uint32_t k = 0; k < 2; k++) {
        const nnrt_plan_arg x = multiply->args[1 - k], old = step->args[0];
        const nnrt_view *factor = &multiply->args[k].view;
        size_t count;
        if (multiply->args[k].kind != NNRT_PLACE_CONSTANT || !nnrt_dims_count(factor->dims, factor->rank, &count) ||
            count != 1 || x.kind == NNRT_PLACE_CONSTANT || !nnrti_cpu_same_dims(&x.view, &old.view))
            continue;
        step->args[0] = x;
        if (nnrti_cpu_rows_of(step, &step->args[step->nIn + step->nDerived].view, &rows)) {
            multiply->kernel = NULL;
            (void)nnrt_draft_changed(d, (uint32_t)(step - d->steps), 0);
            return *(const float *)factor->data;
        }
        step->args[0] = old;
    }
    return 1.0f;
}

/* ATTENTION of float32, whose keys and values may be float16 or int8, without weights as a result; the elements of each head
   are adjacent. */
static NNRT_ReturnCode nnrti_cpu_lower_attention(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const void *attr = step->attr;
    const int32_t past = step->args[4].tensor != NNRT_NO_TENSOR ? step->args[4].view.dims[2] : 0;
    const nnrt_view *key = &step->args[1].view;
    const uint32_t out = step->nIn + step->nDerived;
    int64_t room;
    if (!nnrti_cpu_is_allowed(e, &e->isa->attention) || step->nIn != 10 || step->nOut != 4 ||
        step->args[out + 3].tensor != NNRT_NO_TENSOR || step->args[0].view.dataType != NNRT_DATA_TYPE_FLOAT32)
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < out + 3; k++) {
        const nnrt_view *v = &step->args[k].view;
        if (step->args[k].tensor != NNRT_NO_TENSOR &&
            (!nnrti_cpu_is_eligible_arg(&step->args[k], true) ||
             (k != 3 && k != 6 && k != 9 && v->strides[v->rank - 1] != 1 && !nnrt_view_empty(v))))
            return NNRT_SUCCESS;
    }
    room = (int64_t)past + key->dims[key->rank == 4 ? 2 : 1];
    if (step->args[9].tensor != NNRT_NO_TENSOR)
        room = step->args[9].view.dims[1] * ((const NNRT_Attention *)attr)->pageSize;
    if (room * NNRTI_CPU_QUERIES >= NNRTI_CPU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    nnrti_cpu_set_kernel(step, &e->isa->attention, attr);
    step->scratchBytes = NNRTI_CPU_QUERIES * (size_t)nnrti_cpu_attention_room((int32_t)room) * sizeof(float);
    if (key->dataType != NNRT_DATA_TYPE_FLOAT32) { /* NNRTI_CPU_WIDENED keys or values of a head */
        const int64_t heads = key->rank == 4 ? 1 : ((const NNRT_Attention *)attr)->kvNumHeads;
        const int32_t D = key->dims[key->rank - 1], V = step->args[2].view.dims[key->rank - 1];
        step->scratchBytes += NNRTI_CPU_WIDENED * sizeof(float) * (size_t)((D > V ? D : V) / heads);
    }
    return NNRT_SUCCESS;
}

/* Fills a with the lines of x and y along an axis; false: the other axes do not collapse into columns and blocks. */
static bool nnrti_cpu_columns_of(const nnrt_view *x, const nnrt_view *y, int32_t axis, nnrti_cpu_columns *a)
{
    int64_t dims[2] = {1, 1};
    ptrdiff_t stepX[2] = {1, 1}, stepY[2] = {1, 1};
    int32_t n = 0, inner;
    for (int32_t k = x->rank - 1; k >= 0; k--) {
        if (k == axis || x->dims[k] == 1)
            continue;
        if (n > 0 && x->strides[k] == stepX[n - 1] * dims[n - 1] && y->strides[k] == stepY[n - 1] * dims[n - 1]) {
            dims[n - 1] *= x->dims[k];
            continue;
        }
        if (n == 2)
            return false;
        dims[n] = x->dims[k];
        stepX[n] = x->strides[k];
        stepY[n++] = y->strides[k];
    }
    inner = stepX[0] == 1 && stepY[0] == 1 ? 0 : 1;
    a->nextX = x->strides[axis];
    a->nextY = y->strides[axis];
    if (a->nextX == 1 && a->nextY == 1) /* lines that are rows */
        inner = dims[0] == 1 ? 0 : 1;
    else if (stepX[inner] != 1 || stepY[inner] != 1)
        return false;
    a->columns = (int32_t)dims[inner];
    a->rows.rows = dims[1 - inner];
    a->rows.stepX = stepX[1 - inner];
    a->rows.stepY = stepY[1 - inner];
    a->rows.count = x->dims[axis];
    a->rows.factor = 1.0f;
    return dims[0] > 0 && dims[1] > 0 && a->rows.count > 0 && dims[0] * dims[1] <= INT32_MAX;
}

/* SOFTMAX and LOG_SOFTMAX over an axis before the last. */
static NNRT_ReturnCode nnrti_cpu_lower_softmax_columns(nnrti_cpu_edit *e, uint32_t s, int64_t axis, bool log)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrti_cpu_kernel *kernel = &e->isa->softmax_columns;
    nnrti_cpu_columns found, *a;
    memset(&found, 0, sizeof(found));
    found.log = log;
    if (!nnrti_cpu_columns_of(&step->args[0].view, &step->args[step->nIn + step->nDerived].view, (int32_t)axis, &found))
        return NNRT_SUCCESS;
    if (found.nextX == 1 && found.nextY == 1) {
        kernel = log ? &e->isa->log_softmax : &e->isa->softmax;
        if (found.columns > 1)
            return NNRT_SUCCESS;
    }
    if (!nnrti_cpu_is_allowed(e, kernel))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_columns *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = found;
    nnrti_cpu_set_kernel(step, kernel, a);
    return NNRT_SUCCESS;
}

/* LOG_SOFTMAX and RMS_NORMALIZATION over the last axis. */
static NNRT_ReturnCode nnrti_cpu_lower_log_softmax_rms_norm(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool log = step->op->type == NNRT_NODE_TYPE_LOG_SOFTMAX;
    const nnrti_cpu_kernel *const kernel = log ? &e->isa->log_softmax : &e->isa->rms_norm;
    const nnrt_view *scale = &step->args[1].view;
    const int64_t axis =
        log ? ((const NNRT_LogSoftmax *)step->attr)->axis : ((const NNRT_RMSNormalization *)step->attr)->axis;
    nnrti_cpu_rows found, *a;
    if (log && axis != step->args[0].view.rank - 1)
        return nnrti_cpu_lower_softmax_columns(e, s, axis, true);
    if (!nnrti_cpu_is_allowed(e, kernel) || axis != step->args[0].view.rank - 1 ||
        !nnrti_cpu_rows_of(step, &step->args[step->nIn + step->nDerived].view, &found) ||
        (!log && (scale->rank != 1 || scale->dims[0] != found.count || scale->strides[0] != 1)))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_rows *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = found;
    a->epsilon = log ? 0 : ((const NNRT_RMSNormalization *)step->attr)->epsilon;
    nnrti_cpu_set_kernel(step, kernel, a);
    return NNRT_SUCCESS;
}

/* A reduction over `axes`; NULL: over the pixels of an image (a channels-first global pool). */
static NNRT_ReturnCode nnrti_cpu_lower_reduction(nnrti_cpu_edit *e, uint32_t s, const nnrt_plan_arg *axes,
                                                 NNRT_ReduceMode mode, float coeff)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const nnrt_plan_arg x = step->args[0], y = step->args[step->nIn + step->nDerived];
    const int32_t two = 2;
    nnrti_cpu_reduce *a;
    nnrt_plan_arg *args;
    void *data;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_is_allowed(e, &e->isa->reduce) || nnrt_view_empty(&x.view))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_reduce *)nnrt_memory_keep(d->memory, sizeof(*a));
    if (a == NULL || (args = nnrt_draft_args(d, s, axes != NULL ? 2 : 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->mode = mode;
    a->coeff = coeff;
    args[0] = x;
    args[axes != NULL ? 2 : 1] = y;
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->reduce, a);
    d->steps[s].flags = 0;
    if (axes != NULL) {
        args[1] = *axes;
    } else { /* the axes of an image's pixels */
        if ((code = nnrti_cpu_tabulate(e, s, NNRT_DATA_TYPE_INT32, 1, &two, &data)) != NNRT_SUCCESS)
            return code;
        for (int32_t i = 0; i < 2 && data != NULL; i++)
            ((int32_t *)data)[i] = 1 + i;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_lower_reduce(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_ReduceFusion *attr = (const NNRT_ReduceFusion *)step->attr;
    const nnrt_plan_arg axes = step->args[step->nIn];
    if (attr->mode == NNRT_REDUCE_MODE_ALL)
        return NNRT_SUCCESS;
    return nnrti_cpu_lower_reduction(e, s, &axes, attr->mode, attr->coeff);
}

/* INSTANCE_NORM and GROUP_NORM_FUSION of views [N,K,C] with dense channels or dense pixels. */
static NNRT_ReturnCode nnrti_cpu_lower_group_norm(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *y = &step->args[3].view;
    const NNRT_GroupNormFusion *group = (const NNRT_GroupNormFusion *)step->attr;
    const bool instance = step->op->type == NNRT_NODE_TYPE_INSTANCE_NORM;
    const bool pixels = x->strides[2] == 1 && y->strides[2] == 1;
    nnrti_cpu_group_norm *a;
    size_t channels;
    if (!nnrti_cpu_is_allowed(e, &e->isa->group_norm) || nnrt_view_empty(x) ||
        (!instance && x->dims[2] < group->numGroups) || /* dynamic channels: the run refuses them */
        (!pixels && (x->strides[1] != 1 || y->strides[1] != 1)))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_group_norm *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->size = instance ? 1 : x->dims[2] / (int32_t)group->numGroups;
    a->affine = instance || group->affine;
    a->many = !pixels ? 0 : a->size >= NNRTI_CPU_GROUP_CHANNELS ? 1 : NNRTI_CPU_GROUP_CHANNELS / a->size;
    a->epsilon = instance ? ((const NNRT_InstanceNorm *)step->attr)->epsilon : group->epsilon;
    nnrti_cpu_set_kernel(step, &e->isa->group_norm, a);
    channels = (size_t)a->many * (size_t)a->size;
    if (e->dynamic != NULL && channels < NNRTI_CPU_GROUP_CHANNELS) /* of any number of channels, in both layouts */
        channels = (size_t)a->size > NNRTI_CPU_GROUP_CHANNELS ? (size_t)a->size : NNRTI_CPU_GROUP_CHANNELS;
    step->scratchBytes = 4 * (channels + NNRTI_CPU_MAX_PANEL) * sizeof(float);
    return NNRT_SUCCESS;
}

/* SOFTMAX, and LAYER_NORM_FUSION over the last axis. */
static NNRT_ReturnCode nnrti_cpu_lower_softmax_layer_norm(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool softmax = step->op->type == NNRT_NODE_TYPE_SOFTMAX;
    const nnrt_view *x = &step->args[0].view;
    nnrti_cpu_rows found, *a;
    float factor = 1.0f;
    if (softmax && ((const NNRT_Softmax *)step->attr)->axis.data[0] != x->rank - 1)
        return nnrti_cpu_lower_softmax_columns(e, s, ((const NNRT_Softmax *)step->attr)->axis.data[0], false);
    if (!nnrti_cpu_is_allowed(e, softmax ? &e->isa->softmax : &e->isa->layer_norm))
        return NNRT_SUCCESS;
    if (softmax && e->dynamic == NULL)
        factor = nnrti_cpu_fuse_scale(e, step);
    found.epsilon = 0;
    found.affine = false;
    if (!nnrti_cpu_rows_of(step, &step->args[step->nIn + step->nDerived].view, &found))
        return NNRT_SUCCESS;
    if (!softmax) {
        const NNRT_LayerNormFusion *attr = (const NNRT_LayerNormFusion *)step->attr;
        found.epsilon = attr->epsilon;
        found.affine = attr->elementwiseAffine;
        for (uint32_t k = 1; k < 3 && found.affine; k++) {
            const nnrt_view *g = &step->args[k].view;
            if (step->args[k].tensor == NNRT_NO_TENSOR || g->rank != 1 || g->dims[0] != found.count ||
                g->strides[0] != 1)
                return NNRT_SUCCESS;
        }
    }
    a = (nnrti_cpu_rows *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = found;
    a->factor = factor;
    nnrti_cpu_set_kernel(step, softmax ? &e->isa->softmax : &e->isa->layer_norm, a);
    return NNRT_SUCCESS;
}

/* Whether NNRTI_CPU(activation) has a vectorized form of an activation. */
static bool nnrti_cpu_has_simd_activation(NNRT_ActivationType activation)
{
    float low, high;
    switch (activation) {
    case NNRT_ACTIVATION_TYPE_SIGMOID:
    case NNRT_ACTIVATION_TYPE_TANH:
    case NNRT_ACTIVATION_TYPE_HSWISH:
    case NNRT_ACTIVATION_TYPE_HSIGMOID:
    case NNRT_ACTIVATION_TYPE_SWISH:
    case NNRT_ACTIVATION_TYPE_GELU: return true;
    default: return nnrti_cpu_activation_bounds(activation, &low, &high);
    }
}

/* Adds leading axes of size 1 to v, up to the rank of y (broadcast). */
static void nnrti_cpu_add_axes(nnrt_view *v, const nnrt_view *y)
{
    const int32_t more = y->rank - v->rank;
    for (int32_t i = y->rank - 1; i >= 0 && more > 0; i--) {
        v->dims[i] = i < more ? 1 : v->dims[i - more];
        v->strides[i] = i < more ? 0 : v->strides[i - more];
    }
    v->rank = y->rank;
}

/* Sorts the axes of all views of a step by the strides of `arg`, so that rows are contiguous in memory. Returns the
   new position of `axis`. */
static int32_t nnrti_cpu_sort_axes_by(nnrt_draft_step *step, const nnrt_plan_arg *arg, int32_t axis)
{
    const uint32_t count = step->nIn + step->nDerived + step->nOut;
    const nnrt_view *y = &arg->view;
    for (int32_t i = 0; i + 1 < y->rank; i++)
        for (int32_t j = i + 1; j > 0 && y->dims[j] != 1 && y->strides[j - 1] < y->strides[j]; j--) {
            axis = axis == j ? j - 1 : axis == j - 1 ? j : axis;
            for (uint32_t k = 0; k < count; k++) {
                nnrt_view *v = &step->args[k].view;
                const int32_t dim = v->dims[j];
                const ptrdiff_t stride = v->strides[j];
                v->dims[j] = v->dims[j - 1];
                v->strides[j] = v->strides[j - 1];
                v->dims[j - 1] = dim;
                v->strides[j - 1] = stride;
            }
        }
    return axis;
}

/* The same for an elementwise step, whose axes are interchangeable. */
static void nnrti_cpu_sort_axes(nnrt_draft_step *step)
{
    (void)nnrti_cpu_sort_axes_by(step, &step->args[step->nIn + step->nDerived + step->nOut - 1], 0);
}

/* SCALE_FUSION and FUSED_BATCH_NORM of constants per channel. */
static NNRT_ReturnCode nnrti_cpu_lower_affine(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const bool norm = step->op->type == NNRT_NODE_TYPE_FUSED_BATCH_NORM;
    const nnrt_plan_arg x = step->args[0], y = step->args[step->nIn + step->nDerived];
    const nnrt_plan_arg *const old = step->args;
    const float epsilon = norm ? ((const NNRT_FusedBatchNorm *)step->attr)->epsilon : 0;
    const int32_t packed[2] = {3, old[1].view.rank > 0 ? old[1].view.dims[0] : 0};
    nnrti_cpu_affine *a;
    nnrt_plan_arg *args;
    nnrt_view *seen;
    int32_t axis;
    void *data;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_is_allowed(e, &e->isa->affine) || old[1].view.rank != 1 || packed[1] == 0)
        return NNRT_SUCCESS;
    for (uint32_t k = 1; k < step->nIn; k++)
        if (old[k].tensor != NNRT_NO_TENSOR && old[k].kind != NNRT_PLACE_CONSTANT)
            return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_affine *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->activation = norm ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION : ((const NNRT_ScaleFusion *)step->attr)->activationType;
    a->channels = packed[1];
    axis = norm ? y.view.rank - 1 : (int32_t)((const NNRT_ScaleFusion *)step->attr)->axis;
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->affine, a);
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    args[0] = x;
    args[1] = y;
    if ((code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_FLOAT32, 2, packed, &data)) != NNRT_SUCCESS)
        return code;
    seen = &d->steps[s].args[1].view;
    seen->rank = y.view.rank;
    for (int32_t i = 0; i < seen->rank; i++) {
        seen->dims[i] = i == axis ? packed[1] : 1;
        seen->strides[i] = i == axis;
    }
    nnrti_cpu_sort_axes(&d->steps[s]);
    for (int32_t c = 0; c < packed[1] && data != NULL; c++) {
        float *const to = (float *)data + c, value[4] = {1, 0, 0, 1};
        for (uint32_t k = 0; k < 4 && k + 1 < (norm ? 5u : 3u); k++)
            if (old[k + 1].tensor != NNRT_NO_TENSOR)
                value[k] = nnrti_cpu_weight(&old[k + 1].view, c * old[k + 1].view.strides[0]);
        to[0] = value[2];
        to[packed[1]] = norm ? value[0] / nnrt_sqrtf(value[3] + epsilon) : value[0];
        to[2 * packed[1]] = value[1];
    }
    return NNRT_SUCCESS;
}

/* The function of an ACTIVATION; false: there is no vectorized form. */
static bool nnrti_cpu_activation_of(const NNRT_Activation *attr, nnrti_cpu_elementwise *a)
{
    a->activation = attr->activationType;
    a->a = attr->alpha;
    a->b = 1.0f;
    switch (attr->activationType) {
    case NNRT_ACTIVATION_TYPE_LEAKY_RELU: a->function = NNRTI_CPU_LEAKY; return true;
    case NNRT_ACTIVATION_TYPE_ELU: a->function = NNRTI_CPU_ELU; return true;
    case NNRT_ACTIVATION_TYPE_SELU:
        a->function = NNRTI_CPU_ELU;
        a->a = 1.67326324f;
        a->b = 1.05070098f;
        return true;
    case NNRT_ACTIVATION_TYPE_SOFTPLUS: a->function = NNRTI_CPU_SOFTPLUS; return true;
    case NNRT_ACTIVATION_TYPE_SOFTSIGN: a->function = NNRTI_CPU_SOFTSIGN; return true;
    case NNRT_ACTIVATION_TYPE_HARD_TANH:
        a->function = NNRTI_CPU_CLAMP;
        a->a = attr->minVal;
        a->b = attr->maxVal;
        return true;
    case NNRT_ACTIVATION_TYPE_GELU:
        a->function = attr->approximate ? NNRTI_CPU_GELU_TANH : NNRTI_CPU_ACTIVATION;
        return true;
    case NNRT_ACTIVATION_TYPE_SIGN: a->function = NNRTI_CPU_SIGN; return true;
    default: a->function = NNRTI_CPU_ACTIVATION; return nnrti_cpu_has_simd_activation(attr->activationType);
    }
}

/* The only element of a constant of float32 or float16; false: the argument is something else. */
static bool nnrti_cpu_is_constant_scalar(const nnrt_plan_arg *arg, float *value)
{
    size_t count;
    if (arg->tensor == NNRT_NO_TENSOR || arg->kind != NNRT_PLACE_CONSTANT || arg->view.data == NULL ||
        (arg->view.dataType != NNRT_DATA_TYPE_FLOAT32 && arg->view.dataType != NNRT_DATA_TYPE_FLOAT16) ||
        !nnrt_dims_count(arg->view.dims, arg->view.rank, &count) || count != 1)
        return false;
    *value = nnrti_cpu_weight(&arg->view, 0);
    return true;
}

/* The bounds of a CLIP: attributes, or constants. */
static bool nnrti_cpu_clip_of(const nnrt_draft_step *step, nnrti_cpu_elementwise *a)
{
    const NNRT_Clip *attr = (const NNRT_Clip *)step->attr;
    a->function = NNRTI_CPU_CLAMP;
    a->a = attr->min;
    a->b = attr->max;
    return (step->args[1].tensor == NNRT_NO_TENSOR || nnrti_cpu_is_constant_scalar(&step->args[1], &a->a)) &&
           (step->args[2].tensor == NNRT_NO_TENSOR || nnrti_cpu_is_constant_scalar(&step->args[2], &a->b)) &&
           a->a <= a->b;
}

/* The elementwise function of a step; false: there is no vectorized form. */
static bool nnrti_cpu_elementwise_of(const nnrt_draft_step *step, nnrti_cpu_elementwise *a)
{
    float power;
    a->activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    a->a = a->b = 0;
    switch (step->op->type) {
#define NNRTI_CPU_BINARY_OP(type, name, to)                                                                            \
    case NNRT_NODE_TYPE_##type:                                                                                        \
        a->function = NNRTI_CPU_##to;                                                                                  \
        a->activation = ((const NNRT_##name *)step->attr)->activationType;                                             \
        return true;
        NNRTI_CPU_BINARY_OP(ADD_FUSION, AddFusion, ADD)
        NNRTI_CPU_BINARY_OP(SUB_FUSION, SubFusion, SUB)
        NNRTI_CPU_BINARY_OP(MUL_FUSION, MulFusion, MUL)
        NNRTI_CPU_BINARY_OP(DIV_FUSION, DivFusion, DIV)
#undef NNRTI_CPU_BINARY_OP
    case NNRT_NODE_TYPE_BIAS_ADD: a->function = NNRTI_CPU_ADD; return true;
    case NNRT_NODE_TYPE_REAL_DIV: a->function = NNRTI_CPU_DIV; return true;
    case NNRT_NODE_TYPE_MAXIMUM: a->function = NNRTI_CPU_MAX; return true;
    case NNRT_NODE_TYPE_MINIMUM: a->function = NNRTI_CPU_MIN; return true;
    case NNRT_NODE_TYPE_SQUARED_DIFFERENCE: a->function = NNRTI_CPU_SQUARED_DIFFERENCE; return true;
    case NNRT_NODE_TYPE_PRELU_FUSION: a->function = NNRTI_CPU_PRELU; return true;
    case NNRT_NODE_TYPE_ACTIVATION: return nnrti_cpu_activation_of((const NNRT_Activation *)step->attr, a);
    case NNRT_NODE_TYPE_CLIP: return nnrti_cpu_clip_of(step, a);
    case NNRT_NODE_TYPE_LEAKY_RELU:
        a->function = NNRTI_CPU_LEAKY;
        a->a = ((const NNRT_LeakyRelu *)step->attr)->negativeSlope;
        return true;
    case NNRT_NODE_TYPE_HARD_SIGMOID:
        a->function = NNRTI_CPU_HARD_SIGMOID;
        a->a = ((const NNRT_HardSigmoid *)step->attr)->alpha;
        a->b = ((const NNRT_HardSigmoid *)step->attr)->beta;
        return true;
    case NNRT_NODE_TYPE_EXPFUSION:
        a->function = NNRTI_CPU_EXP;
        a->a = ((const NNRT_ExpFusion *)step->attr)->scale;
        a->b = ((const NNRT_ExpFusion *)step->attr)->shift;
        return ((const NNRT_ExpFusion *)step->attr)->base == -1;
    case NNRT_NODE_TYPE_SOFTPLUS: /* above the threshold, and above 18, SOFTPLUS is the identity */
        a->function = NNRTI_CPU_SOFTPLUS;
        return ((const NNRT_Softplus *)step->attr)->beta == 1 && ((const NNRT_Softplus *)step->attr)->threshold >= 18;
    case NNRT_NODE_TYPE_POW_FUSION:
        if (((const NNRT_PowFusion *)step->attr)->scale != 1 || ((const NNRT_PowFusion *)step->attr)->shift != 0)
            return false;
        if (!nnrti_cpu_is_constant_scalar(&step->args[1], &power))
            power = 0; /* any other exponent, or a tensor */
        a->function = power == 2 ? NNRTI_CPU_SQUARE : power == 3 ? NNRTI_CPU_CUBE : NNRTI_CPU_POWER;
        return true;
    case NNRT_NODE_TYPE_SIN: a->function = NNRTI_CPU_SIN; return true;
    case NNRT_NODE_TYPE_COS: a->function = NNRTI_CPU_COS; return true;
    case NNRT_NODE_TYPE_TAN: a->function = NNRTI_CPU_TAN; return true;
    case NNRT_NODE_TYPE_ATAN: a->function = NNRTI_CPU_ATAN; return true;
    case NNRT_NODE_TYPE_ASIN: a->function = NNRTI_CPU_ASIN; return true;
    case NNRT_NODE_TYPE_ACOS: a->function = NNRTI_CPU_ACOS; return true;
    case NNRT_NODE_TYPE_SINH: a->function = NNRTI_CPU_SINH; return true;
    case NNRT_NODE_TYPE_COSH: a->function = NNRTI_CPU_COSH; return true;
    case NNRT_NODE_TYPE_ASINH: a->function = NNRTI_CPU_ASINH; return true;
    case NNRT_NODE_TYPE_ACOSH: a->function = NNRTI_CPU_ACOSH; return true;
    case NNRT_NODE_TYPE_ATANH: a->function = NNRTI_CPU_ATANH; return true;
    case NNRT_NODE_TYPE_MISH: a->function = NNRTI_CPU_MISH; return true;
    case NNRT_NODE_TYPE_LOG: a->function = NNRTI_CPU_LOG; return true;
    case NNRT_NODE_TYPE_SQRT: a->function = NNRTI_CPU_SQRT; return true;
    case NNRT_NODE_TYPE_RSQRT: a->function = NNRTI_CPU_RSQRT; return true;
    case NNRT_NODE_TYPE_SQUARE: a->function = NNRTI_CPU_SQUARE; return true;
    case NNRT_NODE_TYPE_ERF: a->function = NNRTI_CPU_ERF; return true;
    case NNRT_NODE_TYPE_ABS: a->function = NNRTI_CPU_ABS; return true;
    case NNRT_NODE_TYPE_NEG: a->function = NNRTI_CPU_NEG; return true;
    case NNRT_NODE_TYPE_RECIPROCAL: a->function = NNRTI_CPU_RECIPROCAL; return true;
    case NNRT_NODE_TYPE_FLOOR: a->function = NNRTI_CPU_FLOOR; return true;
    case NNRT_NODE_TYPE_CEIL: a->function = NNRTI_CPU_CEIL; return true;
    case NNRT_NODE_TYPE_ROUND: a->function = NNRTI_CPU_ROUND; return true;
    default: return false;
    }
}

/* Elementwise: the step becomes `binary`, with broadcasting, or `unary`. */
static NNRT_ReturnCode nnrti_cpu_lower_elementwise(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_plan_arg x = step->args[0], y = step->args[step->nIn + step->nDerived];
    nnrti_cpu_elementwise found, *a;
    const bool known = nnrti_cpu_elementwise_of(step, &found), two = known && found.function < NNRTI_CPU_ACTIVATION;
    const nnrti_cpu_kernel *const kernel = two ? &e->isa->binary : &e->isa->unary;
    nnrt_plan_arg *args;
    if (!known || !nnrti_cpu_is_allowed(e, kernel) || (!two && x.view.rank != y.view.rank))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_elementwise *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = found;
    if (e->dynamic != NULL && e->dynamic->nan)
        a->function = found.function == NNRTI_CPU_MAX ? NNRTI_CPU_MAX_NAN : NNRTI_CPU_MIN_NAN;
    nnrti_cpu_set_kernel(step, kernel, a);
    if (!two && step->nIn + step->nDerived > 1) {
        if ((args = nnrt_draft_args(e->draft, s, 1, 1)) == NULL)
            return nnrti_cpu_no_memory(e, step);
        args[0] = x;
        args[1] = y;
    }
    for (uint32_t k = 0; k < step->nIn; k++)
        nnrti_cpu_add_axes(&step->args[k].view, &y.view);
    nnrti_cpu_sort_axes(step);
    return NNRT_SUCCESS;
}

/* The bias of channel c in the packed weights of a step of nnrti_cpu_is_gemm. */
static float *nnrti_cpu_bias(const nnrti_cpu_edit *e, const nnrt_draft_step *product, int32_t c)
{
    const nnrt_view *packed = &product->args[2].view;
    const bool bytes = nnrti_cpu_is_nbits_kernel(e, product); /* then a row of packed weights is a panel */
    const int32_t width = nnrti_cpu_panel_width(e, product), first = bytes ? c / width : c - c % width;
    float *const panel = (float *)(void *)((uint8_t *)packed->data +
                                           (size_t)first * (size_t)packed->dims[1] * nnrt_type_size(packed->dataType));
    if (product->kernel == e->isa->winograd.run) {
        const int32_t n = ((const nnrti_cpu_winograd *)product->attr)->tile + 2, left = packed->dims[0] - first;
        const int32_t inside = left < e->isa->panel ? left : e->isa->panel;
        return panel + (size_t)(n + 1) * (size_t)(packed->dims[1] / (n * n)) * (size_t)inside + (c - first);
    }
    return panel + c % width;
}

/* Epilogue fusion of a bias: an ADD_FUSION of a GEMM's result and a constant with one element per channel is added
   to the packed bias, if the GEMM has no activation and no other reader. The GEMM moves to the place of the ADD. */
static NNRT_ReturnCode nnrti_cpu_fuse_bias(nnrti_cpu_edit *e, uint32_t s, bool *joined)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *add = &d->steps[s];
    const nnrt_view *z = &add->args[2].view;
    for (uint32_t k = 0; k < 2; k++) {
        const nnrt_view *bias = &add->args[k].view;
        const uint32_t from = nnrt_draft_writer(d, add->args[1 - k].tensor);
        nnrt_draft_step *product = from != UINT32_MAX ? &d->steps[from] : add;
        nnrti_cpu_gemm *a = (nnrti_cpu_gemm *)(uintptr_t)product->attr;
        const nnrt_draft_step old = *add;
        const int32_t C = z->rank > 0 ? z->dims[z->rank - 1] : 0;
        size_t count;
        if (!nnrti_cpu_is_gemm(e, product) || product->args[1].tensor != NNRT_NO_TENSOR ||
            a->conv.activation != NNRT_ACTIVATION_TYPE_NO_ACTIVATION || add->args[k].kind != NNRT_PLACE_CONSTANT ||
            nnrt_draft_reader(d, add->args[1 - k].tensor) == UINT32_MAX || bias->rank < 1 || bias->rank > z->rank ||
            bias->dims[bias->rank - 1] != C || !nnrt_dims_count(bias->dims, bias->rank, &count) || count != (size_t)C ||
            product->args[4].view.dims[3] != C || !nnrt_view_dense(bias) || !nnrt_view_dense(z) ||
            !nnrt_view_dense(&add->args[1 - k].view)) /* only then is the last axis that of the channels */
            continue;
        for (int32_t c = 0; c < C && product->args[2].view.data != NULL && !nnrt_draft_packed(d); c++)
            *nnrti_cpu_bias(e, product, c) += ((const float *)bias->data)[c];
        *add = *product;
        product->kernel = NULL;
        a->conv.activation = ((const NNRT_AddFusion *)old.attr)->activationType;
        add->args[4].tensor = old.args[2].tensor;
        add->args[4].kind = old.args[2].kind;
        add->op = old.op;
        add->name = old.name;
        add->node = old.node;
        *joined = true;
        return nnrt_draft_changed(d, s, NNRT_DRAFT_STEP) ? NNRT_SUCCESS : nnrti_cpu_no_memory(e, add);
    }
    return NNRT_SUCCESS;
}

/* Epilogue fusion of a residual: an ADD_FUSION of a GEMM's result, which nothing else reads, and a tensor of the
   same strides becomes part of the GEMM. */
static NNRT_ReturnCode nnrti_cpu_fuse_residual(nnrti_cpu_edit *e, uint32_t s, bool *joined)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *add = &d->steps[s];
    const nnrt_view *x = &add->args[0].view, *y = &add->args[1].view, *z = &add->args[2].view;
    float low, high;
    if (x->rank != z->rank || y->rank != z->rank || memcmp(x->dims, z->dims, sizeof(x->dims)) != 0 ||
        memcmp(y->dims, z->dims, sizeof(y->dims)) != 0 || add->args[0].tensor == add->args[1].tensor ||
        memcmp(x->strides, z->strides, sizeof(x->strides)) != 0 ||
        memcmp(y->strides, z->strides, sizeof(y->strides)) != 0 ||
        !nnrti_cpu_activation_bounds(((const NNRT_AddFusion *)add->attr)->activationType, &low, &high))
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t from = nnrt_draft_writer(d, add->args[k].tensor);
        nnrt_draft_step *product = from != UINT32_MAX ? &d->steps[from] : add;
        const nnrt_draft_step old = *add;
        nnrti_cpu_gemm *a;
        if (!nnrti_cpu_is_gemm(e, product) || product->args[1].tensor != NNRT_NO_TENSOR ||
            nnrt_draft_reader(d, add->args[k].tensor) == UINT32_MAX)
            continue;
        a = (nnrti_cpu_gemm *)(uintptr_t)product->attr;
        if (!nnrti_cpu_activation_bounds(a->conv.activation, &low, &high))
            continue;
        *add = *product; /* at the ADD's place, both of its operands are written */
        product->kernel = NULL;
        a->sum = ((const NNRT_AddFusion *)old.attr)->activationType;
        add->flags = NNRT_STEP_ACCUMULATE;
        add->args[1] = old.args[1 - k];
        add->args[1].view = add->args[add->nIn + add->nDerived].view;
        add->args[1].view.data = old.args[1 - k].view.data;
        add->args[add->nIn + add->nDerived].tensor = old.args[2].tensor;
        add->args[add->nIn + add->nDerived].kind = old.args[2].kind;
        add->op = old.op;
        add->name = old.name;
        add->node = old.node;
        *joined = true;
        return nnrt_draft_changed(d, s, NNRT_DRAFT_STEP) ? NNRT_SUCCESS : nnrti_cpu_no_memory(e, add);
    }
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fused_depthwise */

/* Operator fusion of a depthwise convolution with the pointwise (1 x 1) convolutions before and after it, the
   inverted residual block of mobile networks. Each is memory-bound on its own: the expanded tensor between two of
   them often exceeds the L2 cache. The step `fused_depthwise` computes a few rows of the depthwise result at a
   time: the input rows by the first GEMM into scratch, the depthwise rows into scratch, the result rows by the last
   GEMM. Rows of input that overlap between iterations are kept, not recomputed; only threads recompute the overlap
   at their borders. Fusion is decided after kernel selection, and only if the tensors saved are large or the steps
   are so small that thread synchronization dominates. */

/* Most floats of a tensor between two convolutions per iteration, about. */
#define NNRTI_CPU_FUSED_FLOATS 65536
/* Fuse if the tensors between have so many floats per thread: smaller ones stay in the cache by themselves. */
#define NNRTI_CPU_FUSE_FLOATS 262144
/* Multiply-adds: with less work and several threads, fuse to synchronize less often. */
#define NNRTI_CPU_FUSE_WORK 2000000

/* Whether a step is a pointwise convolution of an image with stride 1, whose rows can be computed in any order. */
static bool nnrti_cpu_is_pointwise(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    const nnrti_cpu_gemm *a = (const nnrti_cpu_gemm *)step->attr;
    return step->kernel == e->isa->gemm.run && a->conv.window[0] == 1 && a->conv.window[1] == 1 &&
           a->conv.stride[0] == 1 && a->conv.stride[1] == 1 && (a->conv.pad[0] | a->conv.pad[1]) == 0 &&
           a->lines == 0 && a->depth.to == 0 && step->args[0].view.dims[1] == step->args[4].view.dims[1] &&
           step->args[0].view.dims[2] == step->args[4].view.dims[2];
}

/* Elements of one image. */
static int64_t nnrti_cpu_image_floats(const nnrt_view *image)
{
    return (int64_t)image->dims[1] * image->dims[2] * image->dims[3];
}

/* Whether the second argument reads the tensor that the first writes, through the same view. */
static bool nnrti_cpu_is_same_arg(const nnrt_plan_arg *given, const nnrt_plan_arg *read)
{
    return given->tensor == read->tensor && given->view.rank == 4 && read->view.rank == 4 &&
           memcmp(given->view.dims, read->view.dims, sizeof(given->view.dims)) == 0 &&
           memcmp(given->view.strides, read->view.strides, sizeof(given->view.strides)) == 0;
}

/* The pointwise convolutions before and after `depthwise` step s that can be fused with it; UINT32_MAX: none. */
static void nnrti_cpu_find_pointwise(const nnrti_cpu_edit *e, uint32_t s, uint32_t *first, uint32_t *last)
{
    const nnrt_draft *d = e->draft;
    const nnrt_plan_arg *x = &d->steps[s].args[0], *y = &d->steps[s].args[2];
    *first = nnrt_draft_writer(d, x->tensor);
    if (*first != UINT32_MAX &&
        (!nnrti_cpu_is_pointwise(e, &d->steps[*first]) || d->steps[*first].args[1].tensor != NNRT_NO_TENSOR ||
         nnrt_draft_reader(d, x->tensor) == UINT32_MAX || !nnrti_cpu_is_same_arg(&d->steps[*first].args[4], x)))
        *first = UINT32_MAX;
    *last = nnrt_draft_reader(d, y->tensor);
    if (*last != UINT32_MAX &&
        (!nnrti_cpu_is_pointwise(e, &d->steps[*last]) || !nnrti_cpu_is_same_arg(y, &d->steps[*last].args[0])))
        *last = UINT32_MAX;
}

/* Pixels per work item, up to about 64, chosen so that no small remainder is left. */
static int32_t nnrti_cpu_even_pixels(int64_t pixels)
{
    return (int32_t)nnrti_cpu_div_up(nnrti_cpu_div_up(pixels, nnrti_cpu_div_up(pixels, 64)), 4) * 4;
}

/* Chooses the rows per iteration and the work items per image; sizes the scratch. */
static void nnrti_cpu_plan_fused_depthwise(nnrti_cpu_fused_depthwise *a, uint32_t workers)
{
    const int64_t reach = (int64_t)(a->middle.window[0] - 1) * a->middle.dilation[0] + 1;
    const int64_t row = (int64_t)a->in[1] * a->in[2], result = (int64_t)a->out[1] * a->out[2];
    int64_t fresh = NNRTI_CPU_FUSED_FLOATS / (result > 0 ? result : 1), rows;
    if (a->first.rows > 0 && row > 0 && (NNRTI_CPU_FUSED_FLOATS / row - reach) / a->middle.stride[0] + 1 < fresh)
        fresh = (NNRTI_CPU_FUSED_FLOATS / row - reach) / a->middle.stride[0] + 1;
    a->parts = (int32_t)workers < a->out[0] ? (int32_t)workers : a->out[0]; /* each computes overlapping rows */
    rows = nnrti_cpu_div_up(a->out[0], a->parts);
    fresh = fresh < 1 ? 1 : fresh > rows ? rows : fresh;
    a->lines = (int32_t)(fresh > 0 ? nnrti_cpu_div_up(rows, nnrti_cpu_div_up(rows, fresh)) : 1);
    rows = (a->lines - 1) * (int64_t)a->middle.stride[0] + reach;
    a->cells = a->first.rows > 0 ? (size_t)((rows < a->in[0] ? rows : a->in[0]) * row) : 0;
    if (a->first.rows > 0)
        a->first.rows = nnrti_cpu_even_pixels((int64_t)a->lines * a->middle.stride[0] * a->in[1]);
    if (a->last.rows > 0)
        a->last.rows = nnrti_cpu_even_pixels((int64_t)a->lines * a->out[1]);
    a->first.parts = a->last.parts = 1;
    rows = a->first.rows > a->last.rows ? a->first.rows : a->last.rows;
    a->lists = (3 * (size_t)(rows + NNRTI_CPU_MAX_TILE_ROWS) * sizeof(void *) + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT *
               NNRT_ALIGNMENT;
}

/* Arguments of `fused_depthwise`: x and the residual, derived constants of the steps, y. first and last may be NULL.
   Returns their number without y. */
static uint32_t nnrti_cpu_fused_args(const nnrt_draft_step *first, const nnrt_draft_step *middle,
                                     const nnrt_draft_step *last, nnrt_plan_arg *args)
{
    const nnrt_draft_step *begin = first != NULL ? first : middle, *end = last != NULL ? last : middle;
    uint32_t n = 0;
    args[n++] = begin->args[0];
    if (last != NULL)
        args[n] = last->args[1];
    n++;
    args[n++] = middle->args[1];
    if (first != NULL) {
        args[n++] = first->args[2];
        args[n++] = first->args[3];
    }
    if (last != NULL) {
        args[n++] = last->args[2];
        args[n++] = last->args[3];
    }
    args[n] = end->args[end->nIn + end->nDerived];
    return n;
}

/* Fuses `depthwise` step s with the pointwise convolutions around it, if that saves enough memory traffic or
   synchronization. */
static NNRT_ReturnCode nnrti_cpu_fuse_depthwise(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step middle = d->steps[s];
    nnrt_draft_step first, last;
    nnrti_cpu_fused_depthwise *a;
    nnrt_plan_arg *args;
    uint32_t f, l;
    int64_t between = 0, work = 0;
    int32_t terms;
    if (middle.kernel != e->isa->depthwise.run || !nnrti_cpu_is_allowed(e, &e->isa->fused_depthwise) ||
        nnrt_view_empty(&middle.args[0].view) || nnrt_view_empty(&middle.args[2].view))
        return NNRT_SUCCESS;
    nnrti_cpu_find_pointwise(e, s, &f, &l);
    first = d->steps[f != UINT32_MAX ? f : s];
    last = d->steps[l != UINT32_MAX ? l : s];
    if (f != UINT32_MAX) {
        between += nnrti_cpu_image_floats(&middle.args[0].view);
        work += nnrti_cpu_image_floats(&middle.args[0].view) * first.args[2].view.dims[1];
    }
    if (l != UINT32_MAX) {
        between += nnrti_cpu_image_floats(&middle.args[2].view);
        work += nnrti_cpu_image_floats(&middle.args[2].view) * last.args[2].view.dims[0];
    }
    if (between == 0 || (e->only[0] == '\0' && between < NNRTI_CPU_FUSE_FLOATS * (int64_t)d->workers &&
                         (d->workers < 2 || work > NNRTI_CPU_FUSE_WORK)))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_fused_depthwise *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, &middle);
    memset(a, 0, sizeof(*a));
    a->middle = *(const nnrti_cpu_window *)middle.attr;
    memcpy(a->in, &middle.args[0].view.dims[1], sizeof(a->in));
    memcpy(a->out, &middle.args[2].view.dims[1], sizeof(a->out));
    if (f != UINT32_MAX)
        a->first = *(const nnrti_cpu_gemm *)first.attr;
    if (l != UINT32_MAX)
        a->last = *(const nnrti_cpu_gemm *)last.attr;
    nnrti_cpu_plan_fused_depthwise(a, d->workers);
    terms = a->first.type != NNRTI_CPU_F32 ? first.args[2].view.dims[1] : 0;
    if (a->last.type != NNRTI_CPU_F32 && last.args[2].view.dims[1] > terms)
        terms = last.args[2].view.dims[1];
    a->first.wide = a->last.wide = a->lists;                           /* they run one after the other */
    a->lists += (size_t)terms * (size_t)e->isa->panel * sizeof(float); /* a multiple of the alignment */
    if (f != UINT32_MAX)
        d->steps[f].kernel = NULL;
    if (l != UINT32_MAX) {
        d->steps[s].kernel = NULL;
        s = l;
    }
    if ((args = nnrt_draft_args(d, s, 7, 1)) == NULL) /* most of them are derived constants */
        return nnrti_cpu_no_memory(e, &last);
    d->steps[s].nIn = 2;
    d->steps[s].nDerived =
        nnrti_cpu_fused_args(f != UINT32_MAX ? &first : NULL, &middle, l != UINT32_MAX ? &last : NULL, args) - 2;
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->fused_depthwise, a);
    d->steps[s].scratchBytes =
        a->lists + (a->cells + (size_t)a->lines * (size_t)a->out[1] * (size_t)a->out[2]) * sizeof(float);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nbits */

/* MATMUL_NBITS of constant weights. Packing transposes words of the model; panels are never split along K. Work items divide
   the panels, not the rows: each panel is decoded once per work item.
   A GEMV reads its weights from memory once, so for `gemm_nbits_int8` they are packed into as few bytes as hold the same
   numbers: entries without bits that none of them has, and scales as products of a shared factor and an int8. Block types
   with super-blocks (Q4_K, Q6_K of GGUF files) were made of such products, so that packed weights are as large as in the
   file. The factors are found again from the scales, and only used where they are exact. Blocks of a blockType are decoded into
   pieces of 256 entries, once to choose the form and once to pack: rejected is a decoded copy of the whole matrix. */

/* Form of the packed constants of a step. */
typedef struct nnrti_cpu_nbits_form {
    int32_t fits;        /* 0: products of scales and entries may overflow, or NaN; 2: all scales are numbers of float16, else 1 */
    int32_t bits, least; /* the entries are least to least + 2^bits - 1 */
    bool factored;       /* scales, and minima if there are zero points, are products of a factor and an int8 */
} nnrti_cpu_nbits_form;

/* Whether no product of a scale and an entry, of which each is below 2^31, can overflow: 0 if not, for NaN and Inf, too; 2 if
   all scales are numbers of float16, else 1. */
static int32_t nnrti_cpu_nbits_fits(const nnrt_view *scale, const nnrt_view *zero)
{
    size_t count;
    bool halves = true;
    if (!nnrt_dims_count(scale->dims, scale->rank, &count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        const float s = nnrti_cpu_weight(scale, (ptrdiff_t)i);
        if (!(fabsf(s) < 7.9228163e28f) || /* 2^96 */
            (zero != NULL && !(fabsf(nnrti_cpu_weight(zero, (ptrdiff_t)i)) < 1073741824.0f)))
            return 0;
        halves = halves && nnrt_half_to_float(nnrt_half_from_float(s)) == s;
    }
    return halves ? 2 : 1;
}

/* The odd integer of a float other than 0, |value| = odd * 2^exponent. */
static uint32_t nnrti_cpu_odd_part(float value, int32_t *exponent)
{
    uint32_t bits, odd;
    memcpy(&bits, &value, sizeof(bits));
    odd = bits & 0x7FFFFFu;
    *exponent = (int32_t)(bits >> 23 & 255);
    if (*exponent > 0)
        odd |= 0x800000u;
    else
        *exponent = 1;
    for (*exponent -= 150; (odd & 1) == 0; odd >>= 1)
        ++*exponent;
    return odd;
}

/* Whether the finite values are factor * parts[i]: factor is their greatest common divisor. */
static bool nnrti_cpu_factor(const float *values, int32_t count, float *factor, int8_t *parts)
{
    uint32_t divisor = 0;
    int32_t least = INT32_MAX;
    for (int32_t i = 0; i < count; i++) {
        int32_t exponent;
        uint32_t other;
        if (values[i] == 0)
            continue;
        other = nnrti_cpu_odd_part(values[i], &exponent);
        least = exponent < least ? exponent : least;
        while (other != 0) {
            const uint32_t rest = divisor % other;
            divisor = other;
            other = rest;
        }
    }
    *factor = divisor == 0 ? 0.0f : ldexpf((float)divisor, least);
    for (int32_t i = 0; i < count; i++) {
        const float part = divisor == 0 ? 0.0f : values[i] / *factor;
        if (!(part >= -128.0f && part <= 127.0f))
            return false;
        parts[i] = (int8_t)part;
    }
    return true;
}

/* Scales and minima of `count` blocks of a channel, from block `at` on, as factors and parts: [0] and [1], if there are float
   zero points. Zero points are quotients of a minimum of up to 20 bits and the scale, rounded; false: they are not. */
static bool nnrti_cpu_nbits_factors(const nnrt_view *scale, const nnrt_view *zero, ptrdiff_t at, int32_t count,
                                    float factors[2], int8_t parts[2][16])
{
    float scales[16], minima[16];
    for (int32_t i = 0; i < count; i++) {
        uint32_t bits;
        scales[i] = nnrti_cpu_weight(scale, at + i);
        if (zero == NULL)
            continue;
        minima[i] = (float)((double)nnrti_cpu_weight(zero, at + i) * (double)scales[i]);
        memcpy(&bits, &minima[i], sizeof(bits));
        bits = (bits + 8) & ~(uint32_t)15;
        memcpy(&minima[i], &bits, sizeof(bits));
        if (scales[i] != 0 && minima[i] / scales[i] != nnrti_cpu_weight(zero, at + i))
            return false;
    }
    return nnrti_cpu_factor(scales, count, &factors[0], parts[0]) &&
           (zero == NULL || nnrti_cpu_factor(minima, count, &factors[1], parts[1]));
}

/* Whether all scales can be factored. zero: float zero points, or NULL. */
static bool nnrti_cpu_nbits_is_factored(const nnrt_view *scale, const nnrt_view *zero, int32_t block)
{
    const int32_t count = NNRTI_CPU_NBITS_SHARED / block, blocks = scale->dims[0] * scale->dims[1];
    float factors[2];
    int8_t parts[2][16];
    if (block > 32 || scale->dims[1] % count != 0)
        return false;
    for (int32_t b = 0; b < blocks; b += count)
        if (!nnrti_cpu_nbits_factors(scale, zero, b, count, factors, parts))
            return false;
    return true;
}

/* The least and the largest entry. */
static void nnrti_cpu_nbits_range(const nnrt_view *w, int64_t bits, int32_t range[2])
{
    const uint8_t *const bytes = (const uint8_t *)w->data;
    const size_t count = (size_t)w->dims[0] * (size_t)w->dims[1] * (size_t)w->dims[2];
    uint8_t least = 255, most = 0;
    for (size_t i = 0; i < count && (least > 0 || most + 1 < 1 << bits); i++) {
        const uint8_t low = bits == 8 ? bytes[i] : bytes[i] & 15, high = bits == 8 ? bytes[i] : bytes[i] >> 4;
        least = low < least ? low : least;
        least = high < least ? high : least;
        most = low > most ? low : most;
        most = high > most ? high : most;
    }
    range[0] = least;
    range[1] = most;
}

/* Up to 256 entries of a channel of blocks of a blockType, with their scales and zero points, as arguments of a step: entries of 8
   bits, or of 4. */
typedef struct nnrti_cpu_nbits_piece {
    nnrt_plan_arg args[4];
    uint8_t q[NNRT_BLOCK_ELEMENTS];
    float scales[NNRT_BLOCK_SCALES], zeros[NNRT_BLOCK_SCALES];
} nnrti_cpu_nbits_piece;

static void nnrti_cpu_nbits_piece_view(nnrt_plan_arg *arg, void *data, NNRT_DataType type, int32_t blocks, int32_t size)
{
    memset(&arg->view, 0, sizeof(arg->view));
    arg->tensor = 0; /* there is one */
    arg->view.data = data;
    arg->view.dataType = type;
    arg->view.rank = size > 0 ? 3 : 2;
    arg->view.dims[0] = 1;
    arg->view.dims[1] = blocks;
    arg->view.dims[2] = size;
    arg->view.strides[2] = 1;
    arg->view.strides[1] = size > 0 ? size : 1;
    arg->view.strides[0] = blocks * arg->view.strides[1];
}

/* Begins pieces of a type: views of 256 entries of `bits` bits. */
static void nnrti_cpu_nbits_begin(nnrti_cpu_nbits_piece *p, const nnrt_block_type *type, int64_t bits)
{
    const int32_t blocks = NNRT_BLOCK_ELEMENTS / type->size;
    nnrti_cpu_nbits_piece_view(&p->args[1], p->q, NNRT_DATA_TYPE_UINT8, blocks, type->size * (int32_t)bits / 8);
    nnrti_cpu_nbits_piece_view(&p->args[2], p->scales, NNRT_DATA_TYPE_FLOAT32, blocks, 0);
    nnrti_cpu_nbits_piece_view(&p->args[3], p->zeros, NNRT_DATA_TYPE_FLOAT32, blocks, 0);
    p->args[3].tensor = type->minima != 0 ? 0 : NNRT_NO_TENSOR;
}

/* Decodes entries `from` to `from` + 255 of channel c, or to the end of the row, as entries of `bits` bits; 0: scales and zero points
   only. Returns how many. */
static int32_t nnrti_cpu_nbits_decode(nnrti_cpu_nbits_piece *p, const nnrt_block_type *type, const nnrt_view *w, int32_t c,
                                      int32_t from, int64_t bits)
{
    const int32_t left = w->dims[1] - from / type->elements, most = NNRT_BLOCK_ELEMENTS / type->elements;
    const int32_t blocks = left < most ? left : most, parts = type->elements / type->size;
    const uint8_t *block = (const uint8_t *)w->data +
                           ((size_t)c * (size_t)w->dims[1] + (size_t)(from / type->elements)) * (size_t)type->bytes;
    for (int32_t b = 0; b < blocks; b++, block += type->bytes)
        nnrt_block_decode(type, block, bits > 0 ? p->q + b * type->elements : NULL, p->scales + b * parts, p->zeros + b * parts);
    for (int32_t i = 0; i < blocks * type->elements / 2 && bits == 4; i++)
        p->q[i] = (uint8_t)(p->q[2 * i] | p->q[2 * i + 1] << 4);
    p->args[1].view.dims[1] = p->args[2].view.dims[1] = p->args[3].view.dims[1] = blocks * parts;
    return blocks * type->elements;
}

/* The block type of a step's weights; NULL: they are entries. */
static const nnrt_block_type *nnrti_cpu_nbits_type(const nnrt_draft_step *step)
{
    const NNRT_MatMulNBits *attr = (const NNRT_MatMulNBits *)step->attr;
    return attr->blockType != 0 ? nnrt_block_type_of(attr->blockType) : NULL;
}

/* Whether a step has zero points, and whether they are float32. */
static bool nnrti_cpu_nbits_has_zeros(const nnrt_draft_step *step)
{
    const nnrt_block_type *type = nnrti_cpu_nbits_type(step);
    return type != NULL ? type->minima != 0 : step->args[3].tensor != NNRT_NO_TENSOR;
}
static bool nnrti_cpu_nbits_has_reals(const nnrt_draft_step *step)
{
    return nnrti_cpu_nbits_has_zeros(step) &&
           (nnrti_cpu_nbits_type(step) != NULL || step->args[3].view.dataType != NNRT_DATA_TYPE_UINT8);
}

/* The properties of the constants of a step on which its form depends. */
typedef struct nnrti_cpu_nbits_facts {
    int32_t fits, range[2];
    bool factored, partial; /* partial: more constants follow, so that fits may become 1 */
} nnrti_cpu_nbits_facts;

/* Adds the constants of args. bits: of an entry, 0: their range is known; small: the form of few bytes depends on all properties. */
static void nnrti_cpu_nbits_learn(nnrti_cpu_nbits_facts *f, const nnrt_plan_arg *args, int64_t bits, int32_t block,
                                  bool reals, bool small)
{
    const nnrt_view *zero = reals ? &args[3].view : NULL;
    const int32_t fits = nnrti_cpu_nbits_fits(&args[2].view, zero);
    int32_t range[2];
    f->fits = fits < f->fits ? fits : f->fits;
    if (f->fits == 0 || !small)
        return;
    f->factored = f->factored && (f->partial || f->fits == 1) &&
                  nnrti_cpu_nbits_is_factored(&args[2].view, zero, block);
    if (bits == 0)
        return;
    nnrti_cpu_nbits_range(&args[1].view, bits, range);
    f->range[0] = range[0] < f->range[0] ? range[0] : f->range[0];
    f->range[1] = range[1] > f->range[1] ? range[1] : f->range[1];
}

/* All constants of a step. */
static void nnrti_cpu_nbits_learn_all(nnrti_cpu_nbits_facts *f, const nnrt_draft_step *step, bool small)
{
    const NNRT_MatMulNBits *attr = (const NNRT_MatMulNBits *)step->attr;
    const nnrt_block_type *type = nnrti_cpu_nbits_type(step);
    const bool reals = nnrti_cpu_nbits_has_reals(step);
    nnrti_cpu_nbits_piece piece;
    f->fits = 2;
    f->range[0] = 255;
    f->range[1] = 0;
    f->factored = reals || !nnrti_cpu_nbits_has_zeros(step);
    f->partial = type != NULL && type->elements == 256; /* the scales of the other types are float16: fits is never 1 */
    if (type == NULL) {
        nnrti_cpu_nbits_learn(f, step->args, attr->bits, (int32_t)attr->blockSize, reals, small);
        return;
    }
    nnrti_cpu_nbits_begin(&piece, type, 8);
    for (int32_t c = 0; c < step->args[1].view.dims[0] && f->fits > 0; c++)
        for (int32_t from = 0; from < attr->columns && f->fits > 0;) {
            const int32_t spread = f->range[1] - f->range[0];
            const bool known = !small || spread == (1 << type->width) - 1 || spread > 64;
            from += nnrti_cpu_nbits_decode(&piece, type, &step->args[1].view, c, from, known ? 0 : 8);
            nnrti_cpu_nbits_learn(f, piece.args, known ? 0 : 8, type->size, reals, small);
        }
}

/* The form of the constants of a step. small: the kernel has the forms of few bytes. Entries
   of 3 bits are packed as 4 unless the ISA has dot products of bytes (nnrti_cpu_isa_q8): without these a GEMV is bound by
   arithmetic, and two planes take 1.5 times the time of nibbles. */
static void nnrti_cpu_nbits_find_form(const nnrti_cpu_isa *isa, const nnrt_draft_step *step, bool small,
                                      nnrti_cpu_nbits_form *form)
{
    const NNRT_MatMulNBits *attr = (const NNRT_MatMulNBits *)step->attr;
    nnrti_cpu_nbits_facts facts;
    memset(form, 0, sizeof(*form));
    nnrti_cpu_nbits_learn_all(&facts, step, small);
    form->bits = (int32_t)attr->bits;
    form->fits = facts.fits;
    if (form->fits == 0 || !small)
        return;
    form->factored = form->fits == 1 && facts.factored;
    if (attr->blockSize % 32 != 0 && !form->factored)
        return;
    if (nnrti_cpu_nbits_has_zeros(step)) /* without them an offset of the entries changes the sums only */
        facts.range[0] = 0;
    for (form->bits = 2; form->bits < 8 && facts.range[1] - facts.range[0] >= 1 << form->bits; form->bits++)
        continue;
    form->bits = form->bits == 7 ? 8 : form->bits == 3 && isa->q8.bytes > 1 ? 4 : form->bits;
    if (form->bits < attr->bits)
        form->least = facts.range[0];
    else
        form->bits = (int32_t)attr->bits;
}

/* nnrti_cpu_nbits_find_form; recalled if the weights were packed before. */
static NNRT_ReturnCode nnrti_cpu_recall_nbits_form(nnrti_cpu_edit *e, const nnrt_draft_step *step, bool small,
                                                   nnrti_cpu_nbits_form *form)
{
    int64_t number;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (!nnrti_cpu_recall(e, &number)) {
        nnrti_cpu_nbits_find_form(e->isa, step, small, form);
        number = form->fits | form->bits << 2 | (int32_t)form->factored << 6 | form->least << 7;
        code = nnrti_cpu_note(e, number);
    }
    form->fits = (int32_t)(number & 3);
    form->bits = (int32_t)(number >> 2 & 15);
    form->factored = (number >> 6 & 1) != 0;
    form->least = (int32_t)(number >> 7);
    return code;
}

/* Adds 32 entries of a channel, in order, to the words of a record, which are 0 and `width` apart. The kernels multiply
   four entries at once, one in each byte of a word: those at even or at odd positions of eight. Such a group has its low
   bits, 2 or 4 of each entry, in one word, and its high bits, 1 or 2, in another. */
static void nnrti_cpu_nbits_planes(const uint8_t *entries, int32_t bits, uint32_t *word, int32_t width)
{
    const int32_t low = bits < 4 ? 2 : 4, high = bits - low;
    const uint32_t lowMask = ((1u << low) - 1u) * 0x01010101u, highMask = ((1u << high) - 1u) * 0x01010101u;
    for (int32_t group = 0; group < 8; group++) {
        const uint8_t *const e = entries + group / 2 * 8 + group % 2;
        const uint32_t four = (uint32_t)e[0] | (uint32_t)e[2] << 8 | (uint32_t)e[4] << 16 | (uint32_t)e[6] << 24;
        const int32_t each = 8 / low, several = high > 0 ? 8 / high : 8;
        word[group / each * width] |= (four & lowMask) << group % each * low;
        if (high > 0)
            word[(low + group / several) * width] |= (four >> low & highMask) << group % several * high;
    }
}

/* Packs the entries of a record, `record` of the model from byte `from` on, to words `width` apart. */
static void nnrti_cpu_pack_nbits_words(const nnrti_cpu_nbits *a, int64_t bits, const uint8_t *from, uint32_t *word,
                                       int32_t width)
{
    if (a->bits == bits) {
        for (int32_t i = 0; i < a->record * a->bits / 32; i++, from += 4, word += width)
            *word = (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
        return;
    }
    for (int32_t k = 0; k < a->record; k += 32, word += a->bits * width) {
        uint8_t entries[32];
        for (int32_t i = 0; i < 32; i++)
            entries[i] = (uint8_t)((bits == 8 ? from[k + i] : from[(k + i) / 2] >> i % 2 * 4 & 15) - a->least);
        nnrti_cpu_nbits_planes(entries, a->bits, word, width);
    }
}

/* Stores the scale and the zero point of block b of channel c at lane `lane` of a record. */
static void nnrti_cpu_pack_nbits_scale(const nnrti_cpu_nbits *a, const nnrt_plan_arg *args, int64_t bits, int32_t c,
                                       int32_t b, int32_t lane, uint8_t *scales, uint8_t *zeros)
{
    const nnrt_view *scale = &args[2].view, *zero = &args[3].view;
    const float s = nnrti_cpu_weight(scale, (ptrdiff_t)c * scale->dims[1] + b);
    if (a->scaleBytes == 2)
        ((uint16_t *)(void *)scales)[lane] = nnrt_half_from_float(s);
    else
        ((float *)(void *)scales)[lane] = s;
    if (a->zeroBytes == 1) {
        const uint8_t *const row = (const uint8_t *)zero->data + (size_t)c * (size_t)zero->dims[1];
        zeros[lane] = (uint8_t)(bits == 8 ? row[b] : row[b / 2] >> (b % 2 * 4) & 15);
    } else if (a->zeroBytes == 4) {
        ((float *)(void *)zeros)[lane] = nnrti_cpu_weight(zero, (ptrdiff_t)c * zero->dims[1] + b);
    }
}

/* Packs channel c of args, lane `lane` of a panel whose records begin at `to`. Returns the end of these records. */
static uint8_t *nnrti_cpu_pack_nbits_channel(const nnrti_cpu_nbits *a, const nnrt_plan_arg *args, int64_t bits, int32_t c,
                                         int32_t lane, int32_t width, uint8_t *to)
{
    const nnrt_view *w = &args[1].view;
    const nnrt_view *zero = a->zeroBytes > 0 ? &args[3].view : NULL;
    const int32_t each = a->record / a->block, shared = NNRTI_CPU_NBITS_SHARED / a->block;
    const uint8_t *from = (const uint8_t *)w->data + (size_t)c * (size_t)w->dims[1] * (size_t)w->dims[2];
    int8_t parts[2][16];
    for (int32_t b = 0; b < w->dims[1]; b += each, from += (size_t)(each * w->dims[2]), to += a->blockBytes) {
        uint8_t *scales = to, *zeros;
        if (a->factorBytes > 0 && b % shared == 0) {
            float factors[2];
            (void)nnrti_cpu_nbits_factors(&args[2].view, zero, (ptrdiff_t)c * w->dims[1] + b, shared, factors, parts);
            for (int32_t i = 0; i < 1 + a->zeroBytes; i++)
                ((float *)(void *)to)[i * width + lane] = factors[i];
            scales = to += a->factorBytes;
        }
        zeros = scales + (size_t)(width * a->scaleBytes * each);
        for (int32_t i = 0; i < each && a->factorBytes > 0; i++) {
            scales[i * width + lane] = (uint8_t)parts[0][b % shared + i];
            if (a->zeroBytes > 0)
                zeros[i * width + lane] = (uint8_t)parts[1][b % shared + i];
        }
        if (a->factorBytes == 0)
            nnrti_cpu_pack_nbits_scale(a, args, bits, c, b, lane, scales, zeros);
        nnrti_cpu_pack_nbits_words(a, bits, from,
                                   (uint32_t *)(void *)(zeros + (size_t)(width * a->zeroBytes * each)) + lane, width);
    }
    return to;
}

/* Packs the weights of a step with these arguments. bits: of an entry of the model; type: of blocks, or NULL. */
static void nnrti_cpu_pack_nbits(const nnrti_cpu_nbits *a, const nnrt_plan_arg *args, int64_t bits, const nnrt_block_type *type,
                                 int32_t width, const int32_t packed[2], uint8_t *to)
{
    const nnrt_view *w = &args[1].view, *bias = &args[4].view;
    const int64_t own = a->bits == bits ? bits : 8; /* of an entry of a piece */
    nnrti_cpu_nbits_piece piece;
    if (type != NULL)
        nnrti_cpu_nbits_begin(&piece, type, own);
    memset(to, 0, (size_t)packed[0] * (size_t)packed[1]);
    for (int32_t c = 0; c < w->dims[0]; c++) {
        uint8_t *const panel = to + (size_t)(c / width) * (size_t)packed[1];
        const int32_t lane = c % width;
        uint8_t *record = panel + (size_t)width * sizeof(float);
        if (args[4].tensor != NNRT_NO_TENSOR)
            ((float *)(void *)panel)[lane] = nnrti_cpu_weight(bias, c * bias->strides[0]);
        if (type == NULL)
            (void)nnrti_cpu_pack_nbits_channel(a, args, bits, c, lane, width, record);
        for (int32_t from = 0; type != NULL && from < w->dims[1] * type->elements;) {
            from += nnrti_cpu_nbits_decode(&piece, type, w, c, from, own);
            record = nnrti_cpu_pack_nbits_channel(a, piece.args, own, 0, lane, width, record);
        }
    }
}

/* Whether the weights of MATMUL_NBITS are constants of 4 or 8 bits that can be packed, and x and y are matrices of *rows
   rows, strides[0] and strides[1] apart. */
static bool nnrti_cpu_is_nbits(const nnrt_draft_step *step, int64_t *rows, ptrdiff_t strides[2])
{
    int64_t rowsY;
    if (step->nIn != 5 || ((const NNRT_MatMulNBits *)step->attr)->bits == 2 ||
        step->args[0].view.dataType != NNRT_DATA_TYPE_FLOAT32 || step->args[5].view.dataType != NNRT_DATA_TYPE_FLOAT32 ||
        !nnrti_cpu_is_matrix(&step->args[0].view, rows, &strides[0]) ||
        !nnrti_cpu_is_matrix(&step->args[5].view, &rowsY, &strides[1]) || *rows != rowsY || *rows == 0)
        return false;
    for (uint32_t k = 1; k < 5; k++)
        if (step->args[k].tensor != NNRT_NO_TENSOR &&
            (step->args[k].kind != NNRT_PLACE_CONSTANT || !nnrt_view_dense(&step->args[k].view)))
            return false;
    return step->args[1].view.dims[0] > 0;
}

/* Sets rows and parts of the work items, and scratch: pointers to rows, and a decoded panel if the kernel needs one; or x
   rounded to int8, which all workers read in the scratch of all. */
static void nnrti_cpu_tile_nbits(const nnrti_cpu_edit *e, nnrt_draft_step *step, nnrti_cpu_nbits *nbits, int64_t rows,
                                 const int32_t weights[2], int32_t panels, bool int8)
{
    const int64_t pieces = nnrti_cpu_div_up(rows, NNRTI_CPU_GEMM_ROWS);
    nnrti_cpu_gemm *const a = &nbits->gemm;
    a->rows = (int32_t)nnrti_cpu_div_up(rows, pieces);
    a->parts = nnrti_cpu_panel_parts(nnrti_cpu_gemm_work(a, rows, weights), panels, 4 * e->draft->workers);
    if (int8) {
        const size_t whole = rows == 1 ? 1 : (size_t)(rows + 7) / 8 * 8;
        a->rows = (a->rows + 7) / 8 * 8; /* whole tiles */
        step->scratchBytes = whole * nnrti_cpu_nbits_row_bytes(nbits->block, weights[1]) / e->draft->workers;
        step->scratchBytes = (step->scratchBytes / NNRT_ALIGNMENT + 1) * NNRT_ALIGNMENT;
        return;
    }
    step->scratchBytes = 3 * nnrti_cpu_scratch_rows(e, a->rows, NNRTI_CPU_GEMM_ROWS) * sizeof(void *);
    if (rows <= NNRTI_CPU_NBITS_ROWS && nbits->zeroBytes < 4)
        return;
    a->wide = (step->scratchBytes + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    step->scratchBytes = a->wide + (1 + (size_t)weights[1]) * (size_t)e->isa->panel * sizeof(float);
}

/* The attributes of a step, and the dimensions of its packed weights; *a: NULL if these are too large. */
static NNRT_ReturnCode nnrti_cpu_make_nbits(const nnrti_cpu_edit *e, const nnrt_draft_step *step, int32_t width,
                                            const nnrti_cpu_nbits_form *form, bool small, int32_t packed[2], nnrti_cpu_nbits **a)
{
    const NNRT_MatMulNBits *attr = (const NNRT_MatMulNBits *)step->attr;
    const nnrt_view *w = &step->args[1].view;
    const int32_t block = (int32_t)attr->blockSize, record = form->factored ? 32 : block;
    const int32_t scaleBytes = form->factored ? 1 : small && form->fits == 2 ? 2 : 4;
    const int32_t zeroBytes = !nnrti_cpu_nbits_has_zeros(step)                     ? 0
                              : form->factored || !nnrti_cpu_nbits_has_reals(step) ? 1
                                                                                   : 4;
    const int32_t blocks = (int32_t)((attr->columns - 1) / attr->blockSize) + 1;
    const int64_t blockBytes = (int64_t)width * (((int64_t)scaleBytes + zeroBytes) * (record / block) + record * form->bits / 8);
    const int64_t factorBytes = form->factored ? (int64_t)width * (1 + zeroBytes) * (int64_t)sizeof(float) : 0;
    const int64_t shared = form->factored ? blocks / (NNRTI_CPU_NBITS_SHARED / block) : 0;
    const int64_t panelBytes = width * (int64_t)sizeof(float) + blockBytes * (blocks / (record / block)) + factorBytes * shared;
    const int64_t panels = nnrti_cpu_div_up(w->dims[0], width);
    *a = NULL;
    if (panelBytes * panels > INT32_MAX)
        return NNRT_SUCCESS;
    if ((*a = (nnrti_cpu_nbits *)nnrt_memory_keep(e->draft->memory, sizeof(**a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    (*a)->bits = form->bits;
    (*a)->block = block;
    (*a)->least = form->least;
    (*a)->middle = zeroBytes > 0 ? 0 : (1 << (attr->bits - 1)) - form->least;
    (*a)->record = record;
    (*a)->scaleBytes = scaleBytes;
    (*a)->zeroBytes = zeroBytes;
    (*a)->blockBytes = (size_t)blockBytes;
    (*a)->factorBytes = (size_t)factorBytes;
    for (int32_t i = 0; i < 2; i++)
        (*a)->gemm.conv.window[i] = (*a)->gemm.conv.stride[i] = (*a)->gemm.conv.dilation[i] = 1;
    packed[0] = (int32_t)panels;
    packed[1] = (int32_t)panelBytes;
    return NNRT_SUCCESS;
}

/* MATMUL_NBITS of constant weights. */
static NNRT_ReturnCode nnrti_cpu_lower_nbits(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const nnrt_plan_arg *old = step->args;
    const int32_t width = NNRTI_CPU_GEMV_WIDTH * e->isa->panel;
    const int32_t one = 1;
    const bool int8 = ((const NNRT_MatMulNBits *)step->attr)->accuracyLevel == 4;
    const nnrti_cpu_kernel *const kernel = int8 ? &e->isa->gemm_nbits_int8 : &e->isa->gemm_nbits;
    const bool small = int8 && e->isa->narrow != NULL;
    const int64_t bits = ((const NNRT_MatMulNBits *)step->attr)->bits;
    const nnrt_block_type *type = nnrti_cpu_nbits_type(step);
    int32_t weights[2], packed[2];
    int64_t rows;
    ptrdiff_t strides[2];
    nnrti_cpu_nbits *a;
    nnrti_cpu_nbits_form form;
    nnrt_plan_arg *args;
    void *data, *last;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_is_allowed(e, kernel) || !nnrti_cpu_is_nbits(step, &rows, strides))
        return NNRT_SUCCESS;
    weights[0] = old[1].view.dims[0];
    weights[1] = (int32_t)((const NNRT_MatMulNBits *)step->attr)->columns;
    if ((code = nnrti_cpu_recall_nbits_form(e, step, small, &form)) != NNRT_SUCCESS || form.fits == 0 ||
        (code = nnrti_cpu_make_nbits(e, step, width, &form, small, packed, &a)) != NNRT_SUCCESS || a == NULL)
        return code;
    nnrti_cpu_set_kernel(step, kernel, a);
    step->flags = 0;
    if ((args = nnrt_draft_args(d, s, 2, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    args[0] = old[0];
    args[0].view = nnrti_cpu_matrix_as_image(&old[0].view, rows, strides[0], weights[1]);
    args[2] = old[5];
    args[2].view = nnrti_cpu_matrix_as_image(&old[5].view, rows, strides[1], weights[0]);
    nnrti_cpu_tile_nbits(e, step, a, rows, weights, packed[0], int8);
    if ((code = nnrti_cpu_pack(e, s, NNRT_DATA_TYPE_UINT8, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_FLOAT32, 1, &one, &last)) != NNRT_SUCCESS)
        return code;
    if (data != NULL)
        nnrti_cpu_pack_nbits(a, old, bits, type, width, packed, (uint8_t *)data);
    if (last != NULL)
        memset(last, 0, sizeof(float));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>multi_gemm */

/* Grouped, transposed and 3-D convolutions as several GEMMs. A grouped convolution is one GEMM per group. A
   transposed convolution of stride s splits into s x s phases (the sub-pixel decomposition): the pixels of y with
   equal remainders modulo s use the same subset of filter taps, so each phase is a dense convolution of stride 1,
   without the zeros that upsampling x would insert, and without scattered additions (col2im), whose order would
   depend on the threads. A 3-D convolution is an implicit GEMM whose window has a depth axis. Groups of few channels
   would fill only some SIMD lanes; `conv_grouped` puts `fold` of them into one vector and permutes the lanes of x. */

/* Attributes that the convolutions of this section share. */
typedef struct nnrti_cpu_conv_attr {
    const NNRT_Int64List *stride, *dilation, *padList;
    int64_t group;
    NNRT_ActivationType activation;
    bool transposed;
} nnrti_cpu_conv_attr;

static nnrti_cpu_conv_attr nnrti_cpu_conv_attr_of(const nnrt_draft_step *step)
{
    nnrti_cpu_conv_attr c;
    c.transposed = step->op->type == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION;
    if (c.transposed) {
        const NNRT_Conv2dTransposeFusion *attr = (const NNRT_Conv2dTransposeFusion *)step->attr;
        c.stride = &attr->stride;
        c.dilation = &attr->dilation;
        c.padList = &attr->padList;
        c.group = attr->group;
        c.activation = attr->activationType;
    } else {
        const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
        c.stride = &attr->stride;
        c.dilation = &attr->dilation;
        c.padList = &attr->padList;
        c.group = attr->group;
        c.activation = attr->activationType;
    }
    return c;
}

/* Number of phases along axis i (0 or 1) of y. */
static int64_t nnrti_cpu_phases(const nnrti_cpu_conv_attr *c, const nnrt_view *y, int32_t i)
{
    return !c->transposed ? 1 : c->stride->data[i] < y->dims[1 + i] ? c->stride->data[i] : y->dims[1 + i];
}

static bool nnrti_cpu_is_multi_gemm(const nnrt_draft_step *step)
{
    const nnrti_cpu_conv_attr c = nnrti_cpu_conv_attr_of(step);
    const nnrt_view *x = &step->args[0].view, *w = &step->args[1].view,
                    *y = &step->args[step->nIn + step->nDerived].view;
    int64_t count = nnrti_cpu_phases(&c, y, 0);
    int64_t floats = (int64_t)w->dims[1] * w->dims[2] * w->dims[3] + NNRTI_CPU_PHASES;
    if ((x->dataType != NNRT_DATA_TYPE_FLOAT32 &&
         ((!nnrti_cpu_is_q8_step(step, "nnrt_conv2d_fusion_q8") &&
           !nnrti_cpu_is_q8_step(step, "nnrt_conv2d_transpose_fusion_q8")) ||
          x->dims[3] != c.group * w->dims[3])) || /* an upper bound of the channels: another kernel in the run */
        step->args[1].kind != NNRT_PLACE_CONSTANT ||
        (step->args[2].tensor != NNRT_NO_TENSOR && step->args[2].kind != NNRT_PLACE_CONSTANT) ||
        count > NNRTI_CPU_PHASES)
        return false;
    count *= nnrti_cpu_phases(&c, y, 1);
    for (int32_t i = 0; i < 4; i++) /* empty tensors */
        if (x->dims[i] == 0 || w->dims[i] == 0 || y->dims[i] == 0)
            return false;
    return count <= NNRTI_CPU_PHASES && floats <= INT32_MAX && w->dims[0] <= INT32_MAX / NNRTI_CPU_MAX_PANEL;
}

/* Axis i of phase r: the filter taps that contribute to it, and their geometry. Row first + n * stride of y gets,
   from tap t, row n + (first + pad - t * dilation) / stride of x. */
static void nnrti_cpu_init_phase(const nnrti_cpu_conv_attr *c, const nnrt_view *w, const nnrt_view *y, int32_t i,
                                 int32_t r, nnrti_cpu_phase *p)
{
    const int64_t s = c->stride->data[i], d = c->dilation->data[i], pad = c->padList->data[2 * i];
    int64_t tap = 0, next, divisor = s, rest = d;
    p->first[i] = r;
    p->tap[i] = 0;
    p->nextTap[i] = 1;
    p->gemm.conv.window[i] = w->dims[1 + i];
    if (!c->transposed) {
        p->size[i] = y->dims[1 + i];
        p->gemm.conv.stride[i] = (int32_t)s;
        p->gemm.conv.dilation[i] = (int32_t)d;
        p->gemm.conv.pad[i] = (int32_t)pad;
        return;
    }
    while (rest != 0) { /* the greatest common divisor of s and d */
        const int64_t modulo = divisor % rest;
        divisor = rest;
        rest = modulo;
    }
    next = s / divisor;
    while (tap < next && tap < w->dims[1 + i] && (r + pad - tap * d) % s != 0)
        tap++;
    p->size[i] = y->dims[1 + i] > r ? (int32_t)nnrti_cpu_div_up(y->dims[1 + i] - r, s) : 0;
    p->gemm.conv.stride[i] = p->gemm.conv.dilation[i] = 1;
    p->gemm.conv.window[i] = 0;
    if (tap == next || tap == w->dims[1 + i])
        return;
    p->tap[i] = (int32_t)tap;
    p->nextTap[i] = (int32_t)next;
    p->gemm.conv.window[i] = (int32_t)nnrti_cpu_div_up(w->dims[1 + i] - tap, next);
    p->gemm.conv.pad[i] = (int32_t)((tap * d - r - pad) / s);
    p->gemm.conv.dilation[i] = (int32_t)(-next * d / s);
}

/* Chooses the pixels per work item of a phase, for `units` GEMMs of `weights` floats in all; returns the scratch in
   bytes. */
static size_t nnrti_cpu_plan_phase(const nnrti_cpu_edit *e, nnrti_cpu_phase *p, const nnrt_view *y, int64_t units,
                                   int64_t weights)
{
    const int32_t taps = nnrti_cpu_taps(&p->gemm);
    const int64_t pixels = nnrti_cpu_phase_pixels(p, y), workers = e->draft->workers;
    int32_t most;
    p->gemm.rows = taps <= 9 ? 64 : taps <= 64 ? 32 : 8;
    if (taps <= 9 && weights > NNRTI_CPU_LARGE_WEIGHTS)
        p->gemm.rows = 256;
    most = p->gemm.rows;
    while (workers > 1 && p->gemm.rows > 8 && units * nnrti_cpu_div_up(pixels, p->gemm.rows) < 4 * workers)
        p->gemm.rows /= 2;
    if (pixels < p->gemm.rows)
        p->gemm.rows = pixels > 0 ? (int32_t)pixels : 1;
    p->gemm.parts = 1;
    if (e->dynamic == NULL || e->packed != NULL)
        most = p->gemm.rows;
    return (size_t)(taps + 2) * (size_t)(most + NNRTI_CPU_MAX_TILE_ROWS) * sizeof(void *);
}

/* Packs bias and weights w [groups * results,taps..,channels] of a phase for `conv_grouped`: vectors of `fold`
   groups. */
static void nnrti_cpu_pack_conv_grouped(const nnrti_cpu_isa *isa, const nnrti_cpu_multi_gemm *a, const nnrt_view *w,
                                        const nnrt_view *bias, float *to)
{
    const int32_t block = a->fold * a->results, C = a->groups * a->results;
    for (int32_t c = 0; c < C; c += block) {
        const int32_t count = C - c < block ? C - c : block;
        for (int32_t t = 0; t < isa->lanes; t++)
            *to++ = bias != NULL && t < count ? nnrti_cpu_weight(bias, (c + t) * bias->strides[0]) : 0.0f;
        for (int32_t i = 0; i < w->dims[1]; i++)
            for (int32_t j = 0; j < w->dims[2]; j++, to += (ptrdiff_t)w->dims[3] * isa->lanes)
                nnrti_cpu_pack_rows(w, c * w->strides[0] + i * w->strides[1] + j * w->strides[2], w->strides[0],
                                    w->strides[3], w->dims[3], count, isa->lanes, to);
    }
}

/* Address of the element at this offset. */
static void *nnrti_cpu_at(const nnrt_view *v, ptrdiff_t offset)
{
    return (uint8_t *)v->data + offset * (ptrdiff_t)nnrt_type_size(v->dataType);
}

/* Packs the weights of all phases and groups. */
static void nnrti_cpu_pack_multi_gemm(const nnrt_call *call, const nnrti_cpu_isa *isa, const nnrti_cpu_multi_gemm *a,
                                      const nnrt_view *weight, const nnrt_view *bias, float *to)
{
    for (int32_t i = 0; i < a->phases; i++) {
        const nnrti_cpu_phase *p = &a->phase[i];
        const size_t floats =
            (size_t)nnrti_cpu_padded_channels(isa, a->results) * (size_t)(1 + nnrti_cpu_taps(&p->gemm) * a->channels);
        nnrt_view w = *weight, b;
        nnrti_cpu_pack_job job = {isa, &w, NULL, isa->panel, 0, NNRTI_CPU_F32, NULL};
        w.data = nnrti_cpu_at(&w, p->tap[0] * w.strides[1] + p->tap[1] * w.strides[2]);
        w.dims[1] = p->gemm.conv.window[0] * (p->gemm.depth.window > 0 ? p->gemm.depth.window : 1);
        w.dims[2] = p->gemm.conv.window[1];
        for (int32_t k = 0; k < 2; k++)
            w.strides[1 + k] *= p->nextTap[k];
        if (a->fold > 1) {
            nnrti_cpu_pack_conv_grouped(isa, a, &w, bias, to + p->packed);
            continue;
        }
        w.dims[0] = a->results;
        for (int32_t g = 0; g < a->groups; g++, w.data = nnrti_cpu_at(&w, a->results * w.strides[0])) {
            if (bias != NULL) {
                b = *bias;
                b.data = nnrti_cpu_at(&b, (ptrdiff_t)g * a->results * b.strides[0]);
            }
            job.bias = bias != NULL ? &b : NULL;
            job.to = to + p->packed + (size_t)g * floats;
            nnrti_cpu_pack_panels(call, &job, nnrti_cpu_pack_gemm_panel);
        }
    }
}

/* The lane indices behind the zeros of `conv_grouped`: the x channel k of the group of each lane. */
static void nnrti_cpu_lane_indices(const nnrti_cpu_isa *isa, const nnrti_cpu_multi_gemm *a, int32_t *to)
{
    for (int32_t last = 0; last < 2; last++) {
        const int32_t groups = last == 0 ? a->fold : (a->groups - 1) % a->fold + 1;
        for (int32_t k = 0; k < a->channels; k++)
            for (int32_t t = 0; t < isa->lanes; t++)
                *to++ = t < groups * a->results ? t / a->results * a->channels + k : 0;
    }
}

/* Step s becomes several GEMMs of x, of weights w [groups * results,kH,kW,channels] and y; the phases are set. */
static NNRT_ReturnCode nnrti_cpu_set_multi_gemm(nnrti_cpu_edit *e, uint32_t s, nnrti_cpu_multi_gemm *a,
                                                const nnrt_view *w)
{
    nnrt_draft *d = e->draft;
    const nnrt_plan_arg x = d->steps[s].args[0], y = d->steps[s].args[3];
    const nnrt_view bias = d->steps[s].args[2].view;
    const bool has = d->steps[s].args[2].tensor != NNRT_NO_TENSOR;
    const int32_t panels = a->fold > 1 ? (int32_t)nnrti_cpu_div_up(a->groups, a->fold) * e->isa->lanes
                                       : a->groups * nnrti_cpu_padded_channels(e->isa, a->results);
    const int32_t zeros = a->fold > 1 ? a->groups * a->channels + 2 * a->channels * e->isa->lanes : a->channels;
    int32_t packed[2] = {panels, 0};
    size_t scratch = 0;
    nnrt_plan_arg *args;
    void *data, *last;
    NNRT_ReturnCode code;
    nnrti_cpu_set_kernel(&d->steps[s], a->fold > 1 ? &e->isa->conv_grouped : &e->isa->multi_gemm, a);
    d->steps[s].flags = 0;
    for (int32_t i = 0; i < a->phases; i++) {
        const int32_t depth = 1 + nnrti_cpu_taps(&a->phase[i].gemm) * a->channels;
        const size_t bytes =
            nnrti_cpu_plan_phase(e, &a->phase[i], &y.view, (int64_t)a->phases * (a->fold > 1 ? 1 : a->groups),
                                 (int64_t)panels / (a->fold > 1 ? 1 : a->groups) * depth);
        a->phase[i].packed = (size_t)packed[0] * (size_t)packed[1];
        packed[1] += depth;
        scratch = bytes > scratch ? bytes : scratch;
    }
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = x;
    args[1] = y;
    d->steps[s].scratchBytes = scratch;
    if ((code = nnrti_cpu_pack(e, s, NNRT_DATA_TYPE_FLOAT32, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_INT32, 1, &zeros, &last)) != NNRT_SUCCESS)
        return code;
    if (data != NULL)
        nnrti_cpu_pack_multi_gemm(&e->call, e->isa, a, w, has ? &bias : NULL, (float *)data);
    if (last != NULL) { /* an int32 0 has the bits of a float 0 */
        memset(last, 0, (size_t)zeros * sizeof(float));
        if (a->fold > 1)
            nnrti_cpu_lane_indices(e->isa, a, (int32_t *)last + a->groups * a->channels);
    }
    return NNRT_SUCCESS;
}

/* Sets fold, the number of groups that fit a vector, and returns whether steps may use the kernel that follows from
   it. */
static bool nnrti_cpu_allow_multi_gemm(const nnrti_cpu_edit *e, nnrti_cpu_multi_gemm *a)
{
    a->fold = e->isa->lanes / (a->channels > a->results ? a->channels : a->results);
    if (a->fold > a->groups)
        a->fold = a->groups;
    return nnrti_cpu_is_allowed(e, a->fold > 1 ? &e->isa->conv_grouped : &e->isa->multi_gemm);
}

/* x [N,C,D,H,W] as an image whose slices are stacked vertically: [N,D*H,W,C]. */
static nnrt_view nnrti_cpu_volume_as_image(const nnrt_view *x)
{
    nnrt_view v = *x;
    v.rank = 4;
    v.dims[1] = x->dims[2] * x->dims[3];
    v.dims[2] = x->dims[4];
    v.dims[3] = x->dims[1];
    v.strides[1] = x->strides[3];
    v.strides[2] = x->strides[4];
    v.strides[3] = x->strides[1];
    return v;
}

/* Whether a step is a 3-D convolution of constant weights that has a kernel here. */
static bool nnrti_cpu_is_conv3d(const nnrt_draft_step *step)
{
    const nnrt_plan_arg *args = step->args;
    int64_t rows, cells = 1;
    if (!nnrti_cpu_is_eligible(step) || step->op->type != NNRT_NODE_TYPE_CONV_3D ||
        args[0].view.dataType != NNRT_DATA_TYPE_FLOAT32 || args[0].kind == NNRT_PLACE_CONSTANT ||
        args[1].kind != NNRT_PLACE_CONSTANT ||
        (args[2].tensor != NNRT_NO_TENSOR && args[2].kind != NNRT_PLACE_CONSTANT))
        return false;
    for (uint32_t k = 0; k < 4; k++) {
        const nnrt_view *v = &args[k].view;
        if (k != 2 && !nnrt_view_dense(v))
            return false;
        for (int32_t i = 0; k != 2 && i < 5; i++)
            if (v->dims[i] == 0)
                return false;
        rows = k == 2 ? 0 : (int64_t)v->dims[2] * v->dims[3];
        if (rows > INT32_MAX)
            return false;
    }
    for (int32_t i = 1; i < 5; i++) {
        cells *= args[1].view.dims[i];
        if (cells >= INT32_MAX)
            return false;
    }
    return args[1].view.dims[0] <= INT32_MAX / NNRTI_CPU_MAX_PANEL;
}

/* Makes the arguments of a 3-D convolution channels-last images: a copy step before it, unless x is itself a copy of
   such an image, and one after it. */
static NNRT_ReturnCode nnrti_cpu_copy_volume(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_plan_arg *x = &d->steps[s].args[0], *y = &d->steps[s].args[3];
    const uint32_t copied = e->dynamic == NULL && x->tensor < e->tensors ? e->copied[x->tensor] : 0;
    const nnrt_draft_step *copy = copied > 0 ? &e->added[copied - 1] : NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    x->view = nnrti_cpu_volume_as_image(&x->view);
    y->view = nnrti_cpu_volume_as_image(&y->view);
    if (copy != NULL && nnrti_cpu_is_nhwc(&copy->args[0].view) &&
        memcmp(copy->args[0].view.dims, x->view.dims, 4 * sizeof(x->view.dims[0])) == 0)
        *x = copy->args[0];
    if (!nnrti_cpu_is_nhwc(&x->view))
        code = nnrti_cpu_copy_in(e, s, 0);
    if (code == NNRT_SUCCESS && !nnrti_cpu_is_nhwc(&y->view))
        code = nnrti_cpu_copy_out(e, s);
    return code;
}

/* CONV_3D: one phase whose window has a depth axis. */
static NNRT_ReturnCode nnrti_cpu_lower_conv3d(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const NNRT_Conv3D *attr = (const NNRT_Conv3D *)step->attr;
    const nnrt_view *weight = &step->args[1].view, *x = &step->args[0].view, *y = &step->args[3].view;
    const int64_t *stride = attr->strides.data, *dilation = attr->dilations.data, *pad = attr->pads.data;
    nnrti_cpu_multi_gemm *a = (nnrti_cpu_multi_gemm *)nnrt_memory_keep(d->memory, sizeof(*a));
    nnrti_cpu_phase *p = (nnrti_cpu_phase *)nnrt_memory_keep(d->memory, sizeof(*p));
    const nnrti_cpu_depth depth = {weight->dims[2], (int32_t)stride[0], (int32_t)dilation[0],
                                   (int32_t)pad[0], x->dims[2],         y->dims[2]};
    const int32_t extents[2] = {y->dims[3], y->dims[4]};
    nnrt_view w = nnrti_cpu_volume_as_image(weight);
    bool finite;
    NNRT_ReturnCode code;
    if (a == NULL || p == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->groups = (int32_t)attr->group;
    a->channels = weight->dims[1];
    a->results = weight->dims[0] / a->groups;
    a->phases = 1;
    a->phase = p;
    if (!nnrti_cpu_allow_multi_gemm(e, a))
        return NNRT_SUCCESS;
    if ((code = nnrti_cpu_recall_finite(e, weight, &finite)) != NNRT_SUCCESS || !finite)
        return code;
    for (int32_t i = 0; i < 2; i++) {
        a->step[i] = p->nextTap[i] = 1;
        p->size[i] = extents[i];
        p->gemm.conv.window[i] = weight->dims[3 + i];
        p->gemm.conv.stride[i] = (int32_t)stride[1 + i];
        p->gemm.conv.dilation[i] = (int32_t)dilation[1 + i];
        p->gemm.conv.pad[i] = (int32_t)pad[1 + i];
    }
    p->gemm.depth = depth;
    code = nnrti_cpu_copy_volume(e, s);
    return code == NNRT_SUCCESS ? nnrti_cpu_set_multi_gemm(e, s, a, &w) : code;
}

/* A grouped or transposed 2-D convolution. */
static NNRT_ReturnCode nnrti_cpu_lower_conv_multi_gemm(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const nnrti_cpu_conv_attr c = nnrti_cpu_conv_attr_of(step);
    const nnrt_view w = step->args[1].view, *y = &step->args[3].view;
    nnrti_cpu_multi_gemm *a = (nnrti_cpu_multi_gemm *)nnrt_memory_keep(d->memory, sizeof(*a));
    int32_t down = (int32_t)nnrti_cpu_phases(&c, y, 0), across = (int32_t)nnrti_cpu_phases(&c, y, 1);
    bool finite;
    NNRT_ReturnCode code;
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    if (e->dynamic != NULL && c.transposed) { /* phases without a pixel, for small sizes, keep their weights */
        if (c.stride->data[0] * c.stride->data[1] > NNRTI_CPU_DYNAMIC_PHASES)
            return NNRT_SUCCESS;
        down = (int32_t)c.stride->data[0];
        across = (int32_t)c.stride->data[1];
    }
    a->groups = (int32_t)c.group;
    a->channels = w.dims[3];
    a->results = w.dims[0] / a->groups;
    a->phases = down * across;
    for (int32_t i = 0; i < 2; i++)
        a->step[i] = c.transposed ? (int32_t)c.stride->data[i] : 1;
    if (!nnrti_cpu_allow_multi_gemm(e, a))
        return NNRT_SUCCESS;
    if ((code = nnrti_cpu_recall_finite(e, &w, &finite)) != NNRT_SUCCESS || !finite)
        return code;
    a->phase = (nnrti_cpu_phase *)nnrt_memory_keep(d->memory, (size_t)a->phases * sizeof(*a->phase));
    if (a->phase == NULL)
        return nnrti_cpu_no_memory(e, step);
    for (int32_t i = 0; i < a->phases; i++) {
        nnrti_cpu_init_phase(&c, &w, y, 0, i / across, &a->phase[i]);
        nnrti_cpu_init_phase(&c, &w, y, 1, i % across, &a->phase[i]);
        a->phase[i].gemm.conv.activation = c.activation;
    }
    return nnrti_cpu_set_multi_gemm(e, s, a, &w);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>int8 */

/* Quantized int8 and uint8. Results are bit-exact with the reference device: sums are exact in 32 bits
   (nnrti_cpu_largest_sum proves that no sum overflows), and requantization yields the exact integer. int8 elements
   are flipped to uint8 by XOR 0x80, so that one kernel serves both types. Dot products of bytes read bytes of x (VNNI
   uint8, SDOT int8, I8MM both), and its zero point is folded into the bias: sum((x - zx) * w) = sum(x * w) - zx *
   sum(w). AVX2 adds products of bytes in 16 bits where that is exact (nnrti_cpu_pairs). Else, and on other ISAs, x is widened
   to int16 or int32, less its zero point. Requantization tries float arithmetic
   first and falls back to integers for the rare sums so close to a rounding boundary that float rounding could matter
   (nnrti_cpu_requantize_table). */

/* The zero point of channel c of a weight. */
static int32_t nnrti_cpu_weight_zero_point(const nnrt_view *w, int32_t c)
{
    return w->quant[w->quantCount > 1 ? c : 0].zeroPoint;
}

/* Offset of an element of w [C,kH,kW,K]. */
static ptrdiff_t nnrti_cpu_weight_offset(const nnrt_view *w, int32_t c, int32_t i, int32_t j, int32_t k)
{
    return c * w->strides[0] + i * w->strides[1] + j * w->strides[2] + k * w->strides[3];
}

/* Weights of a channel per chunk, and loop width within it, which the compiler vectorizes. */
#define NNRTI_CPU_CHUNK 256
#define NNRTI_CPU_CHUNK_LANES 32

/* Copies weights first to first + count - 1 of channel c of w [C,kH,kW,K], as 0 to 255, and pads with `zero` to a
   multiple of NNRTI_CPU_CHUNK_LANES. */
static void nnrti_cpu_load_weights_q8(const nnrt_view *w, int32_t c, int64_t first, int32_t count, uint8_t zero,
                                      uint8_t *to)
{
    const uint8_t *from = (const uint8_t *)w->data + c * w->strides[0];
    const uint8_t flip = (uint8_t)nnrti_cpu_flip(w);
    const int32_t K = w->dims[3],
                  whole = (count + NNRTI_CPU_CHUNK_LANES - 1) / NNRTI_CPU_CHUNK_LANES * NNRTI_CPU_CHUNK_LANES;
    const bool alone = w->dims[1] == 1 && w->dims[2] == 1;
    if (w->strides[3] == 1 && (alone || (w->strides[2] == K && w->strides[1] == (ptrdiff_t)K * w->dims[2]))) {
        memcpy(to, from + first, (size_t)count);
    } else if (alone) {
        for (int32_t t = 0; t < count; t++)
            to[t] = from[(first + t) * w->strides[3]];
    } else {
        for (int32_t t = 0; t < count; t++) {
            const int64_t tap = (first + t) / K;
            to[t] = from[tap / w->dims[2] * w->strides[1] + tap % w->dims[2] * w->strides[2] +
                         (first + t) % K * w->strides[3]];
        }
    }
    memset(to + count, zero ^ flip, (size_t)(whole - count));
    for (int32_t t = 0; t < whole; t += NNRTI_CPU_CHUNK_LANES)
        for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
            to[t + i] ^= flip;
}

/* Terms of a sum: filter taps times channels of x. */
static int64_t nnrti_cpu_terms_q8(const nnrt_view *w)
{
    return (int64_t)w->dims[1] * w->dims[2] * w->dims[3];
}

/* The largest absolute value of a sum, and of any partial sum, of weights w [C,kH,kW,K], a bias, which may be NULL,
   and any x. -1: a weight less its zero point is not within -128 to 127, or sums may overflow 32 bits. */
static int64_t nnrti_cpu_largest_sum(const nnrt_view *x, const nnrt_view *w, const nnrt_view *bias)
{
    const int32_t zero = x->quant[0].zeroPoint + nnrti_cpu_flip(x), most = zero > 127 ? zero : 255 - zero;
    const int64_t terms = nnrti_cpu_terms_q8(w);
    uint8_t chunk[NNRTI_CPU_CHUNK];
    int64_t reach = 0;
    for (int32_t c = 0; c < w->dims[0]; c++) {
        const int32_t zeroW = nnrti_cpu_weight_zero_point(w, c) + nnrti_cpu_flip(w);
        const uint8_t z = (uint8_t)zeroW;
        int64_t sum = 0, b = bias != NULL ? ((const int32_t *)bias->data)[c * bias->strides[0]] : 0;
        uint8_t least[NNRTI_CPU_CHUNK_LANES], greatest[NNRTI_CPU_CHUNK_LANES];
        if (zeroW < 0 || zeroW > 255)
            return -1;
        memset(least, z, sizeof(least));
        memset(greatest, z, sizeof(greatest));
        for (int64_t first = 0; first < terms; first += NNRTI_CPU_CHUNK) {
            const int32_t count = terms - first < NNRTI_CPU_CHUNK ? (int32_t)(terms - first) : NNRTI_CPU_CHUNK;
            uint16_t sums[NNRTI_CPU_CHUNK_LANES] = {0}; /* each is at most CHUNK / CHUNK_LANES times 255 */
            nnrti_cpu_load_weights_q8(w, c, first, count, z, chunk);
            for (int32_t t = 0; t < count; t += NNRTI_CPU_CHUNK_LANES)
                for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++) {
                    const uint8_t v = chunk[t + i], high = v > z ? v : z, low = v < z ? v : z;
                    least[i] = least[i] < v ? least[i] : v;
                    greatest[i] = greatest[i] > v ? greatest[i] : v;
                    sums[i] = (uint16_t)(sums[i] + (uint8_t)(high - low));
                }
            for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
                sum += sums[i];
        }
        for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
            if (least[i] - zeroW < -128 || greatest[i] - zeroW > 127)
                return -1;
        sum = sum * most + (b < 0 ? -b : b);
        reach = sum > reach ? sum : reach;
    }
    return reach <= INT32_MAX ? reach : -1;
}

/* Sets the bounds of y and whether all C channels have the plain form below. quant: the constants of the operator's rule.
   reach: the largest absolute sum. */
static void nnrti_cpu_requantize_scale(nnrti_cpu_requantize *r, const nnrt_view *quant, const nnrt_view *y,
                                       int64_t reach, int32_t C)
{
    const int32_t *list = (const int32_t *)quant->data;
    nnrti_cpu_requantize_bounds(r, list[1], list[2], nnrti_cpu_flip(y));
    r->positive = list[1] >= list[0];
    r->zero = list[0] + nnrti_cpu_flip(y);
    r->plain = r->wide = reach < 1 << 30;
    for (int32_t c = 0; c < C; c++) {
        const int32_t *factor = nnrt_quant_factor(quant, c);
        r->plain = r->plain && (factor[0] == 0 || (factor[0] > 0 && factor[1] < 0 && factor[1] >= -21));
        r->wide = r->wide && factor[0] >= 0 && factor[1] <= 30 && factor[1] >= -31;
    }
}

/* Sets the requantization rows 1 to 6 of the table of `padded` channels, of which C exist: channels of y from `first` on.
   Integer form (`plain`), if no sum exceeds 2^30 and every factor is below 1:
       y = (round(x * row 1 / 2^31) + row 2) / 2^row 3, rounded down; row 2 contains the rounding term.
   Wide form, if no sum exceeds 2^30: row 3 is minus the exponent, any, and row 2 the rounding term without zero point.
   Else the rows are factor, zero point and exponent as in the reference. Float form: with f = row 1 / 2^(31 + row
   3), y = x * f + zero point + 1/2 + 2^-(1 + row 3), rounded down, and for x below 0 less 2^-row 3, because halves
   round away from zero; with the wide form and row 3 <= 0, y = x * f + zero point + 1/2, rounded down. The kernel
   computes 2^FRACTION_BITS times that, plus 4, from rows 4 to 6 in float. Within 0 to 256 that is at most 2^24 and
   off by less than 4: by 1/2 each for rounding the summand (row 5) and the sum, by 2.01 for row 4 and x together,
   by 1/2 for subtracting row 6, which is 1/4 below 2^23, and there by 1/2 for the conversion to integer. So if the
   low FRACTION_BITS bits are 8 or more, the bits above them are exactly y. */
static void nnrti_cpu_requantize_channels(const nnrti_cpu_requantize *r, const nnrt_view *quant, const nnrt_view *y,
                                          int32_t first, int32_t C, int32_t padded, int32_t lanes, int32_t mixed,
                                          int32_t *table)
{
    const int32_t flip = nnrti_cpu_flip(y), zero = ((const int32_t *)quant->data)[0] + flip;
    const double one = 1 << NNRTI_CPU_FRACTION_BITS;
    const float middle = 1 << (NNRTI_CPU_FRACTION_BITS - 1);
    for (int32_t c = 0; c < padded && (r->plain || r->wide); c++) /* also of the padding channels */
        memcpy(nnrti_cpu_table_column(table, c, lanes) + 5 * lanes, &middle, sizeof(middle));
    for (int32_t c = 0; c < C; c++) {
        const int32_t *factor = nnrt_quant_factor(quant, first + c), n = factor[0] == 0 ? 1 : -factor[1];
        int32_t *to = nnrti_cpu_table_column(table, nnrti_cpu_interleaved_channel(c, mixed), lanes);
        if (r->plain || r->wide) {
            const double by = one * factor[0] / (double)((int64_t)1 << (31 + n));
            const double away = n > 0 ? one / (double)((int64_t)1 << n) : 0;
            const float rows[3] = {(float)by, (float)(one * (zero + 0.5) + away / 2 + 4), (float)away};
            for (int32_t i = 0; i < 3; i++)
                memcpy(&to[(4 + i) * lanes], &rows[i], sizeof(rows[i]));
        }
        to[lanes] = factor[0];
        to[2 * lanes] = r->plain  ? (1 << (n - 1)) + zero * (1 << n)
                        : !r->wide ? zero
                        : n > 0    ? (int32_t)((uint32_t)1 << (n - 1))
                                   : 0;
        to[3 * lanes] = r->plain || r->wide ? n : factor[1];
    }
}

/* Both, for all channels of y. */
static void nnrti_cpu_requantize_table(nnrti_cpu_requantize *r, const nnrt_view *quant, const nnrt_view *y,
                                       int64_t reach, int32_t C, int32_t padded, int32_t lanes, int32_t mixed,
                                       int32_t *table)
{
    nnrti_cpu_requantize_scale(r, quant, y, reach, C);
    nnrti_cpu_requantize_channels(r, quant, y, 0, C, padded, lanes, mixed, table);
}

/* Converts the `count` weights of a chunk, less their zero point, to the element type of the ISA's packed weights,
   with zeros to the end of the last group; returns their sum. */
static uint32_t nnrti_cpu_widen_weights_q8(const nnrti_cpu_isa_q8 *isa, const uint8_t *chunk, int32_t count,
                                           uint8_t zero, uint32_t *to)
{
    uint32_t sum = 0;
    for (int32_t t = 0; t < count; t += NNRTI_CPU_CHUNK_LANES) {
        int8_t one[NNRTI_CPU_CHUNK_LANES];
        int16_t two[NNRTI_CPU_CHUNK_LANES];
        int32_t four[NNRTI_CPU_CHUNK_LANES], part = 0;
        for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
            part += chunk[t + i] - zero;
        sum += (uint32_t)part;
        if (isa->bytes == 1) {
            for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
                one[i] = (int8_t)(chunk[t + i] - zero);
            memcpy((uint8_t *)to + t, one, sizeof(one));
        } else if (isa->bytes == 2) {
            for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
                two[i] = (int16_t)(chunk[t + i] - zero);
            memcpy((uint8_t *)to + 2 * t, two, sizeof(two));
        } else {
            for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
                four[i] = chunk[t + i] - zero;
            memcpy((uint8_t *)to + 4 * t, four, sizeof(four));
        }
    }
    return sum;
}

/* Weights w [C,kH,kW,K] that are packed into panels, and their biases into the table; if x stays a byte, less zeroX,
   its zero point, times the sum of the weights. Groups have 4 bytes, 2, or with i8mm 8. A new group begins after every
   `line` weights; depth: groups of all weights of a channel. */
typedef struct nnrti_cpu_pack_q8_job {
    const nnrti_cpu_isa_q8 *isa;
    const nnrt_view *w, *bias;
    int32_t zeroX, depth;
    int64_t line;
    void *to;
    int32_t *table; /* gets biases and sums of the weights; NULL: none */
    size_t row; /* bytes of a channel */
} nnrti_cpu_pack_q8_job;

/* Packs some channels c .. c + rows of a panel that begins at channel `panel` and has `width`, a chunk of weights of
   each at a time. */
static void nnrti_cpu_pack_q8_rows(const nnrti_cpu_pack_q8_job *job, int32_t panel, int32_t width, int32_t c,
                                   int32_t rows)
{
    const nnrti_cpu_isa_q8 *const isa = job->isa;
    const nnrt_view *const w = job->w, *const bias = job->bias;
    const int32_t flip = nnrti_cpu_flip(w), size = isa->group * isa->bytes;
    const int64_t terms = nnrti_cpu_terms_q8(w);
    uint8_t *row = (uint8_t *)job->to + (size_t)panel * job->row + (size_t)(c - panel) * (size_t)size;
    uint8_t chunk[NNRTI_CPU_CHUNK];
    uint32_t words[NNRTI_CPU_PACK_ROWS][NNRTI_CPU_CHUNK], sums[NNRTI_CPU_PACK_ROWS] = {0};
    for (int64_t first = 0, end; first < terms; first = end) {
        const int64_t rest = job->line - first % job->line;
        const int32_t count = rest < NNRTI_CPU_CHUNK ? (int32_t)rest : NNRTI_CPU_CHUNK;
        const int32_t groups = (count + isa->group - 1) / isa->group;
        end = first + count;
        for (int32_t r = 0; r < rows; r++) {
            const uint8_t zero = (uint8_t)(nnrti_cpu_weight_zero_point(w, c + r) + flip);
            nnrti_cpu_load_weights_q8(w, c + r, first, count, zero, chunk);
            sums[r] += nnrti_cpu_widen_weights_q8(isa, chunk, count, zero, words[r]);
        }
        if (size == 4) {
            nnrti_cpu_transpose(words[0], NNRTI_CPU_CHUNK, (uint32_t *)(void *)row, width, rows, groups);
#if NNRT_CPU_I8MM
        } else if (size == 8) {
            for (int32_t g = 0; g < groups; g++)
                for (int32_t r = 0; r < rows; r++)
                    memcpy(row + (g * width + r) * 8, (const uint8_t *)words[r] + 8 * g, 8);
#endif
        } else {
            for (int32_t g = 0; g < groups; g++)
                for (int32_t r = 0; r < rows; r++)
                    memcpy(row + (g * width + r) * 2, (const uint8_t *)words[r] + 2 * g, 2);
        }
        row += (size_t)groups * (size_t)width * (size_t)size;
    }
    for (int32_t r = 0; r < rows && job->table != NULL; r++) {
        const uint32_t sum =
            (isa->bytes == 1 ? (uint32_t)0 - sums[r] * (uint32_t)job->zeroX : 0) +
            (uint32_t)(bias != NULL ? ((const int32_t *)bias->data)[(c + r) * bias->strides[0]] : 0);
        memcpy(nnrti_cpu_table_column(job->table, c + r, isa->lanes), &sum, sizeof(sum));
    }
}

/* Sums of the pairs of eight weights, in the 16-bit quarters of a word: of positive weights, and of the magnitudes of negative
   ones. */
typedef struct nnrti_cpu_pair_sums {
    uint64_t up, down;
} nnrti_cpu_pair_sums;

static nnrti_cpu_pair_sums nnrti_cpu_sum_pairs(const void *w)
{
    const uint64_t even = 0x00FF00FF00FF00FF, ones = 0x0101010101010101;
    nnrti_cpu_pair_sums sums;
    uint64_t v, negative, down;
    memcpy(&v, w, sizeof(v));
    negative = (v >> 7 & ones) * 0xFF;
    down = (~v & negative) + (negative & ones);
    v &= ~negative;
    sums.up = (v & even) + (v >> 8 & even);
    sums.down = (down & even) + (down >> 8 & even);
    return sums;
}

/* Whether a sum of a quarter in `some` exceeds 128, so that 16-bit sums of products may be inexact. */
static bool nnrti_cpu_exceeds(nnrti_cpu_pair_sums sums, uint64_t some)
{
    const uint64_t most = 0x7F7F7F7F7F7F7F7F; /* 2^15 - 129 in each quarter */
    return (((sums.up + most) | (sums.down + most)) & some & 0x8000800080008000) != 0;
}

/* The form of two groups of a channel: the worse one, if their sums of two products are exact. */
static uint8_t nnrti_cpu_form_of_groups(const void *w)
{
    const nnrti_cpu_pair_sums pairs = nnrti_cpu_sum_pairs(w);
    const nnrti_cpu_pair_sums fours = {pairs.up + (pairs.up >> 32), pairs.down + (pairs.down >> 32)};
    return !nnrti_cpu_exceeds(fours, UINT32_MAX)   ? NNRTI_CPU_PAIRS_FOUR
           : !nnrti_cpu_exceeds(pairs, UINT64_MAX) ? NNRTI_CPU_PAIRS_TWO
                                                   : NNRTI_CPU_PAIRS_ONE;
}

/* Sets the forms of the `depth` groups of a panel of `width` channels. */
static void nnrti_cpu_set_pairs_forms(const uint8_t *w, int32_t width, int32_t depth, uint8_t *forms)
{
    for (int32_t g = 0; g < depth; g++, w += 4 * width) {
        bool four = g + 1 < depth, two = true;
        for (int32_t i = 0; i < 4 * width; i += 8) {
            const nnrti_cpu_pair_sums pairs = nnrti_cpu_sum_pairs(w + i);
            two = two && !nnrti_cpu_exceeds(pairs, UINT64_MAX);
            if (four) {
                const nnrti_cpu_pair_sums next = nnrti_cpu_sum_pairs(w + 4 * width + i);
                const nnrti_cpu_pair_sums fours = {pairs.up + next.up, pairs.down + next.down};
                four = !nnrti_cpu_exceeds(fours, UINT64_MAX);
            }
        }
        forms[g] = four ? NNRTI_CPU_PAIRS_FOUR : two ? NNRTI_CPU_PAIRS_TWO : NNRTI_CPU_PAIRS_ONE;
    }
}

/* Packs panel i, with zeros around the weights. */
static void nnrti_cpu_pack_q8_panel(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_pack_q8_job *const job = (const nnrti_cpu_pack_q8_job *)arg;
    const nnrti_cpu_isa_q8 *const isa = job->isa;
    const int32_t panel = (int32_t)i * isa->panel, left = job->w->dims[0] - panel;
    const int32_t channels = left < isa->panel ? left : isa->panel, size = isa->group * isa->bytes;
    const int32_t width = (channels + isa->lanes - 1) / isa->lanes * isa->lanes;
    const int32_t some = isa->panel < NNRTI_CPU_PACK_ROWS ? isa->panel : NNRTI_CPU_PACK_ROWS;
    uint8_t *const to = (uint8_t *)job->to + (size_t)panel * job->row;
    const size_t weights = (size_t)width * (size_t)job->depth * (size_t)size;
    (void)worker;
    memset(to, 0, (size_t)width * job->row);
    for (int32_t c = 0; c < channels; c += some)
        nnrti_cpu_pack_q8_rows(job, panel, width, panel + c, channels - c < some ? channels - c : some);
    if (isa->forms)
        nnrti_cpu_set_pairs_forms(to, width, job->depth, to + weights);
}

/* The biases in the table, which include sums of the weights: recalled if the weights were packed before. */
static NNRT_ReturnCode nnrti_cpu_recall_bias_q8(nnrti_cpu_edit *e, int32_t C, int32_t *table)
{
    int64_t known = 0;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (int32_t c = 0; c < C && code == NNRT_SUCCESS; c++) {
        int32_t *const bias = nnrti_cpu_table_column(table, c, e->isa->q8.lanes);
        if (nnrt_draft_recall(e->draft, &known))
            *bias = (int32_t)(uint32_t)(uint64_t)known;
        else
            code = nnrt_draft_note(e->draft, *bias);
    }
    return code;
}

/* *w: the weights of a matrix multiplication, input 1, as [columns,1,1,k]; false: they are not constant, or no matrix. */
static bool nnrti_cpu_constant_weights_q8(const nnrt_draft_step *step, bool transposed, nnrt_view *w)
{
    const nnrt_view *weight = &step->args[1].view;
    const int32_t row = weight->rank - 2, column = weight->rank - 1;
    if (weight->rank < 2 || step->args[1].kind != NNRT_PLACE_CONSTANT)
        return false;
    for (int32_t i = 0; i < row; i++)
        if (weight->dims[i] != 1)
            return false;
    *w = *weight;
    w->rank = 4;
    w->dims[0] = weight->dims[transposed ? row : column];
    w->dims[1] = w->dims[2] = 1;
    w->dims[3] = weight->dims[transposed ? column : row];
    w->strides[0] = weight->strides[transposed ? row : column];
    w->strides[3] = weight->strides[transposed ? column : row];
    w->strides[1] = w->strides[2] = 0;
    return true;
}

/* nnrti_cpu_largest_sum; recalled if the weights were packed before. */
static NNRT_ReturnCode nnrti_cpu_recall_largest_sum(nnrti_cpu_edit *e, const nnrt_view *x, const nnrt_view *w,
                                                    const nnrt_view *bias, int64_t *reach)
{
    if (nnrti_cpu_recall(e, reach))
        return NNRT_SUCCESS;
    *reach = nnrti_cpu_largest_sum(x, w, bias);
    return nnrti_cpu_note(e, *reach);
}

/* Most rows of the window that lie partly inside x, of all pixels of a work item: those at the left and right ends
   of each row of y. Each is copied with its padding. */
static size_t nnrti_cpu_border_rows_q8(const nnrti_cpu_gemm_q8 *a, int32_t columns)
{
    const int64_t lines = (a->rows - 1) / columns + 2;
    const int64_t ends = 2 * nnrti_cpu_div_up(a->across - 1 + a->spare, a->stride[1]);
    return (size_t)(lines * ends < a->rows ? lines * ends : a->rows) * (size_t)a->window[0];
}

/* Divides the work among threads: equal numbers of pixels, or all pixels by a part of the panels, whichever leaves
   the last thread less to do. */
static void nnrti_cpu_divide_gemm_q8(nnrti_cpu_gemm_q8 *a, int64_t pixels, int32_t most, int32_t panels,
                                     int32_t workers)
{
    const int64_t each = nnrti_cpu_div_up(pixels, workers), pieces = nnrti_cpu_div_up(each, most);
    const int32_t rows = (int32_t)nnrti_cpu_div_up(nnrti_cpu_div_up(each, pieces), 6) * 6;
    const int32_t parts = workers < panels ? workers : panels;
    if (rows * pieces * panels > pixels * nnrti_cpu_div_up(panels, parts))
        a->parts = (uint32_t)parts;
    else
        a->rows = rows;
}

/* Most pixels per work item, also of a run with fewer pixels: a multiple of 6. gathered: bytes of a pixel's im2col
   row, or 0. */
static int32_t nnrti_cpu_most_rows_q8(const nnrti_cpu_edit *e, int64_t pixels, int64_t gathered)
{
    const int64_t most = e->smallest ? 24 : NNRTI_CPU_GEMM_Q8_PIXELS;
    const int64_t fit = gathered > 0 ? NNRTI_CPU_GEMM_Q8_GATHERED / gathered / 6 * 6 : most;
    const int64_t limit = fit < 6 ? 6 : fit < most ? fit : most;
    return (int32_t)(pixels < limit ? nnrti_cpu_div_up(pixels, 6) * 6 : limit);
}

/* Sets pixels per work item (at most `most`) and parts of the panels for an int8 GEMM. */
static void nnrti_cpu_tile_gemm_q8(nnrti_cpu_gemm_q8 *a, int64_t pixels, int32_t most, int32_t panels, int32_t workers)
{
    const int64_t blocks = nnrti_cpu_div_up(pixels, most);
    a->rows = (int32_t)((pixels + blocks - 1) / blocks);
    if (blocks > 1)
        a->rows = (a->rows + 5) / 6 * 6;
    a->parts = 1;
    if (workers > 1)
        nnrti_cpu_divide_gemm_q8(a, pixels, most, panels, workers);
}

/* Rows 1 and 2 of the table of MATMUL_INTEGER, from row 0, minus the sums of the weights: nnrti_cpu_lower_matmul_integer
   has the formula. zeros: the zero points of the weights. */
static void nnrti_cpu_integer_table(const nnrti_cpu_isa_q8 *isa, const nnrt_view *w, const nnrt_view *zeros,
                                    int32_t *table)
{
    for (int32_t c = 0; c < w->dims[0]; c++) {
        int32_t *const to = nnrti_cpu_table_column(table, c, isa->lanes);
        to[isa->lanes] = to[0];
        to[0] = 0;
        to[2 * isa->lanes] = w->quant[0].zeroPoint - nnrti_cpu_zero_point_at(zeros, c);
    }
}

/* The requantization of a step with dynamic shapes: a run, which packs nothing, takes that of PrepareModel. */
static void nnrti_cpu_keep_scale(const nnrti_cpu_edit *e, nnrti_cpu_requantize *scale)
{
    if (e->packed != NULL)
        *scale = e->dynamic->scale;
    else if (e->dynamic != NULL)
        e->dynamic->scale = *scale;
}

/* How an int8 GEMM reads x, packs weights and divides its work: sets the rest of a, whose window is set. x, y: images,
   of a grouped convolution the channels of one group. workers: 1 if something else divides the work among threads. */
typedef struct nnrti_cpu_plan_q8 {
    int32_t row;    /* bytes of packed weights of a channel of y */
    int64_t line;   /* weights after which a new group begins */
    size_t scratch; /* bytes for each worker */
} nnrti_cpu_plan_q8;

static nnrti_cpu_plan_q8 nnrti_cpu_plan_gemm_q8(const nnrti_cpu_edit *e, const nnrti_cpu_isa_q8 *isa, nnrti_cpu_gemm_q8 *a,
                                                const nnrt_view *x, const nnrt_view *w, const nnrt_view *y, bool grouped,
                                                uint32_t workers)
{
    const int32_t K = w->dims[3];
    /* With dynamic shapes the packed weights must not depend on the stride of a single column, nor on an upper bound of
       the channels above K: x is close, if its pixels are dense. */
    const bool column = e->dynamic != NULL && x->dims[2] == 1;
    const int32_t pixel = e->dynamic != NULL ? x->dims[3] : K;
    /* x is read in place, whole groups per tap, or else per row of the window; or rows of it are converted, whole groups
       per row of the window, of which the last may read elements of the next tap by weights of 0; or patches. */
    const bool close = !grouped && a->dilation[1] == 1 && (column || x->strides[2] == pixel), even = K % isa->group == 0;
    const bool gather = isa->bytes != 1 || !NNRTI_CPU_DOT_READS(x) || (!even && !close);
    const int64_t taps = (int64_t)w->dims[1] * w->dims[2];
    const bool whole = close && a->stride[1] <= w->dims[2];
    const int64_t line = gather ? (whole ? (int64_t)w->dims[2] * K : taps * K) : even ? taps * K : (int64_t)w->dims[2] * K,
                  groups = nnrti_cpu_div_up(line, isa->group);
    const int64_t depth = line > 0 ? taps * K / line * groups : 0;
    const int64_t all = (int64_t)y->dims[0] * y->dims[1] * y->dims[2], pixels = all > 0 ? all : 1; /* a phase may have none */
    const int64_t forms = isa->forms ? nnrti_cpu_div_up(depth, isa->lanes) : 0; /* a panel has at least `lanes` channels */
    const int64_t row = depth * isa->group * isa->bytes + forms;
    const int32_t limit = nnrti_cpu_most_rows_q8(e, pixels, gather && row <= 1 << 24 ? row : 0);
    nnrti_cpu_plan_q8 plan = {row <= 1 << 24 ? (int32_t)row : -1, line, 0};
    size_t most;
    if (plan.row < 0)
        return plan;
    a->depth = (int32_t)depth;
    a->gather = gather;
    nnrti_cpu_tile_gemm_q8(a, pixels, limit, (w->dims[0] + isa->panel - 1) / isa->panel,
                           nnrti_cpu_gemm_q8_work(isa->forms ? 2 : (size_t)isa->bytes, pixels, w->dims[0], (int32_t)(row / isa->bytes)) >
                                   NNRTI_CPU_MIN_WORK
                               ? (int32_t)workers
                               : 1);
    a->across = (gather ? whole : close) ? a->window[1] : gather ? 0 : 1;
    a->groups = (int32_t)(a->across == 0 ? depth : nnrti_cpu_div_up((int64_t)a->across * K, isa->group));
    a->spare = even || gather ? 0 : (a->groups * isa->group - a->across * K + K - 1) / K;
    most = (size_t)(e->dynamic != NULL ? limit : a->rows); /* of all sizes of the run */
    plan.scratch = (1 + (e->dynamic != NULL ? most * (size_t)a->window[0] : nnrti_cpu_border_rows_q8(a, y->dims[2]))) *
                   (size_t)(a->groups * isa->group);
    if (e->dynamic != NULL ? plan.scratch < most * (size_t)row + 16 : gather) /* a run may gather if the bounds do not */
        plan.scratch = most * (size_t)row + 16;
    plan.scratch += ((size_t)nnrti_cpu_taps_q8(a) + 1) * (most + NNRTI_CPU_MAX_TILE_ROWS_Q8 - 1) * sizeof(void *);
    if (a->sums)
        plan.scratch += (most + 1) / 2 * 2 * sizeof(int32_t);
    return plan;
}

/* Views all pixels of a 1 x 1 convolution as one row, if they are evenly spaced: rows have a cost of their own. */
static void nnrti_cpu_merge_rows_q8(const nnrti_cpu_gemm_q8 *a, nnrt_view *x, nnrt_view *y)
{
    const int64_t pixels = (int64_t)x->dims[0] * x->dims[1] * x->dims[2];
    bool even = a->window[0] == 1 && a->window[1] == 1 && a->stride[0] == 1 && a->stride[1] == 1 && a->pad[0] == 0 &&
                a->pad[1] == 0 && pixels <= INT32_MAX;
    for (int32_t i = 0; i < 2; i++)
        even = even && x->dims[i] == y->dims[i] && x->dims[i + 1] == y->dims[i + 1] &&
               (x->dims[i] == 1 || (x->strides[i] == x->strides[i + 1] * x->dims[i + 1] &&
                                    y->strides[i] == y->strides[i + 1] * y->dims[i + 1]));
    for (int32_t i = 0; even && i < 2; i++)
        x->dims[i] = y->dims[i] = 1;
    if (even)
        x->dims[2] = y->dims[2] = (int32_t)pixels;
}

/* The time of a GEMM of weights w [C,kH,kW,K] by the sums of 16 bits of nnrti_cpu_pairs, relative to int16: about 0.8, 0.95
   or 2.2 for two groups of a panel, whose forms it finds as if windows had no ends. */
static double nnrti_cpu_pairs_time(const nnrt_view *w, int32_t panel)
{
    const int64_t terms = nnrti_cpu_terms_q8(w);
    int64_t counts[3] = {0, 0, 0};
    uint8_t chunk[NNRTI_CPU_CHUNK];
    for (int32_t c = 0; c < w->dims[0]; c += panel)
        for (int64_t first = 0; first < terms; first += NNRTI_CPU_CHUNK) {
            const int32_t count = terms - first < NNRTI_CPU_CHUNK ? (int32_t)(terms - first) : NNRTI_CPU_CHUNK;
            uint8_t forms[NNRTI_CPU_CHUNK / 8] = {0};
            for (int32_t r = c; r < c + panel && r < w->dims[0]; r++) {
                const uint8_t zero = (uint8_t)(nnrti_cpu_weight_zero_point(w, r) + nnrti_cpu_flip(w));
                nnrti_cpu_load_weights_q8(w, r, first, count, zero, chunk);
                for (int32_t t = 0; t < count; t += NNRTI_CPU_CHUNK_LANES)
                    for (int32_t i = 0; i < NNRTI_CPU_CHUNK_LANES; i++)
                        chunk[t + i] = (uint8_t)(chunk[t + i] - zero);
                for (int32_t i = 0; i < count; i += 8) {
                    const uint8_t form = nnrti_cpu_form_of_groups(chunk + i);
                    forms[i / 8] = form > forms[i / 8] ? form : forms[i / 8];
                }
            }
            for (int32_t i = 0; i < count; i += 8)
                counts[forms[i / 8]]++;
        }
    return (0.8 * (double)counts[0] + 0.95 * (double)counts[1] + 2.2 * (double)counts[2]) /
           ((double)counts[0] + (double)counts[1] + (double)counts[2] + 1e-9);
}

/* The layout and the kernel for the GEMM of weights w, or several: by sums of 16 bits if the ISA has them and is faster so;
   recalled if the weights were packed before. w NULL: not by these. */
static NNRT_ReturnCode nnrti_cpu_choose_gemm_q8(nnrti_cpu_edit *e, const nnrt_view *w, bool several,
                                                const nnrti_cpu_isa_q8 **isa, const nnrti_cpu_kernel **kernel)
{
    const nnrti_cpu_pairs *const pairs = &e->isa->pairs;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    int64_t chosen = 0;
    if (w != NULL && pairs->q8.group > 0 && !nnrti_cpu_recall(e, &chosen)) {
        chosen = nnrti_cpu_pairs_time(w, pairs->q8.panel) < 1;
        code = nnrti_cpu_note(e, chosen);
    }
    *isa = chosen != 0 ? &pairs->q8 : &e->isa->q8;
    *kernel = several ? (chosen != 0 ? &pairs->multi_gemm_q8 : &e->isa->multi_gemm_q8)
                      : (chosen != 0 ? &pairs->gemm_q8 : &e->isa->gemm_q8);
    return code;
}

/* Step s becomes an int8 GEMM of x and y, viewed as images, and of weights w [C,kH,kW,K]; quant: the constants
   derived by the operator's rule, or of MATMUL_INTEGER and CONV_INTEGER the zero points of the weights; zeroX: theirs of
   x, or NULL. */
static NNRT_ReturnCode nnrti_cpu_lower_gemm_q8(nnrti_cpu_edit *e, uint32_t s, const nnrt_plan_arg *x,
                                               const nnrt_view *w, const nnrt_view *bias, const nnrt_view *quant,
                                               const nnrt_plan_arg *zeroX, const nnrt_plan_arg *y,
                                               const nnrti_cpu_gemm_q8 *found)
{
    nnrt_draft *d = e->draft;
    const nnrti_cpu_isa_q8 *isa = &e->isa->q8;
    const nnrti_cpu_kernel *kernel;
    const int32_t panels = (w->dims[0] + isa->panel - 1) / isa->panel;
    const nnrt_plan_arg zero = zeroX != NULL ? *zeroX : *x;
    const nnrt_view list = *quant;
    const bool raw = found->scale.raw, empty = y->view.dims[0] * y->view.dims[1] * y->view.dims[2] <= 0;
    int32_t packed[2] = {(w->dims[0] + isa->lanes - 1) / isa->lanes * isa->lanes, 0};
    const int32_t rows = packed[0] <= INT32_MAX / NNRTI_CPU_REQUANTIZE_ROWS ? NNRTI_CPU_REQUANTIZE_ROWS * packed[0] : 0;
    nnrt_plan_arg from = *x, to = *y;
    nnrti_cpu_gemm_q8 *a;
    nnrti_cpu_plan_q8 plan;
    nnrt_plan_arg *args;
    void *data, *table;
    int64_t reach = 0;
    NNRT_ReturnCode code = raw ? NNRT_SUCCESS : nnrti_cpu_recall_largest_sum(e, &x->view, w, bias, &reach);
    if (code != NNRT_SUCCESS || reach < 0 || empty || rows == 0 ||
        (code = nnrti_cpu_choose_gemm_q8(e, raw ? NULL : w, false, &isa, &kernel)) != NNRT_SUCCESS ||
        !nnrti_cpu_is_allowed(e, kernel))
        return code;
    a = (nnrti_cpu_gemm_q8 *)nnrt_memory_keep(d->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    *a = *found;
    if (e->dynamic == NULL)
        nnrti_cpu_merge_rows_q8(a, &from.view, &to.view);
    plan = nnrti_cpu_plan_gemm_q8(e, isa, a, &from.view, w, &to.view, false, d->workers);
    if (plan.row < 0)
        return NNRT_SUCCESS;
    packed[1] = plan.row;
    if (e->dynamic != NULL && from.view.dims[2] == 1)
        from.view.strides[2] = w->dims[3];
    nnrti_cpu_set_kernel(&d->steps[s], kernel, a);
    d->steps[s].flags = 0;
    d->steps[s].scratchBytes = plan.scratch;
    if ((args = nnrt_draft_args(d, s, a->zero ? 2 : 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = from;
    args[1] = zero;
    args[a->zero ? 2 : 1] = to;
    if ((code = nnrti_cpu_pack(e, s, NNRT_DATA_TYPE_INT8, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_INT32, 1, &rows, &table)) !=
            NNRT_SUCCESS)
        return code;
    if (table != NULL) {
        memset(table, 0, (size_t)packed[0] * NNRTI_CPU_REQUANTIZE_ROWS * sizeof(int32_t));
        if (data != NULL) {
            nnrti_cpu_pack_q8_job job = {isa, w, bias, raw ? 1 : NNRTI_CPU_DOT_ZERO(isa, &from.view), a->depth,
                                         plan.line, data, (int32_t *)table, (size_t)plan.row};
            nnrti_cpu_parallel_for(&e->call, 80.0 * (double)packed[0] * (double)packed[1], (uint32_t)panels,
                                   nnrti_cpu_pack_q8_panel, &job);
        }
        if ((code = nnrti_cpu_recall_bias_q8(e, w->dims[0], (int32_t *)table)) != NNRT_SUCCESS)
            return code;
        if (raw)
            nnrti_cpu_integer_table(isa, w, &list, (int32_t *)table);
        else
            nnrti_cpu_requantize_table(&a->scale, &list, &to.view, reach, w->dims[0], packed[0], isa->lanes, 0,
                                       (int32_t *)table);
    }
    nnrti_cpu_keep_scale(e, &a->scale);
    return NNRT_SUCCESS;
}

/* A phase of a grouped or transposed convolution in 8 bits, and *w, the weights of a group of it. Transposed: the taps are
   in reverse order, so that their dilation is positive. */
static void nnrti_cpu_init_phase_q8(const nnrti_cpu_conv_attr *c, const nnrt_view *y, const int32_t remainder[2],
                                    nnrti_cpu_phase_q8 *p, nnrt_view *w)
{
    nnrti_cpu_phase axes;
    const nnrt_view all = *w;
    memset(&axes, 0, sizeof(axes));
    memset(p, 0, sizeof(*p));
    for (int32_t i = 0; i < 2; i++) {
        nnrti_cpu_window *v = &axes.gemm.conv;
        ptrdiff_t at;
        nnrti_cpu_init_phase(c, &all, y, i, remainder[i], &axes);
        p->first[i] = axes.first[i];
        p->size[i] = axes.size[i];
        p->gemm.window[i] = v->window[i];
        p->gemm.stride[i] = v->stride[i];
        p->gemm.dilation[i] = c->transposed && v->window[i] > 1 ? -v->dilation[i] : c->transposed ? 1 : v->dilation[i];
        p->gemm.pad[i] = v->pad[i] + (c->transposed ? (v->window[i] - 1) * p->gemm.dilation[i] : 0);
        at = axes.tap[i] + (c->transposed ? (ptrdiff_t)(v->window[i] - 1) * axes.nextTap[i] : 0);
        w->data = (uint8_t *)w->data + at * all.strides[1 + i];
        w->dims[1 + i] = v->window[i];
        w->strides[1 + i] = all.strides[1 + i] * axes.nextTap[i] * (c->transposed ? -1 : 1);
    }
}

/* Packs the weights and tables of all phases and groups; data NULL: tables alone. */
static NNRT_ReturnCode nnrti_cpu_fill_multi_gemm_q8(nnrti_cpu_edit *e, const nnrti_cpu_multi_gemm_q8 *a,
                                                    const nnrti_cpu_pack_q8_job *of, const nnrt_view *weights,
                                                    const int64_t *lines, const nnrt_view *quant, const nnrt_view *y)
{
    const nnrti_cpu_isa_q8 *isa = of->isa;
    const uint32_t panels = (uint32_t)((a->results + isa->panel - 1) / isa->panel);
    const ptrdiff_t next = (ptrdiff_t)a->padded * NNRTI_CPU_REQUANTIZE_ROWS;
    nnrti_cpu_pack_q8_job job = *of;
    NNRT_ReturnCode code;
    for (int32_t i = 0; i < a->phases; i++)
        for (int32_t g = 0; g < a->groups; g++, job.table += next) {
            const nnrti_cpu_phase_q8 *p = &a->phase[i];
            nnrt_view w = weights[i], bias;
            w.dims[0] = a->results;
            w.data = (uint8_t *)w.data + (ptrdiff_t)g * a->results * w.strides[0];
            if (w.quantCount > 1)
                w.quant += g * a->results;
            job.w = &w;
            if (of->bias != NULL) {
                bias = *of->bias;
                bias.data = (int32_t *)bias.data + (ptrdiff_t)g * a->results * bias.strides[0];
                job.bias = &bias;
            }
            job.depth = p->gemm.depth;
            job.line = lines[i];
            if (of->to != NULL) {
                job.row = (size_t)p->row;
                job.to = (uint8_t *)of->to + p->packed + (size_t)g * (size_t)a->padded * (size_t)p->row;
                nnrti_cpu_parallel_for(&e->call, 80.0 * (double)a->padded * (double)p->row, panels,
                                       nnrti_cpu_pack_q8_panel, &job);
            }
            if ((code = nnrti_cpu_recall_bias_q8(e, a->results, job.table)) != NNRT_SUCCESS)
                return code;
            nnrti_cpu_requantize_channels(&p->gemm.scale, quant, y, g * a->results, a->results, a->padded, isa->lanes, 0,
                                          job.table);
        }
    return NNRT_SUCCESS;
}

/* A grouped or transposed convolution of 8 bits. A phase without a tap keeps the reference kernel. */
static NNRT_ReturnCode nnrti_cpu_lower_multi_gemm_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrti_cpu_isa_q8 *isa = &e->isa->q8;
    const nnrti_cpu_kernel *kernel;
    const nnrt_draft_step *step = &d->steps[s];
    const nnrti_cpu_conv_attr c = nnrti_cpu_conv_attr_of(step);
    const nnrt_plan_arg x = step->args[0], y = step->args[4];
    const nnrt_view w = step->args[1].view, quant = step->args[3].view, bias = step->args[2].view;
    const bool has = step->args[2].tensor != NNRT_NO_TENSOR;
    const int64_t down = e->dynamic != NULL && c.transposed ? c.stride->data[0] : nnrti_cpu_phases(&c, &y.view, 0);
    const int64_t across = e->dynamic != NULL && c.transposed ? c.stride->data[1] : nnrti_cpu_phases(&c, &y.view, 1);
    nnrti_cpu_multi_gemm_q8 *a;
    nnrti_cpu_requantize scale;
    nnrt_view weights[NNRTI_CPU_PHASES];
    int64_t lines[NNRTI_CPU_PHASES], reach, ints;
    int32_t packed[2] = {0, 0}, rows;
    size_t scratch = 0;
    nnrt_plan_arg *args;
    void *data, *table;
    NNRT_ReturnCode code = nnrti_cpu_recall_largest_sum(e, &x.view, &w, has ? &bias : NULL, &reach);
    if (code != NNRT_SUCCESS || reach < 0 ||
        (code = nnrti_cpu_choose_gemm_q8(e, &w, true, &isa, &kernel)) != NNRT_SUCCESS || !nnrti_cpu_is_allowed(e, kernel) ||
        down * across > (e->dynamic != NULL ? NNRTI_CPU_DYNAMIC_PHASES : NNRTI_CPU_PHASES))
        return code;
    a = (nnrti_cpu_multi_gemm_q8 *)nnrt_memory_keep(d->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->groups = (int32_t)c.group;
    a->channels = w.dims[3];
    a->results = w.dims[0] / a->groups;
    a->padded = (a->results + isa->lanes - 1) / isa->lanes * isa->lanes;
    a->phases = (int32_t)(down * across);
    for (int32_t i = 0; i < 2; i++)
        a->step[i] = c.transposed ? (int32_t)c.stride->data[i] : 1;
    a->phase = (nnrti_cpu_phase_q8 *)nnrt_memory_keep(d->memory, (size_t)a->phases * sizeof(*a->phase));
    ints = (int64_t)a->phases * a->groups * a->padded * NNRTI_CPU_REQUANTIZE_ROWS;
    if (a->phase == NULL)
        return nnrti_cpu_no_memory(e, step);
    packed[0] = a->groups * a->padded;
    for (int32_t i = 0; i < a->phases; i++) {
        nnrti_cpu_phase_q8 *p = &a->phase[i];
        const int32_t remainder[2] = {i / (int32_t)across, i % (int32_t)across};
        nnrt_view from = x.view, to = y.view;
        nnrti_cpu_plan_q8 plan;
        weights[i] = w;
        nnrti_cpu_init_phase_q8(&c, &y.view, remainder, p, &weights[i]);
        from.dims[3] = a->channels;
        to.dims[3] = weights[i].dims[0] = a->results;
        for (int32_t k = 0; k < 2; k++)
            to.dims[1 + k] = p->size[k];
        if (p->gemm.window[0] == 0 || p->gemm.window[1] == 0 ||
            (plan = nnrti_cpu_plan_gemm_q8(e, isa, &p->gemm, &from, &weights[i], &to, a->groups > 1, 1)).row < 0 ||
            plan.row > INT32_MAX / 2 - packed[1] || ints > INT32_MAX)
            return NNRT_SUCCESS;
        while (d->workers > 1 && p->gemm.rows > 24 &&
               (int64_t)to.dims[0] * p->size[0] * p->size[1] / p->gemm.rows * a->phases * a->groups < 4 * d->workers)
            p->gemm.rows /= 2;
        p->row = plan.row;
        p->packed = (size_t)packed[0] * (size_t)packed[1];
        packed[1] += plan.row;
        lines[i] = plan.line;
        scratch = plan.scratch > scratch ? plan.scratch : scratch;
    }
    nnrti_cpu_set_kernel(&d->steps[s], kernel, a);
    d->steps[s].flags = 0;
    d->steps[s].scratchBytes = scratch;
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = x;
    args[1] = y;
    rows = (int32_t)ints;
    if ((code = nnrti_cpu_pack(e, s, NNRT_DATA_TYPE_INT8, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_INT32, 1, &rows, &table)) != NNRT_SUCCESS)
        return code;
    memset(&scale, 0, sizeof(scale));
    if (table != NULL)
        nnrti_cpu_requantize_scale(&scale, &quant, &y.view, reach, w.dims[0]);
    nnrti_cpu_keep_scale(e, &scale);
    for (int32_t i = 0; i < a->phases; i++)
        a->phase[i].gemm.scale = scale;
    if (table == NULL)
        return NNRT_SUCCESS;
    memset(table, 0, (size_t)rows * sizeof(int32_t));
    {
        const nnrti_cpu_pack_q8_job job = {isa, NULL, has ? &bias : NULL, NNRTI_CPU_DOT_ZERO(isa, &x.view), 0, 0, data,
                                           (int32_t *)table, 0};
        return nnrti_cpu_fill_multi_gemm_q8(e, a, &job, weights, lines, &quant, &y.view);
    }
}

/* Neighboring pixels of C channels that a depthwise convolution processes as one pixel of whole blocks: 1, or a
   number that is faster. A block of `block` channels costs some 30 cycles for its results and 8 for each column of x
   that it interleaves: those of a window, or all. */
static int32_t nnrti_cpu_depthwise_q8_fold(int32_t C, int32_t block, int32_t taps, int32_t dilation)
{
    const int32_t columns = taps <= 8 && dilation <= 8 ? (taps - 1) * dilation + 1 : 8;
    for (int32_t fold = 2; fold <= 8; fold++)
        if (C > 0 && C <= NNRTI_CPU_CHUNK && fold * C % block == 0)
            return fold * ((C + block - 1) / block) * 38 >
                           fold * C / block * (30 + 8 * (fold < columns ? fold : columns))
                       ? fold
                       : 1;
    return 1;
}

/* Packs the weights of channel r % C at position r (channels are repeated per folded pixel); returns their sum. */
static uint32_t nnrti_cpu_pack_depthwise_q8(const nnrti_cpu_isa_q8 *isa, const nnrti_cpu_window_q8 *a,
                                            const nnrt_view *w, int32_t r, void *data)
{
    const int32_t c = r % w->dims[0], zero = nnrti_cpu_weight_zero_point(w, c), first = r / isa->block * isa->block;
    const int32_t at = nnrti_cpu_interleaved_channel(r - first, isa->mixed);
    uint32_t sum = 0;
    for (int32_t i = 0; i < w->dims[1]; i++)
        for (int32_t k = 0; k < w->dims[2]; k++) {
            const int32_t v = nnrt_load_8(w->data, nnrti_cpu_weight_offset(w, c, i, k, 0), w->dataType) - zero;
            sum += (uint32_t)v;
            for (int32_t line = 0; line < a->lines; line++) {
                const int32_t row = i + line * a->stride[0], some = NNRTI_CPU_ROW_GROUP(isa);
                const int32_t group = row / some, part = row % some;
                const size_t word =
                    (size_t)first * (size_t)a->lines * (size_t)a->groups * (size_t)a->window[1] +
                    (((size_t)line * (size_t)a->window[1] + (size_t)k) * (size_t)a->groups + (size_t)group) *
                        (size_t)isa->block +
                    (size_t)at;
                if (some == 4)
                    ((int8_t *)data)[4 * word + (size_t)part] = (int8_t)v;
                else if (some == 2)
                    ((int16_t *)data)[2 * word + (size_t)part] = (int16_t)v;
                else
                    ((int32_t *)data)[word] = v;
            }
        }
    return sum;
}

/* Work items that channel blocks are divided into, so that threads have enough of them. */
static uint32_t nnrti_cpu_depthwise_q8_parts(const nnrti_cpu_window_q8 *a, const nnrt_view *y, int32_t blocks,
                                             uint32_t workers)
{
    const int64_t rows = y->dims[0] * nnrti_cpu_div_up(y->dims[1], a->lines);
    const int64_t parts = workers > 1 && rows > 0 ? nnrti_cpu_div_up(8 * (int64_t)workers, rows) : 1;
    return (uint32_t)(parts < blocks ? parts : blocks > 0 ? blocks : 1);
}

/* Depthwise int8 convolution. */
static NNRT_ReturnCode nnrti_cpu_lower_depthwise_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrti_cpu_isa_q8 *isa = &e->isa->q8;
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)d->steps[s].attr;
    const nnrt_plan_arg x = d->steps[s].args[0], y = d->steps[s].args[4];
    const nnrt_view w = d->steps[s].args[1].view, bias = d->steps[s].args[2].view, quant = d->steps[s].args[3].view;
    const bool has = d->steps[s].args[2].tensor != NNRT_NO_TENSOR;
    const int32_t C = w.dims[0], group = NNRTI_CPU_ROW_GROUP(isa), mixed = isa->mixed;
    const int32_t zeroX = x.view.quant[0].zeroPoint + nnrti_cpu_flip(&x.view) - NNRTI_CPU_DOT_SIGN;
    const int64_t taps = (int64_t)w.dims[1] * w.dims[2];
    int32_t packed[2], rows[2] = {NNRTI_CPU_REQUANTIZE_ROWS, 0}, all, step;
    int64_t reach;
    double room;
    nnrti_cpu_window_q8 found, *a;
    nnrt_plan_arg *args;
    void *data, *table;
    NNRT_ReturnCode code;
    if (e->packed == NULL || !nnrti_cpu_recall(e, &reach)) {
        reach = nnrti_cpu_largest_sum(&x.view, &w, has ? &bias : NULL);
        nnrti_cpu_keep_number(e, reach);
    }
    memset(&found, 0, sizeof(found));
    found.window[0] = w.dims[1];
    found.window[1] = w.dims[2];
    nnrti_cpu_pair(found.stride, &attr->stride, 0, 1);
    nnrti_cpu_pair(found.dilation, &attr->dilation, 0, 1);
    nnrti_cpu_pair(found.pad, &attr->padList, 0, 2);
    found.fold = mixed == 64 && found.stride[1] == 1 ? nnrti_cpu_depthwise_q8_fold(C, isa->block, w.dims[2], found.dilation[1])
                                                     : 1;
    found.groups = (found.window[0] + group - 1) / group;
    found.lines = found.dilation[0] == 1 ? 1 + (found.groups * group - found.window[0]) / found.stride[0] : 1;
    step = found.fold > 1 ? found.fold : found.stride[1];
    found.span = e->smallest || step > 4 ? 8 : step > 2 ? 16 : 32;
    room = ((double)(found.span - 1) * step + (double)(found.window[1] - 1) * found.dilation[1] + 1) * found.groups *
           isa->block * sizeof(int32_t);
    if (reach < 0 || taps > 1 << 20 || room > NNRTI_CPU_DEPTHWISE_Q8_SCRATCH ||
        !nnrti_cpu_is_allowed(e, &e->isa->depthwise_q8))
        return NNRT_SUCCESS;
    all = C * found.fold; /* fold is 1 if there are many channels */
    rows[1] = packed[0] = (all + isa->block - 1) / isa->block * isa->block;
    packed[1] = found.lines * found.groups * found.window[1] * 4;
    found.parts = nnrti_cpu_depthwise_q8_parts(&found, &y.view, packed[0] / isa->block, d->workers);
    a = (nnrti_cpu_window_q8 *)nnrt_memory_keep(d->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    *a = found;
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->depthwise_q8, a);
    d->steps[s].scratchBytes = (size_t)room + 64;
    d->steps[s].flags = 0;
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = x;
    args[1] = y;
    if ((code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_INT8, 2, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_INT32, 2, rows, &table)) != NNRT_SUCCESS)
        return code;
    if (data == NULL || table == NULL) {
        nnrti_cpu_keep_scale(e, &a->scale);
        return NNRT_SUCCESS;
    }
    memset(data, 0, (size_t)packed[0] * (size_t)packed[1]);
    memset(table, 0, (size_t)rows[1] * NNRTI_CPU_REQUANTIZE_ROWS * sizeof(int32_t));
    nnrti_cpu_requantize_table(&a->scale, &quant, &y.view, reach, C, rows[1], isa->lanes, mixed, (int32_t *)table);
    nnrti_cpu_keep_scale(e, &a->scale);
    for (int32_t r = 0; r < all; r++) {
        const int32_t c = r % C, lanes = isa->lanes;
        int32_t *const to = nnrti_cpu_table_column((int32_t *)table, nnrti_cpu_interleaved_channel(r, mixed), lanes);
        const int32_t *from = nnrti_cpu_table_column((int32_t *)table, nnrti_cpu_interleaved_channel(c, mixed), lanes);
        uint32_t sum = nnrti_cpu_pack_depthwise_q8(isa, a, &w, r, data);
        sum = (isa->bytes == 1 ? (uint32_t)0 - sum * (uint32_t)zeroX : 0) +
              (uint32_t)(has ? ((const int32_t *)bias.data)[c * bias.strides[0]] : 0);
        memcpy(to, &sum, sizeof(sum));
        for (int32_t i = 1; i < NNRTI_CPU_REQUANTIZE_ROWS; i++)
            to[i * lanes] = from[i * lanes];
    }
    return NNRT_SUCCESS;
}

/* The window of a convolution of weights w [C,kH,kW,K]. */
static void nnrti_cpu_set_window_q8(nnrti_cpu_gemm_q8 *a, const NNRT_Conv2DFusion *attr, const nnrt_view *w)
{
    a->window[0] = w->dims[1];
    a->window[1] = w->dims[2];
    nnrti_cpu_pair(a->stride, &attr->stride, 0, 1);
    nnrti_cpu_pair(a->dilation, &attr->dilation, 0, 1);
    nnrti_cpu_pair(a->pad, &attr->padList, 0, 2);
}

/* CONV2D_FUSION of 8 bits. */
static NNRT_ReturnCode nnrti_cpu_lower_conv_q8(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
    const nnrt_plan_arg *args = step->args;
    nnrti_cpu_gemm_q8 a;
    if (attr->group != 1)
        return attr->group == args[0].view.dims[3] && attr->group == args[1].view.dims[0]
                   ? nnrti_cpu_lower_depthwise_q8(e, s)
                   : nnrti_cpu_lower_multi_gemm_q8(e, s);
    memset(&a, 0, sizeof(a));
    nnrti_cpu_set_window_q8(&a, attr, &args[1].view);
    return nnrti_cpu_lower_gemm_q8(e, s, &args[0], &args[1].view,
                                   args[2].tensor != NNRT_NO_TENSOR ? &args[2].view : NULL, &args[3].view, NULL,
                                   &args[4], &a);
}

/* x and y of FULL_CONNECTION and MATMUL_FUSION become images of a row of pixels, *w the constant weights; false: they have another form. */
static bool nnrti_cpu_images_of_matrices(const nnrt_draft_step *step, bool transposed, nnrt_view *x, nnrt_view *w, nnrt_view *y)
{
    int64_t rows, rowsY;
    ptrdiff_t stepX, stepY;
    if (!nnrti_cpu_constant_weights_q8(step, transposed, w) ||
        (step->args[2].tensor != NNRT_NO_TENSOR && step->args[2].kind != NNRT_PLACE_CONSTANT) ||
        !nnrti_cpu_is_matrix(x, &rows, &stepX) || !nnrti_cpu_is_matrix(y, &rowsY, &stepY) || rows != rowsY || w->dims[0] == 0 ||
        w->dims[3] == 0)
        return false;
    *x = nnrti_cpu_matrix_as_image(x, rows, stepX, w->dims[3]);
    *y = nnrti_cpu_matrix_as_image(y, rows, stepY, w->dims[0]);
    return true;
}

/* FULL_CONNECTION and MATMUL_FUSION of constant weights. */
static NNRT_ReturnCode nnrti_cpu_lower_constant_matmul_q8(nnrti_cpu_edit *e, uint32_t s, bool transposed)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg x = step->args[0], y = step->args[4];
    nnrt_view w;
    nnrti_cpu_gemm_q8 a;
    if (!nnrti_cpu_images_of_matrices(step, transposed, &x.view, &w, &y.view))
        return NNRT_SUCCESS;
    memset(&a, 0, sizeof(a));
    for (int32_t i = 0; i < 2; i++)
        a.window[i] = a.stride[i] = a.dilation[i] = 1;
    return nnrti_cpu_lower_gemm_q8(e, s, &x, &w, step->args[2].tensor != NNRT_NO_TENSOR ? &step->args[2].view : NULL,
                                   &step->args[3].view, NULL, &y, &a);
}

/* ---- int16 by int8 weights ---- */

/* The bias of channel c, int32 or int64. */
static double nnrti_cpu_bias_q16(const nnrt_view *bias, int32_t c)
{
    const ptrdiff_t at = c * bias->strides[0];
    return bias->dataType == NNRT_DATA_TYPE_INT64 ? (double)((const int64_t *)bias->data)[at]
                                                  : (double)((const int32_t *)bias->data)[at];
}

/* Whether all sums of weights w [C,kH,kW,K] and of the bias, which may be NULL, stay within 2^37, and all factors are below
   2^14, so that float64 requantizes exactly. */
static bool nnrti_cpu_is_exact_q16(const nnrt_view *w, const nnrt_view *bias, const nnrt_view *quant)
{
    const int64_t terms = nnrti_cpu_terms_q8(w);
    const int32_t K = w->dims[3];
    for (int32_t c = 0; c < w->dims[0]; c++) {
        const int32_t *factor = nnrt_quant_factor(quant, c);
        const double b = bias != NULL ? nnrti_cpu_bias_q16(bias, c) : 0;
        double sum = 0;
        for (int64_t t = 0; t < terms; t++) {
            const int32_t tap = (int32_t)(t / K), v = ((const int8_t *)w->data)[nnrti_cpu_weight_offset(
                                                      w, c, tap / w->dims[2], tap % w->dims[2], (int32_t)(t % K))];
            sum += v < 0 ? -v : v;
        }
        if (factor[0] < 0 || factor[1] < 1 || factor[1] > 60 || sum * 32768 + (b < 0 ? -b : b) > (double)((int64_t)1 << 37))
            return false;
    }
    return true;
}

/* Fills the table of `padded` channels. */
static void nnrti_cpu_table_q16(double *table, int32_t C, int32_t padded, const nnrt_view *bias, const nnrt_view *quant)
{
    memset(table, 0, 2 * (size_t)padded * sizeof(*table));
    for (int32_t c = 0; c < C; c++) {
        const int32_t *factor = nnrt_quant_factor(quant, c);
        table[c] = bias != NULL ? nnrti_cpu_bias_q16(bias, c) : 0;
        table[padded + c] = (double)factor[0] / (double)((int64_t)1 << factor[1]);
    }
}

/* Packs the weights [C,kH,kW,1] of a depthwise convolution; to: zeros. */
static void nnrti_cpu_pack_depthwise_q16(const nnrt_view *w, int32_t pairs, int16_t *to)
{
    for (int32_t c = 0; c < w->dims[0]; c++) {
        const int32_t at = c % NNRTI_CPU_Q16_BLOCK, half = at / 8, quarter = at / 4 % 2;
        int16_t *const block = to + (size_t)(c / NNRTI_CPU_Q16_BLOCK) * (size_t)pairs * 2 * NNRTI_CPU_Q16_BLOCK;
        for (int32_t t = 0; t < w->dims[1] * w->dims[2]; t++)
            block[t / 2 * 2 * NNRTI_CPU_Q16_BLOCK + quarter * 16 + half * 8 + at % 4 * 2 + t % 2] =
                ((const int8_t *)w->data)[nnrti_cpu_weight_offset(w, c, t / w->dims[2], t % w->dims[2], 0)];
    }
}

/* Packs weights [C,kH,kW,K] into panels of a GEMM. */
static void nnrti_cpu_pack_gemm_q16(nnrti_cpu_edit *e, const nnrti_cpu_isa_q8 *like, const nnrt_view *w, int32_t depth, void *data)
{
    const int32_t panels = (w->dims[0] + like->panel - 1) / like->panel;
    const nnrti_cpu_pack_q8_job job = {like, w, NULL, 0, depth, nnrti_cpu_terms_q8(w), data, NULL,
                                       (size_t)depth * (size_t)(like->group * like->bytes)};
    nnrti_cpu_parallel_for(&e->call, 80.0 * (double)nnrti_cpu_terms_q8(w) * w->dims[0], (uint32_t)panels, nnrti_cpu_pack_q8_panel,
                           (void *)(uintptr_t)&job);
}

/* Pixels per work item, and the scratch of a worker: pointers, and patches. */
static size_t nnrti_cpu_tile_q16(nnrti_cpu_conv_q16 *a, const nnrt_view *y, const nnrti_cpu_isa_q8 *isa)
{
    const int64_t pixels = (int64_t)y->dims[0] * y->dims[1] * y->dims[2];
    const int64_t row = (int64_t)a->depth * isa->group * (int64_t)sizeof(int16_t);
    const int64_t fit = NNRTI_CPU_Q16_PATCHES / (row + 1) / 4 * 4;
    const int64_t most = fit < 4 ? 4 : fit < NNRTI_CPU_Q16_PIXELS ? fit : NNRTI_CPU_Q16_PIXELS;
    if (a->depthwise) { /* an item is a row of y; zeros are outside x */
        a->rows = y->dims[2];
        return (size_t)a->depth * 2 * sizeof(void *) + (size_t)y->dims[3] * sizeof(int16_t);
    }
    a->rows = (int32_t)(pixels < most ? (pixels + 3) / 4 * 4 : most);
    return (size_t)a->rows * (2 * sizeof(void *) + (size_t)row) + 64;
}

/* Step s becomes a convolution of images x and y of int16 by weights w [C,kH,kW,K]; the window of `a` is set. */
static NNRT_ReturnCode nnrti_cpu_lower_q16(nnrti_cpu_edit *e, uint32_t s, const nnrt_plan_arg *x, const nnrt_view *w,
                                           const nnrt_view *bias, const nnrt_view *quant, const nnrt_plan_arg *y,
                                           const nnrti_cpu_conv_q16 *found)
{
    nnrt_draft *d = e->draft;
    const nnrti_cpu_isa_q8 like = {e->isa->q8.lanes, 2 * e->isa->q8.lanes, e->isa->q8.group16, e->isa->q8.bytes16, 0, 0, 0, 0, false};
    const nnrt_view list = *quant, weights = *w;
    const nnrt_plan_arg from = *x, to = *y;
    const int32_t unit = found->depthwise ? NNRTI_CPU_Q16_BLOCK : like.panel, C = w->dims[0];
    const int32_t padded = (C + unit - 1) / unit * unit, rows[2] = {2, padded};
    const int64_t terms = nnrti_cpu_terms_q8(w), groups = nnrti_cpu_div_up(terms, found->depthwise ? 2 : like.group);
    const int64_t row = groups * (found->depthwise ? 4 : like.group * like.bytes);
    const int32_t packed[2] = {padded, (int32_t)(row < 1 << 24 ? row : 0)};
    nnrti_cpu_conv_q16 *a;
    nnrt_plan_arg *args;
    nnrt_view b;
    void *data, *table;
    NNRT_ReturnCode code;
    if (e->dynamic != NULL || row >= 1 << 24 || (found->depthwise && terms > NNRTI_CPU_Q16_TERMS) || nnrt_view_empty(&to.view) ||
        !nnrti_cpu_is_allowed(e, &e->isa->conv_q16) || !nnrti_cpu_is_exact_q16(w, bias, quant))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_conv_q16 *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    if (bias != NULL)
        b = *bias;
    *a = *found;
    a->depth = (int32_t)groups;
    a->low = ((const int32_t *)list.data)[1];
    a->high = ((const int32_t *)list.data)[2];
    a->parts = a->depthwise ? 1 : (uint32_t)(padded / unit);
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->conv_q16, a);
    d->steps[s].flags = 0;
    d->steps[s].scratchBytes = nnrti_cpu_tile_q16(a, &to.view, &like);
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = from;
    args[1] = to;
    if ((code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_INT8, 2, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_FLOAT64, 2, rows, &table)) != NNRT_SUCCESS || data == NULL || table == NULL)
        return code;
    memset(data, 0, (size_t)packed[0] * (size_t)packed[1]);
    nnrti_cpu_table_q16((double *)table, C, padded, bias != NULL ? &b : NULL, &list);
    if (a->depthwise)
        nnrti_cpu_pack_depthwise_q16(&weights, a->depth, (int16_t *)data);
    else
        nnrti_cpu_pack_gemm_q16(e, &like, &weights, a->depth, data);
    return NNRT_SUCCESS;
}

/* CONV2D_FUSION of one group, or depthwise. */
static NNRT_ReturnCode nnrti_cpu_lower_conv_q16(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
    const nnrt_plan_arg *args = step->args;
    nnrti_cpu_conv_q16 a;
    memset(&a, 0, sizeof(a));
    a.window[0] = args[1].view.dims[1];
    a.window[1] = args[1].view.dims[2];
    nnrti_cpu_pair(a.stride, &attr->stride, 0, 1);
    nnrti_cpu_pair(a.dilation, &attr->dilation, 0, 1);
    nnrti_cpu_pair(a.pad, &attr->padList, 0, 2);
    a.depthwise = attr->group != 1;
    return nnrti_cpu_lower_q16(e, s, &args[0], &args[1].view, args[2].tensor != NNRT_NO_TENSOR ? &args[2].view : NULL,
                               &args[3].view, &args[4], &a);
}

/* FULL_CONNECTION of constant weights. */
static NNRT_ReturnCode nnrti_cpu_lower_full_connection_q16(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg x = step->args[0], y = step->args[4];
    nnrt_view w;
    nnrti_cpu_conv_q16 a;
    if (!nnrti_cpu_images_of_matrices(step, true, &x.view, &w, &y.view))
        return NNRT_SUCCESS;
    memset(&a, 0, sizeof(a));
    for (int32_t i = 0; i < 2; i++)
        a.window[i] = a.stride[i] = a.dilation[i] = 1;
    return nnrti_cpu_lower_q16(e, s, &x, &w, step->args[2].tensor != NNRT_NO_TENSOR ? &step->args[2].view : NULL,
                               &step->args[3].view, &y, &a);
}

/* The zero point with which the weights of MATMUL_INTEGER are packed: that of all columns if the difference fits, else 128
   (or of int8 0). Returns it for weights as uint8, plus 256 if a column has another one. */
static int64_t nnrti_cpu_integer_base(const nnrti_cpu_isa_q8 *isa, const nnrt_view *w, const nnrt_view *zeros)
{
    const int32_t flip = nnrti_cpu_flip(w), zero = nnrti_cpu_zero_point_at(zeros, 0) + flip;
    const int64_t terms = nnrti_cpu_terms_q8(w);
    uint8_t chunk[NNRTI_CPU_CHUNK], least = 255, greatest = 0;
    for (int32_t c = 0; c < w->dims[0]; c++) {
        if (nnrti_cpu_zero_point_at(zeros, c) + flip != zero)
            return 128 + 256;
        for (int64_t first = 0; isa->bytes == 1 && first < terms; first += NNRTI_CPU_CHUNK) {
            const int32_t count = terms - first < NNRTI_CPU_CHUNK ? (int32_t)(terms - first) : NNRTI_CPU_CHUNK;
            nnrti_cpu_load_weights_q8(w, c, first, count, 0, chunk);
            for (int32_t t = 0; t < count; t++) {
                least = chunk[t] < least ? chunk[t] : least;
                greatest = chunk[t] > greatest ? chunk[t] : greatest;
            }
        }
    }
    return zero - least <= 128 && greatest - zero <= 127 ? zero : 128 + 256;
}

/* Whether the zero points of MATMUL_INTEGER or CONV_INTEGER have a kernel: one of x, constant ones of the weights. */
static bool nnrti_cpu_has_integer_zeros(const nnrt_plan_arg *zeroX, const nnrt_plan_arg *zeroW)
{
    size_t count;
    if (zeroW->tensor != NNRT_NO_TENSOR && zeroW->kind != NNRT_PLACE_CONSTANT)
        return false;
    return zeroX->tensor == NNRT_NO_TENSOR ||
           (nnrt_dims_count(zeroX->view.dims, zeroX->view.rank, &count) && count == 1);
}

/* MATMUL_INTEGER and CONV_INTEGER of constant weights w [C,kH,kW,K]; a: the window. With the zero point z of x, the zero
   points zero[c] of the weights, and base, the zero point with which the weights are packed,
       y[r,c] = sum of (x - z) * (w - zero[c])
              = sum of x * (w - base) - z * sum of (w - base) + (base - zero[c]) * sum of (x - z)
   modulo 2^32: the first sum is the GEMM, the second one is row 1 of the table, its factor row 2. z is known in the run. */
static NNRT_ReturnCode nnrti_cpu_lower_integer(nnrti_cpu_edit *e, uint32_t s, const nnrt_plan_arg *x, nnrt_view *w,
                                               const nnrt_plan_arg *zeroX, const nnrt_plan_arg *zeroW,
                                               const nnrt_plan_arg *y, nnrti_cpu_gemm_q8 *a)
{
    nnrt_view zeros;
    NNRT_QuantParam quant;
    int64_t base;
    NNRT_ReturnCode code;
    memset(&zeros, 0, sizeof(zeros));
    if (zeroW->tensor != NNRT_NO_TENSOR)
        zeros = zeroW->view;
    if (!nnrti_cpu_recall(e, &base)) {
        base = nnrti_cpu_integer_base(&e->isa->q8, w, &zeros);
        if ((code = nnrti_cpu_note(e, base)) != NNRT_SUCCESS)
            return code;
    }
    memset(&quant, 0, sizeof(quant));
    quant.zeroPoint = (int32_t)(base & 255) - nnrti_cpu_flip(w);
    w->quant = &quant;
    w->quantCount = 1;
    a->scale.raw = true;
    a->zero = zeroX->tensor != NNRT_NO_TENSOR;
    a->sums = base > 255;
    return nnrti_cpu_lower_gemm_q8(e, s, x, w, NULL, &zeros, zeroX, y, a);
}

static NNRT_ReturnCode nnrti_cpu_lower_matmul_integer(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg x = step->args[0], y = step->args[4];
    nnrt_view w;
    nnrti_cpu_gemm_q8 a;
    int64_t rows, rowsY;
    ptrdiff_t stepX, stepY;
    if (step->nIn != 4 || !nnrti_cpu_constant_weights_q8(step, false, &w) ||
        !nnrti_cpu_has_integer_zeros(&step->args[2], &step->args[3]) ||
        !nnrti_cpu_is_matrix(&x.view, &rows, &stepX) || !nnrti_cpu_is_matrix(&y.view, &rowsY, &stepY) ||
        rows != rowsY || w.dims[0] == 0 || w.dims[3] == 0)
        return NNRT_SUCCESS;
    memset(&a, 0, sizeof(a));
    for (int32_t i = 0; i < 2; i++)
        a.window[i] = a.stride[i] = a.dilation[i] = 1;
    x.view = nnrti_cpu_matrix_as_image(&x.view, rows, stepX, w.dims[3]);
    y.view = nnrti_cpu_matrix_as_image(&y.view, rows, stepY, w.dims[0]);
    return nnrti_cpu_lower_integer(e, s, &x, &w, &step->args[2], &step->args[3], &y, &a);
}

static NNRT_ReturnCode nnrti_cpu_lower_conv_integer(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_view w = step->args[1].view;
    nnrti_cpu_gemm_q8 a;
    if (!nnrti_cpu_has_integer_zeros(&step->args[3], &step->args[4]))
        return NNRT_SUCCESS;
    memset(&a, 0, sizeof(a));
    nnrti_cpu_set_window_q8(&a, (const NNRT_Conv2DFusion *)step->attr, &w);
    return nnrti_cpu_lower_integer(e, s, &step->args[0], &w, &step->args[3], &step->args[4], &step->args[5], &a);
}

/* Pools keep their arguments: x, the derived constants, y. */
static NNRT_ReturnCode nnrti_cpu_lower_pool_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool largest = step->op->type == NNRT_NODE_TYPE_MAX_POOL_FUSION;
    const NNRT_Int64List *window, *strides, *pad;
    nnrti_cpu_window_q8 *a;
    if (largest) {
        const NNRT_MaxPoolFusion *attr = (const NNRT_MaxPoolFusion *)step->attr;
        window = &attr->kernelSize;
        strides = &attr->strides;
        pad = &attr->pad;
    } else {
        const NNRT_AvgPoolFusion *attr = (const NNRT_AvgPoolFusion *)step->attr;
        window = &attr->kernelSize;
        strides = &attr->strides;
        pad = &attr->pad;
    }
    if (window->data[0] > 1024 || window->data[1] > 1024 || /* sums of 8 bits fit 31 bits */
        !nnrti_cpu_is_allowed(e, largest ? &e->isa->max_pool_q8 : &e->isa->average_pool_q8))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_window_q8 *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    memset(a, 0, sizeof(*a));
    nnrti_cpu_pair(a->window, window, 0, 1);
    nnrti_cpu_pair(a->stride, strides, 0, 1);
    nnrti_cpu_pair(a->pad, pad, 0, 2);
    a->dilation[0] = a->dilation[1] = 1;
    nnrti_cpu_set_kernel(step, largest ? &e->isa->max_pool_q8 : &e->isa->average_pool_q8, a);
    return NNRT_SUCCESS;
}

/* The rows of `binary_q8`. */
static NNRT_ReturnCode nnrti_cpu_add_q8_exact(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    (void)call;
    return nnrt_add_fusion_q8(NULL, &args[0], &args[1], &args[2], &args[3]);
}

static NNRT_ReturnCode nnrti_cpu_sub_q8_exact(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    (void)call;
    return nnrt_sub_fusion_q8(NULL, &args[0], &args[1], &args[2], &args[3]);
}

static NNRT_ReturnCode nnrti_cpu_mul_q8_exact(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    (void)call;
    return nnrt_mul_fusion_q8(NULL, &args[0], &args[1], &args[2], &args[3]);
}

static const nnrti_cpu_binary_q8 *nnrti_cpu_binary_q8_of(const nnrt_draft_step *step)
{
    static const nnrti_cpu_binary_q8 rows[] = {{NNRTI_CPU_Q8_ADD, "nnrt_add_fusion_q8", nnrti_cpu_add_q8_exact},
                                               {NNRTI_CPU_Q8_SUB, "nnrt_sub_fusion_q8", nnrti_cpu_sub_q8_exact},
                                               {NNRTI_CPU_Q8_MUL, "nnrt_mul_fusion_q8", nnrti_cpu_mul_q8_exact}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (nnrti_cpu_is_q8_step(step, rows[i].name))
            return &rows[i];
    return NULL;
}

static void nnrti_cpu_lower_binary_q8(nnrti_cpu_edit *e, nnrt_draft_step *step)
{
    const nnrt_view list = step->args[2].view;
    if (!nnrti_cpu_is_allowed(e, &e->isa->binary_q8))
        return;
    for (uint32_t k = 0; k < 2; k++)
        nnrti_cpu_add_axes(&step->args[k].view, &step->args[3].view);
    nnrti_cpu_sort_axes(step);
    step->args[2].view = list;
    nnrti_cpu_set_kernel(step, &e->isa->binary_q8, nnrti_cpu_binary_q8_of(step));
}

/* QUANTIZE_LINEAR, and QUANT_DTYPE_CAST from float32. */
static NNRT_ReturnCode nnrti_cpu_lower_quantize(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const float scale = (float)step->args[1].view.quant[0].scale;
    nnrti_cpu_quantize *a;
    if (!(scale > 0) || !nnrti_cpu_is_allowed(e, &e->isa->quantize))
        return NNRT_SUCCESS;
    a = (nnrti_cpu_quantize *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->even = strcmp(step->kernelName, "nnrt_quantize_linear") == 0;
    a->inverse = scale > 1e-30f && scale < 1e30f ? 1 / scale : 0;
    step->flags = 0;
    nnrti_cpu_sort_axes(step);
    nnrti_cpu_set_kernel(step, &e->isa->quantize, a);
    return NNRT_SUCCESS;
}

/* Reductions of 8 bits, and global average pools; L2, PROD and ALL have a kernel in >>lines. */
static NNRT_ReturnCode nnrti_cpu_lower_reduce_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool pool = step->op->type == NNRT_NODE_TYPE_AVGPOOL_FUSION;
    const NNRT_ReduceMode mode = pool ? NNRT_REDUCE_MODE_SUM : ((const NNRT_ReduceFusion *)step->attr)->mode;
    nnrti_cpu_reduce_q8 *a;
    if (mode == NNRT_REDUCE_MODE_L2 || mode == NNRT_REDUCE_MODE_PROD || mode == NNRT_REDUCE_MODE_ALL ||
        step->nDerived != (pool ? 1 : 2) || nnrt_view_empty(&step->args[0].view) || !nnrti_cpu_is_allowed(e, &e->isa->reduce_q8))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_reduce_q8 *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->mode = mode;
    a->pool = pool;
    a->exact = step->kernel;
    a->attr = step->attr;
    nnrti_cpu_set_kernel(step, &e->isa->reduce_q8, a);
    return NNRT_SUCCESS;
}

/* In >>tables. */
static NNRT_ReturnCode nnrti_cpu_lower_tables(nnrti_cpu_edit *e, uint32_t s);

/* In >>selections: whether `matmul_q8` computes a step, and its scratch. */
static bool nnrti_cpu_is_matmul_q8(const nnrt_draft_step *step);
static size_t nnrti_cpu_matmul_q8_bytes(const nnrti_cpu_edit *e, const nnrt_draft_step *step);

/* MATMUL_FUSION whose y is constant: a GEMM of packed weights or, if y is several matrices or too far from its zero point,
   as one of two tensors of the run. */
static NNRT_ReturnCode nnrti_cpu_lower_matmul_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_MatMulFusion *attr = (const NNRT_MatMulFusion *)step->attr;
    const nnrt_kernel before = step->kernel;
    const NNRT_ReturnCode code =
        attr->transposeA ? NNRT_SUCCESS : nnrti_cpu_lower_constant_matmul_q8(e, s, attr->transposeB);
    if (code != NNRT_SUCCESS || step->kernel != before || e->dynamic != NULL || !nnrti_cpu_is_matmul_q8(step) ||
        !nnrti_cpu_is_allowed(e, &e->isa->matmul_q8))
        return code;
    step->scratchBytes = nnrti_cpu_matmul_q8_bytes(e, step);
    step->kernel = e->isa->matmul_q8.run;
    step->kernelName = e->isa->matmul_q8.name;
    return NNRT_SUCCESS;
}

/* A quantized step gets its kernel, if there is one; else it is unchanged. */
static NNRT_ReturnCode nnrti_cpu_lower_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    if (nnrti_cpu_is_image_op(step) && nnrti_cpu_is_nhwc(&step->args[0].view) &&
        nnrti_cpu_is_nhwc(&step->args[step->nIn + step->nDerived].view))
        return nnrti_cpu_is_q8_step(step, "nnrt_conv2d_fusion_q16")       ? nnrti_cpu_lower_conv_q16(e, s)
               : step->op->type == NNRT_NODE_TYPE_CONV2D_FUSION           ? nnrti_cpu_lower_conv_q8(e, s)
               : step->op->type == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION ? nnrti_cpu_lower_multi_gemm_q8(e, s)
               : step->op->type == NNRT_NODE_TYPE_CONV_INTEGER            ? nnrti_cpu_lower_conv_integer(e, s)
                                                                          : nnrti_cpu_lower_pool_q8(e, s);
    if (nnrti_cpu_is_q8_step(step, "nnrt_full_connection_q8"))
        return nnrti_cpu_lower_constant_matmul_q8(e, s, true);
    if (nnrti_cpu_is_q8_step(step, "nnrt_full_connection_q16"))
        return nnrti_cpu_lower_full_connection_q16(e, s);
    if (nnrti_cpu_is_q8_step(step, "nnrt_matmul_fusion_q8"))
        return nnrti_cpu_lower_matmul_q8(e, s);
    if (nnrti_cpu_binary_q8_of(step) != NULL)
        nnrti_cpu_lower_binary_q8(e, step);
    if (nnrti_cpu_is_q8_step(step, "nnrt_reduce_fusion_q8") ||
        (nnrti_cpu_is_q8_step(step, "nnrt_avgpool_fusion_q8") && nnrti_cpu_is_global(step)))
        return nnrti_cpu_lower_reduce_q8(e, s);
    if (nnrti_cpu_is_q8_step(step, "nnrt_activation_q8") && nnrti_cpu_is_allowed(e, &e->isa->table_q8)) {
        const nnrt_view table = step->args[1].view;
        nnrti_cpu_sort_axes(step);
        step->args[1].view = table;
        nnrti_cpu_set_kernel(step, &e->isa->table_q8, NULL);
    }
    if (nnrti_cpu_is_quantize(step, false))
        return nnrti_cpu_lower_quantize(e, s);
    if (nnrti_cpu_is_quantize(step, true) && nnrti_cpu_is_allowed(e, &e->isa->dequantize)) {
        step->flags = 0;
        nnrti_cpu_sort_axes(step);
        nnrti_cpu_set_kernel(step, &e->isa->dequantize, NULL);
    }
    if ((nnrti_cpu_is_cast_q16(step, false) || nnrti_cpu_is_cast_q16(step, true)) && nnrti_cpu_is_allowed(e, &e->isa->cast_q16)) {
        step->flags = 0;
        nnrti_cpu_sort_axes(step);
        nnrti_cpu_set_kernel(step, &e->isa->cast_q16, NULL);
    }
    return step->op != NULL && step->kernel != NULL ? nnrti_cpu_lower_tables(e, s) : NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tables */

/* Elementwise operators of 8 bits by tables of their results. The reference kernel fills the tables in PrepareModel, so their
   bits equal the reference device's, and a new operator needs one line: its kernel in nnrti_cpu_tables_of. A step of one
   tensor beside constants that vary along one axis at most has a table of 256 results for each index of that axis; one of two
   tensors a table of 65,536. Both are far cheaper than the fixed-point arithmetic of each element, and arithmetic in floats
   would not have its bits. */

#define NNRTI_CPU_TABLES_BYTES (1 << 20) /* most bytes of the tables of a step */
#define NNRTI_CPU_TABLES_RUNS 16         /* their entries are worth this many runs */

/* The tables of a step. */
typedef struct nnrti_cpu_tables {
    int32_t rows; /* tables of 256 results */
    int32_t axis; /* along which they differ; -1: there is one, or two operands are tensors */
    bool two;     /* tensors */
} nnrti_cpu_tables;

/* Whether the reference kernel of a step computes each 8-bit result from elements of the same place. Of a rule that needs values
   of the run, the derived constants are missing. */
static bool nnrti_cpu_is_elementwise_q8(const nnrt_draft_step *step)
{
    static const struct {
        const char *name;
        uint32_t nDerived;
    } kernels[] = {{"nnrt_add_n_q8", 1},         {"nnrt_bias_add_q8", 1},      {"nnrt_clip_q8", 1},
                   {"nnrt_div_fusion_q8", 1},    {"nnrt_eltwise_q8", 1},       {"nnrt_equal_q8", 1},
                   {"nnrt_floor_div_q8", 2},     {"nnrt_fused_batch_norm_q8", 0}, {"nnrt_greater_q8", 1},
                   {"nnrt_greater_equal_q8", 1}, {"nnrt_less_q8", 1},          {"nnrt_less_equal_q8", 1},
                   {"nnrt_maximum_q8", 1},       {"nnrt_minimum_q8", 1},       {"nnrt_not_equal_q8", 1},
                   {"nnrt_pow_fusion_q8", 0},    {"nnrt_prelu_fusion_q8", 1},  {"nnrt_prelu_fusion_q8_float", 1},
                   {"nnrt_quant_dtype_cast", 0}, {"nnrt_scale_fusion_q8", 1},  {"nnrt_squared_difference_q8", 1}};
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        if (strcmp(step->kernelName, kernels[i].name) == 0)
            return step->nDerived == kernels[i].nDerived;
    return false;
}

/* The axis of the result along which a constant operand varies: -1, none; -2, several. *size: of that axis; an upper bound of a
   dynamic result may be larger. */
static int32_t nnrti_cpu_varying_axis(const nnrt_draft_step *step, uint32_t k, int32_t *size)
{
    const nnrt_view *v = &step->args[k].view, *y = &step->args[step->nIn + step->nDerived].view;
    int32_t first = y->rank - v->rank, axis = -1;
    if (step->op->type == NNRT_NODE_TYPE_SCALE_FUSION)
        first = (int32_t)((const NNRT_ScaleFusion *)step->attr)->axis;
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dims[i] != 1) {
            axis = axis == -1 ? first + i : -2;
            *size = v->dims[i];
        }
    return axis;
}

/* The tables of a step; false: it has another form. */
static bool nnrti_cpu_tables_of(const nnrt_draft_step *step, nnrti_cpu_tables *t)
{
    const uint32_t out = step->nIn + step->nDerived;
    const nnrt_view *z = &step->args[out].view;
    t->rows = 1;
    t->axis = -1;
    t->two = false;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL || step->nOut != 1 || step->scratchBytes > 0 ||
        nnrt_type_size(z->dataType) != 1 || !nnrti_cpu_is_q8_view(&step->args[0].view) ||
        step->args[0].kind == NNRT_PLACE_CONSTANT || (z->dataType != NNRT_DATA_TYPE_BOOL && !nnrti_cpu_is_q8_view(z)) ||
        !nnrti_cpu_is_elementwise_q8(step))
        return false;
    for (uint32_t k = 1; k < step->nIn; k++) {
        const nnrt_plan_arg *arg = &step->args[k];
        int32_t size = 1, axis = -1;
        if (arg->tensor != NNRT_NO_TENSOR)
            axis = arg->kind == NNRT_PLACE_CONSTANT ? nnrti_cpu_varying_axis(step, k, &size) : -2;
        if (axis == -2 || (axis >= 0 && t->axis >= 0 && axis != t->axis)) {
            t->two = true;
        } else if (axis >= 0) {
            t->axis = axis;
            t->rows = size;
        }
    }
    if (t->two) {
        t->rows = 256;
        t->axis = -1;
        return step->nIn == 2 && step->args[1].tensor != NNRT_NO_TENSOR && nnrti_cpu_is_q8_view(&step->args[1].view) &&
               step->args[0].view.rank <= z->rank && step->args[1].view.rank <= z->rank;
    }
    return step->args[0].view.rank == z->rank && z->rank > (t->axis >= 0 ? 1 : 0) &&
           t->rows <= NNRTI_CPU_TABLES_BYTES / 256;
}

/* Fills the tables by the reference kernel `kernel` of step `old`. */
static NNRT_ReturnCode nnrti_cpu_fill_tables(const nnrt_draft_step *old, const nnrti_cpu_tables *t, uint8_t *table)
{
    const uint32_t out = old->nIn + old->nDerived;
    nnrt_view views[8];
    uint8_t bytes[256];
    nnrt_call call;
    const int32_t rank = t->two ? 2 : old->args[out].view.rank, across = t->two ? 0 : t->axis,
                  along = across == rank - 1 ? rank - 2 : rank - 1;
    memset(&call, 0, sizeof(call));
    call.nIn = old->nIn;
    call.nDerived = old->nDerived;
    call.nOut = 1;
    for (int32_t i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    for (uint32_t k = 0; k <= out; k++) {
        nnrt_view *const v = &views[k];
        *v = old->args[k].view;
        if (k > 0 && k < out && !(t->two && k == 1))
            continue;
        v->rank = rank;
        for (int32_t i = 0; i < rank; i++) {
            v->dims[i] = i == along ? 256 : i == across ? t->rows : 1;
            v->strides[i] = i == along ? 1 : i == across && k == out ? 256 : 0;
        }
        if (t->two && k == 1) { /* y selects the table */
            v->dims[along] = 1;
            v->strides[along] = 0;
            v->strides[across] = 1;
        } else if (t->two && k == 0) {
            v->dims[across] = 1;
        }
        v->data = k == out ? table : bytes;
    }
    return old->kernel(old->attr, views, &call);
}

/* An elementwise step of 8 bits gets tables, if it has enough elements. */
static NNRT_ReturnCode nnrti_cpu_lower_tables(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step old = d->steps[s];
    const uint32_t out = old.nIn + old.nDerived;
    const nnrt_view *z = &old.args[out].view;
    nnrti_cpu_tables t;
    const nnrti_cpu_kernel *kernel;
    nnrt_plan_arg *args;
    nnrt_view list;
    int32_t dims[2] = {0, 256};
    size_t count = 0;
    void *data;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_tables_of(&old, &t) || out >= 8 || !nnrt_dims_count(z->dims, z->rank, &count) || count == 0)
        return NNRT_SUCCESS;
    kernel = t.two || t.axis >= 0 ? &e->isa->tables_q8 : &e->isa->table_q8;
    if (!nnrti_cpu_is_allowed(e, kernel) || (e->packed == NULL && e->only[0] == '\0' &&
                                             count < 256 * (size_t)t.rows / NNRTI_CPU_TABLES_RUNS))
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < out && e->packed == NULL; k++) /* known only in a run, or missing in a model cache */
        if (k > (t.two ? 1u : 0u) && old.args[k].view.data == NULL &&
            (k >= old.nIn || old.args[k].tensor != NNRT_NO_TENSOR))
            return NNRT_SUCCESS;
    if ((args = nnrt_draft_args(d, s, t.two ? 2 : 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &old);
    args[0] = old.args[0];
    if (t.two)
        args[1] = old.args[1];
    args[t.two ? 2 : 1] = old.args[out];
    d->steps[s].flags = 0;
    dims[0] = t.rows;
    nnrti_cpu_set_kernel(&d->steps[s], kernel, NULL);
    if ((code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_UINT8, 2, dims, &data)) != NNRT_SUCCESS)
        return code;
    if (data != NULL && nnrti_cpu_fill_tables(&old, &t, (uint8_t *)data) != NNRT_SUCCESS) { /* each run reports why */
        d->steps[s] = old;
        return nnrt_draft_changed(d, s, NNRT_DRAFT_STEP) ? NNRT_SUCCESS : nnrti_cpu_no_memory(e, &old);
    }
    args = d->steps[s].args;
    for (uint32_t k = 0; k < (t.two ? 2u : 1u); k++)
        nnrti_cpu_add_axes(&args[k].view, z);
    list = args[t.two ? 2 : 1].view;
    if (t.axis >= 0) {
        args[1].view.rank = z->rank;
        for (int32_t i = 0; i < z->rank; i++) {
            args[1].view.dims[i] = i == t.axis ? t.rows : 1;
            args[1].view.strides[i] = i == t.axis ? 256 : 0;
        }
    }
    nnrti_cpu_sort_axes(&d->steps[s]);
    if (t.axis < 0)
        args[t.two ? 2 : 1].view = list;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>transposes */
/* Fusion of TRANSPOSE steps. A TRANSPOSE before or after a matrix multiplication of two runtime tensors, as
   attention layers have, moves no data: the multiplication reads or writes through a view with permuted strides. A
   TRANSPOSE that only permutes axes of size 1, or that stands between NHWC and a channels-last image, becomes an alias. A
   remaining TRANSPOSE that moves the last axis becomes a blocked copy. */

/* *turned: the input of a TRANSPOSE, viewed with the axes of its result; axes: the axis of x that each one is.
   false: the axes are not known, or x is a constant. */
static bool nnrti_cpu_turned_view(const nnrt_draft_step *step, nnrt_view *turned, int32_t *axes)
{
    const nnrt_view *x = &step->args[0].view, *order = &step->args[1].view;
    if (step->open != NULL || step->kernel == NULL || step->op == NULL ||
        strncmp(step->kernelName, "nnrt_transpose", 14) != 0 || step->args[0].tensor == NNRT_NO_TENSOR || step->args[0].kind == NNRT_PLACE_CONSTANT ||
        step->args[1].kind != NNRT_PLACE_CONSTANT || order->data == NULL || order->rank != 1 ||
        order->dims[0] != x->rank)
        return false;
    *turned = *x;
    for (int32_t k = 0; k < x->rank; k++) {
        const int64_t axis = nnrt_load_index(order, k * order->strides[0]);
        axes[k] = (int32_t)(axis < 0 ? axis + x->rank : axis);
        turned->dims[k] = x->dims[axes[k]];
        turned->strides[k] = x->strides[axes[k]];
    }
    return true;
}

/* The same of a TRANSPOSE that can be fused: elements keep their bytes. */
static bool nnrti_cpu_transposed_view(const nnrt_draft_step *step, nnrt_view *turned, int32_t *axes)
{
    return nnrti_cpu_turned_view(step, turned, axes) &&
           nnrti_cpu_same_quant(&step->args[0].view, &step->args[step->nIn + step->nDerived].view);
}

/* A TRANSPOSE of 8 bits to other parameters: the elements by a table of 256 results, which the reference kernel makes. */
static NNRT_ReturnCode nnrti_cpu_lower_transpose_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *const step = &e->draft->steps[s];
    const nnrt_draft_step old = *step;
    const uint32_t out = old.nIn + old.nDerived;
    const int32_t dims[2] = {1, 256};
    int32_t axes[NNRT_MAX_RANK], first = 0;
    nnrt_plan_arg *args, x = old.args[0];
    void *data;
    NNRT_ReturnCode code;
    if (out >= 8 || old.nDerived == 0 || !nnrti_cpu_turned_view(step, &x.view, axes) || !nnrti_cpu_is_q8_view(&x.view) ||
        !nnrti_cpu_is_q8_view(&old.args[out].view) || nnrt_view_empty(&x.view) || !nnrti_cpu_is_allowed(e, &e->isa->table_q8))
        return NNRT_SUCCESS;
    if ((args = nnrt_draft_args(e->draft, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &old);
    args[0] = x;
    args[1] = old.args[out];
    step->flags = 0;
    nnrti_cpu_sort_axes(step);
    nnrti_cpu_set_kernel(step, &e->isa->table_q8, NULL);
    if ((code = nnrti_cpu_tabulate(e, s, NNRT_DATA_TYPE_UINT8, 2, dims, &data)) != NNRT_SUCCESS || data == NULL)
        return code;
    {
        uint8_t bytes[256];
        nnrt_view views[8];
        nnrt_call call;
        memset(&call, 0, sizeof(call));
        call.nIn = old.nIn;
        call.nDerived = old.nDerived;
        call.nOut = 1;
        for (int32_t i = 0; i < 256; i++)
            bytes[i] = (uint8_t)i;
        for (uint32_t k = 0; k <= out; k++) {
            views[k] = old.args[k].view;
            if (k > 0 && k < out)
                continue;
            views[k].rank = 1;
            views[k].dims[0] = 256;
            views[k].strides[0] = 1;
            views[k].data = k == 0 ? (void *)bytes : data;
        }
        views[old.nIn].data = &first; /* the derived order of the axes */
        return old.kernel(old.attr, views, &call);
    }
}

/* Whether a step is a matrix multiplication of two runtime tensors that kernel `matmul` supports with these views. */
static bool nnrti_cpu_is_matmul(const nnrt_draft_step *step, const nnrt_view *x, const nnrt_view *y, const nnrt_view *z)
{
    if (step->open != NULL || step->kernel == NULL || step->op == NULL ||
        step->op->type != NNRT_NODE_TYPE_MATMUL_FUSION || x->dataType != NNRT_DATA_TYPE_FLOAT32 ||
        z->dataType != NNRT_DATA_TYPE_FLOAT32 || step->args[1].kind == NNRT_PLACE_CONSTANT || x->rank < 2 ||
        y->rank < 2)
        return false;
    {
        const int32_t k = x->rank - (((const NNRT_MatMulFusion *)step->attr)->transposeA ? 2 : 1);
        return x->strides[k] == 1 && x->dims[k] > 0 && z->strides[z->rank - 1] == 1;
    }
}

/* Removes a TRANSPOSE of which all readers are such multiplications: they read its input through the permuted view. */
static bool nnrti_cpu_fuse_transpose_into_readers(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    int32_t axes[NNRT_MAX_RANK];
    uint32_t found = 0, made;
    nnrt_draft_use use;
    nnrt_view turned;
    if (!nnrti_cpu_transposed_view(step, &turned, axes))
        return false;
    made = step->args[step->nIn + step->nDerived].tensor;
    for (use = nnrt_draft_uses(d, made); nnrt_draft_next(d, &use); found++) {
        const nnrt_draft_step *reader = &d->steps[use.step];
        const nnrt_plan_arg *args = reader->args;
        const uint32_t k = use.argument;
        if (k > 1 || reader->nIn < 2 || !nnrti_cpu_same_dims(&args[k].view, &turned) ||
            !nnrti_cpu_is_matmul(reader, k == 0 ? &turned : &args[0].view, k == 1 ? &turned : &args[1].view,
                                 &args[reader->nIn + reader->nDerived].view))
            return false;
    }
    if (found == 0 || found != nnrt_draft_readers(d, made)) /* or it is a model output */
        return false;
    while (use = nnrt_draft_uses(d, made), nnrt_draft_next(d, &use)) {
        d->steps[use.step].args[use.argument] = step->args[0];
        d->steps[use.step].args[use.argument].view = turned;
        (void)nnrt_draft_changed(d, use.step, use.argument);
    }
    d->steps[s].kernel = NULL;
    return true;
}

/* Removes a TRANSPOSE of the result of such a multiplication, if nothing else reads that: the multiplication writes
   the transposed tensor. */
static bool nnrti_cpu_fuse_transpose_into_writer(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const nnrt_plan_arg *to;
    uint32_t from;
    int32_t axes[NNRT_MAX_RANK];
    nnrt_draft_step *product;
    nnrt_plan_arg *z;
    nnrt_view turned;
    if (!nnrti_cpu_transposed_view(step, &turned, axes))
        return false;
    to = &step->args[step->nIn + step->nDerived];
    from = nnrt_draft_writer(d, step->args[0].tensor);
    if (from == UINT32_MAX || nnrt_draft_reader(d, step->args[0].tensor) == UINT32_MAX)
        return false;
    product = &d->steps[from];
    z = &product->args[product->nIn + product->nDerived];
    if (product->nIn < 2 || z->tensor != step->args[0].tensor || !nnrti_cpu_same_dims(&z->view, &step->args[0].view))
        return false;
    turned = z->view;
    for (int32_t k = 0; k < turned.rank; k++)
        turned.strides[axes[k]] = to->view.strides[k];
    if (!nnrti_cpu_is_matmul(product, &product->args[0].view, &product->args[1].view, &turned))
        return false;
    z->tensor = to->tensor;
    z->kind = to->kind;
    z->view = turned;
    (void)nnrt_draft_changed(d, from, product->nIn + product->nDerived);
    step->kernel = NULL;
    return true;
}

/* A TRANSPOSE that keeps the order of all axes except those of size 1 moves no element: it becomes a reshape (an
   alias). */
static bool nnrti_cpu_transpose_to_reshape(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    int32_t axes[NNRT_MAX_RANK];
    nnrt_view turned;
    if (!nnrti_cpu_transposed_view(step, &turned, axes))
        return false;
    for (int32_t k = 0, last = -1; k < turned.rank; k++) {
        if (turned.dims[k] == 1)
            continue;
        if (axes[k] < last)
            return false;
        last = axes[k];
    }
    step->flags |= NNRT_OP_ALIAS;
    return true;
}

/* A TRANSPOSE becomes a copy [N,H,W,C] by blocked transposes: C is the last axis of the result, W the dense axis of
   x; the other axes must collapse into at most two. If each axis has the same stride in x and in the result, because one
   of them is channels last, no element moves: it becomes an alias. */
static NNRT_ReturnCode nnrti_cpu_lower_transpose(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg x = step->args[0], y = step->args[step->nIn + step->nDerived], *args;
    const nnrt_view result = y.view;
    int32_t axes[NNRT_MAX_RANK];
    bool put[4] = {false, false, false, false}, same = true;
    nnrt_view turned;
    ptrdiff_t reach = 1;
    size_t count;
    if (!nnrti_cpu_same_quant(&x.view, &result))
        return nnrti_cpu_lower_transpose_q8(e, s);
    if (e->only[0] != '\0' || !nnrti_cpu_transposed_view(step, &turned, axes) ||
        !nnrt_dims_count(turned.dims, turned.rank, &count) || count == 0 || count > INT32_MAX)
        return NNRT_SUCCESS;
    x.view.rank = y.view.rank = 4;
    for (int32_t k = 0; k < 4; k++) {
        x.view.dims[k] = y.view.dims[k] = 1;
        x.view.strides[k] = y.view.strides[k] = 0;
    }
    for (int32_t k = turned.rank - 1; k >= 0; k--) { /* from the last axis of the result on */
        const ptrdiff_t from = turned.strides[k], to = result.strides[k];
        int32_t i = !put[3] ? 3 : from == 1 && !put[2] ? 2 : 1;
        if (turned.dims[k] == 1)
            continue;
        if (i == 1 && put[1]) {
            if (from == x.view.strides[1] * x.view.dims[1] && to == y.view.strides[1] * y.view.dims[1] && !put[0]) {
                x.view.dims[1] = y.view.dims[1] = x.view.dims[1] * turned.dims[k]; /* it extends that axis */
                continue;
            }
            i = 0;
        }
        if (put[i])
            return NNRT_SUCCESS;
        put[i] = true;
        x.view.dims[i] = y.view.dims[i] = turned.dims[k];
        x.view.strides[i] = from;
        y.view.strides[i] = to;
    }
    for (int32_t k = 0; k < turned.rank; k++) {
        same = same && (turned.dims[k] == 1 || turned.strides[k] == result.strides[k]);
        reach += (turned.dims[k] - 1) * turned.strides[k];
    }
    same = same && reach == (ptrdiff_t)count; /* not slices of larger tensors */
    if (!same && (!put[2] || y.view.strides[3] != 1))
        return NNRT_SUCCESS;
    if ((args = nnrt_draft_args(e->draft, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    for (int32_t k = 0; k < 4 && same; k++) {
        x.view.dims[k] = y.view.dims[k] = k == 3 ? (int32_t)count : 1;
        x.view.strides[k] = y.view.strides[k] = k == 3 ? 1 : (ptrdiff_t)count;
    }
    args[0] = x;
    args[1] = y;
    nnrti_cpu_set_kernel(step, &nnrti_cpu_copy_kernel, NULL);
    step->flags = same ? NNRT_OP_ALIAS : 0;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>recurrent */

/* Recurrent networks. The products of the weights with x do not depend on the state, so one GEMM computes them for
   many time steps at once; the products with h follow step by step (>>rnn_cells). All recurrent operators are brought to
   one form: 1 to 4 gates, weights packed per block of `lanes` cells with all gates adjacent, so that one pass over h
   yields all gates of a block in registers, and the cell update follows without storing gates to memory. */

/* The operands of a recurrent operator, in the form of LSTM_PEEPHOLE. An absent tensor is NNRT_NO_TENSOR. */
typedef struct nnrti_cpu_recurrent_operands {
    nnrt_plan_arg x, w, r, b, lens, h, c, p, y, yH, yC;
} nnrti_cpu_recurrent_operands;

static bool nnrti_cpu_is_recurrent(const nnrt_draft_step *step)
{
    const NNRT_NodeType type = step->op->type;
    return type == NNRT_NODE_TYPE_LSTM || type == NNRT_NODE_TYPE_LSTM_PEEPHOLE || type == NNRT_NODE_TYPE_GRU ||
           type == NNRT_NODE_TYPE_RNN;
}

/* Swaps axes i and i + 1 of a view. */
static void nnrti_cpu_swap_axes(nnrt_view *v, int32_t i)
{
    const int32_t dim = v->dims[i];
    const ptrdiff_t stride = v->strides[i];
    v->dims[i] = v->dims[i + 1];
    v->strides[i] = v->strides[i + 1];
    v->dims[i + 1] = dim;
    v->strides[i + 1] = stride;
}

/* Operands and attributes of LSTM, which has y [T,N,D*H]. false: the kernel does not support its attributes. */
static bool nnrti_cpu_read_lstm(const nnrt_draft_step *step, nnrti_cpu_recurrent_operands *o, nnrti_cpu_recurrent *a)
{
    const NNRT_LSTM *attr = (const NNRT_LSTM *)step->attr;
    nnrt_view *y = &o->y.view;
    o->c = step->args[5];
    o->h = step->args[4];
    if (!attr->hasBias)
        o->b.tensor = NNRT_NO_TENSOR;
    a->gates = 4;
    a->layers = (int32_t)attr->numLayers;
    a->directions = (int32_t)attr->numDirections;
    for (int32_t d = 0; d < 2; d++) {
        a->functions[d][0] = NNRT_ACTIVATION_TYPE_SIGMOID;
        a->functions[d][1] = a->functions[d][2] = NNRT_ACTIVATION_TYPE_TANH;
    }
    y->rank = 4;
    y->dims[3] = o->r.view.dims[2];
    y->strides[3] = y->strides[2];
    y->dims[2] = y->dims[1];
    y->strides[2] = y->strides[1];
    y->dims[1] = a->directions;
    y->strides[1] = y->dims[3] * y->strides[3];
    return attr->projSize == 0 && attr->zoneoutCell == 0 && attr->zoneoutHidden == 0;
}

/* The same of LSTM_PEEPHOLE, GRU and RNN, which have y [T,D,N,H], or with layout 1 [N,T,D,H], and x and states
   likewise. false: an activation has parameters of its own. */
static bool nnrti_cpu_read_recurrent_cells(const nnrt_draft_step *step, int32_t gates, int32_t functions, float clip,
                                           const NNRT_Int64List *activations, const NNRT_FloatList *alpha,
                                           NNRT_RecurrentDirection direction, bool batchFirst,
                                           nnrti_cpu_recurrent_operands *o, nnrti_cpu_recurrent *a)
{
    o->lens = step->args[4];
    o->h = step->args[5];
    a->gates = gates;
    a->layers = 1;
    a->directions = direction == NNRT_RECURRENT_DIRECTION_BIDIRECTIONAL ? 2 : 1;
    a->backward = direction == NNRT_RECURRENT_DIRECTION_REVERSE;
    a->clip = clip;
    for (int32_t i = 0; i < functions * a->directions; i++)
        a->functions[i / functions][i % functions] = (NNRT_ActivationType)activations->data[i];
    for (int32_t i = 0; i < functions * a->directions; i++)
        switch (activations->data[i]) {
        case NNRT_ACTIVATION_TYPE_RELU:
        case NNRT_ACTIVATION_TYPE_SIGMOID:
        case NNRT_ACTIVATION_TYPE_SOFTSIGN:
        case NNRT_ACTIVATION_TYPE_SOFTPLUS: break;
        case NNRT_ACTIVATION_TYPE_TANH:
            if (alpha->count > 0 && alpha->data[i] != 0)
                return false;
            break;
        default: return false;
        }
    if (!batchFirst)
        return true;
    nnrti_cpu_swap_axes(&o->x.view, 0);
    nnrti_cpu_swap_axes(&o->y.view, 0);
    nnrti_cpu_swap_axes(&o->y.view, 1);
    nnrti_cpu_swap_axes(&o->h.view, 0);
    nnrti_cpu_swap_axes(&o->c.view, 0);
    nnrti_cpu_swap_axes(&o->yH.view, 0);
    nnrti_cpu_swap_axes(&o->yC.view, 0);
    return true;
}

/* Operands and attributes of a recurrent operator; false: it keeps the reference kernel. */
static bool nnrti_cpu_read_recurrent(const nnrt_draft_step *step, nnrti_cpu_recurrent_operands *o,
                                     nnrti_cpu_recurrent *a)
{
    const nnrt_plan_arg *out = step->args + step->nIn + step->nDerived;
    memset(o, 0, sizeof(*o));
    memset(a, 0, sizeof(*a));
    o->x = step->args[0];
    o->w = step->args[1];
    o->r = step->args[2];
    o->b = step->args[3];
    o->lens.tensor = o->h.tensor = o->c.tensor = o->p.tensor = o->yC.tensor = NNRT_NO_TENSOR;
    o->y = out[0];
    o->yH = out[1];
    if (step->nOut > 2)
        o->yC = out[2];
    switch (step->op->type) {
    case NNRT_NODE_TYPE_LSTM: return nnrti_cpu_read_lstm(step, o, a);
    case NNRT_NODE_TYPE_GRU: {
        const NNRT_GRU *attr = (const NNRT_GRU *)step->attr;
        a->apart = attr->linearBeforeReset == 0;
        return nnrti_cpu_read_recurrent_cells(step, 3, 2, attr->clip, &attr->activations, &attr->activationAlpha,
                                              attr->direction, attr->layout != 0, o, a);
    }
    case NNRT_NODE_TYPE_RNN: {
        const NNRT_RNN *attr = (const NNRT_RNN *)step->attr;
        return nnrti_cpu_read_recurrent_cells(step, 1, 1, attr->clip, &attr->activations, &attr->activationAlpha,
                                              attr->direction, attr->layout != 0, o, a);
    }
    default: {
        const NNRT_LSTMPeephole *attr = (const NNRT_LSTMPeephole *)step->attr;
        o->c = step->args[6];
        o->p = step->args[7];
        a->inputForget = attr->inputForget != 0;
        a->peephole = o->p.tensor != NNRT_NO_TENSOR;
        return nnrti_cpu_read_recurrent_cells(step, 4, 3, attr->clip, &attr->activations, &attr->activationAlpha,
                                              attr->direction, attr->layout != 0, o, a);
    }
    }
}

/* Whether an operand is absent, or a constant of float32 or float16 if a constant is required, else float32 and dense in its
   last axis. */
static bool nnrti_cpu_fits_recurrent(const nnrt_plan_arg *arg, bool constant)
{
    const nnrt_view *v = &arg->view;
    if (arg->tensor == NNRT_NO_TENSOR)
        return true;
    if (constant)
        return arg->kind == NNRT_PLACE_CONSTANT &&
               (v->dataType == NNRT_DATA_TYPE_FLOAT32 || v->dataType == NNRT_DATA_TYPE_FLOAT16);
    return v->dataType == NNRT_DATA_TYPE_FLOAT32 && (v->strides[v->rank - 1] == 1 || v->dims[v->rank - 1] == 1);
}

/* Sizes, and the work per iteration. false: there is nothing to do, or it exceeds the kernel's limits. */
static bool nnrti_cpu_size_recurrent(const nnrti_cpu_edit *e, const nnrti_cpu_recurrent_operands *o,
                                     nnrti_cpu_recurrent *a)
{
    const int32_t T = o->x.view.dims[0], N = o->x.view.dims[1], I = o->x.view.dims[2], H = o->r.view.dims[2];
    const int64_t rows = (int64_t)a->layers * a->directions, lanes = e->isa->lanes;
    const int64_t padded = nnrti_cpu_div_up(H, lanes) * lanes, workers = e->draft->workers;
    const int64_t each = nnrti_cpu_div_up((int64_t)N * a->directions, workers > 0 ? workers : 1);
    if (T < 1 || N < 1 || I < 1 || H < 1 || I > 1 << 24 || padded > 1 << 24 || rows * a->gates * padded > INT32_MAX ||
        (a->layers > 1 && (double)T * N * a->directions * H > INT32_MAX / 2))
        return false;
    a->cells = H;
    a->padded = (int32_t)padded;
    /* Four sums of 16 lanes already need more than the bandwidth of the L2 cache, and with one block at a time more
       of a panel stays in the L1 cache. Weights of float16 are bound by their conversion, and from 8 MB on by memory, which
       two streams read faster. */
    a->narrow = a->gates == 4 && (a->gemm.type != NNRTI_CPU_F32 ? padded * H <= 1 << 20 : lanes == 16 && padded * H > 4096);
    a->sequences = N < 16 ? N : 16;
    if (o->lens.tensor != NNRT_NO_TENSOR || each < 1)
        a->sequences = 1;
    else if (each < a->sequences)
        a->sequences = (int32_t)each;
    a->ahead = a->narrow && a->gemm.type == NNRTI_CPU_F32 && a->sequences == 1 && (workers < 2 || a->directions * N > 1) &&
               !e->smallest;
    a->steps = a->ahead ? 2 * NNRTI_CPU_AHEAD : (e->smallest ? 16 : 64) / a->sequences;
    a->steps = a->steps < T ? a->steps : T;
    a->plain = a->gates == 4 && a->clip == 0 && !a->peephole && !a->inputForget;
    for (int32_t d = 0; d < a->directions; d++)
        a->plain = a->plain && a->functions[d][0] == NNRT_ACTIVATION_TYPE_SIGMOID &&
                   a->functions[d][1] == NNRT_ACTIVATION_TYPE_TANH && a->functions[d][2] == NNRT_ACTIVATION_TYPE_TANH;
    for (int32_t i = 0; i < 2; i++)
        a->gemm.conv.window[i] = a->gemm.conv.stride[i] = a->gemm.conv.dilation[i] = 1;
    a->gemm.conv.activation = a->gemm.sum = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    a->gemm.rows = a->steps * a->sequences;
    a->gemm.parts = 1;
    if (a->directions * nnrti_cpu_div_up(N, a->sequences) == 1)
        a->gemm.parts =
            nnrti_cpu_panel_parts((double)a->gemm.rows * a->gates * (double)padded * I,
                                  (int32_t)nnrti_cpu_div_up(a->gates * padded, e->isa->panel), e->draft->workers);
    return true;
}

/* Element k of block `block` of a bias; 0 without a bias. */
static float nnrti_cpu_cell_bias(const nnrti_cpu_recurrent_operands *o, int32_t row, int32_t block, int32_t k)
{
    const nnrt_view *b = &o->b.view;
    return o->b.tensor == NNRT_NO_TENSOR
               ? 0.0f
               : nnrti_cpu_weight(b, row * b->strides[0] + (block * o->r.view.dims[2] + k) * b->strides[1]);
}

/* The first packed constant (weights of x), for one direction of a layer; returns the end of it. */
static uint8_t *nnrti_cpu_pack_input(const nnrti_cpu_isa *isa, const nnrti_cpu_recurrent *a,
                                     const nnrti_cpu_recurrent_operands *o, int32_t row, uint8_t *to)
{
    const nnrt_view *w = &o->w.view;
    const int32_t C = a->gates * a->padded, I = w->dims[2], L = isa->lanes, H = a->cells, type = a->gemm.type;
    for (int32_t c = 0; c < C; c += isa->panel) {
        const int32_t width = C - c <= L ? L : isa->panel;
        float scale[NNRTI_CPU_MAX_PANEL];
        for (int32_t k = -1; k < I; k++) { /* -1: the bias */
            float run[NNRTI_CPU_MAX_PANEL];
            for (int32_t t = c; t < c + width; t++) {
                const int32_t gate = t / L % a->gates, cell = t / L / a->gates * L + t % L;
                const bool own = a->gates == 3 && gate == 2 && !a->apart; /* the bias of h stays apart from that of x */
                const ptrdiff_t at = row * w->strides[0] + (gate * H + cell) * w->strides[1];
                float v = 0;
                if (type == NNRTI_CPU_I8 && k < 0)
                    scale[t - c] = nnrti_cpu_weight_scale(w, at, w->strides[2], cell < H ? I : 0);
                if (cell < H && k >= 0)
                    v = nnrti_cpu_weight(w, at + k * w->strides[2]);
                else if (cell < H)
                    v = nnrti_cpu_cell_bias(o, row, gate, cell) +
                        (own ? 0.0f : nnrti_cpu_cell_bias(o, row, a->gates + gate, cell));
                run[t - c] = v;
            }
            to = nnrti_cpu_pack_run(isa, k < 0 ? NNRTI_CPU_F32 : type, run, width, scale, width, to);
            if (type == NNRTI_CPU_I8 && k < 0)
                to = nnrti_cpu_pack_run(isa, NNRTI_CPU_F32, scale, width, NULL, width, to);
        }
    }
    return to;
}

/* The panels of gates `first` to end - 1 of the second packed constant (weights of h); returns the end of them. */
static uint8_t *nnrti_cpu_pack_state(const nnrti_cpu_isa *isa, const nnrti_cpu_recurrent *a,
                                     const nnrti_cpu_recurrent_operands *o, int32_t row, int32_t first, int32_t end,
                                     uint8_t *to)
{
    const nnrt_view *r = &o->r.view;
    const int32_t L = isa->lanes, H = a->cells;
    float scale[4 * NNRTI_CPU_MAX_PANEL];
    for (int32_t from = 0; from < a->padded; from += L)
        for (int32_t k = a->gemm.type == NNRTI_CPU_I8 ? -1 : 0; k < H; k++) /* -1: the scales */
            for (int32_t gate = first; gate < end; gate++) {
                float run[NNRTI_CPU_MAX_PANEL], *const by = scale + (gate - first) * L;
                for (int32_t t = 0, cell = from; t < L; t++, cell++) {
                    const ptrdiff_t at = row * r->strides[0] + (gate * H + cell) * r->strides[1];
                    if (k < 0)
                        by[t] = nnrti_cpu_weight_scale(r, at, r->strides[2], cell < H ? H : 0);
                    else
                        run[t] = cell < H ? nnrti_cpu_weight(r, at + k * r->strides[2]) : 0.0f;
                }
                to = nnrti_cpu_pack_run(isa, k < 0 ? NNRTI_CPU_F32 : a->gemm.type, k < 0 ? by : run, L, by, L, to);
            }
    return to;
}

/* A row of the third packed constant: peepholes, or the bias of h of the last gate of a GRU. */
static void nnrti_cpu_pack_extra(const nnrti_cpu_recurrent *a, const nnrti_cpu_recurrent_operands *o, int32_t row,
                                 float *to)
{
    const nnrt_view *p = &o->p.view;
    for (int32_t i = 0; i < nnrti_cpu_recurrent_extra(a); i++)
        for (int32_t k = 0; k < a->padded; k++) {
            float v = 0;
            if (k < a->cells && a->peephole)
                v = nnrti_cpu_weight(p, row * p->strides[0] + (i * a->cells + k) * p->strides[1]);
            else if (k < a->cells)
                v = nnrti_cpu_cell_bias(o, row, 5, k);
            *to++ = v;
        }
}

/* The three packed constants of a step. All are packed, as a model cache has none of the constants of a packed step. */
static NNRT_ReturnCode nnrti_cpu_pack_recurrent(nnrti_cpu_edit *e, uint32_t s, const nnrti_cpu_recurrent_operands *o,
                                                const nnrti_cpu_recurrent *a)
{
    const int32_t rows = a->layers * a->directions, C = a->gates * a->padded,
                  extra = nnrti_cpu_recurrent_extra(a) * a->padded;
    const int32_t dims[3][2] = {{rows * C, nnrti_cpu_head(a->gemm.type) + o->w.view.dims[2]},
                                {rows * C, nnrti_cpu_state_depth(a)},
                                {rows, extra > 0 ? extra : 1}};
    uint8_t *parts[3];
    for (int32_t i = 0; i < 3; i++) {
        void *data;
        const NNRT_ReturnCode code =
            nnrti_cpu_pack(e, s, nnrti_cpu_packed_type(i < 2 ? a->gemm.type : NNRTI_CPU_F32), dims[i], &data);
        if (code != NNRT_SUCCESS)
            return code;
        parts[i] = (uint8_t *)data;
    }
    if (parts[0] == NULL || parts[1] == NULL || parts[2] == NULL)
        return NNRT_SUCCESS;
    if (extra == 0)
        memset(parts[2], 0, (size_t)rows * sizeof(float));
    for (int32_t row = 0; row < rows; row++) {
        parts[0] = nnrti_cpu_pack_input(e->isa, a, o, row, parts[0]);
        parts[1] = nnrti_cpu_pack_state(e->isa, a, o, row, 0, a->apart ? 2 : a->gates, parts[1]);
        if (a->apart)
            parts[1] = nnrti_cpu_pack_state(e->isa, a, o, row, 2, 3, parts[1]);
        nnrti_cpu_pack_extra(a, o, row, (float *)(void *)parts[2] + (size_t)row * (size_t)extra);
    }
    return NNRT_SUCCESS;
}

/* Floats of scratch of each worker for products and states. */
static size_t nnrti_cpu_recurrent_floats(const nnrti_cpu_recurrent *a)
{
    return (size_t)a->gemm.rows * (size_t)(a->gates * a->padded) * (a->ahead ? 2 : 1) +
           4 * (size_t)a->sequences * (size_t)a->padded;
}

/* Scratch for other numbers of sequences than o has, of which `rows` and `floats` of a step with dynamic shapes reserve the most. */
static void nnrti_cpu_most_recurrent(const nnrti_cpu_edit *e, const nnrti_cpu_recurrent_operands *o,
                                     const nnrti_cpu_recurrent *a, size_t *rows, size_t *floats)
{
    nnrti_cpu_recurrent_operands fewer = *o;
    for (int32_t n = 1; e->dynamic != NULL && e->packed == NULL && n <= 16 * (int32_t)e->draft->workers; n++) {
        nnrti_cpu_recurrent other = *a;
        fewer.x.view.dims[1] = n;
        if (n >= o->x.view.dims[1] || !nnrti_cpu_size_recurrent(e, &fewer, &other))
            break;
        if (nnrti_cpu_recurrent_floats(&other) > *floats)
            *floats = nnrti_cpu_recurrent_floats(&other);
        if ((size_t)other.gemm.rows > *rows)
            *rows = (size_t)other.gemm.rows;
    }
}

/* LSTM, LSTM_PEEPHOLE, GRU and RNN. */
static NNRT_ReturnCode nnrti_cpu_lower_recurrent(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrti_cpu_recurrent_operands o;
    nnrti_cpu_recurrent found, *a;
    nnrt_plan_arg *args;
    uint32_t between = NNRT_NO_TENSOR;
    NNRT_ReturnCode code;
    int32_t count;
    size_t rows, floats;
    if (!nnrti_cpu_is_allowed(e, &e->isa->recurrent) || !nnrti_cpu_read_recurrent(&d->steps[s], &o, &found) ||
        !nnrti_cpu_fits_recurrent(&o.x, false) || !nnrti_cpu_fits_recurrent(&o.h, false) ||
        !nnrti_cpu_fits_recurrent(&o.c, false) || !nnrti_cpu_fits_recurrent(&o.y, false) ||
        !nnrti_cpu_fits_recurrent(&o.yH, false) || !nnrti_cpu_fits_recurrent(&o.yC, false) ||
        !nnrti_cpu_fits_recurrent(&o.w, true) || !nnrti_cpu_fits_recurrent(&o.r, true) ||
        !nnrti_cpu_fits_recurrent(&o.b, true) || !nnrti_cpu_fits_recurrent(&o.p, true))
        return NNRT_SUCCESS;
    code = nnrti_cpu_recall_type(e, &o.w.view, &o.r.view, true, &found.gemm.type);
    if (code != NNRT_SUCCESS || !nnrti_cpu_size_recurrent(e, &o, &found))
        return code;
    a = (nnrti_cpu_recurrent *)nnrt_memory_keep(d->memory, sizeof(*a));
    count = found.layers > 1 ? 2 * o.x.view.dims[0] * o.x.view.dims[1] * found.directions * found.cells : 0;
    if (a == NULL ||
        (found.layers > 1 && (between = nnrt_draft_tensor(d, NNRT_DATA_TYPE_FLOAT32, 1, &count)) == NNRT_NO_TENSOR))
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    *a = found;
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->recurrent, a);
    d->steps[s].flags = 0;
    if ((args = nnrt_draft_args(d, s, 4, 4)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = o.x;
    if (o.h.tensor != NNRT_NO_TENSOR)
        args[1] = o.h;
    if (o.c.tensor != NNRT_NO_TENSOR)
        args[2] = o.c;
    if (o.lens.tensor != NNRT_NO_TENSOR)
        args[3] = o.lens;
    args[4] = o.y;
    args[5] = o.yH;
    if (o.yC.tensor != NNRT_NO_TENSOR)
        args[6] = o.yC;
    if (between != NNRT_NO_TENSOR) {
        args[7].tensor = between;
        nnrt_operand_view(NULL, &d->tensors[between], 0, &args[7].view);
    }
    a->floats = floats = nnrti_cpu_recurrent_floats(a);
    rows = (size_t)a->gemm.rows;
    nnrti_cpu_most_recurrent(e, &o, a, &rows, &floats);
    d->steps[s].scratchBytes = 3 * (rows + NNRTI_CPU_MAX_TILE_ROWS) * sizeof(void *);
    nnrti_cpu_reserve_panel(e, &d->steps[s], &a->gemm, o.w.view.dims[2]);
    d->steps[s].scratchBytes += floats * sizeof(float);
    return nnrti_cpu_pack_recurrent(e, s, &o, a);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>selections */

/* Operators that select elements rather than compute them (comparisons, WHERE, ARGMAX, TOPK, RESIZE by NEAREST) and
   must return the bits of the reference device; also RESIZE by LINEAR, LRN and Lp norms. RESIZE computes source
   indices and weights once, in PrepareModel, with the reference's function, so both devices interpolate alike. */

/* Whether a step compares elements of one type, and how; *turned: with operands swapped (GREATER is LESS of swapped
   operands). */
static bool nnrti_cpu_compare_of(const nnrt_draft_step *step, nnrti_cpu_compare *a, bool *turned)
{
    a->less = a->equal = a->none = 0;
    *turned = false;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL || step->nIn != 2 || step->nDerived != 0 ||
        step->args[0].view.dataType != step->args[1].view.dataType || step->args[0].view.quantCount != 0)
        return false;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_EQUAL: a->equal = -1; return true;
    case NNRT_NODE_TYPE_NOT_EQUAL: a->equal = a->none = -1; return true;
    case NNRT_NODE_TYPE_GREATER:
        *turned = true;
        a->less = -1;
        return true;
    case NNRT_NODE_TYPE_LESS: a->less = -1; return true;
    case NNRT_NODE_TYPE_GREATER_EQUAL:
        *turned = true;
        a->less = a->equal = -1;
        return true;
    case NNRT_NODE_TYPE_LESS_EQUAL: a->less = a->equal = -1; return true;
    default: return false;
    }
}

/* EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER and GREATER_EQUAL. Those of float16 are of float32 by now. */
static NNRT_ReturnCode nnrti_cpu_lower_compare(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_plan_arg x = step->args[0], y = step->args[1], z = step->args[2];
    const bool single = x.view.dataType == NNRT_DATA_TYPE_FLOAT32;
    const nnrti_cpu_kernel *const kernel = single ? &e->isa->compare : &e->isa->compare_any;
    nnrti_cpu_compare found, *a;
    nnrt_plan_arg *args;
    bool turned;
    if (!nnrti_cpu_is_allowed(e, kernel) || !nnrti_cpu_compare_of(step, &found, &turned) ||
        x.view.dataType == NNRT_DATA_TYPE_FLOAT16)
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_compare *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(e->draft, s, 2, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = found;
    args[0] = turned ? y : x;
    args[1] = turned ? x : y;
    args[2] = z;
    nnrti_cpu_set_kernel(step, kernel, a);
    step->flags = 0;
    for (uint32_t k = 0; k < 2; k++)
        nnrti_cpu_add_axes(&args[k].view, &z.view);
    nnrti_cpu_sort_axes(step);
    return NNRT_SUCCESS;
}

/* The step of static shape that writes `tensor`, if only one step reads that; else NULL. */
static const nnrt_draft_step *nnrti_cpu_sole_writer(const nnrti_cpu_edit *e, uint32_t tensor)
{
    const uint32_t from = nnrt_draft_writer(e->draft, tensor);
    if (from == UINT32_MAX || nnrt_draft_reader(e->draft, tensor) == UINT32_MAX || e->draft->steps[from].open != NULL ||
        e->draft->steps[from].op == NULL)
        return NULL;
    return &e->draft->steps[from];
}

/* Whether a step is WHERE or SELECT, z = c ? x : y. */
static bool nnrti_cpu_is_where(const nnrt_draft_step *step)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && step->nIn == 3 && step->nDerived == 0 &&
           (step->op->type == NNRT_NODE_TYPE_WHERE || step->op->type == NNRT_NODE_TYPE_SELECT);
}

/* Fuses WHERE(a == a, MAXIMUM(a, b), a) to one step: the form of ONNX's Max, which propagates a NaN of a. The same
   for MINIMUM. */
static bool nnrti_cpu_fuse_max_min(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const nnrt_draft_step *same, *most;
    nnrt_plan_arg x, y, z, *args;
    nnrti_cpu_compare how;
    nnrti_cpu_elementwise *a;
    bool turned;
    if (!nnrti_cpu_is_where(step) || !nnrti_cpu_is_allowed(e, &e->isa->binary))
        return false;
    z = step->args[3];
    same = nnrti_cpu_sole_writer(e, step->args[0].tensor);
    most = nnrti_cpu_sole_writer(e, step->args[1].tensor);
    if (same == NULL || most == NULL || !nnrti_cpu_compare_of(same, &how, &turned) || how.equal == 0 || how.less != 0 ||
        how.none != 0 || most->nIn != 2 || most->nDerived != 0 || most->kernel == NULL ||
        (most->op->type != NNRT_NODE_TYPE_MAXIMUM && most->op->type != NNRT_NODE_TYPE_MINIMUM))
        return false;
    x = most->args[0];
    y = most->args[1];
    if (x.tensor == NNRT_NO_TENSOR || same->args[0].tensor != x.tensor || same->args[1].tensor != x.tensor ||
        step->args[2].tensor != x.tensor || x.view.dataType != NNRT_DATA_TYPE_FLOAT32 ||
        y.view.dataType != NNRT_DATA_TYPE_FLOAT32 || !nnrti_cpu_same_dims(&most->args[2].view, &z.view) ||
        !nnrti_cpu_same_dims(&step->args[2].view, &x.view) || !nnrti_cpu_same_dims(&same->args[0].view, &x.view) ||
        memcmp(step->args[2].view.strides, x.view.strides, sizeof(x.view.strides)) != 0)
        return false;
    if ((a = (nnrti_cpu_elementwise *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(d, s, 2, 1)) == NULL)
        return false;
    a->function = most->op->type == NNRT_NODE_TYPE_MAXIMUM ? NNRTI_CPU_MAX_NAN : NNRTI_CPU_MIN_NAN;
    a->activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    a->a = a->b = 0;
    args[0] = x;
    args[1] = y;
    args[2] = z;
    nnrti_cpu_set_kernel(step, &e->isa->binary, a);
    step->flags = most->flags;
    ((nnrt_draft_step *)(uintptr_t)same)->kernel = ((nnrt_draft_step *)(uintptr_t)most)->kernel = NULL;
    for (uint32_t k = 0; k < 2; k++)
        nnrti_cpu_add_axes(&args[k].view, &z.view);
    nnrti_cpu_sort_axes(step);
    return true;
}

/* Whether a view has a single element. */
static bool nnrti_cpu_is_single_element(const nnrt_view *v)
{
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dims[i] != 1)
            return false;
    return true;
}

/* WHERE of 32-bit elements. x and y may each be a single element; those that are not must have the same shape and
   strides, broadcast to z. */
static NNRT_ReturnCode nnrti_cpu_lower_where(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg *const args = step->args;
    const nnrt_view *z = &args[3].view;
    nnrti_cpu_where *a;
    bool one[2];
    if (!nnrti_cpu_is_where(step) || !nnrti_cpu_is_allowed(e, &e->isa->where) || nnrt_type_size(z->dataType) != 4 ||
        z->quantCount != 0)
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < 2; k++)
        one[k] = nnrti_cpu_is_single_element(&args[1 + k].view);
    for (uint32_t k = 0; k < 3; k++)
        nnrti_cpu_add_axes(&args[k].view, z);
    if (!one[0] && !one[1] &&
        (!nnrti_cpu_same_dims(&args[1].view, &args[2].view) ||
         memcmp(args[1].view.strides, args[2].view.strides, (size_t)z->rank * sizeof(z->strides[0])) != 0))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_where *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->one[0] = one[0];
    a->one[1] = one[1];
    nnrti_cpu_set_kernel(step, &e->isa->where, a);
    nnrti_cpu_sort_axes(step);
    return NNRT_SUCCESS;
}

/* ARGMAX_FUSION and ARGMIN_FUSION of one position per line. */
static NNRT_ReturnCode nnrti_cpu_lower_argminmax(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool largest = step->op->type == NNRT_NODE_TYPE_ARGMAX_FUSION;
    const NNRT_ArgMaxFusion *most = (const NNRT_ArgMaxFusion *)step->attr;
    const NNRT_ArgMinFusion *least = (const NNRT_ArgMinFusion *)step->attr;
    const nnrt_plan_arg x = step->args[0], y = step->args[step->nIn + step->nDerived];
    nnrti_cpu_argminmax *a;
    nnrt_plan_arg *args;
    const nnrti_cpu_kernel *const kernel =
        x.view.dataType < NNRT_DATA_TYPE_FLOAT16 ? &e->isa->argminmax_any : &e->isa->argminmax;
    if (!nnrti_cpu_is_allowed(e, kernel) || step->kernel == NULL || step->nIn != 1 || step->nDerived != 0 ||
        x.view.quantCount != 0 || x.view.dataType > NNRT_DATA_TYPE_FLOAT32 ||
        x.view.dataType == NNRT_DATA_TYPE_FLOAT16 || nnrt_view_empty(&x.view) ||
        (step->nOut > 1 && step->args[2].tensor != NNRT_NO_TENSOR) || (largest ? most->topK : least->topK) != 1 ||
        (largest ? most->outMaxValue : least->outMaxValue))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_argminmax *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(e->draft, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->axis = (int32_t)(largest ? most->axis : least->axis);
    a->turn = largest ? 0 : -1;
    args[0] = x;
    args[1] = y;
    nnrti_cpu_set_kernel(step, kernel, a);
    return NNRT_SUCCESS;
}

/* TOPK_FUSION and BOTTOM_K in sorted order. */
static NNRT_ReturnCode nnrti_cpu_lower_topk(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_TopKFusion *attr = (const NNRT_TopKFusion *)step->attr;
    const uint32_t out = step->nIn + step->nDerived;
    const bool places = step->nOut > 1 && step->args[out + 1].tensor != NNRT_NO_TENSOR;
    const nnrt_plan_arg x = step->args[0], y = step->args[out], at = step->args[places ? out + 1 : out];
    const size_t bytes = nnrti_cpu_best_bytes(y.view.dims[attr->axis]);
    nnrti_cpu_topk *a;
    nnrt_plan_arg *args;
    if (!nnrti_cpu_is_allowed(e, &e->isa->topk) || step->kernel == NULL || step->nDerived != 0 || !attr->sorted ||
        x.view.quantCount != 0 || y.tensor == NNRT_NO_TENSOR || nnrt_view_empty(&y.view) ||
        y.view.dims[attr->axis] > NNRTI_CPU_MAX_SORTED)
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_topk *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(e->draft, s, 1, places ? 2 : 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->axis = (int32_t)attr->axis;
    a->rising = step->op->type == NNRT_NODE_TYPE_BOTTOM_K;
    a->places = places;
    args[0] = x;
    args[1] = y;
    if (places)
        args[2] = at;
    nnrti_cpu_set_kernel(step, &e->isa->topk, a);
    step->flags = 0;
    step->scratchBytes = bytes;
    return NNRT_SUCCESS;
}

/* Whether a step that moves elements of x requantizes none of them, in no run: the rule of a step with dynamic shapes may choose
   its kernel only then. */
static bool nnrti_cpu_keeps_quant(const nnrt_draft_step *step)
{
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view;
    return step->open == NULL || nnrti_cpu_same_quant(x, y);
}

/* Whether the operands of a ROTARY_EMBEDDING are float32. */
static bool nnrti_cpu_rotates_floats(const nnrt_draft_step *step)
{
    for (uint32_t k = 0; k < 3; k++)
        if (!nnrti_cpu_is_type(step, k, NNRT_DATA_TYPE_FLOAT32))
            return false;
    return true;
}

/* Whether a step is a PAD_FUSION with a constant, which requantizes nothing. */
static bool nnrti_cpu_pads_constant(const nnrt_draft_step *step)
{
    const bool same = step->open == NULL || step->args[0].view.quantCount == 0;
    return same && strcmp(step->kernelName, "nnrt_pad_fusion") == 0 && step->nDerived == 1 &&
           ((const NNRT_PadFusion *)step->attr)->paddingMode == NNRT_PADDING_MODE_CONSTANT;
}

/* Whether a step is a RESIZE_ND that only moves elements. */
static bool nnrti_cpu_moves_nearest(const nnrt_draft_step *step)
{
    const NNRT_ResizeND *attr = (const NNRT_ResizeND *)step->attr;
    return step->op->type == NNRT_NODE_TYPE_RESIZE_ND && attr->mode == NNRT_RESIZE_METHOD_NEAREST &&
           attr->coordinateTransformationMode != NNRT_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
}

/* The scratch of a RESIZE_ND; false: it is too large, or offsets exceed 32 bits. */
static bool nnrti_cpu_resize_nd_fits(const nnrt_draft_step *step, size_t *scratch)
{
    const uint32_t out = step->nIn + step->nDerived;
    size_t tables;
    if (step->args[0].view.rank == 0 || !nnrti_cpu_is_eligible_arg(&step->args[0], false) ||
        !nnrti_cpu_is_eligible_arg(&step->args[out], false))
        return false;
    *scratch = nnrti_cpu_resize_nd_bytes((const NNRT_ResizeND *)step->attr, &step->args[0].view, &step->args[out].view,
                                         &tables);
    return *scratch <= NNRTI_CPU_RESIZE_BYTES;
}

/* Whether a step is a matrix multiplication of 8 bits that `matmul_q8` computes: with one scale for all columns. */
static bool nnrti_cpu_is_matmul_q8(const nnrt_draft_step *step)
{
    const nnrt_view *x = &step->args[0].view, *y = &step->args[1].view;
    return strcmp(step->kernelName, "nnrt_matmul_fusion_q8") == 0 && step->nIn == 3 && step->nDerived == 1 &&
           x->rank >= 2 && y->rank >= 2 && y->quantCount == 1;
}

/* Its scratch. */
static size_t nnrti_cpu_matmul_q8_bytes(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    const nnrt_view *x = &step->args[0].view;
    const int32_t K = x->dims[x->rank - 1 - ((const NNRT_MatMulFusion *)step->attr)->transposeA];
    return nnrti_cpu_matmul_q8_room_of(&e->isa->q8, K).total;
}

/* Steps whose kernel of this device has the arguments and attributes of the reference kernel, so it replaces that also in
   steps with dynamic shapes, without being lowered. */
static const nnrti_cpu_kernel *nnrti_cpu_exchange_of(const nnrti_cpu_edit *e, const nnrt_draft_step *step, size_t *scratch)
{
    const nnrt_view *x;
    NNRT_ReduceMode mode;
    int32_t L;
    *scratch = 0;
    if (step->op == NULL || step->kernel == NULL || step->kernelName == NULL || step->nIn == 0)
        return NULL;
    x = &step->args[0].view;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_NON_ZERO: return &e->isa->non_zero;
    case NNRT_NODE_TYPE_UNIQUE:
        L = x->dims[((const NNRT_Unique *)step->attr)->axis.data[0]];
        *scratch = nnrti_cpu_unique_bytes(L);
        return L <= NNRTI_CPU_MAX_SORTED ? &e->isa->unique : NULL;
    case NNRT_NODE_TYPE_GATHER_ELEMENTS:
        return strcmp(step->kernelName, "nnrt_gather_elements") == 0 && nnrti_cpu_keeps_quant(step) ? &e->isa->gather_elements
                                                                                                    : NULL;
    case NNRT_NODE_TYPE_GATHER:
        return strcmp(step->kernelName, "nnrt_gather") == 0 && nnrti_cpu_keeps_quant(step) ? &e->isa->gather : NULL;
    case NNRT_NODE_TYPE_GATHER_ND:
        return strcmp(step->kernelName, "nnrt_gather_nd") == 0 && nnrti_cpu_keeps_quant(step) ? &e->isa->gather_nd : NULL;
    case NNRT_NODE_TYPE_CUM_SUM: return strcmp(step->kernelName, "nnrt_cum_sum") == 0 ? &e->isa->cum_sum : NULL;
    case NNRT_NODE_TYPE_QUANTIZE_BLOCKS: return &e->isa->quantize_blocks;
    case NNRT_NODE_TYPE_SOFTMAX: return strcmp(step->kernelName, "nnrt_softmax_q8") == 0 ? &e->isa->softmax_q8 : NULL;
    case NNRT_NODE_TYPE_LOG_SOFTMAX:
        return strcmp(step->kernelName, "nnrt_log_softmax_q8") == 0 ? &e->isa->log_softmax_q8 : NULL;
    case NNRT_NODE_TYPE_LP_NORMALIZATION:
        return strcmp(step->kernelName, "nnrt_lp_normalization_q8") == 0 ? &e->isa->lp_norm_q8 : NULL;
    case NNRT_NODE_TYPE_L2_NORMALIZE_FUSION:
        return strncmp(step->kernelName, "nnrt_l2_normalize_fusion_q8", 27) == 0 ? &e->isa->l2_norm_q8 : NULL;
    case NNRT_NODE_TYPE_LAYER_NORM_FUSION:
        return strcmp(step->kernelName, "nnrt_layer_norm_fusion_q8") == 0 && step->nIn == 3 ? &e->isa->layer_norm_q8 : NULL;
    case NNRT_NODE_TYPE_ADD_N:
        return strcmp(step->kernelName, "nnrt_add_n_q8") == 0 && step->nIn > 2 && step->nIn <= NNRTI_CPU_ADD_N_INPUTS
                   ? &e->isa->add_n_q8
                   : NULL;
    case NNRT_NODE_TYPE_REDUCE_FUSION:
        mode = ((const NNRT_ReduceFusion *)step->attr)->mode;
        if (strcmp(step->kernelName, "nnrt_reduce_fusion") == 0 && step->nDerived == 1 &&
            x->dataType < NNRT_DATA_TYPE_FLOAT16 && mode != NNRT_REDUCE_MODE_L2)
            return &e->isa->reduce_any;
        return strcmp(step->kernelName, "nnrt_reduce_fusion_q8") == 0 && step->nDerived == 2 &&
                       (mode == NNRT_REDUCE_MODE_L2 || mode == NNRT_REDUCE_MODE_PROD || mode == NNRT_REDUCE_MODE_ALL)
                   ? &e->isa->reduce_lines_q8
                   : NULL;
    case NNRT_NODE_TYPE_MATMUL_FUSION:
        if (strcmp(step->kernelName, "nnrt_matmul_fusion_int") == 0)
            return &e->isa->matmul_int;
        if (step->nIn != 3 || step->args[1].kind == NNRT_PLACE_CONSTANT || !nnrti_cpu_is_matmul_q8(step))
            return NULL;
        *scratch = nnrti_cpu_matmul_q8_bytes(e, step);
        return &e->isa->matmul_q8;
    case NNRT_NODE_TYPE_ROTARY_EMBEDDING: /* of float16, it gets copies of float32: nnrti_cpu_lower_portable */
        return nnrti_cpu_rotates_floats(step) ? &e->isa->rotary : NULL;
    case NNRT_NODE_TYPE_ALL: return x->dataType < NNRT_DATA_TYPE_FLOAT16 ? &e->isa->all : NULL;
    case NNRT_NODE_TYPE_FILL:
    case NNRT_NODE_TYPE_BROADCAST_TO:
        return strcmp(step->kernelName, "nnrt_fill") == 0 && nnrti_cpu_keeps_quant(step) ? &e->isa->spread : NULL;
    case NNRT_NODE_TYPE_FILL_LIKE: return strcmp(step->kernelName, "nnrt_fill_like") == 0 ? &e->isa->fill : NULL;
    case NNRT_NODE_TYPE_CONSTANT_OF_SHAPE:
        return strcmp(step->kernelName, "nnrt_constant_of_shape") == 0 ? &e->isa->fill : NULL;
    case NNRT_NODE_TYPE_PAD_FUSION: return nnrti_cpu_pads_constant(step) ? &e->isa->pad : NULL;
    case NNRT_NODE_TYPE_RESIZE_ND:
        return nnrti_cpu_moves_nearest(step) && nnrti_cpu_resize_nd_fits(step, scratch) ? &e->isa->resize_nd : NULL;
    default: return NULL;
    }
}

/* Steps of float32 that get a kernel of >>portable with the arguments and attributes of the reference kernel. */
static NNRT_ReturnCode nnrti_cpu_lower_portable(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view;
    const nnrti_cpu_kernel *kernel;
    size_t scratch = 0;
    if (x->dataType != NNRT_DATA_TYPE_FLOAT32 || y->dataType != NNRT_DATA_TYPE_FLOAT32 || step->kernel == NULL)
        return NNRT_SUCCESS;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_ROTARY_EMBEDDING:
        kernel = &e->isa->rotary;
        if (!nnrti_cpu_rotates_floats(step))
            return NNRT_SUCCESS;
        break;
    case NNRT_NODE_TYPE_COL2IM: kernel = &e->isa->col2im; break;
    case NNRT_NODE_TYPE_HARDMAX: kernel = &e->isa->hardmax; break;
    case NNRT_NODE_TYPE_RESIZE_ND:
        kernel = &e->isa->resize_nd;
        if (((const NNRT_ResizeND *)step->attr)->mode == NNRT_RESIZE_METHOD_NEAREST ||
            !nnrti_cpu_resize_nd_fits(step, &scratch))
            return NNRT_SUCCESS;
        break;
    default: /* CONV_TRANSPOSE_3D, whose columns of y it sums by their phases */
        kernel = &e->isa->conv_transpose;
        if (x->strides[4] != 1 || !nnrti_cpu_is_type(step, 1, NNRT_DATA_TYPE_FLOAT32) ||
            ((const NNRT_ConvTranspose3D *)step->attr)->strides.data[2] > y->dims[4])
            return NNRT_SUCCESS;
        scratch = 2 * (size_t)y->dims[3] * (size_t)y->dims[4] * sizeof(float);
    }
    if (!nnrti_cpu_is_allowed(e, kernel))
        return NNRT_SUCCESS;
    nnrti_cpu_set_kernel(step, kernel, step->attr);
    step->scratchBytes = scratch;
    return NNRT_SUCCESS;
}

static bool nnrti_cpu_exchange(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    size_t scratch;
    const nnrti_cpu_kernel *const kernel = nnrti_cpu_exchange_of(e, step, &scratch);
    if (kernel == NULL || !nnrti_cpu_is_allowed(e, kernel))
        return false;
    step->kernel = kernel->run;
    step->kernelName = kernel->name;
    step->scratchBytes = scratch > step->scratchBytes ? scratch : step->scratchBytes;
    return true;
}

/* Whether images are channels last; else their rows are processed as planes. */
static bool nnrti_cpu_are_nhwc(const nnrt_view *x, const nnrt_view *y)
{
    return y->dims[3] > 1 && x->strides[3] == 1 && y->strides[3] == 1;
}

/* Sets how `resize` divides an image. */
static void nnrti_cpu_divide_resize(const nnrti_cpu_edit *e, nnrti_cpu_resize *a, const nnrt_view *x, const nnrt_view *y)
{
    const int32_t workers = (int32_t)e->draft->workers;
    int32_t units;
    a->last = nnrti_cpu_are_nhwc(x, y);
    units = y->dims[0] * (a->last ? 1 : y->dims[3]);
    a->bands = workers > 1 && units < 4 * workers ? (4 * workers + units - 1) / units : 1;
    a->bands = a->bands < y->dims[1] ? a->bands : y->dims[1];
    a->block = 4096 / (a->last ? y->dims[3] : 1);
    a->block = a->block < 1 ? 1 : a->block < y->dims[2] ? a->block : y->dims[2];
}

/* RESIZE of 8 bits except CUBIC. */
static NNRT_ReturnCode nnrti_cpu_lower_resize_q8(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step old = d->steps[s];
    const nnrt_view *x = &old.args[0].view, *y = &old.args[old.nIn + 2].view;
    nnrti_cpu_resize *a;
    size_t most;
    if (!nnrti_cpu_is_allowed(e, &e->isa->resize_q8) || old.nDerived != 2 || nnrt_view_empty(y) ||
        (!nnrti_cpu_are_nhwc(x, y) && y->strides[2] != 1 && y->dims[2] > 1))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_resize *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, &old);
    a->linear = ((const NNRT_Resize *)old.attr)->method == NNRT_RESIZE_METHOD_LINEAR;
    nnrti_cpu_divide_resize(e, a, x, y);
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->resize_q8, a);
    d->steps[s].flags = 0;
    most = (size_t)a->block * (a->last ? (size_t)y->dims[3] : 1);
    if (e->dynamic != NULL && most < 4096) /* of any size, in both layouts */
        most = 4096;
    d->steps[s].scratchBytes = 2 * (most + NNRTI_CPU_MAX_PANEL) * sizeof(int32_t);
    return NNRT_SUCCESS;
}

/* RESIZE of float32 except CUBIC. */
static NNRT_ReturnCode nnrti_cpu_lower_resize(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const NNRT_Resize *attr = (const NNRT_Resize *)step->attr;
    const bool linear = attr->method == NNRT_RESIZE_METHOD_LINEAR;
    nnrt_plan_arg x, y, steps, *args;
    nnrti_cpu_resize *a;
    int32_t lists[2];
    size_t most;
    void *cells, *weights;
    NNRT_ReturnCode code;
    if (nnrti_cpu_is_q8_step(step, "nnrt_resize_q8"))
        return nnrti_cpu_lower_resize_q8(e, s);
    if (!nnrti_cpu_is_allowed(e, &e->isa->resize) || step->kernel == NULL || step->nDerived != 1 ||
        (step->args[step->nIn].view.data == NULL && (e->dynamic == NULL || e->packed != NULL)) ||
        step->args[0].view.dataType != NNRT_DATA_TYPE_FLOAT32 ||
        attr->method == NNRT_RESIZE_METHOD_CUBIC)
        return NNRT_SUCCESS;
    x = step->args[0];
    steps = step->args[step->nIn];
    y = step->args[step->nIn + 1];
    if (nnrt_view_empty(&y.view) ||
        (!nnrti_cpu_are_nhwc(&x.view, &y.view) && y.view.strides[2] != 1 && y.view.dims[2] > 1))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_resize *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->linear = linear;
    nnrti_cpu_divide_resize(e, a, &x.view, &y.view);
    args[0] = x;
    args[1] = y;
    nnrti_cpu_set_kernel(step, &e->isa->resize, a);
    step->flags = 0;
    most = (size_t)a->block * (a->last ? (size_t)y.view.dims[3] : 1);
    if (e->dynamic != NULL && most < 4096) /* of any size, in both layouts */
        most = 4096;
    step->scratchBytes = linear ? 2 * most * sizeof(float) : 0;
    lists[0] = 2;
    lists[1] = y.view.dims[1] + y.view.dims[2];
    if ((code = nnrti_cpu_tabulate(e, s, NNRT_DATA_TYPE_INT32, 2, lists, &cells)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_tabulate(e, s, NNRT_DATA_TYPE_FLOAT32, 2, lists, &weights)) != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < lists[1] && cells != NULL && weights != NULL; i++) {
        const int32_t row = i < y.view.dims[1] ? 1 : 0, place = row ? i : i - y.view.dims[1];
        nnrt_interpolation taps;
        const int32_t count = nnrt_resize_taps(attr, place, x.view.dims[row ? 1 : 2],
                                               (const double *)steps.view.data + (row ? 0 : 2), &taps);
        for (int32_t k = 0; k < 2; k++) {
            ((int32_t *)cells)[k * lists[1] + i] = taps.index[k < count ? k : 0];
            ((float *)weights)[k * lists[1] + i] = k < count ? taps.weight[k] : 0.0f;
        }
    }
    return NNRT_SUCCESS;
}

/* LRN of images with dense channels or dense columns. bias > 0 and alpha >= 0: so no addition cancels. */
static NNRT_ReturnCode nnrti_cpu_lower_lrn(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_LRN *attr = (const NNRT_LRN *)step->attr;
    const nnrt_view *x = &step->args[0].view, *y = &step->args[1].view;
    nnrti_cpu_lrn *a;
    size_t floats;
    if (!nnrti_cpu_is_allowed(e, &e->isa->lrn) || nnrt_view_empty(x) || !(attr->bias > 0) || !(attr->alpha >= 0) ||
        (!nnrti_cpu_are_nhwc(x, y) && (x->strides[2] != 1 || y->strides[2] != 1)))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_lrn *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->last = nnrti_cpu_are_nhwc(x, y);
    a->radius = attr->depthRadius < x->dims[3] ? (int32_t)attr->depthRadius : x->dims[3];
    a->bias = attr->bias;
    a->alpha = attr->alpha;
    a->power = -attr->beta;
    nnrti_cpu_set_kernel(step, &e->isa->lrn, a);
    floats = a->last ? 2 * ((size_t)x->dims[3] + (size_t)a->radius + NNRTI_CPU_MAX_PANEL) : (size_t)x->dims[2];
    if (e->dynamic != NULL) { /* of any size, in both layouts */
        const size_t last = 2 * ((size_t)x->dims[3] + (size_t)a->radius + NNRTI_CPU_MAX_PANEL);
        floats = last > (size_t)x->dims[2] ? last : (size_t)x->dims[2];
    }
    step->scratchBytes = floats * sizeof(float);
    return NNRT_SUCCESS;
}

/* L2_NORMALIZE_FUSION and LP_NORMALIZATION over the last axis. */
static NNRT_ReturnCode nnrti_cpu_lower_lp_norm(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const bool fused = step->op->type == NNRT_NODE_TYPE_L2_NORMALIZE_FUSION;
    const NNRT_L2NormalizeFusion *l2 = (const NNRT_L2NormalizeFusion *)step->attr;
    const NNRT_LpNormalization *lp = (const NNRT_LpNormalization *)step->attr;
    const int64_t last = step->args[0].view.rank - 1;
    nnrti_cpu_lp_norm found, *a;
    if (!nnrti_cpu_is_allowed(e, &e->isa->lp_norm) ||
        (fused ? l2->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION || l2->axis.count != 1 ||
                     l2->axis.data[0] != last
               : lp->axis != last) ||
        !nnrti_cpu_rows_of(step, &step->args[step->nIn + step->nDerived].view, &found.rows))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_lp_norm *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    found.rows.factor = 1;
    found.rows.epsilon = fused ? l2->epsilon : lp->epsilon;
    found.added = !fused;
    found.absolute = !fused && lp->p == 1;
    *a = found;
    nnrti_cpu_set_kernel(step, &e->isa->lp_norm, a);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>integers */

/* Elementwise operators of integers and bool, and predicates, by the kernels `integers` and `classify`, which compute
   rows that are dense or broadcast; other strides keep the reference kernel. */

/* Whether a step is an operator of `integers`, and which one. */
static bool nnrti_cpu_integers_of(const nnrt_draft_step *step, nnrti_cpu_integers *a)
{
    const nnrt_view *x = &step->args[0].view;
    NNRT_ActivationType activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    bool logical = false;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL || step->nIn < 1 || step->nIn > 2 ||
        step->nDerived != 0 || step->nOut != 1)
        return false;
    for (uint32_t k = 0; k <= step->nIn; k++)
        if (step->args[k].tensor == NNRT_NO_TENSOR || step->args[k].view.dataType != x->dataType ||
            step->args[k].view.quantCount != 0)
            return false;
    a->unary = step->nIn == 1;
    a->type = x->dataType;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_ADD_FUSION:
        a->function = NNRTI_CPU_ADD;
        activation = ((const NNRT_AddFusion *)step->attr)->activationType;
        break;
    case NNRT_NODE_TYPE_SUB_FUSION:
        a->function = NNRTI_CPU_SUB;
        activation = ((const NNRT_SubFusion *)step->attr)->activationType;
        break;
    case NNRT_NODE_TYPE_MUL_FUSION:
        a->function = NNRTI_CPU_MUL;
        activation = ((const NNRT_MulFusion *)step->attr)->activationType;
        break;
    case NNRT_NODE_TYPE_BIAS_ADD: a->function = NNRTI_CPU_ADD; break;
    case NNRT_NODE_TYPE_ADD_N:
        if (step->nIn != 2)
            return false;
        a->function = NNRTI_CPU_ADD;
        break;
    case NNRT_NODE_TYPE_ELTWISE: {
        const NNRT_EltwiseMode mode = ((const NNRT_Eltwise *)step->attr)->mode;
        a->function = mode == NNRT_ELTWISE_MODE_PROD  ? NNRTI_CPU_MUL
                      : mode == NNRT_ELTWISE_MODE_SUM ? NNRTI_CPU_ADD
                                                      : NNRTI_CPU_MAX;
        break;
    }
    case NNRT_NODE_TYPE_MAXIMUM: a->function = NNRTI_CPU_MAX; break;
    case NNRT_NODE_TYPE_MINIMUM: a->function = NNRTI_CPU_MIN; break;
    case NNRT_NODE_TYPE_FLOOR_DIV: a->function = NNRTI_CPU_FLOOR_DIV; break;
    case NNRT_NODE_TYPE_MOD: a->function = NNRTI_CPU_REMAINDER; break;
    case NNRT_NODE_TYPE_LOGICAL_AND:
        a->function = NNRTI_CPU_AND;
        logical = true;
        break;
    case NNRT_NODE_TYPE_LOGICAL_OR:
        a->function = NNRTI_CPU_OR;
        logical = true;
        break;
    case NNRT_NODE_TYPE_LOGICAL_XOR:
        a->function = NNRTI_CPU_XOR;
        logical = true;
        break;
    case NNRT_NODE_TYPE_ABS: a->function = NNRTI_CPU_ABS; break;
    case NNRT_NODE_TYPE_NEG: a->function = NNRTI_CPU_NEG; break;
    default: return false;
    }
    if (activation != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        return false;
    switch (a->type) {
    case NNRT_DATA_TYPE_BOOL: return logical;
    case NNRT_DATA_TYPE_UINT8: return !logical && !a->unary;
    case NNRT_DATA_TYPE_UINT32: /* modulo 2^n, as the signed types */
    case NNRT_DATA_TYPE_UINT64:
        a->type = a->type == NNRT_DATA_TYPE_UINT32 ? NNRT_DATA_TYPE_INT32 : NNRT_DATA_TYPE_INT64;
        return a->function == NNRTI_CPU_ADD || a->function == NNRTI_CPU_SUB || a->function == NNRTI_CPU_MUL;
    case NNRT_DATA_TYPE_INT8:
    case NNRT_DATA_TYPE_INT32:
    case NNRT_DATA_TYPE_INT64: return !logical;
    default: return false;
    }
}

/* The block of a function of 16-bit integers, of float64, or of unsigned integers of 32 and 64 bits; NULL: there is none. */
static nnrti_cpu_block nnrti_cpu_block_by_type(NNRT_NodeType op, NNRT_DataType type)
{
#define NNRTI_CPU_BY_TYPE(small, wide)                                                                                 \
    (type == NNRT_DATA_TYPE_FLOAT64                                                ? nnrti_cpu_block_##wide            \
     : type == NNRT_DATA_TYPE_INT16 || type == NNRT_DATA_TYPE_UINT16               ? nnrti_cpu_block_##small           \
                                                                                   : NULL)
#define NNRTI_CPU_EXTREME_BY_TYPE(name)                                                                                \
    (type == NNRT_DATA_TYPE_INT16     ? nnrti_cpu_block_##name##_i16                                                   \
     : type == NNRT_DATA_TYPE_UINT16  ? nnrti_cpu_block_##name##_u16                                                   \
     : type == NNRT_DATA_TYPE_UINT32  ? nnrti_cpu_block_##name##_u32                                                   \
     : type == NNRT_DATA_TYPE_UINT64  ? nnrti_cpu_block_##name##_u64                                                   \
     : type == NNRT_DATA_TYPE_FLOAT64 ? nnrti_cpu_block_##name##_f64                                                   \
                                      : NULL)
    switch (op) {
    case NNRT_NODE_TYPE_ADD_FUSION: return NNRTI_CPU_BY_TYPE(add_16, add_f64);
    case NNRT_NODE_TYPE_SUB_FUSION: return NNRTI_CPU_BY_TYPE(sub_16, sub_f64);
    case NNRT_NODE_TYPE_MUL_FUSION: return NNRTI_CPU_BY_TYPE(mul_16, mul_f64);
    case NNRT_NODE_TYPE_DIV_FUSION:
    case NNRT_NODE_TYPE_REAL_DIV: return type == NNRT_DATA_TYPE_FLOAT64 ? nnrti_cpu_block_div_f64 : NULL;
    case NNRT_NODE_TYPE_MAXIMUM: return NNRTI_CPU_EXTREME_BY_TYPE(max);
    case NNRT_NODE_TYPE_MINIMUM: return NNRTI_CPU_EXTREME_BY_TYPE(min);
    case NNRT_NODE_TYPE_ABS: return type == NNRT_DATA_TYPE_INT16 ? nnrti_cpu_block_abs_16 : NULL;
    case NNRT_NODE_TYPE_NEG: return type == NNRT_DATA_TYPE_INT16 ? nnrti_cpu_block_neg_16 : NULL;
    default: return NULL;
    }
#undef NNRTI_CPU_BY_TYPE
#undef NNRTI_CPU_EXTREME_BY_TYPE
}

/* Whether a step is an operator of `elements`, and which one: of types that `integers` does not have, of several operands,
   or of bits. */
static bool nnrti_cpu_elements_of(const nnrt_draft_step *step, nnrti_cpu_blocks *a)
{
    const nnrt_view *x = &step->args[0].view;
    NNRT_NodeType op;
    bool left;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL || step->nIn < 1 || step->nDerived != 0 ||
        step->nOut != 1 || x->dataType == NNRT_DATA_TYPE_BOOL || x->dataType == NNRT_DATA_TYPE_FLOAT16 ||
        x->dataType == NNRT_DATA_TYPE_FLOAT32)
        return false;
    for (uint32_t k = 0; k <= step->nIn; k++)
        if (step->args[k].tensor == NNRT_NO_TENSOR || step->args[k].view.dataType != x->dataType ||
            step->args[k].view.quantCount != 0)
            return false;
    memset(a, 0, sizeof(*a));
    a->width = a->to = nnrt_type_size(x->dataType);
    a->parts = 1;
    op = step->op->type;
    switch (op) {
    case NNRT_NODE_TYPE_ADD_FUSION:
        if (((const NNRT_AddFusion *)step->attr)->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            return false;
        break;
    case NNRT_NODE_TYPE_SUB_FUSION:
        if (((const NNRT_SubFusion *)step->attr)->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            return false;
        break;
    case NNRT_NODE_TYPE_MUL_FUSION:
        if (((const NNRT_MulFusion *)step->attr)->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            return false;
        break;
    case NNRT_NODE_TYPE_DIV_FUSION:
        if (((const NNRT_DivFusion *)step->attr)->activationType != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
            return false;
        break;
    case NNRT_NODE_TYPE_ELTWISE:
        op = ((const NNRT_Eltwise *)step->attr)->mode == NNRT_ELTWISE_MODE_PROD  ? NNRT_NODE_TYPE_MUL_FUSION
             : ((const NNRT_Eltwise *)step->attr)->mode == NNRT_ELTWISE_MODE_SUM ? NNRT_NODE_TYPE_ADD_FUSION
                                                                                 : NNRT_NODE_TYPE_MAXIMUM;
        break;
    case NNRT_NODE_TYPE_BIAS_ADD: op = NNRT_NODE_TYPE_ADD_FUSION; break;
    case NNRT_NODE_TYPE_ADD_N:
        a->run = x->dataType == NNRT_DATA_TYPE_FLOAT64 ? nnrti_cpu_block_add_f64 : NNRTI_CPU_OF_WIDTH(add, a->width);
        return step->nIn > 1;
    case NNRT_NODE_TYPE_BITWISE_NOT:
    case NNRT_NODE_TYPE_BITWISE_AND:
    case NNRT_NODE_TYPE_BITWISE_OR:
    case NNRT_NODE_TYPE_BITWISE_XOR:
        a->parts = (ptrdiff_t)a->width;
        a->run = op == NNRT_NODE_TYPE_BITWISE_NOT   ? nnrti_cpu_block_not_8
                 : op == NNRT_NODE_TYPE_BITWISE_AND ? nnrti_cpu_block_and_8
                 : op == NNRT_NODE_TYPE_BITWISE_OR  ? nnrti_cpu_block_or_8
                                                    : nnrti_cpu_block_xor_8;
        return x->dataType < NNRT_DATA_TYPE_FLOAT16;
    case NNRT_NODE_TYPE_BIT_SHIFT:
        left = ((const NNRT_BitShift *)step->attr)->direction == NNRT_SHIFT_DIRECTION_LEFT;
        a->run = left ? NNRTI_CPU_OF_WIDTH(shl, a->width) : NNRTI_CPU_OF_WIDTH(shr, a->width);
        return true;
    default: break;
    }
    a->run = nnrti_cpu_block_by_type(op, x->dataType);
    return a->run != NULL && step->nIn <= 2;
}

static NNRT_ReturnCode nnrti_cpu_lower_elements(nnrti_cpu_edit *e, uint32_t s, const nnrti_cpu_blocks *found)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrti_cpu_blocks *a;
    if (!nnrti_cpu_is_allowed(e, &e->isa->elements))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_blocks *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = *found;
    for (uint32_t k = 0; k < step->nIn; k++)
        nnrti_cpu_add_axes(&step->args[k].view, &step->args[step->nIn].view);
    if (step->nIn <= 2)
        nnrti_cpu_sort_axes(step);
    else
        step->flags = 0; /* the result of the first two may not be in the storage of a third */
    nnrti_cpu_set_kernel(step, &e->isa->elements, a);
    return NNRT_SUCCESS;
}

/* The bits of the infinity of a floating-point type; 0: another type. */
static uint64_t nnrti_cpu_infinity(NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_FLOAT16   ? 0x7c00u
           : type == NNRT_DATA_TYPE_FLOAT32 ? 0x7f800000u
           : type == NNRT_DATA_TYPE_FLOAT64 ? (uint64_t)0x7ff00000u << 32
                                            : 0;
}

/* Whether a step is a predicate of `classify`, and which one: LOGICAL_NOT of any type, IS_NAN, IS_INF. */
static bool nnrti_cpu_classify_of(const nnrt_draft_step *step, nnrti_cpu_classify *a)
{
    const nnrt_view *x = &step->args[0].view;
    const NNRT_IsInf *inf = (const NNRT_IsInf *)step->attr;
    const uint64_t limit = nnrti_cpu_infinity(x->dataType);
    uint64_t whole, sign;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL || step->nIn != 1 || step->nDerived != 0 ||
        step->nOut != 1 || x->quantCount != 0)
        return false;
    a->width = (int32_t)nnrt_type_size(x->dataType);
    whole = ~(uint64_t)0 >> (64 - 8 * a->width);
    sign = limit != 0 ? (uint64_t)1 << (8 * a->width - 1) : 0;
    a->mask = whole ^ sign;
    a->limit = limit;
    a->above = false;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_LOGICAL_NOT: a->limit = 0; return true;
    case NNRT_NODE_TYPE_IS_NAN: a->above = true; return limit != 0;
    case NNRT_NODE_TYPE_IS_INF:
        if (inf->detectNegative != inf->detectPositive) {
            a->mask = whole;
            a->limit = inf->detectNegative ? limit | sign : limit;
        }
        return limit != 0 && (inf->detectNegative || inf->detectPositive);
    default: return false;
    }
}

static NNRT_ReturnCode nnrti_cpu_lower_integers(nnrti_cpu_edit *e, uint32_t s, const nnrti_cpu_integers *found)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg *const args = step->args;
    nnrti_cpu_integers *a;
    if (!nnrti_cpu_is_allowed(e, &e->isa->integers))
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < step->nIn; k++)
        nnrti_cpu_add_axes(&args[k].view, &args[step->nIn].view);
    nnrti_cpu_sort_axes(step);
    if (!nnrti_cpu_has_dense_rows(&args[step->nIn].view, &args[0].view, found->unary ? NULL : &args[1].view))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_integers *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = *found;
    nnrti_cpu_set_kernel(step, &e->isa->integers, a);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_lower_classify(nnrti_cpu_edit *e, uint32_t s, const nnrti_cpu_classify *found)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrt_plan_arg *const args = step->args;
    nnrti_cpu_classify *a;
    if (!nnrti_cpu_is_allowed(e, &e->isa->classify) || args[0].view.rank != args[1].view.rank)
        return NNRT_SUCCESS;
    nnrti_cpu_sort_axes(step);
    if (!nnrti_cpu_has_dense_rows(&args[1].view, &args[0].view, NULL))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_classify *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *a = *found;
    nnrti_cpu_set_kernel(step, &e->isa->classify, a);
    if (a->width > 1)
        step->flags = 0;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>float16 */

/* Float16 by float32 kernels. Every float16 step that computes becomes float32, between inserted steps that widen its
   inputs and narrow its results; with dynamic shapes the kernel has float32 copies in scratch instead (>>dynamic). If a
   step gets no kernel after all, this is undone. So a new float32 kernel needs nothing here. Constants that
   are packed are widened while packing; other constants are widened in every run. Elementwise kernels widen and
   narrow inside (`elementwise_half`). Invariant: results have the bits of the float32 kernel, rounded once, so a
   narrowing step directly before a widening one can become a rounding in place, but must not be removed. Kernels
   with float16 arithmetic round every partial sum: only GEMM has one, with enableFloat16 (nnrti_cpu_half_gemm). */

/* Whether argument k of a step exists and has an element type. */
static bool nnrti_cpu_is_type(const nnrt_draft_step *step, uint32_t k, NNRT_DataType type)
{
    return step->args[k].tensor != NNRT_NO_TENSOR && step->args[k].view.dataType == type;
}

/* Whether a step's kernel is a float16 kernel of the reference device. */
static bool nnrti_cpu_is_half_kernel(const nnrt_draft_step *step)
{
    const size_t length = step->kernelName != NULL ? strlen(step->kernelName) : 0;
    return length > 4 && strcmp(step->kernelName + length - 4, "_f16") == 0;
}

/* Whether a step's constant weights and bias are packed if it gets a kernel. */
static bool nnrti_cpu_packs_weights(const nnrt_draft_step *step)
{
    const nnrt_view *x = &step->args[0].view, *w = &step->args[1].view;
    if (step->nIn < 2 || step->args[1].kind != NNRT_PLACE_CONSTANT ||
        (step->nIn > 2 && step->args[2].tensor != NNRT_NO_TENSOR && step->args[2].kind != NNRT_PLACE_CONSTANT))
        return false;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION: return x->rank == 4;
    case NNRT_NODE_TYPE_MATMUL_NBITS:
        return (step->args[2].tensor == NNRT_NO_TENSOR || step->args[2].kind == NNRT_PLACE_CONSTANT) &&
               (step->args[3].tensor == NNRT_NO_TENSOR || step->args[3].kind == NNRT_PLACE_CONSTANT) &&
               (step->args[4].tensor == NNRT_NO_TENSOR || step->args[4].kind == NNRT_PLACE_CONSTANT);
    case NNRT_NODE_TYPE_FULL_CONNECTION: return true;
    case NNRT_NODE_TYPE_MATMUL_FUSION:
        for (int32_t i = 0; i < w->rank - 2; i++)
            if (w->dims[i] != 1)
                return false;
        return !((const NNRT_MatMulFusion *)step->attr)->transposeA;
    case NNRT_NODE_TYPE_CONV_3D:
    case NNRT_NODE_TYPE_CLIP: return true;
    case NNRT_NODE_TYPE_SCALE_FUSION:
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM:
        for (uint32_t k = 3; k < step->nIn; k++)
            if (step->args[k].kind != NNRT_PLACE_CONSTANT)
                return false;
        return true;
    default: return nnrti_cpu_is_recurrent(step);
    }
}

/* Whether argument k is a float16 constant that is packed with this step. Initial states are not. */
static bool nnrti_cpu_is_packed_half(const nnrt_draft_step *step, uint32_t k)
{
    return k > 0 && k < step->nIn && step->args[k].kind == NNRT_PLACE_CONSTANT &&
           nnrti_cpu_is_type(step, k, NNRT_DATA_TYPE_FLOAT16) && nnrti_cpu_packs_weights(step) &&
           (k < 4 || k > 6 || !nnrti_cpu_is_recurrent(step));
}

/* Whether a step is a float16 elementwise operator whose float32 form may have a kernel. */
static bool nnrti_cpu_is_elementwise_half(const nnrt_draft_step *step)
{
    nnrti_cpu_elementwise found;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL || step->nIn < 1 || step->nIn > 2 ||
        step->nDerived > 0 || step->nOut != 1 || !nnrti_cpu_elementwise_of(step, &found))
        return false;
    for (uint32_t k = 0; k <= step->nIn; k++)
        if (!nnrti_cpu_is_type(step, k, NNRT_DATA_TYPE_FLOAT16))
            return false;
    return true;
}

/* Whether a step is a REDUCE_FUSION of float16, which `reduce` widens itself. */
static bool nnrti_cpu_is_half_reduction(const nnrt_draft_step *step)
{
    return step->op->type == NNRT_NODE_TYPE_REDUCE_FUSION && step->nDerived == 1 &&
           nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT16) &&
           nnrti_cpu_is_type(step, step->nIn + 1, NNRT_DATA_TYPE_FLOAT16);
}

/* Whether a float16 step only moves elements, or has a kernel here that reads float16. */
static bool nnrti_cpu_keeps_half(const nnrt_draft_step *step)
{
    nnrti_cpu_classify classify;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_ARGMAX_FUSION: /* of any element type, but they compare */
    case NNRT_NODE_TYPE_ARGMIN_FUSION:
    case NNRT_NODE_TYPE_QUANT_DTYPE_CAST:
    case NNRT_NODE_TYPE_QUANT_DTYPE_CAST_V2:
    case NNRT_NODE_TYPE_WHERE: /* faster by the float32 kernel, which selects vectors */
    case NNRT_NODE_TYPE_SELECT: return false;
    case NNRT_NODE_TYPE_BOTTOM_K:
    case NNRT_NODE_TYPE_CAST:
    case NNRT_NODE_TYPE_CUM_SUM:
    case NNRT_NODE_TYPE_DFT:
    case NNRT_NODE_TYPE_NON_ZERO:
    case NNRT_NODE_TYPE_QUANTIZE_BLOCKS:
    case NNRT_NODE_TYPE_STFT:
    case NNRT_NODE_TYPE_TENSOR_SCATTER: /* it writes a part of a cache */
    case NNRT_NODE_TYPE_UNIQUE: return true;
    case NNRT_NODE_TYPE_RESIZE_ND: return nnrti_cpu_moves_nearest(step);
    default: break;
    }
    return (nnrt_op_types(step->op) & NNRT_TYPES_QUANT(NNRT_TYPES_I32)) != 0 || nnrti_cpu_is_elementwise_half(step) ||
           nnrti_cpu_is_half_reduction(step) || nnrti_cpu_classify_of(step, &classify);
}

/* Whether to try a float16 step as float32: every operator that computes, so that a new float32 kernel is one of float16, too. */
static bool nnrti_cpu_is_half_candidate(const nnrt_draft_step *step)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && step->nIn > 0 && step->nOut > 0 &&
           (step->op->flags & NNRT_OP_GRAPHS) == 0 && step->args[0].kind != NNRT_PLACE_CONSTANT &&
           (nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT16) ||
            nnrti_cpu_is_type(step, step->nIn + step->nDerived, NNRT_DATA_TYPE_FLOAT16)) &&
           !nnrti_cpu_keeps_half(step);
}

/* A new float32 tensor of the shape of a float16 argument; *wide: the argument that shows it. */
static bool nnrti_cpu_new_widened(nnrti_cpu_edit *e, const nnrt_plan_arg *half, nnrt_plan_arg *wide)
{
    const nnrt_operand o = e->draft->tensors[half->tensor];
    *wide = *half;
    wide->tensor = nnrt_draft_tensor(e->draft, NNRT_DATA_TYPE_FLOAT32, o.rank, o.dims);
    wide->kind = NNRT_PLACE_ARENA;
    wide->view.dataType = NNRT_DATA_TYPE_FLOAT32;
    wide->view.data = NULL;
    if (wide->tensor == NNRT_NO_TENSOR)
        return false;
    e->draft->tensors[wide->tensor].format = o.format;
    return true;
}

/* Records steps that widen the inputs of step s and narrow its results. */
static bool nnrti_cpu_widen_step(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *const step = &e->draft->steps[s];
    for (uint32_t k = 0; k < step->nIn + step->nDerived + step->nOut; k++) {
        const bool in = k < step->nIn;
        const nnrt_plan_arg half = step->args[k];
        nnrt_plan_arg wide;
        if (!nnrti_cpu_is_type(step, k, NNRT_DATA_TYPE_FLOAT16) || nnrti_cpu_is_packed_half(step, k))
            continue;
        if (!nnrti_cpu_new_widened(e, &half, &wide) ||
            !nnrti_cpu_add_step(e, in ? s : s + 1, s, in ? &e->isa->widen_half : &e->isa->narrow_half,
                                in ? &half : &wide, in ? &wide : &half))
            return false;
        step->args[k] = wide;
    }
    return true;
}

#if NNRT_CPU_FP16
/* GEMM in float16 arithmetic: a convolution of one group or a matrix multiplication by constant weights, whose step
   stays float16. FMLA multiplies and adds 8 float16 per instruction, twice as many as float32; a conversion before and
   after each step is saved, too. Blocks of terms are summed in float16, these sums in float32, which bounds the error
   (HOW EXACT above). Not FMLAL, which multiplies float16 and adds to float32: it is as fast as float32. */

/* The operands of such a step as images: x, y and the weights [C,kH,kW,K]. */
typedef struct nnrti_cpu_half_gemm {
    nnrt_plan_arg x, y;
    nnrt_view w;
    nnrti_cpu_window conv;
} nnrti_cpu_half_gemm;

/* The operands of a matrix multiplication. */
static bool nnrti_cpu_half_matmul_of(const nnrt_draft_step *step, bool transposed, nnrti_cpu_half_gemm *g)
{
    int64_t rows, rowsY;
    ptrdiff_t stepX, stepY;
    if (!nnrti_cpu_constant_weights_q8(step, transposed, &g->w) || !nnrti_cpu_is_matrix(&g->x.view, &rows, &stepX) ||
        !nnrti_cpu_is_matrix(&g->y.view, &rowsY, &stepY) || rows != rowsY)
        return false;
    g->x.view = nnrti_cpu_matrix_as_image(&g->x.view, rows, stepX, g->w.dims[3]);
    g->y.view = nnrti_cpu_matrix_as_image(&g->y.view, rows, stepY, g->w.dims[0]);
    for (int32_t i = 0; i < 2; i++)
        g->conv.window[i] = g->conv.stride[i] = g->conv.dilation[i] = 1;
    return true;
}

/* The operands of step s; false: it is no such step. */
static bool nnrti_cpu_half_gemm_of(const nnrti_cpu_edit *e, const nnrt_draft_step *step, nnrti_cpu_half_gemm *g)
{
    if (!e->half || e->dynamic != NULL || e->isa->gemm_f16.run == NULL || !nnrti_cpu_is_allowed(e, &e->isa->gemm_f16) ||
        !nnrti_cpu_is_half_candidate(step) || !nnrti_cpu_packs_weights(step) || step->nIn != 3 ||
        !nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT16) || !nnrti_cpu_is_type(step, 1, NNRT_DATA_TYPE_FLOAT16) ||
        !nnrti_cpu_is_type(step, 3, NNRT_DATA_TYPE_FLOAT16))
        return false;
    memset(g, 0, sizeof(*g));
    g->x = step->args[0];
    g->y = step->args[3];
    g->w = step->args[1].view;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
        if (((const NNRT_Conv2DFusion *)step->attr)->group != 1)
            return false;
        g->conv = nnrti_cpu_window_of((const NNRT_Conv2DFusion *)step->attr, &g->w);
        break;
    case NNRT_NODE_TYPE_FULL_CONNECTION:
        if (!nnrti_cpu_half_matmul_of(step, true, g))
            return false;
        g->conv.activation = ((const NNRT_FullConnection *)step->attr)->activationType;
        break;
    case NNRT_NODE_TYPE_MATMUL_FUSION:
        if (!nnrti_cpu_half_matmul_of(step, ((const NNRT_MatMulFusion *)step->attr)->transposeB, g))
            return false;
        g->conv.activation = ((const NNRT_MatMulFusion *)step->attr)->activationType;
        break;
    default: return false;
    }
    return (int64_t)g->y.view.dims[0] * g->y.view.dims[1] * g->y.view.dims[2] >= NNRTI_CPU_HALF_ROWS &&
           (int64_t)g->w.dims[1] * g->w.dims[2] * g->w.dims[3] <= 1 << 22 && g->w.dims[0] > 0 && g->w.dims[3] > 0;
}

/* The largest sum of the |weights| of NNRTI_CPU_HALF_BLOCK consecutive terms of channel c. The sums are exact. */
static double nnrti_cpu_largest_block(const nnrt_view *w, int32_t c)
{
    const int32_t K = w->dims[3], terms = w->dims[1] * w->dims[2] * K;
    double sum = 0, most = 0, last[NNRTI_CPU_HALF_BLOCK] = {0};
    for (int32_t i = 0; i < terms; i++) {
        const int32_t tap = i / K;
        const float v = nnrti_cpu_weight(w, c * w->strides[0] + tap / w->dims[2] * w->strides[1] +
                                                tap % w->dims[2] * w->strides[2] + i % K * w->strides[3]);
        sum -= last[i % NNRTI_CPU_HALF_BLOCK];
        sum += last[i % NNRTI_CPU_HALF_BLOCK] = v < 0 ? -(double)v : (double)v;
        most = sum > most ? sum : most;
    }
    return most;
}

/* The factor of a channel (nnrti_cpu_gemm_f16). */
static float nnrti_cpu_half_factor(const nnrt_view *w, int32_t c)
{
    const double sum = nnrti_cpu_largest_block(w, c);
    float factor = 1.0f;
    while (sum * 2 >= factor)
        factor *= 2;
    while (sum > 0 && sum * 4 < factor)
        factor /= 2;
    return factor;
}

/* Packs the weights of `gemm_f16`, with zeros up to `terms`. */
static void nnrti_cpu_pack_gemm_f16(const nnrti_cpu_isa *isa, const nnrt_view *w, const nnrt_view *bias, int32_t terms,
                                    uint16_t *to)
{
    const int32_t C = w->dims[0], K = w->dims[3], taps = w->dims[1] * w->dims[2], panel = NNRTI_CPU_HALF_PANEL;
    float head[2 * NNRTI_CPU_HALF_PANEL], rows[NNRTI_CPU_PACK_ROWS * NNRTI_CPU_HALF_PANEL];
    for (int32_t c = 0; c < C; c += panel) {
        const int32_t left = C - c, width = left > NNRTI_CPU_HALF_LANES ? panel : NNRTI_CPU_HALF_LANES;
        for (int32_t t = 0; t < width; t++) {
            head[t] = bias != NULL && t < left ? nnrti_cpu_weight(bias, (c + t) * bias->strides[0]) : 0.0f;
            head[width + t] = t < left ? nnrti_cpu_half_factor(w, c + t) : 1.0f;
        }
        memcpy(to, head, 2 * (size_t)width * sizeof(float));
        to += 4 * width;
        for (int32_t i = 0; i < taps; i++) {
            const ptrdiff_t at = c * w->strides[0] + i / w->dims[2] * w->strides[1] + i % w->dims[2] * w->strides[2];
            for (int32_t k = 0, n; k < K; k += n, to += n * width) {
                n = K - k < NNRTI_CPU_PACK_ROWS ? K - k : NNRTI_CPU_PACK_ROWS;
                nnrti_cpu_pack_rows(w, at + k * w->strides[3], w->strides[0], w->strides[3], n, left, width, rows);
                for (int32_t t = 0; t < n * width; t++)
                    rows[t] /= head[width + t % width];
                isa->narrow(rows, to, n * width);
            }
        }
        memset(to, 0, (size_t)(terms - taps * K) * (size_t)width * sizeof(*to));
        to += (terms - taps * K) * width;
    }
}

/* Step s, which nnrti_cpu_half_gemm_of describes, becomes `gemm_f16`. An infinite or NaN weight keeps the reference
   kernel. */
static NNRT_ReturnCode nnrti_cpu_lower_half_gemm(nnrti_cpu_edit *e, uint32_t s, const nnrti_cpu_half_gemm *g)
{
    nnrt_draft *d = e->draft;
    const int32_t K = g->w.dims[3], taps = g->w.dims[1] * g->w.dims[2];
    const int32_t panels = (g->w.dims[0] + NNRTI_CPU_HALF_PANEL - 1) / NNRTI_CPU_HALF_PANEL;
    const bool gather = taps > 1 && K % NNRTI_CPU_HALF_LANES != 0; /* im2col: whole vectors of terms */
    const int32_t lanes = NNRTI_CPU_HALF_LANES, terms = gather ? (taps * K + lanes - 1) / lanes * lanes : taps * K;
    const int32_t packed[2] = {(g->w.dims[0] + lanes - 1) / lanes * lanes, 4 + terms};
    const nnrt_view bias = d->steps[s].args[2].view, w = g->w;
    const bool has = d->steps[s].args[2].tensor != NNRT_NO_TENSOR;
    nnrti_cpu_gemm tiles;
    nnrti_cpu_gemm_f16 *a;
    nnrt_plan_arg *args;
    void *data;
    bool finite;
    NNRT_ReturnCode code = nnrti_cpu_recall_finite(e, &w, &finite);
    if (code != NNRT_SUCCESS || !finite)
        return code;
    if ((a = (nnrti_cpu_gemm_f16 *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->gemm_f16, a);
    d->steps[s].flags = 0;
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = g->x;
    args[1] = g->y;
    if ((code = nnrt_draft_pack(d, s, NNRT_DATA_TYPE_FLOAT16, 2, packed, &data)) != NNRT_SUCCESS)
        return code;
    if (data != NULL)
        nnrti_cpu_pack_gemm_f16(e->isa, &w, has ? &bias : NULL, terms, (uint16_t *)data);
    memset(&tiles, 0, sizeof(tiles));
    tiles.parts = 1;
    nnrti_cpu_tile_gemm(e, &tiles, taps, (int64_t)g->y.view.dims[0] * g->y.view.dims[1] * g->y.view.dims[2], packed,
                        panels);
    memset(a, 0, sizeof(*a));
    memcpy(a->bytes.window, g->conv.window, sizeof(a->bytes.window));
    memcpy(a->bytes.stride, g->conv.stride, sizeof(a->bytes.stride));
    memcpy(a->bytes.dilation, g->conv.dilation, sizeof(a->bytes.dilation));
    memcpy(a->bytes.pad, g->conv.pad, sizeof(a->bytes.pad));
    a->bytes.rows = tiles.rows;
    a->bytes.parts = tiles.parts;
    a->bytes.across = gather ? 0 : 1;
    a->bytes.gather = gather;
    a->bytes.depth = terms / 2; /* groups of 4 bytes, as dotprod has them */
    a->bytes.groups = (2 * K + 3) / 4;
    a->activation = g->conv.activation;
    d->steps[s].scratchBytes =
        ((size_t)(gather ? 1 : taps) + 1) * (size_t)(tiles.rows + NNRTI_CPU_MAX_TILE_ROWS_Q8) * sizeof(void *) +
        4 * (gather ? (size_t)tiles.rows * (size_t)a->bytes.depth : (size_t)a->bytes.groups);
    return NNRT_SUCCESS;
}
#endif

/* Whether a float16 step is computed in float16. */
static bool nnrti_cpu_stays_half(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
#if NNRT_CPU_FP16
    nnrti_cpu_half_gemm g;
    return nnrti_cpu_half_gemm_of(e, step, &g);
#else
    (void)e;
    (void)step;
    return false;
#endif
}

/* Makes all float16 steps that are worth a try float32. */
static NNRT_ReturnCode nnrti_cpu_widen_steps(nnrti_cpu_edit *e)
{
    e->wide = e->draft->nTensors;
    for (uint32_t s = 0; s < e->draft->nSteps; s++) {
        const nnrt_draft_step *step = &e->draft->steps[s];
        if (nnrti_cpu_is_half_candidate(step) && !nnrti_cpu_stays_half(e, step) && !nnrti_cpu_widen_step(e, s))
            return nnrti_cpu_no_memory(e, &e->draft->steps[s]);
    }
    e->wideEnd = e->draft->nTensors;
    return nnrti_cpu_insert_added(e);
}

/* Float16 weights that a CAST makes float32 (nnrt_tflite_desc.float16): a step that packs them reads the constant itself, with
   the same bits, and plan_finish drops the CAST without readers. A step that gets no kernel reads the CAST after all. */

/* Whether a step casts a float16 constant to float32. */
static bool nnrti_cpu_casts_weights(const nnrt_draft_step *step)
{
    return step->op != NULL && step->op->type == NNRT_NODE_TYPE_CAST && step->open == NULL && step->kernel != NULL &&
           step->nDerived == 0 && step->nIn > 0 && step->nOut == 1 && step->args[0].kind == NNRT_PLACE_CONSTANT &&
           nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT16) &&
           nnrti_cpu_is_type(step, step->nIn, NNRT_DATA_TYPE_FLOAT32);
}

/* Whether a step packs float32 weights, args[1], for operands in float32. */
static bool nnrti_cpu_takes_weights(const nnrt_draft_step *step)
{
    return step->op != NULL && step->open == NULL && step->kernel != NULL && step->nIn > 1 && step->nDerived == 0 &&
           nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT32) && nnrti_cpu_is_type(step, 1, NNRT_DATA_TYPE_FLOAT32) &&
           (step->op->type == NNRT_NODE_TYPE_CONV2D_FUSION || step->op->type == NNRT_NODE_TYPE_FULL_CONNECTION);
}

/* Makes steps read float16 weights instead of their casts. */
static NNRT_ReturnCode nnrti_cpu_take_half_weights(nnrti_cpu_edit *e)
{
    nnrt_draft *d = e->draft;
    uint32_t *writer = NULL; /* per tensor: the CAST that writes it, plus 1 */
    for (uint32_t s = 0; s < d->nSteps; s++) {
        nnrt_draft_step *step = &d->steps[s];
        if (nnrti_cpu_casts_weights(step)) {
            if (writer == NULL)
                writer = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*writer));
            if (e->widened == NULL)
                e->widened = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*e->widened));
            if (writer == NULL || e->widened == NULL)
                return nnrti_cpu_no_memory(e, step);
            writer[step->args[step->nIn].tensor] = s + 1;
            e->widened[step->args[0].tensor] = step->args[step->nIn].tensor + 1;
        } else if (writer != NULL && nnrti_cpu_takes_weights(step) && writer[step->args[1].tensor] != 0) {
            const nnrt_plan_arg wide = step->args[1], *half = d->steps[writer[wide.tensor] - 1].args;
            step->args[1].tensor = half->tensor;
            step->args[1].kind = NNRT_PLACE_CONSTANT;
            step->args[1].view.dataType = NNRT_DATA_TYPE_FLOAT16;
            step->args[1].view.data = half->view.data;
            if (!nnrti_cpu_packs_weights(step))
                step->args[1] = wide;
        }
    }
    return NNRT_SUCCESS;
}

/* Undoes nnrti_cpu_take_half_weights for a step that still has its reference kernel `before`. */
static void nnrti_cpu_undo_half_weights(nnrti_cpu_edit *e, uint32_t s, nnrt_kernel before)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    if (e->widened == NULL || before == NULL || step->kernel != before || step->op == NULL || step->open != NULL ||
        step->nIn < 2 || !nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT32) ||
        !nnrti_cpu_is_type(step, 1, NNRT_DATA_TYPE_FLOAT16) || step->args[1].kind != NNRT_PLACE_CONSTANT ||
        e->widened[step->args[1].tensor] == 0)
        return;
    step->args[1].tensor = e->widened[step->args[1].tensor] - 1;
    step->args[1].kind = NNRT_PLACE_ARENA;
    step->args[1].view.dataType = NNRT_DATA_TYPE_FLOAT32;
    step->args[1].view.data = NULL;
    (void)nnrt_draft_changed(e->draft, s, 1);
}

/* In >>edit. */
static NNRT_ReturnCode nnrti_cpu_lower(nnrti_cpu_edit *e, uint32_t s);

/* Whether a step was made float32 but got no kernel. Of an image step, x and y may be copies by now. */
static bool nnrti_cpu_is_half_left(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    const uint32_t out = step->nIn + step->nDerived;
    bool wide = false;
    if (step->op == NULL || step->open != NULL || step->kernel == NULL || strncmp(step->kernelName, "nnrt_cpu_", 9) == 0)
        return false;
    for (uint32_t k = 0; k < out + step->nOut; k++)
        wide = wide || (step->args[k].tensor >= e->wide && step->args[k].tensor < e->wideEnd);
    return wide || (nnrti_cpu_is_half_kernel(step) && nnrti_cpu_is_type(step, out, NNRT_DATA_TYPE_FLOAT32));
}

/* Undoes nnrti_cpu_widen_step: step s reads and writes float16 again, and the steps inserted for it are removed. */
static void nnrti_cpu_undo_widen_step(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *const step = &d->steps[s];
    for (uint32_t i = s; i-- > 0 && (nnrti_cpu_is_widening(e, &d->steps[i]) || d->steps[i].kernel == nnrti_cpu_copy);)
        for (uint32_t k = 0; k < step->nIn; k++)
            if (d->steps[i].kernel != NULL && step->args[k].tensor == d->steps[i].args[1].tensor) {
                step->args[k] = d->steps[i].args[0];
                d->steps[i].kernel = NULL;
                (void)nnrt_draft_changed(d, s, k);
            }
    for (uint32_t i = s + 1;
         i < d->nSteps && (nnrti_cpu_is_narrowing(e, &d->steps[i]) || d->steps[i].kernel == nnrti_cpu_copy); i++)
        for (uint32_t k = step->nIn + step->nDerived; k < step->nIn + step->nDerived + step->nOut; k++)
            if (d->steps[i].kernel != NULL && step->args[k].tensor == d->steps[i].args[0].tensor) {
                step->args[k] = d->steps[i].args[1];
                d->steps[i].kernel = NULL;
                (void)nnrt_draft_changed(d, s, k);
            }
}

/* Replaces a narrowing step and the widening step of its only reader by one step that rounds, in place if possible.
   Then sorts the axes of all float16 conversions by the strides of their results. */
static void nnrti_cpu_fuse_half_rounding(nnrti_cpu_edit *e)
{
    nnrt_draft *d = e->draft;
    for (uint32_t s = 0; s < d->nSteps; s++) {
        nnrt_draft_step *narrow = &d->steps[s];
        uint32_t i = s + 1;
        if (!nnrti_cpu_is_narrowing(e, narrow) || nnrt_draft_reader(d, narrow->args[1].tensor) == UINT32_MAX)
            continue;
        while (i < d->nSteps && (d->steps[i].kernel == NULL || (nnrti_cpu_is_widening(e, &d->steps[i]) &&
                                                                d->steps[i].args[0].tensor != narrow->args[1].tensor)))
            i++;
        if (i < d->nSteps && nnrti_cpu_is_widening(e, &d->steps[i])) {
            const nnrt_view *half = &d->steps[i].args[0].view, *wide = &d->steps[i].args[1].view;
            if (memcmp(half->strides, wide->strides, sizeof(half->strides)) != 0)
                continue;
            narrow->args[1].tensor = d->steps[i].args[1].tensor;
            narrow->args[1].view.dataType = NNRT_DATA_TYPE_FLOAT32;
            nnrti_cpu_set_kernel(narrow, &e->isa->round_half, NULL);
            narrow->flags = NNRT_OP_INPLACE;
            d->steps[i].kernel = NULL;
            (void)nnrt_draft_changed(d, s, 1);
        }
    }
    for (uint32_t s = 0; s < d->nSteps; s++)
        if (d->steps[s].kernel == e->isa->widen_half.run || d->steps[s].kernel == e->isa->narrow_half.run ||
            d->steps[s].kernel == e->isa->round_half.run)
            nnrti_cpu_sort_axes(&d->steps[s]);
}

/* The kernel of a CAST of these types, or NULL. */
static const nnrti_cpu_kernel *nnrti_cpu_cast_kernel(const nnrti_cpu_edit *e, NNRT_DataType from, NNRT_DataType to)
{
    if (from == NNRT_DATA_TYPE_FLOAT16)
        return to == NNRT_DATA_TYPE_FLOAT32 ? &e->isa->widen_half : NULL;
    if (from == NNRT_DATA_TYPE_INT32)
        return to == NNRT_DATA_TYPE_FLOAT32 ? &e->isa->cast : NULL;
    if (from != NNRT_DATA_TYPE_FLOAT32)
        return NULL;
    return to == NNRT_DATA_TYPE_FLOAT16                               ? &e->isa->narrow_half
           : to == NNRT_DATA_TYPE_INT8 || to == NNRT_DATA_TYPE_UINT8 ? &e->isa->cast
                                                                      : NULL;
}

static NNRT_ReturnCode nnrti_cpu_lower_cast(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    const nnrt_plan_arg x = d->steps[s].args[0], y = d->steps[s].args[d->steps[s].nIn + d->steps[s].nDerived];
    const nnrti_cpu_kernel *kernel = nnrti_cpu_cast_kernel(e, x.view.dataType, y.view.dataType);
    nnrti_cpu_blocks found;
    nnrt_plan_arg *args;
    if (kernel == NULL && nnrti_cpu_cast_of(x.view.dataType, y.view.dataType, &found) && x.view.quantCount == 0 &&
        y.view.quantCount == 0)
        kernel = &e->isa->cast_elements;
    if (kernel == NULL || !nnrti_cpu_is_allowed(e, kernel))
        return NNRT_SUCCESS;
    if ((args = nnrt_draft_args(d, s, 1, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = x;
    args[1] = y;
    d->steps[s].flags = 0;
    nnrti_cpu_sort_axes(&d->steps[s]);
    nnrti_cpu_set_kernel(&d->steps[s], kernel, NULL);
    return NNRT_SUCCESS;
}

/* A float16 elementwise step gets `elementwise_half`, which runs the float32 kernel `unary` or `binary` on chunks of
   widened elements. The step keeps the name of that kernel. */
static NNRT_ReturnCode nnrti_cpu_lower_elementwise_half(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step old = e->draft->steps[s];
    const uint32_t count = old.nIn + 1;
    nnrt_plan_arg args[3];
    nnrti_cpu_elementwise_half *a;
    NNRT_ReturnCode code;
    nnrt_draft_step *step;
    memcpy(args, old.args, count * sizeof(args[0]));
    for (uint32_t k = 0; k < count; k++) { /* no one may read constants now: they are float16 */
        old.args[k].view.dataType = NNRT_DATA_TYPE_FLOAT32;
        old.args[k].view.data = NULL;
        old.args[k].kind = NNRT_PLACE_ARENA;
    }
    code = nnrti_cpu_lower(e, s);
    step = &e->draft->steps[s];
    if (code == NNRT_SUCCESS && step->args == old.args && step->nIn + 1 == count && step->nDerived == 0 &&
        (step->kernel == e->isa->unary.run || step->kernel == e->isa->binary.run)) {
        if ((a = (nnrti_cpu_elementwise_half *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
            return nnrti_cpu_no_memory(e, step);
        a->run = step->kernel;
        a->attr = step->attr;
        a->nIn = step->nIn;
        step->kernel = e->isa->elementwise_half.run;
        step->attr = a;
        for (uint32_t k = 0; k < count; k++) { /* axes may have been sorted */
            step->args[k].view.dataType = NNRT_DATA_TYPE_FLOAT16;
            step->args[k].view.data = args[k].view.data;
            step->args[k].kind = args[k].kind;
        }
        return NNRT_SUCCESS;
    }
    memcpy(old.args, args, count * sizeof(args[0]));
    *step = old;
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>float64 */

/* Matrix multiplication of float64: FULL_CONNECTION and MATMUL_FUSION. The kernel (>>float64_gemm) has register tiles and
   packed panels as the float32 GEMM. Constant weights are packed in PrepareModel; a panel of another y is packed by the work
   items that use it, unless z has so few rows that packing would cost as much as the multiplication. x is read in place,
   whatever its strides, as each of its elements is broadcast. */

#define NNRTI_CPU_F64_ROWS 256 /* most rows of z per work item */

/* Whether a step is FULL_CONNECTION or MATMUL_FUSION of float64. */
static bool nnrti_cpu_is_matmul_f64(const nnrt_draft_step *step)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && step->nIn == 3 && step->nDerived == 0 &&
           step->nOut == 1 && nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_FLOAT64) &&
           (step->op->type == NNRT_NODE_TYPE_FULL_CONNECTION || step->op->type == NNRT_NODE_TYPE_MATMUL_FUSION);
}

static NNRT_ReturnCode nnrti_cpu_lower_matmul_f64(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const bool full = step->op->type == NNRT_NODE_TYPE_FULL_CONNECTION;
    const NNRT_MatMulFusion *attr = (const NNRT_MatMulFusion *)step->attr;
    const bool transposeA = !full && attr->transposeA, transposeB = full || attr->transposeB;
    const nnrt_plan_arg x = step->args[0], y = step->args[1], bias = step->args[2], z = step->args[3];
    const int32_t last = z.view.rank - 1, rankX = x.view.rank, rankY = y.view.rank, lanes = e->isa->lanes;
    nnrti_cpu_matmul_f64 *a;
    nnrt_plan_arg *args;
    int32_t packed[2], K;
    bool packs = y.kind == NNRT_PLACE_CONSTANT;
    void *data;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_is_allowed(e, &e->isa->matmul_f64) || rankX < 2 || rankY < 2 || last < 1 ||
        (z.view.strides[last] != 1 && z.view.dims[last] > 1))
        return NNRT_SUCCESS;
    for (int32_t i = 0; i < rankY - 2; i++)
        packs = packs && y.view.dims[i] == 1;
    K = packs ? y.view.dims[rankY - (transposeB ? 1 : 2)]
              : x.view.dims[rankX - (transposeA ? 2 : 1)]; /* maybe a bound */
    packed[0] = (y.view.dims[rankY - (transposeB ? 2 : 1)] + lanes - 1) / lanes;
    packed[1] = K * lanes;
    if (K < 1 || K > INT32_MAX / 64 || packed[0] < 1)
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_matmul_f64 *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(d, s, 3, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    a->transposeA = transposeA;
    a->transposeB = transposeB;
    a->packed = packs;
    a->rows = NNRTI_CPU_F64_ROWS;
    a->activation = full ? ((const NNRT_FullConnection *)step->attr)->activationType : attr->activationType;
    args[0] = x;
    if (!a->packed)
        args[1] = y;
    args[2] = bias;
    args[3] = z;
    nnrti_cpu_set_kernel(step, &e->isa->matmul_f64, a);
    step->flags = 0;
    step->scratchBytes = a->packed ? 0 : (size_t)packed[1] * sizeof(double);
    if (!a->packed)
        return NNRT_SUCCESS;
    code = nnrti_cpu_pack(e, s, NNRT_DATA_TYPE_FLOAT64, packed, &data);
    for (int32_t p = 0; p < packed[0] && code == NNRT_SUCCESS && data != NULL; p++)
        nnrti_cpu_pack_f64(&y.view, transposeB, p * lanes, lanes, (const double *)y.view.data,
                           (double *)data + (size_t)p * (size_t)packed[1]);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fft */

/* DFT and STFT by a fast Fourier transform (FFT), in n log n operations instead of the reference kernel's n^2. It is
   Stockham's: each stage of radix r reads r interleaved sub-transforms from one buffer and writes them, multiplied by twiddle
   factors, to another one, in an order that needs no bit reversal. Radices are 4, 2, 3, 5 and odd primes up to
   NNRTI_CPU_FFT_RADIX. SIMD lanes are transforms (`lanes` at a time, adjacent in the buffers), and then adjacent elements
   of a stage, so that a single transform has whole vectors from its third stage on.
       An even number of real values is a complex transform of half the length, whose result is separated. A length with
   a larger prime factor is a convolution with a chirp (Bluestein, "A linear filtering approach to the computation of
   discrete Fourier transform", 1970) by transforms of a power of two.
       Tables of cosines and sines are derived in PrepareModel, in double; a run with dynamic shapes makes them in its scratch.
   Rejected: the FFT of core/nnrt_frontend.h. It works in place, which halves the memory on a microcontroller, but its
   stages are scalar and its large prime factors quadratic. */

#define NNRTI_CPU_FFT_FLOATS 16384  /* floats of a buffer that several transforms at a time may fill */
#define NNRTI_CPU_FFT_MAX (1 << 24) /* values of a transform */
#define NNRTI_CPU_FFT_OTHERS 1024   /* more than the cosines and sines of all radices above 5 of a transform */

/* cos(2 pi i / n) and sin(2 pi i / n), 0 <= i < n, within 2^-52: the octant is exact, then follow Taylor series. */
static void nnrti_cpu_cos_sin(int64_t i, int64_t n, double *c, double *s)
{
    const int64_t octant = 8 * i / n, rest = 8 * i % n;
    const double t = (double)((octant & 1) != 0 ? n - rest : rest) / (double)n * 0.78539816339744831, w = t * t;
    double even = 1 / 20922789888000.0, odd = 1 / 355687428096000.0;
    static const double factors[] = {-1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0,
                                     -1 / 720.0,         1 / 24.0,        -1 / 2.0,       1};
    static const double others[] = {-1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0,
                                    -1 / 5040.0,          1 / 120.0,        -1 / 6.0,        1};
    for (int32_t k = 0; k < 8; k++) {
        even = even * w + factors[k];
        odd = odd * w + others[k];
    }
    odd *= t;
    *c = ((octant + 1) & 2) != 0 ? odd : even;
    *s = ((octant + 1) & 2) != 0 ? even : odd;
    if (octant >= 2 && octant < 6)
        *c = -*c;
    if (octant >= 4)
        *s = -*s;
}

/* Chooses the stages of a transform of n values; false: n has a prime factor above NNRTI_CPU_FFT_RADIX. */
static bool nnrti_cpu_fft_factor(nnrti_cpu_fft *a, int32_t n)
{
    a->stages = 0;
    for (int32_t r = 4; r <= NNRTI_CPU_FFT_RADIX; r = r == 4 ? 2 : r == 2 ? 3 : r + 2)
        for (; n % r == 0; n /= r)
            a->radix[a->stages++] = r;
    return n == 1;
}

/* The power of two in which a convolution for a transform of n values fits. */
static int32_t nnrti_cpu_fft_padded(int32_t n)
{
    int32_t P = 4;
    while (P < 2 * n - 1)
        P *= 2;
    return P;
}

/* Fills a, except lanes and buffer, for N values; returns the floats of the tables. */
static int32_t nnrti_cpu_fft_plan(nnrti_cpu_fft *a)
{
    int32_t floats = 0, n;
    a->length = (a->realIn || a->realOut) && a->N % 2 == 0 ? a->N / 2 : a->N;
    a->padded = 0;
    if (!nnrti_cpu_fft_factor(a, a->length)) {
        a->padded = nnrti_cpu_fft_padded(a->length);
        (void)nnrti_cpu_fft_factor(a, a->padded);
    }
    n = a->padded > 0 ? a->padded : a->length;
    for (int32_t i = 0; i < a->stages; n /= a->radix[i++])
        floats += nnrti_cpu_fft_stage_floats(n, a->radix[i]);
    a->halves = (size_t)floats;
    floats += a->length < a->N ? 2 * (a->length + 1) : 0;
    a->chirp = (size_t)floats;
    return floats + (a->padded > 0 ? 2 * (a->length + a->padded) : 0);
}

/* At least the floats of the tables, and of a buffer, of every transform of up to N values. */
static void nnrti_cpu_fft_bounds(int32_t N, int32_t lanes, int32_t *tables, size_t *buffer)
{
    const int32_t P = nnrti_cpu_fft_padded(N);
    const int64_t most = (int64_t)P * lanes < NNRTI_CPU_FFT_FLOATS ? (int64_t)P * lanes : NNRTI_CPU_FFT_FLOATS;
    *tables = 4 * P + 4 * N + NNRTI_CPU_FFT_OTHERS;
    *buffer = (size_t)(P > most ? P : most) + 2 * (size_t)lanes;
}

/* Chooses the transforms at a time, of `count`, and with them the buffers: enough for whole vectors, unless they are so
   long that the buffers would leave the cache, or other threads would be idle. */
static void nnrti_cpu_fft_choose_lanes(nnrti_cpu_fft *a, int64_t count, const nnrti_cpu_edit *e)
{
    const int32_t most = a->padded > a->length + 1 ? a->padded : a->length + 1, lanes = e->isa->lanes;
    const int64_t workers = e->draft->workers;
    a->lanes = 1;
    while (!e->smallest && a->lanes < lanes && a->lanes < count &&
           (int64_t)2 * a->lanes * most <= NNRTI_CPU_FFT_FLOATS && 2 * a->lanes * workers < count + 2 * workers)
        a->lanes *= 2;
    a->buffer = (size_t)((int64_t)most * a->lanes + lanes);
    a->buffer = (a->buffer + (size_t)lanes - 1) / (size_t)lanes * (size_t)lanes;
}

/* to[0] + i to[1] = e^(-2 pi i k / n) * factor. */
static void nnrti_cpu_fft_root(int64_t k, int64_t n, double factor, float *to)
{
    double c, s;
    nnrti_cpu_cos_sin(k % n, n, &c, &s);
    to[0] = (float)(c * factor);
    to[1] = (float)(-s * factor);
}

/* Transforms P complex numbers, P a power of two, in place. */
static void nnrti_cpu_fft_filter(double *z, int32_t P)
{
    for (int32_t i = 1, r = 0; i < P; i++) { /* bit-reversed order */
        int32_t bit = P / 2;
        for (; (r & bit) != 0; bit /= 2)
            r ^= bit;
        r |= bit;
        for (int32_t k = 0; k < 2 && i < r; k++) {
            const double swapped = z[2 * i + k];
            z[2 * i + k] = z[2 * r + k];
            z[2 * r + k] = swapped;
        }
    }
    for (int32_t n = 2; n <= P; n *= 2)
        for (int32_t k = 0; k < n / 2; k++) {
            double c, s;
            nnrti_cpu_cos_sin(k, n, &c, &s);
            for (int32_t i = k; i < P; i += n) {
                double *const a = z + 2 * i, *const b = z + 2 * (i + n / 2);
                const double re = b[0] * c + b[1] * s, im = b[1] * c - b[0] * s;
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
        }
}

/* Fills the tables: of the stages; halves of the N-th roots of unity, which separate the two halves of real values; with
   a convolution the chirp e^(-pi i n^2 / length), then the transform of its conjugate, divided by `padded`. work: 2 * padded
   doubles. */
static void nnrti_cpu_fft_tables(const nnrti_cpu_fft *a, float *to, double *work)
{
    const int64_t L = a->length;
    int32_t n = a->padded > 0 ? a->padded : a->length;
    for (int32_t i = 0; i < a->stages; n /= a->radix[i++]) {
        const int32_t r = a->radix[i];
        for (int32_t p = 0; p < n / r; p++)
            for (int32_t k = 1; k < r; k++, to += 2)
                nnrti_cpu_fft_root((int64_t)p * k, n, 1, to);
        for (int32_t k = 0; k < r && r > 5; k++, to += 2)
            nnrti_cpu_fft_root(k, r, 1, to);
    }
    for (int32_t k = 0; k <= a->length && a->length < a->N; k++, to += 2)
        nnrti_cpu_fft_root(k, a->N, 0.5, to);
    if (a->padded == 0)
        return;
    memset(work, 0, 2 * (size_t)a->padded * sizeof(*work));
    for (int64_t k = 0; k < L; k++, to += 2) {
        double c, s;
        nnrti_cpu_cos_sin(k * k % (2 * L), 2 * L, &c, &s);
        to[0] = (float)c;
        to[1] = (float)-s;
        for (int32_t side = 0; side < 2; side++) {
            double *const w = work + 2 * (side == 0 || k == 0 ? k : a->padded - k);
            w[0] = c;
            w[1] = s;
        }
    }
    nnrti_cpu_fft_filter(work, a->padded);
    for (int32_t k = 0; k < 2 * a->padded; k++)
        to[k] = (float)(work[k] / a->padded);
}

/* Fills a for a DFT or STFT of the dimensions of `step`; false: it gets no kernel. bound: N is an upper bound, as the run
   determines it. */
static bool nnrti_cpu_fft_of(const nnrt_draft_step *step, bool bound, nnrti_cpu_fft *a)
{
    const bool frames = step->op->type == NNRT_NODE_TYPE_STFT;
    const NNRT_DFT *dft = (const NNRT_DFT *)step->attr;
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view;
    const uint32_t given = frames ? 3 : 1; /* the argument that determines N */
    const bool any = step->nIn > given && step->args[given].tensor != NNRT_NO_TENSOR;
    const bool onesided = frames ? ((const NNRT_STFT *)step->attr)->onesided != 0 : dft->onesided != 0;
    int64_t N;
    memset(a, 0, sizeof(*a));
    a->axis = frames ? 2 : (int32_t)dft->axis;
    a->inverse = !frames && dft->inverse != 0;
    a->realOut = a->inverse && onesided;
    a->realIn = x->dims[x->rank - 1] == 1;
    if (bound) { /* y has all frequencies, or N / 2 + 1 */
        N = onesided && !a->realOut ? 2 * (int64_t)y->dims[a->axis] - 1 : y->dims[a->axis];
        a->hop = frames;
    } else {
        if ((any && step->args[given].view.data == NULL) || (frames && step->args[1].view.data == NULL))
            return false;
        N = any          ? nnrt_load_index(&step->args[given].view, 0)
            : frames     ? step->args[2].view.dims[0]
            : a->realOut ? 2 * ((int64_t)x->dims[a->axis] - 1)
                         : x->dims[a->axis];
        a->hop = frames ? nnrt_load_index(&step->args[1].view, 0) : 0;
    }
    if (N < 1 || N > NNRTI_CPU_FFT_MAX || nnrt_view_empty(y))
        return false;
    a->N = (int32_t)N;
    a->used = a->realOut ? a->N / 2 + 1 : a->N;
    if (!frames && x->dims[a->axis] < a->used)
        a->used = x->dims[a->axis];
    return true;
}

/* DFT and STFT of float32 and float16. */
static NNRT_ReturnCode nnrti_cpu_lower_fft(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const nnrt_plan_arg x = step->args[0], y = step->args[step->nIn + step->nDerived];
    const bool frames = step->op->type == NNRT_NODE_TYPE_STFT, bound = e->dynamic != NULL && e->packed == NULL;
    const nnrt_plan_arg window = step->args[frames ? 2 : 0];
    nnrti_cpu_fft found, *a;
    nnrt_plan_arg *args;
    int32_t floats, doubles;
    int64_t count = 1;
    void *tables, *work = NULL;
    NNRT_ReturnCode code;
    if (!nnrti_cpu_is_allowed(e, &e->isa->fft) || step->kernel == NULL || step->nDerived != 0 ||
        !nnrti_cpu_fft_of(step, bound, &found) || (!bound && found.N < NNRTI_CPU_FFT_LEAST))
        return NNRT_SUCCESS;
    if ((a = (nnrti_cpu_fft *)nnrt_memory_keep(d->memory, sizeof(*a))) == NULL ||
        (args = nnrt_draft_args(d, s, 2, 1)) == NULL)
        return nnrti_cpu_no_memory(e, step);
    floats = nnrti_cpu_fft_plan(&found);
    for (int32_t i = 0; i < y.view.rank - 1; i++)
        count *= i == found.axis ? 1 : y.view.dims[i];
    nnrti_cpu_fft_choose_lanes(&found, count, e);
    doubles = 2 * found.padded;
    if (bound) {
        nnrti_cpu_fft_bounds(found.N, e->isa->lanes, &floats, &found.buffer);
        doubles = 2 * nnrti_cpu_fft_padded(found.N);
    }
    *a = found;
    args[0] = x;
    if (frames)
        args[1] = window;
    args[2] = y;
    nnrti_cpu_set_kernel(step, &e->isa->fft, a);
    step->flags = 0;
    step->scratchBytes = 4 * found.buffer * sizeof(float);
    if ((code = nnrti_cpu_tabulate(e, s, NNRT_DATA_TYPE_FLOAT32, 1, &floats, &tables)) != NNRT_SUCCESS)
        return code;
    if (doubles > 0 && e->dynamic != NULL)
        code = nnrti_cpu_tabulate(e, s, NNRT_DATA_TYPE_FLOAT64, 1, &doubles, &work);
    else if (doubles > 0 && (work = nnrt_memory_temp_array(d->memory, (size_t)doubles, sizeof(double))) == NULL)
        code = nnrti_cpu_no_memory(e, step);
    if (code == NNRT_SUCCESS && tables != NULL)
        nnrti_cpu_fft_tables(a, (float *)tables, (double *)work);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>concat */

/* CONCAT and SPLIT without copies. A tensor that CONCAT joins becomes a slice of the CONCAT's result: its writer
   writes there, through a view with the result's strides and an offset. Likewise, readers of a slice of SPLIT read
   the input in place. The pass runs before kernel selection, over steps whose kernels work with strided pixels
   (image steps); CONCAT of CONCAT is resolved from the last step to the first. Invariant: the slice has no other
   reader or writer, and no LOOP or IF begins between writer and CONCAT, so the planner may merge the lifetimes. The
   planner needs no alias mechanism for this: views and offsets suffice. */

/* Whether a step is a CONCAT whose result, larger than each of its inputs, fits 32 bits. */
static bool nnrti_cpu_is_concat(const nnrt_draft_step *step)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL &&
           strcmp(step->kernelName, "nnrt_concat") == 0 &&
           nnrti_cpu_is_eligible_arg(&step->args[step->nIn + step->nDerived], true);
}

/* Whether a step is a CONCAT of 8 bits that requantizes, all of whose operands have one scale: none has an axis of them. */
static bool nnrti_cpu_is_concat_q8(const nnrt_draft_step *step)
{
    bool one = nnrti_cpu_is_q8_step(step, "nnrt_concat_q8") && step->nDerived == 1;
    for (uint32_t k = 0; one && k < step->nIn + 2; k++)
        one = k == step->nIn || step->args[k].view.quantCount <= 1;
    return one;
}

/* Whether all inputs of CONCAT step s can be written in place: each is the result of an image step or of another
   CONCAT that nothing else reads. With move, redirects the writers to their slices of the result. */
static bool nnrti_cpu_write_slices(nnrti_cpu_edit *e, uint32_t s, bool move)
{
    nnrt_draft *d = e->draft;
    const nnrt_draft_step *step = &d->steps[s];
    const nnrt_plan_arg *y = &step->args[step->nIn + step->nDerived];
    const int64_t axis = ((const NNRT_Concat *)step->attr)->axis;
    size_t offset = y->offset;
    for (uint32_t k = 0; k < step->nIn; k++) {
        const nnrt_plan_arg *x = &step->args[k];
        const uint32_t from = nnrt_draft_writer(d, x->tensor);
        nnrt_plan_arg *made;
        nnrt_view moved;
        if (from >= s || nnrt_view_empty(&x->view) || nnrt_draft_reader(d, x->tensor) == UINT32_MAX ||
            e->opens[from] != e->opens[s] || /* a LOOP or an IF begins or ends between them */
            (!nnrti_cpu_is_image_op(&d->steps[from]) && !nnrti_cpu_is_concat(&d->steps[from])))
            return false;
        made = &d->steps[from].args[d->steps[from].nIn + d->steps[from].nDerived];
        moved = made->view;
        if (made->tensor != x->tensor || !nnrt_view_in_slice(&moved, &x->view, &y->view) ||
            (!nnrti_cpu_is_nhwc(&moved) && !nnrti_cpu_is_concat(&d->steps[from])))
            return false;
        if (move) {
            made->tensor = y->tensor;
            made->kind = y->kind;
            made->offset = offset;
            made->view = moved;
            (void)nnrt_draft_changed(d, from, d->steps[from].nIn + d->steps[from].nDerived);
        }
        offset += (size_t)x->view.dims[axis] * (size_t)y->view.strides[axis] * nnrt_type_size(y->view.dataType);
    }
    return true;
}

/* Whether input k of a step may be a slice of an image, whose pixels are further apart than its number of channels.
   A convolution with several taps would have to compact its rows first. */
static bool nnrti_cpu_reads_slice(const nnrt_draft_step *step, uint32_t k, const nnrt_view *part)
{
    const nnrt_view *w = &step->args[1].view;
    if (nnrti_cpu_is_concat(step))
        return true;
    return k == 0 && nnrti_cpu_is_image_op(step) && nnrti_cpu_is_nhwc(part) &&
           (step->op->type == NNRT_NODE_TYPE_MAX_POOL_FUSION || step->op->type == NNRT_NODE_TYPE_AVGPOOL_FUSION ||
            step->op->type == NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD ||
            (step->op->type == NNRT_NODE_TYPE_CONV2D_FUSION && w->dims[3] == 1 && w->dims[0] == part->dims[3]) ||
            (step->op->type == NNRT_NODE_TYPE_CONV2D_FUSION && w->dims[1] == 1 && w->dims[2] == 1));
}

/* Whether all readers of a SPLIT result y can read it in place in x, `offset` bytes from its start. With move,
   redirects them. Returns their number; 0: none, or some reader cannot. */
static uint32_t nnrti_cpu_read_slice(nnrti_cpu_edit *e, const nnrt_plan_arg *x, nnrt_plan_arg y, size_t offset,
                                     bool move)
{
    nnrt_draft *d = e->draft;
    const uint32_t readers = nnrt_draft_readers(d, y.tensor);
    nnrt_draft_use use = nnrt_draft_uses(d, y.tensor);
    uint32_t found = 0;
    for (; nnrt_draft_next(d, &use); found++) {
        nnrt_plan_arg *arg = &d->steps[use.step].args[use.argument];
        nnrt_view moved = arg->view;
        if (!nnrt_view_in_slice(&moved, &y.view, &x->view) ||
            !nnrti_cpu_reads_slice(&d->steps[use.step], use.argument, &moved))
            return 0;
        if (move) {
            arg->tensor = x->tensor;
            arg->kind = x->kind;
            arg->offset = offset;
            arg->view = moved;
            (void)nnrt_draft_changed(d, use.step, use.argument);
            use = nnrt_draft_uses(d, y.tensor);
        }
    }
    return found == readers ? found : 0;
}

/* The same for all results of a SPLIT that exist. */
static uint32_t nnrti_cpu_read_slices(nnrti_cpu_edit *e, uint32_t s, bool move)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_Split *attr = (const NNRT_Split *)step->attr;
    const nnrt_plan_arg x = step->args[0];
    size_t offset = x.offset;
    uint32_t all = 0;
    for (uint32_t k = 0; k < step->nOut; k++) {
        const nnrt_plan_arg *y = &step->args[step->nIn + step->nDerived + k];
        if (y->tensor != NNRT_NO_TENSOR) {
            const uint32_t readers = nnrt_view_empty(&y->view) ? 0 : nnrti_cpu_read_slice(e, &x, *y, offset, move);
            if (readers == 0 && !move)
                return 0;
            all += readers;
        }
        offset +=
            (size_t)attr->sizeSplits.data[k] * (size_t)x.view.strides[attr->axis] * nnrt_type_size(x.view.dataType);
    }
    return all;
}

/* Whether a step is a SPLIT whose slices can be read in place, of an image that a step of the run computes. At least
   two readers must remain: a single reader would be mistaken for the only reader of the whole tensor by later
   fusions. */
static bool nnrti_cpu_can_elide_split(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    if (step->kernel == NULL || strcmp(step->kernelName, "nnrt_split") != 0 || !nnrti_cpu_is_eligible(step) ||
        step->args[0].kind == NNRT_PLACE_CONSTANT || step->args[0].view.dataType != NNRT_DATA_TYPE_FLOAT32)
        return false;
    if (step->args[0].tensor < e->tensors && (e->uses[step->args[0].tensor] & NNRTI_CPU_USE_INPUT) != 0)
        return false;
    return nnrti_cpu_read_slices(e, s, false) > 1;
}

/* Removes a CONCAT whose inputs can be written in place, or a SPLIT whose results can be read in place. */
static void nnrti_cpu_elide_concat_split(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    if ((nnrti_cpu_is_concat(step) && nnrti_cpu_write_slices(e, s, false) && nnrti_cpu_write_slices(e, s, true)) ||
        (nnrti_cpu_can_elide_split(e, s) && nnrti_cpu_read_slices(e, s, true) > 0))
        step->kernel = NULL;
}

/* Whether all elements of a constant have the same bytes. */
static bool nnrti_cpu_is_one_value(const nnrt_plan_arg *arg)
{
    const size_t width = nnrt_type_size(arg->view.dataType);
    size_t count;
    return arg->kind == NNRT_PLACE_CONSTANT && arg->view.data != NULL && nnrt_view_dense(&arg->view) &&
           nnrt_dims_count(arg->view.dims, arg->view.rank, &count) && count > 0 &&
           memcmp(arg->view.data, (const uint8_t *)arg->view.data + width, (count - 1) * width) == 0;
}

/* A CONCAT that copies: sorts its axes by memory order. A constant of one value is read as a broadcast scalar, in any
   layout of the result. */
static NNRT_ReturnCode nnrti_cpu_lower_concat(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view list = step->args[step->nIn].view; /* how to requantize, if that is derived */
    nnrti_cpu_concat *attr; /* also of the reference kernel, which reads its first member */
    if (!nnrti_cpu_is_concat(step) && !nnrti_cpu_is_concat_q8(step))
        return NNRT_SUCCESS;
    if ((attr = (nnrti_cpu_concat *)nnrt_memory_keep(e->draft->memory, sizeof(*attr))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    attr->concat = *(const NNRT_Concat *)step->attr;
    attr->lookup = e->isa->lookup;
    for (uint32_t k = 0; k < step->nIn; k++)
        if (nnrti_cpu_is_one_value(&step->args[k]))
            memset(step->args[k].view.strides, 0, sizeof(step->args[k].view.strides));
    attr->concat.axis = nnrti_cpu_sort_axes_by(step, &step->args[step->nIn + step->nDerived], (int32_t)attr->concat.axis);
    if (step->nDerived > 0)
        step->args[step->nIn].view = list;
    step->attr = attr;
    if (nnrt_type_size(step->args[0].view.dataType) == 1 && nnrti_cpu_is_allowed(e, &e->isa->concat_bytes)) {
        step->kernel = e->isa->concat_bytes.run;
        step->kernelName = e->isa->concat_bytes.name;
    }
    return NNRT_SUCCESS;
}

/* The same for a SPLIT. */
static NNRT_ReturnCode nnrti_cpu_lower_split(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    NNRT_Split *attr;
    if (step->kernel == NULL || strcmp(step->kernelName, "nnrt_split") != 0)
        return NNRT_SUCCESS;
    if ((attr = (NNRT_Split *)nnrt_memory_keep(e->draft->memory, sizeof(*attr))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    *attr = *(const NNRT_Split *)step->attr;
    attr->axis = nnrti_cpu_sort_axes_by(step, &step->args[0], (int32_t)attr->axis);
    step->attr = attr;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>edit */

/* The edit pass of the device over a draft, in this order: read the configuration; widen float16 steps; choose the
   layout; insert layout copies; remove CONCAT and SPLIT; fuse TRANSPOSE and NaN-propagating Max and Min; select a
   kernel for each step, in execution order, with epilogue fusion; undo unused widening; fuse depthwise chains. Steps
   are inserted only before nnrti_cpu_index, so the def-use lists stay valid; a removed step has kernel NULL until
   the plan is made. The pass never fails because a step has no kernel. */

/* Whether all tensors that a step computes with are float32; the axes of REDUCE_FUSION and packed float16 weights
   are exempt. */
static bool nnrti_cpu_is_float(const nnrt_draft_step *step)
{
    const uint32_t out = step->nIn + step->nDerived;
    for (uint32_t k = 0; k < out + step->nOut; k++)
        if (step->args[k].tensor != NNRT_NO_TENSOR && step->args[k].view.dataType != NNRT_DATA_TYPE_FLOAT32 &&
            !nnrti_cpu_is_packed_half(step, k) &&
            (step->op->type != NNRT_NODE_TYPE_REDUCE_FUSION || k == 0 || k == out))
            return false;
    return true;
}

/* A 2-D pool that no image kernel computes: if it is global, a pool of channels last, or a reduction. */
static NNRT_ReturnCode nnrti_cpu_lower_global_pool(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const bool largest = step->op->type == NNRT_NODE_TYPE_MAX_POOL_FUSION;
    if (!nnrti_cpu_is_global(step))
        return NNRT_SUCCESS;
    if (nnrti_cpu_is_nhwc(&step->args[0].view) && nnrti_cpu_is_nhwc(&step->args[step->nIn + step->nDerived].view))
        return nnrti_cpu_lower_pool(e, s);
    return nnrti_cpu_lower_reduction(e, s, NULL, largest ? NNRT_REDUCE_MODE_MAX : NNRT_REDUCE_MODE_MEAN, 1.0f);
}

/* In >>dynamic. */
static NNRT_ReturnCode nnrti_cpu_lower_dynamic(nnrti_cpu_edit *e, uint32_t s);

/* Kernel selection: dispatches step s by its operator to the nnrti_cpu_lower_X function that may give it a kernel. */
static NNRT_ReturnCode nnrti_cpu_lower(nnrti_cpu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrti_cpu_integers integers;
    nnrti_cpu_blocks elements;
    nnrti_cpu_classify classify;
    bool joined = false;
    NNRT_ReturnCode code;
#if NNRT_CPU_FP16
    nnrti_cpu_half_gemm half;
#endif
    if (nnrti_cpu_exchange(e, s))
        return NNRT_SUCCESS;
    if (step->open != NULL)
        return nnrti_cpu_lower_dynamic(e, s);
    if (step->op != NULL && step->op->type == NNRT_NODE_TYPE_ATTENTION) /* there may be no past keys */
        return nnrti_cpu_lower_attention(e, s);
    if (!nnrti_cpu_is_eligible(step))
        return NNRT_SUCCESS;
    if (nnrti_cpu_is_recurrent(step))
        return nnrti_cpu_lower_recurrent(e, s);
    if (nnrti_cpu_is_elementwise_half(step))
        return nnrti_cpu_lower_elementwise_half(e, s);
#if NNRT_CPU_FP16
    if (nnrti_cpu_half_gemm_of(e, step, &half) && nnrti_cpu_is_nhwc(&half.x.view) && nnrti_cpu_is_nhwc(&half.y.view))
        return nnrti_cpu_lower_half_gemm(e, s, &half);
    if (nnrti_cpu_is_half_conv(step))
        return NNRT_SUCCESS;
#endif
    switch (step->op->type) { /* operators with arguments of other types */
    case NNRT_NODE_TYPE_EQUAL:
    case NNRT_NODE_TYPE_NOT_EQUAL:
    case NNRT_NODE_TYPE_LESS:
    case NNRT_NODE_TYPE_LESS_EQUAL:
    case NNRT_NODE_TYPE_GREATER:
    case NNRT_NODE_TYPE_GREATER_EQUAL:
        return step->args[0].view.quantCount > 0 ? nnrti_cpu_lower_tables(e, s) : nnrti_cpu_lower_compare(e, s);
    case NNRT_NODE_TYPE_WHERE:
    case NNRT_NODE_TYPE_SELECT: return nnrti_cpu_lower_where(e, s);
    case NNRT_NODE_TYPE_ARGMAX_FUSION:
    case NNRT_NODE_TYPE_ARGMIN_FUSION: return nnrti_cpu_lower_argminmax(e, s);
    case NNRT_NODE_TYPE_RESIZE: return nnrti_cpu_lower_resize(e, s);
    case NNRT_NODE_TYPE_ROTARY_EMBEDDING:
    case NNRT_NODE_TYPE_COL2IM:
    case NNRT_NODE_TYPE_CONV_TRANSPOSE_3D:
    case NNRT_NODE_TYPE_HARDMAX:
    case NNRT_NODE_TYPE_RESIZE_ND: return nnrti_cpu_lower_portable(e, s);
    case NNRT_NODE_TYPE_CONV_3D: /* of fixed shapes: before layout copies are inserted (nnrti_cpu_copy_images) */
        return e->dynamic != NULL && e->dynamic->volume ? nnrti_cpu_lower_conv3d(e, s) : NNRT_SUCCESS;
    case NNRT_NODE_TYPE_TOPK_FUSION:
    case NNRT_NODE_TYPE_BOTTOM_K: return nnrti_cpu_lower_topk(e, s);
    case NNRT_NODE_TYPE_EINSUM: return nnrti_cpu_lower_einsum(e, s);
    case NNRT_NODE_TYPE_MATMUL_NBITS: return nnrti_cpu_lower_nbits(e, s);
    case NNRT_NODE_TYPE_MATMUL_INTEGER: return nnrti_cpu_lower_matmul_integer(e, s);
    case NNRT_NODE_TYPE_CAST: return nnrti_cpu_lower_cast(e, s);
    case NNRT_NODE_TYPE_TRANSPOSE: return nnrti_cpu_lower_transpose(e, s);
    case NNRT_NODE_TYPE_CONCAT: return nnrti_cpu_lower_concat(e, s);
    case NNRT_NODE_TYPE_SPLIT: return nnrti_cpu_lower_split(e, s);
    case NNRT_NODE_TYPE_DFT:
    case NNRT_NODE_TYPE_STFT: return nnrti_cpu_lower_fft(e, s);
    default: break;
    }
    if (nnrti_cpu_integers_of(step, &integers))
        return nnrti_cpu_lower_integers(e, s, &integers);
    if (nnrti_cpu_elements_of(step, &elements))
        return nnrti_cpu_lower_elements(e, s, &elements);
    if (nnrti_cpu_classify_of(step, &classify))
        return nnrti_cpu_lower_classify(e, s, &classify);
    if (nnrti_cpu_is_half_reduction(step))
        return nnrti_cpu_lower_reduce(e, s);
    if (nnrti_cpu_is_matmul_f64(step))
        return nnrti_cpu_lower_matmul_f64(e, s);
    if (!nnrti_cpu_is_float(step))
        return nnrti_cpu_lower_q8(e, s);
    if (nnrti_cpu_is_image_op(step) &&
        (nnrti_cpu_is_nhwc(&step->args[0].view) || nnrti_cpu_reads_nchw(e, step)) &&
        nnrti_cpu_is_nhwc(&step->args[step->nIn + step->nDerived].view))
        return step->op->type == NNRT_NODE_TYPE_CONV2D_FUSION             ? nnrti_cpu_lower_conv(e, s)
               : step->op->type == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION ? nnrti_cpu_lower_conv_multi_gemm(e, s)
                                                                          : nnrti_cpu_lower_pool(e, s);
    switch (step->op->type) {
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION: return nnrti_cpu_lower_global_pool(e, s);
    case NNRT_NODE_TYPE_FULL_CONNECTION: return nnrti_cpu_lower_full_connection(e, s);
    case NNRT_NODE_TYPE_MATMUL_FUSION: return nnrti_cpu_lower_matmul(e, s);
    case NNRT_NODE_TYPE_ADD_FUSION:
        if (e->dynamic == NULL && ((code = nnrti_cpu_fuse_bias(e, s, &joined)) != NNRT_SUCCESS || joined ||
                                   (code = nnrti_cpu_fuse_residual(e, s, &joined)) != NNRT_SUCCESS || joined))
            return code;
        return nnrti_cpu_lower_elementwise(e, s);
    case NNRT_NODE_TYPE_MAX_POOL_3D:
    case NNRT_NODE_TYPE_AVERAGE_POOL_3D: return nnrti_cpu_lower_pool_nd(e, s);
    case NNRT_NODE_TYPE_SOFTMAX:
    case NNRT_NODE_TYPE_LAYER_NORM_FUSION: return nnrti_cpu_lower_softmax_layer_norm(e, s);
    case NNRT_NODE_TYPE_LOG_SOFTMAX:
    case NNRT_NODE_TYPE_RMS_NORMALIZATION: return nnrti_cpu_lower_log_softmax_rms_norm(e, s);
    case NNRT_NODE_TYPE_LRN: return nnrti_cpu_lower_lrn(e, s);
    case NNRT_NODE_TYPE_L2_NORMALIZE_FUSION:
    case NNRT_NODE_TYPE_LP_NORMALIZATION: return nnrti_cpu_lower_lp_norm(e, s);
    case NNRT_NODE_TYPE_REDUCE_FUSION: return nnrti_cpu_lower_reduce(e, s);
    case NNRT_NODE_TYPE_INSTANCE_NORM:
    case NNRT_NODE_TYPE_GROUP_NORM_FUSION: return nnrti_cpu_lower_group_norm(e, s);
    case NNRT_NODE_TYPE_SCALE_FUSION:
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM: return nnrti_cpu_lower_affine(e, s);
    default: return nnrti_cpu_lower_elementwise(e, s);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>dynamic */

/* Steps with dynamic shapes are lowered twice, by the same functions: in PrepareModel for the upper bounds, which chooses
   the kernel, packs constants and reserves scratch; and in each run for the actual dimensions
   (nnrti_cpu_run_dynamic). So a size runs as in a model of that fixed size, broadcasting of dimensions of 1 included.
   Lowering in a run takes its memory from the stack and its packed constants from PrepareModel, and must choose the
   same kernel, on which these depend; sizes that the kernel does not support run the reference kernel. Operators
   of such steps are fused only if one of them has the dimensions of the fused result (nnrti_cpu_fuse_dynamic_max_min,
   nnrti_cpu_fuse_dynamic_residual), as a run resolves each node by itself. Rejected: kernels that interpret the
   dimensions of the run themselves, which would decide everything in two places.

   Steps on images compute channels last, from and into copies in scratch; layout propagation removes the copies between
   such steps (nnrti_cpu_layouts). Steps in float16 compute with float32 copies, for the reasons in >>float16. Scratch is
   that of each worker for the largest of all sizes, then the copies for the bounds, then tables that follow from the
   dimensions of the run (nnrti_cpu_tabulate). */

#define NNRTI_CPU_DYNAMIC_BYTES 8192 /* of the stack: lists of arguments and attributes while a run lowers a step */

/* Whether a step with dynamic shapes computes images channels last: convolutions, pools, also global ones, RESIZE. */
static bool nnrti_cpu_is_dynamic_image(const nnrt_draft_step *step)
{
    const nnrt_plan_arg *x = &step->args[0], *y = &step->args[step->nIn + step->nDerived];
    switch (step->op->type) {
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_RESIZE:
        if (nnrti_cpu_is_eligible(step) && x->view.rank == 4 && y->view.rank == 4 && x->kind != NNRT_PLACE_CONSTANT &&
            (step->op->type != NNRT_NODE_TYPE_RESIZE ? nnrti_cpu_is_global(step)
                                                     : x->view.dataType == NNRT_DATA_TYPE_FLOAT32 ||
                                                           nnrti_cpu_is_q8_step(step, "nnrt_resize_q8")))
            return true;
        break;
    default: break;
    }
    return nnrti_cpu_is_image_op(step);
}

/* Whether a step with dynamic shapes may get a kernel: its packed constants do not depend on dynamic dimensions, and the
   scratch for the upper bounds suffices for all sizes. */
static bool nnrti_cpu_may_be_dynamic(const nnrt_draft_step *step)
{
    nnrti_cpu_elementwise found;
    nnrti_cpu_integers integers;
    nnrti_cpu_blocks elements;
    nnrti_cpu_classify classify;
    nnrti_cpu_tables tables;
    if (step->op == NULL || step->kernel == NULL || step->nIn + step->nDerived + step->nOut > NNRTI_CPU_DYNAMIC_ARGS - 2)
        return false;
    switch (step->op->type) {
    case NNRT_NODE_TYPE_EQUAL:
    case NNRT_NODE_TYPE_NOT_EQUAL:
    case NNRT_NODE_TYPE_LESS:
    case NNRT_NODE_TYPE_LESS_EQUAL:
    case NNRT_NODE_TYPE_GREATER:
    case NNRT_NODE_TYPE_GREATER_EQUAL:
    case NNRT_NODE_TYPE_WHERE:
    case NNRT_NODE_TYPE_SELECT:
    case NNRT_NODE_TYPE_ARGMAX_FUSION:
    case NNRT_NODE_TYPE_ARGMIN_FUSION:
    case NNRT_NODE_TYPE_TOPK_FUSION:
    case NNRT_NODE_TYPE_BOTTOM_K:
    case NNRT_NODE_TYPE_TRANSPOSE:
    case NNRT_NODE_TYPE_CAST:
    case NNRT_NODE_TYPE_EINSUM:
    case NNRT_NODE_TYPE_MATMUL_INTEGER:
    case NNRT_NODE_TYPE_MATMUL_NBITS:
    case NNRT_NODE_TYPE_ATTENTION:
    case NNRT_NODE_TYPE_DFT:
    case NNRT_NODE_TYPE_STFT:
    case NNRT_NODE_TYPE_ROTARY_EMBEDDING:
    case NNRT_NODE_TYPE_COL2IM:
    case NNRT_NODE_TYPE_CONV_TRANSPOSE_3D:
    case NNRT_NODE_TYPE_HARDMAX:
    case NNRT_NODE_TYPE_RESIZE_ND:
    case NNRT_NODE_TYPE_LSTM_PEEPHOLE:
    case NNRT_NODE_TYPE_GRU:
    case NNRT_NODE_TYPE_RNN: return true;
    case NNRT_NODE_TYPE_LSTM: return ((const NNRT_LSTM *)step->attr)->numLayers == 1; /* others need a tensor between layers */
    case NNRT_NODE_TYPE_FULL_CONNECTION:
    case NNRT_NODE_TYPE_MATMUL_FUSION:
        return nnrti_cpu_is_float(step) || nnrti_cpu_is_matmul_f64(step) ||
               nnrti_cpu_is_q8_step(step, "nnrt_full_connection_q8") ||
               nnrti_cpu_is_q8_step(step, "nnrt_matmul_fusion_q8");
    case NNRT_NODE_TYPE_SOFTMAX:
    case NNRT_NODE_TYPE_LAYER_NORM_FUSION:
    case NNRT_NODE_TYPE_LOG_SOFTMAX:
    case NNRT_NODE_TYPE_RMS_NORMALIZATION:
    case NNRT_NODE_TYPE_L2_NORMALIZE_FUSION:
    case NNRT_NODE_TYPE_LP_NORMALIZATION:
    case NNRT_NODE_TYPE_INSTANCE_NORM:
    case NNRT_NODE_TYPE_GROUP_NORM_FUSION:
    case NNRT_NODE_TYPE_LRN:
    case NNRT_NODE_TYPE_MAX_POOL_3D:
    case NNRT_NODE_TYPE_AVERAGE_POOL_3D: return nnrti_cpu_is_float(step);
    case NNRT_NODE_TYPE_SCALE_FUSION:
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM: return nnrti_cpu_is_float(step) || nnrti_cpu_tables_of(step, &tables);
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD:
        return (nnrti_cpu_is_float(step) || nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_INT8) ||
                nnrti_cpu_is_type(step, 0, NNRT_DATA_TYPE_UINT8)) &&
               nnrti_cpu_is_dynamic_image(step);
    case NNRT_NODE_TYPE_CONV_INTEGER:
    case NNRT_NODE_TYPE_RESIZE: return nnrti_cpu_is_dynamic_image(step);
    case NNRT_NODE_TYPE_CONV_3D: return nnrti_cpu_is_conv3d(step);
    case NNRT_NODE_TYPE_CONCAT:
        return nnrti_cpu_is_concat(step)
                   ? step->args[0].view.rank == 4 || nnrt_type_size(step->args[0].view.dataType) == 1
                   : nnrti_cpu_is_concat_q8(step);
    case NNRT_NODE_TYPE_REDUCE_FUSION: /* of axes that are known before the run */
        return (nnrti_cpu_is_q8_step(step, "nnrt_reduce_fusion_q8")
                    ? step->nDerived == 2
                    : (nnrti_cpu_is_float(step) || nnrti_cpu_is_half_reduction(step)) && step->nDerived == 1) &&
               (step->nIn < 2 || step->args[1].tensor == NNRT_NO_TENSOR || step->args[1].kind == NNRT_PLACE_CONSTANT);
    default:
        return nnrti_cpu_binary_q8_of(step) != NULL || nnrti_cpu_is_q8_step(step, "nnrt_activation_q8") ||
               nnrti_cpu_is_quantize(step, false) || nnrti_cpu_is_quantize(step, true) ||
               nnrti_cpu_integers_of(step, &integers) || nnrti_cpu_elements_of(step, &elements) ||
               nnrti_cpu_classify_of(step, &classify) || nnrti_cpu_tables_of(step, &tables) ||
               (nnrti_cpu_elementwise_of(step, &found) &&
                (nnrti_cpu_is_float(step) || nnrti_cpu_is_elementwise_half(step)));
    }
}

/* In a run: a new last derived argument of step s; NULL: no memory. */
static nnrt_plan_arg *nnrti_cpu_add_derived(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const uint32_t at = step->nIn + step->nDerived;
    nnrt_plan_arg *args =
        (nnrt_plan_arg *)nnrt_memory_temp_array(e->draft->memory, (size_t)at + 1 + step->nOut, sizeof(*args));
    if (args == NULL)
        return NULL;
    memcpy(args, step->args, at * sizeof(*args));
    memset(&args[at], 0, sizeof(args[at]));
    memcpy(args + at + 1, step->args + at, step->nOut * sizeof(*args));
    args[at].kind = NNRT_PLACE_DERIVED;
    args[at].tensor = NNRT_NO_TENSOR;
    step->args = args;
    step->nDerived++;
    return &args[at];
}

/* In a run: adds the next packed constant to the arguments of step s, as nnrt_draft_derive does. */
static NNRT_ReturnCode nnrti_cpu_take_packed(nnrti_cpu_edit *e, uint32_t s)
{
    const bool any = e->draft->steps[s].nDerived < e->dynamic->packed;
    nnrt_plan_arg *const arg = any ? nnrti_cpu_add_derived(e, s) : NULL;
    if (arg == NULL)
        return nnrti_cpu_no_memory(e, &e->draft->steps[s]);
    arg->view = *e->packed++;
    return NNRT_SUCCESS;
}

/* The step and its arguments for the dimensions of this run. */
static void nnrti_cpu_step_of_run(const nnrti_cpu_dynamic *dynamic, const nnrt_view *args, const nnrt_call *call,
                                  nnrt_draft_step *step, nnrt_plan_arg *list)
{
    const nnrt_resolve *now = (const nnrt_resolve *)call->resolve;
    memset(step, 0, sizeof(*step));
    step->kernel = now->kernel;
    step->kernelName = dynamic->kernelName;
    step->attr = now->resolved;
    step->op = dynamic->op;
    step->name = dynamic->name;
    step->args = list;
    step->nIn = call->nIn;
    step->nDerived = dynamic->nDerived;
    step->nOut = call->nOut;
    for (uint32_t k = 0; k < step->nIn + step->nDerived + step->nOut; k++, list++) {
        const bool in = k < step->nIn, out = k >= step->nIn + step->nDerived;
        memset(list, 0, sizeof(*list));
        list->view = args[k + (out ? dynamic->packed : 0)];
        list->tensor = (in ? dynamic->present >> k & 1 : out && list->view.dataType != NNRT_DATA_TYPE_UNKNOWN)
                           ? k
                           : NNRT_NO_TENSOR;
        list->kind = in && (dynamic->constants >> k & 1) != 0 ? NNRT_PLACE_CONSTANT
                     : in || out                              ? NNRT_PLACE_ARENA
                                                              : NNRT_PLACE_DERIVED;
    }
}

static size_t nnrti_cpu_aligned(size_t bytes)
{
    return (bytes + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
}

/* Scratch of each worker, with its share of the `behind` bytes behind that of all workers. */
static size_t nnrti_cpu_scratch_with(size_t scratch, size_t behind, uint32_t workers)
{
    return scratch + nnrti_cpu_aligned((behind + workers - 1) / workers);
}

/* Bytes of all copies of a step. */
static size_t nnrti_cpu_copied(const nnrti_cpu_dynamic *a)
{
    size_t bytes = 0;
    for (uint32_t k = 0; k < NNRTI_CPU_DYNAMIC_ARGS; k++)
        bytes += a->copies[k];
    return bytes;
}

/* Scratch of each worker, with its share of the copies and tables. */
static size_t nnrti_cpu_scratch_of(const nnrti_cpu_dynamic *a)
{
    return nnrti_cpu_scratch_with(a->scratch, nnrti_cpu_copied(a) + a->tables, a->workers);
}

/* Makes an image, [N,H,W,C] or a volume [N,C,D,H,W], channels last. */
static void nnrti_cpu_set_nhwc(nnrt_view *v)
{
    if (v->rank == 5) {
        v->strides[1] = 1;
        v->strides[4] = v->dims[1];
        v->strides[3] = v->dims[4] * v->strides[4];
        v->strides[2] = v->dims[3] * v->strides[3];
        v->strides[0] = v->dims[2] * v->strides[2];
        return;
    }
    v->strides[3] = 1;
    v->strides[2] = v->dims[3];
    v->strides[1] = (ptrdiff_t)v->dims[2] * v->dims[3];
    v->strides[0] = v->dims[1] * v->strides[1];
}

/* In a run: adds a table to the arguments of step s. */
static NNRT_ReturnCode nnrti_cpu_take_table(nnrti_cpu_edit *e, uint32_t s, NNRT_DataType type, int32_t rank,
                                            const int32_t *dims, size_t bytes, void **data)
{
    nnrt_plan_arg *const arg = nnrti_cpu_add_derived(e, s);
    if (arg == NULL)
        return nnrti_cpu_no_memory(e, &e->draft->steps[s]);
    arg->view.dataType = type;
    arg->view.rank = rank;
    arg->view.dims[rank - 1] = dims[rank - 1];
    arg->view.strides[rank - 1] = 1;
    arg->view.dims[0] = dims[0];
    arg->view.strides[0] = rank > 1 ? dims[1] : 1;
    arg->view.data = *data = e->tables;
    e->tables += bytes;
    return NNRT_SUCCESS;
}

/* Shows the arguments of `wide` as dense float32 tensors, which are no constants. */
static void nnrti_cpu_widen_args(nnrt_plan_arg *list, uint32_t wide)
{
    for (; wide != 0; wide >>= 1, list++) {
        ptrdiff_t step = 1;
        if ((wide & 1) == 0)
            continue;
        list->kind = NNRT_PLACE_ARENA;
        list->view.dataType = NNRT_DATA_TYPE_FLOAT32;
        list->view.data = NULL;
        for (int32_t i = list->view.rank - 1; i >= 0; i--) {
            list->view.strides[i] = step;
            step *= list->view.dims[i];
        }
    }
}

/* In a run: gives the arguments of a step that it lowers their copies in scratch. */
static void nnrti_cpu_place_copies(const nnrti_cpu_dynamic *dynamic, nnrt_draft_step *step, nnrt_plan_arg *list,
                                   const nnrt_call *call)
{
    const uint32_t out = step->nIn + step->nDerived;
    uint8_t *at = call->scratch != NULL ? (uint8_t *)call->scratch + dynamic->workers * dynamic->scratch : NULL;
    nnrti_cpu_widen_args(list, dynamic->wide);
    for (uint32_t k = 0; k < out + step->nOut; k++) {
        if (dynamic->copies[k] == 0)
            continue;
        if ((dynamic->image || dynamic->volume) && (k == 0 || k == out))
            nnrti_cpu_set_nhwc(&list[k].view);
        list[k].view.data = at;
        at += dynamic->copies[k];
    }
}

/* Copies x to y, of other strides or, if `wide`, of the other floating-point type. */
static void nnrti_cpu_copy_arg(const nnrti_cpu_dynamic *dynamic, uint32_t k, const nnrt_view *x, const nnrt_view *y,
                               nnrt_call *call)
{
    const bool wide = (dynamic->wide >> k & 1) != 0;
    nnrt_plan_arg list[2];
    nnrt_draft_step step;
    nnrt_view pair[2];
    memset(&step, 0, sizeof(step));
    memset(list, 0, sizeof(list));
    list[0].view = dynamic->volume ? nnrti_cpu_volume_as_image(x) : *x;
    list[1].view = dynamic->volume ? nnrti_cpu_volume_as_image(y) : *y;
    step.args = list;
    step.nIn = step.nOut = 1;
    if (wide) /* which converts fastest in the order of y */
        nnrti_cpu_sort_axes(&step);
    pair[0] = list[0].view;
    pair[1] = list[1].view;
    (void)(wide ? dynamic->isa->widen_half.run : nnrti_cpu_copy)(NULL, pair, call);
}

/* Calls the kernel of a step that a run has lowered from the arguments `list`, the copies of those in args. */
static NNRT_ReturnCode nnrti_cpu_call_lowered(const nnrti_cpu_dynamic *dynamic, const nnrt_draft_step *step,
                                              const nnrt_view *list, nnrt_view *args, nnrt_call *call)
{
    const uint32_t count = step->nIn + step->nDerived + step->nOut;
    const uint32_t out = call->nIn + dynamic->nDerived; /* of list */
    const bool lowered = step->kernel == dynamic->kernel;
    const bool copied = nnrti_cpu_copied(dynamic) + dynamic->tables > 0;
    const nnrt_resolve *now = (const nnrt_resolve *)call->resolve;
    nnrt_view views[NNRTI_CPU_DYNAMIC_ARGS];
    nnrt_call inner = *call;
    NNRT_ReturnCode code;
    if ((lowered && step->scratchBytes > (copied ? dynamic->scratch : call->scratchBytes)) ||
        (!lowered && (dynamic->packed > 0 || dynamic->nan || now->scratch > call->scratchBytes)))
        return nnrt_call_fail(call, NNRT_DEVICE_ERROR, "its kernel does not support the dimensions of this run");
    if (!lowered) {
        inner.nDerived = dynamic->nDerived;
        return now->kernel(now->resolved, args, &inner);
    }
    inner.nIn = step->nIn;
    inner.nDerived = step->nDerived;
    inner.nOut = step->nOut;
    for (uint32_t k = 0; k < count; k++)
        views[k] = step->args[k].view;
    if (copied)
        inner.scratchBytes = dynamic->scratch;
    for (uint32_t k = 0; k < out; k++)
        if (dynamic->copies[k] > 0)
            nnrti_cpu_copy_arg(dynamic, k, &args[k], &list[k], call);
    code = step->kernel(step->attr, views, &inner);
    for (uint32_t k = out; code == NNRT_SUCCESS && k < out + call->nOut; k++)
        if (dynamic->copies[k] > 0)
            nnrti_cpu_copy_arg(dynamic, k, &list[k], &args[k + dynamic->packed], call);
    return code;
}

/* Makes images that the view shows as [N,C,H,W] channels last. */
static void nnrti_cpu_set_declared_nhwc(nnrt_view *v)
{
    v->strides[1] = 1;
    v->strides[3] = v->dims[1];
    v->strides[2] = (ptrdiff_t)v->dims[3] * v->dims[1];
    v->strides[0] = v->dims[2] * v->strides[2];
}

/* Lowers a step with dynamic shapes for the dimensions of its views, and runs it. z: data of the residual, or NULL. */
static NNRT_ReturnCode nnrti_cpu_lower_and_run(const nnrti_cpu_dynamic *dynamic, nnrt_view *args, void *z, nnrt_call *call)
{
    uint64_t block[(NNRTI_CPU_DYNAMIC_BYTES + NNRT_ALIGNMENT) / sizeof(uint64_t)];
    nnrt_plan_arg list[NNRTI_CPU_DYNAMIC_ARGS];
    nnrt_view views[NNRTI_CPU_DYNAMIC_ARGS];
    nnrt_draft_step step;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_draft draft;
    nnrti_cpu_edit e;
    NNRT_ReturnCode code;
    if (((const nnrt_resolve *)call->resolve)->nDerived != dynamic->nDerived)
        return nnrt_call_fail(call, NNRT_DEVICE_ERROR, "its derived constants differ in this run");
    memset(&config, 0, sizeof(config));
    memset(&draft, 0, sizeof(draft));
    memset(&e, 0, sizeof(e));
    nnrt_memory_buffer(&memory, (uint8_t *)block + (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT) % NNRT_ALIGNMENT,
                       NNRTI_CPU_DYNAMIC_BYTES);
    for (int32_t k = 0; dynamic->last >> k != 0; k++)
        if ((dynamic->last >> k & 1) != 0 && dynamic->image)
            nnrti_cpu_set_nhwc(&args[k]);
        else if ((dynamic->last >> k & 1) != 0)
            nnrti_cpu_set_declared_nhwc(&args[k]);
    nnrti_cpu_step_of_run(dynamic, args, call, &step, list);
    if (nnrt_view_empty(&step.args[step.nIn + step.nDerived].view) && step.nOut == 1)
        return NNRT_SUCCESS;
    nnrti_cpu_place_copies(dynamic, &step, list, call);
    for (uint32_t k = 0; k < step.nIn + step.nDerived + step.nOut; k++)
        views[k] = list[k].view;
    config.error = call->error;
    draft.config = &config;
    draft.memory = &memory;
    draft.workers = dynamic->workers;
    draft.steps = &step;
    draft.nSteps = 1;
    e.draft = &draft;
    e.isa = dynamic->isa;
    e.half = dynamic->half;
    e.smallest = dynamic->smallest;
    e.dynamic = (nnrti_cpu_dynamic *)(uintptr_t)dynamic; /* only PrepareModel writes to it */
    e.packed = args + call->nIn + dynamic->nDerived;
    if (dynamic->tables > 0)
        e.tables = (uint8_t *)call->scratch + dynamic->workers * dynamic->scratch + nnrti_cpu_copied(dynamic);
    code = nnrti_cpu_lower(&e, 0);
    if (dynamic->residual && step.kernel == dynamic->kernel) { /* a GEMM, whose result has no copy */
        step.args[1].view = step.args[4].view;
        step.args[1].view.data = z;
        ((nnrti_cpu_gemm *)(uintptr_t)step.attr)->sum = dynamic->sum;
    }
    return code == NNRT_SUCCESS ? nnrti_cpu_call_lowered(dynamic, &step, views, args, call) : code;
}

/* Kernel of steps with dynamic shapes. */
static NNRT_ReturnCode nnrti_cpu_run_dynamic(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_dynamic *dynamic = (const nnrti_cpu_dynamic *)attr;
    const uint32_t last = call->nIn - 1, count = call->nIn + dynamic->nDerived + dynamic->packed + call->nOut;
    nnrt_view list[NNRTI_CPU_DYNAMIC_ARGS]; /* the arguments without the residual */
    nnrt_call own;
    if (!dynamic->residual)
        return nnrti_cpu_lower_and_run(dynamic, args, NULL, call);
    own = *call;
    own.nIn = last;
    memcpy(list, args, last * sizeof(*list));
    memcpy(list + last, args + call->nIn, (count - call->nIn) * sizeof(*list));
    return nnrti_cpu_lower_and_run(dynamic, list, args[last].data, &own);
}

/* Whether a tensor is among the inputs of a step. */
static bool nnrti_cpu_reads(const nnrt_draft_step *step, uint32_t tensor)
{
    for (uint32_t k = 0; k < step->nIn; k++)
        if (step->args[k].tensor == tensor)
            return true;
    return false;
}

/* Gives step s, which was lowered from the step `old`, the arguments of a step with dynamic shapes, and a kernel. The
   packed constants, the last derived ones of the lowered step, follow the derived constants of the shape rule; the
   constants that they replace, which the lowered step does not read, become absent. scratch: of each worker, unless the reference
   kernel needs more. */
static NNRT_ReturnCode nnrti_cpu_finish_dynamic(nnrti_cpu_edit *e, uint32_t s, const nnrt_draft_step *old,
                                                nnrt_kernel kernel, const void *attr, uint32_t packed, size_t scratch)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_draft_step lowered = *step;
    const uint32_t first = old->nIn + old->nDerived;
    nnrt_plan_arg *args = (nnrt_plan_arg *)nnrt_memory_temp_array(e->draft->memory, (size_t)first + packed + old->nOut,
                                                                  sizeof(*args));
    if (args == NULL)
        return nnrti_cpu_no_memory(e, step);
    memcpy(args, old->args, first * sizeof(*args));
    memcpy(args + first, lowered.args + (lowered.nIn + lowered.nDerived - packed), packed * sizeof(*args));
    memcpy(args + first + packed, old->args + first, old->nOut * sizeof(*args));
    for (uint32_t k = 0; k < old->nIn && packed > 0; k++)
        if (args[k].kind == NNRT_PLACE_CONSTANT && !nnrti_cpu_reads(&lowered, args[k].tensor) &&
            (kernel != nnrti_cpu_run_dynamic || (((const nnrti_cpu_dynamic *)attr)->wide >> k & 1) == 0)) {
            memset(&args[k], 0, sizeof(args[k]));
            args[k].tensor = NNRT_NO_TENSOR;
        }
    *step = *old;
    step->args = args;
    step->nDerived += packed;
    step->kernel = kernel;
    step->kernelName = lowered.kernelName;
    step->attr = attr;
    step->flags = lowered.flags;
    step->scratchBytes = scratch > old->scratchBytes ? scratch : old->scratchBytes;
    return nnrt_draft_changed(e->draft, s, NNRT_DRAFT_STEP) ? NNRT_SUCCESS : nnrti_cpu_no_memory(e, step);
}

/* A step on images of which only the number is dynamic (N of N x H x W x C): the kernel for one image, whose shape is
   static, runs once per image. So PrepareModel decides everything, Winograd tiles included. If the kernel requires
   channels last, and images have the model's layout, each image is copied to and from scratch, which all workers share.
   Arguments: the operands of the node, with the packed constants before y. */
typedef struct nnrti_cpu_batch {
    nnrt_kernel kernel;
    const void *attr;
    nnrt_view views[NNRTI_CPU_DYNAMIC_ARGS]; /* of the kernel, for one image */
    uint32_t from[NNRTI_CPU_DYNAMIC_ARGS];   /* the argument of the step that each of them shows, or NNRT_NO_TENSOR */
    uint32_t nIn, nDerived, nOut, rules;     /* of the kernel; derived constants of the shape rule */
    uint32_t workers;
    size_t scratch;  /* of each worker, a multiple of NNRT_ALIGNMENT; behind that of all workers are the copies */
    size_t copies[2]; /* bytes of the channels-last copy of an image of x, of y; 0: none */
    size_t reference; /* scratch of the reference kernel */
    uint32_t last;    /* per argument, one bit: it is channels last, whatever the model's layout (nnrti_cpu_layouts) */
} nnrti_cpu_batch;

/* *image: image n of a view. */
static void nnrti_cpu_image_of(const nnrt_view *v, int32_t n, nnrt_view *image)
{
    *image = *v;
    image->dims[0] = 1;
    image->data = (uint8_t *)v->data + n * v->strides[0] * (ptrdiff_t)nnrt_type_size(v->dataType);
}

/* Kernel of nnrti_cpu_batch. */
static NNRT_ReturnCode nnrti_cpu_run_batch(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_batch *a = (const nnrti_cpu_batch *)attr;
    const uint32_t last = call->nIn + call->nDerived;
    uint8_t *const copies = call->scratch != NULL ? (uint8_t *)call->scratch + a->workers * a->scratch : NULL;
    nnrt_view views[NNRTI_CPU_DYNAMIC_ARGS], x[2], y[2];
    nnrt_call inner = *call;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (((const nnrt_resolve *)call->resolve)->nDerived != a->rules)
        return nnrt_call_fail(call, NNRT_DEVICE_ERROR, "its derived constants differ in this run");
    if ((a->last & 1) != 0)
        nnrti_cpu_set_nhwc(&args[0]);
    if ((a->last >> last & 1) != 0)
        nnrti_cpu_set_nhwc(&args[last]);
    inner.nIn = a->nIn;
    inner.nDerived = a->nDerived;
    inner.nOut = a->nOut;
    inner.scratchBytes = a->scratch;
    inner.scratch = a->scratch > 0 ? call->scratch : NULL;
    for (int32_t n = 0; n < args[last].dims[0] && code == NNRT_SUCCESS; n++) {
        nnrti_cpu_image_of(&args[0], n, &x[0]);
        nnrti_cpu_image_of(&args[last], n, &y[1]);
        for (uint32_t k = 0; k < a->nIn + a->nDerived + a->nOut; k++) {
            views[k] = a->views[k];
            if (a->from[k] == 0)
                views[k].data = a->copies[0] > 0 ? copies : x[0].data;
            else if (a->from[k] == last)
                views[k].data = a->copies[1] > 0 ? copies + a->copies[0] : y[1].data;
            else if (a->from[k] != NNRT_NO_TENSOR)
                views[k].data = args[a->from[k]].data;
        }
        if (a->copies[0] > 0) {
            x[1] = views[0];
            (void)nnrti_cpu_copy(NULL, x, call);
        }
        code = a->kernel(a->attr, views, &inner);
        if (a->copies[1] > 0) {
            y[0] = views[a->nIn + a->nDerived];
            (void)nnrti_cpu_copy(NULL, y, call);
        }
    }
    return code;
}

/* Whether the number of images is the only dynamic dimension of a step on images, and its only input that is no constant
   is x. */
static bool nnrti_cpu_is_dynamic_batch(const nnrt_draft *d, const nnrt_draft_step *step)
{
    const uint32_t out = step->nIn + step->nDerived;
    if (step->op == NULL || step->kernel == NULL || step->nIn == 0 || step->nOut == 0 ||
        out + step->nOut > NNRTI_CPU_DYNAMIC_ARGS - 3)
        return false;
    for (uint32_t k = 0; k < out + step->nOut; k++) {
        const nnrt_plan_arg *arg = &step->args[k];
        const bool image = k == 0 || k == out;
        if (arg->tensor == NNRT_NO_TENSOR ? image : image && (arg->view.rank != 4 || d->tensors[arg->tensor].rank != 4))
            return false;
        if (arg->tensor != NNRT_NO_TENSOR && !image && (k >= step->nIn || arg->kind != NNRT_PLACE_CONSTANT))
            return false;
        for (int32_t i = image ? 1 : 4; i < 4; i++)
            if (d->tensors[arg->tensor].symbols[i] != 0)
                return false;
    }
    switch (step->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD:
    case NNRT_NODE_TYPE_SCALE_FUSION:
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM: return true;
    default: return false;
    }
}

/* Fills a from step s, lowered for one image from the step `old`. kept: it has the list of arguments of that. */
static void nnrti_cpu_describe_batch(nnrti_cpu_batch *a, const nnrt_draft_step *lowered, const nnrt_draft_step *old,
                                     bool kept)
{
    const uint32_t out = old->nIn + old->nDerived, first = kept ? old->nIn : out;
    a->kernel = lowered->kernel;
    a->attr = lowered->attr;
    a->nIn = lowered->nIn;
    a->nDerived = lowered->nDerived;
    a->nOut = lowered->nOut;
    a->rules = old->nDerived;
    a->reference = old->scratchBytes;
    a->scratch = nnrti_cpu_aligned(lowered->scratchBytes);
    for (uint32_t k = 0; k < a->nIn + a->nDerived + a->nOut; k++) {
        const nnrt_plan_arg *arg = &lowered->args[k];
        a->views[k] = arg->view;
        a->from[k] = NNRT_NO_TENSOR;
        if (k >= a->nIn && k < a->nIn + a->nDerived)
            a->from[k] = first + (k - a->nIn);
        for (uint32_t i = 0; arg->tensor != NNRT_NO_TENSOR && i < out + old->nOut; i++)
            if (old->args[i].tensor == arg->tensor)
                a->from[k] = i < out ? i : i + (kept ? 0 : a->nDerived);
    }
}

/* A step with dynamic shapes of which only the number of images is dynamic: lowers it for one image. */
static NNRT_ReturnCode nnrti_cpu_lower_batch(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s];
    const nnrt_draft_step old = *step;
    const uint32_t out = old.nIn + old.nDerived;
    nnrt_plan_arg list[NNRTI_CPU_DYNAMIC_ARGS];
    nnrti_cpu_batch *a = (nnrti_cpu_batch *)nnrt_memory_keep(d->memory, sizeof(*a));
    NNRT_ReturnCode code;
    if (a == NULL)
        return nnrti_cpu_no_memory(e, step);
    memcpy(list, old.args, (out + old.nOut) * sizeof(list[0]));
    list[0].view.dims[0] = list[out].view.dims[0] = 1;
    step->args = list;
    step->open = NULL;
    for (uint32_t k = 0; k < 2 && nnrti_cpu_is_image_op(step); k++) {
        nnrt_view *v = &list[k == 0 ? 0 : out].view;
        if (nnrti_cpu_is_nhwc(v) || (k == 0 && nnrti_cpu_reads_nchw(e, step)))
            continue;
        nnrti_cpu_set_nhwc(v);
        a->copies[k] = nnrti_cpu_aligned((size_t)v->strides[0] * nnrt_type_size(v->dataType));
    }
    a->workers = d->workers;
    code = nnrti_cpu_lower(e, s);
    if (code == NNRT_SUCCESS && step->kernel != old.kernel) {
        nnrti_cpu_describe_batch(a, step, &old, step->args == list);
        return nnrti_cpu_finish_dynamic(e, s, &old, nnrti_cpu_run_batch, a, step->args == list ? 0 : step->nDerived,
                                        nnrti_cpu_scratch_with(a->scratch, a->copies[0] + a->copies[1], a->workers));
    }
    *step = old;
    return nnrt_draft_changed(d, s, NNRT_DRAFT_STEP) ? code : nnrti_cpu_no_memory(e, step);
}

/* A step with dynamic shapes: lowers it for the upper bounds, as a static step. */
static NNRT_ReturnCode nnrti_cpu_lower_dynamic(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_draft_step old = *step;
    const uint32_t out = old.nIn + old.nDerived, count = out + old.nOut;
    nnrt_plan_arg list[NNRTI_CPU_DYNAMIC_ARGS];
    nnrti_cpu_dynamic *dynamic;
    uint32_t wide = 0;
    bool half, global;
    NNRT_ReturnCode code;
    step->open = NULL;
    half = nnrti_cpu_is_half_candidate(step) && count <= NNRTI_CPU_DYNAMIC_ARGS;
    if (nnrti_cpu_is_dynamic_batch(e->draft, step) && (!half || nnrti_cpu_stays_half(e, step))) {
        *step = old;
        return nnrti_cpu_lower_batch(e, s);
    }
    for (uint32_t k = 0; k < count && count <= NNRTI_CPU_DYNAMIC_ARGS; k++) {
        const bool widened = half && nnrti_cpu_is_type(&old, k, NNRT_DATA_TYPE_FLOAT16) &&
                             !nnrti_cpu_is_packed_half(&old, k);
        list[k] = old.args[k];
        wide |= (widened ? 1u : 0) << k;
    }
    step->args = list;
    nnrti_cpu_widen_args(list, wide);
    if (!nnrti_cpu_may_be_dynamic(step)) {
        *step = old;
        return NNRT_SUCCESS;
    }
    if ((dynamic = (nnrti_cpu_dynamic *)nnrt_memory_keep(e->draft->memory, sizeof(*dynamic))) == NULL)
        return nnrti_cpu_no_memory(e, step);
    dynamic->isa = e->isa;
    dynamic->op = old.op;
    dynamic->name = old.name;
    dynamic->kernelName = old.kernelName;
    dynamic->workers = e->draft->workers;
    dynamic->nDerived = old.nDerived;
    dynamic->half = e->half;
    dynamic->smallest = e->smallest;
    if (old.op->type == NNRT_NODE_TYPE_CONV2D_FUSION)
        dynamic->activation = ((const NNRT_Conv2DFusion *)old.attr)->activationType;
    else if (old.op->type == NNRT_NODE_TYPE_FULL_CONNECTION)
        dynamic->activation = ((const NNRT_FullConnection *)old.attr)->activationType;
    else if (old.op->type == NNRT_NODE_TYPE_MATMUL_FUSION)
        dynamic->activation = ((const NNRT_MatMulFusion *)old.attr)->activationType;
    else if (old.op->type == NNRT_NODE_TYPE_ADD_FUSION)
        dynamic->activation = ((const NNRT_AddFusion *)old.attr)->activationType;
    for (uint32_t k = 0; k < old.nIn; k++) {
        dynamic->present |= (old.args[k].tensor != NNRT_NO_TENSOR ? 1u : 0) << k;
        dynamic->constants |= (old.args[k].kind == NNRT_PLACE_CONSTANT ? 1u : 0) << k;
    }
    dynamic->wide = wide;
    dynamic->image = nnrti_cpu_is_dynamic_image(step);
    dynamic->volume = nnrti_cpu_is_conv3d(step);
    global = dynamic->image && !nnrti_cpu_is_image_op(step) && nnrti_cpu_is_allowed(e, &e->isa->reduce);
    e->dynamic = dynamic;
    for (uint32_t k = 0; k < count; k++) {
        nnrt_view *v = &list[k].view;
        const bool image = (dynamic->image || dynamic->volume) && (k == 0 || k == out);
        size_t elements = 0;
        if ((wide >> k & 1) == 0 &&
            (!image || (dynamic->image && (nnrti_cpu_is_nhwc(v) || (k == 0 && nnrti_cpu_reads_nchw(e, step))))))
            continue;
        if (image)
            nnrti_cpu_set_nhwc(v);
        (void)nnrt_dims_count(v->dims, v->rank, &elements); /* it fits 32 bits: nnrti_cpu_is_eligible */
        dynamic->copies[k] = nnrti_cpu_aligned(elements * nnrt_type_size(v->dataType));
    }
    dynamic->reference = old.scratchBytes;
    code = nnrti_cpu_lower(e, s);
    e->dynamic = NULL;
    if (code == NNRT_SUCCESS && (step->kernel != old.kernel || step->attr != old.attr)) {
        dynamic->kernel = step->kernel;
        dynamic->scratch = nnrti_cpu_aligned(step->scratchBytes);
        if (dynamic->image && wide == 0 &&
            (old.op->type == NNRT_NODE_TYPE_RESIZE || step->kernel == e->isa->reduce_q8.run))
            dynamic->planes = step->kernel;
        else if (global && wide == 0) /* float32 */
            dynamic->planes = e->isa->reduce.run;
        return nnrti_cpu_finish_dynamic(e, s, &old, nnrti_cpu_run_dynamic, dynamic, dynamic->packed,
                                        nnrti_cpu_scratch_of(dynamic));
    }
    *step = old;
    return nnrt_draft_changed(e->draft, s, NNRT_DRAFT_STEP) ? code : nnrti_cpu_no_memory(e, step);
}

/* As nnrti_cpu_fuse_max_min, of steps with dynamic shapes, after each of them was lowered: MAXIMUM(a, b) moves to the place of
   WHERE(a == a, MAXIMUM(a, b), a), and returns the NaN of a, too. Both results have the same dimensions in each run. */
static NNRT_ReturnCode nnrti_cpu_fuse_dynamic_max_min(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *step = &d->steps[s], *found[2];
    nnrti_cpu_dynamic *dynamic;
    nnrt_plan_arg z, *x;
    if (step->open == NULL || step->op == NULL || step->kernel == NULL || step->op->type != NNRT_NODE_TYPE_WHERE ||
        step->nIn != 3 || step->nDerived != 0)
        return NNRT_SUCCESS;
    z = step->args[3];
    for (uint32_t k = 0; k < 2; k++) { /* EQUAL, then MAXIMUM or MINIMUM */
        const uint32_t from = nnrt_draft_writer(d, step->args[k].tensor);
        if (from == UINT32_MAX || nnrt_draft_reader(d, step->args[k].tensor) == UINT32_MAX)
            return NNRT_SUCCESS;
        found[k] = &d->steps[from];
        if (found[k]->open == NULL || found[k]->op == NULL || found[k]->kernel == NULL || found[k]->nIn != 2 ||
            found[k]->nDerived != 0)
            return NNRT_SUCCESS;
    }
    x = &found[1]->args[0];
    dynamic = (nnrti_cpu_dynamic *)(uintptr_t)found[1]->attr;
    if (found[0]->op->type != NNRT_NODE_TYPE_EQUAL || found[1]->kernel != nnrti_cpu_run_dynamic ||
        (found[1]->op->type != NNRT_NODE_TYPE_MAXIMUM && found[1]->op->type != NNRT_NODE_TYPE_MINIMUM) ||
        (dynamic->kernel != e->isa->binary.run && dynamic->kernel != e->isa->elementwise_half.run) ||
        x->tensor == NNRT_NO_TENSOR || found[0]->args[0].tensor != x->tensor || found[0]->args[1].tensor != x->tensor ||
        step->args[2].tensor != x->tensor || z.view.dataType != x->view.dataType ||
        !nnrti_cpu_same_dims(&z.view, &found[1]->args[2].view))
        return NNRT_SUCCESS;
    dynamic->nan = true;
    *step = *found[1];
    step->args[2] = z;
    found[0]->kernel = found[1]->kernel = NULL;
    return nnrt_draft_changed(d, s, NNRT_DRAFT_STEP) ? NNRT_SUCCESS : nnrti_cpu_no_memory(e, step);
}

/* Layout propagation for steps with dynamic shapes: a tensor of images between them is channels last if each step that
   reads or writes it copies it (nnrti_cpu_batch), or is elementwise and all of its operands are. The plan keeps the
   views of the model; the kernels replace their strides. A union-find structure joins the tensors of elementwise
   steps: linear, unlike repeated passes. */
typedef struct nnrti_cpu_layouts {
    uint32_t *parent; /* per tensor */
    uint8_t *kept;    /* of a root: the tensors have the model's layout */
} nnrti_cpu_layouts;

static uint32_t nnrti_cpu_root(const nnrti_cpu_layouts *l, uint32_t t)
{
    while (l->parent[t] != t)
        t = l->parent[t] = l->parent[l->parent[t]];
    return t;
}

/* The bytes of the copy of x, or y, of a step that computes images channels last. */
static size_t *nnrti_cpu_copy_of(const nnrt_draft_step *step, bool y)
{
    nnrti_cpu_dynamic *const dynamic = (nnrti_cpu_dynamic *)(uintptr_t)step->attr;
    if (step->kernel == nnrti_cpu_run_batch)
        return &((nnrti_cpu_batch *)(uintptr_t)step->attr)->copies[y];
    return &dynamic->copies[y ? step->nIn + dynamic->nDerived : 0];
}

/* Whether a step with dynamic shapes computes images channels last; whether it copies argument k, x or y, for that. */
static bool nnrti_cpu_copies_images(const nnrt_draft_step *step)
{
    return step->kernel == nnrti_cpu_run_batch ||
           (step->kernel == nnrti_cpu_run_dynamic && ((const nnrti_cpu_dynamic *)step->attr)->image);
}

static bool nnrti_cpu_copies_image(const nnrt_draft_step *step, uint32_t k)
{
    const uint32_t out = step->nIn + step->nDerived;
    if (!nnrti_cpu_copies_images(step) || (k != 0 && k != out))
        return false;
    return *nnrti_cpu_copy_of(step, k != 0) > 0;
}

/* Whether a step with dynamic shapes is elementwise or a CONCAT, of views in the model's order of axes. */
static bool nnrti_cpu_is_dynamic_elementwise(const nnrti_cpu_edit *e, const nnrt_draft_step *step)
{
    const nnrti_cpu_dynamic *dynamic = (const nnrti_cpu_dynamic *)step->attr;
    return step->kernel == nnrti_cpu_run_dynamic && (step->op->flags & NNRT_OP_LAYOUT) == 0 && dynamic->packed == 0 &&
           (dynamic->kernel == e->isa->unary.run || dynamic->kernel == e->isa->binary.run ||
            dynamic->kernel == e->isa->elementwise_half.run || dynamic->kernel == e->isa->binary_q8.run || dynamic->kernel == e->isa->table_q8.run ||
            dynamic->kernel == e->isa->quantize.run || dynamic->kernel == e->isa->dequantize.run ||
            step->op->type == NNRT_NODE_TYPE_CONCAT);
}

/* Whether a tensor has the same bytes in both layouts, for all sizes: one channel, or one pixel, or fewer axes. */
static bool nnrti_cpu_is_layout_free(const nnrt_operand *o)
{
    return o->rank < 4 || (o->rank == 4 && ((o->dims[1] == 1 && o->symbols[1] == 0) ||
                                            (o->dims[2] == 1 && o->symbols[2] == 0 && o->dims[3] == 1 && o->symbols[3] == 0)));
}

/* Enters the arguments of a step. */
static void nnrti_cpu_enter_layouts(const nnrti_cpu_edit *e, const nnrt_draft_step *step, nnrti_cpu_layouts *l)
{
    const bool elementwise = nnrti_cpu_is_dynamic_elementwise(e, step);
    const uint32_t out = step->nIn + step->nDerived, to = step->nOut > 0 ? step->args[out].tensor : NNRT_NO_TENSOR;
    for (uint32_t k = 0; step->kernel != NULL && k < out + step->nOut; k++) {
        const nnrt_plan_arg *arg = &step->args[k];
        const uint32_t root = arg->tensor < e->draft->nTensors ? nnrti_cpu_root(l, arg->tensor) : NNRT_NO_TENSOR;
        if (root == NNRT_NO_TENSOR || (elementwise && nnrti_cpu_is_layout_free(&e->draft->tensors[arg->tensor])))
            continue;
        if (elementwise) {
            const uint32_t joined = nnrti_cpu_root(l, to);
            l->kept[joined] = l->kept[joined] || l->kept[root];
            l->parent[root] = joined;
        } else if (!nnrti_cpu_copies_image(step, k)) {
            l->kept[root] = 1;
        }
    }
}

/* Removes the copies of x and y that layout propagation made unnecessary; float32 copies of float16 stay. Returns one
   bit for each argument that is channels last without a copy. */
static uint32_t nnrti_cpu_remove_copies(const nnrt_draft_step *step, const nnrti_cpu_layouts *l, uint32_t wide)
{
    uint32_t last = 0;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t at = k == 0 ? 0 : step->nIn + step->nDerived;
        if (!nnrti_cpu_copies_image(step, at) || l->kept[nnrti_cpu_root(l, step->args[at].tensor)] != 0)
            continue;
        last |= 1u << at;
        if (wide == 0)
            *nnrti_cpu_copy_of(step, k != 0) = 0;
    }
    return last;
}

/* Removes the copies of a step, and notes the channels-last operands of an elementwise one. */
static void nnrti_cpu_apply_layouts(const nnrti_cpu_edit *e, nnrt_draft_step *step, const nnrti_cpu_layouts *l)
{
    const uint32_t out = step->nIn + step->nDerived;
    size_t scratch;
    if (step->kernel == nnrti_cpu_run_batch) {
        nnrti_cpu_batch *a = (nnrti_cpu_batch *)(uintptr_t)step->attr;
        a->last = nnrti_cpu_remove_copies(step, l, 0);
        scratch = nnrti_cpu_scratch_with(a->scratch, a->copies[0] + a->copies[1], a->workers);
        step->scratchBytes = scratch > a->reference ? scratch : a->reference;
    } else if (nnrti_cpu_copies_images(step)) {
        nnrti_cpu_dynamic *a = (nnrti_cpu_dynamic *)(uintptr_t)step->attr;
        a->last = nnrti_cpu_remove_copies(step, l, a->wide);
        if (a->planes != NULL && a->last == 0 && a->copies[0] > 0) { /* nothing around it is channels last */
            a->kernel = a->planes;
            *nnrti_cpu_copy_of(step, false) = *nnrti_cpu_copy_of(step, true) = 0;
            a->tables += NNRT_ALIGNMENT; /* the axes of nnrti_cpu_lower_reduction */
        }
        scratch = nnrti_cpu_scratch_of(a);
        step->scratchBytes = scratch > a->reference ? scratch : a->reference;
    } else if (nnrti_cpu_is_dynamic_elementwise(e, step)) {
        nnrti_cpu_dynamic *dynamic = (nnrti_cpu_dynamic *)(uintptr_t)step->attr;
        for (uint32_t k = 0; k <= out; k++)
            if (step->args[k].tensor < e->draft->nTensors && step->args[k].kind != NNRT_PLACE_CONSTANT &&
                !nnrti_cpu_is_layout_free(&e->draft->tensors[step->args[k].tensor]) &&
                l->kept[nnrti_cpu_root(l, step->args[k].tensor)] == 0)
                dynamic->last |= 1u << k;
    }
}

static NNRT_ReturnCode nnrti_cpu_propagate_layouts(nnrti_cpu_edit *e)
{
    const nnrt_draft *d = e->draft;
    const NNRT_Model *m = d->model;
    nnrti_cpu_layouts l;
    bool any = false;
    for (uint32_t s = 0; s < d->nSteps; s++)
        any = any || nnrti_cpu_copies_images(&d->steps[s]);
    if (!any)
        return NNRT_SUCCESS;
    l.parent = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*l.parent));
    l.kept = (uint8_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*l.kept));
    if (l.parent == NULL || l.kept == NULL)
        return nnrt_error_set(d->config->error, NNRT_OUT_OF_MEMORY, "no memory for the layouts of %u tensors",
                              d->nTensors);
    for (uint32_t t = 0; t < d->nTensors; t++) {
        l.parent[t] = t;
        l.kept[t] = d->tensors[t].rank != 4 || d->tensors[t].format != NNRT_FORMAT_NCHW || d->tensors[t].data != NULL;
    }
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        l.kept[m->inputIndex.data[i]] = 1;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        l.kept[m->outputIndex.data[i]] = 1;
    for (uint32_t s = 0; s < d->nSteps; s++)
        nnrti_cpu_enter_layouts(e, &d->steps[s], &l);
    for (uint32_t s = 0; s < d->nSteps; s++)
        nnrti_cpu_apply_layouts(e, &d->steps[s], &l);
    return NNRT_SUCCESS;
}

/* Whether a tensor has the dimensions of another one in each run. */
static bool nnrti_cpu_same_dynamic_dims(const nnrt_operand *x, const nnrt_operand *y)
{
    bool same = x->rank == y->rank;
    for (int32_t i = 0; same && i < x->rank; i++)
        same = x->dims[i] == y->dims[i] && x->symbols[i] == y->symbols[i];
    return same;
}

/* Whether a step with dynamic shapes is a convolution or matrix product by a GEMM that writes the result itself, not a copy
   of it: channels last if `last`, else in the model's layout. */
static bool nnrti_cpu_is_dynamic_gemm(const nnrti_cpu_edit *e, const nnrt_draft_step *step, bool last)
{
    const nnrti_cpu_dynamic *dynamic = (const nnrti_cpu_dynamic *)step->attr;
    nnrt_draft_step lowered;
    if (step->kernel != nnrti_cpu_run_dynamic ||
        (step->op->type != NNRT_NODE_TYPE_CONV2D_FUSION && step->op->type != NNRT_NODE_TYPE_FULL_CONNECTION &&
         step->op->type != NNRT_NODE_TYPE_MATMUL_FUSION && step->op->type != NNRT_NODE_TYPE_MATMUL_NBITS) ||
        dynamic->wide != 0 || dynamic->copies[step->nIn + dynamic->nDerived] != 0 ||
        (dynamic->last >> (step->nIn + step->nDerived) & 1) != (last ? 1u : 0u))
        return false;
    memset(&lowered, 0, sizeof(lowered));
    lowered.kernel = dynamic->kernel;
    return nnrti_cpu_is_gemm(e, &lowered);
}

/* nnrti_cpu_fuse_residual of steps with dynamic shapes, after layout propagation: the convolution or matrix product moves to the
   place of the ADD_FUSION, whose other operand becomes its last input. */
static NNRT_ReturnCode nnrti_cpu_fuse_dynamic_residual(nnrti_cpu_edit *e, uint32_t s)
{
    nnrt_draft *d = e->draft;
    nnrt_draft_step *add = &d->steps[s];
    const nnrti_cpu_dynamic *sum = (const nnrti_cpu_dynamic *)add->attr;
    float low, high;
    if (add->kernel != nnrti_cpu_run_dynamic || add->op->type != NNRT_NODE_TYPE_ADD_FUSION || add->nDerived != 0 ||
        sum->kernel != e->isa->binary.run || (sum->last != 0 && sum->last != 7) || add->args[0].tensor == add->args[1].tensor ||
        !nnrti_cpu_activation_bounds(sum->activation, &low, &high))
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t from = nnrt_draft_writer(d, add->args[k].tensor);
        nnrt_draft_step *product = from != UINT32_MAX ? &d->steps[from] : add;
        nnrti_cpu_dynamic *dynamic = (nnrti_cpu_dynamic *)(uintptr_t)product->attr;
        const uint32_t first = product->nIn, count = first + product->nDerived + product->nOut;
        nnrt_plan_arg *args;
        if (!nnrti_cpu_is_dynamic_gemm(e, product, sum->last != 0) || dynamic->residual ||
            nnrt_draft_reader(d, add->args[k].tensor) == UINT32_MAX ||
            !nnrti_cpu_activation_bounds(dynamic->activation, &low, &high) ||
            !nnrti_cpu_same_dynamic_dims(&d->tensors[add->args[0].tensor], &d->tensors[add->args[1].tensor]))
            continue;
        args = (nnrt_plan_arg *)nnrt_memory_temp_array(d->memory, (size_t)count + 1, sizeof(*args));
        if (args == NULL)
            return nnrti_cpu_no_memory(e, product);
        memcpy(args, product->args, first * sizeof(*args));
        args[first] = add->args[1 - k];
        memcpy(args + first + 1, product->args + first, (count - first) * sizeof(*args));
        args[count] = add->args[2];
        args[count].view = product->args[count - 1].view;
        dynamic->residual = true;
        dynamic->sum = sum->activation;
        *add = *product;
        add->args = args;
        add->nIn++;
        product->kernel = NULL;
        return nnrt_draft_changed(d, s, NNRT_DRAFT_STEP) ? NNRT_SUCCESS : nnrti_cpu_no_memory(e, add);
    }
    return NNRT_SUCCESS;
}

/* Fails if no step uses the kernel of "nnrt.cpu.kernel". */
static NNRT_ReturnCode nnrti_cpu_check_only(const nnrti_cpu_edit *e)
{
    for (uint32_t s = 0; s < e->draft->nSteps; s++) {
        const nnrt_draft_step *step = &e->draft->steps[s];
        if (step->kernel != NULL && step->kernelName != NULL && strncmp(step->kernelName, "nnrt_cpu_", 9) == 0 &&
            nnrti_cpu_is_only(e, step->kernelName))
            return NNRT_SUCCESS;
    }
    return nnrt_error_set(e->draft->config->error, NNRT_NOT_SUPPORT,
                          "extension '" NNRTI_CPU_KERNEL "' is '%s', but no step can use a kernel of that name on "
                          "instruction set '%s'; NNRTI_CPU_KERNELS in devices/nnrt_cpu.h lists the names",
                          e->only, e->isa->name);
}

/* Inserts layout copies before and after image steps whose arguments are not channels last. */
static NNRT_ReturnCode nnrti_cpu_copy_images(nnrti_cpu_edit *e)
{
    const nnrt_draft *d = e->draft;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    e->copied = (uint32_t *)nnrt_memory_temp(d->memory, e->tensors * sizeof(*e->copied));
    if (e->copied == NULL)
        return nnrt_error_set(d->config->error, NNRT_OUT_OF_MEMORY, "no memory to copy images");
    for (uint32_t s = 0; s < d->nSteps && code == NNRT_SUCCESS; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        if (nnrti_cpu_is_conv3d(step)) {
            code = nnrti_cpu_lower_conv3d(e, s);
            continue;
        }
        if (!nnrti_cpu_is_image_op(step))
            continue;
        if (!nnrti_cpu_is_nhwc(&step->args[0].view) && !nnrti_cpu_reads_nchw(e, step))
            code = nnrti_cpu_copy_in(e, s, 0);
        if (code == NNRT_SUCCESS && !nnrti_cpu_is_nhwc(&step->args[step->nIn + step->nDerived].view))
            code = nnrti_cpu_copy_out(e, s);
    }
    return code == NNRT_SUCCESS ? nnrti_cpu_insert_added(e) : code;
}

/* Builds the def-use lists. No step is inserted from here on. */
static NNRT_ReturnCode nnrti_cpu_index(nnrti_cpu_edit *e)
{
    nnrt_draft *d = e->draft;
    uint32_t count = 0;
    e->opens = (uint32_t *)nnrt_memory_temp(d->memory, d->nSteps * sizeof(*e->opens));
    if (e->opens == NULL || !nnrt_draft_index(d))
        return nnrt_error_set(d->config->error, NNRT_OUT_OF_MEMORY, "no memory for the def-use lists of %u steps",
                              d->nSteps);
    for (uint32_t s = 0; s < d->nSteps; s++) {
        e->opens[s] = count;
        count += d->steps[s].open != NULL ? 1 : 0;
    }
    return NNRT_SUCCESS;
}

/* The first and the last step that uses each tensor of the arena; UINT32_MAX: another tensor. Approximate, since branches
   and loops count in the order of steps. */
static void nnrti_cpu_lifetimes(const nnrt_draft *d, uint32_t *first, uint32_t *last)
{
    const NNRT_Model *m = d->model;
    for (uint32_t t = 0; t < d->nTensors; t++)
        first[t] = UINT32_MAX;
    for (uint32_t s = d->nSteps; s-- > 0;)
        for (uint32_t k = 0; d->steps[s].kernel != NULL && k < d->steps[s].nIn + d->steps[s].nDerived + d->steps[s].nOut; k++) {
            const nnrt_plan_arg *arg = &d->steps[s].args[k];
            if (arg->tensor >= d->nTensors || arg->kind == NNRT_PLACE_CONSTANT || arg->kind == NNRT_PLACE_DERIVED)
                continue;
            if (first[arg->tensor] == UINT32_MAX)
                last[arg->tensor] = s;
            first[arg->tensor] = s;
        }
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        first[m->inputIndex.data[i]] = UINT32_MAX;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        first[m->outputIndex.data[i]] = UINT32_MAX;
}

/* Whether the result of step s takes over the storage of an input, as far as lifetimes tell. */
static bool nnrti_cpu_takes_over(const nnrt_draft_step *step, uint32_t s, const uint32_t *first, const uint32_t *last)
{
    const bool any = (step->flags & (NNRT_OP_INPLACE | NNRT_OP_ALIAS)) != 0;
    if (!any && (step->flags & NNRT_STEP_ACCUMULATE) == 0)
        return false;
    for (uint32_t k = any ? 0 : 1; k < step->nIn; k++) {
        const uint32_t x = step->args[k].tensor;
        if (x != NNRT_NO_TENSOR && step->args[k].kind != NNRT_PLACE_CONSTANT && first[x] < s && last[x] == s)
            return true;
    }
    return false;
}

/* live[s] = the bytes of values in the arena at step s, without scratch, about. */
static bool nnrti_cpu_live_bytes(const nnrt_draft *d, size_t *live)
{
    uint32_t *first = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*first));
    uint32_t *last = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*last));
    if (first == NULL || last == NULL)
        return false;
    memset(live, 0, (d->nSteps + 1) * sizeof(*live));
    nnrti_cpu_lifetimes(d, first, last);
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        const nnrt_plan_arg *y = &step->args[step->nIn + step->nDerived];
        if (step->kernel != NULL && step->nOut > 0 && y->tensor != NNRT_NO_TENSOR && first[y->tensor] == s &&
            nnrti_cpu_takes_over(step, s, first, last))
            first[y->tensor]++;
    }
    for (uint32_t t = 0; t < d->nTensors; t++)
        if (first[t] <= d->nSteps && first[t] <= last[t]) { /* differences; their sums follow modulo 2^n */
            live[first[t]] += d->bytes[t];
            live[last[t] + 1] -= d->bytes[t];
        }
    for (uint32_t s = 1; s <= d->nSteps; s++)
        live[s] += live[s - 1];
    return true;
}

/* In >>winograd. */
static void nnrti_cpu_shrink_winograd(const nnrti_cpu_edit *e, uint32_t s, size_t room);

/* Less scratch for Winograd steps that would otherwise make the arena more than an eighth larger than its values. */
static NNRT_ReturnCode nnrti_cpu_fit_scratch(nnrti_cpu_edit *e)
{
    const nnrt_draft *d = e->draft;
    size_t *live, most = 0;
    bool any = false;
    for (uint32_t s = 0; s < d->nSteps && !any; s++)
        any = d->steps[s].kernel != NULL && d->steps[s].kernel == e->isa->winograd.run;
    if (!any || e->smallest)
        return NNRT_SUCCESS;
    live = (size_t *)nnrt_memory_temp_array(d->memory, (size_t)d->nSteps + 1, sizeof(*live));
    if (live == NULL || !nnrti_cpu_live_bytes(d, live))
        return nnrt_error_set(d->config->error, NNRT_OUT_OF_MEMORY, "no memory for the lifetimes of %u tensors",
                              d->nTensors);
    for (uint32_t s = 0; s < d->nSteps; s++)
        most = live[s] > most ? live[s] : most;
    for (uint32_t s = 0; s < d->nSteps; s++)
        if (d->steps[s].kernel != NULL && d->steps[s].kernel == e->isa->winograd.run)
            nnrti_cpu_shrink_winograd(e, s, (most - live[s] + most / 8) / d->workers);
    return NNRT_SUCCESS;
}

/* The edit of nnrt_plan_prepare; user is the instruction set. */
static NNRT_ReturnCode nnrti_cpu_edit_draft(void *user, nnrt_draft *draft)
{
    nnrti_cpu_edit e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    e.draft = draft;
    e.isa = (const nnrti_cpu_isa *)user;
    e.call.parallel = draft->config->parallel;
    if ((code = nnrti_cpu_read_config(&e)) != NNRT_SUCCESS || (code = nnrti_cpu_take_half_weights(&e)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_widen_steps(&e)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_choose_layout(&e)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_cpu_copy_images(&e)) != NNRT_SUCCESS || (code = nnrti_cpu_index(&e)) != NNRT_SUCCESS)
        return code;
    for (uint32_t s = draft->nSteps; s-- > 0 && code == NNRT_SUCCESS;) /* backwards: CONCAT of CONCAT */
        nnrti_cpu_elide_concat_split(&e, s);
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++)
        (void)(nnrti_cpu_transpose_to_reshape(&e, s) || nnrti_cpu_fuse_transpose_into_readers(&e, s) ||
               nnrti_cpu_fuse_transpose_into_writer(&e, s) || nnrti_cpu_fuse_max_min(&e, s));
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++) {
        const nnrt_kernel before = draft->steps[s].kernel;
        code = nnrti_cpu_lower(&e, s);
        if (nnrti_cpu_is_half_left(&e, &draft->steps[s]))
            nnrti_cpu_undo_widen_step(&e, s);
        nnrti_cpu_undo_half_weights(&e, s, before);
    }
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++)
        code = nnrti_cpu_fuse_dynamic_max_min(&e, s);
    code = code == NNRT_SUCCESS ? nnrti_cpu_propagate_layouts(&e) : code;
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++)
        code = nnrti_cpu_fuse_dynamic_residual(&e, s);
    nnrti_cpu_fuse_half_rounding(&e);
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++)
        code = nnrti_cpu_fuse_depthwise(&e, s);
    code = code == NNRT_SUCCESS ? nnrti_cpu_fit_scratch(&e) : code;
    return code != NNRT_SUCCESS || e.only[0] == '\0' ? code : nnrti_cpu_check_only(&e);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>winograd */

/* Winograd convolution: which 3 x 3 convolutions use F(2x2,3x3) or F(4x4,3x3), their transformed weights and the
   division of work. A cost model decides, from shapes only, so that the decision does not depend on the machine's
   speed or on weights. Larger tiles such as F(6x6,3x3) are not offered: their transforms amplify rounding errors
   further. Transformed weights take 16/9 or 36/9 of the memory of the weights. */

#define NNRTI_CPU_WINOGRAD_X 786432  /* most bytes of transformed x per work item: what the L2 cache holds */
#define NNRTI_CPU_WINOGRAD_Y 262144  /* most bytes of results before the output transform */
#define NNRTI_CPU_WINOGRAD_TILES 64  /* most tiles per work item */
#define NNRTI_CPU_WINOGRAD_FEWEST 24 /* and the fewest where scratch determines the size of the arena */
#define NNRTI_CPU_MAX_CHANNELS 65536 /* of x and of y: bounds the scratch */

/* Former names of kernels, accepted as values of "nnrt.cpu.kernel" until version 0.4, which removes this table. */
static const char *const nnrti_cpu_kernel_aliases[][2] = {{"product", "gemm"},
                                                          {"vector", "gemv"},
                                                          {"split", "multi_gemm"},
                                                          {"groups", "conv_grouped"},
                                                          {"chain", "fused_depthwise"},
                                                          {"max_volume", "max_pool_nd"},
                                                          {"average_volume", "average_pool_nd"},
                                                          {"choose", "where"},
                                                          {"place", "argminmax"},
                                                          {"top", "topk"},
                                                          {"quantise", "quantize"},
                                                          {"dequantise", "dequantize"},
                                                          {"each_half", "elementwise_half"},
                                                          {"max_pool_8", "max_pool_q8"},
                                                          {"average_pool_8", "average_pool_q8"},
                                                          {"add_8", "binary_q8"},
                                                          {"product_8", "gemm_q8"},
                                                          {"depthwise_8", "depthwise_q8"}};

/* Replaces a former name of a kernel, in a buffer of `size` bytes, by its name in NNRTI_CPU_KERNELS. */
static void nnrti_cpu_resolve_alias(char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(nnrti_cpu_kernel_aliases) / sizeof(nnrti_cpu_kernel_aliases[0]); i++)
        if (strcmp(name, nnrti_cpu_kernel_aliases[i][0]) == 0) {
            const char *to = nnrti_cpu_kernel_aliases[i][1];
            memset(name, 0, size);
            memcpy(name, to, strlen(to));
            return;
        }
}

static NNRT_ReturnCode nnrti_cpu_read_winograd(nnrti_cpu_edit *e, const char *value)
{
    if (value[0] == '\0' || value[1] != '\0' || strchr("0124", value[0]) == NULL)
        return nnrt_error_set(e->draft->config->error, NNRT_INVALID_PARAMETER,
                              "extension '" NNRTI_CPU_WINOGRAD "' is '%s', expected 0 (never), 1 (where it is "
                              "faster), 2 or 4 (tiles of 2 x 2 or 4 x 4 for every convolution that allows them)",
                              value);
    e->tile = value[0] == '1' ? (e->half ? 0 : NNRTI_CPU_TILE_AUTO) : value[0] - '0';
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_read_memory(nnrti_cpu_edit *e, const char *value)
{
    e->smallest = strcmp(value, "smallest") == 0;
    if (e->smallest || strcmp(value, "fastest") == 0)
        return NNRT_SUCCESS;
    return nnrt_error_set(e->draft->config->error, NNRT_INVALID_PARAMETER,
                          "extension '" NNRTI_CPU_MEMORY "' is '%s', expected fastest or smallest", value);
}

static NNRT_ReturnCode nnrti_cpu_read_weights(nnrti_cpu_edit *e, const char *value)
{
    const bool int8 = strcmp(value, "int8") == 0;
    e->int8 = int8 && e->isa->narrow != NULL;
    if (int8 || strcmp(value, "float") == 0)
        return NNRT_SUCCESS;
    return nnrt_error_set(e->draft->config->error, NNRT_INVALID_PARAMETER,
                          "extension '" NNRTI_CPU_WEIGHTS "' is '%s', expected float or int8", value);
}

/* Reads the extensions "nnrt.cpu.winograd", "nnrt.cpu.memory", "nnrt.cpu.weights" and "nnrt.cpu.kernel", and
   enableFloat16. */
static NNRT_ReturnCode nnrti_cpu_read_config(nnrti_cpu_edit *e)
{
    const NNRT_ExtensionList *list = &e->draft->config->extensions;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    e->half = e->isa->narrow != NULL && e->draft->config->enableFloat16;
    e->tile = e->half ? 0 : NNRTI_CPU_TILE_AUTO;
    for (uint32_t i = 0; list->data != NULL && i < list->count && code == NNRT_SUCCESS; i++) {
        const NNRT_Extension *x = &list->data[i];
        char value[24] = ""; /* a longer value is cut, and matches nothing */
        if (x->name == NULL)
            continue;
        if (x->data != NULL)
            memcpy(value, x->data, x->size < sizeof(value) ? x->size : sizeof(value) - 1);
        if (strcmp(x->name, NNRTI_CPU_WINOGRAD) == 0)
            code = nnrti_cpu_read_winograd(e, value);
        else if (strcmp(x->name, NNRTI_CPU_MEMORY) == 0)
            code = nnrti_cpu_read_memory(e, value);
        else if (strcmp(x->name, NNRTI_CPU_WEIGHTS) == 0)
            code = nnrti_cpu_read_weights(e, value);
        else if (strcmp(x->name, NNRTI_CPU_KERNEL) == 0) {
            memcpy(e->only, value, sizeof(e->only));
            nnrti_cpu_resolve_alias(e->only, sizeof(e->only));
        } else if (strncmp(x->name, "nnrt.cpu.", 9) == 0) /* all other names are of other devices */
            code = nnrt_error_set(e->draft->config->error, NNRT_INVALID_PARAMETER,
                                  "there is no extension '%s'; this device has " NNRTI_CPU_WINOGRAD ", " NNRTI_CPU_MEMORY
                                  ", " NNRTI_CPU_WEIGHTS " and " NNRTI_CPU_KERNEL,
                                  x->name);
    }
    return code;
}

/* Tiles for the pixels of an axis: each takes `tile` pixels that are `dilation` apart. */
static int32_t nnrti_cpu_winograd_tiles(int32_t pixels, int32_t dilation, int32_t tile)
{
    if (dilation >= pixels)
        return pixels;
    return (int32_t)(nnrti_cpu_div_up(nnrti_cpu_div_up(pixels, dilation), tile) * dilation);
}

/* The cost of a 3 x 3 convolution by Winograd tiles, or directly (tile 0), in vector multiplications: per place
   (pixel or tile) its products, 6 for the overhead of a register tile, and the transforms of each vector of
   channels; plus reading the weights, of which Winograd has more: four floats from memory cost three
   multiplications, or eight from a cache that holds all of them cost one. */
static double nnrti_cpu_conv3x3_cost(const nnrti_cpu_isa *isa, const nnrt_view *w, const nnrt_view *y,
                                     const int32_t dilation[2], int32_t tile)
{
    const double cells = tile == 0 ? 9 : (tile + 2) * (tile + 2), K = w->dims[3];
    const double vectorsX = (w->dims[3] + isa->lanes - 1) / isa->lanes;
    const double vectorsY = nnrti_cpu_padded_channels(isa, w->dims[0]) / isa->lanes;
    const double count = cells * K * vectorsY * isa->lanes, weights = count > 262144 ? 0.75 * count : count / 8;
    double places = y->dims[0];
    for (int32_t i = 1; i < 3; i++)
        places *= tile == 0 ? y->dims[i] : nnrti_cpu_winograd_tiles(y->dims[i], dilation[i - 1], tile);
    switch (tile) {
    case 0: return places * (cells * K + 6) * vectorsY + weights;
    case 2: return places * (cells * (K + 6) * vectorsY + 100 * vectorsX + 70 * vectorsY) + weights;
    default: return places * (cells * (K + 6) * vectorsY + 260 * vectorsX + 220 * vectorsY) + weights;
    }
}

/* The Winograd tile of a convolution: 2 or 4 pixels wide, 0: direct. The only place that decides this. */
static NNRT_ReturnCode nnrti_cpu_choose_winograd_tile(nnrti_cpu_edit *e, const nnrt_draft_step *step,
                                                      int32_t *tile)
{
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
    const nnrt_view *w = &step->args[1].view, *y = &step->args[3].view;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    bool finite = true;
    int32_t best = 0;
    *tile = 0;
    if (e->tile == 0 || attr->group != 1 || w->dims[0] == 0 || w->dims[1] != 3 || w->dims[2] != 3 || w->dims[3] == 0 ||
        attr->stride.data[0] != 1 || attr->stride.data[1] != 1 || w->dims[3] > NNRTI_CPU_MAX_CHANNELS ||
        w->dims[0] > NNRTI_CPU_MAX_CHANNELS ||
        !nnrti_cpu_is_nhwc(&step->args[0].view) || !nnrti_cpu_is_allowed(e, &e->isa->winograd))
        return NNRT_SUCCESS;
    if (e->tile == NNRTI_CPU_TILE_AUTO) {
        const nnrti_cpu_window window = nnrti_cpu_window_of(attr, w);
        double least = nnrti_cpu_conv3x3_cost(e->isa, w, y, window.dilation, 0);
        for (int32_t n = 2; n <= 4 && w->dims[3] >= 16; n += 2) {
            const double cost = nnrti_cpu_conv3x3_cost(e->isa, w, y, window.dilation, n);
            if (cost < 0.9 * least) { /* a larger tile must be clearly faster: it is less exact */
                least = cost;
                best = n;
            }
        }
    } else {
        best = e->tile;
    }
    if (best != 0)
        code = nnrti_cpu_recall_finite(e, w, &finite);
    *tile = finite ? best : 0;
    return code;
}

/* Packs a panel of the weights w [C,3,3,K], transformed, and of the bias. The transform is computed in double, with one
   rounding to float: it runs once, so exactness is free. */
static void nnrti_cpu_pack_winograd_panel(void *arg, uint32_t panel, uint32_t worker)
{
    const nnrti_cpu_pack_job *const job = (const nnrti_cpu_pack_job *)arg;
    const nnrti_cpu_isa *const isa = job->isa;
    const nnrt_view *const w = job->w, *const bias = job->bias;
    const int32_t K = w->dims[3], n = job->tile + 2, c = (int32_t)panel * isa->panel, left = w->dims[0] - c;
    const int32_t width = left <= isa->lanes ? isa->lanes : isa->panel;
    const size_t cell = (size_t)(1 + K) * (size_t)width, tap = NNRTI_CPU_PACK_ROWS * (size_t)width;
    float taps[9 * NNRTI_CPU_PACK_ROWS * NNRTI_CPU_MAX_PANEL];
    float *const to = (float *)job->to + (size_t)c * (size_t)(n * n) * (size_t)(1 + K);
    (void)worker;
    for (int32_t i = 0; i < n * n; i++)
        memset(to + (size_t)i * cell, 0, (size_t)width * sizeof(float));
    for (int32_t t = 0; bias != NULL && t < width && t < left; t++)
        to[(size_t)(n + 1) * cell + (size_t)t] = nnrti_cpu_weight(bias, (c + t) * bias->strides[0]);
    for (int32_t k = 0; k < K; k += NNRTI_CPU_PACK_ROWS) {
        const int32_t rows = K - k < NNRTI_CPU_PACK_ROWS ? K - k : NNRTI_CPU_PACK_ROWS;
        for (int32_t i = 0; i < 9; i++)
            nnrti_cpu_pack_rows(w, c * w->strides[0] + i / 3 * w->strides[1] + i % 3 * w->strides[2] +
                                       k * w->strides[3],
                                w->strides[0], w->strides[3], rows, left, width, taps + (size_t)i * tap);
        for (int32_t r = 0; r < rows; r++)
            isa->weights(taps + r * width, tap, to + (size_t)(1 + k + r) * (size_t)width, cell, width, job->tile);
    }
}

/* Floats from one row of scratch to the next: whole vectors of any ISA, and no multiple of 256, so that rows do not
   map to the same cache sets. */
static size_t nnrti_cpu_winograd_row(int32_t channels)
{
    const size_t row = ((size_t)channels + 15) / 16 * 16;
    return row % 256 == 0 ? row + 16 : row;
}

/* Floats from one cell of scratch to the next, which has n: cells must not map to the same cache sets either. */
static size_t nnrti_cpu_winograd_cell(size_t n)
{
    return n % 256 == 0 ? n + 16 : n;
}

/* Divides the panels of C channels into groups for work items of `rows` tiles; returns the scratch of a worker. */
static size_t nnrti_cpu_winograd_scratch(const nnrti_cpu_isa *isa, nnrti_cpu_winograd *a, int32_t C, size_t rows)
{
    const int32_t panels = (C + isa->panel - 1) / isa->panel;
    const size_t cells = (size_t)(a->tile + 2) * (size_t)(a->tile + 2), panel = (size_t)isa->panel * sizeof(float);
    const size_t fit = NNRTI_CPU_WINOGRAD_Y / (cells * rows * panel);
    a->group = fit < 1 ? 1 : fit < (size_t)panels ? (int32_t)fit : panels;
    a->rowY = nnrti_cpu_winograd_row(a->group < panels ? a->group * isa->panel : nnrti_cpu_padded_channels(isa, C));
    a->cellX = nnrti_cpu_winograd_cell(rows * a->rowX);
    a->cellY = nnrti_cpu_winograd_cell(rows * a->rowY);
    return cells * (a->cellX + a->cellY) * sizeof(float) + 2 * (rows + NNRTI_CPU_MAX_TILE_ROWS) * sizeof(void *);
}

/* Divides the work: blocks of at most `most` tiles whose transforms fit the cache, and, if blocks are few, parts of the
   panels. The number of workers never changes the order of a sum. */
static void nnrti_cpu_plan_winograd(const nnrti_cpu_edit *e, uint32_t s, size_t most)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    nnrti_cpu_winograd *a = (nnrti_cpu_winograd *)(uintptr_t)step->attr;
    const int32_t K = step->args[0].view.dims[3], C = step->args[step->nIn + step->nDerived].view.dims[3];
    const int64_t tiles = (int64_t)step->args[0].view.dims[0] * a->down * a->across, workers = e->draft->workers;
    const int32_t panels = (C + e->isa->panel - 1) / e->isa->panel;
    const size_t cells = (size_t)(a->tile + 2) * (size_t)(a->tile + 2);
    size_t fit, rows;
    int64_t blocks;
    a->rowX = nnrti_cpu_winograd_row(K);
    fit = NNRTI_CPU_WINOGRAD_X / (cells * a->rowX * sizeof(float)) / 8 * 8;
    fit = fit < 16 ? 16 : fit > most ? most : fit;
    most = fit;
    blocks = (tiles + (int64_t)fit - 1) / (int64_t)fit;
    const bool large = blocks == 1 && (int64_t)cells * K * C > NNRTI_CPU_LARGE_WEIGHTS * 4; /* read each weight once */
    if (workers > 1 && blocks < 4 * workers && tiles >= 8 * workers && !large) {            /* equal shares */
        blocks = (blocks + workers - 1) / workers * workers;
        rows = (size_t)((tiles + blocks - 1) / blocks);
    } else {
        rows = blocks > 1 ? (size_t)((tiles + blocks - 1) / blocks + 7) / 8 * 8 : tiles > 0 ? (size_t)tiles : 1;
    }
    a->gemm.rows = (int32_t)rows;
    a->gemm.parts = 1;
    if (blocks * 5 < (blocks + workers - 1) / workers * workers * 4) /* else some workers would idle for too long */
        a->gemm.parts = (uint32_t)(workers < panels ? workers : panels);
    step->scratchBytes = nnrti_cpu_winograd_scratch(e->isa, a, C, rows);
    if (e->dynamic == NULL || e->packed != NULL)
        return;
    for (size_t n = 1; n <= most; n++) { /* the most of any size */
        const size_t bytes = nnrti_cpu_winograd_scratch(e->isa, a, C, n);
        step->scratchBytes = bytes > step->scratchBytes ? bytes : step->scratchBytes;
    }
}

/* Fewer tiles per work item until the scratch fits `room` bytes. */
static void nnrti_cpu_shrink_winograd(const nnrti_cpu_edit *e, uint32_t s, size_t room)
{
    for (size_t most = NNRTI_CPU_WINOGRAD_TILES;
         e->draft->steps[s].scratchBytes > room && most > NNRTI_CPU_WINOGRAD_FEWEST; most -= 8)
        nnrti_cpu_plan_winograd(e, s, most - 8);
}

/* A 3 x 3 convolution becomes `winograd`. */
static NNRT_ReturnCode nnrti_cpu_lower_winograd(nnrti_cpu_edit *e, uint32_t s, int32_t tile)
{
    nnrt_draft *d = e->draft;
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)d->steps[s].attr;
    const nnrt_plan_arg x = d->steps[s].args[0], y = d->steps[s].args[3];
    const nnrt_view w = d->steps[s].args[1].view, b = d->steps[s].args[2].view;
    const bool has = d->steps[s].args[2].tensor != NNRT_NO_TENSOR;
    const int32_t C = w.dims[0], K = w.dims[3], cells = (tile + 2) * (tile + 2);
    const int32_t packed[2] = {nnrti_cpu_padded_channels(e->isa, C), cells * (1 + K)};
    nnrti_cpu_winograd *a = (nnrti_cpu_winograd *)nnrt_memory_keep(d->memory, sizeof(*a));
    nnrti_cpu_pack_job job = {e->isa, &w, has ? &b : NULL, e->isa->panel, tile, NNRTI_CPU_F32, NULL};
    nnrt_plan_arg *args;
    void *data, *zeros;
    NNRT_ReturnCode code;
    if (a == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    a->gemm.conv = nnrti_cpu_window_of(attr, &w);
    a->tile = tile;
    a->down = nnrti_cpu_winograd_tiles(y.view.dims[1], a->gemm.conv.dilation[0], tile);
    a->across = nnrti_cpu_winograd_tiles(y.view.dims[2], a->gemm.conv.dilation[1], tile);
    nnrti_cpu_set_kernel(&d->steps[s], &e->isa->winograd, a);
    d->steps[s].flags = 0;
    if ((args = nnrt_draft_args(d, s, 2, 1)) == NULL)
        return nnrti_cpu_no_memory(e, &d->steps[s]);
    args[0] = x;
    args[2] = y;
    if ((code = nnrti_cpu_pack(e, s, NNRT_DATA_TYPE_FLOAT32, packed, &data)) != NNRT_SUCCESS ||
        (code = nnrti_cpu_derive(e, s, NNRT_DATA_TYPE_FLOAT32, 1, &K, &zeros)) != NNRT_SUCCESS)
        return code;
    job.to = data;
    if (data != NULL)
        nnrti_cpu_pack_panels(&e->call, &job, nnrti_cpu_pack_winograd_panel);
    if (zeros != NULL)
        memset(zeros, 0, (size_t)K * sizeof(float));
    nnrti_cpu_plan_winograd(e, s, e->smallest ? 8 : NNRTI_CPU_WINOGRAD_TILES);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>table */

/* The NNRT_DeviceVtbl of the device. PrepareModel runs the edit pass of this file over the reference device's draft;
   everything else is the plan's own machinery. There is one static device object per instruction set, and one for
   "cpu". */

/* Version of the packed weights. Increment with every change of what is packed (nnrt_draft_pack), of its layout, and
   of what nnrt_draft_recall returns: packed weights of another version are ignored. */
#define NNRTI_CPU_PACK_VERSION "15 "

/* A registered device. */
typedef struct nnrti_cpu_device {
    const nnrti_cpu_isa *isa;
    char name[24];
    NNRT_DeviceVtbl table;
} nnrti_cpu_device;

static NNRT_ReturnCode nnrti_cpu_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_name(void *self, const char **name)
{
    *name = ((const nnrti_cpu_device *)self)->name;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_vendor(void *self, const char **name)
{
    (void)self;
    *name = "nnrt";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_kind(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_CPU;
    return NNRT_SUCCESS;
}

/* The device supports dynamic dimensions, model caches, weights in half precision, performance modes and priorities. */
static NNRT_ReturnCode nnrti_cpu_supports(void *self, bool *supported)
{
    (void)self;
    *supported = true;
    return NNRT_SUCCESS;
}

/* The key of packed weights: together with the model and the configuration it determines them. */
typedef struct nnrti_cpu_key {
    char text[32];
} nnrti_cpu_key;

static nnrti_cpu_key nnrti_cpu_key_of(const nnrti_cpu_isa *isa)
{
    nnrti_cpu_key key = {NNRTI_CPU_PACK_VERSION};
    strncat(key.text, isa->name, sizeof(key.text) - sizeof(NNRTI_CPU_PACK_VERSION));
    return key;
}

/* A run uses one thread in performance mode LOW, otherwise all threads of the pool. */
static NNRT_ModelConfig nnrti_cpu_config(const NNRT_ModelConfig *config)
{
    NNRT_ModelConfig own;
    nnrt_config_read(&own, config);
    if (own.mode == NNRT_PERFORMANCE_LOW)
        own.parallel = NULL;
    return own;
}

/* Checks the extensions before a model is planned: a model whose dynamic dimensions are unknown is INVALID_SHAPE, which callers
   answer by another preparation, and only that would refuse an option. */
static NNRT_ReturnCode nnrti_cpu_check_options(const nnrti_cpu_isa *isa, const NNRT_ModelConfig *config)
{
    nnrt_draft draft;
    nnrti_cpu_edit e;
    memset(&draft, 0, sizeof(draft));
    memset(&e, 0, sizeof(e));
    draft.config = config;
    e.draft = &draft;
    e.isa = isa;
    return nnrti_cpu_read_config(&e);
}

static NNRT_ReturnCode nnrti_cpu_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                         NNRT_PreparedModel **prepared)
{
    const nnrti_cpu_isa *const isa = ((const nnrti_cpu_device *)self)->isa;
    const nnrti_cpu_key key = nnrti_cpu_key_of(isa);
    const NNRT_ModelConfig own = nnrti_cpu_config(config);
    const NNRT_ReturnCode code = nnrti_cpu_check_options(isa, &own);
    return code != NNRT_SUCCESS
               ? code
               : nnrt_plan_prepare(model, &own, nnrti_cpu_edit_draft, (void *)(uintptr_t)isa, key.text, prepared);
}

/* PrepareModelFromModelCache. */
static NNRT_ReturnCode nnrti_cpu_restore(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                         const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    const nnrti_cpu_isa *const isa = ((const nnrti_cpu_device *)self)->isa;
    const nnrti_cpu_key key = nnrti_cpu_key_of(isa);
    const NNRT_ModelConfig own = nnrti_cpu_config(config);
    return nnrt_plan_restore_packed(cache, count, &own, nnrti_cpu_edit_draft, (void *)(uintptr_t)isa, key.text,
                                    prepared);
}

static NNRT_ReturnCode nnrti_cpu_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                        size_t *bytes)
{
    const NNRT_ModelConfig own = nnrti_cpu_config(config);
    return nnrt_plan_memory(model, &own, nnrti_cpu_edit_draft, (void *)(uintptr_t)((const nnrti_cpu_device *)self)->isa,
                            bytes);
}

/* The edit rejects no node: the device supports the nodes of the reference device. */
static NNRT_ReturnCode nnrti_cpu_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    (void)self;
    return nnrt_plan_supported(model, config, isSupported, count, reason, user);
}

static NNRT_ReturnCode nnrti_cpu_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    return nnrti_cpu_nodes(self, model, NULL, isSupported, count, NULL, NULL);
}

NNRT_API const char *nnrt_cpu_set(uint32_t i)
{
    for (uint32_t k = 0; nnrti_cpu_isas[k] != NULL; k++)
        if (nnrti_cpu_has_isa(nnrti_cpu_isas[k]) && i-- == 0)
            return nnrti_cpu_isas[k]->name;
    return NULL;
}

/* "cpu", and the instruction sets by name. */
static nnrti_cpu_device nnrti_cpu_devices[1 + sizeof(nnrti_cpu_isas) / sizeof(nnrti_cpu_isas[0])];

/* The device of an instruction set, or with NULL of the best one; NULL: the machine or this build has none. */
static nnrti_cpu_device *nnrti_cpu_device_of(const char *isa)
{
    for (uint32_t k = 0; nnrti_cpu_isas[k] != NULL; k++) {
        nnrti_cpu_device *made = &nnrti_cpu_devices[isa != NULL ? 1 + k : 0];
        if (!nnrti_cpu_has_isa(nnrti_cpu_isas[k]) || (isa != NULL && strcmp(isa, nnrti_cpu_isas[k]->name) != 0))
            continue;
        if (made->isa != NULL)
            return made;
        made->isa = nnrti_cpu_isas[k];
        memcpy(made->name, "cpu-", 5);
        if (isa != NULL)
            memcpy(made->name + 4, isa, strlen(isa) + 1);
        else
            made->name[3] = '\0';
        made->table.structSize = sizeof(made->table);
        made->table.version = NNRT_HDI(2, 0);
        made->table.GetVersion = nnrti_cpu_version;
        made->table.GetDeviceName = nnrti_cpu_name;
        made->table.GetVendorName = nnrti_cpu_vendor;
        made->table.GetDeviceType = nnrti_cpu_kind;
        made->table.GetSupportedOperation = nnrti_cpu_supported;
        made->table.IsDynamicInputSupported = nnrti_cpu_supports;
        made->table.IsPerformanceModeSupported = nnrti_cpu_supports;
        made->table.IsPrioritySupported = nnrti_cpu_supports;
        made->table.IsModelCacheSupported = nnrti_cpu_supports;
        made->table.IsFloat16PrecisionSupported = nnrti_cpu_supports;
        made->table.PrepareModelFromModelCache = nnrti_cpu_restore;
        made->table.PrepareModel = nnrti_cpu_prepare;
        made->table.GetModelMemory = nnrti_cpu_memory;
        made->table.GetSupportedNodes = nnrti_cpu_nodes;
        return made;
    }
    return NULL;
}

#ifdef NNRT_BUILTIN_WANTED
static const NNRT_DeviceVtbl *nnrti_cpu_table(void **self)
{
    nnrti_cpu_device *made = nnrti_cpu_device_of(NULL);
    *self = made;
    return made != NULL ? &made->table : NULL;
}
#endif

NNRT_API NNRT_ReturnCode nnrt_cpu_register(const char *set, nnrt_error *error)
{
    nnrti_cpu_device *made = nnrti_cpu_device_of(set);
    if (made == NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "instruction set '%s' is not supported by this machine or was left out of this build; "
                              "nnrt_cpu_set lists the usable ones",
                              set != NULL ? set : "");
    return nnrt_device_register(&made->table, made, error);
}

NNRT_SETUP_END()

#endif /* NNRT_IMPLEMENTATION */
