/* The fast device (devices/nnrt_cpu.h) with each instruction set of this machine: a depthwise convolution fused with
   the pointwise (1x1) convolutions before and after it, in blocks of rows. It is bit-identical to the separate
   convolutions, which tests/devices/test_cpu.c compares with sums in double. */
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
#include "kit.h"
#include "on_sets.h"

typedef struct chain {
    int32_t n, h, w;
    int32_t k, e, c; /* channels of x, of the depthwise convolution, of y; e = k without the first, c = e without the last */
    int32_t window[2];
    int64_t stride[2], dilation[2], pad[4];
    bool first, last, bias, sum;   /* sum: x is added to y, if the shapes are equal */
    bool second;                   /* the result of the first convolution is also an output */
    NNRT_ActivationType functions[3];
} chain;

typedef struct made {
    NNRT_Model *model;
    float *x;
    size_t nX, nY;
} made;

static NNRT_ActivationType any_activation(void)
{
    static const NNRT_ActivationType all[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,
                                              NNRT_ACTIVATION_TYPE_RELU6, NNRT_ACTIVATION_TYPE_SIGMOID,
                                              NNRT_ACTIVATION_TYPE_SWISH};
    return all[draw(COUNT(all))];
}

/* y = convolution of x by random weights [c,window,k/group]. */
static uint32_t add_conv(nnrt_builder *b, const char *name, uint32_t x, const int32_t *wDims, const chain *s, bool window,
                         NNRT_ActivationType function)
{
    static const int64_t ones[2] = {1, 1}, none[4] = {0, 0, 0, 0};
    const int64_t size[2] = {wDims[1], wDims[2]};
    float *w = reals(product_of(4, wDims)), *bias = reals((size_t)wDims[0]);
    NNRT_Conv2DFusion attr;
    char text[2][24];
    uint32_t in[3], y;
    memset(&attr, 0, sizeof(attr));
    snprintf(text[0], sizeof(text[0]), "%s.w", name);
    snprintf(text[1], sizeof(text[1]), "%s.bias", name);
    attr.kernelSize = nnrt_int64_list(size, 2);
    attr.stride = nnrt_int64_list(window ? s->stride : ones, 2);
    attr.dilation = nnrt_int64_list(window ? s->dilation : ones, 2);
    attr.padList = nnrt_int64_list(window ? s->pad : none, 4);
    attr.group = window ? wDims[0] : 1;
    attr.activationType = function;
    in[0] = x;
    in[1] = nnrt_builder_constant(b, text[0], F32, 4, wDims, w, true);
    in[2] = s->bias ? nnrt_builder_constant(b, text[1], F32, 1, &wDims[0], bias, true) : NNRT_NO_TENSOR;
    y = nnrt_builder_op(b, name, NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3);
    free(bias);
    free(w);
    return y;
}

static int32_t extent_of(const chain *s, int32_t axis)
{
    return (int32_t)(((axis == 0 ? s->h : s->w) + s->pad[2 * axis] + s->pad[2 * axis + 1] -
                      s->dilation[axis] * (s->window[axis] - 1) - 1) / s->stride[axis] + 1);
}

static made make(const chain *s)
{
    const int32_t dims[4] = {s->n, s->h, s->w, s->k}, first[4] = {s->e, 1, 1, s->k}, last[4] = {s->c, 1, 1, s->e};
    const int32_t middle[4] = {s->e, s->window[0], s->window[1], 1};
    const int32_t out[4] = {s->n, extent_of(s, 0), extent_of(s, 1), s->c};
    NNRT_AddFusion add;
    nnrt_builder *b = NULL;
    made m;
    uint32_t x, y, between;
    assert_int_equal(nnrt_builder_create(&b, "chain", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 4, dims);
    between = s->first ? add_conv(b, "first", x, first, s, false, s->functions[0]) : x;
    y = add_conv(b, "middle", between, middle, s, true, s->functions[1]);
    if (s->last)
        y = add_conv(b, "last", y, last, s, false, s->functions[2]);
    if (s->sum) {
        const uint32_t in[2] = {x, y};
        memset(&add, 0, sizeof(add));
        add.activationType = NNRT_ACTIVATION_TYPE_RELU;
        y = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2);
    }
    nnrt_builder_output(b, y);
    if (s->second)
        nnrt_builder_output(b, between);
    m.model = finish(b);
    m.nX = product_of(4, dims);
    m.nY = product_of(4, out);
    m.x = reals(m.nX);
    return m;
}

