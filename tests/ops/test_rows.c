/* The rows of the operator table: which kernel supports which types, unsupported types, propagation of quantization
   parameters, and the arguments of kernels: derived constants, scratch, threads, error messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "inside.h"

#include "nnrt_ops.h"

#define MOST 10
#define I8 NNRT_DATA_TYPE_INT8
#define I32 NNRT_DATA_TYPE_INT32
#define F16 NNRT_DATA_TYPE_FLOAT16
#define F32 NNRT_DATA_TYPE_FLOAT32

static const NNRT_QuantParam g_half = {8, 3, 0.5}, g_other = {8, 3, 0.25};

/* A node in the making, its memory, and how it was resolved. */
typedef struct node {
    nnrt_operand in[MOST], out[MOST];
    nnrt_resolve r;
    nnrt_error error;
    uint64_t memory[512];
    size_t used;
} node;

static void *node_alloc(void *user, size_t bytes)
{
    node *n = (node *)user;
    void *block = (uint8_t *)n->memory + n->used;
    n->used += (bytes + 15) / 16 * 16;
    assert_true(n->used <= sizeof(n->memory));
    return block;
}

static void node_begin(node *n, const char *op, const void *attr, uint32_t bytes, uint32_t nOut)
{
    memset(n, 0, sizeof(*n));
    for (uint32_t i = 0; i < MOST; i++) {
        n->in[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, 0, NULL, NULL);
        n->in[i].rank = -1;
        n->out[i] = n->in[i];
    }
    n->r.op = nnrt_op_named(op);
    n->r.nodeName = "n";
    n->r.attr = attr;
    n->r.attrBytes = bytes;
    n->r.in = n->in;
    n->r.out = n->out;
    n->r.nOut = nOut;
    n->r.alloc = node_alloc;
    n->r.user = n;
    n->r.error = &n->error;
}

static nnrt_operand *node_in(node *n, NNRT_DataType type, int32_t rank, int32_t d0, int32_t d1, int32_t d2,
                             const void *data)
{
    int32_t dims[3];
    dims[0] = d0;
    dims[1] = d1;
    dims[2] = d2;
    n->in[n->r.nIn] = nnrt_operand_make(type, rank, dims, data);
    n->in[n->r.nIn].name = "operand";
    return &n->in[n->r.nIn++];
}

static NNRT_ReturnCode node_resolve(node *n)
{
    n->used = 0;
    memset(&n->error, 0, sizeof(n->error));
    return nnrt_resolve_node(&n->r);
}

static void node_refused(node *n, NNRT_ReturnCode code, const char *words)
{
    assert_int_equal(node_resolve(n), code);
    if (strstr(n->error.message, words) == NULL)
        fail_msg("'%s' lacks '%s'", n->error.message, words);
}

static void set_quant(nnrt_operand *o, const NNRT_QuantParam *q, uint32_t count, int32_t axis)
{
    o->quant = q;
    o->quantCount = count;
    o->quantAxis = axis;
}

/* Nodes that run subgraphs are resolved with their model: by themselves they are refused. */
static void test_graphs_refused(void **state)
{
    static const NNRT_If branches = {1, 2};
    static const NNRT_Loop loop = {1};
    node n;
    (void)state;
    node_begin(&n, "IF", &branches, sizeof(branches), 1);
    (void)node_in(&n, NNRT_DATA_TYPE_BOOL, 0, 0, 0, 0, NULL);
    node_refused(&n, NNRT_UNSUPPORTED_OP, "(IF): runs subgraphs");
    node_begin(&n, "LOOP", &loop, sizeof(loop), 1);
    (void)node_in(&n, NNRT_DATA_TYPE_INT64, 0, 0, 0, 0, NULL);
    (void)node_in(&n, NNRT_DATA_TYPE_BOOL, 0, 0, 0, 0, NULL);
    (void)node_in(&n, F32, 1, 3, 0, 0, NULL);
    node_refused(&n, NNRT_UNSUPPORTED_OP, "(LOOP): runs subgraphs");
    node_begin(&n, "IF", &branches, sizeof(branches), 1);
    (void)node_in(&n, F32, 0, 0, 0, 0, NULL);
    node_refused(&n, NNRT_INVALID_DATATYPE, "float32");
}

/* Except operators that only move elements, depend only on their order or number, or have quantized arithmetic, operators have
   no kernel for quantized data and must say so, for every integer type. */
static void test_quantised_refused(void **state)
{
    static const char movers[] = " ARGMAX_FUSION ARGMIN_FUSION ASSIGN BATCH_TO_SPACE_ND BITCAST BROADCAST_TO CAST "
                                 "CHANNEL_SHUFFLE COMPRESS CONCAT CROP DEPTH_TO_SPACE EXPAND_DIMS FILL FILL_LIKE "
                                 "FLATTEN FLATTEN_RANGE GATHER GATHER_ELEMENTS GATHER_ND MESHGRID PAD_EDGE "
                                 "PAD_FUSION QUANT_DTYPE_CAST QUANT_DTYPE_CAST_V2 RANK RESHAPE REVERSE_SEQUENCE ROLL "
                                 "SHAPE SLICE_FUSION SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SQUEEZE STACK "
                                 "STRIDED_SLICE TILE_FUSION TOPK_FUSION TRANSPOSE UNSQUEEZE UNSTACK ";
    static const char arithmetic[] = " ABS"
                                     " ACTIVATION"
                                     " ADAPTIVE_AVERAGE_POOL_2D"
                                     " ADAPTIVE_MAX_POOL_2D"
                                     " ADD_FUSION"
                                     " ADD_N"
                                     " AVGPOOL_FUSION"
                                     " AVGPOOL_INCLUDE_PAD"
                                     " BIAS_ADD"
                                     " CLIP"
                                     " CONV2D_FUSION"
                                     " CONV2D_TRANSPOSE_FUSION"
                                     " COS"
                                     " CUM_SUM"
                                     " DETECTION_POST_PROCESS"
                                     " DIV_FUSION"
                                     " ELTWISE"
                                     " EQUAL"
                                     " EXPFUSION"
                                     " FLOOR"
                                     " FLOOR_DIV"
                                     " FULL_CONNECTION"
                                     " FUSED_BATCH_NORM"
                                     " GREATER"
                                     " GREATER_EQUAL"
                                     " HARD_SIGMOID"
                                     " HARD_SWISH"
                                     " L2_NORMALIZE_FUSION"
                                     " LAYER_NORM_FUSION"
                                     " LEAKY_RELU"
                                     " LESS"
                                     " LESS_EQUAL"
                                     " LOG"
                                     " LOG_SOFTMAX"
                                     " LP_NORMALIZATION"
                                     " MATMUL_FUSION"
                                     " MAXIMUM"
                                     " MAX_POOL_FUSION"
                                     " MINIMUM"
                                     " MUL_FUSION"
                                     " NOT_EQUAL"
                                     " POW_FUSION"
                                     " PRELU_FUSION"
                                     " REDUCE_FUSION"
                                     " RESIZE"
                                     " RSQRT"
                                     " SCALE_FUSION"
                                     " SIN"
                                     " SOFTMAX"
                                     " SOFTPLUS"
                                     " SQUARE"
                                     " SQUARED_DIFFERENCE"
                                     " SUB_FUSION"
                                     " ";
    static const NNRT_DataType types[] = {I8, NNRT_DATA_TYPE_UINT8, NNRT_DATA_TYPE_INT16, I32};
    static const uint64_t attr[16] = {0};
    uint32_t moving = 0, refused = 0, graphs = 0, named = 0;
    (void)state;
    for (const char *p = strchr(movers, ' '); p[1] != '\0'; p = strchr(p + 1, ' '))
        named++;
    for (const char *p = strchr(arithmetic, ' '); p[1] != '\0'; p = strchr(p + 1, ' '))
        named++;
    for (uint32_t i = 0; nnrt_op_at(i) != NULL; i++) {
        const nnrt_op *op = nnrt_op_at(i);
        const nnrt_op_arity a = nnrt_op_operands(op);
        char name[40];
        snprintf(name, sizeof(name), " %s ", op->name);
        if ((op->flags & NNRT_OP_GRAPHS) != 0) { /* has none at all */
            graphs++;
            continue;
        }
        if (strstr(movers, name) != NULL || strstr(arithmetic, name) != NULL) {
            moving++;
            assert_true((nnrt_op_types(op) & NNRT_TYPES_QUANT(NNRT_TYPES_I8)) != 0);
            continue;
        }
        for (uint32_t t = 0; t < 4; t++) {
            node n;
            node_begin(&n, op->name, attr, op->attr->bytes, a.minOut > 1 ? a.minOut : 1);
            for (uint32_t k = 0; k < a.minIn; k++)
                set_quant(node_in(&n, types[t], 2, 2, 2, 0, NULL), &g_half, 1, 0);
            node_refused(&n, NNRT_UNSUPPORTED_OP, "no quantized kernel");
        }
        refused++;
    }
    assert_int_equal(moving, named);
    assert_true(refused >= 31);
    assert_int_equal(graphs, 2);
}

