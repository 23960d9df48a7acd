/* The 8-bit kernels of the fast device (devices/nnrt_cpu.h) with each instruction set of this machine: every kernel, by
   name, with dimensions around the borders of its tiles, and with 0 if the operator supports empty tensors. Each result
   must have the bits of the reference device. */
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
#include "long.h"
#include "on_sets.h"
#include "convs.h"

/* ---- 8 bits: bit-identical to the reference device ---- */

#define I8 NNRT_DATA_TYPE_INT8
#define U8 NNRT_DATA_TYPE_UINT8
#define I16 NNRT_DATA_TYPE_INT16

/* Random bytes; every fourth is an end of its range. */
static uint8_t *bytes_of(size_t count)
{
    static const uint8_t ends[] = {0, 255, 127, 128};
    uint8_t *made = (uint8_t *)malloc(count + 1);
    for (size_t i = 0; i < count; i++)
        made[i] = draw(4) == 0 ? ends[draw(4)] : (uint8_t)draw(256);
    return made;
}

/* Bytes that the step of the node "y" reads, with derived constants: they distinguish the kernels of two devices. */
static uint32_t steps; /* of the last run */
static void see_step(void *user, const nnrt_profile_step *step)
{
    steps++;
    if (strcmp(step->name, "y") == 0 && strcmp(step->op, "nnrt_cpu_copy") != 0)
        *(size_t *)user = step->read;
}

/* The second input of the model; NULL: it has one. */
static const void *second;
static size_t secondBytes;

/* *read (or NULL): the bytes that this step reads. Returns the number of calls of the team. */
static uint32_t run_bytes(const char *device, const NNRT_Model *model, const void *x, size_t nX, void *y, size_t nY,
                          uint32_t workers, size_t *read)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_profile profile;
    nnrt_error e;
    const nnrt_io in[2] = {nnrt_io_make((void *)(uintptr_t)x, nX), nnrt_io_make((void *)(uintptr_t)second, secondBytes)};
    nnrt_io out = nnrt_io_make(y, nY);
    size_t unused = 0;
    team t;
    memset(&desc, 0, sizeof(desc));
    memset(&profile, 0, sizeof(profile));
    memset(&e, 0, sizeof(e));
    profile.step = see_step;
    profile.user = read != NULL ? read : &unused;
    desc.device = device;
    desc.parallel = team_of(&t, workers);
    desc.profile = &profile;
    add_extensions(&desc, extensions);
    steps = 0;
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    if (nnrt_run(session, in, second != NULL ? 2 : 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, nnrt_session_error(session));
    nnrt_session_destroy(session);
    return t.calls;
}

enum { TAKEN, KEPT, EITHER };

/* Each set, with 0, 1, 2, 3 and 8 workers, computes the same bytes as the reference device. Derived constants, if any,
   show whether its own kernel or the reference kernel ran. */
static void check_bytes(const NNRT_Model *model, const void *x, size_t nX, size_t nY, uint32_t how, const char *what)
{
    static const uint32_t offered[] = {0, 1, 2, 3, 8};
    uint8_t *y = (uint8_t *)malloc(nY + 1), *expected = (uint8_t *)malloc(nY + 1);
    size_t read = 0, there = 0;
    (void)run_bytes("reference", model, x, nX, expected, nY, 0, &read);
    for (uint32_t s = 0; s < nSets; s++)
        for (uint32_t k = 0; k < COUNT(offered); k++) {
            memset(y, 0xA5, nY);
            (void)run_bytes(sets[s], model, x, nX, y, nY, offered[k], &there);
            if (how != EITHER && (there == read) != (how == KEPT))
                fail_msg("%s on %s: %s", what, sets[s], how == KEPT ? "not the reference kernel" : "the reference kernel");
            for (size_t i = 0; i < nY; i++)
                if (y[i] != expected[i])
                    fail_msg("%s on %s, %u workers: byte %u is %d, expected %d", what, sets[s], offered[k], (unsigned)i,
                             y[i], expected[i]);
        }
    free(expected);
    free(y);
}

/* A zero point: an end of the range, its middle or any. */
static int32_t draw_zero(NNRT_DataType type)
{
    const int32_t least = type == I8 ? -128 : 0;
    const uint32_t kind = draw(4);
    return least + (kind == 0 ? 0 : kind == 1 ? 255 : kind == 2 ? 128 : (int32_t)draw(256));
}

/* Sizes of sums and factors: as in networks; powers of 2, where half of all sums are midway between two results;
   factors of 1/2 and more; factors with result 0; biases that reach 2^30 with the products, or 2^31: these use the
   reference kernel. */
enum { USUAL, POWERS, FACTORS_LARGE, FACTORS_SMALL, BIAS_30, BIAS_31, SIZES };

typedef struct eight {
    conv c;
    NNRT_NodeType type;
    NNRT_DataType x, w, y;
    bool perChannel, either; /* either: some sets use the reference kernel */
    bool most;               /* int16: x and w are the least numbers, whose products are the largest */
    uint32_t size, weights;
} eight;

/* Weights less their zero point: any; of 7 bits; small ones, and some large; 32, or rarely 33, by the largest x: four of them
   are at the limit of AVX2's sums of 16 bits, 128; 64, or rarely 65: two are. */
enum { ANY_WEIGHTS, SEVEN_BITS, SMALL_WEIGHTS, LIMIT_OF_FOUR, LIMIT_OF_TWO, WEIGHTS };

static void draw_weights(const eight *e, uint8_t *w, size_t nW, uint8_t *x, size_t nX, int32_t zeroW)
{
    for (size_t i = 0; i < nW && e->weights != ANY_WEIGHTS; i++) {
        const int32_t sign = i / 8 % 2 == 0 ? 1 : -1; /* so that sums of all terms are in the range of y */
        const int32_t v = e->weights == SEVEN_BITS      ? (int32_t)draw(129) - 64
                          : e->weights == SMALL_WEIGHTS ? (draw(60) == 0 ? (int32_t)draw(256) - 128 : (int32_t)draw(41) - 20)
                          : e->weights == LIMIT_OF_FOUR ? sign * (32 + (draw(20) == 0))
                                                        : sign * (64 + (draw(20) == 0));
        w[i] = (uint8_t)(zeroW + v);
    }
    for (size_t i = 0; i < nX && e->weights >= LIMIT_OF_FOUR; i++)
        if (draw(20) != 0)
            x[i] = e->x == I8 ? 127 : 255;
}

/* Adds the node "y", whose result has the type and the parameters, and finishes the model. */
static NNRT_Model *finish_eight(nnrt_builder *b, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                                NNRT_DataType typeY, int32_t rank, const int32_t *dims, const NNRT_QuantParam *params)
{
    const uint32_t y = nnrt_builder_tensor(b, "y");
    nnrt_builder_declare(b, y, typeY, rank, dims);
    if (params != NULL)
        nnrt_builder_quant(b, y, params, 1);
    nnrt_builder_node(b, "y", type, attr, in, nIn, &y, 1);
    nnrt_builder_output(b, y);
    return finish(b);
}

