/*
nnrt_frontend.h - features of sound and sensor signals for a network: spectra, mel spectra, MFCC, on microcontrollers.

PURPOSE
    A stream of int16 samples becomes rows of features: window, FFT, power or magnitude spectrum, mel filterbank,
    logarithm, DCT-II; the last three are optional. A row is int8 or int16 with scale and zero point, so that it is the
    quantized input of a network, or float32. There are two arithmetics: int16, in integers only, and float32. Either
    gives the same bits on every platform: integers by the definitions below, floats without contraction, in the order
    that the code states, with the functions of nnrt_ops.h.
    The header needs nnrt_ops.h beside it, no heap, and no function of the C library but memcpy and memset in a run.

    #define NNRT_IMPLEMENTATION              // in one C or C++ file of the program
    #include "core/nnrt_frontend.h"

    nnrt_frontend_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.rate = 16000, desc.window = 640, desc.hop = 320, desc.fft = 1024;    // 40 ms every 20 ms
    desc.mels = 40, desc.lower = 20, desc.upper = 4000, desc.dct = 10;        // 10 MFCC
    desc.output = NNRT_DATA_TYPE_INT8, desc.scale = 0.5f, desc.zeroPoint = 83;
    nnrt_frontend_init(&frontend, &desc, tables, sizeof(tables), &error);     // sizes: nnrt_frontend_size
    nnrt_frontend_start(&stream, &frontend, memory, sizeof(memory));
    while (count > 0) {
        const size_t used = nnrt_frontend_push(&stream, samples, count, row, &ready);
        samples += used, count -= used;
        if (ready)
            ...                              // row has 10 int8 values
    }

    `nnrt emit-frontend` writes an nnrt_frontend and its tables as constant C: firmware then computes no table, links no
    floating-point arithmetic, and calls nnrt_frontend_start and nnrt_frontend_push only.

SECTIONS (search for the tag)
    >>frontend_desc    the description
    >>frontend_api     prepared front end, streams, functions
    -- implementation --
    >>frontend_math    functions of double for tables
    >>frontend_tables  checks of the description, tables
    >>frontend_int16   int16 arithmetic
    >>frontend_float32 float32 arithmetic
    >>frontend_stream  streams

FORMULAS (W = window, N = fft, fs = fullScale, B = number of filters)
    x[n]    sample / 32768 * fs, minus the mean of the window with removeMean
    w[n]    HANN 0.5 - 0.5 cos(2 pi n / D), HAMMING 0.54 - 0.46 cos(2 pi n / D), RECTANGULAR 1; D = W, symmetric: W - 1
    X[k]    sum over n < W of x[n] w[n] e^(-2 pi i k n / N), k = 0 .. N / 2, rounded down: samples W .. N - 1 are 0
    P[k]    |X[k]|^2 for POWER, |X[k]| for MAGNITUDE
    E[m]    mels = 0: P[k] of the bins with lower <= k rate / N <= upper. Otherwise sum over k of P[k] times a triangle
            that is 0, 1, 0 at the edges c[m], c[m + 1], c[m + 2] and linear in between, in Hz, or in mel with
            melTriangles. The B + 2 edges have equal distances in mel from lower to upper. HTK: mel(f) =
            ln(1 + f / 700), up to a factor; SLANEY: 3 f / 200 below 1000 Hz, 15 + 27 ln(f / 1000) / ln(6.4) above. With
            melArea, E[m] is multiplied by 2 / (f[m + 2] - f[m]), f = the edges in Hz
    L[m]    log(max(E[m] + offset, floor)); log: LN, LOG10, DB = 10 log10 (20 log10 for MAGNITUDE); NONE: E[m] + offset
    y[j]    dct = 0: L[j]. Otherwise the sum over m of L[m] cos(pi j (m + 1/2) / B), times sqrt(2 / B), for j = 0 times
            sqrt(1 / B) unless dctEqual
    row     y for float32; otherwise zeroPoint + round(y / scale), saturated

INT16 ARITHMETIC (>> rounds down; round(x >> s) = (x + 2^(s-1)) >> s, and x for s = 0)
    Tables: w[n] as round(32767 w), cosines c[k] = round(32767 cos(2 pi k / C)), C the least multiple of N and 4, filter
    weights t[k] = round(32768 t), cosines of the DCT as round(32767 cos); round: halves away from zero, of values in
    double.
    1. p[n] = (sample - mean) * w[n]; mean = the sum of the samples / W, rounded toward zero. v[n] = round(p[n] >> s)
       with the least s >= 0 for which peak = round(max |p| >> s) <= 32767.
    2. FFT of M complex numbers, decimation in time: v[2n] + i v[2n+1] and M = N / 2, or v[n] and M = N for odd N. With
       M = 2^a b and odd b: first a radix-2 stage if a is odd, then radix-4 stages, then for each prime factor r of b, in
       rising order, a radix-r stage. Data are int16 with one exponent. A stage multiplies by w = e^(-2 pi i k / C), which
       is c[k] + i c[k + C/4], as Q13: (product >> 2) for each component, and adds the operands without twiddle as
       a << 13. The result is round(sum >> (13 + s)) with the least s >= -12 for which
       peak * g <= 32767 * 4096 * 2^s; peak is that of step 1 before the first stage, then the largest |component|;
       g = 8192 (radix 2), 16384 (radix 4 as the first stage), 21480 (other radix 4), 4096 + 5794 (r - 1) (radix r). As
       g / 4096 bounds the growth of a component (2, 4, and 1 + (r - 1) sqrt(2): 5.2427 for 4), nothing can overflow.
       The first butterfly of each radix-4 group has the twiddles 1, without multiplication. A radix-r butterfly makes
       of b[0 .. r-1], element j of r sub-transforms of length q, the elements m = j, j + q, .. of one of length r q:
       b[0] + the sum over k = 1 .. r-1 of b[k] e^(-2 pi i k m / (r q)).
    3. Even N: X[k] from E = Z[k] + conj Z[M-k], O = Z[k] - conj Z[M-k]: 2 X[k] = E - i w^k O,
       2 X[M-k] = conj(E + i w^k O), in Q13 with each of the four products >> 2. X = round(sum >> (14 + s)) with g = 8196
       (|X| <= 2 peak). Odd N: X = Z.
       P = re^2 + im^2; MAGNITUDE: floor(sqrt(P 4^t)) 2^(8 - t), t = half of the leading zeros of P as 32 bits, rounded
       down.
    4. E[m] = sum of t P over the rising side + sum of (32768 - t) P over the falling side, exact in 64 bits.
    5. E becomes a mantissa of 32 bits (rounded down, as in each step that follows) and an exponent, is multiplied by
       the factor of melArea, and offset is added in the same format.
    6. L[m] = log2 in Q16: the exponent, and linear interpolation in a table of log2(1 + i / 64), i = 0 .. 64. The error
       is below 2^-14, 0.0002 dB.
    7. y by nnrt_rescale of L, or of the exact sum over m of L times cosine.
    Steps 1 to 3 dominate the error against exact arithmetic: a noise floor below the strongest bin of the frame
    (docs/frontend.md has figures).

DOES NOT
    Center or pad frames, pre-emphasize, lifter, normalize over time. Signals have one channel: several channels are
    several streams over one nnrt_frontend.

MIT license, see LICENSE.
*/
#ifndef NNRT_FRONTEND_H
#define NNRT_FRONTEND_H

#include "../nnrt_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_desc */

enum { NNRT_FRONTEND_HANN, NNRT_FRONTEND_HAMMING, NNRT_FRONTEND_RECTANGULAR };
enum { NNRT_FRONTEND_POWER, NNRT_FRONTEND_MAGNITUDE };
enum { NNRT_FRONTEND_HTK, NNRT_FRONTEND_SLANEY };
enum { NNRT_FRONTEND_LN, NNRT_FRONTEND_LOG10, NNRT_FRONTEND_DB, NNRT_FRONTEND_NONE };

#define NNRT_FRONTEND_MAX_FFT 16384

/* All zero, except for rate, window, hop, fft, output and scale, is a power spectrum in ln, in int16 arithmetic. */
typedef struct nnrt_frontend_desc {
    NNRT_DataType arithmetic; /* NNRT_DATA_TYPE_INT16, which is also 0, or NNRT_DATA_TYPE_FLOAT32 */
    NNRT_DataType output;     /* INT8 or INT16; with float32 arithmetic also FLOAT32 */
    int32_t rate;             /* samples per second, 1 to 2^24 */
    int32_t window;           /* samples per frame, 1 to fft */
    int32_t hop;              /* samples from one frame to the next, 1 to 2^24; may exceed window */
    int32_t fft;              /* 8 to NNRT_FRONTEND_MAX_FFT; quick for products of small primes, quickest for powers of 2.
                                 A prime factor r takes r complex products for each of N / 2 values (odd: N) */
    int32_t windowKind;       /* NNRT_FRONTEND_HANN, ... */
    bool symmetric;           /* the window has equal ends; false: it is periodic, as for spectra */
    bool removeMean;          /* subtract the mean of each frame: for accelerometers, or microphones with an offset */
    float fullScale;          /* value of a sample of 32768, 2^-40 to 2^40; 0 = 1 */
    int32_t spectrum;         /* NNRT_FRONTEND_POWER, ... */
    int32_t mels;             /* number of mel filters, up to fft / 2; 0 = no filters */
    int32_t melScale;         /* NNRT_FRONTEND_HTK, ... */
    bool melTriangles;        /* triangles are linear in mel (TensorFlow, Kaldi), not in Hz (librosa, torchaudio) */
    bool melArea;             /* triangles of equal area (librosa: norm='slaney'), not of height 1 */
    float lower, upper;       /* Hz, 0 <= lower, lower + 1e-6 <= upper <= rate / 2; upper = 0: rate / 2 */
    int32_t log;              /* NNRT_FRONTEND_LN, ... */
    float offset;             /* added before the logarithm, 0 to 2^40 */
    float floor;              /* lower bound of the argument of the logarithm, 2^-100 to 2^40; 0 = 1e-10 */
    int32_t dct;              /* number of DCT coefficients, up to the number of filters or bins; 0 = no DCT */
    bool dctEqual;            /* coefficient 0 has the factor of the others (HTK, TensorFlow); false: orthonormal */
    float scale;              /* of INT8 and INT16, 2^-40 to 2^40: value = scale * (stored - zeroPoint); else 0 */
    int32_t zeroPoint;        /* in the range of output; 0 for FLOAT32 */
} nnrt_frontend_desc;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_api */