/* One quantized operand among plain ones, and the reverse. */
static void test_quantised_beside_plain(void **state)
{
    static const NNRT_AddFusion add = {0};
    static const NNRT_Concat concat = {0};
    node n;
    (void)state;
    node_begin(&n, "ADD_FUSION", &add, sizeof(add), 1);
    (void)node_in(&n, I8, 1, 4, 0, 0, NULL);
    set_quant(node_in(&n, I8, 1, 4, 0, 0, NULL), &g_half, 1, 0);
    node_refused(&n, NNRT_INVALID_DATATYPE, "input 1 (y) 'operand' is qint8[4], expected the type of input 0: int8[4]");
    node_begin(&n, "CONCAT", &concat, sizeof(concat), 1); /* parameters on one side: the integers are copied */
    (void)node_in(&n, I8, 1, 4, 0, 0, NULL);
    set_quant(node_in(&n, I8, 1, 4, 0, 0, NULL), &g_half, 1, 0);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_true(n.out[0].quantCount == 1 && n.out[0].quant == &g_half);
    assert_string_equal(n.r.kernelName, "nnrt_concat");
    assert_int_equal(n.r.nDerived, 0);
    set_quant(&n.in[0], &g_other, 1, 0); /* others on the other side: they are requantized */
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_string_equal(n.r.kernelName, "nnrt_concat_q8");
    assert_int_equal(n.r.nDerived, 1);
    node_begin(&n, "GATHER", NULL, 0, 1); /* numbers of places are none */
    (void)node_in(&n, F32, 1, 4, 0, 0, NULL);
    set_quant(node_in(&n, I32, 1, 4, 0, 0, NULL), &g_half, 1, 0);
    n.r.attr = &add;
    n.r.attrBytes = 1;
    node_refused(&n, NNRT_INVALID_DATATYPE, "input 1 (indices) 'operand' is qint32[4], expected one of int32,int64");
}

/* Quantized arithmetic has 8 bits: any other width is refused, for each operand and parameter; operators that only move
   elements ignore it. */
static void test_bits(void **state)
{
    static const int32_t widths[] = {-8, 0, 1, 4, 7, 9, 16, 32, 0x7FFFFFFF};
    static const NNRT_Concat concat = {0};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        for (uint32_t which = 0; which < 3; which++) {
            NNRT_QuantParam odd = g_half, odds[4] = {{8, 3, 0.5}, {8, 3, 0.5}, {8, 3, 0.5}, {8, 3, 0.5}};
            static const NNRT_AddFusion add = {0};
            NNRT_FullConnection full;
            char words[80];
            node n;
            odd.numBits = odds[3].numBits = widths[i];
            node_begin(&n, "ADD_FUSION", &add, sizeof(add), 1);
            set_quant(node_in(&n, I8, 1, 4, 0, 0, NULL), which == 0 ? &odd : &g_half, 1, 0);
            set_quant(node_in(&n, I8, 1, 4, 0, 0, NULL), which == 1 ? &odd : &g_half, 1, 0);
            set_quant(&n.out[0], which == 2 ? &odd : &g_half, 1, 0);
            (void)snprintf(words, sizeof(words), "has numBits %d, expected 8", widths[i]);
            node_refused(&n, NNRT_UNSUPPORTED_OP, words);
            odd.numBits = 8;
            assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
            nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &full); /* the last of four, one a row */
            node_begin(&n, "FULL_CONNECTION", &full, sizeof(full), 1);
            set_quant(node_in(&n, I8, 2, 2, 3, 0, NULL), &g_half, 1, 0);
            set_quant(node_in(&n, I8, 2, 4, 3, 0, NULL), odds, 4, 1);
            set_quant(&n.out[0], &g_half, 1, 0);
            (void)snprintf(words, sizeof(words), "QuantParam 3 of 'operand' has numBits %d", widths[i]);
            node_refused(&n, NNRT_UNSUPPORTED_OP, words);
            odds[3].numBits = 8;
            assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
            odd.numBits = widths[i];
            node_begin(&n, "CONCAT", &concat, sizeof(concat), 1);
            set_quant(node_in(&n, I8, 1, 4, 0, 0, NULL), &odd, 1, 0);
            set_quant(node_in(&n, I8, 1, 4, 0, 0, NULL), &odd, 1, 0);
            assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
            assert_string_equal(n.r.kernelName, "nnrt_concat");
        }
    (void)state;
}

/* Elements that are chosen keep the parameters of those they were chosen from, where the result declares no others. */
static void test_chosen_values(void **state)
{
    static const int32_t two[1] = {2};
    NNRT_TopKFusion topk = {true, -1};
    NNRT_ArgMaxFusion argmax = {-1, 1, true, true};
    node n;
    (void)state;
    node_begin(&n, "TOPK_FUSION", &topk, sizeof(topk), 1);
    set_quant(node_in(&n, I8, 2, 2, 5, 0, NULL), &g_half, 1, 0);
    (void)node_in(&n, I32, 1, 1, 0, 0, two);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_ptr_equal(n.out[0].quant, &g_half);
    assert_string_equal(n.r.kernelName, "nnrt_topk_fusion");
    set_quant(&n.out[0], &g_other, 1, 0);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_string_equal(n.r.kernelName, "nnrt_topk_fusion_q8");
    node_begin(&n, "ARGMAX_FUSION", &argmax, sizeof(argmax), 1);
    set_quant(node_in(&n, I8, 2, 2, 5, 0, NULL), &g_half, 1, 0);
    set_quant(&n.out[0], &g_other, 1, 0);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_string_equal(n.r.kernelName, "nnrt_argmax_fusion_q8");
    n.in[0].dataType = n.out[0].dataType = NNRT_DATA_TYPE_INT16; /* has no kernel that requantizes */
    node_refused(&n, NNRT_UNSUPPORTED_OP, "different quantization parameters");
}

/* Parameters along an axis go where the axis goes; where it is cut, joined or reordered, that is refused. */
static void test_parameters_along_an_axis(void **state)
{
    static const NNRT_QuantParam three[3] = {{8, 0, 0.5}, {8, 1, 0.25}, {8, 2, 2}};
    static const int32_t perm[3] = {2, 0, 1}, begin[3] = {0, 0, 0}, whole[3] = {-1, -1, -1}, part[3] = {-1, 1, -1};
    static const int32_t ends[3] = {2, 3, 4}, ones[3] = {1, 1, 1}, back[3] = {1, -1, 1}, twice[3] = {1, 2, 1};
    static const int32_t shape[4] = {2, 3, 2, 2}, other[2] = {6, 4}, index[2] = {1, 0}, axis0[1] = {0}, axis1[1] = {1};
    static const int64_t first[1] = {0};
    const struct {
        const char *op;
        const void *attr;
        uint32_t bytes;
        const int32_t *a, *b, *c;
        int32_t count;
        int32_t to; /* -1: refused */
    } cases[] = {
        {"TRANSPOSE", NULL, 0, perm, NULL, NULL, 3, 2},        {"SLICE_FUSION", NULL, 0, begin, whole, NULL, 3, 1},
        {"SLICE_FUSION", NULL, 0, begin, part, NULL, 3, -1},   {"STRIDED_SLICE", NULL, 0, begin, ends, ones, 3, 1},
        {"STRIDED_SLICE", NULL, 0, begin, ends, back, 3, -1},  {"TILE_FUSION", NULL, 0, ones, NULL, NULL, 3, 1},
        {"TILE_FUSION", NULL, 0, twice, NULL, NULL, 3, -1},    {"RESHAPE", NULL, 0, shape, NULL, NULL, 4, 1},
        {"RESHAPE", NULL, 0, other, NULL, NULL, 2, -1},        {"EXPAND_DIMS", NULL, 0, axis0, NULL, NULL, 1, 2},
        {"EXPAND_DIMS", NULL, 0, begin + 2, NULL, NULL, 1, 2},
    };
    NNRT_Unsqueeze unsqueeze;
    NNRT_Concat concat = {1};
    NNRT_Split split = {1, {NULL, 0}, 1};
    NNRT_Stack stack = {0};
    node n;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static const uint64_t zeros[16] = {0};
        node_begin(&n, cases[i].op, zeros, nnrt_op_named(cases[i].op)->attr->bytes, 1);
        set_quant(node_in(&n, I8, 3, 2, 3, 4, NULL), three, 3, 2);
        for (int32_t k = 0; k < 3; k++) {
            const int32_t *list = k == 0 ? cases[i].a : k == 1 ? cases[i].b : cases[i].c;
            if (list != NULL)
                (void)node_in(&n, I32, 1, cases[i].count, 0, 0, list);
        }
        if (cases[i].to < 0) {
            node_refused(&n, NNRT_UNSUPPORTED_OP, "splits, joins or reorders");
            continue;
        }
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        assert_ptr_equal(n.out[0].quant, three);
        assert_int_equal(n.out[0].quantCount, 3);
        assert_int_equal(n.out[0].quantAxis, cases[i].to + 1);
    }
    for (int32_t axis = 0; axis < 2; axis++) { /* GATHER along another axis, with two indices and with one */
        for (int32_t rank = 0; rank < 2; rank++) {
            node_begin(&n, "GATHER", &stack, sizeof(stack), 1);
            set_quant(node_in(&n, I8, 3, 2, 3, 4, NULL), three, 3, 2);
            (void)node_in(&n, I32, rank, 2, 0, 0, index);
            (void)node_in(&n, I32, 1, 1, 0, 0, axis == 0 ? axis0 : axis1);
            if (axis == 1) {
                node_refused(&n, NNRT_UNSUPPORTED_OP, "splits, joins or reorders");
                continue;
            }
            assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
            assert_int_equal(n.out[0].quantAxis, rank == 0 ? 1 : 2);
        }
    }
    unsqueeze.axis = nnrt_int64_list(first, 1);
    node_begin(&n, "UNSQUEEZE", &unsqueeze, sizeof(unsqueeze), 1);
    set_quant(node_in(&n, I8, 3, 2, 3, 4, NULL), three, 3, 2);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_int_equal(n.out[0].quantAxis, 3);
    set_quant(&n.out[0], three, 3, 2); /* declared along another axis */
    node_refused(&n, NNRT_INVALID_PARAMETER, "has 3 QuantParams, expected 1 or 2, the size of axis 1");
    node_begin(&n, "CONCAT", &concat, sizeof(concat), 1);
    set_quant(node_in(&n, I8, 3, 2, 3, 4, NULL), three, 3, 2);
    node_refused(&n, NNRT_UNSUPPORTED_OP, "splits, joins or reorders");
    concat.axis = 0;
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    node_begin(&n, "SPLIT", &split, sizeof(split), 1);
    set_quant(node_in(&n, I8, 3, 2, 3, 4, NULL), three, 3, 2);
    node_refused(&n, NNRT_UNSUPPORTED_OP, "splits, joins or reorders");
    set_quant(&n.in[0], three, 2, 2); /* one for each place of the axis, or one for all */
    node_refused(&n, NNRT_INVALID_PARAMETER, "2 quantization parameters are not one for each index of axis 1");
    node_begin(&n, "STACK", &stack, sizeof(stack), 1);
    set_quant(node_in(&n, I8, 3, 2, 3, 4, NULL), three, 3, 2);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_int_equal(n.out[0].quantAxis, 3);
    n.in[0].quantAxis = 0; /* the channels: the last axis, the second of NCHW */
    node_refused(&n, NNRT_INVALID_PARAMETER, "are not one for each index of axis 2");
    n.in[0].format = NNRT_FORMAT_NCHW;
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
}