static void check_eight(const eight *e)
{
    const conv *s = &e->c;
    const bool transposed = e->type == NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION;
    const bool image = transposed || e->type == NNRT_NODE_TYPE_CONV2D_FUSION;
    const int32_t perGroup = s->k / (int32_t)s->group;
    const int32_t dims[4] = {s->n, s->h, s->w, s->k}, matrix[2] = {s->w, s->k};
    const int32_t wDims[4] = {s->c, s->window[0], s->window[1], perGroup}, wMatrix[2] = {s->c, s->k};
    const size_t terms = (size_t)(s->window[0] * s->window[1] * perGroup), nW = terms * (size_t)s->c;
    const bool words = e->x == I16;
    const size_t nX = (size_t)(s->n * s->h * s->w * s->k) * (words ? 2 : 1);
    const int32_t zeroW = e->w == U8 ? 128 : 0;
    uint8_t *x = bytes_of(nX), *w = bytes_of(nW);
    int32_t *bias = (int32_t *)malloc(sizeof(int32_t) * (size_t)s->c);
    int32_t out[4] = {s->n, 0, 0, s->c}, outMatrix[2] = {s->w, s->c};
    NNRT_QuantParam *params = (NNRT_QuantParam *)malloc(sizeof(NNRT_QuantParam) * (size_t)s->c);
    const bool powers = e->size == POWERS;
    NNRT_QuantParam px = param_of(powers ? 0x1p-6 : 0.02, words ? 0 : draw_zero(e->x));
    const double spread = e->size == FACTORS_LARGE ? 1.0 : e->size == FACTORS_SMALL ? 1e13 : 60.0 * sqrt((double)terms);
    const double scale = powers ? ldexp(0x1p-13, (int)log2(spread)) : 0.02 * 0.01 * spread;
    NNRT_QuantParam py = param_of(scale * (e->size >= BIAS_30 && draw(2) == 0 ? 1e5 : 1.0), words ? 0 : draw_zero(e->y));
    NNRT_Conv2DFusion attr;
    NNRT_FullConnection full;
    NNRT_MatMulFusion product;
    NNRT_Conv2dTransposeFusion back;
    const void *attrs = transposed                                  ? (const void *)&back
                        : image                                     ? (const void *)&attr
                        : e->type == NNRT_NODE_TYPE_FULL_CONNECTION ? (const void *)&full
                                                                    : (const void *)&product;
    nnrt_builder *b = NULL;
    NNRT_Model *model;
    uint32_t in[3];
    char what[200];
    if (!words)
        draw_weights(e, w, nW, x, nX, zeroW);
    for (int32_t c = 0; c < s->c; c++) {
        bias[c] = (int32_t)draw(20001) - 10000;
        if (e->size >= BIAS_30)
            bias[c] = (draw(2) == 0 ? -1 : 1) * ((e->size == BIAS_30 ? 1 << 30 : INT32_MAX) - (int32_t)draw(1000));
        params[c] = param_of(powers ? ldexp(0x1p-7, (int)draw(3)) : 0.01 * (0.5 + draw(1000) / 1000.0), zeroW);
    }
    if (words)
        px.numBits = py.numBits = 16;
    for (size_t i = 0; i < nX && e->most; i++)
        x[i] = i % 2 == 0 ? 0 : 0x80;
    if (e->most)
        memset(w, 0x80, nW);
    memset(&attr, 0, sizeof(attr));
    memset(&full, 0, sizeof(full));
    memset(&product, 0, sizeof(product));
    attr.kernelSize = nnrt_int64_list((const int64_t[2]){s->window[0], s->window[1]}, 2);
    attr.stride = nnrt_int64_list(s->stride, 2);
    attr.dilation = nnrt_int64_list(s->dilation, 2);
    attr.padList = nnrt_int64_list(s->pad, 4);
    attr.group = s->group;
    attr.activationType = full.activationType = product.activationType = s->activation;
    full.hasBias = s->bias;
    product.transposeB = true;
    memset(&back, 0, sizeof(back));
    back.kernelSize = attr.kernelSize;
    back.stride = attr.stride;
    back.dilation = attr.dilation;
    back.padList = attr.padList;
    back.group = s->group;
    back.activationType = s->activation;
    for (int32_t i = 0; i < 2 && transposed; i++)
        out[1 + i] = (int32_t)((dims[1 + i] - 1) * s->stride[i] + s->dilation[i] * (s->window[i] - 1) + 1 - s->pad[2 * i] -
                               s->pad[2 * i + 1]);
    for (int32_t i = 0; i < 2 && !transposed; i++)
        out[1 + i] = (int32_t)((dims[1 + i] + s->pad[2 * i] + s->pad[2 * i + 1] -
                                s->dilation[i] * (s->window[i] - 1) - 1) / s->stride[i] + 1);
    assert_int_equal(nnrt_builder_create(&b, "eight", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", e->x, image ? 4 : 2, image ? dims : matrix);
    nnrt_builder_quant(b, in[0], &px, 1);
    in[1] = nnrt_builder_constant(b, "w", e->w, image ? 4 : 2, image ? wDims : wMatrix, w, false);
    nnrt_builder_quant(b, in[1], params, e->perChannel ? (uint32_t)s->c : 1);
    nnrt_builder_quant_axis(b, in[1], e->perChannel ? 1 : 0);
    in[2] = s->bias ? nnrt_builder_constant(b, "bias", I32, 1, &s->c, bias, false) : NNRT_NO_TENSOR;
    model = finish_eight(b, e->type, attrs, in, 3, e->y, image ? 4 : 2, image ? out : outMatrix, &py);
    snprintf(what, sizeof(what), "%d: [%d,%d,%d,%d] by %d of %d x %d, group %d, types %d,%d,%d, zero points %d,%d, "
             "activation %d, size %u%s%s", (int)e->type, (int)s->n, (int)s->h, (int)s->w, (int)s->k, (int)s->c,
             (int)s->window[0], (int)s->window[1], (int)s->group, (int)e->x, (int)e->w, (int)e->y, (int)px.zeroPoint,
             (int)py.zeroPoint, (int)s->activation, e->size, s->bias ? ", bias" : "", e->perChannel ? ", per channel" : "");
    kernel = words                                                  ? (s->group == 1 || s->group == s->k ? "conv_q16" : NULL)
             : e->either || (e->size == BIAS_31 && s->bias)         ? NULL
             : transposed || (s->group > 1 && s->group < s->k)       ? "multi_gemm_q8"
             : s->group == 1                                         ? "gemm_q8"
                                                                     : "depthwise_q8";
    check_bytes(model, x, nX, (image ? product_of(4, out) : product_of(2, outMatrix)) * (words ? 2 : 1),
                e->either ? EITHER : kernel == NULL ? KEPT : TAKEN, what);
    kernel = NULL;
    nnrt_model_destroy(model);
    free(params);
    free(bias);
    free(w);
    free(x);
}

static const NNRT_ActivationType fused[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,
                                            NNRT_ACTIVATION_TYPE_RELU6, NNRT_ACTIVATION_TYPE_RELU1};

static void draw_types(eight *e)
{
    e->x = draw(2) == 0 ? I8 : U8;
    e->w = e->x == U8 && draw(4) == 0 ? U8 : I8;
    e->y = e->x;
    e->perChannel = draw(2) == 0;
    e->size = draw(3) == 0 ? draw(SIZES) : USUAL;
    e->weights = draw(WEIGHTS);
    e->c.activation = fused[draw(COUNT(fused))];
    e->c.bias = draw(3) != 0 || e->size >= BIAS_30;
}

/* Channels of y around a vector and a panel of each set (4, 8, 16, 32, 48, 64), of x around a group; pixels around a
   tile. */
static void test_products_of_8_bits(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80, 128, 130};
    static const int32_t depths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 28, 31, 32, 40, 64, 65};
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_FULL_CONNECTION, NNRT_NODE_TYPE_MATMUL_FUSION,
                                          NNRT_NODE_TYPE_CONV2D_FUSION};
    eight e;
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < COUNT(channels) * 6; i++) {
        memset(&e, 0, sizeof(e));
        draw_types(&e);
        e.type = types[i % 3];
        e.c.n = e.c.h = 1;
        e.c.group = e.c.stride[0] = e.c.stride[1] = e.c.dilation[0] = e.c.dilation[1] = 1;
        e.c.window[0] = e.c.window[1] = 1;
        e.c.c = channels[i % COUNT(channels)];
        e.c.w = 1 + (int32_t)(draw(4) == 0 ? draw(140) : draw(14));
        e.c.k = depths[draw(COUNT(depths))];
        check_eight(&e);
    }
    for (uint32_t i = 0; i < 80; i++) {
        memset(&e, 0, sizeof(e));
        draw_window(&e.c);
        draw_types(&e);
        e.type = NNRT_NODE_TYPE_CONV2D_FUSION;
        e.c.n = 1 + (int32_t)draw(2);
        e.c.group = 1;
        e.c.k = i % 2 == 0 ? 4 * (1 + (int32_t)draw(5)) : 1 + (int32_t)draw(9);
        e.c.c = channels[draw(COUNT(channels))];
        check_eight(&e);
    }
}

/* int16 by int8 weights: channels as above, also of depthwise convolutions, other groups, which keep the reference kernel, and
   sums of more terms than int32 holds. */
static void test_16_by_8_bits(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 65};
    static const int32_t depths[] = {1, 2, 3, 5, 8, 16, 31, 64, 509, 510, 511, 512, 1020, 1021, 1100};
    eight e;
    (void)unused;
    state = 17;
    for (uint32_t i = 0; i < COUNT(channels) * 8; i++) {
        memset(&e, 0, sizeof(e));
        draw_window(&e.c);
        draw_types(&e);
        e.x = e.y = I16;
        e.w = I8;
        e.most = draw(4) == 0;
        e.type = i % 4 == 3 ? NNRT_NODE_TYPE_FULL_CONNECTION : NNRT_NODE_TYPE_CONV2D_FUSION;
        e.c.n = 1 + (int32_t)draw(2);
        e.c.c = e.c.k = channels[i % COUNT(channels)];
        e.c.group = i % 4 == 1 ? e.c.k : i % 4 == 2 && e.c.k % 4 == 0 ? 4 : 1;
        if (i % 4 == 0 || i % 4 == 3)
            e.c.k = depths[draw(COUNT(depths))];
        if (i % 4 == 3 || (i % 4 == 0 && e.c.k > 64))
            e.c.n = e.c.h = e.c.window[0] = e.c.window[1] = 1;
        for (uint32_t k = 0; k < 4 && e.c.window[0] * e.c.window[1] == 1; k++)
            e.c.pad[k] = 0;
        check_eight(&e);
    }
}

/* Sums next to a midpoint of two results, where float arithmetic may be inexact, for results from just below 0 to just
   above 255; and sums up to 2^29, which exceed the exact range of floats. x is its zero point, so that a sum is its
   bias. */
static void test_halves_of_8_bits(void **unused)
{
    enum { CHANNELS = 640, PIXELS = 9 };
    static int32_t bias[CHANNELS];
    static NNRT_QuantParam params[CHANNELS];
    static uint8_t x[PIXELS], w[CHANNELS];
    static const int32_t dims[2] = {PIXELS, 1}, wDims[2] = {CHANNELS, 1}, count = CHANNELS, out[2] = {PIXELS, CHANNELS};
    NNRT_FullConnection attr;
    (void)unused;
    state = 41;
    memset(&attr, 0, sizeof(attr));
    memset(w, 1, sizeof(w));
    attr.hasBias = true;
    for (uint32_t round = 0; round < 40; round++) {
        const NNRT_DataType type = round % 2 == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type));
        const NNRT_QuantParam py = param_of(ldexp(0.5 + draw(1000) / 2000.0, (int)(round / 2 % 10) - 9), draw_zero(type));
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3];
        memset(x, px.zeroPoint, sizeof(x));
        attr.activationType = fused[round % COUNT(fused)];
        for (int32_t c = 0; c < CHANNELS; c++) {
            const double result = (double)draw(264) - 4 - (py.zeroPoint - (type == I8 ? -128 : 0)) + 0.5;
            double factor, sum;
            params[c] = param_of(0.001 + draw(1 << 20) / 1e7, 0);
            factor = px.scale * params[c].scale / py.scale;
            sum = floor(result / factor) + draw(3);
            if (round % 4 == 3 && c % 16 == 0)
                sum = (draw(2) == 0 ? -1.0 : 1.0) * ldexp(1 + draw(1000) / 2000.0, 21 + (int)draw(8));
            bias[c] = (int32_t)(fabs(sum) < 0x1p29 ? sum : 0);
        }
        assert_int_equal(nnrt_builder_create(&b, "halves", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", type, 2, dims);
        nnrt_builder_quant(b, in[0], &px, 1);
        in[1] = nnrt_builder_constant(b, "w", I8, 2, wDims, w, false);
        nnrt_builder_quant(b, in[1], params, CHANNELS);
        nnrt_builder_quant_axis(b, in[1], 1);
        in[2] = nnrt_builder_constant(b, "bias", I32, 1, &count, bias, false);
        model = finish_eight(b, NNRT_NODE_TYPE_FULL_CONNECTION, &attr, in, 3, type, 2, out, &py);
        kernel = "gemm_q8";
        check_bytes(model, x, sizeof(x), (size_t)PIXELS * CHANNELS, TAKEN, "halves");
        kernel = NULL;
        nnrt_model_destroy(model);
    }
}

