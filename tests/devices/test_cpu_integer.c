/* MATMUL_INTEGER, CONV_INTEGER and CAST on the fast device (devices/nnrt_cpu.h), with each instruction set of this machine: shapes around
   the borders of tiles, panels and groups, all pairs of types and zero points, one to eight workers, fixed and dynamic
   numbers of rows. Expected are the integers of the definition, which the test computes itself: every bit must agree. */
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
#include "models_on_sets.h"

#define I8 NNRT_DATA_TYPE_INT8
#define U8 NNRT_DATA_TYPE_UINT8

/* The source of the zero points of a and b. EACH: one for each column of b. */
enum { NONE, FIXED, GIVEN, EACH };
/* Values: any, or only the least and the greatest of the type, whose sums are the largest. */
enum { ANY, ENDS };

typedef struct spec {
    int32_t M, K, N;
    NNRT_DataType a, b;
    int zeroA, zeroB, values;
} spec;

static int32_t least_of(NNRT_DataType type)
{
    return type == I8 ? -128 : 0;
}

static void fill(uint8_t *to, size_t count, int values)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)(values == ANY ? draw(256) : draw(2) == 0 ? 0x7F + 0x80 * draw(2) : 0x80 * draw(2));
}

static int32_t value(const uint8_t *from, size_t i, NNRT_DataType type)
{
    return type == I8 ? (int8_t)from[i] : from[i];
}