static void drop(made *m)
{
    nnrt_model_destroy(m->model);
    free(m->x);
}

/* Random shapes, with channels around multiples of vectors and panels. */
static chain any_chain(void)
{
    static const int32_t channels[] = {2, 3, 4, 8, 15, 16, 17, 24, 31, 32, 33, 48, 65};
    chain s;
    memset(&s, 0, sizeof(s));
    s.n = draw(4) == 0 ? 2 : 1;
    s.h = 1 + (int32_t)draw(24);
    s.w = 1 + (int32_t)draw(24);
    s.first = draw(4) != 0;
    s.last = !s.first || draw(3) != 0;
    s.bias = draw(4) != 0;
    s.k = channels[draw(COUNT(channels))];
    s.e = s.first ? channels[draw(COUNT(channels))] : s.k;
    if (s.first && draw(8) == 0)
        s.e += 200; /* channels are computed block by block */
    s.c = s.last ? channels[draw(COUNT(channels))] : s.e;
    for (uint32_t i = 0; i < 2; i++) {
        static const int32_t sizes[] = {3, 3, 3, 5, 1, 2, 7};
        const int32_t extent = i == 0 ? s.h : s.w;
        s.window[i] = sizes[draw(COUNT(sizes))];
        s.stride[i] = 1 + (draw(3) == 0) + (draw(8) == 0);
        s.dilation[i] = 1 + (draw(6) == 0);
        for (uint32_t k = 0; k < 2; k++)
            s.pad[2 * i + k] = (int64_t)draw((uint32_t)(s.window[i] * s.dilation[i]) + 1);
        while (extent + s.pad[2 * i] + s.pad[2 * i + 1] < s.dilation[i] * (s.window[i] - 1) + 1)
            s.pad[2 * i]++;
    }
    if (draw(2) == 0) { /* as in networks */
        s.window[0] = s.window[1] = 3;
        s.dilation[0] = s.dilation[1] = 1;
        s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
        s.stride[1] = s.stride[0];
    }
    for (uint32_t i = 0; i < 3; i++)
        s.functions[i] = any_activation();
    if (s.last && draw(2) == 0 && extent_of(&s, 0) == s.h && extent_of(&s, 1) == s.w) {
        s.c = s.k;
        s.sum = true;
    }
    return s;
}

/* Separate and fused convolutions, with any number of threads, are bit-identical. */
static void check_chain(const chain *s, const made *m, uint32_t round)
{
    float *y = reals(m->nY), *expected = reals(m->nY);
    for (uint32_t i = 0; i < nSets; i++) {
        if (has_no_floats(i))
            continue;
        kernel = NULL;
        (void)run_on(sets[i], m->model, m->x, m->nX, expected, m->nY, 0);
        kernel = "fused_depthwise";
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            memset(y, 0xA5, m->nY * sizeof(float));
            (void)run_on(sets[i], m->model, m->x, m->nX, y, m->nY, workers);
            if (memcmp(y, expected, m->nY * sizeof(float)) != 0)
                fail_msg("round %u, %s with %u workers: x [%d,%d,%d,%d], %d and %d channels, window %dx%d, stride %dx%d: "
                         "other bits than one after the other",
                         round, sets[i], workers, s->n, s->h, s->w, s->k, s->e, s->c, s->window[0], s->window[1],
                         (int)s->stride[0], (int)s->stride[1]);
        }
    }
    kernel = NULL;
    free(expected);
    free(y);
}

static void test_chains(void **unused)
{
    (void)unused;
    state = 1;
    for (uint32_t round = 0; round < 150; round++) {
        const chain s = any_chain();
        made m = make(&s);
        check_chain(&s, &m, round);
        drop(&m);
    }
}

