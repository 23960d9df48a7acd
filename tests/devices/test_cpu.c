/* The fast device (devices/nnrt_cpu.h) with each instruction set of this machine: every kernel, by name, with
   dimensions around the borders of its tiles, and with 0 if the operator supports empty tensors. Expected values are
   computed in double; the error bound is a number of roundings, each 2^-24 of the rounded value (ROUNDING). The
   reference device must meet the same bounds. */
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

/* ---- functions, and their error bounds ---- */

static double activated(double x, NNRT_ActivationType type)
{
    if (x != x)
        return x;
    switch (type) {
    case NNRT_ACTIVATION_TYPE_RELU: return x > 0 ? x : 0;
    case NNRT_ACTIVATION_TYPE_RELU6: return x > 6 ? 6 : x > 0 ? x : 0;
    case NNRT_ACTIVATION_TYPE_HSWISH: return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
    case NNRT_ACTIVATION_TYPE_SIGMOID: return 1 / (1 + exp(-x));
    case NNRT_ACTIVATION_TYPE_ABS: return fabs(x);
    default: return x;
    }
}

/* The largest slope of an activation, by which it multiplies an error of its argument. */
static double steepness(NNRT_ActivationType type)
{
    return type == NNRT_ACTIVATION_TYPE_HSWISH ? 1.5 : type == NNRT_ACTIVATION_TYPE_SIGMOID ? 0.25 : 1;
}

/* Roundings of its result: SIGMOID is within 4 ulp, of 2 roundings each; HSWISH adds 3, multiplies by 1/6, itself
   rounded, and by x; the others are exact. */
static double roundings_of(NNRT_ActivationType type)
{
    return type == NNRT_ACTIVATION_TYPE_SIGMOID ? 8 : type == NNRT_ACTIVATION_TYPE_HSWISH ? 4 : 0;
}

/* expected = activation(x) of the same float x as on the device, and the error bound. */
static void expect_activated(const float *x, size_t count, NNRT_ActivationType type, float *expected, float *bound)
{
    for (size_t i = 0; i < count; i++) {
        const double y = activated((double)x[i], type), of = roundings_of(type);
        expected[i] = (float)y;
        bound[i] = (float)((of > 0 ? of + 1 : 0) * ROUNDING * fabs(y)); /* 1: rounding of expected */
    }
}

/* The largest number of additions after any term of a sum of n, in vectors of 4 to 16: of its lane, of the lanes, and
   of the rest that is not a whole vector. */
static double additions(int32_t n)
{
    return n < 25 ? n : n / 4 + 19;
}

/* ---- matrix products and convolutions ---- */

static NNRT_Model *make_conv(const conv *s, const float *w, const float *bias, const float *sum, int32_t *out)
{
    const int32_t dims[4] = {s->n, s->h, s->w, s->k}, first[4] = {s->n, s->k, s->h, s->w};
    const int32_t wDims[4] = {s->c, s->window[0], s->window[1], s->k / (int32_t)s->group};
    NNRT_Conv2DFusion attr;
    NNRT_AddFusion add;
    nnrt_builder *b = NULL;
    uint32_t in[3], y;
    memset(&attr, 0, sizeof(attr));
    memset(&add, 0, sizeof(add));
    attr.kernelSize = nnrt_int64_list((const int64_t[2]){s->window[0], s->window[1]}, 2);
    attr.stride = nnrt_int64_list(s->stride, 2);
    attr.dilation = nnrt_int64_list(s->dilation, 2);
    attr.padList = nnrt_int64_list(s->pad, 4);
    attr.group = s->group;
    attr.activationType = s->activation;
    add.activationType = NNRT_ACTIVATION_TYPE_RELU;
    for (int32_t i = 0; i < 2; i++)
        out[1 + i] = (int32_t)((dims[1 + i] + s->pad[2 * i] + s->pad[2 * i + 1] -
                                s->dilation[i] * (s->window[i] - 1) - 1) / s->stride[i] + 1);
    out[0] = s->n;
    out[3] = s->c;
    assert_int_equal(nnrt_builder_create(&b, "conv", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 4, s->planes ? first : dims);
    if (s->planes)
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
    in[1] = nnrt_builder_constant(b, "w", F32, 4, wDims, w, false);
    in[2] = s->bias ? nnrt_builder_constant(b, "bias", F32, 1, &s->c, bias, false) : NNRT_NO_TENSOR;
    y = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3);
    if (s->twice) {
        in[0] = y;
        in[1] = nnrt_builder_constant(b, "more", F32, 1, &s->c, bias, false);
        y = nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    }
    if (s->sum) {
        const int32_t outFirst[4] = {out[0], out[3], out[1], out[2]};
        in[0] = nnrt_builder_constant(b, "sum", F32, 4, s->planes ? outFirst : out, sum, false);
        in[1] = y;
        y = nnrt_builder_op(b, "add", NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2);
    }
    nnrt_builder_output(b, y);
    return finish(b);
}

/* The sum of a pixel in double; *size: the sum of the absolute values of its terms. */
static double sum_of(const conv *s, const float *x, const float *w, const float *bias, const int32_t *at, double *size)
{
    const int32_t deep = s->k / (int32_t)s->group, first = at[3] / (s->c / (int32_t)s->group) * deep;
    double sum = s->bias ? (double)bias[at[3]] : 0;
    sum += s->twice ? (double)bias[at[3]] : 0;
    *size = fabs(sum);
    for (int32_t i = 0; i < s->window[0]; i++)
        for (int32_t j = 0; j < s->window[1]; j++) {
            const int64_t h = at[1] * s->stride[0] - s->pad[0] + i * s->dilation[0];
            const int64_t q = at[2] * s->stride[1] - s->pad[2] + j * s->dilation[1];
            for (int32_t k = 0; k < deep && h >= 0 && h < s->h && q >= 0 && q < s->w; k++) {
                const size_t from = (size_t)(s->planes ? ((at[0] * s->k + first + k) * s->h + h) * s->w + q
                                                       : ((at[0] * s->h + h) * s->w + q) * s->k + first + k);
                const double part = (double)x[from] *
                                    (double)w[((at[3] * s->window[0] + i) * s->window[1] + j) * deep + k];
                sum += part;
                *size += fabs(part);
            }
        }
    return sum;
}

/* n products, rounded or not, and n additions, in any order: (n + 1) roundings of the sum of the absolute values. One
   more for a bias that is added to the bias, and one for each sum of the result and another tensor. */
static void expect_conv(const conv *s, const float *x, const float *w, const float *bias, const float *sum,
                        const int32_t *out, float *expected, float *bound)
{
    const double terms = (double)s->window[0] * s->window[1] * s->k / (double)s->group;
    int32_t at[4];
    for (at[0] = 0; at[0] < out[0]; at[0]++)
        for (at[1] = 0; at[1] < out[1]; at[1]++)
            for (at[2] = 0; at[2] < out[2]; at[2]++)
                for (at[3] = 0; at[3] < out[3]; at[3]++) {
                    const size_t to = (size_t)(s->planes ? ((at[0] * out[3] + at[3]) * out[1] + at[1]) * out[2] + at[2]
                                                         : ((at[0] * out[1] + at[1]) * out[2] + at[2]) * out[3] + at[3]);
                    double size, y = sum_of(s, x, w, bias, at, &size), off;
                    off = (terms + 1 + s->twice) * size * steepness(s->activation);
                    y = activated(y, s->activation);
                    off += roundings_of(s->activation) * fabs(y);
                    if (s->sum) {
                        y = y + (double)sum[to];
                        off += fabs(y);
                        y = activated(y, NNRT_ACTIVATION_TYPE_RELU);
                    }
                    expected[to] = (float)y;
                    bound[to] = (float)((off + fabs(y)) * ROUNDING * SECOND);
                }
}

static void check_conv_by(const conv *s, const char *name)
{
    const size_t nX = (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->k;
    const size_t terms = (size_t)(s->window[0] * s->window[1]) * (size_t)s->k / (size_t)s->group;
    const size_t nW = terms * (size_t)s->c;
    float *x = reals(nX), *w = reals(nW), *bias = reals((size_t)s->c), *sum, *expected, *bound;
    int32_t out[4];
    conv plain = *s;
    NNRT_Model *model;
    size_t nY;
    char what[200];
    snprintf(what, sizeof(what), "[%d,%d,%d,%d] by %d of %d x %d, stride %d,%d, dilation %d,%d, pad %d,%d,%d,%d, group %d, "
             "activation %d%s%s%s", (int)s->n, (int)s->h, (int)s->w, (int)s->k, (int)s->c, (int)s->window[0],
             (int)s->window[1], (int)s->stride[0], (int)s->stride[1], (int)s->dilation[0], (int)s->dilation[1],
             (int)s->pad[0], (int)s->pad[1], (int)s->pad[2], (int)s->pad[3], (int)s->group, (int)s->activation,
             s->bias ? ", bias" : "", s->sum ? ", sum" : "",
             s->planes ? ", planes" : s->twice ? ", twice" : "");
    plain.sum = false;
    model = make_conv(&plain, w, bias, NULL, out);
    nnrt_model_destroy(model);
    nY = product_of(4, out);
    sum = reals(nY);
    expected = reals(nY);
    bound = reals(nY);
    model = make_conv(s, w, bias, sum, out);
    expect_conv(s, x, w, bias, sum, out, expected, bound);
    kernel = name;
    check_all(model, x, nX, nY, expected, bound, what);
    kernel = NULL;
    nnrt_model_destroy(model);
    free(bound);
    free(expected);
    free(sum);
    free(bias);
    free(w);
    free(x);
}

static void check_conv(const conv *s)
{
    check_conv_by(s, s->group == 1 ? "gemm" : "depthwise");
}

/* Channels around a vector, a panel and four panels of each set (4, 8, 16, 32, 64, 128); pixels around a tile. */
static void test_products(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 31, 32, 33, 40, 48, 49, 63, 64, 65,
                                       95, 127, 128, 129, 144, 193};
    conv s;
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < COUNT(channels); i++) {
        memset(&s, 0, sizeof(s));
        s.n = s.h = 1;
        s.group = s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
        s.window[0] = s.window[1] = 1;
        s.c = channels[i];
        s.bias = true;
        for (s.w = 1; s.w <= 18; s.w += s.w < 10 ? 1 : 4) {
            s.k = 1 + (int32_t)draw(20);
            check_conv(&s);
        }
    }
    for (uint32_t i = 0; i < 24; i++) { /* few pixels, and enough work for threads to share the panels */
        memset(&s, 0, sizeof(s));
        s.n = 1;
        s.group = s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
        s.h = 1 + i % 2;
        s.w = 1 + (int32_t)(i / 2 % 3);
        s.window[0] = s.window[1] = i < 12 ? 1 : 3;
        s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = i < 12 ? 0 : 1;
        s.k = i < 12 ? 1000 : 100;
        s.c = (int32_t[]){129, 193, 291, 300}[draw(4)];
        s.activation = activations[draw(COUNT(activations))];
        check_conv(&s);
    }
    memset(&s, 0, sizeof(s)); /* weights that are read once: more pixels in a list */
    s.n = 1;
    s.group = s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
    s.h = 9;
    s.w = 8;
    s.window[0] = s.window[1] = 3;
    s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
    s.k = 290;
    s.c = 102;
    check_conv(&s);
    for (uint32_t i = 0; i < 120; i++) {
        memset(&s, 0, sizeof(s));
        draw_window(&s);
        s.n = 1 + (int32_t)draw(2);
        s.group = 1;
        s.k = 1 + (int32_t)draw(9);
        s.c = channels[draw(COUNT(channels))];
        check_conv(&s);
    }
}