/* Norms of float32 with data of float16 give the same results as float16 norms of the same values; other mixtures are
   refused. */
static void test_norms_beside_half(void **state)
{
    static const uint16_t x[4] = {0x3C00, 0x4000, 0xBC00, 0x3800}, half[2] = {0x3E00, 0x3400}; /* 1 2 -1 .5; 1.5 .25 */
    static const float wide[2] = {1.5f, 0.25f};
    static const NNRT_FusedBatchNorm attr = {1e-4f};
    uint16_t y[2][4];
    (void)state;
    for (uint32_t which = 0; which < 2; which++) {
        nnrt_view views[6];
        nnrt_call call;
        node n;
        node_begin(&n, "FUSED_BATCH_NORM", &attr, sizeof(attr), 1);
        (void)node_in(&n, F16, 2, 2, 2, 0, x);
        for (uint32_t k = 0; k < 4; k++)
            (void)node_in(&n, which == 0 ? F16 : F32, 1, 2, 0, 0, which == 0 ? (const void *)half : wide);
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        for (uint32_t k = 0; k < 6; k++) {
            const nnrt_operand *o = k < 5 ? &n.in[k] : &n.out[0];
            nnrt_operand_view(n.r.op, o, k < 5 ? (int32_t)k : -1, &views[k]);
            views[k].data = k < 5 ? (void *)(uintptr_t)o->data : y[which];
        }
        memset(&call, 0, sizeof(call));
        call.nIn = n.r.kernelIn;
        call.nOut = 1;
        assert_int_equal(n.r.kernel(n.r.resolved, views, &call), NNRT_SUCCESS);
        n.in[0].dataType = F32;
        if (which == 0)
            node_refused(&n, NNRT_INVALID_DATATYPE,
                         "input 1 (scale) 'operand' is float16[2], expected the type of input 0");
    }
    assert_memory_equal(y[0], y[1], sizeof(y[0]));
}

static NNRT_ReturnCode gather(int32_t bad, nnrt_error *error)
{
    int32_t data[6] = {0, 1, 2, 3, 4, 5}, where[4] = {0, -3, 2, 1}, one[1] = {1}, result[8];
    const int32_t dims[3][2] = {{2, 3}, {2, 2}, {2, 2}};
    const nnrt_operand ox = nnrt_operand_make(I32, 2, dims[0], NULL), oi = nnrt_operand_make(I32, 2, dims[1], NULL);
    const int32_t yd[3] = {2, 2, 2}, ad[1] = {1};
    const nnrt_operand oy = nnrt_operand_make(I32, 3, yd, NULL), oa = nnrt_operand_make(I32, 1, ad, NULL);
    nnrt_view x, i, axis, y;
    nnrt_call call;
    nnrt_operand_view(NULL, &ox, 0, &x);
    nnrt_operand_view(NULL, &oi, 0, &i);
    nnrt_operand_view(NULL, &oa, 0, &axis);
    nnrt_operand_view(NULL, &oy, -1, &y);
    where[3] = bad;
    x.data = data;
    i.data = where;
    axis.data = one;
    y.data = result;
    memset(&call, 0, sizeof(call));
    call.error = error;
    return nnrt_gather(NULL, &x, &i, &axis, &y, error != NULL ? &call : NULL);
}

/* The message of a fault in run-time data names the element, the axis and the valid range. */
static void test_kernels_tell(void **state)
{
    nnrt_error error;
    (void)state;
    memset(&error, 0, sizeof(error));
    assert_int_equal(gather(2, &error), NNRT_SUCCESS);
    assert_int_equal(gather(3, &error), NNRT_INVALID_PARAMETER);
    assert_string_equal(error.message, "index 3, element 3 of indices, lies outside axis 1 of x, expected -3 to 2");
    assert_int_equal(gather(-4, NULL), NNRT_INVALID_PARAMETER);
}

/* Kernels that require a result report its absence if their caller passes an error; so do kernels for quantized data. */
static void test_results_needed(void **state)
{
    static const float scale[4] = {1, 1, 1, 1};
    NNRT_DetectionPostProcess detection;
    NNRT_MulticlassNms nms;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("DETECTION_POST_PROCESS")->attr, &detection);
    nnrt_attr_defaults(nnrt_op_named("MULTICLASS_NMS")->attr, &nms);
    detection.scale = nnrt_float_list(scale, 4);
    detection.maxDetections = detection.maxClassesPerDetection = detection.numClasses = 1;
    for (uint32_t which = 0; which < 3; which++) {
        static const uint8_t zeros[32] = {0};
        const bool quantised = which == 1;
        const NNRT_DataType type = quantised ? I8 : F32;
        float results[4][4], scratch[16];
        nnrt_view args[8];
        nnrt_error error;
        nnrt_call call;
        node n;
        if (which < 2)
            node_begin(&n, "DETECTION_POST_PROCESS", &detection, sizeof(detection), 4);
        else
            node_begin(&n, "MULTICLASS_NMS", &nms, sizeof(nms), 2);
        (void)node_in(&n, type, 3, 1, 1, 4, NULL);
        (void)node_in(&n, type, 3, 1, 1, 1, NULL);
        (void)node_in(&n, type, which < 2 ? 2 : -1, 1, 4, 0, NULL);
        n.in[2].dataType = which < 2 ? type : NNRT_DATA_TYPE_UNKNOWN;
        for (uint32_t i = 0; i < 3 && quantised; i++)
            set_quant(&n.in[i], &g_half, 1, 0);
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        assert_true(n.r.scratch <= sizeof(scratch));
        for (uint32_t without = 0; without < (which < 2 ? 3u : 1u); without++) {
            memset(args, 0, sizeof(args));
            memset(&call, 0, sizeof(call));
            memset(&error, 0, sizeof(error));
            for (uint32_t i = 0; i < 3 + n.r.nOut; i++) {
                nnrt_operand_view(n.r.op, i < 3 ? &n.in[i] : &n.out[i - 3], i < 3 ? (int32_t)i : -1, &args[i]);
                args[i].data = i < 3 ? (void *)(uintptr_t)zeros : (void *)results[i - 3];
            }
            memset(&args[3 + without], 0, sizeof(args[0]));
            if (which == 2)
                memset(&args[2], 0, sizeof(args[0]));
            call.nIn = n.r.kernelIn;
            call.nOut = n.r.nOut;
            call.scratch = scratch;
            call.scratchBytes = n.r.scratch;
            call.error = &error;
            assert_int_equal(n.r.kernel(n.r.resolved, args, &call), NNRT_INVALID_OUTPUT);
            if (strstr(error.message, "must be there") == NULL)
                fail_msg("'%s'", error.message);
        }
    }
}

/* 200,000 of 200,000: in falling order in a heap; without scratch it would take 4e10 comparisons. */
static void test_top_of_many(void **state)
{
    const int32_t L = 200000;
    float *x = (float *)malloc((size_t)L * sizeof(float)), *values = (float *)malloc((size_t)L * sizeof(float));
    int32_t *places = (int32_t *)malloc((size_t)L * sizeof(int32_t));
    NNRT_TopKFusion attr = {true, 0};
    nnrt_view vx, vv, vp;
    nnrt_call call;
    nnrt_operand o = nnrt_operand_make(F32, 1, &L, NULL), p = nnrt_operand_make(I32, 1, &L, NULL);
    node n;
    (void)state;
    node_begin(&n, "TOPK_FUSION", &attr, sizeof(attr), 2);
    (void)node_in(&n, F32, 1, L, 0, 0, NULL);
    (void)node_in(&n, I32, 1, 1, 0, 0, &L);
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_int_equal(n.r.scratch, (size_t)L * 4);
    for (int32_t i = 0; i < L; i++)
        x[i] = (float)((int64_t)i * 7919 % 65536); /* each value about three times */
    nnrt_operand_view(NULL, &o, 0, &vx);
    nnrt_operand_view(NULL, &o, -1, &vv);
    nnrt_operand_view(NULL, &p, -1, &vp);
    vx.data = x;
    vv.data = values;
    vp.data = places;
    memset(&call, 0, sizeof(call));
    call.scratchBytes = n.r.scratch;
    call.scratch = malloc(n.r.scratch);
    assert_int_equal(nnrt_topk_fusion(&attr, &vx, &vv, &vp, &call), NNRT_SUCCESS);
    for (int32_t i = 0; i < L; i++) {
        assert_true(values[i] == x[places[i]]);
        assert_true(i == 0 || values[i - 1] > values[i] || (values[i - 1] == values[i] && places[i - 1] < places[i]));
    }
    attr.sorted = false;
    assert_int_equal(nnrt_topk_fusion(&attr, &vx, &vv, &vp, &call), NNRT_SUCCESS);
    for (int32_t i = 0; i < L; i++)
        assert_true(places[i] == i && values[i] == x[i]);
    free(call.scratch);
    free(places);
    free(values);
    free(x);
}

