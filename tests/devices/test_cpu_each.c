/* The fast device (devices/nnrt_cpu.h) with each instruction set of this machine: elementwise functions, reductions,
   and normalizations. Expected values are computed in double by the C library; the error bound is a number of
   roundings, each 2^-24 of the rounded value (ROUNDING), or 2 ulp. */
#define _XOPEN_SOURCE 700
#include <float.h>
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

/* ---- unary functions ---- */

/* NaN below 1: the acosh of musl is wrong for large negative numbers. */
static double inverse_cosh(double x)
{
    return x < 1 ? (double)NAN : acosh(x);
}
static double leaky(double x)
{
    return x < 0 ? 0.25 * x : x;
}
static double elu(double x)
{
    return x < 0 ? 1.5 * expm1(x) : x;
}
static double selu(double x)
{
    return (double)1.05070098f * (x < 0 ? (double)1.67326324f * expm1(x) : x);
}
static double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}
static double softsign(double x)
{
    return isinf(x) ? copysign(1, x) : x / (1 + fabs(x));
}
static double bounded(double x)
{
    return x < -2 ? -2 : x > 1.5 ? 1.5 : x;
}
static double gelu(double x) /* its tanh is 1 - 2 / (1 + e^2u) */
{
    const double u = (double)0.7978845608f * (x + (double)0.044715f * x * x * x);
    return x < -1e5 ? 0 : x * (1 - 1 / (1 + exp(2 * u)));
}
static double mish(double x)
{
    return x < -800 ? 0 : x * tanh(softplus(x));
}
static double exp_of(double x)
{
    return exp(0.5 * x + 0.25);
}
static double root(double x)
{
    return sqrt(x);
}
static double one_by_root(double x)
{
    return 1 / sqrt(x);
}
static double square(double x)
{
    return x * x;
}
static double cube(double x)
{
    return x * x * x;
}
static double sign_of(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}
static double negative(double x)
{
    return -x;
}
static double reciprocal(double x)
{
    return 1 / x;
}
static double hard_sigmoid(double x)
{
    const double y = 0.25 * x + 0.5;
    return y < 0 ? 0 : y > 1 ? 1 : y;
}

static const NNRT_Activation of_leaky = {NNRT_ACTIVATION_TYPE_LEAKY_RELU, 0.25f, 0, 0, false};
static const NNRT_Activation of_elu = {NNRT_ACTIVATION_TYPE_ELU, 1.5f, 0, 0, false};
static const NNRT_Activation of_selu = {NNRT_ACTIVATION_TYPE_SELU, 0, 0, 0, false};
static const NNRT_Activation of_softplus = {NNRT_ACTIVATION_TYPE_SOFTPLUS, 0, 0, 0, false};
static const NNRT_Activation of_softsign = {NNRT_ACTIVATION_TYPE_SOFTSIGN, 0, 0, 0, false};
static const NNRT_Activation of_bounds = {NNRT_ACTIVATION_TYPE_HARD_TANH, 0, -2, 1.5f, false};
static const NNRT_Activation of_gelu = {NNRT_ACTIVATION_TYPE_GELU, 0, 0, 0, true};
static const NNRT_Activation of_sign = {NNRT_ACTIVATION_TYPE_SIGN, 0, 0, 0, false};
static const NNRT_ExpFusion of_exp = {-1, 0.5f, 0.25f};
static const NNRT_LeakyRelu of_slope = {0.25f};
static const NNRT_HardSigmoid of_hard_sigmoid = {0.25f, 0.5f};
static const NNRT_Softplus of_plus = {1, 20};
static const NNRT_Clip of_clip = {1.5f, -2};
static const NNRT_PowFusion of_power = {1, 0};

/* Error bound of a result: ulps of the result, and a part of max(1, |x|); a part below 1e-30 is absolute. */
typedef struct one {
    NNRT_NodeType type;
    const void *attr;
    double (*exact)(double x);
    double ulps, part;
    float power; /* of POW_FUSION */
} one;

