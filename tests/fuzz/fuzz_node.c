/* Fuzz target: the bytes are one node of one operator: types, shapes, which operands are constant, their contents and
   the attributes. If nnrt_resolve_node accepts it and it is small, the kernel runs between guard bytes, twice, and
   in-place if the operator's row allows it. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#include "inside.h"
#endif
#include "nnrt_hal.h"

#include "nnrt.h"

#include "fuzz.h"

#define FUZZ_OPERANDS 10
#define FUZZ_NODE_BYTES ((size_t)64 << 10) /* of one operand; larger nodes do not run */
#define FUZZ_GUARD 64

typedef struct fuzz_node_case {
    fuzz_bytes f;
    const nnrt_op *op;
    nnrt_resolve r;
    nnrt_operand in[FUZZ_OPERANDS], out[FUZZ_OPERANDS];
    void *data[FUZZ_OPERANDS];     /* of the inputs */
    size_t inBytes[FUZZ_OPERANDS]; /* of each */
    size_t outBytes[FUZZ_OPERANDS];
    uint8_t *results[FUZZ_OPERANDS]; /* between guards */
    uint8_t *first[FUZZ_OPERANDS];   /* results of the first run */
    nnrt_memory memory;              /* of the rule, counted */
    nnrt_error error;
    fuzz_attr attr;
    int64_t hints[4][4]; /* lists of attributes that fit */
    uint32_t nHints;
    NNRT_QuantParam quant[FUZZ_OPERANDS][4];
} fuzz_node_case;

static void *fuzz_node_alloc(void *user, size_t bytes)
{
    return nnrt_memory_keep((nnrt_memory *)user, bytes);
}

/* Parameters for about one operand in three. */
static void fuzz_node_quant(fuzz_node_case *c, nnrt_operand *o, NNRT_QuantParam *q)
{
    static const double scales[] = {0.5, 0.0078125, 0.0, -1.0, 1e300, 1e-300, 3.0, 0.1};
    if (!fuzz_rarely(&c->f, 3))
        return;
    o->quant = q;
    o->quantCount = fuzz_rarely(&c->f, 4) ? fuzz_below(&c->f, 5) : 1;
    for (uint32_t i = 0; i < 4; i++) {
        q[i].numBits = fuzz_rarely(&c->f, 8) ? (int32_t)fuzz_int(&c->f) : 8;
        q[i].zeroPoint = (int32_t)fuzz_int(&c->f);
        q[i].scale = scales[fuzz_below(&c->f, 8)];
    }
}

/* True if the row's text after the name of operand i declares it as indices. */
static bool fuzz_node_indices(const nnrt_op *op, uint32_t i)
{
    const char *p = op->inputs;
    for (; i > 0 && p != NULL; i--)
        p = strchr(p, ' ') != NULL ? strchr(p, ' ') + 1 : NULL;
    for (; p != NULL && *p != '\0' && *p != ' '; p++)
        if (p[0] == ':' && p[1] == 'i')
            return true;
    return false;
}

/* Input i: mostly of the type of input 0 and of a shape like that of the one before. Indices are short lists. */
static void fuzz_node_input(fuzz_node_case *c, uint32_t i)
{
    int32_t dims[NNRT_MAX_RANK];
    bool indices = fuzz_node_indices(c->op, i);
    NNRT_DataType type;
    int32_t rank;
    if (indices)
        type = (fuzz_byte(&c->f) & 1) != 0 ? NNRT_DATA_TYPE_INT32 : NNRT_DATA_TYPE_INT64;
    else
        type = i == 0 || fuzz_rarely(&c->f, 12) ? fuzz_type(&c->f) : c->in[0].dataType;
    rank = indices && !fuzz_rarely(&c->f, 4) ? (int32_t)fuzz_below(&c->f, 2) : fuzz_dims(&c->f, dims, true);
    if (indices && rank == 1)
        dims[0] = fuzz_extent(&c->f, false);
    if (!indices && i > 0 && c->in[i - 1].rank >= 0 && fuzz_byte(&c->f) < 96) {
        rank = c->in[i - 1].rank;
        memcpy(dims, c->in[i - 1].dims, sizeof(dims));
        if (rank > 0 && fuzz_rarely(&c->f, 2))
            dims[fuzz_below(&c->f, (uint32_t)rank)] = fuzz_extent(&c->f, false);
    }
    c->in[i] = nnrt_operand_make(type, rank, dims, NULL);
    c->in[i].format = (NNRT_Format)fuzz_below(&c->f, 3) - 1;
    if (i >= 1 && fuzz_rarely(&c->f, 12)) {
        c->in[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, 0, NULL, NULL);
        c->in[i].rank = -1;
        return;
    }
    fuzz_node_quant(c, &c->in[i], c->quant[i]);
}

