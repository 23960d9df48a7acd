/* Fuzz target: small models with dynamic input dimensions and data-dependent values, with upper bounds of any size;
   then runs with shapes within and above the upper bounds, and buffers that are large enough or not. Successful runs
   are bit-identical to a session for exactly these shapes; if that session fails, the run may fail. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "fuzz.h"

#define FUZZ_OPEN_TENSORS 64
#define FUZZ_OPEN_INPUTS 4

typedef struct fuzz_open_net {
    fuzz_bytes f;
    nnrt_builder *b;
    uint32_t numbers[FUZZ_OPEN_TENSORS], nNumbers; /* tensors that operators compute with */
    uint32_t lists[FUZZ_OPEN_TENSORS], nLists;     /* of integers: shapes, axes, indices */
    uint32_t nResults;
    bool squeezes; /* the rank may then depend on dimensions */
    nnrt_bound bounds[FUZZ_OPEN_TENSORS];
    uint32_t nBounds, nInputs;
    char names[FUZZ_OPEN_TENSORS][4];
    int32_t open[FUZZ_OPEN_INPUTS][NNRT_MAX_RANK]; /* -1 (dynamic), or the dimension */
    NNRT_DataType type[FUZZ_OPEN_INPUTS];
    size_t room[FUZZ_OPEN_TENSORS]; /* maximum bytes of each output, and some more */
} fuzz_open_net;

static const char *fuzz_open_name(fuzz_open_net *n, char letter, uint32_t i)
{
    char *name = n->names[letter == 'x' ? i : FUZZ_OPEN_INPUTS + i];
    name[0] = letter;
    name[1] = (char)('0' + i / 10);
    name[2] = (char)('0' + i % 10);
    name[3] = '\0';
    return name;
}

/* An input: numbers with dynamic dimensions, or a list of integers whose values only a run knows. */
static void fuzz_open_input(fuzz_open_net *n, bool list)
{
    const uint32_t i = n->nInputs++;
    const char *name = fuzz_open_name(n, 'x', i);
    nnrt_dims *most = &n->bounds[n->nBounds].most;
    uint32_t t;
    n->bounds[n->nBounds++].tensor = name;
    most->rank = list ? 1 : 1 + (int32_t)fuzz_below(&n->f, 4);
    n->type[i] = !list ? NNRT_DATA_TYPE_FLOAT32 : fuzz_rarely(&n->f, 3) ? NNRT_DATA_TYPE_INT64 : NNRT_DATA_TYPE_INT32;
    for (int32_t k = 0; k < most->rank; k++) {
        const uint32_t byte = fuzz_byte(&n->f);
        most->dims[k] = (int32_t)(list ? 1 + byte % 4 : byte % 8);
        n->open[i][k] = list || byte >= 208 ? most->dims[k] : -1;
    }
    t = nnrt_builder_input(n->b, name, n->type[i], most->rank, n->open[i]);
    if (list)
        n->lists[n->nLists++] = t;
    else
        n->numbers[n->nNumbers++] = t;
}

static uint32_t fuzz_open_list(fuzz_open_net *n)
{
    int32_t values[4], count = 1 + (int32_t)fuzz_below(&n->f, 4);
    if (!fuzz_rarely(&n->f, 4))
        return n->lists[n->nLists - 1 - fuzz_below(&n->f, n->nLists)];
    for (int32_t k = 0; k < count; k++)
        values[k] = (int32_t)fuzz_below(&n->f, 8) - 3;
    return nnrt_builder_constant(n->b, NULL, NNRT_DATA_TYPE_INT32, 1, &count, values, true);
}

/* An operand of the row: "name:i" are integers. */
static uint32_t fuzz_open_operand(fuzz_open_net *n, const char *inputs, uint32_t k)
{
    while (k > 0 && *inputs != '\0')
        k -= *inputs++ == ' ' ? 1 : 0;
    while (*inputs != '\0' && *inputs != ' ' && *inputs != ':')
        inputs++;
    if (*inputs == ':' && inputs[1] == 'i')
        return fuzz_open_list(n);
    return n->numbers[n->nNumbers - 1 - fuzz_below(&n->f, n->nNumbers)];
}

