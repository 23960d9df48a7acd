/* Calls of the builder, valid and invalid, derived from bytes, for the targets `builder` and `work`. Include after
   fuzz.h. */
#ifndef NNRT_TESTS_FUZZ_CALLS_H
#define NNRT_TESTS_FUZZ_CALLS_H

#define FUZZ_BUILDER_BYTES ((size_t)16 << 20)
#define FUZZ_CALLS 40
#define FUZZ_CONSTANTS 24

typedef struct fuzz_building {
    fuzz_bytes f;
    nnrt_builder *b;
    uint32_t tensors;                /* that exist */
    void *constants[FUZZ_CONSTANTS]; /* outside of the model */
    uint32_t nConstants;
} fuzz_building;

/* Few names, so that some occur twice. */
static const char *fuzz_name(fuzz_bytes *f)
{
    static const char *const names[] = {NULL, "", "a", "b", "c", "d", "e", "f", "g", "h", "input", "output"};
    static const char longName[] =
        "a name that is longer than any message has room for, over and over, a name that is "
        "longer than any message has room for, over and over, a name that is longer than any "
        "message has room for, over and over, a name that is longer than any message has "
        "room for, over and over";
    uint32_t b = fuzz_byte(f);
    return b == 255 ? longName : b < 160 ? NULL : names[b % 12];
}

/* A tensor that exists, mostly one of the last; rarely none or one that does not. */
static uint32_t fuzz_tensor(fuzz_building *g)
{
    uint32_t b = fuzz_byte(&g->f);
    if (b >= 252)
        return fuzz_word(&g->f);
    if (b >= 244)
        return NNRT_NO_TENSOR;
    if (g->tensors == 0)
        return 0;
    return b < 160 ? g->tensors - 1 - b % 4 % g->tensors : b % g->tensors;
}

/* Random numbers; small integers for index types, so that shapes made of them are valid. */
static void fuzz_constant_fill(fuzz_building *g, NNRT_DataType type, void *data, size_t bytes)
{
    if (type == NNRT_DATA_TYPE_INT32)
        for (size_t i = 0; i < bytes / 4; i++)
            ((int32_t *)data)[i] = (int32_t)fuzz_int(&g->f);
    else if (type == NNRT_DATA_TYPE_INT64)
        for (size_t i = 0; i < bytes / 8; i++)
            ((int64_t *)data)[i] = fuzz_int(&g->f);
    else
        fuzz_fill(&g->f, data, bytes);
}

static void fuzz_call_constant(fuzz_building *g)
{
    int32_t dims[NNRT_MAX_RANK];
    NNRT_DataType type = fuzz_type(&g->f);
    bool indices = type == NNRT_DATA_TYPE_INT32 || type == NNRT_DATA_TYPE_INT64;
    int32_t rank = indices && !fuzz_rarely(&g->f, 4) ? 1 : fuzz_dims(&g->f, dims, false);
    bool copy = (fuzz_byte(&g->f) & 1) != 0;
    size_t bytes = 0;
    void *data;
    const char *name = fuzz_name(&g->f);
    if (indices && rank == 1)
        dims[0] = fuzz_extent(&g->f, false);
    if (!nnrt_dims_bytes(dims, rank, type, &bytes) || bytes > 4096 || g->nConstants == FUZZ_CONSTANTS)
        return;
    data = g->constants[g->nConstants++] = fuzz_block(bytes);
    fuzz_constant_fill(g, type, data, bytes);
    if (fuzz_rarely(&g->f, 64))
        dims[0] = (int32_t)fuzz_int(&g->f) > 0 ? -1 : -2;
    if (nnrt_builder_constant(g->b, name, type, rank, dims, data, copy) != NNRT_NO_TENSOR)
        g->tensors++;
}

static void fuzz_call_input(fuzz_building *g)
{
    int32_t dims[NNRT_MAX_RANK + 8];
    NNRT_DataType type = fuzz_rarely(&g->f, 64) ? (NNRT_DataType)fuzz_int(&g->f) : fuzz_type(&g->f);
    int32_t rank = fuzz_dims(&g->f, dims, true);
    const char *name = fuzz_name(&g->f);
    if (fuzz_rarely(&g->f, 100))
        rank = (int32_t)fuzz_int(&g->f);
    if (rank > 0 && rank <= NNRT_MAX_RANK && fuzz_rarely(&g->f, 8))
        dims[0] = -1;
    if (nnrt_builder_input(g->b, name, type, rank, fuzz_rarely(&g->f, 100) ? NULL : dims) != NNRT_NO_TENSOR)
        g->tensors++;
}