/* Fills input i. Its values are known to the shape rule mostly for indices, sometimes for other inputs. */
static bool fuzz_node_data(fuzz_node_case *c, uint32_t i)
{
    nnrt_operand *o = &c->in[i];
    uint32_t known = fuzz_byte(&c->f);
    if (o->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return true;
    if (!nnrt_dims_bytes(o->dims, o->rank, o->dataType, &c->inBytes[i]) || c->inBytes[i] > FUZZ_NODE_BYTES) {
        c->inBytes[i] = 0;
        return false;
    }
    c->data[i] = fuzz_block(c->inBytes[i]);
    if (o->dataType == NNRT_DATA_TYPE_INT32 && c->inBytes[i] <= 128)
        for (size_t k = 0; k < c->inBytes[i] / 4; k++)
            ((int32_t *)c->data[i])[k] = (int32_t)fuzz_int(&c->f);
    else if (o->dataType == NNRT_DATA_TYPE_INT64 && c->inBytes[i] <= 256)
        for (size_t k = 0; k < c->inBytes[i] / 8; k++)
            ((int64_t *)c->data[i])[k] = fuzz_int(&c->f);
    else
        fuzz_fill(&c->f, c->data[i], c->inBytes[i]);
    if (fuzz_node_indices(c->op, i) ? known < 230 : known < 40)
        o->data = c->data[i];
    return true;
}

/* ---- operands and attributes that fit each other, which are too rare by chance ---- */

/* Member `name` of the attributes, NULL if there is none. */
static void *fuzz_hint_at(fuzz_node_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->op->attr->count; i++)
        if (strcmp(c->op->attr->members[i].name, name) == 0)
            return (uint8_t *)c->attr.block + c->op->attr->members[i].offset;
    return NULL;
}

static void fuzz_hint_int(fuzz_node_case *c, const char *name, int64_t value)
{
    void *at = fuzz_hint_at(c, name);
    if (at != NULL)
        memcpy(at, &value, sizeof(value));
}

/* A list of count numbers, each at least `least` and small. */
static const int64_t *fuzz_hint_list(fuzz_node_case *c, const char *name, uint32_t count, int64_t least)
{
    void *at = fuzz_hint_at(c, name);
    int64_t *list = c->hints[c->nHints % 4];
    NNRT_Int64List made = nnrt_int64_list(list, count);
    if (at == NULL)
        return NULL;
    c->nHints++;
    for (uint32_t i = 0; i < count; i++)
        list[i] = least + fuzz_below(&c->f, 3);
    memcpy(at, &made, sizeof(made));
    return list;
}

static void fuzz_hint_shape(fuzz_node_case *c, uint32_t i, int32_t d0, int32_t d1, int32_t d2, int32_t d3)
{
    int32_t dims[4];
    NNRT_Format format = c->in[i].format;
    NNRT_DataType type = fuzz_node_indices(c->op, i) ? NNRT_DATA_TYPE_INT32 : c->in[0].dataType;
    if (i >= c->r.nIn)
        return;
    dims[0] = d0;
    dims[1] = d1;
    dims[2] = d2;
    dims[3] = d3;
    c->in[i] = nnrt_operand_make(type, d1 == 0 ? 1 : 4, dims, NULL);
    c->in[i].format = format;
}

