/* Kernels of the fast device that are the same for each instruction set (devices/nnrt_cpu.h, >>portable), and others that only
   move elements or reduce rows: models of one node of random sizes, attributes and element types, with fixed and with dynamic
   dimensions and one to three workers, beside the reference device. Elements that are moved, compared or added in order
   have its bits; others are within the stated number of roundings of the largest result. */
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

#define I64 NNRT_DATA_TYPE_INT64
#define F16 NNRT_DATA_TYPE_FLOAT16
#define ROUNDING 0x1p-24

static const NNRT_DataType types[] = {NNRT_DATA_TYPE_BOOL,    NNRT_DATA_TYPE_INT8,   NNRT_DATA_TYPE_INT16,
                                      NNRT_DATA_TYPE_INT32,   NNRT_DATA_TYPE_INT64,  NNRT_DATA_TYPE_UINT8,
                                      NNRT_DATA_TYPE_UINT16,  NNRT_DATA_TYPE_UINT32, NNRT_DATA_TYPE_FLOAT16,
                                      NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT64};

/* An operand. Constants have values from the start; dynamic dimensions have bounds that are larger by `more`. */
typedef struct operand {
    NNRT_DataType type;
    int32_t rank, dims[6], more;
    void *data;
    bool constant;
} operand;

/* A node; kernel: its kernel's name, NULL: any. roundings: 0: bits. */
typedef struct spec {
    NNRT_NodeType type;
    const void *attr;
    const char *kernel;
    double roundings;
    uint32_t count;
    operand in[4];
} spec;

static size_t bytes_of(const operand *o)
{
    return product_of(o->rank, o->dims) * nnrt_type_size(o->type);
}

/* Random elements: floats from -1 to 1, integers of few values, so that some are equal. */
static void fill(operand *o)
{
    const size_t count = product_of(o->rank, o->dims);
    o->data = calloc(1, bytes_of(o) + 1);
    for (size_t i = 0; i < count; i++) {
        const float real = ((float)draw(2001) - 1000.0f) / 1000.0f;
        switch (o->type) {
        case NNRT_DATA_TYPE_BOOL: ((uint8_t *)o->data)[i] = (uint8_t)draw(2); break;
        case NNRT_DATA_TYPE_INT8:
        case NNRT_DATA_TYPE_UINT8: ((uint8_t *)o->data)[i] = (uint8_t)(draw(8) - 4); break;
        case NNRT_DATA_TYPE_INT16:
        case NNRT_DATA_TYPE_UINT16: ((uint16_t *)o->data)[i] = (uint16_t)(draw(8) - 4); break;
        case NNRT_DATA_TYPE_INT32:
        case NNRT_DATA_TYPE_UINT32: ((uint32_t *)o->data)[i] = draw(8) - 4; break;
        case NNRT_DATA_TYPE_INT64: ((int64_t *)o->data)[i] = (int64_t)draw(8) - 4; break;
        case NNRT_DATA_TYPE_FLOAT16: ((uint16_t *)o->data)[i] = nnrt_half_from_float(real); break;
        case NNRT_DATA_TYPE_FLOAT32: ((float *)o->data)[i] = real; break;
        default: ((double *)o->data)[i] = (double)real;
        }
    }
}

static operand made(NNRT_DataType type, int32_t rank, const int32_t *dims)
{
    operand o;
    memset(&o, 0, sizeof(o));
    o.type = type;
    o.rank = rank;
    memcpy(o.dims, dims, (size_t)rank * sizeof(*dims));
    fill(&o);
    return o;
}

/* A constant list of int64. */
static operand list_of(int32_t count, const int64_t *values)
{
    operand o = made(I64, 1, &count);
    memcpy(o.data, values, (size_t)count * sizeof(*values));
    o.constant = true;
    return o;
}