/* Channels around a vector and a block of each set, and some that several pixels fill blocks with (8, 16, 24, 32, 48,
   96); kernels of more rows than are gathered at once; more pixels than are computed at once. */
static void test_depthwise_of_8_bits(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 130, 144};
    eight e;
    (void)unused;
    state = 10;
    for (uint32_t i = 0; i < COUNT(channels) * 6; i++) {
        memset(&e, 0, sizeof(e));
        draw_window(&e.c);
        draw_types(&e);
        e.type = NNRT_NODE_TYPE_CONV2D_FUSION;
        e.c.n = 1 + (int32_t)draw(2);
        e.c.group = e.c.k = e.c.c = channels[i % COUNT(channels)];
        if (draw(3) == 0) {
            e.c.window[0] = 1 + (int32_t)draw(7);
            e.c.window[1] = 1 + (int32_t)draw(7);
            e.c.h += 8;
            e.c.w += 8;
        }
        if (draw(2) == 0)
            e.c.w += 28 + (int32_t)draw(e.c.k < 33 ? 60 : 8);
        check_eight(&e);
    }
    /* Such a large dilation that gathering the columns between taps does not pay: on some sets. */
    memset(&e, 0, sizeof(e));
    e.type = NNRT_NODE_TYPE_CONV2D_FUSION;
    e.x = e.y = U8;
    e.w = I8;
    e.c.n = e.c.h = e.c.window[0] = 1;
    e.c.k = e.c.c = 1;
    e.c.group = e.c.stride[0] = e.c.stride[1] = e.c.dilation[0] = 1;
    e.c.window[1] = 9;
    e.c.dilation[1] = 3000;
    e.c.w = 24011;
    e.either = true;
    check_eight(&e);
}

/* Grouped and transposed convolutions: channels of a group around a vector and a panel of y, and around a group of x. A
   phase of a transposed convolution that no tap reaches keeps the reference kernel. */
static void test_groups_of_8_bits(void **unused)
{
    static const int32_t results[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33, 48, 64, 65, 70};
    eight e;
    (void)unused;
    state = 21;
    for (uint32_t i = 0; i < 160; i++) {
        bool covered = true;
        memset(&e, 0, sizeof(e));
        draw_window(&e.c);
        draw_types(&e);
        e.type = i % 2 == 0 ? NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION : NNRT_NODE_TYPE_CONV2D_FUSION;
        e.c.n = 1 + (int32_t)draw(2);
        e.c.group = i % 2 == 0 && draw(2) == 0 ? 1 : 2 + draw(3);
        e.c.k = (int32_t)e.c.group * (draw(2) == 0 ? 4 * (1 + (int32_t)draw(5)) : 2 + (int32_t)draw(8));
        e.c.c = (int32_t)e.c.group * results[i % COUNT(results)];
        if (i % 2 == 0 && draw(4) == 0)
            e.c.stride[draw(2)] = 3;
        for (int32_t k = 0; k < 2; k++) {
            const int64_t reach = e.c.dilation[k] * (e.c.window[k] - 1);
            e.c.pad[2 * k] = e.c.pad[2 * k] > reach ? reach : e.c.pad[2 * k];
            covered = covered && (e.c.window[k] >= e.c.stride[k] && (e.c.dilation[k] == 1 || e.c.stride[k] % 2 != 0));
        }
        e.either = i % 2 == 0 && !covered;
        check_eight(&e);
    }
}

/* Two channels of x, with every pair of bytes as a pixel: all sums 127 * a + b, around the midpoints between results of
   many scales, below and above 0. */
static void test_borders_of_8_bits(void **unused)
{
    static const int32_t dims[4] = {1, 256, 256, 2}, wDims[4] = {35, 1, 1, 2}, out[4] = {1, 256, 256, 35};
    static const int64_t ones[2] = {1, 1}, none[4] = {0, 0, 0, 0};
    const size_t nX = product_of(4, dims);
    uint8_t *x = (uint8_t *)malloc(nX), w[70];
    NNRT_QuantParam params[35];
    (void)unused;
    state = 15;
    for (size_t i = 0; i < nX; i += 2) {
        x[i] = (uint8_t)(i >> 9);
        x[i + 1] = (uint8_t)(i >> 1);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const NNRT_DataType type = i == 2 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.5, i == 2 ? -128 : 0), py = param_of(0.5, i == 0 ? 0 : i == 1 ? 255 : 7);
        NNRT_Conv2DFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2];
        memset(&attr, 0, sizeof(attr));
        attr.kernelSize = attr.stride = attr.dilation = nnrt_int64_list(ones, 2);
        attr.padList = nnrt_int64_list(none, 4);
        attr.group = 1;
        for (uint32_t c = 0; c < 35; c++) {
            params[c] = param_of((0.6 + draw(1000) / 1000.0) / 127, 0);
            w[2 * c] = (uint8_t)(i == 1 || (i == 2 && c % 2 == 1) ? -127 : 127);
            w[2 * c + 1] = (uint8_t)(w[2 * c] == 127 ? 1 : -1);
        }
        assert_int_equal(nnrt_builder_create(&b, "borders", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", type, 4, dims);
        nnrt_builder_quant(b, in[0], &px, 1);
        in[1] = nnrt_builder_constant(b, "w", I8, 4, wDims, w, false);
        nnrt_builder_quant(b, in[1], params, 35);
        model = finish_eight(b, NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 2, type, 4, out, &py);
        kernel = "gemm_q8";
        check_bytes(model, x, nX, product_of(4, out), TAKEN, "borders");
        kernel = NULL;
        nnrt_model_destroy(model);
    }
    free(x);
}

/* y with the parameters of x, so that stored integers are unchanged, or with others. */
static void test_pools_of_8_bits(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 130};
    (void)unused;
    state = 11;
    for (uint32_t i = 0; i < COUNT(channels) * 8; i++) {
        const int32_t dims[4] = {1 + (int32_t)draw(2), 3 + (int32_t)draw(7), 3 + (int32_t)draw(7),
                                 channels[i % COUNT(channels)]};
        const int64_t window[2] = {1 + draw(3), 1 + draw(3)}, strides[2] = {1 + draw(2), 1 + draw(2)};
        const int64_t pad[4] = {draw(2) * (window[0] > 1), draw(2) * (window[0] > 1), draw(2) * (window[1] > 1),
                                draw(2) * (window[1] > 1)};
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type));
        const NNRT_QuantParam py = draw(2) == 0 ? px : param_of(draw(3) == 0 ? 0.04 : 0.005 + draw(30) / 1000.0, draw_zero(type));
        const size_t nX = product_of(4, dims);
        uint8_t *x = bytes_of(nX);
        int32_t out[4] = {dims[0], 0, 0, dims[3]};
        NNRT_AvgPoolFusion average;
        NNRT_MaxPoolFusion most;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&average, 0, sizeof(average));
        memset(&most, 0, sizeof(most));
        average.kernelSize = most.kernelSize = nnrt_int64_list(window, 2);
        average.strides = most.strides = nnrt_int64_list(strides, 2);
        average.pad = most.pad = nnrt_int64_list(pad, 4);
        average.activationType = most.activationType = fused[draw(COUNT(fused))];
        for (int32_t k = 0; k < 2; k++)
            out[1 + k] = (int32_t)((dims[1 + k] + pad[2 * k] + pad[2 * k + 1] - window[k]) / strides[k] + 1);
        assert_int_equal(nnrt_builder_create(&b, "pool", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", type, 4, dims);
        nnrt_builder_quant(b, in, &px, 1);
        model = i % 2 == 0 ? finish_eight(b, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, &in, 1, type, 4, out, &py)
                           : finish_eight(b, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &in, 1, type, 4, out, &py);
        kernel = i % 2 == 0 ? "max_pool_q8" : "average_pool_q8";
        check_bytes(model, x, nX, product_of(4, out), EITHER, i % 2 == 0 ? "the largest" : "the average");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(x);
    }
}

/* Global average pools in both layouts. Halves of means of both signs are frequent:
   the number of elements is even, the stored integers lie around 0. */
