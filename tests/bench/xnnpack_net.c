/* Runs a network in XNNPACK: a subgraph, one thread. tests/bench/bench_arm.py writes the plan and counts instructions.

       xnnpack_net PLAN CONSTANTS INPUT OUTPUT RUNS

   A line of PLAN is a value or a node. Values are numbered from 0 and channels last; FLAGS: 1 the input, 2 an output; SCALE: 0
   for float32, that of int8 otherwise. Node kinds: convolve, depthwise, connect, maximum, average, add (X and Z), softmax,
   convert; the last ten numbers are 0 if they are not used.
       value FLAGS SCALE ZERO DIMENSIONS...
       KIND X Z Y MIN MAX HEIGHT WIDTH STRIDE_Y STRIDE_X TOP RIGHT BOTTOM LEFT IN OUT
   CONSTANTS has, node by node, the weights [OUT][HEIGHT][WIDTH][IN] (depthwise: [HEIGHT][WIDTH][OUT]) and the bias: float32,
   or, if X is int8, the scales of the channels, int8 weights and an int32 bias. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

enum { VALUES = 256, EXTERNAL = 3 };

typedef struct value {
    float scale;
    size_t elements;
    uint32_t id, flags;
    void *data; /* of an external value */
} value;

static value values[VALUES];

static void fail(const char *text, int number)
{
    fprintf(stderr, "xnnpack_net: %s %d\n", text, number);
    exit(1);
}

/* Lives as long as the program. XNN_EXTRA_BYTES may be read after a tensor. */
static void *memory(size_t bytes)
{
    void *block = calloc(1, bytes + XNN_EXTRA_BYTES);
    if (block == NULL)
        fail("out of memory, bytes:", (int)bytes);
    return block;
}

static void *constants(FILE *f, size_t bytes)
{
    void *block = memory(bytes);
    if (fread(block, 1, bytes, f) != bytes)
        fail("constants end early, bytes:", (int)bytes);
    return block;
}

static uint32_t constant(xnn_subgraph_t graph, FILE *f, const float *scales, bool bias, size_t rank, size_t channel,
                         const size_t *dims)
{
    size_t elements = 1;
    uint32_t id = 0;
    enum xnn_status status;
    for (size_t i = 0; i < rank; i++)
        elements *= dims[i];
    if (scales == NULL)
        status = xnn_define_tensor_value(graph, xnn_datatype_fp32, rank, dims, constants(f, elements * 4),
                                         XNN_INVALID_VALUE_ID, 0, &id);
    else
        status = xnn_define_channelwise_quantized_tensor_value(
            graph, bias ? xnn_datatype_qcint32 : xnn_datatype_qcint8, scales, rank, channel, dims,
            constants(f, elements * (bias ? 4 : 1)), XNN_INVALID_VALUE_ID, 0, &id);
    if (status != xnn_status_success)
        fail("a constant is not taken, status", (int)status);
    return id;
}

static void define_value(xnn_subgraph_t graph, const char *text, int number)
{
    value *v = &values[number];
    size_t dims[XNN_MAX_TENSOR_DIMS], rank = 0;
    static uint32_t external;
    int zero, used;
    enum xnn_status status;
    if (sscanf(text, "%u %f %d%n", &v->flags, &v->scale, &zero, &used) != 3)
        fail("bad value", number);
    v->elements = 1;
    for (text += used; rank < XNN_MAX_TENSOR_DIMS && sscanf(text, "%zu%n", &dims[rank], &used) == 1; text += used)
        v->elements *= dims[rank++];
    const uint32_t name = v->flags != 0 ? external++ : XNN_INVALID_VALUE_ID;
    if (v->flags != 0)
        v->data = memory(v->elements * 4);
    status = v->scale > 0 ? xnn_define_quantized_tensor_value(graph, xnn_datatype_qint8, zero, v->scale, rank, dims,
                                                              NULL, name, v->flags, &v->id)
                          : xnn_define_tensor_value(graph, xnn_datatype_fp32, rank, dims, NULL, name, v->flags, &v->id);
    if (status != xnn_status_success)
        fail("XNNPACK does not take the value", number);
}

/* x is int8: its constants have a scale for each channel; XNNPACK wants one for each bias, too. */
static void weights(xnn_subgraph_t graph, FILE *f, const value *x, size_t rank, size_t channel, const size_t *dims,
                    uint32_t *w, uint32_t *bias)
{
    const size_t out = dims[channel];
    const float *scales = x->scale > 0 ? (const float *)constants(f, out * 4) : NULL;
    float *products = (float *)memory(out * 4);
    for (size_t i = 0; scales != NULL && i < out; i++)
        products[i] = scales[i] * x->scale;
    *w = constant(graph, f, scales, false, rank, channel, dims);
    *bias = constant(graph, f, scales != NULL ? products : NULL, true, 1, 0, &out);
}

