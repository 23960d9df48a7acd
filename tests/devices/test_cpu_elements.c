/* The fast device (devices/nnrt_cpu.h) with each instruction set of this machine: operators on elements of any type.
   Expected values are computed here in plain C, and must be met exactly, by the reference device, too; products have a
   bound. */
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

#define I8 NNRT_DATA_TYPE_INT8
#define I16 NNRT_DATA_TYPE_INT16
#define I32 NNRT_DATA_TYPE_INT32
#define I64 NNRT_DATA_TYPE_INT64
#define U8 NNRT_DATA_TYPE_UINT8
#define U32 NNRT_DATA_TYPE_UINT32
#define F16 NNRT_DATA_TYPE_FLOAT16
#define F64 NNRT_DATA_TYPE_FLOAT64
#define BOOLS NNRT_DATA_TYPE_BOOL

static const int32_t lengths[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130, 257, 1501};

/* ---- elements ---- */

/* Element i as an integer; of a float, its bits. */
static int64_t load(const void *p, size_t i, NNRT_DataType type)
{
    uint16_t half;
    uint32_t word;
    int64_t wide;
    switch (type) {
    case I8: return ((const int8_t *)p)[i];
    case U8:
    case BOOLS: return ((const uint8_t *)p)[i];
    case I16: return ((const int16_t *)p)[i];
    case F16: memcpy(&half, (const uint8_t *)p + 2 * i, 2); return half;
    case I32: return ((const int32_t *)p)[i];
    case U32:
    case F32: memcpy(&word, (const uint8_t *)p + 4 * i, 4); return word;
    default: memcpy(&wide, (const uint8_t *)p + 8 * i, 8); return wide;
    }
}

static void store(void *p, size_t i, int64_t v, NNRT_DataType type)
{
    const size_t width = nnrt_type_size(type);
    const uint8_t one = (uint8_t)v;
    const uint16_t two = (uint16_t)v;
    const uint32_t four = (uint32_t)v;
    memcpy((uint8_t *)p + width * i,
           width == 1 ? (const void *)&one : width == 2 ? (const void *)&two : width == 4 ? (const void *)&four : (const void *)&v, width);
}

/* The value of a float, to compare. */
static double value(const void *p, size_t i, NNRT_DataType type)
{
    float word;
    double wide;
    if (type == F16)
        return (double)nnrt_half_to_float((uint16_t)load(p, i, F16));
    if (type == F32) {
        memcpy(&word, (const uint8_t *)p + 4 * i, 4);
        return (double)word;
    }
    memcpy(&wide, (const uint8_t *)p + 8 * i, 8);
    return wide;
}

static bool is_float(NNRT_DataType type)
{
    return type == F16 || type == F32 || type == F64;
}

/* Elements of small integers, the least and greatest of the type, and of floats NaN, infinities, -0 and subnormal ones. */
static void *some(size_t count, NNRT_DataType type)
{
    void *made = calloc(count + 1, nnrt_type_size(type));
    const uint32_t bits = 8 * (uint32_t)nnrt_type_size(type);
    const int64_t top = (int64_t)((uint64_t)1 << (bits - 1));
    for (size_t i = 0; i < count; i++) {
        const uint32_t way = draw(16);
        const int64_t infinity = type == F16 ? 0x7c00 : type == F32 ? 0x7f800000 : (int64_t)0x7ff << 52;
        int64_t v = (int64_t)draw(9) - 4;
        if (type == BOOLS)
            v = draw(2);
        else if (is_float(type) && way < 3)
            v = infinity | (way == 1 ? top : 0) | (way == 2 ? 1 + (int64_t)draw(3) : 0);
        else if (is_float(type) && way == 3)
            v = draw(2) == 0 ? top : 1;
        else if (is_float(type)) {
            const float f = (float)v + (float)draw(4) / 4;
            const double d = (double)f;
            if (type == F16)
                v = nnrt_half_from_float(f);
            else if (type == F64)
                memcpy(&v, &d, 8);
            else {
                uint32_t word;
                memcpy(&word, &f, 4);
                v = word;
            }
        } else if (way < 2)
            v = way == 0 ? top : (int64_t)((uint64_t)top - 1);
        else if (way < 8)
            v = (int64_t)((uint64_t)draw(0x7fffffff) << 33 | draw(0x7fffffff)) >> draw(bits);
        store(made, i, v, type);
    }
    return made;
}

/* ---- models of one node ---- */

