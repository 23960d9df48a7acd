/* Dynamic dimensions: sessions whose inputs may have any shape up to an upper bound, compared with sessions made for
   exactly those shapes. Results are bit-identical; if one fails, the other fails. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#include "devices.h"
#include "kit.h"

#define I64 NNRT_DATA_TYPE_INT64
#define MOST_IO 32

/* ---- numbers ---- */

static uint32_t seed = 1;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

static float some_float(void)
{
    return (float)below(2001) / 1000.0f - 1.0f;
}

/* ---- models: the storage of a graph, until the next one begins ---- */

static union {
    uint8_t bytes[1 << 16];
    double aligned;
} attic;
static size_t stored;

static void *keep(const void *data, size_t bytes)
{
    void *at = attic.bytes + stored;
    stored += (bytes + 15) / 16 * 16;
    assert_true(stored <= sizeof(attic.bytes));
    if (data != NULL)
        memcpy(at, data, bytes);
    return at;
}

static const char *name_of(const char *letter, uint32_t i)
{
    char text[16];
    snprintf(text, sizeof(text), "%s%u", letter, i);
    return (const char *)keep(text, sizeof(text));
}

static void begin(graph *g)
{
    stored = 0;
    graph_init(g);
}

/* "2,-1" -> {2, {2, -1}} */
static nnrt_dims dims_of(const char *text)
{
    nnrt_dims d;
    memset(&d, 0, sizeof(d));
    while (*text != '\0' && *text != ' ' && *text != ':') {
        char *end;
        d.dims[d.rank++] = (int32_t)strtol(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return d;
}

static uint32_t input(graph *g, const char *name, NNRT_DataType type, const char *dims)
{
    const uint32_t t = tensor(g, name, type, dims);
    g->inputs[g->model.inputIndex.count++] = t;
    return t;
}

static void output(graph *g, uint32_t t)
{
    g->outputs[g->model.outputIndex.count++] = t;
}

static uint32_t floats(graph *g, const char *dims)
{
    const nnrt_dims d = dims_of(dims);
    size_t n = 1;
    float *data;
    for (int32_t k = 0; k < d.rank; k++)
        n *= (size_t)d.dims[k];
    data = (float *)keep(NULL, n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        data[i] = some_float();
    return constant(g, name_of("w", g->model.allTensors.count), F32, dims, data, n * sizeof(float));
}

/* A constant list of int32: count, then the numbers. */
static uint32_t ints(graph *g, uint32_t count, ...)
{
    int32_t data[16];
    char dims[16];
    va_list list;
    va_start(list, count);
    for (uint32_t i = 0; i < count; i++)
        data[i] = va_arg(list, int);
    va_end(list);
    snprintf(dims, sizeof(dims), "%u", count);
    return constant(g, name_of("i", g->model.allTensors.count), I32, keep(dims, sizeof(dims)), keep(data, sizeof(data)),
                    count * sizeof(int32_t));
}

/* A constant of one int32 without axes. */
static uint32_t scalar(graph *g, int32_t value)
{
    return constant(g, name_of("s", g->model.allTensors.count), I32, "", keep(&value, sizeof(value)), sizeof(value));
}

/* A node of nOut results; the first one, the others after it. */
static uint32_t op_list(graph *g, NNRT_NodeType type, const void *attr, size_t bytes, uint32_t nOut, uint32_t n,
                        const uint32_t *in)
{
    const uint32_t first = g->model.allTensors.count;
    const uint32_t i =
        node(g, name_of("n", g->model.nodes.count), type, attr != NULL ? keep(attr, bytes) : NULL, bytes, "", "");
    assert_true(g->model.nodes.count <= MAX_NODES && first + nOut <= MAX_TENSORS && n <= MAX_OPERANDS);
    memcpy(g->in[i], in, n * sizeof(*in));
    g->nodes[i].inputIndex.count = n;
    g->nodes[i].outputIndex.count = nOut;
    for (uint32_t k = 0; k < nOut; k++)
        g->out[i][k] = result(g, name_of("t", first + k));
    return first;
}

static uint32_t op(graph *g, NNRT_NodeType type, const void *attr, size_t bytes, uint32_t n, ...)
{
    uint32_t in[MAX_OPERANDS];
    va_list list;
    va_start(list, n);
    for (uint32_t i = 0; i < n; i++)
        in[i] = va_arg(list, uint32_t);
    va_end(list);
    return op_list(g, type, attr, bytes, 1, n, in);
}

/* OP(g, SOFTMAX, attr, 1, x); PLAIN_OP without attributes */
#define OP(g, type, attr, ...) op(g, NNRT_NODE_TYPE_##type, &(attr), sizeof(attr), __VA_ARGS__)
#define PLAIN_OP(g, type, ...) op(g, NNRT_NODE_TYPE_##type, NULL, 0, __VA_ARGS__)

static NNRT_Int64List list_of(uint32_t count, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t all[4];
    all[0] = a;
    all[1] = b;
    all[2] = c;
    all[3] = d;
    return nnrt_int64_list((const int64_t *)keep(all, sizeof(all)), count);
}

/* A copy that points into itself as g does. */
static void graph_copy(graph *to, const graph *g)
{
    *to = *g;
    to->model.allTensors.data = to->tensors;
    to->model.nodes.data = to->nodes;
    to->model.inputIndex.data = to->inputs;
    to->model.outputIndex.data = to->outputs;
    to->model.subGraph.data = &to->main;
    for (uint32_t i = 0; i < g->model.allTensors.count; i++)
        to->tensors[i].dims.data = to->dims[i];
    for (uint32_t i = 0; i < g->model.nodes.count; i++) {
        to->nodes[i].inputIndex.data = to->in[i];
        to->nodes[i].outputIndex.data = to->out[i];
    }
}

/* ---- a session with dynamic shapes, and its reference ---- */

typedef struct rig {
    graph *g;
    nnrt_session *session;
    tracker memory;
    nnrt_error error;         /* of creation; message: of the last run */
    nnrt_dims shape[MOST_IO]; /* of the outputs of the last run that both made */
    nnrt_bound bounds[MOST_IO];
    uint32_t nBounds;
    const char *device;
} rig;

/* "x=4,8 y=16" */
static void rig_bounds(rig *r, const char *text)
{
    r->nBounds = 0;
    while (*text != '\0') {
        char name[32];
        size_t n = strcspn(text, "=");
        assert_true(n < sizeof(name) && text[n] == '=' && r->nBounds < MOST_IO);
        memcpy(name, text, n);
        name[n] = '\0';
        text += n + 1;
        r->bounds[r->nBounds].tensor = (const char *)keep(name, sizeof(name));
        r->bounds[r->nBounds++].most = dims_of(text);
        text += strcspn(text, " ");
        text += *text == ' ';
    }
}

static void rig_desc(rig *r, nnrt_session_desc *desc, nnrt_allocator *allocator)
{
    memset(desc, 0, sizeof(*desc));
    *allocator = allocator_of(&r->memory);
    desc->allocator = allocator;
    desc->device = r->device;
    desc->bounds.data = r->bounds;
    desc->bounds.count = r->nBounds;
}

static NNRT_ReturnCode rig_try(rig *r, graph *g, const char *bounds)
{
    nnrt_allocator allocator;
    nnrt_session_desc desc;
    const char *device = r->device;
    memset(r, 0, sizeof(*r));
    r->g = g;
    r->device = device;
    rig_bounds(r, bounds);
    rig_desc(r, &desc, &allocator);
    return nnrt_session_create(&r->session, &g->model, &desc, &r->error);
}

static void rig_open(rig *r, graph *g, const char *bounds)
{
    r->device = "reference";
    if (rig_try(r, g, bounds) != NNRT_SUCCESS)
        fail_msg("%s", r->error.message);
}

static void rig_end(rig *r)
{
    nnrt_session_destroy(r->session);
    r->session = NULL;
    assert_int_equal(r->memory.live, 0);
    assert_false(r->memory.wrong);
}

/* An input of a run: text says "DIMS" or "DIMS:VALUES". */
typedef struct given {
    nnrt_dims dims;
    bool told;
    guarded data, copy;
} given;

static size_t elements_of(const nnrt_dims *d)
{
    size_t n = 1;
    for (int32_t k = 0; k < d->rank; k++)
        n *= (size_t)(d->dims[k] > 0 ? d->dims[k] : 0);
    return n;
}

static void put_int(void *data, NNRT_DataType type, size_t i, int64_t value)
{
    if (type == I64)
        ((int64_t *)data)[i] = value;
    else if (type == I32)
        ((int32_t *)data)[i] = (int32_t)value;
    else
        ((float *)data)[i] = (float)value;
}

static const char *read_given(given *x, const NNRT_Tensor *t, const char *text)
{
    size_t n;
    memset(x, 0, sizeof(*x));
    x->dims = dims_of(text);
    n = elements_of(&x->dims);
    x->data = guarded_make(n * nnrt_type_size(t->dataType), 0);
    text += strcspn(text, " :");
    x->told = *text == ':';
    for (size_t i = 0; i < n; i++) {
        char *end;
        if (x->told) {
            put_int(x->data.data, t->dataType, i, strtol(text + 1, &end, 10));
            assert_true(i + 1 == n || *end == ',');
            text = end;
        } else if (t->dataType == F32) {
            ((float *)(void *)x->data.data)[i] = some_float();
        } else {
            put_int(x->data.data, t->dataType, i, (int64_t)below(3));
        }
    }
    text += strcspn(text, " ");
    x->copy = guarded_make(x->data.bytes, 0);
    memcpy(x->copy.data, x->data.data, x->data.bytes);
    return text + (*text == ' ');
}

/* The same model for these fixed shapes; inputs with given values are constants of it. */
static void close_graph(graph *fixed, const graph *g, const given *in, uint32_t *used)
{
    uint32_t n = 0;
    graph_copy(fixed, g);
    for (uint32_t i = 0; i < g->model.inputIndex.count; i++) {
        const uint32_t t = g->inputs[i];
        memcpy(fixed->dims[t], in[i].dims.dims, sizeof(in[i].dims.dims));
        fixed->tensors[t].symbols.count = 0;
        if (in[i].told) {
            fixed->tensors[t].data.addr = in[i].copy.data;
            fixed->tensors[t].data.bufferSize = fixed->tensors[t].data.dataSize = (uint32_t)in[i].copy.bytes;
        } else {
            used[n] = i;
            fixed->inputs[n++] = t;
        }
    }
    fixed->model.inputIndex.count = n;
}

/* Runs the open session; outputs have room for bytes[i]. */
static NNRT_ReturnCode run_open(rig *r, given *in, guarded *out)
{
    nnrt_io io[16], results[MOST_IO];
    const int64_t calls = r->memory.calls;
    const uint32_t nIn = nnrt_session_inputs(r->session), nOut = nnrt_session_outputs(r->session);
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < nIn; i++) {
        io[i] = nnrt_io_make(in[i].data.data, in[i].data.bytes);
        io[i].dims = in[i].dims.dims;
    }
    for (uint32_t i = 0; i < nOut; i++)
        results[i] = nnrt_io_make(out[i].data, out[i].bytes);
    code = nnrt_run(r->session, io, nIn, results, nOut);
    assert_int_equal(r->memory.calls, calls); /* a run allocates nothing */
    assert_int_equal(nnrt_session_error(r->session)[0] == '\0', code == NNRT_SUCCESS);
    for (uint32_t i = 0; i < nIn; i++)
        assert_memory_equal(in[i].data.data, in[i].copy.data, in[i].data.bytes);
    return code;
}

/* Each output in turn has a byte too few: it is not written, and the required size is reported. */
static void run_short(rig *r, given *in, const guarded *want, uint32_t nOut)
{
    for (uint32_t k = 0; k < nOut; k++) {
        guarded out[MOST_IO];
        nnrt_io_info info;
        if (want[k].bytes == 0)
            continue;
        for (uint32_t i = 0; i < nOut; i++)
            out[i] = guarded_make(want[i].bytes - (i == k ? 1 : 0), 0);
        assert_int_equal(run_open(r, in, out), NNRT_INSUFFICIENT_BUFFER);
        info = nnrt_session_output(r->session, k);
        assert_int_equal(info.bytes, want[k].bytes);
        assert_int_equal(info.shape.rank, r->shape[k].rank);
        assert_memory_equal(info.shape.dims, r->shape[k].dims, (size_t)info.shape.rank * sizeof(int32_t));
        for (size_t i = 0; i < out[k].bytes; i++)
            assert_int_equal(out[k].data[i], 0xFF);
        for (uint32_t i = 0; i < nOut; i++)
            guarded_end(&out[i]);
    }
}

static bool short_too = true; /* every run once more with too little room */
static uint32_t agreed, refused;

/* A session for these fixed shapes, and its outputs; the code that creation or run gave. */
static NNRT_ReturnCode run_fixed(rig *r, given *in, guarded *out, nnrt_error *error)
{
    static graph fixed;
    nnrt_session *session = NULL;
    uint32_t used[16];
    nnrt_io io[16], results[MOST_IO];
    nnrt_session_desc desc;
    NNRT_ReturnCode code;
    memset(error, 0, sizeof(*error));
    close_graph(&fixed, r->g, in, used);
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    code = nnrt_session_create(&session, &fixed.model, &desc, error);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < fixed.model.inputIndex.count; i++)
        io[i] = nnrt_io_make(in[used[i]].data.data, in[used[i]].data.bytes);
    for (uint32_t i = 0; i < fixed.model.outputIndex.count; i++) {
        const nnrt_io_info info = nnrt_session_output(session, i);
        out[i] = guarded_make(info.bytes, 0);
        r->shape[i] = info.shape;
        results[i] = nnrt_io_make(out[i].data, out[i].bytes);
    }
    code = nnrt_run(session, io, fixed.model.inputIndex.count, results, fixed.model.outputIndex.count);
    snprintf(error->message, sizeof(error->message), "%s", nnrt_session_error(session));
    for (uint32_t i = 0; i < fixed.model.outputIndex.count && code == NNRT_SUCCESS; i++) { /* a kernel may tell less */
        const nnrt_io_info info = nnrt_session_output(session, i);
        const guarded whole = out[i];
        out[i] = guarded_make(info.bytes, 0);
        memcpy(out[i].data, whole.data, info.bytes);
        r->shape[i] = info.shape;
        guarded_end((guarded *)(uintptr_t)&whole);
    }
    if (code != NNRT_SUCCESS)
        for (uint32_t i = 0; i < fixed.model.outputIndex.count; i++)
            guarded_end(&out[i]);
    nnrt_session_destroy(session);
    return code;
}

static void compare(rig *r, uint32_t i, const guarded *got, const guarded *want, const char *inputs)
{
    const nnrt_io_info info = nnrt_session_output(r->session, i);
    if (info.shape.rank != r->shape[i].rank ||
        memcmp(info.shape.dims, r->shape[i].dims, (size_t)info.shape.rank * sizeof(int32_t)) != 0 ||
        info.bytes != want->bytes)
        fail_msg("seed %u, inputs '%s': output %u '%s' has another shape, or %zu bytes and not %zu", seed, inputs, i,
                 info.name, info.bytes, want->bytes);
    if (memcmp(got->data, want->data, want->bytes) != 0)
        fail_msg("seed %u, inputs '%s': output %u '%s' has other bits", seed, inputs, i, info.name);
}

/* Whether the tensor that exceeds its bound is empty: a session for fixed shapes accepts any dimensions next to a 0. */
static bool of_nothing(const char *message)
{
    const char *shape = strstr(message, "]"), *zero = strstr(message, "[0");
    if (zero == NULL || zero > shape)
        zero = strstr(message, ",0");
    return shape != NULL && zero != NULL && zero < shape;
}

/* Both run: *fixed is the code of the session for fixed shapes. They agree if bounded is true; otherwise the dynamic one may
   refuse shapes that exceed the bounds of results. */
static NNRT_ReturnCode both(rig *r, const char *inputs, NNRT_ReturnCode *fixed, bool bounded)
{
    given in[16];
    guarded want[MOST_IO], got[MOST_IO];
    const uint32_t nIn = r->g->model.inputIndex.count, nOut = r->g->model.outputIndex.count;
    const char *text = inputs;
    bool ran;
    nnrt_error error;
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < nIn; i++)
        text = read_given(&in[i], &r->g->tensors[r->g->inputs[i]], text);
    assert_int_equal(*text, '\0');
    *fixed = run_fixed(r, in, want, &error);
    ran = *fixed == NNRT_SUCCESS;
    for (uint32_t i = 0; i < nOut; i++)
        got[i] = guarded_make(*fixed == NNRT_SUCCESS ? want[i].bytes : 65536, 0);
    code = run_open(r, in, got);
    if (*fixed == NNRT_SUCCESS && code != NNRT_SUCCESS &&
        (code != NNRT_OUT_OF_DIMENTION_RANGES || (bounded && !of_nothing(nnrt_session_error(r->session)))))
        fail_msg("seed %u, inputs '%s': %s", seed, inputs, nnrt_session_error(r->session));
    if (*fixed != NNRT_SUCCESS && code == NNRT_SUCCESS)
        fail_msg("seed %u, inputs '%s': it should be refused: %s", seed, inputs, error.message);
    for (uint32_t i = 0; i < nOut && code == NNRT_SUCCESS; i++)
        compare(r, i, &got[i], &want[i], inputs);
    if (code == NNRT_SUCCESS && short_too)
        run_short(r, in, want, nOut);
    agreed += code == NNRT_SUCCESS ? 1 : 0;
    refused += code != NNRT_SUCCESS ? 1 : 0;
    for (uint32_t i = 0; i < nOut; i++) {
        guarded_end(&got[i]);
        if (ran)
            guarded_end(&want[i]);
    }
    for (uint32_t i = 0; i < nIn; i++) {
        guarded_end(&in[i].data);
        guarded_end(&in[i].copy);
    }
    return code;
}