/* One pixel, a 1 x 1 kernel: channels around a vector and each of the first panels of each set, and enough weights for
   threads to share them. */
static void test_vectors(void **unused)
{
    conv s;
    (void)unused;
    state = 29;
    for (int32_t c = 1; c <= 640; c += c < 70 ? 1 : c < 300 ? 13 : 85)
        for (uint32_t i = 0; i < 2; i++) {
            memset(&s, 0, sizeof(s));
            s.n = s.h = s.w = 1;
            s.group = s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
            s.window[0] = s.window[1] = 1;
            s.c = c;
            s.k = i == 0 ? 1 + (int32_t)draw(40) : 30000 / c + 30;
            s.activation = activations[draw(COUNT(activations))];
            s.bias = draw(2) == 0;
            s.sum = draw(3) == 0;
            s.twice = s.bias && draw(3) == 0;
            if (s.twice)
                s.activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
            check_conv_by(&s, "gemv");
        }
    memset(&s, 0, sizeof(s));
    s.n = s.window[0] = s.window[1] = 1;
    s.group = s.dilation[0] = s.dilation[1] = 1;
    s.k = 83;
    s.c = 559;
    s.bias = true;
    s.h = s.w = 3; /* one output pixel, without padding */
    s.stride[0] = s.stride[1] = 5;
    check_conv_by(&s, "gemv");
    s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1; /* a pixel in the padding */
    check_conv_by(&s, NULL);
}

static void test_depthwise(void **unused)
{
    static const int32_t channels[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48};
    conv s;
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < 150; i++) {
        memset(&s, 0, sizeof(s));
        draw_window(&s);
        s.n = 1 + (int32_t)draw(2);
        s.group = s.k = s.c = channels[i % COUNT(channels)];
        check_conv(&s);
    }
    for (uint32_t i = 0; i < 80; i++) { /* rows of one strip, of two equal strips and of several */
        memset(&s, 0, sizeof(s));
        draw_window(&s);
        s.n = 1;
        s.w = 1 + (int32_t)(i % 40);
        s.window[0] = s.window[1] = i % 5 == 4 && s.w > 6 ? 7 : i % 3 == 2 && s.w > 4 ? 5 : 3;
        s.dilation[1] = 1;
        s.pad[2] = s.pad[3] = (uint32_t)s.window[1] / 2;
        s.h = (s.window[0] - 1) * (int32_t)s.dilation[0] + 1 + (int32_t)draw(3);
        s.group = s.k = s.c = channels[draw(COUNT(channels))];
        check_conv(&s);
    }
    for (uint32_t i = 0; i < 24; i++) { /* so many channels that rows are computed in blocks of channels */
        memset(&s, 0, sizeof(s));
        draw_window(&s);
        s.n = 1 + (i % 4 == 0);
        s.h = 6 + (int32_t)draw(5);
        s.w = 9 + (int32_t)draw(9);
        s.group = s.k = s.c = 130 + (int32_t)draw(300);
        check_conv(&s);
    }
}

/* Kernels of several taps, by im2col with zero padding, or directly on x: few channels, also NCHW, whose pixels of a
   row may fill vectors; rows of y shorter and longer than a tile and than vectors, several per im2col block, or of
   several blocks. */
static void test_patches(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 49};
    static const int32_t windows[] = {1, 2, 3, 5, 7};
    static const int32_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19, 20, 21, 25, 31, 32, 33, 47, 65};
    conv s;
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < 16 * COUNT(widths); i++) {
        int32_t reach[2];
        memset(&s, 0, sizeof(s));
        s.n = 1 + (i % 7 == 0);
        s.group = 1;
        s.k = 1 + (int32_t)draw(i % 3 == 0 ? 9 : 4);
        s.c = channels[draw(COUNT(channels))];
        s.planes = draw(2) == 0;
        s.bias = draw(2) == 0;
        s.sum = draw(4) == 0;
        s.activation = activations[draw(COUNT(activations))];
        for (int32_t k = 0; k < 2; k++) {
            s.window[k] = windows[draw(COUNT(windows))];
            s.stride[k] = 1 + draw(3);
            s.dilation[k] = 1 + (draw(5) == 0);
            reach[k] = (s.window[k] - 1) * (int32_t)s.dilation[k] + 1;
            for (int32_t e = 0; e < 2 && i % 4 != 0; e++) /* a whole window may be in the padding */
                s.pad[2 * k + e] = draw((uint32_t)reach[k] + 1);
        }
        s.h = reach[0] + (int32_t)draw(8);
        s.w = reach[1] + (int32_t)s.stride[1] * (widths[i % COUNT(widths)] - 1);
        check_conv(&s);
    }
    for (int32_t planes = 0; planes < 2; planes++) /* rows of y of two im2col blocks, and three */
        for (int32_t wide = 0; wide < 3; wide++) {
            memset(&s, 0, sizeof(s));
            s.n = 1;
            s.group = s.dilation[0] = s.dilation[1] = s.stride[0] = 1;
            s.stride[1] = 1 + wide / 2;
            s.window[0] = s.window[1] = 3;
            s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
            s.h = 3;
            s.w = wide == 0 ? 256 : wide == 1 ? 257 : 1100;
            s.k = 3;
            s.c = 5;
            s.planes = planes != 0;
            check_conv(&s);
        }
}

/* Depthwise kernels of three and five columns, by strips of a row: every width around a strip, and padding on each
   side, also windows that are entirely in the padding. */
static void test_strips(void **unused)
{
    static const int32_t channels[] = {2, 8, 16, 17, 24, 33, 64};
    conv s;
    (void)unused;
    state = 10;
    for (int32_t wide = 1; wide <= 11; wide++)
        for (uint32_t i = 0; i < 24; i++) {
            memset(&s, 0, sizeof(s));
            s.n = 1;
            s.group = s.k = s.c = channels[draw(COUNT(channels))];
            s.window[1] = i % 2 == 0 ? 3 : 5;
            s.window[0] = 1 + (int32_t)draw(5);
            s.stride[0] = 1 + draw(2);
            s.stride[1] = 1 + i / 2 % 2;
            s.dilation[0] = 1 + (draw(4) == 0);
            s.dilation[1] = 1;
            s.pad[0] = draw(3);
            s.pad[1] = draw(3);
            s.pad[2] = draw((uint32_t)s.window[1] + 2);
            s.pad[3] = draw((uint32_t)s.window[1] + 2);
            s.h = (s.window[0] - 1) * (int32_t)s.dilation[0] + 1 + (int32_t)draw(3);
            s.w = s.window[1] + (int32_t)s.stride[1] * (wide - 1) - (int32_t)(s.pad[2] + s.pad[3]);
            s.w = s.w > 0 ? s.w : 1;
            s.bias = draw(2) == 0;
            s.activation = activations[draw(COUNT(activations))];
            check_conv(&s);
        }
}

/* NaN and infinite weights: padding is skipped, not multiplied by 0. */
static void test_weights_without_numbers(void **unused)
{
    const float bad[] = {INFINITY, -INFINITY, NAN};
    conv s;
    (void)unused;
    memset(&s, 0, sizeof(s));
    s.n = 1;
    s.group = s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
    s.h = s.w = 3;
    s.k = s.c = 1;
    s.window[0] = s.window[1] = 3;
    s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
    for (uint32_t i = 0; i < COUNT(bad) * 4; i++) {
        const float bound[18] = {0};
        float x[18], w[18], expected[18];
        int32_t out[4];
        NNRT_Model *model;
        const uint32_t way = i / COUNT(bad); /* one channel, two depthwise, by Winograd tiles of both sizes */
        const size_t count = way == 1 ? 18 : 9;
        s.group = s.k = s.c = way == 1 ? 2 : 1;
        tiles = way < 2 ? NULL : way == 2 ? "2" : "4";
        for (size_t k = 0; k < count; k++) {
            x[k] = 1;
            w[k] = k % 9 == 4 ? 1 : k % 9 == 0 ? bad[i % COUNT(bad)] : 0; /* reads the upper left pixel, often padding */
        }
        model = make_conv(&s, w, NULL, NULL, out);
        (void)run_on("reference", model, x, count, expected, count, 0);
        assert_true(expected[0] == 1 && expected[count / 9 * 4] != 1);
        check_all(model, x, count, count, expected, bound, "weights that are no numbers");
        nnrt_model_destroy(model);
    }
    tiles = NULL;
}

/* ---- Winograd tiles ---- */

/* The matrices of devices/nnrt_cpu.h, from the papers: rows of B^T, G and A^T for tiles of 2 and of 4. */
static const double turn[2][6][6] = {
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
    {{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0},
     {0, 4, 0, -5, 0, 1}}};