static const one ones[] = {
    {NNRT_NODE_TYPE_ACTIVATION, &of_leaky, leaky, 0.5, 0, 0},
    {NNRT_NODE_TYPE_LEAKY_RELU, &of_slope, leaky, 0.5, 0, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_elu, elu, 4, 0, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_selu, selu, 5, 0, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_softplus, softplus, 6, 1.2e-38, 0},
    {NNRT_NODE_TYPE_SOFTPLUS, &of_plus, softplus, 6, 1.2e-38, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_softsign, softsign, 1.5, 0, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_bounds, bounded, 0, 0, 0},
    {NNRT_NODE_TYPE_CLIP, &of_clip, bounded, 0, 0, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_gelu, gelu, 8, 0x1p-21, 0}, /* 1 + tanh is off by 4 ulps of 1, times |x| / 2 */
    {NNRT_NODE_TYPE_MISH, NULL, mish, 8, 1.2e-38, 0},
    {NNRT_NODE_TYPE_EXPFUSION, &of_exp, exp_of, 2.5 + 104, 1.5e-45, 0}, /* its argument, at most 104, is rounded */
    {NNRT_NODE_TYPE_LOG, NULL, log, 2, 0, 0},
    {NNRT_NODE_TYPE_SQRT, NULL, root, 0.5, 0, 0},
    {NNRT_NODE_TYPE_RSQRT, NULL, one_by_root, 1.5, 0, 0},
    {NNRT_NODE_TYPE_SQUARE, NULL, square, 0.5, 7.1e-46, 0},
    {NNRT_NODE_TYPE_POW_FUSION, &of_power, square, 0.5, 7.1e-46, 2},
    {NNRT_NODE_TYPE_POW_FUSION, &of_power, cube, 1, 1.5e-45, 3},
    {NNRT_NODE_TYPE_ERF, NULL, erf, 2, 0x1p-22, 0},
    {NNRT_NODE_TYPE_SIN, NULL, sin, 2, 0, 0},
    {NNRT_NODE_TYPE_COS, NULL, cos, 2, 0, 0},
    {NNRT_NODE_TYPE_TAN, NULL, tan, 4, 0, 0},
    {NNRT_NODE_TYPE_ATAN, NULL, atan, 2, 0, 0},
    {NNRT_NODE_TYPE_ASIN, NULL, asin, 3, 0, 0},
    {NNRT_NODE_TYPE_ACOS, NULL, acos, 3, 0, 0},
    {NNRT_NODE_TYPE_SINH, NULL, sinh, 4, 0, 0},
    {NNRT_NODE_TYPE_COSH, NULL, cosh, 4, 0, 0},
    {NNRT_NODE_TYPE_ASINH, NULL, asinh, 4, 0, 0},
    {NNRT_NODE_TYPE_ACOSH, NULL, inverse_cosh, 4, 0, 0},
    {NNRT_NODE_TYPE_ATANH, NULL, atanh, 4, 0, 0},
    {NNRT_NODE_TYPE_ABS, NULL, fabs, 0, 0, 0},
    {NNRT_NODE_TYPE_NEG, NULL, negative, 0, 0, 0},
    {NNRT_NODE_TYPE_ACTIVATION, &of_sign, sign_of, 0, 0, 0},
    {NNRT_NODE_TYPE_RECIPROCAL, NULL, reciprocal, 0.5, 0, 0},
    {NNRT_NODE_TYPE_FLOOR, NULL, floor, 0, 0, 0},
    {NNRT_NODE_TYPE_CEIL, NULL, ceil, 0, 0, 0},
    {NNRT_NODE_TYPE_ROUND, NULL, nearbyint, 0, 0, 0},
    {NNRT_NODE_TYPE_HARD_SIGMOID, &of_hard_sigmoid, hard_sigmoid, 1, 6e-8, 0},
};

static NNRT_Model *model_of_one(const one *o, int32_t count)
{
    nnrt_builder *b = NULL;
    uint32_t in[2], n = 1;
    assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 1, &count);
    if (o->power != 0)
        in[n++] = nnrt_builder_constant(b, "power", F32, 0, NULL, &o->power, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", o->type, o->attr, in, n));
    return finish(b);
}

/* The first elements alone, and shared by workers: results do not depend on the position of an element. */
static void check_few(const one *o, uint32_t s, const float *x, const float *y)
{
    static const int32_t counts[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 3000};
    for (uint32_t i = 0; i < COUNT(counts); i++)
        for (uint32_t workers = 0; workers <= 3; workers += 3) {
            const size_t n = (size_t)counts[i];
            NNRT_Model *model = model_of_one(o, counts[i]);
            float *few = reals(n);
            (void)run_on(sets[s], model, x, n, few, n, workers);
            if (memcmp(few, y, n * sizeof(float)) != 0)
                fail_msg("%s of %d elements on %s has other bits than of many", nnrt_op_find(o->type)->name, (int)n, sets[s]);
            nnrt_model_destroy(model);
            free(few);
        }
}

