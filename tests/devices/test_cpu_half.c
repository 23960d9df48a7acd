/* float16 on the fast device (devices/nnrt_cpu.h), with each instruction set of this machine. Widening and narrowing
   are compared with IEEE 754, for all values of float16 and values between them. Operators must be bit-identical to the
   same operators in float32 with the same instructions, rounded once (tests/kit/half.h); from the reference device they may
   differ like float sums in another order, and by one rounding. */
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
#include "half.h"
#include "kit.h"
#include "models_on_sets.h"

#define F16 NNRT_DATA_TYPE_FLOAT16

/* ---- numbers ---- */

/* Numbers between -1 and 1 that float16 represents. */
static float *reals(size_t count)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = (float)half_to(half_of((double)draw(2001) / 1000.0 - 1.0));
    return made;
}

static uint16_t *halves(const float *x, size_t count)
{
    uint16_t *made = (uint16_t *)malloc((count + 1) * sizeof(uint16_t));
    for (size_t i = 0; i < count; i++)
        made[i] = half_of((double)x[i]);
    return made;
}

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

/* ---- devices ---- */

static uint32_t team_calls, steps; /* of the last run */

/* Before each test: the previous one may have failed. */
static int forget(void **unused)
{
    (void)unused;
    kernel = tiles = NULL;
    allows_half = false;
    return 0;
}

/* One input, one output, so many workers; 0: the calling thread. */
static void run_on(const char *device, const NNRT_Model *model, const void *x, size_t bytesX, void *y, size_t bytesY,
                   uint32_t workers)
{
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, bytesX), out = nnrt_io_make(y, bytesY);
    team_calls = run_session(device, model, &in, 1, &out, 1, workers, &steps);
}

/* ---- casts ---- */