static void test_global_pools_of_8_bits(void **unused)
{
    static const int32_t channels[] = {1, 3, 16, 31, 64, 65, 130}, sides[] = {1, 2, 4, 6, 8, 11, 33};
    (void)unused;
    state = 31;
    for (uint32_t i = 0; i < 120; i++) {
        const int32_t dims[4] = {1 + (int32_t)draw(2), sides[draw(COUNT(sides))], sides[draw(COUNT(sides))],
                                 channels[draw(COUNT(channels))]};
        const bool planes = draw(2) == 0;
        const int32_t nchw[4] = {dims[0], dims[3], dims[1], dims[2]}, out[4] = {dims[0], 1, 1, dims[3]};
        const int32_t outNchw[4] = {dims[0], dims[3], 1, 1};
        const int64_t window[2] = {dims[1], dims[2]}, strides[2] = {1, 1}, pad[4] = {0, 0, 0, 0};
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type));
        const NNRT_QuantParam py = draw(2) == 0 ? px : param_of(0.001 + draw(30) / 1000.0, draw_zero(type));
        const size_t nX = product_of(4, dims);
        uint8_t *x = bytes_of(nX);
        NNRT_AvgPoolFusion average;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        char what[80];
        for (size_t k = 0; k < nX; k++)
            x[k] = (uint8_t)(type == I8 ? x[k] % 8 - 4 : x[k] % 8 + 124 * (i % 3 == 0));
        memset(&average, 0, sizeof(average));
        average.kernelSize = nnrt_int64_list(window, 2);
        average.strides = nnrt_int64_list(strides, 2);
        average.pad = nnrt_int64_list(pad, 4);
        assert_int_equal(nnrt_builder_create(&b, "pool", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", type, 4, planes ? nchw : dims);
        nnrt_builder_format(b, in, planes ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_quant(b, in, &px, 1);
        model = finish_eight(b, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &in, 1, type, 4, planes ? outNchw : out, &py);
        kernel = "reduce_q8";
        snprintf(what, sizeof(what), "all of [%d,%d,%d,%d], channels %s", (int)dims[0], (int)dims[1], (int)dims[2],
                 (int)dims[3], planes ? "first" : "last");
        check_bytes(model, x, nX, product_of(4, out), EITHER, what);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(x);
    }
}

/* The attributes of ADD_FUSION, SUB_FUSION and MUL_FUSION, which are alike. */
static const NNRT_NodeType sums[] = {NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION, NNRT_NODE_TYPE_MUL_FUSION};

/* y = x, and a constant that is broadcast to it; scales equal, near and far from each other. */
static void test_sums_of_8_bits(void **unused)
{
    static const double scales[] = {0.02, 0.01, 0.02, 0.0213, 1e-9, 40.0, 0x1p-6, 0x1p-7};
    static const int32_t counts[] = {1, 3, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 129, 300, 600, 0};
    (void)unused;
    state = 12;
    for (uint32_t i = 0; i < COUNT(counts) * 20; i++) {
        const bool large = i == 5 || i == 6;
        const NNRT_NodeType type = large ? sums[0] : sums[draw(3)];
        const int32_t dims[3] = {large ? 2 : 1 + (int32_t)draw(3), large ? 50 : 1 + (int32_t)draw(5),
                                 large ? 6001 : counts[i % COUNT(counts)]};
        /* of all, of rows (also without the leading axes), of planes, of columns, of one element */
        const uint32_t shape = large ? i - 5 : draw(6);
        const int32_t all[3] = {dims[0], dims[1], dims[2]}, row[3] = {1, 1, dims[2]}, plane[3] = {1, dims[1], 1};
        const int32_t column[3] = {dims[0], 1, 1};
        const int32_t *const shapes[] = {all, row, row + 2, plane, column, NULL};
        const int32_t rank = shape == 5 ? 0 : shape == 2 ? 1 : 3;
        const size_t nX = product_of(3, dims), nC = shape == 5 ? 1 : product_of(rank, shapes[shape]);
        const NNRT_DataType t = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(scales[draw(COUNT(scales))], draw_zero(t));
        const NNRT_QuantParam pc = param_of(draw(3) == 0 ? px.scale : scales[draw(COUNT(scales))], draw_zero(t));
        static const double factors[] = {0.2, 1.3, 1.3, 2.0};
        const double size = type == sums[2] ? px.scale * pc.scale * 60 : px.scale > pc.scale ? px.scale : pc.scale;
        const NNRT_QuantParam py = param_of(size * factors[draw(4)], draw_zero(t));
        uint8_t *x = bytes_of(nX), *c = bytes_of(nC), *y = bytes_of(nX);
        const uint32_t first = draw(2);
        NNRT_AddFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2];
        char what[100];
        memset(&attr, 0, sizeof(attr));
        attr.activationType = fused[draw(COUNT(fused))];
        assert_int_equal(nnrt_builder_create(&b, "sum", NULL), NNRT_SUCCESS);
        in[first] = nnrt_builder_input(b, "x", t, 3, dims);
        nnrt_builder_quant(b, in[first], &px, 1);
        in[1 - first] = nnrt_builder_constant(b, "c", t, rank, shapes[shape], c, false);
        nnrt_builder_quant(b, in[1 - first], &pc, 1);
        model = finish_eight(b, type, &attr, in, 2, t, 3, dims, &py);
        snprintf(what, sizeof(what), "operator %d of [%d,%d,%d], shape %u, type %d, scales %g %g %g", (int)type, (int)dims[0],
                 (int)dims[1], (int)dims[2], shape, (int)t, px.scale, pc.scale, py.scale);
        kernel = nX == 0 ? NULL : "binary_q8";
        check_bytes(model, x, nX, nX, EITHER, what);
        kernel = NULL;
        if (large) /* threads share the work */
            assert_int_equal(run_bytes("cpu", model, x, nX, y, nX, 2, NULL), 1);
        nnrt_model_destroy(model);
        free(y);
        free(c);
        free(x);
    }
}

/* Every pair of stored integers, at scales that are powers of 2, one up to 2^22 times the other: sums are midway
   between two results except for a small term, which decides. Then at any scales. */
static void test_all_sums_of_8_bits(void **unused)
{
    static const int32_t apart[] = {0, 1, 7, 17, 18, 19, 20, 21, 22}, dims[2] = {256, 256};
    static const double fine[] = {1e-5, 0.005, 0.003, 0.02}; /* with sums by floats up to an eighth of the others */
    const size_t count = 65536;
    uint8_t *x = bytes_of(count), *c = bytes_of(count);
    (void)unused;
    for (size_t i = 0; i < count; i++) {
        x[i] = (uint8_t)i;
        c[i] = (uint8_t)(i >> 8);
    }
    state = 16;
    for (uint32_t k = 0; k < 3 * (2 * COUNT(apart) + 8); k++) {
        const uint32_t i = k / 3, first = i % 2;
        const NNRT_NodeType type = sums[k % 3];
        const bool power = i < 2 * COUNT(apart);
        const double any = 0.004 + draw(1000) / 40000.0, other = 0.004 + draw(1000) / 40000.0;
        const NNRT_QuantParam px = param_of(power ? 0x1p-7 : any, 3);
        const NNRT_QuantParam pc = param_of(power ? ldexp(0x1p-7, -apart[i / 2]) : other, -5);
        const double size = type != sums[2] ? 1 : power ? ldexp(0x1p-1, -apart[i / 2]) : 0.5;
        const NNRT_QuantParam py = param_of(size * (power ? 0x1p-6 : fine[i % 4]), -1);
        NNRT_AddFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2];
        memset(&attr, 0, sizeof(attr));
        assert_int_equal(nnrt_builder_create(&b, "sum", NULL), NNRT_SUCCESS);
        in[first] = nnrt_builder_input(b, "x", I8, 2, dims);
        nnrt_builder_quant(b, in[first], &px, 1);
        in[1 - first] = nnrt_builder_constant(b, "c", I8, 2, dims, c, false);
        nnrt_builder_quant(b, in[1 - first], &pc, 1);
        model = finish_eight(b, type, &attr, in, 2, I8, 2, dims, &py);
        kernel = "binary_q8";
        check_bytes(model, x, count, count, EITHER, "all sums");
        kernel = NULL;
        nnrt_model_destroy(model);
    }
    free(c);
    free(x);
}