/* Floats of all magnitudes and both signs, infinities and NaN. */
static void test_of_one(void **unused)
{
    enum { MANY = 40011 };
    float *x = reals(MANY), *y = reals(MANY);
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t bits = draw(0x8000u) << 16 | draw(0x10000u) | (i % 2 == 0 ? 0x80000000u : 0);
        x[i] = i < 30000 ? ((float)i - 15000.0f) / 500.0f : 0;
        if (i >= 30000)
            memcpy(&x[i], &bits, sizeof(bits));
    }
    x[MANY - 1] = INFINITY;
    x[MANY - 2] = -INFINITY;
    x[MANY - 3] = NAN;
    x[MANY - 4] = -0.0f;
    for (uint32_t r = 0; r < COUNT(ones); r++) {
        const one *o = &ones[r];
        NNRT_Model *model = model_of_one(o, MANY);
        kernel = "unary";
        for (uint32_t s = 0; s < nSets; s++) {
            if (has_no_floats(s))
                continue;
            (void)run_on(sets[s], model, x, MANY, y, MANY, 0);
            for (uint32_t i = 0; i < MANY; i++) {
                const double exact = o->exact((double)x[i]), least = fabs(exact) > 0x1p-126 ? fabs(exact) : 0x1p-126;
                const double most = fabs((double)x[i]) > 1 && o->part > 1e-30 ? fabs((double)x[i]) : 1;
                if (exact != exact ? y[i] == y[i]
                                   : !(fabs((double)y[i] - exact) <= (o->ulps * least * 0x1p-23 + o->part * most) * SECOND) &&
                                         !((double)y[i] == exact) && !(exact > FLT_MAX && y[i] > FLT_MAX) &&
                                         !(exact < -FLT_MAX && y[i] < -FLT_MAX))
                    fail_msg("%s of %.9g on %s is %.9g, expected %.9g", nnrt_op_find(o->type)->name, (double)x[i], sets[s],
                             (double)y[i], exact);
                if (exact == 0 && (o->ulps <= 0.5 || o->type == NNRT_NODE_TYPE_SIN) && y[i] == 0)
                    assert_int_equal(signbit(y[i]) != 0, signbit(exact) != 0);
            }
            check_few(o, s, x, y);
        }
        kernel = NULL;
        nnrt_model_destroy(model);
    }
    free(y);
    free(x);
}

/* Attributes that need another formula are left to the reference device: results are bit-identical to it. */
static void test_left(void **unused)
{
    static const NNRT_ExpFusion base = {2, 1, 0};
    static const NNRT_Softplus steep = {2, 20}, early = {1, 3};
    static const NNRT_PowFusion scaled = {2, 0}, moved = {1, 0.5f};
    static const one left[] = {
        {NNRT_NODE_TYPE_EXPFUSION, &base, exp2, 0, 0, 0},        {NNRT_NODE_TYPE_SOFTPLUS, &steep, softplus, 0, 0, 0},
        {NNRT_NODE_TYPE_SOFTPLUS, &early, softplus, 0, 0, 0},    {NNRT_NODE_TYPE_POW_FUSION, &scaled, square, 0, 0, 2},
        {NNRT_NODE_TYPE_POW_FUSION, &moved, square, 0, 0, 2},
    };
    float x[100], y[100], z[100];
    (void)unused;
    for (uint32_t i = 0; i < COUNT(x); i++)
        x[i] = (float)i / 10;
    for (uint32_t r = 0; r < COUNT(left); r++) {
        NNRT_Model *model = model_of_one(&left[r], COUNT(x));
        (void)run_on("cpu", model, x, COUNT(x), y, COUNT(y), 0);
        (void)run_on("reference", model, x, COUNT(x), z, COUNT(z), 0);
        assert_memory_equal(y, z, sizeof(y));
        nnrt_model_destroy(model);
    }
}