struct nnrt_frontend;

/* Computes one row from window samples. work: the memory before the samples in the memory of a stream. */
typedef void (*nnrt_frontend_kernel)(const struct nnrt_frontend *frontend, const int16_t *samples, void *work,
                                     void *row);
/* The stages of odd radix of an FFT, after those of radix 2 and 4. peak: the largest |component|, and the result the new
   one; adds to *exponent; float32 has neither. If fft is odd: also P[k]. */
typedef int32_t (*nnrt_frontend_stages)(const struct nnrt_frontend *frontend, void *work, int32_t peak,
                                        int32_t *exponent);

/* Numbers of the int16 arithmetic. {m, e}: m * 2^e, m has 32 bits with the top bit set, or is 0. */
typedef struct nnrt_frontend_int16 {
    uint32_t offset, unit;           /* mantissas: offset / unit^2, and unit / scale for NONE */
    int32_t offsetExponent, unitExponent, gainExponent;
    int32_t floor, bias;             /* log2 in Q16: of floor / unit, of unit */
    int32_t factors[4];              /* of nnrt_rescale: for coefficient 0, then for the others */
} nnrt_frontend_int16;

/* Numbers of the float32 arithmetic. */
typedef struct nnrt_frontend_float32 {
    float unit, offset, floor, log; /* fullScale / 32768; the factor of ln */
    float factors[2];               /* of the DCT: for coefficient 0, for the others */
    float inverse;                  /* 1 / scale */
} nnrt_frontend_float32;

/* A prepared front end: constant, and shared by any number of streams and threads. Members are as in the description
   unless they have a comment. Its tables are int16_t, or float with float32 arithmetic. */
typedef struct nnrt_frontend {
    nnrt_frontend_kernel kernel;
    nnrt_frontend_stages odd; /* NULL: fft is a power of two, and firmware links no other stages */
    NNRT_DataType output;
    int32_t window, hop, fft;
    int32_t circle;          /* the least multiple of fft and 4 */
    int32_t mirror;          /* w[n] = windowTable[min(n, mirror - n)] */
    int32_t first, bins;     /* the spectrum is used from bin `first`, `bins` bins */
    int32_t values;          /* filters, or bins without filters */
    int32_t features;        /* values per row */
    int32_t work;            /* bytes of memory that the kernel needs */
    int32_t dct, log, zeroPoint;
    bool removeMean, magnitude;
    nnrt_frontend_int16 fixed;
    nnrt_frontend_float32 real;
    const void *windowTable; /* NULL: rectangular */
    const void *cosines;     /* cos(2 pi k / circle), k < circle */
    const uint16_t *edges;   /* bins before each of the values + 2 edges, from `first`; NULL: no filters */
    const void *weights;     /* t of each bin: the rising side of its filter; 1 - t: the falling side of the one before;
                                uint16_t */
    const void *gains;       /* factor of each filter, uint32_t * 2^gainExponent; NULL: 1 */
    const void *dctCosines;  /* cos(2 pi k / (4 values)), k < 4 values */
} nnrt_frontend;

/* A signal on its way: opaque. */
typedef struct nnrt_frontend_stream {
    const nnrt_frontend *frontend;
    void *work;
    int16_t *samples;     /* the last `filled` samples of the next frame */
    int32_t filled, skip; /* skip: samples to ignore before the next frame */
} nnrt_frontend_stream;

/* Checks a description and computes sizes. *tables and *stream = bytes of memory for nnrt_frontend_init and
   nnrt_frontend_start. Either may be NULL. INVALID_PARAMETER, or INVALID_DATATYPE for arithmetic and output: the error
   names the member. */
NNRT_API NNRT_ReturnCode nnrt_frontend_size(const nnrt_frontend_desc *desc, size_t *tables, size_t *stream,
                                            nnrt_error *error);
/* Computes the tables of a front end in memory, which is aligned to 4 bytes and stays in use as long as the front end.
   OUT_OF_MEMORY: fewer bytes than nnrt_frontend_size reports. INVALID_BUFFER: the alignment. */
NNRT_API NNRT_ReturnCode nnrt_frontend_init(nnrt_frontend *frontend, const nnrt_frontend_desc *desc, void *memory,
                                            size_t bytes, nnrt_error *error);
/* The bytes of memory for nnrt_frontend_start. */
NNRT_API size_t nnrt_frontend_stream_bytes(const nnrt_frontend *frontend);
/* Begins a stream, or begins it again, in memory aligned to 4 bytes. Codes as for nnrt_frontend_init. */
NNRT_API NNRT_ReturnCode nnrt_frontend_start(nnrt_frontend_stream *stream, const nnrt_frontend *frontend, void *memory,
                                             size_t bytes);
/* Reads samples until a row is complete, or all are read; returns the number of samples that it read. *ready: row has
   new features. The first row needs window samples, each further row hop samples more. */
NNRT_API size_t nnrt_frontend_push(nnrt_frontend_stream *stream, const int16_t *samples, size_t count, void *row,
                                   bool *ready);

/* Computes one row from window samples, in int16 or float32 arithmetic: kernels (nnrt_frontend_kernel). */
NNRT_API void nnrt_frontend_row_i16(const nnrt_frontend *frontend, const int16_t *samples, void *work, void *row);
NNRT_API void nnrt_frontend_row_f32(const nnrt_frontend *frontend, const int16_t *samples, void *work, void *row);
/* Their stages of odd radix (nnrt_frontend_stages). */
NNRT_API int32_t nnrt_frontend_odd_i16(const nnrt_frontend *frontend, void *work, int32_t peak, int32_t *exponent);
NNRT_API int32_t nnrt_frontend_odd_f32(const nnrt_frontend *frontend, void *work, int32_t peak, int32_t *exponent);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_FRONTEND_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_FRONTEND_IMPLEMENTED)
#define NNRT_FRONTEND_IMPLEMENTED

#include "../nnrt_ops.h" /* its implementation, if only its declarations were included so far */

#include <string.h>

/* No multiply-add is contracted, see nnrt_ops.h. */
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

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_math Functions of double, for tables only: errors of a few ulp, so that a rounded table is that of exact
   arithmetic except where a value lies within 1e-14 of a tie. */

#define NNRTI_FRONTEND_PI 3.14159265358979323846
#define NNRTI_FRONTEND_LN2 0.69314718055994530942

/* ln x, x > 0: x = 2^k m, sqrt(1/2) <= m < sqrt(2), ln m = 2 atanh((m - 1) / (m + 1)). */
static double nnrti_frontend_ln(double x)
{
    double k = 0, s, sum = 0;
    for (; x >= 1.41421356237309504880; k++)
        x /= 2;
    for (; x < 0.70710678118654752440; k--)
        x *= 2;
    s = (x - 1) / (x + 1);
    for (int32_t i = 25; i > 0; i -= 2)
        sum = sum * (s * s) + 1.0 / i;
    return 2 * s * sum + k * NNRTI_FRONTEND_LN2;
}

/* e^x, 0 <= x < 50: e^x = (e^(x / 2^k))^(2^k) would lose digits; x = k ln 2 + r instead, and a Taylor sum for e^r. */
static double nnrti_frontend_exp(double x)
{
    double scale = 1, sum = 1;
    for (; x > NNRTI_FRONTEND_LN2; x -= NNRTI_FRONTEND_LN2)
        scale *= 2;
    for (int32_t i = 20; i > 0; i--)
        sum = 1 + sum * x / i;
    return scale * sum;
}

/* cos(2 pi k / n), k >= 0, n > 0, 8 n within int64: the fraction k / n is reduced to an octant without rounding. */
static double nnrti_frontend_cos(int64_t k, int64_t n)
{
    double sign = 1, x, sum = 1;
    bool sine;
    k %= n;
    if (2 * k > n)
        k = n - k;
    if (4 * k > n) { /* cos(pi - a) = -cos a */
        k = n - 2 * k;
        n = 2 * n;
        sign = -1;
    }
    sine = 8 * k > n;
    if (sine) { /* cos(pi / 2 - a) = sin a */
        k = n - 4 * k;
        n = 4 * n;
    }
    x = 2 * NNRTI_FRONTEND_PI * (double)k / (double)n;
    for (int32_t i = sine ? 17 : 16; i > 1; i -= 2)
        sum = 1 - sum * (x * x) / (double)(i * (i - 1));
    return sign * sum * (sine ? x : 1);
}