static const double weigh[2][6][3] = {{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                                      {{0.25, 0, 0},
                                       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                       {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                       {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                       {0, 0, 1}}};
static const double back[2][4][6] = {{{1, 1, 1, 0}, {0, 1, -1, -1}},
                                     {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};

/* The matrices compute a convolution, in exact arithmetic: the sum over elements of A * G * B is 1 if pixel p of y uses
   tap k of pixel p + k of x, else 0. */
static void test_matrices_of_tiles(void **unused)
{
    (void)unused;
    for (int32_t f = 0; f < 2; f++)
        for (int32_t p = 0; p < 2 + 2 * f; p++)
            for (int32_t k = 0; k < 3; k++)
                for (int32_t i = 0; i < 4 + 2 * f; i++) {
                    double sum = 0;
                    for (int32_t e = 0; e < 4 + 2 * f; e++)
                        sum += back[f][p][e] * weigh[f][e][k] * turn[f][e][i];
                    assert_true(fabs(sum - (i == p + k)) < 1e-15);
                }
}

static double at_of(const conv *s, const float *x, int64_t n, int64_t h, int64_t w, int32_t k)
{
    const bool inside = h >= 0 && h < s->h && w >= 0 && w < s->w;
    return inside ? (double)x[((n * s->h + h) * s->w + w) * s->k + k] : 0.0;
}

/* Element (e,g) of |B^T| |x| |B| for the tile whose first pixel is (h,w). */
static double size_of_cell(const conv *s, const float *x, int64_t n, int64_t h, int64_t w, int32_t k, int32_t f, int32_t e,
                           int32_t g)
{
    double sum = 0;
    for (int32_t i = 0; i < 4 + 2 * f; i++)
        for (int32_t j = 0; j < 4 + 2 * f && turn[f][e][i] != 0; j++)
            if (turn[f][g][j] != 0)
                sum += fabs(turn[f][e][i] * turn[f][g][j] *
                            at_of(s, x, n, h + i * s->dilation[0], w + j * s->dilation[1], k));
    return sum;
}

static double size_of_weight(const conv *s, const float *w, int32_t c, int32_t k, int32_t f, int32_t e, int32_t g)
{
    double sum = 0;
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++)
            sum += fabs(weigh[f][e][i] * weigh[f][g][j] * (double)w[((c * 3 + i) * 3 + j) * s->k + k]);
    return sum;
}

/* The 3 x 3 convolution with dilation, in double, and the error bound of Winograd tiles: (K + 12) roundings of 2^-24 of
   |A^T| (|G| |w| |G^T| . |B^T| |x| |B|) |A|, summed over the K channels, and of |bias|. */
static void expect_tiles(const conv *s, const float *x, const float *w, const float *bias, int32_t f, const int32_t *out,
                         double *expected, double *bound)
{
    const int32_t tile = 2 + 2 * f, cells = (tile + 2) * (tile + 2), K = s->k, C = s->c;
    double *weights = (double *)malloc((size_t)(cells * K * C) * sizeof(double));
    double *ofX = (double *)malloc((size_t)(cells * K) * sizeof(double));
    for (int32_t e = 0; e < cells; e++)
        for (int32_t c = 0; c < C; c++)
            for (int32_t k = 0; k < K; k++)
                weights[(e * C + c) * K + k] = size_of_weight(s, w, c, k, f, e / (tile + 2), e % (tile + 2));
    for (int64_t first = 0; first < (int64_t)out[0] * out[1] * out[2]; first++) {
        const int64_t n = first / out[2] / out[1], p = first / out[2] % out[1], q = first % out[2];
        if (p / s->dilation[0] % tile != 0 || q / s->dilation[1] % tile != 0)
            continue; /* not the first pixel of a tile */
        for (int32_t e = 0; e < cells; e++)
            for (int32_t k = 0; k < K; k++)
                ofX[e * K + k] = size_of_cell(s, x, n, p - s->pad[0], q - s->pad[2], k, f, e / (tile + 2), e % (tile + 2));
        for (int32_t c = 0; c < C; c++) {
            double sums[36];
            for (int32_t e = 0; e < cells; e++) {
                sums[e] = 0;
                for (int32_t k = 0; k < K; k++)
                    sums[e] += weights[(e * C + c) * K + k] * ofX[e * K + k];
            }
            for (int32_t own = 0; own < tile * tile; own++) {
                const int64_t i = p + own / tile * s->dilation[0], j = q + own % tile * s->dilation[1];
                const int64_t at = ((n * out[1] + i) * out[2] + j) * C + c;
                if (i >= out[1] || j >= out[2])
                    continue;
                expected[at] = s->bias ? (double)bias[c] : 0;
                bound[at] = fabs(expected[at]);
                for (int32_t e = 0; e < cells; e++)
                    bound[at] += fabs(back[f][own / tile][e / (tile + 2)] * back[f][own % tile][e % (tile + 2)]) * sums[e];
                bound[at] *= (K + 12) * 0x1p-24;
                for (int32_t t = 0; t < 9; t++)
                    for (int32_t k = 0; k < K; k++)
                        expected[at] += (double)w[(c * 9 + t) * K + k] *
                                        at_of(s, x, n, i + t / 3 * s->dilation[0] - s->pad[0],
                                              j + t % 3 * s->dilation[1] - s->pad[2], k);
            }
        }
    }
    free(ofX);
    free(weights);
}

static uint32_t steps_of(const NNRT_Model *model, const char *way)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_error e;
    uint32_t steps;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = "cpu";
    tiles = way;
    add_extensions(&desc, extensions);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    steps = nnrt_session_get_memory(session).steps;
    nnrt_session_destroy(session);
    return steps;
}

static void set_window(conv *s)
{
    s->group = s->stride[0] = s->stride[1] = s->dilation[0] = s->dilation[1] = 1;
    s->window[0] = s->window[1] = 3;
}

/* By tiles of both sizes. */
static void check_tiles(conv *s)
{
    const size_t nX = (size_t)(s->n * s->h * s->w * s->k), nW = (size_t)(9 * s->k * s->c);
    float *x = reals(nX), *w = reals(nW), *bias = reals((size_t)s->c), *sum, *expected, *bound;
    double *exact, *far;
    int32_t out[4];
    NNRT_Model *model;
    size_t nY;
    for (int32_t i = 0; i < 2; i++)
        out[1 + i] = (i == 0 ? s->h : s->w) + (int32_t)(s->pad[2 * i] + s->pad[2 * i + 1]) - 2 * (int32_t)s->dilation[i];
    out[0] = s->n;
    out[3] = s->c;
    nY = product_of(4, out);
    sum = reals(nY);
    expected = reals(nY);
    bound = reals(nY);
    exact = (double *)malloc((nY + 1) * sizeof(double));
    far = (double *)malloc((nY + 1) * sizeof(double));
    model = make_conv(s, w, bias, sum, out);
    assert_int_equal(steps_of(model, "4"), steps_of(model, "0")); /* the epilogue fuses the same steps as a GEMM */
    for (int32_t f = 0; f < 2; f++) {
        char what[160];
        snprintf(what, sizeof(what), "[%d,%d,%d,%d] by %d, pad %d,%d,%d,%d, dilation %d,%d, activation %d%s%s%s, tiles of %d", (int)s->n,
                 (int)s->h, (int)s->w, (int)s->k, (int)s->c, (int)s->pad[0], (int)s->pad[1], (int)s->pad[2], (int)s->pad[3],
                 (int)s->dilation[0], (int)s->dilation[1], (int)s->activation, s->bias ? ", bias" : "", s->sum ? ", sum" : "", s->twice ? ", twice" : "",
                 (int)(2 + 2 * f));
        expect_tiles(s, x, w, bias, f, out, exact, far);
        for (size_t i = 0; i < nY; i++) { /* the error bound of the epilogue is as in expect_conv */
            const double more = s->twice ? (double)bias[i % (size_t)s->c] : 0;
            double y = activated(exact[i] + more, s->activation), off = roundings_of(s->activation) * fabs(y);
            if (s->sum) {
                y = y + (double)sum[i];
                off += fabs(y);
                y = activated(y, NNRT_ACTIVATION_TYPE_RELU);
            }
            off += s->twice ? fabs(more) * (s->k + 12) + fabs(more) + fabs((double)bias[i % (size_t)s->c]) : 0;
            expected[i] = (float)y;
            bound[i] = (float)((far[i] * steepness(s->activation) + (off + fabs(y)) * ROUNDING) * SECOND);
        }
        tiles = f == 0 ? "2" : "4";
        kernel = "winograd";
        check_all(model, x, nX, nY, expected, bound, what);
    }
    tiles = kernel = NULL;
    nnrt_model_destroy(model);
    free(far);
    free(exact);
    free(bound);
    free(expected);
    free(sum);
    free(bias);
    free(w);
    free(x);
}

/* Heights and widths around a tile and several tiles, channels around vectors and panels; and so many tiles, channels
   and panels that they are computed in blocks and groups. */
static void test_tiles(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65};
    static const int32_t large[][6] = {{1, 38, 35, 5, 3, 1},   {3, 17, 10, 4, 40, 1}, {1, 7, 7, 300, 5, 1},  {1, 22, 21, 256, 2, 1},
                                       {1, 12, 13, 3, 193, 1}, {2, 29, 30, 16, 130, 1}, {2, 29, 30, 16, 40, 3}, {1, 40, 9, 3, 17, 12}};
    const uint32_t small = long_form() ? 70 : 36;
    conv s;
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < small + COUNT(large); i++) {
        memset(&s, 0, sizeof(s));
        s.n = 1 + (int32_t)(i % 7 == 0);
        s.h = 3 + (int32_t)draw(9);
        s.w = 3 + (int32_t)draw(9);
        s.k = channels[i % COUNT(channels)];
        s.c = channels[draw(COUNT(channels))];
        for (int32_t k = 0; k < 4; k++)
            s.pad[k] = i % 3 == 0 ? 1 : draw(i % 3 == 1 ? 3 : 6);
        set_window(&s);
        for (int32_t k = 0; k < 2 && i % 2 == 1; k++)
            s.dilation[k] = 1 + draw(5);
        if (i % 9 == 8)
            s.h = 1 + (int32_t)(s.pad[0] + s.pad[1] < 2); /* a single row of x, or no window inside x */
        if (i % 11 == 10)
            s.dilation[1] = 17; /* each tile has a single pixel */
        for (int32_t k = 0; k < 2; k++)
            if ((k == 0 ? s.h : s.w) + s.pad[2 * k] + s.pad[2 * k + 1] < 2 * s.dilation[k] + 1)
                s.pad[2 * k + 1] = 2 * s.dilation[k] + 1 - (k == 0 ? s.h : s.w) - s.pad[2 * k];
        if (i >= small) {
            const int32_t *l = large[i - small];
            s.n = l[0];
            s.h = l[1];
            s.w = l[2];
            s.k = l[3];
            s.c = l[4];
            for (int32_t k = 0; k < 4; k++)
                s.pad[k] = s.dilation[k / 2] = l[5];
        }
        s.activation = activations[draw(COUNT(activations))];
        s.bias = draw(2) == 0;
        s.sum = draw(3) == 0;
        s.twice = i % 4 == 0;
        if (s.twice)
            s.activation = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        check_tiles(&s);
    }
}

/* Runs a convolution without a sum on a set, with the tile size `way`. */
static float *run_tiles(const char *set, const conv *s, const float *x, const float *w, const float *bias, const char *way,
                        size_t *count)
{
    int32_t out[4];
    NNRT_Model *model = make_conv(s, w, bias, NULL, out);
    float *y;
    *count = product_of(4, out);
    y = reals(*count);
    tiles = way;
    (void)run_on(set, model, x, (size_t)(s->n * s->h * s->w * s->k), y, *count, 0);
    tiles = NULL;
    nnrt_model_destroy(model);
    return y;
}

/* By default tiles are used only if they are faster, large ones if there are many tiles. The extension selects another
   size; an invalid request fails. */