static void fuzz_open_node(fuzz_open_net *n)
{
    const nnrt_op *op = fuzz_op(&n->f);
    const nnrt_op_arity arity = nnrt_op_operands(op);
    static fuzz_attr attr;
    uint32_t in[4], out[4], nIn = arity.minIn, nOut = arity.minOut;
    const void *block = fuzz_attr_make(&n->f, &attr, op);
    if (arity.maxIn > nIn)
        nIn += fuzz_below(&n->f, (arity.maxIn < 4 ? arity.maxIn : 4) - (nIn < 4 ? nIn : 4) + 1);
    if (arity.maxOut > nOut)
        nOut += fuzz_below(&n->f, (arity.maxOut < 3 ? arity.maxOut : 3) - (nOut < 3 ? nOut : 3) + 1);
    if (nIn > 4 || nOut > 4 || n->nResults + nOut + FUZZ_OPEN_INPUTS > FUZZ_OPEN_TENSORS / 2)
        return;
    n->squeezes = n->squeezes || op->type == NNRT_NODE_TYPE_SQUEEZE;
    for (uint32_t i = 0; i < nIn; i++)
        in[i] = fuzz_open_operand(n, op->inputs, i);
    for (uint32_t i = 0; i < nOut; i++) {
        const char *name = fuzz_open_name(n, 'r', n->nResults++);
        out[i] = nnrt_builder_tensor(n->b, name);
        if (op->type == NNRT_NODE_TYPE_SHAPE)
            n->lists[n->nLists++] = out[i];
        else
            n->numbers[n->nNumbers++] = out[i];
        if (fuzz_rarely(&n->f, 4)) { /* a result that may need an upper bound: a random one */
            nnrt_bound *b = &n->bounds[n->nBounds++];
            b->tensor = name;
            b->most.rank = 1 + (int32_t)fuzz_below(&n->f, 4);
            for (int32_t k = 0; k < b->most.rank; k++)
                b->most.dims[k] = (int32_t)fuzz_below(&n->f, 12);
        }
    }
    nnrt_builder_node(n->b, NULL, op->type, block, in, nIn, out, nOut);
    for (uint32_t i = 0; i < nOut; i++)
        nnrt_builder_output(n->b, out[i]);
}

/* The inputs and outputs of a run. */
typedef struct fuzz_open_run {
    nnrt_io in[FUZZ_OPEN_INPUTS], out[FUZZ_OPEN_TENSORS];
    nnrt_dims dims[FUZZ_OPEN_INPUTS];
    void *copies[FUZZ_OPEN_INPUTS];
    uint32_t nOut;
    bool beyond, less; /* a dimension exceeds its bound; an output buffer may be too small */
} fuzz_open_run;

static void fuzz_open_begin(fuzz_open_run *r, fuzz_open_net *n, const nnrt_session *s)
{
    memset(r, 0, sizeof(*r));
    for (uint32_t i = 0; i < n->nInputs; i++) {
        size_t bytes = 0;
        r->dims[i] = n->bounds[i].most;
        for (int32_t k = 0; k < r->dims[i].rank; k++)
            if (n->open[i][k] == -1) {
                r->dims[i].dims[k] = (int32_t)(fuzz_byte(&n->f) % (uint32_t)(n->bounds[i].most.dims[k] + 1));
                if (fuzz_rarely(&n->f, 64) && n->bounds[i].most.dims[k] > 0) { /* bound 0: not dynamic */
                    r->dims[i].dims[k] = n->bounds[i].most.dims[k] + 1;
                    r->beyond = true;
                }
            }
        (void)nnrt_dims_bytes(r->dims[i].dims, r->dims[i].rank, n->type[i], &bytes);
        r->in[i] = nnrt_io_make(fuzz_block(bytes), bytes);
        r->in[i].dims = r->dims[i].dims;
        for (size_t k = 0; n->type[i] == NNRT_DATA_TYPE_INT32 && k < bytes / 4; k++)
            ((int32_t *)r->in[i].data)[k] = (int32_t)fuzz_int(&n->f);
        for (size_t k = 0; n->type[i] == NNRT_DATA_TYPE_INT64 && k < bytes / 8; k++)
            ((int64_t *)r->in[i].data)[k] = fuzz_int(&n->f);
        if (n->type[i] == NNRT_DATA_TYPE_FLOAT32)
            fuzz_fill(&n->f, r->in[i].data, bytes);
        r->copies[i] = fuzz_block(bytes);
        if (bytes > 0)
            memcpy(r->copies[i], r->in[i].data, bytes);
    }
    r->nOut = nnrt_session_outputs(s);
    for (uint32_t i = 0; i < r->nOut; i++) {
        size_t bytes = n->room[i];
        if (fuzz_rarely(&n->f, 32)) {
            bytes = fuzz_byte(&n->f);
            r->less = true;
        }
        r->out[i] = nnrt_io_make(fuzz_block(bytes), bytes);
        memset(r->out[i].data, 0xA5, bytes);
    }
}

static void fuzz_open_end(fuzz_open_run *r)
{
    for (uint32_t i = 0; i < FUZZ_OPEN_INPUTS; i++) {
        free(r->in[i].data);
        free(r->copies[i]);
    }
    for (uint32_t i = 0; i < r->nOut; i++)
        free(r->out[i].data);
}

