/* The fast device (devices/nnrt_cpu.h) with each instruction set of this machine: comparisons, selections, positions of
   extremes, image resizing, LRN, norms and powers. Selections are compared bit for bit; for computed results the
   expected value is computed in double by the C library, and the error bound is a number of roundings, each 2^-24 of
   the rounded value (ROUNDING). */
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

#define I32 NNRT_DATA_TYPE_INT32
#define I64 NNRT_DATA_TYPE_INT64
#define BOOLS NNRT_DATA_TYPE_BOOL

/* ---- models of several inputs and one output of any type ---- */

static void run_bytes(const char *device, const NNRT_Model *model, const nnrt_io *in, uint32_t nIn, void *y, size_t bytes,
                      uint32_t workers)
{
    const nnrt_io out = nnrt_io_make(y, bytes);
    (void)run_session(device, model, in, nIn, &out, 1, workers, NULL);
}

/* Each set, with the calling thread, two and seven workers, and the reference device compute exactly these bytes. */
static void check_bytes(const NNRT_Model *model, const nnrt_io *in, uint32_t nIn, const void *expected, size_t bytes,
                        const char *what)
{
    uint8_t *y = (uint8_t *)malloc(bytes > 0 ? bytes : 1);
    for (uint32_t s = 0; s <= nSets; s++)
        for (uint32_t workers = 0; workers <= (s < nSets ? 7 : 0); workers += workers == 2 ? 5 : 2) {
            const char *device = s < nSets ? sets[s] : "reference";
            if (s < nSets && has_no_floats(s))
                break;
            memset(y, 0xA5, bytes);
            run_bytes(device, model, in, nIn, y, bytes, workers);
            for (size_t i = 0; i < bytes; i++)
                if (y[i] != ((const uint8_t *)expected)[i])
                    fail_msg("%s on %s, %u workers: byte %u of %u is %02x, expected %02x", what, device, workers, (unsigned)i,
                             (unsigned)bytes, y[i], ((const uint8_t *)expected)[i]);
        }
    free(y);
}

/* 0, -0, infinities, NaN, and small integers that repeat. */
static float special(void)
{
    switch (draw(12)) {
    case 0: return NAN;
    case 1: return INFINITY;
    case 2: return -INFINITY;
    case 3: return -0.0f;
    case 4: return 0;
    default: return (float)draw(7) - 3;
    }
}

static float *specials(size_t count)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = special();
    return made;
}

/* Index of the element of an operand with shape `of`, broadcast to z, for element k of z. */
static size_t broadcast_place(size_t k, const int32_t z[3], const int32_t of[3])
{
    const size_t c = k % (size_t)z[2], b = k / (size_t)z[2] % (size_t)z[1], a = k / ((size_t)z[2] * (size_t)z[1]);
    return ((of[0] > 1 ? a : 0) * (size_t)of[1] + (of[1] > 1 ? b : 0)) * (size_t)of[2] + (of[2] > 1 ? c : 0);
}

static const int32_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 0, 3001};

/* z [a,b,c], and x: the dimensions of z on the axes in `kept`, else 1. */
static void shape_of(uint32_t i, int32_t z[3], int32_t x[3], uint32_t kept)
{
    if (z[0] == 0) {
        z[0] = 1 + (int32_t)draw(3);
        z[1] = 1 + (int32_t)draw(4);
        z[2] = lengths[i % COUNT(lengths)];
    }
    for (uint32_t k = 0; k < 3; k++)
        x[k] = kept >> k & 1 ? z[k] : 1;
}

/* ---- comparisons ---- */

static bool compared(NNRT_NodeType type, float x, float y)
{
    switch (type) {
    case NNRT_NODE_TYPE_EQUAL: return x == y;
    case NNRT_NODE_TYPE_NOT_EQUAL: return x != y;
    case NNRT_NODE_TYPE_LESS: return x < y;
    case NNRT_NODE_TYPE_LESS_EQUAL: return x <= y;
    case NNRT_NODE_TYPE_GREATER: return x > y;
    default: return x >= y;
    }
}