/* Image, weight and bias of a convolution with as many input as output channels. */
static void fuzz_hint_conv(fuzz_node_case *c)
{
    int32_t group = 1 + (int32_t)fuzz_below(&c->f, 2), channels = group * (1 + (int32_t)fuzz_below(&c->f, 2));
    int32_t h = 1 + (int32_t)fuzz_below(&c->f, 6), w = 1 + (int32_t)fuzz_below(&c->f, 6);
    const int64_t *kernel = fuzz_hint_list(c, "kernelSize", 2, 1);
    if ((fuzz_byte(&c->f) & 1) != 0)
        c->in[0].dataType = NNRT_DATA_TYPE_FLOAT32;
    if (c->in[0].format == NNRT_FORMAT_NCHW)
        fuzz_hint_shape(c, 0, 1, channels, h, w);
    else
        fuzz_hint_shape(c, 0, 1, h, w, channels);
    fuzz_hint_shape(c, 1, channels, (int32_t)kernel[0], (int32_t)kernel[1], channels / group);
    fuzz_hint_shape(c, 2, channels, 0, 0, 0);
    (void)fuzz_hint_list(c, "stride", 2, 1);
    (void)fuzz_hint_list(c, "dilation", 2, 1);
    (void)fuzz_hint_list(c, "padList", 4, 0);
    fuzz_hint_int(c, "group", group);
    fuzz_hint_int(c, "inChannel", channels);
    fuzz_hint_int(c, "outChannel", channels);
}

static void fuzz_hint_blocks(fuzz_node_case *c)
{
    const int64_t *block = fuzz_hint_list(c, "blockShape", 2, 1);
    const char *name = fuzz_hint_at(c, "crops") != NULL ? "crops" : "paddings";
    NNRT_Int64Lists lists;
    for (uint32_t i = 0; i < 2; i++) {
        int64_t *pair = c->hints[2 + i];
        pair[0] = fuzz_below(&c->f, 2);
        pair[1] = fuzz_below(&c->f, 2);
        c->attr.lists[i] = nnrt_int64_list(pair, 2);
    }
    lists.data = c->attr.lists;
    lists.count = 2;
    memcpy(fuzz_hint_at(c, name), &lists, sizeof(lists));
    fuzz_hint_shape(c, 0, (int32_t)(block[0] * block[1]), (int32_t)(block[0] * 2), (int32_t)(block[1] * 2), 2);
}

/* Makes the operands of an operator fit each other, which is rare by chance. */
static void fuzz_hint_operands(fuzz_node_case *c)
{
    static const NNRT_DataType quantized[] = {NNRT_DATA_TYPE_INT8,    NNRT_DATA_TYPE_UINT8, NNRT_DATA_TYPE_FLOAT32,
                                              NNRT_DATA_TYPE_FLOAT16, NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_INT16};
    int32_t rank = c->in[0].rank;
    switch (c->op->type) {
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION: fuzz_hint_conv(c); break;
    case NNRT_NODE_TYPE_BATCH_TO_SPACE_ND:
    case NNRT_NODE_TYPE_SPACE_TO_BATCH_ND: fuzz_hint_blocks(c); break;
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION:
        fuzz_hint_shape(c, 0, 1, 1 + (int32_t)fuzz_below(&c->f, 7), 1 + (int32_t)fuzz_below(&c->f, 7), 2);
        (void)fuzz_hint_list(c, "kernelSize", 2, 1);
        (void)fuzz_hint_list(c, "strides", 2, 1);
        (void)fuzz_hint_list(c, "pad", 4, 0);
        break;
    case NNRT_NODE_TYPE_STRIDED_SLICE:
    case NNRT_NODE_TYPE_SLICE_FUSION:
    case NNRT_NODE_TYPE_TRANSPOSE:
    case NNRT_NODE_TYPE_RESHAPE:
    case NNRT_NODE_TYPE_TILE_FUSION:
        for (uint32_t i = 1; i < c->r.nIn; i++)
            fuzz_hint_shape(c, i, rank > 0 ? rank : 1, 0, 0, 0);
        break;
    case NNRT_NODE_TYPE_CONCAT:
    case NNRT_NODE_TYPE_STACK:
        for (uint32_t i = 1; i < c->r.nIn; i++)
            c->in[i] = c->in[0];
        break;
    case NNRT_NODE_TYPE_SPLIT: fuzz_hint_int(c, "outputNum", c->r.nOut); break;
    case NNRT_NODE_TYPE_QUANT_DTYPE_CAST:
        c->in[0].dataType = quantized[fuzz_below(&c->f, 6)];
        c->out[0].dataType = quantized[fuzz_below(&c->f, 6)];
        fuzz_hint_int(c, "srcT", c->in[0].dataType);
        fuzz_hint_int(c, "dstT", c->out[0].dataType);
        c->in[0].quant = c->quant[0];
        c->out[0].quant = c->quant[4];
        c->in[0].quantCount = c->out[0].quantCount = 1;
        for (int i = 0; i < 8; i += 4) {
            c->quant[i][0].numBits = 8;
            c->quant[i][0].zeroPoint = (int32_t)fuzz_below(&c->f, 100);
            c->quant[i][0].scale = 0.125;
        }
        break;
    default: break;
    }
}