typedef struct crew {
    uint32_t calls[100], workers;
} crew;

/* Calls in another order, by three workers in turn. */
static void crew_run(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    (void)user;
    for (uint32_t i = count; i-- > 0;)
        task(arg, i, i % 3);
}

static void crew_task(void *arg, uint32_t i, uint32_t worker)
{
    crew *c = (crew *)arg;
    c->calls[i]++;
    c->workers |= 1u << worker;
}

static void test_parallel_for(void **state)
{
    const nnrt_parallel three = {crew_run, NULL, 3};
    nnrt_call call;
    crew c;
    (void)state;
    memset(&call, 0, sizeof(call));
    for (int which = 0; which < 3; which++) {
        memset(&c, 0, sizeof(c));
        call.parallel = which == 2 ? &three : NULL;
        nnrt_parallel_for(which > 0 ? &call : NULL, 100, crew_task, &c);
        for (uint32_t i = 0; i < 100; i++)
            assert_int_equal(c.calls[i], 1);
        assert_int_equal(c.workers, which == 2 ? 7 : 1);
    }
    memset(&c, 0, sizeof(c));
    nnrt_parallel_for(&call, 0, crew_task, &c);
    assert_int_equal(c.calls[0], 0);
}

/* Layout-agnostic operators keep the format of an image; NCHW and NHWC do not mix; operators that change the axes set the
   format. */
static void test_formats(void **state)
{
    static const int32_t last[4] = {0, 2, 3, 1}, first[4] = {0, 3, 1, 2}, swap[4] = {0, 1, 3, 2},
                         same[4] = {0, 1, 2, 3};
    const struct {
        const int32_t *perm;
        NNRT_Format from, to;
    } turns[] = {
        {last, NNRT_FORMAT_NCHW, NNRT_FORMAT_NHWC},  {first, NNRT_FORMAT_NHWC, NNRT_FORMAT_NCHW},
        {first, NNRT_FORMAT_NCHW, NNRT_FORMAT_NONE}, {last, NNRT_FORMAT_NHWC, NNRT_FORMAT_NONE},
        {swap, NNRT_FORMAT_NCHW, NNRT_FORMAT_NONE},  {same, NNRT_FORMAT_NCHW, NNRT_FORMAT_NCHW},
        {last, NNRT_FORMAT_NONE, NNRT_FORMAT_NONE},
    };
    static const int32_t zeros[4] = {0}, whole[4] = {2, 2, 2, 2}, ones[4] = {1, 1, 1, 1}, axis[1] = {1};
    NNRT_ReduceFusion reduce;
    NNRT_StridedSlice slice;
    NNRT_AddFusion add = {0};
    node n;
    (void)state;
    node_begin(&n, "ADD_FUSION", &add, sizeof(add), 1);
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_operand *o = node_in(&n, F32, 3, 2, 2, 2, NULL);
        o->rank = 4;
        o->dims[3] = 2;
    }
    n.in[1].format = NNRT_FORMAT_NCHW;
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_int_equal(n.out[0].format, NNRT_FORMAT_NCHW);
    n.in[0].format = NNRT_FORMAT_NHWC;
    node_refused(&n, NNRT_INVALID_FORMAT,
                 "input 'operand' is NHWC, but input 'operand' is NCHW: transpose one of them");
    n.in[1].format = NNRT_FORMAT_NONE;
    n.out[0].format = NNRT_FORMAT_NCHW;
    node_refused(&n, NNRT_INVALID_FORMAT, "is declared NCHW, but input 'operand' is NHWC");
    n.out[0].format = NNRT_FORMAT_NONE;
    n.in[1].rank = 1; /* of other axes, their order says nothing */
    n.in[1].format = NNRT_FORMAT_NCHW;
    assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
    assert_int_equal(n.out[0].format, NNRT_FORMAT_NHWC);
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        node_begin(&n, "TRANSPOSE", &add, 1, 1);
        *node_in(&n, F32, 0, 0, 0, 0, NULL) = nnrt_operand_make(F32, 4, whole, NULL);
        n.in[0].format = turns[i].from;
        (void)node_in(&n, I32, 1, 4, 0, 0, turns[i].perm);
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        assert_int_equal(n.out[0].format, turns[i].to);
    }
    nnrt_attr_defaults(nnrt_op_named("REDUCE_FUSION")->attr, &reduce);
    for (int keep = 0; keep < 2; keep++) {
        reduce.keepDims = keep != 0;
        node_begin(&n, "REDUCE_FUSION", &reduce, sizeof(reduce), 1);
        *node_in(&n, F32, 0, 0, 0, 0, NULL) = nnrt_operand_make(F32, 4, whole, NULL);
        n.in[0].format = NNRT_FORMAT_NCHW;
        (void)node_in(&n, I32, 1, 1, 0, 0, axis);
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        assert_int_equal(n.out[0].format, keep != 0 ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NONE);
    }
    memset(&slice, 0, sizeof(slice));
    for (int moved = 0; moved < 2; moved++) { /* one axis goes and one comes: as many, but others */
        slice.shrinkAxisMask = moved != 0 ? 1 : 0;
        slice.newAxisMask = moved != 0 ? 2 : 0;
        node_begin(&n, "STRIDED_SLICE", &slice, sizeof(slice), 1);
        *node_in(&n, F32, 0, 0, 0, 0, NULL) = nnrt_operand_make(F32, 4, whole, NULL);
        n.in[0].format = NNRT_FORMAT_NCHW;
        (void)node_in(&n, I32, 1, 4, 0, 0, zeros);
        (void)node_in(&n, I32, 1, 4, 0, 0, whole);
        (void)node_in(&n, I32, 1, 4, 0, 0, ones);
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        assert_int_equal(n.out[0].rank, 4);
        assert_int_equal(n.out[0].format, moved != 0 ? NNRT_FORMAT_NONE : NNRT_FORMAT_NCHW);
    }
}

static void test_since(void **state)
{
    (void)state;
    assert_int_equal(nnrt_op_named("ADD_FUSION")->since, 10);
    assert_int_equal(nnrt_op_named("EXPFUSION")->since, 21);
    assert_int_equal(nnrt_op_named("ERF")->since, 21);
}

/* Kernels do not check that their first input exists: no row may make it optional, except operators that run subgraphs, whose
   kernel is never called. */
static void test_first_input(void **state)
{
    const nnrt_op *op;
    (void)state;
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++) {
        const char *text = op->inputs;
        while ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9'))
            text++;
        if ((op->flags & NNRT_OP_GRAPHS) == 0 && *text == '?')
            fail_msg("%s may leave out its first input", op->name);
    }
}

static void node_resolves(node *n)
{
    if (node_resolve(n) != NNRT_SUCCESS)
        fail_msg("%s", n->error.message);
}

/* Sources of the result's dimensions, by hand: 0 is fixed, a number above 10 is a new symbol for a computed dimension. */
static void open_is(const node *n, uint32_t out, uint32_t s0, uint32_t s1)
{
    const uint32_t want[2] = {s0, s1};
    for (int32_t i = 0; i < 2 && i < n->out[out].rank; i++)
        if (want[i] == 99 ? n->out[out].symbols[i] <= 10 : n->out[out].symbols[i] != want[i])
            fail_msg("%s: axis %d has symbol %u, expected %u", n->r.op->name, i, n->out[out].symbols[i], want[i]);
}

/* A node whose attributes are all zero and whose inputs may be open. */
static void node_open(node *n, const char *op, uint32_t *given)
{
    static const uint64_t zeros[64] = {0};
    assert_true(nnrt_op_named(op)->attr->bytes <= sizeof(zeros));
    node_begin(n, op, zeros, nnrt_op_named(op)->attr->bytes, 1);
    n->r.symbolCount = given;
}