/* Creates a session; dynamic: of dynamic dimensions. Fails unless a step has the kernel. */
static nnrt_session *open_session(const char *device, const spec *s, bool dynamic, uint32_t workers, team *t,
                                  NNRT_Model **model)
{
    static const char *const names[4] = {"a", "b", "c", "d"};
    nnrt_builder *b = NULL;
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_bound bounds[4];
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_error e;
    uint32_t in[4], count = 0;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    memset(bounds, 0, sizeof(bounds));
    assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
    for (uint32_t k = 0; k < s->count; k++) {
        const operand *const o = &s->in[k];
        int32_t dims[6];
        for (int32_t i = 0; i < o->rank; i++)
            dims[i] = dynamic ? -1 : o->dims[i];
        in[k] = o->type == NNRT_DATA_TYPE_UNKNOWN ? NNRT_NO_TENSOR
                : o->constant ? nnrt_builder_constant(b, names[k], o->type, o->rank, o->dims, o->data, true)
                              : nnrt_builder_input(b, names[k], o->type, o->rank, dims);
        if (o->constant || o->type == NNRT_DATA_TYPE_UNKNOWN || o->rank == 0)
            continue;
        bounds[count].tensor = names[k];
        bounds[count].most.rank = o->rank;
        for (int32_t i = 0; i < o->rank; i++)
            bounds[count].most.dims[i] = o->dims[i] + o->more;
        count++;
    }
    nnrt_builder_output(b, nnrt_builder_op(b, "y", s->type, s->attr, in, s->count));
    *model = finish(b);
    desc.device = device;
    desc.parallel = team_of(t, workers);
    if (dynamic)
        desc.bounds = nnrt_bound_list_make(bounds, count);
    kernel = s->kernel;
    if (strcmp(device, "reference") != 0)
        add_extensions(&desc, extensions);
    kernel = NULL;
    if (nnrt_session_create(&session, *model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s, %s: %s", nnrt_op_find(s->type)->name, device, e.message);
    return session;
}

/* The result of a run; *bytes: its size, *type: of its elements. */
static void *result_of(const char *device, const spec *s, bool dynamic, uint32_t workers, size_t *bytes,
                       NNRT_DataType *type)
{
    NNRT_Model *model;
    team t;
    nnrt_session *const session = open_session(device, s, dynamic, workers, &t, &model);
    const nnrt_io_info info = nnrt_session_output(session, 0);
    uint8_t *const y = (uint8_t *)malloc(info.bytes + 1);
    nnrt_io in[4], out = nnrt_io_make(y, info.bytes);
    nnrt_dims shape;
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->count; k++)
        if (!s->in[k].constant && s->in[k].type != NNRT_DATA_TYPE_UNKNOWN) {
            in[count] = nnrt_io_make(s->in[k].data, bytes_of(&s->in[k]));
            in[count++].dims = s->in[k].dims;
        }
    memset(y, 0xA5, info.bytes);
    if (nnrt_run(session, in, count, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s, %s: %s", nnrt_op_find(s->type)->name, device, nnrt_session_error(session));
    shape = nnrt_session_output(session, 0).shape;
    *type = info.dataType;
    *bytes = product_of(shape.rank, shape.dims) * nnrt_type_size(info.dataType);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return y;
}

static double number(const void *data, NNRT_DataType type, size_t i)
{
    return type == F16   ? (double)nnrt_half_to_float(((const uint16_t *)data)[i])
           : type == F32 ? (double)((const float *)data)[i]
                         : 0;
}

static void check(spec *s)
{
    size_t bytes, same;
    NNRT_DataType type;
    uint8_t *const expected = (uint8_t *)result_of("reference", s, false, 0, &bytes, &type);
    const size_t count = bytes / nnrt_type_size(type);
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(number(expected, type, i)));
    for (uint32_t set = 0; set < nSets; set++)
        for (uint32_t run = 0; run < 5; run++) { /* 0 to 2 workers, then dynamic dimensions, also with three */
            const uint32_t workers = run == 4 ? 3 : run % 3;
            uint8_t *const y = (uint8_t *)result_of(sets[set], s, run > 2, workers, &same, &type);
            assert_int_equal(same, bytes);
            for (size_t i = 0; s->roundings > 0 && i < count; i++) {
                const double off = fabs(number(y, type, i) - number(expected, type, i));
                const double half = type == F16 ? 0x1p-11 * fabs(number(expected, type, i)) * 2 : 0;
                if (!(off <= s->roundings * ROUNDING * most + half))
                    fail_msg("%s on %s, run %u: element %u is %.9g, expected %.9g", nnrt_op_find(s->type)->name,
                             sets[set], run, (unsigned)i, number(y, type, i), number(expected, type, i));
            }
            if (s->roundings == 0 && memcmp(y, expected, bytes) != 0)
                fail_msg("%s of type %d on %s, run %u: other bits than the reference device",
                         nnrt_op_find(s->type)->name, (int)s->in[0].type, sets[set], run);
            free(y);
        }
    for (uint32_t k = 0; k < s->count; k++)
        free(s->in[k].data);
    free(expected);
}

static spec begin(NNRT_NodeType type, const void *attr, const char *kernel_name, double roundings)
{
    spec s;
    memset(&s, 0, sizeof(s));
    s.type = type;
    s.attr = attr;
    s.kernel = kernel_name;
    s.roundings = roundings;
    return s;
}

static int32_t size(uint32_t most)
{
    return 1 + (int32_t)draw(most);
}

/* ---- moving ---- */

static void test_transposes(void **unused)
{
    static const int64_t orders[][4] = {{0, 1, 3, 2}, {0, 3, 1, 2}, {0, 2, 3, 1},
                                        {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 0, 3, 2}};
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < 66; i++) {
        const int32_t dims[4] = {size(2), size(3), size(90), size(i % 3 == 0 ? 90 : 20)};
        spec s = begin(NNRT_NODE_TYPE_TRANSPOSE, NULL, NULL, 0);
        s.in[0] = made(types[i % COUNT(types)], 4, dims);
        s.in[0].more = (int32_t)draw(3);
        s.in[1] = list_of(4, orders[draw(COUNT(orders))]);
        s.count = 2;
        check(&s);
    }
}

static void test_gathers(void **unused)
{
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < 44; i++) {
        const int32_t dims[3] = {size(5), size(9), size(i % 4 == 0 ? 300 : 5)}, many[2] = {size(20), size(5)};
        const int64_t axis = draw(3);
        spec s = begin(NNRT_NODE_TYPE_GATHER, NULL, "gather", 0);
        s.in[0] = made(types[i % COUNT(types)], 3, dims);
        s.in[1] = made(i % 2 == 0 ? I64 : I32, 2, many);
        s.in[2] = list_of(1, &axis);
        for (int32_t k = 0; k < many[0] * many[1]; k++) {
            const int32_t index = (int32_t)draw(2 * (uint32_t)dims[axis]) - dims[axis];
            if (i % 2 == 0)
                ((int64_t *)s.in[1].data)[k] = index;
            else
                ((int32_t *)s.in[1].data)[k] = index;
        }
        s.count = 3;
        check(&s);
    }
}