static NNRT_ReturnCode run_all(const char *device, const NNRT_Model *model, const nnrt_io *in, uint32_t nIn, void *y, size_t bytes,
                               uint32_t workers, nnrt_dims *shape)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    const nnrt_io out = nnrt_io_make(y, bytes);
    nnrt_error e;
    NNRT_ReturnCode code;
    team t;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.parallel = team_of(&t, workers);
    if (strcmp(device, "reference") != 0)
        add_extensions(&desc, extensions);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    code = nnrt_run(session, in, nIn, &out, 1);
    if (shape != NULL)
        *shape = nnrt_session_output(session, 0).shape;
    nnrt_session_destroy(session);
    return code;
}

/* Each set and the reference device return `code` and, if that is success, exactly these bytes and this shape (or NULL). */
static void check(const NNRT_Model *model, const nnrt_io *in, uint32_t nIn, const void *expected, size_t bytes, size_t room,
                  const int32_t *dims, NNRT_ReturnCode wanted, const char *what)
{
    uint8_t *y = (uint8_t *)malloc(room + 1);
    for (uint32_t s = 0; s <= nSets; s++)
        for (uint32_t workers = 0; workers <= (s < nSets ? 3 : 0); workers += 3) {
            const char *device = s < nSets ? sets[s] : "reference";
            nnrt_dims shape;
            NNRT_ReturnCode code;
            if (s < nSets && has_no_floats(s))
                break;
            memset(y, 0xA5, room);
            code = run_all(device, model, in, nIn, y, room, workers, &shape);
            if (code != wanted)
                fail_msg("%s on %s: code %d, expected %d", what, device, (int)code, (int)wanted);
            for (size_t i = 0; wanted == NNRT_SUCCESS && i < bytes; i++)
                if (y[i] != ((const uint8_t *)expected)[i])
                    fail_msg("%s on %s, %u workers: byte %u of %u is %02x, expected %02x", what, device, workers, (unsigned)i,
                             (unsigned)bytes, y[i], ((const uint8_t *)expected)[i]);
            for (int32_t i = 0; wanted == NNRT_SUCCESS && dims != NULL && i < shape.rank; i++)
                if (shape.dims[i] != dims[i])
                    fail_msg("%s on %s: dimension %d is %d, expected %d", what, device, i, shape.dims[i], dims[i]);
        }
    free(y);
}

/* ---- elementwise ---- */

/* z [a,b,c] and x, which has the axes in `kept` of it. */
static size_t place_of(size_t k, const int32_t z[3], uint32_t kept)
{
    const size_t c = k % (size_t)z[2], b = k / (size_t)z[2] % (size_t)z[1], a = k / ((size_t)z[2] * (size_t)z[1]);
    const size_t width = kept & 4 ? (size_t)z[2] : 1, height = kept & 2 ? (size_t)z[1] : 1;
    return ((kept & 1 ? a : 0) * height + (kept & 2 ? b : 0)) * width + (kept & 4 ? c : 0);
}

static int64_t computed(NNRT_NodeType type, int64_t x, int64_t y)
{
    const uint64_t p = (uint64_t)x, q = (uint64_t)y;
    switch (type) {
    case NNRT_NODE_TYPE_ADD_FUSION: return (int64_t)(p + q);
    case NNRT_NODE_TYPE_SUB_FUSION: return (int64_t)(p - q);
    case NNRT_NODE_TYPE_MUL_FUSION: return (int64_t)(p * q);
    case NNRT_NODE_TYPE_MAXIMUM: return x > y ? x : y;
    case NNRT_NODE_TYPE_MINIMUM: return x < y ? x : y;
    case NNRT_NODE_TYPE_LOGICAL_AND: return x != 0 && y != 0;
    case NNRT_NODE_TYPE_LOGICAL_OR: return x != 0 || y != 0;
    case NNRT_NODE_TYPE_LOGICAL_XOR: return (x != 0) != (y != 0);
    case NNRT_NODE_TYPE_ABS: return x < 0 ? (int64_t)(0 - p) : x;
    case NNRT_NODE_TYPE_NEG: return (int64_t)(0 - p);
    case NNRT_NODE_TYPE_FLOOR_DIV: return y == -1 ? (int64_t)(0 - p) : x / y - (x % y != 0 && (x < 0) != (y < 0));
    default: return y == -1 ? 0 : x % y;
    }
}