/* Images in both layouts, larger and smaller; y with the parameters of x or with others. */
static void test_sizes_of_8_bits(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70};
    (void)unused;
    state = 22;
    for (uint32_t i = 0; i < COUNT(channels) * 12; i++) {
        const bool planes = draw(2) == 0;
        const int32_t h = 1 + (int32_t)draw(9), w = 1 + (int32_t)draw(9), C = channels[i % COUNT(channels)];
        const int32_t P = 1 + (int32_t)draw(20), Q = i == 7 ? 5000 : 1 + (int32_t)draw(20), n = 1 + (int32_t)draw(2);
        const int32_t dims[4] = {n, planes ? C : h, planes ? h : w, planes ? w : C};
        const int32_t out[4] = {n, planes ? C : P, planes ? P : Q, planes ? Q : C};
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type));
        const NNRT_QuantParam py = draw(2) == 0 ? px : param_of(0.005 + draw(40) / 1000.0, draw_zero(type));
        const size_t nX = product_of(4, dims), nY = product_of(4, out);
        uint8_t *x = bytes_of(nX);
        NNRT_Resize attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in, y;
        char what[120];
        memset(&attr, 0, sizeof(attr));
        attr.newHeight = P;
        attr.newWidth = Q;
        attr.method = draw(3) == 0 ? NNRT_RESIZE_METHOD_NEAREST : NNRT_RESIZE_METHOD_LINEAR;
        attr.coordinateTransformMode = (NNRT_CoordinateTransformMode)draw(3);
        assert_int_equal(nnrt_builder_create(&b, "resize", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", type, 4, dims);
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_declare(b, y, type, 4, out);
        nnrt_builder_format(b, in, planes ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_format(b, y, planes ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_quant(b, in, &px, 1);
        nnrt_builder_quant(b, y, &py, 1);
        nnrt_builder_node(b, "y", NNRT_NODE_TYPE_RESIZE, &attr, &in, 1, &y, 1);
        nnrt_builder_output(b, y);
        model = finish(b);
        snprintf(what, sizeof(what), "%d channels, %d x %d to %d x %d, planes %d, method %d, mode %d, type %d", (int)C, (int)h,
                 (int)w, (int)P, (int)Q, planes, (int)attr.method, (int)attr.coordinateTransformMode, (int)type);
        kernel = "resize_q8";
        check_bytes(model, x, nX, nY, EITHER, what);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(x);
    }
}

/* Sums, means, extremes and sums of squares over any axes, in the order of the model or with channels last; results with an
   axis of size 1 or without it. */
static void test_reductions_of_8_bits(void **unused)
{
    static const int32_t sizes[] = {1, 2, 3, 5, 15, 16, 17, 33, 64, 65, 70, 130, 300};
    static const NNRT_ReduceMode modes[] = {NNRT_REDUCE_MODE_MEAN, NNRT_REDUCE_MODE_SUM,  NNRT_REDUCE_MODE_MAX,
                                            NNRT_REDUCE_MODE_MIN,  NNRT_REDUCE_MODE_ASUM, NNRT_REDUCE_MODE_SUM_SQUARE};
    (void)unused;
    state = 24;
    for (uint32_t i = 0; i < 360; i++) {
        const bool image = draw(3) == 0;
        const int32_t rank = image ? 4 : 1 + (int32_t)draw(4);
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type));
        int32_t dims[4], axes[4], out[4], count = 0, left = 0;
        NNRT_ReduceFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2], y;
        uint8_t *x;
        size_t nX, n = 1;
        NNRT_QuantParam py;
        char what[120];
        memset(&attr, 0, sizeof(attr));
        attr.keepDims = draw(2) == 0;
        attr.mode = modes[i % COUNT(modes)];
        for (int32_t k = 0; k < rank; k++) {
            const bool reduced = draw(2) == 0 || (count == 0 && k == rank - 1);
            dims[k] = draw(3) == 0 || rank == 1 ? sizes[draw(COUNT(sizes))] : 1 + (int32_t)draw(6);
            if (reduced) {
                axes[count++] = k;
                n *= (size_t)dims[k];
            }
            if (!reduced || attr.keepDims)
                out[left++] = reduced ? 1 : dims[k];
        }
        py = param_of(0.02 * (attr.mode == NNRT_REDUCE_MODE_SUM || attr.mode == NNRT_REDUCE_MODE_ASUM ? 0.1 * (double)n
                              : attr.mode == NNRT_REDUCE_MODE_SUM_SQUARE                              ? 0.5 * (double)n
                                                                                                      : 0.7),
                      draw_zero(type));
        nX = product_of(rank, dims);
        x = bytes_of(nX);
        assert_int_equal(nnrt_builder_create(&b, "reduce", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", type, rank, dims);
        if (image)
            nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        nnrt_builder_quant(b, in[0], &px, 1);
        in[1] = nnrt_builder_constant(b, "axes", I32, 1, &count, axes, true);
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_declare(b, y, type, left, out);
        nnrt_builder_quant(b, y, &py, 1);
        nnrt_builder_node(b, "y", NNRT_NODE_TYPE_REDUCE_FUSION, &attr, in, 2, &y, 1);
        nnrt_builder_output(b, y);
        model = finish(b);
        snprintf(what, sizeof(what), "case %u, mode %d of rank %d, %d axes", i, (int)attr.mode, (int)rank, (int)count);
        kernel = "reduce_q8";
        check_bytes(model, x, nX, product_of(left, out), EITHER, what);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(x);
    }
}

/* Matrices of the run, in both orders of axes, broadcast batches, biases; or constant ones that the GEMM of packed weights does
   not take: several, a transposed x, weights far from their zero point. Any types and zero points; sums that exceed 32
   bits. */
static void test_matrices_of_8_bits(void **unused)
{
    static const int32_t rows[] = {1, 2, 5, 6, 7, 13, 33, 64}, terms[] = {1, 2, 3, 4, 7, 8, 15, 17, 32, 64, 65, 300};
    static const int32_t columns[] = {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130};
    (void)unused;
    state = 31;
    for (uint32_t i = 0; i < COUNT(terms) * COUNT(columns) + 6; i++) {
        const bool large = i >= COUNT(terms) * COUNT(columns), constant = draw(4) == 0, bias = draw(2) == 0;
        const int32_t M = large ? (i % 2 == 0 ? 260 : 3) : rows[draw(COUNT(rows))]; /* more than a work item multiplies at once */
        const int32_t N = large ? 9 : columns[i % COUNT(columns)];
        const int32_t K = large ? (i % 2 == 0 ? 64 : 33100) : terms[i / COUNT(columns) % COUNT(terms)];
        const int32_t batch = large ? 1 : 1 + (int32_t)draw(3), other = draw(2) == 0 ? batch : 1;
        NNRT_MatMulFusion attr;
        const bool wide = draw(2) == 0; /* ranks 4 and 3 */
        int32_t dimsX[4] = {2, batch, M, K}, dimsY[3] = {other, K, N}, dims[4] = {2, batch, M, N};
        const NNRT_DataType t = draw(2) == 0 ? I8 : U8, w = t == U8 && draw(2) == 0 ? I8 : t;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(t)), pw = param_of(0.01, draw_zero(w));
        const NNRT_QuantParam py = param_of(draw(8) == 0 ? 1e-4 : 0.0002 * 30 * sqrt(K), draw_zero(t));
        const NNRT_QuantParam pb = param_of(0.0002, 0);
        int32_t *b32 = (int32_t *)malloc((size_t)N * sizeof(int32_t));
        uint8_t *x, *y;
        size_t nX, nY, nZ;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3];
        char what[160];
        memset(&attr, 0, sizeof(attr));
        attr.transposeA = draw(3) == 0;
        attr.transposeB = draw(2) == 0;
        attr.activationType = fused[draw(COUNT(fused))];
        if (attr.transposeA) {
            dimsX[2] = K;
            dimsX[3] = M;
        }
        if (attr.transposeB) {
            dimsY[1] = N;
            dimsY[2] = K;
        }
        nX = product_of(wide ? 4 : 3, dimsX + !wide);
        nY = product_of(3, dimsY);
        nZ = product_of(wide ? 4 : 3, dims + !wide);
        x = bytes_of(nX);
        y = bytes_of(nY);
        for (int32_t k = 0; k < N; k++)
            b32[k] = (int32_t)draw(20001) - 10000;
        assert_int_equal(nnrt_builder_create(&b, "product", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", t, wide ? 4 : 3, dimsX + !wide);
        in[1] = constant ? nnrt_builder_constant(b, "w", w, 3, dimsY, y, false) : nnrt_builder_input(b, "w", w, 3, dimsY);
        in[2] = NNRT_NO_TENSOR;
        nnrt_builder_quant(b, in[0], &px, 1);
        nnrt_builder_quant(b, in[1], &pw, 1);
        if (bias) {
            in[2] = nnrt_builder_constant(b, "b", I32, 1, &N, b32, false);
            nnrt_builder_quant(b, in[2], &pb, 1);
        }
        model = finish_eight(b, NNRT_NODE_TYPE_MATMUL_FUSION, &attr, in, 3, t, wide ? 4 : 3, dims + !wide, &py);
        snprintf(what, sizeof(what), "case %u: %d x %d x %d, batch %d and %d, transposed %d %d, types %d %d, zeros %d %d%s", i,
                 (int)M, (int)K, (int)N, (int)batch, (int)other, attr.transposeA, attr.transposeB, (int)t, (int)w,
                 (int)px.zeroPoint, (int)pw.zeroPoint, constant ? ", constant" : "");
        second = constant ? NULL : y;
        secondBytes = nY;
        check_bytes(model, x, nX, nZ, EITHER, what);
        second = NULL;
        nnrt_model_destroy(model);
        free(b32);
        free(y);
        free(x);
    }
}

/* Operators that read whole lines along any axes: SOFTMAX, LOG_SOFTMAX, norms, LAYER_NORM_FUSION and reductions by L2, products
   and ALL; and sums of several tensors. Lines with many elements and with few, that have all bytes or some. */
static void test_lines_of_8_bits(void **unused)
{
    static const int32_t sizes[] = {1, 2, 3, 5, 16, 17, 64, 100, 300, 1000};
    static const char *const names[] = {"c", "d", "e", "f"};
    enum { SOFT, LOG, NORM, ROOT, ROOT_FIXED, LAYER, REDUCED, ADDED, KINDS };
    (void)unused;
    state = 33;
    for (uint32_t i = 0; i < KINDS * 40; i++) {
        const uint32_t kind = i % KINDS;
        const int32_t rank = kind == LAYER ? 2 + (int32_t)draw(2) : 1 + (int32_t)draw(4), axis = (int32_t)draw((uint32_t)rank);
        const NNRT_DataType t = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(draw(3) == 0 ? 0.3 : 0.02, draw_zero(t));
        static const NNRT_ReduceMode modes[] = {NNRT_REDUCE_MODE_L2, NNRT_REDUCE_MODE_PROD, NNRT_REDUCE_MODE_ALL};
        const double scales[KINDS] = {1.0 / 256, 0.1, 1.0 / 128, 1.0 / 100, 1.0 / 128, 0.03, 0.5, 0.05};
        NNRT_QuantParam py = param_of(scales[kind], draw_zero(t));
        int32_t dims[4], out[4], list[4] = {0, 1, 2, 3}, count = 1;
        const uint32_t spread = draw(3);
        int64_t axes[2];
        float *gamma = reals(1000), *beta = reals(1000);
        NNRT_Softmax soft;
        NNRT_LogSoftmax log;
        NNRT_LpNormalization norm;
        NNRT_L2NormalizeFusion root;
        NNRT_LayerNormFusion layer;
        NNRT_ReduceFusion reduce;
        NNRT_NodeType type = NNRT_NODE_TYPE_SOFTMAX;
        const void *attr = &soft;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[5], nIn = 1;
        uint8_t *x, *c[4];
        size_t nX, nY;
        char what[120];
        memset(&soft, 0, sizeof(soft));
        memset(&log, 0, sizeof(log));
        memset(&norm, 0, sizeof(norm));
        memset(&root, 0, sizeof(root));
        memset(&layer, 0, sizeof(layer));
        memset(&reduce, 0, sizeof(reduce));
        for (int32_t k = 0; k < rank; k++)
            out[k] = dims[k] = k == axis ? sizes[draw(COUNT(sizes))] : 1 + (int32_t)draw(6);
        nX = nY = product_of(rank, dims);
        x = bytes_of(nX);
        for (size_t k = 0; k < nX && spread < 2; k++)
            x[k] = spread == 0 ? x[k] : (uint8_t)(x[k] % 5 + 126);
        axes[0] = axis;
        if (kind == SOFT && draw(2) == 0)
            py = param_of(draw(2) == 0 ? 1.0 / 256 : 0.003, t == I8 ? -128 : 0);
        if (kind == ROOT_FIXED)
            py.zeroPoint = t == I8 ? 0 : 128;
        soft.axis = nnrt_int64_list(axes, 1);
        assert_int_equal(nnrt_builder_create(&b, "line", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", t, rank, dims);
        nnrt_builder_quant(b, in[0], &px, 1);
        memset(c, 0, sizeof(c));
        if (kind == LOG) {
            type = NNRT_NODE_TYPE_LOG_SOFTMAX;
            log.axis = axis;
            attr = &log;
        } else if (kind == NORM) {
            type = NNRT_NODE_TYPE_LP_NORMALIZATION;
            norm.axis = axis;
            norm.p = 1 + (int64_t)draw(2);
            norm.epsilon = draw(2) == 0 ? 0 : 0.01f;
            attr = &norm;
        } else if (kind == ROOT || kind == ROOT_FIXED) {
            type = NNRT_NODE_TYPE_L2_NORMALIZE_FUSION;
            axes[1] = axis + 1;
            root.axis = nnrt_int64_list(axes, axis + 1 < rank && draw(2) == 0 ? 2 : 1);
            root.epsilon = 1e-6f;
            root.activationType = fused[draw(COUNT(fused))];
            attr = &root;
        } else if (kind == LAYER) {
            int32_t each[3];
            type = NNRT_NODE_TYPE_LAYER_NORM_FUSION;
            layer.beginNormAxis = rank - 1 - (int64_t)draw(2);
            layer.beginParamsAxis = rank - 1 - (int64_t)draw(2);
            layer.epsilon = 1e-5f;
            layer.elementwiseAffine = draw(3) != 0;
            attr = &layer;
            for (int32_t k = (int32_t)layer.beginParamsAxis; k < rank; k++)
                each[k - layer.beginParamsAxis] = dims[k];
            if (layer.elementwiseAffine) {
                free(gamma);
                free(beta);
                gamma = reals(nX);
                beta = reals(nX);
                in[1] = nnrt_builder_constant(b, "gamma", F32, rank - (int32_t)layer.beginParamsAxis, each, gamma, false);
                in[2] = nnrt_builder_constant(b, "beta", F32, rank - (int32_t)layer.beginParamsAxis, each, beta, false);
                nIn = 3;
            }
        } else if (kind == REDUCED) {
            type = NNRT_NODE_TYPE_REDUCE_FUSION;
            reduce.mode = modes[draw(3)];
            reduce.keepDims = true;
            reduce.coeff = 1;
            attr = &reduce;
            list[0] = axis;
            for (int32_t k = axis + 1; k < rank && draw(2) == 0; k++)
                list[count++] = k;
            for (int32_t k = 0; k < count; k++)
                out[list[k]] = 1;
            nY = product_of(rank, out);
            in[1] = nnrt_builder_constant(b, "axes", I32, 1, &count, list, true);
            nIn = 2;
        } else if (kind == ADDED) {
            type = NNRT_NODE_TYPE_ADD_N;
            attr = NULL;
            nIn = 3 + draw(2);
            for (uint32_t k = 1; k < nIn; k++) {
                const NNRT_QuantParam pc = param_of(0.01 * k, draw_zero(t));
                c[k - 1] = bytes_of(nX);
                in[k] = nnrt_builder_constant(b, names[k - 1], t, rank, dims, c[k - 1], false);
                nnrt_builder_quant(b, in[k], &pc, 1);
            }
        }
        model = finish_eight(b, type, attr, in, nIn, t, rank, out, &py);
        snprintf(what, sizeof(what), "case %u, operator %d of [%d,..] along axis %d, %d long, type %d", i, (int)type,
                 (int)dims[0], (int)axis, (int)dims[axis], (int)t);
        check_bytes(model, x, nX, nY, EITHER, what);
        nnrt_model_destroy(model);
        for (uint32_t k = 0; k < 4; k++)
            free(c[k]);
        free(gamma);
        free(beta);
        free(x);
    }
}

/* CONCAT of one to three tensors along any axis, in rows of few bytes and of many, with the parameters of the result or with
   others; a third of the constants has one value. */
static void test_joins_of_8_bits(void **unused)
{
    static const int32_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 70};
    static const char *const names[] = {"c", "d"};
    (void)unused;
    state = 35;
    for (uint32_t i = 0; i < COUNT(sizes) * 12; i++) {
        const int32_t rank = 1 + (int32_t)draw(4), axis = (int32_t)draw((uint32_t)rank), count = 1 + (int32_t)draw(3);
        const NNRT_DataType t = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam py = param_of(0.02, draw_zero(t));
        const int32_t first = (int32_t)draw((uint32_t)count); /* the place of x */
        int32_t dims[4], out[4];
        uint32_t in[3], constants = 0;
        uint8_t *x = NULL, *c[2] = {NULL, NULL};
        size_t nX = 0;
        NNRT_Concat attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        char what[100];
        memset(&attr, 0, sizeof(attr));
        attr.axis = axis;
        for (int32_t k = 0; k < rank; k++)
            out[k] = dims[k] = k == rank - 1 ? 1 + sizes[draw(COUNT(sizes))] : 1 + (int32_t)draw(5);
        out[axis] = 0;
        assert_int_equal(nnrt_builder_create(&b, "join", NULL), NNRT_SUCCESS);
        for (int32_t k = 0; k < count; k++) {
            const NNRT_QuantParam p = draw(2) == 0 ? py : param_of(0.01 + 0.001 * (double)draw(30), draw_zero(t));
            size_t n;
            dims[axis] = sizes[i % COUNT(sizes)] + 1 + (int32_t)draw(6);
            out[axis] += dims[axis];
            n = product_of(rank, dims);
            if (k == first) {
                x = bytes_of(nX = n);
                in[k] = nnrt_builder_input(b, "x", t, rank, dims);
            } else {
                c[constants] = bytes_of(n);
                if (draw(3) == 0)
                    memset(c[constants], c[constants][0], n);
                in[k] = nnrt_builder_constant(b, names[constants], t, rank, dims, c[constants], false);
                constants++;
            }
            nnrt_builder_quant(b, in[k], &p, 1);
        }
        model = finish_eight(b, NNRT_NODE_TYPE_CONCAT, &attr, in, (uint32_t)count, t, rank, out, &py);
        snprintf(what, sizeof(what), "case %u: %d tensors along axis %d of %d, %d long, type %d", i, (int)count, (int)axis,
                 (int)rank, (int)out[axis], (int)t);
        check_bytes(model, x, nX, product_of(rank, out), EITHER, what);
        nnrt_model_destroy(model);
        free(c[0]);
        free(c[1]);
        free(x);
    }
}

/* Every stored integer through the table of an activation, and lists of sizes around the vectors of each set. */
static void test_tables_of_activations(void **unused)
{
    static const NNRT_ActivationType types[] = {NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_SIGMOID,
                                                NNRT_ACTIVATION_TYPE_HSWISH, NNRT_ACTIVATION_TYPE_TANH};
    static const int32_t sizes[] = {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 256, 1000};
    (void)unused;
    state = 26;
    for (uint32_t i = 0; i < COUNT(sizes) * 4; i++) {
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const int32_t dims[2] = {1 + (int32_t)draw(3), sizes[i % COUNT(sizes)]};
        const NNRT_QuantParam px = param_of(0.05, draw_zero(type)), py = param_of(0.03, draw_zero(type));
        const size_t nX = product_of(2, dims);
        uint8_t *x = bytes_of(nX);
        NNRT_Activation attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        for (size_t k = 0; dims[1] >= 256 && k < nX; k++)
            x[k] = (uint8_t)(k * 7);
        memset(&attr, 0, sizeof(attr));
        attr.activationType = types[i / COUNT(sizes)];
        assert_int_equal(nnrt_builder_create(&b, "table", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", type, 2, dims);
        nnrt_builder_quant(b, in, &px, 1);
        model = finish_eight(b, NNRT_NODE_TYPE_ACTIVATION, &attr, &in, 1, type, 2, dims, &py);
        kernel = "table_q8";
        check_bytes(model, x, nX, nX, EITHER, "a table");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(x);
    }
}

/* Elementwise operators without arithmetic of their own in this device: a table for each stored integer of a constant operand, for
   each index of an axis along which it varies, or a single one. */
static void test_tables_of_elements(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_DIV_FUSION, NNRT_NODE_TYPE_MAXIMUM,   NNRT_NODE_TYPE_SQUARED_DIFFERENCE,
                                          NNRT_NODE_TYPE_MINIMUM,    NNRT_NODE_TYPE_FLOOR_DIV};
    static const char *const kernels[] = {"tables_q8", "tables_q8", "tables_q8", "table_q8"};
    (void)unused;
    state = 31;
    for (uint32_t i = 0; i < 4 * COUNT(types) * 4; i++) {
        const bool large = i < 4;
        const uint32_t shape = i % 4;
        const int32_t dims[3] = {2 + (int32_t)draw(3), large ? 40 : 2 + (int32_t)draw(5), large ? 3001 : 2 + (int32_t)draw(70)};
        const int32_t plane[3] = {1, dims[1], 1}, row[3] = {1, 1, dims[2]}, one[3] = {1, 1, 1};
        const int32_t *const shapes[] = {dims, plane, row, one};
        const size_t nX = product_of(3, dims), nC = product_of(3, shapes[shape]);
        const NNRT_DataType t = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.05, draw_zero(t)), pc = param_of(0.02, draw_zero(t)), py = param_of(0.07, draw_zero(t));
        uint8_t *x = bytes_of(nX), *c = bytes_of(nC);
        const NNRT_NodeType type = types[i / 4 % COUNT(types)];
        NNRT_DivFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2];
        char what[100];
        memset(&attr, 0, sizeof(attr)); /* the others have no attributes, or one that may be 0 */
        assert_int_equal(nnrt_builder_create(&b, "tables", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", t, 3, dims);
        nnrt_builder_quant(b, in[0], &px, 1);
        in[1] = nnrt_builder_constant(b, "c", t, 3, shapes[shape], c, false);
        nnrt_builder_quant(b, in[1], &pc, 1);
        model = finish_eight(b, type, &attr, in, 2, t, 3, dims, &py);
        snprintf(what, sizeof(what), "operator %d of [%d,%d,%d], shape %u, type %d", (int)type, (int)dims[0], (int)dims[1],
                 (int)dims[2], shape, (int)t);
        kernel = kernels[shape];
        check_bytes(model, x, nX, nX, EITHER, what);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(c);
        free(x);
    }
}

/* Images of both layouts, joined along any axis, requantized to the parameters of the result. */
static void test_parts_of_8_bits(void **unused)
{
    (void)unused;
    state = 27;
    for (uint32_t i = 0; i < 40; i++) {
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const int64_t axis = draw(4);
        const bool planes = draw(2) == 0;
        const int32_t dims[4] = {1 + (int32_t)draw(2), 1 + (int32_t)draw(20), 1 + (int32_t)draw(9), 1 + (int32_t)draw(20)};
        int32_t first[4], out[4];
        const NNRT_QuantParam px = param_of(0.05, draw_zero(type)), pc = draw(2) == 0 ? px : param_of(0.02, draw_zero(type));
        const NNRT_QuantParam py = param_of(0.03, draw_zero(type));
        const size_t nX = product_of(4, dims);
        uint8_t *x = bytes_of(nX), *c;
        NNRT_Concat attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2], y;
        memcpy(first, dims, sizeof(dims));
        first[axis] = 1 + (int32_t)draw(5);
        memcpy(out, dims, sizeof(dims));
        out[axis] += first[axis];
        c = bytes_of(product_of(4, first));
        memset(&attr, 0, sizeof(attr));
        attr.axis = axis;
        assert_int_equal(nnrt_builder_create(&b, "parts", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_constant(b, "c", type, 4, first, c, false);
        in[1] = nnrt_builder_input(b, "x", type, 4, dims);
        nnrt_builder_quant(b, in[0], &pc, 1);
        nnrt_builder_quant(b, in[1], &px, 1);
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_declare(b, y, type, 4, out);
        for (uint32_t k = 0; k < 3 && planes; k++)
            nnrt_builder_format(b, k < 2 ? in[k] : y, NNRT_FORMAT_NCHW);
        nnrt_builder_quant(b, y, &py, 1);
        nnrt_builder_node(b, "y", NNRT_NODE_TYPE_CONCAT, &attr, in, 2, &y, 1);
        nnrt_builder_output(b, y);
        model = finish(b);
        check_bytes(model, x, nX, product_of(4, out), EITHER, "parts");
        nnrt_model_destroy(model);
        free(c);
        free(x);
    }
}

/* Runs a node of one input [count] of 8 bits on the reference device. */
static void run_list(NNRT_NodeType type, const void *attr, NNRT_DataType t, int32_t count, const NNRT_QuantParam *px,
                     const NNRT_QuantParam *py, const uint8_t *x, uint8_t *y)
{
    nnrt_builder *b = NULL;
    NNRT_Model *model;
    uint32_t in;
    assert_int_equal(nnrt_builder_create(&b, "list", NULL), NNRT_SUCCESS);
    in = nnrt_builder_input(b, "x", t, 1, &count);
    nnrt_builder_quant(b, in, px, 1);
    model = finish_eight(b, type, attr, &in, 1, t, 1, &count, py);
    (void)run_bytes("reference", model, x, (size_t)count, y, (size_t)count, 0, NULL);
    nnrt_model_destroy(model);
}

/* The reference kernels take results of long lines from tables, results of short lines from the formula, which the vectors
   test. A line of 200 elements, and the same behind elements whose exponentials are 0: equal results. */
static void test_tables_of_8_bits(void **unused)
{
    enum { SHORT = 200, LONG = 900 };
    static const int64_t zero[1] = {0};
    (void)unused;
    state = 25;
    for (uint32_t i = 0; i < 40; i++) {
        const NNRT_DataType t = draw(2) == 0 ? I8 : U8;
        const int32_t least = t == I8 ? -128 : 0;
        const NNRT_QuantParam px = param_of(draw(2) == 0 ? 0.5 : 0.9, draw_zero(t));
        const NNRT_QuantParam py = draw(2) == 0 ? param_of(1.0 / 256, least) : param_of(0.003, draw_zero(t));
        uint8_t x[LONG], few[SHORT], many[LONG];
        NNRT_Softmax softmax;
        for (int32_t k = 0; k < LONG; k++) /* 100 steps of 0.5 and more below the others: e^-50 is 0 in 31 bits */
            x[k] = (uint8_t)(least + (k < SHORT ? 155 + (int32_t)draw(101) : (int32_t)draw(55)));
        memset(&softmax, 0, sizeof(softmax));
        softmax.axis = nnrt_int64_list(zero, 1);
        run_list(NNRT_NODE_TYPE_SOFTMAX, &softmax, t, SHORT, &px, &py, x, few);
        run_list(NNRT_NODE_TYPE_SOFTMAX, &softmax, t, LONG, &px, &py, x, many);
        assert_memory_equal(few, many, SHORT);
        run_list(NNRT_NODE_TYPE_SQUEEZE, NULL, t, SHORT, &px, &py, x, few); /* moves elements, and requantizes them */
        run_list(NNRT_NODE_TYPE_SQUEEZE, NULL, t, LONG, &px, &py, x, many);
        assert_memory_equal(few, many, SHORT);
    }
}

/* Floats; some map to ends of the range or to midpoints, or are far outside, or NaN. */
static float *floats_of(size_t count, float scale)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 0.0f, -0.0f, 1e-45f, 8388609.0f, 3e9f};
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        const uint32_t kind = draw(6);
        made[i] = kind == 0   ? special[draw(COUNT(special))]
                  : kind < 3 ? ((float)draw(1040) / 2.0f - 260.0f) * scale
                             : (float)((int32_t)draw(20001) - 10000) / 20.0f * scale;
    }
    return made;
}

/* QUANT_DTYPE_CAST and QUANTIZE_LINEAR, alone and before a convolution whose image is NCHW. Scales that are powers of 2
   have exact halves. */
static void test_casts_to_8_bits(void **unused)
{
    static const double scales[] = {0.25, 1.0, 0.0078431377, 0.1, 3.0, 1e-30, 1e30, 1e-40, 3e38};
    static const int32_t counts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 300, 0};
    (void)unused;
    state = 14;
    for (uint32_t i = 0; i < COUNT(counts) * 14; i++) {
        const double scale = scales[i % COUNT(scales)];
        const bool even = draw(2) == 0, image = draw(3) == 0 && counts[i % COUNT(counts)] > 0, other = image && draw(4) == 0;
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam py = param_of(scale, draw_zero(type)), pw = param_of(0.01, 0), pz = param_of(scale, 3);
        const int32_t flat[2] = {2, counts[i % COUNT(counts)]}, dims[4] = {1, 1 + (int32_t)draw(5), 3, flat[1]};
        const int32_t *shape = image ? dims : flat, rank = image ? 4 : 2;
        const int32_t wDims[4] = {2, 1, 1, dims[1]};
        static const int64_t ones[2] = {1, 1}, none[4] = {0, 0, 0, 0};
        const size_t nX = product_of(rank, shape);
        float *x = floats_of(nX, (float)scale);
        uint8_t *w = bytes_of(16);
        NNRT_Conv2DFusion product;
        const NNRT_NodeType op = even ? NNRT_NODE_TYPE_QUANTIZE_LINEAR : NNRT_NODE_TYPE_QUANT_DTYPE_CAST;
        NNRT_QuantDTypeCast cast;
        NNRT_QuantizeLinear linear;
        const void *attr = even ? (const void *)&linear : &cast;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3], q;
        char what[100];
        memset(&product, 0, sizeof(product));
        memset(&cast, 0, sizeof(cast));
        memset(&linear, 0, sizeof(linear));
        cast.srcT = F32;
        cast.dstT = linear.dstT = type;
        assert_int_equal(nnrt_builder_create(&b, "cast", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, rank, shape);
        if (image)
            nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        snprintf(what, sizeof(what), "%s of %d, rank %d, scale %g%s", even ? "QUANTIZE_LINEAR" : "a cast", (int)nX,
                 (int)rank, scale, image ? ", image" : "");
        if (!image) {
            model = finish_eight(b, op, attr, in, 1, type, rank, shape, &py);
        } else {
            const int32_t out[4] = {1, 2, dims[2], dims[3]};
            q = nnrt_builder_tensor(b, "q");
            nnrt_builder_declare(b, q, type, 4, dims);
            nnrt_builder_format(b, q, NNRT_FORMAT_NCHW);
            nnrt_builder_quant(b, q, &py, 1);
            nnrt_builder_node(b, "q", op, attr, in, 1, &q, 1);
            if (other)
                nnrt_builder_output(b, q);
            product.kernelSize = product.stride = product.dilation = nnrt_int64_list(ones, 2);
            product.padList = nnrt_int64_list(none, 4);
            product.group = 1;
            in[0] = q;
            in[1] = nnrt_builder_constant(b, "w", I8, 4, wDims, w, false);
            nnrt_builder_quant(b, in[1], &pw, 1);
            q = nnrt_builder_tensor(b, "y");
            nnrt_builder_declare(b, q, type, 4, out);
            nnrt_builder_format(b, q, NNRT_FORMAT_NCHW);
            nnrt_builder_quant(b, q, &pz, 1);
            nnrt_builder_node(b, "y", NNRT_NODE_TYPE_CONV2D_FUSION, &product, in, 2, &q, 1);
            if (!other)
                nnrt_builder_output(b, q);
            model = finish(b);
        }
        kernel = i % 3 == 0 ? NULL : "quantize";
        check_bytes(model, x, nX * sizeof(float), image && !other ? (size_t)(2 * dims[2] * dims[3]) : nX, EITHER, what);
        kernel = NULL;
        assert_int_equal(steps, image && !other ? 3 : 1);
        nnrt_model_destroy(model);
        free(w);
        free(x);
    }
}