/* Both compute the same. */
static void same(rig *r, const char *inputs)
{
    NNRT_ReturnCode fixed;
    if (both(r, inputs, &fixed, true) != NNRT_SUCCESS)
        fail_msg("inputs '%s': %s", inputs, nnrt_session_error(r->session));
}

/* Both refuse; the words of the open session have `part` in them. */
static void neither(rig *r, const char *inputs, const char *part)
{
    NNRT_ReturnCode fixed;
    if (both(r, inputs, &fixed, true) == NNRT_SUCCESS)
        fail_msg("inputs '%s' are taken", inputs);
    if (strstr(nnrt_session_error(r->session), part) == NULL)
        fail_msg("inputs '%s': '%s' is not in '%s'", inputs, part, nnrt_session_error(r->session));
}

/* ---- images ---- */

static uint32_t conv(graph *g, uint32_t x, int32_t size, int32_t stride, NNRT_PadMode mode, int32_t in, int32_t out,
                     int32_t group)
{
    char dims[32], bias[16];
    NNRT_Conv2DFusion a;
    uint32_t w, b;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_CONV2D_FUSION)->attr, &a);
    a.kernelSize = list_of(2, size, size, 0, 0);
    a.stride = list_of(2, stride, stride, 0, 0);
    a.dilation = list_of(2, 1, 1, 0, 0);
    a.padMode = mode;
    if (mode == NNRT_PAD_MODE_PAD)
        a.padList = list_of(4, 1, 0, 1, 0);
    a.group = group;
    a.inChannel = in;
    a.outChannel = out;
    a.activationType = NNRT_ACTIVATION_TYPE_RELU6;
    snprintf(dims, sizeof(dims), "%d,%d,%d,%d", out, size, size, in / group);
    snprintf(bias, sizeof(bias), "%d", out);
    w = floats(g, dims);
    b = floats(g, bias);
    return OP(g, CONV2D_FUSION, a, 3, x, w, b);
}

static uint32_t avgpool(graph *g, uint32_t x, int32_t size, int32_t stride, NNRT_PadMode mode, NNRT_RoundMode round,
                        bool global)
{
    NNRT_AvgPoolFusion a;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_AVGPOOL_FUSION)->attr, &a);
    a.kernelSize = list_of(2, size, size, 0, 0);
    a.strides = list_of(2, stride, stride, 0, 0);
    a.padMode = mode;
    a.pad = list_of(4, 0, 0, 0, 0);
    a.roundMode = round;
    a.global = global;
    return OP(g, AVGPOOL_FUSION, a, 1, x);
}

static uint32_t maxpool(graph *g, uint32_t x, int32_t size, int32_t stride, NNRT_PadMode mode, NNRT_RoundMode round)
{
    NNRT_MaxPoolFusion a;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_MAX_POOL_FUSION)->attr, &a);
    a.kernelSize = list_of(2, size, size, 0, 0);
    a.strides = list_of(2, stride, stride, 0, 0);
    a.padMode = mode;
    a.pad = list_of(4, 0, 0, 0, 0);
    a.roundMode = round;
    return OP(g, MAX_POOL_FUSION, a, 1, x);
}

static const NNRT_Softmax softmax_last = {{NULL, 0}};
static const NNRT_Concat concat_first = {0};
static const NNRT_FullConnection by_axis = {true, 1, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION};

/* x, images of 3 channels, through the typical layers of a small network; y: its scores for each. */
static void small_network(graph *g, bool first)
{
    const char *dims = first ? "-1,3,-1,-1" : "-1,-1,-1,3";
    NNRT_Concat join;
    uint32_t x, a, b, c, d, w, bias;
    join.axis = first ? 1 : 3;
    begin(g);
    x = input(g, "x", F32, dims);
    g->tensors[x].format = first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC;
    a = conv(g, x, 3, 2, NNRT_PAD_MODE_SAME, 3, 4, 1);
    b = conv(g, a, 3, 1, NNRT_PAD_MODE_SAME, 4, 4, 4);
    c = OP(g, ADD_FUSION, plain_add, 2, a, b);
    d = maxpool(g, c, 3, 1, NNRT_PAD_MODE_SAME, NNRT_ROUND_MODE_FLOOR);
    d = OP(g, CONCAT, join, 2, c, d);
    d = maxpool(g, d, 2, 2, NNRT_PAD_MODE_PAD, NNRT_ROUND_MODE_CEIL);
    output(g, d);
    d = OP(g, ACTIVATION, relu, 1, conv(g, d, 2, 1, NNRT_PAD_MODE_PAD, 8, 5, 1));
    d = avgpool(g, d, 0, 0, NNRT_PAD_MODE_PAD, NNRT_ROUND_MODE_FLOOR, true);
    w = floats(g, "7,5");
    bias = floats(g, "7");
    d = OP(g, FULL_CONNECTION, by_axis, 3, d, w, bias);
    output(g, OP(g, SOFTMAX, softmax_last, 1, d));
}

static void networks(bool first, const char *bound, const char *format)
{
    static graph g;
    static rig r;
    const int32_t sizes[] = {9, 1, 17, 2, 3, 16, 8, 5};
    nnrt_io_info x;
    small_network(&g, first);
    rig_open(&r, &g, bound);
    x = nnrt_session_input(r.session, 0);
    assert_true(x.open && nnrt_session_output(r.session, 0).open && nnrt_session_output(r.session, 1).open);
    for (int32_t n = 1; n <= 3; n++)
        for (uint32_t h = 0; h < COUNT(sizes); h++)
            for (uint32_t w = 0; w < COUNT(sizes); w += 1 + h % 2) {
                char text[64];
                snprintf(text, sizeof(text), format, n, sizes[h], sizes[w]);
                same(&r, text);
            }
    rig_end(&r);
}

static void test_channels_last(void **state)
{
    (void)state;
    networks(false, "x=3,17,17,3", "%d,%d,%d,3");
}

static void test_channels_first(void **state)
{
    (void)state;
    networks(true, "x=3,3,17,17", "%d,3,%d,%d");
}

/* ---- shapes that are computed ---- */

static void named(graph *g, uint32_t t, const char *name)
{
    g->tensors[t].name = name;
}

/* Element k of the shape of x, as a list of one. */
static uint32_t extent(graph *g, uint32_t x, int32_t k)
{
    const uint32_t shape = PLAIN_OP(g, SHAPE, 1, x), at = ints(g, 1, k), axis = scalar(g, 0);
    return PLAIN_OP(g, GATHER, 3, shape, at, axis);
}

/* y = x in [N, -1], N taken from the shape; z = y of [rows of x * 2, -1] */
static void test_flatten(void **state)
{
    static const NNRT_MulFusion plain = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    static graph g;
    static rig r;
    uint32_t x, n, rest, y, two;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1,-1,4");
    n = extent(&g, x, 0);
    rest = ints(&g, 1, -1);
    y = PLAIN_OP(&g, RESHAPE, 2, x, OP(&g, CONCAT, concat_first, 2, n, rest));
    output(&g, OP(&g, SOFTMAX, softmax_last, 1, y));
    two = ints(&g, 1, 2);
    n = OP(&g, MUL_FUSION, plain, 2, n, two);
    output(&g, PLAIN_OP(&g, RESHAPE, 2, y, OP(&g, CONCAT, concat_first, 2, n, rest)));
    rig_open(&r, &g, "x=5,6,7,4");
    same(&r, "5,6,7,4");
    same(&r, "1,1,1,4");
    same(&r, "5,1,3,4");
    same(&r, "2,6,7,4");
    same(&r, "1,2,7,4");
    neither(&r, "0,2,7,4", "n"); /* nothing determines -1 then */
    same(&r, "4,5,2,4");
    rig_end(&r);
}

/* Operators that move or compare shapes keep their values and bounds: y is as long as x's first axis, taken out by
   UNSTACK and rolled, and at most 4; z has the smaller of both dimensions, w says whether they are equal. */
static void test_extents_moved(void **state)
{
    static const NNRT_Unstack unstack = {0};
    static graph g;
    static rig r;
    uint32_t x, shape, parts, n, four;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1");
    four = ints(&g, 1, 4);
    shape = PLAIN_OP(&g, ROLL, 3, PLAIN_OP(&g, SHAPE, 1, x), ints(&g, 1, 1), ints(&g, 1, 0));
    parts = op_list(&g, NNRT_NODE_TYPE_UNSTACK, &unstack, sizeof(unstack), 2, 1, &shape);
    n = PLAIN_OP(&g, EXPAND_DIMS, 2, parts + 1, scalar(&g, 0));
    output(&g, PLAIN_OP(&g, FILL, 2, floats(&g, "1"), PLAIN_OP(&g, MINIMUM, 2, n, four)));
    n = PLAIN_OP(&g, MINIMUM, 2, parts, parts + 1);
    output(&g, PLAIN_OP(&g, FILL, 2, floats(&g, "1"), PLAIN_OP(&g, EXPAND_DIMS, 2, n, scalar(&g, 0))));
    output(&g, PLAIN_OP(&g, EQUAL, 2, parts, parts + 1));
    rig_open(&r, &g, "x=5,6");
    same(&r, "5,6");
    same(&r, "2,3");
    same(&r, "3,1");
    same(&r, "1,1");
    same(&r, "0,6");
    rig_end(&r);
}

/* A full connection has x's elements / K rows, which equal x's own rows only if x has K columns; with a dynamic K there may be
   as many rows as elements. */
static void test_rows_of_columns(void **state)
{
    static const NNRT_FullConnection rows = {false, false, 0, NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    static graph g;
    static rig r;
    uint32_t x, w;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "4,-1");
    w = floats(&g, "5,4");
    output(&g, OP(&g, FULL_CONNECTION, rows, 2, x, w));
    rig_open(&r, &g, "x=4,6");
    same(&r, "4,6");
    same(&r, "4,1");
    same(&r, "4,4");
    same(&r, "4,3");
    rig_end(&r);
    begin(&g);
    x = input(&g, "x", F32, "-1,6");
    w = input(&g, "w", F32, "2,-1");
    output(&g, OP(&g, FULL_CONNECTION, rows, 2, x, w));
    rig_open(&r, &g, "x=4,6 w=2,6");
    same(&r, "4,6 2,6");
    same(&r, "4,6 2,1"); /* 24 rows */
    same(&r, "1,6 2,2");
    same(&r, "2,6 2,4");
    neither(&r, "3,6 2,4", "expected a multiple of 4");
    rig_end(&r);
}

/* y = x resized to twice its size, z = to [H + 3, 5] */
static void test_resize_by_shapes(void **state)
{
    static const NNRT_MulFusion plain = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    (void)state;
    for (NNRT_ResizeMethod method = NNRT_RESIZE_METHOD_LINEAR; method <= NNRT_RESIZE_METHOD_CUBIC; method++) {
        static graph g;
        static rig r;
        NNRT_Resize a;
        uint32_t x, size, more, five;
        begin(&g);
        x = input(&g, "x", F32, "-1,-1,-1,2");
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_RESIZE)->attr, &a);
        a.method = method;
        a.coordinateTransformMode = NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL;
        more = ints(&g, 1, 2);
        size = OP(&g, CONCAT, concat_first, 2, extent(&g, x, 1), extent(&g, x, 2));
        size = OP(&g, MUL_FUSION, plain, 2, size, more);
        output(&g, OP(&g, RESIZE, a, 2, x, size));
        more = ints(&g, 1, 3);
        five = ints(&g, 1, 5);
        size = OP(&g, ADD_FUSION, plain_add, 2, extent(&g, x, 1), more);
        size = OP(&g, CONCAT, concat_first, 2, size, five);
        output(&g, OP(&g, RESIZE, a, 2, x, size));
        rig_open(&r, &g, "x=2,9,11,2");
        same(&r, "2,9,11,2");
        same(&r, "1,1,1,2");
        same(&r, "2,7,3,2");
        same(&r, "1,9,11,2");
        same(&r, "2,2,9,2");
        rig_end(&r);
    }
}

/* Rows padded at the end to a multiple of 8: (8 - H % 8) % 8 as (H + 7) / 8 * 8 - H. */
static uint32_t to_a_multiple(graph *g)
{
    static const NNRT_MulFusion times = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    static const NNRT_DivFusion over = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
    NNRT_PadFusion a;
    uint32_t x, h, seven, eight, pads, y;
    begin(g);
    x = input(g, "x", F32, "-1,-1,2");
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_PAD_FUSION)->attr, &a);
    a.constantValue = 3;
    h = extent(g, x, 1);
    seven = ints(g, 1, 7);
    eight = ints(g, 1, 8);
    pads = OP(g, ADD_FUSION, plain_add, 2, h, seven);
    pads = OP(g, DIV_FUSION, over, 2, pads, eight);
    pads = OP(g, MUL_FUSION, times, 2, pads, eight);
    pads = OP(g, SUB_FUSION, plain_sub, 2, pads, h);
    pads = OP(g, CONCAT, concat_first, 3, ints(g, 3, 0, 0, 0), pads, ints(g, 2, 0, 0));
    pads = PLAIN_OP(g, RESHAPE, 2, pads, ints(g, 2, 3, 2));
    y = OP(g, PAD_FUSION, a, 2, x, pads);
    named(g, y, "padded");
    output(g, y);
    return y;
}