/* Inputs: a, and its zero point if it is GIVEN. dynamic: the number of rows is dynamic. */
static NNRT_Model *make(const spec *s, const uint8_t *b, const uint8_t *zeroA, const uint8_t *zeroB, bool dynamic)
{
    const int32_t dimsA[2] = {dynamic ? -1 : s->M, s->K}, dimsB[2] = {s->K, s->N}, one = 1;
    nnrt_builder *made = NULL;
    uint32_t in[4];
    assert_int_equal(nnrt_builder_create(&made, "integers", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(made, "a", s->a, 2, dimsA);
    in[1] = nnrt_builder_constant(made, "b", s->b, 2, dimsB, b, true);
    in[2] = s->zeroA == FIXED   ? nnrt_builder_constant(made, "zero of a", s->a, 0, NULL, zeroA, true)
            : s->zeroA == GIVEN ? nnrt_builder_input(made, "zero of a", s->a, 1, &one)
                                : NNRT_NO_TENSOR;
    in[3] = s->zeroB == FIXED  ? nnrt_builder_constant(made, "zero of b", s->b, 0, NULL, zeroB, true)
            : s->zeroB == EACH ? nnrt_builder_constant(made, "zero of b", s->b, 1, &s->N, zeroB, true)
                               : NNRT_NO_TENSOR;
    nnrt_builder_output(made, nnrt_builder_op(made, "y", NNRT_NODE_TYPE_MATMUL_INTEGER, NULL, in, 4));
    return finish(made);
}

static void expect(const spec *s, int32_t M, const uint8_t *a, const uint8_t *b, const uint8_t *zeroA,
                   const uint8_t *zeroB, int32_t *y)
{
    for (int32_t m = 0; m < M; m++)
        for (int32_t n = 0; n < s->N; n++) {
            const int64_t zA = s->zeroA != NONE ? value(zeroA, 0, s->a) : 0;
            const int64_t zB = s->zeroB != NONE ? value(zeroB, s->zeroB == EACH ? (size_t)n : 0, s->b) : 0;
            int64_t sum = 0;
            for (int32_t k = 0; k < s->K; k++)
                sum += (value(a, (size_t)(m * s->K + k), s->a) - zA) * (value(b, (size_t)(k * s->N + n), s->b) - zB);
            y[m * s->N + n] = (int32_t)(uint32_t)(uint64_t)sum;
        }
}

/* Runs `rows` rows in a session for s->M of them; fails unless y equals the expected integers. */
static void check_rows(nnrt_session *session, const spec *s, int32_t rows, const uint8_t *a, const uint8_t *zeroA,
                       const int32_t *expected, const char *what)
{
    const int32_t dims[2] = {rows, s->K};
    const size_t count = (size_t)rows * (size_t)s->N;
    int32_t *y = (int32_t *)malloc((count + 1) * sizeof(int32_t));
    nnrt_io in[2], out = nnrt_io_make(y, count * sizeof(int32_t));
    in[0] = nnrt_io_make((void *)(uintptr_t)a, (size_t)rows * (size_t)s->K);
    in[0].dims = dims;
    in[1] = nnrt_io_make((void *)(uintptr_t)zeroA, 1);
    memset(y, 0xA5, (count + 1) * sizeof(int32_t));
    if (nnrt_run(session, in, s->zeroA == GIVEN ? 2 : 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s: %s", what, nnrt_session_error(session));
    for (size_t i = 0; i < count; i++)
        if (y[i] != expected[i])
            fail_msg("%s, row %d, column %d: %d, expected %d", what, (int)i / s->N, (int)i % s->N, y[i], expected[i]);
    free(y);
}

/* The largest possible number of rows, then fewer. */
static void check_model(const spec *s, const uint8_t *a, const uint8_t *b, const uint8_t *zeroA, const uint8_t *zeroB,
                        const int32_t *expected, bool dynamic)
{
    NNRT_Model *model = make(s, b, zeroA, zeroB, dynamic);
    for (uint32_t set = 0; set < nSets; set++)
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            nnrt_session *session = NULL;
            nnrt_session_desc desc;
            nnrt_bound bound;
            NNRT_Extension extensions[MOST_EXTENSIONS];
            nnrt_error e;
            char what[200];
            size_t arena;
            team t;
            snprintf(what, sizeof(what),
                     "%d x %d x %d, types %d %d, zeros %d %d, values %d, %s, %u workers, dynamic %d", s->M, s->K, s->N,
                     (int)s->a, (int)s->b, s->zeroA, s->zeroB, s->values, sets[set], workers, dynamic);
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            memset(&bound, 0, sizeof(bound));
            desc.device = sets[set];
            desc.parallel = team_of(&t, workers);
            kernel = "gemm_q8";
            memory = workers == 3 ? "smallest" : NULL;
            add_extensions(&desc, extensions);
            kernel = memory = NULL;
            bound.tensor = "a";
            bound.most.rank = 2;
            bound.most.dims[0] = s->M;
            bound.most.dims[1] = s->K;
            if (dynamic)
                desc.bounds = nnrt_bound_list_make(&bound, 1);
            if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
                fail_msg("%s: %s", what, e.message);
            arena = nnrt_session_get_memory(session).arena; /* a, y, and for each worker 4 MB of im2col rows */
            if (arena > (size_t)(s->M * (s->K + 4 * s->N)) + (workers + 1) * ((1u << 22) + 65536))
                fail_msg("%s: %zu bytes of arena", what, arena);
            for (int32_t rows = s->M; rows > 0; rows = dynamic ? rows * 2 / 3 : 0)
                check_rows(session, s, rows, a, zeroA, expected, what);
            nnrt_session_destroy(session);
        }
    nnrt_model_destroy(model);
}

static void check(const spec *s)
{
    uint8_t *a = (uint8_t *)malloc((size_t)s->M * (size_t)s->K), *b = (uint8_t *)malloc((size_t)s->K * (size_t)s->N);
    uint8_t *zeroB = (uint8_t *)malloc((size_t)s->N), zeroA[1];
    int32_t *y = (int32_t *)malloc((size_t)s->M * (size_t)s->N * sizeof(int32_t));
    fill(a, (size_t)s->M * (size_t)s->K, s->values);
    fill(b, (size_t)s->K * (size_t)s->N, s->values);
    fill(zeroA, 1, s->values);
    fill(zeroB, (size_t)s->N, s->values);
    expect(s, s->M, a, b, zeroA, zeroB, y);
    check_model(s, a, b, zeroA, zeroB, y, false);
    if (s->zeroA != FIXED) /* with dynamic rows a constant zero point uses the reference kernel */
        check_model(s, a, b, zeroA, zeroB, y, true);
    free(a);
    free(b);
    free(zeroB);
    free(y);
}

static const int32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 17};
static const int32_t depths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65};
static const int32_t columns[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 130};

/* All pairs of types, zero points and values, with shapes that change from one to the next. */
static void test_shapes(void **unused)
{
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < 2 * 2 * 3 * 3 * 2 * 5; i++) {
        const int zeroA[3] = {NONE, FIXED, GIVEN}, zeroB[3] = {NONE, FIXED, EACH};
        const spec s = {
            rows[i % 12],     depths[i * 7 % 15], columns[i * 5 % 19], i % 2 == 0 ? U8 : I8, i / 2 % 2 == 0 ? I8 : U8,
            zeroA[i / 4 % 3], zeroB[i / 12 % 3],  i / 36 % 2};
        check(&s);
    }
}