static void define_node(xnn_subgraph_t graph, const char *kind, const char *text, FILE *f, int line)
{
    uint32_t x, z, y, p[8], w, b; /* p: kernel, stride, padding */
    float low, high;
    size_t in, out;
    enum xnn_status status = xnn_status_invalid_parameter;
    if (sscanf(text, "%u%u%u%f%f%u%u%u%u%u%u%u%u%zu%zu", &x, &z, &y, &low, &high, &p[0], &p[1], &p[2], &p[3], &p[4],
               &p[5], &p[6], &p[7], &in, &out) != 15 ||
        x >= VALUES || y >= VALUES || z >= VALUES)
        fail("bad node in line", line);
    const value *from = &values[x];
    x = from->id;
    y = values[y].id;
    if (strcmp(kind, "convolve") == 0) {
        weights(graph, f, from, 4, 0, (const size_t[]){out, p[0], p[1], in}, &w, &b);
        status = xnn_define_convolution_2d(graph, p[4], p[5], p[6], p[7], p[0], p[1], p[2], p[3], 1, 1, 1, in, out, low,
                                           high, x, w, b, y, 0);
    } else if (strcmp(kind, "depthwise") == 0) {
        weights(graph, f, from, 4, 3, (const size_t[]){1, p[0], p[1], out}, &w, &b);
        status = xnn_define_depthwise_convolution_2d(graph, p[4], p[5], p[6], p[7], p[0], p[1], p[2], p[3], 1, 1, 1,
                                                     out, low, high, x, w, b, y, 0);
    } else if (strcmp(kind, "connect") == 0) {
        weights(graph, f, from, 2, 0, (const size_t[]){out, in}, &w, &b);
        status = xnn_define_fully_connected(graph, low, high, x, w, b, y, XNN_FLAG_TENSORFLOW_RESHAPE_2D);
    } else if (strcmp(kind, "maximum") == 0)
        status =
            xnn_define_max_pooling_2d(graph, p[4], p[5], p[6], p[7], p[0], p[1], p[2], p[3], 1, 1, low, high, x, y, 0);
    else if (strcmp(kind, "average") == 0)
        status = xnn_define_global_average_pooling_2d(graph, low, high, x, y, 0);
    else if (strcmp(kind, "add") == 0)
        status = xnn_define_add2(graph, low, high, x, values[z].id, y, 0);
    else if (strcmp(kind, "softmax") == 0)
        status = xnn_define_softmax(graph, x, y, 0);
    else if (strcmp(kind, "convert") == 0)
        status = xnn_define_convert(graph, x, y, 0);
    if (status != xnn_status_success)
        fail("XNNPACK does not take the node in line", line);
}

int main(int argc, char **argv)
{
    FILE *plan = argc == 6 ? fopen(argv[1], "r") : NULL, *f = plan != NULL ? fopen(argv[2], "rb") : NULL;
    FILE *in = f != NULL ? fopen(argv[3], "rb") : NULL, *out = in != NULL ? fopen(argv[4], "wb") : NULL;
    xnn_subgraph_t graph = NULL;
    xnn_runtime_t runtime = NULL;
    struct xnn_external_value external[EXTERNAL];
    size_t externals = 0;
    char text[400], kind[20];
    int used, line = 0, count = 0;
    if (out == NULL)
        fail("usage: xnnpack_net PLAN CONSTANTS INPUT OUTPUT RUNS; arguments:", argc - 1);
    if (xnn_initialize(NULL) != xnn_status_success || xnn_create_subgraph(EXTERNAL, 0, &graph) != xnn_status_success)
        fail("XNNPACK does not start; arguments:", argc - 1);
    while (fgets(text, sizeof(text), plan) != NULL && sscanf(text, "%19s%n", kind, &used) == 1) {
        line++;
        if (strcmp(kind, "value") != 0)
            define_node(graph, kind, text + used, f, line);
        else if (count < VALUES)
            define_value(graph, text + used, count++);
        else
            fail("too many values in line", line);
    }
    if (getc(f) != EOF)
        fail("constants are left after line", line);
    if (xnn_create_runtime_v2(graph, NULL, 0, &runtime) != xnn_status_success)
        fail("XNNPACK makes no runtime of lines:", line);
    for (int i = 0; i < count; i++)
        if (values[i].flags != 0 && externals < EXTERNAL)
            external[externals++] = (struct xnn_external_value){values[i].id, values[i].data};
    if (fread(values[0].data, 4, values[0].elements, in) != values[0].elements)
        fail("the input is too short; elements:", (int)values[0].elements);
    if (xnn_setup_runtime(runtime, externals, external) != xnn_status_success)
        fail("XNNPACK does not set up; external values:", (int)externals);
    for (int i = atoi(argv[5]); i > 0; i--)
        if (xnn_invoke_runtime(runtime) != xnn_status_success)
            fail("XNNPACK fails; runs left:", i);
    for (int i = 0; i < count; i++)
        if ((values[i].flags & XNN_VALUE_FLAG_EXTERNAL_OUTPUT) != 0)
            fwrite(values[i].data, 4, values[i].elements, out);
    return fclose(out) != 0;
}