static nnrt_session *session_of(const char *device, const NNRT_Model *model, const nnrt_parallel *parallel)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.parallel = parallel;
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    return session;
}

/* A block of a network, whose intermediate results exceed the caches of one thread, but not of eight. */
static chain large(void)
{
    chain s;
    memset(&s, 0, sizeof(s));
    s.n = 1;
    s.h = 56;
    s.w = 48;
    s.k = s.c = 8;
    s.e = 96;
    s.window[0] = s.window[1] = 3;
    s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
    s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
    s.first = s.last = s.bias = s.sum = true;
    s.functions[0] = s.functions[1] = NNRT_ACTIVATION_TYPE_RELU6;
    return s;
}

/* Fusion without a request for its kernel, by the number of steps. Intermediate results of fused steps are not in the
   arena. */
static void test_where_it_is_worth_it(void **unused)
{
    const chain s = large();
    made m = make(&s);
    float *y = reals(m.nY), *z = reals(m.nY);
    (void)unused;
    for (uint32_t i = 0; i < nSets; i++) {
        nnrt_io in = nnrt_io_make(m.x, m.nX * sizeof(float)), out = nnrt_io_make(y, m.nY * sizeof(float));
        team t;
        nnrt_session *one, *eight;
        memset(&t, 0, sizeof(t));
        t.parallel.run = work_backward;
        t.parallel.user = &t;
        t.parallel.workers = 8;
        one = session_of(sets[i], m.model, NULL);
        eight = session_of(sets[i], m.model, &t.parallel);
        assert_int_equal(nnrt_session_get_memory(one).steps, 1);
        assert_int_equal(nnrt_session_get_memory(eight).steps, 3);
        assert_true(nnrt_session_get_memory(one).arena < (size_t)s.h * (size_t)s.w * (size_t)s.e * sizeof(float));
        assert_true(nnrt_session_get_memory(eight).arena >= 2 * (size_t)s.h * (size_t)s.w * (size_t)s.e * sizeof(float));
        assert_int_equal(nnrt_run(one, &in, 1, &out, 1), NNRT_SUCCESS);
        out.data = z;
        assert_int_equal(nnrt_run(eight, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_memory_equal(y, z, m.nY * sizeof(float));
        nnrt_session_destroy(eight);
        nnrt_session_destroy(one);
    }
    free(z);
    free(y);
    drop(&m);
}

/* An intermediate result that is also an output is stored: the first convolution is not fused with the others. */
static void test_read_twice(void **unused)
{
    chain s = large();
    made m;
    float *y, *z, *between, *expected;
    (void)unused;
    s.second = true;
    m = make(&s);
    y = reals(m.nY);
    z = reals(m.nY);
    between = reals((size_t)s.h * (size_t)s.w * (size_t)s.e);
    expected = reals((size_t)s.h * (size_t)s.w * (size_t)s.e);
    for (uint32_t i = 0; i < nSets; i++) {
        const size_t bytes = (size_t)s.h * (size_t)s.w * (size_t)s.e * sizeof(float);
        nnrt_io in = nnrt_io_make(m.x, m.nX * sizeof(float)), out[2];
        nnrt_session *session = session_of(sets[i], m.model, NULL);
        out[0] = nnrt_io_make(y, m.nY * sizeof(float));
        out[1] = nnrt_io_make(between, bytes);
        assert_int_equal(nnrt_session_get_memory(session).steps, 3);
        assert_int_equal(nnrt_run(session, &in, 1, out, 2), NNRT_SUCCESS);
        nnrt_session_destroy(session);
        session = session_of("reference", m.model, NULL);
        out[0] = nnrt_io_make(z, m.nY * sizeof(float));
        out[1] = nnrt_io_make(expected, bytes);
        assert_int_equal(nnrt_run(session, &in, 1, out, 2), NNRT_SUCCESS);
        nnrt_session_destroy(session);
        for (size_t k = 0; k < bytes / sizeof(float); k++) /* 9 roundings of sums of at most 9 */
            assert_true(fabsf(between[k] - expected[k]) <= 2 * 9 * 9 * (float)ROUNDING);
    }
    free(expected);
    free(between);
    free(z);
    free(y);
    drop(&m);
}

/* The operator between two convolutions, or behind one. */
typedef enum between {
    NOTHING, SQUARED, SCALED, SOFT, SOFT_CHANNELS, FLAT, MOVED, REDUCED, REDUCED_CHANNELS, JOINED, CUT, POOLED, PADDED,
    MULTIPLIED, CONNECTED, NORMALIZED, SAME_SHAPE, BETWEENS
} between;

static uint32_t list_of(nnrt_builder *b, int32_t count, const int32_t *values)
{
    return nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 1, &count, values, true);
}

/* `kind` of x, an image [n,c,h,w]; *image: whether the result is one. name: of the node. */
static uint32_t put_between(nnrt_builder *b, const char *name, between kind, uint32_t x, const int32_t *dims, bool *image)
{
    static const int32_t moves[] = {0, 2, 3, 1}, plane[] = {2, 3}, one[] = {1}, begin[] = {0, 1, 0, 1};
    static const int64_t axes[] = {1}, all[] = {0, 1, 2, 3}, two[] = {2, 2}, none[] = {0, 0, 0, 0};
    static const int32_t pads[] = {0, 0, 0, 0, 1, 0, 0, 2}, pad_dims[] = {4, 2};
    const int32_t flat[] = {dims[0], -1}, same[] = {dims[0], dims[1], dims[2], dims[3]};
    const int32_t channel[] = {dims[1], 1, 1}, size[] = {dims[0], dims[1] - 1, dims[2], dims[3] - 1};
    const int32_t square[] = {dims[3], dims[3]};
    uint32_t in[3] = {x, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    *image = kind == NOTHING || kind == SQUARED || kind == SCALED || kind == SOFT_CHANNELS || kind == JOINED ||
             kind == CUT || kind == POOLED || kind == PADDED;
    switch (kind) {
    case SQUARED: return nnrt_builder_op(b, name, NNRT_NODE_TYPE_SQUARE, NULL, in, 1);
    case SCALED: {
        float *factor = reals((size_t)dims[1]);
        in[1] = nnrt_builder_constant(b, NULL, F32, 3, channel, factor, true);
        free(factor);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2);
    }
    case SOFT: return nnrt_builder_op(b, name, NNRT_NODE_TYPE_SOFTMAX, NULL, in, 1);
    case SOFT_CHANNELS: {
        NNRT_Softmax a;
        a.axis = nnrt_int64_list(axes, 1);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_SOFTMAX, &a, in, 1);
    }
    case SAME_SHAPE: /* [n,c,h,w], but no image */
    case FLAT:
        in[1] = kind == FLAT ? list_of(b, 2, flat) : list_of(b, 4, same);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
    case MOVED: in[1] = list_of(b, 4, moves); return nnrt_builder_op(b, name, NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2);
    case REDUCED:
    case REDUCED_CHANNELS: {
        NNRT_ReduceFusion a;
        nnrt_attr_defaults(nnrt_op_named("REDUCE_FUSION")->attr, &a);
        in[1] = kind == REDUCED ? list_of(b, 2, plane) : list_of(b, 1, one);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_REDUCE_FUSION, &a, in, 2);
    }
    case JOINED: {
        NNRT_Concat a;
        a.axis = 1;
        in[1] = x;
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_CONCAT, &a, in, 2);
    }
    case CUT: {
        NNRT_SliceFusion a;
        a.axes = nnrt_int64_list(all, 4);
        in[1] = list_of(b, 4, begin);
        in[2] = list_of(b, 4, size);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_SLICE_FUSION, &a, in, 3);
    }
    case POOLED: {
        NNRT_MaxPoolFusion a;
        nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &a);
        a.kernelSize = a.strides = nnrt_int64_list(two, 2);
        a.pad = nnrt_int64_list(none, 4);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_MAX_POOL_FUSION, &a, in, 1);
    }
    case PADDED: {
        NNRT_PadFusion a;
        nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &a);
        in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 2, pad_dims, pads, true);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_PAD_FUSION, &a, in, 2);
    }
    case MULTIPLIED: {
        NNRT_MatMulFusion a;
        float *w = reals(product_of(2, square));
        nnrt_attr_defaults(nnrt_op_named("MATMUL_FUSION")->attr, &a);
        in[1] = nnrt_builder_constant(b, NULL, F32, 2, square, w, true);
        free(w);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_MATMUL_FUSION, &a, in, 2);
    }
    case CONNECTED: { /* reads the image as a row of elements */
        const int32_t weight[] = {3, dims[1] * dims[2] * dims[3]};
        NNRT_FullConnection a;
        float *w = reals(product_of(2, weight));
        nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &a);
        in[1] = nnrt_builder_constant(b, NULL, F32, 2, weight, w, true);
        free(w);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_FULL_CONNECTION, &a, in, 2);
    }
    case NORMALIZED: { /* rows of all channels and pixels */
        const int32_t row[] = {dims[1], dims[2], dims[3]};
        NNRT_LayerNormFusion a;
        float *w = reals(product_of(3, row));
        nnrt_attr_defaults(nnrt_op_named("LAYER_NORM_FUSION")->attr, &a);
        a.beginNormAxis = a.beginParamsAxis = 1;
        in[1] = in[2] = nnrt_builder_constant(b, NULL, F32, 3, row, w, true);
        free(w);
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_LAYER_NORM_FUSION, &a, in, 3);
    }
    default: return x;
    }
}