/* CLIP with constant bounds. */
static void test_clip(void **unused)
{
    const int32_t count = 37;
    const float low = -0.25f, high = 0.5f;
    (void)unused;
    state = 2;
    for (uint32_t way = 0; way < 4; way++) { /* which of the two exist */
        nnrt_builder *b = NULL;
        float *x = reals(37), *expected = reals(37), *bound = reals(37);
        uint32_t in[3];
        NNRT_Model *model;
        assert_int_equal(nnrt_builder_create(&b, "clip", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 1, &count);
        in[1] = way & 1 ? nnrt_builder_constant(b, "low", F32, 0, NULL, &low, false) : NNRT_NO_TENSOR;
        in[2] = way & 2 ? nnrt_builder_constant(b, "high", F32, 0, NULL, &high, false) : NNRT_NO_TENSOR;
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CLIP, NULL, in, 3));
        model = finish(b);
        x[3] = NAN;
        for (int32_t i = 0; i < count; i++) {
            expected[i] = (way & 1) != 0 && x[i] < low ? low : (way & 2) != 0 && x[i] > high ? high : x[i];
            bound[i] = 0;
        }
        kernel = "unary";
        check_all(model, x, 37, 37, expected, bound, "a clip");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* ---- binary functions ---- */

static float combined(NNRT_NodeType type, float x, float y)
{
    switch (type) {
    case NNRT_NODE_TYPE_DIV_FUSION:
    case NNRT_NODE_TYPE_REAL_DIV: return x / y;
    case NNRT_NODE_TYPE_MAXIMUM: return x > y ? x : y;
    case NNRT_NODE_TYPE_MINIMUM: return x < y ? x : y;
    case NNRT_NODE_TYPE_SQUARED_DIFFERENCE: return (x - y) * (x - y);
    case NNRT_NODE_TYPE_PRELU_FUSION: return x < 0 ? y * x : x;
    default: return x + y; /* BIAS_ADD */
    }
}

/* x [2,a,b,c] and a constant, per channel or broadcast on any axes, as the first or second operand. One rounding each,
   so results are bit-identical; a squared difference has two. Either operand may contain NaN. */
static void test_of_two(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_DIV_FUSION, NNRT_NODE_TYPE_REAL_DIV,           NNRT_NODE_TYPE_MAXIMUM,
                                          NNRT_NODE_TYPE_MINIMUM,    NNRT_NODE_TYPE_SQUARED_DIFFERENCE, NNRT_NODE_TYPE_PRELU_FUSION,
                                          NNRT_NODE_TYPE_BIAS_ADD};
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < 210; i++) {
        const NNRT_NodeType type = types[i % COUNT(types)];
        const bool channels = type == NNRT_NODE_TYPE_PRELU_FUSION || type == NNRT_NODE_TYPE_BIAS_ADD;
        const bool first = channels && draw(2) == 0; /* [N,C,H,W] */
        const int32_t dims[4] = {2, 1 + (int32_t)draw(40), i % 20 == 19 && !channels ? 0 : 1 + (int32_t)draw(5), 1 + (int32_t)draw(40)};
        const int32_t C = first ? dims[1] : dims[3];
        const uint32_t kept = draw(16), at = channels ? 0 : draw(2);
        int32_t other[4];
        const size_t nX = product_of(4, dims);
        size_t nC = (size_t)C;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        float *x = reals(nX), *c, *expected = reals(nX), *bound = reals(nX);
        uint32_t in[2];
        for (uint32_t k = 0; k < 4; k++)
            other[k] = kept >> k & 1 ? dims[k] : 1;
        if (!channels)
            nC = product_of(4, other);
        c = reals(nC);
        if (nX > 3 && i % 4 == 0)
            x[draw((uint32_t)nX)] = NAN;
        if (nC > 0 && i % 5 == 0)
            c[draw((uint32_t)nC)] = i % 2 == 0 ? NAN : 0;
        assert_int_equal(nnrt_builder_create(&b, "two", NULL), NNRT_SUCCESS);
        in[at] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in[at], first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        in[1 - at] = nnrt_builder_constant(b, "c", F32, channels ? 1 : 4, channels ? &C : other, c, false);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", type, NULL, in, 2));
        model = finish(b);
        for (size_t k = 0; k < nX; k++) {
            const size_t w = k % (size_t)dims[3], h = k / (size_t)dims[3] % (size_t)(dims[2] > 0 ? dims[2] : 1);
            const size_t p = k / ((size_t)dims[3] * (size_t)dims[2]) % (size_t)dims[1];
            const size_t n = k / ((size_t)dims[3] * (size_t)dims[2] * (size_t)dims[1]);
            const size_t place = (((other[0] > 1 ? n : 0) * (size_t)other[1] + (other[1] > 1 ? p : 0)) * (size_t)other[2] +
                                  (other[2] > 1 ? h : 0)) * (size_t)other[3] + (other[3] > 1 ? w : 0);
            const float v = c[channels ? (first ? p : w) : place];
            expected[k] = at == 0 ? combined(type, x[k], v) : combined(type, v, x[k]);
            bound[k] = type == NNRT_NODE_TYPE_SQUARED_DIFFERENCE ? (float)(2 * ROUNDING) * fabsf(expected[k]) : 0;
        }
        kernel = "binary";
        check_all(model, x, nX, nX, expected, bound, nnrt_op_find(type)->name);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(c);
        free(x);
    }
}

/* ---- reductions ---- */

static double started(NNRT_ReduceMode mode)
{
    return mode == NNRT_REDUCE_MODE_MAX ? -INFINITY : mode == NNRT_REDUCE_MODE_MIN ? INFINITY : 0;
}

static double taken(NNRT_ReduceMode mode, double sum, double v)
{
    switch (mode) {
    case NNRT_REDUCE_MODE_MAX: return v > sum || v != v ? v : sum;
    case NNRT_REDUCE_MODE_MIN: return v < sum || v != v ? v : sum;
    case NNRT_REDUCE_MODE_SUM_SQUARE:
    case NNRT_REDUCE_MODE_L2: return sum + v * v;
    case NNRT_REDUCE_MODE_ASUM: return sum + fabs(v);
    default: return sum + v;
    }
}

/* x [N,C,H,W], with or without a 1x1 pool before it, which keeps the values but requires channels last (turned); any
   axes. Sums compensate their rounding errors: one rounding, and one each of a mean, a root, the squares and the
   factor. The errors of the compensation are n^2 2^-48 of the largest element. */