/* Model m with the fixed shapes of the run: its lists are constants. */
static void fuzz_open_close(const NNRT_Model *m, const fuzz_open_net *n, const fuzz_open_run *r, NNRT_Model *closed,
                            NNRT_Tensor *tensors, uint32_t *inputs)
{
    uint32_t count = 0;
    *closed = *m;
    memcpy(tensors, m->allTensors.data, m->allTensors.count * sizeof(*tensors));
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        NNRT_Tensor *t = &tensors[m->inputIndex.data[i]];
        t->dims.data = r->dims[i].dims;
        t->symbols.count = 0;
        if (n->type[i] == NNRT_DATA_TYPE_FLOAT32) {
            inputs[count++] = m->inputIndex.data[i];
        } else {
            t->data.addr = r->copies[i];
            t->data.bufferSize = t->data.dataSize = (uint32_t)r->in[i].bytes;
        }
    }
    closed->allTensors.data = tensors;
    closed->inputIndex.data = inputs;
    closed->inputIndex.count = count;
}

/* Fixed dimensions of an empty tensor may have any size. Dynamic ones are bounded, and planned as if the tensor had
   elements: a RESHAPE to 0, or to the shape of an empty tensor. All results are outputs. */
static bool fuzz_open_empty(const nnrt_session *fixed, NNRT_ReturnCode code)
{
    for (uint32_t i = 0; i < nnrt_session_inputs(fixed) && code != NNRT_INSUFFICIENT_BUFFER; i++)
        if (nnrt_session_input(fixed, i).bytes == 0)
            return true;
    for (uint32_t i = 0; i < nnrt_session_outputs(fixed) && code != NNRT_INSUFFICIENT_BUFFER; i++)
        if (nnrt_session_output(fixed, i).bytes == 0)
            return true;
    return false;
}

/* Repeats the run in a session for its fixed shapes; the results must equal the results of s, which returned `code`. */
static void fuzz_open_compare(const NNRT_Model *m, fuzz_open_net *n, fuzz_open_run *r, nnrt_session *s,
                              NNRT_ReturnCode code)
{
    NNRT_Model closed;
    NNRT_Tensor tensors[2 * FUZZ_OPEN_TENSORS];
    uint32_t inputs[FUZZ_OPEN_INPUTS], at = 0;
    nnrt_io in[FUZZ_OPEN_INPUTS], out[FUZZ_OPEN_TENSORS];
    nnrt_session *fixed = NULL;
    nnrt_session_desc desc;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, FUZZ_SESSION_BYTES);
    NNRT_ReturnCode want;
    if (m->allTensors.count > 2 * FUZZ_OPEN_TENSORS)
        return;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    fuzz_open_close(m, n, r, &closed, tensors, inputs);
    if (nnrt_session_create(&fixed, &closed, &desc, NULL) != NNRT_SUCCESS || !fuzz_small(fixed)) {
        nnrt_session_destroy(fixed);
        return;
    }
    for (uint32_t i = 0; i < n->nInputs; i++)
        if (n->type[i] == NNRT_DATA_TYPE_FLOAT32)
            in[at++] = nnrt_io_make(r->in[i].data, r->in[i].bytes);
    for (uint32_t i = 0; i < r->nOut; i++)
        out[i] = nnrt_io_make(fuzz_block(nnrt_session_output(fixed, i).bytes), nnrt_session_output(fixed, i).bytes);
    want = nnrt_run(fixed, in, at, out, r->nOut);
    if (want == NNRT_SUCCESS)
        fuzz_expect(code == NNRT_SUCCESS || r->less || n->nBounds > n->nInputs || fuzz_open_empty(fixed, code),
                    "what runs with fixed extents runs with open ones", nnrt_session_error(s));
    for (uint32_t i = 0; i < r->nOut && want == NNRT_SUCCESS && code == NNRT_SUCCESS; i++) {
        const nnrt_io_info x = nnrt_session_output(fixed, i), y = nnrt_session_output(s, i);
        fuzz_expect(x.bytes == y.bytes && x.shape.rank == y.shape.rank &&
                        memcmp(x.shape.dims, y.shape.dims, (size_t)x.shape.rank * sizeof(int32_t)) == 0,
                    "open extents become those of fixed ones", y.name);
        fuzz_expect(memcmp(out[i].data, r->out[i].data, x.bytes) == 0, "open extents give the same bits", y.name);
    }
    for (uint32_t i = 0; i < r->nOut; i++)
        free(out[i].data);
    nnrt_session_destroy(fixed);
    fuzz_memory_empty(&memory);
}