static NNRT_Model *make_cast(int32_t count, NNRT_DataType from, NNRT_DataType to)
{
    const int32_t type = (int32_t)to;
    nnrt_builder *b = NULL;
    uint32_t in[2];
    assert_int_equal(nnrt_builder_create(&b, "cast", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", from, 1, &count);
    in[1] = nnrt_builder_constant(b, "type", I32, 0, NULL, &type, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CAST, NULL, in, 2));
    return finish(b);
}

/* float16 h as float32: the same number; a NaN becomes quiet and keeps its sign and all other bits. */
static uint32_t widened(uint16_t h)
{
    if ((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0)
        return (uint32_t)(h & 0x8000) << 16 | 0x7fc00000u | (uint32_t)(h & 0x3ff) << 13;
    return bits_of((float)half_to(h));
}

static uint16_t narrowed(float x)
{
    const uint32_t u = bits_of(x);
    if (x != x)
        return (uint16_t)(u >> 16 & 0x8000u) | 0x7e00u | (uint16_t)(u >> 13 & 0x3ffu);
    return half_of((double)x);
}

static void check_widen(const uint16_t *x, int32_t count)
{
    NNRT_Model *model = make_cast(count, F16, F32);
    float *y = (float *)malloc((size_t)count * sizeof(float));
    for (uint32_t s = 0; s <= nSets; s++)
        for (uint32_t workers = 0; workers <= (s < nSets ? 8 : 0); workers += workers == 3 ? 5 : 1) {
            const char *device = s < nSets ? sets[s] : "reference";
            kernel = s < nSets ? "widen_half" : NULL;
            memset(y, 0xA5, (size_t)count * sizeof(float));
            run_on(device, model, x, (size_t)count * sizeof(*x), y, (size_t)count * sizeof(float), workers);
            for (int32_t i = 0; i < count; i++)
                if (bits_of(y[i]) != widened(x[i]))
                    fail_msg("%s, %d of %d, %u workers: %04x is %08x, expected %08x", device, (int)i, (int)count,
                             workers, x[i], (unsigned)bits_of(y[i]), (unsigned)widened(x[i]));
        }
    kernel = NULL;
    free(y);
    nnrt_model_destroy(model);
}

static void check_narrow(const float *x, int32_t count)
{
    NNRT_Model *model = make_cast(count, F32, F16);
    uint16_t *y = (uint16_t *)malloc((size_t)count * sizeof(uint16_t));
    for (uint32_t s = 0; s <= nSets; s++)
        for (uint32_t workers = 0; workers <= (s < nSets ? 8 : 0); workers += workers == 3 ? 5 : 1) {
            const char *device = s < nSets ? sets[s] : "reference";
            kernel = s < nSets ? "narrow_half" : NULL;
            memset(y, 0xA5, (size_t)count * sizeof(uint16_t));
            run_on(device, model, x, (size_t)count * sizeof(*x), y, (size_t)count * sizeof(uint16_t), workers);
            for (int32_t i = 0; i < count; i++)
                if (y[i] != narrowed(x[i]))
                    fail_msg("%s, %d of %d, %u workers: %08x is %04x, expected %04x", device, (int)i, (int)count,
                             workers, (unsigned)bits_of(x[i]), y[i], narrowed(x[i]));
        }
    kernel = NULL;
    free(y);
    nnrt_model_destroy(model);
}

/* Each of the 65,536 values, and rows of every length up to a few vectors. */
static void test_widening(void **unused)
{
    uint16_t *x = (uint16_t *)malloc(65536 * sizeof(uint16_t));
    (void)unused;
    for (uint32_t i = 0; i < 65536; i++)
        x[i] = (uint16_t)i;
    check_widen(x, 65536);
    for (int32_t n = 1; n < 70; n++)
        check_widen(x + 0x3C00 - n / 2, n);
    free(x);
}

/* Each float16, the midpoint to the next one, and the adjacent floats of each, with both signs; after the largest one
   the midpoint to the next power of two, 65520. Floats of all exponents, also subnormal, and NaN. */
static void test_narrowing(void **unused)
{
    float *x = (float *)malloc(600000 * sizeof(float));
    int32_t n = 0;
    (void)unused;
    state = 31;
    for (uint32_t h = 0; h < 0x7c00; h++) {
        const double at = half_to((uint16_t)h), next = h + 1 < 0x7c00 ? half_to((uint16_t)(h + 1)) : 65536;
        const float places[2] = {(float)at, (float)((at + next) / 2)};
        for (uint32_t k = 0; k < 6; k++) {
            const float place = k % 3 == 0 ? places[k / 3] : nextafterf(places[k / 3], k % 3 == 1 ? INFINITY : -1.0f);
            x[n++] = place;
            x[n++] = -place;
        }
    }
    for (uint32_t e = 0; e < 512; e++)
        for (uint32_t k = 0; k < 200; k++)
            x[n++] = float_of(e << 23 | (k < 3 ? k : k == 3 ? 0x7fffffu : k < 27 ? 1u << (k - 4) : draw(1u << 23)));
    assert_true(n < 600000);
    check_narrow(x, n);
    for (int32_t k = 1; k < 70; k++)
        check_narrow(x + 1000 * k, k);
    free(x);
}

/* ---- operators ---- */

typedef enum operation {
    CONV, POOL_MOST, POOL_MEAN, CONNECTED, PRODUCT, BINARY, UNARY, ROWS_SOFTMAX, ROWS_NORM
} operation;

/* An operator with one input; its other operands are constants, or the same input. */
typedef struct spec {
    operation what;
    int32_t rank, dims[4];   /* of x; images: [n,h,w,c]; planes: NCHW, stored as [n,c,h,w] */
    int32_t c, window[2];    /* channels of y */
    int64_t stride[2], pad[4], group;
    int32_t other[4], rankOther; /* of BINARY: the constant; of PRODUCT: y. 0: x itself */
    bool planes, bias, biasOfX, transposeB, second; /* biasOfX: the bias is x, in another shape */
    NNRT_NodeType type;      /* of BINARY */
    NNRT_ActivationType activation;
    float *w, *more;         /* constants */
} spec;

static uint32_t number(nnrt_builder *b, const char *name, NNRT_DataType type, int32_t rank, const int32_t *dims,
                         const float *data)
{
    uint16_t *half = halves(data, product_of(rank, dims));
    const void *const values = type == F16 ? (const void *)half : data;
    const uint32_t made = nnrt_builder_constant(b, name, type, rank, dims, values, true);
    free(half);
    return made;
}

static NNRT_Model *make(const spec *s, NNRT_DataType type)
{
    const int32_t last = s->dims[s->rank - 1], planes[4] = {s->dims[0], s->dims[3], s->dims[1], s->dims[2]};
    const int32_t deep = s->group > 0 ? s->dims[3] / (int32_t)s->group : 0;
    const int32_t wDims[4] = {s->c, s->window[0], s->window[1], deep}, full[2] = {s->c, last};
    const int64_t window[2] = {s->window[0], s->window[1]}, ones[2] = {1, 1}, axis[1] = {-1};
    nnrt_builder *b = NULL;
    uint32_t in[3], y = NNRT_NO_TENSOR;
    assert_int_equal(nnrt_builder_create(&b, "made", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", type, s->rank, s->planes ? planes : s->dims);
    if (s->planes)
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
    in[2] = s->bias ? number(b, "bias", type, 1, &s->c, s->more) : NNRT_NO_TENSOR;
    if (s->biasOfX) {
        in[1] = nnrt_builder_constant(b, "flat", I32, 1, (const int32_t[1]){1}, &last, true);
        in[2] = nnrt_builder_op(b, "bias of x", NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
    }
    switch (s->what) {
    case CONV: {
        NNRT_Conv2DFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.kernelSize = nnrt_int64_list(window, 2);
        attr.stride = nnrt_int64_list(s->stride, 2);
        attr.dilation = nnrt_int64_list(ones, 2);
        attr.padList = nnrt_int64_list(s->pad, 4);
        attr.group = s->group;
        attr.activationType = s->activation;
        in[1] = number(b, "w", type, 4, wDims, s->w);
        y = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3);
        break;
    }
    case POOL_MOST: {
        NNRT_MaxPoolFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.kernelSize = nnrt_int64_list(window, 2);
        attr.strides = nnrt_int64_list(s->stride, 2);
        attr.pad = nnrt_int64_list(s->pad, 4);
        attr.activationType = s->activation;
        y = nnrt_builder_op(b, "most", NNRT_NODE_TYPE_MAX_POOL_FUSION, &attr, in, 1);
        break;
    }
    case POOL_MEAN: {
        NNRT_AvgPoolFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.kernelSize = nnrt_int64_list(window, 2);
        attr.strides = nnrt_int64_list(s->stride, 2);
        attr.pad = nnrt_int64_list(s->pad, 4);
        attr.activationType = s->activation;
        y = nnrt_builder_op(b, "mean", NNRT_NODE_TYPE_AVGPOOL_FUSION, &attr, in, 1);
        break;
    }
    case CONNECTED: {
        NNRT_FullConnection attr;
        memset(&attr, 0, sizeof(attr));
        attr.hasBias = s->bias;
        attr.activationType = s->activation;
        in[1] = number(b, "w", type, 2, full, s->w);
        y = nnrt_builder_op(b, "connected", NNRT_NODE_TYPE_FULL_CONNECTION, &attr, in, 3);
        break;
    }
    case PRODUCT: {
        NNRT_MatMulFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.transposeB = s->transposeB;
        attr.activationType = s->activation;
        in[1] = s->rankOther > 0 ? number(b, "w", type, s->rankOther, s->other, s->w) : in[0];
        y = nnrt_builder_op(b, "product", NNRT_NODE_TYPE_MATMUL_FUSION, &attr, in, 3);
        break;
    }
    case BINARY: {
        NNRT_AddFusion attr; /* as in SUB_FUSION and MUL_FUSION */
        memset(&attr, 0, sizeof(attr));
        attr.activationType = s->activation;
        in[1] = in[0];
        if (s->rankOther >= 0)
            in[s->second ? 0 : 1] = number(b, "c", type, s->rankOther, s->other, s->w);
        y = nnrt_builder_op(b, "binary", s->type, &attr, in, 2);
        break;
    }
    case UNARY: {
        NNRT_Activation attr;
        memset(&attr, 0, sizeof(attr));
        attr.activationType = s->activation;
        y = nnrt_builder_op(b, "unary", NNRT_NODE_TYPE_ACTIVATION, &attr, in, 1);
        break;
    }
    case ROWS_SOFTMAX: {
        NNRT_Softmax attr;
        memset(&attr, 0, sizeof(attr));
        attr.axis = nnrt_int64_list(axis, 1);
        y = nnrt_builder_op(b, "softmax", NNRT_NODE_TYPE_SOFTMAX, &attr, in, 1);
        break;
    }
    case ROWS_NORM: {
        NNRT_LayerNormFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.beginNormAxis = attr.beginParamsAxis = s->rank - 1;
        attr.epsilon = 1e-5f;
        attr.elementwiseAffine = s->more != NULL;
        if (attr.elementwiseAffine) {
            in[1] = number(b, "gamma", type, 1, &last, s->w);
            in[2] = number(b, "beta", type, 1, &last, s->more);
        }
        y = nnrt_builder_op(b, "norm", NNRT_NODE_TYPE_LAYER_NORM_FUSION, &attr, in, attr.elementwiseAffine ? 3 : 1);
        break;
    }
    }
    nnrt_builder_output(b, y);
    return finish(b);
}

static size_t output_count(const NNRT_Model *model)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    size_t bytes, size;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = "reference";
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    bytes = nnrt_session_output(session, 0).bytes;
    size = nnrt_type_size(nnrt_session_output(session, 0).dataType);
    nnrt_session_destroy(session);
    return bytes / size;
}

/* The rank of h in the order of all float16; NaN: one above the largest. */
static int32_t place_of(uint16_t h)
{
    const int32_t at = h & 0x7fff;
    return at > 0x7c00 ? 0x7c01 : h & 0x8000 ? -at : at;
}

static bool is_same(uint16_t a, uint16_t b)
{
    return a == b || (place_of(a) == 0x7c01 && place_of(b) == 0x7c01);
}

/* `whole` in float32 and `half` in float16: on each set, with one, two, three and eight workers, the result of `half`
   equals the result of `whole`, rounded once. It differs from the reference device by at most `off`, the error of both
   sums, and one rounding of each, which may go the other way: the next float16; off < 0: no bound. */
static void check_models(const NNRT_Model *whole, const NNRT_Model *half, const float *x, size_t nX, double off,
                         const char *what)
{
    const size_t nY = output_count(whole);
    uint16_t *xHalf = halves(x, nX), *y = halves(x, 0), *by = halves(x, 0);
    float *wide = (float *)malloc((nY + 1) * sizeof(float));
    const char *wanted = kernel;
    y = (uint16_t *)realloc(y, (nY + 1) * sizeof(uint16_t));
    by = (uint16_t *)realloc(by, (nY + 1) * sizeof(uint16_t));
    kernel = NULL;
    run_on("reference", half, xHalf, nX * 2, by, nY * 2, 0);
    kernel = wanted;
    for (uint32_t s = 0; s < nSets; s++) {
        if (has_no_floats(s))
            continue;
        run_on(sets[s], whole, x, nX * 4, wide, nY * 4, 0);
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            memset(y, 0xA5, nY * 2);
            run_on(sets[s], half, xHalf, nX * 2, y, nY * 2, workers);
            for (size_t i = 0; i < nY; i++) {
                const double low = half_to(by[i]) - off, high = half_to(by[i]) + off;
                if (!is_same(y[i], narrowed(wide[i])))
                    fail_msg("%s on %s, %u workers: element %u is %04x, but %.9g, rounded, is %04x", what, sets[s],
                             workers, (unsigned)i, y[i], (double)wide[i], narrowed(wide[i]));
                if (off >= 0 && !is_same(y[i], by[i]) &&
                    !(place_of(y[i]) >= place_of(half_of(low)) - 1 && place_of(y[i]) <= place_of(half_of(high)) + 1))
                    fail_msg("%s on %s: element %u is %04x, by the reference device %04x, which may be off by %.3g",
                             what, sets[s], (unsigned)i, y[i], by[i], off);
            }
        }
    }
    free(wide);
    free(by);
    free(y);
    free(xHalf);
}

static void check(const spec *s, const float *x, double off, const char *named)
{
    NNRT_Model *whole = make(s, F32), *half = make(s, F16);
    char what[160];
    snprintf(what, sizeof(what),
             "operation %d of [%d,%d,%d,%d], c %d, window %d,%d, group %d, planes %d, activation %d", (int)s->what,
             (int)s->dims[0], (int)s->dims[1], (int)s->dims[2], (int)s->dims[3], (int)s->c, (int)s->window[0],
             (int)s->window[1], (int)s->group, (int)s->planes, (int)s->activation);
    kernel = named;
    check_models(whole, half, x, product_of(s->rank, s->dims), off, what);
    kernel = NULL;
    nnrt_model_destroy(half);
    nnrt_model_destroy(whole);
}

static const NNRT_ActivationType activations[] = {
    NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,    NNRT_ACTIVATION_TYPE_RELU6,
    NNRT_ACTIVATION_TYPE_SIGMOID,       NNRT_ACTIVATION_TYPE_HSWISH, NNRT_ACTIVATION_TYPE_TANH,
    NNRT_ACTIVATION_TYPE_GELU,          NNRT_ACTIVATION_TYPE_SWISH,
};

/* Error of two sums of n products of numbers from -1 to 1 and a bias: a rounding of 2^-24 for each product and each
   addition, of sums of at most n + 1. An activation multiplies the error by at most 1.5, and adds some roundings. */
static double off_of(double n)
{
    return 2 * (n + 1) * (n + 1) * 0x1p-24 * 1.5 + 0x1p-20;
}

static void draw_window(spec *s, bool pads)
{
    for (uint32_t i = 0; i < 2; i++) {
        s->window[i] = 1 + (int32_t)draw(3);
        s->stride[i] = 1 + draw(2);
        s->pad[2 * i] = pads && s->window[i] > 1 ? draw(2) : 0;
        s->pad[2 * i + 1] = pads && s->window[i] > 1 ? draw(2) : 0;
    }
}

/* Channels first and last, few and many; one group, and depthwise. */
static void test_convolutions(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 5, 15, 16, 17, 33, 64};
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < 90; i++) {
        spec s;
        float *x;
        memset(&s, 0, sizeof(s));
        s.what = CONV;
        s.rank = 4;
        s.dims[0] = 1 + (int32_t)draw(2);
        s.dims[1] = 3 + (int32_t)draw(12);
        s.dims[2] = 3 + (int32_t)draw(12);
        s.dims[3] = channels[i % COUNT(channels)];
        draw_window(&s, true);
        s.planes = draw(2) == 0;
        s.group = i % 4 == 3 ? s.dims[3] : 1;
        s.c = s.group > 1 ? s.dims[3] : 1 + (int32_t)draw(40);
        s.bias = draw(2) == 0;
        s.activation = activations[draw(5)];
        x = reals(product_of(4, s.dims));
        s.w = reals((size_t)(s.c * s.window[0] * s.window[1] * s.dims[3]));
        s.more = reals((size_t)s.c);
        check(&s, x, off_of(s.window[0] * s.window[1] * s.dims[3] / (double)s.group + 1),
              s.group == 1 ? "gemm" : "depthwise");
        free(s.more);
        free(s.w);
        free(x);
    }
}