static void test_choice_of_tiles(void **unused)
{
    static const struct {
        int32_t n, extent, k, c, stride, dilation;
        const char *way; /* bit-identical to the default */
    } rows[] = {{1, 3, 16, 16, 1, 1, "0"},  {1, 28, 64, 64, 1, 1, "4"}, {16, 2, 64, 64, 1, 1, "2"}, {1, 28, 64, 64, 2, 1, "0"},
                {1, 28, 64, 64, 1, 2, "4"}, {1, 28, 64, 64, 1, 13, "0"}, {1, 28, 15, 64, 1, 1, "0"}, {1, 28, 16, 64, 1, 1, "4"}};
    static const char *const bad[] = {"", "3", "11", "on", "1 ", "41", "0123456789abcdefgh"};
    nnrt_error e;
    (void)unused;
    state = 10;
    for (uint32_t i = 0; i < COUNT(rows); i++)
        for (uint32_t r = 0; r < nSets; r++) {
            static const char *const ways[] = {"0", "1", "2", "4"};
            conv s;
            float *x, *w, *bias, *y;
            size_t count;
            memset(&s, 0, sizeof(s));
            set_window(&s);
            s.n = rows[i].n;
            s.h = s.w = rows[i].extent;
            s.k = rows[i].k;
            s.c = rows[i].c;
            s.stride[0] = s.stride[1] = rows[i].stride;
            s.dilation[0] = s.dilation[1] = rows[i].dilation;
            s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = rows[i].dilation;
            s.bias = true;
            x = reals((size_t)(s.n * s.h * s.w * s.k));
            w = reals((size_t)(9 * s.k * s.c));
            bias = reals((size_t)s.c);
            y = run_tiles(sets[r], &s, x, w, bias, NULL, &count);
            for (uint32_t k = 0; k < COUNT(ways); k++) {
                float *z = run_tiles(sets[r], &s, x, w, bias, ways[k], &count);
                const bool can = rows[i].stride == 1;
                const bool same = memcmp(y, z, count * sizeof(float)) == 0;
                if (same != (!can || strcmp(ways[k], "1") == 0 || strcmp(ways[k], rows[i].way) == 0))
                    fail_msg("row %u on %s, '%s': %s as by default", (unsigned)i, sets[r], ways[k],
                             same ? "the same bits" : "not the same bits");
                free(z);
            }
            free(y);
            free(bias);
            free(w);
            free(x);
        }
    for (uint32_t i = 0; i < COUNT(bad) + 1; i++) {
        const int32_t dims[1] = {1};
        const bool fine = i == COUNT(bad); /* with the terminating 0 */
        nnrt_session *session = NULL;
        nnrt_session_desc desc;
        NNRT_Extension extensions[MOST_EXTENSIONS];
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_builder_create(&b, "plain", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 1, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ABS, NULL, &in, 1));
        model = finish(b);
        desc.device = "cpu";
        tiles = fine ? "4" : bad[i];
        add_extensions(&desc, extensions);
        extensions[0].size += fine;
        assert_int_equal(nnrt_session_create(&session, model, &desc, &e), fine ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
        assert_true(fine || strstr(e.message, "nnrt.cpu.winograd") != NULL);
        nnrt_session_destroy(session);
        session = NULL;
        tiles = NULL;
        memory = fine ? "fastest" : "small";
        add_extensions(&desc, extensions);
        assert_int_equal(nnrt_session_create(&session, model, &desc, &e), fine ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
        assert_true(fine || strstr(e.message, "nnrt.cpu.memory' is 'small', expected fastest or smallest") != NULL);
        memory = NULL;
        nnrt_session_destroy(session);
        session = NULL;
        extensions[0] = (NNRT_Extension){"nnrt.cpu.weights", fine ? "float" : "int4", fine ? 5 : 4};
        desc.extensions = NNRT_ExtensionList_make(extensions, 1);
        assert_int_equal(nnrt_session_create(&session, model, &desc, &e), fine ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
        assert_true(fine || strstr(e.message, "nnrt.cpu.weights' is 'int4', expected float or int8") != NULL);
        nnrt_session_destroy(session);
        session = NULL;
        if (!fine) /* a misspelt name, and no other device in its place */
            extensions[0].name = "nnrt.cpu.weight";
        for (uint32_t k = 0; k < 3; k++) { /* the whole model, and as a part */
            nnrt_partition partition;
            memset(&partition, 0, sizeof(partition));
            memset(&e, 0, sizeof(e)); /* no message of the call before */
            partition.fallback = k == 2;
            desc.device = k == 0 ? "cpu" : "auto:cpu";
            desc.partition = k == 2 ? &partition : NULL;
            assert_int_equal(nnrt_session_create(&session, model, &desc, &e), fine ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
            assert_true(fine || strstr(e.message, "there is no extension 'nnrt.cpu.weight'; this device has nnrt.cpu.winograd,") != NULL);
            nnrt_session_destroy(session);
            session = NULL;
        }
        nnrt_model_destroy(model);
    }
}

/* An infinite or NaN element of x makes the pixels of y infinite or NaN whose windows contain it, and at most all
   pixels of the tiles that read it: other bits are unchanged. */
static void test_tiles_without_numbers(void **unused)
{
    const float bad[] = {INFINITY, -INFINITY, NAN};
    conv s;
    (void)unused;
    state = 11;
    memset(&s, 0, sizeof(s));
    set_window(&s);
    s.n = 1;
    s.h = 14;
    s.w = 13;
    s.k = 3;
    s.c = 2;
    s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
    for (uint32_t i = 0; i < 90 * nSets; i++) {
        const int32_t tile = i % 2 == 0 ? 2 : 4;
        const int32_t h = (int32_t)draw(14), q = (int32_t)draw(13);
        const char *const set = sets[i % nSets], *const way = tile == 2 ? "2" : "4";
        float *x = reals(14 * 13 * 3), *w = reals(9 * 3 * 2), *clean, *y;
        size_t count;
        s.activation = i % 3 == 0 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        clean = run_tiles(set, &s, x, w, NULL, way, &count);
        x[(h * 13 + q) * 3 + (int32_t)draw(3)] = bad[i / 2 % 3];
        y = run_tiles(set, &s, x, w, NULL, way, &count);
        for (int32_t p = 0; p < 14; p++)
            for (int32_t r = 0; r < 13; r++)
                for (int32_t c = 0; c < 2; c++) {
                    const size_t at = (size_t)((p * 13 + r) * 2 + c);
                    const int32_t down = h + 1 - p / tile * tile, across = q + 1 - r / tile * tile; /* in the tile */
                    if (abs(p - h) <= 1 && abs(r - q) <= 1)
                        assert_true(s.activation != NNRT_ACTIVATION_TYPE_NO_ACTIVATION || !isfinite(y[at]));
                    else if (down < 0 || down >= tile + 2 || across < 0 || across >= tile + 2)
                        assert_memory_equal(&y[at], &clean[at], sizeof(float));
                    if (bad[i / 2 % 3] != bad[i / 2 % 3] && abs(p - h) <= 1 && abs(r - q) <= 1)
                        assert_true(y[at] != y[at]);
                }
        free(y);
        free(clean);
        free(w);
        free(x);
    }
}

/* The reported number of bytes suffices, one less fails. */
static void test_memory_of_tiles(void **unused)
{
    conv s;
    (void)unused;
    state = 12;
    memset(&s, 0, sizeof(s));
    set_window(&s);
    s.n = 1;
    s.h = s.w = 20;
    s.k = 17;
    s.c = 40;
    for (uint32_t i = 0; i < 2 * nSets; i++) {
        float *x = reals(20 * 20 * 17), *w = reals(9 * 17 * 40), *y = reals(18 * 18 * 40);
        int32_t out[4];
        NNRT_Model *model = make_conv(&s, w, NULL, NULL, out);
        nnrt_session_desc desc;
        NNRT_Extension extensions[MOST_EXTENSIONS];
        const nnrt_io in = nnrt_io_make(x, 20 * 20 * 17 * sizeof(float)), result = nnrt_io_make(y, 18 * 18 * 40 * sizeof(float));
        memset(&desc, 0, sizeof(desc));
        desc.device = sets[i % nSets];
        tiles = i < nSets ? "2" : "4";
        add_extensions(&desc, extensions);
        assert_true(run_in_bytes(model, desc, &in, &result) > 0);
        nnrt_model_destroy(model);
        free(y);
        free(w);
        free(x);
    }
    tiles = NULL;
}

/* ---- layouts ---- */

/* Channels first, with as many channels as columns, so that confusing the axes is not a shape error: a convolution, a
   constant added along an axis, and a node that reads the sum. */
static void test_layouts(void **unused)
{
    static const int32_t addends[][4] = {{0, 0, 0, 8}, {0, 8, 1, 1}, {1, 8, 6, 8}, {0, 0, 6, 1}, {1, 1, 1, 1}};
    static const int32_t dims[4] = {1, 3, 6, 8}, wDims[4] = {8, 3, 3, 3}, flat[2] = {8, 48}, two[1] = {2};
    static const int64_t pair[2] = {1, 1}, pads[4] = {1, 1, 1, 1}, window[2] = {2, 2};
    const size_t nX = 3 * 6 * 8, terms = 27;
    float *x, *w;
    (void)unused;
    state = 8;
    x = reals(nX);
    w = reals(8 * terms);
    for (uint32_t i = 0; i < COUNT(addends) * 24; i++) {
        const int32_t *full = addends[i % COUNT(addends)];
        const uint32_t first = i / COUNT(addends) & 1, then = i / COUNT(addends) / 2 % 4, way = i / COUNT(addends) / 8;
        NNRT_Conv2DFusion attr;
        NNRT_AddFusion add;
        NNRT_MaxPoolFusion pool;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        int32_t rank = 4, skip = 0;
        uint32_t in[3], y;
        size_t nC, nY = 8 * 6 * 8;
        float *c, *expected, *bound;
        while (full[skip] == 0)
            skip++;
        rank -= skip;
        nC = product_of(rank, full + skip);
        c = reals(nC);
        memset(&attr, 0, sizeof(attr));
        memset(&add, 0, sizeof(add));
        memset(&pool, 0, sizeof(pool));
        attr.kernelSize = nnrt_int64_list((const int64_t[2]){3, 3}, 2);
        attr.stride = attr.dilation = nnrt_int64_list(pair, 2);
        attr.padList = nnrt_int64_list(pads, 4);
        attr.group = 1;
        pool.kernelSize = nnrt_int64_list(window, 2);
        pool.strides = nnrt_int64_list(pair, 2);
        assert_int_equal(nnrt_builder_create(&b, "layouts", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        in[1] = nnrt_builder_constant(b, "w", F32, 4, (const int32_t[4]){wDims[0], wDims[2], wDims[3], wDims[1]}, w, false);
        in[first] = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 2);
        in[1 - first] = nnrt_builder_constant(b, "c", F32, rank, full + skip, c, false);
        y = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2);
        if (then == 1) {
            y = nnrt_builder_op(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &y, 1);
            nY = 8 * 5 * 7;
        } else if (then == 2) {
            in[0] = y;
            in[1] = nnrt_builder_constant(b, "shape", I32, 1, two, flat, false);
            y = nnrt_builder_op(b, "flat", NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
        } else if (then == 3) {
            in[0] = in[1] = y;
            y = nnrt_builder_op(b, "square", NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2);
        }
        nnrt_builder_output(b, y);
        model = finish(b);
        expected = reals(nY);
        bound = reals(nY);
        (void)run_on("reference", model, x, nX, expected, nY, 0);
        tiles = way == 0 ? NULL : way == 1 ? "2" : "4";
        for (size_t k = 0; k < nY; k++) /* |x|, |w| <= 1; a square may have 28 times the error, twice; for tiles see below */
            bound[k] = (float)terms * (float)(terms + 4) * 5.97e-8f * (then == 3 ? 56.0f : 1.0f) *
                       (way == 0 ? 1.0f : way == 1 ? 16.0f : 100.0f);
        check_all(model, x, nX, nY, expected, bound, "channels first");
        tiles = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(c);
    }
    free(w);
    free(x);
}

/* ---- products of two run-time matrices ---- */

/* x [2,3,m,k] times itself or a part of it: z = x * x^T, or x^T * x. */
static void test_matrices(void **unused)
{
    static const int32_t extents[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 65};
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < COUNT(extents) * 6; i++) {
        const int32_t m = extents[i % COUNT(extents)], k = extents[draw(COUNT(extents))];
        const bool transposeA = draw(2) == 0;
        const int32_t dims[4] = {2, 3, m, k}, n = transposeA ? k : m, terms = transposeA ? m : k;
        const size_t nX = (size_t)(6 * m * k), nZ = (size_t)(6 * n * n);
        NNRT_MatMulFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        float *x = reals(nX), *expected = reals(nZ), *bound = reals(nZ);
        uint32_t in[2];
        memset(&attr, 0, sizeof(attr));
        attr.transposeA = transposeA;
        attr.transposeB = !transposeA;
        attr.activationType = activations[draw(COUNT(activations))];
        assert_int_equal(nnrt_builder_create(&b, "matrices", NULL), NNRT_SUCCESS);
        in[0] = in[1] = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_MATMUL_FUSION, &attr, in, 2));
        model = finish(b);
        for (size_t j = 0; j < nZ; j++) { /* roundings as in expect_conv */
            const float *from = x + j / (size_t)(n * n) * (size_t)(m * k);
            const size_t row = j / (size_t)n % (size_t)n, column = j % (size_t)n;
            double y = 0, size = 0;
            for (size_t t = 0; t < (size_t)terms; t++) {
                const double part = transposeA ? (double)from[t * (size_t)k + row] * (double)from[t * (size_t)k + column]
                                               : (double)from[row * (size_t)k + t] * (double)from[column * (size_t)k + t];
                y += part;
                size += fabs(part);
            }
            y = activated(y, attr.activationType);
            expected[j] = (float)y;
            bound[j] = (float)(((terms + 1) * size * steepness(attr.activationType) +
                                (roundings_of(attr.activationType) + 1) * fabs(y)) * ROUNDING * SECOND);
        }
        kernel = n == 0 || terms == 0 || (transposeA && k != 1) ? NULL : "matmul"; /* elements of a column are not adjacent */
        check_all(model, x, nX, nZ, expected, bound, "a product of two matrices");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* Constant weights, packed, or used like run-time matrices; rows around a tile and a block of tiles. */
static void test_matrices_of_constants(void **unused)
{
    static const int32_t rows[] = {0, 1, 2, 4, 5, 8, 9, 12, 13, 63, 64, 65, 130};
    static const int32_t columns[] = {1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 48, 65, 129};
    (void)unused;
    state = 17;
    for (uint32_t i = 0; i < COUNT(rows) * COUNT(columns); i++) {
        const int32_t m = rows[i % COUNT(rows)], n = columns[i / COUNT(rows)], k = 1 + (int32_t)draw(40);
        const bool full = i % 3 == 0 && m > 0, transposed = full || draw(2) == 0, bias = draw(2) == 0;
        const int32_t dims[3] = {2, m, k}, wDims[2] = {transposed ? n : k, transposed ? k : n};
        const size_t nRows = (size_t)(full ? m : 2 * m), nX = nRows * (size_t)k, nZ = nRows * (size_t)n;
        float *x = reals(nX), *w = reals((size_t)(k * n)), *more = reals((size_t)n), *expected = reals(nZ), *bound = reals(nZ);
        NNRT_FullConnection attr;
        NNRT_MatMulFusion product;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3];
        memset(&attr, 0, sizeof(attr));
        memset(&product, 0, sizeof(product));
        attr.hasBias = bias;
        product.transposeB = transposed;
        attr.activationType = product.activationType = activations[draw(COUNT(activations))];
        assert_int_equal(nnrt_builder_create(&b, "constants", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, full ? 2 : 3, full ? dims + 1 : dims);
        in[1] = nnrt_builder_constant(b, "w", F32, 2, wDims, w, false);
        in[2] = bias ? nnrt_builder_constant(b, "bias", F32, 1, &n, more, false) : NNRT_NO_TENSOR;
        nnrt_builder_output(b, full ? nnrt_builder_op(b, "z", NNRT_NODE_TYPE_FULL_CONNECTION, &attr, in, 3)
                                    : nnrt_builder_op(b, "z", NNRT_NODE_TYPE_MATMUL_FUSION, &product, in, 3));
        model = finish(b);
        for (size_t j = 0; j < nZ; j++) { /* roundings as in expect_conv */
            const size_t column = j % (size_t)n;
            double y = bias ? (double)more[column] : 0, size = fabs(y);
            for (size_t t = 0; t < (size_t)k; t++) {
                const double part = (double)x[j / (size_t)n * (size_t)k + t] *
                                    (double)w[transposed ? column * (size_t)k + t : t * (size_t)n + column];
                y += part;
                size += fabs(part);
            }
            y = activated(y, attr.activationType);
            expected[j] = (float)y;
            bound[j] = (float)(((k + 1) * size * steepness(attr.activationType) +
                                (roundings_of(attr.activationType) + 1) * fabs(y)) * ROUNDING * SECOND);
        }
        kernel = m == 0 ? NULL : full || i % 2 == 0 ? "gemm" : "matmul";
        check_all(model, x, nX, nZ, expected, bound, full ? "full connection" : "a product with constants");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(more);
        free(w);
        free(x);
    }
}

/* x transposed: the columns of one matrix [k,m] are read in place; several matrices use the reference kernel. */
static void test_turned_matrices(void **unused)
{
    static const int32_t rows[] = {1, 2, 4, 5, 8, 9, 12, 13, 65, 257};
    static const int32_t columns[] = {1, 4, 5, 8, 9, 15, 16, 17, 32, 33, 65};
    (void)unused;
    state = 19;
    for (uint32_t i = 0; i < COUNT(rows) * COUNT(columns); i++) {
        const int32_t m = rows[i % COUNT(rows)], n = columns[i / COUNT(rows)];
        const int32_t k = i % 7 == 3 ? 1 : i % 11 == 5 ? 300 : 2 + (int32_t)draw(40), count = i % 5 == 4 ? 2 : 1;
        const bool transposed = draw(2) == 0, bias = draw(2) == 0;
        const int32_t dims[3] = {count, k, m}, wDims[2] = {transposed ? n : k, transposed ? k : n};
        const size_t nX = (size_t)(count * k * m), nZ = (size_t)(count * m * n);
        float *x = reals(nX), *w = reals((size_t)(k * n)), *more = reals((size_t)n), *expected = reals(nZ), *bound = reals(nZ);
        NNRT_MatMulFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3];
        memset(&attr, 0, sizeof(attr));
        attr.transposeA = true;
        attr.transposeB = transposed;
        attr.activationType = activations[draw(COUNT(activations))];
        assert_int_equal(nnrt_builder_create(&b, "turned", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 3, dims);
        in[1] = nnrt_builder_constant(b, "w", F32, 2, wDims, w, false);
        in[2] = bias ? nnrt_builder_constant(b, "bias", F32, 1, &n, more, false) : NNRT_NO_TENSOR;
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_MATMUL_FUSION, &attr, in, 3));
        model = finish(b);
        for (size_t j = 0; j < nZ; j++) { /* roundings as in expect_conv */
            const size_t column = j % (size_t)n, row = j / (size_t)n % (size_t)m, from = j / (size_t)(m * n) * (size_t)(k * m);
            double y = bias ? (double)more[column] : 0, size = fabs(y);
            for (size_t t = 0; t < (size_t)k; t++) {
                const double part = (double)x[from + t * (size_t)m + row] *
                                    (double)w[transposed ? column * (size_t)k + t : t * (size_t)n + column];
                y += part;
                size += fabs(part);
            }
            y = activated(y, attr.activationType);
            expected[j] = (float)y;
            bound[j] = (float)(((k + 1) * size * steepness(attr.activationType) +
                                (roundings_of(attr.activationType) + 1) * fabs(y)) * ROUNDING * SECOND);
        }
        kernel = count == 1 ? "gemm" : NULL;
        check_all(model, x, nX, nZ, expected, bound, "a matrix that is transposed");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(more);
        free(w);
        free(x);
    }
}

/* Batches of matrices, each broadcast on its own axes; the second one is constant. */
static void test_stacks(void **unused)
{
    static const int32_t stacks[][2] = {{2, 3}, {1, 3}, {2, 1}};
    (void)unused;
    state = 19;
    for (uint32_t i = 0; i < 72; i++) {
        const int32_t *a = stacks[i % 3], *c = stacks[i / 3 % 3], m = 1 + (int32_t)draw(9), k = 1 + (int32_t)draw(9);
        const int32_t n = 1 + (int32_t)draw(40), outer = a[0] > c[0] ? a[0] : c[0], inner = a[1] > c[1] ? a[1] : c[1];
        const bool transposed = draw(2) == 0, bias = draw(2) == 0;
        const int32_t dims[4] = {a[0], a[1], m, k}, wDims[4] = {c[0], c[1], transposed ? n : k, transposed ? k : n};
        const size_t nX = product_of(4, dims), nZ = (size_t)(outer * inner * m * n);
        float *x = reals(nX), *w = reals(product_of(4, wDims)), *more = reals((size_t)n), *expected = reals(nZ), *bound = reals(nZ);
        NNRT_MatMulFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[3];
        memset(&attr, 0, sizeof(attr));
        attr.transposeB = transposed;
        assert_int_equal(nnrt_builder_create(&b, "stacks", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 4, dims);
        in[1] = nnrt_builder_constant(b, "w", F32, 4, wDims, w, false);
        in[2] = bias ? nnrt_builder_constant(b, "bias", F32, 1, &n, more, false) : NNRT_NO_TENSOR;
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_MATMUL_FUSION, &attr, in, 3));
        model = finish(b);
        for (size_t j = 0; j < nZ; j++) { /* roundings as in expect_conv */
            const int32_t column = (int32_t)(j % (size_t)n), row = (int32_t)(j / (size_t)n % (size_t)m);
            const int32_t stack = (int32_t)(j / (size_t)(m * n)), p = stack / inner, q = stack % inner;
            const float *fromX = x + ((p % a[0] * a[1] + q % a[1]) * m + row) * k;
            const float *fromW = w + (p % c[0] * c[1] + q % c[1]) * k * n;
            double y = bias ? (double)more[column] : 0, size = fabs(y);
            for (int32_t t = 0; t < k; t++) {
                const double part = (double)fromX[t] * (double)fromW[transposed ? column * k + t : t * n + column];
                y += part;
                size += fabs(part);
            }
            expected[j] = (float)y;
            bound[j] = (float)(((k + 1) * size + fabs(y)) * ROUNDING * SECOND);
        }
        kernel = "matmul";
        check_all(model, x, nX, nZ, expected, bound, "stacks of matrices");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(more);
        free(w);
        free(x);
    }
}