/* Dynamic dimensions pass the rules as symbols: equal ones stay equal, fixed ones fixed, the others get new symbols. */
static void test_open_extents(void **state)
{
    static const int64_t list[] = {0, -1}, begin[] = {0, 1}, size[] = {-1, 2}, perm[] = {1, 0};
    static const int64_t shape[] = {4, 9};
    static const uint32_t parts[] = {3, 0}, second[] = {0, 3}, unbounded[] = {3 | NNRTI_UNBOUNDED};
    uint32_t given = 10;
    node n;
    (void)state;
    node_open(&n, "ADD_FUSION", &given); /* [a,4] + [1,4]; [a,4] + [b,4]; [a,4] + [a,4] */
    node_in(&n, F32, 2, 7, 4, 0, NULL)->symbols[0] = 1;
    node_in(&n, F32, 2, 1, 4, 0, NULL);
    node_resolves(&n);
    open_is(&n, 0, 1, 0);
    n.in[1].dims[0] = 7;
    n.in[1].symbols[0] = 2;
    node_resolves(&n);
    open_is(&n, 0, 99, 0);
    n.in[1].symbols[0] = 1;
    node_resolves(&n);
    open_is(&n, 0, 1, 0);
    n.in[1].dims[0] = 1; /* a dynamic dimension with the value 1 is not a fixed 1 */
    n.in[1].symbols[0] = 2;
    node_resolves(&n);
    open_is(&n, 0, 99, 0);
    n.in[0].dims[0] = 1;
    n.in[1].dims[0] = 7;
    node_resolves(&n);
    open_is(&n, 0, 99, 0);

    node_open(&n, "CONCAT", &given); /* [a,4] and [3,4] along 0 */
    node_in(&n, F32, 2, 7, 4, 0, NULL)->symbols[0] = 1;
    node_in(&n, F32, 2, 3, 4, 0, NULL);
    node_resolves(&n);
    open_is(&n, 0, 99, 0);

    node_open(&n, "MATMUL_FUSION", &given); /* [a,4] x [4,b] */
    node_in(&n, F32, 2, 7, 4, 0, NULL)->symbols[0] = 1;
    node_in(&n, F32, 2, 4, 7, 0, NULL)->symbols[1] = 2;
    node_resolves(&n);
    open_is(&n, 0, 1, 2);

    node_open(&n, "RESHAPE", &given); /* [a,4] as [0,-1]: a stays, 4 is inferred; as [s,-1] with another s: new */
    node_in(&n, F32, 2, 3, 4, 0, NULL)->symbols[0] = 1;
    node_in(&n, NNRT_DATA_TYPE_INT64, 1, 2, 0, 0, list);
    node_resolves(&n);
    open_is(&n, 0, 1, 0);
    n.in[1].open = parts;
    node_resolves(&n);
    open_is(&n, 0, 3, 99);

    node_open(&n, "SLICE_FUSION", &given); /* [a,7] from (0,1), (all,2) */
    node_in(&n, F32, 2, 7, 7, 0, NULL)->symbols[0] = 1;
    node_in(&n, NNRT_DATA_TYPE_INT64, 1, 2, 0, 0, begin);
    node_in(&n, NNRT_DATA_TYPE_INT64, 1, 2, 0, 0, size);
    node_resolves(&n);
    open_is(&n, 0, 1, 0);

    node_open(&n, "TRANSPOSE", &given);
    node_in(&n, F32, 2, 7, 4, 0, NULL)->symbols[0] = 1;
    node_in(&n, NNRT_DATA_TYPE_INT64, 1, 2, 0, 0, perm);
    node_resolves(&n);
    open_is(&n, 0, 0, 1);
    n.in[1].open = parts; /* which axis goes where cannot wait */
    node_refused(&n, NNRT_UNSUPPORTED_OP, "depends on dynamic dimensions: fix them");

    node_open(&n, "WHERE", &given); /* a condition [a] chooses rows of [3,4], or broadcasts: which, is not known */
    node_in(&n, NNRT_DATA_TYPE_BOOL, 1, 7, 0, 0, NULL)->symbols[0] = 1;
    (void)node_in(&n, F32, 2, 3, 4, 0, NULL);
    (void)node_in(&n, F32, 2, 3, 4, 0, NULL);
    node_refused(&n, NNRT_UNSUPPORTED_OP, "selects rows of 'operand' float32[3,4] if it is as long as axis 0");
    n.in[1].dims[0] = n.in[2].dims[0] = 1; /* both would be the same */
    node_resolves(&n);
    n.in[0].dims[0] = 1;
    n.in[0].symbols[0] = 0;
    n.in[1].symbols[0] = n.in[2].symbols[0] = 1;
    n.in[1].dims[0] = n.in[2].dims[0] = 7;
    node_resolves(&n);
    open_is(&n, 0, 1, 0);

    node_open(&n, "RANGE", &given); /* from 0 to a value without a bound: 1 until the run */
    (void)node_in(&n, NNRT_DATA_TYPE_INT64, 0, 0, 0, 0, list);
    node_in(&n, NNRT_DATA_TYPE_INT64, 0, 0, 0, 0, list)->open = unbounded;
    (void)node_in(&n, NNRT_DATA_TYPE_INT64, 0, 0, 0, 0, begin + 1);
    node_resolves(&n);
    open_is(&n, 0, 99, 0);
    assert_int_equal(n.out[0].dims[0], 1);

    node_open(&n, "SCATTER_ND", &given); /* the updates give the dimensions of slices that are dynamic in the shape */
    (void)node_in(&n, I32, 2, 3, 1, 0, NULL);
    (void)node_in(&n, F32, 2, 3, 5, 0, NULL);
    node_in(&n, NNRT_DATA_TYPE_INT64, 1, 2, 0, 0, shape)->open = second;
    node_resolves(&n);
    open_is(&n, 0, 0, 0);
    assert_int_equal(n.out[0].dims[1], 5);
    n.in[1].symbols[1] = 1;
    node_resolves(&n);
    open_is(&n, 0, 0, 1);

    for (int said = 0; said < 2; said++) { /* features of the state: from r or from hiddenSize */
        NNRT_GRU gru;
        nnrt_attr_defaults(nnrt_op_named("GRU")->attr, &gru);
        gru.hiddenSize = said != 0 ? 2 : 0;
        node_open(&n, "GRU", &given);
        n.r.attr = &gru;
        n.r.nOut = 2;
        node_in(&n, F32, 3, 5, 4, 3, NULL);
        node_in(&n, F32, 3, 1, 6, 3, NULL);
        node_in(&n, F32, 3, 1, 6, 2, NULL)->symbols[2] = 1;
        node_resolves(&n);
        assert_int_equal(n.out[0].symbols[3], said != 0 ? 0 : 1);
        assert_int_equal(n.out[1].symbols[2], said != 0 ? 0 : 1);
    }

    node_open(&n, "SHAPE", &given);
    node_in(&n, F32, 2, 7, 4, 0, NULL)->symbols[0] = 1;
    node_resolves(&n);
    assert_true(n.out[0].symbols[0] == 0 && n.out[0].open != NULL && n.out[0].open[0] == 1 && n.out[0].open[1] == 0);
}

/* Requantization factors and their results at the limits. Expected values come from exact integer arithmetic. */
static void test_quantised_factors(void **state)
{
    static const struct {
        double d;
        int32_t m, e;
    } factors[] = {
        {0, 0, 0},
        {0.5, 1073741824, 0},
        {1, 1073741824, 1},
        {0.3, 1288490189, -1},
        {-0.3, -1288490189, -1},
        {4294967297.0 / 4294967296.0, 1073741824, 1}, /* 1 + 2^-32: a quarter of a unit */
        {2147483649.0 / 2147483648.0, 1073741825, 1}, /* 1 + 2^-31: a half, away from zero */
        {8589934591.0 / 8589934592.0, 1073741824, 1}, /* 1 - 2^-33: up to a power of two */
        {1 / 4294967296.0, 1073741824, -31},          /* 2^-32 is the least */
        {0.75 / 4294967296.0, 0, 0},                  /* below */
        {(1 - DBL_EPSILON) / 4294967296.0, 1073741824, -31},
        {DBL_MIN / 4, 0, 0},            /* subnormal */
        {2147483647.0, 2147483647, 31}, /* the largest */
        {2147483648.0, 2147483647, 31},
        {(1 - DBL_EPSILON) * 2147483648.0, 2147483647, 31}, /* 2^31 when rounded */
        {DBL_MAX * 2, 2147483647, 31},
        {-DBL_MAX, -2147483647, 31},
    };
    static const struct {
        int64_t x;
        double d;
        int32_t y;
    } products[] = {
        {1, 0.5, 1},
        {-1, 0.5, 0}, /* the first rounding: halves up */
        {3, 0.5, 2},
        {-3, 0.5, -1},
        {3, 0.25, 1},
        {-3, 0.25, -1},
        {-3, -0.25, 1},
        {3, -0.25, -1},
        {-1, -0.5, 0},
        {5, 0.125, 1},
        {-5, 0.125, -1},
        {100, 0.3, 30},
        {INT32_MAX, 1, 1073741824}, /* twice x is kept in int32 */
        {INT32_MIN, 1, -1073741824},
        {INT32_MIN, 0.5, -1073741824},
        {INT32_MAX, 3, 1610612735},
        {INT32_MIN, 1e300, -2147483647},
        {INT32_MIN, -1e300, 2147483647},
        {1, 1e300, 2147483646},
        {-1, 1e300, -2147483647},
        {0, 1e300, 0},
        {(int64_t)INT32_MIN - 1, 1 / 2147483648.0, -1},
        {1099511640121, 1 / 1048576.0, 1048576},
        {-1099511640121, 1 / 1048576.0, -1048576},
        {7, 1 / 4294967296.0, 0},
        {INT32_MAX, 1 / 4294967296.0, 1}, /* rounded twice: once would give 0 */
        {INT32_MIN, 1 / 4294967296.0, -1},
        {INT64_MAX / 2, 1e-12, 0},
    };
    int32_t factor[2];
    (void)state;
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
        nnrti_factor(factors[i].d, factor);
        if (factor[0] != factors[i].m || factor[1] != factors[i].e)
            fail_msg("%.17g is {%d,%d}, not {%d,%d}", factors[i].d, (int)factor[0], (int)factor[1], (int)factors[i].m,
                     (int)factors[i].e);
    }
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        nnrti_factor(products[i].d, factor);
        if (nnrt_rescale(products[i].x, factor) != products[i].y)
            fail_msg("%lld times %.17g is %d, not %d", (long long)products[i].x, products[i].d,
                     (int)nnrt_rescale(products[i].x, factor), (int)products[i].y);
    }
    assert_int_equal(nnrti_high_product(INT32_MIN, INT32_MIN), INT32_MAX);
    assert_int_equal(nnrti_high_product(INT32_MIN, INT32_MAX), -INT32_MAX);
    assert_int_equal(nnrti_shift_round(-3, 1), -2);
    assert_int_equal(nnrti_shift_round(3, 1), 2);
    assert_int_equal(nnrti_shift_round(-1, 32), 0);
    assert_int_equal(nnrti_shift_round((int64_t)1 << 40, 33), 0);
    assert_int_equal(nnrti_shift_round(-7, 0), -7);
}