/* ---- float16 arithmetic: enableFloat16 ---- */

/* Whether set s has `gemm_f16`. */
static bool has_half_gemm(uint32_t s)
{
    return strcmp(sets[s], "cpu-fp16") == 0 || strcmp(sets[s], "cpu-i8mm") == 0;
}

static float *sizes_of(const float *x, size_t count)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = fabsf(x[i]);
    return made;
}

/* The results of a model of float32 on the reference device. */
static float *referred(const NNRT_Model *model, const float *x, size_t nX, size_t nY)
{
    float *y = (float *)malloc((nY + 1) * sizeof(float));
    run_on("reference", model, x, nX * 4, y, nY * 4, 0);
    return y;
}

/* The bound of devices/nnrt_cpu.h: a sum of `terms` products is off by 1.01 * 2^-5 times the sum of their magnitudes;
   in the subnormal range of float16 each product and each weight is off by 2^-25 of the factor of the channel, at most
   `factor`. Sums of blocks, and sums of the reference device, are rounded as float32. An activation multiplies this by
   at most 1.5, and rounding the result to float16 adds half a unit. Each set, with one, two, three and eight workers.
   On sets with `gemm_f16` all results come from it, and with `differs` some of them differ from float32 sums. */
static void check_sums(const spec *s, const float *x, double terms, double factor, bool differs)
{
    spec sizes = *s;
    const size_t nX = product_of(s->rank, s->dims), nW = (size_t)s->c * (size_t)terms;
    NNRT_Model *whole = make(s, F32), *half = make(s, F16), *each;
    const size_t nY = output_count(whole);
    float *sizesX = sizes_of(x, nX), *exact = referred(whole, x, nX, nY), *sum;
    uint16_t *xHalf = halves(x, nX), *y = (uint16_t *)malloc(nY * 2), *first = (uint16_t *)malloc(nY * 2);
    sizes.w = sizes_of(s->w, nW);
    sizes.more = s->bias ? sizes_of(s->more, (size_t)s->c) : NULL;
    sizes.activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    each = make(&sizes, F32);
    sum = referred(each, sizesX, nX, nY);
    allows_half = true;
    for (uint32_t i = 0; i < nSets; i++) {
        uint32_t others = 0;
        kernel = has_half_gemm(i) ? "gemm_f16" : NULL;
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            memset(y, 0xA5, nY * 2);
            run_on(sets[i], half, xHalf, nX * 2, y, nY * 2, workers);
            if (workers == 0)
                memcpy(first, y, nY * 2);
            else
                assert_memory_equal(first, y, nY * 2);
        }
        for (size_t k = 0; k < nY; k++) {
            const double off = 1.01 * 0x1p-5 * sum[k] + 2.1 * terms * factor * 0x1p-25 + (terms + 2) * 0x1p-23 * sum[k];
            const double at = half_to(y[k]), most = 1.5 * off + 0x1p-11 * fabs((double)exact[k]) * (1 + 0x1p-4) + 0x1p-20;
            others += half_of((double)exact[k]) != y[k];
            if (!(fabs(at - (double)exact[k]) <= most))
                fail_msg("operation %d, %g terms on %s: element %u is %.9g instead of %.9g, which may be off by %.3g",
                         (int)s->what, terms, sets[i], (unsigned)k, at, (double)exact[k], most);
        }
        if (has_half_gemm(i) && differs)
            assert_true(others > 0);
    }
    kernel = NULL;
    allows_half = false;
    nnrt_model_destroy(each);
    nnrt_model_destroy(half);
    nnrt_model_destroy(whole);
    free(sizes.more);
    free(sizes.w);
    free(first);
    free(y);
    free(xHalf);
    free(sum);
    free(exact);
    free(sizesX);
}