static void test_pad_to_a_multiple(void **state)
{
    static graph g;
    static rig r;
    (void)state;
    to_a_multiple(&g);
    rig_open(&r, &g, "x=3,30,2");
    assert_int_equal(nnrt_session_output(r.session, 0).shape.dims[1], 32); /* the padding is 7 at most, and makes 32 */
    for (int32_t h = 30; h >= 0; h--) {
        char text[32];
        snprintf(text, sizeof(text), "%d,%d,2", h % 4, h);
        same(&r, text);
    }
    same(&r, "3,30,2");
    rig_end(&r);
    rig_open(&r, &g, "padded=3,16,2 x=3,30,2"); /* smaller than x may need: shapes that fit run, others are refused */
    same(&r, "3,16,2");
    {
        NNRT_ReturnCode fixed;
        assert_int_equal(both(&r, "1,17,2", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
    }
    assert_non_null(strstr(nnrt_session_error(r.session), "'padded'"));
    same(&r, "3,9,2");
    rig_end(&r);
}

/* ---- parameters that are inputs of a run ---- */

/* x and a parameter, for an operator of two inputs. */
static uint32_t with_told(graph *g, NNRT_NodeType type, const void *attr, size_t bytes, const char *x,
                          NNRT_DataType kind, const char *parameter)
{
    uint32_t in[2], y;
    begin(g);
    in[0] = input(g, "x", F32, x);
    in[1] = input(g, "p", kind, parameter);
    y = op(g, type, attr, bytes, 2, in[0], in[1]);
    named(g, y, "y");
    output(g, OP(g, ACTIVATION, absolute, 1, y));
    output(g, y);
    return y;
}

#define WITH_TOLD(g, type, attr, x, kind, p) with_told(g, NNRT_NODE_TYPE_##type, &(attr), sizeof(attr), x, kind, p)

static void unbounded(graph *g, const char *bounds, const char *name)
{
    static rig r;
    char quoted[32];
    r.device = NULL;
    assert_int_equal(rig_try(&r, g, bounds), NNRT_UNSUPPORTED_OP);
    snprintf(quoted, sizeof(quoted), "'%s'", name);
    if (strstr(r.error.message, quoted) == NULL || strstr(r.error.message, "bounds") == NULL)
        fail_msg("'%s' is not in '%s'", quoted, r.error.message);
    rig_end(&r);
}

static void test_reshape_told(void **state)
{
    static const NNRT_Reshape none = {0};
    static graph g;
    static rig r;
    (void)state;
    for (int32_t wide = 0; wide < 2; wide++) {
        NNRT_ReturnCode fixed;
        WITH_TOLD(&g, RESHAPE, none, "-1,-1,2", wide ? I64 : I32, "3");
        rig_open(&r, &g, "x=4,6,2");
        same(&r, "4,6,2 3:2,12,2");
        same(&r, "4,6,2 3:1,1,48");
        same(&r, "4,6,2 3:48,1,1");
        same(&r, "2,3,2 3:-1,2,3");
        same(&r, "2,3,2 3:0,0,-1");
        same(&r, "1,1,2 3:0,-1,1");
        same(&r, "3,5,2 3:1,0,6");
        same(&r, "0,5,2 3:0,5,2");
        same(&r, "0,5,2 3:0,7,48");
        assert_int_equal(both(&r, "0,5,2 3:0,7,49", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        neither(&r, "2,3,2 3:-1,5,1", "RESHAPE");
        neither(&r, "2,3,2 3:-1,-1,1", "RESHAPE");
        neither(&r, "2,3,2 3:-2,6,1", "RESHAPE");
        neither(&r, "2,3,2 3:2,3,3", "n0");
        neither(&r, "4,6,2 3:2147483647,2147483647,2147483647", "RESHAPE");
        same(&r, "4,6,2 3:24,2,1");
        rig_end(&r);
    }
}

static void test_fill_told(void **state)
{
    static const NNRT_Fill none = {0};
    static graph g;
    static rig r;
    (void)state;
    WITH_TOLD(&g, FILL, none, "", I64, "2");
    unbounded(&g, "", "y");
    rig_open(&r, &g, "y=5,7");
    same(&r, " 2:5,7");
    same(&r, " 2:1,1");
    same(&r, " 2:0,7");
    same(&r, " 2:3,0");
    neither(&r, " 2:-1,2", "FILL");
    neither(&r, " 2:3000000000,2", "FILL");
    {
        NNRT_ReturnCode fixed;
        assert_int_equal(both(&r, " 2:5,8", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        assert_int_equal(both(&r, " 2:35,1", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
    }
    same(&r, " 2:4,7");
    rig_end(&r);
}

static void test_one_hot_told(void **state)
{
    static const float on[1] = {2}, off[1] = {-3};
    (void)state;
    for (int64_t axis = -1; axis <= 2; axis++) {
        static graph g;
        static rig r;
        NNRT_OneHot a;
        uint32_t in[4], y;
        NNRT_ReturnCode fixed;
        begin(&g);
        a.axis = axis;
        in[0] = input(&g, "x", I32, "-1,-1");
        in[1] = input(&g, "p", I32, "1");
        in[2] = constant(&g, "on", F32, "1", on, 4);
        in[3] = constant(&g, "off", F32, "1", off, 4);
        y = op_list(&g, NNRT_NODE_TYPE_ONE_HOT, &a, sizeof(a), 1, 4, in);
        named(&g, y, "y");
        output(&g, y);
        unbounded(&g, "x=3,4", "y");
        rig_open(&r, &g, axis == 0 ? "x=3,4 y=6,3,4" : axis == 1 ? "x=3,4 y=3,6,4" : "x=3,4 y=3,4,6");
        same(&r, "3,4 1:6");
        same(&r, "1,1 1:1");
        same(&r, "2,3 1:2");
        same(&r, "0,3 1:2");
        neither(&r, "2,3 1:0", "ONE_HOT");
        neither(&r, "2,3 1:-1", "ONE_HOT");
        assert_int_equal(both(&r, "3,4 1:7", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        same(&r, "1,4 1:6");
        rig_end(&r);
    }
}

/* The updates determine the dimensions after the indices; the others are given. */
static void test_scatter_told(void **state)
{
    static graph g;
    static rig r;
    uint32_t in[3], y;
    NNRT_ReturnCode fixed;
    (void)state;
    begin(&g);
    in[0] = input(&g, "i", I32, "-1,2");
    in[1] = input(&g, "u", F32, "-1,-1");
    in[2] = input(&g, "p", I64, "3");
    y = op_list(&g, NNRT_NODE_TYPE_SCATTER_ND, NULL, 0, 1, 3, in);
    named(&g, y, "y");
    output(&g, OP(&g, ACTIVATION, absolute, 1, y));
    output(&g, y);
    unbounded(&g, "i=4,2 u=4,5", "y");
    rig_open(&r, &g, "i=4,2 u=4,5 y=3,4,5");
    same(&r, "4,2 4,5 3:3,3,5");
    same(&r, "2,2:0,3,2,-1 2,2 3:3,4,2");
    same(&r, "1,2:0,0 1,1 3:1,1,1");
    same(&r, "0,2 0,3 3:2,2,3");
    same(&r, "0,2 0,3 3:0,2,3");
    same(&r, "3,2 3,0 3:3,3,0");
    neither(&r, "1,2:0,3 1,2 3:3,3,2", "index 3, element 1 of indices, lies outside axis 1 of the result");
    neither(&r, "2,2:0,0,-4,0 2,2 3:3,3,2", "index -4, element 2 of indices, lies outside axis 0");
    neither(&r, "2,2 3,2 3:3,3,2", "SCATTER_ND");
    neither(&r, "2,2 2,2 3:3,3,3", "SCATTER_ND");
    neither(&r, "2,2 2,2 3:3,-3,2", "SCATTER_ND");
    assert_int_equal(both(&r, "2,2 2,2 3:4,3,2", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
    same(&r, "4,2 4,5 3:3,4,5");
    rig_end(&r);
}

static void test_sparse_told(void **state)
{
    static const float rest[1] = {2};
    static graph g;
    static rig r;
    uint32_t in[4], y;
    NNRT_ReturnCode fixed;
    (void)state;
    begin(&g);
    in[0] = input(&g, "i", I64, "-1,2");
    in[1] = input(&g, "v", F32, "-1");
    in[2] = input(&g, "p", I32, "2");
    in[3] = constant(&g, "rest", F32, "1", rest, 4);
    y = op_list(&g, NNRT_NODE_TYPE_SPARSE_TO_DENSE, NULL, 0, 1, 4, in);
    named(&g, y, "y");
    output(&g, OP(&g, ACTIVATION, absolute, 1, y));
    output(&g, y);
    unbounded(&g, "i=4,2 v=4", "y");
    rig_open(&r, &g, "i=4,2 v=4 y=5,6");
    same(&r, "4,2 4 2:3,3");
    same(&r, "3,2 1 2:5,6");
    same(&r, "1,2:4,5 1 2:5,6");
    same(&r, "0,2 0 2:0,6");
    neither(&r, "1,2:4,6 1 2:5,6", "index 6, element 1 of indices, lies outside axis 1 of the result, expected 0 to 5");
    neither(&r, "1,2:-1,0 1 2:5,6", "index -1");
    neither(&r, "3,2 2 2:5,6", "SPARSE_TO_DENSE");
    neither(&r, "3,2 3 2:5,-6", "SPARSE_TO_DENSE");
    assert_int_equal(both(&r, "3,2 3 2:6,6", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
    same(&r, "2,2 2 2:3,6");
    rig_end(&r);
}

/* Steps and batch are open; the scratch of several layers grows with the steps. */
static void test_lstm(void **state)
{
    for (uint32_t layers = 1; layers <= 3; layers++) {
        static graph g;
        static rig r;
        NNRT_LSTM a;
        uint32_t in[6], y;
        char text[16];
        (void)state;
        memset(&a, 0, sizeof(a));
        a.bidirectional = a.hasBias = true;
        a.numLayers = layers;
        begin(&g);
        in[0] = input(&g, "x", F32, "-1,-1,6");
        for (uint32_t k = 1; k < 4; k++) {
            snprintf(text, sizeof(text), k == 3 ? "%u,24" : "%u,12,%u", (unsigned)(2 * layers), k == 1 ? 6u : 3u);
            in[k] = floats(&g, text);
        }
        snprintf(text, sizeof(text), "%u,-1,3", (unsigned)(2 * layers));
        in[4] = input(&g, "h", F32, text);
        in[5] = input(&g, "c", F32, text);
        y = op_list(&g, NNRT_NODE_TYPE_LSTM, &a, sizeof(a), 3, 6, in);
        for (uint32_t k = 0; k < 3; k++)
            output(&g, y + k);
        rig_open(&r, &g,
                 layers == 1   ? "x=5,3,6 h=2,3,3 c=2,3,3"
                 : layers == 2 ? "x=5,3,6 h=4,3,3 c=4,3,3"
                               : "x=5,3,6 h=6,3,3 c=6,3,3");
        for (uint32_t k = 0; k < 4; k++) {
            static const uint32_t steps[4] = {5, 1, 3, 5}, batch[4] = {3, 1, 2, 1};
            char told[64];
            snprintf(told, sizeof(told), "%u,%u,6 %u,%u,3 %u,%u,3", (unsigned)steps[k], (unsigned)batch[k],
                     (unsigned)(2 * layers), (unsigned)batch[k], (unsigned)(2 * layers), (unsigned)batch[k]);
            same(&r, told);
            snprintf(told, sizeof(told), "%u,%u,6 %u,%u,3 %u,%u,3", (unsigned)steps[k], (unsigned)batch[k],
                     (unsigned)(2 * layers), (unsigned)batch[k] % 3 + 1, (unsigned)(2 * layers), (unsigned)batch[k]);
            neither(&r, told, "input 4 (hx)");
        }
        rig_end(&r);
    }
}

/* Parameters along an axis between open ones. */
static void test_quant_axis(void **state)
{
    static const NNRT_QuantParam three[3] = {{8, 0, 0.5}, {8, 5, 0.25}, {8, -128, 1}};
    static graph g;
    static rig r;
    const NNRT_QuantDTypeCastV2 to = {F32, NNRT_DATA_TYPE_INT8, 1}, from = {NNRT_DATA_TYPE_INT8, F32, -2};
    uint32_t q;
    (void)state;
    begin(&g);
    q = OP(&g, QUANT_DTYPE_CAST_V2, to, 1, input(&g, "x", F32, "-1,3,-1"));
    g.tensors[q].dataType = NNRT_DATA_TYPE_INT8;
    g.tensors[q].quantParams = NNRT_QuantParamList_make(three, 3);
    output(&g, OP(&g, QUANT_DTYPE_CAST_V2, from, 1, q));
    rig_open(&r, &g, "x=4,3,5");
    same(&r, "4,3,5");
    same(&r, "1,3,2");
    same(&r, "0,3,5");
    same(&r, "3,3,1");
    rig_end(&r);
}

/* Element t gets int8 parameters. */
static uint32_t quantised(graph *g, uint32_t t, const NNRT_QuantParam *q, uint32_t count)
{
    g->tensors[t].dataType = NNRT_DATA_TYPE_INT8;
    g->tensors[t].quantParams = NNRT_QuantParamList_make(q, count);
    return t;
}

/* Data movement of quantized elements with dynamic shapes requantizes them: several inputs, parameters along
   an axis, a shape that only the run knows. */
static void test_requantised(void **state)
{
    static const NNRT_QuantParam half = {8, 3, 0.5}, fine = {8, -20, 0.01}, one = {8, 0, 1};
    static const NNRT_QuantParam three[3] = {{8, 0, 0.5}, {8, 5, 0.25}, {8, -128, 1}};
    static const NNRT_Concat first = {0};
    static graph g;
    static rig r;
    const NNRT_QuantDTypeCast to = {F32, NNRT_DATA_TYPE_INT8}, from = {NNRT_DATA_TYPE_INT8, F32};
    uint32_t a, b, y;
    (void)state;
    begin(&g);
    a = quantised(&g, OP(&g, QUANT_DTYPE_CAST, to, 1, input(&g, "a", F32, "-1,3")), &half, 1);
    b = quantised(&g, OP(&g, QUANT_DTYPE_CAST, to, 1, input(&g, "b", F32, "-1,3")), &fine, 1);
    y = quantised(&g, OP(&g, CONCAT, first, 3, a, b, a), three, 3);
    g.tensors[y].quantAxis = 2;
    y = quantised(&g, PLAIN_OP(&g, TRANSPOSE, 2, y, ints(&g, 2, 1, 0)), &one, 1);
    y = quantised(&g, PLAIN_OP(&g, RESHAPE, 2, y, ints(&g, 1, -1)), &half, 1);
    output(&g, OP(&g, QUANT_DTYPE_CAST, from, 1, y));
    y = quantised(&g, PLAIN_OP(&g, RESHAPE, 2, y, input(&g, "s", I64, "2")), &one, 1);
    g.tensors[y].name = "told";
    output(&g, OP(&g, QUANT_DTYPE_CAST, from, 1, y));
    rig_open(&r, &g, "a=4,3 b=5,3 told=39,39");
    same(&r, "4,3 5,3 2:13,3");
    same(&r, "1,3 5,3 2:3,7");
    same(&r, "0,3 2,3 2:-1,2");
    same(&r, "4,3 0,3 2:1,24");
    neither(&r, "4,3 5,3 2:13,4", "RESHAPE");
    rig_end(&r);
}

static void test_pad_told(void **state)
{
    (void)state;
    for (NNRT_PaddingMode mode = NNRT_PADDING_MODE_CONSTANT; mode <= NNRT_PADDING_MODE_SYMMETRIC; mode++) {
        static graph g;
        static rig r;
        NNRT_PadFusion a;
        NNRT_ReturnCode fixed;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_PAD_FUSION)->attr, &a);
        a.paddingMode = mode;
        WITH_TOLD(&g, PAD_FUSION, a, "-1,-1", I64, "2,2");
        unbounded(&g, "x=5,4", "y");
        rig_open(&r, &g, "x=5,4 y=8,8");
        same(&r, "5,4 2,2:0,0,0,0");
        same(&r, "5,4 2,2:1,2,3,1");
        same(&r, "4,4 2,2:0,3,3,0");
        same(&r, "2,2 2,2:1,1,1,1");
        if (mode == NNRT_PADDING_MODE_CONSTANT) {
            same(&r, "0,2 2,2:3,5,1,1");
            same(&r, "1,1 2,2:7,0,0,7");
        } else {
            neither(&r, "2,2 2,2:3,0,0,0", "PAD_FUSION");
        }
        neither(&r, "5,4 2,2:-1,0,0,0", "n0");
        assert_int_equal(both(&r, "5,4 2,2:3,3,3,3", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        same(&r, "5,4 2,2:3,0,0,3");
        rig_end(&r);
    }
}

static void test_reduce_told(void **state)
{
    (void)state;
    for (NNRT_ReduceMode mode = NNRT_REDUCE_MODE_MEAN; mode <= NNRT_REDUCE_MODE_ASUM; mode++)
        for (int32_t end = 0; end < 2; end++) {
            static graph g;
            static rig r;
            NNRT_ReduceFusion a;
            nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_REDUCE_FUSION)->attr, &a);
            a.mode = mode;
            a.keepDims = true;
            a.reduceToEnd = end == 1;
            WITH_TOLD(&g, REDUCE_FUSION, a, "-1,-1,-1", I32, "2");
            rig_open(&r, &g, "x=3,4,5");
            if (end == 0) {
                same(&r, "3,4,5 2:0,2");
                same(&r, "3,4,5 2:-1,1");
                same(&r, "1,1,1 2:0,1");
                same(&r, "2,4,3 2:2,0");
                same(&r, "2,0,3 2:0,2");
            }
            {
                NNRT_ReturnCode fixed; /* the two agree, whatever they say */
                (void)both(&r, "2,4,3 2:1,2", &fixed, true);
                (void)both(&r, "2,0,3 2:1,2", &fixed, true);
                (void)both(&r, "2,4,3 2:1,1", &fixed, true);
            }
            neither(&r, "2,4,3 2:1,3", "REDUCE_FUSION");
            neither(&r, "2,4,3 2:-4,0", "REDUCE_FUSION");
            rig_end(&r);
        }
}

static void test_resize_told(void **state)
{
    (void)state;
    for (NNRT_ResizeMethod method = NNRT_RESIZE_METHOD_LINEAR; method <= NNRT_RESIZE_METHOD_CUBIC; method++) {
        static graph g;
        static rig r;
        NNRT_Resize a;
        NNRT_ReturnCode fixed;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_RESIZE)->attr, &a);
        a.method = method;
        WITH_TOLD(&g, RESIZE, a, "-1,-1,-1,2", I32, "2");
        unbounded(&g, "x=2,5,6,2", "y");
        rig_open(&r, &g, "x=2,5,6,2 y=2,10,12,2");
        same(&r, "2,5,6,2 2:10,12");
        same(&r, "2,5,6,2 2:1,1");
        same(&r, "1,1,1,2 2:10,12");
        same(&r, "1,3,2,2 2:7,3");
        assert_int_equal(both(&r, "1,3,2,2 2:3,20", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        neither(&r, "1,3,2,2 2:0,2", "RESIZE");
        neither(&r, "1,3,2,2 2:-3,2", "RESIZE");
        assert_int_equal(both(&r, "2,5,6,2 2:11,12", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        same(&r, "2,4,6,2 2:10,11");
        rig_end(&r);
    }
}

static void test_slice_told(void **state)
{
    static graph g;
    static rig r;
    NNRT_SliceFusion a;
    uint32_t x, begin_, size;
    (void)state;
    begin(&g);
    memset(&a, 0, sizeof(a));
    x = input(&g, "x", F32, "-1,-1,3");
    begin_ = input(&g, "begin", I32, "2");
    size = input(&g, "size", I32, "2");
    output(&g, OP(&g, SLICE_FUSION, a, 3, x, begin_, size));
    rig_open(&r, &g, "x=5,6,3");
    same(&r, "5,6,3 2:0,0 2:5,6");
    same(&r, "5,6,3 2:1,2 2:-1,-1");
    same(&r, "5,6,3 2:-2,-6 2:2,3");
    same(&r, "2,3,3 2:-2,-1 2:-1,1");
    same(&r, "2,3,3 2:2,3 2:0,-1");
    same(&r, "0,3,3 2:0,0 2:0,2");
    neither(&r, "2,3,3 2:3,0 2:0,1", "SLICE_FUSION");
    neither(&r, "2,3,3 2:-3,0 2:1,1", "begin");
    neither(&r, "2,3,3 2:0,0 2:3,1", "size");
    same(&r, "5,6,3 2:4,5 2:1,1");
    rig_end(&r);
}

static void test_strided_slice_told(void **state)
{
    const int32_t masks[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 2}, {3, 3}};
    (void)state;
    for (uint32_t m = 0; m < COUNT(masks); m++) {
        static graph g;
        static rig r;
        NNRT_StridedSlice a;
        uint32_t in[4];
        begin(&g);
        memset(&a, 0, sizeof(a));
        a.beginMask = masks[m][0];
        a.endMask = masks[m][1];
        in[0] = input(&g, "x", F32, "-1,-1,3");
        in[1] = input(&g, "begin", I32, "2");
        in[2] = input(&g, "end", I32, "2");
        in[3] = input(&g, "strides", I32, "2");
        output(&g, op_list(&g, NNRT_NODE_TYPE_STRIDED_SLICE, &a, sizeof(a), 1, 4, in));
        rig_open(&r, &g, "x=5,6,3");
        same(&r, "5,6,3 2:0,0 2:5,6 2:1,1");
        same(&r, "5,6,3 2:4,5 2:-9,-9 2:-1,-1");
        same(&r, "5,6,3 2:-1,-2 2:0,1 2:-2,-1");
        same(&r, "2,3,3 2:-3,1 2:7,-1 2:1,1");
        same(&r, "2,3,3 2:1,-1 2:0,-7 2:-1,-2");
        same(&r, "0,3,3 2:0,0 2:0,2 2:1,2");
        same(&r, "3,1,3 2:2,0 2:1,1 2:1,1");
        neither(&r, "2,3,3 2:0,0 2:1,1 2:0,1", "STRIDED_SLICE");
        same(&r, "5,6,3 2:-5,-6 2:5,6 2:2,3");
        rig_end(&r);
    }
}

static void test_tile_told(void **state)
{
    static graph g;
    static rig r;
    NNRT_TileFusion a;
    NNRT_ReturnCode fixed;
    (void)state;
    memset(&a, 0, sizeof(a));
    WITH_TOLD(&g, TILE_FUSION, a, "-1,-1", I32, "2");
    unbounded(&g, "x=3,4", "y");
    rig_open(&r, &g, "x=3,4 y=6,8");
    same(&r, "3,4 2:2,2");
    same(&r, "3,4 2:1,1");
    same(&r, "1,2 2:6,4");
    same(&r, "1,1 2:0,3");
    same(&r, "0,4 2:9,2");
    assert_int_equal(both(&r, "1,4 2:12,1", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
    neither(&r, "1,4 2:-1,1", "TILE_FUSION");
    assert_int_equal(both(&r, "3,4 2:3,2", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
    neither(&r, "3,4 2:2000000000,2000000000", "TILE_FUSION");
    same(&r, "2,3 2:3,2");
    rig_end(&r);
}

static void test_topk_told(void **state)
{
    (void)state;
    for (int64_t axis = -1; axis < 1; axis++) {
        static graph g;
        static rig r;
        NNRT_TopKFusion a;
        uint32_t in[2], y;
        begin(&g);
        a.sorted = axis == 0;
        a.axis = axis;
        in[0] = input(&g, "x", F32, "-1,-1");
        in[1] = input(&g, "k", I32, "1");
        y = op_list(&g, NNRT_NODE_TYPE_TOPK_FUSION, &a, sizeof(a), 2, 2, in);
        output(&g, y);
        output(&g, y + 1);
        rig_open(&r, &g, "x=6,7");
        same(&r, "6,7 1:3");
        same(&r, "6,7 1:6");
        same(&r, "6,7 1:1");
        same(&r, "6,7 1:0");
        same(&r, "2,3 1:2");
        same(&r, "1,1 1:1");
        neither(&r, "2,3 1:4", "TOPK_FUSION");
        neither(&r, "2,3 1:-1", "k");
        same(&r, "5,5 1:5");
        rig_end(&r);
    }
}

static void test_bottom_k_told(void **state)
{
    static const NNRT_TopKFusion a = {true, -1};
    static graph g;
    static rig r;
    (void)state;
    WITH_TOLD(&g, BOTTOM_K, a, "-1,-1", I32, "1");
    rig_open(&r, &g, "x=6,7");
    same(&r, "6,7 1:3");
    same(&r, "2,3 1:0");
    same(&r, "2,3 1:3");
    neither(&r, "2,3 1:4", "BOTTOM_K");
    rig_end(&r);
}

static void test_all_told(void **state)
{
    static const NNRT_All a = {1};
    static graph g;
    static rig r;
    uint32_t x;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1,-1");
    output(&g, OP(&g, ALL, a, 2, x, input(&g, "p", I32, "2")));
    rig_open(&r, &g, "x=3,4,5");
    same(&r, "3,4,5 2:0,2");
    same(&r, "3,4,5 2:-1,1");
    same(&r, "1,1,1 2:0,1");
    same(&r, "2,0,3 2:0,1");
    neither(&r, "2,4,3 2:1,1", "ALL");
    neither(&r, "2,4,3 2:1,3", "ALL");
    rig_end(&r);
}

/* No dimension depends on the axis: a model of fixed shapes may have it as an input, too. */
static void test_cum_sum_told(void **state)
{
    static const NNRT_CumSum a = {false, true};
    static const char *const dims[3] = {"-1,-1", "3,4", "-1,4"};
    static graph g;
    static rig r;
    (void)state;
    for (int32_t i = 0; i < 3; i++) {
        WITH_TOLD(&g, CUM_SUM, a, dims[i], i == 1 ? I64 : I32, i == 2 ? "" : "1");
        rig_open(&r, &g, i == 1 ? "" : "x=6,4");
        same(&r, i == 2 ? "3,4 :0" : "3,4 1:0");
        same(&r, i == 2 ? "3,4 :-1" : "3,4 1:-1");
        if (i != 1)
            same(&r, i == 2 ? "0,4 :1" : "0,4 1:1");
        neither(&r, i == 2 ? "3,4 :2" : "3,4 1:2", "CUM_SUM");
        neither(&r, i == 2 ? "3,4 :-3" : "3,4 1:-3", "CUM_SUM");
        rig_end(&r);
    }
}

/* The number of channels is known only in a run, and only then whether it is divisible into groups and matches the
   parameters. */
static void test_groups(void **state)
{
    static const NNRT_GroupNormFusion plain = {2, 1e-5f, false}, affine = {2, 1e-5f, true};
    static const NNRT_InstanceNorm instance = {1e-3f};
    static graph g;
    static rig r;
    uint32_t x;
    (void)state;
    for (int32_t first = 0; first < 2; first++) {
        begin(&g);
        x = input(&g, "x", F32, "-1,-1,-1,-1");
        g.tensors[x].format = first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NONE;
        output(&g, OP(&g, GROUP_NORM_FUSION, plain, 1, x));
        rig_open(&r, &g, "x=2,7,5,7"); /* which two does not divide */
        same(&r, "2,4,3,4");
        same(&r, "1,2,1,2");
        same(&r, "2,0,3,0");
        same(&r, first ? "2,4,3,1" : "2,1,3,4");
        neither(&r, first ? "2,5,3,4" : "2,4,3,5", "GROUP_NORM_FUSION");
        rig_end(&r);
        for (int32_t one = 0; one < 2; one++) {
            begin(&g);
            x = input(&g, "x", F32, "-1,-1,-1");
            g.tensors[x].format = first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NONE;
            output(&g, one ? OP(&g, INSTANCE_NORM, instance, 3, x, floats(&g, "4"), floats(&g, "4"))
                           : OP(&g, GROUP_NORM_FUSION, affine, 3, x, floats(&g, "4"), floats(&g, "4")));
            rig_open(&r, &g, "x=3,9,9");
            same(&r, "3,4,4");
            same(&r, first ? "2,4,9" : "2,9,4");
            same(&r, first ? "2,4,1" : "2,1,4");
            neither(&r, first ? "2,6,4" : "2,4,6", one ? "INSTANCE_NORM" : "GROUP_NORM_FUSION");
            rig_end(&r);
        }
    }
}

/* Operators on lines and windows. */
static void test_lines(void **state)
{
    static const NNRT_LogSoftmax log_softmax = {1};
    static const NNRT_LpNormalization lp = {-1, 1, 1e-5f};
    static const NNRT_LRN lrn = {1, 1, 0.5f, 0.75f, "ACROSS_CHANNELS"};
    static const NNRT_ArgMinFusion least = {1, 2, false, true};
    static graph g;
    static rig r;
    NNRT_L2NormalizeFusion l2;
    uint32_t x;
    (void)state;
    begin(&g);
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_L2_NORMALIZE_FUSION)->attr, &l2);
    l2.axis = list_of(2, -1, 1, 0, 0);
    x = input(&g, "x", F32, "-1,-1,-1,-1");
    output(&g, OP(&g, LOG_SOFTMAX, log_softmax, 1, x));
    output(&g, OP(&g, LP_NORMALIZATION, lp, 1, x));
    output(&g, OP(&g, LRN, lrn, 1, x));
    output(&g, OP(&g, L2_NORMALIZE_FUSION, l2, 1, x));
    output(&g, OP(&g, ARGMIN_FUSION, least, 1, x));
    rig_open(&r, &g, "x=3,4,5,6");
    same(&r, "3,4,5,6");
    same(&r, "1,2,3,2");
    same(&r, "2,2,1,1");
    same(&r, "0,2,2,0");
    neither(&r, "2,1,2,2", "ARGMIN_FUSION");
    rig_end(&r);
}

static void test_transpose_told(void **state)
{
    static const NNRT_Transpose none = {0};
    static graph g;
    static rig r;
    (void)state;
    WITH_TOLD(&g, TRANSPOSE, none, "-1,3,-1", I32, "3");
    rig_open(&r, &g, "x=2,3,7");
    same(&r, "2,3,7 3:0,1,2");
    same(&r, "2,3,7 3:2,1,0");
    same(&r, "2,3,7 3:2,0,1");
    same(&r, "2,3,7 3:1,0,2");
    same(&r, "1,3,4 3:-1,-3,-2");
    same(&r, "0,3,4 3:1,2,0");
    neither(&r, "2,3,4 3:0,0,2", "TRANSPOSE");
    neither(&r, "2,3,4 3:0,1,3", "perm");
    same(&r, "1,3,7 3:2,1,0");
    rig_end(&r);
}

/* ---- slices by constants: the largest dimension does not give the largest result ---- */

static void test_slices(void **state)
{
    const int32_t ends[] = {0, 1, 2, 3, 5, 8, 100, -1, -2, -4, -8, -100}, strides[] = {1, 2, 3, -1, -2};
    (void)state;
    short_too = false;
    for (uint32_t b = 0; b < COUNT(ends); b++)
        for (uint32_t e = 0; e < COUNT(ends); e++)
            for (uint32_t s = 0; s < COUNT(strides); s++) {
                static graph g;
                static rig r;
                NNRT_StridedSlice a;
                uint32_t x, from, to, step;
                begin(&g);
                memset(&a, 0, sizeof(a));
                a.beginMask = e % 3 == 1 ? 1 : 0;
                a.endMask = b % 4 == 1 ? 1 : 0;
                x = input(&g, "x", F32, "-1,2");
                from = ints(&g, 1, ends[b]);
                to = ints(&g, 1, ends[e]);
                step = ints(&g, 1, strides[s]);
                output(&g, OP(&g, STRIDED_SLICE, a, 4, x, from, to, step));
                rig_open(&r, &g, "x=8,2");
                for (int32_t n = 8; n >= 0; n--) {
                    char text[16];
                    snprintf(text, sizeof(text), "%d,2", n);
                    same(&r, text);
                }
                rig_end(&r);
            }
    for (int32_t from = -5; from <= 5; from++)
        for (int32_t size = -1; size <= 5; size++) {
            static graph g;
            static rig r;
            NNRT_SliceFusion a;
            uint32_t x, b, s;
            NNRT_ReturnCode fixed;
            begin(&g);
            memset(&a, 0, sizeof(a));
            x = input(&g, "x", F32, "-1,2");
            b = ints(&g, 1, from);
            s = ints(&g, 1, size);
            output(&g, OP(&g, SLICE_FUSION, a, 3, x, b, s));
            rig_open(&r, &g, "x=6,2");
            for (int32_t n = 6; n >= 0; n--) {
                char text[16];
                snprintf(text, sizeof(text), "%d,2", n);
                (void)both(&r, text, &fixed, true);
            }
            rig_end(&r);
        }
    short_too = true;
}

/* ---- input shapes of a run, and reported shapes ---- */

/* Runs x of the given dimensions; an output has room for 4096 bytes. */
static NNRT_ReturnCode bring(rig *r, const char *inputs, nnrt_error *error)
{
    given in[16];
    guarded out[MOST_IO];
    const uint32_t nIn = nnrt_session_inputs(r->session), nOut = nnrt_session_outputs(r->session);
    const char *text = inputs;
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < nIn; i++)
        text = read_given(&in[i], &r->g->tensors[r->g->inputs[i]], text);
    for (uint32_t i = 0; i < nOut; i++)
        out[i] = guarded_make(4096, 0);
    code = run_open(r, in, out);
    error->code = code;
    snprintf(error->message, sizeof(error->message), "%s", nnrt_session_error(r->session));
    for (uint32_t i = 0; i < nOut; i++) {
        for (uint32_t k = 0; code != NNRT_SUCCESS && k < 4096; k++)
            assert_int_equal(out[i].data[k], 0xFF);
        guarded_end(&out[i]);
    }
    for (uint32_t i = 0; i < nIn; i++) {
        guarded_end(&in[i].data);
        guarded_end(&in[i].copy);
    }
    return code;
}

static void refuses(rig *r, const char *inputs, NNRT_ReturnCode code, const char *part)
{
    nnrt_error e;
    if (bring(r, inputs, &e) != code || strstr(e.message, part) == NULL)
        fail_msg("inputs '%s': expected %s and '%s', have %s: %s", inputs, nnrt_code_name(code), part,
                 nnrt_code_name(e.code), e.message);
}

/* y = |x|, z = x + c, of x [N,3] */
static void build_two(graph *g)
{
    uint32_t x, c;
    begin(g);
    x = input(g, "x", F32, "-1,3");
    c = floats(g, "3");
    output(g, OP(g, ACTIVATION, absolute, 1, x));
    output(g, OP(g, ADD_FUSION, plain_add, 2, x, c));
}

static void test_extents_are_checked(void **state)
{
    static graph g;
    static rig r;
    float x[15] = {0}, y[64], z[64];
    int32_t dims[2] = {2, 3};
    nnrt_io in[1], out[2];
    (void)state;
    build_two(&g);
    rig_open(&r, &g, "x=4,3");
    same(&r, "4,3");
    refuses(&r, "5,3", NNRT_OUT_OF_DIMENTION_RANGES, "input 0 'x': axis 0 has size 5, expected 0 to 4");
    refuses(&r, "2147483647,0", NNRT_OUT_OF_DIMENTION_RANGES, "axis 0");
    refuses(&r, "2,4", NNRT_INVALID_SHAPE, "axis 1 has size 4, expected 3");
    refuses(&r, "2,2", NNRT_INVALID_SHAPE, "axis 1 has size 2, expected 3");
    refuses(&r, "2,0", NNRT_INVALID_SHAPE, "axis 1 has size 0, expected 3");
    refuses(&r, "-1,3", NNRT_OUT_OF_DIMENTION_RANGES, "axis 0 has size -1");
    refuses(&r, "2,-3", NNRT_INVALID_SHAPE, "axis 1 has size -3");
    same(&r, "0,3");
    same(&r, "1,3");
    in[0] = nnrt_io_make(x, 6 * sizeof(float));
    in[0].dims = dims;
    out[0] = nnrt_io_make(y, sizeof(y));
    out[1] = nnrt_io_make(z, sizeof(z));
    assert_int_equal(nnrt_run(r.session, in, 1, out, 2), NNRT_SUCCESS);
    in[0].bytes = 5 * sizeof(float);
    assert_int_equal(nnrt_run(r.session, in, 1, out, 2), NNRT_INVALID_BUFFER_SIZE);
    in[0].bytes = 7 * sizeof(float);
    assert_int_equal(nnrt_run(r.session, in, 1, out, 2), NNRT_INVALID_BUFFER_SIZE);
    in[0].bytes = 6 * sizeof(float);
    in[0].data = NULL;
    assert_int_equal(nnrt_run(r.session, in, 1, out, 2), NNRT_NULL_PTR);
    dims[0] = 0; /* nothing is read */
    in[0].bytes = 0;
    out[0] = out[1] = nnrt_io_make(NULL, 0);
    assert_int_equal(nnrt_run(r.session, in, 1, out, 2), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_output(r.session, 0).shape.dims[0], 0);
    in[0] = nnrt_io_make(x, 12 * sizeof(float)); /* without dims: the largest */
    out[0] = nnrt_io_make(y, sizeof(y));
    out[1] = nnrt_io_make(z, sizeof(z));
    assert_int_equal(nnrt_run(r.session, in, 1, out, 2), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_output(r.session, 0).shape.dims[0], 4);
    rig_end(&r);
}

/* Reported shapes of inputs and outputs before and after runs. */
static void test_what_is_told(void **state)
{
    static graph g;
    static rig r;
    nnrt_io_info info;
    (void)state;
    build_two(&g);
    rig_open(&r, &g, "x=4,3");
    info = nnrt_session_input(r.session, 0);
    assert_true(info.open && info.shape.rank == 2 && info.shape.dims[0] == 4 && info.shape.dims[1] == 3);
    assert_int_equal(info.bytes, 48);
    info = nnrt_session_output(r.session, 1);
    assert_true(info.open && info.shape.dims[0] == 4 && info.bytes == 48);
    same(&r, "2,3");
    info = nnrt_session_output(r.session, 1);
    assert_true(info.open && info.shape.dims[0] == 2 && info.bytes == 24);
    info = nnrt_session_input(r.session, 0); /* as planned, still */
    assert_true(info.shape.dims[0] == 4 && info.bytes == 48);
    refuses(&r, "9,3", NNRT_OUT_OF_DIMENTION_RANGES, "axis 0");
    info = nnrt_session_output(r.session, 2);
    assert_true(info.name == NULL && !info.open && info.bytes == 0);
    rig_end(&r);
}

/* One dimension with one name in the model: N of x and of y. */
static void test_symbols_of_inputs(void **state)
{
    static const uint32_t first[2] = {7, 8}, second[2] = {0, 7};
    static graph g;
    static rig r;
    uint32_t x, y;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1");
    y = input(&g, "y", F32, "3,-1");
    g.tensors[x].symbols.data = first;
    g.tensors[y].symbols.data = second;
    g.tensors[x].symbols.count = g.tensors[y].symbols.count = 2;
    output(&g, OP(&g, ACTIVATION, absolute, 1, x));
    output(&g, OP(&g, ACTIVATION, relu, 1, y));
    rig_open(&r, &g, "x=5,6 y=3,5");
    same(&r, "5,6 3,5");
    same(&r, "2,4 3,2");
    same(&r, "0,1 3,0");
    refuses(&r, "2,4 3,4", NNRT_INVALID_SHAPE, "one dimension of the model, but have 2 and 4");
    refuses(&r, "1,4 3,2", NNRT_INVALID_SHAPE, "'y'");
    same(&r, "4,4 3,4");
    rig_end(&r);
}

/* A dimension that is 1 in one run and n in another broadcasts, or does not. */
static void test_broadcasting(void **state)
{
    static graph g;
    static rig r;
    uint32_t x, y, z;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1,4");
    y = input(&g, "y", F32, "-1,4");
    z = OP(&g, SUB_FUSION, plain_sub, 2, x, y);
    output(&g, OP(&g, ACTIVATION, absolute, 1, z));
    output(&g, z);
    rig_open(&r, &g, "x=3,5,4 y=5,4");
    same(&r, "3,5,4 5,4");
    same(&r, "3,5,4 1,4");
    same(&r, "3,1,4 5,4");
    same(&r, "1,1,4 1,4");
    same(&r, "2,3,4 3,4");
    same(&r, "2,0,4 1,4");
    same(&r, "2,1,4 0,4");
    refuses(&r, "2,3,4 2,4", NNRT_INVALID_SHAPE, "node 0 'n");
    refuses(&r, "2,3,4 2,4", NNRT_INVALID_SHAPE,
            "(SUB_FUSION): input 1 (y) 'y' is float32[2,4], which does not broadcast with input 0 (x) 'x' "
            "float32[2,3,4]");
    refuses(&r, "2,0,4 3,4", NNRT_INVALID_SHAPE, "SUB_FUSION");
    same(&r, "3,4,4 4,4");
    rig_end(&r);
}

/* ---- outputs ---- */

/* An output that is an input, one that is listed twice, chains in place and in another shape. */
static void test_outputs(void **state)
{
    static graph g;
    static rig r;
    uint32_t x, a, b, c, d;
    (void)state;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1,2");
    a = PLAIN_OP(&g, RESHAPE, 2, x, ints(&g, 2, -1, 2)); /* of an input */
    b = PLAIN_OP(&g, RESHAPE, 2, a, ints(&g, 1, -1));    /* of that */
    c = OP(&g, ACTIVATION, relu, 1, b);
    d = PLAIN_OP(&g, RESHAPE, 2, c, ints(&g, 2, 2, -1));
    output(&g, x);
    output(&g, a);
    output(&g, b);
    output(&g, a);
    output(&g, d);
    output(&g, c);
    output(&g, PLAIN_OP(&g, RESHAPE, 2, d, ints(&g, 2, -1, 1)));
    c = OP(&g, SOFTMAX, softmax_last, 1, x); /* in place, one after the other */
    c = OP(&g, ACTIVATION, absolute, 1, c);
    c = OP(&g, ADD_FUSION, plain_add, 2, c, c);
    c = PLAIN_OP(&g, RESHAPE, 2, c, ints(&g, 1, -1));
    c = PLAIN_OP(&g, SQRT, 1, c);
    output(&g, PLAIN_OP(&g, RESHAPE, 2, c, ints(&g, 2, -1, 2)));
    rig_open(&r, &g, "x=3,4,2");
    same(&r, "3,4,2");
    same(&r, "1,1,2");
    same(&r, "2,3,2");
    same(&r, "3,1,2");
    same(&r, "3,4,2");
    rig_end(&r);
    begin(&g); /* without a node; listed twice, as kit.h writes it */
    (void)tensor(&g, "x", F32, "-1");
    (void)tensor(&g, "unread", F32, "-1");
    (void)result(&g, "y");
    ACTIVATION(&g, "act", relu, "0", "2");
    graph_io(&g, "0 1", "0 2 2 0");
    rig_open(&r, &g, "x=3 unread=2");
    same(&r, "3 2");
    same(&r, "2 0");
    refuses(&r, "2 3", NNRT_OUT_OF_DIMENTION_RANGES, "'unread'");
    same(&r, "0 1");
    rig_end(&r);
}

/* Too small an output buffer: nothing is written, the required bytes are reported, and with them it runs. */
static void test_room_is_told(void **state)
{
    static graph g;
    static rig r;
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int32_t dims[2] = {2, 4};
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out;
    uint32_t y;
    NNRT_Concat join = {1};
    (void)state;
    in.dims = dims;
    begin(&g);
    y = input(&g, "x", F32, "-1,-1");
    y = OP(&g, CONCAT, join, 2, y, y);
    output(&g, OP(&g, ACTIVATION, relu, 1, y)); /* in place of the other one */
    rig_open(&r, &g, "x=9,9");
    assert_int_equal(nnrt_session_output(r.session, 0).bytes, 9 * 18 * 4);
    for (size_t bytes = 0; bytes < 64; bytes += 7) {
        guarded b = guarded_make(bytes, 0);
        nnrt_io_info info;
        out = nnrt_io_make(b.data, b.bytes);
        assert_int_equal(nnrt_run(r.session, &in, 1, &out, 1), NNRT_INSUFFICIENT_BUFFER);
        assert_non_null(strstr(nnrt_session_error(r.session), "float32[2,8] and needs 64 bytes, its buffer has"));
        info = nnrt_session_output(r.session, 0);
        assert_true(info.bytes == 64 && info.shape.dims[0] == 2 && info.shape.dims[1] == 8);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(b.data[i], 0xFF);
        guarded_end(&b);
        b = guarded_make(info.bytes, 0);
        out = nnrt_io_make(b.data, b.bytes);
        assert_int_equal(nnrt_run(r.session, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_true(((float *)(void *)b.data)[12] == 4);
        guarded_end(&b);
    }
    rig_end(&r);
}

/* Images that are sampled at places, in regions or by windows that move. */
static void test_samples(void **state)
{
    static graph g;
    static rig r;
    NNRT_GridSample grid;
    NNRT_RoiAlign align;
    NNRT_DeformableConv2D deform;
    NNRT_AvgPoolFusion pool;
    uint32_t x, places, batch;
    (void)state;
    memset(&grid, 0, sizeof(grid));
    begin(&g);
    x = input(&g, "x", F32, "-1,-1,-1,2");
    output(&g, OP(&g, GRID_SAMPLE, grid, 2, x, input(&g, "grid", F32, "-1,-1,-1,2")));
    rig_open(&r, &g, "x=3,6,7,2 grid=3,4,5,2");
    same(&r, "3,6,7,2 3,4,5,2");
    same(&r, "1,1,2,2 1,3,1,2");
    neither(&r, "2,6,7,2 1,4,5,2", "GRID_SAMPLE");
    rig_end(&r);
    memset(&align, 0, sizeof(align));
    align.outputHeight = 2;
    align.outputWidth = 3;
    align.spatialScale = 4;
    begin(&g);
    x = input(&g, "x", F32, "-1,-1,-1,2");
    places = input(&g, "rois", F32, "-1,4");
    batch = input(&g, "batch", I32, "-1");
    output(&g, OP(&g, ROI_ALIGN, align, 3, x, places, batch));
    rig_open(&r, &g, "x=4,6,7,2 rois=5,4 batch=5");
    same(&r, "3,6,7,2 5,4 5");
    same(&r, "4,2,1,2 1,4 1");
    same(&r, "1,2,1,2 0,4 0");
    neither(&r, "3,6,7,2 5,4 4", "ROI_ALIGN");
    rig_end(&r);
    memset(&deform, 0, sizeof(deform));
    begin(&g);
    deform.padList = list_of(4, 1, 0, 1, 0);
    x = input(&g, "x", F32, "-1,-1,-1,2");
    places = input(&g, "offset", F32, "-1,18,-1,-1");
    output(&g, OP(&g, DEFORMABLE_CONV_2D, deform, 4, x, places, NNRT_NO_TENSOR, floats(&g, "3,2,3,3")));
    rig_open(&r, &g, "x=2,6,7,2 offset=2,18,5,6");
    same(&r, "2,6,7,2 2,18,5,6");
    same(&r, "1,3,2,2 1,18,2,1");
    neither(&r, "1,3,2,2 1,18,1,1", "DEFORMABLE_CONV_2D");
    neither(&r, "2,3,2,2 1,18,2,1", "DEFORMABLE_CONV_2D");
    neither(&r, "1,1,2,2 1,18,1,1", "DEFORMABLE_CONV_2D");
    rig_end(&r);
    memset(&pool, 0, sizeof(pool));
    begin(&g);
    pool.kernelSize = list_of(2, 3, 2, 0, 0);
    pool.strides = list_of(2, 2, 2, 0, 0);
    pool.pad = list_of(4, 1, 1, 1, 0);
    pool.roundMode = NNRT_ROUND_MODE_CEIL;
    output(&g, OP(&g, AVGPOOL_INCLUDE_PAD, pool, 1, input(&g, "x", F32, "-1,-1,-1,2")));
    rig_open(&r, &g, "x=2,8,9,2");
    same(&r, "2,8,9,2");
    same(&r, "1,7,6,2");
    same(&r, "1,2,1,2");
    rig_end(&r);
}

/* Pools to a runtime output size. */
static void test_adaptive_pools(void **state)
{
    static graph g;
    static rig r;
    NNRT_AdaptivePool2D a;
    NNRT_ReturnCode fixed;
    (void)state;
    memset(&a, 0, sizeof(a));
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            WITH_TOLD(&g, ADAPTIVE_AVERAGE_POOL_2D, a, "-1,-1,-1,2", I32, "2");
        else
            WITH_TOLD(&g, ADAPTIVE_MAX_POOL_2D, a, "-1,-1,-1,2", I32, "2");
        unbounded(&g, "x=2,5,6,2", "y");
        rig_open(&r, &g, "x=2,5,6,2 y=2,10,12,2");
        same(&r, "2,5,6,2 2:10,12");
        same(&r, "2,5,6,2 2:1,1");
        same(&r, "1,3,2,2 2:7,3");
        neither(&r, "1,3,2,2 2:0,2", "ADAPTIVE");
        assert_int_equal(both(&r, "2,5,6,2 2:11,12", &fixed, false), NNRT_OUT_OF_DIMENTION_RANGES);
        same(&r, "2,4,6,2 2:10,11");
        rig_end(&r);
    }
}

/* Boxes of images of a dynamic shape; the number of kept boxes is data-dependent. */
static void test_boxes(void **state)
{
    static const float scale[4] = {1, 1, 1, 1}, sizes[2] = {1, 2};
    static graph g;
    static rig r;
    NNRT_DetectionPostProcess detect;
    NNRT_YoloBox yolo;
    NNRT_PriorBox prior;
    NNRT_MulticlassNms nms;
    uint32_t in[4], out;
    (void)state;
    for (int i = 0; i < 2; i++) {
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_DETECTION_POST_PROCESS)->attr, &detect);
        begin(&g);
        detect.scale = nnrt_float_list(scale, 4);
        detect.maxDetections = 5;
        detect.maxClassesPerDetection = 2;
        detect.detectionsPerClass = 3;
        detect.numClasses = 2;
        detect.nmsIoUThreshold = 0.5f;
        detect.useRegularNms = i == 1;
        in[0] = input(&g, "x", F32, "1,-1,4");
        in[1] = input(&g, "s", F32, "1,-1,3");
        in[2] = input(&g, "a", F32, "-1,4");
        out = op_list(&g, NNRT_NODE_TYPE_DETECTION_POST_PROCESS, &detect, sizeof(detect), 4, 3, in);
        for (uint32_t k = 0; k < 4; k++)
            output(&g, out + k);
        rig_open(&r, &g, "x=1,20,4 s=1,20,3 a=20,4");
        same(&r, "1,20,4 1,20,3 20,4");
        same(&r, "1,1,4 1,1,3 1,4");
        neither(&r, "1,3,4 1,3,3 2,4", "DETECTION_POST_PROCESS");
        rig_end(&r);
    }
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_YOLO_BOX)->attr, &yolo);
    begin(&g);
    yolo.classNum = 1;
    yolo.downsampleRatio = 8;
    in[0] = input(&g, "x", F32, "-1,-1,-1,12");
    in[1] = input(&g, "s", I32, "-1,2");
    in[2] = ints(&g, 4, 4, 6, 8, 2);
    out = op_list(&g, NNRT_NODE_TYPE_YOLO_BOX, &yolo, sizeof(yolo), 2, 3, in);
    output(&g, out);
    output(&g, out + 1);
    rig_open(&r, &g, "x=2,4,5,12 s=2,2");
    same(&r, "2,4,5,12 2,2");
    same(&r, "1,1,3,12 1,2");
    neither(&r, "2,1,3,12 1,2", "YOLO_BOX");
    rig_end(&r);
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_PRIOR_BOX)->attr, &prior);
    begin(&g);
    prior.minSizes = prior.maxSizes = nnrt_float_list(sizes, 2);
    prior.variances = nnrt_float_list(scale, 4);
    in[0] = input(&g, "x", F32, "1,-1,-1,2");
    in[1] = input(&g, "image", F32, "1,-1,-1,1");
    out = op_list(&g, NNRT_NODE_TYPE_PRIOR_BOX, &prior, sizeof(prior), 2, 2, in);
    output(&g, out);
    output(&g, out + 1);
    rig_open(&r, &g, "x=1,4,5,2 image=1,9,8,1");
    same(&r, "1,4,5,2 1,9,8,1");
    same(&r, "1,1,2,2 1,3,7,1");
    rig_end(&r);
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_MULTICLASS_NMS)->attr, &nms);
    begin(&g);
    nms.keepTopK = 7;
    nms.nmsThreshold = 0.25f;
    in[0] = input(&g, "x", F32, "-1,-1,4");
    in[1] = input(&g, "s", F32, "-1,3,-1");
    out = op_list(&g, NNRT_NODE_TYPE_MULTICLASS_NMS, &nms, sizeof(nms), 3, 2, in);
    for (uint32_t k = 0; k < 3; k++)
        output(&g, out + k);
    rig_open(&r, &g, "x=2,9,4 s=2,3,9");
    assert_int_equal(nnrt_session_output(r.session, 0).shape.dims[0], 14);
    same(&r, "2,9,4 2,3,9");
    same(&r, "1,4,4 1,3,4");
    same(&r, "1,0,4 1,3,0");
    neither(&r, "1,4,4 1,3,5", "MULTICLASS_NMS");
    rig_end(&r);
    begin(&g);
    (void)input(&g, "unread", F32, "1");
    in[0] = floats(&g, "1,6,4");
    in[1] = floats(&g, "1,3,6");
    out = op_list(&g, NNRT_NODE_TYPE_MULTICLASS_NMS, &nms, sizeof(nms), 2, 2, in);
    output(&g, out);
    output(&g, out + 1);
    rig_open(&r, &g, "");
    same(&r, "1");
    rig_end(&r);
}

/* Results with data-dependent shapes: as outputs, in place, with known upper bounds. */
static void test_kernels_that_tell(void **state)
{
    static const NNRT_Concat join = {1};
    static graph g;
    static rig r;
    uint32_t x, n, m;
    (void)state;
    begin(&g);
    x = input(&g, "x", I32, "-1,-1");
    (void)input(&g, "unread", F32, "1"); /* the fixed model, whose x is a constant, takes it */
    n = PLAIN_OP(&g, NON_ZERO, 1, x);
    output(&g, n);
    m = PLAIN_OP(&g, NON_ZERO, 1, x);
    m = PLAIN_OP(&g, MAXIMUM, 2, m, m); /* in place, and then an output */
    output(&g, m);
    output(&g, OP(&g, CONCAT, join, 2, n, m));
    output(&g, n);
    rig_open(&r, &g, "x=3,4");
    assert_int_equal(nnrt_session_output(r.session, 0).shape.dims[1], 12);
    same(&r, "3,4:1,0,0,2,0,0,3,0,0,0,4,5 1");
    same(&r, "1,2:0,0 1");
    same(&r, "3,4:1,1,1,1,1,1,1,1,1,1,1,1 1");
    same(&r, "0,4 1");
    same(&r, "2,1:0,7 1");
    rig_end(&r);
}

/* An output that a run did not reach reports its largest shape. A chain of RESHAPE has no more elements than x. */
static void test_the_largest_is_told(void **state)
{
    static graph g;
    static rig r;
    float x[24] = {0}, y[24], z[24];
    int64_t list[2] = {2, 3};
    int32_t dims[2] = {2, 3}, two[1] = {2};
    nnrt_io in[2], out[2];
    uint32_t t;
    (void)state;
    begin(&g);
    t = input(&g, "x", F32, "-1,-1");
    t = PLAIN_OP(&g, RESHAPE, 2, t, input(&g, "p", I64, "2"));
    output(&g, OP(&g, ACTIVATION, absolute, 1, t));
    output(&g, PLAIN_OP(&g, RESHAPE, 2, t, ints(&g, 1, -1)));
    rig_open(&r, &g, "x=4,6");
    assert_int_equal(nnrt_session_output(r.session, 1).shape.dims[0], 24);
    same(&r, "2,3 2:3,2");
    in[0] = nnrt_io_make(x, 6 * sizeof(float));
    in[1] = nnrt_io_make(list, sizeof(list));
    in[0].dims = dims;
    in[1].dims = two;
    out[0] = nnrt_io_make(y, sizeof(y));
    out[1] = nnrt_io_make(z, sizeof(z));
    assert_int_equal(nnrt_run(r.session, in, 2, out, 2), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_output(r.session, 1).shape.dims[0], 6);
    list[0] = 4; /* the first step refuses it */
    assert_int_equal(nnrt_run(r.session, in, 2, out, 2), NNRT_INVALID_SHAPE);
    assert_int_equal(nnrt_session_output(r.session, 1).shape.dims[0], 24);
    rig_end(&r);
}

/* ---- memory ---- */

static void build_some(graph *g, uint32_t which)
{
    static const NNRT_Reshape none = {0};
    switch (which) {
    case 0: small_network(g, false); break;
    case 1: to_a_multiple(g); break;
    case 2: WITH_TOLD(g, RESHAPE, none, "-1,-1,2", I64, "3"); break;
    default: build_two(g); break;
    }
}

static const char *const some_bounds[4] = {"x=2,9,9,3", "x=3,30,2 padded=3,32,2", "x=4,6,2", "x=4,3"};
static const char *const some_runs[4] = {"1,7,9,3", "2,5,2", "2,3,2 3:-1,2,3", "3,3"};

/* N bytes suffice, N - 1 do not; nothing is written outside the buffer, and nothing is allocated. */
static void test_bytes_are_exact(void **state)
{
    const char *const devices[] = {"reference", "auto", "example"};
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        static graph g;
        static rig r;
        nnrt_allocator allocator;
        nnrt_session_desc desc;
        nnrt_session *session = NULL;
        nnrt_error e;
        size_t bytes = 0;
        guarded b;
        memset(&r, 0, sizeof(r));
        memset(&e, 0, sizeof(e));
        build_some(&g, i / 3);
        r.g = &g;
        r.device = devices[i % 3];
        rig_bounds(&r, some_bounds[i / 3]);
        rig_desc(&r, &desc, &allocator);
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
        b = guarded_make(bytes - 1, 0);
        desc.buffer = b.data;
        desc.bufferBytes = b.bytes;
        assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), NNRT_OUT_OF_MEMORY);
        guarded_end(&b);
        b = guarded_make(bytes, 0);
        desc.buffer = b.data;
        desc.bufferBytes = b.bytes;
        assert_int_equal(nnrt_session_create(&r.session, &g.model, &desc, &e), NNRT_SUCCESS);
        same(&r, some_runs[i / 3]);
        same(&r, some_runs[i / 3]);
        nnrt_session_destroy(r.session);
        guarded_end(&b);
        assert_int_equal(r.memory.live, 0);
    }
}

/* The n-th allocation fails: nothing is lost, and the next try works. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        static graph g;
        static rig r;
        nnrt_allocator allocator;
        nnrt_session_desc desc;
        int64_t n;
        build_some(&g, i);
        memset(&r, 0, sizeof(r));
        r.g = &g;
        r.device = i % 2 ? "example" : "reference"; /* auto would try the next one */
        rig_bounds(&r, some_bounds[i]);
        rig_desc(&r, &desc, &allocator);
        for (n = 1;; n++) {
            NNRT_ReturnCode code;
            nnrt_error e;
            memset(&e, 0, sizeof(e));
            r.memory.calls = 0;
            r.memory.failAt = n;
            code = nnrt_session_create(&r.session, &g.model, &desc, &e);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_int_equal(e.code, NNRT_OUT_OF_MEMORY);
            assert_null(r.session);
            assert_int_equal(r.memory.live, 0);
        }
        assert_true(n > 10);
        r.memory.failAt = 0;
        same(&r, some_runs[i]);
        rig_end(&r);
    }
}

/* A session without dynamic shapes allocates no bytes for them. */
static void test_fixed_models_pay_nothing(void **state)
{
    static graph g;
    nnrt_session_desc desc;
    nnrt_dims one;
    size_t fixed = 0, open = 0;
    nnrt_bound bound;
    (void)state;
    build_two(&g);
    memset(&desc, 0, sizeof(desc));
    one = dims_of("4,3");
    bound.tensor = "x";
    bound.most = one;
    desc.device = "reference";
    desc.inputDims.data = &one;
    desc.inputDims.count = 1;
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &fixed, NULL), NNRT_SUCCESS);
    desc.bounds.data = &bound; /* of an input that inputDims closes: nothing is open */
    desc.bounds.count = 1;
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &open, NULL), NNRT_SUCCESS);
    assert_int_equal(open, fixed);
    desc.inputDims.count = 0;
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &open, NULL), NNRT_SUCCESS);
    assert_true(open > fixed);
}