/* sqrt x, 2^-100 < x < 2^100. */
static double nnrti_frontend_sqrt(double x)
{
    double y = 1;
    for (; y * y < x; y *= 2) {
    }
    for (; y * y > x; y /= 2) {
    }
    for (int32_t i = 0; i < 7; i++)
        y = (y + x / y) / 2;
    return y;
}

/* Rounds to an integer, halves away from zero. */
static int32_t nnrti_frontend_round(double x)
{
    return x < 0 ? -(int32_t)(0.5 - x) : (int32_t)(x + 0.5);
}

/* x = m * 2^e with `bits` bits of mantissa, rounded down; x = 0: m = 0. */
static uint32_t nnrti_frontend_split(double x, int32_t bits, int32_t *e)
{
    const double top = bits == 32 ? 4294967296.0 : 2147483648.0;
    *e = 0;
    if (!(x > 0))
        return 0;
    for (; x >= top; ++*e)
        x /= 2;
    for (; x < top / 2; --*e)
        x *= 2;
    return (uint32_t)x;
}

/* A factor of nnrt_rescale. */
static void nnrti_frontend_factor(double x, int32_t factor[2])
{
    factor[0] = (int32_t)nnrti_frontend_split(x, 31, &factor[1]);
    factor[1] += 31;
}

static double nnrti_frontend_mel(const nnrt_frontend_desc *d, double f)
{
    if (d->melScale == NNRT_FRONTEND_HTK)
        return nnrti_frontend_ln(1 + f / 700);
    return f < 1000 ? 3 * f / 200 : 15 + 27 * nnrti_frontend_ln(f / 1000) / nnrti_frontend_ln(6.4);
}

static double nnrti_frontend_hz(const nnrt_frontend_desc *d, double mel)
{
    if (d->melScale == NNRT_FRONTEND_HTK)
        return 700 * (nnrti_frontend_exp(mel) - 1);
    return mel < 15 ? 200 * mel / 3 : 1000 * nnrti_frontend_exp((mel - 15) * nnrti_frontend_ln(6.4) / 27);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_tables One walk counts the bytes and writes the tables. */

typedef struct nnrti_frontend_room {
    uint8_t *memory; /* NULL: only count */
    size_t used;
} nnrti_frontend_room;

static void *nnrti_frontend_take(nnrti_frontend_room *room, size_t bytes)
{
    void *at = room->memory != NULL ? room->memory + room->used : NULL;
    room->used += (bytes + 3) / 4 * 4;
    return at;
}

typedef struct nnrti_frontend_bound {
    const char *name;
    double value, least, most;
} nnrti_frontend_bound;

#define NNRTI_FRONTEND_BIG 1099511627776.0 /* 2^40 */

/* Ranges of single members; 0 is also allowed where `least` is above 0 and it means a default. */
static NNRT_ReturnCode nnrti_frontend_ranges(const nnrt_frontend_desc *d, nnrt_error *error)
{
    const double half = (double)d->rate / 2, small = 1 / NNRTI_FRONTEND_BIG;
    const bool fraction = d->output == NNRT_DATA_TYPE_FLOAT32, byte = d->output == NNRT_DATA_TYPE_INT8;
    const nnrti_frontend_bound rows[] = {
        {"rate", (double)d->rate, 1, 1 << 24},
        {"fft", (double)d->fft, 8, NNRT_FRONTEND_MAX_FFT},
        {"window", (double)d->window, 1, (double)d->fft},
        {"hop", (double)d->hop, 1, 1 << 24},
        {"windowKind", (double)d->windowKind, 0, NNRT_FRONTEND_RECTANGULAR},
        {"fullScale", (double)(d->fullScale != 0 ? d->fullScale : 1), small, NNRTI_FRONTEND_BIG},
        {"spectrum", (double)d->spectrum, 0, NNRT_FRONTEND_MAGNITUDE},
        {"mels", (double)d->mels, 0, (double)d->fft / 2},
        {"melScale", (double)d->melScale, 0, NNRT_FRONTEND_SLANEY},
        {"lower", (double)d->lower, 0, half},
        {"upper", (double)d->upper, d->upper == 0 ? 0 : (double)d->lower, half},
        {"log", (double)d->log, 0, NNRT_FRONTEND_NONE},
        {"offset", (double)d->offset, 0, NNRTI_FRONTEND_BIG},
        {"floor", (double)(d->floor != 0 ? d->floor : 1), 7.888609052210118e-31, NNRTI_FRONTEND_BIG},
        {"dct", (double)d->dct, 0, d->log == NNRT_FRONTEND_NONE ? 0 : (double)d->fft / 2 + 1},
        {"scale", (double)d->scale, fraction ? 0 : small, fraction ? 0 : NNRTI_FRONTEND_BIG},
        {"zeroPoint", (double)d->zeroPoint, fraction ? 0.0 : byte ? -128.0 : -32768.0,
         fraction ? 0.0 : byte ? 127.0 : 32767.0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!(rows[i].value >= rows[i].least && rows[i].value <= rows[i].most))
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%s is %f, and must be %f to %f", rows[i].name,
                                  rows[i].value, rows[i].least, rows[i].most);
    if ((d->upper != 0 ? (double)d->upper : half) - (double)d->lower < 1e-6)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "upper is %f, and must be above lower, %f, by 1e-6",
                              (double)d->upper, (double)d->lower);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_frontend_types(const nnrt_frontend_desc *d, nnrt_error *error)
{
    const bool real = d->arithmetic == NNRT_DATA_TYPE_FLOAT32;
    if (d->arithmetic != 0 && d->arithmetic != NNRT_DATA_TYPE_INT16 && !real)
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "arithmetic is %t, and must be int16 or float32",
                              d->arithmetic);
    if (d->output != NNRT_DATA_TYPE_INT8 && d->output != NNRT_DATA_TYPE_INT16 &&
        !(real && d->output == NNRT_DATA_TYPE_FLOAT32))
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "output is %t, and must be int8, int16%s", d->output,
                              real ? " or float32" : "");
    return NNRT_SUCCESS;
}

/* Stores table[i]: round(unit * value), or the value as float. */
static void nnrti_frontend_store(void *table, bool real, int32_t i, double value, int32_t unit)
{
    if (real)
        ((float *)table)[i] = (float)value;
    else
        ((int16_t *)table)[i] = (int16_t)nnrti_frontend_round(value * unit);
}

/* The table cos(2 pi k / n), k < n. */
static const void *nnrti_frontend_cosines(nnrti_frontend_room *room, bool real, int32_t n)
{
    void *table = nnrti_frontend_take(room, (size_t)n * (real ? sizeof(float) : sizeof(int16_t)));
    for (int32_t k = 0; k < n && table != NULL; k++)
        nnrti_frontend_store(table, real, k, nnrti_frontend_cos(k, n), 32767);
    return table;
}

/* The first half of the window; float: times fullScale / 32768. */
static const void *nnrti_frontend_window(nnrti_frontend_room *room, const nnrt_frontend_desc *d,
                                         const nnrt_frontend *f, bool real)
{
    const double a = d->windowKind == NNRT_FRONTEND_HANN ? 0.5 : 0.54;
    const int32_t n = f->mirror / 2 + 1;
    const int32_t period = f->mirror > 0 ? f->mirror : 1;
    void *table;
    if (d->windowKind == NNRT_FRONTEND_RECTANGULAR)
        return NULL;
    table = nnrti_frontend_take(room, (size_t)n * (real ? sizeof(float) : sizeof(int16_t)));
    for (int32_t i = 0; i < n && table != NULL; i++) {
        const double w = f->mirror > 0 ? a - (1 - a) * nnrti_frontend_cos(i, period) : 1;
        nnrti_frontend_store(table, real, i, real ? w * (double)f->real.unit : w, 32767);
    }
    return table;
}

/* Coordinate of a frequency in which triangles are linear. */
static double nnrti_frontend_coordinate(const nnrt_frontend_desc *d, double hz)
{
    return d->melTriangles ? nnrti_frontend_mel(d, hz) : hz;
}

/* Edge i of the filters, in Hz, or as a coordinate. */
static double nnrti_frontend_edge(const nnrt_frontend_desc *d, double upper, int32_t i, bool hz)
{
    const double low = nnrti_frontend_mel(d, (double)d->lower), high = nnrti_frontend_mel(d, upper);
    const double mel = low + (high - low) * i / (d->mels + 1);
    if (hz || !d->melTriangles)
        return i == 0 ? (double)d->lower : i == d->mels + 1 ? upper : nnrti_frontend_hz(d, mel);
    return mel;
}

/* The factors of melArea. The lowest filter is the narrowest one and has the largest; its unit has 31 bits, so that no
   other exceeds 32. */
