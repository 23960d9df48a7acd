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

/* Integers wrap, float64 is summed plainly, float32 and float16 are compensated by Knuth's two-sum. */
static void test_cumulative(void **unused)
{
    static const NNRT_DataType elements[] = {F32, F16, F64, I32, I64, U32, I8};
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < COUNT(elements) * COUNT(lengths) * 3; i++) {
        const NNRT_DataType of = elements[i % COUNT(elements)];
        const NNRT_CumSum attr = {draw(2) == 0, draw(2) == 0};
        const int32_t axis = (int32_t)(i / COUNT(elements) % 3), last = lengths[i / COUNT(elements) / 3];
        const int32_t dims[3] = {1 + (int32_t)draw(4), 1 + (int32_t)draw(9), last < 300 ? last : 300};
        const int64_t given = draw(2) == 0 ? axis : axis - 3;
        const size_t n = product_of(3, dims), width = nnrt_type_size(of);
        const size_t step = axis == 2 ? 1 : (size_t)dims[2] * (axis == 1 ? 1 : (size_t)dims[1]), L = (size_t)dims[axis];
        void *x = some(n, of), *expected = calloc(n, width);
        const nnrt_io in = nnrt_io_make(x, n * width);
        nnrt_builder *b = NULL;
        uint32_t ids[2];
        NNRT_Model *model;
        for (size_t k = 0; k < n && is_float(of); k++) /* +Inf remains: no result is NaN, which may have any payload */
            if (!(value(x, k, of) > -INFINITY))
                store(x, k, of == F16 ? 0x3c00 : of == F32 ? 0x3f800000 : (int64_t)0x3ff << 52, of);
        for (size_t line = 0; line < n / L; line++) {
            const size_t first = line / step * step * L + line % step;
            volatile float sum = 0, rest = 0;
            volatile double wide = 0;
            uint64_t whole = 0;
            for (size_t k = 0; k < L; k++) {
                const size_t at = first + (attr.reverse ? L - 1 - k : k) * step;
                for (uint32_t pass = 0; pass < 2; pass++) {
                    if (pass == (attr.exclusive ? 0 : 1)) {
                        const float whole32 = rest - rest == 0 ? sum + rest : sum;
                        uint32_t word;
                        int64_t bits;
                        double d = wide;
                        memcpy(&word, &whole32, 4);
                        memcpy(&bits, &d, 8);
                        store(expected, at, of == F32 ? (int64_t)word : of == F16 ? nnrt_half_from_float(whole32) : of == F64 ? bits : (int64_t)whole, of);
                    }
                    if (pass == 0 && of == F64) {
                        wide = wide + value(x, at, of);
                    } else if (pass == 0 && is_float(of)) {
                        const volatile float v = (float)value(x, at, of);
                        const volatile float total = sum + v, part = total - sum;
                        const volatile float a = sum - (total - part), c = v - part;
                        rest = rest + (a + c);
                        sum = total;
                    } else if (pass == 0) {
                        whole += (uint64_t)load(x, at, of);
                    }
                }
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "sums", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", of, 3, dims);
        ids[1] = nnrt_builder_constant(b, "axis", I64, 0, NULL, &given, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CUM_SUM, &attr, ids, 2));
        model = finish(b);
        kernel = "cum_sum";
        check(model, &in, 1, expected, n * width, n * width, NULL, NNRT_SUCCESS, "a cumulative sum");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(expected);
        free(x);
    }
}

/* ---- selections ---- */

/* Whether element a comes before b: NaN last, -0 equal to 0, of equal ones the first. */
static int32_t ordered(const void *x, size_t a, size_t b, NNRT_DataType of, bool rising)
{
    if (is_float(of)) {
        const double p = value(x, a, of), q = value(x, b, of);
        if (isnan(p) || isnan(q))
            return (isnan(q) ? 1 : 0) - (isnan(p) ? 1 : 0);
        return p == q ? 0 : (p > q) != rising ? 1 : -1;
    }
    return load(x, a, of) == load(x, b, of) ? 0 : (load(x, a, of) > load(x, b, of)) != rising ? 1 : -1;
}