static void test_comparisons(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_EQUAL,      NNRT_NODE_TYPE_NOT_EQUAL, NNRT_NODE_TYPE_LESS,
                                          NNRT_NODE_TYPE_LESS_EQUAL, NNRT_NODE_TYPE_GREATER,   NNRT_NODE_TYPE_GREATER_EQUAL};
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < 6 * COUNT(lengths); i++) {
        const NNRT_NodeType type = types[i % 6];
        int32_t z[3] = {0, 0, 0}, x[3], y[3];
        const uint32_t kept = draw(8);
        nnrt_builder *b = NULL;
        nnrt_io in[2];
        uint32_t ids[2];
        float *p, *q;
        uint8_t *expected;
        size_t n;
        NNRT_Model *model;
        shape_of(i / 6, z, x, i % 2 == 0 ? 7 : 7 & ~(kept & 3));
        shape_of(i / 6, z, y, 7 & ~(i % 2 == 0 ? kept : 0));
        n = product_of(3, z);
        p = specials(product_of(3, x));
        q = specials(product_of(3, y));
        expected = (uint8_t *)malloc(n + 1);
        for (size_t k = 0; k < n; k++)
            expected[k] = compared(type, p[broadcast_place(k, z, x)], q[broadcast_place(k, z, y)]);
        assert_int_equal(nnrt_builder_create(&b, "compare", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", F32, 3, x);
        ids[1] = nnrt_builder_input(b, "y", F32, 3, y);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", type, NULL, ids, 2));
        model = finish(b);
        in[0] = nnrt_io_make(p, product_of(3, x) * sizeof(float));
        in[1] = nnrt_io_make(q, product_of(3, y) * sizeof(float));
        kernel = "compare";
        check_bytes(model, in, 2, expected, n, nnrt_op_find(type)->name);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(expected);
        free(q);
        free(p);
    }
}

/* ---- selections ---- */

/* WHERE of float32 or int32 copies bits unchanged. x or y may be one element; the condition, x and y may be broadcast. */
static void test_choices(void **unused)
{
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < 6 * COUNT(lengths); i++) {
        const uint32_t way = i % 6, kept = draw(8); /* 0: as z; 1, 2: x, y one element; 3: both; 4: x, y broadcast; 5: only x */
        const bool whole = draw(2) == 0;
        int32_t z[3] = {0, 0, 0}, c[3], x[3], y[3];
        nnrt_builder *b = NULL;
        nnrt_io in[3];
        uint32_t ids[3], *p, *q, *expected;
        uint8_t *chosen;
        size_t nX, nY, nC, n;
        NNRT_Model *model;
        shape_of(i / 6, z, c, way == 3 ? 7 : draw(8));
        shape_of(i / 6, z, x, way == 1 || way == 3 ? 0 : way == 4 ? kept : 7);
        shape_of(i / 6, z, y, way == 2 || way == 3 ? 0 : way == 4 ? kept : way == 5 ? kept & 6 : 7);
        if (way == 4) /* one operand must have the shape of z */
            shape_of(i / 6, z, c, 7);
        n = product_of(3, z);
        nX = product_of(3, x);
        nY = product_of(3, y);
        nC = product_of(3, c);
        p = (uint32_t *)malloc((nX + 1) * 4);
        q = (uint32_t *)malloc((nY + 1) * 4);
        expected = (uint32_t *)malloc((n + 1) * 4);
        chosen = (uint8_t *)malloc(nC + 1);
        for (size_t k = 0; k < nX; k++)
            p[k] = draw(4) == 0 ? 0x7F800001u + draw(1000) : draw(0x7FFFFFFFu) * 2; /* NaN with any payload */
        for (size_t k = 0; k < nY; k++)
            q[k] = draw(4) == 0 ? 0xFFC00000u + draw(1000) : draw(0x7FFFFFFFu);
        for (size_t k = 0; k < nC; k++)
            chosen[k] = (uint8_t)draw(2);
        for (size_t k = 0; k < n; k++)
            expected[k] = chosen[broadcast_place(k, z, c)] ? p[broadcast_place(k, z, x)] : q[broadcast_place(k, z, y)];
        assert_int_equal(nnrt_builder_create(&b, "choose", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "c", BOOLS, 3, c);
        ids[1] = nnrt_builder_input(b, "x", whole ? I32 : F32, 3, x);
        ids[2] = nnrt_builder_input(b, "y", whole ? I32 : F32, 3, y);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", i % 4 == 0 ? NNRT_NODE_TYPE_SELECT : NNRT_NODE_TYPE_WHERE, NULL, ids, 3));
        model = finish(b);
        in[0] = nnrt_io_make(chosen, nC);
        in[1] = nnrt_io_make(p, nX * 4);
        in[2] = nnrt_io_make(q, nY * 4);
        kernel = way == 5 ? NULL : "where"; /* if x and y have different strides, the reference kernel may run */
        check_bytes(model, in, 3, expected, n * 4, "a choice");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(chosen);
        free(expected);
        free(q);
        free(p);
    }
}

/* WHERE(a == a, MAXIMUM(a, b), a) is fused to one step; with another comparison or order it is not. */
static void test_extremes(void **unused)
{
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < 8 * COUNT(lengths); i++) {
        const bool largest = i % 2 == 0;
        const uint32_t way = i / 2 % 4; /* 0: fused; 1: not fused, as WHERE selects b; 2, 3: not fused, as it compares b */
        int32_t z[3] = {0, 0, 0}, x[3], y[3];
        nnrt_builder *b = NULL;
        nnrt_io in[2];
        uint32_t ids[2], same[2], where[3];
        float *p, *q, *expected;
        size_t n;
        NNRT_Model *model;
        shape_of(i / 8, z, x, way == 0 && draw(3) == 0 ? draw(8) : 7);
        shape_of(i / 8, z, y, x[0] == z[0] && x[1] == z[1] && x[2] == z[2] && way == 0 ? draw(8) : 7);
        n = product_of(3, z);
        p = specials(product_of(3, x));
        q = specials(product_of(3, y));
        expected = reals(n);
        for (size_t k = 0; k < n; k++) {
            const float u = p[broadcast_place(k, z, x)], v = q[broadcast_place(k, z, y)];
            const float most = largest ? (u > v ? u : v) : (u < v ? u : v);
            expected[k] = (way == 3 ? u == v : way == 2 ? v == v : u == u) ? most : way == 1 ? v : u;
        }
        assert_int_equal(nnrt_builder_create(&b, "extreme", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", F32, 3, x);
        ids[1] = nnrt_builder_input(b, "y", F32, 3, y);
        same[0] = ids[way == 2 ? 1 : 0];
        same[1] = ids[way >= 2 ? 1 : 0];
        where[0] = nnrt_builder_op(b, "same", NNRT_NODE_TYPE_EQUAL, NULL, same, 2);
        where[1] = nnrt_builder_op(b, "most", largest ? NNRT_NODE_TYPE_MAXIMUM : NNRT_NODE_TYPE_MINIMUM, NULL, ids, 2);
        where[2] = ids[way == 1 ? 1 : 0];
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_WHERE, NULL, where, 3));
        model = finish(b);
        in[0] = nnrt_io_make(p, product_of(3, x) * sizeof(float));
        in[1] = nnrt_io_make(q, product_of(3, y) * sizeof(float));
        check_bytes(model, in, 2, expected, n * sizeof(float), largest ? "the largest" : "the smallest");
        for (uint32_t s = 0; s < nSets && n > 0; s++) {
            nnrt_session *session = NULL;
            nnrt_session_desc desc;
            nnrt_error e;
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            desc.device = sets[s];
            assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_SUCCESS);
            assert_int_equal(nnrt_session_get_memory(session).steps, way == 0 ? 1 : 3);
            nnrt_session_destroy(session);
        }
        nnrt_model_destroy(model);
        free(expected);
        free(q);
        free(p);
    }
}