static void test_reductions(void **unused)
{
    static const NNRT_ReduceMode modes[] = {NNRT_REDUCE_MODE_MEAN, NNRT_REDUCE_MODE_MAX,  NNRT_REDUCE_MODE_MIN, NNRT_REDUCE_MODE_SUM,
                                            NNRT_REDUCE_MODE_SUM_SQUARE, NNRT_REDUCE_MODE_ASUM, NNRT_REDUCE_MODE_L2};
    static const int64_t cell[4] = {1, 1, 1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < 280; i++) {
        const int32_t dims[4] = {1 + (int32_t)draw(2), 1 + (int32_t)draw(i % 3 == 0 ? 150 : 20), 1 + (int32_t)draw(9),
                                 1 + (int32_t)draw(i % 3 == 1 ? 300 : 9)};
        const uint32_t axes = 1 + draw(15);
        const bool turned = draw(2) == 0;
        NNRT_ReduceFusion attr;
        NNRT_MaxPoolFusion pool;
        int32_t list[4], count = 0, kept[4];
        const size_t nX = product_of(4, dims);
        size_t nY = 0, n;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        float *x = reals(nX), *expected, *bound;
        double *sums;
        uint32_t in[2], y;
        memset(&attr, 0, sizeof(attr));
        attr.mode = modes[i % COUNT(modes)];
        attr.keepDims = draw(2) == 0;
        for (int32_t k = 0; k < 4; k++) {
            kept[k] = axes >> k & 1 ? 1 : dims[k];
            if (axes >> k & 1)
                list[count++] = k;
        }
        nY = product_of(4, kept);
        n = nX / nY;
        for (size_t k = 0; k < nX && i % 2 == 0; k++)
            x[k] += 1000; /* large sums: without compensation their errors exceed the bound */
        if (i % 9 == 0)
            x[draw((uint32_t)nX)] = NAN;
        if (i % 11 == 0)
            x[draw((uint32_t)nX)] = INFINITY;
        sums = (double *)malloc(nY * sizeof(double));
        expected = reals(nY);
        bound = reals(nY);
        for (size_t k = 0; k < nY; k++)
            sums[k] = started(attr.mode);
        for (size_t k = 0; k < nX; k++) {
            size_t place = 0, rest = k;
            int32_t index[4];
            for (int32_t a = 3; a >= 0; a--) {
                index[a] = (int32_t)(rest % (size_t)dims[a]);
                rest /= (size_t)dims[a];
            }
            for (int32_t a = 0; a < 4; a++)
                place = place * (size_t)kept[a] + (kept[a] > 1 ? (size_t)index[a] : 0);
            sums[place] = taken(attr.mode, sums[place], (double)x[k]);
        }
        for (size_t k = 0; k < nY; k++) {
            const bool chosen = attr.mode == NNRT_REDUCE_MODE_MAX || attr.mode == NNRT_REDUCE_MODE_MIN;
            const double sum = attr.mode == NNRT_REDUCE_MODE_MEAN ? sums[k] / (double)n
                               : attr.mode == NNRT_REDUCE_MODE_L2 ? sqrt(sums[k])
                                                                  : sums[k];
            expected[k] = (float)sum;
            bound[k] = chosen ? 0 : (float)((5 * fabs(sum) + (double)n * (double)n * ROUNDING * 1.1e6) * ROUNDING * SECOND);
        }
        assert_int_equal(nnrt_builder_create(&b, "reduce", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        if (turned) {
            const uint32_t before = in[0];
            memset(&pool, 0, sizeof(pool));
            pool.kernelSize = pool.strides = nnrt_int64_list(cell, 2);
            pool.pad = nnrt_int64_list(none, 4);
            in[0] = nnrt_builder_tensor(b, "turned");
            nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &before, 1, &in[0], 1);
        }
        in[1] = nnrt_builder_constant(b, "axes", NNRT_DATA_TYPE_INT32, 1, &count, list, false);
        y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_REDUCE_FUSION, &attr, in, 2);
        nnrt_builder_output(b, y);
        model = finish(b);
        kernel = "reduce";
        check_all(model, x, nX, nY, expected, bound, "a reduction");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(sums);
        free(x);
    }
}

/* Pools with one window that covers x are reductions if channels are first; not if the window begins in the padding. */
static void test_global_pools(void **unused)
{
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 60; i++) {
        const bool most = i % 2 == 0, first = i % 4 < 2, before = i % 5 == 4;
        const int32_t C = 1 + (int32_t)draw(70), H = 2 + (int32_t)draw(9), W = 2 + (int32_t)draw(9);
        const int32_t dims[4] = {2, first ? C : H, first ? H : W, first ? W : C};
        const int64_t size[2] = {H, W}, step[2] = {H, W}, pad[4] = {before, 0, before, 0};
        const size_t nX = product_of(4, dims), nY = 2 * (size_t)C;
        float *x = reals(nX), *expected = reals(nY), *bound = reals(nY);
        NNRT_AvgPoolFusion average;
        NNRT_MaxPoolFusion largest;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&average, 0, sizeof(average));
        memset(&largest, 0, sizeof(largest));
        average.kernelSize = largest.kernelSize = nnrt_int64_list(size, 2);
        average.strides = largest.strides = nnrt_int64_list(step, 2);
        average.pad = largest.pad = nnrt_int64_list(pad, 4);
        for (int32_t n = 0; n < 2; n++)
            for (int32_t c = 0; c < C; c++) {
                double sum = most ? -INFINITY : 0;
                for (int32_t k = 0; k < H * W; k++) {
                    const double v = (double)x[first ? (n * C + c) * H * W + k : (n * H * W + k) * C + c];
                    if (before && (k / W == H - 1 || k % W == W - 1))
                        continue;
                    sum = !most ? sum + v : v > sum ? v : sum;
                }
                expected[n * C + c] = (float)(most ? sum : sum / (before ? (H - 1) * (W - 1) : H * W));
                bound[n * C + c] = most ? 0 : (float)((H * W + 2) * ROUNDING * SECOND);
            }
        assert_int_equal(nnrt_builder_create(&b, "global", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_output(b, most ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MAX_POOL_FUSION, &largest, &in, 1)
                                    : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &in, 1));
        model = finish(b);
        kernel = before || !first ? (most ? "max_pool" : "average_pool") : "reduce";
        check_all(model, x, nX, nY, expected, bound, "a pool of all");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* ---- normalizations ---- */