/* One run fails with a message, or has the right results; inputs and the bytes after each output are unchanged. */
static void fuzz_open_once(const NNRT_Model *m, fuzz_open_net *n, nnrt_session *s, const fuzz_memory *memory)
{
    fuzz_open_run r;
    const size_t blocks = memory->blocks, taken = memory->live;
    NNRT_ReturnCode code;
    fuzz_open_begin(&r, n, s);
    code = nnrt_run(s, r.in, n->nInputs, r.out, r.nOut);
    fuzz_expect(memory->blocks == blocks && memory->live == taken && memory->refused == 0, "a run allocates nothing",
                NULL);
    fuzz_expect((code == NNRT_SUCCESS) == (nnrt_session_error(s)[0] == '\0'), "a failure leaves a message",
                nnrt_code_name(code));
    if (r.beyond)
        fuzz_expect(code == NNRT_OUT_OF_DIMENTION_RANGES, "beyond a bound is refused", nnrt_code_name(code));
    for (uint32_t i = 0; i < n->nInputs; i++)
        fuzz_expect(r.in[i].bytes == 0 || memcmp(r.in[i].data, r.copies[i], r.in[i].bytes) == 0,
                    "a run only reads its inputs", NULL);
    for (uint32_t i = 0; i < r.nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(s, i);
        for (size_t k = code == NNRT_SUCCESS || info.bytes <= r.out[i].bytes ? info.bytes : 0; k < r.out[i].bytes; k++)
            fuzz_expect(((uint8_t *)r.out[i].data)[k] == 0xA5, "behind an output's bytes nothing is written",
                        info.name);
    }
    if (!n->squeezes && !r.beyond)
        fuzz_open_compare(m, n, &r, s, code);
    fuzz_open_end(&r);
}

/* The session also fits in a buffer of exactly the reported bytes, and in no smaller one. */
static void fuzz_open_buffer(const NNRT_Model *m, nnrt_session_desc desc)
{
    nnrt_session *s = NULL;
    size_t bytes = 0;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    fuzz_expect(nnrt_session_bytes(m, &desc, &bytes, &e) == NNRT_SUCCESS, "bytes of what was prepared", e.message);
    for (size_t less = 0; less < 2; less++) {
        desc.bufferBytes = bytes - less;
        desc.buffer = fuzz_block(desc.bufferBytes);
        fuzz_expect(nnrt_session_create(&s, m, &desc, NULL) == (less ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS),
                    "the bytes that a session is said to take suffice, and one fewer does not", NULL);
        nnrt_session_destroy(s);
        free(desc.buffer);
    }
}

static void fuzz_open(const uint8_t *data, size_t size)
{
    static fuzz_open_net n;
    NNRT_Model *model = NULL;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    fuzz_memory memory, own;
    nnrt_allocator a = fuzz_allocator(&memory, FUZZ_SESSION_BYTES), b = fuzz_allocator(&own, FUZZ_SESSION_BYTES);
    nnrt_error e;
    NNRT_ReturnCode code;
    uint32_t nodes;
    memset(&n, 0, sizeof(n));
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    n.f = fuzz_bytes_make(data, size);
    fuzz_expect(nnrt_builder_create(&n.b, NULL, &b) == NNRT_SUCCESS, "there is a builder", NULL);
    fuzz_open_input(&n, false);
    fuzz_open_input(&n, true);
    if (fuzz_rarely(&n.f, 2))
        fuzz_open_input(&n, fuzz_rarely(&n.f, 3));
    nodes = 1 + fuzz_below(&n.f, 6);
    for (uint32_t i = 0; i < nodes; i++)
        fuzz_open_node(&n);
    code = nnrt_builder_finish(n.b, &model, &e);
    nnrt_builder_destroy(n.b);
    fuzz_check_error(code, &e, "nnrt_builder_finish");
    if (code == NNRT_SUCCESS) {
        desc.allocator = &a;
        desc.bounds = nnrt_bound_list_make(n.bounds, n.nBounds);
        code = nnrt_session_create(&s, model, &desc, &e);
        fuzz_check_error(code, &e, "nnrt_session_create");
    }
    if (code == NNRT_SUCCESS && fuzz_small(s)) {
        for (uint32_t i = 0; i < nnrt_session_outputs(s); i++)
            n.room[i] = nnrt_session_output(s, i).bytes + 16;
        for (uint32_t i = 0; i < 4; i++)
            fuzz_open_once(model, &n, s, &memory);
        fuzz_open_buffer(model, desc);
    }
    nnrt_session_destroy(s);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
    fuzz_memory_empty(&own);
}

FUZZ_TARGET(fuzz_open)