/* The same for the contents of index operands. */
static void fuzz_hint_data(fuzz_node_case *c)
{
    int32_t *list = c->r.nIn > 1 ? (int32_t *)c->data[1] : NULL, rank = c->in[0].rank;
    if (list == NULL || c->in[1].dataType != NNRT_DATA_TYPE_INT32 || c->inBytes[1] != (size_t)rank * 4)
        return;
    if (c->op->type == NNRT_NODE_TYPE_TRANSPOSE)
        for (int32_t i = 0, turn = (int32_t)fuzz_below(&c->f, 8); i < rank; i++)
            list[i] = (turn & 4) != 0 ? rank - 1 - i : (i + turn) % rank;
    if (c->op->type == NNRT_NODE_TYPE_RESHAPE)
        for (int32_t i = 0; i < rank; i++)
            list[i] = c->in[0].dims[rank - 1 - i];
    if (c->op->type != NNRT_NODE_TYPE_SLICE_FUSION && c->op->type != NNRT_NODE_TYPE_STRIDED_SLICE)
        return;
    for (uint32_t k = 1; k < c->r.nIn; k++) /* begin, end or size, strides, axes */
        for (int32_t i = 0; i < rank && c->inBytes[k] == (size_t)rank * 4; i++)
            ((int32_t *)c->data[k])[i] = k == 1   ? (int32_t)fuzz_below(&c->f, 2)
                                         : k == 2 ? (int32_t)fuzz_below(&c->f, 4) - 1
                                         : k == 3 ? (int32_t)fuzz_below(&c->f, 5) - 2
                                                  : i;
}