/* GROUP_NORM_FUSION and INSTANCE_NORM, channels first, last, and last between 1x1 pools. The error of the mean is at
   most two roundings of the largest difference from it. Differences have two roundings, the divisor 4 of its own and
   half of the sums' (one each), then one each of the scale, its product with the quotient, and the sum. */
static void test_groups(void **unused)
{
    static const int64_t cell[2] = {1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 6;
    for (uint32_t i = 0; i < 120; i++) {
        const bool instance = i % 3 == 0, first = i % 2 == 0, between = first && i % 4 == 0, affine = instance || draw(3) > 0;
        const int32_t size = instance ? 1 : 1 + (int32_t)draw(i % 5 == 0 ? 70 : 9), groups = 1 + (int32_t)draw(instance ? 70 : 9);
        const int32_t C = size * groups, H = 1 + (int32_t)draw(6), W = 2 + (int32_t)draw(20), K = H * W;
        const int32_t dims[4] = {2, first ? C : H, first ? H : W, first ? W : C};
        const size_t nX = product_of(4, dims);
        const float epsilon = 1e-3f;
        float *x = reals(nX), *scale = reals((size_t)C), *bias = reals((size_t)C), *expected = reals(nX), *bound = reals(nX);
        NNRT_GroupNormFusion group;
        NNRT_InstanceNorm single;
        NNRT_MaxPoolFusion pool;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3], y, out;
        memset(&group, 0, sizeof(group));
        memset(&single, 0, sizeof(single));
        memset(&pool, 0, sizeof(pool));
        group.numGroups = groups;
        group.affine = affine;
        group.epsilon = single.epsilon = epsilon;
        pool.kernelSize = pool.strides = nnrt_int64_list(cell, 2);
        pool.pad = nnrt_int64_list(none, 4);
        for (size_t k = 0; k < nX && i % 2 == 0; k++)
            x[k] = 500 + 3 * x[k];
        for (int32_t n = 0; n < 2; n++)
            for (int32_t g = 0; g < groups; g++) {
                double mean = 0, variance = 0, largest = 0, by;
                for (int32_t pass = 0; pass < 3; pass++)
                    for (int32_t c = g * size; c < (g + 1) * size; c++)
                        for (int32_t k = 0; k < K; k++) {
                            const size_t at = (size_t)(first ? (n * C + c) * K + k : (n * K + k) * C + c);
                            const double d = (double)x[at] - mean, of = (double)K * size;
                            if (pass == 0) {
                                expected[at] = 0;
                                bound[at] = 0;
                            } else if (pass == 1) {
                                variance += d * d / of;
                                largest = fabs(d) > largest ? fabs(d) : largest;
                            } else {
                                double part, all;
                                by = 1 / sqrt(variance + (double)epsilon);
                                part = d * by * (affine ? (double)scale[c] : 1);
                                all = part + (affine ? (double)bias[c] : 0);
                                expected[at] = (float)all;
                                bound[at] = (float)((10 * fabs(part) + 2 * fabs(all) +
                                                     2 * largest * by * (affine ? fabs((double)scale[c]) : 1)) *
                                                    ROUNDING * SECOND);
                            }
                            if (pass == 0 && c == g * size && k == 0) {
                                for (int32_t e = g * size; e < (g + 1) * size; e++)
                                    for (int32_t m = 0; m < K; m++)
                                        mean += (double)x[first ? (n * C + e) * K + m : (n * K + m) * C + e] / of;
                            }
                        }
            }
        assert_int_equal(nnrt_builder_create(&b, "groups", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in[0], first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        if (between) {
            const uint32_t before = in[0];
            in[0] = nnrt_builder_tensor(b, "turned");
            nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &before, 1, &in[0], 1);
        }
        in[1] = nnrt_builder_constant(b, "scale", F32, 1, &C, scale, false);
        in[2] = nnrt_builder_constant(b, "bias", F32, 1, &C, bias, false);
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_format(b, y, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_node(b, "norm", instance ? NNRT_NODE_TYPE_INSTANCE_NORM : NNRT_NODE_TYPE_GROUP_NORM_FUSION,
                          instance ? (const void *)&single : (const void *)&group, in, 3, &y, 1);
        out = y;
        if (between) {
            out = nnrt_builder_tensor(b, "z");
            nnrt_builder_format(b, out, NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "again", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &y, 1, &out, 1);
        }
        nnrt_builder_output(b, out);
        model = finish(b);
        kernel = "group_norm";
        check_all(model, x, nX, nX, expected, bound, instance ? "an instance norm" : "a group norm");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(bias);
        free(scale);
        free(x);
    }
}

/* FUSED_BATCH_NORM and SCALE_FUSION with constants: the factor has 4 roundings; the difference, the product and the sum
   one each. */
static void test_affine(void **unused)
{
    (void)unused;
    state = 7;
    for (uint32_t i = 0; i < 120; i++) {
        const bool norm = i % 2 == 0, first = i % 4 < 2;
        const int32_t dims[4] = {2, 1 + (int32_t)draw(40), 1 + (int32_t)draw(5), 1 + (int32_t)draw(40)};
        const int32_t axis = norm ? (first ? 1 : 3) : (int32_t)draw(4), C = dims[axis];
        const size_t nX = product_of(4, dims);
        float *x = reals(nX), *values[4], *expected = reals(nX), *bound = reals(nX);
        size_t behind = 1;
        NNRT_FusedBatchNorm batch;
        NNRT_ScaleFusion scale;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[5];
        memset(&scale, 0, sizeof(scale));
        batch.epsilon = 1e-3f;
        scale.axis = axis;
        scale.activationType = i % 3 == 0 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        assert_int_equal(nnrt_builder_create(&b, "affine", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in[0], first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        for (uint32_t k = 0; k < 4; k++) {
            static const char *const names[] = {"scale", "offset", "mean", "variance"};
            values[k] = reals((size_t)C);
            for (int32_t c = 0; c < C && k == 3; c++)
                values[k][c] = fabsf(values[k][c]);
            in[1 + k] = nnrt_builder_constant(b, names[k], F32, 1, &C, values[k], false);
        }
        for (int32_t k = axis + 1; k < 4; k++)
            behind *= (size_t)dims[k];
        for (size_t k = 0; k < nX; k++) {
            const size_t c = k / behind % (size_t)C;
            const double factor = norm ? (double)values[0][c] / sqrt((double)values[3][c] + (double)batch.epsilon) : (double)values[0][c];
            const double part = ((double)x[k] - (norm ? (double)values[2][c] : 0)) * factor;
            double all = part + (double)values[1][c];
            bound[k] = (float)((8 * fabs(part) + 2 * fabs(all)) * ROUNDING * SECOND);
            if (!norm && i % 3 == 0 && all < 0)
                all = 0;
            expected[k] = (float)all;
        }
        nnrt_builder_output(b, norm ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_FUSED_BATCH_NORM, &batch, in, 5)
                                    : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SCALE_FUSION, &scale, in, 3));
        model = finish(b);
        kernel = "affine";
        check_all(model, x, nX, nX, expected, bound, norm ? "a batch norm" : "a scale");
        kernel = NULL;
        nnrt_model_destroy(model);
        for (uint32_t k = 0; k < 4; k++)
            free(values[k]);
        free(bound);
        free(expected);
        free(x);
    }
}

/* LOG_SOFTMAX and RMS_NORMALIZATION along the last axis. The logarithm has 4 roundings of its own, and the relative
   error of the sum: one rounding, the 4 of exp, and the weighted roundings of its arguments (moved). The root has half
   of the n roundings of its sum. */
static void test_lines(void **unused)
{
    static const int32_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100};
    (void)unused;
    state = 8;
    for (uint32_t i = 0; i < COUNT(counts) * 4; i++) {
        const int32_t n = counts[i % COUNT(counts)], dims[2] = {5, n};
        const bool log_of = i < 2 * COUNT(counts);
        const size_t nX = product_of(2, dims);
        float *x = reals(nX), *scale = reals((size_t)n), *expected = reals(nX), *bound = reals(nX);
        NNRT_LogSoftmax line;
        NNRT_RMSNormalization root_mean;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2];
        memset(&line, 0, sizeof(line));
        memset(&root_mean, 0, sizeof(root_mean));
        line.axis = root_mean.axis = -1;
        root_mean.epsilon = 1e-5f;
        for (size_t k = 0; k < nX && i % 2 == 0; k++)
            x[k] *= 20;
        for (int32_t r = 0; r < 5; r++) {
            const float *const row = x + r * n;
            double most = -INFINITY, sum = 0, squares = 0, moved = 0;
            for (int32_t k = 0; k < n; k++) {
                most = (double)row[k] > most ? (double)row[k] : most;
                squares += (double)row[k] * (double)row[k] / n;
            }
            for (int32_t k = 0; k < n; k++)
                sum += exp((double)row[k] - most);
            for (int32_t k = 0; k < n; k++)
                moved += (most - (double)row[k]) * exp((double)row[k] - most) / sum;
            for (int32_t k = 0; k < n; k++) {
                const double y = log_of ? (double)row[k] - most - log(sum)
                                        : (double)row[k] / sqrt(squares + (double)root_mean.epsilon) * (double)scale[k];
                const double off = log_of ? fabs((double)row[k] - most) + 2 * fabs(y) + 4 * log(sum) + 5 + moved
                                          : (6 + (double)n / 2) * fabs(y);
                expected[r * n + k] = (float)y;
                bound[r * n + k] = (float)(off * ROUNDING * SECOND);
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "lines", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 2, dims);
        in[1] = nnrt_builder_constant(b, "scale", F32, 1, &n, scale, false);
        nnrt_builder_output(b, log_of ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_LOG_SOFTMAX, &line, in, 1)
                                      : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_RMS_NORMALIZATION, &root_mean, in, 2));
        model = finish(b);
        kernel = log_of ? "log_softmax" : "rms_norm";
        check_all(model, x, nX, nX, expected, bound, kernel);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(scale);
        free(x);
    }
}