/* ---- parts of a session ---- */

static void makes_none(graph *g, const char *bounds, NNRT_ReturnCode code, const char *part)
{
    static rig r;
    size_t bytes;
    nnrt_allocator allocator;
    nnrt_session_desc desc;
    r.device = NULL;
    if (rig_try(&r, g, bounds) != code || strstr(r.error.message, part) == NULL)
        fail_msg("bounds '%s': expected %s and '%s', have %s: %s", bounds, nnrt_code_name(code), part,
                 nnrt_code_name(r.error.code), r.error.message);
    rig_end(&r);
    rig_bounds(&r, bounds);
    rig_desc(&r, &desc, &allocator);
    memset(&r.error, 0, sizeof(r.error));
    assert_int_equal(nnrt_session_bytes(&g->model, &desc, &bytes, &r.error), code);
    assert_non_null(strstr(r.error.message, part));
}

static void test_bounds_are_checked(void **state)
{
    static graph g;
    nnrt_session_desc desc;
    nnrt_session *session = NULL, *other = NULL;
    nnrt_error e;
    nnrt_bound bound;
    (void)state;
    build_two(&g);
    makes_none(&g, "", NNRT_INVALID_SHAPE, "input 0 'x': axis 0 has no size");
    makes_none(&g, "y=4,3", NNRT_INVALID_PARAMETER, "no tensor 'y'");
    makes_none(&g, "=4,3", NNRT_INVALID_PARAMETER, "bounds[0]");
    makes_none(&g, "x=4,3 X=1", NNRT_INVALID_PARAMETER, "bounds[1]: the model has no tensor 'X'");
    makes_none(&g, "x=-4,3", NNRT_INVALID_SHAPE, "bounds[0], of tensor 'x'");
    makes_none(&g, "x=4", NNRT_INVALID_SHAPE, "input 0 'x' has 2 axes, its bound 1");
    makes_none(&g, "x=4,3,1", NNRT_INVALID_SHAPE, "its bound 3");
    makes_none(&g, "x=4,2", NNRT_INVALID_SHAPE, "'x' has size 3 on axis 1, its upper bound is 2");
    makes_none(&g, "x=2147483647,3", NNRT_OUT_OF_MEMORY, "");
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.bounds.count = 1;
    assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), NNRT_NULL_PTR);
    bound.tensor = NULL;
    bound.most = dims_of("4,3");
    desc.bounds.data = &bound;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), NNRT_INVALID_PARAMETER);
    bound.tensor = "x";
    bound.most.rank = NNRT_MAX_RANK + 1;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), NNRT_INVALID_SHAPE);
    bound.most.rank = -1;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&session, &g.model, &desc, &e), NNRT_INVALID_SHAPE);
    bound.most.rank = 2; /* a sharing session has the bounds of the other one */
    assert_int_equal(nnrt_session_create(&session, &g.model, &desc, NULL), NNRT_SUCCESS);
    desc.share = session;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&other, &g.model, &desc, &e), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(e.message, "bounds"));
    desc.bounds.count = 0;
    assert_int_equal(nnrt_session_create(&other, &g.model, &desc, NULL), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    assert_true(nnrt_session_input(other, 0).open);
    nnrt_session_destroy(other);
}