/* The best k elements of lines along any axis: few and many, up to all. Elements repeat. */
static void test_best(void **unused)
{
    static const NNRT_DataType elements[] = {F32, F64, F16, I32, I64, I8, U8};
    static const NNRT_TopKFusion attrs[3] = {{true, 0}, {true, 1}, {true, 2}};
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < COUNT(elements) * COUNT(lengths) * 3; i++) {
        const NNRT_DataType of = elements[i % COUNT(elements)];
        const int32_t axis = (int32_t)(i / COUNT(elements) % 3), length = lengths[i / COUNT(elements) / 3];
        const bool largest = draw(2) == 0, places = draw(2) == 0;
        int32_t dims[3] = {1 + (int32_t)draw(3), 1 + (int32_t)draw(3), 1 + (int32_t)draw(40)};
        size_t step, n, L, k;
        int64_t count;
        void *x, *values;
        int64_t *at;
        uint8_t *used;
        nnrt_io in;
        nnrt_builder *b = NULL;
        uint32_t ids[2], out[2];
        NNRT_Model *model;
        dims[axis] = length;
        count = i % 4 == 0 ? length : 1 + (int64_t)draw((uint32_t)(length < 100 ? length : 100));
        n = product_of(3, dims);
        L = (size_t)length;
        k = (size_t)count;
        step = axis == 2 ? 1 : (size_t)dims[2] * (axis == 1 ? 1 : (size_t)dims[1]);
        x = some(n, of);
        in = nnrt_io_make(x, n * nnrt_type_size(of));
        values = calloc(n / L * k, nnrt_type_size(of));
        at = (int64_t *)calloc(n / L * k, sizeof(int64_t));
        used = (uint8_t *)malloc(L);
        for (size_t line = 0; line < n / L; line++) {
            const size_t first = line / step * step * L + line % step, to = line / step * step * k + line % step;
            memset(used, 0, L);
            for (size_t m = 0; m < k; m++) {
                size_t best = L;
                for (size_t t = 0; t < L; t++)
                    if (!used[t] && (best == L || ordered(x, first + t * step, first + best * step, of, !largest) > 0))
                        best = t;
                used[best] = 1;
                store(values, to + m * step, load(x, first + best * step, of), of);
                at[to + m * step] = (int64_t)best;
            }
        }
        assert_int_equal(nnrt_builder_create(&b, "best", NULL), NNRT_SUCCESS);
        ids[0] = nnrt_builder_input(b, "x", of, 3, dims);
        ids[1] = nnrt_builder_constant(b, "k", I64, 0, NULL, &count, true);
        out[0] = nnrt_builder_tensor(b, "values");
        out[1] = nnrt_builder_tensor(b, "places");
        if (places)
            nnrt_builder_declare(b, out[1], I64, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "best", largest ? NNRT_NODE_TYPE_TOPK_FUSION : NNRT_NODE_TYPE_BOTTOM_K, &attrs[axis], ids, 2, out,
                          places ? 2 : 1);
        nnrt_builder_output(b, out[places ? 1 : 0]);
        model = finish(b);
        kernel = "topk";
        check(model, &in, 1, places ? (const void *)at : values, n / L * k * (places ? 8 : nnrt_type_size(of)),
              n / L * k * (places ? 8 : nnrt_type_size(of)), NULL, NNRT_SUCCESS, places ? "places of the best" : "the best elements");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(used);
        free(at);
        free(values);
        free(x);
    }
}