/* FILL, BROADCAST_TO, PAD_FUSION: values that are repeated. */
static void test_repeated(void **unused)
{
    (void)unused;
    state = 12;
    for (uint32_t i = 0; i < 44; i++) {
        const int32_t dims[3] = {size(4), size(6), size(i % 3 == 0 ? 3000 : 40)}, none = 0;
        const int32_t small[3] = {draw(2) == 0 ? 1 : dims[0], draw(2) == 0 ? 1 : dims[1], draw(2) == 0 ? 1 : dims[2]};
        const int64_t shape[3] = {dims[0], dims[1], dims[2]};
        spec s = begin(NNRT_NODE_TYPE_BROADCAST_TO, NULL, "spread", 0);
        NNRT_PadFusion attr;
        s.in[0] = made(types[i % COUNT(types)], 3, small);
        s.in[1] = list_of(3, shape);
        s.count = 2;
        check(&s);
        s = begin(NNRT_NODE_TYPE_PAD_FUSION, &attr, NULL, 0);
        memset(&attr, 0, sizeof(attr));
        attr.paddingMode = NNRT_PADDING_MODE_CONSTANT;
        s.in[0] = made(types[i % COUNT(types)], 3, dims);
        {
            const int32_t pairs[2] = {3, 2};
            s.in[1] = made(I64, 2, pairs);
            s.in[1].constant = true;
            for (int32_t k = 0; k < 6; k++)
                ((int64_t *)s.in[1].data)[k] = draw(4);
        }
        s.count = i % 2 == 0 ? 2 : 3;
        if (s.count == 3)
            s.in[2] = made(types[i % COUNT(types)], 0, &none);
        check(&s);
    }
}

/* ---- elementwise ---- */

static void test_comparisons(void **unused)
{
    static const NNRT_NodeType ops[] = {NNRT_NODE_TYPE_EQUAL,   NNRT_NODE_TYPE_NOT_EQUAL,
                                        NNRT_NODE_TYPE_LESS,    NNRT_NODE_TYPE_LESS_EQUAL,
                                        NNRT_NODE_TYPE_GREATER, NNRT_NODE_TYPE_GREATER_EQUAL};
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < 66; i++) {
        const NNRT_DataType type = types[i / 6];
        const int32_t dims[2] = {size(9), size(70)},
                      others[2] = {draw(3) == 0 ? 1 : dims[0], draw(3) == 0 ? 1 : dims[1]};
        spec s = begin(ops[i % 6], NULL, type == F32 ? "compare" : type == F16 ? NULL : "compare_any", 0);
        s.in[0] = made(type, 2, dims);
        s.in[1] = made(type, 2, others);
        if (type == NNRT_DATA_TYPE_FLOAT64)
            ((double *)s.in[0].data)[0] = NAN;
        s.count = 2;
        check(&s);
    }
}