/* A result of a fixed shape has the bytes of that shape although its input is dynamic: x of one element only. */
static void test_fixed_results(void **state)
{
    static graph g;
    static rig r;
    (void)state;
    begin(&g);
    output(&g, PLAIN_OP(&g, RESHAPE, 2, input(&g, "x", F32, "-1,1"), ints(&g, 1, 1)));
    rig_open(&r, &g, "x=6,1");
    assert_int_equal(nnrt_session_output(r.session, 0).bytes, 4);
    assert_false(nnrt_session_output(r.session, 0).open);
    same(&r, "1,1");
    refuses(&r, "2,1", NNRT_INVALID_SHAPE, "RESHAPE");
    rig_end(&r);
}

/* A listed axis that is open counts as 1; a run in which it is not is refused. */
static void test_squeeze(void **state)
{
    static graph g;
    static rig r;
    NNRT_Squeeze a;
    (void)state;
    begin(&g);
    a.axis = list_of(1, 1, 0, 0, 0);
    output(&g, OP(&g, SQUEEZE, a, 1, input(&g, "x", F32, "-1,-1,2")));
    rig_open(&r, &g, "x=4,3,2");
    same(&r, "4,1,2");
    same(&r, "0,1,2");
    refuses(&r, "4,3,2", NNRT_INVALID_SHAPE, "SQUEEZE");
    refuses(&r, "4,0,2", NNRT_INVALID_SHAPE, "SQUEEZE");
    rig_end(&r);
}

