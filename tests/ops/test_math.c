/* Tests of the small math library of the reference kernels (nnrt_expf and so on).
 * Expected values come from the C library, one precision higher (double for the float functions, long double for the
 * double ones), from IEEE and C Annex F, and from exact integer arithmetic. Only the hashes in test_bits pin our own
 * results: they say that the bits do not vary over compilers, options and processors, not that they are right. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <cmocka.h>

#define NNRT_IMPLEMENTATION
#define NNRT_STATIC /* with one operator, the math compiles in a second */
#define NNRT_SELECT
#define NNRT_KEEP_RESHAPE 1
#include "nnrt_ops.h"

/* The NaN that the double functions promise. */
#define DOUBLE_NAN ((uint64_t)0x7ff80000u << 32)

typedef float (*float_fn)(float);
typedef double (*double_fn)(double);
typedef long double (*long_fn)(long double);

static uint32_t float_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float bits_float(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint64_t double_bits(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double bits_double(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* xorshift64*: the same numbers everywhere. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

/* A number in [lo, hi). */
static double random_between(uint64_t *state, double lo, double hi) {
    return lo + (hi - lo) * ((double)(next_random(state) >> 11) / 9007199254740992.0);
}

/* |got - want| in units of the last place of a number with `digits` bits and smallest exponent `min_exp` (as frexp
 * counts) at want. Infinity counts as 2^max_exp, so that a finite neighbour of it is an error of one unit. A wrong sign
 * or a NaN on one side only is 1e9. */
static double ulp_error(double got, long double want, int digits, int min_exp, int max_exp) {
    long double g = got, limit = ldexpl(1.0L, max_exp);
    int e;
    if (got != got || want != want) {
        return got != got && want != want ? 0.0 : 1e9;
    }
    if ((signbit(got) != 0) != (signbit(want) != 0)) {
        return 1e9;
    }
    g = g > limit ? limit : g < -limit ? -limit : g;
    want = want > limit ? limit : want < -limit ? -limit : want;
    (void)frexpl(fabsl(want) < limit ? want : limit / 2, &e);
    e = e < min_exp ? min_exp : e;
    return (double)(fabsl(g - want) / ldexpl(1.0L, e - digits));
}

static double float_ulps(float got, double want) {
    /* same as ulp_error(got, want, 24, -125, 128), in double and therefore faster */
    double g = (double)got, limit = 3.402823669209385e38, w = want;
    uint64_t e;
    if (got != got || want != want) {
        return got != got && want != want ? 0.0 : 1e9;
    }
    if ((float_bits(got) >> 31) != (uint32_t)(double_bits(want) >> 63)) {
        return 1e9;
    }
    g = g > limit ? limit : g < -limit ? -limit : g;
    w = w > limit ? limit : w < -limit ? -limit : w;
    e = (double_bits(w) >> 52) & 0x7ffu;
    e = e > 1150u ? 1150u : e < 897u ? 897u : e;
    return fabs(g - w) / bits_double((e - 23u) << 52);
}

/* musl's acosh returns numbers for some x below -1. */
static double acosh_reference(double x)
{
    return x < 1.0 ? (double)NAN : acosh(x);
}

static double sigmoid_reference(double x) {
    return 1.0 / (1.0 + exp(-x));
}

/* >>float errors: a stride over the bits of all floats, about 5.6 million arguments per function. The bounds are the
 * errors stated in the comments, found over all floats; the hundredth added covers the reference's own rounding. */
#define STRIDE 769u

typedef struct {
    const char *name;
    float_fn fn;
    double_fn reference;
    double bound;
} float_row;

static const float_row float_rows[] = {
    {"expf", nnrt_expf, exp, 0.78},          {"expm1f", nnrti_expm1f, expm1, 1.71},
    {"logf", nnrt_logf, log, 0.96},          {"log1pf", nnrti_log1pf, log1p, 0.96},
    {"tanhf", nnrti_tanhf, tanh, 1.50},       {"erff", nnrti_erff, erf, 1.65},
    {"sinf", nnrt_sinf, sin, 1.58},          {"cosf", nnrt_cosf, cos, 1.57},
    {"sqrtf", nnrt_sqrtf, sqrt, 0.5},       {"sigmoidf", nnrti_sigmoidf, sigmoid_reference, 1.97},
    {"tanf", nnrti_tanf, tan, 3.57},          {"atanf", nnrti_atanf, atan, 1.89},
    {"asinf", nnrti_asinf, asin, 2.93},       {"acosf", nnrti_acosf, acos, 2.68},
    {"sinhf", nnrti_sinhf, sinh, 2.18},       {"coshf", nnrti_coshf, cosh, 1.19},
    {"asinhf", nnrti_asinhf, asinh, 1.82},    {"acoshf", nnrti_acoshf, acosh_reference, 2.09},
    {"atanhf", nnrti_atanhf, atanh, 2.12},
};

static void test_float_errors(void **state) {
    size_t r, wrong = 0;
    (void)state;
    for (r = 0; r < sizeof float_rows / sizeof float_rows[0]; r++) {
        const float_row *row = &float_rows[r];
        uint32_t u = (uint32_t)r, worst_at = 0;
        double worst = 0.0;
        for (; u < 0xffffffffu - STRIDE; u += STRIDE) {
            float x = bits_float(u), y = row->fn(x);
            double e = float_ulps(y, row->reference((double)x));
            if (y != y && float_bits(y) != 0x7fc00000u) {
                e = 1e9;
            }
            if (e > worst) {
                worst = e;
                worst_at = u;
            }
        }
        if (worst > row->bound + 0.01) {
            print_error("%s(%.9g, bits %08x): %.4f ulp, allowed %.4f\n", row->name, (double)bits_float(worst_at),
                        (unsigned)worst_at, worst, row->bound);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Every float in short ranges where formulas meet or the result passes zero. */
static void test_float_seams(void **state) {
    static const struct {
        float_fn fn;
        double_fn reference;
        float at;
        double bound;
    } seams[] = {
        {nnrt_expf, exp, 0.34657359f, 0.78},    {nnrt_expf, exp, -0.34657359f, 0.78},
        {nnrt_expf, exp, 88.722839f, 0.78},     {nnrt_expf, exp, -87.336545f, 0.78},
        {nnrt_expf, exp, -103.972077f, 0.78},   {nnrti_expm1f, expm1, 0.34657359f, 1.71},
        {nnrti_expm1f, expm1, -0.34657359f, 1.71}, {nnrti_expm1f, expm1, 2.98023224e-8f, 1.71},
        {nnrti_expm1f, expm1, -18.0f, 1.71},     {nnrt_logf, log, 1.0f, 0.96},
        {nnrt_logf, log, 0.70710678f, 0.96},    {nnrt_logf, log, 1.41421356f, 0.96},
        {nnrt_logf, log, 1.17549435e-38f, 0.96}, {nnrti_log1pf, log1p, -0.29f, 0.96},
        {nnrti_log1pf, log1p, 0.41f, 0.96},      {nnrti_log1pf, log1p, 1.0f, 0.96},
        {nnrti_log1pf, log1p, 16777216.0f, 0.96}, {nnrti_tanhf, tanh, 0.27f, 1.50},
        {nnrti_tanhf, tanh, 9.1f, 1.50},         {nnrti_erff, erf, 0.921875f, 1.65},
        {nnrti_erff, erf, 3.93f, 1.65},          {nnrt_sinf, sin, 0.78539816f, 1.58},
        {nnrt_sinf, sin, 3.14159265f, 1.58},    {nnrt_sinf, sin, 99999.0f, 1.58},
        {nnrt_sinf, sin, 0.000244140625f, 1.58}, {nnrt_cosf, cos, 0.78539816f, 1.57},
        {nnrt_cosf, cos, 1.57079633f, 1.57},    {nnrt_cosf, cos, 99999.0f, 1.57},
        {nnrti_sigmoidf, sigmoid_reference, 0.0f, 1.97}, {nnrti_sigmoidf, sigmoid_reference, -17.0f, 1.97},
        {nnrti_tanf, tan, 0.78539816f, 3.57},     {nnrti_tanf, tan, 1.57079633f, 3.57},
        {nnrti_tanf, tan, 3.14159265f, 3.57},     {nnrti_tanf, tan, 0.000244140625f, 3.57},
        {nnrti_atanf, atan, 0.41421357f, 1.89},   {nnrti_atanf, atan, 1.0f, 1.89},
        {nnrti_atanf, atan, 2.41421366f, 1.89},   {nnrti_atanf, atan, -2.41421366f, 1.89},
        {nnrti_asinf, asin, 0.38268343f, 2.93},   {nnrti_asinf, asin, 1.0f, 2.93},
        {nnrti_acosf, acos, 1.0f, 2.68},          {nnrti_acosf, acos, -1.0f, 2.68},
        {nnrti_acosf, acos, 0.70710678f, 2.68},   {nnrti_sinhf, sinh, 0.34657359f, 2.18},
        {nnrti_sinhf, sinh, 88.0f, 2.18},         {nnrti_sinhf, sinh, -89.4159863f, 2.18},
        {nnrti_coshf, cosh, 88.0f, 1.19},         {nnrti_coshf, cosh, 89.4159863f, 1.19},
        {nnrti_asinhf, asinh, 16384.0f, 1.82},   {nnrti_asinhf, asinh, 0.375f, 1.82},
        {nnrti_acoshf, acosh, 16384.0f, 2.09},   {nnrti_acoshf, acosh, 1.0f, 2.09},
        {nnrti_atanhf, atanh, 1.0f, 2.12},       {nnrti_atanhf, atanh, 0.17f, 2.12},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof seams / sizeof seams[0]; i++) {
        uint32_t u = float_bits(seams[i].at), n;
        for (n = 0; n < 10000u; n++) {
            float x = bits_float(u < 5000u ? n : u - 5000u + n);
            double e = float_ulps(seams[i].fn(x), seams[i].reference((double)x));
            if (e > seams[i].bound + 0.01) {
                print_error("seam %u at %.9g: %.4f ulp\n", (unsigned)i, (double)x, e);
                fail();
            }
        }
    }
}

/* Exact results and special cases, as bits. */
static void test_float_specials(void **state) {
    static const struct {
        float_fn fn;
        uint32_t x, y;
    } rows[] = {
        {nnrt_expf, 0x00000000u, 0x3f800000u},     {nnrt_expf, 0x80000000u, 0x3f800000u}, /* e^0 = 1 */
        {nnrt_expf, 0x7f800000u, 0x7f800000u},     {nnrt_expf, 0xff800000u, 0x00000000u}, /* +inf, -inf */
        {nnrt_expf, 0x7fc00001u, 0x7fc00000u},     {nnrt_expf, 0xffc00001u, 0x7fc00000u}, /* NaN */
        {nnrt_expf, 0x42b17217u, 0x7f7fff84u},     {nnrt_expf, 0x42b17218u, 0x7f800000u}, /* last finite */
        {nnrt_expf, 0xc2cff1b5u, 0x00000000u},     {nnrt_expf, 0xc2cff1b4u, 0x00000001u}, /* last subnormal */
        {nnrt_expf, 0x00000001u, 0x3f800000u},     {nnrti_expm1f, 0x00000001u, 0x00000001u},
        {nnrti_expm1f, 0x80000000u, 0x80000000u},   {nnrti_expm1f, 0xff800000u, 0xbf800000u},
        {nnrti_expm1f, 0x7f800000u, 0x7f800000u},   {nnrti_expm1f, 0xffffffffu, 0x7fc00000u},
        {nnrt_logf, 0x00000000u, 0xff800000u},     {nnrt_logf, 0x80000000u, 0xff800000u}, /* ln(+-0) = -inf */
        {nnrt_logf, 0xbf800000u, 0x7fc00000u},     {nnrt_logf, 0x80000001u, 0x7fc00000u}, /* below 0 */
        {nnrt_logf, 0xff800000u, 0x7fc00000u},     {nnrt_logf, 0x7f800000u, 0x7f800000u},
        {nnrt_logf, 0x7f800001u, 0x7fc00000u},     {nnrt_logf, 0x3f800000u, 0x00000000u}, /* ln 1 = +0 */
        {nnrt_logf, 0x00000001u, 0xc2ce8ed0u},     {nnrti_log1pf, 0x80000000u, 0x80000000u}, /* -149 ln 2 */
        {nnrti_log1pf, 0x00000000u, 0x00000000u},   {nnrti_log1pf, 0x00000001u, 0x00000001u},
        {nnrti_log1pf, 0xbf800000u, 0xff800000u},   {nnrti_log1pf, 0xbf800001u, 0x7fc00000u},
        {nnrti_log1pf, 0x7f800000u, 0x7f800000u},   {nnrti_log1pf, 0x7fc12345u, 0x7fc00000u},
        {nnrti_tanhf, 0x80000000u, 0x80000000u},    {nnrti_tanhf, 0x80000001u, 0x80000001u},
        {nnrti_tanhf, 0x7f800000u, 0x3f800000u},    {nnrti_tanhf, 0xff800000u, 0xbf800000u},
        {nnrti_tanhf, 0xffc00000u, 0x7fc00000u},    {nnrti_erff, 0x80000000u, 0x80000000u},
        {nnrti_erff, 0x7f800000u, 0x3f800000u},     {nnrti_erff, 0xff800000u, 0xbf800000u},
        {nnrti_erff, 0x7fc00000u, 0x7fc00000u},     {nnrti_sigmoidf, 0x00000000u, 0x3f000000u},
        {nnrti_sigmoidf, 0x80000000u, 0x3f000000u}, {nnrti_sigmoidf, 0x7f800000u, 0x3f800000u},
        {nnrti_sigmoidf, 0xff800000u, 0x00000000u}, {nnrti_sigmoidf, 0xffc00123u, 0x7fc00000u},
        {nnrt_sinf, 0x80000000u, 0x80000000u},     {nnrt_sinf, 0x7f800000u, 0x7fc00000u},
        {nnrt_sinf, 0xff800000u, 0x7fc00000u},     {nnrt_sinf, 0x7f800001u, 0x7fc00000u},
        {nnrt_sinf, 0x80000001u, 0x80000001u},     {nnrt_cosf, 0x80000000u, 0x3f800000u},
        {nnrt_cosf, 0xff800000u, 0x7fc00000u},     {nnrt_cosf, 0x00000001u, 0x3f800000u},
        {nnrti_tanf, 0x80000000u, 0x80000000u},     {nnrti_tanf, 0xff800000u, 0x7fc00000u},
        {nnrti_tanf, 0x00000001u, 0x00000001u},     {nnrti_tanf, 0xffc00001u, 0x7fc00000u},
        {nnrti_atanf, 0x80000000u, 0x80000000u},    {nnrti_atanf, 0x7f800000u, 0x3fc90fdbu}, /* pi/2 */
        {nnrti_atanf, 0xff800000u, 0xbfc90fdbu},    {nnrti_atanf, 0xbf800000u, 0xbf490fdbu}, /* -pi/4 */
        {nnrti_atanf, 0x00000001u, 0x00000001u},    {nnrti_atanf, 0xff800001u, 0x7fc00000u},
        {nnrti_asinf, 0x80000000u, 0x80000000u},    {nnrti_asinf, 0x3f800000u, 0x3fc90fdbu},
        {nnrti_asinf, 0xbf800000u, 0xbfc90fdbu},    {nnrti_asinf, 0x3f800001u, 0x7fc00000u},
        {nnrti_asinf, 0xff800000u, 0x7fc00000u},    {nnrti_asinf, 0x80000001u, 0x80000001u},
        {nnrti_acosf, 0x3f800000u, 0x00000000u},    {nnrti_acosf, 0xbf800000u, 0x40490fdbu}, /* 0, pi */
        {nnrti_acosf, 0x80000000u, 0x3fc90fdbu},    {nnrti_acosf, 0xbf800001u, 0x7fc00000u},
        {nnrti_acosf, 0x7f800000u, 0x7fc00000u},    {nnrti_acosf, 0x7fc00001u, 0x7fc00000u},
        {nnrti_sinhf, 0x80000000u, 0x80000000u},    {nnrti_sinhf, 0xff800000u, 0xff800000u},
        {nnrti_sinhf, 0x80000001u, 0x80000001u},    {nnrti_sinhf, 0xffc00001u, 0x7fc00000u},
        {nnrti_coshf, 0x80000000u, 0x3f800000u},    {nnrti_coshf, 0xff800000u, 0x7f800000u},
        {nnrti_coshf, 0x00000001u, 0x3f800000u},    {nnrti_coshf, 0xffc00001u, 0x7fc00000u},
        {nnrti_asinhf, 0x80000000u, 0x80000000u},   {nnrti_asinhf, 0xff800000u, 0xff800000u},
        {nnrti_asinhf, 0x80000001u, 0x80000001u},   {nnrti_asinhf, 0x7f800001u, 0x7fc00000u},
        {nnrti_acoshf, 0x3f800000u, 0x00000000u},   {nnrti_acoshf, 0x7f800000u, 0x7f800000u},
        {nnrti_acoshf, 0x3f7fffffu, 0x7fc00000u},   {nnrti_acoshf, 0xff800000u, 0x7fc00000u},
        {nnrti_acoshf, 0xc0000000u, 0x7fc00000u},   {nnrti_acoshf, 0x7f800001u, 0x7fc00000u},
        {nnrti_atanhf, 0x80000000u, 0x80000000u},   {nnrti_atanhf, 0xbf800000u, 0xff800000u},
        {nnrti_atanhf, 0x3f800000u, 0x7f800000u},   {nnrti_atanhf, 0x3f800001u, 0x7fc00000u},
        {nnrti_atanhf, 0xff800000u, 0x7fc00000u},   {nnrti_atanhf, 0x80000001u, 0x80000001u},
        {nnrt_sqrtf, 0x80000000u, 0x80000000u},    {nnrt_sqrtf, 0xbf800000u, 0x7fc00000u},
        {nnrt_sqrtf, 0x7f800000u, 0x7f800000u},    {nnrt_sqrtf, 0xff800000u, 0x7fc00000u},
        {nnrt_sqrtf, 0x40800000u, 0x40000000u},    {nnrti_floorf, 0x80000000u, 0x80000000u},
        {nnrti_floorf, 0xbf000000u, 0xbf800000u},   {nnrti_ceilf, 0xbf000000u, 0x80000000u}, /* ceil(-0.5) = -0 */
        {nnrti_truncf, 0xbf000000u, 0x80000000u},   {nnrti_roundf, 0x3effffffu, 0x00000000u}, /* below a half */
        {nnrti_roundf, 0xbf000000u, 0xbf800000u},   {nnrti_roundf, 0x4b000001u, 0x4b000001u}, /* 2^23 + 1 */
        {nnrti_roundevenf, 0xbf000000u, 0x80000000u}, {nnrti_roundevenf, 0x40200000u, 0x40000000u}, /* 2.5 to 2 */
        {nnrti_roundevenf, 0x40600000u, 0x40800000u}, {nnrti_roundevenf, 0xff800000u, 0xff800000u}, /* 3.5 to 4 */
        {nnrti_floorf, 0xffc00001u, 0x7fc00000u},   {nnrti_ceilf, 0xff800001u, 0x7fc00000u},
        {nnrti_truncf, 0xff800001u, 0x7fc00000u},   {nnrti_roundf, 0x7f800001u, 0x7fc00000u},
        {nnrti_roundevenf, 0xffffffffu, 0x7fc00000u}, {nnrti_truncf, 0x7f800000u, 0x7f800000u},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t got = float_bits(rows[i].fn(bits_float(rows[i].x)));
        if (got != rows[i].y) {
            print_error("row %u: f(%08x) = %08x, want %08x\n", (unsigned)i, (unsigned)rows[i].x, (unsigned)got,
                        (unsigned)rows[i].y);
            fail();
        }
    }
    assert_true(nnrti_isnanf(bits_float(0xff800001u)));
    assert_false(nnrti_isnanf(bits_float(0xff800000u)));
    assert_true(nnrti_isnan(bits_double(DOUBLE_NAN)));
    assert_false(nnrti_isnan(1.0));
}

/* Angles far out. Wanted: the sine and cosine of exactly these floats, computed with 400 bits (mpmath 1.2). */
static void test_huge_angles(void **state) {
    static const struct {
        uint32_t x;
        double sine, cosine;
    } rows[] = {
        {0x7f7fffffu, -0.5218765233336585, 0.8530210398303042},
        {0x7e967699u, 0.9891644599607083, 0.14681168601524971},
        {0x6f79be45u, 1.0, -1.6147697982476211e-09},
        {0x5922aa80u, -0.8455372818012821, 0.5339163839817048},
        {0x47c34f80u, 0.860248280789742, -0.5098753724179009},
        {0x47c34fffu, 0.04355513389712263, -0.9990510248787114},
        {0x4b7fffffu, -0.9482326677687481, -0.31757645973239707},
        {0x46c90fdbu, 0.0007161673525706433, 0.9999997435521287},
        {0x40490fdbu, -8.742278000372475e-08, -0.9999999999999962},
        {0x3fc90fdbu, 0.999999999999999, -4.371139000186241e-08},
        {0x42c80000u, -0.5063656411097588, 0.8623188722876839},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float x = bits_float(rows[i].x);
        assert_true(float_ulps(nnrt_sinf(x), rows[i].sine) < 2.0);
        assert_true(float_ulps(nnrt_sinf(-x), -rows[i].sine) < 2.0);
        assert_true(float_ulps(nnrt_cosf(x), rows[i].cosine) < 2.0);
        assert_true(float_ulps(nnrt_cosf(-x), rows[i].cosine) < 2.0);
        assert_true(float_ulps(nnrti_tanf(x), rows[i].sine / rows[i].cosine) < 3.58);
    }
}

/* The same of doubles, the first the one closest to a multiple of pi/2 (1400 bits). */
static void test_huge_double_angles(void **state) {
    static const struct {
        double x, sine, cosine;
    } rows[] = {
        {5.319372648326541e255, 1.0, -4.687165924254628e-19},
        {1.7976931348623157e308, 0.004961954789184062, -0.9999876894265599},
        {1e22, -0.8522008497671888, 0.523214785395139},
        {1e16, 0.7796880066069788, -0.6261681981330862},
        {3.141592653589793, 1.2246467991473532e-16, -1.0},
        {1.5707963267948966, 1.0, 6.123233995736766e-17},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double x = rows[i].x;
        assert_true(ulp_error(nnrti_sin(x), rows[i].sine, 53, -1021, 1024) < 2.0);
        assert_true(ulp_error(nnrti_sin(-x), -rows[i].sine, 53, -1021, 1024) < 2.0);
        assert_true(ulp_error(nnrti_cos(x), rows[i].cosine, 53, -1021, 1024) < 2.0);
        assert_true(ulp_error(nnrti_cos(-x), rows[i].cosine, 53, -1021, 1024) < 2.0);
        assert_true(ulp_error(nnrti_tan(x), rows[i].sine / rows[i].cosine, 53, -1021, 1024) < 4.5);
    }
}

#ifndef _WIN32 /* whose sin is that of the x87, which is wrong for large angles */
/* Angles of each exponent: the words of 2/pi that a reduction reads follow from it. The C library is within 1 ulp. */
static void test_double_angles_of_each_exponent(void **state) {
    uint64_t seed = 3;
    int32_t e, i;
    (void)state;
    for (e = 0; e < 1024; e++)
        for (i = 0; i < 8; i++) {
            const double x = ldexp(random_between(&seed, 1.0, 2.0), e);
            assert_true(ulp_error(nnrti_sin(x), (long double)sin(x), 53, -1021, 1024) < 3.0);
            assert_true(ulp_error(nnrti_cos(x), (long double)cos(x), 53, -1021, 1024) < 3.0);
        }
}
#endif

/* >>rounding: the bits of the C library, which is exact here, too. The default rounding mode makes nearbyint
 * round halves to even. */
static void test_rounding(void **state) {
    static const struct {
        float_fn fn;
        double_fn dfn, reference;
    } rows[] = {
        {nnrti_floorf, nnrti_floor, floor}, {nnrti_ceilf, nnrti_ceil, ceil},
        {nnrti_truncf, nnrti_trunc, trunc}, {nnrti_roundf, nnrti_round, round},
        {nnrti_roundevenf, nnrti_roundeven, nearbyint},
    };
    uint64_t seed = 1;
    size_t r;
    (void)state;
    for (r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        int32_t i;
        for (i = 0; i < 300000; i++) {
            uint64_t bits = next_random(&seed), e = 1023u + bits % 60u;
            double d = bits_double((bits & ~((uint64_t)0x7ff << 52)) | (e - 3u) << 52);
            double half = (double)(i - 150000) / 2.0;
            float f = (float)d;
            assert_int_equal(float_bits(rows[r].fn(f)), float_bits((float)rows[r].reference((double)f)));
            assert_true(double_bits(rows[r].dfn(d)) == double_bits(rows[r].reference(d)));
            assert_int_equal(float_bits(rows[r].fn((float)half)), float_bits((float)rows[r].reference(half)));
            assert_true(double_bits(rows[r].dfn(half)) == double_bits(rows[r].reference(half)));
        }
        assert_true(double_bits(rows[r].dfn(-HUGE_VAL)) == double_bits(-HUGE_VAL));
        assert_true(double_bits(rows[r].dfn(bits_double((uint64_t)0xfff00000u << 32 | 1u))) == DOUBLE_NAN);
    }
}

/* >>half */

/* The value of a finite half from its definition. */
static double half_value(uint32_t h) {
    int e = (int)((h >> 10) & 31u);
    double m = (double)(h & 0x3ffu);
    double v = e == 0 ? ldexp(m, -24) : ldexp(m + 1024.0, e - 25);
    return (h & 0x8000u) != 0u ? -v : v;
}

static void test_half_round_trip(void **state) {
    uint32_t h;
    (void)state;
    for (h = 0; h < 65536u; h++) {
        float f = nnrt_half_to_float((uint16_t)h);
        if ((h & 0x7c00u) == 0x7c00u) { /* a NaN becomes quiet and keeps the rest */
            uint32_t quiet = (h & 0x3ffu) != 0u ? 0x200u : 0u;
            assert_int_equal(float_bits(f), ((h & 0x8000u) << 16) | 0x7f800000u | (((h & 0x3ffu) | quiet) << 13));
            assert_int_equal(nnrt_half_from_float(f), h | quiet);
        } else {
            assert_true((double)f == half_value(h));
            assert_int_equal(float_bits(f) >> 31, h >> 15);
            assert_int_equal(nnrt_half_from_float(f), h);
            assert_int_equal(nnrti_half_from_double((double)f), h);
        }
    }
}

/* Between each half and the next: just off the half, the middle and both its neighbours. The double neighbours become
 * the middle itself when rounded to float, so that rounding twice would show. */
static void test_half_rounding(void **state) {
    uint32_t h;
    (void)state;
    for (h = 0; h < 0x7c00u; h++) {
        double lo = half_value(h), hi = h == 0x7bffu ? 65536.0 : half_value(h + 1u), mid = (lo + hi) / 2.0;
        uint32_t even = (h & 1u) != 0u ? h + 1u : h, s;
        for (s = 0; s < 2u; s++) {
            double sign = s != 0u ? -1.0 : 1.0;
            uint32_t bit = s << 15;
            float m = (float)(sign * mid);
            assert_int_equal(nnrt_half_from_float(m), bit | even);
            assert_int_equal(nnrt_half_from_float(nextafterf(m, 0.0f)), bit | h);
            assert_int_equal(nnrt_half_from_float(nextafterf(m, (float)(sign * 1e6))), bit | (h + 1u));
            assert_int_equal(nnrti_half_from_double(sign * mid), bit | even);
            assert_int_equal(nnrti_half_from_double(sign * nextafter(mid, 0.0)), bit | h);
            assert_int_equal(nnrti_half_from_double(sign * nextafter(mid, 1e6)), bit | (h + 1u));
            assert_int_equal(nnrti_half_from_double(sign * nextafter(hi, 0.0)), bit | (h + 1u));
        }
    }
    assert_int_equal(nnrt_half_from_float(1e-45f), 0);
    assert_int_equal(nnrt_half_from_float(-1e-45f), 0x8000);
    assert_int_equal(nnrti_half_from_double(4.9e-324), 0);
    assert_int_equal(nnrti_half_from_double(-1.7e308), 0xfc00);
    assert_int_equal(nnrt_half_from_float(bits_float(0x7f800001u)), 0x7e00);
    assert_int_equal(nnrt_half_from_float(bits_float(0xff802000u)), 0xfe01);
    assert_int_equal(nnrti_half_from_double(bits_double((uint64_t)0xfff00000u << 32 | 1u)), 0xfe00);
    assert_int_equal(nnrti_half_from_double(HUGE_VAL), 0x7c00);
}

/* >>double errors: against long double where that has more digits than double; where it does not, or the C library's long
 * functions call the double functions (musl), the reference itself may be off by one unit. */
static void test_double_errors(void **state) {
    static const struct {
        const char *name;
        double_fn fn;
        long_fn reference;
        double lo, hi, bound;
    } rows[] = {
        {"exp", nnrti_exp, expl, -745.2, 709.8, 1.0},   {"exp", nnrti_exp, expl, -1.0, 1.0, 1.0},
        {"log", nnrti_log, logl, 0.0, 10.0, 1.0},       {"log", nnrti_log, logl, 0.9, 1.1, 1.0},
        {"log", nnrti_log, logl, 0.0, 1e308, 1.0},      {"log", nnrti_log, logl, 0.0, 1e-307, 1.0},
        {"tanh", nnrti_tanh, tanhl, -1.0, 1.0, 2.5},    {"tanh", nnrti_tanh, tanhl, -23.0, 23.0, 2.5},
        {"tanh", nnrti_tanh, tanhl, -1e-6, 1e-6, 2.5},  {"erf", nnrti_erf, erfl, -1.3, 1.3, 3.5},
        {"erf", nnrti_erf, erfl, -6.5, 6.5, 3.5},       {"erf", nnrti_erf, erfl, -1e-300, 1e-300, 3.5},
        {"sin", nnrti_sin, sinl, -0.785, 0.785, 1.48},  {"sin", nnrti_sin, sinl, -20.0, 20.0, 1.48},
        {"sin", nnrti_sin, sinl, -1e9, 1e9, 1.48},      {"sin", nnrti_sin, sinl, -1e308, 1e308, 1.48},
        {"cos", nnrti_cos, cosl, -0.785, 0.785, 1.47},  {"cos", nnrti_cos, cosl, -20.0, 20.0, 1.47},
        {"cos", nnrti_cos, cosl, -1e9, 1e9, 1.47},      {"cos", nnrti_cos, cosl, -1e308, 1e308, 1.47},
        {"sqrt", nnrti_sqrt, sqrtl, 0.0, 1e5, 0.5},
        {"tan", nnrti_tan, tanl, -0.785, 0.785, 3.46},    {"tan", nnrti_tan, tanl, -20.0, 20.0, 3.46},
        {"tan", nnrti_tan, tanl, -1e9, 1e9, 3.46},        {"atan", nnrti_atan, atanl, -0.42, 0.42, 1.90},
        {"atan", nnrti_atan, atanl, -5.0, 5.0, 1.90},    {"atan", nnrti_atan, atanl, -1e-300, 1e-300, 1.90},
        {"asin", nnrti_asin, asinl, -1.0, 1.0, 2.98},    {"asin", nnrti_asin, asinl, 0.999, 1.0, 2.98},
        {"acos", nnrti_acos, acosl, -1.0, 1.0, 2.71},    {"acos", nnrti_acos, acosl, 0.999, 1.0, 2.71},
        {"sinh", nnrti_sinh, sinhl, -1.0, 1.0, 2.18},    {"sinh", nnrti_sinh, sinhl, -23.0, 23.0, 2.18},
        {"sinh", nnrti_sinh, sinhl, -711.0, 711.0, 2.18}, {"cosh", nnrti_cosh, coshl, -1.0, 1.0, 1.17},
        {"cosh", nnrti_cosh, coshl, -711.0, 711.0, 1.17}, {"asinh", nnrti_asinh, asinhl, -1.0, 1.0, 2.12},
        {"asinh", nnrti_asinh, asinhl, -1e9, 1e9, 2.12}, {"asinh", nnrti_asinh, asinhl, -1e-3, 1e-3, 2.12},
        {"acosh", nnrti_acosh, acoshl, 1.0, 2.0, 2.57}, {"acosh", nnrti_acosh, acoshl, 1.0, 1e9, 2.57},
        {"acosh", nnrti_acosh, acoshl, 1.0, 1.001, 2.57}, {"atanh", nnrti_atanh, atanhl, -1.0, 1.0, 2.40},
        {"atanh", nnrti_atanh, atanhl, -0.1, 0.1, 2.40}, {"atanh", nnrti_atanh, atanhl, 0.999, 1.0, 2.40},
    };
    uint64_t seed = 7;
    size_t r;
    (void)state;
    for (r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        long double sample = rows[r].reference(0.7L);
        double spare = sample != (long double)(double)sample ? 0.01 : 1.0;
        int32_t i;
        for (i = 0; i < 40000; i++) {
            double x = random_between(&seed, rows[r].lo, rows[r].hi);
            double e = ulp_error(rows[r].fn(x), rows[r].reference((long double)x), 53, -1021, 1024);
            if (e > rows[r].bound + spare) {
                print_error("%s(%.17g): %.4f ulp, allowed %.4f\n", rows[r].name, x, e, rows[r].bound);
                fail();
            }
        }
    }
}

static void test_double_specials(void **state) {
    static const struct {
        double_fn fn, reference;
    } rows[] = {{nnrti_exp, exp}, {nnrti_log, log}, {nnrti_tanh, tanh}, {nnrti_erf, erf}, {nnrti_sqrt, sqrt},
                {nnrti_sin, sin}, {nnrti_cos, cos}, {nnrti_tan, tan}, {nnrti_atan, atan}, {nnrti_asin, asin},
                {nnrti_acos, acos}, {nnrti_sinh, sinh}, {nnrti_cosh, cosh}, {nnrti_asinh, asinh},
                {nnrti_acosh, acosh}, {nnrti_atanh, atanh}};
    static const double x[] = {0.0,    -0.0,    1.0,      -1.0,      1e308, -1e308,
                               5e-324, -5e-324, HUGE_VAL, -HUGE_VAL, 710.0, -746.0};
    size_t r, i;
    (void)state;
    for (r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (i = 0; i < sizeof x / sizeof x[0]; i++) {
            double y = rows[r].fn(x[i]), want = rows[r].reference(x[i]);
            if (ulp_error(y, want, 53, -1021, 1024) > 3.0 || (want != want && double_bits(y) != DOUBLE_NAN)) {
                print_error("function %u at %g: %.17g, want %.17g\n", (unsigned)r, x[i], y, want);
                fail();
            }
        }
        assert_true(double_bits(rows[r].fn(-bits_double(DOUBLE_NAN | 9u))) == DOUBLE_NAN);
    }
}

/* >>pow */

/* Every pair of special numbers: where the C library (Annex F) gives 0, 1, infinity or NaN, so do we, sign included. */
static void test_pow_specials(void **state) {
    static const double v[] = {0.0,   -0.0,   1.0,    -1.0,    2.0,      -2.0,      3.0,  -3.0,
                               0.5,   -0.5,   1.5,    -1.5,    0.99999,  -1.00001,  1e30, 9007199254740991.0,
                               1e308, -1e308, 5e-324, -5e-324, HUGE_VAL, -HUGE_VAL, -9007199254740991.0,
                               9007199254740992.0};
    const double nan_value = bits_double((uint64_t)0xfff80000u << 32 | 5u);
    size_t n = sizeof v / sizeof v[0], i, j;
    (void)state;
    for (i = 0; i <= n; i++) {
        for (j = 0; j <= n; j++) {
            double x = i == n ? nan_value : v[i], y = j == n ? nan_value : v[j];
            double want = pow(x, y), got = nnrti_pow(x, y);
            float xf = (float)x, yf = (float)y, gotf = nnrt_powf(xf, yf);
            double ef = float_ulps(gotf, pow((double)xf, (double)yf));
            if (ulp_error(got, want, 53, -1021, 1024) > 20.0 || ef > 1.0 ||
                (want != want && double_bits(got) != DOUBLE_NAN) ||
                (gotf != gotf && float_bits(gotf) != 0x7fc00000u)) {
                print_error("pow(%g, %g) = %.17g, want %.17g; float %.9g\n", x, y, got, want, (double)gotf);
                fail();
            }
        }
    }
}

/* The rows of C Annex F by hand, in case the C library errs. */
static void test_pow_annex_f(void **state) {
    const double inf = HUGE_VAL, nan_value = bits_double(DOUBLE_NAN);
    const struct {
        double x, y, want;
    } rows[] = {
        {0.0, -3.0, inf},   {-0.0, -3.0, -inf}, {-0.0, -2.0, inf},  {-0.0, -0.5, inf},      {0.0, -inf, inf},
        {-0.0, 3.0, -0.0},  {0.0, 3.0, 0.0},    {-0.0, 2.0, 0.0},   {-0.0, 0.5, 0.0},       {-1.0, inf, 1.0},
        {-1.0, -inf, 1.0},  {1.0, inf, 1.0},    {1.0, nan_value, 1.0}, {nan_value, 0.0, 1.0}, {nan_value, -0.0, 1.0},
        {0.5, -inf, inf},   {2.0, -inf, 0.0},   {-0.5, inf, 0.0},   {-2.0, inf, inf},       {-inf, -3.0, -0.0},
        {-inf, -2.0, 0.0},  {-inf, -0.5, 0.0},  {-inf, 3.0, -inf},  {-inf, 2.0, inf},       {-inf, 0.5, inf},
        {inf, -0.5, 0.0},   {inf, 0.5, inf},    {-8.0, 3.0, -512.0}, {-8.0, -1.0, -0.125},  {2.0, -1074.0, 5e-324},
        {2.0, 1023.0, 8.98846567431158e307},    {2.0, 1024.0, inf}, {-2.0, 1025.0, -inf},   {-2.0, -1077.0, -0.0},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double got = nnrti_pow(rows[i].x, rows[i].y);
        if (double_bits(got) != double_bits(rows[i].want)) {
            print_error("pow(%g, %g) = %.17g, want %.17g\n", rows[i].x, rows[i].y, got, rows[i].want);
            fail();
        }
    }
    assert_true(nnrti_isnan(nnrti_pow(-8.0, 1.0 / 3.0)));
    assert_true(nnrti_isnan(nnrti_pow(nan_value, 1.0)));
    assert_true(nnrti_isnan(nnrti_pow(2.0, nan_value)));
}

/* a^n, odd a, below 2^53, by integer multiplication; also of -a and of a scaled by powers of two. */
static void test_pow_exact(void **state) {
    uint64_t a;
    (void)state;
    for (a = 3; a < 94906266u; a += a < 4000u ? 2u : 20002u) {
        uint64_t p = a;
        int n;
        for (n = 2; p <= 9007199254740992u / a; n++) {
            int s;
            p *= a;
            assert_true(nnrti_pow((double)a, (double)n) == (double)p);
            assert_true(nnrti_pow(-(double)a, (double)n) == (n % 2 != 0 ? -(double)p : (double)p));
            for (s = -9; s < 10; s += 6) {
                assert_true(nnrti_pow(ldexp((double)a, s), (double)n) == ldexp((double)p, s * n));
            }
            if (p < 16777216u) {
                assert_true(nnrt_powf((float)a, (float)n) == (float)p);
            }
        }
        assert_true(nnrti_pow((double)(a * a), 0.5) == (double)a);
    }
}

static void test_pow_errors(void **state) {
    uint64_t seed = 99;
    int32_t i;
    (void)state;
    for (i = 0; i < 150000; i++) {
        double x = (i & 1) != 0 ? random_between(&seed, 0.0, 9.0)
                                : ldexp(random_between(&seed, 1.0, 2.0), (int)random_between(&seed, -1070.0, 1023.0));
        double l = log(x), y = random_between(&seed, -744.0, 709.0) / l, g;
        float xf = (float)x, yf = (float)(y * 0.12);
        long double want;
        if (!(fabs(l) > 1e-3)) {
            continue;
        }
        want = powl((long double)x, (long double)y);
        g = nnrti_pow(x, y);
        if (want > 2.3e-308L && want < 1.79e308L && !(fabsl((long double)g - want) <= want * 1e-14L)) {
            print_error("pow(%.17g, %.17g) = %.17g, want %.17g\n", x, y, g, (double)want);
            fail();
        }
        if (!(float_ulps(nnrt_powf(xf, yf), pow((double)xf, (double)yf)) <= 0.51)) {
            print_error("powf(%.9g, %.9g) = %.9g\n", (double)xf, (double)yf, (double)nnrt_powf(xf, yf));
            fail();
        }
    }
}

/* >>bits */

static uint64_t hash_add(uint64_t h, uint64_t v) {
    int i;
    for (i = 0; i < 8; i++) { /* FNV-1a */
        h = (h ^ ((v >> (8 * i)) & 0xffu)) * 0x100000001b3u;
    }
    return h;
}

/* An argument with any sign and fraction and a binary exponent of -20 to 11, where most of the work is; every eighth
 * with any bits at all. */
static uint32_t hash_argument(uint64_t *seed) {
    uint64_t v = next_random(seed);
    uint32_t u = (uint32_t)(v >> 32);
    return (v & 7u) == 0u ? u : (u & 0x807fffffu) | (107u + ((uint32_t)v >> 4) % 32u) << 23;
}

/* The same for double, `n` binary exponents from `low` on. */
static double hash_double(uint64_t *seed, int low, unsigned n) {
    uint64_t v = next_random(seed), w = next_random(seed);
    uint64_t e = (uint64_t)(1023 + low) + (w >> 4) % n;
    return bits_double((w & 7u) == 0u ? v : (v & ~((uint64_t)0x7ff << 52)) | e << 52);
}

/* Plain loops over each function, which a compiler may inline and turn into vectors. */
#define FLOAT_LOOP(fn) \
    static void loop_##fn(float *y, const float *x, int32_t n) { \
        int32_t i; \
        for (i = 0; i < n; i++) { \
            y[i] = fn(x[i]); \
        } \
    }
#define DOUBLE_LOOP(fn) \
    static void loop_##fn(double *y, const double *x, int32_t n) { \
        int32_t i; \
        for (i = 0; i < n; i++) { \
            y[i] = fn(x[i]); \
        } \
    }
FLOAT_LOOP(nnrt_expf)
FLOAT_LOOP(nnrti_expm1f)
FLOAT_LOOP(nnrt_logf)
FLOAT_LOOP(nnrti_log1pf)
FLOAT_LOOP(nnrti_tanhf)
FLOAT_LOOP(nnrti_erff)
FLOAT_LOOP(nnrti_sigmoidf)
FLOAT_LOOP(nnrt_sinf)
FLOAT_LOOP(nnrt_cosf)
FLOAT_LOOP(nnrti_tanf)
FLOAT_LOOP(nnrti_asinf)
FLOAT_LOOP(nnrti_acosf)
FLOAT_LOOP(nnrti_atanf)
FLOAT_LOOP(nnrti_sinhf)
FLOAT_LOOP(nnrti_coshf)
FLOAT_LOOP(nnrti_asinhf)
FLOAT_LOOP(nnrti_acoshf)
FLOAT_LOOP(nnrti_atanhf)
FLOAT_LOOP(nnrt_sqrtf)
FLOAT_LOOP(nnrti_floorf)
FLOAT_LOOP(nnrti_ceilf)
FLOAT_LOOP(nnrti_truncf)
FLOAT_LOOP(nnrti_roundf)
FLOAT_LOOP(nnrti_roundevenf)
DOUBLE_LOOP(nnrti_exp)
DOUBLE_LOOP(nnrti_log)
DOUBLE_LOOP(nnrti_tanh)
DOUBLE_LOOP(nnrti_erf)
DOUBLE_LOOP(nnrti_sin)
DOUBLE_LOOP(nnrti_cos)
DOUBLE_LOOP(nnrti_tan)
DOUBLE_LOOP(nnrti_asin)
DOUBLE_LOOP(nnrti_acos)
DOUBLE_LOOP(nnrti_atan)
DOUBLE_LOOP(nnrti_sinh)
DOUBLE_LOOP(nnrti_cosh)
DOUBLE_LOOP(nnrti_asinh)
DOUBLE_LOOP(nnrti_acosh)
DOUBLE_LOOP(nnrti_atanh)
DOUBLE_LOOP(nnrti_sqrt)
DOUBLE_LOOP(nnrti_roundeven)

/* The results of fixed arguments have fixed bits with every compiler and on every processor. If this test fails and the
 * others pass, look at contraction first (clang -ffp-contract=fast needs NNRT_FP_STRICT), then at FLT_EVAL_METHOD,
 * -ffast-math and flushing to zero. */
static void test_bits(void **state) {
    static const struct {
        const char *name;
        void (*loop)(float *y, const float *x, int32_t n);
        void (*double_loop)(double *y, const double *x, int32_t n);
        uint64_t hash;
    } rows[] = {
        {"expf", loop_nnrt_expf, NULL, 0x3f4bf8e680db00a8u},
        {"expm1f", loop_nnrti_expm1f, NULL, 0x4241df6ad0764722u},
        {"logf", loop_nnrt_logf, NULL, 0x9f27781f5044f201u},
        {"log1pf", loop_nnrti_log1pf, NULL, 0xbe3c51ae639903ffu},
        {"tanhf", loop_nnrti_tanhf, NULL, 0x717b0311451979c9u},
        {"erff", loop_nnrti_erff, NULL, 0x27d897d0fa4a3698u},
        {"sigmoidf", loop_nnrti_sigmoidf, NULL, 0x58fc531276d7f0d8u},
        {"sinf", loop_nnrt_sinf, NULL, 0x0c87df8f2b8c2524u},
        {"cosf", loop_nnrt_cosf, NULL, 0x72bc71cea76b85cbu},
        {"tanf", loop_nnrti_tanf, NULL, 0x5316cdb0a4bfc2c8u},
        {"asinf", loop_nnrti_asinf, NULL, 0x3d4e3a46de196bd7u},
        {"acosf", loop_nnrti_acosf, NULL, 0x0cc653f1e53c2bccu},
        {"atanf", loop_nnrti_atanf, NULL, 0xdb9fa4e35e2de7e0u},
        {"sinhf", loop_nnrti_sinhf, NULL, 0xa7ee181b64366f6du},
        {"coshf", loop_nnrti_coshf, NULL, 0xbe051901c798ed88u},
        {"asinhf", loop_nnrti_asinhf, NULL, 0x21b20e9bb54beeaau},
        {"acoshf", loop_nnrti_acoshf, NULL, 0xe374900e63c10ab9u},
        {"atanhf", loop_nnrti_atanhf, NULL, 0x5b581e6f063a66b6u},
        {"sqrtf", loop_nnrt_sqrtf, NULL, 0x4478b77a91e7f954u},
        {"floorf", loop_nnrti_floorf, NULL, 0x9b297f269430f05au},
        {"ceilf", loop_nnrti_ceilf, NULL, 0x7ec25f8b7c004306u},
        {"truncf", loop_nnrti_truncf, NULL, 0x0f3f4829f8ef2fd2u},
        {"roundf", loop_nnrti_roundf, NULL, 0x2bdb874a53a974c0u},
        {"roundevenf", loop_nnrti_roundevenf, NULL, 0xc3875367bba973c6u},
        {"exp", NULL, loop_nnrti_exp, 0xeb5a87fbe09212e4u},
        {"log", NULL, loop_nnrti_log, 0x3e3b9268943d3074u},
        {"tanh", NULL, loop_nnrti_tanh, 0x13c288a6a699bf5bu},
        {"erf", NULL, loop_nnrti_erf, 0xc9109be0fd0cb8b7u},
        {"sin", NULL, loop_nnrti_sin, 0x6eb2519ef1d51293u},
        {"cos", NULL, loop_nnrti_cos, 0xc65bf4c0e329af51u},
        {"tan", NULL, loop_nnrti_tan, 0xf99c3c4c2afaaaacu},
        {"asin", NULL, loop_nnrti_asin, 0x1aefbda5c36b2c37u},
        {"acos", NULL, loop_nnrti_acos, 0xf36019a738a4262du},
        {"atan", NULL, loop_nnrti_atan, 0x98f6edc968927227u},
        {"sinh", NULL, loop_nnrti_sinh, 0x50c0ceaabb35a422u},
        {"cosh", NULL, loop_nnrti_cosh, 0xc860cef5d5c05cc8u},
        {"asinh", NULL, loop_nnrti_asinh, 0x8975797cd21203e9u},
        {"acosh", NULL, loop_nnrti_acosh, 0x775fbb78d17da539u},
        {"atanh", NULL, loop_nnrti_atanh, 0x32e0e6420b4ed88du},
        {"sqrt", NULL, loop_nnrti_sqrt, 0x482e90175ab18d4eu},
        {"roundeven", NULL, loop_nnrti_roundeven, 0x29681dc48fce71f9u},
    };
    enum { N = 20000 };
    static float xf[N], yf[N];
    static double xd[N], yd[N];
    const uint64_t start = ((uint64_t)0xcbf29ce4u << 32) | 0x84222325u;
    uint64_t seed = 42, h = start, hf = start;
    size_t r, wrong = 0;
    int32_t i;
    (void)state;
    for (i = 0; i < N; i++) {
        xf[i] = bits_float(hash_argument(&seed));
        xd[i] = hash_double(&seed, -40, 64u);
    }
    for (r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        h = start;
        if (rows[r].loop != NULL) {
            rows[r].loop(yf, xf, N);
        } else {
            rows[r].double_loop(yd, xd, N);
        }
        for (i = 0; i < N; i++) {
            h = hash_add(h, rows[r].loop != NULL ? float_bits(yf[i]) : double_bits(yd[i]));
        }
        if (h != rows[r].hash) {
            print_error("%s: hash 0x%08x%08xu\n", rows[r].name, (unsigned)(h >> 32), (unsigned)h);
            wrong++;
        }
    }
    for (i = 0, h = start; i < N; i++) {
        double x = hash_double(&seed, -20, 40u), y = hash_double(&seed, -6, 10u);
        uint32_t u = hash_argument(&seed), v = (hash_argument(&seed) & 0x83ffffffu) | 0x3c000000u;
        h = hash_add(h, double_bits(nnrti_pow(i % 4 != 0 ? fabs(x) : x, i % 4 != 0 ? y : floor(y))));
        hf = hash_add(hf, float_bits(nnrt_powf(bits_float(i % 4 != 0 ? u & 0x7fffffffu : u), bits_float(v))));
    }
    if (h != 0x7ac4d152acb7630au || hf != 0xf78b413ca33d75f7u) {
        print_error("pow: hash 0x%08x%08xu\npowf: hash 0x%08x%08xu\n", (unsigned)(h >> 32), (unsigned)h,
                    (unsigned)(hf >> 32), (unsigned)hf);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* The processor's modes: another rounding, and subnormal numbers that become 0, are seen. */
static void test_modes(void **state) {
    static const int modes[] = {
#ifdef FE_UPWARD
        FE_UPWARD,
#endif
#ifdef FE_DOWNWARD
        FE_DOWNWARD,
#endif
#ifdef FE_TOWARDZERO
        FE_TOWARDZERO,
#endif
        FE_TONEAREST};
    const size_t count = sizeof(modes) / sizeof(modes[0]);
    size_t i;
    (void)state;
    assert_int_equal(nnrt_same_bits(), NNRT_SAME_BITS);
    for (i = 0; i < count; i++) {
        bool same;
        if (fesetround(modes[i]) != 0 || fegetround() != modes[i]) {
            continue;
        }
        same = nnrt_same_bits();
        (void)fesetround(FE_TONEAREST);
        assert_int_equal(same, NNRT_SAME_BITS && modes[i] == FE_TONEAREST);
    }
#ifdef __SSE__
    for (i = 0; i < 2; i++) {
        const unsigned int before = _mm_getcsr();
        bool same;
        _mm_setcsr(before | (i == 0 ? 0x8000u : 0x0040u)); /* results that would be subnormal; operands that are */
        same = nnrt_same_bits();
        _mm_setcsr(before);
        assert_false(same);
    }
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_float_errors),   cmocka_unit_test(test_float_seams),
        cmocka_unit_test(test_float_specials), cmocka_unit_test(test_huge_angles),
        cmocka_unit_test(test_huge_double_angles),
#ifndef _WIN32
        cmocka_unit_test(test_double_angles_of_each_exponent),
#endif
        cmocka_unit_test(test_rounding),       cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_rounding),  cmocka_unit_test(test_double_errors),
        cmocka_unit_test(test_double_specials), cmocka_unit_test(test_pow_specials),
        cmocka_unit_test(test_pow_annex_f),    cmocka_unit_test(test_pow_exact),
        cmocka_unit_test(test_pow_errors),     cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