/* The largest factor of a channel, with weights up to 1: four times the sum of a block. */
static double factor_of(double terms)
{
    return 4 * (terms < 64 ? terms : 64);
}

/* Blocks of terms that end within a filter tap, at its end, and after it. */
static void test_half_convolutions(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 33, 64, 72};
    (void)unused;
    state = 41;
    for (uint32_t i = 0; i < 78; i++) {
        spec s;
        float *x;
        double terms;
        memset(&s, 0, sizeof(s));
        s.what = CONV;
        s.rank = 4;
        s.dims[0] = 1 + (int32_t)draw(2);
        s.dims[1] = 5 + (int32_t)draw(9);
        s.dims[2] = 5 + (int32_t)draw(9);
        s.dims[3] = channels[i % COUNT(channels)];
        draw_window(&s, true);
        s.planes = draw(2) == 0;
        s.group = 1;
        s.c = 1 + (int32_t)draw(40);
        s.bias = draw(2) == 0;
        s.activation = activations[draw(5)];
        terms = s.window[0] * s.window[1] * s.dims[3];
        x = reals(product_of(4, s.dims));
        s.w = reals((size_t)s.c * (size_t)terms);
        s.more = reals((size_t)s.c);
        check_sums(&s, x, terms, factor_of(terms), false);
        free(s.more);
        free(s.w);
        free(x);
    }
}

static void test_half_matrices(void **unused)
{
    static const int32_t rows[] = {4, 5, 7, 8, 9, 13, 300}, terms[] = {1, 2, 7, 8, 9, 63, 64, 65, 130, 200};
    static const int32_t columns[] = {1, 7, 8, 9, 15, 16, 17, 40};
    (void)unused;
    state = 42;
    for (uint32_t i = 0; i < 80; i++) {
        spec s;
        float *x;
        memset(&s, 0, sizeof(s));
        s.what = i % 2 == 0 ? CONNECTED : PRODUCT;
        s.rank = 2;
        s.dims[0] = rows[draw(COUNT(rows))];
        s.dims[1] = terms[i % COUNT(terms)];
        s.c = columns[i % COUNT(columns)];
        s.transposeB = draw(2) == 0;
        s.rankOther = 2;
        s.other[s.transposeB ? 0 : 1] = s.c;
        s.other[s.transposeB ? 1 : 0] = s.dims[1];
        s.bias = draw(2) == 0;
        s.activation = activations[draw(5)];
        x = reals(product_of(2, s.dims));
        s.w = reals((size_t)(s.c * s.dims[1]));
        s.more = reals((size_t)s.c);
        check_sums(&s, x, s.dims[1], factor_of(s.dims[1]), s.dims[1] > 64 && s.activation == activations[0]);
        free(s.more);
        free(s.w);
        free(x);
    }
}