/* ---- devices ---- */

static void test_devices_that_cannot(void **state)
{
    static graph g;
    static rig r;
    size_t bytes = 1;
    nnrt_allocator allocator;
    nnrt_session_desc desc;
    (void)state;
    assert_non_null(test_device_open("rough")); /* which does not support dynamic shapes */
    build_two(&g);
    r.device = "rough";
    assert_int_equal(rig_try(&r, &g, "x=4,3"), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(r.error.message, "rough"));
    rig_bounds(&r, "x=4,3");
    rig_desc(&r, &desc, &allocator);
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_device_unregister("example"), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 2; i++) { /* without the example: the reference device; with it: that one */
        r.device = "auto";
        assert_int_equal(rig_try(&r, &g, "x=4,3"), NNRT_SUCCESS);
        same(&r, "3,3");
        same(&r, "4,3");
        rig_end(&r);
        if (i == 0)
            assert_int_equal(example_device_register(NULL), NNRT_SUCCESS);
    }
    assert_int_equal(nnrt_device_unregister("rough"), NNRT_SUCCESS);
}

/* A device whose edit changes the first step according to `mode`. */
static int32_t mode, called;
static const float added[1] = {8};

static NNRT_ReturnCode edited_kernel(const void *attr, nnrt_view *args, nnrt_call *call)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    const nnrt_view *y = &args[call->nIn + call->nDerived];
    size_t n = 0;
    called++;
    if (mode == 1) /* x and a derived constant, which it adds */
        assert_true(call->nDerived == 1 && *(const float *)args[1].data == added[0]);
    if (mode == 6) { /* x once more, with its dimensions in this run */
        assert_int_equal(call->nIn, 2);
        assert_ptr_equal(args[1].data, args[0].data);
        assert_memory_equal(args[1].dims, y->dims, sizeof(y->dims));
    }
    (void)nnrt_dims_count(y->dims, y->rank, &n);
    assert_int_equal(y->dims[0], args[0].dims[0]);
    assert_int_equal(((const NNRT_Activation *)attr)->activationType, NNRT_ACTIVATION_TYPE_ABS);
    for (size_t i = 0; i < n; i++) {
        const float x = ((const float *)args[0].data)[i];
        ((float *)y->data)[i] = x < 0 ? -x : x;
    }
    return code;
}