/* The node: operands and attributes; false if an input is too large to have contents. */
static bool fuzz_node_make(fuzz_node_case *c)
{
    nnrt_op_arity arity;
    bool small = true, fit;
    c->op = fuzz_op(&c->f);
    arity = nnrt_op_operands(c->op);
    c->r.op = c->op;
    c->r.nodeName = "n";
    c->r.nIn = arity.maxIn > FUZZ_OPERANDS ? fuzz_below(&c->f, 5)
                                           : arity.minIn + fuzz_below(&c->f, arity.maxIn - arity.minIn + 1);
    c->r.nOut = arity.maxOut > FUZZ_OPERANDS ? fuzz_below(&c->f, 5)
                                             : arity.minOut + fuzz_below(&c->f, arity.maxOut - arity.minOut + 1);
    for (uint32_t i = 0; i < FUZZ_OPERANDS; i++) {
        c->in[i] = c->out[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, 0, NULL, NULL);
        c->in[i].rank = c->out[i].rank = -1;
    }
    for (uint32_t i = 0; i < c->r.nIn; i++)
        fuzz_node_input(c, i);
    for (uint32_t i = 0; i < c->r.nOut; i++) {
        c->out[i].dataType = fuzz_rarely(&c->f, 3) ? fuzz_type(&c->f) : NNRT_DATA_TYPE_UNKNOWN;
        c->out[i].format = c->r.nIn > 0 ? c->in[0].format : NNRT_FORMAT_NONE;
        fuzz_node_quant(c, &c->out[i], c->quant[i + 4 < FUZZ_OPERANDS ? i + 4 : i]);
    }
    c->r.attr = fuzz_attr_make(&c->f, &c->attr, c->op);
    c->r.attrBytes = fuzz_rarely(&c->f, 32) ? fuzz_below(&c->f, c->op->attr->bytes + 1) : c->op->attr->bytes;
    fit = c->r.nIn > 0 && !fuzz_rarely(&c->f, 4);
    if (fit)
        fuzz_hint_operands(c);
    for (uint32_t i = 0; i < c->r.nIn; i++)
        small = fuzz_node_data(c, i) && small;
    if (fit)
        fuzz_hint_data(c);
    return small;
}

/* A result is always a tensor, or was not requested; guards surround it. */
static bool fuzz_node_results(fuzz_node_case *c)
{
    for (uint32_t i = 0; i < c->r.nOut; i++) {
        const nnrt_operand *o = &c->out[i];
        if (o->dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        fuzz_expect(nnrt_type_size(o->dataType) > 0 && o->rank >= 0 && o->rank <= NNRT_MAX_RANK,
                    "a resolved result has type and shape", c->op->name);
        fuzz_expect(nnrt_dims_bytes(o->dims, o->rank, o->dataType, &c->outBytes[i]),
                    "the size of a resolved result can be counted", c->op->name);
        if (c->outBytes[i] > FUZZ_NODE_BYTES)
            return false;
    }
    for (uint32_t i = 0; i < c->r.nOut; i++)
        if (c->out[i].dataType != NNRT_DATA_TYPE_UNKNOWN) {
            c->results[i] = (uint8_t *)fuzz_block(c->outBytes[i] + (size_t)2 * FUZZ_GUARD);
            c->first[i] = (uint8_t *)fuzz_block(c->outBytes[i]);
        }
    return true;
}

/* Runs the kernel; place: the memory of each output. */
static NNRT_ReturnCode fuzz_node_call(fuzz_node_case *c, void *const *data, void *const *place)
{
    void *known[FUZZ_OPERANDS];
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < c->r.nIn; i++) {
        known[i] = (void *)(uintptr_t)c->in[i].data;
        if (c->in[i].data == NULL || data[i] != c->data[i])
            c->in[i].data = data[i];
    }
    code = nnrti_node_run(&c->r, place, &c->memory);
    for (uint32_t i = 0; i < c->r.nIn; i++)
        c->in[i].data = known[i];
    return code;
}