static void test_casts_of_8_bits(void **unused)
{
    static const double scales[] = {0.25, 0.0078431377, 0.1, 1e-45, 0.0};
    (void)unused;
    state = 15;
    for (uint32_t i = 0; i < 60; i++) {
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const int32_t dims[2] = {i == 59 ? 0 : 3, 1 + (int32_t)draw(40)};
        const NNRT_QuantParam px = param_of(scales[i % COUNT(scales)], i % COUNT(scales) == 4 ? 0 : draw_zero(type));
        const size_t nX = product_of(2, dims);
        uint8_t *x = bytes_of(nX);
        NNRT_QuantDTypeCast cast;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&cast, 0, sizeof(cast));
        cast.srcT = type;
        cast.dstT = F32;
        assert_int_equal(nnrt_builder_create(&b, "cast", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", type, 2, dims);
        nnrt_builder_quant(b, in, &px, 1);
        model = finish_eight(b, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &cast, &in, 1, F32, 2, dims, NULL);
        kernel = "dequantize";
        check_bytes(model, x, nX, nX * sizeof(float), EITHER, "a cast to floats");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(x);
    }
}

/* Float images with channels first around a convolution of 8 bits, whose images have channels last: both casts change the
   layout, in blocks. */
static void test_casts_of_images(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 130};
    static const int64_t ones[2] = {1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 23;
    for (uint32_t i = 0; i < COUNT(channels) * 6; i++) {
        const int32_t C = channels[i % COUNT(channels)], O = channels[draw(COUNT(channels))];
        const int32_t dims[4] = {1 + (int32_t)draw(2), C, 1 + (int32_t)draw(20), 1 + (int32_t)draw(30)};
        const int32_t wDims[4] = {O, 1, 1, C}, out[4] = {dims[0], O, dims[2], dims[3]};
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type)), pw = param_of(0.01, 0), py = param_of(0.05, draw_zero(type));
        const size_t nX = product_of(4, dims), nY = product_of(4, out);
        float *x = floats_of(nX, 0.02f);
        uint8_t *w = bytes_of(product_of(4, wDims));
        NNRT_Conv2DFusion product;
        NNRT_QuantDTypeCast down, up;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2], q, z;
        memset(&product, 0, sizeof(product));
        memset(&down, 0, sizeof(down));
        memset(&up, 0, sizeof(up));
        down.srcT = up.dstT = F32;
        down.dstT = up.srcT = type;
        product.kernelSize = product.stride = product.dilation = nnrt_int64_list(ones, 2);
        product.padList = nnrt_int64_list(none, 4);
        product.group = 1;
        assert_int_equal(nnrt_builder_create(&b, "images", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        q = nnrt_builder_tensor(b, "q");
        nnrt_builder_declare(b, q, type, 4, dims);
        nnrt_builder_format(b, q, NNRT_FORMAT_NCHW);
        nnrt_builder_quant(b, q, &px, 1);
        nnrt_builder_node(b, "down", NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &down, in, 1, &q, 1);
        in[0] = q;
        in[1] = nnrt_builder_constant(b, "w", I8, 4, wDims, w, false);
        nnrt_builder_quant(b, in[1], &pw, 1);
        z = nnrt_builder_tensor(b, "z");
        nnrt_builder_declare(b, z, type, 4, out);
        nnrt_builder_format(b, z, NNRT_FORMAT_NCHW);
        nnrt_builder_quant(b, z, &py, 1);
        nnrt_builder_node(b, "product", NNRT_NODE_TYPE_CONV2D_FUSION, &product, in, 2, &z, 1);
        q = nnrt_builder_tensor(b, "y");
        nnrt_builder_declare(b, q, F32, 4, out);
        nnrt_builder_format(b, q, NNRT_FORMAT_NCHW);
        nnrt_builder_node(b, "y", NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &up, &z, 1, &q, 1);
        nnrt_builder_output(b, q);
        model = finish(b);
        check_bytes(model, x, nX * sizeof(float), nY * sizeof(float), EITHER, "casts of images");
        nnrt_model_destroy(model);
        free(w);
        free(x);
    }
}