/* The same with a dynamic number of rows of x, in float32 and float16; y has as many rows or one. Steps of another form are not
   fused: way as above. */
static void test_dynamic_extremes(void **unused)
{
    enum { MOST = 9, WIDE = 21 };
    static const int32_t rows[] = {MOST, 1, 4, 0, MOST - 1};
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 2 * 4 * 2 * 2 * nSets; i++) {
        const bool largest = i % 2 == 0, one = i / 8 % 2 == 0, half = i / 16 % 2 != 0;
        const uint32_t way = i / 2 % 4;
        const NNRT_DataType type = half ? NNRT_DATA_TYPE_FLOAT16 : F32;
        const int32_t dims[2][2] = {{-1, WIDE}, {one ? 1 : -1, WIDE}};
        const size_t size = half ? 2 : 4;
        nnrt_bound bounds[2] = {{"x", {2, {MOST, WIDE}}}, {"y", {2, {one ? 1 : MOST, WIDE}}}};
        nnrt_builder *b = NULL;
        nnrt_session *session = NULL;
        nnrt_session_desc desc;
        nnrt_error e;
        uint32_t ids[2], same[2], where[3];
        NNRT_Model *model;
        float *p = specials(MOST * WIDE), *q = specials(MOST * WIDE);
        uint16_t halves[2][MOST * WIDE];
        for (int32_t k = 0; k < MOST * WIDE; k++) {
            halves[0][k] = nnrt_half_from_float(p[k]);
            halves[1][k] = nnrt_half_from_float(q[k]);
        }
        assert_int_equal(nnrt_builder_create(&b, "extreme", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", type, 2, dims[0]);
        ids[1] = nnrt_builder_input(b, "y", type, 2, dims[1]);
        same[0] = ids[way == 2 ? 1 : 0];
        same[1] = ids[way >= 2 ? 1 : 0];
        where[0] = nnrt_builder_op(b, "same", NNRT_NODE_TYPE_EQUAL, NULL, same, 2);
        where[1] = nnrt_builder_op(b, "most", largest ? NNRT_NODE_TYPE_MAXIMUM : NNRT_NODE_TYPE_MINIMUM, NULL, ids, 2);
        where[2] = ids[way == 1 ? 1 : 0];
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_WHERE, NULL, where, 3));
        model = finish(b);
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = sets[i / 32];
        desc.bounds = nnrt_bound_list_make(bounds, 2);
        if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", sets[i / 32], e.message);
        assert_int_equal(nnrt_session_get_memory(session).steps == 1, way == 0);
        for (uint32_t r = 0; r < COUNT(rows); r++) {
            float z[MOST * WIDE];
            const int32_t now[2][2] = {{rows[r], WIDE}, {one ? 1 : rows[r], WIDE}};
            nnrt_io in[2], out = nnrt_io_make(z, sizeof(z));
            for (uint32_t k = 0; k < 2; k++) {
                in[k] = nnrt_io_make(half ? (void *)halves[k] : k == 0 ? (void *)p : (void *)q, (size_t)(now[k][0] * WIDE) * size);
                in[k].dims = now[k];
            }
            assert_int_equal(nnrt_run(session, in, 2, &out, 1), NNRT_SUCCESS);
            assert_int_equal(nnrt_session_output(session, 0).bytes, (size_t)(rows[r] * WIDE) * size);
            for (int32_t k = 0; k < rows[r] * WIDE; k++) {
                const int32_t at = one ? k % WIDE : k;
                const float u = half ? nnrt_half_to_float(halves[0][k]) : p[k];
                const float v = half ? nnrt_half_to_float(halves[1][at]) : q[at];
                const float most = largest ? (u > v ? u : v) : (u < v ? u : v);
                const float expected = (way == 3 ? u == v : way == 2 ? v == v : u == u) ? most : way == 1 ? v : u;
                const float found = half ? nnrt_half_to_float(((const uint16_t *)(const void *)z)[k]) : z[k];
                if (expected == expected ? found != expected || signbit(found) != signbit(expected) : found == found)
                    fail_msg("%s: way %u, element %d is %g, expected %g", sets[i / 32], (unsigned)way, (int)k, (double)found,
                             (double)expected);
            }
        }
        nnrt_session_destroy(session);
        nnrt_model_destroy(model);
        free(q);
        free(p);
    }
}

/* ---- positions of extremes ---- */

/* Whether v precedes best: NaN is last, -0 equals 0. */
static bool stands_first(bool largest, float v, float best)
{
    return v == v && (best != best || (largest ? v > best : v < best));
}

/* ARGMAX and ARGMIN of x [a,b,c,d], along any axis, with equal elements and lines of NaN; x may be stored channels
   last. */