/* ---- pools ---- */

/* Elements are compared, or added in the order of the reference device and divided once: bit-identical to it, except
   for activations. */
static void test_pools(void **unused)
{
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < 120; i++) {
        const int32_t dims[4] = {1 + (int32_t)draw(2), 3 + (int32_t)draw(7), 3 + (int32_t)draw(i % 3 == 0 ? 20 : 7),
                                 1 + (int32_t)draw(i % 4 < 2 ? 34 : 350)};
        const int64_t window[2] = {1 + draw(3), 1 + draw(3)}, strides[2] = {1 + draw(2), 1 + draw(2)};
        const int64_t pad[4] = {draw(2) * (window[0] > 1), draw(2) * (window[0] > 1), draw(2) * (window[1] > 1),
                                draw(2) * (window[1] > 1)};
        const bool largest = i % 2 == 0;
        NNRT_AvgPoolFusion average;
        NNRT_MaxPoolFusion most;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        const size_t nX = product_of(4, dims);
        size_t nY;
        int32_t out[4] = {dims[0], 0, 0, dims[3]};
        const NNRT_ActivationType activation = activations[draw(COUNT(activations))];
        float *x = reals(nX), *expected, *bound;
        memset(&average, 0, sizeof(average));
        memset(&most, 0, sizeof(most));
        average.kernelSize = most.kernelSize = nnrt_int64_list(window, 2);
        average.strides = most.strides = nnrt_int64_list(strides, 2);
        average.pad = most.pad = nnrt_int64_list(pad, 4);
        for (int32_t k = 0; k < 2; k++)
            out[1 + k] = (int32_t)((dims[1 + k] + pad[2 * k] + pad[2 * k + 1] - window[k]) / strides[k] + 1);
        nY = product_of(4, out);
        expected = reals(nY);
        bound = reals(nY);
        if (i % 10 == 0)
            x[draw((uint32_t)nX)] = NAN; /* NaN is the largest, and makes an average NaN */
        for (uint32_t way = 0; way < 2; way++) { /* the second one with the activation */
            uint32_t in;
            average.activationType = most.activationType = way == 0 ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION : activation;
            assert_int_equal(nnrt_builder_create(&b, "pool", NULL), NNRT_SUCCESS);
            in = nnrt_builder_input(b, "x", F32, 4, dims);
            nnrt_builder_output(b, largest
                                       ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, &in, 1)
                                       : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &in, 1));
            model = finish(b);
            if (way == 0)
                (void)run_on("reference", model, x, nX, expected, nY, 0);
            expect_activated(expected, nY, average.activationType, expected, bound);
            kernel = largest ? "max_pool" : "average_pool";
            check_all(model, x, nX, nY, expected, bound, largest ? "the largest" : "the average");
            kernel = NULL;
            nnrt_model_destroy(model);
        }
        free(bound);
        free(expected);
        free(x);
    }
}