/* An image with channels first is an input and an output: it is copied, and keeps its parameters. */
static void test_layouts_of_8_bits(void **unused)
{
    static const int64_t ones[2] = {1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 16;
    for (uint32_t i = 0; i < 24; i++) {
        const NNRT_DataType type = draw(2) == 0 ? I8 : U8;
        const int32_t dims[4] = {2, 1 + (int32_t)draw(20), 3, 5}, out[4] = {2, 3, 3, 5}, wDims[4] = {3, 1, 1, dims[1]};
        const NNRT_QuantParam px = param_of(0.02, draw_zero(type)), pw = param_of(0.01, 0), py = param_of(0.05, 3);
        const size_t nX = product_of(4, dims);
        uint8_t *x = bytes_of(nX), *w = bytes_of(product_of(4, wDims));
        NNRT_Conv2DFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[2], y;
        memset(&attr, 0, sizeof(attr));
        attr.kernelSize = attr.stride = attr.dilation = nnrt_int64_list(ones, 2);
        attr.padList = nnrt_int64_list(none, 4);
        attr.group = 1;
        assert_int_equal(nnrt_builder_create(&b, "layouts", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", type, 4, dims);
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        nnrt_builder_quant(b, in[0], &px, 1);
        in[1] = nnrt_builder_constant(b, "w", I8, 4, wDims, w, false);
        nnrt_builder_quant(b, in[1], &pw, 1);
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_declare(b, y, type, 4, out);
        nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
        nnrt_builder_quant(b, y, &py, 1);
        nnrt_builder_node(b, "y", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 2, &y, 1);
        nnrt_builder_output(b, y);
        model = finish(b);
        check_bytes(model, x, nX, product_of(4, out), TAKEN, "channels first, 8 bits");
        nnrt_model_destroy(model);
        free(w);
        free(x);
    }
}

/* Threads share large work, which shows that these kernels run, not the reference kernels. */
static void test_sharing_of_8_bits(void **unused)
{
    static const int32_t dims[4] = {1, 40, 40, 64};
    static const int64_t window[2] = {3, 3}, strides[2] = {1, 1}, pad[4] = {1, 1, 1, 1};
    const NNRT_QuantParam px = param_of(0.02, 3);
    const size_t nX = product_of(4, dims);
    uint8_t *x, *y;
    (void)unused;
    state = 13;
    x = bytes_of(nX);
    y = bytes_of(nX);
    for (uint32_t i = 0; i < 2; i++) {
        NNRT_AvgPoolFusion attr;
        NNRT_MaxPoolFusion most;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&attr, 0, sizeof(attr));
        memset(&most, 0, sizeof(most));
        attr.kernelSize = most.kernelSize = nnrt_int64_list(window, 2);
        attr.strides = most.strides = nnrt_int64_list(strides, 2);
        attr.pad = most.pad = nnrt_int64_list(pad, 4);
        assert_int_equal(nnrt_builder_create(&b, "pool", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", U8, 4, dims);
        nnrt_builder_quant(b, in, &px, 1);
        model = i == 0 ? finish_eight(b, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, &in, 1, U8, 4, dims, &px)
                       : finish_eight(b, NNRT_NODE_TYPE_AVGPOOL_FUSION, &attr, &in, 1, U8, 4, dims, &px);
        for (uint32_t s = 0; s < nSets; s++)
            assert_int_equal(run_bytes(sets[s], model, x, nX, y, nX, 2, NULL), 1);
        assert_int_equal(run_bytes("reference", model, x, nX, y, nX, 2, NULL), 0);
        nnrt_model_destroy(model);
    }
    free(y);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_of_8_bits),
        cmocka_unit_test(test_16_by_8_bits),
        cmocka_unit_test(test_halves_of_8_bits),
        cmocka_unit_test(test_depthwise_of_8_bits),
        cmocka_unit_test(test_groups_of_8_bits),
        cmocka_unit_test(test_borders_of_8_bits),
        cmocka_unit_test(test_pools_of_8_bits),
        cmocka_unit_test(test_global_pools_of_8_bits),
        cmocka_unit_test(test_sums_of_8_bits),
        cmocka_unit_test(test_all_sums_of_8_bits),
        cmocka_unit_test(test_sizes_of_8_bits),
        cmocka_unit_test(test_reductions_of_8_bits),
        cmocka_unit_test(test_matrices_of_8_bits),
        cmocka_unit_test(test_lines_of_8_bits),
        cmocka_unit_test(test_joins_of_8_bits),
        cmocka_unit_test(test_tables_of_activations),
        cmocka_unit_test(test_tables_of_elements),
        cmocka_unit_test(test_parts_of_8_bits),
        cmocka_unit_test(test_tables_of_8_bits),
        cmocka_unit_test(test_casts_to_8_bits),
        cmocka_unit_test(test_casts_of_8_bits),
        cmocka_unit_test(test_casts_of_images),
        cmocka_unit_test(test_layouts_of_8_bits),
        cmocka_unit_test(test_sharing_of_8_bits),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