static NNRT_ReturnCode edited(void *user, nnrt_draft *draft)
{
    nnrt_draft_step *step = &draft->steps[0];
    void *data = NULL;
    const int32_t one = 1;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    (void)user;
    assert_non_null(step->open);
    if (mode == 0 || mode == 1) {
        step->kernel = edited_kernel;
        step->kernelName = "edited_kernel";
    }
    if (mode == 1) {
        const nnrt_plan_arg *old = step->args;
        if (nnrt_draft_args(draft, 0, 1, 1) == NULL)
            return NNRT_OUT_OF_MEMORY;
        step->args[0] = old[0];
        step->args[1] = old[1];
        code = nnrt_draft_derive(draft, 0, F32, 1, &one, &data);
        if (data != NULL)
            memcpy(data, added, sizeof(added));
    }
    if (mode == 2)
        step->kernel = NULL;
    if (mode == 3)
        step->args[0].tensor = draft->model->outputIndex.data[1];
    if (mode == 4) /* which another step writes */
        step->args[1].tensor = draft->model->outputIndex.data[1];
    if (mode >= 5) { /* an input more, of another shape than the result or of the same */
        const nnrt_plan_arg *old = step->args;
        if (nnrt_draft_args(draft, 0, 2, 1) == NULL)
            return NNRT_OUT_OF_MEMORY;
        step->args[0] = step->args[1] = old[0];
        step->args[2] = old[1];
        if (mode == 5)
            step->args[1].tensor = draft->steps[1].args[1].tensor;
        step->kernel = edited_kernel;
        step->kernelName = "edited_kernel";
    }
    return code;
}

static NNRT_ReturnCode edited_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                      NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, edited, self, NULL, prepared);
}

static void test_edits(void **state)
{
    static NNRT_DeviceVtbl table;
    static char name[] = "edited";
    static graph g;
    static rig r;
    (void)state;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = example_version;
    table.GetDeviceName = table.GetVendorName = example_name;
    table.IsDynamicInputSupported = example_dynamic;
    table.PrepareModel = edited_prepare;
    assert_int_equal(nnrt_device_register(&table, name, NULL), NNRT_SUCCESS);
    build_two(&g);
    for (mode = 0; mode < 7; mode++) {
        called = 0;
        r.device = name;
        if (mode < 2 || mode == 6) {
            assert_int_equal(rig_try(&r, &g, "x=4,3"), NNRT_SUCCESS);
            same(&r, "3,3");
            same(&r, "1,3");
            same(&r, "4,3");
            assert_true(called > 3);
        } else {
            assert_int_equal(rig_try(&r, &g, "x=4,3"), NNRT_DEVICE_ERROR);
            assert_non_null(strstr(r.error.message, mode == 3 || mode == 5 ? "dynamic shapes" : "the device's edit"));
            assert_int_equal(called, 0);
        }
        rig_end(&r);
    }
    assert_int_equal(nnrt_device_unregister(name), NNRT_SUCCESS);
}

/* The whole network on the example device, whose convolutions stay the reference device's with dynamic shapes. */
static void test_example_device(void **state)
{
    static graph g;
    static rig r;
    (void)state;
    small_network(&g, false);
    r.device = "example";
    assert_int_equal(rig_try(&r, &g, "x=2,11,11,3"), NNRT_SUCCESS);
    assert_string_equal(nnrt_session_device(r.session), "example_example_v1_0");
    same(&r, "2,11,11,3");
    same(&r, "1,6,3,3");
    same(&r, "2,3,11,3");
    rig_end(&r);
}

/* ---- the prepared model ---- */

static void test_ranges(void **state)
{
    static graph g;
    NNRT_ModelConfig config;
    NNRT_PreparedModel *p = NULL;
    nnrt_bound bound;
    nnrt_dims least, most;
    (void)state;
    build_two(&g);
    memset(&config, 0, sizeof(config));
    bound.tensor = "x";
    bound.most = dims_of("4,3");
    config.bounds.data = &bound;
    config.bounds.count = 1;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(nnrt_device_prepare(nnrt_device_find(i ? "auto" : "reference"), &g.model, &config, &p),
                         NNRT_SUCCESS);
        assert_int_equal(p->vtbl->GetInputDimRanges(p, 0, &least, &most), NNRT_SUCCESS);
        assert_true(least.rank == 2 && least.dims[0] == 0 && least.dims[1] == 3);
        assert_true(most.rank == 2 && most.dims[0] == 4 && most.dims[1] == 3);
        assert_int_equal(p->vtbl->GetOutputDimRanges(p, 1, &least, &most), NNRT_SUCCESS);
        assert_true(least.dims[0] == 0 && least.dims[1] == 3 && most.dims[0] == 4 && most.dims[1] == 3);
        assert_int_not_equal(p->vtbl->GetOutputDimRanges(p, 2, &least, &most), NNRT_SUCCESS);
        assert_int_not_equal(p->vtbl->GetOutputDimRanges(p, 0, &least, NULL), NNRT_SUCCESS);
        p->vtbl->Destroy(p);
    }
}

/* ---- random graphs ---- */

/* The shapes that the tensors of the graph have at the bounds; rank -1: none is known. */
typedef struct forest {
    graph g;
    char bounds[512], inputs[256];
    nnrt_dims most[8]; /* of the inputs */
    bool told[8];
    bool read[MAX_TENSORS];
    int32_t rank[MAX_TENSORS];
    bool open[MAX_TENSORS][NNRT_MAX_RANK]; /* axes */
    NNRT_DataType type[MAX_TENSORS];
    uint32_t pool[MAX_TENSORS], n;
} forest;

static uint32_t from_pool(forest *f, NNRT_DataType type)
{
    for (uint32_t tries = 0; tries < 50; tries++) {
        const uint32_t t = f->pool[below(2) ? f->n - 1 - below(f->n < 4 ? f->n : 4) : below(f->n)];
        if (f->type[t] == type)
            return t;
    }
    return f->pool[0];
}

/* A parameter: a constant list, or an input of the run. */
static uint32_t parameter(forest *f, uint32_t count, const int32_t *values)
{
    const uint32_t i = f->g.model.inputIndex.count;
    char dims[16];
    if (i >= 5 || below(4) > 0) {
        snprintf(dims, sizeof(dims), "%u", count);
        return constant(&f->g, name_of("i", f->g.model.allTensors.count), I32, (const char *)keep(dims, sizeof(dims)),
                        keep(values, count * sizeof(*values)), count * sizeof(*values));
    }
    snprintf(dims, sizeof(dims), "%u", count);
    f->told[i] = true;
    f->most[i] = dims_of(dims);
    return input(&f->g, name_of("p", i), I32, (const char *)keep(dims, sizeof(dims)));
}

static int32_t between(int32_t a, int32_t b)
{
    return a + (int32_t)below((uint32_t)(b - a + 1));
}

#define ADD_NODE(type, attr, ...) op(g, NNRT_NODE_TYPE_##type, &(attr), sizeof(attr), __VA_ARGS__)

/* A node over tensors of the pool. It may be invalid. */
static uint32_t random_node(forest *f, uint32_t *nOut)
{
    graph *g = &f->g;
    const uint32_t x = from_pool(f, F32), z = from_pool(f, F32);
    const int32_t rank = f->rank[x], axis = rank > 0 ? between(-rank, rank - 1) : 0;
    int32_t v[8], w[8], u[8];
    const uint32_t r = rank > 0 ? (uint32_t)rank : 1;
    *nOut = 1;
    for (uint32_t k = 0; k < 8; k++) {
        v[k] = between(-3, 3);
        w[k] = between(-1, 7);
        u[k] = between(1, 3) * (below(3) == 0 ? -1 : 1);
    }
    switch (below(30)) {
    case 0: return OP(g, ACTIVATION, relu, 1, x);
    case 1: return OP(g, ADD_FUSION, plain_add, 2, x, z);
    case 2: return OP(g, SUB_FUSION, plain_sub, 2, x, z);
    case 3: return PLAIN_OP(g, MAXIMUM, 2, x, z);
    case 4: return OP(g, SOFTMAX, softmax_last, 1, x);
    case 5: {
        NNRT_Concat a;
        a.axis = axis;
        return ADD_NODE(CONCAT, a, 2, x, below(3) ? x : z);
    }
    case 6:
    case 7: { /* to a list that may contain -1 or 0 */
        const uint32_t n = 1 + below(3);
        for (uint32_t k = 0; k < n; k++)
            v[k] = below(2) ? 0 : below(2) ? 1 : between(2, 4);
        v[below(n)] = -1;
        return PLAIN_OP(g, RESHAPE, 2, x, parameter(f, n, v));
    }
    case 8: {
        for (uint32_t k = 0; k < r; k++)
            v[k] = (int32_t)k;
        for (uint32_t k = 0; k < r; k++) {
            const uint32_t at = below(r);
            const int32_t swap = v[k];
            v[k] = v[at];
            v[at] = swap;
        }
        return PLAIN_OP(g, TRANSPOSE, 2, x, parameter(f, r, v));
    }
    case 9: {
        NNRT_SliceFusion a;
        memset(&a, 0, sizeof(a));
        return ADD_NODE(SLICE_FUSION, a, 3, x, parameter(f, r, v), parameter(f, r, w));
    }
    case 10:
    case 11: {
        NNRT_StridedSlice a;
        memset(&a, 0, sizeof(a));
        a.beginMask = below(4);
        a.endMask = below(4);
        a.newAxisMask = below(4) == 0;
        a.shrinkAxisMask = below(4) == 0 ? 2 : 0;
        return ADD_NODE(STRIDED_SLICE, a, 4, x, parameter(f, r, v), parameter(f, r, w), parameter(f, r, u));
    }
    case 12: {
        NNRT_Split a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_SPLIT)->attr, &a);
        a.axis = axis;
        a.outputNum = 2;
        if (below(2))
            a.sizeSplits = list_of(2, 1, -1, 0, 0);
        *nOut = 2;
        return op_list(g, NNRT_NODE_TYPE_SPLIT, &a, sizeof(a), 2, 1, &x);
    }
    case 13: {
        NNRT_ReduceFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_REDUCE_FUSION)->attr, &a);
        a.keepDims = below(3) > 0;
        a.mode = (NNRT_ReduceMode)below(5);
        v[0] = axis;
        return ADD_NODE(REDUCE_FUSION, a, 2, x, parameter(f, 1, v));
    }
    case 14: {
        NNRT_TileFusion a;
        memset(&a, 0, sizeof(a));
        for (uint32_t k = 0; k < r; k++)
            v[k] = between(0, 2);
        return ADD_NODE(TILE_FUSION, a, 2, x, parameter(f, r, v));
    }
    case 15: {
        NNRT_TopKFusion a;
        uint32_t in[2];
        a.sorted = below(2) == 1;
        a.axis = axis;
        v[0] = between(0, 3);
        in[0] = x;
        in[1] = parameter(f, 1, v);
        *nOut = 2;
        return op_list(g, NNRT_NODE_TYPE_TOPK_FUSION, &a, sizeof(a), 2, 2, in);
    }
    case 16: {
        NNRT_Squeeze a; /* of an axis that is not dynamic: the rank is known */
        a.axis = list_of(1, axis, 0, 0, 0);
        if (rank > 0 && !f->open[x][axis < 0 ? axis + rank : axis])
            return ADD_NODE(SQUEEZE, a, 1, x);
        return PLAIN_OP(g, SQRT, 1, x);
    }
    case 17: {
        NNRT_Unsqueeze a;
        a.axis = list_of(1, between(-rank - 1, rank), 0, 0, 0);
        return ADD_NODE(UNSQUEEZE, a, 1, x);
    }
    case 18: {
        NNRT_Stack a;
        a.axis = between(-rank - 1, rank);
        return ADD_NODE(STACK, a, 2, x, below(2) ? x : z);
    }
    case 19: {
        NNRT_MatMulFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_MATMUL_FUSION)->attr, &a);
        a.transposeA = below(2) == 1;
        a.transposeB = below(2) == 1;
        return ADD_NODE(MATMUL_FUSION, a, 2, x, below(2) ? x : z);
    }
    case 20: return avgpool(g, x, 2, 1 + (int32_t)below(2), NNRT_PAD_MODE_SAME, NNRT_ROUND_MODE_FLOOR, below(4) == 0);
    case 21: return maxpool(g, x, 2, 2, NNRT_PAD_MODE_PAD, (NNRT_RoundMode)below(2));
    case 22: {
        NNRT_PadFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_PAD_FUSION)->attr, &a);
        a.paddingMode = (NNRT_PaddingMode)below(3);
        for (uint32_t k = 0; k < 4; k++)
            v[k] = between(0, 2);
        if (rank != 2) {
            NNRT_Int64List *lists = (NNRT_Int64List *)keep(NULL, r * sizeof(*lists));
            for (uint32_t k = 0; k < r; k++)
                lists[k] = list_of(2, between(0, 1), between(0, 2), 0, 0);
            a.paddings.data = lists;
            a.paddings.count = r;
            return ADD_NODE(PAD_FUSION, a, 1, x);
        }
        return ADD_NODE(PAD_FUSION, a, 2, x, PLAIN_OP(g, RESHAPE, 2, parameter(f, 4, v), ints(g, 2, 2, 2)));
    }
    case 23: return PLAIN_OP(g, SHAPE, 1, x);
    case 24: { /* FILL of a computed shape */
        uint32_t s = PLAIN_OP(g, SHAPE, 1, x);
        if (below(2))
            s = OP(g, ADD_FUSION, plain_add, 2, s, ints(g, 1, between(-1, 1)));
        return PLAIN_OP(g, FILL, 2, floats(g, "1"), s);
    }
    case 25: { /* the first dimensions of the shape, and -1 */
        const uint32_t e = extent(g, x, axis < 0 ? 0 : axis);
        return PLAIN_OP(g, RESHAPE, 2, x, OP(g, CONCAT, concat_first, 2, e, ints(g, 1, -1)));
    }
    case 26: {
        const uint32_t e = extent(g, z, 0);
        NNRT_SliceFusion a;
        a.axes = list_of(1, axis, 0, 0, 0);
        return ADD_NODE(SLICE_FUSION, a, 3, x, ints(g, 1, below(2) ? 0 : -1), e);
    }
    case 27: {
        NNRT_ArgMaxFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_ARGMAX_FUSION)->attr, &a);
        a.axis = axis;
        a.keepDims = below(2) == 1;
        a.outMaxValue = true;
        return ADD_NODE(ARGMAX_FUSION, a, 1, x);
    }
    case 28: return PLAIN_OP(g, GATHER, 3, x, parameter(f, 2, w + 2), scalar(g, axis));
    default: {
        NNRT_LayerNormFusion a;
        nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_LAYER_NORM_FUSION)->attr, &a);
        a.elementwiseAffine = false;
        a.beginNormAxis = a.beginParamsAxis = axis;
        return ADD_NODE(LAYER_NORM_FUSION, a, 1, x);
    }
    }
}