static void test_non_zero(void **unused)
{
    static const NNRT_DataType elements[] = {BOOLS, F32, F16, F64, I8, I32, I64};
    (void)unused;
    state = 6;
    for (uint32_t i = 0; i < COUNT(elements) * COUNT(lengths) * 3; i++) {
        const NNRT_DataType of = elements[i % COUNT(elements)];
        const int32_t dims[3] = {1 + (int32_t)draw(3), 1 + (int32_t)draw(3), lengths[i / COUNT(elements) % COUNT(lengths)]};
        const size_t n = product_of(3, dims);
        const uint32_t way = i / COUNT(elements) / COUNT(lengths); /* all drawn, most 0, none 0 */
        void *x = some(n, of);
        int64_t *expected = (int64_t *)malloc(3 * n * sizeof(int64_t));
        const nnrt_io in = nnrt_io_make(x, n * nnrt_type_size(of));
        int32_t found[2] = {3, 0};
        nnrt_builder *b = NULL;
        uint32_t id;
        NNRT_Model *model;
        for (size_t k = 0; k < n; k++) {
            if ((way == 1 && draw(20) > 0) || way == 2)
                store(x, k, way == 2, of);
            found[1] += (is_float(of) ? value(x, k, of) : (double)load(x, k, of)) != 0 ? 1 : 0;
        }
        for (size_t k = 0, m = 0; k < n; k++)
            if ((is_float(of) ? value(x, k, of) : (double)load(x, k, of)) != 0) {
                expected[m] = (int64_t)(k / (size_t)dims[2] / (size_t)dims[1]);
                expected[(size_t)found[1] + m] = (int64_t)(k / (size_t)dims[2] % (size_t)dims[1]);
                expected[2 * (size_t)found[1] + m] = (int64_t)(k % (size_t)dims[2]);
                m++;
            }
        assert_int_equal(nnrt_builder_create(&b, "places", NULL), NNRT_SUCCESS);
        id = nnrt_builder_input(b, "x", of, 3, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_NON_ZERO, NULL, &id, 1));
        model = finish(b);
        kernel = "non_zero";
        check(model, &in, 1, expected, 3 * (size_t)found[1] * 8, 3 * n * 8, found, NNRT_SUCCESS, "nonzero elements");
        kernel = NULL;
        nnrt_model_destroy(model);
        free(expected);
        free(x);
    }
}