/* 100000 products of 255 * 255 are exact, in rows of a weight and across columns of a matrix: 6502500000 * 2^-26. */
static void test_quantised_long_sums(void **state)
{
    enum { K = 100000, N = 2 };
    static const NNRT_QuantParam small = {8, 0, 1.0 / 8192}, least = {8, 255, 1.0 / 8192}, one = {8, 0, 1};
    static uint8_t x[K], w[N * K];
    uint8_t y[N];
    node n;
    (void)state;
    for (int32_t matrix = 0; matrix < 4; matrix++) {
        static const NNRT_FullConnection dense = {0};
        static const NNRT_MatMulFusion product = {0};
        nnrt_view vx, vw, quant, vy;
        const bool columns = matrix % 2 != 0, negative = matrix >= 2; /* 0 - 255 times 0 - 255 */
        const NNRT_QuantParam *q = negative ? &least : &small;
        memset(x, negative ? 0 : 255, sizeof(x));
        memset(w, negative ? 0 : 255, sizeof(w));
        if (columns)
            node_begin(&n, "MATMUL_FUSION", &product, sizeof(product), 1);
        else
            node_begin(&n, "FULL_CONNECTION", &dense, sizeof(dense), 1);
        set_quant(node_in(&n, NNRT_DATA_TYPE_UINT8, 2, 1, K, 0, NULL), q, 1, 0);
        set_quant(node_in(&n, NNRT_DATA_TYPE_UINT8, 2, columns ? K : N, columns ? N : K, 0, NULL), q, 1, 0);
        set_quant(&n.out[0], &one, 1, 0);
        assert_int_equal(node_resolve(&n), NNRT_SUCCESS);
        assert_int_equal(n.r.nDerived, 1);
        nnrt_operand_view(n.r.op, &n.in[0], 0, &vx);
        nnrt_operand_view(n.r.op, &n.in[1], 1, &vw);
        nnrt_operand_view(n.r.op, &n.r.derived[0], 2, &quant);
        nnrt_operand_view(n.r.op, &n.out[0], -1, &vy);
        vx.data = x;
        vw.data = w;
        quant.data = (void *)(uintptr_t)n.r.derived[0].data;
        vy.data = y;
        memset(y, 0, sizeof(y));
        if (columns)
            (void)nnrt_matmul_fusion_q8((const NNRT_MatMulFusion *)n.r.resolved, &vx, &vw, NULL, &quant, &vy);
        else
            (void)nnrt_full_connection_q8((const NNRT_FullConnection *)n.r.resolved, &vx, &vw, NULL, &quant, &vy);
        assert_int_equal(y[0], 97);
        assert_int_equal(y[1], 97);
    }
}

/* Dynamic dimensions with quantization parameters: one parameter for each row of a weight whose rows are dynamic. */
static void test_quantised_open(void **state)
{
    static const NNRT_QuantParam three[] = {{8, 0, 0.5}, {8, 0, 0.25}, {8, 0, 1}};
    uint32_t given = 10;
    node n;
    (void)state;
    node_open(&n, "FULL_CONNECTION", &given); /* [a,4] with a weight [b,4] of three rows; b is 7 at most */
    set_quant(node_in(&n, I8, 2, 7, 4, 0, NULL), &g_half, 1, 0);
    n.in[0].symbols[0] = 1;
    set_quant(node_in(&n, I8, 2, 7, 4, 0, NULL), three, 3, 0);
    n.in[1].symbols[0] = 2;
    set_quant(&n.out[0], &g_other, 1, 0);
    node_resolves(&n);
    open_is(&n, 0, 1, 2);
    assert_int_equal(n.r.derived[0].dims[0], NNRT_QUANT_FACTORS + 2 * 3);
    n.in[1].symbols[0] = 0;
    node_refused(&n, NNRT_INVALID_PARAMETER, "has 3 QuantParams, expected 1 or 7, the size of axis 0");
    n.in[1].dims[0] = 3;
    node_resolves(&n);
    open_is(&n, 0, 1, 0);
    n.in[1].quantAxis = 2;
    node_refused(&n, NNRT_UNSUPPORTED_OP, "along axis 1, expected axis 0");
    n.in[1].quantCount = 1;
    node_resolves(&n);
    n.out[0].quantCount = 0;
    node_refused(&n, NNRT_INVALID_DATATYPE, "without QuantParam, expected one: the inputs are quantized");
}


/* A node with attributes as its description has them, or none of them said. */
static void *limit_begin(node *n, const char *op, uint32_t nOut)
{
    static uint64_t attr[64];
    const nnrt_attr_struct *s = nnrt_op_named(op)->attr;
    assert_true(s->bytes <= sizeof(attr));
    nnrt_attr_defaults(s, attr);
    node_begin(n, op, attr, s->bytes, nOut);
    return attr;
}

static void limit_in(node *n, NNRT_DataType type, int32_t rank, const int32_t *dims, const void *data)
{
    *node_in(n, type, 0, 0, 0, 0, NULL) = nnrt_operand_make(type, rank, dims, data);
    n->in[n->r.nIn - 1].name = "operand";
}

#define SHAPED(...) (sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (const int32_t[]){__VA_ARGS__}
#define I64 NNRT_DATA_TYPE_INT64
#define MAX32 INT32_MAX