/* Sums of a block that exceed float16, of terms that cancel each other: nothing overflows. Weights of very different sizes. */
static void test_half_overflow(void **unused)
{
    float x[8 * 64], w[3 * 64];
    spec s;
    (void)unused;
    memset(&s, 0, sizeof(s));
    s.what = CONNECTED;
    s.rank = 2;
    s.dims[0] = 8;
    s.dims[1] = 64;
    s.c = 3;
    s.w = w;
    for (uint32_t i = 0; i < COUNT(x); i++)
        x[i] = i % 64 < 32 ? 15000 : -15000;
    for (uint32_t i = 0; i < COUNT(w); i++)
        w[i] = i < 64 ? 1 : i < 128 ? 0x1p-20f : i == 130 ? 0x1p-3f : 0x1p-14f;
    check_sums(&s, x, 64, factor_of(64), false);
}

/* Without enableFloat16, of fewer than four pixels, and with an infinite weight the kernel is not used. */
static void test_half_unused(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 4; i++) {
        static float w[16 * 16];
        spec s;
        NNRT_Model *model;
        memset(&s, 0, sizeof(s));
        s.what = CONNECTED;
        s.rank = 2;
        s.dims[0] = i == 1 ? 3 : 4;
        s.dims[1] = s.c = 16;
        s.w = w;
        w[17] = i == 2 ? INFINITY : 1;
        model = make(&s, F16);
        for (uint32_t k = 0; k < nSets; k++)
            assert_int_equal(code_of_kernel(sets[k], model, "gemm_f16", i > 0),
                             i == 3 && has_half_gemm(k) ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        nnrt_model_destroy(model);
    }
}

/* By Winograd tiles; tests/devices/test_cpu.c bounds their difference from the reference device. */
static void test_tiles(void **unused)
{
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < 16; i++) {
        const spec made = {CONV, 4, {1, 5 + (int32_t)draw(9), 5 + (int32_t)draw(9), 1 + (int32_t)draw(40)},
                           1 + (int32_t)draw(40), {3, 3}, {1, 1}, {1, 1, 1, 1}, 1, {0, 0, 0, 0}, 0, i % 4 < 2,
                           i % 3 == 0, false, false, false, NNRT_NODE_TYPE_NONE, NNRT_ACTIVATION_TYPE_RELU, NULL, NULL};
        spec s = made;
        float *x = reals(product_of(4, s.dims));
        s.w = reals((size_t)(9 * s.c * s.dims[3]));
        s.more = reals((size_t)s.c);
        tiles = i % 2 == 0 ? "2" : "4";
        check(&s, x, -1, "winograd");
        tiles = NULL;
        free(s.more);
        free(s.w);
        free(x);
    }
}

static void test_pools(void **unused)
{
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < 40; i++) {
        spec s;
        float *x;
        memset(&s, 0, sizeof(s));
        s.what = i % 2 == 0 ? POOL_MOST : POOL_MEAN;
        s.rank = 4;
        s.dims[0] = 1 + (int32_t)draw(2);
        s.dims[1] = 3 + (int32_t)draw(9);
        s.dims[2] = 3 + (int32_t)draw(9);
        s.dims[3] = 1 + (int32_t)draw(70);
        draw_window(&s, true);
        s.planes = draw(2) == 0;
        s.activation = activations[draw(3)];
        x = reals(product_of(4, s.dims));
        if (i % 5 == 0)
            x[draw((uint32_t)product_of(4, s.dims))] = i % 10 == 0 ? NAN : -INFINITY;
        check(&s, x, i % 2 == 0 ? 0 : off_of(9), i % 2 == 0 ? "max_pool" : "average_pool");
        free(x);
    }
}

/* Matrix products with constants, which are packed, also transposed; of x and x; and with stacked constants, which
   every run widens. */
static void test_matrices(void **unused)
{
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < 80; i++) {
        const int32_t m = 1 + (int32_t)draw(20), k = 1 + (int32_t)draw(70), n = 1 + (int32_t)draw(70);
        const char *named = "gemm";
        spec s;
        float *x;
        memset(&s, 0, sizeof(s));
        s.activation = activations[draw(4)];
        s.bias = draw(2) == 0;
        s.c = n;
        if (i % 4 == 0) {
            s.what = CONNECTED;
            s.rank = 2;
            s.dims[0] = m;
            s.dims[1] = k;
        } else {
            s.what = PRODUCT;
            s.rank = 3;
            s.dims[0] = 1 + (int32_t)draw(3);
            s.transposeB = draw(2) == 0;
            s.dims[1] = m;
            s.dims[2] = k;
            s.rankOther = i % 4 == 1 ? 2 : 3;
            if (i % 4 != 1) /* as many as x has, so that it is not a single matrix */
                s.dims[0] = s.other[0] = 2 + (int32_t)draw(3);
            s.other[s.rankOther - 2] = s.transposeB ? n : k;
            s.other[s.rankOther - 1] = s.transposeB ? k : n;
            named = i % 4 == 1 ? "gemm" : "matmul";
            if (i % 16 == 5) { /* not packed, because the bias is not constant */
                s.bias = false;
                s.biasOfX = true;
                s.dims[0] = s.dims[1] = 1;
                s.dims[2] = s.other[0] = s.other[1] = s.c = n;
                named = "matmul";
            }
            if (i % 8 == 6) { /* x times x, transposed */
                s.rankOther = 0;
                s.transposeB = true;
                s.c = s.dims[1];
            }
        }
        x = reals(product_of(s.rank, s.dims));
        s.w = reals((size_t)((k > n ? k : n) * n * (s.rankOther == 3 ? s.dims[0] : 1)));
        s.more = reals((size_t)s.c);
        check(&s, x, off_of(k > n ? k : n), named);
        free(s.more);
        free(s.w);
        free(x);
    }
}