/* All pairs of types: masks and integers of any bits, floats beyond the range of integers, NaN. */
static void test_casts(void **unused)
{
    static const double edges[] = {NAN, INFINITY, -INFINITY, -0.0, 255.5, -128.9, 40000, -40000, 70000, 0x1p31, -0x1p33, 3.7};
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < COUNT(types) * COUNT(types); i++) {
        const NNRT_DataType from = types[i / COUNT(types)], into = types[i % COUNT(types)];
        const int32_t dims[2] = {size(3), size(600)}, one = 1, to = (int32_t)into;
        spec s = begin(NNRT_NODE_TYPE_CAST, NULL, from == F32 && into == NNRT_DATA_TYPE_INT16 ? "cast_elements" : NULL, 0);
        if (from == into)
            continue;
        s.in[0] = made(from, 2, dims);
        s.in[0].more = (int32_t)draw(3);
        for (size_t k = 0; k < bytes_of(&s.in[0]) && from < F16; k++)
            ((uint8_t *)s.in[0].data)[k] = (uint8_t)draw(256);
        for (size_t k = 0; k < COUNT(edges) && k < product_of(2, dims) && from >= F32; k++)
            if (from == F32)
                ((float *)s.in[0].data)[k] = (float)edges[k];
            else
                ((double *)s.in[0].data)[k] = edges[k];
        s.in[1] = made(I32, 1, &one);
        memcpy(s.in[1].data, &to, sizeof(to));
        s.in[1].constant = true;
        s.count = 2;
        check(&s);
    }
}

/* Random bytes; of float64 the drawn numbers. */
static operand any_bits(NNRT_DataType type, int32_t rank, const int32_t *dims)
{
    operand o = made(type, rank, dims);
    for (size_t k = 0; k < bytes_of(&o) && type < F16; k++)
        ((uint8_t *)o.data)[k] = type == NNRT_DATA_TYPE_BOOL ? (uint8_t)draw(2) : (uint8_t)draw(256);
    return o;
}

/* Elementwise operators of all types without a kernel of float32: parts of blocks, whole ones, broadcast operands. */
static void test_elements(void **unused)
{
    static const NNRT_NodeType ops[] = {
        NNRT_NODE_TYPE_ADD_FUSION,  NNRT_NODE_TYPE_SUB_FUSION,  NNRT_NODE_TYPE_MUL_FUSION, NNRT_NODE_TYPE_DIV_FUSION,
        NNRT_NODE_TYPE_MAXIMUM,     NNRT_NODE_TYPE_MINIMUM,     NNRT_NODE_TYPE_ELTWISE,    NNRT_NODE_TYPE_BITWISE_AND,
        NNRT_NODE_TYPE_BITWISE_OR,  NNRT_NODE_TYPE_BITWISE_XOR, NNRT_NODE_TYPE_BIT_SHIFT,  NNRT_NODE_TYPE_BIT_SHIFT,
        NNRT_NODE_TYPE_ADD_N};
    static const NNRT_DataType all[] = {NNRT_DATA_TYPE_INT8,   NNRT_DATA_TYPE_INT16,  NNRT_DATA_TYPE_INT32,
                                        NNRT_DATA_TYPE_INT64,  NNRT_DATA_TYPE_UINT8,  NNRT_DATA_TYPE_UINT16,
                                        NNRT_DATA_TYPE_UINT32, NNRT_DATA_TYPE_UINT64, NNRT_DATA_TYPE_FLOAT64};
    (void)unused;
    state = 12;
    for (uint32_t i = 0; i < 3 * COUNT(ops) * COUNT(all); i++) {
        const NNRT_NodeType op = ops[i % COUNT(ops)];
        const NNRT_DataType type = all[i / COUNT(ops) % COUNT(all)];
        const bool real = type == NNRT_DATA_TYPE_FLOAT64, bits = op >= NNRT_NODE_TYPE_BITWISE_AND && op <= NNRT_NODE_TYPE_BIT_SHIFT;
        const int32_t dims[3] = {size(3), size(4), size(600)}, part[3] = {draw(2) ? 1 : dims[0], draw(2) ? 1 : dims[1], draw(3) ? dims[2] : 1};
        NNRT_Eltwise mode = {(NNRT_EltwiseMode)draw(3)};
        NNRT_BitShift shift = {i % 2 == 0 ? NNRT_SHIFT_DIRECTION_LEFT : NNRT_SHIFT_DIRECTION_RIGHT};
        spec s = begin(op, op == NNRT_NODE_TYPE_ELTWISE ? (const void *)&mode : op == NNRT_NODE_TYPE_BIT_SHIFT ? (const void *)&shift : NULL,
                       (real && op != NNRT_NODE_TYPE_ADD_N) || type == NNRT_DATA_TYPE_INT16 || bits ? "elements" : NULL, 0);
        if ((bits && real) || (op == NNRT_NODE_TYPE_DIV_FUSION && !real) || (op == NNRT_NODE_TYPE_BIT_SHIFT && type < NNRT_DATA_TYPE_UINT8))
            continue;
        s.count = op == NNRT_NODE_TYPE_ADD_N ? 2 + draw(3) : 2;
        for (uint32_t k = 0; k < s.count; k++)
            s.in[k] = any_bits(type, 3, k == 1 ? part : dims);
        for (size_t k = 0; op == NNRT_NODE_TYPE_BIT_SHIFT && k < bytes_of(&s.in[1]); k++)
            ((uint8_t *)s.in[1].data)[k] = k % nnrt_type_size(type) == 0 ? (uint8_t)draw(70) : 0;
        check(&s);
        if (type <= NNRT_DATA_TYPE_INT64) {
            s = begin(i % 2 == 0 ? NNRT_NODE_TYPE_ABS : NNRT_NODE_TYPE_NEG, NULL, NULL, 0);
            s.in[0] = any_bits(type, 3, dims);
            s.count = 1;
            check(&s);
        }
    }
}

