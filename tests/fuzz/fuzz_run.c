/* Fuzz target: small models of the target's own; the bytes are the inputs of runs, including indices and divisors, and
   invalid calls: wrong sizes, counts, alignments and missing buffers. After any of them a valid run succeeds. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "fuzz.h"

#define FUZZ_MODELS 9

static uint32_t fuzz_net_input(nnrt_builder *b, NNRT_DataType type, int32_t d0, int32_t d1, int32_t d2, int32_t d3)
{
    int32_t dims[4];
    int32_t rank = d1 == 0 ? 1 : d2 == 0 ? 2 : d3 == 0 ? 3 : 4;
    dims[0] = d0;
    dims[1] = d1;
    dims[2] = d2;
    dims[3] = d3;
    return nnrt_builder_input(b, NULL, type, rank, dims);
}

static uint32_t fuzz_net_floats(nnrt_builder *b, int32_t d0, int32_t d1, int32_t d2, int32_t d3)
{
    int32_t dims[4];
    int32_t rank = d1 == 0 ? 1 : d2 == 0 ? 2 : d3 == 0 ? 3 : 4;
    float values[256];
    dims[0] = d0;
    dims[1] = d1;
    dims[2] = d2;
    dims[3] = d3;
    for (int i = 0; i < 256; i++)
        values[i] = (float)(i * 37 % 64 - 31) / 16.0f;
    return nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, rank, dims, values, true);
}

static uint32_t fuzz_net_int(nnrt_builder *b, int32_t value)
{
    int32_t one = 1;
    return nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 1, &one, &value, true);
}

static uint32_t fuzz_net_op(nnrt_builder *b, NNRT_NodeType type, const void *attr, uint32_t x, uint32_t y, uint32_t z,
                            uint32_t w)
{
    uint32_t in[4];
    uint32_t n = y == NNRT_NO_TENSOR ? 1 : z == NNRT_NO_TENSOR ? 2 : w == NNRT_NO_TENSOR ? 3 : 4;
    in[0] = x;
    in[1] = y;
    in[2] = z;
    in[3] = w;
    return nnrt_builder_op(b, NULL, type, attr, in, n);
}

#define FUZZ_NO NNRT_NO_TENSOR

/* A convolution, a pooling and a fully connected layer, chained. */
static uint32_t fuzz_net_image(nnrt_builder *b, const int64_t *two, const int64_t *ones)
{
    NNRT_Conv2DFusion conv;
    NNRT_MaxPoolFusion pool;
    NNRT_FullConnection full;
    uint32_t x = fuzz_net_input(b, NNRT_DATA_TYPE_FLOAT32, 1, 6, 6, 2), y, shape;
    int32_t flat[2] = {1, 27}, extent = 2;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_CONV2D_FUSION)->attr, &conv);
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_MAX_POOL_FUSION)->attr, &pool);
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_FULL_CONNECTION)->attr, &full);
    conv.kernelSize = nnrt_int64_list(two, 2);
    conv.stride = conv.dilation = nnrt_int64_list(ones, 2);
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.inChannel = 2;
    conv.outChannel = 3;
    conv.activationType = NNRT_ACTIVATION_TYPE_RELU;
    pool.kernelSize = pool.strides = nnrt_int64_list(two, 2);
    pool.padMode = NNRT_PAD_MODE_VALID;
    full.hasBias = true;
    y = fuzz_net_op(b, NNRT_NODE_TYPE_CONV2D_FUSION, &conv, x, fuzz_net_floats(b, 3, 2, 2, 2), FUZZ_NO, FUZZ_NO);
    y = fuzz_net_op(b, NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, y, FUZZ_NO, FUZZ_NO, FUZZ_NO);
    shape = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 1, &extent, flat, true);
    y = fuzz_net_op(b, NNRT_NODE_TYPE_RESHAPE, NULL, y, shape, FUZZ_NO, FUZZ_NO);
    y = fuzz_net_op(b, NNRT_NODE_TYPE_FULL_CONNECTION, &full, y, fuzz_net_floats(b, 4, 27, 0, 0),
                    fuzz_net_floats(b, 4, 0, 0, 0), FUZZ_NO);
    return fuzz_net_op(b, NNRT_NODE_TYPE_SOFTMAX, NULL, y, FUZZ_NO, FUZZ_NO, FUZZ_NO);
}