/* Slices of 1 to 3 elements, of which many are equal: one output at a time. */
static void test_unique(void **unused)
{
    static const NNRT_DataType elements[] = {F32, I64, F16, U8, F64, I32};
    (void)unused;
    state = 7;
    for (uint32_t i = 0; i < COUNT(elements) * COUNT(lengths) * 4; i++) {
        const NNRT_DataType of = elements[i % COUNT(elements)];
        const uint32_t output = i / COUNT(elements) % 4;
        const int32_t L = lengths[i / COUNT(elements) / 4] < 300 ? lengths[i / COUNT(elements) / 4] : 300, M = 1 + (int32_t)draw(3);
        const int32_t axis = (int32_t)draw(2), dims[2] = {axis == 0 ? L : M, axis == 0 ? M : L};
        const size_t n = product_of(2, dims), width = nnrt_type_size(of);
        const size_t step = axis == 0 ? (size_t)M : 1, next = axis == 0 ? 1 : (size_t)L;
        const int64_t axes[1] = {axis};
        NNRT_Unique attr;
        void *x = some(n, of), *y = calloc(n, width);
        int64_t *list = (int64_t *)calloc((size_t)L, sizeof(int64_t));
        int32_t *order = (int32_t *)malloc((size_t)L * sizeof(int32_t)), found[2] = {0, 0}, count = 0;
        const nnrt_io in = nnrt_io_make(x, n * width);
        nnrt_builder *b = NULL;
        uint32_t id, out[4];
        NNRT_Model *model;
        memset(&attr, 0, sizeof(attr));
        attr.sorted = draw(3) > 0;
        attr.axis.data = axes;
        attr.axis.count = 1;
        /* order: the first slice of each group, sorted by insertion */
        for (int32_t t = 0; t < L; t++) {
            int32_t at = 0, differ = 1;
            for (; at < count; at++) {
                differ = 0;
                for (int32_t e = 0; e < M && differ == 0; e++)
                    differ = ordered(x, (size_t)t * step + (size_t)e * next, (size_t)order[at] * step + (size_t)e * next, of, true);
                if (differ == 0 || (differ > 0 && attr.sorted))
                    break;
            }
            if (at < count && differ == 0)
                continue;
            memmove(order + at + 1, order + at, (size_t)(count - at) * sizeof(*order));
            order[at] = t;
            count++;
        }
        for (int32_t g = 0; g < count; g++)
            for (int32_t t = 0; t < L; t++) {
                int32_t differ = 0;
                for (int32_t e = 0; e < M && differ == 0; e++)
                    differ = ordered(x, (size_t)t * step + (size_t)e * next, (size_t)order[g] * step + (size_t)e * next, of, true);
                if (differ != 0)
                    continue;
                if (output == 1 && t == order[g])
                    list[g] = t;
                if (output == 2)
                    list[t] = g;
                if (output == 3)
                    list[g]++;
            }
        for (int32_t g = 0; g < count; g++)
            for (int32_t e = 0; e < M; e++)
                store(y, axis == 0 ? (size_t)(g * M + e) : (size_t)(e * count + g), load(x, (size_t)order[g] * step + (size_t)e * next, of), of);
        found[0] = output == 2 ? L : output > 0 || axis == 0 ? count : M;
        found[1] = axis == 0 ? M : count;
        assert_int_equal(nnrt_builder_create(&b, "unique", NULL), NNRT_SUCCESS);
        id = nnrt_builder_input(b, "x", of, 2, dims);
        for (uint32_t k = 0; k < 4; k++)
            out[k] = nnrt_builder_tensor(b, (const char *[]){"y", "first", "group", "count"}[k]);
        for (uint32_t k = 1; k <= output; k++)
            nnrt_builder_declare(b, out[k], I64, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_node(b, "unique", NNRT_NODE_TYPE_UNIQUE, &attr, &id, 1, out, output + 1);
        nnrt_builder_output(b, out[output]);
        model = finish(b);
        kernel = "unique";
        check(model, &in, 1, output == 0 ? y : (const void *)list,
              output == 0 ? (size_t)count * (size_t)M * width : (size_t)(output == 2 ? L : count) * 8,
              output == 0 ? n * width : (size_t)L * 8, found, NNRT_SUCCESS, (const char *[]){"y", "first", "group", "count"}[output]);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(order);
        free(list);
        free(y);
        free(x);
    }
}

/* GATHER_ELEMENTS along any axis, GATHER along the last one, GATHER_ND of elements; indices of both signs, some outside. */
static void test_gathered(void **unused)
{
    static const NNRT_DataType elements[] = {F32, I64, F16, U8, BOOLS};
    (void)unused;
    state = 8;
    for (uint32_t i = 0; i < COUNT(elements) * COUNT(lengths) * 6; i++) {
        const NNRT_DataType of = elements[i % COUNT(elements)];
        const uint32_t way = i / COUNT(elements) % 3;
        const int32_t length = lengths[i / COUNT(elements) / 6], dims[2] = {1 + (int32_t)draw(5), length};
        const int32_t axis = (int32_t)draw(2), many = 1 + (int32_t)draw(60);
        const bool wide = draw(2) == 0, outside = draw(6) == 0;
        const int32_t ids[2] = {way == 0 ? (axis == 0 ? many : dims[0]) : way == 1 ? many : many,
                                way == 0 ? (axis == 1 ? many : dims[1]) : way == 1 ? 1 + (int32_t)draw(3) : 2};
        const size_t nX = product_of(2, dims), nI = product_of(2, ids), width = nnrt_type_size(of);
        const size_t nY = way == 0 ? nI : way == 1 ? (size_t)dims[0] * nI : (size_t)many;
        const NNRT_GatherElements attr = {axis};
        const int32_t last = -1;
        void *x = some(nX, of), *y = calloc(nY, width);
        int64_t *at = (int64_t *)malloc(nI * sizeof(int64_t));
        int32_t *narrow = (int32_t *)malloc(nI * sizeof(int32_t));
        nnrt_io in[2];
        nnrt_builder *b = NULL;
        uint32_t tensors[3];
        NNRT_Model *model;
        for (size_t k = 0; k < nI; k++) {
            const int32_t size = way == 0 ? dims[axis] : way == 1 ? dims[1] : dims[k % 2];
            at[k] = (int64_t)draw((uint32_t)(2 * size)) - size;
        }
        if (outside)
            at[draw((uint32_t)nI)] = draw(2) == 0 ? 5000 : -5000;
        for (size_t k = 0; k < nI; k++)
            narrow[k] = (int32_t)at[k];
        for (size_t k = 0; k < nY && !outside; k++) {
            size_t row = way == 0 ? k / (size_t)ids[1] : way == 1 ? k / nI : 0, column = way == 0 ? k % (size_t)ids[1] : 0;
            const int64_t index = way == 1 ? at[k % nI] : way == 2 ? at[2 * k + 1] : at[k];
            if (way == 2)
                row = (size_t)(at[2 * k] + (at[2 * k] < 0 ? dims[0] : 0));
            if (way == 0 && axis == 0)
                row = (size_t)(index + (index < 0 ? dims[0] : 0));
            else
                column = (size_t)(index + (index < 0 ? dims[1] : 0));
            store(y, k, load(x, row * (size_t)dims[1] + column, of), of);
        }
        assert_int_equal(nnrt_builder_create(&b, "gathered", NULL), NNRT_SUCCESS);
        tensors[0] = nnrt_builder_input(b, "x", of, 2, dims);
        tensors[1] = nnrt_builder_input(b, "at", wide ? I64 : I32, 2, ids);
        if (way == 1)
            tensors[2] = nnrt_builder_constant(b, "axis", I32, 0, NULL, &last, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y",
                                               way == 0   ? NNRT_NODE_TYPE_GATHER_ELEMENTS
                                               : way == 1 ? NNRT_NODE_TYPE_GATHER
                                                          : NNRT_NODE_TYPE_GATHER_ND,
                                               way == 0 ? &attr : NULL, tensors, way == 1 ? 3 : 2));
        model = finish(b);
        in[0] = nnrt_io_make(x, nX * width);
        in[1] = nnrt_io_make(wide ? (void *)at : (void *)narrow, nI * (wide ? 8 : 4));
        kernel = way == 0 ? "gather_elements" : way == 1 ? "gather" : "gather_nd";
        check(model, in, 2, y, nY * width, nY * width, NULL, outside ? NNRT_INVALID_PARAMETER : NNRT_SUCCESS, kernel);
        kernel = NULL;
        nnrt_model_destroy(model);
        free(narrow);
        free(at);
        free(y);
        free(x);
    }
}