static void test_rows(void **unused)
{
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 40; i++) {
        spec s;
        float *x;
        memset(&s, 0, sizeof(s));
        s.what = i % 2 == 0 ? ROWS_SOFTMAX : ROWS_NORM;
        s.rank = 2;
        s.dims[0] = 1 + (int32_t)draw(9);
        s.dims[1] = 2 + (int32_t)draw(150);
        x = reals(product_of(2, s.dims));
        s.w = reals((size_t)s.dims[1]);
        s.more = i % 4 == 3 ? NULL : reals((size_t)s.dims[1]); /* a norm without gamma and beta */
        /* Sums of n numbers of at most 4: n + 8 roundings. A norm scales differences of these numbers from their mean
           by at most 4; x and the mean both have this error. */
        check(&s, x, 16 * (s.dims[1] + 8) * 0x1p-24 * 4, i % 2 == 0 ? "softmax" : "layer_norm");
        free(s.more);
        free(s.w);
        free(x);
    }
}

/* Two tensors, one of them broadcast on some axes; x and x. */
static void test_binary(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION,
                                          NNRT_NODE_TYPE_MUL_FUSION};
    (void)unused;
    state = 6;
    for (uint32_t i = 0; i < 160; i++) {
        const uint32_t kept = draw(16);
        spec s;
        float *x;
        memset(&s, 0, sizeof(s));
        s.what = BINARY;
        s.type = types[i % 3];
        s.rank = 4;
        s.dims[0] = 2;
        s.dims[1] = 3;
        s.dims[2] = i % 40 == 39 ? 0 : 1 + (int32_t)draw(20);
        s.dims[3] = 1 + (int32_t)draw(i % 4 == 0 ? 700 : 40);
        s.rankOther = i % 10 == 0 ? -1 : (int32_t)draw(5);
        for (int32_t k = 0; k < s.rankOther; k++)
            s.other[k] = kept >> k & 1 ? s.dims[4 - s.rankOther + k] : 1;
        s.second = draw(2) == 0;
        s.activation = activations[draw(COUNT(activations))];
        x = reals(product_of(4, s.dims));
        s.w = s.rankOther >= 0 ? reals(product_of(s.rankOther, s.other)) : NULL;
        check(&s, x, 0x1p-20, "binary"); /* only activations differ from the reference device */
        free(s.w);
        free(x);
    }
}

/* Every float16 through activations, sums, differences and products: subnormal, infinite, NaN, and results that become
   infinite. */
static void test_all_values(void **unused)
{
    static const float others[] = {0.0f, -0.0f, 1.0f, 65504.0f, 5.9604645e-8f, -3.0f, 6.1035156e-5f, 0.33325195f};
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION,
                                          NNRT_NODE_TYPE_MUL_FUSION};
    float *x = (float *)malloc(65536 * sizeof(float));
    (void)unused;
    for (uint32_t i = 0; i < 65536; i++)
        x[i] = float_of(widened((uint16_t)i));
    for (uint32_t i = 0; i < COUNT(activations) + 3 * COUNT(others); i++) {
        spec s;
        memset(&s, 0, sizeof(s));
        s.rank = 2;
        s.dims[0] = 64;
        s.dims[1] = 1024;
        s.what = i < COUNT(activations) ? UNARY : BINARY;
        s.activation = s.what == UNARY ? activations[i] : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        if (s.activation == NNRT_ACTIVATION_TYPE_NO_ACTIVATION && s.what == UNARY)
            continue;
        if (s.what == BINARY) {
            s.type = types[(i - COUNT(activations)) % 3];
            s.w = (float *)(uintptr_t)&others[(i - COUNT(activations)) / 3];
        }
        check(&s, x, i < COUNT(activations) ? -1 : 0, s.what == UNARY ? "unary" : "binary");
    }
    free(x);
}

/* ---- plans ---- */

typedef struct chain {
    bool casts;   /* of float32, with casts to float16 and back where float16 is rounded */
    bool residual;
    int32_t h, channels;
} chain;

static uint32_t rounded(nnrt_builder *b, const chain *c, uint32_t x, const char *const *name)
{
    const int32_t to[2] = {(int32_t)F16, (int32_t)F32};
    uint32_t in[2];
    if (!c->casts)
        return x;
    in[0] = x;
    in[1] = nnrt_builder_constant(b, name[0], I32, 0, NULL, &to[0], true);
    in[0] = nnrt_builder_op(b, name[2], NNRT_NODE_TYPE_CAST, NULL, in, 2);
    in[1] = nnrt_builder_constant(b, name[1], I32, 0, NULL, &to[1], true);
    return nnrt_builder_op(b, name[3], NNRT_NODE_TYPE_CAST, NULL, in, 2);
}