static void test_integers(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_ADD_FUSION,  NNRT_NODE_TYPE_SUB_FUSION,   NNRT_NODE_TYPE_MUL_FUSION,
                                          NNRT_NODE_TYPE_MAXIMUM,     NNRT_NODE_TYPE_MINIMUM,      NNRT_NODE_TYPE_FLOOR_DIV,
                                          NNRT_NODE_TYPE_MOD,         NNRT_NODE_TYPE_ABS,          NNRT_NODE_TYPE_NEG,
                                          NNRT_NODE_TYPE_LOGICAL_AND, NNRT_NODE_TYPE_LOGICAL_OR,   NNRT_NODE_TYPE_LOGICAL_XOR};
    static const NNRT_DataType elements[] = {I8, I32, I64, U8};
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < COUNT(types) * COUNT(elements) * 5; i++) {
        const NNRT_NodeType type = types[i % COUNT(types)];
        const bool logical = i % COUNT(types) >= 9, one = type == NNRT_NODE_TYPE_ABS || type == NNRT_NODE_TYPE_NEG;
        const bool divides = type == NNRT_NODE_TYPE_FLOOR_DIV || type == NNRT_NODE_TYPE_MOD;
        const NNRT_DataType of = logical ? BOOLS : elements[i / COUNT(types) % COUNT(elements)];
        const int32_t z[3] = {1 + (int32_t)draw(3), 2 + (int32_t)draw(3), lengths[1 + draw(COUNT(lengths) - 1)]};
        const uint32_t keptX = draw(2) == 0 ? 7 : draw(8), keptY = keptX != 7 || one || draw(3) == 0 ? 7 : draw(8);
        int32_t x[3], y[3];
        const size_t n = product_of(3, z), width = nnrt_type_size(of);
        const bool zero = divides && draw(8) == 0;
        nnrt_builder *b = NULL;
        nnrt_io in[2];
        uint32_t ids[2];
        void *p, *q, *expected;
        NNRT_Model *model;
        if (one && of == U8)
            continue;
        expected = calloc(n, width);
        for (uint32_t k = 0; k < 3; k++) {
            x[k] = one || keptX >> k & 1 ? z[k] : 1;
            y[k] = keptY >> k & 1 ? z[k] : 1;
        }
        p = some(product_of(3, x), of);
        q = some(product_of(3, y), of);
        for (size_t k = 0; k < product_of(3, y) && divides; k++)
            if (load(q, k, of) == 0)
                store(q, k, 3, of);
        if (zero)
            store(q, draw((uint32_t)product_of(3, y)), 0, of);
        for (size_t k = 0; k < n && !zero; k++)
            store(expected, k, computed(type, load(p, one ? k : place_of(k, z, keptX), of), load(q, place_of(k, z, keptY), of)), of);
        assert_int_equal(nnrt_builder_create(&b, "integers", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", of, 3, x);
        if (!one)
            ids[1] = nnrt_builder_input(b, "y", of, 3, y);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", type, NULL, ids, one ? 1 : 2));
        model = finish(b);
        in[0] = nnrt_io_make(p, product_of(3, x) * width);
        in[1] = nnrt_io_make(q, product_of(3, y) * width);
        kernel = "integers";
        check(model, in, one ? 1 : 2, expected, n * width, n * width, NULL, zero ? NNRT_INVALID_PARAMETER : NNRT_SUCCESS,
              nnrt_op_find(type)->name);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(expected);
        free(q);
        free(p);
    }
}

static void test_classes(void **unused)
{
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_LOGICAL_NOT, NNRT_NODE_TYPE_IS_NAN, NNRT_NODE_TYPE_IS_INF};
    static const NNRT_DataType elements[] = {F16, F32, F64, I8, I16, I32, I64, BOOLS};
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < COUNT(elements) * COUNT(lengths) * 5; i++) {
        const NNRT_DataType of = elements[i % COUNT(elements)];
        const NNRT_NodeType type = is_float(of) ? types[i / COUNT(elements) % 3] : NNRT_NODE_TYPE_LOGICAL_NOT;
        const NNRT_IsInf signs = {draw(2) == 0, draw(2) == 0};
        const bool any = type == NNRT_NODE_TYPE_IS_INF && (signs.detectNegative || signs.detectPositive);
        const int32_t dims[2] = {1 + (int32_t)draw(3), lengths[i / COUNT(elements) % COUNT(lengths)]};
        const size_t n = product_of(2, dims);
        void *x = some(n, of);
        uint8_t *expected = (uint8_t *)malloc(n);
        const nnrt_io in = nnrt_io_make(x, n * nnrt_type_size(of));
        nnrt_builder *b = NULL;
        uint32_t id;
        NNRT_Model *model;
        for (size_t k = 0; k < n; k++) {
            const double v = is_float(of) ? value(x, k, of) : (double)load(x, k, of);
            expected[k] = type == NNRT_NODE_TYPE_LOGICAL_NOT ? v == 0
                          : type == NNRT_NODE_TYPE_IS_NAN    ? v != v
                                                             : isinf(v) && (v > 0 ? signs.detectPositive : signs.detectNegative);
        }
        assert_int_equal(nnrt_builder_create(&b, "classes", NULL), NNRT_SUCCESS);
        id = nnrt_builder_input(b, "x", of, 2, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", type, type == NNRT_NODE_TYPE_IS_INF ? &signs : NULL, &id, 1));
        model = finish(b);
        kernel = n > 1 && (any || type != NNRT_NODE_TYPE_IS_INF) ? "classify" : NULL;
        check(model, &in, 1, expected, n, n, NULL, NNRT_SUCCESS, nnrt_op_find(type)->name);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(expected);
        free(x);
    }
}