/* Dynamic shapes: one session runs x [n,40] of several n, with the bits of the reference device. */
static void test_dynamic(void **unused)
{
    static const char *const kernels[] = {"topk", "topk", "non_zero", "integers", "classify", "gather_elements"};
    static const NNRT_NodeType types[] = {NNRT_NODE_TYPE_TOPK_FUSION, NNRT_NODE_TYPE_BOTTOM_K, NNRT_NODE_TYPE_NON_ZERO,
                                          NNRT_NODE_TYPE_ADD_FUSION,  NNRT_NODE_TYPE_IS_NAN,   NNRT_NODE_TYPE_GATHER_ELEMENTS};
    static const NNRT_TopKFusion rows = {true, 1}, columns = {true, 0};
    static const NNRT_GatherElements second = {1};
    static const int32_t sizes[] = {30, 0, 1, 7, 29};
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < COUNT(types); i++) {
        const NNRT_DataType of = i == 3 ? I32 : F32;
        const int32_t dims[2] = {-1, 40}, one[2] = {1, 40};
        const int64_t k = i == 0 ? 20 : 1;
        void *x = some(30 * 40, of), *y[2], *with = some(40, I32);
        int32_t at[30 * 40];
        nnrt_bound bounds[2];
        nnrt_builder *b = NULL;
        uint32_t in[2];
        NNRT_Model *model;
        for (uint32_t t = 0; t < COUNT(at); t++)
            at[t] = (int32_t)draw(80) - 40;
        assert_int_equal(nnrt_builder_create(&b, "dynamic", NULL), NNRT_SUCCESS);
        in[0] = nnrt_builder_input(b, "x", of, 2, dims);
        if (i < 2)
            in[1] = nnrt_builder_constant(b, "k", I64, 0, NULL, &k, true);
        else if (i == 3)
            in[1] = nnrt_builder_constant(b, "y", I32, 2, one, with, true);
        else if (i == 5)
            in[1] = nnrt_builder_input(b, "at", I32, 2, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "z", types[i], i == 0 ? (const void *)&rows : i == 1 ? (const void *)&columns : i == 5 ? (const void *)&second : NULL,
                                               in, i == 2 || i == 4 ? 1 : 2));
        model = finish(b);
        memset(bounds, 0, sizeof(bounds));
        for (uint32_t t = 0; t < 2; t++) {
            bounds[t].tensor = t == 0 ? "x" : "at";
            bounds[t].most.rank = 2;
            bounds[t].most.dims[0] = 30;
            bounds[t].most.dims[1] = 40;
            y[t] = malloc(2 * 30 * 40 * 8);
        }
        for (uint32_t s = 0; s < nSets; s++) {
            nnrt_session *session[2] = {NULL, NULL};
            if (has_no_floats(s))
                continue;
            for (uint32_t t = 0; t < 2; t++) {
                nnrt_session_desc desc;
                NNRT_Extension extensions[MOST_EXTENSIONS];
                nnrt_error e;
                memset(&desc, 0, sizeof(desc));
                memset(&e, 0, sizeof(e));
                desc.device = t == 0 ? "reference" : sets[s];
                kernel = t == 0 ? NULL : kernels[i];
                add_extensions(&desc, extensions);
                kernel = NULL;
                desc.bounds = nnrt_bound_list_make(bounds, i == 5 ? 2 : 1);
                if (nnrt_session_create(&session[t], model, &desc, &e) != NNRT_SUCCESS)
                    fail_msg("%s: %s", desc.device, e.message);
            }
            for (uint32_t n = 0; n < COUNT(sizes); n++) {
                NNRT_ReturnCode code[2];
                size_t bytes[2];
                for (uint32_t t = 0; t < 2; t++) {
                    const int32_t now[2] = {sizes[n], 40};
                    const nnrt_io out = nnrt_io_make(y[t], 2 * 30 * 40 * 8);
                    nnrt_io io[2];
                    io[0] = nnrt_io_make(x, (size_t)sizes[n] * 40 * 4);
                    io[1] = nnrt_io_make(at, (size_t)sizes[n] * 40 * 4);
                    io[0].dims = io[1].dims = now;
                    code[t] = nnrt_run(session[t], io, i == 5 ? 2 : 1, &out, 1);
                    bytes[t] = nnrt_session_output(session[t], 0).bytes;
                }
                assert_int_equal(code[0], code[1]);
                assert_true(code[0] == NNRT_SUCCESS || sizes[n] == 0);
                if (code[0] != NNRT_SUCCESS)
                    continue;
                assert_int_equal(bytes[0], bytes[1]);
                if (bytes[0] > 0 && memcmp(y[0], y[1], bytes[0]) != 0)
                    fail_msg("%s of %d rows on %s: other bytes than on the reference device", nnrt_op_find(types[i])->name, sizes[n], sets[s]);
            }
            nnrt_session_destroy(session[0]);
            nnrt_session_destroy(session[1]);
        }
        nnrt_model_destroy(model);
        free(with);
        free(y[0]);
        free(y[1]);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),   cmocka_unit_test(test_classes), cmocka_unit_test(test_products),
        cmocka_unit_test(test_cumulative), cmocka_unit_test(test_best),    cmocka_unit_test(test_non_zero),
        cmocka_unit_test(test_unique),     cmocka_unit_test(test_gathered), cmocka_unit_test(test_dynamic),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