/* Two convolutions and their sum, or the second one plus a constant. */
static NNRT_Model *make_chain(const chain *c, const float *w, const float *more)
{
    static const char *const names[2][4] = {{"a", "b", "c", "d"}, {"e", "f", "g", "h"}};
    const NNRT_DataType type = c->casts ? F32 : F16;
    const int32_t dims[4] = {1, c->channels, c->h, c->h}, wDims[4] = {c->channels, 3, 3, c->channels};
    const int64_t three[2] = {3, 3}, ones[2] = {1, 1}, pad[4] = {1, 1, 1, 1};
    NNRT_Conv2DFusion attr;
    nnrt_builder *b = NULL;
    uint32_t in[3], first;
    memset(&attr, 0, sizeof(attr));
    attr.kernelSize = nnrt_int64_list(three, 2);
    attr.stride = attr.dilation = nnrt_int64_list(ones, 2);
    attr.padList = nnrt_int64_list(pad, 4);
    attr.group = 1;
    assert_int_equal(nnrt_builder_create(&b, "chain", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", type, 4, dims);
    nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
    in[1] = number(b, "w", type, 4, wDims, w);
    in[2] = NNRT_NO_TENSOR;
    first = in[0] = rounded(b, c, nnrt_builder_op(b, "first", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3), names[0]);
    in[0] = rounded(b, c, nnrt_builder_op(b, "second", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3), names[1]);
    in[1] = c->residual ? first : number(b, "more", type, 4, dims, more);
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    return finish(b);
}

/* Intermediate results are rounded, although no float16 is stored if only the next step reads them: results are
   bit-identical to casts to float16 and back. */
static void test_rounding_between(void **unused)
{
    (void)unused;
    state = 7;
    for (uint32_t i = 0; i < 12; i++) {
        const chain whole = {true, i % 2 != 0, 9 + (int32_t)(i % 5), i % 4 < 2 ? 16 : 21};
        const size_t count = (size_t)(whole.h * whole.h * whole.channels);
        chain half = whole;
        float *x = reals(count), *w = reals((size_t)(9 * whole.channels * whole.channels)), *more = reals(count);
        NNRT_Model *models[2];
        uint16_t *y, *result;
        half.casts = false;
        for (size_t k = 0; k < (size_t)(9 * whole.channels * whole.channels); k++)
            w[k] = (float)half_to(half_of((double)w[k] / 8));
        models[0] = make_chain(&whole, w, more);
        models[1] = make_chain(&half, w, more);
        tiles = i % 3 == 0 ? "0" : NULL;
        check_models(models[0], models[1], x, count, -1, "two convolutions");
        y = halves(x, count);
        result = halves(x, count);
        run_on("cpu", models[1], y, count * 2, result, count * 2, 0);
        /* widen, first, round, second, narrow, sum; the first result is written for the sum, too: narrow, widen */
        assert_int_equal(steps, whole.residual ? 7 : 6);
        run_on("reference", models[1], y, count * 2, result, count * 2, 0);
        assert_int_equal(steps, 3);
        tiles = NULL;
        free(result);
        free(y);
        nnrt_model_destroy(models[1]);
        nnrt_model_destroy(models[0]);
        free(more);
        free(w);
        free(x);
    }
}

/* Nodes without a kernel run on the reference kernels, without an additional step: with an infinite weight padding must
   not be multiplied. */
static void test_left(void **unused)
{
    const spec made = {CONV, 4, {1, 9, 9, 17}, 5, {3, 3}, {1, 1}, {1, 1, 1, 1}, 1, {0, 0, 0, 0}, 0, true, false, false,
                       false, false, NNRT_NODE_TYPE_NONE, NNRT_ACTIVATION_TYPE_RELU, NULL, NULL};
    spec s = made;
    float *x = reals(9 * 9 * 17);
    uint16_t *half = halves(x, 9 * 9 * 17), y[2][9 * 9 * 5];
    (void)unused;
    state = 8;
    s.w = reals(9 * 17 * 5);
    for (uint32_t i = 0; i < 3; i++) {
        NNRT_Model *model;
        s.w[44] = i == 0 ? INFINITY : i == 1 ? NAN : 0.5f;
        model = make(&s, F16);
        run_on("reference", model, half, 9 * 9 * 17 * 2, y[0], sizeof(y[0]), 0);
        for (uint32_t k = 0; k < nSets; k++) {
            run_on(sets[k], model, half, 9 * 9 * 17 * 2, y[1], sizeof(y[1]), 0);
            assert_int_equal(steps, i < 2 ? 1 : 3);
            for (uint32_t t = 0; t < 9 * 9 * 5 && i < 2; t++)
                assert_true(is_same(y[0][t], y[1][t]));
        }
        nnrt_model_destroy(model);
    }
    free(s.w);
    free(half);
    free(x);
}

/* Convolutions and dense layers in float32, whose weights are a CAST of a float16 constant (cast) or float32 constants. */
typedef struct weights {
    const char *name;
    int32_t x[4], rank, w[4], wRank; /* CONV2D_FUSION, or of wRank 2 FULL_CONNECTION */
    int64_t group;
    bool infinite, added; /* a weight is infinite; the weights are added to an output, too */
    uint32_t steps;       /* with a CAST */
} weights;

static NNRT_Model *make_weights(const weights *s, const uint16_t *half, const float *wide, bool cast)
{
    const int64_t ones[2] = {1, 1}, pads[4] = {1, 1, 1, 1};
    nnrt_builder *b = NULL;
    NNRT_Conv2DFusion conv;
    NNRT_FullConnection dense;
    uint32_t in[3] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR, NNRT_NO_TENSOR}, both[2];
    assert_int_equal(nnrt_builder_create(&b, s->name, NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, s->rank, s->x);
    in[1] = nnrt_builder_constant(b, "w", cast ? F16 : F32, s->wRank, s->w, cast ? (const void *)half : (const void *)wide, false);
    if (cast) {
        const uint32_t w = nnrt_builder_tensor(b, "cast");
        nnrt_builder_declare(b, w, F32, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "cast", NNRT_NODE_TYPE_CAST, NULL, &in[1], 1, &w, 1);
        in[1] = w;
    }
    if (s->wRank == 2) {
        memset(&dense, 0, sizeof(dense));
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_FULL_CONNECTION, &dense, in, 2));
    } else {
        memset(&conv, 0, sizeof(conv));
        conv.stride = conv.dilation = nnrt_int64_list(ones, 2);
        conv.padList = nnrt_int64_list(pads, 4);
        conv.padMode = NNRT_PAD_MODE_PAD;
        conv.group = s->group;
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 2));
    }
    if (s->added) {
        both[0] = both[1] = in[1];
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_ADD_FUSION, NULL, both, 2));
    }
    return finish(b);
}

/* The outputs, one after the other, and the memory of the session. */
static nnrt_session_memory run_weights(const char *device, const NNRT_Model *model, const float *x, size_t bytesX, float *y,
                                   size_t most)
{
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, bytesX), out[2];
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_session_memory used;
    size_t at = 0;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    add_extensions(&desc, extensions);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    for (uint32_t i = 0; i < nnrt_session_outputs(session); i++) {
        out[i] = nnrt_io_make((uint8_t *)y + at, nnrt_session_output(session, i).bytes);
        at += out[i].bytes;
    }
    assert_true(at <= most);
    assert_int_equal(nnrt_run(session, &in, 1, out, nnrt_session_outputs(session)), NNRT_SUCCESS);
    used = nnrt_session_get_memory(session);
    nnrt_session_destroy(session);
    return used;
}

/* Steps pack float16 weights instead of their casts, with the bits of float32 weights. One that gets no kernel, and other
   readers, run the CAST. With the least memory packed weights stay float16 where the instructions convert them. */