/* Reductions and positions of extremes of integers along any axes, also of many numbers. */
static void test_integer_lines(void **unused)
{
    (void)unused;
    state = 13;
    for (uint32_t i = 0; i < 160; i++) {
        const NNRT_DataType type = i % 8 == 7 ? NNRT_DATA_TYPE_UINT64 : types[i % 8];
        const int32_t dims[3] = {size(5), i % 3 == 0 ? size(600) : size(9), i % 3 == 1 ? size(600) : size(70)}, count = size(3);
        const int64_t axes[3] = {(int64_t)draw(3), 1, 2};
        static const int64_t all_axes[3] = {0, 1, 2};
        NNRT_ArgMaxFusion most;
        NNRT_ArgMinFusion least;
        NNRT_ReduceFusion reduce;
        NNRT_All whole;
        spec s;
        memset(&most, 0, sizeof(most));
        memset(&least, 0, sizeof(least));
        memset(&reduce, 0, sizeof(reduce));
        memset(&whole, 0, sizeof(whole));
        most.axis = least.axis = (int64_t)draw(3);
        most.topK = least.topK = 1;
        s = begin(i % 2 == 0 ? NNRT_NODE_TYPE_ARGMAX_FUSION : NNRT_NODE_TYPE_ARGMIN_FUSION,
                  i % 2 == 0 ? (const void *)&most : (const void *)&least, NULL, 0);
        s.in[0] = i % 5 == 0 ? made(type, 3, dims) : any_bits(type, 3, dims);
        s.count = 1;
        if (type != NNRT_DATA_TYPE_BOOL)
            check(&s);
        else
            free(s.in[0].data);
        reduce.mode = type == NNRT_DATA_TYPE_BOOL ? (i % 16 < 8 ? NNRT_REDUCE_MODE_MAX : NNRT_REDUCE_MODE_ALL)
                                                  : (NNRT_ReduceMode)(i / 8 % 8);
        reduce.coeff = 1;
        reduce.keepDims = true;
        s = begin(i % 9 == 8 ? NNRT_NODE_TYPE_ALL : NNRT_NODE_TYPE_REDUCE_FUSION,
                  i % 9 == 8 ? (const void *)&whole : (const void *)&reduce,
                  i % 9 == 8 ? "all" : reduce.mode != NNRT_REDUCE_MODE_L2 ? "reduce_any" : NULL, 0);
        s.in[0] = any_bits(type, 3, dims);
        for (size_t k = 0; k < bytes_of(&s.in[0]) && (reduce.mode == NNRT_REDUCE_MODE_ALL || i % 9 == 8) && i % 2 == 0; k++)
            ((uint8_t *)s.in[0].data)[k] = 1;
        s.in[1] = count == 1 ? list_of(1, axes) : count == 2 ? list_of(2, axes + 1) : list_of(3, all_axes);
        s.count = 2;
        check(&s);
    }
}