/* Several work items of rows, and panels that are divided among workers. Of rows so long that they exceed the limit of
   im2col scratch, few make a work item. */
static void test_large(void **unused)
{
    static const spec specs[] = {
        {250, 70, 70, U8, I8, GIVEN, NONE, ANY},   {486, 33, 20, U8, U8, GIVEN, FIXED, ANY},
        {1, 700, 600, U8, U8, GIVEN, EACH, ANY},   {3, 300, 500, I8, I8, NONE, NONE, ENDS},
        {245, 16, 130, I8, U8, GIVEN, FIXED, ANY}, {2, 40000, 17, U8, U8, GIVEN, FIXED, ENDS},
        {2, 140000, 3, U8, U8, NONE, NONE, ENDS}, /* sums that exceed 2^31 wrap */
        {80, 60000, 3, U8, I8, GIVEN, NONE, ANY},
    };
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < COUNT(specs); i++)
        check(&specs[i]);
}

/* One zero point per row of a, and weights that are inputs, use the reference kernel. */
static void test_left(void **unused)
{
    static const int32_t dims[2] = {4, 4}, four = 4;
    static const uint8_t numbers[16] = {1, 2, 3};
    (void)unused;
    for (int variant = 0; variant < 2; variant++) {
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        uint32_t in[4];
        assert_int_equal(nnrt_builder_create(&b, "left", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "a", U8, 2, dims);
        in[1] = variant == 0 ? nnrt_builder_constant(b, "b", U8, 2, dims, numbers, true)
                             : nnrt_builder_input(b, "b", U8, 2, dims);
        in[2] = variant == 0 ? nnrt_builder_constant(b, "zeros", U8, 1, &four, numbers, true) : NNRT_NO_TENSOR;
        in[3] = NNRT_NO_TENSOR;
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_INTEGER, NULL, in, 4));
        model = finish(b);
        for (uint32_t set = 0; set < nSets; set++)
            assert_int_equal(code_of_kernel(sets[set], model, "gemm_q8", false), NNRT_NOT_SUPPORT);
        nnrt_model_destroy(model);
    }
}

/* ---- CONV_INTEGER ---- */

/* x [n,h,w,k], w [c,kh,kw,k]; spec has the types and zero points. */
typedef struct window {
    int32_t n, h, w, k, c, size[2];
    int64_t stride[2], dilation[2], pad[4];
} window;

static void expect_convolution(const window *v, const spec *s, const int32_t *out, const uint8_t *x, const uint8_t *w,
                               const uint8_t *zeroX, const uint8_t *zeroW, int32_t *y)
{
    for (int32_t i = 0; i < out[0] * out[1] * out[2] * out[3]; i++) {
        const int32_t c = i % out[3], q = i / out[3] % out[2], p = i / out[3] / out[2] % out[1], n = i / out[3] / out[2] / out[1];
        const int64_t zX = s->zeroA != NONE ? value(zeroX, 0, s->a) : 0;
        const int64_t zW = s->zeroB != NONE ? value(zeroW, s->zeroB == EACH ? (size_t)c : 0, s->b) : 0;
        int64_t sum = 0;
        for (int32_t t = 0; t < v->size[0] * v->size[1]; t++) {
            const int64_t h = p * v->stride[0] - v->pad[0] + t / v->size[1] * v->dilation[0];
            const int64_t at = q * v->stride[1] - v->pad[2] + t % v->size[1] * v->dilation[1];
            for (int32_t k = 0; k < v->k && h >= 0 && h < v->h && at >= 0 && at < v->w; k++)
                sum += (value(x, (size_t)(((n * v->h + h) * v->w + at) * v->k + k), s->a) - zX) *
                       (value(w, (size_t)((c * v->size[0] * v->size[1] + t) * v->k + k), s->b) - zW);
        }
        y[i] = (int32_t)(uint32_t)(uint64_t)sum;
    }
}