/* ---- reductions ---- */

/* The product of n factors in any order has n - 1 roundings, of float16 one more. Factors are near 1, so that no product
   overflows; one set has a zero, one a NaN. */
static void test_products(void **unused)
{
    static const int32_t axes[][2] = {{0, -1}, {1, -1}, {2, -1}, {1, 2}, {0, 1}};
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < COUNT(axes) * COUNT(lengths) * 2; i++) {
        const int32_t *axis = axes[i % COUNT(axes)];
        const bool half = i >= COUNT(axes) * COUNT(lengths), two = axis[1] >= 0;
        const int32_t dims[3] = {1 + (int32_t)draw(4), 1 + (int32_t)draw(40), lengths[i / COUNT(axes) % COUNT(lengths)]};
        int32_t kept[3];
        const size_t nX = product_of(3, dims);
        NNRT_ReduceFusion attr;
        uint16_t *x16 = (uint16_t *)malloc(nX * 2);
        float *x = (float *)malloc(nX * sizeof(float));
        double *expected, count = 1;
        size_t nY;
        nnrt_builder *b = NULL;
        uint32_t ids[2];
        const nnrt_io in = nnrt_io_make(half ? (void *)x16 : (void *)x, nX * (half ? 2 : 4));
        NNRT_Model *model;
        memset(&attr, 0, sizeof(attr));
        attr.mode = NNRT_REDUCE_MODE_PROD;
        attr.keepDims = true;
        attr.coeff = 1;
        for (size_t k = 0; k < nX; k++) {
            x[k] = (float)(draw(2) == 0 ? -1 : 1) * (0.96875f + (float)draw(17) / 256);
            x16[k] = nnrt_half_from_float(x[k]); /* exact */
        }
        if (draw(3) == 0) {
            const size_t at = draw((uint32_t)nX);
            x[at] = draw(2) == 0 ? NAN : -0.0f;
            x16[at] = nnrt_half_from_float(x[at]);
        }
        for (int32_t k = 0; k < 3; k++) {
            const bool gone = k == axis[0] || k == axis[1];
            kept[k] = gone ? 1 : dims[k];
            count *= gone ? dims[k] : 1;
        }
        nY = product_of(3, kept);
        expected = (double *)malloc(nY * sizeof(double));
        for (size_t k = 0; k < nY; k++)
            expected[k] = 1;
        for (size_t k = 0; k < nX; k++)
            expected[place_of(k, dims, (kept[0] == dims[0] ? 1u : 0) | (kept[1] == dims[1] ? 2u : 0) | (kept[2] == dims[2] ? 4u : 0))] *= (double)x[k];
        assert_int_equal(nnrt_builder_create(&b, "products", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", half ? F16 : F32, 3, dims);
        ids[1] = nnrt_builder_constant(b, "axes", I32, 1, (const int32_t[]){two ? 2 : 1}, axis, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_REDUCE_FUSION, &attr, ids, 2));
        model = finish(b);
        for (uint32_t s = 0; s <= nSets; s++) {
            const char *device = s < nSets ? sets[s] : "reference";
            uint8_t *y = (uint8_t *)malloc(nY * 4 + 1), *again = (uint8_t *)malloc(nY * 4 + 1);
            if (s < nSets && has_no_floats(s)) {
                free(again);
                free(y);
                continue;
            }
            kernel = "reduce";
            assert_int_equal(run_all(device, model, &in, 1, y, nY * (half ? 2 : 4), 0, NULL), NNRT_SUCCESS);
            assert_int_equal(run_all(device, model, &in, 1, again, nY * (half ? 2 : 4), 5, NULL), NNRT_SUCCESS);
            kernel = NULL;
            assert_memory_equal(y, again, nY * (half ? 2 : 4));
            for (size_t k = 0; k < nY; k++) {
                const double got = value(y, k, half ? F16 : F32);
                const double bound = fabs(expected[k]) * (count * SECOND * ROUNDING + (half ? 0x1p-11 : 0)) + (half ? 0x1p-24 : 0);
                if (!(fabs(got - expected[k]) <= bound) && !(isnan(got) && isnan(expected[k])))
                    fail_msg("a product of %g on %s: element %u is %.9g, expected %.9g", count, device, (unsigned)k, got, expected[k]);
            }
            free(again);
            free(y);
        }
        nnrt_model_destroy(model);
        free(expected);
        free(x);
        free(x16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