static void nnrti_frontend_gains(const nnrt_frontend_desc *d, nnrt_frontend *f, double upper, void *gains, bool real)
{
    double unit = 1;
    for (int32_t i = 0; i < d->mels; i++) {
        const double width = nnrti_frontend_edge(d, upper, i + 2, true) - nnrti_frontend_edge(d, upper, i, true);
        if (i == 0) {
            (void)nnrti_frontend_split(2 / width, 31, &f->fixed.gainExponent);
            for (int32_t e = f->fixed.gainExponent; e < 0; e++)
                unit *= 2;
            for (int32_t e = f->fixed.gainExponent; e > 0; e--)
                unit /= 2;
        }
        if (real)
            ((float *)gains)[i] = (float)(2 / width);
        else
            ((uint32_t *)gains)[i] = (uint32_t)(2 / width * unit);
    }
}

/* Tables of the filters: edges, weights, gains. */
static void nnrti_frontend_filters(nnrti_frontend_room *room, const nnrt_frontend_desc *d, nnrt_frontend *f,
                                   double upper, bool real)
{
    uint16_t *edges = (uint16_t *)nnrti_frontend_take(room, ((size_t)d->mels + 2) * sizeof(uint16_t));
    void *weights = nnrti_frontend_take(room, (size_t)f->bins * (real ? sizeof(float) : sizeof(uint16_t)));
    void *gains = d->melArea ? nnrti_frontend_take(room, (size_t)d->mels * 4) : NULL;
    int32_t k = 0;
    f->edges = edges;
    f->weights = weights;
    f->gains = gains;
    for (int32_t i = 0; i <= d->mels && edges != NULL; i++) {
        const double from = nnrti_frontend_edge(d, upper, i, false), to = nnrti_frontend_edge(d, upper, i + 1, false);
        for (edges[i] = (uint16_t)k; k < f->bins; k++) {
            double t = nnrti_frontend_coordinate(d, (double)(f->first + k) * d->rate / d->fft) - from;
            t = t <= 0 ? 0 : t < to - from ? t / (to - from) : 1;
            if (t >= 1 && i < d->mels)
                break;
            if (real)
                ((float *)weights)[k] = (float)t;
            else
                ((uint16_t *)weights)[k] = (uint16_t)nnrti_frontend_round(32768 * t);
        }
        edges[i + 1] = (uint16_t)k;
    }
    if (gains != NULL)
        nnrti_frontend_gains(d, f, upper, gains, real);
}

/* The largest k with k * rate <= hz * fft, and with `up` the smallest one with k * rate >= hz * fft. Exact. */
static int32_t nnrti_frontend_bin(const nnrt_frontend_desc *d, double hz, bool up)
{
    const double at = hz * d->fft;
    int32_t k = (int32_t)(at / d->rate);
    for (; k > 0 && (double)k * d->rate > at; k--) {
    }
    for (; (double)(k + 1) * d->rate <= at; k++) {
    }
    return up && (double)k * d->rate < at ? k + 1 : k;
}

/* Numbers of both arithmetics. */
static void nnrti_frontend_numbers(const nnrt_frontend_desc *d, nnrt_frontend *f)
{
    const double full = d->fullScale != 0 ? (double)d->fullScale : 1, decibel = f->magnitude ? 20 : 10;
    const double least = d->floor != 0 ? (double)d->floor : 1e-10, ln10 = nnrti_frontend_ln(10);
    const double log = d->log == NNRT_FRONTEND_LN ? 1 : d->log == NNRT_FRONTEND_LOG10 ? 1 / ln10 : decibel / ln10;
    const double scale = d->scale != 0 ? (double)d->scale : 1;
    const double others = d->dct > 0 ? nnrti_frontend_sqrt(2.0 / f->values) : 1;
    const double first = d->dct > 0 && !d->dctEqual ? nnrti_frontend_sqrt(1.0 / f->values) : others;
    /* 32767 instead of 32768 in the window; powers of two are in the exponent of E */
    const double amplitude = full * 32768 / 32767, unit = f->magnitude ? amplitude : amplitude * amplitude;
    const double octave = log * NNRTI_FRONTEND_LN2 / scale / (d->dct > 0 ? 65536.0 * 32767 : 65536);
    f->fixed.offset = nnrti_frontend_split((double)d->offset / unit, 32, &f->fixed.offsetExponent);
    f->fixed.unit = nnrti_frontend_split(unit / scale, 31, &f->fixed.unitExponent);
    f->fixed.floor = nnrti_frontend_round(65536 * nnrti_frontend_ln(least / unit) / NNRTI_FRONTEND_LN2);
    f->fixed.bias = nnrti_frontend_round(65536 * nnrti_frontend_ln(unit) / NNRTI_FRONTEND_LN2);
    nnrti_frontend_factor(octave * first, &f->fixed.factors[0]);
    nnrti_frontend_factor(octave * others, &f->fixed.factors[2]);
    f->real.unit = (float)(full / 32768);
    f->real.offset = d->offset;
    f->real.floor = (float)least;
    f->real.log = (float)log;
    f->real.factors[0] = (float)first;
    f->real.factors[1] = (float)others;
    f->real.inverse = (float)(1 / scale);
}

/* Complex numbers of the transform. */
static int32_t nnrti_frontend_length(const nnrt_frontend *f)
{
    return f->fft % 2 == 0 ? f->fft / 2 : f->fft;
}

/* The largest prime factor of an odd n; 1: n is 1. */
static int32_t nnrti_frontend_largest(int32_t n)
{
    for (int32_t r = 3; r < n;) {
        if (n % r == 0)
            n /= r;
        else
            r += 2;
    }
    return n;
}

/* The power of two in n. */
static int32_t nnrti_frontend_twos(int32_t n)
{
    return n & -n;
}

/* Words of 32 bits that a butterfly of an odd radix copies its operands to, for a transform of length M in int16. */
static int32_t nnrti_frontend_copies(int32_t M)
{
    const int32_t odd = M / nnrti_frontend_twos(M);
    return odd > 1 ? nnrti_frontend_largest(odd) : 0;
}

/* The first sample of sub-transform `block` of `blocks`, an odd number, before the stages of odd radix; the next samples
   have a distance of `blocks`. The last stage, with the largest radix r, combines the samples k, k + r, .., k < r. */
static int32_t nnrti_frontend_first(int32_t block, int32_t blocks)
{
    int32_t at = 0, distance = 1;
    while (blocks > 1) {
        const int32_t r = nnrti_frontend_largest(blocks);
        blocks /= r;
        at += block / blocks * distance;
        block %= blocks;
        distance *= r;
    }
    return at;
}