/* Images in NCHW: a convolution, something behind it that sees its result as an image or not, and another convolution
   if that is an image. Whatever layout the device chooses, the reference device has the same results. The result of
   the first convolution is read twice in every other model, and an output in every third. */
static void test_layouts(void **unused)
{
    (void)unused;
    state = 3;
    for (uint32_t round = 0; round < 6 * BETWEENS; round++) {
        const between kind = (between)(round % BETWEENS);
        const int32_t dims[4] = {1 + (int32_t)draw(2), 3 + 5 * (int32_t)draw(2), 6, 4 + (int32_t)draw(5)};
        const int32_t c = draw(2) == 0 ? 8 : 19, first[4] = {c, 3, 3, dims[1]};
        const int32_t sizes[4] = {dims[0], c, dims[2], dims[3]};
        const bool twice = round / BETWEENS % 2 != 0, shown = round / BETWEENS % 3 == 2;
        nnrt_builder *b = NULL;
        chain s;
        bool image, again;
        uint32_t x, y, nOut = 0, out[3];
        NNRT_Model *m;
        float *data = reals(product_of(4, dims));
        memset(&s, 0, sizeof(s));
        s.stride[0] = s.stride[1] = s.dilation[0] = s.dilation[1] = 1;
        s.pad[0] = s.pad[1] = s.pad[2] = s.pad[3] = 1;
        s.bias = true;
        assert_int_equal(nnrt_builder_create(&b, "layouts", NULL), NNRT_SUCCESS);
        x = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
        {
            NNRT_Conv2DFusion a;
            static const int64_t ones[2] = {1, 1};
            float *w = reals(product_of(4, first));
            uint32_t in[2];
            nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
            a.padList = nnrt_int64_list(s.pad, 4);
            a.stride = a.dilation = nnrt_int64_list(ones, 2);
            in[0] = x;
            in[1] = nnrt_builder_constant(b, "w", F32, 4, first, w, true);
            x = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 2);
            free(w);
        }
        nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
        y = put_between(b, "y", kind, x, sizes, &image);
        if (image) {
            const int32_t channels = kind == JOINED ? 2 * c : kind == CUT ? c - 1 : c;
            const int32_t last[4] = {5, 1, 1, channels};
            nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
            y = add_conv(b, "last", y, last, &s, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION);
            nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
        }
        if (twice) {
            uint32_t other = put_between(b, "z", (between)((kind + 1 + round / BETWEENS) % BETWEENS), x, sizes, &again);
            if (other != x && other != y)
                out[nOut++] = other;
        }
        if (y != x)
            out[nOut++] = y;
        if (shown || nOut == 0)
            out[nOut++] = x;
        for (uint32_t i = 0; i < nOut; i++)
            nnrt_builder_output(b, out[i]);
        m = finish(b);
        for (uint32_t i = 0; i <= nSets; i++) { /* the reference device first */
            static float results[2][3][4096];
            nnrt_session *session;
            nnrt_io in = nnrt_io_make(data, product_of(4, dims) * sizeof(float)), to[3];
            if (i > 0 && has_no_floats(i - 1))
                continue;
            session = session_of(i == 0 ? "reference" : sets[i - 1], m, NULL);
            for (uint32_t k = 0; k < nOut; k++) {
                to[k] = nnrt_io_make(results[i != 0][k], nnrt_session_output(session, k).bytes);
                assert_true(to[k].bytes <= sizeof(results[0][0]));
            }
            assert_int_equal(nnrt_run(session, &in, 1, to, nOut), NNRT_SUCCESS);
            for (uint32_t k = 0; i > 0 && k < nOut; k++)
                for (size_t e = 0; e < to[k].bytes / sizeof(float); e++)
                    if (!(fabsf(results[1][k][e] - results[0][k][e]) <= 1e-3f * (1 + fabsf(results[0][k][e]))))
                        fail_msg("%s, round %u: output %u, element %u is %.9g, expected %.9g", sets[i - 1], round, k,
                                 (unsigned)e, (double)results[1][k][e], (double)results[0][k][e]);
            nnrt_session_destroy(session);
        }
        nnrt_model_destroy(m);
        free(data);
    }
}