/* Products of integers: batches that broadcast, both transpositions, a bias, more columns than a block. */
static void test_integer_products(void **unused)
{
    static const NNRT_DataType wide[] = {NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_INT64, NNRT_DATA_TYPE_UINT32, NNRT_DATA_TYPE_UINT64};
    (void)unused;
    state = 14;
    for (uint32_t i = 0; i < 48; i++) {
        const NNRT_DataType type = wide[i % 4];
        const int32_t B = size(3), M = size(9), K = size(20), N = i % 3 == 0 ? size(600) : size(30);
        NNRT_MatMulFusion attr;
        int32_t x[3] = {B, M, K}, y[3] = {i % 2 == 0 ? 1 : B, K, N};
        spec s;
        memset(&attr, 0, sizeof(attr));
        attr.transposeA = i / 4 % 2 == 1;
        attr.transposeB = i / 8 % 2 == 1;
        if (attr.transposeA)
            x[1] = K, x[2] = M;
        if (attr.transposeB)
            y[1] = N, y[2] = K;
        s = begin(NNRT_NODE_TYPE_MATMUL_FUSION, &attr, "matmul_int", 0);
        s.in[0] = any_bits(type, 3, x);
        s.in[1] = any_bits(type, 3, y);
        s.in[2] = any_bits(type, 1, &N);
        s.count = i % 5 == 0 ? 2 : 3;
        if (s.count == 2)
            free(s.in[2].data);
        check(&s);
    }
}

static void test_hardmax(void **unused)
{
    (void)unused;
    state = 15;
    for (uint32_t i = 0; i < 40; i++) {
        const int32_t dims[3] = {size(4), size(30), size(70)};
        NNRT_Hardmax attr = {(int64_t)draw(3)};
        spec s = begin(NNRT_NODE_TYPE_HARDMAX, &attr, i % 4 == 3 ? NULL : "hardmax", 0);
        s.in[0] = made(i % 4 == 3 ? F16 : F32, 3, dims);
        for (size_t k = 0; k < product_of(3, dims) && i % 4 != 3; k++)
            if (draw(4) == 0)
                ((float *)s.in[0].data)[k] = draw(3) == 0 ? NAN : draw(2) == 0 ? -INFINITY : 1;
        for (size_t k = 0; k < product_of(3, dims) && i % 4 == 2; k++)
            ((float *)s.in[0].data)[k] = k % 3 == 0 ? NAN : -INFINITY;
        s.count = 1;
        check(&s);
    }
}

static void test_integers(void **unused)
{
    static const NNRT_NodeType ops[] = {NNRT_NODE_TYPE_ADD_FUSION, NNRT_NODE_TYPE_SUB_FUSION,
                                        NNRT_NODE_TYPE_MUL_FUSION};
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 24; i++) {
        const int32_t dims[2] = {size(9), size(70)};
        spec s = begin(NNRT_NODE_TYPE_BITWISE_NOT, NULL, "elements", 0);
        s.in[0] = made(types[1 + i % 7], 2, dims);
        s.in[0].more = 1;
        s.count = 1;
        check(&s);
        s = begin(ops[i % 3], NULL, "integers", 0); /* uint32 and uint64 wrap */
        for (uint32_t k = 0; k < 2; k++) {
            s.in[k] = made(i % 2 == 0 ? NNRT_DATA_TYPE_UINT32 : NNRT_DATA_TYPE_UINT64, 2, dims);
            for (size_t t = 0; t < bytes_of(&s.in[k]); t++)
                ((uint8_t *)s.in[k].data)[t] = (uint8_t)draw(256);
        }
        s.count = 2;
        check(&s);
    }
}

/* ---- float32 and float16 ---- */

static void test_rotary(void **unused)
{
    (void)unused;
    state = 6;
    for (uint32_t i = 0; i < 40; i++) {
        const bool four = i % 2 == 0, ids = i / 2 % 2 == 0;
        const NNRT_DataType type = i % 5 == 4 ? F16 : F32;
        const int32_t B = size(2), S = size(9), H = size(4), half = size(21), D = 2 * half + (int32_t)draw(3), L = 12;
        const int32_t dims[4] = {B, H, S, D}, flat[3] = {B, S, H * D}, rows[2] = {L, half}, each[3] = {B, S, half},
                      places[2] = {B, S};
        NNRT_RotaryEmbedding attr;
        spec s = begin(NNRT_NODE_TYPE_ROTARY_EMBEDDING, &attr, type == F32 ? "rotary" : NULL, 4);
        memset(&attr, 0, sizeof(attr));
        attr.numHeads = H;
        attr.rotaryEmbeddingDim = 2 * half;
        attr.interleaved = i / 4 % 2;
        s.in[0] = made(type, four ? 4 : 3, four ? dims : flat);
        for (uint32_t k = 1; k < 3; k++)
            s.in[k] = made(type, ids ? 2 : 3, ids ? rows : each);
        s.count = ids ? 4 : 3;
        if (ids) {
            s.in[3] = made(I64, 2, places);
            for (int32_t k = 0; k < B * S; k++)
                ((int64_t *)s.in[3].data)[k] = draw((uint32_t)L);
        }
        check(&s);
    }
}