/* ---- elementwise ---- */

/* x [2,3,a,b] and a constant broadcast on some axes, as the first or second operand. One rounding, bit-identical in any
   order, and then the error of an activation. */
static void test_binary(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION, NNRT_NODE_TYPE_MUL_FUSION};
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 200; i++) {
        const int32_t dims[4] = {2, 3, i % 20 == 19 ? 0 : 1 + (int32_t)draw(6), 1 + (int32_t)draw(37)};
        const uint32_t rank = draw(5), kept = draw(16);
        int32_t other[4];
        size_t nX = product_of(4, dims), nC;
        NNRT_AddFusion attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        const NNRT_ActivationType activation = activations[draw(COUNT(activations))];
        float *x = reals(nX), *c, *expected = reals(nX), *bound = reals(nX);
        uint32_t in[2], at = draw(2);
        memset(&attr, 0, sizeof(attr));
        for (uint32_t k = 0; k < rank; k++)
            other[k] = kept >> k & 1 ? dims[4 - rank + k] : 1;
        nC = product_of((int32_t)rank, other);
        c = reals(nC);
        for (uint32_t way = 0; way < 2; way++) { /* the second one with the activation */
            attr.activationType = way == 0 ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION : activation;
            assert_int_equal(nnrt_builder_create(&b, "binary", NULL), NNRT_SUCCESS);
            in[at] = nnrt_builder_input(b, "x", F32, 4, dims);
            in[1 - at] = nnrt_builder_constant(b, "c", F32, (int32_t)rank, other, c, false);
            nnrt_builder_output(b, nnrt_builder_op(b, "y", types[i % 3], &attr, in, 2));
            model = finish(b);
            if (way == 0)
                (void)run_on("reference", model, x, nX, expected, nX, 0);
            expect_activated(expected, nX, attr.activationType, expected, bound);
            kernel = "binary";
            check_all(model, x, nX, nX, expected, bound, "two tensors");
            kernel = NULL;
            nnrt_model_destroy(model);
        }
        free(bound);
        free(expected);
        free(c);
        free(x);
    }
}

typedef double (*function)(double x);
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double swish(double x)
{
    return x < -1e30 ? 0 : x * sigmoid(x);
}
static double gelu(double x)
{
    return x < -1e30 ? 0 : x * erfc(-x * 0.70710678118654752) / 2;
}
static double hswish(double x)
{
    return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
}
static double hsigmoid(double x)
{
    return x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6;
}

/* The first elements alone: results do not depend on the position of an element. */
static void check_few(NNRT_ActivationType type, uint32_t s, const float *x, const float *y)
{
    static const int32_t counts[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 300};
    const char *const all = kernel;
    for (uint32_t i = 0; i < COUNT(counts); i++)
        for (uint32_t workers = 0; workers <= 8; workers += 4) {
            const size_t n = (size_t)counts[i];
            float *few = reals(n);
            NNRT_Activation attr;
            nnrt_builder *b = NULL;
            NNRT_Model *model;
            uint32_t in;
            memset(&attr, 0, sizeof(attr));
            attr.activationType = type;
            assert_int_equal(nnrt_builder_create(&b, "few", NULL), NNRT_SUCCESS);
            in = nnrt_builder_input(b, "x", F32, 1, &counts[i]);
            nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ACTIVATION, &attr, &in, 1));
            model = finish(b);
            memset(few, 0xA5, (n + 1) * sizeof(float));
            kernel = n > 0 ? all : NULL;
            (void)run_on(sets[s], model, x, n, few, n, workers);
            kernel = all;
            if (memcmp(few, y, n * sizeof(float)) != 0)
                fail_msg("activation %d of %d elements on %s has other bits than of many", (int)type, (int)n, sets[s]);
            nnrt_model_destroy(model);
            free(few);
        }
}

/* Functions against the C library in double: floats of all magnitudes, both signs, and NaN. Error bounds are ulps of
   the result, and a part of |x| for products with a factor near 0; results below 2^-126 may be 0. */
static void test_functions(void **unused)
{
    static const struct {
        NNRT_ActivationType type;
        function exact;
        double ulps, part; /* and this part of max(1, |x|) */
    } rows[] = {
        {NNRT_ACTIVATION_TYPE_SIGMOID, sigmoid, 4, 1.2e-38}, {NNRT_ACTIVATION_TYPE_TANH, tanh, 4, 3e-43},
        {NNRT_ACTIVATION_TYPE_SWISH, swish, 5, 1.2e-38},    {NNRT_ACTIVATION_TYPE_HSWISH, hswish, 3, 1e-7},
        {NNRT_ACTIVATION_TYPE_HSIGMOID, hsigmoid, 2, 6e-8}, {NNRT_ACTIVATION_TYPE_GELU, gelu, 4, 2.4e-7},
    };
    const int32_t count = 40011, dims[1] = {count};
    float *x = reals((size_t)count), *y = reals((size_t)count);
    (void)unused;
    state = 6;
    for (int32_t i = 0; i < count; i++) {
        const uint32_t bits = draw(0x8000u) << 16 | draw(0x10000u) | (i % 2 == 0 ? 0x80000000u : 0);
        x[i] = i < 30000 ? (float)(i - 15000) / 500.0f : 0;
        if (i >= 30000)
            memcpy(&x[i], &bits, sizeof(bits));
    }
    x[count - 1] = INFINITY;
    x[count - 2] = -INFINITY;
    x[count - 3] = NAN;
    for (uint32_t r = 0; r < COUNT(rows); r++) {
        NNRT_Activation attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in;
        memset(&attr, 0, sizeof(attr));
        attr.activationType = rows[r].type;
        assert_int_equal(nnrt_builder_create(&b, "function", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 1, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ACTIVATION, &attr, &in, 1));
        model = finish(b);
        kernel = "unary";
        for (uint32_t s = 0; s < nSets; s++) {
            if (has_no_floats(s))
                continue;
            (void)run_on(sets[s], model, x, (size_t)count, y, (size_t)count, 0);
            for (int32_t i = 0; i < count; i++) {
                const double exact = rows[r].exact((double)x[i]), size = fabs(exact) > 0x1p-126 ? fabs(exact) : 0x1p-126;
                const double most = fabs((double)x[i]) > 1 ? fabs((double)x[i]) : 1;
                if (x[i] != x[i] ? y[i] == y[i]
                                 : !(fabs((double)y[i] - exact) <= rows[r].ulps * size * 0x1p-23 + rows[r].part * most) &&
                                       !((double)y[i] == exact) && !(exact > FLT_MAX && y[i] > FLT_MAX))
                    fail_msg("activation %d of %.9g on %s is %.9g, expected %.9g", (int)rows[r].type, (double)x[i],
                             sets[s], (double)y[i], exact);
            }
            check_few(rows[r].type, s, x, y);
        }
        kernel = NULL;
        nnrt_model_destroy(model);
    }
    free(y);
    free(x);
}

/* ---- softmax and norms of rows ---- */

/* e(x) / sum: e has 4 roundings (2 ulp), and |x - the largest| more, from the rounding of its argument; the sum has the
   weighted errors of its terms, and its additions; 2 for the quotient and the rounding of expected. */