static void check_convolution(const window *v, const spec *s)
{
    const int32_t dims[4] = {v->n, v->h, v->w, v->k}, wDims[4] = {v->c, v->size[0], v->size[1], v->k}, one = 1;
    const size_t nX = product_of(4, dims), nW = product_of(4, wDims);
    uint8_t *x = (uint8_t *)malloc(nX), *w = (uint8_t *)malloc(nW), *zeros = (uint8_t *)malloc((size_t)v->c), zero[1];
    int32_t out[4] = {v->n, 0, 0, v->c}, *y, *expected;
    NNRT_Conv2DFusion attr;
    nnrt_builder *b = NULL;
    NNRT_Model *model;
    uint32_t in[5];
    nnrt_io io[2], to;
    size_t count;
    for (int32_t i = 0; i < 2; i++)
        out[1 + i] = (int32_t)((dims[1 + i] + v->pad[2 * i] + v->pad[2 * i + 1] - v->dilation[i] * (v->size[i] - 1) - 1) /
                                   v->stride[i] + 1);
    count = product_of(4, out);
    y = (int32_t *)malloc(count * sizeof(*y));
    expected = (int32_t *)malloc(count * sizeof(*y));
    fill(x, nX, s->values);
    fill(w, nW, s->values);
    fill(zero, 1, s->values);
    fill(zeros, (size_t)v->c, s->values);
    expect_convolution(v, s, out, x, w, zero, zeros, expected);
    memset(&attr, 0, sizeof(attr));
    attr.stride = nnrt_int64_list(v->stride, 2);
    attr.dilation = nnrt_int64_list(v->dilation, 2);
    attr.padList = nnrt_int64_list(v->pad, 4);
    attr.group = 1;
    assert_int_equal(nnrt_builder_create(&b, "convolution", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", s->a, 4, dims);
    in[1] = nnrt_builder_constant(b, "w", s->b, 4, wDims, w, true);
    in[2] = NNRT_NO_TENSOR;
    in[3] = s->zeroA == FIXED   ? nnrt_builder_constant(b, "zero of x", s->a, 0, NULL, zero, true)
            : s->zeroA == GIVEN ? nnrt_builder_input(b, "zero of x", s->a, 1, &one)
                                : NNRT_NO_TENSOR;
    in[4] = s->zeroB == FIXED  ? nnrt_builder_constant(b, "zero of w", s->b, 0, NULL, zeros, true)
            : s->zeroB == EACH ? nnrt_builder_constant(b, "zero of w", s->b, 1, &v->c, zeros, true)
                               : NNRT_NO_TENSOR;
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONV_INTEGER, &attr, in, 5));
    model = finish(b);
    io[0] = nnrt_io_make(x, nX);
    io[1] = nnrt_io_make(zero, 1);
    to = nnrt_io_make(y, count * sizeof(*y));
    for (uint32_t set = 0; set < nSets; set++)
        for (uint32_t workers = 0; workers <= 3; workers++) {
            memset(y, 0xA5, count * sizeof(*y));
            kernel = "gemm_q8";
            (void)run_session(sets[set], model, io, s->zeroA == GIVEN ? 2 : 1, &to, 1, workers, NULL);
            kernel = NULL;
            for (size_t i = 0; i < count; i++)
                if (y[i] != expected[i])
                    fail_msg("%s, [%d,%d,%d,%d] by %d of %d x %d, types %d %d, zeros %d %d: element %d is %d, expected %d",
                             sets[set], v->n, v->h, v->w, v->k, v->c, v->size[0], v->size[1], (int)s->a, (int)s->b, s->zeroA,
                             s->zeroB, (int)i, y[i], expected[i]);
        }
    nnrt_model_destroy(model);
    free(expected);
    free(y);
    free(zeros);
    free(w);
    free(x);
}

static void test_convolutions(void **unused)
{
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < 150; i++) {
        const int zeroA[3] = {NONE, FIXED, GIVEN}, zeroB[3] = {NONE, FIXED, EACH};
        const spec s = {0, 0, 0, draw(2) == 0 ? U8 : I8, draw(2) == 0 ? I8 : U8, zeroA[draw(3)], zeroB[draw(3)], (int)draw(2)};
        window v;
        v.n = 1 + (int32_t)draw(2);
        v.h = 5 + (int32_t)draw(6);
        v.w = 5 + (int32_t)draw(9);
        v.k = draw(2) == 0 ? depths[draw(8)] : depths[draw(COUNT(depths))];
        v.c = columns[draw(COUNT(columns))];
        for (int32_t k = 0; k < 2; k++) {
            v.size[k] = 1 + (int32_t)draw(3);
            v.stride[k] = 1 + draw(2);
            v.dilation[k] = 1 + (draw(4) == 0);
            v.pad[2 * k] = draw(3);
            v.pad[2 * k + 1] = draw(3);
        }
        check_convolution(&v, &s);
    }
}

/* ---- CAST ---- */

