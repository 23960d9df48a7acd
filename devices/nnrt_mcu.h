/*
nnrt_mcu.h - the device "mcu:TARGET": kernels for microcontrollers, on the same plans as the reference device. On a
desktop it edits the draft of a plan: packs weights for the target's instructions, folds zero points into biases and
chooses kernels. nnrt emit-c MODEL --device mcu:cortex-m4 writes that plan as C, and this header gives the target its
kernels, in C99, with intrinsics where the compiler says that the processor has the instructions.

    desktop     nnrt emit-c model.onnx --device mcu:cortex-m4 -o model.h
    firmware    #define NNRT_IMPLEMENTATION
                #define NNRT_FIRMWARE
                #include "core/nnrt_plan.h"
                #include "devices/nnrt_mcu.h"
                #include "model.h"

TARGETS
    cortex-m4, cortex-m7, cortex-m33    the DSP extension: two 16-bit products per instruction (SMLAD); float32 kernels
                                        for the FPU (-mfloat-abi=hard), which other targets leave to the
                                        reference kernels
    cortex-m55, cortex-m85              MVE (Helium): 16 products of int8 per instruction (VMLADAVA); no test runs on
                                        cortex-m85; layers of int16 use SMLAD
    cortex-m0plus, cortex-m3, rv32      two products per 32-bit multiplication
    host                                the kernels of cortex-m4, to test them on a desktop

    Every kernel also exists in plain C, with the same results, so a desktop runs the plan of any target.

RESULTS
    Quantized operators have exact results: the bits of the reference device, on every target. Nodes without a kernel
    here run the reference kernel.

    float32 operators have the same bits on the target and on the desktop. Sums of products (CONV2D_FUSION,
    FULL_CONNECTION, MATMUL_FUSION by a constant matrix) start with the bias and run over the taps inside x in the order
    of the reference device; a product and its addition are rounded once (fused multiply-add). So, with S the sum of
    |bias| and of the |x| |w| of K products, and if S is finite, the result before the activation is within
        K * 2^-24 * S + K * 2^-150
    of the unrounded sum, apart from second-order terms: each of the K additions rounds a number of at most S, by 2^-24
    of it or, below 2^-126, by 2^-150. The reference device also rounds the products: within
    (K + 1) * 2^-24 * S + K * 2^-150. The two are apart by the sum of these bounds at most. All other float32
    operators have the bits of the reference device, RELU, RELU6 and RELU1 included; the sign and the payload of a
    NaN may differ.

SPECIALIZED KERNELS
    Kernel K has an inline body, K_inline, which takes all sizes from its attributes. emit-c writes a function per step
    that calls it with constant attributes, so that the compiler removes branches and unrolls loops. Inner loops (GEMM
    microkernels) are functions that all steps share. With --small, steps share K itself.

CALLS WITHIN A STEP
    NNRT_STEP(plan, step) of nnrt.h is a statement before each step. NNRT_ROW(done, of), defined before this header, is
    a statement within the steps of these kernels: it feeds a watchdog, shows progress, or lets another task run.
    Without a definition it is no code. `done` of `of` parts of the step are done, both int32_t, done < of. A part is
        a row of y, of a group; the 3 x 3 depthwise kernels with SMLAD compute two rows at a time
        a panel of channels, if y is one pixel, as of a fully connected layer, after a call with done = 0
        1,024 elements of a row, of elementwise operators and casts (float32 sums and products: no calls)
    Kernels that compute pixels in pairs compute the last pixel of a row, if it is half a pair, after the next call.

SECTIONS (search for the tag)
    >>device       registering
    >>attributes   attribute structs of the kernels
    >>program      a plan in a file, which firmware runs in place; the table of kernels that it links
    -- implementation --
    >>check        whether the arguments of a file's step suit a kernel
    >>dsp          SIMD instructions of Armv7E-M, and the same in C
    >>requantize   from an int32 sum to a stored integer
    >>rows         results that overwrite the input
    >>conv         convolution and fully connected layers: im2col and GEMM
    >>depthwise    depthwise convolution
    >>elementwise  sums, products, casts, functions of one input
    >>pool         pools and means
    >>softmax      softmax
    >>nbits        products of float32, or of int8, with packed weights of 2, 4 or 8 bits
    >>float32      float32 kernels for processors with an FPU
    >>plain        convolution, depthwise and fully connected layers for processors without SIMD
    >>mve          convolution, sums and pools with MVE
    >>int16        convolution, depthwise and fully connected layers of int16 with int8 weights
    >>load         checking and running a plan in a file
    -- desktop only --
    >>pack         weights and requantization tables
    >>float32_edit packed weights and kernel selection of float32
    >>edit         kernel selection
    >>transposed   transposed convolutions as convolutions
    >>concat       CONCAT without copies
    >>table        the device's function table
    >>save         writing a plan as a file

MIT license, see LICENSE.
*/
#ifndef NNRT_MCU_H
#define NNRT_MCU_H

#ifdef NNRT_FIRMWARE
#include "../core/nnrt_plan.h"
#else
#include "../nnrt_hal.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>device */

#ifndef NNRT_FIRMWARE
/* Registers "mcu:TARGET". NOT_SUPPORT: there is no such target. The device and its name are static. */
NNRT_API NNRT_ReturnCode nnrt_mcu_register(const char *target, nnrt_error *error);
/* Name i of the targets; NULL from the end of the list on. */
NNRT_API const char *nnrt_mcu_target(uint32_t i);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>attributes */

/* Sizes and strides count elements. x [n,h,w,c * groups], y [n,p,q,o * groups]; the window of y[.,p,q,.] begins at row
   p * sh - top and column q * sw - left of x. xZero: the stored integer of 0, which pads x. zero, lo, hi: zero point
   of y, and its range after the activation. */
#define NNRT_ATTR_McuConv(M, S)                                                                                        \
    M(S, INT32, _, n, 1)                                                                                               \
    M(S, INT32, _, h, 1)                                                                                               \
    M(S, INT32, _, w, 1)                                                                                               \
    M(S, INT32, _, c, 1) /* channels of x per group */                                                                 \
    M(S, INT32, _, groups, 1)                                                                                          \
    M(S, INT32, _, xn, 0) /* strides of x */                                                                           \
    M(S, INT32, _, xh, 0)                                                                                              \
    M(S, INT32, _, xw, 0)                                                                                              \
    M(S, INT32, _, xc, 1)                                                                                              \
    M(S, INT32, _, p, 1)                                                                                               \
    M(S, INT32, _, q, 1)                                                                                               \
    M(S, INT32, _, o, 1)  /* channels of y per group */                                                                \
    M(S, INT32, _, yn, 0) /* strides of y */                                                                           \
    M(S, INT32, _, yh, 0)                                                                                              \
    M(S, INT32, _, yw, 0)                                                                                              \
    M(S, INT32, _, yc, 1)                                                                                              \
    M(S, INT32, _, kh, 1)                                                                                              \
    M(S, INT32, _, kw, 1)                                                                                              \
    M(S, INT32, _, sh, 1)                                                                                              \
    M(S, INT32, _, sw, 1)                                                                                              \
    M(S, INT32, _, dh, 1)                                                                                              \
    M(S, INT32, _, dw, 1)                                                                                              \
    M(S, INT32, _, top, 0)                                                                                             \
    M(S, INT32, _, left, 0)                                                                                            \
    M(S, INT32, _, late, 0)    /* rows of y in the ring of >>rows; 0: there is none */                                 \
    M(S, INT32, _, reverse, 0) /* computes from the last pixel to the first */                                         \
    M(S, INT32, _, words, 0)   /* words of a widened window */                                                         \
    M(S, INT32, _, xUnsigned, 0) /* x is uint8 */                                                                      \
    M(S, INT32, _, xZero, 0)                                                                                           \
    M(S, INT32, _, zero, 0)                                                                                            \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, hi, 127)
NNRT_ATTR_DEFINE(McuConv)

/* The same for x [n,h,w,c] and y [n,p,q,c], channels adjacent. */
#define NNRT_ATTR_McuDepthwise(M, S)                                                                                   \
    M(S, INT32, _, n, 1)                                                                                               \
    M(S, INT32, _, h, 1)                                                                                               \
    M(S, INT32, _, w, 1)                                                                                               \
    M(S, INT32, _, c, 1)                                                                                               \
    M(S, INT32, _, xn, 0)                                                                                              \
    M(S, INT32, _, xh, 0)                                                                                              \
    M(S, INT32, _, xw, 0)                                                                                              \
    M(S, INT32, _, p, 1)                                                                                               \
    M(S, INT32, _, q, 1)                                                                                               \
    M(S, INT32, _, yn, 0)                                                                                              \
    M(S, INT32, _, yh, 0)                                                                                              \
    M(S, INT32, _, yw, 0)                                                                                              \
    M(S, INT32, _, kh, 1)                                                                                              \
    M(S, INT32, _, kw, 1)                                                                                              \
    M(S, INT32, _, sh, 1)                                                                                              \
    M(S, INT32, _, sw, 1)                                                                                              \
    M(S, INT32, _, dh, 1)                                                                                              \
    M(S, INT32, _, dw, 1)                                                                                              \
    M(S, INT32, _, top, 0)                                                                                             \
    M(S, INT32, _, left, 0)                                                                                            \
    M(S, INT32, _, late, 0) /* rows of y in the ring of >>rows; 0: there is none */                                    \
    M(S, INT32, _, xUnsigned, 0)                                                                                       \
    M(S, INT32, _, xZero, 0)                                                                                           \
    M(S, INT32, _, zero, 0)                                                                                            \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, hi, 127)
NNRT_ATTR_DEFINE(McuDepthwise)

/* The elements of a result y and one input x, or two, x and z, as four nested loops: sizes d and strides. */
#define NNRTI_MCU_WALK_1(M, S)                                                                                         \
    M(S, INT32, _, d0, 1)                                                                                              \
    M(S, INT32, _, d1, 1)                                                                                              \
    M(S, INT32, _, d2, 1)                                                                                              \
    M(S, INT32, _, d3, 1)                                                                                              \
    M(S, INT32, _, y0, 0)                                                                                              \
    M(S, INT32, _, y1, 0)                                                                                              \
    M(S, INT32, _, y2, 0)                                                                                              \
    M(S, INT32, _, y3, 1)                                                                                              \
    M(S, INT32, _, x0, 0)                                                                                              \
    M(S, INT32, _, x1, 0)                                                                                              \
    M(S, INT32, _, x2, 0)                                                                                              \
    M(S, INT32, _, x3, 1)

/* Between float32 and stored integers from lo to lo + 255. even: halves round to even, otherwise away from zero. */
#define NNRT_ATTR_McuCast(M, S)                                                                                        \
    NNRTI_MCU_WALK_1(M, S)                                                                                             \
    M(S, FLOAT, _, scale, 1.0f)                                                                                        \
    M(S, INT32, _, zero, 0)                                                                                            \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, even, 0)
NNRT_ATTR_DEFINE(McuCast)

/* float32 windows: convolution and depthwise convolution (c = o = 1 channel per group), pools (c = o = 1). x [n,h,w,
   c * groups], y [n,p,q,o * groups]. activation: an NNRT_ActivationType. */
#define NNRT_ATTR_McuWindowF32(M, S)                                                                                   \
    M(S, INT32, _, n, 1)                                                                                               \
    M(S, INT32, _, h, 1)                                                                                               \
    M(S, INT32, _, w, 1)                                                                                               \
    M(S, INT32, _, c, 1)                                                                                               \
    M(S, INT32, _, groups, 1)                                                                                          \
    M(S, INT32, _, xn, 0)                                                                                              \
    M(S, INT32, _, xh, 0)                                                                                              \
    M(S, INT32, _, xw, 0)                                                                                              \
    M(S, INT32, _, xc, 1)                                                                                              \
    M(S, INT32, _, p, 1)                                                                                               \
    M(S, INT32, _, q, 1)                                                                                               \
    M(S, INT32, _, o, 1)                                                                                               \
    M(S, INT32, _, yn, 0)                                                                                              \
    M(S, INT32, _, yh, 0)                                                                                              \
    M(S, INT32, _, yw, 0)                                                                                              \
    M(S, INT32, _, yc, 1)                                                                                              \
    M(S, INT32, _, kh, 1)                                                                                              \
    M(S, INT32, _, kw, 1)                                                                                              \
    M(S, INT32, _, sh, 1)                                                                                              \
    M(S, INT32, _, sw, 1)                                                                                              \
    M(S, INT32, _, dh, 1)                                                                                              \
    M(S, INT32, _, dw, 1)                                                                                              \
    M(S, INT32, _, top, 0)                                                                                             \
    M(S, INT32, _, left, 0)                                                                                            \
    M(S, INT32, _, activation, 0)
NNRT_ATTR_DEFINE(McuWindowF32)

/* float32, elementwise: count elements, adjacent in all operands. */
#define NNRT_ATTR_McuElementsF32(M, S)                                                                                 \
    M(S, INT32, _, count, 0)                                                                                           \
    M(S, INT32, _, activation, 0)
NNRT_ATTR_DEFINE(McuElementsF32)

/* y = x + z, `count` adjacent elements; m, e: the factors of x, of z, and of their sum. */
#define NNRT_ATTR_McuAddMve(M, S)                                                                                      \
    M(S, INT32, _, count, 1)                                                                                           \
    M(S, INT32, _, xUnsigned, 0)                                                                                       \
    M(S, INT32, _, xZero, 0)                                                                                           \
    M(S, INT32, _, xm, 0)                                                                                              \
    M(S, INT32, _, xe, 0)                                                                                              \
    M(S, INT32, _, zUnsigned, 0)                                                                                       \
    M(S, INT32, _, zZero, 0)                                                                                           \
    M(S, INT32, _, zm, 0)                                                                                              \
    M(S, INT32, _, ze, 0)                                                                                              \
    M(S, INT32, _, ym, 0)                                                                                              \
    M(S, INT32, _, ye, 0)                                                                                              \
    M(S, INT32, _, zero, 0)                                                                                            \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, hi, 127)
NNRT_ATTR_DEFINE(McuAddMve)

/* Pools of x [n,h,w,c], channels adjacent; members as above. */
#define NNRT_ATTR_McuPoolMve(M, S)                                                                                     \
    M(S, INT32, _, n, 1)                                                                                               \
    M(S, INT32, _, h, 1)                                                                                               \
    M(S, INT32, _, w, 1)                                                                                               \
    M(S, INT32, _, c, 1)                                                                                               \
    M(S, INT32, _, xn, 0)                                                                                              \
    M(S, INT32, _, xh, 0)                                                                                              \
    M(S, INT32, _, xw, 0)                                                                                              \
    M(S, INT32, _, p, 1)                                                                                               \
    M(S, INT32, _, q, 1)                                                                                               \
    M(S, INT32, _, yn, 0)                                                                                              \
    M(S, INT32, _, yh, 0)                                                                                              \
    M(S, INT32, _, yw, 0)                                                                                              \
    M(S, INT32, _, kh, 1)                                                                                              \
    M(S, INT32, _, kw, 1)                                                                                              \
    M(S, INT32, _, sh, 1)                                                                                              \
    M(S, INT32, _, sw, 1)                                                                                              \
    M(S, INT32, _, top, 0)                                                                                             \
    M(S, INT32, _, left, 0)                                                                                            \
    M(S, INT32, _, xUnsigned, 0)                                                                                       \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, hi, 127)
NNRT_ATTR_DEFINE(McuPoolMve)

/* y = x + z, x * z, or the larger one of both. xm, xn: R of the specification with m and e = -xn, which brings x to the
   common scale of a sum. m, bias, shift: nnrti_mcu_store_of. */
#define NNRT_ATTR_McuBinary(M, S)                                                                                      \
    NNRTI_MCU_WALK_1(M, S)                                                                                             \
    M(S, INT32, _, z0, 0)                                                                                              \
    M(S, INT32, _, z1, 0)                                                                                              \
    M(S, INT32, _, z2, 0)                                                                                              \
    M(S, INT32, _, z3, 1)                                                                                              \
    M(S, INT32, _, xUnsigned, 0)                                                                                       \
    M(S, INT32, _, minus, 0) /* x - z; the smaller one */                                                              \
    M(S, INT32, _, xZero, 0)                                                                                           \
    M(S, INT32, _, xm, 0)                                                                                              \
    M(S, INT32, _, xn, 0)                                                                                              \
    M(S, INT32, _, zZero, 0)                                                                                           \
    M(S, INT32, _, zm, 0)                                                                                              \
    M(S, INT32, _, zn, 0)                                                                                              \
    M(S, INT32, _, m, 0)                                                                                               \
    M(S, INT32, _, bias, 0)                                                                                            \
    M(S, INT32, _, shift, 0)                                                                                           \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, hi, 127)
NNRT_ATTR_DEFINE(McuBinary)

/* y = table[x], a derived constant of 256 bytes. */
#define NNRT_ATTR_McuMap(M, S) NNRTI_MCU_WALK_1(M, S)
NNRT_ATTR_DEFINE(McuMap)

/* Pools of x [n,h,w,c], channels adjacent, to y [n,p,q,c]; windows as in McuConv. mapped: y = table[mean or maximum].
   MEAN: x is a window, and m, bias, shift of nnrti_mcu_store_of apply to its sum less the zero points. */
#define NNRT_ATTR_McuPool(M, S)                                                                                        \
    M(S, INT32, _, n, 1)                                                                                               \
    M(S, INT32, _, h, 1)                                                                                               \
    M(S, INT32, _, w, 1)                                                                                               \
    M(S, INT32, _, c, 1)                                                                                               \
    M(S, INT32, _, xn, 0)                                                                                              \
    M(S, INT32, _, xh, 0)                                                                                              \
    M(S, INT32, _, xw, 0)                                                                                              \
    M(S, INT32, _, p, 1)                                                                                               \
    M(S, INT32, _, q, 1)                                                                                               \
    M(S, INT32, _, yn, 0)                                                                                              \
    M(S, INT32, _, yh, 0)                                                                                              \
    M(S, INT32, _, yw, 0)                                                                                              \
    M(S, INT32, _, kh, 1)                                                                                              \
    M(S, INT32, _, kw, 1)                                                                                              \
    M(S, INT32, _, sh, 1)                                                                                              \
    M(S, INT32, _, sw, 1)                                                                                              \
    M(S, INT32, _, top, 0)                                                                                             \
    M(S, INT32, _, left, 0)                                                                                            \
    M(S, INT32, _, xUnsigned, 0)                                                                                       \
    M(S, INT32, _, mapped, 0)                                                                                          \
    M(S, INT32, _, zeros, 0) /* MEAN: the sum of the zero points */                                                    \
    M(S, INT32, _, m, 0)                                                                                               \
    M(S, INT32, _, bias, 0)                                                                                            \
    M(S, INT32, _, shift, 0)                                                                                           \
    M(S, INT32, _, lo, -128)                                                                                           \
    M(S, INT32, _, hi, 127)
NNRT_ATTR_DEFINE(McuPool)

/* Softmax over each of `rows` rows of `length` elements. lo: the smallest integer of y; float32 has neither lo nor xUnsigned. */
#define NNRT_ATTR_McuSoftmax(M, S)                                                                                     \
    M(S, INT32, _, rows, 1)                                                                                            \
    M(S, INT32, _, length, 1)                                                                                          \
    M(S, INT32, _, xUnsigned, 0)                                                                                       \
    M(S, INT32, _, lo, -128)
NNRT_ATTR_DEFINE(McuSoftmax)

/* MATMUL_NBITS: x [rows,columns], weight [n,B,Z], scale [n,B], zero points, bias [n], y [rows,n], all dense, as the operator
   defines them: B blocks of blockSize columns, Z bytes of a block. zero: 0: no zero points; 1: [n,P] packed bytes; 2: [n,B]
   float32. bias: 0 or 1. */
#define NNRT_ATTR_McuNbits(M, S)                                                                                       \
    M(S, INT32, _, rows, 1)                                                                                            \
    M(S, INT32, _, n, 1)                                                                                               \
    M(S, INT32, _, columns, 1)                                                                                         \
    M(S, INT32, _, blockSize, 32)                                                                                      \
    M(S, INT32, _, bits, 4)                                                                                            \
    M(S, INT32, _, zero, 0)                                                                                            \
    M(S, INT32, _, bias, 0)
NNRT_ATTR_DEFINE(McuNbits)

/* Kernels: inputs x, derived packed weights and table, output y. Kernels with McuCast and McuBinary have no derived
   constants; other constants are stated with the attributes. Each kernel also has a number (NNRTI_MCU_NUMBERS) and a
   check (>>check). */
#define NNRTI_MCU_KERNELS(X)                                                                                           \
    X(conv_dsp_s8)                                                                                                     \
    X(conv_dsp_u8)                                                                                                     \
    X(conv_dsp)                                                                                                        \
    X(conv_dsp_wide)                                                                                                   \
    X(depthwise3_dsp_s8)                                                                                               \
    X(depthwise3_dsp_u8)                                                                                               \
    X(depthwise3_dsp)                                                                                                  \
    X(depthwise_dsp_s8)                                                                                                \
    X(depthwise_dsp_u8)                                                                                                \
    X(depthwise_dsp)                                                                                                   \
    X(add)                                                                                                             \
    X(mul)                                                                                                             \
    X(extreme)                                                                                                         \
    X(max_pool)                                                                                                        \
    X(average_pool)                                                                                                    \
    X(mean)                                                                                                            \
    X(softmax)                                                                                                         \
    X(map)                                                                                                             \
    X(quantize)                                                                                                        \
    X(dequantize)                                                                                                      \
    X(conv_f32)                                                                                                        \
    X(conv_any_f32)                                                                                                    \
    X(depthwise_f32)                                                                                                   \
    X(depthwise_any_f32)                                                                                               \
    X(max_pool_f32)                                                                                                    \
    X(average_pool_f32)                                                                                                \
    X(add_f32)                                                                                                         \
    X(mul_f32)                                                                                                         \
    X(conv_mve)                                                                                                        \
    X(depthwise_mve)                                                                                                   \
    X(add_mve)                                                                                                         \
    X(max_pool_mve)                                                                                                    \
    X(average_pool_mve)                                                                                                \
    X(conv_plain)                                                                                                      \
    X(conv_plain_wide)                                                                                                 \
    X(depthwise_plain_3x3)                                                                                             \
    X(depthwise_plain)                                                                                                 \
    X(conv_q16)                                                                                                        \
    X(conv_q16_long)                                                                                                   \
    X(conv_q16_plain)                                                                                                  \
    X(conv_q16_plain_long)                                                                                             \
    X(depthwise_q16)                                                                                                   \
    X(depthwise_q16_plain)                                                                                             \
    X(softmax_f32)                                                                                                     \
    X(matmul_nbits)                                                                                                    \
    X(matmul_nbits_int8)
#define NNRTI_MCU_PROTO(kernel)                                                                                        \
    NNRT_API NNRT_ReturnCode nnrt_mcu_##kernel(const void *attr, nnrt_view *args, nnrt_call *call);
NNRTI_MCU_KERNELS(NNRTI_MCU_PROTO)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>program */

/* A plan in a file. nnrt compile MODEL --device mcu:TARGET -o FILE.nnrt stores the finished plan: steps, offsets in the
   arena, attributes and packed weights. Firmware opens the file where it is (in flash), and runs it there: no heap, no
   tables in RAM, no operator that the firmware does not list. A model that arrives later needs no new firmware:

       static const nnrt_mcu_row rows[] = {NNRT_MCU_LINK(conv_dsp_s8), NNRT_MCU_LINK(depthwise3_dsp_s8)};
       static const nnrt_mcu_kernels kernels = {rows, 2, NNRT_MCU_PROCESSOR};

       nnrt_mcu_program program;
       code = nnrt_mcu_open(&program, file, bytes, &kernels);     // checks everything, once
       if (code == NNRT_SUCCESS && program.memoryBytes <= sizeof(memory) && nnrt_mcu_takes(&program, 1, 1, sizes))
           code = nnrt_mcu_run(&program, memory, io);             // io: addresses of the inputs, then of the outputs

   nnrt info FILE.nnrt prints the rows that a file needs.

   nnrt_mcu_open trusts nothing in the file, even if its checksum is right: it checks every count, offset and text, and
   calls the check of each step's kernel, after which no kernel can access memory outside the file, the run's memory,
   inputs and outputs, whatever attributes and weights the file has. A run checks nothing again: the file must not
   change while the program is in use.

   The file is a .nnrt file whose first section is "plan" (docs/FORMAT.md). All numbers are little-endian 32-bit words.
   An address is a kind of place and an offset; a kernel is a number of NNRTI_MCU_NUMBERS; attributes are the kernel's
   struct itself.

   Kernels of this header use their attributes and the addresses of their arguments only, so views need no types and
   dimensions. Rejected: reference kernels in such a file. Their attributes have lists, their sizes are in views: the
   loader would rebuild both in RAM, and need a check for each operator. nnrt emit-c writes models of such nodes. */

/* Numbers and attribute structs of the kernels. A number is never used again: a kernel whose attributes, arguments or
   packed weights change gets a new one. */
#define NNRTI_MCU_NUMBERS(X)                                                                                           \
    X(1, conv_dsp_s8, McuConv)                                                                                         \
    X(2, conv_dsp_u8, McuConv)                                                                                         \
    X(3, conv_dsp, McuConv)                                                                                            \
    X(4, conv_dsp_wide, McuConv)                                                                                       \
    X(5, depthwise3_dsp_s8, McuDepthwise)                                                                              \
    X(6, depthwise3_dsp_u8, McuDepthwise)                                                                              \
    X(7, depthwise3_dsp, McuDepthwise)                                                                                 \
    X(8, depthwise_dsp_s8, McuDepthwise)                                                                               \
    X(9, depthwise_dsp_u8, McuDepthwise)                                                                               \
    X(10, depthwise_dsp, McuDepthwise)                                                                                 \
    X(11, add, McuBinary)                                                                                              \
    X(12, mul, McuBinary)                                                                                              \
    X(13, extreme, McuBinary)                                                                                          \
    X(14, max_pool, McuPool)                                                                                           \
    X(15, average_pool, McuPool)                                                                                       \
    X(16, mean, McuPool)                                                                                               \
    X(17, softmax, McuSoftmax)                                                                                         \
    X(18, map, McuMap)                                                                                                 \
    X(19, quantize, McuCast)                                                                                           \
    X(20, dequantize, McuCast)                                                                                         \
    X(21, conv_f32, McuWindowF32)                                                                                      \
    X(22, conv_any_f32, McuWindowF32)                                                                                  \
    X(23, depthwise_f32, McuWindowF32)                                                                                 \
    X(24, depthwise_any_f32, McuWindowF32)                                                                             \
    X(25, max_pool_f32, McuWindowF32)                                                                                  \
    X(26, average_pool_f32, McuWindowF32)                                                                              \
    X(27, add_f32, McuElementsF32)                                                                                     \
    X(28, mul_f32, McuElementsF32)                                                                                     \
    X(29, conv_mve, McuConv)                                                                                           \
    X(30, depthwise_mve, McuDepthwise)                                                                                 \
    X(31, add_mve, McuAddMve)                                                                                          \
    X(32, max_pool_mve, McuPoolMve)                                                                                    \
    X(33, average_pool_mve, McuPoolMve)                                                                                \
    X(34, conv_plain, McuConv)                                                                                         \
    X(35, conv_plain_wide, McuConv)                                                                                    \
    X(36, depthwise_plain_3x3, McuDepthwise)                                                                           \
    X(37, depthwise_plain, McuDepthwise)                                                                               \
    X(38, copy, McuMap)                                                                                                \
    X(39, conv_q16, McuConv)                                                                                           \
    X(40, conv_q16_long, McuConv)                                                                                      \
    X(41, conv_q16_plain, McuConv)                                                                                     \
    X(42, conv_q16_plain_long, McuConv)                                                                                \
    X(43, depthwise_q16, McuDepthwise)                                                                                 \
    X(44, depthwise_q16_plain, McuDepthwise)                                                                           \
    X(45, softmax_f32, McuSoftmax)                                                                                     \
    X(46, matmul_nbits, McuNbits)                                                                                      \
    X(47, matmul_nbits_int8, McuNbits)
#define NNRTI_MCU_NUMBER(number, kernel, S)                                                                            \
    NNRT_MCU_NUMBER_##kernel = number, NNRTI_MCU_BYTES_##kernel = sizeof(NNRT_##S),
enum { NNRTI_MCU_NUMBERS(NNRTI_MCU_NUMBER) NNRTI_MCU_NUMBERS_END };

/* Instructions that a plan is made for. A firmware refuses plans for other ones. */
enum { NNRT_MCU_PLAIN, NNRT_MCU_DSP, NNRT_MCU_MVE, NNRT_MCU_ANY_PROCESSOR = 0x7fffffff };
#ifndef NNRT_MCU_PROCESSOR /* of this compiler's target */
#if defined(__ARM_FEATURE_MVE)
#define NNRT_MCU_PROCESSOR NNRT_MCU_MVE
#elif defined(__ARM_FEATURE_DSP)
#define NNRT_MCU_PROCESSOR NNRT_MCU_DSP
#else
#define NNRT_MCU_PROCESSOR NNRT_MCU_PLAIN
#endif
#endif

/* Whether a kernel can run with these attributes and the arguments of the step that is checked; see >>check. */
typedef struct nnrt_mcu_checked nnrt_mcu_checked;
typedef bool (*nnrt_mcu_check)(const void *attr, const nnrt_mcu_checked *step);
#define NNRTI_MCU_CHECK_PROTO(number, kernel, S)                                                                       \
    NNRT_API bool nnrt_mcu_##kernel##_check(const void *attr, const nnrt_mcu_checked *step);
NNRTI_MCU_NUMBERS(NNRTI_MCU_CHECK_PROTO)

/* A kernel that the firmware links. */
typedef struct nnrt_mcu_row {
    uint32_t number, attrBytes;
    nnrt_kernel run;
    nnrt_mcu_check check;
} nnrt_mcu_row;
#define NNRT_MCU_LINK(kernel)                                                                                          \
    {                                                                                                                  \
        NNRT_MCU_NUMBER_##kernel, NNRTI_MCU_BYTES_##kernel, nnrt_mcu_##kernel, nnrt_mcu_##kernel##_check               \
    }
typedef struct nnrt_mcu_kernels {
    const nnrt_mcu_row *rows;
    uint32_t count;
    uint32_t processor; /* NNRT_MCU_PROCESSOR */
} nnrt_mcu_kernels;

/* An input or output, in the file. */
typedef struct nnrt_mcu_io {
    uint32_t bytes;
    NNRT_DataType dataType;
    NNRT_Format format;
    int32_t rank, dims[8];
    double scale; /* value = scale * (stored - zeroPoint); 0: not quantized */
    int32_t zeroPoint;
    uint32_t name; /* for nnrt_mcu_text */
} nnrt_mcu_io;

/* An open file. file and kernels must exist as long as it. */
typedef struct nnrt_mcu_program {
    const struct nnrti_mcu_plan *plan;
    const nnrt_mcu_kernels *kernels;
    size_t memoryBytes; /* that a run needs: the views of one step, then the arena */
    uint32_t step;      /* after a failure: the step that was refused, and .. */
    uint32_t kernel;    /* .. the number of its kernel; 0: the fault is not in a step */
} nnrt_mcu_program;

/* Words of 8 bytes of memory for files of at most so many bytes of arena and views, as nnrt info prints them. */
#define NNRT_MCU_MEMORY_WORDS(arenaBytes, views) (((views) * sizeof(nnrt_view) + 7) / 8 + ((arenaBytes) + 7) / 8)

/* Opens a plan in a file of `bytes` bytes or less, aligned to 8.
   INVALID_FILE: damaged, cut short, or arguments that its kernels cannot take. NOT_SUPPORT: another layout, or made for
   another processor. UNSUPPORTED_OP: kernel program->kernel is not in the table. INVALID_PARAMETER: misaligned. */
NNRT_API NNRT_ReturnCode nnrt_mcu_open(nnrt_mcu_program *program, const void *file, size_t bytes,
                                       const nnrt_mcu_kernels *kernels);
/* Runs the plan of an open file. memory: memoryBytes, aligned to 8, whose contents need not survive between runs. io:
   the addresses of all inputs, then of all outputs, each of nnrt_mcu_io.bytes and aligned to its element size; no
   output overlaps an input. Threads may run one program at once, each in memory of its own. */
NNRT_API NNRT_ReturnCode nnrt_mcu_run(const nnrt_mcu_program *program, void *memory, void *const *io);
/* Whether a file has so many inputs and outputs, of exactly these bytes: ask before the first run of a file that came
   over the air. false also if the file is not open. */
NNRT_API bool nnrt_mcu_takes(const nnrt_mcu_program *program, uint32_t nInputs, uint32_t nOutputs,
                             const uint32_t *bytes);
/* Input or output i of a file; NULL: there is none, or the file is not open. */
NNRT_API const nnrt_mcu_io *nnrt_mcu_input(const nnrt_mcu_program *program, uint32_t i);
NNRT_API const nnrt_mcu_io *nnrt_mcu_output(const nnrt_mcu_program *program, uint32_t i);
/* The text that nnrt_mcu_io.name stands for. */
NNRT_API const char *nnrt_mcu_text(const nnrt_mcu_program *program, uint32_t text);

#ifndef NNRT_FIRMWARE
/* Writes the plan of a model, prepared by mcu:TARGET with ModelConfig.arenaAlignment 8, as a file. out NULL: only
   *bytes. NOT_SUPPORT: a step has no kernel here, or shapes are dynamic; error names the node. */
NNRT_API NNRT_ReturnCode nnrt_mcu_save_memory(const NNRT_PreparedModel *prepared, const NNRT_Model *model,
                                              const char *target, void *out, size_t size, size_t *bytes,
                                              nnrt_error *error);
/* Properties of a file, as nnrt info prints them. */
typedef struct nnrt_mcu_info {
    const char *name, *target; /* of the model; "cortex-m4" */
    uint32_t inputs, outputs, steps, arenaBytes, views;
} nnrt_mcu_info;
/* The properties of an open file. */
NNRT_API nnrt_mcu_info nnrt_mcu_get_info(const nnrt_mcu_program *program);
/* All kernels, for files of any processor: a desktop runs them in C. */
NNRT_API const nnrt_mcu_kernels *nnrt_mcu_all(void);
/* Whether data begin like a file with a plan. */
NNRT_API bool nnrt_mcu_is(const void *data, size_t bytes);
/* The name of a kernel, "conv_dsp_s8"; NULL: no such number. */
NNRT_API const char *nnrt_mcu_kernel_name(uint32_t number);
/* The numbers of the kernels of an open file, each once, in kernels[count]; returns their number. */
NNRT_API uint32_t nnrt_mcu_used(const nnrt_mcu_program *program, uint32_t *kernels, uint32_t count);
#endif

#ifdef __cplusplus
}
#endif
#endif

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_MCU_IMPLEMENTED)
#define NNRT_MCU_IMPLEMENTED

#include <math.h>
#include <string.h>

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
#include <arm_acle.h>
#endif
#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
#include <arm_mve.h>
#endif

/* Bodies that are specialized for constant attributes, and functions that exist once. */
#if defined(__GNUC__)
#define NNRTI_MCU_INLINE static inline __attribute__((always_inline, unused))
#define NNRTI_MCU_ONCE static __attribute__((noinline, unused))
#define NNRTI_MCU_UNROLL(n) _Pragma(NNRTI_MCU_TEXT(GCC unroll n))
#define NNRTI_MCU_TEXT(x) #x
#else
#define NNRTI_MCU_INLINE static inline
#define NNRTI_MCU_ONCE static
#define NNRTI_MCU_UNROLL(n)
#endif
#if defined(__clang__)
#undef NNRTI_MCU_UNROLL
#define NNRTI_MCU_UNROLL(n) _Pragma(NNRTI_MCU_TEXT(unroll n))
#endif

/* NNRT_ROW if `when`; no code without it. Elementwise: l elements of row i, j, k of a walk are done. */
#ifdef NNRT_ROW
#define NNRTI_MCU_BORDER(when, done, of)                                                                               \
    do {                                                                                                               \
        if (when) {                                                                                                    \
            NNRT_ROW(done, of);                                                                                        \
        }                                                                                                              \
    } while (0)
#else
#define NNRTI_MCU_BORDER(when, done, of) ((void)0)
#endif
#define NNRTI_MCU_BLOCK(a, l)                                                                                          \
    NNRTI_MCU_BORDER((l) % 1024 == 0, ((i * (a)->d1 + j) * (a)->d2 + k) * (a)->d3 + (l),                               \
                     (a)->d0 * (a)->d1 * (a)->d2 * (a)->d3)

/* Generates kernel nnrt_mcu_<name> and its inline body, which is `body` for the attributes a. */
#define NNRTI_MCU_KERNEL(name, S, body)                                                                                \
    NNRTI_MCU_INLINE NNRT_ReturnCode nnrt_mcu_##name##_inline(const NNRT_##S *a, nnrt_view *args, nnrt_call *call)     \
    {                                                                                                                  \
        return body;                                                                                                   \
    }                                                                                                                  \
    NNRT_API NNRT_ReturnCode nnrt_mcu_##name(const void *attr, nnrt_view *args, nnrt_call *call)                       \
    {                                                                                                                  \
        return nnrt_mcu_##name##_inline((const NNRT_##S *)attr, args, call);                                           \
    }

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>check */

/* Whether a kernel can run with the attributes and buffers of a step in a file (>>program), whose numbers may all be
   wrong. Every kernel has a check beside it:

       NNRTI_MCU_CHECK(conv_dsp, McuConv, nnrti_mcu_check_conv_dsp(a, step, false))

   generates nnrt_mcu_conv_dsp_check for attributes a; NNRTI_MCU_NUMBERS has the kernel's number and attribute struct.
   Without it the header does not compile.

   nnrt_mcu_open has checked before that the struct of attributes is in the file and aligned to 4, that each argument is
   inside its region and outside the scratch, and that outputs are in the arena or an output. Arguments may overlap each
   other. The check must make sure, whatever the attributes are, that
       the step has the number of inputs, derived constants and outputs that the kernel uses (nnrti_mcu_arity)
       every byte that the kernel reads or writes is inside its argument, and words are aligned (nnrti_mcu_holds)
       its scratch is large enough (nnrti_mcu_scratch)
       no arithmetic on int32 overflows, nothing is divided by 0, shifts are below 32
       the number of iterations is bounded by the bytes of arguments: no stride of 0 makes a loop endless
   Weights may have any value; a constant that the kernel uses as a shift or index must be checked element by element
   (nnrti_mcu_constant). Data in the arena may change during a run: a kernel must not use them as sizes or indices
   unless it bounds them itself.

   Sizes are computed by nnrti_mcu_times and nnrti_mcu_reach, which return NNRTI_MCU_HUGE if a factor is not positive, a
   stride is negative, or the result is too large; no argument is that large, so the final nnrti_mcu_holds fails. */
#define NNRTI_MCU_HUGE 0x7fffffff
#define NNRTI_MCU_LIMIT 0x20000000 /* most of a stride, a distance or a region */

#define NNRTI_MCU_CHECK(name, S, condition)                                                                            \
    enum { NNRTI_MCU_CHECKED_##name = 1 };                                                                             \
    NNRT_API bool nnrt_mcu_##name##_check(const void *attr, const nnrt_mcu_checked *step)                              \
    {                                                                                                                  \
        const NNRT_##S *a = (const NNRT_##S *)attr;                                                                    \
        return condition;                                                                                              \
    }

/* The begin of the file: its header, the row of its first section, and zeros up to the section. */
typedef struct nnrti_mcu_file {
    uint8_t magic[8];
    uint32_t version, header;
    uint64_t bytes, checksum;
    uint32_t sections, row, words, zero[5];
    uint32_t type, flags;
    uint64_t offset, planBytes;
    uint32_t alignment, record, name, rest[7];
} nnrti_mcu_file;
#define NNRTI_MCU_SECTION 10 /* type of the section */
#define NNRTI_MCU_ROW_BYTES 40
#define NNRTI_MCU_FILE_HEADER 64

/* The section "plan": this header; records of inputs and outputs (nnrt_mcu_io), steps, arguments; attributes and texts;
   a 0 byte; constants. Offsets count bytes from the begin of the section, offsets of constants from `constants` on. */
typedef struct nnrti_mcu_plan {
    uint32_t layout, processor;
    uint32_t arenaBytes, nInputs, nOutputs, nSteps, nArgs;
    uint32_t maxArgs;      /* the largest number of arguments of a step */
    uint32_t constants;    /* a multiple of 16 */
    uint32_t target, name; /* texts: "cortex-m4"; the model's name */
    uint32_t zero[5];
} nnrti_mcu_plan;
#define NNRTI_MCU_LAYOUT 1
#define NNRTI_MCU_COUNT 0xffffu /* most of any count */

typedef struct nnrti_mcu_step {
    uint32_t kernel, attr, arg, nIn, nDerived, nOut;
    uint32_t scratch, scratchBytes; /* in the arena */
} nnrti_mcu_step;

/* kind: of nnrt_place_kind, never DERIVED or CARRIED. bytes: from the first to the last element. */
typedef struct nnrti_mcu_arg {
    uint32_t kind, offset, bytes;
} nnrti_mcu_arg;

typedef char nnrti_mcu_records[sizeof(nnrti_mcu_file) == 128 && sizeof(nnrti_mcu_plan) == 64 &&
                                       sizeof(nnrt_mcu_io) == 64 && sizeof(nnrti_mcu_step) == 32 &&
                                       sizeof(nnrti_mcu_arg) == 12
                                   ? 1
                                   : -1];

struct nnrt_mcu_checked {
    const nnrti_mcu_plan *plan;
    const nnrti_mcu_step *step;
    uint32_t constantBytes;
};

NNRTI_MCU_INLINE const nnrt_mcu_io *nnrti_mcu_ios(const nnrti_mcu_plan *p)
{
    return (const nnrt_mcu_io *)(const void *)(p + 1);
}
NNRTI_MCU_INLINE const nnrti_mcu_step *nnrti_mcu_steps(const nnrti_mcu_plan *p)
{
    return (const nnrti_mcu_step *)(const void *)(nnrti_mcu_ios(p) + p->nInputs + p->nOutputs);
}
NNRTI_MCU_INLINE const nnrti_mcu_arg *nnrti_mcu_args(const nnrti_mcu_plan *p)
{
    return (const nnrti_mcu_arg *)(const void *)(nnrti_mcu_steps(p) + p->nSteps);
}

/* a * b. */
NNRTI_MCU_ONCE int32_t nnrti_mcu_times(int32_t a, int32_t b)
{
    const int64_t y = (int64_t)a * b;
    return a > 0 && b > 0 && y < NNRTI_MCU_HUGE ? (int32_t)y : NNRTI_MCU_HUGE;
}

/* from + (count - 1) * stride: the last of count elements, if the first is at `from`. */
NNRTI_MCU_ONCE int32_t nnrti_mcu_reach(int32_t from, int32_t count, int32_t stride)
{
    const int64_t y = from + ((int64_t)count - 1) * stride;
    return count > 0 && count < NNRTI_MCU_HUGE && stride >= 0 && stride <= NNRTI_MCU_LIMIT && y < NNRTI_MCU_HUGE
               ? (int32_t)y
               : NNRTI_MCU_HUGE;
}

/* Whether argument k has so many elements of `size` bytes, and is aligned to size. */
NNRTI_MCU_ONCE bool nnrti_mcu_holds(const nnrt_mcu_checked *step, uint32_t k, int32_t elements, uint32_t size)
{
    const nnrti_mcu_arg *arg = nnrti_mcu_args(step->plan) + step->step->arg + k;
    const uint32_t at = arg->kind == NNRT_PLACE_INPUT || arg->kind == NNRT_PLACE_OUTPUT
                            ? (uint32_t)nnrt_type_size(nnrti_mcu_ios(step->plan)[arg->offset].dataType)
                            : arg->offset;
    return (uint64_t)(uint32_t)elements * size <= arg->bytes && (at & (size - 1)) == 0;
}

NNRTI_MCU_ONCE bool nnrti_mcu_arity(const nnrt_mcu_checked *step, uint32_t nIn, uint32_t nDerived, uint32_t nOut)
{
    return step->step->nIn == nIn && step->step->nDerived == nDerived && step->step->nOut == nOut;
}

/* Whether the scratch has so many bytes, and is aligned to 4. */
NNRTI_MCU_ONCE bool nnrti_mcu_scratch(const nnrt_mcu_checked *step, int64_t bytes)
{
    return bytes <= step->step->scratchBytes && step->step->scratch % 4 == 0;
}

/* Constant k of the step; NULL: the argument is no constant. */
NNRTI_MCU_ONCE const void *nnrti_mcu_constant(const nnrt_mcu_checked *step, uint32_t k)
{
    const nnrti_mcu_arg *arg = nnrti_mcu_args(step->plan) + step->step->arg + k;
    return arg->kind == NNRT_PLACE_CONSTANT ? (const uint8_t *)step->plan + step->plan->constants + arg->offset : NULL;
}

/* Whether |value| <= most. */
NNRTI_MCU_INLINE bool nnrti_mcu_small(int32_t value, int32_t most)
{
    return value >= -most && value <= most;
}

/* A window along an axis: count positions, taps taps, padding before the first: its coordinates fit an int32. */
NNRTI_MCU_ONCE bool nnrti_mcu_window_fits(int32_t count, int32_t stride, int32_t taps, int32_t dilation, int32_t before)
{
    return nnrti_mcu_reach(nnrti_mcu_reach(0, count, stride), taps, dilation) <= NNRTI_MCU_LIMIT &&
           nnrti_mcu_small(before, NNRTI_MCU_LIMIT);
}

/* The same for kernels that compute offsets of taps outside x, too: they fit an int32. step: of x along the axis. */
NNRTI_MCU_ONCE bool nnrti_mcu_offsets_fit(int32_t count, int32_t stride, int32_t taps, int32_t dilation, int32_t before,
                                          int32_t step)
{
    const int32_t end = nnrti_mcu_reach(nnrti_mcu_reach(0, count, stride), taps, dilation), one = step > 0 ? step : 1;
    return nnrti_mcu_window_fits(count, stride, taps, dilation, before) &&
           nnrti_mcu_times(end + (before < 0 ? -before : before) + 1, one) <= NNRTI_MCU_LIMIT &&
           nnrti_mcu_times(stride, one) <= NNRTI_MCU_LIMIT && nnrti_mcu_times(dilation, one) <= NNRTI_MCU_LIMIT;
}

/* Elements from the first to the last of an image: sizes, then strides. */
NNRTI_MCU_ONCE int32_t nnrti_mcu_image(int32_t n, int32_t h, int32_t w, int32_t c, int32_t ns, int32_t hs, int32_t ws,
                                       int32_t cs)
{
    const int32_t last = nnrti_mcu_reach(nnrti_mcu_reach(nnrti_mcu_reach(0, n, ns), h, hs), w, ws);
    return nnrti_mcu_reach(nnrti_mcu_reach(last, c, cs), 2, 1);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>dsp */

/* A word holds two int16, the first one in the low half, or four bytes, the first one lowest. All sums wrap. */

/* The four bytes at `at`, which may be unaligned. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_load(const uint8_t *at)
{
#if defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)
    int32_t word;
    __builtin_memcpy(&word, at, sizeof(word)); /* one instruction, -ffreestanding too */
    return word;
#else
    return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
#endif
}

/* Stores four bytes at `at`, which may be unaligned. */
NNRTI_MCU_INLINE void nnrti_mcu_put(uint8_t *at, int32_t word)
{
#if defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)
    __builtin_memcpy(at, &word, sizeof(word));
#else
    at[0] = (uint8_t)word;
    at[1] = (uint8_t)((uint32_t)word >> 8);
    at[2] = (uint8_t)((uint32_t)word >> 16);
    at[3] = (uint8_t)((uint32_t)word >> 24);
#endif
}

/* Whether LDM of four words can be written in assembler: clang reserves one of its registers, r7. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && defined(__ARM_ARCH_ISA_THUMB) &&              \
    !defined(__ARM_ARCH_ISA_ARM)
#define NNRTI_MCU_LDM
#endif

/* memcpy and memset, which C libraries for microcontrollers do byte by byte. */
NNRTI_MCU_ONCE void nnrti_mcu_copy(uint8_t *to, const uint8_t *from, int32_t n)
{
#if defined(NNRTI_MCU_LDM)
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
        for (; n >= 16; n -= 16) {
            register uint32_t a __asm__("r4"), b __asm__("r5"), c __asm__("r6"), d __asm__("r7");
            __asm__ volatile("ldmia %0!, {%1, %2, %3, %4}"
                             : "+l"(from), "=l"(a), "=l"(b), "=l"(c), "=l"(d)
                             :
                             : "memory");
            __asm__ volatile("stmia %0!, {%1, %2, %3, %4}"
                             : "+l"(to)
                             : "l"(a), "l"(b), "l"(c), "l"(d)
                             : "memory");
        }
#elif defined(__GNUC__)
    typedef uint32_t __attribute__((may_alias)) word;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
        for (; n >= 16; n -= 16, to += 16, from += 16) {
            const word *in = (const word *)(const void *)from;
            word *out = (word *)(void *)to;
            const uint32_t a = in[0], b = in[1], c = in[2], d = in[3];
            out[0] = a;
            out[1] = b;
            out[2] = c;
            out[3] = d;
        }
#endif
    for (; n >= 4; n -= 4, to += 4, from += 4)
        nnrti_mcu_put(to, nnrti_mcu_load(from));
    for (; n > 0; n--)
        *to++ = *from++;
}
NNRTI_MCU_ONCE void nnrti_mcu_fill(uint8_t *to, int32_t byte, int32_t n)
{
    const int32_t word = (int32_t)(0x01010101u * (uint8_t)byte);
    for (; n >= 4; n -= 4, to += 4)
        nnrti_mcu_put(to, word);
    for (; n > 0; n--)
        *to++ = (uint8_t)byte;
}

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
/* Bytes 0 and 2 of a word, or bytes 1 and 3, as int16; u: the bytes are unsigned. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_even(int32_t word, bool u)
{
    int32_t y;
    if (!u)
        return __sxtb16(word);
    __asm__("uxtb16 %0, %1" : "=r"(y) : "r"(word)); /* compilers disagree on the types of __uxtb16 */
    return y;
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_odd(int32_t word, bool u)
{
    int32_t y;
    if (u)
        __asm__("uxtb16 %0, %1, ror #8" : "=r"(y) : "r"(word));
    else
        __asm__("sxtb16 %0, %1, ror #8" : "=r"(y) : "r"(word));
    return y;
}
/* sum + byte k of a word. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_byte(int32_t word, const int k, const bool u, int32_t sum)
{
    int32_t y;
#define NNRTI_MCU_BYTE(number, ror)                                                                                    \
    if (k == number && u)                                                                                              \
        __asm__("uxtab %0, %1, %2" ror : "=r"(y) : "r"(sum), "r"(word));                                               \
    if (k == number && !u)                                                                                             \
        __asm__("sxtab %0, %1, %2" ror : "=r"(y) : "r"(sum), "r"(word));
    NNRTI_MCU_BYTE(0, "")
    NNRTI_MCU_BYTE(1, ", ror #8")
    NNRTI_MCU_BYTE(2, ", ror #16")
    NNRTI_MCU_BYTE(3, ", ror #24")
#undef NNRTI_MCU_BYTE
    return y;
}
/* sum of two int16 or uint16 + bytes 0 and 2 of a word; + bytes 1 and 3. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_add_even(int32_t sum, int32_t word, bool u)
{
    int32_t y;
    if (!u)
        return __sxtab16(sum, word);
    __asm__("uxtab16 %0, %1, %2" : "=r"(y) : "r"(sum), "r"(word));
    return y;
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_add_odd(int32_t sum, int32_t word, bool u)
{
    int32_t y;
    if (u)
        __asm__("uxtab16 %0, %1, %2, ror #8" : "=r"(y) : "r"(sum), "r"(word));
    else
        __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(y) : "r"(sum), "r"(word));
    return y;
}
/* The larger byte of a and b, four times; or the smaller one. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_extreme4(int32_t a, int32_t b, const bool u, const bool smaller)
{
    int32_t y;
    if (u)
        __asm__("usub8 %0, %1, %2\n\tsel %0, %3, %4"
                : "=&r"(y) : "r"(a), "r"(b), "r"(smaller ? b : a), "r"(smaller ? a : b) : "cc");
    else
        __asm__("ssub8 %0, %1, %2\n\tsel %0, %3, %4"
                : "=&r"(y) : "r"(a), "r"(b), "r"(smaller ? b : a), "r"(smaller ? a : b) : "cc");
    return y;
}
/* sum + the products of both halves; of the low halves; of the high halves. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_dot2(int32_t a, int32_t b, int32_t sum)
{
    return __smlad(a, b, sum);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_low(int32_t a, int32_t b, int32_t sum)
{
    return __smlabb(a, b, sum);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_high(int32_t a, int32_t b, int32_t sum)
{
    return __smlatt(a, b, sum);
}
/* sum + low half of a * high half of b. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_cross(int32_t a, int32_t b, int32_t sum)
{
    return __smlabt(a, b, sum);
}
/* The low halves of a and b; the high halves. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_lows(int32_t a, int32_t b)
{
    int32_t y;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(y) : "r"(a), "r"(b));
    return y;
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_highs(int32_t a, int32_t b)
{
    int32_t y;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(y) : "r"(b), "r"(a));
    return y;
}
/* sum + a * b / 2^32, halves rounded up. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_add_top(int32_t a, int32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum));
    return y;
}
/* a * b / 2^32, halves rounded up. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_top(int32_t a, int32_t b)
{
    int32_t y;
    __asm__("smmulr %0, %1, %2" : "=r"(y) : "r"(a), "r"(b));
    return y;
}
#else
NNRTI_MCU_INLINE int32_t nnrti_mcu_even(int32_t word, bool u)
{
    const uint32_t w = (uint32_t)word;
    if (u)
        return (int32_t)(w & 0x00ff00ffu);
    /* & 0xffff: tcc 0.9.27 omits the second of the two conversions (uint16_t)(int8_t)w */
    return (int32_t)(((uint32_t)(int8_t)w & 0xffff) | (uint32_t)(int8_t)(w >> 16) << 16);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_odd(int32_t word, bool u)
{
    return nnrti_mcu_even((int32_t)((uint32_t)word >> 8), u);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_byte(int32_t word, const int k, const bool u, int32_t sum)
{
    const uint8_t byte = (uint8_t)((uint32_t)word >> 8 * k);
    return sum + (u ? byte : (int8_t)byte);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_extreme4(int32_t a, int32_t b, const bool u, const bool smaller)
{
    uint32_t y = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t p = nnrti_mcu_byte(a, k, u, 0), q = nnrti_mcu_byte(b, k, u, 0);
        y |= (uint32_t)(uint8_t)((p > q) != smaller ? p : q) << 8 * k;
    }
    return (int32_t)y;
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_add_even(int32_t sum, int32_t word, bool u)
{
    const uint32_t v = (uint32_t)nnrti_mcu_even(word, u), low = ((uint32_t)sum + v) & 0xffff;
    return (int32_t)(low | (((uint32_t)sum >> 16) + (v >> 16)) << 16);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_add_odd(int32_t sum, int32_t word, bool u)
{
    return nnrti_mcu_add_even(sum, (int32_t)((uint32_t)word >> 8), u);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_low(int32_t a, int32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)sum + (uint32_t)((int16_t)a * (int16_t)b));
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_high(int32_t a, int32_t b, int32_t sum)
{
    return nnrti_mcu_low((int32_t)((uint32_t)a >> 16), (int32_t)((uint32_t)b >> 16), sum);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_dot2(int32_t a, int32_t b, int32_t sum)
{
    return nnrti_mcu_high(a, b, nnrti_mcu_low(a, b, sum));
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_cross(int32_t a, int32_t b, int32_t sum)
{
    return nnrti_mcu_low(a, (int32_t)((uint32_t)b >> 16), sum);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_lows(int32_t a, int32_t b)
{
    return (int32_t)(((uint32_t)a & 0xffff) | (uint32_t)b << 16);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_highs(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a >> 16 | ((uint32_t)b & 0xffff0000u));
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_top(int32_t a, int32_t b)
{
    const uint64_t y = (uint64_t)((int64_t)a * b) + ((uint64_t)1 << 31);
    return (int32_t)(uint32_t)(y >> 32);
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_add_top(int32_t a, int32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)nnrti_mcu_top(a, b) + (uint32_t)sum);
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>requantize */

/* Requantization, R and OUT of the specification of quantized arithmetic, for sums |acc| < 2^30 and factors {m, e} with
   e < 0, which the edit checks. R rounds twice: H = (acc * m + 2^30) / 2^31, rounded down, then H / 2^-e, halves away
   from zero. With shift = -e - 1:
       H                     = (2 acc * m + 2^31) / 2^32, rounded down
       H / 2^-e, rounded     = (floor((H - (H < 0)) / 2^shift) + 1) / 2, rounded down
   The table of a kernel has three words per channel: bias, m, shift. >> of negative numbers rounds down, as all
   compilers that nnrt supports define it. */
enum { NNRTI_MCU_TABLE = 3 };

/* The ranges of y for which kernels are compiled: all of int8, all of uint8, any. */
enum { NNRTI_MCU_S8, NNRTI_MCU_U8, NNRTI_MCU_ANY };

/* The stored integer of a sum, given as twice the sum. channel: its words in the table. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_requantize(int32_t twice, const int32_t *channel, int32_t zero, int32_t lo,
                                              int32_t hi, const int range)
{
    int32_t y = nnrti_mcu_top(twice, channel[1]);
    y = ((y + (y >> 31)) >> channel[2]) + (2 * zero + 1);
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    if (range == NNRTI_MCU_S8)
        __asm__("ssat %0, #8, %1, asr #1" : "=r"(y) : "r"(y));
    if (range == NNRTI_MCU_U8)
        __asm__("usat %0, #8, %1, asr #1" : "=r"(y) : "r"(y));
    if (range != NNRTI_MCU_ANY)
        return y;
#endif
    y >>= 1;
    lo = range == NNRTI_MCU_S8 ? -128 : range == NNRTI_MCU_U8 ? 0 : lo;
    hi = range == NNRTI_MCU_S8 ? 127 : range == NNRTI_MCU_U8 ? 255 : hi;
    return y < lo ? lo : y > hi ? hi : y;
}

/* Words of another table row, which has no bias: m, bias = (2 * zero + 1) << shift, shift <= NNRTI_MCU_MAX_SHIFT. */
enum { NNRTI_MCU_FACTOR = 3, NNRTI_MCU_MAX_SHIFT = 20 };

/* The stored integer of twice a sum, by such a row. Its sign, as that of H, selects the direction of halves: where they
   differ H is 0, and the result zero. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_store_of(int32_t twice, int32_t m, int32_t bias, int32_t shift, int32_t lo,
                                            int32_t hi, const int range)
{
    int32_t y = (int32_t)((uint32_t)nnrti_mcu_add_top(twice, m, bias) + (uint32_t)(twice >> 31)) >> shift;
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
    if (range == NNRTI_MCU_S8)
        __asm__("ssat %0, #8, %1, asr #1" : "=r"(y) : "r"(y));
    if (range == NNRTI_MCU_U8)
        __asm__("usat %0, #8, %1, asr #1" : "=r"(y) : "r"(y));
    if (range != NNRTI_MCU_ANY)
        return y;
#endif
    y >>= 1;
    lo = range == NNRTI_MCU_S8 ? -128 : range == NNRTI_MCU_U8 ? 0 : lo;
    hi = range == NNRTI_MCU_S8 ? 127 : range == NNRTI_MCU_U8 ? 255 : hi;
    return y < lo ? lo : y > hi ? hi : y;
}

/* Whether the shifts of so many rows of a table, `words` words apart, are below 32. */
NNRTI_MCU_ONCE bool nnrti_mcu_shifts_hold(const int32_t *shift, int32_t rows, int32_t words)
{
    for (; rows > 0; rows--, shift += words)
        if (*shift < 0 || *shift > 31)
            return false;
    return true;
}

/* Whether argument k is a constant table of so many channels, whose shifts hold. */
NNRTI_MCU_ONCE bool nnrti_mcu_table_holds(const nnrt_mcu_checked *step, uint32_t k, int32_t channels)
{
    const int32_t *row = (const int32_t *)nnrti_mcu_constant(step, k);
    return row != NULL && nnrti_mcu_holds(step, k, nnrti_mcu_times(channels, NNRTI_MCU_TABLE), 4) &&
           nnrti_mcu_shifts_hold(row + 2, channels, NNRTI_MCU_TABLE);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>rows */

/* y may overwrite x from the same address on (NNRT_STEP_OVERLAP). Kernels read rows of x in place, so a row of y waits
   in a ring of `late` rows, in scratch, until the rows of x that it overwrites are no longer needed: row i is copied to
   y when row i + late - 1 is computed, at the latest when all are. Rows count in the order of computation, from the
   last to the first if reverse is set. late 0: rows are computed in y. A row has `bytes` adjacent bytes, and n is 1.

   Rejected: a ring of rows of x, which needs rows for all taps, and room for their padding. */
typedef struct nnrti_mcu_ring {
    uint8_t *y, *rows;
    ptrdiff_t yh;
    int32_t late, bytes, count;
} nnrti_mcu_ring;

/* The ring for rows of y that are yh bytes apart. */
NNRTI_MCU_INLINE nnrti_mcu_ring nnrti_mcu_ring_of(void *y, ptrdiff_t yh, int32_t count, int32_t bytes, int32_t late,
                                                  bool reverse, void *rows)
{
    nnrti_mcu_ring r;
    r.y = (uint8_t *)y + (reverse ? (count - 1) * yh : 0);
    r.rows = (uint8_t *)rows;
    r.yh = reverse ? -yh : yh;
    r.late = late;
    r.bytes = bytes;
    r.count = count;
    return r;
}

/* Where row i is computed. */
NNRTI_MCU_INLINE uint8_t *nnrti_mcu_ring_row(const nnrti_mcu_ring *r, int32_t i)
{
    return r->late > 0 ? r->rows + i % r->late * r->bytes : r->y + i * r->yh;
}

/* Copies the rows from..end - 1 to y. */
NNRTI_MCU_ONCE void nnrti_mcu_ring_copy(const nnrti_mcu_ring *r, int32_t from, int32_t end)
{
    for (int32_t i = from > 0 ? from : 0; i < end; i++)
        nnrti_mcu_copy(r->y + i * r->yh, r->rows + i % r->late * r->bytes, r->bytes);
}

/* After row i, but the last one, and after all rows. */
NNRTI_MCU_INLINE void nnrti_mcu_ring_next(const nnrti_mcu_ring *r, int32_t i)
{
    if (r->late > 0 && i + 1 < r->count)
        nnrti_mcu_ring_copy(r, i + 1 - r->late, i + 2 - r->late);
}
NNRTI_MCU_INLINE void nnrti_mcu_ring_end(const nnrti_mcu_ring *r)
{
    if (r->late > 0)
        nnrti_mcu_ring_copy(r, r->count - r->late, r->count);
}

/* Whether the scratch has `bytes` bytes and a ring for rows of q pixels of o channels. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_ring(const nnrt_mcu_checked *step, int32_t late, int32_t q, int32_t yw, int32_t o,
                                         int64_t bytes)
{
    return late >= 0 && late < NNRTI_MCU_LIMIT && (late == 0 || yw == o) &&
           nnrti_mcu_scratch(step, bytes + (late > 0 ? (int64_t)late * nnrti_mcu_times(q, o) : 0));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>conv */

/* Convolution as a GEMM. im2col widens the windows of two pixels to int16 and interleaves them word by word; the GEMM
   microkernel multiplies them with the packed weights of four channels at a time.

   Packed weights hold two channels in one int16, 256 * w1 + w0. SMLAD of a word then gives 256 * sum1 + sum0, and SMLAD
   of its low bytes, which SXTB16 extends, gives sum0: per word of x two SMLAD and half an SXTB16 for four products,
   instead of two SMLAD and two SXTB16. Sums wrap at 32 bits, so (256 * sum1 + sum0 - sum0) / 256 is sum1 if |sum1| <
   2^23; the edit checks that, and that the int16 exist. Otherwise weights are int16 (wide).

   Order of a window, of x and weights alike: for each four elements e0 .. e3 the words (e0, e2), (e1, e3). */

/* Widens count bytes to words at to, to + step, to + 2 * step, ..; the last two are filled up with zeros. Returns the
   end. */
NNRTI_MCU_INLINE int32_t *nnrti_mcu_widen(const uint8_t *from, int32_t count, const bool u, const int32_t step,
                                          int32_t *to)
{
    for (; count >= 4; count -= 4) {
        const int32_t word = nnrti_mcu_load(from);
        to[0] = nnrti_mcu_even(word, u);
        to[step] = nnrti_mcu_odd(word, u);
        from += 4;
        to += 2 * step;
    }
    if (count > 0) {
        const uint32_t word = (uint32_t)from[0] | (count > 1 ? (uint32_t)from[1] << 8 : 0) |
                              (count > 2 ? (uint32_t)from[2] << 16 : 0);
        to[0] = nnrti_mcu_even((int32_t)word, u);
        to[step] = nnrti_mcu_odd((int32_t)word, u);
        to += 2 * step;
    }
    return to;
}

/* Whether the elements of a row of a window are adjacent in x. */
NNRTI_MCU_INLINE bool nnrti_mcu_is_adjacent(const NNRT_McuConv *a)
{
    return a->xc == 1 && (a->kw == 1 || (a->dw == 1 && a->xw == a->c));
}

/* Copies a row of a window, from column w of `line` on, a row of x; NULL: the row is padding. */
NNRTI_MCU_ONCE void nnrti_mcu_gather_row(const NNRT_McuConv *a, const uint8_t *line, int32_t w, uint8_t *to)
{
    for (int32_t j = 0, taps; j < a->kw; j += taps, to += taps * a->c) {
        const int32_t at = w + j * a->dw, end = line == NULL || at >= a->w ? a->kw : at < 0 ? -at : a->w - at;
        taps = end < a->kw - j ? end : a->kw - j;
        taps = line != NULL && at < a->w && !nnrti_mcu_is_adjacent(a) ? 1 : taps;
        if (line == NULL || at < 0 || at >= a->w)
            nnrti_mcu_fill(to, a->xZero, taps * a->c);
        else if (a->xc == 1)
            nnrti_mcu_copy(to, line + at * a->xw, taps * a->c);
        else
            for (int32_t k = 0; k < a->c; k++)
                to[k] = line[at * a->xw + k * a->xc];
    }
}

/* im2col of a pixel: its window, from row h and column w of x on, as words at to, to + 2, .. Rows of it that are not
   adjacent in x are copied to `row`. */
NNRTI_MCU_INLINE void nnrti_mcu_im2col(const NNRT_McuConv *a, const uint8_t *x, int32_t h, int32_t w, uint8_t *row,
                                       int32_t *to)
{
    const bool inside = w >= 0 && w + (a->kw - 1) * a->dw < a->w;
    for (int32_t i = 0; i < a->kh; i++, h += a->dh) {
        const uint8_t *const line = h >= 0 && h < a->h ? x + h * a->xh : NULL, *from = row;
        if (!inside || line == NULL)
            nnrti_mcu_gather_row(a, line, w, row);
        else if (nnrti_mcu_is_adjacent(a))
            from = line + w * a->xw;
        else
            for (int32_t j = 0; j < a->kw; j++) {
                NNRTI_MCU_UNROLL(4)
                for (int32_t k = 0; k < a->c; k++)
                    row[j * a->c + k] = line[(w + j * a->dw) * a->xw + k * a->xc];
            }
        to = nnrti_mcu_widen(from, a->kw * a->c, a->xUnsigned != 0, 2, to);
    }
}

/* Sums of four channels a, b, c, d of pixels 0 and 1. Packed: b and d are the sums of both channels of their pair. */
typedef struct nnrti_mcu_sums {
    int32_t a0, a1, b0, b1, c0, c1, d0, d1;
} nnrti_mcu_sums;

/* Adds the products of one word of each window and the weights at w. */
NNRTI_MCU_INLINE void nnrti_mcu_gemm_word(nnrti_mcu_sums *s, const int32_t *x, const int32_t *w, const bool wide,
                                          const int pixels)
{
    const int32_t x0 = x[0], x1 = pixels > 1 ? x[1] : 0;
    int32_t first = w[0], second = w[wide ? 2 : 1];
    const int32_t b = wide ? w[1] : first, d = wide ? w[3] : second;
    s->b0 = nnrti_mcu_dot2(b, x0, s->b0);
    s->d0 = nnrti_mcu_dot2(d, x0, s->d0);
    if (pixels > 1) {
        s->b1 = nnrti_mcu_dot2(b, x1, s->b1);
        s->d1 = nnrti_mcu_dot2(d, x1, s->d1);
    }
    if (!wide) {
        first = nnrti_mcu_even(first, false);
        second = nnrti_mcu_even(second, false);
    }
    s->a0 = nnrti_mcu_dot2(first, x0, s->a0);
    s->c0 = nnrti_mcu_dot2(second, x0, s->c0);
    if (pixels > 1) {
        s->a1 = nnrti_mcu_dot2(first, x1, s->a1);
        s->c1 = nnrti_mcu_dot2(second, x1, s->c1);
    }
}

/* Stores channel o of two pixels, whose sums are given twice. */
NNRTI_MCU_INLINE void nnrti_mcu_gemm_store(const NNRT_McuConv *a, const int32_t *channel, int32_t twice0,
                                           int32_t twice1, uint8_t *const *y, int32_t o, const int range,
                                           const int pixels)
{
    if (o >= a->o)
        return;
    y[0][o] = (uint8_t)nnrti_mcu_requantize(twice0, channel, a->zero, a->lo, a->hi, range);
    if (pixels > 1)
        y[1][o] = (uint8_t)nnrti_mcu_requantize(twice1, channel, a->zero, a->lo, a->hi, range);
}

/* Twice the sum of an odd channel. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_twice_odd(int32_t both, int32_t even, const bool wide)
{
    return wide ? (int32_t)(2 * (uint32_t)both) : (int32_t)((uint32_t)both - (uint32_t)even) >> 7;
}

/* GEMM microkernel: the channels of a group for one or two windows, interleaved at x. */
NNRTI_MCU_INLINE void nnrti_mcu_gemm_panels(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,
                                            const int32_t *table, uint8_t *const *y, const int range, const bool wide,
                                            const int pixels)
{
    const int32_t *const end = x + 2 * a->words;
    for (int32_t o = 0; o < a->o; o += 4, table += 4 * NNRTI_MCU_TABLE) {
        nnrti_mcu_sums s;
        NNRTI_MCU_BORDER(pixels == 1 && o > 0 && a->groups * a->n * a->p * a->q == 1, o, a->o);
        s.a0 = s.a1 = table[0];
        s.b0 = s.b1 = table[NNRTI_MCU_TABLE];
        s.c0 = s.c1 = table[2 * NNRTI_MCU_TABLE];
        s.d0 = s.d1 = table[3 * NNRTI_MCU_TABLE];
        for (const int32_t *at = x; at != end; at += 8, w += wide ? 16 : 8) {
            nnrti_mcu_gemm_word(&s, at, w, wide, pixels);
            nnrti_mcu_gemm_word(&s, at + 2, w + (wide ? 4 : 2), wide, pixels);
            nnrti_mcu_gemm_word(&s, at + 4, w + (wide ? 8 : 4), wide, pixels);
            nnrti_mcu_gemm_word(&s, at + 6, w + (wide ? 12 : 6), wide, pixels);
        }
        nnrti_mcu_gemm_store(a, table, (int32_t)(2 * (uint32_t)s.a0), (int32_t)(2 * (uint32_t)s.a1), y, o, range,
                             pixels);
        nnrti_mcu_gemm_store(a, table + NNRTI_MCU_TABLE, nnrti_mcu_twice_odd(s.b0, s.a0, wide),
                             nnrti_mcu_twice_odd(s.b1, s.a1, wide), y, o + 1, range, pixels);
        nnrti_mcu_gemm_store(a, table + 2 * NNRTI_MCU_TABLE, (int32_t)(2 * (uint32_t)s.c0),
                             (int32_t)(2 * (uint32_t)s.c1), y, o + 2, range, pixels);
        nnrti_mcu_gemm_store(a, table + 3 * NNRTI_MCU_TABLE, nnrti_mcu_twice_odd(s.d0, s.c0, wide),
                             nnrti_mcu_twice_odd(s.d1, s.c1, wide), y, o + 3, range, pixels);
    }
}

/* The ring for group g of image n of y, argument 3. */
NNRTI_MCU_INLINE nnrti_mcu_ring nnrti_mcu_conv_ring(const NNRT_McuConv *a, const nnrt_view *args, int32_t n, int32_t g,
                                                    void *rows)
{
    return nnrti_mcu_ring_of((uint8_t *)args[3].data + n * a->yn + g * a->o * a->yc, a->yh, a->p, a->q * a->o, a->late,
                             a->reverse != 0, rows);
}

typedef void (*nnrti_mcu_gemm)(const NNRT_McuConv *a, const int32_t *x, const int32_t *w, const int32_t *table,
                               uint8_t *const *y);

/* Writes the channels of `pixels` pixels: directly, or, if the channels of y are not adjacent, through rows at out. */
NNRTI_MCU_INLINE void nnrti_mcu_conv_pixels(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,
                                            const int32_t *table, uint8_t *const *y, uint8_t *out, int pixels,
                                            nnrti_mcu_gemm gemm)
{
    uint8_t *rows[2];
    rows[0] = a->yc == 1 ? y[0] : out;
    rows[1] = a->yc == 1 ? y[1] : out + a->o;
    gemm(a, x, w, table, rows);
    for (int j = 0; j < pixels && a->yc != 1; j++)
        for (int32_t c = 0; c < a->o; c++)
            y[j][c * a->yc] = rows[j][c];
}

/* The convolution: pixels in pairs, across the rows of y; both windows are copied before a result is stored. gemm,
   gemm1: the microkernels for two pixels and for one. Scratch: two interleaved windows, the ring of >>rows, a row of a
   window, two pixels of y. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_conv_dsp(const NNRT_McuConv *a, nnrt_view *args, nnrt_call *call,
                                                    const bool wide, nnrti_mcu_gemm gemm, nnrti_mcu_gemm gemm1)
{
    const int32_t panels = (a->o + 3) / 4;
    int32_t *const columns = (int32_t *)call->scratch;
    uint8_t *const rows = (uint8_t *)(columns + 2 * a->words), *const row = rows + a->late * a->q * a->o;
    uint8_t *const out = row + a->kw * a->c, *y[2] = {NULL, NULL};
    for (int32_t g = 0; g < a->groups; g++) {
        const int32_t *w = (const int32_t *)args[1].data + g * panels * a->words * (wide ? 4 : 2);
        const int32_t *table = (const int32_t *)args[2].data + g * panels * 4 * NNRTI_MCU_TABLE;
        nnrti_mcu_ring ring = nnrti_mcu_conv_ring(a, args, 0, g, rows);
        int pending = 0;
        for (int32_t n = 0; n < a->n; n++) {
            const uint8_t *x = (const uint8_t *)args[0].data + n * a->xn + g * a->c * a->xc;
            ring = nnrti_mcu_conv_ring(a, args, n, g, rows);
            for (int32_t i = 0; i < a->p; i++) {
                const int32_t p = a->reverse != 0 ? a->p - 1 - i : i;
                uint8_t *const to = nnrti_mcu_ring_row(&ring, i);
                NNRTI_MCU_BORDER(true, (g * a->n + n) * a->p + i, a->groups * a->n * a->p);
                for (int32_t j = 0; j < a->q; j++) {
                    const int32_t q = a->reverse != 0 ? a->q - 1 - j : j;
                    nnrti_mcu_im2col(a, x, p * a->sh - a->top, q * a->sw - a->left, row, columns + pending);
                    y[pending] = to + q * a->yw;
                    if (++pending < 2)
                        continue;
                    nnrti_mcu_conv_pixels(a, columns, w, table, y, out, 2, gemm);
                    pending = 0;
                }
                nnrti_mcu_ring_next(&ring, i);
            }
        }
        if (pending > 0)
            nnrti_mcu_conv_pixels(a, columns, w, table, y, out, 1, gemm1);
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}

/* The part of the check that all convolutions share. weights, channels: words of packed weights and rows of the table
   per group; scratch: its bytes without the ring. y may overlap x in any way: bytes of x are no indices. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_conv(const NNRT_McuConv *a, const nnrt_mcu_checked *step, int32_t weights,
                                         int32_t channels, int64_t scratch)
{
    const int32_t inputs = nnrti_mcu_times(a->groups, a->c), outputs = nnrti_mcu_times(a->groups, a->o);
    const int32_t rows = nnrti_mcu_times(a->groups, channels), pixels = nnrti_mcu_times(a->p, a->q);
    return nnrti_mcu_arity(step, 1, 2, 1) && nnrti_mcu_offsets_fit(a->p, a->sh, a->kh, a->dh, a->top, a->xh) &&
           nnrti_mcu_offsets_fit(a->q, a->sw, a->kw, a->dw, a->left, a->xw) && nnrti_mcu_small(a->xZero, 65536) &&
           nnrti_mcu_small(a->zero, 65536) && nnrti_mcu_small(a->lo, 65536) && nnrti_mcu_small(a->hi, 65536) &&
           nnrti_mcu_holds(step, 0, nnrti_mcu_image(a->n, a->h, a->w, inputs, a->xn, a->xh, a->xw, a->xc), 1) &&
           nnrti_mcu_holds(step, 1, nnrti_mcu_times(a->groups, weights), 4) &&
           nnrti_mcu_holds(step, 2, nnrti_mcu_times(rows, NNRTI_MCU_TABLE), 4) &&
           nnrti_mcu_holds(step, 3, nnrti_mcu_image(a->n, a->p, a->q, outputs, a->yn, a->yh, a->yw, a->yc), 1) &&
           nnrti_mcu_holds(step, 3, nnrti_mcu_times(nnrti_mcu_times(a->n, pixels), outputs), 1) &&
           (a->late == 0 || (a->groups == 1 && a->yc == 1)) &&
           nnrti_mcu_check_ring(step, a->late, a->q, a->yw, a->o, scratch);
}

/* Channels per group in whole panels of `width`, which is a power of two; 0: there are none, or too many. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_padded(int32_t channels, int32_t width)
{
    return channels > 0 && channels < NNRTI_MCU_LIMIT ? (channels + width - 1) & -width : 0;
}

/* The check of these kernels. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_conv_dsp(const NNRT_McuConv *a, const nnrt_mcu_checked *step, bool wide)
{
    const int32_t row = nnrti_mcu_times(a->kw, a->c), channels = nnrti_mcu_padded(a->o, 4);
    const int32_t words = nnrti_mcu_times(a->kh, nnrti_mcu_padded(row, 4) / 2);
    return words < NNRTI_MCU_LIMIT && a->words == nnrti_mcu_padded(words, 4) &&
           nnrti_mcu_check_conv(a, step, nnrti_mcu_times(nnrti_mcu_times(channels, a->words) / 4, wide ? 4 : 2),
                                channels, (int64_t)a->words * 8 + row + (a->yc == 1 ? 0 : 2 * (int64_t)a->o)) &&
           nnrti_mcu_table_holds(step, 2, a->groups * channels);
}

/* Generates kernel nnrt_mcu_conv_<name> and its microkernels. */
#define NNRTI_MCU_CONV_DSP(name, range, wide)                                                                          \
    NNRTI_MCU_ONCE void nnrti_mcu_gemm_##name(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,               \
                                              const int32_t *table, uint8_t *const *y)                                 \
    {                                                                                                                  \
        nnrti_mcu_gemm_panels(a, x, w, table, y, range, wide, 2);                                                      \
    }                                                                                                                  \
    NNRTI_MCU_ONCE void nnrti_mcu_gemm1_##name(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,              \
                                               const int32_t *table, uint8_t *const *y)                                \
    {                                                                                                                  \
        nnrti_mcu_gemm_panels(a, x, w, table, y, range, wide, 1);                                                      \
    }                                                                                                                  \
    NNRTI_MCU_KERNEL(conv_##name, McuConv,                                                                             \
                     nnrti_mcu_conv_dsp(a, args, call, wide, nnrti_mcu_gemm_##name, nnrti_mcu_gemm1_##name))           \
    NNRTI_MCU_CHECK(conv_##name, McuConv, nnrti_mcu_check_conv_dsp(a, step, wide))
NNRTI_MCU_CONV_DSP(dsp_s8, NNRTI_MCU_S8, false)
NNRTI_MCU_CONV_DSP(dsp_u8, NNRTI_MCU_U8, false)
NNRTI_MCU_CONV_DSP(dsp, NNRTI_MCU_ANY, false)
NNRTI_MCU_CONV_DSP(dsp_wide, NNRTI_MCU_ANY, true)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>depthwise */

/* Depthwise convolution, one filter per channel. Weights and biases are stored twice as large, so that sums are the
   `twice` of nnrti_mcu_store_of.

   3 x 3 taps, stride 1: two rows of y need four rows of x. For four channels these become int16 columns in scratch,
   with two words per channel, X = (row 0, row 1) and Z = (row 2, row 3), and with columns of padding beside them. The
   words of a filter column with taps w0, w1, w2 are A = (w0, w1) and B = (w1, w2). Then SMLAD X A + SMLABT Z B is the
   sum of the first row, SMLATB X A + SMLAD Z B the sum of the second row: four instructions for six products. The
   weights of a channel stay in registers.

   Other windows: four channels of a pixel at a time. A word of x has four channels of one tap. Two of them, of adjacent
   taps, become the pairs of taps of each channel by PKHBT or PKHTB and SXTB16, for SMLAD; the last tap of an odd row is
   multiplied by SMLABB and SMLATT. A window that is not completely inside x, or has fewer than four channels, is
   gathered first.

   Channels that do not fill a last group of four are computed with their predecessors, whose results are written
   twice. */

/* Words of a channel of the 3 x 3 kernel: A and B of three columns, bias, row of nnrti_mcu_store_of. */
enum { NNRTI_MCU_FILTER = 6, NNRTI_MCU_CHANNEL = NNRTI_MCU_FILTER + 1 + NNRTI_MCU_FACTOR };
/* Words of a column of four channels. */
enum { NNRTI_MCU_COLUMN = 8 };

/* Writes `count` columns of four channels. r[0] .. r[3]: the rows of x; the first column is `at` bytes, the next one xw
   bytes further. */
NNRTI_MCU_INLINE void nnrti_mcu_columns(const uint8_t *const *r, int32_t at, int32_t xw, int32_t count, const bool u,
                                        int32_t *to)
{
    const uint8_t *const r0 = r[0], *const r1 = r[1], *const r2 = r[2], *const r3 = r[3];
    for (const int32_t *const end = to + count * NNRTI_MCU_COLUMN; to != end; to += NNRTI_MCU_COLUMN, at += xw) {
        const int32_t w0 = nnrti_mcu_load(r0 + at), w1 = nnrti_mcu_load(r1 + at), w2 = nnrti_mcu_load(r2 + at),
                      w3 = nnrti_mcu_load(r3 + at);
        const int32_t x01 = nnrti_mcu_lows(w0, w1), z01 = nnrti_mcu_lows(w2, w3), x23 = nnrti_mcu_highs(w0, w1),
                      z23 = nnrti_mcu_highs(w2, w3);
        to[0] = nnrti_mcu_even(x01, u);
        to[1] = nnrti_mcu_even(z01, u);
        to[2] = nnrti_mcu_odd(x01, u);
        to[3] = nnrti_mcu_odd(z01, u);
        to[4] = nnrti_mcu_even(x23, u);
        to[5] = nnrti_mcu_even(z23, u);
        to[6] = nnrti_mcu_odd(x23, u);
        to[7] = nnrti_mcu_odd(z23, u);
    }
}

/* Adds the products of one column of x and one of the filter to the sums of both rows. */
NNRTI_MCU_INLINE void nnrti_mcu_column(int32_t x, int32_t z, int32_t a, int32_t b, int32_t *first, int32_t *second)
{
    *first = nnrti_mcu_dot2(x, a, *first);
    *second = nnrti_mcu_cross(a, x, *second);
    *first = nnrti_mcu_cross(z, b, *first);
    *second = nnrti_mcu_dot2(z, b, *second);
}

/* Four channels of two rows of y, yh bytes apart, with count pixels, yw bytes apart: from columns at x and the words of
   these channels at w. */
NNRTI_MCU_INLINE void nnrti_mcu_rows_of(const int32_t *x, const int32_t *w, uint8_t *y, ptrdiff_t yh, ptrdiff_t yw,
                                        int32_t count, int32_t lo, int32_t hi, const int range)
{
    for (const int32_t *const last = x + NNRTI_MCU_COLUMN; x != last; x += 2, w += NNRTI_MCU_CHANNEL, y++) {
        const int32_t a0 = w[0], b0 = w[1], a1 = w[2], b1 = w[3], a2 = w[4], b2 = w[5];
        const int32_t *const end = x + count * NNRTI_MCU_COLUMN;
        uint8_t *to = y;
        for (const int32_t *at = x; at != end; at += NNRTI_MCU_COLUMN, to += yw) {
            int32_t first = w[NNRTI_MCU_FILTER], second = first;
            nnrti_mcu_column(at[0], at[1], a0, b0, &first, &second);
            nnrti_mcu_column(at[8], at[9], a1, b1, &first, &second);
            nnrti_mcu_column(at[16], at[17], a2, b2, &first, &second);
            first = nnrti_mcu_store_of(first, w[7], w[8], w[9], lo, hi, range);
            second = nnrti_mcu_store_of(second, w[7], w[8], w[9], lo, hi, range);
            to[yh] = (uint8_t)second;
            to[0] = (uint8_t)first;
        }
    }
}

/* Two rows of y, yh bytes apart, from four rows of x at r. Columns of padding are already at `columns`, `inside` of x
   follow `from` of them. */
NNRTI_MCU_INLINE void nnrti_mcu_row_pair(const NNRT_McuDepthwise *a, const uint8_t *const *r, int32_t *columns,
                                         int32_t from, int32_t inside, const int32_t *w, uint8_t *y, ptrdiff_t yh,
                                         const int range)
{
    const int32_t C = a->c, xw = a->xw, yw = a->yw, q = a->q, lo = a->lo, hi = a->hi;
    const bool u = a->xUnsigned != 0;
    int32_t *const to = columns + from * NNRTI_MCU_COLUMN;
    for (int32_t c = 0; c < C; c += 4) {
        const int32_t first = c + 4 <= C ? c : C - 4;
        if (u)
            nnrti_mcu_columns(r, first, xw, inside, true, to);
        else
            nnrti_mcu_columns(r, first, xw, inside, false, to);
        nnrti_mcu_rows_of(columns, w + first * NNRTI_MCU_CHANNEL, y + first, yh, yw, q, lo, hi, range);
    }
}

typedef void (*nnrti_mcu_rows)(const NNRT_McuDepthwise *a, const uint8_t *const *r, int32_t *columns, int32_t from,
                               int32_t inside, const int32_t *w, uint8_t *y, ptrdiff_t yh);

/* The ring for image n of y. */
NNRTI_MCU_INLINE nnrti_mcu_ring nnrti_mcu_depthwise_ring(const NNRT_McuDepthwise *a, const nnrt_view *y, int32_t n,
                                                         void *rows)
{
    return nnrti_mcu_ring_of((uint8_t *)y->data + n * a->yn, a->yh, a->p, a->q * a->c, a->late, false, rows);
}

/* The convolution for 3 x 3 taps and stride 1, two rows of y at a time. rows: the microkernel. Scratch: columns; the
   ring of >>rows; a row of padding, as long as one of x. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_depthwise3(const NNRT_McuDepthwise *a, nnrt_view *args, nnrt_call *call,
                                                      nnrti_mcu_rows rows)
{
    const int32_t count = a->q + 2, from = a->left < count ? a->left : count;
    const int32_t inside = a->w < count - from ? a->w : count - from;
    int32_t *const columns = (int32_t *)call->scratch;
    uint8_t *const waiting = (uint8_t *)(columns + count * NNRTI_MCU_COLUMN);
    uint8_t *const padding = waiting + a->late * a->q * a->c;
    for (int32_t k = 0; k < count * NNRTI_MCU_COLUMN; k++)
        columns[k] = (a->xZero & 0xffff) | (int32_t)((uint32_t)a->xZero << 16);
    nnrti_mcu_fill(padding, a->xZero, (a->w - 1) * a->xw + a->c);
    for (int32_t n = 0; n < a->n; n++) {
        const nnrti_mcu_ring ring = nnrti_mcu_depthwise_ring(a, &args[2], n, waiting);
        for (int32_t p = 0; p < a->p; p += 2) {
            const uint8_t *const x = (const uint8_t *)args[0].data + n * a->xn, *r[4];
            uint8_t *const y = nnrti_mcu_ring_row(&ring, p);
            NNRTI_MCU_BORDER(true, n * a->p + p, a->n * a->p);
            for (int32_t k = 0; k < 4; k++) {
                const int32_t h = p - a->top + k;
                r[k] = h >= 0 && h < a->h ? x + h * a->xh : padding;
            }
            rows(a, r, columns, from, inside, (const int32_t *)args[1].data, y,
                 p + 1 < a->p ? nnrti_mcu_ring_row(&ring, p + 1) - y : 0);
            nnrti_mcu_ring_next(&ring, p + 1); /* the next two rows need places */
            nnrti_mcu_ring_next(&ring, p + 2);
        }
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}

/* Whether x and y of a depthwise convolution are inside their arguments, its windows fit int32, and the scratch has
   `scratch` bytes and the ring. size: bytes of an element. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_images(const NNRT_McuDepthwise *a, const nnrt_mcu_checked *step, uint32_t y,
                                           uint32_t size, int64_t scratch)
{
    const int32_t pixels = nnrti_mcu_times(nnrti_mcu_times(a->n, a->p), a->q);
    return nnrti_mcu_window_fits(a->p, a->sh, a->kh, a->dh, a->top) &&
           nnrti_mcu_window_fits(a->q, a->sw, a->kw, a->dw, a->left) &&
           nnrti_mcu_reach(0, a->dh + 1, a->xh) <= NNRTI_MCU_LIMIT &&
           nnrti_mcu_reach(0, a->dw + 1, a->xw) <= NNRTI_MCU_LIMIT &&
           nnrti_mcu_holds(step, 0, nnrti_mcu_image(a->n, a->h, a->w, a->c, a->xn, a->xh, a->xw, 1), size) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_image(a->n, a->p, a->q, a->c, a->yn, a->yh, a->yw, 1), size) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_times(pixels, a->c), size) &&
           nnrti_mcu_check_ring(step, a->late, a->q, a->yw, a->c, scratch);
}

/* The check of the 3 x 3 kernels. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_depthwise3(const NNRT_McuDepthwise *a, const nnrt_mcu_checked *step)
{
    const int32_t *const w = (const int32_t *)nnrti_mcu_constant(step, 1);
    return nnrti_mcu_arity(step, 1, 1, 1) && w != NULL && a->c >= 4 && a->left >= 0 &&
           nnrti_mcu_check_images(a, step, 2, 1, ((int64_t)a->q + 2) * NNRTI_MCU_COLUMN * 4 +
                                                  (int64_t)nnrti_mcu_reach(0, a->w, a->xw) + a->c) &&
           nnrti_mcu_holds(step, 1, nnrti_mcu_times(a->c, NNRTI_MCU_CHANNEL), 4) &&
           nnrti_mcu_shifts_hold(w + NNRTI_MCU_CHANNEL - 1, a->c, NNRTI_MCU_CHANNEL);
}

/* Generates kernel nnrt_mcu_depthwise3_<name> and its microkernel. */
#define NNRTI_MCU_DEPTHWISE3(name, range)                                                                              \
    NNRTI_MCU_ONCE void nnrti_mcu_rows_##name(const NNRT_McuDepthwise *a, const uint8_t *const *r, int32_t *columns,   \
                                              int32_t from, int32_t inside, const int32_t *w, uint8_t *y,              \
                                              ptrdiff_t yh)                                                            \
    {                                                                                                                  \
        nnrti_mcu_row_pair(a, r, columns, from, inside, w, y, yh, range);                                              \
    }                                                                                                                  \
    NNRTI_MCU_KERNEL(depthwise3_##name, McuDepthwise, nnrti_mcu_depthwise3(a, args, call, nnrti_mcu_rows_##name))      \
    NNRTI_MCU_CHECK(depthwise3_##name, McuDepthwise, nnrti_mcu_check_depthwise3(a, step))
NNRTI_MCU_DEPTHWISE3(dsp_s8, NNRTI_MCU_S8)
NNRTI_MCU_DEPTHWISE3(dsp_u8, NNRTI_MCU_U8)
NNRTI_MCU_DEPTHWISE3(dsp, NNRTI_MCU_ANY)

/* Words of four channels: their biases; their rows of nnrti_mcu_store_of; the weights. */
enum { NNRTI_MCU_QUAD = 4 + 4 * NNRTI_MCU_FACTOR };

/* Two taps of four channels, at x and `step` bytes further; their weights, four words at w. */
NNRTI_MCU_INLINE void nnrti_mcu_two_taps(const uint8_t *x, ptrdiff_t step, const int32_t *w, const bool u, int32_t *s0,
                                         int32_t *s1, int32_t *s2, int32_t *s3)
{
    const int32_t first = nnrti_mcu_load(x), second = nnrti_mcu_load(x + step);
    const int32_t lows = nnrti_mcu_lows(first, second), highs = nnrti_mcu_highs(first, second);
    *s0 = nnrti_mcu_dot2(nnrti_mcu_even(lows, u), w[0], *s0);
    *s1 = nnrti_mcu_dot2(nnrti_mcu_odd(lows, u), w[1], *s1);
    *s2 = nnrti_mcu_dot2(nnrti_mcu_even(highs, u), w[2], *s2);
    *s3 = nnrti_mcu_dot2(nnrti_mcu_odd(highs, u), w[3], *s3);
}

/* The last tap of a row; its weights are two words, of channels (0, 2) and (1, 3). */
NNRTI_MCU_INLINE void nnrti_mcu_one_tap(const uint8_t *x, const int32_t *w, const bool u, int32_t *s0, int32_t *s1,
                                        int32_t *s2, int32_t *s3)
{
    const int32_t word = nnrti_mcu_load(x), even = nnrti_mcu_even(word, u), odd = nnrti_mcu_odd(word, u);
    *s0 = nnrti_mcu_low(even, w[0], *s0);
    *s2 = nnrti_mcu_high(even, w[0], *s2);
    *s1 = nnrti_mcu_low(odd, w[1], *s1);
    *s3 = nnrti_mcu_high(odd, w[1], *s3);
}

/* A pixel of y, C channels, from a window with kh x kw taps: to the next row and column of it are rowStep and tapStep
   bytes. full: C is 4 or more. */
NNRTI_MCU_INLINE void nnrti_mcu_pixel_of(const uint8_t *x, ptrdiff_t rowStep, ptrdiff_t tapStep, const int32_t *w,
                                         uint8_t *y, int32_t C, const int32_t kh, const int32_t kw, int32_t lo,
                                         int32_t hi, const bool u, const bool full, const int range)
{
    for (int32_t c = 0; c < C; c += 4) {
        const int32_t first = c + 4 <= C || !full ? c : C - 4, *const table = w;
        const uint8_t *row = x + first;
        int32_t s0 = w[0], s1 = w[1], s2 = w[2], s3 = w[3];
        w += NNRTI_MCU_QUAD;
        NNRTI_MCU_UNROLL(3)
        for (int32_t i = 0; i < kh; i++, row += rowStep) {
            const uint8_t *tap = row;
            int32_t j = 0;
            NNRTI_MCU_UNROLL(3)
            for (; j + 2 <= kw; j += 2, tap += 2 * tapStep, w += 4)
                nnrti_mcu_two_taps(tap, tapStep, w, u, &s0, &s1, &s2, &s3);
            if (j < kw) {
                nnrti_mcu_one_tap(tap, w, u, &s0, &s1, &s2, &s3);
                w += 2;
            }
        }
        s0 = nnrti_mcu_store_of(s0, table[4], table[5], table[6], lo, hi, range);
        s1 = nnrti_mcu_store_of(s1, table[7], table[8], table[9], lo, hi, range);
        s2 = nnrti_mcu_store_of(s2, table[10], table[11], table[12], lo, hi, range);
        s3 = nnrti_mcu_store_of(s3, table[13], table[14], table[15], lo, hi, range);
        y[first] = (uint8_t)s0;
        if (full || C > 1)
            y[first + 1] = (uint8_t)s1;
        if (full || C > 2)
            y[first + 2] = (uint8_t)s2;
        if (full || C > 3)
            y[first + 3] = (uint8_t)s3;
    }
}

/* Gathers a window, padding included: kh * kw taps of `step` bytes, the first at row h and column w. */
NNRTI_MCU_INLINE void nnrti_mcu_depthwise_gather(const NNRT_McuDepthwise *a, const uint8_t *x, int32_t h, int32_t w,
                                                 int32_t step, uint8_t *to)
{
    for (int32_t i = 0; i < a->kh; i++)
        for (int32_t j = 0; j < a->kw; j++, to += step) {
            const int32_t row = h + i * a->dh, column = w + j * a->dw;
            if (row >= 0 && row < a->h && column >= 0 && column < a->w)
                nnrti_mcu_copy(to, x + row * a->xh + column * a->xw, a->c);
            else
                nnrti_mcu_fill(to, a->xZero, a->c);
        }
}

typedef void (*nnrti_mcu_pixel)(const NNRT_McuDepthwise *a, const uint8_t *x, ptrdiff_t rowStep, ptrdiff_t tapStep,
                                const int32_t *w, uint8_t *y);

/* The convolution. pixel: the microkernel. Scratch: one window, the ring of >>rows. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_depthwise(const NNRT_McuDepthwise *a, nnrt_view *args, nnrt_call *call,
                                                     nnrti_mcu_pixel pixel)
{
    const int32_t *w = (const int32_t *)args[1].data, step = a->c < 4 ? 4 : a->c;
    uint8_t *const window = (uint8_t *)call->scratch;
    for (int32_t n = 0; n < a->n; n++) {
        const nnrti_mcu_ring ring = nnrti_mcu_depthwise_ring(a, &args[2], n, window + a->kh * a->kw * step);
        for (int32_t p = 0; p < a->p; p++) {
            const uint8_t *x = (const uint8_t *)args[0].data + n * a->xn;
            uint8_t *y = nnrti_mcu_ring_row(&ring, p);
            const int32_t h = p * a->sh - a->top;
            const bool in = a->c >= 4 && h >= 0 && h + (a->kh - 1) * a->dh < a->h;
            NNRTI_MCU_BORDER(true, n * a->p + p, a->n * a->p);
            for (int32_t q = 0; q < a->q; q++, y += a->yw) {
                const int32_t column = q * a->sw - a->left;
                if (in && column >= 0 && column + (a->kw - 1) * a->dw < a->w) {
                    pixel(a, x + h * a->xh + column * a->xw, a->dh * a->xh, a->dw * a->xw, w, y);
                    continue;
                }
                nnrti_mcu_depthwise_gather(a, x, h, column, step, window);
                pixel(a, window, a->kw * step, step, w, y);
            }
            nnrti_mcu_ring_next(&ring, p);
        }
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}

/* The check of these kernels. taps: as in NNRTI_MCU_DEPTHWISE. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_depthwise(const NNRT_McuDepthwise *a, const nnrt_mcu_checked *step, int32_t taps)
{
    const int32_t *w = (const int32_t *)nnrti_mcu_constant(step, 1);
    int32_t groups, row, quad;
    if (!nnrti_mcu_arity(step, 1, 1, 1) || (taps > 0 && (a->kh != taps || a->kw != taps || a->c < 4)) ||
        !nnrti_mcu_check_images(a, step, 2, 1, nnrti_mcu_times(nnrti_mcu_times(a->kh, a->kw), a->c < 4 ? 4 : a->c)) ||
        a->kw > NNRTI_MCU_LIMIT / 2 || w == NULL)
        return false;
    groups = (a->c + 3) / 4;
    row = nnrti_mcu_times(a->kh, (a->kw + 1) / 2 * 4 - a->kw % 2 * 2);
    quad = row < NNRTI_MCU_LIMIT ? row + NNRTI_MCU_QUAD : NNRTI_MCU_HUGE;
    if (!nnrti_mcu_holds(step, 1, nnrti_mcu_times(groups, quad), 4))
        return false;
    for (int32_t g = 0; g < groups; g++)
        if (!nnrti_mcu_shifts_hold(w + g * quad + 4 + NNRTI_MCU_FACTOR - 1, 4, NNRTI_MCU_FACTOR))
            return false;
    return true;
}

/* Generates kernel nnrt_mcu_depthwise_<name> and its microkernel, for 3 x 3 taps of 4 channels or more, or (0) any
   number. */
#define NNRTI_MCU_DEPTHWISE(name, range, taps)                                                                         \
    NNRTI_MCU_ONCE void nnrti_mcu_pixel_##name(const NNRT_McuDepthwise *a, const uint8_t *x, ptrdiff_t rowStep,        \
                                               ptrdiff_t tapStep, const int32_t *w, uint8_t *y)                        \
    {                                                                                                                  \
        const int32_t kh = taps > 0 ? taps : a->kh, kw = taps > 0 ? taps : a->kw;                                      \
        const bool full = taps > 0 || a->c >= 4;                                                                       \
        if (a->xUnsigned != 0)                                                                                         \
            nnrti_mcu_pixel_of(x, rowStep, tapStep, w, y, a->c, kh, kw, a->lo, a->hi, true, full, range);              \
        else                                                                                                           \
            nnrti_mcu_pixel_of(x, rowStep, tapStep, w, y, a->c, kh, kw, a->lo, a->hi, false, full, range);             \
    }                                                                                                                  \
    NNRTI_MCU_KERNEL(depthwise_##name, McuDepthwise, nnrti_mcu_depthwise(a, args, call, nnrti_mcu_pixel_##name))       \
    NNRTI_MCU_CHECK(depthwise_##name, McuDepthwise, nnrti_mcu_check_depthwise(a, step, taps))
NNRTI_MCU_DEPTHWISE(dsp_s8, NNRTI_MCU_S8, 3)
NNRTI_MCU_DEPTHWISE(dsp_u8, NNRTI_MCU_U8, 3)
NNRTI_MCU_DEPTHWISE(dsp, NNRTI_MCU_ANY, 0)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>elementwise */

/* Loops over the rows of a walk; nnrti_mcu_at: where row i, j, k of x, y or z begins. */
#define NNRTI_MCU_ROWS(a)                                                                                              \
    for (int32_t i = 0; i < (a)->d0; i++)                                                                              \
        for (int32_t j = 0; j < (a)->d1; j++)                                                                          \
            for (int32_t k = 0; k < (a)->d2; k++)
#define NNRTI_MCU_AT(a, v) (i * (a)->v##0 + j * (a)->v##1 + k * (a)->v##2)

/* Whether operand k, with strides v of attributes a, is inside its argument; size: bytes of an element. */
#define NNRTI_MCU_WALK_HOLDS(a, step, k, v, size)                                                                      \
    nnrti_mcu_holds(step, k,                                                                                           \
                    nnrti_mcu_image((a)->d0, (a)->d1, (a)->d2, (a)->d3, (a)->v##0, (a)->v##1, (a)->v##2, (a)->v##3),   \
                    size)
/* Whether the number of elements is at most that of y, argument k. */
#define NNRTI_MCU_WALK_ENDS(a, step, k, size)                                                                          \
    nnrti_mcu_holds(step, k,                                                                                           \
                    nnrti_mcu_times(nnrti_mcu_times((a)->d0, (a)->d1), nnrti_mcu_times((a)->d2, (a)->d3)), size)

/* ---- two inputs ---- */

enum { NNRTI_MCU_ADD, NNRTI_MCU_MUL, NNRTI_MCU_EXTREME };

/* R(v * 2^20; factor) for |v| <= 255, as ADD defines it: a factor of 1/2 is exact. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_term(int32_t v, int32_t m, int32_t n)
{
    int32_t y;
    if (m == 1 << 30 && n == 0)
        return v * (1 << 19);
    y = nnrti_mcu_add_top(v * (1 << 21), m, n > 0 ? 1 << (n - 1) : 0);
    return n > 0 ? (y + (v >> 31)) >> n : y;
}

/* Element k of four, in words of x and z. */
NNRTI_MCU_INLINE uint8_t nnrti_mcu_element(const NNRT_McuBinary *a, int32_t x, int32_t z, const int k, const int op)
{
    const bool u = a->xUnsigned != 0, s8 = a->lo == -128 && a->hi == 127, u8 = a->lo == 0 && a->hi == 255;
    const int32_t p = nnrti_mcu_byte(x, k, u, -a->xZero), q = nnrti_mcu_byte(z, k, u, -a->zZero);
    int32_t y;
    if (op == NNRTI_MCU_MUL)
        y = 2 * p * q;
    else {
        const int32_t first = nnrti_mcu_term(p, a->xm, a->xn), second = nnrti_mcu_term(q, a->zm, a->zn);
        y = 2 * (a->minus ? first - second : first + second);
    }
    if (s8)
        return (uint8_t)nnrti_mcu_store_of(y, a->m, a->bias, a->shift, a->lo, a->hi, NNRTI_MCU_S8);
    if (u8)
        return (uint8_t)nnrti_mcu_store_of(y, a->m, a->bias, a->shift, a->lo, a->hi, NNRTI_MCU_U8);
    return (uint8_t)nnrti_mcu_store_of(y, a->m, a->bias, a->shift, a->lo, a->hi, NNRTI_MCU_ANY);
}

/* y of four elements. */
NNRTI_MCU_INLINE void nnrti_mcu_elements(const NNRT_McuBinary *a, int32_t x, int32_t z, uint8_t *y, const int op)
{
    if (op == NNRTI_MCU_EXTREME)
        nnrti_mcu_put(y, nnrti_mcu_extreme4(x, z, a->xUnsigned != 0, a->minus != 0));
    else {
        y[0] = nnrti_mcu_element(a, x, z, 0, op);
        y[1] = nnrti_mcu_element(a, x, z, 1, op);
        y[2] = nnrti_mcu_element(a, x, z, 2, op);
        y[3] = nnrti_mcu_element(a, x, z, 3, op);
    }
}

/* A row: four elements at a time where they are adjacent, or where z is one element. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_binary(const NNRT_McuBinary *a, const nnrt_view *args, const int op)
{
    NNRTI_MCU_ROWS(a)
    {
        const uint8_t *x = (const uint8_t *)args[0].data + NNRTI_MCU_AT(a, x);
        const uint8_t *z = (const uint8_t *)args[1].data + NNRTI_MCU_AT(a, z);
        uint8_t *y = (uint8_t *)args[2].data + NNRTI_MCU_AT(a, y);
        const bool words = a->x3 == 1 && a->y3 == 1 && (a->z3 == 1 || a->z3 == 0);
        const int32_t one = words && a->z3 == 0 ? (int32_t)(0x01010101u * *z) : 0;
        int32_t l = words ? a->d3 / 4 * 4 : 0;
        for (const uint8_t *const end = x + l; x != end; x += 4, y += 4, z += 4 * a->z3) {
            NNRTI_MCU_BLOCK(a, l - (int32_t)(end - x));
            nnrti_mcu_elements(a, nnrti_mcu_load(x), a->z3 == 0 ? one : nnrti_mcu_load(z), y, op);
        }
        for (; l < a->d3; l++, x += a->x3, y += a->y3, z += a->z3) {
            NNRTI_MCU_BLOCK(a, l);
            *y = op == NNRTI_MCU_EXTREME ? (uint8_t)nnrti_mcu_extreme4(*x, *z, a->xUnsigned != 0, a->minus != 0)
                                         : nnrti_mcu_element(a, *x, *z, 0, op);
        }
    }
    return NNRT_SUCCESS;
}

/* The check of these kernels. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_extreme(const NNRT_McuBinary *a, const nnrt_mcu_checked *step)
{
    return nnrti_mcu_arity(step, 2, 0, 1) && NNRTI_MCU_WALK_HOLDS(a, step, 0, x, 1) &&
           NNRTI_MCU_WALK_HOLDS(a, step, 1, z, 1) && NNRTI_MCU_WALK_HOLDS(a, step, 2, y, 1) &&
           NNRTI_MCU_WALK_ENDS(a, step, 2, 1);
}

/* Sums and products also have factors: terms of |v| < 2^9 fit int32. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_binary(const NNRT_McuBinary *a, const nnrt_mcu_checked *step)
{
    const int32_t shifts[3] = {a->xn, a->zn, a->shift};
    return nnrti_mcu_check_extreme(a, step) && nnrti_mcu_small(a->xZero, 255) && nnrti_mcu_small(a->zZero, 255) &&
           nnrti_mcu_shifts_hold(shifts, 3, 1);
}

NNRTI_MCU_KERNEL(add, McuBinary, ((void)call, nnrti_mcu_binary(a, args, NNRTI_MCU_ADD)))
NNRTI_MCU_CHECK(add, McuBinary, nnrti_mcu_check_binary(a, step))
NNRTI_MCU_KERNEL(mul, McuBinary, ((void)call, nnrti_mcu_binary(a, args, NNRTI_MCU_MUL)))
NNRTI_MCU_CHECK(mul, McuBinary, nnrti_mcu_check_binary(a, step))
NNRTI_MCU_KERNEL(extreme, McuBinary, ((void)call, nnrti_mcu_binary(a, args, NNRTI_MCU_EXTREME)))
NNRTI_MCU_CHECK(extreme, McuBinary, nnrti_mcu_check_extreme(a, step))

/* ---- functions of one input ---- */

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_map(const NNRT_McuMap *a, const nnrt_view *args)
{
    const uint8_t *const table = (const uint8_t *)args[1].data;
    NNRTI_MCU_ROWS(a)
    {
        const uint8_t *x = (const uint8_t *)args[0].data + NNRTI_MCU_AT(a, x);
        uint8_t *y = (uint8_t *)args[2].data + NNRTI_MCU_AT(a, y);
        int32_t l = 0;
        for (; l + 4 <= a->d3; l += 4, x += 4 * a->x3, y += 4 * a->y3) {
            const uint8_t v0 = x[0], v1 = x[a->x3], v2 = x[2 * a->x3], v3 = x[3 * a->x3];
            NNRTI_MCU_BLOCK(a, l);
            y[0] = table[v0];
            y[a->y3] = table[v1];
            y[2 * a->y3] = table[v2];
            y[3 * a->y3] = table[v3];
        }
        for (; l < a->d3; l++, x += a->x3, y += a->y3) {
            NNRTI_MCU_BLOCK(a, l);
            *y = table[*x];
        }
    }
    return NNRT_SUCCESS;
}

NNRTI_MCU_KERNEL(map, McuMap, ((void)call, nnrti_mcu_map(a, args)))
NNRTI_MCU_CHECK(map, McuMap,
                nnrti_mcu_arity(step, 1, 1, 1) && nnrti_mcu_holds(step, 1, 256, 1) &&
                    NNRTI_MCU_WALK_HOLDS(a, step, 0, x, 1) && NNRTI_MCU_WALK_HOLDS(a, step, 2, y, 1) &&
                    NNRTI_MCU_WALK_ENDS(a, step, 2, 1))

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_copy_rows(const NNRT_McuMap *a, const nnrt_view *args)
{
    NNRTI_MCU_ROWS(a)
    {
        const uint8_t *x = (const uint8_t *)args[0].data + NNRTI_MCU_AT(a, x);
        uint8_t *y = (uint8_t *)args[1].data + NNRTI_MCU_AT(a, y);
        if (a->x3 == 1 && a->y3 == 1)
            nnrti_mcu_copy(y, x, a->d3);
        else
            for (int32_t l = 0; l < a->d3; l++)
                y[l * a->y3] = x[l * a->x3];
    }
    return NNRT_SUCCESS;
}

NNRTI_MCU_KERNEL(copy, McuMap, ((void)call, nnrti_mcu_copy_rows(a, args)))
NNRTI_MCU_CHECK(copy, McuMap,
                nnrti_mcu_arity(step, 1, 0, 1) && NNRTI_MCU_WALK_HOLDS(a, step, 0, x, 1) &&
                    NNRTI_MCU_WALK_HOLDS(a, step, 1, y, 1) && NNRTI_MCU_WALK_ENDS(a, step, 1, 1))

/* ---- casts ---- */

#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && defined(__GNUC__) && __ARM_ARCH_PROFILE == 'M'
/* lo..lo + 255 clamps the nearest integer to q, plus zero. VCVTR rounds halves to even and saturates; NaN gives 0. Away
   from zero: 2 * q toward zero, then half of that. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_nearest(float q, int32_t zero, const int32_t lo, const bool even)
{
    int32_t y;
    if (even) {
        __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1" : "=r"(y), "+t"(q));
        __asm__("qadd %0, %1, %2" : "=r"(y) : "r"(y), "r"(zero));
        if (lo < 0)
            __asm__("ssat %0, #8, %1" : "=r"(y) : "r"(y));
        else
            __asm__("usat %0, #8, %1" : "=r"(y) : "r"(y));
        return y;
    }
    __asm__("vcvt.s32.f32 %1, %1, #1\n\tvmov %0, %1\n\tssat %0, #16, %0" : "=r"(y), "+t"(q));
    y += (y >> 31) + (2 * zero + 1);
    if (lo < 0)
        __asm__("ssat %0, #8, %1, asr #1" : "=r"(y) : "r"(y));
    else
        __asm__("usat %0, #8, %1, asr #1" : "=r"(y) : "r"(y));
    return y;
}
#else
NNRTI_MCU_INLINE int32_t nnrti_mcu_nearest(float q, int32_t zero, const int32_t lo, const bool even)
{
    uint32_t bits, m, shift, rest, half;
    int32_t y;
    memcpy(&bits, &q, sizeof(bits));
    m = (bits & 0x7fffff) | 0x800000;
    shift = 150 - (bits >> 23 & 0xff); /* |q| = m / 2^shift */
    if (q != q)
        return zero;
    if (shift > 25) /* |q| < 1/4, or shift is negative */
        y = shift < 256 ? 0 : 1 << 16;
    else if (shift < 8) /* |q| >= 2^15 */
        y = 1 << 16;
    else {
        half = (uint32_t)1 << (shift - 1);
        rest = m & (2 * half - 1);
        y = (int32_t)(m >> shift);
        y += rest > half || (rest == half && (!even || y % 2 != 0));
    }
    y = (bits >> 31 != 0 ? -y : y) + zero;
    return y < lo ? lo : y > lo + 255 ? lo + 255 : y;
}
#endif

/* y = round(x / scale) + zero. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_quantize(const NNRT_McuCast *a, const nnrt_view *args)
{
    NNRTI_MCU_ROWS(a)
    {
        const float *x = (const float *)args[0].data + NNRTI_MCU_AT(a, x);
        uint8_t *y = (uint8_t *)args[1].data + NNRTI_MCU_AT(a, y);
        NNRTI_MCU_UNROLL(4)
        for (int32_t l = 0; l < a->d3; l++, x += a->x3, y += a->y3) {
            NNRTI_MCU_BLOCK(a, l);
            *y = (uint8_t)nnrti_mcu_nearest(*x / a->scale, a->zero, a->lo, a->even != 0);
        }
    }
    return NNRT_SUCCESS;
}

/* y = scale * (x - zero). */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_dequantize(const NNRT_McuCast *a, const nnrt_view *args)
{
    NNRTI_MCU_ROWS(a)
    {
        const uint8_t *x = (const uint8_t *)args[0].data + NNRTI_MCU_AT(a, x);
        float *y = (float *)args[1].data + NNRTI_MCU_AT(a, y);
        NNRTI_MCU_UNROLL(4)
        for (int32_t l = 0; l < a->d3; l++, x += a->x3, y += a->y3) {
            NNRTI_MCU_BLOCK(a, l);
            *y = a->scale * (float)((a->lo < 0 ? (int8_t)*x : *x) - a->zero);
        }
    }
    return NNRT_SUCCESS;
}

/* The check of these kernels. x, y: bytes of an element. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_cast(const NNRT_McuCast *a, const nnrt_mcu_checked *step, uint32_t x, uint32_t y)
{
    return nnrti_mcu_arity(step, 1, 0, 1) && NNRTI_MCU_WALK_HOLDS(a, step, 0, x, x) &&
           NNRTI_MCU_WALK_HOLDS(a, step, 1, y, y) && NNRTI_MCU_WALK_ENDS(a, step, 1, y) &&
           nnrti_mcu_small(a->zero, 65536) && nnrti_mcu_small(a->lo, 65536);
}

NNRTI_MCU_KERNEL(quantize, McuCast, ((void)call, nnrti_mcu_quantize(a, args)))
NNRTI_MCU_KERNEL(dequantize, McuCast, ((void)call, nnrti_mcu_dequantize(a, args)))
NNRTI_MCU_CHECK(quantize, McuCast, nnrti_mcu_check_cast(a, step, 4, 1))
NNRTI_MCU_CHECK(dequantize, McuCast, nnrti_mcu_check_cast(a, step, 1, 4))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>pool */

/* Pools of four channels or more: four at a time; a last group ends with the last channel. */

/* Stores the largest bytes of a window of rows x columns pixels. */
NNRTI_MCU_INLINE void nnrti_mcu_max_of(const NNRT_McuPool *a, const uint8_t *x, int32_t rows, int32_t columns,
                                       const uint8_t *table, uint8_t *y, const bool u)
{
    const int32_t C = a->c, xh = a->xh, xw = a->xw;
    for (int32_t c = 0; c < C; c += 4) {
        const int32_t first = c + 4 <= C ? c : C - 4;
        const uint8_t *row = x + first;
        int32_t most = nnrti_mcu_load(row);
        for (int32_t i = rows; i > 0; i--, row += xh) {
            const uint8_t *at = row;
            for (int32_t j = columns; j > 0; j--, at += xw)
                most = nnrti_mcu_extreme4(most, nnrti_mcu_load(at), u, false);
        }
        nnrti_mcu_put(y + first, most);
        for (int32_t k = 0; k < 4 && table != NULL; k++)
            y[first + k] = table[(uint8_t)((uint32_t)most >> 8 * k)];
    }
}

NNRTI_MCU_ONCE void nnrti_mcu_max_window(const NNRT_McuPool *a, const uint8_t *x, int32_t rows, int32_t columns,
                                         const uint8_t *table, uint8_t *y)
{
    if (a->xUnsigned != 0)
        nnrti_mcu_max_of(a, x, rows, columns, table, y, true);
    else
        nnrti_mcu_max_of(a, x, rows, columns, table, y, false);
}

/* The sums of four channels. */
typedef struct nnrti_mcu_four {
    int32_t s0, s1, s2, s3;
} nnrti_mcu_four;

/* Adds sums of 16 bits. */
NNRTI_MCU_INLINE void nnrti_mcu_add_four(nnrti_mcu_four *s, int32_t even, int32_t odd, const bool u)
{
    s->s0 += u ? (int32_t)((uint32_t)even & 0xffff) : (int16_t)even;
    s->s1 += u ? (int32_t)((uint32_t)odd & 0xffff) : (int16_t)odd;
    s->s2 += u ? (int32_t)((uint32_t)even >> 16) : even >> 16;
    s->s3 += u ? (int32_t)((uint32_t)odd >> 16) : odd >> 16;
}

/* The sums of a window of four channels: of 16 bits for up to 255 pixels. columns <= 255. */
NNRTI_MCU_INLINE nnrti_mcu_four nnrti_mcu_sum_of(const uint8_t *row, int32_t rows, int32_t columns, int32_t xh,
                                                 int32_t xw, const bool u)
{
    nnrti_mcu_four s = {0, 0, 0, 0};
    int32_t even = 0, odd = 0, room = 255 - columns;
    for (; rows > 0; rows--, row += xh, room -= columns) {
        const uint8_t *at = row;
        int32_t j = columns;
        if (room < 0) {
            nnrti_mcu_add_four(&s, even, odd, u);
            even = odd = 0;
            room = 255 - columns;
        }
        for (; j >= 2; j -= 2, at += 2 * xw) {
            const int32_t word = nnrti_mcu_load(at), next = nnrti_mcu_load(at + xw);
            even = nnrti_mcu_add_even(nnrti_mcu_add_even(even, word, u), next, u);
            odd = nnrti_mcu_add_odd(nnrti_mcu_add_odd(odd, word, u), next, u);
        }
        if (j > 0) {
            const int32_t word = nnrti_mcu_load(at);
            even = nnrti_mcu_add_even(even, word, u);
            odd = nnrti_mcu_add_odd(odd, word, u);
        }
    }
    nnrti_mcu_add_four(&s, even, odd, u);
    return s;
}

/* The mean of a window: sum / cells, halves away from zero; or, for MEAN, requantized. */
NNRTI_MCU_INLINE uint8_t nnrti_mcu_mean_of(const NNRT_McuPool *a, int32_t sum, int32_t cells, const uint8_t *table,
                                           const bool mean)
{
    if (mean)
        return (uint8_t)nnrti_mcu_store_of(2 * (sum - a->zeros), a->m, a->bias, a->shift, a->lo, a->hi, NNRTI_MCU_ANY);
    sum = (sum > 0 ? sum + cells / 2 : sum - cells / 2) / cells;
    return table != NULL ? table[(uint8_t)sum] : (uint8_t)sum;
}

NNRTI_MCU_INLINE void nnrti_mcu_means(const NNRT_McuPool *a, const uint8_t *x, int32_t rows, int32_t columns,
                                      const uint8_t *table, uint8_t *y, const bool mean)
{
    const int32_t C = a->c, xh = a->xh, xw = a->xw, cells = rows * columns;
    for (int32_t c = 0; c < C; c += 4) {
        const int32_t first = c + 4 <= C ? c : C - 4;
        const nnrti_mcu_four s = a->xUnsigned != 0 ? nnrti_mcu_sum_of(x + first, rows, columns, xh, xw, true)
                                                   : nnrti_mcu_sum_of(x + first, rows, columns, xh, xw, false);
        y[first] = nnrti_mcu_mean_of(a, s.s0, cells, table, mean);
        y[first + 1] = nnrti_mcu_mean_of(a, s.s1, cells, table, mean);
        y[first + 2] = nnrti_mcu_mean_of(a, s.s2, cells, table, mean);
        y[first + 3] = nnrti_mcu_mean_of(a, s.s3, cells, table, mean);
    }
}

NNRTI_MCU_ONCE void nnrti_mcu_average_window(const NNRT_McuPool *a, const uint8_t *x, int32_t rows, int32_t columns,
                                             const uint8_t *table, uint8_t *y)
{
    nnrti_mcu_means(a, x, rows, columns, table, y, false);
}

NNRTI_MCU_ONCE void nnrti_mcu_mean_window(const NNRT_McuPool *a, const uint8_t *x, int32_t rows, int32_t columns,
                                          const uint8_t *table, uint8_t *y)
{
    nnrti_mcu_means(a, x, rows, columns, table, y, true);
}

typedef void (*nnrti_mcu_window)(const NNRT_McuPool *a, const uint8_t *x, int32_t rows, int32_t columns,
                                 const uint8_t *table, uint8_t *y);

/* Calls `window` for the part of each window that is inside x. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_pool(const NNRT_McuPool *a, const nnrt_view *args, nnrti_mcu_window window)
{
    const uint8_t *const table = a->mapped != 0 ? (const uint8_t *)args[1].data : NULL;
    for (int32_t n = 0; n < a->n; n++)
        for (int32_t p = 0; p < a->p; p++)
            for (int32_t q = 0; q < a->q; q++) {
                const int32_t top = p * a->sh - a->top, left = q * a->sw - a->left, h = top > 0 ? top : 0,
                              w = left > 0 ? left : 0, below = top + a->kh, right = left + a->kw;
                NNRTI_MCU_BORDER(q == 0, n * a->p + p, a->n * a->p);
                window(a, (const uint8_t *)args[0].data + n * a->xn + h * a->xh + w * a->xw,
                       (below < a->h ? below : a->h) - h, (right < a->w ? right : a->w) - w, table,
                       (uint8_t *)args[1 + a->mapped].data + n * a->yn + p * a->yh + q * a->yw);
            }
    return NNRT_SUCCESS;
}

/* Whether each window along an axis of x contains an element. */
NNRTI_MCU_ONCE bool nnrti_mcu_meets(int32_t count, int32_t stride, int32_t taps, int32_t before, int32_t size)
{
    return nnrti_mcu_window_fits(count, stride, taps, 1, before) && before < taps &&
           nnrti_mcu_reach(0, count, stride) - before < size;
}

/* The check of these kernels, which compute so many channels at once. pixels, columns: the largest window, so that sums
   fit. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_pool(const NNRT_McuPool *a, const nnrt_mcu_checked *step, int32_t channels,
                                         int32_t pixels, int32_t columns)
{
    const bool mapped = a->mapped == 1;
    const uint32_t y = mapped ? 2 : 1;
    return (mapped || a->mapped == 0) && nnrti_mcu_arity(step, 1, mapped, 1) && a->c >= channels &&
           nnrti_mcu_meets(a->p, a->sh, a->kh, a->top, a->h) && nnrti_mcu_meets(a->q, a->sw, a->kw, a->left, a->w) &&
           a->kw <= columns && nnrti_mcu_times(a->kh, a->kw) <= pixels && nnrti_mcu_small(a->zeros, 1 << 28) &&
           nnrti_mcu_shifts_hold(&a->shift, 1, 1) && (!mapped || nnrti_mcu_holds(step, 1, 256, 1)) &&
           nnrti_mcu_holds(step, 0, nnrti_mcu_image(a->n, a->h, a->w, a->c, a->xn, a->xh, a->xw, 1), 1) &&
           nnrti_mcu_holds(step, 0, nnrti_mcu_times(nnrti_mcu_times(a->h, a->w), a->c), 1) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_image(a->n, a->p, a->q, a->c, a->yn, a->yh, a->yw, 1), 1) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_times(nnrti_mcu_times(a->n, a->p), nnrti_mcu_times(a->q, a->c)), 1);
}

NNRTI_MCU_KERNEL(max_pool, McuPool, ((void)call, nnrti_mcu_pool(a, args, nnrti_mcu_max_window)))
NNRTI_MCU_KERNEL(average_pool, McuPool, ((void)call, nnrti_mcu_pool(a, args, nnrti_mcu_average_window)))
NNRTI_MCU_KERNEL(mean, McuPool, ((void)call, nnrti_mcu_pool(a, args, nnrti_mcu_mean_window)))
NNRTI_MCU_CHECK(max_pool, McuPool, nnrti_mcu_check_pool(a, step, 4, NNRTI_MCU_LIMIT, NNRTI_MCU_LIMIT))
NNRTI_MCU_CHECK(average_pool, McuPool, nnrti_mcu_check_pool(a, step, 4, 1 << 20, 255))
NNRTI_MCU_CHECK(mean, McuPool, nnrti_mcu_check_pool(a, step, 4, 1 << 20, 255))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>softmax */

/* Softmax for results in 1/256 from lo on. The exponentials of the 256 differences from the largest element are a
   constant, with 31 fraction bits; the sum T of up to 4,095 of them, each divided by 2^12, fits 32 bits. With k bits in
   T, and I of the specification: y = D(H(w, I(T * 2^(32-k) - 2^31)), k + 3), 0 for k > 28. */

/* H of the specification, for products below 2^62. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_high_product(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* 1 / (1 + a) with 31 fraction bits, 0 <= a < 1 with 31: Newton's iteration, I of the specification. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_reciprocal(int32_t a)
{
    const int32_t half = (int32_t)(((uint32_t)a >> 1) + ((uint32_t)1 << 30));
    int32_t x = 1515870810 + nnrti_mcu_high_product(half, -1010580540);
    for (int i = 0; i < 3; i++)
        x += 4 * nnrti_mcu_high_product(x, ((int32_t)1 << 29) - nnrti_mcu_high_product(half, x));
    return x > INT32_MAX / 2 ? INT32_MAX : 2 * x;
}

/* A row. */
NNRTI_MCU_ONCE void nnrti_mcu_softmax_row(const uint8_t *x, const int32_t *powers, int32_t length, int32_t flip,
                                          int32_t lo, uint8_t *y)
{
    uint32_t sum = 0, inverse, most = 0;
    int32_t k = 0;
    for (int32_t i = 0; i < length; i++)
        most = (uint32_t)(x[i] ^ flip) > most ? (uint32_t)(x[i] ^ flip) : most;
    for (int32_t i = 0; i < length; i++)
        sum += ((uint32_t)powers[(uint8_t)(most - (uint32_t)(x[i] ^ flip))] + 2048) >> 12;
    sum += sum == 0; /* not with the constants of the edit */
    while (k < 32 && sum >> k != 0)
        k++;
    inverse = 2 * (uint32_t)nnrti_mcu_reciprocal((int32_t)((sum << (32 - k)) - ((uint32_t)1 << 31)));
    for (int32_t i = 0; i < length; i++) {
        const uint32_t w = (uint32_t)powers[(uint8_t)(most - (uint32_t)(x[i] ^ flip))];
        const uint32_t share = (uint32_t)(((uint64_t)inverse * w + ((uint64_t)1 << 31)) >> 32);
        const uint32_t v = k > 28 ? 0 : (share + ((uint32_t)1 << (k + 2))) >> (k + 3);
        y[i] = (uint8_t)((int32_t)(v < 255 ? v : 255) + lo);
    }
}

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_softmax(const NNRT_McuSoftmax *a, const nnrt_view *args)
{
    for (int32_t i = 0; i < a->rows; i++) {
        NNRTI_MCU_BORDER(true, i, a->rows);
        nnrti_mcu_softmax_row((const uint8_t *)args[0].data + i * a->length, (const int32_t *)args[1].data, a->length,
                              a->xUnsigned != 0 ? 0 : 0x80, a->lo, (uint8_t *)args[2].data + i * a->length);
    }
    return NNRT_SUCCESS;
}

NNRTI_MCU_KERNEL(softmax, McuSoftmax, ((void)call, nnrti_mcu_softmax(a, args)))
NNRTI_MCU_CHECK(softmax, McuSoftmax,
                nnrti_mcu_arity(step, 1, 1, 1) && nnrti_mcu_holds(step, 0, nnrti_mcu_times(a->rows, a->length), 1) &&
                    nnrti_mcu_holds(step, 1, 256, 4) &&
                    nnrti_mcu_holds(step, 2, nnrti_mcu_times(a->rows, a->length), 1) && nnrti_mcu_small(a->lo, 65536))

/* A row of float32, with the bits of nnrt_softmax_f32: exp(x - max) is stored in y until the sum is known; y may be x. */
NNRTI_MCU_ONCE void nnrti_mcu_softmax_row_f32(const float *x, int32_t length, float *y)
{
    float most = x[0], sum = 0;
    for (int32_t i = 1; i < length; i++)
        most = x[i] > most ? x[i] : most;
    for (int32_t i = 0; i < length; i++) {
        y[i] = nnrt_expf(x[i] - most);
        sum += y[i];
    }
    for (int32_t i = 0; i < length; i++)
        y[i] /= sum;
}

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_softmax_f32(const NNRT_McuSoftmax *a, const nnrt_view *args)
{
    for (int32_t i = 0; i < a->rows; i++)
        nnrti_mcu_softmax_row_f32((const float *)args[0].data + i * a->length, a->length, (float *)args[1].data + i * a->length);
    return NNRT_SUCCESS;
}

NNRTI_MCU_KERNEL(softmax_f32, McuSoftmax, ((void)call, nnrti_mcu_softmax_f32(a, args)))
NNRTI_MCU_CHECK(softmax_f32, McuSoftmax,
                nnrti_mcu_arity(step, 1, 0, 1) && a->length > 0 &&
                    nnrti_mcu_holds(step, 0, nnrti_mcu_times(a->rows, a->length), 4) &&
                    nnrti_mcu_holds(step, 1, nnrti_mcu_times(a->rows, a->length), 4))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nbits */

/* MATMUL_NBITS with float32 around packed weights: inputs x, weight, scale, zero points and bias if there are any. The kernel
   is nnrt_matmul_nbits_f32, so that the bits are the reference device's; its views are made here from the attributes.
   Firmware that does not link this row does not link that kernel. */

/* A dense view of rows x columns x depth elements; depth 0: of two axes. */
NNRTI_MCU_ONCE void nnrti_mcu_dense_view(nnrt_view *v, NNRT_DataType type, int32_t rows, int32_t columns, int32_t depth)
{
    v->dataType = type;
    v->rank = depth > 0 ? 3 : 2;
    v->dims[0] = rows;
    v->dims[1] = columns;
    v->dims[2] = depth;
    v->strides[2] = 1;
    v->strides[1] = depth > 0 ? depth : 1;
    v->strides[0] = columns * v->strides[1];
}

/* Bytes of a block, blocks of a row, bytes of a row of packed zero points. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_nbits_bytes(const NNRT_McuNbits *a)
{
    return a->blockSize / 8 * a->bits;
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_nbits_blocks(const NNRT_McuNbits *a)
{
    return (a->columns - 1) / a->blockSize + 1;
}
NNRTI_MCU_INLINE int32_t nnrti_mcu_nbits_packed(const NNRT_McuNbits *a)
{
    return (nnrti_mcu_nbits_blocks(a) - 1) / (8 / a->bits) + 1;
}

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_nbits(const NNRT_McuNbits *a, nnrt_view *args)
{
    const int32_t blocks = nnrti_mcu_nbits_blocks(a);
    nnrt_view *const zero = a->zero != 0 ? &args[3] : NULL, *const bias =
                                                                a->bias != 0 ? &args[3 + (a->zero != 0)] : NULL;
    nnrt_view *const y = &args[3 + (a->zero != 0) + a->bias];
    NNRT_MatMulNBits attr;
    memset(&attr, 0, sizeof(attr));
    attr.columns = a->columns;
    attr.bits = a->bits;
    attr.blockSize = a->blockSize;
    nnrti_mcu_dense_view(&args[0], NNRT_DATA_TYPE_FLOAT32, a->rows, a->columns, 0);
    nnrti_mcu_dense_view(&args[1], NNRT_DATA_TYPE_UINT8, a->n, blocks, nnrti_mcu_nbits_bytes(a));
    nnrti_mcu_dense_view(&args[2], NNRT_DATA_TYPE_FLOAT32, a->n, blocks, 0);
    if (a->zero == 1)
        nnrti_mcu_dense_view(zero, NNRT_DATA_TYPE_UINT8, a->n, nnrti_mcu_nbits_packed(a), 0);
    else if (a->zero == 2)
        nnrti_mcu_dense_view(zero, NNRT_DATA_TYPE_FLOAT32, a->n, blocks, 0);
    if (bias != NULL)
        nnrti_mcu_dense_view(bias, NNRT_DATA_TYPE_FLOAT32, a->n, 1, 0);
    nnrti_mcu_dense_view(y, NNRT_DATA_TYPE_FLOAT32, a->rows, a->n, 0);
    return nnrt_matmul_nbits_f32(&attr, &args[0], &args[1], &args[2], zero, bias, y);
}
NNRTI_MCU_KERNEL(matmul_nbits, McuNbits, ((void)call, nnrti_mcu_nbits(a, args)))

/* blockSize: of the operator's rule, so that a block has whole bytes. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_nbits(const NNRT_McuNbits *a, const nnrt_mcu_checked *step)
{
    const uint32_t zeros = a->zero != 0, y = 3 + zeros + (a->bias != 0);
    int32_t all;
    if ((a->bits != 2 && a->bits != 4 && a->bits != 8) || a->blockSize < 16 || a->blockSize > 65536 ||
        a->blockSize % 16 != 0 || a->columns < 1 || a->columns > NNRTI_MCU_LIMIT || a->zero < 0 || a->zero > 2 ||
        a->bias < 0 || a->bias > 1 || !nnrti_mcu_arity(step, y, 0, 1))
        return false;
    all = nnrti_mcu_times(a->n, nnrti_mcu_nbits_blocks(a));
    return nnrti_mcu_holds(step, 0, nnrti_mcu_times(a->rows, a->columns), 4) &&
           nnrti_mcu_holds(step, 1, nnrti_mcu_times(all, nnrti_mcu_nbits_bytes(a)), 1) &&
           nnrti_mcu_holds(step, 2, all, 4) &&
           (a->zero != 1 || nnrti_mcu_holds(step, 3, nnrti_mcu_times(a->n, nnrti_mcu_nbits_packed(a)), 1)) &&
           (a->zero != 2 || nnrti_mcu_holds(step, 3, all, 4)) &&
           (a->bias == 0 || nnrti_mcu_holds(step, 3 + zeros, a->n, 4)) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_times(a->rows, a->n), 4);
}
NNRTI_MCU_CHECK(matmul_nbits, McuNbits, nnrti_mcu_check_nbits(a, step))

/* MATMUL_NBITS with x rounded to int8 (accuracyLevel 4), entries of 4 or 8 bits. A row of x is rounded once into scratch,
   instead of once for each result: a head of each block, then its integers as int16. Each word of them is a pair that
   SMLAD multiplies with two entries which a mask leaves of a word of weights: of eight entries of 4 bits those at 0 and 4, 1 and 5, 2
   and 6, 3 and 7; of four of 8 bits those at 0 and 2, 1 and 3. Sums of a block are integers, and the operations of float32 are
   the ones of nnrt_matmul_nbits_f32 in its order, so that the bits are the reference device's. */
typedef struct nnrti_mcu_nbits_head {
    float scale; /* NaN: the block has an Inf or NaN; 0: its results are 0 */
    int32_t sum; /* of the integers */
} nnrti_mcu_nbits_head;

/* Bytes of scratch for a row of x. */
NNRTI_MCU_INLINE int64_t nnrti_mcu_nbits_scratch(int32_t blocks, int32_t blockSize)
{
    return (int64_t)blocks * ((int64_t)sizeof(nnrti_mcu_nbits_head) + 2 * (int64_t)blockSize);
}

/* a * b, rounded: compilers may join it with an addition that follows, unless it is stored. */
NNRTI_MCU_INLINE float nnrti_mcu_nbits_product(float a, float b)
{
    volatile float product = a * b;
    return product;
}

/* The largest magnitude of count floats; negative if one of them is Inf or NaN. */
NNRTI_MCU_ONCE float nnrti_mcu_nbits_largest(const float *x, int32_t count)
{
    float largest = 0.0f;
    for (int32_t k = 0; k < count; k++) {
        const float size = fabsf(x[k]);
        if (!(size <= 3.402823466e+38f))
            return -1.0f;
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* Rounds count floats to a head and the words of a block, of which the integers from count on are 0. Adding 1.5 * 2^23
   rounds to an integer, to even, in the low bits. */
NNRTI_MCU_ONCE void nnrti_mcu_nbits_round(const float *x, int32_t count, int32_t blockSize, int32_t bits,
                                          nnrti_mcu_nbits_head *head, int32_t *words)
{
    const float largest = nnrti_mcu_nbits_largest(x, count);
    const float inverse = largest >= 1.5046327690525280e-36f ? 127.0f / largest : 0.0f; /* 2^-119: it is finite */
    const int32_t pairs = bits == 4 ? 4 : 2; /* in a word of weights */
    head->scale = largest < 0 ? (float)NAN : inverse > 0 ? largest / 127.0f : 0.0f;
    head->sum = 0;
    for (int32_t i = 0; i < blockSize / 2; i++)
        words[i] = 0;
    for (int32_t k = 0; k < count && inverse > 0; k++) {
        const float shifted = nnrti_mcu_nbits_product(x[k], inverse) + 12582912.0f;
        int32_t q, *const word = words + k / (2 * pairs) * pairs + k % pairs;
        memcpy(&q, &shifted, sizeof(q));
        q -= 0x4B400000;
        head->sum += q;
        *word |= k / pairs % 2 == 0 ? q & 0xffff : (int32_t)((uint32_t)q << 16);
    }
}

/* The sum of products of the integers of a block and of entries of 4 or 8 bits in `count` words. */
NNRTI_MCU_ONCE int32_t nnrti_mcu_nbits_dot4(const uint8_t *w, const int32_t *q, int32_t count)
{
    int32_t sum = 0;
    NNRTI_MCU_UNROLL(2)
    for (; count > 0; count--, w += 4, q += 4) {
        const uint32_t e = (uint32_t)nnrti_mcu_load(w);
        sum = nnrti_mcu_dot2((int32_t)(e & 0x000F000Fu), q[0], sum);
        sum = nnrti_mcu_dot2((int32_t)(e >> 4 & 0x000F000Fu), q[1], sum);
        sum = nnrti_mcu_dot2((int32_t)(e >> 8 & 0x000F000Fu), q[2], sum);
        sum = nnrti_mcu_dot2((int32_t)(e >> 12 & 0x000F000Fu), q[3], sum);
    }
    return sum;
}
NNRTI_MCU_ONCE int32_t nnrti_mcu_nbits_dot8(const uint8_t *w, const int32_t *q, int32_t count)
{
    int32_t sum = 0;
    NNRTI_MCU_UNROLL(4)
    for (; count > 0; count--, w += 4, q += 2) {
        const int32_t e = nnrti_mcu_load(w);
        sum = nnrti_mcu_dot2(nnrti_mcu_even(e, true), q[0], sum);
        sum = nnrti_mcu_dot2(nnrti_mcu_odd(e, true), q[1], sum);
    }
    return sum;
}

/* The zero point of block b of row n. */
NNRTI_MCU_INLINE float nnrti_mcu_nbits_zero(const NNRT_McuNbits *a, const void *zero, int32_t n, int32_t b)
{
    const uint8_t *const row = (const uint8_t *)zero + n * nnrti_mcu_nbits_packed(a);
    if (a->zero == 0)
        return (float)(1 << (a->bits - 1));
    if (a->zero == 2)
        return ((const float *)zero)[n * nnrti_mcu_nbits_blocks(a) + b];
    return (float)(a->bits == 8 ? row[b] : row[b / 2] >> b % 2 * 4 & 15);
}

/* One result of a row of x, whose heads and words are in scratch. */
NNRTI_MCU_INLINE float nnrti_mcu_nbits_result(const NNRT_McuNbits *a, nnrt_view *args, int32_t n, const void *scratch)
{
    const int32_t blocks = nnrti_mcu_nbits_blocks(a), bytes = nnrti_mcu_nbits_bytes(a);
    const uint8_t *w = (const uint8_t *)args[1].data + (ptrdiff_t)n * blocks * bytes;
    const float *const scales = (const float *)args[2].data + (ptrdiff_t)n * blocks;
    const nnrti_mcu_nbits_head *const heads = (const nnrti_mcu_nbits_head *)scratch;
    const int32_t *q = (const int32_t *)(const void *)(heads + blocks);
    float sum = a->bias != 0 ? ((const float *)args[3 + (a->zero != 0)].data)[n] : 0.0f;
    for (int32_t b = 0; b < blocks; b++, w += bytes, q += a->blockSize / 2) {
        float block = 0.0f;
        if (heads[b].scale != 0) {
            const int32_t products =
                a->bits == 4 ? nnrti_mcu_nbits_dot4(w, q, bytes / 4) : nnrti_mcu_nbits_dot8(w, q, bytes / 4);
            const float zero = nnrti_mcu_nbits_zero(a, a->zero != 0 ? args[3].data : NULL, n, b);
            block = heads[b].scale * ((float)products - nnrti_mcu_nbits_product(zero, (float)heads[b].sum));
        }
        sum += nnrti_mcu_nbits_product(scales[b], block);
    }
    return sum;
}

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_nbits_int8(const NNRT_McuNbits *a, nnrt_view *args, const nnrt_call *call)
{
    const int32_t blocks = nnrti_mcu_nbits_blocks(a);
    nnrti_mcu_nbits_head *const heads = (nnrti_mcu_nbits_head *)call->scratch;
    int32_t *const words = (int32_t *)(void *)(heads + blocks);
    float *y = (float *)args[3 + (a->zero != 0) + a->bias].data;
    for (int32_t row = 0; row < a->rows; row++, y += a->n) {
        const float *const x = (const float *)args[0].data + (ptrdiff_t)row * a->columns;
        for (int32_t b = 0; b < blocks; b++) {
            const int32_t first = b * a->blockSize, left = a->columns - first;
            nnrti_mcu_nbits_round(x + first, left < a->blockSize ? left : a->blockSize, a->blockSize, a->bits, &heads[b],
                                  words + first / 2);
        }
        for (int32_t n = 0; n < a->n; n++)
            y[n] = nnrti_mcu_nbits_result(a, args, n, heads);
    }
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(matmul_nbits_int8, McuNbits, nnrti_mcu_nbits_int8(a, args, call))
NNRTI_MCU_CHECK(matmul_nbits_int8, McuNbits,
                nnrti_mcu_check_nbits(a, step) && a->bits != 2 &&
                    nnrti_mcu_scratch(step, nnrti_mcu_nbits_scratch(nnrti_mcu_nbits_blocks(a), a->blockSize)))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>float32 */

/* float32 kernels, for processors with an FPU that has 32 registers and VFMA. One VLDM loads up to eight registers, so
   a tile of two pixels and eight channels takes 16 VFMA and one and a half loads per element of the window.

   Sums start with the bias and run over the rows, columns and channels of the window in ascending order, taps outside x
   skipped, as on the reference device; each product and its addition are rounded once (fused multiply-add), on the
   desktop too. No expression here adds to a product other than by nnrti_mcu_fma, so contraction changes no bit.

   Packed weights: per group, per panel of eight channels (the last one: of four, if no more are left) the biases, then
   the weights of all channels per element of the window. */

#if defined(__arm__) && defined(__ARM_FEATURE_FMA) && defined(__GNUC__)
/* A variable in register `number`, an instruction that loads a list of registers and moves `at` past them, and one that
   stores them. */
#define NNRTI_MCU_REGISTER(name, number) register float name __asm__(number)
#define NNRTI_MCU_LOAD4(at, list, a, b, c, d)                                                                          \
    __asm__("vldmia %0!, " list : "+r"(at), "=t"(a), "=t"(b), "=t"(c), "=t"(d) : "m"(*(const float(*)[4])(at)))
#define NNRTI_MCU_LOAD8(at, list, a, b, c, d, e, f, g, h)                                                              \
    __asm__("vldmia %0!, " list                                                                                        \
            : "+r"(at), "=t"(a), "=t"(b), "=t"(c), "=t"(d), "=t"(e), "=t"(f), "=t"(g), "=t"(h)                         \
            : "m"(*(const float(*)[8])(at)))
#define NNRTI_MCU_STORE4(at, list, a, b, c, d)                                                                         \
    __asm__("vstmia %1, " list : "=m"(*(float(*)[4])(at)) : "r"(at), "t"(a), "t"(b), "t"(c), "t"(d))
#define NNRTI_MCU_STORE8(at, list, a, b, c, d, e, f, g, h)                                                             \
    __asm__("vstmia %1, " list                                                                                         \
            : "=m"(*(float(*)[8])(at))                                                                                 \
            : "r"(at), "t"(a), "t"(b), "t"(c), "t"(d), "t"(e), "t"(f), "t"(g), "t"(h))
#else
#define NNRTI_MCU_REGISTER(name, number) float name
#define NNRTI_MCU_LOAD4(at, list, a, b, c, d)                                                                          \
    ((a) = (at)[0], (b) = (at)[1], (c) = (at)[2], (d) = (at)[3], (at) += 4)
#define NNRTI_MCU_LOAD8(at, list, a, b, c, d, e, f, g, h)                                                              \
    (NNRTI_MCU_LOAD4(at, list, a, b, c, d), NNRTI_MCU_LOAD4(at, list, e, f, g, h))
#define NNRTI_MCU_STORE4(at, list, a, b, c, d) ((at)[0] = (a), (at)[1] = (b), (at)[2] = (c), (at)[3] = (d))
#define NNRTI_MCU_STORE8(at, list, a, b, c, d, e, f, g, h)                                                             \
    (NNRTI_MCU_STORE4(at, list, a, b, c, d), (at)[4] = (e), (at)[5] = (f), (at)[6] = (g), (at)[7] = (h))
#endif

/* sum + x * w, rounded once. Without an instruction for it: the product is exact in double; the sum is rounded to odd
   (if inexact, to the neighbor whose last bit is 1), after which rounding to float is rounding the exact sum. */
NNRTI_MCU_INLINE float nnrti_mcu_fma(float x, float w, float sum)
{
#if defined(__arm__) && defined(__ARM_FEATURE_FMA) && defined(__clang__)
    __asm__("vfma.f32 %0, %1, %2" : "+t"(sum) : "t"(x), "t"(w)); /* its builtin calls fmaf, which may set errno */
    return sum;
#elif (defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA)) && defined(__GNUC__)
    return __builtin_fmaf(x, w, sum);
#else
    const double product = (double)x * (double)w, addend = (double)sum;
    double y = product + addend, rest = y - product;
    uint64_t bits;
    rest = (product - (y - rest)) + (addend - rest);
    if (rest > 0 || rest < 0) {
        memcpy(&bits, &y, sizeof(bits));
        if ((bits & 1) == 0)
            bits = (rest > 0) == (y > 0) ? bits + 1 : bits - 1;
        memcpy(&y, &bits, sizeof(y));
    }
    return (float)y;
#endif
}

/* ---- activation ---- */

/* y = y < 0 ? 0 : y > hi ? hi : y for four elements; NaN stays. bounded: hi counts. */
NNRTI_MCU_INLINE void nnrti_mcu_clamp4(float *y, float hi, const bool bounded)
{
    NNRTI_MCU_REGISTER(a, "s0");
    NNRTI_MCU_REGISTER(b, "s1");
    NNRTI_MCU_REGISTER(c, "s2");
    NNRTI_MCU_REGISTER(d, "s3");
    const float *from = y;
    NNRTI_MCU_LOAD4(from, "{s0-s3}", a, b, c, d);
    a = a <= 0 ? 0.0f : a;
    b = b <= 0 ? 0.0f : b;
    c = c <= 0 ? 0.0f : c;
    d = d <= 0 ? 0.0f : d;
    if (bounded) {
        a = a > hi ? hi : a;
        b = b > hi ? hi : b;
        c = c > hi ? hi : c;
        d = d > hi ? hi : d;
    }
    NNRTI_MCU_STORE4(y, "{s0-s3}", a, b, c, d);
}

NNRTI_MCU_INLINE void nnrti_mcu_clamp(float *y, int32_t count, int32_t step, float hi, const bool bounded)
{
    for (; step == 1 && count >= 4; count -= 4, y += 4)
        nnrti_mcu_clamp4(y, hi, bounded);
    for (; count > 0; count--, y += step) {
        *y = *y <= 0 ? 0.0f : *y;
        *y = bounded && *y > hi ? hi : *y;
    }
}

NNRTI_MCU_ONCE void nnrti_mcu_relu(float *y, int32_t count, int32_t step)
{
    nnrti_mcu_clamp(y, count, step, 0, false);
}

NNRTI_MCU_ONCE void nnrti_mcu_relu_to(float *y, int32_t count, int32_t step, float hi)
{
    nnrti_mcu_clamp(y, count, step, hi, true);
}

/* Applies an activation to count elements of y; not any: RELU, RELU6, RELU1 or none. */
NNRTI_MCU_INLINE void nnrti_mcu_activate(float *y, int32_t count, int32_t step, int32_t activation, const bool any)
{
    if (activation == NNRT_ACTIVATION_TYPE_RELU)
        nnrti_mcu_relu(y, count, step);
    else if (activation == NNRT_ACTIVATION_TYPE_RELU6 || activation == NNRT_ACTIVATION_TYPE_RELU1)
        nnrti_mcu_relu_to(y, count, step, activation == NNRT_ACTIVATION_TYPE_RELU6 ? 6.0f : 1.0f);
    else if (any)
        for (int32_t i = 0; i < count; i++)
            y[i * step] = nnrt_activate(y[i * step], (NNRT_ActivationType)activation);
}

/* Applies the activation to a row of y, q pixels of all groups. */
NNRTI_MCU_INLINE void nnrti_mcu_activate_row(const NNRT_McuWindowF32 *a, float *y, const bool any)
{
    const int32_t channels = a->o * a->groups;
    if (a->activation == NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        return;
    if (a->yc == 1 && a->yw == channels) {
        nnrti_mcu_activate(y, a->q * channels, 1, a->activation, any);
        return;
    }
    for (int32_t c = 0; c < channels; c++)
        nnrti_mcu_activate(y + c * a->yc, a->q, a->yw, a->activation, any);
}

/* ---- windows ---- */

/* The taps first .. end - 1 of a window along one axis that are inside x; none: first = end. */
typedef struct nnrti_mcu_taps {
    int32_t first, end;
} nnrti_mcu_taps;

/* at: the place of tap 0 in x; step: between taps; size: of x. */
NNRTI_MCU_INLINE nnrti_mcu_taps nnrti_mcu_taps_inside(int32_t at, int32_t taps, int32_t step, int32_t size)
{
    nnrti_mcu_taps t = {0, taps};
    if (at < 0)
        t.first = (step - 1 - at) / step;
    if (at + (taps - 1) * step >= size)
        t.end = at >= size ? 0 : (size - at + step - 1) / step;
    if (t.first > t.end)
        t.first = t.end;
    return t;
}

/* Windows of adjacent pixels of y, with the same taps inside x. Elements are counted; weights, too, per channel. */
typedef struct nnrti_mcu_strip {
    const float *x;        /* the first window's first element */
    float *y;              /* the first pixel */
    int32_t times;         /* convolution: pairs of pixels */
    int32_t xStep, yStep;  /* convolution: from pixel to pixel */
    int32_t rows, rowStep; /* rows of a window, and elements of x from the end of one to the next */
    int32_t count;         /* adjacent elements of a row; depthwise and pools: taps */
    int32_t tapStep;       /* depthwise and pools: elements of x between taps */
    int32_t before, skip;  /* weights before the first row, and between rows */
    int32_t window;        /* weights of a complete window */
    int32_t o, step;       /* depthwise and pools: channels of y; elements between channels */
} nnrti_mcu_strip;

/* ---- convolution ---- */

/* The registers of a tile: weights w0 .. w7 of one element of the window, elements c0 .. c3 and d0 .. d3 of the windows
   of pixels 0 and 1, and their sums a0 .. a7 and b0 .. b7. */
#define NNRTI_MCU_REGISTERS_W                                                                                          \
    NNRTI_MCU_REGISTER(w0, "s0");                                                                                      \
    NNRTI_MCU_REGISTER(w1, "s1");                                                                                      \
    NNRTI_MCU_REGISTER(w2, "s2");                                                                                      \
    NNRTI_MCU_REGISTER(w3, "s3");                                                                                      \
    NNRTI_MCU_REGISTER(w4, "s4");                                                                                      \
    NNRTI_MCU_REGISTER(w5, "s5");                                                                                      \
    NNRTI_MCU_REGISTER(w6, "s6");                                                                                      \
    NNRTI_MCU_REGISTER(w7, "s7")
#define NNRTI_MCU_REGISTERS_A                                                                                          \
    NNRTI_MCU_REGISTER(a0, "s16");                                                                                     \
    NNRTI_MCU_REGISTER(a1, "s17");                                                                                     \
    NNRTI_MCU_REGISTER(a2, "s18");                                                                                     \
    NNRTI_MCU_REGISTER(a3, "s19");                                                                                     \
    NNRTI_MCU_REGISTER(a4, "s20");                                                                                     \
    NNRTI_MCU_REGISTER(a5, "s21");                                                                                     \
    NNRTI_MCU_REGISTER(a6, "s22");                                                                                     \
    NNRTI_MCU_REGISTER(a7, "s23")
#define NNRTI_MCU_REGISTERS_B                                                                                          \
    NNRTI_MCU_REGISTER(b0, "s24");                                                                                     \
    NNRTI_MCU_REGISTER(b1, "s25");                                                                                     \
    NNRTI_MCU_REGISTER(b2, "s26");                                                                                     \
    NNRTI_MCU_REGISTER(b3, "s27");                                                                                     \
    NNRTI_MCU_REGISTER(b4, "s28");                                                                                     \
    NNRTI_MCU_REGISTER(b5, "s29");                                                                                     \
    NNRTI_MCU_REGISTER(b6, "s30");                                                                                     \
    NNRTI_MCU_REGISTER(b7, "s31")
#define NNRTI_MCU_REGISTERS_X                                                                                          \
    NNRTI_MCU_REGISTER(c0, "s8");                                                                                      \
    NNRTI_MCU_REGISTER(c1, "s9");                                                                                      \
    NNRTI_MCU_REGISTER(c2, "s10");                                                                                     \
    NNRTI_MCU_REGISTER(c3, "s11");                                                                                     \
    NNRTI_MCU_REGISTER(d0, "s12");                                                                                     \
    NNRTI_MCU_REGISTER(d1, "s13");                                                                                     \
    NNRTI_MCU_REGISTER(d2, "s14");                                                                                     \
    NNRTI_MCU_REGISTER(d3, "s15")
#define NNRTI_MCU_LOAD_W(at) NNRTI_MCU_LOAD8(at, "{s0-s7}", w0, w1, w2, w3, w4, w5, w6, w7)
#define NNRTI_MCU_LOAD_A(at) NNRTI_MCU_LOAD8(at, "{s16-s23}", a0, a1, a2, a3, a4, a5, a6, a7)
#define NNRTI_MCU_LOAD_B(at) NNRTI_MCU_LOAD8(at, "{s24-s31}", b0, b1, b2, b3, b4, b5, b6, b7)
#define NNRTI_MCU_STORE_A(at) NNRTI_MCU_STORE8(at, "{s16-s23}", a0, a1, a2, a3, a4, a5, a6, a7)
#define NNRTI_MCU_STORE_B(at) NNRTI_MCU_STORE8(at, "{s24-s31}", b0, b1, b2, b3, b4, b5, b6, b7)
#if defined(__arm__) && defined(__ARM_FEATURE_FMA) && defined(__GNUC__)
/* As one instruction of asm: gcc 12 allocates registers for the builtin function such that it moves sums around. */
#define NNRTI_MCU_FMA(sum, x, w) __asm__("vfma.f32 %0, %1, %2" : "+t"(sum) : "t"(x), "t"(w))
#else
#define NNRTI_MCU_FMA(sum, x, w) ((sum) = nnrti_mcu_fma(x, w, sum))
#endif
#define NNRTI_MCU_FMA4(a, x)                                                                                           \
    do {                                                                                                               \
        NNRTI_MCU_FMA(a##0, x, w0);                                                                                    \
        NNRTI_MCU_FMA(a##1, x, w1);                                                                                    \
        NNRTI_MCU_FMA(a##2, x, w2);                                                                                    \
        NNRTI_MCU_FMA(a##3, x, w3);                                                                                    \
    } while (0)
#define NNRTI_MCU_FMA8(a, x)                                                                                           \
    do {                                                                                                               \
        NNRTI_MCU_FMA4(a, x);                                                                                          \
        NNRTI_MCU_FMA(a##4, x, w4);                                                                                    \
        NNRTI_MCU_FMA(a##5, x, w5);                                                                                    \
        NNRTI_MCU_FMA(a##6, x, w6);                                                                                    \
        NNRTI_MCU_FMA(a##7, x, w7);                                                                                    \
    } while (0)
/* Multiplies element x of window 0, and z of window 1, by the weights at `at`. */
#define NNRTI_MCU_TERM(x, z)                                                                                           \
    do {                                                                                                               \
        if (width == 8) {                                                                                              \
            NNRTI_MCU_LOAD_W(at);                                                                                      \
            NNRTI_MCU_FMA8(a, x);                                                                                      \
            if (pixels > 1)                                                                                            \
                NNRTI_MCU_FMA8(b, z);                                                                                  \
        } else {                                                                                                       \
            NNRTI_MCU_LOAD4(at, "{s0-s3}", w0, w1, w2, w3);                                                            \
            NNRTI_MCU_FMA4(a, x);                                                                                      \
            if (pixels > 1)                                                                                            \
                NNRTI_MCU_FMA4(b, z);                                                                                  \
        }                                                                                                              \
    } while (0)

/* Stores `width` sums, or as many as there are channels. */
NNRTI_MCU_INLINE void nnrti_mcu_store_rest(const float *sums, float *y, int32_t step, int32_t count, const int width)
{
    for (int32_t i = 0; i < width && i < count; i++)
        y[i * step] = sums[i];
}

/* GEMM microkernel: panels of `width` channels, the channels first .. first + count - 1 of one or two pixels at a time.
   w: the first panel. */
NNRTI_MCU_INLINE void nnrti_mcu_gemm_f32(const nnrti_mcu_strip *s, const float *w, int32_t first, int32_t count,
                                         const int width, const int pixels)
{
    NNRTI_MCU_REGISTERS_W;
    NNRTI_MCU_REGISTERS_X;
    NNRTI_MCU_REGISTERS_A;
    NNRTI_MCU_REGISTERS_B;
    float sums[8];
    for (; count > 0; count -= width, first += width, w += width * (1 + s->window)) {
        const float *from = s->x;
        float *y = s->y + first * s->step;
        NNRTI_MCU_BORDER(pixels == 1 && first > 0 && s->o > 0, first, s->o);
        for (int32_t times = pixels > 1 ? s->times : 1; times > 0; times--) {
            const float *x0 = from, *x1 = pixels > 1 ? from + s->xStep : from, *at = w;
            NNRTI_MCU_LOAD_A(at);
            if (pixels > 1) {
                at = w;
                NNRTI_MCU_LOAD_B(at);
            }
            at = w + width * (1 + s->before);
            for (int32_t rows = s->rows; rows > 0; rows--) {
                int32_t k = s->count;
                for (; k >= 4; k -= 4) {
                    NNRTI_MCU_LOAD4(x0, "{s8-s11}", c0, c1, c2, c3);
                    if (pixels > 1)
                        NNRTI_MCU_LOAD4(x1, "{s12-s15}", d0, d1, d2, d3);
                    NNRTI_MCU_TERM(c0, d0);
                    NNRTI_MCU_TERM(c1, d1);
                    NNRTI_MCU_TERM(c2, d2);
                    NNRTI_MCU_TERM(c3, d3);
                }
                for (; k > 0; k--) {
                    c0 = *x0++;
                    d0 = pixels > 1 ? *x1++ : 0;
                    NNRTI_MCU_TERM(c0, d0);
                }
                x0 += s->rowStep;
                x1 += pixels > 1 ? s->rowStep : 0;
                at += width * s->skip;
            }
            if (s->step == 1 && count >= 8) {
                NNRTI_MCU_STORE_A(y);
                if (pixels > 1)
                    NNRTI_MCU_STORE_B(y + s->yStep);
            } else {
                NNRTI_MCU_STORE_A(sums);
                nnrti_mcu_store_rest(sums, y, s->step, count, width);
                if (pixels > 1) {
                    NNRTI_MCU_STORE_B(sums);
                    nnrti_mcu_store_rest(sums, y + s->yStep, s->step, count, width);
                }
            }
            from += pixels * s->xStep;
            y += pixels * s->yStep;
        }
    }
}

/* Generates the microkernel for a number of channels and pixels. */
#define NNRTI_MCU_GEMM_F32(width, pixels)                                                                              \
    NNRTI_MCU_ONCE void nnrti_mcu_gemm_f32_##width##x##pixels(const nnrti_mcu_strip *s, const float *w, int32_t first, \
                                                              int32_t count)                                           \
    {                                                                                                                  \
        nnrti_mcu_gemm_f32(s, w, first, count, width, pixels);                                                         \
    }
NNRTI_MCU_GEMM_F32(8, 1)
NNRTI_MCU_GEMM_F32(8, 2)
NNRTI_MCU_GEMM_F32(4, 1)
NNRTI_MCU_GEMM_F32(4, 2)

/* The channels of a group that panels of eight cover; one panel of four covers the rest. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_eights(int32_t channels)
{
    return channels % 8 > 4 ? (channels + 7) / 8 * 8 : channels / 8 * 8;
}

/* All channels of the pixels of a strip. w: the packed weights of the group. */
NNRTI_MCU_INLINE void nnrti_mcu_conv_strip(const NNRT_McuWindowF32 *a, const nnrti_mcu_strip *s, const float *w,
                                           const int pixels)
{
    const int32_t eights = nnrti_mcu_eights(a->o), rest = a->o - eights;
    const float *last = w + eights * (1 + a->kh * a->kw * a->c);
    if (eights > 0 && pixels > 1)
        nnrti_mcu_gemm_f32_8x2(s, w, 0, a->o < eights ? a->o : eights);
    else if (eights > 0)
        nnrti_mcu_gemm_f32_8x1(s, w, 0, a->o < eights ? a->o : eights);
    if (rest > 0 && pixels > 1)
        nnrti_mcu_gemm_f32_4x2(s, last, eights, rest);
    else if (rest > 0)
        nnrti_mcu_gemm_f32_4x1(s, last, eights, rest);
}

/* Whether the elements of a window's row are adjacent in x. */
NNRTI_MCU_INLINE bool nnrti_mcu_is_dense(const NNRT_McuWindowF32 *a)
{
    return (a->c == 1 || a->xc == 1) && (a->kw == 1 || (a->dw == 1 && a->xw == a->c));
}

/* Copies the part of a window that is inside x: so many rows and columns, x: the first element. */
NNRTI_MCU_INLINE void nnrti_mcu_window_f32(const NNRT_McuWindowF32 *a, const float *x, int32_t rows, int32_t columns,
                                           float *to)
{
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++)
            for (int32_t k = 0; k < a->c; k++)
                *to++ = x[i * a->dh * a->xh + j * a->dw * a->xw + k * a->xc];
}

/* The first elements of the window whose tap 0 is at row h and column w of x: in place, or copied to room + at. */
NNRTI_MCU_INLINE const float *nnrti_mcu_window_of(const NNRT_McuWindowF32 *a, const float *x, int32_t h, int32_t w,
                                                  nnrti_mcu_taps rows, nnrti_mcu_taps columns, float *room, int32_t at)
{
    if (rows.first == rows.end || columns.first == columns.end)
        return x;
    x += (h + rows.first * a->dh) * a->xh + (w + columns.first * a->dw) * a->xw;
    if (nnrti_mcu_is_dense(a))
        return x;
    nnrti_mcu_window_f32(a, x, rows.end - rows.first, columns.end - columns.first, room + at);
    return room + at;
}

/* A row of y: pixels in pairs where their windows have all columns inside x. Windows in place: all pairs at once. */
NNRTI_MCU_INLINE void nnrti_mcu_conv_row(const NNRT_McuWindowF32 *a, const float *x, const float *w, float *y,
                                         int32_t h, float *scratch)
{
    const bool dense = nnrti_mcu_is_dense(a);
    const int32_t size = a->kw * a->c;
    const nnrti_mcu_taps rows = nnrti_mcu_taps_inside(h, a->kh, a->dh, a->h);
    const nnrti_mcu_taps inside = nnrti_mcu_taps_inside(-a->left, a->q, a->sw, a->w - (a->kw - 1) * a->dw);
    nnrti_mcu_strip s;
    s.rows = rows.end - rows.first;
    s.window = a->kh * size;
    s.step = a->yc;
    s.yStep = a->yw;
#ifdef NNRT_ROW
    s.o = a->groups * a->n * a->p * a->q == 1 ? a->o : 0; /* which the microkernels report */
#endif
    for (int32_t q = 0; q < a->q;) {
        const bool pair = q >= inside.first && q + 1 < inside.end;
        const int32_t column = q * a->sw - a->left;
        const nnrti_mcu_taps columns = nnrti_mcu_taps_inside(column, a->kw, a->dw, a->w);
        s.count = (columns.end - columns.first) * a->c;
        s.skip = size - s.count;
        s.before = rows.first * size + columns.first * a->c;
        s.rowStep = dense ? a->dh * a->xh - s.count : 0;
        s.xStep = dense ? a->sw * a->xw : s.rows * s.count;
        s.times = dense && pair ? (inside.end - q) / 2 : 1;
        s.x = nnrti_mcu_window_of(a, x, h, column, rows, columns, scratch, 0);
        if (!dense && pair)
            (void)nnrti_mcu_window_of(a, x, h, column + a->sw, rows, columns, scratch, s.xStep);
        s.y = y + q * a->yw;
        if (pair)
            nnrti_mcu_conv_strip(a, &s, w, 2);
        else
            nnrti_mcu_conv_strip(a, &s, w, 1);
        q += pair ? 2 * s.times : 1;
    }
}

/* The convolution; any: with any activation. Scratch: two windows, unless their rows are adjacent in x. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_conv_f32(const NNRT_McuWindowF32 *a, nnrt_view *args, nnrt_call *call,
                                                    const bool any)
{
    const int32_t eights = nnrti_mcu_eights(a->o), channels = a->o > eights ? eights + 4 : eights;
    const float *w = (const float *)args[1].data;
    for (int32_t g = 0; g < a->groups; g++, w += channels * (1 + a->kh * a->kw * a->c))
        for (int32_t n = 0; n < a->n; n++)
            for (int32_t p = 0; p < a->p; p++) {
                float *y = (float *)args[2].data + (n * a->yn + p * a->yh);
                NNRTI_MCU_BORDER(true, (g * a->n + n) * a->p + p, a->groups * a->n * a->p);
                nnrti_mcu_conv_row(a, (const float *)args[0].data + (n * a->xn + g * a->c * a->xc), w,
                                   y + g * a->o * a->yc, p * a->sh - a->top, (float *)call->scratch);
                if (g == a->groups - 1)
                    nnrti_mcu_activate_row(a, y, any);
            }
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(conv_f32, McuWindowF32, nnrti_mcu_conv_f32(a, args, call, false))
NNRTI_MCU_KERNEL(conv_any_f32, McuWindowF32, nnrti_mcu_conv_f32(a, args, call, true))

/* ---- depthwise convolution and pools: channels by themselves ---- */

enum { NNRTI_MCU_DEPTHWISE_F32, NNRTI_MCU_MAX_F32, NNRTI_MCU_AVERAGE_F32 };

/* Element x of a window joins the sum or maximum y. NaN is largest. */
NNRTI_MCU_INLINE float nnrti_mcu_join_f32(float y, float x, float w, const int op)
{
    return op == NNRTI_MCU_DEPTHWISE_F32 ? nnrti_mcu_fma(x, w, y)
           : op == NNRTI_MCU_AVERAGE_F32 ? y + x
           : x > y || x != x             ? x
                                         : y;
}

NNRTI_MCU_INLINE float nnrti_mcu_start(const int op)
{
    return op == NNRTI_MCU_MAX_F32 ? -INFINITY : 0.0f;
}

#define NNRTI_MCU_REGISTERS_X8                                                                                         \
    NNRTI_MCU_REGISTER(x0, "s8");                                                                                      \
    NNRTI_MCU_REGISTER(x1, "s9");                                                                                      \
    NNRTI_MCU_REGISTER(x2, "s10");                                                                                     \
    NNRTI_MCU_REGISTER(x3, "s11");                                                                                     \
    NNRTI_MCU_REGISTER(x4, "s12");                                                                                     \
    NNRTI_MCU_REGISTER(x5, "s13");                                                                                     \
    NNRTI_MCU_REGISTER(x6, "s14");                                                                                     \
    NNRTI_MCU_REGISTER(x7, "s15")
#define NNRTI_MCU_JOIN(i)                                                                                              \
    do {                                                                                                               \
        if (op == NNRTI_MCU_DEPTHWISE_F32)                                                                             \
            NNRTI_MCU_FMA(a##i, x##i, w##i);                                                                           \
        else                                                                                                           \
            a##i = nnrti_mcu_join_f32(a##i, x##i, 0, op);                                                              \
    } while (0)
/* One tap of eight channels. */
#define NNRTI_MCU_TAP                                                                                                  \
    do {                                                                                                               \
        const float *from = x;                                                                                         \
        NNRTI_MCU_LOAD8(from, "{s8-s15}", x0, x1, x2, x3, x4, x5, x6, x7);                                             \
        if (op == NNRTI_MCU_DEPTHWISE_F32)                                                                             \
            NNRTI_MCU_LOAD_W(w);                                                                                       \
        x += tapStep;                                                                                                  \
        NNRTI_MCU_JOIN(0);                                                                                             \
        NNRTI_MCU_JOIN(1);                                                                                             \
        NNRTI_MCU_JOIN(2);                                                                                             \
        NNRTI_MCU_JOIN(3);                                                                                             \
        NNRTI_MCU_JOIN(4);                                                                                             \
        NNRTI_MCU_JOIN(5);                                                                                             \
        NNRTI_MCU_JOIN(6);                                                                                             \
        NNRTI_MCU_JOIN(7);                                                                                             \
    } while (0)

/* All channels of a pixel in panels of eight, of which the last one ends with the last channel, so that some channels
   are computed twice. w: biases and weights. Rows of three taps are unrolled. */
NNRTI_MCU_INLINE void nnrti_mcu_channels8(const nnrti_mcu_strip *s, const float *w, const int op)
{
    NNRTI_MCU_REGISTERS_W;
    NNRTI_MCU_REGISTERS_X8;
    NNRTI_MCU_REGISTERS_A;
    const bool depthwise = op == NNRTI_MCU_DEPTHWISE_F32;
    const int32_t count = s->count, tapStep = s->tapStep, rowStep = s->rowStep;
    const int32_t before = depthwise ? 8 * s->before : 0, skip = depthwise ? 8 * s->skip : 0;
    const int32_t after = depthwise ? 8 * (s->window - s->before - s->rows * (s->count + s->skip)) : 0;
    const float *first = s->x;
    float *y = s->y;
    int32_t left = s->o;
    w0 = w1 = w2 = w3 = w4 = w5 = w6 = w7 = 0;
    for (;;) {
        const float *x = first;
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = nnrti_mcu_start(op);
        if (depthwise)
            NNRTI_MCU_LOAD_A(w);
        w += before;
        if (depthwise && count == 3)
            for (int32_t i = s->rows; i > 0; i--, x += rowStep, w += skip) {
                NNRTI_MCU_TAP;
                NNRTI_MCU_TAP;
                NNRTI_MCU_TAP;
            }
        else
            for (int32_t i = s->rows; i > 0; i--, x += rowStep, w += skip)
                for (int32_t j = count; j > 0; j--)
                    NNRTI_MCU_TAP;
        if (op == NNRTI_MCU_AVERAGE_F32) {
            w0 = (float)(s->rows * count);
            a0 /= w0, a1 /= w0, a2 /= w0, a3 /= w0, a4 /= w0, a5 /= w0, a6 /= w0, a7 /= w0;
        }
        NNRTI_MCU_STORE_A(y);
        if ((left -= 8) <= 0)
            return;
        w += after;
        first += left < 8 ? left : 8;
        y += left < 8 ? left : 8;
    }
}

/* One channel of a pixel. step: between weights, whose bias is *w. */
NNRTI_MCU_INLINE float nnrti_mcu_channel(const nnrti_mcu_strip *s, const float *x, const float *w, int32_t step,
                                         const int op)
{
    float y = nnrti_mcu_start(op);
    if (op == NNRTI_MCU_DEPTHWISE_F32) {
        y = *w;
        w += step * (1 + s->before);
    }
    for (int32_t i = 0; i < s->rows; i++) {
        for (int32_t j = 0; j < s->count; j++, x += s->tapStep) {
            y = nnrti_mcu_join_f32(y, *x, op == NNRTI_MCU_DEPTHWISE_F32 ? *w : 0, op);
            w += op == NNRTI_MCU_DEPTHWISE_F32 ? step : 0;
        }
        x += s->rowStep;
        w += op == NNRTI_MCU_DEPTHWISE_F32 ? step * s->skip : 0;
    }
    return op == NNRTI_MCU_AVERAGE_F32 ? y / (float)(s->rows * s->count) : y;
}

/* Whether a pixel's channels are computed in panels: they are adjacent in x and y, and at least eight. */
NNRTI_MCU_INLINE bool nnrti_mcu_has_panels(int32_t xc, int32_t yc, int32_t channels)
{
    return xc == 1 && yc == 1 && channels >= 8;
}

/* All channels of a pixel: in panels, or one by one (step: between them). */
NNRTI_MCU_INLINE void nnrti_mcu_channels_f32(const nnrti_mcu_strip *s, const float *w, int32_t step, const int op)
{
    if (nnrti_mcu_has_panels(step, s->step, s->o)) {
        nnrti_mcu_channels8(s, w, op);
        return;
    }
    for (int32_t c = 0; c < s->o; c++)
        s->y[c * s->step] =
            nnrti_mcu_channel(s, s->x + c * step, op == NNRTI_MCU_DEPTHWISE_F32 ? w + c : w, s->o, op);
}

typedef void (*nnrti_mcu_pixel_f32)(const nnrti_mcu_strip *s, const float *w, int32_t step);

/* All pixels. pixel: the microkernel; any: with any activation. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_pixels_f32(const NNRT_McuWindowF32 *a, nnrt_view *args, const float *w,
                                                      float *y, nnrti_mcu_pixel_f32 pixel, const bool any)
{
    nnrti_mcu_strip s;
    s.window = a->kh * a->kw;
    s.tapStep = a->dw * a->xw;
    s.o = a->groups;
    s.step = a->yc;
    for (int32_t n = 0; n < a->n; n++)
        for (int32_t p = 0; p < a->p; p++) {
            const int32_t h = p * a->sh - a->top;
            const nnrti_mcu_taps rows = nnrti_mcu_taps_inside(h, a->kh, a->dh, a->h);
            float *row = y + (n * a->yn + p * a->yh);
            NNRTI_MCU_BORDER(true, n * a->p + p, a->n * a->p);
            for (int32_t q = 0; q < a->q; q++) {
                const int32_t column = q * a->sw - a->left;
                const nnrti_mcu_taps columns = nnrti_mcu_taps_inside(column, a->kw, a->dw, a->w);
                s.x = (const float *)args[0].data + (n * a->xn + (h + rows.first * a->dh) * a->xh +
                                                        (column + columns.first * a->dw) * a->xw);
                s.y = row + q * a->yw;
                s.rows = rows.end - rows.first;
                s.count = columns.end - columns.first;
                s.before = rows.first * a->kw + columns.first;
                s.skip = a->kw - s.count;
                s.rowStep = a->dh * a->xh - s.count * s.tapStep;
                pixel(&s, w, a->xc);
            }
            nnrti_mcu_activate_row(a, row, any);
        }
    return NNRT_SUCCESS;
}

#define NNRTI_MCU_PIXEL_F32(name, op)                                                                                  \
    NNRTI_MCU_ONCE void nnrti_mcu_pixel_##name(const nnrti_mcu_strip *s, const float *w, int32_t step)                 \
    {                                                                                                                  \
        nnrti_mcu_channels_f32(s, w, step, op);                                                                        \
    }
NNRTI_MCU_PIXEL_F32(depthwise_f32, NNRTI_MCU_DEPTHWISE_F32)
NNRTI_MCU_PIXEL_F32(max_pool_f32, NNRTI_MCU_MAX_F32)
NNRTI_MCU_PIXEL_F32(average_pool_f32, NNRTI_MCU_AVERAGE_F32)

/* Generates kernel nnrt_mcu_<name>. w, y: arguments; without weights w is ignored. */
#define NNRTI_MCU_PIXELS_F32(name, op, w, y, any)                                                                      \
    NNRTI_MCU_KERNEL(name, McuWindowF32,                                                                               \
                     ((void)call, nnrti_mcu_pixels_f32(a, args, (const float *)args[w].data, (float *)args[y].data,    \
                                                       nnrti_mcu_pixel_##op, any)))
NNRTI_MCU_PIXELS_F32(depthwise_f32, depthwise_f32, 1, 2, false)
NNRTI_MCU_PIXELS_F32(depthwise_any_f32, depthwise_f32, 1, 2, true)
NNRTI_MCU_PIXELS_F32(max_pool_f32, max_pool_f32, 0, 1, false)
NNRTI_MCU_PIXELS_F32(average_pool_f32, average_pool_f32, 0, 1, false)

/* ---- elementwise ---- */

enum { NNRTI_MCU_ADD_F32, NNRTI_MCU_MUL_F32 };

#define NNRTI_MCU_BINARY(i) (a##i = op == NNRTI_MCU_ADD_F32 ? w##i + a##i : w##i * a##i)

/* z = x + y or x * y; z may be x or y. */
NNRTI_MCU_INLINE void nnrti_mcu_binary_f32(const float *x, const float *y, float *z, int32_t count, const int op)
{
    for (; count >= 8; count -= 8, z += 8) {
        NNRTI_MCU_REGISTERS_W;
        NNRTI_MCU_REGISTERS_A;
        NNRTI_MCU_LOAD_W(x);
        NNRTI_MCU_LOAD_A(y);
        NNRTI_MCU_BINARY(0);
        NNRTI_MCU_BINARY(1);
        NNRTI_MCU_BINARY(2);
        NNRTI_MCU_BINARY(3);
        NNRTI_MCU_BINARY(4);
        NNRTI_MCU_BINARY(5);
        NNRTI_MCU_BINARY(6);
        NNRTI_MCU_BINARY(7);
        NNRTI_MCU_STORE_A(z);
    }
    for (int32_t i = 0; i < count; i++)
        z[i] = op == NNRTI_MCU_ADD_F32 ? x[i] + y[i] : x[i] * y[i];
}

typedef void (*nnrti_mcu_row_f32)(const float *x, const float *y, float *z, int32_t count);

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_elements_f32(const NNRT_McuElementsF32 *a, nnrt_view *args,
                                                        nnrti_mcu_row_f32 row)
{
    row((const float *)args[0].data, (const float *)args[1].data, (float *)args[2].data, a->count);
    nnrti_mcu_activate((float *)args[2].data, a->count, 1, a->activation, false);
    return NNRT_SUCCESS;
}

/* Generates kernel nnrt_mcu_<name> and its loop. */
#define NNRTI_MCU_ELEMENTS_F32(name, op)                                                                               \
    NNRTI_MCU_ONCE void nnrti_mcu_row_##name(const float *x, const float *y, float *z, int32_t count)                  \
    {                                                                                                                  \
        nnrti_mcu_binary_f32(x, y, z, count, op);                                                                      \
    }                                                                                                                  \
    NNRTI_MCU_KERNEL(name, McuElementsF32, ((void)call, nnrti_mcu_elements_f32(a, args, nnrti_mcu_row_##name)))
NNRTI_MCU_ELEMENTS_F32(add_f32, NNRTI_MCU_ADD_F32)
NNRTI_MCU_ELEMENTS_F32(mul_f32, NNRTI_MCU_MUL_F32)

/* ---- checks ---- */

/* The check of kernels with windows. channels: packed channels of weights; 0: no weights. scratch: bytes. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_f32(const NNRT_McuWindowF32 *a, const nnrt_mcu_checked *step, int32_t channels,
                                        int64_t scratch)
{
    const int32_t window = nnrti_mcu_times(nnrti_mcu_times(a->kh, a->kw), a->c), pixels = nnrti_mcu_times(a->p, a->q);
    const int32_t inputs = nnrti_mcu_times(a->groups, a->c), outputs = nnrti_mcu_times(a->groups, a->o);
    const uint32_t y = channels != 0 ? 2 : 1;
    return nnrti_mcu_arity(step, 1, y - 1, 1) && nnrti_mcu_scratch(step, scratch) &&
           nnrti_mcu_offsets_fit(a->p, a->sh, a->kh, a->dh, a->top, a->xh) &&
           nnrti_mcu_offsets_fit(a->q, a->sw, a->kw, a->dw, a->left, a->xw) &&
           (channels == 0 ||
            nnrti_mcu_holds(step, 1, nnrti_mcu_times(channels, nnrti_mcu_reach(window, 2, 1)), 4)) &&
           nnrti_mcu_holds(step, 0, nnrti_mcu_image(a->n, a->h, a->w, inputs, a->xn, a->xh, a->xw, a->xc), 4) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_image(a->n, a->p, a->q, outputs, a->yn, a->yh, a->yw, a->yc), 4) &&
           nnrti_mcu_holds(step, y, nnrti_mcu_times(nnrti_mcu_times(a->n, pixels), outputs), 4);
}

NNRTI_MCU_ONCE bool nnrti_mcu_check_conv_f32(const NNRT_McuWindowF32 *a, const nnrt_mcu_checked *step)
{
    const int32_t window = nnrti_mcu_times(nnrti_mcu_times(a->kh, a->kw), a->c);
    const int32_t eights = a->o > 0 && a->o < NNRTI_MCU_LIMIT ? nnrti_mcu_eights(a->o) : NNRTI_MCU_LIMIT;
    return nnrti_mcu_check_f32(a, step, nnrti_mcu_times(a->groups, a->o > eights ? eights + 4 : eights),
                               nnrti_mcu_is_dense(a) ? 0 : 8 * (int64_t)window);
}

/* Depthwise convolution and pools. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_pixels_f32(const NNRT_McuWindowF32 *a, const nnrt_mcu_checked *step, bool weights)
{
    const int32_t groups = a->groups < NNRTI_MCU_LIMIT ? a->groups : NNRTI_MCU_LIMIT;
    const int32_t channels = nnrti_mcu_has_panels(a->xc, a->yc, groups) ? (groups + 7) / 8 * 8 : groups;
    return a->c == 1 && a->o == 1 && groups > 0 && nnrti_mcu_check_f32(a, step, weights ? channels : 0, 0);
}

NNRTI_MCU_ONCE bool nnrti_mcu_check_elements_f32(const NNRT_McuElementsF32 *a, const nnrt_mcu_checked *step)
{
    return nnrti_mcu_arity(step, 2, 0, 1) && nnrti_mcu_holds(step, 0, a->count, 4) &&
           nnrti_mcu_holds(step, 1, a->count, 4) && nnrti_mcu_holds(step, 2, a->count, 4);
}

NNRTI_MCU_CHECK(conv_f32, McuWindowF32, nnrti_mcu_check_conv_f32(a, step))
NNRTI_MCU_CHECK(conv_any_f32, McuWindowF32, nnrti_mcu_check_conv_f32(a, step))
NNRTI_MCU_CHECK(depthwise_f32, McuWindowF32, nnrti_mcu_check_pixels_f32(a, step, true))
NNRTI_MCU_CHECK(depthwise_any_f32, McuWindowF32, nnrti_mcu_check_pixels_f32(a, step, true))
NNRTI_MCU_CHECK(max_pool_f32, McuWindowF32, nnrti_mcu_check_pixels_f32(a, step, false))
NNRTI_MCU_CHECK(average_pool_f32, McuWindowF32, nnrti_mcu_check_pixels_f32(a, step, false))
NNRTI_MCU_CHECK(add_f32, McuElementsF32, nnrti_mcu_check_elements_f32(a, step))
NNRTI_MCU_CHECK(mul_f32, McuElementsF32, nnrti_mcu_check_elements_f32(a, step))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>plain */

/* Kernels for processors without SIMD. A word of packed weights holds two channels, w = 2^16 w1 + w0, so that one
   multiplication of 32 bits by x computes two products. The sum of a group of two taps
       g = w[0] * x[0] + w[1] * x[1] + 2^15 = 2^16 d1 + (d0 + 2^15)
   keeps both fields apart as long as -2^15 <= d0, d1 < 2^15, which the edit checks: g >> 16 is d1. Over all groups
       u = sum of g >> 16,  t = sum of g (it wraps):  sum1 = u,  sum0 = t - 2^16 u - 2^15 groups
   The constant and both biases are the initial values of t and u. x is in -128 .. 127; uint8 loses 128 first. Wide
   kernels give every tap its own group, whose other weight is 0: that fits for all |w| <= 255.

   Sums of a pixel are requantized afterwards, by one loop for all kernels.

   Armv6-M has eight registers for data, so the accumulators are high registers, to which it can only add. */

#if defined(NNRTI_MCU_LDM) && __ARM_ARCH_ISA_THUMB == 1 && !defined(__ARM_BIG_ENDIAN)
#define NNRTI_MCU_THUMB1
#endif

/* Sums of this size and more need a 64-bit product; sums of kernels with fewer taps than NNRTI_MCU_FEW are smaller. */
#define NNRTI_MCU_LARGE ((int64_t)1 << 23)
enum { NNRTI_MCU_FEW = 256 };

/* sum += y, sum a high register. */
#if defined(NNRTI_MCU_THUMB1)
#define NNRTI_MCU_ADD(sum, y) __asm__("add %0, %1" : "+h"(sum) : "l"(y))
#define NNRTI_MCU_MUL ".syntax unified\n\tmuls %0, %1, %0"
#else
#define NNRTI_MCU_ADD(sum, y) sum += y
#endif

/* Keeps loads behind it from moving before it, where their values would not fit the registers. */
#if defined(__GNUC__)
#define NNRTI_MCU_FENCE() __asm__ volatile("" : : : "memory")
#define NNRTI_MCU_OPAQUE(x) __asm__("" : "+r"(x)) /* hides the value of x from the compiler */
#else
#define NNRTI_MCU_FENCE() (void)0
#define NNRTI_MCU_OPAQUE(x) (void)0
#endif

/* How a row of sums becomes stored integers, each less lo. offset: 2 (zero - lo) + 1. span: hi - lo. */
typedef struct nnrti_mcu_output {
    int32_t offset, lo;
    uint32_t span;
    ptrdiff_t stride; /* of y */
} nnrti_mcu_output;

/* H of a sum below 2^28 (large) or NNRTI_MCU_LARGE: (sum * m + 2^30) / 2^31, rounded down. */
NNRTI_MCU_INLINE int32_t nnrti_mcu_plain_high(int32_t sum, const int32_t *m, const bool large)
{
#if defined(NNRTI_MCU_THUMB1)
    if (!large) { /* by the bytes of m: adding an integer and rounding down commute */
        const uint8_t *digits = (const uint8_t *)m;
        const uint32_t s = (uint32_t)sum;
        int32_t y = (int32_t)(s * digits[0]) >> 8;
        NNRTI_MCU_FENCE();
        y = (int32_t)((uint32_t)y + s * digits[1]) >> 8;
        NNRTI_MCU_FENCE();
        y = (int32_t)((uint32_t)y + s * digits[2]) >> 8;
        NNRTI_MCU_FENCE();
        return (int32_t)((uint32_t)y + s * digits[3] + 64) >> 7;
    }
#endif
    (void)large;
    return ((int32_t)((int64_t)(int32_t)(8 * (uint32_t)sum) * m[0] >> 32) + 2) >> 2;
}

/* Requantizes count sums to y. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_row(const nnrti_mcu_output *r, const int32_t *sums, const int32_t *table,
                                          int32_t count, uint8_t *y, const bool large)
{
    const int32_t *const end = sums + count;
    const int32_t offset = r->offset, lo = r->lo;
    const uint32_t span = r->span;
    const ptrdiff_t stride = r->stride;
    for (; sums != end; table += NNRTI_MCU_TABLE, y += stride) {
        const int32_t h = nnrti_mcu_plain_high(*sums++, table + 1, large);
        int32_t v = (((h + (h >> 31)) >> table[2]) + offset) >> 1;
        if ((uint32_t)v > span)
            v = v < 0 ? 0 : (int32_t)span;
        NNRTI_MCU_OPAQUE(v); /* no arithmetic of bytes */
        *y = (uint8_t)(v + lo);
    }
}

typedef void (*nnrti_mcu_store)(const nnrti_mcu_output *r, const int32_t *sums, const int32_t *table, int32_t count,
                                uint8_t *y);
NNRTI_MCU_ONCE void nnrti_mcu_plain_store(const nnrti_mcu_output *r, const int32_t *sums, const int32_t *table,
                                          int32_t count, uint8_t *y)
{
    nnrti_mcu_plain_row(r, sums, table, count, y, false);
}
NNRTI_MCU_ONCE void nnrti_mcu_plain_store_large(const nnrti_mcu_output *r, const int32_t *sums, const int32_t *table,
                                                int32_t count, uint8_t *y)
{
    nnrti_mcu_plain_row(r, sums, table, count, y, true);
}

NNRTI_MCU_INLINE void nnrti_mcu_plain_output(nnrti_mcu_output *r, int32_t zero, int32_t lo, int32_t hi, int32_t stride)
{
    r->offset = 2 * (zero - lo) + 1;
    r->lo = lo;
    r->span = (uint32_t)(hi - lo);
    r->stride = stride;
}

/* ---- convolution ---- */

/* Fields of a panel of two channels, for two pixels. */
typedef struct nnrti_mcu_fields {
    uint32_t t0, u0, t1, u1;
} nnrti_mcu_fields;

/* Adds a group w0 x0 + w1 x1 to the fields t and u. half: 2^15. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_group(uint32_t *t, uint32_t *u, uint32_t w0, uint32_t x0, uint32_t w1,
                                            uint32_t x1, uint32_t half)
{
#if defined(NNRTI_MCU_THUMB1)
    uint32_t g = w0 * x0 + w1 * x1;
    __asm__("add %0, %1" : "+l"(g) : "h"(half));
#else
    const uint32_t g = w0 * x0 + half + w1 * x1;
#endif
    NNRTI_MCU_ADD(*t, g);
    NNRTI_MCU_ADD(*u, (uint32_t)((int32_t)g >> 16));
}

NNRTI_MCU_INLINE void nnrti_mcu_plain_begin(nnrti_mcu_fields *f, const int32_t *table)
{
    f->t0 = f->t1 = (uint32_t)table[0];
    f->u0 = f->u1 = (uint32_t)table[NNRTI_MCU_TABLE];
}

/* The sums of a panel. The sums of pixel 1 are `pixel` elements behind the sums of pixel 0. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_end(const nnrti_mcu_fields *f, int32_t *sums, int32_t pixel, const int pixels)
{
    sums[0] = (int32_t)(f->t0 - (f->u0 << 16));
    sums[1] = (int32_t)f->u0;
    if (pixels > 1) {
        sums[pixel] = (int32_t)(f->t1 - (f->u1 << 16));
        sums[pixel + 1] = (int32_t)f->u1;
    }
}

/* Adds two taps of a panel, weights w[0], w[1]. x: tap 0 of pixels 0 and 1, then tap 1. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_two(nnrti_mcu_fields *f, const int32_t *w, const int32_t *x, uint32_t half,
                                          const int pixels)
{
    const uint32_t w0 = (uint32_t)w[0], w1 = (uint32_t)w[1];
    nnrti_mcu_plain_group(&f->t0, &f->u0, w0, (uint32_t)x[0], w1, (uint32_t)x[2], half);
    if (pixels > 1)
        nnrti_mcu_plain_group(&f->t1, &f->u1, w0, (uint32_t)x[1], w1, (uint32_t)x[3], half);
}

/* The same with one instruction per address, which it advances. */
#if defined(NNRTI_MCU_LDM)
#define NNRTI_MCU_TWO(f, w, x, half, pixels)                                                                           \
    do {                                                                                                               \
        register uint32_t w0_ __asm__("r2"), w1_ __asm__("r3");                                                        \
        register uint32_t a_ __asm__("r4"), b_ __asm__("r5"), c_ __asm__("r6"), d_ __asm__("r7");                      \
        __asm__("ldmia %0!, {%1, %2}" : "+l"(w), "=l"(w0_), "=l"(w1_) : "m"(*(const int32_t(*)[2])(w)));               \
        __asm__("ldmia %0!, {%1, %2, %3, %4}"                                                                          \
                : "+l"(x), "=l"(a_), "=l"(b_), "=l"(c_), "=l"(d_)                                                      \
                : "m"(*(const int32_t(*)[4])(x)));                                                                     \
        nnrti_mcu_plain_group(&(f)->t0, &(f)->u0, w0_, a_, w1_, c_, half);                                             \
        if (pixels > 1)                                                                                                \
            nnrti_mcu_plain_group(&(f)->t1, &(f)->u1, w0_, b_, w1_, d_, half);                                         \
    } while (0)
#else
#define NNRTI_MCU_TWO(f, w, x, half, pixels) (nnrti_mcu_plain_two(f, w, x, half, pixels), w += 2, x += 4)
#endif

/* GEMM microkernel: the sums of a group's channels for one or two windows, interleaved at x. sums: first of pixel 0,
   then of pixel 1. Two panels at a time, where there are registers enough. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_panels(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,
                                             const int32_t *table, int32_t *sums, const int pixels)
{
    const int32_t words = a->words, pixel = (a->o + 1) / 2 * 2, *const end = x + 2 * words;
    int32_t *const last = sums + pixel;
    const uint32_t half = 0x8000;
#if !defined(NNRTI_MCU_LDM)
    for (; last - sums >= 4; sums += 4, table += 4 * NNRTI_MCU_TABLE, w += words) {
        nnrti_mcu_fields f, g;
        NNRTI_MCU_BORDER(pixels == 1 && last - sums < pixel && a->groups * a->n * a->p * a->q == 1,
                         pixel - (int32_t)(last - sums), a->o);
        nnrti_mcu_plain_begin(&f, table);
        nnrti_mcu_plain_begin(&g, table + 2 * NNRTI_MCU_TABLE);
        for (const int32_t *at = x; at != end; at += 4, w += 2) {
            nnrti_mcu_plain_two(&f, w, at, half, pixels);
            nnrti_mcu_plain_two(&g, w + words, at, half, pixels);
        }
        nnrti_mcu_plain_end(&f, sums, pixel, pixels);
        nnrti_mcu_plain_end(&g, sums + 2, pixel, pixels);
    }
#endif
    for (; sums != last; sums += 2, table += 2 * NNRTI_MCU_TABLE) {
        const int32_t *at = x;
        nnrti_mcu_fields f;
        NNRTI_MCU_BORDER(pixels == 1 && last - sums < pixel && a->groups * a->n * a->p * a->q == 1,
                         pixel - (int32_t)(last - sums), a->o);
        nnrti_mcu_plain_begin(&f, table);
        while (at != end) {
            NNRTI_MCU_TWO(&f, w, at, half, pixels);
            NNRTI_MCU_TWO(&f, w, at, half, pixels);
        }
        nnrti_mcu_plain_end(&f, sums, pixel, pixels);
    }
}

NNRTI_MCU_ONCE void nnrti_mcu_plain_gemm1(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,
                                          const int32_t *table, int32_t *sums)
{
    nnrti_mcu_plain_panels(a, x, w, table, sums, 1);
}
NNRTI_MCU_ONCE void nnrti_mcu_plain_gemm2(const NNRT_McuConv *a, const int32_t *x, const int32_t *w,
                                          const int32_t *table, int32_t *sums)
{
    nnrti_mcu_plain_panels(a, x, w, table, sums, 2);
}

/* Widens count elements of x, which are `stride` bytes apart, to words at to, to + step, .. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_widen(const uint8_t *x, ptrdiff_t stride, int32_t count, int32_t *to,
                                            const ptrdiff_t step, const bool u)
{
    for (; stride == 1 && count >= 4; count -= 4, x += 4, to += 4 * step) {
        to[0] = u ? x[0] - 128 : (int8_t)x[0];
        to[step] = u ? x[1] - 128 : (int8_t)x[1];
        to[2 * step] = u ? x[2] - 128 : (int8_t)x[2];
        to[3 * step] = u ? x[3] - 128 : (int8_t)x[3];
    }
    for (; count > 0; count--, x += stride, to += step)
        *to = u ? *x - 128 : (int8_t)*x;
}
NNRTI_MCU_ONCE void nnrti_mcu_plain_widen_s8(const uint8_t *x, ptrdiff_t stride, int32_t count, int32_t *to)
{
    nnrti_mcu_plain_widen(x, stride, count, to, 2, false);
}
NNRTI_MCU_ONCE void nnrti_mcu_plain_widen_u8(const uint8_t *x, ptrdiff_t stride, int32_t count, int32_t *to)
{
    nnrti_mcu_plain_widen(x, stride, count, to, 2, true);
}
NNRTI_MCU_ONCE void nnrti_mcu_plain_widen_wide(const uint8_t *x, ptrdiff_t stride, int32_t count, int32_t *to, bool u)
{
    nnrti_mcu_plain_widen(x, stride, count, to, 4, u);
}

NNRTI_MCU_ONCE void nnrti_mcu_plain_fill(int32_t *to, ptrdiff_t step, int32_t count, int32_t value)
{
    for (; count > 0; count--, to += step)
        *to = value;
}

/* im2col of a pixel of a group: its window, from row h and column w of x on, as words at to, to + step, .. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_im2col(const NNRT_McuConv *a, const uint8_t *x, int32_t h, int32_t w, int32_t *to,
                                             const bool wide)
{
    const bool u = a->xUnsigned != 0, adjacent = a->xc == 1 && (a->kw == 1 || (a->dw == 1 && a->xw == a->c));
    const bool dense = adjacent && w >= 0 && w + (a->kw - 1) * a->dw < a->w;
    const ptrdiff_t step = wide ? 4 : 2;
    for (int32_t i = 0; i < a->kh; i++, h += a->dh) {
        const bool in = h >= 0 && h < a->h;
        const int32_t runs = in && !dense ? a->kw : 1, count = a->kw * a->c / runs;
        for (int32_t j = 0, at = w; j < runs; j++, at += a->dw, to += count * step) {
            const uint8_t *from = x + h * a->xh + at * a->xw;
            if (!in || (!dense && (at < 0 || at >= a->w)))
                nnrti_mcu_plain_fill(to, step, count, a->xZero - (u ? 128 : 0));
            else if (wide)
                nnrti_mcu_plain_widen_wide(from, a->xc, count, to, u);
            else if (u)
                nnrti_mcu_plain_widen_u8(from, a->xc, count, to);
            else
                nnrti_mcu_plain_widen_s8(from, a->xc, count, to);
        }
    }
}

/* The convolution: pixels in pairs, across the rows of y; both windows are copied before a result is stored. Scratch:
   two interleaved windows, the sums of two pixels, the ring of >>rows. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_plain_conv(const NNRT_McuConv *a, nnrt_view *args, nnrt_call *call,
                                                      const bool wide)
{
    const int32_t panels = (a->o + 1) / 2, taps = a->kh * a->kw * a->c;
    int32_t *const columns = (int32_t *)call->scratch, *const sums = columns + 2 * a->words;
    const nnrti_mcu_store store = taps < NNRTI_MCU_FEW ? nnrti_mcu_plain_store : nnrti_mcu_plain_store_large;
    uint8_t *y[2] = {NULL, NULL};
    nnrti_mcu_output out;
    nnrti_mcu_plain_output(&out, a->zero, a->lo, a->hi, a->yc);
    if (wide || taps < a->words)
        nnrti_mcu_plain_fill(columns, 1, 2 * a->words, 0);
    for (int32_t g = 0; g < a->groups; g++) {
        const int32_t *w = (const int32_t *)args[1].data + g * panels * a->words;
        const int32_t *table = (const int32_t *)args[2].data + g * panels * 2 * NNRTI_MCU_TABLE;
        nnrti_mcu_ring ring = nnrti_mcu_conv_ring(a, args, 0, g, sums + 4 * panels);
        int32_t pending = 0;
        for (int32_t n = 0; n < a->n; n++) {
            ring = nnrti_mcu_conv_ring(a, args, n, g, sums + 4 * panels);
            for (int32_t i = 0; i < a->p; i++) {
                const int32_t p = a->reverse != 0 ? a->p - 1 - i : i;
                uint8_t *const to = nnrti_mcu_ring_row(&ring, i);
                NNRTI_MCU_BORDER(true, (g * a->n + n) * a->p + i, a->groups * a->n * a->p);
                for (int32_t j = 0; j < a->q; j++) {
                    const int32_t q = a->reverse != 0 ? a->q - 1 - j : j;
                    nnrti_mcu_plain_im2col(a, (const uint8_t *)args[0].data + n * a->xn + g * a->c * a->xc,
                                           p * a->sh - a->top, q * a->sw - a->left, columns + pending, wide);
                    y[pending] = to + q * a->yw;
                    if (++pending < 2)
                        continue;
                    nnrti_mcu_plain_gemm2(a, columns, w, table, sums);
                    store(&out, sums, table, a->o, y[0]);
                    store(&out, sums + 2 * panels, table, a->o, y[1]);
                    pending = 0;
                }
                nnrti_mcu_ring_next(&ring, i);
            }
        }
        if (pending > 0) {
            nnrti_mcu_plain_gemm1(a, columns, w, table, sums);
            store(&out, sums, table, a->o, y[0]);
        }
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(conv_plain, McuConv, nnrti_mcu_plain_conv(a, args, call, false))
NNRTI_MCU_KERNEL(conv_plain_wide, McuConv, nnrti_mcu_plain_conv(a, args, call, true))

/* The check of these kernels. A tap of a window is one word, or (wide) two. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_conv_plain(const NNRT_McuConv *a, const nnrt_mcu_checked *step, int32_t perTap)
{
    const int32_t channels = nnrti_mcu_padded(a->o, 2);
    const int32_t taps = nnrti_mcu_times(nnrti_mcu_times(a->kh, a->kw), a->c);
    return a->words % 4 == 0 && a->words >= nnrti_mcu_times(taps, perTap) &&
           nnrti_mcu_check_conv(a, step, nnrti_mcu_times(channels, a->words) / 2, channels,
                                (int64_t)a->words * 8 + (int64_t)channels * 8) &&
           nnrti_mcu_table_holds(step, 2, a->groups * channels);
}
NNRTI_MCU_CHECK(conv_plain, McuConv, nnrti_mcu_check_conv_plain(a, step, 1))
NNRTI_MCU_CHECK(conv_plain_wide, McuConv, nnrti_mcu_check_conv_plain(a, step, 2))

/* ---- depthwise convolution ---- */

/* The windows of two pixels. x: the first tap of pixel 0; the distances to pixel 1, to the next row and to the next
   column of a window. */
typedef struct nnrti_mcu_windows {
    const uint8_t *x;
    ptrdiff_t pixel, row, column;
} nnrti_mcu_windows;

/* Sums of count channels of two pixels, count a multiple of 4. w: for each pair of channels its biases, then its
   weights, tap by tap. pixel: the distance to the sums of pixel 1. fixed: kh and kw are constants. */
#if defined(NNRTI_MCU_THUMB1)
/* Adds the products of a channel, whose bytes are k (0) and l behind x. */
#define NNRTI_MCU_PLAIN_TAP(s0, s1)                                                                                    \
    do {                                                                                                               \
        __asm__("ldmia %0!, {%1}" : "+l"(w), "=l"(v) : "m"(*w));                                                       \
        t = u ? x[k] : (int8_t)x[k];                                                                                   \
        __asm__(NNRTI_MCU_MUL : "+l"(t) : "l"(v) : "cc"); /* the compiler might overwrite v */                         \
        NNRTI_MCU_ADD(s0, t);                                                                                          \
        t = u ? x[l] : (int8_t)x[l];                                                                                   \
        __asm__(NNRTI_MCU_MUL : "+l"(t) : "l"(v) : "cc");                                                              \
        NNRTI_MCU_ADD(s1, t);                                                                                          \
    } while (0)

NNRTI_MCU_INLINE void nnrti_mcu_plain_tiles(const nnrti_mcu_windows *in, const uint8_t *from, const int32_t *weights,
                                            int32_t *sums, int32_t pixel, int32_t count, const int32_t kh,
                                            const int32_t kw, const bool fixed, const bool u)
{
    const ptrdiff_t width = kw * in->column, back = 2 - kh * in->row;
    const int32_t *const last = sums + count;
    const uint8_t *x = from;
    const int32_t *w = weights;
    ptrdiff_t k = 0, l = in->pixel;
    int32_t t, v;
    register int32_t a0 __asm__("r8"), a1 __asm__("r9"), b0 __asm__("r10"), b1 __asm__("r11");
    register ptrdiff_t column __asm__("r12") = in->column - 1, limit __asm__("r14") = in->row - width;
    __asm__("" : "+l"(k), "+l"(l)); /* the compiler must not know them */
    for (; sums != last; sums += 2) {
        __asm__("ldmia %0!, {%1}" : "+l"(w), "=l"(v) : "m"(*w));
        a0 = a1 = v;
        __asm__("ldmia %0!, {%1}" : "+l"(w), "=l"(v) : "m"(*w));
        b0 = b1 = v;
        if (fixed) {
            NNRTI_MCU_UNROLL(3)
            for (int32_t i = 0; i < kh; i++) {
                NNRTI_MCU_UNROLL(3)
                for (int32_t j = 0; j < kw; j++) {
                    NNRTI_MCU_PLAIN_TAP(a0, a1);
                    x++;
                    NNRTI_MCU_PLAIN_TAP(b0, b1);
                    __asm__("add %0, %1" : "+l"(x) : "h"(column));
                }
                __asm__("add %0, %1" : "+l"(x) : "h"(limit));
            }
        } else {
            for (int32_t i = 0; i < kh; i++) {
                limit = (ptrdiff_t)x + width;
                do {
                    NNRTI_MCU_PLAIN_TAP(a0, a1);
                    x++;
                    NNRTI_MCU_PLAIN_TAP(b0, b1);
                    __asm__("add %0, %1" : "+l"(x) : "h"(column));
                } while ((ptrdiff_t)x != limit);
                x += in->row - width;
            }
        }
        x += back;
        sums[0] = a0;
        sums[1] = b0;
        sums[pixel] = a1;
        sums[pixel + 1] = b1;
    }
}
#else
/* Adds the products of a channel. */
#define NNRTI_MCU_PLAIN_TAP(s0, s1, i, w)                                                                              \
    do {                                                                                                               \
        s0 = (int32_t)((uint32_t)s0 + (uint32_t)(u ? x[i] : (int8_t)x[i]) * (uint32_t)(w));                            \
        s1 = (int32_t)((uint32_t)s1 + (uint32_t)(u ? next[i] : (int8_t)next[i]) * (uint32_t)(w));                      \
    } while (0)

NNRTI_MCU_INLINE void nnrti_mcu_plain_tiles(const nnrti_mcu_windows *in, const uint8_t *x, const int32_t *w,
                                            int32_t *sums, int32_t pixel, int32_t count, const int32_t kh,
                                            const int32_t kw, const bool fixed, const bool u)
{
    const ptrdiff_t column = in->column, row = in->row - kw * column, step = in->pixel, back = 4 - kh * in->row;
    const int32_t *const last = sums + count;
    (void)fixed;
    for (; sums != last; sums += 4, x += back) {
        const int32_t *second = w + 2 + 2 * kh * kw;
        int32_t a0 = w[0], a1 = a0, b0 = w[1], b1 = b0, c0 = second[0], c1 = c0, d0 = second[1], d1 = d0;
        NNRTI_MCU_UNROLL(3)
        for (int32_t i = 0; i < kh; i++, x += row) {
            NNRTI_MCU_UNROLL(3)
            for (int32_t j = 0; j < kw; j++, x += column) {
                const uint8_t *const next = x + step;
                w += 2;
                second += 2;
                NNRTI_MCU_PLAIN_TAP(a0, a1, 0, w[0]);
                NNRTI_MCU_PLAIN_TAP(b0, b1, 1, w[1]);
                NNRTI_MCU_FENCE();
                NNRTI_MCU_PLAIN_TAP(c0, c1, 2, second[0]);
                NNRTI_MCU_PLAIN_TAP(d0, d1, 3, second[1]);
                NNRTI_MCU_FENCE();
                NNRTI_MCU_OPAQUE(x); /* one address, not one per tap */
            }
        }
        w = second + 2;
        sums[0] = a0;
        sums[1] = b0;
        sums[2] = c0;
        sums[3] = d0;
        sums[pixel] = a1;
        sums[pixel + 1] = b1;
        sums[pixel + 2] = c1;
        sums[pixel + 3] = d1;
    }
}
#endif

typedef void (*nnrti_mcu_tiles)(const nnrti_mcu_windows *in, const uint8_t *x, const int32_t *w, int32_t *sums,
                                int32_t pixel, int32_t count, int32_t kh, int32_t kw);

/* Sums of the channels of two pixels, four at a time; the last four end with the last channel. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_taps(const NNRT_McuDepthwise *a, const nnrti_mcu_windows *in, const int32_t *w,
                                           int32_t *sums, nnrti_mcu_tiles tiles)
{
    const int32_t c = a->c, pixel = c < 4 ? 4 : c, count = c < 4 ? 4 : c / 4 * 4;
    tiles(in, in->x, w, sums, pixel, count, a->kh, a->kw);
    if (count < c)
        tiles(in, in->x + c - 4, w + count * (1 + a->kh * a->kw), sums + c - 4, pixel, 4, a->kh, a->kw);
}

/* A pixel of y, and its window in x: from row h and column w on. */
typedef struct nnrti_mcu_pixel_at {
    const uint8_t *x;
    uint8_t *y;
    int32_t h, w;
} nnrti_mcu_pixel_at;

/* Gathers a window, padding included: kh * kw taps of `step` bytes, the first at row h and column w. The bytes of a tap
   behind its channels are any. padding: a tap of it. */
NNRTI_MCU_ONCE void nnrti_mcu_plain_gather(const NNRT_McuDepthwise *a, const nnrti_mcu_pixel_at *at,
                                           const uint8_t *padding, int32_t step, uint8_t *to)
{
    int32_t h = at->h;
    for (int32_t i = 0; i < a->kh; i++, h += a->dh) {
        int32_t column = at->w;
        for (int32_t j = 0; j < a->kw; j++, to += step, column += a->dw) {
            const bool in = h >= 0 && h < a->h && column >= 0 && column < a->w;
            nnrti_mcu_copy(to, in ? at->x + h * a->xh + column * a->xw : padding, a->c);
        }
    }
}

/* Whether the window of a pixel is completely inside x. */
NNRTI_MCU_INLINE bool nnrti_mcu_plain_inside(const NNRT_McuDepthwise *a, const nnrti_mcu_pixel_at *at)
{
    return a->c >= 4 && at->h >= 0 && at->h + (a->kh - 1) * a->dh < a->h && at->w >= 0 &&
           at->w + (a->kw - 1) * a->dw < a->w;
}

/* The windows of two pixels: in x, or gathered behind a tap of padding. */
NNRTI_MCU_INLINE void nnrti_mcu_plain_windows(const NNRT_McuDepthwise *a, const nnrti_mcu_pixel_at *at,
                                              uint8_t *padding, nnrti_mcu_windows *in)
{
    const int32_t step = a->c < 4 ? 4 : a->c, size = a->kh * a->kw * step;
    if (nnrti_mcu_plain_inside(a, &at[0]) && nnrti_mcu_plain_inside(a, &at[1])) {
        in->x = at[0].x + at[0].h * a->xh + at[0].w * a->xw;
        in->pixel = at[1].x + at[1].h * a->xh + at[1].w * a->xw - in->x;
        in->row = a->dh * a->xh;
        in->column = a->dw * a->xw;
        return;
    }
    for (int i = 0; i < 2; i++)
        nnrti_mcu_plain_gather(a, &at[i], padding, step, padding + step + i * size);
    in->x = padding + step;
    in->pixel = size;
    in->row = a->kw * step;
    in->column = step;
}

/* The convolution: pixels in pairs, across the rows of y; a last pixel alone is computed twice. Scratch: the sums of
   two pixels, the ring of >>rows, a tap of padding, two windows. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu_plain_depthwise(const NNRT_McuDepthwise *a, nnrt_view *args, nnrt_call *call,
                                                           nnrti_mcu_tiles tiles)
{
    const int32_t *w = (const int32_t *)args[1].data, *table = (const int32_t *)args[2].data;
    const int32_t step = a->c < 4 ? 4 : a->c;
    int32_t *const sums = (int32_t *)call->scratch, pending = 0;
    uint8_t *const waiting = (uint8_t *)(sums + 2 * step), *const padding = waiting + a->late * a->q * a->c;
    nnrti_mcu_pixel_at at[2];
    nnrti_mcu_windows in;
    nnrti_mcu_output out;
    memset(padding, a->xZero, (size_t)step);
    nnrti_mcu_plain_output(&out, a->zero, a->lo, a->hi, 1);
    for (int32_t n = 0; n < a->n; n++) {
        const nnrti_mcu_ring ring = nnrti_mcu_depthwise_ring(a, &args[3], n, waiting);
        for (int32_t p = 0; p < a->p; p++) {
            uint8_t *const y = nnrti_mcu_ring_row(&ring, p);
            NNRTI_MCU_BORDER(true, n * a->p + p, a->n * a->p);
            for (int32_t q = 0; q < a->q; q++) {
                at[1].x = (const uint8_t *)args[0].data + n * a->xn;
                at[1].y = y + q * a->yw;
                at[1].h = p * a->sh - a->top;
                at[1].w = q * a->sw - a->left;
                if (pending++ == 0) {
                    at[0] = at[1];
                    if (n + 1 < a->n || p + 1 < a->p || q + 1 < a->q)
                        continue;
                }
                nnrti_mcu_plain_windows(a, at, padding, &in);
                nnrti_mcu_plain_taps(a, &in, w, sums, tiles);
                nnrti_mcu_plain_store(&out, sums, table, a->c, at[0].y);
                if (pending > 1)
                    nnrti_mcu_plain_store(&out, sums + step, table, a->c, at[1].y);
                pending = 0;
            }
            nnrti_mcu_ring_next(&ring, p);
        }
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}

/* The check of these kernels. size: as below. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_depthwise_plain(const NNRT_McuDepthwise *a, const nnrt_mcu_checked *step,
                                                    int32_t size)
{
    const int32_t taps = nnrti_mcu_times(a->kh, a->kw), channels = nnrti_mcu_padded(a->c, 4);
    return nnrti_mcu_arity(step, 1, 2, 1) && (size == 0 || (a->kh == size && a->kw == size)) &&
           nnrti_mcu_check_images(a, step, 3, 1, (a->c < 4 ? 4 : a->c) * (9 + 2 * (int64_t)taps)) &&
           nnrti_mcu_offsets_fit(a->p, a->sh, a->kh, a->dh, a->top, a->xh) &&
           nnrti_mcu_offsets_fit(a->q, a->sw, a->kw, a->dw, a->left, a->xw) && nnrti_mcu_small(a->zero, 65536) &&
           nnrti_mcu_small(a->lo, 65536) && nnrti_mcu_small(a->hi, 65536) &&
           nnrti_mcu_holds(step, 1, nnrti_mcu_times(channels, nnrti_mcu_reach(taps, 2, 1)), 4) &&
           nnrti_mcu_table_holds(step, 2, a->c);
}

/* Generates kernel nnrt_mcu_depthwise_<name> and its microkernels, for size x size taps or (0) any number. */
#define NNRTI_MCU_PLAIN_TILES(name, size, u)                                                                           \
    NNRTI_MCU_ONCE void nnrti_mcu_tiles_##name(const nnrti_mcu_windows *in, const uint8_t *x, const int32_t *w,        \
                                               int32_t *sums, int32_t pixel, int32_t count, int32_t kh, int32_t kw)    \
    {                                                                                                                  \
        nnrti_mcu_plain_tiles(in, x, w, sums, pixel, count, size > 0 ? size : kh, size > 0 ? size : kw, size > 0, u);  \
    }
#define NNRTI_MCU_DEPTHWISE_PLAIN(name, size)                                                                          \
    NNRTI_MCU_PLAIN_TILES(name##_s8, size, false)                                                                      \
    NNRTI_MCU_PLAIN_TILES(name##_u8, size, true)                                                                       \
    NNRTI_MCU_KERNEL(depthwise_##name, McuDepthwise,                                                                   \
                     nnrti_mcu_plain_depthwise(a, args, call,                                                          \
                                               a->xUnsigned != 0 ? nnrti_mcu_tiles_##name##_u8                         \
                                                                 : nnrti_mcu_tiles_##name##_s8))                       \
    NNRTI_MCU_CHECK(depthwise_##name, McuDepthwise, nnrti_mcu_check_depthwise_plain(a, step, size))
NNRTI_MCU_DEPTHWISE_PLAIN(plain_3x3, 3)
NNRTI_MCU_DEPTHWISE_PLAIN(plain, 0)

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>mve */

/* Kernels for MVE (Helium), Armv8.1-M: vectors of 16 bytes, and the same in C. Weights are int8; bytes of a uint8 x
   become int8 by subtracting 128, which flips their top bit.

   The GEMM microkernel multiplies the windows of three pixels by the weights of two channels: VMLADAVA adds 16 products
   to a sum in a register, so that five loads serve six of them. It needs sums in even registers; a loop leaves seven.
   Requantization takes eight channels as two vectors of int32, of the even and the odd channels, because VQMOVNB and
   VQMOVNT interleave. Therefore slot s of eight is channel nnrti_mve_slots8[s], in weights and tables.

   The table of a kernel has 24 words per eight channels: biases, factors m, exponents e (0 or negative). */
enum { NNRTI_MVE_TABLE = 24 };

#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
/* Loads that follow are not scheduled before v is known: they would need more than the eight registers. */
#define NNRTI_MVE_ORDER(v) __asm__ volatile("" : "+w"(v) : : "memory")

/* The 16 bytes at *at, which then follows them. Otherwise gcc copies the address. */
NNRTI_MCU_INLINE int8x16_t nnrti_mve_next(const uint8_t **at)
{
    int8x16_t v;
    __asm__("vldrb.8 %q0, [%1], #16" : "=w"(v), "+r"(*at) : "m"(*(const uint8_t(*)[16]) * at));
    return v;
}

/* Copies count bytes with their bits `flip` inverted; up to 15 bytes after the copy change. Returns its end. */
NNRTI_MCU_INLINE uint8_t *nnrti_mve_copy(const uint8_t *from, int32_t count, uint8_t flip, uint8_t *to)
{
    for (uint32_t i = (uint32_t)count / 16; i != 0; i--, to += 16) {
        const uint8x16_t v = vreinterpretq_u8_s8(nnrti_mve_next(&from));
        vst1q_u8(to, flip != 0 ? veorq_u8(v, vdupq_n_u8(flip)) : v);
    }
    if (count % 16 != 0) {
        const uint8x16_t v = vldrbq_z_u8(from, vctp8q((uint32_t)count % 16));
        vst1q_u8(to, flip != 0 ? veorq_u8(v, vdupq_n_u8(flip)) : v);
    }
    return to + count % 16;
}

/* Stores count bytes `value`; up to 15 bytes after them change. Returns their end. */
NNRTI_MCU_INLINE uint8_t *nnrti_mve_fill(int32_t count, uint8_t value, uint8_t *to)
{
    for (int32_t i = 0; i < count; i += 16)
        vst1q_u8(to + i, vdupq_n_u8(value));
    return to + count;
}

/* Sums of channels a and b of three pixels, at sums, sums + 8, sums + 16. Returns the end of the weights. */
NNRTI_MCU_INLINE const uint8_t *nnrti_mve_tile3(const uint8_t *const *x, const uint8_t *w, uint32_t vectors,
                                                const int32_t *bias, int32_t *sums)
{
    const uint8_t *x0 = x[0], *x1 = x[1], *x2 = x[2];
    int32_t a0 = bias[0], a1 = a0, a2 = a0, b0 = bias[1], b1 = b0, b2 = b0;
    do {
        const int8x16_t a = nnrti_mve_next(&w), b = nnrti_mve_next(&w);
        const int8x16_t v0 = vld1q_s8((const int8_t *)x0), v1 = vld1q_s8((const int8_t *)x1);
        const int8x16_t v2 = vld1q_s8((const int8_t *)x2);
        a0 = vmladavaq_s8(a0, v0, a);
        b0 = vmladavaq_s8(b0, v0, b);
        a1 = vmladavaq_s8(a1, v1, a);
        b1 = vmladavaq_s8(b1, v1, b);
        a2 = vmladavaq_s8(a2, v2, a);
        b2 = vmladavaq_s8(b2, v2, b);
        x0 += 16;
        x1 += 16;
        x2 += 16;
    } while (--vectors != 0);
    sums[0] = a0;
    sums[1] = b0;
    sums[8] = a1;
    sums[9] = b1;
    sums[16] = a2;
    sums[17] = b2;
    return w;
}

/* Sums, less biases, of the eight slots of three windows of one or two vectors, at sums, sums + 8, sums + 16. */
NNRTI_MCU_INLINE const uint8_t *nnrti_mve_short3(const uint8_t *const *x, const uint8_t *w, int32_t *sums,
                                                 const uint32_t vectors)
{
    const int8_t *x0 = (const int8_t *)x[0], *x1 = (const int8_t *)x[1], *x2 = (const int8_t *)x[2];
    const int8x16_t v0 = vld1q_s8(x0), v1 = vld1q_s8(x1), v2 = vld1q_s8(x2);
    const int8x16_t u0 = vectors > 1 ? vld1q_s8(x0 + 16) : v0, u1 = vectors > 1 ? vld1q_s8(x1 + 16) : v1;
    const int8x16_t u2 = vectors > 1 ? vld1q_s8(x2 + 16) : v2;
    NNRTI_MCU_UNROLL(4)
    for (int slot = 0; slot < 8; slot += 2) {
        int8x16_t a = nnrti_mve_next(&w), b = nnrti_mve_next(&w);
        int32_t a0 = vmladavq_s8(v0, a), a1 = vmladavq_s8(v1, a), a2 = vmladavq_s8(v2, a);
        int32_t b0 = vmladavq_s8(v0, b), b1 = vmladavq_s8(v1, b), b2 = vmladavq_s8(v2, b);
        if (vectors > 1) {
            a = nnrti_mve_next(&w);
            b = nnrti_mve_next(&w);
            a0 = vmladavaq_s8(a0, u0, a);
            a1 = vmladavaq_s8(a1, u1, a);
            a2 = vmladavaq_s8(a2, u2, a);
            b0 = vmladavaq_s8(b0, u0, b);
            b1 = vmladavaq_s8(b1, u1, b);
            b2 = vmladavaq_s8(b2, u2, b);
        }
        __asm__("" : "+r"(a0), "+r"(b0), "+r"(a1), "+r"(b1), "+r"(a2), "+r"(b2)); /* stored in pairs */
        sums[slot] = a0;
        sums[slot + 1] = b0;
        sums[slot + 8] = a1;
        sums[slot + 9] = b1;
        sums[slot + 16] = a2;
        sums[slot + 17] = b2;
    }
    return w;
}

/* Sums of four channels of one pixel. */
NNRTI_MCU_INLINE const uint8_t *nnrti_mve_tile1(const uint8_t *x, const uint8_t *w, uint32_t vectors,
                                                const int32_t *bias, int32_t *sums)
{
    const uint8_t *u = w + 32 * vectors;
    int32_t a = bias[0], b = bias[1], c = bias[2], d = bias[3];
    do {
        const int8x16_t v = vld1q_s8((const int8_t *)x);
        x += 16;
        a = vmladavaq_s8(a, v, nnrti_mve_next(&w));
        b = vmladavaq_s8(b, v, nnrti_mve_next(&w));
        c = vmladavaq_s8(c, v, nnrti_mve_next(&u));
        d = vmladavaq_s8(d, v, nnrti_mve_next(&u));
    } while (--vectors != 0);
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
    return u;
}

/* R of four sums: D(H(sums, m), -e). */
NNRTI_MCU_INLINE int32x4_t nnrti_mve_scale(int32x4_t sums, int32x4_t m, int32x4_t e)
{
    sums = vqrdmulhq_s32(sums, m);
    return vrshlq_s32(vaddq_s32(sums, vshrq_n_s32(sums, 31)), e);
}

/* Interleaves four even and four odd channels, saturated to int16, plus zero. */
NNRTI_MCU_INLINE int16x8_t nnrti_mve_join(int32x4_t even, int32x4_t odd, int32_t zero)
{
    __asm__("vqmovnb.s32 %q0, %q0" : "+w"(even)); /* the intrinsic copies its operand */
    return vqaddq_n_s16(vqmovntq_s32(vreinterpretq_s16_s32(even), odd), (int16_t)zero);
}

/* Clamps and stores up to eight channels. */
NNRTI_MCU_INLINE void nnrti_mve_put(const NNRT_McuConv *a, int16x8_t v, int32_t channels, uint8_t *y)
{
    v = vminq_s16(vmaxq_s16(v, vdupq_n_s16((int16_t)a->lo)), vdupq_n_s16((int16_t)a->hi));
    if (channels >= 8)
        vstrbq_s16((int8_t *)y, v);
    else
        vstrbq_p_s16((int8_t *)y, v, vctp16q((uint32_t)channels));
}

/* Stores up to eight channels of `pixels` pixels at y[.] + o. Sums are at sums, sums + 8, ..; bare: less biases. */
NNRTI_MCU_INLINE void nnrti_mve_store(const NNRT_McuConv *a, const int32_t *sums, const int32_t *table,
                                      uint8_t *const *y, int32_t o, const int pixels, const bool bare)
{
    int32x4_t even[3], odd;
    int16x8_t v[3];
    __asm__("" : "+r"(sums), "+r"(table)); /* offsets instead of addresses in the stack */
    NNRTI_MCU_UNROLL(3)
    for (int j = 0; j < pixels; j++) {
        even[j] = vld1q_s32(sums + 8 * j);
        even[j] = bare ? vaddq_s32(even[j], vld1q_s32(table)) : even[j];
        even[j] = nnrti_mve_scale(even[j], vld1q_s32(table + 8), vld1q_s32(table + 16));
    }
    NNRTI_MCU_UNROLL(3)
    for (int j = 0; j < pixels; j++) {
        odd = vld1q_s32(sums + 8 * j + 4);
        odd = bare ? vaddq_s32(odd, vld1q_s32(table + 4)) : odd;
        odd = nnrti_mve_scale(odd, vld1q_s32(table + 12), vld1q_s32(table + 20));
        v[j] = nnrti_mve_join(even[j], odd, a->zero);
        NNRTI_MVE_ORDER(v[j]);
    }
    NNRTI_MCU_UNROLL(3)
    for (int j = 0; j < pixels; j++)
        nnrti_mve_put(a, v[j], a->o - o, y[j] + o);
}
#else
NNRTI_MCU_INLINE uint8_t *nnrti_mve_copy(const uint8_t *from, int32_t count, uint8_t flip, uint8_t *to)
{
    for (int32_t i = 0; i < count; i++)
        to[i] = from[i] ^ flip;
    return to + count;
}

NNRTI_MCU_INLINE uint8_t *nnrti_mve_fill(int32_t count, uint8_t value, uint8_t *to)
{
    for (int32_t i = 0; i < count; i++)
        to[i] = value;
    return to + count;
}

/* Sums of `channels` channels of one pixel. */
NNRTI_MCU_INLINE void nnrti_mve_sums(const uint8_t *x, const uint8_t *w, uint32_t vectors, const int32_t *bias,
                                     int channels, int32_t *sums)
{
    for (int c = 0; c < channels; c++) {
        const uint8_t *at = w + 32 * vectors * (uint32_t)(c / 2) + 16 * (c % 2);
        uint32_t sum = (uint32_t)bias[c];
        for (uint32_t k = 0; k < 16 * vectors; k++)
            sum += (uint32_t)((int8_t)x[k] * (int8_t)at[k / 16 * 32 + k % 16]);
        sums[c] = (int32_t)sum;
    }
}

NNRTI_MCU_INLINE const uint8_t *nnrti_mve_tile3(const uint8_t *const *x, const uint8_t *w, uint32_t vectors,
                                                const int32_t *bias, int32_t *sums)
{
    for (int j = 0; j < 3; j++)
        nnrti_mve_sums(x[j], w, vectors, bias, 2, sums + 8 * j);
    return w + 32 * vectors;
}

NNRTI_MCU_INLINE const uint8_t *nnrti_mve_short3(const uint8_t *const *x, const uint8_t *w, int32_t *sums,
                                                 const uint32_t vectors)
{
    static const int32_t none[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int j = 0; j < 3; j++)
        nnrti_mve_sums(x[j], w, vectors, none, 8, sums + 8 * j);
    return w + 128 * vectors;
}

NNRTI_MCU_INLINE const uint8_t *nnrti_mve_tile1(const uint8_t *x, const uint8_t *w, uint32_t vectors,
                                                const int32_t *bias, int32_t *sums)
{
    nnrti_mve_sums(x, w, vectors, bias, 4, sums);
    return w + 64 * vectors;
}

/* R(sum): D(H(sum, m), -e). */
NNRTI_MCU_INLINE int32_t nnrti_mve_scale(int32_t sum, int32_t m, int32_t e)
{
    const int32_t high = nnrti_mcu_top((int32_t)(2 * (uint32_t)sum), m);
    return e < 0 ? (int32_t)((high - (high < 0) + ((int64_t)1 << (-e - 1))) >> -e) : high;
}

/* OUT(R(sum)). slot: the slot of the channel, at its row of the table. */
NNRTI_MCU_INLINE int32_t nnrti_mve_requantize(int32_t sum, const int32_t *slot, int32_t zero, int32_t lo, int32_t hi)
{
    const int32_t y = nnrti_mve_scale(sum, slot[8], slot[16]) + zero;
    return y < lo ? lo : y > hi ? hi : y;
}

NNRTI_MCU_INLINE void nnrti_mve_store(const NNRT_McuConv *a, const int32_t *sums, const int32_t *table,
                                      uint8_t *const *y, int32_t o, const int pixels, const bool bare)
{
    for (int j = 0; j < pixels; j++)
        for (int32_t c = 0; c < 8 && o + c < a->o; c++) {
            const int32_t slot = c / 2 + c % 2 * 4;
            const uint32_t sum = (uint32_t)sums[8 * j + slot] + (bare ? (uint32_t)table[slot] : 0);
            y[j][o + c] = (uint8_t)nnrti_mve_requantize((int32_t)sum, table + slot, a->zero, a->lo, a->hi);
        }
}
#endif

/* GEMM microkernel: the channels of a group for three windows. sums: 24 words of scratch. */
NNRTI_MCU_ONCE void nnrti_mve_gemm3(const NNRT_McuConv *a, const uint8_t *const *x, const int32_t *w,
                                    const int32_t *table, uint8_t *const *y, int32_t *sums)
{
    const uint8_t *at = (const uint8_t *)w;
    const uint32_t vectors = (uint32_t)a->words / 4;
    for (int32_t o = 0; o < a->o; o += 8, table += NNRTI_MVE_TABLE) {
        at = nnrti_mve_tile3(x, at, vectors, table, sums);
        at = nnrti_mve_tile3(x, at, vectors, table + 2, sums + 2);
        at = nnrti_mve_tile3(x, at, vectors, table + 4, sums + 4);
        at = nnrti_mve_tile3(x, at, vectors, table + 6, sums + 6);
        nnrti_mve_store(a, sums, table, y, o, 3, false);
    }
}

/* The same for windows of one or two vectors. */
NNRTI_MCU_INLINE void nnrti_mve_gemm3_short(const NNRT_McuConv *a, const uint8_t *const *x, const int32_t *w,
                                            const int32_t *table, uint8_t *const *y, int32_t *sums,
                                            const uint32_t vectors)
{
    const uint8_t *at = (const uint8_t *)w;
    for (int32_t o = 0; o < a->o; o += 8, table += NNRTI_MVE_TABLE) {
        at = nnrti_mve_short3(x, at, sums, vectors);
        nnrti_mve_store(a, sums, table, y, o, 3, true);
    }
}
NNRTI_MCU_ONCE void nnrti_mve_gemm3_1(const NNRT_McuConv *a, const uint8_t *const *x, const int32_t *w,
                                      const int32_t *table, uint8_t *const *y, int32_t *sums)
{
    nnrti_mve_gemm3_short(a, x, w, table, y, sums, 1);
}
NNRTI_MCU_ONCE void nnrti_mve_gemm3_2(const NNRT_McuConv *a, const uint8_t *const *x, const int32_t *w,
                                      const int32_t *table, uint8_t *const *y, int32_t *sums)
{
    nnrti_mve_gemm3_short(a, x, w, table, y, sums, 2);
}

/* The same for one window of any length. */
NNRTI_MCU_ONCE void nnrti_mve_gemm1(const NNRT_McuConv *a, const uint8_t *const *x, const int32_t *w,
                                    const int32_t *table, uint8_t *const *y, int32_t *sums)
{
    const uint8_t *at = (const uint8_t *)w;
    const uint32_t vectors = (uint32_t)a->words / 4;
    for (int32_t o = 0; o < a->o; o += 8, table += NNRTI_MVE_TABLE) {
        NNRTI_MCU_BORDER(o > 0 && a->groups * a->n * a->p * a->q == 1, o, a->o);
        at = nnrti_mve_tile1(x[0], at, vectors, table, sums);
        at = nnrti_mve_tile1(x[0], at, vectors, table + 4, sums + 4);
        nnrti_mve_store(a, sums, table, y, o, 1, false);
    }
}

/* im2col of a pixel of a group: its window, from row h and column w of x on. */
NNRTI_MCU_INLINE void nnrti_mve_im2col(const NNRT_McuConv *a, const uint8_t *x, int32_t h, int32_t w, uint8_t *to)
{
    const uint8_t flip = a->xUnsigned ? 0x80 : 0, zero = (uint8_t)(a->xZero ^ flip);
    const bool dense = a->xc == 1 && (a->kw == 1 || (a->dw == 1 && a->xw == a->c));
    /* taps left of x, and taps inside, of a dense row */
    const int32_t left = w >= 0 ? 0 : -w < a->kw ? -w : a->kw, end = a->w - w < a->kw ? a->w - w : a->kw;
    const int32_t in = end > left ? end - left : 0;
    for (int32_t i = 0; i < a->kh; i++, h += a->dh) {
        const uint8_t *line = x + h * a->xh;
        if (h < 0 || h >= a->h) {
            to = nnrti_mve_fill(a->kw * a->c, zero, to);
        } else if (dense && in == a->kw) {
            to = nnrti_mve_copy(line + w * a->xw, a->kw * a->c, flip, to);
        } else if (dense) {
            if (left > 0)
                to = nnrti_mve_fill(left * a->c, zero, to);
            to = nnrti_mve_copy(line + (w + left) * a->xw, in * a->c, flip, to);
            if (left + in < a->kw)
                to = nnrti_mve_fill((a->kw - left - in) * a->c, zero, to);
        } else {
            for (int32_t j = 0; j < a->kw; j++) {
                const int32_t column = w + j * a->dw;
                if (column < 0 || column >= a->w)
                    to = nnrti_mve_fill(a->c, zero, to);
                else if (a->xc == 1)
                    to = nnrti_mve_copy(line + column * a->xw, a->c, flip, to);
                else
                    for (int32_t k = 0; k < a->c; k++)
                        *to++ = line[column * a->xw + k * a->xc] ^ flip;
            }
        }
    }
    if (a->kh * a->kw * a->c < 4 * a->words)
        nnrti_mve_fill(4 * a->words - a->kh * a->kw * a->c, 0, to);
}

/* Whether windows are adjacent bytes of an int8 x, if no padding is in them. */
NNRTI_MCU_INLINE bool nnrti_mve_is_row(const NNRT_McuConv *a)
{
    return a->kh == 1 && a->xc == 1 && (a->kw == 1 || (a->dw == 1 && a->xw == a->c)) && !a->xUnsigned;
}

/* The window from row h and column w of x on: in place if possible, otherwise by im2col at `to`. end: that of x. */
NNRTI_MCU_INLINE const uint8_t *nnrti_mve_window(const NNRT_McuConv *a, const uint8_t *x, int32_t h, int32_t w,
                                                 const uint8_t *end, uint8_t *to)
{
    if (nnrti_mve_is_row(a) && h >= 0 && h < a->h && w >= 0 && w + a->kw <= a->w &&
        end - (x + h * a->xh + w * a->xw) >= 4 * a->words)
        return x + h * a->xh + w * a->xw;
    nnrti_mve_im2col(a, x, h, w, to);
    return to;
}

/* Writes the channels of `pixels` pixels: directly, or, if the channels of y are not adjacent, through rows at out. */
NNRTI_MCU_INLINE void nnrti_mve_pixels(const NNRT_McuConv *a, const uint8_t **x, const int32_t *w, const int32_t *table,
                                       uint8_t *const *y, int32_t *sums, uint8_t *out, int pixels)
{
    uint8_t *rows[3];
    for (int j = 0; j < 3; j++) {
        const int from = j < pixels ? j : 0; /* two pixels: the first one twice */
        x[j] = x[from];
        rows[j] = a->yc == 1 ? y[from] : out + from * a->o;
    }
    if (pixels > 1 && a->words == 4)
        nnrti_mve_gemm3_1(a, x, w, table, rows, sums);
    else if (pixels > 1 && a->words == 8)
        nnrti_mve_gemm3_2(a, x, w, table, rows, sums);
    else if (pixels > 1)
        nnrti_mve_gemm3(a, x, w, table, rows, sums);
    else
        nnrti_mve_gemm1(a, x, w, table, rows, sums);
    for (int j = 0; j < pixels && a->yc != 1; j++)
        for (int32_t c = 0; c < a->o; c++)
            y[j][c * a->yc] = rows[j][c];
}

/* The convolution: three pixels at a time, across the rows of y. Scratch: 24 sums, three windows, of which the last one
   has a vector more, three pixels of y, or the ring of >>rows. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mve_conv(const NNRT_McuConv *a, nnrt_view *args, nnrt_call *call)
{
    const int32_t blocks = (a->o + 7) / 8;
    int32_t *const sums = (int32_t *)call->scratch;
    uint8_t *const columns = (uint8_t *)(sums + 24), *const out = columns + 12 * a->words + 16;
    const uint8_t *const end = (const uint8_t *)args[0].data + (a->n - 1) * a->xn + (a->h - 1) * a->xh +
                               (a->w - 1) * a->xw + (a->c * a->groups - 1) * a->xc + 1;
    const uint8_t *x[3] = {NULL, NULL, NULL};
    uint8_t *y[3] = {NULL, NULL, NULL};
    for (int32_t g = 0; g < a->groups; g++) {
        const int32_t *w = (const int32_t *)args[1].data + g * blocks * a->words * 8;
        const int32_t *table = (const int32_t *)args[2].data + g * blocks * NNRTI_MVE_TABLE;
        nnrti_mcu_ring ring = nnrti_mcu_conv_ring(a, args, 0, g, out);
        int pending = 0;
        for (int32_t n = 0; n < a->n; n++) {
            const uint8_t *image = (const uint8_t *)args[0].data + n * a->xn + g * a->c * a->xc;
            ring = nnrti_mcu_conv_ring(a, args, n, g, out);
            for (int32_t i = 0; i < a->p; i++) {
                const int32_t p = a->reverse != 0 ? a->p - 1 - i : i;
                uint8_t *const to = nnrti_mcu_ring_row(&ring, i);
                NNRTI_MCU_BORDER(true, (g * a->n + n) * a->p + i, a->groups * a->n * a->p);
                for (int32_t q = 0; q < a->q; q++) {
                    x[pending] = nnrti_mve_window(a, image, p * a->sh - a->top, q * a->sw - a->left, end,
                                                  columns + 4 * a->words * pending);
                    y[pending] = to + q * a->yw;
                    if (++pending < 3)
                        continue;
                    nnrti_mve_pixels(a, x, w, table, y, sums, out, 3);
                    pending = 0;
                }
                nnrti_mcu_ring_next(&ring, i);
            }
        }
        if (pending > 0)
            nnrti_mve_pixels(a, x, w, table, y, sums, out, pending);
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(conv_mve, McuConv, nnrti_mve_conv(a, args, call))

NNRTI_MCU_INLINE bool nnrti_mve_exponent_holds(int32_t e)
{
    return e >= -31 && e <= 0;
}

/* Whether argument k is a constant table of so many slots, a multiple of 8, whose exponents hold. */
NNRTI_MCU_ONCE bool nnrti_mve_table_holds(const nnrt_mcu_checked *step, uint32_t k, int32_t slots)
{
    const int32_t *row = (const int32_t *)nnrti_mcu_constant(step, k);
    if (row == NULL || !nnrti_mcu_holds(step, k, nnrti_mcu_times(slots, NNRTI_MVE_TABLE / 8), 4))
        return false;
    for (int32_t i = 0; i < slots; i++)
        if (!nnrti_mve_exponent_holds(row[i / 8 * NNRTI_MVE_TABLE + 16 + i % 8]))
            return false;
    return true;
}

/* The check of this kernel. */
NNRTI_MCU_ONCE bool nnrti_mve_check_conv(const NNRT_McuConv *a, const nnrt_mcu_checked *step)
{
    const int32_t taps = nnrti_mcu_times(nnrti_mcu_times(a->kh, a->kw), a->c), channels = nnrti_mcu_padded(a->o, 8);
    return a->words > 0 && a->words % 4 == 0 && a->words < NNRTI_MCU_LIMIT && (int64_t)a->words * 4 >= taps &&
           nnrti_mcu_check_conv(a, step, nnrti_mcu_times(channels, a->words), channels,
                                24 * 4 + (int64_t)a->words * 12 + 16 + (a->yc == 1 ? 0 : 3 * (int64_t)a->o)) &&
           nnrti_mve_table_holds(step, 2, a->groups * channels);
}
NNRTI_MCU_CHECK(conv_mve, McuConv, nnrti_mve_check_conv(a, step))

/* Depthwise convolution: sixteen channels of a pixel at a time. VMULLB and VMULLT make products of the even and the odd
   channels in int16, in which the products of two taps are added; VMOVLB and VMOVLT widen them to the sums. The edit
   checks that two products fit. Slots are nnrti_mve_slots16 of sixteen channels, two rows of the table. The last
   sixteen channels end with the last channel. A window is a list of the addresses of its taps; padding is a pixel of
   zeros. Pixels that follow on the right use the same list with an offset. */

#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
typedef struct nnrti_mve_sums16 {
    int32x4_t a, b, c, d;
} nnrti_mve_sums16;

NNRTI_MCU_INLINE int8x16_t nnrti_mve_tap(const uint8_t *x, const uint8_t flip)
{
    const uint8x16_t v = vld1q_u8(x);
    return vreinterpretq_s8_u8(flip != 0 ? veorq_u8(v, vdupq_n_u8(flip)) : v);
}

/* Adds the products of tap x, or of two taps x and z, with the weights at *w. z is loaded twice: otherwise two
   operands, three products and four sums would need nine registers. */
NNRTI_MCU_INLINE void nnrti_mve_taps(nnrti_mve_sums16 *s, const uint8_t *x, const uint8_t *z, const uint8_t **w,
                                     const uint8_t flip, const bool two)
{
    int8x16_t v = nnrti_mve_tap(x, flip), k = nnrti_mve_next(w);
    int16x8_t even = vmullbq_int_s8(v, k), odd = vmulltq_int_s8(v, k);
    if (two) {
        NNRTI_MVE_ORDER(even);
        k = nnrti_mve_next(w);
        even = vaddq_s16(even, vmullbq_int_s8(nnrti_mve_tap(z, flip), k));
        NNRTI_MVE_ORDER(even);
        odd = vaddq_s16(odd, vmulltq_int_s8(nnrti_mve_tap(z, flip), k));
    }
    s->a = vaddq_s32(s->a, vmovlbq_s16(even));
    s->b = vaddq_s32(s->b, vmovltq_s16(even));
    s->c = vaddq_s32(s->c, vmovlbq_s16(odd));
    s->d = vaddq_s32(s->d, vmovltq_s16(odd));
    NNRTI_MVE_ORDER(s->a);
    NNRTI_MVE_ORDER(s->b);
    NNRTI_MVE_ORDER(s->c);
    NNRTI_MVE_ORDER(s->d);
}

NNRTI_MCU_INLINE void nnrti_mve_first(nnrti_mve_sums16 *s, const int32_t *table)
{
    s->a = vld1q_s32(table);
    s->b = vld1q_s32(table + 4);
    s->c = vld1q_s32(table + NNRTI_MVE_TABLE);
    s->d = vld1q_s32(table + NNRTI_MVE_TABLE + 4);
}

/* Stores the channels of y. */
NNRTI_MCU_INLINE void nnrti_mve_store16(const NNRT_McuDepthwise *a, const nnrti_mve_sums16 *s, const int32_t *table,
                                        uint8_t *y)
{
    int32x4_t even = nnrti_mve_scale(s->a, vld1q_s32(table + 8), vld1q_s32(table + 16)), odd;
    int16x8_t first, second, lo, hi;
    uint8x16_t both;
    NNRTI_MVE_ORDER(even);
    odd = nnrti_mve_scale(s->b, vld1q_s32(table + 12), vld1q_s32(table + 20));
    first = nnrti_mve_join(even, odd, a->zero);
    NNRTI_MVE_ORDER(first);
    table += NNRTI_MVE_TABLE;
    even = nnrti_mve_scale(s->c, vld1q_s32(table + 8), vld1q_s32(table + 16));
    NNRTI_MVE_ORDER(even);
    odd = nnrti_mve_scale(s->d, vld1q_s32(table + 12), vld1q_s32(table + 20));
    second = nnrti_mve_join(even, odd, a->zero);
    lo = vdupq_n_s16((int16_t)a->lo);
    hi = vdupq_n_s16((int16_t)a->hi);
    first = vminq_s16(vmaxq_s16(first, lo), hi);
    second = vminq_s16(vmaxq_s16(second, lo), hi);
    both = vreinterpretq_u8_s16(vsliq_n_s16(first, second, 8));
    if (a->c >= 16)
        vst1q_u8(y, both);
    else
        vstrbq_p_u8(y, both, vctp8q((uint32_t)a->c));
}
#else
typedef struct nnrti_mve_sums16 {
    uint32_t at[16];
} nnrti_mve_sums16;

/* The slot of a channel. */
NNRTI_MCU_INLINE int32_t nnrti_mve_slot16(int32_t channel)
{
    return channel % 2 * NNRTI_MVE_TABLE + channel / 2 % 2 * 4 + channel / 4;
}

NNRTI_MCU_INLINE void nnrti_mve_taps(nnrti_mve_sums16 *s, const uint8_t *x, const uint8_t *z, const uint8_t **w,
                                     const uint8_t flip, const bool two)
{
    for (int32_t c = 0; c < 16; c++)
        s->at[c] += (uint32_t)((int8_t)(x[c] ^ flip) * (int8_t)(*w)[c] +
                               (two ? (int8_t)(z[c] ^ flip) * (int8_t)(*w)[16 + c] : 0));
    *w += two ? 32 : 16;
}

NNRTI_MCU_INLINE void nnrti_mve_first(nnrti_mve_sums16 *s, const int32_t *table)
{
    for (int32_t c = 0; c < 16; c++)
        s->at[c] = (uint32_t)table[nnrti_mve_slot16(c)];
}

NNRTI_MCU_INLINE void nnrti_mve_store16(const NNRT_McuDepthwise *a, const nnrti_mve_sums16 *s, const int32_t *table,
                                        uint8_t *y)
{
    for (int32_t c = 0; c < 16 && c < a->c; c++)
        y[c] = (uint8_t)nnrti_mve_requantize((int32_t)s->at[c], table + nnrti_mve_slot16(c), a->zero, a->lo, a->hi);
}
#endif

/* y = the channels of a pixel, whose window is at taps, each plus offset. nine: there are nine taps. */
NNRTI_MCU_INLINE void nnrti_mve_depthwise_pixel(const NNRT_McuDepthwise *a, const uint8_t *const *taps,
                                                ptrdiff_t offset, const int32_t *weights, const int32_t *table,
                                                uint8_t *y, const uint8_t flip, const bool nine)
{
    const uint8_t *w = (const uint8_t *)weights;
    const uint32_t count = (uint32_t)(a->kh * a->kw);
    for (int32_t c = 0; c < a->c; c += 16, table += 2 * NNRTI_MVE_TABLE) {
        const int32_t first = c + 16 <= a->c || a->c < 16 ? c : a->c - 16;
        const uint8_t *const *tap = taps;
        const ptrdiff_t to = offset + first;
        nnrti_mve_sums16 s;
        nnrti_mve_first(&s, table);
        if (nine) {
            nnrti_mve_taps(&s, tap[0] + to, tap[1] + to, &w, flip, true);
            nnrti_mve_taps(&s, tap[2] + to, tap[3] + to, &w, flip, true);
            nnrti_mve_taps(&s, tap[4] + to, tap[5] + to, &w, flip, true);
            nnrti_mve_taps(&s, tap[6] + to, tap[7] + to, &w, flip, true);
            nnrti_mve_taps(&s, tap[8] + to, NULL, &w, flip, false);
        } else {
            for (uint32_t i = count / 2; i != 0; i--, tap += 2)
                nnrti_mve_taps(&s, tap[0] + to, tap[1] + to, &w, flip, true);
            if (count % 2 != 0)
                nnrti_mve_taps(&s, tap[0] + to, NULL, &w, flip, false);
        }
        nnrti_mve_store16(a, &s, table, y + first);
    }
}
/* Generates a microkernel. */
#define NNRTI_MVE_PIXEL(name, flip, nine)                                                                              \
    NNRTI_MCU_ONCE void nnrti_mve_pixel_##name(const NNRT_McuDepthwise *a, const uint8_t *const *taps,                 \
                                               ptrdiff_t offset, const int32_t *w, const int32_t *table, uint8_t *y)   \
    {                                                                                                                  \
        nnrti_mve_depthwise_pixel(a, taps, offset, w, table, y, flip, nine);                                           \
    }
NNRTI_MVE_PIXEL(s8_nine, 0, true)
NNRTI_MVE_PIXEL(s8, 0, false)
NNRTI_MVE_PIXEL(u8, 0x80, false)

/* Lists the window from row h and column w of x on. zeros: a pixel. last: the end of x, less 16 bytes; taps after it,
   which have fewer than 16 channels, are copied to spare. */
NNRTI_MCU_INLINE void nnrti_mve_list(const NNRT_McuDepthwise *a, const uint8_t *x, int32_t h, int32_t w,
                                     const uint8_t *zeros, const uint8_t *last, uint8_t *spare, const uint8_t **taps)
{
    for (int32_t i = 0; i < a->kh; i++, h += a->dh) {
        const uint8_t *at = x + h * a->xh + w * a->xw;
        const bool in = h >= 0 && h < a->h;
        for (int32_t j = 0, column = w; j < a->kw; j++, column += a->dw, at += a->dw * a->xw, spare += 16) {
            if (!in || column < 0 || column >= a->w) {
                *taps++ = zeros;
            } else if (a->c < 16 && at > last) {
                nnrti_mve_copy(at, a->c, 0, spare);
                *taps++ = spare;
            } else {
                *taps++ = at;
            }
        }
    }
}

/* The convolution. Scratch: the list of a window, a pixel of zeros, for fewer than 16 channels copies of taps, and the
   ring of >>rows; pixels and taps are whole vectors. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mve_depthwise(const NNRT_McuDepthwise *a, nnrt_view *args, nnrt_call *call)
{
    const int32_t *w = (const int32_t *)args[1].data, *table = (const int32_t *)args[2].data;
    const uint8_t **const taps = (const uint8_t **)call->scratch;
    uint8_t *const zeros = (uint8_t *)(taps + a->kh * a->kw), *const spare = zeros + (a->c + 15) / 16 * 16;
    const uint8_t *const last =
        (const uint8_t *)args[0].data + (a->n - 1) * a->xn + (a->h - 1) * a->xh + (a->w - 1) * a->xw + a->c - 16;
    nnrti_mve_fill(a->c, (uint8_t)a->xZero, zeros);
    for (int32_t n = 0; n < a->n; n++) {
        const nnrti_mcu_ring ring =
            nnrti_mcu_depthwise_ring(a, &args[3], n, spare + (a->c < 16 ? 16 * a->kh * a->kw : 0));
        for (int32_t p = 0; p < a->p; p++) {
            const uint8_t *x = (const uint8_t *)args[0].data + n * a->xn;
            uint8_t *y = nnrti_mcu_ring_row(&ring, p);
            const int32_t top = p * a->sh - a->top, bottom = top + (a->kh - 1) * a->dh;
            bool listed = false; /* the list is that of a pixel of this row inside x */
            ptrdiff_t offset = 0;
            NNRTI_MCU_BORDER(true, n * a->p + p, a->n * a->p);
            for (int32_t q = 0; q < a->q; q++, y += a->yw) {
                const int32_t left = q * a->sw - a->left, right = left + (a->kw - 1) * a->dw;
                const bool in = top >= 0 && bottom < a->h && left >= 0 && right < a->w &&
                                (a->c >= 16 || x + bottom * a->xh + right * a->xw <= last);
                offset = in && listed ? offset + a->sw * a->xw : 0;
                if (!in || !listed)
                    nnrti_mve_list(a, x, top, left, zeros, last, spare, taps);
                listed = in;
                if (a->xUnsigned)
                    nnrti_mve_pixel_u8(a, taps, offset, w, table, y);
                else if (a->kh * a->kw == 9)
                    nnrti_mve_pixel_s8_nine(a, taps, offset, w, table, y);
                else
                    nnrti_mve_pixel_s8(a, taps, offset, w, table, y);
            }
            nnrti_mcu_ring_next(&ring, p);
        }
        nnrti_mcu_ring_end(&ring);
    }
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(depthwise_mve, McuDepthwise, nnrti_mve_depthwise(a, args, call))

/* The check of this kernel, whose scratch begins with pointers. */
NNRTI_MCU_ONCE bool nnrti_mve_check_depthwise(const NNRT_McuDepthwise *a, const nnrt_mcu_checked *step)
{
    const int32_t taps = nnrti_mcu_times(a->kh, a->kw), channels = nnrti_mcu_padded(a->c, 16);
    return nnrti_mcu_arity(step, 1, 2, 1) &&
           nnrti_mcu_check_images(a, step, 3, 1,
                                  taps * ((int64_t)sizeof(void *) + (a->c < 16 ? 16 : 0)) + channels) &&
           nnrti_mcu_offsets_fit(a->p, a->sh, a->kh, a->dh, a->top, a->xh) &&
           nnrti_mcu_offsets_fit(a->q, a->sw, a->kw, a->dw, a->left, a->xw) && nnrti_mcu_small(a->zero, 65536) &&
           nnrti_mcu_holds(step, 1, nnrti_mcu_times(channels, taps), 1) && nnrti_mcu_holds(step, 1, 1, 4) &&
           nnrti_mve_table_holds(step, 2, channels) && step->step->scratch % sizeof(void *) == 0;
}
NNRTI_MCU_CHECK(depthwise_mve, McuDepthwise, nnrti_mve_check_depthwise(a, step))

/* Addition, and pools whose x and y have the same quantization parameters. */

#if defined(__ARM_FEATURE_MVE) && defined(__GNUC__)
/* R of four integers by a factor with e <= 0. */
NNRTI_MCU_INLINE int32x4_t nnrti_mve_rescale(int32x4_t v, int32_t m, int32_t e)
{
    v = vqrdmulhq_n_s32(v, m);
    return e != 0 ? vrshlq_n_s32(vaddq_s32(v, vshrq_n_s32(v, 31)), e) : v;
}

/* Four elements of x, or `some` of them. */
NNRTI_MCU_INLINE int32x4_t nnrti_mve_load4(const uint8_t *x, const bool u, const bool all, mve_pred16_t some)
{
    if (u)
        return vreinterpretq_s32_u32(all ? vldrbq_u32(x) : vldrbq_z_u32(x, some));
    return all ? vldrbq_s32((const int8_t *)x) : vldrbq_z_s32((const int8_t *)x, some);
}

/* y = x + z for four elements, or (not all) for the first `count` of them. */
NNRTI_MCU_INLINE void nnrti_mve_add4(const NNRT_McuAddMve *a, const uint8_t *x, const uint8_t *z, uint8_t *y,
                                     const bool all, int32_t count)
{
    const mve_pred16_t some = all ? 0xffff : vctp32q((uint32_t)count);
    int32x4_t p = nnrti_mve_load4(x, a->xUnsigned != 0, all, some),
              q = nnrti_mve_load4(z, a->zUnsigned != 0, all, some);
    p = nnrti_mve_rescale(vshlq_n_s32(vsubq_n_s32(p, a->xZero), 20), a->xm, a->xe);
    q = nnrti_mve_rescale(vshlq_n_s32(vsubq_n_s32(q, a->zZero), 20), a->zm, a->ze);
    p = vaddq_n_s32(nnrti_mve_rescale(vaddq_s32(p, q), a->ym, a->ye), a->zero);
    p = vminq_s32(vmaxq_s32(p, vdupq_n_s32(a->lo)), vdupq_n_s32(a->hi));
    if (all)
        vstrbq_s32((int8_t *)y, p);
    else
        vstrbq_p_s32((int8_t *)y, p, some);
}

/* *most = the larger ones of *most and the bytes at x. */
NNRTI_MCU_INLINE uint8x16_t nnrti_mve_larger(uint8x16_t most, const uint8_t *x, mve_pred16_t some, const bool u)
{
    const uint8x16_t v = vldrbq_z_u8(x, some);
    return u ? vmaxq_u8(most, v) : vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(most), vreinterpretq_s8_u8(v)));
}

/* The largest element of up to 16 channels in a window of rows and columns at x. */
NNRTI_MCU_INLINE void nnrti_mve_largest(const NNRT_McuPoolMve *a, const uint8_t *x, int32_t rows, int32_t columns,
                                        int32_t channels, uint8_t *y)
{
    const bool u = a->xUnsigned != 0;
    const mve_pred16_t some = vctp8q((uint32_t)channels);
    uint8x16_t most = vdupq_n_u8(u ? 0 : 0x80);
    for (; rows > 0; rows--, x += a->xh) {
        const uint8_t *tap = x;
        for (int32_t j = columns; j > 0; j--, tap += a->xw)
            most = nnrti_mve_larger(most, tap, some, u);
    }
    if (u)
        most = vminq_u8(vmaxq_u8(most, vdupq_n_u8((uint8_t)a->lo)), vdupq_n_u8((uint8_t)a->hi));
    else
        most = vreinterpretq_u8_s8(
            vminq_s8(vmaxq_s8(vreinterpretq_s8_u8(most), vdupq_n_s8((int8_t)a->lo)), vdupq_n_s8((int8_t)a->hi)));
    vstrbq_p_u8(y, most, some);
}

/* Sums of up to eight channels of a window; an int16 holds the sum of 128 elements, and a row has at most as many. */
NNRTI_MCU_INLINE void nnrti_mve_total(const NNRT_McuPoolMve *a, const uint8_t *x, int32_t rows, int32_t columns,
                                      int32_t channels, int32_t *sums)
{
    const mve_pred16_t some = vctp16q((uint32_t)channels);
    int32x4_t even = vdupq_n_s32(0), odd = even;
    int16x8_t part = vdupq_n_s16(0);
    int32_t room = 128;
    for (; rows > 0; rows--, x += a->xh, room -= columns) {
        const uint8_t *tap = x;
        if (room < columns) {
            even = vaddq_s32(even, vmovlbq_s16(part));
            odd = vaddq_s32(odd, vmovltq_s16(part));
            part = vdupq_n_s16(0);
            room = 128;
        }
        for (int32_t j = columns; j > 0; j--, tap += a->xw)
            part = vaddq_s16(part, a->xUnsigned ? vreinterpretq_s16_u16(vldrbq_z_u16(tap, some))
                                                : vldrbq_z_s16((const int8_t *)tap, some));
    }
    vst1q_s32(sums, vaddq_s32(even, vmovlbq_s16(part)));
    vst1q_s32(sums + 4, vaddq_s32(odd, vmovltq_s16(part)));
}
#else
NNRTI_MCU_INLINE int32_t nnrti_mve_byte(const uint8_t *x, int32_t isUnsigned)
{
    return isUnsigned ? *x : (int8_t)*x;
}

NNRTI_MCU_INLINE void nnrti_mve_add4(const NNRT_McuAddMve *a, const uint8_t *x, const uint8_t *z, uint8_t *y,
                                     const bool all, int32_t count)
{
    for (int32_t i = 0; i < (all ? 4 : count); i++) {
        const int32_t p = (nnrti_mve_byte(x + i, a->xUnsigned) - a->xZero) * (1 << 20);
        const int32_t q = (nnrti_mve_byte(z + i, a->zUnsigned) - a->zZero) * (1 << 20);
        const int32_t sum = nnrti_mve_scale(p, a->xm, a->xe) + nnrti_mve_scale(q, a->zm, a->ze);
        const int32_t v = nnrti_mve_scale(sum, a->ym, a->ye) + a->zero;
        y[i] = (uint8_t)(v < a->lo ? a->lo : v > a->hi ? a->hi : v);
    }
}

NNRTI_MCU_INLINE void nnrti_mve_largest(const NNRT_McuPoolMve *a, const uint8_t *x, int32_t rows, int32_t columns,
                                        int32_t channels, uint8_t *y)
{
    for (int32_t c = 0; c < 16 && c < channels; c++) {
        int32_t most = a->lo;
        for (int32_t i = 0; i < rows; i++)
            for (int32_t j = 0; j < columns; j++) {
                const int32_t v = nnrti_mve_byte(x + i * a->xh + j * a->xw + c, a->xUnsigned);
                most = v > most ? v : most;
            }
        y[c] = (uint8_t)(most > a->hi ? a->hi : most);
    }
}

NNRTI_MCU_INLINE void nnrti_mve_total(const NNRT_McuPoolMve *a, const uint8_t *x, int32_t rows, int32_t columns,
                                      int32_t channels, int32_t *sums)
{
    for (int32_t c = 0; c < 8 && c < channels; c++) {
        int32_t sum = 0;
        for (int32_t i = 0; i < rows; i++)
            for (int32_t j = 0; j < columns; j++)
                sum += nnrti_mve_byte(x + i * a->xh + j * a->xw + c, a->xUnsigned);
        sums[c / 2 + c % 2 * 4] = sum;
    }
}
#endif

NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mve_add(const NNRT_McuAddMve *a, nnrt_view *args)
{
    const uint8_t *x = (const uint8_t *)args[0].data, *z = (const uint8_t *)args[1].data;
    uint8_t *y = (uint8_t *)args[2].data;
    for (int32_t i = a->count / 4; i > 0; i--, x += 4, z += 4, y += 4) {
        NNRTI_MCU_BORDER((a->count / 4 - i) % 256 == 0, a->count / 4 * 4 - 4 * i, a->count);
        nnrti_mve_add4(a, x, z, y, true, 4);
    }
    if (a->count % 4 != 0)
        nnrti_mve_add4(a, x, z, y, false, a->count % 4);
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(add_mve, McuAddMve, ((void)call, nnrti_mve_add(a, args)))

/* Up to eight means of `cells` elements, halves away from zero. */
NNRTI_MCU_INLINE void nnrti_mve_means(const NNRT_McuPoolMve *a, const int32_t *sums, int32_t cells, int32_t channels,
                                      uint8_t *y)
{
    for (int32_t c = 0; c < 8 && c < channels; c++) {
        const int32_t sum = sums[c / 2 + c % 2 * 4], mean = (sum > 0 ? sum + cells / 2 : sum - cells / 2) / cells;
        y[c] = (uint8_t)(mean < a->lo ? a->lo : mean > a->hi ? a->hi : mean);
    }
}

/* Largest elements or means of the windows; padding does not count. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mve_pool(const NNRT_McuPoolMve *a, nnrt_view *args, const bool mean)
{
    for (int32_t n = 0; n < a->n; n++)
        for (int32_t p = 0; p < a->p; p++) {
            const int32_t top = p * a->sh - a->top, first = top > 0 ? top : 0;
            const int32_t rows = (top + a->kh < a->h ? top + a->kh : a->h) - first;
            NNRTI_MCU_BORDER(true, n * a->p + p, a->n * a->p);
            for (int32_t q = 0; q < a->q; q++) {
                const int32_t left = q * a->sw - a->left, column = left > 0 ? left : 0;
                const int32_t columns = (left + a->kw < a->w ? left + a->kw : a->w) - column;
                const uint8_t *x = (const uint8_t *)args[0].data + n * a->xn + first * a->xh + column * a->xw;
                uint8_t *y = (uint8_t *)args[1].data + n * a->yn + p * a->yh + q * a->yw;
                for (int32_t c = 0; c < a->c; c += mean ? 8 : 16) {
                    int32_t sums[8];
                    if (!mean) {
                        nnrti_mve_largest(a, x + c, rows, columns, a->c - c, y + c);
                        continue;
                    }
                    nnrti_mve_total(a, x + c, rows, columns, a->c - c, sums);
                    nnrti_mve_means(a, sums, rows * columns, a->c - c, y + c);
                }
            }
        }
    return NNRT_SUCCESS;
}
NNRTI_MCU_KERNEL(max_pool_mve, McuPoolMve, ((void)call, nnrti_mve_pool(a, args, false)))
NNRTI_MCU_KERNEL(average_pool_mve, McuPoolMve, ((void)call, nnrti_mve_pool(a, args, true)))

/* The check of sums. */
NNRTI_MCU_ONCE bool nnrti_mve_check_add(const NNRT_McuAddMve *a, const nnrt_mcu_checked *step)
{
    return nnrti_mcu_arity(step, 2, 0, 1) && nnrti_mcu_holds(step, 0, a->count, 1) &&
           nnrti_mcu_holds(step, 1, a->count, 1) && nnrti_mcu_holds(step, 2, a->count, 1) &&
           nnrti_mcu_small(a->xZero, 255) && nnrti_mcu_small(a->zZero, 255) && nnrti_mcu_small(a->zero, 65536) &&
           nnrti_mve_exponent_holds(a->xe) && nnrti_mve_exponent_holds(a->ze) && nnrti_mve_exponent_holds(a->ye);
}

/* The check of pools: that of McuPool, whose first members are the same. */
NNRTI_MCU_ONCE bool nnrti_mve_check_pool(const NNRT_McuPoolMve *a, const nnrt_mcu_checked *step, int32_t pixels,
                                         int32_t columns)
{
    NNRT_McuPool pool;
    memset(&pool, 0, sizeof(pool));
    memcpy(&pool, a, offsetof(NNRT_McuPoolMve, xUnsigned));
    return nnrti_mcu_check_pool(&pool, step, 1, pixels, columns);
}
NNRTI_MCU_CHECK(add_mve, McuAddMve, nnrti_mve_check_add(a, step))
NNRTI_MCU_CHECK(max_pool_mve, McuPoolMve, nnrti_mve_check_pool(a, step, NNRTI_MCU_LIMIT, NNRTI_MCU_LIMIT))
NNRTI_MCU_CHECK(average_pool_mve, McuPoolMve, nnrti_mve_check_pool(a, step, 1 << 20, 128))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>int16 */

/* Layers of int16 beside int8 weights. All zero points are 0, and a sum is requantized to floor((sum * r + 2^(n-1)) /
   2^n), as nnrt_conv2d_fusion_q16 defines it.

   A word of packed weights holds the weights w0, w2, w1, w3 of four elements of a window, from its lowest byte on.
   SXTB16 gives the words (w0, w1) and (w2, w3), which SMLAD multiplies with two words of x; two pixels share them. In
   the form `plain`, for targets without these instructions, a word holds the weights of one element for four channels.
   A window inside x is read in place, if each of its rows is adjacent; other windows are gathered.

   Sums are int32 where the edit has proved that they fit, bias included. Otherwise (`long`) pieces of a window are
   summed in int32, and these sums and the bias in int64. */

/* Words of a table row: bias, r * 2^16, 2^(n-17), n - 16; long: the bias in two words, the low one first, r, n. */
enum { NNRTI_MCU16_TABLE = 4 };

/* Elements of a piece: 508 * 128 * 32768 < 2^31. */
enum { NNRTI_MCU16_PIECE = 508 };

#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__)
/* sum + a * b / 2^32, rounded down. */
NNRTI_MCU_INLINE int32_t nnrti_mcu16_add_high(int32_t a, int32_t b, int32_t sum)
{
    int32_t y;
    __asm__("smmla %0, %1, %2, %3" : "=r"(y) : "r"(a), "r"(b), "r"(sum));
    return y;
}
#else
NNRTI_MCU_INLINE int32_t nnrti_mcu16_add_high(int32_t a, int32_t b, int32_t sum)
{
    return (int32_t)((uint32_t)(int32_t)((int64_t)a * b >> 32) + (uint32_t)sum);
}
#endif

/* a + b, which wraps with the weights of a forged file. */
NNRTI_MCU_INLINE int32_t nnrti_mcu16_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

NNRTI_MCU_INLINE int16_t nnrti_mcu16_requantize(int32_t sum, const int32_t *row, int32_t lo, int32_t hi)
{
    const int32_t y = nnrti_mcu16_add_high(sum, row[1], row[2]) >> row[3];
    return (int16_t)(y < lo ? lo : y > hi ? hi : y);
}

/* The same for a long sum, without its bias. */
NNRTI_MCU_ONCE int16_t nnrti_mcu16_requantize_long(int64_t sum, const int32_t *row, int32_t lo, int32_t hi)
{
    const int64_t limit = (int64_t)1 << 47;
    const int32_t n = row[3];
    int64_t y = (int64_t)((uint64_t)sum + ((uint64_t)(uint32_t)row[1] << 32 | (uint32_t)row[0]));
    y = (y < -limit ? -limit : y < limit ? y : limit - 1) * row[2];
    if (n > 0)
        y = (y + ((int64_t)1 << (n - 1))) >> n;
    else
        y = (y < INT32_MIN ? INT32_MIN : y > INT32_MAX ? INT32_MAX : y) * ((int64_t)1 << -n);
    return (int16_t)(y < lo ? lo : y > hi ? hi : y);
}

/* Elements 0 and 1 at x as a word. */
NNRTI_MCU_INLINE int32_t nnrti_mcu16_two(const int16_t *x)
{
#if defined(__ARM_FEATURE_UNALIGNED) && !defined(__ARM_BIG_ENDIAN)
    return nnrti_mcu_load((const uint8_t *)x);
#else
    return (int32_t)((uint16_t)x[0] | (uint32_t)(uint16_t)x[1] << 16);
#endif
}

/* Byte k of a word of weights. */
NNRTI_MCU_INLINE int32_t nnrti_mcu16_byte(const int32_t *w, const int k)
{
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return ((const int8_t *)w)[k];
#endif
    return (int8_t)((uint32_t)*w >> 8 * k);
}

/* Sums of two channels a, b of pixels 0 and 1; or, of one pixel, of four channels a0, a1, b0, b1. */
typedef struct nnrti_mcu16_sums {
    int32_t a0, a1, b0, b1;
} nnrti_mcu16_sums;
typedef struct nnrti_mcu16_totals {
    int64_t a0, a1, b0, b1;
} nnrti_mcu16_totals;

/* A pixel of y and its window: row i begins at x + i * step. */
typedef struct nnrti_mcu16_pixel {
    const int16_t *x;
    ptrdiff_t step;
    int16_t *y;
} nnrti_mcu16_pixel;

/* Adds the products of four elements, the words p and q, by the weights at w. */
NNRTI_MCU_INLINE int32_t nnrti_mcu16_four(int32_t low, int32_t high, int32_t p, int32_t q, int32_t sum)
{
    return nnrti_mcu_dot2(high, q, nnrti_mcu_dot2(low, p, sum));
}

/* Two channels of two pixels. */
NNRTI_MCU_INLINE void nnrti_mcu16_pixels2(nnrti_mcu16_sums *s, int32_t p0, int32_t q0, int32_t p1, int32_t q1,
                                          const int32_t *w)
{
    const int32_t a = nnrti_mcu_even(w[0], false), c = nnrti_mcu_odd(w[0], false);
    const int32_t b = nnrti_mcu_even(w[1], false), d = nnrti_mcu_odd(w[1], false);
    s->a0 = nnrti_mcu16_four(a, c, p0, q0, s->a0);
    s->a1 = nnrti_mcu16_four(a, c, p1, q1, s->a1);
    s->b0 = nnrti_mcu16_four(b, d, p0, q0, s->b0);
    s->b1 = nnrti_mcu16_four(b, d, p1, q1, s->b1);
}

/* Four channels of a pixel. */
NNRTI_MCU_INLINE void nnrti_mcu16_pixels1(nnrti_mcu16_sums *s, int32_t p, int32_t q, const int32_t *w)
{
    s->a0 = nnrti_mcu16_four(nnrti_mcu_even(w[0], false), nnrti_mcu_odd(w[0], false), p, q, s->a0);
    s->a1 = nnrti_mcu16_four(nnrti_mcu_even(w[1], false), nnrti_mcu_odd(w[1], false), p, q, s->a1);
    s->b0 = nnrti_mcu16_four(nnrti_mcu_even(w[2], false), nnrti_mcu_odd(w[2], false), p, q, s->b0);
    s->b1 = nnrti_mcu16_four(nnrti_mcu_even(w[3], false), nnrti_mcu_odd(w[3], false), p, q, s->b1);
}

/* The words of the last `count` elements, 1 to 3, of a row. */
NNRTI_MCU_INLINE int32_t nnrti_mcu16_last0(const int16_t *x, int32_t count)
{
    return count > 1 ? nnrti_mcu16_two(x) : (int32_t)(uint16_t)x[0];
}
NNRTI_MCU_INLINE int32_t nnrti_mcu16_last1(const int16_t *x, int32_t count)
{
    return count > 2 ? (int32_t)(uint16_t)x[2] : 0;
}

/* Adds the products of `count` elements of a row. Returns the weights that follow. */
NNRTI_MCU_INLINE const int32_t *nnrti_mcu16_row(nnrti_mcu16_sums *s, const int16_t *x0, const int16_t *x1,
                                                const int32_t *w, int32_t count, const int pixels)
{
    const int32_t rest = count % 4;
    for (const int16_t *const end = x0 + (count - rest); x0 != end; x0 += 4, x1 += 4, w += 4)
        if (pixels > 1)
            nnrti_mcu16_pixels2(s, nnrti_mcu16_two(x0), nnrti_mcu16_two(x0 + 2), nnrti_mcu16_two(x1),
                                nnrti_mcu16_two(x1 + 2), w);
        else
            nnrti_mcu16_pixels1(s, nnrti_mcu16_two(x0), nnrti_mcu16_two(x0 + 2), w);
    if (rest == 0)
        return w;
    if (pixels > 1)
        nnrti_mcu16_pixels2(s, nnrti_mcu16_last0(x0, rest), nnrti_mcu16_last1(x0, rest), nnrti_mcu16_last0(x1, rest),
                            nnrti_mcu16_last1(x1, rest), w);
    else
        nnrti_mcu16_pixels1(s, nnrti_mcu16_last0(x0, rest), nnrti_mcu16_last1(x0, rest), w);
    return w + 4;
}

/* The same in the form plain, for one pixel. */
NNRTI_MCU_INLINE const int32_t *nnrti_mcu16_row_plain(nnrti_mcu16_sums *s, const int16_t *x, const int32_t *w,
                                                      int32_t count)
{
    for (const int16_t *const end = x + count; x != end; x++, w++) {
        const int32_t v = *x;
        s->a0 = nnrti_mcu16_add(s->a0, v * nnrti_mcu16_byte(w, 0));
        s->a1 = nnrti_mcu16_add(s->a1, v * nnrti_mcu16_byte(w, 1));
        s->b0 = nnrti_mcu16_add(s->b0, v * nnrti_mcu16_byte(w, 2));
        s->b1 = nnrti_mcu16_add(s->b1, v * nnrti_mcu16_byte(w, 3));
    }
    return w;
}

/* Forms of the microkernels. */
enum { NNRTI_MCU16_LONG = 1, NNRTI_MCU16_PLAIN = 2 };

/* Sums of windows; *t: in the form long. */
NNRTI_MCU_INLINE void nnrti_mcu16_window(const NNRT_McuConv *a, const nnrti_mcu16_pixel *pixel, const int32_t *w,
                                         nnrti_mcu16_sums *s, nnrti_mcu16_totals *t, const int form, const int pixels)
{
    const int16_t *x0 = pixel[0].x, *x1 = pixels > 1 ? pixel[1].x : x0;
    const int32_t length = a->kw * a->c;
    for (int32_t i = 0; i < a->kh; i++) {
        for (int32_t k = 0, n; k < length; k += n) {
            n = length - k;
            if ((form & NNRTI_MCU16_LONG) != 0 && n > NNRTI_MCU16_PIECE)
                n = NNRTI_MCU16_PIECE;
            w = (form & NNRTI_MCU16_PLAIN) != 0 ? nnrti_mcu16_row_plain(s, x0 + k, w, n)
                                                : nnrti_mcu16_row(s, x0 + k, x1 + k, w, n, pixels);
            if ((form & NNRTI_MCU16_LONG) == 0)
                continue;
            t->a0 += s->a0;
            t->a1 += s->a1;
            t->b0 += s->b0;
            t->b1 += s->b1;
            s->a0 = s->a1 = s->b0 = s->b1 = 0;
        }
        x0 += pixel[0].step;
        x1 += pixels > 1 ? pixel[1].step : 0;
    }
}

/* Stores channel o of a pixel. row: its words in the table; total: its sum in the form long. */
NNRTI_MCU_INLINE void nnrti_mcu16_store(const NNRT_McuConv *a, int32_t sum, int64_t total, const int32_t *row,
                                        int16_t *y, int32_t o, const int form)
{
    if (o < a->o)
        y[o * a->yc] = (form & NNRTI_MCU16_LONG) != 0 ? nnrti_mcu16_requantize_long(total, row, a->lo, a->hi)
                                                      : nnrti_mcu16_requantize(sum, row, a->lo, a->hi);
}

/* GEMM microkernel: the channels of a group of one or two pixels. */
NNRTI_MCU_INLINE void nnrti_mcu16_channels(const NNRT_McuConv *a, const nnrti_mcu16_pixel *pixel, const int32_t *w,
                                           const int32_t *table, const int form, const int pixels)
{
    const int32_t first = (form & NNRTI_MCU16_LONG) != 0 ? 0 : -1; /* narrow sums start with the bias */
    for (int32_t o = 0; o < a->o; o += pixels > 1 ? 2 : 4) {
        const int32_t *const row0 = table + o * NNRTI_MCU16_TABLE, *const row1 = row0 + NNRTI_MCU16_TABLE;
        const int32_t *const row2 = row1 + NNRTI_MCU16_TABLE, *const row3 = row2 + NNRTI_MCU16_TABLE;
        nnrti_mcu16_totals t = {0, 0, 0, 0};
        nnrti_mcu16_sums s;
        s.a0 = row0[0] & first;
        s.a1 = pixels > 1 ? s.a0 : row1[0] & first;
        s.b0 = (pixels > 1 ? row1[0] : row2[0]) & first;
        s.b1 = pixels > 1 ? s.b0 : row3[0] & first;
        nnrti_mcu16_window(a, pixel, w + o / 4 * a->words + o % 4, &s, &t, form, pixels);
        nnrti_mcu16_store(a, s.a0, t.a0, row0, pixel[0].y, o, form);
        nnrti_mcu16_store(a, s.a1, t.a1, pixels > 1 ? row0 : row1, pixel[pixels > 1].y, o + (pixels > 1 ? 0 : 1), form);
        nnrti_mcu16_store(a, s.b0, t.b0, pixels > 1 ? row1 : row2, pixel[0].y, o + (pixels > 1 ? 1 : 2), form);
        nnrti_mcu16_store(a, s.b1, t.b1, pixels > 1 ? row1 : row3, pixel[pixels > 1].y, o + (pixels > 1 ? 1 : 3), form);
    }
}

typedef void (*nnrti_mcu16_gemm)(const NNRT_McuConv *a, const nnrti_mcu16_pixel *pixel, const int32_t *w,
                                 const int32_t *table);

/* Gathers the window that begins at row h and column w of x, padding included. */
NNRTI_MCU_INLINE void nnrti_mcu16_gather(const NNRT_McuConv *a, const int16_t *x, int32_t h, int32_t w, int16_t *to)
{
    for (int32_t i = 0; i < a->kh; i++)
        for (int32_t j = 0; j < a->kw; j++) {
            const int32_t row = h + i * a->dh, column = w + j * a->dw;
            const bool inside = row >= 0 && row < a->h && column >= 0 && column < a->w;
            for (int32_t k = 0; k < a->c; k++)
                *to++ = inside ? x[row * a->xh + column * a->xw + k * a->xc] : 0;
        }
}

/* Sets the window that begins at row h and column w of x. Scratch: room for it. */
NNRTI_MCU_INLINE void nnrti_mcu16_find(const NNRT_McuConv *a, const int16_t *x, int32_t h, int32_t w, int16_t *room,
                                       nnrti_mcu16_pixel *pixel)
{
    const bool adjacent = (a->c == 1 || a->xc == 1) && (a->kw == 1 || (a->dw == 1 && a->xw == a->c));
    if (adjacent && h >= 0 && h + (a->kh - 1) * a->dh < a->h && w >= 0 && w + (a->kw - 1) * a->dw < a->w) {
        pixel->x = x + h * a->xh + w * a->xw;
        pixel->step = a->dh * a->xh;
        return;
    }
    nnrti_mcu16_gather(a, x, h, w, room);
    pixel->x = room;
    pixel->step = a->kw * a->c;
}

/* The convolution. gemm, gemm1: the microkernels for two pixels (NULL: there is none) and for one. Scratch: two
   windows. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu16_conv(const NNRT_McuConv *a, nnrt_view *args, nnrt_call *call,
                                                  nnrti_mcu16_gemm gemm, nnrti_mcu16_gemm gemm1)
{
    const int32_t panels = (a->o + 3) / 4, window = a->kh * a->kw * a->c;
    nnrti_mcu16_pixel pixel[2];
    for (int32_t g = 0; g < a->groups; g++) {
        const int32_t *const w = (const int32_t *)args[1].data + g * panels * a->words;
        const int32_t *const table = (const int32_t *)args[2].data + g * panels * 4 * NNRTI_MCU16_TABLE;
        int32_t k = 0;
        for (int32_t n = 0; n < a->n; n++)
            for (int32_t p = 0; p < a->p; p++)
                for (int32_t q = 0; q < a->q; q++) {
                    nnrti_mcu16_find(a, (const int16_t *)args[0].data + n * a->xn + g * a->c * a->xc,
                                     p * a->sh - a->top, q * a->sw - a->left, (int16_t *)call->scratch + k * window,
                                     &pixel[k]);
                    pixel[k].y = (int16_t *)args[3].data + n * a->yn + p * a->yh + q * a->yw + g * a->o * a->yc;
                    if (k == 1)
                        gemm(a, pixel, w, table);
                    else if (gemm == NULL)
                        gemm1(a, pixel, w, table);
                    k = gemm != NULL ? 1 - k : 0;
                }
        if (k == 1)
            gemm1(a, pixel, w, table);
    }
    return NNRT_SUCCESS;
}

/* Generates microkernel nnrti_mcu16_<name>. */
#define NNRTI_MCU16_GEMM(name, form, pixels)                                                                           \
    NNRTI_MCU_ONCE void nnrti_mcu16_##name(const NNRT_McuConv *a, const nnrti_mcu16_pixel *pixel, const int32_t *w,    \
                                           const int32_t *table)                                                       \
    {                                                                                                                  \
        nnrti_mcu16_channels(a, pixel, w, table, form, pixels);                                                        \
    }
NNRTI_MCU16_GEMM(gemm2, 0, 2)
NNRTI_MCU16_GEMM(gemm1, 0, 1)
NNRTI_MCU16_GEMM(gemm2_long, NNRTI_MCU16_LONG, 2)
NNRTI_MCU16_GEMM(gemm1_long, NNRTI_MCU16_LONG, 1)
NNRTI_MCU16_GEMM(gemm_plain, NNRTI_MCU16_PLAIN, 1)
NNRTI_MCU16_GEMM(gemm_plain_long, NNRTI_MCU16_PLAIN + NNRTI_MCU16_LONG, 1)

/* Whether argument k is a constant table of so many rows whose shifts hold, so that products and sums fit. */
NNRTI_MCU_ONCE bool nnrti_mcu16_table_holds(const nnrt_mcu_checked *step, uint32_t k, int32_t rows, bool is_long)
{
    const int32_t *row = (const int32_t *)nnrti_mcu_constant(step, k);
    if (row == NULL || !nnrti_mcu_holds(step, k, nnrti_mcu_times(rows, NNRTI_MCU16_TABLE), 4))
        return false;
    if (!is_long)
        return nnrti_mcu_shifts_hold(row + 3, rows, NNRTI_MCU16_TABLE);
    for (; rows > 0; rows--, row += NNRTI_MCU16_TABLE)
        if (!nnrti_mcu_small(row[2], 1 << 15) || row[3] < -31 || row[3] > 61)
            return false;
    return true;
}

/* The check of these kernels. */
NNRTI_MCU_ONCE bool nnrti_mcu16_check_conv(const NNRT_McuConv *a, const nnrt_mcu_checked *step, int form)
{
    const bool plain = (form & NNRTI_MCU16_PLAIN) != 0;
    const int32_t inputs = nnrti_mcu_times(a->groups, a->c), outputs = nnrti_mcu_times(a->groups, a->o);
    const int32_t row = nnrti_mcu_times(a->kw, a->c), channels = nnrti_mcu_padded(a->o, 4);
    const int32_t words = nnrti_mcu_times(a->kh, plain ? row : nnrti_mcu_padded(row, 4));
    const int32_t pixels = nnrti_mcu_times(nnrti_mcu_times(a->n, a->p), nnrti_mcu_times(a->q, outputs));
    return nnrti_mcu_arity(step, 1, 2, 1) && words < NNRTI_MCU_LIMIT && a->words == words &&
           nnrti_mcu_offsets_fit(a->p, a->sh, a->kh, a->dh, a->top, a->xh) &&
           nnrti_mcu_offsets_fit(a->q, a->sw, a->kw, a->dw, a->left, a->xw) && nnrti_mcu_small(a->lo, 65536) &&
           nnrti_mcu_small(a->hi, 65536) &&
           nnrti_mcu_holds(step, 0, nnrti_mcu_image(a->n, a->h, a->w, inputs, a->xn, a->xh, a->xw, a->xc), 2) &&
           nnrti_mcu_holds(step, 1, nnrti_mcu_times(nnrti_mcu_times(a->groups, channels / 4), words), 4) &&
           nnrti_mcu_holds(step, 3, nnrti_mcu_image(a->n, a->p, a->q, outputs, a->yn, a->yh, a->yw, a->yc), 2) &&
           nnrti_mcu_holds(step, 3, pixels, 2) &&
           nnrti_mcu16_table_holds(step, 2, nnrti_mcu_times(a->groups, channels), (form & NNRTI_MCU16_LONG) != 0) &&
           nnrti_mcu_scratch(step, (int64_t)nnrti_mcu_times(a->kh, row) * (plain ? 2 : 4));
}

NNRTI_MCU_KERNEL(conv_q16, McuConv, nnrti_mcu16_conv(a, args, call, nnrti_mcu16_gemm2, nnrti_mcu16_gemm1))
NNRTI_MCU_CHECK(conv_q16, McuConv, nnrti_mcu16_check_conv(a, step, 0))
NNRTI_MCU_KERNEL(conv_q16_long, McuConv,
                 nnrti_mcu16_conv(a, args, call, nnrti_mcu16_gemm2_long, nnrti_mcu16_gemm1_long))
NNRTI_MCU_CHECK(conv_q16_long, McuConv, nnrti_mcu16_check_conv(a, step, NNRTI_MCU16_LONG))
NNRTI_MCU_KERNEL(conv_q16_plain, McuConv, nnrti_mcu16_conv(a, args, call, NULL, nnrti_mcu16_gemm_plain))
NNRTI_MCU_CHECK(conv_q16_plain, McuConv, nnrti_mcu16_check_conv(a, step, NNRTI_MCU16_PLAIN))
NNRTI_MCU_KERNEL(conv_q16_plain_long, McuConv, nnrti_mcu16_conv(a, args, call, NULL, nnrti_mcu16_gemm_plain_long))
NNRTI_MCU_CHECK(conv_q16_plain_long, McuConv, nnrti_mcu16_check_conv(a, step, NNRTI_MCU16_PLAIN + NNRTI_MCU16_LONG))

/* ---- depthwise convolution ---- */

/* A word of weights holds a tap of four channels c0 .. c3: c0, c2, c1, c3 from its lowest byte on, or, plain, c0 .. c3.
   Taps outside x are left out. Channels that do not fill a last group of four are computed with their predecessors,
   whose results are written twice. */

/* The taps of a window inside x, and the pixel: two of them, if both have all columns. */
typedef struct nnrti_mcu16_taps {
    const int16_t *x; /* the image */
    int16_t *y;
    int32_t at;       /* element of x where the window begins */
    int32_t top, bottom, left, right;
} nnrti_mcu16_taps;

typedef struct nnrti_mcu16_quad {
    int32_t a, b, c, d;
} nnrti_mcu16_quad;

/* Adds a tap of four channels. */
NNRTI_MCU_INLINE void nnrti_mcu16_tap(nnrti_mcu16_quad *s, const int16_t *x, int32_t low, int32_t high)
{
    const int32_t p = nnrti_mcu16_two(x), q = nnrti_mcu16_two(x + 2);
    s->a = nnrti_mcu_low(p, low, s->a);
    s->b = nnrti_mcu_high(p, low, s->b);
    s->c = nnrti_mcu_low(q, high, s->c);
    s->d = nnrti_mcu_high(q, high, s->d);
}
NNRTI_MCU_INLINE void nnrti_mcu16_tap_plain(nnrti_mcu16_quad *s, const int16_t *x, const int32_t *w)
{
    s->a = nnrti_mcu16_add(s->a, x[0] * nnrti_mcu16_byte(w, 0));
    s->b = nnrti_mcu16_add(s->b, x[1] * nnrti_mcu16_byte(w, 1));
    s->c = nnrti_mcu16_add(s->c, x[2] * nnrti_mcu16_byte(w, 2));
    s->d = nnrti_mcu16_add(s->d, x[3] * nnrti_mcu16_byte(w, 3));
}

NNRTI_MCU_INLINE void nnrti_mcu16_store4(const NNRT_McuDepthwise *a, const nnrti_mcu16_quad *s, const int32_t *table,
                                         int16_t *y)
{
    y[0] = nnrti_mcu16_requantize(s->a, table, a->lo, a->hi);
    y[1] = nnrti_mcu16_requantize(s->b, table + NNRTI_MCU16_TABLE, a->lo, a->hi);
    y[2] = nnrti_mcu16_requantize(s->c, table + 2 * NNRTI_MCU16_TABLE, a->lo, a->hi);
    y[3] = nnrti_mcu16_requantize(s->d, table + 3 * NNRTI_MCU16_TABLE, a->lo, a->hi);
}

/* The channels of one or two adjacent pixels. */
NNRTI_MCU_INLINE void nnrti_mcu16_depthwise_pixel(const NNRT_McuDepthwise *a, const nnrti_mcu16_taps *t,
                                                  const int32_t *w, const int32_t *table, const int form,
                                                  const int pixels)
{
    const int32_t C = a->c, kw = a->kw, next = a->sw * a->xw, rows = a->dh * a->xh, columns = a->dw * a->xw;
    const int32_t top = t->top, bottom = t->bottom, left = t->left, count = t->right - left;
    const int16_t *const x = t->x + (t->at + top * rows + left * columns);
    w += top * kw + left;
    for (int32_t c = 0; c < C; c += 4, w += a->kh * kw, table += 4 * NNRTI_MCU16_TABLE) {
        const int32_t first = c + 4 <= C ? c : C - 4;
        const int16_t *row = x + first;
        const int32_t *taps = w;
        nnrti_mcu16_quad s, v;
        s.a = v.a = table[0];
        s.b = v.b = table[NNRTI_MCU16_TABLE];
        s.c = v.c = table[2 * NNRTI_MCU16_TABLE];
        s.d = v.d = table[3 * NNRTI_MCU16_TABLE];
        for (int32_t i = top; i < bottom; i++, row += rows, taps += kw) {
            const int16_t *at = row;
            for (const int32_t *tap = taps, *const end = taps + count; tap != end; tap++, at += columns) {
                int32_t low, high;
                if ((form & NNRTI_MCU16_PLAIN) != 0) {
                    nnrti_mcu16_tap_plain(&s, at, tap);
                    continue;
                }
                low = nnrti_mcu_even(*tap, false);
                high = nnrti_mcu_odd(*tap, false);
                nnrti_mcu16_tap(&s, at, low, high);
                NNRTI_MCU_FENCE(); /* the loads of both pixels at once need more registers than there are */
                if (pixels > 1)
                    nnrti_mcu16_tap(&v, at + next, low, high);
            }
        }
        nnrti_mcu16_store4(a, &s, table, t->y + first);
        if (pixels > 1)
            nnrti_mcu16_store4(a, &v, table, t->y + a->yw + first);
    }
}

typedef void (*nnrti_mcu16_pixel_of)(const NNRT_McuDepthwise *a, const nnrti_mcu16_taps *t, const int32_t *w,
                                     const int32_t *table);

/* *first, *end = the taps i, of k, for which 0 <= at + i * dilation < size. */
NNRTI_MCU_INLINE void nnrti_mcu16_inside(int32_t at, int32_t dilation, int32_t k, int32_t size, int32_t *first,
                                         int32_t *end)
{
    int32_t from = 0, to = k;
    while (from < to && at + from * dilation < 0)
        from++;
    while (to > from && at + (to - 1) * dilation >= size)
        to--;
    *first = from;
    *end = to;
}

/* The convolution. pixel2, pixel1: the microkernels for two adjacent pixels (NULL: there is none) and for one. */
NNRTI_MCU_INLINE NNRT_ReturnCode nnrti_mcu16_depthwise(const NNRT_McuDepthwise *a, nnrt_view *args,
                                                       nnrti_mcu16_pixel_of pixel2, nnrti_mcu16_pixel_of pixel1)
{
    const int32_t *const w = (const int32_t *)args[1].data, *const table = (const int32_t *)args[2].data;
    const int32_t span = (a->kw - 1) * a->dw;
    for (int32_t n = 0; n < a->n; n++)
        for (int32_t p = 0; p < a->p; p++) {
            const int32_t h = p * a->sh - a->top;
            nnrti_mcu16_taps t;
            t.x = (const int16_t *)args[0].data + n * a->xn;
            t.y = (int16_t *)args[3].data + n * a->yn + p * a->yh;
            nnrti_mcu16_inside(h, a->dh, a->kh, a->h, &t.top, &t.bottom);
            for (int32_t q = 0, pixels; q < a->q; q += pixels, t.y += pixels * a->yw) {
                const int32_t column = q * a->sw - a->left;
                t.at = h * a->xh + column * a->xw;
                pixels = pixel2 != NULL && q + 1 < a->q && column >= 0 && column + a->sw + span < a->w ? 2 : 1;
                nnrti_mcu16_inside(column, a->dw, a->kw, a->w, &t.left, &t.right);
                if (pixels == 2)
                    pixel2(a, &t, w, table);
                else
                    pixel1(a, &t, w, table);
            }
        }
    return NNRT_SUCCESS;
}

/* Generates microkernel nnrti_mcu16_<name>. */
#define NNRTI_MCU16_PIXEL(name, form, pixels)                                                                          \
    NNRTI_MCU_ONCE void nnrti_mcu16_##name(const NNRT_McuDepthwise *a, const nnrti_mcu16_taps *t, const int32_t *w,    \
                                           const int32_t *table)                                                       \
    {                                                                                                                  \
        nnrti_mcu16_depthwise_pixel(a, t, w, table, form, pixels);                                                     \
    }
NNRTI_MCU16_PIXEL(pixel2, 0, 2)
NNRTI_MCU16_PIXEL(pixel1, 0, 1)
NNRTI_MCU16_PIXEL(pixel_plain, NNRTI_MCU16_PLAIN, 1)

/* The check of these kernels, whose sums are int32. */
NNRTI_MCU_ONCE bool nnrti_mcu16_check_depthwise(const NNRT_McuDepthwise *a, const nnrt_mcu_checked *step)
{
    const int32_t quads = nnrti_mcu_padded(a->c, 4) / 4, taps = nnrti_mcu_times(a->kh, a->kw);
    return nnrti_mcu_arity(step, 1, 2, 1) && a->c >= 4 && nnrti_mcu_check_images(a, step, 3, 2, 0) &&
           nnrti_mcu_offsets_fit(a->p, a->sh, a->kh, a->dh, a->top, a->xh) &&
           nnrti_mcu_offsets_fit(a->q, a->sw, a->kw, a->dw, a->left, a->xw) && nnrti_mcu_small(a->lo, 65536) &&
           nnrti_mcu_small(a->hi, 65536) && nnrti_mcu_holds(step, 1, nnrti_mcu_times(quads, taps), 4) &&
           nnrti_mcu16_table_holds(step, 2, nnrti_mcu_times(quads, 4), false);
}

NNRTI_MCU_KERNEL(depthwise_q16, McuDepthwise,
                 ((void)call, nnrti_mcu16_depthwise(a, args, nnrti_mcu16_pixel2, nnrti_mcu16_pixel1)))
NNRTI_MCU_CHECK(depthwise_q16, McuDepthwise, nnrti_mcu16_check_depthwise(a, step))
NNRTI_MCU_KERNEL(depthwise_q16_plain, McuDepthwise,
                 ((void)call, nnrti_mcu16_depthwise(a, args, NULL, nnrti_mcu16_pixel_plain)))
NNRTI_MCU_CHECK(depthwise_q16_plain, McuDepthwise, nnrti_mcu16_check_depthwise(a, step))

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>load */

/* Opens and runs plans in files. Counts are at most NNRTI_MCU_COUNT, and regions at most NNRTI_MCU_LIMIT bytes, so that
   no sum below overflows 32 bits. */

/* The table's row of a kernel; NULL: none. */
NNRTI_MCU_ONCE const nnrt_mcu_row *nnrti_mcu_row_of(const nnrt_mcu_kernels *kernels, uint32_t number)
{
    for (uint32_t i = 0; i < kernels->count; i++)
        if (kernels->rows[i].number == number)
            return &kernels->rows[i];
    return NULL;
}

/* FNV-1a-64 of a file, with its checksum as zeros. */
NNRTI_MCU_ONCE uint64_t nnrti_mcu_checksum(const uint8_t *file, uint32_t bytes)
{
    const uint32_t zeros = (uint32_t)offsetof(nnrti_mcu_file, checksum);
    uint64_t hash = 0xCBF29CE484222325u;
    for (uint32_t i = 0; i < bytes; i++)
        hash = (hash ^ (i - zeros < 8 ? 0u : file[i])) * (uint64_t)0x100000001B3u;
    return hash;
}

/* The file's plan, of *planBytes bytes with all that follows it in its section; NULL: this is no such file, or it is
   damaged. */
NNRTI_MCU_ONCE const nnrti_mcu_plan *nnrti_mcu_find(const void *file, size_t bytes, uint32_t *planBytes)
{
    const nnrti_mcu_file *f = (const nnrti_mcu_file *)file;
    if (bytes < sizeof(*f) + sizeof(nnrti_mcu_plan) || !nnrt_file_is(file, bytes) || f->version != 1 ||
        f->header != NNRTI_MCU_FILE_HEADER || f->row != NNRTI_MCU_ROW_BYTES || f->words != 0 || f->sections == 0 ||
        f->type != NNRTI_MCU_SECTION || f->offset != sizeof(*f) || f->bytes > bytes || f->bytes > NNRTI_MCU_LIMIT ||
        f->bytes < sizeof(*f) + sizeof(nnrti_mcu_plan) || f->planBytes > f->bytes - sizeof(*f) ||
        f->planBytes < sizeof(nnrti_mcu_plan) ||
        nnrti_mcu_checksum((const uint8_t *)file, (uint32_t)f->bytes) != f->checksum)
        return NULL;
    *planBytes = (uint32_t)f->planBytes;
    return (const nnrti_mcu_plan *)(const void *)(f + 1);
}

/* Whether the records are inside the section, and a 0 byte ends the texts. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_counts(const nnrti_mcu_plan *p, uint32_t bytes)
{
    const uint32_t counts = p->nInputs | p->nOutputs | p->nSteps | p->nArgs | p->maxArgs;
    uint32_t end;
    if (counts > NNRTI_MCU_COUNT || p->arenaBytes > NNRTI_MCU_LIMIT || p->constants > bytes || p->constants % 16 != 0)
        return false;
    end = (uint32_t)(sizeof(*p) + (p->nInputs + p->nOutputs) * sizeof(nnrt_mcu_io) +
                     p->nSteps * sizeof(nnrti_mcu_step) + p->nArgs * sizeof(nnrti_mcu_arg));
    return end < p->constants && ((const uint8_t *)p)[p->constants - 1] == 0 && p->target < p->constants &&
           p->name < p->constants;
}

/* Whether an input or output has the bytes of its type and dimensions. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_io(const nnrti_mcu_plan *p, const nnrt_mcu_io *io)
{
    int32_t bytes = (int32_t)nnrt_type_size(io->dataType);
    if ((uint32_t)io->rank > 8 || io->name >= p->constants)
        return false;
    for (int32_t i = 0; i < io->rank; i++)
        bytes = nnrti_mcu_times(bytes, io->dims[i]);
    return bytes > 0 && bytes <= NNRTI_MCU_LIMIT && (uint32_t)bytes == io->bytes;
}

/* Whether an argument is inside its region, and outside the step's scratch. output: the kernel writes to it. */
NNRTI_MCU_ONCE bool nnrti_mcu_check_arg(const nnrt_mcu_checked *c, const nnrti_mcu_arg *arg, bool output)
{
    const nnrti_mcu_plan *p = c->plan;
    const uint32_t inputs = p->nInputs;
    uint32_t room, at = arg->offset;
    switch (arg->kind) {
    case NNRT_PLACE_NONE: room = 0; break;
    case NNRT_PLACE_CONSTANT: room = output ? 0 : c->constantBytes; break;
    case NNRT_PLACE_ARENA:
        room = p->arenaBytes;
        if (at < c->step->scratch + c->step->scratchBytes && c->step->scratch < (uint64_t)at + arg->bytes)
            return false;
        break;
    case NNRT_PLACE_INPUT:
    case NNRT_PLACE_OUTPUT:
        if ((arg->kind == NNRT_PLACE_INPUT) != (at < inputs) || at >= inputs + p->nOutputs || (output && at < inputs))
            return false;
        room = nnrti_mcu_ios(p)[at].bytes;
        at = 0;
        break;
    default: return false;
    }
    return arg->bytes <= room && at <= room - arg->bytes;
}

/* Checks the arguments and attributes of a step. */
NNRTI_MCU_ONCE NNRT_ReturnCode nnrti_mcu_check_step(const nnrt_mcu_checked *c, const nnrt_mcu_kernels *kernels)
{
    const nnrti_mcu_plan *p = c->plan;
    const nnrti_mcu_step *s = c->step;
    const nnrt_mcu_row *row = nnrti_mcu_row_of(kernels, s->kernel);
    const uint32_t count =
        (s->nIn | s->nDerived | s->nOut) <= NNRTI_MCU_COUNT ? s->nIn + s->nDerived + s->nOut : UINT32_MAX;
    if (row == NULL)
        return NNRT_UNSUPPORTED_OP;
    if (count > p->maxArgs || s->arg > p->nArgs || count > p->nArgs - s->arg || s->scratchBytes > p->arenaBytes ||
        s->scratch > p->arenaBytes - s->scratchBytes || row->attrBytes > p->constants ||
        s->attr > p->constants - row->attrBytes || s->attr % 4 != 0)
        return NNRT_INVALID_FILE;
    for (uint32_t k = 0; k < count; k++)
        if (!nnrti_mcu_check_arg(c, nnrti_mcu_args(p) + s->arg + k, k >= s->nIn + s->nDerived))
            return NNRT_INVALID_FILE;
    return row->check((const uint8_t *)p + s->attr, c) ? NNRT_SUCCESS : NNRT_INVALID_FILE;
}

/* Bytes of the views, which are in front of the arena. */
NNRTI_MCU_INLINE size_t nnrti_mcu_view_room(const nnrti_mcu_plan *p)
{
    return (p->maxArgs * sizeof(nnrt_view) + 7) / 8 * 8;
}

NNRT_API NNRT_ReturnCode nnrt_mcu_open(nnrt_mcu_program *program, const void *file, size_t bytes,
                                       const nnrt_mcu_kernels *kernels)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_mcu_checked c;
    if (program == NULL || file == NULL || kernels == NULL)
        return NNRT_NULL_PTR;
    program->plan = NULL;
    program->kernels = kernels;
    program->step = program->kernel = 0;
    program->memoryBytes = 0;
    if ((uintptr_t)file % 8 != 0)
        return NNRT_INVALID_PARAMETER;
    c.plan = nnrti_mcu_find(file, bytes, &c.constantBytes);
    if (c.plan == NULL)
        return NNRT_INVALID_FILE;
    if (c.plan->layout != NNRTI_MCU_LAYOUT ||
        (kernels->processor != NNRT_MCU_ANY_PROCESSOR && kernels->processor != c.plan->processor))
        return NNRT_NOT_SUPPORT;
    if (!nnrti_mcu_check_counts(c.plan, c.constantBytes))
        return NNRT_INVALID_FILE;
    c.constantBytes -= c.plan->constants;
    for (uint32_t i = 0; i < c.plan->nInputs + c.plan->nOutputs; i++)
        if (!nnrti_mcu_check_io(c.plan, &nnrti_mcu_ios(c.plan)[i]))
            return NNRT_INVALID_FILE;
    for (uint32_t i = 0; i < c.plan->nSteps && code == NNRT_SUCCESS; i++) {
        c.step = &nnrti_mcu_steps(c.plan)[i];
        program->step = i;
        program->kernel = c.step->kernel;
        code = nnrti_mcu_check_step(&c, kernels);
    }
    if (code != NNRT_SUCCESS)
        return code;
    program->step = program->kernel = 0;
    program->plan = c.plan;
    program->memoryBytes = nnrti_mcu_view_room(c.plan) + c.plan->arenaBytes;
    return NNRT_SUCCESS;
}

/* The address of an argument. */
NNRTI_MCU_INLINE void *nnrti_mcu_address(const nnrti_mcu_plan *p, const nnrti_mcu_arg *arg, uint8_t *arena,
                                         void *const *io)
{
    switch (arg->kind) {
    case NNRT_PLACE_NONE: return NULL;
    case NNRT_PLACE_CONSTANT: return (void *)((uintptr_t)p + p->constants + arg->offset);
    case NNRT_PLACE_ARENA: return arena + arg->offset;
    default: return io[arg->offset];
    }
}

NNRT_API NNRT_ReturnCode nnrt_mcu_run(const nnrt_mcu_program *program, void *memory, void *const *io)
{
    const nnrti_mcu_plan *p = program != NULL ? program->plan : NULL;
    nnrt_view *const views = (nnrt_view *)memory;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    uint8_t *arena;
    if (p == NULL || memory == NULL || io == NULL)
        return NNRT_NULL_PTR;
    arena = (uint8_t *)memory + nnrti_mcu_view_room(p);
    for (const nnrti_mcu_step *s = nnrti_mcu_steps(p), *end = s + p->nSteps; s != end && code == NNRT_SUCCESS; s++) {
        nnrt_call call;
        memset(&call, 0, sizeof(call));
        call.nIn = s->nIn;
        call.nDerived = s->nDerived;
        call.nOut = s->nOut;
        call.scratch = s->scratchBytes > 0 ? arena + s->scratch : NULL;
        call.scratchBytes = s->scratchBytes;
        for (uint32_t k = 0; k < s->nIn + s->nDerived + s->nOut; k++)
            views[k].data = nnrti_mcu_address(p, nnrti_mcu_args(p) + s->arg + k, arena, io);
        code = nnrti_mcu_row_of(program->kernels, s->kernel)->run((const uint8_t *)p + s->attr, views, &call);
    }
    return code;
}

NNRT_API bool nnrt_mcu_takes(const nnrt_mcu_program *program, uint32_t nInputs, uint32_t nOutputs,
                             const uint32_t *bytes)
{
    const nnrti_mcu_plan *p = program->plan;
    if (p == NULL || p->nInputs != nInputs || p->nOutputs != nOutputs)
        return false;
    for (uint32_t i = 0; i < nInputs + nOutputs; i++)
        if (nnrti_mcu_ios(p)[i].bytes != bytes[i])
            return false;
    return true;
}

NNRT_API const nnrt_mcu_io *nnrt_mcu_input(const nnrt_mcu_program *program, uint32_t i)
{
    const nnrti_mcu_plan *p = program->plan;
    return p != NULL && i < p->nInputs ? &nnrti_mcu_ios(p)[i] : NULL;
}

NNRT_API const nnrt_mcu_io *nnrt_mcu_output(const nnrt_mcu_program *program, uint32_t i)
{
    const nnrti_mcu_plan *p = program->plan;
    return p != NULL && i < p->nOutputs ? &nnrti_mcu_ios(p)[p->nInputs + i] : NULL;
}

NNRT_API const char *nnrt_mcu_text(const nnrt_mcu_program *program, uint32_t text)
{
    return (const char *)program->plan + text;
}

/* ================================================================================================================ */
#ifndef NNRT_FIRMWARE

NNRT_SETUP()

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>pack */

/* Instruction sets for which there are kernels. */
enum { NNRTI_MCU_PLAIN = NNRT_MCU_PLAIN, NNRTI_MCU_DSP = NNRT_MCU_DSP, NNRTI_MCU_MVE = NNRT_MCU_MVE };

typedef struct nnrti_mcu_isa {
    const char *target;
    int isa;
} nnrti_mcu_isa;

static const nnrti_mcu_isa nnrti_mcu_isas[] = {
    {"cortex-m4", NNRTI_MCU_DSP}, {"cortex-m7", NNRTI_MCU_DSP}, {"cortex-m33", NNRTI_MCU_DSP}, {"host", NNRTI_MCU_DSP},
    {"cortex-m55", NNRTI_MCU_MVE}, {"cortex-m85", NNRTI_MCU_MVE}, {"cortex-m0plus", NNRTI_MCU_PLAIN},
    {"cortex-m3", NNRTI_MCU_PLAIN}, {"rv32", NNRTI_MCU_PLAIN}};

/* State of an edit. */
typedef struct nnrti_mcu_edit {
    nnrt_draft *draft;
    const nnrti_mcu_isa *isa;
} nnrti_mcu_edit;

/* Elements of a tensor, and bytes of packed weights, stay below this, so that all offsets fit 32 bits. */
#define NNRTI_MCU_MAX_ELEMENTS ((int64_t)1 << 28)

/* A quantized product layer as a convolution: constant weights w [O,kH,kW,C/group], bias [O] or absent (NULL data). */
typedef struct nnrti_mcu_layer {
    nnrt_plan_arg x, y;
    nnrt_view w, bias, quant; /* quant: the list of the operator's rule */
    int32_t group, stride[2], dilation[2], pad[2];
} nnrti_mcu_layer;

static NNRT_ReturnCode nnrti_mcu_no_memory(const nnrti_mcu_edit *e, uint32_t s)
{
    return nnrt_error_set(e->draft->config->error, NNRT_OUT_OF_MEMORY, "no memory for the kernel of node '%s'",
                          e->draft->steps[s].name);
}

/* Weight [o,i,j,k] less its zero point. */
static int32_t nnrti_mcu_weight(const nnrt_view *w, int32_t o, int32_t i, int32_t j, int32_t k)
{
    const ptrdiff_t at = o * w->strides[0] + i * w->strides[1] + j * w->strides[2] + k * w->strides[3];
    return nnrt_load_8(w->data, at, w->dataType) - w->quant[w->quantCount > 1 ? o : 0].zeroPoint;
}

static int32_t nnrti_mcu_bias(const nnrti_mcu_layer *l, int32_t o)
{
    return l->bias.data != NULL ? ((const int32_t *)l->bias.data)[o * l->bias.strides[0]] : 0;
}

/* The largest |sum| of a channel, bias included. */
static int64_t nnrti_mcu_largest_sum(const nnrti_mcu_layer *l, int32_t o)
{
    const int32_t least = l->x.view.dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0, zero = l->x.view.quant[0].zeroPoint;
    const int64_t most = zero - least > 127 ? zero - least : least + 255 - zero, bias = nnrti_mcu_bias(l, o);
    int64_t sum = bias < 0 ? -bias : bias;
    for (int32_t i = 0; i < l->w.dims[1]; i++)
        for (int32_t j = 0; j < l->w.dims[2]; j++)
            for (int32_t k = 0; k < l->w.dims[3]; k++) {
                const int32_t v = nnrti_mcu_weight(&l->w, o, i, j, k);
                sum += most * (v < 0 ? -v : v);
            }
    return sum;
}

/* Whether nnrti_mcu_requantize is exact for the layer. */
static bool nnrti_mcu_is_exact(const nnrti_mcu_layer *l)
{
    for (int32_t o = 0; o < l->w.dims[0]; o++) {
        const int32_t *factor = nnrt_quant_factor(&l->quant, o);
        if (nnrti_mcu_largest_sum(l, o) >= (int64_t)1 << 30 || factor[0] < 0 || (factor[0] != 0 && factor[1] >= 0))
            return false;
    }
    return true;
}

/* The words of channel o in a requantization table: bias less xZero times the sum of the weights, m, shift. */
static void nnrti_mcu_table_row(const nnrti_mcu_layer *l, int32_t o, int32_t *row)
{
    const int32_t *factor = nnrt_quant_factor(&l->quant, o);
    uint32_t bias = (uint32_t)nnrti_mcu_bias(l, o);
    for (int32_t i = 0; i < l->w.dims[1]; i++)
        for (int32_t j = 0; j < l->w.dims[2]; j++)
            for (int32_t k = 0; k < l->w.dims[3]; k++)
                bias -= (uint32_t)(nnrti_mcu_weight(&l->w, o, i, j, k) * l->x.view.quant[0].zeroPoint);
    row[0] = (int32_t)bias;
    row[1] = factor[0];
    row[2] = factor[0] != 0 ? -factor[1] - 1 : 0;
}

/* Kernels of one operator by range of y: all of int8, all of uint8, any. */
typedef struct nnrti_mcu_kernel {
    nnrt_kernel run;
    const char *name;
} nnrti_mcu_kernel;
#define NNRTI_MCU_ROW(name)                                                                                            \
    {                                                                                                                  \
        nnrt_mcu_##name, "nnrt_mcu_" #name                                                                             \
    }

static int nnrti_mcu_range(const nnrt_view *quant)
{
    const int32_t *list = (const int32_t *)quant->data;
    return list[1] == -128 && list[2] == 127 ? NNRTI_MCU_S8 : list[1] == 0 && list[2] == 255 ? NNRTI_MCU_U8
                                                                                             : NNRTI_MCU_ANY;
}

/* Gives step s a kernel, whose arguments are x, two derived constants of int32, y. attr: NULL is out of memory. *packed
   and *table: the constants to fill; NULL while bytes are counted. */
static NNRT_ReturnCode nnrti_mcu_set_kernel(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                            const void *attr, const nnrt_attr_struct *described,
                                            const nnrti_mcu_layer *l, int32_t packedWords, int32_t rows, size_t scratch,
                                            int32_t **packed, int32_t **table)
{
    const int32_t words = rows * NNRTI_MCU_TABLE;
    void *data[2] = {NULL, NULL};
    nnrt_plan_arg *args = attr != NULL ? nnrt_draft_args(e->draft, s, 1, 1) : NULL;
    nnrt_draft_step *step = &e->draft->steps[s];
    NNRT_ReturnCode code;
    if (args == NULL)
        return nnrti_mcu_no_memory(e, s);
    args[0] = l->x;
    args[1] = l->y;
    step->kernel = kernel->run;
    step->kernelName = kernel->name;
    step->attr = attr;
    step->deviceAttr = described;
    step->scratchBytes = scratch;
    step->flags = 0;
    code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_INT32, 1, &packedWords, &data[0]);
    if (code == NNRT_SUCCESS)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_INT32, 1, &words, &data[1]);
    *packed = (int32_t *)data[0];
    *table = (int32_t *)data[1];
    return code;
}

/* Gives step s, whose arguments are nIn inputs and y, a kernel without derived constants. flags: the flags of the
   step that the kernel supports. */
static NNRT_ReturnCode nnrti_mcu_set_plain(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                           const void *attr, const nnrt_attr_struct *described, uint32_t nIn,
                                           uint32_t flags)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_plan_arg *old = step->args;
    const nnrt_plan_arg *y = &old[step->nIn + step->nDerived];
    nnrt_plan_arg *args = attr != NULL ? nnrt_draft_args(e->draft, s, nIn, 1) : NULL;
    if (args == NULL)
        return nnrti_mcu_no_memory(e, s);
    memcpy(args, old, nIn * sizeof(*args));
    args[nIn] = *y;
    step->kernel = kernel->run;
    step->kernelName = kernel->name;
    step->attr = attr;
    step->deviceAttr = described;
    step->scratchBytes = 0;
    step->flags &= flags;
    return NNRT_SUCCESS;
}

/* ---- convolution ---- */

/* One int16 of the packed weights: two channels, 256 * w1 + w0. */
static int32_t nnrti_mcu_pair(int32_t w0, int32_t w1)
{
    return 256 * w1 + w0;
}

/* Whether channels of the layer can be packed in pairs: the int16 exist, and sums of odd channels are below 2^23. */
static bool nnrti_mcu_can_pair(const nnrti_mcu_layer *l, int32_t outputs)
{
    for (int32_t o = 0; o < l->w.dims[0]; o++) {
        const bool odd = o % outputs % 2 != 0;
        if (odd && nnrti_mcu_largest_sum(l, o) >= (int64_t)1 << 23)
            return false;
        for (int32_t i = 0; i < l->w.dims[1]; i++)
            for (int32_t j = 0; j < l->w.dims[2]; j++)
                for (int32_t k = 0; k < l->w.dims[3]; k++) {
                    const int32_t v = nnrti_mcu_weight(&l->w, o, i, j, k);
                    if (v < -128 || v > 127 || (odd && v == -128 && nnrti_mcu_weight(&l->w, o - 1, i, j, k) < 0))
                        return false;
                }
    }
    return true;
}

/* Packs the weights of a group from channel `first` on: per panel of four channels, per pair of elements of the window,
   two words (packed) or four (wide). */
static void nnrti_mcu_pack_conv(const nnrti_mcu_layer *l, const NNRT_McuConv *a, int32_t first, bool wide, int32_t *to)
{
    const int32_t row = (a->kw * a->c + 3) / 4 * 4, panels = (a->o + 3) / 4;
    for (int32_t panel = 0; panel < panels; panel++)
        for (int32_t word = 0; word < a->words; word++) {
            int32_t w[4][2]; /* by channel and half */
            for (int32_t c = 0; c < 4; c++)
                for (int32_t half = 0; half < 2; half++) {
                    const int32_t at = word / 2 * 4 + word % 2 + 2 * half, i = at / row, k = at % row;
                    const bool in = panel * 4 + c < a->o && i < a->kh && k < a->kw * a->c;
                    w[c][half] =
                        in ? nnrti_mcu_weight(&l->w, first + panel * 4 + c, i, k / a->c, k % a->c) : 0;
                }
            for (int32_t c = 0; c < 4; c += wide ? 1 : 2) {
                const int32_t low = wide ? w[c][0] : nnrti_mcu_pair(w[c][0], w[c + 1][0]);
                const int32_t high = wide ? w[c][1] : nnrti_mcu_pair(w[c][1], w[c + 1][1]);
                *to++ = (int32_t)((uint32_t)low & 0xffff) + (int32_t)((uint32_t)high << 16);
            }
        }
}

/* Packs weights and table of all groups. The bias of an odd channel becomes that of the pair, 256 * bias1 + bias0. */
static void nnrti_mcu_pack_conv_groups(const nnrti_mcu_layer *l, const NNRT_McuConv *a, bool wide, int32_t *packed,
                                       int32_t *table)
{
    const int32_t padded = (a->o + 3) / 4 * 4;
    for (int32_t g = 0; g < a->groups; g++) {
        nnrti_mcu_pack_conv(l, a, g * a->o, wide, packed);
        packed += padded / 4 * a->words * (wide ? 4 : 2);
        for (int32_t o = 0; o < padded; o++, table += NNRTI_MCU_TABLE) {
            memset(table, 0, NNRTI_MCU_TABLE * sizeof(*table));
            if (o < a->o)
                nnrti_mcu_table_row(l, g * a->o + o, table);
            if (!wide && o % 2 != 0)
                table[0] = (int32_t)((uint32_t)table[0] * 256 + (uint32_t)table[-NNRTI_MCU_TABLE]);
        }
    }
}

/* Whether nnrti_mcu_factor_row exists for all channels. */
static bool nnrti_mcu_has_factors(const nnrti_mcu_layer *l)
{
    for (int32_t o = 0; o < l->w.dims[0]; o++) {
        const int32_t *factor = nnrt_quant_factor(&l->quant, o);
        if (factor[0] != 0 && -factor[1] - 1 > NNRTI_MCU_MAX_SHIFT &&
            nnrti_mcu_largest_sum(l, o) >= (int64_t)1 << NNRTI_MCU_MAX_SHIFT)
            return false;
    }
    return true;
}

/* Whether a layer is a depthwise convolution of channels-last images. */
static bool nnrti_mcu_is_depthwise(const nnrti_mcu_layer *l)
{
    const nnrt_view *x = &l->x.view, *y = &l->y.view;
    return l->group > 1 && l->w.dims[3] == 1 && l->w.dims[0] == l->group && x->strides[3] == 1 && y->strides[3] == 1 &&
           nnrti_mcu_has_factors(l);
}

/* How a kernel reads x while y overwrites it: from the windows of so many pixels at once, which it copies before it
   stores a result, or reads in place; rows: two rows of y at once. */
typedef struct nnrti_mcu_reading {
    int32_t pixels;
    bool copies, twoRows, backward;
} nnrti_mcu_reading;

/* How many rows of y wait in the ring (>>rows): row p, until all rows of y are computed that read x in front of its
   end, or (backward) behind its begin. `next`: the first row computed that does not. */
static int64_t nnrti_mcu_waiting(const nnrti_mcu_layer *l, bool backward)
{
    const int64_t line = l->x.view.strides[1], row = l->y.view.strides[1], P = l->y.view.dims[1], sh = l->stride[0];
    const int64_t end = (int64_t)(l->w.dims[1] - 1) * l->dilation[0] + 1 - l->pad[0], h = l->x.view.dims[1];
    int64_t most = 1, next = backward ? P : 0;
    for (int64_t p = 0; p < P && !backward; p++) {
        for (next = next > p ? next : p + 1; next < P && (next * sh - l->pad[0]) * line < (p + 1) * row;)
            next++;
        most = next - p > most ? next - p : most;
    }
    for (int64_t p = P - 1; p >= 0 && backward; p--) {
        for (next = next < p ? next : p - 1; next >= 0 && (next * sh + end < h ? next * sh + end : h) * line > p * row;)
            next--;
        most = p - next > most ? p - next : most;
    }
    return most;
}

static bool nnrti_mcu_is_output(const nnrti_mcu_edit *e, uint32_t tensor)
{
    const NNRT_Uint32List *outputs = &e->draft->model->outputIndex;
    for (uint32_t i = 0; i < outputs->count; i++)
        if (outputs->data[i] == tensor)
            return true;
    return false;
}

/* Whether a step behind step s reads a tensor. */
static bool nnrti_mcu_is_read_after(const nnrti_mcu_edit *e, uint32_t s, uint32_t tensor)
{
    for (const nnrt_draft_step *t = e->draft->steps + s + 1; t < e->draft->steps + e->draft->nSteps; t++)
        for (uint32_t k = 0; k < t->nIn && t->kernel != NULL; k++)
            if (t->args[k].tensor == tensor)
                return true;
    return false;
}

/* Whether a view is one image with adjacent elements. */
static bool nnrti_mcu_is_image(const nnrt_view *v)
{
    return v->dims[0] == 1 && v->strides[3] == 1 && v->strides[2] == v->dims[3] &&
           v->strides[1] == (ptrdiff_t)v->dims[2] * v->dims[3];
}

/* Whether y of layer l, step s, should overwrite x (NNRT_STEP_OVERLAP), because x is dead afterwards and the ring is
   smaller than the saved bytes. Sets *late and *reverse. A pixel that a kernel reads before it stores it needs no ring,
   if it is the only one, or windows are single pixels: with more channels in y than in x from the last one on. */
static bool nnrti_mcu_overlaps(const nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l,
                               const nnrti_mcu_reading *reading, int32_t *late, int32_t *reverse)
{
    const nnrt_view *x = &l->x.view, *y = &l->y.view;
    const int64_t row = y->strides[1], pixels = y->dims[2], bytes = row * y->dims[1], room = x->dims[1] * x->strides[1];
    int64_t wait, backward;
    if ((l->group > 1 && !nnrti_mcu_is_depthwise(l)) || !nnrti_mcu_is_image(x) || !nnrti_mcu_is_image(y) ||
        l->x.offset != 0 || l->y.offset != 0 || nnrt_draft_writer(e->draft, l->x.tensor) == UINT32_MAX ||
        nnrti_mcu_is_output(e, l->x.tensor) || nnrti_mcu_is_output(e, l->y.tensor) ||
        nnrti_mcu_is_read_after(e, s, l->x.tensor))
        return false;
    if (reading->copies && y->dims[1] * pixels == 1)
        return true;
    if (reading->copies && l->w.dims[1] * l->w.dims[2] == 1 && l->stride[0] * l->stride[1] == 1 && l->pad[0] == 0 &&
        l->pad[1] == 0 && y->dims[1] == x->dims[1] && y->dims[2] == x->dims[2]) {
        *reverse = y->dims[3] > x->dims[3];
        return true;
    }
    wait = nnrti_mcu_waiting(l, false);
    backward = reading->backward ? nnrti_mcu_waiting(l, true) : wait;
    *reverse = backward < wait;
    wait = backward < wait ? backward : wait;
    if (pixels % reading->pixels != 0) { /* the last pixels of a row are computed with the next rows */
        const int64_t more = (reading->pixels - 2 + pixels) / pixels;
        wait = !reading->copies ? wait + more : wait > 1 + more ? wait : 1 + more;
    }
    wait += reading->twoRows;
    if (wait * row >= (bytes < room ? bytes : room))
        return false;
    *late = (int32_t)wait;
    return true;
}

/* The attributes of a layer, without a ring. */
static NNRT_McuConv nnrti_mcu_conv_attr(const nnrti_mcu_layer *l, int32_t words)
{
    const nnrt_view *x = &l->x.view, *y = &l->y.view;
    const int32_t *list = (const int32_t *)l->quant.data, *xd = x->dims, *yd = y->dims, *wd = l->w.dims;
    const NNRT_McuConv a = {xd[0], xd[1], xd[2], wd[3], l->group, (int32_t)x->strides[0], (int32_t)x->strides[1],
                            (int32_t)x->strides[2], (int32_t)x->strides[3], yd[1], yd[2], wd[0] / l->group,
                            (int32_t)y->strides[0], (int32_t)y->strides[1], (int32_t)y->strides[2],
                            (int32_t)y->strides[3], wd[1], wd[2], l->stride[0], l->stride[1], l->dilation[0],
                            l->dilation[1], l->pad[0], l->pad[1], 0, 0, words, x->dataType == NNRT_DATA_TYPE_UINT8,
                            x->quant[0].zeroPoint, list[0], list[1], list[2]};
    return a;
}

/* The attributes of layer l in kept memory; NULL: out of memory. */
static NNRT_McuConv *nnrti_mcu_new_conv(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l, int32_t words,
                                        const nnrti_mcu_reading *reading, bool *overlaps)
{
    NNRT_McuConv *a = (NNRT_McuConv *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    NNRT_McuConv found = nnrti_mcu_conv_attr(l, words);
    *overlaps = nnrti_mcu_overlaps(e, s, l, reading, &found.late, &found.reverse);
    if (a != NULL)
        *a = found;
    return a;
}

/* Lets y of step s overwrite x, with a ring of `late` rows behind the other scratch. */
static void nnrti_mcu_set_overlap(nnrti_mcu_edit *e, uint32_t s, bool overlaps, int32_t late, int32_t rowBytes)
{
    e->draft->steps[s].flags = overlaps ? NNRT_STEP_OVERLAP : 0;
    e->draft->steps[s].scratchBytes += (size_t)late * (size_t)rowBytes;
}

/* Step s becomes a convolution by GEMM. */
static NNRT_ReturnCode nnrti_mcu_lower_conv(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(conv_dsp_s8), NNRTI_MCU_ROW(conv_dsp_u8),
                                               NNRTI_MCU_ROW(conv_dsp), NNRTI_MCU_ROW(conv_dsp_wide)};
    const int32_t *wd = l->w.dims;
    const int32_t O = wd[0] / l->group, K = wd[2] * wd[3], words = (wd[1] * ((K + 3) / 4 * 4) / 2 + 3) / 4 * 4;
    const bool wide = !nnrti_mcu_can_pair(l, O);
    const int64_t packedWords = (int64_t)l->group * ((O + 3) / 4) * words * (wide ? 4 : 2);
    const nnrti_mcu_reading reading = {2, true, false, true};
    NNRT_McuConv *a;
    int32_t *packed = NULL, *table = NULL;
    bool overlaps;
    NNRT_ReturnCode code;
    if (packedWords > NNRTI_MCU_MAX_ELEMENTS || (int64_t)words * 8 > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    a = nnrti_mcu_new_conv(e, s, l, words, &reading, &overlaps);
    code = nnrti_mcu_set_kernel(e, s, &kernels[wide ? 3 : nnrti_mcu_range(&l->quant)], a, &nnrt_attr_McuConv, l,
                                (int32_t)packedWords, l->group * ((O + 3) / 4 * 4),
                                (size_t)words * 8 + (size_t)K + (l->y.view.strides[3] == 1 ? 0 : 2 * (size_t)O),
                                &packed, &table);
    if (code == NNRT_SUCCESS)
        nnrti_mcu_set_overlap(e, s, overlaps, a->late, a->q * a->o);
    if (code == NNRT_SUCCESS && packed != NULL && table != NULL)
        nnrti_mcu_pack_conv_groups(l, a, wide, packed, table);
    return code;
}

/* ---- depthwise convolution ---- */

/* The row of nnrti_mcu_store_of for channel o. A shift that is too large gives zero for each sum, as m = 0 does. */
static void nnrti_mcu_factor_row(const nnrti_mcu_layer *l, int32_t o, int32_t *row)
{
    const int32_t *list = (const int32_t *)l->quant.data, *factor = nnrt_quant_factor(&l->quant, o);
    const bool none = factor[0] == 0 || -factor[1] - 1 > NNRTI_MCU_MAX_SHIFT;
    row[0] = none ? 0 : factor[0];
    row[2] = none ? 0 : -factor[1] - 1;
    row[1] = (2 * list[0] + 1) * (1 << row[2]);
}

/* Twice weight [o,i,j] of a filter; 0 for channels and taps that do not exist. */
static int32_t nnrti_mcu_twice_tap(const nnrti_mcu_layer *l, int32_t o, int32_t i, int32_t j)
{
    return o < l->w.dims[0] && i < l->w.dims[1] && j < l->w.dims[2] ? 2 * nnrti_mcu_weight(&l->w, o, i, j, 0) : 0;
}

/* Twice the bias of channel o, less xZero times the sum of the weights. */
static int32_t nnrti_mcu_twice_bias(const nnrti_mcu_layer *l, int32_t o)
{
    int32_t row[NNRTI_MCU_TABLE];
    nnrti_mcu_table_row(l, o, row);
    return (int32_t)(2 * (uint32_t)row[0]);
}

static int32_t nnrti_mcu_halves(int32_t low, int32_t high)
{
    return (int32_t)(((uint32_t)low & 0xffff) | (uint32_t)high << 16);
}

/* Packs the channels of the 3 x 3 kernel. */
static void nnrti_mcu_pack_depthwise3(const nnrti_mcu_layer *l, int32_t *to)
{
    for (int32_t o = 0; o < l->w.dims[0]; o++, to += NNRTI_MCU_CHANNEL) {
        for (int32_t j = 0; j < 3; j++)
            for (int32_t i = 0; i < 2; i++)
                to[2 * j + i] = nnrti_mcu_halves(nnrti_mcu_twice_tap(l, o, i, j), nnrti_mcu_twice_tap(l, o, i + 1, j));
        to[NNRTI_MCU_FILTER] = nnrti_mcu_twice_bias(l, o);
        nnrti_mcu_factor_row(l, o, to + NNRTI_MCU_FILTER + 1);
    }
}

/* Packs groups of four channels, of which the last one ends with the last channel. */
static void nnrti_mcu_pack_depthwise(const nnrti_mcu_layer *l, int32_t *to)
{
    const int32_t C = l->w.dims[0], kh = l->w.dims[1], kw = l->w.dims[2];
    for (int32_t c = 0; c < C; c += 4) {
        const int32_t first = c + 4 <= C || C < 4 ? c : C - 4;
        memset(to, 0, NNRTI_MCU_QUAD * sizeof(*to));
        for (int32_t o = first; o < first + 4 && o < C; o++) {
            to[o - first] = nnrti_mcu_twice_bias(l, o);
            nnrti_mcu_factor_row(l, o, to + 4 + NNRTI_MCU_FACTOR * (o - first));
        }
        to += NNRTI_MCU_QUAD;
        for (int32_t i = 0; i < kh; i++) {
            for (int32_t j = 0; j + 2 <= kw; j += 2)
                for (int32_t o = 0; o < 4; o++)
                    *to++ = nnrti_mcu_halves(nnrti_mcu_twice_tap(l, first + o, i, j),
                                             nnrti_mcu_twice_tap(l, first + o, i, j + 1));
            for (int32_t o = 0; o < 2 && kw % 2 != 0; o++)
                *to++ = nnrti_mcu_halves(nnrti_mcu_twice_tap(l, first + o, i, kw - 1),
                                         nnrti_mcu_twice_tap(l, first + o + 2, i, kw - 1));
        }
    }
}

/* Whether the kernel for two rows of y computes a layer. */
static bool nnrti_mcu_is_depthwise3(const nnrti_mcu_layer *l)
{
    return l->w.dims[1] == 3 && l->w.dims[2] == 3 && l->stride[0] == 1 && l->stride[1] == 1 && l->dilation[0] == 1 &&
           l->dilation[1] == 1 && l->w.dims[0] >= 4 && l->x.view.strides[2] < INT32_MAX / l->x.view.dims[2];
}

static NNRT_McuDepthwise nnrti_mcu_depthwise_attr(const nnrti_mcu_layer *l)
{
    const nnrt_view *x = &l->x.view, *y = &l->y.view;
    const int32_t *list = (const int32_t *)l->quant.data, *xd = x->dims, *yd = y->dims, *wd = l->w.dims;
    const NNRT_McuDepthwise a = {xd[0], xd[1], xd[2], wd[0], (int32_t)x->strides[0], (int32_t)x->strides[1],
                                 (int32_t)x->strides[2], yd[1], yd[2], (int32_t)y->strides[0],
                                 (int32_t)y->strides[1], (int32_t)y->strides[2], wd[1], wd[2], l->stride[0],
                                 l->stride[1], l->dilation[0], l->dilation[1], l->pad[0], l->pad[1], 0,
                                 x->dataType == NNRT_DATA_TYPE_UINT8, x->quant[0].zeroPoint, list[0], list[1],
                                 list[2]};
    return a;
}

/* The attributes of layer l in kept memory; NULL: out of memory. */
static NNRT_McuDepthwise *nnrti_mcu_new_depthwise(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l,
                                                  const nnrti_mcu_reading *reading, bool *overlaps)
{
    NNRT_McuDepthwise *a = (NNRT_McuDepthwise *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    NNRT_McuDepthwise found = nnrti_mcu_depthwise_attr(l);
    int32_t forward;
    *overlaps = nnrti_mcu_overlaps(e, s, l, reading, &found.late, &forward);
    if (a != NULL)
        *a = found;
    return a;
}

/* Step s becomes a depthwise convolution. */
static NNRT_ReturnCode nnrti_mcu_lower_depthwise(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(depthwise3_dsp_s8), NNRTI_MCU_ROW(depthwise3_dsp_u8),
                                               NNRTI_MCU_ROW(depthwise3_dsp),    NNRTI_MCU_ROW(depthwise_dsp_s8),
                                               NNRTI_MCU_ROW(depthwise_dsp_u8),  NNRTI_MCU_ROW(depthwise_dsp)};
    const nnrt_view *x = &l->x.view;
    const int32_t *xd = x->dims, *yd = l->y.view.dims, *wd = l->w.dims;
    const bool rows = nnrti_mcu_is_depthwise3(l), unrolled = wd[0] >= 4 && wd[1] == 3 && wd[2] == 3;
    const int64_t quad = NNRTI_MCU_QUAD + (int64_t)wd[1] * (wd[2] / 2 * 4 + wd[2] % 2 * 2);
    const int64_t words = rows ? (int64_t)wd[0] * NNRTI_MCU_CHANNEL : (wd[0] + 3) / 4 * quad;
    const size_t columns = (size_t)(yd[2] + 2) * NNRTI_MCU_COLUMN * sizeof(int32_t);
    const int range = unrolled ? nnrti_mcu_range(&l->quant) : NNRTI_MCU_ANY;
    const nnrti_mcu_reading reading = {1, false, rows, false};
    const int32_t count = (int32_t)words;
    NNRT_McuDepthwise *a;
    bool overlaps;
    void *packed;
    NNRT_ReturnCode code;
    if (words > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    a = nnrti_mcu_new_depthwise(e, s, l, &reading, &overlaps);
    code = nnrti_mcu_set_plain(e, s, &kernels[(rows ? 0 : 3) + range], a, &nnrt_attr_McuDepthwise, 1, 0);
    if (code != NNRT_SUCCESS)
        return code;
    e->draft->steps[s].args[1] = l->y;
    e->draft->steps[s].scratchBytes = rows ? columns + (size_t)((xd[2] - 1) * (int32_t)x->strides[2] + wd[0])
                                           : (size_t)(wd[1] * wd[2]) * (size_t)(wd[0] < 4 ? 4 : wd[0]);
    nnrti_mcu_set_overlap(e, s, overlaps, a->late, a->q * a->c);
    code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_INT32, 1, &count, &packed);
    if (code == NNRT_SUCCESS && packed != NULL) {
        if (rows)
            nnrti_mcu_pack_depthwise3(l, (int32_t *)packed);
        else
            nnrti_mcu_pack_depthwise(l, (int32_t *)packed);
    }
    return code;
}

/* ---- elementwise ---- */

/* Four nested loops over y and up to two inputs, in the order of NNRTI_MCU_WALK_1: sizes, strides of y, x and z. */
typedef struct nnrti_mcu_walk {
    int32_t d[4], y[4], x[4], z[4];
} nnrti_mcu_walk;
#define NNRTI_MCU_LIST(v) (v)[0], (v)[1], (v)[2], (v)[3]

/* The stride of operand v along axis k of y, to whose dimensions v is broadcast. */
static int32_t nnrti_mcu_stride(const nnrt_view *v, const nnrt_view *y, int32_t k)
{
    const int32_t own = k - (y->rank - v->rank);
    return own < 0 || v->dims[own] == 1 ? 0 : (int32_t)v->strides[own];
}

/* An axis of a walk: size, strides of y, x and z. */
typedef struct nnrti_mcu_axis {
    int32_t d, y, x, z;
} nnrti_mcu_axis;

/* Sorts axes by stride of y and joins axes that are adjacent in all tensors. Returns their number. */
static int32_t nnrti_mcu_join(nnrti_mcu_axis *axes, int32_t count)
{
    int32_t n = 0;
    for (int32_t k = 1; k < count; k++)
        for (int32_t l = k; l > 0 && axes[l].y > axes[l - 1].y; l--) {
            const nnrti_mcu_axis swapped = axes[l];
            axes[l] = axes[l - 1];
            axes[l - 1] = swapped;
        }
    for (int32_t k = 0; k < count; k++) {
        const nnrti_mcu_axis *at = &axes[k];
        nnrti_mcu_axis *last = &axes[n > 0 ? n - 1 : 0];
        if (n > 0 && last->y == at->d * at->y && last->x == at->d * at->x && last->z == at->d * at->z) {
            last->d *= at->d;
            last->y = at->y;
            last->x = at->x;
            last->z = at->z;
        } else
            axes[n++] = *at;
    }
    return n;
}

/* *w = the loops over y with inputs x and z (NULL: none), the longest one innermost unless adjacent elements are
   adjacent in all tensors. false: there would be more than four. */
static bool nnrti_mcu_walk_of(const nnrt_view *y, const nnrt_view *x, const nnrt_view *z, nnrti_mcu_walk *w)
{
    nnrti_mcu_axis axes[NNRT_MAX_RANK], swapped;
    int32_t n = 0, inner;
    memset(w, 0, sizeof(*w));
    for (int32_t k = 0; k < y->rank; k++)
        if (y->dims[k] != 1) {
            axes[n].d = y->dims[k];
            axes[n].y = (int32_t)y->strides[k];
            axes[n].x = nnrti_mcu_stride(x, y, k);
            axes[n++].z = z != NULL ? nnrti_mcu_stride(z, y, k) : 0;
        }
    n = nnrti_mcu_join(axes, n);
    if (n > 4)
        return false;
    inner = n - 1;
    if (n > 0 && (axes[inner].y != 1 || axes[inner].x > 1 || axes[inner].z > 1)) {
        for (int32_t k = 0; k < n; k++)
            inner = axes[k].d > axes[inner].d ? k : inner;
        swapped = axes[inner];
        axes[inner] = axes[n - 1];
        axes[n - 1] = swapped;
    }
    for (int32_t k = 0; k < 4; k++) {
        const nnrti_mcu_axis *at = k >= 4 - n ? &axes[k - (4 - n)] : NULL;
        w->d[k] = at != NULL ? at->d : 1;
        w->y[k] = at != NULL ? at->y : 0;
        w->x[k] = at != NULL ? at->x : 0;
        w->z[k] = at != NULL ? at->z : 0;
    }
    return true;
}

/* Whether a view has int8 or uint8 elements with one parameter of 8 bits. */
static bool nnrti_mcu_is_q8(const nnrt_view *v)
{
    return (v->dataType == NNRT_DATA_TYPE_INT8 || v->dataType == NNRT_DATA_TYPE_UINT8) && v->quantCount == 1 &&
           v->quant[0].numBits == 8;
}

/* Whether two views have the same elements for the same numbers. */
static bool nnrti_mcu_alike(const nnrt_view *v, const nnrt_view *w)
{
    return v->dataType == w->dataType && v->quant[0].zeroPoint == w->quant[0].zeroPoint &&
           (float)v->quant[0].scale == (float)w->quant[0].scale;
}

/* The operation of nnrti_mcu_binary that a step with two quantized inputs computes; -1: another one. *minus: SUB, or
   the smaller one. */
static int nnrti_mcu_binary_of(const nnrt_draft_step *step, bool *minus)
{
    const char *const k = step->kernelName;
    const bool each = strcmp(k, "nnrt_eltwise_q8") == 0;
    const NNRT_EltwiseMode mode = each ? ((const NNRT_Eltwise *)step->attr)->mode : NNRT_ELTWISE_MODE_UNKNOWN;
    *minus = strcmp(k, "nnrt_sub_fusion_q8") == 0 || strcmp(k, "nnrt_minimum_q8") == 0;
    if (strcmp(k, "nnrt_add_fusion_q8") == 0 || strcmp(k, "nnrt_sub_fusion_q8") == 0 || mode == NNRT_ELTWISE_MODE_SUM)
        return NNRTI_MCU_ADD;
    if (strcmp(k, "nnrt_mul_fusion_q8") == 0 || mode == NNRT_ELTWISE_MODE_PROD)
        return NNRTI_MCU_MUL;
    return strcmp(k, "nnrt_maximum_q8") == 0 || strcmp(k, "nnrt_minimum_q8") == 0 || mode == NNRT_ELTWISE_MODE_MAXIMUM
               ? NNRTI_MCU_EXTREME
               : -1;
}

/* Whether the kernels compute with a factor of ADD; whether nnrti_mcu_store_of does. */
static bool nnrti_mcu_is_term(const int32_t *factor)
{
    return factor[0] >= 0 && factor[1] <= 0 && factor[1] >= -31;
}

static bool nnrti_mcu_is_last(const int32_t *factor)
{
    return factor[0] == 0 || (factor[0] > 0 && factor[1] < 0 && -factor[1] - 1 <= NNRTI_MCU_MAX_SHIFT);
}

/* Two inputs: x, z, the list of nnrti_quant_two, y. */
static NNRT_ReturnCode nnrti_mcu_edit_binary(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(add), NNRTI_MCU_ROW(mul), NNRTI_MCU_ROW(extreme)};
    const nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *z = &step->args[1].view, *y;
    bool minus;
    const int op = nnrti_mcu_binary_of(step, &minus);
    const int32_t *list, *factors;
    nnrti_mcu_walk w;
    NNRT_McuBinary *a;
    if (op < 0 || step->nIn != 2 || step->nDerived != 1)
        return NNRT_SUCCESS;
    list = (const int32_t *)step->args[2].view.data;
    factors = list + NNRT_QUANT_FACTORS;
    y = &step->args[3].view;
    if (!nnrti_mcu_is_q8(x) || !nnrti_mcu_is_q8(z) || !nnrti_mcu_is_q8(y) || x->dataType != z->dataType ||
        !nnrti_mcu_walk_of(y, x, z, &w))
        return NNRT_SUCCESS;
    if (op == NNRTI_MCU_EXTREME ? !nnrti_mcu_alike(x, y) || !nnrti_mcu_alike(z, y)
                                : !nnrti_mcu_is_last(factors + 4))
        return NNRT_SUCCESS;
    if (op == NNRTI_MCU_ADD && (!nnrti_mcu_is_term(factors) || !nnrti_mcu_is_term(factors + 2)))
        return NNRT_SUCCESS;
    if ((a = (NNRT_McuBinary *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL) {
        const int32_t shift = factors[4] != 0 && op != NNRTI_MCU_EXTREME ? -factors[5] - 1 : 0;
        const NNRT_McuBinary found = {NNRTI_MCU_LIST(w.d),
                                      NNRTI_MCU_LIST(w.y),
                                      NNRTI_MCU_LIST(w.x),
                                      NNRTI_MCU_LIST(w.z),
                                      x->dataType == NNRT_DATA_TYPE_UINT8,
                                      minus,
                                      x->quant[0].zeroPoint,
                                      factors[0],
                                      -factors[1],
                                      z->quant[0].zeroPoint,
                                      factors[2],
                                      -factors[3],
                                      factors[4],
                                      (2 * list[0] + 1) * (1 << shift),
                                      shift,
                                      list[1],
                                      list[2]};
        *a = found;
    }
    return nnrti_mcu_set_plain(e, s, &kernels[op], a, &nnrt_attr_McuBinary, 2, NNRT_OP_INPLACE);
}

/* Fills a table: the reference kernel of step s for all stored integers of input k. Other inputs are constants. */
static bool nnrti_mcu_tabulate(const nnrt_draft_step *step, uint32_t k, uint8_t *table)
{
    const uint32_t count = step->nIn + step->nDerived + 1;
    nnrt_view views[8];
    uint8_t codes[256];
    nnrt_call call;
    memset(&call, 0, sizeof(call));
    call.nIn = step->nIn;
    call.nDerived = step->nDerived;
    call.nOut = 1;
    for (int i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    for (uint32_t i = 0; i < count; i++) {
        views[i] = step->args[i].view;
        if (i >= step->nIn && i + 1 < count) /* a derived constant */
            continue;
        views[i].rank = 1;
        views[i].dims[0] = i == k || i + 1 == count ? 256 : 1;
        views[i].strides[0] = 1;
    }
    views[k].data = codes;
    views[count - 1].data = table;
    return step->kernel(step->attr, views, &call) == NNRT_SUCCESS;
}

/* The input of a step of which y is a function, element by element, as other inputs are constants of one element; -1:
   it is no such step. */
static int nnrti_mcu_map_of(const nnrt_draft_step *step)
{
    static const char *const kernels[] = {"nnrt_activation_q8", "nnrt_quant_dtype_cast", "nnrt_add_fusion_q8",
                                          "nnrt_sub_fusion_q8", "nnrt_mul_fusion_q8",    "nnrt_div_fusion_q8",
                                          "nnrt_maximum_q8",    "nnrt_minimum_q8",       "nnrt_eltwise_q8",
                                          "nnrt_abs_q8",        "nnrt_square_q8"};
    const uint32_t count = step->nIn + step->nDerived + 1;
    bool known = false;
    int k = -1;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        known = known || strcmp(step->kernelName, kernels[i]) == 0;
    if (!known || step->nIn < 1 || step->nIn > 2 || step->nOut != 1 || count > 8 ||
        !nnrti_mcu_is_q8(&step->args[count - 1].view))
        return -1;
    for (uint32_t i = 0; i < step->nIn; i++) {
        size_t elements = 0;
        if (!nnrti_mcu_is_q8(&step->args[i].view) ||
            !nnrt_dims_count(step->args[i].view.dims, step->args[i].view.rank, &elements))
            return -1;
        if (step->args[i].kind == NNRT_PLACE_CONSTANT && elements == 1)
            continue;
        if (k >= 0)
            return -1;
        k = (int)i;
    }
    return k;
}

/* Step s becomes y = table[x], or, with table NULL, y = x. *table: to fill; NULL while bytes are counted. */
static NNRT_ReturnCode nnrti_mcu_set_map(nnrti_mcu_edit *e, uint32_t s, const nnrt_plan_arg *x, const nnrt_plan_arg *y,
                                         void **table)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(map), NNRTI_MCU_ROW(copy)};
    static const int32_t codes = 256;
    const nnrt_plan_arg from = *x, to = *y;
    nnrt_plan_arg *args = nnrt_draft_args(e->draft, s, 1, 1);
    NNRT_McuMap *a = (NNRT_McuMap *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    nnrti_mcu_walk w;
    NNRT_ReturnCode code;
    if (args == NULL || a == NULL)
        return nnrti_mcu_no_memory(e, s);
    args[0] = from;
    args[1] = to;
    if (nnrti_mcu_walk_of(&to.view, &from.view, NULL, &w)) { /* the caller has tested it */
        const NNRT_McuMap found = {NNRTI_MCU_LIST(w.d), NNRTI_MCU_LIST(w.y), NNRTI_MCU_LIST(w.x)};
        *a = found;
    }
    code = nnrti_mcu_set_plain(e, s, &kernels[table == NULL], a, &nnrt_attr_McuMap, 1, NNRT_OP_INPLACE);
    if (code == NNRT_SUCCESS && table != NULL)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_UINT8, 1, &codes, table);
    return code;
}

/* y = table[x] for input k of step s. */
static NNRT_ReturnCode nnrti_mcu_edit_map(nnrti_mcu_edit *e, uint32_t s, int k)
{
    const nnrt_draft_step old = e->draft->steps[s];
    const nnrt_plan_arg *x = &old.args[k], *y = &old.args[old.nIn + old.nDerived];
    nnrti_mcu_walk w;
    void *table = NULL;
    NNRT_ReturnCode code;
    if (!nnrti_mcu_walk_of(&y->view, &x->view, NULL, &w))
        return NNRT_SUCCESS;
    code = nnrti_mcu_set_map(e, s, x, y, &table);
    if (code == NNRT_SUCCESS && table != NULL && !nnrti_mcu_tabulate(&old, (uint32_t)k, (uint8_t *)table))
        return nnrt_error_set(e->draft->config->error, NNRT_DEVICE_ERROR, "node '%s': no table", old.name);
    return code;
}

/* y = g(f(x)), both by a table, becomes one table if nothing else reads f(x). */
static void nnrti_mcu_join_maps(nnrti_mcu_edit *e, uint32_t s)
{
    nnrt_draft_step *step = &e->draft->steps[s], *from;
    const uint32_t writer = strcmp(step->kernelName, "nnrt_mcu_map") == 0
                                ? nnrt_draft_writer(e->draft, step->args[0].tensor)
                                : UINT32_MAX;
    const nnrt_view *x, *y;
    nnrti_mcu_walk w;
    if (writer >= s || strcmp(e->draft->steps[writer].kernelName, "nnrt_mcu_map") != 0 ||
        nnrt_draft_reader(e->draft, step->args[0].tensor) != s)
        return;
    from = &e->draft->steps[writer];
    x = &step->args[0].view;
    y = &from->args[2].view;
    if (step->args[0].offset != from->args[2].offset || x->rank != y->rank ||
        memcmp(x->dims, y->dims, (size_t)x->rank * sizeof(x->dims[0])) != 0 ||
        memcmp(x->strides, y->strides, (size_t)x->rank * sizeof(x->strides[0])) != 0 ||
        !nnrti_mcu_walk_of(&step->args[2].view, &from->args[0].view, NULL, &w))
        return;
    {
        NNRT_McuMap *a = (NNRT_McuMap *)(uintptr_t)step->attr; /* kept memory of this edit */
        const NNRT_McuMap found = {NNRTI_MCU_LIST(w.d), NNRTI_MCU_LIST(w.y), NNRTI_MCU_LIST(w.x)};
        const uint8_t *f = (const uint8_t *)from->args[1].view.data;
        uint8_t *g = (uint8_t *)step->args[1].view.data, joined[256];
        *a = found;
        for (int i = 0; i < 256 && f != NULL && g != NULL; i++)
            joined[i] = g[f[i]];
        if (f != NULL && g != NULL)
            memcpy(g, joined, sizeof(joined));
    }
    step->args[0] = from->args[0];
    from->kernel = NULL;
}

/* ---- pools ---- */

/* Fills the table of a pool, which maps a mean or maximum of x to y: requantizes it, within the range of y. */
static void nnrti_mcu_pool_table(const nnrt_view *x, const nnrt_view *quant, uint8_t *table)
{
    const int32_t least = x->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0, *list = (const int32_t *)quant->data;
    for (int32_t q = least; q < least + 256; q++)
        table[(uint8_t)q] = (uint8_t)nnrt_quant_result(
            nnrt_rescale(q - x->quant[0].zeroPoint, list + NNRT_QUANT_FACTORS), list);
}

/* Step s: x, the list, y, or more outputs, which must be absent. found: its attributes but for `mapped`. */
static NNRT_ReturnCode nnrti_mcu_set_pool(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                          const NNRT_McuPool *found, bool mapped)
{
    static const int32_t codes = 256;
    const nnrt_draft_step old = e->draft->steps[s];
    NNRT_McuPool *a = (NNRT_McuPool *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    void *table = NULL;
    NNRT_ReturnCode code;
    if (a != NULL) {
        *a = *found;
        a->mapped = mapped;
    }
    code = nnrti_mcu_set_plain(e, s, kernel, a, &nnrt_attr_McuPool, 1, 0);
    if (code == NNRT_SUCCESS && mapped)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_UINT8, 1, &codes, &table);
    if (code == NNRT_SUCCESS && table != NULL)
        nnrti_mcu_pool_table(&old.args[0].view, &old.args[old.nIn].view, (uint8_t *)table);
    return code;
}

/* MAX_POOL_FUSION and AVGPOOL_FUSION. */
static NNRT_ReturnCode nnrti_mcu_edit_pool(nnrti_mcu_edit *e, uint32_t s, bool average)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(max_pool), NNRTI_MCU_ROW(average_pool)};
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_AvgPoolFusion *mean = (const NNRT_AvgPoolFusion *)step->attr;
    const NNRT_MaxPoolFusion *most = (const NNRT_MaxPoolFusion *)step->attr;
    const int64_t *k = average ? mean->kernelSize.data : most->kernelSize.data;
    const int64_t *stride = average ? mean->strides.data : most->strides.data;
    const int64_t *pad = average ? mean->pad.data : most->pad.data;
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view;
    const int32_t *list = (const int32_t *)step->args[step->nIn].view.data;
    if (step->nIn != 1 || step->nDerived != 1 ||
        (step->nOut > 1 && step->args[step->nIn + step->nDerived + 1].tensor != NNRT_NO_TENSOR) ||
        step->args[step->nIn + step->nDerived].tensor == NNRT_NO_TENSOR || !nnrti_mcu_is_q8(x) || !nnrti_mcu_is_q8(y) ||
        x->strides[3] != 1 || y->strides[3] != 1 || x->dims[3] < 4)
        return NNRT_SUCCESS;
    for (int i = 0; i < 2; i++)
        if (k[i] > (average ? 255 : INT16_MAX) || stride[i] > INT16_MAX || pad[2 * i] >= k[i])
            return NNRT_SUCCESS;
    {
        const NNRT_McuPool found = {
            x->dims[0], x->dims[1], x->dims[2], x->dims[3], (int32_t)x->strides[0], (int32_t)x->strides[1],
            (int32_t)x->strides[2], y->dims[1], y->dims[2], (int32_t)y->strides[0], (int32_t)y->strides[1],
            (int32_t)y->strides[2], (int32_t)k[0], (int32_t)k[1], (int32_t)stride[0], (int32_t)stride[1],
            (int32_t)pad[0], (int32_t)pad[2], x->dataType == NNRT_DATA_TYPE_UINT8, 0, 0, 0, 0, 0, list[1], list[2]};
        return nnrti_mcu_set_pool(e, s, &kernels[average], &found,
                                  !nnrti_mcu_alike(x, y) ||
                                      nnrti_mcu_range(&step->args[1].view) == NNRTI_MCU_ANY);
    }
}

/* The axes of x that y has (kept), or has not, without channels: joined to at most `most`. Returns their number; -1:
   there are more. */
static int32_t nnrti_mcu_reduced(const nnrt_view *x, const nnrt_view *y, bool kept, int32_t most, nnrti_mcu_axis *axes)
{
    int32_t n = 0;
    for (int32_t k = 0; k < x->rank; k++)
        if (x->dims[k] != 1 && (y->dims[k] == x->dims[k]) == kept && !(kept && x->strides[k] == 1)) {
            axes[n].d = x->dims[k];
            axes[n].y = axes[n].z = (int32_t)x->strides[k];
            axes[n].x = kept ? (int32_t)y->strides[k] : axes[n].y;
            n++;
        }
    n = nnrti_mcu_join(axes, n);
    return n <= most ? n : -1;
}

/* REDUCE_FUSION MEAN with adjacent channels, which stay: x, axes, list, y. */
static NNRT_ReturnCode nnrti_mcu_edit_mean(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernel = NNRTI_MCU_ROW(mean);
    const nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view;
    const int32_t *list;
    nnrti_mcu_axis axes[2][NNRT_MAX_RANK];
    int32_t channels = 0, kept, reduced, k, factor[2];
    int64_t cells;
    NNRT_McuPool found;
    if (((const NNRT_ReduceFusion *)step->attr)->mode != NNRT_REDUCE_MODE_MEAN || step->nDerived != 2 ||
        !nnrti_mcu_is_q8(x) || !nnrti_mcu_is_q8(y) || x->rank != y->rank)
        return NNRT_SUCCESS;
    memset(axes, 0, sizeof(axes));
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dims[i] != 1 && x->strides[i] == 1 && y->dims[i] == x->dims[i] && y->strides[i] == 1)
            channels = x->dims[i];
    kept = nnrti_mcu_reduced(x, y, true, 1, axes[0]);
    reduced = nnrti_mcu_reduced(x, y, false, 2, axes[1]);
    if (channels < 4 || kept < 0 || reduced < 1)
        return NNRT_SUCCESS;
    if (reduced == 1) { /* rows of at most 255 pixels */
        axes[1][1] = axes[1][0];
        for (axes[1][1].d = 255; axes[1][0].d % axes[1][1].d != 0;)
            axes[1][1].d--;
        axes[1][0].d /= axes[1][1].d;
        axes[1][0].y *= axes[1][1].d;
    }
    cells = (int64_t)axes[1][0].d * axes[1][1].d;
    list = (const int32_t *)step->args[step->nIn + 1].view.data;
    factor[0] = list[NNRT_QUANT_FACTORS];
    factor[1] = list[NNRT_QUANT_FACTORS + 1];
    for (k = 0; k < 31 && cells >> (k + 1) != 0; k++) {
    }
    k = k > 31 + factor[1] ? 31 + factor[1] : k;
    factor[0] = (int32_t)((uint64_t)((int64_t)factor[0] * ((int64_t)1 << k)) / (uint64_t)cells);
    factor[1] -= k;
    if (axes[1][1].d > 255 || cells > 1 << 20 || !nnrti_mcu_is_last(factor))
        return NNRT_SUCCESS;
    memset(&found, 0, sizeof(found));
    found.n = kept > 0 ? axes[0][0].d : 1;
    found.xn = axes[0][0].y;
    found.yn = axes[0][0].x;
    found.h = found.kh = axes[1][0].d;
    found.xh = axes[1][0].y;
    found.w = found.kw = axes[1][1].d;
    found.xw = axes[1][1].y;
    found.c = channels;
    found.p = found.q = found.sh = found.sw = 1;
    found.xUnsigned = x->dataType == NNRT_DATA_TYPE_UINT8;
    found.zeros = (int32_t)cells * x->quant[0].zeroPoint;
    found.m = factor[0];
    found.shift = factor[0] != 0 ? -factor[1] - 1 : 0;
    found.bias = (2 * list[0] + 1) * (1 << found.shift);
    found.lo = list[1];
    found.hi = list[2];
    return nnrti_mcu_set_pool(e, s, &kernel, &found, false);
}

/* ---- softmax ---- */

/* Whether x and y are dense and the axis of a SOFTMAX is their last one, of at least one element. */
static bool nnrti_mcu_softmax_rows(const nnrt_draft_step *step, const nnrt_view *x, const nnrt_view *y, NNRT_McuSoftmax *a)
{
    size_t count = 0;
    ptrdiff_t dense = 1;
    if ((int32_t)((const NNRT_Softmax *)step->attr)->axis.data[0] != x->rank - 1 ||
        !nnrt_dims_count(x->dims, x->rank, &count) || count == 0)
        return false;
    for (int32_t k = x->rank - 1; k >= 0; dense *= x->dims[k--])
        if (x->dims[k] != 1 && (x->strides[k] != dense || y->strides[k] != dense))
            return false;
    a->length = x->dims[x->rank - 1];
    a->rows = (int32_t)count / a->length;
    return true;
}

/* SOFTMAX of float32 over adjacent elements: x, y. */
static NNRT_ReturnCode nnrti_mcu_edit_softmax_f32(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernel = NNRTI_MCU_ROW(softmax_f32);
    const nnrt_draft_step *step = &e->draft->steps[s];
    NNRT_McuSoftmax found = {0, 0, 0, 0}, *a;
    if (step->nIn != 1 || step->nDerived != 0 || step->open != NULL ||
        !nnrti_mcu_softmax_rows(step, &step->args[0].view, &step->args[1].view, &found))
        return NNRT_SUCCESS;
    if ((a = (NNRT_McuSoftmax *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL)
        *a = found;
    return nnrti_mcu_set_plain(e, s, &kernel, a, &nnrt_attr_McuSoftmax, 1, NNRT_OP_INPLACE);
}

/* Whether the elements of a view are adjacent, in its order; *count of them. */
static bool nnrti_mcu_is_dense_view(const nnrt_view *v, size_t *count)
{
    ptrdiff_t dense = 1;
    if (!nnrt_dims_count(v->dims, v->rank, count))
        return false;
    for (int32_t k = v->rank - 1; k >= 0; dense *= v->dims[k--])
        if (v->dims[k] != 1 && v->strides[k] != dense)
            return false;
    return true;
}

/* MATMUL_NBITS of float32 and dense arguments: x, weight, scale, zero points, bias, y. With x rounded to int8 and entries of 2
   bits, and with blocks of a blockType, the reference kernel stays. */
static NNRT_ReturnCode nnrti_mcu_edit_nbits(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernels[2] = {NNRTI_MCU_ROW(matmul_nbits), NNRTI_MCU_ROW(matmul_nbits_int8)};
    const nnrt_draft_step old = e->draft->steps[s];
    const NNRT_MatMulNBits *from = (const NNRT_MatMulNBits *)old.attr;
    nnrt_plan_arg kept[6], *args;
    uint32_t count = 0;
    size_t sizes[6] = {0, 0, 0, 0, 0, 0};
    NNRT_McuNbits *a;
    nnrt_draft_step *step;
    const bool int8 = from->accuracyLevel == 4;
    if (old.nIn != 5 || old.nDerived != 0 || old.nOut != 1 || (int8 && from->bits == 2) || from->blockType != 0)
        return NNRT_SUCCESS;
    for (uint32_t i = 0; i < 6; i++) {
        if (old.args[i].tensor == NNRT_NO_TENSOR)
            continue;
        if (!nnrti_mcu_is_dense_view(&old.args[i].view, &sizes[i]) || sizes[i] == 0)
            return NNRT_SUCCESS;
        kept[count++] = old.args[i];
    }
    a = (NNRT_McuNbits *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    args = a != NULL ? nnrt_draft_args(e->draft, s, count - 1, 1) : NULL;
    if (args == NULL)
        return nnrti_mcu_no_memory(e, s);
    a->columns = (int32_t)from->columns;
    a->rows = (int32_t)(sizes[0] / (size_t)from->columns);
    a->n = (int32_t)old.args[1].view.dims[0];
    a->blockSize = (int32_t)from->blockSize;
    a->bits = (int32_t)from->bits;
    a->zero = old.args[3].tensor == NNRT_NO_TENSOR ? 0 : old.args[3].view.dataType == NNRT_DATA_TYPE_UINT8 ? 1 : 2;
    a->bias = old.args[4].tensor != NNRT_NO_TENSOR;
    memcpy(args, kept, count * sizeof(*args));
    step = &e->draft->steps[s];
    step->kernel = kernels[int8].run;
    step->kernelName = kernels[int8].name;
    step->attr = a;
    step->deviceAttr = &nnrt_attr_McuNbits;
    step->scratchBytes = int8 ? (size_t)nnrti_mcu_nbits_scratch(nnrti_mcu_nbits_blocks(a), a->blockSize) : 0;
    step->flags = 0;
    return NNRT_SUCCESS;
}

/* SOFTMAX over adjacent elements, with results in 1/256: x, powers, list, y. */
static NNRT_ReturnCode nnrti_mcu_edit_softmax(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernel = NNRTI_MCU_ROW(softmax);
    static const int32_t codes = 256;
    const nnrt_draft_step old = e->draft->steps[s];
    const nnrt_view *x = &old.args[0].view, *y = &old.args[old.nIn + old.nDerived].view;
    const int32_t *list;
    NNRT_McuSoftmax found = {0, 0, 0, 0}, *a;
    void *powers;
    NNRT_ReturnCode code;
    if (old.nIn != 1 || old.nDerived != 2 || !nnrti_mcu_is_q8(x) || !nnrti_mcu_is_q8(y) ||
        !nnrti_mcu_softmax_rows(&old, x, y, &found) || found.length > 4095)
        return NNRT_SUCCESS;
    list = (const int32_t *)old.args[2].view.data;
    if (list[NNRT_QUANT_FACTORS] != 0 || list[NNRT_QUANT_FACTORS + 1] != 1)
        return NNRT_SUCCESS;
    if ((a = (NNRT_McuSoftmax *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL) {
        *a = found;
        a->xUnsigned = x->dataType == NNRT_DATA_TYPE_UINT8;
        a->lo = list[1];
    }
    code = nnrti_mcu_set_plain(e, s, &kernel, a, &nnrt_attr_McuSoftmax, 1, NNRT_OP_INPLACE);
    if (code == NNRT_SUCCESS)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_INT32, 1, &codes, &powers);
    if (code == NNRT_SUCCESS && powers != NULL)
        memcpy(powers, old.args[1].view.data, (size_t)codes * sizeof(int32_t));
    return code;
}

/* ---- casts ---- */

/* Whether a step quantizes float32 by one scale, or the inverse. */
static bool nnrti_mcu_is_cast(const nnrt_draft_step *step, bool quantizes)
{
    const nnrt_view *x, *y;
    if (step->open != NULL || step->op == NULL || step->kernel == NULL ||
        (strcmp(step->kernelName, "nnrt_quantize_linear") != 0 &&
         strcmp(step->kernelName, "nnrt_quant_dtype_cast") != 0))
        return false;
    x = &step->args[0].view;
    y = &step->args[step->nIn + step->nDerived].view;
    return quantizes ? x->dataType == NNRT_DATA_TYPE_FLOAT32 && nnrti_mcu_is_q8(y) && (float)y->quant[0].scale > 0
                     : y->dataType == NNRT_DATA_TYPE_FLOAT32 && nnrti_mcu_is_q8(x);
}

static NNRT_ReturnCode nnrti_mcu_edit_cast(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(dequantize), NNRTI_MCU_ROW(quantize)};
    const nnrt_draft_step *step = &e->draft->steps[s];
    const bool quantizes = nnrti_mcu_is_cast(step, true);
    const nnrt_view *x = &step->args[0].view, *y = &step->args[step->nIn + step->nDerived].view, *q = quantizes ? y : x;
    nnrti_mcu_walk w;
    NNRT_McuCast *a;
    if (!nnrti_mcu_walk_of(y, x, NULL, &w))
        return NNRT_SUCCESS;
    if ((a = (NNRT_McuCast *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL) {
        const NNRT_McuCast found = {NNRTI_MCU_LIST(w.d), NNRTI_MCU_LIST(w.y), NNRTI_MCU_LIST(w.x),
                                    (float)q->quant[0].scale, q->quant[0].zeroPoint,
                                    q->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0,
                                    strcmp(step->kernelName, "nnrt_quantize_linear") == 0};
        *a = found;
    }
    return nnrti_mcu_set_plain(e, s, &kernels[quantizes], a, &nnrt_attr_McuCast, 1, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>float32_edit */

/* Whether the processor has an FPU with fused multiply-add. */
static bool nnrti_mcu_has_fpu(const nnrti_mcu_isa *isa)
{
    static const char *const targets[] = {"cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "host"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (strcmp(isa->target, targets[i]) == 0)
            return true;
    return false;
}

/* A float32 layer: x, constant weights [O,kH,kW,C/group] and bias [O], either absent (NULL data), y. */
typedef struct nnrti_mcu_layer_f32 {
    nnrt_plan_arg x, y;
    nnrt_view w, bias;
    NNRT_McuWindowF32 a;
} nnrti_mcu_layer_f32;

static float nnrti_mcu_bias_f32(const nnrti_mcu_layer_f32 *l, int32_t o)
{
    return l->bias.data != NULL ? ((const float *)l->bias.data)[o * l->bias.strides[0]] : 0.0f;
}

/* Packs a panel: the biases and weights of `width` channels, of which `count` exist, from channel `first` on. Returns
   its end. */
static float *nnrti_mcu_pack_panel_f32(const nnrti_mcu_layer_f32 *l, int32_t first, int32_t count, int32_t width,
                                       float *to)
{
    const nnrt_view *w = &l->w;
    for (int32_t c = 0; c < width; c++)
        *to++ = c < count ? nnrti_mcu_bias_f32(l, first + c) : 0.0f;
    for (int32_t i = 0; i < w->dims[1]; i++)
        for (int32_t j = 0; j < w->dims[2]; j++)
            for (int32_t k = 0; k < w->dims[3]; k++)
                for (int32_t c = 0; c < width; c++)
                    *to++ = c < count ? ((const float *)w->data)[(first + c) * w->strides[0] + i * w->strides[1] +
                                                                 j * w->strides[2] + k * w->strides[3]]
                                      : 0.0f;
    return to;
}

/* Packs all weights of a convolution (eights: nnrti_mcu_eights) or of a depthwise one. */
static void nnrti_mcu_pack_f32(const nnrti_mcu_layer_f32 *l, float *to)
{
    const NNRT_McuWindowF32 *a = &l->a;
    const int32_t eights = nnrti_mcu_eights(a->o);
    for (int32_t g = 0; g < a->groups; g++) {
        for (int32_t o = 0; o < eights; o += 8)
            to = nnrti_mcu_pack_panel_f32(l, g * a->o + o, a->o - o < 8 ? a->o - o : 8, 8, to);
        if (a->o > eights)
            to = nnrti_mcu_pack_panel_f32(l, g * a->o + eights, a->o - eights, 4, to);
    }
}

static void nnrti_mcu_pack_depthwise_f32(const nnrti_mcu_layer_f32 *l, float *to)
{
    const int32_t C = l->a.groups;
    if (!nnrti_mcu_has_panels(l->a.xc, l->a.yc, C)) {
        (void)nnrti_mcu_pack_panel_f32(l, 0, C, C, to);
        return;
    }
    for (int32_t c = 0; c < C; c += 8)
        to = nnrti_mcu_pack_panel_f32(l, c + 8 <= C ? c : C - 8, 8, 8, to);
}

/* The window attributes of a layer from its views, and its stride, dilation and padding (NULL: 1, 1 and 0). Returns
   whether all offsets fit 32 bits. */
static bool nnrti_mcu_window_attr(nnrti_mcu_layer_f32 *l, int32_t kh, int32_t kw, const int64_t *stride,
                                  const int64_t *dilation, const int64_t *pad, NNRT_ActivationType activation)
{
    const nnrt_view *x = &l->x.view, *y = &l->y.view;
    NNRT_McuWindowF32 *a = &l->a;
    const int32_t k[2] = {kh, kw};
    for (int i = 0; i < 2; i++) {
        const int64_t s = stride != NULL && y->dims[1 + i] > 1 ? stride[i] : 1;
        const int64_t d = dilation != NULL && k[i] > 1 ? dilation[i] : 1;
        const int64_t before = pad != NULL ? pad[2 * i] : 0, most = (int64_t)1 << 29;
        if (s < 1 || s > most || d < 1 || d > most || before < 0 || before > most || (k[i] - 1) * d > most ||
            (y->dims[1 + i] - 1) * s > most || d * x->strides[1 + i] > most || s * x->strides[1 + i] > most)
            return false;
        *(i == 0 ? &a->sh : &a->sw) = (int32_t)s;
        *(i == 0 ? &a->dh : &a->dw) = (int32_t)d;
        *(i == 0 ? &a->top : &a->left) = (int32_t)before;
    }
    a->n = x->dims[0];
    a->h = x->dims[1];
    a->w = x->dims[2];
    a->xn = (int32_t)x->strides[0];
    a->xh = (int32_t)x->strides[1];
    a->xw = (int32_t)x->strides[2];
    a->xc = (int32_t)x->strides[3];
    a->p = y->dims[1];
    a->q = y->dims[2];
    a->yn = (int32_t)y->strides[0];
    a->yh = (int32_t)y->strides[1];
    a->yw = (int32_t)y->strides[2];
    a->yc = (int32_t)y->strides[3];
    a->kh = kh;
    a->kw = kw;
    a->activation = (int32_t)activation;
    return true;
}

/* A pointwise convolution without stride and padding as one of a single row, if rows of x and y follow each other. */
static void nnrti_mcu_flatten_f32(NNRT_McuWindowF32 *a)
{
    if (a->kh > 1 || a->kw > 1 || a->p != a->h || a->q != a->w || a->sh > 1 || a->sw > 1 || a->top > 0 || a->left > 0)
        return;
    if (a->h > 1 && a->xh == a->w * a->xw && a->yh == a->q * a->yw) {
        a->w *= a->h;
        a->q *= a->p;
        a->h = a->p = 1;
    }
    if (a->h == 1 && a->n > 1 && a->xn == a->w * a->xw && a->yn == a->q * a->yw) {
        a->w *= a->n;
        a->q *= a->n;
        a->n = 1;
    }
}

/* Gives step s a kernel, whose arguments are x, packed weights (count 0: none), y. *packed: to fill; NULL while bytes
   are counted. */
static NNRT_ReturnCode nnrti_mcu_set_kernel_f32(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                                const nnrti_mcu_layer_f32 *l, int32_t count, size_t scratch,
                                                float **packed)
{
    NNRT_McuWindowF32 *a = (NNRT_McuWindowF32 *)nnrt_memory_keep(e->draft->memory, sizeof(*a));
    nnrt_plan_arg *args = nnrt_draft_args(e->draft, s, 1, 1);
    nnrt_draft_step *step = &e->draft->steps[s];
    void *data = NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (a == NULL || args == NULL)
        return nnrti_mcu_no_memory(e, s);
    *a = l->a;
    args[0] = l->x;
    args[1] = l->y;
    step->kernel = kernel->run;
    step->kernelName = kernel->name;
    step->attr = a;
    step->deviceAttr = &nnrt_attr_McuWindowF32;
    step->scratchBytes = scratch;
    step->flags = 0;
    if (count > 0)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_FLOAT32, 1, &count, &data);
    *packed = (float *)data;
    return code;
}

/* Whether all kernels have this activation. */
static bool nnrti_mcu_is_clamp(int32_t activation)
{
    return activation == NNRT_ACTIVATION_TYPE_NO_ACTIVATION || activation == NNRT_ACTIVATION_TYPE_LINEAR ||
           activation == NNRT_ACTIVATION_TYPE_RELU || activation == NNRT_ACTIVATION_TYPE_RELU6 ||
           activation == NNRT_ACTIVATION_TYPE_RELU1;
}

/* Step s becomes a convolution or a depthwise one. */
static NNRT_ReturnCode nnrti_mcu_lower_f32(nnrti_mcu_edit *e, uint32_t s, nnrti_mcu_layer_f32 *l)
{
    static const nnrti_mcu_kernel kernels[2][2] = {{NNRTI_MCU_ROW(conv_f32), NNRTI_MCU_ROW(conv_any_f32)},
                                                   {NNRTI_MCU_ROW(depthwise_f32), NNRTI_MCU_ROW(depthwise_any_f32)}};
    NNRT_McuWindowF32 *a = &l->a;
    const int32_t eights = nnrti_mcu_eights(a->o);
    const int64_t size = (int64_t)a->kh * a->kw * a->c;
    const bool alone = a->groups > 1 && a->c == 1 && a->o == 1, panels = nnrti_mcu_has_panels(a->xc, a->yc, a->groups);
    const int64_t channels = alone ? (panels ? (a->groups + 7) / 8 * 8 : a->groups)
                                   : (int64_t)a->groups * (a->o > eights ? eights + 4 : eights);
    float *packed;
    NNRT_ReturnCode code;
    if (size > NNRTI_MCU_MAX_ELEMENTS / 8 || channels * (size + 1) > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    if (!alone)
        nnrti_mcu_flatten_f32(a);
    code = nnrti_mcu_set_kernel_f32(e, s, &kernels[alone][!nnrti_mcu_is_clamp(a->activation)], l,
                                    (int32_t)(channels * (size + 1)),
                                    alone || nnrti_mcu_is_dense(a) ? 0 : 2 * (size_t)size * sizeof(float), &packed);
    if (code != NNRT_SUCCESS || packed == NULL)
        return code;
    if (alone)
        nnrti_mcu_pack_depthwise_f32(l, packed);
    else
        nnrti_mcu_pack_f32(l, packed);
    return NNRT_SUCCESS;
}

/* *l = the operands of a step whose arguments are x, weights, bias, y; false: weights or bias are no constants. */
static bool nnrti_mcu_read_f32(const nnrt_draft_step *step, nnrti_mcu_layer_f32 *l)
{
    const bool biased = step->args[2].tensor != NNRT_NO_TENSOR;
    memset(l, 0, sizeof(*l));
    if (step->nIn != 3 || step->nDerived != 0 || step->args[1].kind != NNRT_PLACE_CONSTANT ||
        (biased && step->args[2].kind != NNRT_PLACE_CONSTANT))
        return false;
    l->x = step->args[0];
    l->w = step->args[1].view;
    if (biased)
        l->bias = step->args[2].view;
    l->y = step->args[3];
    l->a.groups = 1;
    return true;
}

static NNRT_ReturnCode nnrti_mcu_edit_conv_f32(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
    nnrti_mcu_layer_f32 l;
    if (!nnrti_mcu_read_f32(step, &l))
        return NNRT_SUCCESS;
    l.a.groups = (int32_t)attr->group;
    l.a.c = l.w.dims[3];
    l.a.o = l.w.dims[0] / l.a.groups;
    if (!nnrti_mcu_window_attr(&l, l.w.dims[1], l.w.dims[2], attr->stride.data, attr->dilation.data, attr->padList.data,
                               attr->activationType))
        return NNRT_SUCCESS;
    return nnrti_mcu_lower_f32(e, s, &l);
}

/* A matrix [rows,columns] as an image [1,1,rows,columns], or as weights [rows,1,1,columns]. */
static void nnrti_mcu_matrix_f32(nnrt_view *v, int32_t axis, int32_t rows, ptrdiff_t rowStep, int32_t columns,
                                 ptrdiff_t step)
{
    v->rank = 4;
    v->dims[0] = v->dims[1] = v->dims[2] = 1;
    v->strides[0] = v->strides[1] = v->strides[2] = 0;
    v->dims[axis] = rows;
    v->strides[axis] = rowStep;
    v->dims[3] = columns;
    v->strides[3] = step;
}

/* FULL_CONNECTION, and MATMUL_FUSION by a constant matrix: y [M,O], x [M,K], w [O,K]. */
static NNRT_ReturnCode nnrti_mcu_edit_gemm_f32(nnrti_mcu_edit *e, uint32_t s, bool transposeX, bool rowsAreO,
                                               NNRT_ActivationType activation)
{
    nnrti_mcu_layer_f32 l;
    const nnrt_view *x = &l.x.view, *y = &l.y.view, *w = &l.w;
    int32_t last, K, M = 1;
    if (!nnrti_mcu_read_f32(&e->draft->steps[s], &l) || w->rank != 2 || x->rank < 2 || y->rank != x->rank ||
        (x->rank > 2 && (transposeX || !nnrt_view_dense(x) || !nnrt_view_dense(y))))
        return NNRT_SUCCESS;
    last = x->rank - 1;
    K = w->dims[rowsAreO ? 1 : 0];
    for (int32_t i = 0; i < last; i++)
        M *= y->dims[i];
    l.a.c = K;
    l.a.o = w->dims[rowsAreO ? 0 : 1];
    nnrti_mcu_matrix_f32(&l.x.view, 2, M, x->strides[transposeX ? last : last - 1], K,
                         x->strides[transposeX ? last - 1 : last]);
    nnrti_mcu_matrix_f32(&l.y.view, 2, M, y->strides[last - 1], l.a.o, y->strides[last]);
    nnrti_mcu_matrix_f32(&l.w, 0, l.a.o, w->strides[rowsAreO ? 0 : 1], K, w->strides[rowsAreO ? 1 : 0]);
    if (!nnrti_mcu_window_attr(&l, 1, 1, NULL, NULL, NULL, activation))
        return NNRT_SUCCESS;
    return nnrti_mcu_lower_f32(e, s, &l);
}

/* MAX_POOL_FUSION without indices, AVGPOOL_FUSION. */
static NNRT_ReturnCode nnrti_mcu_edit_pool_f32(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                               const NNRT_Int64List *size, const NNRT_Int64List *strides,
                                               const NNRT_Int64List *pad, NNRT_ActivationType activation)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrti_mcu_layer_f32 l;
    float *packed;
    memset(&l, 0, sizeof(l));
    if (!nnrti_mcu_is_clamp((int32_t)activation) || step->nIn != 1 || step->nDerived != 0 ||
        step->args[1].tensor == NNRT_NO_TENSOR || (step->nOut > 1 && step->args[2].tensor != NNRT_NO_TENSOR))
        return NNRT_SUCCESS;
    l.x = step->args[0];
    l.y = step->args[1];
    l.a.groups = l.x.view.dims[3];
    l.a.c = l.a.o = 1;
    if (size->data[0] > NNRTI_MCU_MAX_ELEMENTS || size->data[1] > NNRTI_MCU_MAX_ELEMENTS ||
        !nnrti_mcu_window_attr(&l, (int32_t)size->data[0], (int32_t)size->data[1], strides->data, NULL, pad->data,
                               activation))
        return NNRT_SUCCESS;
    return nnrti_mcu_set_kernel_f32(e, s, kernel, &l, 0, 0, &packed);
}

/* The elements of three views if they are in one order without gaps; 0: they are not. */
static int32_t nnrti_mcu_count_f32(const nnrt_view *x, const nnrt_view *y, const nnrt_view *z)
{
    int64_t count = 1, last = 0;
    if (x->rank != z->rank || y->rank != z->rank)
        return 0;
    for (int32_t i = 0; i < z->rank; i++) {
        if (x->dims[i] != z->dims[i] || y->dims[i] != z->dims[i])
            return 0;
        if (z->dims[i] > 1 && (z->strides[i] < 1 || x->strides[i] != z->strides[i] || y->strides[i] != z->strides[i]))
            return 0;
        count *= z->dims[i];
        last += z->dims[i] > 1 ? (int64_t)(z->dims[i] - 1) * z->strides[i] : 0;
    }
    return last + 1 == count ? (int32_t)count : 0;
}

/* ADD_FUSION and MUL_FUSION of equal shapes. The step may be in place, as before. */
static NNRT_ReturnCode nnrti_mcu_edit_elements_f32(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                                   NNRT_ActivationType activation)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    NNRT_McuElementsF32 *a;
    if (!nnrti_mcu_is_clamp((int32_t)activation) || step->nIn != 2 || step->nDerived != 0 ||
        nnrti_mcu_count_f32(&step->args[0].view, &step->args[1].view, &step->args[2].view) == 0)
        return NNRT_SUCCESS;
    if ((a = (NNRT_McuElementsF32 *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) == NULL)
        return nnrti_mcu_no_memory(e, s);
    a->count = nnrti_mcu_count_f32(&step->args[0].view, &step->args[1].view, &step->args[2].view);
    a->activation = (int32_t)activation;
    step->kernel = kernel->run;
    step->kernelName = kernel->name;
    step->attr = a;
    step->deviceAttr = &nnrt_attr_McuElementsF32;
    step->scratchBytes = 0;
    return NNRT_SUCCESS;
}

/* Whether a static step runs this float32 kernel of the reference device. */
static bool nnrti_mcu_is_f32(const nnrt_draft_step *step, const char *kernel)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && strcmp(step->kernelName, kernel) == 0;
}

static bool nnrti_mcu_prefers_nhwc_f32(const nnrti_mcu_edit *e, const nnrt_draft_step *step)
{
    return nnrti_mcu_has_fpu(e->isa) &&
           (nnrti_mcu_is_f32(step, "nnrt_conv2d_fusion_f32") || nnrti_mcu_is_f32(step, "nnrt_max_pool_fusion_f32") ||
            nnrti_mcu_is_f32(step, "nnrt_avgpool_fusion_f32"));
}

/* Chooses a float32 kernel for step s, if there is one. */
static NNRT_ReturnCode nnrti_mcu_edit_f32(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel largest = NNRTI_MCU_ROW(max_pool_f32), average = NNRTI_MCU_ROW(average_pool_f32),
                                  add = NNRTI_MCU_ROW(add_f32), mul = NNRTI_MCU_ROW(mul_f32);
    const nnrt_draft_step *step = &e->draft->steps[s];
    if (nnrti_mcu_is_f32(step, "nnrt_conv2d_fusion_f32"))
        return nnrti_mcu_edit_conv_f32(e, s);
    if (nnrti_mcu_is_f32(step, "nnrt_full_connection_f32"))
        return nnrti_mcu_edit_gemm_f32(e, s, false, true, ((const NNRT_FullConnection *)step->attr)->activationType);
    if (nnrti_mcu_is_f32(step, "nnrt_matmul_fusion_f32")) {
        const NNRT_MatMulFusion *a = (const NNRT_MatMulFusion *)step->attr;
        return nnrti_mcu_edit_gemm_f32(e, s, a->transposeA, a->transposeB, a->activationType);
    }
    if (nnrti_mcu_is_f32(step, "nnrt_max_pool_fusion_f32")) {
        const NNRT_MaxPoolFusion *a = (const NNRT_MaxPoolFusion *)step->attr;
        return nnrti_mcu_edit_pool_f32(e, s, &largest, &a->kernelSize, &a->strides, &a->pad, a->activationType);
    }
    if (nnrti_mcu_is_f32(step, "nnrt_avgpool_fusion_f32")) {
        const NNRT_AvgPoolFusion *a = (const NNRT_AvgPoolFusion *)step->attr;
        return nnrti_mcu_edit_pool_f32(e, s, &average, &a->kernelSize, &a->strides, &a->pad, a->activationType);
    }
    if (nnrti_mcu_is_f32(step, "nnrt_add_fusion_f32"))
        return nnrti_mcu_edit_elements_f32(e, s, &add, ((const NNRT_AddFusion *)step->attr)->activationType);
    if (nnrti_mcu_is_f32(step, "nnrt_mul_fusion_f32"))
        return nnrti_mcu_edit_elements_f32(e, s, &mul, ((const NNRT_MulFusion *)step->attr)->activationType);
    return NNRT_SUCCESS;
}

/* ---- plain ---- */

/* Weight at of a window, in the order of im2col. */
static int32_t nnrti_mcu_window_weight(const nnrti_mcu_layer *l, int32_t o, int32_t at)
{
    const int32_t c = l->w.dims[3], row = l->w.dims[2] * c;
    return nnrti_mcu_weight(&l->w, o, at / row, at % row / c, at % c);
}

/* Whether the sums of all groups of two taps fit 16 bits, for x in -128 .. 127. */
static bool nnrti_mcu_can_group(const nnrti_mcu_layer *l)
{
    const int32_t taps = l->w.dims[1] * l->w.dims[2] * l->w.dims[3];
    for (int32_t o = 0; o < l->w.dims[0]; o++)
        for (int32_t at = 0; at < taps; at += 2) {
            int32_t least = 0, most = 0;
            for (int32_t i = at; i < taps && i < at + 2; i++) {
                const int32_t v = nnrti_mcu_window_weight(l, o, i);
                least += v > 0 ? -128 * v : 127 * v;
                most += v > 0 ? 127 * v : -128 * v;
            }
            if (least < INT16_MIN || most > INT16_MAX)
                return false;
        }
    return true;
}

/* Packs the weights of a group from channel `first` on, panel by panel, and its table. The first words of a panel's
   rows are the initial t and u. */
static void nnrti_mcu_pack_plain(const nnrti_mcu_layer *l, const NNRT_McuConv *a, int32_t first, bool wide, int32_t *to,
                                 int32_t *table)
{
    const int32_t taps = a->kh * a->kw * a->c, spread = wide ? 2 : 1;
    memset(table, 0, (size_t)((a->o + 1) / 2 * 2) * NNRTI_MCU_TABLE * sizeof(*table));
    for (int32_t o = 0; o < a->o; o += 2, table += 2 * NNRTI_MCU_TABLE) {
        const bool both = o + 1 < a->o;
        uint32_t sums[2] = {0, 0};
        for (int32_t word = 0; word < a->words; word++) {
            const bool in = word % spread == 0 && word / spread < taps;
            const int32_t w0 = in ? nnrti_mcu_window_weight(l, first + o, word / spread) : 0;
            const int32_t w1 = in && both ? nnrti_mcu_window_weight(l, first + o + 1, word / spread) : 0;
            *to++ = (int32_t)(((uint32_t)w1 << 16) + (uint32_t)w0);
            sums[0] += (uint32_t)w0;
            sums[1] += (uint32_t)w1;
        }
        for (int32_t i = 0; i < (both ? 2 : 1); i++) {
            nnrti_mcu_table_row(l, first + o + i, table + i * NNRTI_MCU_TABLE);
            if (a->xUnsigned)
                table[i * NNRTI_MCU_TABLE] = (int32_t)((uint32_t)table[i * NNRTI_MCU_TABLE] + 128 * sums[i]);
        }
        table[0] = (int32_t)((uint32_t)table[0] + ((uint32_t)table[NNRTI_MCU_TABLE] << 16) -
                             (uint32_t)(a->words / 2) * 0x8000u);
    }
}

static NNRT_ReturnCode nnrti_mcu_lower_conv_plain(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(conv_plain), NNRTI_MCU_ROW(conv_plain_wide)};
    const int32_t *wd = l->w.dims, panels = (wd[0] / l->group + 1) / 2, taps = wd[1] * wd[2] * wd[3];
    const bool wide = !nnrti_mcu_can_group(l);
    const int32_t words = (taps * (wide ? 2 : 1) + 3) / 4 * 4;
    const int64_t packedWords = (int64_t)l->group * panels * words;
    const nnrti_mcu_reading reading = {2, true, false, true};
    NNRT_McuConv *a;
    int32_t *packed, *table;
    bool overlaps;
    NNRT_ReturnCode code;
    if (packedWords > NNRTI_MCU_MAX_ELEMENTS || (int64_t)words * 8 > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    a = nnrti_mcu_new_conv(e, s, l, words, &reading, &overlaps);
    code = nnrti_mcu_set_kernel(e, s, &kernels[wide], a, &nnrt_attr_McuConv, l, (int32_t)packedWords,
                                l->group * panels * 2, (size_t)words * 8 + (size_t)panels * 16, &packed, &table);
    if (code == NNRT_SUCCESS)
        nnrti_mcu_set_overlap(e, s, overlaps, a->late, a->q * a->o);
    for (int32_t g = 0; g < l->group && code == NNRT_SUCCESS && packed != NULL && table != NULL; g++)
        nnrti_mcu_pack_plain(l, a, g * a->o, wide, packed + g * panels * words,
                             table + g * panels * 2 * NNRTI_MCU_TABLE);
    return code;
}

/* Packs weights and table: groups of four channels, the last one ends with the last channel. */
static void nnrti_mcu_pack_depthwise_plain(const nnrti_mcu_layer *l, int32_t *packed, int32_t *table)
{
    const int32_t C = l->w.dims[0], taps = l->w.dims[1] * l->w.dims[2];
    for (int32_t c = 0; c < C; c++)
        nnrti_mcu_table_row(l, c, table + c * NNRTI_MCU_TABLE);
    for (int32_t c = 0; c < (C + 3) / 4 * 4; c += 2) {
        const int32_t first = c / 4 * 4 + 4 <= C || C < 4 ? c : C - 4 + c % 4;
        for (int32_t t = -1; t < taps; t++)
            for (int32_t i = first; i < first + 2; i++)
                *packed++ = i >= C ? 0 : t < 0 ? table[i * NNRTI_MCU_TABLE] : nnrti_mcu_window_weight(l, i, t);
    }
}

static NNRT_ReturnCode nnrti_mcu_lower_depthwise_plain(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(depthwise_plain), NNRTI_MCU_ROW(depthwise_plain_3x3)};
    const int32_t *wd = l->w.dims, C = wd[0], taps = wd[1] * wd[2], groups = (C + 3) / 4;
    const size_t step = C < 4 ? 4 : (size_t)C;
    const nnrti_mcu_reading reading = {2, false, false, false};
    NNRT_McuDepthwise *a;
    int32_t *packed, *table;
    bool overlaps;
    NNRT_ReturnCode code;
    if ((int64_t)groups * (taps + 1) * 4 > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    a = nnrti_mcu_new_depthwise(e, s, l, &reading, &overlaps);
    code = nnrti_mcu_set_kernel(e, s, &kernels[wd[1] == 3 && wd[2] == 3], a, &nnrt_attr_McuDepthwise, l,
                                groups * (taps + 1) * 4, C, step * 9 + 2 * (size_t)taps * step, &packed, &table);
    if (code == NNRT_SUCCESS)
        nnrti_mcu_set_overlap(e, s, overlaps, a->late, a->q * a->c);
    if (code == NNRT_SUCCESS && packed != NULL && table != NULL)
        nnrti_mcu_pack_depthwise_plain(l, packed, table);
    return code;
}

/* Lowers a layer whose sums the requantization of the plain kernels holds. */
static NNRT_ReturnCode nnrti_mcu_lower_plain(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    const int32_t taps = l->w.dims[1] * l->w.dims[2] * l->w.dims[3];
    const bool depthwise = nnrti_mcu_is_depthwise(l);
    const int64_t bound = depthwise || taps < NNRTI_MCU_FEW ? NNRTI_MCU_LARGE : (int64_t)1 << 28;
    for (int32_t o = 0; o < l->w.dims[0]; o++)
        if (nnrti_mcu_largest_sum(l, o) >= bound)
            return NNRT_SUCCESS;
    return depthwise ? nnrti_mcu_lower_depthwise_plain(e, s, l) : nnrti_mcu_lower_conv_plain(e, s, l);
}

/* ---- int16 beside int8 weights ---- */

/* The bias of channel o, saturated as the operator does. */
static int64_t nnrti_mcu16_bias(const nnrti_mcu_layer *l, int32_t o)
{
    const int64_t limit = (int64_t)1 << 47;
    int64_t b;
    if (l->bias.data == NULL || l->bias.dataType == NNRT_DATA_TYPE_INT32)
        return nnrti_mcu_bias(l, o);
    b = ((const int64_t *)l->bias.data)[o * l->bias.strides[0]];
    return b < -limit ? -limit : b < limit ? b : limit - 1;
}

/* Whether sums of all channels, bias included, are int32, and their factors have the form that the kernels for these
   sums need. */
static bool nnrti_mcu16_is_short(const nnrti_mcu_layer *l)
{
    for (int32_t o = 0; o < l->w.dims[0]; o++) {
        const int32_t *factor = nnrt_quant_factor(&l->quant, o);
        const int64_t bias = nnrti_mcu16_bias(l, o);
        int64_t sum = bias < 0 ? -bias : bias;
        for (int32_t i = 0; i < l->w.dims[1]; i++)
            for (int32_t j = 0; j < l->w.dims[2]; j++)
                for (int32_t k = 0; k < l->w.dims[3]; k++) {
                    const int32_t v = nnrti_mcu_weight(&l->w, o, i, j, k);
                    sum += (int64_t)32768 * (v < 0 ? -v : v);
                }
        if (sum > INT32_MAX || (factor[0] != 0 && factor[1] < 17))
            return false;
    }
    return true;
}

/* The words of channel o in a table. */
static void nnrti_mcu16_table_row(const nnrti_mcu_layer *l, int32_t o, bool is_long, int32_t *row)
{
    const int32_t *factor = nnrt_quant_factor(&l->quant, o);
    const uint64_t bias = (uint64_t)nnrti_mcu16_bias(l, o);
    const int32_t n = factor[0] != 0 ? factor[1] : 17;
    row[0] = (int32_t)(uint32_t)bias;
    row[1] = is_long ? (int32_t)(uint32_t)(bias >> 32) : factor[0] * (1 << 16);
    row[2] = is_long ? factor[0] : 1 << (n - 17);
    row[3] = is_long ? n : n - 16;
}

/* A word of packed weights: bytes b0 .. b3, or, not plain, b0, b2, b1, b3, the first one lowest. */
static int32_t nnrti_mcu16_word(const int32_t b[4], bool plain)
{
    const uint32_t second = (uint8_t)b[plain ? 1 : 2], third = (uint8_t)b[plain ? 2 : 1];
    return (int32_t)((uint8_t)b[0] | second << 8 | third << 16 | (uint32_t)(uint8_t)b[3] << 24);
}

/* Packs the weights of a panel of four channels, of which `channels` exist, from `first` on. */
static int32_t *nnrti_mcu16_pack_panel(const nnrti_mcu_layer *l, int32_t first, int32_t channels, bool plain,
                                       int32_t *to)
{
    const int32_t C = l->w.dims[3], length = l->w.dims[2] * C;
    for (int32_t i = 0; i < l->w.dims[1]; i++)
        for (int32_t k = 0; k < length; k += plain ? 1 : 4)
            for (int32_t c = 0; c < (plain ? 1 : 4); c++) {
                int32_t b[4];
                for (int32_t m = 0; m < 4; m++) { /* plain: a channel, otherwise an element */
                    const int32_t channel = plain ? m : c, element = plain ? k : k + m;
                    b[m] = channel < channels && element < length
                               ? nnrti_mcu_weight(&l->w, first + channel, i, element / C, element % C)
                               : 0;
                }
                *to++ = nnrti_mcu16_word(b, plain);
            }
    return to;
}

/* Packs weights and table of a convolution. */
static void nnrti_mcu16_pack_conv(const nnrti_mcu_layer *l, bool plain, bool is_long, int32_t *packed, int32_t *table)
{
    const int32_t O = l->w.dims[0] / l->group;
    for (int32_t g = 0; g < l->group; g++)
        for (int32_t o = 0; o < O; o += 4) {
            packed = nnrti_mcu16_pack_panel(l, g * O + o, O - o < 4 ? O - o : 4, plain, packed);
            for (int32_t c = 0; c < 4; c++, table += NNRTI_MCU16_TABLE) {
                memset(table, 0, NNRTI_MCU16_TABLE * sizeof(*table));
                if (o + c < O)
                    nnrti_mcu16_table_row(l, g * O + o + c, is_long, table);
            }
        }
}

static void nnrti_mcu16_pack_depthwise(const nnrti_mcu_layer *l, bool plain, int32_t *packed, int32_t *table)
{
    const int32_t C = l->w.dims[0], kh = l->w.dims[1], kw = l->w.dims[2];
    for (int32_t c = 0; c < C; c += 4) {
        const int32_t first = c + 4 <= C ? c : C - 4;
        for (int32_t t = 0; t < kh * kw; t++) {
            int32_t b[4];
            for (int32_t m = 0; m < 4; m++)
                b[m] = nnrti_mcu_weight(&l->w, first + m, t / kw, t % kw, 0);
            *packed++ = nnrti_mcu16_word(b, plain);
        }
        for (int32_t m = 0; m < 4; m++, table += NNRTI_MCU16_TABLE)
            nnrti_mcu16_table_row(l, first + m, false, table);
    }
}

/* Gives step s a kernel, whose arguments are x, packed weights, table, y. attr: NULL is out of memory. *data: the
   constants to fill; NULL while bytes are counted. */
static NNRT_ReturnCode nnrti_mcu16_set_kernel(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_kernel *kernel,
                                              const void *attr, const nnrt_attr_struct *described, int32_t words,
                                              int32_t rows, int32_t **packed, int32_t **table)
{
    const int32_t tableWords = rows * NNRTI_MCU16_TABLE;
    void *data[2] = {NULL, NULL};
    NNRT_ReturnCode code = nnrti_mcu_set_plain(e, s, kernel, attr, described, 1, 0);
    if (code == NNRT_SUCCESS)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_INT32, 1, &words, &data[0]);
    if (code == NNRT_SUCCESS)
        code = nnrt_draft_derive(e->draft, s, NNRT_DATA_TYPE_INT32, 1, &tableWords, &data[1]);
    *packed = (int32_t *)data[0];
    *table = (int32_t *)data[1];
    return code;
}

static NNRT_ReturnCode nnrti_mcu16_lower_conv(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernels[2][2] = {{NNRTI_MCU_ROW(conv_q16), NNRTI_MCU_ROW(conv_q16_long)},
                                                   {NNRTI_MCU_ROW(conv_q16_plain), NNRTI_MCU_ROW(conv_q16_plain_long)}};
    const int32_t *wd = l->w.dims, O = wd[0] / l->group;
    const bool plain = e->isa->isa == NNRTI_MCU_PLAIN, is_long = !nnrti_mcu16_is_short(l);
    const int64_t length = (int64_t)wd[2] * wd[3], panels = (int64_t)l->group * ((O + 3) / 4);
    const int64_t words = wd[1] * (plain ? length : (length + 3) / 4 * 4), window = wd[1] * length;
    int32_t *packed = NULL, *table = NULL;
    NNRT_McuConv *a;
    NNRT_ReturnCode code;
    if (words > NNRTI_MCU_MAX_ELEMENTS / 4 / panels)
        return NNRT_SUCCESS;
    if ((a = (NNRT_McuConv *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL)
        *a = nnrti_mcu_conv_attr(l, (int32_t)words);
    code = nnrti_mcu16_set_kernel(e, s, &kernels[plain][is_long], a, &nnrt_attr_McuConv, (int32_t)(panels * words),
                                  (int32_t)panels * 4, &packed, &table);
    if (code != NNRT_SUCCESS)
        return code;
    e->draft->steps[s].scratchBytes = (size_t)window * sizeof(int16_t) * (plain ? 1 : 2);
    if (packed != NULL && table != NULL)
        nnrti_mcu16_pack_conv(l, plain, is_long, packed, table);
    return NNRT_SUCCESS;
}

/* Whether the kernel for depthwise convolutions computes a layer. */
static bool nnrti_mcu16_is_depthwise(const nnrti_mcu_layer *l)
{
    return l->group >= 4 && l->w.dims[3] == 1 && l->w.dims[0] == l->group && l->x.view.strides[3] == 1 &&
           l->y.view.strides[3] == 1 && nnrti_mcu16_is_short(l);
}

/* A layer of int16 becomes a convolution or a depthwise convolution. */
static NNRT_ReturnCode nnrti_mcu16_lower(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(depthwise_q16), NNRTI_MCU_ROW(depthwise_q16_plain)};
    const int32_t quads = (l->w.dims[0] + 3) / 4, words = quads * l->w.dims[1] * l->w.dims[2];
    const bool plain = e->isa->isa == NNRTI_MCU_PLAIN;
    int32_t *packed = NULL, *table = NULL;
    NNRT_McuDepthwise *a;
    NNRT_ReturnCode code;
    if (!nnrti_mcu16_is_depthwise(l))
        return nnrti_mcu16_lower_conv(e, s, l);
    if ((a = (NNRT_McuDepthwise *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL)
        *a = nnrti_mcu_depthwise_attr(l);
    code = nnrti_mcu16_set_kernel(e, s, &kernels[plain], a, &nnrt_attr_McuDepthwise, words, quads * 4, &packed, &table);
    if (code == NNRT_SUCCESS && packed != NULL && table != NULL)
        nnrti_mcu16_pack_depthwise(l, plain, packed, table);
    return code;
}

/* ---- the same for MVE ---- */

/* Channels of slots: of eight, in tables and weights of convolutions; of sixteen, in tables of depthwise ones. */
static const uint8_t nnrti_mve_slots8[] = {0, 2, 4, 6, 1, 3, 5, 7};
static const uint8_t nnrti_mve_slots16[] = {0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15};

/* Whether kernels for MVE are exact: weights are int8, and sums of any two products of a channel are int16. */
static bool nnrti_mve_can(const nnrti_mcu_edit *e, const nnrti_mcu_layer *l)
{
    const int32_t taps = l->w.dims[1] * l->w.dims[2];
    if (e->isa->isa != NNRTI_MCU_MVE)
        return false;
    for (int32_t o = 0; o < l->w.dims[0]; o++)
        for (int32_t t = 0; t < taps; t++)
            for (int32_t k = 0; k < l->w.dims[3]; k++) {
                const int32_t v = nnrti_mcu_weight(&l->w, o, t / l->w.dims[2], t % l->w.dims[2], k);
                if (v < -128 || v > 127 || (v == -128 && nnrti_mcu_is_depthwise(l)))
                    return false;
            }
    return true;
}

/* Rows of the table for the channels of one block, whose slots are given. channels: how many of them exist. */
static int32_t *nnrti_mve_pack_table(const nnrti_mcu_layer *l, int32_t first, int32_t channels, const uint8_t *slots,
                                     int32_t count, int32_t *table)
{
    for (int32_t s = 0; s < count; s++) {
        int32_t row[NNRTI_MCU_TABLE] = {0, 0, 0}, *to = table + s / 8 * NNRTI_MVE_TABLE + s % 8;
        if (slots[s] < channels)
            nnrti_mcu_table_row(l, first + slots[s], row);
        to[0] = row[0];
        to[8] = row[1];
        to[16] = row[1] != 0 ? -row[2] - 1 : 0;
    }
    return table + count / 8 * NNRTI_MVE_TABLE;
}

/* Packs the weights of a block of eight channels: per two slots and 16 elements of the window, 32 bytes. */
static uint8_t *nnrti_mve_pack_conv(const nnrti_mcu_layer *l, const NNRT_McuConv *a, int32_t first, int32_t channels,
                                    uint8_t *to)
{
    const int32_t length = a->kh * a->kw * a->c;
    for (int32_t slot = 0; slot < 8; slot += 2)
        for (int32_t k = 0; k < 4 * a->words; k += 16)
            for (int32_t i = 0; i < 32; i++) {
                const int32_t c = nnrti_mve_slots8[slot + i / 16], at = k + i % 16, tap = at / a->c;
                *to++ = c < channels && at < length
                            ? (uint8_t)nnrti_mcu_weight(&l->w, first + c, tap / a->kw, tap % a->kw, at % a->c)
                            : 0;
            }
    return to;
}

/* Packs weights and table of all groups. */
static void nnrti_mve_pack_conv_groups(const nnrti_mcu_layer *l, const NNRT_McuConv *a, uint8_t *packed, int32_t *table)
{
    for (int32_t g = 0; g < a->groups; g++)
        for (int32_t o = 0; o < a->o; o += 8) {
            packed = nnrti_mve_pack_conv(l, a, g * a->o + o, a->o - o, packed);
            table = nnrti_mve_pack_table(l, g * a->o + o, a->o - o, nnrti_mve_slots8, 8, table);
        }
}

/* Packs weights and table of a depthwise convolution: per sixteen channels and tap, 16 bytes. */
static void nnrti_mve_pack_depthwise(const nnrti_mcu_layer *l, uint8_t *packed, int32_t *table)
{
    const int32_t C = l->w.dims[0], kw = l->w.dims[2];
    for (int32_t c = 0; c < C; c += 16) {
        const int32_t first = c + 16 <= C || C < 16 ? c : C - 16;
        for (int32_t t = 0; t < l->w.dims[1] * kw; t++)
            for (int32_t i = 0; i < 16; i++)
                *packed++ = first + i < C ? (uint8_t)nnrti_mcu_weight(&l->w, first + i, t / kw, t % kw, 0) : 0;
        table = nnrti_mve_pack_table(l, first, C - first, nnrti_mve_slots16, 16, table);
    }
}

/* The layer with an x of int8, whose zero point is 128 less if x is uint8. param: that of x. */
static nnrti_mcu_layer nnrti_mve_as_int8(const nnrti_mcu_layer *l, NNRT_QuantParam *param)
{
    nnrti_mcu_layer y = *l;
    *param = l->x.view.quant[0];
    if (l->x.view.dataType == NNRT_DATA_TYPE_UINT8)
        param->zeroPoint -= 128;
    y.x.view.quant = param;
    return y;
}

/* Step s becomes a convolution by GEMM with MVE. */
static NNRT_ReturnCode nnrti_mve_lower_conv(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernel = NNRTI_MCU_ROW(conv_mve);
    const int32_t *wd = l->w.dims, O = wd[0] / l->group, blocks = l->group * ((O + 7) / 8);
    const int32_t words = (wd[1] * wd[2] * wd[3] + 15) / 16 * 4;
    const int64_t packedWords = (int64_t)blocks * words * 8;
    const nnrti_mcu_reading reading = {3, false, false, true};
    NNRT_QuantParam param;
    const nnrti_mcu_layer flipped = nnrti_mve_as_int8(l, &param);
    NNRT_McuConv *a;
    int32_t *packed, *table;
    bool overlaps;
    NNRT_ReturnCode code;
    if (packedWords > NNRTI_MCU_MAX_ELEMENTS || (int64_t)words * 12 > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    a = nnrti_mcu_new_conv(e, s, l, words, &reading, &overlaps);
    code = nnrti_mcu_set_kernel(e, s, &kernel, a, &nnrt_attr_McuConv, l, (int32_t)packedWords, blocks * 8,
                                24 * sizeof(int32_t) + (size_t)words * 12 + 16 +
                                    (l->y.view.strides[3] == 1 ? 0 : 3 * (size_t)O),
                                &packed, &table);
    if (code == NNRT_SUCCESS)
        nnrti_mcu_set_overlap(e, s, overlaps, a->late, a->q * a->o);
    if (code == NNRT_SUCCESS && packed != NULL && table != NULL)
        nnrti_mve_pack_conv_groups(&flipped, a, (uint8_t *)packed, table);
    return code;
}

/* Step s becomes a depthwise convolution with MVE. */
static NNRT_ReturnCode nnrti_mve_lower_depthwise(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    static const nnrti_mcu_kernel kernel = NNRTI_MCU_ROW(depthwise_mve);
    const int32_t C = l->w.dims[0], taps = l->w.dims[1] * l->w.dims[2], blocks = (C + 15) / 16;
    const nnrti_mcu_reading reading = {1, false, false, false};
    NNRT_QuantParam param;
    const nnrti_mcu_layer flipped = nnrti_mve_as_int8(l, &param);
    NNRT_McuDepthwise *a;
    int32_t *packed, *table;
    bool overlaps;
    NNRT_ReturnCode code;
    if ((int64_t)blocks * taps * 16 > NNRTI_MCU_MAX_ELEMENTS)
        return NNRT_SUCCESS;
    a = nnrti_mcu_new_depthwise(e, s, l, &reading, &overlaps);
    code = nnrti_mcu_set_kernel(e, s, &kernel, a, &nnrt_attr_McuDepthwise, l, blocks * taps * 4, blocks * 16,
                                (size_t)taps * (C < 16 ? 24 : 8) + (size_t)blocks * 16, &packed, &table);
    if (code == NNRT_SUCCESS)
        nnrti_mcu_set_overlap(e, s, overlaps, a->late, a->q * a->c);
    if (code == NNRT_SUCCESS && packed != NULL && table != NULL)
        nnrti_mve_pack_depthwise(&flipped, (uint8_t *)packed, table);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>edit */

/* Whether a step computes with int8 or uint8 by this kernel of the reference device. */
static bool nnrti_mcu_is(const nnrt_draft_step *step, const char *kernel)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && strcmp(step->kernelName, kernel) == 0 &&
           step->args[0].view.quantCount == 1 && step->args[0].kind != NNRT_PLACE_CONSTANT;
}

/* Whether all tensors of a step are small enough, and none is empty. */
static bool nnrti_mcu_fits(const nnrt_draft_step *step)
{
    for (uint32_t k = 0; k < step->nIn + step->nDerived + step->nOut; k++) {
        size_t count = 1;
        if (step->args[k].tensor != NNRT_NO_TENSOR &&
            (!nnrt_dims_count(step->args[k].view.dims, step->args[k].view.rank, &count) || count == 0 ||
             count > (size_t)NNRTI_MCU_MAX_ELEMENTS))
            return false;
    }
    return true;
}

/* Whether x has the shape and the layout of y, and elements of y are adjacent, in any order of axes. */
static bool nnrti_mve_is_same(const nnrt_view *x, const nnrt_view *y)
{
    int64_t count = 1, last = 0;
    if (x->rank != y->rank || x->quantCount != 1)
        return false;
    for (int32_t i = 0; i < y->rank; i++) {
        if (x->dims[i] != y->dims[i] || (x->dims[i] > 1 && (x->strides[i] != y->strides[i] || x->strides[i] <= 0)))
            return false;
        count *= y->dims[i];
        last += (int64_t)(y->dims[i] - 1) * y->strides[i];
    }
    return last + 1 == count;
}

static NNRT_ReturnCode nnrti_mve_edit_add(nnrti_mcu_edit *e, uint32_t s)
{
    static const nnrti_mcu_kernel kernel = NNRTI_MCU_ROW(add_mve);
    const nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *z = &step->args[1].view, *y = &step->args[3].view;
    const int32_t *list = (const int32_t *)step->args[2].view.data, *factor = list + NNRT_QUANT_FACTORS;
    size_t count = 1;
    NNRT_McuAddMve *a;
    if (step->nIn != 2 || step->nDerived != 1 || !nnrti_mve_is_same(x, y) || !nnrti_mve_is_same(z, y) ||
        z->quantCount != 1 || y->quantCount != 1 || !nnrt_dims_count(y->dims, y->rank, &count))
        return NNRT_SUCCESS;
    for (int k = 0; k < 3; k++)
        if (factor[2 * k] < 0 || factor[2 * k + 1] > 0)
            return NNRT_SUCCESS;
    if ((a = (NNRT_McuAddMve *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL) {
        const NNRT_McuAddMve found = {(int32_t)count,
                                      x->dataType == NNRT_DATA_TYPE_UINT8,
                                      x->quant[0].zeroPoint,
                                      factor[0],
                                      factor[1],
                                      z->dataType == NNRT_DATA_TYPE_UINT8,
                                      z->quant[0].zeroPoint,
                                      factor[2],
                                      factor[3],
                                      factor[4],
                                      factor[5],
                                      list[0],
                                      list[1],
                                      list[2]};
        *a = found;
    }
    return nnrti_mcu_set_plain(e, s, &kernel, a, &nnrt_attr_McuAddMve, 2, NNRT_OP_INPLACE);
}

/* kernelSize, strides, pad: resolved attributes of the operator. */
static NNRT_ReturnCode nnrti_mve_edit_pool(nnrti_mcu_edit *e, uint32_t s, const int64_t *kernelSize,
                                           const int64_t *strides, const int64_t *pad, bool mean)
{
    static const nnrti_mcu_kernel kernels[] = {NNRTI_MCU_ROW(max_pool_mve), NNRTI_MCU_ROW(average_pool_mve)};
    const nnrt_draft_step *step = &e->draft->steps[s];
    const nnrt_view *x = &step->args[0].view, *y = &step->args[2].view;
    const int32_t *list = (const int32_t *)step->args[1].view.data;
    NNRT_McuPoolMve *a;
    if (step->nIn != 1 || step->nDerived != 1 || step->args[2].tensor == NNRT_NO_TENSOR ||
        (step->nOut > 1 && step->args[3].tensor != NNRT_NO_TENSOR) || x->rank != 4 || x->strides[3] != 1 ||
        y->strides[3] != 1 || x->dataType != y->dataType || list[0] != x->quant[0].zeroPoint ||
        list[NNRT_QUANT_FACTORS] != 1 << 30 || list[NNRT_QUANT_FACTORS + 1] != 1)
        return NNRT_SUCCESS;
    for (int i = 0; i < 2; i++) /* sums of the stored integers, and of a row in int16 */
        if (kernelSize[i] > 128 || strides[i] > INT16_MAX || pad[2 * i] >= kernelSize[i] ||
            (y->dims[1 + i] - 1) * strides[i] - pad[2 * i] >= x->dims[1 + i])
            return NNRT_SUCCESS;
    if ((a = (NNRT_McuPoolMve *)nnrt_memory_keep(e->draft->memory, sizeof(*a))) != NULL) {
        const NNRT_McuPoolMve found = {x->dims[0],
                                       x->dims[1],
                                       x->dims[2],
                                       x->dims[3],
                                       (int32_t)x->strides[0],
                                       (int32_t)x->strides[1],
                                       (int32_t)x->strides[2],
                                       y->dims[1],
                                       y->dims[2],
                                       (int32_t)y->strides[0],
                                       (int32_t)y->strides[1],
                                       (int32_t)y->strides[2],
                                       (int32_t)kernelSize[0],
                                       (int32_t)kernelSize[1],
                                       (int32_t)strides[0],
                                       (int32_t)strides[1],
                                       (int32_t)pad[0],
                                       (int32_t)pad[2],
                                       x->dataType == NNRT_DATA_TYPE_UINT8,
                                       list[1],
                                       list[2]};
        *a = found;
    }
    return nnrti_mcu_set_plain(e, s, &kernels[mean], a, &nnrt_attr_McuPoolMve, 1, 0);
}

/* Elementwise operators and pools. */
static NNRT_ReturnCode nnrti_mve_edit(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    if (nnrti_mcu_is(step, "nnrt_add_fusion_q8"))
        return nnrti_mve_edit_add(e, s);
    if (nnrti_mcu_is(step, "nnrt_max_pool_fusion_q8")) {
        const NNRT_MaxPoolFusion *m = (const NNRT_MaxPoolFusion *)step->attr;
        return nnrti_mve_edit_pool(e, s, m->kernelSize.data, m->strides.data, m->pad.data, false);
    }
    if (nnrti_mcu_is(step, "nnrt_avgpool_fusion_q8")) {
        const NNRT_AvgPoolFusion *m = (const NNRT_AvgPoolFusion *)step->attr;
        return nnrti_mve_edit_pool(e, s, m->kernelSize.data, m->strides.data, m->pad.data, true);
    }
    return NNRT_SUCCESS;
}

/* *l = the operands of a product layer, whose arguments are x, weights, bias, quant, y; false: its weights or bias are
   no constants. */
static bool nnrti_mcu_read_layer(const nnrt_draft_step *step, nnrti_mcu_layer *l)
{
    const bool biased = step->args[2].tensor != NNRT_NO_TENSOR;
    memset(l, 0, sizeof(*l));
    if (step->nIn != 3 || step->nDerived != 1 || step->args[1].kind != NNRT_PLACE_CONSTANT ||
        (biased && step->args[2].kind != NNRT_PLACE_CONSTANT))
        return false;
    l->x = step->args[0];
    l->w = step->args[1].view;
    if (biased)
        l->bias = step->args[2].view;
    l->quant = step->args[3].view;
    l->y = step->args[4];
    l->group = l->stride[0] = l->stride[1] = l->dilation[0] = l->dilation[1] = 1;
    return true;
}

/* Reads resolved attributes of a convolution into l; false: they are too large. */
static bool nnrti_mcu_read_windows(nnrti_mcu_layer *l, const int64_t *stride, const int64_t *dilation,
                                   const int64_t *pad, int64_t group)
{
    for (int i = 0; i < 2; i++) {
        if (stride[i] > INT16_MAX || dilation[i] > INT16_MAX || pad[2 * i] > INT16_MAX || l->w.dims[1 + i] > INT16_MAX)
            return false;
        l->stride[i] = (int32_t)stride[i];
        l->dilation[i] = (int32_t)dilation[i];
        l->pad[i] = (int32_t)pad[2 * i];
    }
    l->group = (int32_t)group;
    return true;
}

/* Step s becomes the convolution l, if a kernel computes it exactly. */
static NNRT_ReturnCode nnrti_mcu_lower(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    if (l->x.view.dataType == NNRT_DATA_TYPE_INT16)
        return nnrti_mcu16_lower(e, s, l);
    if (!nnrti_mcu_is_exact(l))
        return NNRT_SUCCESS;
    if (e->isa->isa == NNRTI_MCU_PLAIN)
        return nnrti_mcu_lower_plain(e, s, l);
    if (nnrti_mve_can(e, l))
        return nnrti_mcu_is_depthwise(l) ? nnrti_mve_lower_depthwise(e, s, l) : nnrti_mve_lower_conv(e, s, l);
    return nnrti_mcu_is_depthwise(l) ? nnrti_mcu_lower_depthwise(e, s, l) : nnrti_mcu_lower_conv(e, s, l);
}

static NNRT_ReturnCode nnrti_mcu_edit_conv(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_Conv2DFusion *attr = (const NNRT_Conv2DFusion *)step->attr;
    nnrti_mcu_layer l;
    if (!nnrti_mcu_read_layer(step, &l) ||
        !nnrti_mcu_read_windows(&l, attr->stride.data, attr->dilation.data, attr->padList.data, attr->group))
        return NNRT_SUCCESS;
    return nnrti_mcu_lower(e, s, &l);
}

/* >>transposed */

/* A transposed convolution is one convolution of stride 1 per phase. Phase (r, c) is the slice of y of the rows
   r + sh * t and the columns c + sw * u. Row r + sh * t is the sum of tap i times row t + b of x, for the taps i for
   which
       b = (r + top - i * dh) / sh
   is whole. These i are `step` apart, and b falls as i rises: the filter of the convolution has these taps in reverse
   order, read through negative strides. Each phase is a step, by the kernel of its convolution. */

enum { NNRTI_MCU_PHASES = 16 };

/* An axis of a phase: its taps are last, last - step, .., and the dilation and padding of its convolution. */
typedef struct nnrti_mcu_phase {
    int32_t taps, last, step, dilation, pad;
} nnrti_mcu_phase;

/* at: r + top. */
static nnrti_mcu_phase nnrti_mcu_phase_of(int32_t k, int32_t stride, int32_t dilation, int32_t at)
{
    nnrti_mcu_phase f = {0, 0, 1, 1, 0};
    for (int32_t i = k - 1; i >= 0; i--) {
        if ((at - i * dilation) % stride != 0)
            continue;
        f.last = f.taps == 0 ? i : f.last;
        f.step = f.taps == 1 ? f.last - i : f.step;
        f.taps++;
    }
    f.pad = f.taps > 0 ? (f.last * dilation - at) / stride : 0;
    f.dilation = f.taps > 1 ? f.step * dilation / stride : 1;
    return f;
}

/* The convolution of phase (r[0], r[1]) of l. false: it would begin inside x, or too far outside. */
static bool nnrti_mcu_phase_layer(const nnrti_mcu_layer *l, const int32_t *r, nnrti_mcu_layer *to)
{
    static const int8_t zero = 0;
    static const NNRT_QuantParam none = {8, 0, 0};
    *to = *l;
    for (int32_t i = 0; i < 2; i++) {
        const nnrti_mcu_phase f = nnrti_mcu_phase_of(l->w.dims[1 + i], l->stride[i], l->dilation[i], r[i] + l->pad[i]);
        to->stride[i] = 1;
        to->dilation[i] = f.dilation;
        to->pad[i] = f.pad;
        to->w.dims[1 + i] = f.taps;
        to->w.data = (uint8_t *)to->w.data + f.last * l->w.strides[1 + i];
        to->w.strides[1 + i] = -f.step * l->w.strides[1 + i];
        to->y.offset += (size_t)(r[i] * l->y.view.strides[1 + i]);
        to->y.view.dims[1 + i] = (l->y.view.dims[1 + i] - r[i] + l->stride[i] - 1) / l->stride[i];
        to->y.view.strides[1 + i] = l->stride[i] * l->y.view.strides[1 + i];
        if (f.pad < 0 || f.pad > INT16_MAX)
            return false;
    }
    if (to->w.dims[1] == 0 || to->w.dims[2] == 0) { /* only the bias: one tap of weight 0 */
        to->w.data = (void *)(uintptr_t)&zero;
        to->w.dataType = NNRT_DATA_TYPE_INT8;
        to->w.quant = &none;
        to->w.quantCount = 1;
        memset(to->w.strides, 0, sizeof(to->w.strides));
        to->w.dims[1] = to->w.dims[2] = to->dilation[0] = to->dilation[1] = 1;
        to->pad[0] = to->pad[1] = 0;
    }
    return true;
}

/* Step s becomes the steps of its phases, or stays if there is no kernel for one of them. */
static NNRT_ReturnCode nnrti_mcu_lower_transposed(nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_layer *l)
{
    const nnrt_draft_step old = e->draft->steps[s];
    const int32_t *yd = l->y.view.dims;
    const int32_t rows = l->stride[0] < yd[1] ? l->stride[0] : yd[1];
    const int32_t columns = l->stride[1] < yd[2] ? l->stride[1] : yd[2];
    nnrti_mcu_layer phase;
    int32_t r[2];
    bool can = (int64_t)rows * columns <= NNRTI_MCU_PHASES;
    for (int32_t i = 0; i < rows * columns && can; i++) {
        const uint32_t at = s + (uint32_t)i;
        nnrt_draft_step *step;
        NNRT_ReturnCode code;
        if (i > 0 && !nnrt_draft_insert(e->draft, &old, &at, 1))
            return nnrti_mcu_no_memory(e, s);
        step = &e->draft->steps[at];
        *step = old;
        r[0] = i / columns;
        r[1] = i % columns;
        can = nnrti_mcu_phase_layer(l, r, &phase);
        if (can && (code = nnrti_mcu_lower(e, s + (uint32_t)i, &phase)) != NNRT_SUCCESS)
            return code;
        can = can && e->draft->steps[s + (uint32_t)i].deviceAttr != NULL;
        for (int32_t k = 0; k <= i && !can; k++)
            e->draft->steps[s + (uint32_t)k].kernel = NULL;
    }
    if (!can)
        e->draft->steps[s] = old;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_mcu_edit_transposed(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const NNRT_Conv2dTransposeFusion *attr = (const NNRT_Conv2dTransposeFusion *)step->attr;
    nnrti_mcu_layer l;
    if (!nnrti_mcu_read_layer(step, &l) ||
        !nnrti_mcu_read_windows(&l, attr->stride.data, attr->dilation.data, attr->padList.data, attr->group))
        return NNRT_SUCCESS;
    return nnrti_mcu_lower_transposed(e, s, &l);
}

/* FULL_CONNECTION: x [M,K] as an image [1,1,M,K], weights [O,K] as [O,1,1,K]. */
static void nnrti_mcu_as_image(nnrt_view *v)
{
    v->rank = 4;
    v->dims[3] = v->dims[1];
    v->dims[2] = v->dims[0];
    v->dims[0] = v->dims[1] = 1;
    v->strides[3] = v->strides[1];
    v->strides[2] = v->strides[0];
    v->strides[0] = v->strides[1] = 0;
}

static NNRT_ReturnCode nnrti_mcu_edit_full_connection(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    nnrti_mcu_layer l;
    if (!nnrti_mcu_read_layer(step, &l) || l.w.rank != 2 || l.x.view.rank != 2)
        return NNRT_SUCCESS;
    nnrti_mcu_as_image(&l.x.view);
    nnrti_mcu_as_image(&l.y.view);
    l.w.rank = 4;
    l.w.dims[3] = l.w.dims[1];
    l.w.dims[1] = l.w.dims[2] = 1;
    l.w.strides[3] = l.w.strides[1];
    l.w.strides[1] = l.w.strides[2] = 0;
    return nnrti_mcu_lower(e, s, &l);
}

/* Layout propagation (nnrt_draft_channels_last): convolutions and pools compute channels last, casts to integers write
   so. */
static bool nnrti_mcu_prefers_nhwc(void *user, const nnrt_draft_step *step)
{
    return nnrti_mcu_is(step, "nnrt_conv2d_fusion_q8") || nnrti_mcu_is(step, "nnrt_conv2d_fusion_q16") ||
           nnrti_mcu_is(step, "nnrt_conv2d_transpose_fusion_q8") ||
           nnrti_mcu_is(step, "nnrt_max_pool_fusion_q8") ||
           nnrti_mcu_is(step, "nnrt_avgpool_fusion_q8") || nnrti_mcu_is_cast(step, true) ||
           nnrti_mcu_prefers_nhwc_f32((const nnrti_mcu_edit *)user, step);
}

static bool nnrti_mcu_allows_nhwc(void *user, const nnrt_draft_step *step)
{
    (void)user;
    return nnrt_draft_is_layout_agnostic(step);
}

/* >>concat */

/* CONCAT of int8 or uint8. Each input becomes a slice of the result: its writer writes there, if nothing else reads the
   input and both have the same parameters; otherwise a step copies or requantizes it. A result of the model stays:
   with slices it would be in the arena, and then copied. */

enum { NNRTI_MCU_JOINED = 16 };

/* Whether a step is a CONCAT of at most NNRTI_MCU_JOINED tensors, whose result is no output of the model. */
static bool nnrti_mcu_is_concat(const nnrti_mcu_edit *e, const nnrt_draft_step *step)
{
    const nnrt_plan_arg *y = &step->args[step->nIn + step->nDerived];
    return step->open == NULL && step->op != NULL && step->kernel != NULL && step->nIn <= NNRTI_MCU_JOINED &&
           (strcmp(step->kernelName, "nnrt_concat") == 0 || strcmp(step->kernelName, "nnrt_concat_q8") == 0) &&
           nnrti_mcu_is_q8(&y->view) && nnrti_mcu_fits(step) && !nnrti_mcu_is_output(e, y->tensor);
}

/* Whether the kernels of a step, here and of the reference device, write a result with any strides. */
static bool nnrti_mcu_writes_slices(nnrti_mcu_edit *e, const nnrt_draft_step *step)
{
    bool minus;
    return step->open == NULL && step->op != NULL && step->kernel != NULL &&
           (nnrti_mcu_prefers_nhwc(e, step) || nnrti_mcu_map_of(step) >= 0 || nnrti_mcu_binary_of(step, &minus) >= 0 ||
            nnrti_mcu_is_concat(e, step));
}

/* Lets the writer of x, an input of step s, write to the slice instead; false: that is not possible. */
static bool nnrti_mcu_write_slice(nnrti_mcu_edit *e, uint32_t s, const nnrt_plan_arg *x, const nnrt_plan_arg *slice)
{
    nnrt_draft *d = e->draft;
    const uint32_t from = nnrt_draft_writer(d, x->tensor);
    nnrt_plan_arg *y;
    nnrt_view moved;
    if (from >= s || nnrt_draft_reader(d, x->tensor) != s || !nnrti_mcu_alike(&x->view, &slice->view) ||
        !nnrti_mcu_writes_slices(e, &d->steps[from]))
        return false;
    for (uint32_t i = from; i < s; i++) /* no IF or LOOP begins or ends between them */
        if (d->steps[i].open != NULL)
            return false;
    y = &d->steps[from].args[d->steps[from].nIn + d->steps[from].nDerived];
    moved = y->view;
    if (y->tensor != x->tensor || y->offset != 0 || x->offset != 0 ||
        !nnrt_view_in_slice(&moved, &x->view, &slice->view))
        return false;
    y->tensor = slice->tensor;
    y->kind = slice->kind;
    y->offset = slice->offset;
    y->view = moved;
    return true;
}

/* Fills a table that requantizes input k of a CONCAT: the reference kernel for all stored integers of all inputs. */
static bool nnrti_mcu_tabulate_concat(const nnrt_draft_step *step, uint32_t k, uint8_t *table)
{
    static const NNRT_Concat attr = {0};
    uint8_t codes[256], joined[256 * NNRTI_MCU_JOINED];
    nnrt_view views[NNRTI_MCU_JOINED + 2];
    nnrt_call call;
    memset(&call, 0, sizeof(call));
    call.nIn = step->nIn;
    call.nDerived = step->nDerived;
    call.nOut = 1;
    for (int i = 0; i < 256; i++)
        codes[i] = (uint8_t)i;
    for (uint32_t i = 0; i < step->nIn + 2; i++) {
        views[i] = step->args[i].view;
        if (i == step->nIn)
            continue;
        views[i].rank = 1;
        views[i].dims[0] = i < step->nIn ? 256 : 256 * (int32_t)step->nIn;
        views[i].strides[0] = 1;
        views[i].data = i < step->nIn ? codes : joined;
    }
    if (step->kernel(&attr, views, &call) != NNRT_SUCCESS)
        return false;
    memcpy(table, joined + 256 * k, 256);
    return true;
}

/* The slice of a CONCAT's result for input k. */
static nnrt_plan_arg nnrti_mcu_slice_of(const nnrt_draft_step *step, uint32_t k)
{
    const int64_t axis = ((const NNRT_Concat *)step->attr)->axis;
    nnrt_plan_arg slice = step->args[step->nIn + step->nDerived];
    for (uint32_t i = 0; i < k; i++)
        slice.offset += (size_t)(step->args[i].view.dims[axis] * slice.view.strides[axis]);
    slice.view.dims[axis] = step->args[k].view.dims[axis];
    return slice;
}

static NNRT_ReturnCode nnrti_mcu_lower_concat(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step old = e->draft->steps[s];
    bool written[NNRTI_MCU_JOINED];
    uint32_t at = s;
    nnrti_mcu_walk w;
    if (!nnrti_mcu_is_concat(e, &old) || old.nDerived > 1)
        return NNRT_SUCCESS;
    for (uint32_t k = 0; k < old.nIn; k++) {
        const nnrt_plan_arg slice = nnrti_mcu_slice_of(&old, k);
        if (!nnrti_mcu_is_q8(&old.args[k].view) || old.args[k].view.dataType != slice.view.dataType ||
            !nnrti_mcu_walk_of(&slice.view, &old.args[k].view, NULL, &w))
            return NNRT_SUCCESS;
    }
    for (uint32_t k = 0; k < old.nIn; k++) {
        const nnrt_plan_arg slice = nnrti_mcu_slice_of(&old, k);
        written[k] = nnrti_mcu_write_slice(e, s, &old.args[k], &slice);
    }
    e->draft->steps[s].kernel = NULL;
    for (uint32_t k = 0; k < old.nIn; k++) {
        const nnrt_plan_arg slice = nnrti_mcu_slice_of(&old, k);
        const bool copy = nnrti_mcu_alike(&old.args[k].view, &slice.view);
        void *table = NULL;
        NNRT_ReturnCode code;
        if (written[k])
            continue;
        if (at > s && !nnrt_draft_insert(e->draft, &old, &at, 1))
            return nnrti_mcu_no_memory(e, s);
        e->draft->steps[at] = old;
        code = nnrti_mcu_set_map(e, at++, &old.args[k], &slice, copy ? NULL : &table);
        if (code == NNRT_SUCCESS && table != NULL && !nnrti_mcu_tabulate_concat(&old, k, (uint8_t *)table))
            code = nnrt_error_set(e->draft->config->error, NNRT_DEVICE_ERROR, "node '%s': no table", old.name);
        if (code != NNRT_SUCCESS)
            return code;
    }
    return NNRT_SUCCESS;
}

/* Whether the step runs a reference kernel of tensors without quantization, with static shapes. */
static bool nnrti_mcu_is_plain(const nnrt_draft_step *step, const char *kernel)
{
    return step->open == NULL && step->op != NULL && step->kernel != NULL && strcmp(step->kernelName, kernel) == 0;
}

/* Quantized operators beside product layers; SOFTMAX and MATMUL_NBITS of float32. */
static NNRT_ReturnCode nnrti_mcu_edit_other(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    if (nnrti_mcu_is_cast(step, true) || nnrti_mcu_is_cast(step, false))
        return nnrti_mcu_edit_cast(e, s);
    if (nnrti_mcu_map_of(step) >= 0)
        return nnrti_mcu_edit_map(e, s, nnrti_mcu_map_of(step));
    if (nnrti_mcu_is(step, "nnrt_max_pool_fusion_q8") || nnrti_mcu_is(step, "nnrt_avgpool_fusion_q8"))
        return nnrti_mcu_edit_pool(e, s, nnrti_mcu_is(step, "nnrt_avgpool_fusion_q8"));
    if (nnrti_mcu_is(step, "nnrt_reduce_fusion_q8"))
        return nnrti_mcu_edit_mean(e, s);
    if (nnrti_mcu_is(step, "nnrt_softmax_q8"))
        return nnrti_mcu_edit_softmax(e, s);
    if (nnrti_mcu_is_plain(step, "nnrt_softmax_f32") && step->args[0].kind != NNRT_PLACE_CONSTANT)
        return nnrti_mcu_edit_softmax_f32(e, s);
    if (nnrti_mcu_is_plain(step, "nnrt_matmul_nbits_f32"))
        return nnrti_mcu_edit_nbits(e, s);
    return nnrti_mcu_edit_binary(e, s);
}

/* The kernel of a step: of its instruction set, else of all targets. */
static NNRT_ReturnCode nnrti_mcu_edit_step(nnrti_mcu_edit *e, uint32_t s)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (nnrti_mcu_is(step, "nnrt_conv2d_fusion_q8") || nnrti_mcu_is(step, "nnrt_conv2d_fusion_q16"))
        return nnrti_mcu_edit_conv(e, s);
    if (nnrti_mcu_is(step, "nnrt_conv2d_transpose_fusion_q8"))
        return nnrti_mcu_edit_transposed(e, s);
    if (nnrti_mcu_is(step, "nnrt_full_connection_q8") || nnrti_mcu_is(step, "nnrt_full_connection_q16"))
        return nnrti_mcu_edit_full_connection(e, s);
    if (e->isa->isa == NNRTI_MCU_MVE)
        code = nnrti_mve_edit(e, s);
    if (code == NNRT_SUCCESS && step->deviceAttr == NULL)
        code = nnrti_mcu_edit_other(e, s);
    if (code == NNRT_SUCCESS && step->kernel != NULL && step->deviceAttr == NULL && nnrti_mcu_has_fpu(e->isa))
        code = nnrti_mcu_edit_f32(e, s);
    return code;
}

/* The `late` of a step with NNRT_STEP_OVERLAP, in kept memory of this edit, and the bytes of a row of y. */
static int32_t *nnrti_mcu_late_of(const nnrt_draft_step *step, int32_t *bytes)
{
    NNRT_McuConv *c = (NNRT_McuConv *)(uintptr_t)step->attr;
    NNRT_McuDepthwise *d = (NNRT_McuDepthwise *)(uintptr_t)step->attr;
    const bool conv = step->deviceAttr == &nnrt_attr_McuConv;
    *bytes = conv ? c->q * c->o : d->q * d->c;
    return conv ? &c->late : &d->late;
}

/* Plans with more overlaps keep all: the choice takes time in proportion to their square. */
enum { NNRTI_MCU_OVERLAPS = 128 };

/* Liveness of a draft. Tensors that share a place, as one overwrites the other, have the place of the first of them. */
typedef struct nnrti_mcu_lives {
    uint32_t *place, *first, *last; /* per tensor; steps count from 1, 0: none. first, last of a place: of all in it */
    int64_t *bytes;                 /* per tensor; of a place the largest one */
    int64_t *live;                  /* per step */
} nnrti_mcu_lives;

/* The place of result y of step s: that of an input that is dead afterwards, if the step writes there, or an own one.
   */
static uint32_t nnrti_mcu_place_of(const nnrti_mcu_edit *e, uint32_t s, const nnrti_mcu_lives *l, uint32_t y)
{
    const nnrt_draft_step *step = &e->draft->steps[s];
    const bool overlaps = (step->flags & NNRT_STEP_OVERLAP) != 0;
    for (uint32_t k = 0; k < (overlaps ? 1 : step->nIn); k++) {
        const uint32_t x = step->args[k].tensor;
        if (x < e->draft->nTensors && l->first[x] != 0 && l->last[l->place[x]] == s + 1 &&
            (overlaps || ((step->flags & (NNRT_OP_INPLACE | NNRT_OP_ALIAS)) != 0 &&
                          e->draft->bytes[x] == e->draft->bytes[y])))
            return l->place[x];
    }
    return y;
}

/* A lower bound of the arena: the most bytes of places and scratch at one step. */
static int64_t nnrti_mcu_bound(const nnrti_mcu_edit *e, const nnrti_mcu_lives *l, const uint32_t *lastUse)
{
    const nnrt_draft *d = e->draft;
    int64_t most = 0, sum = 0;
    memset(l->first, 0, d->nTensors * sizeof(*l->first));
    memset(l->live, 0, ((size_t)d->nSteps + 2) * sizeof(*l->live));
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        const uint32_t y = step->nOut > 0 ? step->args[step->nIn + step->nDerived].tensor : NNRT_NO_TENSOR;
        uint32_t p;
        if (step->kernel == NULL || y >= d->nTensors || l->first[y] != 0 || nnrti_mcu_is_output(e, y))
            continue;
        p = l->place[y] = nnrti_mcu_place_of(e, s, l, y);
        l->first[y] = s + 1;
        l->bytes[p] = p != y && l->bytes[p] > (int64_t)d->bytes[y] ? l->bytes[p] : (int64_t)d->bytes[y];
        l->last[p] = p != y && l->last[p] > lastUse[y] ? l->last[p] : lastUse[y];
    }
    for (uint32_t t = 0; t < d->nTensors; t++)
        if (l->first[t] != 0 && l->place[t] == t) {
            l->live[l->first[t]] += l->bytes[t];
            l->live[l->last[t] + 1] -= l->bytes[t];
        }
    for (uint32_t s = 0; s < d->nSteps; s++) {
        sum += l->live[s + 1];
        if (d->steps[s].kernel != NULL && sum + (int64_t)d->steps[s].scratchBytes > most)
            most = sum + (int64_t)d->steps[s].scratchBytes;
    }
    return most;
}

/* Switches the overlap of step s off, or on again. */
static void nnrti_mcu_switch(const nnrti_mcu_edit *e, uint32_t s, bool on)
{
    nnrt_draft_step *step = &e->draft->steps[s];
    int32_t bytes;
    const size_t ring = (size_t)*nnrti_mcu_late_of(step, &bytes) * (size_t)bytes;
    step->flags = on ? step->flags | NNRT_STEP_OVERLAP : step->flags & ~NNRT_STEP_OVERLAP;
    step->scratchBytes = on ? step->scratchBytes + ring : step->scratchBytes - ring;
}

/* The first step with an overlap from step s on; nSteps: there is none. */
static uint32_t nnrti_mcu_next_overlap(const nnrti_mcu_edit *e, uint32_t s)
{
    while (s < e->draft->nSteps && (e->draft->steps[s].flags & NNRT_STEP_OVERLAP) == 0)
        s++;
    return s;
}

/* Switches off the overlap, or two overlaps in a row, without which *most, the bound of the arena, is smallest, if it
   is below `limit`. Two: the results of a chain that begins behind the first one may be larger than its first result.
   false: there is none. */
static bool nnrti_mcu_drop_overlap(const nnrti_mcu_edit *e, const nnrti_mcu_lives *l, const uint32_t *lastUse,
                                   int64_t limit, int64_t *most)
{
    const uint32_t none = e->draft->nSteps;
    uint32_t best[2] = {none, none}, next;
    int32_t bytes;
    for (uint32_t s = nnrti_mcu_next_overlap(e, 0); s < none; s = next) {
        next = nnrti_mcu_next_overlap(e, s + 1);
        nnrti_mcu_switch(e, s, false);
        for (int two = 0; two < 2 && (two == 0 || next < none); two++) {
            int64_t bound;
            if (two)
                nnrti_mcu_switch(e, next, false);
            bound = nnrti_mcu_bound(e, l, lastUse);
            if (two)
                nnrti_mcu_switch(e, next, true);
            if (bound < limit && (best[0] == none || bound < *most)) {
                *most = bound;
                best[0] = s;
                best[1] = two ? next : none;
            }
        }
        nnrti_mcu_switch(e, s, true);
    }
    for (int k = 0; k < 2 && best[k] < none; k++) {
        nnrti_mcu_switch(e, best[k], false);
        *nnrti_mcu_late_of(&e->draft->steps[best[k]], &bytes) = 0;
    }
    return best[0] < none;
}

/* Leaves out overlaps without which the arena is smaller or as small: they cost a copy of y, and tensors that overwrite
   each other have one place, as large as the largest of them, from the first to the last. */
static NNRT_ReturnCode nnrti_mcu_choose_overlaps(nnrti_mcu_edit *e)
{
    nnrt_draft *d = e->draft;
    const size_t count = d->nTensors;
    uint32_t *const lastUse = (uint32_t *)nnrt_memory_temp_array(d->memory, 4 * count + 1, sizeof(*lastUse));
    int64_t *const sums = (int64_t *)nnrt_memory_temp_array(d->memory, count + d->nSteps + 2, sizeof(*sums));
    uint32_t overlaps = 0;
    nnrti_mcu_lives l;
    int64_t most;
    if (lastUse == NULL || sums == NULL)
        return nnrt_error_set(d->config->error, NNRT_OUT_OF_MEMORY, "no memory for the overlaps of a plan");
    l.place = lastUse + count;
    l.first = l.place + count;
    l.last = l.first + count;
    l.bytes = sums;
    l.live = sums + count;
    for (uint32_t s = 0; s < d->nSteps; s++)
        for (uint32_t k = 0; k < d->steps[s].nIn + d->steps[s].nDerived + d->steps[s].nOut; k++)
            if (d->steps[s].kernel != NULL && d->steps[s].args[k].tensor < d->nTensors)
                lastUse[d->steps[s].args[k].tensor] = s + 1;
    for (uint32_t s = 0; (s = nnrti_mcu_next_overlap(e, s)) < d->nSteps; s++)
        overlaps++;
    most = nnrti_mcu_bound(e, &l, lastUse);
    if (overlaps > NNRTI_MCU_OVERLAPS)
        return NNRT_SUCCESS;
    while (nnrti_mcu_drop_overlap(e, &l, lastUse, most, &most)) {
    }
    while (nnrti_mcu_drop_overlap(e, &l, lastUse, most + 1, &most)) {
    }
    return NNRT_SUCCESS;
}

/* The edit of nnrt_plan_prepare: layout propagation, CONCAT, then a kernel for each step. */
static NNRT_ReturnCode nnrti_mcu_edit_draft(void *user, nnrt_draft *draft)
{
    nnrti_mcu_edit e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    e.draft = draft;
    e.isa = (const nnrti_mcu_isa *)user;
    code = nnrt_draft_channels_last(draft, nnrti_mcu_prefers_nhwc, nnrti_mcu_allows_nhwc, &e);
    for (uint32_t s = draft->nSteps; s-- > 0 && code == NNRT_SUCCESS;) /* backwards: CONCAT of CONCAT */
        code = nnrti_mcu_lower_concat(&e, s);
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++) {
        const nnrt_draft_step *step = &draft->steps[s];
        if (step->open == NULL && step->op != NULL && step->kernel != NULL && nnrti_mcu_fits(step))
            code = nnrti_mcu_edit_step(&e, s);
        if (code == NNRT_SUCCESS && draft->steps[s].kernel != NULL)
            nnrti_mcu_join_maps(&e, s);
    }
    return code == NNRT_SUCCESS ? nnrti_mcu_choose_overlaps(&e) : code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>table */

typedef struct nnrti_mcu_device {
    const nnrti_mcu_isa *isa;
    char name[32];
    NNRT_DeviceVtbl table;
} nnrti_mcu_device;

static NNRT_ReturnCode nnrti_mcu_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_mcu_name(void *self, const char **name)
{
    *name = ((const nnrti_mcu_device *)self)->name;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_mcu_vendor(void *self, const char **name)
{
    (void)self;
    *name = "nnrt";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_mcu_kind(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_CPU;
    return NNRT_SUCCESS;
}

/* The device supports dynamic dimensions: by the reference kernels. */
static NNRT_ReturnCode nnrti_mcu_dynamic(void *self, bool *supported)
{
    (void)self;
    *supported = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_mcu_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                         NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, nnrti_mcu_edit_draft,
                             (void *)(uintptr_t)((const nnrti_mcu_device *)self)->isa, NULL, prepared);
}

static NNRT_ReturnCode nnrti_mcu_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                        size_t *bytes)
{
    return nnrt_plan_memory(model, config, nnrti_mcu_edit_draft,
                            (void *)(uintptr_t)((const nnrti_mcu_device *)self)->isa, bytes);
}

/* The edit rejects no node: the device supports the nodes of the reference device. */
static NNRT_ReturnCode nnrti_mcu_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    (void)self;
    return nnrt_plan_supported(model, config, isSupported, count, reason, user);
}

#define NNRTI_MCU_TARGETS (sizeof(nnrti_mcu_isas) / sizeof(nnrti_mcu_isas[0]))

NNRT_API const char *nnrt_mcu_target(uint32_t i)
{
    return i < NNRTI_MCU_TARGETS ? nnrti_mcu_isas[i].target : NULL;
}

static nnrti_mcu_device nnrti_mcu_devices[NNRTI_MCU_TARGETS];

NNRT_API NNRT_ReturnCode nnrt_mcu_register(const char *target, nnrt_error *error)
{
    char targets[256] = "";
    for (size_t i = 0; target != NULL && i < NNRTI_MCU_TARGETS; i++) {
        nnrti_mcu_device *made = &nnrti_mcu_devices[i];
        if (strcmp(target, nnrti_mcu_isas[i].target) != 0)
            continue;
        made->isa = &nnrti_mcu_isas[i];
        memcpy(made->name, "mcu:", 4);
        memcpy(made->name + 4, target, strlen(target) + 1);
        made->table.structSize = sizeof(made->table);
        made->table.version = NNRT_HDI(2, 0);
        made->table.GetVersion = nnrti_mcu_version;
        made->table.GetDeviceName = nnrti_mcu_name;
        made->table.GetVendorName = nnrti_mcu_vendor;
        made->table.GetDeviceType = nnrti_mcu_kind;
        made->table.IsDynamicInputSupported = nnrti_mcu_dynamic;
        made->table.PrepareModel = nnrti_mcu_prepare;
        made->table.GetModelMemory = nnrti_mcu_memory;
        made->table.GetSupportedNodes = nnrti_mcu_nodes;
        return nnrt_device_register(&made->table, made, error);
    }
    for (size_t i = 0, n = 0; i < NNRTI_MCU_TARGETS; i++)
        n += nnrt_text(targets + n, sizeof(targets) - n, " %s", nnrti_mcu_isas[i].target);
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "there is no target '%s'; targets:%s", target != NULL ? target : "",
                          targets);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>save */

/* Writes plans as files (>>program). The same walk counts bytes, with out NULL, and writes them. */

/* Each kernel has a check: otherwise NNRTI_MCU_CHECKED_name is undeclared here. */
#define NNRTI_MCU_IS_CHECKED(kernel) NNRTI_MCU_CHECKED_##kernel +
enum { NNRTI_MCU_CHECKS = NNRTI_MCU_KERNELS(NNRTI_MCU_IS_CHECKED) 0 };

/* The kernels that a file may have. */
#define NNRTI_MCU_FILE_ROW(number, kernel, S) NNRT_MCU_LINK(kernel),
static const nnrt_mcu_row nnrti_mcu_file_rows[] = {NNRTI_MCU_NUMBERS(NNRTI_MCU_FILE_ROW)};
#define NNRTI_MCU_FILE_NAME(number, kernel, S) "nnrt_mcu_" #kernel,
static const char *const nnrti_mcu_names[] = {NNRTI_MCU_NUMBERS(NNRTI_MCU_FILE_NAME)};
#define NNRTI_MCU_ALL (sizeof(nnrti_mcu_file_rows) / sizeof(nnrti_mcu_file_rows[0]))

NNRT_API const nnrt_mcu_kernels *nnrt_mcu_all(void)
{
    static const nnrt_mcu_kernels all = {nnrti_mcu_file_rows, (uint32_t)NNRTI_MCU_ALL, NNRT_MCU_ANY_PROCESSOR};
    return &all;
}

NNRT_API bool nnrt_mcu_is(const void *data, size_t bytes)
{
    nnrti_mcu_file f;
    if (!nnrt_file_is(data, bytes) || bytes < sizeof(f))
        return false;
    memcpy(&f, data, sizeof(f));
    return f.sections > 0 && f.type == NNRTI_MCU_SECTION;
}

NNRT_API nnrt_mcu_info nnrt_mcu_get_info(const nnrt_mcu_program *program)
{
    const nnrti_mcu_plan *p = program->plan;
    nnrt_mcu_info info;
    info.name = nnrt_mcu_text(program, p->name);
    info.target = nnrt_mcu_text(program, p->target);
    info.inputs = p->nInputs;
    info.outputs = p->nOutputs;
    info.steps = p->nSteps;
    info.arenaBytes = p->arenaBytes;
    info.views = p->maxArgs;
    return info;
}

NNRT_API const char *nnrt_mcu_kernel_name(uint32_t number)
{
    for (size_t i = 0; i < NNRTI_MCU_ALL; i++)
        if (nnrti_mcu_file_rows[i].number == number)
            return nnrti_mcu_names[i] + strlen("nnrt_mcu_");
    return NULL;
}

NNRT_API uint32_t nnrt_mcu_used(const nnrt_mcu_program *program, uint32_t *kernels, uint32_t count)
{
    const nnrti_mcu_step *steps = nnrti_mcu_steps(program->plan);
    uint32_t used = 0;
    for (uint32_t i = 0; i < program->plan->nSteps; i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++)
            seen = steps[k].kernel == steps[i].kernel;
        if (!seen && used++ < count)
            kernels[used - 1] = steps[i].kernel;
    }
    return used;
}

typedef struct nnrti_mcu_writer {
    const nnrt_plan *plan;
    const NNRT_Model *model;
    const nnrti_mcu_isa *isa;
    nnrt_error *error;
    uint8_t *out;       /* begin of the section; NULL: bytes are counted */
    uint64_t at;        /* bytes of the section so far */
    uint64_t constants; /* where they begin */
} nnrti_mcu_writer;

/* Appends bytes at an offset that is a multiple of alignment, which is returned. from NULL: zeros. */
static uint64_t nnrti_mcu_append(nnrti_mcu_writer *w, const void *from, size_t bytes, uint32_t alignment)
{
    const uint64_t at = (w->at + alignment - 1) / alignment * alignment;
    if (w->out != NULL && from != NULL && bytes > 0)
        memcpy(w->out + at, from, bytes);
    w->at = at + bytes;
    return at;
}

static uint32_t nnrti_mcu_put_text(nnrti_mcu_writer *w, const char *text)
{
    return (uint32_t)nnrti_mcu_append(w, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1, 1);
}

/* The view of the bytes of v: one more axis, of the bytes of an element. false: too many axes. */
static bool nnrti_mcu_bytes_of(nnrt_view *v)
{
    const int32_t size = (int32_t)nnrt_type_size(v->dataType);
    if (v->rank >= NNRT_MAX_RANK)
        return false;
    for (int32_t i = 0; i < v->rank; i++)
        v->strides[i] *= size;
    v->dims[v->rank] = size;
    v->strides[v->rank++] = 1;
    return true;
}

/* Whether step s copies by the reference kernel of RESHAPE, as the planner copies an output of the model that several
   steps write. In a file it is kernel copy with attributes *a, whose arguments are x and y. */
static bool nnrti_mcu_copy_of(const nnrt_plan *p, const nnrt_plan_step *s, NNRT_McuMap *a)
{
    nnrti_mcu_walk w;
    nnrt_view x, y;
    if (strcmp(s->kernelName, "nnrt_reshape") != 0)
        return false;
    x = p->args[s->arg].view;
    y = p->args[s->arg + s->nIn].view;
    if (x.rank != y.rank || memcmp(x.dims, y.dims, (size_t)x.rank * sizeof(x.dims[0])) != 0 ||
        !nnrti_mcu_bytes_of(&x) || !nnrti_mcu_bytes_of(&y) || !nnrti_mcu_walk_of(&y, &x, NULL, &w))
        return false;
    {
        const NNRT_McuMap found = {NNRTI_MCU_LIST(w.d), NNRTI_MCU_LIST(w.y), NNRTI_MCU_LIST(w.x)};
        *a = found;
    }
    return true;
}

/* The row of a step's kernel, whose attributes are *attr, or *copy; NULL: the kernel is not of this header. */
static const nnrt_mcu_row *nnrti_mcu_row_for(const nnrt_plan *p, const nnrt_plan_step *s, const void **attr,
                                             NNRT_McuMap *copy)
{
    const bool copies = nnrti_mcu_copy_of(p, s, copy);
    *attr = copies ? copy : s->attr;
    for (size_t i = 0; i < NNRTI_MCU_ALL; i++)
        if (copies ? nnrti_mcu_file_rows[i].number == NNRT_MCU_NUMBER_copy
                   : s->deviceAttr != NULL && s->deviceAttr->bytes == nnrti_mcu_file_rows[i].attrBytes &&
                         strcmp(s->kernelName, nnrti_mcu_names[i]) == 0)
            return &nnrti_mcu_file_rows[i];
    return NULL;
}

/* *bytes = the bytes of a view from its first to its last element; false: a stride is negative, or too many. */
static bool nnrti_mcu_view_bytes(const nnrt_view *v, uint32_t *bytes)
{
    uint64_t last = 0;
    for (int32_t i = 0; i < v->rank; i++) {
        if (v->dims[i] < 1 || v->strides[i] < 0 || (uint64_t)v->strides[i] > NNRTI_MCU_LIMIT)
            return false;
        last += (uint64_t)(v->dims[i] - 1) * (uint64_t)v->strides[i];
        if (last > NNRTI_MCU_LIMIT)
            return false;
    }
    *bytes = (uint32_t)((last + 1) * nnrt_type_size(v->dataType));
    return *bytes <= NNRTI_MCU_LIMIT;
}

/* Rule: the plan is static, and its kernels are in this header. */
static NNRT_ReturnCode nnrti_mcu_can_save(const nnrti_mcu_writer *w)
{
    const nnrt_plan *p = w->plan;
    const NNRT_ReturnCode code = nnrt_plan_check_static(p, w->error);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < p->nSteps; i++) {
        const nnrt_plan_step *s = &p->steps[i];
        const void *attr;
        NNRT_McuMap copy;
        uint32_t bytes;
        if (nnrti_mcu_row_for(p, s, &attr, &copy) == NULL)
            return nnrt_error_set(
                w->error, NNRT_NOT_SUPPORT,
                "node '%s' (%s) has kernel %s: a plan in a file has kernels of devices/nnrt_mcu.h only; "
                "nnrt emit-c writes any model",
                s->name, s->op != NULL ? s->op->name : "added by the device", s->kernelName);
        for (uint32_t k = 0; k < s->nIn + s->nDerived + s->nOut; k++)
            if (p->args[s->arg + k].kind != NNRT_PLACE_NONE &&
                (p->args[s->arg + k].kind > NNRT_PLACE_OUTPUT ||
                 !nnrti_mcu_view_bytes(&p->args[s->arg + k].view, &bytes)))
                return nnrt_error_set(w->error, NNRT_NOT_SUPPORT, "node '%s': argument %u cannot be stored in a file",
                                      s->name, k);
    }
    if ((p->nInputs | p->nOutputs | p->nSteps | p->nArgs) > NNRTI_MCU_COUNT || p->arenaBytes > NNRTI_MCU_LIMIT)
        return nnrt_error_set(w->error, NNRT_NOT_SUPPORT,
                              "the plan is too large for a file: %u steps, %z bytes of arena", p->nSteps,
                              p->arenaBytes);
    return NNRT_SUCCESS;
}

/* Writes the record of input or output i. */
static NNRT_ReturnCode nnrti_mcu_write_io(nnrti_mcu_writer *w, uint32_t i)
{
    const bool output = i >= w->plan->nInputs;
    const uint32_t k = output ? i - w->plan->nInputs : i;
    const nnrt_plan_io *from = output ? &w->plan->outputs[k] : &w->plan->inputs[k];
    const uint32_t tensor = (output ? w->model->outputIndex : w->model->inputIndex).data[k];
    const NNRT_QuantParamList *quant = &w->model->allTensors.data[tensor].quantParams;
    nnrt_mcu_io io;
    memset(&io, 0, sizeof(io));
    if (from->shape.rank > 8 || quant->count > 1 || from->bytes == 0 || from->bytes > NNRTI_MCU_LIMIT)
        return nnrt_error_set(w->error, NNRT_NOT_SUPPORT,
                              "%s '%s' cannot be stored in a file: %u quantization parameters, "
                              "%z bytes",
                              output ? "output" : "input", from->name, quant->count, from->bytes);
    io.bytes = (uint32_t)from->bytes;
    io.dataType = from->dataType;
    io.format = from->format;
    io.rank = from->shape.rank;
    for (int32_t d = 0; d < io.rank; d++)
        io.dims[d] = from->shape.dims[d];
    if (quant->count == 1) {
        io.scale = quant->data[0].scale;
        io.zeroPoint = quant->data[0].zeroPoint;
    }
    io.name = nnrti_mcu_put_text(w, from->name);
    if (w->out != NULL)
        memcpy(w->out + sizeof(nnrti_mcu_plan) + i * sizeof(io), &io, sizeof(io));
    return NNRT_SUCCESS;
}

/* The offset of a constant behind the first one, which is written unless an earlier argument has the same. */
static uint32_t nnrti_mcu_write_constant(nnrti_mcu_writer *w, uint32_t arg, uint32_t bytes,
                                         const nnrti_mcu_arg *written)
{
    const nnrt_plan_arg *args = w->plan->args;
    for (uint32_t k = 0; k < arg; k++)
        if (written[k].kind == NNRT_PLACE_CONSTANT && args[k].view.data == args[arg].view.data &&
            written[k].bytes == bytes)
            return written[k].offset;
    return (uint32_t)(nnrti_mcu_append(w, args[arg].view.data, bytes, 16) - w->constants);
}

/* Writes the arguments, and constants behind all texts. records: memory for nArgs of them. */
static void nnrti_mcu_write_args(nnrti_mcu_writer *w, nnrti_mcu_arg *records, uint64_t at)
{
    for (uint32_t i = 0; i < w->plan->nArgs; i++) {
        const nnrt_plan_arg *arg = &w->plan->args[i];
        nnrti_mcu_arg *r = &records[i];
        memset(r, 0, sizeof(*r));
        if (arg->kind == NNRT_PLACE_NONE || !nnrti_mcu_view_bytes(&arg->view, &r->bytes))
            continue;
        if (arg->kind == NNRT_PLACE_CONSTANT || arg->kind == NNRT_PLACE_DERIVED) {
            r->offset = nnrti_mcu_write_constant(w, i, r->bytes, records);
            r->kind = NNRT_PLACE_CONSTANT;
        } else {
            r->offset = (uint32_t)arg->offset;
            r->kind = (uint32_t)arg->kind;
        }
    }
    for (uint32_t i = 0; i < w->plan->nSteps; i++) {
        const nnrt_plan_step *s = &w->plan->steps[i];
        NNRT_McuMap copy;
        if (nnrti_mcu_copy_of(w->plan, s, &copy))
            records[s->arg + 1] = records[s->arg + s->nIn]; /* y, behind x */
    }
    if (w->out != NULL && w->plan->nArgs > 0)
        memcpy(w->out + at, records, w->plan->nArgs * sizeof(*records));
}

/* Writes step i at offset `at`, and its attributes: the members in their order, 4 bytes each. */
static void nnrti_mcu_write_step(nnrti_mcu_writer *w, uint32_t i, uint64_t at)
{
    const nnrt_plan_step *s = &w->plan->steps[i];
    const void *attr;
    NNRT_McuMap copy;
    const nnrt_mcu_row *row = nnrti_mcu_row_for(w->plan, s, &attr, &copy);
    nnrti_mcu_step r;
    memset(&r, 0, sizeof(r));
    r.kernel = row->number;
    r.attr = (uint32_t)nnrti_mcu_append(w, attr, row->attrBytes, 4);
    r.arg = s->arg;
    r.nIn = attr == &copy ? 1 : s->nIn;
    r.nDerived = s->nDerived;
    r.nOut = s->nOut;
    r.scratch = s->scratchBytes > 0 ? (uint32_t)s->scratch : 0;
    r.scratchBytes = (uint32_t)s->scratchBytes;
    if (w->out != NULL)
        memcpy(w->out + at, &r, sizeof(r));
}

/* Writes the section "plan". */
static NNRT_ReturnCode nnrti_mcu_write_plan(nnrti_mcu_writer *w, nnrti_mcu_arg *records)
{
    const nnrt_plan *p = w->plan;
    const uint64_t steps = sizeof(nnrti_mcu_plan) + ((uint64_t)p->nInputs + p->nOutputs) * sizeof(nnrt_mcu_io);
    const uint64_t args = steps + p->nSteps * sizeof(nnrti_mcu_step);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrti_mcu_plan h;
    memset(&h, 0, sizeof(h));
    h.layout = NNRTI_MCU_LAYOUT;
    h.processor = (uint32_t)w->isa->isa;
    h.arenaBytes = (uint32_t)p->arenaBytes;
    h.nInputs = p->nInputs;
    h.nOutputs = p->nOutputs;
    h.nSteps = p->nSteps;
    h.nArgs = p->nArgs;
    h.maxArgs = p->maxArgs;
    w->at = args + p->nArgs * sizeof(nnrti_mcu_arg);
    for (uint32_t i = 0; i < p->nSteps; i++)
        nnrti_mcu_write_step(w, i, steps + i * sizeof(nnrti_mcu_step));
    h.target = nnrti_mcu_put_text(w, w->isa->target);
    h.name = nnrti_mcu_put_text(w, w->model->name);
    for (uint32_t i = 0; i < p->nInputs + p->nOutputs && code == NNRT_SUCCESS; i++)
        code = nnrti_mcu_write_io(w, i);
    if (code != NNRT_SUCCESS)
        return code;
    w->at++;
    w->constants = nnrti_mcu_append(w, NULL, 0, 16);
    h.constants = (uint32_t)w->constants;
    nnrti_mcu_write_args(w, records, args);
    (void)nnrti_mcu_append(w, NULL, 0, 16);
    if (w->out != NULL)
        memcpy(w->out, &h, sizeof(h));
    return w->at <= NNRTI_MCU_LIMIT - sizeof(nnrti_mcu_file)
               ? NNRT_SUCCESS
               : nnrt_error_set(w->error, NNRT_NOT_SUPPORT, "the plan has more than %d bytes", NNRTI_MCU_LIMIT);
}

/* Writes the header and the section table of the file. */
static void nnrti_mcu_write_header(uint8_t *out, uint64_t planBytes)
{
    nnrti_mcu_file f;
    memset(&f, 0, sizeof(f));
    memcpy(f.magic, "\x89NNRT\r\n\x1A", sizeof(f.magic));
    f.version = 1;
    f.header = NNRTI_MCU_FILE_HEADER;
    f.bytes = sizeof(f) + planBytes;
    f.sections = 1;
    f.row = NNRTI_MCU_ROW_BYTES;
    f.type = NNRTI_MCU_SECTION;
    f.flags = 1;
    f.offset = sizeof(f);
    f.planBytes = planBytes;
    f.alignment = 64;
    f.record = 1;
    memcpy(out, &f, sizeof(f));
    f.checksum = nnrti_mcu_checksum(out, (uint32_t)f.bytes);
    memcpy(out, &f, sizeof(f));
}

/* Whether the file can be opened: its kernels accept the results of their edit. */
static NNRT_ReturnCode nnrti_mcu_reopen(const void *out, size_t bytes, const nnrt_plan *plan, nnrt_error *error)
{
    nnrt_mcu_program program;
    const NNRT_ReturnCode code = nnrt_mcu_open(&program, out, bytes, nnrt_mcu_all());
    if (code == NNRT_SUCCESS)
        return code;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "node '%s': the check of kernel %s refuses its arguments",
                          program.kernel != 0 ? plan->steps[program.step].name : "",
                          program.kernel != 0 ? plan->steps[program.step].kernelName : "");
}

NNRT_API NNRT_ReturnCode nnrt_mcu_save_memory(const NNRT_PreparedModel *prepared, const NNRT_Model *model,
                                              const char *target, void *out, size_t size, size_t *bytes,
                                              nnrt_error *error)
{
    const uint16_t one = 1;
    uint8_t first;
    nnrti_mcu_writer w;
    nnrti_mcu_arg *records;
    NNRT_ReturnCode code;
    memset(&w, 0, sizeof(w));
    if (prepared == NULL || model == NULL || target == NULL || bytes == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "a parameter is NULL");
    *bytes = 0;
    for (size_t i = 0; i < NNRTI_MCU_TARGETS; i++)
        w.isa = strcmp(target, nnrti_mcu_isas[i].target) == 0 ? &nnrti_mcu_isas[i] : w.isa;
    w.plan = nnrt_prepared_plan(prepared);
    w.model = model;
    w.error = error;
    memcpy(&first, &one, sizeof(first));
    if (first != 1)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a big-endian machine cannot write plans");
    if (w.isa == NULL || w.plan == NULL || (uintptr_t)out % 8 != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%s",
                              w.isa == NULL    ? "there is no such target"
                              : w.plan == NULL ? "the prepared model has no plan"
                                               : "the memory for the file is not aligned to 8 bytes");
    code = nnrti_mcu_can_save(&w);
    if (code != NNRT_SUCCESS)
        return code;
    records = (nnrti_mcu_arg *)nnrt_alloc(NULL, (w.plan->nArgs + 1) * sizeof(*records));
    if (records == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for %u arguments", w.plan->nArgs);
    code = nnrti_mcu_write_plan(&w, records);
    if (code == NNRT_SUCCESS && out != NULL && size < sizeof(nnrti_mcu_file) + w.at)
        code = nnrt_error_set(error, NNRT_INSUFFICIENT_BUFFER, "the file has %z bytes",
                              (size_t)w.at + sizeof(nnrti_mcu_file));
    if (code == NNRT_SUCCESS && out != NULL) {
        memset(out, 0, sizeof(nnrti_mcu_file) + (size_t)w.at);
        w.out = (uint8_t *)out + sizeof(nnrti_mcu_file);
        code = nnrti_mcu_write_plan(&w, records);
        nnrti_mcu_write_header((uint8_t *)out, w.at);
    }
    nnrt_free(NULL, records, (w.plan->nArgs + 1) * sizeof(*records));
    if (code == NNRT_SUCCESS)
        *bytes = sizeof(nnrti_mcu_file) + (size_t)w.at;
    return code == NNRT_SUCCESS && out != NULL ? nnrti_mcu_reopen(out, *bytes, w.plan, error) : code;
}

NNRT_SETUP_END()

#endif /* NNRT_FIRMWARE */

#endif /* NNRT_IMPLEMENTATION */