static void test_col2im(void **unused)
{
    (void)unused;
    state = 7;
    for (uint32_t i = 0; i < 40; i++) {
        const int32_t axes = size(3), N = size(2), C = size(3);
        int64_t image[3], block[3], dilations[3], strides[3], pads[6];
        int32_t K = 1, L = 1, dims[3];
        NNRT_Col2Im attr;
        spec s = begin(NNRT_NODE_TYPE_COL2IM, &attr, "col2im", 0);
        for (int32_t k = 0; k < axes; k++) {
            block[k] = size(3);
            dilations[k] = size(2);
            strides[k] = size(2);
            pads[k] = draw(2);
            pads[axes + k] = draw(2);
            image[k] = (block[k] - 1) * dilations[k] + 1 + (int64_t)draw(axes == 1 ? 40 : 9);
            K *= (int32_t)block[k];
            L *= (int32_t)((image[k] + pads[k] + pads[axes + k] - (block[k] - 1) * dilations[k] - 1) / strides[k] + 1);
        }
        memset(&attr, 0, sizeof(attr));
        attr.dilations = nnrt_int64_list(dilations, (uint32_t)axes);
        attr.strides = nnrt_int64_list(strides, (uint32_t)axes);
        attr.pads = nnrt_int64_list(pads, 2 * (uint32_t)axes);
        dims[0] = N;
        dims[1] = C * K;
        dims[2] = L;
        s.in[0] = made(F32, 3, dims);
        s.in[1] = list_of(axes, image);
        s.in[2] = list_of(axes, block);
        s.count = 3;
        check(&s);
    }
}

static void test_conv_transpose(void **unused)
{
    (void)unused;
    state = 8;
    for (uint32_t i = 0; i < 30; i++) {
        const int32_t group = size(2), C = size(9), O = size(3);
        const int32_t dims[5] = {size(2), group * C, size(4), size(6), size(20)};
        const int32_t filter[5] = {group * C, O, size(3), size(3), size(3)}, biases = group * O;
        int64_t strides[3], dilations[3], pads[6];
        NNRT_ConvTranspose3D attr;
        spec s = begin(NNRT_NODE_TYPE_CONV_TRANSPOSE_3D, &attr, "conv_transpose", 250);
        memset(&attr, 0, sizeof(attr));
        for (int32_t k = 0; k < 3; k++) {
            strides[k] = size(2);
            dilations[k] = size(2);
            pads[k] = draw(2);
            pads[3 + k] = 0;
            if (dims[2 + k] < 3)
                pads[k] = 0;
        }
        attr.strides = nnrt_int64_list(strides, 3);
        attr.dilations = nnrt_int64_list(dilations, 3);
        attr.pads = nnrt_int64_list(pads, 6);
        attr.group = group;
        s.in[0] = made(F32, 5, dims);
        s.in[1] = made(F32, 5, filter);
        s.in[1].constant = true;
        s.count = i % 3 == 0 ? 2 : 3;
        if (s.count == 3)
            s.in[2] = made(F32, 1, &biases);
        if (s.count == 3)
            s.in[2].constant = true;
        if (strides[2] > (dims[4] - 1) * strides[2] + (filter[4] - 1) * dilations[2] + 1 - pads[2])
            s.kernel = NULL; /* y has fewer columns than the stride */
        check(&s);
    }
}