/* Which of two checks that fail reports the error, and what its message names. */
static void test_words(void **state)
{
    static const int64_t two[] = {0, 0};
    static const NNRT_QuantParam each[] = {{8, 0, 0.5}, {8, 0, 0.25}, {8, 0, 1}};
    static const int32_t shape[] = {2, 3, 4}, zero[] = {0};
    NNRT_Conv2DFusion *conv;
    NNRT_Crop *crop;
    uint32_t given = 10;
    node n;
    (void)state;
    (void)limit_begin(&n, "DEFORMABLE_CONV_2D", 1);
    limit_in(&n, F32, SHAPED(5, 5, 2), NULL);
    limit_in(&n, F32, SHAPED(1, 18, 3, 3), NULL);
    limit_in(&n, F32, SHAPED(1, 9, 3, 3), NULL);
    limit_in(&n, F32, SHAPED(1, 2, 3, 3), NULL);
    node_refused(&n, NNRT_INVALID_SHAPE, "is float32[5,5,2], expected [N,H,W,C]");

    crop = (NNRT_Crop *)limit_begin(&n, "CROP", 1);
    crop->axis = 1;
    crop->offset = nnrt_int64_list(two, 2);
    limit_in(&n, F32, SHAPED(2, 3, 4), NULL);
    limit_in(&n, I32, SHAPED(3), shape);
    node_resolves(&n);
    crop->axis = 0;
    node_refused(&n, NNRT_INVALID_PARAMETER, "offset has 2 entries, expected 1, or one for each of the 3 axes");
    crop->axis = 2;
    node_refused(&n, NNRT_INVALID_PARAMETER, "offset has 2 entries, expected 1, or one for each of the 1 axes");

    conv = (NNRT_Conv2DFusion *)limit_begin(&n, "CONV_INTEGER", 1);
    conv->group = 1;
    limit_in(&n, I8, SHAPED(1, 3, 3, 2), NULL);
    limit_in(&n, I8, SHAPED(2, 1, 1, 2), NULL);
    limit_in(&n, NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
    limit_in(&n, I8, SHAPED(3), NULL);
    node_refused(&n, NNRT_INVALID_SHAPE, "zero point 'operand' is int8[3], expected one element");
    assert_null(strstr(n.error.message, "one element, or"));
    n.in[3].dims[0] = 1;
    limit_in(&n, I8, SHAPED(3), NULL);
    node_refused(&n, NNRT_INVALID_SHAPE, "zero point 'operand' is int8[3], expected one element, or [2] for 'operand'");

    (void)limit_begin(&n, "ROLL", 1); /* the shift is an input of the run: not along the axis of parameters */
    n.r.symbolCount = &given;
    limit_in(&n, I8, SHAPED(2, 3), NULL);
    limit_in(&n, I32, SHAPED(1), NULL);
    limit_in(&n, I32, SHAPED(1), zero);
    node_resolves(&n);
    set_quant(&n.in[0], each, 2, 1);
    node_refused(&n, NNRT_UNSUPPORTED_OP, "splits, joins or reorders");
}

#if SIZE_MAX > 0xFFFFFFFFu /* elsewhere the bytes do not fit, either */

/* Result 0 has this size along the axis. */
static void limit_is(node *n, int32_t axis, int32_t extent)
{
    node_resolves(n);
    assert_int_equal(n->out[0].dims[axis], extent);
}

/* A dimension may be INT32_MAX, and not one more; the same holds for intermediate values of the rules. */
static void test_limits(void **state)
{
    static const int64_t zero[1] = {0}, one[1] = {1}, most[1] = {MAX32}, more[1] = {(int64_t)MAX32 + 1};
    static const int64_t stride[3] = {MAX32, 1, 1}, shape[3] = {5, 1, 1}, apart[3] = {MAX32 - 1, 1, 1};
    static const int64_t less[1] = {MAX32 - 1}, least[1] = {MAX32 - 2}, two[1] = {2}, pads[2] = {1, 1};
    static const float scale[4] = {1, 1, 1, 1}, edges[1] = {100};
    node n;
    (void)state;
    {
        (void)limit_begin(&n, "RANGE", 1);
        limit_in(&n, I64, 0, NULL, zero);
        limit_in(&n, I64, 0, NULL, most);
        limit_in(&n, I64, 0, NULL, one);
        limit_is(&n, 0, MAX32);
        n.in[1].data = more;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "would have 2.14748365e9 elements: too many");
    }
    {
        (void)limit_begin(&n, "BROADCAST_TO", 1);
        limit_in(&n, F32, SHAPED(1), NULL);
        limit_in(&n, I64, SHAPED(1), most);
        limit_is(&n, 0, MAX32);
        n.in[1].data = more;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "shape[0] is 2147483648: too large");
    }
    {
        NNRT_Multinomial *a = (NNRT_Multinomial *)limit_begin(&n, "MULTINOMIAL", 1);
        limit_in(&n, F32, SHAPED(1, 2), NULL);
        a->sampleSize = MAX32;
        limit_is(&n, 1, MAX32);
        a->sampleSize = 0;
        node_refused(&n, NNRT_INVALID_PARAMETER, "sampleSize is 0");
    }
    {
        NNRT_ConvTranspose3D *a = (NNRT_ConvTranspose3D *)limit_begin(&n, "CONV_TRANSPOSE_3D", 1);
        limit_in(&n, F32, SHAPED(1, 1, 2, 1, 1), NULL);
        limit_in(&n, F32, SHAPED(1, 1, 1, 1, 1), NULL);
        a->strides = nnrt_int64_list(stride, 3);
        a->outputShape = nnrt_int64_list(shape, 3);
        limit_is(&n, 2, 5);
        n.in[0].dims[2] = 3;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "axis 2 of the result would have size 4294967294 + 1: too large");
        a->strides = nnrt_int64_list(NULL, 0);
        a->dilations = nnrt_int64_list(apart, 3);
        n.in[1].dims[2] = 2;
        limit_is(&n, 2, 5);
        a->dilations = nnrt_int64_list(stride, 3);
        node_refused(&n, NNRT_OUT_OF_MEMORY, "would have size 2 + 2147483648: too large");
        a->dilations = nnrt_int64_list(NULL, 0);
        a->autoPad = NNRT_AUTO_PAD_SAME_UPPER; /* which the resolved paddings replace */
        limit_is(&n, 2, 5);
        assert_int_equal(((const NNRT_ConvTranspose3D *)n.r.resolved)->autoPad, NNRT_AUTO_PAD_NOTSET);
    }
    {
        NNRT_DetectionPostProcess *a = (NNRT_DetectionPostProcess *)limit_begin(&n, "DETECTION_POST_PROCESS", 4);
        limit_in(&n, F32, SHAPED(1, 3, 4), NULL);
        limit_in(&n, F32, SHAPED(1, 3, 1), NULL);
        limit_in(&n, F32, SHAPED(3, 4), NULL);
        a->scale = nnrt_float_list(scale, 4);
        a->maxDetections = MAX32;
        a->maxClassesPerDetection = a->numClasses = 1;
        limit_is(&n, 1, MAX32);
        a->maxDetections = 1 << 30;
        a->maxClassesPerDetection = 2;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "maxDetections is 1073741824, maxClassesPerDetection 2: too large");
    }
    {
        (void)limit_begin(&n, "DFT", 1);
        limit_in(&n, F32, SHAPED(3, 1), NULL);
        limit_in(&n, I64, 0, NULL, most);
        limit_is(&n, 0, MAX32);
        n.in[1].data = more;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "a transform of 2147483648 values: too many");
    }
    {
        NNRT_GroupNormFusion *a = (NNRT_GroupNormFusion *)limit_begin(&n, "GROUP_NORM_FUSION", 1);
        a->affine = false;
        limit_in(&n, F32, SHAPED(1, MAX32, 2), NULL);
        limit_is(&n, 1, MAX32);
        assert_int_equal(n.out[0].viewDims[1], MAX32);
        n.in[0] = nnrt_operand_make(F32, SHAPED(1, 65536, 32768, 2), NULL);
        n.in[0].name = "operand";
        node_refused(&n, NNRT_OUT_OF_MEMORY, "its size does not fit");
    }
    {
        NNRT_GRU *a = (NNRT_GRU *)limit_begin(&n, "GRU", 2);
        const int32_t H = MAX32 / 6;
        a->hiddenSize = H;
        limit_in(&n, F32, SHAPED(2, 1, 1), NULL);
        limit_in(&n, F32, SHAPED(1, 3 * H, 1), NULL);
        limit_in(&n, F32, SHAPED(1, 3 * H, H), NULL);
        limit_is(&n, 3, H);
        a->hiddenSize = H + 1;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "hiddenSize is 357913942: too large");
    }
    for (int32_t which = 0; which < 3; which++) { /* layers, rows of gates, features of both directions */
        NNRT_LSTM *a = (NNRT_LSTM *)limit_begin(&n, "LSTM", 3);
        const int32_t rows = which == 0 ? MAX32 : 1, H = which == 1 ? MAX32 / 8 : 1, R = which == 2 ? MAX32 : H;
        a->numLayers = rows;
        a->projSize = which == 2 ? R : 0;
        limit_in(&n, F32, SHAPED(1, 1, 1), NULL);
        limit_in(&n, F32, SHAPED(rows, 4 * H, 1), NULL);
        limit_in(&n, F32, SHAPED(rows, 4 * H, R), NULL);
        limit_in(&n, F32, SHAPED(rows, 8 * H), NULL);
        limit_in(&n, F32, SHAPED(rows, 1, R), NULL);
        limit_in(&n, F32, SHAPED(rows, 1, H), NULL);
        if (which == 2)
            limit_in(&n, F32, SHAPED(rows, R, H), NULL);
        limit_is(&n, 2, R);
        a->bidirectional = which != 1;
        a->numLayers = which == 0 ? 1 << 30 : 1;
        a->hiddenSize = which == 1 ? H + 1 : H;
        a->projSize = which == 2 ? 1 << 30 : 0;
        node_refused(&n, NNRT_OUT_OF_MEMORY, ", a dimension exceeds 2147483647");
    }
    {
        NNRT_MaxPool3D *a = (NNRT_MaxPool3D *)limit_begin(&n, "MAX_POOL_3D", 2);
        a->kernelShape = nnrt_int64_list(one, 1);
        n.out[1].dataType = I32;
        limit_in(&n, F32, SHAPED(1, 1, MAX32), NULL);
        limit_is(&n, 2, MAX32);
        n.in[0] = nnrt_operand_make(F32, SHAPED(2, 1, 1 << 30), NULL);
        n.in[0].name = "operand";
        node_refused(&n, NNRT_INVALID_DATATYPE, "has more elements than int32 indices reach: declare output 1 as int64");
        n.out[1].dataType = I64;
        limit_is(&n, 2, 1 << 30);
        n.out[1].dataType = I32;
        n.r.nOut = 1;
        limit_is(&n, 2, 1 << 30);
    }
    {
        NNRT_MaxUnpool *a = (NNRT_MaxUnpool *)limit_begin(&n, "MAX_UNPOOL", 1);
        a->kernelShape = nnrt_int64_list(one, 1);
        a->strides = nnrt_int64_list(less, 1);
        limit_in(&n, F32, SHAPED(1, 1, 2), NULL);
        limit_in(&n, I64, SHAPED(1, 1, 2), NULL);
        limit_is(&n, 2, MAX32);
        a->kernelShape = nnrt_int64_list(two, 1);
        node_refused(&n, NNRT_OUT_OF_MEMORY, "axis 2 of the result would have size 2147483648: too large");
        a->kernelShape = nnrt_int64_list(one, 1);
        a->strides = nnrt_int64_list(most, 1);
        a->pads = nnrt_int64_list(pads, 2);
        limit_is(&n, 2, MAX32 - 1);
        n.in[0].dims[2] = n.in[1].dims[2] = 3;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "would have size 4294967294: too large");
    }
    {
        (void)limit_begin(&n, "MEL_WEIGHT_MATRIX", 1);
        for (int32_t i = 0; i < 3; i++)
            limit_in(&n, I64, 0, NULL, i == 0 ? least : one);
        for (int32_t i = 0; i < 2; i++)
            limit_in(&n, F32, 0, NULL, edges);
        limit_is(&n, 1, MAX32 - 2);
        n.in[0].data = less;
        node_refused(&n, NNRT_INVALID_PARAMETER, "numMelBins is 2147483646, expected 1 to 2147483645");
        n.in[0].data = one;
        n.in[1].data = least;
        limit_is(&n, 0, (1 << 30) - 1); /* (2^31 - 3) / 2 + 1 */
        n.in[1].data = less;
        node_refused(&n, NNRT_INVALID_PARAMETER, "dftLength is 2147483646, expected 1 to 2147483645");
    }
    {
        (void)limit_begin(&n, "MULTICLASS_NMS", 2);
        limit_in(&n, F32, SHAPED(1, MAX32, 4), NULL);
        limit_in(&n, F32, SHAPED(1, 1, MAX32), NULL);
        limit_is(&n, 0, MAX32);
        n.in[0].dims[0] = n.in[1].dims[0] = 2;
        n.in[0].dims[1] = n.in[1].dims[2] = 1 << 30;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "more than 2147483647 boxes");
        n.in[0].dims[0] = n.in[1].dims[0] = 1;
        n.in[1].dims[1] = 2;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "the result could have 2147483648 rows, at most 2147483647 are supported");
    }
    {
        (void)limit_begin(&n, "NON_MAX_SUPPRESSION", 1);
        limit_in(&n, F32, SHAPED(1, MAX32, 4), NULL);
        limit_in(&n, F32, SHAPED(1, 1, MAX32), NULL);
        limit_in(&n, I64, 0, NULL, most);
        limit_is(&n, 0, MAX32);
        n.in[0].dims[1] = n.in[1].dims[2] = 1 << 30;
        n.in[1].dims[1] = 2;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "the result could have 2147483648 rows, at most 2147483647 are supported");
    }
    {
        (void)limit_begin(&n, "NON_ZERO", 1);
        limit_in(&n, F32, SHAPED(MAX32), NULL);
        limit_is(&n, 1, MAX32);
        n.in[0] = nnrt_operand_make(F32, SHAPED(2, 1 << 30), NULL);
        n.in[0].name = "operand";
        node_refused(&n, NNRT_OUT_OF_MEMORY, "has more elements than an axis can have");
    }
    {
        (void)limit_begin(&n, "RESIZE_ND", 1);
        limit_in(&n, F32, SHAPED(1), NULL);
        limit_in(&n, NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        limit_in(&n, NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        limit_in(&n, I64, SHAPED(1), most);
        limit_is(&n, 0, MAX32);
        n.in[3].data = more;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "sizes[0] is 2147483648, expected 1 to 2147483647");
    }
    {
        (void)limit_begin(&n, "ROLL", 1);
        limit_in(&n, F32, SHAPED(MAX32), NULL);
        limit_in(&n, I64, SHAPED(1), one);
        limit_is(&n, 0, MAX32);
        n.in[0] = nnrt_operand_make(F32, SHAPED(2, 1 << 30), NULL);
        n.in[0].name = "operand";
        node_refused(&n, NNRT_OUT_OF_MEMORY, "has more elements than an axis can have");
    }
    {
        NNRT_YoloBox *a = (NNRT_YoloBox *)limit_begin(&n, "YOLO_BOX", 2);
        a->classNum = a->downsampleRatio = 1;
        limit_in(&n, F32, SHAPED(1, MAX32, 1, 6), NULL);
        limit_in(&n, I32, SHAPED(1, 2), NULL);
        limit_in(&n, I32, SHAPED(2), NULL);
        limit_is(&n, 1, MAX32);
        n.in[0].dims[1] = 1 << 30;
        n.in[0].dims[3] = 12;
        n.in[2].dims[0] = 4;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "the result would have 2147483648 boxes: too large");
    }
    {
        NNRT_Attention *a = (NNRT_Attention *)limit_begin(&n, "ATTENTION", 1);
        a->qNumHeads = a->kvNumHeads = 1;
        limit_in(&n, F32, SHAPED(1, 1, 1, 1), NULL);
        limit_in(&n, F32, SHAPED(1, 1, MAX32 - 1, 1), NULL);
        limit_in(&n, F32, SHAPED(1, 1, MAX32 - 1, 1), NULL);
        limit_in(&n, NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        limit_in(&n, F32, SHAPED(1, 1, 1, 1), NULL);
        limit_in(&n, F32, SHAPED(1, 1, 1, 1), NULL);
        limit_is(&n, 2, 1);
        assert_true(n.r.scratch == (size_t)MAX32 * 4);
        n.in[4].dims[2] = n.in[5].dims[2] = 2;
        node_refused(&n, NNRT_OUT_OF_MEMORY, "2147483646 keys and 2 past keys: too many");
    }
}