static void fuzz_node_run(fuzz_node_case *c, int fill, bool first, NNRT_ReturnCode *code)
{
    void *place[FUZZ_OPERANDS];
    NNRT_ReturnCode got;
    memset(&c->error, 0, sizeof(c->error));
    for (uint32_t i = 0; i < FUZZ_OPERANDS; i++) {
        place[i] = c->results[i] != NULL ? c->results[i] + FUZZ_GUARD : NULL;
        if (place[i] != NULL)
            memset(c->results[i], fill, c->outBytes[i] + (size_t)2 * FUZZ_GUARD);
    }
    got = fuzz_node_call(c, c->data, place);
    fuzz_check_error(got, &c->error, c->op->name);
    if (got != NNRT_SUCCESS)
        fuzz_expect(fuzz_run_failure(got, c->error.message), "what was resolved runs", c->error.message);
    if (!first)
        fuzz_expect(got == *code, "a second run ends with the same code", c->op->name);
    *code = got;
    for (uint32_t i = 0; i < FUZZ_OPERANDS; i++) {
        size_t told = c->outBytes[i];
        if (place[i] == NULL)
            continue;
        for (size_t k = 0; k < FUZZ_GUARD; k++)
            fuzz_expect(c->results[i][k] == (uint8_t)fill &&
                            c->results[i][FUZZ_GUARD + c->outBytes[i] + k] == (uint8_t)fill,
                        "nothing is written beside a result", c->op->name);
        if (got == NNRT_SUCCESS) { /* an operator may report that a result is smaller than planned */
            (void)nnrt_dims_bytes(c->out[i].dims, c->out[i].rank, c->out[i].dataType, &told);
            fuzz_expect(told == c->outBytes[i] || ((c->op->flags & NNRT_OP_DATA_DEPENDENT) && told < c->outBytes[i]),
                        "a result is as large as was planned", c->op->name);
        }
        if (first)
            memcpy(c->first[i], place[i], told);
        else if (got == NNRT_SUCCESS)
            fuzz_expect(memcmp(c->first[i], place[i], told) == 0, "runs give the same bits", c->op->name);
    }
}

/* Writes output 0 over a copy of input k, if the row allows it and shapes and sizes are equal. */
static void fuzz_node_in_place(fuzz_node_case *c, uint32_t k)
{
    const nnrt_operand *x = &c->in[k], *y = &c->out[0];
    void *data[FUZZ_OPERANDS], *place[FUZZ_OPERANDS];
    if ((c->op->flags & NNRT_OP_INPLACE) == 0 || c->data[k] == NULL || c->results[0] == NULL || c->r.nOut != 1 ||
        x->data != NULL || nnrt_type_size(x->dataType) != nnrt_type_size(y->dataType) || x->rank != y->rank ||
        x->format != y->format || memcmp(x->dims, y->dims, (size_t)x->rank * sizeof(int32_t)) != 0)
        return;
    memcpy(data, c->data, sizeof(data));
    memset(place, 0, sizeof(place));
    data[k] = place[0] = fuzz_block(c->outBytes[0]);
    memcpy(place[0], c->data[k], c->outBytes[0]);
    memset(&c->error, 0, sizeof(c->error));
    fuzz_expect(fuzz_node_call(c, data, place) == NNRT_SUCCESS, "over its input it runs, too", c->error.message);
    fuzz_expect(memcmp(c->first[0], place[0], c->outBytes[0]) == 0, "over its input it gives the same bits",
                c->op->name);
    free(place[0]);
}

static void fuzz_node(const uint8_t *data, size_t size)
{
    static fuzz_node_case c;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, (size_t)8 << 20);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    memset(&c, 0, sizeof(c));
    c.f = fuzz_bytes_make(data, size);
    nnrt_memory_allocate(&c.memory, &a);
    c.r.alloc = fuzz_node_alloc;
    c.r.user = &c.memory;
    c.r.error = &c.error;
    c.r.in = c.in;
    c.r.out = c.out;
    c.r.node = -1;
    if (fuzz_node_make(&c)) {
        code = nnrt_resolve_node(&c.r);
        fuzz_check_error(code, &c.error, "nnrt_resolve_node");
        if (code == NNRT_SUCCESS && c.r.kernel != NULL && fuzz_node_results(&c)) {
            fuzz_node_run(&c, 0xA5, true, &code);
            fuzz_node_run(&c, 0x5A, false, &code);
            for (uint32_t k = 0; k < c.r.nIn && code == NNRT_SUCCESS; k++)
                fuzz_node_in_place(&c, k);
        }
    }
    nnrt_memory_end(&c.memory);
    fuzz_memory_empty(&memory);
    for (uint32_t i = 0; i < FUZZ_OPERANDS; i++) {
        free(c.data[i]);
        free(c.results[i]);
        free(c.first[i]);
    }
}

FUZZ_TARGET(fuzz_node)