static void test_resize(void **unused)
{
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < 60; i++) {
        const int32_t rank = 1 + (int32_t)draw(5);
        int32_t dims[5];
        int64_t sizes[5];
        NNRT_ResizeND attr;
        spec s = begin(NNRT_NODE_TYPE_RESIZE_ND, &attr, "resize_nd", 12);
        memset(&attr, 0, sizeof(attr));
        for (int32_t k = 0; k < rank; k++) {
            dims[k] = size(rank < 3 ? 40 : 9);
            sizes[k] = draw(3) == 0 ? dims[k] : size(rank < 3 ? 60 : 12);
        }
        attr.mode = (NNRT_ResizeMethod)(i % 3);
        attr.coordinateTransformationMode = (NNRT_ResizeCoordinates)draw(3);
        attr.cubicCoeffA = -0.75f;
        attr.antialias = attr.mode != NNRT_RESIZE_METHOD_NEAREST && draw(2) == 0;
        attr.excludeOutside = attr.mode == NNRT_RESIZE_METHOD_CUBIC && draw(2) == 0;
        attr.nearestMode = (NNRT_NearestMode)(attr.mode == NNRT_RESIZE_METHOD_NEAREST ? draw(4) : 0);
        s.in[0] = made(attr.mode == NNRT_RESIZE_METHOD_NEAREST ? types[draw(COUNT(types))] : F32, rank, dims);
        s.roundings = attr.mode == NNRT_RESIZE_METHOD_NEAREST ? 0 : 12;
        s.in[1].type = s.in[2].type = NNRT_DATA_TYPE_UNKNOWN;
        s.in[3] = list_of(rank, sizes);
        s.count = 4;
        check(&s);
    }
}

/* Rows of any length, whose results are in groups of a vector; a sum is as if rounded once. */
static void test_reductions(void **unused)
{
    static const NNRT_ReduceMode modes[] = {NNRT_REDUCE_MODE_MEAN, NNRT_REDUCE_MODE_MAX,        NNRT_REDUCE_MODE_MIN,
                                            NNRT_REDUCE_MODE_SUM,  NNRT_REDUCE_MODE_SUM_SQUARE, NNRT_REDUCE_MODE_ASUM,
                                            NNRT_REDUCE_MODE_L2};
    (void)unused;
    state = 10;
    for (uint32_t i = 0; i < 70; i++) {
        const int32_t dims[3] = {size(5), size(40), size(i % 2 == 0 ? 300 : 70)};
        const int64_t last = 2, both[2] = {0, 2};
        NNRT_ReduceFusion attr;
        spec s = begin(NNRT_NODE_TYPE_REDUCE_FUSION, &attr, "reduce", 4);
        memset(&attr, 0, sizeof(attr));
        attr.mode = modes[i % COUNT(modes)];
        attr.coeff = 1;
        attr.keepDims = true;
        s.in[0] = made(i % 5 == 4 ? F16 : F32, 3, dims);
        s.in[0].more = (int32_t)draw(3);
        s.in[1] = i % 3 == 0 ? list_of(2, both) : list_of(1, &last);
        s.count = 2;
        check(&s);
    }
}

static void test_pools(void **unused)
{
    (void)unused;
    state = 11;
    for (uint32_t i = 0; i < 60; i++) {
        const uint32_t axes = 1 + draw(3);
        int32_t dims[5] = {size(2), size(3), 1, 1, 1};
        int64_t window[3], strides[3], dilations[3], pads[6];
        NNRT_AveragePool3D attr;
        spec s = begin(NNRT_NODE_TYPE_AVERAGE_POOL_3D, &attr, "average_pool_nd", 4); /* and each addition */
        memset(&attr, 0, sizeof(attr));
        for (uint32_t k = 0; k < axes; k++) {
            window[k] = size(4);
            strides[k] = size(3);
            dilations[k] = size(2);
            pads[k] = draw((uint32_t)window[k]);
            pads[axes + k] = draw((uint32_t)window[k]);
            dims[2 + k] = (int32_t)((window[k] - 1) * dilations[k]) + size(axes == 1 ? 90 : 30);
            s.roundings *= (double)window[k];
        }
        attr.kernelShape = nnrt_int64_list(window, axes);
        attr.strides = nnrt_int64_list(strides, axes);
        attr.dilations = nnrt_int64_list(dilations, axes);
        attr.pads = nnrt_int64_list(pads, 2 * axes);
        attr.countIncludePad = draw(2);
        attr.ceilMode = draw(2);
        s.in[0] = made(F32, 2 + (int32_t)axes, dims);
        s.in[0].more = (int32_t)draw(3);
        s.count = 1;
        check(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transposes),  cmocka_unit_test(test_gathers),    cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_comparisons), cmocka_unit_test(test_casts), cmocka_unit_test(test_elements), cmocka_unit_test(test_integer_lines),
        cmocka_unit_test(test_integer_products), cmocka_unit_test(test_hardmax),      cmocka_unit_test(test_integers),
        cmocka_unit_test(test_rotary),      cmocka_unit_test(test_col2im),     cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_resize),      cmocka_unit_test(test_reductions), cmocka_unit_test(test_pools),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