/* The reported number of bytes suffices, one less fails. Threads share the work. */
static void test_memory(void **unused)
{
    (void)unused;
    state = 2;
    for (uint32_t round = 0; round < 12; round++) {
        const chain s = round == 0 ? large() : any_chain();
        made m = make(&s);
        float *y = reals(m.nY), *z = reals(m.nY);
        for (uint32_t i = 0; i < nSets; i++) {
            nnrt_session_desc desc;
            NNRT_Extension extensions[MOST_EXTENSIONS];
            const nnrt_io in = nnrt_io_make(m.x, m.nX * sizeof(float)), out = nnrt_io_make(z, m.nY * sizeof(float));
            uint32_t calls;
            memset(&desc, 0, sizeof(desc));
            desc.device = sets[i];
            kernel = "fused_depthwise";
            add_extensions(&desc, extensions);
            calls = run_in_bytes(m.model, desc, &in, &out);
            kernel = NULL;
            (void)run_on(sets[i], m.model, m.x, m.nX, y, m.nY, 0);
            assert_memory_equal(y, z, m.nY * sizeof(float));
            if (round == 0)
                assert_true(calls > 0);
        }
        free(z);
        free(y);
        drop(&m);
    }
}

/* A session that requires the fused kernel fails if nothing can be fused. */
static void test_refused(void **unused)
{
    chain s = large();
    (void)unused;
    for (uint32_t round = 0; round < 2; round++) {
        made m;
        s.first = s.last = s.sum = false;
        s.k = s.c = s.e;
        s.h = round == 0 ? 8 : 1;
        m = make(&s);
        for (uint32_t i = 0; i < nSets; i++) {
            nnrt_session *session = NULL;
            nnrt_session_desc desc;
            NNRT_Extension extensions[MOST_EXTENSIONS];
            nnrt_error e;
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            desc.device = sets[i];
            kernel = "fused_depthwise";
            add_extensions(&desc, extensions);
            assert_int_equal(nnrt_session_create(&session, m.model, &desc, &e), NNRT_NOT_SUPPORT);
            assert_non_null(strstr(e.message, "'fused_depthwise'"));
        }
        kernel = NULL;
        drop(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),     cmocka_unit_test(test_where_it_is_worth_it),
        cmocka_unit_test(test_read_twice), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