static void test_cast_weights(void **unused)
{
    static const weights all[] = {
        {"conv 3x3", {1, 14, 15, 24}, 4, {40, 3, 3, 24}, 4, 1, false, false, 1},
        {"conv 1x1", {1, 14, 15, 24}, 4, {40, 1, 1, 24}, 4, 1, false, false, 1},
        {"conv in groups", {1, 9, 8, 24}, 4, {48, 3, 3, 8}, 4, 3, false, false, 1},
        {"depthwise", {1, 9, 8, 33}, 4, {33, 3, 3, 1}, 4, 33, false, false, 1},
        {"dense", {7, 130}, 2, {50, 130}, 2, 0, false, false, 1},
        {"one row", {1, 130}, 2, {300, 130}, 2, 0, false, false, 1},
        {"many rows", {9, 130}, 2, {300, 130}, 2, 0, false, false, 1},
        {"an infinite weight", {1, 9, 9, 17}, 4, {5, 3, 3, 17}, 4, 1, true, false, 2},
        {"also added", {1, 9, 9, 17}, 4, {5, 3, 3, 17}, 4, 1, false, true, 3},
    };
    (void)unused;
    state = 11;
    for (uint32_t c = 0; c < sizeof(all) / sizeof(all[0]); c++) {
        const weights *s = &all[c];
        const size_t count = product_of(s->wRank, s->w), bytesX = product_of(s->rank, s->x) * sizeof(float);
        static float y[4][40000];
        float *x = reals(bytesX / sizeof(float)), *wide = reals(count);
        uint16_t *half;
        NNRT_Model *model[2];
        if (s->infinite)
            wide[44] = INFINITY;
        half = halves(wide, count);
        for (int i = 0; i < 2; i++)
            model[i] = make_weights(s, half, wide, i == 1);
        for (uint32_t k = 0; k <= nSets; k++) {
            const char *device = k < nSets ? sets[k] : "reference";
            nnrt_session_memory used[4];
            memset(y, 0, sizeof(y));
            for (int i = 0; i < 4; i++) {
                memory = i < 2 || k == nSets ? NULL : "smallest";
                used[i] = run_weights(device, model[i % 2], x, bytesX, y[i], sizeof(y[i]));
                for (size_t t = 0; t < sizeof(y[i]) / sizeof(y[i][0]); t++)
                    if (bits_of(y[0][t]) != bits_of(y[i][t]) && !(y[0][t] != y[0][t] && y[i][t] != y[i][t]))
                        fail_msg("%s, %s, %d: element %u is %g, not %g", s->name, device, i, (unsigned)t, (double)y[i][t], (double)y[0][t]);
            }
            memory = NULL;
            if (k < nSets && (used[1].steps != s->steps || used[3].steps != s->steps))
                fail_msg("%s, %s: %u steps, expected %u", s->name, device, used[1].steps, s->steps);
            if (k < nSets && !s->added && !s->infinite &&
                (used[3].total > used[1].total || (s->w[0] == 300 && strstr(device, "avx") != NULL && used[3].total > used[1].total * 3 / 4)))
                fail_msg("%s, %s: %u bytes, smallest %u", s->name, device, (unsigned)used[1].total, (unsigned)used[3].total);
        }
        nnrt_model_destroy(model[0]);
        nnrt_model_destroy(model[1]);
        free(half);
        free(wide);
        free(x);
    }
}

/* The reported number of bytes suffices, one less fails. */
static void test_memory(void **unused)
{
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < 3 * nSets; i++) {
        const chain c = {false, i % 2 != 0, 20, 17};
        float *x = reals(20 * 20 * 17), *w = reals(9 * 17 * 17);
        uint16_t *half = halves(x, 20 * 20 * 17), *sum = halves(x, 20 * 20 * 17);
        NNRT_Model *model = make_chain(&c, w, x);
        nnrt_session_desc desc;
        NNRT_Extension extensions[MOST_EXTENSIONS];
        const nnrt_io in = nnrt_io_make(half, 20 * 20 * 17 * 2), result = nnrt_io_make(sum, 20 * 20 * 17 * 2);
        memset(&desc, 0, sizeof(desc));
        tiles = i / nSets == 0 ? "0" : i / nSets == 1 ? "2" : "4";
        add_extensions(&desc, extensions);
        desc.device = sets[i % nSets];
        assert_true(run_in_bytes(model, desc, &in, &result) > 0);
        nnrt_model_destroy(model);
        free(sum);
        free(half);
        free(w);
        free(x);
    }
    tiles = NULL;
}

/* Threads share large work, with bit-identical results. */
static void test_sharing(void **unused)
{
    spec s;
    float *x;
    (void)unused;
    state = 10;
    memset(&s, 0, sizeof(s));
    s.rank = 4;
    s.dims[0] = 1;
    s.dims[1] = s.dims[2] = 40;
    s.dims[3] = 33;
    x = reals(40 * 40 * 33);
    s.w = reals(33);
    s.what = BINARY;
    s.type = NNRT_NODE_TYPE_MUL_FUSION;
    s.rankOther = 1;
    s.other[0] = 33;
    s.activation = NNRT_ACTIVATION_TYPE_GELU;
    check(&s, x, 0x1p-20, "binary");
    assert_true(team_calls > 0);
    s.what = UNARY;
    check(&s, x, 0x1p-20, "unary");
    assert_true(team_calls > 0);
    free(s.w);
    s.what = CONV;
    s.planes = true;
    s.c = 19;
    s.group = s.stride[0] = s.stride[1] = s.window[0] = s.window[1] = 1;
    s.w = reals(33 * 19);
    check(&s, x, off_of(33), "gemm");
    assert_true(team_calls > 2); /* threads also share widening and narrowing */
    free(s.w);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_widening, forget),
        cmocka_unit_test_setup(test_narrowing, forget),
        cmocka_unit_test_setup(test_convolutions, forget),
        cmocka_unit_test_setup(test_tiles, forget),
        cmocka_unit_test_setup(test_pools, forget),
        cmocka_unit_test_setup(test_matrices, forget),
        cmocka_unit_test_setup(test_rows, forget),
        cmocka_unit_test_setup(test_binary, forget),
        cmocka_unit_test_setup(test_all_values, forget),
        cmocka_unit_test_setup(test_rounding_between, forget),
        cmocka_unit_test_setup(test_left, forget),
        cmocka_unit_test_setup(test_cast_weights, forget),
        cmocka_unit_test_setup(test_memory, forget),
        cmocka_unit_test_setup(test_sharing, forget),
        cmocka_unit_test_setup(test_half_convolutions, forget),
        cmocka_unit_test_setup(test_half_matrices, forget),
        cmocka_unit_test_setup(test_half_overflow, forget),
        cmocka_unit_test_setup(test_half_unused, forget),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