static void expect_softmax(const float *x, int32_t n, float *expected, float *bound)
{
    double most = -INFINITY, sum = 0, off = 0;
    for (int32_t i = 0; i < n; i++)
        most = (double)x[i] > most || x[i] != x[i] ? (double)x[i] : most;
    for (int32_t i = 0; i < n; i++) {
        const double part = exp((double)x[i] - most);
        sum += part;
        off += part > 0 ? part * (4 + fabs((double)x[i] - most)) : part;
    }
    for (int32_t i = 0; i < n; i++) {
        const double far = fabs((double)x[i] - most), y = exp((double)x[i] - most) / sum;
        expected[i] = (float)y;
        bound[i] = y > 0 ? (float)((4 + far + off / sum + additions(n) + 2) * y * ROUNDING * SECOND) + 3e-45f : 0;
    }
}

/* (x - mean) / sqrt(variance + epsilon) * gamma + beta. The mean is computed in two steps, the second of which adds the
   mean of the remainders: x - mean has its own rounding, twice, and the additions of the largest difference. The
   variance is a sum of squares, with 3 roundings each, and its additions; the quotient by the root has 5 more and half
   of these; 4 for gamma, beta, and the rounding of expected. */
static void expect_norm(const float *x, int32_t n, const float *gamma, const float *beta, float epsilon, float *expected,
                        float *bound)
{
    double mean = 0, variance = 0, largest = 0, by;
    for (int32_t i = 0; i < n; i++)
        mean += (double)x[i] / n;
    for (int32_t i = 0; i < n; i++) {
        const double d = (double)x[i] - mean;
        variance += d * d / n;
        largest = fabs(d) > largest ? fabs(d) : largest;
    }
    by = 1 / sqrt(variance + (double)epsilon);
    for (int32_t i = 0; i < n; i++) {
        const double part = ((double)x[i] - mean) * by * (double)gamma[i], y = part + (double)beta[i];
        expected[i] = (float)y;
        bound[i] = (float)(((2 + additions(n)) * largest * by * fabs((double)gamma[i]) +
                            (5 + (3 + additions(n)) / 2) * fabs(part) + 4 * fabs(y)) * ROUNDING * SECOND);
    }
}

static void test_rows(void **unused)
{
    static const int32_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100};
    (void)unused;
    state = 7;
    for (uint32_t i = 0; i < COUNT(counts) * 4; i++) {
        const int32_t n = counts[i % COUNT(counts)], dims[3] = {i % 16 == 15 ? 0 : 3, 5, n};
        const bool softmax = i < 2 * COUNT(counts), affine = i < 3 * COUNT(counts);
        const int64_t axis = -1;
        NNRT_Softmax attr;
        NNRT_LayerNormFusion norm;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        const size_t nX = product_of(3, dims);
        float *x = reals(nX), *gamma = reals((size_t)n), *beta = reals((size_t)n), *expected = reals(nX), *bound = reals(nX);
        float *ones = reals(2 * (size_t)n); /* then zeros */
        uint32_t in[3];
        memset(&attr, 0, sizeof(attr));
        memset(&norm, 0, sizeof(norm));
        attr.axis = nnrt_int64_list(&axis, 1);
        norm.beginNormAxis = norm.beginParamsAxis = -1;
        norm.epsilon = 1e-5f;
        norm.elementwiseAffine = affine;
        for (int32_t k = 0; k < 2 * n; k++)
            ones[k] = k < n ? 1 : 0;
        for (size_t k = 0; k < nX && i % 2 == 0; k++)
            x[k] = 100 + 10 * x[k];
        if (softmax && i % 5 == 0 && nX > 0)
            x[draw((uint32_t)nX)] = -INFINITY;
        if (softmax && i % 7 == 0 && nX > 0)
            x[draw((uint32_t)nX)] = NAN;
        assert_int_equal(nnrt_builder_create(&b, "rows", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 3, dims);
        in[1] = nnrt_builder_constant(b, "gamma", F32, 1, &n, gamma, false);
        in[2] = nnrt_builder_constant(b, "beta", F32, 1, &n, beta, false);
        nnrt_builder_output(b, softmax ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SOFTMAX, &attr, in, 1)
                                       : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_LAYER_NORM_FUSION, &norm, in,
                                                         affine || i % 2 == 0 ? 3 : 1));
        model = finish(b);
        for (int32_t k = 0; k < 5 * dims[0]; k++)
            if (softmax)
                expect_softmax(x + k * n, n, expected + k * n, bound + k * n);
            else
                expect_norm(x + k * n, n, affine ? gamma : ones, affine ? beta : ones + n, norm.epsilon, expected + k * n,
                            bound + k * n);
        kernel = nX == 0 ? NULL : softmax ? "softmax" : "layer_norm";
        check_all(model, x, nX, nX, expected, bound, softmax ? "softmax" : "layer norm");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(ones);
        free(bound);
        free(expected);
        free(beta);
        free(gamma);
        free(x);
    }
}

/* ---- EINSUM ---- */

/* An equation of two terms, letters only: the start of each term, its rank, and the dimension of each letter. */
typedef struct einsum {
    const char *term[3];
    int32_t rank[3], dims[3][NNRT_MAX_RANK], place[128], extent[128];
    char letters[NNRT_MAX_RANK * 2]; /* of the result, then the others */
} einsum;

static void read_einsum(einsum *e, const char *plain, bool once)
{
    static const int32_t extents[] = {1, 2, 3, 5, 8, 9, 15, 16, 17, 33};
    const char *arrow = strstr(plain, "->"), *comma = strchr(plain, ',');
    int32_t n = 0;
    memset(e, 0, sizeof(*e));
    e->term[0] = plain;
    e->term[1] = comma + 1;
    e->term[2] = arrow + 2;
    e->rank[0] = (int32_t)(comma - plain);
    e->rank[1] = (int32_t)(arrow - comma - 1);
    e->rank[2] = (int32_t)strlen(arrow + 2);
    for (int32_t i = 2; i >= 0; i--)
        for (int32_t k = 0; k < e->rank[i]; k++) {
            const char letter = e->term[i][k];
            if (strchr(e->letters, letter) == NULL) {
                e->letters[n++] = letter;
                e->extent[(int)letter] = !once && draw(16) == 0 ? 0 : letter < 'd' ? 1 + (int32_t)draw(3)
                                                                                 : extents[draw(COUNT(extents))];
            }
            e->dims[i][k] = i == 0 && once && letter == 'b' ? 1 : e->extent[(int)letter];
        }
}

static size_t einsum_at(const einsum *e, int32_t i)
{
    size_t at = 0;
    for (int32_t k = 0; k < e->rank[i]; k++)
        at = at * (size_t)e->dims[i][k] + (size_t)(e->dims[i][k] == 1 ? 0 : e->place[(int)e->term[i][k]]);
    return at;
}

/* In double; the bound is a rounding for each product and each addition. */
static void expect_einsum(einsum *e, const float *x, const float *y, float *expected, float *bound, size_t count)
{
    double *sums = (double *)calloc(2 * count + 1, sizeof(*sums)), terms = 0;
    int32_t i = 0, letters = (int32_t)strlen(e->letters);
    assert_non_null(sums);
    for (int32_t k = 0; k < letters; k++)
        i = e->extent[(int)e->letters[k]] == 0 ? -1 : i; /* no product */
    while (i >= 0) {
        const double product = (double)x[einsum_at(e, 0)] * (double)y[einsum_at(e, 1)];
        const size_t at = einsum_at(e, 2);
        sums[2 * at] += product;
        sums[2 * at + 1] += fabs(product);
        terms += at == 0;
        for (i = letters - 1; i >= 0 && ++e->place[(int)e->letters[i]] == e->extent[(int)e->letters[i]]; i--)
            e->place[(int)e->letters[i]] = 0;
    }
    for (size_t k = 0; k < count; k++) {
        expected[k] = (float)sums[2 * k];
        bound[k] = (float)((terms + 2) * sums[2 * k + 1] * ROUNDING * SECOND);
    }
    free(sums);
}

/* The same of integers of that type: sums of products of -8 to 8, which float holds exactly. product: it is a matrix product,
   which has a kernel; x may lie in any order. */
static void check_integers(einsum *e, const char *equation, NNRT_DataType type, bool product)
{
    const bool wide = type == NNRT_DATA_TYPE_INT64 || type == NNRT_DATA_TYPE_UINT64;
    const size_t size = wide ? 8 : 4;
    size_t counts[3];
    int64_t *data[3], *found;
    float *values[3], *bound;
    NNRT_Einsum attr;
    NNRT_Model *model;
    nnrt_builder *b = NULL;
    uint32_t in[2];
    for (uint32_t i = 0; i < 3; i++) {
        counts[i] = product_of(e->rank[i], e->dims[i]);
        data[i] = (int64_t *)calloc(counts[i] + 1, 8);
        values[i] = reals(counts[i]);
        for (size_t k = 0; i < 2 && k < counts[i]; k++)
            values[i][k] = (float)((int32_t)draw(17) - 8);
    }
    bound = reals(counts[2]);
    found = (int64_t *)calloc(counts[2] + 1, 8);
    expect_einsum(e, values[0], values[1], values[2], bound, counts[2]);
    for (uint32_t i = 0; i < 3; i++)
        for (size_t k = 0; k < counts[i]; k++)
            if (wide)
                data[i][k] = (int64_t)values[i][k];
            else
                ((int32_t *)(void *)data[i])[k] = (int32_t)values[i][k];
    memset(&attr, 0, sizeof(attr));
    attr.equation = equation;
    assert_int_equal(nnrt_builder_create(&b, "integers", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", type, e->rank[0], e->dims[0]);
    in[1] = nnrt_builder_constant(b, "y", type, e->rank[1], e->dims[1], data[1], false);
    nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_EINSUM, &attr, in, 2));
    model = finish(b);
    kernel = product && counts[0] > 0 && counts[1] > 0 ? "einsum_int" : NULL;
    for (uint32_t s = 0; s < nSets; s++)
        for (uint32_t workers = 0; workers <= 3; workers += 3) {
            const nnrt_io x = nnrt_io_make(data[0], counts[0] * size), z = nnrt_io_make(found, counts[2] * size);
            memset(found, 0xA5, counts[2] * size);
            (void)run_session(sets[s], model, &x, 1, &z, 1, workers, NULL);
            assert_memory_equal(found, data[2], counts[2] * size);
        }
    kernel = NULL;
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < 3; i++) {
        free(values[i]);
        free(data[i]);
    }
    free(found);
    free(bound);
}