/* SOFTMAX and LOG_SOFTMAX of [outer,n,inner] over n. The quotient has the roundings of the logarithm's sum, 4 of exp and
   that of its argument, and 2 of its own; the sum has those of n - 1 additions, which the logarithm compensates. */
static void test_columns(void **unused)
{
    static const int32_t sizes[][3] = {{1, 1, 2},  {2, 3, 2},  {1, 7, 3},   {3, 2, 15},  {2, 5, 16},  {1, 4, 17}, {2, 3, 31},
                                       {1, 6, 33}, {2, 9, 63}, {1, 33, 64}, {2, 4, 65}, {1, 3, 127}, {0, 3, 5},  {2, 5, 200}};
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < COUNT(sizes) * 4; i++) {
        const int32_t *const dims = sizes[i % COUNT(sizes)], outer = dims[0], n = dims[1], inner = dims[2];
        const bool log_of = i >= 2 * COUNT(sizes);
        const int64_t axis = i % 2 == 0 ? 1 : -2;
        const size_t nX = product_of(3, dims);
        float *x = reals(nX), *expected = reals(nX), *bound = reals(nX);
        NNRT_LogSoftmax line;
        NNRT_Softmax attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&line, 0, sizeof(line));
        memset(&attr, 0, sizeof(attr));
        line.axis = axis;
        attr.axis = nnrt_int64_list(&axis, 1);
        for (size_t k = 0; k < nX && i % 2 == 0; k++)
            x[k] = 20 * x[k] + 50;
        if (i % 5 == 0 && nX > 0)
            x[draw((uint32_t)nX)] = NAN;
        for (int32_t c = 0; c < outer * inner; c++) {
            const size_t first = (size_t)(c / inner * n * inner + c % inner);
            double most = -INFINITY, sum = 0, moved = 0;
            bool nan = false;
            for (int32_t k = 0; k < n; k++) {
                const double v = (double)x[first + (size_t)(k * inner)];
                nan = nan || isnan(v);
                most = v > most ? v : most;
            }
            for (int32_t k = 0; k < n; k++)
                sum += exp((double)x[first + (size_t)(k * inner)] - most);
            for (int32_t k = 0; k < n; k++) {
                const double far = most - (double)x[first + (size_t)(k * inner)];
                moved += far * exp(-far) / sum;
            }
            for (int32_t k = 0; k < n; k++) {
                const size_t at = first + (size_t)(k * inner);
                const double far = most - (double)x[at], y = log_of ? -far - log(sum) : exp(-far) / sum;
                const double off = log_of ? far + 2 * fabs(y) + 4 * log(sum) + 5 + moved : (10 + far + moved + n) * y;
                expected[at] = nan ? NAN : (float)y;
                bound[at] = nan ? 0 : (float)(off * ROUNDING * SECOND) + (y > 0 ? 3e-45f : 0);
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "columns", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 3, dims);
        nnrt_builder_output(b, log_of ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_LOG_SOFTMAX, &line, &in, 1)
                                      : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SOFTMAX, &attr, &in, 1));
        model = finish(b);
        kernel = nX > 0 ? "softmax_columns" : NULL;
        check_all(model, x, nX, nX, expected, bound, log_of ? "log_softmax of columns" : "softmax of columns");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_one),     cmocka_unit_test(test_left),         cmocka_unit_test(test_clip),
        cmocka_unit_test(test_of_two),     cmocka_unit_test(test_reductions),   cmocka_unit_test(test_global_pools),
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_affine),       cmocka_unit_test(test_lines),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