/* C converts floats toward zero; the operator saturates first, and NaN becomes 0. */
static uint8_t cast_to_byte(float x, NNRT_DataType type)
{
    const float least = (float)least_of(type), most = least + 255;
    return (uint8_t)(int32_t)(x != x ? 0 : x < least ? least : x > most ? most : x);
}

static float special(uint32_t i)
{
    static const float some[] = {0.5f,    -0.5f,   0.99999994f, -0.99999994f, 127.5f, -127.99999f,
                                 -128.0f, -128.5f, 255.0f,      254.99998f,   256.0f, 1e30f,
                                 -1e30f,  1e-40f,  -0.0f,       2147483648.0f};
    return i % 20 == 16 ? INFINITY : i % 20 == 17 ? -INFINITY : i % 20 == 18 ? NAN : i % 20 == 19 ? -NAN : some[i % 20];
}

/* kind 0: float32 to uint8, 1: to int8, 2: int32 to float32. cut: x is the second part of a SPLIT, whose rows are apart. */
static void check_cast(int kind, int32_t height, int32_t width, bool cut)
{
    const int32_t wide = cut ? 2 * width : width, dims[2] = {height, wide}, one = 1;
    const int64_t sizes[2] = {width, width};
    const size_t count = (size_t)height * (size_t)wide;
    const NNRT_DataType from = kind == 2 ? I32 : F32, to = kind == 0 ? U8 : kind == 1 ? I8 : F32;
    const int32_t name = (int32_t)to;
    float *x = (float *)malloc(count * sizeof(float));
    uint8_t *y = (uint8_t *)malloc(count * sizeof(float));
    const nnrt_io in = nnrt_io_make(x, count * sizeof(float));
    const nnrt_io out = nnrt_io_make(y, (size_t)height * (size_t)width * nnrt_type_size(to));
    nnrt_builder *b = NULL;
    NNRT_Model *model;
    NNRT_Split split;
    uint32_t pair[2], parts[2];
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = draw(65536) << 16 | draw(65536);
        x[i] = draw(4) == 0 ? special(draw(20)) : ((float)draw(100000) - 50000.0f) / 100.0f;
        if (kind == 2)
            memcpy(&x[i], &bits, sizeof(bits));
    }
    assert_int_equal(nnrt_builder_create(&b, "cast", NULL), NNRT_SUCCESS);
    pair[0] = nnrt_builder_input(b, "x", from, 2, dims);
    if (cut) {
        memset(&split, 0, sizeof(split));
        split.outputNum = 2;
        split.axis = 1;
        split.sizeSplits = nnrt_int64_list(sizes, 2);
        parts[0] = nnrt_builder_tensor(b, "first");
        parts[1] = nnrt_builder_tensor(b, "second");
        nnrt_builder_node(b, "split", NNRT_NODE_TYPE_SPLIT, &split, pair, 1, parts, 2);
        pair[0] = parts[1];
    }
    pair[1] = nnrt_builder_constant(b, "type", I32, 1, &one, &name, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CAST, NULL, pair, 2));
    model = finish(b);
    for (uint32_t set = 0; set < nSets; set++)
        for (uint32_t workers = 0; workers <= 3; workers++) {
            if (has_no_floats(set))
                continue;
            kernel = "cast";
            (void)run_session(sets[set], model, &in, 1, &out, 1, workers, NULL);
            kernel = NULL;
            for (int32_t i = 0; i < height * width; i++) {
                const float *const source = &x[i / width * wide + (cut ? width : 0) + i % width];
                int32_t n;
                float f;
                memcpy(&n, source, sizeof(n));
                memcpy(&f, &y[kind == 2 ? 4 * i : 0], sizeof(f));
                if (kind == 2 ? f != (float)n : y[i] != cast_to_byte(*source, to))
                    fail_msg("%s, kind %d, %d x %d: element %d of %.9g or %d is %.9g or %u", sets[set], kind, height,
                             width, i, (double)*source, n, (double)f, y[i]);
            }
        }
    nnrt_model_destroy(model);
    free(x);
    free(y);
}

static void test_casts(void **unused)
{
    static const int32_t widths[] = {1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 100};
    (void)unused;
    state = 3;
    for (int kind = 0; kind < 3; kind++)
        for (uint32_t i = 0; i < COUNT(widths); i++) {
            check_cast(kind, 1 + (int32_t)i % 4, widths[i], false);
            check_cast(kind, 1 + (int32_t)i % 5, widths[i], true);
        }
    check_cast(0, 500, 300, false); /* work for several threads */
    check_cast(2, 500, 300, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_casts),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