static void test_einsum(void **unused)
{
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_INT64, NNRT_DATA_TYPE_UINT32, NNRT_DATA_TYPE_UINT64};
    static const struct {
        const char *equation, *plain; /* NULL: the same */
        bool product, once;           /* whether it is a matrix product; the first b has dimension 1 */
    } cases[] = {{"bhid,bhjd->bhij", NULL, true, false},
                 {"bihd,bjhd->bhij", NULL, true, false},
                 {"bhij,bjhd->bihd", NULL, true, false},
                 {"...id, ...jd -> ...ij", "bhid,bhjd->bhij", true, false},
                 {"ij,jk->ik", NULL, true, false},
                 {"ik,jk->ji", NULL, true, false},
                 {"ij,j->i", NULL, true, false},
                 {"bid,bd->bi", NULL, true, false},
                 {"d,bid->bi", NULL, true, false},
                 {"abid,de->abie", NULL, true, false},
                 {"bij,bjk->bik", NULL, true, true},
                 {"ij,bjkc->bikc", NULL, true, false},
                 {"ij,ik->jk", NULL, false, false},
                 {"ib,bk->ik", NULL, false, true},
                 {"iij,jk->ik", NULL, false, false},
                 {"ii,ij->ij", NULL, false, false},
                 {"i,j->ij", NULL, false, false},
                 {"ijk,ijk->i", NULL, false, false},
                 {"id,jd->ijd", NULL, false, false},
                 {"ij,k->k", NULL, false, false},
                 {"ij,ij->", NULL, false, false}};
    (void)unused;
    state = 11;
    for (uint32_t i = 0; i < 12 * COUNT(cases); i++) {
        const char *equation = cases[i % COUNT(cases)].equation, *plain = cases[i % COUNT(cases)].plain;
        NNRT_Einsum attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        einsum e;
        size_t nX, nY, nZ;
        float *x, *y, *expected, *bound;
        uint32_t in[2];
        read_einsum(&e, plain != NULL ? plain : equation, cases[i % COUNT(cases)].once);
        nX = product_of(e.rank[0], e.dims[0]);
        nY = product_of(e.rank[1], e.dims[1]);
        nZ = product_of(e.rank[2], e.dims[2]);
        x = reals(nX);
        y = reals(nY);
        expected = reals(nZ);
        bound = reals(nZ);
        memset(&attr, 0, sizeof(attr));
        attr.equation = equation;
        assert_int_equal(nnrt_builder_create(&b, "einsum", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, e.rank[0], e.dims[0]);
        in[1] = nnrt_builder_constant(b, "y", F32, e.rank[1], e.dims[1], y, false);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_EINSUM, &attr, in, 2));
        model = finish(b);
        expect_einsum(&e, x, y, expected, bound, nZ);
        kernel = cases[i % COUNT(cases)].product && nX > 0 && nY > 0 ? "matmul" : NULL;
        check_all(model, x, nX, nZ, expected, bound, equation);
        kernel = NULL;
        check_integers(&e, equation, types[i % COUNT(types)], cases[i % COUNT(cases)].product);
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(y);
        free(x);
    }
}

/* ---- TRANSPOSE ---- */

static void test_transposes(void **unused)
{
    static const int32_t extents[] = {1, 1, 2, 3, 4, 5, 15, 16, 17, 33};
    (void)unused;
    state = 13;
    for (uint32_t i = 0; i < 200; i++) {
        const int32_t rank = 2 + (int32_t)draw(4);
        int32_t dims[5], turned[5], order[5], place[5] = {0};
        NNRT_Transpose attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        size_t count = 1;
        float *x, *expected, *bound;
        uint32_t in[2];
        for (int32_t k = 0; k < rank; k++) {
            dims[k] = draw(32) == 0 ? 0 : extents[draw(rank > 3 ? 6 : COUNT(extents))];
            count *= (size_t)dims[k];
            order[k] = k;
        }
        for (int32_t k = rank - 1; k > 0; k--) {
            const int32_t other = (int32_t)draw((uint32_t)k + 1), kept = order[k];
            order[k] = order[other];
            order[other] = kept;
        }
        x = reals(count);
        expected = reals(count);
        bound = (float *)calloc(count + 1, sizeof(*bound));
        assert_non_null(bound);
        for (int32_t k = 0; k < rank; k++)
            turned[k] = dims[order[k]];
        for (size_t at = 0; at < count; at++) {
            size_t from = 0;
            for (int32_t k = 0; k < rank; k++) {
                size_t step = (size_t)place[k];
                for (int32_t inner = order[k] + 1; inner < rank; inner++)
                    step *= (size_t)dims[inner];
                from += step;
            }
            expected[at] = x[from];
            for (int32_t k = rank - 1; k >= 0 && ++place[k] == turned[k]; k--)
                place[k] = 0;
        }
        memset(&attr, 0, sizeof(attr));
        assert_int_equal(nnrt_builder_create(&b, "transpose", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, rank, dims);
        in[1] = nnrt_builder_constant(b, "order", NNRT_DATA_TYPE_INT32, 1, &rank, order, false);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_TRANSPOSE, &attr, in, 2));
        model = finish(b);
        check_all(model, x, count, count, expected, bound, "transpose");
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* ---- the device ---- */

static void test_sets(void **unused)
{
    nnrt_error e;
    uint32_t count = 0;
    (void)unused;
    memset(&e, 0, sizeof(e));
    while (nnrt_cpu_set(count) != NULL)
        count++;
    assert_int_equal(count, nSets);
#ifdef __wasm_simd128__
    assert_string_equal(nnrt_cpu_set(count - 1), "simd128");
#elif defined(__aarch64__)
    assert_string_equal(nnrt_cpu_set(count - 1), "neon");
#else
    assert_string_equal(nnrt_cpu_set(count - 1), "vector");
#endif
    assert_int_equal(nnrt_cpu_register("mmx", &e), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(e.message, "mmx"));
    assert_int_not_equal(nnrt_cpu_register(NULL, &e), NNRT_SUCCESS); /* it is registered already */
    assert_non_null(nnrt_device_find("cpu"));
}

/* "cpu" is the first of the sets; a kernel requested by name is used, or creating the session fails. */
static void test_one_kernel(void **unused)
{
    static const char *const none[] = {"depthwise", "gemm_q8", "gem", "gemm_", "gemm_q8_and_so_much_more_of_it",
                                       "nnrt_cpu_gemm_vector", "copy", "winograd_4"};
    conv s;
    int32_t out[4];
    float x[2 * 5 * 5 * 3], *w, y[2 * 5 * 5 * 9], z[2 * 5 * 5 * 9];
    NNRT_Model *model;
    (void)unused;
    state = 18;
    memset(&s, 0, sizeof(s));
    set_window(&s);
    s.n = 2;
    s.h = s.w = 5;
    s.k = 3;
    s.c = 9;
    s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
    for (uint32_t i = 0; i < COUNT(x); i++)
        x[i] = real();
    w = reals(9 * 3 * 9);
    model = make_conv(&s, w, NULL, NULL, out);
    (void)run_on("cpu", model, x, COUNT(x), y, COUNT(y), 0);
    (void)run_on(sets[0], model, x, COUNT(x), z, COUNT(z), 0);
    assert_memory_equal(y, z, sizeof(y));
    kernel = "gemm";
    tiles = "4"; /* ignored, as `kernel` is set */
    (void)run_on("cpu", model, x, COUNT(x), z, COUNT(z), 0);
    assert_memory_equal(y, z, sizeof(y));
    kernel = "winograd";
    (void)run_on("cpu", model, x, COUNT(x), z, COUNT(z), 0);
    assert_memory_not_equal(y, z, sizeof(y));
    tiles = NULL;
    for (uint32_t i = 0; i < COUNT(none); i++) {
        nnrt_session *session = NULL;
        nnrt_session_desc desc;
        NNRT_Extension extensions[MOST_EXTENSIONS];
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = "cpu";
        kernel = none[i];
        add_extensions(&desc, extensions);
        assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_NOT_SUPPORT);
        assert_non_null(strstr(e.message, "nnrt.cpu.kernel"));
    }
    kernel = NULL;
    nnrt_model_destroy(model);
    free(w);
}

/* A session's return code and message with kernel `name`. */
static NNRT_ReturnCode code_of(const NNRT_Model *model, const char *name, nnrt_error *e)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.device = "cpu";
    kernel = name;
    add_extensions(&desc, extensions);
    code = nnrt_session_create(&session, model, &desc, e);
    kernel = NULL;
    nnrt_session_destroy(session);
    return code;
}

/* Former names of kernels mean the present ones: the session opens, or fails with the same message, which has the
   present name. A former name with a character more or less is no alias. */
static void test_kernel_aliases(void **unused)
{
    static const char *const names[][2] = {{"product", "gemm"},
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
    static const char *const none[] = {"produc", "product_", "products", "vectors", "add_80"};
    conv s;
    int32_t out[4];
    float *w = reals(9 * 3 * 9);
    NNRT_Model *model;
    nnrt_error e, old;
    (void)unused;
    memset(&s, 0, sizeof(s));
    set_window(&s);
    s.n = 1;
    s.h = s.w = 5;
    s.k = 3;
    s.c = 9;
    model = make_conv(&s, w, NULL, NULL, out);
    for (uint32_t i = 0; i < COUNT(names); i++) {
        const NNRT_ReturnCode code = code_of(model, names[i][1], &e);
        char quoted[32];
        assert_int_equal(code, i == 0 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        assert_int_equal(code_of(model, names[i][0], &old), code);
        assert_string_equal(old.message, e.message);
        (void)snprintf(quoted, sizeof(quoted), "'%s'", names[i][1]);
        assert_true(code == NNRT_SUCCESS || strstr(old.message, quoted) != NULL);
    }
    for (uint32_t i = 0; i < COUNT(none); i++) {
        assert_int_equal(code_of(model, none[i], &e), NNRT_NOT_SUPPORT);
        assert_non_null(strstr(e.message, none[i]));
    }
    nnrt_model_destroy(model);
    free(w);
}

/* Threads share large work; not a tensor of few elements. */
static void test_sharing(void **unused)
{
    conv s;
    int32_t out[4];
    float *x, *w, *y;
    NNRT_Model *model;
    (void)unused;
    memset(&s, 0, sizeof(s));
    s.n = s.window[0] = s.window[1] = 1;
    s.group = s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
    for (int32_t large = 0; large < 2; large++) {
        s.h = s.w = large ? 32 : 2;
        s.k = s.c = 16;
        x = reals((size_t)(s.h * s.w * s.k));
        w = reals(256);
        y = reals((size_t)(s.h * s.w * s.c));
        model = make_conv(&s, w, NULL, NULL, out);
        assert_int_equal(run_on("cpu", model, x, (size_t)(s.h * s.w * s.k), y, (size_t)(s.h * s.w * s.c), 2), large);
        assert_int_equal(run_on("reference", model, x, (size_t)(s.h * s.w * s.k), y, (size_t)(s.h * s.w * s.c), 2), 0);
        nnrt_model_destroy(model);
        free(y);
        free(w);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_one_kernel),
        cmocka_unit_test(test_kernel_aliases),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_strips),
        cmocka_unit_test(test_weights_without_numbers),
        cmocka_unit_test(test_matrices_of_tiles),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_choice_of_tiles),
        cmocka_unit_test(test_tiles_without_numbers),
        cmocka_unit_test(test_memory_of_tiles),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_matrices_of_constants),
        cmocka_unit_test(test_turned_matrices),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_einsum),
        cmocka_unit_test(test_transposes),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