static void fuzz_call_op(fuzz_building *g)
{
    const nnrt_op *op = fuzz_op(&g->f);
    nnrt_op_arity arity = nnrt_op_operands(op);
    static fuzz_attr attr;
    uint32_t in[8], out[8], nIn = arity.maxIn < 8 ? arity.minIn + fuzz_below(&g->f, arity.maxIn - arity.minIn + 1) : 0;
    uint32_t nOut = arity.maxOut < 8 ? arity.minOut + fuzz_below(&g->f, arity.maxOut - arity.minOut + 1) : 0;
    const void *block = fuzz_rarely(&g->f, 4) ? NULL : fuzz_attr_make(&g->f, &attr, op);
    const char *name = fuzz_name(&g->f);
    nIn = arity.maxIn >= 8 ? fuzz_below(&g->f, 5) : nIn;
    nOut = arity.maxOut >= 8 ? fuzz_below(&g->f, 5) : nOut;
    if (fuzz_rarely(&g->f, 50))
        nIn = fuzz_below(&g->f, 9);
    for (uint32_t i = 0; i < nIn; i++)
        in[i] = fuzz_tensor(g);
    if (nOut == 1 && !fuzz_rarely(&g->f, 8)) {
        if (nnrt_builder_op(g->b, name, op->type, block, in, nIn) != NNRT_NO_TENSOR)
            g->tensors++;
        return;
    }
    for (uint32_t i = 0; i < nOut; i++) {
        out[i] = fuzz_rarely(&g->f, 12) ? fuzz_tensor(g) : nnrt_builder_tensor(g->b, NULL);
        if (out[i] != NNRT_NO_TENSOR && out[i] >= g->tensors)
            g->tensors = out[i] < 1000 ? out[i] + 1 : g->tensors;
    }
    nnrt_builder_node(g->b, name, fuzz_rarely(&g->f, 100) ? (NNRT_NodeType)fuzz_int(&g->f) : op->type, block, in, nIn,
                      out, nOut);
}

static void fuzz_call_other(fuzz_building *g, uint32_t which)
{
    int32_t dims[NNRT_MAX_RANK];
    NNRT_QuantParam quant[3];
    uint32_t t = fuzz_tensor(g);
    int32_t rank;
    switch (which) {
    case 0:
        if (nnrt_builder_tensor(g->b, fuzz_name(&g->f)) != NNRT_NO_TENSOR)
            g->tensors++;
        break;
    case 1:
        rank = fuzz_rarely(&g->f, 4) ? NNRT_RANK_UNKNOWN : fuzz_dims(&g->f, dims, true);
        nnrt_builder_declare(g->b, t, fuzz_rarely(&g->f, 4) ? NNRT_DATA_TYPE_UNKNOWN : fuzz_type(&g->f), rank, dims);
        break;
    case 2:
        nnrt_builder_format(g->b, t, fuzz_rarely(&g->f, 16) ? (int32_t)fuzz_int(&g->f) : (int32_t)fuzz_below(&g->f, 2));
        break;
    case 3:
        for (int i = 0; i < 3; i++) {
            static const double scales[] = {0.5, 0.0078125, 0.0, -1.0, 1e300, 1e-300, 3.0, 0.1};
            quant[i].numBits = fuzz_rarely(&g->f, 8) ? (int32_t)fuzz_int(&g->f) : 8;
            quant[i].zeroPoint = (int32_t)fuzz_int(&g->f);
            quant[i].scale = scales[fuzz_below(&g->f, 8)];
        }
        nnrt_builder_quant(g->b, t, quant, fuzz_rarely(&g->f, 2) ? fuzz_below(&g->f, 4) : 1);
        break;
    default: nnrt_builder_output(g->b, t); break;
    }
}

static void fuzz_calls(fuzz_building *g)
{
    uint32_t calls = 2 + fuzz_below(&g->f, FUZZ_CALLS - 2);
    for (uint32_t i = 0; i < calls && g->f.at < g->f.size; i++) {
        uint32_t b = fuzz_byte(&g->f);
        if (b < 50)
            fuzz_call_input(g);
        else if (b < 100)
            fuzz_call_constant(g);
        else if (b < 220)
            fuzz_call_op(g);
        else
            fuzz_call_other(g, b % 5);
    }
    if (g->tensors > 0 && !fuzz_rarely(&g->f, 16))
        nnrt_builder_output(g->b, g->tensors - 1);
}

#endif