static const int32_t telling[6][3] = {{0, 1, 2}, {1, 0, 0}, {-1, 1, 1}, {2, 2, 1}, {0, -1, 3}, {1, 1, 1}};

/* Shapes of a run, and values of its parameters. */
static void random_inputs(forest *f, bool most)
{
    size_t at = 0;
    for (uint32_t i = 0; i < f->g.model.inputIndex.count; i++) {
        const nnrt_dims *d = &f->most[i];
        const uint32_t way = below(6);
        at += (size_t)snprintf(f->inputs + at, sizeof(f->inputs) - at, "%s", i > 0 ? " " : "");
        for (int32_t k = 0; k < d->rank; k++) {
            const bool open = f->g.dims[f->g.inputs[i]][k] == -1 && !most;
            const int32_t e = open ? between(below(8) == 0 ? 0 : 1, d->dims[k]) : d->dims[k];
            at += (size_t)snprintf(f->inputs + at, sizeof(f->inputs) - at, "%s%d", k > 0 ? "," : "", e);
        }
        for (int32_t k = 0; f->told[i] && k < d->dims[0]; k++)
            at += (size_t)snprintf(f->inputs + at, sizeof(f->inputs) - at, "%s%d", k > 0 ? "," : ":",
                                   below(3) ? telling[way][k % 3] : between(-3, 4));
    }
}

static bool opens(forest *f, nnrt_error *error, nnrt_operand *tensors)
{
    static rig r;
    nnrt_memory memory;
    NNRT_ModelConfig config;
    NNRT_ReturnCode code;
    memset(&config, 0, sizeof(config));
    memset(error, 0, sizeof(*error));
    rig_bounds(&r, f->bounds);
    config.bounds.data = r.bounds;
    config.bounds.count = r.nBounds;
    config.error = error;
    nnrt_memory_allocate(&memory, NULL);
    code = nnrt_model_infer(&f->g.model, &config, &memory, tensors, NULL, NULL);
    nnrt_memory_end(&memory);
    return code == NNRT_SUCCESS;
}

static bool any_told(const forest *f)
{
    for (uint32_t i = 0; i < f->g.model.inputIndex.count; i++)
        if (f->told[i])
            return true;
    return false;
}

/* For how many of 8 random shapes a session can be created that runs; the first are the largest. */
static uint32_t often_right(forest *f)
{
    uint32_t right = 0;
    for (uint32_t k = 0; k < 8; k++) {
        static rig r;
        given in[16];
        guarded out[MOST_IO];
        const char *text = f->inputs;
        nnrt_error error;
        r.g = &f->g;
        random_inputs(f, k == 0);
        for (uint32_t i = 0; i < f->g.model.inputIndex.count; i++)
            text = read_given(&in[i], &f->g.tensors[f->g.inputs[i]], text);
        if (run_fixed(&r, in, out, &error) == NNRT_SUCCESS) {
            for (uint32_t i = 0; i < f->g.model.outputIndex.count; i++)
                guarded_end(&out[i]);
            right++;
        }
        for (uint32_t i = 0; i < f->g.model.inputIndex.count; i++) {
            guarded_end(&in[i].data);
            guarded_end(&in[i].copy);
        }
    }
    return right;
}

static void random_graph(forest *f, uint32_t number, uint32_t *wrongly)
{
    graph *g = &f->g;
    const char *dims[] = {"-1,-1", "-1,3", "-1,-1,-1,2", "-1", "2,-1,-1", "-1,4,-1"};
    const char *most[] = {"5,6", "4,3", "2,5,4,2", "7", "2,5,3", "3,4,5"};
    memset(f, 0, sizeof(*f));
    seed = number * 2654435761u;
    begin(g);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t k = below(COUNT(dims)), t = input(g, i == 0 ? "x" : "y", F32, dims[k]);
        f->most[i] = dims_of(most[k]);
        f->rank[t] = f->most[i].rank;
        f->type[t] = F32;
        for (int32_t n = 0; n < f->rank[t]; n++)
            f->open[t][n] = g->dims[t][n] == -1;
        f->pool[f->n++] = t;
        snprintf(f->bounds + strlen(f->bounds), sizeof(f->bounds) - strlen(f->bounds), "%s%s=%s", i > 0 ? " " : "",
                 i == 0 ? "x" : "y", most[k]);
    }
    for (uint32_t tries = 0; tries < 30 && f->g.model.nodes.count < 10; tries++) {
        static forest before;
        static nnrt_operand tensors[MAX_TENSORS];
        const size_t wasStored = stored;
        nnrt_error error;
        uint32_t y, nOut, right = 0;
        graph_copy(&before.g, g);
        memcpy(before.most, f->most, sizeof(f->most));
        memcpy(before.told, f->told, sizeof(f->told));
        memcpy(before.bounds, f->bounds, sizeof(f->bounds));
        y = random_node(f, &nOut);
        g->model.outputIndex.count = 0;
        output(g, y);
        for (uint32_t bounded = 0; bounded < 2; bounded++) {
            if (opens(f, &error, tensors) || error.code != NNRT_UNSUPPORTED_OP ||
                strstr(error.message, "(bounds)") == NULL)
                break;
            for (uint32_t t = y; t < y + nOut; t++) { /* nothing bounds it: 1 to 4 axes, of up to 6 */
                const char *text[] = {"6", "6,6", "6,5,4", "5,4,3,4"};
                snprintf(f->bounds + strlen(f->bounds), sizeof(f->bounds) - strlen(f->bounds), " %s=%s",
                         g->tensors[t].name, text[below(4)]);
            }
        }
        if (error.code != NNRT_UNSUPPORTED_OP)
            right = often_right(f);
        if (error.code != NNRT_SUCCESS && error.code != NNRT_UNSUPPORTED_OP && right > 0 && !any_told(f)) {
            print_message("graph %u: '%s', but it is right for %s\n", number, error.message, f->inputs);
            ++*wrongly;
        }
        if (error.code != NNRT_SUCCESS || right < 3) {
            graph_copy(g, &before.g);
            memcpy(f->most, before.most, sizeof(f->most));
            memcpy(f->told, before.told, sizeof(f->told));
            memcpy(f->bounds, before.bounds, sizeof(f->bounds));
            stored = wasStored;
            continue;
        }
        for (uint32_t t = 0; t < g->model.allTensors.count; t++) {
            f->rank[t] = tensors[t].rank;
            f->type[t] = tensors[t].dataType;
            for (int32_t k = 0; k < tensors[t].rank; k++)
                f->open[t][k] = tensors[t].symbols[k] != 0;
        }
        for (uint32_t t = y; t < y + nOut; t++)
            f->pool[f->n++] = t;
    }
    g->model.outputIndex.count = 0;
    /* Outputs: results without a reader, and some others. If only the shape of a result is used, the result is not computed,
       and no run checks whether its inputs match. */
    memset(f->read, 0, sizeof(f->read));
    for (uint32_t i = 0; i < g->model.nodes.count; i++)
        for (uint32_t k = 0; k < g->nodes[i].inputIndex.count && g->nodes[i].nodeType != NNRT_NODE_TYPE_SHAPE; k++)
            f->read[g->in[i][k]] = true;
    for (uint32_t i = 0; i < g->model.nodes.count; i++)
        for (uint32_t k = 0; k < g->nodes[i].outputIndex.count; k++)
            if (!f->read[g->out[i][k]] || below(6) == 0)
                output(g, g->out[i][k]);
    if (below(4) == 0)
        output(g, g->inputs[0]);
}

static void test_random_graphs(void **state)
{
    const char *text = getenv("NNRT_OPEN_GRAPHS"), *from = getenv("NNRT_OPEN_FROM");
    const uint32_t first = from != NULL ? (uint32_t)strtoul(from, NULL, 10) : 1;
    const uint32_t count = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 400;
    uint32_t nodes = 0, beyond = 0, wrongly = 0;
    (void)state;
    agreed = refused = 0;
    for (uint32_t i = first; i < first + count; i++) {
        static forest f;
        static rig r;
        random_graph(&f, i, &wrongly);
        if (f.g.model.outputIndex.count == 0)
            continue;
        if (text != NULL && from != NULL) {
            for (uint32_t k = 0; k < f.g.model.nodes.count; k++) {
                printf("node %u %s:", k, nnrt_op_find(f.g.nodes[k].nodeType)->name);
                for (uint32_t n = 0; n < f.g.nodes[k].inputIndex.count; n++)
                    printf(" %s", f.g.tensors[f.g.in[k][n]].name);
                printf(" -> %s\n", f.g.tensors[f.g.out[k][0]].name);
            }
            printf("bounds %s\n", f.bounds);
        }
        r.device = i % 3 == 0 ? "example" : i % 3 == 1 ? "reference" : NULL;
        if (rig_try(&r, &f.g, f.bounds) != NNRT_SUCCESS)
            fail_msg("graph %u: %s", i, r.error.message);
        for (uint32_t k = 0; k < 12; k++) {
            NNRT_ReturnCode fixed, code;
            const bool bounded = strchr(strchr(f.bounds, ' ') + 1, ' ') == NULL;
            random_inputs(&f, k == 1);
            if (from != NULL)
                printf("graph %u inputs %s\n", i, f.inputs);
            seed ^= i;
            code = both(&r, f.inputs, &fixed, bounded);
            beyond += fixed == NNRT_SUCCESS && code != NNRT_SUCCESS ? 1 : 0;
        }
        nodes += f.g.model.nodes.count;
        rig_end(&r);
    }
    print_message("%u nodes; %u runs agree, %u are refused by both, %u go beyond a bound; refused wrongly %u\n", nodes,
                  agreed, refused - beyond, beyond, wrongly);
}

static int setup(void **state)
{
    (void)state;
    return test_device_open("example") != NULL ? 0 : -1;
}

/* More upper bounds than are searched one after the other, in any order: each input has its own. */
static void test_many_bounds(void **state)
{
    enum { MANY = 23 };
    static char names[2 * MANY][8];
    const int32_t open[] = {-1};
    nnrt_bound bounds[MANY];
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error error;
    (void)state;
    memset(bounds, 0, sizeof(bounds));
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "many", NULL), NNRT_SUCCESS);
    for (int32_t i = 0; i < MANY; i++) {
        const int32_t place = i * 7 % MANY;
        uint32_t x;
        (void)snprintf(names[2 * i], sizeof(names[0]), "x%d", i);
        (void)snprintf(names[2 * i + 1], sizeof(names[0]), "y%d", i);
        x = nnrt_builder_input(b, names[2 * i], NNRT_DATA_TYPE_FLOAT32, 1, open);
        nnrt_builder_output(b, nnrt_builder_op(b, names[2 * i + 1], NNRT_NODE_TYPE_SQUARE, NULL, &x, 1));
        bounds[place].tensor = names[2 * i];
        bounds[place].most.rank = 1;
        bounds[place].most.dims[0] = i + 1;
    }
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    desc.bounds = nnrt_bound_list_make(bounds, MANY);
    assert_int_equal(nnrt_session_create(&session, m, &desc, NULL), NNRT_SUCCESS);
    for (int32_t i = 0; i < MANY; i++) {
        assert_int_equal(nnrt_session_input(session, (uint32_t)i).shape.dims[0], i + 1);
        assert_int_equal(nnrt_session_output(session, (uint32_t)i).shape.dims[0], i + 1);
    }
    nnrt_session_destroy(session);
    for (int32_t i = 0; i < MANY; i += MANY - 1) { /* one that is missing, at either end of the sorted names */
        nnrt_bound given = bounds[i * 7 % MANY];
        bounds[i * 7 % MANY] = bounds[MANY - 1];
        desc.bounds = nnrt_bound_list_make(bounds, MANY - 1);
        if (i * 7 % MANY != MANY - 1) {
            assert_int_equal(nnrt_session_create(&session, m, &desc, &error), NNRT_INVALID_SHAPE);
            assert_non_null(strstr(error.message, names[2 * i]));
            memset(&error, 0, sizeof(error));
        }
        bounds[i * 7 % MANY] = given;
    }
    nnrt_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_bounds),
        cmocka_unit_test(test_channels_last),
        cmocka_unit_test(test_channels_first),
        cmocka_unit_test(test_flatten),
        cmocka_unit_test(test_extents_moved),
        cmocka_unit_test(test_rows_of_columns),
        cmocka_unit_test(test_resize_by_shapes),
        cmocka_unit_test(test_pad_to_a_multiple),
        cmocka_unit_test(test_reshape_told),
        cmocka_unit_test(test_fill_told),
        cmocka_unit_test(test_one_hot_told),
        cmocka_unit_test(test_scatter_told),
        cmocka_unit_test(test_sparse_told),
        cmocka_unit_test(test_lstm),
        cmocka_unit_test(test_quant_axis),
        cmocka_unit_test(test_requantised),
        cmocka_unit_test(test_pad_told),
        cmocka_unit_test(test_reduce_told),
        cmocka_unit_test(test_resize_told),
        cmocka_unit_test(test_slice_told),
        cmocka_unit_test(test_strided_slice_told),
        cmocka_unit_test(test_tile_told),
        cmocka_unit_test(test_topk_told),
        cmocka_unit_test(test_bottom_k_told),
        cmocka_unit_test(test_all_told),
        cmocka_unit_test(test_cum_sum_told),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_transpose_told),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_extents_are_checked),
        cmocka_unit_test(test_what_is_told),
        cmocka_unit_test(test_symbols_of_inputs),
        cmocka_unit_test(test_broadcasting),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_room_is_told),
        cmocka_unit_test(test_kernels_that_tell),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_adaptive_pools),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_the_largest_is_told),
        cmocka_unit_test(test_bytes_are_exact),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_fixed_models_pay_nothing),
        cmocka_unit_test(test_bounds_are_checked),
        cmocka_unit_test(test_fixed_results),
        cmocka_unit_test(test_squeeze),
        cmocka_unit_test(test_devices_that_cannot),
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_example_device),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_random_graphs),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