/* Checks the description and fills *f; tables are written if room has memory. */
static NNRT_ReturnCode nnrti_frontend_lay(const nnrt_frontend_desc *d, nnrt_frontend *f, nnrti_frontend_room *room,
                                          nnrt_error *error)
{
    const bool real = d->arithmetic == NNRT_DATA_TYPE_FLOAT32;
    double upper;
    int32_t M;
    NNRT_ReturnCode code = nnrti_frontend_types(d, error);
    if (code == NNRT_SUCCESS)
        code = nnrti_frontend_ranges(d, error);
    if (code != NNRT_SUCCESS)
        return code;
    upper = d->upper != 0 ? (double)d->upper : (double)d->rate / 2;
    f->kernel = real ? nnrt_frontend_row_f32 : nnrt_frontend_row_i16;
    f->output = d->output;
    f->window = d->window;
    f->hop = d->hop;
    f->fft = d->fft;
    f->circle = d->fft % 4 == 0 ? d->fft : d->fft % 2 == 0 ? 2 * d->fft : 4 * d->fft;
    f->mirror = d->symmetric ? d->window - 1 : d->window;
    f->first = nnrti_frontend_bin(d, (double)d->lower, true);
    f->bins = nnrti_frontend_bin(d, upper, false) - f->first + 1;
    f->values = d->mels > 0 ? d->mels : f->bins;
    f->features = d->dct > 0 ? d->dct : f->values;
    M = nnrti_frontend_length(f);
    if (M != nnrti_frontend_twos(M))
        f->odd = real ? nnrt_frontend_odd_f32 : nnrt_frontend_odd_i16;
    /* the spectrum, the logarithms if there is a DCT, the operands of a butterfly */
    f->work = (M * (real ? 2 : 1) + 1 + (d->dct > 0 ? f->values : 0) + nnrti_frontend_copies(M) * (real ? 2 : 1)) * 4;
    f->dct = d->dct;
    f->log = d->log != NNRT_FRONTEND_NONE;
    f->zeroPoint = d->zeroPoint;
    f->removeMean = d->removeMean;
    f->magnitude = d->spectrum == NNRT_FRONTEND_MAGNITUDE;
    if (f->bins < 1)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "no bin of the FFT lies between lower, %f, and upper, %f",
                              (double)d->lower, upper);
    if (d->dct > f->values)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "dct is %d, and must be at most %d, the number of %s",
                              d->dct, f->values, d->mels > 0 ? "filters" : "bins");
    nnrti_frontend_numbers(d, f);
    f->windowTable = nnrti_frontend_window(room, d, f, real);
    f->cosines = nnrti_frontend_cosines(room, real, f->circle);
    f->edges = NULL;
    f->weights = f->gains = f->dctCosines = NULL;
    if (d->mels > 0)
        nnrti_frontend_filters(room, d, f, upper, real);
    if (d->dct > 0)
        f->dctCosines = nnrti_frontend_cosines(room, real, 4 * f->values);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_frontend_size(const nnrt_frontend_desc *desc, size_t *tables, size_t *stream,
                                            nnrt_error *error)
{
    nnrti_frontend_room room = {NULL, 0};
    nnrt_frontend f;
    NNRT_ReturnCode code;
    if (tables != NULL)
        *tables = 0;
    if (stream != NULL)
        *stream = 0;
    if (desc == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the description is NULL");
    memset(&f, 0, sizeof(f));
    code = nnrti_frontend_lay(desc, &f, &room, error);
    if (code == NNRT_SUCCESS && tables != NULL)
        *tables = room.used;
    if (code == NNRT_SUCCESS && stream != NULL)
        *stream = nnrt_frontend_stream_bytes(&f);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_frontend_init(nnrt_frontend *frontend, const nnrt_frontend_desc *desc, void *memory,
                                            size_t bytes, nnrt_error *error)
{
    nnrti_frontend_room room = {(uint8_t *)memory, 0};
    size_t needed;
    NNRT_ReturnCode code;
    if (frontend == NULL || memory == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the front end or its memory is NULL");
    memset(frontend, 0, sizeof(*frontend));
    code = nnrt_frontend_size(desc, &needed, NULL, error);
    if (code != NNRT_SUCCESS)
        return code;
    if ((uintptr_t)memory % 4 != 0)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "the memory of the tables is not aligned to 4 bytes");
    if (bytes < needed)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the tables need %z bytes, and have %z", needed, bytes);
    return nnrti_frontend_lay(desc, frontend, &room, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_int16 A complex number is one uint32_t: the real part in the low half, the imaginary part in the high
   half, so that a load and a store move both. All sums below fit int32 by the bounds of the top comment. */

/* floor(x / 2^n); compilers know the pattern as one shift. */
NNRT_INLINE int32_t nnrti_frontend_down(int32_t x, int32_t n)
{
    return x < 0 ? ~(~x >> n) : x >> n;
}

NNRT_INLINE int32_t nnrti_frontend_re(uint32_t z)
{
    return (int32_t)((z & 0xffffu) ^ 0x8000u) - 0x8000;
}

NNRT_INLINE int32_t nnrti_frontend_im(uint32_t z)
{
    return nnrti_frontend_down((int32_t)z, 16); /* every compiler converts modulo 2^32 */
}

NNRT_INLINE uint32_t nnrti_frontend_pack(int32_t re, int32_t im)
{
    return ((uint32_t)re & 0xffffu) | (uint32_t)im << 16;
}

NNRT_INLINE int32_t nnrti_frontend_abs(int32_t x)
{
    return x < 0 ? -x : x;
}

NNRT_INLINE int32_t nnrti_frontend_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Leading zeros of x > 0. */
NNRT_INLINE int32_t nnrti_frontend_zeros(uint32_t x)
{
#if (defined(__GNUC__) || defined(__clang__)) && __SIZEOF_INT__ == 4
    return __builtin_clz(x);
#else
    int32_t n = 0;
    for (; x < 0x80000000u; x <<= 1)
        n++;
    return n;
#endif
}

/* The least s >= -12 with peak * growth <= 32767 * 4096 * 2^s; growth <= 65536. */
static int32_t nnrti_frontend_scale(int32_t peak, int32_t growth)
{
    const int32_t wanted = peak * growth;
    int32_t s = -12;
    for (int32_t limit = 32767; limit < wanted; limit *= 2)
        s++;
    return s;
}

/* A scaled store: round(x >> shift) of both components; *peak = the largest |component| so far. */
typedef struct nnrti_frontend_target {
    int32_t shift, half, peak;
} nnrti_frontend_target;

NNRT_INLINE uint32_t nnrti_frontend_result(nnrti_frontend_target *t, int32_t re, int32_t im)
{
    t->peak = nnrti_frontend_max(t->peak, nnrti_frontend_max(nnrti_frontend_abs(re), nnrti_frontend_abs(im)));
    return nnrti_frontend_pack(re, im);
}

NNRT_INLINE uint32_t nnrti_frontend_put(nnrti_frontend_target *t, int32_t re, int32_t im)
{
    return nnrti_frontend_result(t, nnrti_frontend_down(re + t->half, t->shift),
                                 nnrti_frontend_down(im + t->half, t->shift));
}

/* round(x >> shift) of a sum of more than 32 bits. */
NNRT_INLINE int32_t nnrti_frontend_rounded(const nnrti_frontend_target *t, int64_t x)
{
    x += t->half;
    return (int32_t)(x < 0 ? ~(~x >> t->shift) : x >> t->shift);
}

/* The target of a stage that scales by 2^-s; adds to *exponent. */
static void nnrti_frontend_aim(nnrti_frontend_target *t, int32_t s, int32_t *exponent)
{
    t->shift = 13 + s;
    t->half = (int32_t)1 << (t->shift - 1);
    t->peak = 0;
    *exponent += s;
}

/* Combines a + b2, b1, b3 (Q13), operands of one radix-4 butterfly, and stores the results at z, z + q, ... */
NNRT_INLINE void nnrti_frontend_cross(uint32_t *z, int32_t q, const int32_t v[8], nnrti_frontend_target *t)
{
    const int32_t sr = v[0] + v[4], si = v[1] + v[5], dr = v[0] - v[4], di = v[1] - v[5];
    const int32_t ur = v[2] + v[6], ui = v[3] + v[7], wr = v[2] - v[6], wi = v[3] - v[7];
    z[0] = nnrti_frontend_put(t, sr + ur, si + ui);
    z[q] = nnrti_frontend_put(t, dr + wi, di - wr);
    z[2 * q] = nnrti_frontend_put(t, sr - ur, si - ui);
    z[3 * q] = nnrti_frontend_put(t, dr - wi, di + wr);
}

/* z * (wr + i wi) in Q13. */
NNRT_INLINE void nnrti_frontend_turn(uint32_t z, int32_t wr, int32_t wi, int32_t out[2])
{
    const int32_t re = nnrti_frontend_re(z), im = nnrti_frontend_im(z);
    out[0] = nnrti_frontend_down(re * wr - im * wi, 2);
    out[1] = nnrti_frontend_down(re * wi + im * wr, 2);
}

NNRT_INLINE void nnrti_frontend_keep(uint32_t z, int32_t out[2])
{
    out[0] = nnrti_frontend_re(z) * 8192;
    out[1] = nnrti_frontend_im(z) * 8192;
}

/* A radix-4 stage over z[M]: sub-transforms of length q become one of 4 q. In bit-reversed order they transform the
   samples 4n, 4n + 2, 4n + 1, 4n + 3. c: cosines, N of them. */
static void nnrti_frontend_radix4(uint32_t *z, int32_t M, int32_t q, const int16_t *c, int32_t N,
                                  nnrti_frontend_target *target)
{
    const int32_t step = N / (4 * q);
    nnrti_frontend_target t = *target;
    int32_t v[8];
    for (int32_t i = 0; i < M; i += 4 * q) {
        nnrti_frontend_keep(z[i], v);
        nnrti_frontend_keep(z[i + q], v + 4);
        nnrti_frontend_keep(z[i + 2 * q], v + 2);
        nnrti_frontend_keep(z[i + 3 * q], v + 6);
        nnrti_frontend_cross(z + i, q, v, &t);
    }
    for (int32_t j = 1; j < q; j++) {
        const int16_t *at = c + j * step;
        const int32_t w1r = at[0], w1i = at[N / 4], w2r = at[j * step], w2i = at[j * step + N / 4];
        const int32_t w3r = at[2 * j * step], w3i = at[2 * j * step + N / 4];
        for (int32_t i = j; i < M; i += 4 * q) {
            nnrti_frontend_keep(z[i], v);
            nnrti_frontend_turn(z[i + q], w2r, w2i, v + 4);
            nnrti_frontend_turn(z[i + 2 * q], w1r, w1i, v + 2);
            nnrti_frontend_turn(z[i + 3 * q], w3r, w3i, v + 6);
            nnrti_frontend_cross(z + i, q, v, &t);
        }
    }
    *target = t;
}

/* A butterfly of odd radix r: b[k], element j of sub-transform k of length q, becomes z[m], m = j, j + q, .., of one of
   length r q. */
static void nnrti_frontend_butterfly(const nnrt_frontend *f, uint32_t *z, const uint32_t *b, int32_t r, int32_t q,
                                     int32_t j, nnrti_frontend_target *t)
{
    const int16_t *c = (const int16_t *)f->cosines;
    const int32_t C = f->circle, step = C / (r * q);
    for (int32_t m = j; m < r * q; m += q) {
        int64_t re = nnrti_frontend_re(b[0]) * 8192, im = nnrti_frontend_im(b[0]) * 8192;
        for (int32_t k = 1, at = m; k < r; k++, at = at + m < r * q ? at + m : at + m - r * q) { /* at = k m modulo r q */
            const int32_t w = at * step, turned = w + C / 4 < C ? w + C / 4 : w + C / 4 - C;
            int32_t product[2];
            nnrti_frontend_turn(b[k], c[w], c[turned], product);
            re += product[0];
            im += product[1];
        }
        z[m] = nnrti_frontend_result(t, nnrti_frontend_rounded(t, re), nnrti_frontend_rounded(t, im));
    }
}

/* P of re + i im; magnitude: in Q8. */
NNRT_INLINE uint32_t nnrti_frontend_power(int32_t re, int32_t im, bool magnitude)
{
    uint32_t p = (uint32_t)(re * re) + (uint32_t)(im * im), root = 0;
    int32_t t;
    if (!magnitude || p == 0)
        return p;
    t = nnrti_frontend_zeros(p) / 2;
    p <<= 2 * t;
    for (uint32_t bit = 0x40000000u; bit != 0; bit >>= 2) {
        if (p >= root + bit) {
            p -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return t <= 8 ? root << (8 - t) : root >> (t - 8);
}

/* nnrti_frontend_scale for any growth. */
static int32_t nnrti_frontend_wide_scale(int32_t peak, int32_t growth)
{
    const int64_t wanted = (int64_t)peak * growth;
    int32_t s = -12;
    for (int64_t limit = 32767; limit < wanted; limit *= 2)
        s++;
    return s;
}

NNRT_API int32_t nnrt_frontend_odd_i16(const nnrt_frontend *frontend, void *work, int32_t peak, int32_t *exponent)
{
    const nnrt_frontend *f = frontend;
    const int32_t M = nnrti_frontend_length(f);
    uint32_t *z = (uint32_t *)work, *copies = z + f->work / 4 - nnrti_frontend_copies(M);
    nnrti_frontend_target t;
    t.peak = peak;
    for (int32_t q = nnrti_frontend_twos(M), r = 3; q < M; q *= r) {
        while (M / q % r != 0)
            r += 2;
        nnrti_frontend_aim(&t, nnrti_frontend_wide_scale(t.peak, 4096 + 5794 * (r - 1)), exponent);
        for (int32_t i = 0; i < M; i += r * q)
            for (int32_t j = 0; j < q; j++) {
                for (int32_t k = 0; k < r; k++)
                    copies[k] = z[i + j + k * q];
                nnrti_frontend_butterfly(f, z + i, copies, r, q, j, &t);
            }
    }
    for (int32_t k = 0; k <= M / 2 && f->fft % 2 != 0; k++)
        z[k] = nnrti_frontend_power(nnrti_frontend_re(z[k]), nnrti_frontend_im(z[k]), f->magnitude);
    return t.peak;
}

/* The FFT of z[M], in the order of nnrti_frontend_load, in place; peak: its largest |component|. Adds to *exponent. */
static int32_t nnrti_frontend_fft(const nnrt_frontend *f, uint32_t *z, int32_t peak, int32_t *exponent)
{
    const int32_t M = nnrti_frontend_length(f), twos = nnrti_frontend_twos(M);
    nnrti_frontend_target t;
    int32_t q = 1;
    for (int32_t m = twos; m > 1; m /= 4)
        q = m == 2 ? 2 : q; /* log2 of the power of two is odd: a radix-2 stage first */
    t.peak = peak;
    if (q == 2) {
        nnrti_frontend_aim(&t, nnrti_frontend_scale(peak, 8192), exponent);
        for (int32_t i = 0; i < M; i += 2) {
            int32_t v[4];
            nnrti_frontend_keep(z[i], v);
            nnrti_frontend_keep(z[i + 1], v + 2);
            z[i] = nnrti_frontend_put(&t, v[0] + v[2], v[1] + v[3]);
            z[i + 1] = nnrti_frontend_put(&t, v[0] - v[2], v[1] - v[3]);
        }
    }
    for (; q < twos; q *= 4) {
        nnrti_frontend_aim(&t, nnrti_frontend_scale(t.peak, q == 1 ? 16384 : 21480), exponent);
        nnrti_frontend_radix4(z, M, q, (const int16_t *)f->cosines, f->circle, &t);
    }
    return f->odd != NULL ? f->odd(f, z, t.peak, exponent) : t.peak;
}

/* The windowed sample n, times 32767. */
NNRT_INLINE int32_t nnrti_frontend_product(const nnrt_frontend *f, const int16_t *samples, int32_t mean, int32_t n)
{
    const int32_t k = n < f->mirror - n ? n : f->mirror - n;
    const int32_t w = f->windowTable != NULL ? ((const int16_t *)f->windowTable)[k] : 32767;
    return (samples[n] - mean) * w;
}

/* v[n] of step 1. */
NNRT_INLINE int32_t nnrti_frontend_sample(const nnrt_frontend *f, const int16_t *samples, int32_t mean, int32_t n,
                                          int32_t half, int32_t shift)
{
    return n < f->window ? nnrti_frontend_down(nnrti_frontend_product(f, samples, mean, n) + half, shift) : 0;
}

/* The bits of i + 1 in reverse order, from those of i, i < n - 1; n: a power of two. */
NNRT_INLINE int32_t nnrti_frontend_reversed(int32_t r, int32_t n)
{
    int32_t bit = n / 2;
    for (; (r & bit) != 0; bit /= 2)
        r ^= bit;
    return r | bit;
}

/* Writes the windowed frame to z in the order of the stages: the sub-transforms of nnrti_frontend_first, each in
   bit-reversed order; returns its peak, and the exponent. */
static int32_t nnrti_frontend_load(const nnrt_frontend *f, const int16_t *samples, uint32_t *z, int32_t *exponent)
{
    const int32_t M = nnrti_frontend_length(f), twos = nnrti_frontend_twos(M), blocks = M / twos, pair = f->fft / M;
    int32_t mean = 0, peak = 0, shift = 0, half;
    for (int32_t n = 0; n < f->window && f->removeMean; n++)
        mean += samples[n];
    mean /= f->window;
    for (int32_t n = 0; n < f->window; n++)
        peak = nnrti_frontend_max(peak, nnrti_frontend_abs(nnrti_frontend_product(f, samples, mean, n)));
    while ((peak + (((int32_t)1 << shift) >> 1)) >> shift > 32767)
        shift++;
    half = ((int32_t)1 << shift) >> 1;
    for (int32_t b = 0; b < blocks; b++, z += twos) {
        int32_t r = 0, at = nnrti_frontend_first(b, blocks);
        for (int32_t i = 0; i < twos; i++, at += blocks) {
            const int32_t n = pair * at, re = nnrti_frontend_sample(f, samples, mean, n, half, shift);
            z[r] = nnrti_frontend_pack(re, pair > 1 ? nnrti_frontend_sample(f, samples, mean, n + 1, half, shift) : 0);
            r = nnrti_frontend_reversed(r, twos);
        }
    }
    peak = (peak + half) >> shift;
    *exponent = shift;
    return peak;
}

/* The transform of an even number of samples becomes P[0 .. M], in place; returns the shift s. */
static int32_t nnrti_frontend_spectrum(const nnrt_frontend *f, uint32_t *z, int32_t peak)
{
    const int32_t M = f->fft / 2, s = nnrti_frontend_scale(peak, 8196), shift = 14 + s;
    const int32_t half = (int32_t)1 << (shift - 1);
    const int32_t step = f->circle / f->fft;
    const int16_t *c = (const int16_t *)f->cosines;
    const int32_t a = nnrti_frontend_re(z[0]), b = nnrti_frontend_im(z[0]);
    z[0] = nnrti_frontend_power(nnrti_frontend_down((a + b) * 16384 + half, shift), 0, f->magnitude);
    z[M] = nnrti_frontend_power(nnrti_frontend_down((a - b) * 16384 + half, shift), 0, f->magnitude);
    for (int32_t k = 1; k <= M / 2; k++) {
        const uint32_t p = z[k], q = z[M - k];
        const int32_t pr = nnrti_frontend_re(p), pi = nnrti_frontend_im(p), qr = nnrti_frontend_re(q);
        const int32_t qi = nnrti_frontend_im(q), er = pr + qr, ei = pi - qi, r = pr - qr, i = pi + qi;
        const int32_t wr = c[k * step], wi = c[k * step + f->circle / 4];
        const int32_t tr = nnrti_frontend_down(wr * i, 2) + nnrti_frontend_down(wi * r, 2) + half; /* -i w O */
        const int32_t ti = nnrti_frontend_down(wi * i, 2) - nnrti_frontend_down(wr * r, 2) + half;
        z[k] = nnrti_frontend_power(nnrti_frontend_down(er * 8192 + tr, shift),
                                    nnrti_frontend_down(ei * 8192 + ti, shift), f->magnitude);
        z[M - k] = nnrti_frontend_power(nnrti_frontend_down(er * 8192 - tr + 2 * half, shift),
                                        nnrti_frontend_down(ei * 8192 - ti + 2 * half, shift), f->magnitude);
    }
    return s;
}

/* x = m * 2^e as a floating-point number: m has its top bit set, or x is 0. */
typedef struct nnrti_frontend_number {
    uint32_t m;
    int32_t e;
} nnrti_frontend_number;

/* x * 2^e, rounded down to 32 bits. */
static nnrti_frontend_number nnrti_frontend_normal(uint64_t x, int32_t e)
{
    nnrti_frontend_number y = {0, 0};
    const uint32_t high = (uint32_t)(x >> 32), low = (uint32_t)x;
    int32_t n;
    if (high != 0) {
        n = nnrti_frontend_zeros(high);
        y.m = n == 0 ? high : high << n | low >> (32 - n);
        y.e = e + 32 - n;
    } else if (low != 0) {
        n = nnrti_frontend_zeros(low);
        y.m = low << n;
        y.e = e - n;
    }
    return y;
}

/* a + b. */
static nnrti_frontend_number nnrti_frontend_add(nnrti_frontend_number a, nnrti_frontend_number b)
{
    const nnrti_frontend_number big = b.m == 0 || (a.m != 0 && a.e >= b.e) ? a : b;
    const nnrti_frontend_number other = b.m == 0 || (a.m != 0 && a.e >= b.e) ? b : a;
    const int32_t d = big.e - other.e;
    return nnrti_frontend_normal((uint64_t)big.m + (other.m != 0 && d < 32 ? other.m >> d : 0), big.e);
}

/* log2 of x > 0 in Q16. */
static int32_t nnrti_frontend_log2(nnrti_frontend_number x)
{
    static const uint16_t table[64] = {
        0, 1466, 2909, 4331, 5732, 7112, 8473, 9814, 11136, 12440, 13727, 14996, 16248, 17484, 18704,
        19909, 21098, 22272, 23433, 24579, 25711, 26830, 27936, 29029, 30109, 31178, 32234, 33279, 34312,
        35334, 36346, 37346, 38336, 39316, 40286, 41246, 42196, 43137, 44068, 44990, 45904, 46809, 47705,
        48593, 49472, 50344, 51207, 52063, 52911, 53751, 54584, 55410, 56229, 57040, 57845, 58643, 59434,
        60219, 60997, 61769, 62534, 63294, 64047, 64794};
    const uint32_t i = (x.m >> 25) & 63, r = (x.m >> 9) & 0xffffu;
    const uint32_t from = table[i], to = i < 63 ? table[i + 1] : 65536;
    return (x.e + 31) * 65536 + (int32_t)(from + (((to - from) * r + 32768) >> 16));
}

/* x * unit / scale, rounded, saturated. */
static int32_t nnrti_frontend_linear(const nnrt_frontend *f, nnrti_frontend_number x)
{
    const uint64_t p = (uint64_t)x.m * f->fixed.unit;
    const int32_t shift = -(x.e + f->fixed.unitExponent);
    const uint64_t y = shift >= 64 ? 0 : shift > 0 ? (p + ((uint64_t)1 << (shift - 1))) >> shift : p;
    return y > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)y;
}

/* Stores row[i]. */
static void nnrti_frontend_quantized(const nnrt_frontend *f, void *row, int32_t i, int32_t y)
{
    const bool byte = f->output == NNRT_DATA_TYPE_INT8;
    const int32_t most = byte ? 127 : 32767;
    y = y > most - f->zeroPoint ? most : y < -most - 1 - f->zeroPoint ? -most - 1 : y + f->zeroPoint;
    if (byte)
        ((int8_t *)row)[i] = (int8_t)y;
    else
        ((int16_t *)row)[i] = (int16_t)y;
}

/* E[m] * 2^e: its logarithm goes to list[m] if there is a DCT, its feature otherwise to row[m]. */
static void nnrti_frontend_value(const nnrt_frontend *f, int32_t m, uint64_t energy, int32_t e, int32_t *list,
                                 void *row)
{
    const nnrti_frontend_number offset = {f->fixed.offset, f->fixed.offsetExponent};
    nnrti_frontend_number x = nnrti_frontend_normal(energy, e);
    int32_t log;
    if (f->gains != NULL)
        x = nnrti_frontend_normal((uint64_t)x.m * ((const uint32_t *)f->gains)[m], x.e + f->fixed.gainExponent);
    x = nnrti_frontend_add(x, offset);
    if (!f->log) {
        nnrti_frontend_quantized(f, row, m, nnrti_frontend_linear(f, x));
        return;
    }
    log = x.m != 0 ? nnrti_frontend_max(nnrti_frontend_log2(x), f->fixed.floor) : f->fixed.floor;
    log += f->fixed.bias;
    if (f->dct > 0)
        list[m] = log;
    else
        nnrti_frontend_quantized(f, row, m, nnrt_rescale(log, f->fixed.factors));
}

/* The energies of P[k] * 2^e, k from the first bin, and their features. */
static void nnrti_frontend_energies(const nnrt_frontend *f, const uint32_t *P, int32_t e, int32_t *list, void *row)
{
    const uint16_t *t = (const uint16_t *)f->weights;
    uint64_t before = 0; /* the rising side of filter m - 1 */
    if (f->edges == NULL) {
        for (int32_t m = 0; m < f->values; m++)
            nnrti_frontend_value(f, m, P[m], e, list, row);
        return;
    }
    for (int32_t m = 0; m <= f->values; m++) {
        uint64_t rising = 0, sum = 0;
        for (int32_t k = f->edges[m]; k < f->edges[m + 1]; k++) {
            rising += (uint64_t)P[k] * t[k];
            sum += P[k];
        }
        if (m > 0)
            nnrti_frontend_value(f, m - 1, before + (sum << 15) - rising, e - 15, list, row);
        before = rising;
    }
}

NNRT_API void nnrt_frontend_row_i16(const nnrt_frontend *frontend, const int16_t *samples, void *work, void *row)
{
    const nnrt_frontend *f = frontend;
    uint32_t *z = (uint32_t *)work;
    const int32_t M = nnrti_frontend_length(f);
    int32_t *list = (int32_t *)work + M + 1;
    const int16_t *c = (const int16_t *)f->dctCosines;
    const int32_t period = 4 * f->values;
    int32_t e = 0, peak = nnrti_frontend_load(f, samples, z, &e);
    peak = nnrti_frontend_fft(f, z, peak, &e);
    if (f->fft % 2 == 0)
        e += nnrti_frontend_spectrum(f, z, peak);
    e = f->magnitude ? e - 38 : 2 * e - 60; /* samples / 2^15, window * 2^15, magnitude * 2^8 */
    nnrti_frontend_energies(f, z + f->first, e, list, row);
    for (int32_t j = 0; j < f->dct; j++) {
        int64_t sum = 0;
        int32_t k = j;
        for (int32_t m = 0; m < f->values; m++) {
            sum += (int64_t)list[m] * c[k];
            k = k + 2 * j < period ? k + 2 * j : k + 2 * j - period; /* j (2 m + 1) modulo 4 B */
        }
        nnrti_frontend_quantized(f, row, j, nnrt_rescale(sum, &f->fixed.factors[j > 0 ? 2 : 0]));
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_float32 The same steps; z[2k], z[2k + 1] are a complex number, and z[2k] becomes P[k]. */

static void nnrti_frontend_radix4_f32(float *z, int32_t M, int32_t q, const float *c, int32_t N)
{
    const int32_t step = N / (4 * q);
    for (int32_t j = 0; j < q; j++) {
        const float *w1 = c + j * step, *w2 = c + 2 * j * step, *w3 = c + 3 * j * step;
        for (int32_t i = j; i < M; i += 4 * q) {
            float *p0 = z + 2 * i, *p2 = p0 + 2 * q, *p1 = p0 + 4 * q, *p3 = p0 + 6 * q;
            const float b1r = p1[0] * w1[0] - p1[1] * w1[N / 4], b1i = p1[0] * w1[N / 4] + p1[1] * w1[0];
            const float b2r = p2[0] * w2[0] - p2[1] * w2[N / 4], b2i = p2[0] * w2[N / 4] + p2[1] * w2[0];
            const float b3r = p3[0] * w3[0] - p3[1] * w3[N / 4], b3i = p3[0] * w3[N / 4] + p3[1] * w3[0];
            const float sr = p0[0] + b2r, si = p0[1] + b2i, dr = p0[0] - b2r, di = p0[1] - b2i;
            const float ur = b1r + b3r, ui = b1i + b3i, vr = b1r - b3r, vi = b1i - b3i;
            p0[0] = sr + ur;
            p0[1] = si + ui;
            p2[0] = dr + vi;
            p2[1] = di - vr;
            p1[0] = sr - ur;
            p1[1] = si - ui;
            p3[0] = dr - vi;
            p3[1] = di + vr;
        }
    }
}

/* As nnrti_frontend_butterfly. */
static void nnrti_frontend_butterfly_f32(const nnrt_frontend *f, float *z, const float *b, int32_t r, int32_t q, int32_t j)
{
    const float *c = (const float *)f->cosines;
    const int32_t C = f->circle, step = C / (r * q);
    for (int32_t m = j; m < r * q; m += q) {
        float re = b[0], im = b[1];
        for (int32_t k = 1, at = m; k < r; k++, at = at + m < r * q ? at + m : at + m - r * q) {
            const int32_t w = at * step, turned = w + C / 4 < C ? w + C / 4 : w + C / 4 - C;
            re += b[2 * k] * c[w] - b[2 * k + 1] * c[turned];
            im += b[2 * k] * c[turned] + b[2 * k + 1] * c[w];
        }
        z[2 * m] = re;
        z[2 * m + 1] = im;
    }
}

NNRT_API int32_t nnrt_frontend_odd_f32(const nnrt_frontend *frontend, void *work, int32_t peak, int32_t *exponent)
{
    const nnrt_frontend *f = frontend;
    const int32_t M = nnrti_frontend_length(f);
    float *z = (float *)work, *copies = z + f->work / 4 - 2 * nnrti_frontend_copies(M);
    (void)exponent;
    for (int32_t q = nnrti_frontend_twos(M), r = 3; q < M; q *= r) {
        while (M / q % r != 0)
            r += 2;
        for (int32_t i = 0; i < M; i += r * q)
            for (int32_t j = 0; j < q; j++) {
                for (int32_t k = 0; k < r; k++)
                    memcpy(copies + 2 * k, z + 2 * (i + j + k * q), 2 * sizeof(float));
                nnrti_frontend_butterfly_f32(f, z + 2 * i, copies, r, q, j);
            }
    }
    for (int32_t k = 0; k <= M / 2 && f->fft % 2 != 0; k++)
        z[2 * k] = z[2 * k] * z[2 * k] + z[2 * k + 1] * z[2 * k + 1];
    return peak;
}

static void nnrti_frontend_fft_f32(const nnrt_frontend *f, float *z)
{
    const int32_t M = nnrti_frontend_length(f), twos = nnrti_frontend_twos(M);
    int32_t q = 1;
    for (int32_t m = twos; m > 1; m /= 4)
        q = m == 2 ? 2 : q;
    for (int32_t i = 0; i < 2 * M && q == 2; i += 4) {
        const float a = z[i], b = z[i + 1];
        z[i] = a + z[i + 2];
        z[i + 1] = b + z[i + 3];
        z[i + 2] = a - z[i + 2];
        z[i + 3] = b - z[i + 3];
    }
    for (; q < twos; q *= 4)
        nnrti_frontend_radix4_f32(z, M, q, (const float *)f->cosines, f->circle);
    if (f->odd != NULL)
        (void)f->odd(f, z, 0, NULL);
}

/* The windowed sample n. */
NNRT_INLINE float nnrti_frontend_sample_f32(const nnrt_frontend *f, const int16_t *samples, int32_t mean, int32_t n)
{
    const float *w = (const float *)f->windowTable;
    const int32_t k = n < f->mirror - n ? n : f->mirror - n;
    return n < f->window ? (float)(samples[n] - mean) * (w != NULL ? w[k] : f->real.unit) : 0;
}

/* The windowed frame in the order of nnrti_frontend_load. */
static void nnrti_frontend_load_f32(const nnrt_frontend *f, const int16_t *samples, float *z)
{
    const int32_t M = nnrti_frontend_length(f), twos = nnrti_frontend_twos(M), blocks = M / twos, pair = f->fft / M;
    int32_t mean = 0;
    for (int32_t n = 0; n < f->window && f->removeMean; n++)
        mean += samples[n];
    mean /= f->window;
    for (int32_t b = 0; b < blocks; b++, z += 2 * twos) {
        int32_t r = 0, at = nnrti_frontend_first(b, blocks);
        for (int32_t i = 0; i < twos; i++, at += blocks) {
            z[2 * r] = nnrti_frontend_sample_f32(f, samples, mean, pair * at);
            z[2 * r + 1] = pair > 1 ? nnrti_frontend_sample_f32(f, samples, mean, 2 * at + 1) : 0;
            r = nnrti_frontend_reversed(r, twos);
        }
    }
}

/* |X[k]|^2 of the transform of an even number of samples, in z[2 * k]. */
static void nnrti_frontend_spectrum_f32(const nnrt_frontend *f, float *z)
{
    const int32_t M = f->fft / 2, step = f->circle / f->fft;
    const float *c = (const float *)f->cosines;
    const float a = z[0] + z[1], b = z[0] - z[1];
    z[0] = a * a;
    z[2 * M] = b * b;
    for (int32_t k = 1; k <= M / 2; k++) {
        float *p = z + 2 * k, *q = z + 2 * (M - k);
        const float er = p[0] + q[0], ei = p[1] - q[1], r = p[0] - q[0], i = p[1] + q[1];
        const float wr = c[k * step], wi = c[k * step + f->circle / 4], tr = wr * i + wi * r, ti = wi * i - wr * r;
        const float ar = (er + tr) * 0.5f, ai = (ei + ti) * 0.5f, br = (er - tr) * 0.5f, bi = (ei - ti) * 0.5f;
        p[0] = ar * ar + ai * ai;
        q[0] = br * br + bi * bi;
    }
}

static void nnrti_frontend_real(const nnrt_frontend *f, void *row, int32_t i, float y)
{
    const float s = y * f->real.inverse;
    if (f->output == NNRT_DATA_TYPE_FLOAT32)
        ((float *)row)[i] = y;
    else /* halves away from zero */
        nnrti_frontend_quantized(f, row, i,
                                 s > 1e6f    ? 1000000
                                 : s < -1e6f ? -1000000
                                 : s < 0     ? -(int32_t)(0.5f - s)
                                 : s > 0     ? (int32_t)(s + 0.5f)
                                             : 0);
}

static void nnrti_frontend_value_f32(const nnrt_frontend *f, int32_t m, float energy, float *list, void *row)
{
    float x = f->gains != NULL ? energy * ((const float *)f->gains)[m] : energy;
    x += f->real.offset;
    if (f->log)
        x = nnrt_logf(x > f->real.floor ? x : f->real.floor) * f->real.log;
    if (f->dct > 0)
        list[m] = x;
    else
        nnrti_frontend_real(f, row, m, x);
}

NNRT_API void nnrt_frontend_row_f32(const nnrt_frontend *frontend, const int16_t *samples, void *work, void *row)
{
    const nnrt_frontend *f = frontend;
    const float *t = (const float *)f->weights, *c = (const float *)f->dctCosines;
    const int32_t M = nnrti_frontend_length(f), period = 4 * f->values;
    float *z = (float *)work, *P = z + 2 * f->first, *list = z + 2 * M + 1;
    float before = 0;
    nnrti_frontend_load_f32(f, samples, z);
    nnrti_frontend_fft_f32(f, z);
    if (f->fft % 2 == 0)
        nnrti_frontend_spectrum_f32(f, z);
    for (int32_t k = 0; k <= f->fft / 2 && f->magnitude; k++)
        z[2 * k] = nnrt_sqrtf(z[2 * k]);
    for (int32_t m = 0; m < f->values && f->edges == NULL; m++)
        nnrti_frontend_value_f32(f, m, P[2 * m], list, row);
    for (int32_t m = 0; m <= f->values && f->edges != NULL; m++) {
        float rising = 0, falling = 0;
        for (int32_t k = f->edges[m]; k < f->edges[m + 1]; k++) {
            rising += P[2 * k] * t[k];
            falling += P[2 * k] * (1 - t[k]);
        }
        if (m > 0)
            nnrti_frontend_value_f32(f, m - 1, before + falling, list, row);
        before = rising;
    }
    for (int32_t j = 0; j < f->dct; j++) {
        float sum = 0;
        for (int32_t m = 0, k = j; m < f->values; m++) {
            sum += list[m] * c[k];
            k = k + 2 * j < period ? k + 2 * j : k + 2 * j - period;
        }
        nnrti_frontend_real(f, row, j, sum * f->real.factors[j > 0 ? 1 : 0]);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_stream The memory of a stream: work of the kernel, then the samples. */

NNRT_API size_t nnrt_frontend_stream_bytes(const nnrt_frontend *frontend)
{
    return (size_t)frontend->work + (size_t)frontend->window * sizeof(int16_t);
}

NNRT_API NNRT_ReturnCode nnrt_frontend_start(nnrt_frontend_stream *stream, const nnrt_frontend *frontend, void *memory,
                                             size_t bytes)
{
    if (stream == NULL || frontend == NULL || memory == NULL)
        return NNRT_NULL_PTR;
    if ((uintptr_t)memory % 4 != 0)
        return NNRT_INVALID_BUFFER;
    if (bytes < nnrt_frontend_stream_bytes(frontend))
        return NNRT_OUT_OF_MEMORY;
    stream->frontend = frontend;
    stream->work = memory;
    stream->samples = (int16_t *)memory + (size_t)frontend->work / sizeof(int16_t);
    stream->filled = stream->skip = 0;
    return NNRT_SUCCESS;
}

NNRT_API size_t nnrt_frontend_push(nnrt_frontend_stream *stream, const int16_t *samples, size_t count, void *row,
                                   bool *ready)
{
    const nnrt_frontend *f = stream->frontend;
    size_t used = 0;
    *ready = false;
    while (used < count && !*ready) {
        const bool skip = stream->skip > 0;
        const int32_t room = skip ? stream->skip : f->window - stream->filled;
        const int32_t n = count - used < (size_t)room ? (int32_t)(count - used) : room;
        if (skip) {
            stream->skip -= n;
        } else {
            memcpy(stream->samples + stream->filled, samples + used, (size_t)n * sizeof(int16_t));
            stream->filled += n;
        }
        used += (size_t)n;
        if (skip || stream->filled < f->window)
            continue;
        f->kernel(f, stream->samples, stream->work, row);
        *ready = true;
        stream->filled = f->hop < f->window ? f->window - f->hop : 0;
        stream->skip = f->hop > f->window ? f->hop - f->window : 0;
        for (int32_t i = 0; i < stream->filled; i++)
            stream->samples[i] = stream->samples[i + f->hop];
    }
    return used;
}

#ifdef __cplusplus
}
#endif

/* End of the region without floating-point contraction (FMA). */
#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#ifdef NNRT_FP_STRICT
#pragma clang fp exceptions(ignore)
#endif
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif /* NNRT_IMPLEMENTATION */