#endif

/* Every operator has vectors, which the suite vectors runs: at least four cases of its own. IF and LOOP have models instead,
   in test_control.c. */
static void test_every_row_has_vectors(void **state)
{
    uint32_t operators = 0;
    (void)state;
    for (uint32_t i = 0; nnrt_op_at(i) != NULL; i++) {
        const char *name = nnrt_op_at(i)->name;
        char path[128], line[4096], wanted[80];
        uint32_t cases = 0;
        size_t n = 0;
        bool whole = true;
        FILE *f;
        if (strcmp(name, "IF") == 0 || strcmp(name, "LOOP") == 0)
            continue;
        (void)snprintf(path, sizeof(path), "tests/ops/vectors/%s.vec", name);
        for (n = strlen("tests/ops/vectors/"); path[n] != '.'; n++)
            path[n] = path[n] >= 'A' && path[n] <= 'Z' ? (char)(path[n] + 32) : path[n];
        (void)snprintf(wanted, sizeof(wanted), "op %s\n", name);
        if ((f = fopen(path, "rb")) == NULL)
            fail_msg("operator %s has no %s", name, path);
        while (fgets(line, sizeof(line), f) != NULL) {
            cases += whole && strcmp(line, wanted) == 0;
            whole = strchr(line, '\n') != NULL;
        }
        (void)fclose(f);
        if (cases < 4)
            fail_msg("%s has %u cases of %s, expected 4 or more", path, cases, name);
        operators++;
    }
    assert_true(operators >= 123);
}

/* Windows counted by hand: taps i < k with start + i * dilation within 0 to L - 1. */
static void test_taps_inside(void **state)
{
    static const struct {
        int64_t start, k, dilation, L;
        int32_t first, end;
    } rows[] = {
        {0, 3, 1, 5, 0, 3},          /* all inside */
        {-1, 3, 1, 5, 1, 3},         /* padding before */
        {3, 3, 1, 5, 0, 2},          /* and behind */
        {-1, 3, 1, 1, 1, 2},         /* both */
        {-3, 3, 1, 5, 3, 3},         /* none: all before */
        {5, 3, 1, 5, 0, 0},          /* none: all behind */
        {-3, 3, 2, 5, 2, 3},         /* -3 -1 1 */
        {-4, 5, 3, 5, 2, 3},         /* -4 -1 2 5 8 */
        {-2, 4, 2, 3, 1, 3},         /* -2 0 2 4 */
        {-1, 2, 4, 3, 1, 1},         /* -1 3: the axis is between the taps */
        {0, 0, 1, 5, 0, 0},          /* no taps */
        {0, 3, 1, 0, 0, 0},          /* no elements */
        {-1000000000000, 2000000000, 1000, 5, 1000000000, 1000000001},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const nnrt_tap_range got = nnrt_taps_inside(rows[i].start, rows[i].k, rows[i].dilation, rows[i].L);
        const bool none = rows[i].first == rows[i].end;
        if (none ? got.first != got.end : got.first != rows[i].first || got.end != rows[i].end)
            fail_msg("row %u: taps %d to %d", (unsigned)i, (int)got.first, (int)got.end);
    }
}

static nnrt_view view_of(void *data, int32_t rank, const int32_t *dims, const ptrdiff_t *strides)
{
    nnrt_view v;
    memset(&v, 0, sizeof(v));
    v.data = data;
    v.dataType = I32;
    v.rank = rank;
    for (int32_t i = 0; i < rank; i++) {
        v.dims[i] = dims[i];
        v.strides[i] = strides[i];
    }
    return v;
}

/* A broadcast row, a transposed view and a dense one: offsets of all elements, by hand; and a slice of one axis. */
static void test_walk(void **state)
{
    static const int32_t dims[] = {2, 2, 3}, row[] = {3}, none[] = {2, 0, 3};
    static const ptrdiff_t dense[] = {6, 3, 1}, turned[] = {1, 2, 4}, one[] = {1};
    static const ptrdiff_t want[2][12] = {{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}};
    const nnrt_view z = view_of(NULL, 3, dims, dense), x = view_of(NULL, 3, dims, turned);
    const nnrt_view y = view_of(NULL, 1, row, one), empty = view_of(NULL, 3, none, dense);
    nnrt_walk w, slice;
    ptrdiff_t k = 0;
    (void)state;
    assert_true(nnrt_walk_first(&w, &z, &x, &y));
    assert_int_equal(w.rank, 2);
    assert_int_equal(w.count, 3);
    slice = w;
    do
        for (int32_t i = 0; i < w.count; i++, k++) {
            assert_int_equal(w.at[0] + i * w.row[0], k);
            assert_int_equal(w.at[1] + i * w.row[1], want[0][k]);
            assert_int_equal(w.at[2] + i * w.row[2], want[1][k]);
        }
    while (nnrt_walk_next(&w));
    assert_int_equal(k, 12);
    for (int32_t i = 0; i < 3; i++) /* the second half of the first axis */
        slice.at[i] += 1 * slice.step[i][0];
    slice.dims[0] = 1;
    assert_int_equal(slice.at[1], 1);
    assert_true(nnrt_walk_next(&slice));
    assert_int_equal(slice.at[0], 9);
    assert_int_equal(slice.at[1], 3);
    assert_false(nnrt_walk_next(&slice));
    assert_true(nnrt_walk_first(&w, &z, NULL, NULL)); /* dense: one row */
    assert_int_equal(w.rank, 0);
    assert_int_equal(w.count, 12);
    assert_false(nnrt_walk_next(&w));
    assert_false(nnrt_walk_first(&w, &empty, NULL, NULL));
    assert_true(nnrt_view_empty(&empty));
    assert_false(nnrt_view_empty(&y));
}

static void test_view_dense(void **state)
{
    static const int32_t dims[] = {2, 1, 3}, none[] = {2, 0, 3};
    static const ptrdiff_t dense[] = {3, 3, 1}, ones[] = {3, 99, 1}, gap[] = {4, 4, 1}, turned[] = {1, 2, 2};
    nnrt_view v = view_of(NULL, 3, dims, dense);
    (void)state;
    assert_true(nnrt_view_dense(&v));
    v = view_of(NULL, 3, dims, ones);
    assert_true(nnrt_view_dense(&v));
    v = view_of(NULL, 3, dims, gap);
    assert_false(nnrt_view_dense(&v));
    v = view_of(NULL, 3, dims, turned);
    assert_false(nnrt_view_dense(&v));
    v = view_of(NULL, 3, none, gap);
    assert_true(nnrt_view_dense(&v));
    v = view_of(NULL, 0, NULL, NULL);
    assert_true(nnrt_view_dense(&v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_has_vectors),
        cmocka_unit_test(test_graphs_refused),
        cmocka_unit_test(test_quantised_refused),
        cmocka_unit_test(test_quantised_beside_plain),
        cmocka_unit_test(test_quantised_factors),
        cmocka_unit_test(test_quantised_long_sums),
        cmocka_unit_test(test_quantised_open),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_chosen_values),
        cmocka_unit_test(test_parameters_along_an_axis),
        cmocka_unit_test(test_norms_beside_half),
        cmocka_unit_test(test_kernels_tell),
        cmocka_unit_test(test_results_needed),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_top_of_many),
        cmocka_unit_test(test_parallel_for),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_taps_inside),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_view_dense),
        cmocka_unit_test(test_open_extents),
#if SIZE_MAX > 0xFFFFFFFFu
        cmocka_unit_test(test_limits),
#endif
        cmocka_unit_test(test_since),
        cmocka_unit_test(test_first_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