/* Model `which`; the first ones can fail because of their data. */
static void fuzz_net(nnrt_builder *b, uint32_t which)
{
    static const int64_t two[2] = {2, 2}, ones[2] = {1, 1};
    NNRT_OneHot hot;
    uint32_t x, y, out[2];
    switch (which) {
    case 0: /* rows of a table, by number */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_INT32, 2, 3, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_GATHER, NULL, fuzz_net_floats(b, 5, 4, 0, 0), x, fuzz_net_int(b, 0), FUZZ_NO);
        break;
    case 1: /* the same in 64 bits, along the last axis */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_INT64, 4, 0, 0, 0);
        y = fuzz_net_input(b, NNRT_DATA_TYPE_UINT8, 3, 5, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_GATHER, NULL, y, x, fuzz_net_int(b, -1), FUZZ_NO);
        break;
    case 2: /* divisors */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_INT32, 2, 3, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_DIV_FUSION, NULL, x, fuzz_net_input(b, NNRT_DATA_TYPE_INT32, 3, 0, 0, 0),
                        FUZZ_NO, FUZZ_NO);
        break;
    case 3: /* positions of ones */
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_ONE_HOT)->attr, &hot);
        x = fuzz_net_input(b, NNRT_DATA_TYPE_INT64, 6, 0, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_ONE_HOT, &hot, x, fuzz_net_int(b, 4), fuzz_net_floats(b, 1, 0, 0, 0),
                        fuzz_net_floats(b, 1, 0, 0, 0));
        break;
    case 4: y = fuzz_net_image(b, two, ones); break;
    case 5: /* any bits as numbers */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_FLOAT32, 3, 4, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_CAST, NULL, x, fuzz_net_int(b, NNRT_DATA_TYPE_INT8), FUZZ_NO, FUZZ_NO);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_POW_FUSION, NULL, y, fuzz_net_input(b, NNRT_DATA_TYPE_INT8, 4, 0, 0, 0),
                        FUZZ_NO, FUZZ_NO);
        break;
    case 6: /* an order of any bits */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_FLOAT16, 2, 7, 0, 0);
        out[0] = nnrt_builder_tensor(b, NULL);
        out[1] = nnrt_builder_tensor(b, NULL);
        {
            uint32_t in[2];
            in[0] = x;
            in[1] = fuzz_net_int(b, 3);
            nnrt_builder_node(b, NULL, NNRT_NODE_TYPE_TOPK_FUSION, NULL, in, 2, out, 2);
        }
        nnrt_builder_output(b, out[1]);
        y = out[0];
        break;
    case 7: /* truth values that are neither 0 nor 1 */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_BOOL, 2, 5, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_CAST, NULL, x, fuzz_net_int(b, NNRT_DATA_TYPE_FLOAT32), FUZZ_NO, FUZZ_NO);
        nnrt_builder_output(b, fuzz_net_op(b, NNRT_NODE_TYPE_ADD_FUSION, NULL, x, x, FUZZ_NO, FUZZ_NO));
        break;
    default: /* integers that wrap */
        x = fuzz_net_input(b, NNRT_DATA_TYPE_INT64, 2, 3, 0, 0);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_SQUARED_DIFFERENCE, NULL, x,
                        fuzz_net_input(b, NNRT_DATA_TYPE_INT64, 3, 0, 0, 0), FUZZ_NO, FUZZ_NO);
        y = fuzz_net_op(b, NNRT_NODE_TYPE_ADD_FUSION, NULL, y, x, FUZZ_NO, FUZZ_NO);
        break;
    }
    nnrt_builder_output(b, y);
}

