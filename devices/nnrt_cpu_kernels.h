/*
nnrt_cpu_kernels.h - the SIMD kernels of the device "cpu", for one instruction set.

    devices/nnrt_cpu.h includes this file once per instruction set (ISA), with NNRTI_CPU_ISA defined as its name:
    avx512, avx512vnni, avx2, neon, dotprod, fp16, i8mm, relaxed, simd128 or vector. It has no include guard, declares
    nothing of its own, and is not for programs. NNRTI_CPU(gemm) is the function nnrti_cpu_gemm_avx2 in the pass for
    avx2.

    Each kernel computes one work item of a step: the device splits the step into work items for the thread pool. Code of
    the device that no ISA changes (kernel selection, packing, fusion) is in nnrt_cpu.h.

SECTIONS (search for the tag)
    >>vectors          the SIMD vector type and its functions
    >>gemm             GEMM and GEMV microkernels, epilogue, implicit GEMM, grouped convolution
    >>nbits_kernels    GEMM and GEMV by packed weights of 4 or 8 bits
    >>winograd_tiles   Winograd transforms and GEMMs; MATMUL of two runtime tensors
    >>depthwise        depthwise convolution, pooling, fused pointwise and depthwise convolution
    >>elementwise      elementwise, unary and broadcast binary
    >>integers         elementwise operators of integers and bool, predicates
    >>reductions       reductions, cumulative sums, instance and group normalization
    >>normalizations   softmax and normalization over the last axis
    >>attention        ATTENTION, QUANTIZE_BLOCKS
    >>comparisons      comparisons, WHERE, ARGMAX, TOPK, RESIZE, LRN
    >>rnn_cells        LSTM, GRU and RNN cells
    >>float64_gemm     GEMM of float64
    >>fft_kernel       DFT and STFT
    >>casts            quantize and dequantize
    >>float16_casts    float16 to float32 and back
    >>half_kernels     GEMM in float16 arithmetic
    >>int8_kernels     int8 GEMM, depthwise, pooling and addition; requantization
    >>nbits_int8       GEMM and GEMV by packed weights of 4 or 8 bits, of x rounded to int8
    >>kernel_table     the kernels of this ISA, from which nnrt_cpu.h selects

MIT license, see LICENSE.
*/

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>vectors */

/* The SIMD vector type nnrti_v, NNRTI_LANES floats, and its functions. nnrti_v_min and nnrti_v_max return the second
   operand if either is NaN. Constants of an ISA: NNRTI_PANEL_VECTORS vectors are a packed panel; a GEMM register tile
   has NNRTI_TILE_ROWS pixels, or NNRTI_TILE_ROWS_ONE by a panel of one vector; NNRTI_RECURRENT_ROWS sequences run
   through recurrent cells at once. Intrinsics where the ISA has them, compiler vector extensions for the portable
   one; assembly only in the inner loop of dotprod and i8mm. With -fipa-ra gcc omits vzeroupper around calls of
   functions in the same file that use no vector registers, and at the end of such functions. Code without AVX
   instructions, there or in the executor, then stalls for hundreds of cycles each time. The other passes that are
   disabled on x86 take gcc a tenth of its time for this file and speed up nothing. */

/* The level of each ISA in the last digit. Before it NNRTI_CPU_DOT, of ISAs that multiply bytes: 1 by dot products of
   four bytes, 2 also by matrix products of 2 x 8 by 8 x 2 bytes. These passes contain only the 8-bit kernels with dot
   products (>>int8_kernels); all other kernels come from the ISA NNRTI_CPU_BASE. 3: the pass of fp16 has only the kernels
   of >>half_kernels; its 8-bit kernels are those of dotprod. 4: the pass avx2pairs has only the GEMMs of uint8 by int8, by
   sums of 16 bits (nnrti_cpu_pairs). */
#define NNRTI_CPU_avx512vnni 14
#define NNRTI_CPU_avx512 4
#define NNRTI_CPU_avx2 3
#define NNRTI_CPU_avx2pairs 43
#define NNRTI_CPU_i8mm 22
#define NNRTI_CPU_fp16 32
#define NNRTI_CPU_dotprod 12
#define NNRTI_CPU_neon 2
#define NNRTI_CPU_vector 1
#define NNRTI_CPU_relaxed 11
#define NNRTI_CPU_simd128 1 /* vector extensions, and some WebAssembly intrinsics: NNRTI_CPU_WASM */
#ifdef __wasm_simd128__
#define NNRTI_CPU_WASM 1
#else
#define NNRTI_CPU_WASM 0
#endif
#define NNRTI_CPU_LEVEL (NNRTI_CPU_JOIN_2(NNRTI_CPU_, NNRTI_CPU_ISA) % 10)
#define NNRTI_CPU_DOT (NNRTI_CPU_JOIN_2(NNRTI_CPU_, NNRTI_CPU_ISA) / 10)
#define NNRTI_CPU_SMALL (NNRTI_CPU_LEVEL >= 2) /* kernels for float16 and int8 weights; see nnrti_cpu_isa.narrow */
#define nnrti_v NNRTI_CPU(v)
#define nnrti_v_bits NNRTI_CPU(v_bits)
#define nnrti_v_load NNRTI_CPU(v_load)
#define nnrti_v_store NNRTI_CPU(v_store)
#define nnrti_v_all NNRTI_CPU(v_all)
#define nnrti_v_fma NNRTI_CPU(v_fma)
#define nnrti_v_min NNRTI_CPU(v_min)
#define nnrti_v_max NNRTI_CPU(v_max)

/* Prefetches the `count` words, 6 KiB behind w: hardware does not prefetch over the border of a page, and memory takes that
   long. They are read once: not into the caches that keep activations. A macro, because gcc inlines no function of another
   instruction set that has more instructions. */
#define NNRTI_NBITS_PREFETCH(w, count)                                                                                 \
    NNRTI_CPU_UNROLL                                                                                                   \
    for (int32_t line = 0; line < (count); line += 16)                                                                 \
        __builtin_prefetch((w) + 1536 + line, 0, 0)

#if !defined(__clang__) && (defined(__x86_64__) || defined(__i386__))
#pragma GCC push_options
#pragma GCC optimize("no-ipa-ra", "no-schedule-insns2", "no-inline-functions", "no-partial-inlining")
#endif
#if NNRTI_CPU_DOT
#if NNRTI_CPU_LEVEL == 4
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vnni,avx2,fma"))),        \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx512vnni,avx2,fma")
#endif
#define NNRTI_CPU_BASE avx512
#define NNRTI_LANES 16
#elif NNRTI_CPU_LEVEL == 3
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif
#define NNRTI_CPU_BASE avx2
#define NNRTI_LANES 8
#elif NNRTI_CPU_WASM
#define NNRTI_CPU_BASE simd128
#define NNRTI_LANES 4
#else
#if defined(__clang__) && NNRTI_CPU_DOT == 3
#pragma clang attribute push(__attribute__((target("dotprod,fullfp16"))), apply_to = function)
#elif defined(__clang__) && NNRTI_CPU_DOT == 2
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#elif defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
/* gcc inlines functions of the baseline only into targets that have all of its instructions: one that is at least armv8.2-a,
   as far as macros tell, is extended, another one replaced. */
#pragma GCC push_options
#if defined(__ARM_FEATURE_DOTPROD) || defined(__ARM_FEATURE_COMPLEX) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#if NNRTI_CPU_DOT == 3
#pragma GCC target("+dotprod+fp16")
#elif NNRTI_CPU_DOT == 2
#pragma GCC target("+dotprod+i8mm")
#else
#pragma GCC target("+dotprod")
#endif
#elif NNRTI_CPU_DOT == 3
#pragma GCC target("arch=armv8.2-a+dotprod+fp16")
#elif NNRTI_CPU_DOT == 2
#pragma GCC target("arch=armv8.2-a+dotprod+i8mm")
#else
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
#endif
#define NNRTI_CPU_BASE neon
#define NNRTI_LANES 4
#endif
#define NNRTI_PANEL_VECTORS 2
#else
#if NNRTI_CPU_LEVEL == 4
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma"))),                   \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")
#endif
#define NNRTI_LANES 16
#define NNRTI_PANEL_VECTORS 2
#define NNRTI_TILE_ROWS 8
#define NNRTI_TILE_ROWS_ONE 10
#define NNRTI_RECURRENT_ROWS 4
typedef __m512 nnrti_v;
typedef int32_t nnrti_v_bits __attribute__((vector_size(64)));
NNRTI_CPU_INLINE nnrti_v nnrti_v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
NNRTI_CPU_INLINE void nnrti_v_store(float *p, nnrti_v v)
{
    _mm512_storeu_ps(p, v);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_all(float f)
{
    return _mm512_set1_ps(f);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_fma(nnrti_v a, nnrti_v b, nnrti_v c)
{
    return _mm512_fmadd_ps(a, b, c);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_min(nnrti_v a, nnrti_v b)
{
    return _mm512_min_ps(a, b);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_max(nnrti_v a, nnrti_v b)
{
    return _mm512_max_ps(a, b);
}
#define NNRTI_CPU_IF_NAN(v, other) _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), v)
#define NNRTI_CPU_IF_LESS(x, y, v, other) _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), v)
#define NNRTI_CPU_SQRT(v) _mm512_sqrt_ps(v)
#elif NNRTI_CPU_LEVEL == 3
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif
#define NNRTI_LANES 8
#define NNRTI_PANEL_VECTORS 2
#define NNRTI_TILE_ROWS 6
#define NNRTI_TILE_ROWS_ONE 10
#define NNRTI_RECURRENT_ROWS 2
typedef __m256 nnrti_v;
typedef int32_t nnrti_v_bits __attribute__((vector_size(32)));
NNRTI_CPU_INLINE nnrti_v nnrti_v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
NNRTI_CPU_INLINE void nnrti_v_store(float *p, nnrti_v v)
{
    _mm256_storeu_ps(p, v);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_all(float f)
{
    return _mm256_set1_ps(f);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_fma(nnrti_v a, nnrti_v b, nnrti_v c)
{
    return _mm256_fmadd_ps(a, b, c);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_min(nnrti_v a, nnrti_v b)
{
    return _mm256_min_ps(a, b);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_max(nnrti_v a, nnrti_v b)
{
    return _mm256_max_ps(a, b);
}
#define NNRTI_CPU_IF_NAN(v, other) _mm256_blendv_ps(other, v, _mm256_cmp_ps(v, v, _CMP_UNORD_Q))
#define NNRTI_CPU_IF_LESS(x, y, v, other) _mm256_blendv_ps(other, v, _mm256_cmp_ps(x, y, _CMP_LT_OQ))
#define NNRTI_CPU_SQRT(v) _mm256_sqrt_ps(v)
#elif NNRTI_CPU_LEVEL == 2
#define NNRTI_LANES 4
#define NNRTI_PANEL_VECTORS 2
#define NNRTI_TILE_ROWS 8
#define NNRTI_TILE_ROWS_ONE 12
#define NNRTI_RECURRENT_ROWS 4
typedef float32x4_t nnrti_v;
typedef int32_t nnrti_v_bits __attribute__((vector_size(16)));
NNRTI_CPU_INLINE nnrti_v nnrti_v_load(const float *p)
{
    return vld1q_f32(p);
}
NNRTI_CPU_INLINE void nnrti_v_store(float *p, nnrti_v v)
{
    vst1q_f32(p, v);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_all(float f)
{
    return vdupq_n_f32(f);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_fma(nnrti_v a, nnrti_v b, nnrti_v c)
{
    return vfmaq_f32(c, a, b);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_min(nnrti_v a, nnrti_v b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_max(nnrti_v a, nnrti_v b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
#define NNRTI_CPU_IF_NAN(v, other) vbslq_f32(vceqq_f32(v, v), other, v)
#define NNRTI_CPU_IF_LESS(x, y, v, other) vbslq_f32(vcltq_f32(x, y), v, other)
#define NNRTI_CPU_SQRT(v) vsqrtq_f32(v)
#else
#if defined(__i386__) && !defined(__SSE2__) /* without SSE2, vectors would be x87 numbers of higher precision */
#define NNRTI_CPU_SSE2 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse2"))), apply_to = function)
#else
#pragma GCC target("sse2")
#endif
#endif
#define NNRTI_LANES 4
#define NNRTI_PANEL_VECTORS 2
#if NNRT_CPU_RELAXED /* a fused multiplication needs no register for the product */
#define NNRTI_TILE_ROWS 6
#else
#define NNRTI_TILE_ROWS 4
#endif
#define NNRTI_TILE_ROWS_ONE 8
#define NNRTI_RECURRENT_ROWS 2
typedef float nnrti_v __attribute__((vector_size(16)));
typedef int32_t nnrti_v_bits __attribute__((vector_size(16)));
NNRTI_CPU_INLINE nnrti_v nnrti_v_load(const float *p)
{
    nnrti_v v;
    memcpy(&v, p, sizeof(v));
    return v;
}
NNRTI_CPU_INLINE void nnrti_v_store(float *p, nnrti_v v)
{
    memcpy(p, &v, sizeof(v));
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_all(float f)
{
    const nnrti_v v = {f, f, f, f};
    return v;
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_fma(nnrti_v a, nnrti_v b, nnrti_v c)
{
#if NNRT_CPU_RELAXED && defined(__wasm_relaxed_simd__)
    return (nnrti_v)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
    return a * b + c;
#endif
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_min(nnrti_v a, nnrti_v b)
{
#if NNRTI_CPU_WASM
    return (nnrti_v)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#else
    const nnrti_v_bits less = a < b;
    return (nnrti_v)((less & (nnrti_v_bits)a) | (~less & (nnrti_v_bits)b));
#endif
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_max(nnrti_v a, nnrti_v b)
{
#if NNRTI_CPU_WASM
    return (nnrti_v)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
    const nnrti_v_bits more = a > b;
    return (nnrti_v)((more & (nnrti_v_bits)a) | (~more & (nnrti_v_bits)b));
#endif
}
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(v_if_nan)(nnrti_v v, nnrti_v other)
{
    const nnrti_v_bits number = v == v;
    return (nnrti_v)((number & (nnrti_v_bits)other) | (~number & (nnrti_v_bits)v));
}
#define NNRTI_CPU_IF_NAN(v, other) NNRTI_CPU(v_if_nan)(v, other)
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(v_if_less)(nnrti_v x, nnrti_v y, nnrti_v v, nnrti_v other)
{
    const nnrti_v_bits less = x < y;
    return (nnrti_v)((less & (nnrti_v_bits)v) | (~less & (nnrti_v_bits)other));
}
#define NNRTI_CPU_IF_LESS(x, y, v, other) NNRTI_CPU(v_if_less)(x, y, v, other)
#endif

/* The larger one, or NaN if either is NaN. */
#define nnrti_v_max_nan NNRTI_CPU(v_max_nan)
NNRTI_CPU_INLINE nnrti_v nnrti_v_max_nan(nnrti_v a, nnrti_v b)
{
    return NNRTI_CPU_IF_NAN(b, nnrti_v_max(b, a));
}

/* Partial vectors: loads the first n floats from p, zeros behind them; stores the first n lanes to p. n > 0.
   NNRTI_IS_WHOLE: whether n is a whole vector, for ISAs whose partial accesses are slower (not AVX-512, which has
   masks). */
#define nnrti_v_load_part NNRTI_CPU(v_load_part)
#define nnrti_v_store_part NNRTI_CPU(v_store_part)
#if NNRTI_CPU_LEVEL == 4
#define NNRTI_IS_WHOLE(n) false
NNRTI_CPU_INLINE nnrti_v nnrti_v_load_part(const float *p, int32_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)(n >= 16 ? 0xFFFFu : (1u << n) - 1), p);
}
NNRTI_CPU_INLINE void nnrti_v_store_part(float *p, nnrti_v v, int32_t n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)(n >= 16 ? 0xFFFFu : (1u << n) - 1), v);
}
#else
#define NNRTI_IS_WHOLE(n) ((n) >= NNRTI_LANES)
#if NNRTI_CPU_LEVEL == 3
/* A mask of the first n lanes. */
NNRTI_CPU_INLINE __m256i NNRTI_CPU(first)(int32_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif
NNRTI_CPU_INLINE nnrti_v nnrti_v_load_part(const float *p, int32_t n)
{
    if (n >= NNRTI_LANES)
        return nnrti_v_load(p);
#if NNRTI_CPU_LEVEL == 3
    return _mm256_maskload_ps(p, NNRTI_CPU(first)(n));
#else
    {
        float part[NNRTI_LANES] = {0};
        nnrti_cpu_copy_small(part, p, (size_t)n * sizeof(float));
        return nnrti_v_load(part);
    }
#endif
}
NNRTI_CPU_INLINE void nnrti_v_store_part(float *p, nnrti_v v, int32_t n)
{
    if (n >= NNRTI_LANES) {
        nnrti_v_store(p, v);
        return;
    }
#if NNRTI_CPU_LEVEL == 3
    _mm256_maskstore_ps(p, NNRTI_CPU(first)(n), v);
#else
    {
        float part[NNRTI_LANES];
        nnrti_v_store(part, v);
        nnrti_cpu_copy_small(p, part, (size_t)n * sizeof(float));
    }
#endif
}
#endif

/* Horizontal sum (halves are added first) and horizontal maximum (NaN if any lane is NaN). */
#define nnrti_v_sum NNRTI_CPU(v_sum)
#define nnrti_v_sum_4 NNRTI_CPU(v_sum_4) /* nnrti_v_sum of four vectors */
#define nnrti_v_largest NNRTI_CPU(v_largest)
#if NNRTI_CPU_LEVEL >= 3
NNRTI_CPU_INLINE float NNRTI_CPU(sum_4)(__m128 v)
{
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}
NNRTI_CPU_INLINE float NNRTI_CPU(largest_4)(__m128 v)
{
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}
#if NNRTI_CPU_LEVEL == 4
NNRTI_CPU_INLINE float nnrti_v_sum(nnrti_v v)
{
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    return NNRTI_CPU(sum_4)(_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}
NNRTI_CPU_INLINE void nnrti_v_sum_4(const nnrti_v *v, float *sums)
{
    const __m512 a = _mm512_add_ps(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xEE));
    const __m512 b = _mm512_add_ps(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xEE));
    __m512 all = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
    all = _mm512_add_ps(all, _mm512_permute_ps(all, 0xEE));
    all = _mm512_add_ps(all, _mm512_permute_ps(all, 0xF5));
    _mm_storeu_ps(sums, _mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, all)));
}
NNRTI_CPU_INLINE float nnrti_v_largest(nnrti_v v)
{
    const __m256 half = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    if (_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0)
        return NAN;
    return NNRTI_CPU(largest_4)(_mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}
#else
NNRTI_CPU_INLINE float nnrti_v_sum(nnrti_v v)
{
    return NNRTI_CPU(sum_4)(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}
NNRTI_CPU_INLINE void nnrti_v_sum_4(const nnrti_v *v, float *sums)
{
    const __m256 a = _mm256_add_ps(_mm256_permute2f128_ps(v[0], v[1], 0x20), _mm256_permute2f128_ps(v[0], v[1], 0x31));
    const __m256 b = _mm256_add_ps(_mm256_permute2f128_ps(v[2], v[3], 0x20), _mm256_permute2f128_ps(v[2], v[3], 0x31));
    __m256 all = _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE)); /* of 0, 2; 1, 3 */
    all = _mm256_add_ps(all, _mm256_permute_ps(all, 0xF5));
    _mm_storeu_ps(sums, _mm_permute_ps(_mm_shuffle_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1), 0x88),
                                       0xD8));
}
NNRTI_CPU_INLINE float nnrti_v_largest(nnrti_v v)
{
    if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) != 0)
        return NAN;
    return NNRTI_CPU(largest_4)(_mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}
#endif
#else
NNRTI_CPU_INLINE float nnrti_v_sum(nnrti_v v)
{
    float part[NNRTI_LANES];
    nnrti_v_store(part, v);
    for (int32_t n = NNRTI_LANES / 2; n > 0; n /= 2)
        for (int32_t i = 0; i < n; i++)
            part[i] += part[i + n];
    return part[0];
}
NNRTI_CPU_INLINE void nnrti_v_sum_4(const nnrti_v *v, float *sums)
{
    for (int32_t i = 0; i < 4; i++)
        sums[i] = nnrti_v_sum(v[i]);
}
NNRTI_CPU_INLINE float nnrti_v_largest(nnrti_v v)
{
    float part[NNRTI_LANES], most;
    nnrti_v_store(part, v);
    most = part[0];
    for (int32_t i = 1; i < NNRTI_LANES; i++)
        most = part[i] > most || part[i] != part[i] ? part[i] : most;
    return most;
}
#endif

/* Loads LANES bytes as int32, 0 to 255; stores the low byte of each int32; whether any bit is set. Not by
   __builtin_convertvector, for which gcc emits an instruction or more per element. */
#define nnrti_v_load_bytes NNRTI_CPU(v_load_bytes)
#define nnrti_v_store_bytes NNRTI_CPU(v_store_bytes)
#define nnrti_v_any NNRTI_CPU(v_any)
#if NNRTI_CPU_LEVEL == 4
NNRTI_CPU_INLINE nnrti_v_bits nnrti_v_load_bytes(const uint8_t *p)
{
    return (nnrti_v_bits)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
NNRTI_CPU_INLINE void nnrti_v_store_bytes(uint8_t *p, nnrti_v_bits v)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8((__m512i)v));
}
NNRTI_CPU_INLINE bool nnrti_v_any(nnrti_v_bits v)
{
    return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
}
#elif NNRTI_CPU_LEVEL == 3
NNRTI_CPU_INLINE nnrti_v_bits nnrti_v_load_bytes(const uint8_t *p)
{
    return (nnrti_v_bits)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}
NNRTI_CPU_INLINE void nnrti_v_store_bytes(uint8_t *p, nnrti_v_bits v)
{
    const __m256i last = (__m256i)(v & 255);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(last), _mm256_extracti128_si256(last, 1));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi16(words, words));
}
NNRTI_CPU_INLINE bool nnrti_v_any(nnrti_v_bits v)
{
    return _mm256_testz_si256((__m256i)v, (__m256i)v) == 0;
}
#elif NNRTI_CPU_LEVEL == 2
NNRTI_CPU_INLINE nnrti_v_bits nnrti_v_load_bytes(const uint8_t *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof(four));
    return (nnrti_v_bits)vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)))));
}
NNRTI_CPU_INLINE void nnrti_v_store_bytes(uint8_t *p, nnrti_v_bits v)
{
    const uint16x4_t words = vmovn_u32((uint32x4_t)v);
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
    memcpy(p, &four, sizeof(four));
}
NNRTI_CPU_INLINE bool nnrti_v_any(nnrti_v_bits v)
{
    return vmaxvq_u32((uint32x4_t)v) != 0;
}
#else
NNRTI_CPU_INLINE nnrti_v_bits nnrti_v_load_bytes(const uint8_t *p)
{
#if defined(__x86_64__)
    int32_t four;
    memcpy(&four, p, sizeof(four));
    return (nnrti_v_bits)_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128()),
                                            _mm_setzero_si128());
#else
    const nnrti_v_bits v = {p[0], p[1], p[2], p[3]};
    return v;
#endif
}
NNRTI_CPU_INLINE void nnrti_v_store_bytes(uint8_t *p, nnrti_v_bits v)
{
#if defined(__x86_64__)
    const __m128i words = _mm_packs_epi32((__m128i)(v & 255), (__m128i)(v & 255));
    const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    memcpy(p, &four, sizeof(four));
#else
    for (int32_t i = 0; i < 4; i++)
        p[i] = (uint8_t)v[i];
#endif
}
NNRTI_CPU_INLINE bool nnrti_v_any(nnrti_v_bits v)
{
    return (v[0] | v[1] | v[2] | v[3]) != 0;
}
#endif

/* exp(x): x = n ln 2 + r, |r| <= ln(2) / 2; a polynomial of degree 7 (Cephes' expf) times 2^n in two steps, so that
   subnormal results are right, too. At most 2 ulp. */
#define nnrti_v_exp NNRTI_CPU(v_exp)
NNRTI_CPU_INLINE nnrti_v nnrti_v_exp(nnrti_v x)
{
    const nnrti_v magic = nnrti_v_all(12582912.0f); /* 1.5 * 2^23: the sum has n in its low bits */
    nnrti_v t, n, r, p;
#if NNRTI_CPU_LEVEL != 4
    nnrti_v_bits whole, half;
#endif
    x = nnrti_v_min(nnrti_v_all(89.0f), nnrti_v_max(nnrti_v_all(-105.0f), x));
    t = nnrti_v_fma(x, nnrti_v_all(1.44269504f), magic);
    n = t - magic;
    r = nnrti_v_fma(n, nnrti_v_all(-0.693359375f), x);
    r = nnrti_v_fma(n, nnrti_v_all(2.12194440e-4f), r);
    p = nnrti_v_fma(nnrti_v_all(1.9875691500e-4f), r, nnrti_v_all(1.3981999507e-3f));
    p = nnrti_v_fma(p, r, nnrti_v_all(8.3334519073e-3f));
    p = nnrti_v_fma(p, r, nnrti_v_all(4.1665795894e-2f));
    p = nnrti_v_fma(p, r, nnrti_v_all(1.6666665459e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(5.0000001201e-1f));
    p = nnrti_v_fma(p, r * r, r + nnrti_v_all(1.0f));
#if NNRTI_CPU_LEVEL == 4
    return _mm512_scalef_ps(p, n);
#else
    whole = (nnrti_v_bits)t - (nnrti_v_bits)magic;
    half = whole >> 1;
    whole = whole - half;
    return p * (nnrti_v)((half + 127) << 23) * (nnrti_v)((whole + 127) << 23);
#endif
}

/* 1 / (1 + exp(-x)). */
#define nnrti_v_sigmoid NNRTI_CPU(v_sigmoid)
NNRTI_CPU_INLINE nnrti_v nnrti_v_sigmoid(nnrti_v x)
{
    return nnrti_v_all(1.0f) / (nnrti_v_all(1.0f) + nnrti_v_exp(nnrti_v_all(0.0f) - x));
}

/* tanh(x) as a quotient of polynomials in x, clamped to -7.9 to 7.9 (coefficients of Eigen). At most 4 ulp.
   nnrti_v_tanh_parts returns the numerator; *by: the denominator, which is between 0 and 1. */
#define nnrti_v_tanh NNRTI_CPU(v_tanh)
#define nnrti_v_tanh_parts NNRTI_CPU(v_tanh_parts)
NNRTI_CPU_INLINE nnrti_v nnrti_v_tanh_parts(nnrti_v x, nnrti_v *by)
{
    nnrti_v s, p, q;
    x = nnrti_v_min(nnrti_v_all(7.90531110763549805f), nnrti_v_max(nnrti_v_all(-7.90531110763549805f), x));
    s = x * x;
    p = nnrti_v_fma(s, nnrti_v_all(-2.76076847742355e-16f), nnrti_v_all(2.00018790482477e-13f));
    p = nnrti_v_fma(s, p, nnrti_v_all(-8.60467152213735e-11f));
    p = nnrti_v_fma(s, p, nnrti_v_all(5.12229709037114e-08f));
    p = nnrti_v_fma(s, p, nnrti_v_all(1.48572235717979e-05f));
    p = nnrti_v_fma(s, p, nnrti_v_all(6.37261928875436e-04f));
    p = nnrti_v_fma(s, p, nnrti_v_all(4.89352455891786e-03f));
    q = nnrti_v_fma(s, nnrti_v_all(1.19825839466702e-06f), nnrti_v_all(1.18534705686654e-04f));
    q = nnrti_v_fma(s, q, nnrti_v_all(2.26843463243900e-03f));
    *by = nnrti_v_fma(s, q, nnrti_v_all(4.89352518554385e-03f));
    return x * p;
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_tanh(nnrti_v x)
{
    nnrti_v by;
    x = nnrti_v_tanh_parts(x, &by);
    return x / by;
}

/* erf(x) as a quotient of polynomials, clamped to -4 to 4; the error is at most 2^-22. */
#define nnrti_v_erf NNRTI_CPU(v_erf)
NNRTI_CPU_INLINE nnrti_v nnrti_v_erf(nnrti_v x)
{
    nnrti_v s, p, q;
    x = nnrti_v_min(nnrti_v_all(4.0f), nnrti_v_max(nnrti_v_all(-4.0f), x));
    s = x * x;
    p = nnrti_v_fma(s, nnrti_v_all(-2.72614225801306e-10f), nnrti_v_all(2.77068142495902e-08f));
    p = nnrti_v_fma(s, p, nnrti_v_all(-2.10102402082508e-06f));
    p = nnrti_v_fma(s, p, nnrti_v_all(-5.69250639462346e-05f));
    p = nnrti_v_fma(s, p, nnrti_v_all(-7.34990630326855e-04f));
    p = nnrti_v_fma(s, p, nnrti_v_all(-2.95459980854025e-03f));
    p = nnrti_v_fma(s, p, nnrti_v_all(-1.60960333262415e-02f));
    q = nnrti_v_fma(s, nnrti_v_all(-1.45660718464996e-05f), nnrti_v_all(-2.13374055278905e-04f));
    q = nnrti_v_fma(s, q, nnrti_v_all(-1.68282697438203e-03f));
    q = nnrti_v_fma(s, q, nnrti_v_all(-7.37332916720468e-03f));
    q = nnrti_v_fma(s, q, nnrti_v_all(-1.42647390514189e-02f));
    q = x * p / q;
    return nnrti_v_min(nnrti_v_all(1.0f), nnrti_v_max(nnrti_v_all(-1.0f), q));
}

/* x < y ? v : other; other if x or y is NaN. */
#define nnrti_v_if_less NNRTI_CPU(v_if_less)
#if NNRTI_CPU_LEVEL >= 2
NNRTI_CPU_INLINE nnrti_v nnrti_v_if_less(nnrti_v x, nnrti_v y, nnrti_v v, nnrti_v other)
{
    return NNRTI_CPU_IF_LESS(x, y, v, other);
}
#endif

/* The square root, correctly rounded; element by element where the ISA has no instruction for it. */
#define nnrti_v_sqrt NNRTI_CPU(v_sqrt)
NNRTI_CPU_INLINE nnrti_v nnrti_v_sqrt(nnrti_v x)
{
#ifdef NNRTI_CPU_SQRT
    return nnrti_v_if_less(x, nnrti_v_all(0.0f), nnrti_v_all(NAN), NNRTI_CPU_SQRT(x)); /* +NaN below 0 */
#else
    float part[NNRTI_LANES];
    nnrti_v_store(part, x);
    for (int32_t i = 0; i < NNRTI_LANES; i++)
        part[i] = nnrt_sqrtf(part[i]);
    return nnrti_v_load(part);
#endif
}

/* ROUND, FLOOR or CEIL, exact: adding 2^23 to |x| drops the fraction, to nearest even; then the sign is restored.
   From 2^23 on all floats are integers. */
#define nnrti_v_to_integer NNRTI_CPU(v_to_integer)
NNRTI_CPU_INLINE nnrti_v nnrti_v_to_integer(nnrti_v x, const nnrti_cpu_function function)
{
    const nnrti_v big = nnrti_v_all(8388608.0f), one = nnrti_v_all(1.0f);
    const nnrti_v size = (nnrti_v)((nnrti_v_bits)x & INT32_MAX), near = (size + big) - big;
    const nnrti_v_bits sign = (nnrti_v_bits)x & INT32_MIN;
    nnrti_v y = (nnrti_v)((nnrti_v_bits)nnrti_v_if_less(size, big, near, size) | sign);
    if (function == NNRTI_CPU_FLOOR)
        y = nnrti_v_if_less(x, y, y - one, y);
    else if (function == NNRTI_CPU_CEIL)
        y = nnrti_v_if_less(y, x, y + one, y);
    return (nnrti_v)((nnrti_v_bits)y | sign);
}

/* exp(x) - 1 for x <= 0, as nnrti_v_exp: 2^n p + (2^n - 1), where p is exp(r) - 1. At most 3 ulp. */
#define nnrti_v_expm1 NNRTI_CPU(v_expm1)
NNRTI_CPU_INLINE nnrti_v nnrti_v_expm1(nnrti_v x)
{
    const nnrti_v magic = nnrti_v_all(12582912.0f);
    nnrti_v t, n, r, p;
    x = nnrti_v_max(nnrti_v_all(-87.0f), x);
    t = nnrti_v_fma(x, nnrti_v_all(1.44269504f), magic);
    n = t - magic;
    r = nnrti_v_fma(n, nnrti_v_all(-0.693359375f), x);
    r = nnrti_v_fma(n, nnrti_v_all(2.12194440e-4f), r);
    p = nnrti_v_fma(nnrti_v_all(1.9875691500e-4f), r, nnrti_v_all(1.3981999507e-3f));
    p = nnrti_v_fma(p, r, nnrti_v_all(8.3334519073e-3f));
    p = nnrti_v_fma(p, r, nnrti_v_all(4.1665795894e-2f));
    p = nnrti_v_fma(p, r, nnrti_v_all(1.6666665459e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(5.0000001201e-1f));
    p = nnrti_v_fma(p, r * r, r);
    n = (nnrti_v)(((nnrti_v_bits)t - (nnrti_v_bits)magic + 127) << 23);
    return nnrti_v_fma(p, n, n - nnrti_v_all(1.0f));
}

/* ln x: x = 2^n m, sqrt(1/2) <= m < sqrt(2), a polynomial in m - 1 (Cephes' logf). At most 2 ulp; -Inf at 0, NaN
   below. */
#define nnrti_v_log NNRTI_CPU(v_log)
NNRTI_CPU_INLINE nnrti_v nnrti_v_log(nnrti_v x)
{
    const nnrti_v least = nnrti_v_all(1.17549435e-38f), one = nnrti_v_all(1.0f), zero = nnrti_v_all(0.0f);
    const nnrti_v normal = nnrti_v_if_less(x, least, x * nnrti_v_all(8388608.0f), x), most = nnrti_v_all(3.4028235e38f);
    const nnrti_v_bits all = (nnrti_v_bits)nnrti_v_min(nnrti_v_max(normal, least), most) + 0x004afb0d;
    const nnrti_v scaled = nnrti_v_if_less(x, least, nnrti_v_all(-23.0f), zero); /* of scaled subnormals */
    const nnrti_v n = __builtin_convertvector((all >> 23) - 127, nnrti_v) + scaled;
    const nnrti_v r = (nnrti_v)((all & 0x007fffff) + 0x3f3504f3) - one, s = r * r;
    nnrti_v p = nnrti_v_fma(nnrti_v_all(7.0376836292e-2f), r, nnrti_v_all(-1.1514610310e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(1.1676998740e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(-1.2420140846e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(1.4249322787e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(-1.6668057665e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(2.0000714765e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(-2.4999993993e-1f));
    p = nnrti_v_fma(p, r, nnrti_v_all(3.3333331174e-1f));
    p = nnrti_v_fma(n, nnrti_v_all(-2.12194440e-4f), p * r * s);
    p = nnrti_v_fma(nnrti_v_all(-0.5f), s, p) + r;
    p = nnrti_v_fma(n, nnrti_v_all(0.693359375f), p);
    p = nnrti_v_if_less(x, nnrti_v_all(INFINITY), p, x);
    return nnrti_v_if_less(zero, x, p, nnrti_v_if_less(x, zero, nnrti_v_all(NAN), x * x - nnrti_v_all(INFINITY)));
}

/* ln(1 + x), 0 <= x <= 1, corrected by the rounding error of 1 + x. At most 3 ulp. */
#define nnrti_v_log1p NNRTI_CPU(v_log1p)
NNRTI_CPU_INLINE nnrti_v nnrti_v_log1p(nnrti_v x)
{
    const nnrti_v u = x + nnrti_v_all(1.0f);
    return nnrti_v_log(u) + (x - (u - nnrti_v_all(1.0f))) / u;
}

/* atan x, as the reference device: of |x| = tan(b + atan t), |t| <= tan(pi/8). At most 2 ulp. */
#define nnrti_v_atan NNRTI_CPU(v_atan)
NNRTI_CPU_INLINE nnrti_v nnrti_v_atan(nnrti_v x)
{
    const nnrti_v one = nnrti_v_all(1.0f), zero = nnrti_v_all(0.0f), most = nnrti_v_all(2.41421366f);
    const nnrti_v a = (nnrti_v)((nnrti_v_bits)x & INT32_MAX), least = nnrti_v_all(0.414213568f);
    const nnrti_v above = nnrti_v_if_less(least, a, a - one, a), below = nnrti_v_if_less(least, a, a + one, one);
    const nnrti_v t = nnrti_v_if_less(most, a, zero - one, above) / nnrti_v_if_less(most, a, a, below), z = t * t;
    const nnrti_v half = nnrti_v_if_less(least, a, nnrti_v_all(0.785398185f), zero);
    const nnrti_v part = nnrti_v_if_less(least, a, nnrti_v_all(-2.18556941e-08f), zero);
    const nnrti_v b = nnrti_v_if_less(most, a, nnrti_v_all(1.57079637f), half);
    const nnrti_v rest = nnrti_v_if_less(most, a, nnrti_v_all(-4.37113883e-08f), part);
    nnrti_v p = nnrti_v_fma(z, nnrti_v_all(-0.0608230494f), nnrti_v_all(0.105955712f));
    p = nnrti_v_fma(z, p, nnrti_v_all(-0.142437935f));
    p = nnrti_v_fma(z, p, nnrti_v_all(0.199984863f));
    p = nnrti_v_fma(z, p, nnrti_v_all(-0.333333164f));
    p = b + (t + (t * z * p + rest));
    return (nnrti_v)((nnrti_v_bits)p | ((nnrti_v_bits)x & INT32_MIN));
}

/* ln(1 + w) for a < 2^14, else ln(2 a), which is that of w; a and w >= 0. */
#define nnrti_v_log_of NNRTI_CPU(v_log_of)
NNRTI_CPU_INLINE nnrti_v nnrti_v_log_of(nnrti_v w, nnrti_v a)
{
    const nnrti_v far = nnrti_v_all(16384.0f), u = w + nnrti_v_all(1.0f);
    const nnrti_v rest = nnrti_v_if_less(a, far, (w - (u - nnrti_v_all(1.0f))) / u, nnrti_v_all(0.693147182f));
    return nnrti_v_log(nnrti_v_if_less(a, far, u, a)) + rest;
}

/* sinh x: below 1 the power series up to x^11, else h - 1 / (4 h), h = e^|x| / 2. Its exponent is reduced by ln(2.2513514),
   an exact difference, so that h is finite wherever sinh x is. At most 4 ulp. cosh x: h + 1 / (4 h), at most 4 ulp. */
#define nnrti_v_half_exp NNRTI_CPU(v_half_exp)
NNRTI_CPU_INLINE nnrti_v nnrti_v_half_exp(nnrti_v x)
{
    const nnrti_v a = (nnrti_v)((nnrti_v_bits)x & INT32_MAX);
    return nnrti_v_exp(a - nnrti_v_all(0.8115234375f)) * nnrti_v_all(1.12566757f);
}
#define nnrti_v_sinh NNRTI_CPU(v_sinh)
NNRTI_CPU_INLINE nnrti_v nnrti_v_sinh(nnrti_v x)
{
    const nnrti_v a = (nnrti_v)((nnrti_v_bits)x & INT32_MAX), h = nnrti_v_half_exp(x), z = x * x;
    const nnrti_v large = (nnrti_v)((nnrti_v_bits)(h - nnrti_v_all(0.25f) / h) | ((nnrti_v_bits)x & INT32_MIN));
    nnrti_v p = nnrti_v_fma(z, nnrti_v_all(2.50521084e-8f), nnrti_v_all(2.75573192e-6f));
    p = nnrti_v_fma(z, p, nnrti_v_all(1.98412698e-4f));
    p = nnrti_v_fma(z, p, nnrti_v_all(8.33333333e-3f));
    p = nnrti_v_fma(z, p, nnrti_v_all(1.66666667e-1f));
    return nnrti_v_if_less(a, nnrti_v_all(1.0f), nnrti_v_fma(x * z, p, x), large);
}

/* asinh x = ln(1 + a + a^2 / (1 + sqrt(1 + a^2))), a = |x|; acosh x = ln(1 + t + sqrt(2 t + t^2)), t = x - 1; atanh x =
   ln(1 + 2 a / (1 - a)) / 2; as the reference device. At most 4 ulp. */
#define nnrti_v_inverse NNRTI_CPU(v_inverse)
NNRTI_CPU_INLINE nnrti_v nnrti_v_inverse(nnrti_v x, const nnrti_cpu_function function)
{
    const nnrti_v one = nnrti_v_all(1.0f), zero = nnrti_v_all(0.0f), all = nnrti_v_all(INFINITY), none = nnrti_v_all(NAN);
    const nnrti_v a = (nnrti_v)((nnrti_v_bits)x & INT32_MAX), t = x - one, z = a * a;
    nnrti_v y;
    if (function == NNRTI_CPU_ACOSH) {
        y = nnrti_v_log_of(t + nnrti_v_sqrt(nnrti_v_fma(t, t, t + t)), x);
        return NNRTI_CPU_IF_NAN(x, nnrti_v_if_less(x, one, none, nnrti_v_if_less(x, all, y, x)));
    }
    if (function == NNRTI_CPU_ATANH) {
        y = nnrti_v_all(0.5f) * nnrti_v_log_of((a + a) / (one - a), zero);
        y = nnrti_v_if_less(a, one, y, nnrti_v_if_less(one, a, none, all));
    } else {
        y = nnrti_v_log_of(a + z / (one + nnrti_v_sqrt(one + z)), a);
        y = nnrti_v_if_less(a, all, y, a);
    }
    return NNRTI_CPU_IF_NAN(x, (nnrti_v)((nnrti_v_bits)y | ((nnrti_v_bits)x & INT32_MIN)));
}

/* A vector of activation(x), for the activations of nnrti_cpu_has_simd_activation. A factor is bounded from below
   where the other factor is 0 for everything smaller, so that -Inf gives 0 and not NaN. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(activation)(nnrti_v x, const NNRT_ActivationType activation)
{
    const nnrti_v one = nnrti_v_all(1.0f), three = nnrti_v_all(3.0f), six = nnrti_v_all(6.0f);
    const nnrti_v sixth = nnrti_v_all(1.0f / 6.0f), half = nnrti_v_all(0.5f);
    switch (activation) {
    case NNRT_ACTIVATION_TYPE_SIGMOID: return nnrti_v_sigmoid(x);
    case NNRT_ACTIVATION_TYPE_TANH: return nnrti_v_tanh(x);
    case NNRT_ACTIVATION_TYPE_HSWISH:
        x = nnrti_v_max(nnrti_v_all(-3.0f), x);
        return x * (nnrti_v_min(six, x + three) * sixth);
    case NNRT_ACTIVATION_TYPE_HSIGMOID: return nnrti_v_min(six, nnrti_v_max(nnrti_v_all(0.0f), x + three)) * sixth;
    case NNRT_ACTIVATION_TYPE_SWISH: x = nnrti_v_max(nnrti_v_all(-104.0f), x); return x * nnrti_v_sigmoid(x);
    case NNRT_ACTIVATION_TYPE_GELU:
        x = nnrti_v_max(nnrti_v_all(-6.0f), x);
        return half * x * (one + nnrti_v_erf(x * nnrti_v_all(0.70710678f)));
    default: return x;
    }
}

#define NNRTI_CPU_ACTIVATE(type)                                                                                       \
    case NNRT_ACTIVATION_TYPE_##type:                                                                                  \
        for (; i < count; i += NNRTI_LANES)                                                                            \
            nnrti_v_store_part(                                                                                        \
                y + i, NNRTI_CPU(activation)(nnrti_v_load_part(x + i, count - i), NNRT_ACTIVATION_TYPE_##type),        \
                count - i);                                                                                            \
        break;

/* y = activation(x) for count elements; y may be x. Epilogues clamp in registers; other activations run here, over
   results that are still in the cache. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(activation_row)(const float *x, float *y, int32_t count,
                                                         NNRT_ActivationType activation)
{
    int32_t i = 0;
    float low, high;
    if (nnrti_cpu_activation_bounds(activation, &low, &high)) {
        for (; i < count; i += NNRTI_LANES)
            nnrti_v_store_part(
                y + i,
                nnrti_v_min(nnrti_v_all(high), nnrti_v_max(nnrti_v_all(low), nnrti_v_load_part(x + i, count - i))),
                count - i);
        return;
    }
    switch (activation) {
        NNRTI_CPU_ACTIVATE(SIGMOID)
        NNRTI_CPU_ACTIVATE(TANH)
        NNRTI_CPU_ACTIVATE(HSWISH)
        NNRTI_CPU_ACTIVATE(HSIGMOID)
        NNRTI_CPU_ACTIVATE(SWISH)
        NNRTI_CPU_ACTIVATE(GELU)
    default:
        for (; i < count; i++)
            y[i] = nnrt_activate(x[i], activation);
    }
}

/* A vector of a unary function. Infinite x gives the limit of the function; NaN stays NaN. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(unary_function)(nnrti_v x, nnrti_v a, nnrti_v b, const nnrti_cpu_function function)
{
    const nnrti_v zero = nnrti_v_all(0.0f), one = nnrti_v_all(1.0f), two = nnrti_v_all(2.0f);
    nnrti_v e;
    switch (function) {
    case NNRTI_CPU_CLAMP: return nnrti_v_min(b, nnrti_v_max(a, x));
    case NNRTI_CPU_LEAKY: return nnrti_v_if_less(x, zero, a * x, x);
    case NNRTI_CPU_ELU: return b * nnrti_v_if_less(x, zero, a * nnrti_v_expm1(x), x);
    case NNRTI_CPU_SOFTPLUS:
        return nnrti_v_max(zero, x) + nnrti_v_log1p(nnrti_v_exp(nnrti_v_if_less(zero, x, zero - x, x)));
    case NNRTI_CPU_SOFTSIGN:
        x = nnrti_v_min(nnrti_v_all(3.4028235e38f), nnrti_v_max(nnrti_v_all(-3.4028235e38f), x));
        return x / (one + nnrti_v_if_less(x, zero, zero - x, x));
    case NNRTI_CPU_MISH: /* tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2) */
        x = nnrti_v_max(nnrti_v_all(-104.0f), x);
        e = nnrti_v_exp(nnrti_v_min(nnrti_v_all(20.0f), x));
        e = e * (e + two);
        return x * (e / (e + two));
    case NNRTI_CPU_EXP: return nnrti_v_exp(a * x + b);
    case NNRTI_CPU_LOG: return nnrti_v_log(x);
    case NNRTI_CPU_SQRT: return nnrti_v_sqrt(x);
    case NNRTI_CPU_RSQRT: return one / nnrti_v_sqrt(x);
    case NNRTI_CPU_SQUARE: return x * x;
    case NNRTI_CPU_CUBE: return x * x * x;
    case NNRTI_CPU_ERF: return nnrti_v_erf(x);
    case NNRTI_CPU_ABS: return (nnrti_v)((nnrti_v_bits)x & INT32_MAX);
    case NNRTI_CPU_NEG: return (nnrti_v)((nnrti_v_bits)x ^ INT32_MIN);
    case NNRTI_CPU_RECIPROCAL: return one / x;
    case NNRTI_CPU_HARD_SIGMOID: return nnrti_v_min(one, nnrti_v_max(zero, a * x + b));
    case NNRTI_CPU_SIGN: return nnrti_v_if_less(zero, x, one, nnrti_v_if_less(x, zero, zero - one, x));
    case NNRTI_CPU_ATAN: return nnrti_v_atan(x);
    case NNRTI_CPU_ASIN: return nnrti_v_atan(x / nnrti_v_sqrt((one - x) * (one + x)));
    case NNRTI_CPU_ACOS: return two * nnrti_v_atan(nnrti_v_sqrt((one - x) / (one + x)));
    case NNRTI_CPU_SINH: return nnrti_v_sinh(x);
    case NNRTI_CPU_COSH: e = nnrti_v_half_exp(x); return e + nnrti_v_all(0.25f) / e;
    case NNRTI_CPU_ASINH:
    case NNRTI_CPU_ACOSH:
    case NNRTI_CPU_ATANH: return nnrti_v_inverse(x, function);
    case NNRTI_CPU_GELU_TANH:
        x = nnrti_v_max(nnrti_v_all(-12.0f), x);
        e = nnrti_v_tanh(nnrti_v_all(0.7978845608f) * (x + nnrti_v_all(0.044715f) * x * x * x));
        return nnrti_v_all(0.5f) * x * (one + e);
    default: return nnrti_v_to_integer(x, function);
    }
}

/* y = function(x) for count elements; y may be x. One function for each: without optimization a compiler keeps the variables of
   every branch of unary_function in each place that calls it. */
#define NNRTI_CPU_UNARY(name)                                                                                          \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(unary_##name)(const float *x, float *y, int32_t count,                    \
                                                           const nnrti_cpu_elementwise *each)                          \
    {                                                                                                                  \
        const nnrti_v a = nnrti_v_all(each->a), b = nnrti_v_all(each->b);                                              \
        for (int32_t i = 0; i < count; i += NNRTI_LANES)                                                               \
            nnrti_v_store_part(y + i,                                                                                  \
                               NNRTI_CPU(unary_function)(nnrti_v_load_part(x + i, count - i), a, b, NNRTI_CPU_##name), \
                               count - i);                                                                             \
    }
NNRTI_CPU_UNARY_FUNCTIONS(NNRTI_CPU_UNARY)

#define NNRTI_CPU_UNARY_CASE(name)                                                                                     \
    case NNRTI_CPU_##name: NNRTI_CPU(unary_##name)(x, y, count, each); break;

static void NNRTI_CPU(unary_row)(const float *x, float *y, int32_t count, const nnrti_cpu_elementwise *each)
{
    switch (each->function) {
        NNRTI_CPU_UNARY_FUNCTIONS(NNRTI_CPU_UNARY_CASE)
    default: NNRTI_CPU(activation_row)(x, y, count, each->activation);
    }
}

#if defined(__clang__)
#if NNRTI_CPU_LEVEL == 4
#define NNRTI_CPU_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#elif NNRTI_CPU_LEVEL == 3
#define NNRTI_CPU_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#else
#define NNRTI_CPU_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#endif
#endif

/* The even elements of two concatenated vectors. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(v_even)(nnrti_v a, nnrti_v b)
{
#if defined(__clang__)
    return NNRTI_CPU_EVEN(a, b);
#else
    nnrti_v_bits even;
    for (int32_t t = 0; t < NNRTI_LANES; t++)
        even[t] = 2 * t;
    return __builtin_shuffle(a, b, even);
#endif
}

/* Conversion of float16, stored as bits. Widening is exact, narrowing rounds to nearest even; nnrti_v_round does
   both. A NaN becomes quiet and keeps its sign and the high bits of its payload. */
#define nnrti_v_widen NNRTI_CPU(v_widen)
#define nnrti_v_narrow NNRTI_CPU(v_narrow)
#define nnrti_v_round NNRTI_CPU(v_round)
#if NNRTI_CPU_LEVEL == 4
NNRTI_CPU_INLINE nnrti_v nnrti_v_widen(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
NNRTI_CPU_INLINE void nnrti_v_narrow(uint16_t *p, nnrti_v v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_maskz_cvtps_ph(0xFFFF, v, 8));
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_round(nnrti_v v)
{
    return _mm512_cvtph_ps(_mm512_maskz_cvtps_ph(0xFFFF, v, 8));
}
#elif NNRTI_CPU_LEVEL == 3
NNRTI_CPU_INLINE nnrti_v nnrti_v_widen(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
NNRTI_CPU_INLINE void nnrti_v_narrow(uint16_t *p, nnrti_v v)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtps_ph(v, 0));
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_round(nnrti_v v)
{
    return _mm256_cvtph_ps(_mm256_cvtps_ph(v, 0));
}
#elif NNRTI_CPU_LEVEL == 2
NNRTI_CPU_INLINE nnrti_v nnrti_v_widen(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
NNRTI_CPU_INLINE void nnrti_v_narrow(uint16_t *p, nnrti_v v)
{
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v)));
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_round(nnrti_v v)
{
    return vcvt_f32_f16(vcvt_f16_f32(v));
}
#else
typedef uint32_t NNRTI_CPU(v_words) __attribute__((vector_size(16)));
/* No intermediate value is a subnormal float: some machines flush those to 0. */
NNRTI_CPU_INLINE nnrti_v nnrti_v_widen(const uint16_t *p)
{
    const NNRTI_CPU(v_words) x = {p[0], p[1], p[2], p[3]};
    const NNRTI_CPU(v_words) rest = (x & 0x7FFFu) << 13, e = rest & 0x0F800000u, up = rest + (112u << 23);
    const NNRTI_CPU(v_words) special = (NNRTI_CPU(v_words))(e == 0x0F800000u), small = (NNRTI_CPU(v_words))(e == 0);
    const NNRTI_CPU(v_words) none = special & (NNRTI_CPU(v_words))(rest != e);
    const NNRTI_CPU(v_words) tiny =
        (NNRTI_CPU(v_words))((nnrti_v)(rest + (113u << 23)) - nnrti_v_all(6.103515625e-05f)); /* 2^-14 */
    return (nnrti_v)((small & tiny) | (~small & (up + (special & (112u << 23)))) | (none & 0x400000u) |
                     (x & 0x8000u) << 16);
}
NNRTI_CPU_INLINE void nnrti_v_narrow(uint16_t *p, nnrti_v v)
{
    const NNRTI_CPU(v_words) sign = (NNRTI_CPU(v_words))v & 0x80000000u, x = (NNRTI_CPU(v_words))v ^ sign;
    const NNRTI_CPU(v_words) large = (NNRTI_CPU(v_words))(x >= (143u << 23)); /* 2^16 */
    const NNRTI_CPU(v_words) none = (NNRTI_CPU(v_words))(x > (255u << 23));
    const NNRTI_CPU(v_words) small = (NNRTI_CPU(v_words))(x < (113u << 23)); /* 2^-14 */
    /* The last bit of x + 0.5 is 2^-24, which rounds subnormal results; the other sum rounds the bits that it drops. */
    const NNRTI_CPU(v_words) tiny = (NNRTI_CPU(v_words))((nnrti_v)x + nnrti_v_all(0.5f)) - (126u << 23);
    const NNRTI_CPU(v_words) down = (x - (112u << 23) + 0xFFFu + (x >> 13 & 1u)) >> 13;
    const NNRTI_CPU(v_words) infinite = 0x7C00u | (none & (0x200u | (x >> 13 & 0x3FFu)));
    const NNRTI_CPU(v_words) y = (small & tiny) | (~small & ~large & down) | (large & infinite) | sign >> 16;
    for (int32_t i = 0; i < 4; i++)
        p[i] = (uint16_t)y[i];
}
NNRTI_CPU_INLINE nnrti_v nnrti_v_round(nnrti_v v)
{
    uint16_t half[NNRTI_LANES];
    nnrti_v_narrow(half, v);
    return nnrti_v_widen(half);
}
#endif

/* Loads LANES packed weights of a type (NNRTI_CPU_F32 and others), from weight `at` on. */
#define nnrti_v_weights NNRTI_CPU(v_weights)
NNRTI_CPU_INLINE nnrti_v nnrti_v_weights(const uint8_t *w, size_t at, const int32_t type)
{
    if (type == NNRTI_CPU_F16)
        return nnrti_v_widen((const uint16_t *)(const void *)w + at);
    if (type != NNRTI_CPU_I8)
        return nnrti_v_load((const float *)(const void *)w + at);
#if NNRTI_CPU_LEVEL == 4
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(w + at))));
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(w + at))));
#else
    return __builtin_convertvector(nnrti_v_load_bytes(w + at) << 24 >> 24, nnrti_v);
#endif
}

/* y = x, widened, for count elements. */
NNRTI_CPU_INLINE void NNRTI_CPU(widen_run)(const uint16_t *x, float *y, int32_t count)
{
    int32_t i = 0;
    for (; i + NNRTI_LANES <= count; i += NNRTI_LANES)
        nnrti_v_store(y + i, nnrti_v_widen(x + i));
    if (i < count) {
        uint16_t part[NNRTI_LANES] = {0};
        nnrti_cpu_copy_small(part, x + i, (size_t)(count - i) * sizeof(*x));
        nnrti_v_store_part(y + i, nnrti_v_widen(part), count - i);
    }
}

/* y = x, narrowed, for count elements. */
NNRTI_CPU_INLINE void NNRTI_CPU(narrow_run)(const float *x, uint16_t *y, int32_t count)
{
    int32_t i = 0;
    for (; i + NNRTI_LANES <= count; i += NNRTI_LANES)
        nnrti_v_narrow(y + i, nnrti_v_load(x + i));
    if (i < count) {
        uint16_t part[NNRTI_LANES];
        nnrti_v_narrow(part, nnrti_v_load_part(x + i, count - i));
        nnrti_cpu_copy_small(y + i, part, (size_t)(count - i) * sizeof(*y));
    }
}

/* The function `narrow` of the ISA's table. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(narrow_weights)(const float *x, uint16_t *y, int32_t count)
{
    NNRTI_CPU(narrow_run)(x, y, count);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>gemm */

/* GEMM. A work item computes some pixels of y by all panels, or by a part of them. For each panel the register tile
   of NNRTI_TILE_ROWS pixels x NNRTI_PANEL_VECTORS vectors of channels is held in registers (`microkernel`): for each
   filter tap and channel of x it loads the weights of the panel once, broadcasts x of each pixel, and accumulates by
   fused multiply-add. The epilogue (`epilogue`) then clamps, adds the residual, clamps again and stores; other
   activations follow in a separate pass.

   Weights are prepacked so that the microkernel reads them sequentially; the next panel is prefetched meanwhile. x
   is read through an indirection buffer: per tap and pixel a pointer to its channels (implicit GEMM), so
   convolutions, matrices and grouped convolutions share one microkernel. The lists repeat the last pixel up to a
   whole tile, so the microkernel has no remainder loop for pixels; only stores of the last vector of channels are
   masked.

   Invariant: each sum starts with the bias and adds its terms in the order of taps, then channels, in one register.
   So results depend neither on tile sizes nor on the number of threads. K is never split over accumulators or
   threads, although that would occupy more cores in small GEMMs: it would change the order of the sum.

   A matrix-vector product (GEMV) is bound by memory bandwidth: `gemv` uses one pixel and 8 vectors of channels,
   which hide the latency of fused multiply-adds. */

/* The operands of a GEMM tile: some pixels of y, and the panel that multiplies them. */
typedef struct NNRTI_CPU(gemm_tile) {
    const float *const *x; /* indirection buffer: x[tap * step + row] points to the channels that a tap reads */
    float *const *y;       /* y[row]: its channels */
    const float *const *z; /* residual that is added to them, NULL: none */
    int32_t rows, step;    /* pixels; length of a list, in which the last pixel is repeated up to `step` */
    int32_t taps, k;
    const int32_t *terms; /* with patches: the offsets of k terms from x[row] */
    const float *ahead;   /* the next panel, of which each tile prefetches a part */
    int32_t stepAhead;    /* floats of it per term */
    const float *panel;
    const uint8_t *weights; /* of the type, for GEMV; GEMM microkernels read float32 weights behind the bias */
    int32_t type;
    int32_t channel, count; /* the first of the panel, and the number left from it on */
    float low, high, sumLow, sumHigh;
} NNRTI_CPU(gemm_tile);

/* The result of one vector of channels of a pixel, from channel on: clamped, residual added, clamped. whole: all lanes
   exist, else the first `left`. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(result)(const NNRTI_CPU(gemm_tile) * t, int32_t row, ptrdiff_t channel, nnrti_v sum,
                                           int32_t left, const bool whole)
{
    const nnrti_v v = nnrti_v_min(nnrti_v_all(t->high), nnrti_v_max(nnrti_v_all(t->low), sum));
    const float *z;
    if (t->z == NULL)
        return v;
    z = t->z[row] + channel;
    sum = v + (whole ? nnrti_v_load(z) : nnrti_v_load_part(z, left));
    return nnrti_v_min(nnrti_v_all(t->sumHigh), nnrti_v_max(nnrti_v_all(t->sumLow), sum));
}

/* Epilogue of one vector of channels of `tall` pixels: clamp, add the residual, clamp, store. whole: all lanes are
   stored. sum: the accumulators, `next` apart, which hold the results afterwards. y may be in the place of the residual,
   and pixels repeat the last one up to a whole tile: so all of the residual is read before y is written. */
NNRTI_CPU_INLINE void NNRTI_CPU(epilogue)(const NNRTI_CPU(gemm_tile) * t, int32_t row, int32_t at, nnrti_v *sum,
                                          int32_t next, const int32_t tall, const bool whole)
{
    const int32_t left = t->count - at;
    const ptrdiff_t channel = t->channel + at;
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        sum[r * next] = NNRTI_CPU(result)(t, row + r, channel, sum[r * next], left, whole);
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        if (whole)
            nnrti_v_store(t->y[row + r] + channel, sum[r * next]);
        else
            nnrti_v_store_part(t->y[row + r] + channel, sum[r * next], left);
}

/* Epilogue of the last vector of a panel, which may have fewer channels. */
#if NNRTI_CPU_LEVEL == 4
NNRTI_CPU_INLINE void NNRTI_CPU(epilogue_last)(const NNRTI_CPU(gemm_tile) * t, int32_t row, int32_t at, nnrti_v *sum,
                                               int32_t next, const int32_t tall)
{
    NNRTI_CPU(epilogue)(t, row, at, sum, next, tall, false);
}
#else
NNRTI_CPU_NOINLINE static void NNRTI_CPU(epilogue_part)(const NNRTI_CPU(gemm_tile) * t, int32_t row, int32_t at,
                                                        nnrti_v *sum, int32_t tall)
{
    for (int32_t r = 0; r < tall; r++)
        sum[r] = NNRTI_CPU(result)(t, row + r, t->channel + at, sum[r], t->count - at, false);
    for (int32_t r = 0; r < tall; r++)
        nnrti_v_store_part(t->y[row + r] + t->channel + at, sum[r], t->count - at);
}
NNRTI_CPU_INLINE void NNRTI_CPU(epilogue_last)(const NNRTI_CPU(gemm_tile) * t, int32_t row, int32_t at, nnrti_v *sum,
                                               int32_t next, const int32_t tall)
{
    nnrti_v part[NNRTI_CPU_MAX_TILE_ROWS];
    if (NNRTI_IS_WHOLE(t->count - at)) {
        NNRTI_CPU(epilogue)(t, row, at, sum, next, tall, true);
        return;
    }
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        part[r] = sum[r * next];
    NNRTI_CPU(epilogue_part)(t, row, at, part, tall);
}
#endif

#if NNRTI_CPU_LEVEL == 2
/* sum + element `lane` of x times w. Assembly, volatile, which keeps the order of the source: of the intrinsic, gcc 12
   copies sums between registers (73 % of the peak of Neoverse V1 instead of 100, docs/SPEED.md). */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(v_fma_lane)(nnrti_v sum, nnrti_v w, float32x2_t x, const int32_t lane)
{
    if (lane == 0)
        __asm__ volatile("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(sum) : "w"(w), "w"(x));
    else
        __asm__ volatile("fmla %0.4s, %1.4s, %2.s[1]" : "+w"(sum) : "w"(w), "w"(x));
    return sum;
}

/* Loads two adjacent vectors by one instruction; returns the address behind them. */
NNRTI_CPU_INLINE const float *NNRTI_CPU(load_two)(const float *p, nnrti_v *two)
{
    __asm__ volatile("ldp %q0, %q1, [%2], #32"
                     : "=w"(two[0]), "=w"(two[1]), "+r"(p)
                     : "m"(*(const float(*)[8])(const void *)p));
    return p;
}

/* Adds four terms, from k on, in their order, of `tall` pixels by a panel of `wide` vectors. x is read two terms at a time:
   Cortex-A55 issues loads of 64 bits beside FMLA, but nothing beside a load of 128 bits, which takes it two cycles. */
NNRTI_CPU_INLINE void NNRTI_CPU(four_terms)(nnrti_v *sum, const float *const *x, ptrdiff_t k, const float *w,
                                            const int32_t tall, const int32_t wide)
{
    float32x2_t row[NNRTI_CPU_MAX_TILE_ROWS];
    nnrti_v weight[2];
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 4 * wide; i++) {
        if (i % (2 * wide) == 0) {
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < tall; r++)
                row[r] = vld1_f32(x[r] + k + i / wide);
        }
        if (wide == 1)
            weight[0] = nnrti_v_load(w + i * NNRTI_LANES);
        else if (i % 2 == 0)
            w = NNRTI_CPU(load_two)(w, weight);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            sum[r * wide + i % wide] =
                NNRTI_CPU(v_fma_lane)(sum[r * wide + i % wide], weight[i % wide], row[r], i / wide % 2);
    }
}
#endif

/* GEMM microkernel: pixels row to row + tall - 1 by a panel of `wide` vectors; tall * wide accumulators stay in
   registers. patch: x is read at the offsets `terms`. tall, wide and patch are constants after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(microkernel)(const NNRTI_CPU(gemm_tile) * tile, int32_t row, const int32_t tall,
                                             const int32_t wide, const bool patch)
{
    const NNRTI_CPU(gemm_tile) copy = *tile, *const t = &copy; /* a copy, which stores cannot change */
    nnrti_v sum[NNRTI_CPU_MAX_TILE_ROWS * NNRTI_PANEL_VECTORS];
    const float *w = t->panel, *ahead = t->ahead + (ptrdiff_t)(row / NNRTI_TILE_ROWS) * t->stepAhead * t->taps * t->k;
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++, w += NNRTI_LANES) {
        const nnrti_v bias = nnrti_v_load(w);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            sum[r * wide + v] = bias;
    }
    for (int32_t tap = 0; tap < (patch ? 1 : t->taps); tap++) {
        const float *x[NNRTI_CPU_MAX_TILE_ROWS];
        ptrdiff_t k = 0;
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            x[r] = t->x[(ptrdiff_t)tap * t->step + row + r];
#if NNRTI_CPU_LEVEL == 2
        for (; !patch && k + 4 <= t->k; k += 4, w += 4 * wide * NNRTI_LANES, ahead += 4 * t->stepAhead) {
            if (wide > 1) {
                __builtin_prefetch(ahead, 0, 2);
                __builtin_prefetch(ahead + 2 * t->stepAhead, 0, 2);
            }
            NNRTI_CPU(four_terms)(sum, x, k, w, tall, wide);
        }
#endif
        for (; k < t->k; k++) {
            const ptrdiff_t at = patch ? t->terms[k] : k;
            nnrti_v weight[NNRTI_PANEL_VECTORS];
            if (!patch && wide > 1) {
                __builtin_prefetch(ahead, 0, 2);
                ahead += t->stepAhead;
            }
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < wide; v++, w += NNRTI_LANES)
                weight[v] = nnrti_v_load(w);
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < tall; r++) {
                const nnrti_v value = nnrti_v_all(x[r][at]);
                NNRTI_CPU_UNROLL
                for (int32_t v = 0; v < wide; v++)
                    sum[r * wide + v] = nnrti_v_fma(value, weight[v], sum[r * wide + v]);
            }
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v + 1 < wide; v++) /* vectors before the last one are whole */
        NNRTI_CPU(epilogue)(t, row, v * NNRTI_LANES, sum + v, wide, tall, true);
    NNRTI_CPU(epilogue_last)(t, row, (wide - 1) * NNRTI_LANES, sum + wide - 1, wide, tall);
}

/* Instances of the microkernel for panels of one vector and of two, with indirection lists or patches. The low ones
   serve a remainder of up to four pixels. */
#define NNRTI_CPU_MICROKERNEL(name, tall, wide)                                                                        \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(microkernel_##name)(const NNRTI_CPU(gemm_tile) * t, int32_t row)          \
    {                                                                                                                  \
        NNRTI_CPU(microkernel)(t, row, tall, wide, false);                                                             \
    }                                                                                                                  \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(microkernel_patch_##name)(const NNRTI_CPU(gemm_tile) * t, int32_t row)    \
    {                                                                                                                  \
        NNRTI_CPU(microkernel)(t, row, tall, wide, true);                                                              \
    }
NNRTI_CPU_MICROKERNEL(one, NNRTI_TILE_ROWS_ONE, 1)
NNRTI_CPU_MICROKERNEL(two, NNRTI_TILE_ROWS, 2)
NNRTI_CPU_MICROKERNEL(low_one, 4, 1)
#if NNRTI_TILE_ROWS > 4
NNRTI_CPU_MICROKERNEL(low_two, 4, 2)
#else
static void NNRTI_CPU(microkernel_low_two)(const NNRTI_CPU(gemm_tile) * t, int32_t row)
{
    NNRTI_CPU(microkernel_two)(t, row);
}
static void NNRTI_CPU(microkernel_patch_low_two)(const NNRTI_CPU(gemm_tile) * t, int32_t row)
{
    NNRTI_CPU(microkernel_patch_two)(t, row);
}
#endif

/* All pixels of a work item by one panel. */
static void NNRTI_CPU(gemm_panel)(const NNRTI_CPU(gemm_tile) * t, bool wide)
{
    const int32_t tall = wide ? NNRTI_TILE_ROWS : NNRTI_TILE_ROWS_ONE;
    int32_t row = 0;
    if (t->terms != NULL) {
        for (; row + 4 < t->rows; row += tall)
            (wide ? NNRTI_CPU(microkernel_patch_two) : NNRTI_CPU(microkernel_patch_one))(t, row);
        if (row < t->rows)
            (wide ? NNRTI_CPU(microkernel_patch_low_two) : NNRTI_CPU(microkernel_patch_low_one))(t, row);
        return;
    }
    for (; row + 4 < t->rows; row += tall)
        (wide ? NNRTI_CPU(microkernel_two) : NNRTI_CPU(microkernel_one))(t, row);
    if (row < t->rows)
        (wide ? NNRTI_CPU(microkernel_low_two) : NNRTI_CPU(microkernel_low_one))(t, row);
}

/* GEMV microkernel: one pixel by several vectors of channels, enough accumulators to hide the latency of
   multiply-adds. Layout of the weights: two vectors are adjacent, two such pairs are `apart` floats apart, the next
   two pairs `next` behind, in weights; terms are `step` apart. A panel begins with `step` biases; int8 weights have their
   scales behind these and multiply the sum, which the bias is then added to. */
NNRTI_CPU_INLINE void NNRTI_CPU(gemv_microkernel)(const NNRTI_CPU(gemm_tile) * tile, size_t apart, size_t next,
                                                  size_t step, const int32_t vectors, const int32_t type)
{
    const NNRTI_CPU(gemm_tile) copy = *tile, *const t = &copy;
    const size_t at[4] = {0, apart, next, next + apart};
    const size_t inside = apart == 2 * NNRTI_LANES ? apart << type : apart; /* of float32 biases in a panel, in weights */
    const size_t biases[4] = {0, inside, next, next + inside};
    nnrti_v sum[8];
    const uint8_t *w = t->weights;
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < vectors; v++)
        sum[v] = type == NNRTI_CPU_I8
                     ? nnrti_v_all(0.0f)
                     : nnrti_v_weights((const uint8_t *)t->panel + biases[v / 2] * (4 >> type),
                                       (size_t)(v % 2 * NNRTI_LANES), NNRTI_CPU_F32);
    for (int32_t tap = 0; tap < t->taps; tap++) {
        const float *x = t->x[(ptrdiff_t)tap * t->step];
        ptrdiff_t k = 0;
#if NNRTI_CPU_LEVEL == 2
        if (type == NNRTI_CPU_F32 && vectors == 8 && apart == 2 * NNRTI_LANES && step == 4 * NNRTI_LANES) {
            const float *panel[2] = {(const float *)(const void *)w, (const float *)(const void *)w + next};
            w += (size_t)(t->k / 4 * 4) * step * sizeof(float);
            for (; k + 4 <= t->k; k += 4) {
                float32x2_t pair = vld1_f32(x + k);
                NNRTI_CPU_UNROLL
                for (int32_t i = 0; i < 4; i++) {
                    nnrti_v weight[8];
                    NNRTI_CPU_UNROLL
                    for (int32_t v = 0; v < vectors; v += 2)
                        panel[v / 4] = NNRTI_CPU(load_two)(panel[v / 4], weight + v);
                    NNRTI_CPU_UNROLL
                    for (int32_t v = 0; v < vectors; v++)
                        sum[v] = NNRTI_CPU(v_fma_lane)(sum[v], weight[v], pair, i % 2);
                    if (i == 1)
                        pair = vld1_f32(x + k + 2);
                }
            }
        }
#endif
        for (; k < t->k; k++) {
            const nnrti_v value = nnrti_v_all(x[k]);
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < vectors; v++)
                sum[v] = nnrti_v_fma(value, nnrti_v_weights(w, at[v / 2] + (size_t)(v % 2 * NNRTI_LANES), type), sum[v]);
            w += step * (4 >> type);
        }
    }
    if (type == NNRTI_CPU_I8)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const float *bias = (const float *)(const void *)((const uint8_t *)t->panel + biases[v / 2]) + v % 2 * NNRTI_LANES;
        sum[v] = nnrti_v_fma(nnrti_v_load(bias + step), sum[v], nnrti_v_load(bias));
    }
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v + 1 < vectors; v++)
        NNRTI_CPU(epilogue)(t, 0, v * NNRTI_LANES, &sum[v], 1, 1, true);
    NNRTI_CPU(epilogue_last)(t, 0, (vectors - 1) * NNRTI_LANES, &sum[vectors - 1], 1, 1);
}

#define NNRTI_CPU_GEMV_OF(vectors, type)                                                                               \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(gemv_microkernel_##type##_##vectors)(                                     \
        const NNRTI_CPU(gemm_tile) * t, size_t apart, size_t next, size_t step)                                        \
    {                                                                                                                  \
        NNRTI_CPU(gemv_microkernel)(t, apart, next, step, vectors, NNRTI_CPU_SMALL * NNRTI_CPU_##type);                \
    }
/* The instances, and the call of the one for the type of the weights. */
#define NNRTI_CPU_GEMV_MICROKERNEL(vectors)                                                                            \
    NNRTI_CPU_GEMV_OF(vectors, F32)                                                                                    \
    NNRTI_CPU_GEMV_OF(vectors, F16)                                                                                    \
    NNRTI_CPU_GEMV_OF(vectors, I8)                                                                                     \
    static void NNRTI_CPU(gemv_##vectors)(const NNRTI_CPU(gemm_tile) * t, size_t apart, size_t next, size_t step)      \
    {                                                                                                                  \
        if (NNRTI_CPU_SMALL && t->type == NNRTI_CPU_I8)                                                                \
            NNRTI_CPU(gemv_microkernel_I8_##vectors)(t, apart, next, step);                                            \
        else if (NNRTI_CPU_SMALL && t->type == NNRTI_CPU_F16)                                                          \
            NNRTI_CPU(gemv_microkernel_F16_##vectors)(t, apart, next, step);                                           \
        else                                                                                                           \
            NNRTI_CPU(gemv_microkernel_F32_##vectors)(t, apart, next, step);                                           \
    }
NNRTI_CPU_GEMV_MICROKERNEL(8)
NNRTI_CPU_GEMV_MICROKERNEL(6)
NNRTI_CPU_GEMV_MICROKERNEL(4)
NNRTI_CPU_GEMV_MICROKERNEL(2)
NNRTI_CPU_GEMV_MICROKERNEL(1)

/* One pixel by the next panels, at most `left`; returns their number: 0 if a GEMM tile is faster. */
static int32_t NNRTI_CPU(gemv_panels)(const NNRTI_CPU(gemm_tile) * t, size_t panelFloats, int32_t left)
{
    const size_t step = NNRTI_PANEL_VECTORS * NNRTI_LANES;
    int32_t panels = left < 4 ? left : 4;
    if (panels > 0 && t->count <= (panels * NNRTI_PANEL_VECTORS - 1) * NNRTI_LANES)
        panels--; /* the last one has one vector only */
    switch (panels) {
    case 4: NNRTI_CPU(gemv_8)(t, panelFloats, 2 * panelFloats, step); return 4;
    case 3: NNRTI_CPU(gemv_6)(t, panelFloats, 2 * panelFloats, step); return 3;
    case 2: NNRTI_CPU(gemv_4)(t, panelFloats, 0, step); return 2;
    default: return 0;
    }
}

/* Arguments of a GEMM kernel call, shared by its work items. */
typedef struct NNRTI_CPU(gemm_job) {
    const nnrti_cpu_gemm *attr;
    const nnrt_view *x, *z, *packed, *last, *y;
    const nnrt_call *call;
    int64_t pixels;
    int32_t panels;
    float low, high, sumLow, sumHigh;
    bool bounds;    /* the GEMM's own activation only clamps */
    uint32_t parts; /* of the vectors of channels of a GEMV */
    nnrti_cpu_patch patch;
} NNRTI_CPU(gemm_job);

/* Fills a job from the arguments of `gemm`, `gemv` and `winograd`. */
static void NNRTI_CPU(gemm_job_init)(const nnrti_cpu_gemm *attr, const nnrt_view *args, const nnrt_call *call,
                                     NNRTI_CPU(gemm_job) * j)
{
    j->attr = attr;
    j->x = &args[0];
    j->z = &args[1];
    j->packed = &args[2];
    j->last = &args[3];
    j->y = &args[4];
    j->call = call;
    j->panels = (j->y->dims[3] + NNRTI_PANEL_VECTORS * NNRTI_LANES - 1) / (NNRTI_PANEL_VECTORS * NNRTI_LANES);
    j->bounds = nnrti_cpu_activation_bounds(attr->conv.activation, &j->low, &j->high);
    (void)nnrti_cpu_activation_bounds(attr->sum, &j->sumLow, &j->sumHigh);
}

/* Copies floats, or writes zeros if from is NULL; returns the end of the output. */
NNRTI_CPU_NOINLINE static float *NNRTI_CPU(copy_floats)(const float *from, int32_t count, float *to)
{
    int32_t i = 0;
    for (; i + NNRTI_LANES <= count; i += NNRTI_LANES)
        nnrti_v_store(to + i, from != NULL ? nnrti_v_load(from + i) : nnrti_v_all(0.0f));
    if (i < count)
        nnrti_v_store_part(to + i, from != NULL ? nnrti_v_load_part(from + i, count - i) : nnrti_v_all(0.0f),
                           count - i);
    return to + count;
}

/* Copies the first `rows` rows and `columns` columns of a patch of an image, with zero padding: from row h and column w of
   the image on. */
static void NNRTI_CPU(copy_patch)(const nnrt_view *in, const nnrti_cpu_patch *p, int32_t rows, int32_t columns,
                                  const float *image, int64_t h, int64_t w, float *to)
{
    const int32_t K = in->dims[3], deep = p->planes ? 1 : K;
    int32_t first, last;
    nnrti_cpu_valid_range(w, 1, columns, in->dims[2], &first, &last);
    for (int32_t c = 0; c < K; c += deep)
        for (int32_t i = 0; i < rows; i++) {
            float *at = to + c * p->channel + i * p->row;
            if (h + i < 0 || h + i >= in->dims[1] || first >= last) {
                (void)NNRTI_CPU(copy_floats)(NULL, columns * deep, at);
                continue;
            }
            at = NNRTI_CPU(copy_floats)(NULL, first * deep, at);
            at = NNRTI_CPU(copy_floats)(image + (ptrdiff_t)(h + i) * in->strides[1] +
                                            (ptrdiff_t)(w + first) * in->strides[2] + c * in->strides[3],
                                        (last - first) * deep, at);
            (void)NNRTI_CPU(copy_floats)(NULL, (columns - last) * deep, at);
        }
}

/* The indirection buffer of a work item: pointers to inputs, residuals and outputs of its pixels. */
typedef struct NNRTI_CPU(indirection) {
    const float **x, **z; /* z: NULL without a residual */
    float **y;
    int32_t rows, step, run; /* run: pixels of a row of a patch */
} NNRTI_CPU(indirection);

/* Fills pointers: to[i] = from + i * step, i < n. */
NNRTI_CPU_INLINE void NNRTI_CPU(fill_pointers)(const float **to, const float *from, ptrdiff_t step, int32_t n)
{
    int32_t i = 0;
#if NNRTI_LANES >= 8 && UINTPTR_MAX == UINT64_MAX
    typedef uint64_t list __attribute__((vector_size(NNRTI_LANES * 4)));
    const int32_t some = NNRTI_LANES / 2;
    const uint64_t bytes = (uint64_t)step * sizeof(float);
    if (n >= some) {
#if NNRTI_LANES == 16
        list at = {0, 1, 2, 3, 4, 5, 6, 7};
#else
        list at = {0, 1, 2, 3};
#endif
        at = at * bytes + (uint64_t)(uintptr_t)from;
        for (; i + some <= n; i += some, at += (uint64_t)some * bytes)
            memcpy(&to[i], &at, sizeof(at));
    }
#endif
    for (; i < n; i++)
        to[i] = from + i * step;
}

/* Output and residual pointers of `run` pixels of a row of y, from list position r on. */
NNRTI_CPU_INLINE void NNRTI_CPU(output_pointers)(const NNRTI_CPU(gemm_job) * j, const NNRTI_CPU(indirection) * l,
                                                 int32_t r, int32_t run, ptrdiff_t at)
{
    NNRTI_CPU(fill_pointers)
    ((const float **)(uintptr_t)(l->y + r), (const float *)j->y->data + at, j->y->strides[2], run);
    if (l->z != NULL) /* its strides are those of y */
        NNRTI_CPU(fill_pointers)(l->z + r, (const float *)j->z->data + at, j->y->strides[2], run);
}

/* Repeats the last pixel up to the end of the lists. */
NNRTI_CPU_INLINE void NNRTI_CPU(pad_pointers)(const NNRTI_CPU(indirection) * l, int32_t taps)
{
    for (int32_t r = l->rows; r < l->step; r++) {
        l->y[r] = l->y[l->rows - 1];
        if (l->z != NULL)
            l->z[r] = l->z[l->rows - 1];
    }
    for (int32_t t = 0; t < taps; t++)
        for (int32_t r = l->rows; r < l->step; r++)
            l->x[(ptrdiff_t)t * l->step + r] = l->x[(ptrdiff_t)t * l->step + l->rows - 1];
}

/* Indirection buffer of patch i; x is copied to `copy` if zero padding is needed. */
static void NNRTI_CPU(patch_pointers)(const NNRTI_CPU(gemm_job) * j, int64_t i, NNRTI_CPU(indirection) * l, float *copy)
{
    const nnrti_cpu_gemm *a = j->attr;
    const nnrt_view *in = j->x, *out = j->y;
    const int32_t H = out->dims[1], W = out->dims[2];
    const int64_t across = nnrti_cpu_div_up(W, a->columns), down = nnrti_cpu_div_up(H, a->lines);
    const int32_t q = (int32_t)(i % across) * a->columns, p = (int32_t)(i / across % down) * a->lines;
    const int32_t n = (int32_t)(i / across / down);
    const int32_t run = W - q < a->columns ? W - q : a->columns, lines = H - p < a->lines ? H - p : a->lines;
    const int64_t h = (int64_t)p * a->conv.stride[0] - a->conv.pad[0],
                  w = (int64_t)q * a->conv.stride[1] - a->conv.pad[1];
    const int32_t rows = (lines - 1) * a->conv.stride[0] + (a->conv.window[0] - 1) * a->conv.dilation[0] + 1;
    const int32_t columns = (run - 1) * a->conv.stride[1] + (a->conv.window[1] - 1) * a->conv.dilation[1] + 1;
    const ptrdiff_t next = a->conv.stride[1] * j->patch.column;
    const float *image = (const float *)in->data + n * in->strides[0], *from = copy;
    if (a->padded)
        NNRTI_CPU(copy_patch)(in, &j->patch, rows, columns, image, h, w, copy);
    else
        from = image + ((ptrdiff_t)h * in->strides[1] + (ptrdiff_t)w * in->strides[2]);
    l->rows = lines * run;
    l->run = run;
    for (int32_t r = 0; r < lines; r++, from += a->conv.stride[0] * j->patch.row) {
        NNRTI_CPU(fill_pointers)(l->x + r * run, from, next, run);
        NNRTI_CPU(output_pointers)
        (j, l, r * run, run, n * out->strides[0] + (p + r) * out->strides[1] + q * out->strides[2]);
    }
    l->step = l->rows + NNRTI_CPU_MAX_TILE_ROWS - 1;
    NNRTI_CPU(pad_pointers)(l, 1);
}

/* Indirection buffer of the pixels from `first` on: for each filter tap a pointer into x, or to zeros for a tap
   outside x. */
static void NNRTI_CPU(pixel_pointers)(const NNRTI_CPU(gemm_job) * j, int64_t first, NNRTI_CPU(indirection) * l)
{
    const nnrti_cpu_gemm *a = j->attr;
    const nnrt_view *in = j->x, *out = j->y;
    const float *const zeros = (const float *)j->last->data;
    const ptrdiff_t column = in->strides[2], next = a->conv.stride[1] * column;
    /* a 1 x 1 convolution of contiguous rows is processed as one long row */
    const bool flat = nnrti_cpu_taps(a) == 1 && (int64_t)out->dims[1] * out->dims[2] <= INT32_MAX &&
                      in->dims[1] == out->dims[1] && in->dims[2] == out->dims[2] &&
                      (a->conv.pad[0] | a->conv.pad[1]) == 0 && a->conv.stride[0] == 1 && a->conv.stride[1] == 1 &&
                      in->strides[1] == in->dims[2] * column && out->strides[1] == out->dims[2] * out->strides[2];
    const int32_t H = flat ? 1 : out->dims[1], W = flat ? out->dims[1] * out->dims[2] : out->dims[2];
    const int32_t columns = flat ? W : in->dims[2];
    int32_t q = (int32_t)(first % W), p = (int32_t)(first / W % H), n = (int32_t)(first / W / H);
    const nnrti_cpu_depth *const deep = &a->depth;
    const int32_t slices = deep->window > 0 ? deep->window : 1;
    for (int32_t r = 0, run; r < l->rows; r += run) {
        const int64_t front = deep->to > 0 ? (int64_t)(n % deep->to) * deep->stride - deep->pad : 0;
        const float *image = (const float *)in->data + (deep->to > 0 ? n / deep->to : n) * in->strides[0],
                    **to = l->x + r;
        const int64_t top = (int64_t)p * a->conv.stride[0] - a->conv.pad[0],
                      left = (int64_t)q * a->conv.stride[1] - a->conv.pad[1];
        run = l->rows - r < W - q ? l->rows - r : W - q;
        NNRTI_CPU(output_pointers)(j, l, r, run, n * out->strides[0] + p * out->strides[1] + q * out->strides[2]);
        for (int32_t i = 0; i < slices * a->conv.window[0]; i++) {
            const int64_t h = top + (int64_t)(i % a->conv.window[0]) * a->conv.dilation[0];
            const int64_t slice = front + (int64_t)(i / a->conv.window[0]) * deep->dilation;
            const ptrdiff_t row = (ptrdiff_t)(slice * in->dims[1] + h) * in->strides[1];
            for (int32_t k = 0; k < nnrti_cpu_row_taps(a); k++, to += l->step) {
                const int64_t w = left + (int64_t)k * a->conv.dilation[1];
                const ptrdiff_t from = row + (ptrdiff_t)w * column;
                int32_t begin = run, end = run;
                if (h >= 0 && h < in->dims[1] && (deep->to == 0 || (slice >= 0 && slice < deep->from)))
                    nnrti_cpu_valid_range(w, a->conv.stride[1], run, columns, &begin, &end);
                NNRTI_CPU(fill_pointers)(to, zeros, 0, begin);
                if (begin < end)
                    NNRTI_CPU(fill_pointers)(to + begin, image + (from + begin * next), next, end - begin);
                NNRTI_CPU(fill_pointers)(to + end, zeros, 0, run - end);
            }
        }
        q = 0;
        if (++p == H) {
            p = 0;
            n++;
        }
    }
    NNRTI_CPU(pad_pointers)(l, nnrti_cpu_taps(a));
}

#if NNRTI_CPU_LEVEL == 4
#define NNRTI_CPU_FEW_CHANNELS 8 /* channels: at most half a vector */

/* Stores transposed: y[p * step + c] = lane p of sum[c * next], p < n, c < count. */
NNRTI_CPU_INLINE void NNRTI_CPU(store_lanes)(const nnrti_v *sum, const int32_t next, float *y, ptrdiff_t step,
                                             int32_t n, int32_t count)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __mmask8 some = (__mmask8)((1u << count) - 1);
    __m512d four[2][4]; /* of four channels pixel i and each fourth one behind it */
    NNRTI_CPU_UNROLL
    for (int32_t h = 0; h < 2; h++) {
        const nnrti_v *const v = sum + h * 4 * next;
        const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[next])),
                      b = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[next])),
                      c = _mm512_castps_pd(_mm512_unpacklo_ps(v[2 * next], v[3 * next])),
                      d = _mm512_castps_pd(_mm512_unpackhi_ps(v[2 * next], v[3 * next]));
        four[h][0] = _mm512_unpacklo_pd(a, c);
        four[h][1] = _mm512_unpackhi_pd(a, c);
        four[h][2] = _mm512_unpacklo_pd(b, d);
        four[h][3] = _mm512_unpackhi_pd(b, d);
    }
    for (int32_t i = 0; i < 4 && i < n; i++) {
        const __m512 first = _mm512_castpd_ps(_mm512_permutex2var_pd(four[0][i], low, four[1][i])),
                     last = _mm512_castpd_ps(_mm512_permutex2var_pd(four[0][i], high, four[1][i]));
        float *to = y + i * step;
        _mm256_mask_storeu_ps(to, some, _mm512_castps512_ps256(first));
        if (i + 4 < n)
            _mm256_mask_storeu_ps(to + 4 * step, some, _mm512_extractf32x8_ps(first, 1));
        if (i + 8 < n)
            _mm256_mask_storeu_ps(to + 8 * step, some, _mm512_castps512_ps256(last));
        if (i + 12 < n)
            _mm256_mask_storeu_ps(to + 12 * step, some, _mm512_extractf32x8_ps(last, 1));
    }
}

/* Microkernel for few channels: n pixels of a row, one per SIMD lane of `wide` vectors, by up to NNRTI_CPU_FEW_CHANNELS
   channels. Pixels of the patch are `stride` apart; pixels of y are `step` apart. */
NNRTI_CPU_INLINE void NNRTI_CPU(microkernel_lanes)(const NNRTI_CPU(gemm_tile) * tile, int32_t row, int32_t n,
                                                   ptrdiff_t step, const int32_t stride, const int32_t wide)
{
    const NNRTI_CPU(gemm_tile) copy = *tile, *const t = &copy;
    const float *const x = t->x[row], *w = t->panel;
    nnrti_v sum[NNRTI_CPU_FEW_CHANNELS * 2], v[4];
    int32_t cells[4]; /* elements of each vector that is read */
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < stride * wide; i++) {
        const int32_t left = (n - 1) * stride + 1 - i * NNRTI_LANES;
        cells[i] = left > 0 ? left : 0;
    }
    NNRTI_CPU_UNROLL
    for (int32_t c = 0; c < NNRTI_CPU_FEW_CHANNELS; c++)
        NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < wide; i++)
        sum[c * wide + i] = nnrti_v_all(w[c]);
    for (ptrdiff_t k = 0; k < t->k; k++) {
        const float *const from = x + t->terms[k];
        w += NNRTI_LANES;
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < stride * wide; i++)
            v[i] = nnrti_v_load_part(from + i * NNRTI_LANES, cells[i]);
        if (stride == 2)
            NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < wide; i++)
            v[i] = NNRTI_CPU(v_even)(v[2 * i], v[2 * i + 1]);
        NNRTI_CPU_UNROLL
        for (int32_t c = 0; c < NNRTI_CPU_FEW_CHANNELS; c++)
            NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < wide; i++)
            sum[c * wide + i] = nnrti_v_fma(v[i], nnrti_v_all(w[c]), sum[c * wide + i]);
    }
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < wide * NNRTI_CPU_FEW_CHANNELS; i++)
        sum[i] = nnrti_v_min(nnrti_v_all(t->high), nnrti_v_max(nnrti_v_all(t->low), sum[i]));
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < wide; i++, n -= NNRTI_LANES)
        NNRTI_CPU(store_lanes)(sum + i, wide, t->y[row] + t->channel + i * NNRTI_LANES * step, step, n, t->count);
}
#define NNRTI_CPU_MICROKERNEL_LANES(stride, wide)                                                                      \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(microkernel_lanes_##stride##_##wide)(                                     \
        const NNRTI_CPU(gemm_tile) * t, int32_t row, int32_t n, ptrdiff_t step)                                        \
    {                                                                                                                  \
        NNRTI_CPU(microkernel_lanes)(t, row, n, step, stride, wide);                                                   \
    }
NNRTI_CPU_MICROKERNEL_LANES(1, 1)
NNRTI_CPU_MICROKERNEL_LANES(1, 2)
NNRTI_CPU_MICROKERNEL_LANES(2, 1)
NNRTI_CPU_MICROKERNEL_LANES(2, 2)
#endif

/* Uses microkernel_lanes if pixels of a row fill vectors better than the few channels do; false: not applicable. */
static bool NNRTI_CPU(gemm_few_channels)(const NNRTI_CPU(gemm_job) * j, const NNRTI_CPU(gemm_tile) * t, int32_t run)
{
#if NNRTI_CPU_LEVEL == 4
    const int32_t stride = j->attr->conv.stride[1];
    if (t->terms == NULL || t->z != NULL || t->count > NNRTI_CPU_FEW_CHANNELS || j->patch.column != 1 || stride > 2 ||
        run <= 9 * (int32_t)nnrti_cpu_div_up(run, NNRTI_LANES)) /* a vector costs as much as 9 pixels */
        return false;
    for (int32_t row = 0; row < t->rows; row += run)
        for (int32_t q = 0, n; q < run; q += n) {
            const bool two = run - q > NNRTI_LANES;
            n = two ? 2 * NNRTI_LANES : NNRTI_LANES;
            n = n < run - q ? n : run - q;
            if (stride == 1)
                (two ? NNRTI_CPU(microkernel_lanes_1_2) : NNRTI_CPU(microkernel_lanes_1_1))(t, row + q, n,
                                                                                            j->y->strides[2]);
            else
                (two ? NNRTI_CPU(microkernel_lanes_2_2) : NNRTI_CPU(microkernel_lanes_2_1))(t, row + q, n,
                                                                                            j->y->strides[2]);
        }
    return true;
#else
    (void)j;
    (void)t;
    (void)run;
    return false;
#endif
}

/* The tile of a work item, except for its panel. */
NNRTI_CPU_INLINE void NNRTI_CPU(gemm_tile_begin)(NNRTI_CPU(gemm_tile) * t, const NNRTI_CPU(gemm_job) * j,
                                                 const NNRTI_CPU(indirection) * l, int32_t taps)
{
    const bool patches = j->attr->lines > 0;
    t->x = l->x;
    t->y = l->y;
    t->z = l->z;
    t->rows = l->rows;
    t->step = l->step;
    t->taps = taps;
    t->k = patches ? j->last->dims[0] : j->x->dims[3] * (j->attr->adjacent ? j->attr->conv.window[1] : 1);
    t->terms = patches ? (const int32_t *)j->last->data : NULL;
    t->low = j->low;
    t->high = j->high;
    t->sumLow = j->sumLow;
    t->sumHigh = j->sumHigh;
}

/* Replaces a panel of float16 or int8 weights, `width` of each term, by float32 weights in `wide`; with int8 the bias is 0,
   and scale_rows follows. */
static void NNRTI_CPU(widen_panel)(NNRTI_CPU(gemm_tile) * t, int32_t width, int32_t terms, float *wide)
{
    const uint8_t *const head = (const uint8_t *)t->panel;
    if (t->type == NNRTI_CPU_F16) {
        memcpy(wide, head, (size_t)width * sizeof(float));
        NNRTI_CPU(widen_run)
        ((const uint16_t *)(const void *)(head + (size_t)width * sizeof(float)), wide + width, terms * width);
    } else {
        memset(wide, 0, (size_t)width * sizeof(float));
        for (int32_t i = 0; i < terms * width; i += NNRTI_LANES)
            nnrti_v_store(wide + width + i, nnrti_v_weights(head + (size_t)width * 8, (size_t)i, NNRTI_CPU_I8));
    }
    t->panel = wide;
}

/* y = scale * y + bias for the `width` channels of a panel of int8 weights, all of which y has. */
static void NNRTI_CPU(scale_rows)(const NNRTI_CPU(gemm_tile) * t, const float *bias, int32_t width)
{
    for (int32_t r = 0; r < t->rows; r++)
        for (int32_t i = 0; i < width; i += NNRTI_LANES) {
            float *const y = t->y[r] + t->channel + i;
            nnrti_v_store(y, nnrti_v_fma(nnrti_v_load(bias + width + i), nnrti_v_load(y), nnrti_v_load(bias + i)));
        }
}

/* Work item of `gemm`: some pixels by one part of the panels. */
static void NNRTI_CPU(gemm_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(gemm_job) *j = (const NNRTI_CPU(gemm_job) *)arg;
    const nnrti_cpu_gemm *a = j->attr;
    const uint32_t part = i % a->parts;
    const int64_t first = (int64_t)(i / a->parts) * a->rows;
    const int32_t C = j->y->dims[3], panel = NNRTI_PANEL_VECTORS * NNRTI_LANES;
    const int32_t from = (int32_t)((int64_t)j->panels * part / a->parts);
    const int32_t to = (int32_t)((int64_t)j->panels * (part + 1) / a->parts);
    const size_t depth = (size_t)j->packed->dims[1], panelFloats = depth * (size_t)panel;
    const size_t panelBytes = panelFloats * (size_t)(4 >> a->type);
    const int32_t head = nnrti_cpu_head(a->type);
    const int32_t taps = a->lines > 0 ? 1 : nnrti_cpu_taps(a);
    const int64_t left = j->pixels - first;
    const uint8_t *const packed = (const uint8_t *)j->packed->data;
    float *const wide = (float *)(void *)((uint8_t *)nnrti_cpu_scratch(j->call, worker) + a->wide);
    int32_t tiles, next;
    NNRTI_CPU(indirection) l;
    NNRTI_CPU(gemm_tile) t;
    l.rows = a->lines > 0 || left > a->rows ? a->rows : (int32_t)left;
    l.step = l.rows + NNRTI_CPU_MAX_TILE_ROWS - 1;
    l.x = (const float **)nnrti_cpu_scratch(j->call, worker);
    l.z = l.x + (size_t)taps * (size_t)l.step;
    l.y = (float **)(uintptr_t)(l.z + l.step);
    if (j->z->data == NULL)
        l.z = NULL;
    if (a->lines > 0)
        NNRTI_CPU(patch_pointers)(j, i / a->parts, &l, (float *)(l.y + l.step));
    else
        NNRTI_CPU(pixel_pointers)(j, first, &l);
    tiles = (l.rows + NNRTI_TILE_ROWS - 1) / NNRTI_TILE_ROWS;
    NNRTI_CPU(gemm_tile_begin)(&t, j, &l, taps);
    t.type = a->type;
    for (int32_t p = from; p < to;) {
        t.channel = p * panel;
        t.count = C - t.channel;
        t.panel = (const float *)(const void *)(packed + (size_t)p * panelBytes);
        t.weights = packed + (size_t)p * panelBytes + (size_t)panel * (size_t)(head * (4 >> a->type));
        next = p + 1 < to ? p + 1 : from;
        t.ahead = (const float *)(const void *)(packed + (size_t)next * panelBytes);
        t.stepAhead = (C - next * panel > NNRTI_LANES ? panel : NNRTI_LANES) / tiles >> a->type;
        if (t.rows == 1 && t.terms == NULL) {
            const int32_t done = NNRTI_CPU(gemv_panels)(&t, panelFloats, to - p);
            p += done;
            if (done > 0)
                continue;
        }
        if (NNRTI_CPU_SMALL && a->type != NNRTI_CPU_F32)
            NNRTI_CPU(widen_panel)(&t, t.count > NNRTI_LANES ? panel : NNRTI_LANES, (int32_t)depth - head, wide);
        if (!NNRTI_CPU(gemm_few_channels)(j, &t, l.run))
            NNRTI_CPU(gemm_panel)(&t, t.count > NNRTI_LANES);
        if (NNRTI_CPU_SMALL && a->type == NNRTI_CPU_I8)
            NNRTI_CPU(scale_rows)
        (&t, (const float *)(const void *)(packed + (size_t)p * panelBytes),
         t.count > NNRTI_LANES ? panel : NNRTI_LANES);
        p++;
    }
    for (int32_t r = 0; r < t.rows && !j->bounds; r++) {
        const int32_t last = to * panel < C ? to * panel : C;
        NNRTI_CPU(activation_row)
        (l.y[r] + from * panel, l.y[r] + from * panel, last - from * panel, a->conv.activation);
    }
}

/* y[n,p,q,c] = activation(bias[c] + sum over taps and channels of x * weight); with a residual z: sum(that +
   z[n,p,q,c]), where sum is the second activation. */
static NNRT_ReturnCode NNRTI_CPU(gemm)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(gemm_job) j;
    int64_t pieces;
    NNRTI_CPU(gemm_job_init)((const nnrti_cpu_gemm *)attr, args, call, &j);
    j.pixels = (int64_t)j.y->dims[0] * j.y->dims[1] * j.y->dims[2];
    pieces = nnrti_cpu_div_up(j.pixels, j.attr->rows);
    if (j.attr->lines > 0) {
        (void)nnrti_cpu_patch_of(j.attr, j.x, j.x->dims[3], &j.patch);
        pieces = j.y->dims[0] * nnrti_cpu_div_up(j.y->dims[1], j.attr->lines) *
                 nnrti_cpu_div_up(j.y->dims[2], j.attr->columns);
    }
    nnrti_cpu_parallel_for(call, nnrti_cpu_gemm_work(j.attr, j.pixels, j.packed->dims),
                           (uint32_t)pieces * j.attr->parts, NNRTI_CPU(gemm_task), &j);
    return NNRT_SUCCESS;
}

/* GEMV: the next vectors of channels, at most `left`, as many as a microkernel takes; returns their number. The
   panel has `width` vectors left, of `inside` in each row; the next panel is panelFloats behind. */
static int32_t NNRTI_CPU(gemv_next)(const NNRTI_CPU(gemm_tile) * t, int32_t width, int32_t inside, size_t panelFloats,
                                    int32_t left)
{
    const int32_t whole = NNRTI_CPU_GEMV_WIDTH * NNRTI_PANEL_VECTORS, most = left < width ? left : width;
    const size_t apart = 2 * NNRTI_LANES, step = (size_t)inside * NNRTI_LANES;
    if (width == whole && left >= 2 * whole) {
        NNRTI_CPU(gemv_8)(t, apart, panelFloats, step);
        return 8;
    }
    switch (most) {
    case 4: NNRTI_CPU(gemv_4)(t, apart, 0, step); return 4;
    case 1: NNRTI_CPU(gemv_1)(t, 0, 0, step); return 1;
    default: NNRTI_CPU(gemv_2)(t, 0, 0, step); return 2;
    }
}

/* Work item of `gemv`: some of the vectors of channels. */
static void NNRTI_CPU(gemv_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(gemm_job) *j = (const NNRTI_CPU(gemm_job) *)arg;
    const nnrti_cpu_gemm *a = j->attr;
    const int32_t C = j->y->dims[3], all = j->packed->dims[0] / NNRTI_LANES,
                  whole = NNRTI_CPU_GEMV_WIDTH * NNRTI_PANEL_VECTORS;
    const int32_t from = (int32_t)((int64_t)all * i / j->parts), to = (int32_t)((int64_t)all * (i + 1) / j->parts);
    const size_t depth = (size_t)j->packed->dims[1], panelFloats = depth * (size_t)(whole * NNRTI_LANES);
    const size_t size = (size_t)(4 >> a->type);
    const float *const x = (const float *)j->x->data, *const z = (const float *)j->z->data;
    float *const y = (float *)j->y->data;
    NNRTI_CPU(gemm_tile) t;
    (void)worker;
    memset(&t, 0, sizeof(t));
    t.x = &x;
    t.y = &y;
    t.z = z != NULL ? &z : NULL;
    t.taps = 1;
    t.type = a->type;
    t.k = j->x->dims[3];
    t.low = j->low;
    t.high = j->high;
    t.sumLow = j->sumLow;
    t.sumHigh = j->sumHigh;
    for (int32_t v = from; v < to;) {
        const int32_t before = v % whole, inside = all - (v - before) < whole ? all - (v - before) : whole;
        const uint8_t *const panel = (const uint8_t *)j->packed->data + (size_t)(v / whole) * panelFloats * size;
        t.panel = (const float *)(const void *)panel + (size_t)before * NNRTI_LANES;
        t.weights = panel + (size_t)(nnrti_cpu_head(a->type) * inside + before) * NNRTI_LANES * size;
        t.channel = v * NNRTI_LANES;
        t.count = C - t.channel;
        v += NNRTI_CPU(gemv_next)(&t, inside - before, inside, panelFloats, to - v);
    }
    if (!j->bounds) {
        const int32_t first = from * NNRTI_LANES, last = to * NNRTI_LANES < C ? to * NNRTI_LANES : C;
        NNRTI_CPU(activation_row)(y + first, y + first, last - first, a->conv.activation);
    }
}

/* y[c] = activation(bias[c] + sum over k of x[k] * weight[c,k]); with a residual z: sum(that + z[c]), where sum is
   the second activation. */
static NNRT_ReturnCode NNRTI_CPU(gemv)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(gemm_job) j;
    NNRTI_CPU(gemm_job_init)((const nnrti_cpu_gemm *)attr, args, call, &j);
    j.parts = nnrti_cpu_parts(call, j.attr->parts);
    nnrti_cpu_parallel_for(call, nnrti_cpu_gemm_work(j.attr, 1, j.packed->dims), j.parts, NNRTI_CPU(gemv_task), &j);
    return NNRT_SUCCESS;
}

typedef struct NNRTI_CPU(multi_gemm_job) {
    const nnrti_cpu_multi_gemm *attr;
    const nnrt_view *args;
    const nnrt_call *call;
} NNRTI_CPU(multi_gemm_job);

/* Work item i of several GEMMs: returns the phase and replaces i by the index within the phase: a piece of its
   pixels by one of `groups` groups. */
static const nnrti_cpu_phase *NNRTI_CPU(phase_of_item)(const nnrti_cpu_multi_gemm *a, const nnrt_view *y,
                                                       uint32_t groups, uint32_t *i)
{
    const nnrti_cpu_phase *p = a->phase;
    for (;; p++) {
        const uint32_t units = (uint32_t)nnrti_cpu_phase_pieces(p, y) * groups;
        if (*i < units)
            return p;
        *i -= units;
    }
}

/* Sets up the GEMM of a phase, for group g or, with g < 0, for all of them. v: views of x, packed weights, zeros, y
   and no residual, which the job refers to. */
static void NNRTI_CPU(phase_job_init)(const NNRTI_CPU(multi_gemm_job) * s, const nnrti_cpu_phase *p, int32_t g,
                                      nnrt_view v[5], NNRTI_CPU(gemm_job) * j)
{
    const nnrti_cpu_multi_gemm *a = s->attr;
    const nnrti_cpu_depth *deep = &p->gemm.depth;
    const int32_t depth = 1 + nnrti_cpu_taps(&p->gemm) * a->channels;
    for (int32_t i = 0; i < 4; i++)
        v[i] = s->args[i];
    v[4].data = NULL;
    v[1].data = (float *)v[1].data + p->packed;
    v[3].data = (float *)v[3].data + (p->first[0] * v[3].strides[1] + p->first[1] * v[3].strides[2]);
    if (deep->to > 0) {
        v[0].dims[1] /= deep->from;
        v[3].dims[0] *= deep->to;
        if (deep->to > 1) /* with one slice each, images may have any stride */
            v[3].strides[0] = v[3].strides[1] * p->size[0];
    }
    for (int32_t i = 0; i < 2; i++) {
        v[3].dims[1 + i] = p->size[i];
        v[3].strides[1 + i] *= a->step[i];
    }
    v[1].dims[0] /= a->groups;
    v[1].dims[1] = depth;
    if (g >= 0) {
        v[0].data = (float *)v[0].data + (ptrdiff_t)g * a->channels;
        v[0].dims[3] = a->channels;
        v[1].data = (float *)v[1].data + (size_t)g * (size_t)v[1].dims[0] * (size_t)depth;
        v[3].data = (float *)v[3].data + (ptrdiff_t)g * a->results;
        v[3].dims[3] = a->results;
    }
    j->attr = &p->gemm;
    j->x = &v[0];
    j->packed = &v[1];
    j->last = &v[2];
    j->y = &v[3];
    j->z = &v[4];
    j->call = s->call;
    j->pixels = (int64_t)v[3].dims[0] * v[3].dims[1] * v[3].dims[2];
    j->panels = (int32_t)nnrti_cpu_div_up(v[3].dims[3], NNRTI_PANEL_VECTORS * NNRTI_LANES);
    j->bounds = nnrti_cpu_activation_bounds(p->gemm.conv.activation, &j->low, &j->high);
}

/* Work item of `multi_gemm`. */
static void NNRTI_CPU(multi_gemm_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(multi_gemm_job) *s = (const NNRTI_CPU(multi_gemm_job) *)arg;
    const uint32_t groups = (uint32_t)s->attr->groups;
    const nnrti_cpu_phase *p = NNRTI_CPU(phase_of_item)(s->attr, &s->args[3], groups, &i);
    nnrt_view v[5];
    NNRTI_CPU(gemm_job) j;
    NNRTI_CPU(phase_job_init)(s, p, (int32_t)(i % groups), v, &j);
    NNRTI_CPU(gemm_task)(&j, i / groups, worker);
}

/* Permutes lanes: for each lane, the channel of x that its group reads. cell: the channels as a vector, for ISAs
   with a permute instruction; others load from x. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(permute_lanes)(const float *x, nnrti_v cell, const int32_t *lanes)
{
#if NNRTI_CPU_LEVEL == 4
    (void)x;
    return _mm512_permutexvar_ps(_mm512_loadu_si512(lanes), cell);
#elif NNRTI_CPU_LEVEL == 3
    (void)x;
    return _mm256_permutevar8x32_ps(cell, _mm256_loadu_si256((const __m256i *)(const void *)lanes));
#else
    const float picked[NNRTI_LANES] = {x[lanes[0]], x[lanes[1]], x[lanes[2]], x[lanes[3]]};
    (void)cell;
    return nnrti_v_load(picked);
#endif
}

/* Microkernel of small groups: NNRTI_TILE_ROWS pixels by a block of groups, whose channels of x begin at `at`;
   `there` of them are read. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(microkernel_grouped)(const NNRTI_CPU(gemm_tile) * tile, int32_t row,
                                                              const int32_t *lanes, ptrdiff_t at, int32_t there)
{
    const NNRTI_CPU(gemm_tile) copy = *tile, *const t = &copy;
    nnrti_v sum[NNRTI_TILE_ROWS];
    const float *w = t->panel;
    const bool whole = NNRTI_IS_WHOLE(there);
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < NNRTI_TILE_ROWS; r++)
        sum[r] = nnrti_v_load(w);
    w += NNRTI_LANES;
    for (int32_t tap = 0; tap < t->taps; tap++) {
        const float *const *x = t->x + (ptrdiff_t)tap * t->step + row;
        nnrti_v cell[NNRTI_TILE_ROWS];
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < NNRTI_TILE_ROWS; r++) {
            if (NNRTI_LANES == 4)
                cell[r] = sum[r];
            else
                cell[r] = whole ? nnrti_v_load(x[r] + at) : nnrti_v_load_part(x[r] + at, there);
        }
        for (int32_t k = 0; k < t->k; k++, w += NNRTI_LANES) {
            const nnrti_v weight = nnrti_v_load(w);
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < NNRTI_TILE_ROWS; r++)
                sum[r] =
                    nnrti_v_fma(NNRTI_CPU(permute_lanes)(x[r] + at, cell[r], lanes + k * NNRTI_LANES), weight, sum[r]);
        }
    }
    NNRTI_CPU(epilogue_last)(t, row, 0, sum, 1, NNRTI_TILE_ROWS);
}

/* Work item of `conv_grouped`. */
static void NNRTI_CPU(conv_grouped_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(multi_gemm_job) *s = (const NNRTI_CPU(multi_gemm_job) *)arg;
    const nnrti_cpu_multi_gemm *a = s->attr;
    const nnrti_cpu_phase *p = NNRTI_CPU(phase_of_item)(a, &s->args[3], 1, &i);
    const int64_t first = (int64_t)i * p->gemm.rows;
    const int32_t *lanes = (const int32_t *)s->args[2].data + s->args[0].dims[3];
    nnrt_view v[5];
    NNRTI_CPU(gemm_job) j;
    NNRTI_CPU(indirection) l;
    NNRTI_CPU(gemm_tile) t;
    NNRTI_CPU(phase_job_init)(s, p, -1, v, &j);
    l.rows = j.pixels - first < p->gemm.rows ? (int32_t)(j.pixels - first) : p->gemm.rows;
    l.step = l.rows + NNRTI_CPU_MAX_TILE_ROWS - 1;
    t.taps = nnrti_cpu_taps(&p->gemm);
    l.x = (const float **)nnrti_cpu_scratch(s->call, worker);
    l.y = (float **)(uintptr_t)(l.x + (size_t)t.taps * (size_t)l.step);
    l.z = NULL;
    NNRTI_CPU(pixel_pointers)(&j, first, &l);
    t.x = l.x;
    t.y = l.y;
    t.z = NULL;
    t.rows = l.rows;
    t.step = l.step;
    t.k = a->channels;
    t.low = j.low;
    t.high = j.high;
    t.panel = (const float *)v[1].data;
    for (int32_t g = 0; g < a->groups; g += a->fold) {
        const int32_t n = a->groups - g < a->fold ? a->groups - g : a->fold;
        const ptrdiff_t at = (ptrdiff_t)g * a->channels;
        const int32_t there = NNRTI_IS_WHOLE(v[0].dims[3] - at) ? NNRTI_LANES : n * a->channels;
        t.channel = g * a->results;
        t.count = n * a->results;
        for (int32_t r = 0; r < t.rows; r += NNRTI_TILE_ROWS)
            NNRTI_CPU(microkernel_grouped)(&t, r, n < a->fold ? lanes + a->channels * NNRTI_LANES : lanes, at, there);
        t.panel += (size_t)v[1].dims[1] * NNRTI_LANES;
    }
    for (int32_t r = 0; r < t.rows && !j.bounds; r++)
        NNRTI_CPU(activation_row)(l.y[r], l.y[r], v[3].dims[3], p->gemm.conv.activation);
}

/* y = activation(bias[c] + sum over the taps of a pixel and the channels of x of c's group of x * weight). */
static NNRT_ReturnCode NNRTI_CPU(run_multi_gemm)(const nnrti_cpu_multi_gemm *a, const nnrt_view *args, nnrt_call *call,
                                                 uint32_t groups, void (*task)(void *arg, uint32_t i, uint32_t worker))
{
    NNRTI_CPU(multi_gemm_job) s;
    uint32_t units = 0;
    double work = 0;
    s.attr = a;
    s.args = args;
    s.call = call;
    for (int32_t i = 0; i < a->phases; i++) {
        units += (uint32_t)nnrti_cpu_phase_pieces(&a->phase[i], &args[3]) * groups;
        work += (double)nnrti_cpu_phase_pixels(&a->phase[i], &args[3]) * nnrti_cpu_taps(&a->phase[i].gemm);
    }
    nnrti_cpu_parallel_for(call, work * args[1].dims[0] * a->channels, units, task, &s);
    return NNRT_SUCCESS;
}

/* Grouped convolution with large groups, transposed convolution and CONV_3D: a GEMM per phase and group. */
static NNRT_ReturnCode NNRTI_CPU(multi_gemm)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_multi_gemm *a = (const nnrti_cpu_multi_gemm *)attr;
    return NNRTI_CPU(run_multi_gemm)(a, args, call, (uint32_t)a->groups, NNRTI_CPU(multi_gemm_task));
}

/* The same with groups so small that several fill a vector. */
static NNRT_ReturnCode NNRTI_CPU(conv_grouped)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_multi_gemm)((const nnrti_cpu_multi_gemm *)attr, args, call, 1, NNRTI_CPU(conv_grouped_task));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nbits_kernels */

/* GEMM and GEMV by weights of 4 or 8 bits (MATMUL_NBITS). A GEMV is bound by memory bandwidth, so it must read the
   weights packed and decode them in registers. A 32-bit lane of a packed vector has 8 or 4 adjacent entries of one
   channel. An entry is decoded where it lies in the word: with its bits masked and an exponent inserted, the lane is the
   float 2^p + entry, for the p that makes the entry's lowest bit worth 1; the subtraction of 2^p + zero point is
   exact. So neither shuffles nor conversions are needed, and every ISA decodes alike. Up to NNRTI_CPU_NBITS_ROWS rows
   use a decoded vector at once, with one accumulator for the block and one for the sum, as the reference kernel. For
   more rows a panel is decoded to float32, times its scales, in scratch, and multiplied by the microkernels of >>gemm.
   Rejected: two shifts that extend the sign, and a conversion (as fast on Zen 3, slower by zero points). */

typedef uint32_t NNRTI_CPU(v_unsigned) __attribute__((vector_size(NNRTI_LANES * 4)));
#define NNRTI_NBITS_VECTORS (NNRTI_CPU_GEMV_WIDTH * NNRTI_PANEL_VECTORS) /* of a packed panel */
#define NNRTI_NBITS_WIDTH (NNRTI_NBITS_VECTORS * NNRTI_LANES)            /* its channels */

/* The words from `p` on. */
NNRTI_CPU_INLINE NNRTI_CPU(v_unsigned) NNRTI_CPU(nbits_words)(const uint32_t *p)
{
    return (NNRTI_CPU(v_unsigned))nnrti_v_load((const float *)(const void *)p);
}

/* The bit of entry k where it is decoded: the mantissa has 23 bits, so that the upper half of the word is shifted. */
NNRTI_CPU_INLINE int32_t NNRTI_CPU(nbits_at)(int32_t k, const int32_t bits)
{
    return k * bits % 16;
}

/* 2^p of entry k: the base of its float. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(nbits_base)(int32_t k, const int32_t bits)
{
    return nnrti_v_all((float)(1 << (23 - NNRTI_CPU(nbits_at)(k, bits))));
}

/* Entry k of each word, plus its base. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(nbits_entry)(NNRTI_CPU(v_unsigned) words, int32_t k, const int32_t bits)
{
    const int32_t at = NNRTI_CPU(nbits_at)(k, bits);
    const uint32_t mask = ((1u << bits) - 1u) << at, exponent = (uint32_t)(127 + 23 - at) << 23;
    return (nnrti_v)(((words >> (k * bits / 16 * 16)) & mask) | exponent);
}

/* Zero points of LANES channels from `first` on. zeros: the zero points of the block. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(nbits_zeros)(const nnrti_cpu_nbits *a, const uint8_t *zeros, int32_t first)
{
    if (a->zeroBytes == 0)
        return nnrti_v_all((float)(1 << (a->bits - 1)));
    if (a->zeroBytes == 1)
        return __builtin_convertvector(nnrti_v_load_bytes(zeros + first), nnrti_v);
    return nnrti_v_load((const float *)(const void *)zeros + first);
}

/* Adds entry i of the words, less base and zero point, times x[r][k] to part[r * vectors + v]. less: both, of the
   entries decoded at bit e * bits, less[e * vectors + v]; NULL: the zero point is the middle. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_multiply)(const NNRTI_CPU(v_unsigned) * words, int32_t i, const nnrti_v *less,
                                                const float *const *x, ptrdiff_t k, nnrti_v *part, const int32_t rows,
                                                const int32_t vectors, const int32_t bits)
{
    const nnrti_v middle = NNRTI_CPU(nbits_base)(i, bits) + nnrti_v_all((float)(1 << (bits - 1)));
    nnrti_v value[NNRTI_CPU_NBITS_ROWS];
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < rows; r++)
        value[r] = nnrti_v_all(x[r][k]);
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const nnrti_v entry = NNRTI_CPU(nbits_entry)(words[v], i, bits) -
                              (less != NULL ? less[NNRTI_CPU(nbits_at)(i, bits) / bits * vectors + v] : middle);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows; r++)
            part[r * vectors + v] = nnrti_v_fma(value[r], entry, part[r * vectors + v]);
    }
}

/* less[e * vectors + v] = base plus zero point of the entries that are decoded at bit e * bits. Not unrolled: the table
   is too large for registers. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_less)(const nnrti_cpu_nbits *a, const uint8_t *zeros, int32_t first,
                                            nnrti_v *less, const int32_t vectors, const int32_t bits)
{
    for (int32_t v = 0; v < vectors; v++, less++) {
        const nnrti_v zero = NNRTI_CPU(nbits_zeros)(a, zeros, first + v * NNRTI_LANES);
        less[0] = zero + NNRTI_CPU(nbits_base)(0, bits);
        less[vectors] = zero + NNRTI_CPU(nbits_base)(1, bits);
        if (bits == 8)
            continue;
        less[2 * vectors] = zero + NNRTI_CPU(nbits_base)(2, bits);
        less[3 * vectors] = zero + NNRTI_CPU(nbits_base)(3, bits);
    }
}

/* Microkernel: the first `rows` rows by `vectors` vectors of a packed panel, from vector `first` on. zeros: the
   panel has zero points. rows, vectors, bits and zeros are constants after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_microkernel)(const NNRTI_CPU(gemm_tile) * tile, const nnrti_cpu_nbits *a,
                                                   int32_t first, const int32_t rows, const int32_t vectors,
                                                   const int32_t bits, const bool zeros)
{
    const NNRTI_CPU(gemm_tile) copy = *tile, *const t = &copy;
    const int32_t per = 32 / bits;
    const ptrdiff_t lane = (ptrdiff_t)first * NNRTI_LANES;
    const uint8_t *block = (const uint8_t *)(t->panel + NNRTI_NBITS_WIDTH);
    const float *x[NNRTI_CPU_NBITS_ROWS];
    nnrti_v sum[NNRTI_CPU_NBITS_ROWS * 2], part[NNRTI_CPU_NBITS_ROWS * 2], less[4 * NNRTI_NBITS_VECTORS];
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < rows; r++) {
        x[r] = t->x[r];
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < vectors; v++)
            sum[r * vectors + v] = nnrti_v_load(t->panel + lane + v * NNRTI_LANES);
    }
    for (int32_t k = 0; k < t->k; k += a->block, block += a->blockBytes) {
        const float *const scale = (const float *)(const void *)block + lane;
        const uint8_t *const zeroPoints = block + NNRTI_NBITS_WIDTH * sizeof(float);
        const uint32_t *w =
            (const uint32_t *)(const void *)(zeroPoints + (size_t)a->zeroBytes * NNRTI_NBITS_WIDTH) + lane;
        const int32_t n = t->k - k < a->block ? t->k - k : a->block;
        int32_t i = 0;
        if (zeros)
            NNRTI_CPU(nbits_less)(a, zeroPoints, (int32_t)lane, less, vectors, bits);
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < rows * vectors; v++)
            part[v] = nnrti_v_all(0.0f);
        for (; i < n; i += per, w += NNRTI_NBITS_WIDTH) {
            NNRTI_CPU(v_unsigned) words[NNRTI_NBITS_VECTORS];
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < vectors; v++)
                words[v] = NNRTI_CPU(nbits_words)(w + v * NNRTI_LANES);
            if (i + per > n) { /* the last word of a row */
                for (int32_t e = 0; e < n - i; e++)
                    NNRTI_CPU(nbits_multiply)(words, e, zeros ? less : NULL, x, k + i + e, part, rows, vectors, bits);
                break;
            }
            NNRTI_NBITS_PREFETCH(w, vectors * NNRTI_LANES);
            NNRTI_CPU_UNROLL
            for (int32_t e = 0; e < per; e++)
                NNRTI_CPU(nbits_multiply)(words, e, zeros ? less : NULL, x, k + i + e, part, rows, vectors, bits);
        }
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < vectors; v++)
            NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows; r++)
            sum[r * vectors + v] =
                nnrti_v_fma(nnrti_v_load(scale + v * NNRTI_LANES), part[r * vectors + v], sum[r * vectors + v]);
    }
    for (int32_t v = 0; v < vectors && t->count > v * NNRTI_LANES; v++)
        NNRTI_CPU(epilogue_last)(t, 0, v * NNRTI_LANES, sum + v, vectors, rows);
}

/* Instances. A GEMV by 4 bits without zero points reads no table of them; 8 bits and several rows do not need that. */
#define NNRTI_CPU_NBITS_MICROKERNEL(name, rows, vectors, bits, zeros)                                                  \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(nbits_##name)(const NNRTI_CPU(gemm_tile) * t, const nnrti_cpu_nbits *a,   \
                                                           int32_t first)                                              \
    {                                                                                                                  \
        NNRTI_CPU(nbits_microkernel)(t, a, first, rows, vectors, bits, zeros);                                         \
    }
NNRTI_CPU_NBITS_MICROKERNEL(row_4, 1, NNRTI_NBITS_VECTORS, 4, false)
NNRTI_CPU_NBITS_MICROKERNEL(row_4_zeros, 1, NNRTI_NBITS_VECTORS, 4, true)
NNRTI_CPU_NBITS_MICROKERNEL(row_8, 1, NNRTI_NBITS_VECTORS, 8, true)
NNRTI_CPU_NBITS_MICROKERNEL(rows_4, NNRTI_CPU_NBITS_ROWS, NNRTI_PANEL_VECTORS, 4, true)
NNRTI_CPU_NBITS_MICROKERNEL(rows_8, NNRTI_CPU_NBITS_ROWS, NNRTI_PANEL_VECTORS, 8, true)

/* The weight of entry k: (entry - zero point) * scale. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(nbits_weight)(NNRTI_CPU(v_unsigned) words, int32_t k, nnrti_v zero, nnrti_v scale,
                                                 const int32_t bits)
{
    return ((NNRTI_CPU(nbits_entry)(words, k, bits) - NNRTI_CPU(nbits_base)(k, bits)) - zero) * scale;
}

/* Decodes one vector of channels of a packed panel: `to` gets K rows of (entry - zero point) * scale, `step` floats
   apart. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_decode_vector)(const nnrti_cpu_nbits *a, const uint8_t *block, int32_t first,
                                                     int32_t K, float *to, ptrdiff_t step, const int32_t bits)
{
    const int32_t per = 32 / bits;
    for (int32_t k = 0; k < K; k += a->block, block += a->blockBytes) {
        const uint8_t *const zeroPoints = block + NNRTI_NBITS_WIDTH * sizeof(float);
        const uint32_t *w =
            (const uint32_t *)(const void *)(zeroPoints + (size_t)a->zeroBytes * NNRTI_NBITS_WIDTH) + first;
        const nnrti_v scale = nnrti_v_load((const float *)(const void *)block + first);
        const nnrti_v zero = NNRTI_CPU(nbits_zeros)(a, zeroPoints, first);
        const int32_t n = K - k < a->block ? K - k : a->block;
        int32_t i = 0;
        for (; i + per <= n; i += per, w += NNRTI_NBITS_WIDTH) {
            const NNRTI_CPU(v_unsigned) words = NNRTI_CPU(nbits_words)(w);
            NNRTI_CPU_UNROLL
            for (int32_t e = 0; e < per; e++, to += step)
                nnrti_v_store(to, NNRTI_CPU(nbits_weight)(words, e, zero, scale, bits));
        }
        for (int32_t e = 0; e < n - i; e++, to += step)
            nnrti_v_store(to, NNRTI_CPU(nbits_weight)(NNRTI_CPU(nbits_words)(w), e, zero, scale, bits));
    }
}

/* Decodes `vectors` vectors of a packed panel to a panel of `gemm`: their bias, then K rows of weights. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(nbits_decode)(const nnrti_cpu_nbits *a, const float *panel, int32_t first,
                                                       int32_t vectors, int32_t K, float *to)
{
    const uint8_t *const blocks = (const uint8_t *)(panel + NNRTI_NBITS_WIDTH);
    const ptrdiff_t step = (ptrdiff_t)vectors * NNRTI_LANES;
    for (int32_t v = 0; v < vectors; v++, first += NNRTI_LANES, to += NNRTI_LANES) {
        nnrti_v_store(to, nnrti_v_load(panel + first));
        if (a->bits == 4)
            NNRTI_CPU(nbits_decode_vector)(a, blocks, first, K, to + step, step, 4);
        else
            NNRTI_CPU(nbits_decode_vector)(a, blocks, first, K, to + step, step, 8);
    }
}

/* The rows of a work item by one packed panel. decoded: scratch for a panel of `gemm`. */
static void NNRTI_CPU(nbits_panel)(NNRTI_CPU(gemm_tile) * t, const nnrti_cpu_nbits *a, int32_t C, float *decoded)
{
    const float *const panel = t->panel;
    const int32_t channel = t->channel;
    const bool four = a->bits == 4;
    t->count = C - channel;
    if (a->gemm.wide == 0 && t->rows == 1) {
        (!four               ? NNRTI_CPU(nbits_row_8)
         : a->zeroBytes == 0 ? NNRTI_CPU(nbits_row_4)
                             : NNRTI_CPU(nbits_row_4_zeros))(t, a, 0);
        return;
    }
    for (int32_t v = 0; v < NNRTI_NBITS_VECTORS && t->count > 0; v += NNRTI_PANEL_VECTORS) {
        if (a->gemm.wide == 0) {
            (four ? NNRTI_CPU(nbits_rows_4) : NNRTI_CPU(nbits_rows_8))(t, a, v);
        } else {
            NNRTI_CPU(nbits_decode)
            (a, panel, v * NNRTI_LANES, t->count > NNRTI_LANES ? NNRTI_PANEL_VECTORS : 1, t->k, decoded);
            t->panel = t->ahead = decoded;
            NNRTI_CPU(gemm_panel)(t, t->count > NNRTI_LANES);
        }
        t->channel += NNRTI_PANEL_VECTORS * NNRTI_LANES;
        t->count = C - t->channel;
    }
}

/* Work item of `gemm_nbits`: some rows by one part of the packed panels. */
static void NNRTI_CPU(nbits_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(gemm_job) *j = (const NNRTI_CPU(gemm_job) *)arg;
    const nnrti_cpu_nbits *a = (const nnrti_cpu_nbits *)(const void *)j->attr;
    const uint32_t part = i % a->gemm.parts, parts = a->gemm.parts;
    const int64_t first = (int64_t)(i / parts) * a->gemm.rows, left = j->pixels - first;
    const int32_t C = j->y->dims[3], panels = j->packed->dims[0];
    const int32_t from = (int32_t)((int64_t)panels * part / parts);
    const int32_t to = (int32_t)((int64_t)panels * (part + 1) / parts);
    const int32_t begin = from * NNRTI_NBITS_WIDTH, end = to < panels ? to * NNRTI_NBITS_WIDTH : C;
    uint8_t *const scratch = (uint8_t *)nnrti_cpu_scratch(j->call, worker);
    NNRTI_CPU(indirection) l;
    NNRTI_CPU(gemm_tile) t;
    l.rows = left > a->gemm.rows ? a->gemm.rows : (int32_t)left;
    l.step = l.rows + NNRTI_CPU_MAX_TILE_ROWS - 1;
    l.x = (const float **)(void *)scratch;
    l.z = l.x + l.step;
    l.y = (float **)(uintptr_t)(l.z + l.step);
    if (j->z->data == NULL)
        l.z = NULL;
    NNRTI_CPU(pixel_pointers)(j, first, &l);
    NNRTI_CPU(gemm_tile_begin)(&t, j, &l, 1);
    t.stepAhead = 0;
    for (int32_t p = from; p < to; p++) {
        t.channel = p * NNRTI_NBITS_WIDTH;
        t.panel =
            (const float *)(const void *)((const uint8_t *)j->packed->data + (size_t)p * (size_t)j->packed->dims[1]);
        NNRTI_CPU(nbits_panel)(&t, a, C, (float *)(void *)(scratch + a->gemm.wide));
    }
    for (int32_t r = 0; r < t.rows && !j->bounds; r++)
        NNRTI_CPU(activation_row)(l.y[r] + begin, l.y[r] + begin, end - begin, a->gemm.conv.activation);
}

/* y[m,c] = activation(bias[c] + sum over blocks of scale[c] * the sum over k of x[m,k] * (weight[c,k] - zero point));
   with a residual z: sum(that + z[m,c]), where sum is the second activation. */
static NNRT_ReturnCode NNRTI_CPU(gemm_nbits)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(gemm_job) j;
    int32_t weights[2];
    NNRTI_CPU(gemm_job_init)((const nnrti_cpu_gemm *)attr, args, call, &j);
    j.pixels = j.y->dims[2];
    weights[0] = j.y->dims[3];
    weights[1] = j.x->dims[3];
    nnrti_cpu_parallel_for(call, nnrti_cpu_gemm_work(j.attr, j.pixels, weights),
                           (uint32_t)nnrti_cpu_div_up(j.pixels, j.attr->rows) * j.attr->parts, NNRTI_CPU(nbits_task),
                           &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>winograd_tiles */

/* Winograd convolution, and MATMUL of two runtime tensors. A work item of Winograd transforms its tiles of x (B^T d
   B) into scratch, cell by cell, then multiplies each of the 16 or 36 cells by its transformed weights (one GEMM per
   cell, with the microkernel above), and transforms the results back (A^T m A) into y, with the epilogue. SIMD lanes
   are channels, so the transforms need no shuffles. Scratch rows are padded against cache set conflicts. MATMUL
   packs each panel of its second operand in every run, then multiplies with the same microkernel. */

/* B^T d of one row or column of a tile's input. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_input_1d)(nnrti_v *d, const int32_t tile)
{
    if (tile == 2) {
        const nnrti_v one = d[1], two = d[2];
        d[0] = d[0] - two;
        d[1] = one + two;
        d[2] = two - one;
        d[3] = one - d[3];
    } else {
        const nnrti_v two = nnrti_v_all(2.0f), four = nnrti_v_all(4.0f), less = nnrti_v_all(-4.0f);
        const nnrti_v even = nnrti_v_fma(less, d[2], d[4]), odd = nnrti_v_fma(less, d[1], d[3]);
        const nnrti_v far = d[4] - d[2], near = two * (d[3] - d[1]);
        d[0] = nnrti_v_fma(four, d[0] - d[2], far);
        d[5] = nnrti_v_fma(four, d[1] - d[3], d[5] - d[3]);
        d[1] = even + odd;
        d[2] = even - odd;
        d[3] = far + near;
        d[4] = far - near;
    }
}

/* A^T m of one row or column: `tile` results. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_output_1d)(nnrti_v *m, const int32_t tile)
{
    const nnrti_v sum = m[1] + m[2], difference = m[1] - m[2];
    if (tile == 2) {
        m[0] = m[0] + sum;
        m[1] = difference - m[3];
    } else {
        const nnrti_v sum2 = m[3] + m[4], difference2 = m[3] - m[4];
        m[0] = m[0] + (sum + sum2);
        m[1] = nnrti_v_fma(nnrti_v_all(2.0f), difference2, difference);
        m[2] = nnrti_v_fma(nnrti_v_all(4.0f), sum2, sum);
        m[3] = nnrti_v_fma(nnrti_v_all(8.0f), difference2, difference) + m[5];
    }
}

/* Half a vector of floats, as double. */
#define nnrti_d NNRTI_CPU(d)
#define nnrti_h NNRTI_CPU(h)
typedef double nnrti_d __attribute__((vector_size(NNRTI_LANES * 4)));
typedef float nnrti_h __attribute__((vector_size(NNRTI_LANES * 2)));
NNRTI_CPU_INLINE void NNRTI_CPU(to_double)(const float *from, nnrti_d *to)
{
    nnrti_h v;
    memcpy(&v, from, sizeof(v));
#if defined(__clang__) || __GNUC__ >= 9
    *to = __builtin_convertvector(v, nnrti_d);
#else
    for (int32_t i = 0; i < NNRTI_LANES / 2; i++)
        (*to)[i] = (double)v[i];
#endif
}
/* NNRTI_LANES / 2 integers. */
NNRTI_CPU_INLINE void NNRTI_CPU(integers_to_double)(const int32_t *from, nnrti_d *to)
{
#if NNRTI_CPU_LEVEL == 4
    *to = (nnrti_d)_mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)(const void *)from));
#elif NNRTI_CPU_LEVEL == 3
    *to = (nnrti_d)_mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)(const void *)from));
#else
    double lanes[NNRTI_LANES / 2];
    for (int32_t t = 0; t < NNRTI_LANES / 2; t++)
        lanes[t] = (double)from[t];
    memcpy(to, lanes, sizeof(lanes));
#endif
}

NNRTI_CPU_INLINE void NNRTI_CPU(from_double)(const nnrti_d *from, float *to)
{
#if defined(__clang__) || __GNUC__ >= 9
    const nnrti_h v = __builtin_convertvector(*from, nnrti_h);
#else
    nnrti_h v;
    for (int32_t i = 0; i < NNRTI_LANES / 2; i++)
        v[i] = (float)(*from)[i];
#endif
    memcpy(to, &v, sizeof(v));
}

/* G g of one row or column of the weights. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_weights_1d)(nnrti_d a, nnrti_d b, nnrti_d c, nnrti_d *y, const int32_t tile)
{
    const nnrti_d ends = a + c, far = a + 4.0 * c;
    if (tile == 2) {
        y[0] = a;
        y[1] = (ends + b) * 0.5;
        y[2] = (ends - b) * 0.5;
    } else {
        y[0] = a * 0.25;
        y[1] = (ends + b) * (-1.0 / 6);
        y[2] = (ends - b) * (-1.0 / 6);
        y[3] = (far + 2.0 * b) * (1.0 / 24);
        y[4] = (far - 2.0 * b) * (1.0 / 24);
    }
    y[tile + 1] = c;
}

/* G g G^T of half a vector of channels. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_weights_2d)(const float *taps, size_t tap, float *to, size_t cell,
                                                     const int32_t tile)
{
    const int32_t n = tile + 2;
    nnrti_d g[9], half[18], y[6];
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 9; i++)
        NNRTI_CPU(to_double)(taps + (size_t)i * tap, &g[i]);
    NNRTI_CPU_UNROLL
    for (int32_t j = 0; j < 3; j++) {
        NNRTI_CPU(winograd_weights_1d)(g[j], g[3 + j], g[6 + j], y, tile);
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < n; i++)
            half[3 * i + j] = y[i];
    }
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < n; i++) {
        NNRTI_CPU(winograd_weights_1d)(half[3 * i], half[3 * i + 1], half[3 * i + 2], y, tile);
        NNRTI_CPU_UNROLL
        for (int32_t j = 0; j < n; j++, to += cell)
            NNRTI_CPU(from_double)(&y[j], to);
    }
}

/* The function `weights` of the ISA's table. */
static void NNRTI_CPU(winograd_weights)(const float *taps, size_t tap, float *to, size_t cell, int32_t width,
                                        int32_t tile)
{
    for (int32_t t = 0; t < width; t += NNRTI_LANES / 2)
        if (tile == 2)
            NNRTI_CPU(winograd_weights_2d)(taps + t, tap, to + t, cell, 2);
        else
            NNRTI_CPU(winograd_weights_2d)(taps + t, tap, to + t, cell, 4);
}

/* Input transform of a vector of channels of all cells; the first `left` channels exist. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_input_vector)(const float *const *x, int32_t k, int32_t left, float *to,
                                                       size_t cell, const int32_t tile)
{
    const int32_t n = tile + 2;
    nnrti_v half[6][6], d[6];
    for (int32_t j = 0; j < n; j++) {
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < n; i++)
            d[i] = nnrti_v_load_part(x[i * n + j] + k, left);
        NNRTI_CPU(winograd_input_1d)(d, tile);
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < n; i++)
            half[i][j] = d[i];
    }
    for (int32_t i = 0; i < n; i++) {
        NNRTI_CPU_UNROLL
        for (int32_t j = 0; j < n; j++)
            d[j] = half[i][j];
        NNRTI_CPU(winograd_input_1d)(d, tile);
        NNRTI_CPU_UNROLL
        for (int32_t j = 0; j < n; j++)
            nnrti_v_store(to + (size_t)(i * n + j) * cell + k, d[j]);
    }
}

/* Input transform of a tile, K channels, from x[cell]. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_input_tile)(const float *const *x, int32_t K, float *to, size_t cell,
                                                     const int32_t tile)
{
    int32_t k = 0;
    for (; k + NNRTI_LANES <= K; k += NNRTI_LANES)
        NNRTI_CPU(winograd_input_vector)(x, k, NNRTI_LANES, to, cell, tile);
    if (k < K)
        NNRTI_CPU(winograd_input_vector)(x, k, K - k, to, cell, tile);
}

/* Output transform and epilogue of a tile of which down x across pixels exist: t->count channels of each. */
NNRTI_CPU_INLINE void NNRTI_CPU(winograd_output_tile)(const NNRTI_CPU(gemm_tile) * t, const float *from, size_t cell,
                                                      int32_t down, int32_t across, const int32_t tile)
{
    const int32_t n = tile + 2;
    for (int32_t c = 0; c < t->count; c += NNRTI_LANES) {
        nnrti_v half[4][6], m[6];
        for (int32_t j = 0; j < n; j++) {
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < n; i++)
                m[i] = nnrti_v_load(from + (size_t)(i * n + j) * cell + c);
            NNRTI_CPU(winograd_output_1d)(m, tile);
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < tile; i++)
                half[i][j] = m[i];
        }
        for (int32_t i = 0; i < down; i++) {
            NNRTI_CPU_UNROLL
            for (int32_t j = 0; j < n; j++)
                m[j] = half[i][j];
            NNRTI_CPU(winograd_output_1d)(m, tile);
            NNRTI_CPU_UNROLL
            for (int32_t j = 0; j < tile; j++)
                if (j < across)
                    NNRTI_CPU(epilogue)(t, i * tile + j, c, &m[j], 1, 1, false);
        }
    }
}

NNRTI_CPU_NOINLINE static void NNRTI_CPU(winograd_input_tile_2)(const float *const *x, int32_t K, float *to,
                                                                size_t cell)
{
    NNRTI_CPU(winograd_input_tile)(x, K, to, cell, 2);
}
NNRTI_CPU_NOINLINE static void NNRTI_CPU(winograd_input_tile_4)(const float *const *x, int32_t K, float *to,
                                                                size_t cell)
{
    NNRTI_CPU(winograd_input_tile)(x, K, to, cell, 4);
}
NNRTI_CPU_NOINLINE static void NNRTI_CPU(winograd_output_tile_2)(const NNRTI_CPU(gemm_tile) * t, const float *from,
                                                                 size_t cell, int32_t down, int32_t across)
{
    NNRTI_CPU(winograd_output_tile)(t, from, cell, down, across, 2);
}
NNRTI_CPU_NOINLINE static void NNRTI_CPU(winograd_output_tile_4)(const NNRTI_CPU(gemm_tile) * t, const float *from,
                                                                 size_t cell, int32_t down, int32_t across)
{
    NNRTI_CPU(winograd_output_tile)(t, from, cell, down, across, 4);
}

/* Tile number `at` of all images: its image, and the position of its first pixel. With dilation D the pixels of a tile are
   D apart, and D tiles in each direction lie interleaved; the last ones may have no pixel. */
static void NNRTI_CPU(winograd_tile_position)(const nnrti_cpu_winograd *a, int64_t at, int64_t *n, int64_t *p,
                                              int64_t *q)
{
    const int64_t across = at % a->across, down = at / a->across % a->down;
    const int32_t *const dilation = a->gemm.conv.dilation;
    *q = across / dilation[1] * dilation[1] * a->tile + across % dilation[1];
    *p = down / dilation[0] * dilation[0] * a->tile + down % dilation[0];
    *n = at / a->across / a->down;
}

/* Input transforms of some tiles of x. */
static void NNRTI_CPU(winograd_input_transform)(const NNRTI_CPU(gemm_job) * j, int64_t first, int32_t rows, float *to)
{
    const nnrti_cpu_winograd *a = (const nnrti_cpu_winograd *)(const void *)j->attr;
    const nnrt_view *in = j->x;
    const int32_t n = a->tile + 2, *const dilation = a->gemm.conv.dilation;
    for (int32_t r = 0; r < rows; r++, to += a->rowX) {
        const float *x[36], *image;
        int64_t at, p, q;
        NNRTI_CPU(winograd_tile_position)(a, first + r, &at, &p, &q);
        image = (const float *)in->data + at * in->strides[0];
        p -= a->gemm.conv.pad[0];
        q -= a->gemm.conv.pad[1];
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < n; k++) {
                const int64_t h = p + (int64_t)i * dilation[0], w = q + (int64_t)k * dilation[1];
                const bool inside = h >= 0 && h < in->dims[1] && w >= 0 && w < in->dims[2];
                x[i * n + k] = inside ? image + h * in->strides[1] + w * in->strides[2] : (const float *)j->last->data;
            }
        (a->tile == 2 ? NNRTI_CPU(winograd_input_tile_2) : NNRTI_CPU(winograd_input_tile_4))(x, in->dims[3], to,
                                                                                             a->cellX);
    }
}

/* Output transforms of some tiles: channels t->channel to t->channel + t->count - 1. */
static void NNRTI_CPU(winograd_output_transform)(const NNRTI_CPU(gemm_job) * j, int64_t first, int32_t rows,
                                                 const float *from, NNRTI_CPU(gemm_tile) * t)
{
    const nnrti_cpu_winograd *a = (const nnrti_cpu_winograd *)(const void *)j->attr;
    const nnrt_view *out = j->y;
    float low, high, *y[16];
    const float *z[16];
    const bool apart = !nnrti_cpu_activation_bounds(a->gemm.conv.activation, &low, &high);
    const int32_t *const dilation = a->gemm.conv.dilation;
    t->y = y;
    t->z = j->z->data != NULL ? z : NULL;
    for (int32_t r = 0; r < rows; r++, from += a->rowY) {
        int64_t n, p, q;
        int32_t down, across;
        NNRTI_CPU(winograd_tile_position)(a, first + r, &n, &p, &q);
        down = (int32_t)nnrti_cpu_div_up(out->dims[1] - p, dilation[0]);
        across = (int32_t)nnrti_cpu_div_up(out->dims[2] - q, dilation[1]);
        if (out->dims[1] <= p || out->dims[2] <= q)
            continue;
        down = down < a->tile ? down : a->tile;
        across = across < a->tile ? across : a->tile;
        for (int32_t i = 0; i < down; i++)
            for (int32_t k = 0; k < across; k++) {
                const ptrdiff_t at = (ptrdiff_t)n * out->strides[0] + (ptrdiff_t)(p + i * dilation[0]) * out->strides[1] +
                                     (ptrdiff_t)(q + k * dilation[1]) * out->strides[2];
                y[i * a->tile + k] = (float *)out->data + at;
                if (t->z != NULL)
                    z[i * a->tile + k] = (const float *)j->z->data + at;
            }
        (a->tile == 2 ? NNRTI_CPU(winograd_output_tile_2) : NNRTI_CPU(winograd_output_tile_4))(t, from, a->cellY, down,
                                                                                               across);
        for (int32_t i = 0; apart && i < down; i++)
            for (int32_t k = 0; k < across; k++) {
                float *const to = y[i * a->tile + k] + t->channel;
                NNRTI_CPU(activation_row)(to, to, t->count, a->gemm.conv.activation);
            }
    }
}

/* The GEMMs of some tiles by some of the panels, cell by cell. */
static void NNRTI_CPU(winograd_gemm)(const NNRTI_CPU(gemm_job) * j, const float *x, int32_t rows, int32_t from,
                                     int32_t to, float *y, const float **places)
{
    const nnrti_cpu_winograd *a = (const nnrti_cpu_winograd *)(const void *)j->attr;
    const int32_t cells = (a->tile + 2) * (a->tile + 2), panel = NNRTI_PANEL_VECTORS * NNRTI_LANES;
    const int32_t tiles = (rows + NNRTI_TILE_ROWS - 1) / NNRTI_TILE_ROWS;
    const size_t panelFloats = (size_t)j->packed->dims[1] * (size_t)panel, depth = (size_t)(1 + j->x->dims[3]);
    const float *const packed = (const float *)j->packed->data;
    NNRTI_CPU(gemm_tile) t;
    memset(&t, 0, sizeof(t));
    t.rows = rows;
    t.step = rows + NNRTI_CPU_MAX_TILE_ROWS - 1;
    t.x = places;
    t.y = (float *const *)(places + t.step);
    t.taps = 1;
    t.k = j->x->dims[3];
    (void)nnrti_cpu_activation_bounds(NNRT_ACTIVATION_TYPE_NO_ACTIVATION, &t.low, &t.high);
    for (int32_t e = 0; e < cells; e++, x += a->cellX, y += a->cellY) {
        for (int32_t r = 0; r < t.step; r++) {
            const size_t row = (size_t)(r < rows ? r : rows - 1);
            places[r] = x + row * a->rowX;
            places[t.step + r] = y + row * a->rowY;
        }
        for (int32_t p = from; p < to; p++) {
            const int32_t next = p + 1 < to ? p + 1 : from, cell = p + 1 < to ? e : e + 1 < cells ? e + 1 : 0;
            const int32_t ahead = j->y->dims[3] - next * panel <= NNRTI_LANES ? NNRTI_LANES : panel;
            t.count = j->y->dims[3] - p * panel <= NNRTI_LANES ? NNRTI_LANES : panel;
            t.channel = (p - from) * panel;
            t.panel = packed + (size_t)p * panelFloats + (size_t)e * depth * (size_t)t.count;
            t.ahead = packed + (size_t)next * panelFloats + (size_t)cell * depth * (size_t)ahead;
            t.stepAhead = ahead / tiles;
            NNRTI_CPU(gemm_panel)(&t, t.count > NNRTI_LANES);
        }
    }
}

/* Work item of `winograd`: some tiles by one part of the panels. */
static void NNRTI_CPU(winograd_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(gemm_job) *j = (const NNRTI_CPU(gemm_job) *)arg;
    const nnrti_cpu_winograd *a = (const nnrti_cpu_winograd *)(const void *)j->attr;
    const uint32_t part = i % a->gemm.parts, parts = a->gemm.parts;
    const int64_t first = (int64_t)(i / parts) * a->gemm.rows;
    const int32_t rows = (int32_t)(j->pixels - first < a->gemm.rows ? j->pixels - first : a->gemm.rows);
    const int32_t cells = (a->tile + 2) * (a->tile + 2), panel = NNRTI_PANEL_VECTORS * NNRTI_LANES;
    const int32_t from = (int32_t)((int64_t)j->panels * part / parts);
    const int32_t to = (int32_t)((int64_t)j->panels * (part + 1) / parts);
    float *const x = (float *)nnrti_cpu_scratch(j->call, worker), *const y = x + (size_t)cells * a->cellX;
    const float **const places = (const float **)(void *)(y + (size_t)cells * a->cellY);
    NNRTI_CPU(gemm_tile) t;
    memset(&t, 0, sizeof(t));
    (void)nnrti_cpu_activation_bounds(a->gemm.conv.activation, &t.low, &t.high);
    (void)nnrti_cpu_activation_bounds(a->gemm.sum, &t.sumLow, &t.sumHigh);
    NNRTI_CPU(winograd_input_transform)(j, first, rows, x);
    for (int32_t p = from; p < to; p += a->group) {
        const int32_t end = p + a->group < to ? p + a->group : to;
        NNRTI_CPU(winograd_gemm)(j, x, rows, p, end, y, places);
        t.channel = p * panel;
        t.count = (end * panel < j->y->dims[3] ? end * panel : j->y->dims[3]) - t.channel;
        NNRTI_CPU(winograd_output_transform)(j, first, rows, y, &t);
    }
}

/* The result of `gemm` for a 3 x 3 window, by Winograd tiles. */
static NNRT_ReturnCode NNRTI_CPU(winograd)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_winograd *a = (const nnrti_cpu_winograd *)attr;
    NNRTI_CPU(gemm_job) j;
    NNRTI_CPU(gemm_job_init)(&a->gemm, args, call, &j);
    j.pixels = (int64_t)j.y->dims[0] * a->down * a->across; /* count tiles instead of pixels */
    nnrti_cpu_parallel_for(call, (double)j.pixels * j.packed->dims[0] * j.packed->dims[1],
                           (uint32_t)((j.pixels + a->gemm.rows - 1) / a->gemm.rows) * a->gemm.parts,
                           NNRTI_CPU(winograd_task), &j);
    return NNRT_SUCCESS;
}

/* Arguments of a matrix multiplication of two runtime tensors. */
typedef struct NNRTI_CPU(matmul_job) {
    const nnrti_cpu_matmul *attr;
    const nnrt_view *x, *y, *bias, *z;
    const nnrt_call *call;
    int32_t panels;
} NNRTI_CPU(matmul_job);

/* Offset of matrix i of the batch of z in v, which is broadcast to it. */
static ptrdiff_t NNRTI_CPU(batch_offset)(const nnrt_view *v, const nnrt_view *z, uint32_t i)
{
    ptrdiff_t at = 0;
    for (int32_t k = z->rank - 3; k >= 0; k--) {
        const int32_t axis = k - (z->rank - v->rank), index = (int32_t)(i % (uint32_t)z->dims[k]);
        i /= (uint32_t)z->dims[k];
        if (axis >= 0 && v->dims[axis] != 1)
            at += index * v->strides[axis];
    }
    return at;
}

static const float *NNRTI_CPU(batch_matrix)(const nnrt_view *v, const nnrt_view *z, uint32_t i)
{
    return (const float *)v->data + NNRTI_CPU(batch_offset)(v, z, i);
}

/* Packs a panel of y [K,N] from column n on, in the format of `gemm`'s weights, with its bias. */
static void NNRTI_CPU(pack_matmul_panel)(const NNRTI_CPU(matmul_job) * j, const float *y, ptrdiff_t row,
                                         ptrdiff_t column, int32_t K, int32_t n, int32_t width, int32_t count,
                                         float *to)
{
    for (int32_t t = 0; t < width; t++)
        to[t] =
            j->bias->data != NULL && t < count ? ((const float *)j->bias->data)[(n + t) * j->bias->strides[0]] : 0.0f;
    to += width;
    y += n * column;
    if (row == 1 && column != 1) {
        const int32_t columns = count < width ? count : width;
        nnrti_cpu_transpose((const uint32_t *)(const void *)y, column, (uint32_t *)(void *)to, width, columns, K);
        for (int32_t k = 0; k < K && columns < width; k++)
            memset(to + (ptrdiff_t)k * width + columns, 0, (size_t)(width - columns) * sizeof(float));
        return;
    }
    for (int32_t k = 0; k < K; k++, to += width)
        for (int32_t t = 0; t < width; t += NNRTI_LANES) {
            if (column == 1) {
                nnrti_v_store(to + t, nnrti_v_load_part(y + k * row + t, count > t ? count - t : 0));
                continue;
            }
            for (int32_t i = t; i < t + NNRTI_LANES; i++)
                to[i] = i < count ? y[k * row + i * column] : 0.0f;
        }
}

/* Work item of `matmul`: one panel of one matrix of the batch. */
static void NNRTI_CPU(matmul_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(matmul_job) *j = (const NNRTI_CPU(matmul_job) *)arg;
    const nnrti_cpu_matmul *a = j->attr;
    const uint32_t stack = i / (uint32_t)j->panels;
    const int32_t n = (int32_t)(i % (uint32_t)j->panels) * NNRTI_PANEL_VECTORS * NNRTI_LANES;
    const int32_t rank = j->z->rank, M = j->z->dims[rank - 2], N = j->z->dims[rank - 1];
    const int32_t lastX = j->x->rank - 1, lastY = j->y->rank - 1;
    const int32_t K = j->x->dims[lastX - a->transposeA];
    const ptrdiff_t stepX = j->x->strides[lastX - !a->transposeA];
    const float *x = NNRTI_CPU(batch_matrix)(j->x, j->z, stack), *y = NNRTI_CPU(batch_matrix)(j->y, j->z, stack);
    float *z = (float *)(uintptr_t)NNRTI_CPU(batch_matrix)(j->z, j->z, stack);
    float *panel = (float *)nnrti_cpu_scratch(j->call, worker);
    const float **rows = (const float **)(panel + (size_t)(1 + K) * NNRTI_PANEL_VECTORS * NNRTI_LANES);
    float **out = (float **)(uintptr_t)(rows + NNRTI_CPU_MATMUL_ROWS + NNRTI_CPU_MAX_TILE_ROWS - 1);
    NNRTI_CPU(gemm_tile) t;
    t.x = rows;
    t.y = out;
    t.z = NULL;
    t.taps = 1;
    t.k = K;
    t.terms = NULL;
    t.ahead = panel;
    t.stepAhead = 0;
    t.panel = panel;
    t.channel = n;
    t.count = N - n;
    t.sumLow = t.sumHigh = 0;
    (void)nnrti_cpu_activation_bounds(a->activation, &t.low, &t.high);
    NNRTI_CPU(pack_matmul_panel)
    (j, y, j->y->strides[lastY - !a->transposeB], j->y->strides[lastY - a->transposeB], K, n,
     t.count > NNRTI_LANES ? NNRTI_PANEL_VECTORS * NNRTI_LANES : NNRTI_LANES, t.count, panel);
    for (int32_t m = 0; m < M; m += NNRTI_CPU_MATMUL_ROWS) {
        t.rows = M - m < NNRTI_CPU_MATMUL_ROWS ? M - m : NNRTI_CPU_MATMUL_ROWS;
        t.step = t.rows + NNRTI_CPU_MAX_TILE_ROWS - 1;
        for (int32_t r = 0; r < t.step; r++) {
            const int32_t at = m + (r < t.rows ? r : t.rows - 1);
            rows[r] = x + at * stepX;
            out[r] = z + at * j->z->strides[rank - 2];
        }
        NNRTI_CPU(gemm_panel)(&t, t.count > NNRTI_LANES);
        for (int32_t r = 0; r < t.rows && !nnrti_cpu_activation_bounds(a->activation, &t.low, &t.high); r++)
            NNRTI_CPU(activation_row)
        (out[r] + n, out[r] + n,
         t.count < NNRTI_PANEL_VECTORS * NNRTI_LANES ? t.count : NNRTI_PANEL_VECTORS * NNRTI_LANES, a->activation);
    }
}

/* z[..,m,n] = activation(bias[n] + sum over k of x[..,m,k] * y[..,k,n]). */
static NNRT_ReturnCode NNRTI_CPU(matmul)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(matmul_job) j;
    double count = 1;
    uint32_t stacks = 1;
    j.attr = (const nnrti_cpu_matmul *)attr;
    j.x = &args[0];
    j.y = &args[1];
    j.bias = &args[2];
    j.z = &args[3];
    j.call = call;
    j.panels = (j.z->dims[j.z->rank - 1] + NNRTI_PANEL_VECTORS * NNRTI_LANES - 1) / (NNRTI_PANEL_VECTORS * NNRTI_LANES);
    for (int32_t k = 0; k < j.z->rank; k++) {
        count *= j.z->dims[k];
        stacks *= k < j.z->rank - 2 ? (uint32_t)j.z->dims[k] : 1;
    }
    if (count > 0)
        nnrti_cpu_parallel_for(call, count * j.x->dims[j.x->rank - 1 - j.attr->transposeA], stacks * (uint32_t)j.panels,
                               NNRTI_CPU(matmul_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>depthwise */

/* Depthwise convolution and pooling, channels last: SIMD lanes are channels, a work item is a row of y, or a block
   of its channels. Depthwise kernels 3 and 5 taps wide of stride 1 or 2, and 7 taps wide of stride 1, use strips: 8 pixels of a
   row at once, so that each column of x is loaded once and used by all pixels whose window contains it. Invariant: taps are added in
   the order of the reference device; taps outside x are skipped, so that Inf weights do no harm there. Other windows
   go pixel by pixel. The fused pointwise-depthwise step is here, too. Pools with more than two spatial axes are
   channels first: SIMD lanes are pixels of the last axis. */

/* Arguments of a depthwise convolution or 2-D pool. */
typedef struct NNRTI_CPU(window_job) {
    const nnrti_cpu_window *attr;
    const nnrt_view *x, *packed, *y;
    float low, high, begin; /* bounds of the activation; initial value of a pool */
    int32_t rows, blocks;   /* of a work item; channel blocks */
} NNRTI_CPU(window_job);

/* `count` channels of a pixel, from channel `from` on, and its taps inside x: first to last - 1 of the height, begin
   to end - 1 of the width. at: offset of tap 0,0 in x, which may be outside. cells: the number that an average divides by. */
typedef struct NNRTI_CPU(taps) {
    int32_t first, last, begin, end, from, count, cells;
    ptrdiff_t at;
} NNRTI_CPU(taps);

/* Depthwise convolution of one pixel, any window: `wide` vectors of channels, whose additions do not wait for each other.
   Vectors before the last one are whole. */
NNRTI_CPU_INLINE void NNRTI_CPU(depthwise_pixel)(const NNRTI_CPU(window_job) * j, const NNRTI_CPU(taps) * m, float *y,
                                                 const float *packed, const int32_t wide)
{
    const nnrti_cpu_window *a = j->attr;
    const ptrdiff_t padded = j->packed->dims[1], step = a->dilation[1] * j->x->strides[2];
    const int32_t last = (wide - 1) * NNRTI_LANES, left = m->count - last;
    nnrti_v sum[NNRTI_CPU_POOL_UNROLL];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        sum[v] = nnrti_v_load(packed + v * NNRTI_LANES);
    for (int32_t i = m->first; i < m->last; i++) {
        const float *from =
            (const float *)j->x->data + m->at + i * a->dilation[0] * j->x->strides[1] + m->begin * step;
        const float *weight = packed + padded * (1 + i * a->window[1] + m->begin);
        for (int32_t k = m->begin; k < m->end; k++, from += step, weight += padded)
            NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < wide; v++) {
            const int32_t c = v * NNRTI_LANES;
            sum[v] = nnrti_v_fma(c < last ? nnrti_v_load(from + c) : nnrti_v_load_part(from + c, left),
                                 nnrti_v_load(weight + c), sum[v]);
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        nnrti_v_store_part(y + v * NNRTI_LANES,
                           nnrti_v_min(nnrti_v_all(j->high), nnrti_v_max(nnrti_v_all(j->low), sum[v])),
                           m->count - v * NNRTI_LANES);
}

/* A strip: some pixels of a row of y whose window has no column dilation: each column of x is loaded once, and the
   pixels use it in the order of their taps. x: the first used tap of the first pixel, which may be outside; packed:
   its weight; the weights of the next tap are `padded` floats behind. */
typedef struct NNRTI_CPU(strip) {
    const float *x, *bias, *packed;
    float *y;
    ptrdiff_t stepX, down, stepY, padded; /* strides to the next used column and row of x, and to the next pixel of y */
    int32_t channels, rows, count;        /* rows: used rows of the window; count: pixels */
    int32_t begin, end;                   /* columns, counted from x, that are inside x and that the pixels read */
    float low, high;
} NNRTI_CPU(strip);
#define NNRTI_CPU_STRIP_PIXELS 8

/* Loads or stores channels of a pixel of which `left` remain: whole vectors, if partial ones are slower (a strip
   then has at least one vector of channels); else partial ones. */
#if NNRTI_CPU_LEVEL == 4
#define NNRTI_CPU_STRIP_WHOLE false
#else
#define NNRTI_CPU_STRIP_WHOLE true
#endif
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(strip_load)(const float *x, int32_t left)
{
    return NNRTI_CPU_STRIP_WHOLE ? nnrti_v_load(x) : nnrti_v_load_part(x, left);
}
NNRTI_CPU_INLINE void NNRTI_CPU(strip_store)(float *y, nnrti_v v, int32_t left)
{
    if (NNRTI_CPU_STRIP_WHOLE)
        nnrti_v_store(y, v);
    else
        nnrti_v_store_part(y, v, left);
}

/* A vector of channels of a strip. edge: the strip has fewer pixels or columns than a full one. */
NNRTI_CPU_INLINE void NNRTI_CPU(strip_vector)(const NNRTI_CPU(strip) * s, int32_t c, const int32_t width,
                                              const int32_t stride, const bool edge)
{
    const float *x = s->x + c, *packed = s->packed + c;
    const nnrti_v low = nnrti_v_all(s->low), high = nnrti_v_all(s->high);
    nnrti_v sum[NNRTI_CPU_STRIP_PIXELS];
    NNRTI_CPU_UNROLL
    for (int32_t t = 0; t < NNRTI_CPU_STRIP_PIXELS; t++)
        sum[t] = nnrti_v_load(s->bias + c);
    for (int32_t i = 0; i < s->rows; i++, x += s->down) {
        nnrti_v weight[7];
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < width; k++, packed += s->padded)
            weight[k] = nnrti_v_load(packed);
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < (NNRTI_CPU_STRIP_PIXELS - 1) * stride + width; k++) {
            nnrti_v cell;
            if (edge && k < width && k < s->begin)
                continue;
            if (edge && k >= s->end)
                break;
            cell = NNRTI_CPU(strip_load)(x + k * s->stepX, s->channels - c);
            NNRTI_CPU_UNROLL
            for (int32_t t = 0; t < NNRTI_CPU_STRIP_PIXELS; t++)
                if (k >= t * stride && k < t * stride + width)
                    sum[t] = nnrti_v_fma(cell, weight[k - t * stride], sum[t]);
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t t = 0; t < NNRTI_CPU_STRIP_PIXELS; t++) {
        if (edge && t >= s->count)
            break;
        NNRTI_CPU(strip_store)
        (s->y + t * s->stepY + c, nnrti_v_min(high, nnrti_v_max(low, sum[t])), s->channels - c);
    }
}

/* All channels of a strip; the copy lets the compiler assume that stores do not change it. With whole vectors, the
   last one starts early enough to end with the last channel, so some channels are computed twice. */
#define NNRTI_CPU_STRIP(width, stride, edge)                                                                           \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(strip_##width##_##stride##_##edge)(const NNRTI_CPU(strip) * strip)        \
    {                                                                                                                  \
        const NNRTI_CPU(strip) s = *strip;                                                                             \
        for (int32_t c = 0; c < s.channels; c += NNRTI_LANES) {                                                        \
            if (NNRTI_CPU_STRIP_WHOLE && c > s.channels - NNRTI_LANES)                                                 \
                c = s.channels - NNRTI_LANES;                                                                          \
            NNRTI_CPU(strip_vector)(&s, c, width, stride, edge);                                                       \
        }                                                                                                              \
    }
NNRTI_CPU_STRIP(3, 1, 0)
NNRTI_CPU_STRIP(3, 1, 1)
NNRTI_CPU_STRIP(3, 2, 0)
NNRTI_CPU_STRIP(3, 2, 1)
NNRTI_CPU_STRIP(5, 1, 1)
NNRTI_CPU_STRIP(5, 2, 1)
NNRTI_CPU_STRIP(7, 1, 1)

/* A strip with fewer channels than lanes: runs on padded copies of its input and output. */
#define NNRTI_CPU_FEW_ROWS 5
static void NNRTI_CPU(strip_few)(const NNRTI_CPU(strip) * strip, void (*run)(const NNRTI_CPU(strip) *))
{
    float cells[NNRTI_CPU_FEW_ROWS][(NNRTI_CPU_STRIP_PIXELS - 1) * 2 + 7][NNRTI_LANES];
    float pixels[NNRTI_CPU_STRIP_PIXELS][NNRTI_LANES];
    const size_t bytes = (size_t)strip->channels * sizeof(float);
    NNRTI_CPU(strip) s = *strip;
    for (int32_t i = 0; i < s.rows; i++)
        for (int32_t k = s.begin; k < s.end; k++) {
            nnrti_v_store(cells[i][k], nnrti_v_all(0.0f));
            nnrti_cpu_copy_small(cells[i][k], strip->x + i * strip->down + k * strip->stepX, bytes);
        }
    s.x = cells[0][0];
    s.y = pixels[0];
    s.stepX = s.stepY = s.channels = NNRTI_LANES;
    s.down = (ptrdiff_t)(sizeof(cells[0]) / sizeof(float));
    run(&s);
    for (int32_t t = 0; t < s.count; t++)
        nnrti_cpu_copy_small(strip->y + t * strip->stepY, pixels[t], bytes);
}

/* Some channels of a row of y by strips; false: the window has none. at: offset of tap 0,0 of its first pixel. */
static bool NNRTI_CPU(strip_row)(const NNRTI_CPU(window_job) * j, const NNRTI_CPU(taps) * m, ptrdiff_t at, float *y)
{
    const nnrti_cpu_window *a = j->attr;
    const int32_t width = a->window[1], stride = a->stride[1], columns = j->x->dims[2], pixels = j->y->dims[2];
    const bool few = NNRTI_CPU_STRIP_WHOLE && m->count < NNRTI_LANES;
    const int32_t most = pixels > 2 * NNRTI_CPU_STRIP_PIXELS ? NNRTI_CPU_STRIP_PIXELS /* at most two lengths per row */
                         : pixels > NNRTI_CPU_STRIP_PIXELS   ? (pixels + 1) / 2
                                                             : pixels;
    NNRTI_CPU(strip) s;
    if ((width != 3 && width != 5 && (width != 7 || stride != 1)) || (stride != 1 && stride != 2) || a->dilation[1] != 1 || a->pad[1] > width ||
        (few && a->window[0] > NNRTI_CPU_FEW_ROWS))
        return false;
    s.padded = j->packed->dims[1];
    s.bias = (const float *)j->packed->data + m->from;
    s.packed = s.bias + (1 + m->first * width) * s.padded;
    s.stepX = j->x->strides[2];
    s.down = a->dilation[0] * j->x->strides[1];
    s.stepY = j->y->strides[2];
    s.channels = m->count;
    s.rows = m->last - m->first;
    s.low = j->low;
    s.high = j->high;
    at += m->first * s.down;
    for (int32_t q = 0; q < pixels; q += most) {
        const int64_t left = (int64_t)q * stride - a->pad[1], right = columns - left;
        int32_t needed;
        void (*run)(const NNRTI_CPU(strip) *);
        bool edge;
        s.count = pixels - q < most ? pixels - q : most;
        needed = (s.count - 1) * stride + width;
        s.x = (const float *)j->x->data + (at + (ptrdiff_t)left * s.stepX);
        s.y = y + q * s.stepY;
        s.begin = left < 0 ? (int32_t)-left : 0;
        s.end = right < needed ? (int32_t)right : needed;
        edge = s.begin > 0 || s.end < (NNRTI_CPU_STRIP_PIXELS - 1) * stride + width;
        if (width == 3 && stride == 1)
            run = edge ? NNRTI_CPU(strip_3_1_1) : NNRTI_CPU(strip_3_1_0);
        else if (width == 3)
            run = edge ? NNRTI_CPU(strip_3_2_1) : NNRTI_CPU(strip_3_2_0);
        else if (width == 5)
            run = stride == 1 ? NNRTI_CPU(strip_5_1_1) : NNRTI_CPU(strip_5_2_1);
        else
            run = NNRTI_CPU(strip_7_1_1);
        if (few)
            NNRTI_CPU(strip_few)(&s, run);
        else
            run(&s);
    }
    return true;
}

/* Pooling: the largest tap (NaN if one is NaN) or the average, of `wide` vectors of channels of some pixels of a
   row; m describes the first pixel. */
NNRTI_CPU_INLINE void NNRTI_CPU(pool_pixels)(const NNRTI_CPU(window_job) * j, const NNRTI_CPU(taps) * m, float *y,
                                             const bool largest, const int32_t pixels, const int32_t wide)
{
    const nnrti_v low = nnrti_v_all(j->low), high = nnrti_v_all(j->high);
    const nnrti_v cells = nnrti_v_all((float)m->cells);
    const ptrdiff_t step = j->x->strides[2], next = j->attr->stride[1] * step;
    const int32_t last = (wide - 1) * NNRTI_LANES, left = m->count - last; /* vectors before the last one are whole */
    const int32_t end = m->end;
    nnrti_v result[NNRTI_CPU_POOL_UNROLL];
    NNRTI_CPU_UNROLL
    for (int32_t t = 0; t < pixels * wide; t++)
        result[t] = nnrti_v_all(j->begin);
    for (int32_t i = m->first; i < m->last; i++) {
        const float *from = (const float *)j->x->data + m->at + i * j->x->strides[1] + m->begin * step;
        for (int32_t k = m->begin; k < end; k++, from += step)
            NNRTI_CPU_UNROLL
        for (int32_t t = 0; t < pixels * wide; t++) {
            const int32_t c = t % wide * NNRTI_LANES;
            const float *const x = from + t / wide * next + c;
            const nnrti_v cell = c < last ? nnrti_v_load(x) : nnrti_v_load_part(x, left);
            result[t] = largest ? nnrti_v_max_nan(result[t], cell) : (nnrti_v)(result[t] + cell);
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t t = 0; t < pixels * wide; t++) {
        const int32_t c = t % wide * NNRTI_LANES;
        if (!largest)
            result[t] = result[t] / cells;
        nnrti_v_store_part(y + t / wide * j->y->strides[2] + c, nnrti_v_min(high, nnrti_v_max(low, result[t])),
                           m->count - c);
    }
}

/* Channels from to to - 1 of row `unit` of y: depthwise convolution or pool. */
NNRTI_CPU_INLINE void NNRTI_CPU(window_row)(const NNRTI_CPU(window_job) * j, int32_t unit, int32_t from, int32_t to,
                                            const bool depthwise, const bool largest)
{
    const nnrti_cpu_window *a = j->attr;
    const nnrt_view *x = j->x, *y = j->y;
    const int32_t n = unit / y->dims[1], p = unit % y->dims[1];
    const int64_t top = (int64_t)p * a->stride[0] - a->pad[0];
    const ptrdiff_t at = n * x->strides[0] + (ptrdiff_t)top * x->strides[1] + from;
    float *const row = (float *)y->data + n * y->strides[0] + p * y->strides[1] + from;
    NNRTI_CPU(taps) m;
    float low, high;
    m.from = from;
    m.count = to - from;
    nnrti_cpu_valid_range(top, a->dilation[0], a->window[0], x->dims[1], &m.first, &m.last);
    if (!depthwise || !NNRTI_CPU(strip_row)(j, &m, at, row))
        for (int32_t q = 0, pixels; q < y->dims[2]; q += pixels) {
            const int64_t left = (int64_t)q * a->stride[1] - a->pad[1];
            const int64_t last = left + (NNRTI_CPU_POOL_UNROLL - 1) * (int64_t)a->stride[1] + a->window[1] - 1;
            float *pixel = row + q * y->strides[2];
            nnrti_cpu_valid_range(left, a->dilation[1], a->window[1], x->dims[2], &m.begin, &m.end);
            m.at = at + (ptrdiff_t)left * x->strides[2];
            m.count = to - from;
            m.cells = (a->padded ? nnrti_cpu_padded_cells(a, 0, top, x->dims[1]) : m.last - m.first) *
                      (a->padded ? nnrti_cpu_padded_cells(a, 1, left, x->dims[2]) : m.end - m.begin);
            pixels = depthwise || left < 0 || last >= x->dims[2] || y->dims[2] - q < NNRTI_CPU_POOL_UNROLL ||
                             m.count > (NNRTI_CPU_POOL_UNROLL - 1) * NNRTI_LANES
                         ? 1
                         : NNRTI_CPU_POOL_UNROLL;
            for (int32_t c = 0, some; c < to - from; c += some, m.at += some, m.count -= some) {
                some = NNRTI_LANES;
                if (depthwise && m.count > (NNRTI_CPU_POOL_UNROLL - 1) * NNRTI_LANES) {
                    NNRTI_CPU(depthwise_pixel)
                    (j, &m, pixel + c, (const float *)j->packed->data + (from + c), NNRTI_CPU_POOL_UNROLL);
                    some = NNRTI_CPU_POOL_UNROLL * NNRTI_LANES;
                } else if (depthwise && m.count > NNRTI_LANES) {
                    NNRTI_CPU(depthwise_pixel)(j, &m, pixel + c, (const float *)j->packed->data + (from + c), 2);
                    some = 2 * NNRTI_LANES;
                } else if (depthwise) {
                    NNRTI_CPU(depthwise_pixel)(j, &m, pixel + c, (const float *)j->packed->data + (from + c), 1);
                } else if (pixels > 1) {
                    NNRTI_CPU(pool_pixels)(j, &m, pixel + c, largest, NNRTI_CPU_POOL_UNROLL, 1);
                } else if (m.count > (NNRTI_CPU_POOL_UNROLL - 1) * NNRTI_LANES) {
                    NNRTI_CPU(pool_pixels)(j, &m, pixel + c, largest, 1, NNRTI_CPU_POOL_UNROLL);
                    some = NNRTI_CPU_POOL_UNROLL * NNRTI_LANES;
                } else {
                    NNRTI_CPU(pool_pixels)(j, &m, pixel + c, largest, 1, 1);
                }
            }
        }
    for (int32_t q = 0; q < y->dims[2] && !nnrti_cpu_activation_bounds(a->activation, &low, &high); q++)
        NNRTI_CPU(activation_row)(row + q * y->strides[2], row + q * y->strides[2], to - from, a->activation);
}

/* Work item: `rows` rows of y from group unit / blocks on, channels of block unit % blocks. */
NNRTI_CPU_INLINE void NNRTI_CPU(window_rows)(const NNRTI_CPU(window_job) * j, uint32_t unit, const bool depthwise,
                                             const bool largest)
{
    const int32_t C = j->y->dims[3], rows = j->y->dims[0] * j->y->dims[1];
    int32_t from = 0, to = C, first = (int32_t)unit * j->rows, last;
    if (j->blocks > 1) {
        const int32_t vectors = (C + NNRTI_LANES - 1) / NNRTI_LANES, block = (int32_t)unit % j->blocks;
        from = (int32_t)((int64_t)vectors * block / j->blocks) * NNRTI_LANES;
        to = (int32_t)((int64_t)vectors * (block + 1) / j->blocks) * NNRTI_LANES;
        to = to < C ? to : C;
        first = (int32_t)unit / j->blocks * j->rows;
    }
    last = rows - first < j->rows ? rows : first + j->rows;
    for (int32_t r = first; r < last; r++)
        NNRTI_CPU(window_row)(j, r, from, to, depthwise, largest);
}

static void NNRTI_CPU(depthwise_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(window_rows)((const NNRTI_CPU(window_job) *)arg, unit, true, false);
}

static void NNRTI_CPU(max_pool_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(window_rows)((const NNRTI_CPU(window_job) *)arg, unit, false, true);
}

static void NNRTI_CPU(average_pool_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(window_rows)((const NNRTI_CPU(window_job) *)arg, unit, false, false);
}

/* Runs `depthwise` or a pool; begin: the initial value of a pool. */
static NNRT_ReturnCode NNRTI_CPU(run_window)(const void *attr, const nnrt_view *x, const nnrt_view *packed,
                                             nnrt_view *y, nnrt_call *call, float begin,
                                             void (*task)(void *arg, uint32_t i, uint32_t worker))
{
    const int32_t rows = y->dims[0] * y->dims[1];
    const int32_t workers = call != NULL && call->parallel != NULL ? (int32_t)call->parallel->workers : 1;
    NNRTI_CPU(window_job) j;
    j.begin = begin;
    j.attr = (const nnrti_cpu_window *)attr;
    j.x = x;
    j.packed = packed;
    j.y = y;
    (void)nnrti_cpu_activation_bounds(j.attr->activation, &j.low, &j.high);
    j.blocks = nnrti_cpu_channel_blocks(j.attr, x, y, NNRTI_LANES);
    j.rows = j.blocks > 1 && rows > workers ? (int32_t)nnrti_cpu_div_up(rows, workers) : 1;
    nnrti_cpu_parallel_for(
        call, 3.0 * y->dims[0] * y->dims[1] * y->dims[2] * y->dims[3] * j.attr->window[0] * j.attr->window[1],
        (uint32_t)(nnrti_cpu_div_up(rows, j.rows) * j.blocks), task, &j);
    return NNRT_SUCCESS;
}

/* y[n,p,q,c] = activation(bias[c] + sum over taps of x[n,..,c] * weight[..,c]). */
static NNRT_ReturnCode NNRTI_CPU(depthwise)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_window)(attr, &args[0], &args[1], &args[2], call, 0, NNRTI_CPU(depthwise_task));
}

/* Arguments of a fused pointwise - depthwise - pointwise convolution. */
typedef struct NNRTI_CPU(fused_depthwise_job) {
    const nnrti_cpu_fused_depthwise *attr;
    const nnrt_view *args;
    const nnrt_call *call;
    nnrt_view none; /* the absent residual of the first GEMM */
    NNRTI_CPU(gemm_job) first, last;
    NNRTI_CPU(window_job) middle;
} NNRTI_CPU(fused_depthwise_job);

/* Rows `from` to from + count - 1 of image n of v, as an image. */
static nnrt_view NNRTI_CPU(rows_of)(const nnrt_view *v, int32_t n, int32_t from, int32_t count)
{
    nnrt_view rows = *v;
    if (v->data != NULL)
        rows.data = (float *)v->data + (n * v->strides[0] + from * v->strides[1]);
    rows.dims[0] = 1;
    rows.dims[1] = count;
    return rows;
}

/* Scratch viewed as an image of rows; extent: rows, columns, channels. */
static nnrt_view NNRTI_CPU(rows_at)(float *data, int32_t count, const int32_t *extent)
{
    nnrt_view rows;
    memset(&rows, 0, sizeof(rows));
    rows.data = data;
    rows.rank = 4;
    rows.dims[0] = 1;
    rows.dims[1] = count;
    rows.dims[2] = extent[1];
    rows.dims[3] = extent[2];
    rows.strides[3] = 1;
    rows.strides[2] = extent[2];
    rows.strides[1] = rows.strides[0] = (ptrdiff_t)extent[1] * extent[2];
    return rows;
}

/* Sets up the GEMM of a pointwise convolution. */
static void NNRTI_CPU(pointwise_init)(NNRTI_CPU(gemm_job) * j, const nnrti_cpu_gemm *attr, const nnrt_view *packed,
                                      int32_t channels, const nnrt_call *call)
{
    j->attr = attr;
    j->packed = &packed[0];
    j->last = &packed[1];
    j->call = call;
    j->panels = (int32_t)nnrti_cpu_div_up(channels, NNRTI_PANEL_VECTORS * NNRTI_LANES);
    j->bounds = nnrti_cpu_activation_bounds(attr->conv.activation, &j->low, &j->high);
    (void)nnrti_cpu_activation_bounds(attr->sum, &j->sumLow, &j->sumHigh);
}

/* Runs a pointwise convolution of all pixels of y on this thread. */
static void NNRTI_CPU(run_pointwise)(const NNRTI_CPU(gemm_job) * link, const nnrt_view *x, const nnrt_view *z,
                                     const nnrt_view *y, uint32_t worker)
{
    NNRTI_CPU(gemm_job) j = *link;
    uint32_t pieces;
    j.x = x;
    j.z = z;
    j.y = y;
    j.pixels = (int64_t)y->dims[1] * y->dims[2];
    pieces = (uint32_t)nnrti_cpu_div_up(j.pixels, j.attr->rows);
    for (uint32_t i = 0; i < pieces; i++)
        NNRTI_CPU(gemm_task)(&j, i, worker);
}

/* Runs a depthwise convolution of all rows of y on this thread. */
static void NNRTI_CPU(run_depthwise)(NNRTI_CPU(window_job) * j)
{
    j->rows = j->y->dims[0] * j->y->dims[1];
    j->blocks = nnrti_cpu_channel_blocks(j->attr, j->x, j->y, NNRTI_LANES);
    for (int32_t b = 0; b < j->blocks; b++)
        NNRTI_CPU(window_rows)(j, (uint32_t)b, true, false);
}

/* Work item of `fused_depthwise`: a part of the rows of an image. Input rows of the depthwise convolution that the
   previous iteration has computed are moved to the front of the buffer. */
static void NNRTI_CPU(fused_depthwise_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(fused_depthwise_job) *c = (const NNRTI_CPU(fused_depthwise_job) *)arg;
    const nnrti_cpu_fused_depthwise *a = c->attr;
    const nnrt_view *x = &c->args[0], *z = &c->args[1];
    const nnrt_view *y = &c->args[3 + (a->first.rows > 0 ? 2 : 0) + (a->last.rows > 0 ? 2 : 0)];
    const nnrti_cpu_window *m = &a->middle;
    const int32_t n = (int32_t)i / a->parts, part = (int32_t)i % a->parts;
    const int32_t to = (int32_t)((int64_t)a->out[0] * (part + 1) / a->parts);
    const size_t row = (size_t)a->in[1] * (size_t)a->in[2];
    float *const cells = (float *)(void *)((uint8_t *)nnrti_cpu_scratch(c->call, worker) + a->lists);
    float *const sums = cells + a->cells;
    int32_t begin = 0, end = 0; /* rows of the depthwise input that the buffer holds */
    for (int32_t p = (int32_t)((int64_t)a->out[0] * part / a->parts), count; p < to; p += count) {
        int32_t first, last, lowest, highest;
        int64_t top = (int64_t)p * m->stride[0] - m->pad[0], bottom;
        nnrti_cpu_window here = *m;
        NNRTI_CPU(window_job) j = c->middle;
        nnrt_view from, result;
        count = to - p < a->lines ? to - p : a->lines;
        bottom = top + (int64_t)(count - 1) * m->stride[0] + (int64_t)(m->window[0] - 1) * m->dilation[0] + 1;
        lowest = top < 0 ? 0 : top < a->in[0] ? (int32_t)top : a->in[0];
        highest = bottom < lowest ? lowest : bottom < a->in[0] ? (int32_t)bottom : a->in[0];
        if (a->first.rows > 0) {
            first = end > lowest ? end : lowest;
            if (end > lowest)
                memmove(cells, cells + (size_t)(lowest - begin) * row, (size_t)(end - lowest) * row * sizeof(float));
            last = highest - first;
            from = NNRTI_CPU(rows_of)(x, n, first, last);
            result = NNRTI_CPU(rows_at)(cells + (size_t)(first - lowest) * row, last, a->in);
            if (last > 0)
                NNRTI_CPU(run_pointwise)(&c->first, &from, &c->none, &result, worker);
            begin = lowest;
            end = highest;
            from = NNRTI_CPU(rows_at)(cells, highest - lowest, a->in);
        } else {
            from = NNRTI_CPU(rows_of)(x, n, lowest, highest - lowest);
        }
        result = NNRTI_CPU(rows_of)(y, n, p, count);
        here.pad[0] = (int32_t)(lowest - top);
        j.attr = &here;
        j.x = &from;
        if (a->last.rows > 0) {
            nnrt_view sum = NNRTI_CPU(rows_at)(sums, count, a->out), added = NNRTI_CPU(rows_of)(z, n, p, count);
            j.y = &sum;
            NNRTI_CPU(run_depthwise)(&j);
            NNRTI_CPU(run_pointwise)(&c->last, &sum, &added, &result, worker);
        } else {
            j.y = &result;
            NNRTI_CPU(run_depthwise)(&j);
        }
    }
}

/* y = pointwise(depthwise(pointwise(x))), a few rows at a time; either pointwise convolution may be missing. */
static NNRT_ReturnCode NNRTI_CPU(fused_depthwise)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_fused_depthwise *a = (const nnrti_cpu_fused_depthwise *)attr;
    const double pixels = (double)args[0].dims[0] * a->out[0] * a->out[1];
    const nnrt_view *packed = &args[3];
    NNRTI_CPU(fused_depthwise_job) c;
    double work = 3.0 * pixels * a->out[2] * a->middle.window[0] * a->middle.window[1];
    c.attr = a;
    c.args = args;
    c.call = call;
    c.none = args[0];
    c.none.data = NULL;
    c.middle.begin = 0;
    c.middle.packed = &args[2];
    (void)nnrti_cpu_activation_bounds(a->middle.activation, &c.middle.low, &c.middle.high);
    if (a->first.rows > 0) {
        NNRTI_CPU(pointwise_init)(&c.first, &a->first, packed, a->in[2], call);
        work += (double)args[0].dims[0] * a->in[0] * a->in[1] * packed->dims[0] * packed->dims[1];
        packed += 2;
    }
    if (a->last.rows > 0) {
        NNRTI_CPU(pointwise_init)(&c.last, &a->last, packed, packed[2].dims[3], call);
        work += pixels * packed->dims[0] * packed->dims[1];
    }
    nnrti_cpu_parallel_for(call, work, (uint32_t)(args[0].dims[0] * a->parts), NNRTI_CPU(fused_depthwise_task), &c);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode NNRTI_CPU(max_pool)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_window)(attr, &args[0], NULL, &args[1], call, -INFINITY, NNRTI_CPU(max_pool_task));
}

static NNRT_ReturnCode NNRTI_CPU(average_pool)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_window)(attr, &args[0], NULL, &args[1], call, 0, NNRTI_CPU(average_pool_task));
}

/* Loads row[start + t], or `rest` where that is outside a row of L floats. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(load_inside)(const float *row, int64_t start, int32_t L, float rest)
{
    const int64_t below = start < 0 ? -start : 0, room = L - start, end = room < NNRTI_LANES ? room : NNRTI_LANES;
    const float *const from = (const float *)((uintptr_t)row + (uintptr_t)(start * (int64_t)sizeof(float)));
    float part[NNRTI_LANES];
    if (below == 0 && end == NNRTI_LANES)
        return nnrti_v_load(from);
    if (below >= end)
        return nnrti_v_all(rest);
#if NNRTI_CPU_LEVEL == 4
    (void)part;
    return _mm512_mask_loadu_ps(nnrti_v_all(rest), (__mmask16)((1u << end) - (1u << below)), from);
#else
    nnrti_v_store(part, nnrti_v_all(rest));
    for (int64_t t = below; t < end; t++)
        part[t] = row[start + t];
    return nnrti_v_load(part);
#endif
}

/* Arguments of a pool with any number of spatial axes. */
typedef struct NNRTI_CPU(pool_nd_job) {
    const nnrti_cpu_pool_nd *attr;
    const nnrt_view *x, *y;
    int64_t rows; /* rows of y per image and channel */
} NNRTI_CPU(pool_nd_job);

/* Elements q to q + n - 1 of a row of y (last axis). at: the window's start on the other axes; first, count: its elements inside x, at
   least one. Rows of x that a window covers are joined before the elements of a row, so that each is read once. */
NNRTI_CPU_INLINE void NNRTI_CPU(pool_nd_run)(const NNRTI_CPU(pool_nd_job) * j, const float *x, float *y, int32_t q, int32_t n,
                                             const int64_t *at, const int32_t *first, const int32_t *count, const bool largest)
{
    const nnrti_cpu_pool_nd *a = j->attr;
    const int32_t last = j->y->rank - 3, L = j->x->dims[2 + last];
    const int64_t step = a->stride[last], dilation = a->dilation[last], end = a->window[last] * dilation;
    const int64_t start = q * step - a->pad[last], used = (n + NNRTI_LANES - 1) / NNRTI_LANES * NNRTI_LANES * step + end;
    const float rest = largest ? -INFINITY : 0.0f;
    float line[NNRTI_CPU_POOL_LINE];
    int32_t cell[NNRT_MAX_RANK] = {0}, axis;
    for (int64_t t = 0; t < used; t += NNRTI_LANES)
        nnrti_v_store(line + t, nnrti_v_all(rest));
    do {
        const float *row = x;
        for (int32_t i = 0; i < last; i++)
            row += (ptrdiff_t)(at[i] + (first[i] + cell[i]) * a->dilation[i]) * j->x->strides[2 + i];
        for (int64_t t = 0; t < used; t += NNRTI_LANES) {
            const nnrti_v v = NNRTI_CPU(load_inside)(row, start + t, L, rest), before = nnrti_v_load(line + t);
            nnrti_v_store(line + t, largest ? nnrti_v_max_nan(before, v) : (nnrti_v)(before + v));
        }
        for (axis = last - 1; axis >= 0 && ++cell[axis] == count[axis]; axis--)
            cell[axis] = 0;
    } while (axis >= 0);
    for (int32_t t = 0; t < n; t += NNRTI_LANES) {
        const float *from = line + t * step;
        nnrti_v result = nnrti_v_all(rest);
        for (int64_t k = 0; k < end; k += dilation) {
            float part[NNRTI_LANES];
            nnrti_v v;
            if (step == 1) {
                v = nnrti_v_load(from + k);
            } else if (step == 2) {
                v = NNRTI_CPU(v_even)(nnrti_v_load(from + k), nnrti_v_load(from + k + NNRTI_LANES));
            } else {
                for (int32_t i = 0; i < NNRTI_LANES; i++)
                    part[i] = from[k + i * step];
                v = nnrti_v_load(part);
            }
            result = largest ? nnrti_v_max_nan(result, v) : (nnrti_v)(result + v);
        }
        nnrti_v_store_part(y + q + t, result, n - t);
    }
}

/* The elements that count of a window that starts at `start` on axis i. */
static float NNRTI_CPU(pool_nd_count)(const NNRTI_CPU(pool_nd_job) * j, int32_t i, int64_t start)
{
    const nnrti_cpu_pool_nd *a = j->attr;
    const int64_t more = a->ends != NULL ? a->pad[i] : 0;
    const nnrt_tap_range cells = nnrt_taps_inside(start + more, a->window[i], a->dilation[i],
                                                  j->x->dims[2 + i] + more + (a->ends != NULL ? a->ends[i] : 0));
    return (float)(cells.end - cells.first);
}

/* Divides a row of sums by the number of elements that count: in most of the row, the same for all. */
static void NNRTI_CPU(divide_row)(const NNRTI_CPU(pool_nd_job) * j, float *y, const int64_t *at)
{
    const nnrti_cpu_pool_nd *a = j->attr;
    const int32_t last = j->y->rank - 3, W = j->y->dims[2 + last], L = j->x->dims[2 + last];
    const int64_t reach = (a->window[last] - 1) * a->dilation[last];
    float others = 1;
    for (int32_t i = 0; i < last; i++)
        others *= NNRTI_CPU(pool_nd_count)(j, i, at[i]);
    for (int32_t q = 0, n; q < W; q += n) {
        const int64_t start = q * a->stride[last] - a->pad[last];
        n = 1;
        if (start >= 0 && start + reach < L) { /* windows that are inside x */
            const int64_t more = (L - 1 - reach - start) / a->stride[last];
            const nnrti_v by = nnrti_v_all(others * (float)a->window[last]);
            n = more < W - q ? (int32_t)more + 1 : W - q;
            n = n < W - q ? n : W - q;
            for (int32_t t = 0; t < n; t += NNRTI_LANES)
                nnrti_v_store_part(y + q + t, nnrti_v_load_part(y + q + t, n - t) / by, n - t);
        } else {
            y[q] = y[q] / (others * NNRTI_CPU(pool_nd_count)(j, last, start));
        }
    }
}

/* All rows of an image and channel. */
NNRTI_CPU_INLINE void NNRTI_CPU(pool_nd_plane)(const NNRTI_CPU(pool_nd_job) * j, uint32_t unit, const bool largest)
{
    const nnrti_cpu_pool_nd *a = j->attr;
    const nnrt_view *x = j->x, *y = j->y;
    const int32_t last = y->rank - 3, C = y->dims[1], n = (int32_t)(unit / (uint32_t)C), c = (int32_t)unit - n * C;
    const float *from = (const float *)x->data + (n * x->strides[0] + c * x->strides[1]);
    float *to = (float *)y->data + (n * y->strides[0] + c * y->strides[1]);
    const int32_t W = y->dims[2 + last], run = nnrti_cpu_pool_run(a, last, NNRTI_LANES);
    for (int64_t r = 0; r < j->rows; r++, to += W) {
        int64_t at[NNRT_MAX_RANK];
        int32_t first[NNRT_MAX_RANK], count[NNRT_MAX_RANK];
        int64_t rest = r;
        for (int32_t i = last - 1; i >= 0; rest /= y->dims[2 + i], i--) {
            at[i] = rest % y->dims[2 + i] * a->stride[i] - a->pad[i];
            nnrti_cpu_valid_range(at[i], a->dilation[i], (int32_t)a->window[i], x->dims[2 + i], &first[i], &count[i]);
            count[i] -= first[i];
        }
        for (int32_t q = 0; q < W; q += run)
            NNRTI_CPU(pool_nd_run)(j, from, to, q, W - q < run ? W - q : run, at, first, count, largest);
        if (!largest)
            NNRTI_CPU(divide_row)(j, to, at);
    }
}

static void NNRTI_CPU(max_pool_nd_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(pool_nd_plane)((const NNRTI_CPU(pool_nd_job) *)arg, unit, true);
}

static void NNRTI_CPU(average_pool_nd_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(pool_nd_plane)((const NNRTI_CPU(pool_nd_job) *)arg, unit, false);
}

static NNRT_ReturnCode NNRTI_CPU(run_pool_nd)(const void *attr, nnrt_view *args, nnrt_call *call,
                                              void (*task)(void *arg, uint32_t i, uint32_t worker))
{
    const nnrt_view *y = &args[1];
    NNRTI_CPU(pool_nd_job) j;
    double work = 3.0 * y->dims[0] * y->dims[1];
    j.attr = (const nnrti_cpu_pool_nd *)attr;
    j.x = &args[0];
    j.y = y;
    j.rows = 1;
    for (int32_t i = 2; i < y->rank; i++) {
        work *= (double)y->dims[i] * (double)j.attr->window[i - 2];
        j.rows *= i + 1 < y->rank ? y->dims[i] : 1;
    }
    nnrti_cpu_parallel_for(call, work, (uint32_t)y->dims[0] * (uint32_t)y->dims[1], task, &j);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode NNRTI_CPU(max_pool_nd)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_pool_nd)(attr, args, call, NNRTI_CPU(max_pool_nd_task));
}

static NNRT_ReturnCode NNRTI_CPU(average_pool_nd)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_pool_nd)(attr, args, call, NNRTI_CPU(average_pool_nd_task));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>elementwise */

/* Elementwise operators: unary functions, binary functions with broadcasting, and per-channel affine functions. One
   function per operator processes a row (X-macro lists NNRTI_CPU_BINARY_FUNCTIONS and NNRTI_CPU_UNARY_FUNCTIONS
   generate them); a walk (nnrt_walk) yields the rows of any strides. Invariant: an element's result does not depend
   on its position in a vector, so partial vectors compute the same bits. POW, SIN and COS go through double, because
   float intermediates lose too many bits; rare arguments fall back to the functions of the reference device. */

/* A vector of a binary function. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(binary_function)(nnrti_v x, nnrti_v y, const nnrti_cpu_function function)
{
    switch (function) {
    case NNRTI_CPU_ADD: return x + y;
    case NNRTI_CPU_SUB: return x - y;
    case NNRTI_CPU_MUL: return x * y;
    case NNRTI_CPU_DIV: return x / y;
    case NNRTI_CPU_MAX: return nnrti_v_max(x, y);
    case NNRTI_CPU_MIN: return nnrti_v_min(x, y);
    case NNRTI_CPU_SQUARED_DIFFERENCE: return (x - y) * (x - y);
    case NNRTI_CPU_MAX_NAN: return NNRTI_CPU_IF_NAN(x, nnrti_v_max(x, y));
    case NNRTI_CPU_MIN_NAN: return NNRTI_CPU_IF_NAN(x, nnrti_v_min(x, y));
    default: return nnrti_v_if_less(x, nnrti_v_all(0.0f), y * x, x); /* PRELU */
    }
}

/* A row of z = function(x, y), clamped; stepX or stepY 0: x or y is one element, broadcast to the row. */
#define NNRTI_CPU_BINARY(name)                                                                                         \
    static void NNRTI_CPU(row_of_##name)(const float *x, ptrdiff_t stepX, const float *y, ptrdiff_t stepY, float *z,   \
                                         int32_t count, float low, float high)                                         \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i += NNRTI_LANES) {                                                             \
            const int32_t left = count - i;                                                                            \
            const nnrti_v a = stepX != 0 ? nnrti_v_load_part(x + i, left) : nnrti_v_all(*x);                           \
            const nnrti_v b = stepY != 0 ? nnrti_v_load_part(y + i, left) : nnrti_v_all(*y);                           \
            const nnrti_v result = NNRTI_CPU(binary_function)(a, b, NNRTI_CPU_##name);                                 \
            nnrti_v_store_part(z + i, nnrti_v_min(nnrti_v_all(high), nnrti_v_max(nnrti_v_all(low), result)), left);    \
        }                                                                                                              \
    }
NNRTI_CPU_BINARY_FUNCTIONS(NNRTI_CPU_BINARY)
#undef NNRTI_CPU_BINARY

/* Powers and trigonometric functions compute in double, NNRTI_CPU_DOUBLE_CHUNK elements at a time. Arguments outside
   the supported range use the functions of the reference device. */
#define NNRTI_CPU_DOUBLE_CHUNK 64
typedef int64_t NNRTI_CPU(longs) __attribute__((vector_size(NNRTI_LANES * 4)));

/* The polynomial p[0] + p[1] * w + .. of `count` coefficients (Horner). */
NNRTI_CPU_INLINE nnrti_d NNRTI_CPU(polynomial)(nnrti_d w, const double *p, const int32_t count)
{
    nnrti_d sum = w * p[count - 1] + p[count - 2];
    NNRTI_CPU_UNROLL
    for (int32_t i = count - 3; i >= 0; i--)
        sum = sum * w + p[i];
    return sum;
}

/* z = x^y = 2^(y log2 x), x = 2^k m, sqrt(1/2) <= m < sqrt(2), ln m = 2 artanh s, s = (m - 1) / (m + 1): the series
   up to s^15, relative error 4e-14, and that of exp up to the power 9, error 1e-11, which is the error of the result
   before its rounding to float. powf for x that is zero, subnormal, Inf or NaN, and for infinite or NaN y. z may be
   x or y. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(row_of_POWER)(const float *x, ptrdiff_t stepX, const float *y, ptrdiff_t stepY,
                                                       float *z, int32_t count, float low, float high)
{
    static const double log_series[] = {1, 1 / 3.0, 1 / 5.0, 1 / 7.0, 1 / 9.0, 1 / 11.0, 1 / 13.0, 1 / 15.0};
    static const double exp_series[] = {1,         1,         1 / 2.0,    1 / 6.0,     1 / 24.0,
                                        1 / 120.0, 1 / 720.0, 1 / 5040.0, 1 / 40320.0, 1 / 362880.0};
    const nnrti_v least = nnrti_v_all(1.17549435e-38f), most = nnrti_v_all(3.4028235e38f);
    const double magic = 6755399441055744.0;      /* 1.5 * 2^52: the sum has an integer in its low bits */
    const nnrti_d zero = {0}, end = zero + 400.0; /* outside, all results are infinite or 0 */
    float base[NNRTI_CPU_DOUBLE_CHUNK], power[NNRTI_CPU_DOUBLE_CHUNK], m[NNRTI_CPU_DOUBLE_CHUNK],
        k[NNRTI_CPU_DOUBLE_CHUNK];
    (void)low;
    (void)high;
    for (int32_t i = 0; i < count; i += NNRTI_CPU_DOUBLE_CHUNK) {
        const int32_t some = count - i < NNRTI_CPU_DOUBLE_CHUNK ? count - i : NNRTI_CPU_DOUBLE_CHUNK;
        for (int32_t t = 0; t < some; t += NNRTI_LANES) {
            const nnrti_v p = stepX != 0 ? nnrti_v_load_part(x + i + t, some - t) : nnrti_v_all(*x);
            const nnrti_v q = stepY != 0 ? nnrti_v_load_part(y + i + t, some - t) : nnrti_v_all(*y);
            const nnrti_v size = (nnrti_v)((nnrti_v_bits)p & INT32_MAX);
            const nnrti_v_bits all = (nnrti_v_bits)nnrti_v_min(nnrti_v_max(size, least), most) + 0x004afb0d;
            nnrti_v_store(base + t, p);
            nnrti_v_store(power + t, q);
            nnrti_v_store(k + t, __builtin_convertvector((all >> 23) - 127, nnrti_v));
            nnrti_v_store(m + t, (nnrti_v)((all & 0x007fffff) + 0x3f3504f3));
        }
        for (int32_t t = 0; t < some; t += NNRTI_LANES / 2) {
            nnrti_d s, n, v, whole;
            NNRTI_CPU(longs) bits;
            NNRTI_CPU(to_double)(m + t, &s);
            NNRTI_CPU(to_double)(k + t, &n);
            NNRTI_CPU(to_double)(power + t, &v);
            s = (s - 1.0) / (s + 1.0);
            v = v * (n + s * NNRTI_CPU(polynomial)(s * s, log_series, 8) * 2.8853900817779268);
            bits = (NNRTI_CPU(longs))(v < end);
            v = (nnrti_d)((bits & (NNRTI_CPU(longs))v) | (~bits & (NNRTI_CPU(longs))end));
            bits = (NNRTI_CPU(longs))(v > -end);
            v = (nnrti_d)((bits & (NNRTI_CPU(longs))v) | (~bits & (NNRTI_CPU(longs))(-end)));
            whole = v + magic;
            n = whole - magic;
            v = NNRTI_CPU(polynomial)((v - n) * 0.69314718055994531, exp_series, 10);
            v = v * (nnrti_d)(((NNRTI_CPU(longs))whole + 1023) << 52);
            NNRTI_CPU(from_double)(&v, m + t);
        }
        for (int32_t t = 0; t < some; t += NNRTI_LANES) { /* negative x: integer y only, else NaN */
            const nnrti_v p = nnrti_v_load(base + t), q = nnrti_v_load(power + t), half = q * nnrti_v_all(0.5f);
            const nnrti_v_bits whole = (nnrti_v_bits)(nnrti_v_to_integer(q, NNRTI_CPU_ROUND) == q);
            const nnrti_v_bits even = (nnrti_v_bits)(nnrti_v_to_integer(half, NNRTI_CPU_ROUND) == half);
            const nnrti_v_bits sign = ~even & (nnrti_v_bits)p & INT32_MIN, bad = ~whole & ((nnrti_v_bits)p >> 31);
            const nnrti_v_bits none = (nnrti_v_bits)nnrti_v_all(NAN);
            const nnrti_v_bits result = (nnrti_v_bits)nnrti_v_load(m + t) ^ sign;
            const nnrti_v size = (nnrti_v)((nnrti_v_bits)p & INT32_MAX), wide = (nnrti_v)((nnrti_v_bits)q & INT32_MAX);
            const nnrti_v_bits far =
                ~((nnrti_v_bits)(size >= least) & (nnrti_v_bits)(size <= most) & (nnrti_v_bits)(wide <= most));
            nnrti_v_store_part(z + i + t, (nnrti_v)((bad & none) | (~bad & result)), some - t);
            nnrti_v_store(k + t, (nnrti_v)far);
        }
        for (int32_t t = 0; t < some; t++) {
            int32_t far;
            memcpy(&far, k + t, sizeof(far));
            if (far != 0)
                z[i + t] = nnrt_powf(base[t], power[t]);
        }
    }
}

/* y = sin(x), cos(x) or tan(x). The remainder of x modulo pi/2 is computed in double, with an error of 2^-66, and rounded
   once; then follow the polynomials of the reference device. |x| from 2^20 on and NaN use its functions. y may be x. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(sin_cos_row)(const float *x, float *y, int32_t count,
                                                      const nnrti_cpu_elementwise *each)
{
    const bool cosine = each->function == NNRTI_CPU_COS, tangent = each->function == NNRTI_CPU_TAN;
    const double magic = 6755399441055744.0;
    const nnrti_v far = nnrti_v_all(1048576.0f), zero = nnrti_v_all(0.0f), one = nnrti_v_all(1.0f);
    float from[NNRTI_CPU_DOUBLE_CHUNK], rest[NNRTI_CPU_DOUBLE_CHUNK], turn[NNRTI_CPU_DOUBLE_CHUNK];
    for (int32_t i = 0; i < count; i += NNRTI_CPU_DOUBLE_CHUNK) {
        const int32_t some = count - i < NNRTI_CPU_DOUBLE_CHUNK ? count - i : NNRTI_CPU_DOUBLE_CHUNK;
        nnrti_v widest = zero;
        for (int32_t t = 0; t < some; t += NNRTI_LANES) {
            const nnrti_v v = nnrti_v_load_part(x + i + t, some - t);
            const nnrti_v size = (nnrti_v)((nnrti_v_bits)v & INT32_MAX);
            nnrti_v_store(from + t, v);
            nnrti_v_store(rest + t, nnrti_v_if_less(size, far, v, zero));
            widest = nnrti_v_max_nan(widest, size);
        }
        for (int32_t t = 0; t < some; t += NNRTI_LANES / 2) {
            nnrti_d v, n;
            NNRTI_CPU(to_double)(rest + t, &v);
            n = v * 0.63661977236758134 + magic;
            n = n - magic;
            v = v - n * 1.57079632673412561417e+00; /* 33 bits of pi/2: the product is exact */
            v = v - n * 6.07710050650619224932e-11;
            NNRTI_CPU(from_double)(&v, rest + t);
            NNRTI_CPU(from_double)(&n, turn + t);
        }
        for (int32_t t = 0; t < some; t += NNRTI_LANES) {
            const nnrti_v r = nnrti_v_load(rest + t), s = r * r, v = nnrti_v_load(from + t);
            const nnrti_v_bits n = __builtin_convertvector(nnrti_v_load(turn + t), nnrti_v_bits) + (cosine ? 1 : 0);
            const nnrti_v_bits odd = -(n & 1);
            nnrti_v a = nnrti_v_fma(s, nnrti_v_all(-0.000195172353f), nnrti_v_all(0.008332178f));
            nnrti_v b = nnrti_v_fma(s, nnrti_v_all(2.44383791e-05f), nnrti_v_all(-0.00138873665f));
            a = nnrti_v_fma(s, a, nnrti_v_all(-0.166666552f));
            a = nnrti_v_fma(r * s, a, r);
            b = nnrti_v_fma(s, b, nnrti_v_all(0.0416666456f));
            b = one - (nnrti_v_all(0.5f) * s - s * s * b);
            if (tangent) /* of odd n, -cos / sin */
                a = (nnrti_v)((odd & (nnrti_v_bits)b) | (~odd & (nnrti_v_bits)a)) /
                    (nnrti_v)((odd & ((nnrti_v_bits)a ^ INT32_MIN)) | (~odd & (nnrti_v_bits)b));
            else
                a = (nnrti_v)(((odd & (nnrti_v_bits)b) | (~odd & (nnrti_v_bits)a)) ^ (n & 2) << 30);
            if (!cosine) /* sin(-0) is -0 */
                a = nnrti_v_if_less((nnrti_v)((nnrti_v_bits)v & INT32_MAX), nnrti_v_all(0.000244140625f), v, a);
            nnrti_v_store_part(y + i + t, a, some - t);
        }
        if (nnrti_v_largest(widest) < 1048576.0f)
            continue;
        for (int32_t t = 0; t < some; t++)
            if (!((from[t] < 0 ? -from[t] : from[t]) < 1048576.0f))
                y[i + t] = tangent  ? nnrt_sinf(from[t]) / nnrt_cosf(from[t])
                           : cosine ? nnrt_cosf(from[t])
                                    : nnrt_sinf(from[t]);
    }
}

/* Arguments of an elementwise kernel. */
typedef struct NNRTI_CPU(elementwise_job) {
    const nnrti_cpu_elementwise *attr;
    const float *x, *y;
    float *z;
    nnrt_walk walk;
    uint32_t parts;
} NNRTI_CPU(elementwise_job);

/* Rows of a walk of a binary function; elements one by one if a row is neither dense nor broadcast. */
static void NNRTI_CPU(binary_walk)(const NNRTI_CPU(elementwise_job) * j, nnrt_walk *w)
{
#define NNRTI_CPU_BINARY(name) NNRTI_CPU(row_of_##name),
    static void (*const rows[])(const float *x, ptrdiff_t stepX, const float *y, ptrdiff_t stepY, float *z,
                                int32_t count, float low,
                                float high) = {NNRTI_CPU_BINARY_FUNCTIONS(NNRTI_CPU_BINARY) NNRTI_CPU(row_of_POWER)};
#undef NNRTI_CPU_BINARY
    const nnrti_cpu_elementwise *const a = j->attr;
    float low, high;
    const bool bounds = nnrti_cpu_activation_bounds(a->activation, &low, &high);
    do {
        const bool row = w->row[0] == 1 && (w->row[1] | w->row[2] | 1) == 1;
        for (int32_t i = 0; i < w->count; i += row ? w->count : 1) {
            float *const to = j->z + w->at[0] + i * w->row[0];
            rows[a->function](j->x + w->at[1] + i * w->row[1], row ? w->row[1] : 0, j->y + w->at[2] + i * w->row[2],
                              row ? w->row[2] : 0, to, row ? w->count : 1, low, high);
            if (!bounds)
                NNRTI_CPU(activation_row)(to, to, row ? w->count : 1, a->activation);
        }
    } while (nnrt_walk_next(w));
}

static void NNRTI_CPU(binary_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(elementwise_job) *j = (const NNRTI_CPU(elementwise_job) *)arg;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    NNRTI_CPU(binary_walk)(j, &w);
}

/* z = activation(function(x, y)); x and y are broadcast to z. */
static NNRT_ReturnCode NNRTI_CPU(binary)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(elementwise_job) j;
    double work;
    j.attr = (const nnrti_cpu_elementwise *)attr;
    j.x = (const float *)args[0].data;
    j.y = (const float *)args[1].data;
    j.z = (float *)args[2].data;
    if (!nnrt_walk_first(&j.walk, &args[2], &args[0], &args[1]))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, j.attr->function == NNRTI_CPU_POWER ? 128 : 16, &work);
    if (j.parts > 1)
        nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(binary_part), &j);
    else
        NNRTI_CPU(binary_walk)(&j, &j.walk);
    return NNRT_SUCCESS;
}

static void NNRTI_CPU(unary_walk)(const NNRTI_CPU(elementwise_job) * j, nnrt_walk *w)
{
    void (*const run)(const float *x, float *y, int32_t count, const nnrti_cpu_elementwise *each) =
        j->attr->function >= NNRTI_CPU_SIN ? NNRTI_CPU(sin_cos_row) : NNRTI_CPU(unary_row);
    do {
        const float *from = j->x + w->at[1];
        float *to = j->z + w->at[0];
        if (w->row[0] == 1 && w->row[1] == 1)
            run(from, to, w->count, j->attr);
        else
            for (int32_t i = 0; i < w->count; i++)
                run(from + i * w->row[1], to + i * w->row[0], 1, j->attr);
    } while (nnrt_walk_next(w));
}

static void NNRTI_CPU(unary_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(elementwise_job) *j = (const NNRTI_CPU(elementwise_job) *)arg;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    NNRTI_CPU(unary_walk)(j, &w);
}

/* y = function(x). */
static NNRT_ReturnCode NNRTI_CPU(unary)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(elementwise_job) j;
    double work;
    j.attr = (const nnrti_cpu_elementwise *)attr;
    j.x = (const float *)args[0].data;
    j.y = NULL;
    j.z = (float *)args[1].data;
    if (!nnrt_walk_first(&j.walk, &args[1], &args[0], NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, nnrti_cpu_is_expensive(j.attr) ? 64 : 16, &work);
    if (j.parts > 1)
        nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(unary_part), &j);
    else
        NNRTI_CPU(unary_walk)(&j, &j.walk);
    return NNRT_SUCCESS;
}

/* Arguments of `affine`. */
typedef struct NNRTI_CPU(affine_job) {
    const nnrti_cpu_affine *attr;
    const float *x, *factors;
    float *y;
    nnrt_walk walk;
    uint32_t parts;
} NNRTI_CPU(affine_job);

static void NNRTI_CPU(affine_row)(const NNRTI_CPU(affine_job) * j, const float *x, const float *f, ptrdiff_t step,
                                  float *y, int32_t count)
{
    const float *const factor = f + j->attr->channels, *const offset = factor + j->attr->channels;
    float low, high;
    const bool bounds = nnrti_cpu_activation_bounds(j->attr->activation, &low, &high);
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const int32_t left = count - i;
        const nnrti_v m = step != 0 ? nnrti_v_load_part(f + i, left) : nnrti_v_all(*f);
        const nnrti_v a = step != 0 ? nnrti_v_load_part(factor + i, left) : nnrti_v_all(*factor);
        const nnrti_v b = step != 0 ? nnrti_v_load_part(offset + i, left) : nnrti_v_all(*offset);
        const nnrti_v v = nnrti_v_fma(nnrti_v_load_part(x + i, left) - m, a, b);
        nnrti_v_store_part(y + i, nnrti_v_min(nnrti_v_all(high), nnrti_v_max(nnrti_v_all(low), v)), left);
    }
    if (!bounds)
        NNRTI_CPU(activation_row)(y, y, count, j->attr->activation);
}

static void NNRTI_CPU(affine_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(affine_job) *j = (const NNRTI_CPU(affine_job) *)arg;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        if (w.row[0] == 1 && w.row[1] == 1 && (w.row[2] | 1) == 1)
            NNRTI_CPU(affine_row)(j, j->x + w.at[1], j->factors + w.at[2], w.row[2], j->y + w.at[0], w.count);
        else
            for (int32_t i = 0; i < w.count; i++)
                NNRTI_CPU(affine_row)
        (j, j->x + w.at[1] + i * w.row[1], j->factors + w.at[2] + i * w.row[2], 0, j->y + w.at[0] + i * w.row[0], 1);
    } while (nnrt_walk_next(&w));
}

/* y = activation((x - mean) * factor + offset), per channel. */
static NNRT_ReturnCode NNRTI_CPU(affine)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(affine_job) j;
    double work;
    j.attr = (const nnrti_cpu_affine *)attr;
    j.x = (const float *)args[0].data;
    j.factors = (const float *)args[1].data;
    j.y = (float *)args[2].data;
    if (!nnrt_walk_first(&j.walk, &args[2], &args[0], &args[1]))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 16, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(affine_part), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>integers */

/* Elementwise operators of integers and bool, and predicates of elements of any type, by vectors of as many bytes as a
   vector of floats. All elements of one width share the functions that do not depend on the sign. Results have the bits
   of the reference device: integers wrap modulo 2^n. Division has no SIMD instruction: it divides floating-point numbers
   that hold the integers exactly, and corrects the rounded quotient by the remainder, which is exact, too. */

typedef uint8_t NNRTI_CPU(u8) __attribute__((vector_size(NNRTI_LANES * 4)));
typedef int8_t NNRTI_CPU(s8) __attribute__((vector_size(NNRTI_LANES * 4)));
typedef uint16_t NNRTI_CPU(u16) __attribute__((vector_size(NNRTI_LANES * 4)));
typedef uint32_t NNRTI_CPU(u32) __attribute__((vector_size(NNRTI_LANES * 4)));
typedef int32_t NNRTI_CPU(s32) __attribute__((vector_size(NNRTI_LANES * 4)));
typedef uint64_t NNRTI_CPU(u64) __attribute__((vector_size(NNRTI_LANES * 4)));
typedef int64_t NNRTI_CPU(s64) __attribute__((vector_size(NNRTI_LANES * 4)));

/* A row of z = f(x, y). stepX or stepY 0: one element, broadcast to the row. */
typedef void (*NNRTI_CPU(integer_row))(const void *x, ptrdiff_t stepX, const void *y, ptrdiff_t stepY, void *z,
                                       int32_t count);

/* Loads a vector of the elements i and following of p, `width` bytes each, of which `left` bytes remain; step 0: all are
   the first one. */
NNRTI_CPU_INLINE NNRTI_CPU(u8) NNRTI_CPU(load_integers)(const void *p, ptrdiff_t step, int32_t i, size_t left,
                                                         const int32_t width)
{
    NNRTI_CPU(u8) v = {0};
    uint8_t part[sizeof(v)];
    if (step != 0 && left >= sizeof(v)) {
        memcpy(&v, (const uint8_t *)p + (ptrdiff_t)i * width, sizeof(v));
        return v;
    }
    if (step != 0)
        memcpy(&v, (const uint8_t *)p + (ptrdiff_t)i * width, left);
    else {
        for (size_t t = 0; t < sizeof(v); t += (size_t)width)
            memcpy(part + t, p, (size_t)width);
        memcpy(&v, part, sizeof(v));
    }
    return v;
}

#define NNRTI_CPU_INTEGER_ROW(name, T, width, value)                                                                   \
    static void NNRTI_CPU(name)(const void *x, ptrdiff_t stepX, const void *y, ptrdiff_t stepY, void *z,               \
                                int32_t count)                                                                         \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i += NNRTI_LANES * 4 / width) {                                                 \
            const size_t left = (size_t)(count - i) * width;                                                           \
            const T a = (T)NNRTI_CPU(load_integers)(x, stepX, i, left, width);                                         \
            const T b = (T)NNRTI_CPU(load_integers)(y, stepY, i, left, width);                                         \
            const T v = (T)(value);                                                                                    \
            if (left >= sizeof(v))                                                                                     \
                memcpy((uint8_t *)z + (ptrdiff_t)i * width, &v, sizeof(v));                                            \
            else                                                                                                       \
                memcpy((uint8_t *)z + (ptrdiff_t)i * width, &v, left);                                                 \
            (void)b;                                                                                                   \
        }                                                                                                              \
    }
#define NNRTI_CPU_INTEGER_EXTREME(name, T, S, width)                                                                   \
    NNRTI_CPU_INTEGER_ROW(max_##name, T, width, ((T)((S)a > (S)b) & a) | (~(T)((S)a > (S)b) & b))                      \
    NNRTI_CPU_INTEGER_ROW(min_##name, T, width, ((T)((S)a < (S)b) & a) | (~(T)((S)a < (S)b) & b))
#define NNRTI_CPU_INTEGER_ROWS(U, S, u, s, width)                                                                      \
    NNRTI_CPU_INTEGER_ROW(add_##u, U, width, a + b)                                                                    \
    NNRTI_CPU_INTEGER_ROW(sub_##u, U, width, a - b)                                                                    \
    NNRTI_CPU_INTEGER_ROW(mul_##u, U, width, a *b)                                                                     \
    NNRTI_CPU_INTEGER_ROW(abs_##s, U, width, (a ^ (U)((S)a < 0)) - (U)((S)a < 0))                                      \
    NNRTI_CPU_INTEGER_ROW(neg_##s, U, width, 0 - a)                                                                    \
    NNRTI_CPU_INTEGER_EXTREME(s, U, S, width)
NNRTI_CPU_INTEGER_ROWS(NNRTI_CPU(u8), NNRTI_CPU(s8), u8, s8, 1)
NNRTI_CPU_INTEGER_ROWS(NNRTI_CPU(u32), NNRTI_CPU(s32), u32, s32, 4)
NNRTI_CPU_INTEGER_ROWS(NNRTI_CPU(u64), NNRTI_CPU(s64), u64, s64, 8)
NNRTI_CPU_INTEGER_EXTREME(u8, NNRTI_CPU(u8), NNRTI_CPU(u8), 1)
NNRTI_CPU_INTEGER_ROW(and_u8, NNRTI_CPU(u8), 1, (NNRTI_CPU(u8))((a != 0) & (b != 0)) & 1)
NNRTI_CPU_INTEGER_ROW(or_u8, NNRTI_CPU(u8), 1, (NNRTI_CPU(u8))((a | b) != 0) & 1)
NNRTI_CPU_INTEGER_ROW(xor_u8, NNRTI_CPU(u8), 1, (NNRTI_CPU(u8))((a != 0) ^ (b != 0)) & 1)
#undef NNRTI_CPU_INTEGER_ROWS
#undef NNRTI_CPU_INTEGER_EXTREME
#undef NNRTI_CPU_INTEGER_ROW

/* Division of int32: FLOOR_DIV or, with `rest`, the remainder with the sign of a. a / b in double is off by less than
   2^-21, so its nearest integer n leaves |a - n b| <= |b| / 2, an exact difference; one step corrects n. The low 32 bits
   of the sum of n and 1.5 * 2^52 are n modulo 2^32, as -2^31 / -1 requires. b is not 0. */
NNRTI_CPU_INLINE NNRTI_CPU(s32) NNRTI_CPU(divide_s32)(NNRTI_CPU(s32) x, NNRTI_CPU(s32) y, const bool rest)
{
    const double magic = 6755399441055744.0;
    int32_t a[NNRTI_LANES], b[NNRTI_LANES];
    NNRTI_CPU(u64) low[2];
    memcpy(a, &x, sizeof(x));
    memcpy(b, &y, sizeof(y));
    NNRTI_CPU_UNROLL
    for (int32_t k = 0; k < 2; k++) {
        nnrti_d p, q, n, left;
        NNRTI_CPU(longs) off, sign;
        NNRTI_CPU(integers_to_double)(a + k * (NNRTI_LANES / 2), &p);
        NNRTI_CPU(integers_to_double)(b + k * (NNRTI_LANES / 2), &q);
        n = p / q + magic;
        n = n - magic;
        left = p - n * q;
        sign = rest ? (NNRTI_CPU(longs))(p < 0.0) : (NNRTI_CPU(longs))(q < 0.0);
        off = (NNRTI_CPU(longs))(left != 0.0) & ((NNRTI_CPU(longs))(left < 0.0) ^ sign); /* the remainder's sign is wrong */
        if (rest) { /* += b or -= b, whichever has the sign */
            const NNRTI_CPU(longs) turn = ((NNRTI_CPU(longs))(q < 0.0) ^ sign) & INT64_MIN;
            n = left + (nnrti_d)(off & ((NNRTI_CPU(longs))q ^ turn));
        } else {
            const nnrti_d one = {0};
            n = n - (nnrti_d)(off & (NNRTI_CPU(longs))(one + 1.0));
        }
        low[k] = (NNRTI_CPU(u64))(n + magic) & 0xffffffffu;
        low[k] = low[k] | low[k] << 32; /* in both halves: any byte order */
    }
    return (NNRTI_CPU(s32))NNRTI_CPU(v_even)((nnrti_v)low[0], (nnrti_v)low[1]);
}

/* The same of elements of 8 bits, as floats: their quotient is off by less than 2^-16. */
NNRTI_CPU_INLINE NNRTI_CPU(s32) NNRTI_CPU(divide_small)(NNRTI_CPU(s32) x, NNRTI_CPU(s32) y, const bool rest)
{
    const nnrti_v a = __builtin_convertvector(x, nnrti_v), b = __builtin_convertvector(y, nnrti_v);
    const nnrti_v zero = nnrti_v_all(0.0f), size = (nnrti_v)((nnrti_v_bits)(a / b) & INT32_MAX);
    nnrti_v n;
    if (!rest)
        return __builtin_convertvector(nnrti_v_to_integer(a / b, NNRTI_CPU_FLOOR), NNRTI_CPU(s32));
    n = nnrti_v_to_integer(size, NNRTI_CPU_FLOOR); /* |a / b|, truncated */
    n = nnrti_v_if_less(a, zero, zero - n, n);
    return x - __builtin_convertvector(nnrti_v_if_less(b, zero, zero - n, n), NNRTI_CPU(s32)) * y;
}

#define NNRTI_CPU_DIVIDE_CHUNK 64

/* Rows of division by chunks, widened to int32. int64 elements take this way if all of a chunk fit. */
NNRTI_CPU_INLINE void NNRTI_CPU(divide_integers)(const void *x, ptrdiff_t stepX, const void *y, ptrdiff_t stepY, void *z,
                                            int32_t count, NNRT_DataType type, const bool rest)
{
    int32_t a[NNRTI_CPU_DIVIDE_CHUNK], b[NNRTI_CPU_DIVIDE_CHUNK];
    for (int32_t i = 0; i < count; i += NNRTI_CPU_DIVIDE_CHUNK) {
        const int32_t some = count - i < NNRTI_CPU_DIVIDE_CHUNK ? count - i : NNRTI_CPU_DIVIDE_CHUNK;
        const ptrdiff_t atX = stepX * i, atY = stepY * i;
        uint64_t far = 0;
        for (int32_t t = some; t < NNRTI_CPU_DIVIDE_CHUNK; t++) { /* for whole vectors */
            a[t] = 0;
            b[t] = 1;
        }
        switch (type) {
#define NNRTI_CPU_WIDEN_INTEGERS(name, T)                                                                              \
    case NNRT_DATA_TYPE_##name:                                                                                        \
        for (int32_t t = 0; t < some; t++)                                                                             \
            a[t] = (int32_t)((const T *)x)[atX + t * stepX];                                                           \
        for (int32_t t = 0; t < some; t++)                                                                             \
            b[t] = (int32_t)((const T *)y)[atY + t * stepY];                                                           \
        break;
            NNRTI_CPU_WIDEN_INTEGERS(INT8, int8_t)
            NNRTI_CPU_WIDEN_INTEGERS(UINT8, uint8_t)
        case NNRT_DATA_TYPE_INT32:
            if (stepX != 0)
                memcpy(a, (const int32_t *)x + i, (size_t)some * sizeof(*a));
            if (stepY != 0)
                memcpy(b, (const int32_t *)y + i, (size_t)some * sizeof(*b));
            for (int32_t t = 0; t < some && stepX == 0; t++)
                a[t] = *(const int32_t *)x;
            for (int32_t t = 0; t < some && stepY == 0; t++)
                b[t] = *(const int32_t *)y;
            break;
        default:
            for (int32_t t = 0; t < some; t++) {
                const int64_t p = ((const int64_t *)x)[atX + t * stepX], q = ((const int64_t *)y)[atY + t * stepY];
                far |= (((uint64_t)p + 0x80000000u) | ((uint64_t)q + 0x80000000u)) >> 32;
                a[t] = (int32_t)(uint32_t)(uint64_t)p;
                b[t] = (int32_t)(uint32_t)(uint64_t)q;
            }
#undef NNRTI_CPU_WIDEN_INTEGERS
        }
        for (int32_t t = 0; t < some && far != 0; t++) {
            const int64_t p = ((const int64_t *)x)[atX + t * stepX], q = ((const int64_t *)y)[atY + t * stepY];
            ((uint64_t *)z)[i + t] = rest      ? (uint64_t)(q == -1 ? 0 : p % q)
                                     : q == -1 ? 0 - (uint64_t)p
                                               : (uint64_t)(p / q - (p % q != 0 && (p > 0) != (q > 0)));
        }
        for (int32_t t = 0; t < some && far == 0; t += NNRTI_LANES) {
            NNRTI_CPU(s32) p, q;
            memcpy(&p, a + t, sizeof(p));
            memcpy(&q, b + t, sizeof(q));
            p = type == NNRT_DATA_TYPE_INT8 || type == NNRT_DATA_TYPE_UINT8 ? NNRTI_CPU(divide_small)(p, q, rest)
                                                                            : NNRTI_CPU(divide_s32)(p, q, rest);
            memcpy(a + t, &p, sizeof(p));
        }
        if (type == NNRT_DATA_TYPE_INT32)
            memcpy((int32_t *)z + i, a, (size_t)some * sizeof(*a));
        else if (type == NNRT_DATA_TYPE_INT64)
            for (int32_t t = 0; t < some && far == 0; t++) /* -2^31 / -1 is 2^31 */
                ((int64_t *)z)[i + t] =
                    a[t] == INT32_MIN && !rest && ((const int64_t *)y)[atY + t * stepY] < 0 ? 0x80000000LL : a[t];
        else
            for (int32_t t = 0; t < some; t++)
                ((uint8_t *)z)[i + t] = (uint8_t)a[t];
    }
}

static void NNRTI_CPU(floor_divide)(const void *x, ptrdiff_t stepX, const void *y, ptrdiff_t stepY, void *z,
                                    int32_t count, NNRT_DataType type)
{
    NNRTI_CPU(divide_integers)(x, stepX, y, stepY, z, count, type, false);
}

static void NNRTI_CPU(remainder)(const void *x, ptrdiff_t stepX, const void *y, ptrdiff_t stepY, void *z, int32_t count,
                                 NNRT_DataType type)
{
    NNRTI_CPU(divide_integers)(x, stepX, y, stepY, z, count, type, true);
}

/* The row function of a function and type; NULL: division. */
static NNRTI_CPU(integer_row) NNRTI_CPU(integer_row_of)(const nnrti_cpu_integers *a)
{
    const bool wide = a->type == NNRT_DATA_TYPE_INT64, four = a->type == NNRT_DATA_TYPE_INT32;
#define NNRTI_CPU_BY_WIDTH(name, t) (wide ? NNRTI_CPU(name##_##t##64) : four ? NNRTI_CPU(name##_##t##32) : NNRTI_CPU(name##_##t##8))
    switch (a->function) {
    case NNRTI_CPU_ADD: return NNRTI_CPU_BY_WIDTH(add, u);
    case NNRTI_CPU_SUB: return NNRTI_CPU_BY_WIDTH(sub, u);
    case NNRTI_CPU_MUL: return NNRTI_CPU_BY_WIDTH(mul, u);
    case NNRTI_CPU_ABS: return NNRTI_CPU_BY_WIDTH(abs, s);
    case NNRTI_CPU_NEG: return NNRTI_CPU_BY_WIDTH(neg, s);
    case NNRTI_CPU_MAX:
        return a->type == NNRT_DATA_TYPE_UINT8 ? NNRTI_CPU(max_u8) : NNRTI_CPU_BY_WIDTH(max, s);
    case NNRTI_CPU_MIN:
        return a->type == NNRT_DATA_TYPE_UINT8 ? NNRTI_CPU(min_u8) : NNRTI_CPU_BY_WIDTH(min, s);
    case NNRTI_CPU_AND: return NNRTI_CPU(and_u8);
    case NNRTI_CPU_OR: return NNRTI_CPU(or_u8);
    case NNRTI_CPU_XOR: return NNRTI_CPU(xor_u8);
    default: return NULL;
    }
#undef NNRTI_CPU_BY_WIDTH
}

/* Whether one of `count` elements of `width` bytes, `step` apart, is 0. */
NNRTI_CPU_INLINE bool NNRTI_CPU(row_has_zero)(const uint8_t *p, ptrdiff_t step, int32_t count, const int32_t width)
{
    const uint64_t none = 0;
    NNRTI_CPU(u8) any = {0};
    int32_t i = 0;
    for (; step == 1 && i + NNRTI_LANES * 4 / width <= count; i += NNRTI_LANES * 4 / width) {
        NNRTI_CPU(u8) v;
        memcpy(&v, p + (ptrdiff_t)i * width, sizeof(v));
        any = any | (width == 8   ? (NNRTI_CPU(u8))((NNRTI_CPU(u64))v == 0)
                     : width == 4 ? (NNRTI_CPU(u8))((NNRTI_CPU(u32))v == 0)
                                  : (NNRTI_CPU(u8))(v == 0));
    }
    for (; i < count; i++)
        if (memcmp(p + i * step * width, &none, (size_t)width) == 0)
            return true;
    return nnrti_v_any((nnrti_v_bits)any);
}

static bool NNRTI_CPU(has_zero)(const nnrt_view *v)
{
    const ptrdiff_t width = (ptrdiff_t)nnrt_type_size(v->dataType);
    bool zero = false;
    nnrt_walk w;
    for (bool more = nnrt_walk_first(&w, v, NULL, NULL); more && !zero; more = nnrt_walk_next(&w)) {
        const uint8_t *const p = (const uint8_t *)v->data + w.at[0] * width;
        zero = width == 8   ? NNRTI_CPU(row_has_zero)(p, w.row[0], w.count, 8)
               : width == 4 ? NNRTI_CPU(row_has_zero)(p, w.row[0], w.count, 4)
                            : NNRTI_CPU(row_has_zero)(p, w.row[0], w.count, 1);
    }
    return zero;
}

/* Arguments of `integers` and `classify`. */
typedef struct NNRTI_CPU(integers_job) {
    const void *attr;
    const nnrt_view *x, *y, *z;
    nnrt_walk walk;
    uint32_t parts;
} NNRTI_CPU(integers_job);

static void NNRTI_CPU(integers_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(integers_job) *j = (const NNRTI_CPU(integers_job) *)arg;
    const nnrti_cpu_integers *const a = (const nnrti_cpu_integers *)j->attr;
    const NNRTI_CPU(integer_row) row = NNRTI_CPU(integer_row_of)(a);
    const ptrdiff_t width = (ptrdiff_t)nnrt_type_size(a->type);
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        const uint8_t *const x = (const uint8_t *)j->x->data + w.at[1] * width;
        const uint8_t *const y = (const uint8_t *)j->y->data + w.at[2] * width;
        uint8_t *const z = (uint8_t *)j->z->data + w.at[0] * width;
        if (row != NULL)
            row(x, w.row[1], y, w.row[2], z, w.count);
        else
            (a->function == NNRTI_CPU_FLOOR_DIV ? NNRTI_CPU(floor_divide) : NNRTI_CPU(remainder))(
                x, w.row[1], y, w.row[2], z, w.count, a->type);
    } while (nnrt_walk_next(&w));
}

/* z = function(x, y), whose rows are dense or broadcast (nnrti_cpu_has_dense_rows). A division by 0 is reported by the
   reference kernel, before anything is written. */
static NNRT_ReturnCode NNRTI_CPU(integers)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_integers *const a = (const nnrti_cpu_integers *)attr;
    const bool divides = a->function == NNRTI_CPU_FLOOR_DIV || a->function == NNRTI_CPU_REMAINDER;
    NNRTI_CPU(integers_job) j;
    double work;
    j.attr = attr;
    j.x = &args[0];
    j.y = a->unary ? &args[0] : &args[1];
    j.z = a->unary ? &args[1] : &args[2];
    if (!nnrt_walk_first(&j.walk, j.z, j.x, j.y))
        return NNRT_SUCCESS;
    if (divides && NNRTI_CPU(has_zero)(j.y))
        return a->function == NNRTI_CPU_FLOOR_DIV ? nnrt_floor_div(NULL, j.x, j.y, &args[2], call)
                                                  : nnrt_mod(NULL, j.x, j.y, &args[2], call);
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, divides ? 64 : 16, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(integers_part), &j);
    return NNRT_SUCCESS;
}

/* Elements per step of `classify`; of 8 bytes, two vectors. */
#define NNRTI_CPU_CLASSIFIED(width) (NNRTI_LANES * ((width) == 8 ? 1 : 4 / (width)))

/* The low bytes of 16-bit lanes. */
NNRTI_CPU_INLINE void NNRTI_CPU(store_low_bytes)(uint8_t *y, NNRTI_CPU(u16) v)
{
#if NNRTI_CPU_LEVEL == 4
    _mm256_storeu_si256((__m256i *)(void *)y, _mm512_cvtepi16_epi8((__m512i)v));
#elif NNRTI_CPU_LEVEL == 3
    const __m256i low = (__m256i)(v & 255), packed = _mm256_packus_epi16(low, low);
    _mm_storeu_si128((__m128i *)(void *)y, _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 8)));
#elif NNRTI_CPU_LEVEL == 2
    vst1_u8(y, vmovn_u16((uint16x8_t)v));
#else
    for (int32_t t = 0; t < NNRTI_LANES * 2; t++)
        y[t] = (uint8_t)v[t];
#endif
}

NNRTI_CPU_INLINE void NNRTI_CPU(classify_vector)(const nnrti_cpu_classify *a, const uint8_t *x, uint8_t *y,
                                                 const int32_t width)
{
    if (width == 1) {
        const uint8_t mask = (uint8_t)a->mask, limit = (uint8_t)a->limit;
        NNRTI_CPU(u8) v;
        memcpy(&v, x, sizeof(v));
        v = v & mask;
        v = (NNRTI_CPU(u8))(a->above ? v > limit : v == limit) & 1;
        memcpy(y, &v, sizeof(v));
    } else if (width == 2) {
        const uint16_t mask = (uint16_t)a->mask, limit = (uint16_t)a->limit;
        NNRTI_CPU(u16) v;
        memcpy(&v, x, sizeof(v));
        v = v & mask;
        NNRTI_CPU(store_low_bytes)(y, (NNRTI_CPU(u16))(a->above ? v > limit : v == limit) & 1);
    } else if (width == 4) {
        const uint32_t mask = (uint32_t)a->mask, limit = (uint32_t)a->limit;
        NNRTI_CPU(u32) v;
        memcpy(&v, x, sizeof(v));
        v = v & mask;
        nnrti_v_store_bytes(y, (nnrti_v_bits)(a->above ? v > limit : v == limit) & 1);
    } else {
        NNRTI_CPU(u64) v[2];
        memcpy(v, x, sizeof(v));
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < 2; k++) {
            v[k] = v[k] & a->mask;
            v[k] = (NNRTI_CPU(u64))(a->above ? v[k] > a->limit : v[k] == a->limit);
        }
        nnrti_v_store_bytes(y, (nnrti_v_bits)NNRTI_CPU(v_even)((nnrti_v)v[0], (nnrti_v)v[1]) & 1);
    }
}

NNRTI_CPU_INLINE void NNRTI_CPU(classify_row)(const nnrti_cpu_classify *attr, const uint8_t *x, uint8_t *y,
                                              int32_t count, const int32_t width)
{
    const nnrti_cpu_classify a = *attr;
    uint8_t from[8 * NNRTI_LANES] = {0}, to[4 * NNRTI_LANES];
    int32_t i = 0;
    for (; i + NNRTI_CPU_CLASSIFIED(width) <= count; i += NNRTI_CPU_CLASSIFIED(width))
        NNRTI_CPU(classify_vector)(&a, x + (ptrdiff_t)i * width, y + i, width);
    if (i < count) {
        memcpy(from, x + (ptrdiff_t)i * width, (size_t)(count - i) * (size_t)width);
        NNRTI_CPU(classify_vector)(&a, from, to, width);
        memcpy(y + i, to, (size_t)(count - i));
    }
}

static void NNRTI_CPU(classify_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(integers_job) *j = (const NNRTI_CPU(integers_job) *)arg;
    const nnrti_cpu_classify *const a = (const nnrti_cpu_classify *)j->attr;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        const uint8_t *const x = (const uint8_t *)j->x->data + w.at[1] * a->width;
        uint8_t *const y = (uint8_t *)j->z->data + w.at[0];
        switch (a->width) {
        case 1: NNRTI_CPU(classify_row)(a, x, y, w.count, 1); break;
        case 2: NNRTI_CPU(classify_row)(a, x, y, w.count, 2); break;
        case 4: NNRTI_CPU(classify_row)(a, x, y, w.count, 4); break;
        default: NNRTI_CPU(classify_row)(a, x, y, w.count, 8);
        }
    } while (nnrt_walk_next(&w));
}

/* y = whether x is of a class of bit patterns, as bool. */
static NNRT_ReturnCode NNRTI_CPU(classify)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(integers_job) j;
    double work;
    j.attr = attr;
    j.x = &args[0];
    j.y = NULL;
    j.z = &args[1];
    if (!nnrt_walk_first(&j.walk, j.z, j.x, NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 12, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(classify_part), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>reductions */

/* Reductions and normalization over groups of channels. Sums are compensated: every addition keeps its rounding
   error (Knuth's two-sum), so the result is as accurate as if rounded once, whatever the order. That matters because
   lanes and threads add in another order than the reference device. */

/* sum += v; `rest` accumulates the rounding errors (Knuth's two-sum). */
NNRTI_CPU_INLINE void NNRTI_CPU(two_sum)(nnrti_v *sum, nnrti_v *rest, nnrti_v v)
{
    const nnrti_v total = *sum + v, part = total - *sum;
    *rest = *rest + ((*sum - (total - part)) + (v - part));
    *sum = total;
}

/* The compensated sum. An infinite sum has a meaningless rest. */
static float NNRTI_CPU(compensated_sum)(float sum, float rest)
{
    return rest - rest == 0 ? sum + rest : sum;
}

/* The compensated sum over all lanes of `wide` vectors. */
NNRTI_CPU_INLINE float NNRTI_CPU(sum_lanes)(const nnrti_v *sum, const nnrti_v *rest, const int32_t wide)
{
    nnrti_v all = sum[0], left = rest[0];
    float sums[NNRTI_LANES], rests[NNRTI_LANES];
    NNRTI_CPU_UNROLL
    for (int32_t v = 1; v < wide; v++) {
        NNRTI_CPU(two_sum)(&all, &left, sum[v]);
        left = left + rest[v];
    }
    nnrti_v_store(sums, all);
    nnrti_v_store(rests, left);
    for (int32_t n = NNRTI_LANES / 2; n > 0; n /= 2)
        for (int32_t i = 0; i < n; i++) {
            const float a = sums[i], total = a + sums[i + n], part = total - a;
            rests[i] += ((a - (total - part)) + (sums[i + n] - part)) + rests[i + n];
            sums[i] = total;
        }
    return NNRTI_CPU(compensated_sum)(sums[0], rests[0]);
}

/* The same of one vector. Not inlined: accumulators stay in registers until the call, as their address is not taken
   before. */
NNRTI_CPU_NOINLINE static float NNRTI_CPU(sum_vector)(const nnrti_v *sum, const nnrti_v *rest)
{
    return NNRTI_CPU(sum_lanes)(sum, rest, 1);
}
NNRTI_CPU_INLINE float NNRTI_CPU(sum_line)(nnrti_v sum, nnrti_v rest)
{
    return NNRTI_CPU(sum_vector)(&sum, &rest);
}

/* An element as a sum adds it: the square of SUM_SQUARE and L2, the absolute value of ASUM. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(reduce_map)(nnrti_v v, NNRT_ReduceMode mode, const nnrti_cpu_reduce_kind kind)
{
    if (kind != NNRTI_CPU_REDUCE_SUM)
        return v;
    if (mode == NNRT_REDUCE_MODE_SUM_SQUARE || mode == NNRT_REDUCE_MODE_L2)
        return v * v;
    return mode == NNRT_REDUCE_MODE_ASUM ? (nnrti_v)((nnrti_v_bits)v & INT32_MAX) : v;
}

/* Joins v, which reduce_map gave: to a sum, a product, or a maximum or minimum, which NaN propagates through. */
NNRTI_CPU_INLINE void NNRTI_CPU(reduce_join)(nnrti_v *sum, nnrti_v *rest, nnrti_v v, NNRT_ReduceMode mode,
                                             const nnrti_cpu_reduce_kind kind)
{
    if (kind == NNRTI_CPU_REDUCE_PRODUCT)
        *sum = *sum * v;
    else if (kind == NNRTI_CPU_REDUCE_EXTREME)
        *sum = NNRTI_CPU_IF_NAN(v, mode == NNRT_REDUCE_MODE_MAX ? nnrti_v_max(v, *sum) : nnrti_v_min(v, *sum));
    else
        NNRTI_CPU(two_sum)(sum, rest, v);
}

NNRTI_CPU_INLINE void NNRTI_CPU(reduce_accumulate)(nnrti_v *sum, nnrti_v *rest, nnrti_v v, NNRT_ReduceMode mode,
                                                   const nnrti_cpu_reduce_kind kind)
{
    NNRTI_CPU(reduce_join)(sum, rest, NNRTI_CPU(reduce_map)(v, mode, kind), mode, kind);
}

/* Arguments of a reduction. */
typedef struct NNRTI_CPU(reduce_job) {
    const nnrti_cpu_reduce *attr;
    const void *x;
    void *y;
    nnrt_walk walk; /* walks over results, and over the start of their elements in x */
    nnrt_walk set;
    size_t count; /* elements per result */
    bool half;    /* x and y are float16 */
    uint32_t parts;
} NNRTI_CPU(reduce_job);

/* The neutral element of a reduction. */
static float NNRTI_CPU(reduce_start)(NNRT_ReduceMode mode)
{
    return mode == NNRT_REDUCE_MODE_MAX    ? -INFINITY
           : mode == NNRT_REDUCE_MODE_MIN  ? INFINITY
           : mode == NNRT_REDUCE_MODE_PROD ? 1.0f
                                           : 0.0f;
}

/* The result from the accumulated value. */
static float NNRTI_CPU(reduce_end)(const NNRTI_CPU(reduce_job) * j, float result)
{
    if (j->attr->mode == NNRT_REDUCE_MODE_MEAN)
        result /= (float)j->count;
    if (j->attr->mode == NNRT_REDUCE_MODE_L2)
        result = nnrt_sqrtf(result);
    return result * j->attr->coeff;
}

/* Elements `at` to at + left - 1 of x, at most a vector of them, float32 or float16; other lanes are undefined. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(reduce_load)(const void *x, ptrdiff_t at, int32_t left, const bool half)
{
    uint16_t part[NNRTI_LANES] = {0};
    if (!half)
        return nnrti_v_load_part((const float *)x + at, left);
    if (left >= NNRTI_LANES)
        return nnrti_v_widen((const uint16_t *)x + at);
    memcpy(part, (const uint16_t *)x + at, (size_t)left * sizeof(*part));
    return nnrti_v_widen(part);
}

NNRTI_CPU_INLINE void NNRTI_CPU(reduce_store)(const NNRTI_CPU(reduce_job) * j, ptrdiff_t at, float result,
                                              const bool half)
{
    result = NNRTI_CPU(reduce_end)(j, result);
    if (half)
        ((uint16_t *)j->y)[at] = nnrt_half_from_float(result);
    else
        ((float *)j->y)[at] = result;
}

/* `count` results, at most a vector, whose elements are adjacent in x, from `at` on: lanes are results. */
NNRTI_CPU_INLINE void NNRTI_CPU(reduce_columns)(const NNRTI_CPU(reduce_job) * j, ptrdiff_t at, int32_t count,
                                                ptrdiff_t y, ptrdiff_t step, const nnrti_cpu_reduce_kind kind,
                                                const bool half)
{
    const NNRT_ReduceMode mode = j->attr->mode;
    float results[NNRTI_LANES], rests[NNRTI_LANES];
    nnrt_walk set = j->set;
    nnrti_v sum = nnrti_v_all(NNRTI_CPU(reduce_start)(mode)), rest = nnrti_v_all(0.0f);
    do {
        ptrdiff_t from = at + set.at[0];
        for (int32_t i = 0; i < set.count; i++, from += set.row[0])
            NNRTI_CPU(reduce_accumulate)
        (&sum, &rest, NNRTI_CPU(reduce_load)(j->x, from, count, half), mode, kind);
    } while (nnrt_walk_next(&set));
    nnrti_v_store(results, sum);
    nnrti_v_store(rests, rest);
    for (int32_t i = 0; i < count; i++)
        NNRTI_CPU(reduce_store)
    (j, y + i * step,
     kind == NNRTI_CPU_REDUCE_SUM ? NNRTI_CPU(compensated_sum)(results[i], rests[i]) : results[i], half);
}

/* The elements of one result, of x from `at` on, which mostly are adjacent: *to and *left = the reduction of every
   NNRTI_LANES-th of them, and its rest. */
NNRTI_CPU_INLINE void NNRTI_CPU(reduce_row)(const NNRTI_CPU(reduce_job) * j, ptrdiff_t at, float *to, float *left,
                                            const nnrti_cpu_reduce_kind kind, const bool half)
{
    const NNRT_ReduceMode mode = j->attr->mode;
    const float start = NNRTI_CPU(reduce_start)(mode);
    const int32_t whole = j->set.row[0] == 1 ? j->set.count : 0;
    const nnrt_walk *set = &j->set;
    nnrt_walk own;
    nnrti_v sum[4], rest[4];
    int32_t i = 0;
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < 4; v++) {
        sum[v] = nnrti_v_all(start);
        rest[v] = nnrti_v_all(0.0f);
    }
    if (set->rank > 0) { /* several rows, of which it needs a walk of its own */
        own = j->set;
        set = &own;
    }
    if (whole >= 4 * NNRTI_LANES) { /* the first vectors need no addition */
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < 4; v++)
            sum[v] = NNRTI_CPU(reduce_map)(
                NNRTI_CPU(reduce_load)(j->x, at + set->at[0] + v * NNRTI_LANES, NNRTI_LANES, half), mode, kind);
        i = 4 * NNRTI_LANES;
    }
    do {
        const ptrdiff_t from = at + set->at[0];
        for (; i + 4 * NNRTI_LANES <= whole; i += 4 * NNRTI_LANES)
            NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < 4; v++)
            NNRTI_CPU(reduce_accumulate)
        (&sum[v], &rest[v], NNRTI_CPU(reduce_load)(j->x, from + i + v * NNRTI_LANES, NNRTI_LANES, half), mode, kind);
        for (; i < set->count; i += NNRTI_LANES) { /* the remainder of the row, padded with the neutral element */
            float part[NNRTI_LANES];
            nnrti_v value;
            if (i + NNRTI_LANES <= whole) {
                value = NNRTI_CPU(reduce_load)(j->x, from + i, NNRTI_LANES, half);
            } else {
                nnrti_v_store(part, nnrti_v_all(start));
                for (int32_t t = 0; t < NNRTI_LANES && i + t < set->count; t++) {
                    const ptrdiff_t one = from + (i + t) * set->row[0];
                    part[t] = half ? nnrt_half_to_float(((const uint16_t *)j->x)[one]) : ((const float *)j->x)[one];
                }
                value = nnrti_v_load(part);
            }
            NNRTI_CPU(reduce_accumulate)(&sum[0], &rest[0], value, mode, kind);
        }
        i = 0;
    } while (set->rank > 0 && nnrt_walk_next(&own));
    NNRTI_CPU_UNROLL
    for (int32_t v = 1; v < 4; v++) {
        NNRTI_CPU(reduce_join)(&sum[0], &rest[0], sum[v], mode, kind);
        rest[0] = rest[0] + rest[v];
    }
    nnrti_v_store(to, sum[0]);
    nnrti_v_store(left, rest[0]);
}

/* `count` results, at most a vector, whose elements in x begin at `at`, `step` apart. Each is reduced to a vector; these
   vectors are transposed, so that lanes are results, and joined pairwise: that takes as long for all as for one. A
   result has the same bits in every group. */
NNRTI_CPU_INLINE void NNRTI_CPU(reduce_rows)(const NNRTI_CPU(reduce_job) * j, ptrdiff_t at, ptrdiff_t step,
                                             int32_t count, ptrdiff_t y, ptrdiff_t next,
                                             const nnrti_cpu_reduce_kind kind, const bool half)
{
    float rows[2][NNRTI_LANES * NNRTI_LANES], lanes[2][NNRTI_LANES * NNRTI_LANES];
    nnrti_v sum[NNRTI_LANES], rest[NNRTI_LANES];
    for (int32_t t = 0; t < count; t++)
        NNRTI_CPU(reduce_row)(j, at + t * step, rows[0] + t * NNRTI_LANES, rows[1] + t * NNRTI_LANES, kind, half);
    for (int32_t k = 0; k < (kind == NNRTI_CPU_REDUCE_SUM ? 2 : 1); k++) {
        memset(rows[k] + count * NNRTI_LANES, 0, (size_t)(NNRTI_LANES - count) * NNRTI_LANES * sizeof(float));
        nnrti_cpu_transpose((const uint32_t *)(const void *)rows[k], NNRTI_LANES, (uint32_t *)(void *)lanes[k], NNRTI_LANES,
                            NNRTI_LANES, NNRTI_LANES);
    }
    for (int32_t i = 0; i < NNRTI_LANES; i++) {
        sum[i] = nnrti_v_load(lanes[0] + i * NNRTI_LANES);
        rest[i] = kind == NNRTI_CPU_REDUCE_SUM ? nnrti_v_load(lanes[1] + i * NNRTI_LANES) : sum[i];
    }
    for (int32_t n = NNRTI_LANES / 2; n > 0; n /= 2)
        for (int32_t i = 0; i < n; i++) {
            NNRTI_CPU(reduce_join)(&sum[i], &rest[i], sum[i + n], j->attr->mode, kind);
            rest[i] = rest[i] + rest[i + n];
        }
    if (kind == NNRTI_CPU_REDUCE_SUM) { /* as compensated_sum and reduce_end */
        const nnrti_v none = rest[0] - rest[0];
        const nnrti_v_bits finite = (nnrti_v_bits)(none == nnrti_v_all(0.0f));
        sum[0] = (nnrti_v)((finite & (nnrti_v_bits)(sum[0] + rest[0])) | (~finite & (nnrti_v_bits)sum[0]));
        if (j->attr->mode == NNRT_REDUCE_MODE_MEAN)
            sum[0] = sum[0] / nnrti_v_all((float)j->count);
        if (j->attr->mode == NNRT_REDUCE_MODE_L2)
            sum[0] = nnrti_v_sqrt(sum[0]);
    }
    nnrti_v_store(rows[0], sum[0] * nnrti_v_all(j->attr->coeff));
    for (int32_t t = 0; t < count; t++)
        if (half)
            ((uint16_t *)j->y)[y + t * next] = nnrt_half_from_float(rows[0][t]);
        else
            ((float *)j->y)[y + t * next] = rows[0][t];
}

/* `count` results, at most a vector, of a short row of x each, from `at` on, `step` apart: the rows are transposed, and
   lanes are results. */
#define NNRTI_CPU_REDUCE_SHORT 32 /* most elements of a short row */
NNRTI_CPU_INLINE void NNRTI_CPU(reduce_short)(const NNRTI_CPU(reduce_job) * j, ptrdiff_t at, ptrdiff_t step,
                                              int32_t count, ptrdiff_t y, ptrdiff_t next, float *cells,
                                              const nnrti_cpu_reduce_kind kind, const bool half)
{
    nnrti_v sum = nnrti_v_all(NNRTI_CPU(reduce_start)(j->attr->mode)), rest = nnrti_v_all(0.0f);
    float results[NNRTI_LANES], rests[NNRTI_LANES];
    if (!half)
        nnrti_cpu_transpose((const uint32_t *)j->x + at, step, (uint32_t *)(void *)cells, NNRTI_LANES, count,
                            j->set.count);
    for (int32_t t = 0; t < count && half; t++)
        for (int32_t i = 0; i < j->set.count; i++)
            cells[i * NNRTI_LANES + t] = nnrt_half_to_float(((const uint16_t *)j->x)[at + t * step + i]);
    for (int32_t i = 0; i < j->set.count; i++)
        NNRTI_CPU(reduce_accumulate)(&sum, &rest, nnrti_v_load(cells + i * NNRTI_LANES), j->attr->mode, kind);
    nnrti_v_store(results, sum);
    nnrti_v_store(rests, rest);
    for (int32_t t = 0; t < count; t++)
        NNRTI_CPU(reduce_store)
    (j, y + t * next, kind == NNRTI_CPU_REDUCE_SUM ? NNRTI_CPU(compensated_sum)(results[t], rests[t]) : results[t],
     half);
}

NNRTI_CPU_INLINE void NNRTI_CPU(reduce_walk)(const NNRTI_CPU(reduce_job) * j, nnrt_walk *w,
                                             const nnrti_cpu_reduce_kind kind, const bool half)
{
    const bool brief = j->set.rank == 0 && j->set.row[0] == 1 && j->set.count <= NNRTI_CPU_REDUCE_SHORT;
    float cells[NNRTI_CPU_REDUCE_SHORT * NNRTI_LANES];
    if (brief)
        memset(cells, 0, sizeof(cells));
    do {
        const bool columns = w->row[1] == 1 && w->count > 1;
        for (int32_t i = 0; i < w->count; i += NNRTI_LANES) {
            const int32_t count = w->count - i < NNRTI_LANES ? w->count - i : NNRTI_LANES;
            const ptrdiff_t x = w->at[1] + i * w->row[1], y = w->at[0] + i * w->row[0];
            if (columns)
                NNRTI_CPU(reduce_columns)(j, x, count, y, w->row[0], kind, half);
            else if (brief)
                NNRTI_CPU(reduce_short)(j, x, w->row[1], count, y, w->row[0], cells, kind, half);
            else
                NNRTI_CPU(reduce_rows)(j, x, w->row[1], count, y, w->row[0], kind, half);
        }
    } while (nnrt_walk_next(w));
}

#define NNRTI_CPU_REDUCE_PART(kind, half)                                                                              \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(reduce_##kind##_##half)(const NNRTI_CPU(reduce_job) * j, nnrt_walk *w)    \
    {                                                                                                                  \
        NNRTI_CPU(reduce_walk)(j, w, NNRTI_CPU_REDUCE_##kind, half);                                                   \
    }
NNRTI_CPU_REDUCE_PART(EXTREME, 0)
NNRTI_CPU_REDUCE_PART(EXTREME, 1)
NNRTI_CPU_REDUCE_PART(SUM, 0)
NNRTI_CPU_REDUCE_PART(SUM, 1)
NNRTI_CPU_REDUCE_PART(PRODUCT, 0)
NNRTI_CPU_REDUCE_PART(PRODUCT, 1)
#undef NNRTI_CPU_REDUCE_PART

static void NNRTI_CPU(reduce_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(reduce_job) *j = (const NNRTI_CPU(reduce_job) *)arg;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    switch (j->attr->mode) {
    case NNRT_REDUCE_MODE_MAX:
    case NNRT_REDUCE_MODE_MIN: (j->half ? NNRTI_CPU(reduce_EXTREME_1) : NNRTI_CPU(reduce_EXTREME_0))(j, &w); break;
    case NNRT_REDUCE_MODE_PROD: (j->half ? NNRTI_CPU(reduce_PRODUCT_1) : NNRTI_CPU(reduce_PRODUCT_0))(j, &w); break;
    default: (j->half ? NNRTI_CPU(reduce_SUM_1) : NNRTI_CPU(reduce_SUM_0))(j, &w);
    }
}

/* MEAN, SUM, MAX, MIN, PROD, SUM_SQUARE, ASUM and L2 of non-empty sets of elements, float32 or float16. */
static NNRT_ReturnCode NNRTI_CPU(reduce)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *x = &args[0];
    nnrt_view set = *x;
    NNRTI_CPU(reduce_job) j;
    double work;
    j.attr = (const nnrti_cpu_reduce *)attr;
    j.x = x->data;
    j.y = args[2].data;
    j.half = x->dataType == NNRT_DATA_TYPE_FLOAT16;
    j.count = 1;
    for (int32_t i = 0; i < x->rank; i++)
        set.dims[i] = 1;
    for (int32_t k = 0; k < args[1].dims[0]; k++) {
        const int32_t axis = ((const int32_t *)args[1].data)[k];
        set.dims[axis] = x->dims[axis];
        j.count *= (size_t)x->dims[axis];
    }
    if (j.attr->mode == NNRT_REDUCE_MODE_MAX || j.attr->mode == NNRT_REDUCE_MODE_MIN)
        nnrti_cpu_sort_strides(&set);
    if (!nnrt_walk_first(&j.set, &set, NULL, NULL) || !nnrt_walk_first(&j.walk, &args[2], x, NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 16 * (double)j.count, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(reduce_part), &j);
    return NNRT_SUCCESS;
}

/* Arguments of `cum_sum`. */
typedef struct NNRTI_CPU(cum_sum_job) {
    const NNRT_CumSum *attr;
    const nnrt_view *x, *y;
    int32_t axis;
    nnrt_walk walk; /* over the first elements of the lines: y, x */
    uint32_t parts;
} NNRTI_CPU(cum_sum_job);

/* Adjacent lines of float32 or float16, from x and y on, `wide` vectors of them, or `left` of one. The compensated sum is
   that of the reference device, lane by lane. */
NNRTI_CPU_INLINE void NNRTI_CPU(cum_sum_columns)(const NNRTI_CPU(cum_sum_job) * j, ptrdiff_t x, ptrdiff_t y,
                                                 int32_t left, const int32_t wide, const bool half)
{
    const int32_t L = j->x->dims[j->axis];
    const ptrdiff_t turn = j->attr->reverse ? -1 : 1, nextX = turn * j->x->strides[j->axis];
    const ptrdiff_t nextY = turn * j->y->strides[j->axis];
    nnrti_v sum[4], rest[4];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        sum[v] = rest[v] = nnrti_v_all(0.0f);
    x += j->attr->reverse ? (ptrdiff_t)(L - 1) * j->x->strides[j->axis] : 0;
    y += j->attr->reverse ? (ptrdiff_t)(L - 1) * j->y->strides[j->axis] : 0;
    for (int32_t k = 0; k < L; k++, x += nextX, y += nextY)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        const ptrdiff_t c = (ptrdiff_t)v * NNRTI_LANES;
        const nnrti_v value = NNRTI_CPU(reduce_load)(j->x->data, x + c, wide > 1 ? NNRTI_LANES : left, half);
        nnrti_v result = nnrti_v_all(0.0f), none;
        uint16_t part[NNRTI_LANES];
        for (int32_t pass = 0; pass < 2; pass++) { /* before, or behind the addition */
            if (pass == (j->attr->exclusive ? 0 : 1)) {
                none = rest[v] - rest[v];
                result = (nnrti_v)(((nnrti_v_bits)(none == nnrti_v_all(0.0f)) & (nnrti_v_bits)(sum[v] + rest[v])) |
                                   (~(nnrti_v_bits)(none == nnrti_v_all(0.0f)) & (nnrti_v_bits)sum[v]));
            }
            if (pass == 0)
                NNRTI_CPU(two_sum)(&sum[v], &rest[v], value);
        }
        if (!half) {
            nnrti_v_store_part((float *)j->y->data + y + c, result, wide > 1 ? NNRTI_LANES : left);
        } else {
            nnrti_v_narrow(part, result);
            memcpy((uint16_t *)j->y->data + y + c, part, (size_t)(wide > 1 ? NNRTI_LANES : left) * sizeof(*part));
        }
    }
}

/* The same of integers, modulo 2^n, and of float64: any number of adjacent lines. T: a vector type of their sums. */
#define NNRTI_CPU_CUM_SUM(name, T, V)                                                                                  \
    static void NNRTI_CPU(cum_sum_##name)(const NNRTI_CPU(cum_sum_job) * j, ptrdiff_t x, ptrdiff_t y, int32_t count)   \
    {                                                                                                                  \
        const int32_t L = j->x->dims[j->axis], wide = (int32_t)(4 * sizeof(V) / sizeof(T));                            \
        for (int32_t i = 0; i < count; i += wide) {                                                                    \
            const size_t bytes = (size_t)(count - i < wide ? count - i : wide) * sizeof(T);                            \
            V sum[4], value[4] = {{0}, {0}, {0}, {0}};                                                                 \
            memset(sum, 0, sizeof(sum));                                                                               \
            for (int32_t k = 0; k < L; k++) {                                                                          \
                const ptrdiff_t at = j->attr->reverse ? L - 1 - k : k;                                                 \
                const T *const from = (const T *)j->x->data + (x + i + at * j->x->strides[j->axis]);                   \
                T *const to = (T *)j->y->data + (y + i + at * j->y->strides[j->axis]);                                 \
                if (bytes == sizeof(value))                                                                            \
                    memcpy(value, from, sizeof(value));                                                                \
                else                                                                                                   \
                    memcpy(value, from, bytes);                                                                        \
                if (j->attr->exclusive && bytes == sizeof(sum))                                                        \
                    memcpy(to, sum, sizeof(sum));                                                                      \
                else if (j->attr->exclusive)                                                                           \
                    memcpy(to, sum, bytes);                                                                            \
                NNRTI_CPU_UNROLL                                                                                       \
                for (int32_t v = 0; v < 4; v++)                                                                        \
                    sum[v] = sum[v] + value[v];                                                                        \
                if (!j->attr->exclusive && bytes == sizeof(sum))                                                       \
                    memcpy(to, sum, sizeof(sum));                                                                      \
                else if (!j->attr->exclusive)                                                                          \
                    memcpy(to, sum, bytes);                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void NNRTI_CPU(cum_sum_line_##name)(const NNRTI_CPU(cum_sum_job) * j, ptrdiff_t x, ptrdiff_t y)             \
    {                                                                                                                  \
        const int32_t L = j->x->dims[j->axis];                                                                         \
        T sum = 0;                                                                                                     \
        for (int32_t k = 0; k < L; k++) {                                                                              \
            const ptrdiff_t at = j->attr->reverse ? L - 1 - k : k;                                                     \
            const T before = sum;                                                                                      \
            sum += ((const T *)j->x->data)[x + at * j->x->strides[j->axis]];                                           \
            ((T *)j->y->data)[y + at * j->y->strides[j->axis]] = j->attr->exclusive ? before : sum;                    \
        }                                                                                                              \
    }
NNRTI_CPU_CUM_SUM(u32, uint32_t, NNRTI_CPU(u32))
NNRTI_CPU_CUM_SUM(u64, uint64_t, NNRTI_CPU(u64))
NNRTI_CPU_CUM_SUM(f64, double, nnrti_d)
#undef NNRTI_CPU_CUM_SUM

/* One line of float32 or float16. */
static void NNRTI_CPU(cum_sum_line_real)(const NNRTI_CPU(cum_sum_job) * j, ptrdiff_t x, ptrdiff_t y, const bool half)
{
    const int32_t L = j->x->dims[j->axis];
    float sum = 0, rest = 0;
    for (int32_t k = 0; k < L; k++) {
        const ptrdiff_t at = j->attr->reverse ? L - 1 - k : k, from = x + at * j->x->strides[j->axis];
        const ptrdiff_t to = y + at * j->y->strides[j->axis];
        const float v = half ? nnrt_half_to_float(((const uint16_t *)j->x->data)[from]) : ((const float *)j->x->data)[from];
        const float total = sum + v, part = total - sum;
        float result = j->attr->exclusive ? NNRTI_CPU(compensated_sum)(sum, rest) : 0.0f;
        rest += (sum - (total - part)) + (v - part);
        sum = total;
        result = j->attr->exclusive ? result : NNRTI_CPU(compensated_sum)(sum, rest);
        if (half)
            ((uint16_t *)j->y->data)[to] = nnrt_half_from_float(result);
        else
            ((float *)j->y->data)[to] = result;
    }
}

/* Lines of a row of the walk. */
static void NNRTI_CPU(cum_sum_lines)(const NNRTI_CPU(cum_sum_job) * j, const nnrt_walk *w)
{
    const NNRT_DataType type = j->x->dataType;
    const bool half = type == NNRT_DATA_TYPE_FLOAT16, real = half || type == NNRT_DATA_TYPE_FLOAT32;
    const bool columns = w->row[0] == 1 && w->row[1] == 1 && w->count > 1;
    const ptrdiff_t x = w->at[1], y = w->at[0];
    if (columns && !real) {
        (type == NNRT_DATA_TYPE_FLOAT64    ? NNRTI_CPU(cum_sum_f64)
         : nnrt_type_size(type) == 8       ? NNRTI_CPU(cum_sum_u64)
                                           : NNRTI_CPU(cum_sum_u32))(j, x, y, w->count);
        return;
    }
    for (int32_t i = 0, some; i < w->count; i += some) {
        const int32_t left = w->count - i;
        some = 1;
        if (columns && left >= 4 * NNRTI_LANES) {
            some = 4 * NNRTI_LANES;
            if (half)
                NNRTI_CPU(cum_sum_columns)(j, x + i, y + i, left, 4, true);
            else
                NNRTI_CPU(cum_sum_columns)(j, x + i, y + i, left, 4, false);
        } else if (columns) {
            some = left < NNRTI_LANES ? left : NNRTI_LANES;
            if (half)
                NNRTI_CPU(cum_sum_columns)(j, x + i, y + i, some, 1, true);
            else
                NNRTI_CPU(cum_sum_columns)(j, x + i, y + i, some, 1, false);
        } else if (real) {
            NNRTI_CPU(cum_sum_line_real)(j, x + i * w->row[1], y + i * w->row[0], half);
        } else {
            (type == NNRT_DATA_TYPE_FLOAT64 ? NNRTI_CPU(cum_sum_line_f64)
             : nnrt_type_size(type) == 8    ? NNRTI_CPU(cum_sum_line_u64)
                                            : NNRTI_CPU(cum_sum_line_u32))(j, x + i * w->row[1], y + i * w->row[0]);
        }
    }
}

static void NNRTI_CPU(cum_sum_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(cum_sum_job) *j = (const NNRTI_CPU(cum_sum_job) *)arg;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do
        NNRTI_CPU(cum_sum_lines)(j, &w);
    while (nnrt_walk_next(&w));
}

/* CUM_SUM, with the arguments of the reference kernel, which computes integers of 8 and 16 bits and reports a wrong axis. */
static NNRT_ReturnCode NNRTI_CPU(cum_sum)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0];
    const nnrt_view *const axis = call->nIn > 1 && args[1].dataType != NNRT_DATA_TYPE_UNKNOWN ? &args[1] : NULL;
    nnrt_view *const y = &args[call->nIn + call->nDerived];
    const int64_t given = axis != NULL ? nnrt_load_index(axis, 0) : -1;
    NNRTI_CPU(cum_sum_job) j;
    nnrt_view starts[2];
    double work;
    if (given < -(int64_t)x->rank || given >= x->rank || nnrt_view_empty(x) ||
        (nnrt_type_size(x->dataType) < 4 && x->dataType != NNRT_DATA_TYPE_FLOAT16))
        return nnrt_cum_sum((const NNRT_CumSum *)attr, x, axis, y, call);
    j.attr = (const NNRT_CumSum *)attr;
    j.x = x;
    j.y = y;
    j.axis = (int32_t)(given < 0 ? given + x->rank : given);
    starts[0] = nnrti_cpu_line_starts(y, j.axis);
    starts[1] = nnrti_cpu_line_starts(x, j.axis);
    if (!nnrt_walk_first(&j.walk, &starts[0], &starts[1], NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 16.0 * x->dims[j.axis], &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(cum_sum_part), &j);
    return NNRT_SUCCESS;
}

/* Arguments of `group_norm`. */
typedef struct NNRTI_CPU(group_job) {
    const nnrti_cpu_group_norm *attr;
    const nnrt_view *args;
    const nnrt_call *call;
    int32_t units; /* per image */
} NNRTI_CPU(group_job);

/* Accumulates differences of elements to the mean, and their squares. */
NNRTI_CPU_INLINE void NNRTI_CPU(group_add)(const float *x, int32_t count, nnrti_v mean, nnrti_v *sum, nnrti_v *rest)
{
    int32_t i = 0;
    for (; i + NNRTI_LANES <= count; i += NNRTI_LANES) {
        const nnrti_v d = nnrti_v_load(x + i) - mean;
        NNRTI_CPU(two_sum)(&sum[0], &rest[0], d);
        NNRTI_CPU(two_sum)(&sum[1], &rest[1], d * d);
    }
    if (i < count) {
        float part[NNRTI_LANES] = {0};
        nnrti_v_store_part(part, nnrti_v_load_part(x + i, count - i) - mean, count - i);
        NNRTI_CPU(two_sum)(&sum[0], &rest[0], nnrti_v_load(part));
        NNRTI_CPU(two_sum)(&sum[1], &rest[1], nnrti_v_load(part) * nnrti_v_load(part));
    }
}

/* Returns 1 / sqrt(variance + epsilon) from the sums of differences to an approximate mean and of their squares;
   *rest: the mean of the differences, which corrects the mean. */
static float NNRTI_CPU(group_end)(float sum, float squares, float count, float epsilon, float *rest)
{
    float variance;
    *rest = sum / count;
    variance = squares / count - *rest * *rest;
    return 1.0f / nnrt_sqrtf((variance < 0 ? 0.0f : variance) + epsilon);
}

/* A group of channels-first x: two passes, mean and then variance about it. */
static void NNRTI_CPU(group_planes)(const NNRTI_CPU(group_job) * j, int32_t n, int32_t g)
{
    const nnrt_view *x = &j->args[0], *y = &j->args[3];
    const int32_t size = j->attr->size, K = x->dims[1];
    const float *const from = (const float *)x->data + n * x->strides[0] + (ptrdiff_t)g * size * x->strides[2];
    float *const to = (float *)y->data + n * y->strides[0] + (ptrdiff_t)g * size * y->strides[2];
    const float *scale = j->attr->affine ? (const float *)j->args[1].data : NULL;
    const float *bias = j->attr->affine ? (const float *)j->args[2].data : NULL;
    const float count = (float)((size_t)K * (size_t)size);
    nnrti_v sum[2], left[2];
    float mean = 0, rest = 0, by = 0;
    for (int32_t pass = 0; pass < 2; pass++) {
        sum[0] = sum[1] = left[0] = left[1] = nnrti_v_all(0.0f);
        for (int32_t i = 0; i < size; i++)
            NNRTI_CPU(group_add)(from + i * x->strides[2], K, nnrti_v_all(mean), sum, left);
        if (pass == 0)
            mean = NNRTI_CPU(sum_line)(sum[0], left[0]) / count;
    }
    by = NNRTI_CPU(group_end)(NNRTI_CPU(sum_line)(sum[0], left[0]), NNRTI_CPU(sum_line)(sum[1], left[1]), count,
                              j->attr->epsilon, &rest);
    for (int32_t i = 0; i < size; i++) {
        const int32_t c = g * size + i;
        const nnrti_v factor = nnrti_v_all(scale != NULL ? by * scale[c * j->args[1].strides[0]] : by);
        const nnrti_v add = nnrti_v_all(bias != NULL ? bias[c * j->args[2].strides[0]] : 0.0f);
        const float *const line = from + i * x->strides[2];
        float *const result = to + i * y->strides[2];
        for (int32_t k = 0; k < K; k += NNRTI_LANES) {
            const nnrti_v v = nnrti_v_load_part(line + k, K - k) - nnrti_v_all(mean) - nnrti_v_all(rest);
            nnrti_v_store_part(result + k, nnrti_v_fma(v, factor, add), K - k);
        }
    }
}

/* Some groups of channels-last x, `count` channels. */
static void NNRTI_CPU(group_pixels)(const NNRTI_CPU(group_job) * j, int32_t n, int32_t first, int32_t count,
                                    float *scratch)
{
    const nnrt_view *x = &j->args[0], *y = &j->args[3];
    const int32_t size = j->attr->size, K = x->dims[1];
    const size_t width = ((size_t)count + NNRTI_LANES - 1) / NNRTI_LANES * NNRTI_LANES;
    float *const mean = scratch, *const rest = mean + width, *const factor = rest + width, *const add = factor + width;
    const float *const scale = j->attr->affine ? (const float *)j->args[1].data : NULL;
    const float *const bias = j->attr->affine ? (const float *)j->args[2].data : NULL;
    const float all = (float)((size_t)K * (size_t)size);
    memset(mean, 0, width * sizeof(float));
    for (int32_t pass = 0; pass < 2; pass++) { /* in scratch meanwhile; factor: sums of squares; add, rest: sums */
        for (int32_t c = 0; c < count; c += NNRTI_LANES) {
            const float *from = (const float *)x->data + n * x->strides[0] + first + c;
            nnrti_v sum[2], left[2];
            sum[0] = sum[1] = left[0] = left[1] = nnrti_v_all(0.0f);
            for (int32_t k = 0; k < K; k++, from += x->strides[1]) {
                const nnrti_v d = nnrti_v_load_part(from, count - c) - nnrti_v_load(mean + c);
                NNRTI_CPU(two_sum)(&sum[0], &left[0], d);
                if (pass == 1)
                    NNRTI_CPU(two_sum)(&sum[1], &left[1], d * d);
            }
            nnrti_v_store(add + c, sum[0]);
            nnrti_v_store(rest + c, left[0]);
            nnrti_v_store(factor + c, sum[1] + left[1]);
        }
        for (int32_t g = 0; g < count; g += size) {
            double sum = 0, squares = 0;
            float middle, by;
            for (int32_t i = g; i < g + size; i++) {
                sum += (double)add[i] + (double)rest[i];
                squares += (double)factor[i];
            }
            by = NNRTI_CPU(group_end)((float)sum, (float)squares, all, j->attr->epsilon, &middle);
            for (int32_t i = g; i < g + size; i++) {
                (pass == 0 ? mean : rest)[i] = middle;
                factor[i] = scale != NULL ? by * scale[(first + i) * j->args[1].strides[0]] : by;
                add[i] = bias != NULL ? bias[(first + i) * j->args[2].strides[0]] : 0.0f;
            }
        }
    }
    for (int32_t k = 0; k < K; k++) {
        const float *const from = (const float *)x->data + n * x->strides[0] + k * x->strides[1] + first;
        float *const to = (float *)y->data + n * y->strides[0] + k * y->strides[1] + first;
        for (int32_t c = 0; c < count; c += NNRTI_LANES) {
            const nnrti_v v = nnrti_v_load_part(from + c, count - c) - nnrti_v_load(mean + c) - nnrti_v_load(rest + c);
            nnrti_v_store_part(to + c, nnrti_v_fma(v, nnrti_v_load(factor + c), nnrti_v_load(add + c)), count - c);
        }
    }
}

static void NNRTI_CPU(group_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(group_job) *j = (const NNRTI_CPU(group_job) *)arg;
    const int32_t n = (int32_t)i / j->units, unit = (int32_t)i % j->units;
    const int32_t channels = j->attr->many * j->attr->size, left = j->args[0].dims[2] - unit * channels;
    if (channels > 0)
        NNRTI_CPU(group_pixels)
    (j, n, unit * channels, left < channels ? left : channels, (float *)nnrti_cpu_scratch(j->call, worker));
    else NNRTI_CPU(group_planes)(j, n, unit);
}

/* y = (x - mean) / sqrt(variance + epsilon) * scale + bias, over a group of channels and all pixels; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(group_norm)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(group_job) j;
    const nnrt_view *x = &args[0];
    int32_t channels;
    j.attr = (const nnrti_cpu_group_norm *)attr;
    j.args = args;
    j.call = call;
    channels = j.attr->size * (j.attr->many > 0 ? j.attr->many : 1);
    j.units = (x->dims[2] + channels - 1) / channels;
    if (nnrt_view_empty(x))
        return NNRT_SUCCESS;
    nnrti_cpu_parallel_for(call, 48.0 * x->dims[0] * x->dims[1] * x->dims[2], (uint32_t)(x->dims[0] * j.units),
                           NNRTI_CPU(group_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>normalizations */

/* Softmax and normalization over the last axis: a work item is a row, which stays in the L1 cache between its two or
   three passes. Means and variances take two passes over the row; the one-pass formula (mean of squares minus square
   of mean) would cancel for rows far from 0. */

/* Arguments of a kernel over rows. */
typedef struct NNRTI_CPU(rows_job) {
    const nnrti_cpu_rows *attr;
    const nnrt_view *args;
} NNRTI_CPU(rows_job);

/* One row of softmax: maximum, exp and sum, product with 1 / sum. */
static void NNRTI_CPU(softmax_row)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(rows_job) *j = (const NNRTI_CPU(rows_job) *)arg;
    const int32_t count = j->attr->count;
    const float *x = (const float *)j->args[0].data + (ptrdiff_t)i * j->attr->stepX;
    float *y = (float *)j->args[1].data + (ptrdiff_t)i * j->attr->stepY, sum = 0, most = -INFINITY;
    const nnrti_v factor = nnrti_v_all(j->attr->factor);
    nnrti_v part = nnrti_v_all(most), sums = nnrti_v_all(0.0f), all;
    int32_t k = 0;
    (void)worker;
    for (; k + NNRTI_LANES <= count; k += NNRTI_LANES) {
        const nnrti_v v = nnrti_v_load(x + k) * factor;
        part = nnrti_v_max_nan(part, v);
        nnrti_v_store(y + k, v);
    }
    most = nnrti_v_largest(part);
    for (; k < count; k++) {
        y[k] = x[k] * j->attr->factor;
        most = y[k] > most || y[k] != y[k] ? y[k] : most;
    }
    all = nnrti_v_all(most);
    for (k = 0; k + NNRTI_LANES <= count; k += NNRTI_LANES) {
        const nnrti_v e = nnrti_v_exp(nnrti_v_load(y + k) - all);
        sums = sums + e;
        nnrti_v_store(y + k, e);
    }
    if (k < count)
        nnrti_v_store_part(y + k, nnrti_v_exp(nnrti_v_load_part(y + k, count - k) - all), count - k);
    sum = nnrti_v_sum(sums);
    for (; k < count; k++)
        sum += y[k];
    all = nnrti_v_all(1.0f / sum);
    for (k = 0; k < count; k += NNRTI_LANES)
        nnrti_v_store_part(y + k, nnrti_v_load_part(y + k, count - k) * all, count - k);
}

/* One row of log_softmax, with a compensated sum. */
static void NNRTI_CPU(log_softmax_row)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(rows_job) *j = (const NNRTI_CPU(rows_job) *)arg;
    const int32_t count = j->attr->count;
    const float *x = (const float *)j->args[0].data + (ptrdiff_t)i * j->attr->stepX;
    float *y = (float *)j->args[1].data + (ptrdiff_t)i * j->attr->stepY, most = -INFINITY, part[NNRTI_LANES];
    nnrti_v largest = nnrti_v_all(most), sum = nnrti_v_all(0.0f), rest = sum, all, log;
    int32_t k = 0;
    (void)worker;
    for (; k + NNRTI_LANES <= count; k += NNRTI_LANES)
        largest = nnrti_v_max_nan(largest, nnrti_v_load(x + k));
    most = nnrti_v_largest(largest);
    for (; k < count; k++)
        most = x[k] > most || x[k] != x[k] ? x[k] : most;
    all = nnrti_v_all(most);
    for (k = 0; k + NNRTI_LANES <= count; k += NNRTI_LANES)
        NNRTI_CPU(two_sum)(&sum, &rest, nnrti_v_exp(nnrti_v_load(x + k) - all));
    if (k < count) {
        nnrti_v_store(part, nnrti_v_all(0.0f));
        nnrti_v_store_part(part, nnrti_v_exp(nnrti_v_load_part(x + k, count - k) - all), count - k);
        NNRTI_CPU(two_sum)(&sum, &rest, nnrti_v_load(part));
    }
    log = nnrti_v_all(nnrt_logf(NNRTI_CPU(sum_line)(sum, rest)));
    for (k = 0; k < count; k += NNRTI_LANES)
        nnrti_v_store_part(y + k, nnrti_v_load_part(x + k, count - k) - all - log, count - k);
}

/* One row of rms_norm. */
static void NNRTI_CPU(rms_norm_row)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(rows_job) *j = (const NNRTI_CPU(rows_job) *)arg;
    const int32_t count = j->attr->count;
    const float *x = (const float *)j->args[0].data + (ptrdiff_t)i * j->attr->stepX;
    const float *scale = (const float *)j->args[1].data;
    float *y = (float *)j->args[2].data + (ptrdiff_t)i * j->attr->stepY;
    nnrti_v squares[2], all;
    int32_t k = 0;
    (void)worker;
    squares[0] = squares[1] = nnrti_v_all(0.0f);
    for (; k + NNRTI_LANES < count; k += 2 * NNRTI_LANES) {
        const nnrti_v a = nnrti_v_load(x + k), b = nnrti_v_load_part(x + k + NNRTI_LANES, count - k - NNRTI_LANES);
        squares[0] = nnrti_v_fma(a, a, squares[0]);
        squares[1] = nnrti_v_fma(b, b, squares[1]);
    }
    if (k < count) {
        const nnrti_v a = nnrti_v_load_part(x + k, count - k);
        squares[0] = nnrti_v_fma(a, a, squares[0]);
    }
    all = nnrti_v_all(1.0f / nnrt_sqrtf(nnrti_v_sum(squares[0] + squares[1]) / (float)count + j->attr->epsilon));
    for (k = 0; k < count; k += NNRTI_LANES)
        nnrti_v_store_part(y + k, nnrti_v_load_part(x + k, count - k) * all * nnrti_v_load_part(scale + k, count - k),
                           count - k);
}

/* One row of layer_norm. The mean is corrected by the mean of the differences to it, as on the reference device, so
   that rows far from 0 lose no digits. */
static void NNRTI_CPU(layer_norm_row)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(rows_job) *j = (const NNRTI_CPU(rows_job) *)arg;
    const int32_t count = j->attr->count, whole = count / NNRTI_LANES * NNRTI_LANES;
    const float *x = (const float *)j->args[0].data + (ptrdiff_t)i * j->attr->stepX;
    const float *gamma = (const float *)j->args[1].data, *beta = (const float *)j->args[2].data;
    float *y = (float *)j->args[3].data + (ptrdiff_t)i * j->attr->stepY;
    nnrti_v sums = nnrti_v_all(0.0f), squares = nnrti_v_all(0.0f), all;
    float mean, rest, square, variance;
    (void)worker;
    for (int32_t k = 0; k < whole; k += NNRTI_LANES)
        sums = sums + nnrti_v_load(x + k);
    mean = nnrti_v_sum(sums);
    for (int32_t k = whole; k < count; k++)
        mean += x[k];
    mean /= (float)count;
    all = nnrti_v_all(mean);
    sums = nnrti_v_all(0.0f);
    for (int32_t k = 0; k < whole; k += NNRTI_LANES) {
        const nnrti_v d = nnrti_v_load(x + k) - all;
        sums = sums + d;
        squares = nnrti_v_fma(d, d, squares);
    }
    rest = nnrti_v_sum(sums);
    square = nnrti_v_sum(squares);
    for (int32_t k = whole; k < count; k++) {
        rest += x[k] - mean;
        square += (x[k] - mean) * (x[k] - mean);
    }
    rest /= (float)count;
    variance = square / (float)count - rest * rest;
    variance = 1.0f / nnrt_sqrtf((variance < 0 ? 0.0f : variance) + j->attr->epsilon);
    for (int32_t k = 0; k < count; k += NNRTI_LANES) {
        nnrti_v d = (nnrti_v_load_part(x + k, count - k) - all - nnrti_v_all(rest)) * nnrti_v_all(variance);
        if (j->attr->affine)
            d = nnrti_v_fma(d, nnrti_v_load_part(gamma + k, count - k), nnrti_v_load_part(beta + k, count - k));
        nnrti_v_store_part(y + k, d, count - k);
    }
}

/* A term of the norm: |x| or x^2. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(norm_term)(nnrti_v x, const bool absolute)
{
    if (absolute)
        return (nnrti_v)((nnrti_v_bits)x & INT32_MAX);
    return x * x;
}

/* One row of lp_norm, with a compensated sum, as on the reference device. */
static void NNRTI_CPU(lp_norm_row)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(rows_job) *j = (const NNRTI_CPU(rows_job) *)arg;
    const nnrti_cpu_lp_norm *const a = (const nnrti_cpu_lp_norm *)(const void *)j->attr;
    const int32_t count = a->rows.count;
    const float *x = (const float *)j->args[0].data + (ptrdiff_t)i * a->rows.stepX;
    float *y = (float *)j->args[1].data + (ptrdiff_t)i * a->rows.stepY, norm;
    nnrti_v sum[2], rest[2], all;
    int32_t k = 0;
    (void)worker;
    sum[0] = sum[1] = rest[0] = rest[1] = nnrti_v_all(0.0f);
    for (; k + 2 * NNRTI_LANES <= count; k += 2 * NNRTI_LANES) {
        NNRTI_CPU(two_sum)(&sum[0], &rest[0], NNRTI_CPU(norm_term)(nnrti_v_load(x + k), a->absolute));
        NNRTI_CPU(two_sum)(&sum[1], &rest[1], NNRTI_CPU(norm_term)(nnrti_v_load(x + k + NNRTI_LANES), a->absolute));
    }
    for (; k < count; k += NNRTI_LANES)
        NNRTI_CPU(two_sum)(&sum[0], &rest[0], NNRTI_CPU(norm_term)(nnrti_v_load_part(x + k, count - k), a->absolute));
    norm = NNRTI_CPU(sum_lanes)(sum, rest, 2);
    if (!a->added && norm < a->rows.epsilon)
        norm = a->rows.epsilon;
    if (!a->absolute)
        norm = nnrt_sqrtf(norm);
    all = nnrti_v_all(a->added ? norm + a->rows.epsilon : norm);
    for (k = 0; k < count; k += NNRTI_LANES)
        nnrti_v_store_part(y + k, nnrti_v_load_part(x + k, count - k) / all, count - k);
}

/* Runs `row` for all rows in parallel; cost: operations per element, from which the number of threads follows. */
static NNRT_ReturnCode NNRTI_CPU(for_rows)(const void *attr, nnrt_view *args, nnrt_call *call, double cost,
                                           void (*row)(void *arg, uint32_t i, uint32_t worker))
{
    NNRTI_CPU(rows_job) j;
    j.attr = (const nnrti_cpu_rows *)attr;
    j.args = args;
    nnrti_cpu_parallel_for(call, cost * (double)j.attr->rows * j.attr->count, (uint32_t)j.attr->rows, row, &j);
    return NNRT_SUCCESS;
}

/* y = exp(v - max v) / sum of exp(v - max v), v = x * factor, row by row; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(softmax)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(for_rows)(attr, args, call, 10.0, NNRTI_CPU(softmax_row));
}

/* y = x - max x - ln(sum of exp(x - max x)), row by row; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(log_softmax)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(for_rows)(attr, args, call, 10.0, NNRTI_CPU(log_softmax_row));
}

/* Arguments of `softmax_columns`; a block is divided into `parts` work items. */
typedef struct NNRTI_CPU(columns_job) {
    const nnrti_cpu_columns *attr;
    const nnrt_view *args;
    int32_t parts;
} NNRTI_CPU(columns_job);

/* Adjacent lines from x and y on, `wide` vectors of them, or `left` of one: the passes of softmax_row and
   log_softmax_row, lane by lane. */
NNRTI_CPU_INLINE void NNRTI_CPU(softmax_lines)(const nnrti_cpu_columns *a, const float *x, float *y, int32_t left,
                                               const int32_t wide)
{
    const int32_t count = wide > 1 ? NNRTI_LANES : left;
    nnrti_v most[4], sum[4], rest[4];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        most[v] = nnrti_v_all(-INFINITY);
        sum[v] = rest[v] = nnrti_v_all(0.0f);
    }
    for (int32_t k = 0; k < a->rows.count; k++)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        most[v] = nnrti_v_max_nan(most[v], nnrti_v_load_part(x + k * a->nextX + v * NNRTI_LANES, count));
    for (int32_t k = 0; k < a->rows.count; k++)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        const nnrti_v e = nnrti_v_exp(nnrti_v_load_part(x + k * a->nextX + v * NNRTI_LANES, count) - most[v]);
        if (a->log) {
            NNRTI_CPU(two_sum)(&sum[v], &rest[v], e);
        } else {
            sum[v] = sum[v] + e;
            nnrti_v_store_part(y + k * a->nextY + v * NNRTI_LANES, e, count);
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        if (a->log)
            sum[v] = nnrti_v_log(sum[v] + rest[v]);
        else sum[v] = nnrti_v_all(1.0f) / sum[v];
    }
    for (int32_t k = 0; k < a->rows.count; k++)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        float *const to = y + k * a->nextY + v * NNRTI_LANES;
        if (a->log)
            nnrti_v_store_part(
                to, nnrti_v_load_part(x + k * a->nextX + v * NNRTI_LANES, count) - most[v] - sum[v], count);
        else nnrti_v_store_part(to, nnrti_v_load_part(to, count) * sum[v], count);
    }
}

/* A part of a block: four vectors of lines, or what is left of the block. */
static void NNRTI_CPU(softmax_part)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(columns_job) *j = (const NNRTI_CPU(columns_job) *)arg;
    const nnrti_cpu_columns *a = j->attr;
    const int32_t block = (int32_t)i / j->parts, first = (int32_t)i % j->parts * 4 * NNRTI_LANES;
    const float *x = (const float *)j->args[0].data + block * a->rows.stepX;
    float *y = (float *)j->args[1].data + block * a->rows.stepY;
    (void)worker;
    if (a->columns - first >= 4 * NNRTI_LANES) {
        NNRTI_CPU(softmax_lines)(a, x + first, y + first, NNRTI_LANES, 4);
        return;
    }
    for (int32_t c = first; c < a->columns; c += NNRTI_LANES)
        NNRTI_CPU(softmax_lines)(a, x + c, y + c, a->columns - c, 1);
}

/* softmax or log_softmax over an axis before the last; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(softmax_columns)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_columns *a = (const nnrti_cpu_columns *)attr;
    NNRTI_CPU(columns_job) j;
    j.attr = a;
    j.args = args;
    j.parts = (a->columns + 4 * NNRTI_LANES - 1) / (4 * NNRTI_LANES);
    nnrti_cpu_parallel_for(call, 10.0 * (double)a->rows.rows * a->columns * a->rows.count,
                           (uint32_t)(a->rows.rows * j.parts), NNRTI_CPU(softmax_part), &j);
    return NNRT_SUCCESS;
}

/* y = x / sqrt(mean of squares + epsilon) * scale, row by row; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(rms_norm)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(for_rows)(attr, args, call, 3.0, NNRTI_CPU(rms_norm_row));
}

/* y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, row by row; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(layer_norm)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(for_rows)(attr, args, call, 4.0, NNRTI_CPU(layer_norm_row));
}

/* y = x / norm of the row, with its epsilon; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(lp_norm)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(for_rows)(attr, args, call, 6.0, NNRTI_CPU(lp_norm_row));
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>attention */

/* ATTENTION of float32. A work item is a block of queries that read the same keys and values, each once. The scores
   of a block are in scratch; the products with values are summed in registers, and divided by the sum of the weights at
   the end. A query never reads a key or value that it does not attend to. Keys and values of float16 are widened, and those of
   int8 multiplied by their scales, by blocks of NNRTI_CPU_WIDENED, into scratch behind the scores, where they stay in the
   cache of the processor for the queries of the work item. Rejected: widening in the loops over keys and values, which doubles
   their code. */
typedef struct NNRTI_CPU(attention_job) {
    const NNRT_Attention *attr;
    const nnrti_cpu_attention *a;
    const nnrt_call *call;
} NNRTI_CPU(attention_job);

/* Prefetches `bytes` of the row of keys or values that follows row x by NNRTI_CPU_ATTENTION_AHEAD rows of `step` bytes: hardware does not
   foresee the parts of rows that a head reads. The rows may end before. */
#define NNRTI_CPU_ATTENTION_AHEAD 64
NNRTI_CPU_INLINE void NNRTI_CPU(attention_ahead)(const void *x, ptrdiff_t step, int32_t bytes)
{
    const uintptr_t at = (uintptr_t)x + (uintptr_t)(NNRTI_CPU_ATTENTION_AHEAD * step);
    for (int32_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)(at + (uintptr_t)i));
}

/* Whether keys and values come from memory: few queries read them, and so no other work item before. */
NNRTI_CPU_INLINE bool NNRTI_CPU(attention_once)(const nnrti_cpu_attention *a)
{
    return a->q.dims[2] <= NNRTI_CPU_QUERIES;
}

/* w[r,i] = q[r] . key i for n queries, D elements of each, and count keys that are `step` apart. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_scores)(bool once, const float *const *q, const float *key, ptrdiff_t step, int32_t D,
                                                  int32_t count, float *w, ptrdiff_t room, const int32_t n)
{
    for (int32_t i = 0; i < count; i++, key += step) {
        nnrti_v sums[NNRTI_CPU_QUERIES];
        float scores[NNRTI_CPU_QUERIES];
        if (once)
            NNRTI_CPU(attention_ahead)(key, step * (ptrdiff_t)sizeof(*key), D * (int32_t)sizeof(*key));
        for (int32_t r = 0; r < n; r++)
            sums[r] = nnrti_v_all(0.0f);
        for (int32_t d = 0; d < D; d += NNRTI_LANES) {
            const nnrti_v part = nnrti_v_load_part(key + d, D - d);
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < n; r++)
                sums[r] = nnrti_v_fma(nnrti_v_load_part(q[r] + d, D - d), part, sums[r]);
        }
        if (n == 4)
            nnrti_v_sum_4(sums, scores);
        else scores[0] = nnrti_v_sum(sums[0]);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < n; r++)
            w[r * room + i] = scores[r];
    }
}

/* y = scale * x for count int8. */
NNRTI_CPU_INLINE void NNRTI_CPU(scale_run)(const int8_t *x, float scale, float *y, int32_t count)
{
    int32_t i = 0;
    for (; i + NNRTI_LANES <= count; i += NNRTI_LANES) {
        const nnrti_v_bits bytes = nnrti_v_load_bytes((const uint8_t *)x + i);
        nnrti_v_store(y + i, nnrti_v_all(scale) * __builtin_convertvector((bytes ^ 128) - 128, nnrti_v));
    }
    for (; i < count; i++)
        y[i] = scale * (float)x[i];
}

/* Elements d to d + size - 1 of `count` rows of int8, which begin at x with their scales: each scale belongs to `part`
   elements. */
static void NNRTI_CPU(attention_scaled)(bool once, const int8_t *x, ptrdiff_t step, const void *scales, const nnrt_view *scale,
                                        int32_t part, int32_t count, int32_t d, int32_t size, float *block)
{
    for (int32_t k = 0; k < count; k++, x += step) {
        if (once)
            NNRTI_CPU(attention_ahead)(x + d, step, size);
        for (int32_t i = d, n; i < d + size; i += n) {
            const ptrdiff_t at = k * scale->strides[2] + i / part;
            const float factor = scale->dataType == NNRT_DATA_TYPE_FLOAT16
                                     ? nnrt_half_to_float(((const uint16_t *)scales)[at])
                                     : ((const float *)scales)[at];
            n = part - i % part < d + size - i ? part - i % part : d + size - i;
            NNRTI_CPU(scale_run)(x + i, factor, block + k * size + (i - d), n);
        }
    }
}

/* Rows i to i + count - 1 of keys or values, `size` elements of each from element d on; *step: elements between two of them.
   float16 is widened, int8 multiplied by its scales; count is then at most NNRTI_CPU_WIDENED. */
NNRTI_CPU_NOINLINE static const float *NNRTI_CPU(attention_rows)(const nnrti_cpu_attention *a, const nnrt_view *v, const nnrt_view *scale,
                                                                 const nnrti_cpu_attention_query *query, int32_t i,
                                                                 int32_t count, int32_t d, int32_t size, float *block,
                                                                 ptrdiff_t *step)
{
    const void *const row = nnrti_cpu_attention_row(v, query, i);
    const bool once = NNRTI_CPU(attention_once)(a);
    *step = v->strides[2];
    if (v->dataType == NNRT_DATA_TYPE_FLOAT32)
        return (const float *)row + d;
    if (v->dataType == NNRT_DATA_TYPE_INT8)
        NNRTI_CPU(attention_scaled)(once, (const int8_t *)row, *step, nnrti_cpu_attention_row(scale, query, i), scale,
                                    v->dims[3] / scale->dims[3], count, d, size, block);
    for (int32_t k = 0; k < count && v->dataType == NNRT_DATA_TYPE_FLOAT16; k++) {
        const uint16_t *const half = (const uint16_t *)row + k * *step + d;
        if (once)
            NNRTI_CPU(attention_ahead)(half, *step * (ptrdiff_t)sizeof(*half), size * (int32_t)sizeof(*half));
        NNRTI_CPU(widen_run)(half, block + k * size, size);
    }
    *step = size;
    return block;
}

/* The rows of `count`, from row i on, that attention_rows returns at a time. */
NNRTI_CPU_INLINE int32_t NNRTI_CPU(attention_part)(const nnrti_cpu_attention *a, const nnrt_view *v, int32_t i, int32_t count)
{
    const int32_t left = a->pageSize > 0 && a->pageSize - i % a->pageSize < count ? a->pageSize - i % a->pageSize : count;
    return v->dataType != NNRT_DATA_TYPE_FLOAT32 && left > NNRTI_CPU_WIDENED ? NNRTI_CPU_WIDENED : left;
}

/* w[r,first..end) = q[r] . keys first to end - 1 of v, of n queries. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_keys)(const nnrti_cpu_attention *a, const nnrt_view *v,
                                                const nnrti_cpu_attention_query *query, const float *const *q, int32_t first,
                                                int32_t end, float *w, float *block, const int32_t n)
{
    for (int32_t i = first, part; i < end; i += part) {
        const float *key;
        ptrdiff_t step;
        part = NNRTI_CPU(attention_part)(a, v, i, end - i);
        key = NNRTI_CPU(attention_rows)(a, v, &a->keyScale, query, nnrti_cpu_attention_place(a, query, i), part, 0, a->q.dims[3], block, &step);
        NNRTI_CPU(attention_scores)(v->dataType == NNRT_DATA_TYPE_FLOAT32 && NNRTI_CPU(attention_once)(a), q, key, step, a->q.dims[3], part, w + (i - first), a->room, n);
    }
}

/* The scores of one query become weights exp(m - max m), 0 outside of its keys; returns their sum, 0 if it sees none. */
static float NNRTI_CPU(attention_weights)(const NNRTI_CPU(attention_job) * j, const nnrti_cpu_attention_query *query, float *w)
{
    const nnrti_v scale = nnrti_v_all(j->attr->scale), cap = nnrti_v_all(j->attr->softcap);
    const int32_t first = query->first, end = query->end;
    nnrti_v part = nnrti_v_all(-INFINITY), sums = nnrti_v_all(0.0f);
    float most = -INFINITY, sum;
    int32_t i = first;
    for (; i < end; i += NNRTI_LANES) {
        nnrti_v v = nnrti_v_load_part(w + i, end - i) * scale;
        if (j->attr->softcap > 0)
            v = cap * nnrti_v_tanh(v / cap);
        nnrti_v_store_part(w + i, v, end - i);
    }
    if (j->a->mask.dataType != NNRT_DATA_TYPE_UNKNOWN)
        nnrti_cpu_attention_mask(&j->a->mask, query, w);
    for (i = first; i + NNRTI_LANES <= end; i += NNRTI_LANES)
        part = nnrti_v_max_nan(part, nnrti_v_load(w + i));
    most = nnrti_v_largest(part);
    for (; i < end; i++)
        most = w[i] > most || w[i] != w[i] ? w[i] : most;
    if (first == end || most == -INFINITY)
        return 0;
    for (i = first; i + NNRTI_LANES <= end; i += NNRTI_LANES) {
        const nnrti_v e = nnrti_v_exp(nnrti_v_load(w + i) - nnrti_v_all(most));
        sums = sums + e;
        nnrti_v_store(w + i, e);
    }
    if (i < end)
        nnrti_v_store_part(w + i, nnrti_v_exp(nnrti_v_load_part(w + i, end - i) - nnrti_v_all(most)), end - i);
    for (sum = nnrti_v_sum(sums); i < end; i++)
        sum += w[i];
    return sum;
}

/* sums[r,c] += the sum over count values, `step` apart, of w[r,i] * lanes c of value i; n queries, m vectors of lanes. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_values)(bool once, const float *w, ptrdiff_t room, const float *value, ptrdiff_t step,
                                                  int32_t count, nnrti_v *sums, int32_t left, const int32_t n,
                                                  const int32_t m)
{
    for (int32_t i = 0; i < count; i++, value += step) {
        nnrti_v parts[NNRTI_CPU_VALUES];
        if (once)
            NNRTI_CPU(attention_ahead)(value, step * (ptrdiff_t)sizeof(*value), m * NNRTI_LANES * (int32_t)sizeof(*value));
        NNRTI_CPU_UNROLL
        for (int32_t c = 0; c < m; c++)
            parts[c] = nnrti_v_load_part(value + c * NNRTI_LANES, left - c * NNRTI_LANES);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < n; r++)
            NNRTI_CPU_UNROLL
            for (int32_t c = 0; c < m; c++)
                sums[r * NNRTI_CPU_VALUES + c] =
                    nnrti_v_fma(nnrti_v_all(w[r * room + i]), parts[c], sums[r * NNRTI_CPU_VALUES + c]);
    }
}

/* The same for the rows first to end - 1 of v. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_sums)(const nnrti_cpu_attention *a, const nnrt_view *v,
                                                const nnrti_cpu_attention_query *query, const float *w, int32_t first,
                                                int32_t end, int32_t d, float *block, nnrti_v *sums, const int32_t n,
                                                const int32_t m)
{
    const int32_t left = a->value.dims[3] - d, size = left < m * NNRTI_LANES ? left : m * NNRTI_LANES;
    for (int32_t i = first, part; i < end; i += part) {
        const float *value;
        ptrdiff_t step;
        part = NNRTI_CPU(attention_part)(a, v, i, end - i);
        value = NNRTI_CPU(attention_rows)(a, v, &a->valueScale, query, nnrti_cpu_attention_place(a, query, i), part, d, size, block, &step);
        NNRTI_CPU(attention_values)(v->dataType == NNRT_DATA_TYPE_FLOAT32 && NNRTI_CPU(attention_once)(a), w + (i - first), a->room, value, step, part, sums, left, n, m);
    }
}

/* The same for the keys first to end - 1 of a head, of which the past ones lie elsewhere. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_span)(const nnrti_cpu_attention *a, const nnrti_cpu_attention_query *query,
                                                const float *w, int32_t first, int32_t end, int32_t d, float *block,
                                                nnrti_v *sums, const int32_t n, const int32_t m)
{
    const int32_t behind = end < a->past ? end : a->past, from = first > a->past ? first : a->past;
    if (first < behind)
        NNRTI_CPU(attention_sums)(a, &a->pastValue, query, w + first, first, behind, d, block, sums, n, m);
    if (from < end)
        NNRTI_CPU(attention_sums)(a, &a->value, query, w + from, from - a->past, end - a->past, d, block, sums, n, m);
}

/* Elements d to d + m * NNRTI_LANES - 1 of the results of n queries. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_results)(const nnrti_cpu_attention *a, const nnrti_cpu_attention_query *queries,
                                                   const float *w, int32_t d, float *block, const int32_t n,
                                                   const int32_t m)
{
    nnrti_v sums[NNRTI_CPU_QUERIES * NNRTI_CPU_VALUES];
    int32_t first = queries[0].first, end = queries[0].end;
    for (int32_t r = 0; r < n; r++) {
        first = queries[r].first > first ? queries[r].first : first;
        end = queries[r].end < end ? queries[r].end : end;
        for (int32_t c = 0; c < m; c++)
            sums[r * NNRTI_CPU_VALUES + c] = nnrti_v_all(0.0f);
    }
    end = end > first ? end : first; /* first to end - 1: the keys of all queries */
    NNRTI_CPU(attention_span)(a, queries, w, first, end, d, block, sums, n, m);
    for (int32_t r = 0; r < n; r++) {
        const nnrti_cpu_attention_query *q = &queries[r];
        nnrti_v *own = sums + r * NNRTI_CPU_VALUES;
        const bool all = first < end;
        if (n > 1 && (!all || q->first < first))
            NNRTI_CPU(attention_span)(a, q, w + r * a->room, q->first, all ? first : q->end, d, block, own, 1, m);
        if (n > 1 && all && q->end > end)
            NNRTI_CPU(attention_span)(a, q, w + r * a->room, end, q->end, d, block, own, 1, m);
        for (int32_t c = 0; c < m; c++) {
            nnrti_v y = nnrti_v_all(0.0f);
            if (q->sum != 0)
                y = own[c] / nnrti_v_all(q->sum);
            nnrti_v_store_part(q->y + d + c * NNRTI_LANES, y, a->value.dims[3] - d - c * NNRTI_LANES);
        }
    }
}

/* The queries of a block. */
NNRTI_CPU_INLINE void NNRTI_CPU(attention_block)(const NNRTI_CPU(attention_job) * j, nnrti_cpu_attention_query *queries,
                                                 float *w, const int32_t n)
{
    const nnrti_cpu_attention *a = j->a;
    const float *q[NNRTI_CPU_QUERIES];
    float *const block = w + NNRTI_CPU_QUERIES * a->room;
    int32_t first = queries[0].first, end = queries[0].end, d = 0;
    for (int32_t r = 0; r < n; r++) {
        first = queries[r].first < first ? queries[r].first : first;
        end = queries[r].end > end ? queries[r].end : end;
        q[r] = queries[r].q;
    }
    if (first < a->past && first < end) {
        const int32_t behind = end < a->past ? end : a->past;
        NNRTI_CPU(attention_keys)(a, &a->pastKey, queries, q, first, behind, w + first, block, n);
    }
    if (end > a->past) {
        const int32_t from = first > a->past ? first : a->past;
        NNRTI_CPU(attention_keys)(a, &a->key, queries, q, from - a->past, end - a->past, w + from, block, n);
    }
    for (int32_t r = 0; r < n; r++)
        queries[r].sum = NNRTI_CPU(attention_weights)(j, &queries[r], w + r * a->room);
    for (; d + NNRTI_CPU_VALUES * NNRTI_LANES <= a->value.dims[3]; d += NNRTI_CPU_VALUES * NNRTI_LANES)
        NNRTI_CPU(attention_results)(a, queries, w, d, block, n, NNRTI_CPU_VALUES);
    for (; d < a->value.dims[3]; d += NNRTI_LANES)
        NNRTI_CPU(attention_results)(a, queries, w, d, block, n, 1);
}

/* Work item: a block of queries, nnrti_cpu_attention_divide. */
static void NNRTI_CPU(attention_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(attention_job) *j = (const NNRTI_CPU(attention_job) *)arg;
    nnrti_cpu_attention_query queries[NNRTI_CPU_QUERIES];
    float *const w = (float *)nnrti_cpu_scratch(j->call, worker);
    const int32_t n = nnrti_cpu_attention_queries(j->attr, j->a, (int32_t)unit, queries);
    for (int32_t r = n; r < NNRTI_CPU_QUERIES; r++) /* a block that is not full computes its last query again */
        queries[r] = queries[n - 1];
    if (n == 1)
        NNRTI_CPU(attention_block)(j, queries, w, 1);
    else NNRTI_CPU(attention_block)(j, queries, w, NNRTI_CPU_QUERIES);
}

/* y, presentKey and presentValue of ATTENTION, without weights. */
static NNRT_ReturnCode NNRTI_CPU(attention)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_attention a;
    const bool any = nnrti_cpu_attention_begin((const NNRT_Attention *)attr, args, call, &a);
    const NNRT_ReturnCode code = nnrti_cpu_attention_check(&a, call);
    NNRTI_CPU(attention_job) j;
    j.attr = (const NNRT_Attention *)attr;
    j.a = &a;
    j.call = call;
    if (!any || code != NNRT_SUCCESS)
        return code;
    nnrti_cpu_parallel_for(call, 2.0 * a.q.dims[3] * a.valid * a.q.dims[0] * a.q.dims[1] * a.q.dims[2],
                           (uint32_t)(a.blocks * a.q.dims[0] * (a.grouped ? a.key.dims[1] : a.q.dims[1])),
                           NNRTI_CPU(attention_task), &j);
    return NNRT_SUCCESS;
}

/* QUANTIZE_BLOCKS, with the bits of the reference kernel: the quotients are exact. A work item is a line of the last axis. */
typedef struct NNRTI_CPU(blocks_job) {
    const nnrt_view *x, *y, *scale;
    int32_t size; /* of a block */
} NNRTI_CPU(blocks_job);

/* The elements from `at` on, at most NNRTI_LANES of `left`, zeros behind them. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(blocks_load)(const nnrt_view *x, ptrdiff_t at, int32_t left)
{
    uint16_t part[NNRTI_LANES] = {0};
    if (x->dataType == NNRT_DATA_TYPE_FLOAT32)
        return nnrti_v_load_part((const float *)x->data + at, left);
    memcpy(part, (const uint16_t *)x->data + at, (size_t)(left < NNRTI_LANES ? left : NNRTI_LANES) * sizeof(*part));
    return nnrti_v_widen(part);
}

/* Quantizes the block of x that begins at element `at` to y; returns its scale. */
static uint16_t NNRTI_CPU(blocks_quantize)(const nnrt_view *x, ptrdiff_t at, int8_t *y, int32_t size)
{
    const nnrti_v limit = nnrti_v_all(127.0f);
    nnrti_v largest = nnrti_v_all(0.0f), scale;
    uint16_t half;
    for (int32_t i = 0; i < size; i += NNRTI_LANES) {
        const nnrti_v v = NNRTI_CPU(blocks_load)(x, at + i, size - i);
        largest = nnrti_v_max_nan(largest, (nnrti_v)((nnrti_v_bits)v & INT32_MAX));
    }
    half = nnrt_half_from_float(nnrti_v_largest(largest) / 127.0f);
    if (half == 0 || half >= 0x7C00) { /* 0, Inf, NaN */
        memset(y, 0, (size_t)size);
        return half;
    }
    scale = nnrti_v_all(nnrt_half_to_float(half));
    for (int32_t i = 0; i < size; i += NNRTI_LANES) {
        nnrti_v v = nnrti_v_to_integer(NNRTI_CPU(blocks_load)(x, at + i, size - i) / scale, NNRTI_CPU_ROUND);
        uint8_t last[NNRTI_LANES];
        const bool whole = size - i >= NNRTI_LANES;
        v = nnrti_v_min(limit, nnrti_v_max(-limit, v));
        nnrti_v_store_bytes(whole ? (uint8_t *)y + i : last, __builtin_convertvector(v, nnrti_v_bits));
        if (!whole)
            memcpy(y + i, last, (size_t)(size - i));
    }
    return half;
}

static void NNRTI_CPU(blocks_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(blocks_job) *j = (const NNRTI_CPU(blocks_job) *)arg;
    const int32_t last = j->x->rank - 1;
    ptrdiff_t x = 0, y = 0, scale = 0;
    (void)worker;
    for (int32_t i = last - 1; i >= 0; unit /= (uint32_t)j->x->dims[i], i--) {
        const ptrdiff_t place = (ptrdiff_t)(unit % (uint32_t)j->x->dims[i]);
        x += place * j->x->strides[i];
        y += place * j->y->strides[i];
        scale += place * j->scale->strides[i];
    }
    for (int32_t b = 0; b < j->scale->dims[last]; b++, x += j->size, y += j->size)
        ((uint16_t *)j->scale->data)[scale + b] = NNRTI_CPU(blocks_quantize)(j->x, x, (int8_t *)j->y->data + y, j->size);
}

static NNRT_ReturnCode NNRTI_CPU(quantize_blocks)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_QuantizeBlocks *a = (const NNRT_QuantizeBlocks *)attr;
    const int32_t last = args[0].rank - 1;
    NNRTI_CPU(blocks_job) j;
    double lines = 1;
    j.x = &args[0];
    j.y = &args[1];
    j.scale = &args[2];
    j.size = (int32_t)a->blockSize;
    for (int32_t i = 0; i < last; i++)
        lines *= j.x->dims[i];
    if (j.x->strides[last] != 1 || j.y->strides[last] != 1 || j.scale->strides[last] != 1 || lines > UINT32_MAX)
        return nnrt_quantize_blocks(a, j.x, &args[1], &args[2]);
    nnrti_cpu_parallel_for(call, 8 * lines * j.x->dims[last], (uint32_t)lines, NNRTI_CPU(blocks_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>comparisons */

/* Selecting operators. Comparisons produce lane masks; WHERE blends bits, never floats, so NaN payloads survive.
   ARGMAX and TOPK compare integer sort keys of floats (`sort_key`), which give -0 and 0 the same rank and put NaN last,
   in one integer comparison. TOPK selects as nnrti_cpu_best describes; SIMD only skips vectors of float32 in which no
   element is among the best. */

/* Arguments of `compare`, `where`, `argminmax` and `topk`. */
typedef struct NNRTI_CPU(select_job) {
    const void *attr;
    const nnrt_view *args;
    const nnrt_call *call; /* for `topk` */
    nnrt_walk walk;
    uint32_t parts;
} NNRTI_CPU(select_job);

static void NNRTI_CPU(compare_row)(const nnrti_cpu_compare *a, const float *x, ptrdiff_t stepX, const float *y,
                                   ptrdiff_t stepY, uint8_t *z, int32_t count)
{
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const int32_t left = count - i;
        const nnrti_v p = stepX != 0 ? nnrti_v_load_part(x + i, left) : nnrti_v_all(*x);
        const nnrti_v q = stepY != 0 ? nnrti_v_load_part(y + i, left) : nnrti_v_all(*y);
        const nnrti_v_bits is = (((nnrti_v_bits)(p < q) & a->less) | ((nnrti_v_bits)(p == q) & a->equal)) ^ a->none;
        uint8_t last[NNRTI_LANES];
        nnrti_v_store_bytes(left >= NNRTI_LANES ? z + i : last, is & 1);
        if (left < NNRTI_LANES)
            memcpy(z + i, last, (size_t)left);
    }
}

static void NNRTI_CPU(compare_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(select_job) *j = (const NNRTI_CPU(select_job) *)arg;
    const nnrti_cpu_compare *const a = (const nnrti_cpu_compare *)j->attr;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        const bool row = w.row[0] == 1 && (w.row[1] | w.row[2] | 1) == 1;
        for (int32_t i = 0; i < w.count; i += row ? w.count : 1)
            NNRTI_CPU(compare_row)
        (a, (const float *)j->args[0].data + w.at[1] + i * w.row[1], row ? w.row[1] : 0,
         (const float *)j->args[1].data + w.at[2] + i * w.row[2], row ? w.row[2] : 0,
         (uint8_t *)j->args[2].data + w.at[0] + i * w.row[0], row ? w.count : 1);
    } while (nnrt_walk_next(&w));
}

/* z = whether x is less than y, equal to y, or the inverse; NaN is neither less nor equal. */
static NNRT_ReturnCode NNRTI_CPU(compare)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(select_job) j;
    double work;
    j.attr = attr;
    j.args = args;
    if (!nnrt_walk_first(&j.walk, &args[2], &args[0], &args[1]))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 12, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(compare_part), &j);
    return NNRT_SUCCESS;
}

/* Loads elements as bits: some machines would quiet a NaN in a float register. step 0: one element in all lanes. */
NNRTI_CPU_INLINE nnrti_v_bits NNRTI_CPU(load_bits)(const void *from, ptrdiff_t step, int32_t i, int32_t left)
{
    nnrti_v_bits v = {0};
    int32_t one;
    if (step != 0)
        return (nnrti_v_bits)nnrti_v_load_part((const float *)from + i, left);
    memcpy(&one, from, sizeof(one));
    return v + one;
}

static void NNRTI_CPU(where_row)(const uint8_t *c, ptrdiff_t stepC, const void *x, ptrdiff_t stepX, const void *y,
                                 ptrdiff_t stepY, float *z, int32_t count)
{
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const int32_t left = count - i;
        const bool whole = stepC != 0 && left >= NNRTI_LANES;
        uint8_t last[NNRTI_LANES];
        nnrti_v_bits is;
        if (!whole)
            memset(last, stepC == 0 && *c != 0, sizeof(last));
        if (!whole && stepC != 0)
            memcpy(last, c + i, (size_t)left);
        is = nnrti_v_load_bytes(whole ? c + i : last) != 0;
        nnrti_v_store_part(
            z + i,
            (nnrti_v)((is & NNRTI_CPU(load_bits)(x, stepX, i, left)) | (~is & NNRTI_CPU(load_bits)(y, stepY, i, left))),
            left);
    }
}

static void NNRTI_CPU(where_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(select_job) *j = (const NNRTI_CPU(select_job) *)arg;
    const nnrti_cpu_where *const a = (const nnrti_cpu_where *)j->attr;
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        const bool row = w.row[0] == 1 && (w.row[1] | w.row[2] | 1) == 1;
        for (int32_t i = 0; i < w.count; i += row ? w.count : 1) {
            const ptrdiff_t at = w.at[2] + i * w.row[2], step = row ? w.row[2] : 0;
            NNRTI_CPU(where_row)
            ((const uint8_t *)j->args[0].data + w.at[1] + i * w.row[1], row ? w.row[1] : 0,
             (const float *)j->args[1].data + (a->one[0] ? 0 : at), a->one[0] ? 0 : step,
             (const float *)j->args[2].data + (a->one[1] ? 0 : at), a->one[1] ? 0 : step,
             (float *)j->args[3].data + w.at[0] + i * w.row[0], row ? w.count : 1);
        }
    } while (nnrt_walk_next(&w));
}

/* z = c ? x : y */
static NNRT_ReturnCode NNRTI_CPU(where)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_where *const a = (const nnrti_cpu_where *)attr;
    NNRTI_CPU(select_job) j;
    double work;
    j.attr = attr;
    j.args = args;
    if (!nnrt_walk_first(&j.walk, &args[3], &args[0], !a->one[0] ? &args[1] : !a->one[1] ? &args[2] : NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 16, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(where_part), &j);
    return NNRT_SUCCESS;
}

/* Sort key: larger for elements that come earlier in descending order, or with turn -1 in ascending order. -0 equals
   0; NaN comes last. */
NNRTI_CPU_INLINE nnrti_v_bits NNRTI_CPU(sort_key)(nnrti_v x, int32_t turn)
{
    const nnrti_v_bits size = (nnrti_v_bits)x & INT32_MAX, sign = ((nnrti_v_bits)x >> 31) ^ turn;
    const nnrti_v_bits none = size > 0x7F800000;
    return (none & INT32_MIN) | (~none & ((size ^ sign) - sign));
}

/* ARGMAX of `count` elements that are `step` apart: the first of the largest ones. */
static int32_t NNRTI_CPU(argminmax_row)(const float *x, ptrdiff_t step, int32_t count, int32_t turn)
{
    int32_t orders[NNRTI_LANES], places[NNRTI_LANES];
    nnrti_v_bits best, at, here;
    for (int32_t t = 0; t < NNRTI_LANES; t++) {
        orders[t] = INT32_MIN;
        places[t] = t < count ? t : 0;
    }
    memcpy(&best, orders, sizeof(best));
    memcpy(&at, places, sizeof(at));
    for (int32_t t = 0; t < NNRTI_LANES; t++)
        places[t] = t;
    memcpy(&here, places, sizeof(here));
    for (int32_t k = 0; k < count; k += NNRTI_LANES, here = here + NNRTI_LANES) {
        float part[NNRTI_LANES];
        nnrti_v_bits order, is;
        if (step == 1 && count - k >= NNRTI_LANES) {
            order = NNRTI_CPU(sort_key)(nnrti_v_load(x + k), turn);
        } else { /* pad with NaN */
            for (int32_t t = 0; t < NNRTI_LANES; t++)
                part[t] = k + t < count ? x[(k + t) * step] : NAN;
            order = NNRTI_CPU(sort_key)(nnrti_v_load(part), turn);
        }
        is = order > best;
        best = (is & order) | (~is & best);
        at = (is & here) | (~is & at);
    }
    memcpy(orders, &best, sizeof(best));
    memcpy(places, &at, sizeof(at));
    for (int32_t t = 1; t < NNRTI_LANES; t++)
        if (orders[t] > orders[0] || (orders[t] == orders[0] && places[t] < places[0])) {
            orders[0] = orders[t];
            places[0] = places[t];
        }
    return places[0];
}

/* ARGMAX of adjacent lines, one per lane: `wide` vectors of them, or `left` of one. */
NNRTI_CPU_INLINE void NNRTI_CPU(argminmax_columns)(const float *x, ptrdiff_t step, int32_t count, int32_t turn,
                                                   int32_t left, int32_t *to, const int32_t wide)
{
    nnrti_v_bits best[4], at[4];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        best[v] = at[v] = (nnrti_v_bits)nnrti_v_all(0.0f);
    for (int32_t k = 0; k < count; k++, x += step)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        const float *const from = x + v * NNRTI_LANES;
        const nnrti_v_bits order =
            NNRTI_CPU(sort_key)(wide > 1 ? nnrti_v_load(from) : nnrti_v_load_part(from, left), turn);
        const nnrti_v_bits is = (order > best[v]) | (k == 0 ? -1 : 0);
        best[v] = (is & order) | (~is & best[v]);
        at[v] = (is & k) | (~is & at[v]);
    }
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        memcpy(to + v * NNRTI_LANES, &at[v], sizeof(at[v]));
}

static void NNRTI_CPU(argminmax_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(select_job) *j = (const NNRTI_CPU(select_job) *)arg;
    const nnrti_cpu_argminmax *const a = (const nnrti_cpu_argminmax *)j->attr;
    const nnrt_view *const x = &j->args[0], *const y = &j->args[1];
    const int32_t count = x->dims[a->axis];
    const ptrdiff_t step = x->strides[a->axis];
    int32_t found[4 * NNRTI_LANES];
    nnrt_walk w = j->walk;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do {
        const int32_t side = w.row[1] == 1 && w.count > 1 ? 4 * NNRTI_LANES : 1;
        for (int32_t i = 0; i < w.count; i += side) {
            const float *const from = (const float *)x->data + w.at[1] + i * w.row[1];
            const int32_t left = w.count - i;
            int32_t many = side;
            if (side == 1) {
                found[0] = NNRTI_CPU(argminmax_row)(from, step, count, a->turn);
            } else if (left >= side) {
                NNRTI_CPU(argminmax_columns)(from, step, count, a->turn, left, found, 4);
            } else {
                many = left;
                for (int32_t t = 0; t < left; t += NNRTI_LANES)
                    NNRTI_CPU(argminmax_columns)(from + t, step, count, a->turn, left - t, found + t, 1);
            }
            for (int32_t t = 0; t < many; t++)
                nnrti_cpu_store_index(y, w.at[0] + (i + t) * w.row[0], found[t]);
        }
    } while (nnrt_walk_next(&w));
}

/* y = index along the axis of the largest, or smallest, element of x; the first one of equal ones. */
static NNRT_ReturnCode NNRTI_CPU(argminmax)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const int32_t axis = ((const nnrti_cpu_argminmax *)attr)->axis;
    NNRTI_CPU(select_job) j;
    nnrt_view starts;
    double work;
    j.attr = attr;
    j.args = args;
    starts = nnrti_cpu_line_starts(&args[0], axis);
    if (!nnrt_walk_first(&j.walk, &args[1], &starts, NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 16.0 * args[0].dims[axis], &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(argminmax_part), &j);
    return NNRT_SUCCESS;
}

/* Whether any lane is not 0. */
NNRTI_CPU_INLINE bool NNRTI_CPU(any_lane)(nnrti_v_bits v)
{
#if NNRTI_CPU_LEVEL == 4
    return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#elif NNRTI_CPU_LEVEL == 3
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    uint64_t part[NNRTI_LANES / 2];
    memcpy(part, &v, sizeof(part));
    return (part[0] | part[1]) != 0;
#endif
}

/* Adds the float32 elements of a dense line that are among the best. The first ones fill the list. */
static void NNRTI_CPU(topk_row)(const nnrt_view *x, ptrdiff_t at, int32_t L, int32_t turn, nnrti_cpu_best *best)
{
    const uint64_t flip = turn != 0 ? ~(uint64_t)0 : 0;
    const float *const from = (const float *)x->data + at;
    nnrti_v_bits least;
    nnrti_cpu_best_scan(best, x, at, 1, 0, 1, best->count, flip);
    if (best->added > 0)
        nnrti_cpu_best_settle(best);
    least = NNRTI_CPU(sort_key)(nnrti_v_all(from[best->list.places[best->have - 1]]), turn);
    for (int32_t k = best->count; k < L; k += NNRTI_LANES) { /* pad with NaN */
        int32_t front[NNRTI_LANES];
        float part[NNRTI_LANES];
        nnrti_v_bits is;
        if (L - k >= NNRTI_LANES) {
            is = NNRTI_CPU(sort_key)(nnrti_v_load(from + k), turn) > least;
        } else {
            nnrti_v_store(part, nnrti_v_all(NAN));
            memcpy(part, from + k, (size_t)(L - k) * sizeof(float));
            is = NNRTI_CPU(sort_key)(nnrti_v_load(part), turn) > least;
        }
        if (!NNRTI_CPU(any_lane)(is))
            continue;
        memcpy(front, &is, sizeof(front));
        for (int32_t t = 0; t < NNRTI_LANES; t++)
            if (front[t] != 0) {
                uint64_t key;
                nnrti_cpu_sort_keys(x, at + k + t, 1, 1, flip, &key);
                nnrti_cpu_best_add(best, key, k + t);
            }
        least = NNRTI_CPU(sort_key)(nnrti_v_all(from[best->list.places[best->have - 1]]), turn);
    }
}

static void NNRTI_CPU(topk_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(select_job) *j = (const NNRTI_CPU(select_job) *)arg;
    const nnrti_cpu_topk *const a = (const nnrti_cpu_topk *)j->attr;
    const nnrt_view *const x = &j->args[0], *const y = &j->args[1], *const places = a->places ? &j->args[2] : NULL;
    const int32_t count = y->dims[a->axis], L = x->dims[a->axis];
    const size_t width = nnrt_type_size(x->dataType);
    const ptrdiff_t step = x->strides[a->axis];
    const int32_t most = step != 1 && count <= NNRTI_CPU_FEW_BEST ? NNRTI_CPU_BEST_LINES : 1;
    void *const scratch = nnrti_cpu_scratch(j->call, worker);
    nnrti_cpu_best best[NNRTI_CPU_BEST_LINES];
    nnrt_walk w = j->walk;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    do
        for (int32_t i = 0; i < w.count; i += most) {
            const int32_t lines = w.count - i < most ? w.count - i : most;
            const ptrdiff_t at = w.at[0] + i * w.row[0];
            for (int32_t t = 0; t < lines; t++)
                nnrti_cpu_best_begin(&best[t], count, t, lines, scratch);
            if (x->dataType == NNRT_DATA_TYPE_FLOAT32 && step == 1 && L >= 256) /* few elements enter */
                NNRTI_CPU(topk_row)(x, at, L, a->rising ? -1 : 0, best);
            else
                nnrti_cpu_best_scan(best, x, at, step, w.row[0], lines, L, a->rising ? ~(uint64_t)0 : 0);
            for (int32_t t = 0; t < lines; t++) {
                const ptrdiff_t value = w.at[1] + (i + t) * w.row[1], index = w.at[2] + (i + t) * w.row[2];
                if (best[t].added > 0)
                    nnrti_cpu_best_settle(&best[t]);
                for (int32_t k = 0; k < count; k++) {
                    const int32_t place = best[t].list.places[k];
                    nnrti_cpu_copy_element(y->data, value + k * y->strides[a->axis], x->data,
                                           at + t * w.row[0] + place * step, width);
                    if (places != NULL)
                        nnrti_cpu_store_index(places, index + k * places->strides[a->axis], place);
                }
            }
        }
    while (nnrt_walk_next(&w));
}

/* The first elements of each line in descending, or ascending, order, and their indices. */
static NNRT_ReturnCode NNRTI_CPU(topk)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_topk *const a = (const nnrti_cpu_topk *)attr;
    NNRTI_CPU(select_job) j;
    nnrt_view starts[3];
    double work;
    j.attr = attr;
    j.args = args;
    j.call = call;
    for (int32_t k = 0; k < (a->places ? 3 : 2); k++)
        starts[k] = nnrti_cpu_line_starts(&args[k], a->axis);
    if (!nnrt_walk_first(&j.walk, &starts[0], &starts[1], a->places ? &starts[2] : NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 16.0 * args[0].dims[a->axis], &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(topk_part), &j);
    return NNRT_SUCCESS;
}

/* Arguments of `resize`. */
typedef struct NNRTI_CPU(resize_job) {
    const nnrti_cpu_resize *attr;
    const nnrt_view *args;
    const nnrt_call *call;
} NNRTI_CPU(resize_job);

/* Horizontal interpolation of a row of x to `count` columns from q on, each a weighted sum of two elements. */
static void NNRTI_CPU(resize_row)(const NNRTI_CPU(resize_job) * j, const float *row, int32_t q, int32_t count,
                                  float *to)
{
    const nnrt_view *const x = &j->args[0], *const y = &j->args[3];
    const int32_t all = y->dims[1] + y->dims[2], C = y->dims[3];
    const int32_t *const cells = (const int32_t *)j->args[1].data + y->dims[1] + q;
    const float *const weights = (const float *)j->args[2].data + y->dims[1] + q;
    for (int32_t k = 0; k < count; k++) {
        const float *const a = row + cells[k] * x->strides[2], *const b = row + cells[all + k] * x->strides[2];
        if (j->attr->last)
            for (int32_t c = 0; c < C; c += NNRTI_LANES)
                nnrti_v_store_part(to + (ptrdiff_t)k * C + c,
                                   nnrti_v_fma(nnrti_v_load_part(b + c, C - c), nnrti_v_all(weights[all + k]),
                                               nnrti_v_load_part(a + c, C - c) * nnrti_v_all(weights[k])),
                                   C - c);
        else
            to[k] = *a * weights[k] + *b * weights[all + k];
    }
}

/* Rows p to end - 1, columns q to q + count - 1 of y. x, y: the first element of the image, or of its plane. LINEAR
   keeps two horizontally interpolated rows in scratch. */
static void NNRTI_CPU(resize_block)(const NNRTI_CPU(resize_job) * j, const float *x, float *y, int32_t p, int32_t end,
                                    int32_t q, int32_t count, float *scratch)
{
    const nnrt_view *const to = &j->args[3];
    const ptrdiff_t stepX = j->args[0].strides[1], column = j->args[0].strides[2];
    const int32_t C = j->attr->last ? to->dims[3] : 1, all = to->dims[1] + to->dims[2];
    const int32_t *const cells = (const int32_t *)j->args[1].data;
    const float *const weights = (const float *)j->args[2].data;
    const int32_t run = to->strides[2] == C || count == 1 ? count * C : C; /* contiguous elements */
    float *const rows[2] = {scratch, j->attr->linear ? scratch + (ptrdiff_t)j->attr->block * C : NULL};
    int32_t have[2] = {-1, -1};
    for (; p < end; p++) {
        const int32_t first = cells[p], second = cells[all + p];
        float *const z = y + p * to->strides[1] + q * to->strides[2];
        if (j->attr->linear) {
            const nnrti_v a = nnrti_v_all(weights[p]), b = nnrti_v_all(weights[all + p]);
            for (int32_t k = 0; k < 2; k++) {
                const int32_t row = k == 0 ? first : second;
                if (have[row & 1] != row)
                    NNRTI_CPU(resize_row)(j, x + row * stepX, q, count, rows[row & 1]);
                have[row & 1] = row;
            }
            for (int32_t k = 0; k < count * C; k += run)
                for (int32_t i = 0; i < run; i += NNRTI_LANES)
                    nnrti_v_store_part(z + k / C * to->strides[2] + i,
                                       nnrti_v_fma(nnrti_v_load_part(rows[second & 1] + k + i, run - i), b,
                                                   nnrti_v_load_part(rows[first & 1] + k + i, run - i) * a),
                                       run - i);
        } else if (have[0] == first && run == count * C) {
            memcpy(z, z - to->strides[1], (size_t)run * sizeof(float));
        } else {
            const int32_t *const columns = cells + to->dims[1] + q;
            const float *const row = x + first * stepX;
            have[0] = first;
            for (int32_t k = 0; k < count && !j->attr->last; k++)
                z[k] = row[columns[k] * column];
            for (int32_t k = 0; k < count && j->attr->last; k++)
                for (int32_t c = 0; c < C; c += NNRTI_LANES)
                    nnrti_v_store_part(z + k * to->strides[2] + c,
                                       nnrti_v_load_part(row + columns[k] * column + c, C - c), C - c);
        }
    }
}

/* Work item: some rows of an image, or of a plane of it. */
static void NNRTI_CPU(resize_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(resize_job) *j = (const NNRTI_CPU(resize_job) *)arg;
    const nnrt_view *const x = &j->args[0], *const y = &j->args[3];
    const int32_t bands = j->attr->bands, planes = j->attr->last ? 1 : y->dims[3], band = (int32_t)i % bands;
    const int32_t c = (int32_t)i / bands % planes, n = (int32_t)i / bands / planes;
    const int32_t first = (int32_t)((int64_t)y->dims[1] * band / bands);
    const int32_t end = (int32_t)((int64_t)y->dims[1] * (band + 1) / bands);
    for (int32_t q = 0; q < y->dims[2]; q += j->attr->block) {
        const int32_t left = y->dims[2] - q;
        NNRTI_CPU(resize_block)
        (j, (const float *)x->data + n * x->strides[0] + c * x->strides[3],
         (float *)y->data + n * y->strides[0] + c * y->strides[3], first, end, q,
         left < j->attr->block ? left : j->attr->block, (float *)nnrti_cpu_scratch(j->call, worker));
    }
}

/* y = x, resized: source elements, or bilinear interpolation, first horizontally, then vertically. */
static NNRT_ReturnCode NNRTI_CPU(resize)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const y = &args[3];
    NNRTI_CPU(resize_job) j;
    j.attr = (const nnrti_cpu_resize *)attr;
    j.args = args;
    j.call = call;
    nnrti_cpu_parallel_for(call, 16.0 * y->dims[0] * y->dims[1] * y->dims[2] * y->dims[3],
                           (uint32_t)(y->dims[0] * (j.attr->last ? 1 : y->dims[3]) * j.attr->bands),
                           NNRTI_CPU(resize_task), &j);
    return NNRT_SUCCESS;
}

/* Arguments of `lrn`. */
typedef struct NNRTI_CPU(lrn_job) {
    const nnrti_cpu_lrn *attr;
    const nnrt_view *args;
    const nnrt_call *call;
} NNRTI_CPU(lrn_job);

/* y = x * (bias + alpha * sums)^power; sums are overwritten. */
static void NNRTI_CPU(lrn_end)(const nnrti_cpu_lrn *a, const float *x, float *sums, float *y, int32_t count)
{
    for (int32_t i = 0; i < count; i += NNRTI_LANES)
        nnrti_v_store_part(
            sums + i, nnrti_v_fma(nnrti_v_all(a->alpha), nnrti_v_load_part(sums + i, count - i), nnrti_v_all(a->bias)),
            count - i);
    NNRTI_CPU(row_of_POWER)(sums, 1, &a->power, 0, sums, count, 0, 0);
    for (int32_t i = 0; i < count; i += NNRTI_LANES)
        nnrti_v_store_part(y + i, nnrti_v_load_part(x + i, count - i) * nnrti_v_load_part(sums + i, count - i),
                           count - i);
}

/* Work item: a row of an image. Squares are added in the order of the channels. */
static void NNRTI_CPU(lrn_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(lrn_job) *j = (const NNRTI_CPU(lrn_job) *)arg;
    const nnrti_cpu_lrn *const a = j->attr;
    const nnrt_view *const x = &j->args[0], *const y = &j->args[1];
    const int32_t n = (int32_t)i / x->dims[1], h = (int32_t)i % x->dims[1], C = x->dims[3], W = x->dims[2];
    const float *const from = (const float *)x->data + n * x->strides[0] + h * x->strides[1];
    float *const to = (float *)y->data + n * y->strides[0] + h * y->strides[1];
    float *const sums = (float *)nnrti_cpu_scratch(j->call, worker);
    float *const squares = sums + C + NNRTI_CPU_MAX_PANEL; /* with zeros on both sides */
    for (int32_t w = 0; w < W && a->last; w++) {
        const float *const pixel = from + w * x->strides[2];
        memset(squares, 0, ((size_t)C + 2 * (size_t)a->radius) * sizeof(float));
        for (int32_t c = 0; c < C; c += NNRTI_LANES) {
            const nnrti_v v = nnrti_v_load_part(pixel + c, C - c);
            nnrti_v_store_part(squares + a->radius + c, v * v, C - c);
        }
        for (int32_t c = 0; c < C; c += NNRTI_LANES) {
            nnrti_v sum = nnrti_v_load_part(squares + c, C - c);
            for (int32_t k = 1; k <= 2 * a->radius; k++)
                sum = sum + nnrti_v_load_part(squares + c + k, C - c);
            nnrti_v_store_part(sums + c, sum, C - c);
        }
        NNRTI_CPU(lrn_end)(a, pixel, sums, to + w * y->strides[2], C);
    }
    for (int32_t c = 0; c < C && !a->last; c++) {
        const int32_t first = c > a->radius ? c - a->radius : 0, end = C - c > a->radius + 1 ? c + a->radius + 1 : C;
        for (int32_t w = 0; w < W; w += NNRTI_LANES) {
            nnrti_v sum = nnrti_v_all(0.0f);
            for (int32_t k = first; k < end; k++) {
                const nnrti_v v = nnrti_v_load_part(from + k * x->strides[3] + w, W - w);
                sum = nnrti_v_fma(v, v, sum);
            }
            nnrti_v_store_part(sums + w, sum, W - w);
        }
        NNRTI_CPU(lrn_end)(a, from + c * x->strides[3], sums, to + c * y->strides[3], W);
    }
}

/* y = x * (bias + alpha * the sum of the squares of neighboring channels)^power. */
static NNRT_ReturnCode NNRTI_CPU(lrn)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const x = &args[0];
    NNRTI_CPU(lrn_job) j;
    j.attr = (const nnrti_cpu_lrn *)attr;
    j.args = args;
    j.call = call;
    nnrti_cpu_parallel_for(call, 200.0 * x->dims[0] * x->dims[1] * x->dims[2] * x->dims[3],
                           (uint32_t)(x->dims[0] * x->dims[1]), NNRTI_CPU(lrn_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>rnn_cells */

/* Cells of LSTM, GRU and RNN. SIMD lanes are cells: a block of LANES cells has all of its gates' sums in registers
   (`gates_microkernel`), then the activations and the state update run on the block (finish_lstm, finish_gru), so
   gates never go through memory between layers of the computation. Weights of h are read once per step for up to
   NNRTI_RECURRENT_ROWS sequences. For one sequence the step is bound by reading these weights from the L2 cache;
   with AVX-512 the products of the next steps' x are computed in the shadow of these reads
   (gates_microkernel_ahead). Alternate steps traverse the blocks in opposite directions, so that the weights read
   last, still in the L1 cache, are read first. */

/* GEMV of the gates of some blocks for some sequences: the sums of each block, gate by gate. */
typedef struct NNRTI_CPU(gates) {
    const uint8_t *panel;                    /* weights of h of the first block; with int8 their scales precede them */
    int32_t type;                            /* of the weights */
    size_t next;                             /* elements from a block to the next */
    const float *h[NNRTI_RECURRENT_ROWS];    /* the multiplied vector of each sequence, k elements */
    const float *from[NNRTI_RECURRENT_ROWS]; /* initial sums of each sequence (products with x) */
    ptrdiff_t step;                          /* floats from one block to the next in `from` */
    const float *last;                       /* initial sums of the last gate; NULL: as the others */
    int32_t k;
    float *to;   /* output: sums of all blocks, by sequence and gate */
    int32_t gap; /* vectors from one gate to the next in the output */
} NNRTI_CPU(gates);

/* The initial sums of gate g of block b of sequence r. */
NNRTI_CPU_INLINE nnrti_v NNRTI_CPU(gates_begin)(const NNRTI_CPU(gates) * s, const int32_t count, const int32_t r,
                                                const int32_t b, const int32_t g)
{
    return nnrti_v_load(s->last != NULL && g == count - 1 ? s->last + b * NNRTI_LANES
                                                          : s->from[r] + b * s->step + g * NNRTI_LANES);
}

/* Recurrent microkernel: `count` gates of `blocks` blocks for `tall` sequences, all sums in registers. Sums of int8
   weights begin at 0, and are multiplied by the scale, then added to the initial sums. */
NNRTI_CPU_INLINE void NNRTI_CPU(gates_microkernel)(const NNRTI_CPU(gates) * gates, const int32_t count,
                                                   const int32_t blocks, const int32_t tall, const int32_t type)
{
    const NNRTI_CPU(gates) copy = *gates, *const s = &copy;
    const uint8_t *w = s->panel;
    nnrti_v sum[16];
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        NNRTI_CPU_UNROLL
    for (int32_t b = 0; b < blocks; b++)
        NNRTI_CPU_UNROLL
    for (int32_t g = 0; g < count; g++)
        sum[(r * count + g) * blocks + b] =
            type == NNRTI_CPU_I8 ? nnrti_v_all(0.0f) : NNRTI_CPU(gates_begin)(s, count, r, b, g);
    w += type == NNRTI_CPU_I8 ? (size_t)(count * NNRTI_LANES) * sizeof(float) : 0;
    for (ptrdiff_t k = 0; k < s->k; k++) {
        nnrti_v value[NNRTI_RECURRENT_ROWS];
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            value[r] = nnrti_v_all(s->h[r][k]);
        NNRTI_CPU_UNROLL
        for (int32_t b = 0; b < blocks; b++)
            NNRTI_CPU_UNROLL
        for (int32_t g = 0; g < count; g++) {
            const nnrti_v weight = nnrti_v_weights(w, (size_t)b * s->next + (size_t)g * NNRTI_LANES, type);
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < tall; r++)
                sum[(r * count + g) * blocks + b] = nnrti_v_fma(value[r], weight, sum[(r * count + g) * blocks + b]);
        }
        w += count * NNRTI_LANES * (4 >> type);
    }
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < tall * count; i++)
        NNRTI_CPU_UNROLL
    for (int32_t b = 0; b < blocks; b++) {
        nnrti_v v = sum[i * blocks + b];
        if (type == NNRTI_CPU_I8)
            v = nnrti_v_fma(v,
                            nnrti_v_weights(s->panel + (size_t)b * s->next, (size_t)(i % count * NNRTI_LANES), NNRTI_CPU_F32),
                            NNRTI_CPU(gates_begin)(s, count, i / count, b, i % count));
        nnrti_v_store(s->to + (i * s->gap + b) * NNRTI_LANES, v);
    }
}

/* Instances: one sequence by two blocks, by one, and several sequences by one; for every type of weights. */
#define NNRTI_CPU_GATES_OF(name, count, blocks, tall, type)                                                            \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(gates_microkernel_##type##_##name)(const NNRTI_CPU(gates) * s)            \
    {                                                                                                                  \
        NNRTI_CPU(gates_microkernel)(s, count, blocks, tall, NNRTI_CPU_SMALL * NNRTI_CPU_##type);                      \
    }
#define NNRTI_CPU_GATES_TYPE(count, type)                                                                              \
    NNRTI_CPU_GATES_OF(two_##count, count, 2, 1, type)                                                                 \
    NNRTI_CPU_GATES_OF(one_##count, count, 1, 1, type)                                                                 \
    NNRTI_CPU_GATES_OF(tall_##count, count, 1, NNRTI_RECURRENT_ROWS, type)
#if NNRTI_CPU_SMALL
#define NNRTI_CPU_GATES(count)                                                                                         \
    NNRTI_CPU_GATES_TYPE(count, F32)                                                                                   \
    NNRTI_CPU_GATES_TYPE(count, F16)                                                                                   \
    NNRTI_CPU_GATES_TYPE(count, I8)
#else
#define NNRTI_CPU_GATES(count) NNRTI_CPU_GATES_TYPE(count, F32)
#endif
NNRTI_CPU_GATES(4)
NNRTI_CPU_GATES(3)
NNRTI_CPU_GATES(2)
NNRTI_CPU_GATES(1)

/* Dispatches to the instance for the number of gates, blocks and sequences. */
static void NNRTI_CPU(gates_dispatch)(const NNRTI_CPU(gates) * s, int32_t count, int32_t blocks, bool tall)
{
    typedef void (*function)(const NNRTI_CPU(gates) * s);
#define NNRTI_CPU_GATES_ROW(name)                                                                                      \
    {NNRTI_CPU(gates_microkernel_##name##_1), NNRTI_CPU(gates_microkernel_##name##_2),                                 \
     NNRTI_CPU(gates_microkernel_##name##_3), NNRTI_CPU(gates_microkernel_##name##_4)}
#define NNRTI_CPU_GATES_ROWS(type)                                                                                     \
    {NNRTI_CPU_GATES_ROW(type##_two), NNRTI_CPU_GATES_ROW(type##_one), NNRTI_CPU_GATES_ROW(type##_tall)}
    static const function functions[][3][4] = {NNRTI_CPU_GATES_ROWS(F32),
#if NNRTI_CPU_SMALL
                                               NNRTI_CPU_GATES_ROWS(F16), NNRTI_CPU_GATES_ROWS(I8)
#endif
    };
    functions[s->type][tall ? 2 : blocks == 2 ? 0 : 1][count - 1](s);
}

#if NNRTI_CPU_LEVEL == 4
/* Terms k to end - 1 of the sums of four gates with h (state), and of two gates with x of some time steps (input),
   or of either. */
NNRTI_CPU_INLINE void NNRTI_CPU(add_terms)(const float *h, const float *second, nnrti_v *sum, const float *const *x,
                                           const float *first, nnrti_v *other, int32_t k, int32_t end, const bool state,
                                           const bool input)
{
    for (ptrdiff_t i = k; i < end; i++) {
        if (state) {
            const nnrti_v value = nnrti_v_all(h[i]);
            NNRTI_CPU_UNROLL
            for (int32_t g = 0; g < 4; g++)
                sum[g] = nnrti_v_fma(value, nnrti_v_load(second + (4 * i + g) * NNRTI_LANES), sum[g]);
        }
        if (input) {
            const nnrti_v weight = nnrti_v_load(first + 2 * i * NNRTI_LANES);
            const nnrti_v more = nnrti_v_load(first + (2 * i + 1) * NNRTI_LANES);
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < NNRTI_CPU_AHEAD; r++) {
                const nnrti_v value = nnrti_v_all(x[r][i]);
                other[2 * r] = nnrti_v_fma(value, weight, other[2 * r]);
                other[2 * r + 1] = nnrti_v_fma(value, more, other[2 * r + 1]);
            }
        }
    }
}

/* gates_microkernel_4_one, interleaved with the products of two gates of a block and x of later time steps, I
   elements each, by a panel of `gemm`'s format. The two computations are independent, so one fills the stalls of the
   other. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(gates_microkernel_ahead)(const NNRTI_CPU(gates) * s, const float *const *steps,
                                                                  const float *first, int32_t I, float *const *to)
{
    const int32_t both = I < s->k ? I : s->k, all = s->k;
    const float *const h = s->h[0], *const second = (const float *)(const void *)s->panel, *x[NNRTI_CPU_AHEAD];
    nnrti_v sum[4], other[2 * NNRTI_CPU_AHEAD];
    NNRTI_CPU_UNROLL
    for (int32_t g = 0; g < 4; g++)
        sum[g] = nnrti_v_load(s->from[0] + g * NNRTI_LANES);
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < NNRTI_CPU_AHEAD; r++) {
        x[r] = steps[r];
        other[2 * r] = nnrti_v_load(first);
        other[2 * r + 1] = nnrti_v_load(first + NNRTI_LANES);
    }
    first += 2 * NNRTI_LANES;
    NNRTI_CPU(add_terms)(h, second, sum, x, first, other, 0, both, true, true);
    NNRTI_CPU(add_terms)(h, second, sum, x, first, other, both, all, true, false);
    NNRTI_CPU(add_terms)(h, second, sum, x, first, other, both, I, false, true);
    NNRTI_CPU_UNROLL
    for (int32_t g = 0; g < 4; g++)
        nnrti_v_store(s->to + g * s->gap * NNRTI_LANES, sum[g]);
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < NNRTI_CPU_AHEAD; r++) {
        nnrti_v_store(to[r], other[2 * r]);
        nnrti_v_store(to[r] + NNRTI_LANES, other[2 * r + 1]);
    }
}
#endif

/* Some sequences in one direction of a layer, and the operands of a time step. */
typedef struct NNRTI_CPU(cell_step) {
    const nnrti_cpu_recurrent *attr;
    const void *second; /* the second packed constant */
    const float *third; /* the third */
    const NNRT_ActivationType *functions;
    int32_t sequences;
    const float *from;       /* products with x of this step: for each sequence those of all gates */
    const float *h;          /* `padded` elements per sequence, as in the next three */
    float *next, *c, *aside; /* aside: r . h of a GRU whose last gate is apart; c then holds z */
    float *y;                /* output h of the first sequence */
    ptrdiff_t stepY;         /* from one sequence to the next */
    int32_t first, end;      /* gates to compute */
    bool ahead;              /* also compute products of later steps: */
    const float *x[NNRTI_CPU_AHEAD];
    float *to[NNRTI_CPU_AHEAD]; /* their output, of all gates */
    int32_t gate;               /* the first of the two gates whose products are computed */
    const float *weights;       /* the first packed constant */
    int32_t I;                  /* elements of x */
    bool down;                  /* traverse blocks backwards, so that weights read last are read first */
    uint32_t parts;             /* work items of a step */
} NNRTI_CPU(cell_step);

/* v = activation(clamp(v, -clip, clip)); no clamp if clip is 0. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(clipped_activation)(float *v, int32_t count, float clip,
                                                             NNRT_ActivationType activation)
{
    for (int32_t i = 0; i < count && clip > 0; i += NNRTI_LANES)
        nnrti_v_store(v + i, nnrti_v_max(nnrti_v_all(-clip), nnrti_v_min(nnrti_v_all(clip), nnrti_v_load(v + i))));
    NNRTI_CPU(activation_row)(v, v, count, activation);
}

/* z += x * y for count elements, whole vectors. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(fma_row)(const float *x, const float *y, float *z, int32_t count)
{
    for (int32_t i = 0; i < count; i += NNRTI_LANES)
        nnrti_v_store(z + i, nnrti_v_fma(nnrti_v_load(x + i), nnrti_v_load(y + i), nnrti_v_load(z + i)));
}

/* The cell update of an LSTM for `count` cells: sums are gate by gate i, o, f and the cell; c and h become those of
   the next step. */
static void NNRTI_CPU(finish_lstm)(const NNRTI_CPU(cell_step) * s, int32_t cell, float *sums, int32_t count, float *c,
                                   float *h)
{
    const nnrti_cpu_recurrent *a = s->attr;
    float *const o = sums + count, *const f = o + count, *const g = f + count;
    const float *const p = s->third + cell;
    if (a->plain) { /* sigmoid(x) * tanh(y) is one quotient */
        const nnrti_v one = nnrti_v_all(1.0f), zero = nnrti_v_all(0.0f);
        for (int32_t k = 0; k < count; k += NNRTI_LANES) {
            const nnrti_v in = one + nnrti_v_exp(zero - nnrti_v_load(sums + k));
            const nnrti_v out = one + nnrti_v_exp(zero - nnrti_v_load(o + k));
            nnrti_v by, next = nnrti_v_tanh_parts(nnrti_v_load(g + k), &by);
            next = nnrti_v_fma(nnrti_v_sigmoid(nnrti_v_load(f + k)), nnrti_v_load(c + k), next / (in * by));
            nnrti_v_store(c + k, next);
            next = nnrti_v_tanh_parts(next, &by);
            nnrti_v_store(h + k, next / (out * by));
        }
        return;
    }
    if (a->peephole) {
        NNRTI_CPU(fma_row)(p, c, sums, count);
        NNRTI_CPU(fma_row)(p + 2 * a->padded, c, f, count);
    }
    NNRTI_CPU(clipped_activation)(sums, count, a->clip, s->functions[0]);
    NNRTI_CPU(clipped_activation)(f, count, a->clip, s->functions[0]);
    NNRTI_CPU(clipped_activation)(g, count, a->clip, s->functions[1]);
    for (int32_t k = 0; k < count; k += NNRTI_LANES) {
        const nnrti_v in = nnrti_v_load(sums + k);
        nnrti_v keep = nnrti_v_load(f + k);
        if (a->inputForget)
            keep = nnrti_v_all(1.0f) - in;
        nnrti_v_store(c + k, nnrti_v_fma(keep, nnrti_v_load(c + k), in * nnrti_v_load(g + k)));
    }
    if (a->peephole)
        NNRTI_CPU(fma_row)(p + a->padded, c, o, count);
    NNRTI_CPU(clipped_activation)(o, count, a->clip, s->functions[0]);
    memcpy(g, c, (size_t)count * sizeof(float));
    NNRTI_CPU(clipped_activation)(g, count, a->clip, s->functions[2]);
    for (int32_t k = 0; k < count; k += NNRTI_LANES)
        nnrti_v_store(h + k, nnrti_v_load(o + k) * nnrti_v_load(g + k));
}

/* next = (1 - z) . n + z . h */
static void NNRTI_CPU(gru_mix)(const float *z, const float *n, const float *h, float *next, int32_t count)
{
    for (int32_t k = 0; k < count; k += NNRTI_LANES) {
        const nnrti_v keep = nnrti_v_load(z + k);
        nnrti_v_store(next + k,
                      nnrti_v_fma(keep, nnrti_v_load(h + k), (nnrti_v_all(1.0f) - keep) * nnrti_v_load(n + k)));
    }
}

/* The cell update of a GRU, whose gates are z, r and n; from: products with x, block by block and gate by gate. */
static void NNRTI_CPU(finish_gru)(const NNRTI_CPU(cell_step) * s, const float *from, float *sums, int32_t count,
                                  ptrdiff_t at, float *next)
{
    const nnrti_cpu_recurrent *a = s->attr;
    float *const r = sums + count, *const n = r + count;
    const float *const h = s->h + at;
    if (s->first > 0) { /* only the last gate, which is apart */
        NNRTI_CPU(clipped_activation)(sums, count, a->clip, s->functions[1]);
        NNRTI_CPU(gru_mix)(s->c + at, sums, h, next, count);
        return;
    }
    NNRTI_CPU(clipped_activation)(sums, 2 * count, a->clip, s->functions[0]);
    if (a->apart) {
        for (int32_t k = 0; k < count; k += NNRTI_LANES) {
            nnrti_v_store(s->c + at + k, nnrti_v_load(sums + k));
            nnrti_v_store(s->aside + at + k, nnrti_v_load(r + k) * nnrti_v_load(h + k));
        }
        return;
    }
    for (int32_t k = 0; k < count; k += NNRTI_LANES)
        nnrti_v_store(n + k, nnrti_v_fma(nnrti_v_load(r + k), nnrti_v_load(n + k),
                                         nnrti_v_load(from + (k / NNRTI_LANES * 3 + 2) * NNRTI_LANES)));
    NNRTI_CPU(clipped_activation)(n, count, a->clip, s->functions[1]);
    NNRTI_CPU(gru_mix)(sums, n, h, next, count);
}

/* The cell update of one sequence for the `count` cells from `cell` on, from their sums. */
static void NNRTI_CPU(finish_cells)(const NNRTI_CPU(cell_step) * s, int32_t n, int32_t cell, float *sums, int32_t count)
{
    const nnrti_cpu_recurrent *a = s->attr;
    const ptrdiff_t at = (ptrdiff_t)n * a->padded + cell;
    float *const next = s->next + at;
    if (a->gates == 4)
        NNRTI_CPU(finish_lstm)(s, cell, sums, count, s->c + at, next);
    else if (a->gates == 3)
        NNRTI_CPU(finish_gru)
    (s, s->from + ((ptrdiff_t)n * a->padded + cell) * a->gates, sums, count, at, next);
    else
    {
        NNRTI_CPU(clipped_activation)(sums, count, a->clip, s->functions[0]);
        memcpy(next, sums, (size_t)count * sizeof(float));
    }
}

#if NNRTI_CPU_LEVEL == 4
/* Sums of one block and one sequence, interleaved with products of later steps. */
static void NNRTI_CPU(gates_and_ahead)(const NNRTI_CPU(cell_step) * s, const NNRTI_CPU(gates) * g, int32_t block)
{
    const size_t panel = (size_t)(2 * NNRTI_LANES) * (size_t)(1 + s->I);
    float *to[NNRTI_CPU_AHEAD];
    for (int32_t r = 0; r < NNRTI_CPU_AHEAD; r++)
        to[r] = s->to[r] + (ptrdiff_t)(4 * block + s->gate) * NNRTI_LANES;
    NNRTI_CPU(gates_microkernel_ahead)(g, s->x, s->weights + (size_t)(2 * block + s->gate / 2) * panel, s->I, to);
}
#endif

/* The weights of h of the blocks from element `at` of the second packed constant on. */
static void NNRTI_CPU(gates_at)(const NNRTI_CPU(cell_step) * s, size_t at, NNRTI_CPU(gates) * g)
{
    g->type = s->attr->gemm.type;
    g->panel = (const uint8_t *)s->second + at * (size_t)(4 >> g->type);
}

/* Sums of the gates of `blocks` blocks of one sequence from block `first` on, gate by gate; their weights from element
   `at` on. */
static void NNRTI_CPU(gates_of_blocks)(const NNRTI_CPU(cell_step) * s, NNRTI_CPU(gates) * g, int32_t first,
                                       int32_t blocks, size_t at, float *sums)
{
    const float *const from = g->from[0];
    g->gap = blocks;
    g->to = sums;
    if (!s->attr->narrow) {
        NNRTI_CPU(gates_dispatch)(g, s->end - s->first, blocks, false);
        return;
    }
    for (int32_t i = 0; i < blocks; i++) {
        const int32_t b = s->down ? blocks - 1 - i : i;
        NNRTI_CPU(gates_at)(s, at + (size_t)b * g->next, g);
        g->from[0] = from + b * g->step;
        g->to = sums + b * NNRTI_LANES;
#if NNRTI_CPU_LEVEL == 4
        if (s->ahead) {
            NNRTI_CPU(gates_and_ahead)(s, g, first + b);
            continue;
        }
#endif
        NNRTI_CPU(gates_dispatch)(g, s->end - s->first, 1, false);
    }
    (void)first; /* used with 16 lanes only */
}

/* A time step of all sequences for `count` blocks of cells, one or two, from block `first` on. */
static void NNRTI_CPU(step_blocks)(const NNRTI_CPU(cell_step) * s, int32_t first, int32_t count)
{
    const nnrti_cpu_recurrent *a = s->attr;
    const int32_t gates = s->end - s->first;
    const float *const by = s->first > 0 ? s->aside : s->h;
    const size_t depth = (size_t)nnrti_cpu_state_depth(a);
    float sums[16 * NNRTI_LANES];
    NNRTI_CPU(gates) g;
    g.next = (size_t)gates * NNRTI_LANES * depth;
    g.step = (ptrdiff_t)a->gates * NNRTI_LANES;
    g.k = a->cells;
    for (int32_t b = first; b < first + count; b += s->sequences == 1 ? count : 1) {
        const int32_t blocks = s->sequences == 1 ? count : 1, cell = b * NNRTI_LANES;
        const size_t weights = (size_t)s->first * (size_t)a->padded * depth + (size_t)b * g.next;
        NNRTI_CPU(gates_at)(s, weights, &g);
        g.last = a->gates == 3 && !a->apart ? s->third + cell : NULL;
        for (int32_t n = 0; n < s->sequences; n += NNRTI_RECURRENT_ROWS) {
            const int32_t left = s->sequences - n, tall = left < NNRTI_RECURRENT_ROWS ? left : NNRTI_RECURRENT_ROWS;
            for (int32_t r = 0; r < NNRTI_RECURRENT_ROWS; r++) {
                const ptrdiff_t at = (ptrdiff_t)(n + (r < tall ? r : tall - 1)) * a->padded;
                g.h[r] = by + at;
                g.from[r] = s->from + (at + cell) * a->gates + s->first * NNRTI_LANES;
            }
            g.to = sums;
            g.gap = blocks;
            if (s->sequences == 1)
                NNRTI_CPU(gates_of_blocks)(s, &g, b, blocks, weights, sums);
            else
                NNRTI_CPU(gates_dispatch)(&g, gates, 1, tall > 1);
            for (int32_t r = 0; r < tall; r++)
                NNRTI_CPU(finish_cells)
            (s, n + r, cell, sums + (ptrdiff_t)r * gates * blocks * NNRTI_LANES, blocks * NNRTI_LANES);
        }
    }
}

/* Work item of a time step: a thread gets the same blocks in each step, in either direction. */
static void NNRTI_CPU(cell_step_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(cell_step) *s = (const NNRTI_CPU(cell_step) *)arg;
    const int64_t all = s->attr->padded / NNRTI_LANES;
    const int32_t from = (int32_t)(all * i / s->parts), to = (int32_t)(all * (i + 1) / s->parts);
    (void)worker;
    for (int32_t k = 0, count; k < to - from; k += count) {
        count = to - from - k < 2 ? 1 : 2;
        NNRTI_CPU(step_blocks)(s, s->down ? to - k - count : from + k, count);
    }
}

/* One time step of all cells; stores the results. */
static void NNRTI_CPU(run_step)(NNRTI_CPU(cell_step) * s, const nnrt_call *call)
{
    const nnrti_cpu_recurrent *a = s->attr;
    const int32_t blocks = a->padded / NNRTI_LANES;
    const double work = nnrti_cpu_weight_read_cost(s->sequences) * s->sequences * a->padded * a->cells;
    s->first = 0;
    s->end = a->apart ? 2 : a->gates;
    s->parts = nnrti_cpu_panel_parts(work * s->end, blocks,
                                     call != NULL && call->parallel != NULL ? call->parallel->workers : 1);
    nnrti_cpu_parallel_for(call, work * s->end, s->parts, NNRTI_CPU(cell_step_task), s);
    if (a->apart) {
        s->first = 2;
        s->end = 3;
        nnrti_cpu_parallel_for(call, work, s->parts, NNRTI_CPU(cell_step_task), s);
    }
    for (int32_t n = 0; n < s->sequences; n++)
        memcpy(s->y + n * s->stepY, s->next + (ptrdiff_t)n * a->padded, (size_t)a->cells * sizeof(float));
}

/* Arguments of `recurrent`. */
typedef struct NNRTI_CPU(recurrent_job) {
    const nnrti_cpu_recurrent *attr;
    const nnrt_view *args;
    const nnrt_call *call;
    int32_t layer;
    bool alone; /* there is one task, which runs parallel_for itself */
} NNRTI_CPU(recurrent_job);

/* GEMM of the weights of x and time steps t to t + steps - 1 of some sequences from n on; `to` gets C floats for
   each. */
static void NNRTI_CPU(gemm_steps)(const NNRTI_CPU(recurrent_job) * j, const nnrt_view *x, const float *packed,
                                  int32_t t, int32_t steps, int32_t n, int32_t sequences, nnrt_call *call,
                                  uint32_t worker, float *to)
{
    const nnrti_cpu_recurrent *a = j->attr;
    const int32_t C = a->gates * a->padded;
    NNRTI_CPU(gemm_job) p;
    nnrt_view in, none, weights, out;
    uint32_t pieces;
    memset(&in, 0, sizeof(in));
    memset(&none, 0, sizeof(none));
    memset(&weights, 0, sizeof(weights));
    memset(&out, 0, sizeof(out));
    memset(&p, 0, sizeof(p));
    in.rank = out.rank = 4;
    in.dims[0] = out.dims[0] = 1;
    in.dims[1] = out.dims[1] = steps;
    in.dims[2] = out.dims[2] = sequences;
    in.dims[3] = x->dims[2];
    in.strides[1] = x->strides[0];
    in.strides[2] = x->strides[1];
    in.strides[3] = out.strides[3] = 1;
    in.data = (float *)x->data + t * x->strides[0] + n * x->strides[1];
    out.dims[3] = C;
    out.strides[2] = C;
    out.strides[1] = (ptrdiff_t)C * sequences;
    out.data = to;
    weights.dims[0] = C;
    weights.dims[1] = nnrti_cpu_head(a->gemm.type) + x->dims[2];
    weights.data = (void *)(uintptr_t)packed;
    p.attr = &a->gemm;
    p.x = &in;
    p.z = p.last = &none;
    p.packed = &weights;
    p.y = &out;
    p.call = call;
    p.pixels = (int64_t)steps * sequences;
    p.panels = (C + NNRTI_PANEL_VECTORS * NNRTI_LANES - 1) / (NNRTI_PANEL_VECTORS * NNRTI_LANES);
    p.bounds = nnrti_cpu_activation_bounds(a->gemm.conv.activation, &p.low, &p.high);
    (void)nnrti_cpu_activation_bounds(a->gemm.sum, &p.sumLow, &p.sumHigh);
    pieces = (uint32_t)nnrti_cpu_div_up(p.pixels, a->gemm.rows) * a->gemm.parts;
    if (j->alone)
        nnrti_cpu_parallel_for(call, (double)p.pixels * C * weights.dims[1], pieces, NNRTI_CPU(gemm_task), &p);
    for (uint32_t i = 0; i < pieces && !j->alone; i++)
        NNRTI_CPU(gemm_task)(&p, i, worker);
}

/* Reads the initial state of sequence n, row `row`; without a tensor it is 0. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(read_state)(const nnrt_view *v, int32_t row, int32_t n, int32_t count,
                                                     int32_t padded, float *to)
{
    memset(to, 0, (size_t)padded * sizeof(float));
    if (v->data != NULL)
        memcpy(to, (const float *)v->data + row * v->strides[0] + n * v->strides[1], (size_t)count * sizeof(float));
}

/* Stores a final state, if the operator has that result. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(write_state)(const nnrt_view *v, int32_t row, int32_t n, int32_t count,
                                                      const float *from)
{
    if (v->data != NULL)
        memcpy((float *)v->data + row * v->strides[0] + n * v->strides[1], from, (size_t)count * sizeof(float));
}

/* The input x [T,N,I] and output y [T,D,N,H] of a layer; between layers the tensors are [T,N,D*H], two of which
   alternate. */
static void NNRTI_CPU(find_layer)(const NNRTI_CPU(recurrent_job) * j, nnrt_view *x, nnrt_view *y)
{
    const nnrti_cpu_recurrent *a = j->attr;
    const int32_t T = j->args[0].dims[0], N = j->args[0].dims[1];
    const ptrdiff_t width = (ptrdiff_t)a->directions * a->cells, floats = T * N * width;
    float *const between = (float *)j->args[10].data;
    *x = j->args[0];
    *y = j->args[7];
    if (j->layer > 0) {
        x->data = between + (j->layer - 1) % 2 * floats;
        x->strides[0] = N * width;
        x->strides[1] = width;
    }
    if (j->layer < a->layers - 1) {
        y->data = between + j->layer % 2 * floats;
        y->strides[0] = N * width;
        y->strides[1] = a->cells;
        y->strides[2] = width;
    }
}

/* Selects the products that step k computes ahead, of `steps` time steps from t on, with results in `to`; past the
   end, the last step is repeated. */
static void NNRTI_CPU(choose_ahead)(NNRTI_CPU(cell_step) * s, const nnrt_view *x, int32_t n, int32_t t, int32_t steps,
                                    int32_t k, float *to)
{
    const nnrti_cpu_recurrent *a = s->attr;
    const int32_t first = k / 2 * NNRTI_CPU_AHEAD;
    s->ahead = a->ahead && first < steps;
    s->gate = k % 2 * 2;
    for (int32_t r = 0; r < NNRTI_CPU_AHEAD && s->ahead; r++) {
        const int32_t i = first + r < steps ? first + r : steps - 1;
        s->x[r] = (const float *)x->data + (t + i) * x->strides[0] + n * x->strides[1];
        s->to[r] = to + (ptrdiff_t)i * a->gates * a->padded;
    }
}

/* Work item: some sequences in one direction of a layer, all time steps. */
static void NNRTI_CPU(recurrent_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(recurrent_job) *j = (const NNRTI_CPU(recurrent_job) *)arg;
    const nnrti_cpu_recurrent *a = j->attr;
    const int32_t d = (int32_t)(i % (uint32_t)a->directions), n = (int32_t)(i / (uint32_t)a->directions) * a->sequences;
    const int32_t row = j->layer * a->directions + d, C = a->gates * a->padded, extra = nnrti_cpu_recurrent_extra(a);
    const int32_t T = j->args[0].dims[0], N = j->args[0].dims[1];
    const bool back = a->backward || d == 1;
    const size_t each = (size_t)C * (size_t)(4 >> a->gemm.type); /* bytes per term of all gates */
    const int32_t len = j->args[3].data != NULL ? (int32_t)nnrt_load_index(&j->args[3], n * j->args[3].strides[0]) : T;
    float *from = (float *)nnrti_cpu_scratch(j->call, worker);
    float *later = from + (a->ahead ? (size_t)a->gemm.rows * (size_t)C : 0); /* products of the next steps */
    float *h = from + a->floats - 4 * (size_t)a->sequences * (size_t)a->padded, *next;
    nnrt_call call = *j->call;
    nnrt_view x, y;
    NNRTI_CPU(cell_step) s;
    NNRTI_CPU(find_layer)(j, &x, &y);
    memset(&s, 0, sizeof(s));
    s.attr = a;
    s.weights = (const float *)(const void *)((const uint8_t *)j->args[4].data +
                                              (size_t)row * each * (size_t)(nnrti_cpu_head(a->gemm.type) + x.dims[2]));
    s.I = x.dims[2];
    s.second = (const uint8_t *)j->args[5].data + (size_t)row * each * (size_t)nnrti_cpu_state_depth(a);
    s.third = (const float *)j->args[6].data + (size_t)row * (size_t)extra * (size_t)a->padded;
    s.functions = a->functions[d];
    s.sequences = N - n < a->sequences ? N - n : a->sequences;
    s.stepY = y.strides[2];
    next = h + (size_t)a->sequences * (size_t)a->padded;
    s.c = next + (size_t)a->sequences * (size_t)a->padded;
    s.aside = s.c + (size_t)a->sequences * (size_t)a->padded;
    call.scratch = (float *)call.scratch + a->floats; /* the GEMM's scratch follows */
    for (int32_t k = 0; k < s.sequences; k++) {
        NNRTI_CPU(read_state)(&j->args[1], row, n + k, a->cells, a->padded, h + (ptrdiff_t)k * a->padded);
        NNRTI_CPU(read_state)(&j->args[2], row, n + k, a->cells, a->padded, s.c + (ptrdiff_t)k * a->padded);
    }
    for (int32_t done = 0, steps; done < len; done += steps) {
        int32_t rest, begin;
        float *const mine = from;
        steps = len - done < a->steps ? len - done : a->steps;
        rest = len - done - steps < a->steps ? len - done - steps : a->steps;
        begin = back ? len - done - steps : done;
        if (!a->ahead || done == 0)
            NNRTI_CPU(gemm_steps)(j, &x, s.weights, begin, steps, n, s.sequences, &call, worker, from);
        for (int32_t k = 0; k < steps; k++) {
            const int32_t at = back ? steps - 1 - k : k;
            float *const old = h;
            NNRTI_CPU(choose_ahead)(&s, &x, n, back ? begin - rest : begin + steps, rest, k, later);
            s.from = from + (ptrdiff_t)at * s.sequences * C;
            s.h = h;
            s.next = next;
            s.y = (float *)y.data + (begin + at) * y.strides[0] + d * y.strides[1] + n * y.strides[2];
            s.down = !s.down;
            NNRTI_CPU(run_step)(&s, j->alone ? j->call : NULL);
            h = next;
            next = old;
        }
        from = later;
        later = mine;
    }
    for (int32_t k = 0; k < s.sequences; k++) {
        NNRTI_CPU(write_state)(&j->args[8], row, n + k, a->cells, h + (ptrdiff_t)k * a->padded);
        NNRTI_CPU(write_state)(&j->args[9], row, n + k, a->cells, s.c + (ptrdiff_t)k * a->padded);
        for (int32_t t = len; t < T; t++)
            memset((float *)y.data + t * y.strides[0] + d * y.strides[1] + (n + k) * y.strides[2], 0,
                   (size_t)a->cells * sizeof(float));
    }
}

/* All sequences through all layers. */
static NNRT_ReturnCode NNRTI_CPU(recurrent)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_recurrent *a = (const nnrti_cpu_recurrent *)attr;
    const int32_t T = args[0].dims[0], N = args[0].dims[1];
    const uint32_t tasks = (uint32_t)(nnrti_cpu_div_up(N, a->sequences) * a->directions);
    const double work = (double)T * N * a->directions * a->gates * a->padded * ((double)a->cells + args[0].dims[2]);
    NNRTI_CPU(recurrent_job) j;
    j.attr = a;
    j.args = args;
    j.call = call;
    j.alone = tasks == 1;
    for (int32_t n = 0; n < N && args[3].data != NULL; n++) {
        const int64_t len = nnrt_load_index(&args[3], n * args[3].strides[0]);
        if (len < 0 || len > T)
            return nnrt_call_fail(call, NNRT_INVALID_PARAMETER, "sequenceLens[%d] is %l, expected 0 to %d", n, len, T);
    }
    for (j.layer = 0; j.layer < a->layers; j.layer++)
        if (j.alone)
            NNRTI_CPU(recurrent_task)(&j, 0, 0);
        else
            nnrti_cpu_parallel_for(call, work, tasks, NNRTI_CPU(recurrent_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>float64_gemm */

/* GEMM of float64. A register tile is some rows by one or two vectors of columns: a panel has NNRTI_LANES columns, packed or
   read in place. Each sum starts with the bias and runs over k in ascending order, as on the reference device; a product and
   its addition are rounded once where the ISA fuses them. */

NNRTI_CPU_INLINE nnrti_d NNRTI_CPU(d_load)(const double *p)
{
    nnrti_d v;
    memcpy(&v, p, sizeof(v));
    return v;
}
NNRTI_CPU_INLINE nnrti_d NNRTI_CPU(d_all)(double f)
{
#if NNRTI_CPU_LEVEL == 4
    return (nnrti_d)_mm512_set1_pd(f);
#elif NNRTI_CPU_LEVEL == 3
    return (nnrti_d)_mm256_set1_pd(f);
#else
    const nnrti_d v = {f, f};
    return v;
#endif
}
NNRTI_CPU_INLINE nnrti_d NNRTI_CPU(d_fma)(nnrti_d a, nnrti_d b, nnrti_d c)
{
#if NNRTI_CPU_LEVEL == 4
    return (nnrti_d)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif NNRTI_CPU_LEVEL == 3
    return (nnrti_d)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif NNRTI_CPU_LEVEL == 2
    return (nnrti_d)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

/* Where a tile reads and writes. */
typedef struct NNRTI_CPU(f64_tile) {
    const double *x, *y;
    double *z;
    ptrdiff_t row, term; /* steps of x: to the next row, to the next term of a sum */
    ptrdiff_t next, to;  /* steps to the next row of y, and of z */
    int32_t K, count;    /* columns of z; y has whole vectors */
    double bias[NNRTI_LANES];
} NNRTI_CPU(f64_tile);

/* `rows` rows of z by `vectors` vectors of columns. */
NNRTI_CPU_INLINE void NNRTI_CPU(f64_rows)(const NNRTI_CPU(f64_tile) * t, const int32_t rows, const int32_t vectors)
{
    enum { D = NNRTI_LANES / 2 };
    const double *x[NNRTI_TILE_ROWS], *y = t->y;
    nnrti_d sum[NNRTI_TILE_ROWS][2];
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < rows; r++) {
        x[r] = t->x + r * t->row;
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < vectors; v++)
            sum[r][v] = NNRTI_CPU(d_load)(t->bias + v * D);
    }
    for (ptrdiff_t k = 0, at = 0; k < t->K; k++, at += t->term, y += t->next) {
        nnrti_d b[2];
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < vectors; v++)
            b[v] = NNRTI_CPU(d_load)(y + v * D);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows; r++) {
            const nnrti_d a = NNRTI_CPU(d_all)(x[r][at]);
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < vectors; v++)
                sum[r][v] = NNRTI_CPU(d_fma)(a, b[v], sum[r][v]);
        }
    }
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < rows; r++) {
        double part[NNRTI_LANES];
        double *const to = t->count < vectors * D ? part : t->z + r * t->to;
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < vectors; v++)
            memcpy(to + v * D, &sum[r][v], sizeof(nnrti_d));
        for (int32_t i = 0; i < t->count && to == part; i++)
            t->z[r * t->to + i] = part[i];
    }
}

/* A panel: M rows of z. */
NNRTI_CPU_INLINE void NNRTI_CPU(f64_panel)(NNRTI_CPU(f64_tile) * t, int32_t M, const int32_t vectors)
{
    for (int32_t rows; M > 0; M -= rows, t->x += rows * t->row, t->z += rows * t->to) {
        if (M >= NNRTI_TILE_ROWS) {
            rows = NNRTI_TILE_ROWS;
            NNRTI_CPU(f64_rows)(t, NNRTI_TILE_ROWS, vectors);
        } else if (M >= 4 && NNRTI_TILE_ROWS > 4 && vectors > 1) {
            rows = 4;
            NNRTI_CPU(f64_rows)(t, 4, vectors);
        } else {
            rows = 1;
            NNRTI_CPU(f64_rows)(t, 1, vectors);
        }
    }
}
NNRTI_CPU_NOINLINE static void NNRTI_CPU(f64_panel_1)(NNRTI_CPU(f64_tile) * t, int32_t M)
{
    NNRTI_CPU(f64_panel)(t, M, 1);
}
NNRTI_CPU_NOINLINE static void NNRTI_CPU(f64_panel_2)(NNRTI_CPU(f64_tile) * t, int32_t M)
{
    NNRTI_CPU(f64_panel)(t, M, 2);
}

typedef struct NNRTI_CPU(f64_job) {
    const nnrti_cpu_matmul_f64 *attr;
    const nnrt_view *x, *y, *bias, *z;
    const double *packed; /* NULL: y is not packed */
    const nnrt_call *call;
    int32_t panels, blocks; /* per matrix: of columns, of rows */
} NNRTI_CPU(f64_job);

/* Work item: a block of rows by a panel of columns of one matrix. */
static void NNRTI_CPU(f64_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(f64_job) *j = (const NNRTI_CPU(f64_job) *)arg;
    const nnrti_cpu_matmul_f64 *a = j->attr;
    const uint32_t stack = i / (uint32_t)(j->panels * j->blocks), place = i % (uint32_t)(j->panels * j->blocks);
    const int32_t panel = (int32_t)place / j->blocks, n = panel * NNRTI_LANES;
    const int32_t m = (int32_t)place % j->blocks * a->rows, last = j->z->rank - 1, lastX = j->x->rank - 1;
    const int32_t M = j->z->dims[last - 1] - m < a->rows ? j->z->dims[last - 1] - m : a->rows;
    NNRTI_CPU(f64_tile) t;
    t.K = j->x->dims[lastX - a->transposeA];
    t.count = j->z->dims[last] - n < NNRTI_LANES ? j->z->dims[last] - n : NNRTI_LANES;
    t.row = j->x->strides[lastX - !a->transposeA];
    t.term = j->x->strides[lastX - a->transposeA];
    t.to = j->z->strides[last - 1];
    t.x = (const double *)j->x->data + NNRTI_CPU(batch_offset)(j->x, j->z, stack) + m * t.row;
    t.z = (double *)j->z->data + NNRTI_CPU(batch_offset)(j->z, j->z, stack) + m * t.to + n;
    for (int32_t k = 0; k < NNRTI_LANES; k++)
        t.bias[k] =
            k < t.count && j->bias->data != NULL ? ((const double *)j->bias->data)[(n + k) * j->bias->strides[0]] : 0.0;
    t.next = NNRTI_LANES;
    if (j->packed != NULL) {
        t.y = j->packed + (size_t)panel * (size_t)t.K * NNRTI_LANES;
    } else {
        const int32_t lastY = j->y->rank - 1;
        const ptrdiff_t row = j->y->strides[lastY - !a->transposeB], column = j->y->strides[lastY - a->transposeB];
        double *const to = (double *)nnrti_cpu_scratch(j->call, worker);
        const double *const y = (const double *)j->y->data + NNRTI_CPU(batch_offset)(j->y, j->z, stack);
        t.y = to;
        if (column != 1 || t.count < NNRTI_LANES) {
            nnrti_cpu_pack_f64(j->y, a->transposeB, n, NNRTI_LANES, y, to);
        } else if (M > NNRTI_TILE_ROWS) {
            for (ptrdiff_t k = 0; k < t.K; k++)
                memcpy(to + k * NNRTI_LANES, y + k * row + n, NNRTI_LANES * sizeof(*to));
        } else {
            t.y = y + n;
            t.next = row;
        }
    }
    if (t.count > NNRTI_LANES / 2)
        NNRTI_CPU(f64_panel_2)(&t, M);
    else
        NNRTI_CPU(f64_panel_1)(&t, M);
    if (a->activation != NNRT_ACTIVATION_TYPE_NO_ACTIVATION && a->activation != NNRT_ACTIVATION_TYPE_LINEAR) {
        NNRT_Activation activation;
        nnrt_view v = *j->z;
        memset(&activation, 0, sizeof(activation));
        activation.activationType = a->activation;
        v.rank = 2;
        v.dims[0] = M;
        v.dims[1] = t.count;
        v.strides[0] = t.to;
        v.strides[1] = 1;
        v.data = t.z - M * t.to;
        (void)nnrt_activation_f64(&activation, &v, &v);
    }
}

/* z[..,m,n] = activation(bias[n] + sum over k of x[..,m,k] * y[..,k,n]), in float64. */
static NNRT_ReturnCode NNRTI_CPU(matmul_f64)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *z = &args[call->nIn + call->nDerived];
    NNRTI_CPU(f64_job) j;
    double count = 1;
    uint32_t stacks = 1;
    j.attr = (const nnrti_cpu_matmul_f64 *)attr;
    j.x = &args[0];
    j.y = &args[1];
    j.bias = &args[2];
    j.packed = j.attr->packed ? (const double *)args[3].data : NULL;
    j.z = z;
    j.call = call;
    j.panels = (z->dims[z->rank - 1] + NNRTI_LANES - 1) / NNRTI_LANES;
    j.blocks = (z->dims[z->rank - 2] + j.attr->rows - 1) / j.attr->rows;
    for (int32_t k = 0; k < z->rank; k++) {
        count *= z->dims[k];
        stacks *= k < z->rank - 2 ? (uint32_t)z->dims[k] : 1;
    }
    if (count > 0)
        nnrti_cpu_parallel_for(call, 2 * count * j.x->dims[j.x->rank - 1 - j.attr->transposeA],
                               stacks * (uint32_t)(j.panels * j.blocks), NNRTI_CPU(f64_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fft_kernel */

/* FFT (nnrt_cpu.h, >>fft, describes the algorithm and the tables). A work item transforms `lanes` transforms: their values
   are gathered to buffers [value][lane] of real and of imaginary parts, and the results are scattered to y. Elements of
   fewer lanes than a vector are stored by whole vectors in ascending order, so that the next store overwrites the excess;
   buffers are longer by a vector. So no bits depend on the number of transforms at a time. */

/* Stores (re + i im) * w at k. */
NNRTI_CPU_INLINE void NNRTI_CPU(fft_store)(const nnrti_cpu_fft_buffers *b, ptrdiff_t k, nnrti_v re, nnrti_v im,
                                           const float *w)
{
    const nnrti_v c = nnrti_v_all(w[0]), s = nnrti_v_all(w[1]), minus = nnrti_v_all(-w[1]);
    nnrti_v_store(b->nextRe + k, nnrti_v_fma(im, minus, re * c));
    nnrti_v_store(b->nextIm + k, nnrti_v_fma(re, s, im * c));
}

/* The transform of r values, 2 to 5, in place. */
NNRTI_CPU_INLINE void NNRTI_CPU(fft_butterfly)(nnrti_v *re, nnrti_v *im, const int32_t r)
{
    if (r == 2) {
        const nnrti_v a = re[0], b = im[0];
        re[0] = a + re[1];
        im[0] = b + im[1];
        re[1] = a - re[1];
        im[1] = b - im[1];
    } else if (r == 3) {
        const nnrti_v s = nnrti_v_all(0.866025404f), minus = nnrti_v_all(-0.866025404f), half = nnrti_v_all(-0.5f);
        const nnrti_v tr = re[1] + re[2], ti = im[1] + im[2], ur = re[1] - re[2], ui = im[1] - im[2];
        const nnrti_v mr = nnrti_v_fma(half, tr, re[0]), mi = nnrti_v_fma(half, ti, im[0]);
        re[0] = re[0] + tr;
        im[0] = im[0] + ti;
        re[1] = nnrti_v_fma(s, ui, mr);
        im[1] = nnrti_v_fma(minus, ur, mi);
        re[2] = nnrti_v_fma(minus, ui, mr);
        im[2] = nnrti_v_fma(s, ur, mi);
    } else if (r == 4) {
        const nnrti_v ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
        const nnrti_v cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
        re[0] = ar + cr;
        im[0] = ai + ci;
        re[1] = br + di;
        im[1] = bi - dr;
        re[2] = ar - cr;
        im[2] = ai - ci;
        re[3] = br - di;
        im[3] = bi + dr;
    } else {
        const nnrti_v c1 = nnrti_v_all(0.309016994f), c2 = nnrti_v_all(-0.809016994f);
        const nnrti_v s1 = nnrti_v_all(0.951056516f), s2 = nnrti_v_all(0.587785252f), m1 = nnrti_v_all(-0.951056516f);
        const nnrti_v tr = re[1] + re[4], ti = im[1] + im[4], ur = re[1] - re[4], ui = im[1] - im[4];
        const nnrti_v vr = re[2] + re[3], vi = im[2] + im[3], wr = re[2] - re[3], wi = im[2] - im[3];
        const nnrti_v ar = nnrti_v_fma(c2, vr, nnrti_v_fma(c1, tr, re[0])),
                      ai = nnrti_v_fma(c2, vi, nnrti_v_fma(c1, ti, im[0]));
        const nnrti_v br = nnrti_v_fma(c1, vr, nnrti_v_fma(c2, tr, re[0])),
                      bi = nnrti_v_fma(c1, vi, nnrti_v_fma(c2, ti, im[0]));
        const nnrti_v pr = nnrti_v_fma(s2, wr, s1 * ur), pi = nnrti_v_fma(s2, wi, s1 * ui);
        const nnrti_v qr = nnrti_v_fma(m1, wr, s2 * ur), qi = nnrti_v_fma(m1, wi, s2 * ui);
        re[0] = re[0] + (tr + vr);
        im[0] = im[0] + (ti + vi);
        re[1] = ar + pi;
        im[1] = ai - pr;
        re[2] = br + qi;
        im[2] = bi - qr;
        re[3] = br - qi;
        im[3] = bi + qr;
        re[4] = ar - pi;
        im[4] = ai + pr;
    }
}

/* A stage of radix r, 2 to 5: m butterflies of runs of s elements. */
NNRTI_CPU_INLINE void NNRTI_CPU(fft_stage)(const nnrti_cpu_fft_buffers *buffers, ptrdiff_t m, ptrdiff_t s,
                                           const float *w, const int32_t r)
{
    const nnrti_cpu_fft_buffers b = *buffers;
    const ptrdiff_t far = m * s;
    for (ptrdiff_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (ptrdiff_t q = 0; q < s; q += NNRTI_LANES) {
            const ptrdiff_t at = q + NNRTI_LANES > s && s > NNRTI_LANES ? s - NNRTI_LANES : q;
            const ptrdiff_t from = p * s + at, to = p * r * s + at;
            nnrti_v re[5], im[5];
            NNRTI_CPU_UNROLL
            for (int32_t k = 0; k < r; k++) {
                re[k] = nnrti_v_load(b.re + from + k * far);
                im[k] = nnrti_v_load(b.im + from + k * far);
            }
            NNRTI_CPU(fft_butterfly)(re, im, r);
            nnrti_v_store(b.nextRe + to, re[0]);
            nnrti_v_store(b.nextIm + to, im[0]);
            if (p > 0) {
                NNRTI_CPU_UNROLL
                for (int32_t k = 1; k < r; k++)
                    NNRTI_CPU(fft_store)(&b, to + k * s, re[k], im[k], w + 2 * (k - 1));
                continue;
            }
            NNRTI_CPU_UNROLL
            for (int32_t k = 1; k < r; k++) { /* the twiddle factors are 1 */
                nnrti_v_store(b.nextRe + to + k * s, re[k]);
                nnrti_v_store(b.nextIm + to + k * s, im[k]);
            }
        }
}
#define NNRTI_CPU_FFT_STAGE(r)                                                                                         \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(fft_stage_##r)(const nnrti_cpu_fft_buffers *b, ptrdiff_t m, ptrdiff_t s,  \
                                                            const float *w)                                            \
    {                                                                                                                  \
        NNRTI_CPU(fft_stage)(b, m, s, w, r);                                                                           \
    }
NNRTI_CPU_FFT_STAGE(2)
NNRTI_CPU_FFT_STAGE(3)
NNRTI_CPU_FFT_STAGE(4)
NNRTI_CPU_FFT_STAGE(5)
#undef NNRTI_CPU_FFT_STAGE

/* A stage of an odd radix: results k and r - k are a sum and a difference, of x[0] + the sum over j of (x[j] + x[r-j]) *
   cos(2 pi j k / r), and of i times that of (x[j] - x[r-j]) * sin(..). The r cosines and sines, the latter negative, follow the
   twiddle factors. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(fft_stage_odd)(const nnrti_cpu_fft_buffers *buffers, ptrdiff_t m, ptrdiff_t s,
                                                        const float *w, int32_t r)
{
    const nnrti_cpu_fft_buffers b = *buffers;
    const int32_t half = (r - 1) / 2;
    const ptrdiff_t far = m * s;
    const float *const roots = w + 2 * (r - 1) * m;
    for (ptrdiff_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (ptrdiff_t q = 0; q < s; q += NNRTI_LANES) {
            const ptrdiff_t at = q + NNRTI_LANES > s && s > NNRTI_LANES ? s - NNRTI_LANES : q;
            const float *const re = b.re + p * s + at, *const im = b.im + p * s + at;
            const ptrdiff_t to = p * r * s + at;
            const nnrti_v a = nnrti_v_load(re), c = nnrti_v_load(im);
            nnrti_v sums[NNRTI_CPU_FFT_RADIX / 2][4], results[NNRTI_CPU_FFT_RADIX][2], first = a, second = c;
            for (int32_t k = 0; k < half; k++) {
                const ptrdiff_t one = (k + 1) * far, other = (r - 1 - k) * far;
                const nnrti_v x = nnrti_v_load(re + one), y = nnrti_v_load(re + other);
                const nnrti_v v = nnrti_v_load(im + one), u = nnrti_v_load(im + other);
                sums[k][0] = x + y;
                sums[k][1] = v + u;
                sums[k][2] = v - u;
                sums[k][3] = y - x;
                first = first + sums[k][0];
                second = second + sums[k][1];
            }
            for (int32_t k = 1; k <= half; k++) {
                nnrti_v even = a, other = c, odd = nnrti_v_all(0), last = odd;
                for (int32_t j = 0, i = k; j < half; j++, i = i + k < r ? i + k : i + k - r) {
                    const nnrti_v cosine = nnrti_v_all(roots[2 * i]), sine = nnrti_v_all(-roots[2 * i + 1]);
                    even = nnrti_v_fma(cosine, sums[j][0], even);
                    other = nnrti_v_fma(cosine, sums[j][1], other);
                    odd = nnrti_v_fma(sine, sums[j][2], odd);
                    last = nnrti_v_fma(sine, sums[j][3], last);
                }
                results[k][0] = even + odd;
                results[k][1] = other + last;
                results[r - k][0] = even - odd;
                results[r - k][1] = other - last;
            }
            nnrti_v_store(b.nextRe + to, first);
            nnrti_v_store(b.nextIm + to, second);
            for (int32_t k = 1; k < r; k++)
                if (p > 0) {
                    NNRTI_CPU(fft_store)(&b, to + k * s, results[k][0], results[k][1], w + 2 * (k - 1));
                } else {
                    nnrti_v_store(b.nextRe + to + k * s, results[k][0]);
                    nnrti_v_store(b.nextIm + to + k * s, results[k][1]);
                }
        }
}

/* All stages, of n values. */
static void NNRTI_CPU(fft_stages)(const nnrti_cpu_fft *a, nnrti_cpu_fft_buffers *b, const float *table, int32_t n)
{
    ptrdiff_t s = a->lanes;
    for (int32_t i = 0; i < a->stages; i++) {
        const int32_t r = a->radix[i], m = n / r;
        switch (r) {
        case 2: NNRTI_CPU(fft_stage_2)(b, m, s, table); break;
        case 3: NNRTI_CPU(fft_stage_3)(b, m, s, table); break;
        case 4: NNRTI_CPU(fft_stage_4)(b, m, s, table); break;
        case 5: NNRTI_CPU(fft_stage_5)(b, m, s, table); break;
        default: NNRTI_CPU(fft_stage_odd)(b, m, s, table, r); break;
        }
        nnrti_cpu_fft_next(b);
        table += nnrti_cpu_fft_stage_floats(n, r);
        n = m;
        s *= r;
    }
}

/* Multiplies n values by w. */
static void NNRTI_CPU(fft_multiply)(const nnrti_cpu_fft *a, nnrti_cpu_fft_buffers *b, const float *w, int32_t n)
{
    for (ptrdiff_t k = 0; k < n; k++, w += 2) {
        const ptrdiff_t at = k * a->lanes;
        NNRTI_CPU(fft_store)(b, at, nnrti_v_load(b->re + at), nnrti_v_load(b->im + at), w);
    }
    nnrti_cpu_fft_next(b);
}

/* The complex transform of `length` values: its stages, or for a length with large prime factors the convolution of
   x[n] * chirp[n] with the conjugate chirp, times the chirp. */
static void NNRTI_CPU(fft_transform)(const nnrti_cpu_fft *a, nnrti_cpu_fft_buffers *b, const float *table)
{
    const float *const chirp = table + a->chirp;
    const size_t used = (size_t)a->length * (size_t)a->lanes, all = (size_t)a->padded * (size_t)a->lanes;
    if (a->padded == 0) {
        NNRTI_CPU(fft_stages)(a, b, table, a->length);
        return;
    }
    NNRTI_CPU(fft_multiply)(a, b, chirp, a->length);
    memset(b->re + used, 0, (all - used) * sizeof(float));
    memset(b->im + used, 0, (all - used) * sizeof(float));
    NNRTI_CPU(fft_stages)(a, b, table, a->padded);
    NNRTI_CPU(fft_multiply)(a, b, chirp + 2 * a->length, a->padded);
    nnrti_cpu_fft_turn(b);
    NNRTI_CPU(fft_stages)(a, b, table, a->padded);
    nnrti_cpu_fft_turn(b);
    NNRTI_CPU(fft_multiply)(a, b, chirp, a->length);
}

/* Separates the transform Z of x[2n] + i x[2n+1], M values: X[k] = E/2 - i w^k O/2 with E = Z[k] + conj Z[M-k], O = Z[k] -
   conj Z[M-k], k <= M; w holds w^k / 2. joined: the opposite, Z[k] = E/2 + i w^-k O/2, of X instead of Z, k < M. */
static void NNRTI_CPU(fft_separate)(const nnrti_cpu_fft *a, nnrti_cpu_fft_buffers *b, const float *w, bool joined)
{
    const ptrdiff_t M = a->length, V = a->lanes;
    const nnrti_v half = nnrti_v_all(0.5f), sign = nnrti_v_all(joined ? -1.0f : 1.0f);
    for (ptrdiff_t k = 0; k <= M - (joined ? 1 : 0); k++, w += 2) {
        const ptrdiff_t one = (joined || k < M ? k : 0) * V, other = (joined || k > 0 ? M - k : 0) * V;
        const nnrti_v xr = nnrti_v_load(b->re + one), yr = nnrti_v_load(b->re + other);
        const nnrti_v xi = nnrti_v_load(b->im + one), yi = nnrti_v_load(b->im + other);
        const nnrti_v c = nnrti_v_all(w[0]), s = nnrti_v_all(joined ? -w[1] : w[1]);
        const nnrti_v re = xr - yr, im = xi + yi;
        const nnrti_v tr = nnrti_v_fma(c, im, s * re), ti = nnrti_v_fma(s, im, c * (yr - xr));
        nnrti_v_store(b->nextRe + k * V, nnrti_v_fma(sign, tr, half * (xr + yr)));
        nnrti_v_store(b->nextIm + k * V, nnrti_v_fma(sign, ti, half * (xi - yi)));
    }
    nnrti_cpu_fft_next(b);
}

/* Work item: transforms i * lanes to i * lanes + lanes - 1. */
static void NNRTI_CPU(fft_task)(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_cpu_fft_job *j = (const nnrti_cpu_fft_job *)arg;
    const nnrti_cpu_fft *a = j->attr;
    const int64_t first = (int64_t)i * a->lanes;
    const bool turn = a->inverse && !a->realIn; /* of real values it is the conjugate of the forward transform */
    const size_t values = (size_t)(a->length + (a->realOut ? 1 : 0)) * (size_t)a->lanes;
    float *const scratch = (float *)nnrti_cpu_scratch(j->call, worker);
    ptrdiff_t from[NNRTI_LANES], to[NNRTI_LANES];
    nnrti_cpu_fft_buffers b;
    for (size_t k = 0; k < 4; k++) { /* loads of whole vectors read behind the values */
        memset(scratch + k * a->buffer + (size_t)a->length * (size_t)a->lanes, 0, NNRTI_LANES * sizeof(float));
        memset(scratch + k * a->buffer + (size_t)a->padded * (size_t)a->lanes, 0, NNRTI_LANES * sizeof(float));
    }
    b.re = scratch;
    b.im = b.re + a->buffer;
    b.nextRe = b.im + a->buffer;
    b.nextIm = b.nextRe + a->buffer;
    nnrti_cpu_fft_places(j, first, from, to);
    memset(b.re, 0, values * sizeof(float));
    memset(b.im, 0, values * sizeof(float));
    nnrti_cpu_fft_copy(j, &b, from, a->lanes, true);
    if (a->realOut && a->length < a->N)
        NNRTI_CPU(fft_separate)(a, &b, j->table + a->halves, true);
    if (turn)
        nnrti_cpu_fft_turn(&b);
    NNRTI_CPU(fft_transform)(a, &b, j->table);
    if (turn)
        nnrti_cpu_fft_turn(&b);
    if (a->realIn && a->length < a->N)
        NNRTI_CPU(fft_separate)(a, &b, j->table + a->halves, false);
    nnrti_cpu_fft_copy(j, &b, to, (int32_t)(j->count - first < a->lanes ? j->count - first : a->lanes), false);
}

/* DFT and STFT. */
static NNRT_ReturnCode NNRTI_CPU(fft)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    nnrti_cpu_fft_job j;
    j.attr = (const nnrti_cpu_fft *)attr;
    j.x = &args[0];
    j.window = &args[1];
    j.table = (const float *)args[2].data;
    j.y = &args[call->nIn + call->nDerived];
    j.call = call;
    j.count = 1;
    for (int32_t i = 0; i < j.y->rank - 1; i++)
        j.count *= i == j.attr->axis ? 1 : j.y->dims[i];
    nnrti_cpu_parallel_for(call, 64 * (double)j.count * (j.attr->padded > 0 ? 3 * j.attr->padded : j.attr->length),
                           (uint32_t)((j.count + j.attr->lanes - 1) / j.attr->lanes), NNRTI_CPU(fft_task), &j);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>casts */

/* Quantize and dequantize between float32 and 8 bits, bit-exact with the reference device. Multiplication by 1 /
   scale decides nearly all elements; if any lane of a vector is near a rounding boundary, the vector is divided
   exactly. */

/* clamp(round(x / scale) + zero point); NaN gives the zero point. Halves round to even or away from zero. x * (1 /
   scale) differs from the quotient by less than 2^-14 if that is below 256: it decides unless it is near a half. */
NNRTI_CPU_INLINE nnrti_v_bits NNRTI_CPU(quantize_vector)(nnrti_v x, const nnrti_cpu_quantize *a, float scale, float low,
                                                         float high, int32_t zero)
{
    const nnrti_v least = nnrti_v_all(low), most = nnrti_v_all(high);
    const nnrti_v magic = nnrti_v_all(12582912.0f); /* 1.5 * 2^23: the sum has an integer in its low bits */
    nnrti_v v, t;
    nnrti_v_bits n;
    if (a->inverse != 0) {
        v = nnrti_v_min(most, nnrti_v_max(least, x * nnrti_v_all(a->inverse)));
        t = v + magic;
        n = (nnrti_v_bits)(v - (t - magic)) & INT32_MAX;
        if (!nnrti_v_any(n >= (nnrti_v_bits)nnrti_v_all(0.4998f)))
            return (nnrti_v_bits)t - ((nnrti_v_bits)magic - zero);
    }
    v = x / nnrti_v_all(scale);
    if (a->even)
        v = nnrti_v_to_integer(v, NNRTI_CPU_ROUND);
    v = nnrti_v_min(most, nnrti_v_max(least, v));
    v = (nnrti_v)((nnrti_v_bits)v & (nnrti_v_bits)(v == v));
    n = __builtin_convertvector(v, nnrti_v_bits); /* truncates */
    v = v - __builtin_convertvector(n, nnrti_v);  /* exact */
    return n - (nnrti_v_bits)(v >= nnrti_v_all(0.5f)) + (nnrti_v_bits)(v <= nnrti_v_all(-0.5f)) + zero;
}

/* Quantizes count adjacent elements. */
NNRTI_CPU_INLINE void NNRTI_CPU(quantize_run)(const float *x, uint8_t *y, int32_t count, const nnrt_view *to,
                                              const nnrti_cpu_quantize *a)
{
    const int32_t zero = to->quant[0].zeroPoint, least = to->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    const float scale = (float)to->quant[0].scale, low = (float)(least - zero), high = (float)(least + 255 - zero);
    const nnrti_cpu_quantize copy = *a; /* a copy: y cannot alias it */
    float rest[NNRTI_LANES] = {0};
    uint8_t last[NNRTI_LANES];
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const int32_t left = count - i;
        const bool whole = left >= NNRTI_LANES;
        if (!whole)
            memcpy(rest, x + i, (size_t)left * sizeof(*x));
        nnrti_v_store_bytes(whole ? y + i : last, NNRTI_CPU(quantize_vector)(nnrti_v_load(whole ? x + i : rest), &copy,
                                                                             scale, low, high, zero));
        if (!whole)
            memcpy(y + i, last, (size_t)left);
    }
}

#if NNRTI_CPU_LEVEL == 4
/* Quantizes pixels of three planes, `plane` apart, to interleaved channels-last y: the input images of a
   channels-first model. */
static void NNRTI_CPU(quantize_planes)(const float *x, ptrdiff_t plane, uint8_t *y, int32_t count, const nnrt_view *to,
                                       const nnrti_cpu_quantize *a)
{
    const int32_t zero = to->quant[0].zeroPoint, least = to->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
    const float scale = (float)to->quant[0].scale, low = (float)(least - zero), high = (float)(least + 255 - zero);
    const __m512i three = _mm512_set4_epi32(-1, 0x0E0D0C0A, 0x09080605, 0x04020100); /* of four bytes each */
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0);
    for (int32_t i = 0; i < count; i += 16) {
        const int32_t left = count - i < 16 ? count - i : 16;
        const __mmask16 some = (__mmask16)((1u << left) - 1);
        __m512i q[3], all;
        NNRTI_CPU_UNROLL
        for (int32_t c = 0; c < 3; c++)
            q[c] = (__m512i)(255 & NNRTI_CPU(quantize_vector)(_mm512_maskz_loadu_ps(some, x + c * plane + i), a, scale,
                                                              low, high, zero));
        all = _mm512_or_si512(q[0], _mm512_or_si512(_mm512_slli_epi32(q[1], 8), _mm512_slli_epi32(q[2], 16)));
        all = _mm512_permutexvar_epi32(order, _mm512_shuffle_epi8(all, three));
        _mm512_mask_storeu_epi8(y + 3 * i, ((__mmask64)1 << 3 * left) - 1, all);
    }
}
#elif NNRTI_CPU_LEVEL == 2
static void NNRTI_CPU(quantize_planes)(const float *x, ptrdiff_t plane, uint8_t *y, int32_t count, const nnrt_view *to,
                                       const nnrti_cpu_quantize *a)
{
    uint8_t row[3][256];
    for (int32_t i = 0, n; i < count; i += n, y += 3 * n) {
        int32_t k = 0;
        n = count - i < 256 ? count - i : 256;
        for (int32_t c = 0; c < 3; c++)
            NNRTI_CPU(quantize_run)(x + c * plane + i, row[c], n, to, a);
        for (; k + 16 <= n; k += 16) {
            const uint8x16x3_t three = {{vld1q_u8(row[0] + k), vld1q_u8(row[1] + k), vld1q_u8(row[2] + k)}};
            vst3q_u8(y + 3 * k, three);
        }
        for (; k < n; k++)
            for (int32_t c = 0; c < 3; c++)
                y[3 * k + c] = row[c][k];
    }
}
#endif

/* An elementwise conversion of x to y, of any strides, whose axes are sorted by the strides of y. `convert` has dense
   elements; where x is dense along another axis than y, blocks are converted and then transposed. */
typedef struct NNRTI_CPU(cast_job) {
    const void *attr;
    const nnrt_view *x, *y;
    void (*convert)(const struct NNRTI_CPU(cast_job) * j, const void *x, void *y, int32_t count);
    nnrt_walk walk;
    size_t from, to; /* bytes of an element of x and y */
    int32_t across;  /* the axis of the walk along which x is dense, if its rows are not, or -1 */
    int32_t axis;    /* the axis of the walk that is divided into work items, or -1: the rows */
    int32_t slice;   /* indices of a work item */
} NNRTI_CPU(cast_job);
#define NNRTI_CPU_CAST_BLOCK 256  /* elements of x that are converted at a time */
#define NNRTI_CPU_CAST_SLICE 8192 /* elements of a work item, about */

/* A row, neither of whose views need be dense. */
static void NNRTI_CPU(cast_row)(const NNRTI_CPU(cast_job) * j, const nnrt_walk *w, const uint8_t *x, uint8_t *y)
{
    uint32_t from[NNRTI_CPU_CAST_BLOCK], to[NNRTI_CPU_CAST_BLOCK];
    const ptrdiff_t nextX = w->row[1] * (ptrdiff_t)j->from, nextY = w->row[0] * (ptrdiff_t)j->to;
    if (w->row[0] == 1 && w->row[1] == 1) {
        j->convert(j, x, y, w->count);
        return;
    }
    for (int32_t i = 0, n; i < w->count; i += n, x += n * nextX, y += n * nextY) {
        n = w->count - i < NNRTI_CPU_CAST_BLOCK ? w->count - i : NNRTI_CPU_CAST_BLOCK;
        if (j->from == 1)
            for (int32_t k = 0; k < n; k++)
                ((uint8_t *)from)[k] = x[k * nextX];
        else
            for (int32_t k = 0; k < n; k++)
                memcpy(&from[k], x + k * nextX, sizeof(from[k]));
        j->convert(j, from, to, n);
        if (j->to == 1)
            for (int32_t k = 0; k < n; k++)
                y[k * nextY] = ((const uint8_t *)to)[k];
        else
            for (int32_t k = 0; k < n; k++)
                memcpy(y + k * nextY, &to[k], sizeof(to[k]));
    }
}

/* Dense rows of y for `extent` positions along the axis in which x is dense. */
static void NNRTI_CPU(cast_blocks)(const NNRTI_CPU(cast_job) * j, const nnrt_walk *w, int32_t extent, const uint8_t *x,
                                   uint8_t *y)
{
    uint32_t block[16 * NNRTI_CPU_CAST_BLOCK];
    const int32_t most = (int32_t)(sizeof(block) / NNRTI_CPU_CAST_BLOCK / j->to);
    const ptrdiff_t next = w->step[0][j->across];
    for (int32_t k = 0, rows; k < w->count; k += rows) {
        rows = w->count - k < most ? w->count - k : most;
        for (int32_t i = 0, n; i < extent; i += n) {
            uint8_t *const to = y + (i * next + k) * (ptrdiff_t)j->to;
            n = extent - i < NNRTI_CPU_CAST_BLOCK ? extent - i : NNRTI_CPU_CAST_BLOCK;
            for (int32_t r = 0; r < rows; r++)
                j->convert(j, x + (i + (k + r) * w->row[1]) * (ptrdiff_t)j->from,
                           (uint8_t *)block + (size_t)r * NNRTI_CPU_CAST_BLOCK * j->to, n);
            if (j->to == 1)
                nnrti_cpu_transpose_bytes((const uint8_t *)block, NNRTI_CPU_CAST_BLOCK, to, next, rows, n);
            else
                nnrti_cpu_transpose(block, NNRTI_CPU_CAST_BLOCK, (uint32_t *)(void *)to, next, rows, n);
        }
    }
}

/* Work item: a slice of an axis, or of each row. */
static void NNRTI_CPU(cast_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(cast_job) *j = (const NNRTI_CPU(cast_job) *)arg;
    nnrt_walk w = j->walk;
    int32_t *const size = j->axis < 0 ? &w.count : &w.dims[j->axis], begin = (int32_t)unit * j->slice, extent = 1;
    (void)worker;
    for (int32_t k = 0; k < 2; k++)
        w.at[k] += begin * (j->axis < 0 ? w.row[k] : w.step[k][j->axis]);
    *size = *size - begin < j->slice ? *size - begin : j->slice;
    if (j->across >= 0) {
        extent = w.dims[j->across];
        w.dims[j->across] = 1;
    }
    do {
        const uint8_t *x = (const uint8_t *)j->x->data + w.at[1] * (ptrdiff_t)j->from;
        uint8_t *y = (uint8_t *)j->y->data + w.at[0] * (ptrdiff_t)j->to;
#if NNRTI_CPU_LEVEL == 4 || NNRTI_CPU_LEVEL == 2
        if (j->across >= 0 && w.count == 3 && w.step[0][j->across] == 3 && j->from == 4 && j->to == 1 && j->attr != NULL)
            NNRTI_CPU(quantize_planes)
        ((const float *)(const void *)x, w.row[1], y, extent, j->y, (const nnrti_cpu_quantize *)j->attr);
        else
#endif
            if (j->across >= 0)
            NNRTI_CPU(cast_blocks)(j, &w, extent, x, y);
        else NNRTI_CPU(cast_row)(j, &w, x, y);
    } while (nnrt_walk_next(&w));
}

/* Runs a conversion. */
static void NNRTI_CPU(run_cast)(nnrt_call *call, const void *attr, const nnrt_view *x, const nnrt_view *y,
                                void (*convert)(const NNRTI_CPU(cast_job) * j, const void *x, void *y, int32_t count))
{
    NNRTI_CPU(cast_job) j;
    double count;
    int32_t size;
    memset(&j, 0, sizeof(j));
    j.attr = attr;
    j.x = x;
    j.y = y;
    j.convert = convert;
    j.across = -1;
    if (!nnrt_walk_first(&j.walk, j.y, j.x, NULL))
        return;
    j.from = nnrt_type_size(j.x->dataType);
    j.to = nnrt_type_size(j.y->dataType);
    count = j.walk.count;
    for (int32_t i = 0; i < j.walk.rank; i++) {
        count *= j.walk.dims[i];
        if (j.walk.row[0] == 1 && j.walk.row[1] != 1 && j.walk.step[1][i] == 1)
            j.across = i;
    }
    j.axis = j.walk.rank > 0 && j.walk.dims[0] >= j.walk.count ? 0 : -1; /* the longer one */
    size = j.axis < 0 ? j.walk.count : j.walk.dims[0];
    j.slice = (int32_t)(NNRTI_CPU_CAST_SLICE * (double)size / count);
    j.slice = j.slice < 64 ? 64 : (j.slice + 63) / 64 * 64;
    nnrti_cpu_parallel_for(call, count, (uint32_t)((size - 1) / j.slice + 1), NNRTI_CPU(cast_task), &j);
}

static void NNRTI_CPU(convert_quantize)(const NNRTI_CPU(cast_job) * j, const void *x, void *y, int32_t count)
{
    NNRTI_CPU(quantize_run)((const float *)x, (uint8_t *)y, count, j->y, (const nnrti_cpu_quantize *)j->attr);
}

/* y = round(x / scale) + zero point, saturated, with one scale and zero point; x and y have any strides. */
static NNRT_ReturnCode NNRTI_CPU(quantize)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(run_cast)(call, attr, &args[0], &args[1], NNRTI_CPU(convert_quantize));
    return NNRT_SUCCESS;
}

static void NNRTI_CPU(convert_dequantize)(const NNRTI_CPU(cast_job) * j, const void *x, void *y, int32_t count)
{
    const float scale = (float)j->x->quant[0].scale;
    const int32_t flip = nnrti_cpu_flip(j->x), zero = j->x->quant[0].zeroPoint + flip;
    const uint8_t *from = (const uint8_t *)x;
    float *to = (float *)y;
    int32_t i = 0;
    for (; i + NNRTI_LANES <= count; i += NNRTI_LANES)
        nnrti_v_store(to + i, nnrti_v_all(scale) *
                                  __builtin_convertvector((nnrti_v_load_bytes(from + i) ^ flip) - zero, nnrti_v));
    for (; i < count; i++)
        to[i] = scale * (float)((from[i] ^ flip) - zero);
}

/* y = scale * (x - zero point) in float32, with one scale and zero point; x and y have any strides. */
static NNRT_ReturnCode NNRTI_CPU(dequantize)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    NNRTI_CPU(run_cast)(call, NULL, &args[0], &args[1], NNRTI_CPU(convert_dequantize));
    return NNRT_SUCCESS;
}

/* `count` elements of CAST: float32 to 8 bits, truncated and saturated, NaN as 0; int32 to float32. */
static void NNRTI_CPU(convert_cast)(const NNRTI_CPU(cast_job) * j, const void *x, void *y, int32_t count)
{
    const NNRT_DataType type = j->y->dataType;
    const float least = type == NNRT_DATA_TYPE_INT8 ? -128.0f : 0.0f;
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const int32_t left = count - i;
        const nnrti_v v = nnrti_v_load_part((const float *)x + i, left); /* or the bits of integers */
        uint8_t last[NNRTI_LANES];
        if (type == NNRT_DATA_TYPE_FLOAT32) {
            nnrti_v_store_part((float *)y + i, __builtin_convertvector((nnrti_v_bits)v, nnrti_v), left);
            continue;
        }
        nnrti_v_store_bytes(
            left >= NNRTI_LANES ? (uint8_t *)y + i : last,
            __builtin_convertvector(
                nnrti_v_min(nnrti_v_all(least + 255.0f),
                            nnrti_v_max(nnrti_v_all(least), (nnrti_v)((nnrti_v_bits)v & (nnrti_v_bits)(v == v)))),
                nnrti_v_bits));
        if (left < NNRTI_LANES)
            memcpy((uint8_t *)y + i, last, (size_t)left);
    }
}

/* CAST of float32 to int8 or uint8, and of int32 to float32; x and y have any strides. */
static NNRT_ReturnCode NNRTI_CPU(cast)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    NNRTI_CPU(run_cast)(call, NULL, &args[0], &args[1], NNRTI_CPU(convert_cast));
    return NNRT_SUCCESS;
}

/* y[i] = table[x[i]]. Byte shuffles look up 16 entries at a time: one shuffle for each value of the upper four bits of x. */
static void NNRTI_CPU(lookup)(const uint8_t *table, const uint8_t *x, uint8_t *y, int32_t count)
{
    int32_t i = 0;
#if NNRTI_CPU_LEVEL >= 4
    const __m512i low = _mm512_set1_epi8(15);
    for (; i + 64 <= count; i += 64) {
        const __m512i v = _mm512_loadu_si512(x + i), at = _mm512_and_si512(v, low);
        const __m512i part = _mm512_andnot_si512(low, v);
        __m512i found = _mm512_setzero_si512();
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < 16; k++) {
            const __m128i entries = _mm_loadu_si128((const __m128i *)(const void *)(table + 16 * k));
            found = _mm512_mask_shuffle_epi8(found, _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8((char)(16 * k))),
                                             _mm512_broadcast_i32x4(entries), at);
        }
        _mm512_storeu_si512(y + i, found);
    }
#elif NNRTI_CPU_LEVEL == 3
    for (; i + 32 <= count; i += 32) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        __m256i found = _mm256_setzero_si256();
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < 16; k++) { /* other parts get bit 7 */
            const __m128i entries = _mm_loadu_si128((const __m128i *)(const void *)(table + 16 * k));
            const __m256i at = _mm256_adds_epu8(_mm256_xor_si256(v, _mm256_set1_epi8((char)(16 * k))), _mm256_set1_epi8(112));
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), at));
        }
        _mm256_storeu_si256((__m256i *)(void *)(y + i), found);
    }
#elif NNRTI_CPU_LEVEL == 2 && defined(__aarch64__)
    uint8x16x4_t entries[4];
    for (int32_t k = 0; k < 16; k++)
        entries[k / 4].val[k % 4] = vld1q_u8(table + 16 * k);
    for (; i + 16 <= count; i += 16) {
        const uint8x16_t v = vld1q_u8(x + i);
        uint8x16_t found = vqtbl4q_u8(entries[0], v);
        NNRTI_CPU_UNROLL
        for (int32_t k = 1; k < 4; k++)
            found = vqtbx4q_u8(found, entries[k], vsubq_u8(v, vdupq_n_u8((uint8_t)(64 * k))));
        vst1q_u8(y + i, found);
    }
#endif
    for (; i < count; i++)
        y[i] = table[x[i]];
}

static void NNRTI_CPU(convert_table)(const NNRTI_CPU(cast_job) * j, const void *x, void *y, int32_t count)
{
    NNRTI_CPU(lookup)((const uint8_t *)j->attr, (const uint8_t *)x, (uint8_t *)y, count);
}

/* y = table[x], 8 bits: the second argument is the table that the operator's rule derives; x and y have any strides. */
static NNRT_ReturnCode NNRTI_CPU(table_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    NNRTI_CPU(run_cast)(call, args[1].data, &args[0], &args[2], NNRTI_CPU(convert_table));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>float16_casts */

/* Conversion of float16 tensors, and elementwise kernels on them. Conversions work with any strides; a conversion
   that also changes between channels first and channels last transposes blocks. `elementwise_half` runs a float32
   kernel on chunks of widened elements that stay in the L1 cache. */

/* y = x, widened, for count elements, stepX and stepY apart. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(widen_row)(const uint16_t *x, ptrdiff_t stepX, float *y, ptrdiff_t stepY,
                                                    int32_t count)
{
    if (stepX == 1 && stepY == 1)
        NNRTI_CPU(widen_run)(x, y, count);
    for (int32_t i = 0; i < count && (stepX != 1 || stepY != 1); i++)
        y[i * stepY] = i > 0 && stepX == 0 ? y[0] : nnrt_half_to_float(x[i * stepX]);
}

/* y = x, narrowed, for count elements, stepX and stepY apart. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(narrow_row)(const float *x, ptrdiff_t stepX, uint16_t *y, ptrdiff_t stepY,
                                                     int32_t count)
{
    if (stepX == 1 && stepY == 1)
        NNRTI_CPU(narrow_run)(x, y, count);
    for (int32_t i = 0; i < count && (stepX != 1 || stepY != 1); i++)
        y[i * stepY] = nnrt_half_from_float(x[i * stepX]);
}

#define NNRTI_CPU_TRANSPOSE_COLUMNS 64 /* columns of 16 rows that are transposed at once */

/* Widens and transposes: y[j * stepY + i] = x[i * stepX + j], i < rows, j < columns. */
static void NNRTI_CPU(widen_transposed)(const uint16_t *x, ptrdiff_t stepX, float *y, ptrdiff_t stepY, int32_t rows,
                                        int32_t columns)
{
    float some[16 * NNRTI_CPU_TRANSPOSE_COLUMNS];
    for (int32_t j = 0; j < columns; j += NNRTI_CPU_TRANSPOSE_COLUMNS)
        for (int32_t i = 0; i < rows; i += 16) {
            const int32_t r = rows - i < 16 ? rows - i : 16;
            const int32_t c = columns - j < NNRTI_CPU_TRANSPOSE_COLUMNS ? columns - j : NNRTI_CPU_TRANSPOSE_COLUMNS;
            for (int32_t k = 0; k < r; k++)
                NNRTI_CPU(widen_run)(x + (i + k) * stepX + j, some + k * NNRTI_CPU_TRANSPOSE_COLUMNS, c);
            nnrti_cpu_transpose((const uint32_t *)(const void *)some, NNRTI_CPU_TRANSPOSE_COLUMNS,
                                (uint32_t *)(void *)(y + j * stepY + i), stepY, r, c);
        }
}

/* Narrows and transposes. */
static void NNRTI_CPU(narrow_transposed)(const float *x, ptrdiff_t stepX, uint16_t *y, ptrdiff_t stepY, int32_t rows,
                                         int32_t columns)
{
    float some[16 * NNRTI_CPU_TRANSPOSE_COLUMNS];
    for (int32_t i = 0; i < rows; i += NNRTI_CPU_TRANSPOSE_COLUMNS)
        for (int32_t j = 0; j < columns; j += 16) {
            const int32_t r = rows - i < NNRTI_CPU_TRANSPOSE_COLUMNS ? rows - i : NNRTI_CPU_TRANSPOSE_COLUMNS;
            const int32_t c = columns - j < 16 ? columns - j : 16;
            nnrti_cpu_transpose((const uint32_t *)(const void *)(x + i * stepX + j), stepX, (uint32_t *)(void *)some,
                                NNRTI_CPU_TRANSPOSE_COLUMNS, r, c);
            for (int32_t k = 0; k < c; k++)
                NNRTI_CPU(narrow_run)(some + k * NNRTI_CPU_TRANSPOSE_COLUMNS, y + (j + k) * stepY + i, r);
        }
}

/* y = x, rounded to float16 precision. */
static void NNRTI_CPU(round_row)(float *x, float *y, int32_t count)
{
    for (int32_t i = 0; i < count; i += NNRTI_LANES)
        nnrti_v_store_part(y + i, nnrti_v_round(nnrti_v_load_part(x + i, count - i)), count - i);
}

/* Arguments of a float16 conversion. */
typedef struct NNRTI_CPU(half_job) {
    const nnrt_view *x, *y;
    nnrt_walk walk;
    uint32_t parts;
} NNRTI_CPU(half_job);

/* Work item: widens, narrows or, if both types are float32, rounds. */
static void NNRTI_CPU(half_part)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(half_job) *j = (const NNRTI_CPU(half_job) *)arg;
    const bool widens = j->x->dataType == NNRT_DATA_TYPE_FLOAT16, narrows = j->y->dataType == NNRT_DATA_TYPE_FLOAT16;
    nnrt_walk w = j->walk;
    bool turns = false;
    int32_t outer = 0;
    (void)worker;
    nnrti_cpu_walk_part(&w, unit, j->parts);
    if (w.rank > 0 && w.row[0] == 1 && w.row[1] != 1 && w.step[1][w.rank - 1] == 1) { /* a transpose of both axes */
        turns = widens || narrows;
        outer = w.dims[w.rank - 1];
        w.rank -= turns;
    }
    do {
        uint16_t *const halfX = (uint16_t *)j->x->data + w.at[1], *const halfY = (uint16_t *)j->y->data + w.at[0];
        float *const x = (float *)j->x->data + w.at[1], *const y = (float *)j->y->data + w.at[0];
        if (widens && turns)
            NNRTI_CPU(widen_transposed)(halfX, w.row[1], y, w.step[0][w.rank], w.count, outer);
        else if (turns)
            NNRTI_CPU(narrow_transposed)(x, w.row[1], halfY, w.step[0][w.rank], w.count, outer);
        else if (widens)
            NNRTI_CPU(widen_row)(halfX, w.row[1], y, w.row[0], w.count);
        else if (narrows)
            NNRTI_CPU(narrow_row)(x, w.row[1], halfY, w.row[0], w.count);
        else if (w.row[0] == 1 && w.row[1] == 1)
            NNRTI_CPU(round_row)(x, y, w.count);
        else
            for (int32_t i = 0; i < w.count; i++)
                NNRTI_CPU(round_row)(x + i * w.row[1], y + i * w.row[0], 1);
    } while (nnrt_walk_next(&w));
}

/* y = x, converted to the element type of y. */
static NNRT_ReturnCode NNRTI_CPU(widen_half)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(half_job) j;
    double work;
    (void)attr;
    j.x = &args[0];
    j.y = &args[1];
    if (!nnrt_walk_first(&j.walk, j.y, j.x, NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 12, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(half_part), &j);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode NNRTI_CPU(narrow_half)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(widen_half)(attr, args, call);
}

/* y = x, rounded to float16 precision; y may be x. */
static NNRT_ReturnCode NNRTI_CPU(round_half)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(widen_half)(attr, args, call);
}

/* Arguments of `elementwise_half`. */
typedef struct NNRTI_CPU(elementwise_half_job) {
    const nnrti_cpu_elementwise_half *attr;
    const nnrt_view *args;
    nnrt_call call; /* without threads */
    nnrt_walk walk;
    uint32_t parts;
} NNRTI_CPU(elementwise_half_job);

/* Work item: elements of a part of the walk, at most NNRTI_CPU_HALF_CHUNK at a time: operands are widened to rows of
   floats, the float32 kernel runs on them, and its result is narrowed. */
static void NNRTI_CPU(elementwise_half_part)(void *arg, uint32_t unit, uint32_t worker)
{
    NNRTI_CPU(elementwise_half_job) *j = (NNRTI_CPU(elementwise_half_job) *)arg;
    const uint32_t nIn = j->attr->nIn;
    float some[3][NNRTI_CPU_HALF_CHUNK];
    nnrt_view views[3];
    nnrt_walk from = j->walk, to;
    nnrt_call call = j->call;
    int32_t i = 0, back; /* i: elements of the current row that are done */
    bool more = true;
    (void)worker;
    nnrti_cpu_walk_part(&from, unit, j->parts);
    memset(views, 0, sizeof(views));
    for (uint32_t k = 0; k <= nIn; k++) {
        views[k].dataType = NNRT_DATA_TYPE_FLOAT32;
        views[k].rank = 1;
        views[k].strides[0] = 1;
        views[k].data = some[k];
    }
    while (more) {
        int32_t n = 0, done = 0, count;
        to = from;
        back = i;
        for (; more && n < NNRTI_CPU_HALF_CHUNK; n += count) {
            count = from.count - i < NNRTI_CPU_HALF_CHUNK - n ? from.count - i : NNRTI_CPU_HALF_CHUNK - n;
            for (uint32_t k = 0; k < nIn; k++)
                NNRTI_CPU(widen_row)
            ((const uint16_t *)j->args[k].data + from.at[1 + k] + i * from.row[1 + k], from.row[1 + k], some[k] + n, 1,
             count);
            i += count;
            if (i == from.count) {
                i = 0;
                more = nnrt_walk_next(&from);
            }
        }
        for (uint32_t k = 0; k <= nIn; k++)
            views[k].dims[0] = n;
        (void)j->attr->run(j->attr->attr, views, &call);
        for (; done < n; done += count) {
            count = to.count - back < n - done ? to.count - back : n - done;
            NNRTI_CPU(narrow_row)
            (some[nIn] + done, 1, (uint16_t *)j->args[nIn].data + to.at[0] + back * to.row[0], to.row[0], count);
            back += count;
            if (back == to.count) {
                back = 0;
                (void)nnrt_walk_next(&to);
            }
        }
    }
}

/* Runs a float32 elementwise kernel on float16 tensors: the result is rounded once. The result may alias an operand
   of its shape. */
static NNRT_ReturnCode NNRTI_CPU(elementwise_half)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(elementwise_half_job) j;
    double work;
    memset(&j.call, 0, sizeof(j.call));
    j.attr = (const nnrti_cpu_elementwise_half *)attr;
    j.args = args;
    if (!nnrt_walk_first(&j.walk, &args[j.attr->nIn], &args[0], j.attr->nIn > 1 ? &args[1] : NULL))
        return NNRT_SUCCESS;
    j.parts = nnrti_cpu_walk_parts(call, &j.walk, 24, &work);
    nnrti_cpu_parallel_for(call, work, j.parts, NNRTI_CPU(elementwise_half_part), &j);
    return NNRT_SUCCESS;
}

#endif /* !NNRTI_CPU_DOT */

#if NNRTI_CPU_DOT == 3
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>half_kernels */

/* GEMM in float16 arithmetic. It has the structure and the indirection buffers of the 8-bit GEMM of dotprod: a pixel of
   K float16 is one of 2 K bytes. A register tile has up to 8 pixels by one or two vectors of 8 channels.
   Invariant: the terms of a sum are divided into blocks of NNRTI_CPU_HALF_BLOCK, in the order of taps, then channels;
   the last one may be shorter. The sum of a block is float16, rounded after each fused multiply-add; the sums of the blocks
   are added in float32, in order, in memory, because registers hold only the sums of a block. So results depend neither
   on tile sizes nor on the number of threads. */

/* The operands of a tile: some pixels of y, and the panel that multiplies them. */
typedef struct NNRTI_CPU(half_tile) {
    const uint8_t *const *x; /* indirection buffer: x[tap * step + row] points to the channels that a tap reads */
    uint8_t *const *y;       /* y[row]: the channels of a pixel */
    int32_t rows, step;      /* pixels; length of a list, in which the last pixel is repeated */
    int32_t taps, k;
    const float *panel;     /* biases, factors, and the weights, float16 */
    int32_t channel, count; /* the first of the panel, and the number left from it on */
    NNRT_ActivationType activation;
    float low, high;
    bool bounds; /* the activation only clamps */
} NNRTI_CPU(half_tile);

/* sum + element `lane` of x times w. Assembly, volatile, as in the inner loop of dotprod; FMLA by an element reads it from
   one of the first 16 registers. */
NNRTI_CPU_INLINE uint16x8_t NNRTI_CPU(half_multiply)(uint16x8_t sum, uint16x8_t x, uint16x8_t w, const int32_t lane)
{
    switch (lane) {
    case 0: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[0]" : "+w"(sum) : "w"(w), "x"(x)); break;
    case 1: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[1]" : "+w"(sum) : "w"(w), "x"(x)); break;
    case 2: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[2]" : "+w"(sum) : "w"(w), "x"(x)); break;
    case 3: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[3]" : "+w"(sum) : "w"(w), "x"(x)); break;
    case 4: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[4]" : "+w"(sum) : "w"(w), "x"(x)); break;
    case 5: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[5]" : "+w"(sum) : "w"(w), "x"(x)); break;
    case 6: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[6]" : "+w"(sum) : "w"(w), "x"(x)); break;
    default: __asm__ volatile("fmla %0.8h, %1.8h, %2.h[7]" : "+w"(sum) : "w"(w), "x"(x)); break;
    }
    return sum;
}

NNRTI_CPU_INLINE uint16x8_t NNRTI_CPU(half_weights)(const uint16_t *w, ptrdiff_t at)
{
    uint16x8_t v;
    __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(v) : "r"(w), "ri"(at));
    return v;
}

/* Eight channels of a pixel, or one. */
NNRTI_CPU_INLINE uint16x8_t NNRTI_CPU(half_channels)(const uint8_t *x, const int32_t terms)
{
    return terms == 8 ? vreinterpretq_u16_u8(vld1q_u8(x)) : vld1q_dup_u16((const uint16_t *)(const void *)x);
}

/* Adds `terms` terms of `tall` pixels, `at` bytes behind x, by a panel of `wide` vectors. */
NNRTI_CPU_INLINE void NNRTI_CPU(half_terms)(uint16x8_t *sum, const uint8_t *const *x, ptrdiff_t at, const uint16_t *w,
                                            const int32_t tall, const int32_t wide, const int32_t terms)
{
    uint16x8_t row[NNRTI_CPU_MAX_TILE_ROWS_Q8], weights = NNRTI_CPU(half_weights)(w, 0), next = weights;
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        row[r] = NNRTI_CPU(half_channels)(x[r] + at, terms);
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < terms * wide; i++, weights = next) {
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++) {
            uint16x8_t *const to = &sum[r * wide + i % wide];
            *to = NNRTI_CPU(half_multiply)(*to, row[r], weights, i / wide);
            if (r == 0 && i + 1 < terms * wide)
                next = NNRTI_CPU(half_weights)(w, 16 * (i + 1));
        }
    }
}

/* total[i] += sum[i], `count` vectors. */
NNRTI_CPU_INLINE void NNRTI_CPU(half_fold)(float *total, const uint16x8_t *sum, const int32_t count)
{
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < count; i++, total += 8) {
        const float16x8_t h = vreinterpretq_f16_u16(sum[i]);
        vst1q_f32(total, vaddq_f32(vld1q_f32(total), vcvt_f32_f16(vget_low_f16(h))));
        vst1q_f32(total + 4, vaddq_f32(vld1q_f32(total + 4), vcvt_high_f32_f16(h)));
    }
}

/* Microkernel: pixels row to row + tall - 1 by a panel of `wide` vectors. total: the sums, less factor and bias. */
NNRTI_CPU_INLINE void NNRTI_CPU(half_microkernel)(const NNRTI_CPU(half_tile) * t, int32_t row, const int32_t tall,
                                                  const int32_t wide, float *total)
{
    const uint16_t *w = (const uint16_t *)(const void *)(t->panel + 2 * wide * NNRTI_CPU_HALF_LANES);
    const uint8_t *const *from = t->x + row;
    int32_t left = t->taps * t->k, k = 0;
    __asm__ volatile("" ::: "memory"); /* the assembly reads weights */
    memset(total, 0, sizeof(*total) * (size_t)(tall * wide * NNRTI_CPU_HALF_LANES));
    for (int32_t block; left > 0; left -= block) {
        uint16x8_t sum[NNRTI_CPU_MAX_TILE_ROWS_Q8 * 2];
        block = left < NNRTI_CPU_HALF_BLOCK ? left : NNRTI_CPU_HALF_BLOCK;
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < tall * wide; i++)
            sum[i] = vdupq_n_u16(0);
        for (int32_t room = block, some; room > 0; room -= some) {
            const uint8_t *x[NNRTI_CPU_MAX_TILE_ROWS_Q8];
            ptrdiff_t at = 0, end;
            some = room < t->k - k ? room : t->k - k;
            end = (ptrdiff_t)some * 2;
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < tall; r++)
                x[r] = from[r] + (ptrdiff_t)k * 2;
            for (; at + 16 <= end; at += 16, w += 8 * wide * NNRTI_CPU_HALF_LANES)
                NNRTI_CPU(half_terms)(sum, x, at, w, tall, wide, 8);
            for (; at < end; at += 2, w += wide * NNRTI_CPU_HALF_LANES)
                NNRTI_CPU(half_terms)(sum, x, at, w, tall, wide, 1);
            if ((k += some) == t->k) {
                k = 0;
                from += t->step;
            }
        }
        NNRTI_CPU(half_fold)(total, sum, tall * wide);
    }
}

/* total * factor + bias, clamped, of 8 channels from `at` on of a panel of `width`. */
NNRTI_CPU_INLINE float32x4x2_t NNRTI_CPU(half_scale)(const NNRTI_CPU(half_tile) * t, const float *total, int32_t width,
                                                     int32_t at)
{
    const float32x4_t low = vdupq_n_f32(t->low), high = vdupq_n_f32(t->high);
    float32x4x2_t v;
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 2; i++, at += 4) {
        v.val[i] = vfmaq_f32(vld1q_f32(t->panel + at), vld1q_f32(total + at), vld1q_f32(t->panel + width + at));
        v.val[i] = vminq_f32(high, vmaxq_f32(low, v.val[i]));
    }
    return v;
}

/* Epilogue of `rows` pixels: y = activation(total * factor + bias), rounded, for `wide` vectors of channels. */
NNRTI_CPU_INLINE void NNRTI_CPU(half_epilogue)(const NNRTI_CPU(half_tile) * t, int32_t row, int32_t rows, float *total,
                                               const int32_t wide)
{
    const int32_t width = wide * NNRTI_CPU_HALF_LANES, count = t->count < width ? t->count : width;
    for (int32_t r = row; r < row + rows; r++, total += width) {
        uint16_t *const y = (uint16_t *)(void *)t->y[r] + t->channel;
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < width; i += 8) {
            const float32x4x2_t v = NNRTI_CPU(half_scale)(t, total, width, i);
            if (t->bounds && count == width) {
                vst1q_u16(y + i, vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(v.val[0]), v.val[1])));
            } else {
                vst1q_f32(total + i, v.val[0]);
                vst1q_f32(total + i + 4, v.val[1]);
            }
        }
        if (!t->bounds)
            NNRTI_CPU_JOIN_2(nnrti_cpu_activation_row_, NNRTI_CPU_BASE)(total, total, count, t->activation);
        if (!t->bounds || count < width)
            NNRTI_CPU_JOIN_2(nnrti_cpu_narrow_weights_, NNRTI_CPU_BASE)(total, y, count);
    }
}

/* All pixels by a panel of `wide` vectors: tiles of 8 pixels, and of 4 for a remainder of up to 4. */
#define NNRTI_CPU_HALF_PANEL_BY(wide)                                                                                  \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(half_panel_by_##wide)(const NNRTI_CPU(half_tile) * t)                     \
    {                                                                                                                  \
        float total[NNRTI_CPU_MAX_TILE_ROWS_Q8 * wide * NNRTI_CPU_HALF_LANES];                                         \
        for (int32_t row = 0; row < t->rows; row += 8) {                                                               \
            if (row + 4 < t->rows)                                                                                     \
                NNRTI_CPU(half_microkernel)(t, row, 8, wide, total);                                                   \
            else                                                                                                       \
                NNRTI_CPU(half_microkernel)(t, row, 4, wide, total);                                                   \
            NNRTI_CPU(half_epilogue)(t, row, t->rows - row < 8 ? t->rows - row : 8, total, wide);                      \
        }                                                                                                              \
    }
NNRTI_CPU_HALF_PANEL_BY(1)
NNRTI_CPU_HALF_PANEL_BY(2)

#define NNRTI_CPU_HALF_OF(name) NNRTI_CPU_JOIN_2(nnrti_cpu_##name##_, dotprod)

/* Arguments of a GEMM in float16 arithmetic. */
typedef struct NNRTI_CPU(half_job) {
    const nnrti_cpu_gemm_f16 *attr;
    NNRTI_CPU_HALF_OF(gemm_q8_job) bytes;
    const nnrt_view *packed;
} NNRTI_CPU(half_job);

/* Work item: some pixels by one part of the panels. */
static void NNRTI_CPU(half_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(half_job) *j = (const NNRTI_CPU(half_job) *)arg;
    const nnrti_cpu_gemm_q8 *a = &j->attr->bytes;
    const uint32_t part = i % a->parts;
    const int64_t first = (int64_t)(i / a->parts) * a->rows;
    const int32_t from = (int32_t)((int64_t)j->bytes.panels * part / a->parts);
    const int32_t to = (int32_t)((int64_t)j->bytes.panels * (part + 1) / a->parts);
    const uint8_t **x = (const uint8_t **)nnrti_cpu_scratch(j->bytes.call, worker);
    NNRTI_CPU_HALF_OF(gemm_q8_tile) lists;
    NNRTI_CPU(half_tile) t;
    t.rows = lists.to.rows = (int32_t)(j->bytes.pixels - first < a->rows ? j->bytes.pixels - first : a->rows);
    t.step = lists.step = t.rows + NNRTI_CPU_MAX_TILE_ROWS_Q8 - 1;
    t.taps = lists.taps = nnrti_cpu_taps_q8(a);
    t.k = a->gather ? 2 * a->depth : j->bytes.x->dims[3] / 2;
    t.x = x;
    t.y = (uint8_t *const *)(x + (size_t)t.taps * (size_t)t.step);
    NNRTI_CPU_HALF_OF(pixel_pointers_q8)
    (&j->bytes, first, &lists, x, (uint8_t **)(uintptr_t)t.y, (uint8_t *)(uintptr_t)(t.y + t.rows));
    t.activation = j->attr->activation;
    t.bounds = nnrti_cpu_activation_bounds(t.activation, &t.low, &t.high);
    for (int32_t p = from; p < to; p++) {
        t.channel = p * NNRTI_CPU_HALF_PANEL;
        t.count = j->bytes.y->dims[3] / 2 - t.channel;
        t.panel = (const float *)(const void *)((const uint16_t *)j->packed->data +
                                                (size_t)t.channel * (size_t)j->packed->dims[1]);
        (t.count > NNRTI_CPU_HALF_LANES ? NNRTI_CPU(half_panel_by_2) : NNRTI_CPU(half_panel_by_1))(&t);
    }
}

/* A view of float16 pixels as pixels of bytes. */
static nnrt_view NNRTI_CPU(half_as_bytes)(const nnrt_view *v)
{
    nnrt_view bytes = *v;
    bytes.dims[3] *= 2;
    for (int32_t i = 0; i < 3; i++)
        bytes.strides[i] *= 2;
    return bytes;
}

/* y[n,p,q,c] = activation(bias[c] + sum over taps and channels of x * weight). */
static NNRT_ReturnCode NNRTI_CPU(gemm_f16)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view x = NNRTI_CPU(half_as_bytes)(&args[0]), y = NNRTI_CPU(half_as_bytes)(&args[2]);
    NNRTI_CPU(half_job) j;
    memset(&j, 0, sizeof(j));
    j.attr = (const nnrti_cpu_gemm_f16 *)attr;
    j.packed = &args[1];
    j.bytes.attr = &j.attr->bytes;
    j.bytes.x = &x;
    j.bytes.y = &y;
    j.bytes.call = call;
    j.bytes.pixels = (int64_t)y.dims[0] * y.dims[1] * y.dims[2];
    j.bytes.panels = (args[2].dims[3] + NNRTI_CPU_HALF_PANEL - 1) / NNRTI_CPU_HALF_PANEL;
    nnrti_cpu_parallel_for(call, 0.5 * (double)j.bytes.pixels * args[1].dims[0] * args[1].dims[1],
                           (uint32_t)nnrti_cpu_div_up(j.bytes.pixels, j.attr->bytes.rows) * j.attr->bytes.parts,
                           NNRTI_CPU(half_task), &j);
    return NNRT_SUCCESS;
}

#else
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>int8_kernels */

/* Int8 and uint8 kernels. nnrti_i is a vector of NNRTI_Q8_LANES int32 accumulators. One dot-product instruction
   multiplies a group of NNRTI_Q8_GROUP elements of x (nnrti_q8_x) by as many weights (nnrti_q8_w) per lane and adds
   them to the accumulator: uint8 by int8 (VNNI, and avx2pairs by its own microkernel), either by int8 (dotprod, i8mm), or int16 by int16 with x less its zero
   point.
   NNRTI_Q8_PANEL_VECTORS vectors are a panel. The structure is that of >>gemm: register tiles, packed panels,
   implicit GEMM. Where the instruction needs elements of another type than x has, the rows of x that the windows of a
   tile read are converted first (`convert_q8`); where a row of the window has no whole groups, or its pixels do not adjoin
   in x, the patch of each pixel (im2col). The epilogue requantizes tiles of sums from memory, so one epilogue serves all
   tile heights. */

#define nnrti_i NNRTI_CPU(i)
#define nnrti_q8_x NNRTI_CPU(q8_x)
#define nnrti_q8_w NNRTI_CPU(q8_w)
#define nnrti_i_load NNRTI_CPU(i_load)
#define nnrti_i_store NNRTI_CPU(i_store)
#define nnrti_i_dot NNRTI_CPU(i_dot)
#define nnrti_i_add_scaled NNRTI_CPU(i_add_scaled)
#define nnrti_i_rescale NNRTI_CPU(i_rescale)

#if NNRTI_CPU_LEVEL >= 4
typedef __m512i nnrti_i;
#define NNRTI_Q8_LANES 16
#define NNRTI_Q8_PANEL_VECTORS 4
NNRTI_CPU_INLINE nnrti_i nnrti_i_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}
NNRTI_CPU_INLINE void nnrti_i_store(int32_t *p, nnrti_i v)
{
    _mm512_storeu_si512(p, v);
}
/* sum + x * factor, modulo 2^32. */
NNRTI_CPU_INLINE nnrti_i nnrti_i_add_scaled(nnrti_i sum, nnrti_i x, int32_t factor)
{
    return _mm512_add_epi32(sum, _mm512_mullo_epi32(x, _mm512_set1_epi32(factor)));
}
/* Dot product: sum + x * w, one group of x by the group of w in each lane. */
#if NNRTI_CPU_DOT
typedef uint8_t nnrti_q8_x;
typedef int8_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 4
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    return _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(x), _mm512_loadu_si512(w));
}
#else
typedef int16_t nnrti_q8_x;
typedef int16_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 2
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_set1_epi32(x), _mm512_loadu_si512(w)));
}
#endif
/* Requantization of sums x by the table of their channels, integer form: y as in nnrti_cpu_requantize_table, without
   clamping. */
NNRTI_CPU_INLINE nnrti_i nnrti_i_rescale(nnrti_i x, const int32_t *table, const bool positive)
{
    const __m512i half = _mm512_set1_epi64((int64_t)1 << 31), twice = _mm512_add_epi32(x, x);
    const __m512i even = _mm512_mul_epi32(twice, nnrti_i_load(table + NNRTI_Q8_LANES));
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(twice, 32), nnrti_i_load(table + NNRTI_Q8_LANES + 1));
    const __m512i high = _mm512_srli_epi64(_mm512_add_epi64(even, half), 32);
    __m512i y = _mm512_mask_blend_epi32(0xAAAA, high, _mm512_add_epi64(odd, half));
    if (!positive)
        y = _mm512_add_epi32(y, _mm512_srai_epi32(y, 31));
    y = _mm512_add_epi32(y, nnrti_i_load(table + 2 * NNRTI_Q8_LANES));
    return _mm512_srav_epi32(y, nnrti_i_load(table + 3 * NNRTI_Q8_LANES));
}
#elif NNRTI_CPU_LEVEL == 3
typedef __m256i nnrti_i;
#define NNRTI_Q8_LANES 8
#define NNRTI_Q8_PANEL_VECTORS 2
#if NNRTI_CPU_DOT
typedef uint8_t nnrti_q8_x;
typedef int8_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 4
#else
typedef int16_t nnrti_q8_x;
typedef int16_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 2
#endif
NNRTI_CPU_INLINE nnrti_i nnrti_i_load(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
NNRTI_CPU_INLINE void nnrti_i_store(int32_t *p, nnrti_i v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_add_scaled(nnrti_i sum, nnrti_i x, int32_t factor)
{
    return _mm256_add_epi32(sum, _mm256_mullo_epi32(x, _mm256_set1_epi32(factor)));
}
#if !NNRTI_CPU_DOT
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    const __m256i weights = _mm256_loadu_si256((const __m256i *)(const void *)w);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_set1_epi32(x), weights));
}
#endif
NNRTI_CPU_INLINE nnrti_i nnrti_i_rescale(nnrti_i x, const int32_t *table, const bool positive)
{
    const __m256i half = _mm256_set1_epi64x((int64_t)1 << 31), twice = _mm256_add_epi32(x, x);
    const __m256i even = _mm256_mul_epi32(twice, nnrti_i_load(table + NNRTI_Q8_LANES));
    const __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(twice, 32), nnrti_i_load(table + NNRTI_Q8_LANES + 1));
    const __m256i high = _mm256_srli_epi64(_mm256_add_epi64(even, half), 32);
    __m256i y = _mm256_blend_epi32(high, _mm256_add_epi64(odd, half), 0xAA);
    if (!positive)
        y = _mm256_add_epi32(y, _mm256_srai_epi32(y, 31));
    y = _mm256_add_epi32(y, nnrti_i_load(table + 2 * NNRTI_Q8_LANES));
    return _mm256_srav_epi32(y, nnrti_i_load(table + 3 * NNRTI_Q8_LANES));
}
#elif NNRTI_CPU_LEVEL == 2
typedef int32x4_t nnrti_i;
#define NNRTI_Q8_LANES 4
#define NNRTI_Q8_PANEL_VECTORS 4
#if NNRTI_CPU_DOT
typedef uint8_t nnrti_q8_x; /* or the bits of int8 */
typedef int8_t nnrti_q8_w;
#define NNRTI_Q8_GROUP (4 * NNRTI_CPU_DOT)
#else
typedef int16_t nnrti_q8_x;
typedef int16_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 1
#endif
NNRTI_CPU_INLINE nnrti_i nnrti_i_load(const int32_t *p)
{
    return vld1q_s32(p);
}
NNRTI_CPU_INLINE void nnrti_i_store(int32_t *p, nnrti_i v)
{
    vst1q_s32(p, v);
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_add_scaled(nnrti_i sum, nnrti_i x, int32_t factor)
{
    return vmlaq_n_s32(sum, x, factor);
}
#if !NNRTI_CPU_DOT
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    return vmlal_s16(sum, vdup_n_s16((int16_t)x), vld1_s16(w));
}
#endif
/* The same by rows 1 to 3 of the table in registers. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(i_rescale_by)(nnrti_i x, const nnrti_i *rows, const bool positive)
{
    int32x4_t y = vqrdmulhq_s32(x, rows[0]);
    if (!positive)
        y = vaddq_s32(y, vshrq_n_s32(y, 31));
    return vshlq_s32(vaddq_s32(y, rows[1]), vnegq_s32(rows[2]));
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_rescale(nnrti_i x, const int32_t *table, const bool positive)
{
    const nnrti_i rows[3] = {nnrti_i_load(table + NNRTI_Q8_LANES), nnrti_i_load(table + 2 * NNRTI_Q8_LANES),
                             nnrti_i_load(table + 3 * NNRTI_Q8_LANES)};
    return NNRTI_CPU(i_rescale_by)(x, rows, positive);
}
#else
typedef int32_t nnrti_i __attribute__((vector_size(16)));
#define NNRTI_Q8_LANES 4
#define NNRTI_Q8_PANEL_VECTORS 2
NNRTI_CPU_INLINE nnrti_i nnrti_i_load(const int32_t *p)
{
    nnrti_i v;
    memcpy(&v, p, sizeof(v));
    return v;
}
NNRTI_CPU_INLINE void nnrti_i_store(int32_t *p, nnrti_i v)
{
    memcpy(p, &v, sizeof(v));
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_add_scaled(nnrti_i sum, nnrti_i x, int32_t factor)
{
    typedef uint32_t unsigned_i __attribute__((vector_size(16)));
    return (nnrti_i)((unsigned_i)sum + (unsigned_i)x * (uint32_t)factor);
}
#if NNRTI_CPU_DOT
typedef uint8_t nnrti_q8_x; /* or the bits of int8 */
typedef int8_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 4
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    return (nnrti_i)NNRT_CPU_RELAXED_DOT(wasm_v128_load(w), wasm_i32x4_splat(x), (v128_t)sum);
}
#elif NNRTI_CPU_WASM
typedef int16_t nnrti_q8_x;
typedef int16_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 2
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    return (nnrti_i)wasm_i32x4_add((v128_t)sum, wasm_i32x4_dot_i16x8(wasm_i32x4_splat(x), wasm_v128_load(w)));
}
#else
typedef int16_t nnrti_q8_x;
typedef int32_t nnrti_q8_w;
#define NNRTI_Q8_GROUP 1
NNRTI_CPU_INLINE nnrti_i nnrti_i_dot(nnrti_i sum, int32_t x, const nnrti_q8_w *w)
{
    return nnrti_i_add_scaled(sum, nnrti_i_load(w), x);
}
#endif
NNRTI_CPU_INLINE nnrti_i nnrti_i_rescale(nnrti_i x, const int32_t *table, const bool positive)
{
#if NNRTI_CPU_WASM
    const v128_t half = wasm_i64x2_splat((int64_t)1 << 31), twice = (v128_t)(x + x);
    const v128_t factor = wasm_v128_load(table + NNRTI_Q8_LANES);
    const v128_t low = wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(twice, factor), half);
    const v128_t high = wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(twice, factor), half);
    nnrti_i y = (nnrti_i)wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
#else
    nnrti_i y = {0};
    for (int32_t i = 0; i < NNRTI_Q8_LANES; i++)
        y[i] = (int32_t)(((int64_t)x[i] * table[NNRTI_Q8_LANES + i] + ((int64_t)1 << 30)) >> 31);
#endif
    if (!positive)
        y = y + (y >> 31);
    return (y + nnrti_i_load(table + 2 * NNRTI_Q8_LANES)) >> nnrti_i_load(table + 3 * NNRTI_Q8_LANES);
}
#endif

/* Requantization by floats, with a record of the lanes that are provably exact (nnrti_cpu_requantize_table): those with
   some of `bits`, the upper ones of the low FRACTION_BITS bits, set. A sum that overflows 32 bits becomes -2^31, which is
   not exact. */
#if NNRTI_CPU_LEVEL >= 3
#define NNRTI_Q8_FLOAT 1
#define NNRTI_Q8_EXACT_BITS ((1 << NNRTI_CPU_FRACTION_BITS) - 8)
#define nnrti_exact_mask NNRTI_CPU(exact_mask)
#define nnrti_exact_mask_all NNRTI_CPU(exact_mask_all)
#define nnrti_i_from_float NNRTI_CPU(i_from_float)
#define nnrti_i_requantize_float NNRTI_CPU(i_requantize_float)
/* Results of the wide form are limited to -1 to 2 times the range of bytes before they become integers, exact ones. */
#define NNRTI_Q8_LEAST (4096.0f - (1 << (NNRTI_CPU_FRACTION_BITS + 8)))
#define NNRTI_Q8_MOST (4096.0f + (1 << (NNRTI_CPU_FRACTION_BITS + 9)))
#endif
#if NNRTI_CPU_LEVEL >= 4
typedef __mmask16 nnrti_exact_mask;
NNRTI_CPU_INLINE nnrti_exact_mask nnrti_exact_mask_all(void)
{
    return 0xFFFF;
}
#define NNRTI_Q8_ALL_EXACT(sure, bits) ((sure) == 0xFFFF)
/* t as an integer. */
NNRTI_CPU_INLINE nnrti_i nnrti_i_from_float(__m512 t, int32_t bits, nnrti_exact_mask *sure)
{
    const __m512i v = _mm512_cvtps_epi32(t);
    *sure = _mm512_mask_test_epi32_mask(*sure, v, _mm512_set1_epi32(bits));
    return v;
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_requantize_float(nnrti_i x, const nnrti_i *rows, const bool positive, const bool large,
                                                  nnrti_exact_mask *sure)
{
    __m512 t = _mm512_fmadd_ps(_mm512_cvtepi32_ps(x), _mm512_castsi512_ps(rows[0]), _mm512_castsi512_ps(rows[1]));
    if (!positive)
        t = _mm512_mask_sub_ps(t, _mm512_movepi32_mask(x), t, _mm512_castsi512_ps(rows[2]));
    if (large)
        t = _mm512_max_ps(_mm512_set1_ps(NNRTI_Q8_LEAST), _mm512_min_ps(_mm512_set1_ps(NNRTI_Q8_MOST), t));
    return nnrti_i_from_float(t, NNRTI_Q8_EXACT_BITS, sure);
}
#elif NNRTI_CPU_LEVEL == 3
typedef __m256i nnrti_exact_mask; /* in the low half of each lane, the least low half of its integers */
NNRTI_CPU_INLINE nnrti_exact_mask nnrti_exact_mask_all(void)
{
    return _mm256_set1_epi32(-1);
}
#define NNRTI_Q8_ALL_EXACT(sure, bits) NNRTI_CPU(all_exact)(sure, bits)
NNRTI_CPU_INLINE bool NNRTI_CPU(all_exact)(nnrti_exact_mask sure, int32_t bits)
{
    const __m256i some = _mm256_and_si256(sure, _mm256_set1_epi32(bits));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(some, _mm256_setzero_si256())) == 0;
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_from_float(__m256 t, int32_t bits, nnrti_exact_mask *sure)
{
    const __m256i v = _mm256_cvtps_epi32(t);
    (void)bits;
    *sure = _mm256_min_epu16(*sure, v);
    return v;
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_requantize_float(nnrti_i x, const nnrti_i *rows, const bool positive, const bool large,
                                                  nnrti_exact_mask *sure)
{
    __m256 t = _mm256_fmadd_ps(_mm256_cvtepi32_ps(x), _mm256_castsi256_ps(rows[0]), _mm256_castsi256_ps(rows[1]));
    if (!positive)
        t = _mm256_sub_ps(t, _mm256_castsi256_ps(_mm256_and_si256(_mm256_srai_epi32(x, 31), rows[2])));
    if (large)
        t = _mm256_max_ps(_mm256_set1_ps(NNRTI_Q8_LEAST), _mm256_min_ps(_mm256_set1_ps(NNRTI_Q8_MOST), t));
    return nnrti_i_from_float(t, NNRTI_Q8_EXACT_BITS, sure);
}
#endif

#define nnrti_i_requantize_int NNRTI_CPU(i_requantize_int)
/* The integer form in the format of `store_q8`: shifted by FRACTION_BITS bits on ISAs where floats deliver those. */
NNRTI_CPU_INLINE nnrti_i nnrti_i_requantize_int(nnrti_i x, const int32_t *table, const bool positive)
{
    const nnrti_i y = nnrti_i_rescale(x, table, positive);
#if NNRTI_CPU_LEVEL >= 4
    const nnrti_i word =
        _mm512_max_epi32(_mm512_min_epi32(y, _mm512_set1_epi32(INT16_MAX)), _mm512_set1_epi32(INT16_MIN));
    return _mm512_slli_epi32(word, NNRTI_CPU_FRACTION_BITS);
#elif NNRTI_CPU_LEVEL == 3
    const nnrti_i word =
        _mm256_max_epi32(_mm256_min_epi32(y, _mm256_set1_epi32(INT16_MAX)), _mm256_set1_epi32(INT16_MIN));
    return _mm256_slli_epi32(word, NNRTI_CPU_FRACTION_BITS);
#else
    return y;
#endif
}

#define nnrti_i_add NNRTI_CPU(i_add)
#define nnrti_i_subtract NNRTI_CPU(i_subtract)
#define nnrti_i_multiply NNRTI_CPU(i_multiply)
#define nnrti_i_shift_20 NNRTI_CPU(i_shift_20)
/* x + y, x - y, x * y, and x * 2^20. */
NNRTI_CPU_INLINE nnrti_i nnrti_i_add(nnrti_i x, nnrti_i y)
{
#if NNRTI_CPU_LEVEL >= 4
    return _mm512_add_epi32(x, y);
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_add_epi32(x, y);
#else
    return x + y;
#endif
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_subtract(nnrti_i x, nnrti_i y)
{
#if NNRTI_CPU_LEVEL >= 4
    return _mm512_sub_epi32(x, y);
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_sub_epi32(x, y);
#else
    return x - y;
#endif
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_multiply(nnrti_i x, nnrti_i y)
{
#if NNRTI_CPU_LEVEL >= 4
    return _mm512_mullo_epi32(x, y);
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_mullo_epi32(x, y);
#else
    return x * y;
#endif
}
NNRTI_CPU_INLINE nnrti_i nnrti_i_shift_20(nnrti_i x)
{
#if NNRTI_CPU_LEVEL >= 4
    return _mm512_slli_epi32(x, 20);
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_slli_epi32(x, 20);
#else
    return x * (1 << 20);
#endif
}

/* Channels of a block of depthwise convolutions, and how its dot products permute them (nnrti_cpu_isa_q8.mixed). */
#if NNRTI_CPU_LEVEL == 3 || (NNRTI_CPU_DOT && NNRTI_CPU_WASM)
#define NNRTI_Q8_BLOCK (2 * NNRTI_Q8_LANES)
#elif NNRTI_CPU_DOT
#define NNRTI_Q8_BLOCK (4 * NNRTI_Q8_LANES)
#else
#define NNRTI_Q8_BLOCK NNRTI_Q8_LANES
#endif
#if NNRTI_CPU_LEVEL == 3 || (NNRTI_CPU_DOT && NNRTI_CPU_LEVEL >= 4)
#define NNRTI_Q8_MIXED NNRTI_Q8_BLOCK
#else
#define NNRTI_Q8_MIXED 0
#endif
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL <= 2
#define NNRTI_Q8_SIGN NNRTI_CPU_DOT_SIGN
#else
#define NNRTI_Q8_SIGN 0
#endif

/* The wide integer form in the format of `store_q8`: x * m * 2^-n of rows 1 and 3, with row 2 for rounding where n > 0, as
   nnrt_rescale. Sums times 2^-n, for n < 0, saturate: the result is far outside of the range. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(i_rescale_wide)(nnrti_i x, const int32_t *table, int32_t zero)
{
    const nnrti_i m = nnrti_i_load(table + NNRTI_Q8_LANES), rounding = nnrti_i_load(table + 2 * NNRTI_Q8_LANES);
    const nnrti_i n = nnrti_i_load(table + 3 * NNRTI_Q8_LANES);
#if NNRTI_CPU_LEVEL >= 4
    const __m512i none = _mm512_setzero_si512(), half = _mm512_set1_epi64((int64_t)1 << 30);
    const __m512i up = _mm512_max_epi32(none, _mm512_sub_epi32(none, n)), down = _mm512_max_epi32(none, n);
    const __m512i most = _mm512_srlv_epi32(_mm512_set1_epi32(INT32_MAX), up);
    __m512i y, even, odd;
    x = _mm512_sllv_epi32(_mm512_max_epi32(_mm512_min_epi32(x, most), _mm512_sub_epi32(none, most)), up);
    even = _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epi32(x, m), half), 31);
    odd = _mm512_mul_epi32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(m, 32));
    y = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(_mm512_add_epi64(odd, half), 1));
    y = _mm512_mask_add_epi32(y, _mm512_cmpgt_epi32_mask(n, none), y, _mm512_add_epi32(_mm512_srai_epi32(y, 31), rounding));
    y = _mm512_srav_epi32(y, down);
    y = _mm512_max_epi32(_mm512_min_epi32(y, _mm512_set1_epi32(32000)), _mm512_set1_epi32(-32000));
    return _mm512_slli_epi32(_mm512_add_epi32(y, _mm512_set1_epi32(zero)), NNRTI_CPU_FRACTION_BITS);
#elif NNRTI_CPU_LEVEL == 3
    const __m256i none = _mm256_setzero_si256(), half = _mm256_set1_epi64x((int64_t)1 << 30);
    const __m256i up = _mm256_max_epi32(none, _mm256_sub_epi32(none, n)), down = _mm256_max_epi32(none, n);
    const __m256i most = _mm256_srlv_epi32(_mm256_set1_epi32(INT32_MAX), up);
    __m256i y, even, odd;
    x = _mm256_sllv_epi32(_mm256_max_epi32(_mm256_min_epi32(x, most), _mm256_sub_epi32(none, most)), up);
    even = _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epi32(x, m), half), 31);
    odd = _mm256_mul_epi32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(m, 32));
    y = _mm256_blend_epi32(even, _mm256_slli_epi64(_mm256_add_epi64(odd, half), 1), 0xAA);
    y = _mm256_add_epi32(y, _mm256_and_si256(_mm256_cmpgt_epi32(n, none),
                                             _mm256_add_epi32(_mm256_srai_epi32(y, 31), rounding)));
    y = _mm256_srav_epi32(y, down);
    y = _mm256_max_epi32(_mm256_min_epi32(y, _mm256_set1_epi32(32000)), _mm256_set1_epi32(-32000));
    return _mm256_slli_epi32(_mm256_add_epi32(y, _mm256_set1_epi32(zero)), NNRTI_CPU_FRACTION_BITS);
#elif NNRTI_CPU_LEVEL == 2
    const int32x4_t none = vdupq_n_s32(0);
    int32x4_t y = vqrdmulhq_s32(vqshlq_s32(x, vmaxq_s32(none, vnegq_s32(n))), m);
    y = vaddq_s32(y, vandq_s32(vreinterpretq_s32_u32(vcgtq_s32(n, none)), vaddq_s32(vshrq_n_s32(y, 31), rounding)));
    y = vshlq_s32(y, vminq_s32(none, vnegq_s32(n)));
    return vaddq_s32(vmaxq_s32(vminq_s32(y, vdupq_n_s32(32000)), vdupq_n_s32(-32000)), vdupq_n_s32(zero));
#else
    nnrti_i y = {0};
    for (int32_t i = 0; i < NNRTI_Q8_LANES; i++) {
        const int32_t up = n[i] < 0 ? -n[i] : 0, down = n[i] > 0 ? n[i] : 0, most = INT32_MAX >> up;
        const int32_t v = (x[i] > most ? most : x[i] < -most ? -most : x[i]) * ((int32_t)1 << up);
        const int32_t product = (int32_t)(((int64_t)v * m[i] + ((int64_t)1 << 30)) >> 31);
        const int32_t w = (product + (down > 0 ? (product >> 31) + rounding[i] : 0)) >> down;
        y[i] = (w > 32000 ? 32000 : w < -32000 ? -32000 : w) + zero;
    }
    return y;
#endif
}

/* Requantizes n vectors of sums, each `wide` of them of channels from table on: by floats, or if these are not exact
   in all lanes, by integers. rows: three rows of the table for each vector of channels, in registers: of the float
   form or, on NEON, which has no float form, of the integer form. large: the wide integer form, with this zero point. */
NNRTI_CPU_INLINE void NNRTI_CPU(requantize_vectors)(const int32_t *sum, nnrti_i *v, const int32_t n, const int32_t wide,
                                                    const int32_t *table, nnrti_i (*rows)[3], const bool positive,
                                                    const bool large, int32_t zero)
{
#if NNRTI_Q8_FLOAT
    nnrti_exact_mask sure = nnrti_exact_mask_all();
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < n; i++)
        v[i] = nnrti_i_requantize_float(nnrti_i_load(sum + i * NNRTI_Q8_LANES), rows[i % wide], positive, large, &sure);
    if (NNRTI_Q8_ALL_EXACT(sure, NNRTI_Q8_EXACT_BITS))
        return;
#else
    (void)rows;
#endif
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < n; i++) {
        const nnrti_i x = nnrti_i_load(sum + i * NNRTI_Q8_LANES);
        const int32_t *const channels = table + i % wide * NNRTI_Q8_LANES * NNRTI_CPU_REQUANTIZE_ROWS;
#if NNRTI_CPU_LEVEL == 2
        v[i] = large ? NNRTI_CPU(i_rescale_wide)(x, channels, zero) : NNRTI_CPU(i_rescale_by)(x, rows[i % wide], positive);
#else
        v[i] = large ? NNRTI_CPU(i_rescale_wide)(x, channels, zero) : nnrti_i_requantize_int(x, channels, positive);
#endif
    }
}

#if NNRTI_CPU_LEVEL >= 4
/* Converts `wide` vectors to bytes, clamped. mixed: channels are in the order of nnrti_cpu_interleaved_channel. */
NNRTI_CPU_INLINE __m512i NNRTI_CPU(pack_bytes)(const nnrti_i *v, const int32_t wide, const nnrti_cpu_requantize *s,
                                               const int32_t mixed)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i words =
        _mm512_set_epi32(0x3F003D, 0x3B0039, 0x1F001D, 0x1B0019, 0x370035, 0x330031, 0x170015, 0x130011, 0x2F002D,
                         0x2B0029, 0xF000D, 0xB0009, 0x270025, 0x230021, 0x70005, 0x30001);
    const __m512i none = _mm512_setzero_si512(); /* words: four of the first vector, four of the second one, ... */
    const __m512i a = _mm512_permutex2var_epi16(v[0], words, wide > 1 ? v[1] : none);
    const __m512i b = wide > 2 ? _mm512_permutex2var_epi16(v[2], words, wide > 3 ? v[3] : none) : none;
    __m512i bytes = _mm512_packus_epi16(a, b);
    if (!mixed)
        bytes = _mm512_permutexvar_epi32(order, bytes);
    if (!s->bare) {
        bytes = _mm512_max_epu8(bytes, _mm512_set1_epi32((int32_t)s->low));
        bytes = _mm512_min_epu8(bytes, _mm512_set1_epi32((int32_t)s->high));
        bytes = _mm512_xor_si512(bytes, _mm512_set1_epi32((int32_t)s->flip));
    }
    return bytes;
}
#endif

#if NNRTI_CPU_LEVEL == 3
/* Stores the requantized sums of 16 channels of two pixels as bytes, saturated and clamped: the upper halves of two
   vectors of sums alternate in one of words. mixed: as below. */
NNRTI_CPU_INLINE void NNRTI_CPU(store_two_q8)(const nnrti_i *v, uint8_t *first, uint8_t *last,
                                              const nnrti_cpu_requantize *s, const int32_t mixed)
{
    const __m256i order =
        mixed ? _mm256_set_epi64x(0x0F0D0B090E0C0A08, 0x0705030106040200, 0x0F0D0B090E0C0A08, 0x0705030106040200)
              : _mm256_set_epi64x(0x0F0D0B0907050301, 0x0E0C0A0806040200, 0x0F0D0B0907050301, 0x0E0C0A0806040200);
    const __m256i a = _mm256_blend_epi16(_mm256_srli_epi32(v[0], NNRTI_CPU_FRACTION_BITS), v[1], 0xAA);
    const __m256i b = _mm256_blend_epi16(_mm256_srli_epi32(v[2], NNRTI_CPU_FRACTION_BITS), v[3], 0xAA);
    __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xD8);
    bytes = _mm256_shuffle_epi8(bytes, order);
    if (!s->bare) {
        bytes = _mm256_max_epu8(bytes, _mm256_set1_epi32((int32_t)s->low));
        bytes = _mm256_min_epu8(bytes, _mm256_set1_epi32((int32_t)s->high));
        bytes = _mm256_xor_si256(bytes, _mm256_set1_epi32((int32_t)s->flip));
    }
    _mm_storeu_si128((__m128i *)(void *)first, _mm256_castsi256_si128(bytes));
    _mm_storeu_si128((__m128i *)(void *)last, _mm256_extracti128_si256(bytes, 1));
}
#endif

/* Stores `wide` vectors of requantized sums as `count` bytes of y, saturated and clamped. mixed: channels are in the
   order of nnrti_cpu_interleaved_channel. */
NNRTI_CPU_INLINE void NNRTI_CPU(store_q8)(const nnrti_i *v, const int32_t wide, uint8_t *y, int32_t count,
                                          const nnrti_cpu_requantize *s, const int32_t mixed)
{
#if NNRTI_CPU_LEVEL >= 4
    const __m512i bytes = NNRTI_CPU(pack_bytes)(v, wide, s, mixed);
    _mm512_mask_storeu_epi8(y, count >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << count) - 1, bytes);
#else
    uint8_t part[NNRTI_Q8_LANES * NNRTI_Q8_PANEL_VECTORS];
    (void)mixed;
#if NNRTI_CPU_LEVEL == 3
    const __m256i first = _mm256_srai_epi32(v[0], NNRTI_CPU_FRACTION_BITS),
                  last = _mm256_srai_epi32(v[wide - 1], NNRTI_CPU_FRACTION_BITS);
    const __m256i pairs = _mm256_packs_epi32(first, last);
    const __m256i both = mixed ? pairs : _mm256_permute4x64_epi64(pairs, 0xD8);
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    bytes = _mm_max_epu8(bytes, _mm_set1_epi32((int32_t)s->low));
    bytes = _mm_min_epu8(bytes, _mm_set1_epi32((int32_t)s->high));
    bytes = _mm_xor_si128(bytes, _mm_set1_epi32((int32_t)s->flip));
    if (count >= 16) {
        _mm_storeu_si128((__m128i *)(void *)y, bytes);
        return;
    }
    _mm_storeu_si128((__m128i *)(void *)part, bytes);
#elif NNRTI_CPU_LEVEL == 2
    const int16x8_t a = vcombine_s16(vqmovn_s32(v[0]), vqmovn_s32(v[wide > 1 ? 1 : 0]));
    const int16x8_t b = vcombine_s16(vqmovn_s32(v[wide > 2 ? 2 : 0]), vqmovn_s32(v[wide > 3 ? 3 : 0]));
    uint8x16_t bytes = vcombine_u8(vqmovun_s16(a), vqmovun_s16(b));
    bytes = vminq_u8(vmaxq_u8(bytes, vdupq_n_u8((uint8_t)s->low)), vdupq_n_u8((uint8_t)s->high));
    bytes = veorq_u8(bytes, vdupq_n_u8((uint8_t)s->flip));
    if (count >= 16) {
        vst1q_u8(y, bytes);
        return;
    }
    vst1q_u8(part, bytes);
#elif NNRTI_CPU_WASM
    const v128_t words = wasm_i16x8_narrow_i32x4((v128_t)v[0], (v128_t)v[wide - 1]);
    v128_t bytes = wasm_u8x16_narrow_i16x8(words, words);
    bytes =
        wasm_u8x16_min(wasm_u8x16_max(bytes, wasm_i32x4_splat((int32_t)s->low)), wasm_i32x4_splat((int32_t)s->high));
    bytes = wasm_v128_xor(bytes, wasm_i32x4_splat((int32_t)s->flip));
    wasm_v128_store64_lane(part, bytes, 0);
#else
    for (int32_t i = 0; i < wide * NNRTI_Q8_LANES; i++)
        part[i] = nnrti_cpu_clamp_q8(s, v[i / NNRTI_Q8_LANES][i % NNRTI_Q8_LANES]);
#endif
    memcpy(y, part, (size_t)(count < wide * NNRTI_Q8_LANES ? count : wide * NNRTI_Q8_LANES));
#endif
}

/* Requantizes `count` sums element by element, for factors outside the fast forms. dotprod and i8mm call the function
   of neon: gcc refuses to inline nnrt_rescale into theirs if the compiler's target has instructions that they lack. */
#if NNRTI_CPU_DOT && (NNRTI_CPU_LEVEL == 2 || NNRTI_CPU_LEVEL == 3)
#define NNRTI_CPU_EXACT_Q8 NNRTI_CPU_JOIN_2(nnrti_cpu_requantize_exact_, NNRTI_CPU_BASE)
#else
#define NNRTI_CPU_EXACT_Q8 NNRTI_CPU(requantize_exact)
static void NNRTI_CPU(requantize_exact)(const int32_t *sum, uint8_t *y, int32_t count, const nnrti_cpu_requantize *s,
                                        const int32_t *table)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t *const by =
            table + i / NNRTI_Q8_LANES * NNRTI_Q8_LANES * NNRTI_CPU_REQUANTIZE_ROWS + i % NNRTI_Q8_LANES;
        const int32_t factor[2] = {by[NNRTI_Q8_LANES], by[3 * NNRTI_Q8_LANES]};
        const int64_t q = (int64_t)nnrt_rescale(sum[i], factor) + by[2 * NNRTI_Q8_LANES];
        y[i] = nnrti_cpu_clamp_q8(s, q);
    }
}
#endif

/* requantize_rows for the fast forms. With few channels, several pixels are converted to bytes at once. */
NNRTI_CPU_INLINE void NNRTI_CPU(requantize_fast)(const int32_t *sum, const int32_t wide, uint8_t *const *y,
                                                 ptrdiff_t at, int32_t tall, int32_t count,
                                                 const nnrti_cpu_requantize *s, const int32_t *table,
                                                 const bool positive, const bool large, const int32_t mixed)
{
    nnrti_i v[NNRTI_CPU_LEVEL == 3 ? 4 : NNRTI_Q8_PANEL_VECTORS], rows[NNRTI_Q8_PANEL_VECTORS][3];
    int32_t r = 0;
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 3 * wide; i++)
        rows[i / 3][i % 3] = nnrti_i_load(
            table + (i / 3 * NNRTI_CPU_REQUANTIZE_ROWS + (NNRTI_CPU_LEVEL == 2 ? 1 : 4) + i % 3) * NNRTI_Q8_LANES);
#if NNRTI_CPU_LEVEL >= 4
    for (; wide <= 2 && r + 4 / wide <= tall; r += 4 / wide, sum += 4 * NNRTI_Q8_LANES) {
        __m512i bytes;
        NNRTI_CPU(requantize_vectors)(sum, v, 4, wide, table, rows, positive, large, s->zero);
        bytes = NNRTI_CPU(pack_bytes)(v, 4, s, mixed);
        if (wide == 2) {
            const __mmask32 some = (__mmask32)(((uint64_t)1 << count) - 1);
            _mm256_mask_storeu_epi8(y[r] + at, some, _mm512_castsi512_si256(bytes));
            _mm256_mask_storeu_epi8(y[r + 1] + at, some, _mm512_extracti64x4_epi64(bytes, 1));
        } else {
            const __mmask16 some = (__mmask16)((1u << count) - 1);
            _mm_mask_storeu_epi8(y[r] + at, some, _mm512_castsi512_si128(bytes));
            _mm_mask_storeu_epi8(y[r + 1] + at, some, _mm512_extracti32x4_epi32(bytes, 1));
            _mm_mask_storeu_epi8(y[r + 2] + at, some, _mm512_extracti32x4_epi32(bytes, 2));
            _mm_mask_storeu_epi8(y[r + 3] + at, some, _mm512_extracti32x4_epi32(bytes, 3));
        }
    }
#endif
#if NNRTI_CPU_LEVEL == 3
    for (; wide == 2 && count == 16 && r + 2 <= tall; r += 2, sum += 4 * NNRTI_Q8_LANES) {
        NNRTI_CPU(requantize_vectors)(sum, v, 4, 2, table, rows, positive, large, s->zero);
        NNRTI_CPU(store_two_q8)(v, y[r] + at, y[r + 1] + at, s, mixed);
    }
#endif
    for (; r < tall; r++, sum += wide * NNRTI_Q8_LANES) {
        NNRTI_CPU(requantize_vectors)(sum, v, wide, wide, table, rows, positive, large, s->zero);
        NNRTI_CPU(store_q8)(v, wide, y[r] + at, count, s, mixed);
    }
}

/* int8 epilogue: requantizes sums of `wide` vectors per pixel of `tall` pixels and stores `count` channels, whose
   table begins at `table`, to y[r] + at. */
NNRTI_CPU_INLINE void NNRTI_CPU(requantize_rows)(const int32_t *sum, const int32_t wide, uint8_t *const *y,
                                                 ptrdiff_t at, int32_t tall, int32_t count,
                                                 const nnrti_cpu_requantize *s, const int32_t *table, const int32_t mixed)
{
    const nnrti_cpu_requantize scale = *s; /* a copy: stores do not change it */
    const int32_t next = wide * NNRTI_Q8_LANES;
    count = count < next ? count : next;
    if (!scale.plain && scale.wide) {
        NNRTI_CPU(requantize_fast)(sum, wide, y, at, tall, count, &scale, table, false, true, mixed);
    } else if (!scale.plain) {
        uint8_t part[NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES];
        for (int32_t r = 0; r < tall; r++, sum += next) {
            NNRTI_CPU_EXACT_Q8(sum, part, next, &scale, table);
            for (int32_t c = 0; c < count; c++)
                y[r][at + c] = part[nnrti_cpu_interleaved_channel(c, mixed)];
        }
    } else if (scale.positive) {
        NNRTI_CPU(requantize_fast)(sum, wide, y, at, tall, count, &scale, table, true, false, mixed);
    } else {
        NNRTI_CPU(requantize_fast)(sum, wide, y, at, tall, count, &scale, table, false, false, mixed);
    }
}

/* Converts 8-bit elements to the operand type of the dot product: to[i] = x[i], flipped to uint8, less the zero point
   unless VNNI. dotprod and i8mm read them unchanged. */
NNRTI_CPU_INLINE void NNRTI_CPU(load_operands_q8)(nnrti_q8_x *to, const uint8_t *x, int32_t count, int32_t flip,
                                                  int32_t zero)
{
    int32_t i = 0;
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
    (void)i;
    (void)flip;
    (void)zero;
    memcpy(to, x, (size_t)count);
#elif NNRTI_CPU_DOT && NNRTI_CPU_WASM
    const v128_t turn = wasm_i8x16_splat((int8_t)flip);
    (void)zero;
    for (; i + 16 <= count; i += 16)
        wasm_v128_store(to + i, wasm_v128_xor(wasm_v128_load(x + i), turn));
    if (count >= 16)
        wasm_v128_store(to + count - 16, wasm_v128_xor(wasm_v128_load(x + count - 16), turn));
    for (; count < 16 && i < count; i++)
        to[i] = (nnrti_q8_x)(x[i] ^ flip);
#elif NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 3
    const __m128i turn = _mm_set1_epi8((char)flip);
    const uint64_t eight = 0x0101010101010101 * (uint64_t)(uint8_t)flip;
    (void)zero;
    for (; i < count && count >= 16; i += 16) { /* the last 16, or 8, may overlap others */
        const int32_t at = i < count - 16 ? i : count - 16;
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(x + at));
        _mm_storeu_si128((__m128i *)(void *)(to + at), _mm_xor_si128(bytes, turn));
    }
    for (; i < count && count >= 8; i += 8) {
        const int32_t at = i < count - 8 ? i : count - 8;
        uint64_t word;
        memcpy(&word, x + at, sizeof(word));
        word ^= eight;
        memcpy(to + at, &word, sizeof(word));
    }
    for (; i < count; i++)
        to[i] = (nnrti_q8_x)(x[i] ^ flip);
#elif NNRTI_CPU_DOT
    const __m512i turn = _mm512_set1_epi8((char)flip);
    (void)zero;
    if (count <= 16) { /* bytes behind are overwritten later */
        const __m128i bytes = _mm_maskz_loadu_epi8((__mmask16)((1u << count) - 1), x);
        _mm_storeu_si128((__m128i *)(void *)to, _mm_xor_si128(bytes, _mm512_castsi512_si128(turn)));
        return;
    }
    for (; i < count; i += 64) {
        const __mmask64 some = count - i >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << (count - i)) - 1;
        _mm512_mask_storeu_epi8(to + i, some, _mm512_xor_si512(_mm512_maskz_loadu_epi8(some, x + i), turn));
    }
#elif NNRTI_CPU_LEVEL == 4
    const __m256i turn = _mm256_set1_epi8((char)flip);
    for (; i < count; i += 32) {
        const __mmask32 some = count - i >= 32 ? ~(__mmask32)0 : ((__mmask32)1 << (count - i)) - 1;
        const __m256i bytes = _mm256_xor_si256(_mm256_maskz_loadu_epi8(some, x + i), turn);
        _mm512_mask_storeu_epi16(to + i, some,
                                 _mm512_sub_epi16(_mm512_cvtepu8_epi16(bytes), _mm512_set1_epi16((int16_t)zero)));
    }
#elif NNRTI_CPU_LEVEL == 3
    const __m128i turn = _mm_set1_epi8((char)flip);
    for (; i + 16 <= count; i += 16) {
        const __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(x + i)), turn);
        _mm256_storeu_si256((__m256i *)(void *)(to + i),
                            _mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes), _mm256_set1_epi16((int16_t)zero)));
    }
    for (int32_t last = count - 8; i < count && last >= 0; i += 8) { /* the last 8 may overlap others */
        const int32_t at = i < last ? i : last;
        const __m128i bytes = _mm_xor_si128(_mm_loadl_epi64((const __m128i *)(const void *)(x + at)), turn);
        _mm_storeu_si128((__m128i *)(void *)(to + at),
                         _mm_sub_epi16(_mm_cvtepu8_epi16(bytes), _mm_set1_epi16((int16_t)zero)));
    }
#endif
#if NNRTI_CPU_LEVEL < 4 && !NNRTI_CPU_DOT
    for (; i < count; i++)
        to[i] = (nnrti_q8_x)((x[i] ^ flip) - zero);
#endif
}

/* The same for padding outside x, which has the value of the zero point. */
NNRTI_CPU_INLINE void NNRTI_CPU(fill_zero_points)(nnrti_q8_x *to, int32_t count, int32_t zero)
{
#if NNRTI_CPU_DOT
    memset(to, zero, (size_t)count);
#else
    (void)zero;
    if (count == 1) /* to fill a group; a call of memset takes as long as the copy of a patch of three channels */
        *to = 0;
    else
        memset(to, 0, (size_t)count * sizeof(*to));
#endif
}

/* The operands of an int8 GEMM tile: some pixels of y, and the panel that multiplies them. */
typedef struct NNRTI_CPU(gemm_q8_tile) {
    nnrti_cpu_results_q8 to;
    const nnrti_q8_x *const *x; /* indirection buffer: x[tap * step + row] points to the groups that a tap reads */
    int32_t step;               /* length of a list, in which the last pixel is repeated */
    int32_t taps, k;            /* k: groups of a tap */
    const nnrti_q8_w *panel;
    const uint8_t *ahead, *end; /* data after the panel to prefetch, and the end of all panels */
    int32_t stepAhead;          /* bytes to prefetch per group of a tile */
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
    bool isUint8; /* x */
#elif NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 3
    const uint8_t *forms; /* of the groups of the panel: nnrti_cpu_pairs */
#endif
} NNRTI_CPU(gemm_q8_tile);

#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
/* The inner loop of dotprod and i8mm. Its loads of weights and multiplications are assembly, volatile so that they keep
   the order of the source: gcc 12 reorders intrinsics until some of the 24 sums spill (83 % of the peak of Neoverse N1
   instead of 99, docs/SPEED.md), and clang before 16 has no intrinsics for target attributes. The compiler allocates
   registers and offsets. */
NNRTI_CPU_INLINE int8x16_t NNRTI_CPU(load_weights)(const nnrti_q8_w *w, ptrdiff_t at)
{
    int8x16_t v;
    __asm__ volatile("ldr %q0, [%1, %2]" : "=w"(v) : "r"(w), "ri"(at));
    return v;
}

#if NNRTI_CPU_DOT == 2
#define NNRTI_Q8_STEP 8 /* bytes of each pixel per iteration */
/* sum + a 2 x 2 block of dot products of 8 bytes: two pixels of x, uint8 if `isUint8`, by two channels of w. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(multiply)(nnrti_i sum, uint8x16_t x, int8x16_t w, const int32_t group,
                                             const bool isUint8)
{
    (void)group;
    if (isUint8)
        __asm__ volatile("usmmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    else
        __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}

/* A group of two pixels. */
NNRTI_CPU_INLINE uint8x16_t NNRTI_CPU(load_groups)(const nnrti_q8_x *const *x, ptrdiff_t k, const int32_t groups,
                                                   const bool isUint8)
{
    (void)groups;
    (void)isUint8;
    return vcombine_u8(vld1_u8(x[0] + k), vld1_u8(x[1] + k));
}
#else
#define NNRTI_Q8_STEP 16
/* sum + the dot products of group `group` of x by the group of w in each lane. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(multiply)(nnrti_i sum, uint8x16_t x, int8x16_t w, const int32_t group,
                                             const bool isUint8)
{
    (void)isUint8;
    switch (group) {
    case 0: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(sum) : "w"(w), "w"(x)); break;
    case 1: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[1]" : "+w"(sum) : "w"(w), "w"(x)); break;
    case 2: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[2]" : "+w"(sum) : "w"(w), "w"(x)); break;
    default: __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[3]" : "+w"(sum) : "w"(w), "w"(x)); break;
    }
    return sum;
}

/* Four groups of a pixel, or one, as int8: SDOT multiplies no others. */
NNRTI_CPU_INLINE uint8x16_t NNRTI_CPU(load_groups)(const nnrti_q8_x *const *x, ptrdiff_t k, const int32_t groups,
                                                   const bool isUint8)
{
    const uint8x16_t turn = vdupq_n_u8(isUint8 ? NNRTI_CPU_DOT_SIGN : 0);
    uint32_t one;
    if (groups == 4)
        return veorq_u8(vld1q_u8(x[0] + k), turn);
    memcpy(&one, x[0] + k, sizeof(one));
    return veorq_u8(vreinterpretq_u8_u32(vdupq_n_u32(one)), turn);
}
#endif

/* Adds the products of `groups` groups of `tall` rows of x by a panel of `wide` vectors. A sum has NNRTI_CPU_DOT rows. */
NNRTI_CPU_INLINE void NNRTI_CPU(multiply_groups)(nnrti_i (*sum)[NNRTI_Q8_PANEL_VECTORS * NNRTI_CPU_DOT],
                                                 const nnrti_q8_x *const *x, ptrdiff_t k, const nnrti_q8_w *w,
                                                 const int32_t tall, const int32_t wide, const int32_t groups,
                                                 const bool isUint8)
{
    const int32_t columns = wide * NNRTI_CPU_DOT;
    uint8x16_t row[NNRTI_CPU_MAX_TILE_ROWS_Q8];
    int8x16_t weights = NNRTI_CPU(load_weights)(w, 0), next = weights;
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r += NNRTI_CPU_DOT)
        row[r] = NNRTI_CPU(load_groups)(x + r, k, groups, isUint8);
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < groups * columns; i++, weights = next) {
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r += NNRTI_CPU_DOT) {
            nnrti_i *const to = &sum[r / NNRTI_CPU_DOT][i % columns];
            *to = NNRTI_CPU(multiply)(*to, row[r], weights, i / columns, isUint8);
            if (r == 0 && i + 1 < groups * columns)
                next = NNRTI_CPU(load_weights)(w, 16 * (i + 1));
        }
    }
}
#endif

/* int8 GEMM microkernel: pixels row to row + tall - 1 by a panel of `wide` vectors; the accumulators stay in
   registers and are stored to `out`. */
/* The sums of `tall` pixels begin with the biases of the channels. */
NNRTI_CPU_INLINE void NNRTI_CPU(begin_sums)(nnrti_i (*sum)[NNRTI_Q8_PANEL_VECTORS], const NNRTI_CPU(gemm_q8_tile) * t,
                                            const int32_t tall, const int32_t wide)
{
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        const nnrti_i bias = nnrti_i_load(t->to.table + v * NNRTI_Q8_LANES * NNRTI_CPU_REQUANTIZE_ROWS);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            sum[r][v] = bias;
    }
}

NNRTI_CPU_INLINE void NNRTI_CPU(store_sums)(nnrti_i (*sum)[NNRTI_Q8_PANEL_VECTORS], const int32_t tall, const int32_t wide,
                                            int32_t *out)
{
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++)
        nnrti_i_store(out + (r * wide + v) * NNRTI_Q8_LANES, sum[r][v]);
}

#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
NNRTI_CPU_INLINE void NNRTI_CPU(microkernel_q8_of)(const NNRTI_CPU(gemm_q8_tile) * t, int32_t row, const int32_t tall,
                                                   const int32_t wide, int32_t *out, const bool isUint8)
{
    nnrti_i sum[NNRTI_CPU_MAX_TILE_ROWS_Q8 / NNRTI_CPU_DOT][NNRTI_Q8_PANEL_VECTORS * NNRTI_CPU_DOT];
    const int32_t rows = (tall + NNRTI_CPU_DOT - 1) / NNRTI_CPU_DOT * NNRTI_CPU_DOT; /* i8mm: whole pairs */
    const ptrdiff_t end = (ptrdiff_t)t->k * NNRTI_Q8_GROUP, next = (ptrdiff_t)wide * NNRTI_Q8_LANES;
    const nnrti_q8_w *w = t->panel;
    __asm__ volatile("" ::: "memory"); /* the assembly reads weights */
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
        const nnrti_i bias = nnrti_i_load(t->to.table + v * NNRTI_Q8_LANES * NNRTI_CPU_REQUANTIZE_ROWS);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows; r += NNRTI_CPU_DOT) {
#if NNRTI_CPU_DOT == 2
            sum[r / 2][2 * v] = vcombine_s32(vget_low_s32(bias), vget_low_s32(bias));
            sum[r / 2][2 * v + 1] = vcombine_s32(vget_high_s32(bias), vget_high_s32(bias));
#else
            sum[r][v] = bias;
#endif
        }
    }
    for (int32_t tap = 0; tap < t->taps; tap++) {
        const nnrti_q8_x *x[NNRTI_CPU_MAX_TILE_ROWS_Q8];
        ptrdiff_t k = 0;
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows; r++)
            x[r] = t->x[(ptrdiff_t)tap * t->step + row + r];
        for (; k + NNRTI_Q8_STEP <= end; k += NNRTI_Q8_STEP, w += next * NNRTI_Q8_STEP)
            NNRTI_CPU(multiply_groups)(sum, x, k, w, rows, wide, NNRTI_Q8_STEP / NNRTI_Q8_GROUP, isUint8);
        for (; k < end; k += NNRTI_Q8_GROUP, w += next * NNRTI_Q8_GROUP) /* of dotprod only */
            NNRTI_CPU(multiply_groups)(sum, x, k, w, rows, wide, 1, isUint8);
    }
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < wide; v++) {
#if NNRTI_CPU_DOT == 2
        const int64x2_t a = vreinterpretq_s64_s32(sum[r / 2][2 * v]);
        const int64x2_t b = vreinterpretq_s64_s32(sum[r / 2][2 * v + 1]);
        const int64x2_t y = r % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b);
        nnrti_i_store(out + (r * wide + v) * NNRTI_Q8_LANES, vreinterpretq_s32_s64(y));
#else
        nnrti_i_store(out + (r * wide + v) * NNRTI_Q8_LANES, sum[r][v]);
#endif
    }
}
NNRTI_CPU_INLINE void NNRTI_CPU(microkernel_q8)(const NNRTI_CPU(gemm_q8_tile) * t, int32_t row, const int32_t tall,
                                                const int32_t wide, int32_t *out)
{
    if (t->isUint8)
        NNRTI_CPU(microkernel_q8_of)(t, row, tall, wide, out, true);
    else
        NNRTI_CPU(microkernel_q8_of)(t, row, tall, wide, out, false);
}
#elif NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 3
/* sum + the 32-bit sums of neighboring 16-bit lanes. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(add_pairs)(nnrti_i sum, __m256i pairs)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* Four bytes of x in all lanes. */
NNRTI_CPU_INLINE __m256i NNRTI_CPU(spread_group)(const nnrti_q8_x *x)
{
    int32_t value;
    memcpy(&value, x, sizeof(value));
    return _mm256_set1_epi32(value);
}

/* Adds the products of one group. split: by even and odd terms, as the sum of two products may exceed 16 bits. */
NNRTI_CPU_INLINE void NNRTI_CPU(multiply_group)(nnrti_i (*sum)[NNRTI_Q8_PANEL_VECTORS], const nnrti_q8_x *const *x,
                                                ptrdiff_t k, const nnrti_q8_w *w, const int32_t tall, const int32_t wide,
                                                const bool split)
{
    const __m256i even = _mm256_set1_epi16(0x00FF);
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++) {
        const __m256i a = NNRTI_CPU(spread_group)(x[r] + k);
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < wide; v++) {
            const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(w + v * NNRTI_Q8_LANES * NNRTI_Q8_GROUP));
            if (split) {
                sum[r][v] = NNRTI_CPU(add_pairs)(sum[r][v], _mm256_maddubs_epi16(_mm256_and_si256(even, a), b));
                sum[r][v] = NNRTI_CPU(add_pairs)(sum[r][v], _mm256_maddubs_epi16(_mm256_andnot_si256(even, a), b));
            } else {
                sum[r][v] = NNRTI_CPU(add_pairs)(sum[r][v], _mm256_maddubs_epi16(a, b));
            }
        }
    }
}

/* Adds the products of two groups, whose pairs are added in 16 bits first. */
NNRTI_CPU_INLINE void NNRTI_CPU(multiply_two_groups)(nnrti_i (*sum)[NNRTI_Q8_PANEL_VECTORS], const nnrti_q8_x *const *x,
                                                     ptrdiff_t k, const nnrti_q8_w *w, const int32_t tall,
                                                     const int32_t wide)
{
    const int32_t vector = NNRTI_Q8_LANES * NNRTI_Q8_GROUP;
    __m256i weights[2][NNRTI_Q8_PANEL_VECTORS];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < 2 * wide; v++)
        weights[v / wide][v % wide] = _mm256_loadu_si256((const __m256i *)(const void *)(w + v * vector));
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++) {
        const __m256i a = NNRTI_CPU(spread_group)(x[r] + k), b = NNRTI_CPU(spread_group)(x[r] + k + NNRTI_Q8_GROUP);
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < wide; v++)
            sum[r][v] = NNRTI_CPU(add_pairs)(sum[r][v], _mm256_add_epi16(_mm256_maddubs_epi16(a, weights[0][v]),
                                                                         _mm256_maddubs_epi16(b, weights[1][v])));
    }
}

NNRTI_CPU_INLINE void NNRTI_CPU(microkernel_q8)(const NNRTI_CPU(gemm_q8_tile) * t, int32_t row, const int32_t tall,
                                                const int32_t wide, int32_t *out)
{
    nnrti_i sum[NNRTI_CPU_MAX_TILE_ROWS_Q8][NNRTI_Q8_PANEL_VECTORS];
    const ptrdiff_t next = (ptrdiff_t)wide * NNRTI_Q8_LANES * NNRTI_Q8_GROUP;
    const nnrti_q8_w *w = t->panel;
    const uint8_t *form = t->forms;
    NNRTI_CPU(begin_sums)(sum, t, tall, wide);
    for (int32_t tap = 0; tap < t->taps; tap++) {
        const nnrti_q8_x *x[NNRTI_CPU_MAX_TILE_ROWS_Q8];
        ptrdiff_t k = 0, groups = t->k;
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            x[r] = t->x[(ptrdiff_t)tap * t->step + row + r];
        while (groups > 0) {
            const int32_t two = groups > 1 && *form == NNRTI_CPU_PAIRS_FOUR ? 2 : 1;
            if (two == 2)
                NNRTI_CPU(multiply_two_groups)(sum, x, k, w, tall, wide);
            else if (*form != NNRTI_CPU_PAIRS_ONE)
                NNRTI_CPU(multiply_group)(sum, x, k, w, tall, wide, false);
            else
                NNRTI_CPU(multiply_group)(sum, x, k, w, tall, wide, true);
            groups -= two;
            form += two;
            k += two * NNRTI_Q8_GROUP;
            w += two * next;
        }
    }
    NNRTI_CPU(store_sums)(sum, tall, wide, out);
}
#else
NNRTI_CPU_INLINE void NNRTI_CPU(microkernel_q8)(const NNRTI_CPU(gemm_q8_tile) * t, int32_t row, const int32_t tall,
                                                const int32_t wide, int32_t *out)
{
    nnrti_i sum[NNRTI_CPU_MAX_TILE_ROWS_Q8][NNRTI_Q8_PANEL_VECTORS];
    const nnrti_q8_w *w = t->panel;
    const ptrdiff_t stepAhead = t->stepAhead;
    const uint8_t *ahead = t->ahead + (ptrdiff_t)(row / tall) * t->taps * t->k * stepAhead;
    NNRTI_CPU(begin_sums)(sum, t, tall, wide);
    for (int32_t tap = 0; tap < t->taps; tap++) {
        const nnrti_q8_x *x[NNRTI_CPU_MAX_TILE_ROWS_Q8];
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++)
            x[r] = t->x[(ptrdiff_t)tap * t->step + row + r];
        for (ptrdiff_t k = 0; k < (ptrdiff_t)t->k * NNRTI_Q8_GROUP; k += NNRTI_Q8_GROUP, ahead += stepAhead) {
            if (NNRTI_CPU_LEVEL >= 3 && ahead < t->end) {
                for (int32_t v = 0; v < (tall > 1 ? 1 : wide); v++)
                    __builtin_prefetch(ahead + v * 64, 0, 2);
            }
            NNRTI_CPU_UNROLL
            for (int32_t r = 0; r < tall; r++) {
                int32_t value;
                if (NNRTI_Q8_GROUP > 1)
                    memcpy(&value, x[r] + k, sizeof(value));
                else
                    value = x[r][k];
                NNRTI_CPU_UNROLL
                for (int32_t v = 0; v < wide; v++)
                    sum[r][v] = nnrti_i_dot(sum[r][v], value, w + v * NNRTI_Q8_LANES * NNRTI_Q8_GROUP);
            }
            w += wide * NNRTI_Q8_LANES * NNRTI_Q8_GROUP;
        }
    }
    NNRTI_CPU(store_sums)(sum, tall, wide, out);
}
#endif

#if !NNRTI_CPU_DOT
/* Epilogue of MATMUL_INTEGER: `tall` pixels from `row` on, by rows 1 and 2 of the table. */
NNRTI_CPU_INLINE void NNRTI_CPU(store_integers)(const nnrti_cpu_results_q8 *t, int32_t row, int32_t tall,
                                                const int32_t *sum, const int32_t wide)
{
    for (int32_t r = row; r < row + tall; r++, sum += wide * NNRTI_Q8_LANES) {
        int32_t *const y = (int32_t *)(void *)t->y[r] + t->channel;
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < wide; v++) {
            const int32_t *const by = t->table + v * NNRTI_Q8_LANES * NNRTI_CPU_REQUANTIZE_ROWS;
            const int32_t left = t->count - v * NNRTI_Q8_LANES;
            int32_t part[NNRTI_Q8_LANES];
            nnrti_i all = nnrti_i_load(sum + v * NNRTI_Q8_LANES);
            all = nnrti_i_add_scaled(all, nnrti_i_load(by + NNRTI_Q8_LANES), t->zero);
            if (t->terms != NULL)
                all = nnrti_i_add_scaled(all, nnrti_i_load(by + 2 * NNRTI_Q8_LANES), t->terms[r]);
            nnrti_i_store(left >= NNRTI_Q8_LANES ? y + v * NNRTI_Q8_LANES : part, all);
            if (left < NNRTI_Q8_LANES)
                memcpy(y + v * NNRTI_Q8_LANES, part, (size_t)left * sizeof(part[0]));
        }
    }
}
#endif

#if !NNRTI_CPU_DOT
/* Adds x * factor, modulo 2^32, to a vector of sums. */
NNRTI_CPU_INLINE void NNRTI_CPU(add_to_sums)(int32_t *sum, int32_t x, int32_t factor)
{
    const uint32_t more = (uint32_t)x * (uint32_t)factor;
    for (int32_t i = 0; i < NNRTI_Q8_LANES; i++)
        sum[i] = (int32_t)((uint32_t)sum[i] + more);
}
#endif

/* Epilogue of at most `most` pixels from `row` on. */
#if NNRTI_CPU_DOT
#define NNRTI_CPU_EPILOGUE_Q8(wide) NNRTI_CPU_JOIN_2(nnrti_cpu_epilogue_q8_by_##wide##_, NNRTI_CPU_BASE)
#else
#define NNRTI_CPU_EPILOGUE_Q8(wide) NNRTI_CPU(epilogue_q8_by_##wide)
#define NNRTI_CPU_EPILOGUE_Q8_FUNCTION(wide)                                                                           \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(epilogue_q8_by_##wide)(const nnrti_cpu_results_q8 *t, int32_t row,        \
                                                                    int32_t most, int32_t *sum)                        \
    {                                                                                                                  \
        const int32_t tall = t->rows - row < most ? t->rows - row : most;                                              \
        if (t->scale->raw) {                                                                                           \
            NNRTI_CPU(store_integers)(t, row, tall, sum, wide);                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        for (int32_t i = 0; t->terms != NULL && i < tall * wide; i++)                                                  \
            NNRTI_CPU(add_to_sums)(sum + i * NNRTI_Q8_LANES, t->terms[row + i / wide], t->zero);                       \
        NNRTI_CPU(requantize_rows)                                                                                     \
        (sum, wide, t->y + row, t->channel, tall, t->count, t->scale, t->table, false);                                \
    }
NNRTI_CPU_EPILOGUE_Q8_FUNCTION(1)
NNRTI_CPU_EPILOGUE_Q8_FUNCTION(2)
#if NNRTI_Q8_PANEL_VECTORS == 4
NNRTI_CPU_EPILOGUE_Q8_FUNCTION(3)
NNRTI_CPU_EPILOGUE_Q8_FUNCTION(4)
#endif
#undef NNRTI_CPU_EPILOGUE_Q8_FUNCTION
#endif

#if NNRTI_CPU_DOT == 2
#define NNRTI_Q8_LESS 2
#else
#define NNRTI_Q8_LESS 1
#endif
/* All pixels by as few tiles as possible, some of which have a pixel less, with i8mm a pair. Past the last pixel, it
   is repeated. */
#define NNRTI_CPU_GEMM_Q8_PANEL(tall, wide)                                                                            \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(gemm_q8_panel_by_##wide)(const NNRTI_CPU(gemm_q8_tile) * t)               \
    {                                                                                                                  \
        int32_t sum[tall * wide * NNRTI_Q8_LANES];                                                                     \
        const int32_t tiles = (t->to.rows + tall - 1) / tall, less = (tiles * tall - t->to.rows) / NNRTI_Q8_LESS;      \
        int32_t row = 0;                                                                                               \
        if (t->to.rows == 1) {                                                                                         \
            NNRTI_CPU(microkernel_q8)(t, 0, 1, wide, sum);                                                             \
            NNRTI_CPU_EPILOGUE_Q8(wide)(&t->to, 0, 1, sum);                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        for (int32_t i = 0; i < less && row < t->to.rows; i++, row += tall - NNRTI_Q8_LESS) {                          \
            NNRTI_CPU(microkernel_q8)(t, row, tall - NNRTI_Q8_LESS, wide, sum);                                        \
            NNRTI_CPU_EPILOGUE_Q8(wide)(&t->to, row, tall - NNRTI_Q8_LESS, sum);                                       \
        }                                                                                                              \
        for (; row < t->to.rows; row += tall) {                                                                        \
            NNRTI_CPU(microkernel_q8)(t, row, tall, wide, sum);                                                        \
            NNRTI_CPU_EPILOGUE_Q8(wide)(&t->to, row, tall, sum);                                                       \
        }                                                                                                              \
    }
#if NNRTI_Q8_PANEL_VECTORS == 4
#if NNRTI_CPU_LEVEL >= 4
NNRTI_CPU_GEMM_Q8_PANEL(8, 1)
NNRTI_CPU_GEMM_Q8_PANEL(8, 2)
NNRTI_CPU_GEMM_Q8_PANEL(8, 3)
NNRTI_CPU_GEMM_Q8_PANEL(6, 4)
#else
NNRTI_CPU_GEMM_Q8_PANEL(6, 1)
NNRTI_CPU_GEMM_Q8_PANEL(6, 2)
NNRTI_CPU_GEMM_Q8_PANEL(6, 3)
NNRTI_CPU_GEMM_Q8_PANEL(6, 4)
#endif
#else
#if NNRTI_CPU_LEVEL == 3 && NNRTI_CPU_DOT
NNRTI_CPU_GEMM_Q8_PANEL(6, 1)
NNRTI_CPU_GEMM_Q8_PANEL(4, 2) /* as many as leave registers for the weights of two groups */
#elif NNRTI_CPU_LEVEL == 3 || NNRTI_CPU_DOT
NNRTI_CPU_GEMM_Q8_PANEL(6, 1)
NNRTI_CPU_GEMM_Q8_PANEL(6, 2)
#else
NNRTI_CPU_GEMM_Q8_PANEL(4, 1)
NNRTI_CPU_GEMM_Q8_PANEL(4, 2)
#endif
#endif

#define NNRTI_Q8_WORK (NNRTI_CPU_DOT == 4 ? 2 : sizeof(nnrti_q8_w)) /* of nnrti_cpu_gemm_q8_work */
/* Arguments of an int8 GEMM. */
typedef struct NNRTI_CPU(gemm_q8_job) {
    const nnrti_cpu_gemm_q8 *attr;
    const nnrt_view *x, *packed, *table, *y;
    const nnrt_call *call;
    int64_t pixels;
    int32_t panels, flip, zero;
    int32_t less; /* MATMUL_INTEGER: the factor of row 1 of the table */
    uint32_t parts;
} NNRTI_CPU(gemm_q8_job);

/* Sums of x, less its zero point, over the elements that the window of each pixel reads: x[tap * step + row]. */
static void NNRTI_CPU(sum_operands)(const NNRTI_CPU(gemm_q8_job) * j, const nnrti_q8_x *const *x, int32_t taps,
                                    int32_t step, int32_t rows, int32_t *to)
{
    const int32_t n = j->attr->across > 0 ? j->attr->across * j->x->dims[3] : j->attr->depth * NNRTI_Q8_GROUP;
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
    const int32_t turn = j->x->dataType == NNRT_DATA_TYPE_INT8 ? 0x80 : 0;
#else
    const int32_t turn = NNRTI_Q8_SIGN;
#endif
    for (int32_t r = 0; r < rows; r++) {
        uint32_t sums[16] = {0}, sum = NNRTI_CPU_DOT ? 0 - (uint32_t)taps * (uint32_t)n * (uint32_t)(j->zero + turn) : 0;
        for (int32_t t = 0; t < taps; t++) {
            const nnrti_q8_x *const from = x[(ptrdiff_t)t * step + r];
            int32_t k = 0;
            for (; k + 16 <= n; k += 16)
                for (int32_t i = 0; i < 16; i++)
                    sums[i] += (uint32_t)(int32_t)(from[k + i] ^ turn);
            for (; k < n; k++)
                sum += (uint32_t)(int32_t)(from[k] ^ turn);
        }
        for (int32_t i = 0; i < 16; i++)
            sum += sums[i];
        to[r] = (int32_t)sum;
    }
}

/* Converts the elements of x that windows at row h read: for each row of the window, `columns` columns from column w on,
   dilation[1] apart, with zero points outside x. Of one pixel that is its patch (im2col); of neighbors, rows that they
   share. */
static void NNRTI_CPU(convert_q8)(const NNRTI_CPU(gemm_q8_job) * j, const uint8_t *image, int64_t h, int64_t w,
                                  int32_t columns, nnrti_q8_x *to)
{
    const nnrti_cpu_gemm_q8 *a = j->attr;
    const nnrt_view *x = j->x;
    const int32_t K = x->dims[3];
    const bool dense = a->dilation[1] == 1 && x->strides[2] == K;
    int32_t first, last;
    if (w >= 0 && w + (int64_t)(columns - 1) * a->dilation[1] < x->dims[2]) {
        first = 0;
        last = columns;
    } else {
        nnrti_cpu_valid_range(w, a->dilation[1], columns, x->dims[2], &first, &last);
    }
    for (int32_t i = 0; i < a->window[0]; i++, to += (size_t)columns * (size_t)K) {
        const int64_t at = h + (int64_t)i * a->dilation[0];
        if (at < 0 || at >= x->dims[1] || first >= last) {
            NNRTI_CPU(fill_zero_points)(to, columns * K, j->zero);
            continue;
        }
        if (first > 0)
            NNRTI_CPU(fill_zero_points)(to, first * K, j->zero);
        for (int32_t k = first, count; k < last; k += count) {
            const int64_t column = w + (int64_t)k * a->dilation[1];
            count = dense ? last - k : 1;
            NNRTI_CPU(load_operands_q8)
            (to + (ptrdiff_t)k * K, image + at * x->strides[1] + column * x->strides[2], count * K, j->flip, j->zero);
        }
        if (last < columns)
            NNRTI_CPU(fill_zero_points)(to + (ptrdiff_t)last * K, (columns - last) * K, j->zero);
    }
}

/* Fills pointers: to[i] = from + i * next. */
NNRTI_CPU_INLINE void NNRTI_CPU(fill_pointers_q8)(const uint8_t **to, const uint8_t *from, ptrdiff_t next,
                                                  int32_t count)
{
#if NNRTI_CPU_LEVEL >= 4
    const __m512i eight = _mm512_set1_epi64(8 * next), first = _mm512_set1_epi64((int64_t)(intptr_t)from);
    const __m512i steps = _mm512_mullo_epi64(_mm512_set1_epi64(next), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    __m512i at = _mm512_add_epi64(first, steps);
    for (int32_t i = 0; i < count; i += 8, at = _mm512_add_epi64(at, eight))
        _mm512_mask_storeu_epi64((void *)(to + i), count - i >= 8 ? 0xFF : (__mmask8)((1u << (count - i)) - 1), at);
#else
    int32_t i = 0;
#if NNRTI_CPU_LEVEL == 2
    const uint64x2_t two = vdupq_n_u64((uint64_t)(2 * next)), four = vaddq_u64(two, two);
    uint64x2_t at = vcombine_u64(vcreate_u64((uintptr_t)from), vcreate_u64((uintptr_t)from + (uintptr_t)next));
    for (; i + 4 <= count; i += 4, at = vaddq_u64(at, four)) {
        const uint64x2_t last = vaddq_u64(at, two);
        memcpy(to + i, &at, sizeof(at));
        memcpy(to + i + 2, &last, sizeof(last));
    }
#endif
    for (; i < count; i++)
        to[i] = from + i * next;
#endif
}

#if NNRTI_CPU_DOT
/* Indirection pointers of `run` pixels of a row of y for one row of the window: row h of x, first column w, `across`
   pixels each. They point into x, to zeros, or, for taps partly outside x, to copies at *copies, padded with zero
   points. */
static void NNRTI_CPU(tap_pointers_q8)(const NNRTI_CPU(gemm_q8_job) * j, const uint8_t *image, int64_t h, int64_t w,
                                       int32_t run, const nnrti_q8_x *zeros, const nnrti_q8_x **x, nnrti_q8_x **copies)
{
    const nnrti_cpu_gemm_q8 *a = j->attr;
    const nnrt_view *in = j->x;
    const int32_t K = in->dims[3], across = a->across, room = a->groups * NNRTI_Q8_GROUP;
    const ptrdiff_t next = a->stride[1] * in->strides[2], from = (ptrdiff_t)(h * in->strides[1] + w * in->strides[2]);
    int32_t begin = 0, end = 0, first, last;
    const bool inside = h >= 0 && h < in->dims[1];
    if (inside)
        nnrti_cpu_valid_range(w, a->stride[1], run, in->dims[2] - across - a->spare + 1, &begin, &end);
    if (begin < end)
        NNRTI_CPU(fill_pointers_q8)(x + begin, image + (from + begin * next), next, end - begin);
    for (int32_t r = begin > 0 ? 0 : end; r < run; r = r + 1 == begin ? end : r + 1) {
        x[r] = zeros;
        nnrti_cpu_valid_range(w + (int64_t)r * a->stride[1], 1, across, in->dims[2], &first, &last);
        if (!inside || first >= last)
            continue;
        NNRTI_CPU(fill_zero_points)(*copies, first * K, j->zero);
        memcpy(*copies + first * K, image + (from + r * next + first * in->strides[2]),
               (size_t)(last - first) * (size_t)K);
        NNRTI_CPU(fill_zero_points)(*copies + last * K, room - last * K, j->zero);
        x[r] = *copies;
        *copies += room;
    }
}
#endif

/* Pointers of the pixels from `first` on: outputs, and inputs in `room` (converted rows, or im2col), or else in x, or
   padded copies in `room`, which begins with zero points. */
static void NNRTI_CPU(pixel_pointers_q8)(const NNRTI_CPU(gemm_q8_job) * j, int64_t first,
                                         const NNRTI_CPU(gemm_q8_tile) * t, const nnrti_q8_x **x, uint8_t **y,
                                         nnrti_q8_x *room)
{
    const nnrti_cpu_gemm_q8 *a = j->attr;
    const nnrt_view *in = j->x, *out = j->y;
    int32_t q = (int32_t)(first % out->dims[2]), p = (int32_t)(first / out->dims[2] % out->dims[1]);
    int32_t n = (int32_t)(first / out->dims[2] / out->dims[1]);
#if NNRTI_CPU_DOT
    const nnrti_q8_x *const zeros = room;
    if (!a->gather) {
        NNRTI_CPU(fill_zero_points)(room, a->groups * NNRTI_Q8_GROUP, j->zero);
        room += a->groups * NNRTI_Q8_GROUP;
    }
#endif
    for (int32_t r = 0, run; r < t->to.rows; r += run) {
        const uint8_t *image = (const uint8_t *)in->data + n * in->strides[0];
        const ptrdiff_t size = a->scale.raw ? (ptrdiff_t)sizeof(int32_t) : 1;
        uint8_t *to = (uint8_t *)out->data + (n * out->strides[0] + p * out->strides[1] + q * out->strides[2]) * size;
        const int64_t top = (int64_t)p * a->stride[0] - a->pad[0], left = (int64_t)q * a->stride[1] - a->pad[1];
        run = t->to.rows - r < out->dims[2] - q ? t->to.rows - r : out->dims[2] - q;
        NNRTI_CPU(fill_pointers_q8)((const uint8_t **)(uintptr_t)(y + r), to, out->strides[2] * size, run);
        if (a->gather) { /* rows for all pixels at once, or a patch for each */
            const bool rows = a->across > 0;
            const int32_t K = in->dims[3], columns = (rows ? run - 1 : 0) * a->stride[1] + a->window[1];
            const int32_t filled = a->window[0] * columns * K, next = rows ? filled : a->depth * NNRTI_Q8_GROUP;
            for (int32_t i = 0; i < t->taps; i++)
                NNRTI_CPU(fill_pointers_q8)
            ((const uint8_t **)(uintptr_t)(x + (ptrdiff_t)i * t->step + r),
             (const uint8_t *)(room + (ptrdiff_t)i * columns * K),
             (ptrdiff_t)(rows ? a->stride[1] * K : next) * (ptrdiff_t)sizeof(*room), run);
            for (int32_t i = 0; i < (rows ? 1 : run); i++, room += next) {
                NNRTI_CPU(convert_q8)(j, image, top, left + (int64_t)i * a->stride[1], columns, room);
                if (rows || filled < next) /* rows: elements that the last group may read */
                    NNRTI_CPU(fill_zero_points)(room + filled, rows ? NNRTI_Q8_GROUP : next - filled, j->zero);
            }
        }
#if NNRTI_CPU_DOT
        for (int32_t i = 0; i < t->taps && !a->gather; i++) {
            const int32_t columns = a->window[1] / a->across;
            NNRTI_CPU(tap_pointers_q8)
            (j, image, top + (int64_t)(i / columns) * a->dilation[0], left + (int64_t)(i % columns) * a->dilation[1],
             run, zeros, x + (ptrdiff_t)i * t->step + r, &room);
        }
#endif
        q = 0;
        if (++p == out->dims[1]) {
            p = 0;
            n++;
        }
    }
    for (int32_t i = 0; i < t->taps; i++)
        for (int32_t r = t->to.rows; r < t->step; r++)
            x[(ptrdiff_t)i * t->step + r] = x[(ptrdiff_t)i * t->step + t->to.rows - 1];
}

#define NNRTI_Q8_PREFETCH 8192 /* bytes: weights this far ahead are prefetched */

/* Work item: some pixels by one part of the panels. */
static void NNRTI_CPU(gemm_q8_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(gemm_q8_job) *j = (const NNRTI_CPU(gemm_q8_job) *)arg;
    const nnrti_cpu_gemm_q8 *a = j->attr;
    const uint32_t part = i % j->parts;
    const int64_t first = (int64_t)(i / j->parts) * a->rows;
    const int32_t panel = NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES;
    const int32_t from = (int32_t)((int64_t)j->panels * part / j->parts);
    const int32_t to = (int32_t)((int64_t)j->panels * (part + 1) / j->parts);
    const size_t row = (size_t)j->packed->dims[1];
    int32_t *const terms = (int32_t *)nnrti_cpu_scratch(j->call, worker);
    const nnrti_q8_x **x = (const nnrti_q8_x **)(void *)(a->sums ? terms + (a->rows + 1) / 2 * 2 : terms);
    nnrti_q8_x *room;
    NNRTI_CPU(gemm_q8_tile) t;
    t.to.rows = (int32_t)(j->pixels - first < a->rows ? j->pixels - first : a->rows);
    t.step = t.to.rows + NNRTI_CPU_MAX_TILE_ROWS_Q8 - 1;
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
    t.isUint8 = j->x->dataType == NNRT_DATA_TYPE_UINT8;
#endif
    t.taps = nnrti_cpu_taps_q8(a);
    t.k = a->groups;
    t.x = x;
    t.to.y = (uint8_t *const *)(x + (size_t)t.taps * (size_t)t.step);
    t.to.scale = &a->scale;
    room = (nnrti_q8_x *)(uintptr_t)(t.to.y + (size_t)t.to.rows);
    NNRTI_CPU(pixel_pointers_q8)(j, first, &t, x, (uint8_t **)(uintptr_t)t.to.y, room);
    t.to.zero = a->scale.raw ? j->less : a->correct;
    t.to.terms = a->sums ? terms : NULL;
    if (a->sums)
        NNRTI_CPU(sum_operands)(j, x, t.taps, t.step, t.to.rows, terms);
    t.stepAhead = t.to.rows > 48 ? 32 : t.to.rows > 1 ? 64 : panel * NNRTI_Q8_GROUP * (int32_t)sizeof(nnrti_q8_w);
    t.end = (const uint8_t *)j->packed->data + (size_t)j->packed->dims[0] * (size_t)j->packed->dims[1];
    for (int32_t p = from; p < to; p++) {
        t.to.channel = p * panel;
        t.to.count = j->y->dims[3] - t.to.channel;
        t.panel = (const nnrti_q8_w *)(const void *)((const uint8_t *)j->packed->data + (size_t)t.to.channel * row);
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 3
        t.forms = (const uint8_t *)t.panel + (size_t)(t.to.count > NNRTI_Q8_LANES ? panel : NNRTI_Q8_LANES) *
                                                 (size_t)a->depth * NNRTI_Q8_GROUP;
#endif
        if (t.to.rows > 1) /* the next panel */
            t.ahead = (const uint8_t *)t.panel + (size_t)panel * row;
        else /* of a single pixel, weights a little ahead, if all weights exceed the cache */
            t.ahead = t.end - (const uint8_t *)j->packed->data > NNRTI_CPU_LARGE_WEIGHTS
                          ? (const uint8_t *)t.panel + NNRTI_Q8_PREFETCH
                          : t.end;
        t.to.table = (const int32_t *)j->table->data + (ptrdiff_t)t.to.channel * NNRTI_CPU_REQUANTIZE_ROWS;
        switch ((t.to.count + NNRTI_Q8_LANES - 1) / NNRTI_Q8_LANES) {
        case 1: NNRTI_CPU(gemm_q8_panel_by_1)(&t); break;
#if NNRTI_Q8_PANEL_VECTORS == 4
        case 2: NNRTI_CPU(gemm_q8_panel_by_2)(&t); break;
        case 3: NNRTI_CPU(gemm_q8_panel_by_3)(&t); break;
        default: NNRTI_CPU(gemm_q8_panel_by_4)(&t); break;
#else
        default: NNRTI_CPU(gemm_q8_panel_by_2)(&t); break;
#endif
        }
    }
}

/* Arguments of the GEMM of x, whose zero point is `zero`, and y. */
static NNRTI_CPU(gemm_q8_job) NNRTI_CPU(gemm_q8_job_of)(const nnrt_view *x, int32_t zero, const nnrt_view *packed,
                                                        const nnrt_view *table, const nnrt_view *y, const nnrt_call *call)
{
    NNRTI_CPU(gemm_q8_job) j;
    memset(&j, 0, sizeof(j));
    j.x = x;
    j.zero = zero;
    j.packed = packed;
    j.table = table;
    j.y = y;
    j.call = call;
    j.parts = 1;
    j.pixels = (int64_t)y->dims[0] * y->dims[1] * y->dims[2];
    j.panels = (y->dims[3] + NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES - 1) / (NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES);
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
    j.less = zero - (NNRTI_Q8_GROUP == 4 && x->dataType == NNRT_DATA_TYPE_UINT8 ? 0x80 : 0); /* SDOT reads int8 */
#else
    j.flip = nnrti_cpu_flip(x) ^ NNRTI_Q8_SIGN;
    j.zero += nnrti_cpu_flip(x) - NNRTI_Q8_SIGN;
    j.less = NNRTI_CPU_DOT ? j.zero : 0;
#endif
    return j;
}

/* y[n,p,q,c] = requantize(bias[c] + sum over taps and channels of (x - its zero point) * weight), or the sum itself. */
static NNRT_ReturnCode NNRTI_CPU(gemm_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_gemm_q8 *a = (const nnrti_cpu_gemm_q8 *)attr;
    const nnrt_view *const rest = args + (a->zero ? 2 : 1);
    const int32_t zero = !a->scale.raw ? args[0].quant[0].zeroPoint : a->zero ? nnrti_cpu_zero_point_at(&args[1], 0) : 0;
    NNRTI_CPU(gemm_q8_job) j = NNRTI_CPU(gemm_q8_job_of)(&args[0], zero, &rest[0], &rest[1], &rest[2], call);
    j.attr = a;
    j.parts = nnrti_cpu_parts(call, a->parts);
    nnrti_cpu_parallel_for(call,
                           nnrti_cpu_gemm_q8_work(NNRTI_Q8_WORK, j.pixels, j.y->dims[3], a->depth * NNRTI_Q8_GROUP),
                           (uint32_t)((j.pixels + a->rows - 1) / a->rows) * j.parts, NNRTI_CPU(gemm_q8_task), &j);
    return NNRT_SUCCESS;
}

/* Arguments of `multi_gemm_q8`. */
typedef struct NNRTI_CPU(multi_gemm_q8_job) {
    const nnrti_cpu_multi_gemm_q8 *attr;
    const nnrt_view *args;
    const nnrt_call *call;
} NNRTI_CPU(multi_gemm_q8_job);

/* Work items of each group of a phase: some pixels each. */
static uint32_t NNRTI_CPU(phase_q8_items)(const nnrti_cpu_phase_q8 *p, const nnrt_view *y)
{
    return (uint32_t)(((int64_t)y->dims[0] * p->size[0] * p->size[1] + p->gemm.rows - 1) / p->gemm.rows);
}

/* Work item: some pixels of a group of a phase. */
static void NNRTI_CPU(multi_gemm_q8_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(multi_gemm_q8_job) *all = (const NNRTI_CPU(multi_gemm_q8_job) *)arg;
    const nnrti_cpu_multi_gemm_q8 *a = all->attr;
    const nnrti_cpu_phase_q8 *p = a->phase;
    nnrt_view x = all->args[0], packed = all->args[1], table = all->args[2], y = all->args[3];
    uint32_t items = NNRTI_CPU(phase_q8_items)(p, &y);
    NNRTI_CPU(gemm_q8_job) j;
    int32_t g;
    for (; unit >= (uint32_t)a->groups * items; items = NNRTI_CPU(phase_q8_items)(p, &y)) {
        unit -= (uint32_t)a->groups * items;
        p++;
    }
    g = (int32_t)(unit / items);
    x.data = (uint8_t *)x.data + g * a->channels;
    x.dims[3] = a->channels;
    y.data = (uint8_t *)y.data + p->first[0] * y.strides[1] + p->first[1] * y.strides[2] + g * a->results;
    y.dims[3] = a->results;
    for (int32_t i = 0; i < 2; i++) {
        y.dims[1 + i] = p->size[i];
        y.strides[1 + i] *= a->step[i];
    }
    packed.dims[0] = a->padded;
    packed.dims[1] = p->row;
    packed.data = (uint8_t *)packed.data + p->packed + (size_t)g * (size_t)a->padded * (size_t)p->row;
    table.data = (int32_t *)table.data + ((p - a->phase) * a->groups + g) * a->padded * NNRTI_CPU_REQUANTIZE_ROWS;
    j = NNRTI_CPU(gemm_q8_job_of)(&x, x.quant[0].zeroPoint, &packed, &table, &y, all->call);
    j.attr = &p->gemm;
    NNRTI_CPU(gemm_q8_task)(&j, unit % items, worker);
}

/* The same for grouped and transposed convolutions. */
static NNRT_ReturnCode NNRTI_CPU(multi_gemm_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_multi_gemm_q8 *a = (const nnrti_cpu_multi_gemm_q8 *)attr;
    NNRTI_CPU(multi_gemm_q8_job) j = {a, args, call};
    uint32_t count = 0;
    double work = 0;
    for (int32_t i = 0; i < a->phases; i++) {
        const nnrti_cpu_phase_q8 *p = &a->phase[i];
        count += (uint32_t)a->groups * NNRTI_CPU(phase_q8_items)(p, &args[3]);
        work += nnrti_cpu_gemm_q8_work(NNRTI_Q8_WORK, (int64_t)args[3].dims[0] * p->size[0] * p->size[1],
                                       args[3].dims[3], p->gemm.depth * NNRTI_Q8_GROUP);
    }
    nnrti_cpu_parallel_for(call, work, count, NNRTI_CPU(multi_gemm_q8_task), &j);
    return NNRT_SUCCESS;
}

#if NNRTI_CPU_DOT != 4
/* Matrix multiplication of two 8-bit tensors of the run, in the arguments of the reference kernel. A work item packs a panel
   of columns of one matrix y of the batch into scratch, less `base`, and multiplies all rows of x by it. With the zero
   points zX and zY, of elements flipped to 0 to 255,
       sum of (x - zX) * (y - zY) = sum of (x - zX) * (y - base) + (base - zY) * sum of (x - zX)
   so that packed bytes (base 128) fit int8 whatever zY is. */
typedef struct NNRTI_CPU(matmul_q8_job) {
    const nnrt_view *x, *y, *bias, *z;
    const nnrt_call *call;
    nnrti_cpu_matmul_q8_room room;
    ptrdiff_t rowX, termX, termY, columnY; /* strides: of rows, terms and columns of the matrices */
    int32_t K, panels, base;
    nnrti_cpu_gemm_q8 gemm;
    int32_t table[NNRTI_CPU_REQUANTIZE_ROWS * NNRTI_Q8_LANES]; /* of any vector of columns */
} NNRTI_CPU(matmul_q8_job);

#if NNRTI_CPU_DOT
#define NNRTI_CPU_BATCH_OFFSET NNRTI_CPU_JOIN_2(nnrti_cpu_batch_offset_, NNRTI_CPU_BASE)
#else
#define NNRTI_CPU_BATCH_OFFSET NNRTI_CPU(batch_offset)
#endif

#if NNRTI_CPU_LEVEL >= 3
/* Packs a whole group of terms of 16 columns, or 8 with AVX2, of rows of y that are `row` apart. */
NNRTI_CPU_INLINE void NNRTI_CPU(pack_group_q8)(const uint8_t *y, ptrdiff_t row, int32_t flip, int32_t base,
                                               nnrti_q8_w *to)
{
#if NNRTI_CPU_DOT
    const __m128i turn = _mm_set1_epi8((char)(flip ^ base));
    __m128i r[4], low[2], high[2];
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 4; i++)
        r[i] = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(y + i * row)), turn);
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 2; i++) {
        low[i] = _mm_unpacklo_epi8(r[2 * i], r[2 * i + 1]);
        high[i] = _mm_unpackhi_epi8(r[2 * i], r[2 * i + 1]);
    }
    _mm_storeu_si128((__m128i *)(void *)to, _mm_unpacklo_epi16(low[0], low[1]));
    _mm_storeu_si128((__m128i *)(void *)(to + 16), _mm_unpackhi_epi16(low[0], low[1]));
    _mm_storeu_si128((__m128i *)(void *)(to + 32), _mm_unpacklo_epi16(high[0], high[1]));
    _mm_storeu_si128((__m128i *)(void *)(to + 48), _mm_unpackhi_epi16(high[0], high[1]));
#else
    const __m128i turn = _mm_set1_epi8((char)flip);
    const __m256i less = _mm256_set1_epi16((int16_t)base);
    for (int32_t c = 0; c < NNRTI_Q8_LANES; c += 8, y += 8, to += 16) {
        const __m128i r = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(const void *)y),
                                            _mm_loadl_epi64((const __m128i *)(const void *)(y + row)));
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_xor_si128(r, turn)), less));
    }
#endif
}
#endif

/* Packs `count` columns of y, from element `y` on, as a panel of whole vectors. */
static void NNRTI_CPU(pack_matmul_q8)(const NNRTI_CPU(matmul_q8_job) * j, const uint8_t *y, int32_t count, nnrti_q8_w *to)
{
    const int32_t width = (count + NNRTI_Q8_LANES - 1) / NNRTI_Q8_LANES * NNRTI_Q8_LANES, K = j->K, base = j->base;
    const int32_t flip = nnrti_cpu_flip(j->y);
#if NNRTI_CPU_LEVEL >= 3
    if (j->termY == 1) { /* terms are adjacent: groups are 32 bits, which are transposed */
        union {
            uint32_t words[NNRTI_CPU_MATMUL_Q8_WORDS];
            nnrti_q8_x terms[NNRTI_CPU_MATMUL_Q8_WORDS * NNRTI_Q8_GROUP];
        } rows[NNRTI_CPU_PACK_ROWS];
        const int32_t most = NNRTI_CPU_MATMUL_Q8_WORDS * NNRTI_Q8_GROUP;
        memset(to, 0, (size_t)width * (size_t)j->gemm.depth * 4);
        for (int32_t k = 0; k < K; k += most)
            for (int32_t c = 0; c < count; c += NNRTI_CPU_PACK_ROWS) {
                const int32_t terms = K - k < most ? K - k : most;
                const int32_t columns = count - c < NNRTI_CPU_PACK_ROWS ? count - c : NNRTI_CPU_PACK_ROWS;
                for (int32_t r = 0; r < columns; r++) {
                    NNRTI_CPU(load_operands_q8)
                    (rows[r].terms, y + (c + r) * j->columnY + k, terms, NNRTI_CPU_DOT ? flip ^ base : flip, base);
                    for (int32_t t = terms; t % NNRTI_Q8_GROUP != 0; t++)
                        rows[r].terms[t] = 0;
                }
                nnrti_cpu_transpose(rows[0].words, NNRTI_CPU_MATMUL_Q8_WORDS,
                                    (uint32_t *)(void *)(to + ((ptrdiff_t)k * width + c * NNRTI_Q8_GROUP)), width, columns,
                                    (terms + NNRTI_Q8_GROUP - 1) / NNRTI_Q8_GROUP);
            }
        return;
    }
#endif
    for (int32_t k = 0; k < K; k += NNRTI_Q8_GROUP, to += width * NNRTI_Q8_GROUP) {
        int32_t c = 0;
#if NNRTI_CPU_LEVEL >= 3
        for (; j->columnY == 1 && k + NNRTI_Q8_GROUP <= K && c + NNRTI_Q8_LANES <= count; c += NNRTI_Q8_LANES)
            NNRTI_CPU(pack_group_q8)(y + k * j->termY + c, j->termY, flip, base, to + c * NNRTI_Q8_GROUP);
#endif
        for (; c < width; c++)
            for (int32_t t = 0; t < NNRTI_Q8_GROUP; t++)
                to[c * NNRTI_Q8_GROUP + t] =
                    (nnrti_q8_w)(c < count && k + t < K ? (y[(k + t) * j->termY + c * j->columnY] ^ flip) - base : 0);
    }
}

/* Copies the table of a panel, with its biases: those of z from column n on, less `less` times the sums of the columns, which
   the dot products of bytes do not subtract. */
static void NNRTI_CPU(matmul_q8_table)(const NNRTI_CPU(matmul_q8_job) * j, const nnrti_q8_w *packed, int32_t n,
                                       int32_t count, int32_t less, int32_t *table)
{
    const int32_t vectors = (count + NNRTI_Q8_LANES - 1) / NNRTI_Q8_LANES, width = vectors * NNRTI_Q8_LANES;
    const int32_t *bias = j->bias->data != NULL ? (const int32_t *)j->bias->data + n * j->bias->strides[0] : NULL;
    for (int32_t v = 0; v < vectors; v++, table += NNRTI_CPU_REQUANTIZE_ROWS * NNRTI_Q8_LANES) {
        uint32_t sums[NNRTI_Q8_LANES] = {0};
        memcpy(table, j->table, sizeof(j->table));
        for (int32_t g = 0; less != 0 && g < j->gemm.depth; g++) {
            const nnrti_q8_w *const from = packed + ((ptrdiff_t)g * width + v * NNRTI_Q8_LANES) * NNRTI_Q8_GROUP;
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL != 2
            int32_t part[NNRTI_Q8_LANES];
            memcpy(part, sums, sizeof(part));
            nnrti_i_store(part, nnrti_i_dot(nnrti_i_load(part), 0x01010101, from));
            memcpy(sums, part, sizeof(part));
#else
            for (int32_t i = 0; i < NNRTI_Q8_LANES * NNRTI_Q8_GROUP; i++) {
                const int32_t weight = from[i];
                sums[i / NNRTI_Q8_GROUP] += (uint32_t)weight;
            }
#endif
        }
        for (int32_t i = 0, c = v * NNRTI_Q8_LANES; i < NNRTI_Q8_LANES; i++, c++)
            table[i] = (int32_t)((uint32_t)(bias != NULL && c < count ? bias[c * j->bias->strides[0]] : 0) -
                                 (uint32_t)less * sums[i]);
    }
}

/* Work item: a panel of one matrix of the batch. */
static void NNRTI_CPU(matmul_q8_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(matmul_q8_job) *j = (const NNRTI_CPU(matmul_q8_job) *)arg;
    const uint32_t stack = i / (uint32_t)j->panels;
    const int32_t panel = NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES, last = j->z->rank - 1;
    const int32_t n = (int32_t)(i % (uint32_t)j->panels) * panel, M = j->z->dims[last - 1];
    const int32_t count = j->z->dims[last] - n < panel ? j->z->dims[last] - n : panel, K = j->K;
    uint8_t *const scratch = (uint8_t *)nnrti_cpu_scratch(j->call, worker), *const turned = scratch + j->room.turned;
    nnrti_q8_w *const to = (nnrti_q8_w *)(void *)(scratch + j->room.packed);
    const uint8_t *const from = (const uint8_t *)j->x->data + NNRTI_CPU_BATCH_OFFSET(j->x, j->z, stack);
    nnrt_view x = *j->x, z = *j->z, packed, table;
    NNRTI_CPU(gemm_q8_job) gemm;
    memset(&packed, 0, sizeof(packed));
    packed.data = to;
    packed.dims[0] = (count + NNRTI_Q8_LANES - 1) / NNRTI_Q8_LANES * NNRTI_Q8_LANES;
    packed.dims[1] = j->gemm.depth * NNRTI_Q8_GROUP * (int32_t)sizeof(*to);
    table = packed;
    table.data = scratch + j->room.table;
    x.rank = z.rank = 4;
    for (int32_t k = 0; k < 2; k++) {
        x.dims[k] = z.dims[k] = 1;
        x.strides[k] = z.strides[k] = 0;
    }
    x.dims[3] = K;
    x.strides[2] = j->termX == 1 ? j->rowX : K;
    x.strides[3] = z.strides[3] = 1;
    z.dims[3] = count;
    z.strides[2] = j->z->strides[last - 1];
    NNRTI_CPU(pack_matmul_q8)
    (j, (const uint8_t *)j->y->data + NNRTI_CPU_BATCH_OFFSET(j->y, j->z, stack) + n * j->columnY, count, to);
    for (int32_t m = 0; m < M; m += j->room.rows) {
        x.dims[2] = z.dims[2] = M - m < j->room.rows ? M - m : j->room.rows;
        x.data = (uint8_t *)(uintptr_t)(from + m * j->rowX);
        z.data = (uint8_t *)j->z->data + NNRTI_CPU_BATCH_OFFSET(j->z, j->z, stack) + m * z.strides[2] + n;
        if (j->termX != 1) { /* x is transposed */
            if (j->rowX == 1)
                nnrti_cpu_transpose_bytes((const uint8_t *)x.data, j->termX, turned, K, K, x.dims[2]);
            for (int32_t r = 0; j->rowX != 1 && r < x.dims[2]; r++)
                for (int32_t k = 0; k < K; k++)
                    turned[r * K + k] = ((const uint8_t *)x.data)[r * j->rowX + k * j->termX];
            x.data = turned;
        }
        gemm = NNRTI_CPU(gemm_q8_job_of)(&x, x.quant[0].zeroPoint, &packed, &table, &z, j->call);
        gemm.attr = &j->gemm;
        if (m == 0)
            NNRTI_CPU(matmul_q8_table)(j, to, n, count, gemm.less, (int32_t *)table.data);
        NNRTI_CPU(gemm_q8_task)(&gemm, 0, worker);
    }
}

/* z[..,m,n] = requantize(bias[n] + sum over k of (x[..,m,k] - zX) * (y[..,k,n] - zY)); by the reference kernel if a sum
   may exceed 32 bits. */
static NNRT_ReturnCode NNRTI_CPU(matmul_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_MatMulFusion *const a = (const NNRT_MatMulFusion *)attr;
    const nnrti_cpu_isa_q8 isa = {NNRTI_Q8_LANES, NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES, NNRTI_Q8_GROUP,
                                  (int32_t)sizeof(nnrti_q8_w), 0, 0, 0, 0, false};
    NNRTI_CPU(matmul_q8_job) j;
    const nnrt_view *const x = &args[0], *const y = &args[1], *const z = &args[4];
    const int32_t zeroY = y->quant[0].zeroPoint + nnrti_cpu_flip(y);
    const int32_t termX = x->rank - 1 - a->transposeA, rowX = x->rank - 2 + a->transposeA;
    const int32_t termY = y->rank - 2 + a->transposeB, columnY = y->rank - 1 - a->transposeB;
    uint32_t stacks = 1;
    int64_t reach;
    if (nnrt_view_empty(z))
        return NNRT_SUCCESS;
    memset(&j, 0, sizeof(j));
    j.x = x;
    j.y = y;
    j.bias = &args[2];
    j.z = z;
    j.call = call;
    j.K = x->dims[termX];
    reach = nnrti_cpu_matmul_q8_reach(x, y, j.bias, j.K);
    if (j.K == 0 || reach > INT32_MAX || z->strides[z->rank - 1] != 1 ||
        args[3].dims[0] > NNRT_QUANT_FACTORS + 2) /* a factor for each column */
        return nnrt_matmul_fusion_q8(a, x, y, j.bias->data != NULL ? j.bias : NULL, &args[3], &args[4]);
    j.room = nnrti_cpu_matmul_q8_room_of(&isa, j.K);
    j.termX = x->strides[termX];
    j.rowX = x->strides[rowX];
    j.termY = y->strides[termY];
    j.columnY = y->strides[columnY];
    j.base = sizeof(nnrti_q8_w) == 1 ? 128 : zeroY;
    j.panels = (z->dims[z->rank - 1] + isa.panel - 1) / isa.panel;
    for (int32_t i = 0; i < 2; i++)
        j.gemm.window[i] = j.gemm.stride[i] = j.gemm.dilation[i] = 1;
    j.gemm.rows = j.room.rows;
    j.gemm.parts = 1;
    j.gemm.depth = j.gemm.groups = (j.K + NNRTI_Q8_GROUP - 1) / NNRTI_Q8_GROUP;
    j.gemm.gather = !NNRTI_CPU_DOT || !NNRTI_CPU_DOT_READS(x) || j.K % NNRTI_Q8_GROUP != 0;
    j.gemm.across = j.gemm.gather ? 0 : 1;
    j.gemm.sums = j.base != zeroY;
    j.gemm.correct = j.base - zeroY;
    nnrti_cpu_requantize_table(&j.gemm.scale, &args[3], z, reach, NNRTI_Q8_LANES, NNRTI_Q8_LANES, NNRTI_Q8_LANES, 0,
                               j.table);
    for (int32_t k = 0; k < z->rank - 2; k++)
        stacks *= (uint32_t)z->dims[k];
    nnrti_cpu_parallel_for(call,
                           stacks * nnrti_cpu_gemm_q8_work(sizeof(nnrti_q8_w), z->dims[z->rank - 2], z->dims[z->rank - 1],
                                                           j.gemm.depth * NNRTI_Q8_GROUP),
                           stacks * (uint32_t)j.panels, NNRTI_CPU(matmul_q8_task), &j);
    return NNRT_SUCCESS;
}

#endif /* NNRTI_CPU_DOT != 4 */

#if NNRTI_CPU_DOT < 2 /* i8mm uses the depthwise convolution of dotprod */
/* Arguments of an int8 depthwise convolution. */
typedef struct NNRTI_CPU(depthwise_q8_job) {
    const nnrti_cpu_window_q8 *attr;
    const nnrt_view *x, *packed, *table, *y;
    const nnrt_call *call;
    int32_t flip, zero;
    uint8_t none[NNRTI_Q8_BLOCK]; /* zero points of x, as stored */
} NNRTI_CPU(depthwise_q8_job);

/* For pools: channels c to c + count - 1 of a pixel, its taps as in >>depthwise; at: offset of tap 0,0 in x. */
typedef struct NNRTI_CPU(taps_q8) {
    int32_t first, last, begin, end, count;
    ptrdiff_t at;
} NNRTI_CPU(taps_q8);

#if NNRTI_CPU_LEVEL == 3
/* Widens `count` 8-bit elements, at most a block, flipped and less their zero point, to int16. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(load_block_q8)(const uint8_t *x, int32_t count, int32_t flip, int32_t zero)
{
    const __m128i turn = _mm_set1_epi8((char)flip);
    uint8_t part[NNRTI_Q8_BLOCK] = {0};
    __m128i bytes;
    if (count >= NNRTI_Q8_BLOCK) {
        bytes = _mm_loadu_si128((const __m128i *)(const void *)x);
    } else {
        nnrti_cpu_copy_small(part, x, (size_t)count);
        bytes = _mm_loadu_si128((const __m128i *)(const void *)part);
    }
    return _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_xor_si128(bytes, turn)), _mm256_set1_epi16((int16_t)zero));
}
#endif

/* Widens `count` 8-bit elements, flipped and less their zero point, to int32. Lanes behind them are undefined. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(widen_q8)(const uint8_t *x, int32_t count, int32_t flip, int32_t zero)
{
#if NNRTI_CPU_LEVEL >= 4
    const __m128i bytes = _mm_maskz_loadu_epi8(count >= 16 ? (__mmask16)0xFFFF : (__mmask16)((1u << count) - 1), x);
    return _mm512_sub_epi32(_mm512_xor_si512(_mm512_cvtepu8_epi32(bytes), _mm512_set1_epi32(flip)),
                            _mm512_set1_epi32(zero));
#else
    uint8_t part[NNRTI_Q8_LANES] = {0};
    if (count >= NNRTI_Q8_LANES)
        memcpy(part, x, NNRTI_Q8_LANES);
    else
        memcpy(part, x, (size_t)count);
#if NNRTI_CPU_LEVEL == 3
    return _mm256_sub_epi32(_mm256_xor_si256(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)part)),
                                             _mm256_set1_epi32(flip)),
                            _mm256_set1_epi32(zero));
#elif NNRTI_CPU_LEVEL == 2
    {
        uint32_t four;
        memcpy(&four, part, sizeof(four));
        const uint16x4_t words = vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))));
        return vsubq_s32(veorq_s32(vreinterpretq_s32_u32(vmovl_u16(words)), vdupq_n_s32(flip)), vdupq_n_s32(zero));
    }
#elif NNRTI_CPU_WASM
    {
        const v128_t words = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(part));
        return ((nnrti_i)wasm_u32x4_extend_low_u16x8(words) ^ flip) - zero;
    }
#else
    {
        const int32_t wide[NNRTI_Q8_LANES] = {(part[0] ^ flip) - zero, (part[1] ^ flip) - zero, (part[2] ^ flip) - zero,
                                              (part[3] ^ flip) - zero};
        return nnrti_i_load(wide);
    }
#endif
#endif
}

/* sum + x * w of a group of rows: a dot product per lane. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(dot_q8)(nnrti_i sum, nnrti_i x, nnrti_i w)
{
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
#elif NNRTI_CPU_DOT && NNRTI_CPU_WASM
    return (nnrti_i)NNRT_CPU_RELAXED_DOT((v128_t)w, (v128_t)x, (v128_t)sum);
#elif NNRTI_CPU_DOT
    return _mm512_dpbusd_epi32(sum, x, w);
#elif NNRTI_CPU_LEVEL == 4
    return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w));
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
#elif NNRTI_CPU_LEVEL == 2
    return vmlaq_s32(sum, x, w);
#elif NNRTI_CPU_WASM
    return sum + (nnrti_i)wasm_i32x4_dot_i16x8((v128_t)x, (v128_t)w);
#else
    return sum + x * w;
#endif
}

#define NNRTI_Q8_BLOCK_VECTORS (NNRTI_Q8_BLOCK / NNRTI_Q8_LANES)

/* A strip of pixels, or of folds of pixels: a block of their channels in some rows of y. */
typedef struct NNRTI_CPU(strip_q8) {
    const uint8_t *image; /* the first channel of the block in pixel 0,0 of x */
    int64_t top, left;    /* of tap 0,0 of the first pixel */
    int32_t columns;      /* columns of x that they read, */
    int32_t read, skip;   /* after `read` of them no pixel reads the next `skip` */
    int32_t channel;      /* the first of the block; with folding its byte offset */
    int32_t count;        /* channels that exist */
    int32_t whole;        /* columns of x where a whole block can be read */
    int64_t end;          /* bytes of a row of x */
    bool folded;
} NNRTI_CPU(strip_q8);

#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
/* Interleaves the elements of four rows, for the dot product. */
NNRTI_CPU_INLINE void NNRTI_CPU(interleave_rows)(const nnrti_i *rows, int32_t *to)
{
    const int8x16x2_t top = vzipq_s8(vreinterpretq_s8_s32(rows[0]), vreinterpretq_s8_s32(rows[1]));
    const int8x16x2_t bottom = vzipq_s8(vreinterpretq_s8_s32(rows[2]), vreinterpretq_s8_s32(rows[3]));
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 2; i++) {
        const int16x8x2_t four = vzipq_s16(vreinterpretq_s16_s8(top.val[i]), vreinterpretq_s16_s8(bottom.val[i]));
        nnrti_i_store(to + 2 * i * NNRTI_Q8_LANES, vreinterpretq_s32_s16(four.val[0]));
        nnrti_i_store(to + (2 * i + 1) * NNRTI_Q8_LANES, vreinterpretq_s32_s16(four.val[1]));
    }
}

/* Loads `count` elements, at most a block, flipped. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(load_block_q8)(const uint8_t *x, int32_t count, int32_t flip, int32_t zero)
{
    const uint8x16_t turn = vdupq_n_u8((uint8_t)flip);
    uint8_t part[NNRTI_Q8_BLOCK] = {0};
    (void)zero;
    if (count >= NNRTI_Q8_BLOCK)
        return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(x), turn));
    nnrti_cpu_copy_small(part, x, (size_t)count);
    return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(part), turn));
}
#elif NNRTI_CPU_DOT && NNRTI_CPU_WASM
NNRTI_CPU_INLINE void NNRTI_CPU(interleave_rows)(const nnrti_i *rows, int32_t *to)
{
    const v128_t top =
        wasm_i8x16_shuffle((v128_t)rows[0], (v128_t)rows[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const v128_t bottom =
        wasm_i8x16_shuffle((v128_t)rows[2], (v128_t)rows[3], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    wasm_v128_store(to, wasm_i16x8_shuffle(top, bottom, 0, 8, 1, 9, 2, 10, 3, 11));
    wasm_v128_store(to + NNRTI_Q8_LANES, wasm_i16x8_shuffle(top, bottom, 4, 12, 5, 13, 6, 14, 7, 15));
}

NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(load_block_q8)(const uint8_t *x, int32_t count, int32_t flip, int32_t zero)
{
    const v128_t turn = wasm_i8x16_splat((int8_t)flip);
    uint8_t part[NNRTI_Q8_BLOCK] = {0};
    (void)zero;
    if (count >= NNRTI_Q8_BLOCK)
        return (nnrti_i)wasm_v128_xor(wasm_v128_load64_zero(x), turn);
    nnrti_cpu_copy_small(part, x, (size_t)count);
    return (nnrti_i)wasm_v128_xor(wasm_v128_load64_zero(part), turn);
}
#elif NNRTI_CPU_DOT
/* Mask of the bytes of a block that are inside x, in column `column`. */
NNRTI_CPU_INLINE __mmask64 NNRTI_CPU(bytes_inside)(const NNRTI_CPU(strip_q8) * s, const nnrt_view *x, int64_t column)
{
    const int64_t at = column * x->strides[2] + s->channel;
    int64_t first = 0, last = s->count < 64 ? s->count : 64;
    if (s->folded) {
        first = at < 0 ? -at : 0;
        last = s->end - at < 64 ? s->end - at : 64;
    } else if (column < 0 || column >= x->dims[2]) {
        last = 0;
    }
    return first < last ? ~(__mmask64)0 >> (64 - (last - first)) << first : 0;
}

/* Interleaves the elements of four rows, for the dot product; the byte unpacks cause the channel order of
   nnrti_cpu_interleaved_channel. */
NNRTI_CPU_INLINE void NNRTI_CPU(interleave_rows)(const __m512i *rows, int32_t *to)
{
    const __m512i a = _mm512_unpacklo_epi8(rows[0], rows[1]), b = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const __m512i c = _mm512_unpacklo_epi8(rows[2], rows[3]), d = _mm512_unpackhi_epi8(rows[2], rows[3]);
    nnrti_i_store(to, _mm512_unpacklo_epi16(a, c));
    nnrti_i_store(to + NNRTI_Q8_LANES, _mm512_unpackhi_epi16(a, c));
    nnrti_i_store(to + 2 * NNRTI_Q8_LANES, _mm512_unpacklo_epi16(b, d));
    nnrti_i_store(to + 3 * NNRTI_Q8_LANES, _mm512_unpackhi_epi16(b, d));
}
#elif NNRTI_CPU_LEVEL == 3
/* Interleaves two rows of int16, which permutes the channels (nnrti_cpu_interleaved_channel). */
NNRTI_CPU_INLINE void NNRTI_CPU(interleave_rows)(const nnrti_i *rows, int32_t *to)
{
    nnrti_i_store(to, _mm256_unpacklo_epi16(rows[0], rows[1]));
    nnrti_i_store(to + NNRTI_Q8_LANES, _mm256_unpackhi_epi16(rows[0], rows[1]));
}
#else
/* Interleaves two rows, less their zero points; on ISAs with groups of one element, stores the row. */
NNRTI_CPU_INLINE void NNRTI_CPU(interleave_rows)(const nnrti_i *rows, int32_t *to)
{
#if NNRTI_CPU_LEVEL == 4
    nnrti_i_store(to, _mm512_mask_blend_epi16(0xAAAAAAAA, rows[0], _mm512_slli_epi32(rows[1], 16)));
#elif NNRTI_CPU_WASM
    nnrti_i_store(to, (rows[0] & 0xFFFF) | (rows[1] * 65536));
#else
    nnrti_i_store(to, rows[0]);
#endif
}
#endif

/* Interleaves a group of rows of x: one block per column into `room`, blocks `next` apart. Lanes behind the channels
   of a block may hold anything: their weights are 0. */
static void NNRTI_CPU(interleave_columns)(const NNRTI_CPU(depthwise_q8_job) * j, const NNRTI_CPU(strip_q8) * s,
                                          int32_t group, int32_t *room, ptrdiff_t next)
{
    const nnrt_view *x = j->x;
    const uint8_t *row[NNRTI_Q8_GROUP];
    ptrdiff_t step[NNRTI_Q8_GROUP];
    nnrti_i cells[NNRTI_Q8_GROUP];
    for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++) {
        const int64_t h = s->top + (int64_t)(group * NNRTI_Q8_GROUP + i) * j->attr->dilation[0];
        const bool in = h >= 0 && h < x->dims[1];
        row[i] = in ? s->image + (ptrdiff_t)h * x->strides[1] + (ptrdiff_t)s->left * x->strides[2] : j->none;
        step[i] = in ? x->strides[2] : 0;
    }
    for (int32_t k = 0, left = s->read; k < s->columns; k++, left--, room += next) {
        int64_t column;
        if (left == 0) { /* columns between the windows of two folds */
            k += s->skip;
            left = s->read;
            room += s->skip * next;
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
                row[i] += s->skip * step[i];
        }
        column = s->left + k;
#if NNRTI_CPU_LEVEL == 3 || (NNRTI_CPU_DOT && NNRTI_CPU_LEVEL <= 2)
        if (column >= 0 && column < s->whole) {
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
                cells[i] = NNRTI_CPU(load_block_q8)(row[i], NNRTI_Q8_BLOCK, j->flip, j->zero);
        } else {
            const bool inside = column >= 0 && column < x->dims[2];
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
                cells[i] = NNRTI_CPU(load_block_q8)(inside ? row[i] : j->none, inside ? s->count : NNRTI_Q8_BLOCK,
                                                    j->flip, j->zero);
        }
#elif NNRTI_CPU_DOT
        const __m512i turn = _mm512_set1_epi32((int32_t)((uint32_t)j->flip * 0x01010101u));
        const int64_t at = column * x->strides[2] + s->channel;
        if (at >= 0 && at + NNRTI_Q8_BLOCK <= s->end) {
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
                cells[i] = _mm512_xor_si512(_mm512_loadu_si512(row[i]), turn);
        } else {
            const __mmask64 some = NNRTI_CPU(bytes_inside)(s, x, column);
            const __m512i none = _mm512_loadu_si512(j->none);
            NNRTI_CPU_UNROLL
            for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
                cells[i] = _mm512_xor_si512(_mm512_mask_loadu_epi8(none, step[i] != 0 ? some : 0, row[i]), turn);
        }
#else
        const bool inside = column >= 0 && column < x->dims[2];
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
            cells[i] = NNRTI_CPU(widen_q8)(inside ? row[i] : j->none, s->count, j->flip, j->zero);
#endif
        NNRTI_CPU(interleave_rows)(cells, room);
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < NNRTI_Q8_GROUP; i++)
            row[i] += step[i];
    }
}

/* Sums of a block of `tall` pixels, `step` columns apart, from the interleaved columns in `room`, which begin with
   those of the first pixel, by `width` x `groups` blocks of weights. */
NNRTI_CPU_INLINE void NNRTI_CPU(depthwise_q8_sums)(const int32_t *room, ptrdiff_t step, ptrdiff_t dilation,
                                                   const int8_t *w, const int32_t *table, int32_t *out,
                                                   const int32_t tall, const int32_t width, const int32_t groups)
{
    const ptrdiff_t column = (ptrdiff_t)groups * NNRTI_Q8_BLOCK, next = step * column;
    for (int32_t v = 0; v < NNRTI_Q8_BLOCK; v += NNRTI_Q8_LANES) {
        const nnrti_i bias = nnrti_i_load(table + v * NNRTI_CPU_REQUANTIZE_ROWS);
        const int8_t *weights = w + 4 * v;
        nnrti_i sum[NNRTI_CPU_MAX_TILE_ROWS_Q8];
        NNRTI_CPU_UNROLL
        for (int32_t t = 0; t < tall; t++)
            sum[t] = bias;
        for (int32_t k = 0; k < width; k++) {
            const int32_t *cells = room + k * dilation * column + v;
            for (int32_t g = 0; g < groups; g++, cells += NNRTI_Q8_BLOCK, weights += 4 * NNRTI_Q8_BLOCK) {
                nnrti_i weight;
                memcpy(&weight, weights, sizeof(weight));
                NNRTI_CPU_UNROLL
                for (int32_t t = 0; t < tall; t++)
                    sum[t] = NNRTI_CPU(dot_q8)(sum[t], nnrti_i_load(cells + t * next), weight);
            }
        }
        NNRTI_CPU_UNROLL
        for (int32_t t = 0; t < tall; t++)
            nnrti_i_store(out + t * NNRTI_Q8_BLOCK + v, sum[t]);
    }
}

#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
/* The same for a whole tile of neighboring pixels and windows of three columns: each column is loaded once. */
NNRTI_CPU_INLINE void NNRTI_CPU(depthwise_q8_three)(const int32_t *room, const int8_t *w, const int32_t *table,
                                                    int32_t *out)
{
    for (int32_t v = 0; v < NNRTI_Q8_BLOCK; v += NNRTI_Q8_LANES, w += 4 * NNRTI_Q8_LANES) {
        const nnrti_i bias = nnrti_i_load(table + v * NNRTI_CPU_REQUANTIZE_ROWS);
        nnrti_i sum[NNRTI_CPU_MAX_TILE_ROWS_Q8], weight[3];
        memcpy(&weight[0], w, sizeof(bias));
        memcpy(&weight[1], w + 4 * NNRTI_Q8_BLOCK, sizeof(bias));
        memcpy(&weight[2], w + 8 * NNRTI_Q8_BLOCK, sizeof(bias));
        NNRTI_CPU_UNROLL
        for (int32_t t = 0; t < NNRTI_CPU_MAX_TILE_ROWS_Q8; t++)
            sum[t] = bias;
        NNRTI_CPU_UNROLL
        for (int32_t c = 0; c < NNRTI_CPU_MAX_TILE_ROWS_Q8 + 2; c++) {
            const nnrti_i cell = nnrti_i_load(room + c * NNRTI_Q8_BLOCK + v);
            NNRTI_CPU_UNROLL
            for (int32_t k = 0; k < 3; k++)
                if (c >= k && c - k < NNRTI_CPU_MAX_TILE_ROWS_Q8)
                    sum[c - k] = NNRTI_CPU(dot_q8)(sum[c - k], cell, weight[k]);
        }
        NNRTI_CPU_UNROLL
        for (int32_t t = 0; t < NNRTI_CPU_MAX_TILE_ROWS_Q8; t++)
            nnrti_i_store(out + t * NNRTI_Q8_BLOCK + v, sum[t]);
    }
}
#endif

#define NNRTI_Q8_THREE (NNRTI_Q8_GROUP >= 3 ? 1 : NNRTI_Q8_GROUP == 2 ? 2 : 3) /* groups that three rows make */

/* Whether the window has the three columns and rows of an instance. */
NNRTI_CPU_INLINE bool NNRTI_CPU(has_three_taps)(const nnrti_cpu_window_q8 *a)
{
    return a->window[1] == 3 && a->groups == NNRTI_Q8_THREE;
}

/* Pixels of the next tile of `left` ones: as few surplus ones as the instances permit. */
NNRTI_CPU_INLINE int32_t NNRTI_CPU(depthwise_q8_tile)(int32_t left, bool three)
{
    return !three || NNRTI_CPU_LEVEL < 3 || left > 6 ? NNRTI_CPU_MAX_TILE_ROWS_Q8 : left > 4 ? 6 : 4;
}

/* A block of channels of `pixels` pixels of a row of y, `next` apart. Surplus pixels of the last tile are computed
   but not stored. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(depthwise_q8_line)(const NNRTI_CPU(depthwise_q8_job) * j,
                                                            const NNRTI_CPU(strip_q8) * s, const int32_t *room,
                                                            ptrdiff_t step, const int8_t *w, const int32_t *table,
                                                            int32_t pixels, uint8_t *y, ptrdiff_t next)
{
    const nnrti_cpu_window_q8 *a = j->attr;
    const bool three = NNRTI_CPU(has_three_taps)(a);
    int32_t sum[NNRTI_CPU_MAX_TILE_ROWS_Q8 * NNRTI_Q8_BLOCK];
    uint8_t *rows[NNRTI_CPU_MAX_TILE_ROWS_Q8];
    for (int32_t q = 0, tile; q < pixels; q += tile) {
        const int32_t left = pixels - q;
        tile = NNRTI_CPU(depthwise_q8_tile)(left, three);
#if NNRTI_CPU_DOT && NNRTI_CPU_LEVEL == 2
        if (pixels > 1 && three && step == 1 && a->dilation[1] == 1)
            NNRTI_CPU(depthwise_q8_three)(room, w, table, sum);
        else
#endif
        if (pixels > 1 && three && tile == NNRTI_CPU_MAX_TILE_ROWS_Q8)
            NNRTI_CPU(depthwise_q8_sums)
        (room, step, a->dilation[1], w, table, sum, NNRTI_CPU_MAX_TILE_ROWS_Q8, 3, NNRTI_Q8_THREE);
#if NNRTI_CPU_LEVEL >= 3
        else if (pixels > 1 && tile == 6)
            NNRTI_CPU(depthwise_q8_sums)(room, step, a->dilation[1], w, table, sum, 6, 3, NNRTI_Q8_THREE);
        else if (pixels > 1 && tile == 4)
            NNRTI_CPU(depthwise_q8_sums)(room, step, a->dilation[1], w, table, sum, 4, 3, NNRTI_Q8_THREE);
#endif
        else if (pixels > 1)
            NNRTI_CPU(depthwise_q8_sums)
        (room, step, a->dilation[1], w, table, sum, NNRTI_CPU_MAX_TILE_ROWS_Q8, a->window[1], a->groups);
        else NNRTI_CPU(depthwise_q8_sums)(room, step, a->dilation[1], w, table, sum, 1, a->window[1], a->groups);
        room += tile * step * a->groups * NNRTI_Q8_BLOCK;
        for (int32_t t = 0; t < left && t < tile; t++, y += next)
            rows[t] = y;
        NNRTI_CPU(requantize_rows)
        (sum, NNRTI_Q8_BLOCK_VECTORS, rows, 0, left < tile ? left : tile, s->count, &a->scale, table, NNRTI_Q8_MIXED);
    }
}

/* Work item: rows of y that read the same rows of x. If the channels of several neighboring pixels fill whole blocks
   (fold), these pixels are processed as one with more channels; the last fold is aligned to the end of the row and
   may recompute some pixels. */
static void NNRTI_CPU(depthwise_q8_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(depthwise_q8_job) *j = (const NNRTI_CPU(depthwise_q8_job) *)arg;
    const nnrti_cpu_window_q8 *a = j->attr;
    const nnrt_view *x = j->x, *y = j->y;
    const int32_t W = y->dims[2], C = y->dims[3], units = (y->dims[1] + a->lines - 1) / a->lines;
    const uint32_t part = unit % a->parts;
    const int32_t n = (int32_t)(unit / a->parts) / units, p = (int32_t)(unit / a->parts) % units * a->lines;
    const int32_t fold = W >= a->fold && x->strides[2] == C && y->strides[2] == C ? a->fold : 1;
    const int32_t step = fold > 1 ? fold : a->stride[1], last = (a->window[1] - 1) * a->dilation[1];
    const uintptr_t scratch = (uintptr_t)nnrti_cpu_scratch(j->call, worker);
    int32_t *const room = (int32_t *)((scratch + 63) & ~(uintptr_t)63);
    const ptrdiff_t column = (ptrdiff_t)a->groups * NNRTI_Q8_BLOCK;
    const int64_t blocks = (C * fold + NNRTI_Q8_BLOCK - 1) / NNRTI_Q8_BLOCK;
    const int32_t begin = (int32_t)(blocks * part / a->parts) * NNRTI_Q8_BLOCK;
    const int32_t end = (int32_t)(blocks * (part + 1) / a->parts) * NNRTI_Q8_BLOCK;
    NNRTI_CPU(strip_q8) s;
    const bool three = NNRTI_CPU(has_three_taps)(a);
    s.top = (int64_t)p * a->stride[0] - a->pad[0];
    s.folded = fold > 1;
    s.read = step > last + 1 ? last + 1 : INT32_MAX;
    s.skip = step - last - 1;
    s.end = (x->dims[2] - 1) * (int64_t)x->strides[2] + C;
    for (int32_t c = begin; c < end; c += NNRTI_Q8_BLOCK) {
        s.image = (const uint8_t *)x->data + n * x->strides[0] + c;
        s.channel = c;
        s.count = C * fold - c;
        s.whole = s.count >= NNRTI_Q8_BLOCK ? x->dims[2] : 0;
        if (s.whole == 0 && x->strides[2] > 0) /* the channels that are missing are read from the next columns */
            s.whole = x->dims[2] - 1 - (int32_t)((NNRTI_Q8_BLOCK - s.count - 1) / x->strides[2]);
        for (int32_t q = 0, pixels; q < W; q += pixels * fold) {
            const int8_t *w = (const int8_t *)j->packed->data + c * (ptrdiff_t)j->packed->dims[1];
            pixels = (W - q) / fold < a->span ? (W - q) / fold : a->span;
            if (pixels == 0) {
                q = W - fold;
                pixels = 1;
            }
            s.left = (int64_t)q * a->stride[1] - a->pad[1];
            s.columns = last + 1; /* including the surplus pixels of whole tiles */
            if (pixels > 1) {
                const int32_t first = (pixels - 1) / NNRTI_CPU_MAX_TILE_ROWS_Q8 * NNRTI_CPU_MAX_TILE_ROWS_Q8;
                s.columns += (first + NNRTI_CPU(depthwise_q8_tile)(pixels - first, three) - 1) * step;
            }
            for (int32_t g = 0; g < a->groups; g++)
                NNRTI_CPU(interleave_columns)(j, &s, g, room + g * NNRTI_Q8_BLOCK, column);
            for (int32_t line = 0; line < a->lines && p + line < y->dims[1]; line++, w += 4 * a->window[1] * column)
                NNRTI_CPU(depthwise_q8_line)
            (j, &s, room, step, w, (const int32_t *)j->table->data + c * NNRTI_CPU_REQUANTIZE_ROWS, pixels,
             (uint8_t *)y->data + n * y->strides[0] + (p + line) * y->strides[1] + q * y->strides[2] + c,
             fold * y->strides[2]);
        }
    }
}

/* y[n,p,q,c] = requantize(bias[c] + sum over taps of (x[n,..,c] - its zero point) * weight[..,c]). */
static NNRT_ReturnCode NNRTI_CPU(depthwise_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(depthwise_q8_job) j;
    const nnrt_view *y = &args[3];
    const double each = NNRTI_CPU_DOT ? 0.4 : NNRTI_CPU_LEVEL == 3 ? 5.0 : 8.0; /* of a product */
    j.attr = (const nnrti_cpu_window_q8 *)attr;
    j.x = &args[0];
    j.packed = &args[1];
    j.table = &args[2];
    j.y = &args[3];
    j.call = call;
    j.flip = nnrti_cpu_flip(j.x) ^ NNRTI_Q8_SIGN;
    j.zero = j.x->quant[0].zeroPoint + nnrti_cpu_flip(j.x) - NNRTI_Q8_SIGN;
    memset(j.none, j.zero ^ j.flip, sizeof(j.none));
    nnrti_cpu_parallel_for(call,
                           each * y->dims[0] * y->dims[1] * y->dims[2] * y->dims[3] * j.attr->window[0] *
                               j.attr->window[1],
                           (uint32_t)(y->dims[0] * ((y->dims[1] + j.attr->lines - 1) / j.attr->lines)) * j.attr->parts,
                           NNRTI_CPU(depthwise_q8_task), &j);
    return NNRT_SUCCESS;
}

#endif

#if !NNRTI_CPU_DOT
/* y = clamp(zero + round(x / scale)), halves away from zero, NaN as 0; rows of any strides. */
static void NNRTI_CPU(quantize_row_q16)(const float *x, ptrdiff_t nextX, int16_t *y, ptrdiff_t nextY, int32_t count, float scale,
                                        int32_t zero)
{
    int32_t i = 0;
#if NNRTI_CPU_LEVEL >= 3
    const __m256 s = _mm256_set1_ps(scale), most = _mm256_set1_ps(70000.0f), sign = _mm256_set1_ps(-0.0f);
    for (; nextX == 1 && nextY == 1 && i + 8 <= count; i += 8) {
        const __m256 v = _mm256_div_ps(_mm256_loadu_ps(x + i), s);
        __m256 t = _mm256_round_ps(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __m256 rest = _mm256_andnot_ps(sign, _mm256_sub_ps(v, t));
        const __m256 one = _mm256_or_ps(_mm256_and_ps(sign, v), _mm256_set1_ps(1.0f));
        __m256i q;
        t = _mm256_add_ps(t, _mm256_and_ps(one, _mm256_cmp_ps(rest, _mm256_set1_ps(0.5f), _CMP_GE_OQ)));
        t = _mm256_and_ps(t, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
        t = _mm256_min_ps(_mm256_max_ps(t, _mm256_sub_ps(_mm256_setzero_ps(), most)), most);
        q = _mm256_add_epi32(_mm256_cvttps_epi32(t), _mm256_set1_epi32(zero));
        _mm_storeu_si128((__m128i *)(void *)(y + i), _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1)));
    }
#endif
    for (; i < count; i++) {
        const float v = x[i * nextX] / scale, bounded = v > -70000.0f ? (v < 70000.0f ? v : 70000.0f) : v == v ? -70000.0f : 0.0f;
        const float whole = (float)(int32_t)bounded, rest = bounded - whole;
        const int32_t q = zero + (int32_t)whole + (rest >= 0.5f) - (rest <= -0.5f);
        y[i * nextY] = (int16_t)(q < INT16_MIN ? INT16_MIN : q > INT16_MAX ? INT16_MAX : q);
    }
}

static void NNRTI_CPU(dequantize_row_q16)(const int16_t *x, ptrdiff_t nextX, float *y, ptrdiff_t nextY, int32_t count, float scale,
                                          int32_t zero)
{
    int32_t i = 0;
#if NNRTI_CPU_LEVEL >= 3
    for (; nextX == 1 && nextY == 1 && i + 8 <= count; i += 8) {
        const __m256i q = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(x + i)));
        const __m256 difference = _mm256_cvtepi32_ps(_mm256_sub_epi32(q, _mm256_set1_epi32(zero)));
        _mm256_storeu_ps(y + i, _mm256_mul_ps(difference, _mm256_set1_ps(scale)));
    }
#endif
    for (; i < count; i++)
        y[i * nextY] = scale * (float)(x[i * nextX] - zero);
}

/* QUANT_DTYPE_CAST of float32 to int16, or back: y = scale * (x - zero). */
static NNRT_ReturnCode NNRTI_CPU(cast_q16)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const bool back = args[0].dataType == NNRT_DATA_TYPE_INT16;
    const NNRT_QuantParam *quant = args[back ? 0 : 1].quant;
    const float scale = (float)quant[0].scale;
    const int32_t zero = quant[0].zeroPoint;
    nnrt_walk w;
    (void)attr;
    (void)call;
    if (!nnrt_walk_first(&w, &args[1], &args[0], NULL))
        return NNRT_SUCCESS;
    do {
        if (back)
            NNRTI_CPU(dequantize_row_q16)
        ((const int16_t *)args[0].data + w.at[1], w.row[1], (float *)args[1].data + w.at[0], w.row[0], w.count, scale, zero);
        else NNRTI_CPU(quantize_row_q16)((const float *)args[0].data + w.at[1], w.row[1], (int16_t *)args[1].data + w.at[0],
                                         w.row[0], w.count, scale, zero);
    } while (nnrt_walk_next(&w));
    return NNRT_SUCCESS;
}

/* Arguments of a convolution of int16. */
typedef struct NNRTI_CPU(conv_q16_job) {
    const nnrti_cpu_conv_q16 *attr;
    const nnrt_view *x, *packed, *y;
    const double *bias, *factors;
    const nnrt_call *call;
    int64_t pixels;
    int32_t panels;
    uint32_t parts;
} NNRTI_CPU(conv_q16_job);

/* y = clamp(floor((sum + base) * factor + 1/2)) of `count` channels; there are whole vectors of sums. */
NNRTI_CPU_INLINE void NNRTI_CPU(requantize_q16)(const nnrti_cpu_conv_q16 *a, const int32_t *sum, const double *base,
                                                const double *factors, int32_t count, int16_t *y)
{
#if NNRTI_CPU_LEVEL >= 3
    const __m256d half = _mm256_set1_pd(0.5), low = _mm256_set1_pd(a->low), high = _mm256_set1_pd(a->high);
    for (int32_t c = 0; c < count; c += 8, sum += 8, base += 8, factors += 8) {
        int16_t part[8];
        __m128i two[2];
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < 2; i++) {
            __m256d t = _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)(const void *)(sum + 4 * i)));
            t = _mm256_add_pd(t, _mm256_loadu_pd(base + 4 * i));
            t = _mm256_floor_pd(_mm256_fmadd_pd(t, _mm256_loadu_pd(factors + 4 * i), half));
            two[i] = _mm256_cvttpd_epi32(_mm256_min_pd(_mm256_max_pd(t, low), high));
        }
        if (count - c >= 8) {
            _mm_storeu_si128((__m128i *)(void *)(y + c), _mm_packs_epi32(two[0], two[1]));
        } else {
            _mm_storeu_si128((__m128i *)(void *)part, _mm_packs_epi32(two[0], two[1]));
            memcpy(y + c, part, (size_t)(count - c) * sizeof(*y));
        }
    }
#else
    for (int32_t c = 0; c < count; c++) {
        const double t = floor((sum[c] + base[c]) * factors[c] + 0.5);
        y[c] = (int16_t)(t < a->low ? a->low : t > a->high ? a->high : t);
    }
#endif
}

/* Sums of `tall` patches by a panel of `wide` vectors: groups `from` to `to` - 1. */
NNRTI_CPU_INLINE void NNRTI_CPU(microkernel_q16)(const int16_t *const *x, const nnrti_q8_w *w, int32_t from, int32_t to,
                                                 const int32_t tall, const int32_t wide, int32_t *out)
{
    nnrti_i sum[4][2];
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < tall; r++)
        memset(sum[r], 0, sizeof(sum[r]));
    w += (ptrdiff_t)from * wide * NNRTI_Q8_LANES * NNRTI_Q8_GROUP;
    for (ptrdiff_t k = (ptrdiff_t)from * NNRTI_Q8_GROUP; k < (ptrdiff_t)to * NNRTI_Q8_GROUP; k += NNRTI_Q8_GROUP) {
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < tall; r++) {
            int32_t value;
            if (NNRTI_Q8_GROUP > 1)
                memcpy(&value, x[r] + k, sizeof(value));
            else
                value = x[r][k];
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < wide; v++)
                sum[r][v] = nnrti_i_dot(sum[r][v], value, w + v * NNRTI_Q8_LANES * NNRTI_Q8_GROUP);
        }
        w += wide * NNRTI_Q8_LANES * NNRTI_Q8_GROUP;
    }
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < wide * tall; r++)
        nnrti_i_store(out + r * NNRTI_Q8_LANES, sum[r / wide][r % wide]);
}

/* A panel of `tall` pixels: int32 sums of blocks of terms, which float64 adds. */
NNRTI_CPU_INLINE void NNRTI_CPU(tile_q16)(const NNRTI_CPU(conv_q16_job) * j, const int16_t *const *x, int16_t *const *y,
                                          int32_t channel, const int32_t tall, const int32_t wide)
{
    const nnrti_cpu_conv_q16 *a = j->attr;
    const nnrti_q8_w *w = (const nnrti_q8_w *)j->packed->data + (ptrdiff_t)channel * a->depth * NNRTI_Q8_GROUP;
    const int32_t left = j->y->dims[3] - channel, next = wide * NNRTI_Q8_LANES, count = left < next ? left : next;
    const int32_t block = NNRTI_CPU_Q16_TERMS / NNRTI_Q8_GROUP, last = a->depth > 0 ? (a->depth - 1) / block * block : 0;
    int32_t sum[4 * 2 * NNRTI_Q8_LANES];
    double all[4 * 2 * NNRTI_Q8_LANES];
    for (int32_t from = 0; from < last; from += block) {
        NNRTI_CPU(microkernel_q16)(x, w, from, from + block, tall, wide, sum);
        for (int32_t i = 0; i < tall * next; i++)
            all[i] = (from == 0 ? j->bias[channel + i % next] : all[i]) + sum[i];
    }
    NNRTI_CPU(microkernel_q16)(x, w, last, a->depth, tall, wide, sum);
    for (int32_t r = 0; r < tall; r++)
        NNRTI_CPU(requantize_q16)(a, sum + r * next, last > 0 ? all + r * next : j->bias + channel, j->factors + channel, count,
                                  y[r] + channel);
}

/* All pixels of a work item by a panel. */
#define NNRTI_CPU_GEMM_Q16_PANEL(wide)                                                                                 \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(gemm_q16_panel_by_##wide)(const NNRTI_CPU(conv_q16_job) * j,              \
                                                                       const int16_t *const *x, int16_t *const *y,     \
                                                                       int32_t rows, int32_t channel)                  \
    {                                                                                                                  \
        int32_t r = 0;                                                                                                 \
        for (; r + 4 <= rows; r += 4)                                                                                  \
            NNRTI_CPU(tile_q16)(j, x + r, y + r, channel, 4, wide);                                                    \
        for (; r < rows; r++)                                                                                          \
            NNRTI_CPU(tile_q16)(j, x + r, y + r, channel, 1, wide);                                                    \
    }
NNRTI_CPU_GEMM_Q16_PANEL(1)
NNRTI_CPU_GEMM_Q16_PANEL(2)
#undef NNRTI_CPU_GEMM_Q16_PANEL

/* The patch of a pixel: rows of the window, with zeros outside x and behind the last term. */
static void NNRTI_CPU(patch_q16)(const NNRTI_CPU(conv_q16_job) * j, const int16_t *image, int64_t h, int64_t w, int16_t *to)
{
    const nnrti_cpu_conv_q16 *a = j->attr;
    const nnrt_view *x = j->x;
    const int32_t K = x->dims[3], taps = a->window[0] * a->window[1];
    int32_t first, end;
    nnrti_cpu_valid_range(w, a->dilation[1], a->window[1], x->dims[2], &first, &end);
    for (int32_t i = 0; i < a->window[0]; i++, to += (ptrdiff_t)a->window[1] * K) {
        const int64_t at = h + (int64_t)i * a->dilation[0];
        const bool inside = at >= 0 && at < x->dims[1] && first < end;
        if (!inside || first > 0 || end < a->window[1])
            memset(to, 0, (size_t)a->window[1] * (size_t)K * sizeof(*to));
        for (int32_t k = first, next; inside && k < end; k = next) {
            next = a->dilation[1] == 1 && x->strides[2] == K ? end : k + 1;
            memcpy(to + (ptrdiff_t)k * K,
                   image + (ptrdiff_t)at * x->strides[1] + ((ptrdiff_t)w + (ptrdiff_t)k * a->dilation[1]) * x->strides[2],
                   (size_t)(next - k) * (size_t)K * sizeof(*to));
        }
    }
    memset(to, 0, (size_t)(a->depth * NNRTI_Q8_GROUP - taps * K) * sizeof(*to));
}

/* Work item: some pixels by one part of the panels. */
static void NNRTI_CPU(gemm_q16_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(conv_q16_job) *j = (const NNRTI_CPU(conv_q16_job) *)arg;
    const nnrti_cpu_conv_q16 *a = j->attr;
    const nnrt_view *in = j->x, *out = j->y;
    const int64_t first = (int64_t)(unit / j->parts) * a->rows, left = j->pixels - first;
    const int32_t rows = (int32_t)(left < a->rows ? left : a->rows), row = a->depth * NNRTI_Q8_GROUP;
    const int32_t begin = (int32_t)((int64_t)j->panels * (unit % j->parts) / j->parts),
                  end = (int32_t)((int64_t)j->panels * (unit % j->parts + 1) / j->parts);
    const bool direct = a->window[0] == 1 && a->window[1] == 1 && a->pad[0] == 0 && a->pad[1] == 0 && row == in->dims[3];
    const int16_t **const x = (const int16_t **)nnrti_cpu_scratch(j->call, worker);
    int16_t **const y = (int16_t **)(uintptr_t)(x + a->rows);
    int16_t *room = (int16_t *)(void *)(y + a->rows);
    for (int32_t r = 0; r < rows; r++) {
        const int32_t q = (int32_t)((first + r) % out->dims[2]), p = (int32_t)((first + r) / out->dims[2] % out->dims[1]);
        const int32_t n = (int32_t)((first + r) / out->dims[2] / out->dims[1]);
        const int16_t *image = (const int16_t *)in->data + n * in->strides[0];
        y[r] = (int16_t *)out->data + n * out->strides[0] + p * out->strides[1] + q * out->strides[2];
        x[r] = direct ? image + p * a->stride[0] * in->strides[1] + q * a->stride[1] * in->strides[2] : room;
        if (!direct) {
            NNRTI_CPU(patch_q16)(j, image, (int64_t)p * a->stride[0] - a->pad[0], (int64_t)q * a->stride[1] - a->pad[1], room);
            room += row;
        }
    }
    for (int32_t c = begin * 2 * NNRTI_Q8_LANES; c < end * 2 * NNRTI_Q8_LANES; c += 2 * NNRTI_Q8_LANES)
        if (out->dims[3] - c > NNRTI_Q8_LANES)
            NNRTI_CPU(gemm_q16_panel_by_2)(j, x, y, rows, c);
        else
            NNRTI_CPU(gemm_q16_panel_by_1)(j, x, y, rows, c);
}

/* Sums of a block of channels of a pixel: x[t] are the channels of tap t, a pair at a time. */
NNRTI_CPU_INLINE void NNRTI_CPU(depthwise_q16_sums)(const int16_t *const *x, int32_t pairs, int32_t channel, const int16_t *w,
                                                    int32_t *sum)
{
#if NNRTI_CPU_LEVEL >= 3
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int32_t t = 0; t < pairs; t++, w += 2 * NNRTI_CPU_Q16_BLOCK) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(x[2 * t] + channel));
        const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(x[2 * t + 1] + channel));
        const __m256i u = _mm256_loadu_si256((const __m256i *)(const void *)w);
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(w + NNRTI_CPU_Q16_BLOCK));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), u));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), v));
    }
    _mm256_storeu_si256((__m256i *)(void *)sum, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(sum + 8), _mm256_permute2x128_si256(low, high, 0x31));
#else
    memset(sum, 0, NNRTI_CPU_Q16_BLOCK * sizeof(*sum));
    for (int32_t t = 0; t < pairs; t++, w += 2 * NNRTI_CPU_Q16_BLOCK)
        for (int32_t c = 0; c < NNRTI_CPU_Q16_BLOCK; c++) {
            const int16_t *const both = w + c / 4 % 2 * 16 + c / 8 * 8 + c % 4 * 2;
            sum[c] += x[2 * t][channel + c] * both[0] + x[2 * t + 1][channel + c] * both[1];
        }
#endif
}

/* The same for the last channels, fewer than a block. */
static void NNRTI_CPU(depthwise_q16_rest)(const int16_t *const *x, int32_t pairs, int32_t channel, int32_t count, const int16_t *w,
                                          int32_t *sum)
{
    memset(sum, 0, NNRTI_CPU_Q16_BLOCK * sizeof(*sum));
    for (int32_t t = 0; t < pairs; t++, w += 2 * NNRTI_CPU_Q16_BLOCK)
        for (int32_t c = 0; c < count; c++) {
            const int16_t *const both = w + c / 4 % 2 * 16 + c / 8 * 8 + c % 4 * 2;
            sum[c] += x[2 * t][channel + c] * both[0] + x[2 * t + 1][channel + c] * both[1];
        }
}

/* Work item: a row of y. */
static void NNRTI_CPU(depthwise_q16_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(conv_q16_job) *j = (const NNRTI_CPU(conv_q16_job) *)arg;
    const nnrti_cpu_conv_q16 *a = j->attr;
    const nnrt_view *x = j->x, *y = j->y;
    const int32_t n = (int32_t)unit / y->dims[1], p = (int32_t)unit % y->dims[1], C = y->dims[3];
    const int16_t **const from = (const int16_t **)nnrti_cpu_scratch(j->call, worker);
    int16_t *const zeros = (int16_t *)(uintptr_t)(from + 2 * a->depth);
    const int16_t *const image = (const int16_t *)x->data + n * x->strides[0];
    memset(zeros, 0, (size_t)C * sizeof(*zeros));
    from[2 * a->depth - 1] = zeros; /* beside the last of an odd number of taps */
    for (int32_t q = 0; q < y->dims[2]; q++) {
        int16_t *const to = (int16_t *)y->data + n * y->strides[0] + p * y->strides[1] + q * y->strides[2];
        for (int32_t i = 0, t = 0; i < a->window[0]; i++) {
            const int64_t h = (int64_t)p * a->stride[0] - a->pad[0] + (int64_t)i * a->dilation[0];
            const bool inside = h >= 0 && h < x->dims[1];
            for (int32_t k = 0; k < a->window[1]; k++, t++) {
                const int64_t w = (int64_t)q * a->stride[1] - a->pad[1] + (int64_t)k * a->dilation[1];
                from[t] = inside && w >= 0 && w < x->dims[2]
                              ? image + ((ptrdiff_t)h * x->strides[1] + (ptrdiff_t)w * x->strides[2])
                              : zeros;
            }
        }
        for (int32_t c = 0; c < C; c += NNRTI_CPU_Q16_BLOCK) {
            const int32_t count = C - c < NNRTI_CPU_Q16_BLOCK ? C - c : NNRTI_CPU_Q16_BLOCK;
            int32_t sum[NNRTI_CPU_Q16_BLOCK];
            const int16_t *const w = (const int16_t *)j->packed->data + (ptrdiff_t)c * 2 * a->depth;
            if (count == NNRTI_CPU_Q16_BLOCK)
                NNRTI_CPU(depthwise_q16_sums)(from, a->depth, c, w, sum);
            else
                NNRTI_CPU(depthwise_q16_rest)(from, a->depth, c, count, w, sum);
            NNRTI_CPU(requantize_q16)(a, sum, j->bias + c, j->factors + c, count, to + c);
        }
    }
}

/* y[n,p,q,c] = clamp(floor((bias[c] + sum of x * weight) * factor[c] + 1/2)), for int16 x and y. */
static NNRT_ReturnCode NNRTI_CPU(conv_q16)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_conv_q16 *a = (const nnrti_cpu_conv_q16 *)attr;
    NNRTI_CPU(conv_q16_job) j;
    double work;
    memset(&j, 0, sizeof(j));
    j.attr = a;
    j.x = &args[0];
    j.packed = &args[1];
    j.bias = (const double *)args[2].data;
    j.factors = j.bias + args[2].dims[1];
    j.y = &args[3];
    j.call = call;
    j.pixels = (int64_t)j.y->dims[0] * j.y->dims[1] * j.y->dims[2];
    j.panels = (j.y->dims[3] + 2 * NNRTI_Q8_LANES - 1) / (2 * NNRTI_Q8_LANES);
    work = (double)j.pixels * j.y->dims[3] * a->depth * 2;
    if (a->depthwise) {
        nnrti_cpu_parallel_for(call, 4 * work, (uint32_t)(j.y->dims[0] * j.y->dims[1]), NNRTI_CPU(depthwise_q16_task), &j);
        return NNRT_SUCCESS;
    }
    j.parts = j.pixels > 4 * a->rows ? 1 : nnrti_cpu_parts(call, a->parts);
    nnrti_cpu_parallel_for(call, work, (uint32_t)((j.pixels + a->rows - 1) / a->rows) * j.parts, NNRTI_CPU(gemm_q16_task), &j);
    return NNRT_SUCCESS;
}

/* Arguments of the 8-bit pools: x, the constants derived by the rule, y. */
typedef struct NNRTI_CPU(pool_q8_job) {
    const nnrti_cpu_window_q8 *attr;
    const nnrt_view *x, *quant, *y;
    int32_t flip;       /* of x */
    bool same;          /* y has the scale and zero point of x */
    uint8_t table[256]; /* of the stored integers plus 128, if they are signed: y, clamped or requantized */
} NNRTI_CPU(pool_q8_job);

/* Stores the results q of a pixel: 64, of which y gets `count`. Few are looked up one by one. */
NNRTI_CPU_INLINE void NNRTI_CPU(store_pool_q8)(const NNRTI_CPU(pool_q8_job) * j, const uint8_t *q, uint8_t *y, int32_t count)
{
    uint8_t found[64];
    NNRTI_CPU(lookup)(j->table, q, found, count > 16 ? 64 : count);
    memcpy(y, found, (size_t)count);
}

/* Maximum of the taps, for at most 64 channels. */
NNRTI_CPU_INLINE void NNRTI_CPU(max_q8)(const NNRTI_CPU(pool_q8_job) * j, const NNRTI_CPU(taps_q8) * m, uint8_t *y,
                                        int32_t count)
{
    uint8_t best[64] = {0};
#if NNRTI_CPU_LEVEL >= 4
    const __mmask64 some = count >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << count) - 1;
    const __m512i turn = _mm512_set1_epi8((char)j->flip);
    __m512i most = _mm512_setzero_si512();
#endif
    for (int32_t i = m->first; i < m->last; i++)
        for (int32_t k = m->begin; k < m->end; k++) {
            const uint8_t *from = (const uint8_t *)j->x->data + m->at + i * j->x->strides[1] + k * j->x->strides[2];
#if NNRTI_CPU_LEVEL >= 4
            most = _mm512_max_epu8(most, _mm512_xor_si512(_mm512_maskz_loadu_epi8(some, from), turn));
#else
            uint8_t cells[64] = {0};
            memcpy(cells, from, (size_t)count);
            for (int32_t c = 0; c < 64; c++) {
                const uint8_t v = (uint8_t)(cells[c] ^ j->flip);
                best[c] = v > best[c] ? v : best[c];
            }
#endif
        }
#if NNRTI_CPU_LEVEL >= 4
    if (j->same) {
        const int32_t *list = (const int32_t *)j->quant->data;
        most = _mm512_max_epu8(most, _mm512_set1_epi8((char)(list[1] + j->flip)));
        most = _mm512_min_epu8(most, _mm512_set1_epi8((char)(list[2] + j->flip)));
        _mm512_mask_storeu_epi8(y, some, _mm512_xor_si512(most, turn));
        return;
    }
    _mm512_storeu_si512(best, most);
#endif
    NNRTI_CPU(store_pool_q8)(j, best, y, count);
}

/* Mean of the taps, for at most 64 channels: halves of the stored integers round away from zero. */
NNRTI_CPU_INLINE void NNRTI_CPU(mean_q8)(const NNRTI_CPU(pool_q8_job) * j, const NNRTI_CPU(taps_q8) * m, uint8_t *y,
                                         int32_t count)
{
    const int32_t n = (m->last - m->first) * (m->end - m->begin);
    const float divisor = (float)n;
    int32_t sum[64] = {0};
    uint8_t mean[64];
    for (int32_t c = 0; c < count; c += NNRTI_Q8_LANES) {
        const int32_t none[NNRTI_Q8_LANES] = {0};
        nnrti_i part = nnrti_i_load(none);
        for (int32_t i = m->first; i < m->last; i++)
            for (int32_t k = m->begin; k < m->end; k++)
                part = nnrti_i_add(part, NNRTI_CPU(widen_q8)((const uint8_t *)j->x->data + m->at + c +
                                                                 i * j->x->strides[1] + k * j->x->strides[2],
                                                             count - c, j->flip, j->flip));
        nnrti_i_store(sum + c, part);
    }
    memset(mean, 0, sizeof(mean));
    if (n < 1 << 15) { /* sums below 2^24 - n: a quotient that float32 rounds does not reach the next integer */
        for (int32_t c = 0; c < 64; c++) {
            const float rounded = (float)(sum[c] > 0 ? sum[c] + n / 2 : sum[c] - n / 2);
            mean[c] = (uint8_t)((int32_t)(rounded / divisor) + j->flip);
        }
    } else {
        for (int32_t c = 0; c < count; c++)
            mean[c] = (uint8_t)((sum[c] > 0 ? sum[c] + n / 2 : sum[c] - n / 2) / n + j->flip);
    }
    NNRTI_CPU(store_pool_q8)(j, mean, y, count);
}

/* Work item: a row of y. */
NNRTI_CPU_INLINE void NNRTI_CPU(pool_q8_row)(const NNRTI_CPU(pool_q8_job) * j, uint32_t unit, const bool largest)
{
    const nnrti_cpu_window_q8 *a = j->attr;
    const nnrt_view *x = j->x, *y = j->y;
    const int32_t n = (int32_t)unit / y->dims[1], p = (int32_t)unit % y->dims[1];
    const int64_t top = (int64_t)p * a->stride[0] - a->pad[0];
    uint8_t *const row = (uint8_t *)y->data + n * y->strides[0] + p * y->strides[1];
    NNRTI_CPU(taps_q8) m;
    nnrti_cpu_valid_range(top, 1, a->window[0], x->dims[1], &m.first, &m.last);
    for (int32_t q = 0; q < y->dims[2]; q++) {
        const int64_t left = (int64_t)q * a->stride[1] - a->pad[1];
        nnrti_cpu_valid_range(left, 1, a->window[1], x->dims[2], &m.begin, &m.end);
        for (int32_t c = 0; c < y->dims[3]; c += 64) {
            m.count = y->dims[3] - c < 64 ? y->dims[3] - c : 64;
            m.at = n * x->strides[0] + (ptrdiff_t)top * x->strides[1] + (ptrdiff_t)left * x->strides[2] + c;
            if (largest)
                NNRTI_CPU(max_q8)(j, &m, row + q * y->strides[2] + c, m.count);
            else
                NNRTI_CPU(mean_q8)(j, &m, row + q * y->strides[2] + c, m.count);
        }
    }
}

static void NNRTI_CPU(max_pool_q8_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(pool_q8_row)((const NNRTI_CPU(pool_q8_job) *)arg, unit, true);
}

static void NNRTI_CPU(average_pool_q8_task)(void *arg, uint32_t unit, uint32_t worker)
{
    (void)worker;
    NNRTI_CPU(pool_q8_row)((const NNRTI_CPU(pool_q8_job) *)arg, unit, false);
}

static NNRT_ReturnCode NNRTI_CPU(run_pool_q8)(const void *attr, nnrt_view *args, nnrt_call *call,
                                              void (*task)(void *arg, uint32_t i, uint32_t worker))
{
    NNRTI_CPU(pool_q8_job) j;
    const nnrt_view *y = &args[2];
    const int32_t *list = (const int32_t *)args[1].data;
    j.attr = (const nnrti_cpu_window_q8 *)attr;
    j.x = &args[0];
    j.quant = &args[1];
    j.y = y;
    j.flip = nnrti_cpu_flip(j.x);
    j.same =
        list[NNRT_QUANT_FACTORS] == 1 << 30 && list[NNRT_QUANT_FACTORS + 1] == 1 && list[0] == j.x->quant[0].zeroPoint;
    for (int32_t q = 0; q < 256; q++) {
        const int32_t v = q + (j.flip == 0 ? 0 : -128);
        j.table[q] = (uint8_t)(j.same ? (v < list[1] ? list[1] : v > list[2] ? list[2] : v)
                                      : nnrt_quant_result(nnrt_rescale(v - j.x->quant[0].zeroPoint, nnrt_quant_factor(j.quant, 0)), list));
    }
    nnrti_cpu_parallel_for(
        call, 0.25 * (double)y->dims[0] * y->dims[1] * y->dims[2] * y->dims[3] * j.attr->window[0] * j.attr->window[1],
        (uint32_t)(y->dims[0] * y->dims[1]), task, &j);
    return NNRT_SUCCESS;
}

/* y = the largest stored integer, or the mean of the stored integers, requantized to the parameters of y. */
static NNRT_ReturnCode NNRTI_CPU(max_pool_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_pool_q8)(attr, args, call, NNRTI_CPU(max_pool_q8_task));
}

static NNRT_ReturnCode NNRTI_CPU(average_pool_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return NNRTI_CPU(run_pool_q8)(attr, args, call, NNRTI_CPU(average_pool_q8_task));
}

/* Sums, means or largest of 8-bit elements over some axes: `outer` visits the results, `inner` the elements of each. */
typedef struct NNRTI_CPU(reduce_q8_job) {
    const nnrt_view *x, *y;
    const int32_t *list; /* the constants of the requantization */
    nnrt_walk outer, inner;
    int32_t slice;      /* indices of the outermost axis of `outer`, or of its row, of a work item */
    int32_t flip, less; /* less: the elements of a sum times their zero point */
    int32_t factor[2];
    int32_t pool; /* elements of a global average pool, whose mean is rounded to a stored integer; else 0 */
    NNRT_ReduceMode mode;
    int32_t zero; /* of x, flipped; of MIN, which is the largest of 255 - q, all of them are */
} NNRTI_CPU(reduce_q8_job);
#define NNRTI_Q8_SUMS (4 * NNRTI_LANES) /* sums of adjacent elements that are computed at a time */

/* The sum of `count` adjacent bytes, int8 plus 128. */
static int32_t NNRTI_CPU(sum_bytes)(const uint8_t *x, int32_t count, int32_t flip)
{
    nnrti_v_bits sums[4];
    int32_t lanes[NNRTI_LANES], i = 0, sum = 0;
#if NNRTI_CPU_LEVEL >= 3
    const __m256i turn = _mm256_set1_epi8((char)flip), none = _mm256_setzero_si256();
    __m256i eights = none; /* sums of 8 bytes each, of 64 bits */
    for (; i + 32 <= count; i += 32) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        eights = _mm256_add_epi64(eights, _mm256_sad_epu8(_mm256_xor_si256(bytes, turn), none));
    }
    eights = _mm256_add_epi64(eights, _mm256_permute4x64_epi64(eights, 0x4E));
    eights = _mm256_add_epi64(eights, _mm256_srli_si256(eights, 8));
    sum = _mm_cvtsi128_si32(_mm256_castsi256_si128(eights));
#endif
    memset(sums, 0, sizeof(sums));
    for (; i + 4 * NNRTI_LANES <= count; i += 4 * NNRTI_LANES)
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < 4; k++)
            sums[k] += nnrti_v_load_bytes(x + i + k * NNRTI_LANES) ^ flip;
    sums[0] += sums[1] + sums[2] + sums[3];
    memcpy(lanes, &sums[0], sizeof(lanes));
    for (int32_t k = 0; k < NNRTI_LANES; k++)
        sum += lanes[k];
    for (; i < count; i++)
        sum += x[i] ^ flip;
    return sum;
}

/* A vector of sums, of largest elements, or of sums of |v| or v^2, and the next elements. */
NNRTI_CPU_INLINE nnrti_v_bits NNRTI_CPU(take_q8)(const NNRTI_CPU(reduce_q8_job) * j, nnrti_v_bits sum, nnrti_v_bits q)
{
    const nnrti_v_bits v = q - j->zero, sign = v >> 31, more = (nnrti_v_bits)(q > sum);
    switch (j->mode) {
    case NNRT_REDUCE_MODE_MAX:
    case NNRT_REDUCE_MODE_MIN: return (q & more) | (sum & ~more);
    case NNRT_REDUCE_MODE_ASUM: return sum + ((v ^ sign) - sign);
    case NNRT_REDUCE_MODE_SUM_SQUARE: return sum + v * v;
    default: return sum + q;
    }
}

/* The same for `count` adjacent bytes and one sum. */
static int32_t NNRTI_CPU(take_bytes_q8)(const NNRTI_CPU(reduce_q8_job) * j, const uint8_t *x, int32_t count, int32_t sum)
{
    const bool largest = j->mode == NNRT_REDUCE_MODE_MAX || j->mode == NNRT_REDUCE_MODE_MIN;
    uint8_t part[NNRTI_LANES];
    int32_t lanes[NNRTI_LANES];
    nnrti_v_bits all;
    memset(&all, 0, sizeof(all));
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const uint8_t *from = x + i;
        if (count - i < NNRTI_LANES) { /* elements without effect behind them */
            memset(part, (largest ? 0 : j->zero) ^ j->flip, sizeof(part));
            from = (const uint8_t *)memcpy(part, from, (size_t)(count - i));
        }
        all = NNRTI_CPU(take_q8)(j, all, nnrti_v_load_bytes(from) ^ j->flip);
    }
    memcpy(lanes, &all, sizeof(lanes));
    for (int32_t k = 0; k < NNRTI_LANES; k++)
        sum = !largest ? sum + lanes[k] : lanes[k] > sum ? lanes[k] : sum;
    return sum;
}

/* Adds the elements of each of `count` <= NNRTI_Q8_SUMS adjacent sums, the first of which are at x. */
static void NNRTI_CPU(sum_rows_q8)(const NNRTI_CPU(reduce_q8_job) * j, const uint8_t *x, int32_t count, int32_t *to)
{
    nnrt_walk w = j->inner;
    nnrti_v_bits sums[4];
    uint8_t part[NNRTI_Q8_SUMS] = {0};
    memset(sums, 0, sizeof(sums));
    do
        for (int32_t i = 0; i < w.count; i++) {
            const uint8_t *from = x + w.at[0] + i * w.row[0];
            if (count < NNRTI_Q8_SUMS)
                from = (const uint8_t *)memcpy(part, from, (size_t)count);
            NNRTI_CPU_UNROLL
            for (int32_t k = 0; k < 4; k++)
                sums[k] = NNRTI_CPU(take_q8)(j, sums[k], nnrti_v_load_bytes(from + k * NNRTI_LANES) ^ j->flip);
        }
    while (nnrt_walk_next(&w));
    memcpy(to, sums, sizeof(sums));
}

/* A result of its sum. */
static uint8_t NNRTI_CPU(reduced_q8)(const NNRTI_CPU(reduce_q8_job) * j, int32_t sum)
{
    const int32_t n = j->pool, zero = j->x->quant[0].zeroPoint;
    sum -= n > 0 ? n * j->flip : j->less;
    sum = j->mode == NNRT_REDUCE_MODE_MIN ? -sum : sum;
    if (n > 0) /* halves of the stored integers round away from zero */
        sum = (sum > 0 ? sum + n / 2 : sum - n / 2) / n - zero;
    return (uint8_t)nnrt_quant_result(nnrt_rescale(sum, j->factor), j->list);
}

/* Work item: some results. */
static void NNRTI_CPU(reduce_q8_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(reduce_q8_job) *j = (const NNRTI_CPU(reduce_q8_job) *)arg;
    nnrt_walk w = j->outer;
    const bool plain = j->mode == NNRT_REDUCE_MODE_SUM || j->mode == NNRT_REDUCE_MODE_MEAN;
    int32_t *const size = w.rank > 0 ? &w.dims[0] : &w.count, begin = (int32_t)unit * j->slice;
    (void)worker;
    for (int32_t k = 0; k < 2; k++)
        w.at[k] += begin * (w.rank > 0 ? w.step[k][0] : w.row[k]);
    *size = *size - begin < j->slice ? *size - begin : j->slice;
    do
        for (int32_t i = 0, n; i < w.count; i += n) {
            const uint8_t *const x = (const uint8_t *)j->x->data + w.at[1] + i * w.row[1];
            uint8_t *const y = (uint8_t *)j->y->data + w.at[0] + i * w.row[0];
            int32_t sums[NNRTI_Q8_SUMS] = {0};
            n = 1;
            if (j->inner.row[0] == 1) {
                nnrt_walk rows = j->inner;
                do
                    sums[0] = plain ? sums[0] + NNRTI_CPU(sum_bytes)(x + rows.at[0], rows.count, j->flip)
                                    : NNRTI_CPU(take_bytes_q8)(j, x + rows.at[0], rows.count, sums[0]);
                while (nnrt_walk_next(&rows));
            } else {
                n = w.count - i < NNRTI_Q8_SUMS ? w.count - i : NNRTI_Q8_SUMS;
                NNRTI_CPU(sum_rows_q8)(j, x, n, sums);
            }
            for (int32_t k = 0; k < n; k++)
                y[k * w.row[0]] = NNRTI_CPU(reduced_q8)(j, sums[k]);
        }
    while (nnrt_walk_next(&w));
}

/* y = a reduction of x over the axes, the second argument, requantized; or a global average pool, which has no such
   argument. Sums that may exceed 31 bits, and elements that no axis has side by side, use the reference kernel. */
static NNRT_ReturnCode NNRTI_CPU(reduce_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_cpu_reduce_q8 *a = (const nnrti_cpu_reduce_q8 *)attr;
    const int32_t image[2] = {1, 2};
    const nnrt_view *const list = &args[call->nIn + (a->pool ? 0 : 1)];
    const int32_t *const axes = a->pool ? image : (const int32_t *)args[call->nIn].data;
    const int32_t nAxes = a->pool ? 2 : args[call->nIn].dims[0];
    NNRTI_CPU(reduce_q8_job) j;
    nnrt_view part = args[0];
    double n = 1, count;
    int32_t size;
    memset(&j, 0, sizeof(j));
    j.x = &args[0];
    j.y = list + 1;
    j.list = (const int32_t *)list->data;
    for (int32_t i = 0; i < part.rank; i++) {
        bool reduced = false;
        for (int32_t k = 0; k < nAxes; k++)
            reduced = reduced || axes[k] == i;
        part.dims[i] = reduced ? part.dims[i] : 1;
        n *= part.dims[i];
    }
    if (!nnrt_walk_first(&j.outer, j.y, j.x, NULL))
        return NNRT_SUCCESS;
    if (n > (a->mode == NNRT_REDUCE_MODE_SUM_SQUARE ? 1 << 15 : 1 << 22) ||
        !nnrt_walk_first(&j.inner, &part, NULL, NULL) || (j.inner.row[0] != 1 && j.outer.row[1] != 1))
        return a->exact(a->attr, args, call);
    j.mode = a->mode;
    j.flip = nnrti_cpu_flip(j.x);
    j.zero = j.x->quant[0].zeroPoint + j.flip;
    j.less = (int32_t)n * j.zero;
    if (a->mode == NNRT_REDUCE_MODE_MIN) {
        j.flip ^= 255;
        j.zero = 255 - j.zero;
    }
    if (a->mode == NNRT_REDUCE_MODE_MAX || a->mode == NNRT_REDUCE_MODE_MIN)
        j.less = j.zero;
    else if (a->mode == NNRT_REDUCE_MODE_ASUM || a->mode == NNRT_REDUCE_MODE_SUM_SQUARE)
        j.less = 0;
    memcpy(j.factor, j.list + NNRT_QUANT_FACTORS, sizeof(j.factor));
    j.pool = a->pool ? (int32_t)n : 0;
    if (a->mode == NNRT_REDUCE_MODE_MEAN)
        nnrti_cpu_divide_factor(j.factor, (int32_t)n);
    count = j.outer.count;
    for (int32_t i = 0; i < j.outer.rank; i++)
        count *= j.outer.dims[i];
    size = j.outer.rank > 0 ? j.outer.dims[0] : j.outer.count;
    j.slice = (int32_t)(4096 / (n * count / size)) / NNRTI_Q8_SUMS * NNRTI_Q8_SUMS;
    j.slice = j.slice > 0 ? j.slice : j.outer.rank > 0 || j.inner.row[0] == 1 ? 1 : NNRTI_Q8_SUMS;
    nnrti_cpu_parallel_for(call, 0.5 * n * count, (uint32_t)((size - 1) / j.slice + 1), NNRTI_CPU(reduce_q8_task), &j);
    return NNRT_SUCCESS;
}

/* Arguments of `resize_q8`, and its requantization. */
typedef struct NNRTI_CPU(resize_q8_job) {
    const nnrti_cpu_resize *attr;
    const nnrt_view *x, *y;
    const int32_t *taps; /* of every row, then of every column of y: two indices, the weight of the second in 1/1024 */
    const nnrt_call *call;
    int32_t flip, least; /* q = (byte ^ flip) + least */
    uint8_t table[256];
} NNRTI_CPU(resize_q8_job);

/* The stored integers of `count` <= NNRTI_LANES adjacent bytes. */
NNRTI_CPU_INLINE nnrti_v_bits NNRTI_CPU(load_stored)(const NNRTI_CPU(resize_q8_job) * j, const uint8_t *x, int32_t count)
{
    uint8_t part[NNRTI_LANES] = {0};
    if (count >= NNRTI_LANES)
        return (nnrti_v_load_bytes(x) ^ j->flip) + j->least;
    nnrti_cpu_copy_small(part, x, (size_t)count);
    return (nnrti_v_load_bytes(part) ^ j->flip) + j->least;
}

/* Horizontal interpolation of a row of x to `count` columns from q on, in units of 1/1024. */
static void NNRTI_CPU(resize_row_q8)(const NNRTI_CPU(resize_q8_job) * j, const uint8_t *row, int32_t q, int32_t count,
                                     int32_t *to)
{
    const int32_t *tap = j->taps + 3 * ((ptrdiff_t)j->y->dims[1] + q), C = j->attr->last ? j->y->dims[3] : 1;
    const int32_t flip = j->flip, least = 1024 * j->least;
    const ptrdiff_t step = j->x->strides[2];
    if (C == 1) {
        for (int32_t k = 0; k < count; k++, tap += 3) {
            const int32_t a = row[tap[0] * step] ^ flip, b = row[tap[1] * step] ^ flip;
            to[k] = least + 1024 * a + tap[2] * (b - a);
        }
        return;
    }
    for (int32_t k = 0; k < count; k++, tap += 3, to += C) {
        const uint8_t *const a = row + tap[0] * step, *const b = row + tap[1] * step;
        for (int32_t c = 0; c < C; c += NNRTI_LANES) {
            const nnrti_v_bits v = NNRTI_CPU(load_stored)(j, a + c, C - c) * (1024 - tap[2]) +
                                   NNRTI_CPU(load_stored)(j, b + c, C - c) * tap[2];
            memcpy(to + c, &v, sizeof(v)); /* may write behind the channels: scratch has room */
        }
    }
}

/* y = the bytes of `count` sums first * (1024 - weight) + second * weight, divided by 2^20, halves away from zero. */
static void NNRTI_CPU(resize_column_q8)(const NNRTI_CPU(resize_q8_job) * j, const int32_t *first, const int32_t *second,
                                        int32_t weight, int32_t count, uint8_t *y)
{
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const bool whole = count - i >= NNRTI_LANES;
        const size_t size = (size_t)(count - i) * sizeof(int32_t);
        uint8_t bytes[NNRTI_LANES];
        nnrti_v_bits a = {0}, b = {0};
        if (whole) {
            memcpy(&a, first + i, sizeof(a));
            memcpy(&b, second + i, sizeof(b));
        } else {
            memcpy(&a, first + i, size);
            memcpy(&b, second + i, size);
        }
        a = a * (1024 - weight) + b * weight;
        a = (a + (1 << 19) + (a >> 31)) >> 20;
        if (whole) {
            nnrti_v_store_bytes(y + i, a & 255);
        } else {
            nnrti_v_store_bytes(bytes, a & 255);
            memcpy(y + i, bytes, (size_t)(count - i));
        }
    }
    NNRTI_CPU(lookup)(j->table, y, y, count);
}

/* Rows p to end - 1, columns q to q + count - 1 of y, an image or a plane of it, as NNRTI_CPU(resize_block). */
static void NNRTI_CPU(resize_block_q8)(const NNRTI_CPU(resize_q8_job) * j, const uint8_t *x, uint8_t *y, int32_t p,
                                       int32_t end, int32_t q, int32_t count, int32_t *scratch)
{
    const nnrt_view *const to = j->y;
    const int32_t C = j->attr->last ? to->dims[3] : 1;
    const int32_t *const columns = j->taps + 3 * ((ptrdiff_t)to->dims[1] + q);
    const int32_t run = to->strides[2] == C || count == 1 ? count * C : C; /* contiguous elements */
    int32_t *const rows[2] = {scratch, scratch + (ptrdiff_t)j->attr->block * C + NNRTI_LANES};
    int32_t have[2] = {-1, -1};
    for (; p < end; p++) {
        const int32_t *const tap = j->taps + 3 * (ptrdiff_t)p;
        uint8_t *const z = y + p * to->strides[1] + q * to->strides[2];
        if (j->attr->linear) {
            for (int32_t k = 0; k < 2; k++) {
                if (have[tap[k] & 1] != tap[k])
                    NNRTI_CPU(resize_row_q8)(j, x + tap[k] * j->x->strides[1], q, count, rows[tap[k] & 1]);
                have[tap[k] & 1] = tap[k];
            }
            for (int32_t k = 0; k < count * C; k += run)
                NNRTI_CPU(resize_column_q8)
            (j, rows[tap[0] & 1] + k, rows[tap[1] & 1] + k, tap[2], run, z + k / C * to->strides[2]);
        } else if (have[0] == tap[0] && run == count * C) {
            memcpy(z, z - to->strides[1], (size_t)run);
        } else {
            const uint8_t *const row = x + tap[0] * j->x->strides[1];
            have[0] = tap[0];
            for (int32_t k = 0; k < count; k++) {
                const uint8_t *const from = row + columns[3 * k] * j->x->strides[2];
                if (C >= 64)
                    NNRTI_CPU(lookup)(j->table, from, z + k * to->strides[2], C);
                for (int32_t c = 0; c < C && C < 64; c++)
                    z[k * to->strides[2] + c] = j->table[from[c]];
            }
        }
    }
}

/* Work item: some rows of an image, or of a plane of it. */
static void NNRTI_CPU(resize_q8_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(resize_q8_job) *j = (const NNRTI_CPU(resize_q8_job) *)arg;
    const nnrt_view *const x = j->x, *const y = j->y;
    const int32_t bands = j->attr->bands, planes = j->attr->last ? 1 : y->dims[3], band = (int32_t)i % bands;
    const int32_t c = (int32_t)i / bands % planes, n = (int32_t)i / bands / planes;
    const int32_t first = (int32_t)((int64_t)y->dims[1] * band / bands);
    const int32_t end = (int32_t)((int64_t)y->dims[1] * (band + 1) / bands);
    for (int32_t q = 0; q < y->dims[2]; q += j->attr->block) {
        const int32_t left = y->dims[2] - q;
        NNRTI_CPU(resize_block_q8)
        (j, (const uint8_t *)x->data + n * x->strides[0] + c * x->strides[3],
         (uint8_t *)y->data + n * y->strides[0] + c * y->strides[3], first, end, q,
         left < j->attr->block ? left : j->attr->block, (int32_t *)nnrti_cpu_scratch(j->call, worker));
    }
}

/* y = x, resized: stored integers, or their bilinear interpolation, requantized. */
static NNRT_ReturnCode NNRTI_CPU(resize_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *const y = &args[call->nIn + 2];
    NNRTI_CPU(resize_q8_job) j;
    j.attr = (const nnrti_cpu_resize *)attr;
    j.x = &args[0];
    j.y = y;
    j.taps = (const int32_t *)args[call->nIn].data;
    j.call = call;
    j.flip = nnrti_cpu_flip(j.x);
    j.least = -j.flip;
    nnrti_cpu_requantize_bytes(j.x, &args[call->nIn + 1], j.table);
    nnrti_cpu_parallel_for(call, 8.0 * y->dims[0] * y->dims[1] * y->dims[2] * y->dims[3],
                           (uint32_t)(y->dims[0] * (j.attr->last ? 1 : y->dims[3]) * j.attr->bands),
                           NNRTI_CPU(resize_q8_task), &j);
    return NNRT_SUCCESS;
}

/* Sum, difference or product of two 8-bit tensors that are broadcast to z: requantization tables of x, of y and of their
   sum, or of their product. */
typedef struct NNRTI_CPU(binary_q8_job) {
    const nnrti_cpu_binary_q8 *attr;
    const nnrt_view *args;
    nnrt_walk walk; /* of z, x and y */
    int32_t slice;  /* indices of the outermost axis, or elements of the only row, of a work item */
    int32_t repeat; /* the operand of which all rows are the same, the other one and z being dense; or -1 */
    int32_t flip[2], zero[2];
    bool plain, whole[3]; /* plain: the integer form suffices; whole: the factor needs no shift */
    int32_t margin;       /* not 0: try floats first, x * by[0] + y * by[1] + by[2] */
    float by[3];
    int32_t table[3][4 * NNRTI_Q8_LANES], product[NNRTI_CPU_REQUANTIZE_ROWS * NNRTI_Q8_LANES];
    nnrti_cpu_requantize scale;
} NNRTI_CPU(binary_q8_job);
#define NNRTI_Q8_CHUNK 8192                                      /* elements per work item */
#define NNRTI_Q8_PANEL (NNRTI_Q8_PANEL_VECTORS * NNRTI_Q8_LANES) /* elements per iteration */
#define NNRTI_Q8_REPEAT 512                                      /* most elements of a row that is repeated */

NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(add_q8_term)(const NNRTI_CPU(binary_q8_job) * j, int32_t k, const uint8_t *x)
{
    const nnrti_i v = nnrti_i_shift_20(NNRTI_CPU(widen_q8)(x, NNRTI_Q8_LANES, j->flip[k], j->zero[k]));
    return j->whole[k] ? nnrti_i_rescale(v, j->table[k], true) : nnrti_i_rescale(v, j->table[k], false);
}

#if NNRTI_Q8_FLOAT
/* Converts stored 8-bit elements to floats. */
#if NNRTI_CPU_LEVEL >= 4
#define nnrti_f __m512
#define nnrti_f_all _mm512_set1_ps
#define nnrti_f_fma _mm512_fmadd_ps
NNRTI_CPU_INLINE nnrti_f NNRTI_CPU(to_floats_q8)(const uint8_t *x, const bool sign)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)x);
    return _mm512_cvtepi32_ps(sign ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
}
#else
#define nnrti_f __m256
#define nnrti_f_all _mm256_set1_ps
#define nnrti_f_fma _mm256_fmadd_ps
NNRTI_CPU_INLINE nnrti_f NNRTI_CPU(to_floats_q8)(const uint8_t *x, const bool sign)
{
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)x);
    return _mm256_cvtepi32_ps(sign ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
}
#endif

/* Adds a panel of elements by floats; false: not provably exact in all lanes. */
NNRTI_CPU_INLINE bool NNRTI_CPU(add_q8_float)(const NNRTI_CPU(binary_q8_job) * j, const uint8_t *x, const uint8_t *y,
                                              nnrti_i *sum, const bool sign)
{
    const int32_t bits = (1 << NNRTI_CPU_FRACTION_BITS) - j->margin;
    nnrti_exact_mask sure = nnrti_exact_mask_all();
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < NNRTI_Q8_PANEL_VECTORS; v++) {
        const nnrti_f b = NNRTI_CPU(to_floats_q8)(y + v * NNRTI_Q8_LANES, sign);
        const nnrti_f t = nnrti_f_fma(b, nnrti_f_all(j->by[1]), nnrti_f_all(j->by[2]));
        const nnrti_f a = NNRTI_CPU(to_floats_q8)(x + v * NNRTI_Q8_LANES, sign);
        sum[v] = nnrti_i_from_float(nnrti_f_fma(a, nnrti_f_all(j->by[0]), t), bits, &sure);
    }
    return NNRTI_Q8_ALL_EXACT(sure, bits);
}
#undef nnrti_f
#undef nnrti_f_all
#undef nnrti_f_fma
#endif

/* A panel of sums, as integers for `store_q8`. */
NNRTI_CPU_INLINE void NNRTI_CPU(add_q8_panel)(const NNRTI_CPU(binary_q8_job) * j, const uint8_t *x, const uint8_t *y,
                                              nnrti_i *to)
{
    const bool minus = j->attr->type == NNRTI_CPU_Q8_SUB;
#if NNRTI_Q8_FLOAT
    if (j->margin != 0 && (j->args[0].dataType == NNRT_DATA_TYPE_INT8 ? NNRTI_CPU(add_q8_float)(j, x, y, to, true)
                                                                : NNRTI_CPU(add_q8_float)(j, x, y, to, false)))
        return;
#endif
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < NNRTI_Q8_PANEL_VECTORS; v++) {
        const nnrti_i a = NNRTI_CPU(add_q8_term)(j, 0, x + v * NNRTI_Q8_LANES);
        const nnrti_i b = NNRTI_CPU(add_q8_term)(j, 1, y + v * NNRTI_Q8_LANES);
        to[v] = nnrti_i_requantize_int(minus ? nnrti_i_subtract(a, b) : nnrti_i_add(a, b), j->table[2], false);
    }
}

/* A panel of products. */
NNRTI_CPU_INLINE void NNRTI_CPU(multiply_q8_panel)(const NNRTI_CPU(binary_q8_job) * j, const uint8_t *x,
                                                   const uint8_t *y, nnrti_i *to, nnrti_i (*rows)[3])
{
    int32_t products[NNRTI_Q8_PANEL];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < NNRTI_Q8_PANEL; v += NNRTI_Q8_LANES)
        nnrti_i_store(products + v,
                      nnrti_i_multiply(NNRTI_CPU(widen_q8)(x + v, NNRTI_Q8_LANES, j->flip[0], j->zero[0]),
                                       NNRTI_CPU(widen_q8)(y + v, NNRTI_Q8_LANES, j->flip[1], j->zero[1])));
    if (j->scale.plain)
        NNRTI_CPU(requantize_vectors)(products, to, NNRTI_Q8_PANEL_VECTORS, 1, j->product, rows, false, false, 0);
    else
        NNRTI_CPU(requantize_vectors)(products, to, NNRTI_Q8_PANEL_VECTORS, 1, j->product, rows, false, true, j->scale.zero);
}

/* The next panel of an operand: its elements, or copies in `part` if there are few of them, or one is repeated. */
NNRTI_CPU_INLINE const uint8_t *NNRTI_CPU(panel_q8)(const uint8_t *x, ptrdiff_t step, int32_t left, uint8_t *part)
{
    if (step == 0)
        return part;
    if (left >= NNRTI_Q8_PANEL)
        return x;
    memcpy(part, x, (size_t)left);
    return part;
}

/* `count` elements; an operand with step 0 repeats one element. */
NNRTI_CPU_INLINE void NNRTI_CPU(binary_q8_elements)(const NNRTI_CPU(binary_q8_job) * job, const uint8_t *x,
                                                    ptrdiff_t stepX, const uint8_t *y, ptrdiff_t stepY, uint8_t *z,
                                                    int32_t count, const bool product)
{
    const NNRTI_CPU(binary_q8_job) j = *job; /* a copy: z cannot alias it */
    uint8_t partX[NNRTI_Q8_PANEL] = {0}, partY[NNRTI_Q8_PANEL] = {0};
    nnrti_i rows[1][3], sum[NNRTI_Q8_PANEL_VECTORS];
    NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < 3; i++)
        rows[0][i] = nnrti_i_load(j.product + ((NNRTI_CPU_LEVEL == 2 ? 1 : 4) + i) * NNRTI_Q8_LANES);
    if (stepX == 0)
        memset(partX, *x, sizeof(partX));
    if (stepY == 0)
        memset(partY, *y, sizeof(partY));
    for (int32_t left = count; left > 0; left -= NNRTI_Q8_PANEL, z += NNRTI_Q8_PANEL) {
        const uint8_t *const a = NNRTI_CPU(panel_q8)(x, stepX, left, partX);
        const uint8_t *const b = NNRTI_CPU(panel_q8)(y, stepY, left, partY);
        if (product)
            NNRTI_CPU(multiply_q8_panel)(&j, a, b, sum, rows);
        else
            NNRTI_CPU(add_q8_panel)(&j, a, b, sum);
        NNRTI_CPU(store_q8)(sum, NNRTI_Q8_PANEL_VECTORS, z, left, &j.scale, false);
        x += stepX * NNRTI_Q8_PANEL;
        y += stepY * NNRTI_Q8_PANEL;
    }
}

/* The same; factors outside the fast forms: by the kernel of the reference device. */
static void NNRTI_CPU(binary_q8_run)(const NNRTI_CPU(binary_q8_job) * j, const uint8_t *const *from,
                                     const ptrdiff_t *step, uint8_t *z, int32_t count)
{
    nnrt_view v[4];
    if (j->plain && j->attr->type == NNRTI_CPU_Q8_MUL) {
        NNRTI_CPU(binary_q8_elements)(j, from[0], step[0], from[1], step[1], z, count, true);
        return;
    }
    if (j->plain) {
        NNRTI_CPU(binary_q8_elements)(j, from[0], step[0], from[1], step[1], z, count, false);
        return;
    }
    for (int32_t k = 0; k < 4; k++) {
        v[k] = j->args[k];
        if (k == 2) /* the requantization factors */
            continue;
        v[k].data = k == 3 ? z : (uint8_t *)(uintptr_t)from[k];
        v[k].rank = 1;
        v[k].dims[0] = count;
        v[k].strides[0] = k == 3 ? 1 : step[k];
    }
    (void)j->attr->exact(NULL, v, NULL);
}

/* Work item: some indices of the outermost axis, or a part of the only row. */
static void NNRTI_CPU(binary_q8_task)(void *arg, uint32_t unit, uint32_t worker)
{
    const NNRTI_CPU(binary_q8_job) *j = (const NNRTI_CPU(binary_q8_job) *)arg;
    nnrt_walk w = j->walk;
    const int32_t begin = (int32_t)unit * j->slice, r = j->repeat, last = w.rank - 1, count = w.count;
    int32_t *const size = w.rank > 0 ? &w.dims[0] : &w.count;
    uint8_t row[2 * NNRTI_Q8_REPEAT];
    (void)worker;
    for (int32_t k = 0; k < 3; k++)
        w.at[k] += begin * (w.rank > 0 ? w.step[k][0] : w.row[k]);
    *size = *size - begin < j->slice ? *size - begin : j->slice;
    if (r >= 0) { /* rows of the last axis are one, and the repeated operand is several rows in the cache */
        const int32_t rows = w.dims[last];
        w.dims[last] = 1;
        w.count = rows * count;
    }
    do {
        const uint8_t *from[2] = {(const uint8_t *)j->args[0].data + w.at[1], (const uint8_t *)j->args[1].data + w.at[2]};
        uint8_t *z = (uint8_t *)j->args[3].data + w.at[0];
        if (r < 0) {
            NNRTI_CPU(binary_q8_run)(j, from, w.row + 1, z, w.count);
            continue;
        }
        const int32_t whole = 2 * NNRTI_Q8_REPEAT / count * count; /* elements of whole rows */
        const ptrdiff_t step[2] = {1, 1};
        for (int32_t i = 0; i < whole && i < w.count; i += count)
            memcpy(row + i, from[r], (size_t)count);
        from[r] = row;
        for (int32_t i = 0; i < w.count; i += whole, z += whole, from[1 - r] += whole)
            NNRTI_CPU(binary_q8_run)(j, from, step, z, w.count - i < whole ? w.count - i : whole);
    } while (nnrt_walk_next(&w));
}

/* The requantization of a job; plain: whether the integer form suffices. */
static void NNRTI_CPU(binary_q8_factors)(NNRTI_CPU(binary_q8_job) * j)
{
    const nnrt_view *args = j->args, *z = &args[3];
    const int32_t *list = (const int32_t *)args[2].data, flip = nnrti_cpu_flip(z);
    int32_t only[NNRT_QUANT_FACTORS + 2];
    nnrt_view quant = args[2];
    j->plain = true;
    if (j->attr->type == NNRTI_CPU_Q8_MUL) {
        memcpy(only, list, NNRT_QUANT_FACTORS * sizeof(*only));
        memcpy(only + NNRT_QUANT_FACTORS, list + NNRT_QUANT_FACTORS + 4, 2 * sizeof(*only));
        quant.data = only;
        quant.dims[0] = NNRT_QUANT_FACTORS + 2;
        memset(j->product, 0, sizeof(j->product));
        nnrti_cpu_requantize_table(&j->scale, &quant, z, 255 * 255, NNRTI_Q8_LANES, NNRTI_Q8_LANES, NNRTI_Q8_LANES, 0,
                                   j->product);
        j->plain = j->scale.plain || j->scale.wide;
        return;
    }
    for (int32_t k = 0; k < 3; k++) {
        const int32_t m = list[NNRT_QUANT_FACTORS + 2 * k], e = list[NNRT_QUANT_FACTORS + 2 * k + 1];
        const int32_t n = m == 0 ? 1 : -e;
        j->whole[k] = n == 0;
        j->plain = j->plain && m >= 0 && n >= (k == 2) && n <= 21;
        for (int32_t i = 0; i < NNRTI_Q8_LANES && j->plain; i++) {
            j->table[k][NNRTI_Q8_LANES + i] = m;
            j->table[k][2 * NNRTI_Q8_LANES + i] =
                (n > 0 ? 1 << (n - 1) : 0) + (k == 2 ? (list[0] + flip) * (1 << n) : 0);
            j->table[k][3 * NNRTI_Q8_LANES + i] = n;
        }
    }
    nnrti_cpu_requantize_bounds(&j->scale, list[1], list[2], flip);
    j->margin = j->plain ? nnrti_cpu_add_q8_factors(args, flip, j->attr->type == NNRTI_CPU_Q8_SUB, j->by) : 0;
}

/* z = requantize(x + y), requantize(x - y), each operand rescaled to a common scale first, or requantize(x * y). */
static NNRT_ReturnCode NNRTI_CPU(binary_q8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(binary_q8_job) j;
    double count, rows;
    memset(&j, 0, sizeof(j));
    j.attr = (const nnrti_cpu_binary_q8 *)attr;
    j.args = args;
    if (!nnrt_walk_first(&j.walk, &args[3], &args[0], &args[1]))
        return NNRT_SUCCESS;
    if (j.walk.row[0] != 1 || (j.walk.row[1] & ~(ptrdiff_t)1) != 0 || (j.walk.row[2] & ~(ptrdiff_t)1) != 0)
        return j.attr->exact(NULL, args, call);
    for (int32_t k = 0; k < 2; k++) {
        j.flip[k] = nnrti_cpu_flip(&args[k]);
        j.zero[k] = args[k].quant[0].zeroPoint + j.flip[k];
    }
    NNRTI_CPU(binary_q8_factors)(&j);
    j.repeat = -1;
    rows = 1;
    for (int32_t i = 0; i < j.walk.rank; i++)
        rows *= j.walk.dims[i];
    count = rows * j.walk.count;
    for (int32_t k = 0, r = j.walk.rank - 1; k < 2 && r >= 0 && j.walk.count <= NNRTI_Q8_REPEAT; k++)
        if (j.walk.step[1 + k][r] == 0 && j.walk.row[1] == 1 && j.walk.row[2] == 1 &&
            j.walk.step[0][r] == j.walk.count && j.walk.step[2 - k][r] == j.walk.count)
            j.repeat = k;
    j.slice = (int32_t)(NNRTI_Q8_CHUNK / (j.walk.rank > 0 ? count / j.walk.dims[0] : 1));
    j.slice = j.slice < 1 ? 1 : j.slice;
    nnrti_cpu_parallel_for(call, count, (uint32_t)(((j.walk.rank > 0 ? j.walk.dims[0] : j.walk.count) - 1) / j.slice + 1),
                           NNRTI_CPU(binary_q8_task), &j);
    return NNRT_SUCCESS;
}

#endif /* !NNRTI_CPU_DOT */

#if NNRTI_CPU_DOT != 4
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nbits_int8 */

/* MATMUL_NBITS with x rounded to int8 (accuracyLevel 4). It reads the packed weights of >>nbits_kernels, and weights of fewer
   bytes (nnrti_cpu_nbits). Four bytes of x, broadcast to all lanes, are multiplied by the same entries of each channel: a
   group, whose bytes shifts and masks make of one or two words. The sums of a block are integers, so they are exact in any
   order; scale and zero point are applied once per block.
   Before the work items x is rounded into scratch that all of them read, in groups of one or four rows: for each block of
   K a nnrti_cpu_nbits_head, then its words, four bytes of each row of the group side by side. Unless entries have 8 bits, the
   bytes at even positions of eight precede those at odd positions, as masking separates the entries of a word.
   ISAs without dot products of bytes add products of two bytes in 16 bits, as many as cannot overflow: 32 terms of entries of
   4 bits. Entries of 8 bits are two nibbles there; AVX2 multiplies several rows by their magnitudes.
   One row is bound by memory bandwidth, so its kernel has an instance for each width of entries. Several rows share a strip of
   weights, whose entries are unpacked to bytes once, so that their kernel does not depend on the width. An instance for each
   width would be 30 to 80 KB more code per ISA, and would unpack again for each four rows. */

#if NNRTI_CPU_DOT
#define NNRTI_NBITS(name) NNRTI_CPU_JOIN_2(nnrti_cpu_##name##_, NNRTI_CPU_BASE)
#define NNRTI_NBITS_VECTORS (NNRTI_CPU_GEMV_WIDTH * NNRTI_PANEL_VECTORS)
#define NNRTI_NBITS_WIDTH (NNRTI_NBITS_VECTORS * NNRTI_LANES)
#else
#define NNRTI_NBITS(name) NNRTI_CPU(name)
#endif
#define NNRTI_NBITS_DOT (NNRTI_CPU_DOT && !NNRTI_CPU_WASM) /* dot products of unsigned, or on Arm signed, weights by int8 */
#define NNRTI_NBITS_TALL (NNRTI_NBITS_DOT && NNRTI_CPU_LEVEL == 4 ? 8 : 4) /* rows of a register tile; the remainder has four */
#define NNRTI_NBITS_SIGNED (NNRTI_NBITS_DOT && NNRTI_CPU_LEVEL == 2) /* entries of 8 bits are read as signed */
typedef uint32_t NNRTI_CPU(nbits_lanes) __attribute__((vector_size(NNRTI_LANES * 4)));

/* The integer in all lanes. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(nbits_all)(int32_t x)
{
#if NNRTI_CPU_LEVEL == 4
    return _mm512_set1_epi32(x);
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_set1_epi32(x);
#else
    const nnrti_i v = {x, x, x, x};
    return v;
#endif
}

/* The words of LANES channels. */
NNRTI_CPU_INLINE NNRTI_CPU(nbits_lanes) NNRTI_CPU(nbits_load)(const uint32_t *w)
{
    return (NNRTI_CPU(nbits_lanes))nnrti_i_load((const int32_t *)(const void *)w);
}

/* Field `at` of `bits` bits of each byte, times 2^up. Processors with AVX2 shift in one or two of their pipes; fields of a bit,
   of which a word has eight, are looked up there, in tables of the lower or upper half of a byte. */
NNRTI_CPU_INLINE NNRTI_CPU(nbits_lanes) NNRTI_CPU(nbits_field)(NNRTI_CPU(nbits_lanes) words, int32_t at, const int32_t bits,
                                                               const int32_t up)
{
    const uint32_t mask = ((1u << bits) - 1u) * 0x01010101u << up;
    const int32_t right = at * bits - up;
#if NNRTI_CPU_LEVEL >= 3
    if (bits == 1) {
        const int32_t each = 4 / bits, shift = at % each * bits, all = (1 << bits) - 1;
#define NNRTI_NBITS_ENTRY(i) (char)(((i) >> shift & all) << up)
        const __m128i table = _mm_setr_epi8(NNRTI_NBITS_ENTRY(0), NNRTI_NBITS_ENTRY(1), NNRTI_NBITS_ENTRY(2), NNRTI_NBITS_ENTRY(3),
                                            NNRTI_NBITS_ENTRY(4), NNRTI_NBITS_ENTRY(5), NNRTI_NBITS_ENTRY(6), NNRTI_NBITS_ENTRY(7),
                                            NNRTI_NBITS_ENTRY(8), NNRTI_NBITS_ENTRY(9), NNRTI_NBITS_ENTRY(10), NNRTI_NBITS_ENTRY(11),
                                            NNRTI_NBITS_ENTRY(12), NNRTI_NBITS_ENTRY(13), NNRTI_NBITS_ENTRY(14), NNRTI_NBITS_ENTRY(15));
#undef NNRTI_NBITS_ENTRY
        const NNRTI_CPU(nbits_lanes) half = (at < each ? words : words >> 4) & 0x0F0F0F0Fu;
#if NNRTI_CPU_LEVEL == 4
        return (NNRTI_CPU(nbits_lanes))_mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), (__m512i)half);
#else
        return (NNRTI_CPU(nbits_lanes))_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), (__m256i)half);
#endif
    }
#endif
    return (right >= 0 ? words >> (right > 0 ? right : 0) : words << (right < 0 ? -right : 0)) & mask;
}

/* Group g of 32 entries from the words at w on, which nnrti_cpu_nbits_planes states; of 8 bits: word g. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(nbits_group)(const uint32_t *w, int32_t g, const int32_t bits)
{
    const int32_t low = bits < 4 ? 2 : 4, high = bits - low, each = 8 / low;
    NNRTI_CPU(nbits_lanes) entries;
    if (bits == 8)
        return (nnrti_i)NNRTI_CPU(nbits_load)(w + g * NNRTI_NBITS_WIDTH);
    entries = NNRTI_CPU(nbits_field)(NNRTI_CPU(nbits_load)(w + g / each * NNRTI_NBITS_WIDTH), g % each, low, 0);
    if (high > 0) {
        const int32_t several = 8 / (high > 0 ? high : 1);
        entries |= NNRTI_CPU(nbits_field)(NNRTI_CPU(nbits_load)(w + (low + g / several) * NNRTI_NBITS_WIDTH), g % several, high, low);
    }
    return (nnrti_i)entries;
}

/* Prefetches the words behind the ones that group g reads first. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_ahead)(const uint32_t *w, int32_t g, const int32_t bits)
{
    const int32_t low = bits == 8 ? 8 : bits < 4 ? 2 : 4, high = bits - low, each = 8 / low, several = 8 / (high > 0 ? high : 1);
    if (g % each == 0) {
        NNRTI_NBITS_PREFETCH(w + g / each * NNRTI_NBITS_WIDTH, NNRTI_NBITS_WIDTH);
    }
    if (high > 0 && g % several == 0) {
        NNRTI_NBITS_PREFETCH(w + (low + g / several) * NNRTI_NBITS_WIDTH, NNRTI_NBITS_WIDTH);
    }
}

#if NNRTI_NBITS_DOT
/* sum + the four products of the bytes of each lane. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(nbits_dot)(nnrti_i sum, nnrti_i weights, nnrti_i x)
{
#if NNRTI_CPU_LEVEL == 4
    return _mm512_dpbusd_epi32(sum, weights, x);
#else
    return vdotq_s32(sum, vreinterpretq_s8_s32(weights), vreinterpretq_s8_s32(x));
#endif
}

/* Adds the products of `count` groups of one row, from group `from` of the words at w on. x: from group `from` on. All but the
   pointers are constants after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_row_groups)(nnrti_i *sum, const uint32_t *w, const int32_t *x, const int32_t from,
                                                  const int32_t count, const int32_t bits)
{
    NNRTI_CPU_UNROLL
    for (int32_t g = 0; g < count; g++) {
        const nnrti_i four = NNRTI_CPU(nbits_all)(x[g]);
        NNRTI_CPU(nbits_ahead)(w, from + g, bits);
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < NNRTI_NBITS_VECTORS; v++) {
            nnrti_i weights = NNRTI_CPU(nbits_group)(w + v * NNRTI_LANES, from + g, bits);
            if (bits == 8 && NNRTI_NBITS_SIGNED)
                weights = (nnrti_i)((NNRTI_CPU(nbits_lanes))weights ^ 0x80808080u);
            sum[v] = NNRTI_CPU(nbits_dot)(sum[v], weights, four);
        }
    }
}

/* Adds the products of `count` groups of unpacked entries by `rows` rows. x: of each four rows. rows and most are constants
   after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_strip_groups)(nnrti_i *sum, const nnrti_i *entries, const int32_t *const *x, int32_t count,
                                                    const int32_t rows, const int32_t most)
{
    (void)most;
    for (int32_t g = 0; g < count; g++)
        NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < rows; r++) {
        const nnrti_i four = NNRTI_CPU(nbits_all)(x[r / 4][g * 4 + r % 4]);
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < NNRTI_PANEL_VECTORS; v++)
            sum[r * NNRTI_PANEL_VECTORS + v] =
                NNRTI_CPU(nbits_dot)(sum[r * NNRTI_PANEL_VECTORS + v], entries[g * NNRTI_PANEL_VECTORS + v], four);
    }
}
#else
#if NNRTI_CPU_LEVEL >= 3
#define NNRTI_NBITS_PAIRS NNRTI_CPU(i)
#else
typedef int16_t NNRTI_CPU(nbits_pairs) __attribute__((vector_size(16)));
typedef uint16_t NNRTI_CPU(nbits_halves) __attribute__((vector_size(16)));
#define NNRTI_NBITS_PAIRS NNRTI_CPU(nbits_pairs)
#endif
/* sum, of 16 bits, + the sum of the products of each pair of adjacent bytes. */
NNRTI_CPU_INLINE NNRTI_NBITS_PAIRS NNRTI_CPU(nbits_pair)(NNRTI_NBITS_PAIRS sum, nnrti_i entries, nnrti_i x)
{
#if NNRTI_CPU_LEVEL == 4
    return _mm512_add_epi16(sum, _mm512_maddubs_epi16(entries, x));
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(entries, x));
#else
    const NNRTI_NBITS_PAIRS w = (NNRTI_NBITS_PAIRS)entries, high = (NNRTI_NBITS_PAIRS)x >> 8;
    const NNRTI_NBITS_PAIRS low = (NNRTI_NBITS_PAIRS)((NNRTI_CPU(nbits_halves))x << 8) >> 8;
    return sum + (w & 0xFF) * low + (w >> 8) * high;
#endif
}

/* sum + factor times both sums of 16 bits of each lane. */
NNRTI_CPU_INLINE nnrti_i NNRTI_CPU(nbits_fold)(nnrti_i sum, NNRTI_NBITS_PAIRS pairs, const int32_t factor)
{
#if NNRTI_CPU_LEVEL == 4
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16((int16_t)factor)));
#elif NNRTI_CPU_LEVEL == 3
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16((int16_t)factor)));
#else
    const nnrti_i both = (nnrti_i)pairs;
    return sum + ((nnrti_i)((NNRTI_CPU(nbits_lanes))both << 16) >> 16) * factor + (both >> 16) * factor;
#endif
}

/* Keeps gcc from adding the products of all groups in the end, from which it stores them until then. */
#if NNRTI_CPU_LEVEL >= 3
#define NNRTI_NBITS_NOW(v) __asm__("" : "+x"(v))
#else
#define NNRTI_NBITS_NOW(v) ((void)0)
#endif

/* As above. Sums of 16 bits are folded after as many groups as cannot overflow: n groups are at most n * 2 * 127 * the largest
   entry, of 4 bits 8 * 254 * 15 = 30480, of 5 bits 4 * 254 * 31 = 31496, of 6 bits 2 * 254 * 63 = 32004. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_row_groups)(nnrti_i *sum, const uint32_t *w, const int32_t *x, const int32_t from,
                                                  const int32_t count, const int32_t bits)
{
    const int32_t passes = bits == 8 ? 2 : 1;
    const int32_t most = bits == 6 ? 2 : bits == 5 ? 4 : 8, step = count < most ? count : most;
    NNRTI_CPU_UNROLL
    for (int32_t pass = 0; pass < passes; pass++)
        NNRTI_CPU_UNROLL
    for (int32_t first = 0; first < count; first += step) {
        NNRTI_NBITS_PAIRS pairs[NNRTI_NBITS_VECTORS];
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < NNRTI_NBITS_VECTORS; v++)
            pairs[v] = (NNRTI_NBITS_PAIRS)NNRTI_CPU(nbits_all)(0);
        NNRTI_CPU_UNROLL
        for (int32_t g = first; g < first + step; g++) {
            const nnrti_i four = NNRTI_CPU(nbits_all)(x[g]);
            if (pass == 0)
                NNRTI_CPU(nbits_ahead)(w, from + g, bits);
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < NNRTI_NBITS_VECTORS; v++) {
                nnrti_i entries = NNRTI_CPU(nbits_group)(w + v * NNRTI_LANES, from + g, bits);
                if (bits == 8)
                    entries = (nnrti_i)NNRTI_CPU(nbits_field)((NNRTI_CPU(nbits_lanes))entries, pass, 4, 0);
                pairs[v] = NNRTI_CPU(nbits_pair)(pairs[v], entries, four);
                NNRTI_NBITS_NOW(pairs[v]);
            }
        }
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < NNRTI_NBITS_VECTORS; v++)
            sum[v] = NNRTI_CPU(nbits_fold)(sum[v], pairs[v], pass == 0 ? 1 : 16);
    }
}

#if NNRTI_CPU_LEVEL == 3
/* As below, of a group by entries of 8 bits less 128, w: |w| times x with the sign of w. Two products of 128 * 127 are within
   16 bits. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_bytes)(nnrti_i *sum, const nnrti_i *w, const int32_t *x)
{
    __m256i sizes[NNRTI_PANEL_VECTORS];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < NNRTI_PANEL_VECTORS; v++)
        sizes[v] = _mm256_abs_epi8(w[v]);
    NNRTI_CPU_UNROLL
    for (int32_t r = 0; r < 4; r++) {
        const __m256i four = _mm256_set1_epi32(x[r]);
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < NNRTI_PANEL_VECTORS; v++) {
            nnrti_i *const to = &sum[r * NNRTI_PANEL_VECTORS + v];
            *to = NNRTI_CPU(nbits_fold)(*to, _mm256_maddubs_epi16(sizes[v], _mm256_sign_epi8(four, w[v])), 1);
        }
    }
}
#endif

/* Adds factor times the products of `count` groups of unpacked entries by four rows; `most` groups cannot overflow sums of 16
   bits, 1: entries are signed (AVX2). most is a constant after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_strip_pairs)(nnrti_i *sum, const nnrti_i *entries, const int32_t *x, int32_t count,
                                                   int32_t factor, const int32_t most)
{
    enum { SUMS = 4 * NNRTI_PANEL_VECTORS };
    const int32_t step = most < 4 ? most : 4; /* a block has a multiple of four groups */
    for (int32_t first = 0; first < count; first += most) {
        const int32_t end = most == 2 || first + most <= count ? first + most : count;
        NNRTI_NBITS_PAIRS pairs[SUMS];
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < SUMS; k++)
            pairs[k] = (NNRTI_NBITS_PAIRS)NNRTI_CPU(nbits_all)(0);
        for (int32_t g = first; g < end; g += step)
            NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < 4 * step; i++) {
            const nnrti_i four = NNRTI_CPU(nbits_all)(x[g * 4 + i]), *const w = entries + (g + i / 4) * NNRTI_PANEL_VECTORS;
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < NNRTI_PANEL_VECTORS; v++) {
                NNRTI_NBITS_PAIRS *const pair = &pairs[i % 4 * NNRTI_PANEL_VECTORS + v];
                *pair = NNRTI_CPU(nbits_pair)(*pair, w[v], four);
                NNRTI_NBITS_NOW(*pair);
            }
        }
        NNRTI_CPU_UNROLL
        for (int32_t k = 0; k < SUMS; k++)
            sum[k] = NNRTI_CPU(nbits_fold)(sum[k], pairs[k], factor);
    }
}
#endif

/* Adds the products of a block of one row. half: 1 if it is the second one of a record. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_row_block)(const nnrti_cpu_nbits *a, nnrti_i *sum, const uint32_t *w, const int32_t *x,
                                                 int32_t half, const int32_t bits)
{
    if (a->block < 32) {
        if (half == 0)
            NNRTI_CPU(nbits_row_groups)(sum, w, x, 0, 4, bits);
        else
            NNRTI_CPU(nbits_row_groups)(sum, w, x, 4, 4, bits);
        return;
    }
    for (int32_t k = 0; k < a->block; k += 32, w += bits * NNRTI_NBITS_WIDTH, x += 8)
        NNRTI_CPU(nbits_row_groups)(sum, w, x, 0, 8, bits);
}

/* Factored scales or minima of LANES channels from `first` on. */
NNRTI_CPU_INLINE NNRTI_NBITS(v) NNRTI_CPU(nbits_factored)(const uint8_t *parts, const float *factors, int32_t first)
{
    return NNRTI_NBITS(v_weights)(parts, (size_t)first, NNRTI_CPU_I8) * NNRTI_NBITS(v_load)(factors + first);
}

/* Adds the sums of a block, of rows x vectors from channel `first` of the panel on, times their scales, to total. scales,
   zeros: of the block. factors: of its scales, then of its minima; NULL: none. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_scale)(const nnrti_cpu_nbits *a, NNRTI_NBITS(v) * total, const nnrti_i *sum,
                                             const nnrti_cpu_nbits_head *const *heads, const uint8_t *scales,
                                             const uint8_t *zeros, const float *factors, int32_t first, const int32_t rows,
                                             const int32_t vectors)
{
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        const int32_t at = first + v * NNRTI_LANES;
        const bool factored = NNRTI_CPU_SMALL && factors != NULL, minima = factored && a->zeroBytes > 0;
        const NNRTI_NBITS(v) scale =
            factored ? NNRTI_CPU(nbits_factored)(scales, factors, at)
                     : NNRTI_NBITS(v_weights)(scales, (size_t)at, NNRTI_CPU_SMALL && a->scaleBytes == 2 ? NNRTI_CPU_F16 : NNRTI_CPU_F32);
        const NNRTI_NBITS(v) zero = a->zeroBytes == 0 ? NNRTI_NBITS(v_all)(0.0f)
                                    : minima          ? NNRTI_CPU(nbits_factored)(zeros, factors + NNRTI_NBITS_WIDTH, at)
                                                      : NNRTI_NBITS(nbits_zeros)(a, zeros, at);
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows; r++) {
            const nnrti_cpu_nbits_head *const head = &heads[r / 4][r % 4];
            NNRTI_NBITS(v) part = __builtin_convertvector((NNRTI_NBITS(v_bits))sum[r * vectors + v], NNRTI_NBITS(v));
            if (a->zeroBytes > 0 && !minima)
                part = NNRTI_NBITS(v_fma)(zero, NNRTI_NBITS(v_all)(head->less), part);
            total[r * vectors + v] = NNRTI_NBITS(v_fma)(scale, part * NNRTI_NBITS(v_all)(head->scale), total[r * vectors + v]);
            if (minima)
                total[r * vectors + v] =
                    NNRTI_NBITS(v_fma)(zero, NNRTI_NBITS(v_all)(head->scale * head->less), total[r * vectors + v]);
        }
    }
}

/* Epilogue of rows x vectors, from channel t->channel on. y may be the memory of the residual, and rows behind the last one
   are its copies: so all of the residual is read before y is written. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(nbits_store)(const NNRTI_NBITS(gemm_tile) * t, NNRTI_NBITS(v) * total, int32_t rows,
                                                      int32_t vectors)
{
    for (int32_t v = 0; v < vectors && t->count > v * NNRTI_LANES; v++) {
        const int32_t channel = t->channel + v * NNRTI_LANES, left = t->count - v * NNRTI_LANES;
        for (int32_t r = 0; r < rows; r++)
            total[r * vectors + v] = NNRTI_NBITS(result)(t, r, channel, total[r * vectors + v], left, false);
        for (int32_t r = 0; r < rows; r++)
            NNRTI_NBITS(v_store_part)(t->y[r] + channel, total[r * vectors + v], left);
    }
}

/* Microkernel of one row by a packed panel. bits is a constant after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_row)(const NNRTI_NBITS(gemm_tile) * t, const nnrti_cpu_nbits *a, const int32_t *x,
                                           const int32_t bits)
{
    const int32_t each = a->record / a->block;
    const uint8_t *record = (const uint8_t *)(t->panel + NNRTI_NBITS_WIDTH), *scales, *zeros;
    const float *factors = NULL;
    NNRTI_NBITS(v) total[NNRTI_NBITS_VECTORS];
    NNRTI_CPU_UNROLL
    for (int32_t v = 0; v < NNRTI_NBITS_VECTORS; v++)
        total[v] = NNRTI_NBITS(v_load)(t->panel + v * NNRTI_LANES);
    for (int32_t k = 0; k < t->k; k += a->record, record += a->blockBytes) {
        const uint32_t *w;
        if (a->factorBytes > 0 && k % NNRTI_CPU_NBITS_SHARED == 0) {
            factors = (const float *)(const void *)record;
            record += a->factorBytes;
        }
        scales = record;
        zeros = scales + (size_t)(a->scaleBytes * each) * NNRTI_NBITS_WIDTH;
        w = (const uint32_t *)(const void *)(zeros + (size_t)(a->zeroBytes * each) * NNRTI_NBITS_WIDTH);
        for (int32_t b = 0; b < each; b++, scales += NNRTI_NBITS_WIDTH, zeros += NNRTI_NBITS_WIDTH) {
            const nnrti_cpu_nbits_head *const head = (const nnrti_cpu_nbits_head *)(const void *)x;
            nnrti_i sum[NNRTI_NBITS_VECTORS];
            x = (const int32_t *)(const void *)(head + 1);
            NNRTI_CPU_UNROLL
            for (int32_t v = 0; v < NNRTI_NBITS_VECTORS; v++)
                sum[v] = NNRTI_CPU(nbits_all)(head->start[NNRTI_NBITS_SIGNED]);
            NNRTI_CPU(nbits_row_block)(a, sum, w, x, b, bits);
            NNRTI_CPU(nbits_scale)(a, total, sum, &head, scales, zeros, factors, 0, 1, NNRTI_NBITS_VECTORS);
            x += a->block / 4;
        }
    }
    NNRTI_CPU(nbits_store)(t, total, 1, NNRTI_NBITS_VECTORS);
}

/* Instances. */
#if NNRTI_CPU_SMALL
#define NNRTI_CPU_NBITS_WIDTHS(X) X(2) X(3) X(4) X(5) X(6) X(8)
#else
#define NNRTI_CPU_NBITS_WIDTHS(X) X(4) X(8)
#endif
#define NNRTI_CPU_NBITS_ROW(bits)                                                                                      \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(nbits_row_##bits##_int8)(const NNRTI_NBITS(gemm_tile) * t,                \
                                                                      const nnrti_cpu_nbits *a, const int32_t *x)      \
    {                                                                                                                  \
        const NNRTI_NBITS(gemm_tile) copy = *t; /* which stores cannot change */                                       \
        const nnrti_cpu_nbits attr = *a;                                                                               \
        NNRTI_CPU(nbits_row)(&copy, &attr, x, bits);                                                                   \
    }
NNRTI_CPU_NBITS_WIDTHS(NNRTI_CPU_NBITS_ROW)

/* One row by a packed panel. */
static void NNRTI_CPU(nbits_row_any)(const NNRTI_NBITS(gemm_tile) * t, const nnrti_cpu_nbits *a, const int32_t *x)
{
    switch (a->bits) {
#define NNRTI_CPU_NBITS_CASE(bits)                                                                                     \
    case bits: NNRTI_CPU(nbits_row_##bits##_int8)(t, a, x); break;
        NNRTI_CPU_NBITS_WIDTHS(NNRTI_CPU_NBITS_CASE)
#undef NNRTI_CPU_NBITS_CASE
    default: break;
    }
}

/* Several rows by a strip: PANEL_VECTORS vectors, from channel `lane` of a panel on, by `count` entries of K from k on, of
   whole blocks or of a part of one. */
#define NNRTI_NBITS_STRIP_ROWS 32
#define NNRTI_NBITS_PASSES (NNRTI_NBITS_DOT || NNRTI_CPU_LEVEL == 3 ? 1 : 2) /* over entries of 8 bits */
#define NNRTI_NBITS_LESS (NNRTI_NBITS_SIGNED || NNRTI_CPU_LEVEL == 3)        /* unpacked entries of 8 bits are 128 less */
typedef struct NNRTI_CPU(nbits_strip) {
    const uint8_t *record; /* the first one */
    const float *factors;
    int32_t lane, k, count;
    nnrti_i entries[NNRTI_NBITS_PASSES][NNRTI_CPU_NBITS_SHARED / 4 * NNRTI_PANEL_VECTORS]; /* [0]: the low nibbles of two */
    nnrti_i sum[NNRTI_NBITS_STRIP_ROWS * NNRTI_PANEL_VECTORS]; /* of blocks that are longer than the strip */
    NNRTI_NBITS(v) total[NNRTI_NBITS_STRIP_ROWS * NNRTI_PANEL_VECTORS];
} NNRTI_CPU(nbits_strip);

/* Unpacks groups of four entries, of `halves` times 16 entries from the words at w on. bits is a constant after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_unpack)(nnrti_i *to, const uint32_t *w, int32_t halves, const int32_t bits)
{
    const int32_t once = bits == 8 ? 1 : 8; /* groups whose places in words differ */
    const int32_t words = bits == 8 ? 1 : bits;
    for (int32_t g = 0; g < 4 * halves; g += once, w += words * NNRTI_NBITS_WIDTH)
        NNRTI_CPU_UNROLL
    for (int32_t i = 0; i < once; i++) {
        if (i == 4 && g + 4 == 4 * halves)
            return;
        NNRTI_CPU_UNROLL
        for (int32_t v = 0; v < NNRTI_PANEL_VECTORS; v++) {
            const NNRTI_CPU(nbits_lanes) e = (NNRTI_CPU(nbits_lanes))NNRTI_CPU(nbits_group)(w + v * NNRTI_LANES, i, bits);
            nnrti_i *const first = &to[(g + i) * NNRTI_PANEL_VECTORS + v];
            if (bits < 8 || (NNRTI_NBITS_PASSES == 1 && !NNRTI_NBITS_LESS)) {
                *first = (nnrti_i)e;
            } else if (NNRTI_NBITS_LESS) {
                *first = (nnrti_i)(e ^ 0x80808080u);
            } else {
                *first = (nnrti_i)(e & 0x0F0F0F0Fu);
                first[NNRTI_CPU_NBITS_SHARED / 4 * NNRTI_PANEL_VECTORS] = (nnrti_i)(e >> 4 & 0x0F0F0F0Fu);
            }
        }
    }
}

/* Begins a strip at entry k of K, and unpacks its entries. */
NNRTI_CPU_NOINLINE static void NNRTI_CPU(nbits_strip_begin)(const NNRTI_NBITS(gemm_tile) * t, const nnrti_cpu_nbits *a,
                                                            NNRTI_CPU(nbits_strip) * s, int32_t k)
{
    const int32_t shared = NNRTI_CPU_NBITS_SHARED, each = a->record / a->block;
    const int32_t left = (int32_t)nnrti_cpu_div_up(t->k, a->record) * a->record - k, count = left < shared ? left : shared;
    const size_t before = (size_t)((a->scaleBytes + a->zeroBytes) * each * NNRTI_NBITS_WIDTH);
    const uint8_t *record = (const uint8_t *)(t->panel + NNRTI_NBITS_WIDTH) + (size_t)(k / a->record) * a->blockBytes;
    s->k = k;
    s->count = count;
    s->factors = NULL;
    if (a->factorBytes > 0) {
        record += (size_t)(k / shared) * a->factorBytes;
        s->factors = (const float *)(const void *)record;
        record += a->factorBytes;
    }
    s->record = record;
    for (int32_t i = 0; i < count; i += a->record, record += a->blockBytes) {
        const int32_t halves = (a->record < count ? a->record : count) / 16;
        const uint32_t *const w = (const uint32_t *)(const void *)(record + before) + s->lane +
                                  (size_t)(k % a->record / 32 * a->bits) * NNRTI_NBITS_WIDTH;
        nnrti_i *const to = &s->entries[0][i / 4 * NNRTI_PANEL_VECTORS];
        switch (a->bits) {
#define NNRTI_CPU_NBITS_CASE(bits)                                                                                     \
    case bits: NNRTI_CPU(nbits_unpack)(to, w, halves, bits); break;
            NNRTI_CPU_NBITS_WIDTHS(NNRTI_CPU_NBITS_CASE)
#undef NNRTI_CPU_NBITS_CASE
        default: break;
        }
    }
}

/* Adds the products of the strip by `rows` rows, from row `row` on, to their totals. x: of these rows, of each four rows `next`
   words apart. rows and most are constants after inlining. */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_several)(const nnrti_cpu_nbits *a, NNRTI_CPU(nbits_strip) * s, int32_t row, const int32_t *x,
                                               ptrdiff_t next, const int32_t rows, const int32_t most)
{
    const int32_t head = (int32_t)(sizeof(nnrti_cpu_nbits_head) / sizeof(int32_t)), each = a->record / a->block;
    const int32_t part = a->block < s->count ? a->block : s->count, groups = part / 4, at = s->k % a->block;
    const bool begins = at == 0, ends = at + part == a->block;
    nnrti_i *const kept = s->sum + row * NNRTI_PANEL_VECTORS;
    x += (ptrdiff_t)(s->k / a->block) * (head * 4 + a->block);
    for (int32_t b = 0; b < s->count / part; b++, x += head * 4 + a->block) {
        const nnrti_cpu_nbits_head *const heads[2] = {(const nnrti_cpu_nbits_head *)(const void *)x,
                                                      (const nnrti_cpu_nbits_head *)(const void *)(x + next)};
        const int32_t *const from[2] = {x + head * 4 + at, x + next + head * 4 + at};
        const uint8_t *const record = s->record + (size_t)(b / each) * a->blockBytes, *const scales = record + b % each * NNRTI_NBITS_WIDTH;
        const int32_t first = b * groups * NNRTI_PANEL_VECTORS;
        nnrti_i sum[NNRTI_NBITS_TALL * NNRTI_PANEL_VECTORS];
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows * NNRTI_PANEL_VECTORS; r++)
            sum[r] = begins ? NNRTI_CPU(nbits_all)(heads[r / NNRTI_PANEL_VECTORS / 4][r / NNRTI_PANEL_VECTORS % 4].start[NNRTI_NBITS_LESS])
                            : kept[r];
#if NNRTI_NBITS_DOT
        NNRTI_CPU(nbits_strip_groups)(sum, s->entries[0] + first, from, groups, rows, most);
#elif NNRTI_CPU_LEVEL == 3
        if (most == 1)
            for (int32_t g = 0; g < groups; g++)
                NNRTI_CPU(nbits_bytes)(sum, s->entries[0] + first + g * NNRTI_PANEL_VECTORS, from[0] + 4 * g);
        else
            NNRTI_CPU(nbits_strip_pairs)(sum, s->entries[0] + first, from[0], groups, 1, most);
#else
        for (int32_t pass = 0; pass < (a->bits == 8 ? 2 : 1); pass++)
            NNRTI_CPU(nbits_strip_pairs)(sum, s->entries[pass] + first, from[0], groups, pass == 0 ? 1 : 16, most);
#endif
        if (ends) {
            NNRTI_CPU(nbits_scale)(a, s->total + row * NNRTI_PANEL_VECTORS, sum, heads, scales,
                                   scales + (size_t)(a->scaleBytes * each) * NNRTI_NBITS_WIDTH, s->factors, s->lane, rows,
                                   NNRTI_PANEL_VECTORS);
            continue;
        }
        NNRTI_CPU_UNROLL
        for (int32_t r = 0; r < rows * NNRTI_PANEL_VECTORS; r++)
            kept[r] = sum[r];
    }
}

/* Instances. */
#define NNRTI_CPU_NBITS_SEVERAL(name, rows, most)                                                                      \
    NNRTI_CPU_NOINLINE static void NNRTI_CPU(nbits_several_##name)(const nnrti_cpu_nbits *a,                           \
                                                                   NNRTI_CPU(nbits_strip) * s, int32_t row,            \
                                                                   const int32_t *x, ptrdiff_t next)                   \
    {                                                                                                                  \
        const nnrti_cpu_nbits attr = *a; /* which stores cannot change */                                              \
        NNRTI_CPU(nbits_several)(&attr, s, row, x, next, rows, most);                                                  \
    }
NNRTI_CPU_NBITS_SEVERAL(four, 4, 8)
#if NNRTI_NBITS_TALL > 4
NNRTI_CPU_NBITS_SEVERAL(tall, NNRTI_NBITS_TALL, 8)
#elif !NNRTI_NBITS_DOT && NNRTI_CPU_SMALL
NNRTI_CPU_NBITS_SEVERAL(four_long, 4, 2)
#endif
#if NNRTI_CPU_LEVEL == 3
NNRTI_CPU_NBITS_SEVERAL(four_bytes, 4, 1)
#endif

/* Adds the products of the strip by all of its rows. */
static void NNRTI_CPU(nbits_strip_multiply)(const nnrti_cpu_nbits *a, NNRTI_CPU(nbits_strip) * s, const int32_t *x, ptrdiff_t next,
                                            int32_t rows)
{
    for (int32_t row = 0; row < rows; row += 4, x += next) {
#if NNRTI_NBITS_TALL > 4
        if (rows - row > 4) {
            NNRTI_CPU(nbits_several_tall)(a, s, row, x, next);
            row += 4;
            x += next;
            continue;
        }
#elif !NNRTI_NBITS_DOT && NNRTI_CPU_SMALL
        if (a->bits == 5 || a->bits == 6) {
            NNRTI_CPU(nbits_several_four_long)(a, s, row, x, 0);
            continue;
        }
#endif
#if NNRTI_CPU_LEVEL == 3
        if (a->bits == 8) {
            NNRTI_CPU(nbits_several_four_bytes)(a, s, row, x, 0);
            continue;
        }
#endif
        NNRTI_CPU(nbits_several_four)(a, s, row, x, 0);
    }
}

/* Operands that the work items of `gemm_nbits_int8` share. */
typedef struct NNRTI_CPU(nbits_int8_job) {
    NNRTI_NBITS(gemm_job) gemm;
    const nnrti_cpu_nbits *attr;
    int32_t *x;     /* rounded */
    int32_t group;  /* rows of a group */
    ptrdiff_t next; /* words of a group */
} NNRTI_CPU(nbits_int8_job);

/* The largest magnitude of count floats, Inf or NaN if one of them is. */
static float NNRTI_CPU(nbits_largest)(const float *x, int32_t count)
{
    NNRTI_NBITS(v) most = NNRTI_NBITS(v_all)(0.0f);
    for (int32_t i = 0; i < count; i += NNRTI_LANES) {
        const NNRTI_NBITS(v) v = NNRTI_NBITS(v_load_part)(x + i, count - i);
        most = NNRTI_NBITS(v_max_nan)(most, (NNRTI_NBITS(v))((NNRTI_NBITS(v_bits))v & INT32_MAX));
    }
    return NNRTI_NBITS(v_largest)(most);
}

/* Sixteen bytes as words of a row, `group` apart: in order, or of each eight those at even positions first (even). */
NNRTI_CPU_INLINE void NNRTI_CPU(nbits_order)(const uint8_t *q, int32_t *to, int32_t group, const bool even)
{
#if NNRTI_CPU_LEVEL >= 3
    const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    __m128i all = _mm_loadu_si128((const __m128i *)(const void *)q);
    all = even ? _mm_shuffle_epi8(all, order) : all;
    to[0] = _mm_cvtsi128_si32(all);
    to[group] = _mm_extract_epi32(all, 1);
    to[2 * group] = _mm_extract_epi32(all, 2);
    to[3 * group] = _mm_extract_epi32(all, 3);
#else
    for (int32_t i = 0; i < 4; i++) {
        const uint8_t *const from = q + (even ? i / 2 * 8 + i % 2 : 4 * i);
        const int32_t step = even ? 2 : 1;
        to[i * group] = (int32_t)((uint32_t)from[0] | (uint32_t)from[step] << 8 | (uint32_t)from[2 * step] << 16 |
                                  (uint32_t)from[3 * step] << 24);
    }
#endif
}

/* Rounds a block of x, of which the elements from `count` on are 0, to the words of a row in a group. Adding 1.5 * 2^23
   rounds to an integer, to even, in the low bits. */
static void NNRTI_CPU(nbits_round)(const nnrti_cpu_nbits *a, const float *x, int32_t count, nnrti_cpu_nbits_head *head,
                                   int32_t *to, int32_t group)
{
    const NNRTI_NBITS(v) magic = NNRTI_NBITS(v_all)(12582912.0f);
    const float largest = NNRTI_CPU(nbits_largest)(x, count);
    const bool some = largest >= 1.5046327690525280e-36f && largest <= FLT_MAX; /* 2^-119: the inverse is finite */
    const NNRTI_NBITS(v) inverse = NNRTI_NBITS(v_all)(some ? 127.0f / largest : 0.0f);
    NNRTI_NBITS(v) sums = NNRTI_NBITS(v_all)(0.0f); /* exact: of at most 65536 * 127 */
    int32_t sum;
    for (int32_t k = 0; k < a->block; k += 16, to += 4 * group) {
        uint8_t q[16];
        float copy[16];
        const float *from = x + k;
        if (k + 16 > count) {
            memset(copy, 0, sizeof(copy));
            if (k < count)
                memcpy(copy, from, (size_t)(count - k) * sizeof(float));
            from = copy;
        }
        NNRTI_CPU_UNROLL
        for (int32_t i = 0; i < 16; i += NNRTI_LANES) {
            const NNRTI_NBITS(v) value = NNRTI_NBITS(v_load)(from + i) * inverse + magic;
            sums = sums + (value - magic);
            NNRTI_NBITS(v_store_bytes)(q + i, (NNRTI_NBITS(v_bits))value);
        }
        NNRTI_CPU(nbits_order)(q, to, group, a->bits < 8);
    }
    sum = some ? (int32_t)NNRTI_NBITS(v_sum)(sums) : 0;
    head->scale = some ? largest / 127.0f : largest <= FLT_MAX ? 0.0f : NAN;
    head->less = (float)-sum;
    head->start[0] = -a->middle * sum;
    head->start[1] = (a->bits == 8 ? 128 - a->middle : -a->middle) * sum;
}

/* Rounds a group of rows of x; rows behind the last one are its copies. */
static void NNRTI_CPU(nbits_round_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(nbits_int8_job) *j = (const NNRTI_CPU(nbits_int8_job) *)arg;
    const int32_t K = j->gemm.x->dims[3], block = j->attr->block, group = j->group;
    (void)worker;
    for (int32_t r = 0; r < group; r++) {
        const int64_t row = (int64_t)i * group + r < j->gemm.pixels ? (int64_t)i * group + r : j->gemm.pixels - 1;
        const float *const x = (const float *)j->gemm.x->data + row * j->gemm.x->strides[2];
        int32_t *to = j->x + (ptrdiff_t)i * j->next;
        for (int32_t k = 0; k < K; k += block) {
            nnrti_cpu_nbits_head *const heads = (nnrti_cpu_nbits_head *)(void *)to;
            NNRTI_CPU(nbits_round)(j->attr, x + k, K - k < block ? K - k : block, &heads[r],
                                   (int32_t *)(void *)(heads + group) + r, group);
            to = (int32_t *)(void *)(heads + group) + block / 4 * group;
        }
    }
}

/* Rows of y and of the residual, from row `first` on; behind the last one of `rows` its copies. */
static void NNRTI_CPU(nbits_rows_at)(const NNRTI_CPU(nbits_int8_job) * j, NNRTI_NBITS(gemm_tile) * t, float **y, const float **z,
                                     int64_t first, int32_t rows)
{
    for (int32_t r = 0; r < 4; r++) {
        const ptrdiff_t at = (ptrdiff_t)(first + (r < rows ? r : rows - 1)) * j->gemm.y->strides[2];
        y[r] = (float *)j->gemm.y->data + at;
        z[r] = j->gemm.z->data != NULL ? (const float *)j->gemm.z->data + at : NULL;
    }
    t->y = y;
    t->z = j->gemm.z->data != NULL ? z : NULL;
}

/* At most NNRTI_NBITS_STRIP_ROWS rows by one packed panel. */
static void NNRTI_CPU(nbits_int8_rows)(const NNRTI_CPU(nbits_int8_job) * j, const NNRTI_NBITS(gemm_tile) * tile, int64_t first,
                                       int32_t rows)
{
    const nnrti_cpu_nbits *const a = j->attr;
    const int32_t *const x = j->x + (ptrdiff_t)(first / j->group) * j->next;
    NNRTI_NBITS(gemm_tile) t = *tile;
    float *y[4];
    const float *z[4];
    NNRTI_CPU(nbits_strip) s;
    for (s.lane = 0; s.lane < NNRTI_NBITS_WIDTH && s.lane < tile->count; s.lane += NNRTI_PANEL_VECTORS * NNRTI_LANES) {
        for (int32_t r = 0; r < (rows + 7) / 8 * 8 * NNRTI_PANEL_VECTORS; r++)
            s.total[r] = NNRTI_NBITS(v_load)(t.panel + s.lane + r % NNRTI_PANEL_VECTORS * NNRTI_LANES);
        for (int32_t k = 0; k < nnrti_cpu_div_up(t.k, a->block) * a->block; k += NNRTI_CPU_NBITS_SHARED) {
            NNRTI_CPU(nbits_strip_begin)(&t, a, &s, k);
            NNRTI_CPU(nbits_strip_multiply)(a, &s, x, j->next, rows);
        }
        t.channel = tile->channel + s.lane;
        t.count = tile->count - s.lane;
        for (int32_t r = 0; r < rows; r += 4) {
            NNRTI_CPU(nbits_rows_at)(j, &t, y, z, first + r, rows - r);
            NNRTI_CPU(nbits_store)(&t, s.total + r * NNRTI_PANEL_VECTORS, 4, NNRTI_PANEL_VECTORS);
        }
    }
}

/* All rows of a work item by one packed panel. */
static void NNRTI_CPU(nbits_int8_panel)(const NNRTI_CPU(nbits_int8_job) * j, NNRTI_NBITS(gemm_tile) * t, int64_t first,
                                        int32_t rows)
{
    float *y[4];
    const float *z[4];
    t->count = j->gemm.y->dims[3] - t->channel;
    if (j->group == 1) {
        NNRTI_CPU(nbits_rows_at)(j, t, y, z, first, 1);
        NNRTI_CPU(nbits_row_any)(t, j->attr, j->x);
        t->y = NULL; /* the lists of rows end here */
        t->z = NULL;
        return;
    }
    for (int32_t row = 0; row < rows; row += NNRTI_NBITS_STRIP_ROWS)
        NNRTI_CPU(nbits_int8_rows)(j, t, first + row, rows - row < NNRTI_NBITS_STRIP_ROWS ? rows - row : NNRTI_NBITS_STRIP_ROWS);
}

/* Work item of `gemm_nbits_int8`: some rows by one part of the packed panels. */
static void NNRTI_CPU(nbits_int8_task)(void *arg, uint32_t i, uint32_t worker)
{
    const NNRTI_CPU(nbits_int8_job) *j = (const NNRTI_CPU(nbits_int8_job) *)arg;
    const nnrti_cpu_gemm *a = &j->attr->gemm;
    const uint32_t part = i % a->parts;
    const int64_t first = (int64_t)(i / a->parts) * a->rows, left = j->gemm.pixels - first;
    const int32_t C = j->gemm.y->dims[3], panels = j->gemm.packed->dims[0];
    const int32_t from = (int32_t)((int64_t)panels * part / a->parts);
    const int32_t to = (int32_t)((int64_t)panels * (part + 1) / a->parts);
    const int32_t begin = from * NNRTI_NBITS_WIDTH, end = to < panels ? to * NNRTI_NBITS_WIDTH : C;
    const int32_t rows = left > a->rows ? a->rows : (int32_t)left;
    NNRTI_NBITS(gemm_tile) t;
    (void)worker;
    memset(&t, 0, sizeof(t));
    t.k = j->gemm.x->dims[3];
    t.low = j->gemm.low;
    t.high = j->gemm.high;
    t.sumLow = j->gemm.sumLow;
    t.sumHigh = j->gemm.sumHigh;
    for (int32_t p = from; p < to; p++) {
        t.channel = p * NNRTI_NBITS_WIDTH;
        t.panel = (const float *)(const void *)((const uint8_t *)j->gemm.packed->data +
                                                (size_t)p * (size_t)j->gemm.packed->dims[1]);
        NNRTI_CPU(nbits_int8_panel)(j, &t, first, rows);
    }
    for (int32_t r = 0; r < rows && !j->gemm.bounds; r++) {
        float *const y = (float *)j->gemm.y->data + (ptrdiff_t)(first + r) * j->gemm.y->strides[2] + begin;
        NNRTI_NBITS(activation_row)(y, y, end - begin, a->conv.activation);
    }
}

/* y[m,c] = activation(bias[c] + sum over blocks of scale[c] * d[m] * the sum over k of q[m,k] * (weight[c,k] - zero point)),
   where a block of x is d * q; with a residual z: sum(that + z[m,c]), where sum is the second activation. */
static NNRT_ReturnCode NNRTI_CPU(gemm_nbits_int8)(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRTI_CPU(nbits_int8_job) j;
    int32_t weights[2];
    j.attr = (const nnrti_cpu_nbits *)attr;
    NNRTI_NBITS(gemm_job_init)(&j.attr->gemm, args, call, &j.gemm);
    j.gemm.pixels = j.gemm.y->dims[2];
    j.group = j.gemm.pixels > 1 ? 4 : 1;
    weights[0] = j.gemm.y->dims[3];
    weights[1] = j.gemm.x->dims[3];
    j.next = (ptrdiff_t)(nnrti_cpu_nbits_row_bytes(j.attr->block, weights[1]) / sizeof(int32_t)) * j.group;
    j.x = (int32_t *)call->scratch;
    nnrti_cpu_parallel_for(call, 8.0 * (double)j.gemm.pixels * weights[1],
                           (uint32_t)nnrti_cpu_div_up(j.gemm.pixels, j.group), NNRTI_CPU(nbits_round_task), &j);
    nnrti_cpu_parallel_for(call, nnrti_cpu_gemm_work(&j.attr->gemm, j.gemm.pixels, weights),
                           (uint32_t)nnrti_cpu_div_up(j.gemm.pixels, j.attr->gemm.rows) * j.attr->gemm.parts,
                           NNRTI_CPU(nbits_int8_task), &j);
    return NNRT_SUCCESS;
}

#endif /* NNRTI_CPU_DOT != 4 */

#endif /* NNRTI_CPU_DOT == 3 */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>kernel_table */

#if NNRTI_CPU_DOT != 4
/* The kernels of this ISA. ISAs that multiply bytes have dot-product kernels of their own, fp16 uses the kernels of
   dotprod; fp16 and i8mm have float16 arithmetic; all other kernels come from the ISA that they extend. */
#define NNRTI_CPU_OF(kernel, isa) NNRTI_CPU_JOIN_2(nnrti_cpu_##kernel##_, isa)
#define NNRTI_CPU_ROW_OF(kernel, isa) {NNRTI_CPU_OF(kernel, isa), "nnrt_cpu_" #kernel "_" NNRTI_CPU_TEXT_2(isa)},
#if !NNRTI_CPU_DOT
#define NNRTI_CPU_BASE NNRTI_CPU_ISA
#endif
#if NNRTI_CPU_DOT >= 2
#define NNRTI_CPU_BASE_DOT dotprod
#define NNRTI_CPU_ROW_F16(kernel) NNRTI_CPU_ROW_OF(kernel, fp16)
#else
#define NNRTI_CPU_BASE_DOT NNRTI_CPU_ISA
#define NNRTI_CPU_ROW_F16(kernel) {NULL, NULL},
#endif
#if NNRTI_CPU_DOT == 3
#define NNRTI_CPU_BASE_GEMM dotprod
#define NNRTI_Q8_LANES 4
#define NNRTI_Q8_PANEL_VECTORS 4
#define NNRTI_Q8_GROUP 4
#define NNRTI_Q8_BLOCK 16
#define NNRTI_Q8_MIXED 0
typedef int8_t nnrti_q8_w;
#else
#define NNRTI_CPU_BASE_GEMM NNRTI_CPU_ISA
#endif
/* Of `conv_q16`, which is one of the ISA without dot products of bytes. */
#define NNRTI_Q16_GROUP (NNRTI_CPU_LEVEL >= 3 || NNRTI_CPU_WASM ? 2 : 1)
#define NNRTI_Q16_BYTES (NNRTI_CPU_LEVEL >= 2 || NNRTI_CPU_WASM ? 2 : 4)
#define NNRTI_CPU_ROW_SELECT(kernel) {nnrti_cpu_##kernel, "nnrt_cpu_" #kernel "_" NNRTI_CPU_TEXT_2(NNRTI_CPU_ISA)},
#define NNRTI_CPU_ROW(kernel) NNRTI_CPU_ROW_OF(kernel, NNRTI_CPU_BASE)
#define NNRTI_CPU_ROW_ROWS(kernel) NNRTI_CPU_ROW_OF(kernel, NNRTI_CPU_BASE_DOT)
#define NNRTI_CPU_ROW_GEMM(kernel) NNRTI_CPU_ROW_OF(kernel, NNRTI_CPU_BASE_GEMM)
#if NNRTI_CPU_LEVEL == 3 /* in the next pass */
static NNRT_ReturnCode nnrti_cpu_gemm_q8_avx2pairs(const void *attr, nnrt_view *args, nnrt_call *call);
static NNRT_ReturnCode nnrti_cpu_multi_gemm_q8_avx2pairs(const void *attr, nnrt_view *args, nnrt_call *call);
#define NNRTI_CPU_PAIRS                                                                                                \
    {NNRTI_CPU_ROW_OF(gemm_q8, avx2pairs) NNRTI_CPU_ROW_OF(multi_gemm_q8, avx2pairs){8, 16, 4, 1, 0, 0, 0, 0, true}}
#else
#define NNRTI_CPU_PAIRS {{NULL, NULL}, {NULL, NULL}, {0, 0, 0, 0, 0, 0, 0, 0, false}}
#endif
static const nnrti_cpu_isa NNRTI_CPU(isa) = {
    NNRTI_CPU_TEXT_2(NNRTI_CPU_ISA),
    NNRTI_LANES,
    NNRTI_PANEL_VECTORS *NNRTI_LANES,
    NNRTI_CPU_OF(winograd_weights, NNRTI_CPU_BASE),
    NNRTI_CPU_SMALL ? NNRTI_CPU_OF(narrow_weights, NNRTI_CPU_BASE) : NULL,
    NNRTI_CPU_OF(lookup, NNRTI_CPU_BASE),
    NNRTI_CPU_KERNELS(NNRTI_CPU_ROW) NNRTI_CPU_KERNELS_SELECT(NNRTI_CPU_ROW_SELECT) NNRTI_CPU_KERNELS_CAST(NNRTI_CPU_ROW) NNRTI_CPU_KERNELS_F16(NNRTI_CPU_ROW_F16)
        NNRTI_CPU_KERNELS_Q8(NNRTI_CPU_ROW) NNRTI_CPU_KERNELS_Q8_GEMM(NNRTI_CPU_ROW_GEMM)
            NNRTI_CPU_KERNELS_Q8_ROWS(NNRTI_CPU_ROW_ROWS){NNRTI_Q8_LANES, NNRTI_Q8_PANEL_VECTORS *NNRTI_Q8_LANES,
                                                          NNRTI_Q8_GROUP, sizeof(nnrti_q8_w), NNRTI_Q8_BLOCK,
                                                          NNRTI_Q8_MIXED, NNRTI_Q16_GROUP, NNRTI_Q16_BYTES, false},
    NNRTI_CPU_PAIRS};
#undef NNRTI_CPU_OF
#undef NNRTI_CPU_ROW_OF
#undef NNRTI_CPU_ROW
#undef NNRTI_CPU_ROW_SELECT
#undef NNRTI_CPU_ROW_ROWS
#undef NNRTI_CPU_ROW_GEMM
#undef NNRTI_CPU_BASE
#undef NNRTI_CPU_BASE_DOT
#undef NNRTI_CPU_BASE_GEMM
#undef NNRTI_CPU_ROW_F16
#undef NNRTI_CPU_PAIRS
#else
#undef NNRTI_CPU_BASE
#endif

#if defined(__clang__)
#if NNRTI_CPU_LEVEL >= 3 || (NNRTI_CPU_DOT && !NNRTI_CPU_WASM) || defined(NNRTI_CPU_SSE2)
#pragma clang attribute pop
#endif
#elif NNRTI_CPU_DOT || defined(__x86_64__) || defined(__i386__)
#pragma GCC pop_options
#endif
#undef NNRTI_CPU_SSE2
#undef NNRTI_CPU_avx512vnni
#undef NNRTI_CPU_avx512
#undef NNRTI_CPU_avx2
#undef NNRTI_CPU_avx2pairs
#undef NNRTI_CPU_i8mm
#undef NNRTI_CPU_fp16
#undef NNRTI_CPU_dotprod
#undef NNRTI_CPU_neon
#undef NNRTI_CPU_vector
#undef NNRTI_CPU_relaxed
#undef NNRTI_CPU_simd128
#undef NNRTI_CPU_WASM
#undef NNRTI_CPU_LEVEL
#undef NNRTI_CPU_SMALL
#undef NNRTI_CPU_DOT
#undef NNRTI_CPU_MICROKERNEL
#undef NNRTI_CPU_HALF_PANEL_BY
#undef NNRTI_CPU_HALF_OF
#undef NNRTI_CPU_GEMV_MICROKERNEL
#undef NNRTI_CPU_GEMV_OF
#undef NNRTI_CPU_NBITS_MICROKERNEL
#undef NNRTI_NBITS_VECTORS
#undef NNRTI_NBITS_WIDTH
#undef NNRTI_NBITS_PREFETCH
#undef NNRTI_NBITS
#undef NNRTI_NBITS_TALL
#undef NNRTI_NBITS_DOT
#undef NNRTI_NBITS_PAIRS
#undef NNRTI_NBITS_NOW
#undef NNRTI_NBITS_SIGNED
#undef NNRTI_NBITS_STRIP_ROWS
#undef NNRTI_NBITS_PASSES
#undef NNRTI_NBITS_LESS
#undef NNRTI_CPU_NBITS_SEVERAL
#undef NNRTI_CPU_NBITS_WIDTHS
#undef NNRTI_CPU_NBITS_ROW
#undef NNRTI_CPU_STRIP_PIXELS
#undef NNRTI_CPU_STRIP_WHOLE
#undef NNRTI_CPU_FEW_ROWS
#undef NNRTI_CPU_STRIP
#undef NNRTI_CPU_IF_NAN
#undef NNRTI_CPU_IF_LESS
#undef NNRTI_CPU_SQRT
#undef NNRTI_CPU_UNARY
#undef NNRTI_CPU_UNARY_CASE
#undef NNRTI_CPU_DOUBLE_CHUNK
#undef NNRTI_CPU_REDUCE_SHORT
#undef NNRTI_CPU_DIVIDE_CHUNK
#undef NNRTI_CPU_CLASSIFIED
#undef NNRTI_CPU_EVEN
#undef NNRTI_IS_WHOLE
#undef NNRTI_LANES
#undef NNRTI_PANEL_VECTORS
#undef NNRTI_TILE_ROWS
#undef NNRTI_TILE_ROWS_ONE
#undef NNRTI_RECURRENT_ROWS
#undef NNRTI_CPU_GATES
#undef NNRTI_CPU_GATES_OF
#undef NNRTI_CPU_GATES_ROW
#undef NNRTI_CPU_GATES_ROWS
#undef NNRTI_CPU_GATES_TYPE
#undef nnrti_v
#undef nnrti_v_bits
#undef nnrti_v_load
#undef nnrti_v_store
#undef nnrti_v_all
#undef nnrti_v_fma
#undef nnrti_v_min
#undef nnrti_v_max
#undef nnrti_v_max_nan
#undef NNRTI_CPU_ACTIVATE
#undef nnrti_v_sum
#undef nnrti_v_sum_4
#undef nnrti_v_largest
#undef nnrti_v_load_bytes
#undef nnrti_v_store_bytes
#undef nnrti_v_any
#undef nnrti_v_exp
#undef nnrti_v_sigmoid
#undef nnrti_v_tanh
#undef nnrti_v_tanh_parts
#undef nnrti_v_erf
#undef nnrti_v_if_less
#undef nnrti_v_sqrt
#undef nnrti_v_to_integer
#undef nnrti_v_expm1
#undef nnrti_v_log
#undef nnrti_v_log1p
#undef nnrti_v_load_part
#undef nnrti_v_weights
#undef nnrti_v_widen
#undef nnrti_v_narrow
#undef nnrti_v_round
#undef nnrti_v_store_part
#undef nnrti_d
#undef nnrti_h
#undef NNRTI_CPU_GEMM_Q8_PANEL
#undef NNRTI_CPU_BATCH_OFFSET
#undef NNRTI_Q8_THREE
#undef NNRTI_CPU_EPILOGUE_Q8
#undef NNRTI_CPU_EXACT_Q8
#undef NNRTI_Q8_LANES
#undef NNRTI_Q8_PANEL_VECTORS
#undef NNRTI_Q8_GROUP
#undef NNRTI_Q8_WORK
#undef NNRTI_Q8_BLOCK
#undef NNRTI_Q8_MIXED
#undef NNRTI_Q16_GROUP
#undef NNRTI_Q16_BYTES
#undef NNRTI_Q8_SIGN
#undef NNRTI_Q8_STEP
#undef NNRTI_Q8_LESS
#undef NNRTI_Q8_BLOCK_VECTORS
#undef NNRTI_Q8_FLOAT
#undef NNRTI_Q8_ALL_EXACT
#undef NNRTI_Q8_EXACT_BITS
#undef nnrti_exact_mask
#undef nnrti_exact_mask_all
#undef nnrti_i_from_float
#undef nnrti_i_requantize_float
#undef nnrti_i_requantize_int
#undef NNRTI_Q8_CHUNK
#undef NNRTI_Q8_PREFETCH
#undef nnrti_i
#undef nnrti_q8_x
#undef nnrti_q8_w
#undef nnrti_i_load
#undef nnrti_i_store
#undef nnrti_i_dot
#undef nnrti_i_rescale
#undef nnrti_i_add
#undef nnrti_i_shift_20