static void test_positions(void **unused)
{
    static const int64_t cell[4] = {1, 1, 1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < 240; i++) {
        const bool largest = i % 2 == 0, wide = i / 2 % 2 == 0, turned = i / 4 % 3 == 0;
        const int32_t axis = (int32_t)draw(4);
        int32_t dims[4] = {1 + (int32_t)draw(2), 1 + (int32_t)draw(20), 1 + (int32_t)draw(5), 1 + (int32_t)draw(20)};
        NNRT_ArgMaxFusion most;
        NNRT_ArgMinFusion least;
        NNRT_MaxPoolFusion pool;
        size_t nX, nY, inner = 1;
        float *x;
        int64_t *places;
        int32_t *narrow;
        nnrt_builder *b = NULL;
        uint32_t in, y;
        nnrt_io io;
        NNRT_Model *model;
        memset(&most, 0, sizeof(most));
        memset(&least, 0, sizeof(least));
        most.axis = least.axis = draw(2) == 0 ? axis : axis - 4;
        most.topK = least.topK = (int64_t)draw(2);
        most.keepDims = least.keepDims = draw(2) == 0;
        if (i % 3 == 0)
            dims[axis] = lengths[i / 3 % 18];
        nX = product_of(4, dims);
        nY = nX / (size_t)dims[axis];
        for (int32_t k = axis + 1; k < 4; k++)
            inner *= (size_t)dims[k];
        x = specials(nX);
        for (size_t k = 0; k < nX && i % 5 == 0; k++)
            x[k] = draw(20) == 0 ? -INFINITY : NAN;
        places = (int64_t *)malloc(nY * sizeof(int64_t));
        narrow = (int32_t *)malloc(nY * sizeof(int32_t));
        for (size_t k = 0; k < nY; k++) {
            const float *const line = x + k / inner * inner * (size_t)dims[axis] + k % inner;
            places[k] = 0;
            for (int32_t t = 1; t < dims[axis]; t++)
                if (stands_first(largest, line[(size_t)t * inner], line[(size_t)places[k] * inner]))
                    places[k] = t;
            narrow[k] = (int32_t)places[k];
        }
        assert_int_equal(nnrt_builder_create(&b, "places", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in, NNRT_FORMAT_NCHW);
        if (turned) {
            const uint32_t before = in;
            memset(&pool, 0, sizeof(pool));
            pool.kernelSize = pool.strides = nnrt_int64_list(cell, 2);
            pool.pad = nnrt_int64_list(none, 4);
            in = nnrt_builder_tensor(b, "turned");
            nnrt_builder_format(b, in, NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &before, 1, &in, 1);
            for (size_t k = 0; k < nX; k++) /* the result of a pool for NaN is not specified */
                x[k] = x[k] != x[k] ? 1.5f : x[k];
            for (size_t k = 0; k < nY; k++) {
                const float *const line = x + k / inner * inner * (size_t)dims[axis] + k % inner;
                places[k] = 0;
                for (int32_t t = 1; t < dims[axis]; t++)
                    if (stands_first(largest, line[(size_t)t * inner], line[(size_t)places[k] * inner]))
                        places[k] = t;
                narrow[k] = (int32_t)places[k];
            }
        }
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_declare(b, y, wide ? I64 : I32, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "place", largest ? NNRT_NODE_TYPE_ARGMAX_FUSION : NNRT_NODE_TYPE_ARGMIN_FUSION,
                          largest ? (const void *)&most : (const void *)&least, &in, 1, &y, 1);
        nnrt_builder_output(b, y);
        model = finish(b);
        io = nnrt_io_make(x, nX * sizeof(float));
        kernel = "argminmax";
        check_bytes(model, &io, 1, wide ? (const void *)places : (const void *)narrow, nY * (wide ? 8 : 4),
                    largest ? "positions of the largest" : "positions of the smallest");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(narrow);
        free(places);
        free(x);
    }
}

/* The first k elements of sorted lines of x [a,b,L] and their positions; equal elements keep their order. */
static void test_tops(void **unused)
{
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < 6 * COUNT(lengths); i++) {
        const bool largest = i % 2 == 0, wide = draw(2) == 0;
        const uint32_t way = i / 2 % 3; /* the output: 0 elements, 1 positions, 2 elements of arbitrary floats */
        const int32_t L = lengths[i / 6] > 0 ? lengths[i / 6] : 257, dims[3] = {1 + (int32_t)draw(3), 1 + (int32_t)draw(4), L};
        const int64_t k = i % 4 == 0 ? L : 1 + (int64_t)draw((uint32_t)(L < 9 ? L : 9));
        const size_t rows = (size_t)dims[0] * (size_t)dims[1], nX = rows * (size_t)L, nY = rows * (size_t)k;
        float *x = way == 2 ? reals(nX) : specials(nX), *values = reals(nY);
        uint8_t *used = (uint8_t *)malloc((size_t)L);
        int64_t *places = (int64_t *)malloc(nY * sizeof(int64_t));
        int32_t *narrow = (int32_t *)malloc(nY * sizeof(int32_t));
        static const NNRT_TopKFusion attr = {true, -1};
        nnrt_builder *b = NULL;
        uint32_t in[2], out[2];
        nnrt_io io = nnrt_io_make(x, nX * sizeof(float));
        NNRT_Model *model;
        for (size_t r = 0; r < rows; r++) {
            memset(used, 0, (size_t)L);
            for (int64_t n = 0; n < k; n++) {
                int32_t best = -1;
                for (int32_t t = 0; t < L; t++)
                    if (!used[t] && (best < 0 || stands_first(largest, x[r * (size_t)L + (size_t)t], x[r * (size_t)L + (size_t)best])))
                        best = t;
                used[best] = 1;
                values[r * (size_t)k + (size_t)n] = x[r * (size_t)L + (size_t)best];
                places[r * (size_t)k + (size_t)n] = best;
                narrow[r * (size_t)k + (size_t)n] = best;
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "top", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", F32, 3, dims);
        in[1] = nnrt_builder_constant(b, "k", I64, 0, NULL, &k, true);
        out[0] = nnrt_builder_tensor(b, "values");
        out[1] = nnrt_builder_tensor(b, "places");
        if (way == 1)
            nnrt_builder_declare(b, out[1], wide ? I64 : I32, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "top", largest ? NNRT_NODE_TYPE_TOPK_FUSION : NNRT_NODE_TYPE_BOTTOM_K, &attr, in, 2, out, way == 1 ? 2 : 1);
        nnrt_builder_output(b, out[way == 1 ? 1 : 0]);
        model = finish(b);
        kernel = "topk";
        check_bytes(model, &io, 1, way != 1 ? (const void *)values : wide ? (const void *)places : (const void *)narrow,
                    nY * (way == 1 && wide ? 8 : 4), largest ? "the largest of a line" : "the smallest of a line");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(narrow);
        free(places);
        free(used);
        free(values);
        free(x);
    }
}

/* ---- images ---- */

/* Source coordinate of position i of M on an axis of dimension L. */
static double coordinate(NNRT_CoordinateTransformMode mode, int32_t i, int32_t L, int32_t M)
{
    double c;
    if (mode == NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS)
        return M > 1 ? (double)i * (L - 1) / (M - 1) : 0;
    if (mode == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL)
        c = M > 1 ? (i + 0.5) * L / M - 0.5 : 0;
    else
        c = (double)i * L / M;
    return c < 0 ? 0 : c;
}

static int32_t nearest_cell(NNRT_NearestMode mode, double c, int32_t L)
{
    const double at = mode == NNRT_NEAREST_MODE_FLOOR ? floor(c) : mode == NNRT_NEAREST_MODE_CEIL ? ceil(c) : floor(c + 0.5);
    return at > L - 1 ? L - 1 : (int32_t)at;
}

/* x [n,C,H,W] or [n,H,W,C] resized to [Ho,Wo]; in some cases between 1x1 pools, where it is stored channels last
   whatever the model declares. LINEAR: the sum of 4 elements, with weights whose sum is 1, has 5 roundings of the
   largest element, and each of the two weights one more. */
static void test_resizes(void **unused)
{
    static const NNRT_CoordinateTransformMode modes[] = {NNRT_COORDINATE_TRANSFORM_MODE_ASYMMETRIC, NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS,
                                                         NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL};
    static const NNRT_NearestMode roundings[] = {NNRT_NEAREST_MODE_FLOOR, NNRT_NEAREST_MODE_CEIL, NNRT_NEAREST_MODE_ROUND_HALF_UP};
    static const int64_t cell[4] = {1, 1, 1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 216; i++) {
        const bool linear = i % 2 == 0, first = i / 2 % 3 != 0, before = i / 2 % 3 == 2, after = before && i / 6 % 2 == 0;
        const NNRT_CoordinateTransformMode mode = modes[i % 9 / 3];
        const NNRT_NearestMode rounded = roundings[i % 3];
        const int32_t N = 1 + (int32_t)draw(2), C = i % 7 == 0 ? 1 : 1 + (int32_t)draw(40), H = 1 + (int32_t)draw(9), W = 1 + (int32_t)draw(12);
        const int32_t M[2] = {i % 5 == 0 ? 2 * H : 1 + (int32_t)draw(20), i % 5 == 0 ? 2 * W : i % 11 == 3 ? 1500 : 1 + (int32_t)draw(40)};
        const int32_t dims[4] = {N, first ? C : H, first ? H : W, first ? W : C};
        const size_t nX = product_of(4, dims), nY = (size_t)N * (size_t)C * (size_t)M[0] * (size_t)M[1];
        float *x = reals(nX), *expected = reals(nY), *bound = reals(nY);
        NNRT_Resize attr;
        NNRT_MaxPoolFusion pool;
        nnrt_builder *b = NULL;
        uint32_t in, y;
        NNRT_Model *model;
        memset(&attr, 0, sizeof(attr));
        attr.method = linear ? NNRT_RESIZE_METHOD_LINEAR : NNRT_RESIZE_METHOD_NEAREST;
        attr.newHeight = M[0];
        attr.newWidth = M[1];
        attr.coordinateTransformMode = mode;
        attr.nearestMode = rounded;
        for (int32_t n = 0; n < N; n++)
            for (int32_t c = 0; c < C; c++)
                for (int32_t p = 0; p < M[0]; p++)
                    for (int32_t q = 0; q < M[1]; q++) {
                        const size_t at = first ? (((size_t)n * (size_t)C + (size_t)c) * (size_t)M[0] + (size_t)p) * (size_t)M[1] + (size_t)q
                                                : (((size_t)n * (size_t)M[0] + (size_t)p) * (size_t)M[1] + (size_t)q) * (size_t)C + (size_t)c;
                        const double v = coordinate(mode, p, H, M[0]), u = coordinate(mode, q, W, M[1]);
                        double sum = 0;
                        for (int32_t k = 0; k < 4; k++) {
                            const int32_t h = linear ? (int32_t)v + k / 2 : nearest_cell(rounded, v, H);
                            const int32_t w = linear ? (int32_t)u + k % 2 : nearest_cell(rounded, u, W);
                            const int32_t row = h < H ? h : H - 1, column = w < W ? w : W - 1;
                            const double share = linear ? (1 - fabs(v - h)) * (1 - fabs(u - w)) : k == 0 ? 1 : 0;
                            sum += share * (double)x[first ? ((n * C + c) * H + row) * W + column : ((n * H + row) * W + column) * C + c];
                        }
                        expected[at] = (float)sum;
                        bound[at] = linear ? (float)(7 * ROUNDING * SECOND) : 0; /* elements are at most 1 */
                    }
        assert_int_equal(nnrt_builder_create(&b, "resize", NULL), NNRT_SUCCESS);
        memset(&pool, 0, sizeof(pool));
        pool.kernelSize = pool.strides = nnrt_int64_list(cell, 2);
        pool.pad = nnrt_int64_list(none, 4);
        in = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        if (before) {
            const uint32_t from = in;
            in = nnrt_builder_tensor(b, "before");
            nnrt_builder_format(b, in, NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &from, 1, &in, 1);
        }
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_format(b, y, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_node(b, "resize", NNRT_NODE_TYPE_RESIZE, &attr, &in, 1, &y, 1);
        if (after) {
            const uint32_t from = y;
            y = nnrt_builder_tensor(b, "after");
            nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "again", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &from, 1, &y, 1);
        }
        nnrt_builder_output(b, y);
        model = finish(b);
        kernel = "resize";
        check_all(model, x, nX, nY, expected, bound, linear ? "a linear resize" : "a nearest resize");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* LRN: y = x (bias + alpha * sum of squares)^-beta. The sum has a rounding for each square and addition, the base two
   more; the power multiplies them by |beta| and adds one ulp, the product one rounding. Between 1x1 pools x is stored
   channels last. */
static void test_lrn(void **unused)
{
    static const float betas[] = {0.75f, 0.5f, 1, -1.25f};
    static const int64_t cell[4] = {1, 1, 1, 1}, none[4] = {0, 0, 0, 0};
    (void)unused;
    state = 6;
    for (uint32_t i = 0; i < 96; i++) {
        const bool first = i % 3 != 0, between = i % 3 == 2;
        const int32_t N = 1 + (int32_t)draw(2), C = 1 + (int32_t)draw(40), H = 1 + (int32_t)draw(4), W = 1 + (int32_t)draw(40);
        const int32_t radius = i % 8 == 0 ? 50 : (int32_t)draw(4), dims[4] = {N, first ? C : H, first ? H : W, first ? W : C};
        const size_t nX = product_of(4, dims), step = first ? (size_t)H * (size_t)W : 1;
        float *x = reals(nX), *expected = reals(nX), *bound = reals(nX);
        NNRT_LRN attr;
        NNRT_MaxPoolFusion pool;
        nnrt_builder *b = NULL;
        uint32_t in, y;
        NNRT_Model *model;
        attr.depthRadius = radius;
        attr.bias = 1.5f;
        attr.alpha = 0.3f;
        attr.beta = betas[i % 4];
        attr.normRegion = "ACROSS_CHANNELS";
        for (size_t k = 0; k < nX; k++) {
            const int32_t c = (int32_t)(k / step % (size_t)C);
            double sum = 0, all;
            for (int32_t t = c - radius; t <= c + radius; t++)
                if (t >= 0 && t < C) {
                    const double v = (double)x[(ptrdiff_t)k + (t - c) * (ptrdiff_t)step];
                    sum += v * v;
                }
            all = (double)x[k] * pow((double)attr.bias + (double)attr.alpha * sum, -(double)attr.beta);
            expected[k] = (float)all;
            bound[k] = (float)((fabs((double)attr.beta) * (2 + 2 * fmin(2 * radius + 1, C)) + 3) * fabs(all) * ROUNDING * SECOND);
        }
        assert_int_equal(nnrt_builder_create(&b, "lrn", NULL), NNRT_SUCCESS);
        memset(&pool, 0, sizeof(pool));
        pool.kernelSize = pool.strides = nnrt_int64_list(cell, 2);
        pool.pad = nnrt_int64_list(none, 4);
        in = nnrt_builder_input(b, "x", F32, 4, dims);
        nnrt_builder_format(b, in, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        if (between) {
            const uint32_t from = in;
            in = nnrt_builder_tensor(b, "before");
            nnrt_builder_format(b, in, NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &from, 1, &in, 1);
        }
        y = nnrt_builder_tensor(b, "y");
        nnrt_builder_format(b, y, first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        nnrt_builder_node(b, "lrn", NNRT_NODE_TYPE_LRN, &attr, &in, 1, &y, 1);
        if (between) {
            const uint32_t from = y;
            y = nnrt_builder_tensor(b, "after");
            nnrt_builder_format(b, y, NNRT_FORMAT_NCHW);
            nnrt_builder_node(b, "again", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, &from, 1, &y, 1);
        }
        nnrt_builder_output(b, y);
        model = finish(b);
        kernel = "lrn";
        check_all(model, x, nX, nX, expected, bound, "an LRN");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* Roundings: the squares and the sum, which compensates its errors; the root halves them; the root, epsilon and the
   quotient. 4 in all, and half of one that remains in the sum. */
static void test_norms(void **unused)
{
    static const int64_t last = -1;
    (void)unused;
    state = 7;
    for (uint32_t i = 0; i < 4 * COUNT(lengths); i++) {
        const uint32_t way = i % 4; /* 0, 1: L2_NORMALIZE_FUSION; 2: LP_NORMALIZATION by 2; 3: by 1 */
        const int32_t n = lengths[i / 4] > 0 ? lengths[i / 4] : 6, dims[2] = {5, n};
        const size_t nX = product_of(2, dims);
        float *x = reals(nX), *expected = reals(nX), *bound = reals(nX);
        NNRT_L2NormalizeFusion l2;
        NNRT_LpNormalization lp;
        nnrt_builder *b = NULL;
        uint32_t in;
        NNRT_Model *model;
        memset(&l2, 0, sizeof(l2));
        l2.axis = nnrt_int64_list(&last, 1);
        l2.epsilon = way == 0 ? 1e-6f : 3.0f; /* exceeds the sum of short rows */
        lp.axis = -1;
        lp.p = way == 2 ? 0 : 1;
        lp.epsilon = 0.125f;
        for (int32_t r = 0; r < 5; r++) {
            double sum = 0;
            for (int32_t k = 0; k < n; k++)
                sum += way == 3 ? fabs((double)x[r * n + k]) : (double)x[r * n + k] * (double)x[r * n + k];
            if (way < 2 && sum < (double)l2.epsilon)
                sum = (double)l2.epsilon;
            sum = (way == 3 ? sum : sqrt(sum)) + (way < 2 ? 0 : (double)lp.epsilon);
            for (int32_t k = 0; k < n; k++) {
                const double y = (double)x[r * n + k] / sum;
                expected[r * n + k] = (float)y;
                bound[r * n + k] = (float)(5 * fabs(y) * ROUNDING * SECOND);
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "norm", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 2, dims);
        nnrt_builder_output(b, way < 2 ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_L2_NORMALIZE_FUSION, &l2, &in, 1)
                                       : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_LP_NORMALIZATION, &lp, &in, 1));
        model = finish(b);
        kernel = "lp_norm";
        check_all(model, x, nX, nX, expected, bound, "a normalization");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(bound);
        free(expected);
        free(x);
    }
}

/* ---- powers ---- */

/* x^y, with x and y of all kinds, elementwise or one of them a scalar; for a normal x the error is at most 0.51 ulp. */
static void test_powers(void **unused)
{
    static const NNRT_PowFusion attr = {1, 0};
    (void)unused;
    state = 8;
    for (uint32_t i = 0; i < 4 * COUNT(lengths); i++) {
        const int32_t n = i % 4 == 3 ? 20000 + lengths[i / 4] : lengths[i / 4], one = 1;
        const uint32_t way = i % 4; /* 0, 3: both; 1: one x; 2: one y */
        const size_t count = (size_t)n;
        float *x = specials(count), *y = specials(count), *z = reals(count);
        nnrt_builder *b = NULL;
        uint32_t ids[2];
        nnrt_io in[2];
        NNRT_Model *model;
        for (size_t k = 0; k < count; k++) {
            const uint32_t bits = draw(0x7F800000u);
            if (draw(4) > 0) {
                memcpy(&x[k], &bits, sizeof(bits));
                x[k] = draw(3) == 0 ? 1 + real() * 0.01f : draw(20) == 0 ? -x[k] : x[k];
                y[k] = draw(2) == 0 ? real() * 3 : (float)(100 / fmax(fabs(log2((double)x[k])), 0.01)) * real() * 1.6f;
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "power", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", F32, 1, way == 1 ? &one : &n);
        ids[1] = nnrt_builder_input(b, "y", F32, 1, way == 2 ? &one : &n);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_POW_FUSION, &attr, ids, 2));
        model = finish(b);
        in[0] = nnrt_io_make(x, (way == 1 ? 1 : count) * sizeof(float));
        in[1] = nnrt_io_make(y, (way == 2 ? 1 : count) * sizeof(float));
        kernel = "binary";
        for (uint32_t s = 0; s < nSets; s++) {
            if (has_no_floats(s) || n == 0)
                continue;
            run_bytes(sets[s], model, in, 2, z, count * sizeof(float), 3);
            for (size_t k = 0; k < count; k++) {
                const double u = (double)x[way == 1 ? 0 : k], v = (double)y[way == 2 ? 0 : k], exact = pow(u, v);
                const double off = 1.02 * ROUNDING * fmax(fabs(exact), 0x1p-126);
                if (exact != exact ? z[k] == z[k]
                                   : !(fabs((double)z[k] - exact) <= off) && !((double)z[k] == exact) &&
                                         !(fabs(exact) > (double)FLT_MAX && fabsf(z[k]) > FLT_MAX && (exact > 0) == (z[k] > 0)))
                    fail_msg("%.9g ^ %.9g on %s is %.9g, expected %.9g", u, v, sets[s], (double)z[k], exact);
            }
        }
        kernel = NULL;
        nnrt_model_destroy(model);
        free(z);
        free(y);
        free(x);
    }
}

/* ---- tensors of 2^30 elements ---- */

/* An input [1,2,2,1] (an image, NHWC) or [1,2], tiled to `dims` unless that is NULL; the node; and the maximum of its
   result. */
static NNRT_Model *model_between(NNRT_NodeType type, const void *attr, int32_t rank, const int32_t *dims)
{
    const int32_t cells[4] = {1, 2, 2, 1}, axes[4] = {0, 1, 2, 3};
    int32_t times[4];
    nnrt_builder *b = NULL;
    NNRT_ReduceFusion reduce;
    uint32_t ids[2], y;
    memset(&reduce, 0, sizeof(reduce));
    reduce.mode = NNRT_REDUCE_MODE_MAX;
    assert_int_equal(nnrt_builder_create(&b, "vast", NULL), NNRT_SUCCESS);
    ids[0] = nnrt_builder_input(b, "x", F32, rank, cells);
    if (dims != NULL) {
        for (int32_t k = 0; k < rank; k++)
            times[k] = dims[k] / cells[k];
        ids[1] = nnrt_builder_constant(b, "times", NNRT_DATA_TYPE_INT32, 1, &rank, times, true);
        ids[0] = nnrt_builder_op(b, "tiled", NNRT_NODE_TYPE_TILE_FUSION, NULL, ids, 2);
    }
    y = nnrt_builder_tensor(b, "y");
    if (rank == 4) {
        nnrt_builder_format(b, ids[0], NNRT_FORMAT_NHWC);
        nnrt_builder_format(b, y, NNRT_FORMAT_NHWC);
    }
    nnrt_builder_node(b, "node", type, attr, ids, 1, &y, 1);
    ids[0] = y;
    ids[1] = nnrt_builder_constant(b, "axes", NNRT_DATA_TYPE_INT32, 1, &rank, axes, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "most", NNRT_NODE_TYPE_REDUCE_FUSION, &reduce, ids, 2));
    return finish(b);
}

/* The kernel supports the node in each set if `taken`, else in none. Without a required kernel planning succeeds. No
   tensor is allocated. */
static void check_taken(NNRT_NodeType type, const void *attr, int32_t rank, const int32_t *dims, const char *name, bool taken)
{
    NNRT_Model *model = model_between(type, attr, rank, dims);
    for (uint32_t s = 0; s < nSets; s++) {
        nnrt_session_desc desc;
        NNRT_Extension extensions[MOST_EXTENSIONS];
        nnrt_error e;
        size_t bytes;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        if (has_no_floats(s))
            continue;
        desc.device = sets[s];
        if (nnrt_session_bytes(model, &desc, &bytes, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s: %s", sets[s], nnrt_op_find(type)->name, e.message);
        kernel = name;
        add_extensions(&desc, extensions);
        kernel = NULL;
        if (nnrt_session_bytes(model, &desc, &bytes, &e) != (taken ? NNRT_SUCCESS : NNRT_NOT_SUPPORT))
            fail_msg("%s: %s by '%s': %s", sets[s], nnrt_op_find(type)->name, name, e.message);
    }
    nnrt_model_destroy(model);
}

/* Tensors of 2^30 elements or more use the reference kernels, because products of dimensions have 32 bits; smaller ones
   do not. */
static void test_vast(void **unused)
{
    static const int32_t vast[2][4] = {{1 << 15, 1 << 15, 2, 1}, {1, 1 << 15, 1 << 15, 1}}, lines[2] = {1 << 20, 1 << 12};
    static const int32_t fewer[4] = {1, 1 << 15, (1 << 15) - 2, 1}, less[2] = {1 << 15, (1 << 15) - 2};
    int64_t cell[2] = {1, 1}, none[4] = {0, 0, 0, 0}, axis = -1;
    NNRT_MaxPoolFusion pool;
    NNRT_Resize resize;
    NNRT_Softmax softmax;
    NNRT_LRN lrn;
    (void)unused;
    if (sizeof(size_t) < 8)
        return; /* no such tensor on this target */
    memset(&pool, 0, sizeof(pool));
    pool.kernelSize = pool.strides = nnrt_int64_list(cell, 2);
    pool.pad = nnrt_int64_list(none, 4);
    memset(&softmax, 0, sizeof(softmax));
    softmax.axis = nnrt_int64_list(&axis, 1);
    memset(&lrn, 0, sizeof(lrn));
    lrn.depthRadius = 1;
    lrn.bias = lrn.alpha = 1;
    lrn.beta = 0.5f;
    for (uint32_t i = 0; i < 2; i++) {
        check_taken(NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, 4, vast[i], "max_pool", false);
        check_taken(NNRT_NODE_TYPE_LRN, &lrn, 4, vast[i], "lrn", false);
    }
    check_taken(NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, 4, fewer, "max_pool", true);
    check_taken(NNRT_NODE_TYPE_LRN, &lrn, 4, fewer, "lrn", true);
    check_taken(NNRT_NODE_TYPE_SOFTMAX, &softmax, 2, lines, "softmax", false);
    check_taken(NNRT_NODE_TYPE_SOFTMAX, &softmax, 2, less, "softmax", true);
    check_taken(NNRT_NODE_TYPE_ABS, NULL, 2, lines, "unary", false);
    check_taken(NNRT_NODE_TYPE_ABS, NULL, 2, less, "unary", true);
    memset(&resize, 0, sizeof(resize));
    resize.method = NNRT_RESIZE_METHOD_NEAREST;
    resize.newHeight = INT32_MAX; /* with the column more than 32 bits */
    resize.newWidth = 1;
    check_taken(NNRT_NODE_TYPE_RESIZE, &resize, 4, NULL, "resize", false);
    resize.newHeight = resize.newWidth = 1 << 15;
    check_taken(NNRT_NODE_TYPE_RESIZE, &resize, 4, NULL, "resize", false);
    resize.newHeight--;
    check_taken(NNRT_NODE_TYPE_RESIZE, &resize, 4, NULL, "resize", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparisons), cmocka_unit_test(test_choices), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_dynamic_extremes),
        cmocka_unit_test(test_positions),   cmocka_unit_test(test_tops),    cmocka_unit_test(test_resizes),
        cmocka_unit_test(test_lrn),
        cmocka_unit_test(test_norms),         cmocka_unit_test(test_powers),
        cmocka_unit_test(test_vast),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