static NNRT_Model *fuzz_net_make(uint32_t which, const nnrt_allocator *a)
{
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    fuzz_expect(nnrt_builder_create(&b, NULL, a) == NNRT_SUCCESS, "there is a builder", NULL);
    fuzz_net(b, which);
    fuzz_expect(nnrt_builder_finish(b, &model, &e) == NNRT_SUCCESS, "the target's models are right", e.message);
    nnrt_builder_destroy(b);
    return model;
}

/* A run with one invalid or unusual argument: it returns a code and a message. */
static void fuzz_bad_run(nnrt_session *s, fuzz_run *r, fuzz_bytes *f)
{
    nnrt_io in[FUZZ_IO], out[FUZZ_IO];
    uint32_t nIn = r->nIn, nOut = r->nOut, k, i;
    bool wrong = true, output = (fuzz_byte(f) & 1) != 0;
    nnrt_io *io = output ? out : in;
    NNRT_ReturnCode code;
    memcpy(in, r->in, sizeof(in));
    memcpy(out, r->out, sizeof(out));
    i = fuzz_below(f, output ? nOut : nIn);
    k = fuzz_byte(f);
    switch (fuzz_below(f, 8)) {
    case 0: io[i].bytes--; break;
    case 1:
        io[i].bytes += 1 + k; /* a larger buffer is valid for an output: only its own bytes are written */
        wrong = !output;
        break;
    case 2: io[i].data = NULL; break;
    case 3:
        if (output)
            nOut = k != nOut ? k : nOut + 1;
        else
            nIn = k != nIn ? k : nIn + 1;
        break;
    case 4:
        io[i].bytes = SIZE_MAX - k;
        wrong = !output;
        break;
    case 5:
        io[i].data = (uint8_t *)io[i].data + 1;
        wrong = nnrt_type_size(output ? nnrt_session_output(s, i).dataType : nnrt_session_input(s, i).dataType) > 1;
        if (!wrong)
            return;
        break;
    case 6: io[i].bytes = 0; break;
    default:
        io[i].bytes = (size_t)((uint64_t)1 << 32 | io[i].bytes);
        wrong = !output && sizeof(size_t) > 4;
        break;
    }
    code = nnrt_run(s, in, nIn, out, nOut);
    if (wrong)
        fuzz_expect(code != NNRT_SUCCESS && nnrt_session_error(s)[0] != '\0', "a wrong call is refused, with a message",
                    NULL);
    else
        fuzz_expect(code == NNRT_SUCCESS || fuzz_run_failure(code, nnrt_session_error(s)), "a right call runs",
                    nnrt_session_error(s));
}

static void fuzz_run_inputs(const uint8_t *data, size_t size)
{
    fuzz_bytes f = fuzz_bytes_make(data, size);
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, (size_t)1 << 20);
    uint32_t which = fuzz_below(&f, FUZZ_MODELS), bad = fuzz_below(&f, 4);
    NNRT_Model *model = fuzz_net_make(which, &a);
    nnrt_session *s = NULL, *other = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    fuzz_run r;
    size_t blocks;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    memset(&e, 0, sizeof(e));
    fuzz_expect(nnrt_session_create(&s, model, &desc, &e) == NNRT_SUCCESS, "the target's models prepare", e.message);
    desc.share = s;
    fuzz_expect(nnrt_session_create(&other, model, &desc, NULL) == NNRT_SUCCESS, "a session can be shared", NULL);
    blocks = memory.blocks;
    for (uint32_t i = 0; i < bad; i++) {
        fuzz_run_begin(&r, s, &f);
        fuzz_bad_run(s, &r, &f);
        fuzz_run_end(&r);
    }
    fuzz_run_same(s, other, false, &f);
    fuzz_expect(memory.blocks == blocks && memory.refused == 0, "a run allocates nothing", NULL);
    nnrt_session_destroy(other);
    nnrt_session_destroy(s);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
}

FUZZ_TARGET(fuzz_run_inputs)
